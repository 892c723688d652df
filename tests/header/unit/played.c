/* played.c - results that a driver can return, but none available here returns: functions of the
   test replace its entry points, until the shutdown after each test. */
#include "../../test.h"

static gpuexec_kernel filling_shared(gpuexec_context ctx) {
    return gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, FAULTS_PTX, NULL), "fill_dynamic_shared");
}

/* --- devices and contexts --------------------------------------------------------------------- */

static int answer;

static int GXI_CUDA retain(struct CUctx_st **context, int device) {
    (void)context;
    (void)device;
    return answer;
}

TEST(a_device_that_is_gone) {
    CHECK(gpuexec_device_count() > 0);
    gxi.cu.cuDevicePrimaryCtxRetain = retain;
    answer = GXI_INVALID_DEVICE;
    CHECK_NOT_MADE(gpuexec_context_open(0, NULL), GPUEXEC_NO_DEVICE,
            "cannot open the primary context of device 0", "(101)");
    answer = GXI_OUT_OF_MEMORY;
    CHECK_NOT_MADE(gpuexec_context_open(0, NULL), GPUEXEC_OUT_OF_DEVICE_MEMORY, "cannot open",
            "another process may be using the device's memory");
}

static int GXI_CUDA half_of_a_limit(size_t *value, int limit) {
    (void)limit;
    *value = 512;
    return 0;
}

static int GXI_CUDA set_any_limit(int limit, size_t value) {
    (void)limit;
    (void)value;
    return 0;
}

TEST(a_limit_that_is_cut) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gxi.cu.cuCtxSetLimit = set_any_limit;
    gxi.cu.cuCtxGetLimit = half_of_a_limit;
    CHECK_REFUSED(gpuexec_context_set_limit_at(NULL, ctx, GPUEXEC_LIMIT_STACK, 1024),
            GPUEXEC_BAD_ARGUMENT,
            "gpuexec_context_set_limit: cannot set limit STACK to 1024: device 0 allows at most "
            "512",
            "request less");
    CHECK_OK(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_STACK, 512));
}

/* --- streams and memory ----------------------------------------------------------------------- */

TEST(a_stream_of_another_context) {
    setting t = set_up_on(0, UNIT_PTX, "count", 4096);
    gpuexec_context other = gpuexec_context_create(0, NULL);
    gpuexec_stream wrong = gpuexec_stream_from_native(other, gpuexec_stream_native(t.stream));
    CHECK_NOT_MADE(wrong, GPUEXEC_WRONG_CONTEXT, "belongs to the context opened at",
            "but the context passed is", "adopt the stream with the context that it belongs to");
    CHECK_FAILED(gpuexec_stream_sync(wrong), GPUEXEC_WRONG_CONTEXT,
            "; because of this, gpuexec_stream_from_native at ", " did not create the stream");
}

static int GXI_CUDA a_kernel_has_failed(struct CUstream_st *stream) {
    (void)stream;
    return answer;
}

/* The copy may have failed, or a kernel of another thread: the driver does not say which. */
TEST(checked_copies_after_which_the_driver_reports_a_fault) {
    gpuexec_setup_desc desc = { 0 };
    setting t;
    desc.check = 1;
    CHECK_OK(gpuexec_setup(&desc));
    t = set_up_on(0, UNIT_PTX, "count", 4096);
    gxi.cu.cuStreamSynchronize = a_kernel_has_failed;
    answer = GXI_OUT_OF_MEMORY;
    CHECK_REFUSED(gpuexec_fill(t.stream, t.data, 0, 1, 64), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "gpuexec_fill: cannot wait for the work of this call");
    answer = GXI_LAUNCH_FAILED;
    CHECK_REFUSED(gpuexec_fill(t.stream, t.data, 0, 1, 64), GPUEXEC_KERNEL_FAILED,
            "gpuexec_fill: the copy or fill enqueued by this call, or a kernel that ran at the "
            "same time, "
            "was stopped by a trap");
    CHECK_EQ(gpuexec_error_detail()->asynchronous, 0);
    CHECK_EQ(gpuexec_error_detail()->sticky, 1);
}

TEST(more_memory_than_there_can_be) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t pitch = 7;
    CHECK_EQ(gpuexec_alloc(ctx, SIZE_MAX / 2), 0);
    CHECK_FAILED(
            gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY, "bytes exceed any device's memory");
    CHECK_EQ(gpuexec_alloc_pitched(ctx, SIZE_MAX / 4, 8, 4, &pitch), 0);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY, "8 rows of",
            "exceed any device's memory");
    CHECK_EQ(gpuexec_alloc_pitched(ctx, 8, SIZE_MAX / 4, 4, &pitch), 0);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY, "exceed any device's memory");
}

/* Another thread frees it after the lookup in the table and before its removal: simulated by a
   driver call in between that frees it. */
static gpuexec_ptr freed_meanwhile;
static int(GXI_CUDA *real_current)(struct CUctx_st **context);
static int GXI_CUDA free_meanwhile(struct CUctx_st **context) {
    gpuexec_ptr p = freed_meanwhile;
    freed_meanwhile = 0;
    if (p) CHECK_OK(gpuexec_free(p));
    return real_current(context);
}
TEST(freed_twice_at_once) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 64);
    real_current = gxi.cu.cuCtxGetCurrent;
    gxi.cu.cuCtxGetCurrent = free_meanwhile;
    freed_meanwhile = p;
    CHECK_FAILED(
            gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, "was freed by another thread at the same time");
    CHECK_EQ(freed_meanwhile, 0);
}

