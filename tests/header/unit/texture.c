/* texture.c - textures and surfaces: what kernels read and write through them, their descs, their
   ends, references of modules. */
#include "../../test.h"

static const char ptx[] =
        ".version 7.1\n.target sm_70\n.address_size 64\n"
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
        "shl.b32 %r4, %r1, 2; sust.b.2d.b32.trap [%d1, {%r4, %r2}], {%r3}; ret;\n}\n"
        /* as sample, with objects.texture; never the rest */
        ".visible .entry members(.param .align 8 .b8 objects[32], .param .u64 out)\n{\n"
        ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<9>; .reg .f32 %f<8>;\n"
        "ld.param.u64 %d1, [objects+8]; ld.param.u64 %d2, [out];\n"
        "ld.param.v2.u64 {%d4, %d5}, [objects+16]; mov.u64 %d6, %d5; mov.b64 %d7, %d1;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; setp.ne.u64 %p, %d2, 0;\n"
        "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2;\n"
        "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d7, {%f1, %f2}];\n"
        "mad.lo.u32 %r3, %r2, 8, %r1; mul.wide.u32 %d3, %r3, 4; add.u64 %d2, %d2, %d3;\n"
        "st.global.f32 [%d2], %f3; @%p bra done;\n"
        "sust.b.2d.b32.trap [%d6, {%r1, %r2}], {%r3};\n"
        /* set twice: not known */
        "@%p mov.u64 %d4, %d1; sust.b.2d.b32.trap [%d4, {%r1, %r2}], {%r3};\n"
        "done: ret;\n}\n";

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
    REFUSED(d.width = 8, "array and width are both set");
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

/* --- arguments -------------------------------------------------------------------------------- */

typedef struct objects {
    gpuexec_texture texture;
    gpuexec_surface surface;
    unsigned long long t, s;
} objects;
static objects objects_of(scene *s) {
    gpuexec_texture_desc d;
    objects o;
    memset(&d, 0, sizeof d);
    d.array = s->array;
    o.texture = gpuexec_texture_create(s->ctx, &d);
    o.surface = gpuexec_surface_create(s->array, 0);
    o.t = gpuexec_texture_object(o.texture);
    o.s = gpuexec_surface_object(o.surface);
    CHECK_MADE(o.texture);
    CHECK_MADE(o.surface);
    return o;
}
static gpuexec_dims block(void) { return gpuexec_grid_for_2d(8, 8, 8, 8); }

