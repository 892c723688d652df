/* image.c - the table of texture and surface objects. Kernels look handles up without a lock, so a
   part of the table never moves, and an entry is one pointer for each kind. A handle is the number
   of its entry. As measured: both kinds share the numbers, from 1; a new object gets the lowest one
   that is free, also that of one which was destroyed; a lookup uses the low 32 bits. */
#include "image.h"

enum { PART = 1024, PARTS = 1024 };
struct entry {
    struct sim_texture *texture; /* both __atomic; one at most is not NULL */
    struct sim_surface *surface;
};
static struct entry *parts[PARTS]; /* __atomic */
static uint32_t lowest = 1;        /* all numbers below it are used */

static struct entry *entry_of(uint64_t handle) {
    const uint32_t i = (uint32_t)handle - 1;
    struct entry *part = i < PART * PARTS ? __atomic_load_n(&parts[i / PART], __ATOMIC_ACQUIRE)
                                          : NULL;
    return part ? &part[i % PART] : NULL;
}

/* NULL: no memory */
static struct entry *find_free(uint64_t *handle) {
    for (;; lowest++) {
        const uint32_t part = (lowest - 1) / PART;
        if (part >= PARTS) return NULL;
        if (!parts[part]) {
            void *more = calloc(PART, sizeof(struct entry));
            if (!more) return NULL;
            __atomic_store_n(&parts[part], more, __ATOMIC_RELEASE);
        }
        struct entry *entry = entry_of(lowest);
        *handle = lowest;
        if (entry && !entry->texture && !entry->surface) return entry;
    }
}
static void note_free(uint64_t handle) {
    if ((uint32_t)handle < lowest) lowest = (uint32_t)handle;
}

struct sim_texture *sim_texture_find(uint64_t handle) {
    const struct entry *entry = entry_of(handle);
    return entry ? __atomic_load_n(&entry->texture, __ATOMIC_ACQUIRE) : NULL;
}
struct sim_surface *sim_surface_find(uint64_t handle) {
    const struct entry *entry = entry_of(handle);
    return entry ? __atomic_load_n(&entry->surface, __ATOMIC_ACQUIRE) : NULL;
}

const struct sim_texture *sim_texture_at(uint64_t handle) {
    const struct sim_texture *t = sim_texture_find(handle);
    return t && !__atomic_load_n(&t->ended, __ATOMIC_ACQUIRE) ? t : NULL;
}
const struct sim_surface *sim_surface_at(uint64_t handle) {
    const struct sim_surface *s = sim_surface_find(handle);
    return s && !__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE) ? s : NULL;
}

bool sim_texture_add(struct sim_texture *t) {
    struct entry *entry = find_free(&t->handle);
    if (entry) __atomic_store_n(&entry->texture, t, __ATOMIC_RELEASE);
    return entry != NULL;
}
bool sim_surface_add(struct sim_surface *s) {
    struct entry *entry = find_free(&s->handle);
    if (entry) __atomic_store_n(&entry->surface, s, __ATOMIC_RELEASE);
    return entry != NULL;
}
void sim_texture_remove(struct sim_texture *t) {
    __atomic_store_n(&entry_of(t->handle)->texture, NULL, __ATOMIC_RELEASE);
    note_free(t->handle);
}
void sim_surface_remove(struct sim_surface *s) {
    __atomic_store_n(&entry_of(s->handle)->surface, NULL, __ATOMIC_RELEASE);
    note_free(s->handle);
}
