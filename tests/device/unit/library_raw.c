/* library_raw.c - libraries and kernels of the driver API, which need no context. The probe
   compares their results with an H200's; here is what they do: kernels in several contexts, from
   several threads, of files and linked images. */
#include "../../test.h"

enum {
    INVALID_PTX = 218,
    CONTEXT_IS_DESTROYED = 709,
    INVALID_HANDLE = 400,
    NOT_SUPPORTED = 801,
    MAX_DYNAMIC = 8
};
typedef unsigned long long ptr; /* CUdeviceptr */

/* name, version, parameters */

static driver_calls cu;

/* Returns 0 if the driver has no libraries. */
static int start(void) {
    cu = calls_find();
    return gpuexec_device_count() > 0 && cu.cuLibraryLoadData != NULL;
}
#define START() \
    if (!start()) SKIP("needs a driver for CUDA 12.0")

static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .u32 total = "
        "100;\n"
        ".visible .entry add(.param .u32 by) {\n"
        "    .reg .u32 %r; ld.param.u32 %r, [by]; red.global.add.u32 [total], %r; ret;\n}\n"
        ".visible .entry nop() { ret; }\n";

static int load(void **library, const void *image) {
    return cu.cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0);
}
static void *kernel(void *library, const char *name) {
    void *k = NULL;
    CHECK_EQ(cu.cuLibraryGetKernel(&k, library, name), 0);
    return k;
}
static int add(void *k, uint32_t by, unsigned blocks) {
    void *params[1];
    params[0] = &by;
    return cu.cuLaunchKernel(k, blocks, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}
static uint32_t total(void *library) {
    ptr p = 0;
    uint32_t value = 0;
    CHECK_EQ(cu.cuLibraryGetGlobal(&p, NULL, library, "total"), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&value, p, sizeof value), 0);
    return value;
}

TEST(a_kernel_runs_in_each_context_with_its_own_variables) {
    void *library = NULL, *k, *first = NULL, *second = NULL;
    START();
    CHECK_EQ(load(&library, text), 0);
    k = kernel(library, "add");
    CHECK(cu.cuDevicePrimaryCtxRetain(&first, 0) == 0 && cu.cuCtxSetCurrent(first) == 0);
    CHECK_EQ(add(k, 1, 2), 0);
    CHECK_EQ(total(library), 164);
    CHECK_EQ(cu.cuCtxCreate_v2(&second, 0, 0), 0);
    CHECK_EQ(total(library), 100);
    CHECK_EQ(add(k, 2, 1), 0);
    CHECK_EQ(total(library), 164);
    CHECK_EQ(add(k, 1, 1), 0);
    CHECK_EQ(total(library), 196);
    CHECK_EQ(cu.cuCtxDestroy_v2(second), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(first), 0);
    CHECK_EQ(total(library), 164);
    CHECK_EQ(cu.cuLibraryUnload(library), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(NULL), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}

/* Of linked images and files. */
TEST(other_images) {
    static const char missing[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .global .align 4 .u32 total;\n"
            ".visible .entry sub() { red.global.add.u32 [total], -1; ret; }\n";
    void *context = NULL, *state = NULL, *image = NULL, *library = NULL, *from_file = NULL;
    size_t bytes = 0;
    char path[] = "/tmp/gpuexec-library-XXXXXX";
    int file = mkstemp(path);
    START();
    CHECK(file >= 0 && write(file, text, sizeof text - 1) == (int)sizeof text - 1 &&
            close(file) == 0);
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, 0) == 0 && cu.cuCtxSetCurrent(context) == 0);
    CHECK_EQ(cu.cuLinkCreate_v2(0, NULL, NULL, &state), 0);
    CHECK_EQ(
            cu.cuLinkAddData_v2(state, 1, (void *)(uintptr_t)text, sizeof text, "a", 0, NULL, NULL),
            0);
    CHECK_EQ(cu.cuLinkAddData_v2(
                     state, 1, (void *)(uintptr_t)missing, sizeof missing, "b", 0, NULL, NULL),
            0);
    CHECK_EQ(cu.cuLinkComplete(state, &image, &bytes), 0);
    CHECK_EQ(load(&library, image), 0);
    CHECK_EQ(cu.cuLinkDestroy(state), 0); /* the library has its copy */
    CHECK_EQ(add(kernel(library, "add"), 3, 1), 0);
    CHECK_EQ(cu.cuLaunchKernel(kernel(library, "sub"), 1, 1, 1, 6, 1, 1, 0, NULL, NULL, NULL), 0);
    CHECK_EQ(total(library), 190);
    CHECK_EQ(cu.cuLibraryLoadFromFile(&from_file, path, NULL, NULL, 0, NULL, NULL, 0), 0);
    unlink(path);
    CHECK_EQ(add(kernel(from_file, "add"), 1, 1), 0);
    CHECK_EQ(total(from_file), 132);
    CHECK(cu.cuLibraryUnload(library) == 0 && cu.cuLibraryUnload(from_file) == 0);
    CHECK_EQ(cu.cuCtxSetCurrent(NULL), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 8, TIMES = 25 };
static void *shared_library, *shared_context;

static void *first_to_launch(void *unused) {
    void *k = NULL;
    (void)unused;
    CHECK_EQ(cu.cuCtxSetCurrent(shared_context), 0);
    CHECK_EQ(cu.cuLibraryGetKernel(&k, shared_library, "add"), 0);
    CHECK_EQ(add(k, 1, 1), 0);
    return NULL;
}
TEST(threads_launch_a_kernel_for_the_first_time) {
    pthread_t threads[THREADS];
    int i, round;
    START();
    CHECK(cu.cuDevicePrimaryCtxRetain(&shared_context, 0) == 0 &&
            cu.cuCtxSetCurrent(shared_context) == 0);
    for (round = 0; round < TIMES; round++) {
        CHECK_EQ(load(&shared_library, text), 0);
        for (i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, first_to_launch, NULL) == 0);
        for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
        CHECK_EQ(total(shared_library), 100 + 32 * THREADS);
        CHECK_EQ(cu.cuLibraryUnload(shared_library), 0);
    }
    CHECK_EQ(cu.cuCtxSetCurrent(NULL), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}

/* A GPU's driver does not survive this; here every call fails in an orderly way. No launch: a
   kernel that runs while its variables are unloaded is error 700. */
static void *use_until_it_is_gone(void *unused) {
    void *k = NULL, *m = NULL, *context = NULL;
    int value = 0, result;
    ptr p = 0;
    (void)unused;
    CHECK_EQ(cu.cuCtxCreate_v2(&context, 0, 0), 0);
    do {
        if ((result = cu.cuLibraryGetKernel(&k, shared_library, "add"))) break;
        if ((result = cu.cuKernelSetAttribute(MAX_DYNAMIC, 1000, k, 0))) break;
        if ((result = cu.cuKernelGetAttribute(&value, MAX_DYNAMIC, k, 0))) break;
        if ((result = cu.cuLibraryGetGlobal(&p, NULL, shared_library, "total"))) break;
    } while (!(result = cu.cuLibraryGetModule(&m, shared_library)));
    CHECK_EQ(result, INVALID_HANDLE);
    CHECK_EQ(cu.cuCtxDestroy_v2(context), 0);
    return NULL;
}
TEST(a_library_is_unloaded_while_threads_use_it) {
    pthread_t threads[THREADS];
    int i, round;
    if (!on_cpu_device() || test_strict()) SKIP("undefined on a GPU");
    START();
    for (round = 0; round < TIMES; round++) {
        CHECK_EQ(load(&shared_library, text), 0);
        for (i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, use_until_it_is_gone, NULL) == 0);
        test_sleep_ms(round % 5); /* not order: any moment must do */
        CHECK_EQ(cu.cuLibraryUnload(shared_library), 0);
        for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    }
}

