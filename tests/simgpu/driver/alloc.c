/* alloc.c - the entry points that allocate, free and describe memory. The bytes and the table are in memory.c. */
#include "driver.h"
#include "../base/cudadefs.h"

#define PITCH_ALIGNMENT 512

/* Without sim_lock, because poisoning takes time; the context may be destroyed meanwhile. */
static int device_alloc(CUdeviceptr *out, uint64_t bytes) {
    struct sim_context *c = sim_self.context;
    const void *handle = SIM_HANDLE(c->handle);
    uint64_t address;
    if (!out || !bytes) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&sim_lock);
    int result = sim_mem_alloc(c->device, c, bytes, SIM_MEM_DEVICE, &address);
    pthread_mutex_lock(&sim_lock);
    if (result && sim_pools_shrink(c->device)) result = sim_mem_alloc(c->device, c, bytes, SIM_MEM_DEVICE, &address);
    if (result) return result;
    if (!sim_context_still(c, handle)) {
        sim_mem_remove(address);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *out = address;
    return CUDA_SUCCESS;
}

SIM_API(cuMemAlloc_v2, (CUdeviceptr *out, size_t bytes), (out, bytes), SIM_CTX | SIM_UNSAFE) {
    return device_alloc(out, bytes);
}

SIM_API(cuMemAllocPitch_v2, (CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element),
        (out, pitch, width, height, element), SIM_CTX | SIM_UNSAFE) {
    if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
    size_t row = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (row < width || height > SIZE_MAX / row) return CUDA_ERROR_INVALID_VALUE;
    int result = device_alloc(out, row * height);
    if (!result) *pitch = row;
    return result;
}

static bool known(uint64_t address, struct sim_range *r) { return sim_mem_find_for_call(address, 1, false, r); }

/* NULL: all devices. */
static int drain_all(struct sim_device *device) {
    int result = device ? sim_drain(NULL, device) : CUDA_SUCCESS;
    for (int i = 0; i < sim_device_count && !device && !result; i++) result = sim_drain(NULL, &sim_devices[i]);
    return result;
}

/* Waits for the device's work as a GPU does, so that nothing in flight loses its memory; not for memory of a pool, as
   documented. */
SIM_API(cuMemFree_v2, (CUdeviceptr address), (address), SIM_HEALTHY | SIM_UNSAFE) {
    struct sim_range r;
    if (!address)
        return sim_context_need() == CUDA_ERROR_CONTEXT_IS_DESTROYED ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
    if (known(address, &r) && r.kind == SIM_MEM_MANAGED && r.managed->is_variable) return CUDA_ERROR_INVALID_VALUE;
    if (known(address, &r) && r.pool && sim_context_need() == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!sim_mem_mark_freeing(address, &r)) return CUDA_ERROR_INVALID_VALUE;
    int result = r.kind == SIM_MEM_POOL ? CUDA_SUCCESS : drain_all(r.kind == SIM_MEM_MANAGED ? NULL : r.device);
    if (result) return result;                    /* a kernel failed meanwhile: other
                                                     threads may still use the memory */
    if (r.kind == SIM_MEM_MANAGED) {
        struct sim_range now;                     /* its context may have ended meanwhile */
        if (known(address, &now) && now.id == r.id) sim_managed_free(address);
        return result;
    }
    pthread_mutex_unlock(&sim_lock);
    sim_mem_remove(address);
    pthread_mutex_lock(&sim_lock);
    if (r.pool) sim_pool_freed(&r);
    return result;
}

SIM_API(cuMemGetInfo_v2, (size_t *available, size_t *total), (available, total), SIM_CTX) {
    struct sim_device *d = sim_self.context->device;
    if (available) *available = d->memory - sim_mem_used(d);
    if (total) *total = d->memory;
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetAddressRange_v2, (CUdeviceptr *base, size_t *bytes, CUdeviceptr address), (base, bytes, address),
        SIM_CTX) {
    struct sim_range r;
    if (!known(address, &r) || !sim_context_reaches(sim_self.context, &r)) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = r.lo;
    if (bytes) *bytes = r.hi - r.lo;
    return CUDA_SUCCESS;
}

/* ---- host memory: with unified addressing all of it is portable and mapped, and its device address is its host
   address. As measured, its flags always report mapped, report portable only for registered memory, and never report
   read-only. ---- */

enum { PORTABLE = 1, MAPPED = 2 };

static int host_alloc(void **out, size_t bytes, unsigned flags) {
    if (!out || flags & ~(unsigned)CU_MEMHOSTALLOC_ALL) return CUDA_ERROR_INVALID_VALUE;
    if (!bytes) {
        *out = NULL;
        return CUDA_SUCCESS;
    }
    uint64_t address;
    int result = sim_mem_pin(sim_self.context, bytes, (flags & ~(unsigned)PORTABLE) | MAPPED, &address);
    if (!result) *out = (void *)(uintptr_t)address;
    return result;
}
SIM_API(cuMemAllocHost_v2, (void **out, size_t bytes), (out, bytes), SIM_CTX | SIM_UNSAFE) {
    return host_alloc(out, bytes, 0);
}
SIM_API(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags), (out, bytes, flags), SIM_CTX | SIM_UNSAFE) {
    return host_alloc(out, bytes, flags);
}

static bool host_range(const void *p, struct sim_range *r) {
    return !sim_mem_in_window((uintptr_t)p) && sim_mem_find(NULL, (uintptr_t)p, 1, r);
}

