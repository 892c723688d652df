/* cdp.c - kernels that launch kernels (cdp.cu, kernels/quicksort_cdp.cu), linked with the device
   runtime: CUDA's on a GPU, found by gpuexec; the CPU device has its own. There, the order of
   children is also tested under adversaries, which must find what is missing in the faulty
   variants. */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include "../../test.h"
#include <sys/mman.h>

enum { BLOCKS = 4, THREADS = 64, WORDS = 64, SEEDS = 20 };

static uint32_t words[WORDS]; /* what the last kernel wrote */

typedef struct device {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream stream;
    gpuexec_ptr out;
} device;

/* Returns 0 if this machine has no device runtime. */
static int open_with(device *d, int ordinal, const char *file) {
    gpuexec_linker linker;
    d->ctx = gpuexec_context_open(ordinal, NULL);
    d->stream = gpuexec_stream_create(d->ctx, NULL);
    d->out = gpuexec_alloc(d->ctx, sizeof words);
    linker = gpuexec_linker_create(d->ctx, NULL);
    gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, file);
    d->mod = gpuexec_linker_load(linker);
    if (!gpuexec_ok(d->mod) && strstr(gpuexec_error_text(), "GPUEXEC_CUDADEVRT")) {
        CHECK(!on_cpu_device());
        gpuexec_take_error();
        return 0;
    }
    return CHECK_MADE(d->mod);
}
#define OPEN(d, file) \
    do { \
        if (!open_with(d, 0, file)) SKIP("no libcudadevrt.a"); \
    } while (0)
#define CDP "tests/device/unit/cdp.ptx"

/* Runs a kernel on zeroed words. */
static void run(device *d, const char *name, unsigned blocks, unsigned threads, gpuexec_args args) {
    CHECK_OK(gpuexec_fill(d->stream, d->out, 0, 1, sizeof words));
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(d->mod, name), d->stream, gpuexec_grid(blocks, threads, 0), args));
    CHECK_OK(gpuexec_copy_out(d->stream, words, d->out, sizeof words));
    CHECK_OK(gpuexec_stream_sync(d->stream));
}
#define RUN(d, name, blocks, threads, ...) \
    run(d, name, blocks, threads, GPUEXEC_ARGS((d)->out, __VA_ARGS__))

/* -------------------------------------------------------------------------------------------------
   The two sorts. */

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* kinds of keys: random, equal, few values, sorted, backwards */
static void sort_both(device *d, uint32_t n, int kind, uint32_t leaf) {
    const size_t bytes = n * sizeof(uint32_t);
    uint32_t *keys = (uint32_t *)malloc(bytes), *got = (uint32_t *)malloc(bytes), i, depth = 0,
             seed = n, which;
    gpuexec_ptr at = gpuexec_alloc(d->ctx, bytes), spare = gpuexec_alloc(d->ctx, bytes), first = at;
    CHECK_OK(gpuexec_module_write_global(d->mod, "leaf", &leaf, sizeof leaf));
    for (which = 0; which < 2; which++) {
        for (i = 0; i < n; i++)
            keys[i] = kind == 0 ? test_random(&seed)
                    : kind == 1 ? 7
                    : kind == 2 ? test_random(&seed) % 5
                    : kind == 3 ? i
                                : n - i;
        CHECK_OK(gpuexec_copy_in(d->stream, at, keys, bytes));
        qsort(keys, n, sizeof *keys, compare);
        if (which == 0)
            CHECK_OK(gpuexec_launch(gpuexec_kernel_get(d->mod, "quicksort"), d->stream,
                    gpuexec_grid(1, 256, 0), GPUEXEC_ARGS(first, spare, n, depth)));
        else
            CHECK_OK(gpuexec_launch(gpuexec_kernel_get(d->mod, "merge_sort"), d->stream,
                    gpuexec_grid((n + 1023) / 1024, 256, 0), GPUEXEC_ARGS(first, spare, n)));
        CHECK_OK(gpuexec_copy_out(d->stream, got, at, bytes));
        CHECK_OK(gpuexec_stream_sync(d->stream));
        if (!CHECK(memcmp(got, keys, bytes) == 0))
            printf("%s, %u keys, kind %d\n", which ? "merge" : "quick", n, kind);
    }
    CHECK_OK(gpuexec_module_read_global(d->mod, "failed", &i, sizeof i));
    CHECK_EQ(i, 0);
    CHECK_OK(gpuexec_free(at));
    CHECK_OK(gpuexec_free(spare));
    free(keys);
    free(got);
}

