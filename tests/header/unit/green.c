/* green.c - contexts on some of a device's multiprocessors. Each test skips itself on a device that
   cannot be split, and with a driver before CUDA 12.4. */
#include "../../test.h"

enum { MOST_SMS = 1024, BLOCKS = 256 };

/* place(counts, spins): each block counts itself at its %smid after some work. */
static const char text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .entry place(.param .u64 p, .param .u32 spins) {\n"
        "    .reg .b64 %a; .reg .b32 %t, %s, %n; .reg .pred %q;\n"
        "    mov.u32 %t, %tid.x; setp.ne.u32 %q, %t, 0; @%q ret;\n"
        "    ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; ld.param.u32 %n, [spins];\n"
        "AGAIN: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra AGAIN;\n"
        "    mov.u32 %s, %smid; mad.wide.u32 %a, %s, 4, %a; red.global.add.u32 [%a], 1; ret;\n}\n";

typedef struct part { /* a context and what launches there */
    gpuexec_context context;
    gpuexec_module module;
    gpuexec_kernel place;
    gpuexec_stream stream;
    gpuexec_ptr counts;
    int sms;
} part;

static int total; /* of the device */
static int group; /* the size of its smallest group; 0: it cannot be split */

static void find_group(void) {
    gpuexec_device_info info;
    gpuexec_context one;
    total = group = 0;
    if (gpuexec_device_get_info(0, &info) != GPUEXEC_OK) return;
    total = info.multiprocessors;
    one = gpuexec_context_create_green(0, &(gpuexec_green_desc){ .sms = 1 });
    gpuexec_context_get_sms(one, &group);
    gpuexec_context_close(one);
    if (group == total) group = 0;
    gpuexec_take_error();
}
#define BEGIN() \
    find_group(); \
    if (!group || total < 2 * group) SKIP("a device that cannot be split, or an old driver")

static part fill(gpuexec_context context) {
    part p = { .context = context };
    CHECK_MADE(context);
    CHECK_OK(gpuexec_context_get_sms(context, &p.sms));
    p.module = gpuexec_module_load(context, text, 0, NULL);
    p.place = gpuexec_kernel_get(p.module, "place");
    p.stream = gpuexec_stream_create(context, NULL);
    p.counts = gpuexec_alloc(context, MOST_SMS * 4);
    CHECK_MADE(p.place);
    CHECK_MADE(p.stream);
    return p;
}
/* Marks the multiprocessors that the blocks ran on. Returns how many. */
static int count_places(part p, gpuexec_stream stream, unsigned char *used) {
    static unsigned found[MOST_SMS];
    int n = 0, i;
    CHECK_OK(gpuexec_copy_out(stream, found, p.counts, sizeof found));
    CHECK_OK(gpuexec_stream_sync(stream));
    for (i = 0; i < MOST_SMS; i++) {
        n += found[i] != 0;
        used[i] |= found[i] != 0;
    }
    return n;
}
static int places(part p, gpuexec_stream stream, unsigned char *used) {
    unsigned spins = 5000;
    CHECK_OK(gpuexec_fill(stream, p.counts, 0, 1, MOST_SMS * 4));
    CHECK_OK(gpuexec_launch(
            p.place, stream, gpuexec_grid(BLOCKS, 32, 0), GPUEXEC_ARGS(p.counts, spins)));
    return count_places(p, stream, used);
}
static int in_common(const unsigned char *a, const unsigned char *b) {
    int n = 0, i;
    for (i = 0; i < MOST_SMS; i++) n += a[i] && b[i];
    return n;
}
static gpuexec_context create(int sms) {
    return gpuexec_context_create_green(0, &(gpuexec_green_desc){ .sms = sms });
}

TEST(a_context_on_some_multiprocessors) {
    static unsigned char used[MOST_SMS];
    part p;
    BEGIN();
    memset(used, 0, sizeof used);
    p = fill(create(group));
    CHECK_EQ(p.sms, group);
    CHECK(places(p, p.stream, used) <= group);
    CHECK(places(p, gpuexec_stream_legacy(p.context), used) <= group);
    CHECK_EQ(gpuexec_context_device(p.context), 0);
    CHECK_TEXT(gpuexec_describe(p.context), "context opened at", "device 0 (", "multiprocessors)");
    CHECK_OK(gpuexec_context_sync(p.context));
    CHECK_OK(gpuexec_context_close(p.context));
    CHECK(!gpuexec_ok(p.stream) && !gpuexec_ok(p.place));
}

TEST(sizes_are_rounded_up) {
    int sms = 0;
    BEGIN();
    gpuexec_context more = create(group + 1), all = create(total);
    CHECK_MADE(more);
    CHECK_OK(gpuexec_context_get_sms(more, &sms));
    CHECK(sms > group && sms <= total);
    CHECK_MADE(all);
    CHECK_OK(gpuexec_context_get_sms(all, &sms));
    CHECK_EQ(sms, total);
    CHECK_OK(gpuexec_context_get_sms(gpuexec_context_open(0, NULL), &sms));
    CHECK_EQ(sms, total);
}

TEST(smaller_groups) {
    int sms = 0;
    BEGIN();
    gpuexec_context small = gpuexec_context_create_green(
            0, &(gpuexec_green_desc){ .sms = 1, .fine = 1 });
    CHECK_MADE(small);
    CHECK_OK(gpuexec_context_get_sms(small, &sms));
    CHECK(sms >= 1 && sms < group);
}

TEST(a_device_is_split) {
    static unsigned char used[3][MOST_SMS];
    gpuexec_context contexts[2], rest;
    part p[3];
    int i, sum = 0;
    BEGIN();
    memset(used, 0, sizeof used);
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, &rest));
    for (i = 0; i < 3; i++) {
        if (i == 2 && !rest.id) break;
        p[i] = fill(i == 2 ? rest : contexts[i]);
        CHECK(i == 2 || p[i].sms >= group);
        CHECK(places(p[i], p[i].stream, used[i]) <= p[i].sms);
        sum += p[i].sms;
    }
    CHECK_EQ(sum, total);
    CHECK_EQ(in_common(used[0], used[1]), 0);
    CHECK_EQ(in_common(used[0], used[2]), 0);
    CHECK_EQ(in_common(used[1], used[2]), 0);
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_context_close(contexts[i]));
    CHECK_OK(gpuexec_context_close(rest));
}

