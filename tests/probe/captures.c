/* captures.c - stream captures, the graphs that they make, launching and updating these. */
#include "probe.h"

/* What the calls of the table work on. s captures, t does not; `outer` was recorded on t before, `inner` on s in the
   capture. */
static struct {
    void    *s, *t, *outer, *inner, *nop, *store, *module, *exec, *graph;
    ptr      before, allocated;                  /* before: allocated in stream order before the capture */
    void    *pinned, *host;
    int      mode;
} now;
static uint32_t pageable[64];

static void nothing(void *user) { (void)user; }
static void nothing_called(void *stream, int result, void *user) {
    (void)stream;
    (void)result;
    (void)user;
}
static int work_on(void *stream) { return launch(now.nop, 1, 1, stream, NULL); }
static int on_a_thread_result;
static void end_there(void) {
    void *graph = NULL;
    on_a_thread_result = cu.end_capture(now.s, &graph);
}
static void alloc_there(void) {
    ptr p;
    on_a_thread_result = cu.alloc(&p, 64);
}
static void sync_there(void) { on_a_thread_result = cu.stream_sync(now.t); }
static void launch_there(void) { on_a_thread_result = work_on(now.s); }
static void begin_there(void) { on_a_thread_result = cu.begin_capture(now.t, now.mode); }
static int there(void (*run)(void)) {
    on_a_thread_result = 77;
    in_thread(run);
    return on_a_thread_result;
}
static int any_ints[2];
static size_t any_sizes[2];
static void *any_pointers[9];
static ptr any_address;
static unsigned any_unsigned;
static float any_float;

static int copy_2d_to(void *stream) {
    copy_2d c;
    memset(&c, 0, sizeof c);
    c.from_type = HOST;
    c.from_host = pageable;
    c.from_pitch = c.to_pitch = 16;
    c.to_type = DEVICE;
    c.to_device = memory[0];
    c.width = 16;
    c.height = 4;
    return cu.copy_2d(&c, stream);
}
static int link_empty(void) {
    void *state = NULL;
    int   result = cu.link_create(0, NULL, NULL, &state);
    if (result == 0) cu.link_destroy(state);
    return result;
}
static int swap_mode(void) {
    int result, mode = 2;
    result = cu.exchange_mode(&mode);
    cu.exchange_mode(&mode);
    return 10 * result + mode;
}
static int create_and_pop(void) {
    int result = cu.create(&any_pointers[0], 0, 0);
    if (result == 0) cu.pop(&any_pointers[1]);
    return result;
}
static int push_and_pop(void) {
    int result = cu.push(context[0]);
    return result ? result : cu.pop(&any_pointers[0]);
}
static int fork_and_join(void) {
    int result = cu.wait_event(now.t, now.inner, 0);
    if (!result) result = work_on(now.t);
    if (!result) result = cu.record(now.inner, now.t);
    return result ? result : cu.wait_event(now.s, now.inner, 0);
}
static int destroy_other(void) {
    int result = cu.stream_destroy(now.t);
    cu.stream(&now.t, 1, 0);
    return result;
}
static int destroy_forked(void) {                /* while it takes part in the capture */
    int result = cu.wait_event(now.t, now.inner, 0);
    return result ? result : destroy_other();
}
static int fork_twice_joined_once(void) {
    int result = cu.wait_event(now.t, now.inner, 0);
    if (!result) result = work_on(now.t);
    if (!result) result = cu.record(now.inner, now.t);
    if (!result) result = cu.wait_event(now.s, now.inner, 0);
    return result ? result : work_on(now.t);
}

