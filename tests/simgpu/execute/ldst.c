/* ldst.c - loads, stores, cp.async. Lane operations: see lanes.h and access.h. */
#include "access.h"

static inline uint32_t element(const struct sim_insn *i, unsigned k) {
    return k == 0 ? i->d : k == 1 ? i->b : k == 2 ? i->c : i->e;
}

/* Whole warps are handled by the pattern of their addresses, with one handler for each number n of elements: 1, 2, 4.
   The rest goes through NAME_any: all at once if one span contains all addresses, else lane by lane. In local memory
   the lanes' stacks are `stride` apart. */
#define BY_ELEMENTS(X) do { if (n == 1) { X(1) } else if (n == 2) { X(2) } else { X(4) } } while (0)
#define FOR_ELEMENTS(X, NAME, ...) \
    X(NAME, NAME, 1, __VA_ARGS__) X(NAME##_v2, NAME, 2, __VA_ARGS__) X(NAME##_v4, NAME, 4, __VA_ARGS__)
#define HALF_LANES SIM_IVDEP for (unsigned l = 0; l < 16; l++)
#define ELEMENTS for (unsigned k = 0; k < n; k++)
#define AT(T, s, l) ((T *)(void *)((s).host + addr[l] + (l) * (s).stride))

#define LOAD_OFFSETS(N) for (unsigned l = 0; l < 32; l++) for (unsigned k = 0; k < N; k++) \
    d[k][l] = ((const from *)(const void *)(shared + offset[l]))[k];
#define LOAD_SPAN(N) \
    for (unsigned l = 0; l < 32; l++) \
        for (unsigned k = 0; k < N; k++) d[k][l] = AT(const from, s, l)[k];
#define LOAD_ANY(NAME, SPACE, D, T) \
    static __attribute__((noinline)) void NAME##_any(struct sim_warp *w, const struct sim_insn *i, uint32_t m) { \
        typedef T from; \
        u64 addr[32]; \
        struct span s; \
        const unsigned n = i->width, size = (unsigned)sizeof(T) * n; \
        const bool strong = i->flags & SIM_I_STRONG; \
        D *d[4], changed = 0; \
        ELEMENTS d[k] = SIM_AT(D, element(i, k)); \
        if (SPACE == SIM_SHARED) { \
            u32 offset[32]; \
            const unsigned char *shared = w->block->shared; \
            if (locate_shared(w, i, m, size, offset)) { \
                if (m == ~0u) BY_ELEMENTS(LOAD_OFFSETS); \
                else SIM_EACH_LANE(m) ELEMENTS d[k][l] = ((const T *)(const void *)(shared + offset[l]))[k]; \
                return; \
            } \
        } \
        addresses(w, i, m, addr); \
        const bool one = locate(w, i, SPACE, addr, size, &s); \
        if (one && !strong && m == ~0u) { \
            BY_ELEMENTS(LOAD_SPAN); \
            return; \
        } \
        if (one && !strong && n == 1 && side_by_side(addr, m, &s, sizeof(T))) { \
            const T *p = AT(const T, s, __builtin_ctz(m)) - __builtin_ctz(m); \
            SIM_LANES d[0][l] = SIM_ON(m) ? (D)p[l] : d[0][l]; \
            return; \
        } \
        SIM_EACH_LANE(m) { \
            u64 copy[4]; \
            const T *p = one ? AT(const T, s, l) : \
                i->unused ? sim_at_used(w, i, (int)l, SPACE, addr[l], size, copy) : \
                sim_at(w, i, (int)l, SPACE, addr[l], size, "load"); \
            if (!p) return; \
            ELEMENTS { const D v = (D)__atomic_load_n(p + k, __ATOMIC_RELAXED); changed |= d[k][l] ^ v; d[k][l] = v; } \
        } \
        if (!strong) return; \
        if (changed) w->progress = true; else w->spin = true; \
        __atomic_thread_fence(__ATOMIC_ACQUIRE); \
    }
#define LOAD_QUICK(NAME, ANY, N, SPACE, D, T) SIM_HANDLER(NAME) { \
    enum { n = N }; \
    const unsigned stride = SPACE == SIM_LOCAL ? w->local_stride : 0; \
    unsigned char *half[2]; \
    const enum pattern lie = halves(w, i, m, SPACE, (unsigned)sizeof(T) * n, half); \
    if (lie == SCATTERED) { \
        ANY##_any(w, i, m); \
        return; \
    } \
    for (unsigned h = 0; h < 2; h++) { \
        const T *p = (const T *)(const void *)half[h]; \
        D *d[n]; \
        ELEMENTS d[k] = SIM_AT(D, element(i, k)) + 16 * h; \
        if (lie == SIDE_BY_SIDE) HALF_LANES ELEMENTS d[k][l] = p[n * l + k]; \
        else if (SPACE != SIM_LOCAL) ELEMENTS { const D v = (D)p[k]; HALF_LANES d[k][l] = v; } \
        else HALF_LANES ELEMENTS d[k][l] = (D)((const T *)(const void *)(half[h] + (16 * h + l) * stride))[k]; \
    } }