TEST(sizes_that_differ) {
    static unsigned char used[2][MOST_SMS];
    gpuexec_context contexts[2];
    part p[2];
    int i;
    BEGIN();
    if (total < 3 * group) { /* smaller groups, then */
        gpuexec_context one = gpuexec_context_create_green(
                0, &(gpuexec_green_desc){ .sms = 1, .fine = 1 });
        CHECK_OK(gpuexec_context_get_sms(one, &group));
        CHECK_OK(gpuexec_context_close(one));
    }
    memset(used, 0, sizeof used);
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group + 1 }, 2,
            &(gpuexec_green_desc){ .fine = 1 }, contexts, NULL));
    for (i = 0; i < 2; i++) {
        p[i] = fill(contexts[i]);
        CHECK(p[i].sms >= group + i);
        CHECK(places(p[i], p[i].stream, used[i]) <= p[i].sms);
    }
    CHECK(p[1].sms > p[0].sms);
    CHECK_EQ(in_common(used[0], used[1]), 0);
}

/* Memory belongs to the primary context: each context can use it. */
TEST(memory_is_shared) {
    static unsigned char used[MOST_SMS];
    gpuexec_context contexts[2];
    part a, b, whole;
    unsigned word = 0;
    BEGIN();
    memset(used, 0, sizeof used);
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, NULL));
    a = fill(contexts[0]);
    b = fill(contexts[1]);
    whole = fill(gpuexec_context_open(0, NULL));
    const gpuexec_ptr own = b.counts;
    b.counts = a.counts; /* a kernel of one writes memory that was allocated in the other */
    places(b, b.stream, used);
    whole.counts = a.counts;
    places(whole, whole.stream, used);
    CHECK_OK(gpuexec_fill(a.stream, own, 0x22, 1, 64));
    CHECK_OK(gpuexec_stream_sync(a.stream));
    CHECK_OK(gpuexec_copy(whole.stream, whole.counts, own, 64));
    CHECK_OK(gpuexec_copy_out(whole.stream, &word, whole.counts, 4));
    CHECK_OK(gpuexec_stream_sync(whole.stream));
    CHECK_EQ(word, 0x22222222);
    CHECK_OK(gpuexec_free(own));
    const gpuexec_ptr pooled = gpuexec_alloc_on(b.stream, 256);
    CHECK(pooled != 0);
    CHECK_OK(gpuexec_fill(b.stream, pooled, 1, 1, 256));
    CHECK_OK(gpuexec_free_on(b.stream, pooled));
    CHECK_OK(gpuexec_stream_sync(b.stream));
}

