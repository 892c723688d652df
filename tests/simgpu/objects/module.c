/* module.c - modules: an image of PTX text and its entries, in a context with its variables in
   device memory. Entries are decoded when the module is loaded, so that unsupported code fails
   there; those of a library when they are needed. Code outlives an unload until the grids that run
   it have finished. */
#include "objects.h"

/* ---- its end ---- */

static void free_variables(struct sim_var **vars, unsigned n, bool borrows) {
    for (unsigned i = 0; i < n; i++)
        if ((vars[i]->space == SIM_GLOBAL || vars[i]->space == SIM_CONST) && vars[i]->address) {
            if (vars[i]->is_managed && borrows) continue;
            if (vars[i]->is_managed) sim_managed_free(vars[i]->address);
            else sim_mem_remove(vars[i]->address);
            vars[i]->address = 0;
        }
}

void sim_module_unref(struct sim_module *m) {
    if (--m->refs) return;
    for (unsigned i = 0; i < m->nfunctions; i++) {
        sim_code_free(m->functions[i].code);
        free(m->functions[i].staged);
    }
    free(m->functions);
    free(m->by_name);
    sim_image_free(m->image);
    free(m);
}

void sim_module_free(struct sim_module *m) {
    const struct sim_image *image = m->image;
    for (unsigned i = 0; i < m->nfunctions; i++) sim_handle_drop(m->functions[i].handle);
    sim_handle_drop(m->handle);
    m->handle = 0;
    sim_link_remove(&m->link);
    for (struct sim_module **p = m->siblings; p && *p; p = &(*p)->sibling)
        if (*p == m) {
            *p = m->sibling;
            break;
        }
    while (m->references) {
        struct sim_reference *r = m->references;
        m->references = r->next;
        sim_reference_free(r);
    }
    free_variables(image->vars, image->nvars, m->borrows);
    for (unsigned i = 0; i < image->nfuncs; i++)
        free_variables(image->funcs[i]->vars, image->funcs[i]->nvars, m->borrows);
    sim_module_unref(m);
}

static void end_module(struct sim_link *link) { sim_module_free(SIM_OWNER(sim_module, link)); }

/* ---- variables ---- */

static int place_variables(struct sim_context *c, bool shared, struct sim_var **vars, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct sim_var *v = vars[i];
        if ((v->space != SIM_GLOBAL && v->space != SIM_CONST) || v->is_extern || !v->size ||
                v->address)
            continue;
        const int result = v->is_managed
                ? sim_managed_variable(shared ? NULL : c, c->device, v->size, &v->address)
                : sim_mem_alloc(c->device, c, v->size, SIM_MEM_MODULE, &v->address);
        if (result) return result;
    }
    return CUDA_SUCCESS;
}

static void fill_variables(struct sim_var **vars, unsigned n, bool borrows) {
    sim_mem_use();
    for (unsigned i = 0; i < n; i++) {
        struct sim_var *v = vars[i];
        struct sim_range r;
        if ((v->space != SIM_GLOBAL && v->space != SIM_CONST) || !v->address ||
                (borrows && v->is_managed) || !sim_mem_find(NULL, v->address, v->size, &r))
            continue;
        char *bytes = (char *)(uintptr_t)v->address + r.delta;
        memset(bytes, 0, v->size);
        if (v->init) memcpy(bytes, v->init, v->init_size < v->size ? v->init_size : v->size);
        for (unsigned k = 0; k < v->nrelocs; k++) {
            const struct sim_reloc *reloc = &v->relocs[k];
            uint64_t to = reloc->var ? reloc->var->address
                                     : SIM_WINDOW_CODE + 16 * (1 + (uint64_t)reloc->func->id);
            to = (to + (uint64_t)reloc->addend) >> reloc->shift;
            if (reloc->size <= 8 && reloc->offset + reloc->size <= v->size)
                memcpy(bytes + reloc->offset, &to, reloc->size);
        }
    }
    sim_mem_unuse();
}

/* ---- names ---- */

static int by_name(const void *a, const void *b) {
    const struct sim_by_name *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}
