/* multi.c - one launch over several devices: both kinds of launch, every rule violated once, the
   barrier, and what happens to the other devices when one fails. TEST_ROUNDS=n in the environment
   repeats each injected fault n times; TEST_BARRIER_TIMEOUT=seconds raises the timeout of barriers
   at which correct launches also meet, 3 s, for an emulated processor. */
#define _GNU_SOURCE 1 /* ppoll */
#include "../../test.h"
#include <semaphore.h>

enum {
    MOST = 8,
    BLOCKS = 4,
    THREADS = 64,
    TRAP = 1,
    LEAVE = 2,
    ABORT = 3,
    COOPERATIVE_MULTI_DEVICE = 96
};

/* everything that one launch over all devices needs */
typedef struct party {
    unsigned n;
    gpuexec_context context[MOST];
    gpuexec_kernel kernel[MOST];
    gpuexec_stream stream[MOST];
    gpuexec_ptr places[MOST], counts[MOST]; /* elements of the ring; wrong and done */
    gpuexec_barrier barrier;
    int rounds, fault[MOST], fault_round;
    gpuexec_dims dims[MOST];
} party;

static unsigned devices_here(void) {
    int n = gpuexec_device_count();
    return n < 0 ? 0 : n > MOST ? (unsigned)MOST : (unsigned)n;
}

static const gpuexec_stream_desc non_blocking = { 0, 1, 0, 0 };

/* Prepares the first n devices. Returns 0 if that fails, which is a failure of the test. */
static int gather(party *p, unsigned n, const gpuexec_barrier_desc *desc) {
    unsigned i;
    memset(p, 0, sizeof *p);
    p->n = n;
    p->rounds = 5;
    for (i = 0; i < n; i++) {
        p->context[i] = gpuexec_context_open((int)i, NULL);
        p->kernel[i] = gpuexec_kernel_get(
                gpuexec_module_load_file(p->context[i], "kernels/ring_exchange.ptx", NULL),
                "ring_exchange");
        p->stream[i] = gpuexec_stream_create(p->context[i], i % 2 ? &non_blocking : NULL);
        p->places[i] = gpuexec_alloc(p->context[i], BLOCKS * sizeof(uint32_t));
        p->counts[i] = gpuexec_alloc(p->context[i], 2 * sizeof(uint32_t));
        gpuexec_fill_now(p->context[i], p->counts[i], 0, 1, 2 * sizeof(uint32_t));
        p->dims[i] = gpuexec_grid(BLOCKS, THREADS, 0);
    }
    p->barrier = gpuexec_barrier_create(p->context, n, desc);
    return CHECK_MADE(p->barrier) && CHECK_OK(gpuexec_take_error());
}

/* The storage for the arguments of each device's launch. */
typedef struct arguments {
    gpuexec_ptr barrier, mine, next, wrong, done;
    int rounds, fault, fault_round;
    const void *list[8];
} arguments;

static void list_of(party *p, gpuexec_device_launch *list, arguments *a) {
    unsigned i;
    for (i = 0; i < p->n; i++) {
        const void *const in_order[8] = { &a[i].barrier, &a[i].mine, &a[i].next, &a[i].rounds,
            &a[i].fault, &a[i].fault_round, &a[i].wrong, &a[i].done };
        a[i].barrier = gpuexec_barrier_address(p->barrier, i);
        a[i].mine = p->places[i];
        /* without peer access a device can only write to itself */
        a[i].next = p->places[gpuexec_barrier_is_direct(p->barrier) ? (i + 1) % p->n : i];
        a[i].wrong = p->counts[i];
        a[i].done = p->counts[i] + 4;
        a[i].rounds = p->rounds;
        a[i].fault = p->fault[i];
        a[i].fault_round = p->fault_round;
        memcpy(a[i].list, in_order, sizeof in_order);
        memset(&list[i], 0, sizeof list[i]);
        list[i].kernel = p->kernel[i];
        list[i].stream = p->stream[i];
        list[i].dims = p->dims[i];
        list[i].args.addresses = a[i].list;
        list[i].args.count = 8;
    }
}
static gpuexec_result launch(party *p, const gpuexec_multi_desc *desc) {
    gpuexec_device_launch list[MOST];
    arguments a[MOST];
    list_of(p, list, a);
    return gpuexec_launch_multi_device(list, p->n, desc);
}
static uint32_t counted(party *p, unsigned i, unsigned k) {
    uint32_t value = 77;
    CHECK_OK(gpuexec_copy_out_now(p->context[i], &value, p->counts[i] + 4 * k, sizeof value));
    return value;
}
static void all_done(party *p, uint32_t launches) {
    unsigned i;
    for (i = 0; i < p->n; i++) CHECK_OK(gpuexec_stream_sync(p->stream[i]));
    for (i = 0; i < p->n; i++) {
        CHECK_EQ(counted(p, i, 0), 0);
        CHECK_EQ(counted(p, i, 1), launches * BLOCKS);
    }
}

/* Of barriers that a test breaks, and at which correct launches also meet: longer than a machine
   stops the process. */
static double barrier_timeout(void) {
    const char *seconds = getenv("TEST_BARRIER_TIMEOUT");
    return seconds && atof(seconds) > 3 ? atof(seconds) : 3;
}

#define NEEDS(devices) \
    if (devices_here() < (devices)) SKIP("needs " #devices " devices")

/* The barrier's addresses in a struct by value: another device's address is detected, unless the
   struct has all. */
TEST(a_barrier_and_a_capture) {
    party p;
    gpuexec_graph graph = { 0 };
    if (!gather(&p, 1, NULL)) return;
    GPUEXEC_CAPTURE(p.stream[0], &graph)
    CHECK_FAILED(gpuexec_barrier_destroy(p.barrier), GPUEXEC_CAPTURING,
            "cannot destroy the barrier: it is waiting for device 0, and the device's stream "
            "(created at",
            "multi.c:", "end the capture first");
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
}

/* --- in a graph ------------------------------------------------------------------------------- */

/* Creating one needs no stream that synchronizes with the one that captures; resetting one does. */
TEST(a_barrier_beside_the_capture_of_a_blocking_stream) {
    const setting s = set_up(UNIT_PTX, "nothing", 0);
    gpuexec_barrier before = gpuexec_barrier_create(&s.ctx, 1, NULL), barrier = { 0 };
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        barrier = gpuexec_barrier_create(&s.ctx, 1, NULL);
        CHECK_MADE(barrier);
        CHECK_OK(gpuexec_barrier_abort(before));
        CHECK_REFUSED(gpuexec_barrier_reset(before), GPUEXEC_CAPTURING,
                "a blocking stream of the context is capturing");
        CHECK_FAILED(gpuexec_barrier_check(before), GPUEXEC_BARRIER_BROKEN,
                "gpuexec_barrier_abort was called");
        CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    }
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_barrier_reset(before));
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_barrier_destroy(barrier));
    CHECK_OK(gpuexec_barrier_destroy(before));
}
/* At each place where creating one can fail: the capture goes on. */
static gpuexec_result barrier_in_a_capture(void) {
    const gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    const gpuexec_module m = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    const int enough = gpuexec_ok(m) && gpuexec_capture_begin(s, NULL) == GPUEXEC_OK;
    gpuexec_result result = GPUEXEC_OUT_OF_HOST_MEMORY;
    if (!enough) return result;
    if (gpuexec_ok(gpuexec_barrier_create(&ctx, 1, NULL))) result = GPUEXEC_OK;
    else CHECK_EQ(gpuexec_stream_is_capturing(s), 1);
    gpuexec_take_error();
    test_blocks_left = TEST_BLOCKS_ENOUGH;
    CHECK_MADE(gpuexec_capture_end(s));
    return result;
}
TEST(a_barrier_that_fails_breaks_no_capture) { test_running_dry(barrier_in_a_capture, 200); }
/* The other streams join the capture with the launch, and the first one waits for them at its
   end. */
static gpuexec_graph graph_of(party *p, const gpuexec_multi_desc *desc) {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(p->stream[0], &graph) launch(p, desc);
    return graph;
}
static void graph_on(unsigned n, int host_memory, int replays) {
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_graph_info info;
    gpuexec_graph graph;
    party p;
    int i;
    barrier.host_memory = host_memory;
    if (!gather(&p, n, &barrier)) return;
    desc.barrier = p.barrier;
    graph = graph_of(&p, &desc);
    if (!CHECK_MADE(graph)) return;
    CHECK_OK(gpuexec_graph_get_info(graph, &info));
    CHECK_EQ(info.kernels, n);
    for (i = 0; i < (int)n; i++) CHECK(!gpuexec_stream_is_capturing(p.stream[i]));
    for (i = 0; i < replays; i++) CHECK_OK(gpuexec_graph_launch(graph, p.stream[0]));
    CHECK_OK(launch(&p, &desc)); /* and the same launch without a graph, after all of them */
    all_done(&p, (uint32_t)replays + 1);
    CHECK_OK(gpuexec_graph_destroy(graph));
}
TEST_ALONE_MULTI(graph_on_all_devices) {
    NEEDS(2);
    graph_on(devices_here(), 0, 100);
}
TEST_ALONE_MULTI(graph_through_host_memory) {
    NEEDS(2);
    graph_on(2, 1, 20);
}

