/* select_mem.c - the handler for each memory instruction: loads, stores, atomics, addresses,
   cp.async, mbarrier. */
#include "decode.h"

struct dec_place dec_place_of(struct dec *d, const struct sim_operand *o, enum sim_space space) {
    struct dec_place p = { 0, (int64_t)o->imm, SIM_I_BASE64, space };
    uint32_t offset;
    /* forms.h accepts any operand in some instructions */
    if (o->kind != SIM_O_MEM) dec_unsupported(d);
    if (o->reg >= 0) {
        const struct sim_reg *r = &d->funcs[d->now].func->regs[o->reg];
        struct sim_operand reg = { .kind = SIM_O_REG, .reg = o->reg, .component = o->component };
        const bool wide = dec_reg_size(r->type) == 8;
        p.base = dec_src(d, &reg, wide ? SIM_B64 : SIM_B32);
        p.flags = wide ? SIM_I_BASE64 : 0;
    } else if (o->var && dec_frame_offset(d, o->var, &offset)) {
        p.base = 2 * d->code->fp;
        p.imm += offset;
        p.flags = 0;
        p.space = SIM_LOCAL;
    } else if (o->var) {
        const bool shared = o->var->space == SIM_SHARED;
        if (o->var->space == SIM_LOCAL) dec_unsupported(d);
        if (shared && d->code->knows_clusters)
            return (struct dec_place){ dec_shared_rank(d), p.imm + dec_shared_at(d, o->var), 0,
                SIM_SHARED };
        p.base = dec_const(
                d, (shared ? dec_shared_at(d, o->var) : dec_address(o->var)) + o->imm, 8);
        p.imm = 0;
        if (space == SIM_GENERIC)
            p.space = shared ? SIM_SHARED : o->var->space == SIM_PARAM ? SIM_PARAM : SIM_GLOBAL;
    } else {
        p.base = dec_const(d, o->imm, 8);
        p.imm = 0;
    }
    if (p.space == SIM_SHARED_CLUSTER) { /* a generic address has the same low bits */
        if (o->reg >= 0 && p.flags & SIM_I_BASE64) {
            const uint32_t low = dec_temp(d, 8);
            dec_emit_to(d, "and", SIM_U64, low, p.base, dec_const(d, UINT32_MAX, 8));
            p.base = low;
        }
        p.space = SIM_GENERIC;
        p.imm += (int64_t)SIM_WINDOW_SHARED;
    }
    return p;
}

static uint8_t next_slot(struct dec *d) { return (uint8_t)(d->code->nslots++ % SIM_SLOTS); }

void dec_set_place(struct dec *d, struct sim_insn *i, const struct dec_place *p, int64_t more) {
    i->a = p->base;
    i->imm = p->imm + more;
    i->flags = p->flags | (d->flags & (SIM_I_STRONG | SIM_I_ORDERS));
    if (p->space != SIM_LOCAL && p->space != SIM_PARAM) i->flags |= SIM_I_SEEN;
    i->slot = next_slot(d);
}

static void set_element(struct sim_insn *i, unsigned k, uint32_t v) {
    *(k == 0 ? &i->d : k == 1 ? &i->b : k == 2 ? &i->c : &i->e) = v;
}

uint32_t dec_seen(enum sim_space space, bool writes, unsigned bytes) {
    return ((uint32_t)space | (writes ? 8u : 0u) | bytes << 4) << SIM_I_USER;
}

static void emit_mbarrier(struct dec *d, const struct sim_operand *mem, uint32_t what, uint32_t b,
        const struct sim_operand *state) {
    const struct dec_place p = dec_place_of(d, mem, d->space);
    const bool sink = !state || state->kind == SIM_O_SINK;
    const uint32_t dst = sink ? 0 : dec_dst(d, state, SIM_B64);
    struct sim_insn *i = dec_emit_untyped(d, "mbarrier");
    dec_set_place(d, i, &p, 0);
    i->d = dst;
    i->b = b;
    i->width = (uint8_t)p.space;
    i->flags |= SIM_I_ORDERS | what << SIM_I_USER | (sink ? SIM_I_SINK : 0);
}

