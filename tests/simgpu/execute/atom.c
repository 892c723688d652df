/* atom.c - atom, red, and mbarriers.

   Global memory uses host atomics, since other workers run other blocks; shared memory uses plain
   accesses, since a block runs on one worker at a time. Lanes go in order; lanes with the same
   address become one host atomic, which only reads if they change nothing, so that the cache line
   can stay with both workers. An atomic that changes nothing marks the loop around it as a spin. */
#include "access.h"
#include "../base/floats.h"
#include "mbarrier.h"

#define SPACE_OF(i) ((enum sim_space)(i)->width)

/* NAME: destination and operand lanes D, memory type T, V the new value from old, y, z; ADDS: V is
   old + y, for which the host has an atomic */
#define ATOM(NAME, D, T, V) ATOM_(NAME, D, T, V, 0)
#define ATOM_(NAME, D, T, V, ADDS) \
    SIM_HANDLER(NAME) { \
        u64 addr[32]; \
        struct span s = { 0 }; \
        const bool fast = locate(w, i, m, SPACE_OF(i), sizeof(T), addr, &s); \
        D *d = SIM_AT(D, i->d); \
        const D *b = SIM_AT(D, i->b), *c = SIM_AT(D, i->c); \
        const bool sink = i->flags & SIM_I_SINK; \
        const unsigned char *shared = w->block->shared; \
        const uint32_t shared_bytes = w->block->shared_bytes; \
        bool changed = false; \
        if (fast && !s.stride && pattern64(addr, sizeof(T)) == SAME && addr[0] == addr[16]) { \
            T *p = (T *)(void *)(s.host + addr[0]), before = __atomic_load_n(p, __ATOMIC_RELAXED), \
              old, next, found[32]; \
            const bool near = (uintptr_t)p - (uintptr_t)shared < shared_bytes; \
            (void)near; \
            do { \
                old = before; \
                changed = false; \
                SIM_EACH_LANE (m) { \
                    const T y = (T)b[l], z = (T)c[l]; \
                    (void)y; \
                    (void)z; \
                    next = (T)(V); \
                    changed |= next != old; \
                    found[l] = old; \
                    old = next; \
                } \
            } while (changed && \
                    !__atomic_compare_exchange_n( \
                            p, &before, old, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
            if (!sink) \
                SIM_EACH_LANE (m) d[l] = (D)found[l]; \
        } else \
            SIM_EACH_LANE (m) { \
                T *p = fast \
                        ? (T *)(void *)(s.host + addr[l] + l * s.stride) \
                        : (T *)sim_at(w, i, (int)l, SPACE_OF(i), addr[l], sizeof(T), "atomic"); \
                if (!p) return; \
                const T y = (T)b[l], z = (T)c[l]; \
                T old, next; \
                (void)y; \
                (void)z; \
                const bool near = (uintptr_t)p - (uintptr_t)shared < shared_bytes; \
                if (near) { \
                    old = *p; \
                    next = (T)(V); \
                    *p = next; \
                } else if (ADDS) { \
                    old = __atomic_fetch_add(p, y, __ATOMIC_SEQ_CST); \
                    next = (T)(V); \
                } else { \
                    old = __atomic_load_n(p, __ATOMIC_RELAXED); \
                    do next = (T)(V); \
                    while (!__atomic_compare_exchange_n( \
                            p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
                } \
                changed |= next != old; \
                if (!sink) d[l] = (D)old; \
            } \
        if (changed) w->progress = true; \
        else w->spin = true; \
    }

/* clang-format off */
#define INT_ATOMS(N, U, S) \
    ATOM_(atom_add_##N, U, U, old + y, 1) ATOM(atom_and_##N, U, U, old & y) \
    ATOM(atom_or_##N, U, U, old | y) \
        ATOM(atom_xor_##N, U, U, old ^ y) \
    ATOM(atom_exch_##N, U, U, y) ATOM(atom_cas_##N, U, U, old == y ? z : old) \
    ATOM(atom_min_u##N, U, U, old < y ? old : y) ATOM(atom_max_u##N, U, U, old > y ? old : y) \
    ATOM(atom_min_s##N, U, U, (S)old < (S)y ? old : y) \
    ATOM(atom_max_s##N, U, U, (S)old > (S)y ? old : y)
/* clang-format on */
INT_ATOMS(32, u32, s32)
INT_ATOMS(64, u64, s64)
ATOM(atom_cas_16, u32, u16, old == y ? z : old)
ATOM(atom_inc_u32, u32, u32, old >= y ? 0 : old + 1)
ATOM(atom_dec_u32, u32, u32, old == 0 || old > y ? y : old - 1)
ATOM(atom_add_f32, u32, u32, sum32(old, y, near))
ATOM(atom_add_f64, u64, u64, sum64(old, y, near))
ATOM(atom_add_f16, u32, u16, hsum(old, y))
ATOM(atom_add_f16x2, u32, u32, hsum(old, y) | hsum(old >> 16, y >> 16) << 16)
ATOM(atom_add_bf16, u32, u16, bsum(old, y))
ATOM(atom_add_bf16x2, u32, u32, bsum(old, y) | bsum(old >> 16, y >> 16) << 16)

/* clang-format off */
#define EXTREMES(t, inf) \
    ATOM(atom_min_##t, u32, u16, extreme(old, y, 0, false, inf)) \
    ATOM(atom_max_##t, u32, u16, extreme(old, y, 0, true, inf)) \
    ATOM(atom_min_##t##x2, u32, u32, \
         extreme(old & 0xffff, y & 0xffff, 0, false, inf) | \
         extreme(old >> 16, y >> 16, 0, false, inf) << 16) \
    ATOM(atom_max_##t##x2, u32, u32, \
         extreme(old & 0xffff, y & 0xffff, 0, true, inf) | \
         extreme(old >> 16, y >> 16, 0, true, inf) << 16)
/* clang-format on */
EXTREMES(f16, 0x7c00)
EXTREMES(bf16, 0x7f80)

/* of a vector: all its bytes, `width`, lie at a multiple of them */
SIM_HANDLER(atom_aligned) {
    u64 addr[32];
    addresses(w, i, m, addr);
    SIM_EACH_LANE (m)
        if (addr[l] % i->width) {
            sim_fault_at(w, i, (int)l, SIM_F_MISALIGNED, "atomic of %u bytes at 0x%llx", i->width,
                    (unsigned long long)addr[l]);
            return;
        }
}

/* 128 bits: the host's own compare-and-swap, because other processes may map the memory. It writes
   in any case. Where the compiler does not know it, and where the thread sanitizer would not see
   it, one lock orders those of all blocks of this process. d, b, c: two places of 64 bits each */
#if defined(__x86_64__) && !defined(SIM_SEES_THREADS)
static bool swap_128(u64 *p, u64 old[2], const u64 by[2]) {
    bool same;
    __asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
                     : "=q"(same), "+m"(*(u64(*)[2])(void *)p), "+a"(old[0]), "+d"(old[1])
                     : "b"(by[0]), "c"(by[1])
                     : "cc", "memory");
    return same;
}
#elif defined(__aarch64__) && !defined(SIM_SEES_THREADS)
static bool swap_128(u64 *p, u64 old[2], const u64 by[2]) {
    u64 is[2], to[2];
    uint32_t failed;
    __asm__ volatile(
            "1: ldaxp %0, %1, [%5]\n\tcmp %0, %6\n\tccmp %1, %7, #0, eq\n\tcsel %2, %8, %0, eq\n\t"
            "csel %3, %9, %1, eq\n\tstlxp %w4, %2, %3, [%5]\n\tcbnz %w4, 1b"
            : "=&r"(is[0]), "=&r"(is[1]), "=&r"(to[0]), "=&r"(to[1]), "=&r"(failed)
            : "r"(p), "r"(old[0]), "r"(old[1]), "r"(by[0]), "r"(by[1])
            : "cc", "memory");
    const bool same = is[0] == old[0] && is[1] == old[1];
    old[0] = is[0];
    old[1] = is[1];
    return same;
}
#else
static bool swap_128(u64 *p, u64 old[2], const u64 by[2]) {
    static unsigned char lock;
    while (__atomic_test_and_set(&lock, __ATOMIC_SEQ_CST)) {}
    const bool same = p[0] == old[0] && p[1] == old[1];
    old[0] = p[0];
    old[1] = p[1];
    if (same) {
        p[0] = by[0];
        p[1] = by[1];
    }
    __atomic_clear(&lock, __ATOMIC_SEQ_CST);
    return same;
}
#endif

/* The value before. One that differs from `expected`, if there is one, stays. */
static void exchange_128(u64 *p, const u64 *expected, const u64 by[2], u64 old[2]) {
    old[0] = expected ? expected[0] : 0;
    old[1] = expected ? expected[1] : 0;
    while (!swap_128(p, old, by) && !expected) {}
}

#define ATOM_128(NAME, COMPARES, NEW) \
    SIM_HANDLER(NAME) { \
        u64 addr[32], *d = SIM_AT(u64, i->d); \
        const u64 *b = SIM_AT(u64, i->b), *c = SIM_AT(u64, i->c); \
        bool changed = false; \
        (void)c; \
        addresses(w, i, m, addr); \
        SIM_EACH_LANE (m) { \
            u64 *p = sim_at(w, i, (int)l, SPACE_OF(i), addr[l], 16, "atomic"); \
            if (!p) return; \
            const u64 expected[2] = { b[l], b[l + 32] }, by[2] = { NEW[l], NEW[l + 32] }; \
            u64 old[2]; \
            exchange_128(p, COMPARES ? expected : NULL, by, old); \
            if (!COMPARES || (old[0] == expected[0] && old[1] == expected[1])) \
                changed |= old[0] != by[0] || old[1] != by[1]; \
            if (!(i->flags & SIM_I_SINK)) { \
                d[l] = old[0]; \
                d[l + 32] = old[1]; \
            } \
        } \
        if (changed) w->progress = true; \
        else w->spin = true; \
    }
ATOM_128(atom_exch_128, false, b)
ATOM_128(atom_cas_128, true, c)

/* -- mbarrier */

/* The mbarrier at an instruction's address, in shared memory: a generic one of anything else counts
   as an offset there, as on an H200. */
static u64 *barrier_at(struct sim_warp *w, const struct sim_insn *i, int l) {
    const uint64_t a = (i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l] : SIM_AT(u32, i->a)[l]) +
            (uint64_t)i->imm;
    return sim_at(w, i, l, a >> 48 == SIM_WINDOW_SHARED >> 48 ? SPACE_OF(i) : SIM_SHARED, a, 8,
            "mbarrier");
}

/* d: state or sink, a: address, b: count or bytes; the user bits select the operation */
SIM_HANDLER(mbarrier) {
    SIM_EACH_LANE (m) {
        u64 *p = barrier_at(w, i, (int)l);
        if (!p) return;
        const uint32_t n = SIM_AT(u32, i->b)[l];
        const uint64_t v = *p;
        switch (i->flags >> SIM_I_USER) {
        case MB_INIT: *p = n | (uint64_t)n << 20 | 0x400000ull << 40; break;
        case MB_INVAL: *p = 0; break;
        case MB_ARRIVE: *p = barrier_word(EXPECTED(v), PENDING(v) - n, BYTES(v), PHASE(v)); break;
        case MB_DROP: *p = barrier_word(EXPECTED(v) - n, PENDING(v) - n, BYTES(v), PHASE(v)); break;
        case MB_EXPECT: *p = barrier_word(EXPECTED(v), PENDING(v), BYTES(v) + n, PHASE(v)); break;
        case MB_COMPLETE: *p = barrier_word(EXPECTED(v), PENDING(v), BYTES(v) - n, PHASE(v)); break;
        case MB_DROP_EXPECT:
            *p = barrier_word(EXPECTED(v) - 1, PENDING(v) - 1, BYTES(v) + n, PHASE(v));
            break;
        case MB_ARRIVE_EXPECT:
            *p = barrier_word(EXPECTED(v), PENDING(v) - 1, BYTES(v) + n, PHASE(v));
            break;
        }
        if (!(i->flags & SIM_I_SINK)) SIM_AT(u64, i->d)[l] = v;
    }
    w->progress = true;
}

/* cp.async.bulk: executed at once, in units of 16 bytes; an H200 copies, and the mbarrier counts,
   no part of one. All addresses are generic. d: to, a: from, b: bytes, c: the mbarrier, with
   SIM_I_COUNT; e: with SIM_I_SECOND, the ranks of the blocks that receive the bytes */
static bool copy_units(struct sim_warp *w, const struct sim_insn *i, int l, uint64_t to,
        uint64_t from, uint32_t size) {
    for (uint32_t k = 0; k < size; k += 16) {
        void *p = sim_at(w, i, l, SIM_GENERIC, to + k, 16, "cp.async.bulk"),
             *q = p ? sim_at(w, i, l, SIM_GENERIC, from + k, 16, "read by cp.async.bulk") : NULL;
        if (!q) return false;
        memcpy(p, q, 16);
    }
    return true;
}

SIM_HANDLER(cp_bulk) {
    SIM_EACH_LANE (m) {
        const uint64_t to = SIM_AT(u64, i->d)[l], from = SIM_AT(u64, i->a)[l],
                       barrier = SIM_AT(u64, i->c)[l];
        const uint32_t size = SIM_AT(u32, i->b)[l] / 16 * 16,
                       ranks = i->flags & SIM_I_SECOND ? SIM_AT(u32, i->e)[l] & 0xffff : 1;
        for (uint32_t rest = ranks; rest; rest &= rest - 1) {
            const unsigned rank = (unsigned)__builtin_ctz(rest);
            const bool several = i->flags & SIM_I_SECOND;
            if (!copy_units(w, i, (int)l, several ? in_block(to, rank) : to, from, size)) return;
            if (i->flags & SIM_I_COUNT &&
                    !count_bytes(w, i, (int)l, several ? in_block(barrier, rank) : barrier, size))
                return;
        }
    }
    w->progress = true;
}

/* d: predicate, a: address, b: state (64 bits), or a parity (32 bits) with SIM_I_COUNT */
SIM_HANDLER(mbarrier_test) {
    uint32_t done = 0;
    SIM_EACH_LANE (m) {
        u64 *p = barrier_at(w, i, (int)l);
        if (!p) return;
        uint32_t of = i->flags & SIM_I_COUNT ? SIM_AT(u32, i->b)[l] & 1
                                             : PHASE(SIM_AT(u64, i->b)[l]);
        if (PHASE(*p) != of) done |= 1u << l;
    }
    uint32_t *d = SIM_AT(uint32_t, i->d);
    *d = (*d & ~m) | done;
    if (done) w->progress = true;
    else w->spin = true;
}
SIM_H1(mbarrier_pending, u32, u64, PENDING(x))

#define OP(n, t, run) SIM_OP(n, t, PLAIN, run)
#define HALVES(n) \
    OP(n, F16, n##_f16), OP(n, F16X2, n##_f16x2), OP(n, BF16, n##_bf16), OP(n, BF16X2, n##_bf16x2)
#define BITS(n, h) OP(n, U32, h##32), OP(n, U64, h##64)
#define ORDER(n) BITS(n, n##_u), OP(n, S32, n##_s32), OP(n, S64, n##_s64)
const struct sim_operation SIM_ISA(sim_atom_table)[] = { BITS(atom_add, atom_add_),
    OP(atom_add, S32, atom_add_32), OP(atom_add, F32, atom_add_f32),
    OP(atom_add, F64, atom_add_f64), OP(atom_add, F16, atom_add_f16),
    OP(atom_add, F16X2, atom_add_f16x2), OP(atom_add, BF16, atom_add_bf16),
    OP(atom_add, BF16X2, atom_add_bf16x2), ORDER(atom_min), ORDER(atom_max),
    BITS(atom_and, atom_and_), BITS(atom_or, atom_or_), BITS(atom_xor, atom_xor_),
    BITS(atom_exch, atom_exch_), BITS(atom_cas, atom_cas_), OP(atom_cas, U16, atom_cas_16),
    OP(atom_inc, U32, atom_inc_u32), OP(atom_dec, U32, atom_dec_u32), HALVES(atom_min),
    HALVES(atom_max), OP(atom_exch, B128, atom_exch_128), OP(atom_cas, B128, atom_cas_128),
    SIM_UNTYPED(atom_aligned), SIM_UNTYPED(mbarrier), SIM_UNTYPED(mbarrier_test),
    OP(mbarrier_pending_count, U64, mbarrier_pending), SIM_UNTYPED(cp_bulk), SIM_END };
#undef OP
#undef BITS
