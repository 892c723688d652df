/* ./launches WHAT N: does something N times, with the driver of driver.c: with the driver's own calls ("raw_..."), or
   through gpuexec. "all": does each of them N times. */
#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>

static int (*raw_launch)(struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         struct CUstream_st *, void **, void **);
static int (*raw_record)(struct CUevent_st *, struct CUstream_st *);
static int (*raw_graph)(struct CUgraphExec_st *, struct CUstream_st *);
static int (*raw_wait)(struct CUstream_st *, struct CUevent_st *, unsigned);
static int (*raw_take)(gpuexec_ptr *, size_t, void *, struct CUstream_st *);
static int (*raw_give)(gpuexec_ptr, struct CUstream_st *);
static int (*raw_add)(struct CUgraphNode_st **, struct CUgraph_st *, struct CUgraphNode_st *const *, size_t,
                      const gxi_kernel_node *);
static int (*raw_get)(struct CUgraphNode_st *, gxi_kernel_node *);
static int (*raw_set)(struct CUgraphNode_st *, const gxi_kernel_node *);

static gpuexec_kernel     fn;
static gpuexec_stream     s, other;
static gpuexec_event      event;
static gpuexec_prepared   prepared;
static gpuexec_graph      graph, built;
static gpuexec_node       node;
static gpuexec_batch      batch;
static gpuexec_pool       pool;
static struct CUfunc_st   *native_function;
static struct CUstream_st *native_stream, *native_other;
static struct CUevent_st  *native_event;
static struct CUgraphExec_st *native_graph;
static struct CUgraph_st  *native_built;
static struct CUgraphNode_st *raw_added;
static gxi_kernel_node     raw_params;
static gpuexec_ptr        x = 1, y = 2, memory;
static int                n = 1000;
static float              a = 3;
static void              *params[4] = { &x, &y, &n, &a };

#define KINDS(X) \
    X(raw_launch, raw_launch(native_function, 4, 1, 1, 256, 1, 1, 0, native_stream, params, NULL)) \
    X(launch, gpuexec_launch(fn, s, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a))) \
    X(prepared, gpuexec_launch_prepared(prepared)) \
    X(current, gpuexec_launch(fn, GPUEXEC_CURRENT, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a))) \
    X(raw_record, raw_record(native_event, native_stream)) X(record, gpuexec_event_record(event, s)) \
    X(raw_wait, raw_wait(native_other, native_event, 0)) X(wait, gpuexec_stream_wait_event(other, event)) \
    X(raw_both, raw_record(native_event, native_stream); raw_wait(native_other, native_event, 0)) \
    X(scope, GPUEXEC_STREAM_SCOPE(other) { }) X(wait_stream, gpuexec_stream_wait_stream(other, s)) \
    X(raw_alloc, raw_take(&memory, 4096, native_function, native_stream); raw_give(memory, native_stream)) \
    X(alloc, memory = gpuexec_alloc_on(s, 4096); gpuexec_free_on(s, memory)) \
    X(raw_again, raw_take(&memory, 8192, native_function, native_stream); raw_give(memory, native_stream)) \
    X(again, memory = gpuexec_alloc_on(s, 8192); gpuexec_free_on(s, memory)) \
    X(pooled, memory = gpuexec_pool_alloc(pool, s, 8192); gpuexec_free_on(s, memory)) \
    X(raw_graph, raw_graph(native_graph, native_stream)) X(graph, gpuexec_graph_launch(graph, s)) \
    X(batch, gpuexec_batch_launch(batch, s)) X(set, gpuexec_batch_set(batch, 1, 3, &a, sizeof a)) \
    X(raw_node, raw_add(&raw_added, native_built, &raw_added, 1, &raw_params)) \
    X(node, node = gpuexec_graph_add_kernel(built, fn, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a), \
                                            GPUEXEC_AFTER(node))) \
    X(raw_argument, raw_get(raw_added, &raw_params); raw_set(raw_added, &raw_params)) \
    X(argument, gpuexec_node_set_argument(node, 2, &n, sizeof n))

