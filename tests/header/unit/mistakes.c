/* mistakes.c - mistakes with captures and graphs: each gets an error that names the call and a
   cure, and the streams are usable afterwards; the correct program beside it runs clean. */
#include "../../test.h"

enum { WORDS = 64, BYTES = WORDS * 4 };

static gpuexec_result add_to(const setting *s, gpuexec_stream stream, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(s->kernel, stream, gpuexec_grid_for(n, 64), GPUEXEC_ARGS(s->data, by, n));
}
static uint32_t value(const setting *s) {
    uint32_t got = 77;
    CHECK_OK(gpuexec_context_sync(s->ctx));
    CHECK_OK(gpuexec_copy_out_now(s->ctx, &got, s->data + BYTES - 4, 4));
    return got;
}
static gpuexec_graph captured(const setting *s, uint32_t by) {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s->stream, &graph) CHECK_OK(add_to(s, s->stream, by));
    CHECK_MADE(graph);
    return graph;
}
/* Launches the graph, which must add `by`. */
static void adds(const setting *s, gpuexec_graph graph, uint32_t by) {
    const uint32_t before = value(s);
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_graph_launch(graph, s->stream));
    CHECK_EQ(value(s), before + by);
}

/* The driver's own calls, as another library makes them. */
static int driver_call(const char *name, int version, void *a, void *b) {
    int (*call)(void *, void *);
    void *symbol = gpuexec_driver_symbol(name, version);
    memcpy(&call, &symbol, sizeof symbol);
    return call(a, b);
}

TEST(a_forgotten_join) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    int right;
    for (right = 0; right < 2; right++) {
        GPUEXEC_CAPTURE(s.stream, &graph) {
            CHECK_OK(gpuexec_stream_wait_stream(other, s.stream));
            CHECK_OK(add_to(&s, other, 1));
            if (right) CHECK_OK(gpuexec_stream_wait_stream(s.stream, other));
        }
        if (right) adds(&s, graph, 1);
        else
            CHECK_NOT_MADE(graph, GPUEXEC_CAPTURE_BROKEN, "gpuexec_capture_end",
                    "mistakes.c:", "does not wait for",
                    "gpuexec_stream_wait_stream(stream, other)");
    }
}

TEST(work_after_the_join) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    int right;
    for (right = 0; right < 2; right++) {
        GPUEXEC_CAPTURE(s.stream, &graph) {
            CHECK_OK(gpuexec_stream_wait_stream(other, s.stream));
            CHECK_OK(gpuexec_stream_wait_stream(s.stream, other));
            CHECK_OK(add_to(&s, other, 1));
            if (right) CHECK_OK(gpuexec_stream_wait_stream(s.stream, other));
        }
        if (right) adds(&s, graph, 1);
        else
            CHECK_NOT_MADE(graph, GPUEXEC_CAPTURE_BROKEN, "does not wait for",
                    "wait for each stream that joined");
    }
}

TEST(a_wait_in_the_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_FAILED(gpuexec_stream_sync(s.stream), GPUEXEC_CAPTURING,
                "gpuexec_stream_sync: cannot wait for the",
                "end the capture, launch the graph, then wait");
        CHECK_FAILED(gpuexec_context_sync(s.ctx), GPUEXEC_CAPTURING,
                "gpuexec_context_sync: cannot wait", "created at");
        CHECK_CURE();
    }
    adds(&s, graph, 1);
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

TEST(a_query_in_the_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_FAILED(gpuexec_stream_query(s.stream), GPUEXEC_CAPTURING,
                "gpuexec_stream_query: cannot query the");
        CHECK_CURE();
    }
    adds(&s, graph, 1);
    CHECK_OK(gpuexec_stream_query(s.stream));
}

/* gpuexec_alloc works in each mode; the driver's own call only in relaxed mode. */
TEST(an_allocation_by_other_code) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    int mode;
    CHECK_OK(gpuexec_context_push(s.ctx));
    for (mode = 0; mode < 3; mode++) {
        gpuexec_capture_desc desc = { 0 };
        gpuexec_graph graph;
        gpuexec_ptr p, own;
        int cu;
        desc.mode = (gpuexec_capture_mode)mode;
        CHECK_OK(gpuexec_capture_begin(s.stream, &desc));
        own = gpuexec_alloc(s.ctx, 1024);
        CHECK(own != 0);
        CHECK_OK(add_to(&s, s.stream, 1));
        cu = driver_call("cuMemAlloc", 3020, &p, (void *)(uintptr_t)4096);
        graph = gpuexec_capture_end(s.stream);
        CHECK_EQ(cu, mode == GPUEXEC_CAPTURE_RELAXED ? 0 : 900);
        if (mode == GPUEXEC_CAPTURE_RELAXED) adds(&s, graph, 1);
        else
            CHECK_NOT_MADE(graph, GPUEXEC_CAPTURE_BROKEN, "a driver call made outside gpuexec",
                    "GPUEXEC_CAPTURE_RELAXED");
    }
    CHECK_OK(gpuexec_context_pop(s.ctx));
}

