/* image.c - the entry to the PTX front end: the header of the text (.version .target .address_size), the checks of the
   whole module, and the finished image. Also the type names and the log, which all files use. */
#include "ptx.h"
#include <stdarg.h>

/* ---- types ---- */

static const struct { const char *name; unsigned char size; } types[] = {
    [SIM_NOTYPE] = {"", 0}, [SIM_PRED] = {"pred", 0},
    [SIM_B8] = {"b8", 1}, [SIM_U8] = {"u8", 1}, [SIM_S8] = {"s8", 1},
    [SIM_B16] = {"b16", 2}, [SIM_U16] = {"u16", 2}, [SIM_S16] = {"s16", 2}, [SIM_F16] = {"f16", 2},
    [SIM_BF16] = {"bf16", 2}, [SIM_B32] = {"b32", 4}, [SIM_U32] = {"u32", 4}, [SIM_S32] = {"s32", 4},
    [SIM_F32] = {"f32", 4}, [SIM_F16X2] = {"f16x2", 4}, [SIM_BF16X2] = {"bf16x2", 4},
    [SIM_B64] = {"b64", 8}, [SIM_U64] = {"u64", 8}, [SIM_S64] = {"s64", 8}, [SIM_F64] = {"f64", 8},
    [SIM_B128] = {"b128", 16},
};

unsigned sim_type_size(enum sim_type t) { return (unsigned)t < sizeof types / sizeof *types ? types[t].size : 0; }

const char *px_type_name(enum sim_type t) { return types[t].name; }

enum sim_type sim_type_named(const char *name) {
    for (unsigned t = SIM_PRED; t < sizeof types / sizeof *types; t++)
        if (types[t].name[0] == name[0] && !strcmp(types[t].name, name)) return (enum sim_type)t;
    return SIM_NOTYPE;
}

/* ---- the log: without memory a line is lost, never cut ---- */

void sim_log_add(struct sim_log *log, const char *format, ...) {
    va_list args;
    char line[1024];
    if (!log) return;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0) return;
    if ((size_t)n >= sizeof line) n = (int)sizeof line - 1;
    if (log->len + (size_t)n + 1 > log->cap) {
        size_t cap = (log->len + (size_t)n + 1) * 2;
        char *text = realloc(log->text, cap);
        if (!text) return;
        log->text = text;
        log->cap = cap;
    }
    memcpy(log->text + log->len, line, (size_t)n + 1);
    log->len += (size_t)n;
}

void sim_log_free(struct sim_log *log) {
    free(log->text);
    *log = (struct sim_log){ .text = NULL };
}

/* ---- the header of the text ---- */

/* The targets that ptxas 13.0 knows, with the .version that introduced each. */
static const struct { unsigned char sm, version; } targets[] = {
    {10, 10}, {11, 10}, {12, 12}, {13, 12}, {20, 20}, {30, 31}, {32, 40}, {35, 31}, {37, 41}, {50, 40}, {52, 41},
    {53, 42}, {60, 50}, {61, 50}, {62, 50}, {70, 60}, {72, 61}, {75, 63}, {80, 70}, {86, 71}, {87, 74}, {88, 90},
    {89, 78}, {90, 78}, {100, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88},
};

static void parse_version(struct px *px) {
    static const char absent[] = "Missing .version directive at start of file 'application ptx input'";
    if (px->t.kind != T_DOT || !px_dot(px, "version")) {
        px->errors++;
        px->result = 200;
        sim_log_add(px->log, SIM_NO_FORMAT);
        longjmp(px->bail, 1);
    }
    px_next(px);
    const char *c = px->t.text;
    unsigned major = 0, minor = 0, line = px->t.line;
    if (px->t.kind != T_NUMBER || px->t.fbits != 64) px_fatal(px, 218, line, "%s", absent);
    for (; *c >= '0' && *c <= '9'; c++) major = major < 1000 ? major * 10 + (unsigned)(*c - '0') : major;
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++) minor = minor < 1000 ? minor * 10 + (unsigned)(*c - '0') : minor;
    px->image->version = major * 10 + minor;
    if (px->image->version > px->max_version || minor > 9)
        px_fatal(px, 222, line, "Unsupported .version %u.%u; current version is '%u.%u'", major, minor,
            px->max_version / 10, px->max_version % 10);
    px_next(px);
}

