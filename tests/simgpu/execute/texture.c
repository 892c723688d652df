/* texture.c - tex, tld4, txq: lane by lane. What a GPU rounds is in sample.h. */
#include "texel.h"

/* one lane's lookup */
struct lookup {
    struct sim_warp *w;
    const struct sim_insn *i;
    const struct sim_fetch *f;
    const struct sim_texture *t;
    struct sim_components is;
    int lane;
    unsigned layer; /* or the first face of a cube */
    bool raw;       /* components are integers, not numbers */
    bool srgb;
    f64 scale;   /* of the components' numbers, but for those of sRGB: 1 */
    bool failed; /* it raised a fault */
};

/* -- texels */

static bool reads_halves(const struct lookup *k) {
    const unsigned format = k->t->texels.format;
    return k->is.kind == SIM_C_HALF || format == CU_AD_FORMAT_BC6H_UF16 ||
            format == CU_AD_FORMAT_BC6H_SF16;
}
static bool is_srgb_block(unsigned format) {
    return format == CU_AD_FORMAT_BC1_UNORM_SRGB || format == CU_AD_FORMAT_BC2_UNORM_SRGB ||
            format == CU_AD_FORMAT_BC3_UNORM_SRGB || format == CU_AD_FORMAT_BC7_UNORM_SRGB;
}
static bool is_signed_block(unsigned format) {
    return format == CU_AD_FORMAT_BC4_SNORM || format == CU_AD_FORMAT_BC5_SNORM;
}

static void find_kind(struct lookup *k) {
    const struct sim_texels *x = &k->t->texels;
    const unsigned flags = k->t->how.flags;
    k->is = sim_components_of(x->format);
    const bool integer = k->is.kind == SIM_C_UINT || k->is.kind == SIM_C_SINT;
    k->raw = integer && (k->is.bytes == 4 || flags & CU_TRSF_READ_AS_INTEGER);
    if (integer && !k->raw) k->is.kind = k->is.kind == SIM_C_UINT ? SIM_C_UNORM : SIM_C_SNORM;
    k->srgb = is_srgb_block(x->format) ||
            (flags & CU_TRSF_SRGB &&
                    ((k->is.kind == SIM_C_UNORM && k->is.bytes == 1) || k->is.kind == SIM_C_BLOCK));
    k->scale = k->is.kind == SIM_C_UNORM ? (k->is.bytes == 1 ? 255 : 65535)
            : k->is.kind == SIM_C_SNORM  ? (k->is.bytes == 1 ? 127 : 32767)
            : k->is.kind == SIM_C_PACKED ? 65535
            : k->is.kind == SIM_C_BLOCK  ? (reads_halves(k)                             ? 1
                                                           : is_signed_block(x->format) ? 32767
                                                                                        : 65535)
                                         : 1;
}

static bool filters(const struct lookup *k) {
    return k->t->how.filterMode == CU_TR_FILTER_MODE_LINEAR && !k->raw && !k->t->texels.linear;
}

static unsigned channels_of(const struct lookup *k) {
    const unsigned format = k->t->texels.format;
    if (k->is.kind == SIM_C_PACKED) return 4;
    if (k->is.kind != SIM_C_BLOCK) return k->t->texels.channels;
    if (format == CU_AD_FORMAT_BC4_UNORM || format == CU_AD_FORMAT_BC4_SNORM) return 1;
    if (format == CU_AD_FORMAT_BC5_UNORM || format == CU_AD_FORMAT_BC5_SNORM) return 2;
    return format == CU_AD_FORMAT_BC6H_UF16 || format == CU_AD_FORMAT_BC6H_SF16 ? 3 : 4;
}

/* Alpha is never converted, nor the second of two components. */
static bool converts(const struct lookup *k, unsigned n) {
    return k->srgb && n < (channels_of(k) == 2 ? 1 : 3);
}
static void put_linear(unsigned v, unsigned n, struct sim_texel *out) {
    const f32 x = sim_linear_of_srgb(v, &out->exponent[n]);
    out->v[n] = (f64)x;
    out->bits[n] = bits32(x);
}

