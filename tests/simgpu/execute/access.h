/* access.h - addresses of a whole warp at once, for ldst.c and atom.c.

   An access first tries one span for all lanes: the block's remembered range of global memory, its
   shared memory, or the lanes' stacks. One check covers all lanes, so no lane needs its own.
   Accesses outside a span go lane by lane through sim_at, which raises faults. Inactive lanes hold
   the address of the first active lane, so that checks need no mask. */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include "../base/lanes.h"
#include "execute.h"

/* host is the (possibly wrapped) address of device address 0 for lane 0 */
struct span {
    uint64_t lo, hi;
    uintptr_t host;
    uint64_t stride;
};

static inline void addresses(struct sim_warp *w, const struct sim_insn *i, uint32_t m, u64 *addr) {
    const int first = __builtin_ctz(m);
    const uint64_t imm = (uint64_t)i->imm;
    if (i->flags & SIM_I_BASE64) {
        const u64 *a = SIM_AT(u64, i->a), spare = a[first];
        SIM_LANES
            addr[l] = (SIM_ON(m) ? a[l] : spare) + imm;
    } else {
        const u32 *a = SIM_AT(u32, i->a), spare = a[first];
        SIM_LANES
            addr[l] = (u64)(SIM_ON(m) ? a[l] : spare) + imm;
    }
}

/* Whether every address is inside the span and aligned. */
static inline bool covers(const struct span *s, const u64 *addr, unsigned size) {
    if (s->hi - s->lo < size) return false;
    const u64 lo = s->lo, last = s->hi - s->lo - size, odd = size - 1;
    u64 bad = 0;
    for (int l = 0; l < 32; l++) bad |= (addr[l] - lo > last ? 1 : 0) | (addr[l] & odd);
    return !bad;
}

static inline void span_shared(const struct sim_block *b, struct span *s) {
    s->lo = b->shared_at;
    s->hi = b->shared_at + b->shared_bytes;
    s->stride = 0;
    s->host = (uintptr_t)b->shared - b->shared_at;
}

static inline void span_local(struct sim_warp *w, struct span *s) {
    s->lo = SIM_LOCAL_BASE;
    s->hi = w->local ? w->local_stride : SIM_LOCAL_BASE;
    s->stride = w->local_stride;
    s->host = (uintptr_t)w->local;
}

/* The range that the block remembers for this instruction, if it has the bytes at a; else they are
   looked up. While accesses are recorded, none: then all go through sim_at. */
static __attribute__((noinline)) bool look_up(
        struct sim_block *b, struct sim_range *r, uint64_t a, unsigned size) {
    if (!b->grid->uses && sim_find_range(b, a, size, r)) return true;
    r->generation = 0;
    r->lo = r->hi = 0;
    return false;
}
static inline const struct sim_range *remembered(
        const struct sim_warp *w, const struct sim_insn *i, uint64_t a, unsigned size) {
    struct sim_range *r = &w->block->ranges[i->slot];
    const bool known = r->generation == __atomic_load_n(&sim_mem_generation, __ATOMIC_RELAXED) &&
            a - r->lo < r->hi - r->lo;
    return known || look_up(w->block, r, a, size) ? r : NULL;
}

static inline bool span_global(struct sim_warp *w, const struct sim_insn *i, const u64 *addr,
        unsigned size, struct span *s) {
    const struct sim_range *r = remembered(w, i, addr[0], size);
    if (!r) return false;
    s->lo = r->lo;
    s->hi = r->hi;
    s->stride = 0;
    s->host = (uintptr_t)r->delta;
    return true;
}

