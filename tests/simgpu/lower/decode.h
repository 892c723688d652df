/* decode.h - private to lower/: the state its files share while an entry is decoded. */
#ifndef SIM_DECODE_H
#define SIM_DECODE_H

#include "lower.h"
#include "../execute/execute.h"
#include <setjmp.h>

/* insn's imm becomes the index of the target's first insn */
struct dec_fixup {
    uint32_t insn;
    unsigned target;
};

/* parallel to the sim_code_func of the same index */
struct dec_func {
    struct sim_func *func;
    uint32_t *reg;               /* offset of each register's first element */
    uint32_t *param_at, *ret_at; /* offsets in the parameter and result areas */
    uint32_t params_size, rets_size;
    uint32_t live;           /* words of registers, at most */
    uint32_t calls;          /* the first of its calls in d->calls, or 0 */
    unsigned circle, lowest; /* functions that call each other have one number: that of the first;
                                lowest: until it is known */
    bool is_open, calls_itself; /* is_open: its circle is not known yet */
    bool indirect, allocates;   /* allocates: it has alloca or stackrestore */
    bool reaches_all;           /* it reaches an indirect call */
    uint32_t deepest, stack;    /* bytes of its deepest chain of calls: here, and on a GPU */
};

struct dec {
    struct sim_code *code;
    struct sim_log *log;
    struct sim_image *image;
    jmp_buf failed;
    struct dec_func *funcs;
    uint32_t cap_funcs, cap_code_funcs, cap_order, cap_open, cap_direct;
    unsigned *order;
    unsigned norder;       /* functions, callees first */
    unsigned *open, nopen; /* functions whose circle is not known yet */
    struct dec_direct {
        unsigned callee;
        uint32_t next;
    } * direct; /* calls; 0 is none */
    uint32_t ndirect;
    unsigned depth;    /* of calls, during the search for functions */
    unsigned now;      /* index of the function being emitted */
    uint32_t regs_top; /* size of the register file so far */
    uint32_t cap_insns, cap_consts, cap_calls, cap_labels, cap_fetches, cap_mmas, cap_copies;
    struct dec_fixup *fixups;
    unsigned nfixups, cap_fixups;
    uint32_t *start; /* where the code of each instruction begins, while a function is emitted */
    const struct sim_var **shared;
    uint32_t *shared_at;
    unsigned nshared;
    uint32_t cap_shared, cap_shared_at;
    struct sim_map shared_of; /* a shared variable to its index in these */
    uint32_t *offsets;        /* of the parameters and results of the call being emitted */
    /* scratch registers of the current instruction: pred, 4, 8 bytes */
    uint32_t temp[3][24];
    unsigned ntemp[3], made[3];

    const struct sim_instr *in; /* the current instruction; what its modifiers say: */
    uint32_t flags; /* SIM_I_ROUND, _FTZ, _SAT, _RELU, _NAN, _XORSIGN, _SECOND, _STRONG, _ORDERS,
                       DEC_SATFINITE */
    unsigned vec;   /* .v2 .v4 .v8, else 1 */
    enum sim_space space;
    const char *rest[SIM_MAX_MODS + 1]; /* all others, in the order of forms.h */
    unsigned nrest;                     /* not yet taken */
    uint32_t guard, guard_xor;
    struct {
        uint32_t to, from;
        enum sim_type type;
        bool whole;
    } after[8];      /* whole: 128 bits */
    unsigned nafter; /* widening moves after the instruction */
};

#define DEC_SATFINITE (1u << SIM_I_USER)
#define DEC_SAVED_STACK 64u /* bytes at the end of such a frame */

/* emit.c: operations, errors */
/* NULL: there is none */
sim_handler *dec_operation(const char *name, enum sim_type t, enum sim_variant v);
/* the operation that `op`, the rest of the modifiers, `first` unless it is SIM_NOTYPE, t and the
   flags name */
sim_handler *dec_find(struct dec *d, const char *op, enum sim_type first, enum sim_type t);
unsigned dec_hash(const char *text);
bool dec_has(const struct dec *d, const char *mod); /* is it in the rest? */
/* removes a modifier from the rest; false: not there */
bool dec_take(struct dec *d, const char *mod);
void dec_fail(struct dec *d, const char *format, ...)
        __attribute__((noreturn, format(printf, 2, 3)));
void dec_unsupported(struct dec *d) __attribute__((noreturn)); /* reports the current instruction */
void *dec_grow(struct dec *d, void *p, uint32_t *cap, uint32_t n, size_t size);

/* emit.c: instructions, valid until the next one; a plain operation to, a, b */
struct sim_insn *dec_emit(struct dec *d, sim_handler *run); /* NULL: not supported */
struct sim_insn *dec_emit_untyped(struct dec *d, const char *name);
struct sim_insn *dec_emit_to(
        struct dec *d, const char *name, enum sim_type t, uint32_t to, uint32_t a, uint32_t b);
