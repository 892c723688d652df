/* text.h - the map of text/: PTX text to an image, a checked module. It calls no other layer.

     log.c         the error log, and ways to report an error
     store.c       the memory of an image and of a parse; names
     tables.c      types, special registers, the executor's own functions, features
     lex.c         characters to tokens expression.c  constant expressions
     scope.c       the meaning of names
     check.c       whether ptxas accepts an instruction, by the tables in forms.h
     operand.c     operands, instructions
     initial.c     initial values of variables
     declare.c     declarations of variables, registers and parameters
     directive.c   .loc, .pragma and similar directives; those between parameters and body
     parse.c       functions and their statements, the rest of a module
     header.c      the first directives: .version, .target, .address_size
     merge.c       several inputs become one
     image.c       the entry points below

   A file calls only files that are above it in this list. ptx.h is private to these files.

   Nothing here depends on a device; an image is plain data, created once per module load. The
   parser creates variables, functions and instructions and resolves every name: registers to
   indices of the function, labels to instruction indices, symbols to variables or functions.
   Whatever ptxas rejects is rejected here, in its words. */
#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include "../base/base.h"

unsigned sim_type_size(enum sim_type t); /* bytes; 0 for SIM_NOTYPE and SIM_PRED */
/* "u32" -> SIM_U32; SIM_NOTYPE if it is not a type */
enum sim_type sim_type_named(const char *name);

/* An address inside an initialiser: `generic(g)+8`, `g`, a function. */
struct sim_reloc {
    uint64_t offset;     /* where in the variable */
    uint32_t size;       /* bytes: 8, or 4, or 1 with a mask */
    unsigned shift;      /* 0xFF00(g): the address is shifted right by this before storing */
    struct sim_var *var; /* this or func is set */
    struct sim_func *func;
    int64_t addend;
};

/* A variable that holds no numbers: its 8 bytes are the handle of a texture or surface object. */
enum sim_opaque { SIM_NOT_OPAQUE, SIM_TEXREF, SIM_SURFREF, SIM_SAMPLERREF };

/* A .global .const .shared .local .param variable, of module or function. */
struct sim_var {
    char *name;
    enum sim_space space;
    enum sim_type type; /* of one element; of an opaque variable .b64 */
    enum sim_opaque opaque;
    uint32_t align; /* bytes; as declared, or the type's */
    uint64_t size;  /* total bytes; 0 for `.extern .shared x[]` */
    bool is_extern, is_weak, is_visible, is_managed;
    bool is_unsized;     /* declared [] : dynamic shared memory when space is SIM_SHARED */
    unsigned char *init; /* initial bytes, or NULL for zero ... */
    uint64_t init_size;  /* ... and how many; the rest up to size is zero */
    struct sim_reloc *relocs;
    unsigned nrelocs;
    uint64_t address; /* global and const: device address, set by the module loader. param: byte
                         offset in the function's parameter area, a kernel's from SIM_PARAM_BASE.
                         local and call-sequence param: byte offset in the function's frame. reg (a
                         .reg parameter): index in func->regs. shared: set per entry by decode.c,
                         not here */
    unsigned id;      /* index in image->vars or, at function scope, func->vars */
    unsigned input;   /* index of its text, if several are linked */
    struct sim_func *owner; /* NULL at module scope */
};

enum sim_operand_kind {
    SIM_O_REG,     /* reg                                             %r1   !%p1 (negated)   */
    SIM_O_IMM,     /* imm; fbits says how it was written              7  -3  0f3F800000  0d...  1.5
                      true */
    SIM_O_SREG,    /* name, imm = 0..3 for .x .y .z .w                %tid.x  %laneid        */
    SIM_O_SYM,     /* var or func, imm = byte offset                  g   g+4   vprintf      */
    SIM_O_MEM,     /* [base+imm]: base is reg (>= 0) or var, or neither (absolute); of a
                      texture or surface [base, {x, y}]: list[0] is the vector or a register  */
    SIM_O_VEC,     /* {a, b, c, d}: elements in list                                         */
    SIM_O_LIST,    /* (a, b): a call's return or argument list                               */
    SIM_O_PAIR,    /* d|p : list[0], list[1]                                                 */
    SIM_O_LABEL,   /* target = instruction index                                             */
    SIM_O_TARGETS, /* label of a .branchtargets list (brx.idx): list of SIM_O_LABEL          */
    SIM_O_PROTO,   /* label of a .callprototype (indirect call): proto                       */
    SIM_O_SINK     /* _                                                                      */
};

