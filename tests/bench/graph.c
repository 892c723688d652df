/* graph.c - the cost of captures and graphs for the calling thread: gpuexec against the driver's
   own calls, with the same kernel. The context is current, which gpuexec does not need. */
#include "bench.h"

enum { ROUNDS = 20, BURSTS = 6, NODES = 1000 };

static const char kernel_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry four(.param .u64 a, .param .u64 b, .param .u32 "
                                  "n, .param .f32 f) { ret; }\n";
static gpuexec_context context;
static gpuexec_stream stream;
static gpuexec_kernel kernel;
static gpuexec_graph one, many;
static gxi_driver cu; /* the driver's entry points */
static struct CUstream_st *queue;
static struct CUfunc_st *function;
static struct CUgraphExec_st *native_one, *native_many;
static gpuexec_ptr a = 256, b = 512;
static int n = 1000;
static float factor = 2;

static double settle(double begin, double end, int bad, const char *what) {
    if (!bad) bad = cu.cuStreamSynchronize(queue);
    if (!bad) return end - begin;
    fprintf(stderr, "%s failed: %s\n", what, gpuexec_error_text());
    exit(1);
}
#define BURST(name, call) \
    static double name(int count) { \
        double begin, end; \
        int i, bad = 0; \
        begin = microseconds(); \
        for (i = 0; i < count; i++) bad |= (int)(call); \
        end = microseconds(); \
        return settle(begin, end, bad, #name); \
    }

static int raw_capture(int nodes, struct CUgraph_st **graph) {
    void *params[4];
    int i, bad = cu.cuStreamBeginCapture(queue, GPUEXEC_CAPTURE_GLOBAL);
    params[0] = &a;
    params[1] = &b;
    params[2] = &n;
    params[3] = &factor;
    for (i = 0; i < nodes; i++)
        bad |= cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, params, NULL);
    return bad | cu.cuStreamEndCapture(queue, graph);
}
static gpuexec_graph our_capture(int nodes) {
    gpuexec_graph graph;
    GPUEXEC_CAPTURE(stream, &graph) {
        int i;
        for (i = 0; i < nodes; i++)
            gpuexec_launch(kernel, stream, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(a, b, n, factor));
    }
    return graph;
}
static int raw_capture_all(void) {
    struct CUgraph_st *graph = NULL;
    return raw_capture(NODES, &graph) | cu.cuGraphDestroy(graph);
}
static int our_capture_all(void) { return gpuexec_graph_destroy(our_capture(NODES)) != GPUEXEC_OK; }

BURST(one_raw, cu.cuGraphLaunch(native_one, queue))
BURST(one_ours, gpuexec_graph_launch(one, stream))
BURST(many_raw, cu.cuGraphLaunch(native_many, queue))
BURST(many_ours, gpuexec_graph_launch(many, stream))
BURST(capture_raw, raw_capture_all())
BURST(capture_ours, our_capture_all())

static void row(const char *what, burst_function raw, burst_function ours, int calls) {
    burst_function ways[2];
    ways[0] = raw;
    ways[1] = ours;
    contest(ways, 2, smoke() ? 2 : ROUNDS, smoke() ? 2 : BURSTS, smoke() ? 2 : calls);
    printf("| %s | %.3f | %.3f | %.3f |\n", what, contest_time(0), contest_time(1),
            contest_ratio(1, 0));
    fflush(stdout);
}

static struct CUgraphExec_st *raw_graph(int nodes) {
    struct CUgraph_st *graph = NULL;
    struct CUgraphExec_st *exec = NULL;
    if (raw_capture(nodes, &graph) || cu.cuGraphInstantiateWithFlags(&exec, graph, 0) ||
            cu.cuGraphUpload(exec, queue)) {
        fprintf(stderr, "the driver's own capture failed\n");
        exit(1);
    }
    return exec;
}

int main(void) {
    context = gpuexec_context_open(0, NULL);
    kernel = gpuexec_kernel_get(gpuexec_module_load(context, kernel_text, 0, NULL), "four");
    stream = gpuexec_stream_create(context, NULL);
    queue = gpuexec_stream_native(stream);
    function = gpuexec_kernel_native(kernel);
    cu = gxi.cu;
    check(calls_find().cuCtxSetCurrent(gpuexec_context_native(context)) == 0 ? GPUEXEC_OK
                                                                             : GPUEXEC_NOT_FOUND);
    native_one = raw_graph(1);
    native_many = raw_graph(NODES);
    one = our_capture(1);
    many = our_capture(NODES);
    check(gpuexec_graph_prepare(one, stream));
    check(gpuexec_graph_prepare(many, stream));
    printf("\n## Captures and graphs\n\n"
           "microseconds of the calling thread, context current; empty kernels with four "
           "arguments; interleaved\n\n"
           "| call | the driver's | gpuexec | ratio |\n|---|---|---|---|\n");
    row("launch a graph of 1 kernel", one_raw, one_ours, 50);
    row("launch a graph of 1,000 kernels", many_raw, many_ours, 4);
    row("capture 1,000 launches, and destroy the graph", capture_raw, capture_ours, 2);
    check(cu.cuGraphExecDestroy(native_one) | cu.cuGraphExecDestroy(native_many)
                    ? GPUEXEC_STALE_HANDLE
                    : GPUEXEC_OK);
    return gpuexec_shutdown() != GPUEXEC_OK;
}
