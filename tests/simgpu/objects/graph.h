/* graph.h - graphs and what they keep, captures that make graphs of streams' work, executable
   graphs. */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

/* kept.c */
struct sim_object {
    uint64_t handle, refs;
    void (*destroy)(void *);
    void *data;
};
void sim_object_unref(struct sim_object *object, uint64_t count);
/* NULL: no memory */
struct sim_object *sim_object_new(void *data, void (*destroy)(void *), uint64_t count);
/* what a graph keeps, and how often */
struct sim_held {
    struct sim_held *next;
    struct sim_object *object;
    uint64_t count;
};
/* false: no memory */
bool sim_object_hold(struct sim_held **list, struct sim_object *object, uint64_t count);
/* if it is held so often */
void sim_object_let_go(struct sim_held **list, struct sim_object *object, uint64_t count);
/* adds as much; false: no memory, and a part is in the list */
bool sim_held_copy(struct sim_held **list, const struct sim_held *from);
void sim_held_free(struct sim_held *list);
void sim_held_free_after(struct sim_held *list, struct sim_op *op); /* when it is done; NULL: now */
enum { SIM_CONDITION_BYTES = 4 };
struct sim_condition {
    struct sim_condition *next; /* of its graph */
    unsigned refs;
    uint64_t address; /* the handle: a word of device memory has the value */
    struct sim_context *context;
    unsigned context_id, value; /* value: at the start of a launch, if it assigns this */
    bool assigns;
    bool used; /* by a node: no second one may */
};
int sim_condition_new(struct sim_graph *graph, struct sim_context *context, unsigned value,
        bool assigns, uint64_t *handle);
void sim_condition_unref(struct sim_condition *condition); /* [lock] */
unsigned sim_condition_value(const struct sim_condition *condition);
void sim_condition_reset(const struct sim_condition *condition); /* a launch begins */

/* graph.c: a graph has its nodes in the order in which they were added. */
/* what a node does; a copy of it shares the operation */
struct sim_work {
    int type;          /* CU_GRAPH_NODE_TYPE_... */
    struct sim_op *op; /* never submitted: launches submit copies of it. EMPTY: NULL; WAIT_EVENT,
                          EVENT_RECORD: its data is the event */
    struct sim_context *context; /* it works in; NULL: in none */
    unsigned context_id;
};
void sim_work_in(struct sim_work *work, struct sim_context *context);
bool sim_work_can_run(const struct sim_work *work); /* false: its context was destroyed */
void sim_event_unref(struct sim_event *event);
struct sim_op *sim_event_op(struct sim_event *event); /* for a node; NULL: no memory */
struct sim_edge {
    struct sim_node *node;
    CUgraphEdgeData data;
};
struct sim_edges {
    struct sim_edge *base, *at;
    unsigned n, cap;
}; /* base: their room */
struct sim_node {
    struct sim_graph *graph;
    uint64_t handle, original; /* original: of the node that it was cloned from */
    uint64_t exec;             /* the last executable graph with it, if that was updated so often */
    unsigned updates;
    struct sim_node *prev, *next; /* in its graph */
    unsigned index;               /* there, or more if nodes before it were destroyed since the last
                                     sim_graph_number */
    struct sim_work work;
    struct sim_graph **bodies; /* the graphs that it executes, which it owns */
    unsigned nbodies;
    struct sim_edges before, after; /* that it depends on, that depend on it: in the order of the
                                       edges */
    uint64_t end; /* the order of nodes on which none depends: grows whenever one could have become
                     such a node */
    unsigned waits; /* for the functions that walk through the graph */
    uint64_t mark;
    struct sim_node *link;
    struct sim_node *link_free; /* of a free: the one before it in its graph */
};
struct sim_graph {
    uint64_t handle;
    struct sim_node *first, *last, *found; /* found: the last one that was looked up in a clone */
    unsigned n, added;                     /* nodes; those that were ever added */
    struct sim_node *last_free; /* the last that frees memory: those are never destroyed alone */
    struct sim_condition *conditions;
    struct sim_held *held;
    bool has_conditional;   /* nodes */
    bool has_memory;        /* nodes that allocate or free it, also in bodies */
    bool captured;          /* a capture adds nodes now */
    struct sim_node *owner; /* that executes it; NULL: it is the program's */
};
struct sim_graph *sim_graph_new(void); /* NULL: no memory */
void sim_graph_free(struct sim_graph *graph);
struct sim_graph *sim_graph_clone(const struct sim_graph *graph); /* NULL: no memory */
struct sim_node *sim_node_add(struct sim_graph *graph, struct sim_work work, void *const *before,
        const CUgraphEdgeData *data, size_t n);
