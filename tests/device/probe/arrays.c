/* arrays.c - arrays, mipmapped arrays, texture and surface objects, and copies with arrays. */
#include "probe.h"

enum {
    U8 = 1,
    U16,
    U32,
    S8 = 8,
    S16,
    S32,
    HALF = 16,
    FLOAT = 32,
    PACKED = 0x50,
    BC1 = 0x91,
    BC4 = 0x97,
    BC6 = 0x9b,
    BC7 = 0x9d,
    P010 = 0x9f,
    YUY2 = 0xa5,
    NV12 = 0xb0,
    UNORM_8X1 = 0xc0,
    UNORM_8X4 = 0xc2
};
enum {
    LAYERED = 1,
    SURFACE = 2,
    CUBE = 4,
    GATHER = 8,
    DEPTH = 16,
    COLOR = 32,
    SPARSE = 64,
    DEFERRED = 128,
    VIDEO = 256
};
enum { INTEGERS = 1, NORMALIZED = 2, SRGB = 16, SHARP = 32, SEAMLESS = 64 };
enum { LINEAR = 1, BORDER = 3, ROW = 64, BYTES = 1 << 16 };

/* CUDA_ARRAY3D_DESCRIPTOR */
typedef struct shape {
    size_t width, height, depth;
    unsigned format, channels, flags;
} shape;
/* CUDA_ARRAY_DESCRIPTOR */
typedef struct flat_shape {
    size_t width, height;
    unsigned format, channels;
} flat_shape;
/* CUDA_RESOURCE_DESC */
typedef struct resource {
    unsigned type;
    union {
        void *array;
        struct {
            ptr address;
            unsigned format, channels;
            size_t width, height, pitch; /* width: of linear memory its bytes */
        } memory;
        int room[32];
    } of;
    unsigned flags;
} resource;
/* CUDA_TEXTURE_DESC */
typedef struct sampling {
    unsigned address[3], filter, flags, anisotropy, mipmap_filter;
    float bias, least, most, border[4];
    int room[12];
} sampling;
/* CUDA_RESOURCE_VIEW_DESC */
typedef struct view {
    unsigned format;
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer, room[16];
} view;

static shape shape_of(
        size_t width, size_t height, size_t depth, unsigned format, unsigned channels, int flags) {
    shape s = { width, height, depth, format, channels, (unsigned)flags };
    return s;
}
static void *created(shape s) {
    void *array = NULL;
    cu.cuArray3DCreate_v2(&array, &s);
    return array;
}
static void *mipmapped(shape s, unsigned levels) {
    void *array = NULL;
    cu.cuMipmappedArrayCreate(&array, &s, levels);
    return array;
}
/* and destroyed */
static int creates(
        size_t width, size_t height, size_t depth, unsigned format, unsigned channels, int flags) {
    const shape s = shape_of(width, height, depth, format, channels, flags);
    void *array = NULL;
    const int result = cu.cuArray3DCreate_v2(&array, &s);
    if (!result) cu.cuArrayDestroy(array);
    return result;
}
/* also how many levels it has */
static int creates_levels(shape s, unsigned levels) {
    void *array = NULL, *level = NULL;
    int n = 0, result = cu.cuMipmappedArrayCreate(&array, &s, levels);
    if (result) return result;
    while (n < 30 && !cu.cuMipmappedArrayGetLevel(&level, array, (unsigned)n)) n++;
    cu.cuMipmappedArrayDestroy(array);
    return 1000 + n;
}

static void arrays(void) {
    shape s = shape_of(16, 16, 0, FLOAT, 1, 0), got;
    void *array = NULL;
    size_t four[4];
    PROBE("create_without", creates(16, 16, 0, FLOAT, 1, 0));
    open_one();
    array = created(s);
    PROBE("create_to_null", cu.cuArray3DCreate_v2(NULL, &s));
    PROBE("create_from_null", cu.cuArray3DCreate_v2(&array, NULL));
    PROBE("create_2d_to_null", cu.cuArrayCreate_v2(NULL, &s));
    PROBE("descriptor_to_null", cu.cuArrayGetDescriptor_v2(NULL, array));
    PROBE("descriptor_3d_to_null", cu.cuArray3DGetDescriptor_v2(NULL, array));
    PROBE("descriptor_of_null", cu.cuArrayGetDescriptor_v2(four, NULL));
    PROBE("descriptor_3d_of_null", cu.cuArray3DGetDescriptor_v2(&got, NULL));
    PROBE("descriptor_of_null_to_null", cu.cuArray3DGetDescriptor_v2(NULL, NULL));
    PROBE("destroy_null", cu.cuArrayDestroy(NULL));
    PROBE("sparse_properties", cu.cuArrayGetSparseProperties(four, array));
    PROBE("sparse_properties_to_null", cu.cuArrayGetSparseProperties(NULL, array));
    PROBE("sparse_properties_of_null", cu.cuArrayGetSparseProperties(four, NULL));
    PROBE("requirements", cu.cuArrayGetMemoryRequirements(four, array, 0));
    PROBE("requirements_to_null", cu.cuArrayGetMemoryRequirements(NULL, array, 0));
    PROBE("requirements_of_null", cu.cuArrayGetMemoryRequirements(four, NULL, 0));
    PROBE("requirements_of_99", cu.cuArrayGetMemoryRequirements(four, array, 99));
    PROBE("plane", cu.cuArrayGetPlane(&array, array, 0));
    PROBE("plane_of_null", cu.cuArrayGetPlane(&array, NULL, 0));
    PROBE("plane_to_null", cu.cuArrayGetPlane(NULL, array, 0));
    PROBE("destroy", cu.cuArrayDestroy(array));
}