/* The launch is a part of the graph: copies and fills before and after it, on several streams. */
TEST_ALONE_MULTI(graph_around_a_launch) {
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_graph graph = { 0 };
    uint32_t got[2][2];
    party p;
    int i;
    NEEDS(2);
    if (!gather(&p, 2, NULL)) return;
    desc.barrier = p.barrier;
    GPUEXEC_CAPTURE(p.stream[1], &graph) {
        gpuexec_fill(p.stream[1], p.counts[1], 0, 1, 8);
        gpuexec_stream_wait_stream(p.stream[0], p.stream[1]);
        gpuexec_fill(p.stream[0], p.counts[0], 0, 1, 8);
        launch(&p, &desc);
        for (i = 0; i < 2; i++) gpuexec_copy_out(p.stream[i], got[i], p.counts[i], 8);
        gpuexec_stream_wait_stream(p.stream[1], p.stream[0]);
    }
    if (!CHECK_MADE(graph)) return;
    for (i = 0; i < 5; i++) {
        memset(got, 77, sizeof got);
        CHECK_OK(gpuexec_graph_launch(graph, p.stream[1]));
        CHECK_OK(gpuexec_stream_sync(p.stream[1]));
        CHECK(got[0][0] == 0 && got[1][0] == 0 && got[0][1] == BLOCKS && got[1][1] == BLOCKS);
    }
}

/* A device that does not reach the barrier: the other one leaves after the timeout, and the graph
   works again after a reset. */
TEST_ALONE_MULTI(graph_without_one_device) {
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_graph broken, whole;
    party p;
    int i;
    NEEDS(2);
    barrier.timeout_seconds = barrier_timeout();
    if (!gather(&p, 2, &barrier)) return;
    desc.barrier = p.barrier;
    whole = graph_of(&p, &desc);
    p.fault[1] = LEAVE;
    p.fault_round = 2;
    broken = graph_of(&p, &desc);
    CHECK_OK(gpuexec_graph_launch(whole, p.stream[0]));
    CHECK_OK(gpuexec_stream_sync(p.stream[0]));
    CHECK_OK(gpuexec_graph_launch(broken, p.stream[0]));
    CHECK_RESULT(gpuexec_stream_sync(p.stream[0]), GPUEXEC_BARRIER_BROKEN);
    CHECK_TEXT(gpuexec_error_text(), "device 0 waited", "for device 1");
    CHECK_REFUSED(gpuexec_graph_launch(whole, p.stream[0]), GPUEXEC_BARRIER_BROKEN,
            "device 0 waited", "gpuexec_barrier_reset");
    CHECK_OK(gpuexec_barrier_reset(p.barrier));
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_fill_now(p.context[i], p.counts[i], 0, 1, 8));
    CHECK_OK(gpuexec_graph_launch(whole, p.stream[0]));
    all_done(&p, 1);
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
    CHECK_REFUSED(gpuexec_graph_launch(whole, p.stream[0]), GPUEXEC_STALE_HANDLE, "node",
            "device memory", "multi.c:", "were freed at");
}

/* The same as nodes: all devices at the same time, because each waits for the others in each
   round. */
TEST_ALONE_MULTI(nodes_on_all_devices) {
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_device_launch list[MOST];
    arguments a[MOST];
    gpuexec_graph graph;
    gpuexec_graph_info info;
    gpuexec_node fill, all;
    uint32_t got[2] = { 7, 7 };
    gpuexec_dims dims;
    party p;
    unsigned i;
    NEEDS(2);
    if (!gather(&p, devices_here(), NULL)) return;
    desc.barrier = p.barrier;
    p.rounds = 20;
    list_of(&p, list, a);
    graph = gpuexec_graph_create(p.context[0]);
    fill = gpuexec_graph_add_fill(graph, p.counts[0], 0, 4, 2, GPUEXEC_FIRST);
    for (i = 0; i < p.n; i++) memset(&list[i].stream, 0, sizeof list[i].stream);
    all = gpuexec_graph_add_multi_device(graph, list, p.n, &desc, GPUEXEC_AFTER(fill));
    CHECK_EQ(all.index, p.n + 1);
    CHECK_MADE(gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(got, 0), ON_DEVICE(p.counts[0], 0), sizeof got), GPUEXEC_AFTER(all))
                       .graph);
    for (i = 0; i < 100; i++) CHECK_OK(gpuexec_graph_launch(graph, p.stream[1]));
    CHECK_OK(gpuexec_stream_sync(p.stream[1]));
    CHECK(got[0] == 0 && got[1] == BLOCKS);
    CHECK_EQ(counted(&p, 1, 1), 100 * BLOCKS);
    CHECK_EQ(counted(&p, p.n - 1, 0), 0);

    desc.no_post_sync = 1;
    CHECK_NOT_MADE(gpuexec_graph_add_multi_device(graph, list, p.n, &desc, GPUEXEC_FIRST).graph,
            GPUEXEC_BAD_ARGUMENT,
            "gpuexec_multi_desc.way is 0, no_pre_sync is 0 and no_post_sync is 1, but all three "
            "must be 0 in a graph",
            "in a graph");
    desc.no_post_sync = 0;
    dims = list[1].dims;
    list[1].dims.grid_x++;
    CHECK_NOT_MADE(gpuexec_graph_add_multi_device(graph, list, p.n, &desc, GPUEXEC_FIRST).graph,
            GPUEXEC_BAD_LAUNCH, "grid_x is 4 on device 0, but 5 on device 1");
    list[1].dims = dims;
    all.index = 99;
    CHECK_NOT_MADE(
            gpuexec_graph_add_multi_device(graph, list, p.n, &desc, GPUEXEC_AFTER(all)).graph,
            GPUEXEC_BAD_ARGUMENT, "is node 99");
    CHECK_OK(gpuexec_graph_get_info(graph, &info));
    CHECK_EQ(info.nodes, p.n + 3); /* nothing was added */
}

TEST_MULTI(graph_rules) {
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_DRIVER, 0, 0, { 0 }, NULL, 0 };
    gpuexec_graph graph = { 0 };
    party p;
    NEEDS(2);
    if (!gather(&p, 2, NULL)) return;
    desc.barrier = p.barrier;
    GPUEXEC_CAPTURE(p.stream[1], &graph) {
        CHECK_REFUSED(launch(&p, &desc), GPUEXEC_CAPTURING,
                "launches[1].stream is capturing, which the driver's own",
                "set gpuexec_multi_desc.way to 0");
        desc.way = GPUEXEC_MULTI_FASTEST;
        desc.no_pre_sync = 1;
        CHECK_REFUSED(launch(&p, &desc), GPUEXEC_CAPTURING,
                "launches[1].stream is capturing, but launches[0].stream has not joined the "
                "capture",
                "gpuexec_stream_wait_stream");
        gpuexec_stream_wait_stream(p.stream[0], p.stream[1]);
        desc.no_post_sync = 1;
        CHECK_OK(launch(&p, &desc));
        gpuexec_stream_wait_stream(p.stream[1], p.stream[0]);
    }
    if (!CHECK_MADE(graph)) return;
    CHECK_OK(gpuexec_graph_launch(graph, p.stream[1]));
    all_done(&p, 1);
}

TEST_MULTI(another_devices_part_in_a_struct) {
    static const char ptx[] =
            ".version 6.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry in_struct(.param .u32 n, .param .align 8 .b8 s[32]) { ret; }\n";
    struct {
        int first, second;
        gpuexec_ptr a, b;
        int last, padding;
    } s[2];
    gpuexec_barrier_desc in = { 0, 0, 0, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_device_launch list[2];
    const void *addresses[2][2];
    party p;
    int n = 7, i, k;
    if (devices_here() < 2) SKIP("needs 2 devices");
    if (!gather(&p, 2, &in)) return;
    desc.barrier = p.barrier;
    for (k = 0; k < 4; k++) {
        memset(s, 0, sizeof s);
        memset(list, 0, sizeof list);
        for (i = 0; i < 2; i++) {
            const gpuexec_ptr own = gpuexec_barrier_address(p.barrier, (unsigned)i),
                              other = gpuexec_barrier_address(p.barrier, (unsigned)!i);
            s[i].a = k == 1 ? other : k == 3 ? other : k == 2 ? 0 : own;
            s[i].b = k == 2 ? other : k == 3 ? own : 0;
            addresses[i][0] = &n;
            addresses[i][1] = &s[i];
            list[i].kernel = gpuexec_kernel_get(
                    gpuexec_module_load(p.context[i], ptx, 0, NULL), "in_struct");
            list[i].stream = p.stream[i];
            list[i].dims = gpuexec_grid(1, 1, 0);
            list[i].args.addresses = addresses[i];
            list[i].args.count = 2;
        }
        if (k == 0 || k == 3) { /* its address, or both */
            CHECK_OK(gpuexec_launch_multi_device(list, 2, &desc));
            continue;
        }
        CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, &desc), GPUEXEC_BAD_PARAMETERS,
                "launches[0]: argument 1 (counted from 0) of kernel \"in_struct\" holds, at byte ",
                k == 1 ? "byte 8," : "byte 16,", "device 1's part of the barrier",
                "gpuexec_barrier_address");
    }
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_sync(p.stream[i]));
}

/* --- it works --------------------------------------------------------------------------------- */

