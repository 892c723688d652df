/* decode.c - an entry and the functions that it reaches become one array of instructions.

   Callees precede callers: so lanes inside a call have lower pcs than lanes outside it, run first, and the warp
   reconverges after the call. Every register of every function has its own place in the register file, except that
   registers that are never live at the same time share one (regs.c). */
#include "decode.h"
#include <stdarg.h>

/* -- handlers by name */

static struct sim_entry *handlers;                                /* a hash table, created once, never freed */
static unsigned handlers_mask;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

static unsigned hash(const char *s) {
    unsigned h = 2166136261u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

static void add_table(const struct sim_entry *t) {
    for (; t->name; t++) {
        unsigned k = hash(t->name) & handlers_mask;
        while (handlers[k].name && strcmp(handlers[k].name, t->name)) k = (k + 1) & handlers_mask;
        handlers[k] = *t;
    }
}

static void make_handlers(void) {
    const struct sim_entry *const tables[] =
        { sim_alu_table, sim_compare_table, sim_float_table, sim_half_table, sim_cvt_table, sim_ldst_table,
        sim_atom_table, sim_shuffle_table, sim_flow_table, sim_sync_table };
    handlers_mask = 4095;
    handlers = calloc(handlers_mask + 1, sizeof *handlers);
    if (!handlers) abort();
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) add_table(tables[k]);
#ifdef SIM_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        for (unsigned k = 0; sim_avx2_tables[k]; k++) add_table(sim_avx2_tables[k]);
#endif
}

sim_handler *sim_handler_named(const char *name) {
    pthread_once(&handlers_once, make_handlers);
    for (unsigned k = hash(name) & handlers_mask; handlers[k].name; k = (k + 1) & handlers_mask)
        if (!strcmp(handlers[k].name, name)) return handlers[k].run;
    return NULL;
}

/* -- errors and growing arrays */

void dec_fail(struct dec *d, const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sim_log_add(d->log, "ptxas application ptx input, line %u; error   : %s\n", d->in ? d->in->line : 0, text);
    longjmp(d->failed, 1);
}

void dec_unsupported(struct dec *d) {
    char name[160];
    int n = snprintf(name, sizeof name, "%s", d->in->op);
    for (unsigned k = 0; k < d->in->nmods && n < 120; k++)
        n += snprintf(name + n, sizeof name - (size_t)n, ".%s", d->in->mods[k]);
    dec_fail(d, "Instruction '%s' is not supported by this CPU device", name);
}

void *dec_grow(struct dec *d, void *p, uint32_t *cap, uint32_t n, size_t size) {
    if (n <= *cap) return p;
    uint32_t more = 2 * n + 64;
    void *q = realloc(p, more * size);
    if (!q) dec_fail(d, "Out of memory");
    *cap = more;
    return q;
}

/* -- instructions, constants, scratch registers */

struct sim_insn *dec_emit(struct dec *d, const char *handler) {
    struct sim_code *c = d->code;
    sim_handler *run = sim_handler_named(handler);
    if (!run) dec_unsupported(d);
    c->insns = dec_grow(d, c->insns, &d->cap_insns, c->ninsns + 1, sizeof *c->insns);
    struct sim_insn *i = &c->insns[c->ninsns++];
    *i = (struct sim_insn){ .run = run, .guard = d->guard, .guard_xor = d->guard_xor, .line = d->in ? d->in->line : 0,
        .func = (uint16_t)d->now,
        .width = 1 };
    return i;
}

struct sim_insn *dec_emit_to(struct dec *d, const char *handler, uint32_t to, uint32_t a, uint32_t b) {
    struct sim_insn *i = dec_emit(d, handler);
    i->d = to;
    i->a = a;
    i->b = b;
    return i;
}

uint32_t dec_const(struct dec *d, uint64_t value, unsigned size) {
    struct sim_code *c = d->code;
    const uint32_t bytes = size == 8 ? 256 : 128;
    unsigned char lanes[256];
    for (unsigned l = 0; l < 32; l++) {
        if (size == 8) memcpy(lanes + 8 * l, &value, 8);
        else {
            uint32_t v = size ? (uint32_t)value : value ? ~0u : 0;
            memcpy(lanes + 4 * l, &v, 4);
        }
    }
    for (uint32_t at = 0, seen = 0; at + bytes <= c->nconsts && seen < 256; at += 128, seen++)
        if (!memcmp(c->consts + at, lanes, bytes)) return at * 2 + 1;
    c->consts = dec_grow(d, c->consts, &d->cap_consts, c->nconsts + bytes, 1);
    memcpy(c->consts + c->nconsts, lanes, bytes);
    c->nconsts += bytes;
    return (c->nconsts - bytes) * 2 + 1;
}

