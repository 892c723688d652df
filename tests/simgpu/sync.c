/* sync.c - block barriers, and operations of several lanes of a warp: shfl, vote, match, redux, bar.warp, elect.

   A .sync operation executes when every live lane of its member mask has come to it. Lanes that come early are parked at the
   instruction; the last group to come executes it for all and takes them along. An exit unparks all lanes of the warp: they
   execute the instruction again, and perhaps park again.
   Lanes at a block barrier are barred, their pc at the barrier. Whoever completes it lets all go on. */
#include "lanes.h"

/* -- operations of a warp */

typedef void warp_operation(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members);

static uint32_t parked_alike(struct sim_warp *w, const struct sim_insn *i, uint32_t members, bool anywhere)
{
    const struct sim_insn *insns = w->block->code->insns;
    uint32_t found = 0;
    SIM_EACH_LANE(w->parked) {
        const struct sim_insn *at = &insns[w->pc[l]];
        if ((at == i || (anywhere && at->run == i->run)) && SIM_AT(u32, at->e)[l] == members) found |= 1u << l;
    }
    return found;
}

static void together(struct sim_warp *w, const struct sim_insn *i, uint32_t m, bool anywhere, warp_operation *run)
{
    const u32 *mask = SIM_AT(u32, i->e);
    const uint32_t here = sim_pc(w, i);
    uint32_t early = 0, joined = 0;
    for (uint32_t rest = m, same; rest; rest &= ~same) {
        const uint32_t members = mask[__builtin_ctz(rest)], need = members & w->alive;
        same = 0;
        for (int l = 0; l < 32; l++) same |= mask[l] == members ? sim_lane_bit[l] : 0;
        same &= rest;
        uint32_t have = same;
        if (need & ~have) have |= parked_alike(w, i, members, anywhere);
        if (need & ~have) { early |= same; continue; }
        if (run) run(w, i, have, members);
        joined |= have & ~same;
        w->parked &= ~have;
    }
    if (!(early | joined)) return;
    SIM_EACH_LANE(joined) w->pc[l]++;
    sim_warp_place(w, w->group & ~early, here + 1);
    sim_warp_place(w, early, here);
    w->parked |= early;
    sim_warp_moved(w);
}

static inline void write_pred(struct sim_warp *w, uint32_t operand, uint32_t lanes, uint32_t value)
{
    uint32_t *p = SIM_AT(uint32_t, operand);
    *p = (*p & ~lanes) | (value & lanes);
}

/* shfl: a value, b lane or distance, c clamp and segment mask; second destination, a predicate, in imm */
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
static void do_shfl(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members)
{
    (void)members;
    const u32 *a = SIM_AT(u32, i->a), *b = SIM_AT(u32, i->b), *c = SIM_AT(u32, i->c);
    u32 *d = SIM_AT(u32, i->d), from[32];
    const uint32_t mode = i->flags >> SIM_I_USER;
    uint32_t valid = 0;
    memcpy(from, a, sizeof from);
    for (int l = 0; l < 32; l++) {
        const int by = (int)(b[l] & 31), clamp = (int)(c[l] & 31), segment = (int)(c[l] >> 8 & 31);
        const int top = (l & segment) | (clamp & ~segment);
        int j = mode == SHFL_UP ? l - by : mode == SHFL_DOWN ? l + by : mode == SHFL_BFLY ? l ^ by :
            (l & segment) | (by & ~segment);
        const bool in = mode == SHFL_UP ? j >= top : j <= top;
        if (!in) j = l;
        valid |= in ? sim_lane_bit[l] : 0;
        d[l] = SIM_ON(lanes) ? from[j] : d[l];
    }
    if (i->flags & SIM_I_SECOND) write_pred(w, (uint32_t)i->imm, lanes, valid);
}
SIM_HANDLER(shfl_sync) { together(w, i, m, false, do_shfl); }

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
static void do_vote(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members)
{
    const uint32_t mode = i->flags >> SIM_I_USER, voters = lanes & members, yes = *SIM_AT(uint32_t, i->a) & voters;
    if (mode == VOTE_BALLOT) {
        u32 *d = SIM_AT(u32, i->d);
        SIM_LANES d[l] = SIM_ON(lanes) ? yes : d[l];
    } else write_pred(w, i->d, lanes, (mode == VOTE_ALL ? yes == voters : mode == VOTE_ANY ? yes != 0 : yes == 0 ||
        yes == voters) ? ~0u : 0);
}
SIM_HANDLER(vote_sync) { together(w, i, m, false, do_vote); }

