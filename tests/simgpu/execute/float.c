/* float.c - f32 and f64 arithmetic, and the approximate functions. Lane operations: see lanes.h.

   add, sub, mul, fma, div, rcp, sqrt are IEEE exact. The plain and the .ftz forms that round to
   nearest have separate handlers; the _x handlers read rounding, .ftz and .sat from the flags.
   Directed rounding uses the host's rounding mode: between the two calls that switch it, operands
   are read from memory and results are written there, so no computation moves across. The .approx
   functions are more accurate than a GPU's. */
#include "../base/floats.h"
#include "execute.h"

#define A3 const f32 x = a[l], y = b[l], z = c[l]
#define FLOAT(NAME, E) \
    SIM_HANDLER(NAME) { \
        u32 *d = SIM_AT(u32, i->d); \
        const f32 *a = SIM_AT(f32, i->a), *b = SIM_AT(f32, i->b), *c = SIM_AT(f32, i->c); \
        (void)b; \
        (void)c; \
        if (m == ~0u) \
            SIM_LANES { \
                A3; \
                (void)y; \
                (void)z; \
                d[l] = (E); \
            } \
        else \
            SIM_LANES { \
                A3; \
                (void)y; \
                (void)z; \
                const u32 r = (E); \
                d[l] = SIM_ON(m) ? r : d[l]; \
            } \
    }
/* BIG is the result times 2^64, as for flush_tiny below. Rounding toward zero turns what overflows
   in it into a finite number, and such numbers may cancel, so it counts only beside a result that
   is small. */
#define FLOAT_X(NAME, E, BIG) \
    SIM_HANDLER(NAME) { \
        u32 *d = SIM_AT(u32, i->d); \
        const f32 *a = SIM_AT(f32, i->a), *b = SIM_AT(f32, i->b), *c = SIM_AT(f32, i->c); \
        (void)b; \
        (void)c; \
        const uint32_t flags = i->flags, ftz = flags & SIM_I_FTZ ? ~0u : 0; \
        u32 out[32]; \
        if (flags & SIM_I_ROUND) fesetround(sim_fe_round[flags & SIM_I_ROUND]); \
        SIM_EACH_LANE (m) { \
            const f32 x = ftz ? flush(a[l]) : a[l], y = ftz ? flush(b[l]) : b[l], \
                      z = ftz ? flush(c[l]) : c[l]; \
            (void)y; \
            (void)z; \
            const f32 r = (E), big = (BIG); \
            const bool tiny = __builtin_fabsf(r) <= 0x1p-126f && __builtin_fabsf(big) < 0x1p-62f; \
            out[l] = ftz && tiny ? bits32(r) & 0x80000000u : bits32(r); \
        } \
        if (flags & SIM_I_ROUND) { \
            __asm__ volatile("" : : "r"(out) : "memory"); \
            fesetround(FE_TONEAREST); \
        } \
        SIM_EACH_LANE (m) { \
            u32 r = canon32(float_of(out[l])); \
            if (flags & SIM_I_SAT) { \
                const f32 v = float_of(r); \
                r = v > 0 ? v < 1 ? r : 0x3f800000u : 0; \
            } \
            d[l] = r; \
        } \
    }
#define FTZ(E, ...) flush_bits(canon32(E(__VA_ARGS__)))
/* A result that is subnormal before rounding is flushed, even if it would round up to the smallest
   normal number. BIG is the result times 2^64. */
static inline u32 flush_tiny(f32 r, f32 big) {
    return __builtin_fabsf(big) < 0x1p-62f ? bits32(r) & 0x80000000u : canon32(r);
}
#define BIG(x) (flush(x) * 0x1p64f)
#define OP_ADD(x, y) ((x) + (y))
#define OP_SUB(x, y) ((x) - (y))
/* clang-format off */
FLOAT(add_f32, canon32(x + y))
FLOAT(sub_f32, canon32(x - y))
FLOAT(mul_f32, canon32(x * y))
FLOAT(fma_f32, canon32(__builtin_fmaf(x, y, z)))
FLOAT(div_f32, canon32(x / y))
FLOAT(rcp_f32, canon32(1.0f / x))
FLOAT(sqrt_f32, canon32(__builtin_sqrtf(x)))
FLOAT(add_ftz_f32, FTZ(OP_ADD, flush(x), flush(y)))
FLOAT(sub_ftz_f32, FTZ(OP_SUB, flush(x), flush(y)))
FLOAT(mul_ftz_f32, flush_tiny(flush(x) * flush(y), BIG(x) * flush(y)))
FLOAT(fma_ftz_f32, flush_tiny(__builtin_fmaf(flush(x), flush(y), flush(z)),
    __builtin_fmaf(BIG(x), flush(y), BIG(z))))
