/* exec.c - executable graphs: instantiated, launched, updated.

   A launch submits a copy of every node's operation between two markers, which give the whole graph its place in the
   stream's order; between them, only the graph's edges order the copies. Launches of one executable graph do not
   overlap. The copies share the operations' contents: updating or destroying the executable graph affects only later
   launches. */
#include "driver.h"

struct step {
    struct sim_work work;
    unsigned *before, nbefore;                    /* the steps it depends on, in the order of the edges */
};
struct exec {
    uint64_t handle, flags;
    struct step *steps;                           /* in the order of the graph's nodes */
    unsigned n, *order;                           /* order: each after those that it depends on */
    unsigned nends, *ends;                        /* on which none depends, in the graph's order of these */
    struct sim_op *end;                           /* of the last launch */
};

static bool is_memory(int type) { return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE; }

/* ---- instantiation ---- */

static void free_exec(struct exec *x) {
    for (unsigned i = 0; i < x->n; i++) {
        sim_op_unref(x->steps[i].work.op);
        free(x->steps[i].before);
    }
    sim_op_unref(x->end);
    sim_handle_drop(x->handle);
    free(x->steps);
    free(x->order);
    free(x->ends);
    free(x);
}

static unsigned *indices(struct sim_node *const *nodes, unsigned n) {
    unsigned *list = calloc(n + 1, sizeof *list);
    for (unsigned i = 0; i < n && list; i++) list[i] = nodes[i]->index;
    return list;
}

static bool fill_step(struct step *step, const struct sim_node *node) {
    if (!(step->before = indices(node->before.at, node->before.n))) return false;
    step->nbefore = node->before.n;
    step->work = node->work;
    if (step->work.op) sim_op_ref(step->work.op);
    return true;
}

/* nodes: as many as the graph has, in an order in which they can be executed. Overwritten. */
static struct exec *new_exec(const struct sim_graph *g, uint64_t flags, struct sim_node **nodes) {
    struct exec *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->flags = flags;
    x->order = indices(nodes, g->nodes.n);
    x->nends = sim_graph_ends(g, nodes);
    x->ends = indices(nodes, x->nends);
    bool ok = x->order && x->ends && (x->steps = calloc(g->nodes.n + 1, sizeof *x->steps))
              && (x->handle = sim_handle_new(SIM_H_EXEC, x));
    for (unsigned i = 0; i < g->nodes.n && ok; i++) {
        ok = fill_step(&x->steps[i], g->nodes.at[i]);
        x->n += ok;
    }
    if (ok) return x;
    free_exec(x);
    return NULL;
}

/* 0, or the result to return, the reason for it and the node. A graph with memory nodes has one executable graph at a
   time, as measured. */
static int check_nodes(const struct sim_graph *g, int *why, const struct sim_node **bad) {
    struct sim_range r;
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    for (unsigned i = 0; i < g->nodes.n; i++) {
        *bad = g->nodes.at[i];
        if (!sim_work_can_run(&(*bad)->work)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        if (is_memory((*bad)->work.type) && sim_get(SIM_H_EXEC, SIM_HANDLE((*bad)->exec)))
            return CUDA_ERROR_NOT_SUPPORTED;
        if ((*bad)->work.type == CU_GRAPH_NODE_TYPE_MEMSET       /* there must be memory, as measured */
            && !sim_mem_find_for_call((*bad)->work.op->dst.address, 1, true, &r))
            return CUDA_ERROR_INVALID_VALUE;
    }
    *bad = NULL;
    return CUDA_SUCCESS;
}

static int instantiate(void **out, void *graph, uint64_t flags, int *why, void **bad_node) {
    const uint64_t device = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
                   both = device | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    const struct sim_node *bad = NULL;
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    *bad_node = NULL;
    if (!out || !g || flags > 15 || (flags & both) == both) return CUDA_ERROR_INVALID_VALUE;
    if (flags & device) return sim_because(CUDA_ERROR_NOT_SUPPORTED, "kernels cannot launch graphs on this device");
    int result = check_nodes(g, why, &bad);
    if (result) {
        if (bad) *bad_node = SIM_HANDLE(bad->handle);
        return result;
    }
    struct sim_node **nodes = calloc(g->nodes.n + 1, sizeof *nodes);
    if (!nodes) return CUDA_ERROR_OUT_OF_MEMORY;
    const bool in_order = sim_graph_order(g, nodes);
    struct exec *x = in_order ? new_exec(g, flags, nodes) : NULL;
    free(nodes);
    if (!in_order) {
        *why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return sim_because(CUDA_ERROR_INVALID_VALUE, "the graph's nodes depend on each other in a circle");
    }
    if (!x) return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < g->nodes.n; i++) g->nodes.at[i]->exec = x->handle;
    *why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    *out = SIM_HANDLE(x->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphInstantiateWithFlags, (void **out, void *graph, unsigned long long flags), (out, graph, flags),
        SIM_HEALTHY | SIM_UNSAFE) {
    int why;
    void *bad;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) return CUDA_ERROR_INVALID_VALUE;
    return instantiate(out, graph, flags, &why, &bad);
}

