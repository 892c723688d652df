/* blocks.c - block-compressed texels, 4 x 4 in 8 or 16 bytes: BC1 to BC5.
   Documented: the formats of Direct3D. To be measured: the precision of what is between two colors,
   here exact and then rounded to .f32. */
#include "texel.h"

static void color_565(u32 c, f64 out[3]) {
    out[0] = (c >> 11 & 31) / 31.0;
    out[1] = (c >> 5 & 63) / 63.0;
    out[2] = (c & 31) / 31.0;
}

/* Two colors and those between them, 2 bits for each texel. transparent: the fourth color is, if
   the first is not above the second. */
static void colors(const unsigned char *p, unsigned texel, bool transparent, f32 v[4]) {
    const u32 first = sim_raw(p, 2), second = sim_raw(p + 2, 2),
              code = sim_raw(p + 4, 4) >> 2 * texel & 3;
    const bool three = transparent && first <= second;
    f64 a[3], b[3];
    color_565(first, a);
    color_565(second, b);
    for (unsigned n = 0; n < 3; n++)
        v[n] = (f32)(code == 0      ? a[n]
                        : code == 1 ? b[n]
                        : three     ? code == 2 ? (a[n] + b[n]) / 2 : 0
                        : code == 2 ? (2 * a[n] + b[n]) / 3
                                    : (a[n] + 2 * b[n]) / 3);
    v[3] = three && code == 3 ? 0 : 1;
}

/* Two values and those between them, 3 bits for each texel. */
static f32 value(const unsigned char *p, unsigned texel, bool is_signed) {
    const f64 lowest = is_signed ? -127 : 0, highest = is_signed ? 127 : 255;
    f64 a = is_signed ? (s8)p[0] : p[0], b = is_signed ? (s8)p[1] : p[1], r;
    const bool all = a > b;
    u64 codes = 0;
    memcpy(&codes, p + 2, 6);
    const unsigned code = codes >> 3 * texel & 7;
    if (a < lowest) a = lowest;
    if (b < lowest) b = lowest;
    if (code < 2) r = code ? b : a;
    else if (all) r = ((8 - code) * a + (code - 1) * b) / 7;
    else if (code < 6) r = ((6 - code) * a + (code - 1) * b) / 5;
    else r = code == 6 ? lowest : highest;
    return (f32)(r / highest);
}

bool sim_block_texel(
        unsigned format, const unsigned char *block, unsigned x, unsigned y, f32 v[4]) {
    const unsigned texel = 4 * y + x;
    switch (format) {
    case CU_AD_FORMAT_BC1_UNORM:
    case CU_AD_FORMAT_BC1_UNORM_SRGB: colors(block, texel, true, v); return true;
    case CU_AD_FORMAT_BC2_UNORM:
    case CU_AD_FORMAT_BC2_UNORM_SRGB:
        colors(block + 8, texel, false, v);
        v[3] = (f32)((block[texel / 2] >> 4 * (texel % 2) & 15) / 15.0);
        return true;
    case CU_AD_FORMAT_BC3_UNORM:
    case CU_AD_FORMAT_BC3_UNORM_SRGB:
        colors(block + 8, texel, false, v);
        v[3] = value(block, texel, false);
        return true;
    case CU_AD_FORMAT_BC4_UNORM:
    case CU_AD_FORMAT_BC4_SNORM:
        v[0] = value(block, texel, format == CU_AD_FORMAT_BC4_SNORM);
        return true;
    case CU_AD_FORMAT_BC5_UNORM:
    case CU_AD_FORMAT_BC5_SNORM:
        v[0] = value(block, texel, format == CU_AD_FORMAT_BC5_SNORM);
        v[1] = value(block + 8, texel, format == CU_AD_FORMAT_BC5_SNORM);
        return true;
    default: return false;
    }
}
