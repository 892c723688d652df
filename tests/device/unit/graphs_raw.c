/* graphs_raw.c - graphs from stream captures through the driver's own calls: what they compute when
   they are launched repeatedly, while they run, over several streams, threads and devices, with
   memory that they allocate, after an update. What the calls refuse is in ../probe. The suite keeps
   the CPU device faithful, and shows what the library can rely on. */
#include "../../test.h"

typedef unsigned long long ptr; /* CUdeviceptr */
enum { INVALID_VALUE = 1, NOT_READY = 600, UNSUPPORTED = 900, INVALIDATED, UPDATE_FAILURE = 910 };
enum { GLOBAL, THREAD_LOCAL, RELAXED };                    /* CUstreamCaptureMode */
enum { KERNEL, MEMCPY, MEMSET, HOST_FUNCTION, EMPTY = 5 }; /* CUgraphNodeType */
enum { TIMES = 100, THREADS = 4, WORDS = 1024 };

/* CUDA_KERNEL_NODE_PARAMS_v1 */
typedef struct kernel_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
} kernel_params;
typedef struct memset_params {
    ptr to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} memset_params;
typedef struct host_params {
    void (*function)(void *);
    void *user;
} host_params;
typedef struct update_result {
    int result;
    void *node, *from;
} update_result;


static driver_calls cu;

static const char text[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry nop() { ret; }\n"
        ".visible .entry gate(.param .u64 word) {\n" /* waits until *word is not 0 */
        "    .reg .pred %p; .reg .u32 %r; .reg .u64 %a; ld.param.u64 %a, [word];\n"
        "AGAIN: ld.volatile.u32 %r, [%a]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN; ret;\n}\n"
        /* *to = *to * 3 + by: another order gives another result */
        ".visible .entry step(.param .u64 to, .param .u32 by) {\n"
        "    .reg .u32 %r, %b; .reg .u64 %a; ld.param.u64 %a, [to]; ld.param.u32 %b, [by]; "
        "ld.volatile.u32 %r, [%a];\n"
        "    mad.lo.u32 %r, %r, 3, %b; st.volatile.u32 [%a], %r; ret;\n}\n"
        /* *to = *a + *b * 7 */
        ".visible .entry join(.param .u64 to, .param .u64 a, .param .u64 b) {\n"
        "    .reg .u32 %r, %s; .reg .u64 %t, %a, %b; ld.param.u64 %t, [to]; ld.param.u64 %a, [a]; "
        "ld.param.u64 %b, [b];\n"
        "    ld.volatile.u32 %r, [%a]; ld.volatile.u32 %s, [%b]; mad.lo.u32 %r, %s, 7, %r; "
        "st.volatile.u32 [%t], %r; ret;\n}\n";

static void *context, *module, *nop, *gate, *step, *join;
static ptr data;         /* WORDS words of device memory */
static uint32_t *pinned; /* and of pinned memory */

/* What a test needs on the current context. */
static void load(void) {
    void *p = NULL;
    CHECK_EQ(cu.cuModuleLoadData(&module, text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&nop, module, "nop"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&gate, module, "gate"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&step, module, "step"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&join, module, "join"), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&data, WORDS * 4), 0);
    CHECK_EQ(cu.cuMemAllocHost_v2(&p, WORDS * 4), 0);
    if (!p) exit(1);
    pinned = (uint32_t *)p;
    memset(p, 0, WORDS * 4);
}
static const char *start(void) {
    if (gpuexec_device_count() < 1) return "needs a device";
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    load();
    return NULL;
}
#define START() \
    do { \
        const char *why = start(); \
        if (why) SKIP(why); \
    } while (0)
static void finish(void) {
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    CHECK_EQ(cu.cuMemFree_v2(data), 0);
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
    cu.cuCtxSetCurrent(NULL);
}

