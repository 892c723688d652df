/* tensormap.c - tensor maps: right and wrong descriptions, and maps as arguments of kernels. Wrong
   ones are refused before the driver is called. */
#include "../../test.h"

static const char words_ptx[] =
        ".version 7.1\n.target sm_70\n.address_size 64\n"
        /* out[i] = word i of the map, behind one byte */
        ".visible .entry words(.param .u8 before, .param .align %u .b8 map[128], .param .u64 out)\n"
        "{\n.reg .b32 %%r1; .reg .b64 %%d<5>;\n"
        "mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d1, %%r1, 8; mov.u64 %%d2, map;\n"
        "add.u64 %%d2, %%d2, %%d1; ld.param.u64 %%d3, [%%d2]; ld.param.u64 %%d4, [out];\n"
        "add.u64 %%d4, %%d4, %%d1; st.global.u64 [%%d4], %%d3; ret;\n}\n";

enum { BYTES = 1 << 20 };
typedef struct scene {
    gpuexec_context ctx;
    gpuexec_stream stream;
    gpuexec_ptr memory;
} scene;
static scene begin(void) {
    scene s;
    s.ctx = gpuexec_context_open(0, NULL);
    s.stream = gpuexec_stream_create(s.ctx, NULL);
    s.memory = gpuexec_alloc(s.ctx, BYTES);
    CHECK_MADE(s.ctx);
    CHECK(s.memory != 0);
    return s;
}
static void end(scene *s) { CHECK_OK(gpuexec_context_close(s->ctx)); }
static int has_no_tensor_maps(void) {
    gpuexec_device_info info;
    CHECK_OK(gpuexec_device_get_info(0, &info));
    return info.compute_capability < 90 || gpuexec_driver_version() < 12000;
}
#define NEED_TENSOR_MAPS() \
    if (has_no_tensor_maps()) SKIP("tensor maps need compute capability 9.0 and CUDA 12.0")

