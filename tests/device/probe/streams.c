/* streams.c - streams, the order between them, host functions, events; stale handles. */
#include "probe.h"

static void streams(void) {
    void *s = NULL, *c = NULL;
    unsigned flags;
    int priority;
    cu.cuInit(0);
    PROBE("to_null_without", cu.cuStreamCreateWithPriority(NULL, 0, 0));
    PROBE("bad_flags_without", cu.cuStreamCreateWithPriority(&s, 2, 0));
    PROBE("query_without", cu.cuStreamQuery(NULL));
    PROBE("query_1_without", cu.cuStreamQuery((void *)1));
    PROBE("query_2_without", cu.cuStreamQuery((void *)2));
    PROBE("sync_without", cu.cuStreamSynchronize(NULL));
    PROBE("context_without", cu.cuStreamGetCtx(NULL, &c));
    PROBE("flags_without", cu.cuStreamGetFlags(NULL, &flags));
    PROBE("wait_without", cu.cuStreamWaitEvent(NULL, NULL, 0));
    PROBE("wait_without_bad_flags", cu.cuStreamWaitEvent(NULL, NULL, 8));
    PROBE("destroy_null_without", cu.cuStreamDestroy_v2(NULL));
    open_one();
    PROBE("to_null", cu.cuStreamCreateWithPriority(NULL, 0, 0));
    PROBE("to_null_bad_flags", cu.cuStreamCreateWithPriority(NULL, 2, 0));
    PROBE("flags_2", cu.cuStreamCreateWithPriority(&s, 2, 0));
    PROBE("flags_3", cu.cuStreamCreateWithPriority(&s, 3, 0));
    PROBE("flags_high", cu.cuStreamCreateWithPriority(&s, 0x80000000u, 0));
    PROBE("destroy_null", cu.cuStreamDestroy_v2(NULL));
    PROBE("destroy_1", cu.cuStreamDestroy_v2((void *)1));
    for (priority = 5; priority >= -8; priority -= priority > -4 ? 9 : 1) {
        char question[40];
        int got = 77, result;
        snprintf(question, sizeof question, "priority_%d", priority);
        if (skipped(question)) continue;
        result = cu.cuStreamCreateWithPriority(&s, 0, priority);
        cu.cuStreamGetPriority(s, &got);
        answer(question, "%d %d", result, got);
    }
    for (priority = 0; priority <= 2; priority++) {
        char question[40];
        int got = 77, result[3];
        c = NULL;
        flags = 77;
        result[0] = cu.cuStreamGetFlags((void *)(intptr_t)priority, &flags);
        result[1] = cu.cuStreamGetPriority((void *)(intptr_t)priority, &got);
        result[2] = cu.cuStreamGetCtx((void *)(intptr_t)priority, &c);
        snprintf(question, sizeof question, "handle_%d", priority);
        answer(question, "%d %u %d %d %d %d", result[0], flags, result[1], got, result[2],
                c == context[0]);
    }
    PROBE("flags_to_null", cu.cuStreamGetFlags(NULL, NULL));
    PROBE("priority_to_null", cu.cuStreamGetPriority(NULL, NULL));
    PROBE("context_to_null", cu.cuStreamGetCtx(s, NULL));
    PROBE("context_of_null_to_null", cu.cuStreamGetCtx(NULL, NULL));
    PROBE("wait_null", cu.cuStreamWaitEvent(s, NULL, 0));
    PROBE("wait_null_bad_flags", cu.cuStreamWaitEvent(s, NULL, 8));
    PROBE("wait_null_external", cu.cuStreamWaitEvent(s, NULL, 1));
    cu.cuEventCreate(&c, 0);
    PROBE("wait_unrecorded", cu.cuStreamWaitEvent(s, c, 0));
    PROBE("wait_external", cu.cuStreamWaitEvent(s, c, 1));
    PROBE("wait_flags_2", cu.cuStreamWaitEvent(s, c, 2));
    cu.cuEventRecord(c, s);
    PROBE("wait_recorded_external", cu.cuStreamWaitEvent(s, c, 1));
    PROBE("wait_recorded_flags_2", cu.cuStreamWaitEvent(s, c, 2));
    PROBE("wait_on_legacy", cu.cuStreamWaitEvent((void *)1, c, 0));
    PROBE("wait_on_own", cu.cuStreamWaitEvent(s, c, 0));
    PROBE("destroy", cu.cuStreamDestroy_v2(s));
    PROBE("wait_for_destroyed", cu.cuStreamWaitEvent(NULL, c, 0));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("event_of_destroyed", cu.cuEventQuery(c));
}

