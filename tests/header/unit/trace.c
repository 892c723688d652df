/* trace.c - a hook that sees every driver call: pairs, arguments, names, filters; hooks that begin
   and end while other threads are in calls. */
#include "../../test.h"
#include <semaphore.h>

/* --- what a hook has seen --------------------------------------------------------------------- */

enum { KEPT = 4000, NUMBERS = 12 };
typedef struct seen {
    char name[64], function[64], where[128], text[600];
    unsigned long long handle, numbers[NUMBERS], began_ns, took_ns;
    unsigned count;
    int after, result;
} seen;
typedef struct record {
    seen calls[KEPT];
    int n;
} record;
static record all;

static void keep(void *user, const gpuexec_trace_call *call) {
    record *const r = (record *)user;
    seen *const s = &r->calls[r->n];
    if (r->n == KEPT) return;
    r->n++;
    snprintf(s->name, sizeof s->name, "%s", call->name);
    snprintf(s->function, sizeof s->function, "%s", call->function);
    snprintf(s->where, sizeof s->where, "%s", call->where ? call->where : "");
    gpuexec_trace_text(call, s->text, sizeof s->text);
    s->handle = call->handle;
    s->began_ns = call->began_ns;
    s->took_ns = call->took_ns;
    s->count = call->argument_count;
    memcpy(s->numbers, call->arguments, call->argument_count * sizeof *s->numbers);
    s->after = call->after;
    s->result = call->result;
}
static gpuexec_result begin_with(gpuexec_trace_function function, void *user, const char *filter) {
    gpuexec_trace_desc desc = { 0 };
    desc.function = function;
    desc.user = user;
    desc.filter = filter;
    return gpuexec_trace_begin(&desc);
}
static void begin(const char *filter) {
    memset(&all, 0, sizeof all);
    CHECK_OK(begin_with(keep, &all, filter));
}
static void end(void) { CHECK_OK(gpuexec_trace_end()); }

/* The next call with that name, seen after it, from *at on; or NULL. */
static const seen *next_of(const char *name, int *at) {
    for (; *at < all.n; ++*at)
        if (all.calls[*at].after && strcmp(all.calls[*at].name, name) == 0)
            return &all.calls[(*at)++];
    return NULL;
}
static const seen *first_of(const char *name) {
    static const seen none;
    int at = 0;
    const seen *const found = next_of(name, &at);
    if (!found) {
        CHECK_STRING("not seen", name);
        return &none;
    }
    return found;
}
static int count_of(const char *name) {
    int at = 0, n = 0;
    while (next_of(name, &at)) n++;
    return n;
}
/* Each call was seen before, then after. */
static void check_pairs(void) {
    int i;
    CHECK(all.n > 0 && all.n < KEPT);
    CHECK_EQ(all.n % 2, 0);
    for (i = 0; i + 1 < all.n; i += 2) {
        const seen *const a = &all.calls[i], *const b = a + 1;
        CHECK(!a->after && b->after);
        CHECK_STRING(a->name, b->name);
        CHECK_STRING(a->function, b->function);
        CHECK_STRING(a->where, b->where);
        CHECK_EQ(a->handle, b->handle);
        CHECK_EQ(a->count, b->count);
        CHECK(memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0);
        CHECK(a->result == 0 && a->began_ns == 0 && a->took_ns == 0);
        CHECK(b->began_ns > 0);
        if (i > 1) CHECK(b->began_ns >= b[-2].began_ns + b[-2].took_ns);
        CHECK_TEXT(b->text, b->name, b->function, " = CUDA_");
        CHECK(!strstr(a->text, " = CUDA_"));
    }
}
static unsigned long long number_of(const void *native) { return (uintptr_t)native; }

/* --- what it sees ----------------------------------------------------------------------------- */

