/* half.c - f16 and bf16 arithmetic, single and packed. Lane operations: see lanes.h.

   add, sub and mul of f16 are computed in f32, where double rounding does no harm; those of bf16,
   which has the exponent range of f32, in double; fma in double, first rounded to odd. Packed forms
   compute both halves. */
#include "../base/floats.h"
#include "execute.h"

#define H_FTZ(x) ((i->flags & SIM_I_FTZ) && ((x)&0x7c00) == 0 ? (x)&0x8000 : (x))
static inline u32 h_finish(u32 h, uint32_t flags) {
    if (flags & SIM_I_FTZ && (h & 0x7c00) == 0) h &= 0x8000;
    bool nan = (h & 0x7fff) > 0x7c00;
    if (flags & SIM_I_SAT) return nan || h >> 15 ? 0 : h > 0x3c00 ? 0x3c00 : h;
    return (flags & SIM_I_RELU) && !nan && h >> 15 ? 0 : h;
}
static inline u32 b_finish(u32 h, uint32_t flags) {
    bool nan = (h & 0x7fff) > 0x7f80;
    if (flags & SIM_I_SAT) return nan || h >> 15 ? 0 : h > 0x3f80 ? 0x3f80 : h;
    return (flags & SIM_I_RELU) && !nan && h >> 15 ? 0 : h;
}

static inline u32 h_add(u32 x, u32 y) { return half_of(half_value(x) + half_value(y)); }
static inline u32 h_sub(u32 x, u32 y) { return half_of(half_value(x) - half_value(y)); }
static inline u32 h_mul(u32 x, u32 y) { return half_of(half_value(x) * half_value(y)); }
static inline u32 h_fma(u32 x, u32 y, u32 z) {
    return half_round(fma_odd(half_value(x), half_value(y), half_value(z)), 0);
}
static inline u32 b_add(u32 x, u32 y) {
    return bhalf_round(fma_odd(bhalf_value(x), 1.0, bhalf_value(y)), 0);
}
static inline u32 b_sub(u32 x, u32 y) {
    return bhalf_round(fma_odd(bhalf_value(x), 1.0, -bhalf_value(y)), 0);
}
static inline u32 b_mul(u32 x, u32 y) {
    return bhalf_round((f64)bhalf_value(x) * bhalf_value(y), 0);
}
static inline u32 b_fma(u32 x, u32 y, u32 z) {
    return bhalf_round(fma_odd(bhalf_value(x), bhalf_value(y), bhalf_value(z)), 0);
}

/* Each operation F of 16-bit operands gives a single and a packed handler; `i` is in scope for the
   flags. */
#define TWICE1(F, x) ((F((x)&0xffff)) | (F((x) >> 16)) << 16)
#define TWICE2(F, x, y) ((F((x)&0xffff, (y)&0xffff)) | (F((x) >> 16, (y) >> 16)) << 16)
#define TWICE3(F, x, y, z) \
    ((F((x)&0xffff, (y)&0xffff, (z)&0xffff)) | (F((x) >> 16, (y) >> 16, (z) >> 16)) << 16)