TEST(streams_of_two_green_contexts_wait_for_each_other) {
    gpuexec_context contexts[2];
    gpuexec_event e;
    setting s;
    part a, b;
    unsigned word = 1;
    BEGIN();
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, NULL));
    a = fill(contexts[0]);
    b = fill(contexts[1]);
    memset(&s, 0, sizeof s);
    s.gate = gate_make(a.context, gpuexec_module_load_file(a.context, UNIT_PTX, NULL));
    e = gpuexec_event_create(a.context, NULL);
    CHECK_OK(gpuexec_fill_now(a.context, a.counts, 0, 1, 64));
    gate_close(s.gate, a.stream);
    CHECK_OK(gpuexec_fill(a.stream, a.counts, 0x33, 1, 64));
    CHECK_OK(gpuexec_event_record(e, a.stream));
    CHECK_OK(gpuexec_stream_wait_event(b.stream, e));
    CHECK_OK(gpuexec_copy(b.stream, b.counts, a.counts, 64));
    CHECK_RESULT(gpuexec_stream_query(b.stream), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_copy_out(b.stream, &word, b.counts, 4));
    CHECK_OK(gpuexec_stream_sync(b.stream));
    CHECK_EQ(word, 0x33333333);
}

/* Waiting for one does not wait for the other: the gate is still closed. */
TEST(one_is_waited_for_alone) {
    static unsigned char used[MOST_SMS];
    gpuexec_context contexts[2];
    test_gate gate;
    part a, b;
    BEGIN();
    memset(used, 0, sizeof used);
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, NULL));
    a = fill(contexts[0]);
    b = fill(contexts[1]);
    gate = gate_make(a.context, gpuexec_module_load_file(a.context, UNIT_PTX, NULL));
    gate_close(gate, a.stream);
    CHECK_OK(gpuexec_launch(
            b.place, b.stream, gpuexec_grid(8, 32, 0), GPUEXEC_ARGS(b.counts, (unsigned){ 1 })));
    CHECK_OK(gpuexec_context_sync(b.context));
    CHECK_RESULT(gpuexec_stream_query(a.stream), GPUEXEC_NOT_READY);
    gate_open(gate);
    CHECK_OK(gpuexec_device_sync(0));
    CHECK_OK(gpuexec_stream_query(a.stream));
}

TEST(graphs_stay_on_their_multiprocessors) {
    static unsigned char used[2][MOST_SMS];
    gpuexec_graph captured = { 0 }, built;
    unsigned spins = 5000;
    part p;
    int i;
    BEGIN();
    memset(used, 0, sizeof used);
    p = fill(create(group));
    places(p, p.stream, used[0]);
    CHECK_OK(gpuexec_capture_begin(p.stream, NULL));
    CHECK_OK(gpuexec_launch(
            p.place, p.stream, gpuexec_grid(BLOCKS, 32, 0), GPUEXEC_ARGS(p.counts, spins)));
    captured = gpuexec_capture_end(p.stream);
    CHECK_MADE(captured);
    built = gpuexec_graph_create(p.context);
    gpuexec_graph_add_kernel(built, p.place, gpuexec_grid(BLOCKS, 32, 0),
            GPUEXEC_ARGS(p.counts, spins), GPUEXEC_FIRST);
    for (i = 0; i < 2; i++) {
        CHECK_OK(gpuexec_fill(p.stream, p.counts, 0, 1, MOST_SMS * 4));
        CHECK_OK(gpuexec_graph_launch(i ? built : captured, p.stream));
        CHECK(count_places(p, p.stream, used[1]) > 0);
    }
    for (i = 0; i < MOST_SMS && on_cpu_device(); i++) CHECK(!used[1][i] || used[0][i]);
}

