/* decode.c - an entry and the functions that it reaches become one array of instructions.

   Callees precede callers: so lanes inside a call have lower pcs than lanes outside it, run first,
   and the warp reconverges after the call. Every register of every function has its own place in
   the register file, except that registers that are never live at the same time share one
   (regs.c). */
#include "decode.h"

/* -- functions */

enum { MOST_CALLS = 1000 }; /* bounds the recursion of reach */

static unsigned reach(struct dec *d, struct sim_func *f);

static void note_call(struct dec *d, unsigned self, unsigned callee) {
    struct dec_func *f = &d->funcs[self];
    d->direct = dec_grow(d, d->direct, &d->cap_direct, d->ndirect + 2, sizeof *d->direct);
    d->direct[++d->ndirect] = (struct dec_direct){ callee, f->calls };
    f->calls = d->ndirect;
    f->calls_itself |= callee == self;
    if (d->funcs[callee].is_open) {
        if (d->funcs[callee].lowest < f->lowest) f->lowest = d->funcs[callee].lowest;
    } else f->reaches_all |= d->funcs[callee].reaches_all;
}

/* All calls of `self` are known. If no function before it is in its circle, the open ones from it
   on are its circle. */
static void close_circle(struct dec *d, unsigned self) {
    if (d->funcs[self].lowest != self) return;
    unsigned first = d->nopen;
    bool all = false;
    do all |= d->funcs[d->open[--first]].reaches_all;
    while (d->open[first] != self);
    for (unsigned k = first; k < d->nopen; k++) {
        struct dec_func *f = &d->funcs[d->open[k]];
        f->circle = self;
        f->is_open = false;
        f->reaches_all = all;
        f->calls_itself |= d->nopen - first > 1;
    }
    d->nopen = first;
}

static void visit_operands(struct dec *d, unsigned self, const struct sim_instr *in,
        const struct sim_operand *o, unsigned n, bool address) {
    for (unsigned k = 0; k < n; k++) {
        if (o[k].n) visit_operands(d, self, in, o[k].list, o[k].n, true);
        if (o[k].kind == SIM_O_SREG && strstr(o[k].name, "cluster")) d->code->knows_clusters = true;
        if (o[k].var && o[k].var->space == SIM_SHARED &&
                (o[k].kind == SIM_O_SYM || o[k].kind == SIM_O_MEM)) {
            uint32_t known;
            if (!sim_map_get(&d->shared_of, (uintptr_t)o[k].var, &known)) {
                d->shared = dec_grow(
                        d, d->shared, &d->cap_shared, d->nshared + 1, sizeof *d->shared);
                d->shared_at = dec_grow(
                        d, d->shared_at, &d->cap_shared_at, d->nshared + 1, sizeof *d->shared_at);
                if (!sim_map_put(&d->shared_of, (uintptr_t)o[k].var, d->nshared))
                    dec_fail(d, "Out of memory");
                d->shared[d->nshared++] = o[k].var;
            }
        }
        if (o[k].kind == SIM_O_SYM && o[k].func && !address && o[k].func->has_body) {
            d->in = in;
            note_call(d, self, reach(d, o[k].func));
        }
    }
}

/* Adds f and the functions it calls to the code; returns its index. Callees come first. */
static unsigned reach(struct dec *d, struct sim_func *f) {
    struct sim_code *c = d->code;
    uint32_t known;
    if (sim_map_get(&c->func_of_id, (uint64_t)f->id + 1, &known)) return known;
    const unsigned self = c->nfuncs;
    c->funcs = dec_grow(d, c->funcs, &d->cap_code_funcs, self + 1, sizeof *c->funcs);
    d->funcs = dec_grow(d, d->funcs, &d->cap_funcs, self + 1, sizeof *d->funcs);
    d->open = dec_grow(d, d->open, &d->cap_open, self + 1, sizeof *d->open);
    d->order = dec_grow(d, d->order, &d->cap_order, self + 1, sizeof *d->order);
    if (!sim_map_put(&c->func_of_id, (uint64_t)f->id + 1, self)) dec_fail(d, "Out of memory");
    c->funcs[self] = (struct sim_code_func){ .func = f };
    d->funcs[self] = (struct dec_func){
        .func = f, .lowest = self, .circle = self, .is_open = true
    };
    d->open[d->nopen++] = self;
    c->nfuncs++;
    if (self > 60000) dec_fail(d, "Too many functions");
    if (++d->depth > MOST_CALLS)
        dec_fail(d, "Calls nested deeper than %d are not supported by this CPU device", MOST_CALLS);
    for (unsigned k = 0; k < f->ninstrs; k++) {
        const struct sim_instr *in = &f->instrs[k];
        const enum sim_select select = in->form->select;
        const bool call = select == SIM_SELECT_CALL;
        d->funcs[self].allocates |= select == SIM_SELECT_ALLOCA || select == SIM_SELECT_STACKSAVE ||
                select == SIM_SELECT_STACKRESTORE;
        c->knows_clusters |= select == SIM_SELECT_MAPA || select == SIM_SELECT_GETCTARANK;
        for (unsigned j = 0; j < in->nmods; j++)
            c->knows_clusters |= strstr(in->mods[j], "cluster") != NULL;
        visit_operands(d, self, in, in->opd, in->n, !call);
        if (call) {
            const struct sim_operand *target =
                    &in->opd[in->n && in->opd[0].kind == SIM_O_LIST ? 1 : 0];
            if (target->kind == SIM_O_REG)
                d->funcs[self].indirect = d->funcs[self].reaches_all = true;
        }
    }
    close_circle(d, self);
    d->order[d->norder++] = self;
    d->depth--;
    return self;
}