static void parse_target(struct px *px) {
    unsigned line = px->t.line;
    if (!px_dot(px, "target"))
        px_fatal(px, 218, line, "Missing .target directive at start of file 'application ptx input'");
    do {
        static const char *const options[] = { "texmode_unified", "texmode_independent", "texmode_raw", "debug",
            "map_f64_to_f32" };
        px_next(px);
        if (px->t.kind != T_IDENT) px_syntax(px);
        const char *name = px->t.name->text;
        bool option = false;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) option |= !strcmp(name, options[i]);
        px->debug |= !strcmp(name, "debug");
        if (!option) {
            char *end = NULL;
            unsigned long sm =
                !strncmp(name, "sm_", 3) && name[3] >= '1' && name[3] <= '9' ? strtoul(name + 3, &end, 10) : 0;
            bool bare = end && !*end, suffix = end && (*end == 'a' || *end == 'f') && sm >= 90 && !end[1],
                 known = false;
            unsigned since = 0;
            for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
                if (targets[i].sm == sm && (bare || suffix)) {
                    known = true;
                    since = targets[i].version;
                }
            if (!known && (px->image->sm || !strncmp(name, "sm_", 3) || !strncmp(name, "compute_", 8)))
                px_fatal(px, 218, line, "Unsupported .target '%s'", name);
            if (!known) break;
            if (sm == 90 && suffix) since = 80;
            if (since > px->image->version)
                px_error(px, line, "PTX .version %u.%u does not support .target %s", px->image->version / 10,
                    px->image->version % 10, name);
            px->image->sm = (unsigned)sm;
            px->image->sm_suffix_a = suffix;
            if (suffix && sm != px->device_sm)
                px_fatal(px, 218, 0, "PTX with .target '%s' cannot be compiled for architecture 'sm_%u'", name,
                         px->device_sm);
        }
        px_next(px);
    } while (px_is(px, ','));
    if (!px->image->sm)
        px_fatal(px, 218, line, "Target architecture not defined at start of file 'application ptx input'");
    if (px->image->sm > px->device_sm)
        px_fatal(px, 218, 0, "SM version specified by .target is higher than default SM version assumed");
}

static void parse_header(struct px *px) {
    px_next(px);
    parse_version(px);
    do parse_target(px); while (px_dot(px, "target"));
    px->image->address_size = 64;
    if (px_accept_dot(px, "address_size")) {
        unsigned line = px->t.line;
        if (px->t.kind != T_NUMBER || px->t.fbits) px_syntax(px);
        if (px->t.value == 32) px_fatal(px, 218, line, ".address_size 32 is not supported by this CPU device");
        if (px->t.value != 64) px_error(px, line, "Illegal value for .address_size directive (must be 32 or 64)");
        px_next(px);
    }
}

/* ---- the whole module ---- */

/* Functions that the executor itself provides. */
bool px_is_system(const char *name) {
    static const char *const names[] = { "vprintf", "__assertfail", "malloc", "free" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) if (!strcmp(name, names[i])) return true;
    return false;
}

static void check_use(struct px *px, const struct sim_func *f, unsigned line) {
    if (f->has_body || px_is_system(f->name)) return;
    if (!strncmp(f->name, "cudaCDP", 7) || !strncmp(f->name, "__cudaCDP", 9))
        px_error(px, line, "Dynamic parallelism ('%s') is not supported by this CPU device", f->name);
    else px_fatal(px, 218, 0, "Unresolved extern function '%s'", f->name);
}

static void check_operand_uses(struct px *px, const struct sim_operand *o, unsigned n, unsigned line) {
    for (unsigned i = 0; i < n; i++)
        if (o[i].kind == SIM_O_SYM && o[i].func) check_use(px, o[i].func, line);
}

static void finish(struct px *px) {
    struct sim_image *m = px->image;
    uint64_t const_bytes = 0;
    m->vars = px_keep(px, px->vars.data, px->vars.n, sizeof *m->vars);
    m->nvars = (unsigned)px->vars.n;
    m->funcs = px_keep(px, px->funcs.data, px->funcs.n, sizeof *m->funcs);
    m->nfuncs = (unsigned)px->funcs.n;
    if (px->more) return;
    for (unsigned i = 0; i < m->nfuncs; i++)
        for (unsigned k = 0; k < m->funcs[i]->ninstrs; k++) {
            const struct sim_instr *in = &m->funcs[i]->instrs[k];
            check_operand_uses(px, in->opd, in->n, in->line);
        }
    for (unsigned i = 0; i < m->nvars; i++) {
        struct sim_var *v = m->vars[i];
        if (v->space == SIM_CONST) const_bytes = ((const_bytes + v->align - 1) & ~(uint64_t)(v->align - 1)) + v->size;
        /* "whole program compilation, ignoring extern qualifier" */
        if (v->is_extern && !v->is_unsized) v->is_extern = false;
        for (unsigned k = 0; k < v->nrelocs; k++)
            if (v->relocs[k].func && !v->relocs[k].func->has_body)
                px_fatal(px, 218, 0, "Cannot take address of function '%s'", v->relocs[k].func->name);
    }
    if (const_bytes > 0x10000) {
        px->errors++;
        sim_log_add(px->log, "ptxas error   : File uses too much global constant data (0x%llx bytes, 0x10000 max)\n",
            (unsigned long long)const_bytes);
    }
}

