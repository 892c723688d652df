/* stream.c - streams: order within one, overlap and waits between several. */
#include "../../test.h"

enum { WORDS = 512, BYTES = WORDS * 4 };

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.gate = gate_make(s.ctx, s.mod);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    memset(s.host, 0, BYTES);
    return s;
}

static gpuexec_result add_to(const setting *s, gpuexec_stream stream, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(
            s->kernel, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s->data, by, n));
}

static gpuexec_stream make_stream(gpuexec_context ctx, int non_blocking, int priority) {
    gpuexec_stream_desc desc = { 0 };
    desc.non_blocking = non_blocking;
    desc.priority = priority;
    return gpuexec_stream_create(ctx, &desc);
}

TEST(a_stream_is_busy_until_its_work_is_done) {
    setting s = begin();
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL);
    CHECK_OK(gpuexec_stream_query(stream));
    gate_close(s.gate, stream);
    CHECK_OK(add_to(&s, stream, 1));
    CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    test_sleep_ms(20); /* not order: it could be done too early */
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_take_error()); /* "not ready" is a result, not a failure */
    CHECK_EQ(s.host[0], 0);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_OK(gpuexec_stream_query(stream));
    CHECK_EQ(s.host[0], 1);
    CHECK_EQ(s.host[WORDS - 1], 1);
}

/* x = (x + 1) on the device, 500 times; each kernel reads the result of the previous one. */
TEST(work_of_a_stream_runs_in_order) {
    setting s = begin();
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL);
    uint32_t i;
    for (i = 0; i < 500; i++) CHECK_OK(add_to(&s, stream, i));
    CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_EQ(s.host[0], 499 * 500 / 2);
    CHECK_EQ(s.host[WORDS - 1], 499 * 500 / 2);
}

