/* emit.c - the ground of lower/: operations by name, errors, and what an instruction's code is made
   of: instructions, constants, scratch registers, addresses, operands. */
#include "decode.h"
#include <stdarg.h>

/* -- operations */

static enum sim_type unsigned_type(enum sim_type t) {
    return t == SIM_B8     ? SIM_U8
            : t == SIM_B16 ? SIM_U16
            : t == SIM_B32 ? SIM_U32
            : t == SIM_B64 ? SIM_U64
                           : t;
}

enum { SLOTS = 4096 };
static const struct sim_operation *operations[SLOTS]; /* a hash table, a third full, created once */
static pthread_once_t operations_once = PTHREAD_ONCE_INIT;

unsigned dec_hash(const char *text) {
    unsigned h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h ^ h >> 15;
}

/* where the operation is, or would be */
static const struct sim_operation **slot_of(const char *name, enum sim_type t, enum sim_variant v) {
    for (unsigned k = (dec_hash(name) + 97 * (unsigned)t + 31 * (unsigned)v) % SLOTS;;
            k = (k + 1) % SLOTS) {
        const struct sim_operation *o = operations[k];
        if (!o || (o->type == t && o->variant == v && !strcmp(o->name, name)))
            return &operations[k];
    }
}

static void add_table(const struct sim_operation *t) {
    for (; t->name; t++) *slot_of(t->name, t->type, t->variant) = t;
}

static void make_operations(void) {
    const struct sim_operation *const tables[] = { sim_alu_table, sim_compare_table,
        sim_float_table, sim_half_table, sim_cvt_table, sim_video_table, sim_ldst_table,
        sim_atom_table, sim_shuffle_table, sim_flow_table, sim_sync_table, sim_texture_table,
        sim_surface_table, sim_matrix_table, sim_matrix_memory_table, sim_tensor_table };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) add_table(tables[k]);
#ifdef SIM_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2"))
        for (unsigned k = 0; sim_avx2_tables[k]; k++) add_table(sim_avx2_tables[k]);
#endif
}

sim_handler *dec_operation(const char *name, enum sim_type t, enum sim_variant v) {
    pthread_once(&operations_once, make_operations);
    const struct sim_operation *o = *slot_of(name, unsigned_type(t), v);
    return o ? o->run : NULL;
}

struct name {
    char text[64];
    size_t n;
};

static void append(struct name *name, const char *word) {
    while (*word && name->n + 1 < sizeof name->text) name->text[name->n++] = *word++;
}

sim_handler *dec_find(struct dec *d, const char *op, enum sim_type first, enum sim_type t) {
    static const char *const types[] = { "", "_pred", "", "_u8", "_s8", "", "_u16", "_s16", "_f16",
        "_bf16", "", "_u32", "_s32", "_f32", "_f16x2", "_bf16x2", "", "_u64", "_s64", "_f64",
        "_b128" };
    const uint32_t flags = d->flags &
            (SIM_I_ROUND | SIM_I_FTZ | SIM_I_SAT | SIM_I_RELU | SIM_I_NAN | SIM_I_XORSIGN |
                    DEC_SATFINITE);
    const enum sim_variant v = !flags ? SIM_PLAIN
            : flags == SIM_I_FTZ      ? SIM_FTZ
            : flags == 1              ? SIM_RZ
                                      : SIM_FLAGS;
    struct name name = { "", 0 };
    append(&name, op);
    for (unsigned k = 0; k < d->nrest; k++) {
        append(&name, "_");
        append(&name, d->rest[k]);
    }
    append(&name, types[unsigned_type(first)]);
    d->nrest = 0;
    sim_handler *run = dec_operation(name.text, t, v);
    if (!run && (v == SIM_FTZ || v == SIM_RZ)) run = dec_operation(name.text, t, SIM_FLAGS);
    if (!run) dec_unsupported(d);
    return run;
}

bool dec_has(const struct dec *d, const char *mod) {
    for (unsigned k = 0; k < d->nrest; k++)
        if (!strcmp(d->rest[k], mod)) return true;
    return false;
}

bool dec_take(struct dec *d, const char *mod) {
    for (unsigned k = 0; k < d->nrest; k++)
        if (!strcmp(d->rest[k], mod)) {
            memmove(&d->rest[k], &d->rest[k + 1], (--d->nrest - k) * sizeof *d->rest);
            return true;
        }
    return false;
}

/* -- errors and growing arrays */

void dec_fail(struct dec *d, const char *format, ...) {
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sim_log_add(d->log, "ptxas application ptx input, line %u; error   : %s\n",
            d->in ? d->in->line : 0, text);
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
    uint32_t more = n < 8 ? 8 : 2 * n;
    void *q = realloc(p, more * size);
    if (!q) dec_fail(d, "Out of memory");
    *cap = more;
    return q;
}

