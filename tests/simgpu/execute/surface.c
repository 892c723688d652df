/* surface.c - suld, sust, sured, suq: lane by lane, on the bytes of an array. Stores are visible to
   all threads at once. */
#include "texel.h"

/* one lane's access: the first byte, or texel, and where it is */
struct place {
    unsigned char *at; /* NULL: it reads zeros and writes nothing, or has failed */
    bool failed;
};

/* A coordinate that must be below `limit`, for an access of `size`. false: there is nothing. */
static bool limit_to(int64_t *v, int64_t size, int64_t limit, bool clamps) {
    if (*v >= 0 && *v + size <= limit) return true;
    if (!clamps || size > limit) return false;
    *v = *v < 0 ? 0 : limit - size;
    return true;
}

static const struct sim_surface *surface_of(
        struct sim_warp *w, const struct sim_insn *i, const struct sim_fetch *f, int lane) {
    const uint64_t handle = SIM_AT(u64, f->handle)[lane];
    const struct sim_surface *s = sim_surface_at(handle);
    if (s && s->device == w->block->grid->device) return s;
    sim_fault_at(w, i, lane, SIM_F_ILLEGAL_ADDRESS, "0x%llx is not a surface object%s",
            (unsigned long long)handle, s ? " of this device" : "");
    return NULL;
}

/* bytes: of the access, at a coordinate in bytes; of formatted ones in units of the access, which
   for stores is a texel.
   Documented: .trap stops the kernel, .clamp takes the nearest texel inside, .zero reads zeros and
   writes nothing. Measured: the errors of .trap and of a misaligned coordinate. */
static struct place find_place(struct sim_warp *w, const struct sim_insn *i,
        const struct sim_fetch *f, int lane, const struct sim_surface *s, unsigned bytes) {
    const struct sim_texels *t = &s->texels;
    const struct sim_level *l = &t->levels[0];
    const enum sim_geometry g = f->geometry;
    const bool layered = g == SIM_A1D || g == SIM_A2D, clamps = f->outside == SIM_OUT_CLAMP;
    const unsigned axes = g == SIM_1D || g == SIM_A1D ? 1 : g == SIM_3D ? 3 : 2;
    const u32 layer = sim_operand_u32(w, f->layer, lane) & 0xffff; /* it has 16 bits */
    int64_t at[3] = { 0, 0, layered ? (int64_t)layer : 0 };
    for (unsigned a = 0; a < axes; a++) at[a] = (s32)sim_operand_u32(w, f->at[a], lane);
    if (f->formatted) at[0] *= bytes;
    if (at[0] % bytes) {
        sim_fault_at(w, i, lane, SIM_F_MISALIGNED, "misaligned surface coordinate %lld (%u bytes)",
                (long long)at[0], bytes);
        return (struct place){ NULL, true };
    }
    const bool inside = limit_to(&at[0], bytes, (int64_t)l->width * t->texel_bytes, clamps) &&
            limit_to(&at[1], 1, l->height, clamps) && limit_to(&at[2], 1, l->depth, clamps);
    if (inside)
        return (struct place){ l->bytes + (uint64_t)at[2] * l->slice + (uint64_t)at[1] * l->pitch +
                    (uint64_t)at[0],
            false };
    if (f->outside == SIM_OUT_TRAP)
        sim_fault_at(w, i, lane, SIM_F_ILLEGAL_ADDRESS,
                "coordinates (%lld, %lld, %lld) outside of a surface of %u x %u x %u texels of %u "
                "bytes",
                (long long)at[0], (long long)at[1], (long long)at[2], l->width, l->height, l->depth,
                t->texel_bytes);
    return (struct place){ NULL, f->outside == SIM_OUT_TRAP };
}

/* -- loads and stores of bytes. In one piece for each register, since other threads may access them
   at the same time. */