/* While one stream is held at the gate, another one works and finishes. */
TEST(streams_overlap) {
    setting s = begin();
    gpuexec_stream held = gpuexec_stream_create(s.ctx, NULL),
                   other = gpuexec_stream_create(s.ctx, NULL);
    gate_close(s.gate, held);
    CHECK_OK(add_to(&s, other, 7));
    CHECK_OK(gpuexec_copy_out(other, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_EQ(s.host[3], 7);
    CHECK_RESULT(gpuexec_stream_query(held), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(held));
}

TEST(the_legacy_stream_waits_for_blocking_streams) {
    setting s = begin();
    gpuexec_stream legacy = gpuexec_stream_legacy(s.ctx),
                   blocking = gpuexec_stream_create(s.ctx, NULL);
    gate_close(s.gate, blocking);
    CHECK_OK(add_to(&s, blocking, 2));
    CHECK_OK(add_to(&s, legacy, 3));
    CHECK_OK(gpuexec_copy_out(legacy, s.host, s.data, BYTES));
    test_sleep_ms(10); /* not order: it could be done too early */
    CHECK_EQ(s.host[0], 0);
    CHECK_RESULT(gpuexec_stream_query(legacy), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(legacy));
    CHECK_EQ(s.host[0], 5);
}

/* A wait on the legacy stream is work, even if the event is done: blocking streams' earlier work
   comes before it, and their later work after it. */
TEST(the_legacy_stream_waits_for_a_done_event) {
    setting s = begin();
    gpuexec_stream legacy = gpuexec_stream_legacy(s.ctx),
                   blocking = gpuexec_stream_create(s.ctx, NULL),
                   later = gpuexec_stream_create(s.ctx, NULL), apart = make_stream(s.ctx, 1, 0);
    gpuexec_event done = gpuexec_event_create(s.ctx, NULL);
    CHECK_OK(gpuexec_event_record(done, apart));
    CHECK_OK(gpuexec_event_sync(done));
    gate_close(s.gate, blocking);
    CHECK_OK(gpuexec_stream_wait_event(legacy, done));
    CHECK_OK(add_to(&s, later, 5));
    CHECK_OK(gpuexec_copy_out(later, s.host, s.data, BYTES));
    CHECK_RESULT(gpuexec_stream_query(legacy), GPUEXEC_NOT_READY);
    test_sleep_ms(10); /* not order: it could be done too early */
    CHECK_EQ(s.host[0], 0);
    CHECK_RESULT(gpuexec_stream_query(later), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(later));
    CHECK_EQ(s.host[0], 5);
}

TEST(a_non_blocking_stream_does_not_hold_the_legacy_one) {
    setting s = begin();
    gpuexec_stream legacy = gpuexec_stream_legacy(s.ctx), free_stream = make_stream(s.ctx, 1, 0);
    gate_close(s.gate, free_stream);
    CHECK_OK(add_to(&s, legacy, 3));
    CHECK_OK(gpuexec_copy_out(legacy, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_sync(legacy));
    CHECK_EQ(s.host[0], 3);
    CHECK_RESULT(gpuexec_stream_query(free_stream), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(free_stream));
}

TEST(the_legacy_stream_is_one_handle) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream legacy = gpuexec_stream_legacy(ctx);
    CHECK_MADE(legacy);
    CHECK_EQ(gpuexec_stream_legacy(ctx).id, legacy.id);
    CHECK_EQ((uintptr_t)gpuexec_stream_native(legacy), 1); /* CU_STREAM_LEGACY */
    CHECK(gpuexec_stream_destroy(legacy) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "legacy");
    gpuexec_take_error();
    CHECK_MADE(legacy);
    CHECK_OK(gpuexec_stream_sync(legacy));
}

/* a -> event -> b, the classic case of two streams. */
TEST(a_stream_waits_for_an_event_of_another) {
    setting s = begin();
    gpuexec_stream a = make_stream(s.ctx, 1, 0), b = make_stream(s.ctx, 1, 0);
    gpuexec_event done = gpuexec_event_create(s.ctx, NULL);
    gate_close(s.gate, a);
    CHECK_OK(add_to(&s, a, 10));
    CHECK_OK(gpuexec_event_record(done, a));
    CHECK_OK(gpuexec_stream_wait_event(b, done));
    CHECK_OK(gpuexec_copy_out(b, s.host, s.data, BYTES));
    test_sleep_ms(10); /* not order: it could be done too early */
    CHECK_EQ(s.host[0], 0);
    CHECK_RESULT(gpuexec_stream_query(b), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_EQ(s.host[0], 10);
    CHECK_EQ(s.host[WORDS - 1], 10);
}

/* The wait applies to the last record before it was enqueued: a later record does not count. */
TEST(waiting_for_an_event_means_its_last_record) {
    setting s = begin();
    gpuexec_stream a = make_stream(s.ctx, 1, 0), b = make_stream(s.ctx, 1, 0);
    gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
    CHECK_OK(gpuexec_stream_wait_event(b, e)); /* never recorded: no wait */
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_OK(gpuexec_event_record(e, a));
    CHECK_OK(gpuexec_stream_wait_event(b, e));
    gate_close(s.gate, a);
    CHECK_OK(gpuexec_event_record(e, a));
    CHECK_OK(gpuexec_stream_sync(b)); /* it would otherwise hang */
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(a));
}

TEST(adopting_a_native_stream) {
    setting s = begin();
    gpuexec_stream own = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_stream adopted = gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(own));
    gpuexec_stream legacy = gpuexec_stream_from_native(s.ctx, NULL);
    CHECK_MADE(adopted);
    CHECK(adopted.id != own.id);
    CHECK(gpuexec_stream_native(adopted) == gpuexec_stream_native(own));
    gate_close(s.gate, own);
    CHECK_RESULT(gpuexec_stream_query(adopted), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(adopted));
    CHECK_OK(gpuexec_stream_destroy(adopted));
    CHECK(!gpuexec_ok(adopted));
    CHECK_OK(add_to(&s, own, 1)); /* the stream itself stays valid */
    CHECK_OK(gpuexec_stream_sync(own));
    CHECK_MADE(legacy);
    CHECK_EQ((uintptr_t)gpuexec_stream_native(legacy), 1);
    CHECK_OK(add_to(&s, legacy, 1));
    CHECK_OK(gpuexec_stream_sync(legacy));
}

/* Destroying a stream closes the handle; the work still runs. */
TEST(destroying_a_busy_stream) {
    setting s = begin();
    gpuexec_stream stream = make_stream(s.ctx, 1, 0);
    gate_close(s.gate, stream);
    CHECK_OK(add_to(&s, stream, 11));
    CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_destroy(stream));
    CHECK(!gpuexec_ok(stream));
    gate_open(s.gate);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_EQ(s.host[0], 11);
}

TEST(context_sync_waits_for_all_streams) {
    setting s = begin();
    gpuexec_stream a = make_stream(s.ctx, 1, 0), b = gpuexec_stream_create(s.ctx, NULL);
    setting of_b = s; /* its memory: the streams are not ordered */
    uint32_t i;
    of_b.data = gpuexec_alloc(s.ctx, BYTES);
    CHECK_OK(gpuexec_fill_now(s.ctx, of_b.data, 0, 1, BYTES));
    for (i = 0; i < 20; i++) {
        CHECK_OK(add_to(&s, a, 1));
        CHECK_OK(add_to(&of_b, b, 2));
    }
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_OK(gpuexec_stream_query(a));
    CHECK_OK(gpuexec_stream_query(b));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host, s.data, BYTES));
    CHECK_EQ(s.host[WORDS - 1], 20);
    CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host, of_b.data, BYTES));
    CHECK_EQ(s.host[WORDS - 1], 40);
}

