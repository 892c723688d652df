/* streams.c - streams, the order between them, host functions, events; stale handles. */
#include "probe.h"

static void streams(void) {
    void    *s = NULL, *c = NULL;
    unsigned flags;
    int      priority;
    cu.init(0);
    PROBE("to_null_without", cu.stream(NULL, 0, 0));
    PROBE("bad_flags_without", cu.stream(&s, 2, 0));
    PROBE("query_without", cu.stream_query(NULL));
    PROBE("query_1_without", cu.stream_query((void *)1));
    PROBE("query_2_without", cu.stream_query((void *)2));
    PROBE("sync_without", cu.stream_sync(NULL));
    PROBE("context_without", cu.stream_context(NULL, &c));
    PROBE("flags_without", cu.stream_flags(NULL, &flags));
    PROBE("wait_without", cu.wait_event(NULL, NULL, 0));
    PROBE("wait_without_bad_flags", cu.wait_event(NULL, NULL, 8));
    PROBE("destroy_null_without", cu.stream_destroy(NULL));
    open_one();
    PROBE("to_null", cu.stream(NULL, 0, 0));
    PROBE("to_null_bad_flags", cu.stream(NULL, 2, 0));
    PROBE("flags_2", cu.stream(&s, 2, 0));
    PROBE("flags_3", cu.stream(&s, 3, 0));
    PROBE("flags_high", cu.stream(&s, 0x80000000u, 0));
    PROBE("destroy_null", cu.stream_destroy(NULL));
    PROBE("destroy_1", cu.stream_destroy((void *)1));
    for (priority = 5; priority >= -8; priority -= priority > -4 ? 9 : 1) {
        char question[40];
        int  got = 77, result;
        snprintf(question, sizeof question, "priority_%d", priority);
        if (skipped(question)) continue;
        result = cu.stream(&s, 0, priority);
        cu.stream_priority(s, &got);
        answer(question, "%d %d", result, got);
    }
    for (priority = 0; priority <= 2; priority++) {
        char question[40];
        int  got = 77, result[3];
        c = NULL;
        flags = 77;
        result[0] = cu.stream_flags((void *)(intptr_t)priority, &flags);
        result[1] = cu.stream_priority((void *)(intptr_t)priority, &got);
        result[2] = cu.stream_context((void *)(intptr_t)priority, &c);
        snprintf(question, sizeof question, "handle_%d", priority);
        answer(question, "%d %u %d %d %d %d", result[0], flags, result[1], got, result[2], c == context[0]);
    }
    PROBE("flags_to_null", cu.stream_flags(NULL, NULL));
    PROBE("priority_to_null", cu.stream_priority(NULL, NULL));
    PROBE("context_to_null", cu.stream_context(s, NULL));
    PROBE("context_of_null_to_null", cu.stream_context(NULL, NULL));
    PROBE("wait_null", cu.wait_event(s, NULL, 0));
    PROBE("wait_null_bad_flags", cu.wait_event(s, NULL, 8));
    PROBE("wait_null_external", cu.wait_event(s, NULL, 1));
    cu.event(&c, 0);
    PROBE("wait_unrecorded", cu.wait_event(s, c, 0));
    PROBE("wait_external", cu.wait_event(s, c, 1));
    PROBE("wait_flags_2", cu.wait_event(s, c, 2));
    cu.record(c, s);
    PROBE("wait_recorded_external", cu.wait_event(s, c, 1));
    PROBE("wait_recorded_flags_2", cu.wait_event(s, c, 2));
    PROBE("wait_on_legacy", cu.wait_event((void *)1, c, 0));
    PROBE("wait_on_own", cu.wait_event(s, c, 0));
    PROBE("destroy", cu.stream_destroy(s));
    PROBE("wait_for_destroyed", cu.wait_event(NULL, c, 0));
    PROBE("sync", cu.sync());
    PROBE("event_of_destroyed", cu.event_query(c));
}

