/* cuMem.c - the entry points that allocate, free and describe memory of devices and of the host. */
#include "driver.h"

#define PITCH_ALIGNMENT 512

SIM_API(cuMemAlloc_v2, (CUdeviceptr * out, size_t bytes), (out, bytes), SIM_CTX | SIM_UNSAFE) {
    return sim_alloc_device(out, bytes);
}

SIM_API(cuMemAllocPitch_v2,
        (CUdeviceptr * out, size_t *pitch, size_t width, size_t height, unsigned element),
        (out, pitch, width, height, element), SIM_CTX | SIM_UNSAFE) {
    if (!pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (row < width || height > SIZE_MAX / row) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_alloc_device(out, row * height);
    if (!result) *pitch = row;
    return result;
}

SIM_API(cuMemFree_v2, (CUdeviceptr address), (address), SIM_HEALTHY | SIM_UNSAFE) {
    if (!address)
        return sim_context_need() == CUDA_ERROR_CONTEXT_IS_DESTROYED
                ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                : CUDA_SUCCESS;
    return sim_free_device(address);
}

SIM_API(cuMemGetInfo_v2, (size_t * available, size_t *total), (available, total), SIM_CTX) {
    struct sim_device *d = sim_self.context->device;
    if (available) *available = d->memory - sim_mem_used(d);
    if (total) *total = d->memory;
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *bytes, CUdeviceptr address),
        (base, bytes, address), SIM_CTX) {
    struct sim_range r;
    if (!sim_memory_at(address, &r) ||
            (r.kind == SIM_MEM_MAPPED ? !r.viewers : !sim_context_reaches(sim_self.context, &r)))
        return CUDA_ERROR_NOT_FOUND;
    if (base) *base = r.lo;
    if (bytes) *bytes = r.hi - r.lo;
    return CUDA_SUCCESS;
}

/* ---- host memory ---- */

SIM_API(cuMemAllocHost_v2, (void **out, size_t bytes), (out, bytes), SIM_CTX | SIM_UNSAFE) {
    return sim_alloc_host(out, bytes, 0);
}
SIM_API(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags), (out, bytes, flags),
        SIM_CTX | SIM_UNSAFE) {
    return sim_alloc_host(out, bytes, flags);
}

SIM_API(cuMemFreeHost, (void *p), (p), SIM_HEALTHY | SIM_UNSAFE) {
    return p ? sim_free_host(p, SIM_MEM_PINNED, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}
SIM_API(cuMemHostUnregister, (void *p), (p), SIM_HEALTHY | SIM_UNSAFE) {
    if (!p || sim_mem_in_window((uintptr_t)p)) return CUDA_ERROR_INVALID_VALUE;
    return sim_free_host(p, SIM_MEM_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* Whether all of it is readable, and writable unless read_only: from the system's list of mappings,
   which is ordered by address. */
static bool accessible(uint64_t lo, uint64_t hi, bool read_only) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096], rights[5];
    unsigned long long from, to;
    if (!maps) return true; /* cannot check without the list */
    while (lo < hi && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %4s", &from, &to, rights) == 3 && from <= lo && lo < to) {
            if (rights[0] != 'r' || (rights[1] != 'w' && !read_only)) break;
            lo = to;
        }
    fclose(maps);
    return lo >= hi;
}

SIM_API_ALSO(cuMemHostRegister_v2, cuMemHostRegister, (void *p, size_t bytes, unsigned flags),
        (p, bytes, flags), SIM_CTX | SIM_UNSAFE) {
    if (!p || !bytes || flags & ~(unsigned)CU_MEMHOSTREGISTER_ALL || (uintptr_t)p + bytes < bytes ||
            sim_mem_in_window((uintptr_t)p))
        return CUDA_ERROR_INVALID_VALUE;
    if (!accessible((uintptr_t)p, (uintptr_t)p + bytes, flags & CU_MEMHOSTREGISTER_READ_ONLY))
        return CUDA_ERROR_INVALID_VALUE;
    int result = sim_mem_register(sim_self.context, p, bytes,
            (flags & ~(unsigned)CU_MEMHOSTREGISTER_READ_ONLY) | SIM_HOST_MAPPED);
    if (result || !(flags & CU_MEMHOSTREGISTER_IOMEMORY)) return result;
    sim_mem_remove((uintptr_t)p); /* as measured: it overlaps nothing, but is ordinary memory */
    return CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr * out, void *p, unsigned flags), (out, p, flags),
        SIM_CTX) {
    struct sim_range r;
    if (!out || flags || !sim_host_range(p, &r) || r.kind == SIM_MEM_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (uintptr_t)p;
    return CUDA_SUCCESS;
}

SIM_API(cuMemHostGetFlags, (unsigned *flags, void *p), (flags, p), SIM_CTX) {
    struct sim_range r;
    if (!flags || !sim_host_range(p, &r)) return CUDA_ERROR_INVALID_VALUE;
    /* of virtual memory, as measured */
    *flags = r.kind == SIM_MEM_MAPPED ? SIM_HOST_PORTABLE | SIM_HOST_MAPPED : r.flags;
    return CUDA_SUCCESS;
}

/* ---- pointer attributes ---- */

SIM_API(cuPointerGetAttribute, (void *out, int attribute, CUdeviceptr address),
        (out, attribute, address), SIM_HEALTHY) {
    struct sim_range r;
    if (!out || !sim_memory_at(address, &r)) return CUDA_ERROR_INVALID_VALUE;
    /* only this attribute needs a context, as measured */
    const bool device_pointer = attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
    int result = device_pointer ? sim_context_need() : CUDA_SUCCESS;
    if (!result) result = sim_pointer_describe(out, attribute, address, &r);
    /* virtual memory without access has none, as measured */
    return !result && device_pointer && r.kind == SIM_MEM_MAPPED && !*(CUdeviceptr *)out
            ? CUDA_ERROR_INVALID_VALUE
            : result;
}

SIM_API(cuPointerGetAttributes, (unsigned count, int *attributes, void **out, CUdeviceptr address),
        (count, attributes, out, address), SIM_HEALTHY) {
    struct sim_range r;
    if (!count || !attributes || !out) return CUDA_ERROR_INVALID_VALUE;
    const bool is_ours = sim_memory_at(address, &r);
    for (unsigned i = 0; i < count; i++)
        if (!out[i]) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        int result = sim_pointer_describe(out[i], attributes[i], address, is_ours ? &r : NULL);
        if (result && attributes[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER) return result;
    }
    return CUDA_SUCCESS;
}
