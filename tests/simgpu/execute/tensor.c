/* tensor.c - copies between tensors in global memory and boxes in shared memory: loads, stores and
   reductions, lane by lane, executed at once; and what changes a tensor map. Measured on an H200
   unless a comment says otherwise: what is an illegal instruction, all bytes. */
#include "../base/floats.h"
#include "../base/tensor_map.h"
#include "mbarrier.h"

enum { PIECE = 16, ROW_ALIGNMENT = 128, MAX_SWIZZLE = 3, MAX_STEP = 8, MAX_BOX = 256 };
static const u64 fill_bits = 0x7ff77ff77ff77ff7u; /* of elements outside of the tensor */

/* One lane's copy. The innermost dimension of a map without interleaving has elements; with it,
   units of 16 or 32 bytes, of which the second last dimension counts groups. */
struct copy {
    struct sim_warp *w;
    const struct sim_insn *i;
    int lane;
    const struct sim_tensor_copy *op;
    struct sim_tensor_map map;
    s32 at[SIM_TENSOR_RANK];
    u32 offset[3];
    unsigned element, unit; /* bytes of an element, and of what a coordinate counts */
    unsigned n, step;       /* of units in a row */
    unsigned pitch;         /* from the start of one row in shared memory to the next */
    uint64_t shared;
};

#define FAIL(c, ...) \
    do { \
        sim_fault_at((c)->w, (c)->i, (c)->lane, SIM_F_ILLEGAL_INSTRUCTION, \
                "copy of a tensor: " __VA_ARGS__); \
        return false; \
    } while (0)

/* -- what is illegal */

static bool is_tf32(unsigned type) {
    return type == SIM_TENSOR_TF32 || type == SIM_TENSOR_TF32_FTZ;
}
static bool is_4_byte_float(unsigned type) {
    return type == SIM_TENSOR_F32 || type == SIM_TENSOR_F32_FTZ || is_tf32(type);
}

/* cuTensorMap has checked this; tensormap.replace writes anything. */
static bool check_map(const struct copy *c) {
    const struct sim_tensor_map *m = &c->map;
    if (m->mark != SIM_TENSOR_MAP_MARK) FAIL(c, "there is no tensor map at the address");
    if (m->rank != c->op->dims)
        FAIL(c, "a tensor map of %u dimensions in a copy with %u", m->rank, c->op->dims);
    if (m->im2col != c->op->im2col)
        FAIL(c, "a tensor map with%s im2col in a copy with%s it", m->im2col ? "" : "out",
                c->op->im2col ? "" : "out");
    if (m->type >= SIM_TENSOR_TYPES || m->interleave > 2 || m->swizzle > MAX_SWIZZLE ||
            (m->interleave && m->rank < 3))
        FAIL(c, "a tensor map with type %u, interleave %u, swizzle %u", m->type, m->interleave,
                m->swizzle);
    if (m->was_tf32 && !is_4_byte_float(m->type))
        FAIL(c, "a tensor map of .tf32 that became one of another size");
    for (unsigned k = 0; k < m->rank; k++)
        if (!m->step[k] || m->step[k] > MAX_STEP ||
                (!m->im2col && (!m->box[k] || m->box[k] > MAX_BOX)))
            FAIL(c, "a tensor map with box %u, element stride %u in dimension %u", m->box[k],
                    m->step[k], k);
    return true;
}

static unsigned first_pixel_dim(const struct copy *c) { return c->map.interleave ? 0 : 1; }
static int64_t last_of(const struct copy *c, unsigned k) { /* of the window of im2col */
    return (int64_t)c->map.last[first_pixel_dim(c) + k] + c->map.upper[k];
}

static bool check_pixel(const struct copy *c) {
    for (unsigned k = 0; k + 2 < c->map.rank; k++) {
        const s32 at = c->at[first_pixel_dim(c) + k];
        if (at < c->map.lower[k] || at > last_of(c, k))
            FAIL(c, "im2col coordinate %d outside of the bounding box %d to %lld", at,
                    c->map.lower[k], (long long)last_of(c, k));
    }
    return true;
}