#define LOAD(NAME, ...) LOAD_ANY(NAME, __VA_ARGS__) FOR_ELEMENTS(LOAD_QUICK, NAME, __VA_ARGS__)

#define STORE_OFFSETS(N) \
    for (unsigned l = 0; l < 32; l++) \
        for (unsigned k = 0; k < N; k++) ((to *)(void *)(shared + offset[l]))[k] = (to)v[k][l];
#define STORE_ANY(NAME, SPACE, S, T) \
    static __attribute__((noinline)) void NAME##_any(struct sim_warp *w, const struct sim_insn *i, uint32_t m) { \
        typedef T to; \
        u64 addr[32]; \
        struct span s; \
        const unsigned n = i->width, size = (unsigned)sizeof(T) * n; \
        const S *v[4]; \
        ELEMENTS v[k] = SIM_AT(S, element(i, k)); \
        if (SPACE == SIM_SHARED) { \
            u32 offset[32]; \
            unsigned char *shared = w->block->shared; \
            if (locate_shared(w, i, m, size, offset)) { \
                if (m == ~0u) BY_ELEMENTS(STORE_OFFSETS); \
                else SIM_EACH_LANE(m) ELEMENTS ((T *)(void *)(shared + offset[l]))[k] = (T)v[k][l]; \
                return; \
            } \
        } \
        addresses(w, i, m, addr); \
        if (i->flags & SIM_I_STRONG) __atomic_thread_fence(__ATOMIC_SEQ_CST); \
        const bool one = locate(w, i, SPACE, addr, size, &s); \
        if (one && n == 1 && !(i->flags & SIM_I_STRONG) && side_by_side(addr, m, &s, sizeof(T))) { \
            T *p = AT(T, s, __builtin_ctz(m)) - __builtin_ctz(m); \
            SIM_LANES if (SIM_ON(m)) p[l] = (T)v[0][l]; \
            return; \
        } \
        SIM_EACH_LANE(m) { \
            T *p = one ? AT(T, s, l) : sim_at(w, i, (int)l, SPACE, addr[l], size, "store"); \
            if (!p) return; \
            ELEMENTS __atomic_store_n(p + k, (T)v[k][l], __ATOMIC_RELAXED); \
        } \
    }
#define STORE_QUICK(NAME, ANY, N, SPACE, S, T) SIM_HANDLER(NAME) { \
    enum { n = N }; \
    const unsigned stride = SPACE == SIM_LOCAL ? w->local_stride : 0; \
    unsigned char *half[2]; \
    const enum pattern lie = halves(w, i, m, SPACE, (unsigned)sizeof(T) * n, half); \
    if (lie == SCATTERED) { \
        ANY##_any(w, i, m); \
        return; \
    } \
    for (unsigned h = 0; h < 2; h++) { \
        T *p = (T *)(void *)half[h]; \
        const S *v[n]; \
        ELEMENTS v[k] = SIM_AT(S, element(i, k)) + 16 * h; \
        if (lie == SIDE_BY_SIDE) HALF_LANES ELEMENTS p[n * l + k] = (T)v[k][l]; \
        else for (unsigned l = 0; l < 16; l++) \
            ELEMENTS ((T *)(void *)(half[h] + (16 * h + l) * stride))[k] = (T)v[k][l]; \
    } }
#define STORE(NAME, ...) STORE_ANY(NAME, __VA_ARGS__) FOR_ELEMENTS(STORE_QUICK, NAME, __VA_ARGS__)

#define SPACES(X, ...) X(global, SIM_GLOBAL, __VA_ARGS__) X(shared, SIM_SHARED, __VA_ARGS__) \
    X(local, SIM_LOCAL, __VA_ARGS__) X(generic, SIM_GENERIC, __VA_ARGS__)