void sim_sort_names(struct sim_by_name *names, unsigned n) {
    qsort(names, n, sizeof *names, by_name);
}

int sim_find_name(const struct sim_by_name *names, unsigned n, const char *name) {
    unsigned a = 0;
    for (unsigned end = n, middle; a < end;) {
        middle = a + (end - a) / 2;
        if (strcmp(names[middle].name, name) < 0) a = middle + 1;
        else end = middle;
    }
    return a < n && !strcmp(names[a].name, name) ? (int)names[a].index : -1;
}

/* ---- loading ---- */

static bool only_returns(const struct sim_func *f) {
    return !f->ninstrs ||
            (f->instrs[0].pred < 0 &&
                    (!strcmp(f->instrs[0].op, "ret") || !strcmp(f->instrs[0].op, "exit")));
}

/* One text is loaded as it is; those of several objects are linked. */
static int parse_fatbin(
        const void *fatbin, size_t limit, struct sim_log *errors, struct sim_image **image) {
    struct sim_texts found = { NULL, 0, 0 };
    int result = sim_fatbin_texts(fatbin, limit, "application input", errors, &found);
    if (!result && found.count > 1) result = sim_link_texts(&found, false, errors, image);
    else if (!result)
        result = sim_image_parse(found.bytes + strlen(found.bytes) + 1, (unsigned)sim_max_ptx(),
                sim_settings.capability->sm, errors, image);
    free(found.bytes);
    return result;
}

static int parse_linked(
        const char *text, struct sim_log *errors, unsigned *registers, struct sim_image **image) {
    struct sim_texts found = { NULL, 0, 0 };
    int result = sim_linked_texts(text, errors, registers, &found);
    if (!result) result = sim_link_texts(&found, false, errors, image);
    free(found.bytes);
    return result;
}

int sim_module_parse(const void *text, size_t limit, const struct sim_jit_options *o,
        struct sim_log *errors, struct sim_module **out) {
    struct sim_image *image = NULL;
    struct sim_module *m = NULL;
    int result;
    const bool linked = !sim_is_binary(text) && sim_is_linked(text);
    unsigned n = 0, registers = 0;
    pthread_mutex_lock(&sim_load_lock);
    if (sim_is_binary(text) && sim_is_host_elf(text)) {
        result = CUDA_ERROR_INVALID_IMAGE;
        sim_log_add(errors, SIM_NO_FORMAT);
    } else if (sim_is_fatbin(text) || sim_is_wrapper(text))
        result = parse_fatbin(text, limit, errors, &image);
    else if (sim_is_binary(text)) {
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
        sim_log_add(errors, "simgpu loads PTX text; this image is a cubin\n");
    } else if (linked) result = parse_linked(text, errors, &registers, &image);
    else
        result = sim_image_parse(
                text, (unsigned)sim_max_ptx(), sim_settings.capability->sm, errors, &image);
    /* as measured */
    if (!result && o->has_target && !linked && (o->target < 10 || !sim_jit_is_for_us(o->target)))
        result = o->target < 10 ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_SOURCE;
    if (!result && o->unsupported) result = CUDA_ERROR_INVALID_PTX;
    pthread_mutex_unlock(&sim_load_lock);
    for (unsigned i = 0; !result && i < image->nfuncs; i++) n += image->funcs[i]->is_entry;
    if (!result &&
            (!(m = calloc(1, sizeof *m)) ||
                    !(m->functions = calloc(n ? n : 1, sizeof *m->functions)) ||
                    !(m->by_name = calloc(n ? n : 1, sizeof *m->by_name))))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result) {
        if (m) free(m->functions);
        sim_image_free(image);
        free(m);
        return result;
    }
    m->refs = 1;
    m->image = image;
    m->limits = o->limits;
    if (registers) m->limits.registers = registers;
    m->prints = sim_image_func(image, "vprintf") != NULL;
    sim_link_init(&m->link);
    for (unsigned i = 0; i < image->nfuncs; i++) {
        struct sim_func *func = image->funcs[i];
        if (!func->is_entry) continue;
        m->by_name[m->nfunctions] = (struct sim_by_name){ func->name, m->nfunctions };
        m->functions[m->nfunctions++] = (struct sim_function){
            .module = m, .func = func, .no_effect = only_returns(func)
        };
    }
    sim_sort_names(m->by_name, m->nfunctions);
    *out = m;
    return CUDA_SUCCESS;
}

