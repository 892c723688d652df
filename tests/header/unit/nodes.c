/* nodes.c - graphs built by hand, and nodes that are changed. */
#include "../../test.h"
#include <pthread.h>

enum { WORDS = 512, BYTES = WORDS * 4 };
static const uint32_t words = WORDS;

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    memset(s.host, 0, BYTES);
    return s;
}

/* add: each word += by. */
static gpuexec_node add(const setting *s, gpuexec_graph graph, uint32_t by, gpuexec_after after) {
    return gpuexec_graph_add_kernel(graph, s->kernel, gpuexec_grid_for(WORDS, 128),
            GPUEXEC_ARGS(s->data, by, words), after);
}

/* A graph that sets each word to `value`, adds `by`, and copies the words to s->host; its nodes in
   nodes[3]. */
static gpuexec_graph built(const setting *s, unsigned value, uint32_t by, gpuexec_node *nodes) {
    gpuexec_graph graph = gpuexec_graph_create(s->ctx);
    CHECK_MADE(graph);
    nodes[0] = gpuexec_graph_add_fill(graph, s->data, value, 4, WORDS, GPUEXEC_FIRST);
    nodes[1] = add(s, graph, by, GPUEXEC_AFTER(nodes[0]));
    nodes[2] = gpuexec_graph_add_copy(graph,
            LINE(ON_HOST(s->host, 0), ON_DEVICE(s->data, 0), BYTES), GPUEXEC_AFTER(nodes[1]));
    CHECK_MADE(nodes[2].graph);
    CHECK_EQ(nodes[2].index, 2);
    return graph;
}

/* The last word that the graph copies to s->host. */
static uint32_t launched(const setting *s, gpuexec_graph graph) {
    CHECK_OK(gpuexec_graph_launch(graph, s->stream));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    return s->host[WORDS - 1];
}

TEST(a_graph_built_by_hand) {
    setting s = begin();
    gpuexec_node n[3];
    gpuexec_graph graph = built(&s, 5, 7, n);
    gpuexec_graph_info info;
    char text[1000];
    CHECK_EQ(launched(&s, graph), 12);
    CHECK_EQ(launched(&s, graph), 12);
    CHECK_OK(gpuexec_graph_get_info(graph, &info));
    CHECK_EQ(info.nodes, 3);
    CHECK_EQ(info.kernels, 1);
    CHECK_EQ(info.copies, 1);
    CHECK_EQ(info.fills, 1);
    gpuexec_graph_text(graph, text, sizeof text);
    CHECK_TEXT(text, "graph created at", "nodes.c:", "nodes: 3\n",
            "0: fill of 2.0 KiB (2048 bytes) at address 0x",
            "1: kernel \"add\", grid 4 x 1 x 1, block 128 x 1 x 1, 0 bytes of dynamic shared "
            "memory; after 0\n",
            "2: copy of 2.0 KiB (2048 bytes) from device 0x", "; after 1\n");
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_REFUSED(gpuexec_node_set_args(n[1], GPUEXEC_NO_ARGS), GPUEXEC_STALE_HANDLE,
            "the node's graph is stale");
    CHECK_NOT_MADE(gpuexec_graph_add_empty(graph, GPUEXEC_FIRST).graph, GPUEXEC_STALE_HANDLE,
            "the graph is stale");
}

TEST(values_set_before_and_after_the_first_launch) {
    setting s = begin();
    gpuexec_node n[3];
    gpuexec_graph graph = built(&s, 5, 7, n);
    gpuexec_ptr other = gpuexec_alloc(s.ctx, BYTES), data = s.data;
    uint32_t by = 20, half = WORDS / 2;
    int after;
    CHECK_OK(gpuexec_fill_now(s.ctx, other, 0, 1, BYTES));
    for (after = 0; after < 2; after++) {
        by = 20 + (uint32_t)after;
        CHECK_OK(gpuexec_node_set_argument(n[1], 1, &by, sizeof by));
        CHECK_EQ(launched(&s, graph), 25 + after);
        CHECK_OK(gpuexec_node_set_args(n[1], GPUEXEC_ARGS(data, by, half)));
        CHECK_EQ(launched(&s, graph), 5);
        CHECK_EQ(s.host[half - 1], 25 + after);
        CHECK_OK(gpuexec_node_set_args(n[1], GPUEXEC_ARGS(data, by, words)));
        CHECK_OK(gpuexec_node_set_dims(n[1], gpuexec_grid(1, 64, 0)));
        CHECK_EQ(launched(&s, graph), 5);
        CHECK_EQ(s.host[63], 25 + after);
        CHECK_OK(gpuexec_node_set_dims(n[1], gpuexec_grid(8, 64, 0)));
        CHECK_OK(gpuexec_node_set_fill(n[0], s.data, 0x0102, 2, BYTES / 2));
        CHECK_EQ(launched(&s, graph), 0x01020102 + by);
        CHECK_OK(gpuexec_node_set_fill(n[0], s.data, 6, 4, WORDS));
        CHECK_OK(gpuexec_node_set_copy(n[2], LINE(ON_HOST(s.host, 0), ON_DEVICE(other, 0), BYTES)));
        CHECK_EQ(launched(&s, graph), 0);
        CHECK_OK(gpuexec_node_set_copy(n[2], LINE(ON_DEVICE(other, 0), ON_HOST(s.host, 0), BYTES)));
        CHECK_EQ(launched(&s, graph), 0);
        /* not to the host any more */
        CHECK_OK(gpuexec_node_set_copy(
                n[2], LINE(ON_DEVICE(other, 0), ON_DEVICE(s.data, 0), BYTES)));
        CHECK_EQ(launched(&s, graph), 0);
        CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host, other, BYTES));
        CHECK_EQ(s.host[WORDS - 1], 6 + by);
        CHECK_OK(gpuexec_fill_now(s.ctx, other, 0, 1, BYTES));
        CHECK_OK(
                gpuexec_node_set_copy(n[2], LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES)));
        CHECK_OK(gpuexec_node_set_fill(n[0], s.data, 5, 4, WORDS));
    }
}

TEST(launches_already_enqueued_keep_their_values) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_node n = add(&s, graph, 0, GPUEXEC_FIRST);
    test_gate gate = gate_make(s.ctx, s.mod);
    uint32_t by;
    CHECK_OK(gpuexec_graph_prepare(graph, s.stream));
    gate_close(gate, s.stream);
    for (by = 1; by <= 4; by++) {
        CHECK_OK(gpuexec_node_set_argument(n, 1, &by, sizeof by));
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    }
    gate_open(gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &by, s.data, 4));
    CHECK_EQ(by, 1 + 2 + 3 + 4);
}

