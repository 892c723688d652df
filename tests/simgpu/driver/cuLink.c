/* cuLink.c - the entry points that link PTX texts. */
#include "driver.h"

SIM_API_ALSO(cuLinkCreate_v2, cuLinkCreate, (unsigned n, int *options, void **values, void **out),
        (n, options, values, out), SIM_CTX) {
    return out ? sim_linker_new(n, options, values, out) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_ALSO(cuLinkAddData_v2, cuLinkAddData,
        (void *handle, int type, void *data, size_t size, const char *name, unsigned n,
                int *options, void **values),
        (handle, type, data, size, name, n, options, values), SIM_HEALTHY) {
    if (!sim_get(SIM_H_LINK, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || size > SIZE_MAX - SIM_TAIL) return CUDA_ERROR_INVALID_VALUE;
    char *text = malloc(size + SIM_TAIL);
    if (!text) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text, data, size);
    memset(text + size, 0, SIM_TAIL);
    return sim_linker_add(handle, type, text, size, name, n, options, values);
}

SIM_API_ALSO(cuLinkAddFile_v2, cuLinkAddFile,
        (void *handle, int type, const char *path, unsigned n, int *options, void **values),
        (handle, type, path, n, options, values), SIM_HEALTHY) {
    if (!sim_get(SIM_H_LINK, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    char *text;
    size_t bytes;
    const int result = sim_read_file(path, &text, &bytes);
    if (result) return result;
    if (sim_is_wrapper(text)) memset(text, 0, 4); /* its pointers are not of this process: 200 */
    return sim_linker_add(handle, type, text, bytes, path, n, options, values);
}

SIM_API(cuLinkComplete, (void *handle, void **out, size_t *size), (handle, out, size),
        SIM_HEALTHY) {
    return sim_linker_complete(handle, out, size);
}

SIM_API(cuLinkDestroy, (void *handle), (handle), SIM_INIT) {
    struct sim_linker *s = sim_get(SIM_H_LINK, handle);
    if (!s) return CUDA_ERROR_INVALID_HANDLE;
    sim_linker_free(s);
    return CUDA_SUCCESS;
}
