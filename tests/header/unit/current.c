/* current.c - the current stream of a context: GPUEXEC_CURRENT, gpuexec_context_stream and stream
   scopes. */
#include "../../test.h"

enum { WORDS = 512, BYTES = WORDS * 4 };

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.gate = gate_make(s.ctx, s.mod);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    memset(s.host, 0, BYTES);
    return s;
}

/* Streams that do not synchronize with the legacy default stream: only the waits under test order
   them. */
static gpuexec_stream make_stream(gpuexec_context ctx) {
    gpuexec_stream_desc desc = { 0 };
    desc.non_blocking = 1;
    return gpuexec_stream_create(ctx, &desc);
}

static gpuexec_result add_to(const setting *s, gpuexec_stream stream, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(
            s->kernel, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s->data, by, n));
}

TEST(a_context_has_a_stream) {
    setting s = begin();
    gpuexec_stream own = gpuexec_context_stream(s.ctx);
    gpuexec_stream_info info;
    CHECK_MADE(own);
    CHECK(gpuexec_same(own, gpuexec_context_stream(s.ctx)));
    CHECK(!gpuexec_same(own, gpuexec_stream_legacy(s.ctx)));
    CHECK_OK(gpuexec_stream_get_info(own, &info));
    CHECK_EQ(info.non_blocking, 0);
    CHECK_EQ(info.adopted, 0);
    CHECK_OK(add_to(&s, own, 5));
    CHECK_OK(gpuexec_copy_out(own, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_sync(own));
    CHECK_EQ(s.host[7], 5);
    CHECK_FAILED(gpuexec_stream_destroy(own), GPUEXEC_BAD_ARGUMENT,
            "cannot destroy the context's own stream", "closed with its context");
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK_NOT_MADE(gpuexec_context_stream(s.ctx), GPUEXEC_STALE_HANDLE, "the context is stale");
    CHECK_FAILED(gpuexec_stream_query(own), GPUEXEC_STALE_HANDLE, "the stream is stale");
}

/* Each kind of call, on the context's own stream and on one that was set: what it enqueues is
   behind the gate. */
TEST(what_goes_to_the_current_stream) {
    setting s = begin();
    gpuexec_stream streams[2];
    gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
    gpuexec_ptr other = gpuexec_alloc(s.ctx, BYTES);
    uint32_t n = WORDS, one = 1;
    gpuexec_launch_desc desc = { 0 };
    int i;
    streams[0] = gpuexec_context_stream(s.ctx);
    streams[1] = make_stream(s.ctx);
    for (i = 0; i < 2; i++) {
        gpuexec_stream now = streams[i];
        if (i) CHECK_OK(gpuexec_context_set_stream(s.ctx, now));
        CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), now));
        gate_close(s.gate, now);
        CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, s.data, 100, 4, WORDS));
        CHECK_OK(add_to(&s, GPUEXEC_CURRENT, 1));
        CHECK_OK(gpuexec_launch_with(s.kernel, GPUEXEC_CURRENT, gpuexec_grid_for(n, 128), &desc,
                GPUEXEC_ARGS(s.data, one, n)));
        CHECK_OK(gpuexec_launch_cooperative(
                s.kernel, GPUEXEC_CURRENT, gpuexec_grid(1, 128, 0), GPUEXEC_ARGS(s.data, one, n)));
        CHECK_OK(gpuexec_copy(GPUEXEC_CURRENT, other, s.data, BYTES));
        CHECK_OK(gpuexec_copy_with(
                GPUEXEC_CURRENT, ROWS(ON_DEVICE(other, 64), OF_VALUE(0, 1), 4, 2)));
        CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, s.host, other, BYTES));
        CHECK_OK(gpuexec_event_record(e, GPUEXEC_CURRENT));
        CHECK_RESULT(gpuexec_stream_query(now), GPUEXEC_NOT_READY);
        CHECK_RESULT(gpuexec_event_query(e), GPUEXEC_NOT_READY);
        CHECK_OK(gpuexec_stream_query(streams[1 - i]));
        gate_open(s.gate);
        CHECK_OK(gpuexec_event_sync(e));
        CHECK_EQ(s.host[0], 0);
        CHECK_EQ(s.host[1], 103);
        CHECK_OK(gpuexec_copy_in(GPUEXEC_CURRENT, s.data, s.host, BYTES));
        CHECK_OK(gpuexec_stream_sync(now));
    }
    CHECK_OK(gpuexec_context_set_stream(s.ctx, (gpuexec_stream){ 0 }));
    CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), streams[0]));
}

