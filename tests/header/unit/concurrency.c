/* concurrency.c - what programs do with streams, events and copies: the samples of
   ../concurrency.md that have no separate example. */
#include "../../test.h"

enum { WORDS = 4096, BYTES = WORDS * 4 };

/* One device with two arrays, a and b, and two streams besides the context's own. The host's memory
   is pinned. */
typedef struct gpu {
    gpuexec_context ctx;
    gpuexec_kernel add;
    gpuexec_stream own, s1, s2;
    gpuexec_ptr a, b;
    uint32_t *host_a, *host_b;
    test_gate gate;
} gpu;

static gpu open_gpu(int device) {
    setting s = set_up_on(device, UNIT_PTX, "add", BYTES);
    gpuexec_stream_desc desc = { 0 };
    gpu g;
    desc.non_blocking = 1;
    g.ctx = s.ctx, g.add = s.kernel, g.a = s.data, g.b = gpuexec_alloc(s.ctx, BYTES);
    g.own = gpuexec_context_stream(s.ctx);
    g.s1 = gpuexec_stream_create(s.ctx, &desc), g.s2 = gpuexec_stream_create(s.ctx, &desc);
    g.host_a = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    g.host_b = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    g.gate = gate_make(s.ctx, s.mod);
    CHECK_OK(gpuexec_fill_now(s.ctx, g.b, 0, 1, BYTES));
    return g;
}

static gpuexec_result add_to(const gpu *g, gpuexec_stream stream, gpuexec_ptr p, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(g->add, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, n));
}

static void expect(const uint32_t *got, uint32_t value) {
    uint32_t i;
    for (i = 0; i < WORDS; i++)
        if (!CHECK_EQ(got[i], value)) return;
}

static uint32_t cpu_work(void) {
    uint32_t x = 7, i;
    for (i = 0; i < 1000; i++) test_random(&x);
    return x;
}

/* Kernels of all devices and the CPU's work: none waits for another. */
TEST_MULTI(the_cpu_works_while_two_devices_compute) {
    int i, devices = gpuexec_device_count() > 1 ? 2 : 1;
    gpu g[2];
    for (i = 0; i < devices; i++) g[i] = open_gpu(i);
    for (i = 0; i < devices; i++) {
        gate_close(g[i].gate, g[i].own);
        CHECK_OK(add_to(&g[i], GPUEXEC_CURRENT, g[i].a, 5));
    }
    CHECK(cpu_work() != 0);
    for (i = 0; i < devices; i++) CHECK_RESULT(gpuexec_stream_query(g[i].own), GPUEXEC_NOT_READY);
    for (i = devices - 1; i >= 0; i--) { /* the last one first: each has its own streams */
        gate_open(g[i].gate);
        CHECK_OK(gpuexec_stream_sync(g[i].own));
        CHECK_OK(gpuexec_copy_out_now(g[i].ctx, g[i].host_a, g[i].a, BYTES));
        expect(g[i].host_a, 5);
    }
    if (devices < 2) SKIP("the second half needs 2 devices");
}

/* A graph on each device; both run while the CPU works. */
TEST_MULTI(two_devices_run_graphs_while_the_cpu_works) {
    int i, devices = gpuexec_device_count() > 1 ? 2 : 1;
    gpuexec_graph graph[2] = { { 0 }, { 0 } };
    gpu g[2];
    for (i = 0; i < devices; i++) {
        g[i] = open_gpu(i);
        GPUEXEC_CAPTURE(g[i].s1, &graph[i]) {
            gate_close(g[i].gate, g[i].s1);
            CHECK_OK(add_to(&g[i], g[i].s1, g[i].a, 5));
        }
        CHECK_OK(gpuexec_graph_prepare(graph[i], g[i].s2));
    }
    for (i = 0; i < devices; i++) CHECK_OK(gpuexec_graph_launch(graph[i], g[i].s2));
    CHECK(cpu_work() != 0);
    for (i = 0; i < devices; i++) CHECK_RESULT(gpuexec_stream_query(g[i].s2), GPUEXEC_NOT_READY);
    for (i = devices - 1; i >= 0; i--) {
        gate_open(g[i].gate);
        CHECK_OK(gpuexec_copy_out(g[i].s2, g[i].host_a, g[i].a, BYTES));
        CHECK_OK(gpuexec_stream_sync(g[i].s2));
        expect(g[i].host_a, 5);
    }
    if (devices < 2) SKIP("the second half needs 2 devices");
}

/* Arrays of zeros, ones and other values: those of one device are filled in order, those of two
   independently. */
