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

/* ---- nodes ---- */

struct sim_node *sim_node_add(struct sim_graph *graph, struct sim_work work, void *const *before, size_t n) {
    struct sim_node *node = calloc(1, sizeof *node);
    bool ok = node && (node->handle = sim_handle_new(SIM_H_NODE, node)) != 0;
    if (ok && graph->n == graph->cap) {
        const unsigned cap = graph->cap ? graph->cap * 2 : 16;
        struct sim_node **more = realloc(graph->nodes, cap * sizeof *more);
        if ((ok = more != NULL)) {
            graph->nodes = more;
            graph->cap = cap;
        }
    }
    if (ok && n && (ok = (node->before = malloc(n * sizeof *node->before)) != NULL))
        for (size_t i = 0; i < n; i++) {
            struct sim_node *b = sim_get(SIM_H_NODE, before[i]);
            if (b) node->before[node->nbefore++] = b;
        }
    if (!ok) {
        sim_op_unref(work.op);
        if (node) sim_handle_drop(node->handle);
        free(node);
        return NULL;
    }
    node->graph = graph;
    node->index = graph->n;
    node->work = work;
    graph->nodes[graph->n++] = node;
    return node;
}

bool sim_node_depends(const struct sim_node *node, const struct sim_node *before) {
    for (unsigned i = 0; i < node->nbefore; i++) if (node->before[i] == before) return true;
    return false;
}

bool sim_node_depend(struct sim_node *node, struct sim_node *before) {
    struct sim_node **more = realloc(node->before, (node->nbefore + 1) * sizeof *more);
    if (!more) return false;
    node->before = more;
    node->before[node->nbefore++] = before;
    return true;
}

void sim_node_independ(struct sim_node *node, const struct sim_node *before) {
    unsigned kept = 0;
    for (unsigned i = 0; i < node->nbefore; i++)
        if (node->before[i] != before) node->before[kept++] = node->before[i];
    node->nbefore = kept;
}

static void drop(struct sim_node *node) {
    sim_op_unref(node->work.op);
    sim_handle_drop(node->handle);
    free(node->before);
    free(node);
}

void sim_node_free(struct sim_node *node) {
    struct sim_graph *graph = node->graph;
    graph->n--;
    for (unsigned i = node->index; i < graph->n; i++) {
        graph->nodes[i] = graph->nodes[i + 1];
        graph->nodes[i]->index = i;
    }
    for (unsigned i = 0; i < graph->n; i++) sim_node_independ(graph->nodes[i], node);
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
    for (unsigned i = 0; i < graph->n; i++) drop(graph->nodes[i]);
    sim_handle_drop(graph->handle);
    free(graph->nodes);
    free(graph);
}

/* Usually the nodes are in such an order already; only edges that the program adds can change this. */
bool sim_graph_order(const struct sim_graph *graph, struct sim_node **order) {
    unsigned placed = 0, before;
    for (unsigned i = 0; i < graph->n; i++) graph->nodes[i]->waits = 1;
    do {
        before = placed;
        for (unsigned i = 0; i < graph->n; i++) {
            struct sim_node *node = graph->nodes[i];
            bool ready = node->waits != 0;
            for (unsigned k = 0; k < node->nbefore && ready; k++) ready = !node->before[k]->waits;
            if (!ready) continue;
            node->waits = 0;
            order[placed++] = node;
        }
    } while (placed > before);
    return placed == graph->n;
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
        for (unsigned i = 0; i < node->nbefore; i++) {
            struct sim_node *before = node->before[i];
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