static uint32_t new_place(struct dec *d, uint32_t bytes, uint32_t align) {
    d->regs_top = (d->regs_top + align - 1) / align * align;
    d->regs_top += bytes;
    if (d->regs_top > 1u << 30) dec_fail(d, "Too many registers");
    return d->regs_top - bytes;
}

static unsigned class_of_size(unsigned size) { return size == 0 ? 0 : size == 8 ? 2 : 1; }

uint32_t dec_temp(struct dec *d, unsigned size) {
    const unsigned k = class_of_size(size);
    if (d->ntemp[k] == sizeof d->temp[0] / sizeof d->temp[0][0]) dec_unsupported(d);
    if (d->ntemp[k] == d->made[k]) { d->temp[k][d->made[k]++] = new_place(d, size ? 32 * size : 4, size ? 64 : 4); }
    return 2 * d->temp[k][d->ntemp[k]++];
}

unsigned dec_reg_size(enum sim_type t) {
    const unsigned size = sim_type_size(t);
    return t == SIM_PRED ? 0 : size <= 4 ? 4 : size == 8 ? 8 : 16;
}

void dec_fixup(struct dec *d, uint32_t insn, unsigned target) {
    d->fixups = dec_grow(d, d->fixups, &d->cap_fixups, d->nfixups + 1, sizeof *d->fixups);
    d->fixups[d->nfixups++] = (struct dec_fixup){ insn, target };
}

/* -- addresses of variables */

bool dec_frame_offset(struct dec *d, const struct sim_var *v, uint32_t *offset) {
    const struct sim_func *f = d->funcs[d->now].func;
    const struct sim_code_func *c = &d->code->funcs[d->now];
    const bool is_param = f->nparams && v >= f->params && v < f->params + f->nparams;
    if (!f->is_entry && is_param) {
        *offset = c->params_at + d->funcs[d->now].param_at[v - f->params];
        return true;
    }
    if (f->nrets && v >= f->rets && v < f->rets + f->nrets) {
        *offset = c->rets_at + d->funcs[d->now].ret_at[v - f->rets];
        return true;
    }
    if (v->owner && (v->space == SIM_LOCAL || (v->space == SIM_PARAM && !is_param))) {
        *offset = (uint32_t)v->address;
        return true;
    }
    return false;
}

uint32_t dec_shared_at(struct dec *d, const struct sim_var *v) {
    for (unsigned k = 0; k < d->nshared; k++) if (d->shared[k] == v) return SIM_SHARED_BASE + d->shared_at[k];
    dec_fail(d, "Shared variable '%s' has no place", v->name);
}

/* -- operands */

static const struct { const char *name; enum sim_const_sreg first; bool vector; } const_sregs[] = {
    { "%tid", SIM_S_TID_X, true }, { "%ntid", SIM_S_NTID_X, true }, { "%ctaid", SIM_S_CTAID_X, true },
    { "%nctaid", SIM_S_NCTAID_X, true },
    { "%laneid", SIM_S_LANEID, false }, { "%warpid", SIM_S_WARPID, false }, { "%nwarpid", SIM_S_NWARPID, false },
    { "%smid", SIM_S_SMID, false },
    { "%nsmid", SIM_S_NSMID, false }, { "%gridid", SIM_S_GRIDID, false }, { "%lanemask_eq", SIM_S_LANEMASK_EQ, false },
    { "%lanemask_le", SIM_S_LANEMASK_LE, false }, { "%lanemask_lt", SIM_S_LANEMASK_LT, false },
    { "%lanemask_ge", SIM_S_LANEMASK_GE, false },
    { "%lanemask_gt", SIM_S_LANEMASK_GT, false }, { "%dynamic_smem_size", SIM_S_DYNAMIC_SMEM, false },
    { "%total_smem_size", SIM_S_TOTAL_SMEM, false }, { "%aggr_smem_size", SIM_S_TOTAL_SMEM, false },
    { "%envreg1", SIM_S_ENVREG1, false },
    { "%envreg2", SIM_S_ENVREG2, false }, { "%clusterid", SIM_S_CLUSTERID_X, true },
    { "%nclusterid", SIM_S_NCLUSTERID_X, true }, { "%cluster_ctaid", SIM_S_CLUSTER_CTAID_X, true },
    { "%cluster_nctaid", SIM_S_CLUSTER_NCTAID_X, true }, { "%cluster_ctarank", SIM_S_CLUSTER_CTARANK, false },
    { "%cluster_nctarank", SIM_S_CLUSTER_NCTARANK, false },
    { "%is_explicit_cluster", SIM_S_IS_EXPLICIT_CLUSTER, false }
    };
