/* decode.h - private to lower/: the state its files share while an entry is decoded. */
#ifndef SIM_DECODE_H
#define SIM_DECODE_H

#include "lower.h"
#include "../execute/execute.h"
#include <setjmp.h>

#define MAX_TYPES 4

struct dec_fixup { uint32_t insn; unsigned target; };            /* insn's imm becomes the index
                                                                    of the target's first insn */

struct dec_func {                                                 /* parallel to the sim_code_func of the same index */
    struct sim_func *func;
    uint32_t *reg;                                                /* offset of each register's first element */
    uint32_t *param_at, *ret_at;                                  /* offsets in the parameter and result areas */
    uint32_t params_size, rets_size;
    uint8_t *calls;                                               /* by function index: this function reaches it */
    bool indirect;
    uint32_t deepest;
};

struct dec {
    struct sim_code *code;
    struct sim_log *log;
    struct sim_image *image;
    jmp_buf failed;
    struct dec_func *funcs;
    unsigned *order;
    unsigned norder;                             /* functions, callees first */
    unsigned depth;                                               /* of calls, during the search for functions */
    unsigned now;                                                 /* index of the function being emitted */
    uint32_t regs_top;                                            /* size of the register file so far */
    uint32_t cap_insns, cap_consts, cap_calls, cap_labels;
    struct dec_fixup *fixups;
    unsigned nfixups, cap_fixups;
    uint32_t *start;                                              /* where the code of each instruction
                                                                     begins, while a function is emitted */
    const struct sim_var **shared;
    uint32_t *shared_at;
    unsigned nshared;
    uint32_t *offsets;                                            /* of the parameters and results
                                                                     of the call being emitted */
    /* scratch registers of the current instruction: pred, 4, 8 bytes */
    uint32_t temp[3][24];
    unsigned ntemp[3], made[3];

    const struct sim_instr *in;                                   /* the current instruction, with
                                                                     its modifiers classified: */
    enum sim_type type[MAX_TYPES];
    unsigned ntypes;
    uint32_t flags;                                               /* SIM_I_ROUND, _FTZ, _SAT, _RELU,
                                                                     _NAN, _XORSIGN, _STRONG */
    bool rounds_to_int;
    unsigned vec;                                                 /* .v2 .v4 .v8, else 1 */
    enum sim_space space;
    const char *rest[SIM_MAX_MODS];
    unsigned nrest;               /* not yet taken */
    uint32_t guard, guard_xor;
    struct { uint32_t to, from; const char *move; } after[8];
    unsigned nafter; /* widening moves after the instruction */
};

sim_handler *sim_handler_named(const char *name);                 /* NULL: there is none */
void dec_fail(struct dec *d, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void dec_unsupported(struct dec *d) __attribute__((noreturn));    /* reports the current instruction */
struct sim_insn *dec_emit(struct dec *d, const char *handler);    /* valid until the next call */
struct sim_insn *dec_emit_to(struct dec *d, const char *handler, uint32_t to, uint32_t a, uint32_t b);
uint32_t dec_const(struct dec *d, uint64_t value, unsigned size); /* 0: predicate */
uint32_t dec_temp(struct dec *d, unsigned size);
uint32_t dec_src(struct dec *d, const struct sim_operand *o, enum sim_type t);
uint32_t dec_dst(struct dec *d, const struct sim_operand *o, enum sim_type t);
uint32_t dec_sreg(struct dec *d, const struct sim_operand *o, unsigned size);
bool dec_frame_offset(struct dec *d, const struct sim_var *v, uint32_t *offset); /* is it in the activation's frame? */
uint32_t dec_shared_at(struct dec *d, const struct sim_var *v);
uint32_t dec_shared_rank(struct dec *d);                          /* the part of shared addresses that names the
                                                                     block, in code that knows clusters */
static inline uint64_t dec_address(const struct sim_var *v) {     /* of all other variables */
    return v->address + (v->space == SIM_PARAM ? SIM_PARAM_BASE : 0);
}
void dec_done(struct dec *d);                                     /* emits the widening moves */
int dec_system(const struct sim_func *f);                         /* 1 vprintf, 2 __assertfail,
                                                                     3 malloc, 4 free, 0 none */
uint32_t dec_lay_out(const struct sim_var *v, unsigned n, uint32_t *at);
unsigned dec_reg_size(enum sim_type t);                           /* 0 predicate, 4, 8 */
void dec_fixup(struct dec *d, uint32_t insn, unsigned target);
void *dec_grow(struct dec *d, void *p, uint32_t *cap, uint32_t n, size_t size);

/* regs.c: assigns each register of f a number within its class (predicate, 4, 8 bytes), and counts the numbers */
void dec_allocate(const struct sim_func *f, uint32_t *number, uint32_t count[3]);
void dec_select(struct dec *d);                                   /* select.c: emits the current instruction */
void dec_memory(struct dec *d);                                   /* select_mem.c: ld st atom
                                                                     red cp mbarrier cvta ... */
bool dec_take(struct dec *d, const char *mod);                    /* removes a modifier from
                                                                     the rest; false: not there */

static inline bool dec_is(const struct dec *d, const char *op) { return strcmp(d->in->op, op) == 0; }

#endif
