/* blocks.c - block-compressed texels, 4 x 4 in 8 or 16 bytes: BC1 to BC7.
   Documented: the formats of Direct3D, and BC6H and BC7 to the bit, also as OpenGL's
   ARB_texture_compression_bptc, whose tables are here. Of BC1 to BC5, what is
   between two colors is an H200's. To be measured: a negative number of BC6H that rounds to 0, here
   -0 as in OpenGL, which is 0 in Direct3D. */
#include "texel.h"

/* Two colors and those between them, 2 bits for each texel. transparent: the fourth color is, if
   the first is not above the second. A GPU does not divide by 3: the factors are those that
   NVIDIA's Texture Tools give for its hardware (DecodeBC1), which an H200 has, too. */
static unsigned between_fives(unsigned a, unsigned b, bool three) {
    return three ? (a + b) * 33 / 8 : (2 * a + b) * 22 / 8;
}
static unsigned between_sixes(unsigned a, unsigned b, bool three) {
    const int from = (int)(a << 2 | a >> 4), step = (int)(b << 2 | b >> 4) - from;
    return (unsigned)(256 * from + step / 4 + 128 + step * (three ? 128 : 80)) / 256;
}
static void colors(const unsigned char *p, unsigned texel, bool transparent, f32 v[4]) {
    const u32 first = sim_raw(p, 2), second = sim_raw(p + 2, 2),
              code = sim_raw(p + 4, 4) >> 2 * texel & 3;
    const bool three = transparent && first <= second;
    static const unsigned char shifts[3] = { 11, 5, 0 };
    for (unsigned n = 0; n < 3; n++) {
        const unsigned most = n == 1 ? 63 : 31, one = first >> shifts[n] & most,
                       two = second >> shifts[n] & most, a = code & 1 ? two : one,
                       b = code & 1 ? one : two;
        unsigned c;
        if (code < 2) c = n == 1 ? a << 2 | a >> 4 : a << 3 | a >> 2;
        else if (three && code == 3) c = 0;
        else c = n == 1 ? between_sixes(a, b, three) : between_fives(a, b, three);
        v[n] = (f32)c / 255.0f;
    }
    v[3] = three && code == 3 ? 0 : 1;
}

/* Two values and those between them, 3 bits for each texel: the value that is nearer, the one that
   is farther, and its share. */
struct between {
    int near, far, share;
    f32 fixed; /* the value is none of these: 0, 1 or -1 */
    bool is_fixed;
};
static struct between between_of(const unsigned char *p, unsigned texel, bool is_signed) {
    /* below 0: the second one is nearer */
    static const short shares[2][8] = { { 0, 0, 48, 96, -96, -48 },
        { 0, 0, 36, 72, -144, 144, -72, -36 } };
    int a = is_signed ? (s8)p[0] : p[0], b = is_signed ? (s8)p[1] : p[1];
    const bool all = a > b;
    u64 codes = 0;
    memcpy(&codes, p + 2, 6);
    const unsigned code = codes >> 3 * texel & 7;
    const int share = shares[all][code];
    if (is_signed && a < -127) a = -127;
    if (is_signed && b < -127) b = -127;
    if (code == 1 || share < 0) return (struct between){ b, a, -share, 0, false };
    return (struct between){ a, b, share,
        code == 7           ? 1.0f
                : is_signed ? -1.0f
                            : 0.0f,
        !all && code > 5 };
}

/* The result has 16 bits: the nearer value is expanded to them, the share of the difference is a
   whole number. Both are an H200's, with and without a sign. */
static f32 value(const unsigned char *p, unsigned texel, bool is_signed) {
    const struct between v = between_of(p, texel, is_signed);
    if (v.is_fixed) return v.fixed;
    const int near = is_signed ? (v.near * 2 * 32767 + (v.near < 0 ? -127 : 127)) / 254
                               : v.near * 257;
    return (f32)((near + (v.far - v.near) * v.share) / (is_signed ? 32767.0 : 65535.0));
}

bool sim_block_alpha(
        unsigned format, const unsigned char *block, unsigned x, unsigned y, unsigned *alpha) {
    if (format != CU_AD_FORMAT_BC3_UNORM && format != CU_AD_FORMAT_BC3_UNORM_SRGB) return false;
    const struct between v = between_of(block, 4 * y + x, false);
    /* of 65536. Measured: 48 is exactly 48/256, the other shares are a 256th larger than that */
    const int share = v.share == 48 ? 48 * 256 : v.share * 257;
    *alpha = v.is_fixed ? (unsigned)v.fixed * 255
                        : (unsigned)(v.near * 65536 + (v.far - v.near) * share + 32768) >> 16;
    return true;
}

/* -- BC6H and BC7: up to three subsets of texels, each with two ends */