/* Every function whose address is taken anywhere in the image may be the target of an indirect
   call. */
static void reach_indirect(struct dec *d) {
    for (unsigned k = 0; k < d->image->ntaken; k++) reach(d, d->image->taken[k]);
}

static void place_shared(struct dec *d) {
    struct sim_code_info *info = &d->code->info;
    uint64_t top = 0;
    const unsigned most = sim_settings.capability->block_shared;
    info->shared_align = 1;
    for (unsigned k = 0; k < d->nshared; k++) {
        const struct sim_var *v = d->shared[k];
        if (v->is_unsized) {
            info->uses_dynamic_shared = true;
            if (v->align > info->shared_align) info->shared_align = v->align;
            continue;
        }
        const uint32_t align = v->align ? v->align : 1;
        top = (top + align - 1) / align * align;
        d->shared_at[k] = (uint32_t)top;
        top += v->size;
        if (top > most)
            for (k++; k < d->nshared; k++)
                if (!d->shared[k]->is_unsized) top += d->shared[k]->size;
    }
    d->in = NULL;
    if (top > most) {
        sim_log_add(d->log,
                "ptxas error   : Entry function '%s' uses too much shared data (0x%llx bytes, 0x%x "
                "max)\n",
                d->funcs[0].func->name, (unsigned long long)top, most);
        longjmp(d->failed, 1);
    }
    info->static_shared = (uint32_t)top;
    const uint32_t dynamic = ((uint32_t)top + info->shared_align - 1) / info->shared_align *
            info->shared_align;
    for (unsigned k = 0; k < d->nshared; k++)
        if (d->shared[k]->is_unsized) d->shared_at[k] = dynamic;
}

static void place_function(struct dec *d, unsigned self) {
    struct dec_func *f = &d->funcs[self];
    struct sim_code_func *c = &d->code->funcs[self];
    const struct sim_func *s = f->func;
    f->reg = calloc(s->nregs + 1, sizeof *f->reg);
    f->param_at = calloc(s->nparams + 1, sizeof *f->param_at);
    f->ret_at = calloc(s->nrets + 1, sizeof *f->ret_at);
    if (!f->reg || !f->param_at || !f->ret_at) dec_fail(d, "Out of memory");
    f->params_size = dec_lay_out(s->params, s->nparams, f->param_at);
    f->rets_size = dec_lay_out(s->rets, s->nrets, f->ret_at);
    c->params_at = (s->frame_bytes + 63) / 64 * 64;
    c->stack = s->is_entry ? 0 : SIM_CALL_STACK + s->local_bytes;
    c->rets_at = s->is_entry ? c->params_at : (c->params_at + f->params_size + 63) / 64 * 64;
    c->frame = s->is_entry ? (s->frame_bytes + 63) / 64 * 64
                           : (c->rets_at + f->rets_size + 63) / 64 * 64;
    if (f->allocates) c->frame += DEC_SAVED_STACK;
    uint32_t count[3] = { 0, 0, 0 };
    f->live = dec_allocate(s, f->reg, count); /* numbers within the class */
    c->npreds = count[0];
    c->n32 = count[1];
    c->n64 = count[2];
    c->preds_at = dec_new_place(d, 4 * c->npreds, 4);
    c->r32_at = dec_new_place(d, 128 * c->n32, 64);
    c->r64_at = dec_new_place(d, 256 * c->n64, 64);
    for (unsigned k = 0; k < s->nregs; k++) {
        const unsigned size = dec_reg_size(s->regs[k].type);
        f->reg[k] = size == 0 ? c->preds_at + 4 * f->reg[k]
                : size == 4   ? c->r32_at + 128 * f->reg[k]
                              : c->r64_at + 256 * f->reg[k];
    }
}

