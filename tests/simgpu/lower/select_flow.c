/* select_flow.c - control flow, calls, barriers, and the operations of a warp. */
#include "decode.h"

/* -- calls */

static void pass(struct dec *d, struct sim_pass *p, const struct sim_operand *o, uint32_t at,
        uint64_t size, bool result) {
    uint32_t frame = 0;
    p->size = (uint32_t)size;
    p->reg = 0;
    if (o->kind == SIM_O_SYM && o->imm) dec_unsupported(d);
    if (!(o->kind == SIM_O_SYM && o->var && dec_frame_offset(d, o->var, &frame))) {
        const struct sim_func *f = d->funcs[d->now].func;
        enum sim_type t = size == 8 ? SIM_B64 : SIM_B32;
        if (o->kind == SIM_O_REG) t = f->regs[o->reg].type;
        if (dec_reg_size(t) != 4 && dec_reg_size(t) != 8) dec_unsupported(d);
        frame = result ? dec_dst(d, o, t) : dec_src(d, o, t);
        p->reg = (uint8_t)dec_reg_size(t);
        if (size > p->reg) dec_unsupported(d); /* a constant for a struct */
    }
    p->from = result ? at : frame;
    p->to = result ? frame : at;
}

/* 1 vprintf, 2 __assertfail, 3 malloc, 4 free, 5 the device runtime, 0 none */
enum { NESTED = 5 };
static int system_function(const struct sim_func *f) {
    static const char *const names[] = { "vprintf", "__assertfail", "malloc", "free" };
    for (int k = 0; k < 4 && !f->has_body; k++)
        if (!strcmp(f->name, names[k])) return k + 1;
    return !f->has_body && sim_nested_find(f->name) >= 0 ? NESTED : 0;
}

/* Whether the text declares it as CUDA does. */
static bool nested_fits(const struct sim_func *f, int call) {
    const char *bytes = call % SIM_NESTED_PER_THREAD < SIM_NESTED_COUNT ? sim_nested_bytes(call)
                                                                        : NULL;
    unsigned k = 0;
    for (; bytes && *bytes != ':'; bytes++, k++)
        if (k >= f->nparams || f->params[k].size != (*bytes == 'C' ? 12 : (unsigned)(*bytes - '0')))
            return false;
    return bytes && k == f->nparams && f->nrets == 1 &&
            f->rets[0].size == (unsigned)(bytes[1] - '0');
}

/* The executor's own functions take and return the types that CUDA declares:
   at most 8 bytes each, and a result of 4 (vprintf) or 8 (malloc). */
static bool system_fits(const struct sim_func *f, int system) {
    if (system == NESTED) return nested_fits(f, sim_nested_find(f->name));
    bool fits = f->nparams <= 5 && f->nrets <= 1 &&
            (!f->nrets || f->rets[0].size == (system == 3 ? 8 : 4));
    for (unsigned k = 0; k < f->nparams; k++) fits &= f->params[k].size <= 8;
    return fits;
}

