/* operand.c - operands and instructions.

   Operands are parsed onto px->stack and moved to the image when their list is complete; only then
   may a pending label point at them. check.c decides which operands an instruction accepts. */
#include "ptx.h"

static void push_operand(struct px *px);

/* ---- operands ---- */

static struct px_operand *new_operand(struct px *px, enum sim_operand_kind kind) {
    struct px_operand *p = px_push(px, &px->stack, sizeof *p);
    p->o.kind = (unsigned char)kind;
    p->o.reg = -1;
    p->line = px->t.line;
    return p;
}

struct sim_operand *px_keep_operands(struct px *px, size_t base, unsigned *n) {
    *n = (unsigned)(px->stack.n - base);
    if (!*n) return NULL;
    struct px_operand *from = (struct px_operand *)px->stack.data + base;
    struct sim_operand *to = px_alloc(px, *n * sizeof *to);
    for (unsigned i = 0; i < *n; i++) {
        to[i] = from[i].o;
        if (!from[i].name) continue;
        struct px_pending *p = px_push(px, &px->pending, sizeof *p);
        *p = (struct px_pending){ .operand = &to[i],
            .name = from[i].name,
            .line = from[i].line,
            .label_for = from[i].label_for,
            .was_symbol = from[i].was_symbol };
    }
    px->stack.n = base;
    return to;
}

/* A name without a meaning here: a label further down, or an error when the function ends. */
static void unresolved(struct px_operand *p, struct px_name *name) {
    p->o.kind = SIM_O_LABEL;
    p->o.name = name->text;
    p->o.target = UINT32_MAX;
    p->name = name;
}

static unsigned selector(struct px *px) { /* .x .y .z .w, or .r .g .b .a, as 1..4 */
    static const char *const letters[] = { "xr", "yg", "zb", "wa" };
    for (unsigned i = 0; i < 4; i++)
        if (px->t.len == 1 && strchr(letters[i], px->t.text[0])) {
            px_next(px);
            return i + 1;
        }
    px_error(px, px->t.line, "Unknown vector selector: '%s'", px->t.name->text);
    px_next(px);
    return 1;
}

/* The meaning of a name, without any suffix. */
static void name_operand(struct px *px, struct px_operand *p) {
    struct px_name *name = px->t.name;
    px_next(px);
    if (px_special(name) > 0) {
        p->o.kind = SIM_O_SREG;
        p->o.name = name->text;
        return;
    }
    struct px_symbol *s = px_lookup(px, name);
    if (!s) {
        unresolved(p, name);
        return;
    }
    if (s->kind == PX_REG) {
        p->o.kind = SIM_O_REG;
        p->o.reg = (int)s->reg;
    } else {
        p->o.kind = SIM_O_SYM;
        p->o.var = s->var;
        p->o.func = s->func;
    }
}

/* [texture, {x, y}] and [texture, x]: what follows the comma. */
static void coordinates(struct px *px) {
    struct px_operand whole = *((struct px_operand *)px->stack.data + --px->stack.n);
    const size_t base = px->stack.n;
    whole.beyond = true;
    while (px_accept(px, ',')) {
        if (!px_is(px, '{') && px->t.kind != T_IDENT) px_syntax(px);
        push_operand(px);
    }
    whole.o.list = px_keep_operands(px, base, &whole.o.n);
    *(struct px_operand *)px_push(px, &px->stack, sizeof whole) = whole;
}

static void memory_operand(struct px *px, struct px_operand *p) {
    bool plain = false; /* one name */
    p->o.kind = SIM_O_MEM;
    px_next(px);
    if (px->t.kind == T_IDENT && strcmp(px->t.name->text, "WARP_SZ")) {
        name_operand(px, p);
        p->bad_address = p->o.kind != SIM_O_REG && (p->o.kind != SIM_O_SYM || !p->o.var);
        p->o.kind = SIM_O_MEM;
        plain = !px_is(px, '+');
        if (px->t.kind == T_DOT) p->o.component = (unsigned char)selector(px);
        if (px_accept(px, '+')) p->o.imm = px_integer(px);
    } else p->o.imm = px_integer(px);
    if (plain && px_is(px, ',')) coordinates(px);
    px_expect(px, ']');
    if (px_dot(px, "unified")) px_next(px);
}

