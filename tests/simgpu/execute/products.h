/* products.h - one element of D of an mma or wmma: an element of C and K products.

   The rule of f16, bf16 and tf32, of all shapes, dense and sparse: one sum of C and all products of
   the instruction, in fixed point.
   1. The products are exact. The exponent of one is the sum of its factors' exponents, although its
      significand may be 2 or more; a subnormal factor has the exponent of the smallest normal
      number.
   2. The largest exponent of a term that is not 0 decides where the fixed point lies: SIM_SUM_BITS
      bits below that power of two. Each term is truncated to there, toward 0.
   3. The sum of those is exact. It is truncated to an f32, toward 0, or rounded to an f16, to
      nearest even. A magnitude above the largest f32 becomes an infinity. Subnormal numbers are
      kept. A result of 0 is +0.
   4. With a NaN, 0 * infinity or infinities of both signs the result is 0x7fffffff, or 0x7fff of
      f16; with infinities of one sign it is that one.

   What ptxas (13.0) makes of the other forms, for which sm_90 has no single instruction:
   - e4m3, e5m2: conversion to f16. A sum that begins at 0 has the elements k with k % 4 < 2, a
     second one, which begins with the result of the first, has the others. C is added at last,
     as add.f32 and add.f16 do. Of sparse forms k counts stored elements.
   - wmma of tf32: a sum of C and 4 products, and one of that and 4 more.
   - wmma of f16 with an f16 C and an f32 D: the sum of f32 begins with C; with an f32 C and an f16
     D: the sum of f32, converted.
   - m8n8k4 of f16: no tensor core. Steps of f32, each of which rounds to nearest: two products by
     mul and fma, the other two by another mul and fma (f16 D) or two more fma (f32 D), and one or
     two add to C.
   - f64: fma in the order of k from C on, each of which rounds.
   - integers, b1: exact; .satfinite acts on the sum of C and all products.

   Measured on an H200: all results of the 315 forms in tests/device/tensors, 46,016,000, are bit
   for bit those of this file. They also rule out: a fixed point one bit lower or higher, sums of
   fewer products, rounding down, exponents of normalised products and factors, and exponents of
   products that are 0. Measured one by one: a sum of terms that are all -0 is +0, and a C of 0 has
   no exponent. */
#ifndef SIM_PRODUCTS_H
#define SIM_PRODUCTS_H

#include "../base/floats.h"
#include "../base/matrix.h"

enum {
    SIM_SUM_BITS = 25,
    SIM_SUM_MOST = 16 /* products of one sum */
};

/* ---- sums in fixed point */

/* a factor's bits: of its exponent, of its fraction, and those below it, which are ignored */
struct sim_factor {
    int exponent, fraction, ignored;
};

/* sum * 2^unit, toward 0 */
static inline u32 sim_truncate(s64 sum, int unit) {
    const u32 sign = sum < 0 ? 0x80000000 : 0;
    const u64 magnitude = (u64)(sum < 0 ? -sum : sum);
    if (!magnitude) return 0;
    int drop = 40 - __builtin_clzll(magnitude); /* keeps 24 bits */
    if (drop + unit < -149) drop = -149 - unit; /* subnormal: fewer */
    if (drop + unit > 104) return sign | 0x7f800000;
    const u64 kept = drop > 63 ? 0 : drop < 0 ? magnitude << -drop : magnitude >> drop;
    return kept ? sign | ((u32)kept + ((u32)(drop + unit + 149) << 23)) : 0;
}

/* sum * 2^unit, which is a double, to nearest even */
static inline u32 sim_nearest_half(s64 sum, int unit) {
    const u32 r = half_round((f64)sum * double_of((u64)(1023 + unit) << 52), 0);
    return r == 0x8000 ? 0 : r;
}

static inline f32 sim_value(struct sim_factor f, u32 x) {
    return f.exponent == 5 ? half_value(x) : float_of(x >> f.ignored << (23 - f.fraction));
}

/* of c and the products, if some of them are infinite or NaN */
static inline u32 sim_sum_special(
        struct sim_factor f, const u32 *a, const u32 *b, unsigned n, f32 c) {
    f32 sum = c - c == 0 ? 0 : c;
    for (unsigned k = 0; k < n; k++) {
        const f32 x = sim_value(f, a[k]), y = sim_value(f, b[k]);
        if (x - x != 0 || y - y != 0) sum += x * y;
    }
    return canon32(sum);
}

