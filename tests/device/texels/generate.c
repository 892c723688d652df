/* generate.c - makes a program from its number. The last decimal digits select what it examines. */
#include "texels.h"
#include <stdarg.h>

static uint64_t state;
static uint32_t any(void) { /* Steele, Lea and Flood's SplitMix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 16);
}
static unsigned below(unsigned n) { return any() % n; }
static double between(double low, double high) { return low + (high - low) * (any() / 0x1p32); }
static bool one_in(unsigned n) { return below(n) == 0; }
static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static float float_of(uint32_t u) {
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* Of two random numbers in an expression, a compiler may take either one first. */
static float any_exponent(void) {
    const double mantissa = between(-1, 1);
    return (float)ldexp(mantissa, (int)below(40) - 20);
}
static uint32_t any_width(void) {
    const unsigned shift = below(32);
    return any() >> shift;
}

static const uint32_t strange[] = { 0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc00000, 0x7f800001, 0x7fffffff, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
    0xff7fffff, 0x3f800000, 0xbf800000, 0x4f000000, 0xcf000000, 0x4effffff, 0x5f000000, 0x4b000000,
    0xcb000000, 0x4b800000, 0x33800000, 0xb3800000, 0x3f7fffff, 0x34000000, 0x46fffe00, 0x47000000,
    0x47800000, 0xc7000000, 0xc7800000 };
enum { STRANGE = sizeof strange / sizeof *strange };

/* ---- shapes */

static unsigned dims_of(enum txl_geometry g) {
    return g == TXL_1D || g == TXL_A1D ? 1 : g == TXL_3D ? 3 : 2;
}
static bool is_cube(enum txl_geometry g) { return g == TXL_CUBE || g == TXL_ACUBE; }
static bool is_layered(enum txl_geometry g) {
    return g == TXL_A1D || g == TXL_A2D || g == TXL_ACUBE;
}
static bool is_integer(gpuexec_format f) { return f < GPUEXEC_FORMAT_F16; }
static bool is_block(gpuexec_format f) {
    return f >= GPUEXEC_FORMAT_BC1 && f <= GPUEXEC_FORMAT_BC7_SRGB;
}
static bool is_srgb(gpuexec_format f) {
    return f == GPUEXEC_FORMAT_BC1_SRGB || f == GPUEXEC_FORMAT_BC2_SRGB ||
            f == GPUEXEC_FORMAT_BC3_SRGB || f == GPUEXEC_FORMAT_BC7_SRGB;
}
static unsigned channel_bytes(gpuexec_format f) {
    switch (f) {
    case GPUEXEC_FORMAT_U8:
    case GPUEXEC_FORMAT_S8:
    case GPUEXEC_FORMAT_UNORM8:
    case GPUEXEC_FORMAT_SNORM8: return 1;
    case GPUEXEC_FORMAT_U16:
    case GPUEXEC_FORMAT_S16:
    case GPUEXEC_FORMAT_F16:
    case GPUEXEC_FORMAT_UNORM16:
    case GPUEXEC_FORMAT_SNORM16: return 2;
    default: return 4;
    }
}
static unsigned element_bytes(const struct txl_program *p) {
    const gpuexec_format f = p->shape.format;
    if (is_block(f))
        return f == GPUEXEC_FORMAT_BC1 || f == GPUEXEC_FORMAT_BC1_SRGB || f == GPUEXEC_FORMAT_BC4 ||
                        f == GPUEXEC_FORMAT_BC4_SIGNED
                ? 8
                : 16;
    if (f == GPUEXEC_FORMAT_UNORM_10_10_10_2) return 4;
    return channel_bytes(f) * p->shape.channels;
}

static const gpuexec_format plain[] = { GPUEXEC_FORMAT_U8, GPUEXEC_FORMAT_U16, GPUEXEC_FORMAT_U32,
    GPUEXEC_FORMAT_S8, GPUEXEC_FORMAT_S16, GPUEXEC_FORMAT_S32, GPUEXEC_FORMAT_F16,
    GPUEXEC_FORMAT_F32, GPUEXEC_FORMAT_UNORM8, GPUEXEC_FORMAT_UNORM16, GPUEXEC_FORMAT_SNORM8,
    GPUEXEC_FORMAT_SNORM16, GPUEXEC_FORMAT_UNORM_10_10_10_2 };
enum { PLAIN = sizeof plain / sizeof *plain };

static void set_format(struct txl_program *p, gpuexec_format f) {
    p->shape.format = f;
    p->shape.channels = 1u << below(3);
    if (f == GPUEXEC_FORMAT_UNORM_10_10_10_2) p->shape.channels = 4;
    if (is_block(f)) p->shape.channels = 0;
}

static void set_shape(struct txl_program *p, enum txl_geometry g) {
    static const unsigned char widths[] = { 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 24, 31, 32 };
    gpuexec_array_desc *s = &p->shape;
    p->geometry = g;
    s->width = widths[below(sizeof widths)];
    s->height = s->depth = s->layers = 0;
    s->cube = is_cube(g);
    if (is_block(s->format)) s->width = 4 * (1 + below(6));
    if (s->cube) s->height = s->width;
    else if (dims_of(g) > 1) s->height = widths[below(10)];
    if (is_block(s->format) && dims_of(g) > 1 && !s->cube) s->height = 4 * (1 + below(4));
    if (g == TXL_3D) s->depth = widths[below(7)];
    if (is_layered(g)) s->layers = 1 + below(3);
}

static void set_levels(struct txl_program *p) {
    size_t most = p->shape.width;
    unsigned levels = 1;
    if (p->shape.height > most) most = p->shape.height;
    if (p->shape.depth > most) most = p->shape.depth;
    while (most >>= 1) levels++;
    p->shape.levels = 1 + below(levels);
}

static void set_addresses(struct txl_program *p) {
    gpuexec_texture_desc *h = &p->how;
    for (unsigned a = 0; a < 3; a++)
        h->address[a] = h->normalized ? (gpuexec_address_mode)below(4)
                : one_in(2)           ? GPUEXEC_ADDRESS_CLAMP
                                      : GPUEXEC_ADDRESS_BORDER;
    for (unsigned c = 0; c < 4; c++) h->border[c] = (float)(below(9)) / 4 - 1;
}

static gpuexec_filter any_filter(void) {
    return one_in(2) ? GPUEXEC_FILTER_LINEAR : GPUEXEC_FILTER_POINT;
}

static void filter_if_possible(struct txl_program *p) {
    const gpuexec_format f = p->shape.format;
    p->how.filter = GPUEXEC_FILTER_LINEAR;
    p->how.read_integers = 0;
    if (f == GPUEXEC_FORMAT_U32 || f == GPUEXEC_FORMAT_S32) p->how.filter = GPUEXEC_FILTER_POINT;
}

/* The type of results that the texture has. */
static void set_result(struct txl_program *p) {
    const gpuexec_format f = p->shape.format;
    const bool integers = is_integer(f) && (p->how.read_integers || channel_bytes(f) == 4);
    p->result = !integers ? TXL_F32
            : f == GPUEXEC_FORMAT_S8 || f == GPUEXEC_FORMAT_S16 || f == GPUEXEC_FORMAT_S32
            ? TXL_S32
            : TXL_U32;
}

/* ---- what a texture program examines */

static void make_anything(struct txl_program *p) {
    static const enum txl_op ops[] = { TXL_TEX, TXL_TEX, TXL_LEVEL, TXL_GRAD, TXL_GATHER, TXL_FETCH,
        TXL_FETCH_LEVEL };
    const enum txl_op op = ops[below(sizeof ops / sizeof *ops)];
    const bool is_fetch = op == TXL_FETCH || op == TXL_FETCH_LEVEL;
    gpuexec_texture_desc *h = &p->how;
    set_format(p, one_in(8) && !is_fetch ? GPUEXEC_FORMAT_BC1 + below(14) : plain[below(PLAIN)]);
    h->filter = any_filter();
    h->read_integers = one_in(3) && is_integer(p->shape.format);
    if (h->filter == GPUEXEC_FILTER_LINEAR) filter_if_possible(p);
    if (is_block(p->shape.format) || op == TXL_GATHER) set_shape(p, one_in(3) ? TXL_A2D : TXL_2D);
    else set_shape(p, is_fetch ? below(5) : below(7));
    if (op == TXL_GATHER && one_in(3) && !is_block(p->shape.format)) set_shape(p, TXL_CUBE);
    h->normalized = one_in(2);
    if (op != TXL_GATHER && one_in(2) && !is_block(p->shape.format)) {
        set_levels(p);
        h->normalized = 1;
        h->level_filter = any_filter();
        if (h->filter == GPUEXEC_FILTER_POINT && is_integer(p->shape.format))
            h->level_filter = GPUEXEC_FILTER_POINT;
        h->level_bias = (float)below(9) / 4 - 1;
        h->min_level = (float)below(5) / 4;
        h->max_level = h->min_level + (float)below(20) / 4 + 0.25f;
        h->max_anisotropy = one_in(2) ? 1 + below(16) : 1;
        h->exact_trilinear = one_in(4);
    }
    if (p->shape.cube) {
        h->normalized = 1;
        h->seamless_cube = one_in(2);
    }
    if (channel_bytes(p->shape.format) == 1 && is_integer(p->shape.format) && !h->read_integers)
        h->srgb = p->shape.format == GPUEXEC_FORMAT_U8 && one_in(3);
    set_addresses(p);
    p->op = op;
    p->offsets = !p->shape.cube && one_in(4);
    p->places = is_fetch ? TXL_INSIDE : one_in(3) ? TXL_MIXED : below(4);
    p->texels = one_in(8) ? TXL_STRANGE : TXL_RANDOM;
    p->component = below(4);
    if (op == TXL_TEX && !p->shape.levels && dims_of(p->geometry) == 1 && !p->shape.layers &&
            one_in(2) && p->shape.format <= GPUEXEC_FORMAT_F32) {
        p->op = TXL_FETCH;
        p->linear = true;
        p->offsets = false;
        h->normalized = 0;
        set_addresses(p);
        p->places = TXL_INSIDE;
        h->filter = GPUEXEC_FILTER_POINT;
    } else if (op == TXL_TEX && !p->shape.levels && p->geometry == TXL_2D && one_in(2) &&
            p->shape.format <= GPUEXEC_FORMAT_F32)
        p->pitched = true;
    set_result(p);
    if (p->result == TXL_F32 && op != TXL_GATHER && one_in(6)) p->result = TXL_F16;
    p->shape.gather = op == TXL_GATHER && p->geometry == TXL_2D && one_in(2);
}

static void make_texture(struct txl_program *p) {
    gpuexec_texture_desc *h = &p->how;
    set_format(p, GPUEXEC_FORMAT_F32);
    h->normalized = one_in(2);
    p->places = TXL_FIXED;
    switch (p->number % 32) {
    case 0: /* point */
        set_shape(p, TXL_1D);
        set_addresses(p);
        p->places = TXL_EDGES;
        break;
    case 1: /* weights of 2 */
        set_shape(p, TXL_1D);
        p->shape.channels = 1;
        h->filter = GPUEXEC_FILTER_LINEAR;
        p->texels = TXL_IMPULSE;
        break;
    case 2: /* sums of 2 */
        set_shape(p, TXL_1D);
        h->filter = GPUEXEC_FILTER_LINEAR;
        set_addresses(p);
        break;
    case 3: /* sums of 2, other formats */
        set_format(p, plain[below(PLAIN)]);
        set_shape(p, TXL_1D);
        filter_if_possible(p);
        break;
    case 4: /* weights of 4 */
        set_shape(p, TXL_2D);
        p->shape.channels = 1;
        h->filter = GPUEXEC_FILTER_LINEAR;
        p->texels = TXL_IMPULSE;
        break;
    case 5: /* sums of 4 */
        set_format(p, one_in(2) ? GPUEXEC_FORMAT_F32 : plain[below(PLAIN)]);
        set_shape(p, TXL_2D);
        filter_if_possible(p);
        break;
    case 6: /* weights and sums of 8 */
        set_format(p, one_in(2) ? GPUEXEC_FORMAT_F32 : plain[below(PLAIN)]);
        set_shape(p, TXL_3D);
        filter_if_possible(p);
        if (one_in(2)) p->texels = TXL_IMPULSE;
        break;
    case 7: /* conversions */
        set_format(p, plain[below(PLAIN)]);
        set_shape(p, below(3));
        h->read_integers = one_in(2) && is_integer(p->shape.format);
        p->places = TXL_INSIDE;
        break;
    case 8: /* NaN and so on as texels */
        set_format(p, one_in(2) ? GPUEXEC_FORMAT_F32 : GPUEXEC_FORMAT_F16);
        set_shape(p, one_in(2) ? TXL_1D : TXL_2D);
        h->filter = one_in(4) ? GPUEXEC_FILTER_POINT : GPUEXEC_FILTER_LINEAR;
        p->texels = TXL_STRANGE;
        break;
    case 9: /* and as coordinates */
        set_shape(p, below(3));
        h->filter = any_filter();
        set_addresses(p);
        p->places = TXL_HOSTILE;
        break;
    case 10: /* the level of detail */
        set_shape(p, below(3));
        set_levels(p);
        p->shape.channels = 1;
        h->normalized = 1;
        h->level_filter = any_filter();
        h->filter = any_filter();
        h->exact_trilinear = one_in(2);
        p->texels = TXL_BY_LEVEL;
        p->op = TXL_LEVEL;
        break;
    case 11: /* levels, bias and clamps */
        set_format(p, one_in(2) ? GPUEXEC_FORMAT_F32 : plain[below(PLAIN)]);
        set_shape(p, below(5));
        set_levels(p);
        filter_if_possible(p);
        if (one_in(3)) h->filter = GPUEXEC_FILTER_POINT;
        h->normalized = 1;
        h->level_filter = h->filter == GPUEXEC_FILTER_LINEAR ? any_filter() : GPUEXEC_FILTER_POINT;
        h->level_bias = (float)below(65) / 16 - 2;
        h->min_level = (float)below(33) / 16;
        h->max_level = h->min_level + (float)below(65) / 16 + 0.0625f;
        h->exact_trilinear = one_in(2);
        p->op = one_in(4) ? TXL_TEX : TXL_LEVEL;
        break;
    case 12: /* derivatives */
    case 13: /* and anisotropy */
        set_shape(p, p->number % 32 == 12 ? below(3) : TXL_2D);
        set_levels(p);
        p->shape.channels = 1;
        h->normalized = 1;
        h->level_filter = any_filter();
        h->filter = any_filter();
        h->exact_trilinear = one_in(2);
        p->texels = one_in(2) ? TXL_BY_LEVEL : TXL_RANDOM;
        p->op = TXL_GRAD;
        if (p->number % 32 == 13) h->max_anisotropy = 1 + below(16);
        break;
    case 14: /* sRGB */
        set_format(p, GPUEXEC_FORMAT_U8);
        set_shape(p, one_in(2) ? TXL_1D : TXL_2D);
        h->srgb = 1;
        h->filter = any_filter();
        break;
    case 15: /* the faces of cubes */
    case 16: /* and their edges */
        set_shape(p, one_in(2) ? TXL_CUBE : TXL_ACUBE);
        h->normalized = 1;
        if (p->number % 32 == 16) h->filter = GPUEXEC_FILTER_LINEAR;
        h->seamless_cube = one_in(2);
        p->places = one_in(2) ? TXL_EDGES : TXL_MIXED;
        break;
    case 17: /* layers */
        set_shape(p, one_in(2) ? TXL_A1D : TXL_A2D);
        h->filter = any_filter();
        set_addresses(p);
        break;
    case 18: /* borders */
        set_format(p, plain[below(PLAIN)]);
        set_shape(p, below(3));
        h->filter = any_filter();
        if (h->filter == GPUEXEC_FILTER_LINEAR) filter_if_possible(p);
        for (unsigned a = 0; a < 3; a++) h->address[a] = GPUEXEC_ADDRESS_BORDER;
        for (unsigned c = 0; c < 4; c++)
            h->border[c] = one_in(3) ? float_of(strange[below(STRANGE)]) : (float)between(-2, 2);
        p->places = TXL_ANYWHERE;
        break;
    case 19: /* gathers */
        set_format(p, one_in(2) ? GPUEXEC_FORMAT_F32 : plain[below(PLAIN)]);
        set_shape(p, one_in(3) ? TXL_A2D : one_in(4) ? TXL_CUBE : TXL_2D);
        if (p->shape.cube) h->normalized = 1;
        h->filter = any_filter();
        if (h->filter == GPUEXEC_FILTER_LINEAR) filter_if_possible(p);
        set_addresses(p);
        p->op = TXL_GATHER;
        p->component = below(4);
        p->shape.gather = p->geometry == TXL_2D && one_in(2);
        p->offsets = !p->shape.cube && one_in(2);
        break;
    case 20: /* offsets and comparisons */
        set_shape(p, one_in(2) ? TXL_2D : TXL_A2D);
        h->filter = any_filter();
        set_addresses(p);
        p->offsets = one_in(2);
        p->compares = !p->offsets || one_in(2);
        break;
    case 21: /* blocks */
        set_format(p, GPUEXEC_FORMAT_BC1 + below(14));
        set_shape(p, TXL_2D);
        h->filter = one_in(3) ? GPUEXEC_FILTER_LINEAR : GPUEXEC_FILTER_POINT;
        p->places = TXL_INSIDE;
        break;
    case 22: /* integers as coordinates */
        set_format(p, plain[below(PLAIN)]);
        set_shape(p, below(5));
        h->read_integers = one_in(2) && is_integer(p->shape.format);
        p->op = one_in(2) ? TXL_FETCH : TXL_FETCH_LEVEL;
        if (one_in(2)) {
            set_levels(p);
            h->normalized = 1;
        }
        set_addresses(p);
        p->places = TXL_MIXED;
        p->offsets = one_in(3);
        break;
    case 23: /* queries */
        set_format(p, plain[below(PLAIN)]);
        set_shape(p, below(7));
        if (one_in(2) || p->shape.cube) h->normalized = 1;
        if (h->normalized && one_in(2)) set_levels(p);
        h->filter = any_filter();
        if (h->filter == GPUEXEC_FILTER_LINEAR) filter_if_possible(p);
        set_addresses(p);
        p->op = TXL_QUERY;
        break;
    default: make_anything(p); return;
    }
    set_result(p);
    if (p->number % 32 == 7 && p->result == TXL_F32 && one_in(3)) p->result = TXL_F16;
}

static void make_surface(struct txl_program *p) {
    static const enum txl_op ops[] = { TXL_SULD, TXL_SULD, TXL_SUST, TXL_SUST, TXL_SUST_FORMATTED,
        TXL_SUST_FORMATTED, TXL_SURED, TXL_SURED_FORMATTED, TXL_SUQ };
    p->op = ops[p->number % (sizeof ops / sizeof *ops)];
    set_format(p, plain[below(PLAIN - 1)]);
    set_shape(p, p->op == TXL_SURED || p->op == TXL_SURED_FORMATTED ? below(3) : below(5));
    p->shape.surface = 1;
    p->texels = TXL_RANDOM;
    p->clamps = one_in(2);
    p->places = TXL_MIXED;
    p->reduction = below(5);
    p->size = 8u << below(4);
    p->vector = p->size == 64 ? 1u << below(2) : 1u << below(3);
    if (p->op == TXL_SUST_FORMATTED) {
        p->size = 32;
        p->vector = 1u << below(3);
    }
    if (p->op == TXL_SURED) {
        p->vector = 1;
        p->size = 32;
    }
    if (p->op == TXL_SURED_FORMATTED) {
        p->vector = 1;
        p->size = 32;
        set_format(p, one_in(2) ? GPUEXEC_FORMAT_U32 : GPUEXEC_FORMAT_S32);
    }
    /* accesses are as wide as a texel, or less: what does not divide it is undefined */
    if (p->op != TXL_SUST_FORMATTED)
        while (p->size * p->vector > 8 * element_bytes(p)) {
            if (p->vector > 1) p->vector /= 2;
            else if (p->size > 8 && p->op != TXL_SURED) p->size /= 2;
            else {
                p->shape.format = GPUEXEC_FORMAT_U32;
                break;
            }
        }
}

/* ---- the operands of lanes */

/* A place along an axis of n texels, in texels. */
static float place(enum txl_places places, unsigned n) {
    double t;
    if (places == TXL_MIXED) places = (enum txl_places)below(5);
    switch (places) {
    case TXL_EDGES: t = ((int)below(8 * n + 1) - 4 * (int)n) / 2.0; break;
    case TXL_FIXED: t = ((int)below(512 * 3 * n + 1) - 512 * (int)n) / 512.0; break;
    case TXL_ANYWHERE: t = between(-2.5 * n, 3.5 * n); break;
    case TXL_INSIDE: return (float)between(0, n);
    default: return float_of(strange[below(STRANGE)]);
    }
    uint32_t bits = bits_of((float)t);
    if (one_in(2)) bits += below(5) - 2;
    const float f = float_of(bits);
    return f == f ? f : 0;
}

static void fill_lane(struct txl_program *p, uint32_t *lane) {
    const gpuexec_array_desc *s = &p->shape;
    const unsigned size[3] = { (unsigned)s->width, s->height ? (unsigned)s->height : 1,
        s->depth ? (unsigned)s->depth : 1 };
    const bool integers = p->surface || p->op == TXL_FETCH || p->op == TXL_FETCH_LEVEL;
    const double scale = one_in(2) ? 1 : 0.1;
    for (unsigned a = 0; a < 3; a++) {
        float t = place(p->places, size[a]);
        if (integers) {
            int i = (int)below(3 * size[a]) - (int)size[a];
            if (p->places == TXL_INSIDE || !one_in(3)) i = (int)below(size[a]);
            if (p->places != TXL_INSIDE && one_in(16)) i = (int)any();
            lane[a] = (uint32_t)i;
        } else if (s->cube) {
            /* a direction, often along an edge or through a corner */
            t = one_in(3) ? (float)((int)below(5) - 2) : (float)between(-1, 1);
            if (one_in(4)) t = (float)((int)below(33) - 16) / 16;
            if (p->places == TXL_MIXED && one_in(8)) t = place(TXL_HOSTILE, 1);
            lane[a] = bits_of(t);
        } else {
            if (p->how.normalized && p->places != TXL_HOSTILE) t = (float)((double)t / size[a]);
            lane[a] = bits_of(t);
        }
    }
    lane[TXL_LAYER] = one_in(8) ? any() : below(s->layers ? s->layers + 2 : 2);
    lane[TXL_LOD] = p->op == TXL_FETCH_LEVEL ? below(one_in(4)             ? 20
                                                               : s->levels ? s->levels
                                                                           : 1)
            : one_in(16)                     ? strange[below(STRANGE)]
            : one_in(2)                      ? bits_of((float)((int)below(8 * 512) - 512) / 512)
                                             : bits_of((float)between(-1, 7));
    if (one_in(4) && p->op != TXL_FETCH_LEVEL) lane[TXL_LOD] += below(5) - 2;
    lane[TXL_REFERENCE] = one_in(8) ? strange[below(STRANGE)] : bits_of((float)between(-1, 1));
    for (unsigned k = 0; k < 6; k++) {
        const double mantissa = between(1, 2), sign = one_in(2) ? scale : -scale;
        const double d = ldexp(sign * mantissa, (int)below(9) - 7);
        lane[TXL_DX + k] = bits_of(one_in(4) ? 0
                        : one_in(3)          ? (float)ldexp(1, -(int)below(7))
                                             : (float)d);
        if (one_in(64)) lane[TXL_DX + k] = strange[below(STRANGE)];
    }
    for (unsigned k = 0; k < 3; k++) lane[TXL_OFFSET + k] = one_in(8) ? any() : below(16) - 8;
    lane[15] = 0;
    if (p->surface)
        for (unsigned k = 4; k < 12; k++)
            lane[k] = one_in(4) ? strange[below(STRANGE)]
                    : one_in(2) ? bits_of((float)between(-1.2, 1.2))
                                : any_width();
}

/* Surfaces: the first coordinate counts bytes, and is a multiple of the access. */
static void align_lane(const struct txl_program *p, uint32_t *lane) {
    if (p->op != TXL_SULD && p->op != TXL_SUST && p->op != TXL_SURED) return;
    const unsigned access = p->size / 8 * p->vector;
    lane[0] = lane[0] * element_bytes(p) / access * access;
    if (one_in(3)) lane[0] += access * below(2);
}

/* ---- the text */

static void add(struct txl_program *p, const char *format, ...) {
    const size_t n = strlen(p->text);
    va_list args;
    va_start(args, format);
    vsnprintf(p->text + n, sizeof p->text - n, format, args);
    va_end(args);
}

static const char *const geometries[] = { "1d", "2d", "3d", "a1d", "a2d", "cube", "acube" };
static const char *const coordinates[] = { "{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2, %c2}",
    "{%c3, %c0}", "{%c3, %c0, %c1, %c1}", "{%c0, %c1, %c2, %c2}", "{%c3, %c0, %c1, %c2}" };
const char *const txl_reductions[] = { "add", "min", "max", "and", "or" };

static void add_vector(struct txl_program *p, unsigned first) {
    const enum txl_geometry g = p->geometry;
    const unsigned n = g == TXL_1D || g == TXL_A1D ? 1 : g == TXL_3D || is_cube(g) ? 3 : 2;
    if (n == 1) add(p, ", {%%c%u}", first);
    else if (n == 2) add(p, ", {%%c%u, %%c%u}", first, first + 1);
    else add(p, ", {%%c%u, %%c%u, %%c%u, %%c%u}", first, first + 1, first + 2, first + 2);
}

static void add_texture(struct txl_program *p) {
    static const char *const results[] = { "f32", "u32", "s32", "f16" };
    /* an H200's driver drops a kernel with another one */
    static const char *const queries[] = { "width", "height", "depth" };
    if (p->op == TXL_QUERY) {
        for (unsigned q = 0; q < 3; q++)
            add(p, "setp.eq.u32 %%p, %%x, %u;\n@%%p txq.%s.b32 %%d0, [%%t];\n", q, queries[q]);
        for (unsigned q = 0; q < 3; q++)
            add(p, "setp.eq.u32 %%p, %%x, %u;\n@%%p txq.level.%s.b32 %%d0, [%%t], %%c3;\n", 16 + q,
                    queries[q]);
        return;
    }
    if (p->op == TXL_GATHER) add(p, "tld4.%c", "rgba"[p->component]);
    else
        add(p, "tex%s",
                p->op == TXL_LEVEL || p->op == TXL_FETCH_LEVEL ? ".level"
                        : p->op == TXL_GRAD                    ? ".grad"
                                                               : "");
    add(p, ".%s.v4.%s.%s ", geometries[p->geometry], results[p->result],
            p->op == TXL_FETCH || p->op == TXL_FETCH_LEVEL ? "s32" : "f32");
    add(p, "%s, [%%t, %s]", p->result == TXL_F16 ? "{%h0, %h1, %h2, %h3}" : "{%d0, %d1, %d2, %d3}",
            coordinates[p->geometry]);
    if (p->op == TXL_LEVEL || p->op == TXL_FETCH_LEVEL) add(p, ", %%c%u", TXL_LOD);
    if (p->op == TXL_GRAD) {
        add_vector(p, TXL_DX);
        add_vector(p, TXL_DY);
    }
    if (p->offsets) add_vector(p, TXL_OFFSET);
    if (p->compares) add(p, ", %%c%u", TXL_REFERENCE);
    add(p, ";\n");
    if (p->result == TXL_F16)
        for (unsigned k = 0; k < 4; k++) add(p, "cvt.u32.u16 %%d%u, %%h%u;\n", k, k);
}

static void add_surface(struct txl_program *p) {
    static const char *const registers[] = { "h", "h", "d", "q" };
    static const char *const queries[] = { "width", "height", "depth" };
    const unsigned log = p->size == 8 ? 0 : p->size == 16 ? 1 : p->size == 32 ? 2 : 3;
    const char *outside = p->clamps ? "clamp" : "zero", *at = coordinates[p->geometry],
               *geometry = geometries[p->geometry];
    char value[60] = "", v[16] = "";
    if (p->op == TXL_SUQ) {
        for (unsigned q = 0; q < 3; q++)
            add(p, "setp.eq.u32 %%p, %%x, %u;\n@%%p suq.%s.b32 %%d0, [%%t];\n", q, queries[q]);
        return;
    }
    if (p->vector > 1) snprintf(v, sizeof v, ".v%u", p->vector);
    for (unsigned k = 0; k < p->vector; k++)
        snprintf(value + strlen(value), sizeof value - strlen(value), "%s%%%s%u", k ? ", " : "{",
                registers[log], k);
    strcat(value, "}");
    if (p->op != TXL_SULD)
        for (unsigned k = 0; k < p->vector; k++) {
            if (log < 2) add(p, "cvt.u16.u32 %%h%u, %%c%u;\n", k, 4 + k);
            else if (log == 2) add(p, "mov.b32 %%d%u, %%c%u;\n", k, 4 + k);
            else add(p, "mov.b64 %%q%u, {%%c%u, %%c%u};\n", k, 4 + 2 * k, 5 + 2 * k);
        }
    if (p->op == TXL_SULD) {
        add(p, "suld.b.%s%s.b%u.%s %s, [%%t, %s];\n", geometry, v, p->size, outside, value, at);
        for (unsigned k = 0; k < p->vector; k++) {
            if (log < 2) add(p, "cvt.u32.u16 %%d%u, %%h%u;\n", k, k);
            else if (log == 3) add(p, "mov.b64 {%%d%u, %%d%u}, %%q%u;\n", 2 * k, 2 * k + 1, k);
        }
    } else if (p->op == TXL_SUST || p->op == TXL_SUST_FORMATTED)
        add(p, "sust.%s.%s%s.b%u.%s [%%t, %s], %s;\n", p->op == TXL_SUST ? "b" : "p", geometry, v,
                p->size, outside, at, value);
    else {
        const char *type = p->op == TXL_SURED_FORMATTED || p->reduction > 2 ? "b32"
                : p->number % 2                                             ? "u32"
                                                                            : "s32";
        add(p, "sured.%s.%s.%s.%s.%s [%%t, %s], %%d0;\n", p->op == TXL_SURED ? "b" : "p",
                txl_reductions[p->reduction], geometry, type, outside, at);
    }
}

static void write_text(struct txl_program *p) {
    p->text[0] = 0;
    add(p,
            ".version 7.1\n.target sm_60\n.address_size 64\n"
            ".visible .entry k(.param .u64 t, .param .u64 i, .param .u64 o) {\n"
            ".reg .b64 %%t, %%i, %%o, %%q<4>;\n.reg .b32 %%c<16>, %%d<4>, %%x;\n"
            ".reg .pred %%p;\n.reg .b16 %%h<4>;\n"
            "ld.param.u64 %%t, [t];\nld.param.u64 %%i, [i];\nld.param.u64 %%o, [o];\n"
            "mov.u32 %%x, %s;\n",
            p->surface && p->op != TXL_SUQ ? "0" : "%tid.x");
    /* a thread makes one lookup, but all accesses to a surface, in order */
    if (p->surface && p->op != TXL_SUQ) add(p, "again:\n");
    else
        add(p,
                "mul.wide.u32 %%q0, %%x, 64;\nadd.u64 %%i, %%i, %%q0;\n"
                "mul.wide.u32 %%q0, %%x, 16;\nadd.u64 %%o, %%o, %%q0;\n");
    for (unsigned k = 0; k < 4; k++)
        add(p, "ld.global.v4.b32 {%%c%u, %%c%u, %%c%u, %%c%u}, [%%i+%u];\n", 4 * k, 4 * k + 1,
                4 * k + 2, 4 * k + 3, 16 * k);
    for (unsigned k = 0; k < 4; k++) add(p, "mov.b32 %%d%u, 0;\n", k);
    if (p->surface) add_surface(p);
    else add_texture(p);
    add(p, "st.global.v4.b32 [%%o], {%%d0, %%d1, %%d2, %%d3};\n");
    if (p->surface && p->op != TXL_SUQ)
        add(p,
                "add.u64 %%i, %%i, 64;\nadd.u64 %%o, %%o, 16;\nadd.u32 %%x, %%x, 1;\n"
                "setp.lt.u32 %%p, %%x, %u;\n@%%p bra again;\n",
                TXL_LANES);
    add(p, "ret;\n}\n");
}

/* ---- all of it */

void txl_generate(struct txl_program *p, bool surface, unsigned number) {
    memset(p, 0, sizeof *p);
    state = number * 2654435761u + (surface ? 1u << 31 : 0);
    p->number = number;
    p->surface = surface;
    if (surface) make_surface(p);
    else make_texture(p);
    if (is_srgb(p->shape.format)) p->how.srgb = 1; /* the driver refuses them without it */
    for (unsigned l = 0; l < TXL_LANES; l++) {
        fill_lane(p, p->lane[l]);
        if (surface) align_lane(p, p->lane[l]);
    }
    write_text(p);
}

static uint32_t value_of(const struct txl_program *p, unsigned level, uint64_t index) {
    const gpuexec_format f = p->shape.format;
    if (p->texels == TXL_BY_LEVEL) return bits_of((float)level);
    if (f == GPUEXEC_FORMAT_F32)
        return p->texels == TXL_STRANGE && one_in(2) ? strange[below(STRANGE)]
                : one_in(8)                          ? bits_of(any_exponent())
                                                     : bits_of((float)between(-1, 1));
    (void)index;
    if (f == GPUEXEC_FORMAT_F16) {
        uint32_t half = any() & 0xffff;
        if (p->texels != TXL_STRANGE) half = (half & 0x83ff) | (8 + below(10)) << 10;
        return half;
    }
    return any();
}

size_t txl_fill(const struct txl_program *p, unsigned level, unsigned char *texels) {
    const gpuexec_array_desc *s = &p->shape;
    const unsigned block = is_block(s->format) ? 4 : 1, bytes = element_bytes(p),
                   part = block > 1                        ? 4
            : s->format == GPUEXEC_FORMAT_UNORM_10_10_10_2 ? 4
                                                           : channel_bytes(s->format);
    size_t w = s->width >> level, h = s->height >> level, d = s->depth >> level, total;
    w = ((w ? w : 1) + block - 1) / block;
    h = ((h ? h : 1) + block - 1) / block;
    d = (d ? d : 1) * (s->layers ? s->layers : 1) * (s->cube ? 6 : 1);
    total = w * h * d * bytes;
    state = ((uint64_t)p->number << 8 | level) * 0x2545f4914f6cdd1du + p->surface;
    for (size_t k = 0; k < total; k += part) {
        uint32_t v = value_of(p, level, k / part);
        if (p->texels == TXL_IMPULSE) v = 0;
        memcpy(texels + k, &v, part);
    }
    if (p->texels == TXL_IMPULSE) {
        const uint32_t one = s->format == GPUEXEC_FORMAT_F32 ? bits_of(1)
                : s->format == GPUEXEC_FORMAT_F16            ? 0x3c00
                                                             : 0x7f7f7f7f;
        memcpy(texels + below((unsigned)(total / part)) * part, &one, part);
    }
    return total;
}

void txl_describe(const struct txl_program *p, char *text, size_t size) {
    const gpuexec_array_desc *s = &p->shape;
    const gpuexec_texture_desc *h = &p->how;
    const char *body = strstr(p->text, "mov.b32 %d3, 0;");
    snprintf(text, size,
            "%s %u class %u format 0x%x x%u %zux%zux%zu layers %u levels %u%s%s%s texels %u places "
            "%u address %u%u%u filter %u normalized %u integers %u srgb %u seamless %u exact %u "
            "level_filter %u bias %g levels %g..%g anisotropy %u border %g %g %g %g: %.*s",
            p->surface ? "surface" : "texture", p->number, p->number % 32, s->format, s->channels,
            s->width, s->height, s->depth, s->layers, s->levels, s->cube ? " cube" : "",
            p->linear ? " linear" : "", p->pitched ? " pitched" : "", p->texels, p->places,
            h->address[0], h->address[1], h->address[2], h->filter, h->normalized, h->read_integers,
            h->srgb, h->seamless_cube, h->exact_trilinear, h->level_filter, (double)h->level_bias,
            (double)h->min_level, (double)h->max_level, h->max_anisotropy, (double)h->border[0],
            (double)h->border[1], (double)h->border[2], (double)h->border[3],
            body ? (int)strcspn(body + 16, "\n") : 0, body ? body + 16 : "");
}