TEST(sorts_that_launch_kernels) {
    static const uint32_t sizes[] = { 1, 2, 1024, 1025, 5000 };
    device d;
    int kind;
    size_t i;
    OPEN(&d, "kernels/quicksort_cdp.ptx");
    CHECK_OK(gpuexec_context_set_limit(d.ctx, GPUEXEC_LIMIT_PENDING_LAUNCHES, 16384));
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (kind = 0; kind < 5; kind++) sort_both(&d, sizes[i], kind, 200);
    sort_both(&d, on_cpu_device() ? 1 << 16 : 1 << 20, 0, 1024);
}

/* -------------------------------------------------------------------------------------------------
   Limits. */

TEST(nesting_has_an_end) {
    device d;
    uint32_t depth = 0, most = 40;
    OPEN(&d, CDP);
    RUN(&d, "nest", 1, 1, depth, most);
    if (on_cpu_device()) {
        CHECK_EQ(words[0], 25); /* the host's kernel and 24 generations, as CUDA documents */
        CHECK_EQ(words[1], 65); /* cudaErrorLaunchMaxDepthExceeded */
        CHECK_EQ(words[2], 24);
    } else CHECK_EQ(words[0], words[1] ? words[2] + 1 : 41); /* an H200 runs more */
    most = 24;
    RUN(&d, "nest", 1, 1, depth, most);
    CHECK_EQ(words[0], 25);
    CHECK_EQ(words[1], 0);
}

TEST(pending_launches_have_a_limit) {
    device d;
    uint32_t n = 6000;
    gpuexec_ptr open;
    OPEN(&d, CDP);
    open = gpuexec_alloc(d.ctx, 4);
    CHECK_OK(gpuexec_context_set_limit(d.ctx, GPUEXEC_LIMIT_PENDING_LAUNCHES, 2048));
    CHECK_OK(gpuexec_fill(d.stream, open, 0, 1, 4));
    RUN(&d, "flood", 1, 1, n, open);
    CHECK_EQ(words[0] + words[2], n);            /* the others ran */
    CHECK(words[0] >= 2040 && words[0] <= 2050); /* an H200: 2047 */
    /* cudaErrorLaunchPendingCountExceeded, cudaErrorLaunchOutOfResources */
    CHECK(words[1] == 69 || (!on_cpu_device() && words[1] == 701));
    CHECK_OK(gpuexec_context_set_limit(d.ctx, GPUEXEC_LIMIT_PENDING_LAUNCHES, 8192));
    CHECK_OK(gpuexec_fill(d.stream, open, 0, 1, 4));
    RUN(&d, "flood", 1, 1, n, open);
    CHECK_EQ(words[0], n);
    CHECK_EQ(words[2], 0);
}

/* -------------------------------------------------------------------------------------------------
   Order. */

static uint32_t place(uint32_t value) { /* where the kernel noted it; 0: nowhere */
    uint32_t i;
    for (i = 1; i <= words[0] && i < WORDS; i++)
        if (words[i] == value) return i;
    return 0;
}

/* Whether everything happened in the order that CUDA promises; right: with the event. */
static int in_order(device *d, uint32_t right) {
    static const uint32_t before[][2] = { { 1, 2 }, { 2, 3 }, { 4, 5 }, { 20, 21 } };
    uint32_t i, value;
    int good = 1;
    RUN(d, "order", 1, 32, right);
    CHECK_EQ(words[0], 10);
    for (i = 0; i < 4; i++) {
        CHECK(place(before[i][0]) && place(before[i][1]));
        good &= place(before[i][0]) < place(before[i][1]);
    }
    /* tail launches are last */
    for (value = 1; value <= 12; value++) good &= place(value) < place(20);
    return good;
}

/* Whether each block's child saw all that its parent wrote. */
static int visible(device *d, uint32_t right) {
    uint32_t b;
    int good = 1;
    RUN(d, "publish", BLOCKS, THREADS, right);
    for (b = 0; b < BLOCKS; b++)
        good &= words[b] == 3 * (THREADS * (THREADS + 1) / 2 + THREADS * b);
    return good;
}

static int gathered(device *d) {
    uint32_t depth = 4;
    RUN(d, "gather", 1, 1, depth);
    return words[0] == 81 && words[1] == 81;
}

