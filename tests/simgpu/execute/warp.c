/* warp.c - which lanes of a warp run next, and for how long.

   The group with the lowest pc runs until it diverges, waits, or reaches the pc of other lanes
   (w->stop), and merges with them. With that rule alone, lanes that spin for a lock would never let
   its holder continue. So a group that loops back many times without progress yields: the others
   run, lowest pc first, until each has had its slice. Accesses distinguish spinning from working: a
   failed compare-and-swap, or a volatile load that returns the same value as before, marks the loop
   around it. */
#include "../base/lanes.h"
#include "execute.h"

#define SPIN_LIMIT 4 /* backward branches in a row that only spun */
/* backward branches while diverged, of any kind: a spin on plain loads ends, too */
#define LOOP_LIMIT 4096

static uint32_t runnable(const struct sim_warp *w) { return w->alive & ~w->parked & ~w->barred; }

uint32_t sim_warp_candidates(struct sim_warp *w) {
    const uint32_t able = runnable(w);
    if (!able || able & ~w->yielded) return able & ~w->yielded;
    w->sleeps = !(able & ~w->spun);
    w->yielded = w->spun = 0;
    return w->sleeps ? 0 : able;
}

static uint32_t standing_at(const struct sim_warp *w, uint32_t pc) {
    uint32_t there = 0;
    SIM_LANES
        there |= w->pc[l] == pc ? sim_lane_bit[l] : 0;
    return there & runnable(w);
}

static void begin(struct sim_warp *w, uint32_t group, uint32_t pc, uint32_t next) {
    const struct sim_insn *insns = w->block->code->insns;
    w->group = group;
    w->diverged = group != runnable(w);
    w->yielded &= ~group;
    w->ip = insns + pc;
    w->stop = insns + next;
}

void sim_warp_take(struct sim_warp *w, uint32_t pc) {
    const uint32_t group = standing_at(w, pc), others = runnable(w) & ~group;
    /* signed: baseline x86 has no unsigned minimum */
    int32_t next = (int32_t)w->block->code->ninsns;
    SIM_LANES {
        const int32_t at = SIM_ON(others) ? (int32_t)w->pc[l] : 0;
        next = at > (int32_t)pc && at < next ? at : next;
    }
    begin(w, group, pc, (uint32_t)next);
}

static bool choose(struct sim_warp *w) {
    const uint32_t candidates = sim_warp_candidates(w);
    if (!candidates) return false;
    const uint32_t first = w->pc[__builtin_ctz(candidates)], group = standing_at(w, first);
    if (group == runnable(w)) {
        begin(w, group, first, w->block->code->ninsns);
        return true;
    }
    int32_t low = (int32_t)first;
    SIM_LANES {
        const int32_t at = SIM_ON(candidates) ? (int32_t)w->pc[l] : (int32_t)first;
        low = at < low ? at : low;
    }
    sim_warp_take(w, (uint32_t)low);
    return true;
}

void sim_warp_yield(struct sim_warp *w, bool spun) {
    sim_warp_place(w, w->group, sim_pc(w, w->ip));
    w->yielded |= w->group;
    if (spun) w->spun |= w->group;
    else w->spun &= ~w->group;
    w->spins = w->loops = 0;
    sim_warp_moved(w);
}

void sim_warp_backward(struct sim_warp *w) {
    if (w->spin && !w->progress) w->spins++;
    else {
        w->spins = 0;
        w->block->worked = true;
    }
    w->spin = w->progress = false;
    if (w->spins >= SPIN_LIMIT) sim_warp_yield(w, true);
    else if (w->diverged && ++w->loops >= LOOP_LIMIT) sim_warp_yield(w, false);
}

static uint64_t thread_instructions; /* __atomic */
uint64_t simgpu_thread_instructions(void) {
    return __atomic_load_n(&thread_instructions, __ATOMIC_RELAXED);
}

/* Runs the group until it ends or its slice does; returns the rest of the slice. */
static inline uint64_t run_group(struct sim_warp *w, uint64_t left, uint64_t *counted) {
    unsigned char *const regs = w->base[0];
    do {
        const struct sim_insn *i = w->ip++;
        const uint32_t m = w->group &
                (*(const u32 *)(const void *)(regs + i->guard) ^ i->guard_xor);
        if (counted) *counted += (unsigned)__builtin_popcount(w->group) * i->counts;
        if (m) i->run(w, i, m);
    } while (--left && w->ip < w->stop);
    return left;
}

uint64_t sim_warp_run(struct sim_warp *w, uint64_t slice) {
    uint64_t left = slice, counted = 0;
    w->sleeps = false;
    while (left && !w->block->faulted && choose(w)) {
        left = sim_settings.count ? run_group(w, left, &counted) : run_group(w, left, NULL);
        sim_warp_place(w, w->group, sim_pc(w, w->ip));
    }
    if (counted) __atomic_fetch_add(&thread_instructions, counted, __ATOMIC_RELAXED);
    return slice - left;
}
