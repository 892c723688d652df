/* matrix_memory.c - matrices in memory: wmma.load, wmma.store, ldmatrix, stmatrix; movmatrix. */
#include "together.h"

static uint64_t address(struct sim_warp *w, const struct sim_insn *i, uint32_t l) {
    return (i->flags & SIM_I_BASE64 ? SIM_AT(u64, i->a)[l] : SIM_AT(u32, i->a)[l]) +
            (uint64_t)i->imm;
}

/* In one piece, since other threads may access them at the same time. */
static u64 load_piece(const void *p, unsigned size) {
    switch (size) {
    case 1: return __atomic_load_n((const u8 *)p, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n((const u16 *)p, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const u32 *)p, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const u64 *)p, __ATOMIC_RELAXED);
    }
}
static void store_piece(void *p, unsigned size, u64 v) {
    switch (size) {
    case 1: __atomic_store_n((u8 *)p, (u8)v, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((u16 *)p, (u16)v, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((u32 *)p, (u32)v, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((u64 *)p, v, __ATOMIC_RELAXED);
    }
}

/* -- wmma.load, wmma.store: of each lane the elements of a register at once, if they are neighbours
   in memory. Documented is only what follows from aligned matrices; an H200 accesses memory in
   pieces of `wide` bytes, which must be aligned, and rounds strides (tests/device/unit/matrices.c)
 */

struct pieces {
    const struct sim_fragment *f;
    bool col;
    unsigned packed, size, unit; /* elements of a register; bytes; bits from column to column */
    bool apart, squares;         /* squares: as ldmatrix */
    unsigned wide;               /* bytes of an access */
    unsigned rounds, block; /* the stride is rounded down to that many elements, but not from one
                               block of that many lines to the next */
};

static struct pieces pieces_of(const struct sim_mma *x, enum sim_space space) {
    const struct sim_fragment *f = &x->of[x->which];
    const bool factor = x->which == SIM_MATRIX_A || x->which == SIM_MATRIX_B,
               bits1 = f->type == SIM_E_B1;
    struct pieces p = { .f = f,
        .col = x->a_col,
        .packed = f->bits < 32 ? 32 / f->bits : 1,
        .unit = bits1 ? 1 : f->bits,
        .rounds = 1,
        .block = !factor && x->how.m == 16 && x->how.n == 16 ? 16 : 8 };
    const bool beside = f->n > 1 && f->element[1] == (p.col ? 256 : 1);
    const bool pairs = !factor && beside && f->bits >= 32;
    p.apart = p.packed > 1 && !beside;
    p.size = p.apart ? f->bits / 8 : f->bits == 64 ? 8 : 4;
    p.squares = space == SIM_SHARED && factor && !(f->bits == 8 && p.apart) &&
            (f->bits <= 16 || bits1);
    p.wide = p.squares ? 16 : pairs ? f->bits / 4 : f->bits == 16 ? 4 : p.size;
    if (bits1) p.rounds = 32;
    else if (f->bits == 4) p.rounds = 8;
    else if ((f->bits == 16 && !p.squares) || (pairs && f->bits == 32)) p.rounds = 2;
    return p;
}

/* The access that contains a lane's element e; *rest: where in it. NULL: it raised a fault. */
static unsigned char *piece_at(struct sim_warp *w, const struct sim_insn *i, uint32_t l,
        const struct pieces *p, unsigned e, unsigned *rest, bool store) {
    const unsigned at = p->f->lane[l] + p->f->element[e], row = at >> 8, column = at & 255;
    const unsigned line = p->col ? column : row, inside = (p->col ? row : column) * p->f->bits / 8;
    const uint64_t stride = SIM_AT(u32, i->b)[l], rounded = stride / p->rounds * p->rounds;
    const uint64_t bits = (line / p->block * p->block * stride + line % p->block * rounded) *
            p->unit;
    *rest = inside % p->wide;
    return sim_at(w, i, (int)l, (enum sim_space)i->width,
            address(w, i, l) + bits / 8 + inside - *rest, p->wide,
            p->squares      ? "read of a matrix"
                    : store ? "store"
                            : "load");
}

static void do_wmma_load(
        struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) {
    const struct pieces p = pieces_of(&w->block->code->mmas[i->c], (enum sim_space)i->width);
    const unsigned step = p.apart ? 1 : p.packed, words = p.f->n / p.packed;
    unsigned rest;
    (void)members;
    if (!words) return;
    SIM_EACH_LANE (lanes) {
        u64 v[SIM_LANE_REGISTERS] = { 0 };
        for (unsigned e = 0; e < p.f->n; e += step) {
            const unsigned char *from = piece_at(w, i, l, &p, e, &rest, false);
            if (!from) return;
            v[e / p.packed] |= load_piece(from + rest, p.size) << e % p.packed * p.f->bits;
        }
        for (unsigned r = 0; r < p.f->registers; r++) {
            const u64 word = v[r % words];
            if (p.f->bits == 64) SIM_AT(u64, p.f->at[r])[l] = word;
            else SIM_AT(u32, p.f->at[r])[l] = (u32)word;
        }
    }
}
SIM_HANDLER(wmma_load) { together(w, i, m, false, do_wmma_load); }

static void do_wmma_store(
        struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) {
    const struct pieces p = pieces_of(&w->block->code->mmas[i->c], (enum sim_space)i->width);
    const unsigned step = p.apart ? 1 : p.packed;
    unsigned rest;
    (void)members;
    SIM_EACH_LANE (lanes) {
        for (unsigned e = 0; e < p.f->n; e += step) {
            unsigned char *to = piece_at(w, i, l, &p, e, &rest, true);
            if (!to) return;
            const uint32_t from = p.f->at[e / p.packed];
            const u64 v = p.f->bits == 64 ? SIM_AT(u64, from)[l] : SIM_AT(u32, from)[l];
            store_piece(to + rest, p.size, v >> e % p.packed * p.f->bits);
        }
    }
}
SIM_HANDLER(wmma_store) { together(w, i, m, false, do_wmma_store); }

/* -- ldmatrix, stmatrix, movmatrix: 8 x 8 elements of 16 bits. Lane l has a pair of row l / 4; of
   the transposed matrix, a pair of column l / 4. Lane 8k + r has the address of row r of matrix
   k. */

typedef u16 square[8][8];

static void from_lanes(square to, const u32 *lanes, bool trans) {
    for (unsigned l = 0; l < 32; l++)
        for (unsigned h = 0; h < 2; h++)
            *(trans ? &to[l % 4 * 2 + h][l / 4]
                    : &to[l / 4][l % 4 * 2 + h]) = (u16)(lanes[l] >> 16 * h);
}

static u32 of_lane(square from, unsigned l, bool trans) {
    const unsigned a = l / 4, b = l % 4 * 2;
    return trans ? from[b][a] | (u32)from[b + 1][a] << 16 : from[a][b] | (u32)from[a][b + 1] << 16;
}

static void load_squares(struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, bool trans) {
    const struct sim_fragment *f = &w->block->code->mmas[i->c].of[SIM_MATRIX_D];
    square from[4];
    for (unsigned l = 0; l < 8 * f->registers; l++) {
        const unsigned char *row = sim_at(
                w, i, (int)l, (enum sim_space)i->width, address(w, i, l), 16, "read of a matrix");
        if (!row) return;
        for (unsigned k = 0; k < 8; k++) from[l / 8][l % 8][k] = (u16)load_piece(row + 2 * k, 2);
    }
    for (unsigned k = 0; k < f->registers; k++)
        SIM_EACH_LANE (lanes) SIM_AT(u32, f->at[k])[l] = of_lane(from[k], l, trans);
}

static void store_squares(struct sim_warp *w, const struct sim_insn *i, bool trans) {
    const struct sim_fragment *f = &w->block->code->mmas[i->c].of[SIM_MATRIX_D];
    square to[4];
    for (unsigned k = 0; k < f->registers; k++) from_lanes(to[k], SIM_AT(u32, f->at[k]), trans);
    for (unsigned l = 0; l < 8 * f->registers; l++) {
        unsigned char *row = sim_at(
                w, i, (int)l, (enum sim_space)i->width, address(w, i, l), 16, "store of a matrix");
        if (!row) return;
        for (unsigned k = 0; k < 8; k++) store_piece(row + 2 * k, 2, to[l / 8][l % 8][k]);
    }
}

#define SQUARES(NAME, STATEMENT) \
    static void do_##NAME( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        (void)lanes; \
        (void)members; \
        STATEMENT; \
    } \
    SIM_HANDLER(NAME) { together(w, i, m, false, do_##NAME); }
SQUARES(ldmatrix, load_squares(w, i, lanes, false))
SQUARES(ldmatrix_trans, load_squares(w, i, lanes, true))
SQUARES(stmatrix, store_squares(w, i, false))
SQUARES(stmatrix_trans, store_squares(w, i, true))

static void do_movmatrix(
        struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) {
    square s;
    (void)members;
    from_lanes(s, SIM_AT(u32, i->a), false);
    SIM_EACH_LANE (lanes) SIM_AT(u32, i->d)[l] = of_lane(s, l, true);
}
SIM_HANDLER(movmatrix) { together(w, i, m, false, do_movmatrix); }

const struct sim_operation sim_matrix_memory_table[] = { SIM_UNTYPED(wmma_load),
    SIM_UNTYPED(wmma_store), SIM_UNTYPED(ldmatrix), SIM_UNTYPED(ldmatrix_trans),
    SIM_UNTYPED(stmatrix), SIM_UNTYPED(stmatrix_trans), SIM_UNTYPED(movmatrix), SIM_END };
