/* format.c - printf and assert of kernels: formats arguments from device
   memory with the host's printf, and queues the output.

   vprintf's arguments are packed in memory, each at its natural alignment:
   int and similar types 4 bytes; long, pointers and doubles 8. */
#include "execute.h"

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static char *queue;
static size_t queue_n, queue_cap;

void sim_print(const char *text, size_t n) {
    pthread_mutex_lock(&queue_lock);
    if (queue_n + n > queue_cap) {
        size_t cap = 2 * (queue_n + n) + 4096;
        char *p = realloc(queue, cap);
        if (p) {
            queue = p;
            queue_cap = cap;
        }
    }
    if (queue_n + n <= queue_cap) {
        memcpy(queue + queue_n, text, n);
        queue_n += n;
    }
    pthread_mutex_unlock(&queue_lock);
}

void sim_print_flush(void) {
    pthread_mutex_lock(&queue_lock);
    if (queue_n) {
        fwrite(queue, 1, queue_n, stdout);
        fflush(stdout);
        queue_n = 0;
    }
    pthread_mutex_unlock(&queue_lock);
}

struct text { char *s; size_t n, cap; };

static void put(struct text *t, const char *s, size_t n) {
    if (!n) return;
    if (!t->s || t->n + n > t->cap) {
        t->cap = 2 * (t->n + n) + 256;
        char *p = realloc(t->s, t->cap);
        if (!p) abort();
        t->s = p;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
}

struct call {                                     /* of one lane */
    struct sim_warp *w;
    const struct sim_insn *i;
    int lane;
    uint64_t args;                                /* the next argument */
    int count;                                    /* of arguments so far */
    struct text out;
};

/* A NUL-terminated string in device memory, terminator included; false: faulted. */
static bool fetch(const struct call *c, uint64_t a, struct text *out) {
    for (;; a++) {
        const char *p = sim_at(c->w, c->i, c->lane, SIM_GENERIC, a, 1, "read of a string");
        if (!p) return false;
        put(out, p, 1);
        if (!*p) return true;
    }
}

static bool argument(struct call *c, unsigned size, void *out) {
    c->args = (c->args + size - 1) / size * size;
    const void *p = sim_at(c->w, c->i, c->lane, SIM_GENERIC, c->args, size, "read of a printf argument");
    if (!p) return false;
    memcpy(out, p, size);
    c->args += size;
    c->count++;
    return true;
}

enum { WIDEST = 511 };                            /* a longer conversion is cut; C's own would write
                                                     blanks for minutes */
struct conversion {
    char spec[64];                                /* for the host: % and flags, width, precision; then the letter */
    size_t n;
    bool wide;                                    /* l, ll and other sizes of 8 bytes */
    bool starred;
    int star;                                     /* the width of `*` */
};

/* Flags, width and precision, from the % on; moves *format behind them. */
static bool read_conversion(struct call *c, const char **format, struct conversion *v) {
    const char *f = *format;
    *v = (struct conversion){ .n = 0 };
    v->spec[v->n++] = *f++;
    for (; *f && strchr("-+ #0123456789.*", *f) && v->n < 40; f++) {
        if (*f == '*') {
            if (v->starred) break;
            if (!argument(c, 4, &v->star)) return false;
            v->star = v->star > WIDEST ? WIDEST : v->star < -WIDEST ? -WIDEST : v->star;
            v->starred = true;
        } else if (*f >= '1' && *f <= '9') {
            unsigned number = 0;
            for (; *f >= '0' && *f <= '9'; f++) number = number > WIDEST ? number : 10 * number + (unsigned)(*f - '0');
            v->n += (size_t)sprintf(v->spec + v->n, "%u", number > WIDEST ? WIDEST : number);
            f--;
            continue;
        }
        v->spec[v->n++] = *f;
    }
    for (; *f && strchr("hlLqjzt", *f); f++) v->wide |= *f != 'h';
    *format = f;
    return true;
}

/* The argument of a conversion, as the host's printf writes it. */
static bool print(struct call *c, struct conversion *v, char letter) {
    char piece[WIDEST + 1];
    struct text string = { NULL, 0, 0 };
    uint64_t bits = 0;
    double number;
    int len;
    const bool integer = strchr("diouxX", letter) != NULL, wide = integer ? v->wide : letter != 'c';
    if (!argument(c, wide ? 8 : 4, &bits)) return false;
    const bool plain = v->n == 1;
    if (integer && wide) {
        v->spec[v->n++] = 'l';
        v->spec[v->n++] = 'l';
    }
    v->spec[v->n] = letter;
    memcpy(&number, &bits, 8);
#define FORMAT(value) \
    (v->starred ? snprintf(piece, sizeof piece, v->spec, v->star, value) \
                : snprintf(piece, sizeof piece, v->spec, value))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (letter == 's') {
        if (!bits) put(&string, "(null)", 7);
        else if (!fetch(c, bits, &string)) {
            free(string.s);
            return false;
        }
        len = FORMAT(string.s);
    } else if (letter == 'p') len = FORMAT((void *)(uintptr_t)bits);
    else if (strchr("eEfFgGaA", letter)) len = FORMAT(number);
    else len = wide ? FORMAT((unsigned long long)bits) : FORMAT((unsigned)bits);
#pragma GCC diagnostic pop
    if (letter == 's' && plain) put(&c->out, string.s, string.n - 1);        /* of any length */
    else if (len > 0) put(&c->out, piece, (size_t)len < sizeof piece ? (size_t)len : sizeof piece - 1);
    free(string.s);
    return true;
}

/* One conversion, from the % to its letter. */
static bool convert(struct call *c, const char **format) {
    struct conversion v;
    const char *start = *format, *end = start + 1 + strspn(start + 1, "-+ #0123456789.*hlLqjzt");
    const char *star_precision = strstr(start, ".*");
    if (star_precision && star_precision < end) {          /* a GPU prints it unchanged and consumes no argument */
        if (*end) end++;
        put(&c->out, start, (size_t)(end - start));
        *format = end;
        return true;
    }
    if (!read_conversion(c, format, &v)) return false;
    const char letter = **format;
    if (letter) ++*format;
    if (letter && strchr("diouxXceEfFgGaAps", letter)) return print(c, &v, letter);
    if (letter != '%') put(&c->out, v.spec, v.n);          /* not a conversion: unchanged */
    if (letter) put(&c->out, &letter, 1);
    return true;
}

int sim_vprintf(struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t format, uint64_t args) {
    struct call c = { .w = w, .i = i, .lane = lane, .args = args };
    struct text source = { NULL, 0, 0 };
    bool ok = fetch(&c, format, &source);
    for (const char *f = source.s; ok && *f;) {
        const size_t plain = strcspn(f, "%");
        put(&c.out, f, plain);
        f += plain;
        if (*f) ok = convert(&c, &f);
    }
    if (ok && c.out.n) sim_print(c.out.s, c.out.n);
    free(source.s);
    free(c.out.s);
    return ok ? c.count : -1;
}

/* __assertfail(message, file, line, function, size of a character) */
void sim_assertfail(struct sim_warp *w, const struct sim_insn *i, int lane, const uint64_t arg[5]) {
    const struct call c = { .w = w, .i = i, .lane = lane };
    struct text s[3] = { { NULL, 0, 0 } };
    const uint64_t a[3] = { arg[0], arg[1], arg[3] };
    bool ok = true;
    for (int k = 0; k < 3 && ok; k++) ok = fetch(&c, a[k], &s[k]);
    if (ok) {
        const struct sim_block *b = w->block;
        uint32_t t[3];
        sim_thread_of(w, lane, t);
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", s[1].s,
                (unsigned)arg[2], s[2].s, b->ctaid[0], b->ctaid[1], b->ctaid[2], t[0], t[1], t[2], s[0].s);
        sim_fault_at(w, i, lane, SIM_F_ASSERT, "assertion `%.100s` failed", s[0].s);
    }
    for (int k = 0; k < 3; k++) free(s[k].s);
}
