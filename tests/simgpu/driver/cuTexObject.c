/* cuTexObject.c - the entry points of texture and surface objects: cuTexObject and cuSurfObject. */
#include "driver.h"

/* One limit for texels of all sizes. */
SIM_API(cuDeviceGetTexture1DLinearMaxWidth,
        (size_t * out, unsigned format, unsigned channels, CUdevice device),
        (out, format, channels, device), SIM_INIT) {
    enum { LINEAR_WIDTH = 69 }; /* CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH */
    const struct sim_format *f = sim_format_at(format);
    if (!out || !f || f->is_block || !sim_format_bytes(f, channels))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    *out = (size_t)sim_device_limit(sim_device_at(device), LINEAR_WIDTH);
    return CUDA_SUCCESS;
}

SIM_API(cuTexObjectCreate,
        (unsigned long long *out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                const CUDA_RESOURCE_VIEW_DESC *view),
        (out, resource, how, view), SIM_CTX) {
    uint64_t handle;
    if (!out || !resource || !how) return CUDA_ERROR_INVALID_VALUE;
    const int result = sim_texture_new(&handle, resource, how, view);
    if (!result) *out = handle;
    return result;
}
SIM_API(cuSurfObjectCreate, (unsigned long long *out, const CUDA_RESOURCE_DESC *resource),
        (out, resource), SIM_CTX) {
    uint64_t handle;
    if (!out || !resource) return CUDA_ERROR_INVALID_VALUE;
    const int result = sim_surface_new(&handle, resource);
    if (!result) *out = handle;
    return result;
}

SIM_API(cuTexObjectDestroy, (unsigned long long texture), (texture), SIM_CTX) {
    struct sim_view *v = sim_texture_view(texture);
    if (!v) return texture ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    sim_view_free(v);
    return CUDA_SUCCESS;
}
SIM_API(cuSurfObjectDestroy, (unsigned long long surface), (surface), SIM_CTX) {
    struct sim_view *v = sim_surface_view(surface);
    if (!v) return surface ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    sim_view_free(v);
    return CUDA_SUCCESS;
}

SIM_API(cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC * out, unsigned long long texture),
        (out, texture), SIM_CTX) {
    const struct sim_view *v = out ? sim_texture_view(texture) : NULL;
    if (!v) return CUDA_ERROR_INVALID_VALUE;
    *out = v->resource;
    return CUDA_SUCCESS;
}
SIM_API(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * out, unsigned long long surface),
        (out, surface), SIM_CTX) {
    const struct sim_view *v = out ? sim_surface_view(surface) : NULL;
    if (!v) return CUDA_ERROR_INVALID_VALUE;
    *out = v->resource;
    return CUDA_SUCCESS;
}
SIM_API(cuTexObjectGetTextureDesc, (CUDA_TEXTURE_DESC * out, unsigned long long texture),
        (out, texture), SIM_CTX) {
    const struct sim_view *v = out ? sim_texture_view(texture) : NULL;
    if (!v) return CUDA_ERROR_INVALID_VALUE;
    *out = v->how;
    return CUDA_SUCCESS;
}
SIM_API(cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC * out, unsigned long long texture),
        (out, texture), SIM_CTX) {
    const struct sim_view *v = out ? sim_texture_view(texture) : NULL;
    if (!v || !v->has_region) return CUDA_ERROR_INVALID_VALUE;
    *out = v->region;
    return CUDA_SUCCESS;
}