FLOAT(div_ftz_f32, flush_tiny(flush(x) / flush(y), BIG(x) / flush(y)))
FLOAT(rcp_ftz_f32, flush_tiny(1.0f / flush(x), 0x1p64f / flush(x)))
FLOAT(sqrt_ftz_f32, FTZ(__builtin_sqrtf, flush(x)))
FLOAT_X(add_f32_x, x + y, r * 0x1p64f)
FLOAT_X(sub_f32_x, x - y, r * 0x1p64f)
FLOAT_X(mul_f32_x, x * y, x * 0x1p64f * y)
FLOAT_X(fma_f32_x, __builtin_fmaf(x, y, z), __builtin_fmaf(x * 0x1p64f, y, z * 0x1p64f))
FLOAT_X(div_f32_x, x / y, x * 0x1p64f / y)
FLOAT_X(rcp_f32_x, 1.0f / x, 0x1p64f / x)
FLOAT_X(sqrt_f32_x, __builtin_sqrtf(x), r * 0x1p64f)

FLOAT(neg_f32, canon32(-x))
FLOAT(neg_ftz_f32, flush_bits(canon32(-x)))
FLOAT(abs_f32, canon32(__builtin_fabsf(x)))
FLOAT(abs_ftz_f32, flush_bits(canon32(__builtin_fabsf(x))))
FLOAT(copysign_f32, (bits32(x) & 0x80000000u) | (bits32(y) & 0x7fffffffu))
/* clang-format on */

/* min, max: a number beats a NaN, -0 is below +0; .NaN: a NaN beats a number */
static inline u32 min32(f32 x, f32 y) {
    const u32 r = x == y ? bits32(x) | bits32(y) : x < y ? bits32(x) : bits32(y);
    return x != x ? canon32(y) : y != y ? bits32(x) : r;
}
static inline u32 max32(f32 x, f32 y) {
    const u32 r = x == y ? bits32(x) & bits32(y) : x > y ? bits32(x) : bits32(y);
    return x != x ? canon32(y) : y != y ? bits32(x) : r;
}
static inline u64 min64(f64 x, f64 y) {
    const u64 r = x == y ? bits64(x) | bits64(y) : x < y ? bits64(x) : bits64(y);
    return x != x ? y != y ? bits64(x) | QUIET64 : bits64(y) : y != y ? bits64(x) : r;
}
static inline u64 max64(f64 x, f64 y) {
    const u64 r = x == y ? bits64(x) & bits64(y) : x > y ? bits64(x) : bits64(y);
    return x != x ? y != y ? bits64(x) | QUIET64 : bits64(y) : y != y ? bits64(x) : r;
}
FLOAT(min_f32, min32(x, y))
FLOAT(max_f32, max32(x, y))
FLOAT(min_ftz_f32, min32(flush(x), flush(y)))
FLOAT(max_ftz_f32, max32(flush(x), flush(y)))

static inline u32 extreme_x(f32 x, f32 y, uint32_t flags, bool is_max) {
    if (flags & SIM_I_FTZ) {
        x = flush(x);
        y = flush(y);
    }
    u32 sign = flags & SIM_I_XORSIGN ? (bits32(x) ^ bits32(y)) & 0x80000000u : 0;
    if (flags & SIM_I_XORSIGN) {
        x = __builtin_fabsf(x);
        y = __builtin_fabsf(y);
    }
    if (x != x && y != y) return NAN32;
    if ((flags & SIM_I_NAN) && (x != x || y != y)) return NAN32;
    return (is_max ? max32(x, y) : min32(x, y)) | sign;
}
SIM_S2(min_f32_x, u32, f32, f32, extreme_x(x, y, i->flags, false))
SIM_S2(max_f32_x, u32, f32, f32, extreme_x(x, y, i->flags, true))
static inline u32 extreme3_x(f32 x, f32 y, f32 z, uint32_t flags, bool is_max) {
    flags &= ~(uint32_t)SIM_I_XORSIGN;
    return extreme_x(float_of(extreme_x(x, y, flags, is_max)), z, flags, is_max);
}
SIM_S3(min3_f32_x, u32, f32, f32, f32, extreme3_x(x, y, z, i->flags, false))
SIM_S3(max3_f32_x, u32, f32, f32, f32, extreme3_x(x, y, z, i->flags, true))