TEST(the_largest_cooperative_grid) {
    gpuexec_launch_desc desc = { 0 };
    unsigned spins = 1;
    part p, whole;
    int most;
    BEGIN();
    p = fill(create(group));
    whole = fill(gpuexec_context_open(0, NULL));
    most = gpuexec_kernel_cooperative_blocks(p.place, 32, 0);
    CHECK_EQ(most * total, gpuexec_kernel_cooperative_blocks(whole.place, 32, 0) * group);
    desc.cooperative = 1;
    CHECK_OK(gpuexec_launch_with(p.place, p.stream, gpuexec_grid((unsigned)most, 32, 0), &desc,
            GPUEXEC_ARGS(p.counts, spins)));
    CHECK_OK(gpuexec_stream_sync(p.stream));
    gpuexec_launch_with(p.place, p.stream, gpuexec_grid((unsigned)most + 1, 32, 0), &desc,
            GPUEXEC_ARGS(p.counts, spins));
    CHECK_TEXT(gpuexec_error_text(), "cooperative");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_LAUNCH);
}

TEST(users_and_the_current_context) {
    gpuexec_context c, adopted;
    int sms = 0;
    BEGIN();
    c = create(group);
    CHECK_EQ(gpuexec_context_usage(c), 1);
    CHECK_OK(gpuexec_context_retain(c));
    CHECK_EQ(gpuexec_context_usage(c), 2);
    CHECK_OK(gpuexec_context_close(c));
    CHECK(gpuexec_ok(c));
    GPUEXEC_CONTEXT_SCOPE(c) {
        CHECK(gpuexec_context_is_current(c));
        adopted = gpuexec_context_from_native(NULL);
        CHECK_MADE(adopted);
        CHECK_OK(gpuexec_context_get_sms(adopted, &sms));
        CHECK_EQ(sms, group);
        CHECK_OK(gpuexec_context_close(adopted));
    }
    CHECK_OK(gpuexec_context_close(c));
    CHECK(!gpuexec_ok(c));
}

TEST(the_primary_context_stays_with_its_green_ones) {
    gpuexec_context c;
    int active = 0;
    BEGIN();
    c = create(group);
    CHECK_OK(gpuexec_primary_get_state(0, NULL, &active));
    CHECK_EQ(active, 1);
    CHECK_FAILED(gpuexec_primary_reset(0), GPUEXEC_BAD_ARGUMENT, "has 1 handle to it",
            "a green context created at", "green.c", "close each of these");
    CHECK_OK(gpuexec_stream_sync(gpuexec_stream_create(c, NULL)));
    CHECK_OK(gpuexec_context_close(c));
    if (!on_cpu_device()) return; /* other drivers may release it */
    CHECK_OK(gpuexec_primary_get_state(0, NULL, &active));
    CHECK_EQ(active, 1);
}

TEST(a_green_context_of_other_code_prevents_a_reset) {
    static unsigned long long sms[18]; /* CUdevResource */
    void *descriptor = NULL, *green = NULL;
    BEGIN();
    const driver_calls cu = calls_find();
    CHECK_EQ(cu.cuDeviceGetDevResource(0, (void *)sms, 1), 0);
    CHECK_EQ(cu.cuDevResourceGenerateDesc(&descriptor, (void *)sms, 1), 0);
    CHECK_EQ(cu.cuGreenCtxCreate(&green, descriptor, 0, 1), 0);
    CHECK_FAILED(gpuexec_primary_reset(0), GPUEXEC_DRIVER_ERROR, "device 0",
            "CUDA_ERROR_NOT_PERMITTED", "destroy the green contexts that other code has");
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    CHECK_OK(gpuexec_primary_reset(0));
}