/* Parameters and results that are registers pass through the frame: loaded at the start, stored
   before each return. */
static void pass_registers(struct dec *d, const struct sim_var *v, unsigned n, const uint32_t *at,
        uint32_t base, bool load) {
    for (unsigned k = 0; k < n; k++) {
        if (v[k].space != SIM_REG) continue;
        const unsigned size = dec_reg_size(v[k].type);
        if (size != 4 && size != 8)
            dec_fail(d,
                    "Parameter '%s' in a register of this type is not supported by this CPU device",
                    v[k].name);
        const unsigned bytes = sim_type_size(v[k].type);
        const enum sim_type t = bytes == 8 ? SIM_U64
                : bytes == 4               ? SIM_U32
                : bytes == 2               ? SIM_U16
                                           : SIM_U8;
        const uint32_t reg = 2 * d->funcs[d->now].reg[v[k].address];
        dec_emit_to(d, load ? "ld_local" : "st_local", t, reg, 2 * d->code->fp, 0)->imm = base +
                at[k];
    }
}

static void emit_function(struct dec *d, unsigned self) {
    struct sim_func *f = d->funcs[self].func;
    struct sim_code *c = d->code;
    uint32_t *start = d->start = malloc((f->ninstrs + 1) * sizeof *start);
    if (!start) dec_fail(d, "Out of memory");
    const struct dec_func *df = &d->funcs[self];
    d->now = self;
    d->nfixups = 0;
    d->guard = SIM_TRUE;
    d->guard_xor = 0;
    d->in = NULL;
    const uint32_t first_label = c->nlabels;
    c->funcs[self].first = c->ninsns;
    if (!f->is_entry)
        pass_registers(d, f->params, f->nparams, df->param_at, c->funcs[self].params_at, true);
    dec_pass_stack(d, true);
    for (unsigned k = 0; k < f->ninstrs; k++) {
        const struct sim_instr *in = &f->instrs[k];
        start[k] = c->ninsns;
        d->in = in;
        d->nafter = d->ntemp[0] = d->ntemp[1] = d->ntemp[2] = 0;
        d->guard = in->pred >= 0 ? df->reg[in->pred] : SIM_TRUE;
        d->guard_xor = in->pred >= 0 && in->pred_negated ? ~0u : 0;
        if (in->form->select == SIM_SELECT_RET)
            pass_registers(d, f->rets, f->nrets, df->ret_at, c->funcs[self].rets_at, false);
        dec_select(d);
        if (c->ninsns > start[k]) c->insns[start[k]].counts = 1;
    }
    start[f->ninstrs] = c->ninsns;
    d->guard = SIM_TRUE;
    d->guard_xor = 0;
    dec_pass_stack(d, false);
    dec_emit_untyped(d, f->is_entry ? "exit_lanes" : "ret"); /* a body may end without one */
    for (unsigned k = 0; k < d->nfixups; k++) {
        const struct dec_fixup *x = &d->fixups[k];
        c->insns[x->insn].imm = start[x->target];
    }
    for (uint32_t k = first_label; k < c->nlabels; k += c->labels[k] + 1)
        for (uint32_t j = 1; j <= c->labels[k]; j++) c->labels[k + j] = start[c->labels[k + j]];
    free(start);
    d->start = NULL;
}

/* Stack bytes of the deepest chain of calls; a recursive call counts once, an indirect call as much
   as is known at that point. */
static uint32_t deepest(struct dec *d) {
    uint32_t known = 0, known_stack = 0;
    for (unsigned i = 0; i < d->norder; i++) {
        struct dec_func *f = &d->funcs[d->order[i]];
        uint32_t most = f->indirect ? known : 0, stack = f->indirect ? known_stack : 0;
        for (uint32_t k = f->calls; k; k = d->direct[k].next) {
            const struct dec_func *callee = &d->funcs[d->direct[k].callee];
            if (callee->deepest > most) most = callee->deepest;
            if (callee->stack > stack) stack = callee->stack;
        }
        f->deepest = d->code->funcs[d->order[i]].frame + most;
        f->stack = d->code->funcs[d->order[i]].stack + stack;
        if (f->deepest > known) known = f->deepest;
        if (f->stack > known_stack) known_stack = f->stack;
    }
    return d->funcs[0].deepest;
}