/* -- f64 */

#define D3 \
    const f64 x = a[l], y = b[l], z = c[l]; \
    (void)x; \
    (void)y; \
    (void)z
#define DOUBLE_OPERANDS \
    u64 *d = SIM_AT(u64, i->d); \
    const f64 *a = SIM_AT(f64, i->a), *b = SIM_AT(f64, i->b), *c = SIM_AT(f64, i->c)
#define DOUBLE_BITS(NAME, E) \
    SIM_HANDLER(NAME) { \
        DOUBLE_OPERANDS; \
        if (m == ~0u) \
            SIM_LANES { \
                D3; \
                d[l] = (E); \
            } \
        else \
            SIM_LANES { \
                D3; \
                const u64 r = (E); \
                d[l] = SIM_ON(m) ? r : d[l]; \
            } \
    }
/* NaNs are rare: the operands that may carry one, Y and Z besides x, are read again only in that
   case; the asm statement makes the compiler read them again */
#define DOUBLE(NAME, E, Y, Z) \
    SIM_HANDLER(NAME) { \
        DOUBLE_OPERANDS; \
        f64 out[32]; \
        u64 nan = 0; \
        SIM_LANES { \
            D3; \
            const f64 r = (E); \
            out[l] = r; \
            nan |= r == r ? 0 : ~0ull; \
        } \
        if (nan) { \
            __asm__ volatile("" : : : "memory"); \
            SIM_LANES { \
                D3; \
                out[l] = double_of(canon64(out[l], x, Y, Z)); \
            } \
        } \
        if (m == ~0u) memcpy(d, out, sizeof out); \
        else \
            SIM_LANES \
                d[l] = SIM_ON(m) ? bits64(out[l]) : d[l]; \
    }
#define DOUBLE_X(NAME, E, Y, Z) \
    SIM_HANDLER(NAME) { \
        DOUBLE_OPERANDS; \
        f64 out[32]; \
        fesetround(sim_fe_round[i->flags & SIM_I_ROUND]); \
        SIM_EACH_LANE (m) { \
            D3; \
            out[l] = (E); \
        } \
        __asm__ volatile("" : : "r"(out) : "memory"); \
        fesetround(FE_TONEAREST); \
        SIM_EACH_LANE (m) { \
            D3; \
            d[l] = canon64(out[l], x, Y, Z); \
        } \
    }
/* clang-format off */
DOUBLE(add_f64, x + y, y, 0)
DOUBLE(sub_f64, x - y, y, 0)
DOUBLE(mul_f64, x * y, y, 0)
DOUBLE(fma_f64, __builtin_fma(x, y, z), y, z)
DOUBLE(div_f64, x / y, y, 0)
DOUBLE(rcp_f64, 1.0 / x, 0, 0)
DOUBLE(sqrt_f64, __builtin_sqrt(x), 0, 0)
DOUBLE(rsqrt_approx_f64, 1.0 / __builtin_sqrt(x), 0, 0)
DOUBLE_X(add_f64_x, x + y, y, 0)
DOUBLE_X(sub_f64_x, x - y, y, 0)
DOUBLE_X(mul_f64_x, x * y, y, 0)
DOUBLE_X(fma_f64_x, __builtin_fma(x, y, z), y, z)
DOUBLE_X(div_f64_x, x / y, y, 0)
DOUBLE_X(rcp_f64_x, 1.0 / x, 0, 0)
DOUBLE_X(sqrt_f64_x, __builtin_sqrt(x), 0, 0)
/* a GPU adds 0 to -x or |x|: a NaN becomes a quiet one and keeps its sign */
DOUBLE_BITS(neg_f64, x == x ? bits64(x) ^ 1ull << 63 : bits64(x) | QUIET64)
DOUBLE_BITS(abs_f64, x == x ? bits64(x) & ~(1ull << 63) : bits64(x) | QUIET64)
DOUBLE_BITS(copysign_f64, (bits64(x) & 1ull << 63) | (bits64(y) & ~(1ull << 63)))
DOUBLE_BITS(min_f64, min64(x, y))
DOUBLE_BITS(max_f64, max64(x, y))
/* clang-format on */

