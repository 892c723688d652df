/* lex.c - PTX text to tokens, and the base of the front end: the store, names, and errors.

   The text is NUL-terminated and never copied; a token points into it. No token extends beyond the NUL. */
#include "ptx.h"
#include <locale.h>
#include <stdarg.h>

/* ---- the store: memory that is valid as long as the image ---- */

#define BLOCK_HEAD ((sizeof(struct px_block) + 15) & ~(size_t)15)

static void *store_alloc(struct px_store *s, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    struct px_block *b = s->blocks;
    if (!b || b->cap - b->used < bytes) {
        size_t cap = b ? b->cap * 2 : 32768;
        if (cap > 4u << 20) cap = 4u << 20;
        if (cap < bytes + BLOCK_HEAD) cap = bytes + BLOCK_HEAD;
        if (cap < bytes || !(b = malloc(cap))) return NULL;
        b->next = s->blocks;
        b->used = BLOCK_HEAD;
        b->cap = cap;
        s->blocks = b;
    }
    void *p = (char *)b + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

struct px_store *px_store_new(void) {
    struct px_store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->mask = 1023;
    s->table = calloc(s->mask + 1, sizeof *s->table);
    if (!s->table) {
        free(s);
        return NULL;
    }
    return s;
}

void px_store_free(struct px_store *s) {
    if (!s) return;
    for (struct px_block *b = s->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(s->table);
    free(s);
}

void *px_alloc(struct px *px, size_t bytes) {
    void *p = store_alloc(px->store, bytes);
    if (!p) px_no_memory(px);
    return p;
}

char *px_strndup(struct px *px, const char *text, size_t n) {
    char *p = px_alloc(px, n + 1);
    memcpy(p, text, n);
    return p;
}

void *px_push(struct px *px, struct px_vec *v, size_t size) {
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 64;
        void *p = realloc(v->data, cap * size);
        if (!p) px_no_memory(px);
        v->data = p;
        v->cap = cap;
    }
    return memset((char *)v->data + v->n++ * size, 0, size);
}

void *px_keep(struct px *px, const void *data, size_t n, size_t size) {
    if (!n) return NULL;
    void *p = px_alloc(px, n * size);
    memcpy(p, data, n * size);
    return p;
}

/* ---- names ---- */

static unsigned hash_text(const char *text, size_t n) {
    uint64_t h = 0x9E3779B97F4A7C15ull ^ n;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001B3ull;
    return (unsigned)(h ^ (h >> 29));
}

struct px_name *px_find_name(const struct px_store *s, const char *text, size_t n) {
    unsigned h = hash_text(text, n);
    struct px_name *e = s->table[h & s->mask];
    while (e && (e->hash != h || e->len != n || memcmp(e->text, text, n))) e = e->next;
    return e;
}

struct px_name *px_intern(struct px *px, const char *text, size_t n) {
    struct px_store *s = px->store;
    unsigned h = hash_text(text, n);
    struct px_name *e = s->table[h & s->mask];
    while (e && (e->hash != h || e->len != n || memcmp(e->text, text, n))) e = e->next;
    if (e) return e;
    if (s->count > s->mask) {
        unsigned mask = s->mask * 2 + 1;
        struct px_name **table = calloc((size_t)mask + 1, sizeof *table);
        if (!table) px_no_memory(px);
        for (unsigned i = 0; i <= s->mask; i++)
            for (struct px_name *m = s->table[i], *next; m; m = next) {
                next = m->next;
                m->next = table[m->hash & mask];
                table[m->hash & mask] = m;
            }
        free(s->table);
        s->table = table;
        s->mask = mask;
    }
    e = px_alloc(px, sizeof *e);
    e->text = px_strndup(px, text, n);
    e->len = (unsigned)n;
    e->hash = h;
    e->next = s->table[h & s->mask];
    s->table[h & s->mask] = e;
    s->count++;
    return e;
}

/* ---- errors, in ptxas's words; the driver's JIT calls its input "application ptx input" ---- */

#define MAX_ERRORS 10000                          /* lines in the log; ptxas has no limit, but memory is limited */

static void log_line(struct px *px, unsigned line, const char *kind, const char *format, va_list args) {
    char text[600];
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++) if ((unsigned char)*c < 32 || (unsigned char)*c > 126) *c = '?';
    if (line) sim_log_add(px->log, "ptxas application ptx input, line %u; %s: %s\n", line, kind, text);
    else      sim_log_add(px->log, "ptxas %s: %s\n", kind, text);
}

void px_error(struct px *px, unsigned line, const char *format, ...) {
    va_list args;
    if (px->errors++ >= MAX_ERRORS) return;
    va_start(args, format);
    log_line(px, line, "error   ", format, args);
    va_end(args);
}

void px_fatal(struct px *px, int result, unsigned line, const char *format, ...) {
    va_list args;
    px->errors++;
    px->result = result;
    va_start(args, format);
    log_line(px, line, "fatal   ", format, args);
    va_end(args);
    longjmp(px->bail, 1);
}

void px_no_memory(struct px *px) {
    px->errors++;
    px->result = 2;                               /* CUDA_ERROR_OUT_OF_MEMORY */
    longjmp(px->bail, 1);
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
    px_fatal(px, 218, px->t.line, "Parsing error near '%.*s': syntax error", (int)(n > 200 ? 200 : n), start);
}