static const struct { const char *name, *handler; unsigned size; } moving_sregs[] = {
    { "%clock", "clock_32", 4 }, { "%clock_hi", "clock_hi", 4 }, { "%clock64", "clock_64", 8 },
    { "%globaltimer", "globaltimer_64", 8 },
    { "%globaltimer_lo", "globaltimer_lo", 4 }, { "%globaltimer_hi", "globaltimer_hi", 4 }
    };
static const char *const zero_sregs[] = { "%envreg", "%pm", "%current_graph_exec" };

static uint32_t const_sreg(struct dec *d, unsigned id, unsigned size) {
    if (!d->code->sreg[id]) d->code->sreg[id] = new_place(d, size ? 32 * size : 4, size ? 64 : 4);
    return 2 * d->code->sreg[id];
}

uint32_t dec_sreg(struct dec *d, const struct sim_operand *o, unsigned size) {
    uint32_t at = 0;
    unsigned has = 4;
    for (size_t k = 0; k < sizeof const_sregs / sizeof *const_sregs && !at; k++) {
        if (strcmp(const_sregs[k].name, o->name)) continue;
        if (const_sregs[k].vector && o->imm > 2) return dec_const(d, 0, size);
        const unsigned id = const_sregs[k].first + (const_sregs[k].vector ? (unsigned)o->imm : 0);
        has = id == SIM_S_GRIDID ? 8 : id == SIM_S_IS_EXPLICIT_CLUSTER ? 0 : 4;
        at = const_sreg(d, id, has);
    }
    for (size_t k = 0; k < sizeof moving_sregs / sizeof *moving_sregs && !at; k++) {
        if (strcmp(moving_sregs[k].name, o->name)) continue;
        has = moving_sregs[k].size;
        at = dec_temp(d, has);
        dec_emit_to(d, moving_sregs[k].handler, at, 0, 0);
    }
    for (size_t k = 0; k < sizeof zero_sregs / sizeof *zero_sregs && !at; k++)
        if (!strncmp(o->name, zero_sregs[k], strlen(zero_sregs[k]))) return dec_const(d, 0, size);
    if (!at) dec_fail(d, "Special register '%s' is not supported by this CPU device", o->name);
    if (has == size) return at;
    if (!has || !size) dec_unsupported(d);
    const uint32_t t = dec_temp(d, size);
    dec_emit_to(d, size == 8 ? "zext_64_32" : "trunc_32", t, at, 0);
    return t;
}

uint32_t dec_shared_rank(struct dec *d) { return const_sreg(d, SIM_S_SHARED_RANK, 4); }

static uint64_t literal(const struct sim_operand *o, enum sim_type t) {
    uint64_t v = o->imm;
    const unsigned size = sim_type_size(t);
    if (o->fbits == 64 && size == 4) {
        double x;
        float y;
        uint32_t b;
        memcpy(&x, &v, 8);
        y = (float)x;
        memcpy(&b, &y, 4);
        return b;
    }
    if (o->fbits == 32 && size == 8) {
        float x;
        double y;
        uint32_t b = (uint32_t)v;
        memcpy(&x, &b, 4);
        y = x;
        memcpy(&v, &y, 8);
        return v;
    }
    return size == 2 ? v & 0xffff : size == 1 ? v & 0xff : v;
}

