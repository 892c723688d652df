/* cuStreamCapture.c - the entry points that begin, end, describe and steer captures. */
#include "driver.h"

static int begin(void *handle, struct sim_graph *graph, void *const *nodes, size_t n, int mode) {
    struct sim_stream *s;
    int result = sim_stream_find(handle, &s);
    if (result) return result;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (s->capture || (graph && graph->captured)) return CUDA_ERROR_ILLEGAL_STATE;
    if (sim_stream_is_legacy(s)) {
        result = sim_stream_check(s);
        return result ? result : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return sim_capture_begin(s, graph, nodes, n, mode);
}

SIM_API_STREAM(
        cuStreamBeginCapture_v2, _ptsz, (void *stream, int mode), (stream, mode), SIM_HEALTHY) {
    return begin(stream, NULL, NULL, 0, mode);
}
SIM_API_STREAM(cuStreamBeginCapture, _ptsz, (void *stream), (stream), SIM_HEALTHY) {
    return begin(stream, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static bool are_nodes_of(const struct sim_graph *graph, void *const *nodes, size_t n) {
    if (n && !nodes) return false;
    for (size_t i = 0; i < n; i++) {
        const struct sim_node *node = sim_get(SIM_H_NODE, nodes[i]);
        if (!node || node->graph != graph) return false;
    }
    return true;
}

SIM_API_STREAM(cuStreamBeginCaptureToGraph, _ptsz,
        (void *stream, void *graph, void *const *nodes, const CUgraphEdgeData *data, size_t n,
                int mode),
        (stream, graph, nodes, data, n, mode), SIM_HEALTHY) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    if (!g || !are_nodes_of(g, nodes, n)) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_edges_plain(data, n)) return CUDA_ERROR_NOT_SUPPORTED;
    return begin(stream, g, nodes, n, mode);
}

/* Without a place for it, the graph is lost, as measured. */
SIM_API_STREAM(
        cuStreamEndCapture, _ptsz, (void *stream, void **graph), (stream, graph), SIM_HEALTHY) {
    struct sim_stream *s;
    struct sim_graph *g = NULL;
    int result = sim_stream_find(stream, &s);
    if (result) return result;
    const bool to_graph = s->capture && s->capture->to_graph;
    result = sim_capture_end(s, &g);
    if (graph) *graph = g ? SIM_HANDLE(g->handle) : NULL;
    else if (g && !to_graph) sim_graph_free(g);
    return result;
}

/* ---- queries ---- */

static int status_of(void *handle, struct sim_stream **s, int *status) {
    int result = sim_stream_find(handle, s);
    if (result || !status) return result ? result : CUDA_ERROR_INVALID_VALUE;
    const struct sim_capture *c = (*s)->capture;
    if (sim_stream_joins_blocking(*s) && (result = sim_capture_of_blocking((*s)->context, false)))
        return result;
    *status = !c         ? CU_STREAM_CAPTURE_STATUS_NONE
            : c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

SIM_API_STREAM(
        cuStreamIsCapturing, _ptsz, (void *stream, int *status), (stream, status), SIM_EASY) {
    struct sim_stream *s;
    return status_of(stream, &s, status);
}

/* The arrays are valid until the next call that uses the stream. */
static int info(void *stream, int *status, uint64_t *id, void **graph, void *const **nodes,
        const CUgraphEdgeData **data, size_t *n) {
    struct sim_stream *s;
    int result = status_of(stream, &s, status);
    if (result || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return result;
    if (data && !nodes) return CUDA_ERROR_INVALID_VALUE;
    if (data) {
        free(s->capture->edges);
        s->capture->edges = calloc(s->nodes.n + 1, sizeof **data);
        if (!(*data = s->capture->edges)) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (id) *id = s->capture->id;
    if (graph) *graph = SIM_HANDLE(s->capture->graph->handle);
    if (nodes) *nodes = s->nodes.at;
    if (n) *n = s->nodes.n;
    return CUDA_SUCCESS;
}

SIM_API_STREAM(cuStreamGetCaptureInfo_v3, _ptsz,
        (void *stream, int *status, uint64_t *id, void **graph, void *const **nodes,
                const CUgraphEdgeData **data, size_t *n),
        (stream, status, id, graph, nodes, data, n), SIM_EASY) {
    return info(stream, status, id, graph, nodes, data, n);
}
SIM_API_STREAM(cuStreamGetCaptureInfo_v2, _ptsz,
        (void *stream, int *status, uint64_t *id, void **graph, void *const **nodes, size_t *n),
        (stream, status, id, graph, nodes, n), SIM_EASY) {
    return info(stream, status, id, graph, nodes, NULL, n);
}
SIM_API_STREAM(cuStreamGetCaptureInfo, _ptsz, (void *stream, int *status, uint64_t *id),
        (stream, status, id), SIM_EASY) {
    return info(stream, status, id, NULL, NULL, NULL, NULL);
}

/* ---- what the next node depends on; how captures restrict the calling thread ---- */

static int update(
        void *stream, void *const *nodes, const CUgraphEdgeData *data, size_t n, unsigned flags) {
    struct sim_stream *s;
    int result = sim_stream_use(stream, &s);
    if (result) return result;
    if (!s->capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || !are_nodes_of(s->capture->graph, nodes, n))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_edges_plain(data, n)) return CUDA_ERROR_NOT_SUPPORTED;
    return sim_capture_depend(s, nodes, n, flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

SIM_API_STREAM(cuStreamUpdateCaptureDependencies, _ptsz,
        (void *stream, void **nodes, size_t n, unsigned flags), (stream, nodes, n, flags),
        SIM_HEALTHY) {
    return update(stream, nodes, NULL, n, flags);
}
SIM_API_STREAM(cuStreamUpdateCaptureDependencies_v2, _ptsz,
        (void *stream, void **nodes, const CUgraphEdgeData *data, size_t n, unsigned flags),
        (stream, nodes, data, n, flags), SIM_HEALTHY) {
    return update(stream, nodes, data, n, flags);
}

/* Any value is accepted, as measured. */
SIM_API(cuThreadExchangeStreamCaptureMode, (int *mode), (mode), SIM_INIT) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    const int before = sim_self.capture_mode;
    sim_self.capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