TEST(nodes_added_after_a_launch) {
    setting s = begin();
    gpuexec_node n[3], more;
    gpuexec_graph graph = built(&s, 5, 7, n);
    CHECK_EQ(launched(&s, graph), 12);
    more = add(&s, graph, 100, GPUEXEC_AFTER(n[2], n[0], n[2])); /* a node may be named twice */
    CHECK_EQ(more.index, 3);
    gpuexec_graph_add_copy(graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES),
            GPUEXEC_AFTER(more, n[2]));
    CHECK_EQ(launched(&s, graph), 112);
    CHECK(gpuexec_take_error() == GPUEXEC_OK);
}

TEST(nodes_of_a_capture) {
    setting s = begin();
    gpuexec_graph graph = { 0 };
    gpuexec_node kernel = { { 0 }, 1 };
    uint32_t by = 3;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(gpuexec_fill(s.stream, s.data, 4, 4, WORDS));
        CHECK_OK(gpuexec_launch(
                s.kernel, s.stream, gpuexec_grid_for(WORDS, 128), GPUEXEC_ARGS(s.data, by, words)));
        CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, BYTES));
    }
    kernel.graph = graph;
    CHECK_EQ(launched(&s, graph), 7);
    by = 30;
    CHECK_OK(gpuexec_node_set_argument(kernel, 1, &by, sizeof by));
    CHECK_EQ(launched(&s, graph), 34);
    kernel = add(&s, graph, 100, GPUEXEC_AFTER(kernel, (gpuexec_node){ graph, 2 }));
    CHECK_EQ(kernel.index, 3);
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(kernel));
    CHECK_EQ(launched(&s, graph), 134);
}

/* The driver keeps the arguments of a prepared launch in a packed buffer, or in several. */
TEST(a_prepared_launch_in_a_capture) {
    setting s = begin();
    uint32_t by = 3;
    gpuexec_prepared step = gpuexec_prepare(
            s.kernel, s.stream, gpuexec_grid(4, 128, 0), GPUEXEC_ARGS(s.data, by, words));
    gpuexec_graph graph = { 0 };
    gpuexec_node node = { { 0 }, 0 };
    CHECK_OK(gpuexec_launch_prepared(step));
    CHECK_OK(gpuexec_launch_prepared(step));
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(gpuexec_launch_prepared(step));
        CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, BYTES));
    }
    node.graph = graph;
    CHECK_EQ(launched(&s, graph), 9);
    by = 100;
    CHECK_OK(gpuexec_node_set_argument(node, 1, &by, 4));
    CHECK_EQ(launched(&s, graph), 109);
    CHECK_OK(gpuexec_node_set_dims(node, gpuexec_grid(1, 1, 0)));
    CHECK_EQ(launched(&s, graph), 109);
    CHECK_EQ(s.host[0], 209);
}

TEST(a_large_argument) {
    static const char ptx[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry last(.param .align 4 .b8 c[4000], .param .u64 out) {\n"
            "    .reg .b32 %v; .reg .b64 %p; ld.param.u64 %p, [out]; ld.param.u32 %v, [c+3996]; "
            "st.u32 [%p], %v; ret;\n}\n";
    setting s = begin();
    gpuexec_kernel last = gpuexec_kernel_get(
            gpuexec_module_load(s.ctx, ptx, sizeof ptx, NULL), "last");
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    struct {
        uint32_t w[1000];
    } large;
    gpuexec_ptr out = s.data + BYTES - 4;
    gpuexec_node n;
    memset(&large, 0, sizeof large);
    large.w[999] = 11;
    n = gpuexec_graph_add_kernel(
            graph, last, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(large, s.data), GPUEXEC_FIRST);
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(n));
    CHECK_EQ(launched(&s, graph), 0);
    CHECK_OK(gpuexec_node_set_argument(n, 1, &out, sizeof out));
    CHECK_EQ(launched(&s, graph), 11);
    large.w[999] = 12;
    CHECK_OK(gpuexec_node_set_argument(n, 0, &large, sizeof large));
    CHECK_EQ(launched(&s, graph), 12);
}

TEST(a_node_after_many) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_node fills[40], n;
    gpuexec_after all = { fills, 40 };
    unsigned i;
    for (i = 0; i < 40; i++)
        fills[i] = gpuexec_graph_add_fill(graph, s.data + 4 * (i % 20 + WORDS - 20), 7, 4, 1,
                i < 20 ? GPUEXEC_FIRST : GPUEXEC_AFTER(fills[i - 20]));
    n = add(&s, graph, 1, all);
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(n));
    CHECK_EQ(launched(&s, graph), 8);
    CHECK_EQ(s.host[WORDS - 20], 8);
}

static void count_up(void *user) { *(int *)user += 1; }

TEST(every_kind_of_node) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx), child = gpuexec_graph_create(s.ctx);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    gpuexec_node fill, host, record, empty, in, part, box, inner, sum;
    gpuexec_ptr pitched = gpuexec_alloc(s.ctx, 16 * 64);
    uint32_t *source = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    gpuexec_copy_desc copy = { 0 };
    int calls = 0, i;
    for (i = 0; i < WORDS; i++) source[i] = (uint32_t)i;
    inner = add(&s, child, 1000, GPUEXEC_FIRST);
    CHECK_MADE(inner.graph);
    fill = gpuexec_graph_add_copy(
            graph, ROWS(ON_DEVICE(pitched, 64), OF_VALUE(0xab, 1), 1 * 48, 16), GPUEXEC_FIRST);
    host = gpuexec_graph_add_host(graph, count_up, &calls, GPUEXEC_FIRST);
    in = gpuexec_graph_add_copy(
            graph, LINE(ON_DEVICE(s.data, 0), ON_HOST(source, 0), BYTES), GPUEXEC_FIRST);
    empty = gpuexec_graph_add_empty(graph, GPUEXEC_AFTER(fill, host, in));
    part = gpuexec_graph_add_child(graph, child, GPUEXEC_AFTER(empty));
    CHECK_OK(gpuexec_node_set_dims(inner, gpuexec_grid(1, 1, 0))); /* the clone is not affected */
    copy.from.device = pitched;
    copy.from.pitch = 64;
    copy.to.host = s.host;
    copy.to.pitch = 48;
    copy.width_bytes = 48;
    copy.height = 16;
    copy.depth = 1;
    box = gpuexec_graph_add_copy(graph, &copy, GPUEXEC_AFTER(part));
    record = gpuexec_graph_add_record(graph, event, GPUEXEC_AFTER(box));
    sum = gpuexec_graph_add_wait(graph, event, GPUEXEC_AFTER(record));
    sum = gpuexec_graph_add_copy(graph,
            LINE(ON_DEVICE(pitched, 0), ON_DEVICE(s.data + BYTES - 4, 0), 4), GPUEXEC_AFTER(sum));
    CHECK_MADE(sum.graph);
    for (i = 1; i <= 2; i++) {
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_OK(gpuexec_event_sync(event));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(calls, i);
        CHECK_EQ(s.host[12 * 16 - 1], 0xabababab);
        CHECK_EQ(s.host[12 * 16], 0);
        CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host + 200, pitched, 4));
        CHECK_EQ(s.host[200], WORDS - 1 + 1000);
    }
    copy.height = 8;
    CHECK_OK(gpuexec_node_set_copy(box, &copy));
    CHECK_OK(gpuexec_node_set_copy(
            fill, ROWS(ON_DEVICE(pitched, 64), OF_VALUE(0xcd, 1), 1 * 48, 16)));
    memset(s.host, 0, BYTES);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(s.host[12 * 8 - 1], 0xcdcdcdcd);
    CHECK_EQ(s.host[12 * 8], 0);
}

