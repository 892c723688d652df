/* select_image.c - the handler for each instruction of textures and surfaces. Its operands are more
   than an instruction has room for: they are in code->fetches. */
#include "decode.h"

static const char *const geometries[] = { "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "2dms",
    "a2dms" };
static const char *const queries[] = { "width", "height", "depth", "channel_data_type",
    "channel_order", "normalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1",
    "addr_mode_2", "num_mipmap_levels", "num_samples", "array_size" };
static const char *const outsides[] = { "trap", "clamp", "zero" };
static const char *const reductions[] = { "add", "min", "max", "and", "or" };
static const char *const components[] = { "r", "g", "b", "a" };

/* Which of n words is among the modifiers. */
static unsigned take_one(struct dec *d, const char *const *words, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (dec_take(d, words[k])) return k;
    return 0;
}
#define TAKE_ONE(d, words) take_one(d, words, sizeof words / sizeof *words)

/* Element k of a vector, or the register that is all of it. */
static uint32_t element(struct dec *d, const struct sim_operand *o, unsigned k) {
    const bool scalar = o->kind != SIM_O_VEC &&
            (o->kind != SIM_O_REG || d->funcs[d->now].func->regs[o->reg].vec == 1);
    const struct sim_operand e = scalar ? *o : dec_element(o, k);
    return dec_src(d, &e, SIM_B32);
}

static void read_object(struct dec *d, struct sim_fetch *f, const struct sim_operand *o) {
    const struct sim_operand reg = { .kind = SIM_O_REG, .reg = o->reg };
    f->handle = o->reg >= 0 ? dec_src(d, &reg, SIM_B64) : dec_handle(d, o->var);
    if (!o->n) return;
    const enum sim_geometry g = f->geometry;
    unsigned k = 0;
    if (g == SIM_A1D || g == SIM_A2D || g == SIM_ACUBE || g == SIM_A2DMS)
        f->layer = element(d, o->list, k++);
    if (g == SIM_2DMS || g == SIM_A2DMS) k++; /* the sample: no array has more than one */
    const unsigned dims = g == SIM_1D || g == SIM_A1D        ? 1
            : g == SIM_3D || g == SIM_CUBE || g == SIM_ACUBE ? 3
                                                             : 2;
    for (unsigned j = 0; j < dims; j++) f->at[j] = element(d, o->list, k++);
}

static void read_vector(
        struct dec *d, const struct sim_fetch *f, const struct sim_operand *o, uint32_t to[3]) {
    const enum sim_geometry g = f->geometry;
    const unsigned n = g == SIM_1D || g == SIM_A1D           ? 1
            : g == SIM_3D || g == SIM_CUBE || g == SIM_ACUBE ? 3
                                                             : 2;
    for (unsigned k = 0; k < n; k++) to[k] = element(d, o, k);
}

static struct sim_fetch new_fetch(struct dec *d) {
    const uint32_t zero = dec_const(d, 0, 4);
    return (struct sim_fetch){ .layer = zero,
        .at = { zero, zero, zero },
        .level = zero,
        .dx = { zero, zero, zero },
        .dy = { zero, zero, zero },
        .offset = { zero, zero, zero },
        .compare = zero,
        .value = { zero, zero, zero, zero } };
}

static struct sim_insn *emit_fetch(struct dec *d, const char *name, const struct sim_fetch *f) {
    struct sim_code *c = d->code;
    c->fetches = dec_grow(d, c->fetches, &d->cap_fetches, c->nfetches + 1, sizeof *c->fetches);
    c->fetches[c->nfetches] = *f;
    struct sim_insn *i = dec_emit_untyped(d, name);
    i->imm = c->nfetches++;
    i->slot = (uint8_t)(c->nslots++ % SIM_SLOTS);
    return i;
}

/* The registers of a value, one or a vector. */
static void read_value(
        struct dec *d, struct sim_fetch *f, const struct sim_operand *o, bool written) {
    f->n = d->vec;
    for (unsigned k = 0; k < f->n; k++) {
        const struct sim_operand e = f->n > 1 || o->kind == SIM_O_VEC ? dec_element(o, k) : *o;
        f->value[k] = written ? dec_dst(d, &e, f->type) : dec_src(d, &e, f->type);
    }
}