/* Each: what it is called, the call. */
#define TABLE(X) \
    X(nothing, 0) \
    X(launch, work_on(now.s)) X(launch_other, work_on(now.t)) X(launch_legacy, work_on(NULL)) \
    X(launch_legacy_1, work_on((void *)1)) X(launch_per_thread, work_on((void *)2)) \
    X(launch_cooperative, cu.cooperative(now.nop, 1, 1, 1, 1, 1, 1, 0, now.s, NULL)) \
    X(launch_too_large, launch(now.nop, 1, 2000, now.s, NULL)) \
    X(host_function, cu.host_function(now.s, nothing, NULL)) \
    X(callback, cu.add_callback(now.s, nothing_called, NULL, 0)) \
    X(wait_value, cu.wait_value(now.s, memory[0], 0, 0)) X(write_value, cu.write_value(now.s, memory[0], 1, 0)) \
    X(copy_in_pageable, cu.to_device_async(memory[0], pageable, 64, now.s)) \
    X(copy_in_pinned, cu.to_device_async(memory[0], now.pinned, 64, now.s)) \
    X(copy_out_pageable, cu.to_host_async(pageable, memory[0], 64, now.s)) \
    X(copy_out_pinned, cu.to_host_async(now.pinned, memory[0], 64, now.s)) \
    X(copy_device, cu.copy_async(memory[0], memory[0] + 1024, 64, now.s)) \
    X(copy_wild, cu.copy_async(16, memory[0], 64, now.s)) \
    X(copy_0, cu.copy_async(memory[0], memory[0] + 64, 0, now.s)) \
    X(copy_2d, copy_2d_to(now.s)) X(copy_other, cu.copy_async(memory[0], memory[0] + 1024, 64, now.t)) \
    X(copy_in_now, cu.to_device(memory[0], pageable, 64)) X(copy_out_now, cu.to_host(pageable, memory[0], 64)) \
    X(copy_device_now, cu.copy(memory[0], memory[0] + 1024, 64)) X(fill_now, cu.fill_32_now(memory[0], 0, 4)) \
    X(fill, cu.fill_32(memory[0], 0, 4, now.s)) X(fill_0, cu.fill_32(memory[0], 0, 0, now.s)) \
    X(fill_2d, cu.fill_2d(memory[0], 64, 0, 4, 4, now.s)) \
    X(sync, cu.stream_sync(now.s)) X(sync_other, cu.stream_sync(now.t)) X(sync_legacy, cu.stream_sync(NULL)) \
    X(sync_context, cu.sync()) X(query, cu.stream_query(now.s)) X(query_other, cu.stream_query(now.t)) \
    X(query_legacy, cu.stream_query(NULL)) \
    X(event_query_inner, cu.event_query(now.inner)) X(event_sync_inner, cu.event_sync(now.inner)) \
    X(event_query_outer, cu.event_query(now.outer)) X(event_sync_outer, cu.event_sync(now.outer)) \
    X(elapsed_inner, cu.elapsed(&any_float, now.outer, now.inner)) \
    X(record_outer_other, cu.record(now.outer, now.t)) X(record_inner_other, cu.record(now.inner, now.t)) \
    X(record_outer, cu.record(now.outer, now.s)) X(record_external, cu.record_with(now.outer, now.s, 1)) \
    X(record_legacy, cu.record(now.outer, NULL)) \
    X(wait_outer, cu.wait_event(now.s, now.outer, 0)) X(wait_outer_external, cu.wait_event(now.s, now.outer, 1)) \
    X(wait_inner, cu.wait_event(now.s, now.inner, 0)) X(wait_inner_external, cu.wait_event(now.s, now.inner, 1)) \
    X(fork_unjoined, cu.wait_event(now.t, now.inner, 0)) X(fork_and_join, fork_and_join()) \
    X(fork_twice_joined_once, fork_twice_joined_once()) X(fork_legacy, cu.wait_event(NULL, now.inner, 0)) \
    X(fork_external, cu.wait_event(now.t, now.inner, 1)) \
    X(event_create, cu.event(&any_pointers[0], 0)) X(event_destroy_inner, cu.event_destroy(now.inner)) \
    X(event_destroy_outer, cu.event_destroy(now.outer)) \
    X(stream_create, cu.stream(&any_pointers[0], 1, 0)) \
    X(stream_destroy_other, destroy_other()) X(stream_destroy_forked, destroy_forked()) \
    X(stream_flags, cu.stream_flags(now.s, &any_unsigned)) \
    X(stream_priority, cu.stream_priority(now.s, any_ints)) X(stream_context, cu.stream_context(now.s, any_pointers)) \
    X(alloc, cu.alloc(&any_address, 64)) X(free, cu.free(any_address)) \
    X(alloc_async, cu.alloc_async(&now.allocated, 64, now.s)) \
    X(alloc_async_other, cu.alloc_async(&any_address, 64, now.t)) \
    X(alloc_and_free_async, (cu.alloc_async(&now.allocated, 64, now.s), cu.free_async(now.allocated, now.s))) \
    X(free_async_before, cu.free_async(now.before, now.s)) \
    X(free_async_plain, cu.free_async(any_address, now.s)) \
    X(free_of_captured, (cu.alloc_async(&now.allocated, 64, now.s), cu.free(now.allocated))) \
    X(host_alloc, cu.host_alloc(&any_pointers[0], 64, 0)) X(host_free, cu.host_free(now.host)) \
    X(host_register, cu.host_register(pageable, sizeof pageable, 0)) \
    X(memory, cu.memory(&any_sizes[0], &any_sizes[1])) X(range, cu.range(&any_address, &any_sizes[0], memory[0])) \
    X(pointer, cu.pointer(&any_unsigned, 2, memory[0])) X(host_address, cu.host_address(&any_address, now.pinned, 0)) \
    X(load, cu.load(&any_pointers[0], module_text)) X(unload, cu.unload(now.module)) \
    X(function, cu.function(&any_pointers[0], module[0], "nop")) \
    X(global, cu.global(&any_address, &any_sizes[0], module[0], "gv")) \
    X(get_attribute, cu.get_attribute(any_ints, 0, now.nop)) \
    X(set_attribute, cu.set_attribute(now.nop, MAX_DYNAMIC, 64)) \
    X(blocks, cu.blocks(any_ints, now.nop, 32, 0)) X(link, link_empty()) \
    X(get_limit, cu.get_limit(any_sizes, 0)) X(set_limit, cu.set_limit(0, 4096)) \
    X(context_create, create_and_pop()) X(retain, cu.retain(&any_pointers[0], 0)) \
    X(push, push_and_pop()) X(attribute, cu.attribute(any_ints, 16, 0)) X(count, cu.count(any_ints)) \
    X(begin_again, cu.begin_capture(now.s, now.mode)) X(begin_other, cu.begin_capture(now.t, now.mode)) \
    X(begin_legacy, cu.begin_capture(NULL, now.mode)) \
    X(end_other, cu.end_capture(now.t, &any_pointers[0])) X(end_there, there(end_there)) \
    X(alloc_there, there(alloc_there)) X(sync_there, there(sync_there)) X(launch_there, there(launch_there)) \
    X(begin_there, there(begin_there)) X(exchange_mode, swap_mode()) \
    X(graph_create, cu.graph(&any_pointers[0], 0)) X(graph_clone, cu.graph_clone(&any_pointers[0], now.graph)) \
    X(instantiate, cu.instantiate(&any_pointers[0], now.graph, 0)) \
    X(graph_launch, cu.graph_launch(now.exec, now.s)) X(graph_launch_other, cu.graph_launch(now.exec, now.t)) \
    X(graph_launch_legacy, cu.graph_launch(now.exec, NULL)) X(graph_upload, cu.graph_upload(now.exec, now.s)) \
    X(exec_destroy, cu.exec_destroy(now.exec)) X(graph_destroy, cu.graph_destroy(now.graph))