/* Another library captures on a stream that gpuexec adopted. */
TEST(a_wait_in_the_capture_of_another_library) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream adopted = gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(s.stream));
    void *native = gpuexec_stream_native(s.stream), *graph = NULL;
    CHECK_EQ(driver_call("cuStreamBeginCapture", 10010, native, NULL), 0);
    CHECK_OK(add_to(&s, adopted, 1));
    CHECK_FAILED(gpuexec_stream_sync(adopted), GPUEXEC_CAPTURING,
            "gpuexec_stream_sync: cannot wait for the stream");
    CHECK_CURE();
    CHECK_FAILED(gpuexec_context_sync(s.ctx), GPUEXEC_CAPTURING,
            "gpuexec_context_sync: cannot wait for the context");
    CHECK_CURE();
    CHECK_OK(gpuexec_free(gpuexec_alloc(s.ctx, 1024)));
    CHECK_EQ(driver_call("cuStreamEndCapture", 10000, native, &graph), 0);
    CHECK(graph != NULL);
    CHECK_EQ(driver_call("cuGraphDestroy", 10000, graph, NULL), 0);
    CHECK_OK(gpuexec_context_sync(s.ctx));
}

TEST(an_event_from_outside) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_event outside = gpuexec_stream_record(other, NULL);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_REFUSED(gpuexec_stream_wait_event(s.stream, outside), GPUEXEC_CAPTURING,
                "gpuexec_stream_wait_event", "outside the capture",
                "wait for the event before the capture begins");
    }
    CHECK_OK(gpuexec_stream_wait_event(s.stream, outside));
    adds(&s, graph, 1);
}

TEST(a_stream_from_outside) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_REFUSED(gpuexec_stream_wait_stream(s.stream, other), GPUEXEC_CAPTURING,
                "gpuexec_stream_wait_stream", "the other stream is outside the capture",
                "gpuexec_stream_wait_stream(other, stream)");
        CHECK_OK(gpuexec_stream_wait_stream(other, s.stream));
        CHECK_OK(gpuexec_stream_wait_stream(s.stream, other));
    }
    adds(&s, graph, 1);
}

TEST(an_event_of_another_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
    gpuexec_graph mine, its;
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_OK(gpuexec_capture_begin(other, NULL));
    CHECK_OK(add_to(&s, other, 1));
    CHECK_OK(gpuexec_event_record(e, other));
    CHECK_REFUSED(gpuexec_stream_wait_event(s.stream, e), GPUEXEC_CAPTURING,
            "gpuexec_stream_wait_event",
            "let streams wait only for streams and events of the same capture");
    its = gpuexec_capture_end(other);
    CHECK_NOT_MADE(its, GPUEXEC_CAPTURE_BROKEN, "was broken by gpuexec_stream_wait_event at",
            "mistakes.c:");
    mine = gpuexec_capture_end(s.stream);
    CHECK_NOT_MADE(mine, GPUEXEC_CAPTURE_BROKEN, "was broken by gpuexec_stream_wait_event at",
            "mistakes.c:");
    adds(&s, captured(&s, 2), 2);
}

TEST(an_update_that_does_not_fit) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = captured(&s, 1), longer = { 0 };
    GPUEXEC_CAPTURE(s.stream, &longer) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_OK(gpuexec_fill(s.stream, s.data, 0, 1, BYTES));
    }
    if (gpuexec_driver_version() < 12000) SKIP("updates need a driver for CUDA 12.0");
    CHECK_REFUSED(gpuexec_graph_update(graph, longer), GPUEXEC_GRAPH_DIFFERS,
            "gpuexec_graph_update", "cannot be updated from", "launch the other graph instead");
    CHECK_OK(gpuexec_graph_update(graph, captured(&s, 5)));
    adds(&s, graph, 5);
}

