/* textures.c - what kernels read through textures, and read and write through surfaces, compared
   with a model on the host: point filtering exactly, linear filtering where its fractions are
   exact. Objects themselves are in the suite arrays. */
#include "../../test.h"
#include <math.h>

typedef unsigned long long ptr;                                     /* CUdeviceptr */
enum { U8 = 1, U16, U32, S8 = 8, S16, S32, HALF = 16, FLOAT = 32 }; /* CUarray_format */
enum { LAYERED = 1, SURFACE = 2, CUBE = 4, GATHER = 8 };
enum { OF_ARRAY, OF_MIPMAPPED, LINEAR, PITCH2D };
enum { WRAP, CLAMP, MIRROR, BORDER };
enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16, SEAMLESS = 64 };
enum { LANES = 32, BYTES = LANES * 16 };

typedef struct shape {
    size_t width, height, depth;
    unsigned format, channels, flags;
} shape;
typedef struct resource {
    unsigned type;
    union {
        void *array;
        struct {
            ptr address;
            unsigned format, channels;
            size_t bytes;
        } linear;
        int room[32];
    } of;
    unsigned flags;
} resource;
typedef struct sampling {
    unsigned address[3], filter, flags, anisotropy, mipmap_filter;
    float bias, least, most, border[4];
    int room[12];
} sampling;
typedef struct side {
    size_t x, y, z, level;
    unsigned type;
    const void *host;
    ptr device;
    void *array, *context;
    size_t pitch, height;
} side;
typedef struct volume {
    side from, to;
    size_t width, height, depth;
} volume;

static driver_calls cu;
static void *context;
static ptr in, out; /* 16 bytes for each lane */

static void begin(void) {
    gpuexec_context_open(0, NULL);
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&in, BYTES), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&out, BYTES), 0);
}
static void end(void) {
    CHECK_EQ(cu.cuMemFree_v2(in), 0);
    CHECK_EQ(cu.cuMemFree_v2(out), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}

/* Runs `body` in 32 threads: %c0 to %c3 are the thread's 16 bytes of `in` as .b32, %d0 to %d3 go to
   `out`; %t is the object. */
static int run(const char *body, unsigned long long object) {
    static char text[4000];
    void *module = NULL, *function = NULL, *params[3];
    int result;
    snprintf(text, sizeof text,
            ".version 7.1\n.target sm_60\n.address_size 64\n"
            ".visible .entry k(.param .u64 t, .param .u64 i, .param .u64 o) {\n"
            ".reg .b64 %%t, %%i, %%o, %%l; .reg .b32 %%c<4>, %%d<4>, %%x; .reg .pred %%p;\n"
            ".reg .b64 %%q<4>; .reg .b16 %%h<4>;\n"
            "ld.param.u64 %%t, [t]; ld.param.u64 %%i, [i]; ld.param.u64 %%o, [o];\n"
            "mov.u32 %%x, %%tid.x; mul.wide.u32 %%l, %%x, 16;\n"
            "add.u64 %%i, %%i, %%l; add.u64 %%o, %%o, %%l;\n"
            "mov.b32 %%d0, 0; mov.b32 %%d1, 0; mov.b32 %%d2, 0; mov.b32 %%d3, 0;\n"
            "ld.global.v4.b32 {%%c0, %%c1, %%c2, %%c3}, [%%i];\n"
            "%s\n"
            "st.global.v4.b32 [%%o], {%%d0, %%d1, %%d2, %%d3}; ret; }\n",
            body);
    if (!CHECK_EQ(cu.cuModuleLoadData(&module, text), 0)) return -1;
    CHECK_EQ(cu.cuModuleGetFunction(&function, module, "k"), 0);
    params[0] = &object;
    params[1] = &in;
    params[2] = &out;
    result = cu.cuLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL);
    if (!result) result = cu.cuCtxSynchronize();
    if (!result) CHECK_EQ(cu.cuModuleUnload(module), 0);
    return result;
}
static void give(const void *lanes) { CHECK_EQ(cu.cuMemcpyHtoD_v2(in, lanes, BYTES), 0); }
static void take(void *lanes) { CHECK_EQ(cu.cuMemcpyDtoH_v2(lanes, out, BYTES), 0); }

