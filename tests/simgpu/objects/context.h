/* context.h - handles and the calling thread; devices, contexts, streams and events, also those
   shared with other processes; the error log.

   A handle is a number (generation, slot, kind), never an address: sim_get() returns NULL for
   anything that is not a live object of that kind. */
#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

struct sim_work;
struct sim_graph;
struct sim_green;

enum sim_handle_kind {
    SIM_H_CONTEXT = 1,
    SIM_H_STREAM,
    SIM_H_EVENT,
    SIM_H_MODULE,
    SIM_H_FUNCTION,
    SIM_H_POOL,
    SIM_H_LINK,
    SIM_H_LIBRARY,
    SIM_H_KERNEL,
    SIM_H_GRAPH,
    SIM_H_NODE,
    SIM_H_EXEC,
    SIM_H_OBJECT,
    SIM_H_PHYSICAL,
    SIM_H_GREEN,
    SIM_H_ARRAY,
    SIM_H_MIPMAPPED,
    SIM_H_TEXREF,
    SIM_H_SURFREF
};
enum { SIM_KIND_BITS = 5, SIM_KIND_MASK = 31 };
uint64_t sim_handle_new(enum sim_handle_kind kind, void *object); /* 0: no memory */
void sim_handle_drop(uint64_t handle);
void sim_handle_orphan(uint64_t handle); /* the same, when its context is destroyed */
/* for a handle that sim_get did not find: 709 if its context was destroyed, else 400 */
int sim_not_there(const void *handle);
/* that the program hands over; NULL: not a live object of this kind */
void *sim_get(enum sim_handle_kind kind, const void *handle);
/* that the device remembers, or looks up again after it released sim_lock */
void *sim_find(enum sim_handle_kind kind, const void *handle);
/* SIMGPU_STRICT: the program handed over one that has ended */
void sim_note_dead(enum sim_handle_kind kind, const void *handle);
bool sim_was(enum sim_handle_kind kind, const void *handle); /* of an object that was destroyed */
#define SIM_HANDLE(h) ((void *)(uintptr_t)(h))

/* intrusive ring */
struct sim_link {
    struct sim_link *prev, *next;
    void (*end)(struct sim_link *);
};
void sim_link_init(struct sim_link *head);
void sim_link_add(struct sim_link *head, struct sim_link *link, void (*end)(struct sim_link *));
/* end: frees the object and removes it, when its context ends */
void sim_link_remove(struct sim_link *link);
#define SIM_OWNER(type, pointer) \
    ((struct type *)(void *)((char *)(pointer)-offsetof(struct type, link)))
#define SIM_EACH(type, name, head) \
    for (struct type *name = SIM_OWNER(type, (head)->next); &name->link != (head); \
            name = SIM_OWNER(type, name->link.next))

struct sim_set {
    void **at;
    unsigned n, cap;
}; /* of nodes: their handles */

/* of a launch or a stream, each as wide as in CUlaunchAttributeValue */
struct sim_attributes {
    int cooperative, early, priority;     /* early: programmatic stream serialization */
    unsigned cluster[3], preferred[3];    /* 0, 0, 0: not given */
    int policy, domain, carveout, nvlink; /* these and the rest are hints */
    int wait;                             /* CUsynchronizationPolicy, only of a stream */
    unsigned char domains[2];
    CUaccessPolicyWindow window;
    bool has_priority, has_domains; /* whether these were given */
};
struct sim_stream {
    struct sim_link link;
    uint64_t handle, id, thread; /* thread: of a per-thread default stream, else 0 */
    struct sim_context *context;
    struct sim_green *green; /* whose multiprocessors it uses, or NULL */
    bool blocking;           /* synchronizes with the legacy default stream; not if it is green */
    unsigned flags;
    int priority; /* as given: 0 to -5 */
    struct sim_op *last;
    struct sim_capture *capture;    /* that it takes part in, or NULL */
    struct sim_stream *next_member; /* of the same capture */
    struct sim_set nodes;           /* of the capture: the stream's next node depends on these */
    struct sim_attributes set;      /* of its launches, where these do not say otherwise */
};
struct sim_event {
    struct sim_link link;
    uint64_t handle;
    unsigned refs; /* the handle's, and those of nodes with it */
    struct sim_context *context;
    unsigned flags;
    struct sim_op *op;
    struct sim_shared *shared; /* with other processes, or NULL */
    uint64_t capture;          /* the id of the capture of the last record, or 0 */
    struct sim_set nodes;      /* that it stands for in this capture */
};

