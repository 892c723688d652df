/* basics.c - the first questions: before a context, contexts and threads, memory, launches, events, modules, peers, and
   what errors in kernels leave. */
#include "probe.h"

static void preinit(void) {
    void  *c = NULL;
    int    n = 0;
    size_t bytes = 0;
    ASK("current", cu.current(&c));
    ASK("count", cu.count(&n));
    ASK("memory", cu.memory(&bytes, &bytes));
    ASK("version", cu.version(&n));
    ASK("init_1", cu.init(1));
    ASK("init_0", cu.init(0));
    ASK("device_-1", cu.device(&n, -1));
    ASK("device_9999", cu.device(&n, 9999));
}

static void noctx(void) {
    ptr   p = 0;
    void *object = NULL;
    int   device = 0;
    cu.init(0);
    ASK("alloc", cu.alloc(&p, 4));
    ASK("stream", cu.stream(&object, 0, 0));
    ASK("event", cu.event(&object, 0));
    ASK("sync", cu.sync());
    ASK("device", cu.context_device(&device));
    ASK("current", cu.current(&object));
    ASK("pop", cu.pop(&object));
    ASK("load", cu.load(&object, module_text));
    ASK("free_0", cu.free(0));
    ASK("release_unretained", cu.release(0));
    ASK("reset_unretained", cu.reset(0));
}

static void *destroyed_elsewhere;
static void *other_thread(void *unused) {
    ptr   p = 0;
    void *c = NULL;
    (void)unused;
    cu.set_current(destroyed_elsewhere);
    sleep_ms(700);
    ASK("there_alloc", cu.alloc(&p, 4));
    ASK("there_sync", cu.sync());
    ASK("there_current", cu.current(&c));
    return NULL;
}
static void contexts(void) {
    void *a = NULL, *b = NULL, *c = NULL;
    ptr   p = 0;
    pthread_t thread;
    cu.init(0);
    ASK("create_a", cu.create(&a, 0, 0));
    ASK("create_b", cu.create(&b, 0, 0));
    ASK("pop_b", cu.pop(&c));
    ASK("popped_is_b", c == b);
    cu.current(&c);
    ASK("current_is_a", c == a);
    ASK("destroy_b", cu.destroy(b));
    ASK("set_null", cu.set_current(NULL));
    cu.current(&c);
    ASK("current_is_null", c == NULL);
    destroyed_elsewhere = a;
    cu.set_current(a);
    if (pthread_create(&thread, NULL, other_thread, NULL)) return;
    sleep_ms(200);
    ASK("destroy_a_current_here_and_there", cu.destroy(a));
    cu.current(&c);
    ASK("popped_here", c == NULL);
    pthread_join(thread, NULL);
    ASK("retain", cu.retain(&a, 0));
    ASK("set_primary", cu.set_current(a));
    ASK("release", cu.release(0));
    ASK("alloc_in_released", cu.alloc(&p, 4));
    cu.current(&c);
    ASK("still_current", c == a);
    ASK("destroy_primary", cu.destroy(a));
}

static void mem(void) {
    ptr      p = 0;
    char     host[16] = "";
    unsigned type = 77;
    open_one();
    ASK("alloc_0", cu.alloc(&p, 0));
    ASK("alloc_huge", cu.alloc(&p, (size_t)1 << 60));
    ASK("free_0", cu.free(0));
    ASK("free_interior", cu.free(memory[0] + 16));
    ASK("free_garbage", cu.free(0xdead00));
    ASK("to_device_past_end", cu.to_device(memory[0] + 4090, host, 16));
    ASK("to_device_null_0", cu.to_device(memory[0], NULL, 0));
    ASK("to_device_null_4", cu.to_device(memory[0], NULL, 4));
    cu.alloc(&p, 64);
    ASK("free", cu.free(p));
    ASK("free_again", cu.free(p));
    ASK("fill_32_misaligned", cu.fill_32_now(memory[0] + 1, 0, 1));
    ASK("pointer_garbage", cu.pointer(&type, 2, 0xdead00));
}