static u64 load_piece(const unsigned char *p, unsigned size) {
    switch (size) {
    case 1: return __atomic_load_n(p, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n((const u16 *)(const void *)p, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const u32 *)(const void *)p, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const u64 *)(const void *)p, __ATOMIC_RELAXED);
    }
}
static void store_piece(unsigned char *p, unsigned size, u64 v) {
    switch (size) {
    case 1: __atomic_store_n(p, (u8)v, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((u16 *)(void *)p, (u16)v, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((u32 *)(void *)p, (u32)v, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((u64 *)(void *)p, v, __ATOMIC_RELAXED);
    }
}

static unsigned size_of(enum sim_type t) {
    return t == SIM_B8                                     ? 1
            : t == SIM_B16                                 ? 2
            : t == SIM_B64 || t == SIM_U64 || t == SIM_S64 ? 8
                                                           : 4;
}

SIM_HANDLER(suld) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    const unsigned size = size_of(f->type);
    SIM_EACH_LANE (m) {
        const struct sim_surface *s = surface_of(w, i, f, (int)l);
        if (!s) return;
        const struct place p = find_place(w, i, f, (int)l, s, size * f->n);
        if (p.failed) return;
        for (unsigned k = 0; k < f->n; k++) {
            const u64 v = p.at ? load_piece(p.at + k * size, size) : 0;
            if (size == 8) SIM_AT(u64, f->value[k])[l] = v;
            else SIM_AT(u32, f->value[k])[l] = (u32)v;
        }
    }
}

/* .p: a number or an integer as a component of the surface. Integers that do not fit become the
   nearest that does. */
static u64 converted(struct sim_components is, u32 bits) {
    const f32 x = float_of(bits);
    const unsigned width = 8 * is.bytes;
    if (is.kind == SIM_C_UINT) return width < 32 && bits >> width ? (1u << width) - 1 : bits;
    if (is.kind == SIM_C_SINT && width < 32) {
        const s32 most = (1 << (width - 1)) - 1, v = (s32)bits;
        return (u32)(v > most ? most : v < -most - 1 ? -most - 1 : v);
    }
    if (is.kind == SIM_C_HALF) return sim_half_below(x);
    if (is.kind == SIM_C_UNORM || is.kind == SIM_C_SNORM)
        return sim_integer_of(x, is.kind == SIM_C_SNORM, width, true);
    return bits;
}

static bool store_formatted(struct sim_warp *w, const struct sim_insn *i, const struct sim_fetch *f,
        int lane, const struct sim_surface *s, unsigned char *at) {
    const struct sim_components is = sim_components_of(s->texels.format);
    if (!is.bytes || is.kind == SIM_C_PACKED) {
        sim_fault_at(w, i, lane, SIM_F_LAUNCH_FAILED,
                "a formatted store to a surface of format 0x%x, which is not supported by this CPU "
                "device",
                s->texels.format);
        return false;
    }
    for (unsigned k = 0; at && k < s->texels.channels; k++) {
        const u32 v = k < f->n ? sim_operand_u32(w, f->value[k], lane) : 0;
        store_piece(at + k * is.bytes, is.bytes, converted(is, v));
    }
    return true;
}

SIM_HANDLER(sust) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    const unsigned size = size_of(f->type);
    SIM_EACH_LANE (m) {
        const struct sim_surface *s = surface_of(w, i, f, (int)l);
        if (!s) return;
        const struct place p = find_place(
                w, i, f, (int)l, s, f->formatted ? s->texels.texel_bytes : size * f->n);
        if (p.failed || (f->formatted && !store_formatted(w, i, f, (int)l, s, p.at))) return;
        for (unsigned k = 0; p.at && !f->formatted && k < f->n; k++)
            store_piece(p.at + k * size, size,
                    size == 8 ? SIM_AT(u64, f->value[k])[l] : SIM_AT(u32, f->value[k])[l]);
    }
    w->progress = true;
}

/* -- sured: atomics of the host */

#define REDUCE(NAME, T, S) \
    static void NAME(unsigned char *at, enum sim_surface_red red, bool is_signed, T y) { \
        T *p = (T *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED), next; \
        do { \
            const bool less = is_signed ? (S)old < (S)y : old < y; \
            next = red == SIM_RED_ADD    ? old + y \
                    : red == SIM_RED_MIN ? (less ? old : y) \
                    : red == SIM_RED_MAX ? (less ? y : old) \
                    : red == SIM_RED_AND ? (old & y) \
                                         : (old | y); \
        } while (!__atomic_compare_exchange_n( \
                p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    }
REDUCE(reduce_32, u32, s32)
REDUCE(reduce_64, u64, s64)

SIM_HANDLER(sured) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    const unsigned size = size_of(f->type);
    SIM_EACH_LANE (m) {
        const struct sim_surface *s = surface_of(w, i, f, (int)l);
        if (!s) return;
        /* .p: documented: signed if the surface's format is */
        const bool is_signed = f->formatted ? sim_components_of(s->texels.format).kind == SIM_C_SINT
                                            : f->type == SIM_S32 || f->type == SIM_S64;
        if (f->formatted && s->texels.texel_bytes % size) {
            sim_fault_at(w, i, (int)l, SIM_F_LAUNCH_FAILED,
                    "a formatted reduction of %u bytes on texels of %u", size,
                    s->texels.texel_bytes);
            return;
        }
        const struct place p = find_place(w, i, f, (int)l, s, size);
        if (p.failed) return;
        if (!p.at) continue;
        if (size == 8) reduce_64(p.at, f->red, is_signed, SIM_AT(u64, f->value[0])[l]);
        else reduce_32(p.at, f->red, is_signed, SIM_AT(u32, f->value[0])[l]);
    }
    w->progress = true;
}

SIM_HANDLER(suq) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    SIM_EACH_LANE (m) {
        const struct sim_surface *s = surface_of(w, i, f, (int)l);
        if (!s) return;
        SIM_AT(u32, f->value[0])[l] = sim_answer(&s->texels, NULL, f->query, 0);
    }
}

SIM_HANDLER(istypep_surfref) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    uint32_t is = 0;
    SIM_EACH_LANE (m)
        if (sim_surface_at(SIM_AT(u64, f->handle)[l])) is |= 1u << l;
    sim_write_pred(w, f->predicate, m, is);
}

const struct sim_operation sim_surface_table[] = { SIM_UNTYPED(suld), SIM_UNTYPED(sust),
    SIM_UNTYPED(sured), SIM_UNTYPED(suq), SIM_UNTYPED(istypep_surfref), SIM_END };