/* 64 x 32 x 4 floats, and a box of 32 x 8 x 1 */
static gpuexec_tensor_map_desc floats(const scene *s) {
    gpuexec_tensor_map_desc d;
    memset(&d, 0, sizeof d);
    d.type = GPUEXEC_TENSOR_F32;
    d.address = s->memory;
    d.rank = 3;
    d.dims[0] = 64;
    d.dims[1] = 32;
    d.dims[2] = 4;
    d.box[0] = 32;
    d.box[1] = 8;
    d.box[2] = 1;
    return d;
}
/* 64 channels of half precision, 16 x 8 pixels, 2 images; 3 x 3 filters */
static gpuexec_tensor_map_desc images(const scene *s) {
    gpuexec_tensor_map_desc d;
    memset(&d, 0, sizeof d);
    d.type = GPUEXEC_TENSOR_F16;
    d.address = s->memory;
    d.rank = 4;
    d.dims[0] = 64;
    d.dims[1] = 16;
    d.dims[2] = 8;
    d.dims[3] = 2;
    d.channels = 64;
    d.pixels = 32;
    d.lower[0] = d.lower[1] = d.upper[0] = d.upper[1] = -1;
    return d;
}
static int is_zero(const gpuexec_tensor_map *map) {
    static const gpuexec_tensor_map zero;
    return memcmp(map, &zero, sizeof zero) == 0;
}
/* The value is encoded, and is not zero. */
static gpuexec_tensor_map encoded(const scene *s, const gpuexec_tensor_map_desc *d) {
    gpuexec_tensor_map map;
    CHECK_OK(gpuexec_tensor_map_encode(s->ctx, d, &map));
    CHECK(!is_zero(&map));
    return map;
}
static int same(const gpuexec_tensor_map *a, const gpuexec_tensor_map *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* --- what is encoded -------------------------------------------------------------------------- */

TEST(all_types_and_ranks) {
    static const unsigned char bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
    scene s;
    unsigned type, rank, i;
    NEED_TENSOR_MAPS();
    s = begin();
    for (type = 0; type < sizeof bytes; type++)
        for (rank = 1; rank <= 5; rank++) {
            gpuexec_tensor_map_desc d;
            memset(&d, 0, sizeof d);
            d.type = (gpuexec_tensor_type)type;
            d.address = s.memory + 16;
            d.rank = rank;
            for (i = 0; i < rank; i++) {
                d.dims[i] = i ? 3 : 64;
                d.box[i] = i ? 2u : 16u / bytes[type];
            }
            d.swizzle = (gpuexec_swizzle)(type % 4);
            d.promotion = (gpuexec_l2_promotion)(rank % 4);
            d.fill_nan = type >= GPUEXEC_TENSOR_F16;
            encoded(&s, &d);
            if (rank < 3) continue;
            memset(d.box, 0, sizeof d.box);
            d.channels = 16 / bytes[type];
            d.pixels = 1024;
            d.lower[0] = -1;
            d.upper[rank - 3] = 1;
            encoded(&s, &d);
        }
    end(&s);
}
TEST(defaults) {
    scene s;
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map with, without;
    unsigned i;
    NEED_TENSOR_MAPS();
    s = begin();
    d = floats(&s);
    without = encoded(&s, &d);
    d.strides[0] = 64 * 4;
    d.strides[1] = 32 * 64 * 4;
    for (i = 0; i < 5; i++) d.element_strides[i] = 1;
    with = encoded(&s, &d);
    CHECK(same(&with, &without));
    d.strides[1] *= 2;
    with = encoded(&s, &d);
    CHECK(!same(&with, &without));
    end(&s);
}
/* Strides in any order, of one element, and of elements that overlap. */
TEST(strides) {
    scene s;
    gpuexec_tensor_map_desc d;
    NEED_TENSOR_MAPS();
    s = begin();
    d = floats(&s);
    d.strides[0] = 4 * 64 * 4; /* as 64 x 4 x 32 */
    d.strides[1] = 64 * 4;
    encoded(&s, &d);
    d.dims[2] = 1;
    d.strides[1] = 16;
    encoded(&s, &d);
    d = floats(&s);
    d.strides[0] = 16;
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &(gpuexec_tensor_map){ { 0 } }),
            GPUEXEC_BAD_ARGUMENT,
            "strides[0] is 16, less than the 256 bytes of the elements within it");
    d.overlap = 1;
    encoded(&s, &d);
    end(&s);
}
/* 64 pixels in a row, 32 rows, 4 slices of channels: dimension 0 counts slices. */
TEST(interleaved) {
    scene s;
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map map, packed;
    NEED_TENSOR_MAPS();
    s = begin();
    d = floats(&s);
    d.interleave = GPUEXEC_INTERLEAVE_16B;
    packed = encoded(&s, &d);
    d.strides[0] = 64 * 16;
    d.strides[1] = 32 * 64 * 16;
    map = encoded(&s, &d);
    CHECK(same(&map, &packed));
    d.interleave = GPUEXEC_INTERLEAVE_32B;
    d.swizzle = GPUEXEC_SWIZZLE_32B;
    d.strides[0] = d.strides[1] = 0;
    encoded(&s, &d);
    d.dims[2] = 32; /* 2 MiB */
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_BAD_ARGUMENT,
            "but the tensor has 2097152");
    end(&s);
}
TEST(another_address) {
    scene s;
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map map, there, before, none;
    gpuexec_ptr freed;
    NEED_TENSOR_MAPS();
    s = begin();
    d = floats(&s);
    map = encoded(&s, &d);
    d.address += 4096;
    there = encoded(&s, &d);
    CHECK_OK(gpuexec_tensor_map_replace_address(s.ctx, &map, d.address));
    CHECK(same(&map, &there));
    before = map;
    CHECK_REFUSED(gpuexec_tensor_map_replace_address(s.ctx, &map, 0), GPUEXEC_BAD_ARGUMENT,
            "the new address is the device address 0", "check the result of gpuexec_alloc");
    CHECK_REFUSED(gpuexec_tensor_map_replace_address(s.ctx, &map, s.memory + 8),
            GPUEXEC_BAD_ARGUMENT, "the new address is 0x", "; it must be a multiple of 16");
    CHECK_REFUSED(gpuexec_tensor_map_replace_address(s.ctx, NULL, s.memory), GPUEXEC_BAD_ARGUMENT,
            "map is NULL", "pass the address of a gpuexec_tensor_map");
    memset(&none, 0, sizeof none);
    CHECK_REFUSED(gpuexec_tensor_map_replace_address(s.ctx, &none, s.memory), GPUEXEC_BAD_ARGUMENT,
            "the map is 0: it was not encoded", "gpuexec_tensor_map_encode");
    freed = gpuexec_alloc(s.ctx, BYTES);
    CHECK_OK(gpuexec_free(freed));
    CHECK_REFUSED(gpuexec_tensor_map_replace_address(s.ctx, &map, freed), GPUEXEC_BAD_ARGUMENT,
            "the new address is 0x", "which was freed: ", "tensormap.c:");
    CHECK(same(&map, &before));
    d.interleave = GPUEXEC_INTERLEAVE_32B;
    d.swizzle = GPUEXEC_SWIZZLE_32B;
    map = before = encoded(&s, &d);
    CHECK_OK(gpuexec_tensor_map_replace_address(s.ctx, &map, s.memory + 16)); /* as on an H200 */
    CHECK(!same(&map, &before));
    end(&s);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void check_refused(const scene *s, const gpuexec_tensor_map_desc *d, int line,
        const char *message, const char *cure) {
    gpuexec_tensor_map map;
    char text[600];
    memset(&map, 0xff, sizeof map);
    snprintf(text, sizeof text, "gpuexec_tensor_map_desc.%s", message);
    test_result(__FILE__, line, gpuexec_tensor_map_encode(s->ctx, d, &map), GPUEXEC_BAD_ARGUMENT,
            message);
    test_same_text(__FILE__, line, gpuexec_error_detail()->message, text, "the message");
    test_same_text(__FILE__, line, gpuexec_error_detail()->cure, cure, "the cure");
    test_true(__FILE__, line, gpuexec_error_detail()->driver_result == 0, "no driver call");
    test_true(__FILE__, line, is_zero(&map), "the map is 0");
    test_result(__FILE__, line, gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT, "taken");
}
#define REFUSED(desc, change, message, cure) \
    do { \
        gpuexec_tensor_map_desc d = desc(&s); \
        change; \
        check_refused(&s, &d, __LINE__, message, cure); \
    } while (0)

/* These need no device: they are refused before any is queried. */
TEST(wrong_members) {
    scene s = begin();
    gpuexec_tensor_map map;
    gpuexec_tensor_map_desc desc = floats(&s);
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, NULL, &map), GPUEXEC_BAD_ARGUMENT,
            "the desc is NULL: the tensor is not known", "pass a gpuexec_tensor_map_desc");
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &desc, NULL), GPUEXEC_BAD_ARGUMENT,
            "map is NULL", "pass the address of a gpuexec_tensor_map");
    desc.end_canary = 7;
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &desc, &map), GPUEXEC_BAD_ARGUMENT,
            "the gpuexec_tensor_map_desc was not zero-initialized");
    REFUSED(floats, d.type = (gpuexec_tensor_type)16,
            "type is 16; the last valid value is GPUEXEC_TENSOR_U6_ALIGN16 (15)",
            "use a constant of the member's type");
    REFUSED(floats, d.interleave = (gpuexec_interleave)3,
            "interleave is 3; the last valid value is GPUEXEC_INTERLEAVE_32B (2)",
            "use a constant of the member's type");
    REFUSED(floats, d.swizzle = (gpuexec_swizzle)7,
            "swizzle is 7; the last valid value is GPUEXEC_SWIZZLE_128B_ATOM_64B (6)",
            "use a constant of the member's type");
    REFUSED(floats, d.promotion = (gpuexec_l2_promotion)4,
            "promotion is 4; the last valid value is GPUEXEC_L2_PROMOTION_256B (3)",
            "use a constant of the member's type");
    REFUSED(floats, d.rank = 0, "rank is 0; it must be 1 to 5",
            "set it to the number of dimensions");
    REFUSED(floats, d.rank = 6, "rank is 6; it must be 1 to 5",
            "join dimensions whose elements follow each other, or use several maps");
    REFUSED(floats, d.rank = 2; d.interleave = GPUEXEC_INTERLEAVE_16B,
            "rank is 2, but interleave is GPUEXEC_INTERLEAVE_16B, which needs a rank of 3 to 5",
            "use GPUEXEC_INTERLEAVE_NONE, or add dimensions of 1 element");
    REFUSED(floats, d.interleave = GPUEXEC_INTERLEAVE_32B; d.swizzle = GPUEXEC_SWIZZLE_64B,
            "swizzle is GPUEXEC_SWIZZLE_64B, but interleave is GPUEXEC_INTERLEAVE_32B, which needs "
            "GPUEXEC_SWIZZLE_32B",
            "use GPUEXEC_SWIZZLE_32B");
    REFUSED(floats, d.type = GPUEXEC_TENSOR_S32; d.fill_nan = 1,
            "fill_nan is 1, but elements of GPUEXEC_TENSOR_S32 have no NaN",
            "leave fill_nan at 0: elements outside of the tensor are then 0");
    REFUSED(floats, d.address = 0, "address is the device address 0",
            "check the result of gpuexec_alloc");
    REFUSED(floats, d.dims[1] = 0, "dims[1] is 0, but rank is 3",
            "set the number of elements of each dimension, and rank to their number");
    REFUSED(floats, d.dims[2] = 4294967297u, "dims[2] is 4294967297; it must be at most 4294967296",
            "use several maps");
    REFUSED(floats, d.element_strides[1] = 256, "element_strides[1] is 256; it must be 1 to 8",
            "set the bytes from one element to the next in strides; leave this at 0 to copy each "
            "element");
    end(&s);
}
TEST(wrong_addresses) {
    scene s = begin();
    gpuexec_tensor_map_desc d = floats(&s);
    gpuexec_tensor_map map;
    char text[300];
    const char *const cure = "begin at a multiple, and add the rest to the coordinates; "
                             "gpuexec_alloc returns aligned memory";
    d.address += 8;
    snprintf(text, sizeof text, "address is 0x%llx; it must be a multiple of 16", d.address);
    check_refused(&s, &d, __LINE__, text, cure);
    d.address += 8;
    d.interleave = GPUEXEC_INTERLEAVE_32B;
    d.swizzle = GPUEXEC_SWIZZLE_32B;
    snprintf(text, sizeof text,
            "address is 0x%llx; it must be a multiple of 32, because interleave is "
            "GPUEXEC_INTERLEAVE_32B",
            d.address);
    check_refused(&s, &d, __LINE__, text, cure);
    d = floats(&s);
    d.type = GPUEXEC_TENSOR_U4_ALIGN16;
    d.address += 16;
    snprintf(text, sizeof text,
            "address is 0x%llx; it must be a multiple of 32, because the elements are padded in "
            "shared memory",
            d.address);
    check_refused(&s, &d, __LINE__, text, cure);
    CHECK_REFUSED(gpuexec_tensor_map_encode((gpuexec_context){ 0 }, &d, &map), GPUEXEC_BAD_HANDLE,
            "the context");
    end(&s);
}
TEST(wrong_strides) {
    scene s = begin();
    REFUSED(floats, d.dims[0] = 9,
            "strides[0] is 0, but packed rows of 9 elements of GPUEXEC_TENSOR_F32 have 36 bytes; "
            "it must be a multiple of 16, such as 48",
            "pad the rows, as gpuexec_alloc_pitched does, and set strides[0]");
    REFUSED(floats, d.strides[0] = 264, "strides[0] is 264; it must be a multiple of 16",
            "strides are in bytes; pad the rows, as gpuexec_alloc_pitched does");
    REFUSED(floats, d.strides[0] = 64,
            "strides[0] is 64, less than the 256 bytes of the elements within it",
            "strides are in bytes, not in elements; if elements have the same memory on purpose, "
            "set overlap to 1");
    REFUSED(floats, d.strides[1] = 4096,
            "strides[1] is 4096, less than the 8192 bytes of the elements within it",
            "strides are in bytes, not in elements; if elements have the same memory on purpose, "
            "set overlap to 1");
    REFUSED(floats, d.strides[1] = 1099511627776u,
            "strides[1] is 1099511627776; it must be at most 1099511627775", "use several maps");
    REFUSED(floats, d.dims[1] = 4294967296u,
            "strides[1] is 0, but dims[1] times strides[0], 4294967296 times 256 bytes, is more "
            "than 1099511627775",
            "use several maps");
    REFUSED(floats, d.interleave = GPUEXEC_INTERLEAVE_16B; d.strides[0] = 64 * 4,
            "strides[0] is 256, less than the 1024 bytes of the elements within it",
            "strides are in bytes, not in elements; if elements have the same memory on purpose, "
            "set overlap to 1");
    REFUSED(floats, d.interleave = GPUEXEC_INTERLEAVE_32B; d.swizzle = GPUEXEC_SWIZZLE_32B;
            d.strides[0] = 48,
            "strides[0] is 48; it must be a multiple of 32, because interleave is "
            "GPUEXEC_INTERLEAVE_32B",
            "strides are in bytes; pad the rows, as gpuexec_alloc_pitched does");
    end(&s);
}
TEST(wrong_boxes) {
    scene s = begin();
    REFUSED(floats, d.box[0] = 0, "box[0] is 0; it must be 1 to 256",
            "set the number of elements that a copy takes");
    REFUSED(floats, d.box[1] = 0, "box[1] is 0; it must be 1 to 256",
            "set the number of elements of each dimension that a copy takes");
    REFUSED(floats, d.box[0] = 257, "box[0] is 257; it must be 1 to 256", "copy several boxes");
    REFUSED(floats, d.box[2] = 300, "box[2] is 300; it must be 1 to 256", "copy several boxes");
    REFUSED(floats, d.box[0] = 30,
            "box[0] is 30, of GPUEXEC_TENSOR_F32: 120 bytes; it must be a multiple of 16 bytes, "
            "which 4 elements have",
            "copy more elements, and ignore the rest");
    REFUSED(floats, d.swizzle = GPUEXEC_SWIZZLE_64B,
            "box[0] is 32, of GPUEXEC_TENSOR_F32: 128 bytes, but GPUEXEC_SWIZZLE_64B allows at "
            "most 64",
            "use a smaller box, or GPUEXEC_SWIZZLE_NONE");
    REFUSED(floats, d.pixels = 8, "pixels is 8, but channels is 0",
            "for im2col, set channels, too");
    REFUSED(floats, d.upper[1] = -1, "upper[1] is -1, but channels is 0",
            "for im2col, set channels and pixels, too");
    REFUSED(floats, d.channels = 16; d.rank = 2,
            "rank is 2, but channels is 16: im2col needs a rank of 3 to 5",
            "leave channels at 0 to copy boxes; for im2col, the dimensions are C, W, (H, (D,)) N");
    REFUSED(images, d.box[0] = 64, "box[0] is 64, but channels is 64: im2col has no box",
            "set box, or channels and pixels");
    REFUSED(images, d.pixels = 0, "pixels is 0; it must be 1 to 1024",
            "set the number of pixels that a copy takes");
    REFUSED(images, d.pixels = 1025, "pixels is 1025; it must be 1 to 1024",
            "set the number of pixels that a copy takes");
    REFUSED(images, d.channels = 512, "channels is 512; it must be 1 to 256", "copy several boxes");
    REFUSED(images, d.channels = 12,
            "channels is 12, of GPUEXEC_TENSOR_F16: 24 bytes; it must be a multiple of 16 bytes, "
            "which 8 elements have",
            "copy more elements, and ignore the rest");
    REFUSED(images, d.lower[1] = -129, "lower[1] is -129; with rank 4, it must be -128 to 127",
            "use the offsets of the first and the last pixel: for 3 x 3 filters, -1 and -1");
    REFUSED(images, d.rank = 3; d.upper[0] = 32768,
            "upper[0] is 32768; with rank 3, it must be -32768 to 32767",
            "use the offsets of the first and the last pixel: for 3 x 3 filters, -1 and -1");
    REFUSED(images, d.rank = 5; d.dims[4] = 1; d.lower[2] = 16,
            "lower[2] is 16; with rank 5, it must be -16 to 15",
            "use the offsets of the first and the last pixel: for 3 x 3 filters, -1 and -1");
    REFUSED(images, d.lower[1] = 3; d.upper[1] = -5,
            "lower[1] is 3 and upper[1] is -5, which leave none of the 8 elements of dims[2]",
            "upper is added to the last pixel, lower to the first");
    end(&s);
}
/* Elements of 4 and 6 bits. */
static gpuexec_tensor_map_desc packed(const scene *s) {
    gpuexec_tensor_map_desc d = floats(s);
    d.type = GPUEXEC_TENSOR_U6_ALIGN16;
    d.dims[0] = d.box[0] = 128;
    return d;
}
TEST(wrong_packed_elements) {
    scene s = begin();
    REFUSED(packed, d.dims[0] = 192,
            "dims[0] is 192; elements of GPUEXEC_TENSOR_U6_ALIGN16 need a multiple of 128",
            "pad the rows");
    REFUSED(packed, d.type = GPUEXEC_TENSOR_U4_ALIGN8; d.dims[0] = 33,
            "dims[0] is 33; elements of GPUEXEC_TENSOR_U4_ALIGN8 need a multiple of 2",
            "pad the rows");
    REFUSED(packed, d.box[0] = 64, "box[0] is 64; elements of GPUEXEC_TENSOR_U6_ALIGN16 need 128",
            "use 128");
    REFUSED(packed, d.interleave = GPUEXEC_INTERLEAVE_16B,
            "interleave is GPUEXEC_INTERLEAVE_16B, but elements of GPUEXEC_TENSOR_U6_ALIGN16 are "
            "never interleaved",
            "use GPUEXEC_INTERLEAVE_NONE");
    REFUSED(packed, d.swizzle = GPUEXEC_SWIZZLE_64B,
            "swizzle is GPUEXEC_SWIZZLE_64B, which elements of GPUEXEC_TENSOR_U6_ALIGN16 do not "
            "have",
            "use GPUEXEC_SWIZZLE_128B, or GPUEXEC_SWIZZLE_NONE");
    REFUSED(packed, d.strides[0] = 112,
            "strides[0] is 112; it must be a multiple of 32, because the elements are padded in "
            "shared memory",
            "strides are in bytes; pad the rows, as gpuexec_alloc_pitched does");
    end(&s);
}
TEST(what_compute_capability_10_has) {
    scene s;
    gpuexec_device_info info;
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map map;
    NEED_TENSOR_MAPS();
    CHECK_OK(gpuexec_device_get_info(0, &info));
    if (info.compute_capability >= 100) SKIP("this device has it");
    s = begin();
    d = packed(&s);
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_NOT_SUPPORTED,
            "gpuexec_tensor_map_desc.type is GPUEXEC_TENSOR_U6_ALIGN16, which needs compute "
            "capability 10.0; device 0 has 9.0",
            "use other types, or a swizzle of 16-byte atoms");
    d = floats(&s);
    d.swizzle = GPUEXEC_SWIZZLE_128B_ATOM_32B;
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_NOT_SUPPORTED,
            "gpuexec_tensor_map_desc.swizzle is GPUEXEC_SWIZZLE_128B_ATOM_32B, which needs compute "
            "capability 10.0; device 0 has 9.0");
    end(&s);
}
TEST(memory_that_is_too_small) {
    scene s;
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map map;
    gpuexec_ptr freed;
    char text[300];
    NEED_TENSOR_MAPS();
    s = begin();
    d = floats(&s);
    d.dims[2] = 128; /* 1 MiB */
    encoded(&s, &d);
    d.address += 64;
    snprintf(text, sizeof text,
            "gpuexec_tensor_map_desc.address is 0x%llx: only 1048512 bytes remain from there to "
            "the end of its allocation (1048576 bytes, allocated at ",
            d.address);
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_BAD_ARGUMENT, text,
            "tensormap.c:", "), but the tensor has 1048576",
            "check dims, which are in elements, and strides, which are in bytes");
    d.strides[0] = 512; /* the last row has no padding */
    d.dims[2] = 64;
    d.address = s.memory + 256;
    encoded(&s, &d);
    d.address += 16;
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_BAD_ARGUMENT,
            "only 1048304 bytes remain", "but the tensor has 1048320");
    d.address = s.memory;
    d.dims[1] = 4294967296u;
    d.strides[1] = 549755813888u;
    d.strides[0] = 1 << 30;
    d.overlap = 1;
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_BAD_ARGUMENT,
            "only 1048576 bytes remain");
    freed = gpuexec_alloc(s.ctx, BYTES);
    CHECK_OK(gpuexec_free(freed));
    d = floats(&s);
    d.address = freed;
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_tensor_map_desc.address is 0x",
            ", which was freed: ", "free memory only after the last call that uses it");
    end(&s);
}
TEST_ALONE(an_older_device) {
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map map;
    scene s;
    gpuexec_device_info info;
    setenv("SIMGPU_DEVICE_0", "75=8;76=6", 1);
    CHECK_OK(gpuexec_device_get_info(0, &info));
    if (info.compute_capability >= 90) SKIP("this device has tensor maps");
    if (gpuexec_driver_version() < 12000) SKIP("this driver has no tensor maps");
    s = begin();
    d = floats(&s);
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_NOT_SUPPORTED,
            "tensor maps need compute capability 9.0; device 0 has ",
            "on this device, copy with loads and stores, or with cp.async");
    CHECK(is_zero(&map));
    end(&s);
}
TEST_ALONE(an_older_driver) {
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map map;
    scene s;
    setenv("SIMGPU_DRIVER_VERSION", "11080", 1);
    if (gpuexec_driver_version() >= 12000) SKIP("this driver has tensor maps");
    s = begin();
    d = floats(&s);
    CHECK_REFUSED(gpuexec_tensor_map_encode(s.ctx, &d, &map), GPUEXEC_OLD_DRIVER,
            "tensor maps need a driver for CUDA 12.0 or later; this driver supports CUDA 11.8",
            "install a newer NVIDIA driver");
    memset(&map, 1, sizeof map);
    CHECK_REFUSED(gpuexec_tensor_map_replace_address(s.ctx, &map, s.memory), GPUEXEC_OLD_DRIVER,
            "tensor maps need a driver for CUDA 12.0 or later");
    end(&s);
}