/* Of stores and reductions. */
static bool check_store(const struct copy *c) {
    for (unsigned k = 0; k < c->map.rank; k++)
        if (c->at[k] < 0) FAIL(c, "a store to the negative coordinate %d", c->at[k]);
    for (unsigned k = 0; c->map.im2col && k + 2 < c->map.rank; k++)
        if (c->map.lower[k] < 0 || c->map.upper[k] > 0)
            FAIL(c, "an im2col store with corners %d and %d outside of the tensor", c->map.lower[k],
                    c->map.upper[k]);
    return true;
}

/* Of reductions: 32-bit and 64-bit integers, but only some of both, and floating point. Not
   measured: sums of F32_FTZ. */
static bool check_reduction(const struct copy *c) {
    enum {
        U32 = 1 << SIM_TENSOR_U32,
        S32 = 1 << SIM_TENSOR_S32,
        U64 = 1 << SIM_TENSOR_U64,
        S64 = 1 << SIM_TENSOR_S64,
        HALVES = 1 << SIM_TENSOR_F16 | 1 << SIM_TENSOR_BF16,
        FLOATS = 1 << SIM_TENSOR_F32 | 1 << SIM_TENSOR_F32_FTZ | 1 << SIM_TENSOR_F64
    };
    static const unsigned types[] = { [SIM_TENSOR_ADD] = U32 | S32 | U64 | HALVES | FLOATS,
        [SIM_TENSOR_MIN] = U32 | S32 | U64 | S64 | HALVES,
        [SIM_TENSOR_MAX] = U32 | S32 | U64 | S64 | HALVES,
        [SIM_TENSOR_INC] = U32,
        [SIM_TENSOR_DEC] = U32,
        [SIM_TENSOR_AND] = U32 | S32 | U64,
        [SIM_TENSOR_OR] = U32 | S32 | U64,
        [SIM_TENSOR_XOR] = U32 | S32 | U64 };
    if (c->op->act != SIM_TENSOR_LOAD && c->op->act != SIM_TENSOR_STORE &&
            !(types[c->op->act] >> c->map.type & 1))
        FAIL(c, "a reduction that elements of tensor data type %u do not have", c->map.type);
    return true;
}

static bool check(const struct copy *c) {
    if (!c->map.interleave && (s64)c->at[0] * c->element % PIECE)
        FAIL(c, "the innermost coordinate %d is not at a multiple of 16 bytes (elements of %u)",
                c->at[0], c->element);
    if (c->n * c->unit % PIECE)
        FAIL(c, "a box with rows of %u bytes, not a multiple of 16", c->n * c->unit);
    if (c->map.im2col && !check_pixel(c)) return false;
    if (c->op->act != SIM_TENSOR_LOAD && !check_store(c)) return false;
    if (!check_reduction(c)) return false;
    if (!(c->shared % ROW_ALIGNMENT)) return true;
    sim_fault_at(c->w, c->i, c->lane, SIM_F_MISALIGNED,
            "misaligned shared address 0x%llx of a box (multiples of %d)",
            (unsigned long long)c->shared, ROW_ALIGNMENT);
    return false;
}

/* -- the start of a copy */

/* Reads or writes the bytes of a map. */
static bool move_map(struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t address,
        struct sim_tensor_map *map, bool writes) {
    unsigned char bytes[SIM_TENSOR_MAP_BYTES] = { 0 };
    if (writes) memcpy(bytes, map, sizeof *map);
    for (unsigned k = 0; k < sizeof bytes; k += SIM_TENSOR_MAP_ALIGNMENT) {
        void *p = sim_at(w, i, lane, SIM_GENERIC, address + k, SIM_TENSOR_MAP_ALIGNMENT,
                writes ? "tensormap.replace" : "read of a tensor map");
        if (!p) return false;
        if (writes) memcpy(p, bytes + k, SIM_TENSOR_MAP_ALIGNMENT);
        else memcpy(bytes + k, p, SIM_TENSOR_MAP_ALIGNMENT);
    }
    memcpy(map, bytes, sizeof *map);
    return true;
}