static int place_all(struct sim_module *m, struct sim_context *c, bool shared) {
    struct sim_image *image = m->image;
    int result = place_variables(c, shared, image->vars, image->nvars);
    m->context = c;
    for (unsigned i = 0; i < m->nfunctions; i++) { /* decoded without the variables' addresses */
        sim_code_free(m->functions[i].code);
        m->functions[i].code = NULL;
    }
    for (unsigned i = 0; !result && i < image->nfuncs; i++)
        result = place_variables(c, shared, image->funcs[i]->vars, image->funcs[i]->nvars);
    if (result) return result;
    fill_variables(image->vars, image->nvars, m->borrows);
    for (unsigned i = 0; i < image->nfuncs; i++)
        fill_variables(image->funcs[i]->vars, image->funcs[i]->nvars, m->borrows);
    return CUDA_SUCCESS;
}
int sim_module_place(struct sim_module *m, struct sim_context *c) { return place_all(m, c, false); }

/* Calls `visit` for each managed variable, always in the same order. Returns how many there are. */
static unsigned each_managed(
        const struct sim_image *image, void (*visit)(struct sim_var *, uint64_t *), uint64_t *at) {
    unsigned n = 0;
    for (unsigned i = 0; i < image->nvars; i++)
        if (image->vars[i]->is_managed) visit(image->vars[i], at ? &at[n] : NULL), n++;
    for (unsigned i = 0; i < image->nfuncs; i++)
        for (unsigned k = 0; k < image->funcs[i]->nvars; k++)
            if (image->funcs[i]->vars[k]->is_managed)
                visit(image->funcs[i]->vars[k], at ? &at[n] : NULL), n++;
    return n;
}
static void count(struct sim_var *v, uint64_t *at) {
    (void)v;
    (void)at;
}
static void borrow(struct sim_var *v, uint64_t *at) { v->address = *at; }
static void lend(struct sim_var *v, uint64_t *at) { *at = v->address; }

int sim_module_place_shared(
        struct sim_module *m, struct sim_context *c, struct sim_addresses *managed) {
    const unsigned n = each_managed(m->image, count, NULL);
    if (!n) return place_all(m, c, true);
    if (managed->at && managed->n == n) {
        m->borrows = true;
        each_managed(m->image, borrow, managed->at);
        return place_all(m, c, true);
    }
    uint64_t *at = calloc(n, sizeof *at);
    const int result = at ? place_all(m, c, true) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result) {
        free(at);
        return result;
    }
    each_managed(m->image, lend, at);
    m->borrows = true;
    *managed = (struct sim_addresses){ at, n };
    return CUDA_SUCCESS;
}

int sim_module_open(struct sim_module *m) {
    if (!(m->handle = sim_handle_new(SIM_H_MODULE, m))) return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (!(m->functions[i].handle = sim_handle_new(SIM_H_FUNCTION, &m->functions[i])))
            return CUDA_ERROR_OUT_OF_MEMORY;
    sim_link_add(&m->context->children, &m->link, end_module);
    return CUDA_SUCCESS;
}

/* Without sim_lock. */
static int decode(const struct sim_function *f, struct sim_log *errors, struct sim_code **code) {
    pthread_mutex_lock(&sim_load_lock);
    const int result = sim_code_decode(f->func, errors, code);
    pthread_mutex_unlock(&sim_load_lock);
    if (result) *code = NULL;
    return result;
}

const struct sim_preferences sim_no_preferences = { SIM_DEFAULT, -1, 0, { 0 } };

int sim_default_dynamic(uint32_t fixed) {
    return (int)(fixed <= SIM_BLOCK_SHARED ? SIM_BLOCK_SHARED
                                           : sim_settings.capability->block_shared) -
            (int)fixed;
}