static int host_remove(void *p, enum sim_mem_kind kind, int unknown) {
    struct sim_range r;
    if (!host_range(p, &r)) return unknown;
    if (r.lo != (uintptr_t)p || r.kind != kind) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_drain(NULL, r.context->device);
    if (result) return result;
    pthread_mutex_unlock(&sim_lock);
    sim_mem_remove((uintptr_t)p);
    pthread_mutex_lock(&sim_lock);
    return result;
}
SIM_API(cuMemFreeHost, (void *p), (p), SIM_HEALTHY | SIM_UNSAFE) {
    return p ? host_remove(p, SIM_MEM_PINNED, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}
SIM_API(cuMemHostUnregister, (void *p), (p), SIM_HEALTHY | SIM_UNSAFE) {
    if (!p || sim_mem_in_window((uintptr_t)p)) return CUDA_ERROR_INVALID_VALUE;
    return host_remove(p, SIM_MEM_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* Whether all of it is readable, and writable unless read_only: from the system's list of mappings, which is ordered by
   address. */
static bool accessible(uint64_t lo, uint64_t hi, bool read_only) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096], rights[5];
    unsigned long long from, to;
    if (!maps) return true;                       /* cannot check without the list */
    while (lo < hi && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %4s", &from, &to, rights) == 3 && from <= lo && lo < to) {
            if (rights[0] != 'r' || (rights[1] != 'w' && !read_only)) break;
            lo = to;
        }
    fclose(maps);
    return lo >= hi;
}

SIM_API_ALSO(cuMemHostRegister_v2, cuMemHostRegister, (void *p, size_t bytes, unsigned flags), (p, bytes, flags),
             SIM_CTX | SIM_UNSAFE) {
    if (!p || !bytes || flags & ~(unsigned)CU_MEMHOSTREGISTER_ALL || (uintptr_t)p + bytes < bytes
        || sim_mem_in_window((uintptr_t)p))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY) return CUDA_ERROR_NOT_SUPPORTED;
    if (!accessible((uintptr_t)p, (uintptr_t)p + bytes, flags & CU_MEMHOSTREGISTER_READ_ONLY))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_mem_register(sim_self.context, p, bytes,
                            (flags & ~(unsigned)CU_MEMHOSTREGISTER_READ_ONLY) | MAPPED);
}

SIM_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr *out, void *p, unsigned flags), (out, p, flags), SIM_CTX) {
    struct sim_range r;
    if (!out || flags || !host_range(p, &r) || r.kind == SIM_MEM_MANAGED) return CUDA_ERROR_INVALID_VALUE;
    *out = (uintptr_t)p;
    return CUDA_SUCCESS;
}

SIM_API(cuMemHostGetFlags, (unsigned *flags, void *p), (flags, p), SIM_CTX) {
    struct sim_range r;
    if (!flags || !host_range(p, &r)) return CUDA_ERROR_INVALID_VALUE;
    *flags = r.flags;
    return CUDA_SUCCESS;
}

/* ---- pointer attributes ---- */

/* r is NULL for memory that is not ours: then every attribute is 0, except that the memory is the host's, as
   measured. */
static int describe(void *out, int attribute, CUdeviceptr address, const struct sim_range *r) {
    bool device = r && r->device;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(void **)out = r && r->context ? SIM_HANDLE(r->context->handle) : NULL; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = !r ? 0 : device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: {                      /* the address by which the
                                                                        current context may access it */
        struct sim_context *current = sim_context_current();
        *(CUdeviceptr *)out = r && current && sim_context_reaches(current, r) ? address : 0;
        break;
    }
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        device &= r && r->kind != SIM_MEM_MANAGED;
        *(void **)out = !device ? SIM_HANDLE(address) : NULL;
        if (device) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:                           /* no token was ever issued */
        if (!device) return CUDA_ERROR_INVALID_VALUE;
        memset(out, 0, 16);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)out = r ? r->id : 0; break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(int *)out = device; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(int *)out = device && !r->delta; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(int *)out = r && r->kind == SIM_MEM_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(int *)out = 0; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)out = !r ? CU_DEVICE_INVALID : device ? r->device->ordinal : r->context ? r->context->device->ordinal :
                                                                             r->pool->device->ordinal;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)out = r ? r->lo : 0; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)out = r ? r->hi - r->lo : 0; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(int *)out = r != NULL; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(uint64_t *)out = 0; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *(int *)out = r ? 3 : 0; break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(void **)out = r && r->pool ? SIM_HANDLE(r->pool->name) : NULL; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuPointerGetAttribute, (void *out, int attribute, CUdeviceptr address), (out, attribute, address),
        SIM_HEALTHY) {
    struct sim_range r;
    if (!out || !known(address, &r)) return CUDA_ERROR_INVALID_VALUE;
    /* only this attribute needs a context, as measured */
    int result = attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ? sim_context_need() : CUDA_SUCCESS;
    return result ? result : describe(out, attribute, address, &r);
}

SIM_API(cuPointerGetAttributes, (unsigned count, int *attributes, void **out, CUdeviceptr address),
        (count, attributes, out, address), SIM_HEALTHY) {
    struct sim_range r;
    if (!count || !attributes || !out) return CUDA_ERROR_INVALID_VALUE;
    const bool is_ours = known(address, &r);
    for (unsigned i = 0; i < count; i++) if (!out[i]) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        int result = describe(out[i], attributes[i], address, is_ours ? &r : NULL);
        if (result && attributes[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER) return result;
    }
    return CUDA_SUCCESS;
}
