/* strict.c - SIMGPU_STRICT of the CPU device: a call with a handle of a destroyed object ends the
   process, because a GPU's driver would read freed memory; what the driver of an H200 checks
   (tests/device/probe) returns its error. */
#include "../../test.h"

static driver_calls cu;
static void *context, *stream;

static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nop() { ret; }\n";

static int start(void) {
    void *driver = dlopen(getenv("GPUEXEC_DRIVER"), RTLD_NOW);
    int version = 0;
    if (!driver) return 0;
    cu = calls_load(driver);
    if (cu.cuDriverGetVersion(&version) != 0 || version < 12000) return 0; /* has no libraries */
    return cu.cuInit(0) == 0 && cu.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
            cu.cuCtxSetCurrent(context) == 0 && cu.cuStreamCreate(&stream, 1) == 0;
}

static void *dead_stream(void) {
    void *s = NULL;
    cu.cuStreamCreate(&s, 1);
    cu.cuStreamDestroy_v2(s);
    return s;
}
static void *dead_event(void) {
    void *e = NULL;
    cu.cuEventCreate(&e, 0);
    cu.cuEventDestroy_v2(e);
    return e;
}
static void *dead_context(void) {
    void *c = NULL;
    cu.cuCtxCreate_v2(&c, 0, 0);
    cu.cuCtxDestroy_v2(c);
    cu.cuCtxSetCurrent(context);
    return c;
}
static void *dead_graph(void) {
    void *g = NULL;
    cu.cuGraphCreate(&g, 0);
    cu.cuGraphDestroy(g);
    return g;
}
static void *dead_exec(void) {
    void *g = NULL, *x = NULL;
    cu.cuGraphCreate(&g, 0);
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    cu.cuGraphExecDestroy(x);
    return x;
}
static void *dead_library(void) {
    void *l = NULL;
    cu.cuLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0);
    cu.cuLibraryUnload(l);
    return l;
}
static void *dead_module(void) {
    void *m = NULL;
    cu.cuModuleLoadData(&m, text);
    cu.cuModuleUnload(m);
    return m;
}
static void *left_behind(int is_event) { /* by a destroyed context */
    void *c = NULL, *s = NULL, *e = NULL;
    cu.cuCtxCreate_v2(&c, 0, 0);
    cu.cuStreamCreate(&s, 1);
    cu.cuEventCreate(&e, 0);
    cu.cuCtxDestroy_v2(c);
    cu.cuCtxSetCurrent(context);
    return is_event ? e : s;
}

/* is_mapped: what it named is still there */
static uint64_t dead_memory(int is_mapped) {
    static const int properties[8] = { 1, 0, 1, 0 };
    unsigned long long p = 0, handle = 0;
    cu.cuMemCreate(&handle, 2 << 20, properties, 0);
    cu.cuMemAddressReserve(&p, 2 << 20, 0, 0, 0);
    if (is_mapped) cu.cuMemMap(p, 2 << 20, 0, handle, 0);
    cu.cuMemRelease(handle);
    return handle;
}

static void *out;
static unsigned long long number;
enum { CALLS_DEAD = 17 };
/* The result of call `i`, or -1 after the last one. */
static int dead_call(int i) {
    switch (i) {
    case 0: return cu.cuStreamQuery(dead_stream());
    case 1: return cu.cuStreamQuery(left_behind(0));
    case 2: return cu.cuStreamDestroy_v2(dead_stream());
    case 3: return cu.cuStreamWaitEvent(stream, dead_event(), 0);
    case 4: return cu.cuEventRecord(dead_event(), stream);
    case 5: return cu.cuEventQuery(dead_event());
    case 6: return cu.cuEventQuery(stream);
    case 7: return cu.cuCtxSetCurrent(dead_context());
    case 8: return cu.cuCtxPushCurrent_v2(dead_context());
    case 9: return cu.cuCtxDestroy_v2(dead_context());
    case 10: return cu.cuGraphInstantiateWithFlags(&out, dead_graph(), 0);
    case 11: return cu.cuGraphLaunch(dead_exec(), stream);
    case 12: return cu.cuLibraryGetKernel(&out, dead_library(), "nop");
    case 13: return cu.cuMemPoolTrimTo((void *)(uintptr_t)0xdeadbeef, 0);
    case 14: return cu.cuStreamQuery((void *)(uintptr_t)0x7f1234567890);
    case 15: return cu.cuMemRelease(dead_memory(0));
    case 16: return cu.cuMemRelease(dead_memory(1));
    default: return -1;
    }
}

/* In a child: the first word of what it prints, or the signal that ends it as a negative number. */
static int in_child(int call, const char *strict, int (*make)(int), char *said, size_t room) {
    int ends[2], status = 0, n = 0, got;
    if (pipe(ends)) return -1000;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        if (strict) setenv("SIMGPU_STRICT", strict, 1);
        else unsetenv("SIMGPU_STRICT");
        if (!start()) _exit(255);
        status = make(call);
        _exit(status < 0 || status > 999 ? 254 : status / 100 + (status % 100 ? 100 : 0));
    }
    close(ends[1]);
    while ((got = (int)read(ends[0], said + n, room - 1 - (size_t)n)) > 0) n += got;
    said[n] = 0;
    close(ends[0]);
    if (waitpid(child, &status, 0) != child) return -1000;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int is_cpu_device(void) {
    const char *driver = getenv("GPUEXEC_DRIVER");
    return driver && strstr(driver, "simgpu");
}
static int is_older(void) { /* than the calls above */
    char said[2000];
    return in_child(CALLS_DEAD, NULL, dead_call, said, sizeof said) == 255;
}

TEST_ALONE(a_dead_handle_ends_the_process) {
    char said[2000];
    if (!is_cpu_device()) SKIP("a setting of the CPU device");
    if (is_older()) SKIP("the driver lacks some of the calls");
    for (int i = 0; i < CALLS_DEAD; i++) {
        CHECK_EQ(in_child(i, "1", dead_call, said, sizeof said), -SIGABRT);
        CHECK(strstr(said, "simgpu: SIMGPU_STRICT: cu") != NULL);
        CHECK(in_child(i, NULL, dead_call, said, sizeof said) > 0);
    }
    CHECK_EQ(in_child(CALLS_DEAD, "1", dead_call, said, sizeof said), 254);
}

/* As measured on an H200. */
static int checked_call(int i) {
    switch (i) {
    case 0: return cu.cuModuleGetFunction(&out, dead_module(), "nop");
    case 1: return cu.cuModuleUnload(dead_module());
    case 2: return cu.cuEventQuery(left_behind(1));
    case 3: return cu.cuEventDestroy_v2(left_behind(1));
    case 4: return cu.cuCtxGetId(dead_context(), &number);
    case 5: return cu.cuStreamQuery(NULL);
    case 6: return cu.cuEventQuery(NULL);
    default: return -1;
    }
}
TEST_ALONE(what_a_gpu_checks_returns_its_error) {
    /* 400, 709, ... as in_child() packs them */
    static const int wanted[] = { 4, 4, 107, 107, 107, 0, 4 };
    char said[2000];
    if (!is_cpu_device()) SKIP("a setting of the CPU device");
    if (is_older()) SKIP("the driver lacks some of the calls");
    for (int i = 0; i < 7; i++)
        CHECK_EQ(in_child(i, "1", checked_call, said, sizeof said), wanted[i]);
}