#define ROW(name, call) static int do_##name(void) { return call; }
TABLE(ROW)
#undef ROW
#define ROW(name, call) { #name, do_##name },
static const struct { const char *name; int (*call)(void); } table[] = { TABLE(ROW) };
#undef ROW

static void *captured(void) {                    /* a graph of two kernels, in a chain */
    void *s = NULL, *graph = NULL;
    cu.stream(&s, 1, 0);
    cu.begin_capture(s, 2);
    work_on(s);
    work_on(s);
    cu.end_capture(s, &graph);
    cu.stream_destroy(s);
    return graph;
}
static void prepare(unsigned flags) {
    now.nop = kernel(0, "nop");
    now.store = kernel(0, "store");
    cu.stream(&now.s, flags, 0);
    cu.stream(&now.t, flags, 0);
    cu.event(&now.outer, 0);
    cu.event(&now.inner, 0);
    cu.record(now.outer, now.t);
    cu.load(&now.module, module_text);
    cu.alloc_async(&now.before, 64, now.t);
    cu.alloc(&any_address, 64);
    cu.host_alloc(&now.pinned, 4096, 0);
    cu.host_alloc(&now.host, 4096, 0);
    now.graph = captured();
    cu.instantiate(&now.exec, now.graph, 0);
    cu.sync();
}

/* One call while s captures: its result, the state of s after it (0 none, 1 capturing, 2 invalidated), the result of
   ending the capture, the nodes of the graph. */
