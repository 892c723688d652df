/* run.h - the map of run/: when work runs. README.md describes the design.

     >>block     runs blocks for a quantum    grid.c
     >>schedule  random orders                schedule.c
     >>engine    operations and workers       engine.c */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "../base/base.h"

/* -------------------------------------------------------------------------------------------------
   >>block  Blocks. The engine drives them by clusters, through these calls; all of a block's state
   is in its sim_block. */

enum sim_block_status {
    SIM_BLOCK_DONE,
    SIM_BLOCK_MORE,  /* quantum used up */
    SIM_BLOCK_WAITS, /* worked, and now only spins or sleeps: let others run */
    SIM_BLOCK_IDLE,  /* only spun or slept */
    SIM_BLOCK_STUCK, /* of one block: all of its threads wait at barriers; of a cluster, this is a
                        fault */
    SIM_BLOCK_FAULT
};

/* used: a finished cluster of this grid, whose memory the new one reuses, or NULL; left: what it
   costs to clear its memory is subtracted. Returns NULL if there is no memory */
struct sim_cluster *sim_cluster_new(
        struct sim_grid *grid, uint64_t index, struct sim_cluster *used, uint64_t *left);
/* [lock] takes one from grid->used, or NULL */
struct sim_cluster *sim_cluster_unused(struct sim_grid *grid);
void sim_cluster_keep(struct sim_cluster *cluster); /* [lock] puts it into grid->used */
enum sim_block_status sim_cluster_run(struct sim_cluster *cluster, uint64_t *left);
/* left: warp-instructions; those executed are subtracted */
void sim_cluster_free(struct sim_cluster *cluster);

/* -------------------------------------------------------------------------------------------------
   >>schedule  An adversary that decides what runs when, if SIMGPU_SCHEDULE is set. */

uint32_t sim_schedule_draw(uint32_t below); /* [lock] */
/* changes when everything that runs only spins: blocks that were left behind continue */
extern uint64_t sim_schedule_round; /* __atomic */
/* of the n-th cluster to begin */
uint64_t sim_schedule_index(const struct sim_grid *grid, uint64_t n);
bool sim_schedule_start(struct sim_cluster *c, uint64_t index); /* false: no memory */
unsigned sim_schedule_first(struct sim_cluster *c); /* the rank of the block that runs next */
/* runs random warps and lanes of it for a random time */
enum sim_block_status sim_schedule_block(struct sim_block *b);

/* -------------------------------------------------------------------------------------------------
   >>engine  Operations with edges, ready work, worker threads.

   An operation waits for its predecessors, then runs, then releases its successors. The engine does
   not know streams: the caller that submits an operation names its predecessors. sim_lock guards
   the graph, the queues and all of the driver's tables; it is never held while PTX, a copy or a
   host function executes. Functions marked [lock] are called with it held. */

extern pthread_mutex_t sim_lock;
/* first fault of a kernel in this process, or 0; set once */
extern int sim_sticky; /* __atomic */
/* the thread runs a user's function, which must not call the driver */
extern __thread bool sim_in_host_function;
extern __thread bool sim_has_waited; /* for work: kernel output is printed when the call returns */

enum sim_op_kind {
    SIM_OP_MARKER, /* nothing: joins its predecessors */
    SIM_OP_EVENT,  /* records the time */
    SIM_OP_KERNEL,
    SIM_OP_COPY,
    SIM_OP_FILL,
    SIM_OP_CALL, /* the driver's own function, run by a worker, also after a fault */
    SIM_OP_TRY,  /* the driver's own function, called repeatedly until it returns true */
    SIM_OP_HOST  /* the user's function, run in order by the host-function thread */
};

/* one side of a copy or fill; device memory is resolved again when it executes */
struct sim_end {
    uint64_t address;          /* device address, or host pointer */
    bool in_table;             /* device, pinned or registered: found through sim_mem_find */
    struct sim_device *device; /* the owner of the memory when the call was made; NULL: the host */
    size_t pitch, slice;       /* bytes between rows, and between slices of rows */
    struct sim_context *context; /* that allocated the memory, and its id then; NULL: none */
    unsigned context_id;
};

struct sim_task {
    struct sim_task *link;
    struct sim_op *op;
    struct sim_cluster *cluster;
};
/* the unit that workers take turns on */