static void works(unsigned n, gpuexec_multi_way way, int host_memory) {
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    party p;
    int flags;
    barrier.host_memory = host_memory;
    if (!gather(&p, n, &barrier)) return;
    desc.way = way;
    desc.barrier = p.barrier;
    p.rounds = 20;
    if (host_memory) CHECK_EQ(gpuexec_barrier_is_direct(p.barrier), 0);
    for (flags = 0; flags < 4; flags++) {
        desc.no_pre_sync = flags & 1;
        desc.no_post_sync = flags >> 1;
        CHECK_OK(launch(&p, &desc));
    }
    all_done(&p, 4);
    CHECK_OK(gpuexec_barrier_check(p.barrier));
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
}
TEST_MULTI(one_device) { works(1, GPUEXEC_MULTI_FASTEST, 0); }

TEST_MULTI(per_device) {
    NEEDS(2);
    works(devices_here(), GPUEXEC_MULTI_PER_DEVICE, 0);
}

TEST_MULTI(two_devices) {
    NEEDS(2);
    works(2, GPUEXEC_MULTI_FASTEST, 0);
}

/* GPUEXEC_CHECK waits after all parts are launched: they meet at the barrier. */
TEST_MULTI(checked_after_all_parts) {
    gpuexec_setup_desc desc = { 0 };
    NEEDS(2);
    gpuexec_shutdown();
    desc.check = 1;
    CHECK_OK(gpuexec_setup(&desc));
    works(2, GPUEXEC_MULTI_FASTEST, 0);
    works(2, GPUEXEC_MULTI_PER_DEVICE, 0);
}
TEST_MULTI(through_host) {
    NEEDS(2);
    works(devices_here(), GPUEXEC_MULTI_FASTEST, 1);
}

/* Four devices with links of other kinds. The barrier needs peer access between all of them, but no
   atomics over the links; without peer access it works through host memory. */
static const char *on_topology(const char *peers, int direct) {
    party p;
    setenv("SIMGPU_DEVICES", "4", 1);
    setenv("SIMGPU_PEERS", peers, 1);
    if (!on_cpu_device()) return "only the CPU device has topologies to choose from";
    if (!gather(&p, 4, NULL)) return NULL;
    CHECK_EQ(gpuexec_barrier_is_direct(p.barrier), direct);
    works(4, GPUEXEC_MULTI_FASTEST, 0);
    return NULL;
}
TEST_ALONE_MULTI(on_pcie) {
    const char *why = on_topology("pcie", 1);
    if (why) SKIP(why);
}
TEST_ALONE_MULTI(on_nvlink_and_pcie) {
    const char *why = on_topology("mixed", 1);
    if (why) SKIP(why);
}
TEST_ALONE_MULTI(in_pairs_without_a_link_between_them) {
    const char *why = on_topology("pairs", 0);
    if (why) SKIP(why);
}

TEST_MULTI(by_the_driver) {
    int can = 0;
    NEEDS(2);
    CHECK_OK(gpuexec_device_get_attribute(0, COOPERATIVE_MULTI_DEVICE, &can));
    if (!can) SKIP("the device does not support the driver's multi-device launch");
    works(devices_here(), GPUEXEC_MULTI_DRIVER, 0);
}

/* --- kernels that use multi_grid_group of cooperative groups ---------------------------------- */

/* As nvcc compiles them: a declaration, and a call with the scope in a register or as a number. */
static gpuexec_kernel get_handle(gpuexec_context ctx, const char *scope, const char *also) {
    char ptx[2000];
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    snprintf(ptx, sizeof ptx,
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle (.param .b32 scope);\n%s"
            ".visible .entry get_handle(.param .u64 to) {\n"
            "    .reg .b32 %%r<3>; .reg .b64 %%rd<3>;\n"
            "    ld.param.u64 %%rd1, [to];\n    mov.u32 \t%%r1, 1;\n    mov.u32 \t%%r2, 2;\n"
            "    { .param .b32 param0; .param .b64 retval0;\n"
            "    st.param.b32 \t[param0+0], %s;\n"
            "    call.uni (retval0), cudaCGGetIntrinsicHandle, (param0);\n"
            "    ld.param.b64 \t%%rd2, [retval0+0]; }\n    st.u64 [%%rd1], %%rd2;\n    ret;\n}\n",
            also, scope);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, ptx, strlen(ptx) + 1, "get_handle"));
    return gpuexec_kernel_get(gpuexec_linker_load(l), "get_handle");
}
/* Prepares the launch of such a kernel on two devices. */
typedef struct pair {
    gpuexec_device_launch launches[2];
    gpuexec_ptr to[2];
    const void *arguments[2];
} pair;
static void make_pair(pair *p, const char *scope, const char *also) {
    unsigned i;
    memset(p, 0, sizeof *p);
    for (i = 0; i < 2; i++) {
        const gpuexec_context ctx = gpuexec_context_open((int)i, NULL);
        p->to[i] = gpuexec_alloc(ctx, 8);
        p->arguments[i] = &p->to[i];
        p->launches[i].kernel = get_handle(ctx, scope, also);
        p->launches[i].stream = gpuexec_stream_create(ctx, NULL);
        p->launches[i].dims = gpuexec_grid(1, 1, 0);
        p->launches[i].args.addresses = &p->arguments[i];
        p->launches[i].args.count = 1;
    }
}

TEST_ALONE_MULTI(kernels_with_multi_grid_go_to_the_driver) {
    static const char get_rank[] =
            ".extern .func (.param .b32 error) cudaCGGetRank(.param .b64 handle);\n";
    static const struct {
        const char *scope, *also;
        int multi;
    } made[] = { { "%r2", "", 1 }, { "2", "", 1 }, { "%r1", "", 0 }, { "1", "", 0 },
        { "1", get_rank, 1 } };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_graph graph;
    unsigned i;
    pair p;
    /* the driver's own launch fails once for each of the three kernels that need it */
    setenv("SIMGPU_FAIL",
            "cuLaunchCooperativeKernelMultiDevice:1:801,cuLaunchCooperativeKernelMultiDevice:2:801,"
            "cuLaunchCooperativeKernelMultiDevice:3:801",
            1);
    NEEDS(2);
    if (!on_cpu_device()) SKIP("a GPU needs libcudadevrt.a");
    for (i = 0; i < sizeof made / sizeof made[0]; i++) {
        make_pair(&p, made[i].scope, made[i].also);
        if (!made[i].multi) {
            CHECK_OK(gpuexec_launch_multi_device(p.launches, 2, NULL));
            continue;
        }
        CHECK_REFUSED(gpuexec_launch_multi_device(p.launches, 2, NULL), GPUEXEC_NOT_SUPPORTED,
                "cuLaunchCooperativeKernelMultiDevice", "cannot launch kernel \"get_handle\"",
                "use a gpuexec_barrier");
    }
    CHECK_OK(gpuexec_launch_multi_device(p.launches, 2, NULL));
    desc.way = GPUEXEC_MULTI_PER_DEVICE;
    CHECK_REFUSED(gpuexec_launch_multi_device(p.launches, 2, &desc), GPUEXEC_NOT_SUPPORTED,
            "kernel \"get_handle\" uses multi_grid_group", "way to 0");
    CHECK_OK(gpuexec_capture_begin(p.launches[0].stream, NULL));
    CHECK_REFUSED(gpuexec_launch_multi_device(p.launches, 2, NULL), GPUEXEC_CAPTURING,
            "uses multi_grid_group", "which graphs cannot contain", "use a gpuexec_barrier");
    graph = gpuexec_capture_end(p.launches[0].stream);
    CHECK_MADE(graph);
    graph = gpuexec_graph_create(gpuexec_context_open(0, NULL));
    CHECK(!gpuexec_ok(
            gpuexec_graph_add_multi_device(graph, p.launches, 2, NULL, GPUEXEC_FIRST).graph));
    CHECK_TEXT(gpuexec_error_text(), "uses multi_grid_group");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_CAPTURING);
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_sync(p.launches[i].stream));
}

/* --- kernels/exchange.cu, with sizes that are no multiple of anything ------------------------- */

enum { KERNEL_DEVICES = 32, WORDS = 1027 };
typedef struct all_to_all_data {
    gpuexec_ptr barrier, parts, received[KERNEL_DEVICES], back[KERNEL_DEVICES];
    unsigned long long n;
} all_to_all_data;
typedef struct all_reduce_data {
    gpuexec_ptr barrier, in[KERNEL_DEVICES], out[KERNEL_DEVICES];
    unsigned long long n;
    int rounds;
} all_reduce_data;