TEST_MULTI(arrays_are_filled_on_two_devices) {
    gpu g, h;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    g = open_gpu(0), h = open_gpu(1);
    gate_close(g.gate, g.own);
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.a, 1, 4, WORDS));
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.b, 2, 4, WORDS));
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, h.b, 42, 4, WORDS));
    CHECK_OK(gpuexec_stream_sync(h.own));
    CHECK_RESULT(gpuexec_stream_query(g.own), GPUEXEC_NOT_READY);
    gate_open(g.gate);
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_a, g.a, BYTES));
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_b, g.b, BYTES));
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, h.host_b, h.b, BYTES));
    CHECK_OK(gpuexec_stream_sync(g.own));
    CHECK_OK(gpuexec_stream_sync(h.own));
    expect(g.host_a, 1);
    expect(g.host_b, 2);
    expect(h.host_b, 42);
}

/* A copy from device 0 to device 1: on the destination's current stream, which waits for the
   source; then on the source's stream, which waits for the destination. */
TEST_MULTI(copies_between_devices_are_ordered_by_streams) {
    gpu g, h;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    g = open_gpu(0), h = open_gpu(1);
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.a, 8, 4, WORDS));
    CHECK_OK(gpuexec_stream_wait_stream(h.own, g.own));
    CHECK_OK(gpuexec_copy(GPUEXEC_CURRENT, h.a, g.a, BYTES));
    CHECK_OK(add_to(&h, GPUEXEC_CURRENT, h.a, 1));
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, h.host_a, h.a, BYTES));
    CHECK_OK(gpuexec_stream_sync(h.own));
    expect(h.host_a, 9);
    CHECK_OK(gpuexec_fill(h.own, h.b, 3, 4, WORDS)); /* like the sample's allocation */
    CHECK_OK(gpuexec_stream_wait_stream(g.own, h.own));
    CHECK_OK(gpuexec_copy(g.own, h.b, g.a, BYTES));
    CHECK_OK(gpuexec_stream_wait_stream(h.own, g.own));
    CHECK_OK(gpuexec_copy_out(h.own, h.host_b, h.b, BYTES));
    CHECK_OK(gpuexec_stream_sync(h.own));
    expect(h.host_b, 8);
}

/* Everything in a scope is on its stream; the destination of a copy selects the context, so none is
   named. */
TEST(a_scope_with_all_kinds_of_work) {
    gpu g = open_gpu(0);
    gate_close(g.gate, g.s1);
    GPUEXEC_STREAM_SCOPE(g.s1) {
        CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.a, 0, 4, WORDS));
        CHECK_OK(add_to(&g, GPUEXEC_CURRENT, g.a, 4));
        CHECK_OK(gpuexec_copy(GPUEXEC_CURRENT, g.b, g.a, BYTES));
        CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_b, g.b, BYTES));
    }
    CHECK_OK(gpuexec_stream_sync(g.own)); /* none of it is there */
    CHECK_EQ(g.host_b[1], 0);
    CHECK_RESULT(gpuexec_stream_query(g.s1), GPUEXEC_NOT_READY);
    gate_open(g.gate);
    CHECK_OK(gpuexec_stream_sync(g.s1));
    expect(g.host_b, 4);
}

/* The consumer waits for the producer's copy, but not for what the producer enqueues after it. */
TEST(a_producer_and_a_consumer) {
    gpu g = open_gpu(0);
    gpuexec_event copied = gpuexec_event_create(g.ctx, NULL);
    uint32_t i;
    for (i = 0; i < WORDS; i++) g.host_a[i] = 100;
    GPUEXEC_STREAM_SCOPE(g.s1) {
        CHECK_OK(gpuexec_copy_in(GPUEXEC_CURRENT, g.a, g.host_a, BYTES));
        CHECK_OK(gpuexec_event_record(copied, GPUEXEC_CURRENT));
        gate_close(g.gate, GPUEXEC_CURRENT); /* unrelated work */
    }
    GPUEXEC_STREAM_SCOPE(g.s2) {
        CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.b, 1, 4, WORDS)); /* unrelated work */
        CHECK_OK(gpuexec_stream_wait_event(gpuexec_context_stream(g.ctx), copied));
        CHECK_OK(add_to(&g, GPUEXEC_CURRENT, g.a, 7));
        CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_b, g.a, BYTES));
    }
    CHECK_OK(gpuexec_stream_sync(g.s2));
    CHECK_RESULT(gpuexec_stream_query(g.s1), GPUEXEC_NOT_READY);
    expect(g.host_b, 107);
    gate_open(g.gate);
    CHECK_OK(gpuexec_stream_sync(g.s1));
}

