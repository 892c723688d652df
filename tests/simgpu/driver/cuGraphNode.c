/* cuGraphNode.c - the entry points that add nodes to graphs and change their parameters. */
#include "driver.h"

static bool zeros(const CUgraphNodeParams *p) {
    static const size_t used[] = { [CU_GRAPH_NODE_TYPE_KERNEL] = sizeof p->of.kernel,
        [CU_GRAPH_NODE_TYPE_MEMCPY] = sizeof p->of.memcpy,
        [CU_GRAPH_NODE_TYPE_MEMSET] = sizeof p->of.memset,
        [CU_GRAPH_NODE_TYPE_HOST] = sizeof p->of.host,
        [CU_GRAPH_NODE_TYPE_GRAPH] = sizeof p->of.graph,
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = sizeof p->of.event,
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = sizeof p->of.event,
        [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = sizeof p->of.alloc,
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = sizeof p->of.free,
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = sizeof p->of.conditional };
    const bool known = p->type >= 0 && p->type <= CU_GRAPH_NODE_TYPE_CONDITIONAL;
    const unsigned char *bytes = (const unsigned char *)&p->of;
    for (size_t i = known ? used[p->type] : sizeof p->of; i < sizeof p->of; i++)
        if (bytes[i]) return false;
    return !p->reserved0[0] && !p->reserved0[1] && !p->reserved0[2] && !p->reserved2;
}
static int add_generic(const struct sim_place *place, CUgraphNodeParams *p) {
    return p && zeros(p) ? sim_node_make(place, p) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuGraphAddNode,
        (void **out, void *graph, void *const *before, size_t n, CUgraphNodeParams *p),
        (out, graph, before, n, p), SIM_HEALTHY) {
    return add_generic(&(struct sim_place){ out, graph, before, NULL, n }, p);
}
SIM_API(cuGraphAddNode_v2,
        (void **out, void *graph, void *const *before, const CUgraphEdgeData *data, size_t n,
                CUgraphNodeParams *p),
        (out, graph, before, data, n, p), SIM_HEALTHY) {
    return add_generic(&(struct sim_place){ out, graph, before, data, n }, p);
}
SIM_API(cuGraphNodeSetParams, (void *node, CUgraphNodeParams *p), (node, p), SIM_HEALTHY) {
    return p && zeros(p) ? sim_node_set(NULL, node, p) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuGraphExecNodeSetParams, (void *exec, void *node, CUgraphNodeParams *p), (exec, node, p),
        SIM_HEALTHY) {
    return p && zeros(p) ? sim_node_set_exec(exec, node, p) : CUDA_ERROR_INVALID_VALUE;
}

/* The calls of one kind. given: the arguments for the parameters; there: whether those which must
   be, are; p: the parameters made of them. */
#define LIST(...) , __VA_ARGS__
#define ADD(symbol, ...) ADD_(symbol, __VA_ARGS__)
#define SET(symbol, ...) SET_(symbol, __VA_ARGS__)
#define SET_EXEC(symbol, ...) SET_EXEC_(symbol, __VA_ARGS__)
#define ADD_(symbol, given, arguments, there, ...) \
    SIM_API(symbol, (void **out, void *graph, void *const *before, size_t n LIST given), \
            (out, graph, before, n LIST arguments), SIM_HEALTHY) { \
        if (!there) return CUDA_ERROR_INVALID_VALUE; \
        return sim_node_make(&(struct sim_place){ out, graph, before, NULL, n }, \
                &(CUgraphNodeParams){ __VA_ARGS__ }); \
    }
#define SET_(symbol, given, arguments, there, ...) \
    SIM_API(symbol, (void *node LIST given), (node LIST arguments), SIM_HEALTHY) { \
        return there ? sim_node_set(NULL, node, &(CUgraphNodeParams){ __VA_ARGS__ }) \
                     : CUDA_ERROR_INVALID_VALUE; \
    }
#define SET_EXEC_(symbol, given, arguments, there, ...) \
    SIM_API(symbol, (void *exec, void *node LIST given), (exec, node LIST arguments), \
            SIM_HEALTHY) { \
        return there ? sim_node_set_exec(exec, node, &(CUgraphNodeParams){ __VA_ARGS__ }) \
                     : CUDA_ERROR_INVALID_VALUE; \
    }

static CUDA_KERNEL_NODE_PARAMS_v2 from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
    return (CUDA_KERNEL_NODE_PARAMS_v2){ p->func, p->gridDimX, p->gridDimY, p->gridDimZ,
        p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes, p->kernelParams, p->extra,
        NULL, NULL };
}
#define KERNEL_V1 \
    (const CUDA_KERNEL_NODE_PARAMS_v1 *p), (p), p, CU_GRAPH_NODE_TYPE_KERNEL, \
            .of.kernel = from_v1(p)
