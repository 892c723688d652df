/* sync.c - barriers of blocks and clusters. Lanes that wait at a barrier are barred, and their pc
   is at it. The lanes that complete it release all of them. */
#include "../base/lanes.h"
#include "execute.h"

/* a: number, c: thread count if SIM_I_COUNT, b: predicate of bar.red, d: its result */

enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

static void release(struct sim_block *b, unsigned id) {
    struct sim_bar *bar = &b->bars[id];
    for (unsigned k = 0; k < b->nwarps; k++) {
        struct sim_warp *w = &b->warps[k];
        const uint32_t lanes = w->bar_wait[id];
        w->bar_wait[id] = w->bar_arrived[id] = 0;
        w->barred &= ~lanes;
        if (bar->reduces)
            SIM_EACH_LANE (lanes) {
                const struct sim_insn *i = &b->code->insns[w->pc[l]];
                const uint32_t mode = i->flags >> SIM_I_USER;
                if (mode == BAR_POPC) SIM_AT(u32, i->d)[l] = bar->popc;
                else if (mode == BAR_AND) sim_write_pred(w, i->d, 1u << l, bar->all ? ~0u : 0);
                else if (mode == BAR_OR) sim_write_pred(w, i->d, 1u << l, bar->any ? ~0u : 0);
            }
        SIM_LANES
            w->pc[l] += SIM_ON(lanes) ? 1 : 0;
    }
    *bar = (struct sim_bar){ .all = 1 };
}

/* A barrier with a count counts whole warps: an arriving warp counts its exited and missing threads
   as present. */
static bool complete(const struct sim_block *b, unsigned id) {
    const struct sim_bar *bar = &b->bars[id];
    if (!bar->expected) return bar->waiting == b->live;
    uint32_t n = 0;
    for (unsigned k = 0; k < b->nwarps; k++) {
        const struct sim_warp *w = &b->warps[k];
        const uint32_t came = w->bar_wait[id] | w->bar_arrived[id];
        if (came) n += (uint32_t)__builtin_popcount(came | ~w->alive);
    }
    return n >= bar->expected;
}

/* -- barrier.cluster: one barrier in phases. A lane arrives in one, and waits until the cluster is
   in the next one, which begins when all live threads have arrived. A lane that has not arrived
   does not wait, as on an H200. */

static void next_phase(struct sim_cluster *c) {
    uint32_t live = 0;
    for (unsigned k = 0; k < c->nblocks; k++) live += c->blocks[k]->live;
    if (c->arrived != live) return;
    c->arrived = 0;
    c->phase = ~c->phase;
    for (unsigned k = 0; k < c->nblocks; k++)
        for (unsigned j = 0; j < c->blocks[k]->nwarps; j++) {
            struct sim_warp *w = &c->blocks[k]->warps[j];
            const uint32_t lanes = w->cluster_wait;
            w->cluster_wait = 0;
            w->cluster_arrived &= ~lanes;
            w->barred &= ~lanes;
            SIM_LANES
                w->pc[l] += SIM_ON(lanes) ? 1 : 0;
        }
}

/* lanes that have arrived in the phase that is not over yet */
static uint32_t arrived_now(const struct sim_warp *w) {
    return w->cluster_arrived & ~(w->cluster_phase ^ w->block->cluster->phase);
}

SIM_HANDLER(cluster_arrive) {
    struct sim_cluster *c = w->block->cluster;
    c->arrived += (uint32_t)__builtin_popcount(m & ~arrived_now(w));
    w->cluster_arrived |= m;
    w->cluster_phase = (w->cluster_phase & ~m) | (c->phase & m);
    sim_warp_place(w, w->group, sim_pc(w, i) + 1);
    next_phase(c);
    sim_warp_moved(w);
}

SIM_HANDLER(cluster_wait) {
    const uint32_t rest = m & arrived_now(w), here = sim_pc(w, i);
    w->cluster_arrived &= ~(m & ~rest);
    if (!rest) return;
    sim_warp_place(w, w->group, here + 1);
    sim_warp_place(w, rest, here);
    w->cluster_wait |= rest;
    w->barred |= rest;
    sim_warp_moved(w);
}

void sim_left(struct sim_warp *w, uint32_t m) {
    struct sim_block *b = w->block;
    for (unsigned id = 0; id < SIM_BARS; id++)
        if (b->bars[id].waiting && complete(b, id)) release(b, id);
    if (!b->cluster->arrived) return;
    b->cluster->arrived -= (uint32_t)__builtin_popcount(m & arrived_now(w));
    if (b->cluster->arrived) next_phase(b->cluster);
}

SIM_HANDLER(bar) {
    struct sim_block *b = w->block;
    const u32 *ids = SIM_AT(u32, i->a), *counts = SIM_AT(u32, i->c);
    const uint32_t mode = i->flags >> SIM_I_USER,
                   pred = mode >= BAR_POPC ? *SIM_AT(uint32_t, i->b) : 0, here = sim_pc(w, i);
    sim_warp_place(w, w->group & ~m, here + 1);
    for (uint32_t rest = m, same; rest; rest &= ~same) {
        const int first = __builtin_ctz(rest);
        const uint32_t id = ids[first], count = i->flags & SIM_I_COUNT ? counts[first] : 0;
        same = rest;
        if (!SIM_IS_CONST(i->a))
            for (int l = 0; l < 32; l++) same &= ids[l] == id ? ~0u : ~sim_lane_bit[l];
        if (id >= SIM_BARS) {
            sim_fault_at(w, i, first, SIM_F_ILLEGAL_INSTRUCTION, "barrier %u", id);
            return;
        }
        if (count & 31) {
            sim_fault_at(w, i, first, SIM_F_ILLEGAL_INSTRUCTION,
                    "barrier with %u threads, not a multiple of 32", count);
            return;
        }
        struct sim_bar *bar = &b->bars[id];
        bar->expected = count;
        if (mode == BAR_ARRIVE) {
            w->bar_arrived[id] |= same;
            sim_warp_place(w, same, here + 1);
        } else {
            w->bar_wait[id] |= same;
            w->barred |= same;
            bar->waiting += (uint32_t)__builtin_popcount(same);
            sim_warp_place(w, same, here);
            bar->reduces |= mode >= BAR_POPC;
            bar->popc += (uint32_t)__builtin_popcount(same & pred);
            if (same & pred) bar->any = 1;
            if (same & ~pred) bar->all = 0;
        }
        if (complete(b, id)) release(b, id);
    }
    sim_warp_moved(w);
}

const struct sim_operation sim_sync_table[] = { SIM_UNTYPED(bar), SIM_UNTYPED(cluster_arrive),
    SIM_UNTYPED(cluster_wait), SIM_END };