static ptr word(unsigned i) { return data + 4 * i; }
static void *new_stream(void) { /* does not synchronize with the legacy stream */
    void *s = NULL;
    CHECK_EQ(cu.cuStreamCreate(&s, 1), 0);
    return s;
}
static void *new_event(void) {
    void *e = NULL;
    CHECK_EQ(cu.cuEventCreate(&e, 2), 0);
    return e;
}
static void begin(void *s) { CHECK_EQ(cu.cuStreamBeginCapture_v2(s, THREAD_LOCAL), 0); }
static void *end(void *s) {
    void *graph = NULL;
    CHECK_EQ(cu.cuStreamEndCapture(s, &graph), 0);
    return graph;
}
static void *made(void *graph) {
    void *exec = NULL;
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    return exec;
}
static void *exec_of(void *graph) { /* the graph itself is no longer needed */
    void *exec = made(graph);
    CHECK_EQ(cu.cuGraphDestroy(graph), 0);
    return exec;
}
static void one_thread(void *f, void *s, void **params) {
    CHECK_EQ(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL), 0);
}
static void do_step(void *s, ptr to, uint32_t by) {
    void *params[2];
    params[0] = &to;
    params[1] = &by;
    one_thread(step, s, params);
}
static void do_join(void *s, ptr to, ptr a, ptr b) {
    void *params[3];
    params[0] = &to;
    params[1] = &a;
    params[2] = &b;
    one_thread(join, s, params);
}
/* work on s comes after that on the other stream */
static void wait_for(void *s, void *other, void *event) {
    CHECK_EQ(cu.cuEventRecord(event, other), 0);
    CHECK_EQ(cu.cuStreamWaitEvent(s, event, 0), 0);
}
static void fill(void *s, ptr to, uint32_t value) {
    CHECK_EQ(cu.cuMemsetD32Async(to, value, 1, s), 0);
}
static uint32_t value_of(ptr at) {
    uint32_t value = 0;
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&value, at, 4), 0);
    return value;
}
static void close_gate(void *s, unsigned i) { /* a kernel that waits for open_gate(i) */
    ptr at = (ptr)(uintptr_t)&pinned[i];
    void *params[1];
    params[0] = &at;
    one_thread(gate, s, params);
}
static void open_gate(unsigned i) { __atomic_store_n(&pinned[i], 1, __ATOMIC_SEQ_CST); }
static size_t count(void *graph) {
    size_t n = 0;
    CHECK_EQ(cu.cuGraphGetNodes(graph, NULL, &n), 0);
    return n;
}
static void count_up(void *n) { ++*(uint32_t *)n; }

/* ---- what replays compute ---- */

TEST(a_graph_repeats_what_was_captured) {
    void *s, *x, *g;
    uint32_t calls = 0, expected = 0, i;
    START();
    s = new_stream();
    fill(s, word(0), 1);
    begin(s);
    do_step(s, word(0), 1);
    do_step(s, word(0), 2);
    CHECK_EQ(cu.cuMemcpyAsync(word(1), word(0), 4, s), 0);
    do_step(s, word(1), 5);
    CHECK_EQ(cu.cuLaunchHostFunc(s, count_up, &calls), 0);
    CHECK_EQ(cu.cuMemcpyDtoHAsync_v2(&pinned[1], word(1), 4, s), 0);
    g = end(s);
    CHECK_EQ(count(g), 6);
    x = exec_of(g);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 1); /* nothing of the capture ran */
    CHECK_EQ(cu.cuGraphUpload(x, s), 0);
    for (i = 0, expected = 1; i < TIMES; i++) { /* launched again while it runs */
        CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
        expected = (expected * 3 + 1) * 3 + 2;
    }
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), expected);
    CHECK_EQ(pinned[1], expected * 3 + 5);
    CHECK_EQ(calls, TIMES);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(s), 0);
    finish();
}

TEST(forked_streams_join_before_the_next_node) {
    void *s, *t, *u, *e, *f, *x;
    uint32_t i, a = 1, b, c, sum = 0;
    START();
    s = new_stream();
    t = new_stream();
    u = new_stream();
    e = new_event();
    f = new_event();
    fill(s, word(0), a);
    fill(s, word(3), 0);
    begin(s);
    do_step(s, word(0), 1);
    wait_for(t, s, e);
    wait_for(u, s, f);
    CHECK_EQ(cu.cuMemcpyAsync(word(1), word(0), 4, t), 0);
    do_step(t, word(1), 2);
    CHECK_EQ(cu.cuMemcpyAsync(word(2), word(0), 4, u), 0);
    do_step(u, word(2), 3);
    do_step(u, word(2), 4);
    wait_for(s, t, e);
    wait_for(s, u, f);
    do_join(s, word(4), word(1), word(2));
    do_join(s, word(3), word(3), word(4));
    x = exec_of(end(s));
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    for (i = 0; i < TIMES; i++) {
        CHECK_EQ(cu.cuGraphLaunch(x, i % 2 ? s : t), 0); /* one launch does not overlap the next */
        a = a * 3 + 1;
        b = a * 3 + 2;
        c = (a * 3 + 3) * 3 + 4;
        sum += (b + c * 7) * 7;
    }
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(value_of(word(3)), sum);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    finish();
}

/* Also with the cross-device edge in both directions, and another launch on the other device's
   stream. */
