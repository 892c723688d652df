/* image.c - the way into the front end: texts become an image, after checks of the whole module. */
#include "ptx.h"

static void check_use(struct px *px, const struct sim_func *f) {
    if (!f->has_body && !px_is_provided(px, f->name))
        px_fatal(px, 218, 0, "Unresolved extern function '%s'", f->name);
}

static void check_operand_uses(struct px *px, const struct sim_operand *o, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (o[i].kind == SIM_O_SYM && o[i].func) check_use(px, o[i].func);
}

static void take(struct sim_image *m, struct sim_func *f) {
    if (!f->is_taken) m->taken[m->ntaken++] = f;
    f->is_taken = true;
}

static void take_operands(struct sim_image *m, const struct sim_operand *o, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        if (o[k].kind == SIM_O_SYM && o[k].func && o[k].func->has_body && !o[k].func->is_entry)
            take(m, o[k].func);
        if (o[k].n) take_operands(m, o[k].list, o[k].n);
    }
}

/* The functions whose addresses are taken: in variables, and by instructions other than calls. */
static void find_taken(struct px *px) {
    struct sim_image *m = px->image;
    m->taken = px_alloc(px, (m->nfuncs + 1) * sizeof *m->taken);
    for (unsigned i = 0; i < m->nvars; i++)
        for (unsigned k = 0; k < m->vars[i]->nrelocs; k++) {
            struct sim_func *f = m->vars[i]->relocs[k].func;
            if (f && f->has_body) take(m, f);
        }
    for (unsigned i = 0; i < m->nfuncs; i++)
        for (unsigned k = 0; k < m->funcs[i]->ninstrs; k++) {
            const struct sim_instr *in = &m->funcs[i]->instrs[k];
            if (in->form->select != SIM_SELECT_CALL) take_operands(m, in->opd, in->n);
        }
}

static void finish(struct px *px) {
    struct sim_image *m = px->image;
    uint64_t const_bytes = 0;
    m->vars = px_keep(px, px->vars.data, px->vars.n, sizeof *m->vars);
    m->nvars = (unsigned)px->vars.n;
    m->funcs = px_keep(px, px->funcs.data, px->funcs.n, sizeof *m->funcs);
    m->nfuncs = (unsigned)px->funcs.n;
    if (px->more) return;
    find_taken(px);
    for (unsigned i = 0; i < m->nfuncs; i++) {
        if (!m->funcs[i]->is_extern) check_use(px, m->funcs[i]);
        for (unsigned k = 0; k < m->funcs[i]->ninstrs; k++) {
            const struct sim_instr *in = &m->funcs[i]->instrs[k];
            check_operand_uses(px, in->opd, in->n);
        }
    }
    for (unsigned i = 0; i < m->nvars; i++) {
        struct sim_var *v = m->vars[i];
        if (v->space == SIM_CONST) m->const_bytes += (uint32_t)v->size;
        if (v->space == SIM_CONST)
            const_bytes = ((const_bytes + v->align - 1) & ~(uint64_t)(v->align - 1)) + v->size;
        if (v->is_extern && v->space != SIM_SHARED && !v->size)
            px_fatal(px, 218, 0, "Unresolved extern variable '%s'", v->name);
        /* "whole program compilation, ignoring extern qualifier" */
        if (v->is_extern && !v->is_unsized) v->is_extern = false;
        for (unsigned k = 0; k < v->nrelocs; k++)
            if (v->relocs[k].func && !v->relocs[k].func->has_body)
                px_fatal(px, 218, 0, "Cannot take address of function '%s'",
                        v->relocs[k].func->name);
    }
    if (const_bytes > 0x10000) {
        px->errors++;
        sim_log_add(px->log,
                "ptxas error   : File uses too much global constant data (0x%llx bytes, 0x10000 "
                "max)\n",
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
        px->image->sm_suffix = 0;
        for (const char *c = text; *c; c++) {
            if (*c == '\n') line++;
            if ((unsigned char)*c > 127)
                px_fatal(px, 218, 0, "Unexpected non-ASCII character encountered on line %u", line);
        }
        px->debug = px->has_debug = false;
        px_parse_header(px);
        px_parse_module(px);
        if (px->debug && !px->has_debug) {
            px->errors++;
            sim_log_add(px->log,
                    "ptxas error   : Debug information not found in presence of .target debug\n");
        }
        if (px->errors) return;
        if (px->image->sm > sm) sm = px->image->sm;
        if (px->ninputs > 1) px_forget_module(px);
    }
    px->image->sm = sm;
}

static int parse(const struct sim_input *inputs, unsigned n, bool merge, bool more,
        unsigned max_version, unsigned device_sm, struct sim_log *errors, struct sim_image **out) {
    struct px *px = calloc(1, sizeof *px);
    *out = NULL;
    if (!px) return 2;
    px->log = errors;
    px->max_version = max_version;
    px->device_sm = device_sm;
    px->inputs = inputs;
    px->ninputs = n;
    px->more = more;
    px->links = merge;
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
        if (result == 218)
            sim_log_add(errors, "ptxas fatal   : Ptx assembly aborted due to errors\n");
        px_store_free(px->store);
    }
    struct px_vec *scratch[] = { &px->vars, &px->funcs, &px->instrs, &px->regs, &px->fvars,
        &px->params, &px->relocs, &px->pending, &px->stack };
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) free(scratch[i]->data);
    free(px);
    return result;
}

int sim_image_parse(const char *text, unsigned max_version, unsigned device_sm,
        struct sim_log *errors, struct sim_image **out) {
    struct sim_input input = { NULL, text };
    return parse(&input, 1, false, false, max_version, device_sm, errors, out);
}

int sim_image_link(const struct sim_input *inputs, unsigned n, bool more, unsigned max_version,
        unsigned device_sm, struct sim_log *errors, struct sim_image **out) {
    return parse(inputs, n, true, more, max_version, device_sm, errors, out);
}

void sim_image_free(struct sim_image *image) {
    if (image) px_store_free(image->arena);
}

static struct px_symbol *module_symbol(
        const struct sim_image *image, const char *name, enum px_symbol_kind kind) {
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
