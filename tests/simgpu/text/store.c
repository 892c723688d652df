/* store.c - memory: the store, which is valid as long as the image; arrays that grow during a
   parse; names, of which each distinct text exists once. */
#include "ptx.h"

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

static struct px_name *find(const struct px_store *s, unsigned hash, const char *text, size_t n) {
    struct px_name *e = s->table[hash & s->mask];
    while (e && (e->hash != hash || e->len != n || memcmp(e->text, text, n))) e = e->next;
    return e;
}

struct px_name *px_find_name(const struct px_store *s, const char *text, size_t n) {
    return find(s, hash_text(text, n), text, n);
}

static void enlarge_table(struct px *px) {
    struct px_store *s = px->store;
    const unsigned mask = s->mask * 2 + 1;
    struct px_name **table = calloc((size_t)mask + 1, sizeof *table);
    if (!table) px_no_memory(px);
    for (unsigned i = 0; i <= s->mask; i++)
        for (struct px_name *e = s->table[i], *next; e; e = next) {
            next = e->next;
            e->next = table[e->hash & mask];
            table[e->hash & mask] = e;
        }
    free(s->table);
    s->table = table;
    s->mask = mask;
}

struct px_name *px_intern(struct px *px, const char *text, size_t n) {
    struct px_store *s = px->store;
    unsigned h = hash_text(text, n);
    struct px_name *e = find(s, h, text, n);
    if (e) return e;
    if (s->count > s->mask) enlarge_table(px);
    e = px_alloc(px, sizeof *e);
    e->text = px_strndup(px, text, n);
    e->len = (unsigned)n;
    e->hash = h;
    e->next = s->table[h & s->mask];
    s->table[h & s->mask] = e;
    s->count++;
    return e;
}