TEST_MULTI(a_graph_spans_two_devices) {
    void *s, *t, *e, *f, *x, *contexts[2] = { NULL, NULL }, *modules[2], *steps[2];
    ptr there = 0, here;
    uint32_t i, a = 0, b = 0;
    START();
    if (gpuexec_device_count() < 2) {
        finish();
        SKIP("needs two devices");
    }
    here = word(0);
    s = new_stream();
    e = new_event();
    fill(s, here, 0);
    contexts[0] = context;
    modules[0] = module;
    steps[0] = step;
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&contexts[1], 1), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(contexts[1]), 0);
    CHECK_EQ(cu.cuModuleLoadData(&modules[1], text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&steps[1], modules[1], "step"), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&there, 64), 0);
    t = new_stream();
    f = new_event();
    CHECK_EQ(cu.cuCtxSetCurrent(contexts[0]), 0);
    begin(s);
    do_step(s, here, 1);
    wait_for(t, s, e);
    step = steps[1];
    CHECK_EQ(cu.cuMemcpyAsync(there, here, 4, t), 0);
    do_step(t, there, 2);
    step = steps[0];
    wait_for(s, t, f);
    CHECK_EQ(cu.cuMemcpyAsync(here + 4, there, 4, s), 0);
    do_step(s, here, 3);
    x = exec_of(end(s));
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    for (i = 0; i < TIMES; i++) {
        CHECK_EQ(cu.cuGraphLaunch(x, i % 3 ? s : t), 0);
        a = a * 3 + 1;
        b = a * 3 + 2;
        a = a * 3 + 3;
    }
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(t), 0);
    CHECK_EQ(value_of(here), a);
    CHECK_EQ(value_of(here + 4), b);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(1), 0);
    finish();
}

/* A copy reads and writes the host's memory when the graph runs, pageable memory, too. */
TEST(a_captured_copy_reads_when_it_runs) {
    uint32_t from = 5, to = 0, i;
    void *s, *x;
    START();
    s = new_stream();
    begin(s);
    CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(word(0), &from, 4, s), 0);
    do_step(s, word(0), 1);
    CHECK_EQ(cu.cuMemcpyDtoHAsync_v2(&to, word(0), 4, s), 0);
    x = exec_of(end(s));
    for (i = 10; i < 13; i++) {
        from = i;
        CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
        CHECK_EQ(cu.cuStreamSynchronize(s), 0);
        CHECK_EQ(to, i * 3 + 1);
    }
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    finish();
}

/* n values, the sums of 4 blocks, the sum of all: from this word on. */
static void *total_at(void *s, void *total, unsigned at, const uint32_t *values, unsigned n) {
    ptr in = word(at), shares = word(at + n), sum = word(at + n + 8);
    void *params[4];
    params[0] = &in;
    params[1] = &shares;
    params[2] = &sum;
    params[3] = &n;
    begin(s);
    CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(in, values, n * 4, s), 0);
    CHECK_EQ(cu.cuLaunchCooperativeKernel(total, 4, 1, 1, 32, 1, 1, 0, s, params), 0);
    return exec_of(end(s));
}

/* The barrier of a cooperative grid has memory for each launch. */
TEST(cooperative_grids_repeat) {
    enum { N = 300, HALF = 512 };
    uint32_t values[N], i, round;
    void *s, *t, *a, *b, *mod = NULL, *total = NULL;
    START();
    CHECK_EQ(cu.cuModuleLoad(&mod, "kernels/grid_sum.ptx"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&total, mod, "grid_sum"), 0);
    s = new_stream();
    t = new_stream();
    for (i = 0; i < N; i++) values[i] = i;
    a = total_at(s, total, 0, values, N);
    b = total_at(s, total, HALF, values, N);
    for (round = 1; round < 10; round++) {
        values[0] = round;
        CHECK_EQ(cu.cuGraphLaunch(a, s), 0);
        CHECK_EQ(cu.cuGraphLaunch(a, s), 0);
        CHECK_EQ(cu.cuGraphLaunch(b, t), 0); /* at the same time */
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
        CHECK_EQ(value_of(word(N + 8)), round + N * (N - 1) / 2);
        CHECK_EQ(value_of(word(HALF + N + 8)), round + N * (N - 1) / 2);
    }
    CHECK_EQ(cu.cuGraphExecDestroy(a), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(b), 0);
    CHECK_EQ(cu.cuModuleUnload(mod), 0);
    finish();
}

/* ---- lifetimes ---- */

TEST(an_executable_graph_needs_only_its_kernels_and_memory) {
    void *s, *t, *e, *g, *x, *y;
    START();
    s = new_stream();
    t = new_stream();
    e = new_event();
    fill(s, word(0), 1);
    begin(s);
    do_step(s, word(0), 1);
    wait_for(t, s, e);
    do_step(t, word(0), 2);
    wait_for(s, t, e);
    g = end(s);
    x = made(g);
    y = exec_of(g);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(e), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(s), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, t), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0); /* while it runs */
    CHECK_EQ(cu.cuGraphLaunch(y, t), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(t), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(value_of(word(0)), ((4u * 3 + 2) * 3 + 1) * 3 + 2);
    CHECK_EQ(cu.cuGraphExecDestroy(y), 0);
    finish();
}