static int chained(device *d) {
    uint32_t n = 10, i;
    int good = 1;
    RUN(d, "again", 1, 1, n);
    for (i = 0; i <= n; i++) good &= words[1 + i] == n - i;
    return good && words[0] == n + 1;
}

TEST(children_run_in_the_promised_order) {
    device d;
    OPEN(&d, CDP);
    CHECK(in_order(&d, 1));
    CHECK(visible(&d, 1));
    CHECK(gathered(&d));
    CHECK(chained(&d));
}

typedef struct report {
    int order_failed, order_found, visible_failed, visible_found, others_failed, waits_failed,
            waits_found;
} report;
static report *all;

static int waited(device *d, uint32_t right) {
    uint32_t b;
    int good = 1;
    RUN(d, "wait_for_children", BLOCKS, 32, right);
    for (b = 0; b < BLOCKS; b++) {
        CHECK_EQ(words[b], 3 * 2 * 32);
        good &= words[BLOCKS + b] == 3 * 2 * 32;
    }
    return good;
}

static void under_adversaries(void) {
    device d;
    if (!open_with(&d, 1, CDP)) return;
    /* first: afterwards the memory has what the children should see */
    all->visible_found += !visible(&d, 0);
    all->visible_failed += !visible(&d, 1);
    all->order_found += !in_order(&d, 0);
    all->order_failed += !in_order(&d, 1);
    all->others_failed += !gathered(&d) || !chained(&d);
    gpuexec_shutdown();
    if (!open_with(&d, 0, "tests/device/unit/cdp_first.ptx")) return;
    all->waits_failed += !waited(&d, 1);
    all->waits_found += !waited(&d, 0);
    gpuexec_shutdown();
}

TEST_ALONE_MULTI(a_seed_finds_what_orders_no_children) {
    char text[16];
    int seed;
    if (!on_cpu_device()) SKIP("only the CPU device has adversaries");
    all = (report *)mmap(
            NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(all != MAP_FAILED)) return;
    setenv("SIMGPU_DEVICES", "2", 1);
    for (seed = 1; seed <= SEEDS; seed++) {
        snprintf(text, sizeof text, "%d", seed);
        setenv("SIMGPU_SCHEDULE", text, 1);
        setenv("SIMGPU_LAZY", "1", 1);
        setenv("SIMGPU_THREADS", "1", 1);
        CHECK(run_child(under_adversaries));
    }
    if (getenv("TEST_VERBOSE"))
        printf("    without the event: %d of %d seeds; without the barrier: %d; without waiting: "
               "%d\n",
                all->order_found, SEEDS, all->visible_found, all->waits_found);
    CHECK_EQ(all->order_failed, 0);
    CHECK_EQ(all->visible_failed, 0);
    CHECK_EQ(all->others_failed, 0);
    CHECK_EQ(all->waits_failed, 0);
    CHECK(all->order_found > 0);
    CHECK(all->visible_found > 0);
    CHECK(all->waits_found > 0);
}

/* A kernel that launches others is a node like any other, and each launch of the graph runs
   them. */
TEST(children_of_a_graph) {
    device d;
    gpuexec_graph graph = { 0 };
    uint32_t depth = 0, most = 5;
    if (!on_cpu_device()) SKIP("on an H200, the end of a graph does not wait for them");
    OPEN(&d, CDP);
    CHECK_OK(gpuexec_fill(d.stream, d.out, 0, 1, sizeof words));
    CHECK_OK(gpuexec_capture_begin(d.stream, NULL));
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(d.mod, "nest"), d.stream, gpuexec_grid(1, 1, 0),
            GPUEXEC_ARGS(d.out, depth, most)));
    graph = gpuexec_capture_end(d.stream);
    CHECK_OK(gpuexec_graph_launch(graph, d.stream));
    CHECK_OK(gpuexec_graph_launch(graph, d.stream));
    CHECK_OK(gpuexec_copy_out(d.stream, words, d.out, sizeof words));
    CHECK_OK(gpuexec_stream_sync(d.stream));
    CHECK_EQ(words[0], 12);
    CHECK_EQ(words[1], 0);
}

/* -------------------------------------------------------------------------------------------------
   Copies, errors, queries. */