struct sim_operand {
    unsigned char kind;
    bool negated;            /* !p, or a unary minus before a register */
    unsigned char fbits;     /* SIM_O_IMM: 0 integer; bits in imm, 32: 0f, 64: 0d or decimal */
    unsigned char component; /* SIM_O_REG: 1..4 for %v.x .. of a vector register (0: none) */
    int reg;                 /* index into func->regs, or -1 */
    uint64_t imm;
    const char *name;     /* SIM_O_SREG: without the component, with the % */
    const char *elements; /* SIM_O_REG in a video instruction: "b3", "h10", or NULL */
    struct sim_var *var;
    struct sim_func *func;
    unsigned target;
    struct sim_operand *list;
    unsigned n;
    struct sim_proto *proto;
};

/* Which function of lower/ selects the handlers of an instruction. */
enum sim_select {
    SIM_SELECT_NONE,  /* not supported */
    SIM_SELECT_LANES, /* d = op(sources) for each lane */
    SIM_SELECT_MIXED,
    SIM_SELECT_F32X2,
    SIM_SELECT_LOP3_BOOL,
    SIM_SELECT_VIDEO,
    SIM_SELECT_SET,
    SIM_SELECT_SETP,
    SIM_SELECT_MOV,
    SIM_SELECT_CVT_INT,
    SIM_SELECT_CVTA,
    SIM_SELECT_ISSPACEP,
    SIM_SELECT_MAPA,
    SIM_SELECT_GETCTARANK,
    SIM_SELECT_LD,
    SIM_SELECT_ST,
    SIM_SELECT_ST_ASYNC,
    SIM_SELECT_ATOM,
    SIM_SELECT_RED,
    SIM_SELECT_RED_ASYNC,
    SIM_SELECT_WARP, /* d = op(sources) of the lanes in the last source */
    SIM_SELECT_VOTE,
    SIM_SELECT_ACTIVEMASK,
    SIM_SELECT_ELECT,
    SIM_SELECT_BAR_SYNC,
    SIM_SELECT_BAR_ARRIVE,
    SIM_SELECT_BAR_RED,
    SIM_SELECT_BAR_WARP,
    SIM_SELECT_CLUSTER_ARRIVE,
    SIM_SELECT_CLUSTER_WAIT,
    SIM_SELECT_FENCE,
    SIM_SELECT_BRA,
    SIM_SELECT_BRX,
    SIM_SELECT_CALL,
    SIM_SELECT_RET,
    SIM_SELECT_EXIT,
    SIM_SELECT_TRAP,
    SIM_SELECT_ALLOCA,
    SIM_SELECT_STACKSAVE,
    SIM_SELECT_STACKRESTORE,
    SIM_SELECT_NANOSLEEP,
    SIM_SELECT_NOTHING,
    SIM_SELECT_CREATEPOLICY,
    SIM_SELECT_CP_ASYNC,
    SIM_SELECT_CP_ARRIVE,
    SIM_SELECT_CP_BULK,
    SIM_SELECT_CP_TENSOR,
    SIM_SELECT_TENSORMAP_REPLACE,
    SIM_SELECT_TENSORMAP_COPY,
    SIM_SELECT_MBARRIER_INIT,
    SIM_SELECT_MBARRIER_INVAL,
    SIM_SELECT_MBARRIER_ARRIVE,
    SIM_SELECT_MBARRIER_TX,
    SIM_SELECT_MBARRIER_TEST,
    SIM_SELECT_TEX,
    SIM_SELECT_TXQ,
    SIM_SELECT_SULD,
    SIM_SELECT_SUST,
    SIM_SELECT_SURED,
    SIM_SELECT_SUQ,
    SIM_SELECT_ISTYPEP,
    SIM_SELECT_MMA,
    SIM_SELECT_WMMA_LOAD,
    SIM_SELECT_WMMA_STORE,
    SIM_SELECT_LDMATRIX,
    SIM_SELECT_STMATRIX,
    SIM_SELECT_MOVMATRIX,
    SIM_SELECTS
};

/* A row of the table in forms.h: an opcode with its modifiers, types and operands. */
struct sim_form {
    const char *op, *mods, *types, *args;
    enum sim_select select;
};