/* tex, tld4 */
void dec_tex(struct dec *d) {
    const struct sim_instr *in = d->in;
    const struct sim_operand *o = in->opd, *to = o[0].kind == SIM_O_PAIR ? &o[0].list[0] : &o[0];
    struct sim_fetch f = new_fetch(d);
    unsigned k = 2, derivative = 0;
    f.gathers = !strcmp(in->op, "tld4");
    if (f.gathers) f.component = TAKE_ONE(d, components);
    f.geometry = (enum sim_geometry)TAKE_ONE(d, geometries);
    f.lod = dec_take(d, "level")  ? SIM_LOD_LEVEL
            : dec_take(d, "grad") ? SIM_LOD_GRAD
                                  : SIM_LOD_BASE;
    dec_take(d, "base");
    f.type = in->type[0];
    f.integers = in->type[1] == SIM_S32;
    read_object(d, &f, &o[1]);
    for (const char *letter = in->form->args + 2; *letter && k < in->n; letter++) {
        switch (*letter) {
        case 'b': f.level = dec_src(d, &o[k++], in->type[1]); break;
        case 'C': read_vector(d, &f, &o[k++], derivative++ ? f.dy : f.dx); break;
        case 'F': read_vector(d, &f, &o[k++], f.offset); break;
        case 'f':
            f.compare = dec_src(d, &o[k++], SIM_F32);
            f.compares = true;
            break;
        default: break; /* what follows is optional */
        }
    }
    read_value(d, &f, to, true);
    if (to != &o[0]) {
        f.has_predicate = true;
        f.predicate = dec_dst(d, &o[0].list[1], SIM_PRED);
    }
    emit_fetch(d, "tex", &f);
}

static void query(struct dec *d, const char *name) {
    const struct sim_instr *in = d->in;
    struct sim_fetch f = new_fetch(d);
    f.query = (enum sim_query)TAKE_ONE(d, queries);
    f.has_level = dec_take(d, "level");
    f.type = SIM_B32;
    read_object(d, &f, &in->opd[1]);
    if (f.has_level) f.level = dec_src(d, &in->opd[2], SIM_U32);
    read_value(d, &f, &in->opd[0], true);
    emit_fetch(d, name, &f);
}
void dec_txq(struct dec *d) { query(d, "txq"); }
void dec_suq(struct dec *d) { query(d, "suq"); }

static struct sim_fetch surface(struct dec *d, unsigned object) {
    struct sim_fetch f = new_fetch(d);
    f.geometry = (enum sim_geometry)TAKE_ONE(d, geometries);
    f.outside = (enum sim_outside)TAKE_ONE(d, outsides);
    f.formatted = dec_take(d, "p");
    dec_take(d, "b");
    f.type = d->in->type[0];
    read_object(d, &f, &d->in->opd[object]);
    return f;
}

void dec_suld(struct dec *d) {
    struct sim_fetch f = surface(d, 1);
    read_value(d, &f, &d->in->opd[0], true);
    emit_fetch(d, "suld", &f)->flags = SIM_I_SEEN;
}

/* Stores are immediate: no schedule holds them back. */
static void emit_store(struct dec *d, const char *name, struct sim_fetch *f) {
    read_value(d, f, &d->in->opd[1], false);
    emit_fetch(d, name, f)->flags = SIM_I_SEEN | 8u << SIM_I_USER;
}

void dec_sust(struct dec *d) {
    struct sim_fetch f = surface(d, 0);
    emit_store(d, "sust", &f);
}

void dec_sured(struct dec *d) {
    struct sim_fetch f = surface(d, 0);
    f.red = (enum sim_surface_red)TAKE_ONE(d, reductions);
    emit_store(d, "sured", &f);
}

void dec_istypep(struct dec *d) {
    const struct sim_instr *in = d->in;
    const char *type = in->mods[0];
    struct sim_fetch f = new_fetch(d);
    f.handle = dec_src(d, &in->opd[1], SIM_B64);
    f.predicate = dec_dst(d, &in->opd[0], SIM_PRED);
    d->nrest = 0;
    if (!strcmp(type, "samplerref")) /* there are none in the unified mode */
        dec_emit_to(d, "mov", SIM_PRED, f.predicate, dec_const(d, 0, 0), 0);
    else emit_fetch(d, !strcmp(type, "texref") ? "istypep_texref" : "istypep_surfref", &f);
}
