/* event.c - events: order and time. */
#include "../../test.h"

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "count", 4);
    s.gate = gate_make(s.ctx, s.mod);
    s.a = gpuexec_event_create(s.ctx, NULL);
    s.b = gpuexec_event_create(s.ctx, NULL);
    return s;
}

TEST(an_event_is_reached_when_the_work_before_it_is_done) {
    setting s = begin();
    CHECK_OK(gpuexec_event_query(s.a)); /* never recorded: nothing to wait for */
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a)); /* before the gate */
    CHECK_OK(gpuexec_event_query(s.a));
    CHECK_RESULT(gpuexec_event_query(s.b), GPUEXEC_NOT_READY); /* after it */
    CHECK_OK(gpuexec_take_error());
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.b));
    CHECK_OK(gpuexec_event_query(s.b));
}

/* The gate is open after 30 ms of the host's clock; the events measure that on the device's. */
TEST(elapsed_time) {
    setting s = begin();
    double begin, host_ms, device_ms;
    begin = test_seconds();
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a));
    test_sleep_ms(30); /* not order: time for the events to measure */
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
    setting s = begin();
    double small, large;
    uint32_t word = 0;
    gpuexec_event_record(s.a, s.stream);
    gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data));
    gpuexec_event_record(s.b, s.stream);
    CHECK_OK(gpuexec_event_sync(s.b));
    small = gpuexec_event_elapsed_ms(s.a, s.b);
    gpuexec_event_record(s.a, s.stream);
    gpuexec_launch(s.kernel, s.stream, gpuexec_grid(10000, 256, 0), GPUEXEC_ARGS(s.data));
    gpuexec_event_record(s.b, s.stream);
    CHECK_OK(gpuexec_event_sync(s.b));
    large = gpuexec_event_elapsed_ms(s.a, s.b);
    CHECK(small >= 0 && large > 0);
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 32 + 10000 * 256);
}