/* the gross approximations (rcp and rsqrt .approx.ftz) read and write only the high words */
#define HIGH(v) ((v)&0xffffffff00000000ull)
static inline u64 flush64(u64 v) { return (v & 0x7ff0000000000000ull) == 0 ? v & 1ull << 63 : v; }
static inline u64 gross(f64 x, bool root) {
    if (x != x) return 0x7fffffff00000000ull;
    f64 v = double_of(flush64(HIGH(bits64(x))));
    f64 r = root ? 1.0 / __builtin_sqrt(v) : 1.0 / v;
    return r == r ? flush64(HIGH(bits64(r))) : 0x7fffffff00000000ull;
}
SIM_S1(rcp_approx_ftz_f64, u64, f64, gross(x, false))
SIM_S1(rsqrt_approx_ftz_f64, u64, f64, gross(x, true))

/* -- approximate functions of f32 */

static inline f32 div_approx(f32 x, f32 y) {
    f32 size = __builtin_fabsf(y);
    if (size > 0x1p126f && size < INFINITY)
        return x - x == 0 ? (signbit(x) != 0) != (signbit(y) != 0) ? -0.0f : 0.0f : x * 0.0f;
    return x / y;
}
static inline f32 rsqrt_approx(f32 x) { return (f32)(1.0 / __builtin_sqrt((f64)x)); }
FLOAT(rsqrt_approx_f32, canon32(rsqrt_approx(x)))
FLOAT(rsqrt_approx_ftz_f32, flush_bits(canon32(rsqrt_approx(flush(x)))))
#define APPROX(NAME, E) \
    SIM_S1(NAME##_f32, u32, f32, canon32(E(x))) \
    SIM_S1(NAME##_ftz_f32, u32, f32, flush_bits(canon32(E(flush(x)))))
APPROX(ex2_approx, exp2f)
APPROX(lg2_approx, log2f)
APPROX(sin_approx, sinf)
APPROX(cos_approx, cosf)
APPROX(tanh_approx, tanhf)
SIM_S2(div_approx_f32, u32, f32, f32, canon32(div_approx(x, y)))
SIM_S2(div_approx_ftz_f32, u32, f32, f32, flush_bits(canon32(div_approx(flush(x), flush(y)))))

#define OP SIM_OP
#define SINGLE(n, h) OP(n, F32, PLAIN, h##_f32), OP(n, F32, FTZ, h##_ftz_f32)
#define DOUBLE_(n) OP(n, F64, PLAIN, n##_f64)
#define ROUNDS(n, h) \
    SINGLE(n, h), OP(n, F32, FLAGS, h##_f32_x), OP(n, F64, PLAIN, h##_f64), \
            OP(n, F64, FLAGS, h##_f64_x)
const struct sim_operation SIM_ISA(sim_float_table)[] = { ROUNDS(add, add), ROUNDS(sub, sub),
    ROUNDS(mul, mul), ROUNDS(fma, fma), ROUNDS(mad, fma), ROUNDS(div, div), ROUNDS(rcp, rcp),
    ROUNDS(sqrt, sqrt), SINGLE(neg, neg), SINGLE(abs, abs), SINGLE(min, min), SINGLE(max, max),
    OP(min, F32, FLAGS, min_f32_x), OP(max, F32, FLAGS, max_f32_x),
    OP(min_3, F32, PLAIN, min3_f32_x), OP(max_3, F32, PLAIN, max3_f32_x),
    OP(min_3, F32, FLAGS, min3_f32_x), OP(max_3, F32, FLAGS, max3_f32_x),
    OP(copysign, F32, PLAIN, copysign_f32), DOUBLE_(copysign), DOUBLE_(neg), DOUBLE_(abs),
    DOUBLE_(min), DOUBLE_(max), SINGLE(div_full, div), SINGLE(div_approx, div_approx),
    SINGLE(sqrt_approx, sqrt), SINGLE(rcp_approx, rcp),
    OP(rcp_approx, F64, FTZ, rcp_approx_ftz_f64), SINGLE(rsqrt_approx, rsqrt_approx),
    DOUBLE_(rsqrt_approx), OP(rsqrt_approx, F64, FTZ, rsqrt_approx_ftz_f64),
    SINGLE(ex2_approx, ex2_approx), SINGLE(lg2_approx, lg2_approx), SINGLE(sin_approx, sin_approx),
    SINGLE(cos_approx, cos_approx), SINGLE(tanh_approx, tanh_approx), SIM_END };
#undef OP