/* The subset of each texel: a bit each, or two bits each. */
static const unsigned short two_subsets[64] = { 0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec,
    0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e,
    0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0,
    0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8,
    0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c,
    0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22 };
static const u32 three_subsets[64] = { 0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000,
    0xa0a05050, 0x5555a0a0, 0x5a5a5050, 0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494,
    0xa4a4a4a4, 0xa9a59450, 0x2a0a4250, 0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454,
    0x6a6a4040, 0xa4a45000, 0x1a1a0500, 0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0,
    0xaa821414, 0x50a4a450, 0x6a5a0200, 0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500,
    0x24924924, 0x24499224, 0x50a50a50, 0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0,
    0x69286928, 0x44aaaa44, 0x66666600, 0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8,
    0x80959580, 0xaa141414, 0x96960000, 0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080,
    0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254 };
/* The first index of a subset has one bit less: which texel that is, a hexadecimal digit for each
   partition. That of subset 0 is texel 0. */
static const char second_of_two[] =
        "fffffffffffffffff282288f28228822ff6828ff28222ff66268ff22fffff22f";
static const char second_of_three[] =
        "33ff83ff88666533338f336a588685ff8f356a8ff3f5ffff3f55585a5a8dfc33";
static const char third_of_three[] =
        "f883ff38fffffff8f8f3f8f83f6affa8f3faa89a6f8f3668f3ffffffffff3ff8";

struct subsets {
    unsigned count, own; /* own: that of the texel */
    u32 short_indices;   /* a bit for each texel */
};

static u32 bit_at(char digit) { return 1u << (digit < 'a' ? digit - '0' : digit - 'a' + 10); }

static struct subsets subsets_of(unsigned count, unsigned partition, unsigned texel) {
    struct subsets s = { count, 0, 1 };
    if (count == 2) {
        s.own = two_subsets[partition] >> texel & 1;
        s.short_indices |= bit_at(second_of_two[partition]);
    } else if (count == 3) {
        s.own = three_subsets[partition] >> 2 * texel & 3;
        s.short_indices |= bit_at(second_of_three[partition]) | bit_at(third_of_three[partition]);
    }
    return s;
}

/* Bits of a block, the lowest first; at most 16. */
static u32 field(const unsigned char *block, unsigned at, unsigned bits) {
    u32 v = 0;
    for (unsigned n = 0; n < bits; n++, at++) v |= (u32)(block[at / 8] >> at % 8 & 1) << n;
    return v;
}
static u32 take(const unsigned char *block, unsigned *at, unsigned bits) {
    *at += bits;
    return field(block, *at - bits, bits);
}

/* The weight of the second end, of 64: the texel's index. */
static int weight_of(const unsigned char *block, const struct subsets *s, unsigned first,
        unsigned bits, unsigned texel) {
    const int below = __builtin_popcount(s->short_indices & ((1u << texel) - 1)),
              steps = (1 << bits) - 1;
    const unsigned at = first + texel * bits - (unsigned)below;
    const int index = (int)field(block, at, bits - (s->short_indices >> texel & 1));
    return (64 * index + steps / 2) / steps;
}

static int between(int a, int b, int weight) { return (a * (64 - weight) + b * weight + 32) >> 6; }

/* The modes of BC7: the number of subsets, and bits of each field. p: one bit for each end, or for
   each subset, below the others. */
static const struct {
    unsigned char subsets, partition, rotation, selection, color, alpha, end_p, subset_p, index,
            second_index;
} modes[8] = { { 3, 4, 0, 0, 4, 0, 1, 0, 3, 0 }, { 2, 6, 0, 0, 6, 0, 0, 1, 3, 0 },
    { 3, 6, 0, 0, 5, 0, 0, 0, 2, 0 }, { 2, 6, 0, 0, 7, 0, 1, 0, 2, 0 },
    { 1, 0, 2, 1, 5, 6, 0, 0, 2, 3 }, { 1, 0, 2, 0, 7, 8, 0, 0, 2, 2 },
    { 1, 0, 0, 0, 7, 7, 1, 0, 4, 0 }, { 2, 6, 0, 0, 5, 5, 1, 0, 2, 0 } };