TEST(a_launch_is_seen_before_and_after) {
    const setting s = set_up(UNIT_PTX, "add", 400);
    const gpuexec_dims grid = gpuexec_grid(4, 25, 0);
    char place[200], wanted[400];
    uint32_t by = 3, n = 100;
    const seen *c;
    int line;
    begin(NULL);
    line = __LINE__ + 1;
    CHECK_OK(gpuexec_launch(s.kernel, s.stream, grid, GPUEXEC_ARGS(s.data, by, n)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    end();
    CHECK_OK(gpuexec_launch(
            s.kernel, s.stream, gpuexec_grid(4, 25, 0), GPUEXEC_ARGS(s.data, by, n)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    check_pairs();
    CHECK_EQ(count_of("cuLaunchKernel") + count_of("cuLaunchKernelEx"), 1);
    CHECK_EQ(count_of("cuStreamSynchronize"), 1);
    c = first_of(count_of("cuLaunchKernel") ? "cuLaunchKernel" : "cuLaunchKernelEx");
    CHECK_STRING(c->function, "gpuexec_launch");
    snprintf(place, sizeof place, __FILE__ ":%d", line);
    CHECK_STRING(c->where, place);
    CHECK_EQ(c->handle, s.stream.id);
    CHECK_EQ(c->count, 10);
    CHECK_EQ(c->numbers[0], number_of(gpuexec_kernel_native(s.kernel)));
    CHECK(c->numbers[1] == 4 && c->numbers[2] == 1 && c->numbers[3] == 1);
    CHECK(c->numbers[4] == 25 && c->numbers[5] == 1 && c->numbers[6] == 1 && c->numbers[7] == 0);
    CHECK_EQ(c->numbers[8], number_of(gpuexec_stream_native(s.stream)));
    snprintf(wanted, sizeof wanted,
            " (0x%llx kernel \"add\", 4, 1, 1, 25, 1, 1, 0, 0x%llx stream tests/", c->numbers[0],
            c->numbers[8]);
    CHECK_TEXT(c->text, wanted, ") = CUDA_SUCCESS (0)  in gpuexec_launch at ", place);
    CHECK_EQ(c->result, 0);
}
TEST(the_time_of_a_wait) {
    setting s = set_up(UNIT_PTX, NULL, 0);
    const seen *c;
    s.gate = gate_make(s.ctx, s.mod);
    gate_close(s.gate, s.stream);
    begin("cuStreamQuery,cuStreamSynchronize");
    CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    end();
    check_pairs();
    c = first_of("cuStreamQuery");
    CHECK_EQ(c->result, 600); /* CUDA_ERROR_NOT_READY */
    CHECK_TEXT(c->text, " = CUDA_ERROR_NOT_READY (600)  in gpuexec_stream_query at ");
    CHECK_EQ(c->handle, s.stream.id);
    CHECK(first_of("cuStreamSynchronize")->began_ns >= c->began_ns + c->took_ns);
}
TEST(all_kinds_of_work) {
    setting s = set_up(UNIT_PTX, "count", 4);
    gpuexec_graph graph = { 0 };
    gpuexec_batch batch;
    gpuexec_prepared prepared;
    gpuexec_ptr p;
    uint32_t *host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, 4);
    int i;
    prepared = gpuexec_prepare(s.kernel, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s.data));
    GPUEXEC_CAPTURE(s.stream, &graph) {
        gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 2, 0), GPUEXEC_ARGS(s.data));
    }
    batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 3, 0), GPUEXEC_ARGS(s.data));
    s.a = gpuexec_event_create(s.ctx, NULL);
    for (i = 0; i < 3; i++) { /* what has taken a fast path is seen, too */
        if (i == 1) begin(NULL);
        p = gpuexec_alloc_on(s.stream, 100);
        CHECK_OK(gpuexec_launch_prepared(prepared));
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        CHECK_OK(gpuexec_copy_out(s.stream, host, s.data, 4));
        CHECK_OK(gpuexec_event_record(s.a, s.stream));
        CHECK_OK(gpuexec_stream_wait_event(s.stream, s.a));
        CHECK_OK(gpuexec_event_sync(s.a));
        CHECK_OK(gpuexec_free_on(s.stream, p));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(*host, 6 * (i + 1));
        if (i == 1) end();
    }
    check_pairs();
    CHECK_EQ(count_of("cuLaunchKernel") + count_of("cuLaunchKernelEx"), 1);
    CHECK(count_of("cuGraphLaunch") == 2);
    CHECK_EQ(first_of("cuGraphLaunch")->handle, s.stream.id);
    CHECK_TEXT(first_of("cuGraphLaunch")->text, " graph tests/", " stream tests/");
    CHECK_EQ(count_of("cuMemcpyDtoHAsync"), 1);
    CHECK_TEXT(first_of("cuMemcpyDtoHAsync")->text, " pinned memory tests/",
            " device memory tests/", ", 4, ");
    CHECK_EQ(count_of("cuMemAllocFromPoolAsync"), 1);
    CHECK_TEXT(first_of("cuMemAllocFromPoolAsync")->text, " -> 0x");
    CHECK_EQ(count_of("cuMemFreeAsync"), 1);
    CHECK_EQ(count_of("cuEventRecord"), 1);
    CHECK_TEXT(first_of("cuEventRecord")->text, " event tests/");
    CHECK_EQ(count_of("cuStreamWaitEvent"), 1);
    CHECK_EQ(count_of("cuEventSynchronize"), 1);
    CHECK_EQ(first_of("cuEventSynchronize")->handle, s.a.id);
}
TEST(failed_calls_are_seen_after) {
    const setting s = set_up(UNIT_PTX, NULL, 0);
    const seen *c;
    begin("cuModuleGetFunction,cuMemAlloc");
    CHECK_NOT_MADE(gpuexec_kernel_get(s.mod, "nowhere"), GPUEXEC_NOT_FOUND, "nowhere");
    CHECK(gpuexec_alloc(s.ctx, (size_t)1 << 50) == 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    end();
    check_pairs();
    c = first_of("cuMemAlloc");
    CHECK_EQ(c->result, 2);
    CHECK_EQ(c->handle, s.ctx.id);
    CHECK_TEXT(c->text, ", 0x4000000000000) = CUDA_ERROR_OUT_OF_MEMORY (2)  in gpuexec_alloc at ");
    CHECK(!strstr(c->text, "->"));
    CHECK_TEXT(first_of("cuModuleGetFunction")->text, " module tests/", " \"nowhere\")",
            " = CUDA_ERROR_NOT_FOUND (500)");
}
TEST(structs_and_places) {
    const setting s = set_up(UNIT_PTX, "count", 4096);
    char *host = (char *)gpuexec_alloc_pinned(s.ctx, 4096);
    gpuexec_copy_desc box = { 0 };
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    begin(NULL);
    CHECK_OK(gpuexec_copy_with(s.stream, ROWS(ON_DEVICE(s.data, 64), ON_HOST(host, 32), 16, 5)));
    box.to.device = s.data;
    box.to.pitch = 64;
    box.to.x = 4;
    box.to.y = 2;
    box.to.slice_height = 8;
    box.from.device = s.data + 2048;
    box.from.pitch = 64;
    box.from.slice_height = 8;
    box.width_bytes = 12;
    box.height = 3;
    box.depth = 2;
    CHECK_OK(gpuexec_copy_with(s.stream, &box));
    CHECK_MADE(gpuexec_graph_add_kernel(
            graph, s.kernel, gpuexec_grid(7, 32, 5), GPUEXEC_ARGS(s.data), GPUEXEC_FIRST)
                       .graph);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    end();
    check_pairs();
    CHECK_TEXT(first_of("cuMemcpy2DAsync")->text, " {to 0x", " device memory tests/", ", from 0x",
            " pinned memory tests/", ", 16 bytes x 5}, 0x");
    CHECK_TEXT(first_of("cuMemcpy3DAsync")->text, " device memory tests/", ", from 0x",
            ", 12 bytes x 3 x 2}, 0x");
    CHECK_TEXT(first_of("cuGraphAddKernelNode")->text, " kernel \"count\", 7, 1, 1, 32, 1, 1, 5}");
    CHECK_TEXT(first_of("cuCtxSynchronize")->text, "cuCtxSynchronize () = CUDA_SUCCESS (0)  in ");
}
TEST(a_hook_sees_the_start_and_the_end) {
    gpuexec_context ctx;
    begin(NULL);
    CHECK_EQ(all.n, 0);
    CHECK_OK(gpuexec_setup(NULL));
    ctx = gpuexec_context_open(0, NULL);
    CHECK_MADE(gpuexec_stream_create(ctx, NULL));
    CHECK_OK(gpuexec_shutdown());
    check_pairs();
    CHECK_STRING(all.calls[0].name, "cuInit");
    CHECK_STRING(all.calls[0].function, "gpuexec_setup");
    CHECK_EQ(count_of("cuStreamDestroy"), 1);
    CHECK_STRING(first_of("cuStreamDestroy")->function, "gpuexec_shutdown");
    CHECK_EQ(count_of("cuDevicePrimaryCtxRelease"), 1);
    /* shutdown has ended it */
    CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, "no trace hook is set");
    all.n = 0;
    CHECK(gpuexec_device_count() > 0);
    CHECK_EQ(all.n, 0);
    begin(NULL);
    CHECK(gpuexec_device_count() > 0);
    CHECK_OK(gpuexec_shutdown()); /* the hook began, the library was used: both end */
    CHECK(count_of("cuDeviceGetCount") == 1);
}
static int printed;
static void count_lines(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    printed += level == GPUEXEC_LOG_TRACE && strncmp(text, "gpuexec: cu", 11) == 0;
}
TEST(beside_the_trace_that_prints) {
    gpuexec_setup_desc desc = { 0 };
    int before;
    desc.trace = 1;
    desc.log = count_lines;
    CHECK_OK(gpuexec_setup(&desc));
    begin("cuDeviceGet*");
    before = printed;
    CHECK(gpuexec_device_count() > 0);
    CHECK_EQ(printed, before + 1);
    check_pairs();
    CHECK_EQ(all.n, 2);
    end();
    CHECK(gpuexec_device_count() > 0);
    CHECK_EQ(printed, before + 2);
    CHECK_EQ(all.n, 2);
}