/* a and b are blocking streams, n is not. The kernel spins on one of them: which others are ready,
   and which wait? */
static void stream_order(void) {
    void *a = NULL, *b = NULL, *n = NULL, *e = NULL, *f = NULL, *nop, *spin;
    gate g;
    open_one();
    nop = kernel(0, "nop");
    spin = kernel(0, "spin");
    g = make_gate();
    cu.cuStreamCreateWithPriority(&a, 0, 0);
    cu.cuStreamCreateWithPriority(&b, 0, 0);
    cu.cuStreamCreateWithPriority(&n, 1, 0);
    cu.cuEventCreate(&e, 2);
    cu.cuEventCreate(&f, 2);
    PROBE("spin_on_a", close_gate(g, spin, a));
    PROBE("a", cu.cuStreamQuery(a));
    PROBE("b", cu.cuStreamQuery(b));
    PROBE("n", cu.cuStreamQuery(n));
    PROBE("legacy", cu.cuStreamQuery(NULL));
    PROBE("legacy_1", cu.cuStreamQuery((void *)1));
    PROBE("own", cu.cuStreamQuery((void *)2));
    cu.cuEventRecord(e, NULL);
    PROBE("event_on_legacy", cu.cuEventQuery(e));
    cu.cuEventRecord(f, n);
    UNTIL(cu.cuEventQuery(f) != 600);
    PROBE("event_on_n", cu.cuEventQuery(f));
    PROBE("b_after_legacy", cu.cuStreamQuery(b));
    launch(nop, 1, 1, b, NULL);
    wrong_time();
    PROBE("b_with_work", cu.cuStreamQuery(b));
    UNTIL(cu.cuStreamQuery(n) != 600);
    PROBE("n_after_all", cu.cuStreamQuery(n));
    PROBE("n_waits_for_e", cu.cuStreamWaitEvent(n, e, 0));
    PROBE("n_then", cu.cuStreamQuery(n));
    cu.cuEventRecord(f, n);
    PROBE("event_behind_e", cu.cuEventQuery(f));
    open_gate(g);
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("all_done", cu.cuEventQuery(f));

    PROBE("spin_on_legacy", close_gate(g, spin, NULL));
    PROBE("legacy_busy", cu.cuStreamQuery(NULL));
    PROBE("a_beside_legacy", cu.cuStreamQuery(a));
    launch(nop, 1, 1, a, NULL);
    wrong_time();
    PROBE("a_with_work", cu.cuStreamQuery(a));
    launch(nop, 1, 1, n, NULL);
    PROBE("n_sync", cu.cuStreamSynchronize(n));
    launch(nop, 1, 1, (void *)2, NULL);
    wrong_time();
    PROBE("own_with_work", cu.cuStreamQuery((void *)2));
    open_gate(g);
    PROBE("sync_again", cu.cuCtxSynchronize());

    PROBE("spin_on_own", close_gate(g, spin, (void *)2));
    PROBE("legacy_beside_own", cu.cuStreamQuery(NULL));
    PROBE("own_busy", cu.cuStreamQuery((void *)2));
    open_gate(g);
    cu.cuCtxSynchronize();
    PROBE("spin_on_n", close_gate(g, spin, n));
    PROBE("legacy_beside_n", cu.cuStreamQuery(NULL));
    PROBE("a_waits_for_n", (cu.cuEventRecord(e, n), cu.cuStreamWaitEvent(a, e, 0)));
    PROBE("a_then", cu.cuStreamQuery(a));
    PROBE("legacy_behind_a", cu.cuStreamQuery(NULL));
    cu.cuEventRecord(e, b); /* again: a wait for the earlier record still waits */
    wrong_time();
    PROBE("a_still", cu.cuStreamQuery(a));
    open_gate(g);
    cu.cuCtxSynchronize();

    PROBE("spin_to_destroy", close_gate(g, spin, a));
    cu.cuEventRecord(e, a);
    PROBE("destroy_busy", cu.cuStreamDestroy_v2(a));
    PROBE("event_of_it", cu.cuEventQuery(e));
    PROBE("legacy_behind_it", cu.cuStreamQuery(NULL));
    launch(nop, 1, 1, NULL, NULL);
    wrong_time();
    PROBE("legacy_work_behind_it", cu.cuStreamQuery(NULL));
    open_gate(g);
    PROBE("sync_with_it", cu.cuCtxSynchronize());
    PROBE("event_then", cu.cuEventQuery(e));
}

