/* parse.c - the grammar of modules and functions. */
#include "ptx.h"

/* ---- statements ---- */

/* `name: .branchtargets a, b;` or `name: .callprototype (...) _ (...);`: the label names a list,
   not a position. */
static void label_directive(struct px *px, struct px_symbol *label) {
    if (px_accept_dot(px, "branchtargets")) {
        size_t base = px->stack.n;
        do px_push_label(px);
        while (px_accept(px, ','));
        px_expect(px, ';');
        label->targets = px_keep_operands(px, base, &label->ntargets);
    } else {
        struct sim_proto *p = label->proto = px_alloc(px, sizeof *p);
        px_next(px);
        if (px_is(px, '(')) p->rets = px_parameters(px, &p->nrets, NULL);
        if (px_is(px, '_') || px->t.kind == T_IDENT) px_next(px);
        else px_syntax(px);
        if (px_is(px, '(')) p->params = px_parameters(px, &p->nparams, NULL);
        while (px_dot(px, "noreturn") || px_dot(px, "abi_preserve") ||
                px_dot(px, "abi_preserve_control")) {
            px_next(px);
            if (px->t.kind == T_NUMBER) px_next(px);
        }
        px_expect(px, ';');
        px_lay_out(p->params, p->nparams, 0);
        px_lay_out(p->rets, p->nrets, 0);
    }
}

static void parse_body(struct px *px) {
    px_expect(px, '{');
    px->unused = 0;
    for (;;) {
        if (px->t.kind == T_IDENT) {
            const char *c = px->cur;
            while (*c == ' ' || *c == '\t') c++;
            if (*c != ':') {
                px_instruction(px, -1, false);
                continue;
            }
            const unsigned line = px->t.line;
            struct px_name *name = px_new_name(px);
            px_next(px);
            struct px_symbol *label = px_declare(px, name, PX_LABEL, line);
            label->reg = (unsigned)px->instrs.n;
            if (px_dot(px, "branchtargets") || px_dot(px, "callprototype"))
                label_directive(px, label);
        } else if (px_accept(px, '@')) {
            bool negated = px_accept(px, '!');
            if (px->t.kind != T_IDENT) px_syntax(px);
            struct px_symbol *s = px_lookup(px, px->t.name);
            int reg = -1;
            if (s && s->kind == PX_REG &&
                    ((struct sim_reg *)px->regs.data)[s->reg].type == SIM_PRED)
                reg = (int)s->reg;
            else px_error(px, px->t.line, "Predicate expression expected");
            if (!s) {
                struct px_pending *p = px_push(px, &px->pending, sizeof *p);
                p->name = px->t.name;
                p->line = px->t.line;
                p->operand = px_alloc(px, sizeof *p->operand);
            }
            px_next(px);
            if (px->t.kind != T_IDENT) px_syntax(px);
            px_instruction(px, reg, negated);
        } else if (px_accept(px, '{')) px_open_scope(px);
        else if (px_accept(px, '}')) {
            if (px->depth == 1) return;
            px_close_scope(px);
        } else if (px_at_declaration(px))
            px_variables(px, (struct px_linkage){ .is_extern = false });
        else if (!px_directive(px, PX_IN_BODY)) px_syntax(px);
    }
}

static void compare_params(struct px *px, unsigned line, const char *name, const struct sim_var *a,
        unsigned na, const struct sim_var *b, unsigned nb) {
    if (na != nb) {
        px_error(px, line, "Inconsistent prototypes of '%s', number of parameters differ", name);
        return;
    }
    for (unsigned i = 0; i < na; i++) {
        bool same = sim_type_size(a[i].type) == sim_type_size(b[i].type) &&
                a[i].space == b[i].space && a[i].size == b[i].size;
        if (!same)
            px_error(px, line, "Inconsistent prototypes of '%s', parameter types differ", name);
        if (a[i].align != b[i].align)
            px_error(px, line, "Inconsistent prototypes of '%s', parameter alignment differ", name);
    }
}

