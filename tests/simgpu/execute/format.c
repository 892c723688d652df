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

/* A NUL-terminated string in device memory, terminator included; false: faulted. */
static bool fetch(struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t a, struct text *out) {
    for (;; a++) {
        const char *p = sim_at(w, i, lane, SIM_GENERIC, a, 1, "read of a string");
        if (!p) return false;
        put(out, p, 1);
        if (!*p) return true;
    }
}

static bool argument(struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t *args, unsigned size, void *out) {
    *args = (*args + size - 1) / size * size;
    const void *p = sim_at(w, i, lane, SIM_GENERIC, *args, size, "read of a printf argument");
    if (!p) return false;
    memcpy(out, p, size);
    *args += size;
    return true;
}

/* One conversion, from the % to its letter. */
static bool convert(struct sim_warp *w, const struct sim_insn *i, int lane, const char **format, uint64_t *args,
                    int *count, struct text *out) {
    enum { WIDEST = 511 };                       /* a longer conversion is cut; C's
                                                    own would write blanks for minutes */
    char spec[64], piece[WIDEST + 1];
    size_t n = 0;
    const char *f = *format;
    bool wide = false;
    int star = 0;
    bool starred = false;
    const char *star_precision = strstr(f, ".*"), *end = f + 1 + strspn(f + 1, "-+ #0123456789.*hlLqjzt");
    if (star_precision && star_precision < end) {                 /* a GPU prints it unchanged
                                                                     and consumes no argument */
        if (*end) end++;
        put(out, f, (size_t)(end - f));
        *format = end;
        return true;
    }
    spec[n++] = *f++;
    for (; *f && strchr("-+ #0123456789.*", *f) && n < 40; f++) {
        if (*f == '*') {
            if (starred) break;
            if (!argument(w, i, lane, args, 4, &star)) return false;
            star = star > WIDEST ? WIDEST : star < -WIDEST ? -WIDEST : star;
            starred = true;
            ++*count;
        } else if (*f >= '1' && *f <= '9') {
            unsigned number = 0;
            for (; *f >= '0' && *f <= '9'; f++) number = number > WIDEST ? number : 10 * number + (unsigned)(*f - '0');
            n += (size_t)sprintf(spec + n, "%u", number > WIDEST ? WIDEST : number);
            f--;
            continue;
        }
        spec[n++] = *f;
    }
    for (; *f && strchr("hlLqjzt", *f); f++) if (strchr("lLqjzt", *f)) wide = true;
    const char letter = *f;
    *format = letter ? f + 1 : f;
    struct text string = { NULL, 0, 0 };
    int len = 0;
    const char *result = piece;
#define FORMAT(value) \
    (starred ? snprintf(piece, sizeof piece, spec, star, value) : snprintf(piece, sizeof piece, spec, value))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (letter && strchr("diouxXc", letter)) {
        uint64_t v = 0;
        if (letter == 'c') wide = false;
        if (!argument(w, i, lane, args, wide ? 8 : 4, &v)) return false;
        if (wide) {
            spec[n++] = 'l';
            spec[n++] = 'l';
        }
        spec[n++] = letter;
        spec[n] = 0;
        len = wide ? FORMAT((unsigned long long)v) : FORMAT((unsigned)v);
    } else if (letter && strchr("eEfFgGaA", letter)) {
        double v = 0;
        if (!argument(w, i, lane, args, 8, &v)) return false;
        spec[n++] = letter;
        spec[n] = 0;
        len = FORMAT(v);
    } else if (letter == 'p') {
        uint64_t v = 0;
        if (!argument(w, i, lane, args, 8, &v)) return false;
        spec[n++] = 'p';
        spec[n] = 0;
        len = FORMAT((void *)(uintptr_t)v);
    } else if (letter == 's') {
        uint64_t v = 0;
        if (!argument(w, i, lane, args, 8, &v)) return false;
        if (!v) put(&string, "(null)", 7);
        else if (!fetch(w, i, lane, v, &string)) {
            free(string.s);
            return false;
        }
        spec[n++] = 's';
        spec[n] = 0;
        if (n == 2) {
            result = string.s;
            len = (int)string.n - 1;
        }
        else len = FORMAT(string.s);
    } else {                                                   /* %% and anything that is not a conversion: unchanged */
        if (letter != '%') put(out, spec, n);
        if (letter) put(out, &letter, 1);
        return true;
    }
#pragma GCC diagnostic pop
    if (result == piece && len >= (int)sizeof piece) len = (int)sizeof piece - 1;
    if (len > 0) put(out, result, (size_t)len);
    free(string.s);
    ++*count;
    return true;
}

int sim_vprintf(struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t format, uint64_t args) {
    struct text source = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    int count = 0;
    bool ok = fetch(w, i, lane, format, &source);
    for (const char *f = source.s; ok && *f;) {
        const char *end = strchr(f, '%');
        const size_t plain = end ? (size_t)(end - f) : strlen(f);
        put(&out, f, plain);
        f += plain;
        if (*f) ok = convert(w, i, lane, &f, &args, &count, &out);
    }
    if (ok && out.n) sim_print(out.s, out.n);
    free(source.s);
    free(out.s);
    return ok ? count : -1;
}

/* __assertfail(message, file, line, function, size of a character) */
void sim_assertfail(struct sim_warp *w, const struct sim_insn *i, int lane, const uint64_t arg[5]) {
    struct text s[3] = { { NULL, 0, 0 } };
    const uint64_t a[3] = { arg[0], arg[1], arg[3] };
    bool ok = true;
    for (int k = 0; k < 3 && ok; k++) ok = fetch(w, i, lane, a[k], &s[k]);
    if (ok) {
        const struct sim_block *b = w->block;
        const uint32_t t = 32 * w->index + (uint32_t)lane, *n = b->grid->block;
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", s[1].s,
                (unsigned)arg[2], s[2].s, b->ctaid[0], b->ctaid[1], b->ctaid[2], t % n[0], t / n[0] % n[1],
                t / n[0] / n[1], s[0].s);
        sim_fault_at(w, i, lane, SIM_F_ASSERT, "assertion `%.100s` failed", s[0].s);
    }
    for (int k = 0; k < 3; k++) free(s[k].s);
}
