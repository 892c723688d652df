/* alu.c - integer and logic operations, moves, predicate logic. Lane operations: see lanes.h.

   Names carry the operand width where the sign does not matter (add_32), the type where it does
   (min_s32). 16-bit values are zero-extended in 32-bit lanes, so each 16-bit result is cut to
   u16. */
#include "../base/lanes.h"
#include "execute.h"

/* -- arithmetic whose low bits do not depend on the sign */

/* clang-format off */
SIM_H2(add_16, u32, u32, u32, (u16)(x + y))
SIM_H2(add_32, u32, u32, u32, x + y)
SIM_H2(add_64, u64, u64, u64, x + y)
SIM_H2(sub_16, u32, u32, u32, (u16)(x - y))
SIM_H2(sub_32, u32, u32, u32, x - y)
SIM_H2(sub_64, u64, u64, u64, x - y)
SIM_H2(mul_lo_16, u32, u32, u32, (u16)(x * y))
SIM_H2(mul_lo_32, u32, u32, u32, x * y)
SIM_H2(mul_lo_64, u64, u64, u64, x * y)
SIM_H3(mad_lo_16, u32, u32, u32, u32, (u16)(x * y + z))
SIM_H3(mad_lo_32, u32, u32, u32, u32, x * y + z)
SIM_H3(mad_lo_64, u64, u64, u64, u64, x * y + z)
SIM_H1(neg_16, u32, u32, (u16)-x)
SIM_H1(neg_32, u32, u32, -x)
SIM_H1(neg_64, u64, u64, -x)
SIM_H1(abs_16, u32, u32, (u16)((s16)x < 0 ? -x : x))
SIM_H1(abs_32, u32, u32, (s32)x < 0 ? -x : x)
SIM_H1(abs_64, u64, u64, (s64)x < 0 ? -x : x)

/* -- typed arithmetic */

SIM_H2(mul_hi_u16, u32, u32, u32, (u32)((u16)x * (u32)(u16)y) >> 16)
SIM_H2(mul_hi_s16, u32, u32, u32, (u16)(((s32)(s16)x * (s16)y) >> 16))
SIM_H2(mul_hi_u32, u32, u32, u32, (u64)x * y >> 32)
SIM_H2(mul_hi_s32, s32, s32, s32, (s64)x * y >> 32)
SIM_S2(mul_hi_u64, u64, u64, u64, (u128)x * y >> 64)
SIM_S2(mul_hi_s64, s64, s64, s64, (s128)x * y >> 64)
SIM_H2(mul_wide_u16, u32, u32, u32, (u32)(u16)x * (u16)y)
SIM_H2(mul_wide_s16, u32, u32, u32, (s32)(s16)x * (s16)y)
SIM_H2(mul_wide_u32, u64, u32, u32, (u64)x * y)
SIM_H2(mul_wide_s32, s64, s32, s32, (s64)x * y)
SIM_H3(mad_hi_u16, u32, u32, u32, u32, (u16)(((u32)(u16)x * (u16)y >> 16) + z))
SIM_H3(mad_hi_s16, u32, u32, u32, u32, (u16)((u32)((s32)(s16)x * (s16)y >> 16) + z))
SIM_H3(mad_hi_u32, u32, u32, u32, u32, (u32)((u64)x * y >> 32) + z)
SIM_H3(mad_hi_s32, u32, s32, s32, u32, (u32)((s64)x * y >> 32) + z)
SIM_S3(mad_hi_u64, u64, u64, u64, u64, (u64)((u128)x * y >> 64) + z)
SIM_S3(mad_hi_s64, u64, s64, s64, u64, (u64)((s128)x * y >> 64) + z)
SIM_H3(mad_wide_u16, u32, u32, u32, u32, (u32)(u16)x * (u16)y + z)
SIM_H3(mad_wide_s16, u32, u32, u32, u32, (u32)((s32)(s16)x * (s16)y) + z)
SIM_H3(mad_wide_u32, u64, u32, u32, u64, (u64)x * y + z)
SIM_H3(mad_wide_s32, u64, s32, s32, u64, (u64)((s64)x * y) + z)

static inline s32 clamp32(s64 v)
{ return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v; }
SIM_H2(add_sat_s32, s32, s32, s32, clamp32((s64)x + y))
SIM_H2(sub_sat_s32, s32, s32, s32, clamp32((s64)x - y))
SIM_H3(mad_hi_sat_s32, s32, s32, s32, s32, clamp32(((s64)x * y >> 32) + z))

