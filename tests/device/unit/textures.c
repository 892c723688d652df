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
