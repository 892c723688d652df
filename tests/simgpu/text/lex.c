/* lex.c - PTX text to tokens.

   The text is NUL-terminated and never copied; a token points into it. No token extends beyond the
   NUL. */
#include "ptx.h"
#include <locale.h>

static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_follow(char c) { return is_alpha(c) || is_digit(c) || c == '_' || c == '$'; }
static int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static const char *skip_blank(struct px *px, const char *c) {
    for (;;) {
        if (*c == '\n') {
            px->line++;
            c++;
        } else if (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\f' || *c == '\v') c++;
        else if (c[0] == '/' && c[1] == '/')
            while (*c && *c != '\n') c++;
        else if (c[0] == '/' && c[1] == '*') {
            unsigned start = px->line;
            for (c += 2; !(c[0] == '*' && c[1] == '/'); c++) {
                if (!*c)
                    px_fatal(
                            px, 218, start, "Parsing error near '': unexpected EOF while scanning");
                if (*c == '\n') px->line++;
            }
            c += 2;
        } else if (*c == '#') { /* a preprocessor's line marker: # 12 "file" */
            const char *d = c + 1;
            while (*d == ' ' || *d == '\t') d++;
            if (!is_digit(*d)) return c;
            while (*c && *c != '\n') c++;
        } else return c;
    }
}

/* strtod accepts exactly what the scanners below have read, so it stops where they do; in the C
   locale, whatever the program's is. */
static uint64_t decimal_bits(const char *c) {
    static locale_t c_locale;
    locale_t l = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);
    if (!l && (l = newlocale(LC_ALL_MASK, "C", (locale_t)0))) {
        locale_t none = (locale_t)0;
        if (!__atomic_compare_exchange_n(
                    &c_locale, &none, l, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            freelocale(l);
            l = none;
        }
    }
    double value = l ? strtod_l(c, NULL, l) : strtod(c, NULL);
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

/* The end of an exponent at c, or c if there is none. */
static const char *skip_exponent(const char *c) {
    if (*c != 'e' && *c != 'E') return c;
    const char *digits = c[1] == '+' || c[1] == '-' ? c + 2 : c + 1;
    if (!is_digit(*digits)) return c;
    while (is_digit(*digits)) digits++;
    return digits;
}

/* 0f3F800000, 0d3FF0000000000000: exactly 8 or 16 digits are bits of a float. Returns the end, or
   NULL. */
static const char *read_float_bits(struct px_token *t, const char *c) {
    const char kind = c[0] == '0' ? (char)(c[1] | 32) : 0;
    const int digits = kind == 'f' ? 8 : kind == 'd' ? 16 : 0;
    uint64_t v = 0;
    for (int i = 0; i < digits; i++) {
        const int digit = hex_value(c[2 + i]);
        if (digit < 0) return NULL;
        v = v << 4 | (unsigned)digit;
    }
    if (!digits) return NULL;
    t->value = v;
    t->fbits = (unsigned char)(digits * 4);
    return c + 2 + digits;
}

static const char *read_decimal_float(struct px_token *t, const char *c) {
    const char *end = c;
    while (is_digit(*end)) end++;
    const char *whole = end;
    if (*end == '.')
        for (end++; is_digit(*end); end++) {}
    end = skip_exponent(end);
    if (end == whole) return NULL;
    t->value = decimal_bits(c);
    t->fbits = 64;
    return end;
}

static const char *read_number(struct px_token *t, const char *c) {
    uint64_t v = 0;
    const char *end = read_float_bits(t, c);
    if (end) return end;
    if (c[0] == '0' && (c[1] == 'x' || c[1] == 'X') && hex_value(c[2]) >= 0)
        for (c += 2; hex_value(*c) >= 0; c++) v = v << 4 | (unsigned)hex_value(*c);
    else if (c[0] == '0' && (c[1] == 'b' || c[1] == 'B') && (c[2] == '0' || c[2] == '1'))
        for (c += 2; *c == '0' || *c == '1'; c++) v = v << 1 | (unsigned)(*c - '0');
    else if ((end = read_decimal_float(t, c)) != NULL) return end;
    else if (*c == '0')
        while (*c >= '0' && *c <= '7') v = v << 3 | (unsigned)(*c++ - '0');
    else
        while (is_digit(*c)) v = v * 10 + (unsigned)(*c++ - '0');
    const bool suffix = *c == 'U';
    t->is_unsigned = suffix || v >> 63;
    t->value = v;
    return c + suffix;
}

void px_next(struct px *px) {
    struct px_token *t = &px->t;
    const char *c = skip_blank(px, px->cur), *start = c;
    t->line = px->line;
    t->text = c;
    t->fbits = 0;
    t->is_unsigned = false;
    t->name = NULL;
    t->punct = 0;
    if (!*c) t->kind = T_EOF;
    else if (is_alpha(*c) || ((*c == '_' || *c == '$' || *c == '%') && is_follow(c[1]))) {
        for (c++; is_follow(*c); c++)
            ;
        t->kind = T_IDENT;
        t->name = px_intern(px, start, (size_t)(c - start));
    } else if (*c == '.' && is_follow(c[1])) {
        for (c++; is_follow(*c) || (c[0] == ':' && c[1] == ':' && is_follow(c[2]));
                c += *c == ':' ? 2 : 1)
            ;
        t->kind = T_DOT;
        t->text = ++start;
        t->name = px_intern(px, start, (size_t)(c - start));
    } else if (is_digit(*c)) {
        t->kind = T_NUMBER;
        c = read_number(t, c);
    } else if (*c == '"') {
        for (c++; *c && *c != '"' && *c != '\n'; c++)
            if (*c == '\\' && c[1] && c[1] != '\n') c++;
        if (*c != '"') {
            t->kind = T_PUNCT;
            t->punct = '"';
            t->len = 1;
            px->cur = start + 1;
            return;
        }
        t->kind = T_STRING;
        t->text = ++start;
        t->len = (unsigned)(c - start);
        px->cur = c + 1;
        return;
    } else {
        static const struct {
            char a, b;
            short code;
        } two[] = {
            { '<', '<', P_SHL },
            { '>', '>', P_SHR },
            { '<', '=', P_LE },
            { '>', '=', P_GE },
            { '=', '=', P_EQ },
            { '!', '=', P_NE },
            { '&', '&', P_AND },
            { '|', '|', P_OR },
        };
        t->kind = T_PUNCT;
        t->punct = (unsigned char)*c;
        for (size_t i = 0; i < sizeof two / sizeof *two; i++)
            if (c[0] == two[i].a && c[1] == two[i].b) {
                t->punct = two[i].code;
                c++;
                break;
            }
        c++;
    }
    t->len = (unsigned)(c - start);
    px->cur = c;
}

void px_relex_number(struct px *px) {
    const char *dot = px->t.text - 1, *c = dot + 1;
    while (is_digit(*c)) c++;
    px->t.kind = T_NUMBER;
    px->t.fbits = 64;
    px->t.value = decimal_bits(dot);
    px->cur = skip_exponent(c);
}

void px_syntax(struct px *px) {
    const char *start = px->t.text;
    unsigned n = px->t.len;
    if (px->t.kind == T_DOT) {
        start--;
        n++;
    }
    if (px->t.kind == T_STRING) {
        start--;
        n += 2;
    }
    px_fatal(px, 218, px->t.line, "Parsing error near '%.*s': syntax error",
            (int)(n > 200 ? 200 : n), start);
}

uint64_t px_number(struct px *px) {
    if (px->t.kind != T_NUMBER || px->t.fbits) px_syntax(px);
    uint64_t v = px->t.value;
    px_next(px);
    return v;
}

struct px_name *px_new_name(struct px *px) {
    if (px->t.kind != T_IDENT || !strcmp(px->t.name->text, "WARP_SZ")) px_syntax(px);
    struct px_name *name = px->t.name;
    px_next(px);
    return name;
}