/* --- launches --------------------------------------------------------------------------------- */

static int GXI_CUDA any_attribute(struct CUfunc_st *function, int which, int value) {
    (void)function;
    (void)which;
    (void)value;
    return 0;
}

static int GXI_CUDA no_attribute(struct CUfunc_st *function, int which, int value) {
    (void)function;
    (void)which;
    (void)value;
    return GXI_INVALID_VALUE;
}

TEST(shared_memory_that_is_not_given) {
    setting t = set_up_on(0, UNIT_PTX, "count", 4096);
    uint32_t words = 15000;
    gpuexec_dims large = gpuexec_grid(1, 64, 60000);
    gpuexec_device_info d;
    gpuexec_prepared p;
    gpuexec_kernel shared = filling_shared(t.ctx);
    CHECK_OK(gpuexec_device_get_info(0, &d));
    if (d.shared_per_block_optin < 60000)
        SKIP("this device has less than 60000 bytes of shared memory per block");
    p = gpuexec_prepare(shared, t.stream, gpuexec_grid(1, 64, 400), GPUEXEC_ARGS(t.data, words));
    gxi.cu.cuFuncSetAttribute = no_attribute;
    CHECK_REFUSED(gpuexec_launch(shared, t.stream, large, GPUEXEC_ARGS(t.data, words)),
            GPUEXEC_BAD_LAUNCH, "cannot launch kernel \"fill_dynamic_shared\"", "60000 bytes",
            "cuFuncSetAttribute");
    CHECK_REFUSED(gpuexec_prepared_set_dims(p, large), GPUEXEC_BAD_ARGUMENT,
            "cannot raise the limit on dynamic shared memory to 60000 bytes");
    CHECK_NOT_MADE(gpuexec_prepare_at(NULL, shared, t.stream, large, GPUEXEC_ARGS(t.data, words)),
            GPUEXEC_BAD_ARGUMENT,
            "gpuexec_prepare: cannot raise the limit on dynamic shared memory to 60000 bytes",
            "\"fill_dynamic_shared\"");
    CHECK_REFUSED(gpuexec_launch(shared, t.stream, gpuexec_grid(1, 64, 0x80000000u),
                          GPUEXEC_ARGS(t.data, words)),
            GPUEXEC_BAD_LAUNCH, "needs 2147483648 bytes of shared memory");
}

static int(GXI_CUDA *real_attribute)(int *value, int attribute, int device);
static int(GXI_CUDA *real_function_attribute)(
        int *value, int attribute, struct CUfunc_st *function);
static int capability = 9;
static int has_clusters, must_have_clusters, own_clusters, refused_attribute;
static int GXI_CUDA device_attribute(int *value, int which, int device) {
    int cu = real_attribute(value, which, device);
    if (which == GXI_DEV_CLUSTER_LAUNCH) *value = has_clusters;
    if (which == GXI_DEV_COMPUTE_CAPABILITY_MAJOR) *value = capability;
    if (which == GXI_DEV_COMPUTE_CAPABILITY_MINOR) *value = 0;
    return cu;
}
static int GXI_CUDA function_attribute(int *value, int which, struct CUfunc_st *function) {
    int cu = real_function_attribute(value, which, function);
    if (refused_attribute && which == GXI_FUNC_REQUIRED_CLUSTER_WIDTH) return refused_attribute;
    if (which >= GXI_FUNC_REQUIRED_CLUSTER_WIDTH && which < GXI_FUNC_REQUIRED_CLUSTER_WIDTH + 3)
        *value = own_clusters;
    if (which == GXI_FUNC_CLUSTER_SIZE_MUST_BE_SET) *value = must_have_clusters;
    return cu;
}
static int GXI_CUDA refuse(const struct gxi_launch_config *config, struct CUfunc_st *function,
        void **params, void **extra) {
    (void)config;
    (void)function;
    (void)params;
    (void)extra;
    return GXI_INVALID_CLUSTER_SIZE;
}
static int GXI_CUDA refuse_plain(struct CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz,
        unsigned bx, unsigned by, unsigned bz, unsigned shared, struct CUstream_st *stream,
        void **params, void **extra) {
    (void)function;
    (void)gx;
    (void)gy;
    (void)gz;
    (void)bx;
    (void)by;
    (void)bz;
    (void)shared;
    (void)stream;
    (void)params;
    (void)extra;
    return GXI_INVALID_CLUSTER_SIZE;
}
/* Every error with clusters, on any device. */
static int GXI_CUDA sixteen(
        int *blocks, struct CUfunc_st *function, const struct gxi_launch_config *config) {
    (void)function;
    *blocks = 16;
    return config->attributes[0].id == GXI_LAUNCH_CLUSTER_DIMENSION && config->count == 1
            ? GXI_SUCCESS
            : GXI_INVALID_VALUE;
}
TEST(clusters_that_are_refused) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_launch_desc desc = { 0 };
    uint32_t word = 1;
    gpuexec_dims grid = gpuexec_grid(6, 32, 0);
    if (gpuexec_driver_version() < 11080) SKIP("attributes need a driver of CUDA 11.8");
    real_attribute = gxi.cu.cuDeviceGetAttribute;
    real_function_attribute = gxi.cu.cuFuncGetAttribute;
    gxi.cu.cuDeviceGetAttribute = device_attribute; /* until the shutdown after this test */
    gxi.cu.cuFuncGetAttribute = function_attribute;
    gxi.cu.cuFuncSetAttribute = any_attribute;
    gxi.cu.cuOccupancyMaxPotentialClusterSize = sixteen;
    gxi.cu.cuLaunchKernelEx = refuse;
    has_clusters = 1;
    must_have_clusters = own_clusters = 0;
    desc.cluster_x = 4;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_x is 6", "not a multiple of the cluster's size of 4 blocks",
            "912");
    desc.cluster_x = 0;
    desc.cluster_z = 2;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_z is 1", "not a multiple of the cluster's size of 2 blocks");
    desc.cluster_z = 0;
    desc.cluster_x = 16;
    grid.grid_x = 32;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "16 x 1 x 1 has 16 blocks", "only 8", "non_portable_cluster");
    desc.cluster_x = 32;
    desc.non_portable_cluster = 1;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "32 x 1 x 1 has 32 blocks", "at most 16 blocks of kernel \"count\"",
            "device 0");
    own_clusters = 2;
    desc.cluster_x = 4;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "compiled for clusters of 2 x 2 x 2 blocks, but 4 x 1 x 1");
    /* the kernel's own cluster size applies to every launch */
    CHECK(!gpuexec_ok(gpuexec_prepare(t.kernel, t.stream, grid, GPUEXEC_ARGS(t.data))));
    CHECK_TEXT(gpuexec_error_text(), "grid_y is 1",
            "not a multiple of the cluster's size of 2 blocks");
    gpuexec_take_error();
    own_clusters = 0;
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK_OK(gpuexec_copy_out_now(t.ctx, &word, t.data, 4));
    CHECK_EQ(word, 0); /* nothing ran */
}

