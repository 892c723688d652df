/* context.c - created and primary contexts, the context stack of every host thread, peer access.

   A stack holds handles, not objects, so that a context destroyed by another thread stays current
   and returns 709. The primary context is one object per device for the whole process, active or
   not, with one handle, as measured: the handle is stale while the context is inactive and valid
   again after the next retain. The record of any other context remains when it is destroyed: a
   thread that has it current may still query its device and its flags. After a thousand more it
   becomes that of a new context, with another handle and number. */
#include "objects.h"
#include <sched.h>

static uint64_t next_id = 1;
struct sim_link sim_contexts = { &sim_contexts, &sim_contexts, NULL };

int sim_context_not_there(const void *handle) {
    return sim_find(SIM_H_CONTEXT, handle) ||
                    sim_not_there(handle) == CUDA_ERROR_CONTEXT_IS_DESTROYED
            ? CUDA_ERROR_CONTEXT_IS_DESTROYED
            : CUDA_ERROR_INVALID_CONTEXT;
}

static void activate(struct sim_context *c, unsigned flags) {
    const uint64_t limits[8] = { 1024, 0x840000, 8 << 20, 0, 2048, 64, 0,
        sim_settings.capability->block_shared };
    memcpy(c->limits, limits, sizeof limits);
    c->id = next_id++;
    c->flags = c->is_primary ? flags | CU_CTX_MAP_HOST : flags;
    c->active = true;
    c->count = 1;
    c->api_version = 3020;
    c->npeers = 0;
    c->has_printed = false;
    c->workspaces = NULL;
    c->buffers = NULL;
    c->nested_waiting = c->nested_events = 0;
    c->error_texts = 0;
    c->heap = 0;
    c->cache_config = c->shared_config = 0;
    sim_link_add(&sim_contexts, &c->link, NULL);
    sim_link_init(&c->streams);
    sim_link_init(&c->children);
    sim_link_init(&c->greens);
    c->legacy = (struct sim_stream){ .context = c, .id = next_id++ };
}

/* Destroyed contexts, the oldest first. What remembers one also remembers its number. */
enum { MOST_DEAD = 1000 };
static struct sim_link dead = { &dead, &dead, NULL };
static unsigned ndead;

static struct sim_context *new_record(void) {
    if (ndead <= MOST_DEAD) return calloc(1, sizeof(struct sim_context));
    struct sim_context *c = SIM_OWNER(sim_context, dead.next);
    sim_link_remove(&c->link);
    ndead--;
    sim_handle_orphan(c->handle);
    memset(c, 0, sizeof *c);
    return c;
}

/* A new primary context is inactive. */
struct sim_context *sim_context_new(struct sim_device *device, bool primary, unsigned flags) {
    struct sim_context *c = new_record();
    if (!c || !(c->handle = sim_handle_new(SIM_H_CONTEXT, c))) {
        free(c);
        return NULL;
    }
    c->device = device;
    c->is_primary = primary;
    if (!primary) activate(c, flags);
    return c;
}

static struct sim_peer *peer_of(struct sim_context *me, const struct sim_context *other) {
    for (unsigned i = 0; i < me->npeers; i++)
        if (me->peers[i].id == other->id) return &me->peers[i];
    return NULL;
}
static void remove_peer(struct sim_context *me, struct sim_peer *peer) {
    *peer = me->peers[--me->npeers];
}

bool sim_context_reaches(struct sim_context *c, const struct sim_range *r) {
    if (r->kind == SIM_MEM_MAPPED) return r->viewers >> c->device->ordinal & 1;
    if (r->device == c->device || (!r->delta && (r->kind != SIM_MEM_POOL || r->device)))
        return true;
    return r->context ? peer_of(c, r->context) != NULL : r->viewers >> c->device->ordinal & 1;
}

