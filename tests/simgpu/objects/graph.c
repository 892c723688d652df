/* graph.c - graphs: nodes, edges between them, and sets of nodes. The entry points are in
   driver/cuGraph.c.

   What a node does is an operation that is never submitted, a model: each launch of the graph
   submits a copy. A model does not change once a node has it, so that nodes, clones and executable
   graphs share it; it is freed with the last of them, or with the last copy that runs. */
#include "objects.h"

void sim_work_in(struct sim_work *work, struct sim_context *context) {
    work->context = context;
    work->context_id = context->id;
}

/* The record of a context remains when it is destroyed; a primary context gets another id when it
   becomes active again. */
bool sim_work_can_run(const struct sim_work *work) {
    return !work->context || (work->context->active && work->context->id == work->context_id);
}

/* ---- events: a node keeps the event that it records or waits for, also when the program destroys
   it ---- */

void sim_event_unref(struct sim_event *event) {
    if (--event->refs) return;
    sim_op_unref(event->op);
    sim_shared_unref(event->shared);
    sim_set_clear(&event->nodes);
    free(event);
}

static void unref_event(struct sim_op *op) { sim_event_unref(op->data); }

struct sim_op *sim_event_op(struct sim_event *event) {
    struct sim_op *op = sim_op_new(SIM_OP_EVENT);
    if (!op) return NULL;
    event->refs++;
    op->data = event;
    op->release = unref_event;
    return op;
}

/* ---- nodes ---- */

static uint64_t last_end, mark;

static bool add(struct sim_edges *list, struct sim_node *node, CUgraphEdgeData data) {
    const size_t gap = (size_t)(list->at - list->base);
    if (gap + list->n == list->cap && gap <= list->n) {
        const unsigned cap = list->cap ? list->cap * 2 : 2;
        struct sim_edge *more = realloc(list->base, cap * sizeof *more);
        if (!more) return false;
        list->base = more;
        list->at = more + gap;
        list->cap = cap;
    } else if (gap + list->n == list->cap)
        list->at = memmove(list->base, list->at, list->n * sizeof *list->at);
    list->at[list->n++] = (struct sim_edge){ node, data };
    return true;
}

static struct sim_edge *find(const struct sim_edges *list, const struct sim_node *node) {
    /* from both ends: the oldest and newest go first */
    for (unsigned i = 0, k = list->n; i < k; i++) {
        if (list->at[i].node == node) return &list->at[i];
        if (list->at[--k].node == node) return &list->at[k];
    }
    return NULL;
}

static void take_out(struct sim_edges *list, const struct sim_node *node) {
    struct sim_edge *edge = find(list, node);
    if (!edge) return;
    list->n--;
    if (edge == list->at) list->at++;
    else memmove(edge, edge + 1, (size_t)(list->at + list->n - edge) * sizeof *edge);
}

static void note_memory(struct sim_graph *graph) {
    for (struct sim_graph *g = graph; g; g = g->owner ? g->owner->graph : NULL)
        g->has_memory = true;
}

static void append(struct sim_graph *graph, struct sim_node *node) {
    node->graph = graph;
    node->prev = graph->last;
    if (graph->last) graph->last->next = node;
    else graph->first = node;
    graph->last = node;
    node->index = graph->n++;
    graph->added++;
}