/* Component n of a texel of 10, 10, 10 and 2 bits: filters take 16 bits. */
static void put_packed(unsigned v, unsigned n, struct sim_texel *out) {
    out->v[n] = n < 3 ? v << 6 | v >> 4 : v * 21845;
    out->bits[n] = bits32((f32)v / (n < 3 ? 1023.0f : 3.0f));
}

/* Component n of the bits that a texel has for it. */
static void decode(const struct lookup *k, unsigned n, u32 bits, struct sim_texel *out) {
    const unsigned bytes = k->is.bytes;
    f64 v;
    switch (k->is.kind) {
    case SIM_C_UINT: v = bits; break;
    case SIM_C_SINT: v = sim_extended(bits, bytes); break;
    case SIM_C_UNORM: v = bits; break;
    case SIM_C_SNORM: v = sim_extended(bits, bytes); break;
    case SIM_C_HALF: v = half_value(bits); break;
    default: v = float_of(bits);
    }
    out->v[n] = v;
    out->bits[n] = k->is.kind == SIM_C_UINT ? bits
            : k->is.kind == SIM_C_SINT      ? (u32)sim_extended(bits, bytes)
            : k->is.kind == SIM_C_FLOAT     ? bits
            : k->is.kind == SIM_C_HALF      ? bits32(half_value(bits))
                                            : bits32(sim_normalized(v, k->scale));
    frexp(v, &out->exponent[n]);
    out->exponent[n]--;
    if (converts(k, n)) put_linear(bits, n, out);
}

/* The components that a texel lacks are 0, the fourth one, too. */
static void complete(unsigned channels, struct sim_texel *out) {
    for (unsigned n = channels; n < 4; n++) {
        out->v[n] = 0;
        out->bits[n] = 0;
    }
}

static const unsigned char *bytes_of(struct lookup *k, const struct sim_level *l, uint64_t offset) {
    if (l->bytes) return l->bytes + offset;
    const unsigned char *p = sim_at(k->w, k->i, k->lane, SIM_GLOBAL, l->address + offset,
            k->t->texels.texel_bytes, "read by a texture");
    k->failed |= !p;
    return p;
}

static void block_texel(struct lookup *k, const struct sim_level *l, uint64_t x, uint64_t y,
        uint64_t z, struct sim_texel *out) {
    const struct sim_texels *t = &k->t->texels;
    const unsigned char *p = bytes_of(
            k, l, z * l->slice + y / 4 * l->pitch + x / 4 * t->texel_bytes);
    f32 v[4] = { 0, 0, 0, 1 };
    unsigned alpha;
    if (p && !sim_block_texel(t->format, p, x % 4, y % 4, v)) {
        sim_fault_at(k->w, k->i, k->lane, SIM_F_LAUNCH_FAILED,
                "a texture of format 0x%x, which is not supported by this CPU device", t->format);
        k->failed = true;
    }
    for (unsigned n = 0; n < 4; n++) {
        out->v[n] = k->scale == 1 ? (f64)v[n] : rint((f64)v[n] * k->scale);
        out->bits[n] = bits32(v[n]);
        frexp(out->v[n], &out->exponent[n]);
        out->exponent[n]--;
        if (converts(k, n)) put_linear((unsigned)lrintf(v[n] * 255), n, out);
    }
    if (p && sim_block_alpha(t->format, p, x % 4, y % 4, &alpha)) out->v[3] = alpha * 257;
}

/* A texel that exists. */
static void load(struct lookup *k, const struct sim_level *l, int64_t x, int64_t y, int64_t z,
        struct sim_texel *out) {
    const struct sim_texels *t = &k->t->texels;
    const uint64_t ux = (uint64_t)x, uy = (uint64_t)y, uz = (uint64_t)z;
    if (k->is.kind == SIM_C_BLOCK) {
        block_texel(k, l, ux, uy, uz, out);
        return;
    }
    const unsigned channels = channels_of(k);
    const unsigned char *p = bytes_of(k, l, uz * l->slice + uy * l->pitch + ux * t->texel_bytes);
    if (!p) return;
    if (k->is.kind == SIM_C_PACKED) {
        const u32 all = sim_raw(p, 4);
        for (unsigned n = 0; n < 4; n++) put_packed(all >> 10 * n & (n < 3 ? 1023 : 3), n, out);
    } else
        for (unsigned n = 0; n < channels; n++)
            decode(k, n, sim_raw(p + n * k->is.bytes, k->is.bytes), out);
    complete(channels, out);
}