#define KERNEL_V2 \
    (const CUDA_KERNEL_NODE_PARAMS_v2 *p), (p), p, CU_GRAPH_NODE_TYPE_KERNEL, .of.kernel = *p
ADD(cuGraphAddKernelNode, KERNEL_V1)
ADD(cuGraphAddKernelNode_v2, KERNEL_V2)
SET(cuGraphKernelNodeSetParams, KERNEL_V1)
SET(cuGraphKernelNodeSetParams_v2, KERNEL_V2)
SET_EXEC(cuGraphExecKernelNodeSetParams, KERNEL_V1)
SET_EXEC(cuGraphExecKernelNodeSetParams_v2, KERNEL_V2)

/* A node of a graph keeps its context. */
static void *context_of(const void *node, int type) {
    const struct sim_work *w = sim_node_work(NULL, node, type);
    return w ? SIM_HANDLE(w->context->handle) : NULL;
}
#define COPY \
    (const CUDA_MEMCPY3D *p, void *context), (p, context), p, CU_GRAPH_NODE_TYPE_MEMCPY, \
            .of.memcpy = { .copyCtx = context, .copyParams = *p }
#define FILL \
    (const CUDA_MEMSET_NODE_PARAMS *p, void *context), (p, context), p, CU_GRAPH_NODE_TYPE_MEMSET, \
            .of.memset = { *p, context }
ADD(cuGraphAddMemcpyNode, COPY)
ADD(cuGraphAddMemsetNode, FILL)
SET(cuGraphMemcpyNodeSetParams, (const CUDA_MEMCPY3D *p), (p), p, CU_GRAPH_NODE_TYPE_MEMCPY,
        .of.memcpy = { .copyCtx = context_of(node, CU_GRAPH_NODE_TYPE_MEMCPY), .copyParams = *p })
SET(cuGraphMemsetNodeSetParams, (const CUDA_MEMSET_NODE_PARAMS *p), (p), p,
        CU_GRAPH_NODE_TYPE_MEMSET, .of.memset = { *p, context_of(node, CU_GRAPH_NODE_TYPE_MEMSET) })
SET_EXEC(cuGraphExecMemcpyNodeSetParams, COPY)
SET_EXEC(cuGraphExecMemsetNodeSetParams, FILL)

#define HOST (const CUDA_HOST_NODE_PARAMS *p), (p), p, CU_GRAPH_NODE_TYPE_HOST, .of.host = *p
ADD(cuGraphAddHostNode, HOST)
SET(cuGraphHostNodeSetParams, HOST)
SET_EXEC(cuGraphExecHostNodeSetParams, HOST)

#define RECORD (void *event), (event), true, CU_GRAPH_NODE_TYPE_EVENT_RECORD, .of.event = event
#define WAIT (void *event), (event), true, CU_GRAPH_NODE_TYPE_WAIT_EVENT, .of.event = event
ADD(cuGraphAddEventRecordNode, RECORD)
SET(cuGraphEventRecordNodeSetEvent, RECORD)
SET_EXEC(cuGraphExecEventRecordNodeSetEvent, RECORD)
ADD(cuGraphAddEventWaitNode, WAIT)
SET(cuGraphEventWaitNodeSetEvent, WAIT)
SET_EXEC(cuGraphExecEventWaitNodeSetEvent, WAIT)

