/* library.c - libraries: an image of PTX text without a context, and its kernels. A module of it is created in a
   context when the first function is needed there, and a function is decoded when it is needed. A library outlives
   contexts; with a context its variables end, and begin with their initial values in the next one.

   The text is parsed when a kernel is looked up, and at the load if its log is requested. What is wrong with it is the
   result of the lookup, as measured. The module that the parse creates is in no context (`plain`): it answers queries
   until the first context takes it.

   A thread that parses the text or creates a module claims the library, and releases sim_lock meanwhile. */
#include "driver.h"
#include "../base/cudadefs.h"
#include <sched.h>

struct sim_library {
    uint64_t handle;
    bool claimed, parsed, owns_text;
    const char *text;
    size_t limit;                                 /* bytes of the text, if it was a file */
    struct sim_jit_options options;
    int result;                                   /* of the parse */
    struct sim_module *plain, *modules;           /* in no context; one in each context that needed it */
    struct sim_kernel *kernels;
    unsigned nkernels;
    struct sim_by_name *by_name;                  /* of the same number */
    struct sim_addresses managed;                 /* variables: one for all contexts, as measured */
};

/* ---- one thread at a time ---- */

/* NULL: not a library, or no longer one. */
static struct sim_library *claim(const void *handle) {
    struct sim_library *l = sim_get(SIM_H_LIBRARY, handle);
    for (; l && l->claimed; l = sim_find(SIM_H_LIBRARY, handle)) {
        pthread_mutex_unlock(&sim_lock);
        sched_yield();
        pthread_mutex_lock(&sim_lock);
    }
    if (l) l->claimed = true;
    return l;
}

static void free_kernels(struct sim_library *l) {
    for (unsigned i = 0; i < l->nkernels; i++) {
        sim_handle_drop(l->kernels[i].handle);
        free(l->kernels[i].name);
    }
    free(l->kernels);
    free(l->by_name);
    l->by_name = NULL;
    l->kernels = NULL;
    l->nkernels = 0;
}

static int make_kernels(struct sim_library *l, const struct sim_module *m) {
    if (!(l->kernels = calloc(m->nfunctions + 1, sizeof *l->kernels))
        || !(l->by_name = calloc(m->nfunctions + 1, sizeof *l->by_name)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < m->nfunctions; i++) {
        struct sim_kernel *k = &l->kernels[i];
        *k = (struct sim_kernel) { .library = l, .name = strdup(m->functions[i].func->name), .index = i };
        for (int d = 0; d < SIM_MAX_DEVICES; d++) k->prefers[d] = sim_no_preferences;
        l->nkernels++;
        if (!k->name || !(k->handle = sim_handle_new(SIM_H_KERNEL, k))) return CUDA_ERROR_OUT_OF_MEMORY;
        l->by_name[i] = (struct sim_by_name) { k->name, i };
    }
    sim_sort_names(l->by_name, l->nkernels);
    return CUDA_SUCCESS;
}

/* [claimed] Creates l->plain, and the kernels the first time. */
static int parse(struct sim_library *l) {
    struct sim_log errors = { NULL, 0, 0 }, info = { NULL, 0, 0 };
    const uint64_t start = sim_now_ns();
    if (l->plain || l->result) return l->result;
    struct sim_module *m = NULL;
    pthread_mutex_unlock(&sim_lock);
    int result = sim_module_parse(l->text, l->limit, &l->options, &errors, &m);
    pthread_mutex_lock(&sim_lock);
    l->plain = m;
    sim_jit_write(&l->options, &errors, &info, sim_now_ns() - start, result);
    if (l->parsed) return result;
    sim_link_remember(result);
    if (!result && (result = make_kernels(l, m))) free_kernels(l);
    l->options.info = l->options.error = (struct sim_log_option) { .text = NULL };         /* only of the first time */
    l->options.wall = NULL;
    l->parsed = true;
    return l->result = result;
}

static struct sim_module *module_in(const struct sim_library *l, const struct sim_context *c) {
    struct sim_module *m = l->modules;
    while (m && m->context != c) m = m->sibling;
    return m;
}

/* [claimed] Creates the module of the context, which may end meanwhile. */
static int make_module(struct sim_library *l, struct sim_context *c) {
    const void *context = SIM_HANDLE(c->handle);
    c->loading++;
    int result = parse(l);
    struct sim_module *m = l->plain;
    l->plain = NULL;
    if (!result) {
        pthread_mutex_unlock(&sim_lock);
        result = sim_module_place_shared(m, c, &l->managed);
        pthread_mutex_lock(&sim_lock);
    }
    c->loading--;
    if (!result && !sim_context_still(c, context)) result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!result) result = sim_module_open(m);
    if (result) {
        if (m) sim_module_free(m);
        return result;
    }
    for (unsigned i = 0; i < m->nfunctions; i++) m->functions[i].kernel = &l->kernels[i];
    m->siblings = &l->modules;
    m->sibling = l->modules;
    l->modules = m;
    return CUDA_SUCCESS;
}

