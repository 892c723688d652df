/* driver.h - the map of driver/: the entry points of the CUDA driver API, and the objects behind its handles.

     handles.c   handles, rings of objects, the thread's current context
     reserve.c   what memory pools reserve and keep
     names.c     the names of all entry points and their versions
     shared.c    events between processes
     kept.c      what graphs keep: user objects, conditions
     graph.c     graphs and their nodes
     capture.c   captures, and what they forbid
     log.c       the error log; logs.c: cuLogs
     entry.c     what every entry point does before and after its work; errors
     device.c    devices and their attributes
     context.c   contexts, the threads' context stacks, limits, peer access
     stream.c    streams: their order as edges between operations; captures.c: capturing what they are given
     event.c     events
     managed.c   managed memory: allocate, attach, prefetch, advise
     jit.c       JIT options, kinds of images; devrt.c, nested.c: the device runtime;
                 fatbin.c: PTX inside fatbins and objects; link.c: cuLink
     module.c    modules
     function.c  functions, and how many blocks of them a multiprocessor has room for
     library.c   libraries and kernels, which need no context
     launch.c    occupancy, kernel launches; staged.c: those of CUDA before 4.0
     pool.c      memory pools: allocate and free in stream order
     ipc.c       memory, events and pools between processes
     alloc.c     memory: allocate, free, describe; copy.c: copy, also in batches, fill, wait for values
     graphs.c    cuGraph: building and describing graphs; objects.c: what they keep
     plan.c      what an executable graph does; exec.c: executable graphs
     nodes.c     the nodes that the program adds, and their parameters
     start.c     cuInit, cuGetProcAddress; missing.c: entry points that are not implemented

   A file needs only files above it. What is created in a context is in one of its rings, with the function that ends
   it, so that context.c knows none of the files below it.

   A handle is a number (generation, slot, kind), never an address: sim_get() returns NULL for anything that is not a
   live object of that kind. Every entry point is written with SIM_API: its body runs with sim_lock held, after the
   checks it names. sim_lock guards all of this. */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include "../base/base.h"
#include "../base/cudadefs.h"
#include "../text/text.h"
#include "../lower/lower.h"
#include "../run/run.h"

extern struct sim_device sim_devices[SIM_MAX_DEVICES];
extern int sim_device_count;

enum sim_handle_kind {
    SIM_H_CONTEXT = 1, SIM_H_STREAM, SIM_H_EVENT, SIM_H_MODULE, SIM_H_FUNCTION, SIM_H_POOL, SIM_H_LINK, SIM_H_LIBRARY,
    SIM_H_KERNEL, SIM_H_GRAPH, SIM_H_NODE, SIM_H_EXEC, SIM_H_OBJECT
};
uint64_t sim_handle_new(enum sim_handle_kind kind, void *object);        /* 0: no memory */
void  sim_handle_drop(uint64_t handle);
void  sim_handle_orphan(uint64_t handle);                                /* the same, when its context is destroyed */
int   sim_not_there(const void *handle);                                 /* for a handle that sim_get did not find: 709
                                                                            if its context was destroyed, else 400 */
void *sim_get(enum sim_handle_kind kind, const void *handle);            /* that the program hands over; NULL: not a
                                                                            live object of this kind */
void *sim_find(enum sim_handle_kind kind, const void *handle);           /* that the device remembers, or looks up
                                                                            again after it released sim_lock */
bool  sim_was(enum sim_handle_kind kind, const void *handle);            /* of an object that was destroyed */
#define SIM_HANDLE(h) ((void *)(uintptr_t)(h))

struct sim_link { struct sim_link *prev, *next; void (*end)(struct sim_link *); };       /* intrusive ring */
void sim_link_init(struct sim_link *head);
void sim_link_add(struct sim_link *head, struct sim_link *link, void (*end)(struct sim_link *));
                                                  /* end: frees the object and removes it, when its context ends */
void sim_link_remove(struct sim_link *link);
#define SIM_OWNER(type, pointer) ((struct type *)(void *)((char *)(pointer) - offsetof(struct type, link)))
#define SIM_EACH(type, name, head) \
    for (struct type *name = SIM_OWNER(type, (head)->next); &name->link != (head); \
         name = SIM_OWNER(type, name->link.next))

struct sim_set { void **at; unsigned n, cap; };   /* of nodes: their handles */

struct sim_pool {
    struct sim_pool *next;                        /* in sim_pools */
    uint64_t handle, name;                        /* handle: 0: destroyed, but some of its memory is in use, which
                                                     reports the name */
    struct sim_device *device;
    uint64_t threshold, most;                     /* most: that it may reserve, 0: no limit */
    uint64_t held;                                /* by blocks, in use or kept; reserved is this, rounded up */
    uint64_t used, used_high, reserved, reserved_high;
    unsigned viewers;                             /* bit i: device i may access its memory, too */
    int handle_types;                             /* that may export it */
    bool pages, on_host;                          /* pages: the host accesses its memory at the same address */
    int reuse[3];
    bool imported;                                /* of another process: which pool of the file it is */
    int file;
    uint32_t number;
    struct sim_imported { uint64_t offset, id, address, range; } *imports;       /* range: the id of its range here */
    unsigned nimports;
    struct sim_kept *kept;                        /* freed, the last one first */
};
extern struct sim_pool *sim_pools;