/* Handles of many streams stay distinct, also when their slots are reused. */
TEST(many_streams) {
    enum { count = 100 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream first[count], second[count];
    int i;
    for (i = 0; i < count; i++) {
        first[i] = gpuexec_stream_create(ctx, NULL);
        CHECK_MADE(first[i]);
    }
    for (i = 0; i < count; i++) CHECK_OK(gpuexec_stream_destroy(first[i]));
    for (i = 0; i < count; i++) {
        second[i] = gpuexec_stream_create(ctx, NULL);
        CHECK_MADE(second[i]);
    }
    for (i = 0; i < count; i++) CHECK(!gpuexec_ok(first[i]) && gpuexec_ok(second[i]));
}

/* ---- waits between streams, host functions, priorities ---- */

TEST(a_stream_waits_for_another) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream_desc own = { 0 };
    gpuexec_stream a, b;
    gpuexec_ptr p = gpuexec_alloc(ctx, 8 << 20), q = gpuexec_alloc(ctx, 8 << 20);
    uint32_t got = 0;
    int i;
    own.non_blocking = 1;
    a = gpuexec_stream_create(ctx, &own), b = gpuexec_stream_create(ctx, &own);
    gpuexec_fill_now(ctx, q, 0, 1, 8 << 20);
    for (i = 0; i < 20; i++) gpuexec_fill(a, p, (uint32_t)i, 4, 2 << 20);
    CHECK_OK(gpuexec_stream_wait_stream(b, a));
    CHECK_OK(gpuexec_copy(b, q, p, 8 << 20)); /* sees the last fill, without a wait on the host */
    CHECK_OK(gpuexec_copy_out(b, &got, q + (8 << 20) - 4, 4));
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_EQ(got, 19);
    CHECK_OK(gpuexec_stream_wait_stream(gpuexec_stream_legacy(ctx), b));
    CHECK_OK(gpuexec_stream_sync(gpuexec_stream_legacy(ctx)));
    CHECK_REFUSED(gpuexec_stream_wait_stream(a, (gpuexec_stream){ 0 }), GPUEXEC_BAD_HANDLE,
            "the other stream");
}

/* After a warm-up, the only driver calls are the record and the wait. */
static char calls[4000];
static void keep_calls(void *user, gpuexec_log_level level, const char *text) {
    const char *name = strstr(text, "cu");
    size_t n = strlen(calls);
    (void)user;
    if (level != GPUEXEC_LOG_TRACE || !name) return;
    snprintf(calls + n, sizeof calls - n, "%.*s ", (int)strcspn(name, " ("), name);
}
TEST(waiting_for_a_stream_makes_no_event_each_time) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx[2], current = { 0 };
    gpuexec_stream a, b, other;
    int i;
    desc.trace = 1;
    desc.log = keep_calls;
    CHECK_OK(gpuexec_setup(&desc));
    ctx[0] = gpuexec_context_open(0, NULL);
    ctx[1] = gpuexec_context_create(0, NULL); /* like that of another device */
    a = gpuexec_stream_create(ctx[0], NULL);
    b = gpuexec_stream_create(ctx[0], NULL);
    other = gpuexec_stream_create(ctx[1], NULL);
    calls[0] = 0;
    CHECK_OK(gpuexec_stream_wait_stream(a, b));
    CHECK_OK(gpuexec_stream_wait_stream(b, other));
    CHECK_TEXT(calls, "cuEventCreate", "cuCtxPushCurrent"); /* the first event of each context */
    for (i = 0; i < 3; i++) {
        if (i == 1) {
            CHECK_OK(gpuexec_context_push(ctx[1]));
            current = ctx[1];
        }
        calls[0] = 0;
        CHECK_OK(gpuexec_stream_wait_stream(a, b));
        CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
        calls[0] = 0;
        CHECK_OK(gpuexec_stream_wait_stream(other, a));
        CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
        calls[0] = 0;
        CHECK_OK(gpuexec_stream_wait_stream(a, other));
        CHECK_STRING(calls, "cuEventRecord cuStreamWaitEvent ");
        if (current.id) {
            CHECK_OK(gpuexec_context_pop(current));
            current.id = 0;
        }
    }
    CHECK_OK(gpuexec_stream_wait_stream(a, gpuexec_stream_legacy(ctx[1])));
    CHECK_OK(gpuexec_stream_sync(a));
    calls[0] = 0;
    CHECK_OK(gpuexec_context_close(ctx[1]));
    CHECK_TEXT(calls, "cuEventDestroy");
    CHECK_OK(gpuexec_stream_wait_stream(a, b));
    CHECK_OK(gpuexec_stream_sync(a));
}

/* Host functions: in order with the work around them, each with its own pointer; later work waits
   for them. */