#define OP1(NAME, F) SIM_S1(NAME, u32, u32, F((u16)x)) SIM_S1(NAME##x2, u32, u32, TWICE1(F, x))
#define OP2(NAME, F) \
    SIM_S2(NAME, u32, u32, u32, F((u16)x, (u16)y)) SIM_S2(NAME##x2, u32, u32, u32, TWICE2(F, x, y))
#define OP3(NAME, F) \
    SIM_S3(NAME, u32, u32, u32, u32, F((u16)x, (u16)y, (u16)z)) \
    SIM_S3(NAME##x2, u32, u32, u32, u32, TWICE3(F, x, y, z))

#define HF2(OP, x, y) h_finish(OP(H_FTZ(x), H_FTZ(y)), i->flags)
/* .ftz: a result that is subnormal before rounding is flushed, even if it would round up to the
   smallest normal number */
static inline u32 h_tiny(u32 h, f64 exact, uint32_t flags) {
    return flags & SIM_I_FTZ && exact > -(0x1p-14 - 0x1p-26) && exact < 0x1p-14 - 0x1p-26
            ? h & 0x8000
            : h;
}
#define HADD(x, y) HF2(h_add, x, y)
#define HSUB(x, y) HF2(h_sub, x, y)
#define HMUL(x, y) \
    h_finish(h_tiny(h_mul(H_FTZ(x), H_FTZ(y)), (f64)half_value(H_FTZ(x)) * half_value(H_FTZ(y)), \
                     i->flags), \
            i->flags)
#define HFMA(x, y, z) \
    h_finish(h_tiny(h_fma(H_FTZ(x), H_FTZ(y), H_FTZ(z)), \
                     fma_odd(half_value(H_FTZ(x)), half_value(H_FTZ(y)), half_value(H_FTZ(z))), \
                     i->flags), \
            i->flags)
#define HMIN(x, y) extreme(H_FTZ(x), H_FTZ(y), i->flags, false, 0x7c00)
#define HMAX(x, y) extreme(H_FTZ(x), H_FTZ(y), i->flags, true, 0x7c00)
#define HNEG(x) (((x)&0x7fff) > 0x7c00 ? 0x7fff : H_FTZ(x) ^ 0x8000)
#define HABS(x) (((x)&0x7fff) > 0x7c00 ? 0x7fff : H_FTZ(x) & 0x7fff)
#define HEX2(x) h_finish(half_of(exp2f(half_value(H_FTZ(x)))), i->flags)
#define HTANH(x) half_of(tanhf(half_value(x)))
OP2(add_f16, HADD)
OP2(sub_f16, HSUB)
OP2(mul_f16, HMUL)
OP3(fma_f16, HFMA)
OP2(min_f16, HMIN)
OP2(max_f16, HMAX)
OP1(neg_f16, HNEG)
OP1(abs_f16, HABS)
OP1(ex2_approx_f16, HEX2)
OP1(tanh_approx_f16, HTANH)

#define BADD(x, y) b_finish(b_add(x, y), i->flags)
#define BSUB(x, y) b_finish(b_sub(x, y), i->flags)
#define BMUL(x, y) b_finish(b_mul(x, y), i->flags)
#define BFMA(x, y, z) b_finish(b_fma(x, y, z), i->flags)
/* .oob: the NaN of places beside a tensor makes the result 0 */
#define IS_OOB(x) (((x)&0x7fff) == 0x7ff7)
#define HFMA_OOB(x, y, z) (IS_OOB(x) || IS_OOB(y) ? 0 : HFMA(x, y, z))
#define BFMA_OOB(x, y, z) (IS_OOB(x) || IS_OOB(y) ? 0 : BFMA(x, y, z))
/* fma.{rz,rm,rp} of bf16, which no page has: ptxas (13.0) takes it, rounds packed ones to nearest,
   and makes of a single one the fma of f32 of operands and result that are f16, without .oob and
   .relu. */
static inline u32 directed(u32 x, u32 y, u32 z, uint32_t flags) {
    const int mode = flags & SIM_I_ROUND;
    const f64 a = half_value(x), b = half_value(y), c = half_value(z), s = fma_odd(a, b, c);
    if (s != s) return 0x7fff;
    if (s == 0 && signbit(a * b) != signbit(c)) return mode == 2 ? 0x8000 : 0;
    const f32 r = float_of(
            narrow(fabs(s), signbit(s) && mode > 1 ? 5 - mode : mode, 23, -126, 127));
    return half_round(signbit(s) ? -r : r, 0);
}
#define BFMA_SINGLE(x, y, z) (i->flags & SIM_I_ROUND ? directed(x, y, z, i->flags) : BFMA(x, y, z))
#define BFMA_OOB_SINGLE(x, y, z) \
    (i->flags & SIM_I_ROUND ? directed(x, y, z, i->flags) : BFMA_OOB(x, y, z))
#define BMIN(x, y) extreme(x, y, i->flags, false, 0x7f80)
#define BMAX(x, y) extreme(x, y, i->flags, true, 0x7f80)
#define BNEG(x) (((x)&0x7fff) > 0x7f80 ? 0x7fff : (x) ^ 0x8000)
#define BABS(x) (((x)&0x7fff) > 0x7f80 ? 0x7fff : (x)&0x7fff)
#define BEX2(x) bhalf_of(exp2f(flush(bhalf_value(x))))
#define BTANH(x) bhalf_of(tanhf(bhalf_value(x)))
OP2(add_bf16, BADD)
OP2(sub_bf16, BSUB)
OP2(mul_bf16, BMUL)
SIM_S3(fma_bf16, u32, u32, u32, u32, BFMA_SINGLE((u16)x, (u16)y, (u16)z))
SIM_S3(fma_bf16x2, u32, u32, u32, u32, TWICE3(BFMA, x, y, z))
OP3(fma_oob_f16, HFMA_OOB)
SIM_S3(fma_oob_bf16, u32, u32, u32, u32, BFMA_OOB_SINGLE((u16)x, (u16)y, (u16)z))
SIM_S3(fma_oob_bf16x2, u32, u32, u32, u32, TWICE3(BFMA_OOB, x, y, z))
OP2(min_bf16, BMIN)
OP2(max_bf16, BMAX)
OP1(neg_bf16, BNEG)
OP1(abs_bf16, BABS)
OP1(ex2_approx_bf16, BEX2)
OP1(tanh_approx_bf16, BTANH)

/* each reads its flags */
#define FORMAT(n, t, h) SIM_OP(n, t, PLAIN, h), SIM_OP(n, t, FLAGS, h)
#define OF_HALVES(n) \
    FORMAT(n, F16, n##_f16), FORMAT(n, F16X2, n##_f16x2), FORMAT(n, BF16, n##_bf16), \
            FORMAT(n, BF16X2, n##_bf16x2)
const struct sim_operation SIM_ISA(sim_half_table)[] = { OF_HALVES(add), OF_HALVES(sub),
    OF_HALVES(mul), OF_HALVES(fma), OF_HALVES(fma_oob), OF_HALVES(min), OF_HALVES(max),
    OF_HALVES(neg), OF_HALVES(abs), OF_HALVES(ex2_approx), OF_HALVES(tanh_approx), SIM_END };