TEST(kernels_that_need_clusters) {
    setting t = set_up_on(0, UNIT_PTX, "count", 4096);
    gpuexec_launch_desc desc = { 0 };
    real_attribute = gxi.cu.cuDeviceGetAttribute;
    real_function_attribute = gxi.cu.cuFuncGetAttribute;
    gxi.cu.cuDeviceGetAttribute = device_attribute;
    gxi.cu.cuFuncGetAttribute = function_attribute;
    gxi.cu.cuLaunchKernel = refuse_plain;
    gxi.cu.cuLaunchKernelEx = refuse;
    gxi.cu.cuFuncSetAttribute = any_attribute;
    gxi.cu.cuOccupancyMaxPotentialClusterSize = NULL;
    has_clusters = 1;
    must_have_clusters = 1;
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(4, 32, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "can only be launched with clusters", "desc.cluster_x");
    desc.cluster_x = 16;
    desc.non_portable_cluster = 1;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(16, 32, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "cannot launch kernel \"count\" with 16 x 1 x 1 blocks");
    gxi.cu.cuFuncSetAttribute = no_attribute;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(16, 32, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "cuFuncSetAttribute returned");
    must_have_clusters = 0;
    own_clusters = 2;
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(3, 32, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_x is 3", "the cluster's size of 2 blocks");
    has_clusters = 0;
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(4, 32, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_NOT_SUPPORTED, "clusters (2 x 2 x 2 blocks",
            "its compute capability is 9.0, but the driver reports no support for clusters");
    capability = 7;
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(4, 32, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_NOT_SUPPORTED, "need compute capability 9.0, but device 0 has 7.");
    refused_attribute = 999;
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(4, 32, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "cannot query the clusters of kernel \"count\"");
    refused_attribute = 0;
    own_clusters = 0;
}

/* --- several devices -------------------------------------------------------------------------- */

static struct CUfunc_st *odd_function;
static int GXI_CUDA one_register_more(int *value, int which, struct CUfunc_st *function) {
    int cu = real_function_attribute(value, which, function);
    if (which == GXI_FUNC_NUM_REGS && function == odd_function) ++*value;
    return cu;
}
TEST_MULTI(launches_on_devices_that_differ) {
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_DRIVER, 0, 0, { 0 }, NULL, 0 };
    gpuexec_device_launch list[2];
    gpuexec_context contexts[2];
    const void *addresses[2][2];
    uint32_t words = 15000;
    gpuexec_ptr place[2];
    setting t[2];
    int i;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    memset(list, 0, sizeof list);
    for (i = 0; i < 2; i++) {
        t[i] = set_up_on(i, UNIT_PTX, "count", 4096);
        contexts[i] = t[i].ctx;
        place[i] = t[i].data;
        addresses[i][0] = &place[i];
        addresses[i][1] = &words;
        list[i].kernel = filling_shared(t[i].ctx);
        list[i].stream = t[i].stream;
        list[i].dims = gpuexec_grid(1, 64, 60000);
        list[i].args.addresses = addresses[i];
        list[i].args.count = 2;
    }
    real_function_attribute = gxi.cu.cuFuncGetAttribute;
    {
        int(GXI_CUDA *const set)(struct CUfunc_st *, int, int) = gxi.cu.cuFuncSetAttribute;
        gxi.cu.cuFuncSetAttribute = no_attribute;
        CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, NULL), GPUEXEC_BAD_ARGUMENT,
                "launches[0]: cannot raise the limit on dynamic shared memory to 60000 bytes",
                "cuFuncSetAttribute");
        gxi.cu.cuFuncSetAttribute = set;
    }
    gxi.cu.cuFuncGetAttribute = one_register_more;
    odd_function = gpuexec_kernel_native(list[1].kernel);
    CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, NULL), GPUEXEC_BAD_LAUNCH,
            "the kernels have different code", "registers per thread on device 0",
            "with the same options");
    gxi.cu.cuFuncGetAttribute = real_function_attribute;
    gxi.cu.cuLaunchCooperativeKernelMultiDevice = NULL;
    CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, &desc), GPUEXEC_NOT_SUPPORTED,
            "has no cuLaunchCooperativeKernelMultiDevice", "way to 0");
    desc.way = (gpuexec_multi_way)7;
    CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_multi_desc.way is 7");
    desc.way = GPUEXEC_MULTI_FASTEST;
    desc.barrier = gpuexec_barrier_create(contexts, 1, NULL);
    CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_multi_desc.barrier spans 1 device, but the launch uses 2");
    desc.barrier = gpuexec_barrier_create(contexts + 1, 1, NULL);
    CHECK_REFUSED(gpuexec_launch_multi_device(list, 1, &desc), GPUEXEC_WRONG_CONTEXT,
            "launches[0] is on device 0, whose context is not part of");
    desc.barrier.id = 0;
    CHECK_OK(gpuexec_launch_multi_device(list, 2, &desc));
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_sync(list[i].stream));
}

