/* select.c - the handlers of each instruction, by its form: operations for each lane, comparisons,
   moves. The others are in select_mem.c and select_flow.c. An instruction without a handler, or
   with a modifier that no function takes, is not supported. */
#include "decode.h"

static unsigned bits_of(enum sim_type t) { return t == SIM_PRED ? 0 : 8 * sim_type_size(t); }

/* -- d = op(sources) for each lane: the letters of the form give the types of the operands */

struct sources {
    uint32_t at[5];
    int64_t imm;
};

static enum sim_type type_at(const struct sim_instr *in, char letter, bool first) {
    const enum sim_type t = in->type[0];
    switch (letter) {
    case 'b':
    case 'B':
    case 'c':
    case 'Y': return in->type[1];
    case 'w':
    case 'W': return sim_type_size(t) == 2 ? SIM_B32 : SIM_B64;
    case 'r':
    case 'i':
    case 'I':
    case 'u':
    case 'v': return SIM_U32;
    case 'f': return SIM_F32;
    case 'q':
    case 'p': return SIM_PRED;
    case 'x': return in->type[!first];
    default: return t;
    }
}

static struct sources read_sources(struct dec *d) {
    const struct sim_instr *in = d->in;
    const char *letter = in->form->args + (in->form->args[0] == '.');
    struct sources s = { { 0, 0, 0, 0, 0 }, 0 };
    if (in->n > 6) dec_unsupported(d);
    for (unsigned k = 1; k < in->n; k++) {
        if (*++letter == '.') letter++;
        if (*letter == 'n') s.imm = (int64_t)in->opd[k].imm;
        else s.at[k - 1] = dec_src(d, &in->opd[k], type_at(in, *letter, false));
    }
    return s;
}

static struct sim_insn *emit_lanes(
        struct dec *d, sim_handler *run, const struct sources *s, uint32_t to) {
    struct sim_insn *i = dec_emit(d, run);
    i->d = to;
    i->a = s->at[0];
    i->b = s->at[1];
    i->c = s->at[2];
    i->e = s->at[3];
    i->imm = s->imm;
    i->flags = d->flags;
    return i;
}

static uint32_t destination(struct dec *d) {
    const char *args = d->in->form->args;
    return dec_dst(d, &d->in->opd[0], type_at(d->in, args[args[0] == '.'], true));
}

static void lanes_of(struct dec *d, sim_handler *run) {
    const struct sources s = read_sources(d);
    emit_lanes(d, run, &s, destination(d));
}

static void lanes(struct dec *d) {
    const struct sim_instr *in = d->in;
    const char *args = in->form->args, *optional = strchr(args, '.');
    /* min, max of three */
    if (optional && optional != args && in->n > optional - args) d->rest[d->nrest++] = "3";
    if (in->ntypes < 2) lanes_of(d, dec_find(d, in->op, SIM_NOTYPE, in->type[0]));
    else lanes_of(d, dec_find(d, in->op, in->type[0], in->type[1]));
}

static void round_to_int(struct dec *d) {
    lanes_of(d, dec_find(d, "cvt_int", SIM_NOTYPE, d->in->type[0]));
}

/* add.f32.f16: the narrow operands widen first */
static void mixed(struct dec *d) {
    sim_handler *run = dec_find(d, d->in->op, SIM_NOTYPE, d->in->type[0]);
    struct sources s = read_sources(d);
    for (unsigned k = 1; k < d->in->n; k++)
        if (d->in->form->args[k] == 'b') {
            const uint32_t narrow = s.at[k - 1];
            dec_emit_to(d, "cvt_f32", d->in->type[1], s.at[k - 1] = dec_temp(d, 4), narrow, 0);
        }
    emit_lanes(d, run, &s, destination(d));
}

