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
    gpuexec_array mipmapped, wide;
    gpuexec_texture_desc d;
    many.levels = 3;
    mipmapped = gpuexec_array_create(s.ctx, &many);
    many = floats(8, 8);
    many.format = GPUEXEC_FORMAT_U32;
    many.surface = 0;
    wide = gpuexec_array_create(s.ctx, &many);
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
    REFUSED(IN_MEMORY(d.filter = GPUEXEC_FILTER_LINEAR), "fetched by index");
    REFUSED(IN_MEMORY(d.pitch_bytes = 32), "height is 0");
    REFUSED(IN_MEMORY(d.height = 2; d.pitch_bytes = 16), "less than the 32 bytes of a row");
    REFUSED(IN_MEMORY(d.height = 2; d.pitch_bytes = 36), "TEXTURE_PITCH_ALIGNMENT");
    REFUSED(IN_MEMORY(d.first_level = 1), "only arrays have views");
    CHECK_NOT_MADE(gpuexec_surface_create(wide, 0), GPUEXEC_BAD_ARGUMENT, "not for surfaces");
    CHECK_NOT_MADE(gpuexec_surface_create(s.array, 1), GPUEXEC_BAD_ARGUMENT, "level is 1");
    end(&s);
}

/* NVIDIA's sample simpleTextureDrv: a kernel turns an image of 512 x 512 floats by half a radian,
   through a texture with normalized coordinates that wraps and filters. out[x + width * y] is the
   texture at (x, y), turned around the center; with the texture as an argument, and with a
   reference of the module. */
#define TURN(texture) \
    "ld.param.u64 %d2, [out]; ld.param.u32 %r1, [size];\n" \
    "ld.param.f32 %f1, [cosine]; ld.param.f32 %f2, [sine];\n" \
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n" \
    "mad.lo.u32 %r5, %r2, %r3, %r4;\n" \
    "mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ntid.y; mov.u32 %r4, %tid.y;\n" \
    "mad.lo.u32 %r6, %r2, %r3, %r4;\n" \
    "cvt.rn.f32.u32 %f3, %r1; mul.rn.f32 %f4, %f3, 0f3F000000;\n" \
    "cvt.rn.f32.u32 %f5, %r5; sub.rn.f32 %f5, %f5, %f4;\n" \
    "cvt.rn.f32.u32 %f6, %r6; sub.rn.f32 %f6, %f6, %f4;\n" \
    "mul.rn.f32 %f7, %f5, %f1; mul.rn.f32 %f8, %f6, %f2; sub.rn.f32 %f7, %f7, %f8;\n" \
    "mul.rn.f32 %f8, %f6, %f1; mul.rn.f32 %f9, %f5, %f2; add.rn.f32 %f8, %f8, %f9;\n" \
    "div.rn.f32 %f7, %f7, %f3; add.rn.f32 %f7, %f7, 0f3F000000;\n" \
    "div.rn.f32 %f8, %f8, %f3; add.rn.f32 %f8, %f8, 0f3F000000;\n" \
    "tex.2d.v4.f32.f32 {%f10, %f11, %f12, %f13}, [" texture ", {%f7, %f8}];\n" \
    "mad.lo.u32 %r7, %r6, %r1, %r5; mul.wide.u32 %d3, %r7, 4; add.u64 %d2, %d2, %d3;\n" \
    "st.global.f32 [%d2], %f10; ret;\n}\n"
static const char turning_ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.global .texref image;\n"
        ".visible .entry turn(.param .u64 out, .param .u32 size, .param .f32 cosine,\n"
        ".param .f32 sine, .param .u64 object)\n{\n"
        ".reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<14>;\n"
        "ld.param.u64 %d1, [object];\n" TURN(
                "%d1") ".visible .entry turn_reference(.param .u64 out, .param .u32 size, .param "
                       ".f32 cosine,\n"
                       ".param .f32 sine)\n{\n"
                       ".reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<14>;\n" TURN("image");

