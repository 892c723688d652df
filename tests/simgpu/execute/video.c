/* video.c - the video instructions: an operation on a part of each source, or on two or four parts in parallel. Lane
   operations: see lanes.h.

   One handler reads what to do from the instruction's sim_video; each step is a loop over the lanes. */
#include "../base/lanes.h"
#include "execute.h"

typedef s64 values[32];

/* bits [at, at + width) of a source, extended */
static void pick(values to, const u32 *from, unsigned at, unsigned width, bool is_signed) {
    const unsigned left = 32 - width - at, right = 32 - width;
    if (is_signed) SIM_LANES to[l] = (s32)(from[l] << left) >> right;
    else SIM_LANES to[l] = from[l] << left >> right;
}

static void pick_part(values to, const u32 *from, unsigned part, bool is_signed) {
    if (part == VIDEO_WORD) pick(to, from, 0, 32, is_signed);
    else if (part > 3) pick(to, from, part % 2 * 16, 16, is_signed);
    else pick(to, from, part * 8, 8, is_signed);
}

static void pick_element(values to, const u32 *a, const u32 *b, unsigned e, unsigned n, bool is_signed) {
    pick(to, e < n ? a : b, e % n * (32 / n), 32 / n, is_signed);
}

static void limit(values t, unsigned width, bool is_signed) {
    const s64 most = ((s64)1 << (width - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    SIM_LANES t[l] = t[l] > most ? most : t[l] < least ? least : t[l];
}

/* (x * y) + c of 33 bits each, with one of them complemented and 1 added, shifted, saturated: 66 bits */
static void multiply(const struct sim_video *v, values t, const values x, const values y, const u32 *c) {
    const bool is_signed = v->a_signed || v->b_signed || v->minus_product || v->minus_c;
    for (int l = 0; l < 32; l++) {
        s128 r = (s128)x[l] * y[l];
        if (v->minus_product) r = ~r;
        const u32 z = v->minus_c ? ~c[l] : c[l];
        r += is_signed ? (s32)z : (s128)z;
        r += v->plus || v->minus_product || v->minus_c;
        r >>= v->shift;
        if (v->sat) {
            const s128 most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
            r = r > most ? most : r < least ? least : r;
        }
        t[l] = (s64)r;
    }
}

static void operate(const struct sim_video *v, values t, const values x, const values y) {
    switch (v->op) {
    case VIDEO_ADD: SIM_LANES t[l] = x[l] + y[l]; break;
    case VIDEO_SUB: SIM_LANES t[l] = x[l] - y[l]; break;
    case VIDEO_ABSDIFF: SIM_LANES t[l] = x[l] > y[l] ? x[l] - y[l] : y[l] - x[l]; break;
    case VIDEO_MIN: SIM_LANES t[l] = x[l] < y[l] ? x[l] : y[l]; break;
    case VIDEO_MAX: SIM_LANES t[l] = x[l] > y[l] ? x[l] : y[l]; break;
    case VIDEO_AVRG: SIM_LANES t[l] = (x[l] + y[l] + (x[l] + y[l] >= 0)) >> 1; break;
    case VIDEO_SHL: SIM_LANES t[l] = (s64)((u64)x[l] << (v->wrap ? y[l] & 31 : y[l] > 32 ? 32 : y[l])); break;
    case VIDEO_SHR: SIM_LANES t[l] = x[l] >> (v->wrap ? y[l] & 31 : y[l] > 32 ? 32 : y[l]); break;
    default: break;
    }
}

enum { EQ, NE, LT, LE, GT, GE };
static void compare(const struct sim_video *v, values t, const values x, const values y) {
    switch (v->compare) {
    case EQ: SIM_LANES t[l] = x[l] == y[l]; break;
    case NE: SIM_LANES t[l] = x[l] != y[l]; break;
    case LT: SIM_LANES t[l] = x[l] < y[l]; break;
    case LE: SIM_LANES t[l] = x[l] <= y[l]; break;
    case GT: SIM_LANES t[l] = x[l] > y[l]; break;
    case GE: SIM_LANES t[l] = x[l] >= y[l]; break;
    default: break;
    }
}

/* a value into `width` bits of the result */
static void insert(u32 *out, const values t, unsigned at, unsigned width) {
    const u32 mask = (width == 32 ? ~0u : (1u << width) - 1) << at;
    SIM_LANES out[l] = (out[l] & ~mask) | ((u32)t[l] << at & mask);
}

static void second(const struct sim_video *v, u32 *out, const values t) {
    if (v->second == VIDEO_THEN_ADD) SIM_LANES out[l] += (u32)t[l];
    else if (v->d_signed) {
        if (v->second == VIDEO_THEN_MIN) SIM_LANES out[l] = (s32)t[l] < (s32)out[l] ? (u32)t[l] : out[l];
        else SIM_LANES out[l] = (s32)t[l] > (s32)out[l] ? (u32)t[l] : out[l];
    } else if (v->second == VIDEO_THEN_MIN) SIM_LANES out[l] = (u32)t[l] < out[l] ? (u32)t[l] : out[l];
    else SIM_LANES out[l] = (u32)t[l] > out[l] ? (u32)t[l] : out[l];
}

SIM_HANDLER(video) {
    const u32 *a = SIM_AT(u32, i->a), *b = SIM_AT(u32, i->b), *c = SIM_AT(u32, i->c);
    u32 *d = SIM_AT(u32, i->d), out[32];
    struct sim_video v;
    values x = { 0 }, y = { 0 }, t = { 0 };
    memcpy(&v, &i->imm, sizeof v);
    memcpy(out, c, sizeof out);
    for (unsigned k = 0; k < v.elements; k++) {
        const unsigned n = v.elements, pa = v.a >> 3 * k & 7, pb = v.b >> 3 * k & 7;
        if (n == 1) {
            pick_part(x, a, pa, v.a_signed);
            pick_part(y, b, pb, v.b_signed);
        } else if (!(v.d >> k & 1)) continue;
        else {
            pick_element(x, a, b, pa, n, v.a_signed);
            pick_element(y, a, b, pb, n, v.b_signed);
        }
        const unsigned width = n > 1 ? 32 / n : v.d < 4 ? 8 : v.d < VIDEO_WORD ? 16 : 32;
        if (v.op == VIDEO_MAD) multiply(&v, t, x, y, c);
        else if (v.op == VIDEO_SET) compare(&v, t, x, y);
        else operate(&v, t, x, y);
        if (v.sat && v.op != VIDEO_MAD) limit(t, width, v.d_signed);
        if (v.second) second(&v, out, t);
        else insert(out, t, n > 1 ? k * width : width == 8 ? v.d * 8u : width == 16 ? v.d % 2 * 16u : 0, width);
    }
    SIM_LANES d[l] = SIM_ON(m) ? out[l] : d[l];
}

const struct sim_operation SIM_ISA(sim_video_table)[] = { SIM_UNTYPED(video), SIM_END };