struct sim_node *sim_node_add(struct sim_graph *graph, struct sim_work work, void *const *before,
        const CUgraphEdgeData *data, size_t n) {
    struct sim_node *node = calloc(1, sizeof *node);
    if (!node || !(node->handle = sim_handle_new(SIM_H_NODE, node))) {
        sim_op_unref(work.op);
        free(node);
        return NULL;
    }
    append(graph, node);
    node->work = work;
    node->end = ++last_end;
    const uint64_t memory = work.op ? (uintptr_t)work.op->data : 0; /* of an allocation or a free */
    if (work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || work.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        note_memory(graph);
    if (work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) sim_mem_in_graph(memory, graph->handle);
    if (work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) graph->has_conditional = true;
    if (work.type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        node->link_free = graph->last_free;
        graph->last_free = node;
        sim_mem_freed_in(memory, graph->handle);
    }
    for (size_t i = 0; i < n; i++) {
        struct sim_node *b = sim_find(SIM_H_NODE, before[i]);
        if (!b || sim_node_depend(node, b, data ? &data[i] : NULL)) continue;
        sim_node_free(node);
        return NULL;
    }
    return node;
}

struct sim_edge *sim_node_edge(const struct sim_node *node, const struct sim_node *before) {
    return node->before.n <= before->after.n ? find(&node->before, before)
                                             : find(&before->after, node);
}

bool sim_node_depend(struct sim_node *node, struct sim_node *before, const CUgraphEdgeData *data) {
    static const CUgraphEdgeData plain;
    if (!data) data = &plain;
    if (!add(&node->before, before, *data)) return false;
    if (add(&before->after, node, *data)) return true;
    node->before.n--;
    return false;
}

void sim_node_independ(struct sim_node *node, struct sim_node *before) {
    take_out(&node->before, before);
    take_out(&before->after, node);
    before->end = ++last_end;
}

void sim_node_depend_early(struct sim_node *node) {
    static const CUgraphEdgeData data = { .from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
        .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC };
    for (unsigned i = 0; i < node->before.n; i++) {
        const struct sim_node *before = node->before.at[i].node;
        if (before->work.type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
        node->before.at[i].data = data;
        find(&before->after, node)->data = data;
    }
}

bool sim_node_own(struct sim_node *node, struct sim_graph *body) {
    struct sim_graph **more = realloc(node->bodies, (node->nbodies + 1) * sizeof *more);
    if (!more) return false;
    node->bodies = more;
    node->bodies[node->nbodies++] = body;
    body->owner = node;
    if (body->has_memory) note_memory(node->graph);
    return true;
}

static void drop(struct sim_node *node) {
    for (unsigned i = 0; i < node->nbodies; i++) sim_graph_free(node->bodies[i]);
    free(node->bodies);
    sim_op_unref(node->work.op);
    sim_handle_drop(node->handle);
    free(node->before.base);
    free(node->after.base);
    free(node);
}

void sim_node_free(struct sim_node *node) {
    struct sim_graph *g = node->graph;
    for (unsigned i = 0; i < node->before.n; i++) {
        take_out(&node->before.at[i].node->after, node);
        node->before.at[i].node->end = ++last_end;
    }
    for (unsigned i = 0; i < node->after.n; i++) take_out(&node->after.at[i].node->before, node);
    if (node->prev) node->prev->next = node->next;
    else g->first = node->next;
    if (node->next) node->next->prev = node->prev;
    else g->last = node->prev;
    if (g->found == node) g->found = NULL;
    if (g->last_free == node) g->last_free = node->link_free; /* it could not be made */
    g->n--;
    drop(node);
}

/* ---- graphs ---- */

struct sim_graph *sim_graph_new(void) {
    struct sim_graph *graph = calloc(1, sizeof *graph);
    if (graph && (graph->handle = sim_handle_new(SIM_H_GRAPH, graph))) return graph;
    free(graph);
    return NULL;
}

void sim_graph_free(struct sim_graph *graph) {
    for (struct sim_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        drop(node);
    }
    for (struct sim_condition *c = graph->conditions, *next; c; c = next) {
        next = c->next;
        sim_condition_unref(c);
    }
    sim_held_free(graph->held);
    sim_handle_drop(graph->handle);
    free(graph);
}

bool sim_node_captured(const struct sim_node *node) {
    for (unsigned i = 0; i < node->nbodies; i++)
        if (sim_graph_captured(node->bodies[i])) return true;
    return false;
}

bool sim_graph_captured(const struct sim_graph *graph) {
    for (const struct sim_node *node = graph->first; node; node = node->next)
        if (sim_node_captured(node)) return true;
    return graph->captured;
}

void sim_graph_number(const struct sim_graph *graph) {
    unsigned index = 0;
    for (struct sim_node *node = graph->first; node; node = node->next) node->index = index++;
}

/* A clone has the edges in the order of the nodes that they lead to, as measured. */
static bool same_edges(const struct sim_graph *graph, struct sim_node *const *clones) {
    for (const struct sim_node *node = graph->first; node; node = node->next)
        for (unsigned i = 0; i < node->before.n; i++) {
            const struct sim_edge *edge = &node->before.at[i];
            if (!sim_node_depend(clones[node->index], clones[edge->node->index], &edge->data))
                return false;
        }
    return true;
}

static bool same_bodies(struct sim_node *clone, const struct sim_node *original) {
    for (unsigned i = 0; i < original->nbodies; i++) {
        struct sim_graph *body = sim_graph_clone(original->bodies[i]);
        if (body && sim_node_own(clone, body)) continue;
        if (body) sim_graph_free(body);
        return false;
    }
    return true;
}

static struct sim_node *clone_node(struct sim_graph *to, const struct sim_node *original) {
    if (original->work.op) sim_op_ref(original->work.op);
    struct sim_node *node = sim_node_add(to, original->work, NULL, NULL, 0);
    if (!node) return NULL;
    node->original = original->handle;
    node->end = original->end;
    return same_bodies(node, original) ? node : NULL;
}

struct sim_graph *sim_graph_clone(const struct sim_graph *graph) {
    struct sim_graph *clone = sim_graph_new();
    struct sim_node **clones = calloc(graph->n + 1u, sizeof *clones);
    bool ok = clone && clones && sim_held_copy(&clone->held, graph->held);
    sim_graph_number(graph);
    for (const struct sim_node *node = graph->first; node && ok; node = node->next)
        ok = (clones[node->index] = clone_node(clone, node)) != NULL;
    ok = ok && same_edges(graph, clones);
    free(clones);
    if (ok || !clone) return clone;
    sim_graph_free(clone);
    return NULL;
}

/* In the order in which they were added, as far as the edges allow it. */
bool sim_graph_order(const struct sim_graph *graph, struct sim_node **order) {
    unsigned placed = 0;
    for (struct sim_node *node = graph->first; node; node = node->next)
        node->waits = node->before.n + 1;
    for (struct sim_node *first = graph->first; first; first = first->next) {
        struct sim_node *list = first, *node;
        if (--list->waits) continue;
        list->link = NULL;
        while ((node = list)) { /* those before this one that waited for it follow at once */
            list = node->link;
            order[placed++] = node;
            for (unsigned k = 0; k < node->after.n; k++) {
                struct sim_node *after = node->after.at[k].node;
                if (--after->waits) continue;
                after->link = list;
                list = after;
            }
        }
    }
    return placed == graph->n;
}

static int by_end(const void *a, const void *b) {
    const struct sim_node *const *m = a, *const *n = b;
    return (*m)->end < (*n)->end ? -1 : (*m)->end > (*n)->end;
}

unsigned sim_graph_ends(const struct sim_graph *graph, struct sim_node **ends) {
    unsigned n = 0;
    for (struct sim_node *node = graph->first; node; node = node->next)
        if (!node->after.n) ends[n++] = node;
    qsort(ends, n, sizeof(struct sim_node *), by_end);
    return n;
}

/* ---- sets ---- */

bool sim_set_add(struct sim_set *set, void *const *nodes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (unsigned k = 0; k < set->n && !there; k++) there = set->at[k] == nodes[i];
        if (there) continue;
        if (set->n == set->cap) {
            const unsigned cap = set->cap ? set->cap * 2 : 4;
            void **more = realloc(set->at, cap * sizeof *more);
            if (!more) return false;
            set->at = more;
            set->cap = cap;
        }
        set->at[set->n++] = nodes[i];
    }
    return true;
}

void sim_set_clear(struct sim_set *set) {
    free(set->at);
    *set = (struct sim_set){ NULL, 0, 0 };
}

void sim_set_end(const struct sim_set *set) {
    for (unsigned i = 0; i < set->n; i++) {
        struct sim_node *node = sim_find(SIM_H_NODE, set->at[i]);
        if (node) node->end = ++last_end;
    }
}

void sim_set_mark(const struct sim_set *set) {
    struct sim_node *list = NULL;
    mark++;
    for (unsigned i = 0; i < set->n; i++) {
        struct sim_node *node = sim_find(SIM_H_NODE, set->at[i]);
        if (!node || node->mark == mark) continue;
        node->mark = mark;
        node->link = list;
        list = node;
    }
    while (list) {
        const struct sim_node *node = list;
        list = node->link;
        for (unsigned i = 0; i < node->before.n; i++) {
            struct sim_node *before = node->before.at[i].node;
            if (before->mark == mark) continue;
            before->mark = mark;
            before->link = list;
            list = before;
        }
    }
}

bool sim_set_marked(const struct sim_set *set) {
    for (unsigned i = 0; i < set->n; i++) {
        const struct sim_node *node = sim_find(SIM_H_NODE, set->at[i]);
        if (node && node->mark != mark) return false;
    }
    return true;
}

bool sim_graph_has(const struct sim_graph *graph, void *const *nodes, size_t n) {
    if (n && !nodes) return false;
    mark++;
    for (size_t i = 0; i < n; i++) {
        struct sim_node *node = sim_get(SIM_H_NODE, nodes[i]);
        if (!node || node->graph != graph || node->mark == mark) return false;
        node->mark = mark;
    }
    return true;
}

/* From one kernel to another an edge may say how early the second one begins, which is a hint here.
   A plain one may come from the port of the launch order, as measured. */
bool sim_edges_good(const CUgraphEdgeData *data, void *const *from, bool to_kernel, size_t n) {
    static const unsigned char zeros[sizeof data->reserved];
    for (size_t i = 0; data && i < n; i++) {
        const struct sim_node *node = sim_find(SIM_H_NODE, from[i]);
        const bool kernels = to_kernel && node && node->work.type == CU_GRAPH_NODE_TYPE_KERNEL,
                   early = data[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        if (data[i].to_port || memcmp(data[i].reserved, zeros, sizeof zeros) ||
                data[i].type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC || (early && !kernels) ||
                (early ? !data[i].from_port ||
                                        data[i].from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                       : data[i].from_port &&
                                        (!kernels ||
                                                data[i].from_port !=
                                                        CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)))
            return false;
    }
    return true;
}

bool sim_edges_plain(const CUgraphEdgeData *data, size_t n) {
    static const CUgraphEdgeData plain;
    for (size_t i = 0; data && i < n; i++)
        if (memcmp(&data[i], &plain, sizeof plain)) return false;
    return true;
}