#define SIM_MAX_MODS 14
#define SIM_MAX_TYPES 4
#define SIM_MOD_TYPE 255
struct sim_instr {
    const struct sim_form *form;       /* that it matches */
    enum sim_type type[SIM_MAX_TYPES]; /* of the instruction, or of the registers that hold its
                                          formats */
    unsigned ntypes;
    unsigned char group[SIM_MAX_MODS]; /* of each modifier: SIM_MOD_TYPE for one of type[], else its
                                          place in the form, where every instruction has the same
                                          order */
    const char *op;                 /* "ld", "mad", "bar" ... interned: same text, same pointer */
    const char *mods[SIM_MAX_MODS]; /* "global", "v2", "L1::evict_last" ... without the dot,
                                       interned */
    unsigned nmods;
    int pred; /* guard: register index or -1 */
    bool pred_negated;
    struct sim_operand *opd; /* as written, destination first */
    unsigned n;
    unsigned line;   /* of the text, for logs and for faults */
    uint32_t unused; /* of a load, from its pragma: a bit for each byte that is not used */
};

struct sim_proto {
    struct sim_var *params;
    unsigned nparams;
    struct sim_var *rets;
    unsigned nrets;
};

struct sim_reg {
    char *name;
    enum sim_type type;
    unsigned char vec; /* 1, 2 or 4 elements */
};

struct sim_func {
    char *name;
    struct sim_image *image;
    unsigned id, input; /* index in image->funcs; index of its text, if several are linked */
    bool is_entry, is_extern, is_weak, is_visible, has_body;
    struct sim_var *params; /* space SIM_PARAM, address = offset with PTX alignment */
    unsigned nparams;
    struct sim_var *rets; /* the same, in a separate area */
    unsigned nrets;
    uint32_t param_bytes; /* end of the last parameter, no tail padding */
    struct sim_reg *regs;
    unsigned nregs;
    struct sim_var **vars; /* of function scope and any space, also call-sequence params */
    unsigned nvars;
    uint32_t frame_bytes; /* local variables and call-sequence params of one activation */
    uint32_t local_bytes; /* the first of them */
    struct sim_instr *instrs;
    unsigned ninstrs;
    uint32_t maxntid[3], reqntid[3], reqnctapercluster[3]; /* 0 when not given */
    uint32_t minnctapersm, maxnreg, maxclusterrank;
    bool is_taken;                              /* its address is, in the image */
    bool explicit_cluster, blocks_are_clusters; /* a cluster size must be given; the grid counts
                                                   clusters */
};

struct sim_image {
    unsigned version; /* .version 7.4 is 74 */
    unsigned sm;      /* .target sm_75 is 75 */
    char sm_suffix;   /* a for sm_90a, f for sm_100f, or 0 */
    unsigned address_size;
    struct sim_var **vars; /* of module scope */
    unsigned nvars;
    struct sim_func **funcs;
    unsigned nfuncs;
    struct sim_func **taken; /* those whose address is taken: what an indirect call may reach */
    unsigned ntaken;
    uint32_t const_bytes; /* of all variables in constant memory */
    void *arena;          /* owns every string and array above; store.c */
};

/* grows; the driver copies what fits into the user's buffer */
struct sim_log {
    char *text;
    size_t len, cap;
};
void sim_log_add(struct sim_log *log, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void sim_log_free(struct sim_log *log);

/* Parses `text` (NUL-terminated). Returns 0 and *out, or the CUresult that a driver returns: 218
   (syntax, unknown target, unknown name), 222 (.version above max_version, e.g. 90), 200 (not PTX
   at all). device_sm: PTX with a .target that it does not run is 218, too. Errors are written to
   `errors` in ptxas's words ("ptxas application ptx input,
   line 5; error   : ..."). An unsupported feature is 218 with its name and line. Unresolved externs
   other than the system functions are an error. */
int sim_image_parse(const char *text, unsigned max_version, unsigned device_sm,
        struct sim_log *errors, struct sim_image **out);

/* Links several texts to one image, each with a name for the log. Externs of one are resolved by
   the .visible and .weak definitions of the others: a duplicate or a mismatch is 300, a missing
   symbol 999, in nvlink's words. With `more`, nothing counts as missing yet, since a later input
   may bring it; the image then only shows the symbols so far. */
#define SIM_NO_FORMAT "error   : Binary format for key='0', ident='' is not recognized\n"
struct sim_input {
    const char *name, *text;
};
int sim_image_link(const struct sim_input *inputs, unsigned n, bool more, unsigned max_version,
        unsigned device_sm, struct sim_log *errors, struct sim_image **out);
void sim_image_free(struct sim_image *image);
struct sim_func *sim_image_func(const struct sim_image *image, const char *name);
struct sim_var *sim_image_var(const struct sim_image *image, const char *name);

#endif