/* --- arguments -------------------------------------------------------------------------------- */

/* The kernel's words must be the map's. */
static void check_words(const scene *s, const gpuexec_tensor_map *map) {
    gpuexec_tensor_map got;
    memset(&got, 0, sizeof got);
    CHECK_OK(gpuexec_copy_out(s->stream, &got, s->memory, sizeof got));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    CHECK(same(map, &got));
    CHECK_OK(gpuexec_fill(s->stream, s->memory, 0, 1, sizeof got));
}
/* nvcc aligns it to 64, from CUDA 13.0 on to 128. */
static void check_argument(unsigned alignment) {
    scene s = begin();
    char ptx[sizeof words_ptx + 16];
    gpuexec_kernel k;
    const gpuexec_dims dims = gpuexec_grid(1, 16, 0);
    /* at each alignment: a launch copies bytes */
    union {
        gpuexec_tensor_map first;
        unsigned long long words[32];
    } memory;
    gpuexec_params params = gpuexec_params_create();
    gpuexec_prepared prepared;
    unsigned char before = 7;
    unsigned long long i, *argument;
    snprintf(ptx, sizeof ptx, words_ptx, alignment);
    k = gpuexec_kernel_get(gpuexec_module_load(s.ctx, ptx, 0, NULL), "words");
    CHECK_MADE(k);
    for (i = 0; i < 32; i++) memory.words[i] = (i + 1) * 0x0101010101010101u;
    for (i = 0; i < 8; i++) {
        gpuexec_tensor_map *const map = (gpuexec_tensor_map *)(void *)&memory.words[i];
        CHECK_OK(gpuexec_launch(k, s.stream, dims, GPUEXEC_ARGS(before, *map, s.memory)));
        check_words(&s, map);
    }
    CHECK_OK(gpuexec_params_add(params, GPUEXEC_UCHAR, &before));
    CHECK_OK(gpuexec_params_add_struct(params, &memory.first, sizeof memory.first, alignment));
    CHECK_OK(gpuexec_params_add(params, GPUEXEC_POINTER, &s.memory));
    CHECK_EQ(gpuexec_params_offset(params, 1), alignment);
    CHECK_OK(gpuexec_launch(k, s.stream, dims, gpuexec_params_args(params)));
    check_words(&s, &memory.first);
    CHECK_OK(gpuexec_params_destroy(params));
    prepared = gpuexec_prepare(k, s.stream, dims, GPUEXEC_ARGS(before, memory.first, s.memory));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    check_words(&s, &memory.first);
    memory.words[3] = 3;
    argument = (unsigned long long *)gpuexec_prepared_argument(prepared, 1, sizeof memory.first);
    memcpy(argument, &memory.first, sizeof memory.first);
    CHECK_OK(gpuexec_launch_prepared(prepared));
    check_words(&s, &memory.first);
    CHECK_REFUSED(gpuexec_launch(k, s.stream, dims, GPUEXEC_ARGS(before, memory, s.memory)),
            GPUEXEC_BAD_PARAMETERS, "is 256 bytes, but the parameter is 128");
    CHECK_REFUSED(gpuexec_launch(k, s.stream, dims, GPUEXEC_ARGS(before, s.memory, s.memory)),
            GPUEXEC_BAD_PARAMETERS, "is 8 bytes, but the parameter is 128",
            "pass the struct itself, not its address");
    end(&s);
}
TEST(an_argument) {
    check_argument(64);
    check_argument(128);
}