#define LOADS(SN, SPACE, TN, D, T) LOAD(ld_##SN##_##TN, SPACE, D, T)
#define STORES(SN, SPACE, TN, S, T) STORE(st_##SN##_##TN, SPACE, S, T)
SPACES(LOADS, u8, u32, u8)
SPACES(LOADS, s8, u32, s8)
SPACES(LOADS, u16, u32, u16)
SPACES(LOADS, s16, u32, s16)
SPACES(LOADS, 32, u32, u32)
SPACES(LOADS, 64, u64, u64)
SPACES(STORES, 8, u32, u8)
SPACES(STORES, 16, u32, u16)
SPACES(STORES, 32, u32, u32)
SPACES(STORES, 64, u64, u64)

/* a kernel's parameter at a fixed offset: the same for all lanes; decode.c checked the bounds */
#define PARAM(NAME, D, T) SIM_HANDLER(NAME) { \
    for (unsigned k = 0; k < i->width; k++) { \
        T t; \
        memcpy(&t, w->block->grid->params + i->imm + k * sizeof(T), sizeof t); \
        const D v = (D)t; \
        D *d = SIM_AT(D, element(i, k)); \
        SIM_LANES d[l] = SIM_ON(m) ? v : d[l]; \
    } }
PARAM(ld_param_u8, u32, u8)
PARAM(ld_param_s8, u32, s8)
PARAM(ld_param_u16, u32, u16)
PARAM(ld_param_s16, u32, s16)
PARAM(ld_param_32, u32, u32)
PARAM(ld_param_64, u64, u64)
LOAD_ANY(ld_param_at_u8, SIM_PARAM, u32, u8)
LOAD_ANY(ld_param_at_s8, SIM_PARAM, u32, s8)
LOAD_ANY(ld_param_at_u16, SIM_PARAM, u32, u16)
LOAD_ANY(ld_param_at_s16, SIM_PARAM, u32, s16)
LOAD_ANY(ld_param_at_32, SIM_PARAM, u32, u32)
LOAD_ANY(ld_param_at_64, SIM_PARAM, u64, u64)

/* cp.async [d], [a], size, source size: d shared. Executed at once, so
   waiting for it does nothing. b: source size or sink. */
SIM_HANDLER(cp_async) {
    const unsigned size = i->width;
    SIM_EACH_LANE(m) {
        uint64_t to = i->flags & SIM_I_COUNT ? SIM_AT(u64, i->d)[l] : SIM_AT(u32, i->d)[l];
        uint64_t from = i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l] : SIM_AT(u32, i->a)[l];
        uint32_t bytes = i->flags & SIM_I_SINK ? size : SIM_AT(u32, i->b)[l];
        unsigned char *p =
            sim_at(w, i, (int)l, SIM_SHARED, to + (uint64_t)(i->imm >> 32), size, "cp.async to shared memory");
        if (!p) return;
        unsigned char data[16] = { 0 };
        if (bytes > size) bytes = size;
        if (bytes) {
            const unsigned char *q = sim_at(w, i, (int)l, SIM_GENERIC, from + (uint64_t)(int32_t)i->imm, size,
                "cp.async from global memory");
            if (!q) return;
            memcpy(data, q, bytes);
        }
        memcpy(p, data, size);
    }
}

#define WIDTHS(n, t, h) SIM_OP(n, t, PLAIN, h), SIM_OP(n, t, V2, h##_v2), SIM_OP(n, t, V4, h##_v4)
#define ONE(n, t, h) SIM_OP(n, t, PLAIN, h)
#define ANY(n, t, h) SIM_OP(n, t, PLAIN, h##_any)
#define LOAD_OPS(X, s) X(ld_##s, U8, ld_##s##_u8), X(ld_##s, S8, ld_##s##_s8), X(ld_##s, U16, ld_##s##_u16), \
    X(ld_##s, S16, ld_##s##_s16), X(ld_##s, U32, ld_##s##_32), X(ld_##s, U64, ld_##s##_64)
#define STORE_OPS(s) WIDTHS(st_##s, U8, st_##s##_8), WIDTHS(st_##s, U16, st_##s##_16), \
    WIDTHS(st_##s, U32, st_##s##_32), WIDTHS(st_##s, U64, st_##s##_64)
const struct sim_operation SIM_ISA(sim_ldst_table)[] = {
    LOAD_OPS(WIDTHS, global), LOAD_OPS(WIDTHS, shared), LOAD_OPS(WIDTHS, local), LOAD_OPS(WIDTHS, generic),
    STORE_OPS(global), STORE_OPS(shared), STORE_OPS(local), STORE_OPS(generic), LOAD_OPS(ONE, param),
    LOAD_OPS(ANY, param_at), SIM_UNTYPED(cp_async), SIM_END
};
