/* cuArray.c - the entry points of arrays: cuArray and cuMipmappedArray. */
#include "driver.h"

/* 400, or 709 if its context was destroyed */
static int find(bool mipmapped, const void *handle, struct sim_array **out) {
    *out = mipmapped ? sim_mipmapped_at(handle) : sim_array_at(handle);
    return *out ? CUDA_SUCCESS : sim_not_there(handle);
}

SIM_API(cuArrayCreate_v2, (void **out, const CUDA_ARRAY_DESCRIPTOR *is), (out, is),
        SIM_CTX | SIM_UNSAFE) {
    if (!out || !is) return CUDA_ERROR_INVALID_VALUE;
    return sim_array_new(out,
            &(CUDA_ARRAY3D_DESCRIPTOR){ .Width = is->Width,
                    .Height = is->Height,
                    .Format = is->Format,
                    .NumChannels = is->NumChannels },
            0);
}
SIM_API(cuArray3DCreate_v2, (void **out, const CUDA_ARRAY3D_DESCRIPTOR *is), (out, is),
        SIM_CTX | SIM_UNSAFE) {
    return out && is ? sim_array_new(out, is, 0) : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuMipmappedArrayCreate, (void **out, const CUDA_ARRAY3D_DESCRIPTOR *is, unsigned levels),
        (out, is, levels), SIM_CTX | SIM_UNSAFE) {
    return out && is ? sim_array_new(out, is, levels ? levels : 1) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuArrayDestroy, (void *array), (array), SIM_CTX | SIM_UNSAFE) {
    struct sim_array *a;
    const int result = find(false, array, &a);
    return result ? result : sim_array_destroy(a);
}
SIM_API(cuMipmappedArrayDestroy, (void *array), (array), SIM_CTX | SIM_UNSAFE) {
    struct sim_array *a;
    const int result = find(true, array, &a);
    return result ? result : sim_array_destroy(a);
}

SIM_API(cuMipmappedArrayGetLevel, (void **out, void *array, unsigned level), (out, array, level),
        SIM_CTX) {
    struct sim_array *a;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    const int result = find(true, array, &a);
    return result ? result : sim_array_level(a, level, out);
}

SIM_API(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * out, void *array), (out, array),
        SIM_CTX) {
    struct sim_array *a;
    const int result = find(false, array, &a);
    if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE;
    *out = (CUDA_ARRAY_DESCRIPTOR){ a->is.Width, a->is.Height, a->is.Format, a->is.NumChannels };
    return CUDA_SUCCESS;
}
SIM_API(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * out, void *array), (out, array),
        SIM_CTX) {
    struct sim_array *a;
    const int result = find(false, array, &a);
    if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE;
    *out = a->is;
    return CUDA_SUCCESS;
}

/* As documented: only sparse arrays, those that are mapped later, and those of planes have what
   these describe. This device has none of them. As measured: the first two calls answer a NULL as
   an array without them, and do not look at the device. */
static int describe_none(bool mipmapped, const void *out, const void *array) {
    struct sim_array *a;
    const int result = out && array ? find(mipmapped, array, &a) : CUDA_SUCCESS;
    return result ? result : CUDA_ERROR_INVALID_VALUE;
}
SIM_API(cuArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES * out, void *array), (out, array),
        SIM_CTX) {
    return describe_none(false, out, array);
}
SIM_API(cuMipmappedArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES * out, void *array),
        (out, array), SIM_CTX) {
    return describe_none(true, out, array);
}
SIM_API(cuArrayGetMemoryRequirements,
        (CUDA_ARRAY_MEMORY_REQUIREMENTS * out, void *array, CUdevice device), (out, array, device),
        SIM_CTX) {
    (void)device;
    return describe_none(false, out, array);
}
SIM_API(cuMipmappedArrayGetMemoryRequirements,
        (CUDA_ARRAY_MEMORY_REQUIREMENTS * out, void *array, CUdevice device), (out, array, device),
        SIM_CTX) {
    (void)device;
    return describe_none(true, out, array);
}
SIM_API(cuArrayGetPlane, (void **out, void *array, unsigned plane), (out, array, plane), SIM_CTX) {
    struct sim_array *a;
    const int result = out ? find(false, array, &a) : CUDA_SUCCESS;
    (void)plane;
    return result ? result : CUDA_ERROR_INVALID_VALUE;
}