TEST(memory_that_a_graph_allocates) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_ptr p = 0, q = 0;
    gpuexec_node alloc = gpuexec_graph_add_alloc(graph, BYTES, &p, GPUEXEC_FIRST), n;
    CHECK_MADE(alloc.graph);
    CHECK(p != 0);
    n = gpuexec_graph_add_fill(graph, p, 9, 4, WORDS, GPUEXEC_AFTER(alloc));
    CHECK_NOT_MADE(gpuexec_graph_add_fill(graph, p, 9, 4, WORDS + 1, GPUEXEC_AFTER(alloc)).graph,
            GPUEXEC_BAD_ARGUMENT, "only 2048 bytes remain");
    n = gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(p, 0), BYTES), GPUEXEC_AFTER(n));
    CHECK_NOT_MADE(gpuexec_graph_add_free(graph, s.data, GPUEXEC_AFTER(n)).graph,
            GPUEXEC_BAD_ARGUMENT, "was not allocated by a graph", "gpuexec_free");
    CHECK_NOT_MADE(gpuexec_graph_add_free(graph, 12345, GPUEXEC_AFTER(n)).graph,
            GPUEXEC_BAD_ARGUMENT, "cannot add node 3 (free) to the graph created at",
            "gpuexec_graph_add_alloc");
    n = gpuexec_graph_add_free(graph, p, GPUEXEC_AFTER(n));
    CHECK_MADE(n.graph);
    CHECK_EQ(launched(&s, graph), 9);
    CHECK_EQ(launched(&s, graph), 9);
    CHECK_NOT_MADE(gpuexec_graph_clone(graph), GPUEXEC_NOT_SUPPORTED, "node 0 (allocation)");
    CHECK_NOT_MADE(gpuexec_graph_add_child(gpuexec_graph_create(s.ctx), graph, GPUEXEC_FIRST).graph,
            GPUEXEC_NOT_SUPPORTED, "cannot clone the graph created at");
    CHECK_NOT_MADE(gpuexec_graph_add_alloc(graph, 0, &q, GPUEXEC_FIRST).graph, GPUEXEC_BAD_ARGUMENT,
            "0 bytes");
    CHECK_NOT_MADE(gpuexec_graph_add_alloc(graph, 16, NULL, GPUEXEC_FIRST).graph,
            GPUEXEC_BAD_ARGUMENT, "\"address\" is NULL");
}

TEST(a_clone_changes_alone) {
    setting s = begin();
    gpuexec_node n[3], m;
    gpuexec_graph graph = built(&s, 5, 7, n), clone;
    uint32_t by = 50;
    const int off = gpuexec_driver_version() >= 11060;
    if (off) CHECK_OK(gpuexec_node_enable(n[0], 0));
    clone = gpuexec_graph_clone(graph);
    CHECK_MADE(clone);
    m = n[1];
    m.graph = clone;
    CHECK_OK(gpuexec_node_set_argument(m, 1, &by, sizeof by));
    CHECK_EQ(launched(&s, graph), off ? 7 : 12);
    CHECK_EQ(launched(&s, clone), off ? 57 : 55); /* in the clone, too, it is disabled */
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_EQ(launched(&s, clone), off ? 107 : 55);
}

TEST(nodes_that_are_disabled) {
    setting s = begin();
    gpuexec_node n[4];
    gpuexec_graph graph = built(&s, 5, 7, n);
    if (gpuexec_driver_version() < 11060) SKIP("needs CUDA 11.6");
    CHECK_OK(gpuexec_node_enable(n[1], 0));
    CHECK_EQ(launched(&s, graph), 5);
    CHECK_OK(gpuexec_node_enable(n[1], 1));
    CHECK_EQ(launched(&s, graph), 12);
    CHECK_OK(gpuexec_node_enable(n[0], 0));
    CHECK_EQ(launched(&s, graph), 19);
    /* instantiated again: still disabled */
    n[3] = gpuexec_graph_add_empty(graph, GPUEXEC_AFTER(n[2]));
    CHECK_EQ(launched(&s, graph), 26);
    CHECK_REFUSED(gpuexec_node_enable(n[3], 0), GPUEXEC_BAD_ARGUMENT,
            "node 3 (empty node) cannot be disabled");
}

/* Also on a driver that does not order what is around a disabled fill: here the kernel waits until
   the copy after the fill would long have run. */
TEST(a_disabled_fill_keeps_the_order) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx), other;
    gpuexec_ptr aside = gpuexec_alloc(s.ctx, BYTES), word;
    gpuexec_node wait, kernel, fill, m[3];
    test_gate gate = gate_make(s.ctx, s.mod);
    uint32_t i;
    if (gpuexec_driver_version() < 11060) SKIP("needs CUDA 11.6");
    word = gpuexec_pinned_address(gate.word);
    wait = gpuexec_graph_add_kernel(
            graph, gate.kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(word), GPUEXEC_FIRST);
    kernel = add(&s, graph, 1, GPUEXEC_AFTER(wait));
    fill = gpuexec_graph_add_fill(graph, aside, 0, 4, WORDS, GPUEXEC_AFTER(kernel));
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 1, BYTES));
    CHECK_MADE(gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(fill))
                       .graph);
    for (i = 1; i <= 4; i++) {
        *gate.word = 0;
        if (i == 3) CHECK_OK(gpuexec_node_enable(fill, 1));
        else if (i > 1) CHECK_OK(gpuexec_node_enable(fill, 0));
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        test_sleep_ms(10); /* not order: a node could run too early */
        gate_open(gate);
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(s.host[WORDS - 1], i);
    }
    CHECK_OK(gpuexec_graph_destroy(graph));
    if (gpuexec_driver_version() < 12000) return;
    graph = built(&s, 5, 7, m);
    CHECK_OK(gpuexec_node_enable(m[0], 0));
    launched(&s, graph);
    CHECK_OK(gpuexec_node_enable(m[0], 1));
    other = built(&s, 6, 8, m);
    CHECK_OK(gpuexec_graph_update(graph, other)); /* which has no edge past the fill */
    CHECK_EQ(launched(&s, graph), 14);
}