static void calls_in(int mode, unsigned flags) {
    size_t i;
    open_one();
    for (i = 0; i < COUNT(table); i++) {
        int    result, state = 77, end, other = 77;
        size_t n = 0;
        void  *graph = NULL, *rest = NULL;
        if (skipped(table[i].name)) continue;
        prepare(flags);
        now.mode = mode;
        cu.begin_capture(now.s, mode);
        work_on(now.s);
        cu.record(now.inner, now.s);
        result = table[i].call();
        cu.is_capturing(now.s, &state);
        cu.is_capturing(now.t, &other);
        end = cu.end_capture(now.s, &graph);
        if (graph) cu.graph_nodes(graph, NULL, &n);
        answer(table[i].name, "%d %d %d %d %d", result, state, other, end, (int)n);
        cu.end_capture(now.t, &rest);
        cu.end_capture(now.s, &rest);
    }
}
static void calls_in_global(void) { calls_in(0, 1); }
static void calls_in_thread_local(void) { calls_in(1, 1); }
static void calls_in_relaxed(void) { calls_in(2, 1); }
static void calls_in_blocking(void) { calls_in(1, 0); }           /* a stream that synchronizes with the legacy one */

/* ---- wrong arguments, states, lifetimes ---- */

static void arguments(void) {
    void    *s = NULL, *t = NULL, *g = NULL, *x = NULL, *e = NULL, *node = NULL, *bad = (void *)(uintptr_t)0x12345678;
    int      state = 77, mode;
    size_t   n = 0;
    uint64_t id = 77;
    cu.init(0);
    PROBE("begin_without", cu.begin_capture(NULL, 0));
    PROBE("end_without", cu.end_capture(NULL, &g));
    PROBE("is_capturing_without", cu.is_capturing(NULL, &state));
    PROBE("graph_without", cu.graph(&g, 0));
    PROBE("exchange_without", (mode = 0, cu.exchange_mode(&mode)));
    open_one();
    now.nop = kernel(0, "nop");
    cu.stream(&s, 1, 0);
    cu.stream(&t, 1, 0);
    cu.event(&e, 0);
    PROBE("begin_null", cu.begin_capture(NULL, 0));
    PROBE("begin_1", cu.begin_capture((void *)1, 0));
    PROBE("begin_2", cu.begin_capture((void *)2, 0));
    PROBE("end_2", cu.end_capture((void *)2, &g));
    PROBE("begin_mode_3", cu.begin_capture(s, 3));
    PROBE("begin_mode_-1", cu.begin_capture(s, -1));
    PROBE("end_none", cu.end_capture(s, &g));
    PROBE("end_to_null_none", cu.end_capture(s, NULL));
    PROBE("end_to_null", (cu.begin_capture(s, 1), cu.end_capture(s, NULL)));
    PROBE("end_to_null_after", cu.end_capture(s, &g));
    PROBE("is_capturing_to_null", cu.is_capturing(s, NULL));
    PROBE("is_capturing_legacy", (cu.is_capturing(NULL, &state) * 10 + state));
    PROBE("is_capturing_2", (cu.is_capturing((void *)2, &state) * 10 + state));
    PROBE("info_none", cu.capture_info(s, &state, &id, &g, NULL, NULL, &n) * 10 + state);
    PROBE("info_none_id", id == 77);
    PROBE("info_to_null", cu.capture_info(s, NULL, &id, NULL, NULL, NULL, NULL));
    PROBE("info_status_only", cu.capture_info(s, &state, NULL, NULL, NULL, NULL, NULL));
    PROBE("empty", (cu.begin_capture(s, 1), cu.end_capture(s, &g)));
    PROBE("empty_nodes", (n = 77, cu.graph_nodes(g, NULL, &n) * 100 + (int)n));
    PROBE("empty_instantiate", cu.instantiate(&x, g, 0));
    PROBE("empty_launch", cu.graph_launch(x, s));
    PROBE("mode_exchange_3", (mode = 3, cu.exchange_mode(&mode)));
    PROBE("mode_exchange_null", cu.exchange_mode(NULL));
    PROBE("mode_first", (mode = 1, cu.exchange_mode(&mode), mode));
    PROBE("mode_second", (mode = 0, cu.exchange_mode(&mode), mode));
    PROBE("graph_to_null", cu.graph(NULL, 0));
    PROBE("graph_flags_1", cu.graph(&g, 1));
    PROBE("graph_destroy_null", cu.graph_destroy(NULL));
    PROBE("instantiate_null", cu.instantiate(&x, NULL, 0));
    PROBE("instantiate_to_null", cu.instantiate(NULL, g, 0));
    cu.graph(&g, 0);
    PROBE("instantiate_flags_16", cu.instantiate(&x, g, 16));
    PROBE("instantiate_flags_7", cu.instantiate(&x, g, 7));
    PROBE("instantiate_flags_1", cu.instantiate(&x, g, 1));
    PROBE("instantiate_flags_8", cu.instantiate(&x, g, 8));
    cu.instantiate(&x, g, 0);
    PROBE("launch_null", cu.graph_launch(NULL, s));
    PROBE("launch_on_2", cu.graph_launch(x, (void *)2));
    PROBE("launch_on_legacy", cu.graph_launch(x, NULL));
    PROBE("upload_null", cu.graph_upload(NULL, s));
    PROBE("exec_destroy_null", cu.exec_destroy(NULL));
    PROBE("exec_flags", (id = 77, cu.exec_flags(x, &id) * 100 + (int)id));
    PROBE("nodes_to_null", cu.graph_nodes(g, NULL, NULL));
    PROBE("nodes_of_null", cu.graph_nodes(NULL, NULL, &n));
    PROBE("roots", (n = 77, cu.graph_roots(g, NULL, &n) * 100 + (int)n));
    PROBE("edges", (n = 77, cu.graph_edges(g, NULL, NULL, &n) * 100 + (int)n));
    PROBE("add_empty", cu.add_empty(&node, g, NULL, 0));
    PROBE("add_empty_after_null", cu.add_empty(&node, g, NULL, 1));
    PROBE("add_empty_to_null", cu.add_empty(NULL, g, NULL, 0));
    PROBE("nodes_room_9", (n = 9, cu.graph_nodes(g, any_pointers, &n) * 100 + (int)n));
    PROBE("node_type", (state = 77, cu.node_type(node, &state) * 100 + state));
    PROBE("node_destroy", cu.node_destroy(node));
    PROBE("update_info_null", cu.exec_update(x, g, NULL));
    PROBE("dependencies_none", cu.update_dependencies(s, NULL, 0, 0));
    PROBE("garbage_graph_kept", bad != NULL);
}