TEST(a_graph_keeps_a_green_context) {
    gpuexec_context c;
    gpuexec_graph g;
    part p;
    BEGIN();
    c = create(group);
    p = fill(c);
    g = gpuexec_graph_create(gpuexec_context_open(0, NULL));
    gpuexec_graph_add_kernel(g, p.place, gpuexec_grid(1, 32, 0),
            GPUEXEC_ARGS(p.counts, (unsigned){ 1 }), GPUEXEC_FIRST);
    CHECK_OK(gpuexec_take_error());
    CHECK_OK(gpuexec_context_close(c));
    CHECK_OK(gpuexec_graph_destroy(g));
}

/* ---- planted errors ---- */

TEST(more_than_there_are) {
    char both[64];
    BEGIN();
    snprintf(both, sizeof both, "but device 0 has %d", total);
    CHECK_NOT_MADE(create(total + 1), GPUEXEC_BAD_ARGUMENT, "gpuexec_context_create_green", both,
            "multiprocessors are requested", "no more than the device has");
}

TEST(none_or_fewer) {
    BEGIN();
    CHECK_NOT_MADE(create(0), GPUEXEC_BAD_ARGUMENT, "0 multiprocessors are requested",
            "request at least 1");
    CHECK_NOT_MADE(create(-8), GPUEXEC_BAD_ARGUMENT, "-8 multiprocessors are requested");
}

TEST(too_many_groups) {
    gpuexec_context contexts[3], rest = { 7 };
    char text_of[2][96];
    int i;
    BEGIN();
    const int big = total - group + 1;
    CHECK_REFUSED(gpuexec_device_split(0, (const int[]){ big, group }, 2, NULL, contexts, &rest),
            GPUEXEC_BAD_ARGUMENT, "gpuexec_device_split", "2 contexts of these sizes need",
            "but device 0 has", "more multiprocessors", "gpuexec_green_desc.fine");
    for (i = 0; i < 2; i++) CHECK(contexts[i].id && !gpuexec_ok(contexts[i]));
    CHECK(rest.id && !gpuexec_ok(rest));
    CHECK_TEXT(gpuexec_why(contexts[1]), "2 contexts of these sizes need");
    snprintf(text_of[0], sizeof text_of[0], "%d multiprocessors are requested for context 1",
            total + 1);
    snprintf(text_of[1], sizeof text_of[1], "device 0 has %d", total);
    CHECK_REFUSED(
            gpuexec_device_split(0, (const int[]){ group, total + 1 }, 2, NULL, contexts, NULL),
            GPUEXEC_BAD_ARGUMENT, text_of[0], text_of[1]);
    /* the device is not split by calls that failed */
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, NULL));
}

TEST(wrong_arguments_of_a_split) {
    gpuexec_context contexts[1];
    const int one = 1;
    BEGIN();
    CHECK_REFUSED(gpuexec_device_split(0, NULL, 1, NULL, contexts, NULL), GPUEXEC_BAD_ARGUMENT,
            "the list of sizes", "NULL");
    CHECK(contexts[0].id && !gpuexec_ok(contexts[0]));
    CHECK_REFUSED(gpuexec_device_split(0, &one, 1, NULL, NULL, NULL), GPUEXEC_BAD_ARGUMENT,
            "the list of contexts", "NULL");
    CHECK_REFUSED(gpuexec_device_split(0, &one, 0, NULL, contexts, NULL), GPUEXEC_BAD_ARGUMENT,
            "0 contexts are requested");
    CHECK_REFUSED(gpuexec_device_split(0, &one, -1, NULL, contexts, NULL), GPUEXEC_BAD_ARGUMENT,
            "-1 contexts are requested");
    CHECK_REFUSED(
            gpuexec_device_split(0, &one, 1, &(gpuexec_green_desc){ .sms = 8 }, contexts, NULL),
            GPUEXEC_BAD_ARGUMENT, "gpuexec_green_desc.sms is 8", "leave it 0");
}

