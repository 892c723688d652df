/* graph.c - graphs: nodes, edges between them, and sets of nodes. The entry points are in graphs.c and exec.c.

   What a node does is an operation that is never submitted, a model: each launch of the graph submits a copy. A model
   does not change once a node has it, so that nodes, clones and executable graphs share it; it is freed with the last
   of them, or with the last copy that runs. */
#include "driver.h"

void sim_work_in(struct sim_work *work, struct sim_context *context) {
    work->context = context;
    work->context_id = context->id;
}

/* The record of a context remains when it is destroyed; a primary context gets another id when it becomes active
   again. */
bool sim_work_can_run(const struct sim_work *work) {
    return !work->context || (work->context->active && work->context->id == work->context_id);
}

/* ---- events: a node keeps the event that it records or waits for, also when the program destroys it ---- */

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

static uint64_t last_end;

static bool add(struct sim_nodes *list, struct sim_node *node) {
    if (list->n == list->cap) {
        const unsigned cap = list->cap ? list->cap * 2 : 2;
        struct sim_node **more = realloc(list->at, cap * sizeof *more);
        if (!more) return false;
        list->at = more;
        list->cap = cap;
    }
    list->at[list->n++] = node;
    return true;
}

static void take_out(struct sim_nodes *list, const struct sim_node *node) {
    unsigned kept = 0;
    for (unsigned i = 0; i < list->n; i++) if (list->at[i] != node) list->at[kept++] = list->at[i];
    list->n = kept;
}

struct sim_node *sim_node_add(struct sim_graph *graph, struct sim_work work, void *const *before, size_t n) {
    struct sim_node *node = calloc(1, sizeof *node);
    if (!node || !(node->handle = sim_handle_new(SIM_H_NODE, node)) || !add(&graph->nodes, node)) {
        sim_op_unref(work.op);
        if (node) sim_handle_drop(node->handle);
        free(node);
        return NULL;
    }
    node->graph = graph;
    node->index = graph->nodes.n - 1;
    node->work = work;
    node->end = ++last_end;
    for (size_t i = 0; i < n; i++) {
        struct sim_node *b = sim_get(SIM_H_NODE, before[i]);
        if (!b || sim_node_depend(node, b)) continue;
        sim_node_free(node);
        return NULL;
    }
    return node;
}

bool sim_node_depends(const struct sim_node *node, const struct sim_node *before) {
    for (unsigned i = 0; i < node->before.n; i++) if (node->before.at[i] == before) return true;
    return false;
}

bool sim_node_depend(struct sim_node *node, struct sim_node *before) {
    if (!add(&node->before, before)) return false;
    if (add(&before->after, node)) return true;
    node->before.n--;
    return false;
}

void sim_node_independ(struct sim_node *node, struct sim_node *before) {
    take_out(&node->before, before);
    take_out(&before->after, node);
    before->end = ++last_end;
}

static void drop(struct sim_node *node) {
    sim_op_unref(node->work.op);
    sim_handle_drop(node->handle);
    free(node->before.at);
    free(node->after.at);
    free(node);
}

void sim_node_free(struct sim_node *node) {
    struct sim_nodes *all = &node->graph->nodes;
    while (node->before.n) sim_node_independ(node, node->before.at[0]);
    while (node->after.n) sim_node_independ(node->after.at[0], node);
    take_out(all, node);
    for (unsigned i = node->index; i < all->n; i++) all->at[i]->index = i;
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
    for (unsigned i = 0; i < graph->nodes.n; i++) drop(graph->nodes.at[i]);
    sim_handle_drop(graph->handle);
    free(graph->nodes.at);
    free(graph);
}

/* A clone has the edges in the order of the nodes that they lead to, as measured. */
static bool same_edges(struct sim_node *clone, const struct sim_nodes *before) {
    for (unsigned i = 0; i < before->n; i++) {
        struct sim_node *from = clone->graph->nodes.at[before->at[i]->index];
        if (!add(&clone->before, from) || !add(&from->after, clone)) return false;
    }
    return true;
}

struct sim_graph *sim_graph_clone(const struct sim_graph *graph) {
    struct sim_graph *clone = sim_graph_new();
    bool ok = clone != NULL;
    for (unsigned i = 0; i < graph->nodes.n && ok; i++) {
        const struct sim_node *original = graph->nodes.at[i];
        if (original->work.op) sim_op_ref(original->work.op);
        struct sim_node *node = sim_node_add(clone, original->work, NULL, 0);
        if (!(ok = node != NULL)) break;
        node->original = original->handle;
        node->end = original->end;
    }
    for (unsigned i = 0; i < graph->nodes.n && ok; i++)
        ok = same_edges(clone->nodes.at[i], &graph->nodes.at[i]->before);
    if (ok || !clone) return clone;
    sim_graph_free(clone);
    return NULL;
}

/* Usually the nodes are in such an order already; only edges that the program adds can change this. */
bool sim_graph_order(const struct sim_graph *graph, struct sim_node **order) {
    unsigned placed = 0, before;
    for (unsigned i = 0; i < graph->nodes.n; i++) graph->nodes.at[i]->waits = true;
    do {
        before = placed;
        for (unsigned i = 0; i < graph->nodes.n; i++) {
            struct sim_node *node = graph->nodes.at[i];
            bool ready = node->waits;
            for (unsigned k = 0; k < node->before.n && ready; k++) ready = !node->before.at[k]->waits;
            if (!ready) continue;
            node->waits = false;
            order[placed++] = node;
        }
    } while (placed > before);
    return placed == graph->nodes.n;
}

static int by_end(const void *a, const void *b) {
    const struct sim_node *const *m = a, *const *n = b;
    return (*m)->end < (*n)->end ? -1 : (*m)->end > (*n)->end;
}

unsigned sim_graph_ends(const struct sim_graph *graph, struct sim_node **ends) {
    unsigned n = 0;
    for (unsigned i = 0; i < graph->nodes.n; i++) if (!graph->nodes.at[i]->after.n) ends[n++] = graph->nodes.at[i];
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
    *set = (struct sim_set) { NULL, 0, 0 };
}

void sim_set_end(const struct sim_set *set) {
    for (unsigned i = 0; i < set->n; i++) {
        struct sim_node *node = sim_get(SIM_H_NODE, set->at[i]);
        if (node) node->end = ++last_end;
    }
}

static uint64_t mark;

void sim_set_mark(const struct sim_set *set) {
    struct sim_node *list = NULL;
    mark++;
    for (unsigned i = 0; i < set->n; i++) {
        struct sim_node *node = sim_get(SIM_H_NODE, set->at[i]);
        if (!node || node->mark == mark) continue;
        node->mark = mark;
        node->link = list;
        list = node;
    }
    while (list) {
        const struct sim_node *node = list;
        list = node->link;
        for (unsigned i = 0; i < node->before.n; i++) {
            struct sim_node *before = node->before.at[i];
            if (before->mark == mark) continue;
            before->mark = mark;
            before->link = list;
            list = before;
        }
    }
}

bool sim_set_marked(const struct sim_set *set) {
    for (unsigned i = 0; i < set->n; i++) {
        const struct sim_node *node = sim_get(SIM_H_NODE, set->at[i]);
        if (node && node->mark != mark) return false;
    }
    return true;
}

bool sim_edges_plain(const CUgraphEdgeData *data, size_t n) {
    static const CUgraphEdgeData plain;
    for (size_t i = 0; data && i < n; i++) if (memcmp(&data[i], &plain, sizeof plain)) return false;
    return true;
}
