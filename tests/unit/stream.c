/* stream.c - queues of work: order within one, overlap and waiting between several. */
#include "../test.h"

#define UNIT_PTX "tests/unit/unit.ptx"

typedef struct setting { gpuexec_context ctx; gpuexec_module mod; gpuexec_kernel add; test_gate gate; gpuexec_ptr data; uint32_t *host; } setting;
enum { WORDS = 512, BYTES = WORDS * 4 };

static setting set_up(void) {
    setting s;
    s.ctx  = gpuexec_context_open(0, NULL);
    s.mod  = gpuexec_module_load_file(s.ctx, UNIT_PTX, NULL);
    s.add  = gpuexec_kernel_get(s.mod, "add");
    s.gate = gate_make(s.ctx, s.mod);
    s.data = gpuexec_alloc(s.ctx, BYTES);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, BYTES));
    memset(s.host, 0, BYTES);
    return s;
}

static gpuexec_result add_to(const setting *s, gpuexec_stream stream, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(s->add, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s->data, by, n));
}

static gpuexec_stream make_stream(gpuexec_context ctx, int non_blocking, int priority) {
    gpuexec_stream_desc desc = { 0 };
    desc.non_blocking = non_blocking;
    desc.priority = priority;
    return gpuexec_stream_create(ctx, &desc);
}

TEST(a_stream_is_busy_until_its_work_is_done) {
    setting s = set_up();
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL);
    CHECK_OK(gpuexec_stream_query(stream));
    gate_close(s.gate, stream);
    CHECK_OK(add_to(&s, stream, 1));
    CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    test_sleep_ms(20);
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_take_error());                              /* "not ready" is an answer, not a failure */
    CHECK_EQ(s.host[0], 0);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_OK(gpuexec_stream_query(stream));
    CHECK_EQ(s.host[0], 1);
    CHECK_EQ(s.host[WORDS - 1], 1);
}

/* x = (x + 1) on the device, 500 times, each reading what the one before wrote. */
TEST(work_of_a_stream_runs_in_order) {
    setting s = set_up();
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL);
    uint32_t i;
    for (i = 0; i < 500; i++) CHECK_OK(add_to(&s, stream, i));
    CHECK_OK(gpuexec_copy_out(stream, s.host, s.data, BYTES));
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_EQ(s.host[0], 499 * 500 / 2);
    CHECK_EQ(s.host[WORDS - 1], 499 * 500 / 2);
}

/* While one stream is held at the gate another one works and finishes. */
TEST(streams_overlap) {
    setting s = set_up();
    gpuexec_stream held = gpuexec_stream_create(s.ctx, NULL), other = gpuexec_stream_create(s.ctx, NULL);
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
    setting s = set_up();
    gpuexec_stream legacy = gpuexec_stream_legacy(s.ctx), blocking = gpuexec_stream_create(s.ctx, NULL);
    gate_close(s.gate, blocking);
    CHECK_OK(add_to(&s, blocking, 2));
    CHECK_OK(add_to(&s, legacy, 3));
    CHECK_OK(gpuexec_copy_out(legacy, s.host, s.data, BYTES));
    test_sleep_ms(10);
    CHECK_RESULT(gpuexec_stream_query(legacy), GPUEXEC_NOT_READY);
    CHECK_EQ(s.host[0], 0);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(legacy));
    CHECK_EQ(s.host[0], 5);
}

TEST(a_non_blocking_stream_does_not_hold_the_legacy_one) {
    setting s = set_up();
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
    gpuexec_stream  legacy = gpuexec_stream_legacy(ctx);
    CHECK_MADE(legacy);
    CHECK_EQ(gpuexec_stream_legacy(ctx).id, legacy.id);
    CHECK_EQ((uintptr_t)gpuexec_stream_native(legacy), 1);       /* CU_STREAM_LEGACY */
    CHECK(gpuexec_stream_destroy(legacy) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "legacy");
    gpuexec_take_error();
    CHECK_MADE(legacy);
    CHECK_OK(gpuexec_stream_sync(legacy));
}

