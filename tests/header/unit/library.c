/* library.c - one image for all contexts. Each test of its modules also runs with a driver that has
   no libraries, which loads the image into each context. */
#include "../../test.h"

enum { PLACES = 2, N = 64 };
/* one of the contexts that share a library */
typedef struct place {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_kernel add, bump;
    gpuexec_stream stream;
    gpuexec_ptr data;
} place;
static place places[PLACES];

static char *text_of(const char *path) { /* the caller frees it */
    FILE *f = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 16);
    size_t n = f && text ? fread(text, 1, (1 << 16) - 1, f) : 0;
    CHECK(n > 0);
    if (f) fclose(f);
    return text;
}
static gpuexec_library unit_library(void) {
    gpuexec_library library;
    char *text = text_of(UNIT_PTX);
    library = gpuexec_library_load(text, strlen(text), NULL);
    CHECK_MADE(library);
    memset(text, 'x', strlen(text)); /* the library has a copy */
    free(text);
    return library;
}
/* On two devices, or, if there is one, in two of its contexts. */
static void open_places(gpuexec_library library) {
    const int devices = gpuexec_device_count();
    int i;
    for (i = 0; i < PLACES; i++) {
        place *p = &places[i];
        p->ctx = i < devices ? gpuexec_context_open(i, NULL) : gpuexec_context_create(0, NULL);
        p->mod = gpuexec_library_module(library, p->ctx);
        CHECK_MADE(p->mod);
        p->add = gpuexec_kernel_get(p->mod, "add");
        p->bump = gpuexec_kernel_get(p->mod, "bump");
        p->stream = gpuexec_stream_create(p->ctx, NULL);
        p->data = gpuexec_alloc(p->ctx, N * sizeof(uint32_t));
        CHECK_OK(gpuexec_fill_now(p->ctx, p->data, 0, 1, N * sizeof(uint32_t)));
    }
}
static uint32_t counter(gpuexec_module mod) {
    uint32_t value = 0;
    CHECK_OK(gpuexec_module_read_global(mod, "counter", &value, sizeof value));
    return value;
}
static int holds(const place *p, uint32_t wanted) {
    uint32_t host[N], i;
    memset(host, 0, sizeof host);
    CHECK_OK(gpuexec_copy_out_now(p->ctx, host, p->data, sizeof host));
    for (i = 0; i < N && host[i] == wanted; i++) {}
    if (i < N) CHECK_EQ(host[i], wanted);
    return i == N;
}
static int has_libraries(void) { return gpuexec_driver_version() >= 12000; }

