/* capability.c - CPU devices of other compute capabilities: what they report, which PTX they run,
   and how much a block and a multiprocessor have. */
#include "../../test.h"
#include <unistd.h>

/* CUdevice_attribute, in the order of struct device */
enum {
    MAJOR = 75,
    MINOR,
    SM_THREADS = 39,
    SM_BLOCKS = 106,
    SM_SHARED = 81,
    BLOCK_SHARED = 97,
    RESERVED_SHARED = 111,
    CLUSTERS = 120,
    DOMAINS = 126
};
enum { NOT_SUPPORTED = 801, INVALID_PTX = 218, INVALID_VALUE = 1 };

static const struct device {
    const char *capability;
    int sm, threads, blocks, sm_shared, block_shared, reserved, clusters, domains;
    const char *runs, *refuses; /* .target */
} devices[] = {
    { "7.5", 75, 1024, 16, 64, 64, 0, 0, 1, "sm_52 sm_70 sm_75", "sm_80 sm_90 sm_90a sm_100" },
    { "8.0", 80, 2048, 32, 164, 163, 1, 0, 1, "sm_75 sm_80", "sm_86 sm_88 sm_90a sm_130" },
    { "8.6", 86, 1536, 16, 100, 99, 1, 0, 1, "sm_80 sm_86", "sm_87 sm_89" },
    { "8.7", 87, 1536, 16, 164, 163, 1, 0, 1, "sm_86 sm_87", "sm_88" },
    { "8.9", 89, 1536, 24, 100, 99, 1, 0, 1, "sm_86 sm_88 sm_89", "sm_90 sm_90a" },
    { "9.0", 90, 2048, 32, 228, 227, 1, 1, 4, "sm_89 sm_90 sm_90a",
            "sm_100 sm_100a sm_100f sm_101 sm_103 sm_103a sm_103f sm_110 sm_110a sm_110f sm_120 "
            "sm_120a sm_120f sm_121 sm_121a sm_121f sm_130 sm_90f sm_89a" },
    { "10.0", 100, 2048, 32, 228, 227, 1, 1, 4, "sm_90 sm_100 sm_100a sm_100f",
            "sm_90a sm_101 sm_103 sm_103a sm_103f sm_120f" },
    { "10.3", 103, 2048, 32, 228, 227, 1, 1, 4, "sm_100 sm_100f sm_101 sm_103 sm_103a sm_103f",
            "sm_100a sm_101a sm_101f sm_110 sm_90a" },
    { "11.0", 110, 1536, 24, 228, 227, 1, 1, 4, "sm_101a sm_101f sm_103 sm_110 sm_110a sm_110f",
            "sm_90a sm_100f sm_103f sm_103a sm_120" },
    { "12.0", 120, 1536, 24, 100, 99, 1, 1, 4, "sm_90 sm_110 sm_120 sm_120a sm_120f",
            "sm_90a sm_100f sm_110f sm_121 sm_121f" },
    { "12.1", 121, 1536, 24, 100, 99, 1, 1, 4, "sm_120 sm_120f sm_121 sm_121a sm_121f",
            "sm_90a sm_120a sm_110f sm_130" },
};
static const struct device *device;
static driver_calls cu;

/* CUlaunchConfig with one CUlaunchAttribute */
typedef struct attributes {
    int id, padding;
    unsigned blocks[16];
} attributes;
typedef struct config {
    gpuexec_dims dims;
    void *stream;
    attributes *attributes;
    unsigned count;
} config;

static int attribute(int number) {
    int value = -1;
    CHECK_OK(gpuexec_device_get_attribute(0, number, &value));
    return value;
}

/* ---- what it reports ---- */

static void reports(void) {
    char target[16];
    gpuexec_device_info info;
    CHECK_OK(gpuexec_device_get_info(0, &info));
    CHECK_EQ(info.compute_capability, device->sm);
    CHECK_EQ(attribute(MAJOR) * 10 + attribute(MINOR), device->sm);
    CHECK_EQ(attribute(SM_THREADS), device->threads);
    CHECK_EQ(attribute(SM_BLOCKS), device->blocks);
    CHECK_EQ(attribute(SM_SHARED), device->sm_shared << 10);
    CHECK_EQ(attribute(BLOCK_SHARED), device->block_shared << 10);
    CHECK_EQ(attribute(RESERVED_SHARED), device->reserved << 10);
    CHECK_EQ(attribute(CLUSTERS), device->clusters);
    CHECK_EQ(attribute(DOMAINS), device->domains);
    snprintf(target, sizeof target, "capability %s", device->capability);
    if (device->sm != 90) CHECK_TEXT(info.name, "simgpu CPU device (not a GPU)", target);
}

/* ---- which PTX it runs ---- */

static gpuexec_module load(gpuexec_context ctx, const char *target, size_t n) {
    char text[200];
    snprintf(text, sizeof text,
            ".version 9.0\n.target %.*s\n.address_size 64\n.visible .entry k() { ret; }\n", (int)n,
            target);
    return gpuexec_module_load(ctx, text, 0, NULL);
}

static void runs(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const char *p;
    size_t n;
    for (p = device->runs; *p; p += n, p += *p == ' ') {
        n = strcspn(p, " ");
        CHECK_MADE(load(ctx, p, n));
    }
    for (p = device->refuses; *p; p += n, p += *p == ' ') {
        char target[16];
        n = strcspn(p, " ");
        snprintf(target, sizeof target, "%.*s", (int)n, p);
        load(ctx, p, n);
        CHECK(gpuexec_take_error() != GPUEXEC_OK);
        CHECK_TEXT(gpuexec_error_text(), target, "CUDA_ERROR_INVALID_PTX");
    }
    CHECK_OK(gpuexec_context_close(ctx));
}