/* takes over the reference to the operation;
   data: of the edges, NULL: all plain. Returns
   NULL: no memory */
/* NULL: none */
struct sim_edge *sim_node_edge(const struct sim_node *node, const struct sim_node *before);
bool sim_node_depend(struct sim_node *node, struct sim_node *before, const CUgraphEdgeData *data);
/* a new edge; NULL: a plain one. False: no memory */
void sim_node_independ(struct sim_node *node, struct sim_node *before); /* no longer */
void sim_node_depend_early(struct sim_node *node); /* on kernels: it may begin before they end */
void sim_node_free(struct sim_node *node);
/* one more body; false: no memory */
bool sim_node_own(struct sim_node *node, struct sim_graph *body);
bool sim_node_captured(const struct sim_node *node); /* a capture adds nodes to one of its bodies */
/* to it, or to a body of one of its nodes */
bool sim_graph_captured(const struct sim_graph *graph);
void sim_graph_number(const struct sim_graph *graph); /* sets the nodes' indices */
/* each after those that it depends on; false: they are in a circle */
bool sim_graph_order(const struct sim_graph *graph, struct sim_node **order);
/* the nodes on which none depends, ordered; returns their number */
unsigned sim_graph_ends(const struct sim_graph *graph, struct sim_node **ends);
/* those not yet in it; false: no memory */
bool sim_set_add(struct sim_set *set, void *const *nodes, size_t n);
void sim_set_clear(struct sim_set *set);
/* the graph ends with these, in this order, until more is added to it */
void sim_set_end(const struct sim_set *set);
void sim_set_mark(const struct sim_set *set);   /* these nodes and all that they depend on */
bool sim_set_marked(const struct sim_set *set); /* since the last sim_set_mark: all of them */
/* NULL: yes */
bool sim_edges_good(const CUgraphEdgeData *data, void *const *from, bool to_kernel, size_t n);
/* whole nodes after whole nodes; NULL: yes */
bool sim_edges_plain(const CUgraphEdgeData *data, size_t n);
/* these, each once */
bool sim_graph_has(const struct sim_graph *graph, void *const *nodes, size_t n);

/* plan.c: what an executable graph does: the nodes of a graph when it was instantiated, and of the
   graphs that these execute. */
struct sim_step {
    struct sim_work work;
    uint64_t node;             /* that it was made of */
    unsigned *before, nbefore; /* the steps it depends on, in the order of the edges */
    struct sim_plan **bodies;
    unsigned nbodies;
    bool disabled;        /* does nothing */
    unsigned first, last; /* its operations in the array of all: the one that waits, and the one
                             that others wait for */
};
struct sim_plan {
    unsigned refs;
    struct sim_step *steps; /* in the order of the graph's nodes */
    unsigned n, *order;     /* order: each after those that it depends on */
    unsigned added;         /* to the graph until then */
    unsigned nends, *ends;  /* on which none depends, in the graph's order of these */
    unsigned nops;          /* of a launch */
};
enum { SIM_PLAN_NO_MEMORY = -1, SIM_PLAN_CIRCLE = -2 };
int sim_plan_new(const struct sim_graph *graph, struct sim_plan **out); /* 0 or one of these */
void sim_plan_unref(struct sim_plan *plan);                             /* NULL is fine */
void sim_plan_each(
        struct sim_plan *plan, void (*visit)(struct sim_step *step, void *user), void *user);
