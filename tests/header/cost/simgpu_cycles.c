/* simgpu_cycles.c - creates and destroys each kind of object of the CPU device again and again by
   the driver's own calls: simgpu_cycles DRIVER N KIND. Cheap kinds N times, others N / 10 to N /
   100 times; only kinds whose names contain KIND, if it is given. Prints for each kind: its name,
   how often, how much the resident memory grew between the end of the first tenth and the end, in
   KiB, and how much processor time a cycle of the last tenth took, as a percentage of one of the
   second tenth, and in microseconds. Exit code 1 if a call fails. */
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
#include "../../support/calls.h"

typedef unsigned long long address;
static driver_calls cu;

static void *context, *stream, *event, *module, *function, *graph;
static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 word = 7;\n"
        ".visible .entry nop() { ret; }\n";

/* A kind is a function that makes and ends one; it returns the sum of the results. */
static int an_event(void) {
    void *e = NULL;
    return cu.cuEventCreate(&e, 0) + cu.cuEventRecord(e, stream) +
            cu.cuStreamWaitEvent(stream, e, 0) + cu.cuEventDestroy_v2(e);
}
static int a_record(void) {
    return cu.cuEventRecord(event, stream) + cu.cuStreamSynchronize(stream);
}
static int a_stream(void) {
    void *s = NULL;
    return cu.cuStreamCreate(&s, 1) + cu.cuEventRecord(event, s) + cu.cuStreamDestroy_v2(s);
}
static int an_allocation(void) {
    address p = 0;
    return cu.cuMemAlloc_v2(&p, 300) + cu.cuMemFree_v2(p);
}
static int an_allocation_in_order(void) {
    address p = 0;
    return cu.cuMemAllocAsync(&p, 300, stream) + cu.cuMemsetD8Async(p, 1, 300, stream) +
            cu.cuMemFreeAsync(p, stream) + cu.cuStreamSynchronize(stream);
}
static int managed(void) {
    address p = 0;
    return cu.cuMemAllocManaged(&p, 300, 1) + cu.cuMemFree_v2(p);
}
static int pinned(void) {
    void *p = NULL;
    return cu.cuMemAllocHost_v2(&p, 300) + cu.cuMemFreeHost(p);
}
static int registered(void) {
    static char page[8192];
    return cu.cuMemHostRegister_v2(page, sizeof page, 0) + cu.cuMemHostUnregister(page);
}
static int a_pool(void) {
    static int about[22] = { 1, 0, 1, 0 }; /* CUmemPoolProps: pinned, on device 0 */
    void *pool = NULL;
    address p = 0;
    return cu.cuMemPoolCreate(&pool, about) + cu.cuMemAllocFromPoolAsync(&p, 300, pool, stream) +
            cu.cuMemFreeAsync(p, stream) + cu.cuStreamSynchronize(stream) +
            cu.cuMemPoolDestroy(pool);
}
/* one allocation at two addresses; with a descriptor, imported from it, too */
static int mapped(int handle_types) {
    const int about[8] = { 1, handle_types, 1, 0 };          /* CUmemAllocationProp: on device 0 */
    const struct { int type, id, flags; } may = { 1, 0, 3 }; /* CUmemAccessDesc */
    const size_t unit = 2 << 20;
    address p = 0;
    unsigned long long memory = 0, again = 0;
    int file = -1,
        r = cu.cuMemCreate(&memory, unit, about, 0) +
            cu.cuMemAddressReserve(&p, 2 * unit, 0, 0, 0) + cu.cuMemMap(p, unit, 0, memory, 0) +
            cu.cuMemMap(p + unit, unit, 0, memory, 0) +
            cu.cuMemSetAccess(p, 2 * unit, (const void *)&may, 1) +
            cu.cuMemsetD8Async(p + unit - 1, 1, 2, stream) + cu.cuStreamSynchronize(stream);
    if (handle_types) {
        r += cu.cuMemExportToShareableHandle(&file, memory, handle_types, 0) +
                cu.cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file, handle_types) +
                cu.cuMemRelease(again);
        close(file);
    }
    return r + cu.cuMemRelease(memory) + cu.cuMemUnmap(p, 2 * unit) +
            cu.cuMemAddressFree(p, 2 * unit);
}
static int mapped_memory(void) { return mapped(0); }
static int exported_memory(void) { return mapped(1); }
static int a_launch(void) {
    return cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) +
            cu.cuStreamSynchronize(stream);
}
static void nothing(void *user) { (void)user; }
static int a_host_function(void) {
    return cu.cuLaunchHostFunc(stream, nothing, NULL) + cu.cuStreamSynchronize(stream);
}
static int a_node(void) {
    void *n = NULL;
    return cu.cuGraphAddEmptyNode(&n, graph, NULL, 0) + cu.cuGraphDestroyNode(n);
}
static int a_graph(void) {
    void *g = NULL, *n = NULL, *copy = NULL;
    return cu.cuGraphCreate(&g, 0) + cu.cuGraphAddEmptyNode(&n, g, NULL, 0) +
            cu.cuGraphClone(&copy, g) + cu.cuGraphDestroy(copy) + cu.cuGraphDestroy(g);
}
static int a_capture(void) {
    void *g = NULL, *x = NULL;
    address p = 0;
    int r = cu.cuStreamBeginCapture_v2(stream, 1) + cu.cuMemAllocAsync(&p, 300, stream) +
            cu.cuMemsetD8Async(p, 1, 300, stream) + cu.cuMemFreeAsync(p, stream) +
            cu.cuEventRecord(event, stream) + cu.cuStreamEndCapture(stream, &g);
    r += cu.cuGraphInstantiateWithFlags(&x, g, 0) + cu.cuGraphLaunch(x, stream) +
            cu.cuStreamSynchronize(stream);
    return r + cu.cuGraphExecDestroy(x) + cu.cuGraphDestroy(g);
}
static int an_executable_graph(void) {
    void *x = NULL;
    return cu.cuGraphInstantiateWithFlags(&x, graph, 0) + cu.cuGraphLaunch(x, stream) +
            cu.cuGraphExecDestroy(x);
}
static int a_user_object(void) { /* and waits for the thread that destroys it */
    void *o = NULL, *g = NULL;
    return a_host_function() + cu.cuUserObjectCreate(&o, NULL, nothing, 1, 1) +
            cu.cuGraphCreate(&g, 0) + cu.cuGraphRetainUserObject(g, o, 1, 0) +
            cu.cuUserObjectRelease(o, 1) + cu.cuGraphDestroy(g);
}
static int a_condition(void) {
    void *g = NULL;
    uint64_t handle;
    return cu.cuGraphCreate(&g, 0) + cu.cuGraphConditionalHandleCreate(&handle, g, context, 0, 1) +
            cu.cuGraphDestroy(g);
}
static int an_exported_allocation(void) {
    gxi_ipc_handle handle;
    address p = 0;
    return cu.cuMemAlloc_v2(&p, 300) + cu.cuIpcGetMemHandle(&handle, p) + cu.cuMemFree_v2(p);
}
static int an_exported_event(void) {
    gxi_ipc_handle handle;
    void *e = NULL;
    return cu.cuEventCreate(&e, 6) + cu.cuIpcGetEventHandle(&handle, e) +
            cu.cuEventRecord(e, stream) + cu.cuStreamSynchronize(stream) + cu.cuEventDestroy_v2(e);
}
static int a_module(void) {
    void *m = NULL, *f = NULL;
    return cu.cuModuleLoadData(&m, text) + cu.cuModuleGetFunction(&f, m, "nop") +
            cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) + cu.cuModuleUnload(m);
}
static int a_library(void) {
    void *l = NULL, *k = NULL, *f = NULL;
    return cu.cuLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0) +
            cu.cuLibraryGetKernel(&k, l, "nop") + cu.cuKernelGetFunction(&f, k) +
            cu.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) + cu.cuLibraryUnload(l);
}
static int a_link(void) {
    void *state = NULL, *image = NULL;
    size_t bytes;
    return cu.cuLinkCreate_v2(0, NULL, NULL, &state) +
            cu.cuLinkAddData_v2(
                    state, 1, (void *)(uintptr_t)text, sizeof text, "a", 0, NULL, NULL) +
            cu.cuLinkComplete(state, &image, &bytes) + cu.cuLinkDestroy(state);
}
static int a_context(void) {
    void *c = NULL, *e = NULL, *s = NULL;
    address p = 0;
    int r = cu.cuCtxCreate_v2(&c, 0, 1) + cu.cuEventCreate(&e, 0) + cu.cuStreamCreate(&s, 1) +
            cu.cuMemAlloc_v2(&p, 300) + cu.cuEventRecord(e, s);
    r += cu.cuCtxSetCurrent(context) + cu.cuCtxEnablePeerAccess(c, 0);
    return r + cu.cuCtxDestroy_v2(c);
}
static int a_primary_context(void) {
    void *c = NULL, *e = NULL;
    int r = cu.cuDevicePrimaryCtxRetain(&c, 1) + cu.cuCtxSetCurrent(c) + cu.cuEventCreate(&e, 0);
    return r + cu.cuDevicePrimaryCtxRelease_v2(1) + cu.cuCtxSetCurrent(context);
}
/* A graph of a context that is destroyed first. */
static int a_graph_left_behind(void) {
    void *c = NULL, *s = NULL, *g = NULL;
    address p = 0;
    int r = cu.cuCtxCreate_v2(&c, 0, 0) + cu.cuStreamCreate(&s, 1) + cu.cuMemAlloc_v2(&p, 300) +
            cu.cuStreamBeginCapture_v2(s, 1) + cu.cuMemsetD8Async(p, 1, 300, s) +
            cu.cuStreamEndCapture(s, &g);
    return r + cu.cuCtxDestroy_v2(c) + cu.cuCtxSetCurrent(context) + cu.cuGraphDestroy(g);
}
/* A stream that is destroyed while it captures. */
static int an_abandoned_capture(void) {
    void *s = NULL;
    address p = 0;
    return cu.cuStreamCreate(&s, 1) + cu.cuStreamBeginCapture_v2(s, 1) +
            cu.cuMemAllocAsync(&p, 300, s) + cu.cuStreamDestroy_v2(s);
}