/* f32x2: two f32 in 64 bits */
static void float_pair(struct dec *d) {
    struct sources half[2] = { { { 0, 0, 0, 0, 0 }, 0 }, { { 0, 0, 0, 0, 0 }, 0 } };
    uint32_t result[2];
    dec_take(d, "f32x2");
    sim_handler *run = dec_find(d, d->in->op, SIM_NOTYPE, SIM_F32);
    const struct sources s = read_sources(d);
    for (unsigned k = 0; k + 1 < d->in->n; k++) {
        dec_resize(d, 4, half[0].at[k] = dec_temp(d, 4), s.at[k]);
        dec_emit_to(d, "high", SIM_U64, half[1].at[k] = dec_temp(d, 4), s.at[k], 0);
    }
    for (unsigned k = 0; k < 2; k++) emit_lanes(d, run, &half[k], result[k] = dec_temp(d, 4));
    dec_emit_to(d, "pack", SIM_U64, destination(d), result[0], result[1]);
}

/* -- video instructions */

static unsigned place_in(const char *const *names, unsigned n, const char *name) {
    unsigned k = 0;
    while (k < n && strncmp(names[k], name, strlen(names[k]))) k++;
    return k;
}

static unsigned take_one(struct dec *d, const char *const *names, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (dec_take(d, names[k])) return k;
    return n;
}

/* the selection of one source: its text ends with the first element's number */
static uint16_t selection(const struct sim_operand *o, unsigned elements, unsigned first) {
    const char *e = o->elements;
    unsigned s = 0;
    if (elements == 1)
        return (uint16_t)(!e ? VIDEO_WORD : (unsigned)(e[1] - '0') + (*e == 'h' ? 4 : 0));
    for (unsigned k = 0; k < elements; k++)
        s |= (e ? (unsigned)(e[elements - k] - '0') : first + k) << 3 * k;
    return (uint16_t)s;
}

static void video(struct dec *d) {
    static const char *const ops[] = { "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vshl",
        "vshr", "vset", "vmad" };
    static const char *const seconds[] = { "add", "min", "max" },
                             *const tests[] = { "eq", "ne", "lt", "le", "gt", "ge" };
    const struct sim_instr *in = d->in;
    const struct sim_operand *o = in->opd;
    const char last = in->op[strlen(in->op) - 1];
    const unsigned n = last == '2' ? 2 : last == '4' ? 4 : 1, typed = in->ntypes - 2;
    struct sim_video v = { .elements = n & 7 };
    v.op = place_in(ops, sizeof ops / sizeof *ops, in->op) & 15;
    v.second = (take_one(d, seconds, 3) + 1) & 3;
    v.compare = take_one(d, tests, 6) & 7;
    v.wrap = dec_take(d, "wrap");
    dec_take(d, "clamp");
    v.plus = dec_take(d, "po");
    v.shift = (dec_take(d, "shr7") ? 7 : dec_take(d, "shr15") ? 15 : 0) & 15;
    v.sat = (d->flags & SIM_I_SAT) != 0;
    v.d_signed = typed && in->type[0] == SIM_S32; /* vset has no type of its result */
    v.a_signed = in->type[typed] == SIM_S32;
    v.b_signed = in->type[typed + 1] == SIM_S32;
    v.a = selection(&o[1], n, 0);
    v.b = selection(&o[2], n, n);
    v.d = VIDEO_WORD;
    if (n > 1) {
        v.d = (1u << n) - 1;
        if (o[0].elements)
            for (const char *e = (v.d = 0, o[0].elements + 1); *e; e++)
                v.d |= (1u << (*e - '0')) & 15;
    } else v.d = selection(&o[0], 1, 0) & 15;
    v.minus_product = o[1].negated != o[2].negated;
    v.minus_c = in->n > 3 && o[3].negated;
    struct sim_operand plain[4] = { o[0], o[1], o[2], in->n > 3 ? o[3] : o[1] };
    for (unsigned k = 1; k < 4; k++)
        if (plain[k].kind == SIM_O_REG) plain[k].negated = false;
    const uint32_t a = dec_src(d, &plain[1], SIM_U32), b = dec_src(d, &plain[2], SIM_U32),
                   c = dec_src(d, &plain[3], SIM_U32), to = dec_dst(d, &plain[0], SIM_U32);
    struct sim_insn *i = dec_emit_untyped(d, "video");
    i->d = to;
    i->a = a;
    i->b = b;
    i->c = c;
    memcpy(&i->imm, &v, sizeof v);
}