/* --- the CPU device --------------------------------------------------------------------------- */

/* A kernel that it does not support fails when it is needed, and only that kernel. */
TEST(one_kernel_is_not_supported) {
    static const char two[] =
            ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .global .align 4 .u32 total "
            "= 100;\n"
            ".visible .entry add(.param .u32 by) {\n"
            "    .reg .u32 %r; ld.param.u32 %r, [by]; red.global.add.u32 [total], %r; ret;\n}\n"
            ".visible .entry tensors() { wgmma.fence.sync.aligned; ret; }\n";
    void *context = NULL, *library = NULL, *module = NULL, *f = NULL, *bad;
    int value = 0;
    if (!on_cpu_device()) SKIP("a GPU supports all of them");
    START();
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, 0) == 0 && cu.cuCtxSetCurrent(context) == 0);
    CHECK_EQ(load(&library, two), 0);
    bad = kernel(library, "tensors");
    CHECK_EQ(cu.cuKernelGetAttribute(&value, 0, bad, 0), INVALID_PTX);
    CHECK_EQ(cu.cuKernelGetFunction(&f, bad), INVALID_PTX);
    CHECK_EQ(cu.cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), INVALID_PTX);
    CHECK_EQ(cu.cuLibraryGetModule(&module, library), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&f, module, "tensors"), INVALID_PTX);
    CHECK_EQ(cu.cuModuleGetFunction(&f, module, "add"), 0);
    CHECK_EQ(add(f, 1, 1), 0);
    CHECK_EQ(total(library), 132);
    CHECK_EQ(cu.cuLibraryUnload(library), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(NULL), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}

TEST_ALONE(numbers_of_parameters) {
    void *context = NULL, *library = NULL, *k, *f = NULL;
    size_t count = 77;
    if (!on_cpu_device()) SKIP("needs a driver for CUDA 13.2");
    CHECK(setenv("SIMGPU_DRIVER_VERSION", "13020", 1) == 0);
    START();
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, 0) == 0 && cu.cuCtxSetCurrent(context) == 0);
    CHECK_EQ(load(&library, text), 0);
    k = kernel(library, "add");
    CHECK(cu.cuKernelGetParamCount(k, &count) == 0 && count == 1);
    CHECK(cu.cuKernelGetFunction(&f, kernel(library, "nop")) == 0);
    CHECK(cu.cuFuncGetParamCount(f, &count) == 0 && count == 0);
    CHECK_EQ(cu.cuFuncGetParamCount(k, &count), INVALID_HANDLE);
    CHECK(cu.cuKernelGetParamCount(k, NULL) == 1 && cu.cuKernelGetParamCount(NULL, &count) == 1);
}