static void set_code(struct sim_function *f, struct sim_code *code) {
    const struct sim_context *c = f->module->context;
    f->code = code;
    f->prefers = c && f->kernel ? f->kernel->prefers[c->device->ordinal] : sim_no_preferences;
    if (f->prefers.max_dynamic == SIM_DEFAULT)
        f->prefers.max_dynamic = sim_default_dynamic(sim_code_info(code)->static_shared);
    for (int i = 0; f->func->reqnctapercluster[0] && i < 3; i++)
        f->prefers.cluster[i] = (int)f->func->reqnctapercluster[i];
}

unsigned sim_threads_limit(const struct sim_function *f) {
    const struct sim_jit_limits *o = &f->module->limits;
    const uint32_t *m = f->func->maxntid;
    if (m[0] && !(o->override && o->most_threads)) {
        const uint64_t threads = (uint64_t)m[0] * (m[1] ? m[1] : 1) * (m[2] ? m[2] : 1);
        return threads < SIM_BLOCK_THREADS ? (unsigned)threads : SIM_BLOCK_THREADS;
    }
    return o->most_threads && o->most_threads < SIM_BLOCK_THREADS ? o->most_threads
                                                                  : SIM_BLOCK_THREADS;
}

/* So many that this number of threads, in this number of blocks, fits on a multiprocessor. */
static unsigned registers_for(uint64_t threads, uint64_t blocks) {
    const uint64_t warps = (threads + 31) / 32 * (blocks ? blocks : 1),
                   most = SIM_SM_REGS / 32 / warps / 8 * 8;
    return most < UINT32_MAX ? (unsigned)most : UINT32_MAX;
}

/* As measured: .maxnreg replaces all other limits; of these the lowest counts. A GPU's compiler
   orders instructions so that fewer values are live; up to twice as many as 1,024 threads have room
   for count as just as many, so that no kernel is refused here that a GPU launches. */
unsigned sim_registers(const struct sim_function *f) {
    enum { LEAST = 24, MOST = 255, COMMON = SIM_SM_REGS / SIM_BLOCK_THREADS };
    const struct sim_jit_limits *o = &f->module->limits;
    const struct sim_func *text = f->func;
    const uint32_t *threads = text->maxntid[0] ? text->maxntid : text->reqntid;
    const unsigned needed = sim_code_info(f->code)->num_regs;
    unsigned most = MOST, blocks = text->minnctapersm;
    uint64_t block = (uint64_t)threads[0] * (threads[1] ? threads[1] : 1) *
            (threads[2] ? threads[2] : 1);
    if (text->maxnreg && !(o->override && o->registers))
        most = text->maxnreg < LEAST ? LEAST : text->maxnreg;
    else {
        if (o->registers) most = o->registers < LEAST ? LEAST : o->registers;
        if (!block || (o->override && (o->most_threads || o->threads)))
            block = o->most_threads ? o->most_threads : o->threads;
        if (o->blocks && (!blocks || o->override)) blocks = o->blocks;
        if (block && registers_for(block, blocks) < most) most = registers_for(block, blocks);
        if (most < LEAST) most = LEAST;
    }
    const unsigned fits = needed > COMMON && needed <= 2 * COMMON && most > COMMON && !block
            ? COMMON
            : needed;
    return fits < most ? fits : most < MOST ? most : MOST;
}

/* The output of ptxas -v; as on a GPU the text names the target architecture. */
static void report(const struct sim_module *m, struct sim_log *log) {
    sim_report_globals(log, m->image, 0, "ptxas ");
    for (unsigned i = 0; i < m->nfunctions; i++) {
        const struct sim_code_info *info = sim_code_info(m->functions[i].code);
        sim_log_add(log, "ptxas info    : Compiling entry function '%s' for 'sm_%u%s'\n",
                m->functions[i].func->name, sim_settings.capability->sm,
                sim_settings.capability->sm < 90 ? "" : "a");
        sim_log_add(log, "ptxas info    : Used %u registers", sim_registers(&m->functions[i]));
        if (info->local_bytes)
            sim_log_add(log, ", %u bytes cumulative stack size", (unsigned)info->local_bytes);
        if (info->static_shared) sim_log_add(log, ", %u bytes smem", (unsigned)info->static_shared);
        sim_log_add(log, ", %u bytes cmem[0]\n", 528 + (unsigned)info->param_bytes);
    }
}