/* An event keeps its most recent record. */
static void event_again(void) {
    void *s = NULL, *t = NULL, *e = NULL, *old = NULL;
    float ms = -1;
    gate g;
    open_one();
    g = make_gate();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuEventCreate(&e, 0);
    cu.cuEventCreate(&old, 0);
    cu.cuEventRecord(old, t);
    cu.cuEventRecord(e, t);
    cu.cuStreamSynchronize(t);
    PROBE("done", cu.cuEventQuery(e));
    PROBE("elapsed_of_one", cu.cuEventElapsedTime(&ms, e, e));
    answer("elapsed_is_0", "%d", ms <= 0 && ms >= 0);
    PROBE("elapsed_back", cu.cuEventElapsedTime(&ms, e, old));
    answer("elapsed_back_not_positive", "%d", ms <= 0);
    close_gate(g, kernel(0, "spin"), s);
    cu.cuEventRecord(e, s);
    PROBE("again", cu.cuEventQuery(e));
    PROBE("elapsed_anew", cu.cuEventElapsedTime(&ms, old, e));
    PROBE("elapsed_anew_to_null", cu.cuEventElapsedTime(NULL, old, e));
    cu.cuEventRecord(e, t);
    cu.cuStreamSynchronize(t);
    PROBE("done_on_t", cu.cuEventQuery(e));
    PROBE("destroy_busy_event", (cu.cuEventRecord(e, s), cu.cuEventDestroy_v2(e)));
    open_gate(g);
    PROBE("sync", cu.cuCtxSynchronize());
}

