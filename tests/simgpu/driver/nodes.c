/* nodes.c - the nodes that the program adds to graphs, and their parameters.

   All calls meet in three functions, whatever their version: add, set in a graph, set in an executable graph. What a
   node does is made of the parameters, which are read at the call: pointers in them need not live longer. Making a
   kernel's work may release sim_lock, so that handles are looked up again after it. */
#include "driver.h"

/* As measured, NULL is the current context. */
static int find_context(const void *handle, struct sim_context **context) {
    if (!handle) {
        const int result = sim_context_need();
        *context = sim_self.context;
        return result;
    }
    if ((*context = sim_context_at(handle))) return CUDA_SUCCESS;
    return sim_context_not_there(handle);
}

/* ---- what a node does ---- */

static int copy_work(const CUDA_MEMCPY_NODE_PARAMS *p, struct sim_work *out) {
    struct sim_context *c;
    int result = p->flags || p->reserved ? CUDA_ERROR_INVALID_VALUE : find_context(p->copyCtx, &c);
    return result ? result : sim_copy_work(&p->copyParams, c, out);
}

static int fill_work(const CUDA_MEMSET_NODE_PARAMS_v2 *p, struct sim_work *out) {
    struct sim_context *c;
    int result = find_context(p->ctx, &c);
    return result ? result : sim_fill_work(&p->params, c, out);
}

static int host_work(const CUDA_HOST_NODE_PARAMS *p, struct sim_work *out) {
    if (!p->fn) return CUDA_ERROR_INVALID_VALUE;
    *out = (struct sim_work) { .type = CU_GRAPH_NODE_TYPE_HOST, .op = sim_stream_function_op(p->fn, p->userData) };
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int event_work(int type, void *handle, struct sim_work *out) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return handle ? sim_not_there(handle) : CUDA_ERROR_INVALID_VALUE;
    if (e->shared)
        return sim_because(CUDA_ERROR_NOT_SUPPORTED, "this device's graphs do not use events of other processes");
    *out = (struct sim_work) { .type = type, .op = sim_event_op(e) };
    sim_work_in(out, e->context);
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The bits of the devices that may access the memory. */
static int read_viewers(const CUDA_MEM_ALLOC_NODE_PARAMS *p, const struct sim_device *owner, unsigned *viewers) {
    enum { READ_WRITE = 3 };
    const CUmemAccessDesc *list = p->accessDescs;
    *viewers = 0;
    if (p->accessDescCount > (size_t)sim_device_count || (p->accessDescCount && !list)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p->accessDescCount; i++) {
        const int id = list[i].location.id;
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || id < 0 || id >= sim_device_count
            || list[i].flags != READ_WRITE || (id != owner->ordinal && !sim_peers(&sim_devices[id], owner)))
            return CUDA_ERROR_INVALID_VALUE;
        *viewers |= 1u << id;
    }
    return CUDA_SUCCESS;
}

static int alloc_work(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct sim_work *out) {
    const CUmemPoolProps *props = &p->poolProps;
    uint64_t address;
    unsigned viewers;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !p->bytesize) return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (props->location.id < 0 || props->location.id >= sim_device_count) return CUDA_ERROR_INVALID_VALUE;
    struct sim_device *d = &sim_devices[props->location.id];
    int result = read_viewers(p, d, &viewers);
    if (!result) result = sim_alloc_work(&address, p->bytesize, d, viewers, out);
    if (!result) p->dptr = address;
    return result;
}