int sim_module_load(
        void **out, const void *text, size_t limit, unsigned n, const int *options, void **values) {
    struct sim_jit_options o = { .wall = NULL };
    struct sim_log errors = { NULL, 0, 0 }, info = { NULL, 0, 0 };
    struct sim_context *c = sim_self.context;
    const void *context = SIM_HANDLE(c->handle);
    struct sim_module *m = NULL;
    int result;
    if (!out || !text) return CUDA_ERROR_INVALID_VALUE;
    if ((result = sim_jit_read(&o, n, options, values))) return result;
    uint64_t start = sim_now_ns();
    c->loading++;
    pthread_mutex_unlock(&sim_lock);
    result = sim_module_parse(text, limit, &o, &errors, &m);
    if (!result) result = sim_module_place(m, c);
    for (unsigned i = 0; !result && i < m->nfunctions; i++) {
        struct sim_code *code;
        if (!(result = decode(&m->functions[i], &errors, &code))) set_code(&m->functions[i], code);
    }
    pthread_mutex_lock(&sim_lock);
    c->loading--;
    sim_link_remember(result);
    if (!result && !sim_context_still(c, context)) result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!result) result = sim_module_open(m);
    if (!result && o.verbose) report(m, &info);
    sim_jit_write(&o, &errors, &info, sim_now_ns() - start, result);
    if (!result) *out = SIM_HANDLE(m->handle);
    else if (m) sim_module_free(m);
    return result;
}

int sim_function_need(struct sim_function *f) {
    struct sim_log errors = { NULL, 0, 0 };
    struct sim_module *m = f->module;
    struct sim_code *code;
    if (f->code) return CUDA_SUCCESS;
    m->refs++;
    pthread_mutex_unlock(&sim_lock);
    int result = decode(f, &errors, &code);
    pthread_mutex_lock(&sim_lock);
    sim_jit_say(result, &errors);
    sim_log_free(&errors);
    /* another thread unloaded it */
    if (!result && m->context && !m->handle) result = CUDA_ERROR_INVALID_HANDLE;
    if (!result && !f->code) set_code(f, code);
    else sim_code_free(code);
    sim_module_unref(m);
    return result;
}

/* In a linked image, names without linkage are found, too, those of the first input first, as
   measured. */
static const struct sim_var *variable(const struct sim_image *image, const char *name) {
    const struct sim_var *v = sim_image_var(image, name);
    for (unsigned i = 0; !v && i < image->nvars; i++)
        if (!strcmp(image->vars[i]->name, name)) v = image->vars[i];
    return v && v->address && (v->space == SIM_GLOBAL || v->space == SIM_CONST) ? v : NULL;
}

int sim_module_global(
        const struct sim_module *m, const char *name, CUdeviceptr *address, size_t *bytes) {
    if (!name || !*name || (!address && !bytes) ||
            sim_find_name(m->by_name, m->nfunctions, name) >= 0)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_var *v = variable(m->image, name);
    if (!v) return CUDA_ERROR_NOT_FOUND;
    if (v->opaque) return CUDA_ERROR_INVALID_VALUE; /* a reference, as measured */
    if (address) *address = v->address;
    if (bytes) *bytes = v->size;
    return CUDA_SUCCESS;
}

/* One for each variable, however often the program queries it. */
int sim_module_reference(struct sim_module *m, bool is_surface, const char *name, void **out) {
    const struct sim_var *v = variable(m->image, name);
    if (!v || v->opaque != (is_surface ? SIM_SURFREF : SIM_TEXREF)) return CUDA_ERROR_NOT_FOUND;
    struct sim_reference *r = m->references;
    while (r && r->variable != v->address) r = r->next;
    if (!r) {
        if (!(r = sim_reference_new(m->context, is_surface, v->address)))
            return CUDA_ERROR_OUT_OF_MEMORY;
        r->next = m->references;
        m->references = r;
    }
    *out = SIM_HANDLE(r->handle);
    return CUDA_SUCCESS;
}