/* -- instructions, constants, scratch registers */

struct sim_insn *dec_emit(struct dec *d, sim_handler *run) {
    struct sim_code *c = d->code;
    if (!run) dec_unsupported(d);
    c->insns = dec_grow(d, c->insns, &d->cap_insns, c->ninsns + 1, sizeof *c->insns);
    struct sim_insn *i = &c->insns[c->ninsns++];
    *i = (struct sim_insn){ .run = run,
        .guard = d->guard,
        .guard_xor = d->guard_xor,
        .line = d->in ? d->in->line : 0,
        .func = (uint16_t)d->now,
        .width = 1 };
    return i;
}

struct sim_insn *dec_emit_untyped(struct dec *d, const char *name) {
    return dec_emit(d, dec_operation(name, SIM_NOTYPE, SIM_PLAIN));
}

struct sim_insn *dec_emit_to(
        struct dec *d, const char *name, enum sim_type t, uint32_t to, uint32_t a, uint32_t b) {
    struct sim_insn *i = dec_emit(d, dec_operation(name, t, SIM_PLAIN));
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

uint32_t dec_new_place(struct dec *d, uint32_t bytes, uint32_t align) {
    d->regs_top = (d->regs_top + align - 1) / align * align;
    d->regs_top += bytes;
    if (d->regs_top > 1u << 30) dec_fail(d, "Too many registers");
    return d->regs_top - bytes;
}

static unsigned class_of_size(unsigned size) { return size == 0 ? 0 : size == 8 ? 2 : 1; }

uint32_t dec_temp(struct dec *d, unsigned size) {
    const unsigned k = class_of_size(size);
    if (d->ntemp[k] == sizeof d->temp[0] / sizeof d->temp[0][0]) dec_unsupported(d);
    if (d->ntemp[k] == d->made[k])
        d->temp[k][d->made[k]++] = dec_new_place(d, size ? 32 * size : 4, size ? 64 : 4);
    return 2 * d->temp[k][d->ntemp[k]++];
}

unsigned dec_reg_size(enum sim_type t) {
    const unsigned size = sim_type_size(t);
    return t == SIM_PRED ? 0 : size <= 4 ? 4 : size == 8 ? 8 : 16;
}

void dec_resize(struct dec *d, unsigned size, uint32_t to, uint32_t from) {
    if (size == 8) dec_emit_to(d, "cvt_u64", SIM_U32, to, from, 0);
    else dec_emit_to(d, "cvt_u32", SIM_U64, to, from, 0);
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

unsigned dec_index(const struct dec *d, const struct sim_func *f) {
    uint32_t index = 0;
    sim_map_get(&d->code->func_of_id, (uint64_t)f->id + 1, &index);
    return index;
}

bool dec_returns_to(const struct dec *d, unsigned callee, unsigned caller) {
    return d->funcs[callee].circle == d->funcs[caller].circle || d->funcs[callee].reaches_all;
}

uint32_t dec_shared_at(struct dec *d, const struct sim_var *v) {
    uint32_t k;
    if (sim_map_get(&d->shared_of, (uintptr_t)v, &k)) return SIM_SHARED_BASE + d->shared_at[k];
    dec_fail(d, "Shared variable '%s' has no place", v->name);
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

/* -- operands */

static const struct {
    const char *name;
    enum sim_const_sreg first;
    bool vector;
} const_sregs[] = {
    { "%tid", SIM_S_TID_X, true },
    { "%ntid", SIM_S_NTID_X, true },
    { "%ctaid", SIM_S_CTAID_X, true },
    { "%nctaid", SIM_S_NCTAID_X, true },
    { "%laneid", SIM_S_LANEID, false },
    { "%warpid", SIM_S_WARPID, false },
    { "%nwarpid", SIM_S_NWARPID, false },
    { "%smid", SIM_S_SMID, false },
    { "%nsmid", SIM_S_NSMID, false },
    { "%gridid", SIM_S_GRIDID, false },
    { "%lanemask_eq", SIM_S_LANEMASK_EQ, false },
    { "%lanemask_le", SIM_S_LANEMASK_LE, false },
    { "%lanemask_lt", SIM_S_LANEMASK_LT, false },
    { "%lanemask_ge", SIM_S_LANEMASK_GE, false },
    { "%lanemask_gt", SIM_S_LANEMASK_GT, false },
    { "%dynamic_smem_size", SIM_S_DYNAMIC_SMEM, false },
    { "%total_smem_size", SIM_S_TOTAL_SMEM, false },
    { "%aggr_smem_size", SIM_S_TOTAL_SMEM, false },
    { "%envreg1", SIM_S_ENVREG1, false },
    { "%envreg2", SIM_S_ENVREG2, false },
    { "%clusterid", SIM_S_CLUSTERID_X, true },
    { "%nclusterid", SIM_S_NCLUSTERID_X, true },
    { "%cluster_ctaid", SIM_S_CLUSTER_CTAID_X, true },
    { "%cluster_nctaid", SIM_S_CLUSTER_NCTAID_X, true },
    { "%cluster_ctarank", SIM_S_CLUSTER_CTARANK, false },
    { "%cluster_nctarank", SIM_S_CLUSTER_NCTARANK, false },
    { "%is_explicit_cluster", SIM_S_IS_EXPLICIT_CLUSTER, false },
};
static const struct {
    const char *name, *operation;
    unsigned size;
} moving_sregs[] = {
    { "%clock", "clock_32", 4 },
    { "%clock_hi", "clock_hi", 4 },
    { "%clock64", "clock_64", 8 },
    { "%globaltimer", "globaltimer_64", 8 },
    { "%globaltimer_lo", "globaltimer_lo", 4 },
    { "%globaltimer_hi", "globaltimer_hi", 4 },
};
static const char *const zero_sregs[] = { "%envreg", "%pm", "%current_graph_exec" };

static uint32_t const_sreg(struct dec *d, unsigned id, unsigned size) {
    if (!d->code->sreg[id])
        d->code->sreg[id] = dec_new_place(d, size ? 32 * size : 4, size ? 64 : 4);
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
        dec_emit_untyped(d, moving_sregs[k].operation)->d = at;
    }
    for (size_t k = 0; k < sizeof zero_sregs / sizeof *zero_sregs && !at; k++)
        if (!strncmp(o->name, zero_sregs[k], strlen(zero_sregs[k]))) return dec_const(d, 0, size);
    if (!at) dec_fail(d, "Special register '%s' is not supported by this CPU device", o->name);
    if (has == size) return at;
    if (!has || !size) dec_unsupported(d);
    const uint32_t t = dec_temp(d, size);
    dec_resize(d, size, t, at);
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

uint32_t dec_handle(struct dec *d, const struct sim_var *v) {
    const uint32_t to = dec_temp(d, 8);
    const bool param = v->space == SIM_PARAM;
    if (v->size != 8)
        dec_fail(d, "Array '%s' of textures or surfaces is not supported by this CPU device",
                v->name);
    const uint32_t a = param ? 0 : dec_const(d, dec_address(v), 8);
    struct sim_insn *i = dec_emit(
            d, dec_operation(param ? "ld_param" : "ld_global", SIM_U64, SIM_PLAIN));
    i->d = to;
    i->a = a;
    i->imm = param ? (int64_t)v->address : 0;
    i->flags = SIM_I_BASE64;
    i->slot = (uint8_t)(d->code->nslots++ % SIM_SLOTS);
    return to;
}

/* the address of a variable or function in its own space, plus offset; size 4 or 8 */
static uint32_t address_of(struct dec *d, const struct sim_operand *o, unsigned size) {
    uint32_t offset;
    if (o->func) {
        if (!o->func->has_body) dec_fail(d, "Cannot take address of function '%s'", o->func->name);
        return dec_const(d, SIM_WINDOW_CODE + 16 * (1 + (uint64_t)o->func->id), size);
    }
    const struct sim_var *v = o->var;
    if (v->opaque && !o->imm && size == 8) return dec_handle(d, v);
    if (v->opaque) dec_fail(d, "Address of '%s' is not supported by this CPU device", v->name);
    if (v->space == SIM_SHARED && d->code->knows_clusters) {
        const uint32_t t = dec_temp(d, 4), wide = size == 8 ? dec_temp(d, 8) : t;
        dec_emit_to(d, "add", SIM_U32, t, dec_shared_rank(d),
                dec_const(d, dec_shared_at(d, v) + o->imm, 4));
        if (size == 8) dec_resize(d, 8, wide, t);
        return wide;
    }
    if (v->space == SIM_SHARED) return dec_const(d, dec_shared_at(d, v) + o->imm, size);
    /* parameters of a function have generic addresses from the start */
    if (dec_frame_offset(d, v, &offset)) {
        const uint32_t fp = 2 * d->code->fp;
        const uint64_t add = offset + o->imm +
                (v->space == SIM_PARAM && size == 8 ? SIM_WINDOW_LOCAL : 0);
        const uint32_t t = dec_temp(d, size);
        if (size == 8) {
            dec_resize(d, 8, t, fp);
            dec_emit_to(d, "add", SIM_U64, t, t, dec_const(d, add, 8));
        } else dec_emit_to(d, "add", SIM_U32, t, fp, dec_const(d, add, 4));
        return t;
    }
    if (v->space == SIM_LOCAL)
        dec_fail(d, "Local variable '%s' of the module is not supported by this CPU device",
                v->name);
    return dec_const(d, dec_address(v) + o->imm, size);
}

struct sim_operand dec_element(const struct sim_operand *o, unsigned k) {
    struct sim_operand element = o->kind == SIM_O_VEC ? o->list[k] : *o;
    if (o->kind == SIM_O_REG) element.component = (unsigned char)(k + 1);
    if (o->kind == SIM_O_SREG) element.imm = k;
    return element;
}

/* where a register's component begins; a register of 128 bits has its halves in adjacent places */
static uint32_t place_of_register(const struct dec *d, const struct sim_operand *o) {
    const unsigned has = dec_reg_size(d->funcs[d->now].func->regs[o->reg].type),
                   lanes = has ? 32 * has : 4;
    return 2 * (d->funcs[d->now].reg[o->reg] + (o->component ? (o->component - 1u) * lanes : 0));
}

uint32_t dec_half(struct dec *d, const struct sim_operand *o, unsigned k) {
    const bool wide = o->kind == SIM_O_REG &&
            dec_reg_size(d->funcs[d->now].func->regs[o->reg].type) == 16;
    if (wide) return place_of_register(d, o) + k * 2 * 256;
    if (o->kind == SIM_O_SINK) return dec_temp(d, 8);
    if (o->kind == SIM_O_IMM) return dec_const(d, k == 0 ? o->imm : 0, 8);
    if (o->kind == SIM_O_SREG) { /* its three numbers and 0 */
        struct sim_operand part[2] = { *o, *o };
        for (unsigned j = 0; j < 2; j++) part[j].imm = 2 * k + j;
        const uint32_t low = dec_sreg(d, &part[0], 4), high = dec_sreg(d, &part[1], 4),
                       both = dec_temp(d, 8);
        dec_emit_to(d, "pack", SIM_B64, both, low, high);
        return both;
    }
    if (o->kind != SIM_O_SYM) dec_unsupported(d);
    return k == 0 ? address_of(d, o, 8) : dec_const(d, 0, 8);
}

uint32_t dec_src(struct dec *d, const struct sim_operand *o, enum sim_type t) {
    const unsigned size = dec_reg_size(t);
    uint32_t at = 0;
    if (size == 16) dec_unsupported(d);
    switch (o->kind) {
    case SIM_O_REG: {
        const struct sim_reg *r = &d->funcs[d->now].func->regs[o->reg];
        const unsigned has = dec_reg_size(r->type) == 16 ? 8 : dec_reg_size(r->type);
        if (o->component > r->vec) dec_unsupported(d);
        at = place_of_register(d, o); /* of 128 bits only the lower ones */
        if (o->negated && has == 0) {
            const uint32_t p = dec_temp(d, 0);
            dec_emit_to(d, "not", SIM_PRED, p, at, 0);
            at = p;
        }
        if (has == size) return at;
        if (!has || !size) dec_unsupported(d);
        const uint32_t to = dec_temp(d, size);
        dec_resize(d, size, to, at);
        return to;
    }
    case SIM_O_IMM:
        return dec_const(d, t == SIM_PRED ? (o->imm != 0) != o->negated : literal(o, t), size);
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
    if (o->component > r->vec || size == 16) dec_unsupported(d);
    const uint32_t at = place_of_register(d, o);
    if (has == size) return at;
    if (has < 8 || size < 4) dec_unsupported(d);
    const uint32_t temp = size == 8 ? at : dec_temp(d, 4);
    d->after[d->nafter].to = at;
    d->after[d->nafter].from = temp;
    d->after[d->nafter].whole = has == 16;
    d->after[d->nafter++].type = t;
    return temp;
}

void dec_done(struct dec *d) {
    for (unsigned k = 0; k < d->nafter; k++) {
        const enum sim_type t = d->after[k].type;
        const bool is_signed = t == SIM_S8 || t == SIM_S16 || t == SIM_S32 || t == SIM_S64;
        const enum sim_type bits = sim_type_size(t) == 1 ? SIM_U8
                : sim_type_size(t) == 2                  ? SIM_U16
                                                         : SIM_U32;
        const uint32_t to = d->after[k].to, high = to + 2 * 256;
        if (sim_type_size(t) < 8)
            dec_emit_to(d, is_signed ? "cvt_s64" : "cvt_u64", is_signed ? t : bits, to,
                    d->after[k].from, 0);
        if (!d->after[k].whole) continue;
        if (is_signed) dec_emit_to(d, "shr", SIM_S64, high, to, dec_const(d, 63, 4));
        else dec_emit_to(d, "mov", SIM_U64, high, dec_const(d, 0, 8), 0);
    }
    d->nafter = 0;
}