/* A gate holds the stream that was current. Work in the scope must wait for it, and work after a
   joining scope for the work inside, which a second gate holds. */
TEST(a_scope_waits_for_the_stream_before) {
    setting s = begin();
    test_gate inside = gate_make(s.ctx, s.mod);
    gpuexec_stream own = gpuexec_context_stream(s.ctx), stream = make_stream(s.ctx);
    int join;
    for (join = 0; join < 2; join++) {
        CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 1, BYTES));
        gate_close(s.gate, GPUEXEC_CURRENT);
        CHECK_OK(add_to(&s, GPUEXEC_CURRENT, 10));
        if (join) {
            GPUEXEC_STREAM_SCOPE_JOIN(stream) {
                CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), stream));
                gate_close(inside, GPUEXEC_CURRENT);
                CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, s.host, s.data, BYTES));
            }
        } else {
            GPUEXEC_STREAM_SCOPE(stream) {
                CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), stream));
                gate_close(inside, GPUEXEC_CURRENT);
                CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, s.host, s.data, BYTES));
            }
        }
        CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), own));
        CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
        gate_open(s.gate);
        if (join) {
            test_sleep_ms(20); /* not order: it could be done too early */
            CHECK_RESULT(gpuexec_stream_query(own), GPUEXEC_NOT_READY); /* it waits for the scope */
        } else CHECK_OK(gpuexec_stream_sync(own));
        gate_open(inside);
        CHECK_OK(gpuexec_stream_sync(stream));
        CHECK_OK(gpuexec_stream_sync(own));
        CHECK_EQ(s.host[3], 10);
    }
}

static gpuexec_stream inside_a_scope(gpuexec_context ctx, gpuexec_stream stream) {
    GPUEXEC_STREAM_SCOPE(stream) return gpuexec_context_stream(ctx);
    return gpuexec_stream_legacy(ctx);
}

TEST(scopes_nest_and_end_at_a_return) {
    setting s = begin();
    gpuexec_stream own, a = make_stream(s.ctx), b = make_stream(s.ctx);
    int turns = 0;
    CHECK(gpuexec_same(inside_a_scope(s.ctx, a), a));
    own = gpuexec_context_stream(s.ctx);
    CHECK(!gpuexec_same(own, a));
    GPUEXEC_STREAM_SCOPE(a) {
        GPUEXEC_STREAM_SCOPE(b) {
            CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), b));
            GPUEXEC_STREAM_SCOPE_JOIN(b) CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), b));
            GPUEXEC_STREAM_SCOPE(a) break;
            CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), b));
            turns++;
        }
        CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), a));
        CHECK_OK(gpuexec_context_set_stream(s.ctx, b)); /* the scope restores its own */
    }
    CHECK_EQ(turns, 1);
    CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), own));
    CHECK_OK(gpuexec_take_error());
}

static char calls[4096];
static void keep_calls(void *user, gpuexec_log_level level, const char *text) {
    const char *call = strstr(text, "cu");
    (void)user;
    if (level == GPUEXEC_LOG_TRACE && call)
        snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "%.*s ",
                (int)strcspn(call, "( "), call);
}

/* Entering costs one record and one wait, leaving nothing, joining one record and one wait; a
   stream without earlier work, or the current one again, nothing. */
