/* module.c - modules and functions: an image of PTX text in a context, its variables in device memory, its entries
   decoded when it is loaded, so that unsupported code fails there. Code outlives an unload until the grids that run it
   have finished. */
#include "driver.h"
#include "../base/cudadefs.h"

/* ---- creation and freeing ---- */

static void free_variables(struct sim_var **vars, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if ((vars[i]->space == SIM_GLOBAL || vars[i]->space == SIM_CONST) && vars[i]->address) {
            sim_mem_remove(vars[i]->address);
            vars[i]->address = 0;
        }
}

void sim_module_unref(struct sim_module *m) {
    if (--m->refs) return;
    for (unsigned i = 0; i < m->nfunctions; i++) sim_code_free(m->functions[i].code);
    free(m->functions);
    sim_image_free(m->image);
    free(m);
}

static void drop_variables(struct sim_module *m) {
    free_variables(m->image->vars, m->image->nvars);
    for (unsigned i = 0; i < m->image->nfuncs; i++) free_variables(m->image->funcs[i]->vars, m->image->funcs[i]->nvars);
}

static void free_module(struct sim_module *m) {
    for (unsigned i = 0; i < m->nfunctions; i++) sim_handle_drop(m->functions[i].handle);
    sim_handle_drop(m->handle);
    sim_link_remove(&m->link);
    drop_variables(m);
    sim_module_unref(m);
}

static void end_module(struct sim_link *link) { free_module(SIM_OWNER(sim_module, link)); }

/* ---- variables ---- */

static int place_variables(struct sim_context *c, struct sim_var **vars, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct sim_var *v = vars[i];
        if ((v->space != SIM_GLOBAL && v->space != SIM_CONST) || v->is_extern || !v->size || v->address) continue;
        if (sim_mem_alloc(c->device, c, v->size, SIM_MEM_MODULE, &v->address)) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static void fill_variables(struct sim_var **vars, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct sim_var *v = vars[i];
        struct sim_range r;
        if ((v->space != SIM_GLOBAL && v->space != SIM_CONST) || !v->address
            || !sim_mem_find(NULL, v->address, v->size, &r))
            continue;
        char *bytes = (char *)(uintptr_t)v->address + r.delta;
        memset(bytes, 0, v->size);
        if (v->init) memcpy(bytes, v->init, v->init_size < v->size ? v->init_size : v->size);
        for (unsigned k = 0; k < v->nrelocs; k++) {
            const struct sim_reloc *reloc = &v->relocs[k];
            uint64_t to = reloc->var ? reloc->var->address : SIM_WINDOW_CODE + 16 * (1 + (uint64_t)reloc->func->id);
            to = (to + (uint64_t)reloc->addend) >> reloc->shift;
            if (reloc->size <= 8 && reloc->offset + reloc->size <= v->size)
                memcpy(bytes + reloc->offset, &to, reloc->size);
        }
    }
}

/* ---- loading ---- */

static bool only_returns(const struct sim_func *f) {
    return !f->ninstrs
           || (f->instrs[0].pred < 0 && (!strcmp(f->instrs[0].op, "ret") || !strcmp(f->instrs[0].op, "exit")));
}