struct sim_context {
    struct sim_link link; /* in sim_contexts until it is destroyed */
    uint64_t handle;
    unsigned id;
    struct sim_device *device;
    bool is_primary, active, dying; /* dying: being destroyed, no longer usable */
    unsigned loading;               /* threads that create a module in it, without sim_lock */
    bool has_printed;               /* a kernel of a module that uses printf was launched */
    unsigned flags, count, api_version, cache_config, shared_config;
    uint64_t limits[8];
    struct sim_peer {
        unsigned id, ordinal;
    } * peers; /* contexts that this one has peer access to */
    unsigned npeers;
    struct sim_stream legacy;
    struct sim_link streams, children; /* children: events, modules, workspaces */
    struct sim_link greens;            /* of a primary context */
    struct sim_op *orphans[2];        /* work of destroyed streams that still runs; [1]: of blocking
                                         ones */
    struct sim_workspace *workspaces; /* of cooperative grids */
    uint64_t heap; /* of kernels that call malloc, created with the first of them; 0: none yet */
    struct sim_buffers *buffers; /* of parameters for kernels that kernels launch; NULL: none yet */
    uint64_t error_texts;        /* where kernels find them; 0: nowhere yet */
    unsigned nested_waiting, nested_events; /* kernels launched by kernels that have not begun;
                                               their events */
};

extern struct sim_link sim_contexts;

/* A green context: some multiprocessors of a device. All else that it has is in the device's
   primary context: memory, modules, events, and its streams, which name it. */
struct sim_green {
    struct sim_link link;        /* in the primary context's greens */
    uint64_t handle;             /* a CUgreenCtx and the CUcontext that it converts to */
    bool converted;              /* before this, the handle is no CUcontext */
    uint64_t id;                 /* as cuCtxGetId and cuGreenCtxGetId return it */
    struct sim_context *context; /* the primary one */
    uint64_t sms;                /* bit i: multiprocessor i */
    struct sim_stream legacy;
    struct sim_op *gate; /* that streams created from now on wait for, or NULL */
};

/* The calling thread. */
struct sim_thread {
    uint64_t *stack;
    unsigned depth, cap;         /* context handles, stale ones included */
    struct sim_context *context; /* the current one, set by sim_enter when the call needs one */
    uint64_t id;                 /* sim_thread_id() */
    bool per_thread_default;
    int capture_mode; /* how captures restrict its calls */
    const void *dead; /* SIMGPU_STRICT: a handle of this call that is not an object's */
    enum sim_handle_kind dead_kind;
};
extern __thread struct sim_thread sim_self;
uint64_t sim_thread_id(void); /* never 0 */

/* the current context: handles.c */
struct sim_context *sim_context_at(const void *handle); /* NULL: not a live context */
/* whether it is the live context, after sim_lock was released */
bool sim_context_still(const struct sim_context *context, const void *handle);
struct sim_context *sim_context_current(void); /* NULL: none, or destroyed */
struct sim_context *sim_context_or_dead(void); /* NULL: none */
/* the green context that is current, or that this handle names; NULL: none */
struct sim_green *sim_green_current(void);
struct sim_green *sim_green_at(const void *context);
/* finds the current context, as SIM_CTX does; 0, 201 or 709 */
int sim_context_need(void);