/* --- success without a result ----------------------------------------------------------------- */

static int GXI_CUDA no_retain(struct CUctx_st **context, int device) {
    (void)device;
    *context = NULL;
    return 0;
}

static int GXI_CUDA no_context(struct CUctx_st **context, unsigned flags, int device) {
    (void)flags;
    return no_retain(context, device);
}
static int GXI_CUDA no_module(
        struct CUmod_st **module, const void *image, unsigned n, int *options, void **values) {
    (void)image;
    (void)n;
    (void)options;
    (void)values;
    *module = NULL;
    return 0;
}
static int GXI_CUDA no_function(struct CUfunc_st **f, struct CUmod_st *module, const char *name) {
    (void)module;
    (void)name;
    *f = NULL;
    return 0;
}
static int GXI_CUDA no_variable(
        gpuexec_ptr *p, size_t *bytes, struct CUmod_st *module, const char *name) {
    (void)module;
    (void)name;
    *p = 0;
    *bytes = 4;
    return 0;
}
static int GXI_CUDA no_stream(struct CUstream_st **stream, unsigned flags, int priority) {
    (void)flags;
    (void)priority;
    *stream = NULL;
    return 0;
}

static int GXI_CUDA no_event(struct CUevent_st **event, unsigned flags) {
    (void)flags;
    *event = NULL;
    return 0;
}

static int GXI_CUDA no_memory(gpuexec_ptr *p, size_t bytes) {
    (void)bytes;
    *p = 0;
    return 0;
}

static int GXI_CUDA no_pinned(void **p, size_t bytes, unsigned flags) {
    (void)bytes;
    (void)flags;
    *p = NULL;
    return 0;
}

static size_t played_pitch, played_bytes;
static void *played_image;
static int pitched_freed;
static int GXI_CUDA odd_pitch(
        gpuexec_ptr *p, size_t *pitch, size_t width, size_t rows, unsigned element) {
    (void)width;
    (void)rows;
    (void)element;
    *p = 4096;
    *pitch = played_pitch;
    return 0;
}

static int GXI_CUDA free_pitched(gpuexec_ptr p) {
    pitched_freed += p == 4096;
    return 0;
}

static int GXI_CUDA no_linker(unsigned n, int *options, void **values, void **state) {
    (void)n;
    (void)options;
    (void)values;
    *state = NULL;
    return 0;
}
static int GXI_CUDA odd_link(void *state, void **image, size_t *bytes) {
    (void)state;
    *image = played_image;
    *bytes = played_bytes;
    return 0;
}
static int devices;

static int GXI_CUDA count_devices(int *count) {
    *count = devices;
    return 0;
}

TEST(success_that_gives_nothing) {
    static const char part[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; }\n";
    setting t = set_up_on(0, UNIT_PTX, "count", 4096);
    gpuexec_linker linker = gpuexec_linker_create(t.ctx, NULL);
    gpuexec_stream other = gpuexec_stream_create(t.ctx, NULL);
    const void *image;
    gxi_driver real = gxi.cu;
    size_t bytes = 0, pitch = 0;
    int value = 0, (GXI_CUDA *const real_free)(gpuexec_ptr) = real.cuMemFree;
    CHECK_OK(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, part, 0, "part"));
