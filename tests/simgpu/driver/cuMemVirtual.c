/* cuMemVirtual.c - the entry points of virtual memory: allocations without an address, reserved
   addresses, and mappings between them. As measured, captures allow all of them, and an error of a
   kernel stops none of them: not cuMemCreate, cuMemUnmap, cuMemRelease and cuMemAddressFree, and it
   is assumed of the others. */
#include "driver.h"
#include <unistd.h>

/* ---- allocations ---- */

/* 0, or why there is no such memory, wherever it is. Unknown types of handles, and any usage, are
   accepted, as measured. */
static int kind_bad(const CUmemAllocationProp *is) {
    static const unsigned char zeros[sizeof is->allocFlags.reserved];
    if (is->type != CU_MEM_ALLOCATION_TYPE_PINNED || is->win32HandleMetaData ||
            memcmp(is->allocFlags.reserved, zeros, sizeof zeros) ||
            is->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC ||
            is->requestedHandleTypes & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT))
        return CUDA_ERROR_INVALID_VALUE;
    return is->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC ||
                    is->allocFlags.gpuDirectRDMACapable
            ? CUDA_ERROR_NOT_SUPPORTED
            : CUDA_SUCCESS;
}
/* 0, or why no memory is there. */
static int place_bad(const CUmemAllocationProp *is) {
    const CUmemLocation l = is->location;
    bool good;
    if (l.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return sim_device_at(l.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    if (l.type == CU_MEM_LOCATION_TYPE_HOST)
        good = sim_settings.driver_version >= 13000 && !is->requestedHandleTypes;
    else
        good = l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA && sim_settings.driver_version >= 12020 &&
                !l.id;
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool whole(uint64_t bytes) { return bytes && bytes % SIM_MEM_GRANULARITY == 0; }

SIM_API(cuMemGetAllocationGranularity,
        (size_t * out, const CUmemAllocationProp *properties, unsigned option),
        (out, properties, option), SIM_INIT) {
    if (!out || !properties || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    const int result = kind_bad(properties);
    if (!result) *out = SIM_MEM_GRANULARITY;
    return result;
}

SIM_API(cuMemCreate,
        (CUmemGenericAllocationHandle * handle, size_t bytes, const CUmemAllocationProp *properties,
                unsigned long long flags),
        (handle, bytes, properties, flags), SIM_INIT) {
    if (!handle || !properties || flags || !bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!whole(bytes))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "%llu bytes are not a multiple of %d",
                (unsigned long long)bytes, SIM_MEM_GRANULARITY);
    int result = kind_bad(properties);
    if (!result) result = place_bad(properties);
    if (result) return result;
    CUmemAllocationProp is = *properties;
    is.allocFlags.compressionType = 0; /* a hint, for what there is not */
    struct sim_device *d = is.location.type == CU_MEM_LOCATION_TYPE_DEVICE
            ? sim_device_at(is.location.id)
            : NULL;
    uint64_t made;
    const int failed = sim_physical_new(d, bytes, &is, &made);
    if (!failed) *handle = made;
    return failed;
}

SIM_API(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle), SIM_INIT) {
    struct sim_physical *p = sim_physical_at(handle);
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    sim_physical_release(p);
    return CUDA_SUCCESS;
}

SIM_API(cuMemGetAllocationPropertiesFromHandle,
        (CUmemAllocationProp * out, CUmemGenericAllocationHandle handle), (out, handle), SIM_INIT) {
    const struct sim_physical *p = sim_physical_at(handle);
    if (!out || !p) return CUDA_ERROR_INVALID_VALUE;
    *out = p->properties;
    return CUDA_SUCCESS;
}

SIM_API(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *address),
        (handle, address), SIM_INIT) {
    struct sim_range r;
    if (!handle || !sim_virtual_mapping((uintptr_t)address, &r)) return CUDA_ERROR_INVALID_VALUE;
    r.physical->refs++;
    *handle = r.physical->handle;
    return CUDA_SUCCESS;
}

SIM_API(cuMemExportToShareableHandle,
        (void *out, CUmemGenericAllocationHandle handle, int type, unsigned long long flags),
        (out, handle, type, flags), SIM_INIT) {
    const struct sim_physical *p = sim_physical_at(handle);
    if (!out || !p || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    if (!(p->properties.requestedHandleTypes & type))
        return sim_because(
                CUDA_ERROR_INVALID_VALUE, "the memory was created without this type of handle");
    return sim_physical_export(p, out);
}

SIM_API(cuMemImportFromShareableHandle,
        (CUmemGenericAllocationHandle * handle, void *given, int type), (handle, given, type),
        SIM_INIT) {
    if (!handle || !type) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
    uint64_t made;
    const int result = sim_physical_import((int)(intptr_t)given, &made);
    if (!result) *handle = made;
    return result;
}

/* ---- addresses ---- */

SIM_API(cuMemAddressReserve,
        (CUdeviceptr * out, size_t bytes, size_t alignment, CUdeviceptr hint,
                unsigned long long flags),
        (out, bytes, alignment, hint, flags), SIM_INIT) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!out || flags || !whole(bytes) || hint % page || alignment & (alignment - 1))
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t address = sim_mem_reserve_addresses(
            bytes, alignment > SIM_MEM_GRANULARITY ? alignment : SIM_MEM_GRANULARITY, hint);
    if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = address;
    return CUDA_SUCCESS;
}

SIM_API(cuMemAddressFree, (CUdeviceptr address, size_t bytes), (address, bytes), SIM_INIT) {
    struct sim_range r, mapped;
    if (!sim_mem_reservation(address, &r) || r.lo != address || r.hi - r.lo != bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_mem_mapping(address, &mapped) && mapped.lo < r.hi)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "memory is mapped at 0x%llx",
                (unsigned long long)mapped.lo);
    sim_mem_free_addresses(address);
    return CUDA_SUCCESS;
}

/* ---- mappings ---- */

static bool range_bad(CUdeviceptr address, size_t bytes) {
    return address % SIM_MEM_GRANULARITY || !whole(bytes) || address + bytes < address;
}

SIM_API(cuMemMap,
        (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                unsigned long long flags),
        (address, bytes, offset, handle, flags), SIM_INIT) {
    struct sim_physical *p = sim_physical_at(handle);
    if (!p || flags || !bytes) return CUDA_ERROR_INVALID_VALUE;
    if (offset || bytes != p->bytes)
        return sim_because(CUDA_ERROR_NOT_SUPPORTED,
                "only all %llu bytes of the memory can be mapped", (unsigned long long)p->bytes);
    return range_bad(address, bytes) ? CUDA_ERROR_INVALID_VALUE : sim_virtual_map(p, address);
}

SIM_API(cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes), SIM_INIT) {
    return range_bad(address, bytes) ? CUDA_ERROR_INVALID_VALUE : sim_virtual_unmap(address, bytes);
}

SIM_API(cuMemSetAccess,
        (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list, size_t count),
        (address, bytes, list, count), SIM_INIT) {
    if (!list || !count || range_bad(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return sim_virtual_set_access(address, bytes, list, count);
}

SIM_API(cuMemGetAccess,
        (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address),
        (flags, location, address), SIM_INIT) {
    struct sim_range r;
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_memory_at(address, &r)) {
        *flags = SIM_NOTHING; /* as measured */
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE
                    ? !sim_device_at(location->id)
                    : location->type != CU_MEM_LOCATION_TYPE_HOST &&
                            location->type != CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = r.kind == SIM_MEM_MAPPED ? sim_virtual_access(&r, location) : SIM_NOTHING;
    return CUDA_SUCCESS;
}