/* a and b are blocking streams, n is not. The kernel spins on one of them: which others are ready, and which wait? */
static void stream_order(void) {
    void *a = NULL, *b = NULL, *n = NULL, *e = NULL, *f = NULL, *nop, *spin;
    gate  g;
    open_one();
    nop = kernel(0, "nop");
    spin = kernel(0, "spin");
    g = make_gate();
    cu.stream(&a, 0, 0);
    cu.stream(&b, 0, 0);
    cu.stream(&n, 1, 0);
    cu.event(&e, 2);
    cu.event(&f, 2);
    PROBE("spin_on_a", close_gate(g, spin, a));
    PROBE("a", cu.stream_query(a));
    PROBE("b", cu.stream_query(b));
    PROBE("n", cu.stream_query(n));
    PROBE("legacy", cu.stream_query(NULL));
    PROBE("legacy_1", cu.stream_query((void *)1));
    PROBE("own", cu.stream_query((void *)2));
    cu.record(e, NULL);
    PROBE("event_on_legacy", cu.event_query(e));
    cu.record(f, n);
    UNTIL(cu.event_query(f) != 600);
    PROBE("event_on_n", cu.event_query(f));
    PROBE("b_after_legacy", cu.stream_query(b));
    launch(nop, 1, 1, b, NULL);
    wrong_time();
    PROBE("b_with_work", cu.stream_query(b));
    UNTIL(cu.stream_query(n) != 600);
    PROBE("n_after_all", cu.stream_query(n));
    PROBE("n_waits_for_e", cu.wait_event(n, e, 0));
    PROBE("n_then", cu.stream_query(n));
    cu.record(f, n);
    PROBE("event_behind_e", cu.event_query(f));
    open_gate(g);
    PROBE("sync", cu.sync());
    PROBE("all_done", cu.event_query(f));

    PROBE("spin_on_legacy", close_gate(g, spin, NULL));
    PROBE("legacy_busy", cu.stream_query(NULL));
    PROBE("a_beside_legacy", cu.stream_query(a));
    launch(nop, 1, 1, a, NULL);
    wrong_time();
    PROBE("a_with_work", cu.stream_query(a));
    launch(nop, 1, 1, n, NULL);
    PROBE("n_sync", cu.stream_sync(n));
    launch(nop, 1, 1, (void *)2, NULL);
    wrong_time();
    PROBE("own_with_work", cu.stream_query((void *)2));
    open_gate(g);
    PROBE("sync_again", cu.sync());

    PROBE("spin_on_own", close_gate(g, spin, (void *)2));
    PROBE("legacy_beside_own", cu.stream_query(NULL));
    PROBE("own_busy", cu.stream_query((void *)2));
    open_gate(g);
    cu.sync();
    PROBE("spin_on_n", close_gate(g, spin, n));
    PROBE("legacy_beside_n", cu.stream_query(NULL));
    PROBE("a_waits_for_n", (cu.record(e, n), cu.wait_event(a, e, 0)));
    PROBE("a_then", cu.stream_query(a));
    PROBE("legacy_behind_a", cu.stream_query(NULL));
    cu.record(e, b);                                 /* records e again: a wait for the earlier record still waits */
    wrong_time();
    PROBE("a_still", cu.stream_query(a));
    open_gate(g);
    cu.sync();

    PROBE("spin_to_destroy", close_gate(g, spin, a));
    cu.record(e, a);
    PROBE("destroy_busy", cu.stream_destroy(a));
    PROBE("event_of_it", cu.event_query(e));
    PROBE("legacy_behind_it", cu.stream_query(NULL));
    launch(nop, 1, 1, NULL, NULL);
    wrong_time();
    PROBE("legacy_work_behind_it", cu.stream_query(NULL));
    open_gate(g);
    PROBE("sync_with_it", cu.sync());
    PROBE("event_then", cu.event_query(e));
}