/* ---- tokens ---- */

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
        }
        else if (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\f' || *c == '\v') c++;
        else if (c[0] == '/' && c[1] == '/') while (*c && *c != '\n') c++;
        else if (c[0] == '/' && c[1] == '*') {
            unsigned start = px->line;
            for (c += 2; !(c[0] == '*' && c[1] == '/'); c++) {
                if (!*c) px_fatal(px, 218, start, "Parsing error near '': unexpected EOF while scanning");
                if (*c == '\n') px->line++;
            }
            c += 2;
        } else if (*c == '#') {                   /* a preprocessor's line marker: # 12 "file" */
            const char *d = c + 1;
            while (*d == ' ' || *d == '\t') d++;
            if (!is_digit(*d)) return c;
            while (*c && *c != '\n') c++;
        } else return c;
    }
}

/* strtod accepts exactly what the scanners below have read, so it stops where
   they do; in the C locale, whatever the program's is. */
static uint64_t decimal_bits(const char *c) {
    static locale_t c_locale;
    locale_t l = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);
    if (!l && (l = newlocale(LC_ALL_MASK, "C", (locale_t)0))) {
        locale_t none = (locale_t)0;
        if (!__atomic_compare_exchange_n(&c_locale, &none, l, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            freelocale(l);
            l = none;
        }
    }
    double value = l ? strtod_l(c, NULL, l) : strtod(c, NULL);
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static const char *read_number(struct px_token *t, const char *c) {
    const char *start = c;
    uint64_t v = 0;
    if (c[0] == '0' && (c[1] == 'f' || c[1] == 'F' || c[1] == 'd' || c[1] == 'D')) {
        int digits = c[1] == 'f' || c[1] == 'F' ? 8 : 16, i = 0;
        while (i < digits && hex_value(c[2 + i]) >= 0) {
            v = v << 4 | (unsigned)hex_value(c[2 + i]);
            i++;
        }
        if (i == digits) {
            t->value = v;
            t->fbits = (unsigned char)(digits * 4);
            return c + 2 + digits;
        }
        v = 0;
    }
    if (c[0] == '0' && (c[1] == 'x' || c[1] == 'X') && hex_value(c[2]) >= 0)
        for (c += 2; hex_value(*c) >= 0; c++) v = v << 4 | (unsigned)hex_value(*c);
    else if (c[0] == '0' && (c[1] == 'b' || c[1] == 'B') && (c[2] == '0' || c[2] == '1'))
        for (c += 2; *c == '0' || *c == '1'; c++) v = v << 1 | (unsigned)(*c - '0');
    else {
        const char *d = c;
        while (is_digit(*d)) d++;
        const char *e = d;
        bool is_float = false;
        if (*e == '.') {
            is_float = true;
            e++;
            while (is_digit(*e)) e++;
        }
        if (*e == 'e' || *e == 'E') {
            const char *x = e + 1;
            if (*x == '+' || *x == '-') x++;
            if (is_digit(*x)) {
                is_float = true;
                while (is_digit(*x)) x++;
                e = x;
            }
        }
        if (is_float) {
            t->value = decimal_bits(start);
            t->fbits = 64;
            return e;
        }
        if (*c == '0') while (*c >= '0' && *c <= '7') v = v << 3 | (unsigned)(*c++ - '0');
        else while (is_digit(*c)) v = v * 10 + (unsigned)(*c++ - '0');
    }
    if (*c == 'U') {
        t->is_unsigned = true;
        c++;
    }
    if (v >> 63) t->is_unsigned = true;
    t->value = v;
    return c;
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
        for (c++; is_follow(*c); c++) ;
        t->kind = T_IDENT;
        t->name = px_intern(px, start, (size_t)(c - start));
    } else if (*c == '.' && is_follow(c[1])) {
        for (c++; is_follow(*c) || (c[0] == ':' && c[1] == ':' && is_follow(c[2])); c += *c == ':' ? 2 : 1) ;
        t->kind = T_DOT;
        t->text = ++start;
        t->name = px_intern(px, start, (size_t)(c - start));
    } else if (is_digit(*c)) {
        t->kind = T_NUMBER;
        c = read_number(t, c);
    } else if (*c == '"') {
        for (c++; *c && *c != '"' && *c != '\n'; c++) if (*c == '\\' && c[1] && c[1] != '\n') c++;
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
        static const struct { char a, b; short code; } two[] = { {'<', '<', P_SHL}, {'>', '>', P_SHR}, {'<', '=', P_LE},
            {'>', '=', P_GE}, {'=', '=', P_EQ}, {'!', '=', P_NE}, {'&', '&', P_AND}, {'|', '|', P_OR}
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
    if (*c == 'e' || *c == 'E') {
        const char *x = c + 1;
        if (*x == '+' || *x == '-') x++;
        if (is_digit(*x)) {
            while (is_digit(*x)) x++;
            c = x;
        }
    }
    px->t.kind = T_NUMBER;
    px->t.fbits = 64;
    px->t.value = decimal_bits(dot);
    px->cur = c;
}