typedef struct note {
    uint32_t *host;
    uint32_t seen;
    int order;
} note;
static int notes; /* only the functions of one stream write it */
static void take_note(void *user) {
    note *n = (note *)user;
    test_sleep_ms(2); /* not order: holds the stream for that time */
    n->seen = n->host[0];
    n->order = ++notes;
}

TEST(functions_of_the_host) {
    enum { count = 20 };
    setting s = begin();
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL);
    note n[count];
    int i;
    notes = 0;
    for (i = 0; i < count; i++) {
        n[i] = (note){ s.host, 0, 0 };
        CHECK_OK(add_to(&s, stream, 1));
        CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
        CHECK_OK(gpuexec_stream_host_function(stream, take_note, &n[i]));
    }
    CHECK_OK(gpuexec_stream_sync(stream));
    for (i = 0; i < count; i++) {
        CHECK_EQ(n[i].order, i + 1);
        /* the copy before it had finished, the one after it had not started */
        CHECK_EQ(n[i].seen, i + 1);
    }
    CHECK_REFUSED(gpuexec_stream_host_function(stream, NULL, n), GPUEXEC_BAD_ARGUMENT,
            "the function is NULL");
}

/* Every requested priority is read back as the nearest one in the context's range. */
TEST(priorities_are_clamped_and_read_back) {
    static const int requested[] = { -1000000, -3, -1, 0, 1, 1000000 };
    setting s = begin();
    int least = 99, greatest = 99;
    size_t i;
    CHECK_OK(gpuexec_context_get_priorities(s.ctx, &least, &greatest));
    for (i = 0; i < sizeof requested / sizeof requested[0]; i++) {
        gpuexec_stream stream = make_stream(s.ctx, (int)i & 1, requested[i]);
        gpuexec_stream_info info;
        CHECK_OK(gpuexec_stream_get_info(stream, &info));
        CHECK_EQ(info.priority,
                requested[i] < greatest        ? greatest
                        : requested[i] > least ? least
                                               : requested[i]);
        CHECK_EQ(info.non_blocking, i & 1);
        CHECK_EQ(info.device, 0);
        CHECK_EQ(info.adopted, 0);
        CHECK_OK(add_to(&s, stream, 1));
        CHECK_OK(gpuexec_stream_sync(stream));
    }
    CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host, s.data, BYTES));
    CHECK_EQ(s.host[0], i);
}

TEST(what_a_stream_is) {
    setting s = begin();
    gpuexec_stream own = make_stream(s.ctx, 1, 0);
    gpuexec_stream_info info;
    CHECK_OK(gpuexec_stream_get_info(
            gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(own)), &info));
    CHECK(info.non_blocking && info.adopted);
    CHECK_OK(gpuexec_stream_get_info(gpuexec_stream_legacy(s.ctx), &info));
    CHECK(!info.non_blocking && info.adopted && info.priority == 0);
    CHECK_RESULT(gpuexec_stream_get_info(own, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "\"info\" is NULL");
    gpuexec_stream_destroy(own);
    CHECK_RESULT(gpuexec_stream_get_info(own, &info), GPUEXEC_STALE_HANDLE);
    CHECK_EQ(info.device, 0); /* no value of an earlier query remains */
    CHECK_OK(gpuexec_take_error());
}

static int attribute(int which) {
    int value = 0;
    CHECK_OK(gpuexec_device_get_attribute(0, which, &value));
    return value;
}

