/* format.c - printf and assert of kernels: formats arguments from device memory with the host's
   printf, and queues the output.

   vprintf's arguments are packed in memory, each at its natural alignment:
   int and similar types 4 bytes; long, pointers and doubles 8. */
#include "execute.h"

enum {
    RECORD = 16,         /* bytes of a line's record in a GPU's buffer, without arguments */
    TEXT_OF_RECORD = 16, /* a line's text is this many times as long as it counts */
    TEXT_MOST = 1 << 20  /* a longer text is cut */
};

/* What kernels printed and no call has written yet, as lines of each device. A line counts as many
   bytes as its record takes in a GPU's buffer; if its text is much longer, that counts. When the
   bytes reach the buffer's size, as on an H200: a call that waits for work writes the lines;
   without one, the oldest make room. */
unsigned sim_print_readers;
struct line {
    struct line *next;
    uint64_t bytes;
    size_t n;
    char text[];
};
static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct line *oldest, *newest;
    uint64_t bytes;
} rings[SIM_MAX_DEVICES];

static void drop_oldest(unsigned device) {
    struct line *line = rings[device].oldest;
    if (!(rings[device].oldest = line->next)) rings[device].newest = NULL;
    rings[device].bytes -= line->bytes;
    free(line);
}

static void write_lines(void) {
    bool any = false;
    for (unsigned d = 0; d < SIM_MAX_DEVICES; d++)
        for (; rings[d].oldest; drop_oldest(d)) {
            fwrite(rings[d].oldest->text, 1, rings[d].oldest->n, stdout);
            any = true;
        }
    if (any) fflush(stdout);
}

static void print_line(const struct sim_grid *g, const char *text, size_t n, uint64_t record) {
    const unsigned device = (unsigned)g->device->ordinal;
    const uint64_t bytes = n / TEXT_OF_RECORD > record ? n / TEXT_OF_RECORD : record;
    struct line *line = bytes > g->print_bytes ? NULL : malloc(sizeof *line + n);
    if (!line) return;
    *line = (struct line){ .bytes = bytes, .n = n };
    memcpy(line->text, text, n);
    pthread_mutex_lock(&rings_lock);
    if (rings[device].bytes + bytes > g->print_bytes &&
            __atomic_load_n(&sim_print_readers, __ATOMIC_RELAXED))
        write_lines();
    while (rings[device].oldest && rings[device].bytes + bytes > g->print_bytes)
        drop_oldest(device);
    if (rings[device].newest) rings[device].newest->next = line;
    else rings[device].oldest = line;
    rings[device].newest = line;
    rings[device].bytes += bytes;
    pthread_mutex_unlock(&rings_lock);
}

void sim_print_flush(void) {
    pthread_mutex_lock(&rings_lock);
    write_lines();
    pthread_mutex_unlock(&rings_lock);
}

struct text {
    char *s;
    size_t n, cap;
    bool cut;
}; /* s: NULL or terminated */

