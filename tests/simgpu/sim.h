/* sim.h - the map of the CPU device: every structure that two files share, in the order in which a kernel meets them.
   README.md beside this file is the design; read it first.

     >>image    PTX text to image            lex.c parse.c image.c merge.c
     >>code     image to decoded code        decode.c (what runs it: alu.c float.c ldst.c atom.c flow.c ...)
     >>exec     warps, blocks, grids         warp.c grid.c schedule.c format.c heap.c
     >>memory   addresses and bytes          memory.c
     >>engine   operations and workers       engine.c
     >>driver   contexts, streams, modules   device.c context.c stream.c event.c module.c link.c launch.c alloc.c copy.c entry.c

   A file calls only what is above it here, except through the few callbacks that say so. */
#ifndef SIM_H
#define SIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
   >>image  PTX text to image. Nothing here knows devices; an image is plain data, made once per module load.

   parse.c makes variables, functions and instructions and resolves every name: registers to indices of the function,
   labels to instruction indices, symbols to variables or functions. What ptxas rejects is rejected here, in its words. */

enum sim_type {                                   /* PTX fundamental types, with their size in sim_type_size() */
    SIM_NOTYPE, SIM_PRED,
    SIM_B8, SIM_U8, SIM_S8, SIM_B16, SIM_U16, SIM_S16, SIM_F16, SIM_BF16,
    SIM_B32, SIM_U32, SIM_S32, SIM_F32, SIM_F16X2, SIM_BF16X2,
    SIM_B64, SIM_U64, SIM_S64, SIM_F64, SIM_B128
};
unsigned sim_type_size(enum sim_type t);          /* bytes; 0 for SIM_NOTYPE and SIM_PRED */
enum sim_type sim_type_named(const char *name);   /* "u32" -> SIM_U32; SIM_NOTYPE if it is no type */

enum sim_space { SIM_GENERIC, SIM_REG, SIM_GLOBAL, SIM_CONST, SIM_SHARED, SIM_LOCAL, SIM_PARAM };

struct sim_reloc {                                /* an address inside an initialiser: `generic(g)+8`, `g`, a function */
    uint64_t offset; uint32_t size;               /* where in the variable, and how many bytes (8, or 4, or 1 with a mask) */
    unsigned shift;                               /* 0xFF00(g) and its like: the address is shifted right by this before storing */
    struct sim_var *var; struct sim_func *func;   /* exactly one is set */
    int64_t addend;
};

struct sim_var {                                  /* a .global .const .shared .local .param variable, of module or function */
    char *name;
    enum sim_space space;
    enum sim_type type;                           /* of one element */
    uint32_t align;                               /* bytes; the declared one, or the type's */
    uint64_t size;                                /* bytes in all; 0 for `.extern .shared x[]` */
    bool is_extern, is_weak, is_visible;
    bool is_unsized;                              /* declared [] : dynamic shared memory when space is SIM_SHARED */
    unsigned char *init; uint64_t init_size;      /* initial bytes, or NULL for zero; the rest up to size is zero */
    struct sim_reloc *relocs; unsigned nrelocs;
    uint64_t address;                             /* global and const: device address, set by the module loader.
                                                     param: byte offset in the function's parameter area, a kernel's from SIM_PARAM_BASE.
                                                     local and call-sequence param: byte offset in the function's frame.
                                                     reg (a .reg parameter): index in func->regs.
                                                     shared: set per entry by decode.c, not here */
    unsigned id;                                  /* index in image->vars (module scope) or func->vars (function scope) */
    unsigned input;                               /* the text it stands in, where several are linked */
    struct sim_func *owner;                       /* NULL at module scope */
};

enum sim_operand_kind {
    SIM_O_REG,        /* reg                                             %r1   !%p1 (negated)   */
    SIM_O_IMM,        /* imm; fbits says how it was written              7  -3  0f3F800000  0d...  1.5  true */
    SIM_O_SREG,       /* name, imm = 0..3 for .x .y .z .w                %tid.x  %laneid        */
    SIM_O_SYM,        /* var or func, imm = byte offset                  g   g+4   vprintf      */
    SIM_O_MEM,        /* [base+imm]: base is reg (>= 0) or var, or neither (absolute)           */
    SIM_O_VEC,        /* {a, b, c, d}: elements in list                                         */
    SIM_O_LIST,       /* (a, b): a call's return or argument list                               */
    SIM_O_PAIR,       /* d|p : list[0], list[1]                                                 */
    SIM_O_LABEL,      /* target = instruction index                                             */
    SIM_O_TARGETS,    /* label of a .branchtargets list (brx.idx): list of SIM_O_LABEL          */
    SIM_O_PROTO,      /* label of a .callprototype (indirect call): proto                       */
    SIM_O_SINK        /* _                                                                      */
};

