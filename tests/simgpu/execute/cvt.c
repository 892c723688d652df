/* cvt.c - conversions between integers, f32, f64, f16 and bf16. Lane operations: see lanes.h.

   Names: cvt_<to>_<from>. Float to integer saturates; its rounding is in the flags. A NaN becomes
   0, or the destination's top bit alone when source or destination has 64 bits. */
#include "../base/floats.h"
#include "execute.h"

/* -- integer to integer: the source is cut to its type, then to the destination's, then extended to
   the lane */

#define II(TN, T, TL, FN, F, FL) \
    SIM_H1(cvt_##TN##_##FN, TL, FL, (T)(F)x) \
    SIM_S1(cvt_sat_##TN##_##FN, TL, FL, (T)limited((F)x, MINOF(T), MAXOF(T)))
#define IS_SIGNED(T) ((T)-1 < (T)1)
#define MAXOF(T) (IS_SIGNED(T) ? (T)(((u64)1 << (8 * sizeof(T) - 1)) - 1) : (T)-1)
#define MINOF(T) (IS_SIGNED(T) ? (T)((u64)1 << (8 * sizeof(T) - 1)) : (T)0)
static inline s128 limited(s128 v, s128 lo, s128 hi) { return v < lo ? lo : v > hi ? hi : v; }
/* clang-format off */
#define II_TO(FN, F, FL) \
    II(u8, u8, u32, FN, F, FL) II(s8, s8, u32, FN, F, FL) II(u16, u16, u32, FN, F, FL) \
    II(s16, s16, u32, FN, F, FL) \
    II(u32, u32, u32, FN, F, FL) II(s32, s32, u32, FN, F, FL) II(u64, u64, u64, FN, F, FL) \
    II(s64, s64, u64, FN, F, FL)
/* clang-format on */
II_TO(u8, u8, u32)
II_TO(s8, s8, u32)
II_TO(u16, u16, u32)
II_TO(s16, s16, u32)
II_TO(u32, u32, u32)
II_TO(s32, s32, u32)
II_TO(u64, u64, u64)
II_TO(s64, s64, u64)

/* -- float to integer */

static inline f64 to_integral(f64 v, uint32_t mode) {
    return mode == 0    ? __builtin_rint(v)
            : mode == 1 ? __builtin_trunc(v)
            : mode == 2 ? __builtin_floor(v)
                        : __builtin_ceil(v);
}
#define LO(T) (IS_SIGNED(T) ? -(f64)((u64)1 << (8 * sizeof(T) - 1)) : 0.0)
#define HI(T) \
    (IS_SIGNED(T) ? (f64)((u64)1 << (8 * sizeof(T) - 1)) \
                  : 2.0 * (f64)((u64)1 << (8 * sizeof(T) - 1)))
#define FI(TN, T, TL, LANES) \
    static inline TL int_##TN(f64 v, uint32_t mode, bool wide) { \
        if (v != v) return wide || sizeof(T) == 8 ? (TL)(T)((u64)1 << (8 * sizeof(T) - 1)) : 0; \
        v = to_integral(v, mode); \
        return (TL)(T)(v <= LO(T) ? MINOF(T) : v >= HI(T) ? MAXOF(T) : (T)v); \
    } \
    LANES(cvt_##TN##_f32, TL, f32, \
            int_##TN(i->flags &SIM_I_FTZ ? flush(x) : x, i->flags &SIM_I_ROUND, false)) \
    LANES(cvt_##TN##_f64, TL, f64, int_##TN(x, i->flags &SIM_I_ROUND, true)) \
    LANES(cvt_##TN##_f16, TL, u32, int_##TN(half_value(x), i->flags &SIM_I_ROUND, false)) \
    LANES(cvt_##TN##_bf16, TL, u32, int_##TN(bhalf_value(x), i->flags &SIM_I_ROUND, false))
FI(u8, u8, u32, SIM_H1)
FI(s8, s8, u32, SIM_H1)
FI(u16, u16, u32, SIM_H1)
FI(s16, s16, u32, SIM_H1)
FI(u32, u32, u32, SIM_H1)
FI(s32, s32, u32, SIM_H1)
FI(u64, u64, u64, SIM_S1)
FI(s64, s64, u64, SIM_S1)
SIM_H1(cvt_rzi_s32_f32, u32, f32,
        x != x                 ? 0
                : x >= 0x1p31f ? 0x7fffffffu
                : x < -0x1p31f ? 0x80000000u
                               : (u32)(s32)x)

/* -- integer to float, and between floats. To nearest has separate handlers; other roundings come
   from the flags. */

#define ROUNDED(NAME, D, S, R, E, STORE) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const S *a = SIM_AT(S, i->a); \
        R out[32]; \
        const uint32_t flags = i->flags; \
        fesetround(sim_fe_round[flags & SIM_I_ROUND]); \
        SIM_EACH_LANE (m) { \
            const S x = a[l]; \
            out[l] = (E); \
        } \
        __asm__ volatile("" : : "r"(out) : "memory"); \
        fesetround(FE_TONEAREST); \
        SIM_EACH_LANE (m) { \
            const S x = a[l]; \
            const R r = out[l]; \
            (void)x; \
            d[l] = (STORE); \
        } \
    }
static inline u32 finish32(f32 v, uint32_t flags) {
    u32 r = canon32(v);
    if (flags & SIM_I_FTZ) r = flush_bits(r);
    if (flags & SIM_I_SAT) {
        v = float_of(r);
        r = v > 0 ? v < 1 ? r : 0x3f800000u : 0;
    }
    return r;
}
/* of a double: a NaN keeps the upper bits of its payload, as in the host's own conversion */
static inline u32 finish_narrowed(f32 v, uint32_t flags) {
    return v == v || flags & SIM_I_SAT ? finish32(v, flags) : bits32(v);
}
static inline u64 finish64(f64 v, f64 x, uint32_t flags) {
    return flags & SIM_I_SAT ? (v > 0 ? v < 1 ? bits64(v) : bits64(1.0) : 0) : canon64(v, x, 0, 0);
}
static inline u32 finish16(u32 h, uint32_t flags, u32 one) {
    const u32 inf = one == 0x3c00 ? 0x7c00 : 0x7f80;
    bool nan = (h & 0x7fff) > inf;
    if (flags >> SIM_I_USER && (h & 0x7fff) == inf) h--; /* .satfinite */
    if (flags & SIM_I_SAT) return nan || h >> 15 ? 0 : h > one ? one : h;
    if ((flags & SIM_I_RELU) && !nan && h >> 15) return 0;
    return nan ? 0x7fff : h;
}
#define TO_HALF(v) finish16(half_round(v, i->flags &SIM_I_ROUND), i->flags, 0x3c00)
/* clang-format off */
#define IF(FN, F, FL) \
    SIM_H1(cvt_f32_##FN, f32, FL, (f32)(F)x) \
    SIM_H1(cvt_f64_##FN, f64, FL, (f64)(F)x) \
    ROUNDED(cvt_f32_##FN##_x, u32, FL, f32, (f32)(F)x, finish32(r, flags)) \
    ROUNDED(cvt_f64_##FN##_x, u64, FL, f64, (f64)(F)x, \
            finish64(x ? r : 0 /* clang's sum is -0 downwards */, 0, flags)) \
    SIM_S1(cvt_f16_##FN, u32, FL, TO_HALF((f64)(F)x)) \
    SIM_S1(cvt_bf16_##FN, u32, FL, bhalf_round(odd_##FN((F)x), i->flags & SIM_I_ROUND))
/* clang-format on */
/* a 64-bit integer on its way to bf16: of the bits that do not fit a double it only matters whether
   any is set */
static inline f64 odd_u64(u64 x) {
    return (f64)(x >> 53 ? x >> 11 << 11 | (x & 2047 ? 2048 : 0) : x);
}
static inline f64 odd_s64(s64 x) { return x < 0 ? -odd_u64(0 - (u64)x) : odd_u64((u64)x); }
#define odd_u8(x) (f64)(x)
#define odd_s8(x) (f64)(x)
#define odd_u16(x) (f64)(x)
#define odd_s16(x) (f64)(x)
#define odd_u32(x) (f64)(x)
#define odd_s32(x) (f64)(x)
IF(u8, u8, u32)
IF(s8, s8, u32)
IF(u16, u16, u32)
IF(s16, s16, u32)
IF(u32, u32, u32)
IF(s32, s32, u32)
IF(u64, u64, u64)
IF(s64, s64, u64)

/* clang-format off */
SIM_H1(cvt_f64_f32, f64, f32, x)
SIM_H1(cvt_f64_ftz_f32, f64, f32, float_of(canon32(flush(x))))
SIM_H1(cvt_f32_f64, u32, f64, bits32((f32)x))
ROUNDED(cvt_f32_f64_x, u32, f64, f32, (f32)x, finish_narrowed(r, flags))
SIM_H1(cvt_f64_f32_x, u64, f32, finish64(i->flags & SIM_I_FTZ ? flush(x) : x, x, i->flags))
/* f32.f32: a move, .sat and .ftz alone, or rounded to an integral value */
SIM_H1(cvt_f32_f32_x, u32, f32, i->flags ? finish32(i->flags & SIM_I_FTZ ? flush(x) : x, i->flags)
    : bits32(x))
SIM_H1(cvt_int_f32_f32, u32, f32,
       finish32((f32)to_integral(i->flags & SIM_I_FTZ ? flush(x) : x, i->flags & SIM_I_ROUND),
           i->flags))
SIM_S1(cvt_f64_f64_x, u64, f64, i->flags ? finish64(x, x, i->flags) : bits64(x))
SIM_S1(cvt_int_f64_f64, u64, f64, finish64(to_integral(x, i->flags & SIM_I_ROUND), x, i->flags))
/* clang-format on */

/* a double's NaN in 16 bits keeps its sign and the upper bits of its payload */
static inline u32 narrow_nan(f64 v, int mbits) {
    const u64 b = bits64(v) | QUIET64;
    return (u32)(b >> 48 & 0x8000) | 0x7fffu >> mbits << mbits |
            ((u32)(b >> (52 - mbits)) & ((1u << mbits) - 1));
}
#define FROM_F64(F, mbits) (x != x && !(i->flags & SIM_I_SAT) ? narrow_nan(x, mbits) : F(x))
#define TO_BHALF(v) finish16(bhalf_round(v, i->flags &SIM_I_ROUND), i->flags, 0x3f80)
#define FLUSHED(x) (i->flags & SIM_I_FTZ ? flush(x) : (x))
SIM_H1(cvt_f32_f16, u32, u32, canon32(half_value(x)))
SIM_H1(cvt_f32_bf16, u32, u32, x << 16)
SIM_H1(cvt_f32_f16_x, u32, u32, finish32(half_value(x), i->flags))
SIM_H1(cvt_f32_bf16_x, u32, u32,
        i->flags &(SIM_I_FTZ | SIM_I_SAT) ? finish32(bhalf_value(x), i->flags) : x << 16)
SIM_S1(cvt_f64_f16, u64, u32, finish64(half_value(x), half_value(x), i->flags))
SIM_S1(cvt_f64_bf16, u64, u32, finish64(bhalf_value(x), bhalf_value(x), i->flags))
SIM_H1(cvt_f16_f32, u32, f32, half_of(x))
SIM_S1(cvt_f16_f32_x, u32, f32, TO_HALF(x)) /* on an H200, .ftz has no effect here: a subnormal
                                               rounds up to the smallest f16 */
/* clang-format off */
SIM_S1(cvt_f16_f64, u32, f64, FROM_F64(TO_HALF, 10))
SIM_S1(cvt_f16_f16_x, u32, u32, finish16(x & 0xffff, i->flags, 0x3c00))
SIM_S1(cvt_int_f16_f16, u32, u32,
       finish16(half_round(to_integral(half_value(x), i->flags & SIM_I_ROUND), 0), i->flags,
           0x3c00))
SIM_S1(cvt_f16_bf16, u32, u32, TO_HALF(bhalf_value(x)))
SIM_H1(cvt_bf16_f32, u32, f32, bhalf_of(x))
SIM_S1(cvt_bf16_f32_x, u32, f32, TO_BHALF(FLUSHED(x)))
SIM_S1(cvt_bf16_f64, u32, f64, FROM_F64(TO_BHALF, 7))
SIM_S1(cvt_bf16_f16, u32, u32, TO_BHALF(half_value(x)))
SIM_H1(cvt_bf16_bf16, u32, u32, (x & 0x7fff) > 0x7f80 ? 0x7fff : x & 0xffff)
/* clang-format on */
SIM_S1(cvt_int_bf16_bf16, u32, u32,
        finish16(bhalf_round(to_integral(bhalf_value(x), i->flags &SIM_I_ROUND), 0), i->flags,
                0x3f80))
/* packed: the first source goes to the high half */
SIM_H2(cvt_f16x2_f32, u32, f32, f32, half_of(x) << 16 | half_of(y))
SIM_H2(cvt_bf16x2_f32, u32, f32, f32, bhalf_of(x) << 16 | bhalf_of(y))
SIM_S2(cvt_f16x2_f32_x, u32, f32, f32, TO_HALF(x) << 16 | TO_HALF(y))
SIM_S2(cvt_bf16x2_f32_x, u32, f32, f32, TO_BHALF(FLUSHED(x)) << 16 | TO_BHALF(FLUSHED(y)))

/* fp8: e4m3 has one NaN and no infinity, e5m2 is the upper byte of f16; too large values become the
   largest one */
static inline u32 fp8_of(f32 v, bool e4, uint32_t flags) {
    if (v != v) return 0x7f;
    const u32 r = e4 ? narrow(v, 0, 3, -6, 8) : narrow(v, 0, 2, -14, 15), most = e4 ? 0x7e : 0x7b,
              n = r & 0x7fff;
    return (flags & SIM_I_RELU) && r >> 15 ? 0 : (r >> 8 & 0x80) | (n > most ? most : n);
}
static inline u32 half_of_fp8(u32 x, bool e4, uint32_t flags) {
    const u32 n = x & 0x7f, sign = (x & 0x80) << 8;
    if (e4 ? n == 0x7f : n > 0x7c) return 0x7fff;
    if ((flags & SIM_I_RELU) && sign) return 0;
    /* exponents are biased by 7 and by 15 */
    return sign | (e4 ? half_of(half_value(n << 7) * 256) : n << 8);
}
SIM_S2(cvt_e4m3x2_f32, u32, f32, f32, fp8_of(x, true, i->flags) << 8 | fp8_of(y, true, i->flags))
SIM_S2(cvt_e5m2x2_f32, u32, f32, f32, fp8_of(x, false, i->flags) << 8 | fp8_of(y, false, i->flags))
SIM_S1(cvt_e4m3x2_f16x2, u32, u32,
        fp8_of(half_value(x >> 16), true, i->flags) << 8 |
                fp8_of(half_value(x & 0xffff), true, i->flags))
SIM_S1(cvt_e5m2x2_f16x2, u32, u32,
        fp8_of(half_value(x >> 16), false, i->flags) << 8 |
                fp8_of(half_value(x & 0xffff), false, i->flags))
SIM_S1(cvt_f16x2_e4m3x2, u32, u32,
        half_of_fp8(x >> 8, true, i->flags) << 16 | half_of_fp8(x, true, i->flags))
SIM_S1(cvt_f16x2_e5m2x2, u32, u32,
        half_of_fp8(x >> 8, false, i->flags) << 16 | half_of_fp8(x, false, i->flags))

/* tf32: an f32 without its lower 13 bits. .rna rounds ties away from zero, and is a GPU's integer
   instructions: a NaN may become infinite, or with .satfinite a number. */
#define IS_FINITE(f) (((f)&0x7f800000) != 0x7f800000)
static inline u32 tf32_of(f32 v, uint32_t flags) {
    const u32 f = bits32(v);
    if (v != v) return NAN32 & ~0x1fffu;
    if ((flags & SIM_I_RELU) && f >> 31) return 0;
    return (f + (flags & SIM_I_ROUND ? 0 : 0xfff + (f >> 13 & 1))) & ~0x1fffu;
}
static inline u32 tf32_away(u32 f, uint32_t flags) {
    const u32 r = (f + (IS_FINITE(f) ? 0x1000 : 0)) & ~0x1fffu;
    return flags >> SIM_I_USER && !IS_FINITE(r) ? r - 0x2000 : r;
}
SIM_H1(cvt_tf32_f32, u32, f32, tf32_of(x, i->flags))
SIM_H1(cvt_tf32_rna_f32, u32, u32, tf32_away(x, i->flags))

static inline u32 pack(s32 x, s32 y, u32 z, uint32_t bits, bool is_signed) {
    const s32 most = (1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    const u32 mask = (1u << bits) - 1, high = (u32)(x < least ? least : x > most ? most : x) & mask;
    const u32 low = (u32)(y < least ? least : y > most ? most : y) & mask;
    return high << bits | low | (bits < 16 ? z << 2 * bits : 0);
}
SIM_S2(cvt_pack_u16, u32, s32, s32, pack(x, y, 0, 16, false))
SIM_S2(cvt_pack_s16, u32, s32, s32, pack(x, y, 0, 16, true))
SIM_S3(cvt_pack_u8, u32, s32, s32, u32, pack(x, y, z, 8, false))
SIM_S3(cvt_pack_s8, u32, s32, s32, u32, pack(x, y, z, 8, true))
SIM_S3(cvt_pack_u4, u32, s32, s32, u32, pack(x, y, z, 4, false))
SIM_S3(cvt_pack_s4, u32, s32, s32, u32, pack(x, y, z, 4, true))
SIM_S3(cvt_pack_u2, u32, s32, s32, u32, pack(x, y, z, 2, false))
SIM_S3(cvt_pack_s2, u32, s32, s32, u32, pack(x, y, z, 2, true))

#define OP SIM_OP
/* to t from f: without flags, with flags; READS: one handler for both */
#define BOTH(t, f, F, h, x) OP(cvt_##t, F, PLAIN, h), OP(cvt_##t, F, FLAGS, x)
#define READS(t, f, F, h) BOTH(t, f, F, h, h)
#define II_OP(t, f, F) BOTH(t, f, F, cvt_##t##_##f, cvt_sat_##t##_##f)
#define FI_OP(t, f, F) READS(t, f, F, cvt_##t##_##f)
#define INTEGERS(X, f, F) \
    X(u8, f, F), X(s8, f, F), X(u16, f, F), X(s16, f, F), X(u32, f, F), X(s32, f, F), \
            X(u64, f, F), X(s64, f, F)
#define FROM_INTEGER(f, F) \
    INTEGERS(II_OP, f, F), BOTH(f32, f, F, cvt_f32_##f, cvt_f32_##f##_x), \
            BOTH(f64, f, F, cvt_f64_##f, cvt_f64_##f##_x), FI_OP(f16, f, F), FI_OP(bf16, f, F)
#define INTEGRAL(f, F) \
    OP(cvt_int, F, PLAIN, cvt_int_##f##_##f), OP(cvt_int, F, FLAGS, cvt_int_##f##_##f)
/* formats are part of the name, beside the type of their register; to them always with
   .satfinite */
#define FP8(f) \
    OP(cvt_##f##_u16, F32, FLAGS, cvt_##f##_f32), \
            OP(cvt_##f##_u16, F16X2, FLAGS, cvt_##f##_f16x2), \
            OP(cvt_##f##_f16x2, U16, PLAIN, cvt_f16x2_##f), \
            OP(cvt_##f##_f16x2, U16, FLAGS, cvt_f16x2_##f)
#define PACK(n) OP(n, S32, FLAGS, n) /* always with .sat */
const struct sim_operation SIM_ISA(sim_cvt_table)[] = { FROM_INTEGER(u8, U8), FROM_INTEGER(s8, S8),
    FROM_INTEGER(u16, U16), FROM_INTEGER(s16, S16), FROM_INTEGER(u32, U32), FROM_INTEGER(s32, S32),
    FROM_INTEGER(u64, U64), FROM_INTEGER(s64, S64), INTEGERS(FI_OP, f32, F32),
    INTEGERS(FI_OP, f64, F64), INTEGERS(FI_OP, f16, F16), INTEGERS(FI_OP, bf16, BF16),
    OP(cvt_s32, F32, RZ, cvt_rzi_s32_f32), READS(f32, f32, F32, cvt_f32_f32_x),
    BOTH(f32, f64, F64, cvt_f32_f64, cvt_f32_f64_x),
    BOTH(f32, f16, F16, cvt_f32_f16, cvt_f32_f16_x),
    BOTH(f32, bf16, BF16, cvt_f32_bf16, cvt_f32_bf16_x),
    BOTH(f64, f32, F32, cvt_f64_f32, cvt_f64_f32_x), OP(cvt_f64, F32, FTZ, cvt_f64_ftz_f32),
    READS(f64, f64, F64, cvt_f64_f64_x), FI_OP(f64, f16, F16), FI_OP(f64, bf16, BF16),
    BOTH(f16, f32, F32, cvt_f16_f32, cvt_f16_f32_x), FI_OP(f16, f64, F64),
    READS(f16, f16, F16, cvt_f16_f16_x), FI_OP(f16, bf16, BF16),
    BOTH(bf16, f32, F32, cvt_bf16_f32, cvt_bf16_f32_x), FI_OP(bf16, f64, F64),
    FI_OP(bf16, f16, F16), INTEGRAL(f32, F32), INTEGRAL(f64, F64), INTEGRAL(f16, F16),
    INTEGRAL(bf16, BF16), BOTH(f16x2, f32, F32, cvt_f16x2_f32, cvt_f16x2_f32_x),
    BOTH(bf16x2, f32, F32, cvt_bf16x2_f32, cvt_bf16x2_f32_x),
    OP(cvt_bf16, BF16, PLAIN, cvt_bf16_bf16), READS(tf32_u32, f32, F32, cvt_tf32_f32),
    READS(rna_tf32_u32, f32, F32, cvt_tf32_rna_f32), FP8(e4m3x2), FP8(e5m2x2), PACK(cvt_pack_u16),
    PACK(cvt_pack_s16), PACK(cvt_pack_u8), PACK(cvt_pack_s8), PACK(cvt_pack_u4), PACK(cvt_pack_s4),
    PACK(cvt_pack_u2), PACK(cvt_pack_s2), SIM_END };
#undef OP
