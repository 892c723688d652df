/* matrix.h - the matrices of tensor-core instructions, and how the lanes of a warp hold them.

   D = A x B + C. Each lane has some elements of a matrix, packed into registers from their lowest
   bits on. Every bit of the lane's number, and of an element's number in the lane, adds a power of
   two to the element's row or column; so a place is the sum of what both numbers give. Documented
   for mma; measured for wmma. */
#ifndef SIM_MATRIX_H
#define SIM_MATRIX_H

#include "base.h"

enum sim_element {
    SIM_E_NONE, /* of ldmatrix and stmatrix: whole registers */
    SIM_E_F16,
    SIM_E_BF16,
    SIM_E_TF32,
    SIM_E_E4M3,
    SIM_E_E5M2,
    SIM_E_F32, /* of C and D only */
    SIM_E_F64,
    SIM_E_U8,
    SIM_E_S8,
    SIM_E_U4,
    SIM_E_S4,
    SIM_E_B1,
    SIM_E_S32 /* of C and D only */
};
struct sim_products {
    enum sim_element a, b, c, d;
    unsigned m, n, k; /* of the instruction, as in m16n8k16 */
    bool wmma, sparse, satfinite, xor;
    int round; /* of f64: 0 to nearest even, 1 toward zero, 2 down, 3 up */
};

enum sim_matrix { SIM_MATRIX_D, SIM_MATRIX_A, SIM_MATRIX_B, SIM_MATRIX_C, SIM_MATRICES };
enum { SIM_LANE_REGISTERS = 8, SIM_LANE_ELEMENTS = 32 }; /* at most */
struct sim_fragment {
    enum sim_element type;
    unsigned bits;      /* of an element; of b1, 32 elements in a row count as one */
    unsigned n;         /* elements of a lane */
    unsigned registers; /* of a lane: of 64 bits for f64, else of 32. More than the elements need:
                           the others have them again */
    uint16_t lane[32], element[SIM_LANE_ELEMENTS]; /* row << 8 | column */
    uint32_t at[SIM_LANE_REGISTERS];               /* in the register file */
};

/* an instruction with matrices */
struct sim_mma {
    struct sim_products how;
    enum sim_matrix which; /* of wmma.load and wmma.store */
    unsigned registers;    /* of ldmatrix and stmatrix */
    bool a_col, b_row;     /* of wmma.load and wmma.store, a_col is that of any matrix */
    bool four;             /* m8n8k4 of f16: four of them, with 8 lanes each. The rows of A and D,
                              and the columns of B, are all of theirs */
    struct sim_fragment of[SIM_MATRICES];
    uint32_t metadata, selector; /* metadata: a register */
};
/* All but the fragments and the metadata, from its modifiers; false: it has no matrices. */
bool sim_mma_read(struct sim_mma *x, const char *op, const char *const *mods, unsigned n);
/* mma.sp: of 4 lanes, those that have the metadata of two rows */
unsigned sim_metadata_lanes(const struct sim_products *p);
struct sim_fragment sim_fragment_of(const struct sim_mma *x, enum sim_matrix which);

#endif
