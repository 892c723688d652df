/* cuFunc.c - the entry points of functions. */
#include "driver.h"

#define FIND_FUNCTION(f, handle) \
    struct sim_function *f = sim_get(SIM_H_FUNCTION, handle); \
    if (!f) return CUDA_ERROR_INVALID_HANDLE
#define QUERY_FUNCTION(f, handle) /* where NULL is an argument like any other */ \
    if (!handle) return CUDA_ERROR_INVALID_VALUE; \
    FIND_FUNCTION(f, handle)

SIM_API(cuFuncGetAttribute, (int *value, int attribute, void *handle), (value, attribute, handle),
        SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    return value ? sim_attribute(f, &f->prefers, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuFuncSetAttribute, (void *handle, int attribute, int value), (handle, attribute, value),
        SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) value = value != 0;
    const int result = sim_prefer(f, &f->prefers, attribute, value);
    if (!result) f->own |= 1u << attribute;
    return result;
}

SIM_API(cuFuncGetName, (const char **name, void *handle), (name, handle), SIM_HEALTHY) {
    QUERY_FUNCTION(f, handle);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = f->func->name;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetModule, (void **out, void *handle), (out, handle), SIM_HEALTHY) {
    QUERY_FUNCTION(f, handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(f->module->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetParamInfo, (void *handle, size_t index, size_t *offset, size_t *bytes),
        (handle, index, offset, bytes), SIM_HEALTHY) {
    QUERY_FUNCTION(f, handle);
    return sim_param_info(f, index, offset, bytes);
}

SIM_API(cuFuncGetParamCount, (void *handle, size_t *count), (handle, count), SIM_HEALTHY) {
    QUERY_FUNCTION(f, handle);
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = f->func->nparams;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetCacheConfig, (void *handle, int config), (handle, config), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    if (config < 0 || config > 3)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Invalid CUfunc_cache value %d", config);
    f->prefers.cache_config = config;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetSharedMemConfig, (void *handle, int config), (handle, config), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    return f->func && config >= 0 && config <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuFuncLoad, (void *handle), (handle), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    return f->code ? CUDA_SUCCESS : CUDA_ERROR_FUNCTION_NOT_LOADED;
}

SIM_API(cuFuncIsLoaded, (int *state, void *handle), (state, handle), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = f->code ? CU_FUNCTION_LOADING_STATE_LOADED : 0;
    return CUDA_SUCCESS;
}
