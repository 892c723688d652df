/* boxes.h - random programs that copy boxes of tensors: each is made from its kind and number
   alone, runs in one kernel, and leaves bytes to compare with those of an H200. */
#ifndef BOX_H
#define BOX_H

#include "../../../gpuexec.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BOX_PROGRAMS = 200, /* of each kind */
    BOX_SHARED = 20480, /* bytes of shared memory that a program uses and shows */
    BOX_OUT = 2 * BOX_SHARED + 64,
    BOX_MEMORY = 1 << 20, /* the tensor is somewhere behind the middle */
    BOX_MIDDLE = BOX_MEMORY / 2,
};
enum box_kind {
    BOX_LOAD,    /* tiles to shared memory */
    BOX_IM2COL,  /* the same with im2col */
    BOX_STORE,   /* tiles from shared memory */
    BOX_SCATTER, /* stores and reductions with im2col */
    BOX_REDUCE,  /* reductions of tiles */
    BOX_REPLACE, /* a map that the kernel changes, then a load */
    BOX_ENCODE,  /* descriptions of which most are wrong: whether the driver accepts them */
    BOX_KINDS
};
enum box_place { BOX_PARAM, BOX_CONST, BOX_GLOBAL }; /* where the map is */

/* What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take, with CUDA's numbers. */
struct box_desc {
    bool im2col;
    unsigned type, rank, interleave, swizzle, promotion, fill;
    uint64_t offset; /* of the address, from the middle */
    uint64_t dim[5], stride[4];
    uint32_t box[5], step[5];
    int lower[3], upper[3];
    uint32_t channels, pixels;
};

struct box_program {
    enum box_kind kind;
    unsigned number;
    struct box_desc map, before; /* before: what a kernel of BOX_REPLACE changes */
    enum box_place place;
    int at[5];
    unsigned offset[3];
    unsigned shared_at, bytes, ranks; /* bytes: that a load announces; ranks: of a multicast */
    unsigned reduction;               /* 0: a plain store */
    bool hint, prefetches;
    char text[16000];
};

extern const char *const box_kinds[BOX_KINDS];
unsigned box_element_bytes(unsigned type);
void box_generate(struct box_program *p, enum box_kind kind, unsigned number);
/* The bytes of the tensor's memory, and those of shared memory before the copy. */
void box_fill(const struct box_program *p, unsigned char *memory, unsigned char *shared);
/* Describes it in a line. */
void box_describe(const struct box_program *p, char *text, size_t size);
/* text.c: writes p->text. */
void box_write(struct box_program *p);

#endif
