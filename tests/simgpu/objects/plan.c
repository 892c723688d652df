/* plan.c - what an executable graph does: one step for each node, whose order is only that of the
   edges. A step that executes another graph has two operations, before and after those of that
   graph. */
#include "objects.h"

/* ---- made from a graph ---- */

void sim_plan_unref(struct sim_plan *p) {
    if (!p || --p->refs) return;
    for (unsigned i = 0; i < p->n; i++) {
        struct sim_step *step = &p->steps[i];
        for (unsigned k = 0; k < step->nbodies; k++) sim_plan_unref(step->bodies[k]);
        sim_op_unref(step->work.op);
        free(step->bodies);
        free(step->before);
    }
    free(p->steps);
    free(p->order);
    free(p->ends);
    free(p);
}

static unsigned *indices(struct sim_node *const *nodes, unsigned n) {
    unsigned *list = calloc(n + 1, sizeof *list);
    for (unsigned i = 0; i < n && list; i++) list[i] = nodes[i]->index;
    return list;
}

static unsigned *edges(const struct sim_edges *before) {
    unsigned *list = calloc(before->n + 1, sizeof *list);
    for (unsigned i = 0; i < before->n && list; i++) list[i] = before->at[i].node->index;
    return list;
}

static int fill_bodies(struct sim_plan *p, struct sim_step *step, const struct sim_node *node) {
    int result = 0;
    if (node->nbodies && !(step->bodies = calloc(node->nbodies, sizeof *step->bodies)))
        return SIM_PLAN_NO_MEMORY;
    for (unsigned i = 0; i < node->nbodies && !result; i++) {
        if ((result = sim_plan_new(node->bodies[i], &step->bodies[i]))) break;
        step->nbodies++;
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) p->nops += step->bodies[i]->nops;
    }
    return result;
}

static int fill_step(struct sim_plan *p, struct sim_step *step, const struct sim_node *node) {
    if (!(step->before = edges(&node->before))) return SIM_PLAN_NO_MEMORY;
    step->nbefore = node->before.n;
    step->node = node->handle;
    step->work = node->work;
    if (step->work.op) sim_op_ref(step->work.op);
    step->first = step->last = p->nops++;
    if (node->nbodies) step->last = p->nops++;
    return fill_bodies(p, step, node);
}

/* nodes: room for all of the graph's. */
static int fill(struct sim_plan *p, const struct sim_graph *g, struct sim_node **nodes) {
    sim_graph_number(g);
    if (!sim_graph_order(g, nodes)) return SIM_PLAN_CIRCLE;
    p->added = g->added;
    p->order = indices(nodes, g->n);
    p->nends = sim_graph_ends(g, nodes);
    p->ends = indices(nodes, p->nends);
    p->steps = calloc(g->n + 1u, sizeof *p->steps);
    int result = p->order && p->ends && p->steps ? 0 : SIM_PLAN_NO_MEMORY;
    for (const struct sim_node *node = g->first; node && !result; node = node->next, p->n++)
        result = fill_step(p, &p->steps[p->n], node);
    return result;
}

int sim_plan_new(const struct sim_graph *graph, struct sim_plan **out) {
    struct sim_plan *p = calloc(1, sizeof *p);
    struct sim_node **nodes = calloc(graph->n + 1u, sizeof *nodes);
    if (p) p->refs = 1;
    const int result = p && nodes ? fill(p, graph, nodes) : SIM_PLAN_NO_MEMORY;
    free(nodes);
    if (result) sim_plan_unref(p);
    else *out = p;
    return result;
}

void sim_plan_each(
        struct sim_plan *p, void (*visit)(struct sim_step *step, void *user), void *user) {
    for (unsigned i = 0; i < p->n; i++) {
        struct sim_step *step = &p->steps[p->order[i]];
        visit(step, user);
        for (unsigned k = 0; k < step->nbodies; k++) sim_plan_each(step->bodies[k], visit, user);
    }
}