void dec_call(struct dec *d) {
    const struct sim_operand *o = d->in->opd, *rets = NULL, *args = NULL, *target, *proto = NULL;
    struct sim_code *c = d->code;
    unsigned n = 0;
    dec_take(d, "uni");
    if (n < d->in->n && o[n].kind == SIM_O_LIST) rets = &o[n++];
    target = &o[n++];
    if (n < d->in->n && o[n].kind == SIM_O_LIST) args = &o[n++];
    if (n < d->in->n) proto = &o[n++];
    const int system = target->kind == SIM_O_SYM && target->func ? system_function(target->func)
                                                                 : 0;
    const bool indirect = target->kind == SIM_O_REG;
    if (!indirect && !(target->kind == SIM_O_SYM && target->func)) dec_unsupported(d);
    if (!indirect && (system ? !system_fits(target->func, system) : !target->func->has_body))
        dec_fail(d, "Function '%s' is not supported by this CPU device", target->func->name);
    if (indirect && !(proto && proto->kind == SIM_O_PROTO)) dec_unsupported(d);

    const struct sim_var *params = indirect ? proto->proto->params : target->func->params,
                         *results = indirect ? proto->proto->rets : target->func->rets;
    const unsigned nparams = indirect ? proto->proto->nparams : target->func->nparams,
                   nresults = indirect ? proto->proto->nrets : target->func->nrets;
    c->calls = dec_grow(d, c->calls, &d->cap_calls, c->ncalls + 1, sizeof *c->calls);
    const unsigned at = c->ncalls++;
    struct sim_callsite site = { 0 };
    c->calls[at] = site;
    free(d->offsets);
    uint32_t *offset = d->offsets = calloc(nparams + nresults + 1, sizeof *offset);
    site.args = calloc((args ? args->n : 0) + 1, sizeof *site.args);
    site.rets = calloc((rets ? rets->n : 0) + 1, sizeof *site.rets);
    c->calls[at] = site;
    if (!offset || !site.args || !site.rets) dec_fail(d, "Out of memory");
    site.args_end = dec_lay_out(params, nparams, offset);
    site.rets_end = dec_lay_out(results, nresults, offset + nparams);
    for (unsigned k = 0; args && k < args->n && k < nparams; k++)
        pass(d, &site.args[site.nargs++], &args->list[k], offset[k], params[k].size, false);
    for (unsigned k = 0; rets && k < rets->n && k < nresults; k++)
        pass(d, &site.rets[site.nrets++], &rets->list[k], offset[nparams + k], results[k].size,
                true);
    site.frame = c->funcs[d->now].frame;
    if (!indirect && !system) {
        const unsigned callee = dec_index(d, target->func);
        site.callee = &c->funcs[callee];
        site.recursive = dec_returns_to(d, callee, d->now);
    } else site.recursive = indirect; /* the target is unknown */
    c->calls[at] = site;
    const uint32_t a = indirect ? dec_src(d, target, SIM_B64) : 0;
    static const char *const handlers[] = { "call_direct", "call_vprintf", "call_assertfail",
        "call_malloc", "call_free", "call_nested" };
    const unsigned call = system == NESTED ? (unsigned)sim_nested_find(target->func->name) : 0;
    c->info.uses_heap |= system == 3 || system == 4 ||
            (system == NESTED && (call == SIM_N_Malloc || call == SIM_N_Free));
    struct sim_insn *i = dec_emit_untyped(d, indirect ? "call_indirect" : handlers[system]);
    i->imm = at;
    i->a = a;
    if (system) i->flags = SIM_I_ORDERS; /* it reads the thread's memory directly */
    if (system == NESTED) i->flags |= SIM_I_SEEN | (8 | call << 4) << SIM_I_USER;
}

/* -- branches, returns, and what does little or nothing */

void dec_bra(struct dec *d) {
    dec_take(d, "uni");
    dec_emit_untyped(d, "bra");
    dec_fixup(d, d->code->ninsns - 1, d->in->opd[0].target);
}

void dec_brx(struct dec *d) {
    struct sim_code *c = d->code;
    const struct sim_operand *o = d->in->opd;
    const uint32_t a = dec_src(d, &o[0], SIM_U32), n = o[1].n;
    d->nrest = 0;
    c->labels = dec_grow(d, c->labels, &d->cap_labels, c->nlabels + n + 1, sizeof *c->labels);
    c->labels[c->nlabels] = n;
    for (uint32_t k = 0; k < n; k++) c->labels[c->nlabels + 1 + k] = o[1].list[k].target;
    struct sim_insn *i = dec_emit_untyped(d, "brx");
    i->a = a;
    i->imm = c->nlabels;
    c->nlabels += n + 1;
}

/* A function that allocates keeps its caller's offset at the end of its frame. */
void dec_pass_stack(struct dec *d, bool save) {
    const struct dec_func *f = &d->funcs[d->now];
    if (!f->allocates || f->func->is_entry) return;
    dec_emit_to(d, save ? "st_local" : "ld_local", SIM_U32, 2 * d->code->sp, 2 * d->code->fp, 0)
            ->imm = d->code->funcs[d->now].frame - DEC_SAVED_STACK;
}