static void shapes(void) {
    open_one();
    PROBE("0", creates(0, 0, 0, U8, 1, 0));
    PROBE("0_16", creates(0, 16, 0, U8, 1, 0));
    PROBE("16_0_16", creates(16, 0, 16, U8, 1, 0));
    PROBE("width_most", creates(131072, 0, 0, U8, 1, 0));
    PROBE("width_more", creates(131073, 0, 0, U8, 1, 0));
    PROBE("plane_width_most", creates(131072, 1, 0, U8, 1, 0));
    PROBE("plane_width_more", creates(131073, 1, 0, U8, 1, 0));
    PROBE("plane_height_most", creates(1, 65536, 0, U8, 1, 0));
    PROBE("plane_height_more", creates(1, 65537, 0, U8, 1, 0));
    PROBE("volume_width_most", creates(16384, 1, 1, U8, 1, 0));
    PROBE("volume_width_more", creates(16385, 1, 1, U8, 1, 0));
    PROBE("volume_depth_most", creates(1, 1, 32768, U8, 1, 0));
    PROBE("volume_depth_more", creates(1, 1, 32769, U8, 1, 0));
    PROBE("volume_depth_wide", creates(8193, 1, 16385, U8, 1, 0));
    PROBE("surface_width_most", creates(32768, 0, 0, U8, 1, SURFACE));
    PROBE("surface_width_more", creates(32769, 0, 0, U8, 1, SURFACE));
    PROBE("surface_volume_depth", creates(1, 1, 16385, U8, 1, SURFACE));
    PROBE("layers_none", creates(16, 16, 0, U8, 1, LAYERED));
    PROBE("layers_most", creates(1, 1, 2048, U8, 1, LAYERED));
    PROBE("layers_more", creates(1, 1, 2049, U8, 1, LAYERED));
    PROBE("row_layers_most", creates(1, 0, 2048, U8, 1, LAYERED));
    PROBE("row_layers_more", creates(1, 0, 2049, U8, 1, LAYERED));
    PROBE("layer_width_more", creates(32769, 1, 1, U8, 1, LAYERED));
    PROBE("cube", creates(8, 8, 6, U8, 1, CUBE));
    PROBE("cube_flat", creates(8, 9, 6, U8, 1, CUBE));
    PROBE("cube_5", creates(8, 8, 5, U8, 1, CUBE));
    PROBE("cube_12", creates(8, 8, 12, U8, 1, CUBE));
    PROBE("cube_0", creates(8, 8, 0, U8, 1, CUBE));
    PROBE("cubes", creates(8, 8, 12, U8, 1, CUBE | LAYERED));
    PROBE("cubes_9", creates(8, 8, 9, U8, 1, CUBE | LAYERED));
    PROBE("cubes_2046", creates(1, 1, 2046, U8, 1, CUBE | LAYERED));
    PROBE("cubes_2052", creates(1, 1, 2052, U8, 1, CUBE | LAYERED));
    PROBE("gather", creates(8, 8, 0, U8, 1, GATHER));
    PROBE("gather_width_more", creates(32769, 1, 0, U8, 1, GATHER));
    PROBE("gather_row", creates(8, 0, 0, U8, 1, GATHER));
    PROBE("gather_volume", creates(8, 8, 8, U8, 1, GATHER));
    PROBE("gather_layers", creates(8, 8, 8, U8, 1, GATHER | LAYERED));
    PROBE("gather_cube", creates(8, 8, 6, U8, 1, GATHER | CUBE));
    PROBE("depth", creates(8, 8, 0, FLOAT, 1, DEPTH));
    PROBE("depth_4", creates(8, 8, 0, FLOAT, 4, DEPTH));
    PROBE("color", creates(8, 8, 0, U8, 4, COLOR));
    PROBE("flag_512", creates(8, 8, 0, U8, 1, 512));
    PROBE("too_large", creates(131072, 65536, 0, FLOAT, 4, 0));
}

