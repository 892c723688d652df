/* operand.c - constant expressions, operands and instructions.

   Operands are parsed onto px->stack and moved to the image when their list is complete; only then may a pending label
   point at them. check.c decides which operands an instruction accepts. */
#include "ptx.h"

/* ---- constant expressions: 64-bit integers, signed unless one side is unsigned; doubles only with doubles ---- */

static double as_double(uint64_t bits) {
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static uint64_t as_bits(double d) {
    uint64_t b;
    memcpy(&b, &d, 8);
    return b;
}

static struct px_value integer(uint64_t v, bool u) { return (struct px_value){ .bits = v, .is_unsigned = u }; }

static uint64_t float_to_integer(double d, bool is_unsigned) {     /* (.u64)1e30: saturates; undefined in C */
    if (!(d > -9.2233720368547758e18) || (is_unsigned && d < 0)) return is_unsigned ? 0 : UINT64_C(1) << 63;
    if (is_unsigned) return d < 1.8446744073709552e19 ? (uint64_t)d : UINT64_MAX;
    return d < 9.2233720368547758e18 ? (uint64_t)(int64_t)d : INT64_MAX;
}

static struct px_value ternary(struct px *px, unsigned depth);

static struct px_value unary(struct px *px, unsigned depth) {
    struct px_value v;
    unsigned line = px->t.line;
    if (depth > PX_MAX_DEPTH)
        px_fatal(px, 218, line, "Expressions nested deeper than %d are not supported by this CPU device", PX_MAX_DEPTH);
    if (px->t.kind == T_DOT && px->t.text[0] >= '0' && px->t.text[0] <= '9') px_relex_number(px);
    if (px->t.kind == T_NUMBER) {
        v = (struct px_value){ .is_float = px->t.fbits != 0, .fbits = px->t.fbits, .bits = px->t.value,
            .is_unsigned = px->t.is_unsigned };
        px_next(px);
        return v;
    }
    if (px->t.kind == T_IDENT && !strcmp(px->t.name->text, "WARP_SZ")) {
        px_next(px);
        return integer(32, false);
    }
    if (px_accept(px, '(')) {
        if (px_dot(px, "s64") || px_dot(px, "u64")) {
            bool u = px_dot(px, "u64");
            px_next(px);
            px_expect(px, ')');
            v = unary(px, depth + 1);
            return v.is_float ? integer(float_to_integer(as_double(v.bits), u), u) : integer(v.bits, u);
        }
        v = ternary(px, depth + 1);
        px_expect(px, ')');
        return v;
    }
    int op = px->t.kind == T_PUNCT ? px->t.punct : 0;
    if (op != '-' && op != '+' && op != '~' && op != '!') px_syntax(px);
    px_next(px);
    if (op == '-' && px->t.kind == T_NUMBER && px->t.fbits && px->t.len > 1 && strchr("fFdD", px->t.text[1]))
        px_syntax(px);
    v = unary(px, depth + 1);
    if (v.is_float && (op == '~' || v.fbits == 32)) {
        px_error(px, line, "Constant expression type mismatch");
        return v;
    }
    if (op == '-') v.bits = v.is_float ? v.bits ^ UINT64_C(1) << 63 : 0 - v.bits;
    if (op == '~') v.bits = ~v.bits;
    if (op == '!') v = integer(v.is_float ? as_double(v.bits) == 0 : v.bits == 0, false);
    return v;
}

static int precedence(int op) {
    switch (op) {
    case P_OR: return 1;
    case P_AND: return 2;
    case '|': return 3;
    case '^': return 4;
    case '&': return 5;
    case P_EQ: case P_NE: return 6;
    case '<': case '>': case P_LE: case P_GE: return 7;
    case P_SHL: case P_SHR: return 8;
    case '+': case '-': return 9;
    case '*': case '/': case '%': return 10;
    default: return 0;
    }
}

static struct px_value apply(struct px *px, unsigned line, int op, struct px_value a, struct px_value b) {
    bool u = a.is_unsigned || b.is_unsigned;
    uint64_t x = a.bits, y = b.bits;
    int64_t sx = (int64_t)x, sy = (int64_t)y;
    if (a.is_float != b.is_float || (a.is_float && (a.fbits != 64 || b.fbits != 64))) {
        px_error(px, line, "Constant expression type mismatch");
        return a;
    }
    if (a.is_float) {
        double p = as_double(x), q = as_double(y);
        struct px_value r = { .is_float = true, .fbits = 64 };
        switch (op) {
        case '+': r.bits = as_bits(p + q); return r;
        case '-': r.bits = as_bits(p - q); return r;
        case '*': r.bits = as_bits(p * q); return r;
        case '/': r.bits = as_bits(p / q); return r;
        case '<': return integer(p < q, false);
        case '>': return integer(p > q, false);
        case P_LE: return integer(p <= q, false);
        case P_GE: return integer(p >= q, false);
        case P_EQ: return integer(p == q, false);
        case P_NE: return integer(p != q, false);
        default: px_error(px, line, "Constant expression type mismatch"); return a;
        }
    }
    switch (op) {
    case '+': return integer(x + y, u);
    case '-': return integer(x - y, u);
    case '*': return integer(x * y, u);
    case '/': case '%':
        if (!y) px_fatal(px, 218, line, "Constant expression has division by zero");
        if (u) return integer(op == '/' ? x / y : x % y, true);
        if (sy == -1) return integer(op == '/' ? 0 - x : 0, false);
        return integer((uint64_t)(op == '/' ? sx / sy : sx % sy), false);
    case P_SHL: return integer(y > 63 ? 0 : x << y, a.is_unsigned);
    case P_SHR:
        if (a.is_unsigned) return integer(y > 63 ? 0 : x >> y, true);
        y = y > 63 ? 63 : y;
        return integer(sx < 0 ? ~(~x >> y) : x >> y, false);
    case '<': return integer(u ? x < y : sx < sy, false);
    case '>': return integer(u ? x > y : sx > sy, false);
    case P_LE: return integer(u ? x <= y : sx <= sy, false);
    case P_GE: return integer(u ? x >= y : sx >= sy, false);
    case P_EQ: return integer(x == y, false);
    case P_NE: return integer(x != y, false);
    case '&': return integer(x & y, true);
    case '|': return integer(x | y, true);
    case '^': return integer(x ^ y, true);
    case P_AND: return integer(x && y, false);
    default: return integer(x || y, false);
    }
}

static struct px_value binary(struct px *px, int least, unsigned depth) {
    struct px_value v = unary(px, depth);
    for (;;) {
        int op = px->t.kind == T_PUNCT ? px->t.punct : 0, p = precedence(op);
        unsigned line = px->t.line;
        if (!p || p < least) return v;
        px_next(px);
        v = apply(px, line, op, v, binary(px, p + 1, depth + 1));
    }
}

static struct px_value ternary(struct px *px, unsigned depth) {
    struct px_value v = binary(px, 1, depth);
    if (!px_accept(px, '?')) return v;
    struct px_value a = ternary(px, depth + 1);
    px_expect(px, ':');
    struct px_value b = ternary(px, depth + 1);
    return v.bits ? a : b;
}

struct px_value px_expression(struct px *px) { return ternary(px, 0); }

uint64_t px_integer(struct px *px) {
    unsigned line = px->t.line;
    struct px_value v = px_expression(px);
    if (v.is_float) px_error(px, line, "Constant expression type mismatch");
    return v.bits;
}

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

static unsigned selector(struct px *px) {         /* .x .y .z .w, or .r .g .b .a, as 1..4 */
    static const char *const letters[] = { "xr", "yg", "zb", "wa" };
    for (unsigned i = 0; i < 4; i++)
        if (px->t.len == 1 && strchr(letters[i], px->t.text[0])) {
            px_next(px);
            return i + 1;
        }
    if (px->t.len == 2 && (px->t.text[0] == 'b' || px->t.text[0] == 'h') && px->t.text[1] >= '0'
        && px->t.text[1] <= '3')
        px_error(px, px->t.line, "Byte/Word selector '.%s' is not supported by this CPU device", px->t.name->text);
    else px_error(px, px->t.line, "Unknown vector selector: '%s'", px->t.name->text);
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
    }
    else {
        p->o.kind = SIM_O_SYM;
        p->o.var = s->var;
        p->o.func = s->func;
    }
}