#define U24(v) ((u64)((v) & 0xffffff))
#define S24(v) ((s64)(s32)((v) << 8) >> 8)
SIM_H2(mul24_lo_u32, u32, u32, u32, U24(x) * U24(y))
SIM_H2(mul24_lo_s32, u32, u32, u32, S24(x) * S24(y))
SIM_H2(mul24_hi_u32, u32, u32, u32, U24(x) * U24(y) >> 16)
SIM_H2(mul24_hi_s32, u32, u32, u32, S24(x) * S24(y) >> 16)
SIM_H3(mad24_lo_u32, u32, u32, u32, u32, U24(x) * U24(y) + z)
SIM_H3(mad24_lo_s32, u32, u32, u32, u32, (u64)(S24(x) * S24(y)) + z)
SIM_H3(mad24_hi_u32, u32, u32, u32, u32, (U24(x) * U24(y) >> 16) + z)
SIM_H3(mad24_hi_s32, u32, u32, u32, u32, (u64)(S24(x) * S24(y) >> 16) + z)
SIM_H3(mad24_hi_sat_s32, u32, u32, u32, s32, clamp32((S24(x) * S24(y) >> 16) + z))
/* clang-format on */

/* A GPU divides in software; division by zero gives all ones, as quotient and as remainder. The
   smallest number divided by -1 is itself, remainder 0. */
#define DIV_U(T, x, y) ((y) ? (T)((x) / (y)) : (T)-1)
#define REM_U(T, x, y) ((y) ? (T)((x) % (y)) : (T)-1)
#define DIV_S(T, U, x, y) ((y) == 0 ? (T)-1 : (y) == -1 ? (T)(0 - (U)(x)) : (T)((x) / (y)))
#define REM_S(T, x, y) ((y) == 0 ? (T)-1 : (y) == -1 ? (T)0 : (T)((x) % (y)))
SIM_S2(div_u16, u32, u32, u32, DIV_U(u16, (u16)x, (u16)y))
SIM_S2(div_s16, u32, u32, u32, (u16)DIV_S(s16, u16, (s16)x, (s16)y))
SIM_S2(div_u32, u32, u32, u32, DIV_U(u32, x, y))
SIM_S2(div_s32, s32, s32, s32, DIV_S(s32, u32, x, y))
SIM_S2(div_u64, u64, u64, u64, DIV_U(u64, x, y))
SIM_S2(div_s64, s64, s64, s64, DIV_S(s64, u64, x, y))
SIM_S2(rem_u16, u32, u32, u32, REM_U(u16, (u16)x, (u16)y))
SIM_S2(rem_s16, u32, u32, u32, (u16)REM_S(s16, (s16)x, (s16)y))
SIM_S2(rem_u32, u32, u32, u32, REM_U(u32, x, y))
SIM_S2(rem_s32, s32, s32, s32, REM_S(s32, x, y))
SIM_S2(rem_u64, u64, u64, u64, REM_U(u64, x, y))
SIM_S2(rem_s64, s64, s64, s64, REM_S(s64, x, y))

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
SIM_H2(min_u16, u32, u32, u32, MIN((u16)x, (u16)y))
SIM_H2(min_s16, u32, u32, u32, (u16)MIN((s16)x, (s16)y))
SIM_H2(min_u32, u32, u32, u32, MIN(x, y))
SIM_H2(min_s32, s32, s32, s32, MIN(x, y))
SIM_H2(min_u64, u64, u64, u64, MIN(x, y))
SIM_H2(min_s64, s64, s64, s64, MIN(x, y))
SIM_H2(max_u16, u32, u32, u32, MAX((u16)x, (u16)y))
SIM_H2(max_s16, u32, u32, u32, (u16)MAX((s16)x, (s16)y))
SIM_H2(max_u32, u32, u32, u32, MAX(x, y))
SIM_H2(max_s32, s32, s32, s32, MAX(x, y))
SIM_H2(max_u64, u64, u64, u64, MAX(x, y))
SIM_H2(max_s64, s64, s64, s64, MAX(x, y))
SIM_H2(min_relu_s32, s32, s32, s32, MAX(MIN(x, y), 0))
SIM_H2(max_relu_s32, s32, s32, s32, MAX(MAX(x, y), 0))

/* two 16-bit values in 32 bits */
#define LO16(x) ((x)&0xffff)
#define X2(F, T, x, y) \
    ((u32)(u16)F((T)(x), (T)(y)) | (u32)(u16)F((T)((x) >> 16), (T)((y) >> 16)) << 16)