/* Each kind of stream returns the attributes that were set, and its work still runs. */
TEST(attributes_of_a_stream) {
    setting s = begin();
    gpuexec_stream streams[3];
    gpuexec_stream_attributes a, was;
    int i, domains = gpuexec_driver_version() >= 12000 && attribute(126) > 1,
           windows = attribute(109) > 0;
    streams[0] = make_stream(s.ctx, 1, -1);
    streams[1] = gpuexec_stream_legacy(s.ctx);
    streams[2] = gpuexec_stream_per_thread(s.ctx);
    for (i = 0; i < 3; i++) {
        CHECK_OK(gpuexec_stream_get_attributes(streams[i], &was));
        CHECK(was.has_window && !was.window.bytes);
        CHECK_EQ(was.wait_policy, GPUEXEC_WAIT_AUTO);
        CHECK(was.has_priority && was.priority == -!i);
        memset(&a, 0, sizeof a);
        if (windows) {
            a.has_window = 1;
            a.window.address = s.data;
            a.window.bytes = BYTES;
            a.window.hit_ratio = 0.25f;
            a.window.hit = GPUEXEC_ACCESS_PERSISTING;
            a.window.miss = GPUEXEC_ACCESS_STREAMING;
        }
        a.wait_policy = GPUEXEC_WAIT_BLOCK;
        if (domains) {
            a.has_memory_sync_domain = a.memory_sync_domain = 1;
            a.has_memory_sync_map = 1;
            a.memory_sync_map[0] = 1;
        }
        CHECK_OK(gpuexec_stream_set_attributes(streams[i], &a));
        CHECK_OK(add_to(&s, streams[i], 1));
        CHECK_OK(gpuexec_stream_get_attributes(streams[i], &a));
        if (windows)
            CHECK(a.window.address == s.data && a.window.bytes == BYTES &&
                    a.window.hit_ratio > 0.2f && a.window.hit_ratio < 0.3f &&
                    a.window.hit == GPUEXEC_ACCESS_PERSISTING &&
                    a.window.miss == GPUEXEC_ACCESS_STREAMING);
        CHECK_EQ(a.wait_policy, GPUEXEC_WAIT_BLOCK);
        if (domains)
            CHECK(a.memory_sync_domain == 1 && a.memory_sync_map[0] == 1 &&
                    a.memory_sync_map[1] == 0);
        CHECK_OK(gpuexec_stream_set_attributes(streams[i], &was)); /* as it was */
        CHECK_OK(gpuexec_stream_get_attributes(streams[i], &a));
        CHECK(!a.window.bytes && a.wait_policy == GPUEXEC_WAIT_AUTO && !a.memory_sync_domain);
        CHECK_OK(gpuexec_stream_sync(streams[i]));
    }
    CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host, s.data, BYTES));
    CHECK_EQ(s.host[WORDS - 1], 3);
    memset(&a, 0, sizeof a);
    a.has_priority = 1;
    CHECK_OK(gpuexec_stream_set_attributes(streams[0], &a));
    CHECK_OK(gpuexec_stream_get_attributes(streams[0], &a));
    CHECK_EQ(a.priority, 0);
}

TEST(wrong_attributes_of_a_stream) {
    setting s = begin();
    gpuexec_stream stream = make_stream(s.ctx, 1, 0), gone = make_stream(s.ctx, 1, 0);
    gpuexec_stream_attributes a = { 0 }, dirty;
    memset(&dirty, 0xff, sizeof dirty);
    CHECK_REFUSED(gpuexec_stream_set_attributes(stream, NULL), GPUEXEC_BAD_ARGUMENT,
            "\"attributes\" is NULL");
    CHECK_REFUSED(gpuexec_stream_set_attributes(stream, &dirty), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_stream_attributes was not zero-initialized");
    CHECK_FAILED(gpuexec_stream_get_attributes(stream, NULL), GPUEXEC_BAD_ARGUMENT,
            "\"attributes\" is NULL");
    CHECK_OK(gpuexec_stream_destroy(gone));
    CHECK_REFUSED(gpuexec_stream_set_attributes(gone, &a), GPUEXEC_STALE_HANDLE, "the stream");
    CHECK_FAILED(gpuexec_stream_get_attributes(gone, &a), GPUEXEC_STALE_HANDLE, "the stream");
    a.wait_policy = (gpuexec_wait_policy)5;
    CHECK_REFUSED(gpuexec_stream_set_attributes(stream, &a), GPUEXEC_BAD_ARGUMENT,
            "5 is not a gpuexec_wait_policy", "GPUEXEC_WAIT_BLOCK (4)");
    /* nothing is set if one of them is wrong */
    a.wait_policy = GPUEXEC_WAIT_SPIN;
    a.has_window = 1;
    a.window.bytes = 16;
    CHECK_REFUSED(
            gpuexec_stream_set_attributes(stream, &a), GPUEXEC_BAD_ARGUMENT, "window.address is 0");
    a.has_window = 0;
    a.window.bytes = 0;
    if (gpuexec_driver_version() >= 12000) {
        a.has_memory_sync_domain = 1;
        a.memory_sync_domain = 2;
        CHECK_REFUSED(gpuexec_stream_set_attributes(stream, &a), GPUEXEC_BAD_ARGUMENT,
                "memory_sync_domain is 2", "1 (the remote domain)");
    }
    CHECK_OK(gpuexec_stream_get_attributes(stream, &a));
    CHECK_EQ(a.wait_policy, GPUEXEC_WAIT_AUTO);
}

TEST_ALONE(attributes_of_a_stream_that_the_driver_refuses) {
    gpuexec_stream_attributes a = { 0 };
    setting s;
    setenv("SIMGPU_FAIL", "cuStreamSetAttribute:2:1,cuStreamGetAttribute:2:999", 1);
    setenv("SIMGPU_DRIVER_VERSION", "11080", 1);
    if (gpuexec_driver_version() >= 12000) SKIP("needs the CPU device");
    s = begin();
    a.wait_policy = GPUEXEC_WAIT_YIELD;
    a.has_priority = 1;
    CHECK_REFUSED(gpuexec_stream_set_attributes(s.stream, &a), GPUEXEC_BAD_ARGUMENT,
            "cannot set priority of a stream of device 0", "cuStreamSetAttribute");
    CHECK_FAILED(gpuexec_stream_get_attributes(s.stream, &a), GPUEXEC_DRIVER_ERROR,
            "cannot query wait_policy of a stream of device 0");
    memset(&a, 0, sizeof a);
    a.has_memory_sync_map = 1;
    CHECK_REFUSED(gpuexec_stream_set_attributes(s.stream, &a), GPUEXEC_OLD_DRIVER,
            "memory-synchronization domains", "CUDA 12.0", "CUDA 11.8");
}

/* ---- the per-thread default stream ---- */

typedef struct worker {
    setting *s;
    gpuexec_stream stream;
    uint32_t got;
} worker;
/* while another thread's stream is held at the gate */
static void *works_on_its_own_stream(void *arg) {
    worker *w = (worker *)arg;
    CHECK_OK(gpuexec_stream_query(w->stream));
    CHECK_OK(add_to(w->s, w->stream, 3));
    CHECK_OK(gpuexec_copy_out(w->stream, w->s->host, w->s->data, BYTES));
    CHECK_OK(gpuexec_stream_sync(w->stream));
    w->got = w->s->host[0];
    return NULL;
}

TEST(the_per_thread_stream) {
    setting s = begin();
    gpuexec_stream stream = gpuexec_stream_per_thread(s.ctx), legacy = gpuexec_stream_legacy(s.ctx);
    gpuexec_stream_info info;
    pthread_t thread;
    worker w;
    CHECK_MADE(stream);
    CHECK(stream.id != legacy.id);
    CHECK_EQ(gpuexec_stream_per_thread(s.ctx).id, stream.id);
    CHECK_EQ(gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(stream)).id, stream.id);
    CHECK_EQ((uintptr_t)gpuexec_stream_native(stream), 2); /* CU_STREAM_PER_THREAD */
    CHECK_OK(gpuexec_stream_get_info(stream, &info));
    CHECK(!info.non_blocking && info.adopted);
    gate_close(s.gate, stream); /* this thread's */
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    w = (worker){ &s, stream, 0 };
    CHECK_EQ(pthread_create(&thread, NULL, works_on_its_own_stream, &w), 0);
    pthread_join(thread, NULL); /* would hang on the same stream */
    CHECK_EQ(w.got, 3);
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    CHECK_OK(add_to(&s, legacy, 4)); /* the legacy stream waits for it */
    CHECK_RESULT(gpuexec_stream_query(legacy), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(legacy));
    CHECK_OK(gpuexec_stream_query(stream));
    CHECK_RESULT(gpuexec_stream_destroy(stream), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "cannot destroy the per-thread stream");
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK(!gpuexec_ok(stream));
}