TEST(arguments_of_another_kind) {
    scene s = begin();
    const objects o = objects_of(&s);
    const gpuexec_kernel sample = gpuexec_kernel_get(s.mod, "sample"),
                         paint = gpuexec_kernel_get(s.mod, "paint");
    unsigned long long none = 0;
    gpuexec_ptr inside = s.out + 16;
    gpuexec_params params = gpuexec_params_create();
    int i;
    for (i = 0; i < 2; i++) { /* after launches that fit, too */
        CHECK_REFUSED(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(o.s, s.out)),
                GPUEXEC_BAD_PARAMETERS, "argument 0 (counted from 0) of kernel \"sample\"",
                "is the surface created at ", "texture.c:", "uses it as a texture",
                "pass gpuexec_texture_object");
        CHECK_REFUSED(gpuexec_launch(paint, s.stream, block(), GPUEXEC_ARGS(o.t)),
                GPUEXEC_BAD_PARAMETERS, "kernel \"paint\"", "is the texture created at ",
                "uses it as a surface", "pass gpuexec_surface_object");
        CHECK_REFUSED(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(o.texture, s.out)),
                GPUEXEC_BAD_PARAMETERS, "is the handle of the texture created at ",
                "texture.c:", "pass gpuexec_texture_object");
        CHECK_REFUSED(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(inside, s.out)),
                GPUEXEC_BAD_PARAMETERS, "is an address in the 256 bytes of device memory",
                "allocated at ", "uses it as a texture");
        check_read(&s, "sample", &o.t);
        CHECK_OK(gpuexec_launch(paint, s.stream, block(), GPUEXEC_ARGS(o.s)));
        CHECK_OK(gpuexec_context_sync(s.ctx));
        fill(&s);
    }
    /* arguments with types */
    CHECK_OK(gpuexec_params_add(params, GPUEXEC_SURFACE, &o.s));
    CHECK_OK(gpuexec_params_add(params, GPUEXEC_POINTER, &s.out));
    CHECK_REFUSED(gpuexec_launch(sample, s.stream, block(), gpuexec_params_args(params)),
            GPUEXEC_BAD_PARAMETERS, "is the surface");
    /* without an object */
    CHECK_OK(gpuexec_launch(sample, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(o.t, s.out)));
    CHECK_NOT_MADE(gpuexec_prepare(sample, s.stream, block(), GPUEXEC_ARGS(o.s, s.out)),
            GPUEXEC_BAD_PARAMETERS, "is the surface");
    CHECK_MADE(gpuexec_prepare(sample, s.stream, block(), GPUEXEC_ARGS(none, s.out)));
    CHECK_OK(gpuexec_params_destroy(params));
    end(&s);
}
TEST(arguments_in_structs) {
    scene s = begin();
    const objects o = objects_of(&s);
    const gpuexec_kernel k = gpuexec_kernel_get(s.mod, "members");
    struct {
        unsigned long long rest, texture, twice, surface;
    } in = { 0, 0, 0, 0 };
    in.rest = in.twice = o.s; /* which is not known to be anything */
    in.texture = o.t;
    in.surface = o.s;
    CHECK_OK(gpuexec_launch(k, s.stream, block(), GPUEXEC_ARGS(in, s.out)));
    in.twice = o.t;
    CHECK_OK(gpuexec_launch(k, s.stream, block(), GPUEXEC_ARGS(in, s.out)));
    in.surface = o.t;
    CHECK_REFUSED(gpuexec_launch(k, s.stream, block(), GPUEXEC_ARGS(in, s.out)),
            GPUEXEC_BAD_PARAMETERS, "kernel \"members\"", "at byte 24", "as a surface");
    in.surface = 0;
    in.texture = o.s;
    CHECK_REFUSED(gpuexec_launch(k, s.stream, block(), GPUEXEC_ARGS(in, s.out)),
            GPUEXEC_BAD_PARAMETERS, "at byte 8", "as a texture");
    CHECK_OK(gpuexec_stream_sync(s.stream));
    end(&s);
}
TEST(arguments_that_were_destroyed) {
    scene s = begin();
    objects o = objects_of(&s);
    const gpuexec_kernel sample = gpuexec_kernel_get(s.mod, "sample"),
                         paint = gpuexec_kernel_get(s.mod, "paint");
    gpuexec_prepared prepared;
    unsigned long long *place;
    check_read(&s, "sample", &o.t);
    prepared = gpuexec_prepare(sample, s.stream, block(), GPUEXEC_ARGS(o.t, s.out));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_texture_destroy(o.texture));
    CHECK_REFUSED(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(o.t, s.out)),
            GPUEXEC_STALE_HANDLE, "argument 0", "kernel \"sample\"", "object of a texture",
            "destroyed by gpuexec_texture_destroy at ", "it was created at ", "texture.c:");
    CHECK_CURE();
    CHECK_REFUSED(
            gpuexec_launch_prepared(prepared), GPUEXEC_STALE_HANDLE, "gpuexec_texture_destroy");
    CHECK_REFUSED(gpuexec_launch_cooperative(sample, s.stream, block(), GPUEXEC_ARGS(o.t, s.out)),
            GPUEXEC_STALE_HANDLE, "gpuexec_texture_destroy");
    CHECK_OK(gpuexec_surface_destroy(o.surface));
    CHECK_REFUSED(gpuexec_launch(paint, s.stream, block(), GPUEXEC_ARGS(o.s)), GPUEXEC_STALE_HANDLE,
            "object of a surface", "gpuexec_surface_destroy");
    o = objects_of(&s); /* another number, or the same one again */
    place = (unsigned long long *)gpuexec_prepared_argument(prepared, 0, sizeof o.t);
    *place = o.t;
    CHECK_OK(gpuexec_launch_prepared(prepared));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    *place = o.s;
    CHECK_REFUSED(gpuexec_launch_prepared(prepared), GPUEXEC_BAD_PARAMETERS, "is the surface");
    CHECK_OK(gpuexec_prepared_set(prepared, 0, &o.t, sizeof o.t));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    end(&s);
}
/* What the program creates itself is allowed, also with the number of a destroyed texture. */
TEST(arguments_that_the_program_created) {
    scene s = begin();
    objects o = objects_of(&s);
    struct {
        int type;
        struct CUarray_st *array;
        char rest[128];
    } resource;
    struct {
        int address[3], filter;
        char rest[96];
    } how;
    unsigned long long own[8] = { 0 };
    int (*make)(unsigned long long *, const void *, const void *, const void *);
    int (*destroy)(unsigned long long);
    void *symbol = gpuexec_driver_symbol("cuTexObjectCreate", 5000);
    int i;
    memcpy(&make, &symbol, sizeof symbol);
    symbol = gpuexec_driver_symbol("cuTexObjectDestroy", 5000);
    memcpy(&destroy, &symbol, sizeof symbol);
    memset(&resource, 0, sizeof resource);
    memset(&how, 0, sizeof how);
    resource.array = gpuexec_array_native(s.array, 0);
    how.address[0] = how.address[1] = how.address[2] = 1;
    CHECK_OK(gpuexec_context_push(s.ctx));
    CHECK_OK(gpuexec_texture_destroy(o.texture));
    for (i = 0; i < 8; i++) {
        CHECK_EQ(make(&own[i], &resource, &how, NULL), 0);
        check_read(&s, "sample", &own[i]);
    }
    for (i = 0; i < 8; i++) CHECK_EQ(destroy(own[i]), 0);
    CHECK_OK(gpuexec_context_pop(s.ctx));
    end(&s);
}
TEST(arguments_of_another_context) {
    scene s = begin();
    gpuexec_context other = gpuexec_context_create(0, NULL);
    const objects o = objects_of(&s);
    gpuexec_module mod = gpuexec_module_load(other, ptx, 0, NULL);
    gpuexec_stream stream = gpuexec_stream_create(other, NULL);
    gpuexec_ptr out = gpuexec_alloc(other, 256);
    CHECK_REFUSED(gpuexec_launch(gpuexec_kernel_get(mod, "sample"), stream, block(),
                          GPUEXEC_ARGS(o.t, out)),
            GPUEXEC_WRONG_CONTEXT, "is the texture created at ", "in another context",
            "create it in the kernel's context");
    CHECK_OK(gpuexec_context_close(other));
    end(&s);
}
TEST(memory_of_a_texture_was_freed) {
    scene s = begin();
    gpuexec_texture_desc d;
    gpuexec_texture t;
    gpuexec_ptr memory;
    unsigned long long object;
    const gpuexec_kernel sample = gpuexec_kernel_get(s.mod, "sample");
    gpuexec_graph graph;
    size_t pitch;
    memset(&d, 0, sizeof d);
    memory = d.memory = gpuexec_alloc_pitched(s.ctx, 32, 8, 4, &pitch);
    d.format = GPUEXEC_FORMAT_F32;
    d.width = d.height = 8;
    d.pitch_bytes = pitch;
    CHECK_OK(gpuexec_context_sync(s.ctx));
    t = gpuexec_texture_create(s.ctx, &d);
    object = gpuexec_texture_object(t);
    CHECK_OK(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(object, s.out)));
    CHECK_OK(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(object, s.out)));
    graph = gpuexec_graph_create(s.ctx);
    CHECK_MADE(gpuexec_graph_add_kernel(
            graph, sample, block(), GPUEXEC_ARGS(object, s.out), GPUEXEC_FIRST)
                       .graph);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_free(memory));
    CHECK_REFUSED(gpuexec_launch(sample, s.stream, block(), GPUEXEC_ARGS(object, s.out)),
            GPUEXEC_STALE_HANDLE, "kernel \"sample\"", "is the texture created at ",
            "has since been freed", "freed at ", "texture.c:");
    CHECK_CURE();
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE, "freed at ");
    CHECK_OK(gpuexec_texture_destroy(t));
    end(&s);
}

