/* sample.h - the arithmetic of textures and surfaces that the documents leave open: an H200's,
   found with the programs of tests/device/texels. Nothing else rounds.
 */
#ifndef SIM_SAMPLE_H
#define SIM_SAMPLE_H

#include "../base/floats.h"

enum { SIM_FRACTION_BITS = 8, SIM_FRACTION_ONE = 1 << SIM_FRACTION_BITS };

/* A coordinate in texels, from 0 at the left edge of the first texel. A normalized one counts
   2^21st parts of the size: what is less is cut off, towards minus infinity. Subnormal ones are 0.
 */
static inline f64 sim_texels_of(f64 x, bool normalized, uint32_t size) {
    if (fabs(x) < 0x1p-126) return 0;
    return normalized ? floor(x * 0x1p21) * 0x1p-21 * size : x;
}

/* The same number of texels within 2^31 of 0, so that it fits into an integer: a multiple of twice
   the size is taken away if the texture repeats. NaN is 0; infinities are 0 in a texture that
   repeats. */
static inline f64 sim_near(f64 t, bool repeats, uint32_t size) {
    const f64 most = 0x1p31;
    if (t != t) return 0;
    if (repeats && !(fabs(t) < most)) {
        if (t - t != 0) return 0;
        t = fmod(t, 2.0 * size);
    }
    return t < -most ? -most : t > most ? most : t;
}

/* The texel that point sampling takes. */
static inline int64_t sim_point(f64 t) { return (int64_t)floor(t); }

/* Linear filtering: the first texel and the weight of the second, of 256.
   Documented: xB = x - 0.5, i = floor(xB), the fraction has 8 bits. Measured: it is rounded to
   nearest, halves up, and may carry into i. */
static inline int64_t sim_linear(f64 t, unsigned *fraction) {
    const int64_t fixed = (int64_t)floor(t * SIM_FRACTION_ONE + 0.5) - SIM_FRACTION_ONE / 2;
    *fraction = (unsigned)(fixed & (SIM_FRACTION_ONE - 1));
    return fixed >> SIM_FRACTION_BITS;
}

/* A part of 256, rounded to nearest, halves up. */
static inline int sim_part(int whole, unsigned fraction) {
    return (whole * (int)fraction + SIM_FRACTION_ONE / 2) >> SIM_FRACTION_BITS;
}

/* The weights of 4 texels, [y][x], whose sum is `whole`, of 256: x takes its part first, then y the
   one of the second column, and the rest of y that of the first one. */