TEST(a_busy_graph_is_launched_again_and_destroyed) {
    void *s, *t, *x;
    START();
    s = new_stream();
    t = new_stream();
    fill(s, word(0), 1);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    begin(s);
    close_gate(s, 8);
    do_step(s, word(0), 1);
    x = exec_of(end(s));
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, t), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    test_sleep_ms(20); /* not order: it could be done too early */
    CHECK_EQ(cu.cuStreamQuery(s), NOT_READY);
    CHECK_EQ(cu.cuStreamQuery(t), NOT_READY);
    open_gate(8);
    CHECK_EQ(cu.cuStreamSynchronize(t), 0);
    CHECK_EQ(value_of(word(0)), 4 * 3 + 1);
    CHECK_EQ(cu.cuStreamQuery(s), 0);
    finish();
}

/* On a GPU a launch would crash or fail; the CPU device keeps the code. */
TEST(an_unloaded_module_remains_in_the_graph) {
    void *s, *x, *mod = NULL, *f = NULL, *own = step;
    START();
    if (!on_cpu_device()) {
        finish();
        SKIP("not defined on a GPU");
    }
    s = new_stream();
    fill(s, word(0), 1);
    CHECK_EQ(cu.cuModuleLoadData(&mod, text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&f, mod, "step"), 0);
    begin(s);
    step = f;
    do_step(s, word(0), 1);
    step = own;
    x = exec_of(end(s));
    CHECK_EQ(cu.cuModuleUnload(mod), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 4);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    finish();
}

/* The context of captures, of graphs and of launches that run is destroyed. */
TEST(a_context_ends_with_all_of_it) {
    void *own = NULL, *s, *t, *u, *e, *g, *h, *x, *y;
    int state = 77;
    START();
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    CHECK_EQ(cu.cuMemFree_v2(data), 0);
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    CHECK_EQ(cu.cuCtxCreate_v2(&own, 0, 0), 0);
    load();
    s = new_stream();
    t = new_stream();
    u = new_stream();
    e = new_event();
    begin(s);
    do_step(s, word(0), 1);
    g = end(s);
    x = made(g);
    y = made(g);
    CHECK_EQ(cu.cuGraphClone(&h, g), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, u), 0);
    begin(s);
    do_step(s, word(0), 1);
    wait_for(t, s, e);
    do_step(t, word(0), 2);
    CHECK_EQ(cu.cuStreamIsCapturing(t, &state), 0);
    CHECK_EQ(state, 1);
    CHECK_EQ(cu.cuGraphLaunch(y, u), 0);
    CHECK_EQ(cu.cuCtxDestroy_v2(own), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    load();                /* no capture is left that forbids it */
    if (on_cpu_device()) { /* not tried on a GPU */
        s = new_stream();
        CHECK(cu.cuGraphLaunch(x, s) != 0);
        CHECK(cu.cuGraphInstantiateWithFlags(&y, g, 0) != 0);
        CHECK_EQ(cu.cuGraphDestroy(g), 0); /* but cuGraphExecDestroy(x) would hang on a GPU */
        CHECK_EQ(cu.cuGraphDestroy(h), 0);
    }
    finish();
}

/* ---- events of the program in a graph ---- */

TEST(external_events_connect_a_graph_with_other_work) {
    void *s, *t, *in, *out, *x;
    START();
    s = new_stream();
    t = new_stream();
    in = new_event();
    out = new_event();
    fill(s, word(0), 1);
    fill(s, word(1), 0);
    begin(s);
    CHECK_EQ(cu.cuStreamWaitEvent(s, in, 1), 0);
    do_step(s, word(0), 1);
    CHECK_EQ(cu.cuEventRecordWithFlags(out, s, 1), 0);
    close_gate(s, 8);
    x = exec_of(end(s));
    close_gate(t, 9);
    CHECK_EQ(cu.cuEventRecord(in, t), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuStreamWaitEvent(t, out, 0), 0); /* of this launch */
    CHECK_EQ(cu.cuMemcpyAsync(word(1), word(0), 4, t), 0);
    test_sleep_ms(20); /* not order: it could be done too early */
    CHECK_EQ(cu.cuEventQuery(out), NOT_READY);
    open_gate(9);
    CHECK_EQ(cu.cuStreamSynchronize(t), 0);
    CHECK_EQ(cu.cuEventQuery(out), 0);
    CHECK_EQ(cu.cuStreamQuery(s), NOT_READY); /* the graph still runs */
    open_gate(8);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(1)), 4);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0); /* before its events */
    finish();
}

