/* alloc.c - memory of devices and of the host: allocated, freed, described. The bytes and the table
   of ranges are in base/memory.c. */
#include "objects.h"

/* Without sim_lock, because poisoning takes time; the context may be destroyed meanwhile. */
int sim_alloc_device(CUdeviceptr *out, uint64_t bytes) {
    struct sim_context *c = sim_self.context;
    const void *handle = SIM_HANDLE(c->handle);
    uint64_t address;
    if (!out || !bytes) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&sim_lock);
    int result = sim_mem_alloc(c->device, c, bytes, SIM_MEM_DEVICE, &address);
    pthread_mutex_lock(&sim_lock);
    if (result && sim_pools_shrink(c->device))
        result = sim_mem_alloc(c->device, c, bytes, SIM_MEM_DEVICE, &address);
    if (result) return result;
    if (!sim_context_still(c, handle)) {
        sim_mem_remove(address);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *out = address;
    return CUDA_SUCCESS;
}

bool sim_memory_at(uint64_t address, struct sim_range *r) {
    return sim_mem_find_for_call(address, 1, false, r);
}

/* NULL: all devices. */
static int drain_all(struct sim_device *device) {
    int result = device ? sim_drain(NULL, device) : CUDA_SUCCESS;
    for (int i = 0; i < sim_device_count && !device && !result; i++)
        result = sim_drain(NULL, &sim_devices[i]);
    return result;
}

/* Waits for the device's work as a GPU does, so that nothing in flight loses its memory; not for
   memory of a pool, as documented. */
int sim_free_device(CUdeviceptr address) {
    struct sim_range r;
    if (sim_block_free_cached(address)) return CUDA_SUCCESS;
    const bool known = sim_memory_at(address, &r);
    if (known && r.kind == SIM_MEM_MANAGED && r.managed->is_variable)
        return CUDA_ERROR_INVALID_VALUE;
    if (known && r.pool && sim_context_need() == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!sim_mem_mark_freeing(address, &r)) return CUDA_ERROR_INVALID_VALUE;
    if (r.pool && sim_block_free_coming(&r)) return CUDA_SUCCESS;
    int result = r.kind == SIM_MEM_POOL ? CUDA_SUCCESS
                                        : drain_all(r.kind == SIM_MEM_MANAGED ? NULL : r.device);
    /* a kernel failed meanwhile: other threads may still use the memory */
    if (result) return result;
    if (r.kind == SIM_MEM_MANAGED) {
        struct sim_range now; /* its context may have ended meanwhile */
        if (sim_memory_at(address, &now) && now.id == r.id) sim_managed_free(address);
        return result;
    }
    pthread_mutex_unlock(&sim_lock);
    sim_mem_remove(address);
    pthread_mutex_lock(&sim_lock);
    if (r.pool) sim_pool_freed(&r);
    return result;
}

/* ---- host memory: with unified addressing all of it is portable and mapped, and its device
   address is its host address. As measured, its flags always report mapped, report portable only
   for registered memory, and never report read-only. ---- */

int sim_alloc_host(void **out, size_t bytes, unsigned flags) {
    if (!out || flags & ~(unsigned)CU_MEMHOSTALLOC_ALL) return CUDA_ERROR_INVALID_VALUE;
    if (!bytes) {
        *out = NULL;
        return CUDA_SUCCESS;
    }
    uint64_t address;
    flags = (flags & ~(unsigned)SIM_HOST_PORTABLE) | SIM_HOST_MAPPED;
    int result = sim_mem_pin(sim_self.context, bytes, flags, &address);
    if (!result) *out = (void *)(uintptr_t)address;
    return result;
}

bool sim_host_range(const void *p, struct sim_range *r) {
    return sim_mem_find(NULL, (uintptr_t)p, 1, r) &&
            (r->kind == SIM_MEM_MAPPED ? !r->device : !sim_mem_in_window((uintptr_t)p));
}

int sim_free_host(void *p, enum sim_mem_kind kind, int unknown) {
    struct sim_range r;
    if (!sim_host_range(p, &r)) return unknown;
    if (r.lo != (uintptr_t)p || r.kind != kind) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_drain(NULL, r.context->device);
    if (result) return result;
    pthread_mutex_unlock(&sim_lock);
    sim_mem_remove((uintptr_t)p);
    pthread_mutex_lock(&sim_lock);
    return result;
}

/* ---- pointer attributes ---- */

static int ordinal_of(const struct sim_range *r) {
    return !r                           ? CU_DEVICE_INVALID
            : r->device                 ? r->device->ordinal
            : r->context                ? r->context->device->ordinal
            : r->kind == SIM_MEM_MAPPED ? 0 /* of the host: as measured */
                                        : r->pool->device->ordinal;
}

/* Of virtual memory: what the current context's device may do, as documented. */
static int access_of(const struct sim_range *r) {
    const struct sim_context *current = sim_context_current();
    if (!r || (r->kind == SIM_MEM_MAPPED && !current)) return SIM_NOTHING;
    return r->kind == SIM_MEM_MAPPED ? sim_virtual_access_of(r, current->device) : SIM_READ_WRITE;
}

/* r is NULL for memory that is not ours: then every attribute is 0, except that the memory is the
   host's, as measured; and those of reserved addresses where nothing is mapped. */
int sim_pointer_describe(void *out, int attribute, CUdeviceptr address, const struct sim_range *r) {
    const bool device = r && r->device;
    struct sim_range all; /* the reservation */
    const bool is_reserved = sim_mem_reservation(address, &all);
    if (!is_reserved && r) all = *r;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(void **)out = r && r->context ? SIM_HANDLE(r->context->handle) : NULL;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = !r ? 0 : device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: { /* the address by which the current context may
                                                   access it */
        struct sim_context *current = sim_context_current();
        *(CUdeviceptr *)out = r && current && sim_context_reaches(current, r) ? address : 0;
        break;
    }
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: {
        const bool hidden = (device && r->kind != SIM_MEM_MANAGED) || (!r && is_reserved);
        *(void **)out = !hidden ? SIM_HANDLE(address) : NULL;
        if (hidden) return CUDA_ERROR_INVALID_VALUE;
        break;
    }
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: /* no token was ever issued */
        if (!device) return CUDA_ERROR_INVALID_VALUE;
        memset(out, 0, 16);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)out = r ? r->id : 0; break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: /* not what is mapped twice, as measured */
        *(int *)out = device && !(r->physical && r->physical->mappings > 1);
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(int *)out = device && !r->delta; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(int *)out = r && r->kind == SIM_MEM_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(int *)out = 0; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)out = ordinal_of(r); break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *(CUdeviceptr *)out = r ? r->lo : 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)out = r || is_reserved ? all.lo : 0;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *(size_t *)out = r ? r->hi - r->lo : 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)out = r || is_reserved ? all.hi - all.lo : 0;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(int *)out = r != NULL; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)out = r && r->physical ? (uint64_t)r->physical->properties.requestedHandleTypes
                                            : 0;
        break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *(int *)out = access_of(r); break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(void **)out = r && r->pool ? SIM_HANDLE(r->pool->name) : NULL;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