#define NOTHING(entry, with, make, ...) \
    do { \
        gxi.cu.entry = with; \
        make; \
        CHECK_FAILED(gpuexec_take_error(), GPUEXEC_DRIVER_ERROR, \
                #entry " returned CUDA_SUCCESS, but produced an invalid size or no object (-1)", \
                __VA_ARGS__); \
        gxi.cu = real; \
    } while (0)
    NOTHING(cuDevicePrimaryCtxRetain, no_retain, CHECK(!gpuexec_ok(gpuexec_context_open(0, NULL))),
            "cannot open the primary context of device 0");
    NOTHING(cuCtxCreate, no_context, CHECK(!gpuexec_ok(gpuexec_context_create(0, NULL))),
            "cannot create a context on device 0");
    NOTHING(cuModuleLoadDataEx, no_module,
            CHECK(!gpuexec_ok(gpuexec_module_load(t.ctx, part, 0, NULL))), "cannot load the image");
    NOTHING(cuModuleGetFunction, no_function, CHECK(!gpuexec_ok(gpuexec_kernel_get(t.mod, "add"))),
            "kernel \"add\" of", "cannot load");
    NOTHING(cuModuleGetGlobal, no_variable,
            CHECK_EQ(gpuexec_module_global_address(t.mod, "v", NULL), 0), "has no variable \"v\"");
    NOTHING(cuModuleGetGlobal, no_variable,
            CHECK_RESULT(gpuexec_module_write_global(t.mod, "v", &value, 4), GPUEXEC_DRIVER_ERROR),
            "has no variable \"v\"");
    NOTHING(cuStreamCreateWithPriority, no_stream,
            CHECK(!gpuexec_ok(gpuexec_stream_create(t.ctx, NULL))), "cannot create a stream");
    NOTHING(cuEventCreate, no_event, CHECK(!gpuexec_ok(gpuexec_event_create(t.ctx, NULL))),
            "cannot create an event");
    NOTHING(cuEventCreate, no_event, CHECK(!gpuexec_ok(gpuexec_stream_record(t.stream, NULL))),
            "cannot create an event");
    NOTHING(cuEventCreate, no_event,
            CHECK_RESULT(gpuexec_stream_wait_stream(t.stream, other), GPUEXEC_DRIVER_ERROR),
            "the stream cannot wait for the other");
    NOTHING(cuMemAlloc, no_memory, CHECK_EQ(gpuexec_alloc(t.ctx, 64), 0),
            "cannot allocate 64 bytes of device memory on device 0");
    NOTHING(cuMemAlloc, no_memory, CHECK(!gpuexec_ok(gpuexec_barrier_create(&t.ctx, 1, NULL))),
            "cannot allocate memory on device 0");
    NOTHING(cuMemHostAlloc, no_pinned, CHECK(!gpuexec_ok(gpuexec_barrier_create(&t.ctx, 1, NULL))),
            "cannot allocate memory on device 0");
    NOTHING(cuMemHostAlloc, no_pinned, CHECK(!gpuexec_alloc_pinned(t.ctx, 64)),
            "cannot allocate 64 bytes of pinned host memory");
    NOTHING(cuLinkCreate, no_linker, CHECK(!gpuexec_ok(gpuexec_linker_create(t.ctx, NULL))),
            "cannot create a link state");
    gxi.cu.cuMemFree = real.cuMemFree = free_pitched;
    played_pitch = 63;
    NOTHING(cuMemAllocPitch, odd_pitch, CHECK_EQ(gpuexec_alloc_pitched(t.ctx, 64, 8, 4, &pitch), 0),
            "512 bytes of device memory");
    played_pitch = SIZE_MAX / 4;
    NOTHING(cuMemAllocPitch, odd_pitch, CHECK_EQ(gpuexec_alloc_pitched(t.ctx, 64, 8, 4, &pitch), 0),
            "512 bytes of device memory");
    gxi.cu.cuMemFree = real.cuMemFree = real_free;
    CHECK_EQ(pitched_freed, 2);
    played_image = NULL;
    gxi.cu.cuLinkComplete = odd_link;
    CHECK_REFUSED(gpuexec_linker_image(linker, &image, &bytes), GPUEXEC_LINK_FAILED,
            "cannot link the image from 1 input",
            "cuLinkComplete returned CUDA_SUCCESS, but produced an invalid size or no object");
    played_image = &played_bytes;
    CHECK_REFUSED(gpuexec_linker_save(linker, "/nowhere/never"), GPUEXEC_LINK_FAILED,
            "cuLinkComplete returned CUDA_SUCCESS, but produced an invalid size or no object");
    played_bytes = SIZE_MAX;
    CHECK_REFUSED(gpuexec_linker_save(linker, "/nowhere/never"), GPUEXEC_LINK_FAILED,
            "cuLinkComplete returned CUDA_SUCCESS, but produced an invalid size or no object");
    CHECK_NOT_MADE(gpuexec_linker_load(linker), GPUEXEC_LINK_FAILED, "cannot link the image");
    gxi.cu.cuDeviceGetCount = count_devices;
    for (devices = -1; devices; devices = devices < 0 ? 0x7FFFFFFF : 0) {
        CHECK_EQ(gpuexec_device_count(), 0);
        CHECK_TEXT(gpuexec_error_text(), "cannot query the number of devices",
                "cuDeviceGetCount returned CUDA_SUCCESS");
    }
}

