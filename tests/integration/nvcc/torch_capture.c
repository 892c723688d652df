/* torch_capture.c - the plugin of torch_capture.py: enqueues work on PyTorch's stream by gpuexec,
   which knows nothing of PyTorch, and captures work of PyTorch in a graph of gpuexec. Each function
   returns NULL or the text of a failure. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"

const char *plugin_open(const char *ptx_path);
const char *plugin_enqueue(
        struct CUstream_st *native, float a, gpuexec_ptr x, gpuexec_ptr y, int n);
const char *plugin_begin(struct CUstream_st *native);
const char *plugin_end(void);
const char *plugin_replay(int times);
const char *plugin_close(void);

static gpuexec_context ctx;
static gpuexec_stream side, captured;
static gpuexec_kernel saxpy;
static gpuexec_graph graph;

static const char *failure(void) {
    return gpuexec_take_error() == GPUEXEC_OK ? NULL : gpuexec_error_text();
}

const char *plugin_open(const char *ptx_path) {
    ctx = gpuexec_context_from_native(NULL);
    side = gpuexec_stream_create(ctx, NULL);
    saxpy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, ptx_path, NULL), "saxpy");
    return failure();
}

/* y += 3 a x: a x on the stream, 2 a x on another one that joins; with calls between them that a
   capture forbids. */
const char *plugin_enqueue(
        struct CUstream_st *native, float a, gpuexec_ptr x, gpuexec_ptr y, int n) {
    gpuexec_stream stream = gpuexec_stream_from_native(ctx, native);
    gpuexec_dims dims = gpuexec_grid_for((size_t)n, 256);
    gpuexec_ptr unused = gpuexec_alloc(ctx, 1 << 20);
    float twice = 2 * a;
    gpuexec_launch(saxpy, stream, dims, GPUEXEC_ARGS(a, x, y, n));
    gpuexec_stream_wait_stream(side, stream);
    gpuexec_launch(saxpy, side, dims, GPUEXEC_ARGS(twice, x, y, n));
    gpuexec_stream_wait_stream(stream, side);
    gpuexec_free(unused);
    return failure();
}

const char *plugin_begin(struct CUstream_st *native) {
    captured = gpuexec_stream_from_native(ctx, native);
    gpuexec_capture_begin(captured, NULL);
    return failure();
}
const char *plugin_end(void) {
    graph = gpuexec_capture_end(captured);
    return failure();
}
const char *plugin_replay(int times) {
    while (times-- > 0) gpuexec_graph_launch(graph, captured);
    return gpuexec_stream_sync(captured) == GPUEXEC_OK ? NULL : gpuexec_error_text();
}
const char *plugin_close(void) {
    gpuexec_graph_destroy(graph);
    return gpuexec_shutdown() == GPUEXEC_OK ? NULL : gpuexec_error_text();
}