static void formats(void) {
    open_one();
    PROBE("0", creates(8, 8, 0, 0, 1, 0));
    PROBE("4", creates(8, 8, 0, 4, 1, 0));
    PROBE("channels_0", creates(8, 8, 0, U8, 0, 0));
    PROBE("channels_3", creates(8, 8, 0, U8, 3, 0));
    PROBE("channels_5", creates(8, 8, 0, U8, 5, 0));
    PROBE("channels_8", creates(8, 8, 0, U8, 8, 0));
    PROBE("half_3", creates(8, 8, 0, HALF, 3, 0));
    PROBE("unorm", creates(8, 8, 0, UNORM_8X1, 1, 0));
    PROBE("unorm_4", creates(8, 8, 0, UNORM_8X4, 4, 0));
    PROBE("unorm_1_as_4", creates(8, 8, 0, UNORM_8X1, 4, 0));
    PROBE("unorm_4_as_1", creates(8, 8, 0, UNORM_8X4, 1, 0));
    PROBE("unorm_surface", creates(8, 8, 0, UNORM_8X4, 4, SURFACE));
    PROBE("packed", creates(8, 8, 0, PACKED, 4, 0));
    PROBE("packed_1", creates(8, 8, 0, PACKED, 1, 0));
    PROBE("packed_surface", creates(8, 8, 0, PACKED, 4, SURFACE));
    PROBE("bc1", creates(8, 8, 0, BC1, 4, 0));
    PROBE("bc1_1", creates(8, 8, 0, BC1, 1, 0));
    PROBE("bc1_odd", creates(7, 6, 0, BC1, 4, 0));
    PROBE("bc1_row", creates(8, 0, 0, BC1, 4, 0));
    PROBE("bc1_volume", creates(8, 8, 8, BC1, 4, 0));
    PROBE("bc1_layers", creates(8, 8, 8, BC1, 4, LAYERED));
    PROBE("bc1_surface", creates(8, 8, 0, BC1, 4, SURFACE));
    PROBE("bc4", creates(8, 8, 0, BC4, 1, 0));
    PROBE("bc4_4", creates(8, 8, 0, BC4, 4, 0));
    PROBE("bc6_3", creates(8, 8, 0, BC6, 3, 0));
    PROBE("bc6_4", creates(8, 8, 0, BC6, 4, 0));
    PROBE("bc7", creates(8, 8, 0, BC7, 4, 0));
    PROBE("format_0x7f", creates(8, 8, 0, 0x7f, 1, 0));
}

static void levels(void) {
    shape s = shape_of(20, 9, 0, U8, 1, 0), got;
    void *array, *level = NULL, *again = NULL;
    size_t four[4];
    open_one();
    array = mipmapped(s, 3);
    PROBE("0", creates_levels(s, 0));
    PROBE("3", creates_levels(s, 3));
    PROBE("5", creates_levels(s, 5));
    PROBE("6", creates_levels(s, 6));
    PROBE("100", creates_levels(s, 100));
    PROBE("of_depth", creates_levels(shape_of(4, 4, 64, U8, 1, 0), 100));
    PROBE("of_layers", creates_levels(shape_of(4, 4, 64, U8, 1, LAYERED), 100));
    PROBE("of_row", creates_levels(shape_of(32, 0, 0, U8, 1, 0), 100));
    PROBE("wide_row", creates_levels(shape_of(32769, 0, 0, U8, 1, 0), 1));
    PROBE("wide_plane", creates_levels(shape_of(32769, 1, 0, U8, 1, 0), 1));
    PROBE("of_blocks", creates_levels(shape_of(16, 16, 0, BC1, 4, 0), 100));
    PROBE("to_null", cu.cuMipmappedArrayCreate(NULL, &s, 1));
    PROBE("from_null", cu.cuMipmappedArrayCreate(&array, NULL, 1));
    PROBE("level_to_null", cu.cuMipmappedArrayGetLevel(NULL, array, 0));
    PROBE("level_of_null", cu.cuMipmappedArrayGetLevel(&level, NULL, 0));
    PROBE("level_3", cu.cuMipmappedArrayGetLevel(&level, array, 3));
    PROBE("level_1", cu.cuMipmappedArrayGetLevel(&level, array, 1));
    PROBE("level_1_again", cu.cuMipmappedArrayGetLevel(&again, array, 1));
    PROBE("is_the_same", level == again);
    PROBE("level_is", cu.cuArray3DGetDescriptor_v2(&got, level));
    PROBE("level_width", (int)got.width);
    PROBE("level_flags", (int)got.flags);
    PROBE("sparse_properties", cu.cuMipmappedArrayGetSparseProperties(four, array));
    PROBE("requirements", cu.cuMipmappedArrayGetMemoryRequirements(four, array, 0));
    PROBE("destroy_null", cu.cuMipmappedArrayDestroy(NULL));
    PROBE("destroy_level", cu.cuArrayDestroy(level));
    PROBE("destroy", cu.cuMipmappedArrayDestroy(array));
}

static resource of_array(void *array) {
    resource r;
    memset(&r, 0, sizeof r);
    r.of.array = array;
    return r;
}
static resource of_memory(unsigned type, ptr address, unsigned format, unsigned channels,
        size_t width, size_t height, size_t pitch) {
    resource r;
    memset(&r, 0, sizeof r);
    r.type = type;
    r.of.memory.address = address;
    r.of.memory.format = format;
    r.of.memory.channels = channels;
    r.of.memory.width = width;
    r.of.memory.height = height;
    r.of.memory.pitch = pitch;
    return r;
}
static sampling how(unsigned flags, unsigned filter, unsigned address) {
    sampling s;
    memset(&s, 0, sizeof s);
    s.flags = flags;
    s.filter = s.mipmap_filter = filter;
    s.address[0] = s.address[1] = s.address[2] = address;
    return s;
}
static int textures(resource r, sampling s, const view *v) {
    unsigned long long texture = 0;
    const int result = cu.cuTexObjectCreate(&texture, &r, &s, v);
    if (!result) cu.cuTexObjectDestroy(texture);
    return result;
}
static int samples(shape s, unsigned flags, unsigned filter, unsigned address) {
    void *array = created(s);
    const int result = textures(of_array(array), how(flags, filter, address), NULL);
    cu.cuArrayDestroy(array);
    return result;
}
static int surfaces(resource r) {
    unsigned long long surface = 0;
    const int result = cu.cuSurfObjectCreate(&surface, &r);
    if (!result) cu.cuSurfObjectDestroy(surface);
    return result;
}