static void types_of(const char *question, void *graph) {
    void  *nodes[32];
    size_t n = COUNT(nodes), i, edges = 0;
    char   text[128] = "";
    int    type;
    if (skipped(question)) return;
    if (cu.graph_nodes(graph, nodes, &n)) n = 0;
    cu.graph_edges(graph, NULL, NULL, &edges);
    for (i = 0; i < n; i++) {
        type = 77;
        cu.node_type(nodes[i], &type);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d", type);
    }
    answer(question, "%d nodes, %d edges:%s", (int)n, (int)edges, text);
}

/* Types of the nodes in their order, for each kind of work. */
static void nodes_of_captures(void) {
    static const char *const names[] = { "launch", "host_function", "copy_in_pageable", "copy_in_pinned",
        "copy_out_pageable", "copy_out_pinned", "copy_device", "copy_2d", "fill", "fill_2d", "fill_0", "copy_0",
        "record_external", "wait_outer_external", "record_outer", "wait_inner", "fork_and_join", "alloc_async",
        "alloc_and_free_async", "write_value", "wait_value", "graph_launch", "callback", "launch_cooperative" };
    size_t i, k;
    open_one();
    for (k = 0; k < COUNT(names); k++) {
        void *graph = NULL;
        prepare(1);
        cu.begin_capture(now.s, 2);
        work_on(now.s);
        cu.record(now.inner, now.s);
        for (i = 0; i < COUNT(table); i++) if (strcmp(table[i].name, names[k]) == 0) table[i].call();
        work_on(now.s);
        cu.end_capture(now.s, &graph);
        types_of(names[k], graph);
    }
}