/* A time that is not available is negative, and the text says why; nothing is latched. */
TEST(elapsed_time_that_is_not_available) {
    setting s = begin();
    gpuexec_event_desc desc = { 0 };
    gpuexec_event untimed, other, adopted;
    gpuexec_stream stream;
    desc.no_timing = 1;
    untimed = gpuexec_event_create(s.ctx, &desc);
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0);
    CHECK_TEXT(gpuexec_error_text(), "event.c:", "gpuexec_event_elapsed_ms",
            "the start event was never recorded", "gpuexec_event_record");
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0); /* only one of them is recorded */
    CHECK_TEXT(gpuexec_error_text(), "the stop event was never recorded");
    CHECK_OK(gpuexec_event_record(untimed, s.stream));
    CHECK_OK(gpuexec_event_sync(untimed));
    CHECK(gpuexec_event_elapsed_ms(s.a, untimed) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the stop event was created without timing", "no_timing");
    CHECK(gpuexec_event_elapsed_ms(untimed, s.a) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the start event was created without timing");
    adopted = gpuexec_event_from_native(s.ctx, gpuexec_event_native(untimed));
    CHECK(gpuexec_event_elapsed_ms(s.a, adopted) < 0); /* only the driver knows */
    CHECK_TEXT(gpuexec_error_text(), "cuEventElapsedTime", "CUDA_ERROR_INVALID_HANDLE",
            "each adopted event was created with timing enabled, was recorded");
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0); /* not completed yet */
    CHECK_TEXT(
            gpuexec_error_text(), "the stop event has not been reached yet", "gpuexec_event_sync");
    CHECK(gpuexec_event_elapsed_ms(s.b, s.a) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the start event has not been reached yet");
    CHECK_OK(gpuexec_take_error());
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.b));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) >= 0);
    test_sleep_ms(2); /* not order: time for the events to measure */
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0); /* a is now the later one */
    CHECK_TEXT(gpuexec_error_text(), "the stop event was reached", "ms before the start event",
            "pass the earlier event first");
    other = gpuexec_event_create(gpuexec_context_create(0, NULL), NULL);
    CHECK(gpuexec_event_elapsed_ms(s.a, other) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the stop event was never recorded");
    stream = gpuexec_stream_create(gpuexec_context_create(0, NULL), NULL);
    other = gpuexec_stream_record(stream, NULL);
    CHECK_OK(gpuexec_event_sync(other));
    CHECK(gpuexec_event_elapsed_ms(s.a, other) < 0);
    CHECK_TEXT(gpuexec_error_text(),
            "the start event is on device 0, in the context opened at tests/",
            ", but the stop event is on device 0, in the context opened at "
            "tests/header/unit/event.c:",
            "record both events in the same context");
    CHECK_OK(gpuexec_event_destroy(s.b));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the stop event is stale: it was destroyed");
    CHECK(gpuexec_event_elapsed_ms((gpuexec_event){ 0 }, s.a) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the start event was never created");
    CHECK_OK(gpuexec_take_error());
}

TEST_ALONE_MULTI(events_of_two_devices) {
    gpuexec_event e[2];
    gpuexec_stream s[2];
    int i;
    setenv("SIMGPU_DEVICES", "2", 1);
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    for (i = 0; i < 2; i++) {
        s[i] = gpuexec_stream_create(gpuexec_context_open(i, NULL), NULL);
        e[i] = gpuexec_stream_record(s[i], NULL);
        CHECK_OK(gpuexec_event_sync(e[i]));
    }
    CHECK(gpuexec_event_elapsed_ms(e[0], e[1]) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the start event is on device 0",
            "the stop event is on device 1");
    CHECK_REFUSED(gpuexec_event_record(e[0], s[1]), GPUEXEC_WRONG_CONTEXT,
            "the event is on device 0", "the stream is on device 1",
            "make the other stream wait for it");
}

/* An event created by recording. */
TEST(recording_a_point_of_a_stream) {
    setting s = begin();
    gpuexec_event_desc desc = { 0 };
    gpuexec_event begin, middle, end;
    desc.no_timing = 1;
    begin = gpuexec_stream_record(s.stream, NULL);
    gate_close(s.gate, s.stream);
    middle = gpuexec_stream_record(s.stream, &desc);
    end = gpuexec_stream_record(s.stream, NULL);
    CHECK_MADE(begin);
    CHECK(begin.id != middle.id && middle.id != end.id);
    CHECK_OK(gpuexec_event_sync(begin));
    CHECK_RESULT(gpuexec_event_query(middle), GPUEXEC_NOT_READY);
    test_sleep_ms(10); /* not order: time for the events to measure */
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(end));
    CHECK_OK(gpuexec_event_query(middle));
    CHECK(gpuexec_event_elapsed_ms(begin, end) >= 5);
    CHECK(gpuexec_event_elapsed_ms(begin, middle) < 0);
    CHECK_TEXT(gpuexec_error_text(), "no_timing");
    CHECK_OK(gpuexec_event_record(begin, s.stream)); /* it works like any other event */
    CHECK_OK(gpuexec_event_destroy(begin));
    CHECK_OK(gpuexec_event_destroy(middle));
    CHECK_OK(gpuexec_event_destroy(end));
    end = gpuexec_stream_record(gpuexec_stream_legacy(s.ctx), NULL);
    CHECK_OK(gpuexec_event_sync(end));
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

TEST(recording_a_point_that_cannot_be) {
    setting s = begin();
    gpuexec_event_desc desc = { 0 };
    gpuexec_event e;
    desc.end_canary = 1;
    CHECK(!gpuexec_ok(gpuexec_stream_record(s.stream, &desc)));
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_stream_record",
            "the gpuexec_event_desc was not zero-initialized");
    e = gpuexec_stream_record(s.stream, NULL); /* refused: a failure is latched */
    CHECK(!gpuexec_ok(e));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_why(e), "gpuexec_stream_record", "not zero-initialized");
    CHECK_OK(gpuexec_stream_destroy(s.stream));
    e = gpuexec_stream_record(s.stream, NULL);
    CHECK(!gpuexec_ok(e));
    CHECK_TEXT(gpuexec_error_text(), "event.c:", "the stream is stale");
    CHECK_RESULT(gpuexec_event_sync(e), GPUEXEC_STALE_HANDLE);
    gpuexec_take_error();
}