/* Whether one span contains all addresses, in a window of the generic address space. */
static inline bool locate_generic(
        struct sim_warp *w, const struct sim_insn *i, unsigned size, u64 *addr, struct span *s) {
    const u64 window = addr[0] >> 48;
    u64 other = 0, moved[32];
    SIM_LANES
        other |= addr[l] >> 48 ^ window;
    if (other || window > 2) return false;
    SIM_LANES
        moved[l] = addr[l] & SIM_WINDOW_OFFSET;
    if (window == 1) {
        const struct sim_block *owner = sim_shared_owner(w->block, SIM_GENERIC, addr[0]);
        if (!owner || !owner->live) return false;
        span_shared(owner, s);
    } else if (window == 2) span_local(w, s);
    else if (!span_global(w, i, addr, size, s)) return false;
    if (!covers(s, moved, size)) return false;
    memcpy(addr, moved, sizeof moved);
    return true;
}

/* The addresses of all lanes. True: one span contains them, and they are offsets from s->host;
   false: go lane by lane. */
static __attribute__((noinline)) bool locate(struct sim_warp *w, const struct sim_insn *i,
        uint32_t m, enum sim_space space, unsigned size, u64 *addr, struct span *s) {
    addresses(w, i, m, addr);
    if (space == SIM_GENERIC) return locate_generic(w, i, size, addr, s);
    if (space == SIM_SHARED) span_shared(w->block, s);
    else if (space == SIM_LOCAL) span_local(w, s);
    else if (space == SIM_PARAM || !span_global(w, i, addr, size, s)) return false;
    return covers(s, addr, size);
}

/* The same for shared memory with 32-bit addresses, with half the work: offsets in the block's
   shared memory. */
static inline bool locate_shared(
        struct sim_warp *w, const struct sim_insn *i, uint32_t m, unsigned size, u32 *offset) {
    const struct sim_block *b = w->block;
    if (i->flags & (SIM_I_BASE64 | SIM_I_STRONG) || b->shared_bytes < size) return false;
    const u32 *a = SIM_AT(u32, i->a), add = (u32)i->imm - b->shared_at,
              last = b->shared_bytes - size, odd = size - 1;
    const u32 spare = a[__builtin_ctz(m)];
    u32 bad = 0;
    for (int l = 0; l < 32; l++) {
        const u32 o = (SIM_ON(m) ? a[l] : spare) + add;
        offset[l] = o;
        bad |= (o > last ? 1 : 0) | (o & odd);
    }
    return !bad;
}

/* The pattern of the addresses in each half of a whole warp: contiguous, all equal, or neither. By
   halves, since blocks are often 16 wide. Written with vectors, which the compiler need not
   find. */
enum pattern { SCATTERED, SIDE_BY_SIDE, SAME };
#define PATTERN(NAME, T, N) \
    typedef T NAME##_lanes \
            __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias)); \
    static inline __attribute__((always_inline)) enum pattern NAME(const T *a, T size) { \
        const NAME##_lanes *v = (const void *)a; \
        NAME##_lanes step = { 0 }, moved = { 0 }, apart = { 0 }; \
        for (unsigned k = 0; k < N; k++) step[k] = k * size; \
        for (unsigned k = 0; k < 32 / N; k++) { \
            const NAME##_lanes d = v[k] - a[k * N & 16]; \
            moved |= d; \
            apart |= d - (step + k * N % 16 * size); \
        } \
        T any_moved = 0, any_apart = 0; \
        for (unsigned k = 0; k < N; k++) any_moved |= moved[k]; \
        for (unsigned k = 0; k < N; k++) any_apart |= apart[k]; \
        return !any_apart ? SIDE_BY_SIDE : !any_moved ? SAME : SCATTERED; \
    }
PATTERN(pattern32, u32, 8)
PATTERN(pattern64, u64, 4)

