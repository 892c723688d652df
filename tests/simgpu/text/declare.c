/* declare.c - the declarations of variables, registers and parameters. */
#include "ptx.h"

/* ---- types, spaces, dimensions ---- */

static enum sim_opaque opaque_type(const struct px *px) {
    return px_dot(px, "texref")        ? SIM_TEXREF
            : px_dot(px, "surfref")    ? SIM_SURFREF
            : px_dot(px, "samplerref") ? SIM_SAMPLERREF
                                       : SIM_NOT_OPAQUE;
}

static bool at_type(struct px *px, enum sim_type *type) {
    if (px->t.kind != T_DOT) return false;
    if (opaque_type(px)) {
        *type = SIM_B64;
        return true;
    }
    *type = sim_type_named(px->t.name->text);
    return *type != SIM_NOTYPE && *type != SIM_BF16 && *type != SIM_BF16X2;
}

static bool at_space(struct px *px, enum sim_space *space) {
    static const struct {
        const char *name;
        enum sim_space space;
    } spaces[] = {
        { "reg", SIM_REG },
        { "global", SIM_GLOBAL },
        { "const", SIM_CONST },
        { "shared", SIM_SHARED },
        { "local", SIM_LOCAL },
        { "param", SIM_PARAM },
    };
    if (px->t.kind != T_DOT) return false;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (!strcmp(px->t.name->text, spaces[i].name)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

bool px_at_declaration(struct px *px) {
    enum sim_space space;
    enum sim_type type;
    return at_space(px, &space) || px_dot(px, "align") || px_dot(px, "attribute") ||
            at_type(px, &type);
}

static uint32_t alignment(struct px *px) {
    unsigned line = px->t.line;
    uint64_t v = px_number(px);
    if (v && !(v & (v - 1)) && v <= 1u << 20) return (uint32_t)v;
    px_error(px, line, "Alignment must be a power of two");
    return 1;
}

/* The specifiers of a declaration: .align, .attribute and the space in any order, then .v2 or .v4,
   then the type. */
struct spec {
    enum sim_space space;
    enum sim_type type;
    enum sim_opaque opaque;
    unsigned char vec;
    uint32_t align;
    bool is_managed;
};

/* (.managed, .unified(1, 2)), of a variable or, without a place for `managed`, of a function */
void px_attributes(struct px *px, bool *managed) {
    const unsigned line = px->t.line;
    px_require(px, line, ".attribute", 0, 40);
    px_expect(px, '(');
    do {
        if (managed && px_accept_dot(px, "managed")) {
            px_require(px, line, ".managed", 30, 0);
            *managed = true;
        } else if (px_accept_dot(px, "unified")) {
            px_require(px, line, ".unified", 90, 80);
            px_expect(px, '(');
            (void)px_number(px);
            px_expect(px, ',');
            (void)px_number(px);
            px_expect(px, ')');
        } else px_syntax(px);
    } while (px_accept(px, ','));
    px_expect(px, ')');
}

/* what a parameter points to: not used here */
static void skip_pointer(struct px *px) {
    enum sim_space space;
    px_require(px, px->t.line, "kernel parameter pointer attribute", 0, 22);
    if (at_space(px, &space)) px_next(px);
    if (px_accept_dot(px, "align")) (void)alignment(px);
}

static struct spec parse_spec(struct px *px) {
    struct spec spec = { .space = SIM_GENERIC, .vec = 1 };
    const unsigned line = px->t.line;
    for (enum sim_space space;;) {
        if (at_space(px, &space)) {
            if (spec.space != SIM_GENERIC)
                px_fatal(px, 218, line, "Multiple state spaces specified");
            spec.space = space;
            px_next(px);
            if (space == SIM_CONST && px_is(px, '['))
                px_fatal(px, 218, px->t.line,
                        "Deprecated feature: 'explicit constant banks' not supported as of PTX "
                        "version 2.2");
        } else if (px_accept_dot(px, "align")) spec.align = alignment(px);
        else if (px_accept_dot(px, "attribute")) px_attributes(px, &spec.is_managed);
        else break;
    }
    if (px_accept_dot(px, "v2")) spec.vec = 2;
    else if (px_accept_dot(px, "v4")) spec.vec = 4;
    if (!at_type(px, &spec.type)) px_syntax(px);
    spec.opaque = opaque_type(px);
    if (spec.opaque && px->independent)
        px_fatal(px, 218, line,
                "Feature '.target texmode_independent' is not supported by this CPU device");
    px_next(px);
    if (spec.space == SIM_GENERIC && !px_is(px, ';'))
        px_fatal(px, 218, line, "No variable storage specified");
    if (spec.type == SIM_B128) px_require(px, line, "Type .b128", 70, 83);
    if (spec.vec * sim_type_size(spec.type) > 16)
        px_error(px, line, "Vector type too large, exceeds 128 bit limit");
    if (spec.type == SIM_PRED && spec.vec > 1)
        px_error(px, line, "Predicate type can only be used to define scalar register variables");
    return spec;
}

/* most: the number that is allowed here; after that many, `[` is a syntax error */
static void parse_dims(struct px *px, struct px_dims *d, unsigned most) {
    *d = (struct px_dims){ .n = 0 };
    while (d->n < most && px_accept(px, '[')) {
        if (d->n == PX_MAX_DIMS)
            px_fatal(px, 218, px->t.line,
                    "Arrays of more than %d dimensions are not supported by this CPU device",
                    PX_MAX_DIMS);
        if (px_is(px, ']')) {
            if (d->n) px_syntax(px);
            d->first_open = true;
            d->size[d->n++] = 0;
        } else d->size[d->n++] = px_number(px);
        px_expect(px, ']');
    }
}

/* ---- variables ---- */

static void set_size(struct sim_var *v, const struct spec *spec, const struct px_dims *d) {
    v->type = spec->type;
    v->opaque = spec->opaque;
    v->size = (uint64_t)sim_type_size(spec->type) * spec->vec;
    v->align = spec->align ? spec->align : v->size ? (uint32_t)v->size : 1;
    v->is_unsized = d->first_open && d->size[0] == 0;
    for (unsigned i = 0; i < d->n; i++) v->size = px_times(v->size, d->size[i]);
}

/* Registers of one declaration: %r<10>, %p1, %v */
static void parse_registers(struct px *px, const struct spec *spec) {
    do {
        const unsigned line = px->t.line;
        struct px_name *name = px_new_name(px);
        if (px_accept(px, '<')) {
            uint64_t count = px_number(px);
            px_expect(px, '>');
            struct px_symbol *f = px_declare(px, name, PX_FAMILY, line);
            f->count = count;
            f->type = spec->type;
            f->vec = spec->vec;
            px->scope[px->depth].has_family = true;
            px->epoch++;
        } else {
            if (px_is(px, '['))
                px_error(px, line, "Variable '%s' cannot be allocated into a register", name->text);
            struct px_dims dims;
            parse_dims(px, &dims, PX_MAX_DIMS + 1);
            struct px_symbol *s = px_declare(px, name, PX_REG, line);
            s->reg = px_new_register(px, name, spec->type, spec->vec);
        }
    } while (px_accept(px, ','));
    px_expect(px, ';');
}

/* Whether a module variable is declared with the same type and dimensions again; [] has any
   size. */
static bool same_shape(
        const struct px_symbol *old, const struct spec *spec, const struct px_dims *d) {
    if (old->kind != PX_VAR || old->type != spec->type || old->vec != spec->vec ||
            old->var->opaque != spec->opaque || old->dims->n != d->n)
        return false;
    for (unsigned i = 0; i < d->n; i++)
        if (old->dims->size[i] != d->size[i] && (i || (old->dims->size[0] && d->size[0])))
            return false;
    return true;
}

static void check_place(
        struct px *px, const struct sim_var *v, const struct spec *spec, unsigned line) {
    if (spec->is_managed && v->space != SIM_GLOBAL)
        px_error(px, line, "Illegal attribute '.managed' for symbol '%s'", v->name);
    if (!px->func && (v->space == SIM_LOCAL || v->space == SIM_REG))
        px_error(px, line, "Module-scoped variables in .%s state space are not allowed with ABI",
                v->space == SIM_REG ? "reg" : "local");
    if (!px->func && v->space == SIM_PARAM)
        px_error(px, line, "Parameter variables may not be declared at module scope");
    if (v->space == SIM_PARAM && spec->vec > 1)
        px_error(px, line, "Variable '%s' cannot be allocated in .param state space", v->name);
    if (v->type == SIM_PRED)
        px_error(px, line, "Predicate variable '%s' must be in register state space", v->name);
    if (v->opaque && px->func)
        px_error(px, line, "Texture/surface variable must be at module or entry parameter scope");
    else if (v->opaque && v->space != SIM_GLOBAL)
        px_error(px, line, "Texture and surface variables must be declared in .global space");
    if (v->opaque == SIM_SAMPLERREF)
        px_error(px, line, "Instruction or declaration violates .target texmode_unified setting");
}

/* Gives a function's variable its place in the frame. */
static void place(struct px *px, struct sim_var *v, unsigned line) {
    const uint64_t limit = UINT64_C(1) << 24;
    if ((v->space == SIM_LOCAL || v->space == SIM_PARAM) && v->size > limit)
        px_fatal(px, 218, line,
                "Local variable '%s' of %llu bytes is not supported by this CPU device", v->name,
                (unsigned long long)v->size);
    if (v->space == SIM_LOCAL) { /* exists as long as the activation */
        px->local_bytes = px_align_up(px->local_bytes, v->align);
        v->address = px->local_bytes;
        px->local_bytes += (uint32_t)v->size;
    } else if (v->space == SIM_PARAM) { /* of one call sequence: scopes at the same level share the
                                           bytes */
        struct px_scope *s = &px->scope[px->depth];
        s->param_bytes = px_align_up(s->param_bytes, v->align);
        v->address = s->param_bytes;
        s->param_bytes += (uint32_t)v->size;
        if (s->param_bytes > px->param_bytes) px->param_bytes = s->param_bytes;
        if (v->align > px->param_align) px->param_align = v->align;
    }
    if (px->local_bytes > limit || px->param_bytes > limit)
        px_fatal(px, 218, line,
                "Local variables of more than %llu bytes are not supported by this CPU device",
                (unsigned long long)limit);
}

/* One name of a declaration, with its dimensions and initial value. */
static void declare_variable(struct px *px, const struct spec *spec, struct px_linkage l) {
    const enum sim_space space = spec->space;
    const unsigned line = px->t.line;
    struct px_name *name = px_new_name(px);
    struct px_dims dims;
    parse_dims(px, &dims, PX_MAX_DIMS + 1);
    /* A module variable may be declared again if one declaration is `.extern`, which changes
       nothing more once the size is known. */
    struct px_symbol *old = px->func ? NULL : name->sym;
    const bool known = old && old->kind == PX_VAR && old->var->space == space;
    const bool was_extern = known && old->var->is_extern;
    const bool again = known && (l.is_extern || was_extern);
    struct sim_var *v = again && (!l.is_extern || !old->var->size) ? old->var
                                                                   : px_alloc(px, sizeof *v);
    v->name = (char *)name->text;
    v->space = space;
    v->owner = px->func;
    v->input = px->input;
    v->is_extern = l.is_extern;
    v->is_weak = l.is_weak || l.is_common;
    v->is_visible = l.is_visible || l.is_common;
    v->is_managed = spec->is_managed;
    set_size(v, spec, &dims);
    check_place(px, v, spec, line);
    if (v->opaque && px_is(px, '='))
        px_fatal(px, 218, line,
                "Initial values of the texture or surface '%s' are not supported by this CPU "
                "device",
                v->name);
    if (px_accept(px, '=')) {
        px_initial_value(px, v, &dims, spec->vec);
        set_size(v, spec, &dims);
    }
    if (v->size == 0 && !l.is_extern && v->type != SIM_PRED)
        px_error(px, line, "Non-external variable '%s' has incomplete type", v->name);
    if (old && !same_shape(old, spec, &dims))
        px_error(px, line, "Inconsistent redefinition of variable '%s'", v->name);
    if (was_extern && !v->is_extern && !v->is_weak && !v->is_visible)
        px_error(px, line, "'.extern' variable '%s' cannot be resolved by a '.static'", v->name);
    if (again) {
        if (!old->dims->size[0]) old->dims->size[0] = dims.size[0];
        return;
    }
    struct px_symbol *s = px_declare(px, name, PX_VAR, line);
    s->var = v;
    s->type = spec->type;
    s->vec = spec->vec;
    if (!px->func) s->dims = px_keep(px, &dims, 1, sizeof dims);
    /* those of a function that outlive it belong to the module, except for their names */
    const bool lasting = !px->func || space == SIM_GLOBAL || space == SIM_CONST;
    struct px_vec *list = lasting ? &px->vars : &px->fvars;
    v->id = (unsigned)list->n;
    *(struct sim_var **)px_push(px, list, sizeof v) = v;
    if (lasting) v->owner = NULL;
    else place(px, v, line);
}

void px_variables(struct px *px, struct px_linkage l) {
    const struct spec spec = parse_spec(px);
    if (px_accept(px, ';')) return; /* ptxas accepts a declaration of nothing: `.reg .u32 ;` */
    if (spec.space == SIM_REG && px->func) {
        parse_registers(px, &spec);
        return;
    }
    do declare_variable(px, &spec, l);
    while (px_accept(px, ','));
    px_expect(px, ';');
}

/* ---- parameters ---- */

/* Offsets from `base`, such that the addresses are aligned as declared:
   the parameter area of a kernel begins at a multiple of 16 only. */
uint64_t px_lay_out(struct sim_var *v, unsigned n, uint64_t base) {
    uint64_t at = base;
    for (unsigned i = 0; i < n; i++) {
        if (v[i].space != SIM_PARAM) continue;
        at = (at + v[i].align - 1) & ~(uint64_t)(v[i].align - 1);
        v[i].address = at - base;
        at += v[i].size;
    }
    return at - base;
}

static void parse_parameter(struct px *px, bool of_entry) {
    struct px_dims dims;
    struct spec spec = parse_spec(px);
    const enum sim_space space = spec.space;
    if (space != SIM_PARAM && space != SIM_REG) px_syntax(px);
    if (px_accept_dot(px, "ptr")) skip_pointer(px);
    else if (px_accept_dot(px, "align")) spec.align = alignment(px);
    struct sim_var *v = px_push(px, &px->params, sizeof *v);
    const unsigned line = px->t.line;
    v->space = space;
    v->id = (unsigned)px->params.n - 1;
    v->name = px_accept(px, '_') ? px_strndup(px, "_", 1) : (char *)px_new_name(px)->text;
    if (space == SIM_REG && px_is(px, '['))
        px_error(px, line, "Variable '%s' cannot be allocated into a register", v->name);
    parse_dims(px, &dims, 1);
    set_size(v, &spec, &dims);
    if (space == SIM_PARAM && spec.vec > 1)
        px_error(px, line, "Variable '%s' cannot be allocated in .param state space", v->name);
    if (space == SIM_PARAM && spec.type == SIM_PRED)
        px_error(px, line, "Predicate variable '%s' must be in register state space", v->name);
    if (spec.opaque && !of_entry)
        px_error(px, line, "Texture/surface variable must be at module or entry parameter scope");
    if (spec.opaque == SIM_SAMPLERREF)
        px_error(px, line, "Instruction or declaration violates .target texmode_unified setting");
    const bool incomplete = dims.n && dims.size[0] == 0;
    if (incomplete && of_entry)
        px_error(px, line, "Parameter to entry function cannot be an incomplete array.");
    if (incomplete && px_is(px, ','))
        px_error(px, line, "Only the last input parameter can be an incomplete array.");
    if (v->size > 1u << 20)
        px_fatal(px, 218, line,
                "Parameters of more than 1 MiB are not supported by this CPU device");
    if (of_entry && space != SIM_PARAM)
        px_error(px, line, "Entry parameter '%s' must have .param state space", v->name);
}

static void check_entry_parameters(struct px *px, const char *name, uint64_t bytes, unsigned line) {
    static const char large[] = "Kernel parameter size larger than 4352 bytes";
    const uint64_t most = px->image->version >= 81 ? 32764 : 4352;
    if (bytes <= 4352) return;
    if (bytes > most)
        px_error(px, line,
                "Entry function '%s' uses too much parameter space (0x%llx bytes, 0x%llx max).",
                name, (unsigned long long)bytes, (unsigned long long)most);
    px_require(px, line, large, 70, 0);
    px_require(px, line, large, 0, 81);
}

/* A list of parameters in parentheses, of this entry or (NULL) another function. If a body follows,
   px_bind_parameters declares their names. */
struct sim_var *px_parameters(struct px *px, unsigned *count, const char *entry) {
    px->params.n = 0;
    px_expect(px, '(');
    if (!px_is(px, ')')) do
            parse_parameter(px, entry != NULL);
        while (px_accept(px, ','));
    const unsigned line = px->t.line;
    px_expect(px, ')');
    *count = (unsigned)px->params.n;
    const uint64_t bytes = px_lay_out(px->params.data, *count, 0);
    if (entry) check_entry_parameters(px, entry, bytes, line);
    else if (bytes > 1u << 20)
        px_fatal(px, 218, line,
                "Parameters of more than 1 MiB are not supported by this CPU device");
    return px_keep(px, px->params.data, px->params.n, sizeof(struct sim_var));
}

void px_bind_parameters(struct px *px, struct sim_var *v, unsigned n, unsigned line) {
    for (unsigned i = 0; i < n; i++) {
        if (!strcmp(v[i].name, "_")) continue;
        struct px_name *name = px_intern(px, v[i].name, strlen(v[i].name));
        struct px_symbol *s = px_declare(px, name, v[i].space == SIM_REG ? PX_REG : PX_VAR, line);
        v[i].owner = px->func;
        s->var = &v[i];
        if (v[i].space == SIM_REG) v[i].address = s->reg = px_new_register(px, name, v[i].type, 1);
    }
}