static void parse_inputs(struct px *px) {
    unsigned sm = 0;
    for (px->input = 0; px->input < px->ninputs; px->input++) {
        const char *text = px->inputs[px->input].text;
        unsigned line = 1;
        px->cur = text;
        px->line = 1;
        px->image->version = px->image->sm = 0;
        px->image->sm_suffix_a = false;
        for (const char *c = text; *c; c++) {
            if (*c == '\n') line++;
            if ((unsigned char)*c > 127)
                px_fatal(px, 218, 0, "Unexpected non-ASCII character encountered on line %u", line);
        }
        px->debug = px->has_debug = false;
        parse_header(px);
        px_parse_module(px);
        if (px->debug && !px->has_debug) {
            px->errors++;
            sim_log_add(px->log, "ptxas error   : Debug information not found in presence of .target debug\n");
        }
        if (px->errors) return;
        if (px->image->sm > sm) sm = px->image->sm;
        if (px->ninputs > 1) px_forget_module(px);
    }
    px->image->sm = sm;
}

static int parse(const struct sim_input *inputs, unsigned n, bool merge, bool more, unsigned max_version,
                 unsigned device_sm, struct sim_log *errors, struct sim_image **out) {
    struct px *px = calloc(1, sizeof *px);
    *out = NULL;
    if (!px) return 2;
    px->log = errors;
    px->max_version = max_version;
    px->device_sm = device_sm;
    px->inputs = inputs;
    px->ninputs = n;
    px->more = more;
    px->epoch = 1;
    px->result = 218;
    px->store = px_store_new();
    if (!px->store) {
        free(px);
        return 2;
    }
    if (!setjmp(px->bail)) {
        px->image = px_alloc(px, sizeof *px->image);
        px->image->arena = px->store;
        parse_inputs(px);
        if (!px->errors && merge) px_merge(px);
        if (!px->errors) finish(px);
    }
    int result = px->errors ? px->result : 0;
    if (!result) *out = px->image;
    else {
        if (result == 218) sim_log_add(errors, "ptxas fatal   : Ptx assembly aborted due to errors\n");
        px_store_free(px->store);
    }
    struct px_vec *scratch[] = { &px->vars, &px->funcs, &px->instrs, &px->regs, &px->fvars, &px->params, &px->relocs,
        &px->pending, &px->stack };
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) free(scratch[i]->data);
    free(px);
    return result;
}

int sim_image_parse(const char *text, unsigned max_version, unsigned device_sm, struct sim_log *errors,
                    struct sim_image **out) {
    struct sim_input input = { NULL, text };
    return parse(&input, 1, false, false, max_version, device_sm, errors, out);
}

int sim_image_link(const struct sim_input *inputs, unsigned n, bool more, unsigned max_version, unsigned device_sm,
    struct sim_log *errors, struct sim_image **out) {
    return parse(inputs, n, true, more, max_version, device_sm, errors, out);
}

void sim_image_free(struct sim_image *image) {
    if (image) px_store_free(image->arena);
}

static struct px_symbol *module_symbol(const struct sim_image *image, const char *name, enum px_symbol_kind kind) {
    struct px_name *n = px_find_name(image->arena, name, strlen(name));
    return n && n->sym && n->sym->kind == kind ? n->sym : NULL;
}

struct sim_func *sim_image_func(const struct sim_image *image, const char *name) {
    struct px_symbol *s = module_symbol(image, name, PX_FUNC);
    return s ? s->func : NULL;
}

struct sim_var *sim_image_var(const struct sim_image *image, const char *name) {
    struct px_symbol *s = module_symbol(image, name, PX_VAR);
    return s ? s->var : NULL;
}
