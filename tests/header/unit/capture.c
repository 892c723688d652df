/* capture.c - captures that other code begins, ends or breaks: on streams of gpuexec whose CUstream
   it has, on adopted ones, and on streams that joined. */
#include "../../test.h"

enum { WORDS = 512, BYTES = WORDS * 4 };

/* The driver's own calls, which gpuexec does not see. */
static driver_calls cu;

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    cu = calls_find();
    return s;
}
static gpuexec_result add_to(const setting *s, gpuexec_stream stream, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(
            s->kernel, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s->data, by, n));
}
static uint32_t value(const setting *s) {
    uint32_t got = 77;
    CHECK_OK(gpuexec_context_sync(s->ctx));
    CHECK_OK(gpuexec_copy_out_now(s->ctx, &got, s->data + BYTES - 4, 4));
    return got;
}
static gpuexec_stream make(const setting *s) {
    gpuexec_stream_desc desc = { 0 };
    desc.non_blocking = 1; /* so that the legacy stream stays usable */
    return gpuexec_stream_create(s->ctx, &desc);
}
/* The capture is not broken, and has a graph. */
static void ends(struct CUstream_st *native) {
    void *graph = NULL;
    CHECK_EQ(cu.cuStreamEndCapture(native, &graph), 0);
    CHECK(graph != NULL);
    if (graph) CHECK_EQ(cu.cuGraphDestroy(graph), 0);
}

/* Each call of the table in >>capture, on a stream of gpuexec on which other code captures. */
TEST(other_code_captures_on_a_stream_of_gpuexec) {
    setting s = begin();
    gpuexec_stream t = make(&s), other = make(&s);
    struct CUstream_st *native = gpuexec_stream_native(t);
    gpuexec_pool pool = gpuexec_pool_create(s.ctx, NULL);
    gpuexec_event inside = gpuexec_event_create(s.ctx, NULL),
                  outside = gpuexec_stream_record(other, NULL), made;
    gpuexec_graph graph = { 0 };
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_stream_info info;
    gpuexec_ptr p, of_pool = gpuexec_pool_alloc(pool, t, 1000), again;
    uint32_t n = WORDS, one = 1, *pinned = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    int mode;
    CHECK_EQ(gpuexec_batch_add(
                     batch, s.kernel, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data, one, n)),
            0);
    GPUEXEC_CAPTURE(t, &graph) CHECK_OK(add_to(&s, t, 1));
    CHECK_OK(gpuexec_graph_prepare(graph, t));
    CHECK_OK(gpuexec_free_on(t, again = gpuexec_alloc_on(t, 4096)));
    CHECK_OK(gpuexec_stream_sync(t));
    for (mode = 0; mode < 3; mode++) {
        CHECK_EQ(cu.cuStreamBeginCapture_v2(native, mode), 0);
        CHECK(gpuexec_stream_is_capturing(t));
        CHECK(!gpuexec_stream_is_capturing(other));
        CHECK_OK(add_to(&s, t, 1));
        CHECK_FAILED(gpuexec_stream_sync(t), GPUEXEC_CAPTURING,
                "cannot wait for the stream: the stream is capturing");
        CHECK_FAILED(gpuexec_stream_query(t), GPUEXEC_CAPTURING, "cannot query the stream");
        CHECK_FAILED(
                gpuexec_stream_get_info(t, &info), GPUEXEC_CAPTURING, "cannot query the stream");
        CHECK_FAILED(gpuexec_stream_destroy(t), GPUEXEC_CAPTURING, "cannot destroy the stream");
        CHECK_FAILED(gpuexec_context_sync(s.ctx), GPUEXEC_CAPTURING, "its stream created at",
                "capture.c:");
        CHECK_OK(gpuexec_event_record(inside, t));
        CHECK_FAILED(gpuexec_event_sync(inside), GPUEXEC_CAPTURING,
                "was last recorded during a capture");
        CHECK_FAILED(gpuexec_event_query(inside), GPUEXEC_CAPTURING,
                "was last recorded during a capture");
        made = gpuexec_stream_record(t, NULL);
        CHECK_FAILED(
                gpuexec_event_sync(made), GPUEXEC_CAPTURING, "was last recorded during a capture");
        CHECK_OK(gpuexec_event_destroy(made));
        CHECK_REFUSED(gpuexec_stream_wait_event(t, outside), GPUEXEC_CAPTURING,
                "the event was last recorded outside the capture");
        CHECK_REFUSED(gpuexec_stream_wait_stream(t, other), GPUEXEC_CAPTURING,
                "other stream is outside the capture");
        CHECK_REFUSED(gpuexec_graph_launch(graph, t), GPUEXEC_CAPTURING, "cannot launch a graph");
        CHECK_REFUSED(gpuexec_graph_prepare(graph, t), GPUEXEC_CAPTURING, "cannot upload a graph");
        CHECK_OK(gpuexec_batch_launch(batch, t));
        p = gpuexec_alloc_on(t, 4096); /* a node */
        CHECK(p != 0);
        CHECK_OK(gpuexec_copy(t, p, s.data, 64));
        CHECK_OK(gpuexec_free_on(t, p));
        p = gpuexec_alloc(s.ctx, 1000);
        CHECK(p != 0);
        CHECK_OK(gpuexec_free(p));
        CHECK_OK(gpuexec_free_pinned(gpuexec_alloc_pinned(s.ctx, 1000)));
        if (mode == 0) CHECK_OK(gpuexec_free(of_pool)); /* its free waits for the context: later */
        CHECK_OK(gpuexec_stream_sync(other));
        CHECK_OK(gpuexec_event_sync(outside));
        CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 1, BYTES));
        ends(native);
        CHECK(!gpuexec_stream_is_capturing(t));
        CHECK_OK(gpuexec_stream_sync(t));
        CHECK_OK(gpuexec_stream_query(t));
        CHECK_OK(gpuexec_context_sync(s.ctx));
        CHECK_OK(add_to(&s, t, 3));
        CHECK_EQ(value(&s), 3);
        CHECK_OK(gpuexec_event_record(inside, t)); /* no longer in a capture */
        CHECK_OK(gpuexec_event_sync(inside));
        CHECK_OK(gpuexec_graph_launch(graph, t));
        CHECK_EQ(value(&s), 4);
    }
    CHECK_OK(gpuexec_free_pinned(pinned));
}

