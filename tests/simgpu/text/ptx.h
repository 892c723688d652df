/* ptx.h - private to text/: the state its files share while a text is parsed.

   One `struct px` is one parse. All memory of the image comes from the store, which belongs to the
   image; nothing is freed separately. A syntax error or a lack of memory leaves through longjmp
   from px_fatal; any other error is a line in the log, and parsing continues. */
#ifndef SIM_PTX_H
#define SIM_PTX_H

#include "text.h"
#include <setjmp.h>

#define PX_MAX_DEPTH 200 /* nested scopes, parentheses, initialiser braces: bounds recursion */

enum px_token_kind {
    T_EOF,
    T_IDENT,
    T_DOT /* .name, with :: parts */,
    T_NUMBER,
    T_STRING,
    T_PUNCT
};

/* Two-character operators; a one-character operator is its own code. */
enum { P_SHL = 256, P_SHR, P_LE, P_GE, P_EQ, P_NE, P_AND, P_OR };

enum px_symbol_kind { PX_REG, PX_FAMILY /* %r<10> */, PX_VAR, PX_FUNC, PX_LABEL };

struct px_symbol {
    enum px_symbol_kind kind;
    unsigned depth; /* of the scope that declared it; 0 is the module */
    struct px_name *name;
    struct px_symbol *shadowed, *next; /* the name's outer meaning; the next symbol of the same
                                          scope */
    unsigned reg;       /* PX_REG: index in func->regs. PX_LABEL: instruction index */
    uint64_t count;     /* PX_FAMILY: registers are created at their first use */
    enum sim_type type; /* PX_FAMILY; PX_VAR of a module, also vec and dims */
    unsigned char vec;
    struct px_dims *dims;
    struct px_symbol *family; /* PX_REG that belongs to one */
    struct sim_var *var;
    struct sim_func *func;
    struct sim_proto *proto;     /* PX_LABEL of .callprototype */
    struct sim_operand *targets; /* PX_LABEL of .branchtargets */
    unsigned ntargets;
};

/* one per distinct identifier, directive or modifier of the text */
struct px_name {
    const char *text;
    unsigned len, hash;
    struct px_name *next;
    struct px_symbol *sym, *label; /* current innermost meanings; labels have a separate
                                      namespace */
    struct px_symbol *family;      /* that covers this name, valid while family_epoch is current */
    unsigned family_epoch;
    short mod, op, sreg; /* index in forms.h's tables: 0 not looked up yet, -1 none */
};

struct px_token {
    enum px_token_kind kind;
    unsigned line;
    const char *text; /* as written; without a T_DOT's dot, a T_STRING's quotes */
    unsigned len;
    int punct;
    struct px_name *name; /* T_IDENT, T_DOT */
    uint64_t value;       /* T_NUMBER */
    unsigned char fbits;  /* as in sim_operand */
    bool is_unsigned;
};

struct px_block {
    struct px_block *next;
    size_t used, cap;
};
/* image->arena */
struct px_store {
    struct px_block *blocks;
    struct px_name **table; /* kept for sim_image_func and sim_image_var */
    unsigned mask, count;
};

struct px_vec {
    void *data;
    size_t n, cap;
}; /* scratch; freed when the parse ends */

struct px_operand {
    struct sim_operand o;
    unsigned line;
    struct px_name *name;     /* of a symbol that is not resolved yet */
    const char *label_for;    /* the instruction, where only a label is allowed */
    bool was_symbol;          /* there the name of a register or variable was used */
    bool minus, indexed;      /* -%r, which only vmad accepts; g[3] */
    bool bad_address, beyond; /* [not an address]; [an address, coordinates] */
};

/* a use of a name without a meaning: unknown, or a later label */
struct px_pending {
    struct sim_operand *operand;
    struct px_name *name;
    unsigned line;
    const char *label_for;
    bool was_symbol;
};

struct px_scope {
    struct px_symbol *symbols, *labels;
    size_t pending;
    uint32_t param_bytes;
    bool has_family;
};

struct px {
    struct px_store *store;
    struct sim_image *image;
    struct sim_log *log;
    unsigned errors, max_version, device_sm;
    const struct sim_input *inputs;
    unsigned ninputs, input; /* `input` is the one being parsed */
    bool debug, has_debug;   /* .target debug; debug information is present */
    bool more;               /* inputs may follow: a missing symbol is no error yet */
    bool links;              /* the inputs are linked, also if it is one */
    bool independent;        /* .target texmode_independent: samplers are apart from textures */
    int result;
    jmp_buf bail;

    struct px_token t; /* the current token */
    const char *cur;   /* the text after it, */
    unsigned line;     /* and its line */

    struct sim_func *func; /* the function whose body is parsed, or NULL */
    struct px_scope scope[PX_MAX_DEPTH + 1];
    unsigned depth, epoch;
    uint32_t local_bytes, param_bytes, param_align; /* of func's frame */
    uint32_t unused;                                /* for the next instruction: sim_instr.unused */
    struct px_vec vars, funcs, instrs, regs, fvars, params, relocs, pending, stack /* px_operand */;
};

/* The functions of each file; a file calls only files that are above it here. */