static unsigned *same_list(const unsigned *list, unsigned n) {
    unsigned *copy = calloc(n + 1, sizeof *copy);
    if (copy && n) memcpy(copy, list, n * sizeof *copy);
    return copy;
}

static bool same_step(struct sim_step *to, const struct sim_step *from) {
    *to = *from;
    to->before = same_list(from->before, from->nbefore);
    to->bodies = calloc(from->nbodies + 1u, sizeof *to->bodies);
    if (to->work.op) sim_op_ref(to->work.op);
    for (unsigned k = 0; k < from->nbodies && to->bodies; k++)
        (to->bodies[k] = from->bodies[k])->refs++;
    if (!to->bodies) to->nbodies = 0;
    return to->before && to->bodies;
}

bool sim_plan_own(struct sim_plan **plan) {
    struct sim_plan *old = *plan;
    if (old->refs == 1) return true;
    struct sim_plan *p = calloc(1, sizeof *p);
    if (!p) return false;
    *p = (struct sim_plan){
        .refs = 1, .added = old->added, .nends = old->nends, .nops = old->nops
    };
    p->order = same_list(old->order, old->n);
    p->ends = same_list(old->ends, old->nends);
    p->steps = calloc(old->n + 1u, sizeof *p->steps);
    bool ok = p->order && p->ends && p->steps;
    for (; p->n < old->n && ok; p->n++) ok = same_step(&p->steps[p->n], &old->steps[p->n]);
    sim_plan_unref(ok ? old : p);
    if (ok) *plan = p;
    return ok;
}

/* The nodes of the graph keep their order when others are destroyed: a node's step is at its index,
   or later. */
struct sim_step *sim_plan_step(struct sim_plan *p, const struct sim_node *node) {
    const struct sim_node *owner = node->graph->owner;
    if (owner) {
        struct sim_step *step = sim_plan_step(p, owner);
        unsigned k = 0;
        while (owner->bodies[k] != node->graph) k++;
        if (!step || k >= step->nbodies || !sim_plan_own(&step->bodies[k])) return NULL;
        p = step->bodies[k];
    }
    for (unsigned i = node->index; i < p->n; i++)
        if (p->steps[i].node == node->handle) return &p->steps[i];
    return NULL;
}

/* ---- launched ---- */

static struct sim_op *new_op(const struct sim_work *w) {
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sim_launch_copy(w->op);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return sim_op_new(SIM_OP_EVENT);
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_GRAPH: return sim_op_new(SIM_OP_MARKER);
    default: return sim_op_copy(w->op);
    }
}

/* ---- conditions: when a conditional node is reached, a worker looks at the value, and submits the
   operations of the body which that selects. What comes after the node waits for `end`, which then
   waits for them, too; while a loop goes on, for another look. ---- */

struct branch {
    struct sim_condition *condition;
    struct sim_op *end; /* its operation keeps it until it is done */
    unsigned type, n;
    int priority;
    struct sim_plan *bodies[];
};

static void free_branch(struct sim_op *op) {
    struct branch *b = op->data;
    sim_condition_unref(b->condition);
    for (unsigned i = 0; i < b->n; i++) sim_plan_unref(b->bodies[i]);
    free(b);
}

static void decide(void *data, int error);

static struct sim_op *branch_op(const struct branch *like, struct sim_plan *const *bodies) {
    struct sim_op *op = sim_op_new(SIM_OP_CALL);
    struct branch *b = malloc(sizeof *b + like->n * sizeof *b->bodies);
    if (!op || !b) {
        sim_op_unref(op);
        free(b);
        return NULL;
    }
    *b = *like;
    b->condition->refs++;
    for (unsigned i = 0; i < b->n; i++) (b->bodies[i] = bodies[i])->refs++;
    op->function = decide;
    op->data = b;
    op->release = free_branch;
    return op;
}

