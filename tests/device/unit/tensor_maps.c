/* tensor_maps.c - the driver's own calls that make tensor maps, and what the CPU device says of a
   copy that an H200 takes for an illegal instruction. Which maps and copies work is compared with
   an H200's results in tests/device/boxes. */
#include "../../test.h"

enum { NO_CONTEXT = 201, INVALID = 1, NOT_SUPPORTED = 801, U32 = 2, ROW = 64 };

static driver_calls cu;
static void *context;
static gpuexec_ptr memory;

typedef struct tensor_map {
    uint64_t words[16];
} tensor_map;
static unsigned char room[4 * sizeof(tensor_map)];
static tensor_map *aligned_map(unsigned k) {
    unsigned char *first = room + (64 - (uintptr_t)room % 64) % 64;
    return (tensor_map *)(void *)(first + k * sizeof(tensor_map));
}

/* A tensor of 64 x 64 integers of 32 bits, with boxes of 16 x 4. */
static int encode(void *map, gpuexec_ptr address) {
    const uint64_t dims[] = { ROW, ROW }, stride = 4 * ROW;
    const uint32_t box[] = { 16, 4 }, steps[] = { 1, 1 };
    return cu.cuTensorMapEncodeTiled(
            map, U32, 2, (void *)(uintptr_t)address, dims, &stride, box, steps, 0, 0, 0, 0);
}

static int begin(void) {
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    if (!cu.cuTensorMapEncodeTiled) return 0;
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&memory, 2 * 4 * ROW * ROW), 0);
    return 1;
}
static void end(void) {
    CHECK_EQ(cu.cuMemFree_v2(memory), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}

TEST(an_encoding_needs_a_context) {
    if (!begin()) SKIP("this driver has no tensor maps");
    CHECK_EQ(cu.cuCtxSetCurrent(NULL), 0);
    CHECK_EQ(encode(aligned_map(0), memory), NO_CONTEXT);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(encode(aligned_map(0), memory), 0);
    CHECK_EQ(encode((unsigned char *)aligned_map(0) + 32, memory), 0); /* as on an H200 */
    CHECK_EQ(encode(NULL, memory), INVALID);
    end();
}

TEST(another_address) {
    tensor_map *a = aligned_map(0), *b = aligned_map(1);
    if (!begin()) SKIP("this driver has no tensor maps");
    CHECK_EQ(encode(a, memory), 0);
    CHECK_EQ(encode(b, memory + 4 * ROW * ROW), 0);
    CHECK(memcmp(a, b, sizeof *a) != 0);
    CHECK_EQ(cu.cuTensorMapReplaceAddress(a, (void *)(uintptr_t)(memory + 4 * ROW * ROW)), 0);
    CHECK(memcmp(a, b, sizeof *a) == 0);
    CHECK_EQ(cu.cuTensorMapReplaceAddress(a, (void *)(uintptr_t)(memory + 8)), INVALID);
    CHECK(memcmp(a, b, sizeof *a) == 0);
    end();
}

TEST(wide_im2col_needs_a_newer_device) {
    const uint64_t dims[] = { ROW, ROW, 2 }, strides[] = { 4 * ROW, 4 * ROW * ROW };
    const uint32_t steps[] = { 1, 1, 1 };
    if (!on_cpu_device()) SKIP("which error a driver returns is not known");
    if (!begin() || !cu.cuTensorMapEncodeIm2colWide) SKIP("this driver has no such maps");
    CHECK_EQ(cu.cuTensorMapEncodeIm2colWide(aligned_map(0), U32, 3, (void *)(uintptr_t)memory, dims,
                     strides, 0, 0, 16, 8, steps, 0, 0, 3, 0, 0),
            NOT_SUPPORTED);
    end();
}

/* store(map, x, y): a box of zeros */
static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry store(.param .align 64 .b8 map[128], .param .u32 x, .param .u32 y) {\n"
        ".reg .b32 %x, %y, %s;\n.reg .b64 %m;\n"
        ".shared .align 128 .b8 box[256];\n"
        "ld.param.u32 %x, [x];\nld.param.u32 %y, [y];\n"
        "mov.b64 %m, map;\ncvta.param.u64 %m, %m;\nmov.u32 %s, box;\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {%x, %y}], [%s];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";

static struct {
    int x, y, is_map;
    const char *said;
} wrong[] = {
    { 3, 0, 1, "copy of a tensor: the innermost coordinate 3 is not at a multiple of 16 bytes" },
    { 4, -1, 1, "copy of a tensor: a store to the negative coordinate -1" },
    { 0, 0, 0, "copy of a tensor: there is no tensor map at the address" },
};
static unsigned which;

static void store_wrong(void) {
    tensor_map map = { { 0 } };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel store;
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL);
    if (!begin()) return;
    CHECK_EQ(encode(aligned_map(0), memory), 0);
    if (wrong[which].is_map) map = *aligned_map(0);
    store = gpuexec_kernel_get(gpuexec_module_load(ctx, text, sizeof text, NULL), "store");
    CHECK_OK(gpuexec_launch(store, stream, gpuexec_grid(1, 1, 0),
            GPUEXEC_ARGS(map, wrong[which].x, wrong[which].y)));
    CHECK(gpuexec_stream_sync(stream) == GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), wrong[which].said);
    gpuexec_take_error();
}

static int plays_old_driver(void) {
    const char *version = getenv("SIMGPU_DRIVER_VERSION");
    return version && atoi(version) < 12000;
}

TEST_ALONE(what_is_wrong_is_reported) {
    if (!on_cpu_device()) SKIP("a GPU does not say what is wrong");
    if (plays_old_driver()) SKIP("the kernel needs a driver of CUDA 12.0");
    for (which = 0; which < sizeof wrong / sizeof *wrong; which++) CHECK(run_child(store_wrong));
}