/* It works with everything: events, waits, copies, fills, host functions. */
TEST(work_on_the_per_thread_stream) {
    setting s = begin();
    gpuexec_stream stream = gpuexec_stream_per_thread(s.ctx), other = make_stream(s.ctx, 1, 0);
    gpuexec_event e;
    note n = { s.host, 0, 0 };
    CHECK_OK(gpuexec_fill(stream, s.data, 0, 1, BYTES));
    CHECK_OK(add_to(&s, stream, 6));
    e = gpuexec_stream_record(stream, NULL);
    CHECK_OK(gpuexec_stream_wait_event(other, e));
    CHECK_OK(add_to(&s, other, 1));
    CHECK_OK(gpuexec_stream_wait_stream(stream, other));
    CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_host_function(stream, take_note, &n));
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_EQ(n.seen, 7);
}

/* ---- the busy kernel: repeats x = a x + c ---- */

/* Destroyed in the middle of its work: all of it completes, including the copy after it. */
TEST(destroying_a_stream_in_the_middle_of_a_kernel) {
    enum { n = 4096, rounds = 2000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel busy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, "kernels/busy.ptx", NULL), "busy");
    gpuexec_ptr p = gpuexec_alloc(ctx, n * sizeof(uint32_t));
    uint32_t *h = (uint32_t *)gpuexec_alloc_pinned(ctx, n * sizeof *h), a = 1664525, c = 1013904223,
             m = 1, d = 0;
    int count = n, times = rounds, i, wrong = 0;
    gpuexec_stream stream = make_stream(ctx, 1, 0);
    for (i = 0; i < n; i++) h[i] = (uint32_t)i;
    CHECK_OK(gpuexec_copy_in(stream, p, h, n * sizeof *h));
    CHECK_OK(gpuexec_launch(
            busy, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, count, a, c, times)));
    CHECK_OK(gpuexec_copy_out(stream, h, p, n * sizeof *h));
    CHECK_OK(gpuexec_stream_destroy(stream));
    CHECK_RESULT(gpuexec_stream_sync(stream), GPUEXEC_STALE_HANDLE);
    gpuexec_take_error();
    CHECK_OK(gpuexec_context_sync(ctx));
    for (i = 0; i < rounds; i++) {
        m *= a;
        d = a * d + c;
    }
    for (i = 0; i < n; i++) wrong += h[i] != m * (uint32_t)i + d;
    CHECK_EQ(wrong, 0);
}

