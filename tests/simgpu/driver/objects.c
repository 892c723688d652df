/* objects.c - the entry points that create what graphs keep beside their nodes: user objects and conditional handles;
   and the work of conditional nodes. */
#include "driver.h"

/* ---- user objects ---- */

static bool good(unsigned count) { return count && count <= INT32_MAX; }

SIM_API(cuUserObjectCreate, (void **out, void *data, void (*destroy)(void *), unsigned count, unsigned flags),
        (out, data, destroy, count, flags), SIM_INIT) {
    if (!out || !destroy || !good(count) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) return CUDA_ERROR_INVALID_VALUE;
    struct sim_object *o = calloc(1, sizeof *o);
    if (!o || !(o->handle = sim_handle_new(SIM_H_OBJECT, o))) {
        free(o);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    o->refs = count;
    o->destroy = destroy;
    o->data = data;
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
    if (!g || !o || !good(count) || flags > CU_GRAPH_USER_OBJECT_MOVE) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_object_hold(&g->held, o, count)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!flags) o->refs += count;
    return CUDA_SUCCESS;
}
SIM_API(cuGraphReleaseUserObject, (void *graph, void *object, unsigned count), (graph, object, count), SIM_INIT) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    struct sim_object *o = sim_get(SIM_H_OBJECT, object);
    struct sim_held **at = g ? &g->held : NULL, *h;
    if (!g || !o || !good(count)) return CUDA_ERROR_INVALID_VALUE;
    while (*at && (*at)->object != o) at = &(*at)->next;
    if (!(h = *at) || h->count < count) return CUDA_SUCCESS;         /* and nothing changes, as measured */
    if (!(h->count -= count)) {
        *at = h->next;
        free(h);
    }
    sim_object_unref(o, count);
    return CUDA_SUCCESS;
}

/* ---- conditions ---- */

SIM_API(cuGraphConditionalHandleCreate, (uint64_t *out, void *graph, void *context, unsigned value, unsigned flags),
        (out, graph, context, value, flags), SIM_HEALTHY) {
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    struct sim_context *c = sim_context_at(context);
    if (!out || !g || flags > CU_GRAPH_COND_ASSIGN_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    struct sim_condition *new = calloc(1, sizeof *new);
    if (!new || sim_mem_alloc(c->device, c, SIM_CONDITION_BYTES, SIM_MEM_MODULE, &new->address)) {
        free(new);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    new->refs = 1;
    new->context = c;
    new->context_id = c->id;
    new->value = value;
    new->assigns = flags != 0;
    new->next = g->conditions;
    g->conditions = new;
    *out = new->address;
    return CUDA_SUCCESS;
}

/* The handle may be of a graph around this one. */
static struct sim_condition *find(uint64_t handle, const struct sim_graph *g) {
    for (; g; g = g->owner ? g->owner->graph : NULL)
        for (struct sim_condition *c = g->conditions; c; c = c->next) if (c->address == handle) return c;
    return NULL;
}

static void release(struct sim_op *op) { sim_condition_unref(op->data); }

int sim_conditional_work(const CUDA_CONDITIONAL_NODE_PARAMS *p, const struct sim_graph *g, struct sim_work *out) {
    struct sim_condition *c = find(p->handle, g);
    const struct sim_context *context = sim_context_at(p->ctx);
    const unsigned most = p->type == CU_GRAPH_COND_TYPE_IF ? 2 : p->type == CU_GRAPH_COND_TYPE_WHILE ? 1 : UINT32_MAX;
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!c || c->used) return CUDA_ERROR_INVALID_VALUE;
    if (p->type < 0 || p->type > CU_GRAPH_COND_TYPE_SWITCH || !p->size || p->size > most || c->context != context)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_op *op = sim_op_new(SIM_OP_CALL);
    if (op) op->staged = calloc(p->size, sizeof(void *));
    if (!op || !op->staged) {
        sim_op_unref(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->how = (unsigned)p->type;
    op->data = c;
    op->release = release;
    c->refs++;
    *out = (struct sim_work) { .type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .op = op };
    sim_work_in(out, c->context);
    return CUDA_SUCCESS;
}
