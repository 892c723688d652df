/* kept.c - what graphs keep beside their nodes: user objects, until the graph, the executable
   graphs made of it and their launches have ended; and the values that decide what conditional
   nodes execute. The entry points are in driver/cuUserObject.c. */
#include "objects.h"

/* ---- user objects: the function that frees one runs on the thread of host functions ---- */

static void run_destroy(void *object, int error) {
    const struct sim_object *o = object;
    (void)error;
    o->destroy(o->data);
}
static void free_object(struct sim_op *op) { free(op->data); }

struct sim_object *sim_object_new(void *data, void (*destroy)(void *), uint64_t count) {
    struct sim_object *o = calloc(1, sizeof *o);
    if (!o || !(o->handle = sim_handle_new(SIM_H_OBJECT, o))) {
        free(o);
        return NULL;
    }
    o->refs = count;
    o->destroy = destroy;
    o->data = data;
    return o;
}

void sim_object_unref(struct sim_object *o, uint64_t count) {
    if ((o->refs -= count)) return;
    sim_handle_drop(o->handle);
    struct sim_op *op = sim_op_new(SIM_OP_HOST);
    if (!op) return; /* no memory: the object stays */
    op->function = run_destroy;
    op->data = o;
    op->always = true;
    op->release = free_object;
    sim_op_submit(op);
    sim_op_want(op);
    sim_op_unref(op);
}

bool sim_object_hold(struct sim_held **list, struct sim_object *o, uint64_t count) {
    struct sim_held *h = *list;
    while (h && h->object != o) h = h->next;
    if (!h && (h = calloc(1, sizeof *h))) {
        h->object = o;
        h->next = *list;
        *list = h;
    }
    if (h) h->count += count;
    return h != NULL;
}

void sim_object_let_go(struct sim_held **at, struct sim_object *o, uint64_t count) {
    struct sim_held *h;
    while (*at && (*at)->object != o) at = &(*at)->next;
    if (!(h = *at) || h->count < count) return; /* and nothing changes, as measured */
    if (!(h->count -= count)) {
        *at = h->next;
        free(h);
    }
    sim_object_unref(o, count);
}

bool sim_held_copy(struct sim_held **list, const struct sim_held *from) {
    for (; from; from = from->next) {
        if (!sim_object_hold(list, from->object, from->count)) return false;
        from->object->refs += from->count;
    }
    return true;
}

void sim_held_free(struct sim_held *list) {
    for (struct sim_held *next; list; list = next) {
        next = list->next;
        sim_object_unref(list->object, list->count);
        free(list);
    }
}

static void release(struct sim_op *op) { sim_held_free(op->data); }

void sim_held_free_after(struct sim_held *list, struct sim_op *op) {
    struct sim_op *marker = list && op && !op->done ? sim_op_new(SIM_OP_MARKER) : NULL;
    if (!marker) {
        sim_held_free(list);
        return;
    }
    marker->data = list;
    marker->release = release;
    sim_op_after(marker, op);
    sim_op_submit(marker);
    sim_op_unref(marker);
}

/* ---- conditions: a word in the memory of a context, whose device address is the handle. Kernels
   set it through the device runtime (devrt.c). ---- */

enum { WORD = SIM_CONDITION_BYTES, UNDEFINED = 0x3dcdcdcd };

int sim_condition_new(struct sim_graph *g, struct sim_context *c, unsigned value, bool assigns,
        uint64_t *handle) {
    struct sim_condition *new = calloc(1, sizeof *new);
    if (!new || sim_mem_alloc(c->device, c, SIM_CONDITION_BYTES, SIM_MEM_MODULE, &new->address)) {
        free(new);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    new->refs = 1;
    new->context = c;
    new->context_id = c->id;
    new->value = value;
    new->assigns = assigns;
    new->next = g->conditions;
    g->conditions = new;
    *handle = new->address;
    return CUDA_SUCCESS;
}

void sim_condition_unref(struct sim_condition *c) {
    if (--c->refs) return;
    if (c->context->active && c->context->id == c->context_id) sim_mem_remove(c->address);
    free(c);
}

static void move_word(const struct sim_condition *c, unsigned *value, bool write) {
    struct sim_range r;
    sim_mem_use();
    if (sim_mem_find(NULL, c->address, WORD, &r)) {
        unsigned *word = (unsigned *)(void *)((char *)(uintptr_t)c->address + r.delta);
        if (write) __atomic_store_n(word, *value, __ATOMIC_RELEASE);
        else *value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    }
    sim_mem_unuse();
}

unsigned sim_condition_value(const struct sim_condition *c) {
    unsigned value = 0;
    move_word(c, &value, false);
    return value;
}

/* Without a default, the value is undefined when a launch begins, as documented. */
void sim_condition_reset(const struct sim_condition *c) {
    unsigned value = c->assigns ? c->value : UNDEFINED;
    move_word(c, &value, true);
}