static void objects(void) {
    const shape plain = shape_of(16, 16, 0, FLOAT, 1, SURFACE);
    unsigned long long texture = 0, second = 0, surface = 0;
    resource r, got;
    sampling s = how(0, 0, 0);
    view v;
    void *array;
    open_one();
    array = created(plain);
    r = of_array(array);
    PROBE("to_null", cu.cuTexObjectCreate(NULL, &r, &s, NULL));
    PROBE("of_null", cu.cuTexObjectCreate(&texture, NULL, &s, NULL));
    PROBE("how_null", cu.cuTexObjectCreate(&texture, &r, NULL, NULL));
    PROBE("of_null_array", textures(of_array(NULL), s, NULL));
    r.flags = 1;
    PROBE("flags_1", textures(r, s, NULL));
    r.flags = 0;
    r.type = 4;
    PROBE("type_4", textures(r, s, NULL));
    r.type = 0;
    PROBE("first", cu.cuTexObjectCreate(&texture, &r, &s, NULL));
    PROBE("first_number", (int)texture);
    PROBE("second", cu.cuTexObjectCreate(&second, &r, &s, NULL));
    PROBE("second_number", (int)second);
    PROBE("surface", cu.cuSurfObjectCreate(&surface, &r));
    PROBE("surface_number", (int)surface);
    PROBE("surface_to_null", cu.cuSurfObjectCreate(NULL, &r));
    PROBE("surface_of_null", cu.cuSurfObjectCreate(&surface, NULL));
    PROBE("surface_of_null_array", surfaces(of_array(NULL)));
    PROBE("surface_of_memory", surfaces(of_memory(2, memory[0], FLOAT, 1, 1024, 0, 0)));
    PROBE("resource", cu.cuTexObjectGetResourceDesc(&got, texture));
    PROBE("resource_to_null", cu.cuTexObjectGetResourceDesc(NULL, texture));
    PROBE("resource_of_0", cu.cuTexObjectGetResourceDesc(&got, 0));
    PROBE("resource_of_surface_0", cu.cuSurfObjectGetResourceDesc(&got, 0));
    PROBE("how_of_0", cu.cuTexObjectGetTextureDesc(&s, 0));
    PROBE("view_of_none", cu.cuTexObjectGetResourceViewDesc(&v, texture));
    PROBE("destroy_0", cu.cuTexObjectDestroy(0));
    PROBE("destroy_surface_0", cu.cuSurfObjectDestroy(0));
    PROBE("destroy_array_first", cu.cuArrayDestroy(array));
    PROBE("destroy_second", cu.cuTexObjectDestroy(second));
    PROBE("destroy_surface", cu.cuSurfObjectDestroy(surface));
    PROBE("destroy_first", cu.cuTexObjectDestroy(texture));
    PROBE("destroy_999", cu.cuTexObjectDestroy(999));
}

static void sampling_modes(void) {
    const shape floats = shape_of(16, 16, 0, FLOAT, 1, 0), bytes = shape_of(16, 16, 0, U8, 4, 0),
                words = shape_of(16, 16, 0, U32, 1, 0), signs = shape_of(16, 16, 0, S8, 1, 0),
                cube = shape_of(8, 8, 6, FLOAT, 1, CUBE), blocks = shape_of(8, 8, 0, BC1, 4, 0);
    sampling s = how(0, 0, 0);
    void *array;
    open_one();
    PROBE("wrap", samples(floats, 0, 0, 0));
    PROBE("mirror", samples(floats, 0, 0, 2));
    PROBE("border", samples(floats, 0, 0, BORDER));
    PROBE("address_4", samples(floats, 0, 0, 4));
    PROBE("filter_2", samples(floats, 0, 2, 0));
    PROBE("flag_4", samples(floats, 4, 0, 0));
    PROBE("flag_8", samples(floats, 8, 0, 0));
    PROBE("flag_128", samples(floats, 128, 0, 0));
    PROBE("linear_words", samples(words, 0, LINEAR, 0));
    PROBE("linear_words_as_integers", samples(words, INTEGERS, LINEAR, 0));
    PROBE("linear_bytes", samples(bytes, 0, LINEAR, 0));
    PROBE("linear_bytes_as_integers", samples(bytes, INTEGERS, LINEAR, 0));
    PROBE("floats_as_integers", samples(floats, INTEGERS, LINEAR, 0));
    PROBE("srgb_bytes", samples(bytes, SRGB, 0, 0));
    PROBE("srgb_bytes_as_integers", samples(bytes, SRGB | INTEGERS, 0, 0));
    PROBE("srgb_signed", samples(signs, SRGB, 0, 0));
    PROBE("srgb_floats", samples(floats, SRGB, 0, 0));
    PROBE("srgb_blocks", samples(blocks, SRGB, 0, 0));
    PROBE("sharp", samples(floats, SHARP, 0, 0));
    PROBE("seamless_plane", samples(floats, SEAMLESS | NORMALIZED, 0, 0));
    PROBE("seamless_cube", samples(cube, SEAMLESS | NORMALIZED, 0, 0));
    PROBE("seamless_cube_plain", samples(cube, SEAMLESS, 0, 0));
    array = created(floats);
    s.anisotropy = 17;
    PROBE("anisotropy_17", textures(of_array(array), s, NULL));
    s.anisotropy = 0;
    s.mipmap_filter = 2;
    PROBE("mipmap_filter_2", textures(of_array(array), s, NULL));
    s.mipmap_filter = 0;
    s.least = 3;
    s.most = 1;
    PROBE("levels_crossed", textures(of_array(array), s, NULL));
    cu.cuArrayDestroy(array);
}