TEST(wrong_descs_and_devices) {
    gpuexec_green_desc dirty;
    BEGIN();
    memset(&dirty, 0x5a, sizeof dirty);
    CHECK_NOT_MADE(gpuexec_context_create_green(0, &dirty), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_green_desc was not zero-initialized");
    CHECK_NOT_MADE(gpuexec_context_create_green(0, NULL), GPUEXEC_BAD_ARGUMENT, "the desc", "NULL");
    CHECK_NOT_MADE(gpuexec_context_create_green(77, &(gpuexec_green_desc){ .sms = 1 }),
            GPUEXEC_NO_DEVICE, "77");
}

TEST(wrong_queries_of_multiprocessors) {
    gpuexec_context closed;
    int sms = 7;
    BEGIN();
    closed = create(group);
    CHECK_FAILED(gpuexec_context_get_sms(closed, NULL), GPUEXEC_BAD_ARGUMENT, "\"sms\"", "NULL");
    CHECK_OK(gpuexec_context_close(closed));
    CHECK_FAILED(gpuexec_context_get_sms(closed, &sms), GPUEXEC_STALE_HANDLE, "closed by");
    CHECK_EQ(sms, 0);
    CHECK_FAILED(gpuexec_context_get_sms((gpuexec_context){ 0 }, &sms), GPUEXEC_BAD_HANDLE,
            "never created");
}

/* A kernel of one green context on a stream of another. */
TEST(kernels_and_streams_of_two_green_contexts) {
    gpuexec_context contexts[2];
    unsigned spins = 1;
    part a, b;
    BEGIN();
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, NULL));
    a = fill(contexts[0]);
    b = fill(contexts[1]);
    CHECK_REFUSED(gpuexec_launch(
                          a.place, b.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(a.counts, spins)),
            GPUEXEC_WRONG_CONTEXT, "place", "the stream", "green.c", "load the module");
    CHECK_REFUSED(gpuexec_event_record(gpuexec_event_create(a.context, NULL), b.stream),
            GPUEXEC_WRONG_CONTEXT, "the event", "the stream");
}

TEST(the_same_stream_in_another_context) {
    gpuexec_context contexts[2];
    part a;
    BEGIN();
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group, group }, 2, NULL, contexts, NULL));
    a = fill(contexts[0]);
    CHECK_NOT_MADE(gpuexec_stream_from_native(contexts[1], gpuexec_stream_native(a.stream)),
            GPUEXEC_WRONG_CONTEXT, "belongs to");
}

TEST(a_green_context_has_no_count) {
    gpuexec_context c;
    BEGIN();
    c = create(group);
    CHECK_NOT_MADE(gpuexec_context_attach(gpuexec_context_native(c)), GPUEXEC_NOT_SUPPORTED,
            "is a green context", "gpuexec_context_retain");
    CHECK_EQ(gpuexec_context_usage(c), 1);
    CHECK_OK(gpuexec_context_close(c));
}

/* CUDA makes them non-blocking: they and the default streams do not wait for each other. */
TEST(streams_and_default_streams) {
    gpuexec_context context[2]; /* the green one, and the primary one */
    gpuexec_stream_info info;
    gpuexec_stream stream;
    gpuexec_ptr of_stream, of_default;
    test_gate gate[2];
    uint32_t word = 1;
    int i;
    BEGIN();
    context[0] = create(group);
    context[1] = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(context[0], NULL);
    of_stream = gpuexec_alloc(context[0], 64);
    of_default = gpuexec_alloc(context[0], 64);
    CHECK_OK(gpuexec_stream_get_info(stream, &info));
    CHECK_EQ(info.non_blocking, 1);
    for (i = 0; i < 2; i++) {
        gate[i] = gate_make(context[i], gpuexec_module_load_file(context[i], UNIT_PTX, NULL));
        CHECK_OK(gpuexec_fill_now(context[i], of_default, (unsigned)i, 4, 16));
    }
    gate_close(gate[0], stream);
    CHECK_OK(gpuexec_fill(stream, of_stream, 7, 4, 16));
    for (i = 0; i < 2; i++) { /* would not return before the gate opens */
        CHECK_OK(gpuexec_copy_out_now(context[i], &word, of_default, 4));
        CHECK_EQ(word, 1);
        CHECK_OK(gpuexec_stream_sync(gpuexec_stream_legacy(context[i])));
    }
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_NOT_READY);
    gate_open(gate[0]);
    CHECK_OK(gpuexec_stream_sync(stream));
    for (i = 0; i < 2; i++) { /* the stream would be busy until the gate opens */
        gate_close(gate[i], gpuexec_stream_legacy(context[i]));
        CHECK_OK(gpuexec_fill(stream, of_stream, 8 + (unsigned)i, 4, 16));
        CHECK_OK(gpuexec_stream_sync(stream));
        CHECK_RESULT(gpuexec_stream_query(gpuexec_stream_legacy(context[i])), GPUEXEC_NOT_READY);
        gate_open(gate[i]);
        CHECK_OK(gpuexec_stream_sync(gpuexec_stream_legacy(context[i])));
    }
    CHECK_OK(gpuexec_copy_out_now(context[0], &word, of_stream, 4));
    CHECK_EQ(word, 9);
    CHECK_OK(gpuexec_context_close(context[0]));
}