/* the address of a variable or function in its own space, plus offset; size 4 or 8 */
static uint32_t address_of(struct dec *d, const struct sim_operand *o, unsigned size) {
    uint32_t offset;
    if (o->func) {
        if (!o->func->has_body) dec_fail(d, "Cannot take address of function '%s'", o->func->name);
        return dec_const(d, SIM_WINDOW_CODE + 16 * (1 + (uint64_t)o->func->id), size);
    }
    const struct sim_var *v = o->var;
    if (v->space == SIM_SHARED && d->code->knows_clusters) {
        const uint32_t t = dec_temp(d, 4), wide = size == 8 ? dec_temp(d, 8) : t;
        dec_emit_to(d, "add_32", t, dec_shared_rank(d), dec_const(d, dec_shared_at(d, v) + o->imm, 4));
        if (size == 8) dec_emit_to(d, "zext_64_32", wide, t, 0);
        return wide;
    }
    if (v->space == SIM_SHARED) return dec_const(d, dec_shared_at(d, v) + o->imm, size);
    /* parameters of a function have generic addresses from the start */
    if (dec_frame_offset(d, v, &offset)) {
        const uint32_t fp = 2 * d->code->fp;
        const uint64_t add = offset + o->imm + (v->space == SIM_PARAM && size == 8 ? SIM_WINDOW_LOCAL : 0);
        const uint32_t t = dec_temp(d, size);
        if (size == 8) {
            dec_emit_to(d, "zext_64_32", t, fp, 0);
            dec_emit_to(d, "add_64", t, t, dec_const(d, add, 8));
        } else dec_emit_to(d, "add_32", t, fp, dec_const(d, add, 4));
        return t;
    }
    if (v->space == SIM_LOCAL)
        dec_fail(d, "Local variable '%s' of the module is not supported by this CPU device", v->name);
    return dec_const(d, dec_address(v) + o->imm, size);
}

uint32_t dec_src(struct dec *d, const struct sim_operand *o, enum sim_type t) {
    const unsigned size = dec_reg_size(t);
    uint32_t at = 0;
    if (size == 16) dec_unsupported(d);
    switch (o->kind) {
    case SIM_O_REG: {
        const struct sim_reg *r = &d->funcs[d->now].func->regs[o->reg];
        const unsigned has = dec_reg_size(r->type);
        if (o->component > r->vec) dec_unsupported(d);
        at = 2 * (d->funcs[d->now].reg[o->reg] + (o->component ? (o->component - 1u) * (has ? 32 * has : 4) : 0));
        if (o->negated && has == 0) {
            const uint32_t p = dec_temp(d, 0);
            dec_emit_to(d, "not_pred", p, at, 0);
            at = p;
        }
        if (has == size) return at;
        if (has == 16 || !has || !size) dec_unsupported(d);
        const uint32_t to = dec_temp(d, size);
        dec_emit_to(d, size == 8 ? "zext_64_32" : "trunc_32", to, at, 0);
        return to;
    }
    case SIM_O_IMM: return dec_const(d, t == SIM_PRED ? (o->imm != 0) != o->negated : literal(o, t), size);
    case SIM_O_SREG: return dec_sreg(d, o, size);
    case SIM_O_SYM: return address_of(d, o, size);
    case SIM_O_SINK: return dec_temp(d, size);
    default: dec_unsupported(d);
    }
}

uint32_t dec_dst(struct dec *d, const struct sim_operand *o, enum sim_type t) {
    const unsigned size = dec_reg_size(t);
    if (o->kind == SIM_O_SINK) return dec_temp(d, size);
    if (o->kind != SIM_O_REG) dec_unsupported(d);
    const struct sim_reg *r = &d->funcs[d->now].func->regs[o->reg];
    const unsigned has = dec_reg_size(r->type);
    if (o->component > r->vec) dec_unsupported(d);
    const uint32_t at =
        2 * (d->funcs[d->now].reg[o->reg] + (o->component ? (o->component - 1u) * (has ? 32 * has : 4) : 0));
    if (has == size) return at;
    if (has != 8 || size != 4) dec_unsupported(d);
    const bool is_signed = t == SIM_S8 || t == SIM_S16 || t == SIM_S32;
    static const char *const moves[2][3] =
        { { "zext_64_8", "zext_64_16", "zext_64_32" }, { "sext_64_8", "sext_64_16", "sext_64_32" } };
    const uint32_t temp = dec_temp(d, 4);
    d->after[d->nafter].to = at;
    d->after[d->nafter].from = temp;
    d->after[d->nafter++].move = moves[is_signed][sim_type_size(t) == 1 ? 0 : sim_type_size(t) == 2 ? 1 : 2];
    return temp;
}