/* Every test of this kind runs twice. */
#define TEST_BOTH(name) \
    static void name(void); \
    TEST_MULTI(name##_of_driver) { name(); } \
    TEST_ALONE_MULTI(name##_without) { \
        if (!on_cpu_device()) SKIP("needs a driver older than CUDA 12.0"); \
        CHECK(setenv("SIMGPU_DRIVER_VERSION", "11040", 1) == 0); \
        name(); \
    } \
    static void name(void)

TEST_BOTH(one_image_in_each_context) {
    gpuexec_library library = unit_library();
    gpuexec_library_info info;
    uint32_t by = 3, n = N;
    int i, seen = 0;
    const char *name;
    CHECK_OK(gpuexec_library_get_info(library, &info));
    CHECK_EQ(info.context_free, has_libraries());
    CHECK_EQ(info.modules, 0);
    CHECK((gpuexec_library_native(library) != NULL) == has_libraries());
    if (info.kernel_count < 0) CHECK(gpuexec_driver_version() < 12040);
    for (i = 0; (name = gpuexec_library_kernel_name(library, i)) != NULL; i++)
        seen += strcmp(name, "add") == 0 || strcmp(name, "bump") == 0;
    CHECK(info.kernel_count == i && seen == 2);
    CHECK(gpuexec_library_kernel_name(library, -1) == NULL);
    open_places(library);
    CHECK_OK(gpuexec_library_get_info(library, &info));
    CHECK_EQ(info.modules, PLACES);
    for (i = 0; i < PLACES; i++) {
        place *p = &places[i];
        CHECK(gpuexec_same(gpuexec_library_module(library, p->ctx), p->mod));
        CHECK_EQ(gpuexec_module_kernel_count(p->mod), info.kernel_count);
        CHECK_OK(gpuexec_launch(
                p->add, p->stream, gpuexec_grid_for(N, 32), GPUEXEC_ARGS(p->data, by, n)));
        CHECK_OK(gpuexec_stream_sync(p->stream));
        holds(p, 3);
    }
    CHECK_OK(gpuexec_launch(
            places[0].bump, places[0].stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_stream_sync(places[0].stream));
    CHECK_EQ(counter(places[0].mod), 49);
    CHECK_EQ(counter(places[1].mod), 40); /* each context has its variables */
    by = 1;
    CHECK_OK(gpuexec_module_write_global(places[1].mod, "counter", &by, sizeof by));
    CHECK_EQ(counter(places[0].mod), 49);
    CHECK_OK(gpuexec_library_unload(library));
    CHECK_FAILED(gpuexec_kernel_get_info(places[1].add, &(gpuexec_kernel_info){ 0 }),
            GPUEXEC_STALE_HANDLE,
            "the kernel is stale: it was unloaded by gpuexec_library_unload at "
            "tests/header/unit/library.c:");
    CHECK_NOT_MADE(
            gpuexec_kernel_get(places[0].mod, "add"), GPUEXEC_STALE_HANDLE, "the module is stale");
    CHECK_NOT_MADE(gpuexec_library_module(library, places[0].ctx), GPUEXEC_STALE_HANDLE,
            "the library is stale: it was unloaded");
    CHECK_OK(gpuexec_library_unload((gpuexec_library){ 0 }));
    CHECK_FAILED(gpuexec_library_unload(library), GPUEXEC_STALE_HANDLE, "the library is stale");
}

/* A prepared launch, a graph that was captured, one that was built, a batch, a cooperative launch:
   one each. */
TEST_BOTH(every_kind_of_launch) {
    gpuexec_library library = unit_library();
    const gpuexec_dims dims = gpuexec_grid_for(N, 32);
    uint32_t by = 1, n = N;
    int i;
    open_places(library);
    for (i = 0; i < PLACES; i++) {
        place *p = &places[i];
        gpuexec_prepared prepared = gpuexec_prepare(
                p->add, p->stream, dims, GPUEXEC_ARGS(p->data, by, n));
        gpuexec_batch batch = gpuexec_batch_create(p->ctx, NULL);
        gpuexec_graph captured = { 0 }, built = gpuexec_graph_create(p->ctx);
        CHECK_OK(gpuexec_launch_prepared(prepared));
        GPUEXEC_CAPTURE(p->stream, &captured)
        gpuexec_launch(p->add, p->stream, dims, GPUEXEC_ARGS(p->data, by, n));
        CHECK_OK(gpuexec_graph_launch(captured, p->stream));
        CHECK_MADE(gpuexec_graph_add_kernel(
                built, p->add, dims, GPUEXEC_ARGS(p->data, by, n), GPUEXEC_FIRST)
                           .graph);
        CHECK_OK(gpuexec_graph_launch(built, p->stream));
        CHECK_EQ(gpuexec_batch_add(batch, p->add, dims, GPUEXEC_ARGS(p->data, by, n)), 0);
        CHECK_EQ(gpuexec_batch_add(batch, p->add, dims, GPUEXEC_ARGS(p->data, by, n)), 1);
        CHECK_OK(gpuexec_batch_launch(batch, p->stream));
        CHECK_OK(gpuexec_launch_cooperative(p->add, p->stream, dims, GPUEXEC_ARGS(p->data, by, n)));
        CHECK_OK(gpuexec_stream_sync(p->stream));
        holds(p, 6);
        CHECK(gpuexec_kernel_occupancy(p->add, 32, 0) > 0 &&
                gpuexec_kernel_parameter_size(p->add, 0) == 8);
    }
    CHECK_OK(gpuexec_library_unload(library));
    for (i = 0; i < PLACES; i++) CHECK_OK(gpuexec_context_close(places[i].ctx));
}

TEST_BOTH(one_launch_on_two_devices) {
    gpuexec_library library;
    gpuexec_device_launch list[PLACES];
    const void *at[PLACES][3];
    uint32_t by = 5, n = N;
    int i;
    if (gpuexec_device_count() < 2) SKIP("needs two devices");
    library = unit_library();
    open_places(library);
    memset(list, 0, sizeof list);
    for (i = 0; i < PLACES; i++) {
        at[i][0] = &places[i].data;
        at[i][1] = &by;
        at[i][2] = &n;
        list[i].kernel = places[i].add;
        list[i].stream = places[i].stream;
        list[i].dims = gpuexec_grid_for(N, 32);
        list[i].args.addresses = at[i];
        list[i].args.count = 3;
    }
    CHECK_OK(gpuexec_launch_multi_device(list, PLACES, NULL));
    for (i = 0; i < PLACES; i++) CHECK_OK(gpuexec_stream_sync(places[i].stream));
    for (i = 0; i < PLACES; i++) holds(&places[i], 5);
    CHECK_OK(gpuexec_library_unload(library));
}

/* Whichever ends first; a library outlives contexts, variables do not. */
TEST_BOTH(ends) {
    gpuexec_library library = unit_library();
    gpuexec_library_info info;
    gpuexec_module again, copy;
    open_places(library);
    CHECK_FAILED(gpuexec_module_unload(places[0].mod), GPUEXEC_BAD_ARGUMENT,
            "the module belongs to a library", "gpuexec_library_unload");
    CHECK_EQ(counter(places[0].mod), 40);
    copy = gpuexec_module_from_native(places[0].ctx, gpuexec_module_native(places[0].mod));
    CHECK_OK(gpuexec_module_unload(copy)); /* an adopted one */
    CHECK_OK(gpuexec_launch(
            places[1].bump, places[1].stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_context_close(places[1].ctx));
    CHECK_NOT_MADE(
            gpuexec_kernel_get(places[1].mod, "add"), GPUEXEC_STALE_HANDLE, "the module is stale");
    CHECK_NOT_MADE(gpuexec_library_module(library, places[1].ctx), GPUEXEC_STALE_HANDLE,
            "the context is stale");
    CHECK_OK(gpuexec_library_get_info(library, &info));
    CHECK_EQ(info.modules, 1);
    places[1].ctx = gpuexec_context_create(0, NULL);
    again = gpuexec_library_module(library, places[1].ctx);
    CHECK_EQ(counter(again), 40);
    CHECK_OK(gpuexec_context_close(places[0].ctx));
    CHECK_OK(gpuexec_context_close(places[1].ctx));
    CHECK_OK(gpuexec_library_get_info(library, &info));
    CHECK_EQ(info.modules, 0);
    CHECK_OK(gpuexec_library_unload(library)); /* without a context */
    library = unit_library();
    open_places(library); /* gpuexec_shutdown does the rest */
}

/* Two handles of one context share the variables of the driver's library. */
TEST_BOTH(two_handles_of_a_context) {
    gpuexec_library library = unit_library();
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(0, NULL);
    gpuexec_module of_a = gpuexec_library_module(library, a),
                   of_b = gpuexec_library_module(library, b);
    gpuexec_stream s = gpuexec_stream_create(b, NULL);
    gpuexec_graph graph = { 0 };
    uint32_t value = 7;
    CHECK(!gpuexec_same(of_a, of_b));
    CHECK_MADE(gpuexec_kernel_get(of_a, "bump"));
    GPUEXEC_CAPTURE(s, &graph)
    gpuexec_launch(gpuexec_kernel_get(of_b, "bump"), s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    CHECK((gpuexec_module_native(of_a) == gpuexec_module_native(of_b)) == has_libraries());
    CHECK_OK(gpuexec_module_write_global(of_a, "counter", &value, sizeof value));
    CHECK_EQ(counter(of_b), has_libraries() ? 7 : 40);
    CHECK_OK(gpuexec_context_close(a));
    CHECK_EQ(counter(of_b), has_libraries() ? 7 : 40);
    CHECK_OK(gpuexec_graph_launch(graph, s)); /* its kernel is still there */
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(counter(of_b), has_libraries() ? 16 : 49);
    CHECK_OK(gpuexec_library_unload(library));
    CHECK_REFUSED(gpuexec_graph_launch(graph, s), GPUEXEC_STALE_HANDLE, "kernel \"bump\"");
}

/* The settings of a kernel are those of one context. */
TEST_BOTH(attributes_are_separate) {
    gpuexec_library library = unit_library();
    gpuexec_kernel_info a, b;
    open_places(library);
    CHECK_OK(gpuexec_kernel_set_carveout(places[0].add, 25));
    CHECK_OK(gpuexec_kernel_get_info(places[0].add, &a));
    CHECK_OK(gpuexec_kernel_get_info(places[1].add, &b));
    CHECK_EQ(a.preferred_carveout, 25);
    CHECK_EQ(b.preferred_carveout, -1);
    CHECK(a.parameters == 3 && b.parameters == 3 && a.registers > 0);
    CHECK_OK(gpuexec_library_unload(library));
}

TEST_BOTH(variables_of_each_kind) {
    static const char text[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .attribute(.managed) "
            ".align 4 .u32 m = 5;\n"
            ".visible .const .align 4 .u32 c = 6;\n.visible .entry k(.param .u64 to) {\n"
            "    .reg .u32 %a, %b; .reg .u64 %p; ld.param.u64 %p, [to]; ld.global.u32 %a, [m]; "
            "ld.const.u32 %b, [c];\n"
            "    add.u32 %a, %a, %b; st.global.u32 [%p], %a; ret;\n}\n";
    gpuexec_library library = gpuexec_library_load(text, 0, NULL);
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_library_module(library, ctx);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr to = gpuexec_alloc(ctx, 4);
    uint32_t c = 60, m = 0, sum = 0;
    size_t bytes = 0;
    CHECK(gpuexec_module_global_address(mod, "m", &bytes) != 0 && bytes == 4);
    CHECK_OK(gpuexec_copy_in(s, gpuexec_module_global_address(mod, "c", NULL), &c, sizeof c));
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(mod, "k"), s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(to)));
    CHECK_OK(gpuexec_copy_out(s, &sum, to, sizeof sum));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(sum, 65);
    CHECK_OK(gpuexec_module_read_global(mod, "m", &m, sizeof m));
    CHECK_EQ(m, 5);
    CHECK_OK(gpuexec_library_unload(library));
}

/* --- wrong images ----------------------------------------------------------------------------- */

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
/* The library loads; gpuexec_library_module reports the error. */
static void fails_late(
        const char *image, gpuexec_result result, const char *says, const char *also) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc;
    gpuexec_library library;
    memset(&desc, 0, sizeof desc);
    desc.name = "wrong";
    library = gpuexec_library_load(image, 0, &desc);
    CHECK_MADE(library);
    CHECK_NOT_MADE(gpuexec_library_module(library, ctx), result, "\"wrong\"", says, also);
    CHECK_NOT_MADE(gpuexec_library_module(library, ctx), result, says); /* again */
    CHECK_OK(gpuexec_library_unload(library));
    CHECK_OK(gpuexec_context_close(ctx));
}
TEST_BOTH(images_that_fail_late) {
    /* an empty one */
    static const char fatbin[64] = { 0x50, (char)0xED, 0x55, (char)0xBA, 1, 0, 16 };
    fails_late(HEAD ".visible .entry k() { bogus.s32 %r1; ret; }\n", GPUEXEC_BAD_IMAGE,
            "does not compile", "bogus");
    fails_late(".version 9.9\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n",
            GPUEXEC_IMAGE_TOO_NEW, ".version 9.9", "supports .version");
    fails_late(".version 7.0\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n",
            GPUEXEC_IMAGE_TOO_NEW, ".target sm_999", "device 0 has compute capability");
    fails_late("hello", GPUEXEC_BAD_IMAGE, "neither PTX nor a cubin or fatbin", "pass");
    fails_late(fatbin, GPUEXEC_IMAGE_TOO_NEW, "has no code for device 0", "It contains: nothing");
}
TEST_BOTH(images_that_are_refused) {
    static const unsigned char host[64] = { 0x7F, 'E', 'L', 'F', 2, 1, 1, [18] = 62 };
    gpuexec_module_desc desc;
    gpuexec_library library = unit_library();
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    memset(&desc, 0, sizeof desc);
    CHECK_NOT_MADE(gpuexec_library_load(NULL, 0, NULL), GPUEXEC_BAD_ARGUMENT, "the image is NULL");
    CHECK_NOT_MADE(gpuexec_library_load("", 0, NULL), GPUEXEC_BAD_IMAGE, "the image is empty");
    CHECK_NOT_MADE(gpuexec_library_load(HEAD, (size_t)-1, NULL), GPUEXEC_BAD_ARGUMENT,
            "the length of the image");
    CHECK_NOT_MADE(gpuexec_library_load(host, sizeof host, NULL), GPUEXEC_BAD_IMAGE,
            "an ELF file, but not a cubin");
    CHECK_NOT_MADE(gpuexec_library_load_file(NULL, NULL), GPUEXEC_BAD_ARGUMENT, "the path is NULL");
    CHECK_NOT_MADE(gpuexec_library_load_file("/no/such.ptx", NULL), GPUEXEC_FILE_ERROR,
            "cannot open \"/no/such.ptx\"");
    desc.optimization = 9;
    CHECK_NOT_MADE(gpuexec_library_load(HEAD, 0, &desc), GPUEXEC_BAD_ARGUMENT, "optimization is 9");
    desc.end_canary = 1;
    CHECK_NOT_MADE(
            gpuexec_library_load(HEAD, 0, &desc), GPUEXEC_BAD_ARGUMENT, "was not zero-initialized");
    CHECK_NOT_MADE(gpuexec_library_module((gpuexec_library){ 0 }, ctx), GPUEXEC_BAD_HANDLE,
            "the library was never");
    CHECK_NOT_MADE(gpuexec_library_module((gpuexec_library){ ctx.id }, ctx), GPUEXEC_WRONG_KIND,
            "is a context, but a library is required");
    CHECK_NOT_MADE(gpuexec_library_module(library, (gpuexec_context){ 0 }), GPUEXEC_BAD_HANDLE,
            "the context was");
    CHECK_FAILED(gpuexec_library_get_info(library, NULL), GPUEXEC_BAD_ARGUMENT, "\"info\" is NULL");
    CHECK_NOT_MADE(
            gpuexec_library_from_native(NULL), GPUEXEC_BAD_ARGUMENT, "the CUlibrary is NULL");
    CHECK(gpuexec_library_kernel_name((gpuexec_library){ 0 }, 0) == NULL);
    CHECK(gpuexec_library_native((gpuexec_library){ 0 }) == NULL);
    CHECK_OK(gpuexec_library_unload(library));
}

/* Files and options. */
TEST_BOTH(files_and_options) {
    gpuexec_module_desc desc;
    gpuexec_library library;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod;
    memset(&desc, 0, sizeof desc);
    desc.threads_per_block = 128;
    desc.verbose = 1;
    library = gpuexec_library_load_file(UNIT_PTX, &desc);
    mod = gpuexec_library_module(library, ctx);
    CHECK_MADE(mod);
    CHECK(gpuexec_module_threads_per_block(mod) > 0 && gpuexec_module_jit_ms(mod) >= 0);
    CHECK_NOT_MADE(gpuexec_kernel_get(mod, "addd"), GPUEXEC_NOT_FOUND,
            "\"" UNIT_PTX "\" has no kernel \"addd\"", "use \"add\"");
    CHECK_OK(gpuexec_library_unload(library));
}

/* The image that a linker made. */
TEST_BOTH(linked_images) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    gpuexec_library with_length, without;
    const void *image = NULL;
    size_t bytes = 0;
    CHECK_OK(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/link_main.ptx"));
    CHECK_OK(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/link_curve.ptx"));
    CHECK_OK(gpuexec_linker_image(linker, &image, &bytes));
    with_length = gpuexec_library_load(image, bytes, NULL);
    without = gpuexec_library_load(image, 0, NULL);
    CHECK_OK(gpuexec_linker_destroy(linker));
    CHECK_MADE(gpuexec_kernel_get(gpuexec_library_module(with_length, ctx), "draw"));
    CHECK_MADE(gpuexec_kernel_get(gpuexec_library_module(without, ctx), "draw"));
    CHECK_OK(gpuexec_library_unload(with_length));
    CHECK_OK(gpuexec_library_unload(without));
}

/* --- captures, native objects ----------------------------------------------------------------- */

TEST_BOTH(unload_during_a_capture) {
    gpuexec_library library = unit_library();
    gpuexec_graph graph;
    gpuexec_library_info info;
    uint32_t by = 2, n = N;
    place *const p = &places[0];
    open_places(library);
    CHECK_OK(gpuexec_capture_begin(p->stream, NULL));
    CHECK_OK(gpuexec_launch(
            p->add, p->stream, gpuexec_grid_for(N, 32), GPUEXEC_ARGS(p->data, by, n)));
    /* as usual */
    CHECK_MADE(gpuexec_kernel_get(gpuexec_library_module(unit_library(), p->ctx), "add"));
    CHECK_OK(gpuexec_library_unload(library));
    CHECK_OK(gpuexec_library_get_info(library, &info)); /* not yet */
    graph = gpuexec_capture_end(p->stream);
    CHECK_MADE(graph);
    CHECK_FAILED(
            gpuexec_library_get_info(library, &info), GPUEXEC_STALE_HANDLE, "the library is stale");
    CHECK_REFUSED(gpuexec_graph_launch(graph, p->stream), GPUEXEC_STALE_HANDLE, "kernel \"add\"");
}

TEST_MULTI(native_objects) {
    void *native = NULL;
    gpuexec_library library, adopted;
    gpuexec_kernel kernel;
    gpuexec_module mod;
    uint32_t by = 4, n = N;
    place *const p = &places[0];
    if (!has_libraries()) SKIP("needs a driver for CUDA 12.0");
    library = unit_library();
    open_places(library);
    adopted = gpuexec_library_from_native(gpuexec_library_native(library));
    CHECK_MADE(adopted);
    CHECK(gpuexec_library_native(adopted) == gpuexec_library_native(library));
    mod = gpuexec_library_module(adopted, p->ctx);
    CHECK(gpuexec_module_native(mod) == gpuexec_module_native(p->mod));
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(mod, "add"), p->stream, gpuexec_grid_for(N, 32),
            GPUEXEC_ARGS(p->data, by, n)));
    CHECK_OK(gpuexec_library_unload(adopted));
    CHECK_EQ(calls_find().cuLibraryGetKernel(&native, gpuexec_library_native(library), "add"), 0);
    kernel = gpuexec_kernel_from_native(p->ctx, (struct CUfunc_st *)native);
    CHECK_MADE(kernel);
    CHECK(gpuexec_kernel_native(kernel) == gpuexec_kernel_native(p->add));
    CHECK_OK(gpuexec_launch(
            kernel, p->stream, gpuexec_grid_for(N, 32), GPUEXEC_ARGS(p->data, by, n)));
    CHECK_OK(gpuexec_stream_sync(p->stream));
    holds(p, 8);
    CHECK_OK(gpuexec_library_unload(library));
}
TEST_ALONE(no_native_objects) {
    if (!on_cpu_device()) SKIP("needs a driver older than CUDA 12.0");
    CHECK(setenv("SIMGPU_DRIVER_VERSION", "11080", 1) == 0);
    CHECK_NOT_MADE(gpuexec_library_from_native((struct CUlib_st *)&places), GPUEXEC_OLD_DRIVER,
            "libraries without a context need a driver for CUDA 12.0", "supports CUDA 11.8");
}

/* --- when code is loaded ---------------------------------------------------------------------- */

static void loaded(const char *version, const char *mode, int lazy, int is_loaded) {
    gpuexec_library library;
    gpuexec_kernel add;
    if (version) CHECK(setenv("SIMGPU_DRIVER_VERSION", version, 1) == 0);
    CHECK(setenv("CUDA_MODULE_LOADING", mode, 1) == 0);
    CHECK_EQ(gpuexec_loads_lazily(), lazy);
    library = unit_library();
    add = gpuexec_kernel_get(gpuexec_library_module(library, gpuexec_context_open(0, NULL)), "add");
    CHECK_EQ(gpuexec_kernel_is_loaded(add), is_loaded);
    if (is_loaded < 0) {
        CHECK_FAILED(GPUEXEC_OLD_DRIVER, GPUEXEC_OLD_DRIVER, "needs a driver for CUDA 12.4",
                "CUDA_MODULE_LOADING");
        CHECK_REFUSED(gpuexec_kernel_load(add), GPUEXEC_OLD_DRIVER, "loading a kernel");
    } else {
        CHECK_OK(gpuexec_kernel_load(add));
        CHECK_EQ(gpuexec_kernel_is_loaded(add), 1);
    }
    CHECK_OK(gpuexec_library_unload(library));
    CHECK_FAILED(
            (gpuexec_result)(gpuexec_kernel_is_loaded(add) < 0 ? GPUEXEC_STALE_HANDLE : GPUEXEC_OK),
            GPUEXEC_STALE_HANDLE, "the kernel is stale");
}
TEST_ALONE(code_is_loaded_lazily) {
    CHECK(setenv("CUDA_MODULE_LOADING", "LAZY", 1) == 0);
    if (gpuexec_driver_version() < 12040) SKIP("needs a driver for CUDA 12.4");
    loaded(NULL, "LAZY", 1, 1);
}
TEST_ALONE(code_is_loaded_eagerly) { loaded(NULL, "EAGER", 0, 1); }
TEST_ALONE(an_older_driver_loads_lazily) {
    if (!on_cpu_device()) SKIP("needs a driver older than CUDA 12.4");
    loaded("12020", "LAZY", 1, -1);
}
TEST_ALONE(an_old_driver_always_loads) {
    if (!on_cpu_device()) SKIP("needs a driver older than CUDA 11.7");
    loaded("11040", "LAZY", 0, 1);
}

/* --- threads, memory -------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 20 };
static gpuexec_library shared_library;
static gpuexec_module found[THREADS];
static void *find_module(void *which) {
    const size_t i = (size_t)(uintptr_t)which;
    place *const p = &places[i % PLACES];
    gpuexec_stream s = gpuexec_stream_create(p->ctx, NULL);
    found[i] = gpuexec_library_module(shared_library, p->ctx);
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(found[i], "count"), s, gpuexec_grid(1, 32, 0),
            GPUEXEC_ARGS(p->data)));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_stream_destroy(s));
    return NULL;
}
TEST_BOTH(threads_get_the_same_module) {
    pthread_t threads[THREADS];
    int i, round;
    open_places(unit_library());
    for (round = 0; round < ROUNDS; round++) {
        gpuexec_library_info info;
        shared_library = unit_library();
        for (i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, find_module, (void *)(uintptr_t)i) == 0);
        for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        for (i = PLACES; i < THREADS; i++) CHECK(gpuexec_same(found[i], found[i % PLACES]));
        CHECK_OK(gpuexec_library_get_info(shared_library, &info));
        CHECK_EQ(info.modules, PLACES);
        CHECK_OK(gpuexec_library_unload(shared_library));
    }
    for (i = 0; i < PLACES; i++) {
        uint32_t count = 0;
        CHECK_OK(gpuexec_copy_out_now(places[i].ctx, &count, places[i].data, sizeof count));
        CHECK_EQ(count, 32 * ROUNDS * THREADS / PLACES);
    }
}

static gpuexec_result use_a_library(void) {
    gpuexec_library library = gpuexec_library_load(HEAD ".visible .entry k() { ret; }\n", 0, NULL);
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel_get(gpuexec_library_module(library, ctx), "k");
    return gpuexec_take_error();
}
TEST_BOTH(out_of_memory) { test_running_dry(use_a_library, 200); }

static char leaks[2000];
static void note_leaks(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) strncat(leaks, text, sizeof leaks - strlen(leaks) - 1);
}
TEST(a_library_that_is_left) {
    gpuexec_setup_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.report_leaks = 1;
    desc.log = note_leaks;
    CHECK_OK(gpuexec_setup(&desc));
    open_places(unit_library());
    CHECK_OK(gpuexec_shutdown());
    CHECK_TEXT(leaks, "gpuexec: leak: a library, created at tests/header/unit/library.c");
    CHECK(!strstr(leaks, "a module"));
}

/* Linked code, whose length is in the image: in the header of a cubin, or at the end of a text. */
TEST_BOTH(linked_code) {
    static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    gpuexec_library libraries[2];
    const void *image = NULL;
    size_t bytes = 0;
    char value[120];
    int i;
    snprintf(value, sizeof value, "%s.visible .global .u32 counter = 7;\n", head);
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_PTX, "kernels/link_curve.ptx"));
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_PTX, "kernels/link_main.ptx"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, value, 0, "value"));
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    libraries[0] = gpuexec_library_load(image, bytes, NULL);
    libraries[1] = gpuexec_library_load(image, 0, NULL);
    CHECK_OK(gpuexec_linker_destroy(l));
    for (i = 0; i < 2; i++) {
        gpuexec_module mod = gpuexec_library_module(libraries[i], ctx);
        CHECK_EQ(counter(mod), 7);
        CHECK_MADE(gpuexec_kernel_get(mod, "draw"));
        if (on_cpu_device())
            CHECK_EQ(gpuexec_kernel_parameter_size(gpuexec_kernel_get(mod, "draw"), 0), 8);
    }
}
