/* basics.c - the first probes: calls before a context, contexts and threads, memory, launches,
   events, modules, peers, and the state after kernel errors. */
#include "probe.h"
#include <semaphore.h>

static void preinit(void) {
    void *c = NULL;
    int n = 0;
    size_t bytes = 0;
    PROBE("current", cu.cuCtxGetCurrent(&c));
    PROBE("count", cu.cuDeviceGetCount(&n));
    PROBE("memory", cu.cuMemGetInfo_v2(&bytes, &bytes));
    PROBE("version", cu.cuDriverGetVersion(&n));
    PROBE("init_1", cu.cuInit(1));
    PROBE("init_0", cu.cuInit(0));
    PROBE("device_-1", cu.cuDeviceGet(&n, -1));
    PROBE("device_9999", cu.cuDeviceGet(&n, 9999));
}

static void noctx(void) {
    ptr p = 0;
    void *object = NULL;
    int device = 0;
    cu.cuInit(0);
    PROBE("alloc", cu.cuMemAlloc_v2(&p, 4));
    PROBE("stream", cu.cuStreamCreateWithPriority(&object, 0, 0));
    PROBE("event", cu.cuEventCreate(&object, 0));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("device", cu.cuCtxGetDevice(&device));
    PROBE("current", cu.cuCtxGetCurrent(&object));
    PROBE("pop", cu.cuCtxPopCurrent_v2(&object));
    PROBE("load", cu.cuModuleLoadData(&object, module_text));
    PROBE("free_0", cu.cuMemFree_v2(0));
    PROBE("release_unretained", cu.cuDevicePrimaryCtxRelease_v2(0));
    PROBE("reset_unretained", cu.cuDevicePrimaryCtxReset_v2(0));
}

static void *destroyed_elsewhere;
static sem_t is_current, is_destroyed;
static void *other_thread(void *unused) {
    ptr p = 0;
    void *c = NULL;
    (void)unused;
    cu.cuCtxSetCurrent(destroyed_elsewhere);
    sem_post(&is_current);
    sem_wait(&is_destroyed);
    PROBE("there_alloc", cu.cuMemAlloc_v2(&p, 4));
    PROBE("there_sync", cu.cuCtxSynchronize());
    PROBE("there_current", cu.cuCtxGetCurrent(&c));
    return NULL;
}
static void contexts(void) {
    void *a = NULL, *b = NULL, *c = NULL;
    ptr p = 0;
    pthread_t thread;
    cu.cuInit(0);
    PROBE("create_a", cu.cuCtxCreate_v2(&a, 0, 0));
    PROBE("create_b", cu.cuCtxCreate_v2(&b, 0, 0));
    PROBE("pop_b", cu.cuCtxPopCurrent_v2(&c));
    PROBE("popped_is_b", c == b);
    cu.cuCtxGetCurrent(&c);
    PROBE("current_is_a", c == a);
    PROBE("destroy_b", cu.cuCtxDestroy_v2(b));
    PROBE("set_null", cu.cuCtxSetCurrent(NULL));
    cu.cuCtxGetCurrent(&c);
    PROBE("current_is_null", c == NULL);
    destroyed_elsewhere = a;
    cu.cuCtxSetCurrent(a);
    if (sem_init(&is_current, 0, 0) || sem_init(&is_destroyed, 0, 0)) return;
    if (pthread_create(&thread, NULL, other_thread, NULL)) return;
    sem_wait(&is_current);
    PROBE("destroy_a_current_here_and_there", cu.cuCtxDestroy_v2(a));
    sem_post(&is_destroyed);
    pthread_join(thread, NULL);
    cu.cuCtxGetCurrent(&c);
    PROBE("popped_here", c == NULL);
    PROBE("retain", cu.cuDevicePrimaryCtxRetain(&a, 0));
    PROBE("set_primary", cu.cuCtxSetCurrent(a));
    PROBE("release", cu.cuDevicePrimaryCtxRelease_v2(0));
    PROBE("alloc_in_released", cu.cuMemAlloc_v2(&p, 4));
    cu.cuCtxGetCurrent(&c);
    PROBE("still_current", c == a);
    PROBE("destroy_primary", cu.cuCtxDestroy_v2(a));
}