#define ADD(x, y) ((x) + (y))
#define MIN_RELU(x, y) MAX(MIN(x, y), 0)
#define MAX_RELU(x, y) MAX(MAX(x, y), 0)
SIM_H2(add_16x2, u32, u32, u32, X2(ADD, u16, x, y))
SIM_H2(min_u16x2, u32, u32, u32, X2(MIN, u16, x, y))
SIM_H2(min_s16x2, u32, u32, u32, X2(MIN, s16, x, y))
SIM_H2(max_u16x2, u32, u32, u32, X2(MAX, u16, x, y))
SIM_H2(max_s16x2, u32, u32, u32, X2(MAX, s16, x, y))
SIM_H2(min_relu_s16x2, u32, u32, u32, X2(MIN_RELU, s16, x, y))
SIM_H2(max_relu_s16x2, u32, u32, u32, X2(MAX_RELU, s16, x, y))

SIM_H3(sad_u16, u32, u32, u32, u32, (u16)(z + ((u16)x > (u16)y ? x - y : y - x)))
SIM_H3(sad_s16, u32, u32, u32, u32, (u16)(z + ((s16)x > (s16)y ? x - y : y - x)))
SIM_H3(sad_u32, u32, u32, u32, u32, z + (x > y ? x - y : y - x))
SIM_H3(sad_s32, u32, u32, u32, u32, z + ((s32)x > (s32)y ? x - y : y - x))
SIM_H3(sad_u64, u64, u64, u64, u64, z + (x > y ? x - y : y - x))
SIM_H3(sad_s64, u64, u64, u64, u64, z + ((s64)x > (s64)y ? x - y : y - x))

/* dp4a, dp2a: names give the types of a, then b */
#define BYTE(T, x, k) ((s32)(T)((x) >> (8 * (k))))
#define HALF(T, x, k) ((s32)(T)((x) >> (16 * (k))))
#define DP4(TA, TB) \
    z + \
            (u32)(BYTE(TA, x, 0) * BYTE(TB, y, 0) + BYTE(TA, x, 1) * BYTE(TB, y, 1) + \
                    BYTE(TA, x, 2) * BYTE(TB, y, 2) + BYTE(TA, x, 3) * BYTE(TB, y, 3))
#define DP2(HA, TB, k) \
    z + (u32)(HALF(HA, x, 0) * BYTE(TB, y, k)) + (u32)(HALF(HA, x, 1) * BYTE(TB, y, (k) + 1))
SIM_H3(dp4a_u32_u32, u32, u32, u32, u32, DP4(u8, u8))
SIM_H3(dp4a_u32_s32, u32, u32, u32, u32, DP4(u8, s8))
SIM_H3(dp4a_s32_u32, u32, u32, u32, u32, DP4(s8, u8))
SIM_H3(dp4a_s32_s32, u32, u32, u32, u32, DP4(s8, s8))
SIM_H3(dp2a_lo_u32_u32, u32, u32, u32, u32, DP2(u16, u8, 0))
SIM_H3(dp2a_lo_u32_s32, u32, u32, u32, u32, DP2(u16, s8, 0))
SIM_H3(dp2a_lo_s32_u32, u32, u32, u32, u32, DP2(s16, u8, 0))
SIM_H3(dp2a_lo_s32_s32, u32, u32, u32, u32, DP2(s16, s8, 0))
SIM_H3(dp2a_hi_u32_u32, u32, u32, u32, u32, DP2(u16, u8, 2))
SIM_H3(dp2a_hi_u32_s32, u32, u32, u32, u32, DP2(u16, s8, 2))
SIM_H3(dp2a_hi_s32_u32, u32, u32, u32, u32, DP2(s16, u8, 2))
SIM_H3(dp2a_hi_s32_s32, u32, u32, u32, u32, DP2(s16, s8, 2))

/* -- carry chain: w->cc has a bit for each lane. SIM_I_SECOND: write it. As on a GPU, a difference
     is the sum with the complement and 1, so the carry of sub is set when there was no borrow:
     nvcc's 128-bit division reads it by addc. */

#define CARRY(NAME, T, WIDE, E) \
    SIM_HANDLER(NAME) { \
        T *d = SIM_AT(T, i->d); \
        const T *a = SIM_AT(T, i->a), *b = SIM_AT(T, i->b), *c = SIM_AT(T, i->c); \
        uint32_t in = w->cc, out = 0; \
        for (int l = 0; l < 32; l++) { \
            const T x = a[l], y = b[l], z = c[l]; \
            const WIDE k = in >> l & 1; \
            const WIDE r = (E); \
            (void)x; \
            (void)y; \
            (void)z; \
            (void)k; \
            out |= (uint32_t)(r >> (8 * sizeof(T)) & 1) << l; \
            d[l] = SIM_ON(m) ? (T)r : d[l]; \
        } \
        if (i->flags & SIM_I_SECOND) w->cc = (w->cc & ~m) | (out & m); \
    }