static unsigned played_count;
static int GXI_CUDA function_count(unsigned *count, struct CUmod_st *module) {
    (void)module;
    *count = played_count;
    return 0;
}
static int GXI_CUDA no_functions(struct CUfunc_st **f, unsigned n, struct CUmod_st *module) {
    (void)f;
    (void)n;
    (void)module;
    return 0;
}
/* --- a driver without its own device runtime, which names what is missing --------------------- */

static struct {
    int(GXI_CUDA *create)(unsigned, int *, void **, void **);
    int(GXI_CUDA *add)(void *, int, void *, size_t, const char *, unsigned, int *, void **);
    int(GXI_CUDA *complete)(void *, void **, size_t *);
    char *log;
    int library, completed;
} linking;

static int GXI_CUDA create_link(unsigned n, int *options, void **values, void **state) {
    unsigned i;
    for (i = 0; i < n; i++)
        if (options[i] == GXI_JIT_ERROR_LOG_BUFFER) linking.log = (char *)values[i];
    linking.library = 0;
    return linking.create(n, options, values, state);
}
static int GXI_CUDA add_to_link(void *state, int type, void *data, size_t bytes, const char *name,
        unsigned n, int *options, void **values) {
    linking.library |= type == GXI_JIT_INPUT_LIBRARY;
    return linking.add(state, type, data, bytes, name, n, options, values);
}
static int GXI_CUDA complete_link(void *state, void **image, size_t *bytes) {
    linking.completed++;
    if (linking.library) return linking.complete(state, image, bytes);
    strcpy(linking.log, "error   : Undefined reference to 'cudaCGSynchronize' in 'rows'\n");
    return 300;
}

TEST_ALONE(a_link_that_needs_the_device_runtime) {
    static const char archive[] = "!<arch>\n//                                              23     "
                                  "   `\ncuda_device_runtime.o/\n";
    char path[] = "/tmp/gpuexec-played-XXXXXX";
    const int file = mkstemp(path);
    gpuexec_context ctx;
    gpuexec_linker l;
    if (!on_cpu_device()) SKIP("a GPU's driver may refuse such a library");
    if (!CHECK(file >= 0) ||
            !CHECK(write(file, archive, sizeof archive - 1) == (ssize_t)sizeof archive - 1))
        return;
    close(file);
    setenv("GPUEXEC_CUDADEVRT", path, 1);
    ctx = gpuexec_context_open(0, NULL);
    linking.create = gxi.cu.cuLinkCreate;
    linking.add = gxi.cu.cuLinkAddData;
    linking.complete = gxi.cu.cuLinkComplete;
    gxi.cu.cuLinkCreate = create_link;
    gxi.cu.cuLinkAddData = add_to_link;
    gxi.cu.cuLinkComplete = complete_link;
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, UNIT_PTX));
    CHECK_MADE(gpuexec_linker_load(l));
    CHECK_EQ(linking.completed, 2); /* without the library, and with it */
    unlink(path);
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, UNIT_PTX));
    CHECK_NOT_MADE(
            gpuexec_linker_load(l), GPUEXEC_FILE_ERROR, path, "named by the environment variable");
}

TEST(kernels_that_cannot_be_counted) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod;
    if (!gxi.cu.cuModuleGetFunctionCount) SKIP("this driver does not count kernels");
    gxi.cu.cuModuleGetFunctionCount = function_count;
    gxi.cu.cuModuleEnumerateFunctions = no_functions;
    for (played_count = UINT32_MAX; played_count;
            played_count = played_count == UINT32_MAX ? 5 : 0) {
        mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
        CHECK_MADE(mod);
        CHECK_EQ(gpuexec_module_kernel_count(mod), -1);
        CHECK(gpuexec_module_kernel_name(mod, 0) == NULL);
        CHECK_MADE(gpuexec_kernel_get(mod, "add"));
        CHECK_NOT_MADE(gpuexec_kernel_get(mod, "no"), GPUEXEC_NOT_FOUND, "has no kernel \"no\"");
    }
}

/* --- no room for one more object -------------------------------------------------------------- */

/* Objects are stored in chunks of 256. When all are full and there is no memory for another one,
   the driver's objects are destroyed. */
#define NEW_CHUNK \
    (sizeof(gxi_header) + GXI_CHUNK_SLOTS * (sizeof(gxi_slot) + sizeof(gxi_list_links)))
static int no_chunk, chunks_refused;
static void *no_more_chunks(void *user, void *p, size_t bytes) {
    (void)user;
    if (!bytes) {
        free(p);
        return NULL;
    }
    if (no_chunk && !p && bytes == NEW_CHUNK) {
        chunks_refused++;
        return NULL;
    }
    return realloc(p, bytes);
}
static int made, ended;
static int(GXI_CUDA *real_stream)(struct CUstream_st **stream, unsigned flags, int priority);
static int(GXI_CUDA *real_stream_end)(struct CUstream_st *stream);

static int GXI_CUDA stream_made(struct CUstream_st **stream, unsigned flags, int priority) {
    made++;
    return real_stream(stream, flags, priority);
}

static int GXI_CUDA stream_ended(struct CUstream_st *stream) {
    ended++;
    return real_stream_end(stream);
}