TEST(attributes_of_kernel_nodes) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_launch_desc desc = { 0 };
    gpuexec_dims all = gpuexec_grid(4, 128, 0);
    gpuexec_node n, fill;
    uint32_t by = 2;
    const int edges = gpuexec_driver_version() >= 12030; /* that are programmatic */
    desc.cooperative = 1;
    fill = gpuexec_graph_add_fill(graph, s.data, 1, 4, WORDS, GPUEXEC_FIRST);
    n = gpuexec_graph_add_kernel_with(
            graph, s.kernel, all, &desc, GPUEXEC_ARGS(s.data, by, words), GPUEXEC_AFTER(fill));
    CHECK_MADE(n.graph);
    all.grid_x = 1000000;
    CHECK_NOT_MADE(gpuexec_graph_add_kernel_with(graph, s.kernel, all, &desc,
                           GPUEXEC_ARGS(s.data, by, words), GPUEXEC_FIRST)
                           .graph,
            GPUEXEC_BAD_LAUNCH,
            "node 2 (kernel \"add\"): a cooperative grid of 1000000 blocks does not fit");
    CHECK_REFUSED(gpuexec_node_set_dims(n, all), GPUEXEC_BAD_LAUNCH,
            "node 1 (kernel \"add\"): a cooperative grid");
    all.grid_x = 4;
    desc.cooperative = 0;
    desc.programmatic = 1;
    CHECK_NOT_MADE(gpuexec_graph_add_kernel_with(graph, s.kernel, all, &desc,
                           GPUEXEC_ARGS(s.data, by, words), GPUEXEC_FIRST)
                           .graph,
            edges ? GPUEXEC_BAD_ARGUMENT : GPUEXEC_OLD_DRIVER,
            edges ? "programmatic launch" : "this driver supports CUDA");
    if (edges) {
        CHECK_NOT_MADE(gpuexec_graph_add_kernel_with(graph, s.kernel, all, &desc,
                               GPUEXEC_ARGS(s.data, by, words), GPUEXEC_AFTER(fill))
                               .graph,
                GPUEXEC_BAD_ARGUMENT,
                "a programmatic launch must depend on a kernel node, but the type of "
                "node 0 is \"fill\"");
        /* it depends on the other kernel only as far as that says so: with the same memory, this
           kernel would race */
        desc.has_priority = 1;
        n = gpuexec_graph_add_kernel_with(graph, s.kernel, gpuexec_grid(1, 1, 0), &desc,
                GPUEXEC_ARGS(s.data, by, (uint32_t){ 0 }), GPUEXEC_AFTER(n));
        CHECK_MADE(n.graph);
    }
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(n));
    CHECK_EQ(launched(&s, graph), 3);
    graph = gpuexec_graph_clone(graph); /* with the attributes */
    CHECK_EQ(launched(&s, graph), 3);
    n = (gpuexec_node){ graph, 1 };
    CHECK_REFUSED(gpuexec_node_set_dims(n, gpuexec_grid(1000000, 128, 0)), GPUEXEC_BAD_LAUNCH,
            "a cooperative grid");
    desc.end_canary = 1;
    CHECK_NOT_MADE(gpuexec_graph_add_kernel_with(graph, s.kernel, all, &desc,
                           GPUEXEC_ARGS(s.data, by, words), GPUEXEC_FIRST)
                           .graph,
            GPUEXEC_BAD_ARGUMENT, "gpuexec_launch_desc");
}