static void load_or_store(struct dec *d, bool load) {
    static const char *const loads[] = { [SIM_GENERIC] = "ld_generic",
        [SIM_GLOBAL] = "ld_global",
        [SIM_SHARED] = "ld_shared",
        [SIM_LOCAL] = "ld_local",
        [SIM_PARAM] = "ld_param_at" };
    static const char *const stores[] = { [SIM_GENERIC] = "st_generic",
        [SIM_GLOBAL] = "st_global",
        [SIM_SHARED] = "st_shared",
        [SIM_LOCAL] = "st_local",
        [SIM_PARAM] = "st_generic" };
    const struct sim_operand *mem = &d->in->opd[load ? 1 : 0], *data = &d->in->opd[load ? 0 : 1];
    const enum sim_type t = d->in->type[0];
    const bool whole = t == SIM_B128; /* 128 bits: two elements of 64 */
    const unsigned size = whole ? 8 : sim_type_size(t), n = whole ? 2 : d->vec;
    struct dec_place p = dec_place_of(d, mem, d->space);
    const struct sim_func *f = d->funcs[d->now].func;
    const bool entry_param = f->is_entry && p.space == SIM_PARAM && mem->reg < 0;
    if (entry_param) {
        const uint64_t at = (mem->var ? dec_address(mem->var) : 0) + mem->imm - SIM_PARAM_BASE,
                       end = (f->param_bytes + 15u) / 16 * 16;
        if (!load || at > end || (uint64_t)size * n > end - at)
            dec_fail(d, "Address outside of the kernel's parameters");
        p.imm = (int64_t)at;
    }
    const bool extends = load && (t == SIM_S8 || t == SIM_S16);
    const enum sim_type bits = size == 8 ? SIM_U64
            : size == 4                  ? SIM_U32
            : size == 2                  ? SIM_U16
                                         : SIM_U8;
    const enum sim_variant v = (load && p.space == SIM_PARAM) || n == 1 ? SIM_PLAIN
            : n == 2                                                    ? SIM_V2
                                                                        : SIM_V4;
    const char *name = entry_param ? "ld_param" : load ? loads[p.space] : stores[p.space];
    sim_handler *run = dec_operation(name, extends ? t : bits, v);
    uint32_t at[8];
    for (unsigned k = 0; k < n; k++) {
        const struct sim_operand element = n > 1 && !whole ? dec_element(data, k) : *data;
        at[k] = whole  ? dec_half(d, data, k)
                : load ? dec_dst(d, &element, t)
                       : dec_src(d, &element, t);
    }
    for (unsigned k = 0; k < n; k += 4) { /* .v8 in two parts */
        struct sim_insn *i = dec_emit(d, run);
        dec_set_place(d, i, &p, (int64_t)k * size);
        i->width = (uint8_t)(n - k < 4 ? n - k : 4);
        i->unused = k * size < 32 ? d->in->unused >> k * size : 0;
        if (i->flags & SIM_I_SEEN)
            i->flags |= dec_seen(p.space, !load, size * i->width) |
                    (load || i->flags & SIM_I_STRONG ? 0 : SIM_I_WEAK);
        for (unsigned j = 0; j < i->width; j++) set_element(i, j, at[k + j]);
    }
}

void dec_ld(struct dec *d) { load_or_store(d, true); }
void dec_st(struct dec *d) { load_or_store(d, false); }

/* The access of st.async and red.async is complete: their mbarrier, operand 2, counts its bytes. */
static void complete(struct dec *d) {
    const uint32_t bytes = d->vec * sim_type_size(d->in->type[0]);
    emit_mbarrier(d, &d->in->opd[2], MB_COMPLETE, dec_const(d, bytes, 4), NULL);
}

static void take_async(struct dec *d) {
    dec_take(d, "async");
    dec_take(d, "mbarrier::complete_tx::bytes");
}

void dec_st_async(struct dec *d) {
    take_async(d);
    dec_st(d);
    complete(d);
}

/* Elements of a vector are accessed separately, as on a GPU; the address is a multiple of all
   bytes. */
