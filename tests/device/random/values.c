/* values.c - random numbers and operand values: one third edge values of the type, one third small
   or near an edge, one third random bits. */
#include "random.h"

uint64_t rnd_next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

unsigned rnd_below(uint64_t *state, unsigned n) {
    return (unsigned)((rnd_next(state) >> 32) * n >> 32);
}

/* 1.m * 2^(e - bias) with few or all mantissa bits, and an exponent near the middle so that sums
   and products stay finite */
static uint64_t plain_float(uint64_t *s, unsigned ebits, unsigned mbits) {
    const uint64_t bias = (1u << (ebits - 1)) - 1, range = ebits > 5 ? 24 : 8;
    const uint64_t e = bias - range / 2 + rnd_below(s, (unsigned)range);
    uint64_t m = rnd_next(s) & (((uint64_t)1 << mbits) - 1);
    const unsigned shape = rnd_below(s, 4);
    if (shape == 0) m &= (uint64_t)7 << (mbits - 3);
    return (rnd_next(s) & 1) << (ebits + mbits) | e << mbits | m;
}

static uint64_t float_value(uint64_t *s, unsigned ebits, unsigned mbits) {
    const uint64_t ones = ((uint64_t)1 << ebits) - 1, one = ((uint64_t)1 << (ebits - 1)) - 1,
                   most = ((uint64_t)1 << mbits) - 1, sign = (rnd_next(s) & 1) << (ebits + mbits),
                   quiet = (uint64_t)1 << (mbits - 1);
    /* limits of the narrower formats: their largest and smallest exponents, and all mantissa bits
       that they have or lack */
    static const short limits[] = { -150, -149, -127, -126, 127, 128, -25, -24, -15, -14, 15, 16,
        -134, -133 };
    uint64_t e;
    switch (rnd_below(s, 25)) {
    case 0: return sign;
    case 1: return sign | one << mbits;
    case 2: return sign | ones << mbits;                                   /* infinity */
    case 3: return sign | ones << mbits | quiet | (rnd_next(s) & most);    /* quiet NaN */
    case 4: return sign | ones << mbits | (rnd_next(s) & (quiet - 1)) | 1; /* signalling NaN */
    case 5: return sign | 1;                                               /* smallest subnormal */
    case 6: return sign | most;                                            /* largest subnormal */
    case 7: return sign | (rnd_next(s) & most);                      /* a subnormal, or zero */
    case 8: return sign | (uint64_t)1 << mbits | (rnd_next(s) & 3);  /* smallest normal */
    case 9: return sign | ((ones << mbits) - 1 - (rnd_next(s) & 3)); /* largest */
    case 10:
        return sign | ((one << mbits) + (rnd_next(s) & 3) - 2); /* about 1 */
    /* limits of integers */
    case 11: e = one + mbits + rnd_below(s, 3) - 1; return sign | e << mbits | (rnd_next(s) & most);
    /* n and n + 1/2 */
    case 12:
        e = one + rnd_below(s, mbits + 2) - 1;
        return sign | e << mbits | quiet << rnd_below(s, 2) >> 1;
    case 17: {
        const unsigned bits = mbits == 52 ? 24 : 11,
                       k = ebits == 5 ? 8
                : ebits == 8          ? 6 + rnd_below(s, 8)
                                      : rnd_below(s, 14);
        const uint64_t m = rnd_below(s, 2) ? most << (mbits > bits ? mbits - bits : 0) & most
                                           : quiet;
        return sign | ((uint64_t)((int64_t)one + limits[k]) & ones) << mbits |
                (rnd_below(s, 3) ? m : 0);
    }
    /* f64: more zeros */
    case 13:
    case 14:
    case 15:
    case 16:
        e = rnd_next(s);
        return mbits == 52 ? 0 : e & (((uint64_t)1 << (ebits + mbits + 1)) - 1);
    default: return plain_float(s, ebits, mbits);
    }
}

static uint64_t integer_value(uint64_t *s, unsigned bits) {
    const uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1,
                   top = (uint64_t)1 << (bits - 1);
    uint64_t v;
    switch (rnd_below(s, 12)) {
    case 0: v = 0; break;
    case 1: v = 1; break;
    case 2: v = mask; break;
    case 3: v = top; break;
    case 4: v = top - 1; break;
    case 5: v = rnd_below(s, 64); break;
    case 6: v = (uint64_t)0 - rnd_below(s, 64); break;
    case 7: v = (uint64_t)1 << rnd_below(s, bits); break;
    case 8:
        v = rnd_next(s);
        v >>= rnd_below(s, bits);
        break;
    default: v = rnd_next(s); break;
    }
    return v & mask;
}

uint64_t rnd_value(uint64_t *s, enum rnd_kind kind, unsigned size) {
    switch (kind) {
    case RND_COUNT:
        return rnd_below(s, 8) ? rnd_below(s, rnd_below(s, 2) ? 34 : 70)
                               : integer_value(s, 8 * size);
    case RND_LANE: return rnd_below(s, 32);
    case RND_SMALL: return (uint32_t)rnd_below(s, 17) - 8;
    case RND_F16: return float_value(s, 5, 10);
    case RND_BF16: return float_value(s, 8, 7);
    case RND_F32: return float_value(s, 8, 23);
    case RND_F64: return float_value(s, 11, 52);
    case RND_NUMBER64: {
        const uint64_t v = float_value(s, 11, 52);
        return (v & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? v & 0xbfffffffffffffffu : v;
    }
    case RND_F16X2: {
        const uint64_t v = float_value(s, 5, 10);
        return v << 16 | float_value(s, 5, 10);
    }
    case RND_BF16X2: {
        const uint64_t v = float_value(s, 8, 7);
        return v << 16 | float_value(s, 8, 7);
    }
    case RND_ANGLE: {
        const uint64_t v = float_value(s, 8, 23);
        return (v & 0x7fffffff) <= 0x40490fdb
                ? v
                : (v & 0x80000000u) | (0x3f000000 + (v & 0x1ffffff) % 0x1490fdb);
    }
    default: return integer_value(s, 8 * size);
    }
}