/* c + products of n factors; the result is an f32 or f16 */
static inline __attribute__((always_inline)) u32 sim_sum(
        struct sim_factor f, const u32 *a, const u32 *b, unsigned n, f32 c, bool to_half) {
    const s32 bias = (1 << (f.exponent - 1)) - 1, hidden = 1 << f.fraction,
              magnitude = (1 << (f.exponent + f.fraction)) - 1, infinity = magnitude - hidden + 1,
              none = -1000;
    u32 room[2][SIM_SUM_MOST];
    s32 exponent[SIM_SUM_MOST], product[SIM_SUM_MOST];
    if (n < SIM_SUM_MOST) { /* zeros follow: the loops below have a fixed length */
        memset(room, 0, sizeof room);
        memcpy(room[0], a, n * sizeof *a);
        memcpy(room[1], b, n * sizeof *b);
        a = room[0];
        b = room[1];
    }
    const s32 bits = (s32)(bits32(c) & 0x7fffffff), normal = bits >> 23,
              c_exponent = bits ? normal + !normal - 127 : none;
    s32 largest = c_exponent, special = bits >= 0x7f800000;
    for (unsigned k = 0; k < SIM_SUM_MOST; k++) {
        const s32 p = (s32)(a[k] >> f.ignored) & magnitude,
                  q = (s32)(b[k] >> f.ignored) & magnitude;
        const s32 pe = p >> f.fraction, qe = q >> f.fraction;
        const s32 pm = (p & (hidden - 1)) | (pe ? hidden : 0);
        const s32 qm = (q & (hidden - 1)) | (qe ? hidden : 0);
        const s32 e = (pe ? pe : 1) + (qe ? qe : 1) - 2 * bias;
        special |= (p >= infinity) | (q >= infinity);
        product[k] = pm * qm;
        exponent[k] = product[k] ? e : none;
        largest = exponent[k] > largest ? exponent[k] : largest;
    }
    if (special) {
        const u32 r = sim_sum_special(f, a, b, n, c);
        return to_half ? half_of(float_of(r)) : r;
    }
    if (largest == none) return 0;
    s32 sum = 0; /* fewer than 32 bits */
    for (unsigned k = 0; k < SIM_SUM_MOST; k++) {
        const s32 below = largest - exponent[k] < 31 ? largest - exponent[k] : 31;
        const s32 term = product[k] << (SIM_SUM_BITS - 2 * f.fraction) >> below;
        sum += (a[k] ^ b[k]) >> f.ignored & (u32)(magnitude + 1) ? -term : term;
    }
    const s32 below = largest - c_exponent < 31 ? largest - c_exponent : 31;
    const s32 significand = (bits & 0x7fffff) | (normal ? 0x800000 : 0);
    const s64 term = significand << (SIM_SUM_BITS - 23) >> below;
    const s64 total = bits32(c) >> 31 ? sum - term : sum + term;
    return to_half ? sim_nearest_half(total, largest - SIM_SUM_BITS)
                   : sim_truncate(total, largest - SIM_SUM_BITS);
}

static inline u32 sim_sum_f16(const u32 *a, const u32 *b, unsigned n, f32 c, bool to_half) {
    return sim_sum((struct sim_factor){ 5, 10, 0 }, a, b, n, c, to_half);
}
static inline u32 sim_sum_bf16(const u32 *a, const u32 *b, unsigned n, u32 c) {
    return sim_sum((struct sim_factor){ 8, 7, 0 }, a, b, n, float_of(c), false);
}
static inline u32 sim_sum_tf32(const u32 *a, const u32 *b, unsigned n, u32 c) {
    return sim_sum((struct sim_factor){ 8, 10, 13 }, a, b, n, float_of(c), false);
}

/* ---- forms */

static inline u32 sim_products_f16(
        const struct sim_products *how, const u32 *a, const u32 *b, unsigned n, u32 c) {
    const f32 begin = how->c == SIM_E_F16 ? half_value(c) : float_of(c);
    if (how->c == SIM_E_F16 || how->d == SIM_E_F32)
        return sim_sum_f16(a, b, n, begin, how->d == SIM_E_F16);
    return half_of(float_of(sim_sum_f16(a, b, n, begin, false)));
}

/* m8n8k4 */
static inline u32 sim_products_four(
        const struct sim_products *how, const u32 *a, const u32 *b, u32 c) {
    f32 x[4], y[4];
    for (unsigned k = 0; k < 4; k++) {
        x[k] = half_value(a[k]);
        y[k] = half_value(b[k]);
    }
    const f32 begin = how->c == SIM_E_F16 ? half_value(c) : float_of(c);
    const f32 first = fmaf(x[1], y[1], x[0] * y[0]);
    if (how->d == SIM_E_F16) return half_of(begin + first + fmaf(x[3], y[3], x[2] * y[2]));
    return canon32(begin + fmaf(x[3], y[3], fmaf(x[2], y[2], first)));
}

