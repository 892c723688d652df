/* cuGraphExec.c - the entry points of executable graphs: instantiate, launch, update. */
#include "driver.h"

/* ---- instantiation ---- */

SIM_API(cuGraphInstantiateWithFlags, (void **out, void *graph, unsigned long long flags),
        (out, graph, flags), SIM_HEALTHY | SIM_UNSAFE) {
    int why;
    void *bad;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) return CUDA_ERROR_INVALID_VALUE;
    return sim_exec_instantiate(out, graph, flags, &why, &bad);
}

SIM_API_ALSO(cuGraphInstantiate_v2, cuGraphInstantiate,
        (void **out, void *graph, void **bad_node, char *log, size_t log_bytes),
        (out, graph, bad_node, log, log_bytes), SIM_HEALTHY | SIM_UNSAFE) {
    int why;
    void *bad;
    if (log && log_bytes) *log = 0;
    const int result = sim_exec_instantiate(out, graph, 0, &why, &bad);
    if (bad_node) *bad_node = bad;
    return result;
}

static int check_exec(void *handle, void *stream, struct sim_exec **x, struct sim_stream **s) {
    int result = sim_stream_use_now(stream, s);
    return result || (*x = sim_get(SIM_H_EXEC, handle)) ? result : CUDA_ERROR_INVALID_VALUE;
}

/* There is nothing to upload; as for cuGraphUpload, only the stream is checked. */
SIM_API_STREAM(cuGraphInstantiateWithParams, _ptsz,
        (void **out, void *graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), (out, graph, params),
        SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_stream *s;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    int result = params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
            ? sim_stream_use_now(params->hUploadStream, &s)
            : CUDA_SUCCESS;
    if (result) return result;
    return sim_exec_instantiate(
            out, graph, params->flags, &params->result_out, &params->hErrNode_out);
}

SIM_API(cuGraphExecGetFlags, (void *exec, uint64_t *flags), (exec, flags), SIM_INIT) {
    const struct sim_exec *x = sim_get(SIM_H_EXEC, exec);
    if (!x || !flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = sim_exec_flags(x) & ~(uint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphExecDestroy, (void *exec), (exec), SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_exec *x = sim_get(SIM_H_EXEC, exec);
    return x ? sim_exec_destroy(x) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- launches ---- */

SIM_API_STREAM(cuGraphLaunch, _ptsz, (void *exec, void *stream), (exec, stream), SIM_HEALTHY) {
    struct sim_exec *x;
    struct sim_stream *s;
    int result = check_exec(exec, stream, &x, &s);
    return result ? result : sim_exec_launch(x, s);
}

SIM_API_STREAM(cuGraphUpload, _ptsz, (void *exec, void *stream), (exec, stream), SIM_HEALTHY) {
    struct sim_exec *x;
    struct sim_stream *s;
    int result = check_exec(exec, stream, &x, &s);
    return result ? result : sim_exec_check(x);
}

/* ---- updates ---- */

static void *handle_of(const struct sim_node *node) {
    return node ? SIM_HANDLE(node->handle) : NULL;
}

SIM_API(cuGraphExecUpdate_v2, (void *exec, void *graph, CUgraphExecUpdateResultInfo *info),
        (exec, graph, info), SIM_HEALTHY) {
    struct sim_difference d;
    const int result = sim_exec_update(exec, graph, &d);
    if (info)
        *info = (CUgraphExecUpdateResultInfo){ d.result, handle_of(d.node), handle_of(d.from) };
    return result;
}
SIM_API(cuGraphExecUpdate, (void *exec, void *graph, void **node, int *why),
        (exec, graph, node, why), SIM_HEALTHY) {
    struct sim_difference d;
    const int result = sim_exec_update(exec, graph, &d);
    if (node) *node = handle_of(d.node);
    if (why) *why = d.result;
    return result;
}
