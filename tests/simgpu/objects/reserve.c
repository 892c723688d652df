/* reserve.c - what memory pools reserve: in steps, for the blocks that are in use and those that
   are kept. */
#include "objects.h"
#include <unistd.h>

struct sim_pool *sim_pools;

struct sim_pool *sim_pool_new(struct sim_device *device) {
    struct sim_pool *p = calloc(1, sizeof *p);
    if (!p || !(p->handle = sim_handle_new(SIM_H_POOL, p))) {
        free(p);
        return NULL;
    }
    p->device = device;
    p->name = p->handle;
    p->reuse[0] = p->reuse[1] = p->reuse[2] = 1;
    p->next = sim_pools;
    return sim_pools = p;
}

/* What the pool reserves for blocks that need `bytes`: in steps of 32 MiB, as measured; of 1/64 of
   a small device. */
static uint64_t in_steps(const struct sim_pool *p, uint64_t bytes) {
    const uint64_t most = 32u << 20, part = p->device->memory / 64 / 512 * 512,
                   step = part < most ? part : most, steps = bytes / step + (bytes % step != 0);
    return steps < UINT64_MAX / step ? steps * step : UINT64_MAX;
}
bool sim_pool_hold(struct sim_pool *p, uint64_t cost) {
    const uint64_t reserved = in_steps(p, p->held + cost);
    if (p->most && reserved > in_steps(p, p->most)) return false;
    if (reserved > p->reserved) {
        if (!p->pages && !sim_mem_charge(p->device, reserved - p->reserved)) return false;
        p->reserved = reserved;
        if (reserved > p->reserved_high) p->reserved_high = reserved;
    }
    p->held += cost;
    return true;
}
void sim_pool_drop(struct sim_pool *p, uint64_t cost) {
    const uint64_t reserved = in_steps(p, p->held -= cost);
    if (!p->pages) sim_mem_credit(p->device, p->reserved - reserved);
    p->reserved = reserved;
}

static void release(struct sim_pool *p, uint64_t address, uint64_t bytes) {
    sim_mem_unreserve(address);
    sim_pool_drop(p, sim_mem_cost(bytes));
}

struct sim_kept *sim_pool_take_kept(struct sim_kept **at) {
    struct sim_kept *k = *at;
    if (k->freed) k->freed->workspace = NULL;
    *at = k->next;
    return k;
}

bool sim_pool_shrink(struct sim_pool *p, uint64_t most) {
    bool any = false;
    for (struct sim_kept **at = &p->kept; *at && p->reserved > most;) {
        if ((*at)->freed || (*at)->cached ||
                in_steps(p, p->held - sim_mem_cost((*at)->bytes)) < most) {
            at = &(*at)->next;
            continue;
        }
        struct sim_kept *k = sim_pool_take_kept(at);
        release(p, k->address, k->bytes);
        free(k);
        any = true;
    }
    return any;
}
void sim_pool_settle(struct sim_pool *p) {
    if (!p->handle) sim_pool_shrink(p, 0);
    if (p->handle || p->reserved) return;
    struct sim_pool **at = &sim_pools;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    if (p->imported) close(p->file);
    free(p->imports);
    free(p);
}

void sim_pool_use(struct sim_pool *p, uint64_t bytes) {
    p->used += bytes;
    if (p->used > p->used_high) p->used_high = p->used;
}
void sim_pool_entered(struct sim_pool *p, uint64_t bytes) {
    sim_pool_use(p, bytes);
    p->reserved += bytes;
}
void sim_pool_left(struct sim_pool *p, uint64_t bytes) {
    p->used -= bytes;
    p->reserved -= bytes;
    sim_pool_settle(p);
}

bool sim_pools_shrink(struct sim_device *device) {
    bool any = false;
    for (struct sim_pool *p = sim_pools; p; p = p->next)
        if (p->device == device && !p->pages) any |= sim_pool_shrink(p, 0);
    return any;
}
void sim_pools_settle(void) {
    for (struct sim_pool *p = sim_pools; p; p = p->next)
        if (p->handle) sim_pool_shrink(p, p->threshold);
}

uint64_t sim_pool_counted(const struct sim_range *r) {
    return r->counted ? r->counted : r->hi - r->lo;
}
struct sim_kept *sim_pool_keep(const struct sim_range *r, uint64_t stream) {
    struct sim_kept *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    *k = (struct sim_kept){ .next = r->pool->kept,
        .pool = r->pool,
        .address = r->lo,
        .bytes = r->end - r->lo,
        .stream = stream };
    return r->pool->kept = k;
}
void sim_pool_freed(const struct sim_range *r) {
    if (r->pool->imported) {
        sim_pool_left(r->pool, r->hi - r->lo);
        return;
    }
    r->pool->used -= sim_pool_counted(r);
    if (!sim_pool_keep(r, 0)) release(r->pool, r->lo, r->end - r->lo);
    sim_pool_settle(r->pool);
}
