/* cuMemPool.c - the entry points of memory pools, and those that allocate and free in stream
   order. */
#include "driver.h"

SIM_API_STREAM(cuMemAllocAsync, _ptsz, (CUdeviceptr * out, size_t bytes, void *stream),
        (out, bytes, stream), SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_unsafe(stream, &s);
    return result ? result : sim_pool_alloc(out, bytes, s->context->device->current_pool, s);
}

SIM_API_STREAM(cuMemAllocFromPoolAsync, _ptsz,
        (CUdeviceptr * out, size_t bytes, void *pool, void *stream), (out, bytes, pool, stream),
        SIM_HEALTHY) {
    struct sim_stream *s;
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    int result = sim_stream_use_unsafe(stream, &s);
    if (result) return result;
    return p ? sim_pool_alloc(out, bytes, p, s) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_STREAM(cuMemFreeAsync, _ptsz, (CUdeviceptr address, void *stream), (address, stream),
        SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_unsafe(stream, &s);
    if (result || !address) return result;
    return sim_free_async(address, s);
}

/* No driver has these two: gpuexec calls them for freed blocks that it keeps, so that a use of such
   a block is found. */
SIM_API_STREAM(simgpuMemCacheAsync, _ptsz, (CUdeviceptr address, void *stream), (address, stream),
        SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_unsafe(stream, &s);
    return result ? result : sim_block_cache(address, s);
}
SIM_API_STREAM(simgpuMemUncacheAsync, _ptsz, (CUdeviceptr address, size_t bytes, void *stream),
        (address, bytes, stream), SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_unsafe(stream, &s);
    return result ? result : sim_block_uncache(address, bytes, s);
}

/* ---- pools ---- */

enum { POSIX_FILE = 1, FABRIC = 8 }; /* CUmemAllocationHandleType */

static bool location_bad(const CUmemPoolProps *props) {
    if (props->location.type == CU_MEM_LOCATION_TYPE_HOST)
        return sim_settings.driver_version < 13000 || props->handleTypes;
    if (props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return sim_settings.driver_version < 12020 || props->location.id != 0;
    return props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->location.id < 0 ||
            props->location.id >= sim_device_count;
}

/* Memory of a managed pool, or of one on the host, is the host's. */
SIM_API(cuMemPoolCreate, (void **pool, const CUmemPoolProps *props), (pool, props),
        SIM_HEALTHY | SIM_UNSAFE) {
    static const unsigned char zeros[sizeof props->reserved];
    int supported = 0;
    if (!pool || !props || location_bad(props) || memcmp(props->reserved, zeros, sizeof zeros) ||
            (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED &&
                    props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED) ||
            props->handleTypes & ~(POSIX_FILE | FABRIC))
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

/* ---- which devices have access: the owner always, unless it is the host; others read and write,
   or nothing ---- */

enum { NO_ACCESS, READ_ONLY, READ_WRITE = 3 };

static bool owns(const struct sim_pool *p, int device) {
    return !p->pages && p->device->ordinal == device;
}

/* 0, or why it cannot change so */
static int access_of(const struct sim_pool *p, const CUmemAccessDesc *a) {
    const int d = a->location.id;
    if (p->on_host && a->location.type == CU_MEM_LOCATION_TYPE_HOST && a->flags == READ_WRITE)
        return CUDA_SUCCESS; /* it has that */
    if (a->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (d < 0 || d >= sim_device_count ||
            (d != p->device->ordinal && !p->on_host && !sim_peers(p->device, &sim_devices[d])))
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
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) continue;
        viewers = list[i].flags ? viewers | 1u << list[i].location.id
                                : viewers & ~(1u << list[i].location.id);
    }
    p->viewers = viewers;
    sim_mem_share(p, viewers);
    return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAccess, (unsigned *flags, void *pool, CUmemLocation *location),
        (flags, pool, location), SIM_HEALTHY | SIM_UNSAFE) {
    const struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!flags || !p || !location) return CUDA_ERROR_INVALID_VALUE;
    const bool device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (device ? location->id < 0 || location->id >= sim_device_count
               : location->type != CU_MEM_LOCATION_TYPE_HOST &&
                            location->type != CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return CUDA_ERROR_INVALID_VALUE;
    const bool can = device ? owns(p, location->id) || p->viewers >> location->id & 1
                            : p->on_host && location->type == CU_MEM_LOCATION_TYPE_HOST;
    *flags = can ? READ_WRITE : NO_ACCESS;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceSetMemPool, (CUdevice device, void *pool), (device, pool), SIM_HEALTHY) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || device < 0 || device >= sim_device_count || p->on_host ||
            p->device != &sim_devices[device])
        return CUDA_ERROR_INVALID_VALUE;
    p->device->current_pool = p;
    return CUDA_SUCCESS;
}

/* Memory in use remains, until it is freed. */
SIM_API(cuMemPoolDestroy, (void *pool), (pool), SIM_INIT | SIM_UNSAFE) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!p || p == p->device->pool) return CUDA_ERROR_INVALID_VALUE;
    sim_pool_end(p);
    return CUDA_SUCCESS;
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
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && !*(uint64_t *)value)
        p->reserved_high = p->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && !*(uint64_t *)value)
        p->used_high = p->used;
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
