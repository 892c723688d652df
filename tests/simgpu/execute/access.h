/* access.h - addresses of a whole warp at once, for ldst.c and atom.c.

   An access first tries one span for all lanes: the block's remembered range of global memory, its shared memory, or
   the lanes' stacks. One check covers all lanes, so no lane needs its own. Accesses outside a span go lane by lane
   through sim_at, which raises faults. Inactive lanes hold the address of the first active lane, so that checks need no
   mask. */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include "../base/lanes.h"
#include "execute.h"

struct span { uint64_t lo, hi; uintptr_t host; uint64_t stride; }; /* host is the (possibly wrapped) address
                                                                      of device address 0 for lane 0 */

static inline void addresses(struct sim_warp *w, const struct sim_insn *i, uint32_t m, u64 *addr) {
    const int first = __builtin_ctz(m);
    const uint64_t imm = (uint64_t)i->imm;
    if (i->flags & SIM_I_BASE64) {
        const u64 *a = SIM_AT(u64, i->a), spare = a[first];
        SIM_LANES addr[l] = (SIM_ON(m) ? a[l] : spare) + imm;
    } else {
        const u32 *a = SIM_AT(u32, i->a), spare = a[first];
        SIM_LANES addr[l] = (u64)(SIM_ON(m) ? a[l] : spare) + imm;
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

static inline bool span_global(struct sim_warp *w, const struct sim_insn *i, const u64 *addr, unsigned size,
                               struct span *s) {
    struct sim_range *r = &w->block->ranges[i->slot];
    if (r->generation != __atomic_load_n(&sim_mem_generation, __ATOMIC_RELAXED) || addr[0] - r->lo >= r->hi - r->lo)
        if (!sim_find_range(w->block, addr[0], size, r)) {
            r->generation = 0;
            r->lo = r->hi = 0;
            return false;
        }
    s->lo = r->lo;
    s->hi = r->hi;
    s->stride = 0;
    s->host = (uintptr_t)r->delta;
    return true;
}

/* The span that contains all addresses, which become offsets from s->host; false: go lane by lane. */
static inline bool locate(struct sim_warp *w, const struct sim_insn *i, enum sim_space space, u64 *addr, unsigned size,
    struct span *s) {
    if (space == SIM_GENERIC) {
        const u64 window = addr[0] >> 48;
        u64 other = 0;
        for (int l = 0; l < 32; l++) other |= addr[l] >> 48 ^ window;
        if (other || window > 2) return false;
        space = window == 0 ? SIM_GLOBAL : window == 1 ? SIM_SHARED : SIM_LOCAL;
        u64 moved[32];
        SIM_LANES moved[l] = addr[l] & SIM_WINDOW_OFFSET;
        if (space == SIM_LOCAL) span_local(w, s);
        else if (space == SIM_SHARED) {
            const struct sim_block *owner = sim_shared_owner(w->block, SIM_GENERIC, addr[0]);
            if (!owner || !owner->live) return false;
            span_shared(owner, s);
        }
        else if (!span_global(w, i, addr, size, s)) return false;
        if (!covers(s, moved, size)) return false;
        memcpy(addr, moved, sizeof moved);
        return true;
    }
    if (space == SIM_SHARED) span_shared(w->block, s);
    else if (space == SIM_LOCAL) span_local(w, s);
    else if (space == SIM_PARAM || !span_global(w, i, addr, size, s)) return false;
    return covers(s, addr, size);
}

/* The same for shared memory with 32-bit addresses, with half the work: offsets in the block's shared memory. */
static inline bool locate_shared(struct sim_warp *w, const struct sim_insn *i, uint32_t m, unsigned size, u32 *offset) {
    const struct sim_block *b = w->block;
    if (i->flags & (SIM_I_BASE64 | SIM_I_STRONG) || b->shared_bytes < size) return false;
    const u32 *a = SIM_AT(u32, i->a), add = (u32)i->imm - b->shared_at, last = b->shared_bytes - size,
              odd = size - 1;
    const u32 spare = a[__builtin_ctz(m)];
    u32 bad = 0;
    for (int l = 0; l < 32; l++) {
        const u32 o = (SIM_ON(m) ? a[l] : spare) + add;
        offset[l] = o;
        bad |= (o > last ? 1 : 0) | (o & odd);
    }
    return !bad;
}

/* Whether the active lanes' addresses are contiguous, in elements of a size that masked moves support. */
static inline bool side_by_side(const u64 *addr, uint32_t m, const struct span *s, unsigned size) {
    const unsigned first = (unsigned)__builtin_ctz(m);
    const u64 start = addr[first] - first * size;
    u64 odd = 0;
    if (size < 4 || s->stride) return false;
    SIM_LANES odd |= SIM_ON(m) ? addr[l] ^ (start + (u64)l * size) : 0;
    return !odd;
}

/* The pattern of the addresses in each half of a whole warp: contiguous, all
   equal, or neither. By halves, since blocks are often 16 wide. */
enum pattern { SCATTERED, SIDE_BY_SIDE, SAME };
#define PATTERN(NAME, T) \
    static inline __attribute__((always_inline)) T NAME##_odd(const T *a, T size) { \
        T odd = 0; \
        SIM_ROLLED for (int l = 0; l < 16; l++) odd |= a[l] ^ (a[0] + (T)l * size); \
        return odd; \
        } \
    static inline __attribute__((always_inline)) enum pattern NAME(const T *a, T size) { \
        return !(NAME##_odd(a, size) | NAME##_odd(a + 16, size)) ? SIDE_BY_SIDE : \
            !(NAME##_odd(a, 0) | NAME##_odd(a + 16, 0)) ? SAME : SCATTERED; \
            }
PATTERN(pattern32, u32)
PATTERN(pattern64, u64)

/* The bytes [a, a + bytes) as lane 0 sees them, if one test against the remembered ranges finds them; else NULL. */
static inline __attribute__((always_inline)) unsigned char *quick(const struct sim_warp *w, const struct sim_insn *i,
    enum sim_space space, uint64_t a, unsigned bytes) {
    const struct sim_block *b = w->block;
    if (space == SIM_GENERIC) {
        space = a >> 48 == SIM_WINDOW_SHARED >> 48 ? SIM_SHARED : SIM_GLOBAL;
        a = space == SIM_SHARED ? a - SIM_WINDOW_SHARED : a;
    }
    if (space == SIM_GLOBAL) {
        const struct sim_range *r = &b->ranges[i->slot];
        const bool there = r->generation == __atomic_load_n(&sim_mem_generation, __ATOMIC_RELAXED) && a >= r->lo
                           && a < r->hi && r->hi - a >= bytes;
        return there ? (unsigned char *)(uintptr_t)(a + (uint64_t)r->delta) : NULL;
    }
    if (space == SIM_SHARED)
        return b->shared_bytes >= bytes && a - b->shared_at <= b->shared_bytes - bytes ?
                   b->shared + (a - b->shared_at) :
                   NULL;
    return w->local_stride >= bytes && a >= SIM_LOCAL_BASE && a <= w->local_stride - bytes ? w->local + a : NULL;
}

/* For whole warps, size bytes a lane: the pattern of the addresses, and where the
   halves begin. SCATTERED also covers cases that need a full check. */
static inline __attribute__((always_inline)) enum pattern halves(const struct sim_warp *w, const struct sim_insn *i,
    uint32_t m, enum sim_space space, unsigned size, unsigned char *half[2]) {
    enum pattern p;
    uint64_t at[2];
    if (m != ~0u || i->flags & SIM_I_STRONG) return SCATTERED;
    if (i->flags & SIM_I_BASE64) {
        const u64 *a = SIM_AT(u64, i->a);
        p = SIM_IS_CONST(i->a) ? SAME : pattern64(a, size);
        at[0] = a[0] + (uint64_t)i->imm;
        at[1] = a[16] + (uint64_t)i->imm;
    } else {
        const u32 *a = SIM_AT(u32, i->a);
        p = SIM_IS_CONST(i->a) ? SAME : pattern32(a, size);
        at[0] = a[0] + (uint64_t)i->imm;
        at[1] = a[16] + (uint64_t)i->imm;
    }
    if (p == SCATTERED || (space == SIM_LOCAL && p != SAME) || (at[0] | at[1]) & (size - 1)) return SCATTERED;
    for (int h = 0; h < 2; h++)
        if (!(half[h] = quick(w, i, space, at[h], p == SAME ? size : 16 * size))) return SCATTERED;
    return p;
}

#endif