TEST(copies_and_fills_in_device_streams) {
    enum { N = 12 };
    static const uint32_t wanted[N] = { 0x01010102, 0x01010106, 0, 0x01010101, 0, 0x01010101, 0,
        0x01010101, 0x01010102, 0, 0x01010101, 0x01010101 };
    device d;
    gpuexec_ptr from;
    uint32_t n = N, i;
    if (!on_cpu_device()) SKIP("on an H200, cudaMemsetAsync in a kernel has no effect");
    OPEN(&d, CDP);
    from = gpuexec_alloc(d.ctx, 4 * N);
    CHECK_OK(gpuexec_fill(d.stream, d.out, 0, 1, sizeof words));
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(d.mod, "move"), d.stream, gpuexec_grid(1, 1, 0),
            GPUEXEC_ARGS(from, d.out, n)));
    CHECK_OK(gpuexec_copy_out(d.stream, words, d.out, sizeof words));
    CHECK_OK(gpuexec_stream_sync(d.stream));
    for (i = 0; i < N; i++) CHECK_EQ(words[i], wanted[i]);
    CHECK_EQ(words[N], 0);
    CHECK_EQ(words[N + 1], 77);
    CHECK_EQ(words[N + 2], 0);
}

TEST(errors_of_the_device_runtime) {
    static const uint32_t wanted[14] = { 0, 0, 0, 0, 1, 1, 1, 9, 9, 9, 0, 0, 'I', 'i' };
    device d;
    uint32_t i;
    OPEN(&d, CDP);
    run(&d, "errors", 1, 2, GPUEXEC_ARGS(d.out));
    for (i = 0; i < 14; i++)
        if (!CHECK_EQ(words[i], wanted[i])) printf("    out[%u]\n", i);
    CHECK_EQ(words[30], 0);   /* of the other thread */
    CHECK_EQ(words[31], 100); /* the launches that failed did not run */
}

TEST(stale_handles_of_the_device_runtime) {
    device d;
    uint32_t i;
    OPEN(&d, CDP);
    if (!on_cpu_device()) SKIP("undefined on a GPU");
    run(&d, "stale", 1, 1, GPUEXEC_ARGS(d.out));
    CHECK_EQ(words[0], 1);                           /* cudaErrorInvalidValue */
    for (i = 1; i < 3; i++) CHECK_EQ(words[i], 400); /* cudaErrorInvalidResourceHandle */
    run(&d, "lend_stream", 1, 1, GPUEXEC_ARGS(d.out));
    CHECK_EQ(words[0], 1); /* a parent's stream is not its child's */
    CHECK_EQ(words[31], 0);
}

static void pass_private(const char *name, const char *space) {
    device d;
    char text[160];
    if (!open_with(&d, 0, CDP)) return;
    snprintf(text, sizeof text,
            "parameter 1 of kernel two_words, launched here, is an address in the parent's %s "
            "memory, which a child cannot access at line",
            space);
    CHECK_OK(gpuexec_fill(d.stream, d.out, 0, 1, sizeof words));
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(d.mod, name), d.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(d.out)));
    CHECK_RESULT(gpuexec_stream_sync(d.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), text, name);
}
static void pass_shared(void) { pass_private("pass_shared", "shared"); }
static void pass_local(void) { pass_private("pass_local", "local"); }

TEST_ALONE(a_child_gets_no_private_memory) {
    if (!on_cpu_device()) SKIP("undefined on a GPU");
    CHECK(run_child(pass_shared));
    CHECK(run_child(pass_local));
}

TEST(queries_of_the_device_runtime) {
    device d;
    gpuexec_device_info info;
    gpuexec_kernel narrow;
    size_t limit = 0;
    OPEN(&d, CDP);
    CHECK_OK(gpuexec_device_get_info(0, &info));
    CHECK_OK(gpuexec_context_get_limit(d.ctx, GPUEXEC_LIMIT_PENDING_LAUNCHES, &limit));
    run(&d, "query", 1, 1, GPUEXEC_ARGS(d.out));
    narrow = gpuexec_kernel_get(d.mod, "narrow");
    CHECK_EQ(words[0], 0);
    CHECK_EQ(words[1], 0);
    CHECK_EQ(words[2], info.multiprocessors);
    CHECK_EQ(words[3], limit);
    CHECK_EQ(words[4], 0);
    CHECK_EQ(words[5], 96);
    CHECK_EQ(words[6], 100);
    CHECK_EQ(words[7], 0);
    CHECK_EQ(words[8], gpuexec_kernel_occupancy(narrow, 96, 0));
    CHECK_EQ(words[9], 6000); /* of CUDA 12 and 13 */
    CHECK(words[10] >= 1);
}

