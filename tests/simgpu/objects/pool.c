/* pool.c - memory pools: memory that is allocated at the call, and freed when the free is next in
   stream order. In a capture, both become nodes, and the graph has the address.

   A pool reserves memory of its device in steps, and keeps what was freed for allocations of half
   its size or more: for the stream of the free, from the call that frees it; for a stream that
   waits for the free, from then on; for others when it has run. In between, its bytes are not
   there, so that a late access is found. What is above the release threshold goes back to the
   device when the program waits for work, as documented, or when the device has no other memory. */
#include "objects.h"

/* workspace: the pool */
static void has_left(struct sim_op *op) { sim_pool_left(op->workspace, op->width); }
/* workspace: the block, unless it was allocated again */
static void has_freed(struct sim_op *op) {
    struct sim_kept *k = op->workspace;
    if (!k) return;
    k->freed = NULL;
    sim_pool_settle(k->pool);
}
/* the same, of an allocation that cuMemFree found pending: every stream may use the block */
static void has_passed(struct sim_op *op) {
    struct sim_kept *k = op->workspace;
    if (!k) return;
    sim_mem_remove(k->address);
    k->stream = 0;
    has_freed(op);
}
static void add_coming(struct sim_kept *k) {
    struct sim_kept **first = &k->pool->coming;
    k->next = *first;
    k->from = first;
    if (k->next) k->next->from = &k->next;
    *first = k;
}
static void remove_coming(struct sim_kept *k) {
    *k->from = k->next;
    if (k->next) k->next->from = k->from;
}
/* workspace: the block */
static void has_appeared(struct sim_op *op) {
    remove_coming(op->workspace);
    free(op->workspace);
}

/* ---- work of streams ---- */

static void appear(void *address, int error) {
    (void)error;
    sim_mem_appear((uintptr_t)address);
}
static void free_now(void *address, int error) {
    (void)error;
    sim_mem_remove((uintptr_t)address);
}
static void unreserve(struct sim_op *op) { sim_mem_unreserve((uintptr_t)op->data); }

static struct sim_op *call_with(uint64_t address, void (*function)(void *, int)) {
    struct sim_op *op = sim_op_new(SIM_OP_CALL);
    if (!op) return NULL;
    op->function = function;
    op->data = SIM_HANDLE(address);
    return op;
}