static void events(void) {
    static const unsigned all[] = { 1, 2, 3, 5, 6, 7, 8, 16, 0x80000000u };
    void *e = NULL, *f = NULL, *timeless = NULL, *never = NULL, *other = NULL, *theirs = NULL;
    float ms = 0;
    unsigned i;
    cu.cuInit(0);
    PROBE("to_null_without", cu.cuEventCreate(NULL, 0));
    PROBE("bad_flags_without", cu.cuEventCreate(&e, 8));
    PROBE("query_null_without", cu.cuEventQuery(NULL));
    PROBE("record_null_without", cu.cuEventRecord(NULL, NULL));
    open_one();
    PROBE("to_null", cu.cuEventCreate(NULL, 0));
    PROBE("to_null_bad_flags", cu.cuEventCreate(NULL, 8));
    for (i = 0; i < COUNT(all); i++) {
        char question[40];
        snprintf(question, sizeof question, "flags_%x", all[i]);
        PROBE(question, cu.cuEventCreate(&e, all[i]));
    }
    PROBE("destroy_null", cu.cuEventDestroy_v2(NULL));
    PROBE("query_null", cu.cuEventQuery(NULL));
    PROBE("sync_null", cu.cuEventSynchronize(NULL));
    PROBE("record_null", cu.cuEventRecord(NULL, NULL));
    cu.cuEventCreate(&e, 0);
    cu.cuEventCreate(&f, 0);
    cu.cuEventCreate(&never, 0);
    cu.cuEventCreate(&timeless, 2);
    PROBE("elapsed_null_events", cu.cuEventElapsedTime(&ms, NULL, NULL));
    PROBE("elapsed_all_null", cu.cuEventElapsedTime(NULL, NULL, NULL));
    PROBE("elapsed_null_end", cu.cuEventElapsedTime(&ms, e, NULL));
    PROBE("elapsed_to_null_unrecorded", cu.cuEventElapsedTime(NULL, e, f));
    PROBE("elapsed_to_null_timeless", cu.cuEventElapsedTime(NULL, timeless, f));
    cu.cuEventRecord(e, NULL);
    cu.cuEventRecord(f, NULL);
    cu.cuEventRecord(timeless, NULL);
    cu.cuCtxSynchronize();
    PROBE("elapsed_to_null", cu.cuEventElapsedTime(NULL, e, f));
    PROBE("elapsed", cu.cuEventElapsedTime(&ms, e, f));
    PROBE("elapsed_from_never", cu.cuEventElapsedTime(&ms, never, f));
    PROBE("elapsed_to_never", cu.cuEventElapsedTime(&ms, e, never));
    PROBE("elapsed_timeless_never", cu.cuEventElapsedTime(&ms, timeless, never));
    cu.cuCtxCreate_v2(&other, 0, 0);
    cu.cuEventCreate(&theirs, 0);
    PROBE("record_in_other_context", cu.cuEventRecord(e, NULL));
    PROBE("record_theirs", cu.cuEventRecord(theirs, NULL));
    PROBE("record_by_1", cu.cuEventRecord(theirs, (void *)1));
    PROBE("record_by_2", cu.cuEventRecord(theirs, (void *)2));
    cu.cuCtxSynchronize();
    PROBE("elapsed_across_contexts", cu.cuEventElapsedTime(&ms, e, theirs));
    PROBE("wait_across_contexts", cu.cuStreamWaitEvent(NULL, e, 0));
    PROBE("query_of_other_context", cu.cuEventQuery(e));
    PROBE("destroy_of_other_context", cu.cuEventDestroy_v2(e));
    cu.cuCtxPopCurrent_v2(&other);
    cu.cuCtxSetCurrent(NULL);
    PROBE("record_without", cu.cuEventRecord(f, NULL));
    PROBE("record_without_null_event", cu.cuEventRecord(NULL, NULL));
    PROBE("wait_on_null_without", cu.cuStreamWaitEvent(NULL, f, 0));
    PROBE("elapsed_without", cu.cuEventElapsedTime(&ms, f, f));
    PROBE("destroy_without", cu.cuEventDestroy_v2(f));
}

static void events_two(void) {
    void *e = NULL, *f = NULL, *s = NULL;
    float ms = 0;
    open_all();
    cu.cuEventCreate(&e, 0);
    cu.cuStreamCreateWithPriority(&s, 0, 0);
    cu.cuEventRecord(e, s);
    cu.cuCtxSynchronize();
    cu.cuCtxSetCurrent(context[1]);
    cu.cuEventCreate(&f, 0);
    cu.cuEventRecord(f, NULL);
    cu.cuCtxSynchronize();
    PROBE("elapsed_across_devices", cu.cuEventElapsedTime(&ms, e, f));
    PROBE("record_on_other_device", cu.cuEventRecord(f, s));
    PROBE("wait_on_other_device", cu.cuStreamWaitEvent(s, f, 0));
    PROBE("elapsed_of_other_device", cu.cuEventElapsedTime(&ms, e, e));
    PROBE("launch_of_other_device", launch(kernel(1, "nop"), 1, 1, s, NULL));
    PROBE("launch_on_own", launch(kernel(0, "nop"), 1, 1, s, NULL));
    PROBE("stream_of_other_device", cu.cuStreamSynchronize(s));
}

/* --- host functions --- */