static void list_operand(struct px *px, enum sim_operand_kind kind, int close) {
    struct px_operand whole = { .o = { .kind = (unsigned char)kind, .reg = -1 },
        .line = px->t.line };
    size_t base = px->stack.n;
    px_next(px);
    if (!px_is(px, close)) do {
            if (px_is(px, '{') || px_is(px, '[')) px_syntax(px);
            push_operand(px);
        } while (px_accept(px, ','));
    px_expect(px, close);
    whole.o.list = px_keep_operands(px, base, &whole.o.n);
    *(struct px_operand *)px_push(px, &px->stack, sizeof whole) = whole;
}

/* d|p: the second half; the first is on the stack */
static void pair_operand(struct px *px) {
    struct px_operand whole = { .o = { .kind = SIM_O_PAIR, .reg = -1 }, .line = px->t.line };
    size_t base = px->stack.n - 1;
    px_next(px);
    if (!px_is(px, '_') && px->t.kind != T_IDENT) px_syntax(px);
    struct px_operand *p = new_operand(px, SIM_O_SINK);
    if (px_is(px, '_')) px_next(px);
    else name_operand(px, p);
    whole.o.list = px_keep_operands(px, base, &whole.o.n);
    *(struct px_operand *)px_push(px, &px->stack, sizeof whole) = whole;
}

static void push_operand(struct px *px) {
    if (px_is(px, '{')) {
        list_operand(px, SIM_O_VEC, '}');
        if (px_is(px, '|')) pair_operand(px); /* {a, b, c, d}|p */
        return;
    }
    struct px_operand *p = new_operand(px, SIM_O_SINK);
    if (px_is(px, '[')) {
        memory_operand(px, p);
        return;
    }
    if (px_accept(px, '_')) {
        if (px_is(px, '|')) pair_operand(px);
        return;
    }
    bool negated = false, minus = false;
    if (px_is(px, '!') || px_is(px, '-')) {
        const char *c = px->cur;
        while (*c == ' ' || *c == '\t') c++;
        bool name = *c == '%' || *c == '_' || *c == '$' || (*c >= 'a' && *c <= 'z') ||
                (*c >= 'A' && *c <= 'Z');
        if (name && strncmp(c, "WARP_SZ", 7)) {
            negated = true;
            minus = px_is(px, '-');
            px_next(px);
        }
    }
    if (px->t.kind != T_IDENT || !strcmp(px->t.name->text, "WARP_SZ")) {
        struct px_value v = px_expression(px);
        p->o.kind = SIM_O_IMM;
        p->o.imm = v.bits;
        p->o.fbits = v.is_float ? v.fbits : 0;
        return;
    }
    name_operand(px, p);
    p->o.negated = negated;
    p->minus = minus;
    if (p->o.kind == SIM_O_REG && px->t.kind == T_DOT) {
        const char *text = px->t.text;
        if (px->t.len > 1 && (*text == 'b' || *text == 'h') &&
                strspn(text + 1, "0123456789") == px->t.len - 1) {
            if (px->t.len > 5 || strspn(text + 1, "01234567") < px->t.len - 1)
                px_error(px, px->t.line, "Unknown video selector: '.%s'", px->t.name->text);
            p->o.elements = px->t.name->text;
            px_next(px);
        } else p->o.component = (unsigned char)selector(px);
    } else if (p->o.kind == SIM_O_SREG && px->t.kind == T_DOT) {
        p->o.component = (unsigned char)selector(px);
        p->o.imm = p->o.component - 1u;
    } else if (p->o.kind == SIM_O_SYM && px_accept(px, '+')) p->o.imm = px_integer(px);
    else if (p->o.kind == SIM_O_SYM && p->o.var && px_accept(px, '[')) { /* g[3]: the element's
                                                                            address */
        p->o.imm = px_integer(px) * sim_type_size(p->o.var->type);
        p->indexed = true;
        px_expect(px, ']');
    } else if (px_is(px, '|')) pair_operand(px);
}

/* ---- instructions ---- */