TEST(what_a_scope_costs) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    gpuexec_stream a, b;
    desc.trace = 1;
    desc.log = keep_calls;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    a = gpuexec_stream_create(ctx, NULL);
    b = gpuexec_stream_create(ctx, NULL);
    calls[0] = 0;
    /* nothing was enqueued on the context's own stream */
    GPUEXEC_STREAM_SCOPE(a) CHECK_STRING(calls, "");
    CHECK_OK(gpuexec_context_set_stream(ctx, a));
    CHECK_OK(gpuexec_stream_wait_stream(a, b)); /* creates the event for waits */
    calls[0] = 0;
    GPUEXEC_STREAM_SCOPE(b) {
        CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
        GPUEXEC_STREAM_SCOPE(b) CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
    }
    CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
    calls[0] = 0;
    GPUEXEC_STREAM_SCOPE_JOIN(b) calls[0] = 0;
    CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
}

TEST(contexts_have_separate_current_streams) {
    setting s = begin();
    gpuexec_context other = gpuexec_context_create(0, NULL);
    gpuexec_stream mine = make_stream(s.ctx), its = make_stream(other);
    gpuexec_ptr p = gpuexec_alloc(other, BYTES);
    CHECK_REFUSED(gpuexec_context_set_stream(s.ctx, its), GPUEXEC_WRONG_CONTEXT,
            " is on device 0, but the stream", "pass the context of the stream");
    CHECK_OK(gpuexec_context_set_stream(s.ctx, mine));
    CHECK_OK(gpuexec_context_set_stream(other, its));
    CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), mine));
    CHECK(gpuexec_same(gpuexec_context_stream(other), its));
    gate_close(s.gate, mine);
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, p, 1, 1, BYTES)); /* the memory decides */
    CHECK_OK(gpuexec_stream_sync(its));
    CHECK_OK(gpuexec_copy_peer(GPUEXEC_CURRENT, s.data, s.ctx, p, other, BYTES));
    CHECK_OK(gpuexec_stream_query(its));
    CHECK_RESULT(gpuexec_stream_query(mine), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(mine));
    GPUEXEC_STREAM_SCOPE(its) CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), mine));
    CHECK_OK(gpuexec_context_close(other));
    CHECK_OK(gpuexec_context_set_stream(s.ctx, mine));
    CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), mine));
}

/* Memory that gpuexec did not allocate: a variable of a module. */
TEST(the_driver_says_whose_memory_it_is) {
    setting s = begin();
    gpuexec_module globals = gpuexec_module_load_file(s.ctx, "kernels/globals.ptx", NULL);
    gpuexec_stream stream = make_stream(s.ctx);
    size_t bytes = 0;
    gpuexec_ptr scale = gpuexec_module_global_address(globals, "initial", &bytes);
    uint32_t here[4] = { 0 };
    CHECK(scale != 0 && bytes >= 4);
    CHECK_OK(gpuexec_context_set_stream(s.ctx, stream));
    gate_close(s.gate, stream);
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, scale, 0, 1, 4));
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, 0, 0, 1, 0));
    CHECK_REFUSED(gpuexec_fill(GPUEXEC_CURRENT, 0, 0, 1, 4), GPUEXEC_BAD_ARGUMENT,
            "the destination is the device address 0");
    CHECK_REFUSED(gpuexec_copy(GPUEXEC_CURRENT, (uintptr_t)here, s.data, 4), GPUEXEC_BAD_ARGUMENT,
            "the destination 0x", "does not belong to any context",
            "pass a stream instead of GPUEXEC_CURRENT");
}

