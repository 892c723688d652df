/* pool.c - memory pools: memory that is allocated at the call, and freed when the free is next in stream order. In a
   capture, both become nodes, and the graph has the address.

   A pool keeps what was freed, up to its release threshold, for allocations of the same size: on the stream of the
   free, from the call that frees it; on other streams never, or, with SIMGPU_SCHEDULE, as soon as the free has run. In
   between, its bytes are not there, so that a late access is found. When the device has no other memory, pools return
   what they keep. */
#include "driver.h"
#include "../base/cudadefs.h"
#include <unistd.h>

struct sim_kept {                                 /* a freed block */
    struct sim_kept *next;
    struct sim_pool *pool;
    uint64_t address, bytes, stream;              /* stream: the id of that on which it was freed, 0: none */
    struct sim_op *freed;                         /* the pending free, or NULL */
};

static void use_more(struct sim_pool *p, uint64_t used, uint64_t reserved) {
    p->used += used;
    p->reserved += reserved;
    if (p->used > p->used_high) p->used_high = p->used;
    if (p->reserved > p->reserved_high) p->reserved_high = p->reserved;
}

static struct sim_kept take_kept(struct sim_kept **at) {
    struct sim_kept *k = *at, is = *k;
    if (k->freed) k->freed->workspace = NULL;
    *at = k->next;
    free(k);
    return is;
}

/* Returns kept memory to the device until at most `most` bytes are reserved; false: nothing. */
static bool shrink(struct sim_pool *p, uint64_t most) {
    bool any = false;
    for (struct sim_kept **at = &p->kept; *at && p->reserved > most; ) {
        if ((*at)->freed) {
            at = &(*at)->next;
            continue;
        }
        const struct sim_kept k = take_kept(at);
        p->reserved -= sim_mem_cost(k.bytes);
        sim_mem_unreserve(k.address);
        any = true;
    }
    return any;
}
/* After memory was freed. A destroyed pool ends with its last memory. */
static void settle(struct sim_pool *p) {
    shrink(p, p->handle ? p->threshold : 0);
    if (p->handle || p->reserved) return;
    struct sim_pool **at = &sim_pools;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    if (p->imported) close(p->file);
    free(p);
}
void sim_pool_entered(struct sim_pool *p, uint64_t bytes) { use_more(p, sim_mem_cost(bytes), sim_mem_cost(bytes)); }

bool sim_pools_shrink(struct sim_device *device) {
    bool any = false;
    for (struct sim_pool *p = sim_pools; p; p = p->next) if (p->device == device) any |= shrink(p, 0);
    return any;
}