/* A place where only a label is allowed: other meanings of its name do not matter. */
static void label_operand(struct px *px, const char *op) {
    if (px->t.kind != T_IDENT) {
        push_operand(px);
        return;
    }
    struct px_operand *p = new_operand(px, SIM_O_LABEL);
    struct px_name *name = px->t.name;
    struct px_symbol *l = name->label;
    px_next(px);
    if (l && l->targets) {
        p->o.kind = SIM_O_TARGETS;
        p->o.list = l->targets;
        p->o.n = l->ntargets;
    } else if (l && l->proto) {
        p->o.kind = SIM_O_PROTO;
        p->o.proto = l->proto;
    } else {
        unresolved(p, name);
        p->label_for = op;
        p->was_symbol = px_special(name) > 0 || px_lookup(px, name);
    }
}

void px_push_label(struct px *px) { label_operand(px, "bra"); }

/* call (rets), target, (args), prototype */
static void call_operands(struct px *px) {
    if (px_is(px, '(')) {
        list_operand(px, SIM_O_LIST, ')');
        px_expect(px, ',');
    }
    if (px->t.kind != T_IDENT) px_syntax(px);
    name_operand(px, new_operand(px, SIM_O_SINK));
    if (px_accept(px, ',')) {
        if (px_is(px, '(')) {
            list_operand(px, SIM_O_LIST, ')');
            if (px_accept(px, ',')) label_operand(px, "call");
        } else label_operand(px, "call");
    }
}

/* Whether its address may have coordinates. */
static bool has_coordinates(const struct sim_instr *in) {
    static const char *const ops[] = { "tex", "tld4", "txq", "suld", "sust", "sured", "suq" };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(in->op, ops[i])) return true;
    for (unsigned k = 0; !strcmp(in->op, "cp") && k < in->nmods; k++)
        if (!strcmp(in->mods[k], "tensor")) return true;
    return false;
}

void px_instruction(struct px *px, int pred, bool pred_negated) {
    struct sim_instr in = {
        .op = px->t.name->text, .pred = pred, .pred_negated = pred_negated, .line = px->t.line
    };
    struct px_name *op = px->t.name, *mods[SIM_MAX_MODS];
    size_t base = px->stack.n;
    px_next(px);
    for (; px->t.kind == T_DOT; px_next(px)) {
        if (in.nmods == SIM_MAX_MODS)
            px_fatal(px, 218, px->t.line,
                    "More than %d modifiers are not supported by this CPU device", SIM_MAX_MODS);
        mods[in.nmods] = px->t.name;
        in.mods[in.nmods++] = px->t.name->text;
    }
    if (!px_is(px, ';')) {
        if (!strcmp(in.op, "call")) call_operands(px);
        else
            for (unsigned i = 0;; i++) {
                if ((i == 0 && !strcmp(in.op, "bra")) || (i == 1 && !strcmp(in.op, "brx")))
                    label_operand(px, in.op);
                else push_operand(px);
                if (!px_accept(px, ',')) break;
            }
    }
    px_expect(px, ';');
    for (size_t i = base; i < px->stack.n; i++) {
        struct px_operand *p = (struct px_operand *)px->stack.data + i;
        if (p->beyond && (!has_coordinates(&in) || p->o.n > 1)) { /* 2: a separate sampler */
            char name[160];
            int n = snprintf(name, sizeof name, "%s", in.op);
            for (unsigned k = 0; k < in.nmods && n >= 0 && n < (int)sizeof name; k++)
                n += snprintf(name + n, sizeof name - (size_t)n, ".%s", in.mods[k]);
            px_error(px, in.line, "Instruction '%s' is not supported by this CPU device", name);
        }
        if (p->bad_address && !p->beyond)
            px_error(px, in.line, "Illegal operand type to instruction '%s'", in.op);
        if (p->minus && strcmp(in.op, "vmad"))
            px_error(px, in.line, "Operand negation not allowed for instruction '%s'", in.op);
        if (p->indexed && strcmp(in.op, "mov")) p->o.kind = SIM_O_MEM;
    }
    in.opd = px_keep_operands(px, base, &in.n);
    px_check(px, &in, op, mods);
    in.unused = !strcmp(in.op, "ld") || !strcmp(in.op, "ldu") ? px->unused : 0;
    px->unused = 0;
    memcpy(px_push(px, &px->instrs, sizeof in), &in, sizeof in);
}