/* CUDA refuses work on it. */
TEST(no_stream_per_thread) {
    gpuexec_context c, adopted;
    BEGIN();
    c = create(group);
    CHECK_NOT_MADE(gpuexec_stream_per_thread(c), GPUEXEC_NOT_SUPPORTED, "gpuexec_stream_per_thread",
            "the context opened at", "green.c", "is a green context",
            "no per-thread default stream", "gpuexec_stream_create");
    CHECK_NOT_MADE(gpuexec_stream_from_native(c, (struct CUstream_st *)2), GPUEXEC_NOT_SUPPORTED,
            "gpuexec_stream_from_native", "no per-thread default stream");
    adopted = gpuexec_context_from_native(gpuexec_context_native(c));
    CHECK_NOT_MADE(gpuexec_stream_per_thread(adopted), GPUEXEC_NOT_SUPPORTED,
            "the context adopted at", "is a green context");
    CHECK_OK(gpuexec_context_close(adopted));
    CHECK_OK(gpuexec_stream_sync(gpuexec_stream_legacy(c)));
    CHECK_OK(gpuexec_stream_sync(gpuexec_stream_per_thread(gpuexec_context_open(0, NULL))));
    CHECK_OK(gpuexec_context_close(c));
}

/* It stays current, and can still be popped. */
TEST(closed_while_it_is_current) {
    gpuexec_context c, whole;
    BEGIN();
    whole = gpuexec_context_open(0, NULL);
    c = create(group);
    CHECK_OK(gpuexec_context_push(c));
    CHECK_OK(gpuexec_context_close(c));
    CHECK_OK(gpuexec_stream_sync(gpuexec_stream_create(whole, NULL)));
    if (on_cpu_device()) /* a GPU's driver may read what it has freed */
        CHECK_NOT_MADE(gpuexec_context_from_native(NULL), GPUEXEC_STALE_HANDLE, "destroyed");
    CHECK_OK(gpuexec_context_pop(c));
    CHECK(!gpuexec_context_is_current(whole));
    CHECK_OK(gpuexec_take_error());
}

TEST_MULTI(each_device_is_split) {
    static unsigned char used[MOST_SMS];
    gpuexec_context contexts[2];
    unsigned spins = 1;
    part a, b;
    BEGIN();
    if (gpuexec_device_count() < 2) SKIP("one device");
    memset(used, 0, sizeof used);
    CHECK_OK(gpuexec_device_split(0, (const int[]){ group }, 1, NULL, &contexts[0], NULL));
    CHECK_OK(gpuexec_device_split(1, (const int[]){ group }, 1, NULL, &contexts[1], NULL));
    a = fill(contexts[0]);
    b = fill(contexts[1]);
    CHECK_EQ(gpuexec_context_device(b.context), 1);
    CHECK(places(b, b.stream, used) <= b.sms);
    CHECK_REFUSED(gpuexec_launch(
                          a.place, b.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(a.counts, spins)),
            GPUEXEC_WRONG_CONTEXT, "device 0", "device 1");
    CHECK_FAILED(gpuexec_primary_reset(1), GPUEXEC_BAD_ARGUMENT, "device 1", "has 1 handle to it");
}

