/* merge.c - combines several inputs into one image: an extern symbol of one input is the definition
   in another, a .weak definition yields to another definition, and a name without linkage stays
   local to its input. The words and results are a GPU's: a contradiction is 300, even while inputs
   are still missing; a symbol missing at the end is 999. Every use gets the definition's address,
   then the declarations are removed, so that no later step knows of linking. */
#include "ptx.h"

static const char *input_name(const struct px *px, unsigned input) {
    return px->inputs[input].name;
}

static void link_error(struct px *px, int result, const char *what, const char *name, unsigned in,
        const char *first_how, unsigned first) {
    px->errors++;
    if (px->result != 300) px->result = result;
    if (first_how)
        sim_log_add(px->log, "error   : %s '%s' in '%s', first %s in '%s'\n", what, name,
                input_name(px, in), first_how, input_name(px, first));
    else sim_log_add(px->log, "error   : %s '%s' in '%s'\n", what, name, input_name(px, in));
}

static struct px_symbol *meaning(struct px *px, const char *name) {
    return px_intern(px, name, strlen(name))->sym;
}

/* Offers a definition to the other inputs. */
static void define(struct px *px, const char *name, struct sim_var *v, struct sim_func *f) {
    struct px_symbol *s = meaning(px, name);
    bool weak = v ? v->is_weak : f->is_weak;
    if (s) {
        bool old_weak = s->kind == PX_VAR ? s->var->is_weak : s->func->is_weak;
        unsigned first = s->kind == PX_VAR ? s->var->input : s->func->input;
        if (!weak && !old_weak)
            link_error(px, 300, "Multiple definition of", name, v ? v->input : f->input, "defined",
                    first);
        if (weak || !old_weak) return;
    } else s = px_bind(px, px_intern(px, name, strlen(name)), v ? PX_VAR : PX_FUNC, 0);
    s->kind = v ? PX_VAR : PX_FUNC;
    s->var = v;
    s->func = f;
}

static bool is_open(const struct sim_var *v) {
    return v->is_extern && !(v->space == SIM_SHARED && v->is_unsized);
}

static void mismatch(struct px *px, const char *what, const char *name, unsigned a, unsigned b,
        const char *how) {
    link_error(px, 300, what, name, a > b ? a : b, how, a > b ? b : a);
}

static void missing(struct px *px, const char *name, unsigned in) {
    if (!px->more) link_error(px, 999, "Undefined reference to", name, in, NULL, 0);
}

static struct sim_var *var_for(struct px *px, struct sim_var *v) {
    if (!v || v->owner || !(is_open(v) || v->is_weak)) return v;
    struct px_symbol *s = meaning(px, v->name);
    return s && s->kind == PX_VAR ? s->var : v;
}

static void check_var(struct px *px, const struct sim_var *v) {
    if (!is_open(v)) return;
    struct px_symbol *s = meaning(px, v->name);
    if (!s) missing(px, v->name, v->input);
    else if (s->kind != PX_VAR || s->var->space != v->space)
        mismatch(px, "Memory space doesn't match for", v->name, v->input,
                s->kind == PX_VAR ? s->var->input : s->func->input, "specified");
    else if (!v->is_unsized && s->var->size != v->size)
        mismatch(px, "Size doesn't match for", v->name, v->input, s->var->input, "specified");
}

static bool same_params(
        const struct sim_var *a, unsigned na, const struct sim_var *b, unsigned nb) {
    bool same = na == nb;
    for (unsigned i = 0; same && i < na; i++)
        same = a[i].size == b[i].size && a[i].space == b[i].space;
    return same;
}

static struct sim_func *func_for(struct px *px, struct sim_func *f) {
    if (!f || (f->has_body && !f->is_weak) || (!f->has_body && px_is_provided(px, f->name)))
        return f;
    struct px_symbol *s = meaning(px, f->name);
    if (s && s->kind == PX_FUNC &&
            same_params(f->params, f->nparams, s->func->params, s->func->nparams) &&
            same_params(f->rets, f->nrets, s->func->rets, s->func->nrets))
        return s->func;
    if (f->id != ~0u) {
        if (!s) missing(px, f->name, f->input);
        else if (s->kind != PX_FUNC)
            mismatch(px, "Memory space doesn't match for", f->name, f->input, s->var->input,
                    "specified");
        else
            mismatch(px, "Prototype doesn't match for", f->name, f->input, s->func->input,
                    "defined");
    }
    f->id = ~0u; /* reported once */
    return f;
}

static void redirect(struct px *px, struct sim_operand *o, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        o[i].var = var_for(px, o[i].var);
        o[i].func = func_for(px, o[i].func);
        if (o[i].list) redirect(px, o[i].list, o[i].n);
    }
}

void px_merge(struct px *px) {
    struct sim_var **vars = px->vars.data;
    struct sim_func **funcs = px->funcs.data;
    unsigned kept = 0;
    px_forget_module(px);
    for (size_t i = 0; i < px->funcs.n; i++)
        if (funcs[i]->has_body && (funcs[i]->is_entry || funcs[i]->is_visible || funcs[i]->is_weak))
            define(px, funcs[i]->name, NULL, funcs[i]);
    for (size_t i = 0; i < px->vars.n; i++)
        if (!vars[i]->is_extern && (vars[i]->is_visible || vars[i]->is_weak))
            define(px, vars[i]->name, vars[i], NULL);
    if (px->errors) return;
    for (size_t i = 0; i < px->funcs.n; i++)
        for (unsigned k = 0; k < funcs[i]->ninstrs; k++)
            redirect(px, funcs[i]->instrs[k].opd, funcs[i]->instrs[k].n);
    for (size_t i = 0; i < px->vars.n; i++) {
        check_var(px, vars[i]);
        for (unsigned k = 0; k < vars[i]->nrelocs; k++) {
            vars[i]->relocs[k].var = var_for(px, vars[i]->relocs[k].var);
            vars[i]->relocs[k].func = func_for(px, vars[i]->relocs[k].func);
        }
    }
    if (px->errors) return;
    for (size_t i = 0; i < px->vars.n; i++)
        if (!is_open(vars[i]) && var_for(px, vars[i]) == vars[i]) {
            vars[i]->id = kept;
            vars[kept++] = vars[i];
        }
    px->vars.n = kept;
    kept = 0;
    /* no function without a body is used, except the executor's own */
    for (size_t i = 0; i < px->funcs.n; i++) {
        bool stays = funcs[i]->has_body ? func_for(px, funcs[i]) == funcs[i]
                                        : px_is_provided(px, funcs[i]->name);
        if (stays) {
            funcs[i]->id = kept;
            funcs[kept++] = funcs[i];
        }
    }
    px->funcs.n = kept;
}