/* An event keeps its most recent record. */
static void event_again(void) {
    void *s = NULL, *t = NULL, *e = NULL, *old = NULL;
    float ms = -1;
    gate  g;
    open_one();
    g = make_gate();
    cu.stream(&s, 1, 0);
    cu.stream(&t, 1, 0);
    cu.event(&e, 0);
    cu.event(&old, 0);
    cu.record(old, t);
    cu.record(e, t);
    cu.stream_sync(t);
    PROBE("done", cu.event_query(e));
    PROBE("elapsed_of_one", cu.elapsed(&ms, e, e));
    answer("elapsed_is_0", "%d", ms <= 0 && ms >= 0);
    PROBE("elapsed_back", cu.elapsed(&ms, e, old));
    answer("elapsed_back_not_positive", "%d", ms <= 0);
    close_gate(g, kernel(0, "spin"), s);
    cu.record(e, s);
    PROBE("again", cu.event_query(e));
    PROBE("elapsed_anew", cu.elapsed(&ms, old, e));
    PROBE("elapsed_anew_to_null", cu.elapsed(NULL, old, e));
    cu.record(e, t);
    cu.stream_sync(t);
    PROBE("done_on_t", cu.event_query(e));
    PROBE("destroy_busy_event", (cu.record(e, s), cu.event_destroy(e)));
    open_gate(g);
    PROBE("sync", cu.sync());
}

static void events(void) {
    static const unsigned all[] = { 1, 2, 3, 5, 6, 7, 8, 16, 0x80000000u };
    void    *e = NULL, *f = NULL, *timeless = NULL, *never = NULL, *other = NULL, *theirs = NULL;
    float    ms = 0;
    unsigned i;
    cu.init(0);
    PROBE("to_null_without", cu.event(NULL, 0));
    PROBE("bad_flags_without", cu.event(&e, 8));
    PROBE("query_null_without", cu.event_query(NULL));
    PROBE("record_null_without", cu.record(NULL, NULL));
    open_one();
    PROBE("to_null", cu.event(NULL, 0));
    PROBE("to_null_bad_flags", cu.event(NULL, 8));
    for (i = 0; i < COUNT(all); i++) {
        char question[40];
        snprintf(question, sizeof question, "flags_%x", all[i]);
        PROBE(question, cu.event(&e, all[i]));
    }
    PROBE("destroy_null", cu.event_destroy(NULL));
    PROBE("query_null", cu.event_query(NULL));
    PROBE("sync_null", cu.event_sync(NULL));
    PROBE("record_null", cu.record(NULL, NULL));
    cu.event(&e, 0);
    cu.event(&f, 0);
    cu.event(&never, 0);
    cu.event(&timeless, 2);
    PROBE("elapsed_null_events", cu.elapsed(&ms, NULL, NULL));
    PROBE("elapsed_all_null", cu.elapsed(NULL, NULL, NULL));
    PROBE("elapsed_null_end", cu.elapsed(&ms, e, NULL));
    PROBE("elapsed_to_null_unrecorded", cu.elapsed(NULL, e, f));
    PROBE("elapsed_to_null_timeless", cu.elapsed(NULL, timeless, f));
    cu.record(e, NULL);
    cu.record(f, NULL);
    cu.record(timeless, NULL);
    cu.sync();
    PROBE("elapsed_to_null", cu.elapsed(NULL, e, f));
    PROBE("elapsed", cu.elapsed(&ms, e, f));
    PROBE("elapsed_from_never", cu.elapsed(&ms, never, f));
    PROBE("elapsed_to_never", cu.elapsed(&ms, e, never));
    PROBE("elapsed_timeless_never", cu.elapsed(&ms, timeless, never));
    cu.create(&other, 0, 0);
    cu.event(&theirs, 0);
    PROBE("record_in_other_context", cu.record(e, NULL));
    PROBE("record_theirs", cu.record(theirs, NULL));
    PROBE("record_by_1", cu.record(theirs, (void *)1));
    PROBE("record_by_2", cu.record(theirs, (void *)2));
    cu.sync();
    PROBE("elapsed_across_contexts", cu.elapsed(&ms, e, theirs));
    PROBE("wait_across_contexts", cu.wait_event(NULL, e, 0));
    PROBE("query_of_other_context", cu.event_query(e));
    PROBE("destroy_of_other_context", cu.event_destroy(e));
    cu.pop(&other);
    cu.set_current(NULL);
    PROBE("record_without", cu.record(f, NULL));
    PROBE("record_without_null_event", cu.record(NULL, NULL));
    PROBE("wait_on_null_without", cu.wait_event(NULL, f, 0));
    PROBE("elapsed_without", cu.elapsed(&ms, f, f));
    PROBE("destroy_without", cu.event_destroy(f));
}