/* ---- how much it has ---- */

static const char text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n.extern .shared .b8 all[];\n"
        ".visible .entry k() { .reg .b32 %a; mov.u32 %a, all; st.shared.u32 [%a], %a; ret; }\n";

static void has(void) {
    enum { THREADS = 512, CLUSTER_DIMENSION = 4 };
    const int block_shared = device->block_shared << 10;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(gpuexec_module_load(ctx, text, 0, NULL), "k");
    struct CUfunc_st *const function = gpuexec_kernel_native(kernel);
    attributes cluster;
    config c;
    int blocks = 0;
    cu = calls_find();
    CHECK_OK(gpuexec_context_set_current(ctx));
    CHECK_EQ(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, THREADS, 0), 0);
    CHECK_EQ(blocks, device->threads / THREADS);
    CHECK_EQ(cu.cuFuncSetAttribute(function, 8, block_shared + 1), INVALID_VALUE);
    CHECK_EQ(cu.cuFuncSetAttribute(function, 8, block_shared), 0);
    CHECK_EQ(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                     &blocks, function, 32, (size_t)block_shared),
            0);
    CHECK_EQ(blocks, 1);
    memset(&c, 0, sizeof c);
    memset(&cluster, 0, sizeof cluster);
    c.dims = gpuexec_grid(4, 32, (unsigned)block_shared);
    c.attributes = &cluster;
    CHECK_EQ(cu.cuLaunchKernelEx(&c, function, NULL, NULL), 0);
    c.count = 1;
    cluster.id = CLUSTER_DIMENSION;
    cluster.blocks[0] = 2;
    cluster.blocks[1] = cluster.blocks[2] = 1;
    CHECK_EQ(cu.cuLaunchKernelEx(&c, function, NULL, NULL), device->clusters ? 0 : NOT_SUPPORTED);
    CHECK_OK(gpuexec_context_sync(ctx));
    CHECK_OK(gpuexec_context_close(ctx));
}

static void on_each(void (*check)(void)) {
    unsigned i;
    setenv("SIMGPU_DRIVER_VERSION", "13000", 1);
    unsetenv("SIMGPU_DEVICE_0");
    for (i = 0; i < sizeof devices / sizeof *devices; i++) {
        device = &devices[i];
        setenv("SIMGPU_CAPABILITY", device->capability, 1);
        if (!CHECK(run_child(check))) printf("  with %s\n", device->capability);
    }
}
TEST_ALONE(what_each_reports) {
    if (!on_cpu_device()) SKIP("a GPU has one compute capability");
    on_each(reports);
}
TEST_ALONE(which_ptx_each_runs) {
    if (!on_cpu_device()) SKIP("a GPU has one compute capability");
    on_each(runs);
}
TEST_ALONE(how_much_each_has) {
    if (!on_cpu_device()) SKIP("a GPU has one compute capability");
    on_each(has);
}

/* ---- the log, in the words of ptxas 13.0; the setting ---- */

static void check_no_such(const char *target) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(load(ctx, target, strlen(target)), GPUEXEC_BAD_IMAGE, "does not compile",
            "Unsupported .target");
    CHECK_OK(gpuexec_context_close(ctx));
}
static void check_log(const char *target, const char *says, const char *cure) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(load(ctx, target, strlen(target)), GPUEXEC_IMAGE_TOO_NEW, says, cure,
            "device 0 has compute capability 12.0");
    CHECK_OK(gpuexec_context_close(ctx));
}
TEST_ALONE(why_it_does_not_run) {
    if (!on_cpu_device()) SKIP("a GPU has one compute capability");
    setenv("SIMGPU_DRIVER_VERSION", "13000", 1);
    setenv("SIMGPU_CAPABILITY", "12.0", 1);
    check_log("sm_121", "SM version specified by .target is higher", "-arch=compute_120");
    check_log("sm_121a", "is PTX for .target sm_121a",
            "-arch=compute_120; what is compiled for sm_121a runs on compute capability 12.1 only");
    check_log("sm_130", "Unsupported .target 'sm_130'", "-arch=compute_120");
    check_log("sm_90a", "Program with .target 'sm_90a' cannot be compiled to future architecture",
            "what is compiled for sm_90a runs on compute capability 9.0 only");
    check_log("sm_100f",
            "Program with .target 'sm_100f' cannot be compiled to different SM-family architecture",
            "runs on compute capability 10.0 and higher 10.x only");
    check_no_such("sm_90f");
    check_no_such("sm_89a");
}

TEST_ALONE(not_a_capability) {
    static char said[1000];
    FILE *file = tmpfile();
    const int before = dup(2);
    if (!on_cpu_device()) SKIP("a GPU has one compute capability");
    setenv("SIMGPU_CAPABILITY", "9.5", 1);
    if (!CHECK(file != NULL)) return;
    fflush(stderr);
    dup2(fileno(file), 2);
    CHECK_EQ(attribute(MAJOR), 9);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    CHECK_STRING(said,
            "simgpu: SIMGPU_CAPABILITY=9.5 is not 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, "
            "12.0 or 12.1; using 9.0\n");
    CHECK_EQ(attribute(MINOR), 0);
}
