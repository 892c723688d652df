/* video.c - the video instructions: an operation on a part of each source, or on two or four parts
   in parallel. Lane operations: see lanes.h.

   One handler reads what to do from the instruction's sim_video; each step is a loop over the
   lanes. */
#include "../base/lanes.h"
#include "execute.h"

typedef s64 values[32];

/* bits [at, at + width) of a source, extended */
static void pick(values to, const u32 *from, unsigned at, unsigned width, bool is_signed) {
    const unsigned left = 32 - width - at, right = 32 - width;
    if (is_signed)
        SIM_LANES
            to[l] = (s32)(from[l] << left) >> right;
    else
        SIM_LANES
            to[l] = from[l] << left >> right;
}

static void pick_part(values to, const u32 *from, unsigned part, bool is_signed) {
    if (part == VIDEO_WORD) pick(to, from, 0, 32, is_signed);
    else if (part > 3) pick(to, from, part % 2 * 16, 16, is_signed);
    else pick(to, from, part * 8, 8, is_signed);
}

static void pick_element(
        values to, const u32 *a, const u32 *b, unsigned e, unsigned n, bool is_signed) {
    pick(to, e < n ? a : b, e % n * (32 / n), 32 / n, is_signed);
}

/* to the values of a type */
static void limit(values t, unsigned width, bool is_signed) {
    const s64 most = ((s64)1 << (width - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    SIM_LANES
        t[l] = t[l] > most ? most : t[l] < least ? least : t[l];
}

/* x * y + c in 64 bits, with one of them complemented and 1 added; words are signed, whatever their
   type */
static void multiply(
        const struct sim_video *v, values t, const values x, const values y, const u32 *c) {
    const bool is_signed = v->a_signed || v->b_signed || v->minus_product || v->minus_c;
    for (int l = 0; l < 32; l++) {
        u64 r = (u64)((s64)(v->a == VIDEO_WORD ? (s32)x[l] : x[l]) *
                (v->b == VIDEO_WORD ? (s32)y[l] : y[l]));
        if (v->minus_product) r = ~r;
        r += (u64)(s64)(s32)(v->minus_c ? ~c[l] : c[l]);
        r += v->plus || v->minus_product || v->minus_c;
        t[l] = is_signed ? (s64)r >> v->shift : (s64)(r >> v->shift);
    }
    if (v->sat) limit(t, 32, is_signed);
}

/* .sat of an instruction with one result, as on an H200, which makes it of several others. Against
   the pages, only shifts, which have 34 bits, limit what is above .u32, and not to a part; in a
   part, of the others, the most also stands for what is below the least. */
static void saturate(const struct sim_video *v, values t, unsigned width) {
    const bool shifts = v->op == VIDEO_SHL || v->op == VIDEO_SHR;
    const s64 most = ((s64)1 << (width - v->d_signed)) - 1;
    if (shifts)
        SIM_LANES
            t[l] = (s64)((u64)t[l] << 30) >> 30;
    if (width == 32 || shifts) {
        if (v->d_signed || shifts) limit(t, 32, v->d_signed);
        else
            SIM_LANES
                t[l] = t[l] < 0 ? 0 : t[l];
    } else
        SIM_LANES
            t[l] = (u64)t[l] > (u64)most ? most : t[l];
}

static void operate(const struct sim_video *v, values t, const values x, const values y) {
    switch (v->op) {
    case VIDEO_ADD:
        SIM_LANES
            t[l] = x[l] + y[l];
        break;
    case VIDEO_SUB:
        SIM_LANES
            t[l] = x[l] - y[l];
        break;
    case VIDEO_ABSDIFF:
        SIM_LANES
            t[l] = x[l] > y[l] ? x[l] - y[l] : y[l] - x[l];
        break;
    case VIDEO_MIN:
        SIM_LANES
            t[l] = x[l] < y[l] ? x[l] : y[l];
        break;
    case VIDEO_MAX:
        SIM_LANES
            t[l] = x[l] > y[l] ? x[l] : y[l];
        break;
    case VIDEO_AVRG:
        SIM_LANES
            t[l] = (x[l] + y[l] + (x[l] + y[l] >= 0)) >> 1;
        break;
    case VIDEO_SHL:
        SIM_LANES
            t[l] = (s64)((u64)x[l] << (v->wrap ? y[l] & 31 : y[l] > 32 ? 32 : y[l]));
        break;
    case VIDEO_SHR:
        SIM_LANES
            t[l] = x[l] >> (v->wrap ? y[l] & 31 : y[l] > 32 ? 32 : y[l]);
        break;
    default: break;
    }
}

enum { EQ, NE, LT, LE, GT, GE };
static void compare(const struct sim_video *v, values t, const values x, const values y) {
    switch (v->compare) {
    case EQ:
        SIM_LANES
            t[l] = x[l] == y[l];
        break;
    case NE:
        SIM_LANES
            t[l] = x[l] != y[l];
        break;
    case LT:
        SIM_LANES
            t[l] = x[l] < y[l];
        break;
    case LE:
        SIM_LANES
            t[l] = x[l] <= y[l];
        break;
    case GT:
        SIM_LANES
            t[l] = x[l] > y[l];
        break;
    case GE:
        SIM_LANES
            t[l] = x[l] >= y[l];
        break;
    default: break;
    }
}

/* a value into `width` bits of the result */
static void insert(u32 *out, const values t, unsigned at, unsigned width) {
    const u32 mask = (width == 32 ? ~0u : (1u << width) - 1) << at;
    SIM_LANES
        out[l] = (out[l] & ~mask) | ((u32)t[l] << at & mask);
}

/* min and max of 64 bits with c; after some operations the result has only its lower 32, extended
   with their sign */
static void second(const struct sim_video *v, u32 *out, const values t) {
    const bool is_signed = v->op == VIDEO_SET ? v->a_signed : v->d_signed,
               is_max = v->second == VIDEO_THEN_MAX,
               shifts = v->op == VIDEO_SHL || v->op == VIDEO_SHR,
               word = v->op == VIDEO_ADD || v->op == VIDEO_SUB || (shifts && v->sat);
    if (v->second == VIDEO_THEN_ADD)
        SIM_LANES
            out[l] += (u32)t[l];
    else if (is_signed)
        SIM_LANES {
            const s64 x = word ? (s32)t[l] : t[l], c = (s32)out[l];
            out[l] = (u32)((x > c) == is_max ? x : c);
        }
    else
        SIM_LANES {
            const u64 x = (u64)(word ? (s32)t[l] : t[l]), c = out[l];
            out[l] = (u32)((x > c) == is_max ? x : c);
        }
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
        if (v.sat && n > 1) limit(t, width, v.d_signed);
        else if (v.sat && v.op != VIDEO_MAD) saturate(&v, t, width);
        if (v.second) second(&v, out, t);
        else
            insert(out, t,
                    n > 1                 ? k * width
                            : width == 8  ? v.d * 8u
                            : width == 16 ? v.d % 2 * 16u
                                          : 0,
                    width);
    }
    SIM_LANES
        d[l] = SIM_ON(m) ? out[l] : d[l];
}

const struct sim_operation SIM_ISA(sim_video_table)[] = { SIM_UNTYPED(video), SIM_END };