static unsigned count(unsigned box, unsigned step) { return (box + step - 1) / step; }

static void set_row(struct copy *c) {
    static const unsigned char spans[] = { 0, 32, 64, 128 };
    const struct sim_tensor_map *m = &c->map;
    c->element = sim_tensor_bytes(m->type);
    c->unit = m->interleave ? PIECE * m->interleave : c->element;
    c->step = m->interleave && !m->im2col ? m->step[0] : 1;
    c->n = !m->im2col ? count(m->box[0], c->step) : m->interleave ? 1 : m->channels;
    c->pitch = c->n * c->unit;
    if (!m->interleave && c->pitch < spans[m->swizzle]) c->pitch = spans[m->swizzle];
}

static bool begin(struct copy *c, struct sim_warp *w, const struct sim_insn *i, uint32_t lane) {
    const struct sim_tensor_copy *op = &w->block->code->copies[i->imm];
    memset(c, 0, sizeof *c);
    c->w = w;
    c->i = i;
    c->lane = (int)lane;
    c->op = op;
    c->shared = SIM_AT(u64, op->shared)[lane];
    if (!move_map(w, i, c->lane, SIM_AT(u64, op->map)[lane], &c->map, false)) return false;
    for (unsigned k = 0; k < op->dims; k++) c->at[k] = SIM_AT(s32, op->at[k])[lane];
    for (unsigned k = 0; k < op->noffsets; k++)
        c->offset[k] = SIM_AT(u32, op->offset[k])[lane] & 0xffff;
    if (!check_map(c)) return false;
    set_row(c);
    return check(c);
}

/* -- elements */

/* Documented for cvt.rn.tf32: to nearest even. Subnormals stay, also with FTZ. */
static u32 tf32_of(u32 x) {
    const u32 dropped = 0x1fff, magnitude = x & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fffe000;
    return (x + 0xfff + (x >> 13 & 1)) & ~dropped;
}

static void convert(const struct copy *c, unsigned char *bytes, unsigned n) {
    for (unsigned k = 0; (is_tf32(c->map.type) || c->map.was_tf32) && k < n; k += 4) {
        u32 v;
        memcpy(&v, bytes + k, 4);
        v = tf32_of(v);
        memcpy(bytes + k, &v, 4);
    }
}

