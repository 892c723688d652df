/* library.c - libraries: an image of PTX text without a context, and its kernels. A module of it is
   created in a context when the first function is needed there, and a function is decoded when it
   is needed. A library outlives contexts; with a context its variables end, and begin with their
   initial values in the next one.

   The text is parsed when a kernel is looked up, and at the load if its log is requested. What is
   wrong with it is the result of the lookup, as measured. The module that the parse creates is in
   no context (`plain`): it answers queries until the first context takes it.

   A thread that parses the text or creates a module claims the library, and releases sim_lock
   meanwhile. */
#include "objects.h"
#include <sched.h>

/* ---- one thread at a time ---- */

/* NULL: not a library, or no longer one. */
struct sim_library *sim_library_claim(const void *handle) {
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
    if (!(l->kernels = calloc(m->nfunctions + 1, sizeof *l->kernels)) ||
            !(l->by_name = calloc(m->nfunctions + 1, sizeof *l->by_name)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < m->nfunctions; i++) {
        struct sim_kernel *k = &l->kernels[i];
        *k = (struct sim_kernel){
            .library = l, .name = strdup(m->functions[i].func->name), .index = i
        };
        for (int d = 0; d < SIM_MAX_DEVICES; d++) k->prefers[d] = sim_no_preferences;
        l->nkernels++;
        if (!k->name || !(k->handle = sim_handle_new(SIM_H_KERNEL, k)))
            return CUDA_ERROR_OUT_OF_MEMORY;
        l->by_name[i] = (struct sim_by_name){ k->name, i };
    }
    sim_sort_names(l->by_name, l->nkernels);
    return CUDA_SUCCESS;
}

/* [claimed] Creates l->plain, and the kernels the first time. */
int sim_library_parse(struct sim_library *l) {
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
    /* only of the first time */
    l->options.info = l->options.error = (struct sim_log_option){ .text = NULL };
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
    int result = sim_library_parse(l);
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
int sim_library_module(const void *handle, struct sim_module **out) {
    struct sim_library *l = sim_get(SIM_H_LIBRARY, handle);
    int result = l ? sim_context_need() : CUDA_ERROR_INVALID_HANDLE;
    if (result || (*out = module_in(l, sim_self.context))) return result;
    if (!(l = sim_library_claim(handle))) return CUDA_ERROR_INVALID_HANDLE;
    if (!(result = sim_context_need()) && !module_in(l, sim_self.context))
        result = make_module(l, sim_self.context);
    if (!result) *out = module_in(l, sim_self.context);
    l->claimed = false;
    return result;
}

int sim_function_find(const void *handle, struct sim_context *c, struct sim_function **out) {
    const void *context = SIM_HANDLE(c->handle);
    /* else a dead one is a dead function */
    const bool is_kernel = ((uintptr_t)handle & SIM_KIND_MASK) == SIM_H_KERNEL;
    if (!is_kernel)
        return (*out = sim_get(SIM_H_FUNCTION, handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    for (bool again = false;; again = true) { /* until nothing is left to do without sim_lock */
        const struct sim_kernel *k = again ? sim_find(SIM_H_KERNEL, handle)
                                           : sim_get(SIM_H_KERNEL, handle);
        if (!k) return CUDA_ERROR_INVALID_HANDLE;
        if (context && !sim_context_still(c, context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        struct sim_module *m = module_in(k->library, c);
        int result = CUDA_SUCCESS;
        if (!m) {
            struct sim_library *l = sim_library_claim(SIM_HANDLE(k->library->handle));
            if (!l) return CUDA_ERROR_INVALID_HANDLE;
            if (sim_context_still(c, context) && !module_in(l, c)) result = make_module(l, c);
            l->claimed = false;
        } else if (!m->functions[k->index].code)
            result = sim_function_need(&m->functions[k->index]);
        else {
            *out = &m->functions[k->index];
            return CUDA_SUCCESS;
        }
        if (result) return result;
    }
}

/* A function of the kernel in any context or none, decoded: for what is the same in all of them. */
int sim_kernel_any(const void *handle, const struct sim_function **out) {
    const struct sim_kernel *k = sim_get(SIM_H_KERNEL, handle);
    struct sim_library *l = sim_library_claim(SIM_HANDLE(k->library->handle));
    if (!l) return CUDA_ERROR_INVALID_HANDLE;
    int result = CUDA_SUCCESS;
    *out = NULL;
    while (!result && !*out) {
        const struct sim_module *m = l->modules ? l->modules : l->plain;
        struct sim_function *f = m ? &m->functions[k->index] : NULL;
        if (!m) result = sim_library_parse(l);
        else if (f->code) *out = f;
        else if ((result = sim_function_need(f)) == CUDA_ERROR_INVALID_HANDLE)
            result = CUDA_SUCCESS; /* its context ended */
    }
    l->claimed = false;
    return result;
}

/* ---- libraries ---- */

/* Takes over `text` if `owns`. With a log it is parsed at once, as on a GPU, but the result of that
   is not reported. */
int sim_library_new(
        void **out, const char *text, size_t limit, char *owned, const struct sim_jit_options *o) {
    struct sim_library *l = calloc(1, sizeof *l);
    if (!l || !(l->handle = sim_handle_new(SIM_H_LIBRARY, l))) {
        free(l);
        free(owned);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    l->text = owned ? owned : text;
    l->limit = limit;
    l->owns_text = owned != NULL;
    l->options = *o;
    *out = SIM_HANDLE(l->handle);
    if (o->info.wanted || o->error.wanted || o->wall || sim_settings.eager) {
        l->claimed = true;
        sim_library_parse(l);
        l->claimed = false;
    }
    return CUDA_SUCCESS;
}

void sim_library_free(struct sim_library *l) {
    if (l->plain) sim_module_free(l->plain);
    for (unsigned i = 0; i < l->managed.n; i++) sim_managed_free(l->managed.at[i]);
    free(l->managed.at);
    free_kernels(l);
    sim_handle_drop(l->handle);
    if (l->owns_text) free((void *)(uintptr_t)l->text);
    free(l);
}