static void atomic_vector(
        struct dec *d, const struct sim_operand *o, const struct sim_operand *to) {
    const enum sim_type t = d->in->type[0];
    const unsigned size = sim_type_size(t), n = d->vec;
    sim_handler *run = dec_find(d, "atom", SIM_NOTYPE, t);
    struct dec_place p = dec_place_of(d, &o[0], d->space);
    struct sim_insn *i = dec_emit_untyped(d, "atom_aligned");
    i->a = p.base;
    i->imm = p.imm;
    i->flags = p.flags;
    i->width = (uint8_t)(n * size);
    for (unsigned k = 0; k < n; k++) {
        const struct sim_operand from = dec_element(&o[1], k),
                                 element = to && to->kind != SIM_O_SINK
                ? dec_element(to, k)
                : (struct sim_operand){ .kind = SIM_O_SINK };
        const bool sink = element.kind == SIM_O_SINK;
        const uint32_t b = dec_src(d, &from, t),
                       dst = sink ? dec_temp(d, 4) : dec_dst(d, &element, t);
        i = dec_emit(d, run);
        dec_set_place(d, i, &p, (int64_t)k * size);
        i->d = dst;
        i->b = b;
        i->width = (uint8_t)p.space;
        i->flags |= (sink ? SIM_I_SINK : 0) | dec_seen(p.space, true, size);
    }
}

/* from operand `at` on: the address, one source or two */
static void atomic(struct dec *d, unsigned at, const struct sim_operand *to) {
    const struct sim_operand *o = &d->in->opd[at];
    const enum sim_type t = d->in->type[0];
    const unsigned size = sim_type_size(t);
    const bool swaps = dec_has(d, "cas"), sink = !to || to->kind == SIM_O_SINK,
               whole = t == SIM_B128;
    if (d->vec > 1) {
        atomic_vector(d, o, to);
        return;
    }
    sim_handler *run = dec_find(d, "atom", SIM_NOTYPE, t);
    struct dec_place p = dec_place_of(d, &o[0], d->space);
    const uint32_t b = whole ? dec_half(d, &o[1], 0) : dec_src(d, &o[1], t),
                   c = !swaps ? 0
            : whole           ? dec_half(d, &o[2], 0)
                              : dec_src(d, &o[2], t);
    const uint32_t dst = sink ? dec_temp(d, size >= 8 ? 8 : 4)
            : whole           ? dec_half(d, to, 0)
                              : dec_dst(d, to, t);
    struct sim_insn *i = dec_emit(d, run);
    dec_set_place(d, i, &p, 0);
    i->d = dst;
    i->b = b;
    i->c = c;
    i->width = (uint8_t)p.space;
    i->flags |= (sink ? SIM_I_SINK : 0) | dec_seen(p.space, true, size);
}

void dec_atom(struct dec *d) { atomic(d, 1, &d->in->opd[0]); }
void dec_red(struct dec *d) { atomic(d, 0, NULL); }

void dec_red_async(struct dec *d) {
    take_async(d);
    dec_red(d);
    complete(d);
}

/* -- addresses between spaces. Global, constant and generic addresses are identical; the other
   spaces have windows. */

void dec_cvta(struct dec *d) {
    const bool to = dec_take(d, "to");
    const struct sim_operand *from = &d->in->opd[1];
    const enum sim_type t = d->in->type[0];
    if (sim_type_size(t) != 8) dec_unsupported(d);
    const uint32_t a = dec_src(d, from, t), dst = dec_dst(d, &d->in->opd[0], t);
    if (d->space == SIM_GLOBAL) {
        dec_emit_to(d, "mov", SIM_U64, dst, a, 0);
        return;
    }
    if (to) {
        dec_emit_to(d, "and", SIM_U64, dst, a, dec_const(d, SIM_WINDOW_OFFSET, 8));
        return;
    }
    if (d->space == SIM_PARAM && d->funcs[d->now].func->is_entry) d->code->info.shows_params = true;
    const uint64_t window = d->space == SIM_SHARED || d->space == SIM_SHARED_CLUSTER
            ? SIM_WINDOW_SHARED
            : d->space == SIM_LOCAL ? SIM_WINDOW_LOCAL
                                    :
                                    /* a function's parameters already have generic addresses */
            d->funcs[d->now].func->is_entry ? SIM_WINDOW_PARAM
                                            : 0;
    dec_emit_to(d, "or", SIM_U64, dst, a, dec_const(d, window, 8));
}