/* --- copies ----------------------------------------------------------------------------------- */

/* One thread loads a box of 32 x 8 floats at (x, y, z) to shared memory, adds 1 to the first
   element, and stores the box at (x, y, z) of another tensor. */
static const char copies_ptx[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry copy(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128],\n"
        "    .param .u32 x, .param .u32 y, .param .u32 z)\n{\n"
        ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<5>; .reg .f32 %f;\n"
        ".shared .align 128 .b8 box[1024]; .shared .align 8 .b64 bar;\n"
        "mov.b64 %d1, from; cvta.param.u64 %d1, %d1; mov.b64 %d2, to; cvta.param.u64 %d2, %d2;\n"
        "ld.param.u32 %r1, [x]; ld.param.u32 %r2, [y]; ld.param.u32 %r3, [z];\n"
        "mov.u32 %r4, box; mov.u32 %r5, bar;\n"
        "mbarrier.init.shared::cta.b64 [%r5], 1; fence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r5], 1024;\n"
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\n"
        "    [%r4], [%d1, {%r1, %r2, %r3}], [%r5];\n"
        "wait: mbarrier.try_wait.parity.shared::cta.b64 %p, [%r5], 0; @!%p bra wait;\n"
        "ld.shared.f32 %f, [%r4]; add.f32 %f, %f, 0f3F800000; st.shared.f32 [%r4], %f;\n"
        "fence.proxy.async.shared::cta;\n"
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group\n"
        "    [%d2, {%r1, %r2, %r3}], [%r4];\n"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;\n}\n";