struct sim_operand {
    unsigned char kind;
    bool negated;                                 /* !p, or a unary minus that stood before a register */
    unsigned char fbits;                          /* SIM_O_IMM: 0 integer, 32: 0f hex, 64: 0d hex or decimal float (imm holds the bits) */
    unsigned char component;                      /* SIM_O_REG: 1..4 for %v.x .. of a vector register (0: none) */
    int reg;                                      /* index into func->regs, or -1 */
    uint64_t imm;
    const char *name;                             /* SIM_O_SREG: without the component, with the % */
    struct sim_var *var; struct sim_func *func;
    unsigned target;
    struct sim_operand *list; unsigned n;
    struct sim_proto *proto;
};

#define SIM_MAX_MODS 14
struct sim_instr {
    const char *op;                               /* "ld", "mad", "bar" ... interned: same text, same pointer */
    const char *mods[SIM_MAX_MODS]; unsigned nmods; /* "global", "v2", "u32" ... without the dot, in order, interned; `::` parts stay one: "L1::evict_last" */
    int pred; bool pred_negated;                  /* guard: register index or -1 */
    struct sim_operand *opd; unsigned n;          /* as written, destination first */
    unsigned line;                                /* of the text, for logs and for faults */
};

struct sim_proto { struct sim_var *params; unsigned nparams; struct sim_var *rets; unsigned nrets; };

struct sim_reg { char *name; enum sim_type type; unsigned char vec; /* 1, 2 or 4 elements */ };

struct sim_func {
    char *name;
    struct sim_image *image;
    unsigned id, input;                           /* index in image->funcs; the text it stands in, where several are linked */
    bool is_entry, is_extern, is_weak, is_visible, has_body;
    struct sim_var *params; unsigned nparams;     /* space SIM_PARAM, address = offset with PTX alignment */
    struct sim_var *rets; unsigned nrets;         /* likewise, in an area of their own */
    uint32_t param_bytes;                         /* end of the last parameter, no tail padding */
    struct sim_reg *regs; unsigned nregs;
    struct sim_var **vars; unsigned nvars;        /* function-scope variables of any space, call-sequence params among them */
    uint32_t frame_bytes;                         /* local variables and call-sequence params of one activation */
    struct sim_instr *instrs; unsigned ninstrs;
    uint32_t maxntid[3], reqntid[3];              /* 0 when not given */
    uint32_t minnctapersm;
};

struct sim_image {
    unsigned version;                             /* .version 7.4 is 74 */
    unsigned sm;                                  /* .target sm_75 is 75 */
    bool sm_suffix_a;                             /* sm_90a */
    unsigned address_size;
    struct sim_var **vars; unsigned nvars;        /* module scope */
    struct sim_func **funcs; unsigned nfuncs;
    void *arena;                                  /* owns every string and array above; image.c */
};