/* -- comparison */

static uint32_t take_boolean(struct dec *d) {
    return dec_take(d, "and")    ? SIM_I_AND
            : dec_take(d, "or")  ? SIM_I_OR
            : dec_take(d, "xor") ? SIM_I_XOR
                                 : 0;
}

/* lop3 d|p: p = (d != 0) op q */
static void lop3_bool(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    const uint32_t boolean = take_boolean(d);
    sim_handler *run = dec_find(d, d->in->op, SIM_NOTYPE, SIM_B32);
    const struct sources s = read_sources(d);
    const uint32_t to = dec_dst(d, &o[0].list[0], SIM_B32), p = dec_dst(d, &o[0].list[1], SIM_PRED);
    emit_lanes(d, run, &s, to);
    struct sim_insn *i = dec_emit_to(d, "setp_ne", SIM_U32, p, to, dec_const(d, 0, 4));
    i->c = s.at[4];
    i->flags = boolean;
}

/* Of two packed halves, each is compared separately. */
struct comparison {
    sim_handler *run;
    uint32_t a[2], b[2], c, flags;
    bool packed;
};

static struct comparison read_comparison(struct dec *d, enum sim_type t) {
    const struct sim_operand *o = d->in->opd;
    struct comparison x = { .flags = take_boolean(d), .packed = t == SIM_F16X2 || t == SIM_BF16X2 };
    x.run = dec_find(d, "setp", SIM_NOTYPE,
            t == SIM_F16X2            ? SIM_F16
                    : t == SIM_BF16X2 ? SIM_BF16
                                      : t);
    x.a[0] = dec_src(d, &o[1], t);
    x.b[0] = dec_src(d, &o[2], t);
    if (x.flags) x.c = dec_src(d, &o[3], SIM_PRED);
    if (x.packed) {
        dec_emit_to(d, "high", SIM_U32, x.a[1] = dec_temp(d, 4), x.a[0], 0);
        dec_emit_to(d, "high", SIM_U32, x.b[1] = dec_temp(d, 4), x.b[0], 0);
    }
    return x;
}

static struct sim_insn *emit_comparison(
        struct dec *d, const struct comparison *x, unsigned half, uint32_t p) {
    struct sim_insn *i = dec_emit(d, x->run);
    i->d = p;
    i->a = x->a[half];
    i->b = x->b[half];
    i->c = x->c;
    i->flags = x->flags;
    return i;
}

static void setp(struct dec *d) {
    const struct comparison x = read_comparison(d, d->in->type[0]);
    const struct sim_operand *to = &d->in->opd[0],
                             *second = to->kind == SIM_O_PAIR ? &to->list[1] : NULL;
    const uint32_t p = dec_dst(d, second ? &to->list[0] : to, SIM_PRED),
                   q = second ? dec_dst(d, second, SIM_PRED) : 0;
    struct sim_insn *i = emit_comparison(d, &x, 0, p);
    if (second && x.packed) emit_comparison(d, &x, 1, q);
    else if (second) {
        i->e = q;
        i->flags |= SIM_I_SECOND;
    }
}