/* Memory for WORDS words of each device that all devices can access, filled with 0xff. */
static gpuexec_ptr words_of(party *p, unsigned i) {
    const size_t bytes = (size_t)p->n * WORDS * 4;
    void *host = gpuexec_barrier_is_direct(p->barrier) ? NULL
                                                       : gpuexec_alloc_pinned(p->context[i], bytes);
    gpuexec_ptr d = host ? gpuexec_pinned_address(host) : gpuexec_alloc(p->context[i], bytes);
    if (host) memset(host, 0xff, bytes);
    else CHECK_OK(gpuexec_fill_now(p->context[i], d, 0xff, 1, bytes));
    return d;
}
static void launch_exchange(party *p, const char *name, void *data, size_t size, unsigned blocks) {
    gpuexec_device_launch list[MOST];
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    const void *argument[MOST];
    unsigned i;
    memset(list, 0, sizeof list);
    desc.barrier = p->barrier;
    for (i = 0; i < p->n; i++) {
        argument[i] = (char *)data + i * size;
        list[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(p->context[i], "kernels/exchange.ptx", NULL), name);
        list[i].stream = p->stream[i];
        list[i].dims = gpuexec_grid(blocks, THREADS, 0);
        list[i].args.addresses = &argument[i];
        list[i].args.count = 1;
    }
    CHECK_OK(gpuexec_launch_multi_device(list, p->n, &desc));
    for (i = 0; i < p->n; i++) CHECK_OK(gpuexec_stream_sync(p->stream[i]));
}
static void exchange(unsigned n, int host_memory) {
    static const unsigned sizes[] = { 0, 1, 3, 4, 1024, WORDS };
    static uint32_t parts[MOST][MOST * WORDS], got[MOST * WORDS];
    static float numbers[MOST][WORDS], sums[WORDS], got_sums[WORDS + 1];
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    all_to_all_data to_all[MOST];
    all_reduce_data sum[MOST];
    uint32_t seed = 7;
    unsigned i, j, k, round;
    party p;
    barrier.host_memory = host_memory;
    if (!gather(&p, n, &barrier)) return;
    memset(to_all, 0, sizeof to_all);
    memset(sum, 0, sizeof sum);
    for (i = 0; i < n; i++) {
        for (k = 0; k < MOST * WORDS; k++) parts[i][k] = test_random(&seed);
        for (k = 0; k < WORDS; k++) numbers[i][k] = (float)(test_random(&seed) % 1000);
    }
    for (round = 0; round < sizeof sizes / sizeof *sizes; round++) {
        const unsigned words = sizes[round], blocks = round % 2 ? 1 : BLOCKS;
        memset(sums, 0, sizeof sums);
        for (i = 0; i < n; i++) {
            to_all[0].received[i] = words_of(&p, i);
            to_all[0].back[i] = words_of(&p, i);
            sum[0].in[i] = words_of(&p, i);
            sum[0].out[i] = words_of(&p, i);
            gpuexec_copy_in(p.stream[i], sum[0].in[i], numbers[i], words * 4);
            for (k = 0; k < words; k++) sums[k] += numbers[i][k];
        }
        for (i = 0; i < n; i++) {
            to_all[i] = to_all[0];
            sum[i] = sum[0];
            to_all[i].barrier = sum[i].barrier = gpuexec_barrier_address(p.barrier, i);
            to_all[i].parts = gpuexec_alloc(p.context[i], sizeof parts[i]);
            gpuexec_copy_in(p.stream[i], to_all[i].parts, parts[i], sizeof parts[i]);
            to_all[i].n = sum[i].n = words;
            sum[i].rounds = 2;
        }
        launch_exchange(&p, "all_to_all", to_all, sizeof *to_all, blocks);
        launch_exchange(&p, "all_reduce", sum, sizeof *sum, blocks);
        for (i = 0; i < n; i++) {
            CHECK_OK(gpuexec_copy_out_now(
                    p.context[i], got, to_all[0].received[i], (size_t)n * words * 4));
            for (j = 0; j < n; j++)
                CHECK(memcmp(got + j * words, parts[j] + i * words, words * 4) == 0);
            CHECK_OK(gpuexec_copy_out_now(
                    p.context[i], got, to_all[0].back[i], (size_t)n * words * 4));
            CHECK(memcmp(got, parts[i], (size_t)n * words * 4) == 0);
            CHECK_OK(gpuexec_copy_out_now(p.context[i], got_sums, sum[0].out[i], words * 4));
            CHECK(memcmp(got_sums, sums, words * 4) == 0);
        }
    }
}
TEST_MULTI(exchange_of_all_devices) { exchange(devices_here(), 0); }
TEST_MULTI(exchange_through_host_memory) { exchange(devices_here(), 1); }

/* --- the rules, each violated once ------------------------------------------------------------ */

/* CUDA_LAUNCH_PARAMS */
typedef struct driver_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void *stream, **arguments;
} driver_params;

enum { NOT_QUERIED = -1 };

/* The result of the driver's own call for the same list. */
static int driver_result_of(const gpuexec_device_launch *list, unsigned n) {
    const driver_calls cu = calls_find();
    driver_params params[MOST];
    unsigned i;
    if (!cu.cuLaunchCooperativeKernelMultiDevice) return NOT_QUERIED;
    for (i = 0; i < n; i++) {
        const gpuexec_dims *d = &list[i].dims;
        driver_params one = { gpuexec_kernel_native(list[i].kernel), { d->grid_x, 1, 1 },
            { d->block_x, 1, 1 }, d->shared_bytes, gpuexec_stream_native(list[i].stream),
            (void **)(uintptr_t)list[i].args.addresses };
        params[i] = one;
    }
    return cu.cuLaunchCooperativeKernelMultiDevice(params, n, 0);
}

/* gpuexec must return `result` with these words and start no kernel; the driver's own call must
   return `cu`. */
static void broken(party *p, const char *rule, const gpuexec_device_launch *list, unsigned n,
        gpuexec_result result, int cu, const char *const *words) {
    unsigned i;
    if (!CHECK_RESULT(gpuexec_launch_multi_device(list, n, NULL), result))
        printf("  with the rule: %s\n", rule);
    test_has_text(__FILE__, __LINE__, gpuexec_error_text(), rule, words);
    CHECK_RESULT(gpuexec_take_error(), result);
    all_done(p, 0);
    if (cu != NOT_QUERIED) {
        int answer = driver_result_of(list, n);
        if (getenv("TEST_VERBOSE"))
            printf("  rule: %-40s ours %-24s the driver's own call %d\n", rule,
                    gpuexec_result_name(result), answer);
        if (answer != NOT_QUERIED && !CHECK_EQ(answer, cu)) printf("  with the rule: %s\n", rule);
        for (i = 0; i < p->n; i++) { /* a launch that the driver accepted has run */
            CHECK_OK(gpuexec_stream_sync(p->stream[i]));
            gpuexec_fill_now(p->context[i], p->counts[i], 0, 1, 8);
        }
    }
}
#define BROKEN(rule, n, result, cu, ...) \
    broken(&p, rule, list, n, result, cu, (const char *const[]){ __VA_ARGS__, NULL })