static u64 load_element(const void *p, unsigned bytes) {
    switch (bytes) {
    case 2: return __atomic_load_n((const u16 *)p, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const u32 *)p, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const u64 *)p, __ATOMIC_RELAXED);
    }
}
/* Whether memory had `old`, which becomes what it has. */
static bool swap_element(void *p, unsigned bytes, u64 *old, u64 v) {
    u16 old16 = (u16)*old;
    u32 old32 = (u32)*old;
    bool same;
    if (bytes == 2) {
        same = __atomic_compare_exchange_n(
                (u16 *)p, &old16, (u16)v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        *old = old16;
    } else if (bytes == 4) {
        same = __atomic_compare_exchange_n(
                (u32 *)p, &old32, (u32)v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        *old = old32;
    } else
        same = __atomic_compare_exchange_n(
                (u64 *)p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return same;
}

static u64 sum(unsigned type, u64 x, u64 y) {
    switch (type) {
    case SIM_TENSOR_F16: return hsum((u32)x, (u32)y);
    case SIM_TENSOR_BF16: return bsum((u32)x, (u32)y);
    case SIM_TENSOR_F32:
    case SIM_TENSOR_F32_FTZ: return sum32((u32)x, (u32)y, false);
    case SIM_TENSOR_F64: return sum64(x, y, false);
    default: return x + y;
    }
}
static u64 extreme_of(unsigned type, u64 x, u64 y, bool is_max) {
    switch (type) {
    case SIM_TENSOR_F16: return extreme((u32)x, (u32)y, 0, is_max, 0x7c00);
    case SIM_TENSOR_BF16: return extreme((u32)x, (u32)y, 0, is_max, 0x7f80);
    case SIM_TENSOR_S32: return ((s32)x < (s32)y) != is_max ? x : y;
    case SIM_TENSOR_S64: return ((s64)x < (s64)y) != is_max ? x : y;
    default: return (x < y) != is_max ? x : y;
    }
}
static u64 reduced(enum sim_tensor_act act, unsigned type, u64 x, u64 y) {
    switch (act) {
    case SIM_TENSOR_ADD: return sum(type, x, y);
    case SIM_TENSOR_MIN: return extreme_of(type, x, y, false);
    case SIM_TENSOR_MAX: return extreme_of(type, x, y, true);
    case SIM_TENSOR_INC: return x >= y ? 0 : x + 1;
    case SIM_TENSOR_DEC: return x == 0 || x > y ? y : x - 1;
    case SIM_TENSOR_AND: return x & y;
    case SIM_TENSOR_OR: return x | y;
    case SIM_TENSOR_XOR: return x ^ y;
    default: return y;
    }
}

static bool reduce(const struct copy *c, uint64_t address, const unsigned char *from) {
    void *p = sim_at(c->w, c->i, c->lane, SIM_GLOBAL, address, c->element, "atomic");
    if (!p) return false;
    u64 old = load_element(p, c->element), y = load_element(from, c->element);
    while (!swap_element(p, c->element, &old, reduced(c->op->act, c->map.type, old, y))) {}
    return true;
}

/* -- rows: one behind another in shared memory */

/* The address that coordinate 0 of the innermost dimension has; whether the others are inside. */
struct row {
    uint64_t address;
    s32 first; /* innermost coordinate */
    bool inside;
};

static struct row row_at(const struct copy *c, const s32 at[SIM_TENSOR_RANK]) {
    struct row r = { c->map.address, at[0], true };
    for (unsigned k = 1; k < c->map.rank; k++) {
        r.inside = r.inside && at[k] >= 0 && (u32)at[k] <= c->map.last[k];
        r.address += (uint64_t)(int64_t)at[k] * c->map.stride[k - 1];
    }
    return r;
}

/* The address of `byte` of a row; false: outside of the tensor. */
static bool find_byte(const struct copy *c, const struct row *r, unsigned byte, uint64_t *address) {
    const s32 at = (s32)((u32)r->first + byte / c->unit * c->step);
    *address = r->address + (uint64_t)at * c->unit + byte % c->unit;
    return r->inside && at >= 0 && (u32)at <= c->map.last[0];
}

/* All of a piece at once, or element by element where the tensor begins or ends inside of it. */
static bool load_piece(
        const struct copy *c, const struct row *r, unsigned byte, unsigned char *to) {
    uint64_t address;
    const bool whole = find_byte(c, r, byte, &address) &&
            find_byte(c, r, byte + PIECE - 1, &address);
    const unsigned size = whole ? PIECE : c->element;
    const u64 fill = c->map.fill ? fill_bits : 0, filled[2] = { fill, fill };
    memcpy(to, filled, PIECE);
    for (unsigned k = 0; k < PIECE; k += size) {
        if (!find_byte(c, r, byte + k, &address)) continue;
        const void *p = sim_at(
                c->w, c->i, c->lane, SIM_GLOBAL, address, size, "read by cp.async.bulk.tensor");
        if (!p) return false;
        memcpy(to + k, p, size);
        convert(c, to + k, size);
    }
    return true;
}

/* Whole pieces, also where the tensor ends inside of one. */
static bool store_piece(
        const struct copy *c, const struct row *r, unsigned byte, const unsigned char *from) {
    uint64_t address;
    if (!find_byte(c, r, byte, &address)) return true;
    if (c->op->act == SIM_TENSOR_STORE) {
        void *p = sim_at(c->w, c->i, c->lane, SIM_GLOBAL, address, PIECE, "cp.async.bulk.tensor");
        if (p) memcpy(p, from, PIECE);
        return p != NULL;
    }
    for (unsigned k = 0; k < PIECE; k += c->element)
        if (!reduce(c, address + k, from + k)) return false;
    return true;
}

/* Documented: a piece of 16 bytes moves by bits of the shared address. */
static uint64_t swizzled(const struct copy *c, uint64_t address) {
    const uint64_t bits = (1u << c->map.swizzle) - 1;
    return address ^ (address >> 7 & bits) << 4;
}

static bool copy_row(const struct copy *c, const struct row *r, uint64_t shared) {
    const bool loads = c->op->act == SIM_TENSOR_LOAD;
    for (unsigned byte = 0; byte < c->n * c->unit; byte += PIECE) {
        void *p = sim_at(c->w, c->i, c->lane, SIM_GENERIC, swizzled(c, shared + byte), PIECE,
                loads ? "cp.async.bulk.tensor" : "read by cp.async.bulk.tensor");
        if (!p || !(loads ? load_piece(c, r, byte, p) : store_piece(c, r, byte, p))) return false;
    }
    return true;
}

/* The next place of a tile: `index` counts, from the second dimension on. false: it was the last */
static bool next_of_tile(const struct copy *c, unsigned index[], s32 at[]) {
    for (unsigned k = 1; k < c->map.rank; k++) {
        const bool groups = c->map.interleave && k == c->map.rank - 2u;
        const unsigned n = groups ? 1 : count(c->map.box[k], c->map.step[k]);
        at[k] = (s32)((u32)at[k] + c->map.step[k]);
        if (++index[k] < n) return true;
        index[k] = 0;
        at[k] = c->at[k];
    }
    return false;
}

/* The next pixel: in the bounding box, then in the next image. */
static void next_pixel(const struct copy *c, s32 at[]) {
    const unsigned first = first_pixel_dim(c), images = c->map.rank - 1u;
    for (unsigned k = 0; k + 2 < c->map.rank; k++) {
        s32 *p = &at[first + k];
        const int64_t next = (int64_t)*p + c->map.step[first + k];
        *p = next <= last_of(c, k) ? (s32)next : c->map.lower[k];
        if (next <= last_of(c, k)) return;
    }
    at[images] = (s32)((u32)at[images] + c->map.step[images]);
}

static struct row pixel_row(const struct copy *c, const s32 at[SIM_TENSOR_RANK]) {
    s32 moved[SIM_TENSOR_RANK];
    memcpy(moved, at, sizeof moved);
    for (unsigned k = 0; k + 2 < c->map.rank; k++) {
        s32 *p = &moved[first_pixel_dim(c) + k];
        *p = (s32)((u32)*p + c->offset[k]);
    }
    return row_at(c, moved);
}

/* bytes: of the box */
static bool copy_box(const struct copy *c, uint64_t shared, uint32_t *bytes) {
    unsigned index[SIM_TENSOR_RANK] = { 0 };
    s32 at[SIM_TENSOR_RANK];
    bool more = true;
    memcpy(at, c->at, sizeof at);
    for (unsigned n = 1; more; n++, shared += c->pitch) {
        const struct row r = c->map.im2col ? pixel_row(c, at) : row_at(c, at);
        if (!copy_row(c, &r, shared)) return false;
        *bytes += c->n * c->unit;
        if (c->map.im2col) {
            next_pixel(c, at);
            more = n < c->map.pixels;
        } else more = next_of_tile(c, index, at);
    }
    return true;
}

SIM_HANDLER(cp_tensor) {
    SIM_EACH_LANE (m) {
        struct copy c;
        if (!begin(&c, w, i, l)) return;
        const bool several = c.op->multicast;
        const uint32_t ranks = several ? SIM_AT(u32, c.op->ranks)[l] & 0xffff : 1;
        for (uint32_t rest = ranks; rest; rest &= rest - 1) {
            const unsigned rank = (unsigned)__builtin_ctz(rest);
            uint32_t bytes = 0;
            if (!copy_box(&c, several ? in_block(c.shared, rank) : c.shared, &bytes)) return;
            if (c.op->act != SIM_TENSOR_LOAD) continue;
            const uint64_t barrier = SIM_AT(u64, c.op->barrier)[l];
            if (!count_bytes(w, i, (int)l, several ? in_block(barrier, rank) : barrier, bytes))
                return;
        }
    }
    w->progress = true;
}

/* -- tensormap.replace. What it writes is only checked when a copy uses the map. */

/* Measured: a map of .tf32 that becomes one of 64-bit integers is an illegal instruction, so a part
   of the type stays. Not measured: other types; here 32-bit floats then still round. */
static void replace_type(struct sim_tensor_map *m, u64 v) {
    static const unsigned char types[] = { SIM_TENSOR_U8, SIM_TENSOR_U16, SIM_TENSOR_U32,
        SIM_TENSOR_S32, SIM_TENSOR_U64, SIM_TENSOR_S64, SIM_TENSOR_F16, SIM_TENSOR_F32,
        SIM_TENSOR_F32_FTZ, SIM_TENSOR_F64, SIM_TENSOR_BF16, SIM_TENSOR_TF32, SIM_TENSOR_TF32_FTZ };
    if (is_tf32(m->type)) m->was_tf32 = true;
    m->type = v < sizeof types ? types[v] : SIM_TENSOR_TYPES;
}

/* k: which dimension */
static void replace(struct sim_tensor_map *m, enum sim_tensor_field field, unsigned k, u64 v) {
    switch (field) {
    case SIM_TENSOR_GLOBAL_ADDRESS: m->address = v; break;
    case SIM_TENSOR_RANK_LESS_1: m->rank = (uint8_t)(v + 1); break;
    case SIM_TENSOR_BOX_DIM: m->box[k] = (uint16_t)v; break;
    case SIM_TENSOR_GLOBAL_DIM: m->last[k] = (uint32_t)(v - 1); break;
    case SIM_TENSOR_GLOBAL_STRIDE:
        if (k + 1 < SIM_TENSOR_RANK) m->stride[k] = v;
        break;
    case SIM_TENSOR_ELEMENT_STRIDE: m->step[k] = (uint8_t)v; break;
    case SIM_TENSOR_ELEMTYPE: replace_type(m, v); break;
    case SIM_TENSOR_INTERLEAVE: m->interleave = (uint8_t)v; break;
    case SIM_TENSOR_SWIZZLE: m->swizzle = (uint8_t)v; break;
    case SIM_TENSOR_FILL: m->fill = (uint8_t)v; break;
    default: break;
    }
}

/* a: the map's generic address, b: the value, of 64 bits with SIM_I_SECOND; imm: the dimension; the
   user bits: the field */
SIM_HANDLER(tensormap_replace) {
    const unsigned k = i->imm < SIM_TENSOR_RANK ? (unsigned)i->imm : 0;
    SIM_EACH_LANE (m) {
        struct sim_tensor_map map;
        const uint64_t address = SIM_AT(u64, i->a)[l];
        const u64 v = i->flags & SIM_I_SECOND ? SIM_AT(u64, i->b)[l] : SIM_AT(u32, i->b)[l];
        if (!move_map(w, i, (int)l, address, &map, false)) return;
        replace(&map, (enum sim_tensor_field)(i->flags >> SIM_I_USER), k, v);
        if (!move_map(w, i, (int)l, address, &map, true)) return;
    }
    w->progress = true;
}

const struct sim_operation sim_tensor_table[] = { SIM_UNTYPED(cp_tensor),
    SIM_UNTYPED(tensormap_replace), SIM_END };