TEST(errors_of_nodes_name_them) {
    setting s = begin(), t = s;
    gpuexec_node n[3], failed, none = { { 0 }, 0 };
    gpuexec_graph graph = built(&s, 5, 7, n), other;
    gpuexec_node foreign;
    uint32_t by = 1;
    double wide = 1;
    other = built(&t, 1, 1, n);
    foreign = n[1];
    built(&s, 5, 7, n);
    (void)graph;
    graph = n[0].graph;
    CHECK_NOT_MADE(gpuexec_graph_add_kernel(graph, s.kernel, gpuexec_grid(1, 1, 0),
                           GPUEXEC_ARGS(s.data, wide, words), GPUEXEC_FIRST)
                           .graph,
            GPUEXEC_BAD_PARAMETERS,
            "node 3 (kernel \"add\"): argument 1 (counted from 0) of kernel \"add\" is 8 bytes, "
            "but the parameter is 4");
    CHECK_NOT_MADE(gpuexec_graph_add_kernel(graph, s.kernel, gpuexec_grid(1, 2048, 0),
                           GPUEXEC_ARGS(s.data, by, words), GPUEXEC_FIRST)
                           .graph,
            GPUEXEC_BAD_LAUNCH, "node 3 (kernel \"add\"): ", "2048", "1024");
    CHECK_NOT_MADE(add(&s, graph, 1, GPUEXEC_AFTER(foreign)).graph, GPUEXEC_BAD_ARGUMENT,
            "dependency 0 (counted from 0) is node 1 of another graph, created at",
            "gpuexec_graph_add_child");
    CHECK_NOT_MADE(add(&s, graph, 1, GPUEXEC_AFTER(n[0], (gpuexec_node){ graph, 9 })).graph,
            GPUEXEC_BAD_ARGUMENT,
            "dependency 1 (counted from 0) is node 9, but the graph created at", "has 3 nodes");
    CHECK_NOT_MADE(
            add(&s, graph, 1, GPUEXEC_AFTER(none)).graph, GPUEXEC_BAD_HANDLE, "never created");
    failed = add(&s, graph, 1, (gpuexec_after){ NULL, 2 });
    CHECK_NOT_MADE(failed.graph, GPUEXEC_BAD_ARGUMENT, "after.nodes is NULL");
    CHECK_NOT_MADE(add(&s, graph, 1, GPUEXEC_AFTER(failed)).graph, GPUEXEC_BAD_ARGUMENT,
            "after.nodes is NULL", "did not create a node that this node depends on");
    CHECK_REFUSED(gpuexec_node_set_argument(failed, 1, &by, 4), GPUEXEC_BAD_ARGUMENT,
            "did not create the node");
    CHECK_REFUSED(gpuexec_node_set_argument(n[1], 3, &by, 4), GPUEXEC_BAD_ARGUMENT,
            "node 1 (kernel \"add\"): there is no argument 3: the launch of kernel \"add\" has 3 "
            "arguments, numbered from 0");
    CHECK_REFUSED(gpuexec_node_set_argument(n[1], 1, &wide, 8), GPUEXEC_BAD_PARAMETERS,
            "node 1 (kernel \"add\"): argument 1 (counted from 0) of kernel \"add\" has 4 bytes, "
            "but 8 were passed");
    CHECK_REFUSED(gpuexec_node_set_argument(n[1], 1, NULL, 4), GPUEXEC_BAD_ARGUMENT, "is NULL");
    CHECK_REFUSED(gpuexec_node_set_argument(n[0], 1, &by, 4), GPUEXEC_BAD_ARGUMENT,
            "the type of node 0 is \"fill\", not \"kernel\"");
    CHECK_REFUSED(gpuexec_node_set_args(n[1], GPUEXEC_ARGS(by)), GPUEXEC_BAD_PARAMETERS,
            "node 1 (kernel \"add\"): ", "takes 3 parameters");
    CHECK_REFUSED(gpuexec_node_set_dims(n[1], gpuexec_grid(0, 1, 0)), GPUEXEC_BAD_LAUNCH,
            "node 1 (kernel \"add\"): ", "grid_x is 0");
    CHECK_REFUSED(gpuexec_node_set_fill(n[1], s.data, 1, 4, 1), GPUEXEC_BAD_ARGUMENT,
            "is \"kernel\", not \"fill\"");
    CHECK_REFUSED(gpuexec_node_set_fill(n[0], s.data, 1, 3, 1), GPUEXEC_BAD_ARGUMENT,
            "it must be 1, 2 or 4");
    CHECK_REFUSED(gpuexec_node_set_fill(n[0], s.data, 256, 1, 1), GPUEXEC_BAD_ARGUMENT,
            "0x100 does not fit into 1");
    CHECK_REFUSED(gpuexec_node_set_fill(n[0], s.data, 1, 4, WORDS + 1), GPUEXEC_BAD_ARGUMENT,
            "node 0: cannot fill", "only 2048 bytes remain");
    CHECK_REFUSED(gpuexec_node_set_copy(n[2], LINE(ON_HOST(NULL, 0), ON_DEVICE(s.data, 0), 4)),
            GPUEXEC_BAD_ARGUMENT,
            "node 2: ", "the destination has neither a device address nor a host pointer");
    CHECK_REFUSED(gpuexec_node_set_copy(n[2], LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), 0)),
            GPUEXEC_BAD_ARGUMENT, "a copy node cannot be empty");
    CHECK_REFUSED(gpuexec_node_enable((gpuexec_node){ graph, 3 }, 1), GPUEXEC_BAD_ARGUMENT,
            "there is no node 3: the graph created at", "has 3 nodes");
    CHECK_NOT_MADE(gpuexec_graph_add_host(graph, NULL, NULL, GPUEXEC_FIRST).graph,
            GPUEXEC_BAD_ARGUMENT, "is NULL");
    CHECK_NOT_MADE(gpuexec_graph_add_record(graph, (gpuexec_event){ 0 }, GPUEXEC_FIRST).graph,
            GPUEXEC_BAD_HANDLE, "the event was never created");
    CHECK_EQ(launched(&s, graph), 12); /* nothing was added or changed */
    CHECK_EQ(launched(&s, other), 2);
}

/* What a node uses must exist until its graph's last launch, unless the node no longer uses it. */
TEST(what_nodes_use_is_freed) {
    setting s = begin();
    gpuexec_node n[3], e;
    gpuexec_graph graph = built(&s, 5, 7, n), child, one, events;
    gpuexec_ptr p = gpuexec_alloc(s.ctx, BYTES), unused = gpuexec_alloc(s.ctx, BYTES);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    gpuexec_module mod = gpuexec_module_load_file(s.ctx, "kernels/saxpy.ptx", NULL);
    gpuexec_kernel saxpy = gpuexec_kernel_get(mod, "saxpy");
    float a = 1;
    int count = 1;
    CHECK_OK(gpuexec_free(unused)); /* lists what the graphs use */
    CHECK_OK(gpuexec_node_set_args(n[1], GPUEXEC_ARGS(p, words, words)));
    CHECK_OK(gpuexec_node_set_args(n[1], GPUEXEC_ARGS(s.data, words, words)));
    child = gpuexec_graph_create(s.ctx);
    one = gpuexec_graph_create(s.ctx);
    gpuexec_graph_add_fill(one, p, 1, 1, 1, GPUEXEC_FIRST);
    gpuexec_graph_add_child(child, one, GPUEXEC_FIRST);
    CHECK_OK(gpuexec_free(p));
    CHECK_EQ(launched(&s, graph), 5 + WORDS); /* it no longer uses that memory */
    CHECK_REFUSED(gpuexec_graph_launch(child, s.stream), GPUEXEC_STALE_HANDLE,
            "cannot launch the graph created at", "node 0 uses the 2048 bytes of device memory",
            "which were freed at", "nodes.c:");
    CHECK_NOT_MADE(gpuexec_graph_add_empty(child, GPUEXEC_FIRST).graph, GPUEXEC_STALE_HANDLE,
            "cannot change the graph");
    CHECK_NOT_MADE(gpuexec_graph_clone(child), GPUEXEC_STALE_HANDLE, "cannot clone the graph");
    gpuexec_graph_add_kernel(graph, saxpy, gpuexec_grid(1, 1, 0),
            GPUEXEC_ARGS(a, s.data, s.data, count), GPUEXEC_AFTER(n[2]));
    CHECK_EQ(launched(&s, graph), 5 + WORDS);
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "node 3 launches kernel \"saxpy\", which was unloaded at");
    events = gpuexec_graph_create(s.ctx);
    e = gpuexec_graph_add_record(events, event, GPUEXEC_FIRST);
    CHECK_MADE(e.graph);
    CHECK_OK(gpuexec_event_destroy(event));
    CHECK_REFUSED(gpuexec_graph_launch(events, s.stream), GPUEXEC_STALE_HANDLE,
            "node 0 uses an event that was destroyed at", "nodes.c:");
}

