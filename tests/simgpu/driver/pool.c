/* pool.c - memory pools: memory that is allocated at the call, and freed when the free is next in stream order. In a
   capture, both become nodes, and the graph has the address.

   A pool reserves memory of its device in steps, and keeps what was freed for allocations of half its size or more: for
   the stream of the free, from the call that frees it; for a stream that waits for the free, from then on; for others
   when it has run. In between, its bytes are not there, so that a late access is found. What is above the release
   threshold goes back to the device when the program waits for work, as documented, or when the device has no other
   memory. */
#include "driver.h"
#include "../base/cudadefs.h"

static void has_left(struct sim_op *op) { sim_pool_left(op->workspace, op->width); }     /* workspace: the pool */
static void has_freed(struct sim_op *op) {        /* workspace: the block, unless it was allocated again */
    struct sim_kept *k = op->workspace;
    if (!k) return;
    k->freed = NULL;
    sim_pool_settle(k->pool);
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

int sim_alloc_work(uint64_t *address, size_t bytes, struct sim_device *d, unsigned viewers, struct sim_work *out) {
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
    *out = (struct sim_work) { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .op = op };
    return CUDA_SUCCESS;
}

static int capture_alloc(uint64_t *address, size_t bytes, struct sim_device *d, struct sim_stream *s) {
    struct sim_work work;
    int result = sim_alloc_work(address, bytes, d, 0, &work);
    if (result) return result;
    sim_work_in(&work, s->context);
    return sim_capture_take(s, work);
}

/* Whether `to` comes after `from`, which is pending; false: also if that takes too many steps to see. */
static bool leads(const struct sim_op *from, const struct sim_op *to, unsigned *steps) {
    if (from == to) return true;
    for (unsigned i = 0; i < from->nnext && *steps; i++) {
        --*steps;
        if (leads(from->next[i], to, steps)) return true;
    }
    return false;
}
static bool may_use(const struct sim_pool *p, const struct sim_kept *k, const struct sim_stream *s) {
    enum { STEPS = 256 };
    if (k->stream == s->id || !k->stream) return true;
    if (!k->freed)                                /* with internal dependencies there is nothing to wait for, either */
        return p->reuse[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC - CU_MEMPOOL_ATTR_REUSE_FIRST]
               || p->reuse[CU_MEMPOOL_ATTR_REUSE_LAST - CU_MEMPOOL_ATTR_REUSE_FIRST];
    return p->reuse[0] && s->last && !s->last->done && leads(k->freed, s->last, &(unsigned) { STEPS });
}
/* The smallest kept block for so many bytes that the stream may use; NULL: none. */
static struct sim_kept **reusable(struct sim_pool *p, size_t bytes, const struct sim_stream *s) {
    struct sim_kept **best = NULL;
    for (struct sim_kept **at = &p->kept; *at; at = &(*at)->next) {
        const struct sim_kept *k = *at;
        if (k->bytes < bytes || k->bytes / 2 > bytes || (best && k->bytes >= (*best)->bytes) || !may_use(p, k, s))
            continue;
        if (sim_settings.schedule && sim_schedule_draw(2)) continue;
        best = at;
        if (k->bytes == bytes) break;
    }
    return best;
}
/* It is there at once, or after its pending free. */
static int reuse(struct sim_kept **at, struct sim_stream *s, uint64_t bytes, uint64_t *address) {
    struct sim_op *op = (*at)->freed ? call_with((*at)->address, appear) : NULL;
    if ((*at)->freed && !op) return CUDA_ERROR_OUT_OF_MEMORY;
    const struct sim_kept k = sim_pool_take_kept(at);
    sim_pool_use(k.pool, bytes);
    sim_mem_resize(k.address, bytes);
    sim_mem_claim(k.address);
    *address = k.address;
    if (op) return sim_stream_submit(s, op);
    sim_mem_appear(k.address);
    return CUDA_SUCCESS;
}
static int fresh(struct sim_pool *p, size_t bytes, uint64_t *address) {
    const uint64_t cost = sim_mem_cost(bytes);
    if (bytes > p->device->memory) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_pool_hold(p, cost) && !(sim_pools_shrink(p->device) && sim_pool_hold(p, cost)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    int result = sim_mem_reserve(p->on_host ? NULL : p->device, p, p->viewers, p->pages, bytes, address);
    if (!result) sim_pool_use(p, bytes);
    else {
        sim_pool_drop(p, cost);
    }
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
    else if (bytes && (at = reusable(p, bytes, s))) result = reuse(at, s, bytes, &address);
    else if (bytes) {
        result = fresh(p, bytes, &address);
        if (result && s->last && !s->last->done && bytes <= p->device->memory) {     /* queued frees may make room */
            sim_op_wait(s->last);
            result = sim_find(SIM_H_POOL, handle) == p ? fresh(p, bytes, &address) : CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (!result) *out = address;                  /* 0 bytes are not an error, as measured */
    return result;
}

SIM_API_STREAM(cuMemAllocAsync, _ptsz, (CUdeviceptr *out, size_t bytes, void *stream), (out, bytes, stream),
               SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_unsafe(stream, &s);
    return result ? result : pool_alloc(out, bytes, s->context->device->current_pool, s);
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
int sim_free_work(uint64_t address, const struct sim_graph *g, struct sim_work *out) {
    struct sim_range r;
    if (!sim_mem_find_for_call(address, 1, true, &r) || r.lo != address || r.kind != SIM_MEM_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct sim_node *node = g->last_free; node; node = node->link_free)
        if ((uintptr_t)node->work.op->data == address) return CUDA_ERROR_INVALID_VALUE;
    *out = (struct sim_work) { .type = CU_GRAPH_NODE_TYPE_MEM_FREE, .op = call_with(address, free_now) };
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
    if (!sim_mem_find_for_call(address, 1, true, &r)) return sim_mem_in_window(address) && !sim_mem_reserved(address);
    return r.lo == address && r.kind == SIM_MEM_DEVICE;
}

SIM_API_STREAM(cuMemFreeAsync, _ptsz, (CUdeviceptr address, void *stream), (address, stream), SIM_HEALTHY) {
    struct sim_stream *s;
    struct sim_range r;
    int result = sim_stream_use_unsafe(stream, &s);
    if (result) return result;
    if (!address) return CUDA_SUCCESS;
    if (s->capture) return capture_free(address, s);
    if (sim_mem_find(NULL, address, 1, &r) && r.kind == SIM_MEM_MANAGED) return CUDA_ERROR_NOT_SUPPORTED;
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
        r.pool->used -= r.hi - r.lo;
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

/* ---- pools ---- */

enum { POSIX_FILE = 1, FABRIC = 8 };              /* CUmemAllocationHandleType */

static bool location_bad(const CUmemPoolProps *props) {
    if (props->location.type == CU_MEM_LOCATION_TYPE_HOST) return false;
    if (props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA) return props->location.id != 0;
    return props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->location.id < 0
           || props->location.id >= sim_device_count;
}

/* Memory of a managed pool, or of one on the host, is the host's. */
SIM_API(cuMemPoolCreate, (void **pool, const CUmemPoolProps *props), (pool, props), SIM_HEALTHY | SIM_UNSAFE) {
    static const unsigned char zeros[sizeof props->reserved];
    int supported = 0;
    if (!pool || !props || location_bad(props) || memcmp(props->reserved, zeros, sizeof zeros)
        || (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED && props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
        || props->handleTypes & ~(POSIX_FILE | FABRIC))
        return CUDA_ERROR_INVALID_VALUE;
    const bool on_host = props->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    struct sim_device *d = &sim_devices[on_host ? 0 : props->location.id];
    sim_device_attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &supported);
    if (!supported) return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_pool *p = sim_pool_new(d);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    p->most = props->maxSize;
    p->handle_types = props->handleTypes;
    p->on_host = on_host;
    p->pages = on_host || props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    *pool = SIM_HANDLE(p->handle);
    return CUDA_SUCCESS;
}

/* ---- which devices have access: the owner always, unless it is the host; others read and write, or nothing ---- */

enum { NO_ACCESS, READ_ONLY, READ_WRITE = 3 };

static bool owns(const struct sim_pool *p, int device) { return !p->pages && p->device->ordinal == device; }

static int access_of(const struct sim_pool *p, const CUmemAccessDesc *a) {           /* 0, or why it cannot change so */
    const int d = a->location.id;
    if (a->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (d < 0 || d >= sim_device_count || (d != p->device->ordinal && !sim_peers(p->device, &sim_devices[d])))
        return CUDA_ERROR_INVALID_DEVICE;
    if (a->flags == READ_ONLY) return CUDA_ERROR_NOT_SUPPORTED;
    if (a->flags != NO_ACCESS && a->flags != READ_WRITE) return CUDA_ERROR_INVALID_VALUE;
    return owns(p, d) && !a->flags ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

SIM_API(cuMemPoolSetAccess, (void *pool, const CUmemAccessDesc *list, size_t n), (pool, list, n),
        SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || !list) return CUDA_ERROR_INVALID_VALUE;
    unsigned viewers = p->viewers;
    for (size_t i = 0; i < n; i++) {
        const int result = access_of(p, &list[i]);
        if (result) return result;
        viewers = list[i].flags ? viewers | 1u << list[i].location.id : viewers & ~(1u << list[i].location.id);
    }
    p->viewers = viewers;
    sim_mem_share(p, viewers);
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAccess, (unsigned *flags, void *pool, CUmemLocation *location), (flags, pool, location),
        SIM_HEALTHY | SIM_UNSAFE) {
    const struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!flags || !p || !location) return CUDA_ERROR_INVALID_VALUE;
    const bool device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (device ? location->id < 0 || location->id >= sim_device_count :
                 location->type != CU_MEM_LOCATION_TYPE_HOST && location->type != CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = device && (owns(p, location->id) || p->viewers >> location->id & 1) ? READ_WRITE : NO_ACCESS;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceSetMemPool, (CUdevice device, void *pool), (device, pool), SIM_HEALTHY) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || device < 0 || device >= sim_device_count || p->on_host || p->device != &sim_devices[device])
        return CUDA_ERROR_INVALID_VALUE;
    p->device->current_pool = p;
    return CUDA_SUCCESS;
}

static void end(struct sim_pool *p) {
    if (p == p->device->current_pool) p->device->current_pool = p->device->pool;
    sim_handle_drop(p->handle);
    p->handle = 0;
    sim_pool_settle(p);
}
/* Memory in use remains, until it is freed. */
SIM_API(cuMemPoolDestroy, (void *pool), (pool), SIM_INIT | SIM_UNSAFE) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || p == p->device->pool) return CUDA_ERROR_INVALID_VALUE;
    end(p);
    return CUDA_SUCCESS;
}
void sim_pools_end(void) {
    for (struct sim_pool *p = sim_pools, *next; p; p = next) {
        next = p->next;
        if (p == p->device->pool) sim_pool_shrink(p, 0);
        else if (p->handle) end(p);
        else sim_pool_settle(p);
    }
}

SIM_API(cuMemPoolTrimTo, (void *pool, size_t most), (pool, most), SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || p->imported) return CUDA_ERROR_INVALID_VALUE;
    sim_pool_shrink(p, most);
    return CUDA_SUCCESS;
}

static bool is_reuse(int attribute) {
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FIRST && attribute <= CU_MEMPOOL_ATTR_REUSE_LAST;
}

SIM_API(cuMemPoolSetAttribute, (void *pool, int attribute, void *value), (pool, attribute, value),
        SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || p->imported || !value) return CUDA_ERROR_INVALID_VALUE;
    if (is_reuse(attribute)) p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FIRST] = *(int *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) p->threshold = *(uint64_t *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && !*(uint64_t *)value) p->reserved_high = p->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && !*(uint64_t *)value) p->used_high = p->used;
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAttribute, (void *pool, int attribute, void *value), (pool, attribute, value),
        SIM_HEALTHY | SIM_UNSAFE) {
    const struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || p->imported || !value) return CUDA_ERROR_INVALID_VALUE;
    if (is_reuse(attribute)) *(int *)value = p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FIRST];
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) *(uint64_t *)value = p->threshold;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) *(uint64_t *)value = p->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) *(uint64_t *)value = p->reserved_high;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT) *(uint64_t *)value = p->used;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) *(uint64_t *)value = p->used_high;
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
