/* ldst.c - loads, stores, cp.async. Lane operations: see lanes.h and access.h. */
#include "access.h"

#define INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define HALF_LANES SIM_IVDEP SIM_ROLLED for (unsigned l = 0; l < 16; l++)

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)

static inline uint32_t element(const struct sim_insn *i, unsigned k) {
    return k == 0 ? i->d : k == 1 ? i->b : k == 2 ? i->c : i->e;
}

/* -- the ways of a type to access memory: for each pattern of a whole warp's addresses, and for the
   rest */

#define OF_HALVES \
    struct sim_warp *w, const struct sim_insn *i, unsigned char *first, unsigned char *second
struct ways {
    void (*any)(struct sim_warp *w, const struct sim_insn *i, uint32_t m, enum sim_space space);
    void (*side)(OF_HALVES);  /* contiguous addresses in each half of the warp */
    void (*same)(OF_HALVES);  /* one address in each half */
    void (*stack)(OF_HALVES); /* one address, in each lane's own stack */
};

static INLINE void access(struct sim_warp *w, const struct sim_insn *i, uint32_t m,
        const struct ways *ways, enum sim_space space, unsigned size) {
    unsigned char *half[2];
    const enum pattern lie = halves(w, i, m, space, size, half);
    if (lie == SIDE_BY_SIDE) ways->side(w, i, half[0], half[1]);
    else if (lie == SAME) (space == SIM_LOCAL ? ways->stack : ways->same)(w, i, half[0], half[1]);
    else ways->any(w, i, m, space);
}

/* Loads and stores of one element are frequent: each has its own copy, which jumps to a known
   place. For vectors there is one for each space and size; the switch is decided when this is
   compiled. */
#define SHARED_COPY(SPACE, SIZE) \
    static NOINLINE void SPACE##_##SIZE( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t m, const struct ways *ways) { \
        access(w, i, m, ways, SPACE, SIZE); \
    }
/* clang-format off */
#define SHARED_COPIES(SPACE) \
    SHARED_COPY(SPACE, 2) SHARED_COPY(SPACE, 4) SHARED_COPY(SPACE, 8) SHARED_COPY(SPACE, 16) \
    SHARED_COPY(SPACE, 32) \
    static INLINE void NAME(vector_, SPACE)(struct sim_warp *w, const struct sim_insn *i, \
        uint32_t m, \
        const struct ways *ways, unsigned size) { \
        switch (size) { \
        case 2: SPACE##_2(w, i, m, ways); break; \
        case 4: SPACE##_4(w, i, m, ways); break; \
        case 8: SPACE##_8(w, i, m, ways); break; \
        case 16: SPACE##_16(w, i, m, ways); break; \
        default: SPACE##_32(w, i, m, ways); \
        } \
    }
/* clang-format on */
SHARED_COPIES(SIM_GLOBAL)
SHARED_COPIES(SIM_SHARED)
SHARED_COPIES(SIM_LOCAL)
SHARED_COPIES(SIM_GENERIC)

/* -- the handlers of each type: "ld_global_u8_v2" ... */

/* clang-format off */
#define EACH_SPACE(OP, TYPE, WAYS) \
    EACH_WIDTH(OP##_global_, TYPE, WAYS, SIM_GLOBAL) \
    EACH_WIDTH(OP##_shared_, TYPE, WAYS, SIM_SHARED) \
    EACH_WIDTH(OP##_local_, TYPE, WAYS, SIM_LOCAL) \
    EACH_WIDTH(OP##_generic_, TYPE, WAYS, SIM_GENERIC)
/* clang-format on */
#define EACH_WIDTH(WHERE, TYPE, WAYS, SPACE) \
    SIM_HANDLER(NAME(WHERE, TYPE)) { access(w, i, m, &WAYS[0], SPACE, SIZE(1)); } \
    SIM_HANDLER(NAME(NAME(WHERE, TYPE), _v2)) { \
        NAME(vector_, SPACE)(w, i, m, &WAYS[1], SIZE(2)); \
    } \
    SIM_HANDLER(NAME(NAME(WHERE, TYPE), _v4)) { NAME(vector_, SPACE)(w, i, m, &WAYS[2], SIZE(4)); }

#define LOAD u8
#define STORE 8
#define MEMORY u8
#define LANE u32
#include "ldst_type.h"
#define LOAD s8
#define MEMORY s8
#define LANE u32
#include "ldst_type.h"
#define LOAD u16
#define STORE 16
#define MEMORY u16
#define LANE u32
#include "ldst_type.h"
#define LOAD s16
#define MEMORY s16
#define LANE u32
#include "ldst_type.h"
#define LOAD 32
#define STORE 32
#define MEMORY u32
#define LANE u32
#include "ldst_type.h"
#define LOAD 64
#define STORE 64
#define MEMORY u64
#define LANE u64
#include "ldst_type.h"

/* cp.async [d], [a], size, source size: d shared. Executed at once, so waiting for it does nothing.
   b: source size or sink. */
SIM_HANDLER(cp_async) {
    const unsigned size = i->width;
    SIM_EACH_LANE (m) {
        uint64_t to = i->flags & SIM_I_COUNT ? SIM_AT(u64, i->d)[l] : SIM_AT(u32, i->d)[l];
        uint64_t from = i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l] : SIM_AT(u32, i->a)[l];
        uint32_t bytes = i->flags & SIM_I_SINK ? size : SIM_AT(u32, i->b)[l];
        unsigned char *p = sim_at(w, i, (int)l, SIM_SHARED, to + (uint64_t)(i->imm >> 32), size,
                "cp.async to shared memory");
        if (!p) return;
        unsigned char data[16] = { 0 };
        if (bytes > size) bytes = size;
        if (bytes) {
            const unsigned char *q = sim_at(w, i, (int)l, SIM_GLOBAL,
                    from + (uint64_t)(int32_t)i->imm, size, "read by cp.async");
            if (!q) return;
            memcpy(data, q, bytes);
        }
        memcpy(p, data, size);
    }
}

#define WIDTHS(n, t, h) SIM_OP(n, t, PLAIN, h), SIM_OP(n, t, V2, h##_v2), SIM_OP(n, t, V4, h##_v4)
#define ONE(n, t, h) SIM_OP(n, t, PLAIN, h)
#define LOAD_OPS(X, s) \
    X(ld_##s, U8, ld_##s##_u8), X(ld_##s, S8, ld_##s##_s8), X(ld_##s, U16, ld_##s##_u16), \
            X(ld_##s, S16, ld_##s##_s16), X(ld_##s, U32, ld_##s##_32), X(ld_##s, U64, ld_##s##_64)
#define STORE_OPS(s) \
    WIDTHS(st_##s, U8, st_##s##_8), WIDTHS(st_##s, U16, st_##s##_16), \
            WIDTHS(st_##s, U32, st_##s##_32), WIDTHS(st_##s, U64, st_##s##_64)
const struct sim_operation SIM_ISA(sim_ldst_table)[] = { LOAD_OPS(WIDTHS, global),
    LOAD_OPS(WIDTHS, shared), LOAD_OPS(WIDTHS, local), LOAD_OPS(WIDTHS, generic), STORE_OPS(global),
    STORE_OPS(shared), STORE_OPS(local), STORE_OPS(generic), LOAD_OPS(ONE, param),
    LOAD_OPS(ONE, param_at), SIM_UNTYPED(cp_async), SIM_END };