/* The calls that nvcc does not make: a buffer by its size, whose launch names kernel and shape;
   each thread's own stream. Three threads launch two blocks of four threads each, in both ways, and
   each of those adds 5. */
#define BY_HAND(launch) \
    "{ .param .b64 align; .param .b64 size; .param .b64 p; .param .b64 f; .param .b64 q; .param " \
    ".b32 s;\n" \
    ".param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b64 stream; .param .b32 e;\n" \
    "st.param.b64 [align], 8; st.param.b64 [size], 12; call (p), __cudaCDP2GetParameterBuffer, " \
    "(align, size);\n" \
    "ld.param.b64 %b, [p]; st.b64 [%b], %a; st.b32 [%b+8], 5; st.param.b64 [f], %f; st.param.b64 " \
    "[q], %b;\n" \
    "st.param.b32 [g], 2; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [s], 0;\n" \
    "st.param.b32 [b], 2; st.param.b32 [b+4], 2; st.param.b32 [b+8], 1; st.param.b64 [stream], " \
    "0;\n" \
    "call (e), __cudaCDP2" launch ", (f, q, g, b, s, stream);\n" \
    "ld.param.b32 %e, [e]; red.global.add.u32 [%a+4], %e; }\n"
TEST(launches_by_hand) {
    static const char ptx[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .func (.param .b64 r) __cudaCDP2GetParameterBuffer(.param .b64 align, .param "
            ".b64 size);\n"
            ".extern .func (.param .b32 r) __cudaCDP2LaunchDevice(.param .b64 f, .param .b64 p, "
            ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 "
            "stream);\n"
            ".extern .func (.param .b32 r) __cudaCDP2LaunchDevice_ptsz(.param .b64 f, .param .b64 "
            "p, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 "
            "stream);\n"
            ".visible .entry add(.param .u64 at, .param .u32 n) { .reg .b64 %a; .reg .b32 %n; "
            "ld.param.u64 %a, [at];\n"
            "ld.param.u32 %n, [n]; red.global.add.u32 [%a], %n; ret; }\n"
            ".visible .entry hand(.param .u64 at) {\n.reg .b64 %a, %b, %f; .reg .b32 %e;\n"
            "ld.param.u64 %a, [at]; mov.u64 %f, add;\n" BY_HAND("LaunchDevice")
                    BY_HAND("LaunchDevice_ptsz") "ret; }\n";
    char path[] = "/tmp/gpuexec-cdp-XXXXXX";
    int file = mkstemp(path), opened;
    device d;
    if (!CHECK(file >= 0) || !CHECK(write(file, ptx, sizeof ptx - 1) == (ssize_t)sizeof ptx - 1))
        return;
    close(file);
    opened = open_with(&d, 0, path);
    unlink(path);
    if (!opened) SKIP("no libcudadevrt.a");
    run(&d, "hand", 1, 3, GPUEXEC_ARGS(d.out));
    CHECK_EQ(words[0], 3 * 2 * 2 * 4 * 5);
    CHECK_EQ(words[1], 0);
}

TEST(what_the_cpu_device_lacks) {
    static const char ptx[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .func (.param .b32 r) __cudaCDP2Memcpy3DAsync(.param .b64 p, .param .b64 s);\n"
            ".visible .entry k(.param .b64 p) { .param .b32 r; .param .b64 a; .reg .b64 %a;\n"
            "ld.param.b64 %a, [p]; st.param.b64 [a], %a; call (r), __cudaCDP2Memcpy3DAsync, (a, "
            "a); ret; }\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    if (!on_cpu_device()) SKIP("only about the CPU device");
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx, 0, "k"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_BAD_IMAGE, "line 6",
            "Function '__cudaCDP2Memcpy3DAsync' is not supported by this CPU device");
}

/* The first device runtime, in texts compiled before CUDA 12: GPUs from compute capability 9.0 on
   refuse them. */
TEST(a_block_waits_for_its_children) {
    device d;
    if (!on_cpu_device()) SKIP("GPUs from compute capability 9.0 on lack it");
    OPEN(&d, "tests/device/unit/cdp_first.ptx");
    CHECK(waited(&d, 1));
    {
        uint32_t depth = 0, most = 3;
        RUN(&d, "nest", 1, 1, depth, most);
        CHECK_EQ(words[0], 4);
    }
}