/* ---- updates ---- */

static void *stepping(void *s, void *t, void *e, uint32_t by, int t_first) {
    begin(s);
    do_step(s, word(0), by);
    wait_for(t, s, e);
    if (t_first) do_step(t, word(1), by + 1);
    do_step(s, word(2), by + 2);
    if (!t_first) do_step(t, word(1), by + 1);
    wait_for(s, t, e);
    fill(s, word(3), by + 3);
    return end(s);
}

/* The order of calls on different streams may differ: nodes are paired by their edges. */
TEST(an_update_changes_later_launches) {
    void *s, *t, *e, *x, *other, *first;
    update_result info;
    START();
    if (!cu.cuGraphExecUpdate_v2) {
        finish();
        SKIP("the driver has no cuGraphExecUpdate for CUDA 12.0");
    }
    s = new_stream();
    t = new_stream();
    e = new_event();
    CHECK_EQ(cu.cuMemsetD32Async(word(0), 0, 4, s), 0);
    close_gate(s, 8);
    first = stepping(s, t, e, 10, 0);
    x = made(first);
    other = stepping(s, t, e, 20, 1);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0); /* waits for the gate */
    CHECK_EQ(cu.cuGraphExecUpdate_v2(x, other, &info), 0);
    CHECK_EQ(info.result, 0);
    CHECK_EQ(cu.cuGraphDestroy(other), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    open_gate(8);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 10 * 3 + 20);
    CHECK_EQ(value_of(word(1)), 11 * 3 + 21);
    CHECK_EQ(value_of(word(2)), 12 * 3 + 22);
    CHECK_EQ(value_of(word(3)), 23);
    begin(s); /* the same nodes, in a chain */
    do_step(s, word(0), 1);
    do_step(s, word(0), 1);
    do_step(s, word(0), 1);
    fill(s, word(3), 1);
    other = end(s);
    CHECK_EQ(cu.cuGraphExecUpdate_v2(x, other, &info), UPDATE_FAILURE);
    CHECK_EQ(info.result, 2);
    CHECK_EQ(cu.cuGraphExecUpdate_v2(x, first, &info), 0); /* the failed one changed nothing */
    CHECK_EQ(cu.cuGraphDestroy(first), 0);
    CHECK_EQ(cu.cuGraphDestroy(other), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(3)), 13);
    CHECK_EQ(value_of(word(2)), (12 * 3 + 22) * 3 + 12);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    finish();
}

/* ---- memory of a graph ---- */

TEST(memory_that_a_graph_allocates_and_frees) {
    ptr p = 0, q = 0;
    void *s, *x;
    uint32_t i, expected = 0;
    START();
    s = new_stream();
    fill(s, word(0), 0);
    begin(s);
    CHECK_EQ(cu.cuMemAllocAsync(&p, 1 << 20, s), 0);
    CHECK_EQ(cu.cuMemcpyAsync(p, word(0), 4, s), 0);
    do_step(s, p, 1);
    CHECK_EQ(cu.cuMemAllocAsync(&q, 64, s), 0);
    do_join(s, q, p, p);
    CHECK_EQ(cu.cuMemcpyAsync(word(0), q, 4, s), 0);
    CHECK_EQ(cu.cuMemFreeAsync(q, s), 0);
    CHECK_EQ(cu.cuMemFreeAsync(q, s), INVALID_VALUE);
    CHECK_EQ(cu.cuMemFreeAsync(p, s), 0);
    x = exec_of(end(s));
    CHECK(p && q && p != q);
    for (i = 0; i < TIMES; i++) {
        CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
        expected = (expected * 3 + 1) * 8;
    }
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), expected);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    finish();
}

TEST(memory_that_a_graph_leaves_to_the_program) {
    ptr p = 0;
    void *s, *g, *x = NULL, *y = NULL;
    START();
    s = new_stream();
    begin(s);
    CHECK_EQ(cu.cuMemAllocAsync(&p, 64, s), 0);
    fill(s, p, 5);
    g = end(s);
    x = made(g);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    do_step(s, p, 1);
    CHECK_EQ(cu.cuMemcpyAsync(word(0), p, 4, s), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, s), INVALID_VALUE); /* its memory is still in use */
    CHECK_EQ(cu.cuMemFreeAsync(p, s), 0);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    do_step(s, p, 2);
    CHECK_EQ(cu.cuMemcpyAsync(word(1), p, 4, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 16);
    CHECK_EQ(value_of(word(1)), 17);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0); /* the memory remains until it is freed */
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(value_of(p), 17);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    CHECK(cu.cuMemcpyDtoH_v2(&pinned[0], p, 4) != 0);
    begin(s);
    CHECK_EQ(cu.cuMemAllocAsync(&p, 64, s), 0);
    fill(s, p, 6);
    g = end(s);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&y, g, 1), 0); /* frees it with the next launch */
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuGraphLaunch(y, s), 0);
    do_step(s, p, 1);
    CHECK_EQ(cu.cuGraphLaunch(y, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(p), 6);
    begin(s); /* a second graph frees what the first allocated */
    do_step(s, p, 1);
    CHECK_EQ(cu.cuMemcpyAsync(word(0), p, 4, s), 0);
    CHECK_EQ(cu.cuMemFreeAsync(p, s), 0);
    x = exec_of(end(s));
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 19);
    CHECK_EQ(cu.cuMemFree_v2(p), INVALID_VALUE);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(y), 0);
    finish();
}