SIM_API_ALSO(cuGraphInstantiate_v2, cuGraphInstantiate,
             (void **out, void *graph, void **bad_node, char *log, size_t log_bytes),
             (out, graph, bad_node, log, log_bytes), SIM_HEALTHY | SIM_UNSAFE) {
    int why;
    void *bad;
    if (log && log_bytes) *log = 0;
    const int result = instantiate(out, graph, 0, &why, &bad);
    if (bad_node) *bad_node = bad;
    return result;
}

static int check_exec(void *handle, void *stream, struct exec **x, struct sim_stream **s) {
    int result = sim_stream_use_now(stream, s);
    return result || (*x = sim_get(SIM_H_EXEC, handle)) ? result : CUDA_ERROR_INVALID_VALUE;
}

/* There is nothing to upload; as for cuGraphUpload, only the stream is checked. */
SIM_API_STREAM(cuGraphInstantiateWithParams, _ptsz, (void **out, void *graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
               (out, graph, params), SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_stream *s;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    int result = params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD ? sim_stream_use_now(params->hUploadStream, &s) :
                                                                      CUDA_SUCCESS;
    return result ? result : instantiate(out, graph, params->flags, &params->result_out, &params->hErrNode_out);
}

SIM_API(cuGraphExecGetFlags, (void *exec, uint64_t *flags), (exec, flags), SIM_INIT) {
    const struct exec *x = sim_get(SIM_H_EXEC, exec);
    if (!x || !flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = x->flags & ~(uint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    return CUDA_SUCCESS;
}

static bool memory_left(const struct sim_end *end) {
    return !end->context || (end->context->active && end->context->id == end->context_id);
}

SIM_API(cuGraphExecDestroy, (void *exec), (exec), SIM_HEALTHY | SIM_UNSAFE) {
    struct exec *x = sim_get(SIM_H_EXEC, exec);
    if (!x) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < x->n; i++) {
        const struct sim_work *w = &x->steps[i].work;
        if (sim_work_can_run(w) && (w->type != CU_GRAPH_NODE_TYPE_MEMCPY
                                    || (memory_left(&w->op->dst) && memory_left(&w->op->src))))
            continue;
        fprintf(stderr, "simgpu: cuGraphExecDestroy: the context of node %u, or of the memory that it copies, was "
                "destroyed; the driver of an H200 (580) never returns from this call\n", i);
        abort();
    }
    free_exec(x);
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

/* Memory that a launch allocates or frees changes hands at the call: all of it, or none. */
static int claim_memory(const struct exec *x) {
    struct sim_range r;
    unsigned i = 0;
    for (bool ok = true; i < x->n; i++) {
        const struct sim_work *w = &x->steps[x->order[i]].work;
        if (!is_memory(w->type)) continue;
        const uint64_t address = (uintptr_t)w->op->data;
        if (w->type == CU_GRAPH_NODE_TYPE_MEM_FREE) ok = sim_mem_mark_freeing(address, &r);
        else if (!sim_mem_claim(address)) ok = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        if (!ok) break;
    }
    if (i == x->n) return CUDA_SUCCESS;
    while (i-- > 0) {
        const struct sim_work *w = &x->steps[x->order[i]].work;
        if (w->type == CU_GRAPH_NODE_TYPE_MEM_FREE) sim_mem_claim((uintptr_t)w->op->data);
        if (w->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) sim_mem_mark_freeing((uintptr_t)w->op->data, &r);
    }
    return sim_because(CUDA_ERROR_INVALID_VALUE, "memory that the graph allocates has not been freed since its last "
                       "launch, or memory that it frees has");
}

static int check_steps(const struct exec *x) {
    for (unsigned i = 0; i < x->n; i++)
        if (!sim_work_can_run(&x->steps[i].work)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_SUCCESS;
}

static struct sim_op *new_op(const struct sim_work *w) {
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sim_launch_copy(w->op);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return sim_op_new(SIM_OP_EVENT);
    case CU_GRAPH_NODE_TYPE_EMPTY: case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return sim_op_new(SIM_OP_MARKER);
    default: return sim_op_copy(w->op);
    }
}

/* ops: of the steps, then the start and the end. False: no memory. */
static bool new_ops(const struct exec *x, const struct sim_stream *s, struct sim_op **ops) {
    bool ok = true;
    for (unsigned i = 0; i < x->n && ok; i++) {
        ok = (ops[i] = new_op(&x->steps[i].work)) != NULL;
        if (ok && !(x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)) ops[i]->priority = -s->priority;
    }
    return ok && (ops[x->n] = sim_op_new(SIM_OP_MARKER)) && (ops[x->n + 1] = sim_op_new(SIM_OP_MARKER));
}

static void submit_step(const struct step *step, struct sim_op *op, struct sim_op *const *ops, struct sim_op *start) {
    const struct sim_work *w = &step->work;
    if (!step->nbefore) sim_op_after(op, start);
    for (unsigned k = 0; k < step->nbefore; k++) sim_op_after(op, ops[step->before[k]]);
    if (w->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) sim_op_after(op, ((const struct sim_event *)w->op->data)->op);
    sim_op_submit(op);
    if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        sim_op_ref(op);
        sim_event_set(w->op->data, op);
    }
}

/* A context whose work runs in the graph must also wait for it. */
static void outlast(const struct exec *x, const struct sim_stream *s, struct sim_op *end) {
    const struct sim_context *seen = s->context;
    for (unsigned i = 0; i < x->n; i++) {
        struct sim_context *c = x->steps[i].work.context;
        if (c && c != s->context && c != seen) sim_stream_outlast(c, false, end);
        if (c) seen = c;
    }
}

static int launch(struct exec *x, struct sim_stream *s) {
    int result = check_steps(x);
    if (result) return result;
    struct sim_op **ops = calloc(x->n + 2, sizeof *ops);
    result = ops && new_ops(x, s, ops) ? claim_memory(x) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result) {
        for (unsigned i = 0; ops && i < x->n + 2; i++) sim_op_unref(ops[i]);
        free(ops);
        return result;
    }
    struct sim_op *start = ops[x->n], *end = ops[x->n + 1];
    sim_op_ref(start);
    sim_op_ref(end);
    sim_op_after(start, x->end);
    sim_stream_submit(s, start);
    for (unsigned i = 0; i < x->n; i++) submit_step(&x->steps[x->order[i]], ops[x->order[i]], ops, start);
    for (unsigned i = 0; i < x->nends; i++) sim_op_after(end, ops[x->ends[i]]);
    sim_stream_submit(s, end);
    outlast(x, s, end);
    sim_op_unref(x->end);
    x->end = end;
    for (unsigned i = 0; i <= x->n; i++) sim_op_unref(ops[i]);
    free(ops);
    return CUDA_SUCCESS;
}

SIM_API_STREAM(cuGraphLaunch, _ptsz, (void *exec, void *stream), (exec, stream), SIM_HEALTHY) {
    struct exec *x;
    struct sim_stream *s;
    int result = check_exec(exec, stream, &x, &s);
    return result ? result : launch(x, s);
}

SIM_API_STREAM(cuGraphUpload, _ptsz, (void *exec, void *stream), (exec, stream), SIM_HEALTHY) {
    struct exec *x;
    struct sim_stream *s;
    int result = check_exec(exec, stream, &x, &s);
    return result ? result : check_steps(x);
}

/* ---- updates ---- */

struct difference { int result; const struct sim_node *node, *from; };

static struct difference differs(int result, const struct sim_node *node, const struct sim_node *from) {
    return (struct difference) { result, node, from };
}

static bool same_ends(const struct sim_op *a, const struct sim_op *b) {
    return a->dst.device == b->dst.device && a->src.device == b->src.device;
}
static bool same_shape(const struct sim_op *a, const struct sim_op *b) {
    return a->width == b->width && a->height == b->height && a->depth == b->depth && a->dst.pitch == b->dst.pitch
           && a->src.pitch == b->src.pitch && a->dst.slice == b->dst.slice && a->src.slice == b->src.slice
           && a->pattern_bytes == b->pattern_bytes;
}

/* What may change, as documented and measured: not the devices of a copy or fill, nor the shape of one with several
   rows; not the context of a kernel, nor whether it is cooperative. Memory may come from another graph. */
static int compare(const struct exec *x, const struct sim_work *from, const struct sim_work *to) {
    const struct sim_op *a = from->op, *b = to->op;
    if (from->type != to->type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (from->context != to->context) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
        if (a->grid->cooperative != b->grid->cooperative
            || (x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY && a->priority != b->priority))
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMCPY: case CU_GRAPH_NODE_TYPE_MEMSET:
        return same_ends(a, b) && ((a->height * a->depth == 1 && b->height * b->depth == 1) || same_shape(a, b)) ?
                   CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return a->dst.device == b->dst.device ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    default: return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
}

/* As documented: the nodes on which none depends are paired in their order, then the dependencies of each pair in the
   order of the edges; each pair is compared when its dependencies come next, as measured. step_of: of each node, its
   step + 1; node_of: the reverse; both zeros before. stack: room for all nodes. */
static struct difference pair(const struct exec *x, const struct sim_graph *g, unsigned *step_of, unsigned *node_of,
                              struct sim_node **stack) {
    unsigned depth = sim_graph_ends(g, stack);
    if (depth != x->nends)
        return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, depth > x->nends ? stack[x->nends] : NULL, NULL);
    for (unsigned i = 0; i < depth; i++) {
        step_of[stack[i]->index] = x->ends[i] + 1;
        node_of[x->ends[i]] = stack[i]->index + 1;
    }
    while (depth) {
        const struct sim_node *node = stack[--depth];
        const struct step *step = &x->steps[step_of[node->index] - 1];
        const int result = compare(x, &step->work, &node->work);
        if (result) return differs(result, node, NULL);
        if (node->before.n != step->nbefore) return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, NULL);
        for (unsigned k = 0; k < node->before.n; k++) {
            struct sim_node *before = node->before.at[k];
            const unsigned n = before->index, s = step->before[k];
            if (step_of[n] != (node_of[s] ? s + 1 : 0) || (node_of[s] && node_of[s] != n + 1))
                return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, before);
            if (step_of[n]) continue;
            step_of[n] = s + 1;
            node_of[s] = n + 1;
            stack[depth++] = before;
        }
    }
    return differs(CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL);
}

