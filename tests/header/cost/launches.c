/* ./launches WHAT N: does something N times, with the driver of driver.c: with the driver's own
   calls ("raw_..."), or through gpuexec. "all": does each of them N times. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>

static gpuexec_context ctx;
static gpuexec_kernel fn;
static gpuexec_stream s, other;
static gpuexec_event event;
static gpuexec_prepared prepared;
static gpuexec_graph graph, built;
static gpuexec_node node;
static gpuexec_batch batch;
static gpuexec_pool pool, caching;
static struct CUfunc_st *native_function;
static struct CUstream_st *native_stream, *native_other;
static struct CUevent_st *native_event, *raw_made;
static struct CUgraphExec_st *native_graph;
static struct CUgraph_st *native_built;
static struct CUgraphNode_st *raw_added;
static gxi_kernel_node raw_params;
static gpuexec_ptr x = 1, y = 2, memory, device;
static int *pinned;
static int n = 1000;
static float a = 3;
static void *params[4] = { &x, &y, &n, &a };

/* clang-format off */
#define KINDS(X) \
    X(raw_launch, gxi.cu.cuLaunchKernel(native_function, 4, 1, 1, 256, 1, 1, 0, native_stream, \
        params, NULL)) \
    X(launch, gpuexec_launch(fn, s, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a))) \
    X(prepared, gpuexec_launch_prepared(prepared)) \
    X(current, gpuexec_launch(fn, GPUEXEC_CURRENT, gpuexec_grid_for((size_t)n, 256), \
        GPUEXEC_ARGS(x, y, n, a))) \
    X(raw_record, gxi.cu.cuEventRecord(native_event, native_stream)) \
    X(record, gpuexec_event_record(event, s)) \
    X(raw_wait, gxi.cu.cuStreamWaitEvent(native_other, native_event, 0)) \
    X(wait, gpuexec_stream_wait_event(other, event)) \
    X(raw_query, gxi.cu.cuEventQuery(native_event)) X(query, (void)gpuexec_event_query(event)) \
    X(raw_sync, gxi.cu.cuStreamSynchronize(native_stream)) \
    X(event_sync, (void)!gpuexec_event_sync(event)) X(sync, (void)!gpuexec_stream_sync(s)) \
    X(idle, (void)gpuexec_stream_query(s)) \
    X(raw_in, gxi.cu.cuMemcpyHtoDAsync(memory, &n, 4, native_stream)) \
    X(in, gpuexec_copy_in(s, device, pinned, 4)) X(out, gpuexec_copy_out(s, pinned, device, 4)) \
    X(copy, gpuexec_copy(s, device, device + 64, 4)) X(fill, gpuexec_fill(s, device, 0, 1, 4)) \
    X(raw_event, gxi.cu.cuEventCreate(&raw_made, 0); gxi.cu.cuEventDestroy(raw_made)) \
    X(event, gpuexec_event_destroy(gpuexec_event_create(ctx, NULL))) \
    X(point, gpuexec_event_destroy(gpuexec_stream_record(s, NULL))) \
    X(raw_both, gxi.cu.cuEventRecord(native_event, native_stream); \
      gxi.cu.cuStreamWaitEvent(native_other, native_event, 0)) \
    X(scope, GPUEXEC_STREAM_SCOPE(other) { }) X(wait_stream, gpuexec_stream_wait_stream(other, s)) \
    X(raw_alloc, gxi.cu.cuMemAllocFromPoolAsync(&memory, 4096, native_function, native_stream); \
      gxi.cu.cuMemFreeAsync(memory, native_stream)) \
    X(alloc, memory = gpuexec_alloc_on(s, 4096); gpuexec_free_on(s, memory)) \
    X(raw_again, gxi.cu.cuMemAllocFromPoolAsync(&memory, 8192, native_function, native_stream); \
      gxi.cu.cuMemFreeAsync(memory, native_stream)) \
    X(again, memory = gpuexec_alloc_on(s, 8192); gpuexec_free_on(s, memory)) \
    X(pooled, memory = gpuexec_pool_alloc(pool, s, 8192); gpuexec_free_on(s, memory)) \
    X(cached, memory = gpuexec_pool_alloc(caching, s, 8192); gpuexec_free_on(s, memory)) \
    X(raw_graph, gxi.cu.cuGraphLaunch(native_graph, native_stream)) \
    X(graph, gpuexec_graph_launch(graph, s)) \
    X(batch, gpuexec_batch_launch(batch, s)) X(set, gpuexec_batch_set(batch, 1, 3, &a, sizeof a)) \
    X(raw_node, gxi.cu.cuGraphAddKernelNode(&raw_added, native_built, &raw_added, 1, &raw_params)) \
    X(node, node = gpuexec_graph_add_kernel(built, fn, gpuexec_grid_for((size_t)n, 256), \
        GPUEXEC_ARGS(x, y, n, a), \
                                            GPUEXEC_AFTER(node))) \
    X(raw_argument, gxi.cu.cuGraphKernelNodeGetParams(raw_added, &raw_params); \
      gxi.cu.cuGraphKernelNodeSetParams(raw_added, &raw_params)) \
    X(argument, gpuexec_node_set_argument(node, 2, &n, sizeof n))
/* clang-format on */

/* The first time makes all checks and creates what is kept. */
#define LOOP(name, call) \
    static void first_##name(void) { call; } \
    static void do_##name(int count) { \
        for (int i = 0; i < count; i++) { call; } \
    }
KINDS(LOOP)
#define ROW(name, call) { #name, first_##name, do_##name },
static const struct {
    const char *name;
    void (*first)(void);
    void (*run)(int count);
} kinds[] = { KINDS(ROW) };

int main(int argc, char **argv) {
    size_t i, done = 0;
    if (argc != 3) return 1;
    ctx = gpuexec_context_open(0, NULL);
    fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ".version 7.0", 0, NULL), "k");
    s = gpuexec_context_stream(ctx);
    other = gpuexec_stream_create(ctx, NULL);
    event = gpuexec_event_create(ctx, NULL);
    device = gpuexec_alloc(ctx, 256);
    pinned = (int *)gpuexec_alloc_pinned(ctx, sizeof *pinned);
    prepared = gpuexec_prepare(fn, s, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a));
    native_function = gpuexec_kernel_native(fn);
    /* not gpuexec_stream_native: other code could then capture on these streams, and each call
       makes a query */
    native_stream = gxi_peek(s.id, GXI_STREAM)->data.stream.native;
    native_other = gxi_peek(other.id, GXI_STREAM)->data.stream.native;
    native_event = gxi_peek(event.id, GXI_EVENT)->data.event.native;
    pool = gpuexec_pool_create(ctx, NULL);
    caching = gpuexec_pool_create(ctx, &(gpuexec_pool_desc){ .cache_bytes = 1 << 20 });
    batch = gpuexec_batch_create(ctx, NULL);
    for (i = 0; i < 2; i++)
        gpuexec_batch_add(batch, fn, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(x, y, n, a));
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0 && strcmp(argv[1], "all") != 0) continue;
        /* once there is a graph, frees look whether it loses memory */
        if (strcmp(kinds[i].name, "raw_graph") == 0) {
            GPUEXEC_CAPTURE(s, &graph) {}
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