/* ---- nodes and edges ---- */

TEST(nodes_report_what_they_do) {
    void *s, *g, *clone = NULL, *nodes[6], *from[8], *to[8], *found = NULL;
    size_t n = 6, edges = 8, one = 1;
    int type = 77;
    kernel_params k;
    memset_params m;
    host_params h;
    ptr at;
    uint32_t by;
    START();
    s = new_stream();
    begin(s);
    do_step(s, word(3), 9);
    CHECK_EQ(cu.cuMemsetD32Async(word(1), 7, 5, s), 0);
    CHECK_EQ(cu.cuLaunchHostFunc(s, count_up, &n), 0);
    g = end(s);
    CHECK_EQ(cu.cuGraphGetNodes(g, nodes, &n), 0);
    CHECK_EQ(n, 3);
    CHECK(!nodes[3] && !nodes[5]);
    CHECK_EQ(cu.cuGraphNodeGetType(nodes[0], &type), 0);
    CHECK_EQ(type, KERNEL);
    CHECK_EQ(cu.cuGraphNodeGetType(nodes[1], &type), 0);
    CHECK_EQ(type, MEMSET);
    CHECK_EQ(cu.cuGraphNodeGetType(nodes[2], &type), 0);
    CHECK_EQ(type, HOST_FUNCTION);
    CHECK_EQ(cu.cuGraphKernelNodeGetParams(nodes[0], &k), 0);
    CHECK(k.function == step && k.grid[0] == 1 && k.block[0] == 1 && k.shared == 0);
    memcpy(&at, k.params[0], sizeof at);
    memcpy(&by, k.params[1], sizeof by);
    CHECK(at == word(3) && by == 9);
    CHECK_EQ(cu.cuGraphMemsetNodeGetParams(nodes[1], &m), 0);
    CHECK(m.to == word(1) && m.value == 7 && m.element == 4 && m.width == 5 && m.height == 1);
    CHECK_EQ(cu.cuGraphHostNodeGetParams(nodes[2], &h), 0);
    CHECK(h.function == count_up && h.user == &n);
    CHECK_EQ(cu.cuGraphKernelNodeGetParams(nodes[1], &k), INVALID_VALUE);
    CHECK_EQ(cu.cuGraphGetEdges(g, from, to, &edges), 0);
    CHECK_EQ(edges, 2);
    CHECK(from[0] == nodes[0] && to[0] == nodes[1] && from[1] == nodes[1] && to[1] == nodes[2]);
    CHECK_EQ(cu.cuGraphNodeGetDependencies(nodes[1], from, &one), 0);
    CHECK(one == 1 && from[0] == nodes[0]);
    CHECK_EQ(cu.cuGraphNodeGetDependentNodes(nodes[1], from, &one), 0);
    CHECK(one == 1 && from[0] == nodes[2]);
    CHECK_EQ(cu.cuGraphGetRootNodes(g, from, &one), 0);
    CHECK(one == 1 && from[0] == nodes[0]);
    CHECK_EQ(cu.cuGraphClone(&clone, g), 0);
    CHECK_EQ(cu.cuGraphNodeFindInClone(&found, nodes[1], clone), 0);
    CHECK(found != nodes[1]);
    CHECK_EQ(cu.cuGraphMemsetNodeGetParams(found, &m), 0);
    CHECK(m.to == word(1));
    CHECK_EQ(cu.cuGraphDestroyNode(nodes[1]), 0);
    CHECK_EQ(count(g), 2);
    CHECK_EQ(count(clone), 3);
    CHECK_EQ(cu.cuGraphGetEdges(g, NULL, NULL, &edges), 0);
    CHECK_EQ(edges, 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuGraphDestroy(clone), 0);
    finish();
}