static void set(struct dec *d) {
    const struct comparison x = read_comparison(d, d->in->type[1]);
    const enum sim_type t = d->in->type[0];
    const uint64_t yes = t == SIM_F32          ? 0x3f800000u
            : t == SIM_F16 || t == SIM_F16X2   ? 0x3c00
            : t == SIM_BF16 || t == SIM_BF16X2 ? 0x3f80
            : bits_of(t) == 16                 ? 0xffff
                                               : 0xffffffffu;
    const uint32_t to = dec_dst(d, &d->in->opd[0], x.packed ? SIM_B32 : t);
    uint32_t result[2] = { to, to };
    for (unsigned k = 0; k < (x.packed ? 2 : 1); k++) {
        const uint32_t p = dec_temp(d, 0);
        emit_comparison(d, &x, k, p);
        if (x.packed) result[k] = dec_temp(d, 4);
        dec_emit_to(d, "selp", SIM_B32, result[k], dec_const(d, yes, 4), dec_const(d, 0, 4))->c = p;
    }
    if (x.packed) dec_emit_to(d, "pack", SIM_B32, to, result[0], result[1]);
}

/* -- moves */

static enum sim_type bits_type(unsigned bits) {
    return bits == 64 ? SIM_B64 : bits == 32 ? SIM_B32 : bits == 16 ? SIM_B16 : SIM_B8;
}

static void move_one(struct dec *d, const struct sim_operand *to, const struct sim_operand *from,
        enum sim_type t) {
    const uint32_t a = dec_src(d, from, t), dst = dec_dst(d, to, t);
    dec_emit_to(d, "mov",
            t == SIM_PRED                  ? SIM_PRED
                    : dec_reg_size(t) == 8 ? SIM_B64
                                           : SIM_B32,
            dst, a, 0);
}

/* Parts of 16 or 8 bits go into 32-bit lanes. */
static void unpack(struct dec *d, const struct sim_operand *to, const struct sim_operand *from,
        unsigned width) {
    const unsigned part = width / to->n;
    const uint32_t s = dec_src(d, from, bits_type(width));
    uint32_t low = s, high = s;
    if (width == 64 && part < 32) {
        dec_resize(d, 4, low = dec_temp(d, 4), s);
        dec_emit_to(d, "high", SIM_B64, high = dec_temp(d, 4), s, 0);
    }
    for (unsigned k = 0; k < to->n; k++) {
        const unsigned shift = k * part % 32;
        uint32_t word = k * part < 32 ? low : high;
        if (to->list[k].kind == SIM_O_SINK) continue;
        const uint32_t dst = dec_dst(d, &to->list[k], bits_type(part));
        if (part == 32 && k == 0) dec_resize(d, 4, dst, s);
        else if (part == 32) dec_emit_to(d, "high", SIM_B64, dst, s, 0);
        else if (part == 16 && shift) dec_emit_to(d, "high", SIM_B32, dst, word, 0);
        else {
            if (shift) {
                const uint32_t shifted = dec_temp(d, 4);
                dec_emit_to(d, "shr", SIM_U32, shifted, word, dec_const(d, shift, 4));
                word = shifted;
            }
            dec_emit_to(d, part == 16 ? "cvt_u16" : "cvt_u8", SIM_U32, dst, word, 0);
        }
    }
}

/* by halves */
static void pack(struct dec *d, const struct sim_operand *to, const struct sim_operand *from,
        unsigned width) {
    const unsigned part = width / from->n;
    uint32_t s[4] = { 0, 0, 0, 0 };
    for (unsigned k = 0; k < from->n; k++) s[k] = dec_src(d, &from->list[k], bits_type(part));
    for (unsigned k = 0; from->n == 4 && k < 2; k++) {
        const uint32_t half = dec_temp(d, 4);
        dec_emit_to(d, "pack", bits_type(2 * part), half, s[2 * k], s[2 * k + 1]);
        s[k] = half;
    }
    dec_emit_to(d, "pack", bits_type(width), dec_dst(d, to, bits_type(width)), s[0], s[1]);
}