TEST(calls_that_refuse_the_current_stream) {
    setting s = begin();
    gpuexec_event e = gpuexec_stream_record(gpuexec_context_stream(s.ctx), NULL);
    uint32_t n = WORDS, one = 1;
    gpuexec_stream_info info;
    static const char is[] = "is GPUEXEC_CURRENT", cure[] = "gpuexec_context_stream(context)";
    CHECK_FAILED(gpuexec_stream_sync(GPUEXEC_CURRENT), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_FAILED(gpuexec_stream_query(GPUEXEC_CURRENT), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_FAILED(gpuexec_stream_get_info(GPUEXEC_CURRENT, &info), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_FAILED(gpuexec_stream_destroy(GPUEXEC_CURRENT), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_REFUSED(gpuexec_stream_wait_event(GPUEXEC_CURRENT, e), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_REFUSED(gpuexec_stream_wait_stream(s.stream, GPUEXEC_CURRENT), GPUEXEC_BAD_HANDLE,
            "the other stream", cure);
    CHECK_REFUSED(gpuexec_context_set_stream(s.ctx, GPUEXEC_CURRENT), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_NOT_MADE(gpuexec_stream_record(GPUEXEC_CURRENT, NULL), GPUEXEC_BAD_HANDLE, is, cure);
    CHECK_NOT_MADE(gpuexec_prepare(s.kernel, GPUEXEC_CURRENT, gpuexec_grid_for(n, 128),
                           GPUEXEC_ARGS(s.data, one, n)),
            GPUEXEC_BAD_HANDLE, is, cure);
    CHECK(!gpuexec_ok(GPUEXEC_CURRENT));
    CHECK(gpuexec_stream_native(GPUEXEC_CURRENT) == NULL);
    GPUEXEC_STREAM_SCOPE(GPUEXEC_CURRENT) CHECK_EQ(0, 1); /* the block is skipped */
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_HANDLE);
}

TEST(a_current_stream_that_was_destroyed) {
    setting s = begin();
    gpuexec_stream stream = make_stream(s.ctx), own = gpuexec_context_stream(s.ctx);
    CHECK_OK(gpuexec_context_set_stream(s.ctx, stream));
    CHECK_OK(gpuexec_stream_destroy(stream));
    CHECK_REFUSED(add_to(&s, GPUEXEC_CURRENT, 1), GPUEXEC_STALE_HANDLE,
            "the current stream of the context on device 0 was destroyed",
            "gpuexec_context_set_stream");
    CHECK_NOT_MADE(gpuexec_context_stream(s.ctx), GPUEXEC_STALE_HANDLE, "was destroyed");
    CHECK_OK(gpuexec_context_set_stream(s.ctx, (gpuexec_stream){ 0 }));
    CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), own));
    CHECK_OK(add_to(&s, GPUEXEC_CURRENT, 1));
    CHECK_OK(gpuexec_stream_sync(own));
}

/* A failure on the current stream marks the stream that it stands for. */
TEST(failures_mark_the_current_stream) {
    setting s = begin();
    gpuexec_stream own = gpuexec_context_stream(s.ctx);
    CHECK_RESULT(gpuexec_fill(GPUEXEC_CURRENT, s.data, 0, 1, BYTES + 1), GPUEXEC_BAD_ARGUMENT);
    CHECK_RESULT(add_to(&s, GPUEXEC_CURRENT, 1), GPUEXEC_BAD_ARGUMENT); /* refused: the latch */
    CHECK_RESULT(gpuexec_stream_sync(own), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(add_to(&s, GPUEXEC_CURRENT, 1));
    CHECK_OK(gpuexec_stream_sync(own));
}

typedef struct mine {
    gpuexec_context ctx;
    gpuexec_stream seen, set;
} mine;
static void *on_a_thread(void *user) {
    mine *m = (mine *)user;
    m->seen = gpuexec_context_stream(m->ctx);
    CHECK_OK(gpuexec_context_set_stream(m->ctx, m->set));
    CHECK(gpuexec_same(gpuexec_context_stream(m->ctx), m->set));
    return NULL;
}

TEST(threads_have_separate_current_streams) {
    setting s = begin();
    gpuexec_stream a = make_stream(s.ctx);
    mine m[8];
    pthread_t threads[8];
    int i;
    CHECK_OK(gpuexec_context_set_stream(s.ctx, a));
    for (i = 0; i < 8; i++) { /* all of them need the own one */
        m[i].ctx = s.ctx;
        m[i].set = make_stream(s.ctx);
        CHECK_EQ(pthread_create(&threads[i], NULL, on_a_thread, &m[i]), 0);
    }
    for (i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (i = 0; i < 8; i++) {
        CHECK_MADE(m[i].seen);
        CHECK(gpuexec_same(m[i].seen, m[0].seen));
        CHECK(!gpuexec_same(m[i].seen, a));
    }
    CHECK(gpuexec_same(gpuexec_context_stream(s.ctx), a));
}
