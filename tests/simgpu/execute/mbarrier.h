/* mbarrier.h - the word of an mbarrier, for atom.c and tensor.c. */
#ifndef SIM_MBARRIER_H
#define SIM_MBARRIER_H

#include "execute.h"

/* One 64-bit word in shared memory: arrivals that a phase expects (20 bits), arrivals
     still pending (20), bytes still pending (23, biased), the phase's parity (1). arrive returns
     the word's previous value as the state. */

#define EXPECTED(v) ((uint32_t)(v)&0xfffff)
#define PENDING(v) ((uint32_t)((v) >> 20) & 0xfffff)
#define BYTES(v) ((uint32_t)((v) >> 40 & 0x7fffff) - 0x400000u)
#define PHASE(v) ((uint32_t)((v) >> 63))
static inline uint64_t barrier_word(
        uint32_t expected, uint32_t pending, uint32_t bytes, uint32_t phase) {
    expected &= 0xfffff;
    pending &= 0xfffff;
    const uint64_t biased = (bytes + 0x400000u) & 0x7fffff,
                   v = expected | (uint64_t)pending << 20 | biased << 40 | (uint64_t)phase << 63;
    return pending || biased != 0x400000
            ? v
            : expected | (uint64_t)expected << 20 | 0x400000ull << 40 | (uint64_t)(phase ^ 1) << 63;
}

/* A copy of that many bytes has completed. */
static inline bool count_bytes(
        struct sim_warp *w, const struct sim_insn *i, int l, uint64_t barrier, uint32_t size) {
    u64 *p = sim_at(w, i, l, SIM_GENERIC, barrier, 8, "mbarrier");
    if (p) *p = barrier_word(EXPECTED(*p), PENDING(*p), BYTES(*p) - size, PHASE(*p));
    return p != NULL;
}

static inline uint64_t in_block(uint64_t address, unsigned rank) {
    return (address & ~(0xffull << SIM_RANK_SHIFT)) | (uint64_t)rank << SIM_RANK_SHIFT;
}

#endif