struct sim_op {
    enum sim_op_kind kind;
    bool done, started;
    bool held, wanted; /* lazy streams: not released yet; to be released */
    uint8_t polls;     /* lazy streams: number of completion queries */
    struct sim_op *older, *newer;
    uint64_t held_ns; /* older, newer: links among the running grids; lazy streams: among the held
                         operations, and since when it is held */
    bool by_caller;   /* run by the thread that waits for it (synchronous copies), never queued */
    bool moving;      /* by_caller: a thread is running it */
    bool always;  /* SIM_OP_HOST: also called after a fault, with the error (stream callbacks) */
    int priority; /* 0 (least) to SIM_PRIORITIES - 1 */
    unsigned refs, waits; /* holders; predecessors not done (+1 until submitted) */
    struct sim_op **next;
    unsigned nnext, next_cap;
    struct sim_op *link;   /* in a queue */
    uint64_t done_ns;      /* CLOCK_MONOTONIC when it completed */
    struct sim_grid *grid; /* KERNEL; freed with the op */
    struct sim_task *tasks;
    unsigned live_tasks; /* KERNEL: one per resident cluster, created by the submitting thread */
    struct sim_task one; /* COPY, FILL, CALL, TRY */
    struct sim_end dst, src;
    size_t width, height, depth, progress; /* COPY, FILL: bytes per row, rows, slices, bytes done */
    uint64_t pattern;
    unsigned pattern_bytes, how; /* FILL, TRY; how: the operation that attempt performs with it */
    size_t packed;               /* KERNEL: bytes of arguments given as one buffer, or 0 */
    void *staged; /* bytes freed with the op; COPY: of the source, read at the call */
    void (*function)(void *data, int error);            /* CALL, HOST */
    bool (*attempt)(const struct sim_op *op, void *at); /* TRY, without sim_lock; at: address of the
                                                           bytes of dst; NULL: the device may not
                                                           write there */
    void *data;
    void (*release)(struct sim_op *op); /* [lock] called once, when the op completes or is freed
                                           without having been submitted: releases ... */
    void *module, *workspace;           /* ... the objects that a kernel holds */
    struct sim_op *model; /* it is a copy of this one, and shares its parameters and `staged` */
    struct sim_op *ended, *over; /* KERNEL that launched others, markers: its blocks and its
                                    children are done, except tail launches; all are */
    struct sim_op *tail;         /* the last of its tail launches */
    struct sim_nested *nested;   /* what its blocks made with the device runtime, and what ends
                                    that */
    void (*end_nested)(struct sim_op *op);
    unsigned *waiting; /* a counter of kernels that have not begun, which counts this one */
};
#define SIM_PRIORITIES 6

/* [lock] one reference, the caller's; NULL: no memory or threads */
struct sim_op *sim_op_new(enum sim_op_kind kind);
/* [lock] the same work once more; no tasks, and nothing to release. The model is never submitted */
struct sim_op *sim_op_copy(struct sim_op *model);
void sim_op_ref(struct sim_op *op);   /* [lock] */
void sim_op_unref(struct sim_op *op); /* [lock] NULL is fine */
/* [lock] an edge; before may be NULL or done */
void sim_op_after(struct sim_op *op, struct sim_op *before);
void sim_op_submit(struct sim_op *op); /* [lock] after its edges */
/* [lock] parent is a kernel that runs, and is done only when child is. tail: child begins after the
   parent's blocks and other children. false: no memory */
bool sim_op_adopt(struct sim_op *parent, struct sim_op *child, bool tail);
/* [lock] not done; op may be NULL. Repeated queries make lazy work start */
bool sim_op_pending(struct sim_op *op);
void sim_op_want(struct sim_op *op); /* [lock] lazy work starts */
/* [lock], released while it waits. Returns sim_sticky as soon as it is set */
int sim_op_wait(struct sim_op *op);
/* [lock] the same, but until op is done: after a fault all grids are stopped */
void sim_op_wait_to_end(struct sim_op *op);
/* [lock] work cannot be done: from now on all calls return this */
void sim_fail(int fault, const char *text);
void sim_engine_fork(void); /* in a child process: nothing runs there */
uint64_t sim_now_ns(void);
/* the text of the fault that stopped a kernel, set before sim_sticky's code is reported; "" until
   then */
extern char sim_fault_text[400];

#endif
