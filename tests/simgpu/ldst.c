/* ldst.c - loads, stores, cp.async. Lane operations: see lanes.h and access.h. */
#include "access.h"

static inline uint32_t element(const struct sim_insn *i, unsigned k)
{
    return k == 0 ? i->d : k == 1 ? i->b : k == 2 ? i->c : i->e;
}

#define AT(T, s, l) ((const T *)(const void *)((s).host + addr[l] + (l) * (s).stride))
/* all 32 lanes, n elements each, from P(l) */
#define LOAD_ALL(D, P) do { \
    D *d[4]; \
    for (unsigned k = 0; k < n; k++) d[k] = SIM_AT(D, element(i, k)); \
    if (n == 1) SIM_UNROLL for (unsigned l = 0; l < 32; l++) d[0][l] = (D)*(P); \
    else if (n == 2) SIM_UNROLL for (unsigned l = 0; l < 32; l++) { d[0][l] = (D)(P)[0]; d[1][l] = (D)(P)[1]; } \
    else SIM_UNROLL for (unsigned l = 0; l < 32; l++) { \
        d[0][l] = (D)(P)[0]; d[1][l] = (D)(P)[1]; d[2][l] = (D)(P)[2]; d[3][l] = (D)(P)[3]; \
    } } while (0)
#define LOAD(NAME, SPACE, D, T) SIM_HANDLER(NAME) { \
    u64 addr[32]; struct span s; const unsigned n = i->width, size = (unsigned)sizeof(T) * n; \
    if (SPACE == SIM_SHARED && m == ~0u) { \
        u32 offset[32]; const unsigned char *shared = w->block->shared; \
        if (locate_shared(w, i, size, offset)) { \
            if (n == 1 && sizeof(D) == sizeof(T) && contiguous32(offset, sizeof(T))) \
                memcpy(SIM_AT(D, i->d), shared + offset[0], 32 * sizeof(T)); \
            else LOAD_ALL(D, (const T *)(const void *)(shared + offset[l])); \
            return; \
        } \
    } \
    addresses(w, i, m, addr); \
    const bool strong = i->flags & SIM_I_STRONG; \
    D v[4][32]; \
    if (locate(w, i, SPACE, addr, size, &s)) { \
        if (m == ~0u && !strong) { \
            if (n == 1 && SPACE != SIM_LOCAL && sizeof(D) == sizeof(T) && !s.stride && contiguous(addr, sizeof(T))) \
                memcpy(SIM_AT(D, i->d), (const void *)(s.host + addr[0]), 32 * sizeof(T)); \
            else LOAD_ALL(D, AT(T, s, l)); \
            return; \
        } \
        for (unsigned l = 0; l < 32; l++) for (unsigned k = 0; k < n; k++) \
            v[k][l] = (D)__atomic_load_n(AT(T, s, l) + k, __ATOMIC_RELAXED); \
    } else { \
        memset(v, 0, sizeof v); \
        SIM_EACH_LANE(m) { \
            const T *p = sim_at(w, i, (int)l, SPACE, addr[l], size, "load"); \
            if (!p) return; \
            for (unsigned k = 0; k < n; k++) v[k][l] = (D)__atomic_load_n(p + k, __ATOMIC_RELAXED); \
        } \
    } \
    if (strong) { \
        D *d = SIM_AT(D, i->d), changed = 0; \
        for (int l = 0; l < 32; l++) changed |= SIM_ON(m) ? d[l] ^ v[0][l] : 0; \
        if (changed) w->progress = true; else w->spin = true; \
        __atomic_thread_fence(__ATOMIC_ACQUIRE); \
    } \
    for (unsigned k = 0; k < n; k++) { D *d = SIM_AT(D, element(i, k)); SIM_LANES d[l] = SIM_ON(m) ? v[k][l] : d[l]; } }