void dec_done(struct dec *d) {
    for (unsigned k = 0; k < d->nafter; k++) dec_emit_to(d, d->after[k].move, d->after[k].to, d->after[k].from, 0);
    d->nafter = 0;
}

/* -- modifiers */

static const struct { const char *name; uint32_t flags; bool to_int; } flag_mods[] = {
    { "rn", 0, false }, { "rz", 1, false }, { "rm", 2, false }, { "rp", 3, false }, { "rni", 0, true },
    { "rzi", 1, true }, { "rmi", 2, true },
    { "rpi", 3, true }, { "ftz", SIM_I_FTZ, false }, { "sat", SIM_I_SAT, false }, { "relu", SIM_I_RELU, false },
    { "NaN", SIM_I_NAN, false },
    { "xorsign", SIM_I_XORSIGN, false }, { "volatile", SIM_I_STRONG, false }, { "relaxed", SIM_I_STRONG, false },
    { "acquire", SIM_I_STRONG, false }, { "release", SIM_I_STRONG | SIM_I_ORDERS, false },
    { "acq_rel", SIM_I_STRONG | SIM_I_ORDERS, false },
    { "mmio", SIM_I_STRONG, false }
    };
static const struct { const char *name; enum sim_space space; } space_mods[] = {
    { "global", SIM_GLOBAL }, { "const", SIM_GLOBAL }, { "shared", SIM_SHARED }, { "shared::cta", SIM_SHARED },
    { "shared::cluster", SIM_SHARED_CLUSTER },
    { "local", SIM_LOCAL }, { "param", SIM_PARAM }, { "param::entry", SIM_PARAM }, { "param::func", SIM_PARAM }
    };
static const char *const ignored_mods[] =
    { "weak", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified", "cta", "gpu", "sys", "cluster",
    "aligned", "abs" };

static void sort_modifiers(struct dec *d) {
    d->ntypes = d->nrest = d->flags = 0;
    d->rounds_to_int = false;
    d->vec = 1;
    d->space = SIM_GENERIC;
    for (unsigned k = 0; k < d->in->nmods; k++) {
        const char *m = d->in->mods[k];
        const enum sim_type t = sim_type_named(m);
        bool known = false;
        if (t != SIM_NOTYPE) {
            if (d->ntypes < MAX_TYPES) d->type[d->ntypes++] = t;
            continue;
        }
        if (!strncmp(m, "L1::", 4) || !strncmp(m, "L2::", 4)) continue;
        if (m[0] == 'v' && m[1] >= '2' && m[1] <= '8' && !m[2]) {
            d->vec = (unsigned)(m[1] - '0');
            continue;
        }
        for (size_t j = 0; j < sizeof flag_mods / sizeof *flag_mods; j++) if (!strcmp(m, flag_mods[j].name)) {
            d->flags |= flag_mods[j].flags;
            d->rounds_to_int |= flag_mods[j].to_int;
            known = true;
        }
        for (size_t j = 0; j < sizeof space_mods / sizeof *space_mods; j++)
            if (!strcmp(m, space_mods[j].name)) {
                d->space = space_mods[j].space;
                known = true;
            }
        for (size_t j = 0; j < sizeof ignored_mods / sizeof *ignored_mods; j++) known |= !strcmp(m, ignored_mods[j]);
        if (!known) d->rest[d->nrest++] = m;
    }
}

bool dec_take(struct dec *d, const char *mod) {
    for (unsigned k = 0; k < d->nrest; k++)
        if (!strcmp(d->rest[k], mod)) {
            d->rest[k] = d->rest[--d->nrest];
            return true;
        }
    return false;
}

/* -- functions */

int dec_system(const struct sim_func *f) {
    static const char *const names[] = { "vprintf", "__assertfail", "malloc", "free" };
    for (int k = 0; k < 4 && !f->has_body; k++) if (!strcmp(f->name, names[k])) return k + 1;
    return 0;
}

uint32_t dec_lay_out(const struct sim_var *v, unsigned n, uint32_t *at) {
    uint32_t top = 0;
    for (unsigned k = 0; k < n; k++) {
        const uint32_t align = v[k].align ? v[k].align : 1;
        top = (top + align - 1) / align * align;
        if (at) at[k] = top;
        top += (uint32_t)v[k].size;
    }
    return top;
}