TEST_MULTI(rules) {
    gpuexec_device_launch list[MOST];
    arguments a[MOST];
    gpuexec_context own;
    gpuexec_module module;
    gpuexec_kernel other;
    gpuexec_stream second;
    int none = 0, most, with_driver = 0;
    party p;
    NEEDS(2);
    if (!gather(&p, 2, NULL)) return;
    gpuexec_device_get_attribute(0, COOPERATIVE_MULTI_DEVICE, &with_driver);
    p.rounds = 0;
    most = gpuexec_kernel_cooperative_blocks(p.kernel[0], THREADS, 0);
    CHECK_EQ(gpuexec_multi_cooperative_blocks(p.kernel, p.n, THREADS, 0), most);
    CHECK(gpuexec_multi_cooperative_blocks(p.kernel, p.n, 2 * THREADS, 0) <= most);
    CHECK_EQ(gpuexec_multi_cooperative_blocks(NULL, 2, THREADS, 0), -1);
    CHECK_TEXT(gpuexec_error_text(), "kernels is NULL, but count is 2");
    CHECK_EQ(gpuexec_multi_cooperative_blocks(p.kernel, 0, THREADS, 0), -1);
    CHECK_TEXT(gpuexec_error_text(), "count is 0");
    {
        const gpuexec_kernel some[2] = { p.kernel[0], { 0 } };
        CHECK_EQ(gpuexec_multi_cooperative_blocks(some, 2, THREADS, 0), -1);
        CHECK_TEXT(gpuexec_error_text(), "kernels[1]");
    }
    CHECK(most > BLOCKS);

#define RENEW() list_of(&p, list, a)
#define DRIVER(cu) (with_driver ? (cu) : NOT_QUERIED)
    RENEW();
    BROKEN("at least one launch", 0, GPUEXEC_BAD_ARGUMENT, DRIVER(1),
            "count is 0; pass an array of 1 to 32 launches", "1 to 32");

    second = gpuexec_stream_create(p.context[0], NULL);
    RENEW();
    list[1] = list[0];
    list[1].stream = second;
    BROKEN("one launch for each device", 2, GPUEXEC_BAD_ARGUMENT, DRIVER(101),
            "launches[1]: launches[0] is already on device 0");

    RENEW();
    list[1].dims.grid_x = BLOCKS - 1;
    BROKEN("the same grid", 2, GPUEXEC_BAD_LAUNCH, DRIVER(1),
            "grid_x is 4 on device 0, but 3 on device 1", "ring_exchange", "same dims");
    RENEW();
    list[1].dims.block_x = THREADS / 2;
    BROKEN("the same block", 2, GPUEXEC_BAD_LAUNCH, DRIVER(1),
            "block_x is 64 on device 0, but 32 on device 1");
    RENEW();
    list[1].dims.shared_bytes = 1024;
    BROKEN("the same shared memory", 2, GPUEXEC_BAD_LAUNCH, DRIVER(1),
            "shared_bytes is 0 on device 0, but 1024 on device 1");

    RENEW();
    list[1].stream = gpuexec_stream_legacy(p.context[1]);
    BROKEN("not the legacy stream", 2, GPUEXEC_BAD_ARGUMENT, DRIVER(400),
            "launches[1]: the stream is a default stream", "device 1", "gpuexec_stream_create");
    RENEW();
    list[1].stream = p.stream[0];
    BROKEN("kernel and stream of one device", 2, GPUEXEC_WRONG_CONTEXT, DRIVER(400),
            "launches[1]: kernel \"ring_exchange\" is on device 1", "the stream is on device 0");
    own = gpuexec_context_create(1, NULL);
    RENEW();
    list[1].stream = gpuexec_stream_create(own, NULL);
    BROKEN("kernel and stream of one context", 2, GPUEXEC_WRONG_CONTEXT, DRIVER(400),
            "kernel \"ring_exchange\" is on device 1", "the stream is on device 1");
    CHECK_OK(gpuexec_context_close(own));

    RENEW();
    list[0].dims.grid_x = list[1].dims.grid_x = (unsigned)most + 1;
    {
        char blocks[64];
        snprintf(blocks, sizeof blocks, "%d blocks", most);
        BROKEN("a grid that runs at once", 2, GPUEXEC_BAD_LAUNCH, DRIVER(720),
                "launches[0]: a cooperative grid", "does not fit on device 0", blocks, "resident");
        CHECK(strstr(gpuexec_error_text(), "driver:") == NULL); /* the driver was not called */
    }
    RENEW();
    list[1].dims.block_x = list[0].dims.block_x = 2048;
    BROKEN("a block that a device takes", 2, GPUEXEC_BAD_LAUNCH, NOT_QUERIED, "2048", "1024");

    /* the same function everywhere, which the driver does not check */
    module = gpuexec_module_load_file(p.context[1], "kernels/ring_exchange.ptx", NULL);
    other = gpuexec_kernel_get(module, "barrier_rounds");
    RENEW();
    list[1].kernel = other;
    list[1].args.count = 3;
    a[1].list[1] = &none;
    a[1].list[2] = &a[1].done;
    BROKEN("the same kernel", 2, GPUEXEC_BAD_LAUNCH, DRIVER(0), "have different code",
            "device 0 has \"ring_exchange\", but device 1 has \"barrier_rounds\"");
    {
        static char text[1 << 16];
        FILE *file = fopen("kernels/ring_exchange.ptx", "r");
        const size_t bytes = file ? fread(text, 1, sizeof text, file) : 0;
        if (CHECK(bytes > 0 && bytes < sizeof text)) {
            fclose(file);
            /* instead of a newline: the same code for the compiler, another image for gpuexec */
            text[bytes - 1] = ' ';
            RENEW();
            list[1].kernel = gpuexec_kernel_get(
                    gpuexec_module_load(p.context[1], text, bytes, NULL), "ring_exchange");
            BROKEN("the same image", 2, GPUEXEC_BAD_LAUNCH, DRIVER(0), "have different code",
                    "\"kernels/ring_exchange.ptx\"", "it is from a different image");
        }
    }
    {
        static const char launches[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                                       ".extern .func (.param .b32 r) "
                                       "cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
                                       ".visible .entry parent() { ret; }\n";
        unsigned i;
        RENEW();
        for (i = 0; i < 2; i++) {
            list[i].kernel = gpuexec_kernel_get(
                    gpuexec_module_load(p.context[i], launches, 0, NULL), "parent");
            list[i].args.count = 0;
        }
        if (gpuexec_ok(list[0].kernel) && gpuexec_ok(list[1].kernel))
            BROKEN("no dynamic parallelism", 2, GPUEXEC_NOT_SUPPORTED, NOT_QUERIED,
                    "kernel \"parent\" on device 0", "dynamic parallelism");
        else gpuexec_take_error(); /* a device that refuses such images does not need the rule */
    }
    /* and the checks of every launch */
    RENEW();
    list[1].args.count = 7;
    BROKEN("as many arguments as parameters", 2, GPUEXEC_BAD_PARAMETERS, NOT_QUERIED,
            "launches[1]: kernel \"ring_exchange\" takes 8 parameters", "7 arguments were passed");
    {
        gpuexec_multi_desc with = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
        with.barrier = p.barrier;
        RENEW();
        a[0].barrier = a[1].barrier; /* as a loop with GPUEXEC_ARGS does */
        CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, &with), GPUEXEC_BAD_PARAMETERS,
                "launches[0]: argument 0 (counted from 0) of kernel \"ring_exchange\" is device "
                "1's part of the barrier",
                "GPUEXEC_ARGS creates in a loop");
        all_done(&p, 0);
    }
    RENEW();
    list[1].kernel.id = 0;
    BROKEN("kernels that were made", 2, GPUEXEC_BAD_HANDLE, NOT_QUERIED,
            "launches[1].kernel was never created");
    RENEW();
    list[1].stream = second;
    CHECK_OK(gpuexec_stream_destroy(second));
    BROKEN("streams that live", 2, GPUEXEC_STALE_HANDLE, NOT_QUERIED,
            "launches[1].stream is stale");
    CHECK_REFUSED(gpuexec_launch_multi_device(NULL, 2, NULL), GPUEXEC_BAD_ARGUMENT,
            "launches is NULL, but count is 2");

    p.rounds = 3; /* and the launch still works */
    CHECK_OK(launch(&p, NULL));
    all_done(&p, 1);
}

/* The number of threads is one again, modulo 2^32: 641 * 6700417 == 2^32 + 1. */
TEST_MULTI(dims_whose_product_wraps) {
    const setting s = set_up(UNIT_PTX, "nothing", 0);
    gpuexec_device_launch one;
    memset(&one, 0, sizeof one);
    one.kernel = s.kernel;
    one.stream = s.stream;
    one.dims = gpuexec_grid(1, 641, 0);
    one.dims.block_y = 6700417;
    CHECK_REFUSED(gpuexec_launch_multi_device(&one, 1, NULL), GPUEXEC_BAD_LAUNCH,
            "launches[0]: block_y is 6700417, but device 0 allows at most");
}
/* Streams of two captures cannot meet: the launch is refused, and both captures go on. */
TEST_MULTI(streams_of_two_captures) {
    party p;
    gpuexec_device_launch list[2];
    arguments a[2];
    gpuexec_graph graphs[2] = { { 0 }, { 0 } };
    if (devices_here() < 2) SKIP("needs two devices");
    if (!gather(&p, 2, NULL)) return;
    list_of(&p, list, a);
    GPUEXEC_CAPTURE(p.stream[0], &graphs[0]) {
        CHECK_OK(gpuexec_capture_begin(p.stream[1], NULL));
        CHECK_REFUSED(gpuexec_launch_multi_device(list, 2, NULL), GPUEXEC_CAPTURING,
                "launches[0].stream and launches[1].stream are in different captures", "end one");
        graphs[1] = gpuexec_capture_end(p.stream[1]);
    }
    CHECK_MADE(graphs[0]);
    CHECK_MADE(graphs[1]);
}
TEST_ALONE_MULTI(launch_blocking) {
    party p;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    NEEDS(2);
    if (!gather(&p, 2, NULL)) return;
    CHECK_REFUSED(launch(&p, NULL), GPUEXEC_NOT_SUPPORTED, "CUDA_LAUNCH_BLOCKING=1",
            "would wait for its kernel", "unset CUDA_LAUNCH_BLOCKING");
    all_done(&p, 0);
}

/* The rules about devices can be violated only where devices can differ. */
static void unlike(const char *settings, gpuexec_multi_way way, const char *const *words) {
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    party p;
    desc.way = way;
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_DEVICE_1", settings, 1);
    if (!on_cpu_device()) SKIP("needs the CPU device's settings");
    if (!gather(&p, 2, NULL)) return;
    CHECK_RESULT(launch(&p, &desc), GPUEXEC_NOT_SUPPORTED);
    test_has_text(__FILE__, __LINE__, gpuexec_error_text(), settings, words);
    gpuexec_take_error();
    all_done(&p, 0);
}
#define WORDS(...) \
    (const char *const[]) { __VA_ARGS__, NULL }
TEST_ALONE_MULTI(devices_of_two_models) {
    unlike("name=another model", GPUEXEC_MULTI_FASTEST,
            WORDS("device 1 is \"another model\"", "devices of one model"));
}

TEST_ALONE_MULTI(devices_of_two_sizes) {
    unlike("16=3", GPUEXEC_MULTI_FASTEST,
            WORDS("device 1 has 3 multiprocessors and", "identical devices"));
}

TEST_ALONE_MULTI(devices_without_grids) {
    unlike("95=0", GPUEXEC_MULTI_FASTEST, WORDS("device 1 does not support cooperative launches"));
}

TEST_ALONE_MULTI(devices_without_the_call) {
    unlike("96=0", GPUEXEC_MULTI_DRIVER,
            WORDS("device 1 does not support the driver's multi-device launch", "way to 0"));
}