static void memory_operand(struct px *px, struct px_operand *p) {
    p->o.kind = SIM_O_MEM;
    px_next(px);
    if (px->t.kind == T_IDENT && strcmp(px->t.name->text, "WARP_SZ")) {
        name_operand(px, p);
        p->bad_address = p->o.kind != SIM_O_REG && (p->o.kind != SIM_O_SYM || !p->o.var);
        p->o.kind = SIM_O_MEM;
        if (px->t.kind == T_DOT) p->o.component = (unsigned char)selector(px);
        if (px_accept(px, '+')) p->o.imm = px_integer(px);
    } else p->o.imm = px_integer(px);
    if (px_is(px, ',')) {                         /* [tex, {x, y}]: textures, surfaces and tensor maps */
        p->beyond = true;
        while (!px_is(px, ']') && !px_is(px, ';') && px->t.kind != T_EOF) px_next(px);
    }
    px_expect(px, ']');
}

static void list_operand(struct px *px, enum sim_operand_kind kind, int close) {
    struct px_operand whole = { .o = { .kind = (unsigned char)kind, .reg = -1 }, .line = px->t.line };
    size_t base = px->stack.n;
    px_next(px);
    if (!px_is(px, close)) do {
        if (px_is(px, '{') || px_is(px, '[')) px_syntax(px);
        px_push_operand(px);
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
    if (px_is(px, '_')) px_next(px); else name_operand(px, p);
    whole.o.list = px_keep_operands(px, base, &whole.o.n);
    *(struct px_operand *)px_push(px, &px->stack, sizeof whole) = whole;
}

void px_push_operand(struct px *px) {
    if (px_is(px, '{')) {
        list_operand(px, SIM_O_VEC, '}');
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
        bool name = *c == '%' || *c == '_' || *c == '$' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
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
    p->o.negated = negated && !minus;
    p->minus = minus;
    if (p->o.kind == SIM_O_REG && px->t.kind == T_DOT) p->o.component = (unsigned char)selector(px);
    else if (p->o.kind == SIM_O_SREG && px->t.kind == T_DOT) {
        p->o.component = (unsigned char)selector(px);
        p->o.imm = p->o.component - 1u;
    } else if (p->o.kind == SIM_O_SYM && px_accept(px, '+')) p->o.imm = px_integer(px);
    else if (p->o.kind == SIM_O_SYM && p->o.var && px_accept(px, '[')) {      /* g[3]: the element's address */
        p->o.imm = px_integer(px) * sim_type_size(p->o.var->type);
        p->indexed = true;
        px_expect(px, ']');
    } else if (px_is(px, '|')) pair_operand(px);
}

/* ---- instructions ---- */

/* A place where only a label is allowed: other meanings of its name do not matter. */
static void label_operand(struct px *px, const char *op) {
    if (px->t.kind != T_IDENT) {
        px_push_operand(px);
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
    }
    else if (l && l->proto) {
        p->o.kind = SIM_O_PROTO;
        p->o.proto = l->proto;
    }
    else {
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

void px_instruction(struct px *px, int pred, bool pred_negated) {
    struct sim_instr in = { .op = px->t.name->text, .pred = pred, .pred_negated = pred_negated, .line = px->t.line };
    struct px_name *op = px->t.name, *mods[SIM_MAX_MODS];
    size_t base = px->stack.n;
    px_next(px);
    for (; px->t.kind == T_DOT; px_next(px)) {
        if (in.nmods == SIM_MAX_MODS)
            px_fatal(px, 218, px->t.line, "More than %d modifiers are not supported by this CPU device", SIM_MAX_MODS);
        mods[in.nmods] = px->t.name;
        in.mods[in.nmods++] = px->t.name->text;
    }
    if (!px_is(px, ';')) {
        if (!strcmp(in.op, "call")) call_operands(px);
        else for (unsigned i = 0;; i++) {
            if ((i == 0 && !strcmp(in.op, "bra")) || (i == 1 && !strcmp(in.op, "brx"))) label_operand(px, in.op);
            else px_push_operand(px);
            if (!px_accept(px, ',')) break;
        }
    }
    px_expect(px, ';');
    for (size_t i = base; i < px->stack.n; i++) {
        struct px_operand *p = (struct px_operand *)px->stack.data + i;
        if (p->beyond) {
            char name[160];
            int n = snprintf(name, sizeof name, "%s", in.op);
            for (unsigned k = 0; k < in.nmods && n >= 0 && n < (int)sizeof name; k++)
                n += snprintf(name + n, sizeof name - (size_t)n, ".%s", in.mods[k]);
            px_error(px, in.line, "Instruction '%s' is not supported by this CPU device", name);
        }
        if (p->bad_address && !p->beyond) px_error(px, in.line, "Illegal operand type to instruction '%s'", in.op);
        if (p->minus) px_error(px, in.line, "Operand negation not allowed for instruction '%s'", in.op);
        if (p->indexed && strcmp(in.op, "mov")) p->o.kind = SIM_O_MEM;
    }
    in.opd = px_keep_operands(px, base, &in.n);
    px_check(px, &in, op, mods);
    in.unused = !strcmp(in.op, "ld") || !strcmp(in.op, "ldu") ? px->unused : 0;
    px->unused = 0;
    memcpy(px_push(px, &px->instrs, sizeof in), &in, sizeof in);
}