/* Creates the whole module, without sim_lock. */
static int build(struct sim_module *m, const char *text, size_t limit, struct sim_log *errors) {
    int result = sim_is_linked(text) ? sim_linked_parse(text, limit, errors, &m->image) :
                                       sim_image_parse(text, (unsigned)sim_max_ptx(), SIM_CC_MAJOR * 10 + SIM_CC_MINOR,
                                                       errors, &m->image);
    if (result) {
        m->image = NULL;
        return result;
    }
    struct sim_image *image = m->image;
    m->prints = sim_image_func(image, "vprintf") != NULL;
    if ((result = place_variables(m->context, image->vars, image->nvars))) return result;
    for (unsigned i = 0; i < image->nfuncs; i++) {
        if ((result = place_variables(m->context, image->funcs[i]->vars, image->funcs[i]->nvars))) return result;
        m->nfunctions += image->funcs[i]->is_entry;
    }
    fill_variables(image->vars, image->nvars);
    for (unsigned i = 0; i < image->nfuncs; i++) fill_variables(image->funcs[i]->vars, image->funcs[i]->nvars);
    m->functions = calloc(m->nfunctions ? m->nfunctions : 1, sizeof *m->functions);
    if (!m->functions) {
        m->nfunctions = 0;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (unsigned i = 0, k = 0; i < image->nfuncs; i++) {
        if (!image->funcs[i]->is_entry) continue;
        struct sim_function *f = &m->functions[k++];
        f->module = m;
        f->func = image->funcs[i];
        f->carveout = -1;
        if ((result = sim_code_decode(f->func, errors, &f->code))) {
            f->code = NULL;
            return result;
        }
        uint32_t fixed = sim_code_info(f->code)->static_shared;
        f->max_dynamic = (fixed <= SIM_BLOCK_SHARED ? SIM_BLOCK_SHARED : SIM_BLOCK_SHARED_OPTIN) - (int)fixed;
        f->no_effect = only_returns(f->func);
        for (int j = 0; j < 3; j++) f->cluster[j] = (int)f->func->reqnctapercluster[j];
    }
    return CUDA_SUCCESS;
}

/* The output of ptxas -v; as on a GPU the text names the target architecture. */
static void report(const struct sim_module *m, struct sim_log *log) {
    sim_report_globals(log, m->image, 0, "ptxas ");
    for (unsigned i = 0; i < m->nfunctions; i++) {
        const struct sim_code_info *info = sim_code_info(m->functions[i].code);
        sim_log_add(log, "ptxas info    : Compiling entry function '%s' for 'sm_%da'\n", m->functions[i].func->name,
                    SIM_CC_MAJOR * 10 + SIM_CC_MINOR);
        sim_log_add(log, "ptxas info    : Used %u registers", (unsigned)info->num_regs);
        if (info->local_bytes) sim_log_add(log, ", %u bytes cumulative stack size", (unsigned)info->local_bytes);
        if (info->static_shared) sim_log_add(log, ", %u bytes smem", (unsigned)info->static_shared);
        sim_log_add(log, ", %u bytes cmem[0]\n", 528 + (unsigned)info->param_bytes);
    }
}

static int load(void **out, const void *text, size_t limit, unsigned n, const int *options, void **values) {
    struct sim_jit_options o = { .wall = NULL };
    struct sim_log errors = { NULL, 0, 0 }, info = { NULL, 0, 0 };
    struct sim_context *c = sim_self.context;
    const void *context = SIM_HANDLE(c->handle);
    int result;
    if (!out || !text) return CUDA_ERROR_INVALID_VALUE;
    if ((result = sim_jit_read(&o, n, options, values))) return result;
    uint64_t start = sim_now_ns();
    struct sim_module *m = calloc(1, sizeof *m);
    if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
    m->refs = 1;
    m->context = c;
    c->loading++;
    pthread_mutex_unlock(&sim_lock);
    pthread_mutex_lock(&sim_load_lock);
    if (sim_is_binary(text) && sim_is_host_elf(text)) {
        result = CUDA_ERROR_INVALID_IMAGE;
        sim_log_add(&errors, SIM_NO_FORMAT);
    } else if (sim_is_binary(text)) {
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
        sim_log_add(&errors, "simgpu loads PTX text; this image is a cubin or a fatbin\n");
    } else result = build(m, text, limit, &errors);
    /* as measured */
    if (!result && o.has_target && !sim_is_linked(text) && (o.target < 10 || !sim_jit_is_for_us(o.target)))
        result = o.target < 10 ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_SOURCE;
    if (!result && o.unsupported) result = CUDA_ERROR_INVALID_PTX;
    pthread_mutex_unlock(&sim_load_lock);
    pthread_mutex_lock(&sim_lock);
    c->loading--;
    sim_link_remember(result);
    if (!result && sim_context_at(context) != c) result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!result && !(m->handle = sim_handle_new(SIM_H_MODULE, m))) result = CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; !result && i < m->nfunctions; i++)
        if (!(m->functions[i].handle = sim_handle_new(SIM_H_FUNCTION, &m->functions[i])))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    sim_jit_write_log(&o.error, &errors);
    if (!result && o.verbose) report(m, &info);
    sim_jit_write_log(&o.info, &info);
    sim_jit_write_wall(&o, sim_now_ns() - start);
    if (result && errors.len && sim_settings.verbose) fprintf(stderr, "simgpu: %.*s", (int)errors.len, errors.text);
    sim_log_free(&errors);
    sim_log_free(&info);
    sim_link_init(&m->link);
    if (!result) {
        sim_link_add(&c->children, &m->link, end_module);
        *out = SIM_HANDLE(m->handle);
    } else if (m->image) free_module(m);
    else free(m);
    return result;
}