static int inside_answer;
static void *host_stream, *idle_one, *old_event, *host_kernel;
/* clang-format off */
#define INSIDE(X) \
    X(version, cu.cuDriverGetVersion(&n)) X(error_name, cu.cuGetErrorName(1, &text)) \
    X(init, cu.cuInit(0)) \
    X(init_1, cu.cuInit(1)) \
    X(current, cu.cuCtxGetCurrent(&object)) \
    X(device, cu.cuDeviceGet(&n, 0)) X(count, cu.cuDeviceGetCount(&n)) \
    X(attribute, cu.cuDeviceGetAttribute(&n, 1, 0)) \
    X(set_current, cu.cuCtxSetCurrent(context[0])) \
    X(context_device, cu.cuCtxGetDevice(&n)) X(event, cu.cuEventCreate(&object, 0)) \
    X(event_query, cu.cuEventQuery(old_event)) \
    X(event_query_null, cu.cuEventQuery(NULL)) X(event_sync, cu.cuEventSynchronize(old_event)) \
    X(record, cu.cuEventRecord(old_event, idle_one)) \
    X(elapsed, cu.cuEventElapsedTime(&ms, old_event, old_event)) \
    X(stream_query, cu.cuStreamQuery(host_stream)) \
    X(idle_query, cu.cuStreamQuery(idle_one)) \
    X(null_stream_query, cu.cuStreamQuery(NULL)) X(own_stream_query, cu.cuStreamQuery((void *)2)) \
    X(idle_sync, cu.cuStreamSynchronize(idle_one)) \
    X(wait_event, cu.cuStreamWaitEvent(idle_one, old_event, 0)) \
    X(stream_flags, cu.cuStreamGetFlags(idle_one, (unsigned *)&n)) \
    X(launch, launch(host_kernel, 1, 1, idle_one, NULL)) \
    X(host_function, cu.cuLaunchHostFunc(idle_one, do_nothing, NULL)) \
    X(free_0, cu.cuMemFree_v2(0)) X(alloc, cu.cuMemAlloc_v2(&p, 64)) \
    X(fill, cu.cuMemsetD8Async(memory[0], 0, 4, idle_one)) \
    X(copy_0, cu.cuMemcpyHtoD_v2(memory[0], NULL, 0)) \
    X(pointer, cu.cuPointerGetAttribute(&n, 2, memory[0])) \
    X(function, cu.cuModuleGetFunction(&object, module[0], "nop")) \
    X(get_attribute, cu.cuFuncGetAttribute(&n, 0, host_kernel))
/* clang-format on */
static void do_nothing(void *unused) { (void)unused; }
#define CALL_INSIDE(name, call) \
    static void inside_##name(void *unused) { \
        void *object = NULL; \
        const char *text = NULL; \
        int n = 0; \
        float ms = 0; \
        ptr p = 0; \
        inside_answer = call; \
        (void)unused; \
        (void)object; \
        (void)text; \
        (void)n; \
        (void)ms; \
        (void)p; \
    }
INSIDE(CALL_INSIDE)
static int answer_inside(void (*function)(void *)) {
    inside_answer = -1;
    cu.cuStreamSynchronize(idle_one); /* for the work that an earlier function queued there */
    cu.cuLaunchHostFunc(host_stream, function, NULL);
    cu.cuStreamSynchronize(host_stream);
    return inside_answer;
}
static void host_functions(void) {
    open_one();
    cu.cuStreamCreateWithPriority(&host_stream, 1, 0);
    cu.cuStreamCreateWithPriority(&idle_one, 1, 0);
    cu.cuEventCreate(&old_event, 0);
    cu.cuEventRecord(old_event, idle_one);
    cu.cuStreamSynchronize(idle_one);
    host_kernel = kernel(0, "nop");
    PROBE("null", cu.cuLaunchHostFunc(host_stream, NULL, NULL));
    PROBE("null_on_null", cu.cuLaunchHostFunc(NULL, NULL, NULL));
#define PROBE_INSIDE(name, call) PROBE("inside_" #name, answer_inside(inside_##name));
    INSIDE(PROBE_INSIDE)
    PROBE("sync", cu.cuCtxSynchronize());
    cu.cuCtxSetCurrent(NULL);
    PROBE("null_without", cu.cuLaunchHostFunc(NULL, NULL, NULL));
    PROBE("without", cu.cuLaunchHostFunc(NULL, do_nothing, NULL));
    PROBE("on_stream_without", cu.cuLaunchHostFunc(host_stream, do_nothing, NULL));
    PROBE("sync_without", cu.cuStreamSynchronize(host_stream));
}

/* --- stale handles. Those of streams and events are not probed: a GPU's driver crashes on most of
   them. --- */