static struct sim_plan *selected(const struct branch *b) {
    unsigned value = sim_condition_value(b->condition);
    if (b->type != CU_GRAPH_COND_TYPE_SWITCH) value = !value;
    return value < b->n ? b->bodies[value] : NULL;
}

/* False: no memory. */
static bool submit_body(const struct branch *b, const struct sim_plan *body) {
    struct sim_op **ops = calloc(body->nops + 1, sizeof *ops);
    struct sim_op *last = b->type == CU_GRAPH_COND_TYPE_WHILE ? branch_op(b, b->bodies)
                                                              : sim_op_new(SIM_OP_MARKER);
    const bool ok = ops && last && sim_plan_ops(body, b->priority, ops);
    if (ok) {
        sim_plan_submit(body, ops, NULL, last);
        sim_op_after(b->end, last);
        sim_op_submit(last);
        sim_op_want(last); /* as is what waits for it */
    }
    for (unsigned i = 0; ops && i < body->nops; i++) sim_op_unref(ops[i]);
    sim_op_unref(last);
    free(ops);
    return ok;
}

static void decide(void *data, int error) {
    const struct branch *b = data;
    (void)error;
    pthread_mutex_lock(&sim_lock);
    const struct sim_plan *body = __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED) ? NULL
                                                                                 : selected(b);
    if (body && !submit_body(b, body))
        sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the body of a conditional node");
    pthread_mutex_unlock(&sim_lock);
}

static bool conditional_ops(const struct sim_step *step, int priority, struct sim_op **ops) {
    const struct sim_op *model = step->work.op;
    const struct branch like = { .condition = model->data,
        .end = ops[step->last] = sim_op_new(SIM_OP_MARKER),
        .type = model->how,
        .n = step->nbodies,
        .priority = priority };
    return like.end && (ops[step->first] = branch_op(&like, step->bodies));
}

static bool step_ops(const struct sim_step *step, int priority, struct sim_op **ops) {
    if (step->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return conditional_ops(step, priority, ops);
    struct sim_op *op = ops[step->first] = step->disabled ? sim_op_new(SIM_OP_MARKER)
                                                          : new_op(&step->work);
    if (op && priority >= 0) op->priority = priority;
    if (!op || step->last == step->first) return op != NULL;
    return (ops[step->last] = sim_op_new(SIM_OP_MARKER)) &&
            sim_plan_ops(step->bodies[0], priority, ops + step->last + 1);
}

bool sim_plan_ops(const struct sim_plan *p, int priority, struct sim_op **ops) {
    bool ok = true;
    for (unsigned i = 0; i < p->n && ok; i++) ok = step_ops(&p->steps[i], priority, ops);
    return ok;
}

static void submit_step(const struct sim_plan *p, const struct sim_step *step, struct sim_op **ops,
        struct sim_op *start) {
    const struct sim_work *w = &step->work;
    struct sim_op *op = ops[step->first];
    if (!step->nbefore) sim_op_after(op, start);
    for (unsigned k = 0; k < step->nbefore; k++)
        sim_op_after(op, ops[p->steps[step->before[k]].last]);
    if (w->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        sim_op_after(op, ((const struct sim_event *)w->op->data)->op);
    sim_op_submit(op);
    if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        sim_op_ref(op);
        sim_event_set(w->op->data, op);
    }
    if (step->last == step->first) return;
    if (w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) sim_op_after(ops[step->last], op);
    else sim_plan_submit(step->bodies[0], ops + step->last + 1, op, ops[step->last]);
    sim_op_submit(ops[step->last]);
}

void sim_plan_submit(
        const struct sim_plan *p, struct sim_op **ops, struct sim_op *start, struct sim_op *end) {
    for (unsigned i = 0; i < p->n; i++) submit_step(p, &p->steps[p->order[i]], ops, start);
    for (unsigned i = 0; i < p->nends; i++) sim_op_after(end, ops[p->steps[p->ends[i]].last]);
    if (!p->n) sim_op_after(end, start);
}