TEST(graphs_that_share_nodes_after_an_update) {
    setting s = begin();
    gpuexec_node n[3], m[3];
    gpuexec_graph graph = built(&s, 5, 7, n), other = built(&s, 5, 8, m);
    uint32_t by = 20;
    if (gpuexec_driver_version() < 12000) SKIP("needs CUDA 12.0");
    CHECK_EQ(launched(&s, graph), 12);
    CHECK_OK(gpuexec_graph_update(graph, other));
    CHECK_REFUSED(gpuexec_node_set_argument(n[1], 1, &by, 4), GPUEXEC_BAD_ARGUMENT,
            "share its CUgraph", "destroy the other graph first");
    CHECK_EQ(launched(&s, graph), 13);
    CHECK_OK(gpuexec_graph_destroy(other));
    CHECK_OK(gpuexec_node_set_argument(n[1], 1, &by, 4));
    CHECK_EQ(launched(&s, graph), 25);
    by = 21;
    CHECK_OK(gpuexec_node_set_argument(n[1], 1, &by, 4));
    CHECK_EQ(launched(&s, graph), 26);
    other = built(&s, 6, 8, m);
    CHECK_OK(gpuexec_node_enable(m[1], 0));
    CHECK_OK(gpuexec_graph_update(graph, other));
    CHECK_EQ(launched(&s, graph), 6); /* that node is disabled here, too */
}

TEST(conditional_nodes_need_a_driver) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx), body = { 0 };
    if (gpuexec_driver_version() >= 12040) SKIP("the driver has conditional nodes");
    CHECK_EQ(gpuexec_graph_condition(graph, 1), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OLD_DRIVER);
    CHECK_NOT_MADE(gpuexec_graph_add_if(graph, 1, &body, GPUEXEC_FIRST).graph, GPUEXEC_OLD_DRIVER,
            "conditional nodes need a driver for CUDA 12.4 or later");
    CHECK(!gpuexec_ok(body));
}

/* down: counts the word at p down, unless it is 0, and sets the condition to the result. */
static gpuexec_kernel down(const setting *s) {
    static const char ptx[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
            ".visible .entry down(.param .u64 condition, .param .u64 p) {\n"
            "    .reg .b32 %v; .reg .b64 %p, %c; .reg .pred %zero; .param .b64 handle; .param .b32 "
            "value;\n"
            "    ld.param.u64 %c, [condition]; ld.param.u64 %p, [p]; ld.u32 %v, [%p];\n"
            "    setp.eq.u32 %zero, %v, 0; @!%zero sub.u32 %v, %v, 1; st.u32 [%p], %v;\n"
            "    st.param.b64 [handle], %c; st.param.b32 [value], %v;\n"
            "    call cudaGraphSetConditional, (handle, value); ret;\n}\n";
    gpuexec_linker linker = gpuexec_linker_create(s->ctx, NULL);
    CHECK_OK(gpuexec_linker_add(linker, GPUEXEC_INPUT_PTX, ptx, sizeof ptx, "down"));
    return gpuexec_kernel_get(gpuexec_linker_load(linker), "down");
}
/* Why conditional nodes cannot be tested here; NULL: they can. */
static const char *no_conditions(void) {
    return gpuexec_driver_version() < 12040 ? "needs CUDA 12.4"
            : !on_cpu_device() && access("/usr/local/cuda/lib64/libcudadevrt.a", R_OK) != 0
            ? "no libcudadevrt.a"
            : NULL;
}

TEST(a_loop_in_a_graph) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx), body = { 0 };
    gpuexec_ptr counter = gpuexec_alloc(s.ctx, 4);
    gpuexec_kernel kernel;
    gpuexec_node loop, n;
    uint32_t by = 3;
    unsigned long long more;
    if (no_conditions()) SKIP(no_conditions());
    kernel = down(&s);
    more = gpuexec_graph_condition(graph, 1);
    CHECK(more != 0);
    n = gpuexec_graph_add_fill(graph, counter, 10, 4, 1, GPUEXEC_FIRST);
    n = gpuexec_graph_add_fill(graph, s.data, 0, 4, WORDS, GPUEXEC_AFTER(n));
    loop = gpuexec_graph_add_while(graph, more, &body, GPUEXEC_AFTER(n));
    CHECK_MADE(loop.graph);
    CHECK_MADE(body);
    n = add(&s, body, 1, GPUEXEC_FIRST);
    gpuexec_graph_add_kernel(
            body, kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(more, counter), GPUEXEC_AFTER(n));
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(loop));
    CHECK_EQ(launched(&s, graph), 10);
    CHECK_EQ(launched(&s, graph), 10);
    CHECK_OK(gpuexec_node_set_argument(n, 1, &by, 4)); /* in the body: it is instantiated again */
    CHECK_EQ(launched(&s, graph), 30);
    CHECK_NOT_MADE(gpuexec_graph_add_host(body, count_up, NULL, GPUEXEC_FIRST).graph,
            GPUEXEC_NOT_SUPPORTED,
            "the body of a conditional node cannot contain this kind of node: host function");
    CHECK_REFUSED(gpuexec_node_enable(n, 0), GPUEXEC_NOT_SUPPORTED,
            "node 0 is in the body of a conditional node");
    CHECK_REFUSED(gpuexec_graph_launch(body, s.stream), GPUEXEC_BAD_ARGUMENT,
            "cannot launch the body of a conditional node",
            "the graph to which the conditional node was added");
    CHECK_REFUSED(
            gpuexec_graph_update(graph, body), GPUEXEC_BAD_ARGUMENT, "cannot update the body");
    CHECK_NOT_MADE(gpuexec_graph_clone(graph), GPUEXEC_NOT_SUPPORTED, "(conditional node)");
    CHECK_OK(gpuexec_free(counter));
    CHECK_REFUSED(
            gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE, "node 0 uses the 4 bytes");
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK(!gpuexec_ok(body));
    CHECK_NOT_MADE(gpuexec_graph_add_empty(body, GPUEXEC_FIRST).graph, GPUEXEC_STALE_HANDLE,
            "the graph is stale");
}

TEST(branches_in_a_graph) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx), outer = { 0 }, inner = { 0 };
    gpuexec_ptr counter = gpuexec_alloc(s.ctx, 4), used = gpuexec_alloc(s.ctx, 4);
    gpuexec_kernel kernel;
    gpuexec_node n;
    unsigned long long often, twice;
    uint32_t i, left = 4;
    if (no_conditions()) SKIP(no_conditions());
    kernel = down(&s);
    CHECK_OK(gpuexec_copy_in_now(s.ctx, counter, &left, 4));
    often = gpuexec_graph_condition(graph, 0);
    n = gpuexec_graph_add_kernel(
            graph, kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(often, counter), GPUEXEC_FIRST);
    /* in the first three launches */
    n = gpuexec_graph_add_if(graph, often, &outer, GPUEXEC_AFTER(n));
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(n));
    twice = gpuexec_graph_condition(outer, 0);
    n = gpuexec_graph_add_kernel(
            outer, kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(twice, counter), GPUEXEC_FIRST);
    gpuexec_graph_add_if(outer, twice, &inner, GPUEXEC_AFTER(n));
    add(&s, inner, 1, GPUEXEC_FIRST);
    gpuexec_graph_add_fill(inner, used, 1, 4, 1, GPUEXEC_FIRST);
    CHECK_MADE(inner);
    for (i = 0; i < 3; i++) CHECK_EQ(launched(&s, graph), 1); /* 4 3, 2 1, 0 */
    CHECK_OK(gpuexec_free(used));                             /* a node of the inner body uses it */
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "node 1 uses the 4 bytes of device");
    CHECK_NOT_MADE(gpuexec_graph_add_empty(inner, GPUEXEC_FIRST).graph, GPUEXEC_STALE_HANDLE,
            "cannot change the graph");
}