/* Whether an address is in one of the module's .const variables, which are in global memory
   here. */
static uint32_t is_constant(struct dec *d, uint32_t a) {
    const uint32_t p = dec_temp(d, 0), offset = dec_temp(d, 8);
    dec_emit_to(d, "mov", SIM_PRED, p, dec_const(d, 0, 0), 0);
    for (unsigned k = 0; k < d->image->nvars; k++) {
        const struct sim_var *v = d->image->vars[k];
        if (v->space != SIM_CONST || !v->address) continue;
        dec_emit_to(d, "sub", SIM_U64, offset, a, dec_const(d, v->address, 8));
        struct sim_insn *i = dec_emit_to(
                d, "setp_lt", SIM_U64, p, offset, dec_const(d, v->size, 8));
        i->c = p;
        i->flags = SIM_I_OR;
    }
    return p;
}

void dec_isspacep(struct dec *d) {
    bool constant = false;
    for (unsigned k = 0; k < d->in->nmods; k++) constant |= !strcmp(d->in->mods[k], "const");
    const uint32_t a = dec_src(d, &d->in->opd[1], SIM_B64),
                   dst = dec_dst(d, &d->in->opd[0], SIM_PRED), t = dec_temp(d, 8);
    if (constant) {
        dec_emit_to(d, "mov", SIM_PRED, dst, is_constant(d, a), 0);
        return;
    }
    const uint64_t window = d->space == SIM_GLOBAL ? 0
            : d->space == SIM_LOCAL                ? SIM_WINDOW_LOCAL
            : d->space == SIM_PARAM                ? SIM_WINDOW_PARAM
                                                   : SIM_WINDOW_SHARED;
    if (d->space == SIM_SHARED && d->code->knows_clusters) { /* not that of other blocks */
        const uint32_t own = dec_temp(d, 8);
        dec_resize(d, 8, own, dec_shared_rank(d));
        dec_emit_to(d, "or", SIM_U64, own, own, dec_const(d, window, 8));
        dec_emit_to(
                d, "and", SIM_U64, t, a, dec_const(d, ~(((uint64_t)1 << SIM_RANK_SHIFT) - 1), 8));
        dec_emit_to(d, "setp_eq", SIM_U64, dst, t, own);
        return;
    }
    dec_emit_to(d, "shr", SIM_U64, t, a, dec_const(d, 48, 4));
    if (d->space != SIM_GLOBAL) {
        dec_emit_to(d, "setp_eq", SIM_U64, dst, t, dec_const(d, window >> 48, 8));
        return;
    }
    /* a kernel's parameters are in global memory, too */
    const uint32_t other = dec_temp(d, 0), p = dec_temp(d, 0);
    dec_emit_to(d, "not", SIM_PRED, other, is_constant(d, a), 0);
    dec_emit_to(d, "setp_eq", SIM_U64, p, t, dec_const(d, SIM_WINDOW_PARAM >> 48, 8));
    struct sim_insn *global = dec_emit_to(d, "setp_eq", SIM_U64, p, t, dec_const(d, 0, 8));
    global->c = p;
    global->flags = SIM_I_OR;
    dec_emit_to(d, "and", SIM_PRED, dst, p, other);
}

/* mapa: the same place in the shared memory of the block of a rank; shared addresses and generic
   ones have it in the same bits */
void dec_mapa(struct dec *d) {
    const enum sim_type t = d->in->type[0];
    const unsigned size = sim_type_size(t);
    const uint64_t rank_bits = (uint64_t)0xff << SIM_RANK_SHIFT;
    const uint32_t a = dec_src(d, &d->in->opd[1], t), b = dec_src(d, &d->in->opd[2], SIM_U32),
                   dst = dec_dst(d, &d->in->opd[0], t), rest = dec_temp(d, size);
    uint32_t rank = dec_temp(d, 4);
    dec_emit_to(d, "shl", SIM_U32, rank, b, dec_const(d, SIM_RANK_SHIFT, 4));
    if (size == 8) {
        const uint32_t narrow = rank;
        dec_resize(d, 8, rank = dec_temp(d, 8), narrow);
    }
    dec_emit_to(d, "and", t, rest, a, dec_const(d, ~rank_bits, size));
    dec_emit_to(d, "or", t, dst, rest, rank);
}