/* clang-format off */
CARRY(add_cc_32, u32, u64, (u64)x + y)
CARRY(add_cc_64, u64, u128, (u128)x + y)
CARRY(addc_32, u32, u64, (u64)x + y + k)
CARRY(addc_64, u64, u128, (u128)x + y + k)
CARRY(addc_16, u32, u64, (u16)(x + y + k))
CARRY(addc_sat_s32, s32, s64, clamp32((s64)x + y + k))
CARRY(sub_cc_32, u32, u64, (u64)x + (u32)~y + 1)
CARRY(sub_cc_64, u64, u128, (u128)x + (u64)~y + 1)
CARRY(subc_32, u32, u64, (u64)x + (u32)~y + k)
CARRY(subc_64, u64, u128, (u128)x + (u64)~y + k)
CARRY(subc_16, u32, u64, (u16)(x + ~y + k))
CARRY(subc_sat_s32, s32, s64, clamp32((s64)x - y - 1 + k))
CARRY(mad_lo_cc_32, u32, u64, (u64)(x * y) + z)
CARRY(mad_lo_cc_64, u64, u128, (u128)(x * y) + z)
CARRY(mad_hi_cc_u32, u32, u64, ((u64)x * y >> 32) + z)
CARRY(mad_hi_cc_s32, u32, u64, (u64)(u32)((s64)(s32)x * (s32)y >> 32) + z)
CARRY(mad_hi_cc_u64, u64, u128, ((u128)x * y >> 64) + z)
CARRY(mad_hi_cc_s64, u64, u128, (u128)(u64)((s128)(s64)x * (s64)y >> 64) + z)
CARRY(madc_lo_32, u32, u64, (u64)(x * y) + z + k)
CARRY(madc_lo_64, u64, u128, (u128)(x * y) + z + k)
CARRY(madc_lo_16, u32, u64, (u16)(x * y + z + k))
/* as ptxas (13.0) assembles them: the upper 32 bits of the product, without saturation */
CARRY(madc_hi_u16, u32, u64, (u16)(z + k))
CARRY(madc_hi_s16, u32, u64, (u16)(((s32)(s16)x * (s16)y >> 31) + (s32)z + (s32)k))
CARRY(madc_hi_u32, u32, u64, ((u64)x * y >> 32) + z + k)
CARRY(madc_hi_s32, u32, u64, (u64)(u32)((s64)(s32)x * (s32)y >> 32) + z + k)
CARRY(madc_hi_u64, u64, u128, ((u128)x * y >> 64) + z + k)
CARRY(madc_hi_s64, u64, u128, (u128)(u64)((s128)(s64)x * (s64)y >> 64) + z + k)

/* -- bits */

SIM_H2(and_32, u32, u32, u32, x & y)
SIM_H2(and_64, u64, u64, u64, x & y)
SIM_H2(or_32, u32, u32, u32, x | y)
SIM_H2(or_64, u64, u64, u64, x | y)
SIM_H2(xor_32, u32, u32, u32, x ^ y)
SIM_H2(xor_64, u64, u64, u64, x ^ y)
SIM_H1(not_16, u32, u32, (u16)~x)
SIM_H1(not_32, u32, u32, ~x)
SIM_H1(not_64, u64, u64, ~x)
SIM_H1(cnot_16, u32, u32, (u16)x == 0)
SIM_H1(cnot_32, u32, u32, x == 0)
SIM_H1(cnot_64, u64, u64, x == 0)
/* shift counts are unsigned 32-bit and clamp */
SIM_H2(shl_16, u32, u32, u32, y > 15 ? 0 : (u16)(x << (y & 15)))
SIM_H2(shl_32, u32, u32, u32, y > 31 ? 0 : x << (y & 31))
SIM_H2(shl_64, u64, u64, u32, y > 63 ? 0 : x << (y & 63))
SIM_H2(shr_u16, u32, u32, u32, y > 15 ? 0 : (u32)(u16)x >> (y & 15))
SIM_H2(shr_s16, u32, u32, u32, (u16)((s32)(s16)x >> (y > 15 ? 15 : y)))
SIM_H2(shr_u32, u32, u32, u32, y > 31 ? 0 : x >> (y & 31))
SIM_H2(shr_s32, s32, s32, u32, x >> (y > 31 ? 31 : y))
SIM_H2(shr_u64, u64, u64, u32, y > 63 ? 0 : x >> (y & 63))
SIM_H2(shr_s64, s64, s64, u32, x >> (y > 63 ? 63 : y))
#define FUNNEL(x, y) ((u64)(y) << 32 | (x))
SIM_H3(shf_l_wrap, u32, u32, u32, u32, FUNNEL(x, y) << (z & 31) >> 32)
SIM_H3(shf_l_clamp, u32, u32, u32, u32, z > 31 ? x : FUNNEL(x, y) << (z & 31) >> 32)
SIM_H3(shf_r_wrap, u32, u32, u32, u32, FUNNEL(x, y) >> (z & 31))
SIM_H3(shf_r_clamp, u32, u32, u32, u32, z > 31 ? y : FUNNEL(x, y) >> (z & 31))
/* clang-format on */