/* Streams whose CUstream nothing else has join by waiting, for a stream or an event, through
   gpuexec or not. */
TEST(streams_join_the_capture_of_other_code) {
    setting s = begin();
    gpuexec_stream t = make(&s), by_stream = make(&s), by_event = make(&s), by_adopted = make(&s),
                   by_given = make(&s), third = make(&s), all[5];
    struct CUstream_st *native = gpuexec_stream_native(t);
    gpuexec_event recorded = gpuexec_event_create(s.ctx, NULL),
                  given = gpuexec_event_create(s.ctx, NULL);
    gpuexec_event adopted = gpuexec_event_from_native(s.ctx, gpuexec_event_native(given));
    int i, k;
    all[0] = by_stream, all[1] = by_event, all[2] = by_adopted, all[3] = by_given, all[4] = third;
    for (k = 0; k < 3; k++) {
        CHECK_EQ(cu.cuStreamBeginCapture_v2(native, k), 0);
        CHECK_OK(gpuexec_event_record(recorded, t));
        CHECK_EQ(cu.cuEventRecord(gpuexec_event_native(given), native), 0);
        CHECK_OK(gpuexec_stream_wait_stream(by_stream, t));
        CHECK_OK(gpuexec_stream_wait_event(by_event, recorded));
        CHECK_OK(gpuexec_stream_wait_event(by_adopted, adopted));
        CHECK_OK(gpuexec_stream_wait_event(by_given, given));
        CHECK_OK(gpuexec_stream_wait_stream(third, by_event));
        for (i = 0; i < 5; i++) {
            CHECK(gpuexec_stream_is_capturing(all[i]));
            CHECK_OK(add_to(&s, all[i], 1));
            CHECK_FAILED(gpuexec_stream_sync(all[i]), GPUEXEC_CAPTURING, "the stream is capturing");
            CHECK_FAILED(
                    gpuexec_stream_query(all[i]), GPUEXEC_CAPTURING, "the stream is capturing");
            CHECK_FAILED(gpuexec_context_sync(s.ctx), GPUEXEC_CAPTURING, "is capturing");
            CHECK_OK(gpuexec_stream_wait_stream(t, all[i]));
        }
        ends(native);
        for (i = 0; i < 5; i++) {
            CHECK(!gpuexec_stream_is_capturing(all[i]));
            CHECK_OK(gpuexec_stream_sync(all[i]));
        }
        CHECK_OK(gpuexec_context_sync(s.ctx));
        CHECK_OK(add_to(&s, by_stream, 2));
        CHECK_EQ(value(&s), 2u * (unsigned)k + 2);
    }
}

