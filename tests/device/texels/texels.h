/* texels.h - random programs that read textures, and read and write surfaces: each is made from its
   number alone, runs in one kernel, and leaves bytes to compare with those of an H200. */
#ifndef TXL_H
#define TXL_H

#include "../../../gpuexec.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TXL_LANES = 256,      /* threads of a texture program, steps of a surface program */
    TXL_WORDS = 16,       /* operands of a lane */
    TXL_TEXELS = 1 << 19, /* the most bytes of a source */
    TXL_OUT = TXL_LANES * 16 + TXL_TEXELS, /* results; of surfaces, the texels behind them */
};
/* operands of a lane, of which a program uses some */
enum { TXL_AT = 0, TXL_LAYER = 3, TXL_LOD, TXL_REFERENCE, TXL_DX, TXL_DY = 9, TXL_OFFSET = 12 };
enum txl_geometry { TXL_1D, TXL_2D, TXL_3D, TXL_A1D, TXL_A2D, TXL_CUBE, TXL_ACUBE };
enum txl_op {
    TXL_TEX,
    TXL_LEVEL,
    TXL_GRAD,
    TXL_FETCH,
    TXL_FETCH_LEVEL,
    TXL_GATHER,
    TXL_QUERY,
    TXL_SULD,
    TXL_SUST,
    TXL_SUST_FORMATTED,
    TXL_SURED,
    TXL_SURED_FORMATTED,
    TXL_SUQ
};
enum txl_result { TXL_F32, TXL_U32, TXL_S32, TXL_F16 };
/* where the coordinates of a lane lie, in texels */
enum txl_places { TXL_EDGES, TXL_FIXED, TXL_ANYWHERE, TXL_INSIDE, TXL_HOSTILE, TXL_MIXED };
enum txl_texels { TXL_RANDOM, TXL_IMPULSE, TXL_BY_LEVEL, TXL_STRANGE };

struct txl_program {
    unsigned number;
    bool surface;
    enum txl_geometry geometry;
    gpuexec_array_desc shape; /* of memory: its format, channels, width and height */
    gpuexec_texture_desc how;
    bool linear, pitched; /* it reads device memory */
    enum txl_op op;
    enum txl_result result;
    enum txl_places places;
    enum txl_texels texels;
    bool offsets, compares;
    unsigned component;    /* of a gather */
    unsigned size, vector; /* surfaces: bits of an element of the access, and elements */
    unsigned reduction;    /* index into txl_reductions */
    bool clamps;           /* .clamp or .zero */
    uint32_t lane[TXL_LANES][TXL_WORDS];
    char text[12000];
};

void txl_generate(struct txl_program *p, bool surface, unsigned number);
/* Fills the texels of a level; returns their bytes. */
size_t txl_fill(const struct txl_program *p, unsigned level, unsigned char *texels);
/* Describes it in a line. */
void txl_describe(const struct txl_program *p, char *text, size_t size);

#endif
