/* sample.h - the arithmetic of textures that a GPU decides: each function says what is documented,
   and what is a guess until an H200 has been measured. texture.c calls them; nothing else rounds.
 */
#ifndef SIM_SAMPLE_H
#define SIM_SAMPLE_H

#include "../base/floats.h"

enum { SIM_FRACTION_BITS = 8, SIM_FRACTION_ONE = 1 << SIM_FRACTION_BITS };

/* A coordinate in texels, from 0 at the left edge of the first texel. A normalized one counts 2^21st
   parts of the size: what is less is cut off, towards minus infinity. */
static inline f64 sim_texels_of(f32 x, bool normalized, uint32_t size) {
    return normalized ? floor((f64)x * 0x1p21) * 0x1p-21 * size : (f64)x;
}

/* The same number of texels within 2^31 of 0, so that it fits into an integer: a multiple of twice
   the size is taken away if the texture repeats.
   To be measured: NaN, here 0; infinity in a texture that repeats, here 0. */
static inline f64 sim_near(f64 t, bool repeats, uint32_t size) {
    const f64 most = 0x1p31;
    if (t != t) return 0;
    if (repeats && !(fabs(t) < most)) {
        if (t - t != 0) return 0;
        t = fmod(t, 2.0 * size);
    }
    return t < -most ? -most : t > most ? most : t;
}

/* The texel that point sampling takes. Documented: floor(x).
   To be measured: whether x is first rounded to a fixed-point number, as for linear filtering. */
static inline int64_t sim_point(f64 t) { return (int64_t)floor(t); }

/* Linear filtering: the first texel and the weight of the second, of 256.
   Documented: xB = x - 0.5, i = floor(xB), the fraction has 8 bits.
   To be measured: its rounding, here to the nearest, halves up; it may carry into i. */
static inline int64_t sim_linear(f64 t, unsigned *fraction) {
    const int64_t fixed = (int64_t)floor(t * SIM_FRACTION_ONE + 0.5) - SIM_FRACTION_ONE / 2;
    *fraction = (unsigned)(fixed & (SIM_FRACTION_ONE - 1));
    return fixed >> SIM_FRACTION_BITS;
}

/* The weight of one texel of 2, 4 or 8: a product of fractions and of their complements, exact.
   Documented: (1 - a)(1 - b) T[i,j] + a (1 - b) T[i+1,j] + ...
   To be measured: whether products of weights are rounded, to 8 bits for instance. */
static inline f64 sim_weight(unsigned a, bool second) {
    return (second ? a : SIM_FRACTION_ONE - a) * (1.0 / SIM_FRACTION_ONE);
}

/* The weights of 4 texels, of 256: [y][x]. Their sum is 256. */
static inline void sim_weights(unsigned a, unsigned b, int w[4]) {
    const int both = (int)(a * b + 128) >> 8;
    w[0] = (int)(SIM_FRACTION_ONE - a - b) + both;
    w[1] = (int)a - both;
    w[2] = (int)b - both;
    w[3] = both;
}

/* A sum of integers times 2^exponent, rounded to `bits` bits, ties away from 0; what is below
   2^lowest has fewer. */
static inline f32 sim_rounded(int64_t sum, int exponent, int bits, int lowest) {
    uint64_t m = sum < 0 ? -(uint64_t)sum : (uint64_t)sum;
    int drop = m >> bits ? 64 - bits - __builtin_clzll(m) : 0;
    if (exponent + drop < lowest) drop = lowest - exponent;
    if (drop > 0) m = drop > 63 ? 0 : (m + ((uint64_t)1 << (drop - 1))) >> drop;
    else drop = 0;
    const f32 f = (f32)ldexp((f64)m, exponent + drop);
    return sum < 0 ? -f : f;
}

/* The weighted sum of floats, .f16 or .f32: aligned with the largest one, each keeps 4
   bits more than its format has; what is less is cut off, towards 0. The sum of the products is exact, and then rounded.
   Subnormal .f32 are 0. */
static inline u32 sim_sum_floats(const f32 *v, const int *w, unsigned n, bool half) {
    const int kept = half ? 14 : 27;
    int most = -126, e;
    int64_t sum = 0;
    unsigned infinite = 0;
    for (unsigned k = 0; k < n; k++) {
        if (v[k] != v[k]) return half ? 0x7fffe000 : 0x7fffffff;
        if (v[k] - v[k] != 0) infinite |= v[k] < 0 ? 2 : 1;
        frexp((f64)v[k], &e);
        if (w[k] && v[k] != 0 && e - 1 > most) most = e - 1;
    }
    if (infinite == 3) return half ? 0x7fffe000 : 0x7fffffff;
    if (infinite) return infinite == 1 ? 0x7f800000 : 0xff800000;
    for (unsigned k = 0; k < n; k++)
        if (w[k] && (half || fabsf(v[k]) >= 0x1p-126f))
            sum += (int64_t)ldexp((f64)v[k], kept - most) * w[k];
    const f32 r = sim_rounded(
            sum, most - kept - SIM_FRACTION_BITS, half ? 11 : 24, half ? -24 : -149);
    if (half && fabsf(r) >= 65536) return r < 0 ? 0xff800000 : 0x7f800000;
    return bits32(!half && fabsf(r) < 0x1p-126f ? copysignf(0, r) : r);
}

/* The weighted sum of normalized integers: each is expanded to 16 bits, and so is the result, halves
   up. Those of 8 bits with a sign have 4 bits more; with them, the result differs from an H200's by
   1 of 32767 in 1 of 100 sums. */