/* All code can capture on CU_STREAM_PER_THREAD. */
TEST(other_code_captures_on_the_per_thread_stream) {
    setting s = begin();
    gpuexec_stream t = gpuexec_stream_per_thread(s.ctx);
    struct CUstream_st *native = (struct CUstream_st *)(uintptr_t)2;
    CHECK_OK(gpuexec_context_push(s.ctx));
    CHECK_EQ(cu.cuStreamBeginCapture_v2(native, 0), 0);
    CHECK_OK(add_to(&s, t, 1));
    CHECK_FAILED(gpuexec_stream_sync(t), GPUEXEC_CAPTURING, "the stream is capturing");
    CHECK_FAILED(gpuexec_stream_query(t), GPUEXEC_CAPTURING, "the stream is capturing");
    CHECK_FAILED(gpuexec_context_sync(s.ctx), GPUEXEC_CAPTURING, "is capturing");
    ends(native);
    CHECK_OK(gpuexec_context_pop(s.ctx));
    CHECK_OK(gpuexec_stream_sync(t));
    CHECK_EQ(value(&s), 0);
}

/* The driver knows the memory. (How much is free says nothing on a GPU that other programs use,
   too.) */
static int is_allocated(const setting *s, gpuexec_ptr address) {
    gpuexec_ptr base;
    size_t bytes;
    int result = -1;
    GPUEXEC_CONTEXT_SCOPE(s->ctx) result = cu.cuMemGetAddressRange_v2(&base, &bytes, address);
    return result == 0;
}
/* The owner of an adopted stream ends the capture that gpuexec began there: what waited for its end
   happens. */
TEST(other_code_ends_the_capture) {
    enum { MANY = 20, LARGE = 4 << 20 };
    setting s = begin();
    gpuexec_stream owner = make(&s),
                   t = gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(owner));
    struct CUstream_st *native = gpuexec_stream_native(owner);
    gpuexec_module mod;
    gpuexec_graph graph = { 0 };
    gpuexec_ptr waits, next;
    int i, k;
    for (k = 0; k < 3; k++) {
        mod = gpuexec_module_load_file(s.ctx, "kernels/saxpy.ptx", NULL);
        waits = gpuexec_alloc(s.ctx, LARGE);
        CHECK_OK(gpuexec_capture_begin(t, NULL));
        CHECK_OK(gpuexec_free(waits));
        CHECK_OK(gpuexec_module_unload(mod));
        CHECK(is_allocated(&s, waits));
        ends(native);
        CHECK(!gpuexec_stream_is_capturing(t));
        if (k == 1) CHECK_OK(gpuexec_stream_destroy(t));
        for (i = 0; i < MANY; i++) {
            next = gpuexec_alloc(s.ctx, LARGE);
            CHECK_OK(gpuexec_free(next));
            CHECK(!is_allocated(&s, next));
        }
        CHECK(!is_allocated(&s, waits));
        CHECK_NOT_MADE(gpuexec_kernel_get(mod, "saxpy"), GPUEXEC_STALE_HANDLE, "stale");
        if (k == 1) t = gpuexec_stream_from_native(s.ctx, native);
        if (k == 2) { /* the end names what happened; a new capture begins as usual */
            CHECK_OK(gpuexec_capture_begin(t, NULL));
            ends(native);
            CHECK_NOT_MADE(gpuexec_capture_end(t), GPUEXEC_CAPTURE_BROKEN, "the capture begun at",
                    "capture.c:", "was ended by a driver call that gpuexec did not make");
            CHECK_OK(gpuexec_capture_begin(t, NULL));
            ends(native);
            /* another one, which is not gpuexec's */
            CHECK_EQ(cu.cuStreamBeginCapture_v2(native, 0), 0);
            CHECK_NOT_MADE(
                    gpuexec_capture_end(t), GPUEXEC_CAPTURE_BROKEN, "was ended by a driver call");
            ends(native);
        }
        GPUEXEC_CAPTURE(t, &graph) CHECK_OK(add_to(&s, t, 1));
        CHECK_OK(gpuexec_graph_launch(graph, t));
        CHECK_EQ(value(&s), (unsigned)k + 1);
        CHECK_OK(gpuexec_graph_destroy(graph));
    }
}