SIM_API(cuModuleLoadData, (void **out, const void *text), (out, text), SIM_CTX) {
    return load(out, text, SIZE_MAX, 0, NULL, NULL);
}
SIM_API(cuModuleLoadDataEx, (void **out, const void *text, unsigned n, int *options, void **values),
        (out, text, n, options, values), SIM_CTX) {
    return load(out, text, SIZE_MAX, n, options, values);
}

/* Refuses a fat binary with 209, as every binary. A GPU's driver accepts PTX text here, too. */
SIM_API(cuModuleLoadFatBinary, (void **out, const void *image), (out, image), SIM_CTX) {
    return load(out, image, SIZE_MAX, 0, NULL, NULL);
}

SIM_API(cuModuleLoad, (void **out, const char *path), (out, path), SIM_CTX) {
    if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "rb");
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    struct sim_log text = { NULL, 0, 0 };
    char piece[4096];
    size_t n;
    bool ok = true;
    while (ok && (n = fread(piece, 1, sizeof piece, file)) > 0) {
        char *more = realloc(text.text, text.len + n + 20);              /* zeros: sim_is_binary and
                                                                            sim_is_host_elf may read them */
        if (!(ok = more != NULL)) break;
        memcpy(more + text.len, piece, n);
        text.text = more;
        text.len += n;
        memset(more + text.len, 0, 20);
    }
    ok = ok && !ferror(file);
    fclose(file);
    int result =
        !ok ? CUDA_ERROR_OPERATING_SYSTEM : load(out, text.text ? text.text : "\0\0\0", text.len, 0, NULL, NULL);
    free(text.text);
    return result;
}

SIM_API(cuModuleUnload, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    int result = sim_drain(m->context, NULL);
    /* another thread may have unloaded it first */
    if (!result && (m = sim_get(SIM_H_MODULE, handle))) free_module(m);
    return result;
}

SIM_API(cuModuleGetLoadingMode, (int *mode), (mode), SIM_INIT) {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunction, (void **out, void *handle, const char *name), (out, handle, name), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!out || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (!strcmp(m->functions[i].func->name, name)) {
            *out = SIM_HANDLE(m->functions[i].handle);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static bool is_entry(const struct sim_module *m, const char *name) {
    for (unsigned i = 0; i < m->nfunctions; i++) if (!strcmp(m->functions[i].func->name, name)) return true;
    return false;
}

SIM_API(cuModuleGetGlobal_v2, (CUdeviceptr *address, size_t *bytes, void *handle, const char *name),
        (address, bytes, handle, name), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (address) *address = 0;
    if (bytes) *bytes = 0;
    if (!name || !*name || (!address && !bytes) || is_entry(m, name)) return CUDA_ERROR_INVALID_VALUE;
    const struct sim_var *v = sim_image_var(m->image, name);
    if (!v || !v->address || (v->space != SIM_GLOBAL && v->space != SIM_CONST)) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = v->address;
    if (bytes) *bytes = v->size;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunctionCount, (unsigned *count, void *handle), (count, handle), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = m->nfunctions;
    return CUDA_SUCCESS;
}

SIM_API(cuModuleEnumerateFunctions, (void **out, unsigned count, void *handle), (out, count, handle), SIM_HEALTHY) {
    struct sim_module *m = sim_get(SIM_H_MODULE, handle);
    if (!m) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && i < m->nfunctions; i++) out[i] = SIM_HANDLE(m->functions[i].handle);
    return CUDA_SUCCESS;
}