void dec_getctarank(struct dec *d) {
    const enum sim_type t = d->in->type[0];
    const uint32_t a = dec_src(d, &d->in->opd[1], t), dst = dec_dst(d, &d->in->opd[0], SIM_U32),
                   low = t == SIM_U64 ? dec_temp(d, 4) : a;
    if (t == SIM_U64) dec_resize(d, 4, low, a);
    dec_emit_to(d, "shr", SIM_U32, dst, low, dec_const(d, SIM_RANK_SHIFT, 4));
}

/* -- cp.async, mbarrier */

/* A generic address in a temporary. */
static uint32_t whole_address(struct dec *d, const struct sim_operand *o, enum sim_space space) {
    const struct dec_place p = dec_place_of(d, o, space);
    const int64_t imm = p.imm + (p.space == SIM_SHARED ? (int64_t)SIM_WINDOW_SHARED : 0);
    uint32_t a = p.base;
    if (!(p.flags & SIM_I_BASE64)) dec_resize(d, 8, a = dec_temp(d, 8), p.base);
    if (!imm) return a;
    const uint32_t sum = dec_temp(d, 8);
    dec_emit_to(d, "add", SIM_U64, sum, a, dec_const(d, (uint64_t)imm, 8));
    return sum;
}

/* Between global memory and the shared memory of blocks of the cluster, completed through an
   mbarrier or a group. Not reductions. */
void dec_cp_bulk(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    enum sim_space spaces[2] = { SIM_GENERIC, SIM_GENERIC }; /* to, from */
    unsigned n = 0;
    dec_take(d, "async");
    dec_take(d, "bulk");
    if (dec_take(d, "commit_group") || dec_take(d, "wait_group")) {
        dec_take(d, "read");
        dec_emit_untyped(d, "nothing");
        return;
    }
    for (unsigned k = 0; k < d->in->nmods && n < 2; k++) {
        const char *m = d->in->mods[k];
        if (!strcmp(m, "shared::cluster")) spaces[n++] = SIM_SHARED_CLUSTER;
        else if (!strncmp(m, "shared", 6)) spaces[n++] = SIM_SHARED;
        else if (!strcmp(m, "global")) spaces[n++] = SIM_GLOBAL;
    }
    const bool store = spaces[0] == SIM_GLOBAL, multicast = dec_take(d, "multicast::cluster");
    const bool known = store ? spaces[1] == SIM_SHARED && !multicast
                             : spaces[1] == SIM_GLOBAL ||
                    (spaces[0] == SIM_SHARED_CLUSTER && spaces[1] == SIM_SHARED && !multicast);
    if (!known ||
            d->in->n < (store                      ? 3u
                                       : multicast ? 5u
                                                   : 4u) ||
            !dec_take(d, store ? "bulk_group" : "mbarrier::complete_tx::bytes") || d->nrest)
        dec_unsupported(d);
    const uint32_t to = whole_address(d, &o[0], spaces[0]),
                   from = whole_address(d, &o[1], spaces[1]);
    const uint32_t size = dec_src(d, &o[2], SIM_U32),
                   barrier = store ? 0 : whole_address(d, &o[3], spaces[0]),
                   ranks = multicast ? dec_src(d, &o[4], SIM_U16) : 0;
    struct sim_insn *i = dec_emit_untyped(d, "cp_bulk");
    i->d = to;
    i->a = from;
    i->b = size;
    i->c = barrier;
    i->e = ranks;
    i->flags = SIM_I_SEEN | SIM_I_ORDERS | (store ? 0 : SIM_I_COUNT) |
            (multicast ? SIM_I_SECOND : 0);
    i->slot = next_slot(d);
}

