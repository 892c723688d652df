/* select.c - the handler for each instruction: arithmetic, logic, comparison, conversion, moves, control flow, warp
   operations. Memory is in select_mem.c. An instruction without a handler, or with a modifier that no function takes,
   is not supported. */
#include "decode.h"

static const char *type_name(enum sim_type t) {                   /* .b types count as unsigned */
    static const char *const names[] = {
        "", "pred", "u8", "u8", "s8", "u16", "u16", "s16", "f16", "bf16", "u32", "u32", "s32", "f32", "f16x2", "bf16x2",
        "u64", "u64", "s64", "f64", "b128" };
    return names[t];
}
static bool is_float(enum sim_type t) { return t == SIM_F32 || t == SIM_F64; }
static bool is_half(enum sim_type t) { return t == SIM_F16 || t == SIM_BF16 || t == SIM_F16X2 || t == SIM_BF16X2; }
static unsigned bits_of(enum sim_type t) { return t == SIM_PRED ? 0 : 8 * sim_type_size(t); }
static bool among(const char *op, const char *list) {             /* list: "add sub mul" */
    const size_t n = strlen(op);
    for (const char *p = list; (p = strstr(p, op)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

static struct sim_insn *emit_name(struct dec *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
#include <stdarg.h>
static struct sim_insn *emit_name(struct dec *d, const char *format, ...) {
    char name[64];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return dec_emit(d, name);
}

/* d = op(sources): operand 0 of type t, up to four sources of the types in s */
static void simple(struct dec *d, const char *name, enum sim_type t, unsigned n, const enum sim_type *s,
                   uint32_t flags) {
    uint32_t src[4] = { 0, 0, 0, 0 };
    if (n > 4 || d->in->n != n + 1) dec_unsupported(d);
    for (unsigned k = 0; k < n; k++) src[k] = dec_src(d, &d->in->opd[k + 1], s[k]);
    const uint32_t dst = dec_dst(d, &d->in->opd[0], t);
    struct sim_insn *i = dec_emit(d, name);
    i->d = dst;
    i->a = src[0];
    i->b = src[1];
    i->c = src[2];
    i->e = src[3];
    i->flags = flags;
}

static void same_types(struct dec *d, const char *name, enum sim_type t, uint32_t flags) {
    const enum sim_type s[4] = { t, t, t, t };
    simple(d, name, t, d->in->n - 1, s, flags);
}

/* -- arithmetic */

static void float_arithmetic(struct dec *d, const char *op, enum sim_type t) {
    char name[64];
    const uint32_t flags = d->flags;
    if (is_half(t)) snprintf(name, sizeof name, "%s_%s", op, type_name(t));
    else if (t == SIM_F64) snprintf(name, sizeof name, "%s_f64%s", op, flags & SIM_I_ROUND ? "_x" : "");
    else if (flags & (SIM_I_ROUND | SIM_I_SAT)) snprintf(name, sizeof name, "%s_f32_x", op);
    else snprintf(name, sizeof name, "%s%s_f32", op, flags & SIM_I_FTZ ? "_ftz" : "");
    if (d->ntypes == 2) {                                         /* add.f32.f16: the narrow operands widen first */
        const enum sim_type narrow = d->type[1];
        const unsigned wide_at = d->in->n - 1;
        uint32_t src[3] = { 0, 0, 0 };
        for (unsigned k = 1; k < d->in->n; k++) {
            const bool widen = k < wide_at;
            src[k - 1] = dec_src(d, &d->in->opd[k], widen ? narrow : t);
            if (!widen) continue;
            const uint32_t temp = dec_temp(d, 4);
            char cvt[32];
            snprintf(cvt, sizeof cvt, "cvt_f32_%s", type_name(narrow));
            dec_emit_to(d, cvt, temp, src[k - 1], 0);
            src[k - 1] = temp;
        }
        const uint32_t dst = dec_dst(d, &d->in->opd[0], t);
        struct sim_insn *i = dec_emit(d, name);
        i->d = dst;
        i->a = src[0];
        i->b = src[1];
        i->c = src[2];
        i->flags = flags;
        return;
    }
    same_types(d, name, t, flags);
}

/* f32x2: two f32 in 64 bits */
static void float_pair(struct dec *d, const char *op) {
    uint32_t half[2][3], result[2];
    char name[64];
    snprintf(name, sizeof name, "%s%s_f32%s", op, !(d->flags & SIM_I_ROUND) && d->flags & SIM_I_FTZ ? "_ftz" : "",
        d->flags & SIM_I_ROUND ? "_x" : "");
    for (unsigned k = 1; k < d->in->n; k++) {
        const uint32_t s = dec_src(d, &d->in->opd[k], SIM_B64);
        for (int h = 0; h < 2; h++) dec_emit_to(d, h ? "high_64" : "trunc_32", half[h][k - 1] = dec_temp(d, 4), s, 0);
    }
    for (int h = 0; h < 2; h++) {
        struct sim_insn *i = dec_emit_to(d, name, result[h] = dec_temp(d, 4), half[h][0], half[h][1]);
        if (d->in->n > 3) i->c = half[h][2];
        i->flags = d->flags;
    }
    dec_emit_to(d, "pack_64", dec_dst(d, &d->in->opd[0], SIM_B64), result[0], result[1]);
}

static void carry(struct dec *d, const char *op, bool chain) {
    const enum sim_type t = d->type[0];
    char name[64];
    const bool write = dec_take(d, "cc");
    if (among(op, "add sub addc subc")) snprintf(name, sizeof name, "%s%s_%u", op, chain ? "" : "_cc", bits_of(t));
    else if (dec_take(d, "lo")) snprintf(name, sizeof name, "%s_lo%s_%u", op, chain ? "" : "_cc", bits_of(t));
    else {
        dec_take(d, "hi");
        snprintf(name, sizeof name, "%s_hi%s_%s", op, chain ? "" : "_cc", type_name(t));
    }
    same_types(d, name, t, write ? SIM_I_SECOND : 0);
}

static bool rest_has(const struct dec *d, const char *mod) {
    for (unsigned k = 0; k < d->nrest; k++) if (!strcmp(d->rest[k], mod)) return true;
    return false;
}

static void arithmetic(struct dec *d) {
    const char *op = d->in->op;
    const enum sim_type t = d->type[0];
    char name[64];
    if (among(op, "addc subc madc")) {
        carry(d, op, true);
        return;
    }
    if (rest_has(d, "cc")) {
        carry(d, op, false);
        return;
    }
    if (dec_take(d, "f32x2")) {
        float_pair(d, op);
        return;
    }
    if (dec_take(d, "u16x2") || dec_take(d, "s16x2")) {
        snprintf(name, sizeof name, "%s_16x2", op);
        same_types(d, name, SIM_B32, 0);
        return;
    }
    if (is_float(t) || is_half(t)) {
        if (!strcmp(op, "mad")) op = "fma";
        if (!strcmp(op, "div") && dec_take(d, "approx")) op = "div_approx";
        if (!strcmp(op, "rcp") && t == SIM_F64 && dec_take(d, "approx")) {
            same_types(d, "rcp_approx_ftz_f64", t, 0);
            return;
        }
        if (among(op, "div div_approx rcp sqrt")) {
            dec_take(d, "full");
            dec_take(d, "approx");
        }
        float_arithmetic(d, op, t);
        return;
    }
    if (among(op, "add sub")) {
        snprintf(name, sizeof name, d->flags & SIM_I_SAT ? "%s_sat_s32" : "%s_%u", op, bits_of(t));
        same_types(d, name, t, 0);
        return;
    }
    if (among(op, "mul mad mul24 mad24")) {
        const bool hi = dec_take(d, "hi"), wide = dec_take(d, "wide"), mul24 = strstr(op, "24") != NULL;
        dec_take(d, "lo");
        const char *sat = d->flags & SIM_I_SAT ? "_sat" : "";
        if (wide) {
            const enum sim_type w = bits_of(t) == 16 ? SIM_B32 : SIM_B64, s[3] = { t, t, w };
            snprintf(name, sizeof name, "%s_wide_%s", op, type_name(t));
            simple(d, name, w, d->in->n - 1, s, 0);
            return;
        }
        if (hi || mul24) snprintf(name, sizeof name, "%s_%s%s_%s", op, hi ? "hi" : "lo", sat, type_name(t));
        else snprintf(name, sizeof name, "%s_lo_%u", op, bits_of(t));
        same_types(d, name, t, 0);
        return;
    }
    if (among(op, "neg abs")) snprintf(name, sizeof name, "%s_%u", op, bits_of(t));
    else snprintf(name, sizeof name, "%s_%s", op, type_name(t));  /* div rem sad */
    same_types(d, name, t, 0);
}

static void extremes(struct dec *d) {
    const enum sim_type t = d->type[0];
    char name[64];
    const char *op = d->in->op, *relu = d->flags & SIM_I_RELU ? "_relu" : "";
    if (dec_take(d, "u16x2")) {
        snprintf(name, sizeof name, "%s_u16x2", op);
        same_types(d, name, SIM_B32, 0);
        return;
    }
    if (dec_take(d, "s16x2")) {
        snprintf(name, sizeof name, "%s%s_s16x2", op, relu);
        same_types(d, name, SIM_B32, 0);
        return;
    }
    if (t == SIM_F32) {
        if (d->in->n == 4) snprintf(name, sizeof name, "%s3_f32_x", op);
        else if (d->flags & (SIM_I_NAN | SIM_I_XORSIGN)) snprintf(name, sizeof name, "%s_f32_x", op);
        else snprintf(name, sizeof name, "%s%s_f32", op, d->flags & SIM_I_FTZ ? "_ftz" : "");
    } else if (is_half(t) || t == SIM_F64) snprintf(name, sizeof name, "%s_%s", op, type_name(t));
    else snprintf(name, sizeof name, "%s%s_%s", op, relu, type_name(t));
    same_types(d, name, t, d->flags);
}

static void approximate(struct dec *d) {                          /* rsqrt sin cos lg2 ex2 tanh */
    const enum sim_type t = d->type[0];
    char name[64];
    dec_take(d, "approx");
    if (is_half(t)) snprintf(name, sizeof name, "%s_approx_%s", d->in->op, type_name(t));
    else snprintf(name, sizeof name, "%s_approx%s_%s", d->in->op, d->flags & SIM_I_FTZ ? "_ftz" : "", type_name(t));
    same_types(d, name, t, d->flags);
}

/* -- bits */

static void bits(struct dec *d) {
    const char *op = d->in->op;
    const enum sim_type t = d->type[0], u = SIM_U32;
    char name[64];
    if (among(op, "and or xor")) {
        if (t == SIM_PRED) snprintf(name, sizeof name, "%s_pred", op);
        else snprintf(name, sizeof name, "%s_%u", op, bits_of(t) == 64 ? 64 : 32);
        same_types(d, name, t, 0);
    } else if (among(op, "not cnot")) {
        if (t == SIM_PRED) snprintf(name, sizeof name, "%s_pred", op);
        else snprintf(name, sizeof name, "%s_%u", op, bits_of(t));
        same_types(d, name, t, 0);
    } else if (among(op, "shl shr")) {
        const enum sim_type s[2] = { t, u };
        if (*(op + 2) == 'l') snprintf(name, sizeof name, "shl_%u", bits_of(t));
        else snprintf(name, sizeof name, "shr_%s", type_name(t));
        simple(d, name, t, 2, s, 0);
    } else if (!strcmp(op, "shf")) {
        const bool left = dec_take(d, "l"), wrap = dec_take(d, "wrap");
        dec_take(d, "r");
        dec_take(d, "clamp");
        snprintf(name, sizeof name, "shf_%s_%s", left ? "l" : "r", wrap ? "wrap" : "clamp");
        same_types(d, name, SIM_B32, 0);
    } else if (!strcmp(op, "lop3")) {
        const bool booled = d->in->n == 6;
        const struct sim_operand *o = d->in->opd, *to = booled ? &o[0].list[0] : &o[0];
        uint32_t s[3];
        for (int k = 0; k < 3; k++) s[k] = dec_src(d, &o[1 + k], SIM_B32);
        const uint32_t dst = dec_dst(d, to, SIM_B32);
        struct sim_insn *i = dec_emit_to(d, "lop3_32", dst, s[0], s[1]);
        i->c = s[2];
        i->imm = (int64_t)o[4].imm;
        if (!booled) return;
        const bool any = dec_take(d, "or");                       /* p = (d != 0) op q */
        dec_take(d, "and");
        const uint32_t q = dec_src(d, &o[5], SIM_PRED), p = dec_dst(d, &o[0].list[1], SIM_PRED);
        i = dec_emit_to(d, "setp_ne_u32", p, dst, dec_const(d, 0, 4));
        i->c = q;
        i->flags = any ? SIM_I_OR : SIM_I_AND;
    } else if (among(op, "popc clz brev")) {
        const enum sim_type s[1] = { t };
        snprintf(name, sizeof name, "%s_%u", op, bits_of(t));
        simple(d, name, *op == 'b' ? t : u, 1, s, 0);
    } else if (!strcmp(op, "bfind")) {
        const enum sim_type s[1] = { t };
        snprintf(name, sizeof name, "bfind%s_%s", dec_take(d, "shiftamt") ? "_shiftamt" : "", type_name(t));
        simple(d, name, u, 1, s, 0);
    } else if (!strcmp(op, "fns")) {
        const enum sim_type s[3] = { u, u, SIM_S32 };
        simple(d, "fns_b32", u, 3, s, 0);
    } else if (!strcmp(op, "bfe")) {
        const enum sim_type s[3] = { t, u, u };
        snprintf(name, sizeof name, "bfe_%s", type_name(t));
        simple(d, name, t, 3, s, 0);
    } else if (!strcmp(op, "bfi")) {
        const enum sim_type s[4] = { t, t, u, u };
        snprintf(name, sizeof name, "bfi_%u", bits_of(t));
        simple(d, name, t, 4, s, 0);
    } else if (!strcmp(op, "bmsk")) same_types(d,
        dec_take(d, "wrap") ? "bmsk_wrap" : dec_take(d, "clamp") ? "bmsk_clamp" : "?", u, 0);
    else if (!strcmp(op, "szext")) {
        const bool wrap = dec_take(d, "wrap");
        dec_take(d, "clamp");
        snprintf(name, sizeof name, "szext_%s_%s", wrap ? "wrap" : "clamp", type_name(t));
        same_types(d, name, t, 0);
    } else if (among(op, "dp4a dp2a")) {
        const char *half = dec_take(d, "lo") ? "_lo" : dec_take(d, "hi") ? "_hi" : "";
        snprintf(name, sizeof name, "%s%s_%s_%s", op, half, type_name(t), type_name(d->type[1]));
        same_types(d, name, u, 0);
    } else {                                                      /* prmt */
        static const char *const modes[] = { "f4e", "b4e", "rc8", "ecl", "ecr", "rc16" };
        snprintf(name, sizeof name, "prmt");
        for (int k = 0; k < 6; k++) if (dec_take(d, modes[k])) snprintf(name, sizeof name, "prmt_%s", modes[k]);
        same_types(d, name, u, 0);
    }
}

/* -- comparison and selection */

/* vabsdiff2, vabsdiff4 of u32, in the forms that CUDA's SIMD functions use: all elements, no selection, with or without
   .add. Without .add, the third source provides the elements that a mask excludes: none. */
static void video(struct dec *d) {
    char name[64];
    const bool add = dec_take(d, "add");
    const enum sim_type u = d->type[1];
    if (d->ntypes != 3 || d->type[0] != SIM_U32 || d->type[2] != u || (u != SIM_U32 && u != SIM_S32) || d->flags)
        dec_unsupported(d);
    snprintf(name, sizeof name, "%s_%s%s", d->in->op, type_name(u), add ? "_add" : "");
    same_types(d, name, SIM_B32, 0);
}

static const char *take_comparison(struct dec *d, enum sim_type t, enum sim_type *as) {
    static const char *const names[] = {
        "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };
    static const char *const unsigned_names[][2] = { { "lo", "lt" }, { "ls", "le" }, { "hi", "gt" }, { "hs", "ge" } };
    *as = t;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) if (dec_take(d, names[k])) return names[k];
    for (size_t k = 0; k < 4; k++) if (dec_take(d, unsigned_names[k][0])) {
        *as = bits_of(t) == 16 ? SIM_U16 : bits_of(t) == 32 ? SIM_U32 : SIM_U64;
        return unsigned_names[k][1];
    }
    dec_unsupported(d);
}

static uint32_t take_boolean(struct dec *d) {
    return dec_take(d, "and") ? SIM_I_AND : dec_take(d, "or") ? SIM_I_OR : dec_take(d, "xor") ? SIM_I_XOR : 0;
}

static void compare(struct dec *d) {
    const bool set = dec_is(d, "set");
    const enum sim_type t = d->type[set ? 1 : 0];
    enum sim_type as;
    const char *cmp = take_comparison(d, t, &as);
    const bool can_flush = as == SIM_F32 || as == SIM_F16 || as == SIM_F16X2;
    const char *ftz = d->flags & SIM_I_FTZ && can_flush ? "ftz_" : "";
    const uint32_t boolean = take_boolean(d);
    const struct sim_operand *o = d->in->opd, *to = &o[0];
    const uint32_t a = dec_src(d, &o[1], as), b = dec_src(d, &o[2], as), c = boolean ? dec_src(d, &o[3], SIM_PRED) : 0;
    if (as == SIM_F16X2 || as == SIM_BF16X2) {                    /* each half separately */
        const char *half = as == SIM_F16X2 ? "f16" : "bf16";
        const uint32_t high[2] = { dec_temp(d, 4), dec_temp(d, 4) };
        uint32_t p[2];
        dec_emit_to(d, "high_32", high[0], a, 0);
        dec_emit_to(d, "high_32", high[1], b, 0);
        for (int k = 0; k < 2; k++) {
            p[k] = set                              ? dec_temp(d, 0) :
                   k == 0 && to->kind != SIM_O_PAIR ? dec_dst(d, to, SIM_PRED) :
                   to->kind == SIM_O_PAIR           ? dec_dst(d, &to->list[k], SIM_PRED) :
                                                      dec_temp(d, 0);
            struct sim_insn *i = emit_name(d, "setp_%s_%s%s", cmp, ftz, half);
            i->d = p[k];
            i->a = k ? high[0] : a;
            i->b = k ? high[1] : b;
            i->c = c;
            i->flags = boolean;
        }
        if (!set) return;
        const uint32_t one = as == SIM_F16X2 ? 0x3c00 : 0x3f80, r[2] = { dec_temp(d, 4), dec_temp(d, 4) };
        for (int k = 0; k < 2; k++) dec_emit_to(d, "selp_32", r[k], dec_const(d, one, 4), dec_const(d, 0, 4))->c = p[k];
        dec_emit_to(d, "pack_32", dec_dst(d, to, SIM_B32), r[0], r[1]);
        return;
    }
    const bool pair = !set && to->kind == SIM_O_PAIR;
    const uint32_t p = set ? dec_temp(d, 0) : dec_dst(d, pair ? &to->list[0] : to, SIM_PRED);
    const uint32_t q = pair ? dec_dst(d, &to->list[1], SIM_PRED) : 0;
    struct sim_insn *i = emit_name(d, "setp_%s_%s%s", cmp, ftz, type_name(as));
    i->d = p;
    i->a = a;
    i->b = b;
    i->c = c;
    i->e = q;
    i->flags = boolean | (pair ? SIM_I_SECOND : 0);
    if (!set) return;
    const enum sim_type r = d->type[0];
    const uint64_t yes = r == SIM_F32     ? 0x3f800000u :
                         r == SIM_F16     ? 0x3c00 :
                         r == SIM_BF16    ? 0x3f80 :
                         bits_of(r) == 16 ? 0xffff :
                                            0xffffffffu;
    const uint32_t dst = dec_dst(d, to, r);
    dec_emit_to(d, "selp_32", dst, dec_const(d, yes, 4), dec_const(d, 0, 4))->c = p;
}

static void select_value(struct dec *d) {                         /* selp slct testp copysign */
    const char *op = d->in->op;
    const enum sim_type t = d->type[0];
    const unsigned wide = bits_of(t) == 64 ? 64 : 32;
    char name[64];
    if (!strcmp(op, "selp")) {
        const enum sim_type s[3] = { t, t, SIM_PRED };
        snprintf(name, sizeof name, "selp_%u", wide);
        simple(d, name, t, 3, s, 0);
    } else if (!strcmp(op, "slct")) {
        const enum sim_type s[3] = { t, t, d->type[1] };
        snprintf(name, sizeof name, "slct_%u_%s%s", wide, d->flags & SIM_I_FTZ ? "ftz_" : "", type_name(d->type[1]));
        simple(d, name, t, 3, s, 0);
    } else if (!strcmp(op, "testp")) {
        static const char *const tests[] = { "finite", "infinite", "number", "notanumber", "normal", "subnormal" };
        const enum sim_type s[1] = { t };
        int k = 0;
        while (k < 6 && !dec_take(d, tests[k])) k++;
        if (k == 6) dec_unsupported(d);
        snprintf(name, sizeof name, "testp_%s_%s", tests[k], type_name(t));
        simple(d, name, SIM_PRED, 1, s, 0);
    } else {
        snprintf(name, sizeof name, "copysign_%s", type_name(t));
        same_types(d, name, t, 0);
    }
}

/* -- moves and conversions */

static void move_one(struct dec *d, const struct sim_operand *to, const struct sim_operand *from, enum sim_type t) {
    const uint32_t a = dec_src(d, from, t), dst = dec_dst(d, to, t);
    dec_emit_to(d, t == SIM_PRED ? "mov_pred" : dec_reg_size(t) == 8 ? "mov_64" : "mov_32", dst, a, 0);
}

static void move(struct dec *d) {
    const enum sim_type t = d->type[0];
    const struct sim_operand *to = &d->in->opd[0], *from = &d->in->opd[1];
    const unsigned width = bits_of(t);
    if (d->vec > 1) {
        if (from->kind == SIM_O_SREG) for (unsigned k = 0; k < to->n; k++) {
            struct sim_operand part = *from;
            part.imm = k;
            move_one(d, &to->list[k], &part, t);
        } else for (unsigned k = 0; k < to->n; k++) move_one(d, &to->list[k], &from->list[k], t);
        return;
    }
    if (to->kind == SIM_O_VEC) {                                  /* unpack; a part of 16 or 8
                                                                     bits goes into a 32-bit lane */
        const unsigned n = to->n, part = width / n;
        const enum sim_type pt = part == 32 ? SIM_B32 : part == 16 ? SIM_B16 : SIM_B8;
        uint32_t s = dec_src(d, from, t), word[2] = { s, s };
        if (width == 128) dec_unsupported(d);
        if (width == 64)
            for (int k = 0; k < 2; k++) dec_emit_to(d, k ? "high_64" : "trunc_32", word[k] = dec_temp(d, 4), s, 0);
        for (unsigned k = 0; k < n; k++) {
            if (to->list[k].kind == SIM_O_SINK) continue;
            uint32_t w = word[k * part / 32], dst = dec_dst(d, &to->list[k], pt);
            unsigned shift = k * part % 32;
            if (part == 32) dec_emit_to(d, "mov_32", dst, w, 0);
            else {
                uint32_t shifted = w;
                if (shift) {
                    shifted = dec_temp(d, 4);
                    dec_emit_to(d, "shr_u32", shifted, w, dec_const(d, shift, 4));
                }
                dec_emit_to(d, part == 16 ? "trunc_16" : "trunc_8", dst, shifted, 0);
            }
        }
        return;
    }
    if (from->kind == SIM_O_VEC) {                                /* pack by halves */
        const unsigned n = from->n, part = width / n;
        const enum sim_type pt = part == 32 ? SIM_B32 : part == 16 ? SIM_B16 : SIM_B8;
        uint32_t s[4] = { 0, 0, 0, 0 };
        if (width == 128) dec_unsupported(d);
        for (unsigned k = 0; k < n; k++) s[k] = dec_src(d, &from->list[k], pt);
        if (n == 4) for (int k = 0; k < 2; k++) {
            const uint32_t half = dec_temp(d, 4);
            dec_emit_to(d, part == 16 ? "pack_32" : "pack_16", half, s[2 * k], s[2 * k + 1]);
            s[k] = half;
        }
        const uint32_t dst = dec_dst(d, to, t);
        dec_emit_to(d, width == 64 ? "pack_64" : width == 32 ? "pack_32" : "pack_16", dst, s[0], s[1]);
        return;
    }
    if (width == 128) dec_unsupported(d);
    move_one(d, to, from, t);
}

/* Two values of 8 bits: from f32 (two sources) or f16x2, and to f16x2. The source's type comes last. */
static bool convert_fp8(struct dec *d) {
    const struct sim_operand *o = d->in->opd;
    const char *type = dec_take(d, "e4m3x2") ? "e4m3x2" : dec_take(d, "e5m2x2") ? "e5m2x2" : NULL;
    if (!type) return false;
    dec_take(d, "satfinite");                                     /* the only mode */
    const enum sim_type t = d->type[0];
    if (d->ntypes != 1 || (t != SIM_F32 && t != SIM_F16X2) || d->in->n != (t == SIM_F32 ? 3 : 2)) dec_unsupported(d);
    const bool from = !strcmp(d->in->mods[d->in->nmods - 1], type), pair = t == SIM_F32;
    const uint32_t a = dec_src(d, &o[1], from ? SIM_B16 : t), b = pair ? dec_src(d, &o[2], t) : 0;
    const uint32_t dst = dec_dst(d, &o[0], from ? t : SIM_B16);
    struct sim_insn *i = from ? emit_name(d, "cvt_f16x2_%s", type) : emit_name(d, "cvt_%s_%s", type, type_name(t));
    i->d = dst;
    i->a = a;
    i->b = b;
    i->flags = d->flags;
    return true;
}

/* Two s32, saturated to 16, 8, 4 or 2 bits, side by side; below 16 bits, the third source provides the bits above
   them. */
static void convert_pack(struct dec *d) {
    static const char *const small[] = { "u4", "s4", "u2", "s2" };
    enum sim_type s[3] = { SIM_S32, SIM_S32, SIM_U32 };
    uint32_t bits = bits_of(d->type[0]), is_signed = d->type[0] == SIM_S8 || d->type[0] == SIM_S16;
    for (uint32_t k = 0; k < 4; k++) if (dec_take(d, small[k])) {
        bits = k < 2 ? 4 : 2;
        is_signed = k & 1;
    }
    simple(d, bits == 16 ? "cvt_pack_16" : "cvt_pack", SIM_U32, d->in->n - 1, s, (bits | is_signed << 8) << SIM_I_USER);
}

static void convert(struct dec *d) {
    if (convert_fp8(d)) return;
    if (dec_take(d, "pack")) {
        convert_pack(d);
        return;
    }
    const enum sim_type t = d->type[0], f = d->type[1];
    const char *tn = type_name(t), *fn = type_name(f);
    const uint32_t flags = d->flags | (is_half(t) && f == SIM_F32 && dec_take(d, "satfinite") ? 1u << SIM_I_USER : 0);
    const bool to_int = !is_float(t) && !is_half(t), from_int = !is_float(f) && !is_half(f);
    const struct sim_operand *o = d->in->opd;
    if (d->ntypes != 2 || d->nrest) dec_unsupported(d);
    if (t == SIM_F16X2 || t == SIM_BF16X2) {
        if (d->in->n != 3 || f != SIM_F32) dec_unsupported(d);
        const uint32_t a = dec_src(d, &o[1], f), b = dec_src(d, &o[2], f), dst = dec_dst(d, &o[0], SIM_B32);
        struct sim_insn *i = emit_name(d, "cvt_%s_f32%s", tn, flags ? "_x" : "");
        i->d = dst;
        i->a = a;
        i->b = b;
        i->flags = flags;
        return;
    }
    if (d->in->n != 2) dec_unsupported(d);
    const uint32_t a = dec_src(d, &o[1], f), dst = dec_dst(d, &o[0], t);
    struct sim_insn *i;
    if (to_int && from_int) i = emit_name(d, "cvt_%s%s_%s", flags & SIM_I_SAT ? "sat_" : "", tn, fn);
    else if (to_int) {
        if (t == SIM_S32 && f == SIM_F32 && flags == 1) i = dec_emit(d, "cvt_rzi_s32_f32");
        else i = emit_name(d, "cvt_%s_%s", tn, fn);
    } else if (d->rounds_to_int && t == f) i = emit_name(d, "cvt_int_%s_%s", tn, fn);
    else if (t == SIM_F64 && f == SIM_F32 && flags == SIM_I_FTZ) i = dec_emit(d, "cvt_f64_ftz_f32");
    else {
        char name[64];                                            /* the plain form if no modifier
                                                                     is given and the form exists */
        snprintf(name, sizeof name, "cvt_%s_%s", tn, fn);
        if (flags && (is_float(t) || f == SIM_F32) && !(t == SIM_F64 && is_half(f))) strcat(name, "_x");
        if (!sim_handler_named(name) && !strstr(name, "_x")) strcat(name, "_x");
        i = dec_emit(d, name);
    }
    i->d = dst;
    i->a = a;
    i->flags = flags;
}

/* -- control flow */

static void pass(struct dec *d, struct sim_pass *p, const struct sim_operand *o, uint32_t at, uint64_t size,
                 bool result) {
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
        if (size > p->reg) dec_unsupported(d);                    /* a constant for a struct */
    }
    p->from = result ? at : frame;
    p->to = result ? frame : at;
}

/* The executor's own functions take and return the types that CUDA declares:
   at most 8 bytes each, and a result of 4 (vprintf) or 8 (malloc). */
static bool system_fits(const struct sim_func *f, int system) {
    bool fits = f->nparams <= 5 && f->nrets <= 1 && (!f->nrets || f->rets[0].size == (system == 3 ? 8 : 4));
    for (unsigned k = 0; k < f->nparams; k++) fits &= f->params[k].size <= 8;
    return fits;
}

static void call(struct dec *d) {
    const struct sim_operand *o = d->in->opd, *rets = NULL, *args = NULL, *target, *proto = NULL;
    struct sim_code *c = d->code;
    unsigned n = 0;
    if (n < d->in->n && o[n].kind == SIM_O_LIST) rets = &o[n++];
    target = &o[n++];
    if (n < d->in->n && o[n].kind == SIM_O_LIST) args = &o[n++];
    if (n < d->in->n) proto = &o[n++];
    const int system = target->kind == SIM_O_SYM && target->func ? dec_system(target->func) : 0;
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
        pass(d, &site.rets[site.nrets++], &rets->list[k], offset[nparams + k], results[k].size, true);
    site.frame = c->funcs[d->now].frame;
    if (!indirect && !system) {
        const int callee = c->func_of_id[target->func->id];
        site.callee = &c->funcs[callee];
        site.recursive = (unsigned)callee == d->now || d->funcs[callee].calls[d->now];
    } else site.recursive = indirect;                             /* the target is unknown */
    c->calls[at] = site;
    const uint32_t a = indirect ? dec_src(d, target, SIM_B64) : 0;
    static const char *const handlers[] = { "call_direct", "call_vprintf", "call_assertfail", "call_malloc",
                                            "call_free" };
    c->info.uses_heap |= system >= 3;
    struct sim_insn *i = dec_emit(d, indirect ? "call_indirect" : handlers[system]);
    i->imm = at;
    i->a = a;
    if (system) i->flags = SIM_I_ORDERS;          /* it reads the thread's memory directly */
}

static void flow(struct dec *d) {
    const char *op = d->in->op;
    const struct sim_operand *o = d->in->opd;
    dec_take(d, "uni");
    if (!strcmp(op, "bra")) {
        dec_emit(d, "bra");
        dec_fixup(d, d->code->ninsns - 1, o[0].target);
    } else if (!strcmp(op, "brx")) {
        dec_take(d, "idx");
        struct sim_code *c = d->code;
        const uint32_t a = dec_src(d, &o[0], SIM_U32), n = o[1].n;
        c->labels = dec_grow(d, c->labels, &d->cap_labels, c->nlabels + n + 1, sizeof *c->labels);
        c->labels[c->nlabels] = n;
        for (uint32_t k = 0; k < n; k++) c->labels[c->nlabels + 1 + k] = o[1].list[k].target;
        struct sim_insn *i = dec_emit(d, "brx");
        i->a = a;
        i->imm = c->nlabels;
        c->nlabels += n + 1;
    } else if (!strcmp(op, "ret")) dec_emit(d, d->funcs[d->now].func->is_entry ? "exit_lanes" : "ret");
    else if (!strcmp(op, "exit")) dec_emit(d, "exit_lanes");
    else if (!strcmp(op, "call")) call(d);
    else dec_emit(d, "trap");                                     /* trap, brkpt */
}

/* -- operations of a warp and a block */

static uint32_t mode_of(struct dec *d, const char *const *names, unsigned n) {
    for (unsigned k = 0; k < n; k++) if (dec_take(d, names[k])) return k;
    dec_unsupported(d);
}

static void barrier(struct dec *d) {                              /* bar.*, barrier.* */
    const struct sim_operand *o = d->in->opd;
    enum { SYNC, ARRIVE, POPC, AND, OR };
    if (dec_take(d, "warp")) {
        if (!dec_take(d, "sync")) dec_unsupported(d);
        const uint32_t e = dec_src(d, &o[0], SIM_U32);
        struct sim_insn *i = dec_emit(d, "bar_warp_sync");
        i->e = e;
        i->flags = SIM_I_ORDERS;
        return;
    }
    for (unsigned k = 0; k < d->in->nmods; k++) if (!strcmp(d->in->mods[k], "cluster")) {
        const bool arrive = dec_take(d, "arrive");
        if (!arrive && !dec_take(d, "wait")) dec_unsupported(d);
        const bool relaxed = d->flags & SIM_I_STRONG && !(d->flags & SIM_I_ORDERS);
        dec_emit(d, arrive ? "cluster_arrive" : "cluster_wait")->flags = arrive && !relaxed ? SIM_I_ORDERS : 0;
        return;
    }
    uint32_t mode = SYNC, at = 0, dst = 0, pred = 0, count = 0;
    if (dec_take(d, "arrive")) mode = ARRIVE;
    else if (dec_take(d, "red")) {
        mode = dec_take(d, "popc") ? POPC : dec_take(d, "and") ? AND : dec_take(d, "or") ? OR : SYNC;
        if (mode == SYNC) dec_unsupported(d);
        dst = dec_dst(d, &o[at++], mode == POPC ? SIM_U32 : SIM_PRED);
    } else if (!dec_take(d, "sync")) dec_unsupported(d);
    const uint32_t id = dec_src(d, &o[at++], SIM_U32);
    const bool has_count = mode <= ARRIVE ? d->in->n > at : d->in->n > at + 1;
    if (has_count) count = dec_src(d, &o[at++], SIM_U32);
    if (mode > ARRIVE) pred = dec_src(d, &o[at], SIM_PRED);
    struct sim_insn *i = dec_emit(d, "bar");
    i->d = dst;
    i->a = id;
    i->b = pred;
    i->c = count;
    i->flags = SIM_I_ORDERS | mode << SIM_I_USER | (has_count ? SIM_I_COUNT : 0);
}

static void warp_operation(struct dec *d) {
    static const char *const shfl_modes[] = { "up", "down", "bfly", "idx" },
        *const vote_modes[] = { "all", "any", "uni", "ballot" };
    const char *op = d->in->op;
    const struct sim_operand *o = d->in->opd;
    const bool pair = d->in->n && o[0].kind == SIM_O_PAIR;
    const struct sim_operand *to = pair ? &o[0].list[0] : &o[0], *second = pair ? &o[0].list[1] : NULL;
    if (!dec_take(d, "sync")) dec_unsupported(d);
    const uint32_t e = dec_src(d, &o[d->in->n - 1], SIM_U32);
    if (!strcmp(op, "shfl")) {
        const uint32_t mode = mode_of(d, shfl_modes, 4), a = dec_src(d, &o[1], SIM_B32), b = dec_src(d, &o[2], SIM_U32),
            c = dec_src(d, &o[3], SIM_U32);
        const uint32_t p = second ? dec_dst(d, second, SIM_PRED) : 0, dst = dec_dst(d, to, SIM_B32);
        struct sim_insn *i = emit_name(d, "shfl_%s", shfl_modes[mode]);
        i->d = dst;
        i->a = a;
        i->b = b;
        i->c = c;
        i->e = e;
        i->imm = p;
        i->flags = second ? SIM_I_SECOND : 0;
    } else if (!strcmp(op, "vote")) {
        const uint32_t mode = mode_of(d, vote_modes, 4), a = dec_src(d, &o[1], SIM_PRED),
            dst = dec_dst(d, to, mode == 3 ? SIM_B32 : SIM_PRED);
        struct sim_insn *i = dec_emit_to(d, "vote_sync", dst, a, 0);
        i->e = e;
        i->flags = mode << SIM_I_USER;
    } else if (!strcmp(op, "match")) {
        const bool all = dec_take(d, "all");
        dec_take(d, "any");
        const uint32_t a = dec_src(d, &o[1], d->type[0]), p = second ? dec_dst(d, second, SIM_PRED) : 0,
            dst = dec_dst(d, to, SIM_B32);
        struct sim_insn *i = emit_name(d, "match_%s_%u", all ? "all" : "any", bits_of(d->type[0]));
        i->d = dst;
        i->a = a;
        i->e = e;
        i->imm = p;
        i->flags = second ? SIM_I_SECOND : 0;
    } else if (!strcmp(op, "redux")) {
        static const char *const ops[] = { "add", "min", "max", "and", "or", "xor" };
        const uint32_t which = mode_of(d, ops, 6), a = dec_src(d, &o[1], d->type[0]), dst = dec_dst(d, to, d->type[0]);
        struct sim_insn *i = which == 1 || which == 2 ? emit_name(d, "redux_%s_%s", ops[which], type_name(d->type[0])) :
            emit_name(d, "redux_%s", ops[which]);
        i->d = dst;
        i->a = a;
        i->e = e;
    } else {                                                      /* elect */
        const uint32_t p = second ? dec_dst(d, second, SIM_PRED) : dec_temp(d, 0);
        const bool sink = to->kind == SIM_O_SINK;
        const uint32_t dst = sink ? 0 : dec_dst(d, to, SIM_B32);
        struct sim_insn *i = dec_emit_to(d, "elect_sync", dst, 0, p);
        i->e = e;
        i->flags = sink ? SIM_I_SINK : 0;
    }
}

/* d = op(sources) for each lane */
static void lanes(struct dec *d) {
    const char *op = d->in->op;
    if (among(op, "add sub mul mad fma div rem sad neg abs rcp sqrt mul24 mad24 addc subc madc")) arithmetic(d);
    else if (among(op, "min max")) extremes(d);
    else if (among(op, "rsqrt sin cos lg2 ex2 tanh")) approximate(d);
    else if (among(op, "selp slct testp copysign")) select_value(d);
    else if (!strcmp(op, "mbarrier")) dec_memory(d);
    else bits(d);
}

static void activemask(struct dec *d) {
    dec_emit_to(d, "activemask", dec_dst(d, &d->in->opd[0], SIM_B32), 0, 0);
}

static void nanosleep_lanes(struct dec *d) { dec_emit(d, "nanosleep"); }

static void fence(struct dec *d) {
    d->nrest = 0;
    dec_emit(d, "fence")->flags = SIM_I_ORDERS;
}

static void nothing(struct dec *d) {
    d->nrest = 0;
    dec_emit(d, "nothing");
}

typedef void selector(struct dec *d);
static selector *const selectors[SIM_SELECTS] = {
    [SIM_SELECT_NONE] = dec_unsupported, [SIM_SELECT_LANES] = lanes, [SIM_SELECT_MIXED] = arithmetic,
    [SIM_SELECT_F32X2] = arithmetic, [SIM_SELECT_LOP3_BOOL] = bits, [SIM_SELECT_VIDEO] = video,
    [SIM_SELECT_SET] = compare, [SIM_SELECT_SETP] = compare, [SIM_SELECT_MOV] = move, [SIM_SELECT_CVT] = convert,
    [SIM_SELECT_CVT_FP8] = convert, [SIM_SELECT_CVT_PACK] = convert, [SIM_SELECT_CVTA] = dec_memory,
    [SIM_SELECT_MAPA] = dec_memory, [SIM_SELECT_GETCTARANK] = dec_memory, [SIM_SELECT_ST_ASYNC] = dec_memory,
    [SIM_SELECT_RED_ASYNC] = dec_memory, [SIM_SELECT_ISSPACEP] = dec_memory, [SIM_SELECT_LD] = dec_memory, [SIM_SELECT_ST] = dec_memory,
    [SIM_SELECT_ATOM] = dec_memory, [SIM_SELECT_RED] = dec_memory, [SIM_SELECT_SHFL] = warp_operation,
    [SIM_SELECT_VOTE] = warp_operation, [SIM_SELECT_MATCH] = warp_operation, [SIM_SELECT_REDUX] = warp_operation,
    [SIM_SELECT_ACTIVEMASK] = activemask, [SIM_SELECT_ELECT] = warp_operation, [SIM_SELECT_BAR_SYNC] = barrier,
    [SIM_SELECT_BAR_ARRIVE] = barrier, [SIM_SELECT_BAR_RED] = barrier, [SIM_SELECT_BAR_WARP] = barrier,
    [SIM_SELECT_CLUSTER_ARRIVE] = barrier, [SIM_SELECT_CLUSTER_WAIT] = barrier, [SIM_SELECT_FENCE] = fence,
    [SIM_SELECT_BRA] = flow, [SIM_SELECT_BRX] = flow, [SIM_SELECT_CALL] = flow, [SIM_SELECT_RET] = flow,
    [SIM_SELECT_EXIT] = flow, [SIM_SELECT_TRAP] = flow, [SIM_SELECT_NANOSLEEP] = nanosleep_lanes,
    [SIM_SELECT_NOTHING] = nothing, [SIM_SELECT_CREATEPOLICY] = dec_memory, [SIM_SELECT_CP_ASYNC] = dec_memory,
    [SIM_SELECT_CP_ARRIVE] = dec_memory, [SIM_SELECT_CP_BULK] = dec_memory, [SIM_SELECT_MBARRIER_INIT] = dec_memory,
    [SIM_SELECT_MBARRIER_INVAL] = dec_memory, [SIM_SELECT_MBARRIER_ARRIVE] = dec_memory,
    [SIM_SELECT_MBARRIER_TX] = dec_memory, [SIM_SELECT_MBARRIER_TEST] = dec_memory,
};

void dec_select(struct dec *d) { selectors[d->in->form->select](d); }
