/* together.h - the operations of several lanes.

   A .sync operation executes when every live lane of its member mask has reached it. Lanes that
   arrive early are parked at the instruction; the last group to arrive executes it for all and
   takes them along. An exit unparks all lanes of the warp: they execute the instruction again, and
   may park again. */
#ifndef SIM_TOGETHER_H
#define SIM_TOGETHER_H

#include "../base/lanes.h"
#include "execute.h"

typedef void warp_operation(
        struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members);

static uint32_t parked_alike(
        struct sim_warp *w, const struct sim_insn *i, uint32_t members, bool anywhere) {
    const struct sim_insn *insns = w->block->code->insns;
    uint32_t found = 0;
    SIM_EACH_LANE (w->parked) {
        const struct sim_insn *at = &insns[w->pc[l]];
        if ((at == i || (anywhere && at->run == i->run)) && SIM_AT(u32, at->e)[l] == members)
            found |= 1u << l;
    }
    return found;
}

static void together(struct sim_warp *w, const struct sim_insn *i, uint32_t m, bool anywhere,
        warp_operation *run) {
    const u32 *mask = SIM_AT(u32, i->e);
    const uint32_t here = sim_pc(w, i);
    if (SIM_IS_CONST(i->e) && !(mask[0] & w->alive & ~m)) { /* all are here: the usual case */
        if (run) run(w, i, m, mask[0]);
        return;
    }
    uint32_t early = 0, joined = 0;
    for (uint32_t rest = m, same; rest; rest &= ~same) {
        const uint32_t members = mask[__builtin_ctz(rest)], need = members & w->alive;
        same = rest;
        for (int l = 0; l < 32; l++) same &= mask[l] == members ? ~0u : ~sim_lane_bit[l];
        uint32_t have = same;
        if (need & ~have) have |= parked_alike(w, i, members, anywhere);
        if (need & ~have) {
            early |= same;
            continue;
        }
        if (run) run(w, i, have, members);
        joined |= have & ~same;
        w->parked &= ~have;
    }
    if (!(early | joined)) return;
    SIM_EACH_LANE (joined) w->pc[l]++;
    sim_warp_place(w, w->group & ~early, here + 1);
    sim_warp_place(w, early, here);
    w->parked |= early;
    sim_warp_moved(w);
}

#endif