/* exact */
static inline u32 sim_half_of_fp8(enum sim_element type, u32 x) {
    static const u16 subnormal[8] = { 0, 0x1800, 0x1c00, 0x1e00, 0x2000, 0x2100, 0x2200, 0x2300 };
    const u32 sign = x << 8 & 0x8000, magnitude = x & 0x7f;
    if (type == SIM_E_E5M2) return x << 8;
    if (magnitude == 0x7f) return 0x7fff;
    return sign | (magnitude < 8 ? subnormal[magnitude] : (magnitude << 7) + 0x2000);
}

static inline u32 sim_products_fp8(
        const struct sim_products *how, const u32 *a, const u32 *b, unsigned n, u32 c) {
    u32 x[2][SIM_SUM_MOST], y[2][SIM_SUM_MOST];
    for (unsigned k = 0; k < n; k++) {
        const unsigned sum = k / 2 % 2, at = k / 4 * 2 + k % 2;
        x[sum][at] = sim_half_of_fp8(how->a, a[k]);
        y[sum][at] = sim_half_of_fp8(how->b, b[k]);
    }
    if (how->c == SIM_E_F16) {
        const u32 first = sim_sum_f16(x[0], y[0], n / 2, 0, true);
        const u32 both = sim_sum_f16(x[1], y[1], n / 2, half_value(first), true);
        return half_of(half_value(both) + half_value(c));
    }
    const u32 first = sim_sum_f16(x[0], y[0], n / 2, 0, false);
    const u32 both = sim_sum_f16(x[1], y[1], n / 2, float_of(first), false);
    return canon32(float_of(both) + float_of(c));
}

static inline s32 sim_integer(enum sim_element type, u32 x) {
    return type == SIM_E_S8 ? (s8)x : type == SIM_E_S4 ? (s32)(x << 28) >> 28 : (s32)x;
}

static inline u32 sim_products_integer(
        const struct sim_products *how, const u32 *a, const u32 *b, unsigned n, u32 c) {
    s32 sum = 0;
    for (unsigned k = 0; k < n; k++) sum += sim_integer(how->a, a[k]) * sim_integer(how->b, b[k]);
    const s64 exact = (s64)(s32)c + sum;
    if (how->satfinite && exact != (s32)exact) return exact < 0 ? 0x80000000 : 0x7fffffff;
    return (u32)exact;
}

static inline u32 sim_products_bit(
        const struct sim_products *how, const u32 *a, const u32 *b, unsigned n, u32 c) {
    for (unsigned k = 0; k < n / 32; k++)
        c += (u32)__builtin_popcount(how->xor ? a[k] ^ b[k] : a[k] & b[k]);
    return c;
}

/* a, b: the elements in the order of k, one in the low bits of each word; of a sparse form k / 2 of
   each, b's being those that the metadata selects. Of b1: 32 elements a word, the first in bit 0.
   c, and the result: the bits of an element of type c, and d. */
static inline u32 sim_products(const struct sim_products *how, const u32 *a, const u32 *b, u32 c) {
    const unsigned n = how->sparse ? how->k / 2 : how->k;
    switch (how->a) {
    case SIM_E_F16:
        if (how->k == 4) return sim_products_four(how, a, b, c);
        return sim_products_f16(how, a, b, n, c);
    case SIM_E_BF16: return sim_sum_bf16(a, b, n, c);
    case SIM_E_TF32:
        if (!how->wmma) return sim_sum_tf32(a, b, n, c);
        return sim_sum_tf32(a + 4, b + 4, 4, sim_sum_tf32(a, b, 4, c));
    case SIM_E_E4M3:
    case SIM_E_E5M2: return sim_products_fp8(how, a, b, n, c);
    case SIM_E_B1: return sim_products_bit(how, a, b, n, c);
    default: return sim_products_integer(how, a, b, n, c);
    }
}

/* of f64 */
static inline u64 sim_products64(
        const struct sim_products *how, const u64 *a, const u64 *b, u64 c) {
    f64 sum = double_of(c);
    if (how->round) fesetround(sim_fe_round[how->round]);
    __asm__ volatile("" : "+m"(sum) : : "memory");
    for (unsigned k = 0; k < how->k; k++) {
        const f64 x = double_of(a[k]), y = double_of(b[k]);
        sum = double_of(canon64(fma(x, y, sum), x, y, sum));
    }
    __asm__ volatile("" : "+m"(sum) : : "memory");
    if (how->round) fesetround(FE_TONEAREST);
    return bits64(sum);
}

#endif
