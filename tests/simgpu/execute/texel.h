/* texel.h - the formats of texels: their components as numbers, and back. */
#ifndef SIM_TEXEL_H
#define SIM_TEXEL_H

#include "../base/image.h"
#include "sample.h"

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
   units of 1 / scale. */
struct sim_texel {
    u32 bits[4];
    f64 v[4];
};

static inline u32 sim_raw(const unsigned char *p, unsigned bytes) {
    u32 v = 0;
    memcpy(&v, p, bytes);
    return v;
}
static inline s32 sim_extended(u32 v, unsigned bytes) {
    return bytes == 1 ? (s8)v : bytes == 2 ? (s16)v : (s32)v;
}

/* blocks.c: a texel of a block as numbers: components 0 to 1, or -1 to 1, or of BC6H any; false:
   the format is not supported */
bool sim_block_texel(unsigned format, const unsigned char *block, unsigned x, unsigned y, f32 v[4]);

#endif
