/* node.c - the nodes that the program adds to graphs, and their parameters.

   All calls meet in three functions, whatever their version: add, set in a graph, set in an
   executable graph. What a node does is made of the parameters, which are read at the call:
   pointers in them need not live longer. Making a kernel's work may release sim_lock, so that
   handles are looked up again after it. */
#include "objects.h"

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
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_HOST,
        .op = sim_stream_function_op(p->fn, p->userData) };
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int event_work(int type, void *handle, struct sim_work *out) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return handle ? sim_not_there(handle) : CUDA_ERROR_INVALID_VALUE;
    if (e->shared)
        return sim_because(CUDA_ERROR_NOT_SUPPORTED,
                "this device's graphs do not use events of other processes");
    *out = (struct sim_work){ .type = type, .op = sim_event_op(e) };
    sim_work_in(out, e->context);
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The bits of the devices that may access the memory. */
static int read_viewers(
        const CUDA_MEM_ALLOC_NODE_PARAMS *p, const struct sim_device *owner, unsigned *viewers) {
    enum { READ_WRITE = 3 };
    const CUmemAccessDesc *list = p->accessDescs;
    *viewers = 0;
    if (p->accessDescCount > (size_t)sim_device_count || (p->accessDescCount && !list))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p->accessDescCount; i++) {
        const int id = list[i].location.id;
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || id < 0 ||
                id >= sim_device_count || list[i].flags != READ_WRITE ||
                (id != owner->ordinal && !sim_peers(&sim_devices[id], owner)))
            return CUDA_ERROR_INVALID_VALUE;
        *viewers |= 1u << id;
    }
    return CUDA_SUCCESS;
}

static int alloc_work(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct sim_work *out) {
    const CUmemPoolProps *props = &p->poolProps;
    uint64_t address;
    unsigned viewers;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !p->bytesize)
        return CUDA_ERROR_INVALID_VALUE;
    if (props->handleTypes || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (props->location.id < 0 || props->location.id >= sim_device_count)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_device *d = &sim_devices[props->location.id];
    int result = read_viewers(p, d, &viewers);
    if (!result) result = sim_alloc_work(&address, p->bytesize, d, viewers, out);
    if (!result) p->dptr = address;
    return result;
}

/* The handle may be of a graph around this one. */
static struct sim_condition *find_condition(uint64_t handle, const struct sim_graph *g) {
    for (; g; g = g->owner ? g->owner->graph : NULL)
        for (struct sim_condition *c = g->conditions; c; c = c->next)
            if (c->address == handle) return c;
    return NULL;
}

static void release_condition(struct sim_op *op) { sim_condition_unref(op->data); }

static int conditional_work(
        const CUDA_CONDITIONAL_NODE_PARAMS *p, const struct sim_graph *g, struct sim_work *out) {
    struct sim_condition *c = find_condition(p->handle, g);
    const struct sim_context *context = sim_context_at(p->ctx);
    const bool several = sim_settings.driver_version >= 12080; /* bodies */
    const unsigned most = p->type == CU_GRAPH_COND_TYPE_SWITCH && several ? UINT32_MAX
            : p->type == CU_GRAPH_COND_TYPE_IF && several                 ? 2
                                                                          : 1;
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!c || c->used) return CUDA_ERROR_INVALID_VALUE;
    if (p->type < 0 || p->type > (several ? CU_GRAPH_COND_TYPE_SWITCH : CU_GRAPH_COND_TYPE_WHILE) ||
            !p->size || p->size > most || c->context != context)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_op *op = sim_op_new(SIM_OP_CALL);
    if (op) op->staged = calloc(p->size, sizeof(void *));
    if (!op || !op->staged) {
        sim_op_unref(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->how = (unsigned)p->type;
    op->data = c;
    op->release = release_condition;
    c->refs++;
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .op = op };
    sim_work_in(out, c->context);
    return CUDA_SUCCESS;
}