SIM_HANDLER(lop3_32) {
    u32 *d = SIM_AT(u32, i->d);
    const u32 *a = SIM_AT(u32, i->a), *b = SIM_AT(u32, i->b), *c = SIM_AT(u32, i->c);
    u32 lut[8];
    for (int k = 0; k < 8; k++) lut[k] = i->imm >> k & 1 ? ~0u : 0;
#define MUX(s, on, off) (((s) & (on)) | (~(s) & (off)))
    SIM_LANES {
        const u32 x = a[l], y = b[l], z = c[l];
        u32 r = MUX(x, MUX(y, MUX(z, lut[7], lut[6]), MUX(z, lut[5], lut[4])),
                MUX(y, MUX(z, lut[3], lut[2]), MUX(z, lut[1], lut[0])));
        d[l] = SIM_ON(m) ? r : d[l];
    }
}

SIM_H1(popc_32, u32, u32, __builtin_popcount(x))
SIM_H1(popc_64, u32, u64, __builtin_popcountll(x))
/* without carries */
static inline u128 carryless(u64 x, u64 y) {
    u128 r = 0;
    for (u128 part = x; y; y >>= 1, part <<= 1)
        if (y & 1) r ^= part;
    return r;
}
SIM_S3(clmad_lo, u64, u64, u64, u64, (u64)carryless(x, y) ^ z)
SIM_S3(clmad_hi, u64, u64, u64, u64, (u64)(carryless(x, y) >> 64) ^ z)
SIM_S1(clz_32, u32, u32, x ? __builtin_clz(x) : 32)
SIM_S1(clz_64, u32, u64, x ? __builtin_clzll(x) : 64)
#define TOP32(x) ((x) ? 31 - (u32)__builtin_clz(x) : ~0u)
#define TOP64(x) ((x) ? 63 - (u32)__builtin_clzll(x) : ~0u)
#define MAG(T, x) ((T)(x) < 0 ? ~(x) : (x))
#define SHIFTAMT(top, n) ((top) == ~0u ? ~0u : (n) - (top))
SIM_S1(bfind_u32, u32, u32, TOP32(x))
SIM_S1(bfind_s32, u32, u32, TOP32(MAG(s32, x)))
SIM_S1(bfind_u64, u32, u64, TOP64(x))
SIM_S1(bfind_s64, u32, u64, TOP64(MAG(s64, x)))
SIM_S1(bfind_shiftamt_u32, u32, u32, SHIFTAMT(TOP32(x), 31))
SIM_S1(bfind_shiftamt_s32, u32, u32, SHIFTAMT(TOP32(MAG(s32, x)), 31))
SIM_S1(bfind_shiftamt_u64, u32, u64, SHIFTAMT(TOP64(x), 63))
SIM_S1(bfind_shiftamt_s64, u32, u64, SHIFTAMT(TOP64(MAG(s64, x)), 63))

