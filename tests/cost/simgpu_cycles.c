/* simgpu_cycles.c - creates and destroys each kind of object of the CPU device again and again by the driver's own
   calls: simgpu_cycles DRIVER N KIND. Cheap kinds N times, others N / 10 to N / 100 times; only kinds whose names
   contain KIND, if it is given. Prints for each kind: its name, how often, how much the resident memory grew between
   the end of the first tenth and the end, in KiB, and how much processor time a cycle of the last tenth took, as a
   percentage of one of the second tenth, and in microseconds. Exit code 1 if a call fails. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long address;
#define CALLS(X) \
    X(cuInit, (unsigned)) X(cuDevicePrimaryCtxRetain, (void **, int)) X(cuCtxSetCurrent, (void *)) \
    X(cuDevicePrimaryCtxRelease_v2, (int)) \
    X(cuCtxCreate_v2, (void **, unsigned, int)) X(cuCtxDestroy_v2, (void *)) X(cuCtxSynchronize, (void)) \
    X(cuCtxEnablePeerAccess, (void *, unsigned)) \
    X(cuEventCreate, (void **, unsigned)) X(cuEventDestroy_v2, (void *)) X(cuEventRecord, (void *, void *)) \
    X(cuStreamCreate, (void **, unsigned)) X(cuStreamDestroy_v2, (void *)) X(cuStreamSynchronize, (void *)) \
    X(cuStreamWaitEvent, (void *, void *, unsigned)) \
    X(cuStreamBeginCapture_v2, (void *, int)) X(cuStreamEndCapture, (void *, void **)) \
    X(cuMemAlloc_v2, (address *, size_t)) X(cuMemFree_v2, (address)) \
    X(cuMemAllocManaged, (address *, size_t, unsigned)) \
    X(cuMemAllocHost_v2, (void **, size_t)) X(cuMemFreeHost, (void *)) \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned)) X(cuMemHostUnregister, (void *)) \
    X(cuMemAllocAsync, (address *, size_t, void *)) X(cuMemFreeAsync, (address, void *)) \
    X(cuMemPoolCreate, (void **, const void *)) X(cuMemPoolDestroy, (void *)) \
    X(cuMemAllocFromPoolAsync, (address *, size_t, void *, void *)) \
    X(cuMemsetD8Async, (address, unsigned char, size_t, void *)) \
    X(cuModuleLoadData, (void **, const void *)) X(cuModuleUnload, (void *)) \
    X(cuModuleGetFunction, (void **, void *, const char *)) \
    X(cuLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned)) \
    X(cuLibraryUnload, (void *)) X(cuLibraryGetKernel, (void **, void *, const char *)) \
    X(cuKernelGetFunction, (void **, void *)) \
    X(cuLinkCreate_v2, (unsigned, void *, void *, void **)) X(cuLinkDestroy, (void *)) \
    X(cuLinkAddData_v2, (void *, int, void *, size_t, const char *, unsigned, void *, void *)) \
    X(cuLinkComplete, (void *, void **, size_t *)) \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, \
                       void **)) \
    X(cuLaunchHostFunc, (void *, void (*)(void *), void *)) \
    X(cuGraphCreate, (void **, unsigned)) X(cuGraphDestroy, (void *)) \
    X(cuGraphAddEmptyNode, (void **, void *, void *const *, size_t)) X(cuGraphDestroyNode, (void *)) \
    X(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long)) X(cuGraphExecDestroy, (void *)) \
    X(cuGraphLaunch, (void *, void *)) X(cuGraphClone, (void **, void *)) \
    X(cuUserObjectCreate, (void **, void *, void (*)(void *), unsigned, unsigned)) \
    X(cuUserObjectRelease, (void *, unsigned)) \
    X(cuGraphRetainUserObject, (void *, void *, unsigned, unsigned)) \
    X(cuGraphConditionalHandleCreate, (uint64_t *, void *, void *, unsigned, unsigned)) \
    X(cuIpcGetMemHandle, (void *, address)) X(cuIpcGetEventHandle, (void *, void *))
#define POINTER(name, parameters) static int (*name) parameters;
CALLS(POINTER)

static void *context, *stream, *event, *module, *function, *graph;
static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 word = 7;\n"
                           ".visible .entry nop() { ret; }\n";
static int bad;

/* A kind is a function that makes and ends one; it returns the sum of the results. */
static int an_event(void) {
    void *e = NULL;
    return cuEventCreate(&e, 0) + cuEventRecord(e, stream) + cuStreamWaitEvent(stream, e, 0) + cuEventDestroy_v2(e);
}
static int a_record(void) { return cuEventRecord(event, stream) + cuStreamSynchronize(stream); }
static int a_stream(void) {
    void *s = NULL;
    return cuStreamCreate(&s, 1) + cuEventRecord(event, s) + cuStreamDestroy_v2(s);
}
static int an_allocation(void) {
    address p = 0;
    return cuMemAlloc_v2(&p, 300) + cuMemFree_v2(p);
}
static int an_allocation_in_order(void) {
    address p = 0;
    return cuMemAllocAsync(&p, 300, stream) + cuMemsetD8Async(p, 1, 300, stream) + cuMemFreeAsync(p, stream)
           + cuStreamSynchronize(stream);
}
static int managed(void) {
    address p = 0;
    return cuMemAllocManaged(&p, 300, 1) + cuMemFree_v2(p);
}
static int pinned(void) {
    void *p = NULL;
    return cuMemAllocHost_v2(&p, 300) + cuMemFreeHost(p);
}
static int registered(void) {
    static char page[8192];
    return cuMemHostRegister_v2(page, sizeof page, 0) + cuMemHostUnregister(page);
}
static int a_pool(void) {
    static int about[22] = { 1, 0, 1, 0 };             /* CUmemPoolProps: pinned, on device 0 */
    void *pool = NULL;
    address p = 0;
    return cuMemPoolCreate(&pool, about) + cuMemAllocFromPoolAsync(&p, 300, pool, stream) + cuMemFreeAsync(p, stream)
           + cuStreamSynchronize(stream) + cuMemPoolDestroy(pool);
}
static int a_launch(void) {
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) + cuStreamSynchronize(stream);
}
static void nothing(void *user) { (void)user; }
static int a_host_function(void) { return cuLaunchHostFunc(stream, nothing, NULL) + cuStreamSynchronize(stream); }
static int a_node(void) {
    void *n = NULL;
    return cuGraphAddEmptyNode(&n, graph, NULL, 0) + cuGraphDestroyNode(n);
}
static int a_graph(void) {
    void *g = NULL, *n = NULL, *copy = NULL;
    return cuGraphCreate(&g, 0) + cuGraphAddEmptyNode(&n, g, NULL, 0) + cuGraphClone(&copy, g) + cuGraphDestroy(copy)
           + cuGraphDestroy(g);
}
static int a_capture(void) {
    void *g = NULL, *x = NULL;
    address p = 0;
    int r = cuStreamBeginCapture_v2(stream, 1) + cuMemAllocAsync(&p, 300, stream) + cuMemsetD8Async(p, 1, 300, stream)
            + cuMemFreeAsync(p, stream) + cuEventRecord(event, stream) + cuStreamEndCapture(stream, &g);
    r += cuGraphInstantiateWithFlags(&x, g, 0) + cuGraphLaunch(x, stream) + cuStreamSynchronize(stream);
    return r + cuGraphExecDestroy(x) + cuGraphDestroy(g);
}
static int an_executable_graph(void) {
    void *x = NULL;
    return cuGraphInstantiateWithFlags(&x, graph, 0) + cuGraphLaunch(x, stream) + cuGraphExecDestroy(x);
}
static int a_user_object(void) {                       /* and waits for the thread that destroys it */
    void *o = NULL, *g = NULL;
    return a_host_function() + cuUserObjectCreate(&o, NULL, nothing, 1, 1) + cuGraphCreate(&g, 0)
           + cuGraphRetainUserObject(g, o, 1, 0) + cuUserObjectRelease(o, 1) + cuGraphDestroy(g);
}
static int a_condition(void) {
    void *g = NULL;
    uint64_t handle;
    return cuGraphCreate(&g, 0) + cuGraphConditionalHandleCreate(&handle, g, context, 0, 1) + cuGraphDestroy(g);
}
static int an_exported_allocation(void) {
    char handle[64];
    address p = 0;
    return cuMemAlloc_v2(&p, 300) + cuIpcGetMemHandle(handle, p) + cuMemFree_v2(p);
}
static int an_exported_event(void) {
    char handle[64];
    void *e = NULL;
    return cuEventCreate(&e, 6) + cuIpcGetEventHandle(handle, e) + cuEventRecord(e, stream)
           + cuStreamSynchronize(stream) + cuEventDestroy_v2(e);
}
static int a_module(void) {
    void *m = NULL, *f = NULL;
    return cuModuleLoadData(&m, text) + cuModuleGetFunction(&f, m, "nop")
           + cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) + cuModuleUnload(m);
}
static int a_library(void) {
    void *l = NULL, *k = NULL, *f = NULL;
    return cuLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0) + cuLibraryGetKernel(&k, l, "nop")
           + cuKernelGetFunction(&f, k) + cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL)
           + cuLibraryUnload(l);
}
static int a_link(void) {
    void *state = NULL, *image = NULL;
    size_t bytes;
    return cuLinkCreate_v2(0, NULL, NULL, &state)
           + cuLinkAddData_v2(state, 1, (void *)(uintptr_t)text, sizeof text, "a", 0, NULL, NULL)
           + cuLinkComplete(state, &image, &bytes) + cuLinkDestroy(state);
}
static int a_context(void) {
    void *c = NULL, *e = NULL, *s = NULL;
    address p = 0;
    int r = cuCtxCreate_v2(&c, 0, 1) + cuEventCreate(&e, 0) + cuStreamCreate(&s, 1) + cuMemAlloc_v2(&p, 300)
            + cuEventRecord(e, s);
    r += cuCtxSetCurrent(context) + cuCtxEnablePeerAccess(c, 0);
    return r + cuCtxDestroy_v2(c);
}
static int a_primary_context(void) {
    void *c = NULL, *e = NULL;
    int r = cuDevicePrimaryCtxRetain(&c, 1) + cuCtxSetCurrent(c) + cuEventCreate(&e, 0);
    return r + cuDevicePrimaryCtxRelease_v2(1) + cuCtxSetCurrent(context);
}
/* A graph of a context that is destroyed first. */
static int a_graph_left_behind(void) {
    void *c = NULL, *s = NULL, *g = NULL;
    address p = 0;
    int r = cuCtxCreate_v2(&c, 0, 0) + cuStreamCreate(&s, 1) + cuMemAlloc_v2(&p, 300) + cuStreamBeginCapture_v2(s, 1)
            + cuMemsetD8Async(p, 1, 300, s) + cuStreamEndCapture(s, &g);
    return r + cuCtxDestroy_v2(c) + cuCtxSetCurrent(context) + cuGraphDestroy(g);
}
/* A stream that is destroyed while it captures. */
static int an_abandoned_capture(void) {
    void *s = NULL;
    address p = 0;
    return cuStreamCreate(&s, 1) + cuStreamBeginCapture_v2(s, 1) + cuMemAllocAsync(&p, 300, s) + cuStreamDestroy_v2(s);
}