static void of_memories(void) {
    const sampling s = how(0, 0, 0);
    ptr p = 0;
    open_one();
    cu.cuMemAlloc_v2(&p, BYTES);
    PROBE("linear", textures(of_memory(2, p, FLOAT, 4, BYTES, 0, 0), s, NULL));
    PROBE("linear_odd", textures(of_memory(2, p, FLOAT, 4, 30, 0, 0), s, NULL));
    PROBE("linear_small", textures(of_memory(2, p, FLOAT, 4, 15, 0, 0), s, NULL));
    PROBE("linear_0", textures(of_memory(2, p, FLOAT, 4, 0, 0, 0), s, NULL));
    PROBE("linear_null", textures(of_memory(2, 0, FLOAT, 4, 1024, 0, 0), s, NULL));
    PROBE("linear_wild", textures(of_memory(2, 1 << 20, FLOAT, 4, 1024, 0, 0), s, NULL));
    PROBE("linear_past", textures(of_memory(2, p, FLOAT, 4, BYTES + 16, 0, 0), s, NULL));
    PROBE("linear_at_16", textures(of_memory(2, p + 16, FLOAT, 4, 64, 0, 0), s, NULL));
    PROBE("linear_at_512", textures(of_memory(2, p + 512, FLOAT, 4, 64, 0, 0), s, NULL));
    PROBE("linear_channels_3", textures(of_memory(2, p, FLOAT, 3, 64, 0, 0), s, NULL));
    PROBE("linear_bc1", textures(of_memory(2, p, BC1, 4, 64, 0, 0), s, NULL));
    PROBE("linear_unorm", textures(of_memory(2, p, UNORM_8X4, 4, 64, 0, 0), s, NULL));
    PROBE("linear_filtered", textures(of_memory(2, p, U32, 1, 64, 0, 0), how(0, 1, 0), NULL));
    PROBE("rows", textures(of_memory(3, p, U8, 1, 100, 512, 128), s, NULL));
    PROBE("rows_at_16", textures(of_memory(3, p + 16, U8, 1, 100, 5, 128), s, NULL));
    PROBE("rows_pitch_120", textures(of_memory(3, p, U8, 1, 100, 5, 120), s, NULL));
    PROBE("rows_pitch_96", textures(of_memory(3, p, U8, 1, 100, 5, 96), s, NULL));
    PROBE("rows_pitch_0", textures(of_memory(3, p, U8, 1, 100, 5, 0), s, NULL));
    PROBE("rows_width_0", textures(of_memory(3, p, U8, 1, 0, 5, 128), s, NULL));
    PROBE("rows_height_0", textures(of_memory(3, p, U8, 1, 100, 0, 128), s, NULL));
    PROBE("rows_height_65001", textures(of_memory(3, p, U8, 1, 1, 65001, 32), s, NULL));
    PROBE("rows_past", textures(of_memory(3, p, U8, 1, 100, 513, 128), s, NULL));
    PROBE("rows_words_filtered", textures(of_memory(3, p, U32, 1, 32, 5, 128), how(0, 1, 0), NULL));
    cu.cuMemFree_v2(p);
}