/* Nothing is added once it is too long, or there is no memory. */
static void put(struct text *t, const char *s, size_t n) {
    if (n > TEXT_MOST - t->n) t->cut = true;
    if (!n || t->cut) return;
    if (!t->s || t->n + n >= t->cap) {
        t->cap = 2 * (t->n + n) + 256;
        char *p = realloc(t->s, t->cap);
        if (!p) {
            t->cut = true;
            return;
        }
        t->s = p;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

/* of one lane */
struct call {
    struct sim_warp *w;
    const struct sim_insn *i;
    int lane;
    uint64_t args; /* the next argument */
    int count;     /* of arguments so far */
    struct text out;
};

/* A NUL-terminated string in device memory; false: faulted. */
static bool fetch(const struct call *c, uint64_t a, struct text *out) {
    for (; !out->cut; a++) {
        const char *p = sim_at(c->w, c->i, c->lane, SIM_GENERIC, a, 1, "read of a string");
        if (!p) return false;
        if (!*p) break;
        put(out, p, 1);
    }
    return true;
}
static const char *string_of(const struct text *t) { return t->s ? t->s : ""; }

static bool argument(struct call *c, unsigned size, void *out) {
    c->args = (c->args + size - 1) / size * size;
    const void *p = sim_at(
            c->w, c->i, c->lane, SIM_GENERIC, c->args, size, "read of a printf argument");
    if (!p) return false;
    memcpy(out, p, size);
    c->args += size;
    c->count++;
    return true;
}

/* a longer conversion is cut; C's own would write blanks for minutes */
enum { WIDEST = 511 };
struct conversion {
    char spec[64]; /* for the host: % and flags, width, precision; then the letter */
    size_t n;
    bool wide; /* l, ll and other sizes of 8 bytes */
    bool starred;
    int star; /* the width of `*` */
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
            for (; *f >= '0' && *f <= '9'; f++)
                number = number > WIDEST ? number : 10 * number + (unsigned)(*f - '0');
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
    struct text string = { .s = NULL };
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
        if (!bits) put(&string, "(null)", 6);
        else if (!fetch(c, bits, &string)) {
            free(string.s);
            return false;
        }
        len = FORMAT(string_of(&string));
    } else if (letter == 'p') len = FORMAT((void *)(uintptr_t)bits);
    else if (strchr("eEfFgGaA", letter)) len = FORMAT(number);
    else len = wide ? FORMAT((unsigned long long)bits) : FORMAT((unsigned)bits);
#pragma GCC diagnostic pop
    if (letter == 's' && plain) put(&c->out, string_of(&string), string.n); /* of any length */
    else if (len > 0)
        put(&c->out, piece, (size_t)len < sizeof piece ? (size_t)len : sizeof piece - 1);
    free(string.s);
    return true;
}

/* One conversion, from the % to its letter. */
static bool convert(struct call *c, const char **format) {
    struct conversion v;
    const char *start = *format, *end = start + 1 + strspn(start + 1, "-+ #0123456789.*hlLqjzt");
    const char *dot = memchr(start, '.', (size_t)(end - start));
    while (dot && dot[1] != '*') dot = memchr(dot + 1, '.', (size_t)(end - dot - 1));
    if (dot) { /* a GPU prints it unchanged and consumes no argument */
        if (*end) end++;
        put(&c->out, start, (size_t)(end - start));
        *format = end;
        return true;
    }
    if (!read_conversion(c, format, &v)) return false;
    const char letter = **format;
    if (letter) ++*format;
    if (letter && strchr("diouxXceEfFgGaAps", letter)) return print(c, &v, letter);
    if (letter != '%') put(&c->out, v.spec, v.n); /* not a conversion: unchanged */
    if (letter) put(&c->out, &letter, 1);
    return true;
}

int sim_vprintf(
        struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t format, uint64_t args) {
    struct call c = { .w = w, .i = i, .lane = lane, .args = args };
    struct text source = { .s = NULL };
    bool ok = fetch(&c, format, &source);
    for (const char *f = string_of(&source); ok && *f && !c.out.cut;) {
        const size_t plain = strcspn(f, "%");
        put(&c.out, f, plain);
        f += plain;
        if (*f) ok = convert(&c, &f);
    }
    if (ok && c.out.n) print_line(w->block->grid, c.out.s, c.out.n, RECORD + 8 * (uint64_t)c.count);
    free(source.s);
    free(c.out.s);
    return ok ? c.count : -1;
}

/* __assertfail(message, file, line, function, size of a character) */
void sim_assertfail(struct sim_warp *w, const struct sim_insn *i, int lane, const uint64_t arg[5]) {
    const struct call c = { .w = w, .i = i, .lane = lane };
    struct text s[3] = { { .s = NULL } };
    const uint64_t a[3] = { arg[0], arg[1], arg[3] };
    bool ok = true;
    for (int k = 0; k < 3 && ok; k++) ok = fetch(&c, a[k], &s[k]);
    if (ok) {
        const struct sim_block *b = w->block;
        uint32_t t[3];
        sim_thread_of(w, lane, t);
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                string_of(&s[1]), (unsigned)arg[2], string_of(&s[2]), b->ctaid[0], b->ctaid[1],
                b->ctaid[2], t[0], t[1], t[2], string_of(&s[0]));
        sim_fault_at(w, i, lane, SIM_F_ASSERT, "assertion `%.100s` failed", string_of(&s[0]));
    }
    for (int k = 0; k < 3; k++) free(s[k].s);
}
