/* select_matrix.c - the handler for each instruction with matrices. Its operands are more than an
   instruction has room for: they are in code->mmas. */
#include "decode.h"

static struct sim_mma read_mma(struct dec *d) {
    struct sim_mma x;
    if (!sim_mma_read(&x, d->in->op, d->in->mods, d->in->nmods)) dec_unsupported(d);
    d->nrest = 0;
    return x;
}

/* The registers of a matrix, or constants. */
static void read_fragment(struct dec *d, struct sim_mma *x, enum sim_matrix which,
        const struct sim_operand *o, bool written) {
    struct sim_fragment f = sim_fragment_of(x, which);
    const enum sim_type t = f.type == SIM_E_F64 ? SIM_F64 : f.type == SIM_E_F32 ? SIM_F32 : SIM_B32;
    for (unsigned k = 0; k < f.registers; k++) {
        const struct sim_operand e = dec_element(o, k);
        f.at[k] = written ? dec_dst(d, &e, t) : dec_src(d, &e, t);
    }
    x->of[which] = f;
}

/* All lanes of the warp execute it together. */
static struct sim_insn *emit_mma(struct dec *d, const char *name, const struct sim_mma *x) {
    struct sim_code *c = d->code;
    const uint32_t all = dec_const(d, ~0u, 4);
    c->mmas = dec_grow(d, c->mmas, &d->cap_mmas, c->nmmas + 1, sizeof *c->mmas);
    c->mmas[c->nmmas] = *x;
    struct sim_insn *i = dec_emit_untyped(d, name);
    i->c = c->nmmas++;
    i->e = all;
    return i;
}

void dec_mma(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    struct sim_mma x = read_mma(d);
    read_fragment(d, &x, SIM_MATRIX_A, &o[1], false);
    read_fragment(d, &x, SIM_MATRIX_B, &o[2], false);
    read_fragment(d, &x, SIM_MATRIX_C, &o[3], false);
    if (x.how.sparse) {
        x.metadata = dec_src(d, &o[4], SIM_B32);
        x.selector = (unsigned)o[5].imm;
    }
    read_fragment(d, &x, SIM_MATRIX_D, &o[0], true);
    emit_mma(d, x.how.d == SIM_E_F64 ? "mma_64" : "mma_32", &x);
}

/* memory: which operand is the address; the other one is the matrix */
static struct sim_insn *emit_access(
        struct dec *d, const char *name, struct sim_mma *x, unsigned memory, uint32_t flags) {
    const struct dec_place p = dec_place_of(d, &d->in->opd[memory], d->space);
    read_fragment(d, x, x->which, &d->in->opd[!memory], memory == 1);
    struct sim_insn *i = emit_mma(d, name, x);
    dec_set_place(d, i, &p, 0);
    i->width = (uint8_t)p.space;
    i->flags |= flags;
    return i;
}

/* A lane's earlier stores must be visible in its part of the matrix. */
static void wmma_access(struct dec *d, const char *name, unsigned memory) {
    const struct sim_instr *in = d->in;
    struct sim_mma x = read_mma(d);
    const struct sim_products *p = &x.how;
    /* without a stride, that of the whole matrix */
    const unsigned rows = x.which == SIM_MATRIX_B ? p->k : p->m,
                   columns = x.which == SIM_MATRIX_A ? p->k : p->n;
    const uint32_t stride = in->n > 2 ? dec_src(d, &in->opd[2], SIM_U32)
                                      : dec_const(d, x.a_col ? rows : columns, 4);
    emit_access(d, name, &x, memory, SIM_I_ORDERS | dec_seen(SIM_GENERIC, memory == 0, 0))->b =
            stride;
}

void dec_wmma_load(struct dec *d) { wmma_access(d, "wmma_load", 1); }
void dec_wmma_store(struct dec *d) { wmma_access(d, "wmma_store", 0); }

static void squares(struct dec *d, const char *name, const char *transposed, unsigned memory) {
    const bool trans = dec_has(d, "trans");
    struct sim_mma x = read_mma(d);
    emit_access(d, trans ? transposed : name, &x, memory, dec_seen(SIM_SHARED, memory == 0, 16));
}

void dec_ldmatrix(struct dec *d) { squares(d, "ldmatrix", "ldmatrix_trans", 1); }
void dec_stmatrix(struct dec *d) { squares(d, "stmatrix", "stmatrix_trans", 0); }

void dec_movmatrix(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    const uint32_t a = dec_src(d, &o[1], SIM_B32), to = dec_dst(d, &o[0], SIM_B32),
                   all = dec_const(d, ~0u, 4);
    d->nrest = 0;
    struct sim_insn *i = dec_emit_untyped(d, "movmatrix");
    i->d = to;
    i->a = a;
    i->e = all;
}