TEST(no_room_for_one_more_object) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context contexts[1];
    uint64_t failed[16];
    size_t i, n = 0;
    setting t;
    desc.realloc_function = no_more_chunks;
    CHECK_OK(gpuexec_setup(&desc));
    t = set_up_on(0, UNIT_PTX, "count", 4096);
    contexts[0] = t.ctx;
    while (gxi.objects.slots % GXI_CHUNK_SLOTS || gxi.objects.free_slot)
        CHECK_MADE(gpuexec_params_create());
    real_stream = gxi.cu.cuStreamCreateWithPriority;
    real_stream_end = gxi.cu.cuStreamDestroy;
    gxi.cu.cuStreamCreateWithPriority = stream_made;
    gxi.cu.cuStreamDestroy = stream_ended;
    no_chunk = 1;
    failed[n++] = gpuexec_stream_create(t.ctx, NULL).id;
    failed[n++] = gpuexec_stream_legacy(t.ctx).id;
    failed[n++] = gpuexec_stream_from_native(t.ctx, gpuexec_stream_native(t.stream)).id;
    failed[n++] = gpuexec_event_create(t.ctx, NULL).id;
    failed[n++] = gpuexec_event_from_native(t.ctx, (struct CUevent_st *)&t).id;
    failed[n++] = gpuexec_context_open(0, NULL).id;
    failed[n++] = gpuexec_context_create(0, NULL).id;
    failed[n++] = gpuexec_context_from_native(gpuexec_context_native(t.ctx)).id;
    failed[n++] = gpuexec_module_load_file(t.ctx, UNIT_PTX, NULL).id;
    failed[n++] = gpuexec_module_from_native(t.ctx, gpuexec_module_native(t.mod)).id;
    failed[n++] = gpuexec_kernel_get(t.mod, "add").id;
    failed[n++] = gpuexec_kernel_from_native(t.ctx, gpuexec_kernel_native(t.kernel)).id;
    failed[n++] = gpuexec_linker_create(t.ctx, NULL).id;
    failed[n++] = gpuexec_params_create().id;
    failed[n++] = gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data))
                          .id;
    failed[n++] = gpuexec_barrier_create(contexts, 1, NULL).id;
    CHECK_EQ(chunks_refused, n);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_HOST_MEMORY);
    for (i = 0; i < n; i++) {
        CHECK(failed[i] && !gpuexec_id_ok(failed[i]));
        CHECK_TEXT(gpuexec_id_why(failed[i]), "out of host memory: cannot create another object",
                "destroy objects that are no longer in use");
    }
    CHECK_EQ(made, ended);
    CHECK_NOT_MADE(gpuexec_stream_record(t.stream, NULL), GPUEXEC_OUT_OF_HOST_MEMORY,
            "out of host memory: cannot create another object");
    no_chunk = 0;
    CHECK_MADE(gpuexec_event_create(t.ctx, NULL));
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data)));
    CHECK_OK(gpuexec_stream_sync(t.stream));
}

/* --- reading PTX ------------------------------------------------------------------------------ */

TEST(parameter_lists) {
    unsigned short sizes[4], offsets[4], types[4];
    CHECK_EQ(gxi_ptx_params(" { ret; }", sizes, offsets, types, 4), 0);
    CHECK_EQ(gxi_ptx_params("()", sizes, offsets, types, 4), 0);
    CHECK_EQ(gxi_ptx_params("(.param .u8 a, // ) a comment\n .param .align 16 .b8 b[0x20], .param "
                            ".u64 .ptr .align 4 c)",
                     sizes, offsets, types, 4),
            3);
    CHECK(sizes[0] == 1 && sizes[1] == 32 && sizes[2] == 8);
    CHECK(offsets[0] == 0 && offsets[1] == 16 && offsets[2] == 48);
    CHECK(types[0] == GPUEXEC_PARAMETER_INTEGER && types[1] == GPUEXEC_PARAMETER_BYTES &&
            types[2] == GPUEXEC_PARAMETER_POINTER);
    CHECK_EQ(
            gxi_ptx_params("(.param .u8 a, .param .u8 b, .param .u8 c, .param .u8 d, .param .u8 e)",
                    sizes, offsets, types, 4),
            -1);
    CHECK_EQ(gxi_ptx_params("(.param .b8 a[70000])", sizes, offsets, types, 4), -1);
    CHECK_EQ(gxi_ptx_params("(.param .u32 a /* never ends", sizes, offsets, types, 4), -1);
    CHECK_EQ(gxi_ptx_params("(.param .u32 a", sizes, offsets, types, 4), -1);
}

/* --- memory in stream order ------------------------------------------------------------------- */

static int GXI_CUDA free_on_a_stream(gpuexec_ptr address, struct CUstream_st *stream) {
    (void)address;
    (void)stream;
    return answer;
}

