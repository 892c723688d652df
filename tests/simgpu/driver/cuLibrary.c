/* cuLibrary.c - the entry points of libraries and their kernels. */
#include "driver.h"

/* ---- libraries ---- */

static int library_options(unsigned n, const int *options, void **values, bool *preserved) {
    for (unsigned i = 0; i < n; i++) {
        if (!options || options[i] < 0 || options[i] > CU_LIBRARY_BINARY_IS_PRESERVED)
            return CUDA_ERROR_INVALID_VALUE;
        if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED) *preserved = true;
        else if (!values || !values[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadData,
        (void **out, const void *code, int *options, void **values, unsigned n, int *library,
                void **library_values, unsigned nlibrary),
        (out, code, options, values, n, library, library_values, nlibrary), SIM_HEALTHY) {
    struct sim_jit_options o = { .wall = NULL };
    bool preserved = false;
    int result = out && code ? sim_jit_read(&o, n, options, values) : CUDA_ERROR_INVALID_VALUE;
    if (!result) result = library_options(nlibrary, library, library_values, &preserved);
    if (result) return result;
    const size_t bytes = sim_image_bytes(code);
    /* The fatbins behind a wrapper belong to the program's image, and are not copied. */
    const size_t limit = sim_is_wrapper(code) ? SIZE_MAX : bytes;
    if (preserved) return sim_library_new(out, code, limit, NULL, &o);
    char *copy = malloc(bytes);
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, code, bytes);
    return sim_library_new(out, NULL, limit, copy, &o);
}

SIM_API(cuLibraryLoadFromFile,
        (void **out, const char *path, int *options, void **values, unsigned n, int *library,
                void **library_values, unsigned nlibrary),
        (out, path, options, values, n, library, library_values, nlibrary), SIM_HEALTHY) {
    struct sim_jit_options o = { .wall = NULL };
    bool preserved = false;
    char *text;
    size_t bytes;
    int result = out && path && *path ? sim_jit_read(&o, n, options, values)
                                      : CUDA_ERROR_INVALID_VALUE;
    if (!result) result = sim_read_file(path, &text, &bytes);
    /* a folder */
    if (result) return result == CUDA_ERROR_OPERATING_SYSTEM ? CUDA_ERROR_OUT_OF_MEMORY : result;
    if (!bytes) result = CUDA_ERROR_INVALID_IMAGE;
    else if (!(result = library_options(nlibrary, library, library_values, &preserved)))
        return sim_library_new(out, NULL, bytes, text, &o);
    free(text);
    return result;
}

SIM_API(cuLibraryUnload, (void *handle), (handle), SIM_PURE) {
    struct sim_library *l = sim_library_claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    int result = sim_capture_forbids();
    for (struct sim_module *m; !result && (m = l->modules);)
        if (!(result = sim_drain(m->context, NULL)) && l->modules == m) sim_module_free(m);
    if (result) {
        l->claimed = false;
        return result;
    }
    sim_library_free(l);
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetKernel, (void **out, void *handle, const char *name), (out, handle, name),
        SIM_HEALTHY) {
    struct sim_library *l = sim_library_claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    int result = out && name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (!result && !l->parsed) sim_library_parse(l);
    if (!result && !(result = l->result)) {
        const int i = sim_find_name(l->by_name, l->nkernels, name);
        if (i < 0) result = CUDA_ERROR_NOT_FOUND;
        else *out = SIM_HANDLE(l->kernels[i].handle);
    }
    l->claimed = false;
    return result;
}

SIM_API(cuLibraryGetKernelCount, (unsigned *count, void *handle), (count, handle), SIM_HEALTHY) {
    struct sim_library *l = sim_library_claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    if (count && !l->parsed) sim_library_parse(l);
    if (count) *count = l->nkernels;
    l->claimed = false;
    return count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The last of the text first, as measured. */
SIM_API(cuLibraryEnumerateKernels, (void **out, unsigned count, void *handle), (out, count, handle),
        SIM_HEALTHY) {
    struct sim_library *l = sim_library_claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    if (out && !l->parsed) sim_library_parse(l);
    for (unsigned i = 0; out && i < count && i < l->nkernels; i++)
        out[i] = SIM_HANDLE(l->kernels[l->nkernels - 1 - i].handle);
    l->claimed = false;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuLibraryGetModule, (void **out, void *handle), (out, handle), SIM_HEALTHY) {
    struct sim_module *m;
    if (!sim_get(SIM_H_LIBRARY, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_library_module(handle, &m);
    if (!result) *out = SIM_HANDLE(m->handle);
    return result;
}

SIM_API(cuLibraryGetGlobal, (CUdeviceptr * address, size_t *bytes, void *handle, const char *name),
        (address, bytes, handle, name), SIM_HEALTHY) {
    struct sim_module *m;
    int result = sim_library_module(handle, &m);
    return result ? result : sim_module_global(m, name, address, bytes);
}

/* One managed variable for all contexts; this device has no unified function pointers, as an
   H200. */
SIM_API(cuLibraryGetManaged, (CUdeviceptr * address, size_t *bytes, void *handle, const char *name),
        (address, bytes, handle, name), SIM_HEALTHY) {
    struct sim_module *m;
    CUdeviceptr at;
    struct sim_range r;
    if (!sim_get(SIM_H_LIBRARY, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (sim_library_module(handle, &m) || sim_module_global(m, name, &at, bytes) ||
            !sim_mem_find(NULL, at, 1, &r) || r.kind != SIM_MEM_MANAGED)
        return CUDA_ERROR_NOT_FOUND;
    if (address) *address = at;
    return CUDA_SUCCESS;
}
SIM_API(cuLibraryGetUnifiedFunction, (void **out, void *handle, const char *name),
        (out, handle, name), SIM_HEALTHY) {
    (void)out;
    (void)name;
    return sim_get(SIM_H_LIBRARY, handle) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- kernels ---- */

#define FIND_KERNEL(k, handle) \
    struct sim_kernel *k = sim_get(SIM_H_KERNEL, handle); \
    if (!k) return CUDA_ERROR_INVALID_HANDLE
#define QUERY_KERNEL(k, handle) /* where NULL is an argument like any other */ \
    if (!handle) return CUDA_ERROR_INVALID_VALUE; \
    FIND_KERNEL(k, handle)

static int in_current(const void *handle, struct sim_function **out) {
    int result = sim_context_need();
    return result ? result : sim_function_find(handle, sim_self.context, out);
}

SIM_API(cuKernelGetFunction, (void **out, void *handle), (out, handle), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    struct sim_function *f;
    int result = out ? in_current(handle, &f) : CUDA_ERROR_INVALID_VALUE;
    (void)k;
    if (!result) *out = SIM_HANDLE(f->handle);
    return result;
}

SIM_API(cuKernelGetLibrary, (void **out, void *handle), (out, handle), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(k->library->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetName, (const char **name, void *handle), (name, handle), SIM_HEALTHY) {
    QUERY_KERNEL(k, handle);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = k->name;
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetParamInfo, (void *handle, size_t index, size_t *offset, size_t *bytes),
        (handle, index, offset, bytes), SIM_HEALTHY) {
    QUERY_KERNEL(k, handle);
    struct sim_function *f;
    int result = in_current(handle, &f);
    (void)k;
    return result ? result : sim_param_info(f, index, offset, bytes);
}

SIM_API(cuKernelGetParamCount, (void *handle, size_t *count), (handle, count), SIM_HEALTHY) {
    QUERY_KERNEL(k, handle);
    struct sim_function *f;
    int result = count ? in_current(handle, &f) : CUDA_ERROR_INVALID_VALUE;
    (void)k;
    if (!result) *count = f->func->nparams;
    return result;
}

static bool no_device(CUdevice device) { return device < 0 || device >= sim_device_count; }

SIM_API(cuKernelGetAttribute, (int *value, int attribute, void *handle, CUdevice device),
        (value, attribute, handle, device), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    const struct sim_function *f;
    if (no_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    int result = value ? sim_kernel_any(handle, &f) : CUDA_ERROR_INVALID_VALUE;
    return result ? result : sim_attribute(f, &k->prefers[device], attribute, value);
}

/* Also of its functions on that device, where cuFuncSetAttribute did not set another value, as
   documented. */
SIM_API(cuKernelSetAttribute, (int attribute, int value, void *handle, CUdevice device),
        (attribute, value, handle, device), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    const struct sim_function *any;
    if (no_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    int result = sim_kernel_any(handle, &any);
    if (result || (result = sim_prefer(any, &k->prefers[device], attribute, value))) return result;
    for (struct sim_module *m = k->library->modules; m; m = m->sibling) {
        struct sim_function *f = &m->functions[k->index];
        if (m->context->device->ordinal == device && f->code && !(f->own & 1u << attribute))
            sim_prefer(f, &f->prefers, attribute, value);
    }
    return CUDA_SUCCESS;
}

SIM_API(cuKernelSetCacheConfig, (void *handle, int config, CUdevice device),
        (handle, config, device), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    if (no_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (config < 0 || config > 3) return CUDA_ERROR_INVALID_VALUE;
    k->prefers[device].cache_config = config;
    return CUDA_SUCCESS;
}