/* A linear number as a component of sRGB, 0 to 255. */
static unsigned srgb_of(f32 linear) {
    const f64 x = linear > 0 ? (f64)linear : 0;
    if (x >= 1) return 255;
    return (unsigned)(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055) + 0.5);
}

/* Outside of a texture with a border: its color has the precision of the format. Colors of integers
   are their low bits. */
static void border(const struct lookup *k, struct sim_texel *out) {
    const unsigned channels = channels_of(k);
    for (unsigned n = 0; n < channels; n++) {
        const f32 color = k->t->how.borderColor[n];
        if (k->raw) {
            decode(k, n, bits32(color) & (0xffffffffu >> (32 - 8 * k->is.bytes)), out);
        } else if (converts(k, n)) put_linear(srgb_of(color), n, out);
        else if (k->is.kind == SIM_C_FLOAT) decode(k, n, bits32(color), out);
        else if (k->is.kind == SIM_C_HALF) decode(k, n, sim_half_below(color), out);
        else if (k->is.kind == SIM_C_UNORM || k->is.kind == SIM_C_SNORM)
            decode(k, n, sim_integer_of(color, k->is.kind == SIM_C_SNORM, 8 * k->is.bytes, false),
                    out);
        else if (k->is.kind == SIM_C_PACKED && k->t->texels.dims == 2 && !filters(k))
            put_packed(sim_integer_of(color, false, n < 3 ? 10 : 2, false), n, out);
        else if (reads_halves(k)) {
            const bool has_sign = k->t->texels.format == CU_AD_FORMAT_BC6H_SF16;
            const f32 v = half_value(sim_half_below(has_sign || color > 0 ? color : 0));
            out->v[n] = (f64)v;
            out->bits[n] = bits32(v);
            frexp(out->v[n], &out->exponent[n]);
            out->exponent[n]--;
        } else {
            const bool has_sign = is_signed_block(k->t->texels.format);
            const bool bytes = filters(k) && k->is.kind == SIM_C_BLOCK && channels == 4;
            const u32 v = sim_integer_of(color, has_sign, bytes ? 8 : 16, false);
            out->v[n] = has_sign ? sim_extended(v, 2) : (f64)(bytes ? v * 257 : v);
            out->bits[n] = bits32((f32)(out->v[n] / (has_sign ? 32767 : 65535)));
        }
    }
    complete(channels, out);
    if (k->is.kind == SIM_C_BLOCK && channels < 4) { /* as of a block that lacks them */
        out->v[3] = k->scale;
        out->bits[3] = bits32(1);
    }
}

/* -- addresses */