enum { MOST_CALLS = 1000 };                                       /* bounds the recursion of reach */

static int reach(struct dec *d, struct sim_func *f);

static void visit_operands(struct dec *d, unsigned self, const struct sim_instr *in, const struct sim_operand *o,
                           unsigned n, bool address) {
    for (unsigned k = 0; k < n; k++) {
        if (o[k].n) visit_operands(d, self, in, o[k].list, o[k].n, true);
        if (o[k].kind == SIM_O_SREG && strstr(o[k].name, "cluster")) d->code->knows_clusters = true;
        if (o[k].var && o[k].var->space == SIM_SHARED && (o[k].kind == SIM_O_SYM || o[k].kind == SIM_O_MEM)) {
            bool known = false;
            for (unsigned j = 0; j < d->nshared; j++) known |= d->shared[j] == o[k].var;
            if (!known) {
                d->shared = realloc(d->shared, (d->nshared + 1) * sizeof *d->shared);
                d->shared_at = realloc(d->shared_at, (d->nshared + 1) * sizeof *d->shared_at);
                if (!d->shared || !d->shared_at) dec_fail(d, "Out of memory");
                d->shared[d->nshared++] = o[k].var;
            }
        }
        if (o[k].kind == SIM_O_SYM && o[k].func && !address && o[k].func->has_body) {
            d->in = in;
            const int callee = reach(d, o[k].func);
            d->funcs[self].calls[callee] = 1;
        }
    }
}

/* Adds f and the functions it calls to the code; returns its index. Callees come first. */
static int reach(struct dec *d, struct sim_func *f) {
    struct sim_code *c = d->code;
    if (c->func_of_id[f->id] >= 0) return c->func_of_id[f->id];
    const unsigned self = c->nfuncs++;
    c->func_of_id[f->id] = (int)self;
    c->funcs[self].func = d->funcs[self].func = f;
    d->funcs[self].calls = calloc(d->image->nfuncs + 1, 1);
    if (!d->funcs[self].calls) dec_fail(d, "Out of memory");
    if (self > 60000) dec_fail(d, "Too many functions");
    if (++d->depth > MOST_CALLS)
        dec_fail(d, "Calls nested deeper than %d are not supported by this CPU device", MOST_CALLS);
    for (unsigned k = 0; k < f->ninstrs; k++) {
        const struct sim_instr *in = &f->instrs[k];
        const bool call = !strcmp(in->op, "call");
        c->knows_clusters |= !strcmp(in->op, "mapa") || !strcmp(in->op, "getctarank");
        for (unsigned j = 0; j < in->nmods; j++) c->knows_clusters |= strstr(in->mods[j], "cluster") != NULL;
        visit_operands(d, self, in, in->opd, in->n, !call);
        if (call) {
            const struct sim_operand *target = &in->opd[in->n && in->opd[0].kind == SIM_O_LIST ? 1 : 0];
            if (target->kind == SIM_O_REG) d->funcs[self].indirect = true;
        }
    }
    d->order[d->norder++] = self;
    d->depth--;
    return (int)self;
}

static void reach_taken(struct dec *d, const struct sim_operand *o, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        if (o[k].kind == SIM_O_SYM && o[k].func && o[k].func->has_body && !o[k].func->is_entry) reach(d, o[k].func);
        if (o[k].n) reach_taken(d, o[k].list, o[k].n);
    }
}

/* Every function whose address is taken anywhere in the image may be the target of an indirect call. */
static void reach_indirect(struct dec *d) {
    for (unsigned k = 0; k < d->image->nvars; k++)
        for (unsigned j = 0; j < d->image->vars[k]->nrelocs; j++) {
            struct sim_func *f = d->image->vars[k]->relocs[j].func;
            if (f && f->has_body) reach(d, f);
        }
    for (unsigned k = 0; k < d->image->nfuncs; k++) {
        struct sim_func *f = d->image->funcs[k];
        for (unsigned j = 0; j < f->ninstrs; j++) if (strcmp(f->instrs[j].op, "call"))
            reach_taken(d, f->instrs[j].opd, f->instrs[j].n);
    }
}