static inline u32 reverse32(u32 x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
SIM_H1(brev_32, u32, u32, reverse32(x))
SIM_H1(brev_64, u64, u64, (u64)reverse32((u32)x) << 32 | reverse32((u32)(x >> 32)))

static inline u32 find_nth_set(u32 mask, u32 base, s32 offset) {
    if (base > 31) return ~0u;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const s32 step = offset > 0 ? 1 : -1;
    u32 count = offset > 0 ? (u32)offset : 0 - (u32)offset;
    for (s32 p = (s32)base; p >= 0 && p <= 31; p += step)
        if (mask >> p & 1 && --count == 0) return (u32)p;
    return ~0u;
}
SIM_S3(fns_b32, u32, u32, u32, s32, find_nth_set(x, y, z))

/* bfe: a field of `z` bits from bit `y` on; signed: bits beyond the field or the word are its sign.
   Only the low 8 bits of y and z count; with 64-bit operands, where a GPU uses shifts instead of an
   instruction, all bits count. */
static inline u32 bfe_u(u32 x, u32 p, u32 n) {
    p &= 255;
    n &= 255;
    u32 v = p > 31 ? 0 : x >> p;
    return n > 31 ? v : v & ((1u << n) - 1);
}
static inline u32 bfe_s(u32 x, u32 p, u32 n) {
    p &= 255;
    n &= 255;
    if (n == 0) return 0;
    u32 top = p + n - 1 < 31 ? p + n - 1 : 31, sign = x >> top & 1 ? ~0u : 0;
    u32 v = p > 31 ? sign : (u32)((s64)(s32)x >> p);
    return n > 31 ? (p > 31 ? sign : v) : (v & ((1u << n) - 1)) | (sign & ~((1u << n) - 1));
}
static inline u64 bfe_ul(u64 x, u32 p, u32 n) {
    u64 v = p > 63 ? 0 : x >> p;
    return n > 63 ? v : v & ((1ull << n) - 1);
}
static inline u64 bfe_sl(u64 x, u32 p, u32 n) {
    if (n == 0) return 0;
    u32 top = p < 64 && n <= 64 - p ? p + n - 1 : 63;
    u64 sign = x >> top & 1 ? ~0ull : 0;
    u64 v = p > 63 ? sign : (u64)((s64)x >> p);
    return n > 63 ? (p > 63 ? sign : v) : (v & ((1ull << n) - 1)) | (sign & ~((1ull << n) - 1));
}
SIM_H3(bfe_u32, u32, u32, u32, u32, bfe_u(x, y, z))
SIM_H3(bfe_s32, u32, u32, u32, u32, bfe_s(x, y, z))
SIM_H3(bfe_u64, u64, u64, u32, u32, bfe_ul(x, y, z))
SIM_H3(bfe_s64, u64, u64, u32, u32, bfe_sl(x, y, z))

/* bfi d, a, b, position, length: four sources, the last in e */
#define BFI(NAME, T, BITS, MASK) \
    SIM_HANDLER(NAME) { \
        T *d = SIM_AT(T, i->d); \
        const T *a = SIM_AT(T, i->a), *b = SIM_AT(T, i->b); \
        const u32 *c = SIM_AT(u32, i->c), *e = SIM_AT(u32, i->e); \
        SIM_LANES { \
            const u32 p = c[l] & MASK, n = e[l] & MASK; \
            const T ones = n > BITS - 1 ? (T)-1 : ((T)1 << (n & (BITS - 1))) - 1; \
            const T field = p > BITS - 1 ? 0 : ones << (p & (BITS - 1)); \
            const T r = (b[l] & ~field) | ((p > BITS - 1 ? 0 : a[l] << (p & (BITS - 1))) & field); \
            d[l] = SIM_ON(m) ? r : d[l]; \
        } \
    }
BFI(bfi_32, u32, 32, 255)
BFI(bfi_64, u64, 64, ~0u)

static inline u32 bmsk(u32 p, u32 n, bool wrap) {
    if (wrap) {
        p &= 31;
        n &= 31;
    }
    u32 ones = n > 31 ? ~0u : (1u << n) - 1;
    return p > 31 ? 0 : ones << p;
}
SIM_H2(bmsk_clamp, u32, u32, u32, bmsk(x, y, false))
SIM_H2(bmsk_wrap, u32, u32, u32, bmsk(x, y, true))
static inline u32 szext(u32 x, u32 n, bool wrap, bool sign) {
    if (wrap) n &= 31;
    if (n > 31) return x;
    if (n == 0) return 0;
    u32 v = x & ((1u << n) - 1);
    return sign && v >> (n - 1) ? v | ~((1u << n) - 1) : v;
}
SIM_H2(szext_clamp_u32, u32, u32, u32, szext(x, y, false, false))
SIM_H2(szext_clamp_s32, u32, u32, u32, szext(x, y, false, true))
SIM_H2(szext_wrap_u32, u32, u32, u32, szext(x, y, true, false))
SIM_H2(szext_wrap_s32, u32, u32, u32, szext(x, y, true, true))

static inline u32 permute(u32 x, u32 y, u32 selector) {
    u64 bytes = FUNNEL(x, y);
    u32 r = 0;
    for (int k = 0; k < 4; k++) {
        u32 s = selector >> (4 * k), v = (u32)(bytes >> (8 * (s & 7))) & 255;
        if (s & 8) v = v & 128 ? 255 : 0;
        r |= v << (8 * k);
    }
    return r;
}
/* the modes as selectors of the default mode, by the two low bits of c */
static const u32 prmt_modes[6][4] = {
    { 0x3210, 0x4321, 0x5432, 0x6543 },
    { 0x5670, 0x6701, 0x7012, 0x0123 },
    { 0x0000, 0x1111, 0x2222, 0x3333 },
    { 0x3210, 0x3211, 0x3222, 0x3333 },
    { 0x0000, 0x1110, 0x2210, 0x3210 },
    { 0x1010, 0x3232, 0x1010, 0x3232 },
};
/* clang-format off */
SIM_H3(prmt, u32, u32, u32, u32, permute(x, y, z))
SIM_H3(prmt_f4e, u32, u32, u32, u32, permute(x, y, prmt_modes[0][z & 3]))
SIM_H3(prmt_b4e, u32, u32, u32, u32, permute(x, y, prmt_modes[1][z & 3]))
SIM_H3(prmt_rc8, u32, u32, u32, u32, permute(x, y, prmt_modes[2][z & 3]))
SIM_H3(prmt_ecl, u32, u32, u32, u32, permute(x, y, prmt_modes[3][z & 3]))
SIM_H3(prmt_ecr, u32, u32, u32, u32, permute(x, y, prmt_modes[4][z & 3]))
SIM_H3(prmt_rc16, u32, u32, u32, u32, permute(x, y, prmt_modes[5][z & 3]))

/* -- moves: copies, packing */

SIM_H1(mov_32, u32, u32, x)
SIM_H1(mov_64, u64, u64, x)
SIM_H2(pack_64, u64, u32, u32, (u64)y << 32 | x)
SIM_H2(pack_32, u32, u32, u32, (x & 0xffff) | y << 16)
SIM_H2(pack_16, u32, u32, u32, (x & 0xff) | (y & 0xff) << 8)
SIM_H1(high_64, u32, u64, x >> 32)
SIM_H1(high_32, u32, u32, x >> 16)

/* -- predicates: masks */

#define PRED(NAME, E) SIM_HANDLER(NAME) { \
    const uint32_t x = *SIM_AT(u32, i->a), y = *SIM_AT(u32, i->b); \
    uint32_t *d = SIM_AT(uint32_t, i->d); \
    (void)x; \
    (void)y; \
    *d = (*d & ~m) | ((E) & m); \
    }