/* What a launch of a graph does; what may be destroyed when. */
static void graph_life(void) {
    void    *s = NULL, *t = NULL, *g = NULL, *x = NULL, *y = NULL, *params[2], *spin;
    uint32_t value = 5, got = 0;
    gate     held;
    open_one();
    now.nop = kernel(0, "nop");
    now.store = kernel(0, "store");
    spin = kernel(0, "spin");
    held = make_gate();
    cu.stream(&s, 1, 0);
    cu.stream(&t, 1, 0);
    params[0] = &memory[0];
    params[1] = &value;
    cu.begin_capture(s, 1);
    launch(now.store, 1, 1, s, params);
    value = 6;                                    /* the argument was copied at the call */
    cu.end_capture(s, &g);
    PROBE("nothing_ran", (cu.fill_32_now(memory[0], 1, 1), cu.sync(), cu.to_host(&got, memory[0], 4), (int)got));
    PROBE("instantiate", cu.instantiate(&x, g, 0));
    PROBE("launch", cu.graph_launch(x, s));
    PROBE("value", (cu.stream_sync(s), cu.to_host(&got, memory[0], 4), (int)got));
    PROBE("graph_destroy", cu.graph_destroy(g));
    PROBE("launch_after", cu.graph_launch(x, s));
    PROBE("value_after", (cu.stream_sync(s), cu.to_host(&got, memory[0], 4), (int)got));
    PROBE("stream_destroy", cu.stream_destroy(s));
    PROBE("launch_elsewhere", cu.graph_launch(x, t));
    PROBE("launch_on_legacy", cu.graph_launch(x, NULL));
    cu.sync();
    cu.begin_capture(t, 1);
    close_gate(held, spin, t);
    cu.end_capture(t, &g);
    cu.instantiate(&y, g, 0);
    PROBE("busy", (cu.graph_launch(y, t), cu.stream_query(t)));
    PROBE("busy_launch_again", cu.graph_launch(y, t));
    PROBE("busy_upload", cu.graph_upload(y, t));
    PROBE("busy_destroy", cu.exec_destroy(y));
    PROBE("busy_still", cu.stream_query(t));
    open_gate(held);
    PROBE("busy_ends", cu.stream_sync(t));
    PROBE("launch_destroyed", (cu.begin_capture(t, 1), work_on(t), cu.end_capture(t, &g)));
    cu.instantiate(&y, g, 0);
    PROBE("exec_destroy", cu.exec_destroy(y));
    PROBE("destroy_graph_before_exec", cu.graph_destroy(g));
    PROBE("end", cu.sync());
}

/* Two launches of one exec on two streams: do they overlap? */
static void graph_order(void) {
    void *s = NULL, *t = NULL, *g = NULL, *x = NULL, *y = NULL, *spin;
    gate  held;
    open_one();
    now.nop = kernel(0, "nop");
    spin = kernel(0, "spin");
    held = make_gate();
    cu.stream(&s, 1, 0);
    cu.stream(&t, 1, 0);
    cu.begin_capture(s, 1);
    work_on(s);
    cu.end_capture(s, &g);
    cu.instantiate(&x, g, 0);
    cu.instantiate(&y, g, 0);
    cu.graph_launch(x, s);
    cu.graph_launch(y, t);
    cu.sync();
    close_gate(held, spin, s);
    PROBE("behind", (cu.graph_launch(x, s), cu.stream_query(s)));
    PROBE("same_exec_elsewhere", (cu.graph_launch(x, t), sleep_ms(50), cu.stream_query(t)));
    PROBE("other_exec", (cu.graph_launch(y, t), sleep_ms(50), cu.stream_query(t)));
    open_gate(held);
    PROBE("all", cu.sync());
}

/* Captures of one value and another, of another grid, kernel, topology, kind of node; then cuGraphExecUpdate. */
static void *one_of(int kind, void *s) {
    void    *g = NULL, *params[2], *e = NULL, *t = NULL;
    uint32_t value = (uint32_t)kind;
    params[0] = &memory[0];
    params[1] = &value;
    cu.begin_capture(s, 1);
    switch (kind) {
    case 0: case 1: launch(now.store, 1, 1, s, params); break;
    case 2: launch(now.store, 4, 32, s, params); break;
    case 3: launch(now.nop, 1, 1, s, NULL); break;
    case 4: launch(now.store, 1, 1, s, params); work_on(s); break;
    case 5: cu.fill_32(memory[0], 3, 4, s); break;
    case 6: cu.fill_32(memory[0], 4, 8, s); break;
    case 7: cu.fill_8(memory[0], 4, 8, s); break;
    case 8: cu.fill_2d(memory[0], 64, 0, 4, 4, s); break;
    case 9: cu.copy_async(memory[0], memory[0] + 1024, 64, s); break;
    case 10: cu.copy_async(memory[0] + 64, memory[0] + 1024, 128, s); break;
    case 11: cu.to_device_async(memory[0], now.pinned, 64, s); break;
    case 12: cu.host_function(s, nothing, NULL); break;
    case 13: cu.host_function(s, nothing, &now); break;
    case 14:
        cu.event(&e, 0);
        cu.stream(&t, 1, 0);
        work_on(s);
        cu.record(e, s);
        cu.wait_event(t, e, 0);
        launch(now.store, 1, 1, t, params);
        cu.record(e, t);
        cu.wait_event(s, e, 0);
        break;
    case 15: work_on(s); launch(now.store, 1, 1, s, params); break;
    case 16: cu.cooperative(now.nop, 1, 1, 1, 1, 1, 1, 0, s, NULL); break;
    default: break;
    }
    cu.end_capture(s, &g);
    return g;
}
static void updates(void) {
    enum { KINDS = 17 };
    void *s = NULL;
    int   from, to;
    open_one();
    prepare(1);
    cu.stream(&s, 1, 0);
    for (from = 0; from < KINDS; from++) for (to = 0; to < KINDS; to++) {
        char   question[40];
        void  *x = NULL, *g, *h;
        int    result;
        update info;
        if (from != to && to != 0 && from != 0 && from + 1 != to && to + 1 != from) continue;
        snprintf(question, sizeof question, "from_%d_to_%d", from, to);
        if (skipped(question)) continue;
        g = one_of(from, s);
        h = one_of(to, s);
        memset(&info, 0x55, sizeof info);
        cu.instantiate(&x, g, 0);
        result = cu.exec_update(x, h, &info);
        answer(question, "%d %d %s %s", result, info.result, info.node ? "node" : "no node",
               info.from ? "from" : "no from");
        cu.exec_destroy(x);
        cu.graph_destroy(g);
        cu.graph_destroy(h);
    }
}