static void *array_of(size_t w, size_t h, size_t d, unsigned format, unsigned channels,
        unsigned flags, const void *texels, size_t texel) {
    shape s;
    volume v;
    void *array = NULL;
    memset(&s, 0, sizeof s);
    memset(&v, 0, sizeof v);
    s.width = w;
    s.height = h;
    s.depth = d;
    s.format = format;
    s.channels = channels;
    s.flags = flags;
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    v.from.type = 1;
    v.from.host = texels;
    v.from.pitch = w * texel;
    v.from.height = h ? h : 1;
    v.to.type = 3;
    v.to.array = array;
    v.width = w * texel;
    v.height = h ? h : 1;
    v.depth = d ? d : 1;
    CHECK_EQ(cu.cuMemcpy3D_v2(&v), 0);
    return array;
}
/* A row of compressed blocks. */
static void *blocks_of(
        size_t n, unsigned format, unsigned channels, const void *blocks, size_t block) {
    shape s;
    volume v;
    void *array = NULL;
    memset(&s, 0, sizeof s);
    memset(&v, 0, sizeof v);
    s.width = 4 * n;
    s.height = 4;
    s.format = format;
    s.channels = channels;
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    v.from.type = 1;
    v.from.host = blocks;
    v.from.pitch = v.width = n * block;
    v.height = v.depth = 1;
    v.to.type = 3;
    v.to.array = array;
    CHECK_EQ(cu.cuMemcpy3D_v2(&v), 0);
    return array;
}
static sampling plain(unsigned mode, unsigned filter, unsigned flags) {
    sampling how;
    memset(&how, 0, sizeof how);
    how.address[0] = how.address[1] = how.address[2] = mode;
    how.filter = filter;
    how.flags = flags;
    return how;
}
static unsigned long long texture_of(void *array, const sampling *how) {
    resource r;
    unsigned long long t = 0;
    memset(&r, 0, sizeof r);
    r.of.array = array;
    CHECK_EQ(cu.cuTexObjectCreate(&t, &r, how, NULL), 0);
    return t;
}
static unsigned long long surface_of(void *array) {
    resource r;
    unsigned long long t = 0;
    memset(&r, 0, sizeof r);
    r.of.array = array;
    CHECK_EQ(cu.cuSurfObjectCreate(&t, &r), 0);
    return t;
}

