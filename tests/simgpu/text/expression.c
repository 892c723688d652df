/* expression.c - constant expressions: 64-bit integers, signed unless one side is unsigned; doubles
   only with doubles. */
#include "ptx.h"

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

static struct px_value integer(uint64_t v, bool u) {
    return (struct px_value){ .bits = v, .is_unsigned = u };
}

/* (.u64)1e30: saturates; undefined in C */
static uint64_t float_to_integer(double d, bool is_unsigned) {
    if (!(d > -9.2233720368547758e18) || (is_unsigned && d < 0))
        return is_unsigned ? 0 : UINT64_C(1) << 63;
    if (is_unsigned) return d < 1.8446744073709552e19 ? (uint64_t)d : UINT64_MAX;
    return d < 9.2233720368547758e18 ? (uint64_t)(int64_t)d : INT64_MAX;
}

static struct px_value ternary(struct px *px, unsigned depth);

static struct px_value unary(struct px *px, unsigned depth) {
    struct px_value v;
    unsigned line = px->t.line;
    if (depth > PX_MAX_DEPTH)
        px_fatal(px, 218, line,
                "Expressions nested deeper than %d are not supported by this CPU device",
                PX_MAX_DEPTH);
    if (px->t.kind == T_DOT && px->t.text[0] >= '0' && px->t.text[0] <= '9') px_relex_number(px);
    if (px->t.kind == T_NUMBER) {
        v = (struct px_value){ .is_float = px->t.fbits != 0,
            .fbits = px->t.fbits,
            .bits = px->t.value,
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
            return v.is_float ? integer(float_to_integer(as_double(v.bits), u), u)
                              : integer(v.bits, u);
        }
        v = ternary(px, depth + 1);
        px_expect(px, ')');
        return v;
    }
    int op = px->t.kind == T_PUNCT ? px->t.punct : 0;
    if (op != '-' && op != '+' && op != '~' && op != '!') px_syntax(px);
    px_next(px);
    if (op == '-' && px->t.kind == T_NUMBER && px->t.fbits && px->t.len > 1 &&
            strchr("fFdD", px->t.text[1]))
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
    case P_EQ:
    case P_NE: return 6;
    case '<':
    case '>':
    case P_LE:
    case P_GE: return 7;
    case P_SHL:
    case P_SHR: return 8;
    case '+':
    case '-': return 9;
    case '*':
    case '/':
    case '%': return 10;
    default: return 0;
    }
}

static struct px_value apply(
        struct px *px, unsigned line, int op, struct px_value a, struct px_value b) {
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
    case '/':
    case '%':
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

struct px_value px_expression(struct px *px) {
    return ternary(px, 0);
}

uint64_t px_integer(struct px *px) {
    unsigned line = px->t.line;
    struct px_value v = px_expression(px);
    if (v.is_float) px_error(px, line, "Constant expression type mismatch");
    return v.bits;
}