static int views(void *array, unsigned type, unsigned flags, view v) {
    resource r = of_array(array);
    r.type = type;
    return textures(r, how(flags, 0, 0), &v);
}
static void regions(void) {
    void *words, *layers, *blocks;
    view v = { 0, 8, 8, 0, 0, 0, 0, 0, { 0 } };
    open_one();
    words = created(shape_of(8, 8, 0, U32, 2, 0));
    layers = mipmapped(shape_of(8, 8, 5, FLOAT, 1, LAYERED), 4);
    blocks = created(shape_of(8, 8, 0, BC1, 4, 0));
    PROBE("none", views(words, 0, 0, v));
    v.format = 0x0e;
    PROBE("same", views(words, 0, 0, v));
    v.format = 0x15;
    PROBE("4x16", views(words, 0, 0, v));
    v.format = 0x16;
    PROBE("1x32", views(words, 0, 0, v));
    v.format = 0x23;
    PROBE("format_0x23", views(words, 0, 0, v));
    v.format = 0x19;
    PROBE("bc1_8", views(words, 0, 0, v));
    v.width = v.height = 32;
    PROBE("bc1_32", views(words, 0, 0, v));
    PROBE("bc1_32_srgb", views(words, 0, SRGB, v));
    v.format = 0x1a;
    PROBE("bc2_32", views(words, 0, 0, v));
    v.format = 0;
    v.width = v.height = 8;
    PROBE("of_blocks", views(blocks, 0, 0, v));
    v.width = 4;
    PROBE("width_4", views(words, 0, 0, v));
    v.width = 8;
    v.depth = 1;
    PROBE("depth_1", views(words, 0, 0, v));
    v.depth = 0;
    v.last_level = 1;
    PROBE("level_1", views(words, 0, 0, v));
    v.last_level = 0;
    v.last_layer = 1;
    PROBE("layer_1", views(words, 0, 0, v));
    v.depth = 5;
    v.last_layer = 4;
    v.last_level = 3;
    PROBE("layers", views(layers, 1, NORMALIZED, v));
    PROBE("layers_plain", views(layers, 1, 0, v));
    v.last_layer = 5;
    PROBE("layer_5", views(layers, 1, NORMALIZED, v));
    v.last_layer = 1;
    v.first_layer = 2;
    PROBE("layers_crossed", views(layers, 1, NORMALIZED, v));
    v.last_layer = 3;
    v.last_level = 4;
    PROBE("level_4", views(layers, 1, NORMALIZED, v));
    v.last_level = 1;
    v.first_level = 2;
    PROBE("levels_crossed", views(layers, 1, NORMALIZED, v));
}

static void copies(void) {
    static char data[4096];
    void *row, *plane, *s = NULL;
    copy_2d c;
    copy_3d d;
    open_one();
    row = created(shape_of(16, 0, 0, FLOAT, 1, 0));
    plane = created(shape_of(16, 16, 0, FLOAT, 1, 0));
    cu.cuStreamCreate(&s, 1);
    PROBE("row", cu.cuMemcpyHtoA_v2(row, 0, data, 64));
    PROBE("row_0", cu.cuMemcpyHtoA_v2(row, 0, data, 0));
    PROBE("row_0_of_null", cu.cuMemcpyHtoA_v2(NULL, 0, data, 0));
    PROBE("row_0_past", cu.cuMemcpyHtoA_v2(row, 1000, data, 0));
    PROBE("row_past", cu.cuMemcpyHtoA_v2(row, 0, data, 68));
    PROBE("row_at_2", cu.cuMemcpyHtoA_v2(row, 2, data, 4));
    PROBE("row_bytes_2", cu.cuMemcpyHtoA_v2(row, 0, data, 2));
    PROBE("row_negative", cu.cuMemcpyHtoA_v2(row, (size_t)-4, data, 8));
    PROBE("row_from_null", cu.cuMemcpyHtoA_v2(row, 0, NULL, 4));
    PROBE("row_of_plane", cu.cuMemcpyHtoA_v2(plane, 0, data, 64));
    PROBE("rows_of_plane", cu.cuMemcpyHtoA_v2(plane, 0, data, 128));
    PROBE("row_1_of_plane", cu.cuMemcpyHtoA_v2(plane, 64, data, 64));
    PROBE("to_host_past", cu.cuMemcpyAtoH_v2(data, row, 64, 4));
    PROBE("to_host_null", cu.cuMemcpyAtoH_v2(NULL, row, 0, 4));
    PROBE("to_device", cu.cuMemcpyAtoD_v2(memory[0], row, 0, 64));
    PROBE("to_device_at_1", cu.cuMemcpyAtoD_v2(memory[0] + 1, row, 0, 64));
    PROBE("to_device_past", cu.cuMemcpyAtoD_v2(memory[0] + MEMORY - 4, row, 0, 64));
    PROBE("from_device_wild", cu.cuMemcpyDtoA_v2(row, 0, 16, 64));
    PROBE("to_array", cu.cuMemcpyAtoA_v2(plane, 0, row, 0, 64));
    PROBE("to_itself", cu.cuMemcpyAtoA_v2(row, 32, row, 0, 32));
    PROBE("to_itself_overlapping", cu.cuMemcpyAtoA_v2(row, 4, row, 0, 32));
    PROBE("async", cu.cuMemcpyHtoAAsync_v2(row, 0, data, 64, s));
    PROBE("async_back", cu.cuMemcpyAtoHAsync_v2(data, row, 0, 64, s));
    memset(&c, 0, sizeof c);
    c.from_type = HOST;
    c.from_host = data;
    c.to_type = ARRAY;
    c.to_array = plane;
    c.width = 32;
    c.height = 4;
    PROBE("plane", cu.cuMemcpy2D_v2(&c));
    c.to_x = 36;
    PROBE("plane_past_x", cu.cuMemcpy2D_v2(&c));
    c.to_x = 2;
    PROBE("plane_x_2", cu.cuMemcpy2D_v2(&c));
    c.to_x = 0;
    c.to_y = 13;
    PROBE("plane_past_y", cu.cuMemcpy2D_v2(&c));
    c.to_y = 0;
    c.to_pitch = 1;
    PROBE("plane_pitch_1", cu.cuMemcpy2D_v2(&c));
    c.to_pitch = 0;
    c.width = 30;
    PROBE("plane_width_30", cu.cuMemcpy2D_v2(&c));
    memset(&d, 0, sizeof d);
    d.from_type = HOST;
    d.from_host = data;
    d.to_type = ARRAY;
    d.to_array = plane;
    d.width = 32;
    d.height = 4;
    d.depth = 1;
    PROBE("volume", cu.cuMemcpy3D_v2(&d));
    d.to_z = 1;
    PROBE("volume_z_1", cu.cuMemcpy3D_v2(&d));
    d.to_z = 0;
    d.to_lod = 1;
    PROBE("volume_lod_1", cu.cuMemcpy3D_v2(&d));
    d.to_lod = 0;
    d.to_array = NULL;
    PROBE("volume_null", cu.cuMemcpy3D_v2(&d));
    d.from_host = NULL;
    PROBE("volume_nulls", cu.cuMemcpy3D_v2(&d));
    PROBE("sync", cu.cuCtxSynchronize());
}

