/* sim.h - the map of the CPU device: every structure that two files share, in the order in which a kernel meets them.
   README.md beside this file is the design; read it first.

     >>image    PTX text to image            lex.c parse.c image.c
     >>code     image to decoded code        decode.c (what runs it: alu.c float.c ldst.c atom.c flow.c ...)
     >>exec     warps, blocks, grids         warp.c grid.c format.c
     >>memory   addresses and bytes          memory.c
     >>engine   operations and workers       engine.c
     >>driver   contexts, streams, modules   device.c context.c stream.c event.c module.c launch.c copy.c entry.c

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
    unsigned char *init; uint64_t init_size;      /* initial bytes, or NULL for zero */
    struct sim_reloc *relocs; unsigned nrelocs;
    uint64_t address;                             /* global and const: device address, set by the module loader.
                                                     param: byte offset in the function's parameter area.
                                                     local and call-sequence param: byte offset in the function's frame.
                                                     shared: set per entry by decode.c, not here */
    unsigned id;                                  /* index in image->vars (module scope) or func->vars (function scope) */
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
    unsigned id;                                  /* index in image->funcs */
    bool is_entry, is_extern, is_weak, is_visible, has_body;
    struct sim_var *params; unsigned nparams;     /* space SIM_PARAM, address = offset with PTX alignment */
    struct sim_var *rets; unsigned nrets;
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
    bool uses_dynamic_shared;
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
    uint64_t id;                                  /* %gridid */
    uint64_t started_ns;
    /* progress, guarded by the engine's mutex */
    uint64_t nblocks, next_block, resident, done, max_resident;
    struct sim_op *op;
    struct sim_grid *next;
    /* the first fault; code is set atomically and stops the other blocks at their next quantum */
    int fault;        /* __atomic */
    char fault_text[400];                         /* "illegal address 0x10 (4-byte store) at line 12 of kernel one, block (0,0,0) thread (3,0,0)" */
    uint64_t instructions; /* __atomic */               /* thread-instructions executed, for the bench */
};

enum sim_block_status { SIM_BLOCK_DONE, SIM_BLOCK_MORE /* quantum used up */, SIM_BLOCK_IDLE /* only spins or sleeps: let others run */, SIM_BLOCK_FAULT };

struct sim_block *sim_block_new(struct sim_grid *grid, uint64_t linear_index);   /* NULL: no memory */
enum sim_block_status sim_block_run(struct sim_block *block, uint64_t quantum /* warp-instructions */);
void sim_block_free(struct sim_block *block);
void sim_grid_fault(struct sim_grid *grid, int fault, const char *format, ...) __attribute__((format(printf, 3, 4)));  /* keeps the first */
void sim_print(const char *text, size_t n);       /* kernel printf: appended to a process-wide FIFO, written to stdout by sim_print_flush */
void sim_print_flush(void);                       /* called at every synchronising driver call; format.c */

/* Windows of the generic address space, above every host address. Offset 0 of a window is never valid as NULL would be. */
#define SIM_WINDOW_SHARED 0x0001000000000000ull
#define SIM_WINDOW_LOCAL  0x0002000000000000ull
#define SIM_WINDOW_PARAM  0x0003000000000000ull
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
};

extern uint64_t sim_mem_generation; /* __atomic */      /* changes whenever a range goes or peer access changes: a remembered range is good while equal */

/* Finds the live range that holds all of [address, address + bytes) and that `viewer` may access (its own, a peer's that
   is enabled, host memory). NULL viewer: any. Safe from any thread; takes a read lock. */
bool sim_mem_find(struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out);

/* ------------------------------------------------------------------------------------------------------------------
   >>engine  Operations with edges, ready work, worker threads. */

/* ------------------------------------------------------------------------------------------------------------------
   >>driver  Contexts, streams, events, modules: what the handles of the driver API point to. */

#endif