TEST(copies_of_boxes) {
    enum { N = 64 * 32 * 4 };
    scene s;
    gpuexec_tensor_map_desc d;
    gpuexec_tensor_map from, to;
    gpuexec_kernel k;
    gpuexec_ptr other;
    static float in[4][32][64], out[4][32][64];
    int i, x, y, z, wrong = 0;
    int at[3] = { 40, 28, 2 }; /* the box is partly outside */
    NEED_TENSOR_MAPS();
    s = begin();
    other = gpuexec_alloc(s.ctx, sizeof out);
    k = gpuexec_kernel_get(gpuexec_module_load(s.ctx, copies_ptx, 0, NULL), "copy");
    CHECK_MADE(k);
    for (i = 0; i < N; i++) (&in[0][0][0])[i] = (float)i;
    CHECK_OK(gpuexec_copy_in(s.stream, s.memory, in, sizeof in));
    CHECK_OK(gpuexec_fill(s.stream, other, 0, 1, sizeof out));
    d = floats(&s);
    from = encoded(&s, &d);
    to = from;
    CHECK_OK(gpuexec_tensor_map_replace_address(s.ctx, &to, other));
    CHECK_OK(gpuexec_launch(
            k, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(from, to, at[0], at[1], at[2])));
    CHECK_OK(gpuexec_copy_out(s.stream, out, other, sizeof out));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    in[2][28][40] += 1;
    for (z = 0; z < 4; z++)
        for (y = 0; y < 32; y++)
            for (x = 0; x < 64; x++)
                wrong += out[z][y][x] != (z == 2 && y >= 28 && x >= 40 ? in[z][y][x] : 0);
    CHECK_EQ(wrong, 0);
    end(&s);
}