/* set: a kernel's attributes; g: the graph of the node. */
static int make_work(CUgraphNodeParams *p, const struct sim_attributes *set, const struct sim_graph *g,
                     struct sim_work *out) {
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sim_kernel_work(&p->of.kernel, set, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_work(&p->of.memcpy, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill_work(&p->of.memset, out);
    case CU_GRAPH_NODE_TYPE_HOST: return host_work(&p->of.host, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return event_work(p->type, p->of.event, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return alloc_work(&p->of.alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return sim_free_work(p->of.free, g, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return sim_conditional_work(&p->of.conditional, g, out);
    case CU_GRAPH_NODE_TYPE_EMPTY: case CU_GRAPH_NODE_TYPE_GRAPH:
        *out = (struct sim_work) { .type = p->type };
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return sim_because(CUDA_ERROR_NOT_SUPPORTED, "this device's graphs have no nodes for batches of memory "
                           "operations");
    default: return p->type < 0 || p->type > CU_GRAPH_NODE_TYPE_CONDITIONAL ? CUDA_ERROR_INVALID_VALUE :
                                                                              CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- a new node ---- */

/* As measured: a fill must have memory at its destination. Memory that one graph both allocates and frees takes no new
   fill, copy or free, in no graph. A capture and new parameters are not checked like this. */
static bool there(uint64_t address, uint64_t bytes) {
    struct sim_range r;
    return sim_mem_find_for_call(address, bytes, true, &r) && !r.ends;
}
static bool ended(uint64_t address) {
    struct sim_range r;
    return sim_mem_find_for_call(address, 1, true, &r) && r.ends;
}
static bool memory_bad(const struct sim_work *w) {
    const struct sim_op *op = w->op;
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_MEMSET: return !there(op->dst.address, (op->height - 1) * op->dst.pitch + op->width);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return ended(op->dst.address) || ended(op->src.address);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return ended((uintptr_t)op->data);
    default: return false;
    }
}

struct place { void **out, *graph, *const *before; const CUgraphEdgeData *data; size_t n; };

static struct sim_graph *find_place(const struct place *p, int type) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, p->graph);
    return p->out && g && sim_graph_has(g, p->before, p->n)
           && sim_edges_good(p->data, p->before, type == CU_GRAPH_NODE_TYPE_KERNEL, p->n) ? g : NULL;
}

static bool inside(const struct sim_graph *g, const struct sim_graph *outer) {
    while (g && g != outer) g = g->owner ? g->owner->graph : NULL;
    return g != NULL;
}

/* The graph that a node will own: a copy, or the program's own. */
static int child_of(const CUDA_CHILD_GRAPH_NODE_PARAMS *p, const struct sim_graph *parent, struct sim_graph **body) {
    struct sim_graph *child = sim_get(SIM_H_GRAPH, p->graph);
    const bool moves = p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (!child || p->ownership < 0 || p->ownership > CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE || inside(parent, child)
        || (moves && child->owner))
        return CUDA_ERROR_INVALID_VALUE;
    if (child->owner || child->has_conditional || (child->has_memory && !moves)) return CUDA_ERROR_NOT_SUPPORTED;
    if (moves && sim_graph_captured(child)) return CUDA_ERROR_ILLEGAL_STATE;
    *body = moves ? child : sim_graph_clone(child);
    return *body ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int conditional_bodies(struct sim_node *node, CUgraphNodeParams *p) {
    void **handles = node->work.op->staged;
    for (unsigned i = 0; i < p->of.conditional.size; i++) {
        struct sim_graph *body = sim_graph_new();
        if (!body || !sim_node_own(node, body)) {
            if (body) sim_graph_free(body);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        handles[i] = SIM_HANDLE(body->handle);
    }
    p->of.conditional.phGraph_out = handles;
    ((struct sim_condition *)node->work.op->data)->used = true;
    return CUDA_SUCCESS;
}

static int add_bodies(struct sim_node *node, CUgraphNodeParams *p, struct sim_graph *child) {
    if (child) return sim_node_own(node, child) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    return p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? conditional_bodies(node, p) : CUDA_SUCCESS;
}

/* A child graph allocates no memory. In the body of a condition only its instantiation is refused, as measured. */
static bool misplaced(const struct sim_graph *g, int type) {
    return (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE) && g->owner
           && g->owner->work.type == CU_GRAPH_NODE_TYPE_GRAPH;
}

static int add(const struct place *place, CUgraphNodeParams *p) {
    static const struct sim_attributes none;
    struct sim_graph *g = p ? find_place(place, p->type) : NULL, *child = NULL;
    struct sim_work work = { .op = NULL };
    if (!g) return CUDA_ERROR_INVALID_VALUE;
    if (misplaced(g, p->type)) return CUDA_ERROR_NOT_SUPPORTED;
    int result = make_work(p, &none, g, &work);
    if (result) return result;
    if (memory_bad(&work) || !(g = find_place(place, p->type))) result = CUDA_ERROR_INVALID_VALUE;
    else if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) result = child_of(&p->of.graph, g, &child);
    if (result) {
        sim_op_unref(work.op);
        return result;
    }
    struct sim_node *node = sim_node_add(g, work, place->before, place->data, place->n);
    result = node ? add_bodies(node, p, child) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) *place->out = SIM_HANDLE(node->handle);
    if (!result) return CUDA_SUCCESS;
    if (node) sim_node_free(node);
    if (child && p->of.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) sim_graph_free(child);
    return result;
}

/* ---- new parameters ---- */

/* An executable graph's work changes only as compare() in exec.c allows; addresses only of one row, as documented. */
static bool may_change(const void *exec, const struct sim_work *from, const struct sim_work *to) {
    const bool moves = to->type == CU_GRAPH_NODE_TYPE_MEMCPY || to->type == CU_GRAPH_NODE_TYPE_MEMSET;
    if (moves && (from->op->height * from->op->depth != to->op->height * to->op->depth)) return false;
    if (to->type == CU_GRAPH_NODE_TYPE_MEMCPY && to->op->height * to->op->depth != 1) return false;
    return sim_exec_may_change(exec, from, to);
}

static struct sim_work *work_of(const void *exec, const void *handle, int type) {
    struct sim_node *node = exec ? NULL : sim_get(SIM_H_NODE, handle);
    struct sim_step *step = exec ? sim_exec_step(exec, handle) : NULL;
    struct sim_work *work = node ? &node->work : step ? &step->work : NULL;
    return work && work->type == type ? work : NULL;
}

static void replace(struct sim_work *work, struct sim_work by) {
    sim_op_unref(work->op);
    *work = by;
}

static int set_child(const void *exec, const void *node, const CUDA_CHILD_GRAPH_NODE_PARAMS *p) {
    struct sim_step *step = exec ? sim_exec_step(exec, node) : NULL;
    const struct sim_graph *child = sim_get(SIM_H_GRAPH, p->graph);
    if (!child) return CUDA_ERROR_INVALID_VALUE;
    if (!exec) return sim_because(CUDA_ERROR_NOT_SUPPORTED, "a node keeps its child graph");
    return sim_exec_change_body(exec, step, child) ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* A kernel keeps its attributes. exec: NULL for the graph's node. */
static int set(const void *exec, const void *node, CUgraphNodeParams *p) {
    struct sim_work work = { .op = NULL }, *old = p ? work_of(exec, node, p->type) : NULL;
    const struct sim_attributes *attributes = old && old->type == CU_GRAPH_NODE_TYPE_KERNEL ? old->op->data : NULL;
    if (!old) return CUDA_ERROR_INVALID_VALUE;
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) return set_child(exec, node, &p->of.graph);
    if (p->type >= CU_GRAPH_NODE_TYPE_MEM_ALLOC) return CUDA_ERROR_NOT_SUPPORTED;
    const struct sim_attributes kept = attributes ? *attributes : (struct sim_attributes) { 0 };
    int result = make_work(p, &kept, NULL, &work);
    if (result) return result;
    old = work_of(exec, node, p->type);
    if (old && (!exec || may_change(exec, old, &work))) {
        replace(old, work);
        return CUDA_SUCCESS;
    }
    sim_op_unref(work.op);
    return CUDA_ERROR_INVALID_VALUE;
}
static int set_exec(const void *exec, const void *node, CUgraphNodeParams *p) {
    return exec ? set(exec, node, p) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- entry points ---- */

static bool zeros(const CUgraphNodeParams *p) {
    static const size_t used[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = sizeof p->of.kernel, [CU_GRAPH_NODE_TYPE_MEMCPY] = sizeof p->of.memcpy,
        [CU_GRAPH_NODE_TYPE_MEMSET] = sizeof p->of.memset, [CU_GRAPH_NODE_TYPE_HOST] = sizeof p->of.host,
        [CU_GRAPH_NODE_TYPE_GRAPH] = sizeof p->of.graph, [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = sizeof p->of.event,
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = sizeof p->of.event, [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = sizeof p->of.alloc,
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = sizeof p->of.free,
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = sizeof p->of.conditional
    };
    const bool known = p->type >= 0 && p->type <= CU_GRAPH_NODE_TYPE_CONDITIONAL;
    const unsigned char *bytes = (const unsigned char *)&p->of;
    for (size_t i = known ? used[p->type] : sizeof p->of; i < sizeof p->of; i++) if (bytes[i]) return false;
    return !p->reserved0[0] && !p->reserved0[1] && !p->reserved0[2] && !p->reserved2;
}
static int add_generic(const struct place *place, CUgraphNodeParams *p) {
    return p && zeros(p) ? add(place, p) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuGraphAddNode, (void **out, void *graph, void *const *before, size_t n, CUgraphNodeParams *p),
        (out, graph, before, n, p), SIM_HEALTHY) {
    return add_generic(&(struct place) { out, graph, before, NULL, n }, p);
}
SIM_API(cuGraphAddNode_v2,
        (void **out, void *graph, void *const *before, const CUgraphEdgeData *data, size_t n, CUgraphNodeParams *p),
        (out, graph, before, data, n, p), SIM_HEALTHY) {
    return add_generic(&(struct place) { out, graph, before, data, n }, p);
}
SIM_API(cuGraphNodeSetParams, (void *node, CUgraphNodeParams *p), (node, p), SIM_HEALTHY) {
    return p && zeros(p) ? set(NULL, node, p) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuGraphExecNodeSetParams, (void *exec, void *node, CUgraphNodeParams *p), (exec, node, p), SIM_HEALTHY) {
    return p && zeros(p) ? set_exec(exec, node, p) : CUDA_ERROR_INVALID_VALUE;
}

/* The calls of one kind. given: the arguments for the parameters; there: whether those which must be, are; p: the
   parameters made of them. */
#define LIST(...) , __VA_ARGS__
#define ADD(symbol, ...) ADD_(symbol, __VA_ARGS__)
#define SET(symbol, ...) SET_(symbol, __VA_ARGS__)
#define SET_EXEC(symbol, ...) SET_EXEC_(symbol, __VA_ARGS__)
#define ADD_(symbol, given, arguments, there, ...) \
    SIM_API(symbol, (void **out, void *graph, void *const *before, size_t n LIST given), \
            (out, graph, before, n LIST arguments), SIM_HEALTHY) { \
        return there ? add(&(struct place) { out, graph, before, NULL, n }, &(CUgraphNodeParams) { __VA_ARGS__ }) : \
                       CUDA_ERROR_INVALID_VALUE; \
    }
#define SET_(symbol, given, arguments, there, ...) \
    SIM_API(symbol, (void *node LIST given), (node LIST arguments), SIM_HEALTHY) { \
        return there ? set(NULL, node, &(CUgraphNodeParams) { __VA_ARGS__ }) : CUDA_ERROR_INVALID_VALUE; \
    }
#define SET_EXEC_(symbol, given, arguments, there, ...) \
    SIM_API(symbol, (void *exec, void *node LIST given), (exec, node LIST arguments), SIM_HEALTHY) { \
        return there ? set_exec(exec, node, &(CUgraphNodeParams) { __VA_ARGS__ }) : CUDA_ERROR_INVALID_VALUE; \
    }

static CUDA_KERNEL_NODE_PARAMS_v2 from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p) {
    return (CUDA_KERNEL_NODE_PARAMS_v2) { p->func, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY,
                                          p->blockDimZ, p->sharedMemBytes, p->kernelParams, p->extra, NULL, NULL };
}
#define KERNEL_V1 (const CUDA_KERNEL_NODE_PARAMS_v1 *p), (p), p, CU_GRAPH_NODE_TYPE_KERNEL, .of.kernel = from_v1(p)
#define KERNEL_V2 (const CUDA_KERNEL_NODE_PARAMS_v2 *p), (p), p, CU_GRAPH_NODE_TYPE_KERNEL, .of.kernel = *p
ADD(cuGraphAddKernelNode, KERNEL_V1)
ADD(cuGraphAddKernelNode_v2, KERNEL_V2)
SET(cuGraphKernelNodeSetParams, KERNEL_V1)
SET(cuGraphKernelNodeSetParams_v2, KERNEL_V2)
SET_EXEC(cuGraphExecKernelNodeSetParams, KERNEL_V1)
SET_EXEC(cuGraphExecKernelNodeSetParams_v2, KERNEL_V2)

/* A node of a graph keeps its context. */
static void *context_of(const void *node, int type) {
    const struct sim_work *w = work_of(NULL, node, type);
    return w ? SIM_HANDLE(w->context->handle) : NULL;
}
#define COPY (const CUDA_MEMCPY3D *p, void *context), (p, context), p, CU_GRAPH_NODE_TYPE_MEMCPY, \
             .of.memcpy = { .copyCtx = context, .copyParams = *p }
#define FILL (const CUDA_MEMSET_NODE_PARAMS *p, void *context), (p, context), p, CU_GRAPH_NODE_TYPE_MEMSET, \
             .of.memset = { *p, context }
ADD(cuGraphAddMemcpyNode, COPY)
ADD(cuGraphAddMemsetNode, FILL)
SET(cuGraphMemcpyNodeSetParams, (const CUDA_MEMCPY3D *p), (p), p, CU_GRAPH_NODE_TYPE_MEMCPY,
    .of.memcpy = { .copyCtx = context_of(node, CU_GRAPH_NODE_TYPE_MEMCPY), .copyParams = *p })
SET(cuGraphMemsetNodeSetParams, (const CUDA_MEMSET_NODE_PARAMS *p), (p), p, CU_GRAPH_NODE_TYPE_MEMSET,
    .of.memset = { *p, context_of(node, CU_GRAPH_NODE_TYPE_MEMSET) })
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

ADD(cuGraphAddMemFreeNode, (CUdeviceptr address), (address), true, CU_GRAPH_NODE_TYPE_MEM_FREE, .of.free = address)
SIM_API(cuGraphAddEmptyNode, (void **out, void *graph, void *const *before, size_t n), (out, graph, before, n),
        SIM_INIT) {
    return add(&(struct place) { out, graph, before, NULL, n },
               &(CUgraphNodeParams) { .type = CU_GRAPH_NODE_TYPE_EMPTY });
}
SIM_API(cuGraphAddMemAllocNode,
        (void **out, void *graph, void *const *before, size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *p),
        (out, graph, before, n, p), SIM_HEALTHY) {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams all = { CU_GRAPH_NODE_TYPE_MEM_ALLOC, .of.alloc = *p };
    const int result = add(&(struct place) { out, graph, before, NULL, n }, &all);
    if (!result) p->dptr = all.of.alloc.dptr;
    return result;
}

/* ---- a kernel's attributes ---- */

static struct sim_work *kernel_of(const void *handle) { return work_of(NULL, handle, CU_GRAPH_NODE_TYPE_KERNEL); }

SIM_API(cuGraphKernelNodeSetAttribute, (void *node, int id, const CUlaunchAttributeValue *value), (node, id, value),
        SIM_HEALTHY) {
    struct sim_work work, *old = kernel_of(node);
    if (!old || !value) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_kernel_set(old, &(CUlaunchAttribute) { .id = (unsigned)id, .value = *value }, &work);
    if (!result) replace(old, work);
    return result;
}
SIM_API(cuGraphKernelNodeGetAttribute, (void *node, int id, CUlaunchAttributeValue *value), (node, id, value),
        SIM_INIT) {
    const struct sim_work *work = kernel_of(node);
    return work && value ? sim_kernel_get(work, (unsigned)id, value) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuGraphKernelNodeCopyAttributes, (void *to, void *from), (to, from), SIM_HEALTHY) {
    struct sim_work work, *old = kernel_of(to);
    const struct sim_work *source = kernel_of(from);
    if (!old || !source || old->context != source->context) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_kernel_copy_set(old, source->op->data, &work);
    if (!result) replace(old, work);
    return result;
}

/* ---- whether a node works ---- */

static struct sim_step *find_switch(const void *exec, const void *node) {
    struct sim_step *step = sim_exec_step(exec, node);
    return step && step->work.type <= CU_GRAPH_NODE_TYPE_MEMSET ? step : NULL;
}
SIM_API(cuGraphNodeSetEnabled, (void *exec, void *node, unsigned enabled), (exec, node, enabled), SIM_HEALTHY) {
    struct sim_step *step = find_switch(exec, node);
    if (!step) return CUDA_ERROR_INVALID_VALUE;
    step->disabled = !enabled;
    return CUDA_SUCCESS;
}
SIM_API(cuGraphNodeGetEnabled, (void *exec, void *node, unsigned *enabled), (exec, node, enabled), SIM_INIT) {
    const struct sim_step *step = find_switch(exec, node);
    if (!step || !enabled) return CUDA_ERROR_INVALID_VALUE;
    *enabled = !step->disabled;
    return CUDA_SUCCESS;
}
