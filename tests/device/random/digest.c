/* digest.c - digests of the slots' contents, and the file HASHES: a line for each program, with its
   number and the digests of its exact slots. */
#include "random.h"

enum { DIGEST = 3 }; /* characters of 6 bits */

bool rnd_is_hashed(const struct rnd_slot *s) { return s->size && s->check == RND_EXACT; }

static void digest(const struct rnd_program *p, const struct rnd_slot *s,
        const unsigned char *output, char text[DIGEST + 1]) {
    static const char letters[] =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-";
    const unsigned char *at = output + s->offset;
    const size_t bytes = (size_t)s->size * p->threads;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < 8 ? bytes - i : 8);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 32;
    }
    h ^= h >> 18 ^ h >> 36;
    for (int i = 0; i < DIGEST; i++, h >>= 6) text[i] = letters[h & 63];
    text[DIGEST] = 0;
}

void rnd_print_hashes(
        const struct rnd_program *p, const unsigned char *output, const char *before) {
    char d[DIGEST + 1];
    printf("%s%u ", before, p->number);
    for (unsigned k = 0; k < p->nslots; k++)
        if (rnd_is_hashed(&p->slot[k])) {
            digest(p, &p->slot[k], output, d);
            fputs(d, stdout);
        }
    putchar('\n');
}

static char *expected[RND_PROGRAMS]; /* the lines by program number; NULL: no line */

bool rnd_read_hashes(const char *path) {
    static char line[16 + DIGEST * RND_MAX_SLOTS];
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("cannot read %s\n", path);
        return false;
    }
    while (fgets(line, sizeof line, f)) {
        char *text;
        const unsigned long n = strtoul(line, &text, 10);
        if (text == line || n >= RND_PROGRAMS) continue;
        text += *text == ' ';
        text[strcspn(text, "\n")] = 0;
        if (!(expected[n] = malloc(strlen(text) + 1))) abort();
        strcpy(expected[n], text);
    }
    fclose(f);
    return true;
}

/* The number of slots that differ from HASHES, all if it has no line for this program; and which
   ones. */
unsigned rnd_compare(
        const struct rnd_program *p, const unsigned char *output, bool differs[RND_MAX_SLOTS]) {
    const char *want = expected[p->number] ? expected[p->number] : "";
    char d[DIGEST + 1];
    unsigned n = 0;
    for (unsigned k = 0; k < p->nslots; k++) {
        differs[k] = false;
        if (!rnd_is_hashed(&p->slot[k])) continue;
        digest(p, &p->slot[k], output, d);
        n += differs[k] = strncmp(want, d, DIGEST) != 0;
        want += strlen(want) < DIGEST ? strlen(want) : DIGEST;
    }
    return n;
}

/* Whether a difference follows from one in an operand, or, in a program of statements, in any
   earlier slot. */
bool rnd_follows(const struct rnd_program *p, const bool differs[RND_MAX_SLOTS], unsigned k) {
    const struct rnd_slot *s = &p->slot[k];
    if (p->number >= RND_STRAIGHT)
        for (unsigned i = 0; i < k; i++)
            if (differs[i]) return true;
    for (unsigned i = 0; i < s->nsources; i++)
        if (s->source[i].kind == 's' && differs[s->source[i].index]) return true;
    return false;
}
