/* compare.c - setp and testp. The result is a mask; the boolean operators of setp combine masks.
   `set` is setp followed by a select: see select.c. */
#include "../base/floats.h"
#include "execute.h"

static inline uint32_t combined(uint32_t flags, uint32_t r, uint32_t c) {
    return (flags & SIM_I_BOOL) == SIM_I_AND   ? r & c
            : (flags & SIM_I_BOOL) == SIM_I_OR ? r | c
            : (flags & SIM_I_BOOL)             ? r ^ c
                                               : r;
}

static inline void store_result(
        struct sim_warp *w, const struct sim_insn *i, uint32_t m, uint32_t r) {
    uint32_t *d = SIM_AT(uint32_t, i->d), p = r;
    if (i->flags & (SIM_I_BOOL | SIM_I_SECOND)) {
        uint32_t c = *SIM_AT(uint32_t, i->c);
        p = combined(i->flags, r, c);
        if (i->flags & SIM_I_SECOND) {
            uint32_t *q = SIM_AT(uint32_t, i->e);
            *q = (*q & ~m) | (combined(i->flags, ~r, c) & m);
        }
    }
    *d = (*d & ~m) | (p & m);
}

#define SETP(NAME, S, T, E) \
    SIM_HANDLER(NAME) { \
        const S *a = SIM_AT(S, i->a), *b = SIM_AT(S, i->b); \
        uint32_t r = 0; \
        for (int l = 0; l < 32; l++) { \
            const T x = (T)(a[l]), y = (T)(b[l]); \
            r |= (E) ? sim_lane_bit[l] : 0; \
        } \
        store_result(w, i, m, r); \
    }
/* clang-format off */
#define SETP_INT(TN, S, T) \
    SETP(setp_eq_##TN, S, T, x == y) SETP(setp_ne_##TN, S, T, x != y) \
    SETP(setp_lt_##TN, S, T, x < y) \
    SETP(setp_le_##TN, S, T, x <= y) SETP(setp_gt_##TN, S, T, x > y) \
    SETP(setp_ge_##TN, S, T, x >= y)
SETP_INT(u16, u32, u16)
SETP_INT(s16, u32, s16)
SETP_INT(u32, u32, u32)
SETP_INT(s32, u32, s32)
SETP_INT(u64, u64, u64)
SETP_INT(s64, u64, s64)

/* the u forms are true for NaN */
#define SETP_FLOAT(TN, S, V) \
    SETP(setp_eq_##TN, S, S, V(x) == V(y)) SETP(setp_ne_##TN, S, S, V(x) < V(y) || V(x) > V(y)) \
    SETP(setp_lt_##TN, S, S, V(x) < V(y)) SETP(setp_le_##TN, S, S, V(x) <= V(y)) \
    SETP(setp_gt_##TN, S, S, V(x) > V(y)) SETP(setp_ge_##TN, S, S, V(x) >= V(y)) \
    SETP(setp_equ_##TN, S, S, !(V(x) < V(y) || V(x) > V(y))) \
    SETP(setp_neu_##TN, S, S, !(V(x) == V(y))) \
    SETP(setp_ltu_##TN, S, S, !(V(x) >= V(y))) SETP(setp_leu_##TN, S, S, !(V(x) > V(y))) \
    SETP(setp_gtu_##TN, S, S, !(V(x) <= V(y))) SETP(setp_geu_##TN, S, S, !(V(x) < V(y))) \
    SETP(setp_num_##TN, S, S, V(x) == V(x) && V(y) == V(y)) \
    SETP(setp_nan_##TN, S, S, V(x) != V(x) || V(y) != V(y))
/* clang-format on */
#define SAME(x) (x)
#define FLUSHED_HALF(x) half_value(((x)&0x7c00) == 0 ? (x)&0x8000 : (x))
SETP_FLOAT(f32, f32, SAME)
SETP_FLOAT(ftz_f32, f32, flush)
SETP_FLOAT(f64, f64, SAME)
SETP_FLOAT(f16, u32, half_value)
SETP_FLOAT(ftz_f16, u32, FLUSHED_HALF)
SETP_FLOAT(bf16, u32, bhalf_value)

#define TESTP(NAME, S, E) \
    SIM_HANDLER(NAME) { \
        const S *a = SIM_AT(S, i->a); \
        uint32_t r = 0; \
        for (int l = 0; l < 32; l++) { \
            const S x = a[l]; \
            r |= (E) ? sim_lane_bit[l] : 0; \
        } \
        store_result(w, i, m, r); \
    }
/* clang-format off */
#define TESTP_ALL(TN, S, MINIMUM) \
    TESTP(testp_finite_##TN, S, x - x == 0) TESTP(testp_infinite_##TN, S, x == x && x - x != 0) \
    TESTP(testp_number_##TN, S, x == x) TESTP(testp_notanumber_##TN, S, x != x) \
    TESTP(testp_normal_##TN, S, x - x == 0 && (x >= MINIMUM || x <= -MINIMUM || x == 0)) \
    TESTP(testp_subnormal_##TN, S, x != 0 && x < MINIMUM && x > -MINIMUM) \
    TESTP(testp_##TN, S, ((void)x, false))        /* without a test, which no page has */
/* clang-format on */
TESTP_ALL(f32, f32, 0x1p-126f)
TESTP_ALL(f64, f64, 0x1p-1022)

#define OP SIM_OP
#define P(n, t, run) OP(n, t, PLAIN, run)
#define SIX(t, V, h) \
    OP(setp_eq, t, V, setp_eq_##h), OP(setp_ne, t, V, setp_ne_##h), \
            OP(setp_lt, t, V, setp_lt_##h), OP(setp_le, t, V, setp_le_##h), \
            OP(setp_gt, t, V, setp_gt_##h), OP(setp_ge, t, V, setp_ge_##h)
#define UNSIGNED(t, h) \
    SIX(t, PLAIN, h), P(setp_lo, t, setp_lt_##h), P(setp_ls, t, setp_le_##h), \
            P(setp_hi, t, setp_gt_##h), P(setp_hs, t, setp_ge_##h)
#define ALL(t, V, h) \
    SIX(t, V, h), OP(setp_equ, t, V, setp_equ_##h), OP(setp_neu, t, V, setp_neu_##h), \
            OP(setp_ltu, t, V, setp_ltu_##h), OP(setp_leu, t, V, setp_leu_##h), \
            OP(setp_gtu, t, V, setp_gtu_##h), OP(setp_geu, t, V, setp_geu_##h), \
            OP(setp_num, t, V, setp_num_##h), OP(setp_nan, t, V, setp_nan_##h)
#define TEST(n) P(n, F32, n##_f32), P(n, F64, n##_f64)
const struct sim_operation SIM_ISA(sim_compare_table)[] = { UNSIGNED(U16, u16),
    SIX(S16, PLAIN, s16), UNSIGNED(U32, u32), SIX(S32, PLAIN, s32), UNSIGNED(U64, u64),
    SIX(S64, PLAIN, s64), ALL(F32, PLAIN, f32), ALL(F32, FTZ, ftz_f32), ALL(F64, PLAIN, f64),
    ALL(F64, FTZ, f64), ALL(F16, PLAIN, f16), ALL(F16, FTZ, ftz_f16), ALL(BF16, PLAIN, bf16),
    ALL(BF16, FTZ, bf16), TEST(testp_finite), TEST(testp_infinite), TEST(testp_number),
    TEST(testp_notanumber), TEST(testp_normal), TEST(testp_subnormal), TEST(testp), SIM_END };
#undef OP
#undef P