/* After the end of a capture, and destroying a stream that captures. */
static void after_capture(void) {
    void  *s = NULL, *t = NULL, *u = NULL, *e = NULL, *never = NULL, *g = NULL, *f = NULL;
    int    state = 77;
    open_one();
    now.nop = kernel(0, "nop");
    cu.stream(&s, 1, 0);
    cu.stream(&t, 1, 0);
    cu.event(&e, 0);
    cu.event(&f, 0);
    cu.event(&never, 0);
    cu.begin_capture(s, 1);
    work_on(s);
    cu.record(e, s);
    PROBE("wait_unrecorded", cu.wait_event(s, never, 0));
    PROBE("state", (cu.is_capturing(s, &state), state));
    PROBE("end", cu.end_capture(s, &g));
    PROBE("query", cu.event_query(e));
    PROBE("sync", cu.event_sync(e));
    PROBE("wait", cu.wait_event(t, e, 0));
    PROBE("wait_again", cu.wait_event(s, e, 0));
    PROBE("elapsed", cu.elapsed(&any_float, e, e));
    cu.begin_capture(s, 1);
    PROBE("wait_in_next", cu.wait_event(s, e, 0));
    PROBE("end_next", cu.end_capture(s, &g));
    PROBE("record", cu.record(e, s));
    PROBE("query_recorded", (cu.sync(), cu.event_query(e)));
    cu.begin_capture(s, 1);
    work_on(s);
    cu.record(e, s);
    cu.begin_capture(t, 1);
    work_on(t);
    PROBE("merge", cu.wait_event(t, e, 0));
    PROBE("merge_state", (cu.is_capturing(s, &state), state));
    PROBE("merge_state_other", (cu.is_capturing(t, &state), state));
    PROBE("merge_end", cu.end_capture(s, &g));
    PROBE("merge_end_other", cu.end_capture(t, &g));
    cu.begin_capture(s, 1);
    work_on(s);
    cu.record(e, s);
    cu.wait_event(t, e, 0);
    work_on(t);
    PROBE("end_fork", cu.end_capture(t, &g));
    PROBE("end_fork_state", (cu.is_capturing(s, &state), state));
    PROBE("end_origin", cu.end_capture(s, &g));
    cu.begin_capture(s, 1);
    work_on(s);
    cu.sync();
    PROBE("work_when_invalid", work_on(s));
    PROBE("record_when_invalid", cu.record(e, s));
    PROBE("wait_when_invalid", cu.wait_event(s, f, 0));
    PROBE("sync_when_invalid", cu.stream_sync(s));
    PROBE("begin_when_invalid", cu.begin_capture(s, 1));
    PROBE("end_when_invalid", cu.end_capture(s, &g));
    PROBE("graph_when_invalid", g == NULL);
    PROBE("work_after", work_on(s));
    PROBE("sync_after", cu.stream_sync(s));
    cu.stream(&u, 1, 0);
    cu.begin_capture(u, 1);
    work_on(u);
    PROBE("destroy_capturing", cu.stream_destroy(u));
    PROBE("alloc_then", cu.alloc(&any_address, 64));
    PROBE("sync_then", cu.sync());
}

