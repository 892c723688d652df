/* scope.c - the meaning of names.

   A name points to its innermost meaning; leaving a scope restores the outer one. Labels have a
   separate namespace and may be used before their definition: such uses wait in px->pending until
   their scope closes. Registers get their index when they are declared, those of a family `%r<100>`
   when they are first used. */
#include "ptx.h"

/* The family that covers a name such as %r12: the innermost of `%r<N>` with N > 12, `%r1<N>` with N
   > 2. */
static struct px_symbol *family_of(struct px *px, struct px_name *name) {
    if (name->family_epoch == px->epoch) return name->family;
    struct px_symbol *best = NULL;
    uint64_t number = 0, scale = 1;
    for (unsigned n = name->len; n-- > 1 && name->len - n <= 10;) {
        char c = name->text[n];
        if (c < '0' || c > '9') break;
        number += scale * (unsigned)(c - '0');
        scale *= 10;
        if (c == '0' && n + 1 < name->len) continue; /* %r012 is not in %r<100> */
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

unsigned px_new_register(
        struct px *px, struct px_name *name, enum sim_type type, unsigned char vec) {
    struct sim_reg *r = px_push(px, &px->regs, sizeof *r);
    r->name = (char *)name->text;
    r->type = type;
    r->vec = vec;
    return (unsigned)px->regs.n - 1;
}

struct px_symbol *px_bind(
        struct px *px, struct px_name *name, enum px_symbol_kind kind, unsigned depth) {
    struct px_symbol *s = px_alloc(px, sizeof *s);
    bool label = kind == PX_LABEL;
    struct px_scope *scope = &px->scope[depth];
    struct px_symbol **meaning = label ? &name->label : &name->sym,
                     **list = label ? &scope->labels : &scope->symbols;
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
        s->reg = px_new_register(px, name, f->type, f->vec);
    }
    return s && s->kind != PX_FAMILY ? s : NULL;
}

/* A second declaration in the same scope is an error, and gets a symbol that no lookup finds. */
struct px_symbol *px_declare(
        struct px *px, struct px_name *name, enum px_symbol_kind kind, unsigned line) {
    struct px_symbol *old = kind == PX_LABEL ? name->label : name->sym;
    struct px_symbol *family = px->func && kind != PX_FAMILY && kind != PX_LABEL
            ? family_of(px, name)
            : NULL;
    const char *what = kind == PX_LABEL ? "label" : kind == PX_FUNC ? "function" : "variable";
    if (kind != PX_LABEL && px_special(name) > 0)
        px_error(px, line, "Duplicate definition of built-in variable '%s'", name->text);
    else if ((old && old->depth == px->depth) || (family && family->depth == px->depth))
        px_error(px, line, "Duplicate definition of %s '%s%s'", what, name->text,
                kind == PX_FAMILY ? "<" : "");
    else return px_bind(px, name, kind, px->depth);
    struct px_symbol *lost = px_alloc(px, sizeof *lost);
    lost->kind = kind;
    return lost;
}

void px_open_scope(struct px *px) {
    if (px->depth == PX_MAX_DEPTH)
        px_fatal(px, 218, px->t.line,
                "Scopes nested deeper than %d are not supported by this CPU device", PX_MAX_DEPTH);
    px->depth++;
    px->scope[px->depth] = (struct px_scope){ .pending = px->pending.n,
        .param_bytes = px->scope[px->depth - 1].param_bytes };
}

/* Resolves the uses that wait for a label of this scope; the others keep waiting for an outer
   scope's. */
void px_close_scope(struct px *px) {
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
            px_fatal(px, 218, p[i].line, "Label expected for forward reference of '%s'",
                    p[i].name->text);
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
