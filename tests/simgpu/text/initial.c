/* initial.c - the initial values of variables: nested braces, numbers, addresses of variables and
   functions. */
#include "ptx.h"

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
        px_fatal(px, 218, px->t.line,
                "Initial values beyond 256 MiB are not supported by this CPU device");
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

/* a float constant as .f32 or .f64 */
static uint64_t as_float_bits(struct px_value v, unsigned size) {
    float f;
    double d;
    uint32_t u = (uint32_t)v.bits;
    uint64_t w = v.bits;
    memcpy(&f, &u, 4);
    memcpy(&d, &w, 8);
    if (v.fbits == 32) d = (double)f;
    else f = (float)d;
    memcpy(&u, &f, 4);
    if (v.fbits == 32) memcpy(&w, &d, 8);
    return size == 4 ? u : w;
}

/* generic(g)+8, 0xFF00(g): an address, or one byte of it. Returns false if the text is something
   else. */
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
    if (!s || (s->kind != PX_VAR && s->kind != PX_FUNC) ||
            (s->kind == PX_FUNC && s->func->is_entry))
        px_fatal(px, 218, line, "Invalid initial value symbol '%s'", name->text);
    if (s->kind == PX_VAR && s->var->opaque) px_fatal(px, 218, line, "Initial value type mismatch");
    if (s->kind == PX_VAR && s->var->space != SIM_GLOBAL && s->var->space != SIM_CONST)
        px_fatal(px, 218, line,
                "Variable used as initial value not in .global or .const state space");
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
            px_error(px, line, "Invalid mask value '0x%llx' used in initializer",
                    (unsigned long long)mask);
    }
    init_store(px, in, offset, 0);
    memcpy(px_push(px, &px->relocs, sizeof r), &r, sizeof r);
    return true;
}

static void init_level(
        struct px *px, struct init *in, unsigned level, uint64_t offset, uint64_t stride) {
    if (level == in->levels) {
        if (px_is(px, '{')) px_fatal(px, 218, px->t.line, "Initial value type mismatch");
        if (init_address(px, in, offset)) return;
        unsigned line = px->t.line;
        struct px_value v = px_expression(px);
        enum sim_type type = in->var->type;
        bool must = type == SIM_F32 || type == SIM_F64,
             may = must || type == SIM_B32 || type == SIM_B64;
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
    if (!in->count[level]) in->count[level] = n; /* [] takes its size from here */
}

void px_initial_value(struct px *px, struct sim_var *v, struct px_dims *dims, unsigned char vec) {
    struct init in = { .var = v, .esize = sim_type_size(v->type), .of_vectors = vec > 1 };
    unsigned line = px->t.line;
    if (v->is_extern)
        px_error(px, line, "No initial value is allowed for external symbol '%s'", v->name);
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
        stride = px_times(stride, in.count[i]);
    }
    px->relocs.n = 0;
    init_level(px, &in, 0, 0, stride);
    if (dims->first_open) dims->size[0] = in.count[0];
    v->relocs = px_keep(px, px->relocs.data, px->relocs.n, sizeof *v->relocs);
    v->nrelocs = (unsigned)px->relocs.n;
}