static void bc7(const unsigned char *block, unsigned texel, f32 v[4]) {
    unsigned mode = 0;
    while (mode < 8 && !(block[0] >> mode & 1)) mode++;
    if (mode == 8) { /* reserved; Direct3D: all zeros */
        memset(v, 0, 4 * sizeof *v);
        return;
    }
    const unsigned count = modes[mode].subsets, color = modes[mode].color,
                   alpha = modes[mode].alpha, index = modes[mode].index,
                   second = modes[mode].second_index;
    unsigned at = mode + 1;
    const u32 partition = take(block, &at, modes[mode].partition),
              rotation = take(block, &at, modes[mode].rotation),
              selection = take(block, &at, modes[mode].selection);
    const struct subsets s = subsets_of(count, partition, texel);
    const bool has_p = modes[mode].end_p || modes[mode].subset_p;
    const unsigned p_at = at + count * (6 * color + 2 * alpha),
                   index_at = p_at + count * (2u * modes[mode].end_p + modes[mode].subset_p);
    int weights[2]; /* of the colors, and of alpha */
    weights[0] = weights[1] = weight_of(block, &s, index_at, index, texel);
    if (second)
        weights[!selection] = weight_of(block, &s, index_at + 16 * index - count, second, texel);
    for (unsigned n = 0; n < 4; n++) {
        int ends[2] = { 255, 255 };
        unsigned bits = n < 3 ? color : alpha;
        for (unsigned e = 0; bits && e < 2; e++) {
            const unsigned end = 2 * s.own + e;
            u32 c = field(block, at + 2 * count * color * n + end * bits, bits);
            if (has_p) c = c << 1 | field(block, p_at + (modes[mode].end_p ? end : s.own), 1);
            c <<= 8 - bits - has_p;
            ends[e] = (int)(c | c >> (bits + has_p));
        }
        v[n] = (f32)(between(ends[0], ends[1], weights[n == 3]) / 255.0);
    }
    if (rotation) {
        const f32 a = v[3];
        v[3] = v[rotation - 1];
        v[rotation - 1] = a;
    }
}

/* The modes of BC6H: a number of 2 or 5 bits, whether the ends are differences from the first one,
   the bits of the first one, and of differences. Then the fields as in OpenGL's Table.F: red, green
   and blue of ends 0 to 3; the bit behind the colon comes first. */
static const struct {
    unsigned char number, differs, bits, changes[3];
    const char *fields;
} float_modes[14] = {
    { 0, 1, 10, { 5, 5, 5 },
            "g2[4],b2[4],b3[4],r0[9:0],g0[9:0],b0[9:0],r1[4:0],g3[4],g2[3:0],g1[4:0],b3[0],"
            "g3[3:0],b1[4:0],b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]" },
    { 1, 1, 7, { 6, 6, 6 },
            "g2[5],g3[4],g3[5],r0[6:0],b3[0],b3[1],b2[4],g0[6:0],b2[5],b3[2],g2[4],b0[6:0],b3[3],"
            "b3[5],b3[4],r1[5:0],g2[3:0],g1[5:0],g3[3:0],b1[5:0],b2[3:0],r2[5:0],r3[5:0]" },
    { 2, 1, 11, { 5, 4, 4 },
            "r0[9:0],g0[9:0],b0[9:0],r1[4:0],r0[10],g2[3:0],g1[3:0],g0[10],b3[0],g3[3:0],b1[3:0],"
            "b0[10],b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]" },
    { 6, 1, 11, { 4, 5, 4 },
            "r0[9:0],g0[9:0],b0[9:0],r1[3:0],r0[10],g3[4],g2[3:0],g1[4:0],g0[10],g3[3:0],b1[3:0],"
            "b0[10],b3[1],b2[3:0],r2[3:0],b3[0],b3[2],r3[3:0],g2[4],b3[3]" },
    { 10, 1, 11, { 4, 4, 5 },
            "r0[9:0],g0[9:0],b0[9:0],r1[3:0],r0[10],b2[4],g2[3:0],g1[3:0],g0[10],b3[0],g3[3:0],"
            "b1[4:0],b0[10],b2[3:0],r2[3:0],b3[1],b3[2],r3[3:0],b3[4],b3[3]" },
    { 14, 1, 9, { 5, 5, 5 },
            "r0[8:0],b2[4],g0[8:0],g2[4],b0[8:0],b3[4],r1[4:0],g3[4],g2[3:0],g1[4:0],b3[0],"
            "g3[3:0],b1[4:0],b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]" },
    { 18, 1, 8, { 6, 5, 5 },
            "r0[7:0],g3[4],b2[4],g0[7:0],b3[2],g2[4],b0[7:0],b3[3],b3[4],r1[5:0],g2[3:0],g1[4:0],"
            "b3[0],g3[3:0],b1[4:0],b3[1],b2[3:0],r2[5:0],r3[5:0]" },
    { 22, 1, 8, { 5, 6, 5 },
            "r0[7:0],b3[0],b2[4],g0[7:0],g2[5],g2[4],b0[7:0],g3[5],b3[4],r1[4:0],g3[4],g2[3:0],"
            "g1[5:0],g3[3:0],b1[4:0],b3[1],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]" },
    { 26, 1, 8, { 5, 5, 6 },
            "r0[7:0],b3[1],b2[4],g0[7:0],b2[5],g2[4],b0[7:0],b3[5],b3[4],r1[4:0],g3[4],g2[3:0],"
            "g1[4:0],b3[0],g3[3:0],b1[5:0],b2[3:0],r2[4:0],b3[2],r3[4:0],b3[3]" },
    { 30, 0, 6, { 6, 6, 6 },
            "r0[5:0],g3[4],b3[0],b3[1],b2[4],g0[5:0],g2[5],b2[5],b3[2],g2[4],b0[5:0],g3[5],b3[3],"
            "b3[5],b3[4],r1[5:0],g2[3:0],g1[5:0],g3[3:0],b1[5:0],b2[3:0],r2[5:0],r3[5:0]" },
    { 3, 0, 10, { 10, 10, 10 }, "r0[9:0],g0[9:0],b0[9:0],r1[9:0],g1[9:0],b1[9:0]" },
    { 7, 1, 11, { 9, 9, 9 },
            "r0[9:0],g0[9:0],b0[9:0],r1[8:0],r0[10],g1[8:0],g0[10],b1[8:0],b0[10]" },
    { 11, 1, 12, { 8, 8, 8 },
            "r0[9:0],g0[9:0],b0[9:0],r1[7:0],r0[10:11],g1[7:0],g0[10:11],b1[7:0],b0[10:11]" },
    { 15, 1, 16, { 4, 4, 4 },
            "r0[9:0],g0[9:0],b0[9:0],r1[3:0],r0[10:15],g1[3:0],g0[10:15],b1[3:0],b0[10:15]" }
};