/* 128 bits are two halves of 64, or four parts of 32. */
static void mov_128(struct dec *d, const struct sim_operand *to, const struct sim_operand *from) {
    for (unsigned k = 0; k < 2; k++) {
        if (to->kind == SIM_O_VEC && to->n == 4) {
            const struct sim_operand *part = &to->list[2 * k];
            const uint32_t s = dec_half(d, from, k);
            if (part[0].kind != SIM_O_SINK) dec_resize(d, 4, dec_dst(d, &part[0], SIM_B32), s);
            if (part[1].kind != SIM_O_SINK)
                dec_emit_to(d, "high", SIM_B64, dec_dst(d, &part[1], SIM_B32), s, 0);
        } else if (from->kind == SIM_O_VEC && from->n == 4) {
            const uint32_t a = dec_src(d, &from->list[2 * k], SIM_B32),
                           b = dec_src(d, &from->list[2 * k + 1], SIM_B32);
            dec_emit_to(d, "pack", SIM_B64, dec_half(d, to, k), a, b);
        } else {
            const uint32_t a = from->kind == SIM_O_VEC ? dec_src(d, &from->list[k], SIM_B64)
                                                       : dec_half(d, from, k);
            dec_emit_to(d, "mov", SIM_B64,
                    to->kind == SIM_O_VEC ? dec_dst(d, &to->list[k], SIM_B64) : dec_half(d, to, k),
                    a, 0);
        }
    }
}

static void mov(struct dec *d) {
    const enum sim_type t = d->in->type[0];
    const struct sim_operand *to = &d->in->opd[0], *from = &d->in->opd[1];
    if (t == SIM_B128) mov_128(d, to, from);
    else if (d->vec > 1)
        for (unsigned k = 0; k < d->vec; k++) {
            const struct sim_operand a = dec_element(to, k), b = dec_element(from, k);
            move_one(d, &a, &b, t);
        }
    else if (to->kind == SIM_O_VEC) unpack(d, to, from, bits_of(t));
    else if (from->kind == SIM_O_VEC) pack(d, to, from, bits_of(t));
    else move_one(d, to, from, t);
}

/* -- the form of an instruction */

