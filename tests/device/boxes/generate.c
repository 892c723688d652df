/* generate.c - makes a program from its kind and number. */
#include "boxes.h"
#include <stdarg.h>

const char *const box_kinds[BOX_KINDS] = { "load", "im2col", "store", "scatter", "reduce",
    "replace", "encode" };

static uint64_t state;
static uint32_t any(void) { /* Steele, Lea and Flood's SplitMix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 16);
}
static unsigned below(unsigned n) { return any() % n; }
static bool one_in(unsigned n) { return below(n) == 0; }
static int between(int low, int high) { return low + (int)below((unsigned)(high - low + 1)); }

enum { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ, TYPES };
unsigned box_element_bytes(unsigned type) {
    static const unsigned char bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
    return type < sizeof bytes ? bytes[type] : 1;
}
static bool is_float(unsigned type) { return type >= F16 && type < TYPES; }

static void set_strides(struct box_desc *d) {
    const unsigned unit = d->interleave == 2 ? 32 : 16;
    uint64_t bytes = d->interleave ? unit : d->dim[0] * box_element_bytes(d->type);
    for (unsigned k = 0; k + 1 < d->rank; k++) {
        bytes = (bytes + unit - 1) / unit * unit;
        if (one_in(4)) bytes += unit * below(3);
        d->stride[k] = bytes;
        bytes *= d->dim[k + 1];
    }
}

/* Memory: a row of up to 320 bytes, less than 32 KiB in all. */
static void set_dims(struct box_desc *d) {
    static const unsigned char most[][5] = { { 0 }, { 0 }, { 0, 40 }, { 0, 12, 8 }, { 0, 8, 6, 4 },
        { 0, 6, 5, 3, 3 } };
    const unsigned size = box_element_bytes(d->type);
    d->dim[0] = 1 + below((d->rank == 1 ? 2000 : d->rank < 4 ? 320 : 160) / size);
    for (unsigned k = 1; k < d->rank; k++) d->dim[k] = 1 + below(most[d->rank][k]);
    set_strides(d);
    d->offset = 16 * below(8);
    if (d->interleave == 2) d->offset = 32 * below(4);
}

static unsigned inner_bytes(const struct box_desc *d) {
    static const unsigned span[] = { 256, 32, 64, 128, 128, 128, 128 };
    unsigned most = span[d->swizzle];
    const unsigned size = box_element_bytes(d->type);
    if (d->interleave) return (d->interleave == 2 ? 32u : 16u) * (one_in(3) ? 2u : 1u);
    if (most > 256 * size) most = 256 * size;
    return 16 * (1 + below(one_in(2) ? most / 16 : most / 16 < 4 ? most / 16 : 4));
}

static void set_box(struct box_desc *d) {
    const unsigned size = box_element_bytes(d->type);
    unsigned left;
    d->box[0] = inner_bytes(d) / size;
    left = 2048 / (d->box[0] * size);
    for (unsigned k = 1; k < d->rank; k++) {
        unsigned n = 1 + below(d->rank == 2 ? 64 : d->rank == 3 ? 16 : 6);
        if (n > left) n = left;
        if (d->step[k] > 1 && n * d->step[k] <= 256 && one_in(2)) d->box[k] = n * d->step[k];
        else d->box[k] = n;
        left /= n;
    }
}

static void set_pixels(struct box_desc *d) {
    const unsigned size = box_element_bytes(d->type), spatial = d->rank - 2;
    d->channels = inner_bytes(d) / size;
    const unsigned most = 2048 / (d->channels * size);
    d->pixels = 1 + below(one_in(3) ? most : most < 24 ? most : 24);
    for (unsigned k = 0; k < spatial; k++) {
        d->lower[k] = between(-3, 2);
        d->upper[k] = between(-3, 2);
        if (one_in(2)) d->lower[k] = d->upper[k] = 0;
        while ((int)d->dim[k + 1] + d->upper[k] - d->lower[k] < 1) d->upper[k]++;
    }
}

static void set_map(struct box_desc *d, bool im2col, unsigned type) {
    memset(d, 0, sizeof *d);
    d->im2col = im2col;
    d->type = type;
    d->rank = im2col ? 3 + below(3) : 1 + below(5);
    d->swizzle = one_in(3) ? 0 : below(4);
    if (one_in(16)) d->swizzle = 4 + below(3);
    if (d->rank > 2 && one_in(6)) d->interleave = 1 + below(2);
    if (d->interleave == 2) d->swizzle = 1;
    d->promotion = below(4);
    d->fill = is_float(type) && one_in(2);
    for (unsigned k = 0; k < 5; k++) d->step[k] = one_in(8) ? 1 + below(4) : 1;
    set_dims(d);
    if (im2col) set_pixels(d);
    else set_box(d);
}

/* The bytes that a load of the whole box announces. Interleaved, a box has units instead of
   elements, and one group of channels. */
static unsigned box_bytes(const struct box_desc *d) {
    unsigned n = d->interleave ? 16 * d->interleave : box_element_bytes(d->type);
    if (d->im2col) return n * d->pixels * (d->interleave ? 1 : d->channels);
    for (unsigned k = 0; k < d->rank; k++) {
        if (d->interleave && k == d->rank - 2) continue;
        n *= k || d->interleave ? (d->box[k] + d->step[k] - 1) / d->step[k] : d->box[k];
    }
    return n;
}

/* A GPU takes these places for an illegal instruction, so few programs have them: without
   interleaving, a row that begins at no multiple of 16 bytes; of stores, negative coordinates. */
static void avoid_illegal_places(struct box_program *p) {
    const struct box_desc *d = &p->map;
    const int unit = 16 / (int)box_element_bytes(d->type);
    const bool stores = p->kind == BOX_STORE || p->kind == BOX_REDUCE || p->kind == BOX_SCATTER;
    if (!d->interleave) p->at[0] -= p->at[0] % unit;
    for (unsigned k = 0; stores && k < d->rank; k++)
        if (p->at[k] < 0) p->at[k] = -(p->at[k] + 1) % (int)d->dim[k];
    if (!d->interleave) p->at[0] -= p->at[0] % unit;
}

static void set_place(struct box_program *p) {
    struct box_desc *d = &p->map;
    const bool inside = one_in(4), hostile = one_in(24), illegal = one_in(20);
    for (unsigned k = 0; k < d->rank; k++) {
        const int dim = (int)d->dim[k], box = d->im2col ? 4 : (int)d->box[k];
        p->at[k] = inside ? between(0, dim - 1) : between(-box / 2 - 1, dim);
        if (one_in(3)) p->at[k] = 0;
        if (hostile && one_in(2)) p->at[k] = one_in(2) ? (int)(any() | 1) : between(-70000, 70000);
    }
    if (d->im2col)
        for (unsigned k = 1; k + 1 < d->rank; k++) {
            if (p->kind == BOX_SCATTER && !illegal && d->lower[k - 1] < 0) d->lower[k - 1] = 0;
            while ((int)d->dim[k] + d->upper[k - 1] - d->lower[k - 1] < 1) d->upper[k - 1]++;
            const int first = d->lower[k - 1], last = (int)d->dim[k] - 1 + d->upper[k - 1];
            p->at[k] = illegal ? between(first, first + (int)d->dim[k] - 1) : between(first, last);
            p->offset[k - 1] = one_in(3) ? 0 : below(5);
        }
    if (!illegal) avoid_illegal_places(p);
    p->shared_at = 128 * below(9);
    if (d->interleave == 2) p->shared_at = 256 * below(5);
    p->place = p->kind == BOX_REPLACE ? BOX_GLOBAL : (enum box_place)below(3);
    p->hint = one_in(5);
    p->prefetches = one_in(5);
    p->bytes = box_bytes(d);
}

/* ---- wrong descriptions */

static void break_address(struct box_desc *d) {
    static const unsigned char low[] = { 8, 16, 32, 1, 4, 48 };
    d->offset = low[below(6)];
}
static void break_dim(struct box_desc *d) {
    static const uint64_t dims[] = { 0, 1ull << 32, (1ull << 32) + 1, 1ull << 31, 1ull << 40 };
    d->dim[below(d->rank)] = dims[below(5)];
}
static void break_stride(struct box_desc *d) {
    static const uint64_t strides[] = { 0, 8, 16, 24, 32, 48, 1ull << 40, (1ull << 40) - 16,
        (1ull << 40) - 32, 1ull << 36, 1ull << 41 };
    if (d->rank > 1) d->stride[below(d->rank - 1)] = strides[below(11)];
}
static void break_box(struct box_desc *d) {
    static const uint32_t boxes[] = { 0, 256, 257, 1, 3, 128, 512 };
    if (d->im2col) {
        if (one_in(2)) d->channels = boxes[below(7)];
        else d->pixels = one_in(3) ? 0 : 1023 + below(3);
    } else d->box[below(d->rank)] = boxes[below(7)];
}
static void break_corner(struct box_desc *d) {
    static const int corners[] = { -32768, -32769, 32767, 32768, -128, -129, 127, 128, -16, -17, 15,
        16 };
    int *which = one_in(2) ? d->lower : d->upper;
    if (d->im2col && d->rank > 2) which[below(d->rank - 2)] = corners[below(12)];
    else d->rank = below(8);
}
static void break_one(struct box_desc *d) {
    switch (below(13)) {
    case 0: break_address(d); break;
    case 1: break_dim(d); break;
    case 2:
    case 3: break_stride(d); break;
    case 4:
    case 5: break_box(d); break;
    case 6: d->step[below(5)] = one_in(3) ? 0 : 8 + below(2); break;
    case 7: d->interleave = below(4); break;
    case 8: d->swizzle = below(8); break;
    case 9: d->promotion = below(6); break;
    case 10: d->fill = below(3); break;
    case 11: d->type = below(18); break;
    default: break_corner(d); break;
    }
}

static void set_reduction(struct box_program *p) {
    static const struct {
        unsigned char reduction, types[8], n;
    } known[] = {
        { 1, { U32, S32, U64, F16, BF16, F32, F64 }, 7 },
        { 2, { U32, S32, U64, S64, F16, BF16 }, 6 },
        { 3, { U32, S32, U64, S64, F16, BF16 }, 6 },
        { 4, { U32 }, 1 },
        { 5, { U32 }, 1 },
        { 6, { U32, S32, U64 }, 3 },
        { 7, { U32, S32, U64 }, 3 },
        { 8, { U32, S32, U64 }, 3 },
    };
    const unsigned k = below(8);
    p->reduction = known[k].reduction;
    p->map.type = known[k].types[below(known[k].n)];
    if (one_in(20)) p->map.type = below(TYPES);
}

void box_generate(struct box_program *p, enum box_kind kind, unsigned number) {
    const bool im2col = kind == BOX_IM2COL || kind == BOX_SCATTER;
    unsigned type;
    memset(p, 0, sizeof *p);
    p->kind = kind;
    p->number = number;
    state = 0x626f786573u + kind * 0x10001u + number * 0x9e3779b9u;
    for (unsigned k = 0; k < 4; k++) any();
    type = below(TYPES);
    if (kind == BOX_REDUCE || (kind == BOX_SCATTER && one_in(2))) {
        set_reduction(p);
        type = p->map.type;
    }
    set_map(&p->map, kind == BOX_ENCODE ? one_in(2) : im2col, type);
    if (kind == BOX_REPLACE) {
        if (p->map.swizzle > 3) p->map.swizzle = 3;
        set_map(&p->before, false, below(one_in(8) ? TYPES : TF32));
        if (p->before.swizzle > 3) p->before.swizzle = 3;
    }
    set_place(p);
    if ((kind == BOX_LOAD || kind == BOX_IM2COL) && one_in(6)) p->ranks = 1 + below(3);
    if (kind == BOX_ENCODE && !one_in(8)) break_one(&p->map);
    if (kind == BOX_ENCODE && one_in(8)) break_one(&p->map);
    if (kind != BOX_ENCODE) box_write(p);
}

/* ---- the bytes */

static uint32_t word(uint32_t k) {
    static const uint32_t strange[] = { 1, 0x807fffff, 0x7fc00001, 0x7f800000, 0xff800000,
        0x00800000, 0x7f7fffff, 0x80000000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000,
        0x7fffffff, 0x7f7ff000, 0x00001000, 0xffffffff };
    k = (k ^ k >> 16) * 0x7feb352du;
    k = (k ^ k >> 15) * 0x846ca68bu;
    k ^= k >> 16;
    return k % 13 ? k : strange[k / 13 % 16];
}

/* Reductions of floating point take values near 1 in three of four programs. */
static uint32_t tame(const struct box_program *p, uint32_t v) {
    if (!p->reduction || p->number % 4 == 0) return v;
    switch (p->map.type) {
    case F16: return (v & 0x83ff83ffu) | 0x3c003800u;
    case BF16: return (v & 0x807f807fu) | 0x3f803f00u;
    case F32: return (v & 0x807fffffu) | 0x3f800000u;
    default: return v;
    }
}

void box_fill(const struct box_program *p, unsigned char *memory, unsigned char *shared) {
    const bool loads = p->kind == BOX_LOAD || p->kind == BOX_IM2COL || p->kind == BOX_REPLACE;
    for (uint32_t k = 0; k < BOX_MEMORY; k += 4) {
        const uint32_t v = tame(p, word(k + p->number * 0x1000003u));
        memcpy(memory + k, &v, 4);
    }
    for (uint32_t k = 0; k < BOX_SHARED; k += 4) {
        const uint32_t v = loads ? 0xa5a5a5a5u : tame(p, word(~k - p->number * 0x1000003u));
        memcpy(shared + k, &v, 4);
    }
}

/* ---- a description */

static void add(char **at, const char *end, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(*at, (size_t)(end - *at), format, list);
    va_end(list);
    *at += n < end - *at ? n : end - *at - 1;
}

void box_describe(const struct box_program *p, char *text, size_t size) {
    static const char *const types[] = { "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32",
        "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz", "16u4", "16u4_16", "16u6", "?16", "?17" };
    const struct box_desc *d = &p->map;
    const char *end = text + size;
    char *t = text;
    add(&t, end, "%s %u: %s %s rank %u dim", box_kinds[p->kind], p->number,
            d->im2col ? "im2col" : "tile", types[d->type], d->rank);
    for (unsigned k = 0; k < d->rank && k < 5; k++)
        add(&t, end, " %llu", (unsigned long long)d->dim[k]);
    add(&t, end, " stride");
    for (unsigned k = 0; k + 1 < d->rank && k < 4; k++)
        add(&t, end, " %llu", (unsigned long long)d->stride[k]);
    if (!d->im2col) add(&t, end, " box");
    for (unsigned k = 0; k < d->rank && !d->im2col && k < 5; k++) add(&t, end, " %u", d->box[k]);
    if (d->im2col) add(&t, end, " channels %u pixels %u", d->channels, d->pixels);
    for (unsigned k = 0; k + 2 < d->rank && d->im2col && k < 3; k++)
        add(&t, end, " corner %d..%d", d->lower[k], d->upper[k]);
    add(&t, end, " step");
    for (unsigned k = 0; k < d->rank && k < 5; k++) add(&t, end, " %u", d->step[k]);
    add(&t, end, " interleave %u swizzle %u promotion %u fill %u address +%llu", d->interleave,
            d->swizzle, d->promotion, d->fill, (unsigned long long)d->offset);
    add(&t, end, "; at");
    for (unsigned k = 0; k < d->rank && k < 5; k++) add(&t, end, " %d", p->at[k]);
    if (d->im2col) add(&t, end, " offset %u %u %u", p->offset[0], p->offset[1], p->offset[2]);
    add(&t, end, " shared +%u bytes %u place %d ranks %u reduction %u", p->shared_at, p->bytes,
            (int)p->place, p->ranks, p->reduction);
}