/* Edges that the program adds: from a later node to an earlier one, in a circle. */
TEST(edges_decide_the_order) {
    void *s, *t, *e, *g, *x = NULL, *nodes[2], *middle = NULL;
    size_t n = 2;
    START();
    s = new_stream();
    t = new_stream();
    e = new_event();
    fill(s, word(0), 1);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    begin(s);
    wait_for(t, s, e);
    do_step(s, word(0), 1);
    do_step(t, word(0), 2);
    wait_for(s, t, e);
    g = end(s);
    CHECK_EQ(cu.cuGraphGetNodes(g, nodes, &n), 0);
    CHECK_EQ(cu.cuGraphAddEmptyNode(&middle, g, &nodes[1], 1), 0);
    CHECK_EQ(cu.cuGraphAddDependencies(g, &middle, &nodes[0], 1), 0); /* 1, middle, 0 */
    CHECK_EQ(cu.cuGraphAddDependencies(g, &middle, &nodes[0], 1), INVALID_VALUE);
    x = made(g);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 5 * 3 + 1);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphAddDependencies(g, &nodes[0], &nodes[1], 1), 0);
    CHECK(cu.cuGraphInstantiateWithFlags(&x, g, 0) != 0);
    CHECK_EQ(cu.cuGraphRemoveDependencies(g, &nodes[0], &nodes[1], 1), 0);
    x = exec_of(g);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    finish();
}

/* What the next node of a capture depends on; a capture that adds to a graph. */
TEST(captures_are_steered) {
    void *s, *g = NULL, *info_graph = NULL, *x, *first = NULL, *root = NULL;
    void *const *last = NULL;
    int state = 77;
    uint64_t id = 0, other = 0;
    size_t n = 77;
    START();
    s = new_stream();
    fill(s, word(0), 1);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    begin(s);
    CHECK_EQ(cu.cuStreamGetCaptureInfo_v2(s, &state, &id, &g, &last, &n), 0);
    CHECK(state == 1 && id && g && n == 0);
    do_step(s, word(0), 1);
    CHECK_EQ(cu.cuStreamGetCaptureInfo_v2(s, &state, &other, &info_graph, &last, &n), 0);
    CHECK(other == id && info_graph == g && n == 1);
    first = last[0];
    CHECK_EQ(cu.cuGraphAddEmptyNode(&root, g, NULL, 0), 0);
    CHECK_EQ(cu.cuStreamUpdateCaptureDependencies(s, &root, 1, 0), 0); /* also after this one */
    do_step(s, word(0), 2);
    CHECK_EQ(cu.cuStreamGetCaptureInfo_v2(s, &state, NULL, NULL, &last, &n), 0);
    CHECK_EQ(n, 1);
    n = 0;
    CHECK_EQ(cu.cuGraphNodeGetDependencies(last[0], NULL, &n), 0);
    CHECK_EQ(n, 2);
    CHECK_EQ(cu.cuStreamUpdateCaptureDependencies(s, &first, 1, 1), 0); /* only after the first */
    fill(s, word(1), 3);
    CHECK_EQ(cu.cuGraphGetEdges(g, NULL, NULL, &n), 0);
    CHECK_EQ(n, 3);
    CHECK(end(s) == g);
    x = made(g);
    CHECK_EQ(cu.cuGraphLaunch(x, s), 0);
    CHECK_EQ(cu.cuStreamSynchronize(s), 0);
    CHECK_EQ(value_of(word(0)), 4 * 3 + 2);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    if (cu.cuStreamBeginCaptureToGraph) {
        CHECK_EQ(cu.cuStreamBeginCaptureToGraph(s, g, &first, NULL, 1, THREAD_LOCAL), 0);
        fill(s, word(2), 4);
        CHECK(end(s) == g);
        CHECK_EQ(count(g), 5);
        CHECK_EQ(cu.cuGraphNodeGetDependentNodes(first, NULL, &n), 0);
        CHECK_EQ(n, 3);
        CHECK_EQ(cu.cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, THREAD_LOCAL), 0);
        CHECK_EQ(cu.cuStreamQuery(s), UNSUPPORTED);
        CHECK_EQ(cu.cuStreamEndCapture(s, &info_graph), INVALIDATED);
        /* it went with the capture */
        if (!test_strict()) CHECK_EQ(cu.cuGraphDestroy(g), INVALID_VALUE);
    } else CHECK_EQ(cu.cuGraphDestroy(g), 0);
    finish();
}

TEST(a_graph_as_text) {
    void *s, *g;
    char path[] = "/tmp/gpuexec_graph_XXXXXX", dot[8192] = "";
    FILE *file;
    int fd;
    START();
    s = new_stream();
    begin(s);
    do_step(s, word(0), 1);
    fill(s, word(0), 1);
    g = end(s);
    fd = mkstemp(path);
    if (!CHECK(fd >= 0)) return;
    CHECK_EQ(cu.cuGraphDebugDotPrint(g, path, 1), 0);
    file = fdopen(fd, "r");
    CHECK(file && fread(dot, 1, sizeof dot - 1, file) > 0);
    CHECK(strstr(dot, "digraph") && strstr(dot, "step") && strstr(dot, "->"));
    if (file) fclose(file);
    unlink(path);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    finish();
}