static void mem(void) {
    ptr p = 0;
    char host[16] = "";
    unsigned type = 77;
    open_one();
    PROBE("alloc_0", cu.cuMemAlloc_v2(&p, 0));
    PROBE("alloc_huge", cu.cuMemAlloc_v2(&p, (size_t)1 << 60));
    PROBE("free_0", cu.cuMemFree_v2(0));
    PROBE("free_interior", cu.cuMemFree_v2(memory[0] + 16));
    PROBE("free_garbage", cu.cuMemFree_v2(0xdead00));
    PROBE("to_device_past_end", cu.cuMemcpyHtoD_v2(memory[0] + 4090, host, 16));
    PROBE("to_device_null_0", cu.cuMemcpyHtoD_v2(memory[0], NULL, 0));
    PROBE("to_device_null_4", cu.cuMemcpyHtoD_v2(memory[0], NULL, 4));
    cu.cuMemAlloc_v2(&p, 64);
    PROBE("free", cu.cuMemFree_v2(p));
    PROBE("free_again", cu.cuMemFree_v2(p));
    PROBE("fill_32_misaligned", cu.cuMemsetD32_v2(memory[0] + 1, 0, 1));
    PROBE("pointer_garbage", cu.cuPointerGetAttribute(&type, 2, 0xdead00));
}