/* ---- the model: the texel that a mode selects; -1: the border */
static int select_texel(unsigned mode, int i, int n) {
    if (mode == WRAP) return ((i % n) + n) % n;
    if (mode == MIRROR) {
        i = ((i % (2 * n)) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    }
    if (mode == BORDER) return i < 0 || i >= n ? -1 : i;
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Points of a plane, inside and outside, in all modes, normalized and not. */
TEST(points_in_all_modes) {
    enum { W = 8, H = 4 };
    float texels[H][W], c[LANES][4], got[LANES][4];
    unsigned mode, normalized;
    void *array;
    int x, y, l;
    begin();
    for (y = 0; y < H; y++)
        for (x = 0; x < W; x++) texels[y][x] = (float)(100 * y + x + 1);
    array = array_of(W, H, 0, FLOAT, 1, 0, texels, 4);
    for (normalized = 0; normalized < 2; normalized++)
        for (mode = WRAP; mode <= BORDER; mode++) {
            sampling how = plain(mode, 0, normalized ? NORMALIZED : 0);
            unsigned long long t;
            if (!normalized && (mode == WRAP || mode == MIRROR)) continue;
            how.border[0] = -7;
            t = texture_of(array, &how);
            memset(c, 0, sizeof c);
            for (l = 0; l < LANES; l++) {
                c[l][0] = (float)(l - 12) + 0.25f;
                c[l][1] = (float)(l % 9 - 3) + 0.75f;
                if (normalized) {
                    c[l][0] /= W;
                    c[l][1] /= H;
                }
            }
            give(c);
            CHECK_EQ(run("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];", t), 0);
            take(got);
            for (l = 0; l < LANES; l++) {
                const int i = select_texel(mode, l - 12, W), j = select_texel(mode, l % 9 - 3, H);
                CHECK(got[l][0] == (i < 0 || j < 0 ? -7 : texels[j][i]));
                CHECK(got[l][1] == 0 && got[l][2] == 0 && got[l][3] == 0);
            }
            CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
        }
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* Fractions that are multiples of 1/256 have exact sums. */
TEST(linear_filtering) {
    enum { W = 8 };
    float texels[W], c[LANES][4], got[LANES][4];
    sampling how = plain(CLAMP, 1, 0);
    unsigned long long t;
    void *array;
    int l;
    begin();
    for (l = 0; l < W; l++) texels[l] = (float)(l * l * 256);
    array = array_of(W, 0, 0, FLOAT, 1, 0, texels, 4);
    t = texture_of(array, &how);
    memset(c, 0, sizeof c);
    for (l = 0; l < LANES; l++) c[l][0] = (float)(l * 77 - 200) / 256;
    give(c);
    CHECK_EQ(run("tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];", t), 0);
    take(got);
    for (l = 0; l < LANES; l++) {
        const float x = c[l][0] - 0.5f, i = floorf(x), a = x - i;
        const float first = texels[select_texel(CLAMP, (int)i, W)],
                    second = texels[select_texel(CLAMP, (int)i + 1, W)];
        CHECK(got[l][0] == (1 - a) * first + a * second);
    }
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* Components of 8 and 16 bits as integers and as numbers. */
TEST(formats_of_texels) {
    unsigned char u8[4] = { 0, 1, 128, 255 };
    signed char s8[4] = { -128, -127, 0, 127 };
    unsigned short halves[4] = { 0x3c00, 0xc000, 0x0001, 0x7c00 };
    unsigned c[LANES][4], bits[LANES][4];
    float got[LANES][4];
    sampling numbers = plain(CLAMP, 0, 0), integers = plain(CLAMP, 0, AS_INTEGER);
    const char *fetch = "tex.1d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];";
    unsigned long long t;
    void *array;
    int k;
    begin();
    memset(c, 0, sizeof c);
    give(c);
    array = array_of(1, 0, 0, U8, 4, 0, u8, 4);
    t = texture_of(array, &numbers);
    CHECK_EQ(run(fetch, t), 0);
    take(got);
    for (k = 0; k < 4; k++) CHECK(got[0][k] == (float)(u8[k] / 255.0));
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    t = texture_of(array, &integers);
    CHECK_EQ(run(fetch, t), 0);
    take(bits);
    for (k = 0; k < 4; k++) CHECK_EQ(bits[0][k], u8[k]);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    array = array_of(1, 0, 0, S8, 4, 0, s8, 4);
    t = texture_of(array, &numbers);
    CHECK_EQ(run(fetch, t), 0);
    take(got);
    CHECK(got[0][0] == -1 && got[0][1] == -1 && got[0][2] == 0 && got[0][3] == 1);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    t = texture_of(array, &integers);
    CHECK_EQ(run(fetch, t), 0);
    take(bits);
    for (k = 0; k < 4; k++) CHECK_EQ((int)bits[0][k], s8[k]);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    array = array_of(1, 0, 0, HALF, 4, 0, halves, 8);
    t = texture_of(array, &numbers);
    CHECK_EQ(run(fetch, t), 0);
    take(got);
    CHECK(got[0][0] == 1 && got[0][1] == -2 && got[0][2] == 0x1p-24f && isinf(got[0][3]));
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* ---- BC6H and BC7 ----
   Eight blocks of 16 bytes, and what four texels of each are (1, 6, 11 and 12), as two other
   decoders say: texture2ddecoder 1.0.6 (BC7), and that of imagecodecs 2026.3.6 (both). */
static const struct {
    const char *block, *texels;
} bc7_blocks[8] = { { "3dd392cc02d0b240df956e5306318332", "94402fff6b08adff4a6befff8350d8ff" },
    { "aefb903db2fa70316a0593d22fb28df0", "cfc7c2ff555437ff446b12ff663e5aff" },
    { "5c30d28eee3fecffe352809c8c26e13c", "c6ffbdffd6b500ffb8b37eff6d64adff" },
    { "389e288016009f008dece2d9ba2daa47", "29f1edff1e21a5ff35a2b7ff5b4167ff" },
    { "f0064207916eded54f7b09f50e3a457f", "3d829a7b547db568487fb571617ad05e" },
    { "a063df81aff86aff1005f0d533397863", "95da87acc73f140e7ca7bff9953f87ac" },
    { "40d5d02ea777dc548fa94c5263ea071e", "6fe88cc15bebd0d584e546ac6ce997c4" },
    { "809551166b860d8dc4235ac7ec8fa642", "3fb29e6534d7a6454a8a9686bd60ae48" } },
  bc6h_blocks[8] = { { "f024b2885cea3b784753793432d0c039",
                             "251d2b0c445b24ed2b1044a124252bc647a024752bfb4646" },
      { "39d93b3393b17db2d6fc628f7ce0b1e6", "3e8364c3086a406c72cc026c3ab348b314673d7466895e55" },
      { "223d097058f066984c724ab46130eb89", "1dee3ec6417d1e003ea241a91de93ecf41721e363f7c416b" },
      { "a6518813a0698f196a9ce8d664d828cd", "65c66d3d3ebb65b56d533eae65a66cb83e8e65996d753e9a" },
      { "6ae069fb60da17b566e35cbde20d4836", "2e8969b746082e9269bc45f22ef169b545ef2ea469c545c4" },
      { "ee003ebe3b3a3154c6d788d9fccf7716", "01d11e27742105731f9b778504a1201576b303c4209575d6" },
      { "720b4f148c65b7ea98db14c87c81c0c8", "2b4c4c6e15ce27f64fae79d232224dbe087a29644f6869e1" },
      { "b6a6b889d0a226f9790c421b82cb9c45", "183b33e51d4219ea36fa212e170231a61a6616db35082634" } },
  bc6h_signed_blocks[8] = { { "baaddb71149a87a0561adfc6e96173eb",
                                    "6b78c9fd376e6a9fc84b37017199c9b3247a6c04cb1437b4" },
      { "5e69538dfba4a5f9d950191f7e3bf659", "3467e2df0e4a7bffcb90b450ef768ea7c04dfbffb070d730" },
      { "2396d5efe7e89b87c9d16f0e911704d4", "3fa326edaf1343483173b6fa2c9b900785d031df80d49139" },
      { "a7c4d5d7c6cf92c57c5659f950437167", "421605f9636041f796c4619a424834af6641427b63656921" },
      { "0b8ced877e2a703f20d11a38e5109a92", "f58b835a33a9f3ac865a36a3f5eb82c03310f301876f37b6" },
      { "8f1fbdc46687c9cdbb516362e35d4603", "6d71244bdd9c6d73244ddd9a6d73244ddd9b6d72244cdd9b" },
      { "60777ef21fe21dfcb71dfc08831c5f0d", "901b40c983c1920b3d65020f920b3de1011790a03e2c825c" },
      { "738eed7e649ee9a1acde190ae428efbe", "000000000000000000000000000000000000000000000000" } };
enum { BC6H = 0x9b, BC6H_SIGNED, BC7 };

static unsigned hex_of(const char *p, int n) {
    char digits[5] = { 0 };
    memcpy(digits, p, (size_t)n);
    return (unsigned)strtoul(digits, NULL, 16);
}
static float half_of(unsigned h) {
    const int exponent = (int)(h >> 10 & 31);
    const float v = ldexpf(exponent ? 1024.0f + (float)(h & 1023) : (float)(h & 1023),
            exponent ? exponent - 25 : -24);
    return h >> 15 ? -v : v;
}
/* Reads texels from a row of eight blocks: lane l those of block l / 4, texel which[l % 4]. */
static void read_blocks(unsigned format, const unsigned char *blocks, const unsigned char *which,
        float got[LANES][4]) {
    float c[LANES][4];
    sampling how = plain(CLAMP, 0, 0);
    unsigned long long t;
    void *array = blocks_of(8, format, format == BC7 ? 4 : 3, blocks, 16);
    int l;
    memset(c, 0, sizeof c);
    for (l = 0; l < LANES; l++) {
        c[l][0] = (float)(l / 4 * 4 + which[l % 4] % 4) + 0.5f;
        c[l][1] = (float)(which[l % 4] / 4) + 0.5f;
    }
    t = texture_of(array, &how);
    give(c);
    CHECK_EQ(run("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];", t), 0);
    take(got);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
}
static const unsigned char some[4] = { 1, 6, 11, 12 };

/* One block of each mode: subsets, ends with and without a bit of their precision, rotations. */
TEST(bc7_modes) {
    unsigned char blocks[8][16];
    float got[LANES][4];
    int k, l;
    begin();
    for (k = 0; k < 128; k++)
        blocks[k / 16][k % 16] = (unsigned char)hex_of(bc7_blocks[k / 16].block + 2 * (k % 16), 2);
    read_blocks(BC7, blocks[0], some, got);
    for (l = 0; l < LANES; l++)
        for (k = 0; k < 4; k++) {
            const unsigned v = hex_of(bc7_blocks[l / 4].texels + 8 * (l % 4) + 2 * k, 2);
            CHECK(fabsf(got[l][k] - (float)v / 255) < 1e-6f);
        }
    end();
}
/* All 14 modes, and one that is reserved: zeros, with alpha 1. */
TEST(bc6h_modes) {
    unsigned char blocks[8][16];
    float got[LANES][4];
    int is_signed, k, l;
    begin();
    for (is_signed = 0; is_signed < 2; is_signed++) {
        for (k = 0; k < 128; k++)
            blocks[k / 16][k % 16] = (unsigned char)hex_of(
                    (is_signed ? bc6h_signed_blocks : bc6h_blocks)[k / 16].block + 2 * (k % 16), 2);
        read_blocks(is_signed ? BC6H_SIGNED : BC6H, blocks[0], some, got);
        for (l = 0; l < LANES; l++) {
            const char *texels = (is_signed ? bc6h_signed_blocks : bc6h_blocks)[l / 4].texels;
            for (k = 0; k < 3; k++)
                CHECK(got[l][k] == half_of(hex_of(texels + 12 * (l % 4) + 4 * k, 4)));
            CHECK(got[l][3] == 1);
        }
    }
    end();
}

/* Adds n bits to a block. */
static void put_bits(unsigned char *block, unsigned *at, unsigned v, unsigned n) {
    for (; n--; v >>= 1, ++*at)
        block[*at / 8] = (unsigned char)(block[*at / 8] | (v & 1) << *at % 8);
}
/* One subset, indices of 4 bits, all weights: mode 6 of BC7, and mode 11 of BC6H, whose ends have
   10 bits. The model knows only these. */
TEST(blocks_of_one_subset) {
    static const unsigned char weights[16] = { 0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55,
        60, 64 };
    unsigned char blocks[8][16], which[4];
    unsigned ends[8][2][4], random = 99, at, k, e, n, quarter;
    float got[LANES][4];
    int is_float, l;
    begin();
    for (is_float = 0; is_float < 2; is_float++) {
        memset(blocks, 0, sizeof blocks);
        for (k = 0; k < 8; k++) {
            at = 0;
            put_bits(blocks[k], &at, is_float ? 3 : 64, is_float ? 5 : 7);
            for (n = 0; n < 8; n++) {
                random = random * 1664525 + 1013904223;
                ends[k][n % 2][n / 2] = random >> (is_float ? 22 : 24);
            }
            if (k == 7) /* the smallest and the largest */
                for (n = 0; n < 8; n++) ends[k][n % 2][n / 2] = n % 2 ? is_float ? 1023 : 255 : 0;
            if (is_float)
                for (n = 0; n < 6; n++) put_bits(blocks[k], &at, ends[k][n / 3][n % 3], 10);
            else { /* the lowest bit of all four components is one bit */
                for (n = 0; n < 8; n++) {
                    ends[k][n % 2][n / 2] = (ends[k][n % 2][n / 2] & ~1u) | (ends[k][n % 2][0] & 1);
                    put_bits(blocks[k], &at, ends[k][n % 2][n / 2] >> 1, 7);
                }
                for (e = 0; e < 2; e++) put_bits(blocks[k], &at, ends[k][e][0] & 1, 1);
            }
            for (n = 0; n < 16; n++) put_bits(blocks[k], &at, (n + k) % (n ? 16 : 8), n ? 4 : 3);
            CHECK_EQ(at, 128);
        }
        for (quarter = 0; quarter < 4; quarter++) {
            for (n = 0; n < 4; n++) which[n] = (unsigned char)(4 * quarter + n);
            read_blocks(is_float ? BC6H : BC7, blocks[0], which, got);
            for (l = 0; l < LANES; l++) {
                const unsigned block = (unsigned)l / 4, texel = which[l % 4],
                               w = weights[(texel + block) % (texel ? 16 : 8)];
                for (n = 0; n < (is_float ? 3 : 4); n++) {
                    unsigned v[2];
                    for (e = 0; e < 2; e++) {
                        v[e] = ends[block][e][n];
                        if (is_float && v[e])
                            v[e] = v[e] == 1023 ? 0xffff : (v[e] * 0x8000 + 0x4000) / 512;
                    }
                    v[0] = ((64 - w) * v[0] + w * v[1] + 32) / 64;
                    if (is_float) CHECK(got[l][n] == half_of(v[0] * 31 / 64));
                    else CHECK(fabsf(got[l][n] - (float)v[0] / 255) < 1e-6f);
                }
            }
        }
    }
    end();
}

/* Each layer, and beyond the last; each face, at its middle. */
TEST(layers_and_faces) {
    float layers[3][4], faces[6][4][4], c[LANES][4], got[LANES][4];
    sampling how = plain(CLAMP, 0, 0), normalized = plain(CLAMP, 0, NORMALIZED);
    unsigned index[LANES];
    unsigned long long t;
    void *array;
    int l, k;
    begin();
    for (l = 0; l < 12; l++) layers[l / 4][l % 4] = (float)l;
    array = array_of(4, 0, 3, FLOAT, 1, LAYERED, layers, 4);
    t = texture_of(array, &how);
    memset(c, 0, sizeof c);
    for (l = 0; l < LANES; l++) {
        index[l] = (unsigned)l / 4;
        memcpy(&c[l][0], &index[l], 4);
        c[l][1] = (float)(l % 4) + 0.5f;
    }
    give(c);
    CHECK_EQ(run("tex.a1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];", t), 0);
    take(got);
    for (l = 0; l < LANES; l++) CHECK(got[l][0] == layers[index[l] < 3 ? index[l] : 2][l % 4]);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    for (l = 0; l < 96; l++) faces[l / 16][l / 4 % 4][l % 4] = (float)(l / 16);
    array = array_of(4, 4, 6, FLOAT, 1, CUBE, faces, 4);
    t = texture_of(array, &normalized);
    memset(c, 0, sizeof c);
    for (l = 0; l < LANES; l++) {
        for (k = 0; k < 3; k++) c[l][k] = 0.1f * (float)(l % 5 - 2);
        c[l][l % 6 / 2] = l % 2 ? -1.0f : 1.0f;
    }
    give(c);
    CHECK_EQ(run("tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c3}];", t), 0);
    take(got);
    for (l = 0; l < LANES; l++) CHECK(got[l][0] == (float)(l % 6));
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* The four texels around a corner, counter-clockwise from the lower left one; queries. */
TEST(gathers_and_queries) {
    float texels[4][8], c[LANES][4], got[LANES][4];
    unsigned bits[LANES][4];
    sampling how = plain(CLAMP, 0, 0);
    unsigned long long t;
    void *array;
    int l;
    begin();
    for (l = 0; l < 32; l++) texels[l / 8][l % 8] = (float)l;
    array = array_of(8, 4, 0, FLOAT, 1, GATHER, texels, 4);
    t = texture_of(array, &how);
    memset(c, 0, sizeof c);
    for (l = 0; l < LANES; l++) {
        c[l][0] = (float)(1 + l % 7);
        c[l][1] = (float)(1 + l % 3);
    }
    give(c);
    CHECK_EQ(run("tld4.r.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];", t), 0);
    take(got);
    for (l = 0; l < LANES; l++) {
        const int x = l % 7, y = l % 3;
        CHECK(got[l][0] == texels[y + 1][x] && got[l][1] == texels[y + 1][x + 1]);
        CHECK(got[l][2] == texels[y][x + 1] && got[l][3] == texels[y][x]);
    }
    CHECK_EQ(run("txq.width.b32 %d0, [%t]; txq.height.b32 %d1, [%t];", t), 0);
    take(bits);
    CHECK(bits[5][0] == 8 && bits[5][1] == 4);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}
TEST(queries_of_channels) {
    float texels[4] = { 0, 0, 0, 0 };
    unsigned bits[LANES][4];
    sampling how = plain(CLAMP, 0, 0);
    unsigned long long t;
    void *array;
    if (!on_cpu_device()) SKIP("a GPU's driver leaves kernels with such queries out");
    begin();
    array = array_of(4, 0, 0, FLOAT, 1, 0, texels, 4);
    t = texture_of(array, &how);
    CHECK_EQ(run("txq.channel_data_type.b32 %d2, [%t]; txq.channel_order.b32 %d3, [%t];", t), 0);
    take(bits);
    CHECK(bits[5][2] == 0x10de && bits[5][3] == 0x10b0);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* Linear memory: integer coordinates, zeros outside. */
TEST(linear_memory) {
    unsigned words[LANES][4], got[LANES][4];
    resource r;
    sampling how = plain(CLAMP, 0, 0);
    unsigned long long t = 0;
    int l;
    begin();
    memset(words, 0, sizeof words);
    for (l = 0; l < LANES; l++) words[l][0] = (unsigned)(l * 5 - 20);
    give(words);
    memset(&r, 0, sizeof r);
    r.type = LINEAR;
    r.of.linear.address = in;
    r.of.linear.format = S32;
    r.of.linear.channels = 1;
    r.of.linear.bytes = 20 * 4;
    CHECK_EQ(cu.cuTexObjectCreate(&t, &r, &how, NULL), 0);
    CHECK_EQ(run("tex.1d.v4.s32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];", t), 0);
    take(got);
    for (l = 0; l < LANES; l++) {
        const int i = l * 5 - 20;
        CHECK_EQ(got[l][0], i < 0 || i >= 20 ? 0 : ((unsigned *)words)[i]);
    }
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    end();
}

/* Stores, loads and reductions; what is outside. */
TEST(surfaces) {
    enum { W = 16 };
    unsigned texels[2][W], c[LANES][4], got[LANES][4], model[2][W];
    unsigned long long s;
    void *array;
    int l;
    begin();
    memset(texels, 0, sizeof texels);
    array = array_of(W, 2, 0, U32, 1, SURFACE, texels, 4);
    s = surface_of(array);
    memset(model, 0, sizeof model);
    for (l = 0; l < LANES; l++) {
        const int x = l - 4, y = l % 2;
        c[l][0] = (unsigned)(x * 4);
        c[l][1] = (unsigned)y;
        c[l][2] = (unsigned)(l + 1000);
        c[l][3] = 0;
        if (x >= 0 && x < W) model[y][x] = c[l][2];
    }
    give(c);
    CHECK_EQ(run("sust.b.2d.b32.zero [%t, {%c0, %c1}], %c2;\n"
                 "suld.b.2d.b32.zero %d0, [%t, {%c0, %c1}];\n"
                 "suld.b.2d.b32.clamp %d1, [%t, {%c0, %c1}];",
                     s),
            0);
    take(got);
    for (l = 0; l < LANES; l++) {
        const int x = l - 4, y = l % 2, inside = x >= 0 && x < W;
        CHECK_EQ(got[l][0], inside ? model[y][x] : 0);
        CHECK_EQ(got[l][1], model[y][x < 0 ? 0 : x >= W ? W - 1 : x]);
    }
    /* all lanes add to one texel, and raise another */
    CHECK_EQ(run("sured.b.add.2d.u32.trap [%t, {0, 1}], %c2;\n"
                 "sured.b.max.2d.u32.trap [%t, {4, 1}], %c2;\n"
                 "suld.b.2d.v2.b32.trap {%d0, %d1}, [%t, {0, 1}];\n"
                 "suq.width.b32 %d2, [%t];",
                     s),
            0);
    take(got);
    CHECK_EQ(got[31][0], model[1][0] + 32 * 1000 + 31 * 16);
    CHECK_EQ(got[31][1], 1031);
    CHECK_EQ(got[31][2], W);
    CHECK_EQ(cu.cuSurfObjectDestroy(s), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* Levels of a mipmapped array that hold 1, 2 and 3: point (at whole levels) and linear between
 * levels; clamps. */
TEST(levels) {
    float texels[64], c[LANES][4], got[LANES][4];
    void *mipmapped = NULL, *level;
    unsigned long long t = 0;
    resource r;
    shape s;
    int k, l, linear;
    begin();
    memset(&s, 0, sizeof s);
    memset(&r, 0, sizeof r);
    memset(c, 0, sizeof c);
    s.width = s.height = 8;
    s.format = FLOAT;
    s.channels = 1;
    CHECK_EQ(cu.cuMipmappedArrayCreate(&mipmapped, &s, 3), 0);
    for (k = 0; k < 3; k++) {
        volume v;
        memset(&v, 0, sizeof v);
        for (l = 0; l < 64; l++) texels[l] = (float)(k + 1);
        CHECK_EQ(cu.cuMipmappedArrayGetLevel(&level, mipmapped, (unsigned)k), 0);
        v.from.type = 1;
        v.from.host = texels;
        v.to.type = 3;
        v.to.array = level;
        v.width = v.from.pitch = (size_t)(8 >> k) * 4;
        v.height = v.from.height = (size_t)(8 >> k);
        v.depth = 1;
        CHECK_EQ(cu.cuMemcpy3D_v2(&v), 0);
    }
    r.type = OF_MIPMAPPED;
    r.of.array = mipmapped;
    for (l = 0; l < LANES; l++) {
        c[l][0] = c[l][1] = 0.5f;
        c[l][2] = (float)(l - 8) / 4; /* exact, also in 8 bits of fraction */
    }
    give(c);
    for (linear = 0; linear < 2; linear++) {
        sampling how = plain(CLAMP, 0, NORMALIZED);
        how.mipmap_filter = (unsigned)linear;
        how.most = 2;
        CHECK_EQ(cu.cuTexObjectCreate(&t, &r, &how, NULL), 0);
        CHECK_EQ(run("tex.level.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}], %c2;", t), 0);
        take(got);
        for (l = 0; l < LANES; l++) {
            const float lod = c[l][2] < 0 ? 0 : c[l][2] > 2 ? 2 : c[l][2];
            if (linear) CHECK(got[l][0] == 1 + lod);
            else if (lod == floorf(lod)) CHECK(got[l][0] == 1 + lod);
        }
        CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    }
    CHECK_EQ(cu.cuMipmappedArrayDestroy(mipmapped), 0);
    end();
}

/* A block of one color; ten bits for each of three components, and two. */
TEST(packed_formats) {
    enum { BC1 = 0x91, PACKED = 0x50 };
    const unsigned char black[8] = { 0, 0, 0, 0, 0, 0, 0, 0 },
                        white[8] = { 255, 255, 255, 255, 0, 0, 0, 0 };
    const unsigned word[1] = { 1023u | 0u << 10 | 1023u << 20 | 3u << 30 };
    float c[LANES][4], got[LANES][4];
    sampling how = plain(CLAMP, 0, 0);
    unsigned long long t;
    void *array;
    int k;
    begin();
    memset(c, 0, sizeof c);
    give(c);
    for (k = 0; k < 2; k++) {
        array = blocks_of(1, BC1, 4, k ? white : black, 8);
        t = texture_of(array, &how);
        CHECK_EQ(run("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];", t), 0);
        take(got);
        CHECK(got[0][0] == (float)k && got[0][1] == (float)k && got[0][2] == (float)k);
        CHECK(got[0][3] == 1);
        CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
        CHECK_EQ(cu.cuArrayDestroy(array), 0);
    }
    if (gpuexec_driver_version() < 12080) SKIP("CUDA 12.8 and later have the packed format");
    array = array_of(1, 0, 0, PACKED, 4, 0, word, 4);
    t = texture_of(array, &how);
    CHECK_EQ(run("tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];", t), 0);
    take(got);
    CHECK(got[0][0] == 1 && got[0][1] == 0 && got[0][2] == 1 && got[0][3] == 1);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* Offsets of texels; surfaces with layers and of three dimensions. */
TEST(offsets_and_layers) {
    float texels[32], c[LANES][4], got[LANES][4];
    unsigned words[LANES][4], back[LANES][4];
    sampling how = plain(CLAMP, 0, 0);
    unsigned long long t;
    void *array;
    int l;
    begin();
    for (l = 0; l < 32; l++) texels[l] = (float)l;
    array = array_of(8, 4, 0, FLOAT, 1, 0, texels, 4);
    t = texture_of(array, &how);
    memset(c, 0, sizeof c);
    for (l = 0; l < LANES; l++) {
        c[l][0] = (float)(l % 8) + 0.5f;
        c[l][1] = (float)(l / 8) + 0.5f;
    }
    give(c);
    CHECK_EQ(run("mov.b32 %d0, 1; mov.b32 %d1, -1;\n"
                 "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}], {%d0, %d1};",
                     t),
            0);
    take(got);
    for (l = 0; l < LANES; l++)
        CHECK(got[l][0] ==
                texels[8 * select_texel(CLAMP, l / 8 - 1, 4) + select_texel(CLAMP, l % 8 + 1, 8)]);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    memset(words, 0, sizeof words);
    for (l = 0; l < LANES; l++) { /* 4 x 2 x 4 texels */
        words[l][0] = (unsigned)(l % 4 * 4);
        words[l][1] = (unsigned)(l / 4 % 2);
        words[l][2] = (unsigned)(l / 8);
        words[l][3] = (unsigned)(l + 500);
    }
    give(words);
    array = array_of(4, 2, 4, U32, 1, SURFACE, texels, 4);
    t = surface_of(array);
    CHECK_EQ(run("sust.b.3d.b32.trap [%t, {%c0, %c1, %c2, %c2}], %c3;\n"
                 "suld.b.3d.b32.trap %d0, [%t, {%c0, %c1, %c2, %c2}];",
                     t),
            0);
    take(back);
    for (l = 0; l < LANES; l++) CHECK_EQ(back[l][0], l + 500);
    CHECK_EQ(cu.cuSurfObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    array = array_of(4, 2, 4, U32, 1, SURFACE | LAYERED, texels, 4);
    t = surface_of(array);
    CHECK_EQ(run("sust.b.a2d.b32.trap [%t, {%c2, %c0, %c1, %c1}], %c3;\n"
                 "suld.b.a2d.b32.trap %d0, [%t, {%c2, %c0, %c1, %c1}];",
                     t),
            0);
    take(back);
    for (l = 0; l < LANES; l++) CHECK_EQ(back[l][0], l + 500);
    CHECK_EQ(cu.cuSurfObjectDestroy(t), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end();
}

/* A handle of no object, and a trap, stop the kernel. */
TEST_ALONE(no_object) {
    unsigned c[LANES][4];
    if (!on_cpu_device()) SKIP("a GPU reads zeros for some numbers");
    begin();
    memset(c, 0, sizeof c);
    give(c);
    CHECK_EQ(run("tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];", 0x12345), 700);
}
TEST_ALONE(trap_outside) {
    unsigned c[LANES][4], texels[4] = { 0, 0, 0, 0 };
    begin();
    memset(c, 0x7f, sizeof c);
    give(c);
    CHECK_EQ(run("and.b32 %c0, %c0, -4; suld.b.1d.b32.trap %d0, [%t, {%c0}];",
                     surface_of(array_of(4, 0, 0, U32, 1, SURFACE, texels, 4))),
            700);
}