static void *gone_context(void) {
    void *c = NULL;
    cu.cuCtxCreate_v2(&c, 0, 0);
    cu.cuCtxDestroy_v2(c);
    cu.cuCtxSetCurrent(context[0]);
    return c;
}
static void *gone_module(void **function) {
    void *m = NULL;
    cu.cuModuleLoadData(&m, module_text);
    if (function) cu.cuModuleGetFunction(function, m, "nop");
    cu.cuModuleUnload(m);
    return m;
}

static int launch_gone(void) {
    void *f = NULL;
    gone_module(&f);
    return launch(f, 1, 1, NULL, NULL);
}

static int attribute_of_gone(void) {
    void *f = NULL;
    int value;
    gone_module(&f);
    return cu.cuFuncGetAttribute(&value, 0, f);
}

static void gone(void) {
    unsigned version;
    unsigned long long id;
    void *f = NULL;
    open_one();
    PROBE("context_version", cu.cuCtxGetApiVersion(gone_context(), &version));
    PROBE("context_id", cu.cuCtxGetId(gone_context(), &id));
    PROBE("context_peer", cu.cuCtxEnablePeerAccess(gone_context(), 0));
    PROBE("module_function", cu.cuModuleGetFunction(&f, gone_module(NULL), "nop"));
    PROBE("module_unload", cu.cuModuleUnload(gone_module(NULL)));
    PROBE("function_attribute", attribute_of_gone());
    PROBE("function_launch", launch_gone());
}

/* Objects of a destroyed context. */
static struct {
    void *context, *stream, *event, *module, *function, *host;
    ptr memory;
} left;
static int leave(void) {
    int result;
    cu.cuCtxCreate_v2(&left.context, 0, 0);
    cu.cuStreamCreateWithPriority(&left.stream, 0, 0);
    cu.cuEventCreate(&left.event, 0);
    cu.cuEventRecord(left.event, left.stream);
    cu.cuModuleLoadData(&left.module, module_text);
    cu.cuModuleGetFunction(&left.function, left.module, "nop");
    cu.cuMemHostAlloc(&left.host, 64, 0);
    cu.cuMemAlloc_v2(&left.memory, 64);
    result = cu.cuCtxDestroy_v2(left.context);
    cu.cuCtxSetCurrent(context[0]);
    return result;
}
static void left_behind(void) {
    unsigned type = 0;
    float ms = 0;
    open_one();
    PROBE("destroy", leave());
    PROBE("memory_pointer", (leave(), cu.cuPointerGetAttribute(&type, 2, left.memory)));
    PROBE("memory_fill", (leave(), cu.cuMemsetD8Async(left.memory, 0, 4, NULL)));
    PROBE("memory_free", (leave(), cu.cuMemFree_v2(left.memory)));
    PROBE("pinned_pointer",
            (leave(), cu.cuPointerGetAttribute(&type, 2, (ptr)(uintptr_t)left.host)));
    PROBE("pinned_free", (leave(), cu.cuMemFreeHost(left.host)));
    PROBE("event_query", (leave(), cu.cuEventQuery(left.event)));
    PROBE("event_sync", (leave(), cu.cuEventSynchronize(left.event)));
    PROBE("event_record", (leave(), cu.cuEventRecord(left.event, NULL)));
    PROBE("event_wait", (leave(), cu.cuStreamWaitEvent(NULL, left.event, 0)));
    PROBE("event_elapsed", (leave(), cu.cuEventElapsedTime(&ms, left.event, left.event)));
    PROBE("event_destroy", (leave(), cu.cuEventDestroy_v2(left.event)));
    PROBE("function_launch", (leave(), launch(left.function, 1, 1, NULL, NULL)));
}

/* ---- attributes ---- */

