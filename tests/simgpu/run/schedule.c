/* schedule.c - SIMGPU_SCHEDULE: an adversary that draws every choice a GPU leaves open from a
   seeded generator. It finds programs that are correct only by the order in which things happen to
   run.

   Only accesses that other threads may observe distinguish two orders, so a warp stops before one
   of them. The number of accesses until then is drawn: one, or a thousand, each order of magnitude
   equally likely. Then another warp of the block continues; in the warp, the lanes at the same pc
   as a drawn lane, and sometimes only some of them: lanes at the same pc need not continue together
   (from .target sm_70 on). A block stops after a drawn time, and any other block of any device
   continues (engine.c); now and then it is left behind for many turns. Clusters begin in a drawn
   order, but never in one that more resident ones could not have: a block that waits for a lower
   one always gets it.

   Plain stores may become visible late. Most are held back (delayed) until a random time, or until
   their thread reaches a barrier, a fence or a release, or accesses the same bytes, or the block
   ends. Their own thread cannot observe the delay; a thread that learns from a flag that the bytes
   are there can.

   The draws in a block depend only on the seed, the launch's number and the block's number. */
#include "../base/lanes.h"
#include "../execute/execute.h"
#include "run.h"
#include "../text/text.h"

enum { DELAYED_MOST = 512, STORE_MOST = 32 * 4 };

struct sim_delayed {
    uint64_t address, generation, value;
    unsigned char *at;
    uint8_t size, warp, lane;
};

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state += 0x9e3779b97f4a7c15u;
    return (uint32_t)((mixed(*state) >> 32) * below >> 32);
}

/* 1 to 2^most, every power of two equally likely */
static uint32_t draw_length(uint64_t *state, uint32_t most) {
    return 1 + draw(state, 1u << draw(state, most + 1));
}

static uint32_t draw_bit(uint64_t *state, uint32_t set) {
    for (uint32_t n = draw(state, (uint32_t)__builtin_popcount(set)); n; n--) set &= set - 1;
    return (uint32_t)__builtin_ctz(set);
}

/* -- for the engine */

uint32_t sim_schedule_draw(uint32_t below) {
    static uint64_t state;
    if (!state) state = mixed(sim_settings.schedule) | 1;
    return draw(&state, below);
}

static uint32_t divisor(uint32_t a, uint32_t b) { return b ? divisor(b, a % b) : a; }

/* A permutation within each run of as many clusters as can be resident. */
uint64_t sim_schedule_index(const struct sim_grid *g, uint64_t n) {
    const uint64_t first = n - n % g->max_resident, left = g->nclusters - first;
    const uint32_t size = (uint32_t)(left < g->max_resident ? left : g->max_resident);
    uint64_t state = mixed(mixed(sim_settings.schedule) + g->id) + first;
    uint32_t step = 1 + draw(&state, size);
    while (divisor(step, size) != 1) step++;
    return first + ((uint64_t)step * (n - first) + draw(&state, size)) % size;
}

/* -- stores that are held back */

static bool in_shared(const struct sim_cluster *c, const unsigned char *at) {
    bool inside = false;
    for (unsigned k = 0; k < c->nblocks; k++)
        inside |= (uintptr_t)at - (uintptr_t)c->blocks[k]->shared < c->blocks[k]->shared_bytes;
    return inside;
}

