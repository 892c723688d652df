/* cuTexObject.c - the entry points of texture and surface objects: cuTexObject and cuSurfObject. */
#include "driver.h"

SIM_API(cuDeviceGetTexture1DLinearMaxWidth,
        (size_t * out, unsigned format, unsigned channels, CUdevice device),
        (out, format, channels, device), SIM_INIT) {
    const struct sim_format *f = sim_format_at(format);
    if (!out || !f || f->is_block || !sim_format_bytes(f, channels))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    *out = sim_texture_linear_width(sim_device_at(device), sim_format_bytes(f, channels));
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

/* Measured: a number that is no object is no error. The object of a reference remains. */
static int destroy(struct sim_view *v) {
    if (v && !v->reference) sim_view_free(v);
    return CUDA_SUCCESS;
}
SIM_API(cuTexObjectDestroy, (unsigned long long texture), (texture), SIM_CTX) {
    return destroy(sim_texture_view(texture));
}
SIM_API(cuSurfObjectDestroy, (unsigned long long surface), (surface), SIM_CTX) {
    return destroy(sim_surface_view(surface));
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
/* Of a texture without a view it succeeds, as measured, here with zeros. */
SIM_API(cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC * out, unsigned long long texture),
        (out, texture), SIM_CTX) {
    const struct sim_view *v = out ? sim_texture_view(texture) : NULL;
    if (!v) return CUDA_ERROR_INVALID_VALUE;
    *out = v->region;
    return CUDA_SUCCESS;
}