/* The bytes of the window that the graph's one node has. */
static int node_window(void *graph) {
    attribute_value v;
    void *node = NULL;
    size_t n = 1;
    memset(&v, 0, sizeof v);
    if (cu.cuGraphGetNodes(graph, &node, &n) || !n) return -1;
    return cu.cuGraphKernelNodeGetAttribute(node, 1, &v) ? -2 : (int)v.window.bytes;
}
static int set_attribute(void *stream, int id, int number) {
    attribute_value v;
    memset(&v, 0, sizeof v);
    v.flag = number;
    return cu.cuStreamSetAttribute(stream, id, &v);
}
static void stream_attributes(void) {
    char question[40];
    attribute_value v;
    void *s = NULL, *graph = NULL;
    int i, result, k;
    cu.cuInit(0);
    memset(&v, 0, sizeof v);
    PROBE("set_without", set_attribute(NULL, 3, 1));
    PROBE("get_without", cu.cuStreamGetAttribute(NULL, 3, &v));
    open_one();
    cu.cuStreamCreateWithPriority(&s, 1, -1);
    for (k = 0; k < 3; k++)
        for (i = 0; i <= 17; i++) {
            void *const on = k == 2 ? s : (void *)(uintptr_t)(k + 1);
            if (k < 2 && i != 1 && i != 3 && i != 8 && i != 9 && i != 10) continue;
            snprintf(question, sizeof question, "get_%d_%d", k, i);
            if (skipped(question)) continue;
            memset(&v, 0, sizeof v);
            result = cu.cuStreamGetAttribute(on, i, &v);
            answer(question, "%d %d", result, v.flag);
        }
    for (i = 0; i <= 17; i++) {
        snprintf(question, sizeof question, "set_%d", i);
        if (i != 7 && i != 12 && i != 13) PROBE(question, set_attribute(s, i, 0));
    }
    for (i = 1; i <= 5; i++) {
        snprintf(question, sizeof question, "wait_%d", i);
        PROBE(question, set_attribute(s, 3, i));
    }
    PROBE("wait_is", (cu.cuStreamGetAttribute(s, 3, &v), v.flag));
    PROBE("domain_1", set_attribute(s, 10, 1));
    PROBE("domain_2", set_attribute(s, 10, 2));
    PROBE("priority_-3", set_attribute(s, 8, -3));
    PROBE("priority_is", (cu.cuStreamGetAttribute(s, 8, &v), v.flag));
    PROBE("priority_-99", set_attribute(s, 8, -99));
    PROBE("priority_-99_is", (cu.cuStreamGetAttribute(s, 8, &v), v.flag));
    PROBE("priority_queried", (i = 77, cu.cuStreamGetPriority(s, &i), i));
    PROBE("priority_5", set_attribute(s, 8, 5));
    memset(&v, 0, sizeof v);
    v.window.address = memory[0];
    v.window.bytes = 64;
    v.window.ratio = 1;
    v.window.hit = 2;
    PROBE("window", cu.cuStreamSetAttribute(s, 1, &v));
    memset(&v, 0, sizeof v);
    PROBE("window_get", cu.cuStreamGetAttribute(s, 1, &v));
    PROBE("window_bytes", (int)v.window.bytes);
    PROBE("window_hit", v.window.hit);
    PROBE("window_of_per_thread", cu.cuStreamSetAttribute((void *)2, 1, &v));
    PROBE("window_of_legacy", cu.cuStreamSetAttribute(NULL, 1, &v));
    PROBE("set_null", cu.cuStreamSetAttribute(s, 1, NULL));
    PROBE("get_null", cu.cuStreamGetAttribute(s, 1, NULL));
    PROBE("begin", cu.cuStreamBeginCapture_v2(s, 2));
    PROBE("captured_set", set_attribute(s, 3, 1));
    PROBE("captured_get", cu.cuStreamGetAttribute(s, 3, &v));
    PROBE("captured_launch", launch(kernel(0, "nop"), 1, 1, s, NULL));
    PROBE("end", cu.cuStreamEndCapture(s, &graph));
    PROBE("nodes_window", node_window(graph));
}

const group stream_groups[] = {
    { "stream", streams, 1 },
    { "stream_order", stream_order, 1 },
    { "event_again", event_again, 1 },
    { "events", events, 1 },
    { "events_two", events_two, 2 },
    { "host_function", host_functions, 1 },
    { "gone", gone, 1 },
    { "left", left_behind, 1 },
    { "stream_attribute", stream_attributes, 1 },
    { NULL, NULL, 0 },
};