static void widths(void) {
    size_t most = 0;
    open_one();
    PROBE("floats", cu.cuDeviceGetTexture1DLinearMaxWidth(&most, FLOAT, 4, 0));
    PROBE("floats_are", (int)(most >> 10));
    PROBE("bytes", cu.cuDeviceGetTexture1DLinearMaxWidth(&most, U8, 1, 0));
    PROBE("bytes_are", (int)(most >> 10));
    PROBE("to_null", cu.cuDeviceGetTexture1DLinearMaxWidth(NULL, U8, 1, 0));
    PROBE("channels_3", cu.cuDeviceGetTexture1DLinearMaxWidth(&most, U8, 3, 0));
    PROBE("format_4", cu.cuDeviceGetTexture1DLinearMaxWidth(&most, 4, 1, 0));
    PROBE("of_99", cu.cuDeviceGetTexture1DLinearMaxWidth(&most, U8, 1, 99));
    PROBE("format_4_of_99", cu.cuDeviceGetTexture1DLinearMaxWidth(&most, 4, 1, 99));
}

/* The largest textures and surfaces, by CUdevice_attribute. */
static void limits(void) {
    int number;
    open_one();
    for (number = 21; number <= 77; number++) {
        char name[24];
        int value = 0;
        if ((number > 29 && number < 42) || number == 50 || number == 51 || number == 75 ||
                number == 76)
            continue;
        cu.cuDeviceGetAttribute(&value, number, 0);
        snprintf(name, sizeof name, "attribute_%d", number);
        PROBE(name, value);
    }
}

static const char bound_text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .global .texref pixels;\n.visible .global .surfref canvas;\n"
        ".visible .global .u32 word;\n.visible .entry nothing() { ret; }\n";