TEST(else_and_switch_in_a_graph) {
    static const uint32_t expected[] = { 0, 12, 11, 10, 10 }; /* the condition: 3, 2, 1, 0, 0 */
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx), bodies[3] = { { 0 } }, yes = { 0 },
                  no = { 0 };
    gpuexec_ptr counter = gpuexec_alloc(s.ctx, 4), used = gpuexec_alloc(s.ctx, 4);
    unsigned long long value, other;
    uint32_t i, start = 4, got[2];
    gpuexec_kernel kernel;
    gpuexec_node first, n;
    if (no_conditions()) SKIP(no_conditions());
    value = gpuexec_graph_condition(graph, 0);
    if (gpuexec_driver_version() < 12080) {
        CHECK_NOT_MADE(gpuexec_graph_add_if_else(graph, value, &yes, &no, GPUEXEC_FIRST).graph,
                GPUEXEC_OLD_DRIVER,
                "conditional nodes with several bodies need a driver for CUDA 12.8 or later");
        CHECK(!gpuexec_ok(yes) && !gpuexec_ok(no));
        CHECK_NOT_MADE(gpuexec_graph_add_switch(graph, value, bodies, 1, GPUEXEC_FIRST).graph,
                GPUEXEC_OLD_DRIVER, "a driver for CUDA 12.8 or later");
        SKIP("needs CUDA 12.8");
    }
    kernel = down(&s);
    other = gpuexec_graph_condition(graph, 0);
    CHECK_OK(gpuexec_copy_in_now(s.ctx, counter, &start, 4));
    n = gpuexec_graph_add_fill(graph, s.data, 0, 4, 2, GPUEXEC_FIRST);
    n = gpuexec_graph_add_kernel(
            graph, kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(value, counter), GPUEXEC_AFTER(n));
    n = gpuexec_graph_add_switch(graph, value, bodies, 3, GPUEXEC_AFTER(n));
    CHECK_MADE(n.graph);
    for (i = 0; i < 3; i++)
        CHECK_MADE(gpuexec_graph_add_fill(bodies[i], s.data, 10 + i, 4, 1, GPUEXEC_FIRST).graph);
    first = gpuexec_graph_add_if_else(graph, other, &yes, &no, GPUEXEC_AFTER(n));
    gpuexec_graph_add_fill(yes, s.data + 4, 20, 4, 1, GPUEXEC_FIRST);
    n = gpuexec_graph_add_fill(no, s.data + 4, 30, 4, 1, GPUEXEC_FIRST);
    n = gpuexec_graph_add_fill(no, used, 1, 4, 1, GPUEXEC_AFTER(n));
    CHECK_MADE(n.graph);
    for (i = 0; i < 5; i++) {
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_OK(gpuexec_copy_out(s.stream, got, s.data, 8));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(got[0], expected[i]);
        CHECK_EQ(got[1], 30);
    }
    CHECK_NOT_MADE(gpuexec_graph_add_switch(graph, value, NULL, 1, GPUEXEC_AFTER(first)).graph,
            GPUEXEC_BAD_ARGUMENT, "\"bodies\" is NULL");
    CHECK_NOT_MADE(gpuexec_graph_add_switch(graph, value, bodies, 0, GPUEXEC_AFTER(first)).graph,
            GPUEXEC_BAD_ARGUMENT, "count is 0");
    CHECK_NOT_MADE(gpuexec_graph_add_if_else(graph, value, &yes, NULL, GPUEXEC_FIRST).graph,
            GPUEXEC_BAD_ARGUMENT, "\"otherwise\" is NULL");
    CHECK(!gpuexec_ok(yes));
    CHECK_NOT_MADE(gpuexec_graph_add_switch(graph, 12345, bodies, 2, GPUEXEC_AFTER(first)).graph,
            GPUEXEC_BAD_ARGUMENT, "cannot add node");
    CHECK(!gpuexec_ok(bodies[0]) && !gpuexec_ok(bodies[1]) && gpuexec_ok(bodies[2]));
    CHECK_OK(gpuexec_free(used)); /* the second body uses it */
    CHECK_REFUSED(
            gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE, "node 3 uses the 4 bytes");
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_NOT_MADE(gpuexec_graph_add_empty(no, GPUEXEC_FIRST).graph, GPUEXEC_STALE_HANDLE,
            "the graph is stale");
    CHECK_NOT_MADE(gpuexec_graph_add_empty(bodies[2], GPUEXEC_FIRST).graph, GPUEXEC_STALE_HANDLE,
            "the graph is stale");
}