int sim_alloc_work(uint64_t *address, size_t bytes, struct sim_device *d, unsigned viewers,
        struct sim_work *out) {
    int result = sim_mem_reserve(d, NULL, viewers, false, bytes, address);
    if (result) return result;
    struct sim_op *op = call_with(*address, appear);
    if (!op) {
        sim_mem_unreserve(*address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->release = unreserve;
    op->dst.device = d;
    op->width = bytes;
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .op = op };
    return CUDA_SUCCESS;
}

static int capture_alloc(
        uint64_t *address, size_t bytes, struct sim_device *d, struct sim_stream *s) {
    struct sim_work work;
    int result = sim_alloc_work(address, bytes, d, 0, &work);
    if (result) return result;
    sim_work_in(&work, s->context);
    return sim_capture_take(s, work);
}

/* Whether `to` comes after `from`, which is pending; false: also if that takes too many steps to
   see. */
static bool leads(const struct sim_op *from, const struct sim_op *to, unsigned *steps) {
    if (from == to) return true;
    for (unsigned i = 0; i < from->nnext && *steps; i++) {
        --*steps;
        if (leads(from->next[i], to, steps)) return true;
    }
    return false;
}
static bool may_use(
        const struct sim_pool *p, const struct sim_kept *k, const struct sim_stream *s) {
    enum { STEPS = 256 };
    if (k->stream == s->id || !k->stream) return true;
    if (!k->freed) /* with internal dependencies there is nothing to wait for, either */
        return p->reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC - CU_MEMPOOL_ATTR_REUSE_FIRST] ||
                p->reuse[CU_MEMPOOL_ATTR_REUSE_LAST - CU_MEMPOOL_ATTR_REUSE_FIRST];
    return p->reuse[0] && s->last && !s->last->done &&
            leads(k->freed, s->last, &(unsigned){ STEPS });
}
/* The smallest kept block for so many bytes that the stream may use; NULL: none. */
static struct sim_kept **reusable(struct sim_pool *p, size_t bytes, const struct sim_stream *s) {
    struct sim_kept **best = NULL;
    for (struct sim_kept **at = &p->kept; *at; at = &(*at)->next) {
        const struct sim_kept *k = *at;
        if (k->cached || k->bytes < bytes || k->bytes / 2 > bytes ||
                (best && k->bytes >= (*best)->bytes) || !may_use(p, k, s))
            continue;
        if (sim_settings.schedule && sim_schedule_draw(2)) continue;
        best = at;
        if (k->bytes == bytes) break;
    }
    return best;
}
/* It is there at once, or after its pending free. */
static int take(struct sim_kept **at, struct sim_stream *s, uint64_t bytes, uint64_t counted) {
    struct sim_op *op = (*at)->freed ? call_with((*at)->address, appear) : NULL;
    if ((*at)->freed && !op) return CUDA_ERROR_OUT_OF_MEMORY;
    struct sim_kept *k = sim_pool_take_kept(at);
    sim_mem_resize(k->address, bytes, counted);
    sim_mem_claim(k->address);
    if (!op) {
        sim_mem_appear(k->address);
        free(k);
        return CUDA_SUCCESS;
    }
    k->stream = s->id;
    k->freed = op;
    op->workspace = k;
    op->release = has_appeared;
    add_coming(k);
    return sim_stream_submit(s, op);
}
static int reuse(struct sim_kept **at, struct sim_stream *s, uint64_t bytes, uint64_t *address) {
    struct sim_pool *p = (*at)->pool;
    *address = (*at)->address;
    int result = take(at, s, bytes, bytes);
    if (!result) sim_pool_use(p, bytes);
    return result;
}
static int fresh(struct sim_pool *p, size_t bytes, uint64_t *address) {
    const uint64_t cost = sim_mem_cost(bytes);
    if (bytes > p->device->memory) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_pool_hold(p, cost) && !(sim_pools_shrink(p->device) && sim_pool_hold(p, cost)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int result = sim_mem_reserve(
            p->on_host ? NULL : p->device, p, p->viewers, p->pages, bytes, address);
    if (!result) sim_pool_use(p, bytes);
    else { sim_pool_drop(p, cost); }
    return result;
}

int sim_pool_alloc(CUdeviceptr *out, size_t bytes, struct sim_pool *p, struct sim_stream *s) {
    const void *handle = SIM_HANDLE(p->handle);
    uint64_t address = 0;
    struct sim_kept **at;
    int supported = 0, result = CUDA_SUCCESS;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    sim_device_attribute(p->device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &supported);
    if (!supported) return CUDA_ERROR_NOT_SUPPORTED;
    if (p->imported)
        return sim_because(
                CUDA_ERROR_INVALID_VALUE, "a pool of another process cannot allocate here");
    if (bytes && s->capture && p->on_host) return CUDA_ERROR_NOT_SUPPORTED; /* as measured */
    if (bytes && s->capture) result = capture_alloc(&address, bytes, p->device, s);
    else if (bytes && (at = reusable(p, bytes, s))) result = reuse(at, s, bytes, &address);
    else if (bytes) {
        result = fresh(p, bytes, &address);
        /* queued frees may make room */
        if (result && s->last && !s->last->done && bytes <= p->device->memory) {
            sim_op_wait(s->last);
            result = sim_find(SIM_H_POOL, handle) == p ? fresh(p, bytes, &address)
                                                       : CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (!result) *out = address; /* 0 bytes are not an error, as measured */
    return result;
}

/* Only memory that a graph allocates, and no second time in the same graph. An address without
   memory may be one that a graph had: as measured, only the launch refuses it. */
int sim_free_work(uint64_t address, const struct sim_graph *g, struct sim_work *out) {
    struct sim_range r;
    if (!sim_mem_find_for_call(address, 1, true, &r) || r.lo != address || r.kind != SIM_MEM_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct sim_node *node = g->last_free; node; node = node->link_free)
        if ((uintptr_t)node->work.op->data == address) return CUDA_ERROR_INVALID_VALUE;
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_MEM_FREE,
        .op = call_with(address, free_now) };
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool sim_block_free_coming(const struct sim_range *r) {
    struct sim_kept *k = r->pool->coming;
    while (k && k->address != r->lo) k = k->next;
    if (!k) return false;
    remove_coming(k);
    k->next = r->pool->kept;
    r->pool->kept = k;
    k->cached = false;
    k->freed->release = has_passed;
    r->pool->used -= sim_pool_counted(r);
    return true;
}

static int capture_free(CUdeviceptr address, struct sim_stream *s) {
    struct sim_work work;
    int result = sim_free_work(address, s->capture->graph, &work);
    if (result) return result;
    sim_work_in(&work, s->context);
    return sim_capture_take(s, work);
}

/* As measured: memory that no pool owns may be freed again. */
static bool freed_before(CUdeviceptr address) {
    struct sim_range r;
    if (sim_mem_is_virtual(address)) return false;
    if (!sim_mem_find_for_call(address, 1, true, &r))
        return sim_mem_in_window(address) && !sim_mem_reserved(address);
    return r.lo == address && r.kind == SIM_MEM_DEVICE;
}

/* ---- blocks that the program keeps ---- */

static struct sim_kept **cached_block(CUdeviceptr address) { /* NULL: it is not cached */
    for (struct sim_pool *p = sim_pools; p; p = p->next)
        for (struct sim_kept **at = &p->kept; *at; at = &(*at)->next)
            if ((*at)->address == address && (*at)->cached) return at;
    return NULL;
}
bool sim_block_free_cached(CUdeviceptr address) {
    struct sim_kept **at = cached_block(address);
    if (!at) return false;
    (*at)->cached = false;
    (*at)->pool->used -= (*at)->counted;
    if (!(*at)->freed) sim_pool_settle((*at)->pool);
    return true;
}
int sim_block_cache(CUdeviceptr address, struct sim_stream *s) {
    struct sim_range r;
    if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!sim_mem_find_for_call(address, 1, false, &r) || r.lo != address ||
            r.kind != SIM_MEM_POOL || !sim_mem_mark_freeing(address, &r))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_op *op = call_with(address, free_now);
    struct sim_kept *k = op ? sim_pool_keep(&r, s->id) : NULL;
    if (!k) {
        sim_mem_claim(address);
        if (op) sim_op_unref(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    k->cached = true;
    k->counted = sim_pool_counted(&r);
    k->freed = op;
    op->workspace = k;
    op->release = has_freed;
    return sim_stream_submit(s, op);
}
int sim_block_uncache(CUdeviceptr address, size_t bytes, struct sim_stream *s) {
    struct sim_range r;
    struct sim_kept **at = cached_block(address);
    if (at)
        return !bytes || bytes > (*at)->bytes || (*at)->stream != s->id
                ? CUDA_ERROR_INVALID_VALUE
                : take(at, s, bytes, (*at)->counted);
    if (!sim_mem_find_for_call(address, 1, false, &r) || r.lo != address ||
            r.kind != SIM_MEM_POOL || !bytes || bytes > r.end - r.lo)
        return CUDA_ERROR_INVALID_VALUE;
    sim_mem_resize(address, bytes, sim_pool_counted(&r));
    return CUDA_SUCCESS;
}

int sim_free_async(CUdeviceptr address, struct sim_stream *s) {
    struct sim_range r;
    if (s->capture) return capture_free(address, s);
    if (sim_block_free_cached(address)) return CUDA_SUCCESS;
    if (sim_mem_find(NULL, address, 1, &r) && r.kind == SIM_MEM_MANAGED)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_op *op = call_with(address, free_now);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_mem_mark_freeing(address, &r)) {
        sim_op_unref(op);
        return freed_before(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_kept *k = r.pool && !r.pool->imported ? sim_pool_keep(&r, s->id) : NULL;
    if (r.pool && !k && !r.pool->imported) {
        sim_mem_claim(address);
        sim_op_unref(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (k) {
        r.pool->used -= sim_pool_counted(&r);
        k->freed = op;
        op->workspace = k;
        op->release = has_freed;
    } else if (r.pool) {
        op->width = r.hi - r.lo;
        op->workspace = r.pool;
        op->release = has_left;
    }
    return sim_stream_submit(s, op);
}

/* ---- their end ---- */

void sim_pool_end(struct sim_pool *p) {
    if (p == p->device->current_pool) p->device->current_pool = p->device->pool;
    sim_handle_drop(p->handle);
    p->handle = 0;
    sim_pool_settle(p);
}

void sim_pools_end(void) {
    for (struct sim_pool *p = sim_pools, *next; p; p = next) {
        next = p->next;
        if (p == p->device->pool) sim_pool_shrink(p, 0);
        else if (p->handle) sim_pool_end(p);
        else sim_pool_settle(p);
    }
}