static enum sim_tensor_act tensor_act(struct dec *d) {
    static const char *const reductions[] = { "add", "min", "max", "inc", "dec", "and", "or",
        "xor" };
    for (unsigned k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (dec_take(d, reductions[k])) return (enum sim_tensor_act)(SIM_TENSOR_ADD + k);
    return dec_has(d, "bulk_group") ? SIM_TENSOR_STORE : SIM_TENSOR_LOAD;
}

static void read_sources(
        struct dec *d, const struct sim_operand *o, enum sim_type t, uint32_t to[]) {
    for (unsigned k = 0; k < o->n; k++) {
        const struct sim_operand e = dec_element(o, k);
        to[k] = dec_src(d, &e, t);
    }
}

/* Between a tensor in global memory and a box in the shared memory of blocks of the cluster. Its
   operands are more than an instruction has room for: they are in code->copies. */
void dec_cp_tensor(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    struct sim_code *code = d->code;
    struct sim_tensor_copy c = { .act = tensor_act(d) };
    const bool loads = c.act == SIM_TENSOR_LOAD;
    const struct sim_operand *map = &o[loads ? 1 : 0], *shared = &o[loads ? 0 : 1];
    unsigned k = loads ? 3 : 2;
    c.im2col = dec_has(d, "im2col") || dec_has(d, "im2col_no_offs");
    c.multicast = dec_has(d, "multicast::cluster");
    c.dims = map->list[0].n;
    c.map = whole_address(d, map, SIM_GENERIC);
    read_sources(d, &map->list[0], SIM_S32, c.at);
    c.shared = whole_address(d, shared, loads ? SIM_SHARED_CLUSTER : SIM_SHARED);
    if (loads) c.barrier = whole_address(d, &o[2], SIM_SHARED_CLUSTER);
    if (loads && c.im2col) {
        c.noffsets = o[k].n;
        read_sources(d, &o[k++], SIM_U16, c.offset);
    }
    if (c.multicast) c.ranks = dec_src(d, &o[k], SIM_U16);
    d->nrest = 0;
    code->copies = dec_grow(d, code->copies, &d->cap_copies, code->ncopies + 1, sizeof c);
    code->copies[code->ncopies] = c;
    struct sim_insn *i = dec_emit_untyped(d, "cp_tensor");
    i->imm = code->ncopies++;
    i->flags = SIM_I_SEEN | SIM_I_ORDERS;
    i->slot = next_slot(d);
}

/* The field, and which element of it. */
void dec_tensormap_replace(struct dec *d) {
    static const char *const fields[SIM_TENSOR_FIELDS] = { "global_address", "rank", "box_dim",
        "global_dim", "global_stride", "element_stride", "elemtype", "interleave_layout",
        "swizzle_mode", "fill_mode" };
    const struct sim_operand *o = d->in->opd;
    const bool wide = d->in->type[0] == SIM_B64;
    unsigned field = 0;
    while (field + 1 < SIM_TENSOR_FIELDS && !dec_has(d, fields[field])) field++;
    d->nrest = 0;
    const uint32_t a = whole_address(d, &o[0], d->space),
                   b = dec_src(d, &o[d->in->n - 1], d->in->type[0]);
    struct sim_insn *i = dec_emit_untyped(d, "tensormap_replace");
    i->a = a;
    i->b = b;
    i->imm = (int64_t)(d->in->n > 2 ? o[1].imm : 0);
    i->flags = SIM_I_SEEN | SIM_I_ORDERS | (wide ? SIM_I_SECOND : 0) | field << SIM_I_USER;
    i->slot = next_slot(d);
}

/* tensormap.cp_fenceproxy */
void dec_tensormap_copy(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    d->nrest = 0;
    if (o[2].imm != 128) dec_unsupported(d);
    const uint32_t to = whole_address(d, &o[0], SIM_GLOBAL),
                   from = whole_address(d, &o[1], SIM_SHARED);
    struct sim_insn *i = dec_emit_untyped(d, "cp_bulk");
    i->d = to;
    i->a = from;
    i->b = dec_const(d, 128, 4);
    i->flags = SIM_I_SEEN | SIM_I_ORDERS;
    i->slot = next_slot(d);
}

/* The copies are complete, so it arrives now; without .noinc the counts cancel. */
void dec_cp_arrive(struct dec *d) {
    if (dec_has(d, "noinc")) emit_mbarrier(d, &d->in->opd[0], MB_ARRIVE, dec_const(d, 1, 4), NULL);
    else dec_emit_untyped(d, "nothing");
    d->nrest = 0;
}

void dec_cp_async(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    dec_take(d, "async");
    bool policy = false;
    for (unsigned k = 0; k < d->in->nmods; k++) policy |= !strcmp(d->in->mods[k], "L2::cache_hint");
    const struct dec_place to = dec_place_of(d, &o[0], SIM_SHARED),
                           from = dec_place_of(d, &o[1], SIM_GLOBAL);
    const bool has_size = d->in->n - (policy ? 1 : 0) > 3;
    uint32_t bytes = 0;
    /* ignore-src */
    if (has_size && o[3].kind == SIM_O_REG &&
            d->funcs[d->now].func->regs[o[3].reg].type == SIM_PRED) {
        const uint32_t ignore = dec_src(d, &o[3], SIM_PRED);
        bytes = dec_temp(d, 4);
        dec_emit_to(d, "selp", SIM_U32, bytes, dec_const(d, 0, 4), dec_const(d, o[2].imm, 4))->c =
                ignore;
    } else if (has_size) bytes = dec_src(d, &o[3], SIM_U32);
    struct sim_insn *i = dec_emit_untyped(d, "cp_async");
    i->d = to.base;
    i->a = from.base;
    i->b = bytes;
    i->imm = (int64_t)((uint64_t)to.imm << 32 | (uint32_t)from.imm);
    i->flags = (from.flags & SIM_I_BASE64) | (to.flags & SIM_I_BASE64 ? SIM_I_COUNT : 0) |
            (has_size ? 0 : SIM_I_SINK) | SIM_I_SEEN | SIM_I_ORDERS;
    i->width = (uint8_t)o[2].imm;
    i->slot = next_slot(d);
}

void dec_mbarrier_init(struct dec *d) {
    dec_take(d, "init");
    emit_mbarrier(d, &d->in->opd[0], MB_INIT, dec_src(d, &d->in->opd[1], SIM_U32), NULL);
}

void dec_mbarrier_inval(struct dec *d) {
    dec_take(d, "inval");
    emit_mbarrier(d, &d->in->opd[0], MB_INVAL, dec_const(d, 1, 4), NULL);
}

void dec_mbarrier_arrive(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    const unsigned at = o[0].kind == SIM_O_MEM ? 0 : 1; /* after the state, if it is wanted */
    const bool drop = dec_take(d, "arrive_drop"), expect = dec_take(d, "expect_tx");
    dec_take(d, "arrive");
    dec_take(d, "noComplete");
    if (d->in->n <= at) dec_unsupported(d);
    const uint32_t b = d->in->n > at + 1 ? dec_src(d, &o[at + 1], SIM_U32) : dec_const(d, 1, 4);
    static const uint32_t steps[2][2] = {
        { MB_ARRIVE, MB_ARRIVE_EXPECT },
        { MB_DROP, MB_DROP_EXPECT },
    };
    emit_mbarrier(d, &o[at], steps[drop][expect], b, at ? &o[0] : NULL);
}

void dec_mbarrier_tx(struct dec *d) {
    const bool complete = dec_take(d, "complete_tx");
    dec_take(d, "expect_tx");
    emit_mbarrier(d, &d->in->opd[0], complete ? MB_COMPLETE : MB_EXPECT,
            dec_src(d, &d->in->opd[1], SIM_U32), NULL);
}

void dec_mbarrier_test(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    const bool parity = dec_take(d, "parity");
    if (!dec_take(d, "test_wait")) dec_take(d, "try_wait");
    const struct dec_place p = dec_place_of(d, &o[1], d->space);
    const uint32_t b = dec_src(d, &o[2], parity ? SIM_U32 : SIM_B64),
                   dst = dec_dst(d, &o[0], SIM_PRED);
    struct sim_insn *i = dec_emit_untyped(d, "mbarrier_test");
    dec_set_place(d, i, &p, 0);
    i->d = dst;
    i->b = b;
    i->width = (uint8_t)p.space;
    i->flags |= parity ? SIM_I_COUNT : 0;
}

void dec_createpolicy(struct dec *d) {
    const uint32_t dst = dec_dst(d, &d->in->opd[0], SIM_B64);
    d->nrest = 0;
    dec_emit_to(d, "mov", SIM_U64, dst, dec_const(d, 0, 8), 0);
}