TEST_MULTI(barrier_wrong_use) {
    gpuexec_barrier_desc desc = { 0, 0, 0, 0 };
    gpuexec_context contexts[3];
    gpuexec_barrier barrier;
    NEEDS(2);
    contexts[0] = gpuexec_context_open(0, NULL);
    contexts[1] = gpuexec_context_open(1, NULL);
    contexts[2] = gpuexec_context_open(1, NULL);
    CHECK_NOT_MADE(gpuexec_barrier_create(contexts, 0, NULL), GPUEXEC_BAD_ARGUMENT,
            "count is 0; pass an array", "1 to 32");
    CHECK_NOT_MADE(gpuexec_barrier_create(NULL, 2, NULL), GPUEXEC_BAD_ARGUMENT,
            "contexts is NULL, but count is 2");
    CHECK_NOT_MADE(gpuexec_barrier_create(contexts, 3, NULL), GPUEXEC_BAD_ARGUMENT,
            "contexts[1] and contexts[2] are both on device 1");
    desc.timeout_seconds = -1;
    CHECK_NOT_MADE(gpuexec_barrier_create(contexts, 2, &desc), GPUEXEC_BAD_ARGUMENT,
            "timeout_seconds is -1");
    desc.end_canary = 7;
    CHECK_NOT_MADE(gpuexec_barrier_create(contexts, 2, &desc), GPUEXEC_BAD_ARGUMENT,
            "not zero-initialized");
    CHECK_OK(gpuexec_context_close(contexts[2]));
    barrier = gpuexec_barrier_create(contexts, 2, NULL);
    CHECK_EQ(gpuexec_barrier_address(barrier, 2), 0);
    CHECK_TEXT(gpuexec_error_text(), "there is no index 2: the barrier spans 2 devices");
    gpuexec_take_error();
    CHECK_OK(gpuexec_barrier_abort(barrier));
    CHECK_RESULT(gpuexec_barrier_check(barrier), GPUEXEC_BARRIER_BROKEN);
    CHECK_TEXT(gpuexec_error_text(),
            "gpuexec_barrier_abort was called at tests/header/unit/multi.c:",
            "call gpuexec_barrier_reset");
    CHECK_OK(gpuexec_barrier_reset(barrier));
    CHECK_OK(gpuexec_barrier_check(barrier));
    CHECK_OK(gpuexec_context_close(contexts[1])); /* this also destroys the barrier */
    CHECK_EQ(gpuexec_barrier_address(barrier, 0), 0);
    CHECK_TEXT(gpuexec_error_text(), "stale");
    gpuexec_take_error();
    CHECK_OK(gpuexec_barrier_destroy((gpuexec_barrier){ 0 }));
}

/* At least one call returns that a barrier is broken, whichever wait or clean-up comes next. */
static gpuexec_context broken_in[2];
static gpuexec_barrier broken_one;

static gpuexec_result copies_out(void) {
    int word;
    return gpuexec_copy_out_now(broken_in[0], &word, gpuexec_alloc(broken_in[0], 4), 4);
}

static gpuexec_result destroys(void) { return gpuexec_barrier_destroy(broken_one); }
static gpuexec_result closes(void) { return gpuexec_context_close(broken_in[1]); }
static gpuexec_result shuts_down(void) { return gpuexec_shutdown(); }
TEST_MULTI(a_broken_barrier_is_not_lost) {
    static gpuexec_result (*const next[])(void) = { copies_out, destroys, closes, shuts_down };
    size_t i, aborted;
    NEEDS(2);
    for (i = 0; i < sizeof next / sizeof *next; i++)
        for (aborted = 0; aborted < 2; aborted++) {
            broken_in[0] = gpuexec_context_open(0, NULL);
            broken_in[1] = gpuexec_context_open(1, NULL);
            broken_one = gpuexec_barrier_create(broken_in, 2, NULL);
            CHECK_OK(gpuexec_barrier_abort(broken_one));
            if (aborted) {
                CHECK_RESULT(gpuexec_context_sync(broken_in[0]), GPUEXEC_BARRIER_BROKEN);
                CHECK_OK(next[i]());
            } else {
                CHECK_RESULT(next[i](), GPUEXEC_BARRIER_BROKEN);
                CHECK_TEXT(gpuexec_error_text(),
                        "is broken: gpuexec_barrier_abort was called at "
                        "tests/header/unit/multi.c:");
            }
            gpuexec_take_error();
            gpuexec_shutdown();
        }
}

/* One barrier for grids of all shapes in turn, including blocks with fewer threads than there are
   devices. */
static void barrier_for_all_shapes(int host_memory) {
    static const gpuexec_dims shapes[] = {
        { 1, 1, 1, 1, 1, 1, 0 },
        { 4, 1, 1, 1, 1, 1, 0 },
        { 1, 1, 1, 33, 1, 1, 0 },
        { 2, 3, 1, 3, 2, 2, 0 },
        { 1, 1, 1, 256, 1, 1, 0 },
        { 1, 1, 6, 4, 4, 4, 0 },
    };
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    gpuexec_device_launch list[MOST];
    gpuexec_kernel kernel[MOST];
    gpuexec_ptr part[MOST], done[MOST];
    const void *in_order[MOST][3];
    int rounds = 20;
    uint32_t want = 0;
    size_t k;
    unsigned i;
    party p;
    barrier.host_memory = host_memory;
    if (!gather(&p, devices_here(), &barrier)) return;
    memset(list, 0, sizeof list);
    for (i = 0; i < p.n; i++)
        kernel[i] = gpuexec_kernel_get(
                gpuexec_module_load_file(p.context[i], "kernels/ring_exchange.ptx", NULL),
                "barrier_rounds");
    for (k = 0; k < 2 * sizeof shapes / sizeof *shapes; k++) {
        const gpuexec_dims *dims = &shapes[k % (sizeof shapes / sizeof *shapes)];
        for (i = 0; i < p.n; i++) {
            part[i] = gpuexec_barrier_address(p.barrier, i);
            done[i] = p.counts[i] + 4;
            in_order[i][0] = &part[i];
            in_order[i][1] = &rounds;
            in_order[i][2] = &done[i];
            list[i].kernel = kernel[i];
            list[i].stream = p.stream[i];
            list[i].dims = *dims;
            list[i].args.addresses = in_order[i];
            list[i].args.count = 3;
        }
        /* threads whose threadIdx.x is 0 */
        want += dims->grid_x * dims->grid_y * dims->grid_z * dims->block_y * dims->block_z;
        CHECK_OK(gpuexec_launch_multi_device(list, p.n, NULL));
        for (i = 0; i < p.n; i++) CHECK_OK(gpuexec_stream_sync(p.stream[i]));
        for (i = 0; i < p.n; i++) CHECK_EQ(counted(&p, i, 1), want);
    }
}

TEST_MULTI(grids_of_all_shapes) {
    NEEDS(2);
    barrier_for_all_shapes(0);
}

TEST_MULTI(grids_of_all_shapes_through_host_memory) {
    NEEDS(2);
    barrier_for_all_shapes(1);
}

/* Both synchronisations, shown by the order of writes. Device 0's gate holds its earlier work back:
   no kernel may start. Later work on any stream runs after all kernels. Three launches: other work
   precedes the third, but not the second. */
TEST_MULTI(synchronisations) {
    gpuexec_module unit[2];
    gpuexec_ptr after[2];
    uint32_t *seen;
    test_gate gate;
    unsigned i, k;
    party p;
    NEEDS(2);
    if (!gather(&p, 2, NULL)) return;
    p.rounds = 2;
    for (i = 0; i < 2; i++)
        unit[i] = gpuexec_module_load_file(p.context[i], "tests/support/unit.ptx", NULL);
    gate = gate_make(p.context[0], unit[0]);
    seen = (uint32_t *)gpuexec_alloc_pinned(p.context[0], 64);
    for (i = 0; i < 2; i++) after[i] = gpuexec_alloc(p.context[i], 4);
    if (!CHECK(seen != NULL) || !CHECK_OK(gpuexec_take_error())) return;
    CHECK_OK(launch(&p, NULL)); /* loads all code */
    all_done(&p, 1);
    for (k = 0; k < 3; k++) {
        memset(seen, 0, 64);
        gate_close(gate, p.stream[0]);
        CHECK_OK(launch(&p, NULL));
        if (k == 2) gpuexec_fill(p.stream[1], after[1], 0, 1, 4);
        if (k > 0) CHECK_OK(launch(&p, NULL));
        /* how much device 1 has done when its stream continues: all or nothing */
        gpuexec_copy_out(p.stream[1], seen, p.counts[1] + 4, 4);
        test_sleep_ms(30); /* not order: it could be done too early */
        CHECK_EQ(((volatile uint32_t *)seen)[0], 0);
        CHECK_RESULT(gpuexec_stream_query(p.stream[1]), GPUEXEC_NOT_READY);
        gate_open(gate);
        for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_sync(p.stream[i]));
        CHECK_EQ(seen[0] % BLOCKS, 0);
        CHECK(seen[0] > 0);
    }
    all_done(&p, 6);
}

/* The barrier as a function to link: a kernel in PTX that has only its declaration. */
TEST_MULTI(linked_barrier) {
    static const char meet[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .func (.param .b32 broken) gpuexec_barrier_sync(.param .b64 barrier);\n"
            ".visible .entry meet(.param .u64 barrier, .param .u32 rounds, .param .u64 done) {\n"
            "    .reg .pred %p; .reg .u32 %r, %n, %t; .reg .u64 %b, %d;\n"
            "    ld.param.u64 %b, [barrier]; ld.param.u32 %n, [rounds]; ld.param.u64 %d, [done];\n"
            "AGAIN: { .param .b64 to; .param .b32 broken; st.param.b64 [to], %b; call.uni "
            "(broken), gpuexec_barrier_sync, (to); ld.param.b32 %r, [broken]; }\n"
            "    setp.ne.u32 %p, %r, 0; @%p ret;\n"
            "    sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;\n"
            "    mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p ret;\n"
            "    red.global.add.u32 [%d], 1; ret;\n}\n";
    gpuexec_device_launch list[MOST];
    gpuexec_ptr part[MOST], done[MOST];
    const void *in_order[MOST][3];
    uint32_t rounds = 50;
    unsigned i;
    party p;
    NEEDS(2);
    if (!gather(&p, devices_here(), NULL)) return;
    memset(list, 0, sizeof list);
    for (i = 0; i < p.n; i++) {
        gpuexec_linker linker = gpuexec_linker_create(p.context[i], NULL);
        gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, meet, 0, "meet.ptx");
        gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/gpuexec_barrier.ptx");
        part[i] = gpuexec_barrier_address(p.barrier, i);
        done[i] = p.counts[i] + 4;
        in_order[i][0] = &part[i];
        in_order[i][1] = &rounds;
        in_order[i][2] = &done[i];
        list[i].kernel = gpuexec_kernel_get(gpuexec_linker_load(linker), "meet");
        list[i].stream = p.stream[i];
        list[i].dims = p.dims[i];
        list[i].args.addresses = in_order[i];
        list[i].args.count = 3;
        if (!CHECK_MADE(list[i].kernel)) return;
        CHECK_OK(gpuexec_linker_destroy(linker));
    }
    CHECK_OK(gpuexec_launch_multi_device(list, p.n, NULL));
    all_done(&p, 1);
}