void dec_ret(struct dec *d) {
    dec_take(d, "uni");
    dec_pass_stack(d, false);
    dec_emit_untyped(d, d->funcs[d->now].func->is_entry ? "exit_lanes" : "ret");
}

void dec_exit(struct dec *d) { dec_emit_untyped(d, "exit_lanes"); }
void dec_trap(struct dec *d) { dec_emit_untyped(d, "trap"); }
void dec_nanosleep(struct dec *d) { dec_emit_untyped(d, "sleep_lanes"); }

/* -- the stack: memory above all frames, used from its end; each lane counts its bytes */

void dec_alloca(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    const enum sim_type t = d->in->type[0];
    const uint32_t size = dec_src(d, &o[1], t), to = dec_dst(d, &o[0], t);
    struct sim_insn *i = dec_emit_untyped(d, t == SIM_U64 ? "alloca_64" : "alloca_32");
    i->d = to;
    i->a = size;
    i->b = 2 * d->code->sp;
    i->c = dec_const(d, d->in->n > 2 && o[2].imm > 8 ? o[2].imm : 8, 8);
    i->imm = d->code->stack_top;
}

void dec_stacksave(struct dec *d) {
    const enum sim_type t = d->in->type[0];
    const uint32_t to = dec_dst(d, &d->in->opd[0], t), sp = t == SIM_U64 ? dec_temp(d, 4) : to;
    dec_emit_to(d, "sub", SIM_U32, sp, dec_const(d, d->code->stack_top, 4), 2 * d->code->sp);
    if (t == SIM_U64) dec_resize(d, 8, to, sp);
}

void dec_stackrestore(struct dec *d) {
    const uint32_t a = dec_src(d, &d->in->opd[0], d->in->type[0]),
                   low = d->in->type[0] == SIM_U64 ? dec_temp(d, 4) : a;
    if (low != a) dec_resize(d, 4, low, a);
    dec_emit_to(d, "sub", SIM_U32, 2 * d->code->sp, dec_const(d, d->code->stack_top, 4), low);
}

void dec_nothing(struct dec *d) {
    d->nrest = 0;
    dec_emit_untyped(d, "nothing");
}

/* -- barriers and fences */

void dec_fence(struct dec *d) {
    d->nrest = 0;
    dec_emit_untyped(d, "fence")->flags = SIM_I_ORDERS;
}

static uint32_t mode_of(struct dec *d, const char *const *names, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (dec_take(d, names[k])) return k;
    dec_unsupported(d);
}

enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC }; /* then _AND, _OR: the order of execute/sync.c */

/* operands from `at` on: the barrier's number and, if there are more, the number of threads */
static struct sim_insn *emit_bar(struct dec *d, uint32_t mode, unsigned at, bool counted) {
    const struct sim_operand *o = &d->in->opd[at];
    const uint32_t a = dec_src(d, &o[0], SIM_U32), c = counted ? dec_src(d, &o[1], SIM_U32) : 0;
    struct sim_insn *i = dec_emit_untyped(d, "bar");
    i->a = a;
    i->c = c;
    i->flags = SIM_I_ORDERS | mode << SIM_I_USER | (counted ? SIM_I_COUNT : 0);
    return i;
}

void dec_bar_sync(struct dec *d) { emit_bar(d, BAR_SYNC, 0, d->in->n > 1); }

void dec_bar_arrive(struct dec *d) {
    dec_take(d, "arrive");
    emit_bar(d, BAR_ARRIVE, 0, true);
}

void dec_bar_red(struct dec *d) {
    static const char *const modes[] = { "popc", "and", "or" };
    const struct sim_operand *o = d->in->opd;
    dec_take(d, "red");
    const uint32_t mode = BAR_POPC + mode_of(d, modes, 3),
                   b = dec_src(d, &o[d->in->n - 1], SIM_PRED),
                   to = dec_dst(d, &o[0], mode == BAR_POPC ? SIM_U32 : SIM_PRED);
    struct sim_insn *i = emit_bar(d, mode, 1, d->in->n > 3);
    i->d = to;
    i->b = b;
}

