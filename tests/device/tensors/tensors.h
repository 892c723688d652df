/* tensors.h - programs that use tensor cores: one for each form of an instruction, made from its
   name alone. Each runs on 1,000 fragments, and leaves their results to compare with an H200's. */
#ifndef TSR_H
#define TSR_H

#include "../../../gpuexec.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TSR_FRAGMENTS = 1000,
    TSR_IN = 32,      /* words of input of a lane */
    TSR_MEMORY = 16,  /* words of shared memory that a lane fills or saves */
    TSR_OUT = 16,     /* words of results of a lane, at most */
    TSR_FORMS = 700,  /* at most */
    TSR_CLASSES = 16, /* of values: fragment f has those of class f % 16 */
    /* where a lane's address for ldmatrix and stmatrix, and the latter's registers are */
    TSR_ADDRESS = 16,
    TSR_MATRICES = 17
};
/* from registers to registers, memory to registers, registers to memory */
enum tsr_kind { TSR_MMA, TSR_LOAD, TSR_STORE };
struct tsr_operand {
    char type[8];
    unsigned bits;         /* of an element */
    unsigned first, words; /* where a lane has it in its input or results */
};
struct tsr_form {
    char name[120], text[8000];
    enum tsr_kind kind;
    unsigned m, n, k;
    bool sparse, addressed; /* addressed: ldmatrix, stmatrix */
    struct tsr_operand a, b, c, d, e;
    unsigned out; /* words of results of a lane */
};

/* forms.c */
unsigned tsr_count(void);
const char *tsr_name(unsigned number);
void tsr_form(struct tsr_form *f, unsigned number);
/* values.c: the input of a fragment */
void tsr_fill(const struct tsr_form *f, unsigned fragment, uint32_t lanes[32][TSR_IN]);

#endif