TEST_ALONE(an_old_driver) {
    if (!on_cpu_device()) SKIP("no older driver");
    setenv("SIMGPU_DRIVER_VERSION", "12030", 1);
    gpuexec_context contexts[1];
    int sms = 0;
    CHECK_NOT_MADE(create(8), GPUEXEC_NOT_SUPPORTED, "CUDA 12.3", "CUDA 12.4", "update the driver");
    CHECK_REFUSED(gpuexec_device_split(0, (const int[]){ 8 }, 1, NULL, contexts, NULL),
            GPUEXEC_NOT_SUPPORTED, "CUDA 12.3", "CUDA 12.4");
    CHECK_OK(gpuexec_context_get_sms(gpuexec_context_open(0, NULL), &sms));
    CHECK(sms > 0);
}

TEST_ALONE(the_first_driver_that_has_them) {
    static unsigned char used[MOST_SMS];
    if (!on_cpu_device()) SKIP("no older driver");
    setenv("SIMGPU_DRIVER_VERSION", "12040", 1);
    part p = fill(create(8));
    CHECK(places(p, p.stream, used) <= 8);
    CHECK_OK(gpuexec_context_close(p.context));
}

TEST_ALONE(the_driver_refuses_each_step) {
    static const char *const calls[] = { "cuDeviceGetDevResource", "cuDevSmResourceSplitByCount",
        "cuDevResourceGenerateDesc", "cuGreenCtxCreate", "cuCtxFromGreenCtx" };
    gpuexec_context contexts[2], rest;
    char fail[256] = "";
    size_t i;
    if (!on_cpu_device()) SKIP("calls of a GPU's driver do not fail on request");
    setenv("SIMGPU_DRIVER_VERSION", "12040", 1); /* perhaps it is older */
    for (i = 0; i < sizeof calls / sizeof *calls; i++)
        snprintf(fail + strlen(fail), sizeof fail - strlen(fail), "%s%s:%d:%d", i ? "," : "",
                calls[i], 2, 801);
    setenv("SIMGPU_FAIL", fail, 1);
    /* the second context of a split, or the second split: what was created before is closed */
    for (i = 0; i < 20; i++) {
        const gpuexec_result result = gpuexec_device_split(
                0, (const int[]){ 8, 8 }, 2, NULL, contexts, &rest);
        if (!result) break;
        CHECK_RESULT(result, GPUEXEC_NOT_SUPPORTED);
        CHECK(!gpuexec_ok(contexts[0]) && !gpuexec_ok(contexts[1]) && !gpuexec_ok(rest));
        CHECK_TEXT(gpuexec_error_text(), "gpuexec_device_split", "device 0");
        gpuexec_take_error();
    }
    CHECK_EQ(i, sizeof calls / sizeof *calls);
    CHECK_MADE(rest);
}

static char leaks[2000];
static void note_leaks(void *user, gpuexec_log_level level, const char *line) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) strncat(leaks, line, sizeof leaks - strlen(leaks) - 1);
}
TEST(a_green_context_that_is_left) {
    gpuexec_setup_desc desc;
    BEGIN();
    CHECK_OK(gpuexec_shutdown());
    memset(&desc, 0, sizeof desc);
    desc.report_leaks = 1;
    desc.log = note_leaks;
    CHECK_OK(gpuexec_setup(&desc));
    CHECK_MADE(create(group));
    CHECK_OK(gpuexec_shutdown());
    CHECK_TEXT(leaks, "gpuexec: leak: a context", "green.c");
}

static gpuexec_result split(void) {
    gpuexec_context contexts[2], rest;
    if (gpuexec_device_split(0, (const int[]){ 1, 1 }, 2, NULL, contexts, &rest) == GPUEXEC_OK)
        gpuexec_kernel_get(gpuexec_module_load(rest, text, 0, NULL), "place");
    return gpuexec_take_error();
}
TEST(out_of_memory) {
    BEGIN();
    CHECK_OK(gpuexec_shutdown());
    test_running_dry(split, 200);
}