/* ---- streams of two devices ---- */

TEST_ALONE_MULTI(streams_of_two_devices_wait_for_each_other) {
    gpuexec_context c[2];
    gpuexec_stream s[2];
    gpuexec_kernel fn[2];
    gpuexec_ptr p[2];
    gpuexec_event e;
    test_gate gate;
    uint32_t *h, n = WORDS, by[2] = { 40, 2 };
    int i, k;
    setenv("SIMGPU_DEVICES", "2", 1);
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    for (i = 0; i < 2; i++) {
        gpuexec_module mod;
        c[i] = gpuexec_context_open(i, NULL);
        mod = gpuexec_module_load_file(c[i], UNIT_PTX, NULL);
        fn[i] = gpuexec_kernel_get(mod, "add");
        s[i] = make_stream(c[i], 1, 0);
        p[i] = gpuexec_alloc(c[i], BYTES);
        if (i == 0) gate = gate_make(c[0], mod);
    }
    h = (uint32_t *)gpuexec_alloc_pinned(c[0], BYTES);
    /* via pinned memory: device 0 writes, device 1 reads; after an event, then a stream */
    for (k = 0; k < 2; k++) {
        memset(h, 0, BYTES);
        gate.word[0] = 0;
        gate_close(gate, s[0]);
        CHECK_OK(gpuexec_fill(s[0], p[0], 0, 1, BYTES));
        CHECK_OK(gpuexec_launch(
                fn[0], s[0], gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p[0], by[0], n)));
        CHECK_OK(gpuexec_copy_out(s[0], h, p[0], BYTES));
        if (k) CHECK_OK(gpuexec_stream_wait_stream(s[1], s[0]));
        else {
            e = gpuexec_stream_record(s[0], NULL);
            CHECK_OK(gpuexec_stream_wait_event(s[1], e));
            CHECK_OK(gpuexec_event_destroy(e)); /* the wait remains enqueued */
        }
        CHECK_OK(gpuexec_copy_in(s[1], p[1], h, BYTES));
        CHECK_OK(gpuexec_launch(
                fn[1], s[1], gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p[1], by[1], n)));
        test_sleep_ms(5); /* not order: it could be done too early */
        CHECK_RESULT(gpuexec_stream_query(s[1]), GPUEXEC_NOT_READY);
        gate_open(gate);
        CHECK_OK(gpuexec_copy_out(s[1], h, p[1], BYTES));
        CHECK_OK(gpuexec_stream_sync(s[1]));
        CHECK_EQ(h[WORDS - 1], 42);
    }
}

/* --- values in memory ------------------------------------------------------------------------- */

/* Waits for the stream until it has finished, with a limit: 1 if it has finished. */
static int finishes(gpuexec_stream stream) {
    TEST_UNTIL(gpuexec_stream_query(stream) != GPUEXEC_NOT_READY);
    return gpuexec_stream_query(stream) == GPUEXEC_OK;
}

/* Each comparison: the stream waits as long as it is false, and goes on once another stream writes
   a value for which it is true. */
TEST(a_stream_waits_for_a_value) {
    static const struct {
        gpuexec_compare compare;
        unsigned long long value, no, yes;
    } cases[] = {
        { GPUEXEC_EQUAL, 7, 6, 7 },
        { GPUEXEC_GREATER_EQUAL, 7, 6, 9 },
        { GPUEXEC_GREATER_EQUAL, 1, 0xfffffffe, 1 },
        { GPUEXEC_AND, 4, 3, 12 },
        { GPUEXEC_NOR, 0xfffffff0, 0x0f, 0x07 },
    };
    setting s = begin();
    gpuexec_stream writes = gpuexec_stream_create(s.ctx, NULL),
                   waits = gpuexec_stream_create(s.ctx, NULL);
    unsigned i, wide;
    if (gpuexec_driver_version() < 11070) {
        CHECK_REFUSED(gpuexec_stream_wait_value32(waits, s.data, 1, GPUEXEC_EQUAL),
                GPUEXEC_OLD_DRIVER, "11.7");
        CHECK_REFUSED(gpuexec_stream_write_value64(waits, s.data, 1), GPUEXEC_OLD_DRIVER, "11.7");
        SKIP("values on streams need a driver of CUDA 11.7; the refusal was tested");
    }
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        for (wide = 0; wide < 2; wide++) {
            unsigned long long high = wide ? 0xffffffff00000000ull : 0;
            unsigned long long value = cases[i].value, no = cases[i].no, yes = cases[i].yes;
            if (cases[i].compare == GPUEXEC_NOR || no > 0xffff)
                value |= no > 0xffff ? 0 : high, no |= high;
            if (cases[i].compare == GPUEXEC_NOR) yes |= high;
            CHECK_OK(wide ? gpuexec_stream_write_value64(writes, s.data, no)
                          : gpuexec_stream_write_value32(writes, s.data, (unsigned)no));
            CHECK_OK(gpuexec_stream_sync(writes));
            CHECK_OK(wide ? gpuexec_stream_wait_value64(waits, s.data, value, cases[i].compare)
                          : gpuexec_stream_wait_value32(
                                    waits, s.data, (unsigned)value, cases[i].compare));
            test_sleep_ms(5); /* not order: it could be done too early */
            CHECK_RESULT(gpuexec_stream_query(waits), GPUEXEC_NOT_READY);
            CHECK_OK(wide ? gpuexec_stream_write_value64(writes, s.data, yes)
                          : gpuexec_stream_write_value32(writes, s.data, (unsigned)yes));
            if (!CHECK(finishes(waits))) return;
        }
}