/* Kernels of a device may access every peer that any of its contexts enabled. */
static void update_peers(struct sim_device *device) {
    unsigned peers = device->opened;
    SIM_EACH(sim_context, c, &sim_contexts)
    for (unsigned i = 0; c->device == device && i < c->npeers; i++)
        peers |= 1u << c->peers[i].ordinal;
    __atomic_store_n(&device->peers, peers, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
}

/* ---- its end ---- */

static void after_context(struct sim_op *op, struct sim_context *c) {
    sim_op_after(op, c->legacy.last);
    SIM_EACH(sim_green, g, &c->greens) sim_op_after(op, g->legacy.last);
    SIM_EACH(sim_stream, s, &c->streams) sim_op_after(op, s->last);
    for (int i = 0; i < 2; i++) sim_op_after(op, c->orphans[i]);
}

/* Work of destroyed streams is not listed by green contexts: it counts for each of them. */
static void after_green(struct sim_op *op, const struct sim_green *g) {
    sim_op_after(op, g->legacy.last);
    SIM_EACH(sim_stream, s, &g->context->streams) if (s->green == g) sim_op_after(op, s->last);
    for (int i = 0; i < 2; i++) sim_op_after(op, g->context->orphans[i]);
}

struct sim_op *sim_context_marker(struct sim_context *c, const struct sim_green *g) {
    struct sim_op *op = sim_op_new(SIM_OP_EVENT);
    if (op && g) after_green(op, g);
    else if (op) after_context(op, c);
    return op;
}

int sim_drain_green(const struct sim_green *g) {
    struct sim_op *all = sim_context_marker(NULL, g);
    if (!all) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_submit(all);
    int result = sim_op_wait(all);
    sim_op_unref(all);
    return result;
}

static int drain(struct sim_context *context, struct sim_device *device, bool to_end) {
    struct sim_op *all = sim_op_new(SIM_OP_MARKER);
    int result = CUDA_SUCCESS;
    if (!all) return CUDA_ERROR_OUT_OF_MEMORY;
    if (context) after_context(all, context);
    if (device)
        SIM_EACH(sim_context, c, &sim_contexts) if (c->device == device) after_context(all, c);
    sim_op_submit(all);
    if (to_end) sim_op_wait_to_end(all);
    else result = sim_op_wait(all);
    sim_op_unref(all);
    return result;
}
int sim_drain(struct sim_context *context, struct sim_device *device) {
    return drain(context, device, false);
}
void sim_drain_to_end(struct sim_context *context) { drain(context, NULL, true); }

static void end_all(struct sim_link *head) {
    while (head->next != head) head->next->end(head->next);
}

/* The context is unusable at once; its objects are freed when its work is done. sim_lock is
   released in between. */
void sim_context_kill(struct sim_context *c) {
    c->active = false;
    c->dying = true;
    sim_drain_to_end(c);
    while (c->loading) { /* they will find that the context is destroyed */
        pthread_mutex_unlock(&sim_lock);
        sched_yield();
        pthread_mutex_lock(&sim_lock);
    }
    end_all(&c->streams);
    end_all(&c->children);
    for (int i = 0; i < 2; i++) {
        sim_op_unref(c->orphans[i]);
        c->orphans[i] = NULL;
    }
    sim_op_unref(c->legacy.last);
    c->legacy.last = NULL;
    sim_mem_remove_context(c);
    sim_link_remove(&c->link);
    free(c->peers);
    c->peers = NULL;
    c->npeers = 0;
    SIM_EACH(sim_context, other, &sim_contexts) {
        struct sim_peer *peer = peer_of(other, c);
        if (peer) remove_peer(other, peer);
        if (peer) update_peers(other->device);
    }
    update_peers(c->device);
    c->dying = false;
    if (c->is_primary) return;
    sim_link_add(&dead, &c->link, NULL);
    ndead++;
}

/* ---- primary contexts ---- */

void sim_context_activate(struct sim_device *device) {
    while (device->primary->dying) { /* another thread is destroying it */
        pthread_mutex_unlock(&sim_lock);
        sched_yield();
        pthread_mutex_lock(&sim_lock);
    }
    if (!device->primary->active) activate(device->primary, device->primary_flags);
}

void sim_context_retain(struct sim_device *device) {
    sim_context_activate(device);
    device->primary_count++;
}

bool sim_context_has_greens(const struct sim_device *device) {
    const struct sim_context *c = device->primary;
    return c->active && c->greens.next != &c->greens;
}

void sim_context_release(struct sim_device *device) {
    if (--device->primary_count || !device->primary->active || sim_context_has_greens(device))
        return;
    sim_context_kill(device->primary);
    device->primary_flags = 0;
}

/* ---- the stack ---- */

static pthread_key_t stack_key; /* frees a thread's stack when the thread ends */
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static void make_stack_key(void) { pthread_key_create(&stack_key, free); }

int sim_context_push(uint64_t handle) {
    if (sim_self.depth == sim_self.cap) {
        unsigned cap = sim_self.cap ? sim_self.cap * 2 : 8;
        uint64_t *more = realloc(sim_self.stack, cap * sizeof *more);
        if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
        sim_self.stack = more;
        sim_self.cap = cap;
        pthread_once(&stack_once, make_stack_key);
        pthread_setspecific(stack_key, more);
    }
    sim_self.stack[sim_self.depth++] = handle;
    return CUDA_SUCCESS;
}

/* ---- peer access ---- */

int sim_context_peer(struct sim_context *me, struct sim_context *other, bool enable) {
    struct sim_peer *known = peer_of(me, other);
    if (enable) {
        if (known) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        struct sim_peer *more = realloc(me->peers, (me->npeers + 1) * sizeof *more);
        if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
        me->peers = more;
        me->peers[me->npeers++] = (struct sim_peer){ other->id, (unsigned)other->device->ordinal };
    } else {
        if (!known) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
        remove_peer(me, known);
    }
    update_peers(me->device);
    return CUDA_SUCCESS;
}