/* Where the bytes [at[h], at[h] + bytes) are as lane 0 sees them, if one range contains both. */
static inline __attribute__((always_inline)) bool quick(const struct sim_warp *w,
        const struct sim_insn *i, enum sim_space space, const uint64_t at[2], unsigned bytes,
        unsigned char *half[2]) {
    const struct sim_block *b = w->block;
    uint64_t lo, size;
    uintptr_t host; /* of address 0 */
    if (space == SIM_SHARED || (space == SIM_GENERIC && at[0] >> 48 == SIM_WINDOW_SHARED >> 48)) {
        lo = b->shared_at + (space == SIM_SHARED ? 0 : SIM_WINDOW_SHARED);
        size = b->shared_bytes;
        host = (uintptr_t)b->shared - lo;
    } else if (space == SIM_LOCAL) {
        lo = SIM_LOCAL_BASE;
        size = w->local_stride > SIM_LOCAL_BASE ? w->local_stride - SIM_LOCAL_BASE : 0;
        host = (uintptr_t)w->local;
    } else {
        const struct sim_range *r = remembered(w, i, at[0], bytes);
        if (!r) return false;
        lo = r->lo;
        size = r->hi - r->lo;
        host = (uintptr_t)r->delta;
    }
    if (size < bytes || at[0] - lo > size - bytes || at[1] - lo > size - bytes) return false;
    for (int h = 0; h < 2; h++) half[h] = (unsigned char *)(host + at[h]);
    return true;
}

/* The pattern of the addresses of a whole warp, size bytes a lane, and where its halves begin.
   SCATTERED also covers cases that need a full check. Registers with addresses of global memory
   have 64 bits, but for rare programs. */
static inline __attribute__((always_inline)) enum pattern halves(const struct sim_warp *w,
        const struct sim_insn *i, uint32_t m, enum sim_space space, unsigned size,
        unsigned char *half[2]) {
    enum pattern p;
    uint64_t at[2];
    if (m != ~0u || i->flags & SIM_I_STRONG) return SCATTERED;
    if (i->flags & SIM_I_BASE64) {
        const u64 *a = SIM_AT(u64, i->a);
        p = SIM_IS_CONST(i->a) ? SAME : pattern64(a, size);
        at[0] = a[0] + (uint64_t)i->imm;
        at[1] = a[16] + (uint64_t)i->imm;
    } else if (space == SIM_SHARED || space == SIM_LOCAL) {
        const u32 *a = SIM_AT(u32, i->a);
        p = SIM_IS_CONST(i->a) ? SAME : pattern32(a, size);
        at[0] = a[0] + (uint64_t)i->imm;
        at[1] = a[16] + (uint64_t)i->imm;
    } else return SCATTERED;
    if ((at[0] | at[1]) & (size - 1)) return SCATTERED;
    if (p == SAME && quick(w, i, space, at, size, half)) return SAME;
    return space != SIM_LOCAL && p == SIDE_BY_SIDE && quick(w, i, space, at, 16 * size, half)
            ? p
            : SCATTERED;
}

/* Whether a part of a warp has contiguous addresses, in elements of a size that masked moves
   support; *start: where lane 0 is, or would be. */
#define DISTANCES(T) \
    do { \
        const T *a = SIM_AT(T, i->a), origin = a[first] - (T)first * size; \
        T odd = a[last] ^ (origin + (T)last * size); \
        if (odd) return false; \
        SIM_LANES \
            odd |= SIM_ON(m) ? a[l] ^ (origin + (T)l * size) : 0; \
        if (odd) return false; \
        at[0] = a[first] + (uint64_t)i->imm; \
        at[1] = a[last] + (uint64_t)i->imm; \
    } while (0)
static inline __attribute__((always_inline)) bool side_by_side(const struct sim_warp *w,
        const struct sim_insn *i, uint32_t m, enum sim_space space, unsigned size,
        unsigned char **start) {
    const unsigned first = (unsigned)__builtin_ctz(m), last = 31 - (unsigned)__builtin_clz(m);
    unsigned char *ends[2];
    uint64_t at[2];
    if (m == ~0u || size < 4 || space == SIM_LOCAL || i->flags & SIM_I_STRONG) return false;
    if (i->flags & SIM_I_BASE64) DISTANCES(u64);
    else DISTANCES(u32);
    if (at[0] & (size - 1) || !quick(w, i, space, at, size, ends)) return false;
    *start = ends[0] - first * size;
    return true;
}

#endif
