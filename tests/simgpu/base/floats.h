/* floats.h - shared by float.c, half.c, cvt.c and compare.c: bits, flushing, canonical NaNs, 16-bit
   formats. */
#ifndef SIM_FLOATS_H
#define SIM_FLOATS_H

#include "lanes.h"
#include <fenv.h>
#include <math.h>

static inline u32 bits32(f32 x) {
    u32 r;
    memcpy(&r, &x, 4);
    return r;
}

static inline u64 bits64(f64 x) {
    u64 r;
    memcpy(&r, &x, 8);
    return r;
}

static inline f32 float_of(u32 x) {
    f32 r;
    memcpy(&r, &x, 4);
    return r;
}

static inline f64 double_of(u64 x) {
    f64 r;
    memcpy(&r, &x, 8);
    return r;
}

/* .ftz: a subnormal becomes a zero of the same sign */
static inline u32 flush_bits(u32 x) { return (x & 0x7f800000u) == 0 ? x & 0x80000000u : x; }
static inline f32 flush(f32 x) { return float_of(flush_bits(bits32(x))); }

/* Single precision has one NaN. Double precision keeps the payload of a NaN operand: the second if
   it is a NaN, then the third, then the first. */
#define NAN32 0x7fffffffu
#define NAN64 0xfff8000000000000ull
#define QUIET64 0x0008000000000000ull
static inline u32 canon32(f32 r) { return r == r ? bits32(r) : NAN32; }
static inline u64 canon64(f64 r, f64 x, f64 y, f64 z) {
    return r == r    ? bits64(r)
            : y != y ? bits64(y) | QUIET64
            : z != z ? bits64(z) | QUIET64
            : x != x ? bits64(x) | QUIET64
                     : NAN64;
}

static const int sim_fe_round[4] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

/* -- 16-bit formats. f16: 5 exponent bits, 10 mantissa bits; bf16: 8 and 7. Each has one NaN,
   0x7fff. */

static inline f32 half_value(u32 h) {
    u32 t = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    f32 v = float_of(t) * 0x1p112f;
    return float_of(((h & 0x7c00) == 0x7c00 ? t | 0x7f800000u : bits32(v)) | sign);
}
static inline f32 bhalf_value(u32 h) { return float_of(h << 16); }

/* to nearest even, from a float whose own rounding did no harm */
static inline u32 half_of(f32 v) {
    u32 f = bits32(v) & 0x7fffffffu, sign = bits32(v) >> 16 & 0x8000;
    u32 tiny = bits32(float_of(f) + 0.5f) - 0x3f000000u; /* the adder rounds at 2^-24 */
    u32 normal = (f + 0xc8000fffu + (f >> 13 & 1)) >> 13;
    u32 r = f > 0x7f800000u ? 0x7fff : f >= 0x47800000u ? 0x7c00 : f < 0x38800000u ? tiny : normal;
    return f > 0x7f800000u ? r : r | sign;
}
static inline u32 bhalf_of(f32 v) {
    u32 f = bits32(v);
    return (f & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (f + 0x7fff + (f >> 16 & 1)) >> 16;
}

/* any rounding mode, from a double that is exact or rounded to odd; mantissa bits and smallest
   exponent of the format */
static inline u32 narrow(f64 v, int mode, int mbits, int emin, int emax) {
    u64 b = bits64(v);
    u32 sign = b >> 63 ? 0x8000 : 0, inf = (u32)(emax - emin + 2) << mbits;
    if (v != v) return 0x7fff;
    if (v == 0) return sign;
    int e = (int)(b >> 52 & 2047) - 1023;
    if (e == 1024) return sign | inf;
    /* a subnormal double is below everything: m = sticky */
    u64 m = e == -1023 ? 0 : (b & 0xfffffffffffffull) | 1ull << 52;
    int drop = 52 - mbits + (e < emin ? emin - e : 0);
    u64 kept, rest, half;
    if (drop > 62 || m == 0) {
        kept = 0;
        rest = 1;
        half = 2;
    } else {
        kept = m >> drop;
        rest = m & ((1ull << drop) - 1);
        half = 1ull << (drop - 1);
    }
    bool up = mode == 0 ? rest > half || (rest == half && (kept & 1))
            : mode == 1 ? false
                        : rest && (mode == 3) != (sign != 0);
    kept += up;
    u64 r = e < emin ? kept : kept + ((u64)(e - emin) << mbits);
    if (r >= inf) r = mode == 0 || (mode == 3 && !sign) || (mode == 2 && sign) ? inf : inf - 1;
    return sign | (u32)r;
}
static inline u32 half_round(f64 v, int mode) { return narrow(v, mode, 10, -14, 15); }
static inline u32 bhalf_round(f64 v, int mode) { return narrow(v, mode, 7, -126, 127); }

/* min, max of 16-bit formats, on bits: ordered as sign-magnitude integers; NaNs begin at a
   different value in each */
static inline s32 half_order(u32 h) { return h & 0x8000 ? -(s32)(h & 0x7fff) - 1 : (s32)h; }
static inline u32 extreme(u32 x, u32 y, uint32_t flags, bool is_max, u32 inf) {
    u32 sign = flags & SIM_I_XORSIGN ? (x ^ y) & 0x8000 : 0;
    if (flags & SIM_I_XORSIGN) {
        x &= 0x7fff;
        y &= 0x7fff;
    }
    bool nx = (x & 0x7fff) > inf, ny = (y & 0x7fff) > inf;
    if ((nx && ny) || ((flags & SIM_I_NAN) && (nx || ny))) return 0x7fff;
    if (nx || ny) return (nx ? y : x) | sign;
    return ((half_order(x) < half_order(y)) != is_max ? x : y) | sign;
}

/* a*b+c for operands whose product is exact in double: the sum is rounded to odd, so that a second
   rounding gives the exact result */
static inline f64 fma_odd(f64 a, f64 b, f64 c) {
    f64 p = a * b, s = p + c;
    if (!(s - s == 0) || s == 0) return s;
    f64 t = s - p, err = (p - (s - t)) + (c - t);
    u64 bits = bits64(s);
    if (err != 0 && !(bits & 1)) return double_of((err > 0) == (s > 0) ? bits | 1 : bits - 1);
    return s;
}

/* -- sums of atomics. near: in shared memory */

/* f32 sums flush subnormals in global memory, but not in shared memory */
static inline u32 sum32(u32 x, u32 y, bool near) {
    return near ? canon32(float_of(x) + float_of(y))
                : flush_bits(canon32(float_of(flush_bits(x)) + float_of(flush_bits(y))));
}
/* sums in global memory keep a NaN's payload as it is, signalling NaNs included */
static inline u64 sum64(u64 x, u64 y, bool near) {
    f64 a = double_of(x), b = double_of(y);
    return near || (a == a && b == b) ? canon64(a + b, b, a, 0) : b == b ? x : y;
}
static inline u32 hsum(u32 x, u32 y) {
    return half_of(half_value(x & 0xffff) + half_value(y & 0xffff));
}
static inline u32 bsum(u32 x, u32 y) {
    return bhalf_round(fma_odd(bhalf_value(x & 0xffff), 1.0, bhalf_value(y & 0xffff)), 0);
}

#endif
