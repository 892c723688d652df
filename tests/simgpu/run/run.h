/* run.h - the map of run/: what runs when. README.md has the design of it.

     >>block     a block, for a quantum             grid.c
     >>schedule  orders by chance                   schedule.c
     >>engine    operations and workers             engine.c */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "../base/base.h"

/* ------------------------------------------------------------------------------------------------------------------
   >>block  Blocks. The engine drives them through these calls; all of a block's state is in its sim_block. */

enum sim_block_status {
    SIM_BLOCK_DONE,
    SIM_BLOCK_MORE,                               /* quantum used up */
    SIM_BLOCK_WAITS,                              /* did something, and now only spins or sleeps: let others run */
    SIM_BLOCK_IDLE,                               /* did nothing else all the time */
    SIM_BLOCK_FAULT
};

/* used: a block of this grid that is done, to begin anew as this one, or NULL. NULL: no memory */
struct sim_block *sim_block_new(struct sim_grid *grid, uint64_t linear_index, struct sim_block *used);
struct sim_block *sim_block_unused(struct sim_grid *grid);          /* takes one out of grid->used, or NULL */
void sim_block_keep(struct sim_block *block);     /* puts it there */
enum sim_block_status sim_block_run(struct sim_block *block, uint64_t *left);
                                                  /* left: warp-instructions; what it executes is taken off */
void sim_block_free(struct sim_block *block);

/* ------------------------------------------------------------------------------------------------------------------
   >>schedule  An adversary that decides what runs when, where SIMGPU_SCHEDULE is set. */

uint32_t sim_schedule_draw(uint32_t below);       /* [lock] */
extern uint64_t sim_schedule_round; /* __atomic */      /* changes when everything that runs only spins: blocks that
                                                           were left behind go on */
uint64_t sim_schedule_block_index(const struct sim_grid *grid, uint64_t n);      /* of the n-th block to begin */
bool sim_schedule_start(struct sim_block *b, uint64_t linear_index); /* false: no memory */
enum sim_block_status sim_schedule_block(struct sim_block *b);    /* sim_block_run with warps,
                                                                     lanes and lengths by chance */

/* ------------------------------------------------------------------------------------------------------------------
   >>engine  Operations with edges, ready work, worker threads.

   An operation waits for its predecessors, then runs, then releases its successors. The engine knows no streams: who
   submits says which operations come before. sim_lock guards the graph, the queues and all of the driver's tables; it
   is never held while PTX, a copy or a host function executes. Functions marked [lock] are called with it held. */

extern pthread_mutex_t sim_lock;
extern int sim_sticky;            /* __atomic */  /* first fault of a kernel in this process, or 0; set once */
extern __thread bool sim_in_host_function;        /* it runs the user's function, which may not call the driver */
extern __thread bool sim_has_waited;              /* for work: what its kernels printed
                                                     is shown when the call returns */

enum sim_op_kind {
    SIM_OP_MARKER,                                /* nothing: joins its predecessors */
    SIM_OP_EVENT,                                 /* takes the time */
    SIM_OP_KERNEL, SIM_OP_COPY, SIM_OP_FILL,
    SIM_OP_CALL,                                  /* the driver's own function, run by a worker, also after a fault */
    SIM_OP_TRY,                                   /* the driver's own function, called again
                                                     and again until it answers true */
    SIM_OP_HOST                                   /* the user's function, run by the host-function thread, in order */
};

struct sim_end {                                  /* one side of a copy or fill: resolved again
                                                     when it executes if it is device memory */
    uint64_t address;                             /* device address, or host pointer */
    bool in_table;                                /* device, pinned or registered: found through sim_mem_find */
    size_t pitch;
};

struct sim_task { struct sim_task *link; struct sim_op *op; struct sim_block *block; };
                                                  /* what workers take turns with */

struct sim_op {
    enum sim_op_kind kind;
    bool done, started;
    bool held, wanted;                            /* lazy streams: not released yet; to be released */
    uint8_t polls;                                /* lazy streams: questions whether it is done */
    struct sim_op *older, *newer;
    uint64_t held_ns; /* lazy streams: among those that are held, and since when */
    bool by_caller;                               /* run by the thread that waits for it
                                                     (synchronous copies), never queued */
    bool moving;                                  /* by_caller: a thread is at it */
    bool always;                                  /* SIM_OP_HOST: also called after a fault,
                                                     with the error (stream callbacks) */
    int priority;                                 /* 0 (least) to SIM_PRIORITIES - 1 */
    unsigned refs, waits;                         /* holders; predecessors not done (+1 until submitted) */
    struct sim_op **next;
    unsigned nnext, next_cap;
    struct sim_op *link;                          /* in a queue, or in the list of running grids */
    uint64_t done_ns;                             /* CLOCK_MONOTONIC when it completed */
    struct sim_grid *grid;                        /* KERNEL; freed with the op */
    struct sim_task *tasks;
    unsigned live_tasks;  /* KERNEL: one per resident block, made by who submits */
    struct sim_task one;                          /* COPY, FILL, CALL, TRY */
    struct sim_end dst, src;
    size_t width, height, progress;     /* COPY, FILL: bytes per row,
                                                                    rows, bytes that are done */
    uint64_t pattern;
    unsigned pattern_bytes, how;                   /* FILL, TRY; how: what attempt is to do with it */
    void *staged;                                 /* COPY: source bytes taken at the call; freed with the op */
    void (*function)(void *data, int error);      /* CALL, HOST */
    bool (*attempt)(const struct sim_op *op, void *at);              /* TRY, without sim_lock; at:
                                                                        where the bytes of dst are */
    void *data;
    void (*release)(struct sim_op *op);           /* [lock] called once when the op completes: gives back ... */
    void *module, *workspace;                     /* ... what a kernel holds */
};
#define SIM_PRIORITIES 6

struct sim_op *sim_op_new(enum sim_op_kind kind);                        /* [lock] one reference, the caller's;
                                                                            NULL: no memory or threads */
void sim_op_ref(struct sim_op *op);                                      /* [lock] */
void sim_op_unref(struct sim_op *op);                                    /* [lock] NULL is fine */
void sim_op_after(struct sim_op *op, struct sim_op *before);             /* [lock] an edge; before
                                                                            may be NULL or done */
void sim_op_submit(struct sim_op *op);                                   /* [lock] after its edges */
bool sim_op_pending(struct sim_op *op);                                  /* [lock] not done; op may be NULL. Asking
                                                                            often enough makes lazy work start */
int  sim_op_wait(struct sim_op *op);                                     /* [lock], released while it waits. Returns
                                                                            sim_sticky, as soon as it is set */
void sim_op_wait_to_end(struct sim_op *op);                              /* [lock] likewise, but until op is done: after
                                                                            a fault all grids are stopped */
void sim_engine_fork(void);                                              /* in a child: nothing runs there */
uint64_t sim_now_ns(void);
extern char sim_fault_text[400];                  /* what stopped a kernel and where, set before
                                                     sim_sticky's code is reported; "" before */

#endif