/* The first time makes all checks and creates what is kept. */
#define LOOP(name, call) \
    static void first_##name(void) { call; } \
    static void do_##name(int count) { for (int i = 0; i < count; i++) { call; } }
KINDS(LOOP)
#define ROW(name, call) { #name, first_##name, do_##name },
static const struct { const char *name; void (*first)(void); void (*run)(int count); } kinds[] = { KINDS(ROW) };

static void *entry(const char *name, int version) {
    void *found = gpuexec_driver_symbol(name, version);
    if (!found) exit(1);
    return found;
}

int main(int argc, char **argv) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    void           *entries[9];
    size_t          i, done = 0;
    if (argc != 3) return 1;
    fn       = gpuexec_kernel_get(gpuexec_module_load(ctx, ".version 7.0", 0, NULL), "k");
    s        = gpuexec_context_stream(ctx);
    other    = gpuexec_stream_create(ctx, NULL);
    event    = gpuexec_event_create(ctx, NULL);
    gpuexec_alloc(ctx, 256);
    prepared = gpuexec_prepare(fn, s, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a));
    native_function = gpuexec_kernel_native(fn);
    /* not gpuexec_stream_native: other code could then capture on these streams, and each call makes a query */
    native_stream   = gxi_peek(s.id, GXI_STREAM)->is.stream.native;
    native_other    = gxi_peek(other.id, GXI_STREAM)->is.stream.native;
    native_event    = gxi_peek(event.id, GXI_EVENT)->is.event.native;
    entries[0] = entry("cuLaunchKernel", 4000);
    entries[1] = entry("cuEventRecord", 2000);
    entries[2] = entry("cuStreamWaitEvent", 3020);
    entries[3] = entry("cuMemAllocFromPoolAsync", 11020);
    entries[4] = entry("cuMemFreeAsync", 11020);
    entries[5] = entry("cuGraphLaunch", 10000);
    entries[6] = entry("cuGraphAddKernelNode", 10000);
    entries[7] = entry("cuGraphKernelNodeGetParams", 10000);
    entries[8] = entry("cuGraphKernelNodeSetParams", 10000);
    memcpy(&raw_add, &entries[6], sizeof entries[6]);
    memcpy(&raw_get, &entries[7], sizeof entries[7]);
    memcpy(&raw_set, &entries[8], sizeof entries[8]);
    memcpy(&raw_launch, &entries[0], sizeof entries[0]);
    memcpy(&raw_record, &entries[1], sizeof entries[1]);
    memcpy(&raw_wait, &entries[2], sizeof entries[2]);
    memcpy(&raw_take, &entries[3], sizeof entries[3]);
    memcpy(&raw_give, &entries[4], sizeof entries[4]);
    memcpy(&raw_graph, &entries[5], sizeof entries[5]);
    pool = gpuexec_pool_create(ctx, NULL);
    batch = gpuexec_batch_create(ctx, NULL);
    for (i = 0; i < 2; i++) gpuexec_batch_add(batch, fn, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(x, y, n, a));
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0 && strcmp(argv[1], "all") != 0) continue;
        if (strcmp(kinds[i].name, "raw_graph") == 0) {   /* once there is a graph, frees look whether it loses memory */
            GPUEXEC_CAPTURE(s, &graph) { }
            if (gpuexec_graph_prepare(graph, s) != GPUEXEC_OK) return 1;
            native_graph = gpuexec_graph_exec_native(graph);
        }
        if (strcmp(kinds[i].name, "raw_node") == 0) {
            built = gpuexec_graph_create(ctx);
            native_built = gpuexec_graph_native(built);
            node = gpuexec_graph_add_empty(built, GPUEXEC_FIRST);
        }
        kinds[i].first();
        kinds[i].run(atoi(argv[2]));
        done++;
    }
    if (gpuexec_take_error() == GPUEXEC_OK && done) return 0;
    fputs(done ? gpuexec_error_text() : "WHAT is the name of none of KINDS\n", stderr);
    return 1;
}