struct sim_stream {
    struct sim_link link;
    uint64_t handle, id, thread;                  /* thread: of a per-thread default stream, else 0 */
    struct sim_context *context;
    bool blocking;                                /* synchronizes with the legacy default stream */
    unsigned flags;
    int priority;                 /* as given: 0 to -5 */
    struct sim_op *last;
    struct sim_capture *capture;                  /* that it takes part in, or NULL */
    struct sim_stream *next_member;               /* of the same capture */
    struct sim_set nodes;                         /* of the capture: the stream's next node depends on these */
};
struct sim_event {
    struct sim_link link;
    uint64_t handle;
    unsigned refs;                                /* the handle's, and those of nodes with it */
    struct sim_context *context;
    unsigned flags;
    struct sim_op *op;
    struct sim_shared *shared;                    /* with other processes, or NULL */
    uint64_t capture;                             /* the id of the capture of the last record, or 0 */
    struct sim_set nodes;                         /* that it stands for in this capture */
};

struct sim_context {
    struct sim_link link;                         /* in sim_contexts until it is destroyed */
    uint64_t handle;
    unsigned id;
    struct sim_device *device;
    bool is_primary, active, dying;               /* dying: being destroyed, no longer usable */
    unsigned loading;                             /* threads that create a module in it, without sim_lock */
    bool has_printed;                             /* a kernel of a module that uses printf was launched */
    unsigned flags, count, api_version, cache_config, shared_config;
    uint64_t limits[8];
    struct sim_peer { unsigned id, ordinal; } *peers;              /* contexts that this one has peer access to */
    unsigned npeers;
    struct sim_stream legacy;
    struct sim_link streams, children;            /* children: events, modules, workspaces */
    struct sim_op *orphans[2];                    /* work of destroyed streams that still runs; [1]: of blocking ones */
    struct sim_workspace *workspaces;             /* of cooperative grids */
    uint64_t heap;                                /* of kernels that call malloc, created
                                                     with the first of them; 0: none yet */
    struct sim_buffers *buffers;                  /* of parameters for kernels that kernels launch; NULL: none yet */
    uint64_t error_texts;                         /* where kernels find them; 0: nowhere yet */
    unsigned nested_waiting, nested_events;       /* kernels launched by kernels that have not begun; their events */
};

extern struct sim_link sim_contexts;

/* CU_JIT_MAX_REGISTERS, _THREADS_PER_BLOCK, _MAX_THREADS_PER_BLOCK, _MIN_CTA_PER_SM (0: not given), and whether they
   replace the directives of the text */
struct sim_jit_limits { unsigned registers, threads, most_threads, blocks; bool override; };
enum { SIM_DEFAULT = -1 };
struct sim_preferences {                          /* what cuFuncSetAttribute and similar calls set */
    int max_dynamic, carveout, cache_config;      /* max_dynamic: SIM_DEFAULT until it is set or the code is known */
    int cluster[5];                               /* width, height, depth, whether more than 8, policy */
};
struct sim_by_name { const char *name; unsigned index; };                /* sorted, for sim_find_name */
struct sim_function {
    uint64_t handle;
    struct sim_module *module;
    const struct sim_kernel *kernel;              /* NULL: its module belongs to no library */
    struct sim_func *func;
    struct sim_code *code;                        /* NULL: not needed yet */
    struct sim_preferences prefers;
    unsigned own;                                 /* a bit for each attribute that was set for this function, and that
                                                     its kernel no longer sets */
    bool no_effect;                               /* the body is only `ret`: whether its blocks run is not observable */
    struct sim_staged *staged;                    /* what its next cuLaunch uses; NULL: nothing set yet */
};
struct sim_staged { unsigned block[3], shared, bytes; unsigned char params[4096]; };        /* staged.c */
struct sim_module {
    struct sim_link link;
    uint64_t handle;
    struct sim_context *context;                  /* NULL: of a library, and in no context yet */
    unsigned refs;                                /* the handle's, and one per grid in flight: the code
                                                     of an unloaded module is freed after the last one */
    struct sim_image *image;
    struct sim_jit_limits limits;
    bool prints;                                  /* uses vprintf */
    bool borrows;                                 /* its managed variables are its library's */
    struct sim_function *functions;
    unsigned nfunctions;                 /* entries, in the text's order */
    struct sim_by_name *by_name;                  /* of the same number */
    struct sim_module **siblings, *sibling;       /* the list of its library's modules, and the next in it */
};
struct sim_kernel {
    uint64_t handle;
    struct sim_library *library;
    char *name;
    unsigned index;                               /* in the functions of each of the library's modules */
    struct sim_preferences prefers[SIM_MAX_DEVICES];
};