void dec_bar_warp(struct dec *d) {
    dec_take(d, "warp");
    const uint32_t e = dec_src(d, &d->in->opd[0], SIM_U32);
    struct sim_insn *i = dec_emit_untyped(d, "bar_warp_sync");
    i->e = e;
    i->flags = SIM_I_ORDERS;
}

void dec_cluster_arrive(struct dec *d) {
    const bool relaxed = d->flags & SIM_I_STRONG && !(d->flags & SIM_I_ORDERS);
    dec_take(d, "arrive");
    dec_emit_untyped(d, "cluster_arrive")->flags = relaxed ? 0 : SIM_I_ORDERS;
}

void dec_cluster_wait(struct dec *d) {
    dec_take(d, "wait");
    dec_emit_untyped(d, "cluster_wait");
}

/* -- operations of a warp: the last source is the mask of their lanes */

/* The member mask of a .sync instruction, its last operand; for others, which have `sources`
   sources, the lanes that execute it. */
static uint32_t members(struct dec *d, unsigned sources) {
    const struct sim_instr *in = d->in;
    if (in->n > sources + 1) return dec_src(d, &in->opd[in->n - 1], SIM_U32);
    const uint32_t mask = dec_temp(d, 4);
    dec_emit_untyped(d, "activemask")->d = mask;
    return mask;
}

/* d and perhaps a predicate = op(sources) */
void dec_warp(struct dec *d) {
    const struct sim_operand *o = d->in->opd,
                             *second = o[0].kind == SIM_O_PAIR ? &o[0].list[1] : NULL;
    const unsigned sources = !strcmp(d->in->op, "shfl") ? 3 : 1;
    uint32_t v[3] = { 0, 0, 0 };
    sim_handler *run = dec_find(d, d->in->op, SIM_NOTYPE, d->in->type[0]);
    for (unsigned k = 1; k <= sources; k++)
        v[k - 1] = dec_src(d, &o[k], k == 1 ? d->in->type[0] : SIM_U32);
    const uint32_t e = members(d, sources), p = second ? dec_dst(d, second, SIM_PRED) : 0,
                   to = dec_dst(d, second ? &o[0].list[0] : &o[0], SIM_B32);
    struct sim_insn *i = dec_emit(d, run);
    i->d = to;
    i->a = v[0];
    i->b = v[1];
    i->c = v[2];
    i->e = e;
    i->imm = p;
    i->flags = second ? SIM_I_SECOND : 0;
}

void dec_vote(struct dec *d) {
    static const char *const modes[] = { "all", "any", "uni", "ballot" };
    const struct sim_operand *o = d->in->opd;
    const uint32_t mode = mode_of(d, modes, 4), a = dec_src(d, &o[1], SIM_PRED), e = members(d, 1),
                   to = dec_dst(d, &o[0], d->in->type[0]);
    struct sim_insn *i = dec_emit_untyped(d, "vote_sync");
    i->d = to;
    i->a = a;
    i->e = e;
    i->flags = mode << SIM_I_USER;
}

void dec_elect(struct dec *d) {
    const struct sim_operand *o = d->in->opd, *to = &o[0].list[0];
    const bool sink = to->kind == SIM_O_SINK;
    const uint32_t e = dec_src(d, &o[1], SIM_U32), p = dec_dst(d, &o[0].list[1], SIM_PRED),
                   leader = sink ? 0 : dec_dst(d, to, SIM_B32);
    struct sim_insn *i = dec_emit_untyped(d, "elect_sync");
    i->d = leader;
    i->b = p;
    i->e = e;
    i->flags = sink ? SIM_I_SINK : 0;
}

void dec_activemask(struct dec *d) {
    const uint32_t to = dec_dst(d, &d->in->opd[0], SIM_B32);
    dec_emit_untyped(d, "activemask")->d = to;
}
