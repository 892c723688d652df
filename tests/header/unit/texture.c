/* texture.c - textures and surfaces: what kernels read and write through them, their descs, their
   ends, references of modules. */
#include "../../test.h"

static const char ptx[] =
        ".version 7.5\n.target sm_70\n.address_size 64\n"
        ".global .texref t;\n.global .surfref r;\n"
        /* out[x + 8 y] = texture(x + 0.5, y + 0.5) */
        ".visible .entry sample(.param .u64 object, .param .u64 out)\n{\n"
        ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<8>;\n"
        "ld.param.u64 %d1, [object]; ld.param.u64 %d2, [out];\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
        "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2;\n"
        "add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000;\n"
        "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];\n"
        "mad.lo.u32 %r3, %r2, 8, %r1; mul.wide.u32 %d3, %r3, 4; add.u64 %d2, %d2, %d3;\n"
        "st.global.f32 [%d2], %f3; ret;\n}\n"
        ".visible .entry sample_t(.param .u64 out)\n{\n"
        ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<8>;\n"
        "ld.param.u64 %d2, [out];\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
        "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2;\n"
        "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f2}];\n"
        "mad.lo.u32 %r3, %r2, 8, %r1; mul.wide.u32 %d3, %r3, 4; add.u64 %d2, %d2, %d3;\n"
        "st.global.f32 [%d2], %f3; ret;\n}\n"
        /* surface(x, y) = x + 8 y */
        ".visible .entry paint(.param .u64 object)\n{\n"
        ".reg .b32 %r<6>; .reg .b64 %d<2>;\n"
        "ld.param.u64 %d1, [object];\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mad.lo.u32 %r3, %r2, 8, %r1;\n"
        "shl.b32 %r4, %r1, 2; sust.b.2d.b32.trap [%d1, {%r4, %r2}], {%r3}; ret;\n}\n";

typedef struct scene {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream stream;
    gpuexec_array array;
    gpuexec_ptr out;
    float in[8][8], result[8][8];
} scene;
static gpuexec_array_desc floats(size_t width, size_t height) {
    gpuexec_array_desc d;
    memset(&d, 0, sizeof d);
    d.format = GPUEXEC_FORMAT_F32;
    d.width = width;
    d.height = height;
    d.surface = 1;
    return d;
}
static void fill(scene *s) {
    gpuexec_copy_desc c;
    int i;
    for (i = 0; i < 64; i++) s->in[i / 8][i % 8] = (float)(i * i);
    memset(&c, 0, sizeof c);
    c.to.array = s->array;
    c.from.host = s->in;
    c.width_bytes = sizeof s->in[0];
    c.height = 8;
    CHECK_OK(gpuexec_copy_with(s->stream, &c));
}
static scene begin(void) {
    gpuexec_array_desc d = floats(8, 8);
    scene s;
    memset(&s, 0, sizeof s);
    s.ctx = gpuexec_context_open(0, NULL);
    s.mod = gpuexec_module_load(s.ctx, ptx, 0, NULL);
    s.stream = gpuexec_stream_create(s.ctx, NULL);
    s.array = gpuexec_array_create(s.ctx, &d);
    s.out = gpuexec_alloc(s.ctx, sizeof s.result);
    CHECK_MADE(s.mod);
    CHECK_MADE(s.array);
    fill(&s);
    return s;
}
static void end(scene *s) { CHECK_OK(gpuexec_context_close(s->ctx)); }
/* What a kernel reads must be what is in the array. */
static void check_read(scene *s, const char *kernel, const unsigned long long *object) {
    const gpuexec_dims dims = gpuexec_grid_for_2d(8, 8, 8, 8);
    const gpuexec_kernel k = gpuexec_kernel_get(s->mod, kernel);
    CHECK_OK(gpuexec_fill(s->stream, s->out, 0, 4, 64));
    if (object) CHECK_OK(gpuexec_launch(k, s->stream, dims, GPUEXEC_ARGS(*object, s->out)));
    else CHECK_OK(gpuexec_launch(k, s->stream, dims, GPUEXEC_ARGS(s->out)));
    CHECK_OK(gpuexec_copy_out(s->stream, s->result, s->out, sizeof s->result));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    CHECK(!memcmp(s->in, s->result, sizeof s->in));
}