static void apply(struct exec *x, const struct sim_graph *g, const unsigned *step_of) {
    for (unsigned i = 0; i < g->nodes.n; i++) {
        struct sim_work *work = &x->steps[step_of[i] - 1].work;
        struct sim_op *old = work->op;
        *work = g->nodes.at[i]->work;
        if (work->op) sim_op_ref(work->op);
        sim_op_unref(old);
        g->nodes.at[i]->exec = x->handle;
    }
}

static int update(void *exec, void *graph, struct difference *d) {
    struct exec *x = sim_get(SIM_H_EXEC, exec);
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    *d = differs(CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL);        /* also for wrong arguments, as measured */
    if (!x || !g) return CUDA_ERROR_INVALID_VALUE;
    d->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (x->n != g->nodes.n) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    unsigned *pairs = calloc(2u * x->n + 1, sizeof *pairs);
    struct sim_node **stack = calloc(x->n + 1u, sizeof *stack);
    *d = pairs && stack ? pair(x, g, pairs, pairs + x->n, stack) : differs(CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
    const bool no_memory = d->result == CU_GRAPH_EXEC_UPDATE_ERROR;
    if (!d->result) apply(x, g, pairs);
    free(pairs);
    free(stack);
    if (no_memory) return CUDA_ERROR_OUT_OF_MEMORY;
    return d->result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

static void *handle_of(const struct sim_node *node) { return node ? SIM_HANDLE(node->handle) : NULL; }

SIM_API(cuGraphExecUpdate_v2, (void *exec, void *graph, CUgraphExecUpdateResultInfo *info), (exec, graph, info),
        SIM_HEALTHY) {
    struct difference d;
    const int result = update(exec, graph, &d);
    if (info) *info = (CUgraphExecUpdateResultInfo) { d.result, handle_of(d.node), handle_of(d.from) };
    return result;
}
SIM_API(cuGraphExecUpdate, (void *exec, void *graph, void **node, int *why), (exec, graph, node, why), SIM_HEALTHY) {
    struct difference d;
    const int result = update(exec, graph, &d);
    if (node) *node = handle_of(d.node);
    if (why) *why = d.result;
    return result;
}