TEST_MULTI(an_update_from_a_graph_of_another_device) {
    setting s, t;
    gpuexec_graph graph, other;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    if (gpuexec_driver_version() < 12000) SKIP("updates need a driver for CUDA 12.0");
    s = set_up(UNIT_PTX, "add", BYTES);
    t = set_up_on(1, UNIT_PTX, "add", BYTES);
    graph = captured(&s, 1);
    other = captured(&t, 2);
    CHECK_REFUSED(gpuexec_graph_update(graph, other), GPUEXEC_GRAPH_DIFFERS, "gpuexec_graph_update",
            "cannot be updated from");
    CHECK_CURE();
    CHECK_OK(gpuexec_graph_update(graph, captured(&s, 5)));
    adds(&s, graph, 5);
    adds(&t, other, 2);
}

TEST(memory_freed_before_a_launch) {
    setting s = set_up(UNIT_PTX, "add", BYTES), old = s;
    gpuexec_graph graph = captured(&old, 1);
    CHECK_OK(gpuexec_free(s.data));
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "gpuexec_graph_launch: cannot launch", "node 0 uses the 256 bytes of device memory",
            "which were freed at", "keep memory, modules, events and contexts until");
    s.data = gpuexec_alloc(s.ctx, BYTES);
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 1, BYTES));
    graph = captured(&s, 1);
    adds(&s, graph, 1);
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_OK(gpuexec_free(s.data));
}

TEST(a_module_unloaded_in_the_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES), again = s;
    gpuexec_module mod = gpuexec_module_load_file(s.ctx, UNIT_PTX, NULL);
    gpuexec_graph graph = { 0 };
    again.kernel = gpuexec_kernel_get(mod, "add");
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&again, s.stream, 1));
        CHECK_OK(gpuexec_module_unload(mod));
    }
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "gpuexec_graph_launch: cannot launch",
            "node 0 launches kernel \"add\", which was unloaded at",
            "keep memory, modules, events and contexts until");
    adds(&s, captured(&s, 1), 1);
}

static gpuexec_stream begun;
static void *begins(void *user) {
    (void)user;
    CHECK_REFUSED(gpuexec_capture_begin(begun, NULL), GPUEXEC_CAPTURING,
            "gpuexec_capture_begin: the stream has been capturing since", "since",
            "mistakes.c:", "end the capture first");
    return NULL;
}
static void *ends(void *user) {
    (void)user;
    CHECK_NOT_MADE(gpuexec_capture_end(begun), GPUEXEC_CAPTURE_BROKEN,
            "gpuexec_capture_end: the capture begun at", "was ended on another thread",
            "end it on the thread that began it");
    return NULL;
}
static void on_a_thread(void *(*function)(void *)) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, function, NULL), 0);
    pthread_join(thread, NULL);
}
TEST(two_threads_capture_on_one_stream) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = { 0 };
    begun = s.stream;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        on_a_thread(begins);
        CHECK_OK(add_to(&s, s.stream, 1));
    }
    adds(&s, graph, 1);
}

TEST(a_capture_ended_on_another_thread) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    begun = s.stream;
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    on_a_thread(ends);
    adds(&s, captured(&s, 1), 1);
}

TEST(a_capture_ended_on_another_stream) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_OK(gpuexec_stream_wait_stream(other, s.stream));
    CHECK_OK(add_to(&s, other, 1));
    CHECK_OK(gpuexec_stream_wait_stream(s.stream, other));
    CHECK_NOT_MADE(gpuexec_capture_end(other), GPUEXEC_BAD_ARGUMENT, "gpuexec_capture_end",
            "the stream joined one", "end it on the same stream");
    adds(&s, gpuexec_capture_end(s.stream), 1);
}

TEST(an_end_without_a_begin) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    CHECK_NOT_MADE(gpuexec_capture_end(s.stream), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_capture_end: the stream is not", "begin a capture with gpuexec_capture_begin");
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_OK(add_to(&s, s.stream, 1));
    adds(&s, gpuexec_capture_end(s.stream), 1);
}

TEST(a_second_begin) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_REFUSED(gpuexec_capture_begin(s.stream, NULL), GPUEXEC_CAPTURING, "gpuexec_capture_begin",
            "the stream has been capturing since",
            "mistakes.c:", "end the capture first: gpuexec_capture_end");
    CHECK_OK(add_to(&s, s.stream, 1));
    adds(&s, gpuexec_capture_end(s.stream), 1);
}

TEST(a_launch_of_an_unfinished_graph) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_BAD_HANDLE,
                "gpuexec_graph_launch: the graph was", "never created",
                "create it before using it");
    }
    adds(&s, graph, 1);
}