TEST(reads_an_array) {
    scene s = begin();
    gpuexec_texture_desc d, got;
    gpuexec_texture t;
    unsigned long long object;
    memset(&d, 0, sizeof d);
    d.array = s.array;
    t = gpuexec_texture_create(s.ctx, &d);
    CHECK_MADE(t);
    object = gpuexec_texture_object(t);
    CHECK(object != 0);
    check_read(&s, "sample", &object);
    CHECK_OK(gpuexec_texture_get_desc(t, &got));
    CHECK_EQ(got.view_format, GPUEXEC_FORMAT_F32);
    CHECK_EQ(got.levels, 1);
    CHECK_OK(gpuexec_array_destroy(s.array)); /* it remains */
    check_read(&s, "sample", &object);
    CHECK_OK(gpuexec_texture_destroy(t));
    end(&s);
}
TEST(reads_memory) {
    scene s = begin();
    gpuexec_texture_desc d;
    gpuexec_texture t;
    gpuexec_copy_desc c;
    unsigned long long object;
    size_t pitch;
    memset(&d, 0, sizeof d);
    d.memory = gpuexec_alloc_pitched(s.ctx, 32, 8, 4, &pitch);
    d.format = GPUEXEC_FORMAT_F32;
    d.width = d.height = 8;
    d.pitch_bytes = pitch;
    memset(&c, 0, sizeof c);
    c.to.device = d.memory;
    c.to.pitch = pitch;
    c.from.host = s.in;
    c.width_bytes = 32;
    c.height = 8;
    CHECK_OK(gpuexec_copy_with(s.stream, &c));
    t = gpuexec_texture_create(s.ctx, &d);
    CHECK_MADE(t);
    object = gpuexec_texture_object(t);
    check_read(&s, "sample", &object);
    end(&s);
}
TEST(writes_an_array) {
    scene s = begin();
    gpuexec_surface surface = gpuexec_surface_create(s.array, 0);
    gpuexec_copy_desc c;
    uint32_t words[64];
    unsigned long long object = gpuexec_surface_object(surface);
    int i, wrong = 0;
    CHECK_MADE(surface);
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(s.mod, "paint"), s.stream,
            gpuexec_grid_for_2d(8, 8, 8, 8), GPUEXEC_ARGS(object)));
    memset(&c, 0, sizeof c);
    c.to.host = words;
    c.from.array = s.array;
    c.width_bytes = 32;
    c.height = 8;
    CHECK_OK(gpuexec_copy_with(s.stream, &c));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < 64; i++) wrong += words[i] != (uint32_t)i;
    CHECK_EQ(wrong, 0);
    CHECK_OK(gpuexec_surface_destroy(surface));
    end(&s);
}
TEST(references) {
    scene s = begin();
    gpuexec_surface surface = gpuexec_surface_create(s.array, 0);
    gpuexec_texture_desc d;
    gpuexec_texture t;
    memset(&d, 0, sizeof d);
    d.array = s.array;
    t = gpuexec_texture_create(s.ctx, &d);
    CHECK_OK(gpuexec_texture_bind(t, s.mod, "t"));
    check_read(&s, "sample_t", NULL);
    CHECK_OK(gpuexec_surface_bind(surface, s.mod, "r"));
    CHECK_REFUSED(gpuexec_texture_bind(t, s.mod, "x"), GPUEXEC_NOT_FOUND, "no texture reference",
            "\"x\"");
    end(&s);
}
TEST(wrong_descs) {
    scene s = begin();
    gpuexec_array_desc many = floats(8, 8);
    gpuexec_array mipmapped, wide, colors, numbers, blocks;
    gpuexec_texture_desc d;
    many.levels = 3;
    mipmapped = gpuexec_array_create(s.ctx, &many);
    many = floats(8, 8);
    many.format = GPUEXEC_FORMAT_U32;
    many.surface = 0;
    wide = gpuexec_array_create(s.ctx, &many);
    many.format = GPUEXEC_FORMAT_BC7_SRGB;
    colors = gpuexec_array_create(s.ctx, &many);
    many.levels = 2;
    many.format = GPUEXEC_FORMAT_UNORM8;
    numbers = gpuexec_array_create(s.ctx, &many);
    many.format = GPUEXEC_FORMAT_BC1;
    blocks = gpuexec_array_create(s.ctx, &many);
#define REFUSED(change, ...) \
    do { \
        memset(&d, 0, sizeof d); \
        d.array = s.array; \
        change; \
        CHECK_NOT_MADE(gpuexec_texture_create(s.ctx, &d), GPUEXEC_BAD_ARGUMENT, __VA_ARGS__); \
    } while (0)
#define IN_MEMORY(change) \
    memset(&d.array, 0, sizeof d.array); \
    d.memory = s.out; \
    d.format = GPUEXEC_FORMAT_F32; \
    d.width = 8; \
    change
    CHECK_NOT_MADE(gpuexec_texture_create(s.ctx, NULL), GPUEXEC_BAD_ARGUMENT, "desc is NULL");
    REFUSED(d.memory = s.out, "both set");
    REFUSED(d.array.id = 0, "both 0");
    REFUSED(d.width = 8, "array is set, but so is width");
    REFUSED(d.address[1] = GPUEXEC_ADDRESS_WRAP, "address[1] is GPUEXEC_ADDRESS_WRAP");
    REFUSED(d.address[2] = (gpuexec_address_mode)7, "address[2] is 7");
    REFUSED(d.filter = (gpuexec_filter)2, "filter is 2");
    REFUSED(d.array = wide; d.filter = GPUEXEC_FILTER_LINEAR, "GPUEXEC_FORMAT_U32");
    REFUSED(d.read_integers = 1, "read_integers is 1", "F32");
    REFUSED(d.srgb = 1, "srgb is 1", "F32");
    REFUSED(d.array = colors, "srgb is 0", "BC7_SRGB");
    d.srgb = 1;
    CHECK_MADE(gpuexec_texture_create(s.ctx, &d));
    REFUSED(d.array = numbers; d.levels = 1; d.normalized = 1, "levels is 1", "UNORM8");
    REFUSED(d.array = blocks; d.first_level = 1; d.normalized = 1, "levels is 1", "BC1");
    d.first_level = 0;
    CHECK_MADE(gpuexec_texture_create(s.ctx, &d));
    REFUSED(d.array = mipmapped, "normalized is 0");
    REFUSED(d.seamless_cube = 1, "does not read a cube");
    REFUSED(d.max_anisotropy = 17, "max_anisotropy is 17");
    REFUSED(d.level_bias = 1, "level_bias is not 0");
    REFUSED(d.array = mipmapped; d.normalized = 1; d.min_level = 2;
            d.max_level = 1, "min_level is 2 and max_level is 1");
    REFUSED(d.array = mipmapped; d.first_level = 3, "first_level is 3", "3 levels");
    REFUSED(d.first_layer = 1, "first_layer is 1");
    REFUSED(d.view_channels = 2, "view_format is 0");
    REFUSED(d.view_format = GPUEXEC_FORMAT_F16, "2 bytes", "has 4");
    REFUSED(d.view_format = GPUEXEC_FORMAT_UNORM8; d.view_channels = 4, "UNORM8");
    REFUSED(IN_MEMORY(d.memory += 4), "TEXTURE_ALIGNMENT");
    REFUSED(IN_MEMORY(d.width = 0), "width is 0");
    REFUSED(IN_MEMORY(d.width = 65), "only 256 bytes remain", "260");
    REFUSED(IN_MEMORY(d.format = GPUEXEC_FORMAT_BC1), "BC1");
    REFUSED(IN_MEMORY(d.format = GPUEXEC_FORMAT_SNORM16), "SNORM16", "U8 to F32");
    REFUSED(IN_MEMORY(d.filter = GPUEXEC_FILTER_LINEAR), "fetched by index");
    REFUSED(IN_MEMORY(d.pitch_bytes = 32), "height is 0");
    REFUSED(IN_MEMORY(d.height = 2; d.pitch_bytes = 16), "less than the 32 bytes of a row");
    REFUSED(IN_MEMORY(d.height = 2; d.pitch_bytes = 36), "TEXTURE_PITCH_ALIGNMENT");
    REFUSED(IN_MEMORY(d.first_level = 1), "only arrays have views");
    CHECK_NOT_MADE(gpuexec_surface_create(wide, 0), GPUEXEC_BAD_ARGUMENT, "not for surfaces");
    CHECK_NOT_MADE(gpuexec_surface_create(s.array, 1), GPUEXEC_BAD_ARGUMENT, "level is 1");
    end(&s);
}