#define CHILD (void *child), (child), true, CU_GRAPH_NODE_TYPE_GRAPH, .of.graph.graph = child
ADD(cuGraphAddChildGraphNode, CHILD)
SET_EXEC(cuGraphExecChildGraphNodeSetParams, CHILD)

ADD(cuGraphAddMemFreeNode, (CUdeviceptr address), (address), true, CU_GRAPH_NODE_TYPE_MEM_FREE,
        .of.free = address)
SIM_API(cuGraphAddEmptyNode, (void **out, void *graph, void *const *before, size_t n),
        (out, graph, before, n), SIM_INIT) {
    return sim_node_make(&(struct sim_place){ out, graph, before, NULL, n },
            &(CUgraphNodeParams){ .type = CU_GRAPH_NODE_TYPE_EMPTY });
}
SIM_API(cuGraphAddMemAllocNode,
        (void **out, void *graph, void *const *before, size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *p),
        (out, graph, before, n, p), SIM_HEALTHY) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams all = { CU_GRAPH_NODE_TYPE_MEM_ALLOC, .of.alloc = *p };
    const int result = sim_node_make(&(struct sim_place){ out, graph, before, NULL, n }, &all);
    if (!result) p->dptr = all.of.alloc.dptr;
    return result;
}

/* ---- a kernel's attributes ---- */

static struct sim_work *kernel_of(const void *handle) {
    return sim_node_work(NULL, handle, CU_GRAPH_NODE_TYPE_KERNEL);
}

SIM_API(cuGraphKernelNodeSetAttribute, (void *node, int id, const CUlaunchAttributeValue *value),
        (node, id, value), SIM_HEALTHY) {
    struct sim_work work, *old = kernel_of(node);
    if (!old || !value) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_kernel_set(
            old, &(CUlaunchAttribute){ .id = (unsigned)id, .value = *value }, &work);
    if (!result) sim_work_replace(old, work);
    return result;
}
SIM_API(cuGraphKernelNodeGetAttribute, (void *node, int id, CUlaunchAttributeValue *value),
        (node, id, value), SIM_INIT) {
    const struct sim_work *work = kernel_of(node);
    return work && value ? sim_kernel_get(work, (unsigned)id, value) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuGraphKernelNodeCopyAttributes, (void *to, void *from), (to, from), SIM_HEALTHY) {
    struct sim_work work, *old = kernel_of(to);
    const struct sim_work *source = kernel_of(from);
    if (!old || !source || old->context != source->context) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_kernel_copy_set(old, source->op->data, &work);
    if (!result) sim_work_replace(old, work);
    return result;
}

/* ---- whether a node works ---- */

static struct sim_step *find_switch(const void *exec, const void *node) {
    struct sim_step *step = sim_exec_step(exec, node);
    return step && step->work.type <= CU_GRAPH_NODE_TYPE_MEMSET ? step : NULL;
}
SIM_API(cuGraphNodeSetEnabled, (void *exec, void *node, unsigned enabled), (exec, node, enabled),
        SIM_HEALTHY) {
    struct sim_step *step = find_switch(exec, node);
    if (!step) return CUDA_ERROR_INVALID_VALUE;
    step->disabled = !enabled;
    return CUDA_SUCCESS;
}
SIM_API(cuGraphNodeGetEnabled, (void *exec, void *node, unsigned *enabled), (exec, node, enabled),
        SIM_INIT) {
    const struct sim_step *step = find_switch(exec, node);
    if (!step || !enabled) return CUDA_ERROR_INVALID_VALUE;
    *enabled = !step->disabled;
    return CUDA_SUCCESS;
}