static const struct kind { const char *name; int (*cycle)(void); int cost; } kinds[] = {
    { "event", an_event, 1 }, { "record", a_record, 1 }, { "stream", a_stream, 1 }, { "allocation", an_allocation, 1 },
    { "allocation_in_order", an_allocation_in_order, 1 }, { "managed", managed, 1 }, { "pinned", pinned, 1 },
    { "registered", registered, 10 }, { "pool", a_pool, 10 }, { "launch", a_launch, 1 },
    { "host_function", a_host_function, 1 }, { "node", a_node, 1 }, { "graph", a_graph, 1 },
    { "capture", a_capture, 10 }, { "executable_graph", an_executable_graph, 1 }, { "user_object", a_user_object, 10 },
    { "condition", a_condition, 1 }, { "exported_allocation", an_exported_allocation, 10 },
    { "exported_event", an_exported_event, 10 }, { "module", a_module, 100 }, { "library", a_library, 100 },
    { "link", a_link, 100 }, { "context", a_context, 20 }, { "primary_context", a_primary_context, 100 },
    { "graph_left_behind", a_graph_left_behind, 20 }, { "abandoned_capture", an_abandoned_capture, 100 },
};

static double ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);       /* other processes may keep the processors busy */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static long resident_kib(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1) exit(1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
    const int many = argc > 2 ? atoi(argv[2]) : 1000000;
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_THREADS", "1", 1);
    void *driver = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *node = NULL;
    if (!driver) return 1;
#define FIND(name, parameters) *(void **)&name = dlsym(driver, #name); bad += !name;
    CALLS(FIND)
    if (bad || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)
        || cuStreamCreate(&stream, 1) || cuEventCreate(&event, 0) || cuModuleLoadData(&module, text)
        || cuModuleGetFunction(&function, module, "nop") || cuGraphCreate(&graph, 0)
        || cuGraphAddEmptyNode(&node, graph, NULL, 0))
        return 1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int n = many / kinds[k].cost, tenth = n / 10 ? n / 10 : 1;
        double took[10] = { 0 };
        long first = 0;
        if (argc > 3 && !strstr(kinds[k].name, argv[3])) continue;
        for (int t = 0; t < 10; t++) {
            const double start = ms();
            for (int i = 0; i < tenth; i++) {
                const int result = kinds[k].cycle();
                if (!result) continue;
                fprintf(stderr, "%s: the results of cycle %d add up to %d\n", kinds[k].name, t * tenth + i, result);
                return 1;
            }
            took[t] = ms() - start;
            if (t == 0) first = resident_kib();
        }
        printf("%s %d %ld %.0f %.2f\n", kinds[k].name, n, resident_kib() - first, 100 * took[9] / took[1],
               1e3 * took[9] / tenth);
        fflush(stdout);
    }
    return 0;
}
