/* handles.c - the ground of objects/: handles of live objects, rings of objects, and the calling
   thread with its current context. */
#include "objects.h"

__thread struct sim_thread sim_self;

uint64_t sim_thread_id(void) {
    static uint64_t last;
    if (!sim_self.id) sim_self.id = ++last;
    return sim_self.id;
}

/* ---- handles: generation << 32 | slot << SIM_KIND_BITS | kind. A slot's generation increases with
   each use, so a stale handle stays stale. ---- */

static struct slot {
    void *object;
    uint32_t generation, orphan;
    enum sim_handle_kind kind;
    uint32_t next_free;
} * slots;
static uint32_t nslots, free_slot; /* free_slot: index + 1, or 0 */

uint64_t sim_handle_new(enum sim_handle_kind kind, void *object) {
    if (!free_slot) {
        uint32_t more = nslots ? nslots : 64;
        struct slot *bigger = realloc(slots, (nslots + more) * sizeof *bigger);
        if (!bigger) return 0;
        slots = bigger;
        memset(slots + nslots, 0, more * sizeof *slots);
        for (uint32_t i = nslots + more; i-- > nslots; free_slot = i + 1)
            slots[i].next_free = free_slot;
        nslots += more;
    }
    struct slot *slot = &slots[free_slot - 1];
    uint64_t index = free_slot - 1;
    free_slot = slot->next_free;
    slot->object = object;
    slot->kind = kind;
    return (uint64_t)++slot->generation << 32 | index << SIM_KIND_BITS | kind;
}

static struct slot *slot_of(uint64_t handle) {
    uint32_t index = (uint32_t)handle >> SIM_KIND_BITS;
    struct slot *slot = index < nslots ? &slots[index] : NULL;
    return slot && slot->object && slot->generation == handle >> 32 &&
                    slot->kind == (handle & SIM_KIND_MASK)
            ? slot
            : NULL;
}

void sim_handle_drop(uint64_t handle) {
    struct slot *slot = slot_of(handle);
    if (!slot) return;
    slot->object = NULL;
    slot->next_free = free_slot;
    free_slot = (uint32_t)(slot - slots) + 1;
}

void sim_handle_orphan(uint64_t handle) {
    struct slot *slot = slot_of(handle);
    if (slot) slot->orphan = slot->generation;
    sim_handle_drop(handle);
}

int sim_not_there(const void *handle) {
    uint64_t h = (uint64_t)(uintptr_t)handle;
    uint32_t index = (uint32_t)h >> SIM_KIND_BITS;
    return index < nslots && h >> 32 && slots[index].orphan == h >> 32
            ? CUDA_ERROR_CONTEXT_IS_DESTROYED
            : CUDA_ERROR_INVALID_HANDLE;
}

void *sim_find(enum sim_handle_kind kind, const void *handle) {
    struct slot *slot = slot_of((uint64_t)(uintptr_t)handle);
    return slot && slot->kind == kind ? slot->object : NULL;
}

/* The first one of a call; sim_leave() reports it. */
void sim_note_dead(enum sim_handle_kind kind, const void *handle) {
    /* NULL, special streams */
    if (!sim_settings.strict || sim_self.dead || (uintptr_t)handle <= 2) return;
    sim_self.dead = handle;
    sim_self.dead_kind = kind;
}

void *sim_get(enum sim_handle_kind kind, const void *handle) {
    void *object = sim_find(kind, handle);
    if (!object) sim_note_dead(kind, handle);
    return object;
}

bool sim_was(enum sim_handle_kind kind, const void *handle) {
    const uint64_t h = (uint64_t)(uintptr_t)handle;
    const uint32_t index = (uint32_t)h >> SIM_KIND_BITS;
    return index < nslots && h >> 32 && h >> 32 <= slots[index].generation &&
            (h & SIM_KIND_MASK) == kind;
}

void sim_link_init(struct sim_link *head) { head->prev = head->next = head; }
void sim_link_add(struct sim_link *head, struct sim_link *link, void (*end)(struct sim_link *)) {
    link->end = end;
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

void sim_link_remove(struct sim_link *link) {
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

/* ---- the current context ---- */

struct sim_green *sim_green_at(const void *handle) {
    return sim_find(SIM_H_GREEN, handle);
}
struct sim_green *sim_green_current(void) {
    return sim_self.depth ? sim_green_at(SIM_HANDLE(sim_self.stack[sim_self.depth - 1])) : NULL;
}

/* A green one that was converted is the primary context. */
static struct sim_context *context_of(const void *handle) {
    const struct sim_green *g = sim_green_at(handle);
    if (g) return g->converted ? g->context : NULL;
    return sim_find(SIM_H_CONTEXT, handle);
}

struct sim_context *sim_context_at(const void *handle) { /* any that is usable now */
    struct sim_context *c = context_of(handle);
    if (c && c->active) return c;
    /* a primary one stays where it is */
    if (!c || !c->is_primary) sim_note_dead(SIM_H_CONTEXT, handle);
    return NULL;
}

bool sim_context_still(const struct sim_context *c, const void *handle) {
    return c && sim_find(SIM_H_CONTEXT, handle) == c && c->active;
}

struct sim_context *sim_context_or_dead(void) {
    return sim_self.depth ? context_of(SIM_HANDLE(sim_self.stack[sim_self.depth - 1])) : NULL;
}

struct sim_context *sim_context_current(void) {
    struct sim_context *c = sim_context_or_dead();
    return c && c->active ? c : NULL;
}

int sim_context_need(void) {
    sim_self.context = sim_context_current();
    return sim_self.context  ? CUDA_SUCCESS
            : sim_self.depth ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                             : CUDA_ERROR_INVALID_CONTEXT;
}