/* each step after those that it depends on; of a step with bodies then theirs */
/* makes it a copy if launches that run use it, too; false: no memory */
bool sim_plan_own(struct sim_plan **plan);
/* that was made of the node; NULL: none */
struct sim_step *sim_plan_step(struct sim_plan *plan, const struct sim_node *node);
/* nops operations; priority: of all kernels, or -1. False: no memory, and some are there */
bool sim_plan_ops(const struct sim_plan *plan, int priority, struct sim_op **ops);
void sim_plan_submit(
        const struct sim_plan *plan, struct sim_op **ops, struct sim_op *start, struct sim_op *end);
/* between start, which was submitted, and end, which was not */

/* capture.c */
struct sim_capture {
    struct sim_capture *next;
    uint64_t id, thread; /* thread: that began it */
    int mode;
    bool invalid, to_graph; /* to_graph: the program gave the graph */
    struct sim_graph *graph;
    struct sim_stream *origin, *members;
    struct sim_set left;    /* the nodes of destroyed streams */
    CUgraphEdgeData *edges; /* that a query returned */
};
extern struct sim_capture *sim_captures;         /* that have not ended */
struct sim_capture *sim_capture_at(uint64_t id); /* NULL: it has ended or is invalid */
int sim_capture_begin(
        struct sim_stream *origin, struct sim_graph *graph, void *const *nodes, size_t n, int mode);
/* graph: NULL for a new one */
int sim_capture_join(
        struct sim_capture *capture, struct sim_stream *stream, const struct sim_set *nodes);
/* the stream's next node also depends on these */
int sim_capture_depend(struct sim_stream *stream, void *const *nodes, size_t n, bool more);
/* the stream's next node depends on these; more:
   also on those that it depended on */
/* a new node; takes over the operation */
int sim_capture_take(struct sim_stream *stream, struct sim_work work);
int sim_capture_take_event(struct sim_stream *stream, int type, struct sim_event *event);
/* the same; 401: the stream does not capture */
void sim_capture_invalidate(struct sim_capture *capture); /* NULL is fine */
/* *out: NULL if it failed */
int sim_capture_end(struct sim_stream *stream, struct sim_graph **out);
void sim_capture_leave(struct sim_stream *stream); /* it is being destroyed */
/* an unsafe call of this thread: 0, or 900 and the captures that forbid it are invalid */
int sim_capture_forbids(void);
/* the legacy stream is used: 0 or 906 */
int sim_capture_of_blocking(const struct sim_context *context, bool invalidate);
/* the host waits for the context, or the green one: 0, or 900 after invalidating its captures */
int sim_capture_in(const struct sim_context *context, const struct sim_green *green);

/* exec.c */
struct sim_exec;
/* CU_GRAPH_EXEC_UPDATE_...; where */
struct sim_difference {
    int result;
    const struct sim_node *node, *from;
};
int sim_exec_instantiate(void **out, void *graph, uint64_t flags, int *why, void **bad_node);
int sim_exec_destroy(struct sim_exec *exec);
uint64_t sim_exec_flags(const struct sim_exec *exec);
int sim_exec_check(const struct sim_exec *exec); /* whether the contexts of all steps live */
int sim_exec_launch(struct sim_exec *exec, struct sim_stream *stream);
int sim_exec_update(void *exec, void *graph, struct sim_difference *d);
struct sim_step *sim_exec_step(const void *exec, const void *node); /* NULL: there is none */
bool sim_exec_may_change(const void *exec, const struct sim_work *from, const struct sim_work *to);
bool sim_exec_change_body(const void *exec, struct sim_step *step, const struct sim_graph *body);

/* node.c: of a graph; of an executable graph where exec is not NULL */
/* of a new node */
struct sim_place {
    void **out, *graph, *const *before;
    const CUgraphEdgeData *data;
    size_t n;
};
int sim_node_make(const struct sim_place *place, CUgraphNodeParams *p);
int sim_node_set(const void *exec, const void *node, CUgraphNodeParams *p);
/* 1: exec is NULL */
int sim_node_set_exec(const void *exec, const void *node, CUgraphNodeParams *p);
/* NULL: not of this type */
struct sim_work *sim_node_work(const void *exec, const void *node, int type);
void sim_work_replace(struct sim_work *work, struct sim_work by);

#endif