struct sim_log { char *text; size_t len, cap; };  /* grows; the driver copies what fits into the user's buffer */
void sim_log_add(struct sim_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_log_free(struct sim_log *log);

/* Parses `text` (NUL-terminated). Returns 0 and *out, or the CUresult that a driver gives: 218 (syntax, unknown target,
   unknown name), 222 (.version above max_version, e.g. 90), 200 (not PTX at all). device_sm: PTX whose .target is above it
   is 218. Errors go to `errors` as ptxas words them ("ptxas application ptx input, line 5; error   : ...").
   An unsupported feature is 218 with its name and line. Unresolved externs other than the system functions are an error. */
int  sim_image_parse(const char *text, unsigned max_version, unsigned device_sm, struct sim_log *errors, struct sim_image **out);

/* Several texts as one image, each with a name for the log. Externs of one are resolved by the .visible and .weak definitions of the others:
   what is there twice or does not match is 300, what is missing 999, in nvlink's words. With `more` nothing is missing yet, as the next
   input may bring it; the image then only shows what there is. */
#define SIM_NO_FORMAT "error   : Binary format for key='0', ident='' is not recognized\n"
struct sim_input { const char *name, *text; };
int  sim_image_link(const struct sim_input *inputs, unsigned n, bool more, unsigned max_version, unsigned device_sm,
                    struct sim_log *errors, struct sim_image **out);
void sim_image_free(struct sim_image *image);
struct sim_func *sim_image_func(const struct sim_image *image, const char *name);
struct sim_var  *sim_image_var(const struct sim_image *image, const char *name);

/* ------------------------------------------------------------------------------------------------------------------
   >>code  Decoded code of one entry and all functions that it reaches. decode.c; shared by every launch, read-only. */

struct sim_code;                                  /* private to the executor: code.h */

struct sim_code_info {                            /* what the driver wants to know */
    uint32_t static_shared;                       /* bytes */
    uint32_t shared_align;                        /* of the dynamic part */
    uint32_t local_bytes;                         /* per thread, deepest non-recursive call chain */
    uint32_t const_bytes, param_bytes;
    uint32_t num_regs;                            /* invented: 32-bit registers, at most 255 */
    bool uses_dynamic_shared, uses_heap;          /* heap: it calls malloc or free */
};

/* Returns 0 and *out, or 218 with a log line naming the instruction and line that is not supported. */
int  sim_code_decode(struct sim_func *entry, struct sim_log *errors, struct sim_code **out);
void sim_code_free(struct sim_code *code);
const struct sim_code_info *sim_code_info(const struct sim_code *code);

/* ------------------------------------------------------------------------------------------------------------------
   >>exec  Grids and blocks. The engine drives them through these five calls; all of a block's state is in its sim_block. */

struct sim_device;
struct sim_block;

enum sim_fault {                                  /* CUresult values of a stopped kernel */
    SIM_OK = 0, SIM_F_ILLEGAL_ADDRESS = 700, SIM_F_TIMEOUT = 702, SIM_F_ASSERT = 710, SIM_F_STACK = 714, SIM_F_ILLEGAL_INSTRUCTION = 715,
    SIM_F_MISALIGNED = 716, SIM_F_INVALID_ADDRESS_SPACE = 717, SIM_F_INVALID_PC = 718, SIM_F_LAUNCH_FAILED = 719
};

struct sim_grid {
    const struct sim_code *code;
    struct sim_device *device;                    /* whose memory it sees */
    const char *kernel_name;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    unsigned char *params;                        /* param_bytes, owned by the grid */
    bool cooperative;
    uint64_t workspace;                           /* device address of the grid barrier's workspace (%envreg2:%envreg1), 0 if not cooperative */
    uint64_t heap;                                /* device address of its context's heap for malloc, 0 if it does not use it */
    uint64_t id;                                  /* %gridid */
    uint64_t started_ns;
    /* progress, guarded by the engine's mutex */
    uint64_t nblocks, next_block, resident, done, max_resident;
    struct sim_block *used;                       /* blocks that are done, for others to begin in: the last one first, which is in the cache */
    struct sim_op *op;
    struct sim_grid *next;
    /* the first fault; code is set atomically and stops the other blocks at their next quantum */
    int fault;        /* __atomic */
    char fault_text[400];                         /* "illegal address 0x10 (4-byte store) at line 12 of kernel one, block (0,0,0) thread (3,0,0)" */
};

enum sim_block_status {
    SIM_BLOCK_DONE, SIM_BLOCK_MORE /* quantum used up */, SIM_BLOCK_WAITS /* did something, and now only spins or sleeps: let others run */,
    SIM_BLOCK_IDLE /* did nothing else all the time */, SIM_BLOCK_FAULT
};

/* schedule.c, where SIMGPU_SCHEDULE is set */
uint32_t sim_schedule_draw(uint32_t below);       /* [lock] */
extern uint64_t sim_schedule_round; /* __atomic */      /* changes when everything that runs only spins: blocks that were left behind go on */
uint64_t sim_schedule_block_index(const struct sim_grid *grid, uint64_t n);      /* of the n-th block to begin */

/* used: a block of this grid that is done, to begin anew as this one, or NULL. NULL: no memory */
struct sim_block *sim_block_new(struct sim_grid *grid, uint64_t linear_index, struct sim_block *used);
struct sim_block *sim_block_unused(struct sim_grid *grid);          /* takes one out of grid->used, or NULL */
void sim_block_keep(struct sim_block *block);     /* puts it there */
enum sim_block_status sim_block_run(struct sim_block *block, uint64_t *left /* warp-instructions: what it executes is taken off */);
void sim_block_free(struct sim_block *block);
void sim_block_timeout(struct sim_block *block, double seconds, uint64_t begun);    /* the grid's fault: who is where in this block, when of
                                                  the grid's blocks so many had begun */
void sim_grid_fault(struct sim_grid *grid, int fault, const char *format, ...) __attribute__((format(printf, 3, 4)));  /* keeps the first */
void sim_heap_start(void *memory, uint64_t bytes);   /* makes an empty heap for the malloc of kernels there; heap.c */
void sim_print(const char *text, size_t n);       /* kernel printf: appended to a process-wide FIFO, written to stdout by sim_print_flush */
void sim_print_flush(void);                       /* called at every synchronising driver call; format.c */

/* Windows of the generic address space, above every host address. Offset 0 of a window is never valid as NULL would be. */
#define SIM_WINDOW_SHARED 0x0001000000000000ull
#define SIM_WINDOW_LOCAL  0x0002000000000000ull
#define SIM_WINDOW_PARAM  0x0003000000000000ull
#define SIM_PARAM_BASE    0x210ull                /* where a kernel's parameters begin in their window: sm_90's place in the constant bank */
#define SIM_WINDOW_CODE   0x0004000000000000ull   /* a function's address is this + 16 * (1 + function id) */

/* ------------------------------------------------------------------------------------------------------------------
   >>memory  One table of ranges for device allocations and pinned or registered host memory of all devices. */

enum sim_mem_kind { SIM_MEM_DEVICE, SIM_MEM_MODULE /* a module's globals: cuMemFree refuses */, SIM_MEM_PINNED, SIM_MEM_REGISTERED, SIM_MEM_POOL };

struct sim_range {                                /* a copy of an entry of the table */
    uint64_t lo, hi;                              /* device addresses [lo, hi) */
    ptrdiff_t delta;                              /* host address of byte a is (char *)a + delta */
    enum sim_mem_kind kind;
    struct sim_device *device;                    /* owner; NULL for host memory */
    struct sim_context *context;                  /* that allocated it */
    uint64_t generation;                          /* of the table when the copy was made */
    unsigned flags; uint64_t id;                  /* as the host memory was made; unique number of the allocation */
};

extern uint64_t sim_mem_generation; /* __atomic */      /* changes whenever a range goes or peer access changes: a remembered range is good while equal */

/* Finds the live range that holds all of [address, address + bytes) and that `viewer` may access (its own, a peer's that
   is enabled, host memory). NULL viewer: any. Safe from any thread; takes a read lock. */
bool sim_mem_find(struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out);

/* The rest of this section is for the driver and the engine. Two locks, both inside memory.c: one guards the table; the other, "use",
   is held (shared) by whoever touches bytes through a sim_range: a worker for a quantum, a copy for a slice. Memory loses its
   access rights only under the exclusive "use" lock, so a quantum never sees bytes vanish, only a changed generation. */
struct sim_heap;                                  /* a device's address window and its live ranges; private to memory.c */

bool sim_mem_start(struct sim_device *device, uint64_t bytes);   /* reserves the window; false: no address space */
int  sim_mem_alloc(struct sim_device *device, struct sim_context *context, uint64_t bytes, enum sim_mem_kind kind, uint64_t *address);
                                                  /* 0 or 2; poisoned */
int  sim_mem_add_host(struct sim_context *context, void *host, uint64_t bytes, enum sim_mem_kind kind, unsigned flags);
                                                  /* 0, 2; when it overlaps registered memory 712, pinned memory 1 */
void *sim_mem_pages(uint64_t bytes);              /* zeroed pages for SIM_MEM_PINNED, freed by sim_mem_remove; NULL: none */
void sim_mem_drop_pages(void *pages, uint64_t bytes);            /* ... or by this, when they never came into the table */
bool sim_mem_remove(uint64_t address);            /* the range that begins at address goes; frees its bytes unless registered */
void sim_mem_remove_context(struct sim_context *context);        /* all of its ranges, except SIM_MEM_POOL */
bool sim_mem_mark_freeing(uint64_t address);      /* a stream-ordered free is queued; false: no such range, or queued already */
void sim_mem_use(void);                           /* shared "use" lock around accesses to bytes */
void sim_mem_unuse(void);
void sim_mem_reset_pool_high(struct sim_device *device);
void sim_mem_usage(struct sim_device *device, uint64_t *used, uint64_t *pool, uint64_t *pool_high);
bool sim_mem_in_window(uint64_t address);         /* of any device, live or not: such an address can never be host memory */

/* ------------------------------------------------------------------------------------------------------------------
   >>engine  Operations with edges, ready work, worker threads.

   An operation waits for its predecessors, then runs, then releases its successors. The engine knows no streams: who submits
   says which operations come before. sim_lock guards the graph, the queues and all of the driver's tables; it is never held
   while PTX, a copy or a host function executes. Functions marked [lock] are called with it held. */

extern pthread_mutex_t sim_lock;
extern int sim_sticky;            /* __atomic */  /* first fault of a kernel in this process, or 0; set once */
extern __thread bool sim_in_host_function;        /* it runs the user's function, which may not call the driver */
extern __thread bool sim_has_waited;              /* for work: what its kernels printed is shown when the call returns */

enum sim_op_kind {
    SIM_OP_MARKER,                                /* nothing: joins its predecessors */
    SIM_OP_EVENT,                                 /* takes the time */
    SIM_OP_KERNEL, SIM_OP_COPY, SIM_OP_FILL,
    SIM_OP_CALL,                                  /* the driver's own function, run by a worker, also after a fault */
    SIM_OP_TRY,                                   /* the driver's own function, called again and again until it answers true */
    SIM_OP_HOST                                   /* the user's function, run by the host-function thread, in order */
};

struct sim_end {                                  /* one side of a copy or fill: resolved again when it executes if it is device memory */
    uint64_t address;                             /* device address, or host pointer */
    bool in_table;                                /* device, pinned or registered: found through sim_mem_find */
    size_t pitch;
};

struct sim_task { struct sim_task *link; struct sim_op *op; struct sim_block *block; };   /* what workers take turns with */

struct sim_op {
    enum sim_op_kind kind;
    bool done, started;
    bool held, wanted;                            /* lazy streams: not released yet; to be released */
    uint8_t polls;                                /* lazy streams: questions whether it is done */
    struct sim_op *older, *newer; uint64_t held_ns; /* lazy streams: among those that are held, and since when */
    bool by_caller;                               /* run by the thread that waits for it (synchronous copies), never queued */
    bool moving;                                  /* by_caller: a thread is at it */
    bool always;                                  /* SIM_OP_HOST: also called after a fault, with the error (stream callbacks) */
    int priority;                                 /* 0 (least) to SIM_PRIORITIES - 1 */
    unsigned refs, waits;                         /* holders; predecessors not done (+1 until submitted) */
    struct sim_op **next; unsigned nnext, next_cap;
    struct sim_op *link;                          /* in a queue, or in the list of running grids */
    uint64_t done_ns;                             /* CLOCK_MONOTONIC when it completed */
    struct sim_grid *grid;                        /* KERNEL; freed with the op */
    struct sim_task *tasks; unsigned live_tasks;  /* KERNEL: one per resident block, made by who submits */
    struct sim_task one;                          /* COPY, FILL, CALL, TRY */
    struct sim_end dst, src; size_t width, height, progress;     /* COPY, FILL: bytes per row, rows, bytes that are done */
    uint64_t pattern; unsigned pattern_bytes, how;                   /* FILL, TRY; how: what attempt is to do with it */
    void *staged;                                 /* COPY: source bytes taken at the call; freed with the op */
    void (*function)(void *data, int error);      /* CALL, HOST */
    bool (*attempt)(const struct sim_op *op, void *at);              /* TRY, without sim_lock; at: where the bytes of dst are */
    void *data;
    void (*release)(struct sim_op *op);           /* [lock] called once when the op completes: gives back ... */
    void *module, *workspace;                     /* ... what a kernel holds */
};
#define SIM_PRIORITIES 6

struct sim_op *sim_op_new(enum sim_op_kind kind);                        /* [lock] one reference, the caller's; NULL: no memory or threads */
void sim_op_ref(struct sim_op *op);                                      /* [lock] */
void sim_op_unref(struct sim_op *op);                                    /* [lock] NULL is fine */
void sim_op_after(struct sim_op *op, struct sim_op *before);             /* [lock] an edge; before may be NULL or done */
void sim_op_submit(struct sim_op *op);                                   /* [lock] after its edges */
bool sim_op_pending(struct sim_op *op);                                  /* [lock] not done; op may be NULL. Asking often enough makes lazy work start */
int  sim_op_wait(struct sim_op *op);                                     /* [lock], released while it waits. Returns sim_sticky, as soon as it is set */
void sim_op_wait_to_end(struct sim_op *op);                              /* [lock] likewise, but until op is done: after a fault all grids are stopped */
void sim_engine_fork(void);                                              /* in a child: nothing runs there */
uint64_t sim_now_ns(void);

/* ------------------------------------------------------------------------------------------------------------------
   >>driver  Contexts, streams, events, modules: what the handles of the driver API point to.

   A handle is a number (generation, slot, kind), never an address: sim_get() answers NULL for anything that is not a live
   object of that kind. Every entry point is written with SIM_API: its body runs with sim_lock held, after the checks it names.
   All of this is guarded by sim_lock. */

#define SIM_MAX_DEVICES 8

struct sim_device {
    int ordinal;
    uint64_t memory;                              /* bytes in all */
    struct sim_heap *heap;
    struct sim_context *primary;                  /* made once, active or not */
    unsigned primary_count, primary_flags;
    unsigned peers;               /* __atomic */  /* bit i: kernels here may access device i's memory */
    uint64_t pool_handle;                         /* of the default memory pool */
    uint64_t pool_threshold; int pool_reuse[3];
    char name[64];
    struct { int number, value; } answers[8];     /* attributes that SIMGPU_DEVICE_n sets; number 0 ends them */
};
extern struct sim_device sim_devices[SIM_MAX_DEVICES];
extern int sim_device_count;

enum sim_handle_kind { SIM_H_CONTEXT = 1, SIM_H_STREAM, SIM_H_EVENT, SIM_H_MODULE, SIM_H_FUNCTION, SIM_H_POOL, SIM_H_LINK };
uint64_t sim_handle_new(enum sim_handle_kind kind, void *object);        /* 0: no memory */
void  sim_handle_drop(uint64_t handle);
void  sim_handle_orphan(uint64_t handle);                                /* likewise, as its context goes */
int   sim_not_there(const void *handle);                                 /* what sim_get did not find: 709 if it went with its context, else 400 */
void *sim_get(enum sim_handle_kind kind, const void *handle);
#define SIM_HANDLE(h) ((void *)(uintptr_t)(h))

struct sim_link { struct sim_link *prev, *next; };                       /* intrusive ring; a context's children */
void sim_link_init(struct sim_link *head);
void sim_link_add(struct sim_link *head, struct sim_link *link);
void sim_link_remove(struct sim_link *link);
#define SIM_OWNER(type, pointer) ((struct type *)(void *)((char *)(pointer) - offsetof(struct type, link)))
#define SIM_EACH(type, name, head) \
    for (struct type *name = SIM_OWNER(type, (head)->next); &name->link != (head); name = SIM_OWNER(type, name->link.next))

struct sim_stream {
    struct sim_link link;
    uint64_t handle, id, thread;                  /* thread: of a per-thread default stream, else 0 */
    struct sim_context *context;
    bool blocking;                                /* ordered with the legacy stream */
    unsigned flags; int priority;                 /* as given: 0 .. -5 */
    struct sim_op *last;
};
struct sim_event { struct sim_link link; uint64_t handle; struct sim_context *context; unsigned flags; struct sim_op *op; };

struct sim_context {
    struct sim_link link;                         /* in sim_contexts while it is alive */
    uint64_t handle;
    unsigned id;
    struct sim_device *device;
    bool is_primary, active, dying;               /* dying: being taken down, not usable any more */
    unsigned loading;                             /* threads that make a module for it, without sim_lock */
    bool has_printed;                             /* a kernel was launched whose module knows printf */
    unsigned flags, count, api_version, cache_config, shared_config;
    uint64_t limits[8];
    unsigned *peers, npeers;                      /* ids of contexts that this one was given access to */
    struct sim_stream legacy;
    struct sim_link streams, events, modules;
    struct sim_op *orphans[2];                    /* what destroyed streams still run; [1]: that of blocking ones */
    struct sim_workspace *workspaces;             /* of cooperative grids */
    uint64_t heap;                                /* of kernels that call malloc, made with the first of them; 0: none yet */
};

extern struct sim_link sim_contexts;

struct sim_function {
    uint64_t handle;
    struct sim_module *module; struct sim_func *func; struct sim_code *code;
    int max_dynamic, carveout, cache_config;
    int cluster[5];                               /* width, height, depth, whether more than 8, policy: as set */
    bool no_effect;                               /* the body is only `ret`: whether its blocks run cannot be told */
};
struct sim_module {
    struct sim_link link;
    uint64_t handle;
    struct sim_context *context;
    unsigned refs;                                /* the handle's, and one per grid in flight: an unloaded module's code lives until then */
    struct sim_image *image;
    bool prints;                                  /* knows vprintf */
    struct sim_function *functions; unsigned nfunctions;                 /* entries, in the text's order */
};
void sim_module_unref(struct sim_module *module);

/* The calling thread. */
struct sim_thread {
    uint64_t *stack; unsigned depth, cap;         /* context handles, dead ones among them */
    struct sim_context *context;                  /* the current one, set by sim_enter when the call needs one */
    uint64_t id;
    bool per_thread_default;
};
extern __thread struct sim_thread sim_self;

struct sim_settings {                             /* from the environment, read once; README.md lists the variables */
    int driver_version, threads;
    bool trace, verbose, count;
    enum { SIM_PEERS_ALL, SIM_PEERS_NONE, SIM_PEERS_PAIRS } peers;       /* which devices can reach each other */
    uint64_t timeout_ns;                          /* of a kernel; 0: none */
    uint64_t schedule;                            /* seed of the adversary; 0: none */
    uint64_t lazy_ns;                             /* how long streams hold work back that nobody waits for; 0: not at all */
};
extern struct sim_settings sim_settings;
void sim_settings_read(void);                     /* before all others, once */
extern char sim_fault_text[400];                  /* what stopped a kernel and where, set before sim_sticky's code is reported; "" before */

enum sim_need { SIM_PURE /* nothing, not even cuInit */, SIM_INIT, SIM_EASY /* as the next one, and from host functions, too, on streams that have a handle */,
                SIM_HEALTHY /* and no sticky error */, SIM_CTX /* and a current context */ };
struct sim_call { const char *symbol; int version; unsigned count; };
int sim_enter(struct sim_call *call, enum sim_need need);                /* takes sim_lock; 0, or the answer */
int sim_leave(struct sim_call *call, int result);                        /* releases it; logs; flushes kernel printf */
extern bool sim_ready;                            /* cuInit was done */
int sim_start(void);                              /* [lock] devices, from the environment */
int sim_max_ptx(void);                            /* highest .version of the pretended driver: 90 for CUDA 13.0 */
int sim_version_of(const char *symbol);           /* driver version that brought an entry point, 0 if it is not in the table */

#define SIM_EXPORT __attribute__((visibility("default")))
/* Thread-instructions executed so far: instructions of the PTX text, times the active threads of their warps. Counted with SIMGPU_COUNT=1. */
SIM_EXPORT uint64_t simgpu_thread_instructions(void);
#define SIM_WRAP_(symbol, body, parameters, arguments, need, per_thread) \
    SIM_EXPORT int symbol parameters; \
    SIM_EXPORT int symbol parameters { \
        static struct sim_call call = { #symbol, 0, 0 }; \
        int result = sim_enter(&call, need); \
        sim_self.per_thread_default = per_thread; \
        return sim_leave(&call, result ? result : body arguments); \
    }
/* SIM_API(symbol, (parameters), (arguments), need) { body }. SIM_API_STREAM also makes symbol + suffix, where the NULL stream is the
   per-thread default stream: _ptsz for calls that take a stream, _ptds for synchronous ones. */
#define SIM_API(symbol, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    static int symbol##_body parameters
#define SIM_API_STREAM(symbol, suffix, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    SIM_WRAP_(symbol##suffix, symbol##_body, parameters, arguments, need, true) \
    static int symbol##_body parameters

/* context.c */
struct sim_context *sim_context_new(struct sim_device *device, bool primary, unsigned flags);
void sim_context_kill(struct sim_context *context);                      /* waits for its work unless sticky; its objects go */
struct sim_context *sim_context_current(void);                           /* NULL: none, or destroyed */
bool sim_flags_bad(unsigned flags);
struct sim_context *sim_context_at(const void *handle);                  /* NULL: not a live one */
int  sim_context_need(void);                                             /* finds the current one, as SIM_CTX does; 0, 201 or 709 */
bool sim_context_reaches(struct sim_context *c, const struct sim_range *r);          /* its fills and questions; a kernel may reach more */
/* stream.c */
int  sim_stream_find(const void *handle, struct sim_stream **out);       /* resolves NULL, 1, 2; 400, 201 or 709 */
void sim_stream_after(struct sim_stream *stream, struct sim_op *op);     /* only the edges: op comes after all that is on the stream */
void sim_stream_submit(struct sim_stream *stream, struct sim_op *op);    /* edges by stream order; takes over the reference */
bool sim_stream_idle(struct sim_stream *stream);                         /* an op submitted now would be ready at once */
int  sim_stream_run(struct sim_stream *stream, struct sim_op *op);       /* submits and waits; the caller's thread does the work */
int  sim_stream_wait(struct sim_stream *stream);                         /* for all that is on it */
int  sim_drain(struct sim_context *context, struct sim_device *device);  /* waits for all streams of a context, or of a device's contexts */
void sim_drain_to_end(struct sim_context *context);                      /* likewise; after a fault nothing of it runs any more */
void sim_stream_free(struct sim_stream *stream);
void sim_event_free(struct sim_event *event);
/* module.c, link.c, launch.c */
struct sim_log_option { char *text; size_t size; void **slot; bool wanted; };
struct sim_jit_options { struct sim_log_option info, error; void **wall; bool verbose, has_target, unsupported; int target; };
extern pthread_mutex_t sim_load_lock;                                    /* one text at a time; taken without sim_lock */
int  sim_jit_read(struct sim_jit_options *o, unsigned n, const int *options, void **values);
void sim_jit_write_log(const struct sim_log_option *o, const struct sim_log *log);
bool sim_jit_is_for_us(int target);                                      /* CU_JIT_TARGET; 0: not given */
void sim_tell_globals(struct sim_log *log, const struct sim_image *image, unsigned from, const char *who);      /* of the inputs from this one on */
void sim_jit_write_wall(const struct sim_jit_options *o, uint64_t ns);
bool sim_is_binary(const void *image);                                   /* a cubin, another ELF file or a fatbin, by its first bytes */
bool sim_is_host_elf(const void *image);                                 /* for no GPU, which knows no such format */
void sim_link_remember(int result);                                      /* [lock] a text did not compile: what fails to link later is answered by that */
bool sim_is_linked(const void *image);                                   /* what cuLinkComplete made */
int  sim_linked_parse(const void *image, size_t limit, struct sim_log *errors, struct sim_image **out);   /* limit: bytes that are there */
void sim_module_free(struct sim_module *module);                         /* the handle and its reference go */
struct sim_occupancy { int blocks, max_threads; };                       /* per multiprocessor; threads per block that registers allow */
struct sim_occupancy sim_occupancy(const struct sim_function *function, unsigned threads, uint64_t dynamic_shared);
int sim_most_threads(const struct sim_function *f);      /* in a block: registers, .maxntid */
void sim_workspaces_free(struct sim_context *context);
/* device.c */
bool sim_peers(const struct sim_device *a, const struct sim_device *b);  /* one's kernels can be given access to the other's memory */
int sim_device_attribute(struct sim_device *device, int attribute, int *value);   /* 1: unknown */
enum {                                            /* the invented multiprocessor */
    SIM_SMS = 4, SIM_SM_THREADS = 2048, SIM_SM_BLOCKS = 32, SIM_SM_REGS = 65536, SIM_SM_SHARED = 228 << 10,
    SIM_BLOCK_THREADS = 1024, SIM_BLOCK_SHARED = 48 << 10, SIM_BLOCK_SHARED_OPTIN = 227 << 10, SIM_BLOCK_SHARED_RESERVED = 1 << 10,
    SIM_CC_MAJOR = 9, SIM_CC_MINOR = 0, SIM_PRIORITY_GREATEST = -5
};

#endif