/* The host reads the first array while the second one is still being computed. */
TEST(results_are_read_as_they_arrive) {
    gpu g = open_gpu(0);
    gpuexec_event a, b;
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.a, 17, 4, WORDS));
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_a, g.a, BYTES));
    a = gpuexec_stream_record(g.own, NULL);
    gate_close(g.gate, GPUEXEC_CURRENT);
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.b, 42, 4, WORDS));
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_b, g.b, BYTES));
    b = gpuexec_stream_record(g.own, NULL);
    CHECK_OK(gpuexec_event_sync(a));
    expect(g.host_a, 17);
    CHECK_RESULT(gpuexec_event_query(b), GPUEXEC_NOT_READY);
    gate_open(g.gate);
    CHECK_OK(gpuexec_event_sync(b));
    expect(g.host_b, 42);
}

/* The _now copies use the legacy default stream, which waits for both streams, since neither is
   non-blocking. */
TEST(copies_that_need_no_wait) {
    gpu g = open_gpu(0);
    gpuexec_stream s1 = gpuexec_stream_create(g.ctx, NULL), s2 = gpuexec_stream_create(g.ctx, NULL);
    GPUEXEC_STREAM_SCOPE(s1) CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.a, 10, 4, WORDS));
    GPUEXEC_STREAM_SCOPE(s2) CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.b, 11, 4, WORDS));
    CHECK_OK(gpuexec_copy_out_now(g.ctx, g.host_a, g.a, BYTES));
    CHECK_OK(gpuexec_copy_out_now(g.ctx, g.host_b, g.b, BYTES));
    expect(g.host_a, 10);
    expect(g.host_b, 11);
}

/* Recording an event on the current stream; making it wait for an event, and for a stream. */
TEST(waits_of_the_current_stream) {
    gpu g = open_gpu(0);
    gpuexec_event e = gpuexec_event_create(g.ctx, NULL);
    int k;
    for (k = 0; k < 2; k++) {
        CHECK_OK(gpuexec_fill_now(g.ctx, g.a, 0, 1, BYTES));
        gate_close(g.gate, g.s1);
        GPUEXEC_STREAM_SCOPE(g.s1) {
            CHECK_OK(add_to(&g, GPUEXEC_CURRENT, g.a, 6));
            CHECK_OK(gpuexec_event_record(e, GPUEXEC_CURRENT));
        }
        if (k) CHECK_OK(gpuexec_stream_wait_stream(gpuexec_context_stream(g.ctx), g.s1));
        else CHECK_OK(gpuexec_stream_wait_event(gpuexec_context_stream(g.ctx), e));
        CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, g.host_a, g.a, BYTES));
        test_sleep_ms(5); /* not order: it could be done too early */
        CHECK_RESULT(gpuexec_stream_query(g.own), GPUEXEC_NOT_READY);
        gate_open(g.gate);
        CHECK_OK(gpuexec_stream_sync(g.own));
        expect(g.host_a, 6);
    }
}

/* The mistake that is often right: a kernel on another stream uses an array before it is filled.
   With a wait, and in a scope, it is always right; lazy streams find the mistake (schedules.c). */
TEST(a_kernel_waits_for_its_array) {
    gpu g = open_gpu(0);
    int k;
    for (k = 0; k < 2; k++) {
        CHECK_OK(gpuexec_fill_now(g.ctx, g.a, 0, 1, BYTES));
        gate_close(g.gate, GPUEXEC_CURRENT);
        CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, g.a, 20, 4, WORDS));
        if (k) {
            GPUEXEC_STREAM_SCOPE(g.s1) CHECK_OK(add_to(&g, GPUEXEC_CURRENT, g.a, 2));
        } else {
            CHECK_OK(gpuexec_stream_wait_stream(g.s1, gpuexec_context_stream(g.ctx)));
            CHECK_OK(add_to(&g, g.s1, g.a, 2));
        }
        CHECK_OK(gpuexec_copy_out(g.s1, g.host_a, g.a, BYTES));
        gate_open(g.gate);
        CHECK_OK(gpuexec_stream_sync(g.s1));
        expect(g.host_a, 22);
    }
}

/* The stream says where a kernel runs, so it must belong to the kernel's context. */
TEST(a_launch_on_a_stream_of_another_context) {
    gpu g = open_gpu(0);
    gpuexec_stream other = gpuexec_stream_create(gpuexec_context_create(0, NULL), NULL);
    CHECK_REFUSED(add_to(&g, other, g.a, 1), GPUEXEC_WRONG_CONTEXT, "kernel \"add\"");
    CHECK_OK(add_to(&g, g.s1, g.a, 1));
    CHECK_OK(gpuexec_stream_sync(g.s1));
}