/* alloca's memory is above the frames; if they have no limit, at the end. */
static void place_stack(struct dec *d) {
    bool recursive = false;
    for (unsigned k = 0; k < d->code->nfuncs; k++)
        recursive |= d->funcs[k].calls_itself || d->funcs[k].indirect;
    const uint64_t top = SIM_LOCAL_BASE + (d->code->info.local_bytes + 63ull) / 64 * 64 +
            SIM_ALLOCA_MAX;
    d->code->stack_top = recursive || top > SIM_LOCAL_MAX ? SIM_LOCAL_MAX : (uint32_t)top;
}

static void decode(struct dec *d, struct sim_func *entry) {
    struct sim_code *c = d->code;
    reach(d, entry);
    for (unsigned k = 0; k < c->nfuncs; k++)
        if (d->funcs[k].indirect) {
            reach_indirect(d);
            break;
        }
    if (d->norder && d->order[d->norder - 1] != 0) { /* the entry stays last */
        unsigned at = 0;
        while (d->order[at]) at++;
        memmove(d->order + at, d->order + at + 1, (d->norder - at - 1) * sizeof *d->order);
        d->order[d->norder - 1] = 0;
    }
    place_shared(d);
    d->regs_top = 4; /* SIM_TRUE */
    c->fp = dec_new_place(d, 128, 64);
    c->vars_at = d->regs_top;
    c->sp = dec_new_place(d, 128, 64);
    for (unsigned k = 0; k < c->nfuncs; k++) place_function(d, k);
    c->vars_end = d->regs_top;
    d->in = NULL;
    c->info.local_bytes = deepest(d);
    c->info.stack_bytes = d->funcs[0].stack;
    place_stack(d);
    for (unsigned k = 0; k < d->norder; k++) emit_function(d, d->order[k]);

    uint32_t words = 0; /* a call saves the caller's registers: not the sum */
    for (unsigned k = 0; k < c->nfuncs; k++)
        if (d->funcs[k].live > words) words = d->funcs[k].live;
    unsigned char *consts = NULL;
    if (posix_memalign((void **)&consts, 64, c->nconsts + 256)) dec_fail(d, "Out of memory");
    if (c->nconsts) memcpy(consts, c->consts, c->nconsts);
    memset(consts + c->nconsts, 0, 256);
    free(c->consts);
    c->consts = consts;
    void *fitting = realloc(c->insns, c->ninsns * sizeof *c->insns);
    if (fitting) c->insns = fitting;
    c->regs_bytes = d->regs_top + 256;
    c->info.param_bytes = entry->param_bytes;
    c->info.num_regs = words + 8 < 16 ? 16 : words + 8;
    c->info.const_bytes = d->image->const_bytes;
}

int sim_code_decode(struct sim_func *entry, struct sim_log *errors, struct sim_code **out) {
    struct dec *d = calloc(1, sizeof *d);
    struct sim_code *c = calloc(1, sizeof *c);
    volatile int result = 0;
    *out = NULL;
    if (!d || !c) {
        free(d);
        free(c);
        return 2;
    }
    d->code = c;
    d->log = errors;
    d->image = entry->image;
    if (setjmp(d->failed)) result = 218;
    else decode(d, entry);
    for (unsigned k = 0; d->funcs && k < c->nfuncs; k++) {
        free(d->funcs[k].reg);
        free(d->funcs[k].param_at);
        free(d->funcs[k].ret_at);
    }
    free(d->funcs);
    free(d->order);
    free(d->open);
    free(d->direct);
    free(d->shared_of.at);
    free(d->fixups);
    free(d->start);
    free(d->shared);
    free(d->shared_at);
    free(d->offsets);
    free(d);
    if (result) {
        sim_code_free(c);
        return result;
    }
    *out = c;
    return 0;
}

void sim_code_free(struct sim_code *c) {
    if (!c) return;
    for (unsigned k = 0; k < c->ncalls; k++) {
        free(c->calls[k].args);
        free(c->calls[k].rets);
    }
    free(c->calls);
    free(c->fetches);
    free(c->mmas);
    free(c->copies);
    free(c->labels);
    free(c->insns);
    free(c->consts);
    free(c->funcs);
    free(c->func_of_id.at);
    free(c);
}

const struct sim_code_info *sim_code_info(const struct sim_code *c) { return &c->info; }
