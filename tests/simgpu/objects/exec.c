/* exec.c - executable graphs: instantiated, launched, updated.

   A launch submits a copy of every node's operation between two markers, which give the whole graph
   its place in the stream's order; between them, only the graph's edges order the copies. Launches
   of one executable graph do not overlap. The copies share the operations' contents: updating or
   destroying the executable graph affects only later launches. */
#include "objects.h"

struct sim_exec {
    uint64_t handle, flags;
    struct sim_plan *plan;
    const struct sim_work **memory; /* what allocates or frees, in an order in which it can be
                                       executed */
    unsigned nmemory;
    struct sim_op *end; /* of the last launch */
    unsigned updates;   /* how many: the nodes of the graph before no longer belong to it */
    struct sim_held *held;
    struct conditions *conditions; /* NULL: none */
};
struct conditions {
    unsigned refs, n;
    struct sim_condition *at[];
}; /* of its graphs */

static bool is_memory(int type) {
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/* ---- instantiation ---- */

static void unref_conditions(struct conditions *c) {
    if (!c || --c->refs) return;
    for (unsigned i = 0; i < c->n; i++) sim_condition_unref(c->at[i]);
    free(c);
}

static void free_exec(struct sim_exec *x) {
    sim_held_free_after(x->held, x->end);
    unref_conditions(x->conditions);
    sim_plan_unref(x->plan);
    sim_op_unref(x->end);
    sim_handle_drop(x->handle);
    free(x->memory);
    free(x);
}

static void add_memory(struct sim_step *step, void *user) {
    struct sim_exec *x = user;
    if (!is_memory(step->work.type)) return;
    if (x->memory) x->memory[x->nmemory] = &step->work;
    x->nmemory++;
}

/* With those of the graphs that its nodes execute. */
static bool copy_held(struct sim_held **list, const struct sim_graph *g) {
    bool ok = sim_held_copy(list, g->held);
    for (const struct sim_node *node = g->first; node && ok; node = node->next)
        for (unsigned k = 0; k < node->nbodies && ok; k++) ok = copy_held(list, node->bodies[k]);
    return ok;
}

/* Counts them, and notes them if there is a list. */
static unsigned find_conditions(const struct sim_graph *g, struct sim_condition **list) {
    unsigned n = 0;
    for (struct sim_condition *c = g->conditions; c; c = c->next, n++) {
        if (!list) continue;
        list[n] = c;
        c->refs++;
    }
    for (const struct sim_node *node = g->first; node; node = node->next)
        for (unsigned k = 0; k < node->nbodies; k++)
            n += find_conditions(node->bodies[k], list ? list + n : NULL);
    return n;
}
static bool note_conditions(struct sim_exec *x, const struct sim_graph *g) {
    const unsigned n = find_conditions(g, NULL);
    if (!n) return true;
    if (!(x->conditions = malloc(sizeof *x->conditions + n * sizeof *x->conditions->at)))
        return false;
    x->conditions->refs = 1;
    x->conditions->n = find_conditions(g, x->conditions->at);
    return true;
}

/* 0, 2, or 1: the graph's nodes are in a circle. */
static int new_exec(const struct sim_graph *g, uint64_t flags, struct sim_exec **out) {
    struct sim_exec *x = calloc(1, sizeof *x);
    if (!x) return CUDA_ERROR_OUT_OF_MEMORY;
    x->flags = flags;
    const int made = sim_plan_new(g, &x->plan);
    if (!made) sim_plan_each(x->plan, add_memory, x);
    bool ok = !made && copy_held(&x->held, g) && note_conditions(x, g) &&
            (x->memory = calloc(x->nmemory + 1, sizeof *x->memory)) &&
            (x->handle = sim_handle_new(SIM_H_EXEC, x));
    x->nmemory = 0;
    if (ok) {
        sim_plan_each(x->plan, add_memory, x);
        *out = x;
        return CUDA_SUCCESS;
    }
    free_exec(x);
    return made == SIM_PLAN_CIRCLE ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
}

static bool may_be_conditional(const struct sim_work *w, const struct sim_work *conditional) {
    return (w->type <= CU_GRAPH_NODE_TYPE_MEMSET || w->type == CU_GRAPH_NODE_TYPE_GRAPH ||
                   w->type == CU_GRAPH_NODE_TYPE_EMPTY ||
                   w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) &&
            (!w->context || w->context == conditional->context);
}

/* 0, or the result to return, the reason for it and the node. conditional: whose body the graph is,
   or NULL. A graph with memory nodes or conditional ones has one executable graph at a time; a body
   that is not allowed is found first, as measured. */
/* The executable graph that was instantiated from the node, or last updated from it; NULL: none. */
static struct sim_exec *exec_of(const struct sim_node *node) {
    struct sim_exec *x = sim_find(SIM_H_EXEC, SIM_HANDLE(node->exec));
    return x && x->updates == node->updates ? x : NULL;
}
static bool is_single(const struct sim_node *node) { /* as measured: only one may have it */
    return is_memory(node->work.type) || node->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}
static int check_nodes(const struct sim_graph *g, const struct sim_work *conditional, int *why,
        const struct sim_node **bad) {
    struct sim_range r;
    int result;
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    *bad = NULL;
    for (const struct sim_condition *c = g->conditions; c; c = c->next)
        if (!c->used)
            return sim_because(
                    CUDA_ERROR_INVALID_VALUE, "no node has the graph's conditional handle");
    for (const struct sim_node *node = g->first; node; node = node->next) {
        *bad = node;
        if (!sim_work_can_run(&node->work)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        /* as measured */
        if (is_memory(node->work.type) && conditional) return CUDA_ERROR_INVALID_VALUE;
        if (node->work.type == CU_GRAPH_NODE_TYPE_MEMSET /* there must be memory, as measured */
                && !sim_mem_find_for_call(node->work.op->dst.address, 1, true, &r))
            return CUDA_ERROR_INVALID_VALUE;
        if (conditional && !may_be_conditional(&node->work, conditional))
            return CUDA_ERROR_INVALID_VALUE;
        const struct sim_work *inner = node->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL
                ? &node->work
                : conditional;
        for (unsigned k = 0; k < node->nbodies; k++)
            if ((result = check_nodes(node->bodies[k], inner, why, bad))) return result;
        *bad = node;
        if (is_single(node) && exec_of(node)) return CUDA_ERROR_NOT_SUPPORTED;
    }
    *bad = NULL;
    return CUDA_SUCCESS;
}

static void note_exec(const struct sim_graph *g, const struct sim_exec *x) {
    for (struct sim_node *node = g->first; node; node = node->next) {
        node->exec = x->handle;
        node->updates = x->updates;
        for (unsigned k = 0; k < node->nbodies; k++) note_exec(node->bodies[k], x);
    }
}

int sim_exec_instantiate(void **out, void *graph, uint64_t flags, int *why, void **bad_node) {
    const uint64_t device = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
                   both = device | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    const struct sim_node *bad = NULL;
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    *bad_node = NULL;
    if (!out || !g || flags > 15 || (flags & both) == both) return CUDA_ERROR_INVALID_VALUE;
    if (g->owner) return CUDA_ERROR_NOT_SUPPORTED;
    if (flags & device)
        return sim_because(CUDA_ERROR_NOT_SUPPORTED, "kernels cannot launch graphs on this device");
    int result = check_nodes(g, NULL, why, &bad);
    if (result) {
        if (bad) *bad_node = SIM_HANDLE(bad->handle);
        return result;
    }
    struct sim_exec *x;
    if ((result = new_exec(g, flags, &x)) == CUDA_ERROR_INVALID_VALUE) {
        *why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return sim_because(result, "the graph's nodes depend on each other in a circle");
    }
    if (result) return result;
    note_exec(g, x);
    *why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    *out = SIM_HANDLE(x->handle);
    return CUDA_SUCCESS;
}

static bool memory_left(const struct sim_end *end) {
    return !end->context || (end->context->active && end->context->id == end->context_id);
}

static void check_alive(struct sim_step *step, void *user) {
    const struct sim_work *w = &step->work;
    bool *alive = user;
    *alive &= sim_work_can_run(w) &&
            (w->type != CU_GRAPH_NODE_TYPE_MEMCPY ||
                    (memory_left(&w->op->dst) && memory_left(&w->op->src)));
}

/* Where the driver of an H200 (580) never returns, this says so. */
int sim_exec_destroy(struct sim_exec *x) {
    bool alive = true;
    sim_plan_each(x->plan, check_alive, &alive);
    if (!alive) {
        fprintf(stderr,
                "simgpu: cuGraphExecDestroy: the context of a node, or of the memory that it "
                "copies, was destroyed; the driver of an H200 (580) never returns from this "
                "call\n");
        if (sim_settings.strict) abort();
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    free_exec(x);
    return CUDA_SUCCESS;
}

uint64_t sim_exec_flags(const struct sim_exec *x) { return x->flags; }

/* ---- launches ---- */

/* Memory that a launch allocates or frees changes hands at the call: all of it, or none. */
static int claim_memory(const struct sim_exec *x) {
    struct sim_range r;
    unsigned i = 0;
    for (bool ok = true; i < x->nmemory; i++) {
        const uint64_t address = (uintptr_t)x->memory[i]->op->data;
        if (x->memory[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            ok = sim_mem_mark_freeing(address, &r);
        else if (!sim_mem_claim(address))
            ok = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        if (!ok) break;
    }
    if (i == x->nmemory) return CUDA_SUCCESS;
    while (i-- > 0) {
        const uint64_t address = (uintptr_t)x->memory[i]->op->data;
        if (x->memory[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE) sim_mem_claim(address);
        else sim_mem_mark_freeing(address, &r);
    }
    return sim_because(CUDA_ERROR_INVALID_VALUE,
            "memory that the graph allocates has not been freed since its last launch, or memory "
            "that it frees has");
}

static void can_run(struct sim_step *step, void *result) {
    if (!sim_work_can_run(&step->work)) *(int *)result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
}
int sim_exec_check(const struct sim_exec *x) {
    int result = CUDA_SUCCESS;
    sim_plan_each(x->plan, can_run, &result);
    return result;
}

/* A context whose work runs in the graph must also wait for it. */
struct outlast {
    const struct sim_context *launched, *seen;
    struct sim_op *end;
};
static void outlast(struct sim_step *step, void *user) {
    struct outlast *o = user;
    struct sim_context *c = step->work.context;
    if (c && c != o->launched && c != o->seen) sim_stream_outlast(c, false, o->end);
    if (c) o->seen = c;
}

static void start_conditions(void *conditions, int error) {
    const struct conditions *c = conditions;
    for (unsigned i = 0; i < c->n && !error; i++) sim_condition_reset(c->at[i]);
}
static void release_conditions(struct sim_op *op) { unref_conditions(op->data); }

/* The first operation of a launch, or the last: the conditions exist until that, since any kernel
   may set them. */
static struct sim_op *outer_op(const struct sim_exec *x, bool first) {
    struct sim_op *op = sim_op_new(x->conditions && first ? SIM_OP_CALL : SIM_OP_MARKER);
    if (!op || !x->conditions) return op;
    op->function = start_conditions;
    op->data = x->conditions;
    op->release = release_conditions;
    x->conditions->refs++;
    return op;
}

int sim_exec_launch(struct sim_exec *x, struct sim_stream *s) {
    const unsigned n = x->plan->nops;
    const bool own = x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    int result = sim_exec_check(x);
    if (result) return result;
    struct sim_op **ops = calloc(n + 2, sizeof *ops), *start, *end;
    bool ok = ops && sim_plan_ops(x->plan, own ? -1 : -s->priority, ops) &&
            (ops[n] = outer_op(x, true)) && (ops[n + 1] = outer_op(x, false));
    result = ok ? claim_memory(x) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) {
        sim_op_ref(start = ops[n]);
        sim_op_ref(end = ops[n + 1]);
        sim_op_after(start, x->end);
        sim_stream_submit(s, start);
        sim_plan_submit(x->plan, ops, start, end);
        sim_stream_submit(s, end);
        sim_plan_each(x->plan, outlast, &(struct outlast){ s->context, s->context, end });
        sim_op_unref(x->end);
        sim_op_ref(x->end = end);
    }
    for (unsigned i = 0; ops && i < n + 2; i++) sim_op_unref(ops[i]);
    free(ops);
    return result;
}

/* ---- updates ---- */

static struct sim_difference differs(
        int result, const struct sim_node *node, const struct sim_node *from) {
    return (struct sim_difference){ result, node, from };
}

static bool same_ends(const struct sim_op *a, const struct sim_op *b) {
    return a->dst.device == b->dst.device && a->src.device == b->src.device;
}
static bool same_shape(const struct sim_op *a, const struct sim_op *b) {
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
            a->dst.pitch == b->dst.pitch && a->src.pitch == b->src.pitch &&
            a->dst.slice == b->dst.slice && a->src.slice == b->src.slice &&
            a->pattern_bytes == b->pattern_bytes;
}

/* What may change, as documented and measured: not the devices of a copy or fill, nor the shape of
   one with several rows; not the context of a kernel, nor whether it is cooperative. Memory may
   come from another graph. */
static int compare(
        const struct sim_exec *x, const struct sim_work *from, const struct sim_work *to) {
    const struct sim_op *a = from->op, *b = to->op;
    if (from->type != to->type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (from->context != to->context)
            return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
        if (a->grid->cooperative != b->grid->cooperative ||
                (x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY &&
                        a->priority != b->priority))
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return same_ends(a, b) &&
                        ((a->height * a->depth == 1 && b->height * b->depth == 1) ||
                                same_shape(a, b))
                ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: /* also not its handle: kernels have it */
        return a->data == b->data && a->how == b->how
                ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return a->dst.device == b->dst.device ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                              : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    default: return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
}

/* As documented: the nodes on which none depends are paired in their order, then the dependencies
   of each pair in the order of the edges; each pair is compared when its dependencies come next, as
   measured. step_of: of each node, its step + 1; node_of: the reverse; both zeros before. stack:
   room for all nodes. */
static struct sim_difference update_plan(
        struct sim_exec *x, struct sim_plan *p, const struct sim_graph *g, bool apply);

/* The steps and nodes that belong together. */
struct pairs {
    unsigned *step_of, *node_of; /* of each node, its step + 1; the reverse */
    struct sim_node **stack;     /* room for all nodes */
};

/* As documented: the nodes on which none depends are paired in their order, then the dependencies
   of each pair in the order of the edges; each pair is compared when its dependencies come next, as
   measured. */
static struct sim_difference pair(struct sim_exec *x, const struct sim_plan *p,
        const struct sim_graph *g, const struct pairs *pairs) {
    unsigned *step_of = pairs->step_of, *node_of = pairs->node_of,
             depth = sim_graph_ends(g, pairs->stack);
    struct sim_node **stack = pairs->stack;
    if (depth != p->nends)
        return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                depth > p->nends ? stack[p->nends] : NULL, NULL);
    for (unsigned i = 0; i < depth; i++) {
        step_of[stack[i]->index] = p->ends[i] + 1;
        node_of[p->ends[i]] = stack[i]->index + 1;
    }
    while (depth) {
        const struct sim_node *node = stack[--depth];
        const struct sim_step *step = &p->steps[step_of[node->index] - 1];
        const int result = compare(x, &step->work, &node->work);
        if (result) return differs(result, node, NULL);
        if (node->nbodies != step->nbodies)
            return differs(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node, NULL);
        for (unsigned k = 0; k < node->nbodies; k++) {
            const struct sim_difference d = update_plan(x, step->bodies[k], node->bodies[k], false);
            if (d.result) return d;
        }
        if (node->before.n != step->nbefore)
            return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, NULL);
        for (unsigned k = 0; k < node->before.n; k++) {
            struct sim_node *before = node->before.at[k].node;
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

static void apply(struct sim_exec *x, struct sim_plan *p, const struct sim_graph *g,
        const unsigned *step_of) {
    for (struct sim_node *node = g->first; node; node = node->next) {
        struct sim_step *step = &p->steps[step_of[node->index] - 1];
        struct sim_op *old = step->work.op;
        step->work = node->work;
        if (step->work.op) sim_op_ref(step->work.op);
        sim_op_unref(old);
        for (unsigned k = 0; k < node->nbodies; k++)
            if (sim_plan_own(&step->bodies[k]))
                update_plan(x, step->bodies[k], node->bodies[k], true);
    }
}

/* Compares; changes the plan only if `change`. */
static struct sim_difference update_plan(
        struct sim_exec *x, struct sim_plan *p, const struct sim_graph *g, bool change) {
    if (p->n != g->n) return differs(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    sim_graph_number(g);
    unsigned *room = calloc(2u * p->n + 1, sizeof *room);
    struct sim_node **stack = calloc(p->n + 1u, sizeof *stack);
    struct sim_difference d = differs(CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
    if (room && stack) d = pair(x, p, g, &(struct pairs){ room, room + p->n, stack });
    if (!d.result && change) apply(x, p, g, room);
    free(room);
    free(stack);
    return d;
}

int sim_exec_update(void *exec, void *graph, struct sim_difference *d) {
    struct sim_exec *x = sim_get(SIM_H_EXEC, exec);
    const struct sim_graph *g = sim_get(SIM_H_GRAPH, graph);
    /* also for wrong arguments, as measured */
    *d = differs(CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL);
    if (!x || !g || g->owner) return CUDA_ERROR_INVALID_VALUE;
    for (const struct sim_node *node = g->first; node; node = node->next)
        if (is_single(node) && exec_of(node) && exec_of(node) != x) return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_held *held = NULL;
    if (!copy_held(&held, g)) *d = differs(CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
    else *d = update_plan(x, x->plan, g, true);
    if (!d->result) { /* what the steps needed is needed until they have ended */
        struct sim_held *old = x->held;
        x->held = held;
        held = old;
        x->updates++;
        note_exec(g, x);
    }
    sim_held_free_after(held, x->end);
    if (d->result == CU_GRAPH_EXEC_UPDATE_ERROR) return CUDA_ERROR_OUT_OF_MEMORY;
    return d->result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

struct sim_step *sim_exec_step(const void *exec, const void *handle) {
    const struct sim_exec *x = sim_get(SIM_H_EXEC, exec);
    const struct sim_node *node = sim_get(SIM_H_NODE, handle);
    return x && node ? sim_plan_step(x->plan, node) : NULL;
}

bool sim_exec_may_change(const void *exec, const struct sim_work *from, const struct sim_work *to) {
    return compare(sim_get(SIM_H_EXEC, exec), from, to) == CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Nodes that were destroyed before count here, as measured; they do not when a whole graph is
   updated. */
bool sim_exec_change_body(const void *exec, struct sim_step *step, const struct sim_graph *body) {
    return step->bodies[0]->added == body->added &&
            !update_plan(sim_get(SIM_H_EXEC, exec), step->bodies[0], body, true).result;
}