/* a -> event -> b, the classic of two streams. */
TEST(a_stream_waits_for_an_event_of_another) {
    setting s = set_up();
    gpuexec_stream a = make_stream(s.ctx, 1, 0), b = make_stream(s.ctx, 1, 0);
    gpuexec_event  done = gpuexec_event_create(s.ctx, NULL);
    gate_close(s.gate, a);
    CHECK_OK(add_to(&s, a, 10));
    CHECK_OK(gpuexec_event_record(done, a));
    CHECK_OK(gpuexec_stream_wait_event(b, done));
    CHECK_OK(gpuexec_copy_out(b, s.host, s.data, BYTES));
    test_sleep_ms(10);
    CHECK_RESULT(gpuexec_stream_query(b), GPUEXEC_NOT_READY);
    CHECK_EQ(s.host[0], 0);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_EQ(s.host[0], 10);
    CHECK_EQ(s.host[WORDS - 1], 10);
}

/* The wait is for the record that was last when it was queued: one made later does not count. */
TEST(waiting_for_an_event_means_its_last_record) {
    setting s = set_up();
    gpuexec_stream a = make_stream(s.ctx, 1, 0), b = make_stream(s.ctx, 1, 0);
    gpuexec_event  e = gpuexec_event_create(s.ctx, NULL);
    CHECK_OK(gpuexec_stream_wait_event(b, e));                   /* never recorded: no wait */
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_OK(gpuexec_event_record(e, a));
    CHECK_OK(gpuexec_stream_wait_event(b, e));
    gate_close(s.gate, a);
    CHECK_OK(gpuexec_event_record(e, a));
    CHECK_OK(gpuexec_stream_sync(b));                            /* would hang otherwise */
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(a));
}

TEST(priorities_are_clamped) {
    static const int priorities[] = { -1000000, -1, 0, 1, 1000000 };
    setting s = set_up();
    size_t i;
    for (i = 0; i < sizeof priorities / sizeof priorities[0]; i++) {
        gpuexec_stream stream = make_stream(s.ctx, (int)i & 1, priorities[i]);
        CHECK_MADE(stream);
        CHECK_OK(add_to(&s, stream, 1));
        CHECK_OK(gpuexec_stream_sync(stream));
    }
    CHECK_OK(gpuexec_copy_out_now(s.ctx, s.host, s.data, BYTES));
    CHECK_EQ(s.host[0], 5);
}

TEST(adopting_a_native_stream) {
    setting s = set_up();
    gpuexec_stream own = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_stream adopted = gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(own));
    gpuexec_stream legacy  = gpuexec_stream_from_native(s.ctx, NULL);
    CHECK_MADE(adopted);
    CHECK(adopted.id != own.id);
    CHECK(gpuexec_stream_native(adopted) == gpuexec_stream_native(own));
    gate_close(s.gate, own);
    CHECK_RESULT(gpuexec_stream_query(adopted), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(adopted));
    CHECK_OK(gpuexec_stream_destroy(adopted));
    CHECK(!gpuexec_ok(adopted));
    CHECK_OK(add_to(&s, own, 1));                                /* the stream itself stays */
    CHECK_OK(gpuexec_stream_sync(own));
    CHECK_MADE(legacy);
    CHECK_EQ((uintptr_t)gpuexec_stream_native(legacy), 1);
    CHECK_OK(add_to(&s, legacy, 1));
    CHECK_OK(gpuexec_stream_sync(legacy));
}

/* Destroying ends the handle; the work still runs. */
TEST(destroying_a_busy_stream) {
    setting s = set_up();
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
    setting s = set_up();
    gpuexec_stream a = make_stream(s.ctx, 1, 0), b = gpuexec_stream_create(s.ctx, NULL);
    uint32_t i;
    for (i = 0; i < 20; i++) { CHECK_OK(add_to(&s, a, 0)); CHECK_OK(add_to(&s, b, 0)); }
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_OK(gpuexec_stream_query(a));
    CHECK_OK(gpuexec_stream_query(b));
}