#define MATCH(BITS) \
    static void do_match_any_##BITS(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u##BITS *a = SIM_AT(u##BITS, i->a); u32 out[32] = { 0 }; \
        SIM_EACH_LANE(lanes) { const u##BITS v = a[l]; \
            for (int k = 0; k < 32; k++) if ((lanes & members) >> k & 1 && a[k] == v) out[l] |= 1u << k; } \
        u32 *d = SIM_AT(u32, i->d); SIM_EACH_LANE(lanes) d[l] = out[l]; } \
    static void do_match_all_##BITS(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u##BITS *a = SIM_AT(u##BITS, i->a), v = a[__builtin_ctz(lanes)]; bool all = true; \
        SIM_EACH_LANE(lanes & members) all &= a[l] == v; \
        u32 *d = SIM_AT(u32, i->d); SIM_EACH_LANE(lanes) d[l] = all ? lanes & members : 0; \
        if (i->flags & SIM_I_SECOND) write_pred(w, (uint32_t)i->imm, lanes, all ? ~0u : 0); } \
    SIM_HANDLER(match_any_##BITS) { together(w, i, m, false, do_match_any_##BITS); } \
    SIM_HANDLER(match_all_##BITS) { together(w, i, m, false, do_match_all_##BITS); }
MATCH(32)
MATCH(64)

#define REDUX(NAME, T, E) \
    static void do_redux_##NAME(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u32 *a = SIM_AT(u32, i->a); const uint32_t voters = lanes & members ? lanes & members : lanes; \
        T x = (T)a[__builtin_ctz(voters)]; \
        SIM_EACH_LANE(voters & (voters - 1)) { const T y = (T)a[l]; x = (T)(E); } \
        u32 *d = SIM_AT(u32, i->d); SIM_LANES d[l] = SIM_ON(lanes) ? (u32)x : d[l]; } \
    SIM_HANDLER(redux_##NAME) { together(w, i, m, false, do_redux_##NAME); }
REDUX(add, u32, x + y)
REDUX(and, u32, x & y)
REDUX(or, u32, x | y)
REDUX(xor, u32, x ^ y)
REDUX(min_u32, u32, x < y ? x : y)
REDUX(max_u32, u32, x > y ? x : y)
REDUX(min_s32, s32, x < y ? x : y)
REDUX(max_s32, s32, x > y ? x : y)

/* d: the leader's lane, or sink; b: predicate true in the leader */
static void do_elect(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members)
{
    const uint32_t voters = lanes & members ? lanes & members : lanes, leader = (uint32_t)__builtin_ctz(voters);
    if (!(i->flags & SIM_I_SINK)) { u32 *d = SIM_AT(u32, i->d); SIM_LANES d[l] = SIM_ON(lanes) ? leader : d[l]; }
    write_pred(w, i->b, lanes, 1u << leader);
}
SIM_HANDLER(elect_sync) { together(w, i, m, false, do_elect); }
SIM_HANDLER(bar_warp_sync) { together(w, i, m, true, NULL); }

/* -- block barriers: a number, c thread count if SIM_I_COUNT, b predicate of bar.red, d its result; imm: the cluster's barrier */

enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

static void release(struct sim_block *b, unsigned id)
{
    struct sim_bar *bar = &b->bars[id];
    for (unsigned k = 0; k < b->nwarps; k++) {
        struct sim_warp *w = &b->warps[k];
        const uint32_t lanes = w->bar_wait[id];
        w->bar_wait[id] = w->bar_arrived[id] = 0;
        w->barred &= ~lanes;
        SIM_EACH_LANE(lanes) {
            const struct sim_insn *i = &b->code->insns[w->pc[l]++];
            const uint32_t mode = i->flags >> SIM_I_USER;
            if (mode == BAR_POPC) SIM_AT(u32, i->d)[l] = bar->popc;
            else if (mode == BAR_AND) write_pred(w, i->d, 1u << l, bar->all ? ~0u : 0);
            else if (mode == BAR_OR) write_pred(w, i->d, 1u << l, bar->any ? ~0u : 0);
        }
    }
    *bar = (struct sim_bar){ .all = 1 };
}

/* A barrier with a count counts whole warps: a warp that comes counts its threads that are gone, or never were, as present. */
static bool complete(const struct sim_block *b, unsigned id)
{
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

void sim_bars_check(struct sim_block *b)
{
    for (unsigned id = 0; id < SIM_BARS; id++) if (b->bars[id].waiting && complete(b, id)) release(b, id);
}

SIM_HANDLER(bar)
{
    struct sim_block *b = w->block;
    const u32 *ids = SIM_AT(u32, i->a), *counts = SIM_AT(u32, i->c);
    const uint32_t mode = i->flags >> SIM_I_USER, pred = mode >= BAR_POPC ? *SIM_AT(uint32_t, i->b) : 0, here = sim_pc(w, i);
    sim_warp_place(w, w->group & ~m, here + 1);
    for (uint32_t rest = m, same; rest; rest &= ~same) {
        const int first = __builtin_ctz(rest);
        const uint32_t id = ids[first], count = i->flags & SIM_I_COUNT ? counts[first] : 0;
        same = 0;
        for (int l = 0; l < 32; l++) same |= ids[l] == id ? sim_lane_bit[l] : 0;
        same &= rest;
        if (id >= (i->imm ? SIM_BARS : 16)) { sim_fault_at(w, i, first, SIM_F_ILLEGAL_INSTRUCTION, "barrier %u", id); return; }
        if (count & 31) { sim_fault_at(w, i, first, SIM_F_ILLEGAL_INSTRUCTION, "barrier with %u threads, not a multiple of 32",
            count); return; }
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
            bar->popc += (uint32_t)__builtin_popcount(same & pred);
            if (same & pred) bar->any = 1;
            if (same & ~pred) bar->all = 0;
        }
        if (complete(b, id)) release(b, id);
    }
    sim_warp_moved(w);
}

#define E(n) SIM_E(n)
const struct sim_entry sim_sync_table[] = {
    E(shfl_sync), E(vote_sync), E(match_any_32), E(match_any_64), E(match_all_32), E(match_all_64), E(redux_add), E(redux_and),
    E(redux_or), E(redux_xor), E(redux_min_u32), E(redux_max_u32), E(redux_min_s32), E(redux_max_s32), E(elect_sync),
    E(bar_warp_sync), E(bar), { NULL, NULL }
};
#undef E