/* How many rounds of the barrier all blocks of the first device have reached: the upper half of
   `arrived` in gpuexec_barrier_device (gpuexec_barrier.cuh), read while they wait. */
static uint32_t rounds_reached(party *p, gpuexec_stream stream, uint32_t *pinned) {
    enum { ARRIVED = 512 };
    CHECK_OK(gpuexec_copy_out(stream, pinned, gpuexec_barrier_address(p->barrier, 0) + ARRIVED, 8));
    CHECK_OK(gpuexec_stream_sync(stream));
    return pinned[1];
}
/* The host makes waiting kernels leave. */
TEST_MULTI(abort_from_the_host) {
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 1, 1, { 0 }, NULL, 0 };
    gpuexec_device_launch list[MOST];
    arguments a[MOST];
    gpuexec_barrier_desc barrier = { 0, 0, 1000, 0 };
    gpuexec_stream beside;
    uint32_t *pinned;
    double begin;
    party p;
    NEEDS(2);
    if (!gather(&p, 2, &barrier)) return;
    beside = gpuexec_stream_create(p.context[0], &non_blocking);
    pinned = (uint32_t *)gpuexec_alloc_pinned(p.context[0], 8);
    if (!CHECK(pinned != NULL)) return;
    p.rounds = 1000000;
    p.fault[1] = LEAVE; /* device 0 would wait for 1000 seconds */
    p.fault_round = 2;
    list_of(&p, list, a);
    desc.barrier = p.barrier;
    CHECK_OK(gpuexec_launch_multi_device(list, 2, &desc));
    /* device 1 leaves after two rounds */
    TEST_UNTIL(gpuexec_stream_query(p.stream[1]) != GPUEXEC_NOT_READY);
    TEST_UNTIL(rounds_reached(&p, beside, pinned) == 3);
    CHECK_EQ(rounds_reached(&p, beside, pinned), 3);
    begin = test_seconds();
    CHECK_OK(gpuexec_barrier_abort(p.barrier));
    CHECK_RESULT(gpuexec_stream_sync(p.stream[0]), GPUEXEC_BARRIER_BROKEN);
    CHECK_TEXT(gpuexec_error_text(), "in round 3, device 0 was aborted", "waited for device 1");
    CHECK(test_seconds() - begin < 60);
    CHECK_RESULT(gpuexec_context_sync(p.context[1]), GPUEXEC_BARRIER_BROKEN);
}

/* The owner of an adopted context destroys it: the barrier is destroyed with it, and the other
   device's work is not affected. */
TEST_ALONE_MULTI(barrier_of_a_destroyed_context) {
    void *native = NULL;
    driver_calls cu;
    gpuexec_context contexts[2];
    gpuexec_barrier barrier;
    gpuexec_stream s;
    NEEDS(2);
    cu = calls_find();
    CHECK_EQ(cu.cuCtxCreate_v2(&native, 0, 0), 0);
    contexts[0] = gpuexec_context_from_native((struct CUctx_st *)native);
    contexts[1] = gpuexec_context_open(1, NULL);
    s = gpuexec_stream_create(contexts[1], NULL);
    barrier = gpuexec_barrier_create(contexts, 2, NULL);
    CHECK_MADE(barrier);
    CHECK_EQ(cu.cuCtxDestroy_v2(native), 0);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_RESULT(gpuexec_barrier_check(barrier), GPUEXEC_STALE_HANDLE);
    CHECK_TEXT(gpuexec_error_text(), "the barrier is stale", "destroyed outside gpuexec");
    CHECK_RESULT(gpuexec_barrier_abort(barrier), GPUEXEC_STALE_HANDLE);
    CHECK_OK(gpuexec_context_close(contexts[1]));
}

/* Results of the driver when one device's memory is made accessible to another: two results mean
   that it is not supported, others are failures. */
static int peer_result;

static int no_peer(struct CUctx_st *peer, unsigned flags) {
    (void)peer;
    (void)flags;
    return peer_result;
}

TEST_MULTI(barrier_and_peer_access) {
    static const struct {
        int answer, made, direct;
    } rows[] = {
        { 217, 1, 0 },
        { 711, 1, 0 },
        { 704, 1, 1 },
        { 0, 1, 1 },
        { 2, 0, 0 },
        { 999, 0, 0 },
    };
    gpuexec_context contexts[2];
    gpuexec_barrier barrier;
    size_t i;
    NEEDS(2);
    for (i = 0; i < 2; i++) contexts[i] = gpuexec_context_open((int)i, NULL);
    if (!gpuexec_device_can_access_peer(0, 1) || !gpuexec_device_can_access_peer(1, 0))
        SKIP("the devices do not have peer access");
    test_replace("cuCtxEnablePeerAccess", (test_function)no_peer);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        peer_result = rows[i].answer;
        barrier = gpuexec_barrier_create(contexts, 2, NULL);
        CHECK_EQ(gpuexec_ok(barrier), rows[i].made);
        if (rows[i].made) CHECK_EQ(gpuexec_barrier_is_direct(barrier), rows[i].direct);
        else
            CHECK_TEXT(gpuexec_error_text(), "cannot enable peer access from device 0 to device 1",
                    "cuCtxEnablePeerAccess returned");
        CHECK_EQ(gpuexec_take_error() == GPUEXEC_OK, rows[i].made);
        CHECK_OK(gpuexec_barrier_destroy(barrier));
    }
}

/* gpuexec.h sleeps by a poll of no descriptors: this poll counts how often. */
static int times_slept;
int poll(struct pollfd *list, nfds_t n, int ms) {
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    if (!list) __atomic_add_fetch(&times_slept, 1, __ATOMIC_RELAXED);
    return ppoll(list, n, ms < 0 ? NULL : &t, NULL);
}
/* A kernel failure does not wait for reports from a barrier that no kernel uses; it waits for those
   of a barrier that one has used, and which say nothing. */