static const struct kind {
    const char *name;
    int (*cycle)(void);
    int cost;
} kinds[] = {
    { "event", an_event, 1 },
    { "record", a_record, 1 },
    { "stream", a_stream, 1 },
    { "allocation", an_allocation, 1 },
    { "allocation_in_order", an_allocation_in_order, 1 },
    { "managed", managed, 1 },
    { "pinned", pinned, 1 },
    { "registered", registered, 10 },
    { "pool", a_pool, 10 },
    { "mapped_memory", mapped_memory, 100 },
    { "exported_memory", exported_memory, 100 },
    { "launch", a_launch, 1 },
    { "host_function", a_host_function, 1 },
    { "node", a_node, 1 },
    { "graph", a_graph, 1 },
    { "capture", a_capture, 10 },
    { "executable_graph", an_executable_graph, 1 },
    { "user_object", a_user_object, 10 },
    { "condition", a_condition, 1 },
    { "exported_allocation", an_exported_allocation, 10 },
    { "exported_event", an_exported_event, 10 },
    { "module", a_module, 100 },
    { "library", a_library, 100 },
    { "link", a_link, 100 },
    { "context", a_context, 20 },
    { "primary_context", a_primary_context, 1 },
    { "graph_left_behind", a_graph_left_behind, 20 },
    { "abandoned_capture", an_abandoned_capture, 100 },
};

static double ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may keep the processors busy */
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
    cu = calls_load(driver);
    if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) || cu.cuCtxSetCurrent(context) ||
            cu.cuStreamCreate(&stream, 1) || cu.cuEventCreate(&event, 0) ||
            cu.cuModuleLoadData(&module, text) ||
            cu.cuModuleGetFunction(&function, module, "nop") || cu.cuGraphCreate(&graph, 0) ||
            cu.cuGraphAddEmptyNode(&node, graph, NULL, 0))
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
                fprintf(stderr, "%s: the results of cycle %d add up to %d\n", kinds[k].name,
                        t * tenth + i, result);
                return 1;
            }
            took[t] = ms() - start;
            if (t == 0) first = resident_kib();
        }
        printf("%s %d %ld %.0f %.2f\n", kinds[k].name, n, resident_kib() - first,
                100 * took[9] / took[1], 1e3 * took[9] / tenth);
        fflush(stdout);
    }
    return 0;
}