/* set: a kernel's attributes; g: the graph of the node. */
static int make_work(CUgraphNodeParams *p, const struct sim_attributes *set,
        const struct sim_graph *g, struct sim_work *out) {
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sim_kernel_work(&p->of.kernel, set, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_work(&p->of.memcpy, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill_work(&p->of.memset, out);
    case CU_GRAPH_NODE_TYPE_HOST: return host_work(&p->of.host, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return event_work(p->type, p->of.event, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return alloc_work(&p->of.alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return sim_free_work(p->of.free, g, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return conditional_work(&p->of.conditional, g, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH: *out = (struct sim_work){ .type = p->type }; return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return sim_because(CUDA_ERROR_NOT_SUPPORTED,
                "this device's graphs have no nodes for batches of memory operations");
    default:
        return p->type < 0 || p->type > CU_GRAPH_NODE_TYPE_CONDITIONAL ? CUDA_ERROR_INVALID_VALUE
                                                                       : CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- a new node ---- */

/* As measured: a fill must have memory at its destination. Memory that one graph both allocates and
   frees takes no new fill, copy or free, in no graph. A capture and new parameters are not checked
   like this. */
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
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return !there(op->dst.address, (op->height - 1) * op->dst.pitch + op->width);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return ended(op->dst.address) || ended(op->src.address);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return ended((uintptr_t)op->data);
    default: return false;
    }
}

static struct sim_graph *find_place(const struct sim_place *p, int type) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, p->graph);
    return p->out && g && sim_graph_has(g, p->before, p->n) &&
                    sim_edges_good(p->data, p->before, type == CU_GRAPH_NODE_TYPE_KERNEL, p->n)
            ? g
            : NULL;
}

static bool inside(const struct sim_graph *g, const struct sim_graph *outer) {
    while (g && g != outer) g = g->owner ? g->owner->graph : NULL;
    return g != NULL;
}

/* The graph that a node will own: a copy, or the program's own. */
static int child_of(const CUDA_CHILD_GRAPH_NODE_PARAMS *p, const struct sim_graph *parent,
        struct sim_graph **body) {
    struct sim_graph *child = sim_get(SIM_H_GRAPH, p->graph);
    const bool moves = p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (!child || p->ownership < 0 || p->ownership > CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE ||
            inside(parent, child) || (moves && child->owner))
        return CUDA_ERROR_INVALID_VALUE;
    if (child->owner || child->has_conditional || (child->has_memory && !moves))
        return CUDA_ERROR_NOT_SUPPORTED;
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

/* A child graph allocates no memory. In the body of a condition only its instantiation is refused,
   as measured. */
static bool misplaced(const struct sim_graph *g, int type) {
    return (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE) &&
            g->owner && g->owner->work.type == CU_GRAPH_NODE_TYPE_GRAPH;
}

int sim_node_make(const struct sim_place *place, CUgraphNodeParams *p) {
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
    if (child && p->of.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        sim_graph_free(child);
    return result;
}

/* ---- new parameters ---- */

/* An executable graph's work changes only as compare() in exec.c allows; addresses only of one row,
   as documented. */
static bool may_change(const void *exec, const struct sim_work *from, const struct sim_work *to) {
    const bool moves = to->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
            to->type == CU_GRAPH_NODE_TYPE_MEMSET;
    if (moves && (from->op->height * from->op->depth != to->op->height * to->op->depth))
        return false;
    if (to->type == CU_GRAPH_NODE_TYPE_MEMCPY && to->op->height * to->op->depth != 1) return false;
    return sim_exec_may_change(exec, from, to);
}

struct sim_work *sim_node_work(const void *exec, const void *handle, int type) {
    struct sim_node *node = exec ? NULL : sim_get(SIM_H_NODE, handle);
    struct sim_step *step = exec ? sim_exec_step(exec, handle) : NULL;
    struct sim_work *work = node ? &node->work : step ? &step->work : NULL;
    return work && work->type == type ? work : NULL;
}

void sim_work_replace(struct sim_work *work, struct sim_work by) {
    sim_op_unref(work->op);
    *work = by;
}

static int set_child(const void *exec, const void *node, const CUDA_CHILD_GRAPH_NODE_PARAMS *p) {
    struct sim_step *step = exec ? sim_exec_step(exec, node) : NULL;
    const struct sim_graph *child = sim_get(SIM_H_GRAPH, p->graph);
    if (!child) return CUDA_ERROR_INVALID_VALUE;
    if (!exec) return sim_because(CUDA_ERROR_NOT_SUPPORTED, "a node keeps its child graph");
    return sim_exec_change_body(exec, step, child) ? CUDA_SUCCESS
                                                   : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

/* A kernel keeps its attributes. exec: NULL for the graph's node. */
int sim_node_set(const void *exec, const void *node, CUgraphNodeParams *p) {
    struct sim_work work = { .op = NULL }, *old = p ? sim_node_work(exec, node, p->type) : NULL;
    const struct sim_attributes *attributes = old && old->type == CU_GRAPH_NODE_TYPE_KERNEL
            ? old->op->data
            : NULL;
    if (!old) return CUDA_ERROR_INVALID_VALUE;
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) return set_child(exec, node, &p->of.graph);
    if (p->type >= CU_GRAPH_NODE_TYPE_MEM_ALLOC) return CUDA_ERROR_NOT_SUPPORTED;
    const struct sim_attributes kept = attributes ? *attributes : (struct sim_attributes){ 0 };
    int result = make_work(p, &kept, NULL, &work);
    if (result) return result;
    old = sim_node_work(exec, node, p->type);
    if (old && (!exec || may_change(exec, old, &work))) {
        sim_work_replace(old, work);
        return CUDA_SUCCESS;
    }
    sim_op_unref(work.op);
    return CUDA_ERROR_INVALID_VALUE;
}
int sim_node_set_exec(const void *exec, const void *node, CUgraphNodeParams *p) {
    return exec ? sim_node_set(exec, node, p) : CUDA_ERROR_INVALID_VALUE;
}