/* ---- threads ---- */

static int bad_threads; /* __atomic */

/* Captures and replays; now and then it breaks its own capture, which no other thread notices. */
static void *capture_and_replay(void *user) {
    const unsigned own = (unsigned)(uintptr_t)user;
    uint32_t expected = 0;
    void *s = NULL, *t = NULL, *e = NULL, *g = NULL, *x = NULL;
    int i, k, good;
    good = !cu.cuCtxSetCurrent(context) && !cu.cuStreamCreate(&s, 1) && !cu.cuStreamCreate(&t, 1) &&
            !cu.cuEventCreate(&e, 2) && !cu.cuMemsetD32Async(word(own), 0, 1, s);
    for (i = 0; i < 20 && good; i++) {
        ptr at = word(own);
        uint32_t by = (uint32_t)i;
        void *params[2];
        params[0] = &at;
        params[1] = &by;
        good = !cu.cuStreamBeginCapture_v2(s, THREAD_LOCAL);
        for (k = 0; k < 5; k++) {
            void *on = k == 3 ? t : s;
            if (k == 3) good &= !cu.cuEventRecord(e, s) && !cu.cuStreamWaitEvent(t, e, 0);
            good &= !cu.cuLaunchKernel(step, 1, 1, 1, 1, 1, 1, 0, on, params, NULL);
            if (k == 3) good &= !cu.cuEventRecord(e, t) && !cu.cuStreamWaitEvent(s, e, 0);
        }
        if (i % 5 == 4) {
            good &= cu.cuStreamSynchronize(t) == UNSUPPORTED &&
                    cu.cuStreamEndCapture(s, &g) == INVALIDATED;
            continue;
        }
        good &= !cu.cuStreamEndCapture(s, &g) && !cu.cuGraphInstantiateWithFlags(&x, g, 0) &&
                !cu.cuGraphDestroy(g);
        for (k = 0; k < 3 && good; k++) good = !cu.cuGraphLaunch(x, s);
        for (k = 0; k < 15; k++) expected = expected * 3 + by;
        good = good && !cu.cuGraphExecDestroy(x);
    }
    good = good && !cu.cuStreamSynchronize(s) && value_of(word(own)) == expected;
    good &= !cu.cuStreamDestroy_v2(s) && !cu.cuStreamDestroy_v2(t) && !cu.cuEventDestroy_v2(e);
    if (!good) __atomic_add_fetch(&bad_threads, 1, __ATOMIC_RELAXED);
    return NULL;
}

TEST(threads_capture_at_the_same_time) {
    pthread_t threads[THREADS];
    unsigned i;
    START();
    bad_threads = 0;
    for (i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, capture_and_replay, (void *)(uintptr_t)i), 0);
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_EQ(bad_threads, 0);
    finish();
}

static void *launch_one(void *stream) {
    if (cu.cuCtxSetCurrent(context) ||
            cu.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL))
        __atomic_add_fetch(&bad_threads, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* One capture whose streams several threads use. */
TEST(threads_capture_together) {
    pthread_t threads[THREADS];
    void *streams[THREADS], *s, *e, *g;
    unsigned i;
    START();
    s = new_stream();
    e = new_event();
    bad_threads = 0;
    for (i = 0; i < THREADS; i++) streams[i] = new_stream();
    begin(s);
    for (i = 0; i < THREADS; i++) wait_for(streams[i], s, e);
    for (i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, launch_one, streams[i]), 0);
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (i = 0; i < THREADS; i++) wait_for(s, streams[i], e);
    g = end(s);
    CHECK_EQ(bad_threads, 0);
    CHECK_EQ(count(g), THREADS);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    finish();
}

/* A thread may lift the restriction for its own calls. */
TEST(a_relaxed_thread_may_allocate) {
    void *s;
    ptr p = 0;
    int mode = RELAXED;
    START();
    s = new_stream();
    CHECK_EQ(cu.cuStreamBeginCapture_v2(s, GLOBAL), 0);
    CHECK_EQ(cu.cuThreadExchangeStreamCaptureMode(&mode), 0);
    CHECK_EQ(mode, GLOBAL);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 0);
    CHECK_EQ(cu.cuThreadExchangeStreamCaptureMode(&mode), 0);
    CHECK_EQ(mode, RELAXED);
    fill(s, p, 1);
    CHECK_EQ(cu.cuGraphDestroy(end(s)), 0);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    finish();
}