/* from 4 to 8 bytes, or from 8 to 4 */
void dec_resize(struct dec *d, unsigned size, uint32_t to, uint32_t from);
void dec_done(struct dec *d); /* the widening moves */
void dec_fixup(struct dec *d, uint32_t insn, unsigned target);

/* emit.c: constants, registers, operands */
uint32_t dec_const(struct dec *d, uint64_t value, unsigned size); /* 0: predicate */
uint32_t dec_new_place(struct dec *d, uint32_t bytes, uint32_t align);
uint32_t dec_temp(struct dec *d, unsigned size);
void dec_pass_stack(struct dec *d, bool save); /* select_flow.c: at a function's start and end */
uint32_t dec_half(struct dec *d, const struct sim_operand *o, unsigned k); /* 64 bits of 128 */
uint32_t dec_src(struct dec *d, const struct sim_operand *o, enum sim_type t);
uint32_t dec_dst(struct dec *d, const struct sim_operand *o, enum sim_type t);
/* of {a, b}, a vector or special register */
struct sim_operand dec_element(const struct sim_operand *o, unsigned k);
/* is it in the activation's frame? */
bool dec_frame_offset(struct dec *d, const struct sim_var *v, uint32_t *offset);
/* of a function that was reached */
unsigned dec_index(const struct dec *d, const struct sim_func *f);
/* may a call of one reach the other? */
bool dec_returns_to(const struct dec *d, unsigned callee, unsigned caller);
/* the handle in a texture or surface variable, or a kernel's parameter */
uint32_t dec_handle(struct dec *d, const struct sim_var *v);
uint32_t dec_shared_at(struct dec *d, const struct sim_var *v);
/* the part of shared addresses that names the block, in code that knows clusters */
uint32_t dec_shared_rank(struct dec *d);
static inline uint64_t dec_address(const struct sim_var *v) { /* of all other variables */
    return v->address + (v->space == SIM_PARAM ? SIM_PARAM_BASE : 0);
}
/* parameters, results: returns their size */
uint32_t dec_lay_out(const struct sim_var *v, unsigned n, uint32_t *at);
unsigned dec_reg_size(enum sim_type t); /* 0 predicate, 4, 8 */

/* select_mem.c: the address of an operand, as an instruction has it */
struct dec_place {
    uint32_t base;
    int64_t imm;
    uint32_t flags; /* SIM_I_BASE64 */
    enum sim_space space;
};
struct dec_place dec_place_of(struct dec *d, const struct sim_operand *o, enum sim_space space);
/* `more`: added to it */
void dec_set_place(struct dec *d, struct sim_insn *i, const struct dec_place *p, int64_t more);
/* what schedule.c needs to know of an access */
uint32_t dec_seen(enum sim_space space, bool writes, unsigned bytes);

/* regs.c: assigns each register of f a number within its class (predicate, 4, 8 bytes), and counts
   the numbers. Returns how many words of registers are live at once, at most */
uint32_t dec_allocate(const struct sim_func *f, uint32_t *number, uint32_t count[3]);

/* The functions that select the handlers of the current instruction and emit them. Its form has
   checked the operands, except where a letter in forms.h allows anything. */
typedef void dec_selector(struct dec *d);
dec_selector dec_ld, dec_st, dec_st_async, dec_atom, dec_red, dec_red_async, dec_cvta, dec_isspacep,
        dec_mapa, dec_getctarank, dec_createpolicy, dec_cp_async, dec_cp_arrive, dec_cp_bulk,
        dec_cp_tensor, dec_tensormap_replace, dec_tensormap_copy, dec_mbarrier_init,
        dec_mbarrier_inval, dec_mbarrier_arrive, dec_mbarrier_tx, dec_mbarrier_test; /* select_mem.c
                                                                                      */
dec_selector dec_tex, dec_txq, dec_suq, dec_suld, dec_sust, dec_sured,
        dec_istypep; /* select_image.c
                      */
dec_selector dec_mma, dec_wmma_load, dec_wmma_store, dec_ldmatrix, dec_stmatrix,
        dec_movmatrix; /* select_matrix.c */
dec_selector dec_bra, dec_brx, dec_call, dec_ret, dec_exit, dec_trap, dec_nanosleep, dec_nothing,
        dec_alloca, dec_stacksave, dec_stackrestore, dec_fence, dec_bar_sync, dec_bar_arrive,
        dec_bar_red, dec_bar_warp, dec_cluster_arrive, dec_cluster_wait, dec_warp, dec_vote,
        dec_elect, dec_activemask; /* select_flow.c */
void dec_select(struct dec *d);    /* select.c: by the form of the instruction */

#endif