static void float_fields(const char *p, const unsigned char *block, unsigned at, int ends[4][3]) {
    while (*p) {
        int *end = &ends[p[1] - '0'][*p == 'r' ? 0 : *p == 'g' ? 1 : 2];
        char *behind;
        const long last = strtol(p + 3, &behind, 10),
                   first = *behind == ':' ? strtol(behind + 1, &behind, 10) : last,
                   step = first <= last ? 1 : -1;
        for (long bit = first; bit != last + step; bit += step)
            *end |= (int)(take(block, &at, 1) << bit);
        p = behind + 1 + (behind[1] == ',');
    }
}

static int extended(int v, unsigned bits) { return (int)((u32)v << (32 - bits)) >> (32 - bits); }

static int unquantized(int v, unsigned bits, bool is_signed) {
    const int size = abs(v), largest = (1 << (bits - is_signed)) - 1;
    if (bits == 16) return v;
    const int to = size == 0  ? 0
            : size >= largest ? is_signed ? 0x7fff : 0xffff
                              : ((size << 15) + 0x4000) >> (bits - 1);
    return v < 0 ? -to : to;
}

static void bc6h(const unsigned char *block, unsigned texel, bool is_signed, f32 v[4]) {
    const u32 low = field(block, 0, 2), number = low < 2 ? low : field(block, 0, 5);
    const unsigned first = low < 2 ? 2 : 5;
    int ends[4][3] = { { 0 } };
    unsigned mode = 0;
    v[0] = v[1] = v[2] = 0;
    v[3] = 1;
    while (mode < 14 && float_modes[mode].number != number) mode++;
    if (mode == 14) return; /* reserved */
    const bool divided = mode < 10, differs = float_modes[mode].differs;
    const unsigned bits = float_modes[mode].bits;
    const struct subsets s = subsets_of(1 + divided, divided ? field(block, 77, 5) : 0, texel);
    const int weight = weight_of(block, &s, divided ? 82 : 65, divided ? 3 : 4, texel);
    float_fields(float_modes[mode].fields, block, first, ends);
    for (unsigned n = 0; n < 3; n++) {
        int pair[2];
        for (unsigned e = 0; e < 2; e++) {
            const unsigned end = 2 * s.own + e;
            pair[e] = ends[end][n];
            if (differs && end)
                pair[e] = (ends[0][n] + extended(pair[e], float_modes[mode].changes[n])) &
                        ((1 << bits) - 1);
            if (is_signed) pair[e] = extended(pair[e], bits);
            pair[e] = unquantized(pair[e], bits, is_signed);
        }
        const int r = between(pair[0], pair[1], weight);
        const u32 half = !is_signed ? (u32)(r * 31 >> 6)
                : r < 0             ? 0x8000 | (u32)(-r * 31 >> 5)
                                    : (u32)(r * 31 >> 5);
        v[n] = (f32)half_value(half);
    }
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
    case CU_AD_FORMAT_BC6H_UF16:
    case CU_AD_FORMAT_BC6H_SF16:
        bc6h(block, texel, format == CU_AD_FORMAT_BC6H_SF16, v);
        return true;
    case CU_AD_FORMAT_BC7_UNORM:
    case CU_AD_FORMAT_BC7_UNORM_SRGB: bc7(block, texel, v); return true;
    default: return false;
    }
}
