/* texel.h - the formats of texels: their components as numbers, and back. */
#ifndef SIM_TEXEL_H
#define SIM_TEXEL_H

#include "../base/image.h"
#include "sample.h"
#include "execute.h"

enum sim_component {
    SIM_C_NONE, /* not supported */
    SIM_C_UINT,
    SIM_C_SINT,
    SIM_C_UNORM,
    SIM_C_SNORM,
    SIM_C_HALF,
    SIM_C_FLOAT,
    SIM_C_PACKED, /* 10, 10, 10 and 2 bits */
    SIM_C_BLOCK   /* compressed: 4 x 4 texels in 8 or 16 bytes */
};
struct sim_components {
    enum sim_component kind;
    unsigned bytes; /* of one */
};

static inline struct sim_components sim_components_of(unsigned format) {
    static const unsigned char sizes[3] = { 1, 2, 4 };
    if (format >= CU_AD_FORMAT_UNSIGNED_INT8 && format <= CU_AD_FORMAT_UNSIGNED_INT32)
        return (struct sim_components){ SIM_C_UINT, sizes[format - CU_AD_FORMAT_UNSIGNED_INT8] };
    if (format >= CU_AD_FORMAT_SIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32)
        return (struct sim_components){ SIM_C_SINT, sizes[format - CU_AD_FORMAT_SIGNED_INT8] };
    if (format == CU_AD_FORMAT_HALF) return (struct sim_components){ SIM_C_HALF, 2 };
    if (format == CU_AD_FORMAT_FLOAT) return (struct sim_components){ SIM_C_FLOAT, 4 };
    if (format == CU_AD_FORMAT_UNORM_INT_101010_2)
        return (struct sim_components){ SIM_C_PACKED, 4 };
    if (format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_UNORM_INT16X4)
        return (struct sim_components){ SIM_C_UNORM, format < CU_AD_FORMAT_UNORM_INT16X1 ? 1 : 2 };
    if (format >= CU_AD_FORMAT_SNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4)
        return (struct sim_components){ SIM_C_SNORM, format < CU_AD_FORMAT_SNORM_INT16X1 ? 1 : 2 };
    if (format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_BC7_UNORM_SRGB)
        return (struct sim_components){ SIM_C_BLOCK, 0 };
    return (struct sim_components){ SIM_C_NONE, 0 };
}

/* What is read of one texel. bits: the result of a read without filtering; v: what filters add, in
   units of 1 / scale; exponent: of numbers. */
struct sim_texel {
    u32 bits[4];
    f64 v[4];
    int exponent[4];
};

static inline u32 sim_raw(const unsigned char *p, unsigned bytes) {
    u32 v = 0;
    memcpy(&v, p, bytes);
    return v;
}
static inline s32 sim_extended(u32 v, unsigned bytes) {
    return bytes == 1 ? (s8)v : bytes == 2 ? (s16)v : (s32)v;
}

/* channel_data_type of the PTX ISA; the compressed formats have none */
static inline u32 sim_data_type(unsigned format) {
    static const unsigned short unsigned_ints[] = { 0x10da, 0x10db, 0x10dc },
                                signed_ints[] = { 0x10d7, 0x10d8, 0x10d9 };
    const struct sim_components is = sim_components_of(format);
    const unsigned n = is.bytes == 1 ? 0 : is.bytes == 2 ? 1 : 2;
    switch (is.kind) {
    case SIM_C_UINT: return unsigned_ints[n];
    case SIM_C_SINT: return signed_ints[n];
    case SIM_C_UNORM: return n ? 0x10d3 : 0x10d2;
    case SIM_C_SNORM: return n ? 0x10d1 : 0x10d0;
    case SIM_C_PACKED: return 0x10d6;
    case SIM_C_HALF: return 0x10dd;
    case SIM_C_FLOAT: return 0x10de;
    default: return 0;
    }
}

/* What txq and suq return. of: NULL for a surface. Documented are names: those of OpenCL, with its
   numbers; for the modes, here their order. An H200's driver has width, height and depth only. */
static inline u32 sim_answer(
        const struct sim_texels *t, const CUDA_TEXTURE_DESC *of, enum sim_query query, u32 level) {
    static const CUDA_TEXTURE_DESC of_surface;
    const CUDA_TEXTURE_DESC *how = of ? of : &of_surface;
    static const unsigned char modes[] = { [CU_TR_ADDRESS_MODE_WRAP] = 0,
        [CU_TR_ADDRESS_MODE_CLAMP] = 3,
        [CU_TR_ADDRESS_MODE_MIRROR] = 1,
        [CU_TR_ADDRESS_MODE_BORDER] = 4 };
    if (level >= t->nlevels) return 0;
    const struct sim_level *l = &t->levels[level];
    /* layers follow the dimensions of one */
    const u32 layers = t->layered ? l->depth / (t->cube ? 6 : 1) : 0;
    switch (query) {
    case SIM_Q_WIDTH: return l->width;
    case SIM_Q_HEIGHT: return t->dims > 1 ? l->height : layers ? layers : of ? 1 : 0;
    case SIM_Q_DEPTH: return t->dims > 2 ? l->depth : t->dims == 2 ? layers : 0;
    case SIM_Q_CHANNEL_DATA_TYPE: return sim_data_type(t->format);
    case SIM_Q_CHANNEL_ORDER: return t->channels == 1 ? 0x10b0 : t->channels == 2 ? 0x10b2 : 0x10b5;
    case SIM_Q_NORMALIZED_COORDS: return (how->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    case SIM_Q_FILTER_MODE: return how->filterMode;
    case SIM_Q_ADDR_MODE_0: return modes[how->addressMode[0] & 3];
    case SIM_Q_ADDR_MODE_1: return modes[how->addressMode[1] & 3];
    case SIM_Q_ADDR_MODE_2: return modes[how->addressMode[2] & 3];
    case SIM_Q_NUM_MIPMAP_LEVELS: return t->nlevels;
    case SIM_Q_ARRAY_SIZE: return t->layered ? l->depth / (t->cube ? 6 : 1) : 1;
    default: return 1; /* samples of a texel */
    }
}

/* an operand of 32 bits, as a lane sees it */
static inline u32 sim_operand_u32(const struct sim_warp *w, uint32_t op, int lane) {
    return SIM_AT(u32, op)[lane];
}

/* blocks.c: a texel of a block as numbers: components 0 to 1, or -1 to 1, or of BC6H any; false:
   the format is not supported */
bool sim_block_texel(unsigned format, const unsigned char *block, unsigned x, unsigned y, f32 v[4]);
/* The alpha that a filter takes where it has 8 bits: with other roundings than the texel's. */
bool sim_block_alpha(
        unsigned format, const unsigned char *block, unsigned x, unsigned y, unsigned *alpha);

#endif