/* The calling thread. */
struct sim_thread {
    uint64_t *stack;
    unsigned depth, cap;         /* context handles, stale ones included */
    struct sim_context *context;                  /* the current one, set by sim_enter when the call needs one */
    uint64_t id;                                  /* sim_thread_id() */
    bool per_thread_default;
    int capture_mode;                             /* how captures restrict its calls */
    const void *dead;                             /* SIMGPU_STRICT: a handle of this call that is not an object's */
    enum sim_handle_kind dead_kind;
};
extern __thread struct sim_thread sim_self;
uint64_t sim_thread_id(void);                                            /* never 0 */

enum sim_need {
    SIM_PURE,                                     /* nothing, not even cuInit */
    SIM_INIT,
    SIM_EASY,                                     /* as SIM_HEALTHY, but also allowed in host
                                                     functions, on streams that have a handle */
    SIM_HEALTHY,                                  /* and no sticky error */
    SIM_CTX,                                      /* and a current context */
    SIM_MISSING,                                  /* not implemented: 801 */
    SIM_UNSAFE = 16                               /* added: a call that captures may forbid */
};
struct sim_call { const char *symbol; int version; bool said; };         /* said: a line on stderr why it is 801 */
int sim_enter(struct sim_call *call, unsigned need);                     /* takes sim_lock; 0, or
                                                                            the result to return */
int sim_leave(struct sim_call *call, int result);                        /* releases it; logs; flushes kernel printf */
extern bool sim_ready, sim_forked;                /* cuInit has succeeded; in this process's parent */
/* names.c: base name, symbol, driver version that introduced this ABI, suffix of the variant for per-thread default
   streams or "" */
struct sim_name { const char *base, *symbol; int version; const char *per_thread; bool missing; };
extern const struct sim_name sim_names[];
extern const unsigned sim_names_count;
int sim_version_of(const char *symbol);           /* driver version that introduced an entry
                                                     point, 0 if it is not in the table */