/* The driver did not free it: it is still known. */
TEST(a_free_that_the_driver_refuses) {
    setting t = set_up_on(0, UNIT_PTX, "count", 0);
    int(GXI_CUDA *const real)(gpuexec_ptr, struct CUstream_st *) = gxi.cu.cuMemFreeAsync;
    gpuexec_stream legacy = gpuexec_stream_legacy(t.ctx);
    gpuexec_ptr p = gpuexec_alloc_on(t.stream, 64);
    gpuexec_pointer_info info;
    int i;
    gxi.cu.cuMemFreeAsync = free_on_a_stream;
    answer = GXI_INVALID_VALUE;
    for (i = 0; i < 2; i++) {
        CHECK_FAILED(gpuexec_free_on(i ? legacy : t.stream, p), GPUEXEC_BAD_ARGUMENT,
                "cannot free 0x", "on the stream",
                "cuMemFreeAsync returned CUDA_ERROR_INVALID_VALUE");
        CHECK_OK(gpuexec_pointer_get_info(p, &info));
        CHECK_EQ(info.ours, 1);
        CHECK_TEXT(info.where, "played.c:");
    }
    gxi.cu.cuMemFreeAsync = real;
    CHECK_OK(gpuexec_free_on(t.stream, p));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    gxi.cu.cuMemFreeAsync = free_on_a_stream;
    answer = GXI_DEINITIALIZED; /* the process ends: everything is freed */
    CHECK_OK(gpuexec_free_on(t.stream, gpuexec_alloc_on(t.stream, 64)));
}

/* A pool that gives parts of an arena, often the same ones again: the table of allocations always
   agrees with it. */
enum { ARENA = 96, CELL = 512, STEPS = 20000 };
static const uint64_t arena = 0x7000000000;
static uint32_t arena_place;
static int GXI_CUDA from_the_arena(
        gpuexec_ptr *address, size_t bytes, void *pool, struct CUstream_st *stream) {
    (void)bytes;
    (void)pool;
    (void)stream;
    *address = arena + arena_place * CELL;
    return 0;
}
static int GXI_CUDA to_the_arena(gpuexec_ptr address, struct CUstream_st *stream) {
    (void)address;
    (void)stream;
    return 0;
}
TEST(addresses_that_a_pool_gives_again) {
    setting t = set_up_on(0, UNIT_PTX, "count", 0);
    uint32_t owner[ARENA] = { 0 }, first[STEPS + 1], cells[STEPS + 1], seed = 9, step, i;
    size_t bytes[STEPS + 1];
    gxi_driver real = gxi.cu;
    CHECK_OK(gpuexec_free_on(t.stream, gpuexec_alloc_on(t.stream, 64)));
    gxi.cu.cuMemAllocFromPoolAsync = from_the_arena;
    gxi.cu.cuMemFreeAsync = to_the_arena;
    for (step = 1; step <= STEPS; step++) {
        const uint32_t at = test_random(&seed) % ARENA, most = 1 + test_random(&seed) % 4;
        const uint64_t look = arena + test_random(&seed) % (ARENA * CELL),
                       wide = 1 + test_random(&seed) % 4096;
        gxi_range r;
        uint64_t a;
        uint32_t expected = 0;
        if (owner[at]) { /* several lines free, with and without a place */
            const uint32_t id = owner[at];
            const gpuexec_ptr p = arena + first[id] * CELL;
            CHECK_OK(step % 3 == 0 ? gpuexec_free_on(t.stream, p)
                                   : gpuexec_free_on_at(NULL, t.stream, p));
            for (i = 0; i < cells[id]; i++) owner[first[id] + i] = 0;
        } else {
            for (i = 0; i < most && at + i < ARENA && !owner[at + i]; i++) owner[at + i] = step;
            first[step] = arena_place = at;
            cells[step] = i;
            bytes[step] = i * CELL - test_random(&seed) % CELL;
            CHECK_EQ(step % 5 ? gpuexec_alloc_on(t.stream, bytes[step])
                              : gpuexec_alloc_on(t.stream, bytes[step]),
                    arena + at * CELL);
        }
        for (a = look; a < look + wide; a++) { /* the last range that the bytes touch */
            const uint64_t cell = (a - arena) / CELL;
            const uint32_t id = cell < ARENA ? owner[cell] : 0;
            if (id && a - (arena + first[id] * CELL) < bytes[id]) expected = id;
        }
        if (!CHECK_EQ(gxi_range_find_overlap(look, wide, &r), expected != 0)) break;
        if (expected &&
                !CHECK(r.lo == arena + first[expected] * CELL && r.bytes == bytes[expected]))
            break;
    }
    for (i = 0; i < ARENA; i++)
        if (owner[i] && first[owner[i]] == i) CHECK_OK(gpuexec_free_on(t.stream, arena + i * CELL));
    CHECK(!gxi_range_find_overlap(arena, ARENA * CELL, &(gxi_range){ 0 }));
    gxi.cu = real;
}

static int GXI_CUDA nothing_from_a_pool(
        gpuexec_ptr *address, size_t bytes, void *pool, struct CUstream_st *stream) {
    (void)bytes;
    (void)pool;
    (void)stream;
    *address = 0;
    return 0;
}
TEST(an_allocation_without_an_address) {
    setting t = set_up_on(0, UNIT_PTX, "count", 0);
    CHECK_OK(gpuexec_free_on(t.stream, gpuexec_alloc_on(t.stream, 64)));
    gxi.cu.cuMemAllocFromPoolAsync = nothing_from_a_pool;
    CHECK_EQ(gpuexec_alloc_on(t.stream, 64), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "cuMemAllocFromPoolAsync returned CUDA_SUCCESS, but produced an invalid size or no "
            "object");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_DRIVER_ERROR);
}