/* Memory whose free waits for the whole context is freed after the capture of other code: by the
   next wait. */
TEST(memory_of_pools_is_freed_after_the_capture_of_other_code) {
    enum { LARGE = 64 << 20 };
    setting s = begin();
    gpuexec_stream t = make(&s), other = make(&s);
    struct CUstream_st *native = gpuexec_stream_native(t);
    gpuexec_pool pool = gpuexec_pool_create(s.ctx, NULL);
    gpuexec_pool_info info;
    gpuexec_ptr p = gpuexec_pool_alloc(pool, other, LARGE);
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_EQ(cu.cuStreamBeginCapture_v2(native, 1), 0);
    CHECK_OK(gpuexec_free(p));
    CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, "was already freed");
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK(is_allocated(&s, p));
    CHECK_OK(gpuexec_pool_get_info(pool, &info));
    CHECK_EQ(info.used, LARGE);
    ends(native);
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK(!is_allocated(&s, p));
    CHECK_OK(gpuexec_pool_get_info(pool, &info));
    if (on_cpu_device()) CHECK_EQ(info.used, 0); /* a GPU's pool counts it for longer */
    p = gpuexec_pool_alloc(pool, other, LARGE);
    CHECK_EQ(cu.cuStreamBeginCapture_v2(native, 1), 0);
    CHECK_OK(gpuexec_free(p));
    ends(native);
    CHECK_OK(gpuexec_context_close(s.ctx)); /* or by the end of the context */
}

/* A context is destroyed by its owner, with a stream that captures there: the driver must not get
   that stream. */
TEST(the_context_of_a_capture_is_destroyed) {
    setting s = begin();
    gpuexec_context adopted;
    gpuexec_stream there;
    gpuexec_graph graph = { 0 };
    gpuexec_ptr p = gpuexec_alloc(s.ctx, 1000);
    void *native = NULL, *popped;
    int k;
    for (k = 0; k < 2; k++) {
        CHECK_EQ(cu.cuCtxCreate_v2(&native, 0, 0), 0);
        CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
        adopted = gpuexec_context_from_native(native);
        there = gpuexec_stream_create(adopted, NULL);
        if (k) CHECK_OK(gpuexec_capture_begin(there, NULL));
        else gpuexec_stream_native(there);
        CHECK_EQ(cu.cuCtxDestroy_v2(native), 0);
        CHECK_EQ(gpuexec_alloc(s.ctx, (size_t)1 << 58), 0); /* a failure: did it break a capture? */
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
        GPUEXEC_CAPTURE(s.stream, &graph) CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_MADE(graph);
        CHECK_OK(gpuexec_free(p));
        p = gpuexec_alloc(s.ctx, 1000);
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_EQ(value(&s), (unsigned)k + 1);
        CHECK_FAILED(gpuexec_context_close(adopted), GPUEXEC_STALE_HANDLE,
                "was destroyed outside gpuexec");
    }
}

static int queries; /* atomic */
static int counted_info(struct CUstream_st *stream, int *status, uint64_t *id) {
    (void)stream;
    (void)id;
    *status = 0;
    __atomic_add_fetch(&queries, 1, __ATOMIC_RELAXED);
    return 0;
}
static int counted_is_capturing(struct CUstream_st *stream, int *status) {
    if (stream != (struct CUstream_st *)(uintptr_t)1) return counted_info(stream, status, NULL);
    *status = 0;
    return 0;
}
static int queried(void) { return __atomic_exchange_n(&queries, 0, __ATOMIC_RELAXED); }
/* No call queries streams whose CUstream no other code has; of others, each call makes one
   query. */