static void references(void) {
    void *m = NULL, *f = NULL, *texture = NULL, *surface = NULL, *free_one = NULL, *got = NULL,
         *row, *plain, *levels_of;
    const flat_shape flat = { 16, 16, U8, 1 };
    float color[4] = { 0, 0, 0, 0 }, least = 9, most = 9;
    int format = 0, channels = 0, mode = -1, n = -1;
    unsigned flags = 99;
    size_t offset = 0, bytes = 0;
    ptr p = 0, at = 0;
    open_one();
    row = created(shape_of(16, 0, 0, FLOAT, 1, SURFACE));
    plain = created(shape_of(16, 16, 0, U32, 1, 0));
    levels_of = mipmapped(shape_of(16, 16, 0, U8, 1, 0), 3);
    cu.cuMemAlloc_v2(&p, BYTES);
    PROBE("load", cu.cuModuleLoadData(&m, bound_text));
    cu.cuModuleGetFunction(&f, m, "nothing");
    PROBE("texture", cu.cuModuleGetTexRef(&texture, m, "pixels"));
    PROBE("texture_to_null", cu.cuModuleGetTexRef(NULL, m, "pixels"));
    PROBE("texture_null", cu.cuModuleGetTexRef(&got, m, NULL));
    PROBE("texture_empty", cu.cuModuleGetTexRef(&got, m, ""));
    PROBE("texture_of_null", cu.cuModuleGetTexRef(&got, NULL, "pixels"));
    PROBE("texture_is_surface", cu.cuModuleGetTexRef(&got, m, "canvas"));
    PROBE("texture_is_word", cu.cuModuleGetTexRef(&got, m, "word"));
    PROBE("texture_is_none", cu.cuModuleGetTexRef(&got, m, "none"));
    PROBE("surface", cu.cuModuleGetSurfRef(&surface, m, "canvas"));
    PROBE("surface_is_texture", cu.cuModuleGetSurfRef(&got, m, "pixels"));
    PROBE("global", cu.cuModuleGetGlobal_v2(&at, &bytes, m, "pixels"));
    PROBE("global_bytes", (int)bytes);
    PROBE("format", cu.cuTexRefGetFormat(&format, &channels, texture));
    PROBE("format_is", format * 10 + channels);
    PROBE("address_mode", cu.cuTexRefGetAddressMode(&mode, texture, 0));
    PROBE("address_mode_is", mode);
    PROBE("address_mode_of_3", cu.cuTexRefGetAddressMode(&mode, texture, 3));
    PROBE("filter_mode_is", (cu.cuTexRefGetFilterMode(&mode, texture), mode));
    PROBE("flags_are", (cu.cuTexRefGetFlags(&flags, texture), (int)flags));
    PROBE("anisotropy_is", (cu.cuTexRefGetMaxAnisotropy(&n, texture), n));
    PROBE("clamp", cu.cuTexRefGetMipmapLevelClamp(&least, &most, texture));
    PROBE("clamp_to_null", cu.cuTexRefGetMipmapLevelClamp(NULL, &most, texture));
    PROBE("array_of_unbound", cu.cuTexRefGetArray(&got, texture));
    PROBE("address_of_unbound", cu.cuTexRefGetAddress_v2(&at, texture));
    PROBE("surface_array_of_unbound", cu.cuSurfRefGetArray(&got, surface));
    PROBE("set_array_flags_0", cu.cuTexRefSetArray(texture, row, 0));
    PROBE("set_array_null", cu.cuTexRefSetArray(texture, NULL, 1));
    PROBE("set_array", cu.cuTexRefSetArray(texture, row, 1));
    PROBE("set_array_again", cu.cuTexRefSetArray(texture, plain, 1));
    PROBE("linear_words", cu.cuTexRefSetFilterMode(texture, 1));
    PROBE("format_of_words", (cu.cuTexRefGetFormat(&format, NULL, texture), format));
    PROBE("set_levels", cu.cuTexRefSetMipmappedArray(texture, levels_of, 1));
    PROBE("levels_of", cu.cuTexRefGetMipmappedArray(&got, texture));
    PROBE("array_of_levels", cu.cuTexRefGetArray(&got, texture));
    PROBE("set_surface_flags_1", cu.cuSurfRefSetArray(surface, row, 1));
    PROBE("set_surface", cu.cuSurfRefSetArray(surface, row, 0));
    PROBE("set_surface_plain", cu.cuSurfRefSetArray(surface, plain, 0));
    PROBE("set_address", cu.cuTexRefSetAddress_v2(&offset, texture, p, 1024));
    PROBE("set_address_at_64", cu.cuTexRefSetAddress_v2(&offset, texture, p + 64, 1024));
    PROBE("set_address_offset", (int)offset);
    PROBE("set_address_at_64_to_null", cu.cuTexRefSetAddress_v2(NULL, texture, p + 64, 1024));
    PROBE("set_address_null", cu.cuTexRefSetAddress_v2(&offset, texture, 0, 0));
    PROBE("set_address_wild", cu.cuTexRefSetAddress_v2(&offset, texture, 1 << 20, 1024));
    PROBE("set_plane", cu.cuTexRefSetAddress2D_v3(texture, &flat, p, 32));
    PROBE("set_plane_pitch_20", cu.cuTexRefSetAddress2D_v3(texture, &flat, p, 20));
    PROBE("set_plane_at_64", cu.cuTexRefSetAddress2D_v3(texture, &flat, p + 64, 32));
    PROBE("set_plane_at_64_v2", cu.cuTexRefSetAddress2D_v2(texture, &flat, p + 64, 32));
    PROBE("set_plane_null", cu.cuTexRefSetAddress2D_v3(texture, NULL, p, 32));
    PROBE("set_format_3", cu.cuTexRefSetFormat(texture, FLOAT, 3));
    PROBE("set_format_bc1", cu.cuTexRefSetFormat(texture, BC1, 4));
    PROBE("set_address_mode_4", cu.cuTexRefSetAddressMode(texture, 0, 4));
    PROBE("set_address_mode_of_3", cu.cuTexRefSetAddressMode(texture, 3, 0));
    PROBE("set_filter_2", cu.cuTexRefSetFilterMode(texture, 2));
    PROBE("set_flags_4", cu.cuTexRefSetFlags(texture, 4));
    PROBE("set_anisotropy_17", cu.cuTexRefSetMaxAnisotropy(texture, 17));
    PROBE("anisotropy_17_is", (cu.cuTexRefGetMaxAnisotropy(&n, texture), n));
    PROBE("set_color", cu.cuTexRefSetBorderColor(texture, color));
    PROBE("param", cu.cuParamSetTexRef(f, -1, texture));
    PROBE("param_0", cu.cuParamSetTexRef(f, 0, texture));
    PROBE("destroy", cu.cuTexRefDestroy(texture));
    PROBE("create", cu.cuTexRefCreate(&free_one));
    PROBE("create_to_null", cu.cuTexRefCreate(NULL));
    PROBE("create_set_array", cu.cuTexRefSetArray(free_one, row, 1));
    PROBE("create_destroy", cu.cuTexRefDestroy(free_one));
    PROBE("unload", cu.cuModuleUnload(m));
}

const group array_groups[] = {
    { "arrays", arrays, 1 },
    { "array_shapes", shapes, 1 },
    { "array_formats", formats, 1 },
    { "array_levels", levels, 1 },
    { "array_objects", objects, 1 },
    { "array_sampling", sampling_modes, 1 },
    { "array_memory", of_memories, 1 },
    { "array_views", regions, 1 },
    { "array_copies", copies, 1 },
    { "array_widths", widths, 1 },
    { "array_limits", limits, 1 },
    { "array_references", references, 1 },
    { NULL, NULL, 0 },
};