#define STORE(NAME, SPACE, S, T) SIM_HANDLER(NAME) { \
    u64 addr[32]; struct span s; const unsigned n = i->width, size = (unsigned)sizeof(T) * n; \
    if (SPACE == SIM_SHARED && m == ~0u && n == 1) { \
        u32 offset[32]; unsigned char *shared = w->block->shared; const S *v = SIM_AT(S, i->d); \
        if (locate_shared(w, i, size, offset)) { \
            if (sizeof(S) == sizeof(T) && contiguous32(offset, sizeof(T))) memcpy(shared + offset[0], v, 32 * sizeof(T)); \
            else SIM_UNROLL for (unsigned l = 0; l < 32; l++) *(T *)(void *)(shared + offset[l]) = (T)v[l]; \
            return; \
        } \
    } \
    addresses(w, i, m, addr); \
    if (i->flags & SIM_I_STRONG) __atomic_thread_fence(__ATOMIC_SEQ_CST); \
    if (locate(w, i, SPACE, addr, size, &s)) { \
        if (n == 1) { \
            const S *v = SIM_AT(S, i->d); \
            if (m == ~0u && !(i->flags & SIM_I_STRONG) && sizeof(S) == sizeof(T) && !s.stride && contiguous(addr, sizeof(T))) { \
                memcpy((void *)(s.host + addr[0]), v, 32 * sizeof(T)); \
                return; \
            } \
            SIM_EACH_LANE(m) __atomic_store_n((T *)(void *)(s.host + addr[l] + l * s.stride), (T)v[l], __ATOMIC_RELAXED); \
        } else SIM_EACH_LANE(m) for (unsigned k = 0; k < n; k++) \
            __atomic_store_n((T *)(void *)(s.host + addr[l] + l * s.stride) + k, (T)SIM_AT(S, element(i, k))[l], \
                __ATOMIC_RELAXED); \
    } else { \
        SIM_EACH_LANE(m) { \
            T *p = sim_at(w, i, (int)l, SPACE, addr[l], size, "store"); \
            if (!p) return; \
            for (unsigned k = 0; k < n; k++) __atomic_store_n(p + k, (T)SIM_AT(S, element(i, k))[l], __ATOMIC_RELAXED); \
        } \
    } }

#define SPACES(X, ...) X(global, SIM_GLOBAL, __VA_ARGS__) X(shared, SIM_SHARED, __VA_ARGS__) X(local, SIM_LOCAL, __VA_ARGS__) \
    X(generic, SIM_GENERIC, __VA_ARGS__)
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

/* a kernel's parameter at a fixed place: the same for all lanes; decode.c checked the bounds */
#define PARAM(NAME, D, T) SIM_HANDLER(NAME) { \
    for (unsigned k = 0; k < i->width; k++) { \
        T t; memcpy(&t, w->block->grid->params + i->imm + k * sizeof(T), sizeof t); \
        const D v = (D)t; D *d = SIM_AT(D, element(i, k)); \
        SIM_LANES d[l] = SIM_ON(m) ? v : d[l]; \
    } }
PARAM(ld_param_u8, u32, u8)
PARAM(ld_param_s8, u32, s8)
PARAM(ld_param_u16, u32, u16)
PARAM(ld_param_s16, u32, s16)
PARAM(ld_param_32, u32, u32)
PARAM(ld_param_64, u64, u64)
LOAD(ld_param_at_u8, SIM_PARAM, u32, u8)
LOAD(ld_param_at_s8, SIM_PARAM, u32, s8)
LOAD(ld_param_at_u16, SIM_PARAM, u32, u16)
LOAD(ld_param_at_s16, SIM_PARAM, u32, s16)
LOAD(ld_param_at_32, SIM_PARAM, u32, u32)
LOAD(ld_param_at_64, SIM_PARAM, u64, u64)

/* cp.async [d], [a], size, source size: d shared. Done at once: waiting for it is then nothing. b: source size or sink. */
SIM_HANDLER(cp_async)
{
    const unsigned size = i->width;
    SIM_EACH_LANE(m) {
        uint64_t to = i->flags & SIM_I_COUNT ? SIM_AT(u64, i->d)[l] : SIM_AT(u32, i->d)[l];
        uint64_t from = i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l] : SIM_AT(u32, i->a)[l];
        uint32_t bytes = i->flags & SIM_I_SINK ? size : SIM_AT(u32, i->b)[l];
        unsigned char *p = sim_at(w, i, (int)l, SIM_SHARED, to + (uint64_t)(i->imm >> 32), size, "cp.async to shared memory");
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

#define E(n) SIM_E(n)
#define EL(s) E(ld_##s##_u8), E(ld_##s##_s8), E(ld_##s##_u16), E(ld_##s##_s16), E(ld_##s##_32), E(ld_##s##_64)
#define ES(s) E(st_##s##_8), E(st_##s##_16), E(st_##s##_32), E(st_##s##_64)
const struct sim_entry SIM_ISA(sim_ldst_table)[] = {
    EL(global), EL(shared), EL(local), EL(generic), ES(global), ES(shared), ES(local), ES(generic), EL(param), EL(param_at),
    E(cp_async), { NULL, NULL }
};
#undef E
