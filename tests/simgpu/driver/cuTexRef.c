/* cuTexRef.c - the entry points of texture and surface references: cuTexRef, cuSurfRef,
   cuModuleGetTexRef, cuModuleGetSurfRef, cuParamSetTexRef. */
#include "driver.h"

static int find(bool is_surface, const void *handle, struct sim_reference **out) {
    *out = sim_reference_at(is_surface, handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int of_module(bool is_surface, void **out, const void *handle, const char *name) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
    return sim_module_reference(m, is_surface, name, out);
}
SIM_API(cuModuleGetTexRef, (void **out, void *module, const char *name), (out, module, name),
        SIM_HEALTHY) {
    return of_module(false, out, module, name);
}
SIM_API(cuModuleGetSurfRef, (void **out, void *module, const char *name), (out, module, name),
        SIM_HEALTHY) {
    return of_module(true, out, module, name);
}
SIM_API(cuTexRefCreate, (void **out), (out), SIM_CTX) {
    struct sim_reference *r = out ? sim_reference_new(sim_self.context, false, 0) : NULL;
    if (!r) return out ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(r->handle);
    return CUDA_SUCCESS;
}
/* That of a module ends with the module; this is no error, as measured. */
SIM_API(cuTexRefDestroy, (void *texture), (texture), SIM_CTX) {
    struct sim_reference *r;
    const int result = find(false, texture, &r);
    if (!result && !r->variable) sim_reference_free(r);
    return result;
}

/* A kernel finds the reference in its module. Measured: the unit is not looked at. */
SIM_API(cuParamSetTexRef, (void *function, int unit, void *texture), (function, unit, texture),
        SIM_HEALTHY) {
    struct sim_reference *r;
    (void)unit;
    if (!sim_get(SIM_H_FUNCTION, function)) return CUDA_ERROR_INVALID_HANDLE;
    return find(false, texture, &r);
}

/* ---- what they are bound to ---- */

/* overrides: the format becomes that of the array. A kernel reads the array's format anyway. */
static int bind_array(
        bool is_surface, const void *handle, bool mipmapped, void *array, bool overrides) {
    struct sim_reference *r;
    CUDA_RESOURCE_DESC resource = { .resType = mipmapped ? CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
                                                         : CU_RESOURCE_TYPE_ARRAY };
    const struct sim_array *a = mipmapped ? sim_mipmapped_at(array) : sim_array_at(array);
    int result = find(is_surface, handle, &r);
    if (result) return result;
    if (!a) return sim_not_there(array);
    /* measured: of a reference, but not of a surface object */
    if (is_surface && !(a->is.Flags & CUDA_ARRAY3D_SURFACE_LDST)) return CUDA_ERROR_INVALID_VALUE;
    if (mipmapped) resource.res.mipmap.hMipmappedArray = array;
    else resource.res.array.hArray = array;
    const unsigned format = a->is.Format, channels = a->is.NumChannels;
    if ((result = sim_reference_bind(r, &resource)) || !overrides) return result;
    r->format = format;
    r->channels = channels;
    return CUDA_SUCCESS;
}
SIM_API(cuTexRefSetArray, (void *texture, void *array, unsigned flags), (texture, array, flags),
        SIM_CTX) {
    if (flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
    return bind_array(false, texture, false, array, flags);
}
SIM_API(cuTexRefSetMipmappedArray, (void *texture, void *array, unsigned flags),
        (texture, array, flags), SIM_CTX) {
    if (flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
    return bind_array(false, texture, true, array, flags);
}
SIM_API(cuSurfRefSetArray, (void *surface, void *array, unsigned flags), (surface, array, flags),
        SIM_CTX) {
    return flags ? CUDA_ERROR_INVALID_VALUE : bind_array(true, surface, false, array, true);
}

SIM_API(cuTexRefSetAddress_v2, (size_t * offset, void *texture, CUdeviceptr address, size_t bytes),
        (offset, texture, address, bytes), SIM_CTX) {
    struct sim_reference *r;
    size_t before = 0;
    int result = find(false, texture, &r);
    if (!result && !address) { /* as measured: it is bound to nothing */
        if (!(result = sim_reference_settle(&r))) sim_reference_unbind(r);
        if (!result && offset) *offset = 0;
        return result;
    }
    if (!result) result = sim_reference_align(r, address, offset ? &before : NULL);
    if (!result)
        result = sim_reference_bind(r,
                &(CUDA_RESOURCE_DESC){ .resType = CU_RESOURCE_TYPE_LINEAR,
                        .res.linear = {
                                .devPtr = address - before, .sizeInBytes = bytes + before } });
    if (!result && offset) *offset = before;
    return result;
}
SIM_API_ALSO(cuTexRefSetAddress2D_v3, cuTexRefSetAddress2D_v2,
        (void *texture, const CUDA_ARRAY_DESCRIPTOR *is, CUdeviceptr address, size_t pitch),
        (texture, is, address, pitch), SIM_CTX) {
    struct sim_reference *r;
    const int result = find(false, texture, &r);
    if (result || !is) return CUDA_ERROR_INVALID_VALUE;
    const unsigned format = r->format, channels = r->channels;
    r->format = is->Format;
    r->channels = is->NumChannels;
    const int bound = sim_reference_bind(r,
            &(CUDA_RESOURCE_DESC){ .resType = CU_RESOURCE_TYPE_PITCH2D,
                    .res.pitch2D = { .devPtr = address,
                            .width = is->Width,
                            .height = is->Height,
                            .pitchInBytes = pitch } });
    if (bound && (r = sim_reference_at(false, texture))) {
        r->format = format;
        r->channels = channels;
        sim_reference_renew(r);
    }
    return bound;
}

static int get_bound(
        bool is_surface, const void *handle, unsigned type, const CUDA_RESOURCE_DESC **out) {
    struct sim_reference *r;
    const int result = find(is_surface, handle, &r);
    if (result) return result;
    *out = &r->resource;
    return r->is_bound && r->resource.resType == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuTexRefGetArray, (void **out, void *texture), (out, texture), SIM_CTX) {
    const CUDA_RESOURCE_DESC *is;
    const int result = get_bound(false, texture, CU_RESOURCE_TYPE_ARRAY, &is);
    if (!result && out) *out = is->res.array.hArray;
    return out ? result : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuSurfRefGetArray, (void **out, void *surface), (out, surface), SIM_CTX) {
    const CUDA_RESOURCE_DESC *is;
    const int result = get_bound(true, surface, CU_RESOURCE_TYPE_ARRAY, &is);
    if (!result && out) *out = is->res.array.hArray;
    return out ? result : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuTexRefGetMipmappedArray, (void **out, void *texture), (out, texture), SIM_CTX) {
    const CUDA_RESOURCE_DESC *is;
    const int result = get_bound(false, texture, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, &is);
    if (!result && out) *out = is->res.mipmap.hMipmappedArray;
    return out ? result : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuTexRefGetAddress_v2, (CUdeviceptr * out, void *texture), (out, texture), SIM_CTX) {
    const CUDA_RESOURCE_DESC *is;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    int result = get_bound(false, texture, CU_RESOURCE_TYPE_LINEAR, &is);
    if (!result) *out = is->res.linear.devPtr;
    else if (!(result = get_bound(false, texture, CU_RESOURCE_TYPE_PITCH2D, &is)))
        *out = is->res.pitch2D.devPtr;
    return result;
}

/* ---- how they sample: as measured, any value is accepted here. One that no texture can have is an
   error of a kernel that uses the reference. ---- */

/* SETS(name, (parameters), (arguments), condition, change of r): after the check. */
#define SETS(symbol, given, arguments, good, change) \
    SIM_API(symbol, given, arguments, SIM_CTX) { \
        struct sim_reference *r; \
        int result = find(false, texture, &r); \
        if (!result && !(good)) result = CUDA_ERROR_INVALID_VALUE; \
        if (!result) result = sim_reference_settle(&r); \
        if (result) return result; \
        change; \
        sim_reference_renew(r); \
        return CUDA_SUCCESS; \
    }
#define GETS(symbol, given, arguments, good, query) \
    SIM_API(symbol, given, arguments, SIM_CTX) { \
        struct sim_reference *r; \
        const int result = find(false, texture, &r); \
        if (result || !(good)) return CUDA_ERROR_INVALID_VALUE; \
        query; \
        return CUDA_SUCCESS; \
    }

static bool is_format(unsigned format, int channels) {
    const struct sim_format *f = sim_format_at(format);
    return f && channels > 0 && sim_format_bytes(f, (unsigned)channels);
}

SETS(cuTexRefSetFormat, (void *texture, unsigned format, int channels), (texture, format, channels),
        is_format(format, channels), (r->format = format, r->channels = (unsigned)channels))
SETS(cuTexRefSetAddressMode, (void *texture, int dim, unsigned mode), (texture, dim, mode),
        dim >= 0 && dim < 3, r->how.addressMode[dim] = mode)
SETS(cuTexRefSetFilterMode, (void *texture, unsigned mode), (texture, mode), true,
        r->how.filterMode = mode)
SETS(cuTexRefSetMipmapFilterMode, (void *texture, unsigned mode), (texture, mode), true,
        r->how.mipmapFilterMode = mode)
SETS(cuTexRefSetMipmapLevelBias, (void *texture, float bias), (texture, bias), true,
        r->how.mipmapLevelBias = bias)
SETS(cuTexRefSetMipmapLevelClamp, (void *texture, float least, float most), (texture, least, most),
        true, (r->how.minMipmapLevelClamp = least, r->how.maxMipmapLevelClamp = most))
SETS(cuTexRefSetMaxAnisotropy, (void *texture, unsigned most), (texture, most), true,
        r->how.maxAnisotropy = most)
SETS(cuTexRefSetBorderColor, (void *texture, float *color), (texture, color), color != NULL,
        memcpy(r->how.borderColor, color, sizeof r->how.borderColor))
SETS(cuTexRefSetFlags, (void *texture, unsigned flags), (texture, flags), true,
        r->how.flags = flags)

/* What is NULL is not written. */
static void get_format(const struct sim_reference *r, unsigned *format, int *channels) {
    if (format) *format = r->format;
    if (channels) *channels = (int)r->channels;
}
GETS(cuTexRefGetFormat, (unsigned *format, int *channels, void *texture),
        (format, channels, texture), true, get_format(r, format, channels))
GETS(cuTexRefGetAddressMode, (unsigned *mode, void *texture, int dim), (mode, texture, dim),
        mode &&dim >= 0 && dim < 3, *mode = r->how.addressMode[dim])
GETS(cuTexRefGetFilterMode, (unsigned *mode, void *texture), (mode, texture), mode,
        *mode = r->how.filterMode)
GETS(cuTexRefGetMipmapFilterMode, (unsigned *mode, void *texture), (mode, texture), mode,
        *mode = r->how.mipmapFilterMode)
GETS(cuTexRefGetMipmapLevelBias, (float *bias, void *texture), (bias, texture), bias,
        *bias = r->how.mipmapLevelBias)
GETS(cuTexRefGetMipmapLevelClamp, (float *least, float *most, void *texture),
        (least, most, texture), least &&most,
        (*least = r->how.minMipmapLevelClamp, *most = r->how.maxMipmapLevelClamp))
GETS(cuTexRefGetMaxAnisotropy, (int *most, void *texture), (most, texture), most,
        *most = (int)r->how.maxAnisotropy)
GETS(cuTexRefGetBorderColor, (float *color, void *texture), (color, texture), color,
        memcpy(color, r->how.borderColor, sizeof r->how.borderColor))
GETS(cuTexRefGetFlags, (unsigned *flags, void *texture), (flags, texture), flags,
        *flags = r->how.flags)