TEST_ALONE_MULTI(an_unused_barrier) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL), contexts[2];
    gpuexec_kernel fails = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, "kernels/faults.ptx", NULL), "trap_now");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    NEEDS(2);
    contexts[0] = ctx;
    contexts[1] = gpuexec_context_open(1, NULL);
    CHECK_MADE(gpuexec_barrier_create(contexts, 2, NULL));
    CHECK_OK(gpuexec_launch(fails, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    times_slept = 0;
    CHECK_RESULT(gpuexec_stream_sync(s), GPUEXEC_KERNEL_FAILED);
    CHECK_EQ(times_slept, 0);
}

TEST_ALONE_MULTI(a_barrier_that_says_nothing) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL), contexts[2];
    gpuexec_kernel fails = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, "kernels/faults.ptx", NULL), "trap_now");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_barrier barrier;
    NEEDS(2);
    contexts[0] = ctx;
    contexts[1] = gpuexec_context_open(1, NULL);
    barrier = gpuexec_barrier_create(contexts, 2, NULL);
    CHECK(gpuexec_barrier_address(barrier, 0) != 0); /* a kernel could use it from now on */
    CHECK_OK(gpuexec_launch(fails, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    times_slept = 0;
    CHECK_RESULT(gpuexec_stream_sync(s), GPUEXEC_KERNEL_FAILED);
    CHECK_EQ(times_slept, 100); /* a tenth of a second: the counter counts */
}

static test_gate late_gate;

static void *opens_later(void *nothing) {
    test_sleep_ms(300); /* not order: a barrier that does not wait would be freed */
    gate_open(late_gate);
    return nothing;
}

/* A kernel that arrives after the others have given up still writes to their devices: a barrier
   must not be freed before that. */
TEST_ALONE_MULTI(destroyed_before_a_late_kernel) {
    gpuexec_barrier_desc barrier = { 0, 0, 0.5, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 1, 1, { 0 }, NULL, 0 };
    pthread_t thread;
    party p;
    NEEDS(2);
    if (!gather(&p, 2, NULL)) return;
    late_gate = gate_make(
            p.context[0], gpuexec_module_load_file(p.context[0], "tests/support/unit.ptx", NULL));
    CHECK_OK(launch(&p, NULL)); /* loads all code */
    all_done(&p, 1);
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
    /* the next launch breaks it, however slow */
    p.barrier = gpuexec_barrier_create(p.context, 2, &barrier);
    gate_close(late_gate, p.stream[0]);
    CHECK_OK(launch(&p, &desc));
    CHECK_RESULT(gpuexec_stream_sync(p.stream[1]), GPUEXEC_BARRIER_BROKEN);
    CHECK_EQ(pthread_create(&thread, NULL, opens_later, NULL), 0);
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
    pthread_join(thread, NULL);
    CHECK_OK(gpuexec_stream_sync(p.stream[0]));
    CHECK_OK(gpuexec_stream_sync(p.stream[1]));
}

/* Waits check barriers while another thread creates and destroys them. */
static int stop_waiting;
static gpuexec_stream waited_for;
static void *waits(void *nothing) {
    while (!__atomic_load_n(&stop_waiting, __ATOMIC_RELAXED))
        CHECK_OK(gpuexec_stream_sync(waited_for));
    return nothing;
}
TEST_MULTI(waits_beside_barriers_that_end) {
    gpuexec_context contexts[2];
    pthread_t threads[4];
    int i;
    contexts[0] = gpuexec_context_open(0, NULL);
    waited_for = gpuexec_stream_create(contexts[0], NULL);
    stop_waiting = 0;
    for (i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], NULL, waits, NULL), 0);
    for (i = 0; i < 50; i++) {
        gpuexec_barrier barrier = gpuexec_barrier_create(contexts, 1, NULL);
        CHECK_MADE(barrier);
        CHECK_OK(gpuexec_barrier_destroy(barrier));
    }
    __atomic_store_n(&stop_waiting, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

/* --- injected faults: the others end in time, and the text says which device failed and why
   ----------------------- */

static int failing_launch, launches_made; /* the call that fails, counted from 0 */
static int (*driver_launch)(struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned,
        unsigned, unsigned, struct CUstream_st *, void **);
static int launch_that_fails(struct CUfunc_st *f, unsigned gx, unsigned gy, unsigned gz,
        unsigned bx, unsigned by, unsigned bz, unsigned shared, struct CUstream_st *s,
        void **params) {
    if (launches_made++ == failing_launch) return 701; /* CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES */
    return driver_launch(f, gx, gy, gz, bx, by, bz, shared, s, params);
}

/* fault 0: its launch fails */
typedef struct plan {
    int fault;
    unsigned device;
    int host_memory, round;
} plan;
static plan planned;

static void planted(void) {
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    const unsigned n = devices_here(), bad = planned.device % n;
    char device[64];
    double begin;
    int seen_at_launch = 0;
    unsigned i;
    party p;
    barrier.host_memory = planned.host_memory;
    if (!gather(&p, n, &barrier)) return;
    CHECK_OK(launch(&p, NULL)); /* a correct one, to load all code */
    all_done(&p, 1);
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
    barrier.timeout_seconds = planned.fault == ABORT ? 1000 : barrier_timeout();
    p.barrier = gpuexec_barrier_create(p.context, n, &barrier);
    desc.barrier = p.barrier;
    /* then the host aborts: no kernel waits for the timeout */
    p.fault[bad] = planned.fault == ABORT ? LEAVE : planned.fault;
    p.fault_round = planned.round;
    begin = test_seconds();
    if (planned.fault == 0) {
        driver_launch = (__typeof__(driver_launch))test_replace(
                "cuLaunchCooperativeKernel", (test_function)launch_that_fails);
        failing_launch = (int)bad;
        CHECK_RESULT(launch(&p, &desc), GPUEXEC_BAD_LAUNCH);
        test_replace("cuLaunchCooperativeKernel", (test_function)driver_launch);
        snprintf(device, sizeof device, "cannot launch kernel \"ring_exchange\" on device %u", bad);
        CHECK_TEXT(gpuexec_error_text(), device, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                "cuLaunchCooperativeKernel");
        if (bad > 0) CHECK_TEXT(gpuexec_error_text(), "it had already started on device");
        gpuexec_take_error();
    } else if (planned.fault == LEAVE || planned.fault == ABORT) {
        CHECK_OK(launch(&p, &desc));
        if (planned.fault == ABORT) CHECK_OK(gpuexec_barrier_abort(p.barrier));
    } else if (launch(&p, &desc) != GPUEXEC_OK) { /* the trap can happen before the launch's last
                                                     call */
        snprintf(device, sizeof device, "device %u", bad);
        CHECK_TEXT(gpuexec_error_text(), device, "trap", "kernel \"ring_exchange\"");
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_KERNEL_FAILED);
        seen_at_launch = 1;
    }
    for (i = 0; i < n; i++) {
        gpuexec_result result = gpuexec_stream_sync(p.stream[i]);
        if (planned.fault == TRAP) CHECK_RESULT(result, GPUEXEC_KERNEL_FAILED);
        else if (planned.fault || bad > 0) CHECK_RESULT(result, GPUEXEC_BARRIER_BROKEN);
        else CHECK_OK(result);
        if (i == 0 && planned.fault == ABORT)
            CHECK_TEXT(gpuexec_error_text(),
                    "gpuexec_barrier_abort was called at tests/header/unit/multi.c:");
        else if (i == 0 && planned.fault && !seen_at_launch) { /* the first text says which
                                                                  device */
            snprintf(device, sizeof device, "device %u has reported nothing", bad);
            CHECK_TEXT(gpuexec_error_text(), device, "round");
            if (planned.fault == TRAP)
                CHECK_TEXT(gpuexec_error_text(), "trap", "kernel \"ring_exchange\"");
        }
    }
    CHECK(test_seconds() - begin < barrier_timeout() + 30);
    if (planned.fault == TRAP) return; /* CUDA is unusable in this process */
    if (planned.fault || bad > 0) {    /* not with a broken barrier */
        CHECK_REFUSED(launch(&p, &desc), GPUEXEC_BARRIER_BROKEN, "gpuexec_barrier_reset");
        CHECK_OK(gpuexec_barrier_reset(p.barrier));
    }
    p.fault[bad] = 0;
    for (i = 0; i < n; i++) gpuexec_fill_now(p.context[i], p.counts[i], 0, 1, 8);
    CHECK_OK(launch(&p, &desc));
    all_done(&p, 1);
    CHECK_OK(gpuexec_shutdown());
}

/* The rounds are processes, most of which wait for a barrier's timeout, with their processors: on
   the CPU device four run at the same time. Two rounds have each device and each kind of memory
   once, four also the other pairs. */
static void plant(int fault) {
    const char *text = getenv("TEST_ROUNDS");
    int rounds = text && atoi(text) > 0 ? atoi(text) : getenv("TEST_ALL") ? 4 : 2;
    int together = on_cpu_device() ? 4 : 1, k;
    pid_t child[4];
    for (k = 0; k < rounds + together; k++) {
        if (k >= together && !CHECK(end_child(child[k % together])))
            printf("  in round %d of %d\n", k - together, rounds);
        if (k >= rounds) continue;
        planned.fault = fault;
        planned.device = (unsigned)k;
        planned.host_memory = (k + k / 2) % 2;
        planned.round = 1 + k % 5;
        child[k % together] = begin_child(planted);
    }
}
#define NEEDS_TWO_IN_A_CHILD \
    if (!two_devices_in_a_child()) SKIP("needs 2 devices")
/* runs in a child, because the children that follow must be forked before CUDA starts */
static int two_devices_in_a_child(void) {
    pid_t child = fork();
    int status = 1;
    if (child == 0) _exit(devices_here() < 2);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_ALONE_MULTI(one_launch_fails) {
    NEEDS_TWO_IN_A_CHILD;
    plant(0);
}

TEST_ALONE_MULTI(one_kernel_traps) {
    NEEDS_TWO_IN_A_CHILD;
    plant(TRAP);
}

TEST_ALONE_MULTI(one_never_arrives) {
    NEEDS_TWO_IN_A_CHILD;
    plant(LEAVE);
}

TEST_ALONE_MULTI(one_is_aborted) {
    NEEDS_TWO_IN_A_CHILD;
    plant(ABORT);
}

/* Each closes only its context; the barrier ends with the first. */
static gpuexec_context closed[2];
static sem_t close_now;
static void *close_one(void *context) {
    sem_wait(&close_now);
    CHECK_OK(gpuexec_context_close(*(gpuexec_context *)context));
    return NULL;
}
TEST_ALONE_MULTI(two_threads_close_the_contexts_of_one_barrier) {
    pthread_t threads[2];
    int i, k, rounds;
    setenv("SIMGPU_STRICT", "1", 1);
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    rounds = on_cpu_device() ? 50 : 2;
    CHECK_EQ(sem_init(&close_now, 0, 0), 0);
    for (i = 0; i < rounds && !test_failures; i++) {
        for (k = 0; k < 2; k++) closed[k] = gpuexec_context_open(k, NULL);
        CHECK_MADE(gpuexec_barrier_create(closed, 2, NULL));
        for (k = 0; k < 2; k++)
            CHECK_EQ(pthread_create(&threads[k], NULL, close_one, &closed[k]), 0);
        for (k = 0; k < 2; k++) sem_post(&close_now);
        for (k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    }
}
/* A list of two elements, on the heap, so that the address sanitizer knows its end. */
TEST_MULTI(a_wrong_count_says_nothing_about_the_list) {
    gpuexec_device_launch *list = (gpuexec_device_launch *)calloc(2, sizeof *list);
    CHECK_MADE(gpuexec_context_open(0, NULL));
    CHECK_REFUSED(gpuexec_launch_multi_device(list, 33, NULL), GPUEXEC_BAD_ARGUMENT, "count is 33");
    CHECK_REFUSED(gpuexec_launch_multi_device(list, UINT32_MAX, NULL), GPUEXEC_BAD_ARGUMENT,
            "count is 4294967295");
    free(list);
}