/* The library's module in the current context. */
static int current_module(const void *handle, struct sim_module **out) {
    struct sim_library *l = sim_get(SIM_H_LIBRARY, handle);
    int result = l ? sim_context_need() : CUDA_ERROR_INVALID_HANDLE;
    if (result || (*out = module_in(l, sim_self.context))) return result;
    if (!(l = claim(handle))) return CUDA_ERROR_INVALID_HANDLE;
    if (!(result = sim_context_need()) && !module_in(l, sim_self.context)) result = make_module(l, sim_self.context);
    if (!result) *out = module_in(l, sim_self.context);
    l->claimed = false;
    return result;
}

int sim_function_find(const void *handle, struct sim_context *c, struct sim_function **out) {
    const void *context = SIM_HANDLE(c->handle);
    const bool is_kernel = ((uintptr_t)handle & 15) == SIM_H_KERNEL;     /* else a dead one is a dead function */
    if (!is_kernel) return (*out = sim_get(SIM_H_FUNCTION, handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    for (bool again = false;; again = true) {     /* until nothing is left to do without sim_lock */
        const struct sim_kernel *k = again ? sim_find(SIM_H_KERNEL, handle) : sim_get(SIM_H_KERNEL, handle);
        if (!k) return CUDA_ERROR_INVALID_HANDLE;
        if (context && !sim_context_still(c, context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        struct sim_module *m = module_in(k->library, c);
        int result = CUDA_SUCCESS;
        if (!m) {
            struct sim_library *l = claim(SIM_HANDLE(k->library->handle));
            if (!l) return CUDA_ERROR_INVALID_HANDLE;
            if (sim_context_still(c, context) && !module_in(l, c)) result = make_module(l, c);
            l->claimed = false;
        } else if (!m->functions[k->index].code) result = sim_function_need(&m->functions[k->index]);
        else {
            *out = &m->functions[k->index];
            return CUDA_SUCCESS;
        }
        if (result) return result;
    }
}

/* A function of the kernel in any context or none, decoded: for what is the same in all of them. */
static int any_function(const void *handle, const struct sim_function **out) {
    const struct sim_kernel *k = sim_get(SIM_H_KERNEL, handle);
    struct sim_library *l = claim(SIM_HANDLE(k->library->handle));
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    int result = CUDA_SUCCESS;
    *out = NULL;
    while (!result && !*out) {
        const struct sim_module *m = l->modules ? l->modules : l->plain;
        struct sim_function *f = m ? &m->functions[k->index] : NULL;
        if (!m) result = parse(l);
        else if (f->code) *out = f;
        else if ((result = sim_function_need(f)) == CUDA_ERROR_INVALID_HANDLE) result = CUDA_SUCCESS;    /* its context
                                                                                                            ended */
    }
    l->claimed = false;
    return result;
}

/* ---- libraries ---- */

static int library_options(unsigned n, const int *options, void **values, bool *preserved) {
    for (unsigned i = 0; i < n; i++) {
        if (!options || options[i] < 0 || options[i] > CU_LIBRARY_BINARY_IS_PRESERVED) return CUDA_ERROR_INVALID_VALUE;
        if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED) *preserved = true;
        else if (!values || !values[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Takes over `text` if `owns`. With a log it is parsed at once, as on a GPU, but the result of that is not reported. */
static int create(void **out, const char *text, size_t limit, bool owns, const struct sim_jit_options *o) {
    struct sim_library *l = calloc(1, sizeof *l);
    if (!l || !(l->handle = sim_handle_new(SIM_H_LIBRARY, l))) {
        free(l);
        if (owns) free((void *)(uintptr_t)text);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    l->text = text;
    l->limit = limit;
    l->owns_text = owns;
    l->options = *o;
    *out = SIM_HANDLE(l->handle);
    if (o->info.wanted || o->error.wanted || o->wall || sim_settings.eager) {
        l->claimed = true;
        parse(l);
        l->claimed = false;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadData,
        (void **out, const void *code, int *options, void **values, unsigned n, int *library, void **library_values,
         unsigned nlibrary),
        (out, code, options, values, n, library, library_values, nlibrary), SIM_HEALTHY) {
    struct sim_jit_options o = { .wall = NULL };
    bool preserved = false;
    int result = out && code ? sim_jit_read(&o, n, options, values) : CUDA_ERROR_INVALID_VALUE;
    if (!result) result = library_options(nlibrary, library, library_values, &preserved);
    if (result) return result;
    const size_t bytes = sim_image_bytes(code);
    /* The fatbins behind a wrapper belong to the program's image, and are not copied. */
    const size_t limit = sim_is_wrapper(code) ? SIZE_MAX : bytes;
    if (preserved) return create(out, code, limit, false, &o);
    char *copy = malloc(bytes);
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, code, bytes);
    return create(out, copy, limit, true, &o);
}

SIM_API(cuLibraryLoadFromFile,
        (void **out, const char *path, int *options, void **values, unsigned n, int *library, void **library_values,
         unsigned nlibrary),
        (out, path, options, values, n, library, library_values, nlibrary), SIM_HEALTHY) {
    struct sim_jit_options o = { .wall = NULL };
    bool preserved = false;
    char *text;
    size_t bytes;
    int result = out && path && *path ? sim_jit_read(&o, n, options, values) : CUDA_ERROR_INVALID_VALUE;
    if (!result) result = sim_read_file(path, &text, &bytes);
    if (result) return result == CUDA_ERROR_OPERATING_SYSTEM ? CUDA_ERROR_OUT_OF_MEMORY : result;        /* a folder */
    if (!bytes) result = CUDA_ERROR_INVALID_IMAGE;
    else if (!(result = library_options(nlibrary, library, library_values, &preserved)))
        return create(out, text, bytes, true, &o);
    free(text);
    return result;
}

SIM_API(cuLibraryUnload, (void *handle), (handle), SIM_PURE) {
    struct sim_library *l = claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    int result = sim_capture_forbids();
    for (struct sim_module *m; !result && (m = l->modules);)
        if (!(result = sim_drain(m->context, NULL)) && l->modules == m) sim_module_free(m);
    if (result) {
        l->claimed = false;
        return result;
    }
    if (l->plain) sim_module_free(l->plain);
    for (unsigned i = 0; i < l->managed.n; i++) sim_managed_free(l->managed.at[i]);
    free(l->managed.at);
    free_kernels(l);
    sim_handle_drop(l->handle);
    if (l->owns_text) free((void *)(uintptr_t)l->text);
    free(l);
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetKernel, (void **out, void *handle, const char *name), (out, handle, name), SIM_HEALTHY) {
    struct sim_library *l = claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    int result = out && name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (!result && !l->parsed) parse(l);
    if (!result && !(result = l->result)) {
        const int i = sim_find_name(l->by_name, l->nkernels, name);
        if (i < 0) result = CUDA_ERROR_NOT_FOUND;
        else *out = SIM_HANDLE(l->kernels[i].handle);
    }
    l->claimed = false;
    return result;
}

SIM_API(cuLibraryGetKernelCount, (unsigned *count, void *handle), (count, handle), SIM_HEALTHY) {
    struct sim_library *l = claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    if (count && !l->parsed) parse(l);
    if (count) *count = l->nkernels;
    l->claimed = false;
    return count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The last of the text first, as measured. */
SIM_API(cuLibraryEnumerateKernels, (void **out, unsigned count, void *handle), (out, count, handle), SIM_HEALTHY) {
    struct sim_library *l = claim(handle);
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    if (out && !l->parsed) parse(l);
    for (unsigned i = 0; out && i < count && i < l->nkernels; i++)
        out[i] = SIM_HANDLE(l->kernels[l->nkernels - 1 - i].handle);
    l->claimed = false;
    return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuLibraryGetModule, (void **out, void *handle), (out, handle), SIM_HEALTHY) {
    struct sim_module *m;
    if (!sim_get(SIM_H_LIBRARY, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    int result = current_module(handle, &m);
    if (!result) *out = SIM_HANDLE(m->handle);
    return result;
}

SIM_API(cuLibraryGetGlobal, (CUdeviceptr *address, size_t *bytes, void *handle, const char *name),
        (address, bytes, handle, name), SIM_HEALTHY) {
    struct sim_module *m;
    int result = current_module(handle, &m);
    return result ? result : sim_module_global(m, name, address, bytes);
}

/* One managed variable for all contexts; this device has no unified function pointers, as an H200. */
SIM_API(cuLibraryGetManaged, (CUdeviceptr *address, size_t *bytes, void *handle, const char *name),
        (address, bytes, handle, name), SIM_HEALTHY) {
    struct sim_module *m;
    CUdeviceptr at;
    struct sim_range r;
    if (!sim_get(SIM_H_LIBRARY, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (current_module(handle, &m) || sim_module_global(m, name, &at, bytes)
        || !sim_mem_find(NULL, at, 1, &r) || r.kind != SIM_MEM_MANAGED)
        return CUDA_ERROR_NOT_FOUND;
    if (address) *address = at;
    return CUDA_SUCCESS;
}
SIM_API(cuLibraryGetUnifiedFunction, (void **out, void *handle, const char *name), (out, handle, name), SIM_HEALTHY) {
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
    int result = value ? any_function(handle, &f) : CUDA_ERROR_INVALID_VALUE;
    return result ? result : sim_attribute(f, &k->prefers[device], attribute, value);
}

/* Also of its functions on that device, where cuFuncSetAttribute did not set another value, as documented. */
SIM_API(cuKernelSetAttribute, (int attribute, int value, void *handle, CUdevice device),
        (attribute, value, handle, device), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    const struct sim_function *any;
    if (no_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    int result = any_function(handle, &any);
    if (result || (result = sim_prefer(any, &k->prefers[device], attribute, value))) return result;
    for (struct sim_module *m = k->library->modules; m; m = m->sibling) {
        struct sim_function *f = &m->functions[k->index];
        if (m->context->device->ordinal == device && f->code && !(f->own & 1u << attribute))
            sim_prefer(f, &f->prefers, attribute, value);
    }
    return CUDA_SUCCESS;
}

SIM_API(cuKernelSetCacheConfig, (void *handle, int config, CUdevice device), (handle, config, device), SIM_HEALTHY) {
    FIND_KERNEL(k, handle);
    if (no_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (config < 0 || config > 3) return CUDA_ERROR_INVALID_VALUE;
    k->prefers[device].cache_config = config;
    return CUDA_SUCCESS;
}