static int shaped(const char *name, unsigned gx, unsigned gy, unsigned bx, unsigned shared) {
    return cu.launch(kernel(0, name), gx, gy, 1, bx, 1, 1, shared, NULL, NULL, NULL);
}
static void launches(void) {
    unsigned v = 7;
    size_t   bytes = 12;
    char     packed[64] = "";
    void    *f = NULL, *params[2], *extra[5];
    open_one();
    params[0] = &memory[0];
    params[1] = &v;
    ASK("missing_function", cu.function(&f, module[0], "nope"));
    ASK("grid_0", shaped("nop", 0, 1, 1, 0));
    ASK("block_0", shaped("nop", 1, 1, 0, 0));
    ASK("block_1024", shaped("nop", 1, 1, 1024, 0));
    ASK("block_1025", shaped("nop", 1, 1, 1025, 0));
    ASK("grid_y_65536", shaped("nop", 1, 65536, 1, 0));
    ASK("grid_x_most", shaped("nop", 0x7fffffff, 1, 1, 0));
    ASK("shared_48k", shaped("nop", 1, 1, 1, 49152));
    ASK("shared_48k_and_4", shaped("nop", 1, 1, 1, 49156));
    ASK("opt_in", cu.set_attribute(kernel(0, "nop"), MAX_DYNAMIC, 65536));
    ASK("shared_64k_after", shaped("nop", 1, 1, 1, 65536));
    ASK("maxntid_64_with_65", shaped("max64", 1, 1, 65, 0));
    ASK("reqntid_64_with_32", shaped("req64", 1, 1, 32, 0));
    f = kernel(0, "store");
    memcpy(packed, &memory[0], 8);
    memcpy(packed + 8, &v, 4);
    extra[0] = (void *)1;
    extra[1] = packed;
    extra[2] = (void *)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    ASK("params", cu.launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ASK("extra_12", cu.launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    bytes = 16;
    ASK("extra_16_long", cu.launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    bytes = 12;
    ASK("params_and_extra", cu.launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    ASK("params_null", cu.launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    f = kernel(0, "nop");
    ASK("cooperative", cu.cooperative(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    ASK("cooperative_too_large", cu.cooperative(f, 1000000, 1, 1, 32, 1, 1, 0, NULL, NULL));
    ASK("sync", cu.sync());
}

/* By itself, as the garbage that a GPU takes for the second parameter may be anything, and the error that follows is
   for good. */
static void short_extra(void) {
    size_t bytes = 4;
    char   packed[64] = "";
    void  *extra[5];
    open_one();
    memcpy(packed, &memory[0], 8);
    extra[0] = (void *)1;
    extra[1] = packed;
    extra[2] = (void *)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    ASK("extra_4", cu.launch(kernel(0, "store"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
}

static void event(void) {
    void *a = NULL, *b = NULL, *t = NULL, *s = NULL;
    float ms = 0;
    gate  g;
    ptr   address = 0;
    open_one();
    cu.event(&a, 0);
    cu.event(&b, 0);
    cu.stream(&s, 1, 0);
    ASK("query_unrecorded", cu.event_query(a));
    ASK("sync_unrecorded", cu.event_sync(a));
    ASK("elapsed_unrecorded", cu.elapsed(&ms, a, b));
    ASK("interprocess_with_timing", cu.event(&t, 4));
    g = make_gate();
    ASK("host_address", cu.host_address(&address, (void *)(uintptr_t)g.address, 0));
    cu.record(a, s);
    ASK("spin", close_gate(g, kernel(0, "spin"), s));
    cu.record(b, s);
    ASK("stream_query_busy", cu.stream_query(s));
    ASK("query_busy", cu.event_query(b));
    ASK("elapsed_busy", cu.elapsed(&ms, a, b));
    ASK("legacy_launch_beside", launch(kernel(0, "nop"), 1, 1, NULL, NULL));
    ASK("legacy_sync_beside", cu.stream_sync(NULL));
    ASK("destroy_busy_stream", cu.stream_destroy(s));
    open_gate(g);
    ASK("sync", cu.event_sync(b));
    ASK("elapsed", cu.elapsed(&ms, a, b));
    cu.event(&t, 2);
    cu.record(t, NULL);
    ASK("elapsed_without_timing", cu.elapsed(&ms, t, b));
}

static void modules(void) {
    static const char head[] = ".version 6.4\n.target sm_52\n.address_size 64\n";
    char   log[64], text[200];
    int    options[3] = { LOG_ERROR, LOG_ERROR_SIZE, WALL_TIME };
    void  *values[3], *m = NULL;
    ptr    p = 0;
    size_t bytes = 0;
    open_one();
    memset(log, 'x', sizeof log);
    values[0] = log;
    values[1] = (void *)32;
    values[2] = NULL;
    ASK("garbage", cu.load(&m, "hello"));
    ASK("empty", cu.load(&m, ""));
    snprintf(text, sizeof text, "%s.visible .entry k() { bogus.s32 %%r1; ret; }\n", head);
    ASK("bad_opcode", cu.load_ex(&m, text, 3, options, values));
    answer("log", "%d %02x %02x %02x %02x", (int)(uintptr_t)values[1], log[30] & 255, log[31] & 255, log[32] & 255,
           log[33] & 255);
    ASK("newer", cu.load(&m, ".version 99.9\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"));
    ASK("unknown_target", cu.load(&m, ".version 8.0\n.target sm_999\n.address_size 64\n"
                                  ".visible .entry k() { ret; }\n"));
    ASK("global", cu.global(&p, &bytes, module[0], "gv"));
    ASK("global_size", (int)bytes);
    ASK("global_missing", cu.global(&p, &bytes, module[0], "zz"));
    ASK("unload", cu.unload(module[0]));
}

/* A kernel fails; then every call of the process answers so. */
static void fails(const char *name, ptr address) {
    unsigned v = 1;
    void    *params[2], *s = NULL, *c = NULL, *nop = kernel(0, "nop");
    ptr      p = 0;
    int      n = 0;
    params[0] = &address;
    params[1] = &v;
    cu.stream(&s, 0, 0);
    ASK("launch", launch(kernel(0, name), 1, 1, s, params));
    ASK("sync", cu.stream_sync(s));
    ASK("sync_again", cu.stream_sync(s));
    ASK("alloc", cu.alloc(&p, 4));
    ASK("free", cu.free(memory[0]));
    ASK("function", cu.function(&c, module[0], "nop"));
    ASK("launch_again", launch(nop, 1, 1, NULL, NULL));
    ASK("query", cu.stream_query(NULL));
    ASK("stream_destroy", cu.stream_destroy(s));
    ASK("unload", cu.unload(module[0]));
    ASK("current", cu.current(&c));
    ASK("count", cu.count(&n));
    ASK("create", cu.create(&c, 0, 0));
    ASK("alloc_there", cu.alloc(&p, 4));
    ASK("reset", cu.reset(0));
    cu.set_current(context[0]);
    ASK("retain", cu.retain(&c, 0));
    cu.set_current(c);
    ASK("alloc_after_reset", cu.alloc(&p, 4));
}

static void illegal_address(void) {
    open_one();
    fails("store", 0x10);
}

static void misaligned(void) {
    open_one();
    fails("store", memory[0] + 1);
}

static void trap(void) {
    open_one();
    fails("trp", 0);
}

static void shared_outside(void) {
    open_one();
    fails("shoob", 0);
}

static void peer_self(void) {
    int  can = 9;
    open_one();
    ASK("can_access_self", cu.can_access(&can, 0, 0));
    ASK("value", can);
    ASK("enable_self", cu.enable_peer(context[0], 0));
}
static void peer(void) {
    int can = 9;
    open_all();
    ASK("can_access", cu.can_access(&can, 0, 1));
    ASK("value", can);
    ASK("disable_first", cu.disable_peer(context[1]));
    ASK("flags_1", cu.enable_peer(context[1], 1));
    ASK("enable", cu.enable_peer(context[1], 0));
    ASK("enable_again", cu.enable_peer(context[1], 0));
    ASK("disable", cu.disable_peer(context[1]));
}

const group basic_groups[] = {
    { "preinit", preinit, 1 }, { "noctx", noctx, 1 }, { "ctx", contexts, 1 }, { "mem", mem, 1 },
    { "launch", launches, 1 }, { "short_extra", short_extra, 1 }, { "event", event, 1 }, { "module", modules, 1 },
    { "illegal_address", illegal_address, 1 }, { "misaligned", misaligned, 1 }, { "trap", trap, 1 },
    { "shared_outside", shared_outside, 1 }, { "peer_self", peer_self, 1 }, { "peer", peer, 2 },
    { NULL, NULL, 0 }
};