TEST(events_that_sleep_and_events_without_time) {
    setting s = begin();
    gpuexec_event_desc desc = { 0 };
    gpuexec_event e;
    uint32_t word = 0;
    desc.no_timing = 1;
    desc.blocking_sync = 1;
    e = gpuexec_event_create(s.ctx, &desc);
    CHECK_MADE(e);
    CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(100, 100, 0), GPUEXEC_ARGS(s.data)));
    CHECK_OK(gpuexec_event_record(e, s.stream));
    CHECK_OK(gpuexec_event_sync(e));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 10000);
}

/* A refused record: the event reports it, where the driver would use an earlier record or none. */
static void check_refused(setting s, gpuexec_result why) {
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    CHECK_RESULT(gpuexec_event_query(s.b), why);
    CHECK_TEXT(gpuexec_error_text(), "the event has not been recorded",
            "the last attempt to record it, at ", "event.c:", gpuexec_result_name(why),
            "record the event again");
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the stop event has not been recorded");
    CHECK(gpuexec_event_elapsed_ms(s.b, s.a) < 0);
    CHECK_TEXT(gpuexec_error_text(), "the start event has not been recorded");
    CHECK_OK(gpuexec_take_error());
    CHECK_RESULT(gpuexec_event_sync(s.b), why);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_event_sync", "the event has not been recorded");
    CHECK_OK(gpuexec_take_error());
    CHECK_RESULT(gpuexec_stream_wait_event(other, s.b), why);
    CHECK_RESULT(gpuexec_take_error(), why);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK_OK(gpuexec_stream_wait_event(other, s.b));
    CHECK_OK(gpuexec_event_sync(s.b));
    CHECK_OK(gpuexec_event_query(s.b));
    CHECK(gpuexec_event_elapsed_ms(s.a, s.b) >= 0);
}
TEST(a_record_that_was_refused) {
    setting s = begin();
    gpuexec_stream never = { 0 };
    int recorded;
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    for (recorded = 0; recorded < 2; recorded++) { /* before its first record, and after it */
        CHECK_RESULT(gpuexec_fill(s.stream, 0, 0, 1, 4), GPUEXEC_BAD_ARGUMENT);
        /* refused by the latch */
        CHECK_RESULT(gpuexec_event_record(s.b, s.stream), GPUEXEC_BAD_ARGUMENT);
        /* which this call clears */
        CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_BAD_ARGUMENT);
        check_refused(s, GPUEXEC_BAD_ARGUMENT);
        /* refused by an error */
        CHECK_RESULT(gpuexec_event_record(s.b, never), GPUEXEC_BAD_HANDLE);
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_HANDLE);
        check_refused(s, GPUEXEC_BAD_HANDLE);
    }
}
TEST(a_record_that_was_refused_without_the_latch) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_stream never = { 0 };
    setting s;
    desc.no_latch = 1;
    CHECK_OK(gpuexec_setup(&desc));
    s = begin();
    CHECK_RESULT(gpuexec_event_record(s.b, never), GPUEXEC_BAD_HANDLE);
    CHECK_RESULT(gpuexec_event_sync(s.b), GPUEXEC_BAD_HANDLE);
    CHECK_OK(gpuexec_event_record(s.b, s.stream));
    CHECK_OK(gpuexec_event_sync(s.b));
}

TEST(recording_again) {
    setting s = begin();
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
    setting s = begin();
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
    CHECK_OK(gpuexec_event_record(s.a, s.stream)); /* the event itself stays valid */
    CHECK_OK(gpuexec_event_sync(s.a));
}

TEST(destroying_an_event_that_is_waited_for) {
    setting s = begin();
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