/* --- graphs ----------------------------------------------------------------------------------- */

/* Kernel nodes, built by hand or captured, that read a texture or write a surface. */
static gpuexec_graph graph_of(scene *s, const objects *o, int captured, int retains) {
    gpuexec_capture_desc desc = { 0, GPUEXEC_CAPTURE_THREAD_LOCAL, 0, 0 };
    const gpuexec_kernel sample = gpuexec_kernel_get(s->mod, "sample"),
                         paint = gpuexec_kernel_get(s->mod, "paint");
    gpuexec_graph graph;
    gpuexec_node node;
    desc.retain = retains;
    if (captured) {
        CHECK_OK(gpuexec_capture_begin(s->stream, &desc));
        CHECK_OK(gpuexec_launch(sample, s->stream, block(), GPUEXEC_ARGS(o->t, s->out)));
        CHECK_OK(gpuexec_launch(paint, s->stream, block(), GPUEXEC_ARGS(o->s)));
        graph = gpuexec_capture_end(s->stream);
    } else {
        graph = gpuexec_graph_create(s->ctx);
        if (retains) CHECK_OK(gpuexec_graph_retain(graph));
        node = gpuexec_graph_add_kernel(
                graph, sample, block(), GPUEXEC_ARGS(o->t, s->out), GPUEXEC_FIRST);
        node = gpuexec_graph_add_kernel(
                graph, paint, block(), GPUEXEC_ARGS(o->s), GPUEXEC_AFTER(node));
        CHECK_MADE(node.graph);
    }
    CHECK_MADE(graph);
    return graph;
}
TEST(graphs_lose_what_is_destroyed) {
    scene s = begin();
    int captured, surface;
    for (captured = 0; captured < 2; captured++)
        for (surface = 0; surface < 2; surface++) {
            const objects o = objects_of(&s);
            const gpuexec_graph graph = graph_of(&s, &o, captured, 0);
            CHECK_OK(gpuexec_graph_launch(graph, s.stream));
            CHECK_OK(gpuexec_stream_sync(s.stream));
            if (surface) CHECK_OK(gpuexec_surface_destroy(o.surface));
            else CHECK_OK(gpuexec_texture_destroy(o.texture));
            CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
                    surface ? "uses a surface" : "uses a texture", "destroyed at ", "texture.c:");
            CHECK_OK(gpuexec_graph_destroy(graph));
        }
    end(&s);
}
TEST(graphs_retain_what_is_destroyed) {
    scene s = begin();
    int captured, i;
    for (captured = 0; captured < 2; captured++) {
        const objects o = objects_of(&s);
        const gpuexec_graph graph = graph_of(&s, &o, captured, 1);
        gpuexec_graph_info info;
        CHECK_OK(gpuexec_texture_destroy(o.texture));
        CHECK_OK(gpuexec_surface_destroy(o.surface));
        if (captured) CHECK_OK(gpuexec_array_destroy(s.array));
        CHECK_OK(gpuexec_graph_get_info(graph, &info));
        CHECK_EQ(info.retained, 2);
        for (i = 0; i < 2; i++) CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_OK(gpuexec_graph_destroy(graph));
    }
    end(&s);
}
/* A context may be closed before the graph that retains its textures. */
TEST(graphs_that_retain_end_with_their_context) {
    scene s = begin();
    const objects o = objects_of(&s);
    CHECK_MADE(graph_of(&s, &o, 0, 1));
    CHECK_OK(gpuexec_texture_destroy(o.texture));
    end(&s);
}
TEST(nodes_and_batches_check_their_arguments) {
    scene s = begin();
    const objects o = objects_of(&s);
    const gpuexec_graph graph = graph_of(&s, &o, 0, 0);
    const gpuexec_kernel sample = gpuexec_kernel_get(s.mod, "sample");
    const gpuexec_ptr other = gpuexec_alloc(s.ctx, 256); /* nothing orders the graph's two nodes */
    const gpuexec_node node = gpuexec_graph_add_kernel(
            graph, sample, block(), GPUEXEC_ARGS(o.t, other), GPUEXEC_FIRST);
    const gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    CHECK_MADE(node.graph);
    CHECK_NOT_MADE(gpuexec_graph_add_kernel(
                           graph, sample, block(), GPUEXEC_ARGS(o.s, s.out), GPUEXEC_FIRST)
                           .graph,
            GPUEXEC_BAD_PARAMETERS, "is the surface");
    CHECK_REFUSED(gpuexec_node_set_args(node, GPUEXEC_ARGS(o.s, s.out)), GPUEXEC_BAD_PARAMETERS,
            "is the surface");
    CHECK_REFUSED(gpuexec_node_set_argument(node, 0, &o.s, sizeof o.s), GPUEXEC_BAD_PARAMETERS,
            "is the surface");
    CHECK_OK(gpuexec_node_set_argument(node, 0, &o.t, sizeof o.t));
    CHECK_OK(gpuexec_node_set_args(node, GPUEXEC_ARGS(o.t, other)));
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_EQ(gpuexec_batch_add(batch, sample, block(), GPUEXEC_ARGS(o.t, s.out)), 0);
    CHECK_EQ(gpuexec_batch_add(batch, sample, block(), GPUEXEC_ARGS(o.s, s.out)), -1);
    CHECK_TEXT(gpuexec_error_text(), "is the surface");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_PARAMETERS);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_REFUSED(gpuexec_batch_set(batch, 0, 0, &o.s, sizeof o.s), GPUEXEC_BAD_PARAMETERS,
            "launch 0 of the batch", "is the surface");
    CHECK_OK(gpuexec_batch_launch(batch, s.stream)); /* its argument has not changed */
    CHECK_OK(gpuexec_batch_set(batch, 0, 0, &o.t, sizeof o.t));
    CHECK_OK(gpuexec_batch_set(batch, 0, 1, &other, sizeof other));
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_OK(gpuexec_texture_destroy(o.texture));
    CHECK_REFUSED(gpuexec_batch_launch(batch, s.stream), GPUEXEC_STALE_HANDLE,
            "launch 0 of the batch", "does not exist any more");
    CHECK_OK(gpuexec_free(other));
    end(&s);
}
/* The memory that a texture of a batch reads was freed. */
TEST(batches_check_the_memory_of_textures) {
    scene s = begin();
    gpuexec_texture_desc d = { .format = GPUEXEC_FORMAT_F32, .width = 8, .height = 8 };
    const gpuexec_kernel sample = gpuexec_kernel_get(s.mod, "sample");
    const gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    unsigned long long object;
    gpuexec_texture texture;
    d.memory = gpuexec_alloc_pitched(s.ctx, 32, 8, 4, &d.pitch_bytes);
    texture = gpuexec_texture_create(s.ctx, &d);
    object = gpuexec_texture_object(texture);
    CHECK_EQ(gpuexec_batch_add(batch, sample, block(), GPUEXEC_ARGS(object, s.out)), 0);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_free(d.memory));
    CHECK_REFUSED(gpuexec_batch_launch(batch, s.stream), GPUEXEC_STALE_HANDLE,
            "launch 0 of the batch", "whose memory at", "has since been freed");
    CHECK_OK(gpuexec_texture_destroy(texture));
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