static void events_two(void) {
    void *e = NULL, *f = NULL, *s = NULL;
    float ms = 0;
    open_all();
    cu.event(&e, 0);
    cu.stream(&s, 0, 0);
    cu.record(e, s);
    cu.sync();
    cu.set_current(context[1]);
    cu.event(&f, 0);
    cu.record(f, NULL);
    cu.sync();
    PROBE("elapsed_across_devices", cu.elapsed(&ms, e, f));
    PROBE("record_on_other_device", cu.record(f, s));
    PROBE("wait_on_other_device", cu.wait_event(s, f, 0));
    PROBE("elapsed_of_other_device", cu.elapsed(&ms, e, e));
    PROBE("launch_of_other_device", launch(kernel(1, "nop"), 1, 1, s, NULL));
    PROBE("launch_on_own", launch(kernel(0, "nop"), 1, 1, s, NULL));
    PROBE("stream_of_other_device", cu.stream_sync(s));
}

/* --- host functions --- */

static int   inside_answer;
static void *host_stream, *idle_one, *old_event, *host_kernel;
#define INSIDE(X) \
    X(version, cu.version(&n)) X(error_name, cu.error_name(1, &text)) X(init, cu.init(0)) X(init_1, cu.init(1)) \
    X(current, cu.current(&object)) \
    X(device, cu.device(&n, 0)) X(count, cu.count(&n)) X(attribute, cu.attribute(&n, 1, 0)) \
    X(set_current, cu.set_current(context[0])) \
    X(context_device, cu.context_device(&n)) X(event, cu.event(&object, 0)) X(event_query, cu.event_query(old_event)) \
    X(event_query_null, cu.event_query(NULL)) X(event_sync, cu.event_sync(old_event)) \
    X(record, cu.record(old_event, idle_one)) \
    X(elapsed, cu.elapsed(&ms, old_event, old_event)) X(stream_query, cu.stream_query(host_stream)) \
    X(idle_query, cu.stream_query(idle_one)) \
    X(null_stream_query, cu.stream_query(NULL)) X(own_stream_query, cu.stream_query((void *)2)) \
    X(idle_sync, cu.stream_sync(idle_one)) \
    X(wait_event, cu.wait_event(idle_one, old_event, 0)) X(stream_flags, cu.stream_flags(idle_one, (unsigned *)&n)) \
    X(launch, launch(host_kernel, 1, 1, idle_one, NULL)) \
    X(host_function, cu.host_function(idle_one, do_nothing, NULL)) \
    X(free_0, cu.free(0)) X(alloc, cu.alloc(&p, 64)) X(fill, cu.fill_8(memory[0], 0, 4, idle_one)) \
    X(copy_0, cu.to_device(memory[0], NULL, 0)) \
    X(pointer, cu.pointer(&n, 2, memory[0])) X(function, cu.function(&object, module[0], "nop")) \
    X(get_attribute, cu.get_attribute(&n, 0, host_kernel))