PRED(and_pred, x & y)
PRED(or_pred, x | y)
PRED(xor_pred, x ^ y)
PRED(not_pred, ~x)
PRED(mov_pred, x)
/* clang-format on */

#define SELP(NAME, T) \
    SIM_HANDLER(NAME) { \
        T *d = SIM_AT(T, i->d); \
        const T *a = SIM_AT(T, i->a), *b = SIM_AT(T, i->b); \
        const uint32_t p = *SIM_AT(uint32_t, i->c); \
        if (m == ~0u) \
            SIM_LANES \
                d[l] = SIM_ON(p) ? a[l] : b[l]; \
        else \
            SIM_LANES { \
                const T r = SIM_ON(p) ? a[l] : b[l]; \
                d[l] = SIM_ON(m) ? r : d[l]; \
            } \
    }
SELP(selp_32, u32)
SELP(selp_64, u64)
SIM_H3(slct_32_s32, u32, u32, u32, s32, z >= 0 ? x : y)
SIM_H3(slct_64_s32, u64, u64, u64, s32, z >= 0 ? x : y)
SIM_H3(slct_32_f32, u32, u32, u32, f32, z >= 0 ? x : y)
SIM_H3(slct_64_f32, u64, u64, u64, f32, z >= 0 ? x : y)
/* .ftz: a negative subnormal is -0, which is not below 0 */
SIM_H3(slct_32_ftz_f32, u32, u32, u32, f32, z > -0x1p-126f ? x : y)
SIM_H3(slct_64_ftz_f32, u64, u64, u64, f32, z > -0x1p-126f ? x : y)