/* A write comes after the work before it, and the host can release a stream through pinned
   memory. */
TEST(values_order_streams_and_the_host) {
    setting s = begin();
    gpuexec_stream a = gpuexec_stream_create(s.ctx, NULL), b = gpuexec_stream_create(s.ctx, NULL);
    volatile uint32_t *flag = (volatile uint32_t *)gpuexec_alloc_pinned(s.ctx, 64);
    gpuexec_ptr device_flag = gpuexec_pinned_address((void *)(uintptr_t)flag);
    uint32_t round;
    if (gpuexec_driver_version() < 11070) SKIP("values on streams need a driver of CUDA 11.7");
    flag[0] = flag[1] = 0;
    for (round = 1; round <= 50; round++) { /* a adds, then b copies, then a goes on */
        CHECK_OK(add_to(&s, a, 1));
        CHECK_OK(gpuexec_stream_write_value32(a, device_flag, round));
        CHECK_OK(gpuexec_stream_wait_value32(b, device_flag, round, GPUEXEC_GREATER_EQUAL));
        CHECK_OK(gpuexec_copy_out(b, s.host, s.data, BYTES));
        CHECK_OK(gpuexec_stream_write_value32(b, device_flag + 4, round));
        CHECK_OK(gpuexec_stream_wait_value32(a, device_flag + 4, round, GPUEXEC_EQUAL));
        CHECK_OK(gpuexec_stream_sync(b));
        CHECK_EQ(s.host[0], round);
        CHECK_EQ(s.host[WORDS - 1], round);
    }
    CHECK_OK(gpuexec_stream_sync(a));
    CHECK_EQ(flag[0], 50);
    CHECK_OK(gpuexec_stream_wait_value32(a, device_flag + 8, 1234, GPUEXEC_EQUAL));
    CHECK_OK(add_to(&s, a, 1));
    test_sleep_ms(5); /* not order: it could be done too early */
    CHECK_RESULT(gpuexec_stream_query(a), GPUEXEC_NOT_READY);
    __atomic_store_n(&flag[2], 1234, __ATOMIC_RELEASE); /* by the host */
    CHECK(finishes(a));
}

TEST(wrong_values) {
    setting s = begin();
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL), none = { 0 };
    int local = 0;
    if (gpuexec_driver_version() < 11070) SKIP("values on streams need a driver of CUDA 11.7");
    CHECK_REFUSED(gpuexec_stream_wait_value32(none, s.data, 1, GPUEXEC_EQUAL), GPUEXEC_BAD_HANDLE,
            "the stream");
    CHECK_REFUSED(gpuexec_stream_wait_value32(stream, 0, 1, GPUEXEC_EQUAL), GPUEXEC_BAD_ARGUMENT,
            "address is 0");
    CHECK_REFUSED(gpuexec_stream_wait_value32(stream, s.data + 2, 1, GPUEXEC_EQUAL),
            GPUEXEC_BAD_ARGUMENT, "not a multiple of 4");
    CHECK_REFUSED(gpuexec_stream_write_value64(stream, s.data + 4, 1), GPUEXEC_BAD_ARGUMENT,
            "not a multiple of 8");
    CHECK_REFUSED(gpuexec_stream_wait_value64(stream, s.data, 1, (gpuexec_compare)4),
            GPUEXEC_BAD_ARGUMENT, "4", "GPUEXEC_NOR");
    CHECK_REFUSED(gpuexec_stream_write_value32(stream, (gpuexec_ptr)(uintptr_t)&local, 1),
            GPUEXEC_BAD_ARGUMENT, "0x", "cuStreamWriteValue32");
    CHECK_CURE();
    CHECK_OK(gpuexec_stream_sync(stream));
}