/* log.c */
enum { SIM_LOG_LINES = 100, SIM_LOG_CALLBACKS = 8 };
extern struct sim_log_callback {
    void (*run)(void *user, int level, char *text, size_t length);
    void  *user;
} sim_log_callbacks[SIM_LOG_CALLBACKS];
extern unsigned sim_log_end;                      /* the number of the next line */
const char *sim_log_line(unsigned n);             /* one of the last SIM_LOG_LINES */
/* Why the call returns `result`, for the log. Returns it. */
int  sim_because(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_log_failure(const char *symbol, int result, const char *name);  /* [lock] what sim_leave logs of a call */
void sim_log_call_back(void);                                            /* then calls the registered callbacks */

#define SIM_WRAP_(symbol, body, parameters, arguments, need, per_thread) \
    SIM_EXPORT int symbol parameters; \
    SIM_EXPORT int symbol parameters { \
        static struct sim_call call = { #symbol, 0, false }; \
        int result = sim_enter(&call, need); \
        sim_self.per_thread_default = per_thread; \
        return sim_leave(&call, result ? result : body arguments); \
    }
/* SIM_API(symbol, (parameters), (arguments), need) { body }. SIM_API_ALSO also defines the symbol of an older ABI with
   the same parameters. SIM_API_STREAM also defines symbol + suffix, where the NULL stream is the per-thread default
   stream: _ptsz for calls that take a stream, _ptds for synchronous ones. */
#define SIM_API(symbol, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    static int symbol##_body parameters
#define SIM_API_ALSO(symbol, other, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    SIM_WRAP_(other, symbol##_body, parameters, arguments, need, false) \
    static int symbol##_body parameters
#define SIM_API_STREAM(symbol, suffix, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    SIM_WRAP_(symbol##suffix, symbol##_body, parameters, arguments, need, true) \
    static int symbol##_body parameters

/* the current context: handles.c */
struct sim_context *sim_context_at(const void *handle);                  /* NULL: not a live context */
bool sim_context_still(const struct sim_context *context, const void *handle);  /* whether it is the live context,
                                                                            after sim_lock was released */
struct sim_context *sim_context_current(void);                           /* NULL: none, or destroyed */
struct sim_context *sim_context_or_dead(void);                           /* NULL: none */
int  sim_context_need(void);                                             /* finds the current context, as
                                                                            SIM_CTX does; 0, 201 or 709 */
/* device.c */
int  sim_devices_start(void);                                            /* [lock] creates the devices, from
                                                                            the environment */
bool sim_peers(const struct sim_device *a, const struct sim_device *b);  /* whether kernels of one can get
                                                                            access to the other's memory */
int sim_device_attribute(struct sim_device *device, int attribute, int *value);   /* 1: unknown */
/* context.c */
struct sim_context *sim_context_new(struct sim_device *device, bool primary, unsigned flags);
int  sim_context_not_there(const void *handle);                          /* 709: destroyed; 201: never was one */
void sim_context_kill(struct sim_context *context);                      /* waits for its work unless a sticky
                                                                            error is set; frees its objects */
bool sim_context_reaches(struct sim_context *c, const struct sim_range *r);
                                                  /* for its fills and queries; a kernel may access more */
int  sim_drain(struct sim_context *context, struct sim_device *device);  /* waits for all streams of a context,
                                                                            or of a device's contexts */
void sim_drain_to_end(struct sim_context *context);                      /* the same; after a fault none
                                                                            of its work runs any longer */
/* shared.c: events between processes, and processes. start: the time, so that a number that is used again differs */
struct sim_process { uint64_t start; unsigned pid; };
struct sim_process sim_this_process(void);
bool sim_process_lives(struct sim_process process);
bool sim_process_same(struct sim_process a, struct sim_process b);
int  sim_process_file(struct sim_process process, int file);             /* opens what it has open under this number,
                                                                            or -1 */
struct sim_shared *sim_shared_new(void);                                 /* NULL: no memory, or no file */
struct sim_shared *sim_shared_open(int file);                            /* NULL: also if it is not an event's */
int  sim_shared_file(const struct sim_shared *shared);
void sim_shared_unref(struct sim_shared *shared);                        /* NULL is fine */
void sim_shared_record(struct sim_shared *shared, struct sim_op *op);    /* pending until op is done */
bool sim_shared_pending(struct sim_shared *shared);                      /* the last record, of any process */
int  sim_shared_wait(struct sim_shared *shared, struct sim_op **out);    /* an operation that waits for it, or NULL:
                                                                            nothing to wait for; 0 or 2 */
/* kept.c */
struct sim_object { uint64_t handle, refs; void (*destroy)(void *); void *data; };
void sim_object_unref(struct sim_object *object, uint64_t count);
struct sim_held { struct sim_held *next; struct sim_object *object; uint64_t count; };    /* what a graph keeps, and
                                                                            how often */
bool sim_object_hold(struct sim_held **list, struct sim_object *object, uint64_t count);        /* false: no memory */
bool sim_held_copy(struct sim_held **list, const struct sim_held *from); /* adds as much; false: no memory, and a part
                                                                            is in the list */
void sim_held_free(struct sim_held *list);
void sim_held_free_after(struct sim_held *list, struct sim_op *op);      /* when it is done; NULL: now */
enum { SIM_CONDITION_BYTES = 4 };
struct sim_condition {
    struct sim_condition *next;                   /* of its graph */
    unsigned refs;
    uint64_t address;                             /* the handle: a word of device memory has the value */
    struct sim_context *context;
    unsigned context_id, value;                   /* value: at the start of a launch, if it assigns this */
    bool assigns;
    bool used;                                    /* by a node: no second one may */
};
void sim_condition_unref(struct sim_condition *condition);               /* [lock] */
unsigned sim_condition_value(const struct sim_condition *condition);
void sim_condition_reset(const struct sim_condition *condition);         /* a launch begins */
/* graph.c: a graph has its nodes in the order in which they were added. */
struct sim_work {                                 /* what a node does; a copy of it shares the operation */
    int type;                                     /* CU_GRAPH_NODE_TYPE_... */
    struct sim_op *op;                            /* never submitted: launches submit copies of it. EMPTY: NULL;
                                                     WAIT_EVENT, EVENT_RECORD: its data is the event */
    struct sim_context *context;                  /* it works in; NULL: in none */
    unsigned context_id;
};
void sim_work_in(struct sim_work *work, struct sim_context *context);
bool sim_work_can_run(const struct sim_work *work);                      /* false: its context was destroyed */
void sim_event_unref(struct sim_event *event);
struct sim_op *sim_event_op(struct sim_event *event);                    /* for a node; NULL: no memory */
struct sim_edge { struct sim_node *node; CUgraphEdgeData data; };
struct sim_edges { struct sim_edge *base, *at; unsigned n, cap; };        /* base: their room */
struct sim_node {
    struct sim_graph *graph;
    uint64_t handle, original;                    /* original: of the node that it was cloned from */
    uint64_t exec;                                /* the last executable graph with it */
    struct sim_node *prev, *next;                 /* in its graph */
    unsigned index;                               /* there, or more if nodes before it were destroyed since the
                                                     last sim_graph_number */
    struct sim_work work;
    struct sim_graph **bodies;                    /* the graphs that it executes, which it owns */
    unsigned nbodies;
    struct sim_edges before, after;               /* that it depends on, that depend on it: in the order of the edges */
    uint64_t end;                                 /* the order of nodes on which none depends: grows whenever one could
                                                     have become such a node */
    unsigned waits;                               /* for the functions that walk through the graph */
    uint64_t mark;
    struct sim_node *link;
    struct sim_node *link_free;                   /* of a free: the one before it in its graph */
};
struct sim_graph {
    uint64_t handle;
    struct sim_node *first, *last, *found;        /* found: the last one that was looked up in a clone */
    unsigned n, added;                            /* nodes; those that were ever added */
    struct sim_node *last_free;                   /* the last that frees memory: those are never destroyed alone */
    struct sim_condition *conditions;
    struct sim_held *held;
    bool has_conditional;                         /* nodes */
    bool has_memory;                              /* nodes that allocate or free it, also in bodies */
    bool captured;                                /* a capture adds nodes now */
    struct sim_node *owner;                       /* that executes it; NULL: it is the program's */
};
struct sim_graph *sim_graph_new(void);                                   /* NULL: no memory */
void sim_graph_free(struct sim_graph *graph);
struct sim_graph *sim_graph_clone(const struct sim_graph *graph);        /* NULL: no memory */
struct sim_node *sim_node_add(struct sim_graph *graph, struct sim_work work, void *const *before,
                              const CUgraphEdgeData *data, size_t n);
                                                  /* takes over the reference to the operation; data: of the edges,
                                                     NULL: all plain. Returns NULL: no memory */
struct sim_edge *sim_node_edge(const struct sim_node *node, const struct sim_node *before);         /* NULL: none */
bool sim_node_depend(struct sim_node *node, struct sim_node *before, const CUgraphEdgeData *data);
                                                  /* a new edge; NULL: a plain one. False: no memory */
void sim_node_independ(struct sim_node *node, struct sim_node *before);                   /* no longer */
void sim_node_depend_early(struct sim_node *node);                       /* on kernels: it may begin before they end */
void sim_node_free(struct sim_node *node);
bool sim_node_own(struct sim_node *node, struct sim_graph *body);        /* one more body; false: no memory */
bool sim_node_captured(const struct sim_node *node);                     /* a capture adds nodes to one of its bodies */
bool sim_graph_captured(const struct sim_graph *graph);                  /* to it, or to a body of one of its nodes */
void sim_graph_number(const struct sim_graph *graph);                    /* sets the nodes' indices */
bool sim_graph_order(const struct sim_graph *graph, struct sim_node **order);    /* each after those that it depends
                                                                            on; false: they are in a circle */
unsigned sim_graph_ends(const struct sim_graph *graph, struct sim_node **ends);  /* the nodes on which none depends,
                                                                            ordered; returns their number */
bool sim_set_add(struct sim_set *set, void *const *nodes, size_t n);     /* those not yet in it; false: no memory */
void sim_set_clear(struct sim_set *set);
void sim_set_end(const struct sim_set *set);                             /* the graph ends with these, in this order,
                                                                            until more is added to it */
void sim_set_mark(const struct sim_set *set);                            /* these nodes and all that they depend on */
bool sim_set_marked(const struct sim_set *set);                          /* since the last sim_set_mark: all of them */
bool sim_edges_good(const CUgraphEdgeData *data, void *const *from, bool to_kernel, size_t n);       /* NULL: yes */
bool sim_edges_plain(const CUgraphEdgeData *data, size_t n);             /* whole nodes after whole nodes; NULL: yes */
bool sim_graph_has(const struct sim_graph *graph, void *const *nodes, size_t n);          /* these, each once */
/* plan.c: what an executable graph does: the nodes of a graph when it was instantiated, and of the graphs that these
   execute. */
struct sim_step {
    struct sim_work work;
    uint64_t node;                                /* that it was made of */
    unsigned *before, nbefore;                    /* the steps it depends on, in the order of the edges */
    struct sim_plan **bodies;
    unsigned nbodies;
    bool disabled;                                /* does nothing */
    unsigned first, last;                         /* its operations in the array of all: the one that waits, and the one
                                                     that others wait for */
};
struct sim_plan {
    unsigned refs;
    struct sim_step *steps;                       /* in the order of the graph's nodes */
    unsigned n, *order;                           /* order: each after those that it depends on */
    unsigned added;                               /* to the graph until then */
    unsigned nends, *ends;                        /* on which none depends, in the graph's order of these */
    unsigned nops;                                /* of a launch */
};
enum { SIM_PLAN_NO_MEMORY = -1, SIM_PLAN_CIRCLE = -2 };
int  sim_plan_new(const struct sim_graph *graph, struct sim_plan **out); /* 0 or one of these */
void sim_plan_unref(struct sim_plan *plan);                              /* NULL is fine */
void sim_plan_each(struct sim_plan *plan, void (*visit)(struct sim_step *step, void *user), void *user);
                                                  /* each step after those that it depends on; of a step with bodies
                                                     then theirs */
bool sim_plan_own(struct sim_plan **plan);                               /* makes it a copy if launches that run use it,
                                                                            too; false: no memory */
struct sim_step *sim_plan_step(struct sim_plan *plan, const struct sim_node *node);      /* that was made of the node;
                                                                            NULL: none */
bool sim_plan_ops(const struct sim_plan *plan, int priority, struct sim_op **ops);         /* nops operations; priority:
                                                     of all kernels, or -1. False: no memory, and some are there */
void sim_plan_submit(const struct sim_plan *plan, struct sim_op **ops, struct sim_op *start, struct sim_op *end);
                                                  /* between start, which was submitted, and end, which was not */
/* capture.c */
struct sim_capture {
    struct sim_capture *next;
    uint64_t id, thread;                          /* thread: that began it */
    int mode;
    bool invalid, to_graph;                       /* to_graph: the program gave the graph */
    struct sim_graph *graph;
    struct sim_stream *origin, *members;
    struct sim_set left;                          /* the nodes of destroyed streams */
    CUgraphEdgeData *edges;                       /* that a query returned */
};
extern struct sim_capture *sim_captures;          /* that have not ended */
struct sim_capture *sim_capture_at(uint64_t id);                         /* NULL: it has ended or is invalid */
int  sim_capture_begin(struct sim_stream *origin, struct sim_graph *graph, void *const *nodes, size_t n, int mode);
                                                  /* graph: NULL for a new one */
int  sim_capture_join(struct sim_capture *capture, struct sim_stream *stream, const struct sim_set *nodes);
                                                  /* the stream's next node also depends on these */
int  sim_capture_take(struct sim_stream *stream, struct sim_work work);  /* a new node; takes over the operation */
int  sim_capture_take_event(struct sim_stream *stream, int type, struct sim_event *event);
                                                  /* the same; 401: the stream does not capture */
void sim_capture_invalidate(struct sim_capture *capture);                /* NULL is fine */
int  sim_capture_end(struct sim_stream *stream, struct sim_graph **out); /* *out: NULL if it failed */
void sim_capture_leave(struct sim_stream *stream);                       /* it is being destroyed */
int  sim_capture_forbids(void);                                          /* an unsafe call of this thread: 0, or 900
                                                                            and the captures that forbid it are
                                                                            invalid */
int  sim_capture_of_blocking(const struct sim_context *context, bool invalidate);         /* the legacy stream is used:
                                                                            0 or 906 */
int  sim_capture_in(const struct sim_context *context);                  /* the host waits for the context: 0, or 900
                                                                            after invalidating its captures */
/* stream.c */
int  sim_stream_find(const void *handle, struct sim_stream **out);       /* resolves NULL, 1, 2; 400, 201 or 709 */
int  sim_stream_use(const void *handle, struct sim_stream **out);        /* the same, for work, which it may capture:
                                                                            also 901 and 906 */
int  sim_stream_use_now(const void *handle, struct sim_stream **out);    /* for what no capture may contain: also 900 */
int  sim_stream_use_unsafe(const void *handle, struct sim_stream **out);         /* for what is an unsafe call unless
                                                                            the stream captures it: also 900 */
void sim_stream_after(struct sim_stream *stream, struct sim_op *op);     /* adds only the edges: op comes
                                                                            after all work on the stream */
int  sim_stream_submit(struct sim_stream *stream, struct sim_op *op);    /* adds edges by stream order, or a node to its
                                                                            capture; takes over the reference */
void sim_stream_outlast(struct sim_context *context, bool blocking, struct sim_op *op);   /* work in the context
                                                                            that is on none of its streams */
void sim_stream_function(const struct sim_op *op, void (**function)(void *), void **data);           /* of a host
                                                                            function's operation */
struct sim_op *sim_stream_function_op(void (*function)(void *), void *data);         /* NULL: no memory */
bool sim_stream_idle(struct sim_stream *stream);                         /* an op submitted now
                                                                            would be ready at once */
int  sim_stream_run(struct sim_stream *stream, struct sim_op *op);       /* submits and waits; the
                                                                            calling thread does the work */
int  sim_stream_wait(struct sim_stream *stream);                         /* for all work on it */
/* reserve.c */
struct sim_kept {                                 /* a freed block */
    struct sim_kept *next;
    struct sim_pool *pool;
    uint64_t address, bytes, stream;              /* bytes: its room; stream: the id of that on which it was freed, 0:
                                                     none */
    struct sim_op *freed;                         /* the pending free, or NULL */
};
struct sim_pool *sim_pool_new(struct sim_device *device);                /* NULL: no memory */
bool sim_pool_hold(struct sim_pool *pool, uint64_t cost);                /* reserves room for a block of this cost;
                                                                            false: not so much is free */
void sim_pool_drop(struct sim_pool *pool, uint64_t cost);
struct sim_kept *sim_pool_keep(const struct sim_range *r, uint64_t stream);      /* freed memory; NULL: no memory */
struct sim_kept sim_pool_take_kept(struct sim_kept **at);                /* no longer kept */
bool sim_pool_shrink(struct sim_pool *pool, uint64_t most);              /* returns kept memory, but no more than
                                                                            leaves that much reserved; false: nothing */
void sim_pool_settle(struct sim_pool *pool);                             /* a destroyed one ends with its last memory */
void sim_pool_freed(const struct sim_range *r);                          /* its bytes are no longer there */
void sim_pool_use(struct sim_pool *pool, uint64_t bytes);                /* so many more */
void sim_pool_entered(struct sim_pool *pool, uint64_t bytes);            /* imported: the pool that has it is another
                                                                            process's */
void sim_pool_left(struct sim_pool *pool, uint64_t bytes);               /* and freed */
void sim_pools_settle(void);                                             /* the program has waited: returns what they
                                                                            keep above their thresholds */
bool sim_pools_shrink(struct sim_device *device);                        /* returns what they keep to the device; false:
                                                                            nothing */
/* pool.c */
int  sim_alloc_work(uint64_t *address, size_t bytes, struct sim_device *device, unsigned viewers, struct sim_work *out);
int  sim_free_work(uint64_t address, const struct sim_graph *graph, struct sim_work *out);        /* for a node of it */
void sim_pools_end(void);                                                /* also destroys those that are not default */
/* copy.c */
int  sim_copy_work(const CUDA_MEMCPY3D *params, struct sim_context *context, struct sim_work *out);
int  sim_fill_work(const CUDA_MEMSET_NODE_PARAMS *params, struct sim_context *context, struct sim_work *out);
/* managed.c */
struct sim_managed {
    struct sim_link link;                         /* a variable of a module is in no ring */
    uint64_t address, bytes;
    unsigned attached;                            /* CU_MEM_ATTACH_... */
    bool is_variable;
    struct page *pages;                           /* what was said of each page; NULL: nothing */
};
/* Of a module: 0, 2 or 801. owner: NULL: no context's. Without sim_lock */
int  sim_managed_variable(struct sim_context *owner, struct sim_device *device, uint64_t bytes, uint64_t *address);
void sim_managed_free(uint64_t address);                                 /* if managed memory is there */
/* event.c */
struct sim_event *sim_event_new(struct sim_context *context, unsigned flags);       /* NULL: no memory */
void sim_event_set(struct sim_event *event, struct sim_op *op);          /* recorded by this operation; takes over the
                                                                            reference */
/* jit.c */
struct sim_log_option { char *text; size_t size; void **slot; bool wanted; };
struct sim_jit_options {
    struct sim_log_option info, error;
    void **wall;
    bool verbose, has_target, unsupported;
    int target;
    struct sim_jit_limits limits;
};
extern pthread_mutex_t sim_load_lock;                                    /* one text at a time;
                                                                            taken without sim_lock */
int  sim_max_ptx(void);                           /* highest .version of the simulated driver: 90 for CUDA 13.0 */
int  sim_jit_read(struct sim_jit_options *o, unsigned n, const int *options, void **values);
void sim_jit_write_log(const struct sim_log_option *o, const struct sim_log *log);
void sim_jit_write_wall(const struct sim_jit_options *o, uint64_t ns);
void sim_jit_say(int result, const struct sim_log *errors);              /* to stderr, with SIMGPU_VERBOSE */
void sim_jit_write(const struct sim_jit_options *o, struct sim_log *errors, struct sim_log *info, uint64_t ns,
                   int result);                   /* all of these; frees the logs */
bool sim_jit_is_for_us(int target);                                      /* target: CU_JIT_TARGET; 0: not given */
void sim_report_globals(struct sim_log *log, const struct sim_image *image, unsigned from, const char *who);
                                                  /* of the inputs from this one on */
bool sim_is_binary(const void *image);                                   /* a cubin, another ELF file or
                                                                            a fatbin, by its first bytes */
bool sim_is_host_elf(const void *image);                                 /* not for a GPU; the driver
                                                                            does not know this format */
size_t sim_image_bytes(const void *image);                               /* as much as is read of it */
enum { SIM_TAIL = 24 };                           /* zeros after a file's bytes, which may be read as a header */
int  sim_read_file(const char *path, char **text, size_t *bytes);        /* 301, or 304 where it cannot be read */
/* devrt.c */
bool sim_is_device_runtime(const char *archive, size_t size);            /* whether it is CUDA's libcudadevrt.a */
extern const char sim_device_runtime[];                                  /* what this device has as PTX */
/* fatbin.c: without sim_lock, or with it */
bool sim_is_fatbin(const void *image);
bool sim_is_wrapper(const void *image);           /* has pointers to fatbins */
size_t sim_fatbin_bytes(const void *image);
struct sim_texts { char *bytes; size_t len; uint64_t count; };           /* for each PTX text: a name, NUL, the text,
                                                                            NUL; the caller frees the bytes */
int  sim_texts_add(struct sim_texts *texts, const char *name, const char *text, size_t bytes);
/* Adds the PTX that this device would take. 200: damaged; 209: none; 303: a library that decompresses is missing. */
int  sim_fatbin_texts(const void *image, size_t limit, const char *name, struct sim_log *log, struct sim_texts *texts);
int  sim_object_texts(const void *object, size_t size, const char *name, struct sim_log *log, struct sim_texts *texts);
int  sim_archive_texts(const void *archive, size_t size, const char *name, struct sim_log *log,
                       struct sim_texts *texts);
/* link.c */
int  sim_link_texts(const struct sim_texts *texts, bool more, struct sim_log *errors, struct sim_image **out);
                                                                         /* more: others may follow */
void sim_link_remember(int result);                                      /* [lock] a text did not compile: results
                                                                            of later failed links depend on it */
bool sim_is_linked(const char *text);             /* whether cuLinkComplete wrote it */
/* The inputs of such a text, and CU_JIT_MAX_REGISTERS of its link. 200: damaged; 209: for another CU_JIT_TARGET. */
int  sim_linked_texts(const char *text, struct sim_log *log, unsigned *registers, struct sim_texts *texts);
/* module.c: names of functions and kernels; a module is parsed and placed without sim_lock, then opened; the caller
   frees it if this fails */
void sim_sort_names(struct sim_by_name *names, unsigned n);
int  sim_find_name(const struct sim_by_name *names, unsigned n, const char *name);       /* the first one, or -1 */
int  sim_module_parse(const void *text, size_t limit, const struct sim_jit_options *o, struct sim_log *errors,
                      struct sim_module **out);
int  sim_module_place(struct sim_module *module, struct sim_context *context);        /* its variables */
/* of a library: managed: its managed variables, which all modules share; NULL until the first one is placed */
struct sim_addresses { uint64_t *at; unsigned n; };
int  sim_module_place_shared(struct sim_module *module, struct sim_context *context, struct sim_addresses *managed);
int  sim_module_open(struct sim_module *module);                         /* [lock] its handles */
void sim_module_free(struct sim_module *module);                         /* [lock] its handles, variables and the
                                                                            handle's reference */
void sim_module_unref(struct sim_module *module);
int  sim_module_global(const struct sim_module *module, const char *name, unsigned long long *address,
                        size_t *bytes);
int  sim_function_need(struct sim_function *function);                   /* [lock], released meanwhile: decodes it */
int  sim_default_dynamic(uint32_t static_shared);
unsigned sim_threads_limit(const struct sim_function *function);         /* of a block, from directives and options */
unsigned sim_registers(const struct sim_function *function);             /* of a thread, from all of these */
extern const struct sim_preferences sim_no_preferences;
/* function.c */
struct sim_occupancy { int blocks, max_threads; };                       /* per multiprocessor; threads
                                                                            per block that registers allow */
struct sim_occupancy sim_occupancy(const struct sim_function *function, unsigned threads, uint64_t dynamic_shared);
int  sim_most_threads(const struct sim_function *f);                     /* in a block: from registers and .maxntid */
int  sim_attribute(const struct sim_function *f, const struct sim_preferences *p, int attribute, int *value);
int  sim_prefer(const struct sim_function *f, struct sim_preferences *p, int attribute, int value);
int  sim_param_info(const struct sim_function *f, size_t index, size_t *offset, size_t *bytes);
/* library.c */
int  sim_function_find(const void *handle, struct sim_context *context, struct sim_function **out);
                                                  /* [lock], released meanwhile: a function, or a kernel's function in
                                                     the context */

/* launch.c */
struct sim_attributes {                           /* of a launch, each as wide as in CUlaunchAttributeValue */
    int cooperative, early, priority;             /* early: programmatic stream serialization */
    unsigned cluster[3], preferred[3];            /* 0, 0, 0: not given */
    int policy, domain, carveout, nvlink;         /* these and the rest are hints */
    unsigned char domains[2], window[32];
    bool has_priority, has_domains;               /* whether these were given */
};
int  sim_kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *params, const struct sim_attributes *set, struct sim_work *out);
                                                  /* [lock], released meanwhile; the operation's data is the set */
int  sim_kernel_set(const struct sim_work *work, const CUlaunchAttribute *attribute, struct sim_work *out);
                                                  /* the same with another value */
int  sim_kernel_copy_set(const struct sim_work *work, const struct sim_attributes *set, struct sim_work *out);
int  sim_kernel_get(const struct sim_work *work, unsigned id, CUlaunchAttributeValue *value);
struct sim_function *sim_launch_function(const struct sim_op *op);
struct sim_op *sim_launch_copy(struct sim_op *model);                    /* ready to be submitted; NULL: no memory */
int  sim_launch_nested(struct sim_op *parent, struct sim_function *f, const unsigned grid[3], const unsigned block[3],
                       unsigned shared, void *params, size_t bytes, struct sim_op **out);        /* [lock], released
                                                                            meanwhile; ready to be submitted */
int  sim_launch_blocks(const struct sim_function *f, int threads, size_t shared);        /* per multiprocessor */
int  sim_launch(void *f, const unsigned grid[3], const unsigned block[3], unsigned shared, void *stream, void **extra);

/* nested.c */
void sim_nested_start(void);                                             /* makes it available to kernels */

/* objects.c */
int  sim_conditional_work(const CUDA_CONDITIONAL_NODE_PARAMS *params, const struct sim_graph *graph,
                          struct sim_work *out);  /* for a node of it; the operation's data is the condition, `how` the
                                                     type, `staged` room for the bodies' handles */
/* exec.c */
struct sim_step *sim_exec_step(const void *exec, const void *node);      /* NULL: there is none */
bool sim_exec_may_change(const void *exec, const struct sim_work *from, const struct sim_work *to);
bool sim_exec_change_body(const void *exec, struct sim_step *step, const struct sim_graph *body);

#endif