TEST(what_it_costs_to_see_captures) {
    setting s = begin();
    gpuexec_stream plain = make(&s), second = make(&s), given = make(&s), also = make(&s), all[2];
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    union {
        int (*info)(struct CUstream_st *, int *, uint64_t *);
        int (*is)(struct CUstream_st *, int *);
        test_function f;
    } info, is;
    int i;
    if (gpuexec_driver_version() < 12000 || getenv("GPUEXEC_TRACE") || getenv("GPUEXEC_VALIDATION"))
        SKIP("traced calls, the finder and old drivers need more");
    GPUEXEC_CAPTURE(plain, &graph) {
        CHECK_OK(gpuexec_stream_wait_stream(second, plain));
        CHECK_OK(add_to(&s, second, 1));
        CHECK_OK(gpuexec_stream_wait_stream(plain, second));
    }
    /* the first call on a stream that joined still queries */
    CHECK_OK(gpuexec_stream_sync(second));
    CHECK_OK(gpuexec_graph_prepare(graph, plain));
    info.info = counted_info;
    is.is = counted_is_capturing;
    test_replace("cuStreamGetCaptureInfo", info.f);
    test_replace("cuStreamIsCapturing", is.f);
    gpuexec_stream_native(given);
    gpuexec_stream_native(also);
    all[0] = plain, all[1] = given;
    queried();
    for (i = 0; i < 2; i++) {
        gpuexec_stream t = all[i], u = i ? also : second;
        CHECK_OK(gpuexec_event_record(event, t));
        CHECK_EQ(queried(), i);
        CHECK_OK(gpuexec_stream_wait_event(t, event));
        CHECK_EQ(queried(), i);
        CHECK_OK(gpuexec_stream_wait_stream(t, u)); /* the first time makes an event */
        queried();
        CHECK_OK(gpuexec_stream_wait_stream(t, u));
        CHECK_EQ(queried(), i);
        CHECK_OK(gpuexec_stream_wait_stream(u, all[0]));
        CHECK_EQ(queried(), i);
        CHECK_OK(gpuexec_free_on(t, gpuexec_alloc_on(t, 4096)));
        queried();
        CHECK_OK(gpuexec_free_on(t, gpuexec_alloc_on(t, 4096)));
        CHECK_EQ(queried(), 2 * i);
        CHECK_OK(gpuexec_graph_launch(graph, t));
        CHECK_EQ(queried(), i);
        CHECK_OK(add_to(&s, t, 1));
        CHECK_EQ(queried(), 0);
        CHECK_OK(gpuexec_event_sync(event));
        CHECK_EQ(queried(), 0);
        CHECK_OK(gpuexec_stream_sync(t));
        CHECK_EQ(queried(), i);
        CHECK_OK(gpuexec_stream_query(t));
        CHECK_EQ(queried(), i);
    }
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_EQ(queried(), 2); /* each stream that other code has */
}

/* External records and waits: nodes of the graph that record, and wait for, events of the world
   around it. */
