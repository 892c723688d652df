/* cuMemManaged.c - the entry points of managed memory: allocate, attach, prefetch, advise,
   query. */
#include "driver.h"

SIM_API(cuMemAllocManaged, (CUdeviceptr * out, size_t bytes, unsigned flags), (out, bytes, flags),
        SIM_HEALTHY | SIM_UNSAFE) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_context_need();
    if (result) return result;
    if (!bytes || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_managed_new(sim_self.context, bytes, flags, out);
}

/* ---- attaching ---- */

SIM_API_STREAM(cuStreamAttachMemAsync, _ptsz,
        (void *stream, CUdeviceptr address, size_t bytes, unsigned flags),
        (stream, address, bytes, flags), SIM_HEALTHY) {
    struct sim_stream *s;
    int result = sim_stream_use_now(stream, &s);
    if (result || (result = sim_capture_forbids())) return result;
    struct sim_managed *m = sim_managed_at(address, 1);
    if (!m || m->address != address || (bytes && bytes != m->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
            flags != CU_MEM_ATTACH_SINGLE)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_MEM_ATTACH_SINGLE && !stream && sim_stream_is_legacy(s))
        return CUDA_ERROR_INVALID_VALUE;
    m->attached = flags;
    return CUDA_SUCCESS;
}

/* ---- places ---- */

static CUmemLocation place_of_device(CUdevice d) {
    return (CUmemLocation){
        d == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, d
    };
}

SIM_API_STREAM(cuMemPrefetchAsync, _ptsz,
        (CUdeviceptr address, size_t bytes, CUdevice to, void *stream),
        (address, bytes, to, stream), SIM_HEALTHY) {
    return sim_managed_prefetch(address, bytes, place_of_device(to), 0, stream);
}
SIM_API_STREAM(cuMemPrefetchAsync_v2, _ptsz,
        (CUdeviceptr address, size_t bytes, CUmemLocation to, unsigned flags, void *stream),
        (address, bytes, to, flags, stream), SIM_HEALTHY) {
    return sim_managed_prefetch(address, bytes, to, flags, stream);
}

/* ---- advice ---- */

SIM_API(cuMemAdvise, (CUdeviceptr address, size_t bytes, unsigned advice, CUdevice device),
        (address, bytes, advice, device), SIM_CTX | SIM_UNSAFE) {
    return sim_managed_advise(address, bytes, advice, place_of_device(device));
}
SIM_API(cuMemAdvise_v2,
        (CUdeviceptr address, size_t bytes, unsigned advice, CUmemLocation location),
        (address, bytes, advice, location), SIM_CTX | SIM_UNSAFE) {
    const bool unknown = location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            (location.id < 0 || location.id >= sim_device_count);
    const int result = location.type - CU_MEM_LOCATION_TYPE_DEVICE > CU_MEM_LOCATION_TYPE_HOST_NUMA
            ? CUDA_ERROR_INVALID_VALUE
            : sim_managed_advise(address, bytes, advice, location);
    /* as measured */
    return result == CUDA_ERROR_INVALID_DEVICE && unknown ? CUDA_ERROR_INVALID_VALUE : result;
}

/* ---- queries: what is the same for all pages of the range ---- */

SIM_API(cuMemRangeGetAttribute,
        (void *out, size_t size, unsigned attribute, CUdeviceptr address, size_t bytes),
        (out, size, attribute, address, bytes), SIM_CTX) {
    return sim_managed_query(out, size, attribute, address, bytes);
}
SIM_API(cuMemRangeGetAttributes,
        (void **out, size_t *sizes, unsigned *attributes, size_t n, CUdeviceptr address,
                size_t bytes),
        (out, sizes, attributes, n, address, bytes), SIM_CTX) {
    int result = out && sizes && attributes && n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && !result; i++)
        if (sim_managed_query_bad(out[i], sizes[i], attributes[i]))
            result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && !result; i++)
        result = sim_managed_query(out[i], sizes[i], attributes[i], address, bytes);
    return result;
}