/* error_log.c */
enum { SIM_LOG_LINES = 100, SIM_LOG_CALLBACKS = 8 };
extern struct sim_log_callback {
    void (*run)(void *user, int level, char *text, size_t length);
    void *user;
} sim_log_callbacks[SIM_LOG_CALLBACKS];
extern unsigned sim_log_end;          /* the number of the next line */
const char *sim_log_line(unsigned n); /* one of the last SIM_LOG_LINES */
/* Why the call returns `result`, for the log. Returns it. */
int sim_because(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* [lock] what sim_leave logs of a call */
void sim_log_failure(const char *symbol, int result, const char *name);
void sim_log_call_back(void); /* then calls the registered callbacks */

/* device.c */
extern struct sim_device sim_devices[SIM_MAX_DEVICES];
extern int sim_device_count;
/* [lock] creates the devices, from the environment */
int sim_devices_start(void);
/* whether kernels of one can get access to the other's memory */
bool sim_peers(const struct sim_device *a, const struct sim_device *b);
int sim_device_attribute(struct sim_device *device, int attribute, int *value); /* 1: unknown */
struct sim_device *sim_device_at(CUdevice ordinal);      /* NULL: there is none */
struct sim_device *sim_device_numbered(uint64_t number); /* before CUDA_VISIBLE_DEVICES; or NULL */
void sim_device_uuid(unsigned char out[16], int number);
/* how a is connected to b */
enum sim_peering sim_device_link(const struct sim_device *a, const struct sim_device *b);

/* context.c */
struct sim_context *sim_context_new(struct sim_device *device, bool primary, unsigned flags);
int sim_context_not_there(const void *handle); /* 709: destroyed; 201: never was one */
/* waits for its work unless a sticky error is set; frees its objects */
void sim_context_kill(struct sim_context *context);
bool sim_context_reaches(struct sim_context *c, const struct sim_range *r);
/* for its fills and queries; a kernel may access more */
/* waits for all streams of a context, also of its green ones, or of a device's contexts */
int sim_drain(struct sim_context *context, struct sim_device *device);
int sim_drain_green(const struct sim_green *green);
/* an operation after all work in a context, or in a green one alone, that is not submitted; NULL:
   no memory */
struct sim_op *sim_context_marker(struct sim_context *context, const struct sim_green *green);
/* the same; after a fault none of its work runs any longer */
void sim_drain_to_end(struct sim_context *context);
/* peer access: 0, 2, or 704 or 705: it is so already */
int sim_context_peer(struct sim_context *me, struct sim_context *other, bool enable);
void sim_context_activate(struct sim_device *device); /* its primary context, if it is inactive */
void sim_context_retain(struct sim_device *device);   /* activates it, too */
bool sim_context_has_greens(const struct sim_device *device);
void sim_context_release(struct sim_device *device); /* that was retained; the last time ends it,
                                                        but not while there are green contexts */
int sim_context_push(uint64_t handle);               /* makes it current to the thread; 0 or 2 */

/* green.c */
enum { SIM_ALL_SMS = (1 << SIM_SMS) - 1 };
/* activates the device's primary context, which stays active when the green one ends; NULL: no
   memory */
struct sim_green *sim_green_new(struct sim_device *device, uint64_t sms);
void sim_green_destroy(struct sim_green *green);                            /* its work goes on */
int sim_green_wait_event(struct sim_green *green, struct sim_event *event); /* all of its streams */
static inline uint64_t sim_green_sms(const struct sim_green *green) {
    return green ? green->sms : (uint64_t)SIM_ALL_SMS;
}
/* multiprocessors of a device, as the driver hands them out; split: 1: a part, which cannot be
   split again */
struct sim_sms {
    uint64_t sms;
    int device, split;
};
void sim_sms_write(struct sim_sms sms, CUdevResource *out);
bool sim_sms_read(const CUdevResource *resource, struct sim_sms *out); /* false: was not written */
/* how many groups of at least `least` multiprocessors there are, and how many each has */
unsigned sim_sms_groups(const struct sim_sms *from, unsigned least, bool fine, unsigned *each);
/* writes n groups, and what is left */
void sim_sms_split(const struct sim_sms *from, unsigned each, unsigned n, CUdevResource *groups,
        CUdevResource *rest);
/* a descriptor stays valid: there is one for each set of multiprocessors; NULL: no memory */
const struct sim_sms *sim_sms_describe(int device, uint64_t sms);
const struct sim_sms *sim_sms_described(const void *descriptor); /* NULL: is not one */

/* shared.c: events between processes, and processes. start: the time, so that a number that is used
   again differs */
struct sim_process {
    uint64_t start;
    unsigned pid;
};
struct sim_process sim_this_process(void);
bool sim_process_lives(struct sim_process process);
bool sim_process_same(struct sim_process a, struct sim_process b);
/* opens what it has open under this number, or -1 */
int sim_process_file(struct sim_process process, int file);
struct sim_shared *sim_shared_new(void);      /* NULL: no memory, or no file */
struct sim_shared *sim_shared_open(int file); /* NULL: also if it is not an event's */
int sim_shared_file(const struct sim_shared *shared);
void sim_shared_unref(struct sim_shared *shared);                     /* NULL is fine */
void sim_shared_record(struct sim_shared *shared, struct sim_op *op); /* pending until op is done */
bool sim_shared_pending(struct sim_shared *shared); /* the last record, of any process */
/* an operation that waits for it, or NULL: nothing to wait for; 0 or 2 */
int sim_shared_wait(struct sim_shared *shared, struct sim_op **out);

/* stream.c */
/* resolves NULL, 1, 2; 400, 201 or 709 */
int sim_stream_find(const void *handle, struct sim_stream **out);
/* the same, for work, which it may capture: also 901 and 906 */
int sim_stream_use(const void *handle, struct sim_stream **out);
/* for what no capture may contain: also 900 */
int sim_stream_use_now(const void *handle, struct sim_stream **out);
/* for what is an unsafe call unless the stream captures it: also 900 */
int sim_stream_use_unsafe(const void *handle, struct sim_stream **out);
/* adds only the edges: op comes after all work on the stream */
void sim_stream_after(struct sim_stream *stream, struct sim_op *op);
/* adds edges by stream order, or a node to its capture; takes over the reference */
int sim_stream_submit(struct sim_stream *stream, struct sim_op *op);
/* work in the context that is on none of its streams */
void sim_stream_outlast(struct sim_context *context, bool blocking, struct sim_op *op);
/* of a host function's operation */
void sim_stream_function(const struct sim_op *op, void (**function)(void *), void **data);
struct sim_op *sim_stream_function_op(void (*function)(void *), void *data); /* NULL: no memory */
/* an op submitted now would be ready at once */
bool sim_stream_idle(struct sim_stream *stream);
/* submits and waits; the calling thread does the work */
int sim_stream_run(struct sim_stream *stream, struct sim_op *op);
int sim_stream_wait(struct sim_stream *stream); /* for all work on it */
/* NULL: no memory */
int sim_stream_priority(int priority); /* the nearest one that there is */
struct sim_stream *sim_stream_new(
        struct sim_context *context, struct sim_green *green, unsigned flags, int priority);
/* the default stream of the context that it is in */
static inline struct sim_stream *sim_stream_legacy(
        struct sim_context *context, struct sim_green *green) {
    return green ? &green->legacy : &context->legacy;
}
static inline bool sim_stream_is_legacy(const struct sim_stream *s) {
    return s == (s->green ? &s->green->legacy : &s->context->legacy);
}
/* the default stream, with which blocking streams synchronize; a green context has none */
static inline bool sim_stream_joins_blocking(const struct sim_stream *s) {
    return s == &s->context->legacy;
}
void sim_stream_free(struct sim_stream *stream);
/* 0, or 906 after invalidating captures: the legacy stream is used */
int sim_stream_check(struct sim_stream *stream);
bool sim_stream_pending(struct sim_stream *stream); /* for a query by the program */
/* later work waits for it */
int sim_stream_wait_event(struct sim_stream *stream, struct sim_event *event);
/* on the host, in order */
int sim_stream_call(struct sim_stream *stream, void (*function)(void *), void *data);
int sim_stream_call_back(
        struct sim_stream *stream, void (*callback)(void *, int, void *), void *handle, void *data);
/* the same, also after an error; handle: the stream's, for the callback */

/* event.c */
struct sim_event *sim_event_new(struct sim_context *context, unsigned flags); /* NULL: no memory */
/* recorded by this operation; takes over the reference */
void sim_event_set(struct sim_event *event, struct sim_op *op);
void sim_event_free(struct sim_event *event); /* the handle ends; nodes may keep the event */
int sim_event_record(struct sim_event *event, struct sim_stream *stream);
/* 0, or why it has no state that the host can use */
int sim_event_captured(const struct sim_event *event, bool invalidate);
bool sim_event_pending(const struct sim_event *event);
int sim_event_wait(const struct sim_event *event);

#endif
