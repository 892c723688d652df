/* parse.c - the grammar of modules, functions and declarations, and the meaning of names.

   A name points to its innermost meaning; leaving a scope restores the outer one. Labels have a separate namespace and
   may be used before their definition: such uses wait in px->pending until their scope closes. Registers get their
   index when they are declared, those of a family `%r<100>` when they are first used. */
#include "ptx.h"

static uint32_t align_up(uint32_t value, uint32_t align) { return (value + (align - 1)) & ~(align - 1); }

/* ---- names and scopes ---- */

/* The family that covers a name such as %r12: the innermost of `%r<N>` with N > 12, `%r1<N>` with N > 2. */
static struct px_symbol *family_of(struct px *px, struct px_name *name) {
    if (name->family_epoch == px->epoch) return name->family;
    struct px_symbol *best = NULL;
    uint64_t number = 0, scale = 1;
    for (unsigned n = name->len; n-- > 1 && name->len - n <= 10;) {
        char c = name->text[n];
        if (c < '0' || c > '9') break;
        number += scale * (unsigned)(c - '0');
        scale *= 10;
        if (c == '0' && n + 1 < name->len) continue;       /* %r012 is not in %r<100> */
        struct px_name *base = px_find_name(px->store, name->text, n);
        for (struct px_symbol *s = base ? base->sym : NULL; s; s = s->shadowed)
            if (s->kind == PX_FAMILY) {
                if (number < s->count && (!best || s->depth > best->depth)) best = s;
                break;
            }
    }
    name->family = best;
    name->family_epoch = px->epoch;
    return best;
}

static unsigned new_register(struct px *px, struct px_name *name, enum sim_type type, unsigned char vec) {
    struct sim_reg *r = px_push(px, &px->regs, sizeof *r);
    r->name = (char *)name->text;
    r->type = type;
    r->vec = vec;
    return (unsigned)px->regs.n - 1;
}

struct px_symbol *px_bind(struct px *px, struct px_name *name, enum px_symbol_kind kind, unsigned depth) {
    struct px_symbol *s = px_alloc(px, sizeof *s);
    bool label = kind == PX_LABEL;
    struct px_scope *scope = &px->scope[depth];
    struct px_symbol **meaning = label ? &name->label : &name->sym, **list = label ? &scope->labels : &scope->symbols;
    s->kind = kind;
    s->depth = depth;
    s->name = name;
    s->shadowed = *meaning;
    *meaning = s;
    s->next = *list;
    *list = s;
    return s;
}

struct px_symbol *px_lookup(struct px *px, struct px_name *name) {
    struct px_symbol *s = name->sym;
    char last = name->text[name->len - 1];
    struct px_symbol *f = px->func && last >= '0' && last <= '9' ? family_of(px, name) : NULL;
    if (f && (!s || s->depth < f->depth)) {
        s = px_bind(px, name, PX_REG, f->depth);
        s->family = f;
        s->reg = new_register(px, name, f->type, f->vec);
    }
    return s && s->kind != PX_FAMILY ? s : NULL;
}

/* A second declaration in the same scope is an error, and gets a symbol that no lookup finds. */
static struct px_symbol *declare(struct px *px, struct px_name *name, enum px_symbol_kind kind, unsigned line) {
    struct px_symbol *old = kind == PX_LABEL ? name->label : name->sym;
    struct px_symbol *family = px->func && kind != PX_FAMILY && kind != PX_LABEL ? family_of(px, name) : NULL;
    const char *what = kind == PX_LABEL ? "label" : kind == PX_FUNC ? "function" : "variable";
    if (kind != PX_LABEL && px_special(name) > 0)
        px_error(px, line, "Duplicate definition of built-in variable '%s'", name->text);
    else if ((old && old->depth == px->depth) || (family && family->depth == px->depth))
        px_error(px, line, "Duplicate definition of %s '%s%s'", what, name->text, kind == PX_FAMILY ? "<" : "");
    else return px_bind(px, name, kind, px->depth);
    struct px_symbol *lost = px_alloc(px, sizeof *lost);
    lost->kind = kind;
    return lost;
}

static void open_scope(struct px *px) {
    if (px->depth == PX_MAX_DEPTH)
        px_fatal(px, 218, px->t.line, "Scopes nested deeper than %d are not supported by this CPU device",
                 PX_MAX_DEPTH);
    px->depth++;
    px->scope[px->depth] =
        (struct px_scope){ .pending = px->pending.n, .param_bytes = px->scope[px->depth - 1].param_bytes };
}