/* Makes calls[] transitive; an indirect call reaches everything. */
static void close_calls(struct dec *d) {
    const unsigned n = d->code->nfuncs;
    for (unsigned k = 0; k < n; k++) if (d->funcs[k].indirect) memset(d->funcs[k].calls, 1, n);
    for (unsigned via = 0; via < n; via++)
        for (unsigned k = 0; k < n; k++)
            if (d->funcs[k].calls[via]) for (unsigned j = 0; j < n; j++) d->funcs[k].calls[j] |= d->funcs[via].calls[j];
}

static void place_shared(struct dec *d) {
    struct sim_code_info *info = &d->code->info;
    uint64_t top = 0;
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
        if (top > SIM_BLOCK_SHARED_OPTIN)
            for (k++; k < d->nshared; k++)
                if (!d->shared[k]->is_unsized) top += d->shared[k]->size;
    }
    d->in = NULL;
    if (top > SIM_BLOCK_SHARED_OPTIN) {
        sim_log_add(d->log, "ptxas error   : Entry function '%s' uses too much shared data (0x%llx bytes, 0x%x max)\n",
                    d->funcs[0].func->name, (unsigned long long)top, (unsigned)SIM_BLOCK_SHARED_OPTIN);
        longjmp(d->failed, 1);
    }
    info->static_shared = (uint32_t)top;
    const uint32_t dynamic = ((uint32_t)top + info->shared_align - 1) / info->shared_align * info->shared_align;
    for (unsigned k = 0; k < d->nshared; k++) if (d->shared[k]->is_unsized) d->shared_at[k] = dynamic;
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
    c->rets_at = s->is_entry ? c->params_at : (c->params_at + f->params_size + 63) / 64 * 64;
    c->frame = s->is_entry ? (s->frame_bytes + 63) / 64 * 64 : (c->rets_at + f->rets_size + 63) / 64 * 64;
    uint32_t count[3] = { 0, 0, 0 };
    dec_allocate(s, f->reg, count);                               /* numbers within the class */
    c->npreds = count[0];
    c->n32 = count[1];
    c->n64 = count[2];
    c->preds_at = new_place(d, 4 * c->npreds, 4);
    c->r32_at = new_place(d, 128 * c->n32, 64);
    c->r64_at = new_place(d, 256 * c->n64, 64);
    for (unsigned k = 0; k < s->nregs; k++) {
        const unsigned size = dec_reg_size(s->regs[k].type);
        f->reg[k] = size == 0 ? c->preds_at + 4 * f->reg[k] : size == 4 ? c->r32_at + 128 * f->reg[k] :
            c->r64_at + 256 * f->reg[k];
    }
}