static dec_selector *const selectors[SIM_SELECTS] = { [SIM_SELECT_LANES] = lanes,
    [SIM_SELECT_MIXED] = mixed,
    [SIM_SELECT_F32X2] = float_pair,
    [SIM_SELECT_LOP3_BOOL] = lop3_bool,
    [SIM_SELECT_VIDEO] = video,
    [SIM_SELECT_SET] = set,
    [SIM_SELECT_SETP] = setp,
    [SIM_SELECT_ALLOCA] = dec_alloca,
    [SIM_SELECT_STACKSAVE] = dec_stacksave,
    [SIM_SELECT_STACKRESTORE] = dec_stackrestore,
    [SIM_SELECT_MOV] = mov,
    [SIM_SELECT_CVT_INT] = round_to_int,
    [SIM_SELECT_CVTA] = dec_cvta,
    [SIM_SELECT_ISSPACEP] = dec_isspacep,
    [SIM_SELECT_MAPA] = dec_mapa,
    [SIM_SELECT_GETCTARANK] = dec_getctarank,
    [SIM_SELECT_ST_ASYNC] = dec_st_async,
    [SIM_SELECT_RED_ASYNC] = dec_red_async,
    [SIM_SELECT_LD] = dec_ld,
    [SIM_SELECT_ST] = dec_st,
    [SIM_SELECT_ATOM] = dec_atom,
    [SIM_SELECT_RED] = dec_red,
    [SIM_SELECT_WARP] = dec_warp,
    [SIM_SELECT_VOTE] = dec_vote,
    [SIM_SELECT_ACTIVEMASK] = dec_activemask,
    [SIM_SELECT_ELECT] = dec_elect,
    [SIM_SELECT_BAR_SYNC] = dec_bar_sync,
    [SIM_SELECT_BAR_ARRIVE] = dec_bar_arrive,
    [SIM_SELECT_BAR_RED] = dec_bar_red,
    [SIM_SELECT_BAR_WARP] = dec_bar_warp,
    [SIM_SELECT_CLUSTER_ARRIVE] = dec_cluster_arrive,
    [SIM_SELECT_CLUSTER_WAIT] = dec_cluster_wait,
    [SIM_SELECT_FENCE] = dec_fence,
    [SIM_SELECT_BRA] = dec_bra,
    [SIM_SELECT_BRX] = dec_brx,
    [SIM_SELECT_CALL] = dec_call,
    [SIM_SELECT_RET] = dec_ret,
    [SIM_SELECT_EXIT] = dec_exit,
    [SIM_SELECT_TRAP] = dec_trap,
    [SIM_SELECT_NANOSLEEP] = dec_nanosleep,
    [SIM_SELECT_NOTHING] = dec_nothing,
    [SIM_SELECT_CREATEPOLICY] = dec_createpolicy,
    [SIM_SELECT_CP_ASYNC] = dec_cp_async,
    [SIM_SELECT_CP_ARRIVE] = dec_cp_arrive,
    [SIM_SELECT_CP_BULK] = dec_cp_bulk,
    [SIM_SELECT_CP_TENSOR] = dec_cp_tensor,
    [SIM_SELECT_TENSORMAP_REPLACE] = dec_tensormap_replace,
    [SIM_SELECT_TENSORMAP_COPY] = dec_tensormap_copy,
    [SIM_SELECT_MBARRIER_INIT] = dec_mbarrier_init,
    [SIM_SELECT_MBARRIER_INVAL] = dec_mbarrier_inval,
    [SIM_SELECT_MBARRIER_ARRIVE] = dec_mbarrier_arrive,
    [SIM_SELECT_MBARRIER_TX] = dec_mbarrier_tx,
    [SIM_SELECT_MBARRIER_TEST] = dec_mbarrier_test,
    [SIM_SELECT_TEX] = dec_tex,
    [SIM_SELECT_TXQ] = dec_txq,
    [SIM_SELECT_SUQ] = dec_suq,
    [SIM_SELECT_SULD] = dec_suld,
    [SIM_SELECT_SUST] = dec_sust,
    [SIM_SELECT_SURED] = dec_sured,
    [SIM_SELECT_ISTYPEP] = dec_istypep,
    [SIM_SELECT_MMA] = dec_mma,
    [SIM_SELECT_WMMA_LOAD] = dec_wmma_load,
    [SIM_SELECT_WMMA_STORE] = dec_wmma_store,
    [SIM_SELECT_LDMATRIX] = dec_ldmatrix,
    [SIM_SELECT_STMATRIX] = dec_stmatrix,
    [SIM_SELECT_MOVMATRIX] = dec_movmatrix };

/* -- modifiers */

