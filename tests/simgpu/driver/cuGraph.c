/* cuGraph.c - the entry points that build and describe graphs. */
#include "driver.h"

SIM_API(cuGraphCreate, (void **out, unsigned flags), (out, flags), SIM_INIT) {
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    const struct sim_graph *g = sim_graph_new();
    if (!g) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(g->handle);
    return CUDA_SUCCESS;
}

/* As documented, a graph that a capture fills can only grow; the result is as measured for a node
   of it. */
SIM_API(cuGraphDestroy, (void *graph), (graph), SIM_INIT) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    if (!g || g->owner) return CUDA_ERROR_INVALID_VALUE;
    if (sim_graph_captured(g)) return CUDA_ERROR_ILLEGAL_STATE;
    sim_graph_free(g);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphClone, (void **out, void *graph), (out, graph), SIM_INIT) {
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    if (!out || !g) return CUDA_ERROR_INVALID_VALUE;
    if (g->has_memory || g->has_conditional) return CUDA_ERROR_NOT_SUPPORTED;
    const struct sim_graph *clone = sim_graph_clone(g);
    if (!clone) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(clone->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeFindInClone, (void **out, void *original, void *clone), (out, original, clone),
        SIM_INIT) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, clone);
    if (!out || !g) return CUDA_ERROR_INVALID_VALUE;
    if (!original) return CUDA_ERROR_INVALID_VALUE;
    struct sim_node *node = g->found;
    for (unsigned i = 0; i < g->n; i++) { /* usually they are looked up in their order */
        node = node && node->next ? node->next : g->first;
        if (SIM_HANDLE(node->original) != original) continue;
        g->found = node;
        *out = SIM_HANDLE(node->handle);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- nodes and edges ---- */

SIM_API(cuGraphDestroyNode, (void *handle), (handle), SIM_INIT) {
    struct sim_node *node = sim_get(SIM_H_NODE, handle);
    if (!node) return CUDA_ERROR_INVALID_VALUE;
    if (node->graph->captured || sim_node_captured(node)) return CUDA_ERROR_ILLEGAL_STATE;
    if (node->graph->has_memory) return CUDA_ERROR_NOT_SUPPORTED; /* as documented */
    sim_node_free(node);
    return CUDA_SUCCESS;
}

/* An edge must (remove: be there, as described if there is a description) or must not be there
   yet. */
static bool edge_good(const struct sim_graph *g, void *const *from, void *to,
        const CUgraphEdgeData *data, bool remove) {
    const struct sim_node *a = sim_get(SIM_H_NODE, *from), *b = sim_get(SIM_H_NODE, to);
    if (!a || !b || a == b || a->graph != g || b->graph != g) return false;
    const struct sim_edge *edge = sim_node_edge(b, a);
    if (remove) return edge && (!data || !memcmp(&edge->data, data, sizeof *data));
    return !edge && sim_edges_good(data, from, b->work.type == CU_GRAPH_NODE_TYPE_KERNEL, 1);
}

/* All edges, or none. */
static int change_edges(void *graph, void *const *from, void *const *to,
        const CUgraphEdgeData *data, size_t n, bool remove) {
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    if (!g || (n && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n; i++)
        if (!edge_good(g, &from[i], to[i], data ? &data[i] : NULL, remove))
            return CUDA_ERROR_INVALID_VALUE;
    if (n && remove && g->has_memory) return CUDA_ERROR_NOT_SUPPORTED; /* as documented */
    for (size_t i = 0; i < n; i++) {
        struct sim_node *a = sim_get(SIM_H_NODE, from[i]), *b = sim_get(SIM_H_NODE, to[i]);
        if (remove) sim_node_independ(b, a);
        else if (!sim_node_edge(b, a) && !sim_node_depend(b, a, data ? &data[i] : NULL))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}
SIM_API(cuGraphAddDependencies, (void *graph, void *const *from, void *const *to, size_t n),
        (graph, from, to, n), SIM_INIT) {
    return change_edges(graph, from, to, NULL, n, false);
}
SIM_API(cuGraphAddDependencies_v2,
        (void *graph, void *const *from, void *const *to, const CUgraphEdgeData *data, size_t n),
        (graph, from, to, data, n), SIM_INIT) {
    return change_edges(graph, from, to, data, n, false);
}
SIM_API(cuGraphRemoveDependencies, (void *graph, void *const *from, void *const *to, size_t n),
        (graph, from, to, n), SIM_INIT) {
    return change_edges(graph, from, to, NULL, n, true);
}
SIM_API(cuGraphRemoveDependencies_v2,
        (void *graph, void *const *from, void *const *to, const CUgraphEdgeData *data, size_t n),
        (graph, from, to, data, n), SIM_INIT) {
    return change_edges(graph, from, to, data, n, true);
}

/* ---- lists: without an array for them only their number. Room that is left over is set to NULL,
   as documented; an array without room is an error, as measured. ---- */

struct list {
    void **at;
    CUgraphEdgeData *data;
    size_t room, n;
    bool lossy;
};

static void put(struct list *list, const struct sim_node *node, const CUgraphEdgeData *data) {
    if (list->at && list->n < list->room) {
        list->at[list->n] = SIM_HANDLE(node->handle);
        if (list->data) list->data[list->n] = *data;
        else if (!sim_edges_plain(data, 1)) list->lossy = true;
    }
    list->n++;
}

static void put_all(struct list *list, const struct sim_edges *edges) {
    for (unsigned i = 0; i < edges->n; i++) put(list, edges->at[i].node, &edges->at[i].data);
}

static int finish(const struct list *list, size_t *n) {
    if (list->at && !list->room) return CUDA_ERROR_INVALID_VALUE;
    if (list->lossy) return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = list->n; list->at && i < list->room; i++) list->at[i] = NULL;
    for (size_t i = list->n; list->data && i < list->room; i++)
        list->data[i] = (CUgraphEdgeData){ 0 };
    if (!list->at || list->n < list->room) *n = list->n;
    return CUDA_SUCCESS;
}

static struct list new_list(void **out, CUgraphEdgeData *data, const size_t *n) {
    return (struct list){ out, out ? data : NULL, out ? *n : 0, 0, false };
}

static int nodes_of(void *graph, void **out, size_t *n, bool only_roots) {
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    if (!g || !n) return CUDA_ERROR_INVALID_VALUE;
    struct list list = new_list(out, NULL, n);
    for (const struct sim_node *node = g->first; node; node = node->next)
        if (!only_roots || !node->before.n) put(&list, node, NULL);
    return finish(&list, n);
}
SIM_API(cuGraphGetNodes, (void *graph, void **out, size_t *n), (graph, out, n), SIM_INIT) {
    return nodes_of(graph, out, n, false);
}
SIM_API(cuGraphGetRootNodes, (void *graph, void **out, size_t *n), (graph, out, n), SIM_INIT) {
    return nodes_of(graph, out, n, true);
}

/* Those from the first node come first, as measured. */
static int edges_of(void *graph, void **from, void **to, CUgraphEdgeData *data, size_t *n) {
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    if (!g || !n || !from != !to) return CUDA_ERROR_INVALID_VALUE;
    struct list a = new_list(from, data, n), b = new_list(to, NULL, n);
    for (const struct sim_node *node = g->first; node; node = node->next) {
        for (unsigned k = 0; k < node->after.n; k++) put(&a, node, &node->after.at[k].data);
        for (unsigned k = 0; k < node->after.n; k++) put(&b, node->after.at[k].node, NULL);
    }
    const int result = finish(&a, &(size_t){ 0 });
    return result ? result : finish(&b, n);
}
SIM_API(cuGraphGetEdges, (void *graph, void **from, void **to, size_t *n), (graph, from, to, n),
        SIM_INIT) {
    return edges_of(graph, from, to, NULL, n);
}
SIM_API(cuGraphGetEdges_v2, (void *graph, void **from, void **to, CUgraphEdgeData *data, size_t *n),
        (graph, from, to, data, n), SIM_INIT) {
    return edges_of(graph, from, to, data, n);
}

static int before(void *handle, void **out, CUgraphEdgeData *data, size_t *n) {
    const struct sim_node *node = sim_get(SIM_H_NODE, handle);
    if (!node || !n) return CUDA_ERROR_INVALID_VALUE;
    struct list list = new_list(out, data, n);
    put_all(&list, &node->before);
    return finish(&list, n);
}
static int after(void *handle, void **out, CUgraphEdgeData *data, size_t *n) {
    const struct sim_node *node = sim_get(SIM_H_NODE, handle);
    if (!node || !n) return CUDA_ERROR_INVALID_VALUE;
    struct list list = new_list(out, data, n);
    put_all(&list, &node->after);
    return finish(&list, n);
}
SIM_API(cuGraphNodeGetDependencies, (void *node, void **out, size_t *n), (node, out, n), SIM_INIT) {
    return before(node, out, NULL, n);
}
SIM_API(cuGraphNodeGetDependencies_v2, (void *node, void **out, CUgraphEdgeData *data, size_t *n),
        (node, out, data, n), SIM_INIT) {
    return before(node, out, data, n);
}
SIM_API(cuGraphNodeGetDependentNodes, (void *node, void **out, size_t *n), (node, out, n),
        SIM_INIT) {
    return after(node, out, NULL, n);
}
SIM_API(cuGraphNodeGetDependentNodes_v2, (void *node, void **out, CUgraphEdgeData *data, size_t *n),
        (node, out, data, n), SIM_INIT) {
    return after(node, out, data, n);
}

/* ---- what a node does ---- */

SIM_API(cuGraphNodeGetType, (void *handle, int *type), (handle, type), SIM_INIT) {
    const struct sim_node *node = sim_get(SIM_H_NODE, handle);
    if (!node || !type) return CUDA_ERROR_INVALID_VALUE;
    *type = node->work.type;
    return CUDA_SUCCESS;
}

static struct sim_work *work_of(void *handle, int type) {
    struct sim_node *node = sim_get(SIM_H_NODE, handle);
    return node && node->work.type == type ? &node->work : NULL;
}

/* The arguments as they were given, in the order that was measured. The array belongs to the node;
   it is filled once, as a thread may read it while another one queries it again. NULL: no
   arguments, or no memory. */
static void **arguments(struct sim_op *op) {
    const struct sim_func *f = sim_launch_function(op)->func;
    const unsigned n = op->packed ? 5 : f->nparams;
    void **at = op->staged;
    if (!n || at || !(at = op->staged = calloc(n, sizeof *at))) return at;
    if (op->packed) {
        at[0] = (void *)CU_LAUNCH_PARAM_BUFFER_SIZE;
        at[1] = &op->packed;
        at[2] = (void *)CU_LAUNCH_PARAM_BUFFER_POINTER;
        at[3] = op->grid->params;
    } else
        for (unsigned i = 0; i < n; i++) at[i] = op->grid->params + f->params[i].address;
    return at;
}
/* Both versions begin with the members of the first. */
static int kernel_params(void *handle, CUDA_KERNEL_NODE_PARAMS_v1 *out) {
    struct sim_work *w = work_of(handle, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    const struct sim_grid *g = w->op->grid;
    const struct sim_function *f = sim_launch_function(w->op);
    void **at = arguments(w->op);
    if (!at && f->func->nparams) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUDA_KERNEL_NODE_PARAMS_v1){ SIM_HANDLE(f->handle), g->grid[0], g->grid[1], g->grid[2],
        g->block[0], g->block[1], g->block[2], g->dynamic_shared, w->op->packed ? NULL : at,
        w->op->packed ? at : NULL };
    return CUDA_SUCCESS;
}
SIM_API(cuGraphKernelNodeGetParams, (void *node, CUDA_KERNEL_NODE_PARAMS_v1 *out), (node, out),
        SIM_INIT) {
    return kernel_params(node, out);
}
SIM_API(cuGraphKernelNodeGetParams_v2, (void *node, CUDA_KERNEL_NODE_PARAMS_v2 *out), (node, out),
        SIM_INIT) {
    CUDA_KERNEL_NODE_PARAMS_v1 p;
    const int result = kernel_params(node, out ? &p : NULL);
    if (!result)
        *out = (CUDA_KERNEL_NODE_PARAMS_v2){ p.func, p.gridDimX, p.gridDimY, p.gridDimZ,
            p.blockDimX, p.blockDimY, p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra, NULL,
            NULL };
    return result;
}

SIM_API(cuGraphChildGraphNodeGetGraph, (void *handle, void **out), (handle, out), SIM_INIT) {
    const struct sim_node *node = sim_get(SIM_H_NODE, handle);
    if (!node || node->work.type != CU_GRAPH_NODE_TYPE_GRAPH || !out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(node->bodies[0]->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemcpyNodeGetParams, (void *node, CUDA_MEMCPY3D *out), (node, out), SIM_INIT) {
    const struct sim_work *w = work_of(node, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    const struct sim_op *op = w->op;
    /* with offsets; addresses are Device members */
    if (op->data) *out = *(const CUDA_MEMCPY3D *)op->data;
    else
        *out = (CUDA_MEMCPY3D){ .srcPitch = op->src.pitch,
            .srcDevice = op->src.address,
            .dstPitch = op->dst.pitch,
            .dstDevice = op->dst.address,
            .WidthInBytes = op->width,
            .Height = 1,
            .Depth = 1 };
    const CUdeviceptr from = out->srcDevice, to = out->dstDevice;
    out->srcMemoryType = op->src.device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    out->dstMemoryType = op->dst.device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    if (!op->src.device) out->srcHost = SIM_HANDLE(from);
    if (!op->dst.device) out->dstHost = SIM_HANDLE(to);
    if (!op->src.device) out->srcDevice = 0;
    if (!op->dst.device) out->dstDevice = 0;
    if (out->srcArray) out->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    if (out->dstArray) out->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemsetNodeGetParams, (void *node, CUDA_MEMSET_NODE_PARAMS *out), (node, out),
        SIM_INIT) {
    const struct sim_work *w = work_of(node, CU_GRAPH_NODE_TYPE_MEMSET);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    const struct sim_op *op = w->op;
    *out = (CUDA_MEMSET_NODE_PARAMS){ .dst = op->dst.address,
        .pitch = op->dst.pitch,
        .value = (unsigned)op->pattern,
        .elementSize = op->pattern_bytes,
        .width = op->width / op->pattern_bytes,
        .height = op->height };
    return CUDA_SUCCESS;
}

SIM_API(cuGraphHostNodeGetParams, (void *node, CUDA_HOST_NODE_PARAMS *out), (node, out), SIM_INIT) {
    const struct sim_work *w = work_of(node, CU_GRAPH_NODE_TYPE_HOST);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    sim_stream_function(w->op, &out->fn, &out->userData);
    return CUDA_SUCCESS;
}

SIM_API(cuGraphMemAllocNodeGetParams, (void *node, CUDA_MEM_ALLOC_NODE_PARAMS *out), (node, out),
        SIM_INIT) {
    const struct sim_work *w = work_of(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    memset(out, 0, sizeof *out);
    out->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    out->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    out->poolProps.location.id = w->op->dst.device->ordinal;
    out->bytesize = w->op->width;
    out->dptr = (uintptr_t)w->op->data;
    return CUDA_SUCCESS;
}
SIM_API(cuGraphMemFreeNodeGetParams, (void *node, CUdeviceptr *out), (node, out), SIM_INIT) {
    const struct sim_work *w = work_of(node, CU_GRAPH_NODE_TYPE_MEM_FREE);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    *out = (uintptr_t)w->op->data;
    return CUDA_SUCCESS;
}

static int event_of(void *node, int type, void **out) {
    const struct sim_work *w = work_of(node, type);
    if (!w || !out) return CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(((const struct sim_event *)w->op->data)->handle);
    return CUDA_SUCCESS;
}
SIM_API(cuGraphEventRecordNodeGetEvent, (void *node, void **out), (node, out), SIM_INIT) {
    return event_of(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, out);
}
SIM_API(cuGraphEventWaitNodeGetEvent, (void *node, void **out), (node, out), SIM_INIT) {
    return event_of(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, out);
}

/* ---- as text for Graphviz; the flags would only add to it ---- */

static void print_label(FILE *file, const struct sim_work *w) {
    static const char *const names[] = { "kernel", "memcpy", "memset", "host function", "graph",
        "empty", "event wait", "event record", "", "", "memory allocation", "memory free",
        "batch memory operation", "conditional" };
    const struct sim_op *op = w->op;
    if (w->type == CU_GRAPH_NODE_TYPE_KERNEL)
        fprintf(file, "%s\\n%u x %u x %u blocks of %u x %u x %u threads", op->grid->kernel_name,
                op->grid->grid[0], op->grid->grid[1], op->grid->grid[2], op->grid->block[0],
                op->grid->block[1], op->grid->block[2]);
    else fputs(names[w->type], file);
    if (w->type == CU_GRAPH_NODE_TYPE_MEMCPY || w->type == CU_GRAPH_NODE_TYPE_MEMSET)
        fprintf(file, "\\n%zu x %zu bytes", op->width, op->height * op->depth);
    if (w->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) fprintf(file, "\\n%zu bytes", op->width);
}

SIM_API(cuGraphDebugDotPrint, (void *graph, const char *path, unsigned flags), (graph, path, flags),
        SIM_INIT) {
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    (void)flags;
    if (!g || !path) return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "w");
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
    fputs("digraph {\n", file);
    sim_graph_number(g);
    for (const struct sim_node *node = g->first; node; node = node->next) {
        fprintf(file, "    n%u [label=\"", node->index);
        print_label(file, &node->work);
        fputs("\"];\n", file);
    }
    for (const struct sim_node *node = g->first; node; node = node->next)
        for (unsigned k = 0; k < node->after.n; k++)
            fprintf(file, "    n%u -> n%u;\n", node->index, node->after.at[k].node->index);
    fputs("}\n", file);
    const bool bad = ferror(file);
    return fclose(file) || bad ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
