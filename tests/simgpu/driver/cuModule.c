/* cuModule.c - the entry points of modules. */
#include "driver.h"

SIM_API(cuModuleLoadData, (void **out, const void *text), (out, text), SIM_CTX) {
    return sim_module_load(out, text, SIZE_MAX, 0, NULL, NULL);
}
SIM_API(cuModuleLoadDataEx, (void **out, const void *text, unsigned n, int *options, void **values),
        (out, text, n, options, values), SIM_CTX) {
    return sim_module_load(out, text, SIZE_MAX, n, options, values);
}

/* A GPU's driver accepts PTX text here, too. */
SIM_API(cuModuleLoadFatBinary, (void **out, const void *image), (out, image), SIM_CTX) {
    return sim_module_load(out, image, SIZE_MAX, 0, NULL, NULL);
}

SIM_API(cuModuleLoad, (void **out, const char *path), (out, path), SIM_CTX) {
    char *text;
    size_t size;
    if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_read_file(path, &text, &size);
    if (result) return result;
    result = sim_module_load(out, text, size, 0, NULL, NULL);
    free(text);
    return result;
}

/* As measured, captures forbid it only for a module that there is. */
SIM_API(cuModuleUnload, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    int result = sim_capture_forbids();
    if (result) return result;
    if (m->siblings) return CUDA_ERROR_NOT_PERMITTED; /* a library's */
    result = sim_drain(m->context, NULL);
    /* another thread may have unloaded it first */
    if (!result && (m = sim_find(SIM_H_MODULE, handle))) sim_module_free(m);
    return result;
}

/* What is loaded when differs from a GPU's driver and shows nowhere else. */
SIM_API(cuModuleGetLoadingMode, (int *mode), (mode), SIM_INIT) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = sim_settings.eager ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunction, (void **out, void *handle, const char *name), (out, handle, name),
        SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    const int i = sim_find_name(m->by_name, m->nfunctions, name);
    if (i < 0) return CUDA_ERROR_NOT_FOUND;
    const uint64_t found = m->functions[i].handle;
    const int result = sim_function_need(&m->functions[i]);
    if (!result) *out = SIM_HANDLE(found);
    return result;
}

SIM_API(cuModuleGetGlobal_v2,
        (CUdeviceptr * address, size_t *bytes, void *handle, const char *name),
        (address, bytes, handle, name), SIM_HEALTHY) {
    const struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (address) *address = 0;
    if (bytes) *bytes = 0;
    return sim_module_global(m, name, address, bytes);
}

SIM_API(cuModuleGetFunctionCount, (unsigned *count, void *handle), (count, handle), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = m->nfunctions;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleEnumerateFunctions, (void **out, unsigned count, void *handle),
        (out, count, handle), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && i < m->nfunctions; i++) {
        out[i] = SIM_HANDLE(m->functions[i].handle);
        const int result = sim_function_need(&m->functions[i]);
        if (result || !(m = sim_find(SIM_H_MODULE, handle))) return result;
    }
    return CUDA_SUCCESS;
}