static inline void sim_weights(int whole, unsigned a, unsigned b, int w[4]) {
    const int second = sim_part(whole, a), first = whole - second;
    w[3] = sim_part(second, b);
    w[1] = second - w[3];
    w[0] = sim_part(first, SIM_FRACTION_ONE - b);
    w[2] = first - w[0];
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

/* What filters add: numbers, with the exponent of their format, or integers of 16 bits. */
struct sim_term {
    f64 v;
    int exponent, weight;
    unsigned plane; /* of a level or slice, up to 4 terms */
};
enum sim_precision { SIM_SUM_FLOAT, SIM_SUM_HALF, SIM_SUM_SRGB };

/* The weighted sum of numbers: aligned with the largest one of its plane, each keeps 4 bits more
   than its format has, of sRGB none; what is less is cut off, towards 0. The sum of the products is
   exact, and then rounded. Subnormal .f32 are 0. */
static inline u32 sim_sum_floats(const struct sim_term *t, unsigned n, enum sim_precision p) {
    const bool half = p != SIM_SUM_FLOAT;
    const int kept = p == SIM_SUM_FLOAT ? 27 : p == SIM_SUM_HALF ? 14 : 7;
    f64 sum = 0;
    unsigned infinite = 0, negative = 0;
    int exponent;
    for (unsigned k = 0; k < n; k++) {
        if (t[k].v != t[k].v) return half ? 0x7fffe000 : 0x7fffffff;
        if (t[k].v - t[k].v != 0) infinite |= t[k].v < 0 ? 2 : 1;
        negative += signbit(t[k].v) != 0;
    }
    if (infinite == 3) return half ? 0x7fffe000 : 0x7fffffff;
    if (infinite) return infinite == 1 ? 0x7f800000 : 0xff800000;
    for (unsigned first = 0, end; first < n; first = end) {
        int most = -126;
        int64_t plane = 0;
        for (end = first; end < n && t[end].plane == t[first].plane; end++)
            if (t[end].weight && t[end].v != 0 && t[end].exponent > most) most = t[end].exponent;
        for (unsigned k = first; k < end; k++)
            if (t[k].weight && (half || fabs(t[k].v) >= 0x1p-126))
                plane += (int64_t)ldexp(t[k].v, kept - most) * t[k].weight;
        sum += ldexp((f64)plane, most - kept - SIM_FRACTION_BITS);
    }
    if (sum == 0) return negative == n ? 0x80000000 : 0;
    const int64_t mantissa = (int64_t)ldexp(frexp(sum, &exponent), 53);
    const f32 r = sim_rounded(mantissa, exponent - 53, half ? 11 : 24, half ? -24 : -149);
    if (half && fabsf(r) >= 65536) return r < 0 ? 0xff800000 : 0x7f800000;
    return bits32(!half && fabsf(r) < 0x1p-126f ? copysignf(0, r) : r);
}

/* The weighted sum of 8-bit integers with a sign, as 16 bits: it is multiplied by 129 / 128 as an
   H200 does it, and rounded to nearest, halves away from 0. */
static inline int64_t sim_sum_of_bytes(int64_t sum) {
    if (sum >= 0) return sum + (((sum >> 4) + (sum >> 12) + 4) >> 3);
    return sum - (((-(sum >> 4)) + ((-sum - 1) >> 12) + 4) >> 3);
}

/* The weighted sum of normalized integers: each is expanded to 16 bits. The result has 16 bits,
   rounded to nearest, halves up. */
static inline u32 sim_sum_integers(const struct sim_term *t, unsigned n, unsigned most) {
    const bool is_signed = most == 127 || most == 32767;
    const int64_t all = is_signed ? 32767 : 65535;
    int64_t sum = 0;
    for (unsigned k = 0; k < n; k++) {
        const f64 v = most == 127 ? t[k].v : floor(t[k].v * (f64)all * 16 / most);
        sum += (int64_t)v * t[k].weight;
    }
    sum = most == 127 ? sim_sum_of_bytes(sum)
                      : (sum + 8 * SIM_FRACTION_ONE) >> (4 + SIM_FRACTION_BITS);
    return bits32(sum < -all ? -1.0f : (f32)sum / (f32)all);
}

/* A component of a texel that is read alone, as a number: v / 255, v / 127, ...
   Documented: the range is mapped to [0, 1] or [-1, 1]; both -128 and -127 become -1. */
static inline f32 sim_normalized(f64 v, f64 scale) {
    return (f32)(v / scale < -1 ? -1.0 : v / scale);
}

/* A number as a component of a texel, for borders and formatted stores: an integer of `bits` bits,
   or .f16, cut off. Of the integer, x (2^bits - 1) is the difference of two numbers that have 4
   bits more, and is then rounded: halves of stores up, of borders down. */
static inline u32 sim_integer_of(f32 x, bool is_signed, unsigned bits, bool stores) {
    const unsigned n = is_signed ? bits - 1 : bits;
    f64 a = x != x ? 0 : x > 1 ? 1 : (f64)x;
    if (a < 0) a = !is_signed ? 0 : a < -1 ? 1 : -a;
    const int64_t parts = (int64_t)floor(ldexp(a, (int)n + 4)) - (int64_t)ceil(a * 16);
    const int64_t v = (parts + (stores ? 8 : 7)) >> 4;
    return (u32)(is_signed && x < 0 ? -v : v);
}
static inline u32 sim_half_below(f32 color) {
    const u32 bits = bits32(color) & 0x7fffffffu, sign = bits32(color) >> 16 & 0x8000;
    if (bits > 0x7f800000u) return sign | 0x7c00 | ((bits >> 13 & 0x3ff) ? bits >> 13 & 0x3ff : 1);
    if (bits >= 0x47800000u) return sign | (bits == 0x7f800000u ? 0x7c00 : 0x7bff);
    if (bits < 0x38800000u) return sign | (u32)floorf(float_of(bits) * 0x1p24f);
    return sign | (bits - 0x38000000u) >> 13;
}

/* Red, green and blue of sRGB texels, 0 to 255, as linear numbers: those of an H200, which have 8
   bits. *exponent: that with which filters align them, which is 1 more for some. */
static inline f32 sim_linear_of_srgb(unsigned v, int *exponent) {
    /* of 65536 */
    static const unsigned short table[255] = { 0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220,
        240, 264, 288, 312, 340, 368, 396, 428, 460, 492, 524, 560, 600, 636, 676, 720, 760, 804,
        852, 896, 944, 1000, 1048, 1104, 1160, 1216, 1272, 1328, 1392, 1456, 1520, 1584, 1648, 1720,
        1792, 1864, 1936, 2016, 2096, 2176, 2256, 2336, 2416, 2496, 2592, 2688, 2768, 2864, 2960,
        3056, 3152, 3264, 3360, 3456, 3584, 3680, 3776, 3904, 4000, 4128, 4256, 4352, 4480, 4608,
        4736, 4864, 4992, 5120, 5248, 5408, 5536, 5664, 5824, 5952, 6112, 6240, 6400, 6560, 6688,
        6848, 7008, 7168, 7328, 7488, 7680, 7808, 8000, 8192, 8320, 8512, 8704, 8896, 9088, 9280,
        9472, 9664, 9856, 10048, 10240, 10432, 10624, 10816, 11008, 11264, 11456, 11648, 11904,
        12096, 12288, 12544, 12736, 12992, 13184, 13440, 13696, 13888, 14144, 14400, 14656, 14848,
        15104, 15360, 15616, 15872, 16128, 16384, 16640, 16896, 17152, 17408, 17664, 18048, 18304,
        18560, 18816, 19072, 19456, 19712, 19968, 20224, 20608, 20864, 21120, 21504, 21760, 22144,
        22400, 22784, 23040, 23296, 23680, 24064, 24320, 24704, 24960, 25344, 25600, 25984, 26368,
        26752, 27008, 27392, 27776, 28032, 28416, 28800, 29184, 29568, 29952, 30336, 30720, 30976,
        31488, 31744, 32256, 32512, 33024, 33280, 33792, 34048, 34560, 35072, 35328, 35840, 36096,
        36608, 37120, 37376, 37888, 38400, 38656, 39168, 39680, 39936, 40448, 40960, 41216, 41728,
        42240, 42752, 43264, 43520, 44032, 44544, 45056, 45568, 45824, 46336, 46848, 47360, 47872,
        48384, 48896, 49408, 49920, 50432, 50944, 51456, 51968, 52480, 52992, 53504, 54016, 54528,
        55040, 55552, 56064, 56576, 57088, 57600, 58112, 58624, 59392, 59904, 60416, 60928, 61440,
        61952, 62464, 62976, 64000, 64512, 65024 };
    const f32 x = v < 255 ? (f32)table[v] * 0x1p-16f : 1;
    const bool more = v == 32 || v == 33 || v == 48 || v == 49 || (v >= 64 && v <= 70) ||
            (v >= 96 && v <= 98) || v == 136 || (v >= 184 && v <= 187) || (v >= 248 && v <= 254);
    frexpf(x, exponent);
    *exponent += more - 1;
    return x;
}

/* A level of detail as it is before the bias: with 8 bits, towards 0; NaN is 0. */
static inline f32 sim_fixed_lod(f32 lod) {
    if (lod != lod) return 0;
    return fabsf(lod) < 65536 ? truncf(lod * SIM_FRACTION_ONE) / SIM_FRACTION_ONE : lod;
}

/* The level of detail, after bias and clamps: the level, and the weight of the next one, of 256.
   Documented: point takes the nearest level. Measured: halves are rounded up; what is less than
   1/256 is cut off. */
static inline unsigned sim_level_of(f32 lod, bool linear, unsigned levels, unsigned *fraction) {
    const f32 last = (f32)(levels - 1);
    *fraction = 0;
    if (!(lod > 0)) return 0;
    if (lod >= last) return levels - 1;
    if (!linear) return (unsigned)floorf(lod + 0.5f);
    const unsigned fixed = (unsigned)floorf(lod * SIM_FRACTION_ONE);
    *fraction = fixed & (SIM_FRACTION_ONE - 1);
    return fixed >> SIM_FRACTION_BITS;
}

/* A derivative in texels: it has 10 bits. */
static inline f64 sim_derivative(f64 x) {
    int exponent;
    const f64 mantissa = frexp(x, &exponent);
    return ldexp(trunc(mantissa * 1024), exponent - 10);
}

/* About the length of a vector, and the longer axis of the ellipse of two, which an H200's levels
   of detail show: nine of ten are these, the others differ by 1/256. */
static inline f64 sim_length(const f64 v[3]) {
    f64 a = fabs(v[0]), b = fabs(v[1]), c = fabs(v[2]), t;
    if (a < b) t = a, a = b, b = t;
    if (a < c) t = a, a = c, c = t;
    if (b < c) t = b, b = c, c = t;
    return a + b * (11.0 / 32) + c / 4;
}
static inline f64 sim_longer_axis(const f64 x[3], const f64 y[3]) {
    const f64 sum[3] = { x[0] + y[0], x[1] + y[1], x[2] + y[2] },
              difference[3] = { x[0] - y[0], x[1] - y[1], x[2] - y[2] };
    return fmax(fmax(sim_length(x), sim_length(y)),
            fmax(sim_length(sum), sim_length(difference)) * (11.0 / 16));
}

/* The level of detail of a length in texels: of the logarithm's table, which has an entry for each
   1/256 of the mantissa, in its middle; but 1 is exact. */
static inline f32 sim_lod_of(f64 length) {
    int exponent;
    if (length - length != 0) return INFINITY; /* also NaN */
    if (length == 0) return -INFINITY;
    const unsigned entry = (unsigned)((frexp(length, &exponent) * 2 - 1) * 256);
    const f64 log = entry ? floor(256 * log2(1 + (entry + 0.5) / 256) + 0.5) / 256 : 0;
    return (f32)(exponent - 1 + log);
}

/* The footprint of two derivatives, with anisotropy: its longer axis in texels, and the logarithm
   of how often the shorter one is contained in it, at most that of the even number below `most`,
   which has 4 bits. The level of detail is that of the shorter axis, or what the limit leaves. */
struct sim_footprint {
    f32 lod, log_ratio;
};
static inline struct sim_footprint sim_footprint_of(const f64 x[3], const f64 y[3], unsigned most) {
    const unsigned even = most >= 16 ? 16 : most >= 12 ? 12 : most & ~1u;
    const f64 area = fabs(x[0] * y[1] - x[1] * y[0]) + fabs(x[1] * y[2] - x[2] * y[1]) +
            fabs(x[2] * y[0] - x[0] * y[2]);
    const f32 longer = sim_lod_of(sim_longer_axis(x, y)), all = sim_lod_of(area),
              limit = floorf(16 * log2f((f32)even)) / 16;
    const f32 ratio = 2 * longer - all;
    const f32 log_ratio = !(ratio < limit) ? limit : ratio > 0 ? ratio : 0;
    return (struct sim_footprint){ longer - log_ratio, log_ratio };
}

/* The samples along the longer axis of a footprint, which contains the shorter one `ratio` times: a
   box of this width. Pairs around the middle, `distance` of the shorter axis from each other; the
   outermost ones have the weight that is left. Weights of 1024. Measured with a column of texels;
   of more than three pairs with few results. */
enum { SIM_SAMPLES_ONE = 1024 };
struct sim_samples {
    int pairs, inner, outer;
    f64 distance;
};
static inline struct sim_samples sim_samples_of(f64 ratio) {
    struct sim_samples s = { (int)ceil(ratio / 2), 0, SIM_SAMPLES_ONE / 2, 1 };
    if (s.pairs == 1) s.distance = ratio - 1;
    else if (s.pairs == 2) s.inner = 2 * (int)floor(512 / ratio + 0.5);
    else s.inner = (int)floor(1024 / ratio + (s.pairs == 3 ? 0.5 : 0));
    s.outer -= s.inner * (s.pairs - 1);
    return s;
}

/* Without CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, anisotropy lets levels blend only around the
   middle between two of them. */
static inline f32 sim_steep_lod(f32 lod, unsigned most) {
    const f32 level = floorf(lod);
    if (!(fabsf(lod) < 65536)) return lod;
    const int f = (int)((lod - level) * SIM_FRACTION_ONE);
    const int weight = most < 4 ? f + (f >> 1) - 63
            : most < 8          ? f + ((3 * f + 2) >> 2) - 95
                                : 2 * f - 128;
    return weight < 0                   ? level
            : weight > SIM_FRACTION_ONE ? level + 1
                                        : level + (f32)weight / SIM_FRACTION_ONE;
}

/* The face of a cube map, and where on it, from 0 to 1. A driver's code multiplies the direction by
   the reciprocal of its longest component, which NaN is not, and which is 0 if it would be
   subnormal. NaN is shorter than 0, and -0 positive; of equal ones, z comes before y and x. The
   reciprocal is an approximation, here it is exact: a result can differ by a texel, or by a
   fraction of 1/256. */
static inline f64 sim_place_of(f32 a) {
    return a != a ? 0.5 : (floor((f64)a * 0x1p20) + 0x1p20) * 0x1p-21;
}
static inline unsigned sim_face(const f32 d[3], f64 *s, f64 *t) {
    f32 v[3], length[3], longest = NAN;
    for (unsigned a = 0; a < 3; a++)
        if (!(fabsf(d[a]) <= longest) && d[a] == d[a]) longest = fabsf(d[a]);
    const f32 r = longest < 0x1p-126f ? INFINITY : 1.0f / longest;
    for (unsigned a = 0; a < 3; a++) {
        v[a] = d[a] * (r < 0x1p-126f ? 0 : r);
        if (fabsf(v[a]) < 0x1p-126f) v[a] = 0;
        length[a] = v[a] != v[a] ? -1 : fabsf(v[a]);
    }
    const unsigned major = length[2] >= length[0] && length[2] >= length[1] ? 2
            : length[1] >= length[0]                                        ? 1
                                                                            : 0;
    const bool back = v[major] < 0;
    *s = sim_place_of(major == 1 ? v[0] : (major == 0) == back ? v[2 - major] : -v[2 - major]);
    *t = sim_place_of(major != 1 ? -v[1] : back ? -v[2] : v[2]);
    return 2 * major + back;
}

/* An offset of texels: from -8 to 7, of a gather from -32 to 31; the low bits of others. */
static inline int sim_offset(u32 v, bool gathers) {
    return gathers ? (int)((v & 63) ^ 32) - 32 : (int)((v & 15) ^ 8) - 8;
}
/* What the offset of a one-dimensional texture does to y, which is 0 or outside: it matters if the
   address mode of y is border. */
static inline int sim_row_offset(u32 v) {
    const int offset = sim_offset(v >> 4, false);
    return offset == 1 ? 0 : offset;
}

#endif