/* Handles of many streams stay apart, also when their slots are used again. */
TEST(many_streams) {
    enum { count = 100 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  first[count], second[count];
    int i;
    for (i = 0; i < count; i++) { first[i] = gpuexec_stream_create(ctx, NULL); CHECK_MADE(first[i]); }
    for (i = 0; i < count; i++) CHECK_OK(gpuexec_stream_destroy(first[i]));
    for (i = 0; i < count; i++) { second[i] = gpuexec_stream_create(ctx, NULL); CHECK_MADE(second[i]); }
    for (i = 0; i < count; i++) CHECK(!gpuexec_ok(first[i]) && gpuexec_ok(second[i]));
}

/* ---- one stream after another, functions of the host, priorities ---- */

TEST(a_stream_waits_for_another) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream_desc own = { 0 };
    gpuexec_stream  a, b;
    gpuexec_ptr     p = gpuexec_alloc(ctx, 8 << 20), q = gpuexec_alloc(ctx, 8 << 20);
    uint32_t        got = 0;
    int             i;
    own.non_blocking = 1;
    a = gpuexec_stream_create(ctx, &own), b = gpuexec_stream_create(ctx, &own);
    gpuexec_fill_now(ctx, q, 0, 8 << 20);
    for (i = 0; i < 20; i++) gpuexec_fill32(a, p, (uint32_t)i, 2 << 20);
    CHECK_OK(gpuexec_stream_wait_stream(b, a));
    CHECK_OK(gpuexec_copy(b, q, p, 8 << 20));                        /* sees the last fill, without the host waiting */
    CHECK_OK(gpuexec_copy_out(b, &got, q + (8 << 20) - 4, 4));
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_EQ(got, 19);
    CHECK_OK(gpuexec_stream_wait_stream(gpuexec_stream_legacy(ctx), b));
    CHECK_OK(gpuexec_stream_sync(gpuexec_stream_legacy(ctx)));
    CHECK_RESULT(gpuexec_stream_wait_stream(a, (gpuexec_stream){ 0 }), GPUEXEC_BAD_HANDLE);
    CHECK_TEXT(gpuexec_error_text(), "the other stream");
    gpuexec_take_error();
}

static int sequence[2], position;
static void note_one(void *user) { sequence[0] = ++position; *(int *)user = 11; }
static void note_two(void *user) { sequence[1] = ++position; *(int *)user += 1; }

TEST(functions_of_the_host) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p = gpuexec_alloc(ctx, 4096);
    int             value = 0;
    position = 0;
    gpuexec_fill(s, p, 1, 4096);
    CHECK_OK(gpuexec_stream_host_function(s, note_one, &value));
    CHECK_OK(gpuexec_stream_host_function(s, note_two, &value));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(value, 12);
    CHECK_EQ(sequence[0], 1);
    CHECK_EQ(sequence[1], 2);
    CHECK_RESULT(gpuexec_stream_host_function(s, NULL, &value), GPUEXEC_BAD_ARGUMENT);
    gpuexec_take_error();
}

TEST(priorities_are_clamped_and_read_back) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream_desc desc = { 0 };
    int plain = 99, high = 99;
    desc.priority = -1000;
    CHECK_OK(gpuexec_stream_get_priority(gpuexec_stream_create(ctx, NULL), &plain));
    CHECK_OK(gpuexec_stream_get_priority(gpuexec_stream_create(ctx, &desc), &high));
    CHECK_EQ(plain, 0);
    CHECK(high <= 0 && high > -1000);
    CHECK_RESULT(gpuexec_stream_get_priority(gpuexec_stream_create(ctx, NULL), NULL), GPUEXEC_BAD_ARGUMENT);
}