enum { IMAGE = 512 };
static float image[IMAGE][IMAGE], turned[IMAGE][IMAGE];
static const float cosine = 0.87758256f, sine = 0.47942554f; /* of 0.5 */

/* What a texture that wraps and filters reads at (x, y), in elements. */
static double filtered(double x, double y) {
    const int left = (int)(x - 0.5 + IMAGE) - IMAGE, top = (int)(y - 0.5 + IMAGE) - IMAGE;
    const int x0 = left & (IMAGE - 1), x1 = (left + 1) & (IMAGE - 1);
    const float *row0 = image[top & (IMAGE - 1)], *row1 = image[(top + 1) & (IMAGE - 1)];
    const double right = x - 0.5 - left, bottom = y - 0.5 - top;
    return (1 - bottom) * ((1 - right) * (double)row0[x0] + right * (double)row0[x1]) +
            bottom * ((1 - right) * (double)row1[x0] + right * (double)row1[x1]);
}
/* The pixels that differ from the host's by more than the sample allows. */
static int count_wrong(void) {
    int x, y, wrong = 0;
    for (y = 0; y < IMAGE; y++)
        for (x = 0; x < IMAGE; x++) {
            const double u = x - IMAGE / 2, v = y - IMAGE / 2;
            const double wanted = filtered(u * (double)cosine - v * (double)sine + IMAGE / 2,
                    v * (double)cosine + u * (double)sine + IMAGE / 2);
            const double apart = (double)turned[y][x] - wanted;
            wrong += !(apart < 15e-3 && apart > -15e-3);
        }
    return wrong;
}
TEST(turns_an_image) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load(ctx, turning_ptx, 0, NULL);
    gpuexec_kernel turn = gpuexec_kernel_get(mod, "turn");
    gpuexec_kernel turn_reference = gpuexec_kernel_get(mod, "turn_reference");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, sizeof turned);
    gpuexec_dims dims = gpuexec_grid_for_2d(IMAGE, IMAGE, 8, 8);
    gpuexec_array_desc shape = floats(IMAGE, IMAGE);
    gpuexec_array array = gpuexec_array_create(ctx, &shape);
    gpuexec_texture_desc desc;
    gpuexec_texture texture;
    gpuexec_copy_desc copy;
    unsigned long long object;
    int x, y, size = IMAGE;
    for (y = 0; y < IMAGE; y++) /* squares with edges, and slopes within them */
        for (x = 0; x < IMAGE; x++)
            image[y][x] = (float)((x ^ y) & 64 ? x : IMAGE - 1 - y) / (IMAGE - 1);
    memset(&copy, 0, sizeof copy);
    copy.to.array = array;
    copy.from.host = image;
    copy.width_bytes = sizeof image[0];
    copy.height = IMAGE;
    CHECK_OK(gpuexec_copy_with(s, &copy));
    memset(&desc, 0, sizeof desc);
    desc.array = array;
    desc.address[0] = desc.address[1] = GPUEXEC_ADDRESS_WRAP;
    desc.filter = GPUEXEC_FILTER_LINEAR;
    desc.normalized = 1;
    texture = gpuexec_texture_create(ctx, &desc);
    CHECK_MADE(texture);
    object = gpuexec_texture_object(texture);

    CHECK_OK(gpuexec_launch(turn, s, dims, GPUEXEC_ARGS(out, size, cosine, sine, object)));
    CHECK_OK(gpuexec_copy_out(s, turned, out, sizeof turned));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(count_wrong(), 0);

    CHECK_OK(gpuexec_fill(s, out, 0xFFFFFFFF, 4, sizeof turned / 4));
    CHECK_OK(gpuexec_texture_bind(texture, mod, "image"));
    CHECK_OK(gpuexec_launch(turn_reference, s, dims, GPUEXEC_ARGS(out, size, cosine, sine)));
    CHECK_OK(gpuexec_copy_out(s, turned, out, sizeof turned));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(count_wrong(), 0);

    CHECK_OK(gpuexec_texture_destroy(texture));
    CHECK_OK(gpuexec_array_destroy(array));
    CHECK_OK(gpuexec_context_close(ctx));
}