static void do_nothing(void *unused) { (void)unused; }
#define CALL_INSIDE(name, call) \
    static void inside_##name(void *unused) { \
        void *object = NULL; \
        const char *text = NULL; \
        int   n = 0; \
        float ms = 0; \
        ptr   p = 0; \
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
    cu.stream_sync(idle_one);                        /* for the work that an earlier function queued there */
    cu.host_function(host_stream, function, NULL);
    cu.stream_sync(host_stream);
    return inside_answer;
}
static void host_functions(void) {
    open_one();
    cu.stream(&host_stream, 1, 0);
    cu.stream(&idle_one, 1, 0);
    cu.event(&old_event, 0);
    cu.record(old_event, idle_one);
    cu.stream_sync(idle_one);
    host_kernel = kernel(0, "nop");
    PROBE("null", cu.host_function(host_stream, NULL, NULL));
    PROBE("null_on_null", cu.host_function(NULL, NULL, NULL));
#define PROBE_INSIDE(name, call) PROBE("inside_" #name, answer_inside(inside_##name));
    INSIDE(PROBE_INSIDE)
    PROBE("sync", cu.sync());
    cu.set_current(NULL);
    PROBE("null_without", cu.host_function(NULL, NULL, NULL));
    PROBE("without", cu.host_function(NULL, do_nothing, NULL));
    PROBE("on_stream_without", cu.host_function(host_stream, do_nothing, NULL));
    PROBE("sync_without", cu.stream_sync(host_stream));
}

/* --- stale handles. Those of streams and events are not probed: a GPU's driver crashes on most of them. --- */

static void *gone_context(void) {
    void *c = NULL;
    cu.create(&c, 0, 0);
    cu.destroy(c);
    cu.set_current(context[0]);
    return c;
}
static void *gone_module(void **function) {
    void *m = NULL;
    cu.load(&m, module_text);
    if (function) cu.function(function, m, "nop");
    cu.unload(m);
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
    return cu.get_attribute(&value, 0, f);
}

static void gone(void) {
    unsigned version;
    unsigned long long id;
    void    *f = NULL;
    open_one();
    PROBE("context_version", cu.api_version(gone_context(), &version));
    PROBE("context_id", cu.context_id(gone_context(), &id));
    PROBE("context_peer", cu.enable_peer(gone_context(), 0));
    PROBE("module_function", cu.function(&f, gone_module(NULL), "nop"));
    PROBE("module_unload", cu.unload(gone_module(NULL)));
    PROBE("function_attribute", attribute_of_gone());
    PROBE("function_launch", launch_gone());
}

/* Objects of a destroyed context. */
static struct { void *context, *stream, *event, *module, *function, *host; ptr memory; } left;
static int leave(void) {
    int result;
    cu.create(&left.context, 0, 0);
    cu.stream(&left.stream, 0, 0);
    cu.event(&left.event, 0);
    cu.record(left.event, left.stream);
    cu.load(&left.module, module_text);
    cu.function(&left.function, left.module, "nop");
    cu.host_alloc(&left.host, 64, 0);
    cu.alloc(&left.memory, 64);
    result = cu.destroy(left.context);
    cu.set_current(context[0]);
    return result;
}
static void left_behind(void) {
    unsigned type = 0;
    float    ms = 0;
    open_one();
    PROBE("destroy", leave());
    PROBE("memory_pointer", (leave(), cu.pointer(&type, 2, left.memory)));
    PROBE("memory_fill", (leave(), cu.fill_8(left.memory, 0, 4, NULL)));
    PROBE("memory_free", (leave(), cu.free(left.memory)));
    PROBE("pinned_pointer", (leave(), cu.pointer(&type, 2, (ptr)(uintptr_t)left.host)));
    PROBE("pinned_free", (leave(), cu.host_free(left.host)));
    PROBE("event_query", (leave(), cu.event_query(left.event)));
    PROBE("event_sync", (leave(), cu.event_sync(left.event)));
    PROBE("event_record", (leave(), cu.record(left.event, NULL)));
    PROBE("event_wait", (leave(), cu.wait_event(NULL, left.event, 0)));
    PROBE("event_elapsed", (leave(), cu.elapsed(&ms, left.event, left.event)));
    PROBE("event_destroy", (leave(), cu.event_destroy(left.event)));
    PROBE("function_launch", (leave(), launch(left.function, 1, 1, NULL, NULL)));
}

const group stream_groups[] = {
    { "stream", streams, 1 }, { "stream_order", stream_order, 1 }, { "event_again", event_again, 1 },
    { "events", events, 1 }, { "events_two", events_two, 2 }, { "host_function", host_functions, 1 },
    { "gone", gone, 1 }, { "left", left_behind, 1 }, { NULL, NULL, 0 }
};