static void publish_one(struct sim_block *b, const struct sim_delayed *s) {
    unsigned char *at = s->at;
    struct sim_range r;
    if (!in_shared(b->cluster, at) &&
            s->generation != __atomic_load_n(&sim_mem_generation, __ATOMIC_ACQUIRE)) {
        if (!sim_find_range(b, s->address, s->size, &r)) return; /* freed since */
        at = (unsigned char *)(uintptr_t)(s->address + (uint64_t)r.delta);
    }
    switch (s->size) {
    case 1: __atomic_store_n(at, (u8)s->value, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((u16 *)(void *)at, (u16)s->value, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((u32 *)(void *)at, (u32)s->value, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((u64 *)(void *)at, s->value, __ATOMIC_RELAXED);
    }
}

/* the address of an access, without its window: equal for the same bytes, and hardly ever for
   others */
static uint64_t place(const struct sim_warp *w, const struct sim_insn *i, unsigned l) {
    return ((i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l] : SIM_AT(u32, i->a)[l]) +
                   (uint64_t)i->imm) &
            SIM_WINDOW_OFFSET;
}

static bool touches(
        const struct sim_warp *w, const struct sim_insn *i, const struct sim_delayed *s) {
    const uint64_t a = place(w, i, s->lane), at = s->address & SIM_WINDOW_OFFSET,
                   bytes = i->flags >> SIM_I_USER >> 4;
    return a < at + s->size && at < a + (bytes ? bytes : 8);
}

/* Publishes the stores that lanes of w hold back; i: only those to the bytes it accesses. */
static void publish(struct sim_warp *w, uint32_t lanes, const struct sim_insn *i) {
    struct sim_block *b = w->block;
    unsigned kept = 0;
    for (unsigned k = 0; k < b->ndelayed; k++) {
        const struct sim_delayed s = b->delayed[k];
        if (s.warp == w->index && lanes >> s.lane & 1 && (!i || touches(w, i, &s)))
            publish_one(b, &s);
        else b->delayed[kept++] = s;
    }
    b->ndelayed = kept;
}

/* In any order: a thread has no two stores to the same bytes here. */
static void publish_any(struct sim_block *b, bool all) {
    unsigned kept = 0;
    for (unsigned k = 0; k < b->ndelayed; k++) {
        if (all || draw(&b->random, 2)) publish_one(b, &b->delayed[k]);
        else b->delayed[kept++] = b->delayed[k];
    }
    b->ndelayed = kept;
}

/* Called instead of a plain store. */
static void hold_back(struct sim_warp *w, const struct sim_insn *i, uint32_t m) {
    struct sim_block *b = w->block;
    const uint32_t bytes = i->flags >> SIM_I_USER >> 4, size = bytes / i->width,
                   regs[4] = { i->d, i->b, i->c, i->e };
    const enum sim_space space = (enum sim_space)(i->flags >> SIM_I_USER & 7);
    const uint64_t generation = __atomic_load_n(&sim_mem_generation, __ATOMIC_ACQUIRE);
    if (b->ndelayed + STORE_MOST > DELAYED_MOST) publish_any(b, true);
    SIM_EACH_LANE (m) {
        const uint64_t address = (i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l]
                                                          : SIM_AT(u32, i->a)[l]) +
                (uint64_t)i->imm;
        unsigned char *at = sim_at(w, i, (int)l, space, address, bytes, "store");
        if (!at) return;
        const bool own = (uintptr_t)at - (uintptr_t)w->local < 32 * (uintptr_t)w->local_stride ||
                address >> 48 == SIM_WINDOW_PARAM >> 48;
        for (unsigned k = 0; k < i->width; k++) {
            const uint64_t value = size == 8 ? SIM_AT(u64, regs[k])[l] : SIM_AT(u32, regs[k])[l];
            const struct sim_delayed s = { address + k * size, generation, value, at + k * size,
                (uint8_t)size, (uint8_t)w->index, (uint8_t)l };
            if (own) publish_one(b, &s);
            else b->delayed[b->ndelayed++] = s;
        }
    }
}

/* Executes i. True: other threads should read memory now, since a thread has just signalled them
   while it holds back older stores. */
static bool execute(struct sim_warp *w, const struct sim_insn *i, uint32_t m) {
    struct sim_block *b = w->block;
    if (b->ndelayed && i->flags & (SIM_I_SEEN | SIM_I_ORDERS))
        publish(w, m, i->flags & SIM_I_ORDERS ? NULL : i);
    if (i->flags & SIM_I_WEAK && draw(&b->random, 4)) {
        hold_back(w, i, m);
        return false;
    }
    i->run(w, i, m);
    const bool signals = (i->flags & (SIM_I_SEEN | SIM_I_WEAK)) == SIM_I_SEEN &&
            i->flags >> SIM_I_USER & 8;
    return signals && b->ndelayed && draw(&b->random, 4);
}

/* -- warps and blocks */

uint64_t sim_schedule_round; /* __atomic */

static void nap(struct sim_block *b, uint32_t one_in, uint32_t most) {
    b->nap = draw(&b->random, one_in) ? 0 : draw_length(&b->random, most);
    b->round = __atomic_load_n(&sim_schedule_round, __ATOMIC_RELAXED);
}

bool sim_schedule_start(struct sim_cluster *c, uint64_t index) {
    bool ok = true;
    for (unsigned k = 0; k < c->nblocks; k++) {
        struct sim_block *b = c->blocks[k];
        b->random = mixed(
                mixed(mixed(sim_settings.schedule) + b->grid->id) + index * c->nblocks + k);
        nap(b, 2, 5);
        b->ndelayed = 0;
        if (!b->delayed) b->delayed = malloc(DELAYED_MOST * sizeof *b->delayed);
        ok &= b->delayed != NULL;
    }
    return ok;
}

unsigned sim_schedule_first(struct sim_cluster *c) {
    return c->nblocks > 1 ? draw(&c->blocks[0]->random, c->nblocks) : 0;
}

/* Runs one drawn lane and the lanes at its pc, for a drawn number of accesses. */
static uint64_t run_warp(struct sim_warp *w, uint64_t slice, bool *look) {
    struct sim_block *b = w->block;
    uint64_t left = slice;
    uint32_t accesses = draw_length(&b->random, 10), lane = 32, candidates;
    bool part = b->code->funcs[0].func->image->sm >= 70 && !draw(&b->random, 4), more = true;
    w->sleeps = false;
    while (left && more && !b->faulted && (candidates = sim_warp_candidates(w)) != 0) {
        if (lane == 32 || !(candidates >> lane & 1)) lane = draw_bit(&b->random, candidates);
        sim_warp_take(w, w->pc[lane]);
        if (part && w->ip->flags & SIM_I_SEEN) {
            const uint32_t group = w->group & (draw(&b->random, ~0u) | 1u << lane);
            w->diverged |= group != w->group;
            w->group = group;
        }
        part = false;
        const struct sim_insn *i;
        do {
            i = w->ip;
            if (i->flags & SIM_I_SEEN && !accesses--) {
                more = false;
                break;
            }
            w->ip++;
            const uint32_t m = w->group &
                    (*(const u32 *)(const void *)(w->base[0] + i->guard) ^ i->guard_xor);
            left--;
            if (m && execute(w, i, m)) {
                *look = true;
                more = false;
            }
        } while (more && left && w->ip < w->stop && w->ip > i);
        sim_warp_place(w, w->group, sim_pc(w, w->ip));
    }
    return slice - left;
}

enum sim_block_status sim_schedule_block(struct sim_block *b) {
    uint64_t left = draw_length(&b->random, 14);
    uint32_t slept = 0; /* warps that only spun since one worked */
    bool look = false;
    if (b->nap && b->round == __atomic_load_n(&sim_schedule_round, __ATOMIC_RELAXED)) {
        b->nap--;
        return SIM_BLOCK_IDLE;
    }
    b->worked = false;
    while (left && b->live && !look) {
        uint32_t able = 0;
        for (unsigned k = 0; k < b->nwarps; k++)
            if (b->warps[k].alive & ~b->warps[k].parked & ~b->warps[k].barred) able |= 1u << k;
        if (!able) {
            publish_any(b, true);
            return SIM_BLOCK_STUCK;
        }
        if (!(able & ~slept)) break;
        const uint32_t k = draw_bit(&b->random, able & ~slept);
        left -= run_warp(&b->warps[k], left, &look);
        if (b->faulted) return SIM_BLOCK_FAULT;
        slept = b->warps[k].sleeps ? slept | 1u << k : 0;
        if (b->ndelayed && !draw(&b->random, 8)) publish_any(b, false);
    }
    if (!b->live || slept) publish_any(b, true);
    if (look) nap(b, 1, 9);
    else nap(b, 16, 5);
    return !b->live     ? SIM_BLOCK_DONE
            : !slept    ? SIM_BLOCK_MORE
            : b->worked ? SIM_BLOCK_WAITS
                        : SIM_BLOCK_IDLE;
}