/* --- texts ------------------------------------------------------------------------------------ */

static gpuexec_trace_call outside; /* what is left of a call when its hook has returned */
static unsigned long long outside_numbers[NUMBERS];
static void keep_outside(void *user, const gpuexec_trace_call *call) {
    char *const short_text = (char *)user, text[600];
    const size_t n = gpuexec_trace_text(call, text, sizeof text);
    CHECK_EQ(n, strlen(text));
    memset(short_text, '#', 30);
    CHECK_EQ(gpuexec_trace_text(call, short_text, 20), n);
    CHECK_EQ(strlen(short_text), 19);
    CHECK(strncmp(text, short_text, 19) == 0 && short_text[20] == '#');
    CHECK_EQ(gpuexec_trace_text(call, NULL, 0), n);
    CHECK_TEXT(text, " -> 0x");
    outside = *call;
    memcpy(outside_numbers, call->arguments, call->argument_count * sizeof *outside_numbers);
    outside.arguments = outside_numbers;
}
static void keep_outside_after(void *user, const gpuexec_trace_call *call) {
    if (call->after) keep_outside(user, call);
}
TEST(texts_of_any_size) {
    char text[600] = "unchanged";
    const setting s = set_up(UNIT_PTX, NULL, 0);
    CHECK_OK(begin_with(keep_outside_after, text, "cuMemAlloc"));
    CHECK(gpuexec_alloc(s.ctx, 64) != 0);
    end();
    /* its pointers are no longer read */
    CHECK(gpuexec_trace_text(&outside, text, sizeof text) > 0);
    CHECK_TEXT(text, "cuMemAlloc (0x", ", 64) = CUDA_SUCCESS (0)  in gpuexec_alloc at ");
    CHECK(!strstr(text, "->"));
    CHECK_EQ(gpuexec_trace_text(NULL, text, sizeof text), 0);
    CHECK_STRING(text, "");
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_trace_text: the argument \"call\" is NULL");
    outside.argument_count = 17;
    CHECK_EQ(gpuexec_trace_text(&outside, text, sizeof text), 0);
    CHECK_TEXT(gpuexec_error_text(), "does not describe a driver call");
    outside.argument_count = 2;
    outside.arguments = NULL;
    CHECK_EQ(gpuexec_trace_text(&outside, text, sizeof text), 0);
    outside.argument_count = 0;
    outside.name = "cuNothing";
    outside.where = NULL;
    CHECK(gpuexec_trace_text(&outside, text, sizeof text) > 0);
    CHECK_STRING(text, "cuNothing () = CUDA_SUCCESS (0)  in gpuexec_alloc");
    outside.name = NULL;
    CHECK_EQ(gpuexec_trace_text(&outside, text, sizeof text), 0);
    CHECK_OK(gpuexec_take_error());
}

