/* image.c - the tables of texture and surface objects. Kernels look handles up without a lock, so a
   part of a table never moves, and an entry is one pointer. A handle is the number of its entry,
   from 1, and above it how often the entry was used before: one that has ended stays unknown. */
#include "image.h"

enum { PART = 1024, PARTS = 1024, NUMBER_BITS = 32 };
struct entry {
    void *object; /* __atomic; NULL: it is free */
    uint32_t uses, next_free;
};
struct table {
    struct entry *parts[PARTS]; /* __atomic */
    uint32_t count, free;       /* free: the number of the entry that was freed last, or 0 */
};
static struct table textures, surfaces;

static struct entry *entry_of(const struct table *table, uint32_t number) {
    const uint32_t i = number - 1;
    struct entry *part = i < PART * PARTS
            ? __atomic_load_n(&table->parts[i / PART], __ATOMIC_ACQUIRE)
            : NULL;
    return part ? &part[i % PART] : NULL;
}

static void *object_of(const struct table *table, uint64_t handle) {
    const struct entry *entry = entry_of(table, (uint32_t)handle);
    return entry ? __atomic_load_n(&entry->object, __ATOMIC_ACQUIRE) : NULL;
}

/* The handle comes first: a kernel may find the object at once. */
static bool add(struct table *table, uint64_t *handle, void *object) {
    uint32_t number = table->free;
    if (!number) {
        const uint32_t part = table->count / PART;
        if (part >= PARTS) return false;
        if (!table->parts[part]) {
            void *more = calloc(PART, sizeof(struct entry));
            if (!more) return false;
            __atomic_store_n(&table->parts[part], more, __ATOMIC_RELEASE);
        }
        number = ++table->count;
    }
    struct entry *entry = entry_of(table, number);
    table->free = table->free ? entry->next_free : 0;
    *handle = (uint64_t)entry->uses++ << NUMBER_BITS | number;
    __atomic_store_n(&entry->object, object, __ATOMIC_RELEASE);
    return true;
}

static void take_out(struct table *table, uint64_t handle) {
    struct entry *entry = entry_of(table, (uint32_t)handle);
    __atomic_store_n(&entry->object, NULL, __ATOMIC_RELEASE);
    entry->next_free = table->free;
    table->free = (uint32_t)handle;
}

struct sim_texture *sim_texture_find(uint64_t handle) {
    struct sim_texture *t = object_of(&textures, handle);
    return t && t->handle == handle ? t : NULL;
}
struct sim_surface *sim_surface_find(uint64_t handle) {
    struct sim_surface *s = object_of(&surfaces, handle);
    return s && s->handle == handle ? s : NULL;
}

const struct sim_texture *sim_texture_at(uint64_t handle) {
    const struct sim_texture *t = sim_texture_find(handle);
    return t && !__atomic_load_n(&t->ended, __ATOMIC_ACQUIRE) ? t : NULL;
}
const struct sim_surface *sim_surface_at(uint64_t handle) {
    const struct sim_surface *s = sim_surface_find(handle);
    return s && !__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE) ? s : NULL;
}

bool sim_texture_add(struct sim_texture *t) { return add(&textures, &t->handle, t); }
bool sim_surface_add(struct sim_surface *s) { return add(&surfaces, &s->handle, s); }
void sim_texture_remove(struct sim_texture *t) { take_out(&textures, t->handle); }
void sim_surface_remove(struct sim_surface *s) { take_out(&surfaces, s->handle); }