TEST(attributes_are_changed) {
    setting s = begin();
    gpuexec_launch_desc desc, got;
    gpuexec_graph graph[2];
    gpuexec_node node, other;
    uint32_t by = 1, n = WORDS;
    int captured;
    const int highest = -1; /* all devices have it */
    if (gpuexec_driver_version() < 11080) SKIP("needs CUDA 11.8");
    graph[0] = gpuexec_graph_create(s.ctx);
    add(&s, graph[0], 1, GPUEXEC_FIRST);
    GPUEXEC_CAPTURE(s.stream, &graph[1])
    CHECK_OK(gpuexec_launch(
            s.kernel, s.stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s.data, by, n)));
    for (captured = 0; captured < 2; captured++) {
        node.graph = graph[captured];
        node.index = 0;
        memset(&got, 0xFF, sizeof got);
        CHECK_OK(gpuexec_node_get_attributes(node, &got));
        CHECK(!got.start_canary && !got.cooperative && !got.has_priority && !got.cluster_x &&
                !got.programmatic && !got.memory_sync_domain && !got.end_canary);
        CHECK_OK(gpuexec_graph_launch(node.graph, s.stream));
        memset(&desc, 0, sizeof desc);
        desc.cooperative = desc.has_priority = 1;
        desc.priority = highest;
        CHECK_OK(gpuexec_node_set_attributes(node, &desc));
        CHECK_OK(gpuexec_node_get_attributes(node, &got));
        CHECK_EQ(got.cooperative, 1);
        CHECK_EQ(got.priority, highest);
        CHECK_OK(gpuexec_graph_launch(node.graph, s.stream));
        desc.cooperative = 0; /* replaces what there was */
        CHECK_OK(gpuexec_node_set_attributes(node, &desc));
        CHECK_OK(gpuexec_node_get_attributes(node, &got));
        CHECK_EQ(got.cooperative, 0);
        CHECK_EQ(got.priority, highest);
        CHECK_OK(gpuexec_node_set_dims(node, gpuexec_grid_for(n, 64))); /* it keeps them */
        CHECK_OK(gpuexec_node_get_attributes(node, &got));
        CHECK_EQ(got.priority, highest);
        CHECK_OK(gpuexec_node_set_attributes(node, NULL));
        CHECK_OK(gpuexec_node_get_attributes(node, &got));
        CHECK_EQ(got.has_priority && got.priority, 0);
        CHECK_OK(gpuexec_graph_launch(node.graph, s.stream));
        CHECK_OK(gpuexec_context_sync(s.ctx));
        /* a failed call changes nothing */
        desc.memory_sync_domain = 7;
        CHECK_REFUSED(gpuexec_node_set_attributes(node, &desc), GPUEXEC_BAD_ARGUMENT,
                "node 0 (kernel \"add\")", "memory_sync_domain");
        desc.memory_sync_domain = 0;
        desc.programmatic = 1;
        CHECK_REFUSED(gpuexec_node_set_attributes(node, &desc), GPUEXEC_BAD_ARGUMENT,
                "desc.programmatic is 1, but the node is not programmatic");
        desc.programmatic = 0;
        desc.start_canary = 3;
        CHECK_REFUSED(gpuexec_node_set_attributes(node, &desc), GPUEXEC_BAD_ARGUMENT,
                "gpuexec_launch_desc");
        CHECK_OK(gpuexec_node_get_attributes(node, &got));
        CHECK_EQ(got.has_priority && got.priority, 0);
        other = gpuexec_graph_add_empty(node.graph, GPUEXEC_FIRST);
        CHECK_REFUSED(gpuexec_node_set_attributes(other, NULL), GPUEXEC_BAD_ARGUMENT,
                "the type of node 1 is \"empty node\", not \"kernel\"");
        CHECK_EQ(gpuexec_node_get_attributes(other, &got), GPUEXEC_BAD_ARGUMENT);
        CHECK_EQ(gpuexec_node_get_attributes(node, NULL), GPUEXEC_BAD_ARGUMENT);
        other.index = 7;
        CHECK_EQ(gpuexec_node_get_attributes(other, &got), GPUEXEC_BAD_ARGUMENT);
        CHECK_TEXT(gpuexec_error_text(), "there is no node 7");
    }
    if (gpuexec_driver_version() < 12030) return;
    memset(&desc, 0, sizeof desc);
    node.graph = graph[0];
    desc.programmatic = desc.has_priority = 1;
    node = gpuexec_graph_add_kernel_with(graph[0], s.kernel, gpuexec_grid_for(n, 128), &desc,
            GPUEXEC_ARGS(s.data, by, n), GPUEXEC_AFTER(node));
    CHECK_OK(gpuexec_node_get_attributes(node, &got));
    CHECK_EQ(got.programmatic, 1);
    got.priority = highest;
    CHECK_OK(gpuexec_node_set_attributes(node, &got));
    CHECK_REFUSED(gpuexec_node_set_attributes(node, NULL), GPUEXEC_BAD_ARGUMENT,
            "desc.programmatic is 0, but the node is programmatic");
}

/* Time and memory are linear in the number of nodes. */
TEST(many_nodes) {
    enum { NODES = 10000 };
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_node last = add(&s, graph, 1, GPUEXEC_FIRST);
    uint32_t i, one = 1, zero = 0;
    for (i = 1; i < NODES; i++)
        last = gpuexec_graph_add_kernel(graph, s.kernel, gpuexec_grid(1, 1, 0),
                GPUEXEC_ARGS(s.data, one, one), GPUEXEC_AFTER(last));
    CHECK_MADE(last.graph);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    for (i = 1; i < NODES; i += 2) {
        last.index = i;
        CHECK_OK(gpuexec_node_set_argument(last, 1, &zero, 4));
    }
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &i, s.data, 4));
    CHECK_EQ(i, NODES + NODES / 2);
    CHECK(gpuexec_graph_text(graph, NULL, 0) > NODES);
    CHECK_OK(gpuexec_graph_destroy(graph));
}

static void *allocate_and_free(void *user) {
    const setting *s = (const setting *)user;
    int i;
    for (i = 0; i < 200; i++) CHECK_OK(gpuexec_free(gpuexec_alloc(s->ctx, 64)));
    return NULL;
}

/* Each free checks whether the graph uses the memory, while nodes are added and changed. */
TEST(a_graph_built_while_another_thread_frees) {
    setting s = begin();
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_node last = gpuexec_graph_add_fill(graph, s.data, 0, 4, WORDS, GPUEXEC_FIRST);
    uint32_t i, by = 2;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, allocate_and_free, &s) == 0);
    for (i = 0; i < 300; i++) {
        last = add(&s, graph, 1, GPUEXEC_AFTER(last));
        CHECK_OK(gpuexec_node_set_argument(last, 1, &by, 4));
    }
    pthread_join(thread, NULL);
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(last));
    CHECK_EQ(launched(&s, graph), 600);
}

TEST_MULTI(one_graph_over_two_devices) {
    setting s, t;
    gpuexec_graph graph;
    gpuexec_node a, b, c;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    s = begin();
    t = set_up_on(1, UNIT_PTX, "add", BYTES);
    graph = gpuexec_graph_create(s.ctx);
    a = gpuexec_graph_add_fill(graph, t.data, 3, 4, WORDS, GPUEXEC_FIRST);
    b = add(&t, graph, 4, GPUEXEC_AFTER(a));
    c = gpuexec_graph_add_copy(
            graph, LINE(ON_DEVICE(s.data, 0), ON_DEVICE(t.data, 0), BYTES), GPUEXEC_AFTER(b));
    c = add(&s, graph, 5, GPUEXEC_AFTER(c));
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(s.host, 0), ON_DEVICE(s.data, 0), BYTES), GPUEXEC_AFTER(c));
    CHECK_EQ(launched(&s, graph), 12);
    CHECK_OK(gpuexec_graph_launch(graph, t.stream));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK_OK(gpuexec_context_close(t.ctx));
    CHECK(gpuexec_graph_exec_native(graph) == NULL);
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "cannot launch the graph created at", "which was closed at", "nodes.c:");
    CHECK_OK(gpuexec_graph_destroy(graph));
}