/* Resolves the uses that wait for a label of this scope; the others keep waiting for an outer scope's. */
static void close_scope(struct px *px) {
    struct px_scope *scope = &px->scope[px->depth];
    struct px_pending *p = px->pending.data;
    size_t kept = scope->pending;
    for (size_t i = scope->pending; i < px->pending.n; i++) {
        struct px_symbol *l = p[i].name->label;
        if (!l || l->depth != px->depth) {
            p[kept++] = p[i];
            continue;
        }
        if (l->targets || l->proto)
            px_fatal(px, 218, p[i].line, "Label expected for forward reference of '%s'", p[i].name->text);
        p[i].operand->target = l->reg;
    }
    px->pending.n = kept;
    for (struct px_symbol *s = scope->symbols; s; s = s->next) s->name->sym = s->shadowed;
    for (struct px_symbol *s = scope->labels; s; s = s->next) s->name->label = s->shadowed;
    if (scope->has_family) px->epoch++;
    px->depth--;
}

void px_forget_module(struct px *px) {
    for (struct px_symbol *s = px->scope[0].symbols; s; s = s->next) s->name->sym = s->shadowed;
    px->scope[0] = (struct px_scope){ .pending = 0 };
    px->epoch++;
}

/* ---- types, spaces, numbers of declarations ---- */

static bool at_type(struct px *px, enum sim_type *type) {
    if (px->t.kind != T_DOT) return false;
    if (px_dot(px, "texref") || px_dot(px, "surfref") || px_dot(px, "samplerref"))
        px_fatal(px, 218, px->t.line, "Feature '.%s' is not supported by this CPU device", px->t.name->text);
    *type = sim_type_named(px->t.name->text);
    return *type != SIM_NOTYPE && *type != SIM_BF16 && *type != SIM_BF16X2;
}