/* --- filters ---------------------------------------------------------------------------------- */

static void check_filter(const char *filter, int allocs, int frees, int fills) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_ptr p;
    int i, ok;
    begin(filter);
    for (i = 0; i < 2; i++) { /* decided, then remembered */
        p = gpuexec_alloc(ctx, 8);
        CHECK_OK(gpuexec_fill_now(ctx, p, 0, 1, 8));
        CHECK_OK(gpuexec_free(p));
    }
    end();
    ok = CHECK_EQ(count_of("cuMemAlloc"), 2 * allocs);
    ok &= CHECK_EQ(count_of("cuMemFree"), 2 * frees);
    ok &= CHECK_EQ(count_of("cuMemsetD8Async"), 2 * fills);
    if (!ok) printf("the filter is \"%s\"\n", filter ? filter : "(NULL)");
    if (all.n) check_pairs();
    CHECK_OK(gpuexec_context_close(ctx));
}
TEST(filters) {
    check_filter(NULL, 1, 1, 1);
    check_filter("", 1, 1, 1);
    check_filter("*", 1, 1, 1);
    check_filter("cuMem*", 1, 1, 1);
    check_filter("cuMemAlloc", 1, 0, 0);
    check_filter("cuMemAll*,!cuMemAllocManaged", 1, 0, 0);
    check_filter("cuMem*,!cuMemFree*", 1, 0, 1);
    check_filter("!cuMemFree*,cuMem*", 1, 0, 1);
    check_filter("!cuMem*", 0, 0, 0);
    check_filter("!cuMemset*", 1, 1, 0);
    check_filter(" cuMemFree , cuMemset*8* ", 0, 1, 1);
    check_filter("*Free,*Alloc", 1, 1, 0);
    check_filter("c*M*m*F*e*e", 0, 1, 0);
    check_filter("! cuMemFree", 1, 0, 1);
    check_filter("cuLaunch*", 0, 0, 0);
    check_filter("nvrtc*", 0, 0, 0);
}
TEST(wrong_filters) {
    static const char *const empty[] = { ",", "cuMem*,", ",cuMem*", "cuMem*,,cuLaunch*", "!", " ",
        "cuMem*, !" };
    static const char *const unknown[] = { "cuMemAllok", "cuMemAlloc_v2", "CUMEM*", "cu Mem*",
        "cuMem*,*x?", "!!cuMem*", "cuMem", "cuMem*\n" };
    size_t i;
    for (i = 0; i < sizeof empty / sizeof *empty; i++)
        CHECK_FAILED(begin_with(keep, &all, empty[i]), GPUEXEC_BAD_ARGUMENT, "pattern ",
                " is empty", "one comma");
    for (i = 0; i < sizeof unknown / sizeof *unknown; i++)
        CHECK_FAILED(begin_with(keep, &all, unknown[i]), GPUEXEC_BAD_ARGUMENT, "pattern ",
                " matches no driver call that gpuexec makes", "CUDA's documentation");
    CHECK_TEXT(gpuexec_error_text(), "pattern 1 of the filter \"cuMem*");
    CHECK_FAILED(begin_with(keep, &all, "cuMem*,cuNo"), GPUEXEC_BAD_ARGUMENT, "pattern 2 of ");
    CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, "no trace hook is set");
}
TEST(wrong_descs) {
    gpuexec_trace_desc desc = { 0 };
    char place[200];
    CHECK_FAILED(gpuexec_trace_begin(NULL), GPUEXEC_BAD_ARGUMENT, "\"desc\" is NULL");
    CHECK_FAILED(gpuexec_trace_begin(&desc), GPUEXEC_BAD_ARGUMENT, "no function");
    desc.function = keep;
    desc.end_canary = 7;
    CHECK_FAILED(gpuexec_trace_begin(&desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_trace_desc was not zero-initialized");
    desc.end_canary = 0;
    desc.user = &all;
    snprintf(place, sizeof place, "gpuexec_trace_begin at " __FILE__ ":%d", __LINE__ + 1);
    CHECK_OK(gpuexec_trace_begin(&desc));
    CHECK_FAILED(gpuexec_trace_begin(&desc), GPUEXEC_BAD_ARGUMENT, "another trace hook is set",
            place, "gpuexec_trace_end");
    end();
    CHECK_OK(gpuexec_trace_begin_at(NULL, &desc));
    CHECK_FAILED(gpuexec_trace_begin(&desc), GPUEXEC_BAD_ARGUMENT, "another trace hook is set (");
    end();
    CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, "no trace hook is set",
            "gpuexec_trace_begin");
}

/* --- what a hook may call --------------------------------------------------------------------- */

static setting inner;
static gpuexec_prepared inner_prepared;
static gpuexec_batch inner_batch;
static gpuexec_graph inner_graph;
static int hooks_run;
static void call_everything(void *user, const gpuexec_trace_call *call) {
    static const char refused[] = "the trace hook calls ", *const cure = "after the hook";
    gpuexec_kernel_info info;
    gpuexec_ptr p = inner.data;
    char text[500];
    int number = 0;
    (void)user;
    if (strcmp(call->name, "cuStreamQuery") != 0) return;
    hooks_run++;
    CHECK_REFUSED(
            gpuexec_launch(inner.kernel, inner.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p)),
            GPUEXEC_BAD_ARGUMENT, refused, "gpuexec_launch", "gpuexec_stream_query at ", cure);
    CHECK_REFUSED(gpuexec_launch_prepared(inner_prepared), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_REFUSED(gpuexec_fill(inner.stream, p, 1, 1, 4), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_REFUSED(gpuexec_event_record(inner.a, inner.stream), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_stream_query(inner.stream), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_event_query(inner.a), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_free_on(inner.stream, p), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_stream_destroy(inner.stream), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_context_close(inner.ctx), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_stream_sync(inner.stream), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_context_sync(inner.ctx), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_event_sync(inner.a), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_shutdown(), GPUEXEC_BAD_ARGUMENT, refused, "gpuexec_shutdown");
    CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, refused, "gpuexec_trace_end");
    CHECK_FAILED(begin_with(keep, &all, NULL), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_NOT_MADE(gpuexec_stream_create(inner.ctx, NULL), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_NOT_MADE(gpuexec_context_open(0, NULL), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK(gpuexec_alloc(inner.ctx, 4) == 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK(gpuexec_alloc_on(inner.stream, 4) == 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(gpuexec_device_count(), 0);
    CHECK_FAILED(
            gpuexec_kernel_get_attribute(inner.kernel, 0, &number), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_FAILED(gpuexec_kernel_get_info(inner.kernel, &info), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_REFUSED(gpuexec_prepared_set_dims(inner_prepared, gpuexec_grid(2, 1, 0)),
            GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_REFUSED(gpuexec_batch_launch(inner_batch, inner.stream), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_REFUSED(gpuexec_graph_launch(inner_graph, inner.stream), GPUEXEC_BAD_ARGUMENT, refused);
    CHECK_REFUSED(gpuexec_setup(NULL), GPUEXEC_BAD_ARGUMENT, refused);
    /* what needs no driver */
    CHECK(gpuexec_trace_text(call, text, sizeof text) > 0);
    CHECK_TEXT(gpuexec_id_describe(call->handle), "stream created at ");
    CHECK_MADE(inner.stream);
    CHECK(gpuexec_stream_native(inner.stream) != NULL);
}
TEST(calls_in_a_hook) {
    int i;
    inner = set_up(UNIT_PTX, "count", 4);
    inner.a = gpuexec_event_create(inner.ctx, NULL);
    inner_prepared = gpuexec_prepare(
            inner.kernel, inner.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(inner.data));
    inner_batch = gpuexec_batch_create(inner.ctx, NULL);
    gpuexec_batch_add(inner_batch, inner.kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(inner.data));
    memset(&inner_graph, 0, sizeof inner_graph);
    GPUEXEC_CAPTURE(inner.stream, &inner_graph) { gpuexec_fill(inner.stream, inner.data, 0, 1, 4); }
    CHECK_OK(gpuexec_launch_prepared(inner_prepared));
    CHECK_OK(gpuexec_batch_launch(inner_batch, inner.stream));
    CHECK_OK(gpuexec_graph_launch(inner_graph, inner.stream));
    CHECK_OK(gpuexec_event_record(inner.a, inner.stream));
    CHECK_OK(gpuexec_stream_sync(inner.stream));
    hooks_run = 0;
    CHECK_OK(begin_with(call_everything, NULL, NULL));
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_query(inner.stream));
    end();
    CHECK_EQ(hooks_run, 4);
    /* all is as before */
    CHECK_MADE(inner.stream);
    CHECK_OK(gpuexec_launch_prepared(inner_prepared));
    CHECK_OK(gpuexec_free(inner.data));
    CHECK_OK(gpuexec_stream_sync(inner.stream));
}
static void fill_in_it(void *user, const gpuexec_trace_call *call) {
    (void)call;
    gpuexec_fill(*(gpuexec_stream *)user, inner.data, 1, 1, 4);
}
TEST(a_failure_in_a_hook_is_latched) {
    inner = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(begin_with(fill_in_it, &inner.stream, "cuStreamQuery"));
    CHECK_OK(gpuexec_stream_query(inner.stream));
    end();
    CHECK_REFUSED(gpuexec_fill(inner.stream, inner.data, 2, 1, 4), GPUEXEC_BAD_ARGUMENT,
            "the trace hook calls gpuexec_fill");
    CHECK_OK(gpuexec_stream_sync(inner.stream));
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 4 };
typedef struct hook_state {
    int open;   /* atomic: 1 from gpuexec_trace_begin to the return of gpuexec_trace_end */
    int late;   /* atomic: hooks that ran while it was 0 */
    int lonely; /* atomic: `after` without `before`, or another one */
    int pairs;  /* atomic */
} hook_state;
static __thread struct {
    const hook_state *of;
    char name[64];
    const char *where;
} last;
static void check_pair(void *user, const gpuexec_trace_call *call) {
    hook_state *const h = (hook_state *)user;
    char text[600];
    if (!__atomic_load_n(&h->open, __ATOMIC_ACQUIRE))
        __atomic_add_fetch(&h->late, 1, __ATOMIC_RELAXED);
    if (call->after) {
        if (last.of != h || strcmp(last.name, call->name) != 0 || last.where != call->where)
            __atomic_add_fetch(&h->lonely, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&h->pairs, 1, __ATOMIC_RELAXED);
        gpuexec_trace_text(call, text, sizeof text);
        gpuexec_id_describe(call->handle);
    }
    last.of = call->after ? NULL : h;
    snprintf(last.name, sizeof last.name, "%s", call->name);
    last.where = call->where;
}
typedef struct busy {
    setting s;
    int stop;            /* atomic */
    int rounds[THREADS]; /* atomic */
    gpuexec_result worst;
} busy;
typedef struct busy_thread {
    busy *b;
    int number;
} busy_thread;
static void *use(void *user) {
    const busy_thread *const t = (const busy_thread *)user;
    const setting *const s = &t->b->s;
    gpuexec_stream own = gpuexec_stream_create(s->ctx, NULL);
    gpuexec_event e = gpuexec_event_create(s->ctx, NULL);
    gpuexec_ptr word = gpuexec_alloc(s->ctx, 4);
    gpuexec_prepared p = gpuexec_prepare(s->kernel, own, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(word));
    gpuexec_result r = GPUEXEC_OK;
    uint32_t counted = 0, rounds = 0;
    gpuexec_fill(own, word, 0, 1, 4);
    while (!__atomic_load_n(&t->b->stop, __ATOMIC_ACQUIRE)) {
        gpuexec_ptr q = gpuexec_alloc_on(own, 64);
        gpuexec_stream more = gpuexec_stream_create(s->ctx, NULL);
        gpuexec_launch(s->kernel, own, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(word));
        gpuexec_launch_prepared(p);
        gpuexec_event_record(e, own);
        gpuexec_stream_wait_event(more, e);
        gpuexec_stream_destroy(more);
        gpuexec_free_on(own, q);
        rounds++;
        if (!r) r = gpuexec_stream_sync(own);
        __atomic_add_fetch(&t->b->rounds[t->number], 1, __ATOMIC_RELEASE);
    }
    gpuexec_copy_out(own, &counted, word, 4);
    if (!r) r = gpuexec_stream_sync(own);
    CHECK_OK(r);
    CHECK_EQ(counted, 2 * rounds); /* no launch was lost */
    gpuexec_prepared_destroy(p);
    gpuexec_stream_destroy(own);
    gpuexec_event_destroy(e);
    gpuexec_free(word);
    return NULL;
}
static void wait_for_rounds(busy *b, int more) {
    int from[THREADS], i;
    for (i = 0; i < THREADS; i++) from[i] = __atomic_load_n(&b->rounds[i], __ATOMIC_ACQUIRE);
    for (i = 0; i < THREADS; i++) {
        TEST_UNTIL(__atomic_load_n(&b->rounds[i], __ATOMIC_ACQUIRE) >= from[i] + more);
        CHECK(__atomic_load_n(&b->rounds[i], __ATOMIC_ACQUIRE) >= from[i] + more);
    }
}
TEST(hooks_come_and_go_beside_calls) {
    enum { HOOKS = 40 };
    static hook_state hooks[HOOKS];
    static busy b;
    busy_thread of[THREADS];
    pthread_t threads[THREADS];
    int i, pairs = 0;
    memset(hooks, 0, sizeof hooks);
    memset(&b, 0, sizeof b);
    b.s = set_up(UNIT_PTX, "count", 4);
    for (i = 0; i < THREADS; i++) {
        of[i].b = &b;
        of[i].number = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, use, &of[i]), 0);
    }
    wait_for_rounds(&b, 1);
    for (i = 0; i < HOOKS; i++) {
        hook_state *const h = &hooks[i];
        __atomic_store_n(&h->open, 1, __ATOMIC_RELEASE);
        CHECK_OK(begin_with(check_pair, h, i % 3 == 1 ? "cuLaunch*,cuStream*" : NULL));
        if (i % 4 == 0) wait_for_rounds(&b, 2);
        else if (i % 4 == 1) TEST_UNTIL(__atomic_load_n(&h->pairs, __ATOMIC_RELAXED) > 0);
        CHECK_OK(gpuexec_trace_end());
        __atomic_store_n(&h->open, 0, __ATOMIC_RELEASE);
        if (i % 4 == 2) wait_for_rounds(&b, 1);
    }
    wait_for_rounds(&b, 2);
    __atomic_store_n(&b.stop, 1, __ATOMIC_RELEASE);
    for (i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (i = 0; i < HOOKS; i++) {
        CHECK_EQ(hooks[i].late, 0);
        CHECK_EQ(hooks[i].lonely, 0);
        if (i % 4 < 2) CHECK(hooks[i].pairs > 0);
        pairs += hooks[i].pairs;
    }
    CHECK(pairs > 2 * THREADS);
}

/* A hook that is held, while another thread ends it. */
typedef struct held_hook {
    sem_t inside, go_on;
    int seen;  /* atomic: calls */
    int left;  /* atomic: it has returned, as good as */
    int ended; /* atomic: gpuexec_trace_end has returned */
    int early; /* it had returned before the hook did */
    gpuexec_stream stream;
} held_hook;
static void hold(void *user, const gpuexec_trace_call *call) {
    held_hook *const h = (held_hook *)user;
    if (call->after || __atomic_fetch_add(&h->seen, 1, __ATOMIC_RELAXED) > 0) return;
    sem_post(&h->inside);
    while (sem_wait(&h->go_on)) continue;
    h->early = __atomic_load_n(&h->ended, __ATOMIC_ACQUIRE);
    __atomic_store_n(&h->left, 1, __ATOMIC_RELEASE);
}
static void *query_it(void *user) {
    gpuexec_result r = gpuexec_stream_query(((held_hook *)user)->stream);
    CHECK_OK(r);
    return NULL;
}
static void *end_it(void *user) {
    held_hook *const h = (held_hook *)user;
    CHECK_OK(gpuexec_trace_end());
    __atomic_store_n(&h->ended, 1, __ATOMIC_RELEASE);
    CHECK_EQ(__atomic_load_n(&h->left, __ATOMIC_ACQUIRE), 1);
    return NULL;
}
static int is_seen(held_hook *h) {
    const int before = __atomic_load_n(&h->seen, __ATOMIC_RELAXED);
    CHECK_OK(gpuexec_stream_query(h->stream));
    return __atomic_load_n(&h->seen, __ATOMIC_RELAXED) != before;
}
TEST(the_end_waits_for_hooks_that_run) {
    static held_hook h;
    const setting s = set_up(UNIT_PTX, NULL, 0);
    pthread_t caller, ender;
    memset(&h, 0, sizeof h);
    h.stream = s.stream;
    CHECK_EQ(sem_init(&h.inside, 0, 0), 0);
    CHECK_EQ(sem_init(&h.go_on, 0, 0), 0);
    CHECK_OK(begin_with(hold, &h, "cuStreamQuery"));
    CHECK_EQ(pthread_create(&caller, NULL, query_it, &h), 0);
    while (sem_wait(&h.inside)) continue;
    CHECK_EQ(pthread_create(&ender, NULL, end_it, &h), 0);
    TEST_UNTIL(!is_seen(&h)); /* then it has begun to end */
    CHECK(!is_seen(&h));
    CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, "no trace hook is set");
    CHECK_FAILED(begin_with(keep, &all, NULL), GPUEXEC_BAD_ARGUMENT, "another trace hook is set");
    CHECK_EQ(sem_post(&h.go_on), 0);
    CHECK_EQ(pthread_join(caller, NULL), 0);
    CHECK_EQ(pthread_join(ender, NULL), 0);
    CHECK_EQ(h.early, 0);
    begin(NULL);
    end();
    sem_destroy(&h.inside);
    sem_destroy(&h.go_on);
}
/* A hook that begins while a thread is in the driver does not see the end of that call. */
static void *wait_in_driver(void *user) {
    const setting *const s = (const setting *)user;
    CHECK_OK(gpuexec_stream_sync(s->stream));
    return NULL;
}
static sem_t in_driver;
static void post(void *user, const gpuexec_trace_call *call) {
    (void)user;
    if (!call->after) sem_post(&in_driver);
}
TEST(a_call_that_began_before_the_hook) {
    setting s = set_up(UNIT_PTX, NULL, 0);
    hook_state h = { 0 };
    pthread_t thread;
    s.gate = gate_make(s.ctx, s.mod);
    CHECK_EQ(sem_init(&in_driver, 0, 0), 0);
    gate_close(s.gate, s.stream);
    CHECK_OK(begin_with(post, NULL, "cuStreamSynchronize"));
    CHECK_EQ(pthread_create(&thread, NULL, wait_in_driver, &s), 0);
    while (sem_wait(&in_driver)) continue;
    CHECK_OK(gpuexec_trace_end());
    h.open = 1;
    CHECK_OK(begin_with(check_pair, &h, NULL));
    gate_open(s.gate);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_OK(gpuexec_trace_end());
    CHECK_EQ(h.lonely, 0);
    sem_destroy(&in_driver);
}

/* --- processes -------------------------------------------------------------------------------- */

static void in_a_child(void) {
    CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, "no trace hook is set");
    all.n = 0;
    CHECK(gpuexec_device_count() > 0); /* its parent has not started CUDA */
    CHECK_EQ(all.n, 0);
    begin(NULL);
    CHECK(gpuexec_device_count() > 0);
    check_pairs();
    end();
    CHECK_OK(gpuexec_shutdown());
}
TEST_ALONE(a_forked_child_has_no_hook) {
    begin(NULL);
    CHECK(run_child(in_a_child));
    CHECK(gpuexec_device_count() > 0);
    check_pairs();
    end();
}
static pid_t forked;
static void fork_in_it(void *user, const gpuexec_trace_call *call) {
    (void)user;
    if (!call->after || forked) return;
    fflush(NULL);
    forked = fork();
}
TEST_ALONE(a_hook_that_forks) {
    const setting s = set_up(UNIT_PTX, NULL, 0);
    forked = 0;
    CHECK_OK(begin_with(fork_in_it, NULL, "cuStreamQuery"));
    CHECK_OK(gpuexec_stream_query(s.stream));
    if (!forked) { /* the child: it has returned from the hook */
        CHECK_FAILED(gpuexec_trace_end(), GPUEXEC_BAD_ARGUMENT, "no trace hook is set");
        CHECK_FAILED(gpuexec_stream_query(s.stream), GPUEXEC_FORKED, "forked");
        fflush(NULL);
        _exit(test_failures != 0);
    }
    CHECK(end_child(forked));
    end();
}
static gpuexec_result trace_with_little_memory(void) {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream s;
    gpuexec_result r = begin_with(keep, &all, "cu*");
    all.n = 0;
    if (r) return r;
    ctx = gpuexec_context_open(0, NULL);
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    gpuexec_launch(gpuexec_kernel_get(mod, "nothing"), s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    r = gpuexec_stream_sync(s);
    check_pairs();
    gpuexec_trace_end();
    return r;
}
TEST(a_trace_without_memory) { test_running_dry(trace_with_little_memory, 500); }
