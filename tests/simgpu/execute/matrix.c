/* matrix.c - mma and wmma.mma: each matrix is gathered from the lanes' registers, and D is shared
   out to them. Lane operations: see lanes.h. */
#include "together.h"
#include "products.h"

enum { MOST = 1024 }; /* elements of a matrix */

/* of b1, in words */
static unsigned length(const struct sim_products *p) { return p->a == SIM_E_B1 ? p->k / 32 : p->k; }

/* Sparse: each 4 columns of A (2 of tf32, 8 of s4 and u4) have half as many elements, and the
   metadata has 2 bits for each of these (4 for each of tf32, 2 for each pair of s4 and u4), which
   say in which column it is. A quad of lanes has those of two rows, from the lane on that the
   selector names: of integers and fp8, 32 bits of a row in each lane, else 16 bits of both. */
static void find_columns(
        const struct sim_mma *x, const u32 *metadata, unsigned row, uint8_t *column) {
    const struct sim_products *p = &x->how;
    const bool tf32 = p->a == SIM_E_TF32, pairs = p->a == SIM_E_U4 || p->a == SIM_E_S4,
               halves = x->of[SIM_MATRIX_A].bits >= 16;
    const unsigned n = p->k / 2;
    const u32 *quad = metadata + row % 8 * 4 + x->selector * sim_metadata_lanes(p) % 4;
    for (unsigned k = 0; k < n; k++) {
        const unsigned at = tf32 ? 4 * k : pairs ? k / 2 * 2 : 2 * k;
        const u32 word = halves ? quad[at / 16] >> row / 8 * 16 >> at % 16
                                : quad[at / 32 * 2 + row / 8] >> at % 32;
        const unsigned which = word & 3;
        column[k] = (uint8_t)(tf32 ? 2 * k + which / 2
                        : pairs    ? k / 4 * 8 + which * 2 + k % 2
                                   : k / 2 * 4 + which);
    }
}

/* to[row * down + column * across] */
#define MMA(BITS, PRODUCTS) \
    static void gather_##BITS(const struct sim_warp *w, const struct sim_fragment *f, u##BITS *to, \
            unsigned down, unsigned across) { \
        const unsigned packed = f->bits < 32 ? 32 / f->bits : 1; \
        const u##BITS mask = f->bits < 32 ? (1u << f->bits) - 1 : ~(u##BITS)0; \
        for (unsigned e = 0; e < f->n; e++) { \
            const u##BITS *from = SIM_AT(u##BITS, f->at[e / packed]); \
            const unsigned shift = e % packed * f->bits; \
            for (unsigned l = 0; l < 32; l++) { \
                const unsigned at = f->lane[l] + f->element[e]; \
                to[(at >> 8) * down + (at & 255) * across] = from[l] >> shift & mask; \
            } \
        } \
    } \
    static void share_##BITS(struct sim_warp *w, const struct sim_fragment *f, uint32_t lanes, \
            const u##BITS *from, unsigned down) { \
        const unsigned packed = f->bits < 32 ? 32 / f->bits : 1; \
        for (unsigned r = 0; r < f->registers; r++) { \
            u##BITS *to = SIM_AT(u##BITS, f->at[r]); \
            SIM_EACH_LANE (lanes) { \
                u##BITS v = 0; \
                for (unsigned e = 0; e < packed; e++) { \
                    const unsigned at = f->lane[l] + f->element[r * packed + e]; \
                    v |= from[(at >> 8) * down + (at & 255)] << e * f->bits; \
                } \
                to[l] = v; \
            } \
        } \
    } \
    static void do_mma_##BITS( \
            struct sim_warp *w, const struct sim_insn *i, uint32_t lanes, uint32_t members) { \
        const struct sim_mma *x = &w->block->code->mmas[i->c]; \
        const struct sim_products *p = &x->how; \
        const unsigned rows = x->four ? 4 * p->m : p->m, k = length(p), \
                       stored = p->sparse ? k / 2 : k; \
        u##BITS a[MOST] = { 0 }, b[MOST] = { 0 }, c[MOST] = { 0 }, chosen[MOST] = { 0 }; \
        uint8_t column[MOST] = { 0 }; \
        (void)members; \
        gather_##BITS(w, &x->of[SIM_MATRIX_A], a, stored, 1); \
        gather_##BITS(w, &x->of[SIM_MATRIX_B], b, 1, k); \
        gather_##BITS(w, &x->of[SIM_MATRIX_C], c, p->n, 1); \
        for (unsigned row = 0; row < rows; row++) { \
            if (p->sparse) find_columns(x, SIM_AT(u32, x->metadata), row, column); \
            for (unsigned n = 0; n < p->n; n++) { \
                const u##BITS *of_b = b + (x->four ? row / 8 * 8 + n : n) * k; \
                u##BITS *sum = &c[row * p->n + n]; \
                for (unsigned j = 0; p->sparse && j < stored; j++) chosen[j] = of_b[column[j]]; \
                *sum = PRODUCTS(p, a + row * stored, p->sparse ? chosen : of_b, *sum); \
            } \
        } \
        share_##BITS(w, &x->of[SIM_MATRIX_D], lanes, c, p->n); \
    } \
    SIM_HANDLER(mma_##BITS) { together(w, i, m, false, do_mma_##BITS); }
MMA(32, sim_products)
MMA(64, sim_products64)

const struct sim_operation SIM_ISA(
        sim_matrix_table)[] = { SIM_UNTYPED(mma_32), SIM_UNTYPED(mma_64), SIM_END };