/* Memory nodes. */
static void memory_nodes(void) {
    void *s = NULL, *t = NULL, *g = NULL, *x = NULL, *y = NULL;
    ptr   p = 0, q = 0;
    int   what = 77;
    uint32_t got = 0;
    open_one();
    now.nop = kernel(0, "nop");
    cu.stream(&s, 1, 0);
    cu.stream(&t, 1, 0);
    cu.begin_capture(s, 1);
    PROBE("alloc", cu.alloc_async(&p, 4096, s));
    PROBE("is_an_address", p != 0);
    PROBE("fill", cu.fill_32(p, 9, 4, s));
    PROBE("copy", cu.copy_async(memory[0], p, 4, s));
    cu.end_capture(s, &g);
    PROBE("type_before", (what = 77, cu.pointer(&what, 2, p) * 100 + what));
    PROBE("instantiate", cu.instantiate(&x, g, 0));
    PROBE("instantiate_twice", cu.instantiate(&y, g, 0));
    PROBE("clone", cu.graph_clone(&y, g));
    PROBE("launch", cu.graph_launch(x, s));
    PROBE("value", (cu.stream_sync(s), cu.to_host(&got, memory[0], 4), (int)got));
    PROBE("type_after", (what = 77, cu.pointer(&what, 2, p) * 100 + what));
    PROBE("relaunch", cu.graph_launch(x, s));
    PROBE("free_async", cu.free_async(p, s));
    PROBE("launch_after_free", cu.graph_launch(x, s));
    PROBE("free", (cu.stream_sync(s), cu.free(p)));
    PROBE("graph_destroy", cu.graph_destroy(g));
    PROBE("exec_destroy", cu.exec_destroy(x));
    cu.begin_capture(s, 1);
    cu.alloc_async(&q, 4096, s);
    cu.free_async(q, s);
    cu.end_capture(s, &g);
    PROBE("freed_instantiate", cu.instantiate(&x, g, 0));
    PROBE("freed_launch", cu.graph_launch(x, s));
    PROBE("freed_relaunch", cu.graph_launch(x, s));
    PROBE("freed_elsewhere", cu.graph_launch(x, t));
    PROBE("freed_free", (cu.sync(), cu.free(q)));
    PROBE("auto_free", (cu.begin_capture(s, 1), cu.alloc_async(&q, 4096, s), cu.end_capture(s, &g),
                        cu.instantiate(&x, g, 1)));
    PROBE("auto_free_launch", cu.graph_launch(x, s));
    PROBE("auto_free_relaunch", cu.graph_launch(x, s));
    PROBE("end", cu.sync());
}

/* A capture over two devices. */
static void two_devices(void) {
    void  *s = NULL, *t = NULL, *e = NULL, *f = NULL, *g = NULL, *x = NULL, *nop[2];
    size_t n = 0;
    open_all();
    nop[0] = kernel(0, "nop");
    nop[1] = kernel(1, "nop");
    cu.stream(&s, 1, 0);
    cu.event(&e, 0);
    cu.set_current(context[1]);
    cu.stream(&t, 1, 0);
    cu.event(&f, 0);
    cu.set_current(context[0]);
    PROBE("begin", cu.begin_capture(s, 1));
    PROBE("record", cu.record(e, s));
    PROBE("fork", cu.wait_event(t, e, 0));
    PROBE("launch", launch(nop[1], 1, 1, t, NULL));
    PROBE("wrong_kernel", launch(nop[0], 1, 1, t, NULL));
    PROBE("record_back", cu.record(f, t));
    PROBE("join", cu.wait_event(s, f, 0));
    PROBE("end", cu.end_capture(s, &g));
    PROBE("nodes", (cu.graph_nodes(g, NULL, &n), (int)n));
    PROBE("instantiate", cu.instantiate(&x, g, 0));
    PROBE("launch_on_0", cu.graph_launch(x, s));
    PROBE("launch_on_1", cu.graph_launch(x, t));
    PROBE("sync", cu.stream_sync(s) * 1000 + cu.stream_sync(t));
}

const group capture_groups[] = {
    { "capture_global", calls_in_global, 1 }, { "capture_thread", calls_in_thread_local, 1 },
    { "capture_relaxed", calls_in_relaxed, 1 }, { "capture_blocking", calls_in_blocking, 1 },
    { "capture_arguments", arguments, 1 }, { "capture_nodes", nodes_of_captures, 1 }, { "graph_life", graph_life, 1 },
    { "graph_order", graph_order, 1 }, { "capture_after", after_capture, 1 }, { "graph_update", updates, 1 },
    { "graph_memory", memory_nodes, 1 },
    { "graph_devices", two_devices, 2 }, { NULL, NULL, 0 }
};