/* The closing brace has been read: handles names without a label, and the function's arrays. */
static void close_body(struct px *px) {
    struct sim_func *f = px->func;
    px_close_scope(px);
    struct px_pending *p = px->pending.data;
    for (size_t i = 0; i < px->pending.n; i++)
        if (p[i].was_symbol)
            px_error(px, p[i].line, "Label expected for argument 0 of instruction '%s'",
                    p[i].label_for);
        else px_error(px, p[i].line, "Unknown symbol '%s'", p[i].name->text);
    f->instrs = px_keep(px, px->instrs.data, px->instrs.n, sizeof *f->instrs);
    f->ninstrs = (unsigned)px->instrs.n;
    f->regs = px_keep(px, px->regs.data, px->regs.n, sizeof *f->regs);
    f->nregs = (unsigned)px->regs.n;
    f->vars = px_keep(px, px->fvars.data, px->fvars.n, sizeof *f->vars);
    f->nvars = (unsigned)px->fvars.n;
    uint32_t params = px_align_up(px->local_bytes, px->param_align);
    for (unsigned i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == SIM_PARAM) f->vars[i]->address += params;
    f->frame_bytes = params + px->param_bytes;
    f->local_bytes = px->local_bytes;
    px->func = NULL;
}

/* A function has the same linkage in each declaration; only `.visible` and `.weak` may be omitted
   after the first. */
static bool same_linkage(const struct sim_func *g, const struct sim_func *f) {
    if (!g->is_extern && !f->is_extern && !f->is_weak && !f->is_visible) return true;
    return g->is_extern == f->is_extern && g->is_weak == f->is_weak &&
            g->is_visible == f->is_visible;
}

/* f has just been read. Returns the function that it declares or whose definition begins: f, or an
   earlier declaration, completed. */
static struct sim_func *declare_function(
        struct px *px, struct px_name *name, struct sim_func *f, bool body, unsigned line) {
    struct px_symbol *old = name->sym;
    struct sim_func *g = old && old->kind == PX_FUNC ? old->func : NULL;
    if (old && !g) {
        px_error(px, line, "Inconsistent redefinition of variable '%s'", f->name);
        px_error(px, line, "Duplicate definition of function '%s'", f->name);
        px_fatal(px, 218, line, "Inconsistent redefinition of symbol '%s'", f->name);
    }
    if (g) {
        if (g->is_entry != f->is_entry)
            px_error(px, line, "Inconsistent redefinition of '%s' as entry and function", f->name);
        if (g->has_body) px_error(px, line, "Duplicate definition of function '%s'", f->name);
        compare_params(px, line, f->name, g->params, g->nparams, f->params, f->nparams);
        compare_params(px, line, f->name, g->rets, g->nrets, f->rets, f->nrets);
        if (!same_linkage(g, f))
            px_error(px, line, "Inconsistent redefinition of variable '%s'", f->name);
    }
    if (body && (g ? g : f)->is_extern)
        px_error(px, line,
                "Function definition conflicts with '.extern' declaration for function '%s'",
                f->name);
    if (!g) {
        px_declare(px, name, PX_FUNC, line)->func = f;
        f->id = (unsigned)px->funcs.n;
        *(struct sim_func **)px_push(px, &px->funcs, sizeof f) = f;
        return f;
    }
    if (!body || g->has_body) return body ? f : g;
    f->id = g->id;
    f->is_visible |= g->is_visible;
    f->is_weak |= g->is_weak;
    *g = *f; /* its parameters have the definition's names */
    return g;
}