static inline u32 sim_sum_integers(const f64 *v, const int *w, unsigned n, unsigned most) {
    const bool is_signed = most == 127 || most == 32767;
    const int64_t all = is_signed ? 32767 : 65535;
    int64_t sum = 0;
    for (unsigned k = 0; k < n; k++) {
        const f64 wide = floor(v[k] * (f64)all * 16 / most);
        sum += (int64_t)wide * w[k];
    }
    sum = (sum + 8 * SIM_FRACTION_ONE) >> (4 + SIM_FRACTION_BITS);
    return bits32(sum < -all ? -1.0f : (f32)sum / (f32)all);
}

/* A component of a texel that is read alone, as a number: v / 255, v / 127, ...
   Documented: the range is mapped to [0, 1] or [-1, 1]; both -128 and -127 become -1.
   To be measured: the rounding, here to nearest even. */
static inline f32 sim_normalized(f64 v, f64 scale) {
    return (f32)(v / scale < -1 ? -1.0 : v / scale);
}

/* A border's color as a component of a texel: an integer, the nearest one; or .f16, cut off. */
static inline u32 sim_integer_of(f32 color, bool is_signed, unsigned most) {
    const f64 lowest = is_signed ? -1 : 0;
    const f64 v = color != color ? 0 : color > 1 ? 1 : color < lowest ? lowest : (f64)color;
    return (u32)(s32)floor(v * most + 0.5);
}
static inline u32 sim_half_below(f32 color) {
    const u32 bits = bits32(color) & 0x7fffffffu, sign = bits32(color) >> 16 & 0x8000;
    if (bits > 0x7f800000u) return sign | 0x7e00;
    if (bits >= 0x47800000u) return sign | (bits == 0x7f800000u ? 0x7c00 : 0x7bff);
    if (bits < 0x38800000u) return sign | (u32)floorf(float_of(bits) * 0x1p24f);
    return sign | (bits - 0x38000000u) >> 13;
}

/* Red, green and blue of sRGB texels, 0 to 255, as linear numbers.
   Documented: the transfer function. To be measured: its precision, here that of .f32. */
static inline f32 sim_linear_of_srgb(unsigned v) {
    const f64 c = v / 255.0;
    return (f32)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

/* The level of detail, after bias and clamps: the level, and the weight of the next one, of 256.
   Documented: point takes the nearest level.
   To be measured: the fraction's rounding, here to nearest; halves of point, here up. */
static inline unsigned sim_level_of(f32 lod, bool linear, unsigned levels, unsigned *fraction) {
    const f32 last = (f32)(levels - 1);
    *fraction = 0;
    if (!(lod > 0)) return 0;
    if (lod >= last) return levels - 1;
    if (!linear) return (unsigned)floorf(lod + 0.5f);
    const unsigned fixed = (unsigned)floorf(lod * SIM_FRACTION_ONE + 0.5f);
    *fraction = fixed & (SIM_FRACTION_ONE - 1);
    return fixed >> SIM_FRACTION_BITS;
}

/* Between two levels. To be measured: the rounding, here once. */
static inline u32 sim_between(u32 near, u32 far, unsigned fraction) {
    const f64 b = sim_weight(fraction, true), a = sim_weight(fraction, false);
    return canon32((f32)(a * float_of(near) + b * float_of(far)));
}

/* The level of detail of derivatives in texels, squared lengths of both; and how many samples along
   the longer one an anisotropy of `most` takes.
   Documented: log2 of the longer one.
   To be measured: the precision, the number of samples and their places (texture.c). */
static inline f32 sim_lod_of(f64 xx, f64 yy, unsigned most, unsigned *samples) {
    const f64 longer = sqrt(xx > yy ? xx : yy), shorter = sqrt(xx > yy ? yy : xx);
    *samples = 1;
    if (!(longer > 0)) return -INFINITY;
    if (most > 1 && longer > shorter) {
        const f64 ratio = shorter > 0 ? ceil(longer / shorter) : most;
        *samples = ratio < most ? (unsigned)ratio : most;
    }
    return (f32)log2(longer / *samples);
}

/* The face of a cube map, and where on it, from 0 to 1.
   Documented: the table of faces. To be measured: which face two equal coordinates select, here
   the first of x, y, z; the precision of the division. */
static inline unsigned sim_face(const f32 d[3], f32 *s, f32 *t) {
    const f32 x = d[0], y = d[1], z = d[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    f32 a, b, m;
    unsigned face;
    if (ax >= ay && ax >= az) {
        face = signbit(x) ? 1 : 0;
        a = face ? z : -z;
        b = -y;
        m = ax;
    } else if (ay >= az) {
        face = signbit(y) ? 3 : 2;
        a = x;
        b = face == 3 ? -z : z;
        m = ay;
    } else {
        face = signbit(z) ? 5 : 4;
        a = face == 5 ? -x : x;
        b = -y;
        m = az;
    }
    *s = (f32)(((f64)a / m + 1) / 2);
    *t = (f32)(((f64)b / m + 1) / 2);
    return face;
}

/* An offset of texels. Documented: from -8 to 7. To be measured: others, here the low 4 bits. */
static inline int sim_offset(u32 v) { return (int)((v & 15) ^ 8) - 8; }

/* To be measured: which comparison passes. */
static inline bool sim_passes(f32 reference, f32 texel) { return reference <= texel; }

#endif