static int shaped(const char *name, unsigned gx, unsigned gy, unsigned bx, unsigned shared) {
    return cu.cuLaunchKernel(kernel(0, name), gx, gy, 1, bx, 1, 1, shared, NULL, NULL, NULL);
}
static void launches(void) {
    unsigned v = 7;
    size_t bytes = 12;
    char packed[64] = "";
    void *f = NULL, *params[2], *extra[5];
    open_one();
    params[0] = &memory[0];
    params[1] = &v;
    PROBE("missing_function", cu.cuModuleGetFunction(&f, module[0], "nope"));
    PROBE("grid_0", shaped("nop", 0, 1, 1, 0));
    PROBE("block_0", shaped("nop", 1, 1, 0, 0));
    PROBE("block_1024", shaped("nop", 1, 1, 1024, 0));
    PROBE("block_1025", shaped("nop", 1, 1, 1025, 0));
    PROBE("grid_y_65536", shaped("nop", 1, 65536, 1, 0));
    PROBE("grid_x_most", shaped("nop", 0x7fffffff, 1, 1, 0));
    PROBE("shared_48k", shaped("nop", 1, 1, 1, 49152));
    PROBE("shared_48k_and_4", shaped("nop", 1, 1, 1, 49156));
    PROBE("opt_in", cu.cuFuncSetAttribute(kernel(0, "nop"), MAX_DYNAMIC, 65536));
    PROBE("shared_64k_after", shaped("nop", 1, 1, 1, 65536));
    PROBE("maxntid_64_with_65", shaped("max64", 1, 1, 65, 0));
    PROBE("reqntid_64_with_32", shaped("req64", 1, 1, 32, 0));
    f = kernel(0, "store");
    memcpy(packed, &memory[0], 8);
    memcpy(packed + 8, &v, 4);
    extra[0] = (void *)1;
    extra[1] = packed;
    extra[2] = (void *)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    PROBE("params", cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    PROBE("extra_12", cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    bytes = 16;
    PROBE("extra_16_long", cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    bytes = 12;
    PROBE("params_and_extra", cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
    PROBE("params_null", cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    f = kernel(0, "nop");
    PROBE("cooperative", cu.cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    PROBE("cooperative_too_large",
            cu.cuLaunchCooperativeKernel(f, 1000000, 1, 1, 32, 1, 1, 0, NULL, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
}

/* In a separate group, because the garbage that a GPU uses for the second parameter may be
   anything, and the error that follows is permanent. */
static void short_extra(void) {
    size_t bytes = 4;
    char packed[64] = "";
    void *extra[5];
    open_one();
    memcpy(packed, &memory[0], 8);
    extra[0] = (void *)1;
    extra[1] = packed;
    extra[2] = (void *)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    PROBE("extra_4", cu.cuLaunchKernel(kernel(0, "store"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
}

static void event(void) {
    void *a = NULL, *b = NULL, *t = NULL, *s = NULL;
    float ms = 0;
    gate g;
    ptr address = 0;
    open_one();
    cu.cuEventCreate(&a, 0);
    cu.cuEventCreate(&b, 0);
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    PROBE("query_unrecorded", cu.cuEventQuery(a));
    PROBE("sync_unrecorded", cu.cuEventSynchronize(a));
    PROBE("elapsed_unrecorded", cu.cuEventElapsedTime(&ms, a, b));
    PROBE("interprocess_with_timing", cu.cuEventCreate(&t, 4));
    g = make_gate();
    PROBE("host_address",
            cu.cuMemHostGetDevicePointer_v2(&address, (void *)(uintptr_t)g.address, 0));
    cu.cuEventRecord(a, s);
    PROBE("spin", close_gate(g, kernel(0, "spin"), s));
    cu.cuEventRecord(b, s);
    PROBE("stream_query_busy", cu.cuStreamQuery(s));
    PROBE("query_busy", cu.cuEventQuery(b));
    PROBE("elapsed_busy", cu.cuEventElapsedTime(&ms, a, b));
    PROBE("legacy_launch_beside", launch(kernel(0, "nop"), 1, 1, NULL, NULL));
    PROBE("legacy_sync_beside", cu.cuStreamSynchronize(NULL));
    PROBE("destroy_busy_stream", cu.cuStreamDestroy_v2(s));
    open_gate(g);
    PROBE("sync", cu.cuEventSynchronize(b));
    PROBE("elapsed", cu.cuEventElapsedTime(&ms, a, b));
    cu.cuEventCreate(&t, 2);
    cu.cuEventRecord(t, NULL);
    PROBE("elapsed_without_timing", cu.cuEventElapsedTime(&ms, t, b));
}

static void modules(void) {
    static const char head[] = ".version 6.4\n.target sm_52\n.address_size 64\n";
    char log[64], text[200];
    int options[3] = { LOG_ERROR, LOG_ERROR_SIZE, WALL_TIME };
    void *values[3], *m = NULL;
    ptr p = 0;
    size_t bytes = 0;
    open_one();
    memset(log, 'x', sizeof log);
    values[0] = log;
    values[1] = (void *)32;
    values[2] = NULL;
    PROBE("garbage", cu.cuModuleLoadData(&m, "hello"));
    PROBE("empty", cu.cuModuleLoadData(&m, ""));
    snprintf(text, sizeof text, "%s.visible .entry k() { bogus.s32 %%r1; ret; }\n", head);
    PROBE("bad_opcode", cu.cuModuleLoadDataEx(&m, text, 3, options, values));
    answer("log", "%d %02x %02x %02x %02x", (int)(uintptr_t)values[1], log[30] & 255, log[31] & 255,
            log[32] & 255, log[33] & 255);
    PROBE("newer",
            cu.cuModuleLoadData(&m,
                    ".version 99.9\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; "
                    "}\n"));
    PROBE("unknown_target",
            cu.cuModuleLoadData(&m,
                    ".version 8.0\n.target sm_999\n.address_size 64\n"
                    ".visible .entry k() { ret; }\n"));
    PROBE("global", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], "gv"));
    PROBE("global_size", (int)bytes);
    PROBE("global_missing", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], "zz"));
    PROBE("unload", cu.cuModuleUnload(module[0]));
}

/* A kernel fails; from then on every call of the process returns that error. */
static void fails(const char *name, ptr address) {
    unsigned v = 1;
    void *params[2], *s = NULL, *c = NULL, *nop = kernel(0, "nop");
    ptr p = 0;
    int n = 0;
    params[0] = &address;
    params[1] = &v;
    cu.cuStreamCreateWithPriority(&s, 0, 0);
    PROBE("launch", launch(kernel(0, name), 1, 1, s, params));
    PROBE("sync", cu.cuStreamSynchronize(s));
    PROBE("sync_again", cu.cuStreamSynchronize(s));
    PROBE("alloc", cu.cuMemAlloc_v2(&p, 4));
    PROBE("free", cu.cuMemFree_v2(memory[0]));
    PROBE("function", cu.cuModuleGetFunction(&c, module[0], "nop"));
    PROBE("launch_again", launch(nop, 1, 1, NULL, NULL));
    PROBE("query", cu.cuStreamQuery(NULL));
    PROBE("stream_destroy", cu.cuStreamDestroy_v2(s));
    PROBE("unload", cu.cuModuleUnload(module[0]));
    PROBE("current", cu.cuCtxGetCurrent(&c));
    PROBE("count", cu.cuDeviceGetCount(&n));
    PROBE("create", cu.cuCtxCreate_v2(&c, 0, 0));
    PROBE("alloc_there", cu.cuMemAlloc_v2(&p, 4));
    PROBE("reset", cu.cuDevicePrimaryCtxReset_v2(0));
    cu.cuCtxSetCurrent(context[0]);
    PROBE("retain", cu.cuDevicePrimaryCtxRetain(&c, 0));
    cu.cuCtxSetCurrent(c);
    PROBE("alloc_after_reset", cu.cuMemAlloc_v2(&p, 4));
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
    int can = 9;
    open_one();
    PROBE("can_access_self", cu.cuDeviceCanAccessPeer(&can, 0, 0));
    PROBE("value", can);
    PROBE("enable_self", cu.cuCtxEnablePeerAccess(context[0], 0));
}
static void peer(void) {
    int can = 9;
    open_all();
    PROBE("can_access", cu.cuDeviceCanAccessPeer(&can, 0, 1));
    PROBE("value", can);
    PROBE("disable_first", cu.cuCtxDisablePeerAccess(context[1]));
    PROBE("flags_1", cu.cuCtxEnablePeerAccess(context[1], 1));
    PROBE("enable", cu.cuCtxEnablePeerAccess(context[1], 0));
    PROBE("enable_again", cu.cuCtxEnablePeerAccess(context[1], 0));
    PROBE("disable", cu.cuCtxDisablePeerAccess(context[1]));
}

static void links(void) {
    static const char *const names[] = { "rank", "access", "atomics", "arrays", "some_atomics",
        "attribute_6" };
    int i, value = 0, other = 0;
    open_all();
    for (i = 0; i < 6; i++) {
        int result;
        value = other = -7;
        result = cu.cuDeviceGetP2PAttribute(&value, i + 1, 0, 1);
        cu.cuDeviceGetP2PAttribute(&other, i + 1, 1, 0);
        answer(names[i], "%d: %d %d", result, value, other);
    }
    PROBE("attribute_0", cu.cuDeviceGetP2PAttribute(&value, 0, 0, 1));
    PROBE("attribute_-1", cu.cuDeviceGetP2PAttribute(&value, -1, 0, 1));
    PROBE("to_null", cu.cuDeviceGetP2PAttribute(NULL, 1, 0, 1));
    PROBE("self", cu.cuDeviceGetP2PAttribute(&value, 1, 0, 0));
    PROBE("self_to_null", cu.cuDeviceGetP2PAttribute(NULL, 1, 0, 0));
    PROBE("self_attribute_0", cu.cuDeviceGetP2PAttribute(&value, 0, 0, 0));
    PROBE("of_99", cu.cuDeviceGetP2PAttribute(&value, 1, 0, 99));
    PROBE("of_99_to_null", cu.cuDeviceGetP2PAttribute(NULL, 1, 99, 0));
    PROBE("attribute_0_of_99", cu.cuDeviceGetP2PAttribute(&value, 0, 99, 0));
}

const group basic_groups[] = {
    { "preinit", preinit, 1 },
    { "noctx", noctx, 1 },
    { "ctx", contexts, 1 },
    { "mem", mem, 1 },
    { "launch", launches, 1 },
    { "short_extra", short_extra, 1 },
    { "event", event, 1 },
    { "module", modules, 1 },
    { "illegal_address", illegal_address, 1 },
    { "misaligned", misaligned, 1 },
    { "trap", trap, 1 },
    { "shared_outside", shared_outside, 1 },
    { "peer_self", peer_self, 1 },
    { "peer", peer, 2 },
    { "links", links, 2 },
    { NULL, NULL, 0 },
};