/* What they mean if they are no part of an operation's name: flags, a space, or nothing here. */
static const struct meaning {
    const char *name;
    uint32_t flags;
    enum sim_space space;
} meanings[] = {
    { "", 0, 0 },
    { "rn", 0, 0 },
    { "rz", 1, 0 },
    { "rm", 2, 0 },
    { "rp", 3, 0 },
    { "rni", 0, 0 },
    { "rzi", 1, 0 },
    { "rmi", 2, 0 },
    { "rpi", 3, 0 },
    { "ftz", SIM_I_FTZ, 0 },
    { "sat", SIM_I_SAT, 0 },
    { "relu", SIM_I_RELU, 0 },
    { "NaN", SIM_I_NAN, 0 },
    { "xorsign", SIM_I_XORSIGN, 0 },
    { "satfinite", DEC_SATFINITE, 0 },
    { "cc", SIM_I_SECOND, 0 },
    { "volatile", SIM_I_STRONG, 0 },
    { "relaxed", SIM_I_STRONG, 0 },
    { "acquire", SIM_I_STRONG, 0 },
    { "release", SIM_I_STRONG | SIM_I_ORDERS, 0 },
    { "acq_rel", SIM_I_STRONG | SIM_I_ORDERS, 0 },
    { "mmio", SIM_I_STRONG, 0 },
    { "global", 0, SIM_GLOBAL },
    { "const", 0, SIM_GLOBAL },
    { "shared", 0, SIM_SHARED },
    { "shared::cta", 0, SIM_SHARED },
    { "shared::cluster", 0, SIM_SHARED_CLUSTER },
    { "local", 0, SIM_LOCAL },
    { "param", 0, SIM_PARAM },
    { "param::entry", 0, SIM_PARAM },
    { "param::func", 0, SIM_PARAM },
    { "weak", 0, 0 },
    { "ca", 0, 0 },
    { "cg", 0, 0 },
    { "cs", 0, 0 },
    { "lu", 0, 0 },
    { "cv", 0, 0 },
    { "wb", 0, 0 },
    { "wt", 0, 0 },
    { "nc", 0, 0 },
    { "unified", 0, 0 },
    { "cta", 0, 0 },
    { "gpu", 0, 0 },
    { "sys", 0, 0 },
    { "cluster", 0, 0 },
    { "aligned", 0, 0 },
    { "sync", 0, 0 },
    { "abs", 0, 0 },
    { "noftz", 0, 0 },
};
static unsigned char meaning_slots[256]; /* a hash table: index in meanings, 0 none */
static pthread_once_t meanings_once = PTHREAD_ONCE_INIT;

static unsigned char *meaning_slot(const char *name) {
    unsigned k = dec_hash(name) % sizeof meaning_slots;
    while (meaning_slots[k] && strcmp(meanings[meaning_slots[k]].name, name))
        k = (k + 1) % sizeof meaning_slots;
    return &meaning_slots[k];
}

static void make_meanings(void) {
    for (unsigned k = 1; k < sizeof meanings / sizeof *meanings; k++)
        *meaning_slot(meanings[k].name) = (unsigned char)k;
}

static void read_modifiers(struct dec *d) {
    const struct sim_instr *in = d->in;
    unsigned char group[SIM_MAX_MODS] = { 0 }; /* of the rest */
    d->nrest = d->flags = 0;
    d->vec = 1;
    d->space = SIM_GENERIC;
    for (unsigned k = 0; k < in->nmods; k++) {
        const char *m = in->mods[k];
        const unsigned char g = in->group[k];
        if (g == SIM_MOD_TYPE || !strncmp(m, "L1::", 4) || !strncmp(m, "L2::", 4)) continue;
        if (m[0] == 'v' && m[1] >= '2' && m[1] <= '8' && !m[2]) {
            d->vec = (unsigned)(m[1] - '0');
            continue;
        }
        const struct meaning *known = &meanings[*meaning_slot(m)];
        d->flags |= known->flags;
        if (known->space) d->space = known->space;
        /* .cc is also part of the name */
        if (known != meanings && known->flags != SIM_I_SECOND) continue;
        unsigned at = d->nrest;
        for (; at && group[at - 1] > g; at--) {
            d->rest[at] = d->rest[at - 1];
            group[at] = group[at - 1];
        }
        if (at && d->rest[at - 1] == m) continue; /* twice */
        d->rest[at] = m;
        group[at] = g;
        d->nrest++;
    }
    /* every .f32 operation of .target sm_1x flushes subnormal numbers */
    if (d->image->sm < 20 && strstr(in->form->mods, "ftz"))
        for (unsigned k = 0; k < in->ntypes; k++)
            if (in->type[k] == SIM_F32) d->flags |= SIM_I_FTZ;
}

void dec_select(struct dec *d) {
    pthread_once(&meanings_once, make_meanings);
    read_modifiers(d);
    dec_selector *select = selectors[d->in->form->select];
    if (!select) dec_unsupported(d);
    select(d);
    if (d->nrest) dec_unsupported(d);
    dec_done(d);
}
