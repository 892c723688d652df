/* cuUserObject.c - the entry points that create what graphs keep beside their nodes: user objects
   and conditional handles. */
#include "driver.h"

/* ---- user objects ---- */

static bool good(unsigned count) { return count && count <= INT32_MAX; }

SIM_API(cuUserObjectCreate,
        (void **out, void *data, void (*destroy)(void *), unsigned count, unsigned flags),
        (out, data, destroy, count, flags), SIM_INIT) {
    if (!out || !destroy || !good(count) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_object *o = sim_object_new(data, destroy, count);
    if (!o) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(o->handle);
    return CUDA_SUCCESS;
}
SIM_API(cuUserObjectRetain, (void *object, unsigned count), (object, count), SIM_INIT) {
    struct sim_object *o = sim_get(SIM_H_OBJECT, object);
    if (!o || !good(count)) return CUDA_ERROR_INVALID_VALUE;
    o->refs += count;
    return CUDA_SUCCESS;
}
SIM_API(cuUserObjectRelease, (void *object, unsigned count), (object, count), SIM_INIT) {
    struct sim_object *o = sim_get(SIM_H_OBJECT, object);
    if (!o || !good(count) || count > o->refs) return CUDA_ERROR_INVALID_VALUE;
    sim_object_unref(o, count);
    return CUDA_SUCCESS;
}
SIM_API(cuGraphRetainUserObject, (void *graph, void *object, unsigned count, unsigned flags),
        (graph, object, count, flags), SIM_INIT) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    struct sim_object *o = sim_get(SIM_H_OBJECT, object);
    if (!g || !o || !good(count) || flags > CU_GRAPH_USER_OBJECT_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_object_hold(&g->held, o, count)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!flags) o->refs += count;
    return CUDA_SUCCESS;
}
SIM_API(cuGraphReleaseUserObject, (void *graph, void *object, unsigned count),
        (graph, object, count), SIM_INIT) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    struct sim_object *o = sim_get(SIM_H_OBJECT, object);
    if (!g || !o || !good(count)) return CUDA_ERROR_INVALID_VALUE;
    sim_object_let_go(&g->held, o, count);
    return CUDA_SUCCESS;
}

/* ---- conditions ---- */

SIM_API(cuGraphConditionalHandleCreate,
        (uint64_t * out, void *graph, void *context, unsigned value, unsigned flags),
        (out, graph, context, value, flags), SIM_HEALTHY) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    struct sim_context *c = sim_context_at(context);
    if (!out || !g || flags > CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    return sim_condition_new(g, c, value, flags != 0, out);
}