TEST(a_graph_launched_in_a_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph ready = captured(&s, 1), graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_REFUSED(gpuexec_graph_launch(ready, s.stream), GPUEXEC_CAPTURING,
                "gpuexec_graph_launch: cannot launch",
                "in this capture, repeat the calls that produced the graph");
        CHECK_OK(add_to(&s, s.stream, 2));
    }
    adds(&s, graph, 2);
    adds(&s, ready, 1);
}

TEST(times_of_a_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_event start = gpuexec_event_create(s.ctx, NULL),
                  stop = gpuexec_event_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(gpuexec_event_record(start, s.stream));
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_OK(gpuexec_event_record(stop, s.stream));
    }
    adds(&s, graph, 1);
    CHECK(gpuexec_event_elapsed_ms(start, stop) < 0);
    CHECK_TEXT(gpuexec_error_text(),
            "gpuexec_event_elapsed_ms: the start event was last recorded during a capture",
            "after launching");
    CHECK_CURE();
    CHECK_OK(gpuexec_event_record(start, s.stream));
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_event_record(stop, s.stream));
    CHECK_OK(gpuexec_event_sync(stop));
    CHECK(gpuexec_event_elapsed_ms(start, stop) >= 0);
}

TEST(the_legacy_stream_during_a_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream legacy = gpuexec_stream_legacy(s.ctx);
    gpuexec_stream_desc desc = { 0 };
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_REFUSED(add_to(&s, legacy, 1), GPUEXEC_CAPTURING, "gpuexec_launch: a blocking stream",
                "gpuexec_stream_desc.non_blocking");
    }
    adds(&s, graph, 1);
    desc.non_blocking = 1;
    s.stream = gpuexec_stream_create(s.ctx, &desc);
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_OK(add_to(&s, legacy, 1));
        CHECK_OK(gpuexec_stream_sync(legacy));
    }
    adds(&s, graph, 1);
}

TEST(a_synchronous_copy_during_a_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream_desc desc = { 0 };
    gpuexec_graph graph = { 0 };
    uint32_t word = 3;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_REFUSED(gpuexec_copy_in_now(s.ctx, s.data, &word, 4), GPUEXEC_CAPTURING,
                "gpuexec_copy_in_now", "functions whose names end in _now use the legacy");
    }
    adds(&s, graph, 1);
    desc.non_blocking = 1;
    s.stream = gpuexec_stream_create(s.ctx, &desc);
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_OK(gpuexec_copy_in_now(s.ctx, s.data, &word, 4));
    }
    adds(&s, graph, 1);
}

/* A copy from pageable memory is no error: each launch reads that memory again, so it must still
   exist. */
TEST(a_copy_from_pageable_memory) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = { 0 };
    static uint32_t memory[WORDS];
    GPUEXEC_CAPTURE(s.stream, &graph) CHECK_OK(gpuexec_copy_in(s.stream, s.data, memory, BYTES));
    memory[WORDS - 1] = 9;
    adds(&s, graph, 9);
}

TEST(a_stream_destroyed_in_its_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(add_to(&s, s.stream, 1));
        CHECK_FAILED(gpuexec_stream_destroy(s.stream), GPUEXEC_CAPTURING,
                "gpuexec_stream_destroy: cannot destroy",
                "end the capture first: gpuexec_capture_end");
    }
    adds(&s, graph, 1);
    CHECK_OK(gpuexec_stream_destroy(s.stream));
}

TEST(a_graph_launched_after_its_end) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = captured(&s, 1);
    adds(&s, graph, 1);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_EQ(value(&s), 2);
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "gpuexec_graph_launch: the graph is",
            "destroy the graph or close its context only after the graph's last launch");
}

TEST(a_context_closed_before_its_graph) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_graph graph = captured(&s, 1);
    CHECK_OK(gpuexec_context_close(s.ctx));
    s = set_up(UNIT_PTX, "add", BYTES);
    CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
            "gpuexec_graph_launch: the graph is",
            "destroy the graph or close its context only after the graph's last launch");
    graph = captured(&s, 1);
    adds(&s, graph, 1);
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_OK(gpuexec_context_close(s.ctx));
}

TEST_ALONE(a_capture_open_at_shutdown) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_OK(add_to(&s, s.stream, 1));
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_CAPTURING);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_shutdown", "the capture begun at",
            "mistakes.c:", "was still open", "gpuexec_capture_end");
    CHECK_CURE();
    s = set_up(UNIT_PTX, "add", BYTES);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_OK(add_to(&s, s.stream, 1));
    adds(&s, gpuexec_capture_end(s.stream), 1);
    CHECK_OK(gpuexec_shutdown());
}