static bool at_space(struct px *px, enum sim_space *space) {
    static const struct { const char *name; enum sim_space space; } spaces[] = {
        {"reg", SIM_REG}, {"global", SIM_GLOBAL}, {"const", SIM_CONST},
        {"shared", SIM_SHARED}, {"local", SIM_LOCAL}, {"param", SIM_PARAM}
        };
    if (px->t.kind != T_DOT) return false;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (!strcmp(px->t.name->text, spaces[i].name)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

static uint64_t number(struct px *px) {
    if (px->t.kind != T_NUMBER || px->t.fbits) px_syntax(px);
    uint64_t v = px->t.value;
    px_next(px);
    return v;
}

static uint32_t alignment(struct px *px) {
    unsigned line = px->t.line;
    uint64_t v = number(px);
    if (v && !(v & (v - 1)) && v <= 1u << 20) return (uint32_t)v;
    px_error(px, line, "Alignment must be a power of two");
    return 1;
}

static void skip_parentheses(struct px *px) {
    unsigned open = 0;
    if (!px_is(px, '(')) px_syntax(px);
    do {
        if (px_is(px, '(')) open++;
        else if (px_is(px, ')')) open--;
        else if (px->t.kind == T_EOF) px_syntax(px);
        px_next(px);
    } while (open);
}

static uint64_t times(uint64_t a, uint64_t b) {  /* saturates: sizes that no device has fail at allocation */
    return a && b > (UINT64_C(1) << 60) / a ? UINT64_C(1) << 60 : a * b;
}

/* .align 8 .v2 .f32 and similar specifiers, in any order, up to the name. */
struct spec { enum sim_type type; unsigned char vec; uint32_t align; };

static void parse_spec(struct px *px, struct spec *spec, bool of_param) {
    *spec = (struct spec){ .vec = 1 };
    for (;; ) {
        enum sim_type type;
        if (at_type(px, &type)) {
            if (spec->type) px_syntax(px);
            spec->type = type;
            px_next(px);
        }
        else if (px_accept_dot(px, "align")) spec->align = alignment(px);
        else if (px_accept_dot(px, "v2")) spec->vec = 2;
        else if (px_accept_dot(px, "v4")) spec->vec = 4;
        else if (px_accept_dot(px, "attribute")) skip_parentheses(px);
        else if (of_param && px_accept_dot(px, "ptr")) {       /* describes what the pointer points to: not used here */
            enum sim_space space;
            if (at_space(px, &space)) px_next(px);
            if (px_accept_dot(px, "align")) (void)alignment(px);
        } else break;
    }
    if (spec->type == SIM_NOTYPE) px_syntax(px);
}

enum { MOST_DIMS = 8 };
struct dims { uint64_t size[MOST_DIMS]; unsigned n; bool first_open; };

/* most: the number that is allowed here; after that many, `[` is a syntax error */
static void parse_dims(struct px *px, struct dims *d, unsigned most) {
    *d = (struct dims){ .n = 0 };
    while (d->n < most && px_accept(px, '[')) {
        if (d->n == MOST_DIMS)
            px_fatal(px, 218, px->t.line, "Arrays of more than %d dimensions are not supported by this CPU device",
                     MOST_DIMS);
        if (px_is(px, ']')) {
            if (d->n) px_syntax(px);
            d->first_open = true;
            d->size[d->n++] = 0;
        }
        else d->size[d->n++] = number(px);
        px_expect(px, ']');
    }
}

/* ---- initialisers ---- */

struct init {
    struct sim_var *var;
    unsigned levels;
    uint64_t count[9];
    unsigned esize;
    bool of_vectors;
    size_t capacity;
};

static void init_store(struct px *px, struct init *in, uint64_t offset, uint64_t value) {
    struct sim_var *v = in->var;
    uint64_t end = offset + in->esize;
    if (end > UINT64_C(1) << 28)
        px_fatal(px, 218, px->t.line, "Initial values beyond 256 MiB are not supported by this CPU device");
    if (end > in->capacity) {
        size_t cap = (size_t)end * 2 < 64 ? 64 : (size_t)end * 2;
        unsigned char *p = px_alloc(px, cap);
        if (v->init_size) memcpy(p, v->init, v->init_size);
        v->init = p;
        in->capacity = cap;
    }
    if (end > v->init_size) v->init_size = end;
    memcpy(v->init + offset, &value, in->esize);
}

static uint64_t as_float_bits(struct px_value v, unsigned size) {   /* a float constant as .f32 or .f64 */
    float f;
    double d;
    uint32_t u = (uint32_t)v.bits;
    uint64_t w = v.bits;
    memcpy(&f, &u, 4);
    memcpy(&d, &w, 8);
    if (v.fbits == 32) d = (double)f; else f = (float)d;
    memcpy(&u, &f, 4);
    if (v.fbits == 32) memcpy(&w, &d, 8);
    return size == 4 ? u : w;
}

/* generic(g)+8, 0xFF00(g): an address, or one byte of it. Returns false if the text is something else. */
static bool init_address(struct px *px, struct init *in, uint64_t offset) {
    struct sim_reloc r = { .offset = offset, .size = in->esize };
    unsigned line = px->t.line;
    bool masked = px->t.kind == T_NUMBER && !px->t.fbits && *px->cur == '(';
    uint64_t mask = px->t.value;
    if (masked) {
        px_next(px);
        px_next(px);
    }
    if (px->t.kind != T_IDENT || !strcmp(px->t.name->text, "WARP_SZ")) {
        if (masked) px_syntax(px);
        return false;
    }
    struct px_name *name = px->t.name;
    px_next(px);
    if (!strcmp(name->text, "generic") && px_accept(px, '(')) {
        if (px->t.kind != T_IDENT) px_syntax(px);
        name = px->t.name;
        px_next(px);
        px_expect(px, ')');
    }
    struct px_symbol *s = px_lookup(px, name);
    if (!s || (s->kind != PX_VAR && s->kind != PX_FUNC) || (s->kind == PX_FUNC && s->func->is_entry))
        px_fatal(px, 218, line, "Invalid initial value symbol '%s'", name->text);
    if (s->kind == PX_VAR && s->var->space != SIM_GLOBAL && s->var->space != SIM_CONST)
        px_fatal(px, 218, line, "Variable used as initial value not in .global or .const state space");
    r.var = s->var;
    r.func = s->func;
    if (px_accept(px, '+')) r.addend = (int64_t)px_integer(px);
    if (masked) {
        px_expect(px, ')');
        uint64_t byte = mask;
        while (byte && !(byte & 0xFF)) {
            byte >>= 8;
            r.shift += 8;
        }
        if (byte != 0xFF || in->esize != 1)
            px_error(px, line, "Invalid mask value '0x%llx' used in initializer", (unsigned long long)mask);
    }
    init_store(px, in, offset, 0);
    memcpy(px_push(px, &px->relocs, sizeof r), &r, sizeof r);
    return true;
}

static void init_level(struct px *px, struct init *in, unsigned level, uint64_t offset, uint64_t stride) {
    if (level == in->levels) {
        if (px_is(px, '{')) px_fatal(px, 218, px->t.line, "Initial value type mismatch");
        if (init_address(px, in, offset)) return;
        unsigned line = px->t.line;
        struct px_value v = px_expression(px);
        enum sim_type type = in->var->type;
        bool must = type == SIM_F32 || type == SIM_F64, may = must || type == SIM_B32 || type == SIM_B64;
        if (v.is_float ? !may : must) px_fatal(px, 218, line, "Initial value type mismatch");
        init_store(px, in, offset, v.is_float ? as_float_bits(v, in->esize) : v.bits);
        return;
    }
    if (px->t.kind == T_STRING) px_syntax(px);
    if (!px_is(px, '{')) px_fatal(px, 218, px->t.line, "Initial value type mismatch");
    px_next(px);
    uint64_t n = 0, inner = level + 1 < in->levels ? stride / in->count[level + 1] : 0;
    if (!px_is(px, '}')) do {
        if (in->count[level] && n == in->count[level])
            px_fatal(px, 218, px->t.line, "Greater number of elements in array initializer");
        init_level(px, in, level + 1, offset + n++ * stride, inner);
    } while (px_accept(px, ','));
    if (in->of_vectors && level + 1 == in->levels && n != in->count[level])
        px_fatal(px, 218, px->t.line, "Incorrect number of elements in vector initializer");
    px_expect(px, '}');
    if (!in->count[level]) in->count[level] = n;  /* [] takes its size from here */
}

static void parse_init(struct px *px, struct sim_var *v, struct dims *dims, unsigned char vec) {
    struct init in = { .var = v, .esize = sim_type_size(v->type), .of_vectors = vec > 1 };
    unsigned line = px->t.line;
    if (v->is_extern) px_error(px, line, "No initial value is allowed for external symbol '%s'", v->name);
    else if (v->space != SIM_GLOBAL && v->space != SIM_CONST)
        px_error(px, line, "No initial value is allowed for '%s' in this state space", v->name);
    if (v->type == SIM_F16 || v->type == SIM_F16X2)
        px_fatal(px, 218, line, "No initial value is allowed for .f16 type");
    for (unsigned i = 0; i < dims->n; i++) in.count[in.levels++] = dims->size[i];
    if (vec > 1) in.count[in.levels++] = vec;
    if (in.esize == 0 || in.esize > 8) px_fatal(px, 218, line, "Initial value type mismatch");
    uint64_t stride = in.esize;
    for (unsigned i = in.levels; i-- > 1;) {
        if (!in.count[i]) px_fatal(px, 218, line, "Initial value type mismatch");
        stride = times(stride, in.count[i]);
    }
    px->relocs.n = 0;
    init_level(px, &in, 0, 0, stride);
    if (dims->first_open) dims->size[0] = in.count[0];
    v->relocs = px_keep(px, px->relocs.data, px->relocs.n, sizeof *v->relocs);
    v->nrelocs = (unsigned)px->relocs.n;
}

/* ---- variables ---- */

static void set_size(struct sim_var *v, const struct spec *spec, const struct dims *d) {
    v->type = spec->type;
    v->size = (uint64_t)sim_type_size(spec->type) * spec->vec;
    v->align = spec->align ? spec->align : v->size ? (uint32_t)v->size : 1;
    v->is_unsized = d->first_open && d->size[0] == 0;
    for (unsigned i = 0; i < d->n; i++) v->size = times(v->size, d->size[i]);
}

/* Registers of one declaration: %r<10>, %p1, %v */
static void parse_registers(struct px *px) {
    struct spec spec;
    parse_spec(px, &spec, false);
    do {
        if (px->t.kind != T_IDENT) px_syntax(px);
        struct px_name *name = px->t.name;
        unsigned line = px->t.line;
        px_next(px);
        if (px_accept(px, '<')) {
            uint64_t count = number(px);
            px_expect(px, '>');
            struct px_symbol *f = declare(px, name, PX_FAMILY, line);
            f->count = count;
            f->type = spec.type;
            f->vec = spec.vec;
            px->scope[px->depth].has_family = true;
            px->epoch++;
        } else {
            if (px_is(px, '[')) px_error(px, line, "Variable '%s' cannot be allocated into a register", name->text);
            struct dims dims;
            parse_dims(px, &dims, MOST_DIMS + 1);
            struct px_symbol *s = declare(px, name, PX_REG, line);
            s->reg = new_register(px, name, spec.type, spec.vec);
        }
    } while (px_accept(px, ','));
    px_expect(px, ';');
}

struct linkage { bool is_extern, is_weak, is_visible, is_common; };

/* A module variable may be declared twice only if one declaration is `.extern`, before or after the definition. */
static struct sim_var *redeclared(struct px *px, struct px_name *name, enum sim_space space, const struct linkage *l) {
    struct px_symbol *old = name->sym;
    if (px->func || !old || old->kind != PX_VAR || old->var->space != space) return NULL;
    return l->is_extern || old->var->is_extern || (l->is_weak && old->var->is_weak) ? old->var : NULL;
}

static void parse_var(struct px *px, enum sim_space space, struct linkage l) {
    struct spec spec;
    px_next(px);
    if (space == SIM_CONST && px_is(px, '['))
        px_fatal(px, 218, px->t.line,
                 "Deprecated feature: 'explicit constant banks' not supported as of PTX version 2.2");
    if (space == SIM_REG && px->func) {
        parse_registers(px);
        return;
    }
    parse_spec(px, &spec, false);
    do {
        if (px->t.kind != T_IDENT) px_syntax(px);
        struct px_name *name = px->t.name;
        unsigned line = px->t.line;
        struct dims dims;
        px_next(px);
        parse_dims(px, &dims, MOST_DIMS + 1);
        struct sim_var *known = redeclared(px, name, space, &l);
        /* an .extern after the definition changes nothing */
        struct sim_var *v = known && !l.is_extern ? known : px_alloc(px, sizeof *v);
        v->name = (char *)name->text;
        v->space = space;
        v->owner = px->func;
        v->input = px->input;
        v->is_extern = l.is_extern;
        v->is_weak = l.is_weak || l.is_common;
        v->is_visible = l.is_visible || l.is_common;
        set_size(v, &spec, &dims);
        if (!px->func && (space == SIM_LOCAL || space == SIM_REG))
            px_error(px, line, "Module-scoped variables in .%s state space are not allowed with ABI",
                space == SIM_REG ? "reg" : "local");
        if (!px->func && space == SIM_PARAM)
            px_error(px, line, "Parameter variables may not be declared at module scope");
        if (space == SIM_PARAM && spec.vec > 1)
            px_error(px, line, "Variable '%s' cannot be allocated in .param state space", name->text);
        if (spec.type == SIM_PRED)
            px_error(px, line, "Predicate variable '%s' must be in register state space", name->text);
        if (!known) declare(px, name, PX_VAR, line)->var = v;
        if (px_accept(px, '=')) {
            parse_init(px, v, &dims, spec.vec);
            set_size(v, &spec, &dims);
        }
        if (v->size == 0 && !l.is_extern && spec.type != SIM_PRED)
            px_error(px, line, "Non-external variable '%s' has incomplete type", name->text);
        if (known) continue;
        /* those of a function belong to the module, except for their names */
        bool lasting = !px->func || space == SIM_GLOBAL || space == SIM_CONST;
        struct px_vec *list = lasting ? &px->vars : &px->fvars;
        v->id = (unsigned)list->n;
        if (lasting) v->owner = NULL;
        *(struct sim_var **)px_push(px, list, sizeof v) = v;
        if (lasting) continue;
        uint64_t limit = UINT64_C(1) << 24;
        if ((space == SIM_LOCAL || space == SIM_PARAM) && v->size > limit)
            px_fatal(px, 218, line, "Local variable '%s' of %llu bytes is not supported by this CPU device", name->text,
                (unsigned long long)v->size);
        if (space == SIM_LOCAL) {                 /* exists as long as the activation */
            px->local_bytes = align_up(px->local_bytes, v->align);
            v->address = px->local_bytes;
            px->local_bytes += (uint32_t)v->size;
        } else if (space == SIM_PARAM) {          /* of one call sequence: scopes at the same level share the bytes */
            struct px_scope *s = &px->scope[px->depth];
            s->param_bytes = align_up(s->param_bytes, v->align);
            v->address = s->param_bytes;
            s->param_bytes += (uint32_t)v->size;
            if (s->param_bytes > px->param_bytes) px->param_bytes = s->param_bytes;
            if (v->align > px->param_align) px->param_align = v->align;
        }
        if (px->local_bytes > limit || px->param_bytes > limit)
            px_fatal(px, 218, line, "Local variables of more than %llu bytes are not supported by this CPU device",
                (unsigned long long)limit);
    } while (px_accept(px, ','));
    px_expect(px, ';');
}

/* Offsets from `base`, such that the addresses are aligned as declared:
   the parameter area of a kernel begins at a multiple of 16 only. */
static uint64_t layout(struct sim_var *v, unsigned n, uint64_t base) {
    uint64_t at = base;
    for (unsigned i = 0; i < n; i++) {
        if (v[i].space != SIM_PARAM) continue;
        at = (at + v[i].align - 1) & ~(uint64_t)(v[i].align - 1);
        v[i].address = at - base;
        at += v[i].size;
    }
    return at - base;
}

/* A list of parameters in parentheses. If a body follows, bind_params declares their names. */
static struct sim_var *parse_params(struct px *px, unsigned *count, bool of_entry) {
    px->params.n = 0;
    px_expect(px, '(');
    if (!px_is(px, ')')) do {
        enum sim_space space;
        struct spec spec;
        struct dims dims;
        if (!at_space(px, &space) || (space != SIM_PARAM && space != SIM_REG)) px_syntax(px);
        px_next(px);
        parse_spec(px, &spec, true);
        if (px->t.kind != T_IDENT && !px_is(px, '_')) px_syntax(px);
        struct sim_var *v = px_push(px, &px->params, sizeof *v);
        v->space = space;
        v->id = (unsigned)px->params.n - 1;
        v->name = px->t.kind == T_IDENT ? (char *)px->t.name->text : px_strndup(px, "_", 1);
        unsigned line = px->t.line;
        px_next(px);
        if (space == SIM_REG && px_is(px, '['))
            px_error(px, line, "Variable '%s' cannot be allocated into a register", v->name);
        parse_dims(px, &dims, 1);
        set_size(v, &spec, &dims);
        if (space == SIM_PARAM && spec.vec > 1 && of_entry)
            px_error(px, line, "Variable '%s' cannot be allocated in .param state space", v->name);
        if (space == SIM_PARAM && spec.type == SIM_PRED)
            px_error(px, line, "Predicate variable '%s' must be in register state space", v->name);
        const bool incomplete = dims.n && dims.size[0] == 0;
        if (incomplete && of_entry) px_error(px, line, "Parameter to entry function cannot be an incomplete array.");
        if (incomplete && px_is(px, ','))
            px_error(px, line, "Only the last input parameter can be an incomplete array.");
        if (v->size > 1u << 20) px_fatal(px, 218, line, "Parameter '%s' is too large", v->name);
        if (of_entry && space != SIM_PARAM)
            px_error(px, line, "Entry parameter '%s' must have .param state space", v->name);
    } while (px_accept(px, ','));
    const unsigned line = px->t.line;
    px_expect(px, ')');
    *count = (unsigned)px->params.n;
    const uint64_t bytes = layout(px->params.data, *count, 0);
    const uint64_t most = !of_entry ? 1u << 20 : px->image->version >= 81 ? 32764 : 4096;
    if (bytes > most)
        px_fatal(px, 218, line, "Formal parameter space overflowed (%llu bytes required, max %llu bytes allowed)",
                 (unsigned long long)bytes, (unsigned long long)most);
    return px_keep(px, px->params.data, px->params.n, sizeof(struct sim_var));
}

static void bind_params(struct px *px, struct sim_var *v, unsigned n, unsigned line) {
    for (unsigned i = 0; i < n; i++) {
        if (!strcmp(v[i].name, "_")) continue;
        struct px_name *name = px_intern(px, v[i].name, strlen(v[i].name));
        struct px_symbol *s = declare(px, name, v[i].space == SIM_REG ? PX_REG : PX_VAR, line);
        v[i].owner = px->func;
        s->var = &v[i];
        if (v[i].space == SIM_REG) v[i].address = s->reg = new_register(px, name, v[i].type, 1);
    }
}

/* ---- statements ---- */

/* `name: .branchtargets a, b;` or `name: .callprototype (...) _ (...);`: the label names a list, not a position. */
static void label_directive(struct px *px, struct px_symbol *label) {
    if (px_accept_dot(px, "branchtargets")) {
        size_t base = px->stack.n;
        do px_push_label(px); while (px_accept(px, ','));
        px_expect(px, ';');
        label->targets = px_keep_operands(px, base, &label->ntargets);
    } else {
        struct sim_proto *p = label->proto = px_alloc(px, sizeof *p);
        px_next(px);
        if (px_is(px, '(')) p->rets = parse_params(px, &p->nrets, false);
        if (px_is(px, '_') || px->t.kind == T_IDENT) px_next(px); else px_syntax(px);
        if (px_is(px, '(')) p->params = parse_params(px, &p->nparams, false);
        while (px_dot(px, "noreturn") || px_dot(px, "abi_preserve") || px_dot(px, "abi_preserve_control")) {
            px_next(px);
            if (px->t.kind == T_NUMBER) px_next(px);
        }
        px_expect(px, ';');
        layout(p->params, p->nparams, 0);
        layout(p->rets, p->nrets, 0);
    }
}

static void skip_section(struct px *px) {
    while (px->t.kind == T_IDENT || px->t.kind == T_DOT) px_next(px);
    unsigned open = 0;
    do {
        if (px_is(px, '{')) open++;
        else if (px_is(px, '}')) open--;
        else if (px->t.kind == T_EOF || !open) px_syntax(px);
        px_next(px);
    } while (open);
}

/* "used_bytes_mask 0xfff": the bytes that the program uses of what the next instruction loads. Other pragmas have no
   effect. */
static void pragma(struct px *px) {
    static const char mask[] = "used_bytes_mask ";
    char text[40], *end;
    if (px->image->version < 83 || px->t.len >= sizeof text || strncmp(px->t.text, mask, sizeof mask - 1)) return;
    snprintf(text, sizeof text, "%.*s", (int)px->t.len, px->t.text);
    const unsigned long used = strtoul(text + sizeof mask - 1, &end, 0);
    if (!*end) px->unused = ~(uint32_t)used;
}

/* .loc .file .pragma .section: directives that do not change the code's effect. Returns false at anything else. */
static bool skip_directive(struct px *px) {
    if (px_accept_dot(px, "loc")) {
        for (int i = 0; i < 3; i++) (void)number(px);
        while (px_accept(px, ',')) {              /* function_name label+4   inlined_at 1 2 3 */
            if (px->t.kind != T_IDENT) px_syntax(px);
            bool label = !strcmp(px->t.name->text, "function_name");
            px_next(px);
            if (label) {
                if (px->t.kind != T_IDENT) px_syntax(px);
                px_next(px);
            }
            while (px->t.kind == T_NUMBER || px_is(px, '+')) px_next(px);
        }
        return true;
    }
    if (px_accept_dot(px, "file")) {
        (void)number(px);
        if (px->t.kind != T_STRING) px_syntax(px);
        px_next(px);
        while (px_accept(px, ',')) (void)number(px);
        return true;
    }
    if (px_accept_dot(px, "pragma")) {
        do {
            if (px->t.kind != T_STRING) px_syntax(px);
            pragma(px);
            px_next(px);
        } while (px_accept(px, ','));
        px_expect(px, ';');
        return true;
    }
    if (px_accept_dot(px, "section")) {
        skip_section(px);
        px->has_debug = true;
        return true;
    }
    return false;
}

static void parse_body(struct px *px) {
    px_expect(px, '{');
    px->unused = 0;
    for (;;) {
        enum sim_space space;
        if (px->t.kind == T_IDENT) {
            const char *c = px->cur;
            while (*c == ' ' || *c == '\t') c++;
            if (*c != ':') {
                px_instruction(px, -1, false);
                continue;
            }
            struct px_name *name = px->t.name;
            unsigned line = px->t.line;
            px_next(px);
            px_next(px);
            struct px_symbol *label = declare(px, name, PX_LABEL, line);
            label->reg = (unsigned)px->instrs.n;
            if (px_dot(px, "branchtargets") || px_dot(px, "callprototype")) label_directive(px, label);
        } else if (px_accept(px, '@')) {
            bool negated = px_accept(px, '!');
            if (px->t.kind != T_IDENT) px_syntax(px);
            struct px_symbol *s = px_lookup(px, px->t.name);
            int reg = -1;
            if (s && s->kind == PX_REG && ((struct sim_reg *)px->regs.data)[s->reg].type == SIM_PRED) reg = (int)s->reg;
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
        } else if (px_accept(px, '{')) open_scope(px);
        else if (px_accept(px, '}')) {
            if (px->depth == 1) return;
            close_scope(px);
        } else if (at_space(px, &space)) parse_var(px, space, (struct linkage){ .is_extern = false });
        else if (!skip_directive(px)) px_syntax(px);
    }
}

/* .maxntid 128, 1, 1 and the other directives between a function's parameters and its body */
static void tuning(struct px *px, struct sim_func *f) {
    static const char *const triples[] = { "maxntid", "reqntid", "reqnctapercluster" };
    static const char *const numbers[] = { "minnctapersm", "maxnctapersm", "maxnreg", "maxclusterrank", "abi_preserve",
        "abi_preserve_control" };
    static const char *const flags[] = { "noreturn", "explicitcluster", "blocksareclusters" };
    unsigned line = px->t.line;
    for (bool found = true; found;) {
        found = false;
        for (unsigned i = 0; i < 3 && !found; i++) {
            if (!px_dot(px, triples[i])) continue;
            if (!f->is_entry) px_syntax(px);
            uint32_t v[3] = { 1, 1, 1 };
            px_next(px);
            v[0] = (uint32_t)number(px);
            for (unsigned k = 1; k < 3 && px_accept(px, ','); k++) v[k] = (uint32_t)number(px);
            if (i == 0) memcpy(f->maxntid, v, sizeof v);
            if (i == 1) memcpy(f->reqntid, v, sizeof v);
            if (i == 2) memcpy(f->reqnctapercluster, v, sizeof v);
            found = true;
        }
        for (unsigned i = 0; i < 6 && !found; i++) {
            if (!px_dot(px, numbers[i])) continue;
            if (!f->is_entry && i < 4) px_syntax(px);
            px_next(px);
            uint32_t v = (uint32_t)number(px);
            if (i == 0) f->minnctapersm = v;
            if (i == 3) f->maxclusterrank = v;
            found = true;
        }
        for (unsigned i = 0; i < 3 && !found; i++) {
            found = px_accept_dot(px, flags[i]);
            f->explicit_cluster |= found && i == 1;
        }
        if (!found && px_dot(px, "pragma")) found = skip_directive(px);
    }
    if (f->maxntid[0] && f->reqntid[0])
        px_error(px, line, "Conflicting directives: .maxntid and .reqntid cannot both be specified");
    if (f->reqnctapercluster[0] && f->maxclusterrank)
        px_error(px, line,
                 "Conflicting directives: .reqnctapercluster and .maxclusterrank cannot both be specified");
}

static bool params_differ(struct px *px, unsigned line, const char *name, const struct sim_var *a, unsigned na,
    const struct sim_var *b, unsigned nb) {
    unsigned before = px->errors;
    if (na != nb) {
        px_error(px, line, "Inconsistent prototypes of '%s', number of parameters differ", name);
        return true;
    }
    for (unsigned i = 0; i < na; i++) {
        bool same =
            sim_type_size(a[i].type) == sim_type_size(b[i].type) && a[i].space == b[i].space && a[i].size == b[i].size;
        if (!same) px_error(px, line, "Inconsistent prototypes of '%s', parameter types differ", name);
        if (a[i].align != b[i].align)
            px_error(px, line, "Inconsistent prototypes of '%s', parameter alignment differ", name);
    }
    return px->errors != before;
}

/* The closing brace has been read: handles names without a label, and the function's arrays. */
static void close_body(struct px *px) {
    struct sim_func *f = px->func;
    close_scope(px);
    struct px_pending *p = px->pending.data;
    for (size_t i = 0; i < px->pending.n; i++)
        if (p[i].was_symbol)
            px_error(px, p[i].line, "Label expected for argument 0 of instruction '%s'", p[i].label_for);
        else px_error(px, p[i].line, "Unknown symbol '%s'", p[i].name->text);
    f->instrs = px_keep(px, px->instrs.data, px->instrs.n, sizeof *f->instrs);
    f->ninstrs = (unsigned)px->instrs.n;
    f->regs = px_keep(px, px->regs.data, px->regs.n, sizeof *f->regs);
    f->nregs = (unsigned)px->regs.n;
    f->vars = px_keep(px, px->fvars.data, px->fvars.n, sizeof *f->vars);
    f->nvars = (unsigned)px->fvars.n;
    uint32_t params = align_up(px->local_bytes, px->param_align);
    for (unsigned i = 0; i < f->nvars; i++) if (f->vars[i]->space == SIM_PARAM) f->vars[i]->address += params;
    f->frame_bytes = params + px->param_bytes;
    px->func = NULL;
}

static void parse_function(struct px *px, struct linkage l, bool is_entry) {
    px_next(px);
    if (px_accept_dot(px, "attribute")) skip_parentheses(px);
    struct sim_func *f = px_alloc(px, sizeof *f);
    f->image = px->image;
    f->input = px->input;
    f->is_entry = is_entry;
    f->is_extern = l.is_extern;
    f->is_weak = l.is_weak;
    f->is_visible = l.is_visible;
    if (!is_entry && px_is(px, '(')) f->rets = parse_params(px, &f->nrets, false);
    if (px->t.kind != T_IDENT) px_syntax(px);
    struct px_name *name = px->t.name;
    unsigned line = px->t.line;
    f->name = (char *)name->text;
    px_next(px);
    if (px_is(px, '(')) f->params = parse_params(px, &f->nparams, is_entry);
    tuning(px, f);
    bool body = px_is(px, '{');
    if (!body) px_expect(px, ';');

    struct px_symbol *old = name->sym;
    struct sim_func *g = old && old->kind == PX_FUNC ? old->func : NULL;
    if (g && !(body && g->has_body) && g->is_entry == is_entry) {            /* declared before: the same function */
        params_differ(px, line, f->name, g->params, g->nparams, f->params, f->nparams);
        params_differ(px, line, f->name, g->rets, g->nrets, f->rets, f->nrets);
        g->is_weak |= f->is_weak;
        g->is_visible |= f->is_visible;
        if (body) {                                                          /* the parameters have
                                                                                the definition's names */
            g->params = f->params;
            g->nparams = f->nparams;
            g->rets = f->rets;
            g->nrets = f->nrets;
            g->is_extern = f->is_extern;
            memcpy(g->maxntid, f->maxntid, sizeof f->maxntid);
            memcpy(g->reqntid, f->reqntid, sizeof f->reqntid);
            g->minnctapersm = f->minnctapersm;
        }
        f = g;
    } else {
        if (old && !g) px_error(px, line, "Inconsistent redefinition of variable '%s'", f->name);
        struct px_symbol *s = declare(px, name, PX_FUNC, line);
        if (old && !g) px_fatal(px, 218, line, "Inconsistent redefinition of symbol '%s'", f->name);
        s->func = f;
        f->id = (unsigned)px->funcs.n;
        *(struct sim_func **)px_push(px, &px->funcs, sizeof f) = f;
    }
    f->param_bytes = (uint32_t)layout(f->params, f->nparams, f->is_entry ? SIM_PARAM_BASE : 0);
    layout(f->rets, f->nrets, 0);
    if (!body) return;

    f->has_body = true;
    px->func = f;
    px->regs.n = px->instrs.n = px->fvars.n = px->pending.n = 0;
    px->local_bytes = px->param_bytes = 0;
    px->param_align = 1;
    px->scope[0].param_bytes = 0;
    px->scope[0].pending = 0;
    open_scope(px);
    bind_params(px, f->rets, f->nrets, line);
    bind_params(px, f->params, f->nparams, line);
    parse_body(px);
    close_body(px);
}

/* .alias a, b: the declared function a is another name for the defined function b. */
static void parse_alias(struct px *px) {
    struct sim_func *f[2];
    unsigned line = px->t.line;
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
        struct linkage l = { .is_extern = px_dot(px, "extern"), .is_weak = px_dot(px, "weak"),
            .is_visible = px_dot(px, "visible"), .is_common = px_dot(px, "common") };
        bool linked = l.is_extern || l.is_weak || l.is_visible || l.is_common;
        enum sim_space space;
        if (linked) px_next(px);
        if (px_dot(px, "entry") || px_dot(px, "func")) parse_function(px, l, px_dot(px, "entry"));
        else if (at_space(px, &space)) parse_var(px, space, l);
        else if (linked) px_syntax(px);
        else if (px_dot(px, "alias")) parse_alias(px);
        else if (px_dot(px, "tex")) px_fatal(px, 218, px->t.line, "Feature '.tex' is not supported by this CPU device");
        else if (px_dot(px, "texref") || px_dot(px, "surfref") || px_dot(px, "samplerref"))
            px_fatal(px, 218, px->t.line, "Feature '.%s' is not supported by this CPU device", px->t.name->text);
        else if (!skip_directive(px)) px_syntax(px);
    }
}
