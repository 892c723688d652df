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

/* --- every call that takes a stream: which context decides -------------------------------------
 */

static char traced[60000];
static void keep_trace(void *user, gpuexec_log_level level, const char *text) {
    const size_t n = strlen(traced);
    (void)user;
    if (level == GPUEXEC_LOG_TRACE) snprintf(traced + n, sizeof traced - n, "%s", text);
}
/* The driver calls of `call` have that stream, and not the other one, among their arguments. */
static int went_to(const char *call, struct CUstream_st *stream, struct CUstream_st *other) {
    char number[40];
    int ok;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)(uintptr_t)stream);
    ok = strstr(traced, number) != NULL;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)(uintptr_t)other);
    ok &= strstr(traced, number) == NULL;
    if (!ok) printf("%s: the driver calls are:\n%s", call, traced);
    return ok;
}
#define GOES_TO(call, stream, other) \
    do { \
        traced[0] = 0; \
        CHECK(call); \
        CHECK(went_to(#call, stream, other)); \
    } while (0)
static void nothing(void *user) { (void)user; }

/* Two contexts: one has all objects, the other one is current on the thread. */
typedef struct contexts {
    setting s;
    gpuexec_context other;
    gpuexec_stream mine, its, extra;
    gpuexec_event e;
    gpuexec_ptr p;
    struct CUstream_st *by_object, *by_thread;
} contexts;
static contexts begin_contexts(void) {
    gpuexec_setup_desc desc = { 0 };
    contexts c;
    memset(&c, 0, sizeof c);
    desc.trace = 1;
    desc.log = keep_trace;
    CHECK_OK(gpuexec_setup(&desc));
    c.s = begin();
    c.other = gpuexec_context_create(0, NULL);
    c.mine = make_stream(c.s.ctx);
    c.its = make_stream(c.other);
    c.extra = make_stream(c.s.ctx);
    c.e = gpuexec_stream_record(c.extra, NULL);
    c.p = gpuexec_alloc(c.s.ctx, BYTES);
    c.by_object = gpuexec_stream_native(c.mine);
    c.by_thread = gpuexec_stream_native(c.its);
    CHECK_OK(gpuexec_context_set_stream(c.s.ctx, c.mine));
    CHECK_OK(gpuexec_context_set_stream(c.other, c.its));
    CHECK_OK(gpuexec_context_push(c.other));
    return c;
}
#define BY_OBJECT(call) GOES_TO((call) == GPUEXEC_OK, c.by_object, c.by_thread)
#define BY_THREAD(call) GOES_TO((call) == GPUEXEC_OK, c.by_thread, c.by_object)

TEST(the_object_decides_which_stream_is_current) {
    contexts c = begin_contexts();
    setting *const s = &c.s;
    const uint32_t n = WORDS, one = 1;
    const gpuexec_dims dims = gpuexec_grid_for(n, 128);
    const gpuexec_copy_part part = { .to = c.p, .from = s->data, .bytes = 64 };
    gpuexec_launch_desc desc = { 0 };
    gpuexec_pool pool = gpuexec_pool_create(s->ctx, NULL);
    gpuexec_graph graph = gpuexec_graph_create(s->ctx);
    gpuexec_batch batch = gpuexec_batch_create(s->ctx, NULL);
    gpuexec_prepared prepared;
    gpuexec_copy_info how;
    gpuexec_ptr q = 0;
    BY_OBJECT(gpuexec_launch(s->kernel, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(s->data, one, n)));
    BY_OBJECT(gpuexec_launch_cooperative(
            s->kernel, GPUEXEC_CURRENT, gpuexec_grid(1, 128, 0), GPUEXEC_ARGS(s->data, one, n)));
    BY_OBJECT(gpuexec_launch_with(
            s->kernel, GPUEXEC_CURRENT, dims, &desc, GPUEXEC_ARGS(s->data, one, n)));
    prepared = gpuexec_prepare(s->kernel, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(s->data, one, n));
    BY_OBJECT(gpuexec_launch_prepared(prepared));
    prepared = gpuexec_prepare_with(s->kernel, c.extra, dims, &desc, GPUEXEC_ARGS(s->data, one, n));
    CHECK_OK(gpuexec_prepared_set_stream(prepared, GPUEXEC_CURRENT));
    BY_OBJECT(gpuexec_launch_prepared(prepared));
    prepared = gpuexec_prepare_with(
            s->kernel, GPUEXEC_CURRENT, dims, &desc, GPUEXEC_ARGS(s->data, one, n));
    BY_OBJECT(gpuexec_launch_prepared(prepared));
    gpuexec_batch_add(batch, s->kernel, dims, GPUEXEC_ARGS(s->data, one, n));
    BY_OBJECT(gpuexec_batch_launch(batch, GPUEXEC_CURRENT));
    gpuexec_graph_add_fill(graph, s->data, 1, 4, n, GPUEXEC_FIRST);
    BY_OBJECT(gpuexec_graph_prepare(graph, GPUEXEC_CURRENT));
    BY_OBJECT(gpuexec_graph_launch(graph, GPUEXEC_CURRENT));
    BY_OBJECT(gpuexec_event_record(c.e, GPUEXEC_CURRENT));
    BY_OBJECT(gpuexec_stream_wait_event(GPUEXEC_CURRENT, c.e));
    BY_OBJECT(gpuexec_stream_wait_stream(GPUEXEC_CURRENT, c.extra));
    BY_OBJECT(gpuexec_stream_wait_stream(c.extra, GPUEXEC_CURRENT));
    BY_OBJECT(gpuexec_copy_in(GPUEXEC_CURRENT, s->data, s->host, BYTES));
    BY_OBJECT(gpuexec_copy_out(GPUEXEC_CURRENT, s->host, s->data, BYTES));
    BY_OBJECT(gpuexec_copy(GPUEXEC_CURRENT, c.p, s->data, BYTES));
    BY_OBJECT(gpuexec_copy_peer(GPUEXEC_CURRENT, c.p, s->ctx, s->data, s->ctx, BYTES));
    BY_OBJECT(
            gpuexec_copy_with(GPUEXEC_CURRENT, LINE(ON_DEVICE(c.p, 0), ON_DEVICE(s->data, 0), 64)));
    BY_OBJECT(gpuexec_copy_many(GPUEXEC_CURRENT, &part, 1));
    BY_OBJECT(gpuexec_fill(GPUEXEC_CURRENT, c.p, 0, 1, BYTES));
    CHECK_OK(gpuexec_copy_explain(GPUEXEC_CURRENT, c.p, (uintptr_t)s->host, 64, &how));
    CHECK_EQ(how.asynchronous, 1);
    CHECK_OK(gpuexec_copy_explain(GPUEXEC_CURRENT, (uintptr_t)s->host, c.p, 64, &how));
    GOES_TO((q = gpuexec_pool_alloc(pool, GPUEXEC_CURRENT, BYTES)) != 0, c.by_object, c.by_thread);
    BY_OBJECT(gpuexec_free_on(GPUEXEC_CURRENT, q));
    CHECK_OK(gpuexec_context_set_stream(s->ctx, GPUEXEC_CURRENT)); /* changes nothing */
    CHECK(gpuexec_same(gpuexec_context_stream(s->ctx), c.mine));
    CHECK_OK(gpuexec_stream_sync(c.mine));
    CHECK_OK(gpuexec_context_pop(c.other));
}

TEST(the_address_of_a_value_decides_which_stream_is_current) {
    contexts c = begin_contexts();
    CHECK_OK(gpuexec_context_pop(c.other));
    if (gpuexec_driver_version() < 11070) SKIP("values need a driver for CUDA 11.7");
    BY_OBJECT(gpuexec_stream_write_value32(GPUEXEC_CURRENT, c.p, 5));
    BY_OBJECT(gpuexec_stream_wait_value32(GPUEXEC_CURRENT, c.p, 5, GPUEXEC_EQUAL));
    BY_OBJECT(gpuexec_stream_write_value64(GPUEXEC_CURRENT, c.p, 6));
    BY_OBJECT(gpuexec_stream_wait_value64(GPUEXEC_CURRENT, c.p, 6, GPUEXEC_EQUAL));
    CHECK_OK(gpuexec_stream_sync(c.mine));
}

TEST(managed_memory_decides_which_stream_is_current) {
    contexts c;
    gpuexec_ptr m;
    int managed = 0;
    gpuexec_device_get_attribute(0, 89 /* concurrent managed access */, &managed);
    if (!managed) SKIP("needs concurrent managed access");
    gpuexec_shutdown();
    c = begin_contexts();
    m = gpuexec_alloc_managed(c.s.ctx, BYTES, NULL);
    BY_OBJECT(gpuexec_managed_prefetch(GPUEXEC_CURRENT, m, BYTES, 0));
    BY_OBJECT(gpuexec_managed_attach(GPUEXEC_CURRENT, m, GPUEXEC_ATTACH_ALL));
    CHECK_OK(gpuexec_stream_sync(c.mine));
    CHECK_OK(gpuexec_context_pop(c.other));
}

TEST(the_kernels_of_a_multi_device_launch_decide) {
    contexts c = begin_contexts();
    const uint32_t n = WORDS, one = 1;
    const void *const addresses[] = { &c.s.data, &one, &n };
    gpuexec_device_launch list[1];
    memset(list, 0, sizeof list);
    list[0].kernel = c.s.kernel;
    list[0].stream = GPUEXEC_CURRENT;
    list[0].dims = gpuexec_grid(1, 128, 0);
    list[0].args.addresses = addresses;
    list[0].args.count = 3;
    BY_OBJECT(gpuexec_launch_multi_device(list, 1, NULL));
    list[0].dims.block_x = 4096; /* a failure marks the current stream */
    CHECK_RESULT(gpuexec_launch_multi_device(list, 1, NULL), GPUEXEC_BAD_LAUNCH);
    CHECK_RESULT(gpuexec_stream_sync(c.mine), GPUEXEC_BAD_LAUNCH);
    CHECK_OK(gpuexec_context_pop(c.other));
}

TEST(without_an_object_the_current_context_decides) {
    contexts c = begin_contexts();
    gpuexec_stream_info info;
    gpuexec_event e = { 0 };
    gpuexec_graph graph = { 0 };
    gpuexec_ptr q = 0;
    BY_THREAD(gpuexec_stream_query(GPUEXEC_CURRENT));
    BY_THREAD(gpuexec_stream_sync(GPUEXEC_CURRENT));
    BY_THREAD(gpuexec_stream_get_info(GPUEXEC_CURRENT, &info));
    CHECK(gpuexec_stream_native(GPUEXEC_CURRENT) == c.by_thread);
    GOES_TO(gpuexec_ok(e = gpuexec_stream_record(GPUEXEC_CURRENT, NULL)), c.by_thread, c.by_object);
    BY_THREAD(gpuexec_stream_host_function(GPUEXEC_CURRENT, nothing, NULL));
    BY_THREAD(gpuexec_stream_wait_stream(GPUEXEC_CURRENT, GPUEXEC_CURRENT));
    GOES_TO((q = gpuexec_alloc_on(GPUEXEC_CURRENT, BYTES)) != 0, c.by_thread, c.by_object);
    BY_THREAD(gpuexec_free_on(GPUEXEC_CURRENT, q)); /* the allocation's context */
    BY_THREAD(gpuexec_capture_begin(GPUEXEC_CURRENT, NULL));
    CHECK_EQ(gpuexec_stream_is_capturing(GPUEXEC_CURRENT), 1);
    CHECK_EQ(gpuexec_stream_is_capturing(c.its), 1);
    GOES_TO(gpuexec_ok(graph = gpuexec_capture_end(GPUEXEC_CURRENT)), c.by_thread, c.by_object);
    CHECK_EQ(gpuexec_stream_is_capturing(GPUEXEC_CURRENT), 0);
    GPUEXEC_CAPTURE(GPUEXEC_CURRENT, &graph) {
        CHECK_EQ(gpuexec_stream_is_capturing(c.its), 1);
        CHECK_OK(gpuexec_context_set_stream(c.other, (gpuexec_stream){ 0 })); /* ends the right one
                                                                               */
    }
    CHECK_MADE(graph);
    CHECK_EQ(gpuexec_stream_is_capturing(c.its), 0);
    CHECK_OK(gpuexec_context_set_stream(c.other, c.its));
    GPUEXEC_STREAM_SCOPE(GPUEXEC_CURRENT) {
        CHECK(gpuexec_same(gpuexec_context_stream(c.other), c.its));
        q = 0;
    }
    CHECK_EQ(q, 0);
    CHECK_OK(gpuexec_context_pop(c.other));
    CHECK_OK(gpuexec_take_error());
    CHECK(gpuexec_ok(e));
}

TEST(where_the_current_stream_is_not_known) {
    setting s = begin();
    gpuexec_event gone = gpuexec_stream_record(s.stream, NULL);
    gpuexec_graph graph = { 0 };
    gpuexec_stream_info info;
    static const char no[] =
            "GPUEXEC_CURRENT does not refer to a stream here: no context is current",
                      cure[] = "push a context first (gpuexec_context_push)";
    CHECK_FAILED(gpuexec_stream_sync(GPUEXEC_CURRENT), GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK_FAILED(gpuexec_stream_query(GPUEXEC_CURRENT), GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK_FAILED(gpuexec_stream_get_info(GPUEXEC_CURRENT, &info), GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK(gpuexec_stream_native(GPUEXEC_CURRENT) == NULL);
    CHECK_TEXT(gpuexec_error_text(), no, "gpuexec_stream_native");
    CHECK_EQ(gpuexec_stream_is_capturing(GPUEXEC_CURRENT), 0);
    CHECK_REFUSED(gpuexec_stream_host_function(GPUEXEC_CURRENT, nothing, NULL),
            GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK_REFUSED(gpuexec_stream_wait_stream(GPUEXEC_CURRENT, GPUEXEC_CURRENT),
            GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK_NOT_MADE(gpuexec_stream_record(GPUEXEC_CURRENT, NULL), GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK_REFUSED(gpuexec_capture_begin(GPUEXEC_CURRENT, NULL), GPUEXEC_BAD_ARGUMENT, no, cure);
    CHECK_NOT_MADE(gpuexec_capture_end(GPUEXEC_CURRENT), GPUEXEC_BAD_ARGUMENT, no, cure);
    GPUEXEC_CAPTURE(GPUEXEC_CURRENT, &graph) CHECK_EQ(0, 1); /* the block is skipped */
    CHECK_NOT_MADE(graph, GPUEXEC_BAD_ARGUMENT, no, cure);
    GPUEXEC_STREAM_SCOPE(GPUEXEC_CURRENT) CHECK_EQ(0, 1);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_REFUSED(gpuexec_stream_write_value32(GPUEXEC_CURRENT, 4, 1), GPUEXEC_BAD_ARGUMENT,
            "the address 0x4 does not belong to any context",
            "pass a stream instead of GPUEXEC_CURRENT");
    CHECK_OK(gpuexec_event_destroy(gone));
    CHECK_REFUSED(gpuexec_stream_wait_event(GPUEXEC_CURRENT, gone), GPUEXEC_STALE_HANDLE,
            "the event is stale");
    CHECK_REFUSED(gpuexec_stream_wait_stream(GPUEXEC_CURRENT, (gpuexec_stream){ 0 }),
            GPUEXEC_BAD_HANDLE, "the other stream was never created");
    CHECK_FAILED(gpuexec_stream_destroy(GPUEXEC_CURRENT), GPUEXEC_BAD_HANDLE,
            "the stream is GPUEXEC_CURRENT, which gpuexec_stream_destroy does not accept",
            "pass the handle itself");
    CHECK(!gpuexec_ok(GPUEXEC_CURRENT));
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