/* Parameters and results that are registers pass through the frame: loaded at the start, stored before each return. */
static void pass_registers(struct dec *d, const struct sim_var *v, unsigned n, const uint32_t *at, uint32_t base,
                           bool load) {
    for (unsigned k = 0; k < n; k++) {
        if (v[k].space != SIM_REG) continue;
        const unsigned size = dec_reg_size(v[k].type);
        if (size != 4 && size != 8) dec_fail(d,
            "Parameter '%s' in a register of this type is not supported by this CPU device", v[k].name);
        char name[32];
        const unsigned bits = 8 * sim_type_size(v[k].type);
        snprintf(name, sizeof name, bits < 32 && load ? "ld_local_u%u" : load ? "ld_local_%u" : "st_local_%u", bits);
        struct sim_insn *i = dec_emit(d, name);
        i->d = 2 * d->funcs[d->now].reg[v[k].address];
        i->a = 2 * d->code->fp;
        i->imm = base + at[k];
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
    if (!f->is_entry) pass_registers(d, f->params, f->nparams, df->param_at, c->funcs[self].params_at, true);
    for (unsigned k = 0; k < f->ninstrs; k++) {
        const struct sim_instr *in = &f->instrs[k];
        start[k] = c->ninsns;
        d->in = in;
        d->nafter = d->ntemp[0] = d->ntemp[1] = d->ntemp[2] = 0;
        d->guard = in->pred >= 0 ? df->reg[in->pred] : SIM_TRUE;
        d->guard_xor = in->pred >= 0 && in->pred_negated ? ~0u : 0;
        sort_modifiers(d);
        if (!strcmp(in->op, "ret")) pass_registers(d, f->rets, f->nrets, df->ret_at, c->funcs[self].rets_at, false);
        dec_select(d);
        if (d->nrest) dec_unsupported(d);
        dec_done(d);
        if (c->ninsns > start[k]) c->insns[start[k]].counts = 1;
    }
    start[f->ninstrs] = c->ninsns;
    d->guard = SIM_TRUE;
    d->guard_xor = 0;
    dec_emit(d, f->is_entry ? "exit_lanes" : "ret");              /* a body may end without one */
    for (unsigned k = 0; k < d->nfixups; k++) {
        const struct dec_fixup *x = &d->fixups[k];
        c->insns[x->insn].imm = start[x->target];
    }
    for (uint32_t k = first_label; k < c->nlabels; k += c->labels[k] + 1)
        for (uint32_t j = 1; j <= c->labels[k]; j++) c->labels[k + j] = start[c->labels[k + j]];
    free(start);
    d->start = NULL;
}

/* Stack bytes of the deepest chain of calls; a recursive call counts once, an indirect call as much as is known at that
   point. Called before close_calls. */
static uint32_t deepest(struct dec *d) {
    for (unsigned i = 0; i < d->norder; i++) {
        struct dec_func *f = &d->funcs[d->order[i]];
        uint32_t most = 0;
        for (unsigned k = 0; k < d->code->nfuncs; k++)
            if ((f->calls[k] || f->indirect) && d->funcs[k].deepest > most) most = d->funcs[k].deepest;
        f->deepest = d->code->funcs[d->order[i]].frame + most;
    }
    return d->funcs[0].deepest;
}

static void decode(struct dec *d, struct sim_func *entry) {
    struct sim_code *c = d->code;
    const unsigned n = d->image->nfuncs;
    c->nimage_funcs = n;
    c->func_of_id = malloc((n + 1) * sizeof *c->func_of_id);
    c->funcs = calloc(n + 1, sizeof *c->funcs);
    d->funcs = calloc(n + 1, sizeof *d->funcs);
    d->order = calloc(n + 1, sizeof *d->order);
    if (!c->func_of_id || !c->funcs || !d->funcs || !d->order) dec_fail(d, "Out of memory");
    for (unsigned k = 0; k < n; k++) c->func_of_id[k] = -1;
    reach(d, entry);
    for (unsigned k = 0; k < c->nfuncs; k++) if (d->funcs[k].indirect) {
        reach_indirect(d);
        break;
    }
    if (d->norder && d->order[d->norder - 1] != 0) {              /* the entry stays last */
        unsigned at = 0;
        while (d->order[at]) at++;
        memmove(d->order + at, d->order + at + 1, (d->norder - at - 1) * sizeof *d->order);
        d->order[d->norder - 1] = 0;
    }
    place_shared(d);
    d->regs_top = 4;                                              /* SIM_TRUE */
    c->fp = new_place(d, 128, 64);
    c->vars_at = d->regs_top;
    for (unsigned k = 0; k < c->nfuncs; k++) place_function(d, k);
    c->vars_end = d->regs_top;
    d->in = NULL;
    c->info.local_bytes = deepest(d);
    close_calls(d);
    for (unsigned k = 0; k < d->norder; k++) emit_function(d, d->order[k]);

    uint64_t words = 0;
    for (unsigned k = 0; k < c->nfuncs; k++) words += c->funcs[k].n32 + 2u * c->funcs[k].n64;
    unsigned char *consts = NULL;
    if (posix_memalign((void **)&consts, 64, c->nconsts + 256)) dec_fail(d, "Out of memory");
    if (c->nconsts) memcpy(consts, c->consts, c->nconsts);
    memset(consts + c->nconsts, 0, 256);
    free(c->consts);
    c->consts = consts;
    c->regs_bytes = d->regs_top + 256;
    c->info.param_bytes = entry->param_bytes;
    c->info.num_regs = words + 8 < 16 ? 16 : words + 8 > 255 ? 255 : (uint32_t)words + 8;
    for (unsigned k = 0; k < d->image->nvars; k++) if (d->image->vars[k]->space == SIM_CONST)
        c->info.const_bytes += (uint32_t)d->image->vars[k]->size;
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
        free(d->funcs[k].calls);
    }
    free(d->funcs);
    free(d->order);
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
    free(c->labels);
    free(c->insns);
    free(c->consts);
    free(c->funcs);
    free(c->func_of_id);
    free(c);
}

const struct sim_code_info *sim_code_info(const struct sim_code *c) { return &c->info; }