/* log.c */
void px_error(struct px *px, unsigned line, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
void px_fatal(struct px *px, int result, unsigned line, const char *format, ...)
        __attribute__((noreturn, format(printf, 4, 5)));
void px_no_memory(struct px *px) __attribute__((noreturn));

/* store.c */
struct px_store *px_store_new(void);
void px_store_free(struct px_store *store);
void *px_alloc(struct px *px, size_t bytes); /* zeroed; never NULL */
char *px_strndup(struct px *px, const char *text, size_t n);
void *px_push(struct px *px, struct px_vec *v, size_t size); /* a new zeroed element at the end */
/* a copy that is valid as long as the image */
void *px_keep(struct px *px, const void *data, size_t n, size_t size);
struct px_name *px_intern(struct px *px, const char *text, size_t n);
struct px_name *px_find_name(const struct px_store *store, const char *text, size_t n);

/* tables.c */
const char *px_type_name(enum sim_type t);
int px_special(struct px_name *name);       /* > 0: a special register */
char px_special_kind(struct px_name *name); /* of one: its letter in forms.h */
bool px_is_system(const char *name);        /* a function that the executor provides */
/* the same, and those of the device runtime */
bool px_is_provided(const struct px *px, const char *name);
void px_require(struct px *px, unsigned line, const char *feature, unsigned sm, unsigned version);

/* lex.c */
void px_next(struct px *px);                             /* reads the next token into px->t */
void px_relex_number(struct px *px);                     /* makes the T_DOT `.5` a T_NUMBER */
void px_syntax(struct px *px) __attribute__((noreturn)); /* Parsing error near the current token */
uint64_t px_number(struct px *px);                       /* reads an integer */
struct px_name *px_new_name(struct px *px);              /* reads a name that is declared */

static inline bool px_is(const struct px *px, int punct) {
    return px->t.kind == T_PUNCT && px->t.punct == punct;
}
static inline bool px_accept(struct px *px, int punct) {
    if (!px_is(px, punct)) return false;
    px_next(px);
    return true;
}

static inline void px_expect(struct px *px, int punct) {
    if (!px_is(px, punct)) px_syntax(px);
    px_next(px);
}

static inline bool px_dot(const struct px *px, const char *name) {
    return px->t.kind == T_DOT && px->t.len == strlen(name) &&
            memcmp(px->t.text, name, px->t.len) == 0;
}
static inline bool px_accept_dot(struct px *px, const char *name) {
    if (!px_dot(px, name)) return false;
    px_next(px);
    return true;
}

/* expression.c */
struct px_value {
    bool is_float, is_unsigned;
    unsigned char fbits;
    uint64_t bits;
};
struct px_value px_expression(struct px *px);
uint64_t px_integer(struct px *px);

/* scope.c */
/* not a label; NULL: no meaning */
struct px_symbol *px_lookup(struct px *px, struct px_name *name);
struct px_symbol *px_bind(
        struct px *px, struct px_name *name, enum px_symbol_kind kind, unsigned depth);
struct px_symbol *px_declare(
        struct px *px, struct px_name *name, enum px_symbol_kind kind, unsigned line);
unsigned px_new_register(
        struct px *px, struct px_name *name, enum sim_type type, unsigned char vec);
void px_open_scope(struct px *px);
void px_close_scope(struct px *px);
void px_forget_module(struct px *px); /* its names have no meaning in the next input */

/* check.c */
void px_check(struct px *px, struct sim_instr *in, struct px_name *op, struct px_name *const *mods);

/* operand.c */
void px_instruction(struct px *px, int pred, bool pred_negated);
void px_push_label(struct px *px);
/* pops the stack down to base */
struct sim_operand *px_keep_operands(struct px *px, size_t base, unsigned *n);

/* initial.c */
enum { PX_MAX_DIMS = 8 };
struct px_dims {
    uint64_t size[PX_MAX_DIMS];
    unsigned n;
    bool first_open;
};
void px_initial_value(struct px *px, struct sim_var *v, struct px_dims *dims, unsigned char vec);

/* declare.c */
struct px_linkage {
    bool is_extern, is_weak, is_visible, is_common;
};
bool px_at_declaration(struct px *px);
void px_variables(struct px *px, struct px_linkage l);
void px_attributes(struct px *px, bool *managed);
struct sim_var *px_parameters(struct px *px, unsigned *count, const char *entry);
void px_bind_parameters(struct px *px, struct sim_var *v, unsigned n, unsigned line);
uint64_t px_lay_out(struct sim_var *v, unsigned n, uint64_t base);

/* directive.c */
enum px_place { PX_IN_MODULE, PX_BEFORE_BODY, PX_IN_BODY };
/* false: there is none that is allowed here */
bool px_directive(struct px *px, enum px_place place);
bool px_tune(struct px *px, struct sim_func *f); /* whether there was a directive */

/* parse.c */
void px_parse_module(struct px *px);

/* header.c */
void px_parse_header(struct px *px);

/* merge.c */
void px_merge(struct px *px);

static inline uint32_t px_align_up(uint32_t value, uint32_t align) {
    return (value + (align - 1)) & ~(align - 1);
}
/* saturates: sizes that no device has fail at allocation */
static inline uint64_t px_times(uint64_t a, uint64_t b) {
    return a && b > (UINT64_C(1) << 60) / a ? UINT64_C(1) << 60 : a * b;
}

#endif