#define OP SIM_OP
#define P(n, t, run) OP(n, t, PLAIN, run)
/* one handler for each size; one for each type; those of 32 and 64 bits; those of 16 and 32 bits */
#define SIZES(n) P(n, U16, n##_16), P(n, S16, n##_16), LONG_SIZES(n, n)
#define LONG_SIZES(n, h) P(n, U32, h##_32), P(n, S32, h##_32), P(n, U64, h##_64), P(n, S64, h##_64)
#define TYPES(n) P(n, U16, n##_u16), P(n, S16, n##_s16), LONG_TYPES(n, n)
#define LONG_TYPES(n, h) \
    P(n, U32, h##_u32), P(n, S32, h##_s32), P(n, U64, h##_u64), P(n, S64, h##_s64)
#define SHORT_TYPES(n) \
    P(n, U16, n##_u16), P(n, S16, n##_s16), P(n, U32, n##_u32), P(n, S32, n##_s32)
#define WORDS(n) P(n, U32, n##_u32), P(n, S32, n##_s32)
#define WORD(n) P(n, U32, n)
#define BITS(n) P(n, U32, n##_32), P(n, U64, n##_64)
#define LOGIC(n) P(n, PRED, n##_pred), P(n, U16, n##_32), BITS(n)
#define DOT(n) \
    P(n##_u32, U32, n##_u32_u32), P(n##_u32, S32, n##_u32_s32), P(n##_s32, U32, n##_s32_u32), \
            P(n##_s32, S32, n##_s32_s32)
#define SLCT(t, n) \
    P(slct_##t, S32, slct_##n##_s32), P(slct_##t, F32, slct_##n##_f32), \
            OP(slct_##t, F32, FTZ, slct_##n##_ftz_f32)
const struct sim_operation SIM_ISA(sim_alu_table)[] = { SIZES(add), SIZES(sub), SIZES(mul_lo),
    SIZES(mad_lo), SIZES(neg), SIZES(abs), TYPES(mul_hi), TYPES(mad_hi), SHORT_TYPES(mul_wide),
    SHORT_TYPES(mad_wide), WORDS(mul24_lo), WORDS(mul24_hi), WORDS(mad24_lo), WORDS(mad24_hi),
    OP(add, S32, FLAGS, add_sat_s32), OP(sub, S32, FLAGS, sub_sat_s32),
    OP(mad_hi, S32, FLAGS, mad_hi_sat_s32), OP(mad24_hi, S32, FLAGS, mad24_hi_sat_s32), TYPES(div),
    TYPES(rem), TYPES(min), TYPES(max), OP(min, S32, FLAGS, min_relu_s32),
    OP(max, S32, FLAGS, max_relu_s32), P(add_u16x2, U32, add_16x2), P(add_s16x2, U32, add_16x2),
    WORD(min_u16x2), WORD(min_s16x2), WORD(max_u16x2), WORD(max_s16x2),
    OP(min_s16x2, U32, FLAGS, min_relu_s16x2), OP(max_s16x2, U32, FLAGS, max_relu_s16x2),
    TYPES(sad), DOT(dp4a), DOT(dp2a_lo), DOT(dp2a_hi),
    /* .cc, the flag that the carry is written, is also part of the name */
    LONG_SIZES(add_cc, add_cc), LONG_SIZES(sub_cc, sub_cc), LONG_SIZES(mad_lo_cc, mad_lo_cc),
    LONG_TYPES(mad_hi_cc, mad_hi_cc), LONG_SIZES(addc, addc), LONG_SIZES(addc_cc, addc),
    LONG_SIZES(subc, subc), LONG_SIZES(subc_cc, subc), LONG_SIZES(madc_lo, madc_lo),
    LONG_SIZES(madc_lo_cc, madc_lo), LONG_TYPES(madc_hi, madc_hi), LONG_TYPES(madc_hi_cc, madc_hi),
    P(addc, U16, addc_16), P(addc, S16, addc_16), OP(addc, S32, FLAGS, addc_sat_s32),
    P(subc, U16, subc_16), P(subc, S16, subc_16), OP(subc, S32, FLAGS, subc_sat_s32),
    P(madc_lo, U16, madc_lo_16), P(madc_lo, S16, madc_lo_16), P(madc_hi, U16, madc_hi_u16),
    P(madc_hi, S16, madc_hi_s16), OP(madc_hi, S32, FLAGS, madc_hi_s32), LOGIC(and), LOGIC(or),
    LOGIC(xor), P(not, PRED, not_pred), SIZES(not ), SIZES(cnot), SIZES(shl), TYPES(shr),
    WORD(shf_l_wrap), WORD(shf_l_clamp), WORD(shf_r_wrap), WORD(shf_r_clamp), P(lop3, U32, lop3_32),
    BITS(popc), P(clmad_lo, U64, clmad_lo), P(clmad_lo, S64, clmad_lo), P(clmad_hi, U64, clmad_hi),
    P(clmad_hi, S64, clmad_hi), BITS(clz), LONG_TYPES(bfind, bfind),
    LONG_TYPES(bfind_shiftamt, bfind_shiftamt), BITS(brev), P(fns, U32, fns_b32),
    LONG_TYPES(bfe, bfe), BITS(bfi), WORD(bmsk_clamp), WORD(bmsk_wrap), WORDS(szext_clamp),
    WORDS(szext_wrap), WORD(prmt), WORD(prmt_f4e), WORD(prmt_b4e), WORD(prmt_rc8), WORD(prmt_ecl),
    WORD(prmt_ecr), WORD(prmt_rc16), P(mov, PRED, mov_pred), BITS(mov), P(pack, U16, pack_16),
    BITS(pack), BITS(high), P(selp, U16, selp_32), P(selp, S16, selp_32), LONG_SIZES(selp, selp),
    P(selp, F32, selp_32), P(selp, F64, selp_64), SLCT(u16, 32), SLCT(s16, 32), SLCT(u32, 32),
    SLCT(s32, 32), SLCT(f32, 32), SLCT(u64, 64), SLCT(s64, 64), SLCT(f64, 64), SIM_END };
#undef OP
#undef P
#undef BITS