/* The texel that index i selects along an axis; -1: the border's color. */
static int64_t address(unsigned mode, int64_t i, uint32_t size) {
    const int64_t n = size;
    int64_t r;
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP: r = i % n; return r < 0 ? r + n : r;
    case CU_TR_ADDRESS_MODE_MIRROR:
        r = i % (2 * n);
        if (r < 0) r += 2 * n;
        return r < n ? r : 2 * n - 1 - r;
    case CU_TR_ADDRESS_MODE_BORDER: return i < 0 || i >= n ? -1 : i;
    default: return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

/* The texel of an edge's neighbour: the direction through the texel outside of `face` selects the
   face that has it. */
static void neighbour(struct lookup *k, const struct sim_level *l, unsigned face, int64_t x,
        int64_t y, struct sim_texel *out) {
    const f32 n = (f32)l->width, a = (2 * (f32)x + 1) / n - 1, b = (2 * (f32)y + 1) / n - 1;
    const f32 directions[6][3] = { { 1, -b, -a }, { -1, -b, a }, { a, 1, b }, { a, -1, -b },
        { a, -b, 1 }, { -a, -b, -1 } };
    f64 s, t;
    const unsigned other = sim_face(directions[face], &s, &t);
    const int64_t last = (int64_t)l->width - 1, i = (int64_t)floor(s * n),
                  j = (int64_t)floor(t * n);
    load(k, l,
            i < 0              ? 0
                    : i > last ? last
                               : i,
            j < 0              ? 0
                    : j > last ? last
                               : j,
            k->layer + other, out);
}

/* Whether a texel is the one that no face has: three faces meet at a corner of a cube. */
static bool is_missing(const struct lookup *k, const struct sim_level *l, const int64_t at[2]) {
    const int64_t n = l->width;
    return k->t->texels.cube && k->t->how.flags & CU_TRSF_SEAMLESS_CUBEMAP &&
            (filters(k) || k->f->gathers) && (at[0] < 0 || at[0] >= n) && (at[1] < 0 || at[1] >= n);
}

/* A texel of a cube's face. Seams are crossed by filters; else the address modes apply. */
static void cube_texel(struct lookup *k, const struct sim_level *l, unsigned face, int64_t x,
        int64_t y, struct sim_texel *out) {
    const unsigned *mode = k->t->how.addressMode;
    const bool seamless = k->t->how.flags & CU_TRSF_SEAMLESS_CUBEMAP;
    const unsigned clamp = CU_TR_ADDRESS_MODE_CLAMP;
    const int64_t cx = address(seamless ? clamp : mode[0], x, l->width),
                  cy = address(seamless ? clamp : mode[1], y, l->width);
    if (cx < 0 || cy < 0) border(k, out);
    else if ((cx == x && cy == y) || !seamless || (!filters(k) && !k->f->gathers))
        load(k, l, cx, cy, k->layer + face, out);
    else neighbour(k, l, face, x, y, out);
}

/* Indexes of texels, with the address modes. face: of a cube */
static void fetch(struct lookup *k, const struct sim_level *l, unsigned face, const int64_t at[3],
        struct sim_texel *out) {
    const struct sim_texels *t = &k->t->texels;
    const CUDA_TEXTURE_DESC *how = &k->t->how;
    *out = (struct sim_texel){ 0 };
    if (t->cube) {
        cube_texel(k, l, face, at[0], at[1], out);
        return;
    }
    const int64_t x = address(how->addressMode[0], at[0], l->width),
                  y = t->dims == 1 && t->layered ? 0
                                                 : address(how->addressMode[1], at[1], l->height),
                  z = t->layered ? (int64_t)k->layer
            : t->dims > 2        ? address(how->addressMode[2], at[2], l->depth)
                                 : 0;
    if (x < 0 || y < 0 || z < 0) border(k, out);
    else load(k, l, x, y, z, out);
}

/* -- one level */

/* where a lookup is, on any level */
struct spot {
    f64 at[3];
    int offset[3];
    unsigned face;
};

static bool repeats(const struct lookup *k, unsigned axis) {
    const unsigned mode = k->t->how.addressMode[axis];
    return !k->t->texels.cube &&
            (mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR);
}

static bool clamps(const struct lookup *k, unsigned axis) {
    return !k->t->texels.cube && k->t->how.addressMode[axis] == CU_TR_ADDRESS_MODE_CLAMP;
}

static f64 position(
        const struct lookup *k, const struct sim_level *l, const struct spot *s, unsigned axis) {
    const uint32_t size = axis == 0 ? l->width : axis == 1 ? l->height : l->depth;
    const bool normalized = k->t->how.flags & CU_TRSF_NORMALIZED_COORDINATES || k->t->texels.cube;
    return sim_near(sim_texels_of(s->at[axis], normalized, size), repeats(k, axis), size);
}

static unsigned axes_of(const struct lookup *k) {
    return k->t->texels.dims > 2 ? 3 : 2; /* a row is a plane, and y is 0 */
}

/* Component c of a filter's result. */
static u32 sum_of(const struct lookup *k, unsigned c, const struct sim_term *terms, unsigned n) {
    if (converts(k, c)) return sim_sum_floats(terms, n, SIM_SUM_SRGB);
    if (k->scale != 1) return sim_sum_integers(terms, n, (unsigned)k->scale);
    return sim_sum_floats(terms, n, reads_halves(k) ? SIM_SUM_HALF : SIM_SUM_FLOAT);
}

enum { TERMS = 16 }; /* 8 of a level in three dimensions, and of the next level */
enum { NONE = 8 };   /* no tap */
struct terms {
    unsigned n, planes;
    struct sim_term of[4][TERMS];
};

static void add_term(struct terms *t, const struct sim_texel *x, int weight) {
    for (unsigned c = 0; c < 4; c++)
        t->of[c][t->n] = (struct sim_term){ x->v[c], x->exponent[c], weight, t->planes };
    t->n++;
}

/* Shares the weight of the tap that is missing, of a plane of 4: each neighbour takes a third,
   rounded to nearest, and the one across the rest. */
static void share(int weights[4], unsigned missing) {
    const int third = (weights[missing] + 1) / 3;
    weights[missing ^ 1] += third;
    weights[missing ^ 2] += third;
    weights[missing ^ 3] += weights[missing] - 2 * third;
    weights[missing] = 0;
}

/* Adds the terms of a level, with a weight of `whole`. Without filtering, it is one, *nearest. */
static void add_level(struct lookup *k, const struct sim_level *l, const struct spot *s, int whole,
        struct terms *t, struct sim_texel *nearest) {
    const unsigned axes = axes_of(k);
    int64_t first[3] = { 0, 0, 0 }, at[3];
    unsigned fraction[3] = { 0, 0, 0 };
    const bool linear = filters(k);
    for (unsigned a = 0; a < axes; a++) {
        const uint32_t size = a == 0 ? l->width : a == 1 ? l->height : l->depth;
        f64 p = position(k, l, s, a) + s->offset[a];
        if (clamps(k, a)) p = p < 0.5 ? 0.5 : p > size - 0.5 ? size - 0.5 : p;
        first[a] = linear ? sim_linear(p, &fraction[a]) : sim_point(p);
    }
    if (!linear) {
        fetch(k, l, s->face, first, nearest);
        add_term(t, nearest, whole);
        t->planes++;
        return;
    }
    int weights[8];
    const int far = t->planes ? sim_part(whole, fraction[2])
                              : whole - sim_part(whole, SIM_FRACTION_ONE - fraction[2]);
    sim_weights(whole - far, fraction[0], fraction[1], weights);
    sim_weights(far, fraction[0], fraction[1], weights + 4);
    unsigned missing = NONE;
    for (unsigned tap = 0; tap < 4; tap++) {
        for (unsigned a = 0; a < 2; a++) at[a] = first[a] + (tap >> a & 1);
        if (is_missing(k, l, at)) missing = tap;
    }
    if (missing != NONE) share(weights, missing);
    /* without a fraction, an axis has one texel */
    for (unsigned tap = 0; tap < 8; tap++) {
        bool counts = tap != missing;
        if (tap == 4) t->planes++;
        for (unsigned a = 0; a < 3; a++) {
            at[a] = first[a] + (tap >> a & 1);
            if (tap >> a & 1 && !fraction[a]) counts = false;
        }
        if (!counts) continue;
        fetch(k, l, s->face, at, nearest);
        if (k->failed) return;
        add_term(t, nearest, weights[tap]);
    }
    t->planes++;
}

/* tld4: component n of the four texels that linear filtering would take, counter-clockwise from the
   lower left one. */
static void gather(struct lookup *k, const struct sim_level *l, const struct spot *s, u32 out[4]) {
    static const unsigned char order[4] = { 2, 3, 1, 0 };
    int64_t first[2];
    unsigned fraction, missing = NONE;
    for (unsigned a = 0; a < 2; a++)
        first[a] = sim_linear(position(k, l, s, a), &fraction) + s->offset[a];
    struct sim_texel x[4];
    const unsigned c = k->f->component;
    const bool sums = k->is.kind == SIM_C_SNORM && k->is.bytes == 1; /* as a filter does it */
    for (unsigned tap = 0; tap < 4; tap++) {
        const int64_t at[3] = { first[0] + (tap & 1), first[1] + (tap >> 1), 0 };
        if (is_missing(k, l, at)) missing = tap;
        else fetch(k, l, s->face, at, &x[tap]);
    }
    for (unsigned n = 0; n < 4; n++) {
        struct terms terms = { .n = 0, .planes = 0 };
        int weights[4] = { 0, 0, 0, 0 };
        weights[order[n]] = SIM_FRACTION_ONE;
        if (order[n] == missing) share(weights, missing);
        for (unsigned tap = 0; tap < 4; tap++)
            if (weights[tap]) add_term(&terms, &x[tap], weights[tap]);
        out[n] = filters(k) || sums || order[n] == missing ? sum_of(k, c, terms.of[c], terms.n)
                                                           : x[order[n]].bits[c];
    }
}

/* -- levels */

/* Documented: the bias is added, then the clamps limit. NaN counts as 0. */
static f32 biased(const struct lookup *k, f32 lod) {
    const CUDA_TEXTURE_DESC *how = &k->t->how;
    lod = sim_fixed_lod(lod) + how->mipmapLevelBias;
    if (lod > how->maxMipmapLevelClamp) lod = how->maxMipmapLevelClamp;
    return lod >= how->minMipmapLevelClamp ? lod : how->minMipmapLevelClamp;
}

static void sample_levels(struct lookup *k, const struct spot *s, f32 lod, u32 out[4]) {
    const struct sim_texels *t = &k->t->texels;
    const CUDA_TEXTURE_DESC *how = &k->t->how;
    unsigned fraction = 0;
    lod = biased(k, lod);
    const unsigned level = t->nlevels < 2
            ? 0
            : sim_level_of(lod, how->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR && !k->raw,
                      t->nlevels, &fraction);
    struct terms terms = { .n = 0, .planes = 0 };
    struct sim_texel nearest;
    add_level(k, &t->levels[level], s, SIM_FRACTION_ONE - (int)fraction, &terms, &nearest);
    if (fraction && !k->failed)
        add_level(k, &t->levels[level + 1], s, (int)fraction, &terms, &nearest);
    if (k->failed) return;
    if (!fraction && !filters(k) && !(how->maxAnisotropy > 1 && !k->raw && !t->linear))
        memcpy(out, nearest.bits, sizeof nearest.bits);
    else
        for (unsigned c = 0; c < 4; c++) out[c] = sum_of(k, c, terms.of[c], terms.n);
}

/* The derivatives of a direction, as those of its place on a face. */
static void on_face(unsigned face, const f32 direction[3], const f32 change[3], f64 out[2]) {
    static const signed char axes[6][3] = { { 0, -3, -2 }, { 0, 3, -2 }, { 1, 1, 3 }, { 1, 1, -3 },
        { 2, 1, -2 }, { 2, -1, -2 } }; /* the major one; 1 + that of s and t, with a sign */
    const unsigned major = (unsigned)axes[face][0];
    const f64 m = fabs((f64)direction[major]),
              dm = (f64)change[major] * (signbit(direction[major]) ? -1 : 1);
    for (unsigned a = 0; a < 2; a++) {
        const int from = axes[face][1 + a];
        const f64 sign = from < 0 ? -1 : 1, v = sign * direction[abs(from) - 1],
                  dv = sign * change[abs(from) - 1];
        out[a] = (dv * m - v * dm) / (m * m) / 2;
    }
}

/* With anisotropy: samples along the longer axis, as far from each other as the shorter one is
   long, but at least a texel of the largest level that is read. */
static void sample_footprint(
        struct lookup *k, struct spot s, f64 texels[2][3], f64 d[2][3], u32 out[4]) {
    const struct sim_texture *t = k->t;
    const unsigned most = t->how.maxAnisotropy;
    const bool exact = t->how.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    const f32 last = (f32)(t->texels.nlevels - 1);
    const struct sim_footprint footprint = sim_footprint_of(texels[0], texels[1], most);
    f32 level = biased(k, footprint.lod);
    level = !(level > 0) ? 0 : level < last ? level : last;
    const f64 longer = footprint.lod + footprint.log_ratio;
    const f64 ratio = exp2(fmax(0, fmin(footprint.log_ratio, longer - level)));
    const f32 lod = exact ? footprint.lod : sim_steep_lod(footprint.lod, most);
    if (ratio == 1) {
        sample_levels(k, &s, lod, out);
        return;
    }
    const unsigned axis = sim_length(texels[0]) > sim_length(texels[1]) ? 0 : 1;
    const f64 *v = texels[axis], step = exp2(level) / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const struct sim_samples samples = sim_samples_of(ratio);
    const struct spot middle = s;
    f64 sum[4] = { 0, 0, 0, 0 };
    for (int n = -samples.pairs; n < samples.pairs && !k->failed; n++) {
        const bool outer = n == -samples.pairs || n == samples.pairs - 1;
        u32 one[4];
        for (unsigned a = 0; a < 3; a++)
            s.at[a] = (f64)(f32)(middle.at[a] + d[axis][a] * step * samples.distance * (n + 0.5));
        sample_levels(k, &s, lod, one);
        for (unsigned c = 0; c < 4; c++)
            sum[c] += (f64)float_of(one[c]) * (outer ? samples.outer : samples.inner);
    }
    for (unsigned c = 0; c < 4; c++) out[c] = canon32((f32)(sum[c] / SIM_SAMPLES_ONE));
}

/* tex.grad: the level of detail from derivatives. With anisotropy the samples lie along the longer
   one, evenly, and are averaged: that is not measured to the bit. */
static void sample_gradients(struct lookup *k, struct spot s, const f32 direction[3], u32 out[4]) {
    const struct sim_texels *t = &k->t->texels;
    const struct sim_level *l = &t->levels[0];
    const bool normalized = k->t->how.flags & CU_TRSF_NORMALIZED_COORDINATES || t->cube;
    const f64 size[3] = { l->width, l->height, l->depth };
    f64 d[2][3] = { { 0 } }, texels[2][3] = { { 0 } };
    const unsigned axes = axes_of(k);
    for (unsigned q = 0; q < 2; q++) {
        f32 v[3];
        for (unsigned a = 0; a < 3; a++)
            v[a] = float_of(sim_operand_u32(k->w, (q ? k->f->dy : k->f->dx)[a], k->lane));
        if (t->cube) on_face(s.face, direction, v, d[q]);
        else
            for (unsigned a = 0; a < axes; a++) d[q][a] = v[a];
        for (unsigned a = 0; a < axes; a++)
            texels[q][a] = sim_derivative(d[q][a] * (normalized ? size[a] : 1));
    }
    if (k->t->how.maxAnisotropy < 2 || k->raw) {
        sample_levels(k, &s, sim_lod_of(sim_longer_axis(texels[0], texels[1])), out);
        return;
    }
    sample_footprint(k, s, texels, d, out);
}

/* Integer coordinates: a texel of a level. Outside there are zeros; with a level, there is the
   texel at the edge, but zeros on a level that does not exist. One dimension without layers is
   memory: of an array it reads zeros. */
static void fetch_integers(struct lookup *k, const s32 at[3], const struct spot *s, u32 out[4]) {
    const struct sim_texels *t = &k->t->texels;
    const bool has_level = k->f->lod == SIM_LOD_LEVEL;
    const u32 level = has_level ? sim_operand_u32(k->w, k->f->level, k->lane) : 0;
    struct sim_texel v = { 0 };
    if (level < t->nlevels && (t->linear || k->f->geometry != SIM_1D)) {
        const struct sim_level *l = &t->levels[level];
        const int64_t size[3] = { l->width, l->height, t->layered ? 1 : l->depth };
        int64_t texel[3] = { 0, 0, 0 };
        const u32 layer = sim_operand_u32(k->w, k->f->layer, k->lane);
        bool inside = has_level || !t->layered || layer < l->depth;
        for (unsigned a = 0; a < t->dims; a++) {
            texel[a] = (int64_t)at[a] + s->offset[a];
            if (!has_level && (texel[a] < 0 || texel[a] >= size[a])) inside = false;
            texel[a] = address(CU_TR_ADDRESS_MODE_CLAMP, texel[a], (uint32_t)size[a]);
        }
        if (inside) load(k, l, texel[0], texel[1], t->layered ? (int64_t)k->layer : texel[2], &v);
    }
    memcpy(out, v.bits, sizeof v.bits);
}

/* -- instructions */

/* The texture of a lane's handle; NULL: it raised a fault. */
static const struct sim_texture *texture_of(
        struct sim_warp *w, const struct sim_insn *i, const struct sim_fetch *f, int lane) {
    const uint64_t handle = SIM_AT(u64, f->handle)[lane];
    const struct sim_texture *t = sim_texture_at(handle);
    if (t && t->device == w->block->grid->device) return t;
    sim_fault_at(w, i, lane, SIM_F_ILLEGAL_ADDRESS, "0x%llx is not a texture object%s",
            (unsigned long long)handle, t ? " of this device" : "");
    return NULL;
}

/* Documented: a layer beyond the last one is the last one. Of cubes: the first face. */
static unsigned layer_of(const struct lookup *k) {
    const struct sim_texels *t = &k->t->texels;
    const unsigned faces = t->cube ? 6 : 1, layers = t->levels[0].depth / faces;
    const u32 layer = sim_operand_u32(k->w, k->f->layer, k->lane);
    if (!t->layered) return 0;
    return (layer < layers ? layer : layers - 1) * faces;
}

static void lookup(struct lookup *k, u32 out[4]) {
    const struct sim_fetch *f = k->f;
    struct spot s = { .face = 0 };
    s32 integers[3];
    f32 direction[3];
    find_kind(k);
    k->layer = layer_of(k);
    for (unsigned a = 0; a < 3; a++) {
        const u32 bits = sim_operand_u32(k->w, f->at[a], k->lane);
        integers[a] = (s32)bits;
        direction[a] = float_of(bits);
        s.at[a] = (f64)direction[a];
        s.offset[a] = sim_offset(sim_operand_u32(k->w, f->offset[a], k->lane), f->gathers);
    }
    if (k->t->texels.dims == 1) /* a GPU does not mask the offset of a row: y takes the next bits */
        s.offset[1] = sim_row_offset(sim_operand_u32(k->w, f->offset[0], k->lane));
    if (k->is.kind == SIM_C_NONE) {
        sim_fault_at(k->w, k->i, k->lane, SIM_F_LAUNCH_FAILED,
                "a texture of format 0x%x, which is not supported by this CPU device",
                k->t->texels.format);
        k->failed = true;
        return;
    }
    if (f->integers) {
        fetch_integers(k, integers, &s, out);
        return;
    }
    if (k->t->texels.cube) s.face = sim_face(direction, &s.at[0], &s.at[1]);
    if (f->gathers) gather(k, &k->t->texels.levels[0], &s, out);
    else if (f->lod == SIM_LOD_GRAD) sample_gradients(k, s, direction, out);
    else
        sample_levels(k, &s,
                f->lod == SIM_LOD_LEVEL ? float_of(sim_operand_u32(k->w, f->level, k->lane))
                        : k->t->how.maxAnisotropy ? -INFINITY
                                                  : 0,
                out);
}

/* Writes the four components as the instruction's type. */
static void put(struct sim_warp *w, const struct sim_fetch *f, int lane, const u32 v[4]) {
    for (unsigned n = 0; n < f->n; n++) {
        u32 *d = SIM_AT(u32, f->value[n]) + lane;
        if (f->type == SIM_F16) *d = half_of(float_of(v[n]));
        else if (f->type == SIM_F16X2)
            *d = half_of(float_of(v[2 * n])) | half_of(float_of(v[2 * n + 1])) << 16;
        else *d = v[n];
    }
}

SIM_HANDLER(tex) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    SIM_EACH_LANE (m) {
        struct lookup k = { .w = w, .i = i, .f = f, .lane = (int)l };
        u32 v[4] = { 0, 0, 0, 0 };
        if (!(k.t = texture_of(w, i, f, (int)l))) return;
        lookup(&k, v);
        if (k.failed) return;
        put(w, f, (int)l, v);
    }
    if (f->has_predicate) sim_write_pred(w, f->predicate, m, ~0u); /* all memory is resident */
}

SIM_HANDLER(txq) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    SIM_EACH_LANE (m) {
        const struct sim_texture *t = texture_of(w, i, f, (int)l);
        const u32 level = f->has_level ? SIM_AT(u32, f->level)[l] : 0;
        if (!t) return;
        SIM_AT(u32, f->value[0])[l] = sim_answer(&t->texels, &t->how, f->query, level);
    }
}

SIM_HANDLER(istypep_texref) {
    const struct sim_fetch *f = &w->block->code->fetches[i->imm];
    uint32_t is = 0;
    SIM_EACH_LANE (m)
        if (sim_texture_at(SIM_AT(u64, f->handle)[l])) is |= 1u << l;
    sim_write_pred(w, f->predicate, m, is);
}

const struct sim_operation sim_texture_table[] = { SIM_UNTYPED(tex), SIM_UNTYPED(txq),
    SIM_UNTYPED(istypep_texref), SIM_END };