static void parse_function(struct px *px, struct px_linkage l, bool is_entry) {
    px_next(px);
    if (!is_entry && px_accept_dot(px, "attribute")) px_attributes(px, NULL);
    struct sim_func *f = px_alloc(px, sizeof *f);
    f->image = px->image;
    f->input = px->input;
    f->is_entry = is_entry;
    f->is_extern = l.is_extern;
    f->is_weak = l.is_weak;
    f->is_visible = l.is_visible;
    if (!is_entry && px_is(px, '(')) f->rets = px_parameters(px, &f->nrets, NULL);
    const unsigned line = px->t.line;
    struct px_name *name = px_new_name(px);
    f->name = (char *)name->text;
    for (unsigned i = 0; f->nrets > 1 && i < f->nrets; i++)
        if (f->rets[i].space == SIM_PARAM) {
            px_error(px, line, "Multiple return parameters require .register state space");
            break;
        }
    if (px_is(px, '(')) f->params = px_parameters(px, &f->nparams, is_entry ? name->text : NULL);
    const bool tuned = px_tune(px, f), body = px_is(px, '{');
    if (!body && tuned && is_entry) px_syntax(px); /* only a definition has such directives */
    if (!body) px_expect(px, ';');

    f = declare_function(px, name, f, body, line);
    f->param_bytes = (uint32_t)px_lay_out(f->params, f->nparams, f->is_entry ? SIM_PARAM_BASE : 0);
    px_lay_out(f->rets, f->nrets, 0);
    if (!body) return;

    f->has_body = true;
    px->func = f;
    px->regs.n = px->instrs.n = px->fvars.n = px->pending.n = 0;
    px->local_bytes = px->param_bytes = 0;
    px->param_align = 1;
    px->scope[0].param_bytes = 0;
    px->scope[0].pending = 0;
    px_open_scope(px);
    px_bind_parameters(px, f->rets, f->nrets, line);
    px_bind_parameters(px, f->params, f->nparams, line);
    parse_body(px);
    close_body(px);
}

/* .alias a, b: the declared function a is another name for the defined function b. */
static void parse_alias(struct px *px) {
    struct sim_func *f[2];
    unsigned line = px->t.line;
    px_require(px, line, ".alias", 0, 63);
    px_next(px);
    for (int i = 0; i < 2; i++) {
        if (px->t.kind != T_IDENT) px_syntax(px);
        struct px_symbol *s = px_lookup(px, px->t.name);
        f[i] = s && s->kind == PX_FUNC ? s->func : NULL;
        if (!f[i]) px_error(px, px->t.line, "Unknown symbol '%s'", px->t.name->text);
        px_next(px);
        if (i == 0) px_expect(px, ',');
    }
    px_expect(px, ';');
    if (!f[0] || !f[1]) return;
    if (f[0]->has_body) {
        px_error(px, line, "Illegal redefinition of function '%s' as alias", f[0]->name);
        return;
    }
    if (!f[1]->has_body) {
        px_error(px, line, "Aliasee '%s' is not defined", f[1]->name);
        return;
    }
    struct sim_func alias = *f[1];
    alias.name = f[0]->name;
    alias.id = f[0]->id;
    alias.is_weak = f[0]->is_weak;
    alias.is_visible = f[0]->is_visible;
    *f[0] = alias;
}

void px_parse_module(struct px *px) {
    while (px->t.kind != T_EOF) {
        struct px_linkage l = { .is_extern = px_dot(px, "extern"),
            .is_weak = px_dot(px, "weak"),
            .is_visible = px_dot(px, "visible"),
            .is_common = px_dot(px, "common") };
        bool linked = l.is_extern || l.is_weak || l.is_visible || l.is_common;
        if (l.is_weak) px_require(px, px->t.line, ".weak directive", 0, 31);
        if (l.is_common) px_require(px, px->t.line, ".common directive", 0, 50);
        if (linked) px_next(px);
        if (px_dot(px, "entry") || px_dot(px, "func")) parse_function(px, l, px_dot(px, "entry"));
        else if (px_at_declaration(px)) px_variables(px, l);
        else if (linked) px_syntax(px);
        else if (px_dot(px, "alias")) parse_alias(px);
        else if (px_dot(px, "tex"))
            px_fatal(px, 218, px->t.line,
                    "Deprecated feature: '.tex' not supported as of PTX version 1.5");
        else if (!px_directive(px, PX_IN_MODULE)) px_syntax(px);
    }
}
