/* module.c - modules and functions: an image of PTX text in a context, its variables in device memory, its entries
   decoded when it is loaded, so that unsupported code fails there. Code outlives an unload until the grids that run it
   have finished. */
#include "driver.h"
#include "../base/cudadefs.h"

pthread_mutex_t sim_load_lock = PTHREAD_MUTEX_INITIALIZER;

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

void sim_module_free(struct sim_module *m) {
    for (unsigned i = 0; i < m->nfunctions; i++) sim_handle_drop(m->functions[i].handle);
    sim_handle_drop(m->handle);
    sim_link_remove(&m->link);
    drop_variables(m);
    sim_module_unref(m);
}

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

/* ---- JIT options ---- */

/* For options that belong together: both are given, and the buffer is not NULL. */
static bool log_bad(const struct sim_log_option *o) { return o->wanted && (!o->text || !o->slot); }

int sim_jit_read(struct sim_jit_options *o, unsigned n, const int *options, void **values) {
    if (n && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) switch (options[i]) {
        case CU_JIT_LOG_VERBOSE: o->verbose = values[i] != NULL; break;
        case CU_JIT_TARGET: o->target = (int)(uintptr_t)values[i]; o->has_target = true; break;
        case CU_JIT_THREADS_PER_BLOCK:
            if ((unsigned)(uintptr_t)values[i] > SIM_BLOCK_THREADS) values[i] = SIM_HANDLE(SIM_BLOCK_THREADS);
            break;
        case CU_JIT_WALL_TIME: o->wall = &values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: o->info.text = values[i]; o->info.wanted = true; break;
        case CU_JIT_ERROR_LOG_BUFFER: o->error.text = values[i]; o->error.wanted = true; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            o->info.size = (unsigned)(uintptr_t)values[i];
            o->info.slot = &values[i];
            o->info.wanted = true;
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            o->error.size = (unsigned)(uintptr_t)values[i];
            o->error.slot = &values[i];
            o->error.wanted = true;
            break;
        case CU_JIT_MAX_REGISTERS: case CU_JIT_REFERENCED_KERNEL_NAMES: case CU_JIT_REFERENCED_VARIABLE_NAMES:
            if (!values[i]) return CUDA_ERROR_INVALID_VALUE;
            break;
        case CU_JIT_NEW_SM3X_OPT: o->unsupported = true; break;       /* for the driver's own use; its
                                                                         compiler no longer accepts it */
        default:
            if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
            if (options[i] >= CU_JIT_GLOBAL_SYMBOL_NAMES && options[i] <= CU_JIT_GLOBAL_SYMBOL_COUNT)
                return CUDA_ERROR_INVALID_VALUE;
    }
    return log_bad(&o->info) || log_bad(&o->error) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

bool sim_jit_is_for_us(int target) { return !target || (target & 0xffff) == SIM_CC_MAJOR * 10 + SIM_CC_MINOR; }

/* As measured: without the last newline. If the text does not fit, it is cut silently to the given size, and the size
   slot has that size; otherwise the slot has the length without NUL. If there is room only for the NUL, or for nothing,
   the NUL is written, and the slot is 0. */
void sim_jit_write_log(const struct sim_log_option *o, const struct sim_log *log) {
    if (!o->text || !o->slot) return;
    size_t len = log->len && log->text[log->len - 1] == '\n' ? log->len - 1 : log->len,
           room = o->size ? o->size - 1 : 0, n = len < room ? len : room;
    if (n) memcpy(o->text, log->text, n);
    o->text[n] = 0;
    *o->slot = SIM_HANDLE(!n || len < o->size ? n : o->size);
}

void sim_jit_write_wall(const struct sim_jit_options *o, uint64_t ns) {
    float milliseconds = (float)((double)ns * 1e-6);
    if (o->wall) memcpy(o->wall, &milliseconds, sizeof milliseconds);
}

/* ---- loading ---- */

static bool only_returns(const struct sim_func *f) {
    return !f->ninstrs
           || (f->instrs[0].pred < 0 && (!strcmp(f->instrs[0].op, "ret") || !strcmp(f->instrs[0].op, "exit")));
}

bool sim_is_binary(const void *image) {
    static const unsigned char magic[3][4] = { { 0x7f, 'E', 'L', 'F' },
                                               { 0x50, 0xed, 0x55, 0xba },
                                               { 0xb1, 0x43, 0x62, 0x46 }
                                               };
    const unsigned char *p = image;
    for (int k = 0; k < 3; k++) {                 /* cubin, fatbin, fatbin wrapper; byte
                                                     by byte, since a text may end earlier */
        int i = 0;
        while (i < 4 && p[i] == magic[k][i]) i++;
        if (i == 4) return true;
    }
    return false;
}

bool sim_is_host_elf(const void *image) {
    const unsigned char *p = image;
    return p[0] == 0x7f && p[1] == 'E' && p[2] == 'L' && p[3] == 'F' && (p[18] != 190 || p[19] != 0);     /* EM_CUDA */
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

void sim_report_globals(struct sim_log *log, const struct sim_image *image, unsigned from, const char *who) {
    unsigned long long bytes = 0;
    for (unsigned i = 0; i < image->nvars; i++)
        if (image->vars[i]->space == SIM_GLOBAL && image->vars[i]->input >= from) bytes += image->vars[i]->size;
    sim_log_add(log, "%sinfo    : %llu bytes gmem\n", who, bytes);
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
        sim_link_add(&c->modules, &m->link);
        *out = SIM_HANDLE(m->handle);
    } else if (m->image) sim_module_free(m);
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
    if (!result && (m = sim_get(SIM_H_MODULE, handle))) sim_module_free(m);
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

/* ---- functions ---- */

#define FIND_FUNCTION(f, handle) \
    struct sim_function *f = sim_get(SIM_H_FUNCTION, handle); \
    if (!f) return CUDA_ERROR_INVALID_HANDLE
#define QUERY_FUNCTION(f, handle) /* where NULL is an argument like any other */ \
    if (!handle) return CUDA_ERROR_INVALID_VALUE; \
    FIND_FUNCTION(f, handle)


/* As measured, .reqntid does not lower it. */
int sim_most_threads(const struct sim_function *f) {
    const uint32_t *m = f->func->maxntid;
    int most = sim_occupancy(f, 32, 0).max_threads;
    uint64_t given = m[0] ? (uint64_t)m[0] * (m[1] ? m[1] : 1) * (m[2] ? m[2] : 1) : SIM_BLOCK_THREADS;
    return given < (uint64_t)most ? (int)given : most;
}

SIM_API(cuFuncGetAttribute, (int *value, int attribute, void *handle), (value, attribute, handle), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    const struct sim_code_info *info = sim_code_info(f->code);
    if (!value || attribute < 0 || attribute > CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = sim_most_threads(f); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info->num_regs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)f->module->image->sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = SIM_CC_MAJOR * 10 + SIM_CC_MINOR; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->max_dynamic; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = f->func->explicit_cluster; break;
    default: *value = 0;                          /* cache mode */
    }
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetAttribute, (void *handle, int attribute, int value), (handle, attribute, value), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value + (int64_t)sim_code_info(f->code)->static_shared > SIM_BLOCK_SHARED_OPTIN)
            return CUDA_ERROR_INVALID_VALUE;
        f->max_dynamic = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return sim_because(CUDA_ERROR_INVALID_VALUE, "Requested preferred shared mem carveout invalid %d", value);
        f->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (f->func->reqnctapercluster[0]) return CUDA_ERROR_NOT_PERMITTED;
        if (value < 0) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: value = value != 0; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > 2) return CUDA_ERROR_INVALID_VALUE;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
    return CUDA_SUCCESS;
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
    if (!offset || index >= f->func->nparams) return CUDA_ERROR_INVALID_VALUE;
    *offset = f->func->params[index].address;
    if (bytes) *bytes = f->func->params[index].size;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetCacheConfig, (void *handle, int config), (handle, config), SIM_HEALTHY) {
    FIND_FUNCTION(f, handle);
    if (config < 0 || config > 3)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Invalid CUfunc_cache value %d", config);
    f->cache_config = config;
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
