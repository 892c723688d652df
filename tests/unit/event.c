/* event.c - points in streams: order and time. */
#include "../test.h"

#define UNIT_PTX "tests/unit/unit.ptx"

typedef struct setting { gpuexec_context ctx; gpuexec_kernel count; test_gate gate; gpuexec_stream stream; gpuexec_event a, b; gpuexec_ptr data; } setting;

static setting set_up(void) {
    setting s;
    gpuexec_module mod;
    s.ctx    = gpuexec_context_open(0, NULL);
    mod      = gpuexec_module_load_file(s.ctx, UNIT_PTX, NULL);
    s.count  = gpuexec_kernel_get(mod, "count");
    s.gate   = gate_make(s.ctx, mod);
    s.stream = gpuexec_stream_create(s.ctx, NULL);
    s.a      = gpuexec_event_create(s.ctx, NULL);
    s.b      = gpuexec_event_create(s.ctx, NULL);
    s.data   = gpuexec_alloc(s.ctx, 4);
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4));
    return s;
}

TEST(an_event_is_reached_when_the_work_before_it_is_done) {
    setting s = set_up();
    CHECK_OK(gpuexec_event_query(s.a));                          /* never recorded: nothing to wait for */
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a));                           /* before the gate */
    CHECK_OK(gpuexec_event_query(s.a));
    CHECK_RESULT(gpuexec_event_query(s.b), GPUEXEC_NOT_READY);   /* behind it */
    CHECK_OK(gpuexec_take_error());
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.b));
    CHECK_OK(gpuexec_event_query(s.b));
}

/* The gate is open after 30 ms of the host's clock; the events saw that on the device's. */
TEST(elapsed_time) {
    setting s = set_up();
    double begin, host_ms, device_ms;
    begin = test_seconds();
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a));
    test_sleep_ms(30);
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.b));
    host_ms = (test_seconds() - begin) * 1e3;
    device_ms = gpuexec_event_elapsed_ms(s.a, s.b);
    CHECK(device_ms >= 25);
    CHECK(device_ms <= host_ms + 1);
    CHECK(gpuexec_event_elapsed_ms(s.b, s.a) < 0);
    CHECK_EQ(gpuexec_event_elapsed_ms(s.a, s.a), 0);
    CHECK_OK(gpuexec_take_error());
}

TEST(time_of_a_kernel) {
    setting s = set_up();
    double  small, large;
    uint32_t word = 0;
    gpuexec_event_record(s.a, s.stream);
    gpuexec_launch(s.count, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data));
    gpuexec_event_record(s.b, s.stream);
    CHECK_OK(gpuexec_event_sync(s.b));
    small = gpuexec_event_elapsed_ms(s.a, s.b);
    gpuexec_event_record(s.a, s.stream);
    gpuexec_launch(s.count, s.stream, gpuexec_grid(10000, 256, 0), GPUEXEC_ARGS(s.data));
    gpuexec_event_record(s.b, s.stream);
    CHECK_OK(gpuexec_event_sync(s.b));
    large = gpuexec_event_elapsed_ms(s.a, s.b);
    CHECK(small >= 0 && large > 0);
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 32 + 10000 * 256);
}

/* What cannot be told is negative, and the text says why; nothing is latched. */
TEST(elapsed_time_that_cannot_be_told) {
    setting s = set_up();
    gpuexec_event_desc desc = { 0 };
    gpuexec_event untimed;
    desc.no_timing = 1;
    untimed = gpuexec_event_create(s.ctx, &desc);
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_event_elapsed_ms", "record");
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0);               /* one of both */
    CHECK_TEXT(gpuexec_error_text(), "record");
    CHECK_OK(gpuexec_event_record(untimed, s.stream));
    CHECK_OK(gpuexec_event_sync(untimed));
    CHECK(gpuexec_event_elapsed_ms(s.a, untimed) < 0);
    CHECK_TEXT(gpuexec_error_text(), "no_timing");
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0);               /* not reached yet */
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_event_sync");
    CHECK_OK(gpuexec_take_error());
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.b));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) >= 0);
}

TEST(events_that_sleep_and_events_without_time) {
    setting s = set_up();
    gpuexec_event_desc desc = { 0 };
    gpuexec_event e;
    uint32_t word = 0;
    desc.no_timing = 1;
    desc.blocking_sync = 1;
    e = gpuexec_event_create(s.ctx, &desc);
    CHECK_MADE(e);
    CHECK_OK(gpuexec_launch(s.count, s.stream, gpuexec_grid(100, 100, 0), GPUEXEC_ARGS(s.data)));
    CHECK_OK(gpuexec_event_record(e, s.stream));
    CHECK_OK(gpuexec_event_sync(e));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 10000);
}

/* A record replaces the one before. */
TEST(recording_again) {
    setting s = set_up();
    int i;
    for (i = 0; i < 5; i++) {
        CHECK_OK(gpuexec_event_record(s.a, s.stream));
        CHECK_OK(gpuexec_event_sync(s.a));
    }
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    CHECK_RESULT(gpuexec_event_query(s.a), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.a));
}

TEST(adopting_a_native_event) {
    setting s = set_up();
    gpuexec_event adopted = gpuexec_event_from_native(s.ctx, gpuexec_event_native(s.a));
    CHECK_MADE(adopted);
    CHECK(gpuexec_event_native(adopted) == gpuexec_event_native(s.a));
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(adopted, s.stream));
    CHECK_RESULT(gpuexec_event_query(s.a), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK_OK(gpuexec_event_destroy(adopted));
    CHECK(!gpuexec_ok(adopted));
    CHECK_OK(gpuexec_event_record(s.a, s.stream));               /* the event itself stays */
    CHECK_OK(gpuexec_event_sync(s.a));
}

TEST(destroying_an_event_that_is_waited_for) {
    setting s = set_up();
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    CHECK_OK(gpuexec_stream_wait_event(other, s.a));
    CHECK_OK(gpuexec_event_destroy(s.a));
    CHECK(gpuexec_event_native(s.a) == NULL);
    CHECK_RESULT(gpuexec_stream_query(other), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(other));
}