static struct sim_kept *keep(const struct sim_range *r, uint64_t stream) {           /* NULL: no memory */
    struct sim_kept *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    *k = (struct sim_kept) { r->pool->kept, r->pool, r->lo, r->hi - r->lo, stream, NULL };
    return r->pool->kept = k;
}
void sim_pool_freed(const struct sim_range *r) {
    const uint64_t cost = sim_mem_cost(r->hi - r->lo);
    r->pool->used -= cost;
    if (r->pool->imported) r->pool->reserved -= cost;
    else if (!keep(r, 0)) {
        r->pool->reserved -= cost;
        sim_mem_unreserve(r->lo);
    }
    settle(r->pool);
}
static void has_left(struct sim_op *op) {         /* workspace: the imported pool */
    struct sim_pool *p = op->workspace;
    p->reserved -= sim_mem_cost(op->width);
    settle(p);
}
static void has_freed(struct sim_op *op) {        /* workspace: the block, unless it was allocated again */
    struct sim_kept *k = op->workspace;
    if (!k) return;
    k->freed = NULL;
    settle(k->pool);
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

static int take_node(struct sim_stream *s, int type, struct sim_op *op) {
    struct sim_work work = { .type = type, .op = op };
    sim_work_in(&work, s->context);
    return sim_capture_take(s, work);
}

static struct sim_op *call_with(uint64_t address, void (*function)(void *, int)) {
    struct sim_op *op = sim_op_new(SIM_OP_CALL);
    if (!op) return NULL;
    op->function = function;
    op->data = SIM_HANDLE(address);
    return op;
}

static int capture_alloc(uint64_t *address, size_t bytes, struct sim_device *d, struct sim_stream *s) {
    int result = sim_mem_reserve(d, NULL, bytes, address);
    if (result) return result;
    struct sim_op *op = call_with(*address, appear);
    if (!op) {
        sim_mem_unreserve(*address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    op->release = unreserve;
    op->dst.device = d;
    op->width = bytes;
    return take_node(s, CU_GRAPH_NODE_TYPE_MEM_ALLOC, op);
}

/* A kept block that the stream may use; NULL: none. */
static struct sim_kept **reusable(struct sim_pool *p, size_t bytes, const struct sim_stream *s) {
    const bool adverse = sim_settings.schedule != 0;
    for (struct sim_kept **at = &p->kept; *at; at = &(*at)->next) {
        const struct sim_kept *k = *at;
        if (k->bytes == bytes && (k->stream == s->id || (adverse && !k->freed)) && !(adverse && sim_schedule_draw(2)))
            return at;
    }
    return NULL;
}
/* It is there at once, or after its pending free. */
static int reuse(struct sim_kept **at, struct sim_stream *s, uint64_t *address) {
    struct sim_op *op = (*at)->freed ? call_with((*at)->address, appear) : NULL;
    if ((*at)->freed && !op) return CUDA_ERROR_OUT_OF_MEMORY;
    const struct sim_kept k = take_kept(at);
    use_more(k.pool, sim_mem_cost(k.bytes), 0);
    sim_mem_claim(k.address);
    *address = k.address;
    if (op) return sim_stream_submit(s, op);
    sim_mem_appear(k.address);
    return CUDA_SUCCESS;
}
static int fresh(struct sim_pool *p, size_t bytes, uint64_t *address) {
    const uint64_t cost = sim_mem_cost(bytes);
    if (bytes > p->device->memory || (p->most && cost > p->most - p->reserved)) return CUDA_ERROR_OUT_OF_MEMORY;
    int result = sim_mem_reserve(p->device, p, bytes, address);
    if (result && sim_pools_shrink(p->device)) result = sim_mem_reserve(p->device, p, bytes, address);
    if (!result) use_more(p, cost, cost);
    return result;
}

static int pool_alloc(CUdeviceptr *out, size_t bytes, struct sim_pool *p, struct sim_stream *s) {
    const void *handle = SIM_HANDLE(p->handle);
    uint64_t address = 0;
    struct sim_kept **at;
    int supported = 0, result = CUDA_SUCCESS;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    sim_device_attribute(p->device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &supported);
    if (!supported) return CUDA_ERROR_NOT_SUPPORTED;
    if (p->imported) return sim_because(CUDA_ERROR_INVALID_VALUE, "a pool of another process cannot allocate here");
    if (bytes && s->capture) result = capture_alloc(&address, bytes, p->device, s);
    else if (bytes && (at = reusable(p, bytes, s))) result = reuse(at, s, &address);
    else if (bytes) {
        result = fresh(p, bytes, &address);
        if (result && s->last && !s->last->done && bytes <= p->device->memory) {     /* queued frees may make room */
            sim_op_wait(s->last);
            result = sim_get(SIM_H_POOL, handle) == p ? fresh(p, bytes, &address) : CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (!result) *out = address;                  /* 0 bytes are not an error, as measured */
    return result;
}

SIM_API_STREAM(cuMemAllocAsync, _ptsz, (CUdeviceptr *out, size_t bytes, void *stream), (out, bytes, stream),
               SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_unsafe(stream, &s);
    return result ? result : pool_alloc(out, bytes, s->context->device->pool, s);
}

SIM_API_STREAM(cuMemAllocFromPoolAsync, _ptsz, (CUdeviceptr *out, size_t bytes, void *pool, void *stream),
               (out, bytes, pool, stream), SIM_HEALTHY) {
    struct sim_stream *s;
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    int result = sim_stream_use_unsafe(stream, &s);
    if (result) return result;
    return p ? pool_alloc(out, bytes, p, s) : CUDA_ERROR_INVALID_VALUE;
}

/* Only memory that a graph allocates, and no second time in the same graph. An address without memory may be one that a
   graph had: as measured, only the launch refuses it. */
static int capture_free(CUdeviceptr address, struct sim_stream *s) {
    const struct sim_graph *g = s->capture->graph;
    struct sim_range r;
    if (sim_mem_find_for_call(address, 1, true, &r) ? r.lo != address || r.kind != SIM_MEM_GRAPH :
                                                      !sim_mem_in_window(address))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < g->nodes.n; i++) {
        const struct sim_work *w = &g->nodes.at[i]->work;
        if (w->type == CU_GRAPH_NODE_TYPE_MEM_FREE && (uintptr_t)w->op->data == address)
            return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_op *op = call_with(address, free_now);
    return op ? take_node(s, CU_GRAPH_NODE_TYPE_MEM_FREE, op) : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API_STREAM(cuMemFreeAsync, _ptsz, (CUdeviceptr address, void *stream), (address, stream), SIM_HEALTHY) {
    struct sim_stream *s;
    struct sim_range r;
    int result = sim_stream_use_unsafe(stream, &s);
    if (result) return result;
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    if (s->capture) return capture_free(address, s);
    struct sim_op *op = call_with(address, free_now);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_mem_mark_freeing(address, &r)) {
        sim_op_unref(op);
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct sim_kept *k = r.pool && !r.pool->imported ? keep(&r, s->id) : NULL;
    if (r.pool && !k && !r.pool->imported) {
        sim_mem_claim(address);
        sim_op_unref(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (k) {
        r.pool->used -= sim_mem_cost(r.hi - r.lo);
        k->freed = op;
        op->workspace = k;
        op->release = has_freed;
    } else if (r.pool) {
        r.pool->used -= sim_mem_cost(r.hi - r.lo);
        op->width = r.hi - r.lo;
        op->workspace = r.pool;
        op->release = has_left;
    }
    return sim_stream_submit(s, op);
}

/* ---- pools ---- */

SIM_API(cuMemPoolCreate, (void **pool, const CUmemPoolProps *props), (pool, props), SIM_HEALTHY) {
    int supported = 0;
    if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->location.id < 0
        || props->location.id >= sim_device_count)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_device *d = &sim_devices[props->location.id];
    sim_device_attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &supported);
    if (!supported || props->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_pool *p = sim_pool_new(d);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    p->handle_types = props->handleTypes;
    p->most = props->maxSize;
    *pool = SIM_HANDLE(p->handle);
    return CUDA_SUCCESS;
}

static void end(struct sim_pool *p) {
    sim_handle_drop(p->handle);
    p->handle = 0;
    settle(p);
}
/* Memory in use remains, until it is freed. */
SIM_API(cuMemPoolDestroy, (void *pool), (pool), SIM_INIT) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || p == p->device->pool) return CUDA_ERROR_INVALID_VALUE;
    end(p);
    return CUDA_SUCCESS;
}
void sim_pools_end(void) {
    for (struct sim_pool *p = sim_pools, *next; p; p = next) {
        next = p->next;
        if (p == p->device->pool) shrink(p, 0);
        else if (p->handle) end(p);
        else settle(p);
    }
}

SIM_API(cuMemPoolTrimTo, (void *pool, size_t most), (pool, most), SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    shrink(p, most);
    return CUDA_SUCCESS;
}

static bool is_reuse(int attribute) {
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FIRST && attribute <= CU_MEMPOOL_ATTR_REUSE_LAST;
}

SIM_API(cuMemPoolSetAttribute, (void *pool, int attribute, void *value), (pool, attribute, value), SIM_HEALTHY) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || !value) return CUDA_ERROR_INVALID_VALUE;
    if (is_reuse(attribute)) p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FIRST] = *(int *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) p->threshold = *(uint64_t *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && !*(uint64_t *)value) p->reserved_high = p->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && !*(uint64_t *)value) p->used_high = p->used;
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAttribute, (void *pool, int attribute, void *value), (pool, attribute, value), SIM_HEALTHY) {
    const struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || !value) return CUDA_ERROR_INVALID_VALUE;
    if (is_reuse(attribute)) *(int *)value = p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FIRST];
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) *(uint64_t *)value = p->threshold;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) *(uint64_t *)value = p->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) *(uint64_t *)value = p->reserved_high;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT) *(uint64_t *)value = p->used;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) *(uint64_t *)value = p->used_high;
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
