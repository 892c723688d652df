/* shuffle.c - operations across lanes of a warp: shfl, vote, match, redux, bar.warp, elect. Lane
   operations: see lanes.h; together.h: how lanes wait for each other. */
#include "together.h"

/* shfl: a value, b lane or distance, c clamp and segment mask; the optional predicate destination
   is in imm */
#define SHFL(NAME, J, IN) \
    static void do_shfl_##NAME( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u32 *a = SIM_AT(u32, i->a); \
        const s32 *b = SIM_AT(s32, i->b), *c = SIM_AT(s32, i->c); \
        u32 *d = SIM_AT(u32, i->d), from[32], valid = 0; \
        s32 lane[32]; \
        (void)members; \
        memcpy(from, a, sizeof from); \
        SIM_LANES { \
            const s32 by = b[l] & 31, segment = c[l] >> 8 & 31, \
                      top = (l & segment) | (c[l] & 31 & ~segment), j = (J); \
            lane[l] = (IN) ? j : l; \
            valid |= (IN) ? sim_lane_bit[l] : 0; \
        } \
        for (int l = 0; l < 32; l++) d[l] = SIM_ON(lanes) ? from[lane[l]] : d[l]; \
        if (i->flags & SIM_I_SECOND) sim_write_pred(w, (uint32_t)i->imm, lanes, valid); \
    } \
    SIM_HANDLER(shfl_##NAME) { together(w, i, m, false, do_shfl_##NAME); }
/* clang-format off */
SHFL(up, l - by, j >= top)
SHFL(down, l + by, j <= top)
SHFL(bfly, l ^ by, j <= top)
SHFL(idx, (l & segment) | (by & ~segment), j <= top)
/* clang-format on */

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
static void do_vote(
        struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) {
    const uint32_t mode = i->flags >> SIM_I_USER, voters = lanes & members,
                   yes = *SIM_AT(uint32_t, i->a) & voters;
    if (mode == VOTE_BALLOT) {
        u32 *d = SIM_AT(u32, i->d);
        SIM_LANES
            d[l] = SIM_ON(lanes) ? yes : d[l];
    } else
        sim_write_pred(w, i->d, lanes,
                (mode == VOTE_ALL                  ? yes == voters
                                : mode == VOTE_ANY ? yes != 0
                                                   : yes == 0 || yes == voters)
                        ? ~0u
                        : 0);
}
SIM_HANDLER(vote_sync) { together(w, i, m, false, do_vote); }

#define MATCH(BITS) \
    static void do_match_any_##BITS( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u##BITS *a = SIM_AT(u##BITS, i->a); \
        u32 out[32] = { 0 }; \
        SIM_EACH_LANE (lanes) { \
            const u##BITS v = a[l]; \
            for (int k = 0; k < 32; k++) \
                if ((lanes & members) >> k & 1 && a[k] == v) out[l] |= 1u << k; \
        } \
        u32 *d = SIM_AT(u32, i->d); \
        SIM_EACH_LANE (lanes) d[l] = out[l]; \
    } \
    static void do_match_all_##BITS( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u##BITS *a = SIM_AT(u##BITS, i->a), v = a[__builtin_ctz(lanes)]; \
        bool all = true; \
        SIM_EACH_LANE (lanes &members) all &= a[l] == v; \
        u32 *d = SIM_AT(u32, i->d); \
        SIM_EACH_LANE (lanes) d[l] = all ? lanes & members : 0; \
        if (i->flags & SIM_I_SECOND) sim_write_pred(w, (uint32_t)i->imm, lanes, all ? ~0u : 0); \
    } \
    SIM_HANDLER(match_any_##BITS) { together(w, i, m, false, do_match_any_##BITS); } \
    SIM_HANDLER(match_all_##BITS) { together(w, i, m, false, do_match_all_##BITS); }
MATCH(32)
MATCH(64)

#define REDUX(NAME, T, E) \
    static void do_redux_##NAME( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const u32 *a = SIM_AT(u32, i->a); \
        const uint32_t voters = lanes & members ? lanes & members : lanes; \
        T x = (T)a[__builtin_ctz(voters)]; \
        SIM_EACH_LANE (voters &(voters - 1)) { \
            const T y = (T)a[l]; \
            x = (T)(E); \
        } \
        u32 *d = SIM_AT(u32, i->d); \
        SIM_LANES \
            d[l] = SIM_ON(lanes) ? (u32)x : d[l]; \
    } \
    SIM_HANDLER(redux_##NAME) { together(w, i, m, false, do_redux_##NAME); }
/* clang-format off */
REDUX(add, u32, x + y)
REDUX(and, u32, x & y)
REDUX(or, u32, x | y)
REDUX(xor, u32, x ^ y)
REDUX(min_u32, u32, x < y ? x : y)
REDUX(max_u32, u32, x > y ? x : y)
REDUX(min_s32, s32, x < y ? x : y)
REDUX(max_s32, s32, x > y ? x : y)
/* clang-format on */

/* d: the leader's lane, or sink; b: predicate true in the leader */
static void do_elect(
        struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) {
    const uint32_t voters = lanes & members ? lanes & members : lanes,
                   leader = (uint32_t)__builtin_ctz(voters);
    if (!(i->flags & SIM_I_SINK)) {
        u32 *d = SIM_AT(u32, i->d);
        SIM_LANES
            d[l] = SIM_ON(lanes) ? leader : d[l];
    }
    sim_write_pred(w, i->b, lanes, 1u << leader);
}
SIM_HANDLER(elect_sync) { together(w, i, m, false, do_elect); }
SIM_HANDLER(bar_warp_sync) { together(w, i, m, true, NULL); }

#define OP(n, t, run) SIM_OP(n, t, PLAIN, run)
#define BITS(n) OP(n, U32, n##_32), OP(n, U64, n##_64)
const struct sim_operation SIM_ISA(sim_shuffle_table)[] = { OP(shfl_up, U32, shfl_up),
    OP(shfl_down, U32, shfl_down), OP(shfl_bfly, U32, shfl_bfly), OP(shfl_idx, U32, shfl_idx),
    BITS(match_any), BITS(match_all), OP(redux_add, U32, redux_add), OP(redux_add, S32, redux_add),
    OP(redux_min, U32, redux_min_u32), OP(redux_min, S32, redux_min_s32),
    OP(redux_max, U32, redux_max_u32), OP(redux_max, S32, redux_max_s32),
    OP(redux_and, U32, redux_and), OP(redux_or, U32, redux_or), OP(redux_xor, U32, redux_xor),
    SIM_UNTYPED(vote_sync), SIM_UNTYPED(elect_sync), SIM_UNTYPED(bar_warp_sync), SIM_END };
#undef OP