TEST(external_records_measure_a_part_of_a_graph) {
    setting s = begin();
    gpuexec_stream other = make(&s);
    gpuexec_event start = gpuexec_event_create(s.ctx, NULL),
                  stop = gpuexec_event_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    char text[2000];
    uint32_t got = 0;
    int i;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(gpuexec_event_record_external(start, s.stream));
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_OK(gpuexec_event_record_external(stop, s.stream));
        CHECK_OK(add_to(&s, s.stream, 2));
    }
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_event_query(stop)); /* not recorded yet */
    CHECK(gpuexec_event_elapsed_ms(start, stop) < 0);
    CHECK_OK(gpuexec_take_error());
    for (i = 1; i <= 2; i++) {
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_OK(gpuexec_stream_wait_event(other, stop));
        CHECK_OK(gpuexec_copy_out(other, &got, s.data, 4));
        CHECK_OK(gpuexec_event_sync(stop));
        CHECK(gpuexec_event_elapsed_ms(start, stop) >= 0);
        CHECK_OK(gpuexec_stream_sync(other));
        CHECK(got == (uint32_t)(3 * i - 2) || got == (uint32_t)(3 * i));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(value(&s), 3 * i);
    }
    gpuexec_graph_text(graph, text, sizeof text);
    CHECK_TEXT(text, "record of an event");
}
TEST(an_external_wait_is_for_the_last_record_before_each_launch) {
    setting s = begin();
    const test_gate gate = gate_make(s.ctx, s.mod);
    gpuexec_stream other = make(&s);
    gpuexec_event ready = gpuexec_event_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    int i;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(gpuexec_stream_wait_external(s.stream, ready));
        CHECK_OK(add_to(&s, s.stream, 1));
    }
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream)); /* never recorded: does not wait */
    CHECK_EQ(value(&s), 1);
    for (i = 0; i < 2; i++) {
        gate_close(gate, other);
        CHECK_OK(add_to(&s, other, 10));
        CHECK_OK(gpuexec_event_record(ready, other));
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
        gate_open(gate);
        CHECK_EQ(value(&s), 12 + 11 * i);
    }
}
TEST(outside_captures_external_records_and_waits_are_plain_ones) {
    setting s = begin();
    gpuexec_stream other = make(&s);
    gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
    CHECK_OK(add_to(&s, s.stream, 3));
    CHECK_OK(gpuexec_event_record_external(e, s.stream));
    CHECK_OK(gpuexec_stream_wait_external(other, e));
    CHECK_OK(add_to(&s, other, 4));
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_EQ(value(&s), 7);
    CHECK_OK(gpuexec_event_sync(e));
    CHECK_OK(gpuexec_event_destroy(e));
    CHECK_REFUSED(gpuexec_event_record_external(e, s.stream), GPUEXEC_STALE_HANDLE,
            "gpuexec_event_record_external", "the event is stale");
    CHECK_REFUSED(gpuexec_stream_wait_external(other, (gpuexec_event){ 0 }), GPUEXEC_BAD_HANDLE,
            "gpuexec_stream_wait_external", "the event was never created");
}
TEST(external_records_and_waits_that_are_refused) {
    setting s = begin();
    gpuexec_context ctx2 = gpuexec_context_create(0, NULL);
    gpuexec_stream other = make(&s);
    gpuexec_event inside = gpuexec_event_create(s.ctx, NULL),
                  outside = gpuexec_stream_record(other, NULL),
                  far = gpuexec_event_create(ctx2, NULL);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_OK(gpuexec_event_record(inside, s.stream));
    CHECK_REFUSED(gpuexec_stream_wait_external(s.stream, inside), GPUEXEC_CAPTURING,
            "the event was last recorded during a capture");
    CHECK_REFUSED(gpuexec_stream_wait_event(s.stream, outside), GPUEXEC_CAPTURING,
            "outside the capture", "gpuexec_stream_wait_external");
    CHECK_REFUSED(gpuexec_event_record_external(far, s.stream), GPUEXEC_WRONG_CONTEXT,
            "the event is on device 0", "but the stream is on");
    /* like after a plain record that is refused */
    CHECK_FAILED(gpuexec_event_query(far), GPUEXEC_WRONG_CONTEXT, "has not been recorded");
    CHECK_OK(gpuexec_stream_wait_external(s.stream, outside));
    ends(gpuexec_stream_native(s.stream));
}
/* What a graph records and waits for is known, although it was captured. */
TEST(events_of_captured_graphs_are_destroyed) {
    gpuexec_capture_desc desc = { 0, GPUEXEC_CAPTURE_THREAD_LOCAL, 0, 0 };
    setting s = begin();
    int waits, retains, early;
    for (waits = 0; waits < 2; waits++)
        for (retains = 0; retains < 2; retains++)
            for (early = 0; early < 2; early++) { /* during the capture */
                gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
                const uint32_t before = value(&s);
                gpuexec_graph graph;
                desc.retain = retains;
                CHECK_OK(gpuexec_capture_begin(s.stream, &desc));
                CHECK_OK(waits ? gpuexec_stream_wait_external(s.stream, e)
                               : gpuexec_event_record_external(e, s.stream));
                if (early) CHECK_OK(gpuexec_event_destroy(e));
                CHECK_OK(add_to(&s, s.stream, 5));
                CHECK_MADE(graph = gpuexec_capture_end(s.stream));
                if (!early && !retains) {
                    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
                    CHECK_EQ(value(&s), before + 5);
                }
                if (!early) CHECK_OK(gpuexec_event_destroy(e));
                CHECK_FAILED(gpuexec_event_query(e), GPUEXEC_STALE_HANDLE, "the event is stale");
                if (retains) {
                    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
                    CHECK_EQ(value(&s), before + 5);
                } else
                    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
                            "node 0 uses an event that was destroyed at", "capture.c:");
                CHECK_OK(gpuexec_graph_destroy(graph));
            }
}
