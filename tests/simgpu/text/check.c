/* check.c - whether ptxas accepts an instruction, and its words if not. The tables are in forms.h;
   the rules that tables cannot express (addresses, calls, values of constants, .target and
   .version) are code here.

   The form that an instruction matches is remembered in it. An instruction that passes may still be
   one that the decoder does not run. */
#include "../base/matrix.h"
#include "forms.h"

/* ---- the table, compiled once: modifier names become numbers ---- */

#define MAX_MODS 900
#define MAX_IDS 9000

struct modifier {
    const char *text;
    unsigned char len, type /* 1 + enum sim_type; 0: not a type */;
    bool format;
};
struct group {
    short first, count;
    bool optional;
};
struct compiled {
    unsigned short first_group, ngroups, first_type, ntypes;
    bool wild;
};

static struct modifier modifiers[MAX_MODS];
static short modifier_hash[2048], ids[MAX_IDS];
static struct group groups[4000];
static struct compiled compiled[sizeof forms / sizeof *forms];
static unsigned nmodifiers = 1, nids, ngroups;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned hash_of(const char *text, size_t n) {
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return (h ^ h >> 15) & 2047;
}

static short find_modifier(const char *text, size_t n, bool add) {
    unsigned h = hash_of(text, n);
    for (; modifier_hash[h]; h = (h + 1) & 2047) {
        struct modifier *m = &modifiers[modifier_hash[h]];
        if (m->len == n && !memcmp(m->text, text, n)) return modifier_hash[h];
    }
    if (!add || nmodifiers == MAX_MODS) return 0;
    modifiers[nmodifiers] = (struct modifier){ text, (unsigned char)n, 0, false };
    return modifier_hash[h] = (short)nmodifiers++;
}

/* "a|b? c" from text: one group per word */
static unsigned compile_groups(const char *text, unsigned short *first, bool *wild) {
    *first = (unsigned short)ngroups;
    while (*text) {
        while (*text == ' ') text++;
        if (!*text) break;
        if (*text == '*') {
            *wild = true;
            text++;
            continue;
        }
        struct group *g = &groups[ngroups++];
        g->first = (short)nids;
        do {
            size_t n = strcspn(text, "|? ");
            ids[nids++] = find_modifier(text, n, true);
            text += n;
        } while (*text == '|' && text++);
        g->count = (short)(nids - (unsigned)g->first);
        if (*text == '?') {
            g->optional = true;
            text++;
        }
    }
    return ngroups - *first;
}

static void compile(void) {
    enum { LARGEST = 256, STEP = 8 };
    static const unsigned depths[] = { 8, 16, 32, 256 };
    static char shapes[LARGEST / STEP * sizeof depths / sizeof *depths][16], *shape = shapes[0];
    for (unsigned t = SIM_PRED; t <= SIM_B128; t++) {
        const char *name = px_type_name((enum sim_type)t);
        modifiers[find_modifier(name, strlen(name), true)].type = (unsigned char)(1 + t);
    }
    for (size_t i = 0; i < sizeof other_types / sizeof *other_types; i++)
        for (const char *c = other_types[i].names; *c; c += *c == '|') {
            size_t n = strcspn(c, "|");
            struct modifier *m = &modifiers[find_modifier(c, n, true)];
            m->type = (unsigned char)(1 + other_types[i].held);
            m->format = true;
            c += n;
        }
    for (const char *c = other_modifiers; *c; c += *c == '|') {
        size_t n = strcspn(c, "|");
        find_modifier(c, n, true);
        c += n;
    }
    for (unsigned n = STEP; n <= LARGEST; n += STEP) /* of wgmma */
        for (size_t k = 0; k < sizeof depths / sizeof *depths; k++, shape += sizeof shapes[0])
            find_modifier(shape, (size_t)sprintf(shape, "m64n%uk%u", n, depths[k]), true);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct compiled *f = &compiled[i];
        f->ngroups = (unsigned short)compile_groups(forms[i].mods, &f->first_group, &f->wild);
        f->ntypes = (unsigned short)compile_groups(forms[i].types, &f->first_type, &f->wild);
    }
}

static bool in_group(const struct group *g, short id) {
    for (short i = 0; i < g->count; i++)
        if (ids[g->first + i] == id) return true;
    return false;
}

static bool group_has(const struct group *g, const char *text) {
    return in_group(g, find_modifier(text, strlen(text), false));
}

/* ---- operands ---- */

/* one instruction under check */
struct checked {
    struct px *px;
    const struct sim_instr *in;
    char *name; /* 160 bytes, empty until name_of fills them */
    short mods[SIM_MAX_MODS], types[SIM_MAX_MODS];
    unsigned nmods, ntypes;
    enum sim_type type[SIM_MAX_TYPES]; /* SIM_B32 where there is no type */
    unsigned vec;
    bool has_policy; /* .L2::cache_hint is present */
};

enum class { C_NONE, C_PRED, C_BITS, C_INT, C_FLOAT };

static enum class class_of(enum sim_type t) {
    switch (t){
        case SIM_NOTYPE : return C_NONE; case SIM_PRED : return C_PRED;
        case SIM_B8 : case SIM_B16 : case SIM_B32 : case SIM_B64 : case SIM_B128 : return C_BITS;
        case SIM_F16 : case SIM_BF16 : case SIM_F32 : case SIM_F64 : case SIM_F16X2 : case
        SIM_BF16X2 : return C_FLOAT;
        default : return C_INT;
    }
}

static bool fits(enum sim_type want, enum sim_type have, bool wider) {
    enum class w = class_of(want), h = class_of(have);
    unsigned ws = sim_type_size(want), hs = sim_type_size(have);
    if (w == C_NONE) return true;
    if (w == C_PRED || h == C_PRED) return w == h;
    /* ptxas treats the packed pair as an integer */
    if (have == SIM_F16X2 && w == C_INT) h = C_BITS;
    if (wider && w == C_FLOAT && h == C_BITS) return hs >= ws;
    if (hs != ws && !(wider && hs > ws && w != C_FLOAT)) return false;
    if (w == C_BITS || h == C_BITS) return h != C_FLOAT || hs == ws;
    return w == h && (w != C_FLOAT || want == have);
}

static bool fits_constant(enum sim_type want, const struct sim_operand *o) {
    enum class w = class_of(want);
    if (w == C_NONE) return true;
    if (w == C_FLOAT) return o->fbits && (want == SIM_F32 || want == SIM_F64);
    if (w == C_BITS) return !o->fbits || o->fbits == sim_type_size(want) * 8;
    return !o->fbits;
}

static const struct sim_reg *reg_of(const struct px *px, const struct sim_operand *o) {
    return (const struct sim_reg *)px->regs.data + o->reg;
}

static enum sim_type register_type(const struct checked *c, const struct sim_operand *o) {
    return reg_of(c->px, o)->type;
}

static bool scalar_register(const struct checked *c, const struct sim_operand *o) {
    const unsigned n = o->kind == SIM_O_REG && !o->elements ? reg_of(c->px, o)->vec : 0;
    return n == 1 ? !o->component : o->component && o->component <= n;
}

static bool is_target(
        const struct checked *c, const struct sim_operand *o, enum sim_type t, bool wider) {
    return scalar_register(c, o) && !o->negated && fits(t, register_type(c, o), wider);
}

static bool is_source(
        const struct checked *c, const struct sim_operand *o, enum sim_type t, bool wider) {
    if (o->kind == SIM_O_IMM) return fits_constant(t, o);
    return scalar_register(c, o) && fits(t, register_type(c, o), wider) &&
            (!o->negated || t == SIM_PRED);
}

/* ld and st of bits move bytes into any register that is large enough. */
static bool fits_memory(enum sim_type want, enum sim_type have) {
    if (class_of(have) == C_PRED || class_of(want) == C_PRED) return want == have;
    if (class_of(want) == C_BITS) return sim_type_size(have) >= sim_type_size(want);
    return fits(want, have, true);
}

static bool is_memory_register(const struct checked *c, const struct sim_operand *o) {
    return scalar_register(c, o) && !o->negated && fits_memory(c->type[0], register_type(c, o));
}

/* A vector of n registers, also constants, that may hold a type t. Its elements have one type, or
   one size if an element is only bits: *common; none if there is no register. */
static bool is_vector_of(const struct checked *c, const struct sim_operand *o, enum sim_type t,
        unsigned n, bool target, enum sim_type *common) {
    *common = SIM_NOTYPE;
    if (o->kind == SIM_O_REG && !o->component && reg_of(c->px, o)->vec == n)
        *common = register_type(c, o);
    else if (o->kind != SIM_O_VEC || o->n != n) return false;
    for (unsigned i = 0; o->kind == SIM_O_VEC && i < o->n; i++) {
        const struct sim_operand *e = &o->list[i];
        if (target ? e->kind == SIM_O_SINK : e->kind == SIM_O_IMM && fits_constant(t, e)) continue;
        if (!scalar_register(c, e) || e->negated) return false;
        const enum sim_type have = register_type(c, e);
        const bool bits = class_of(have) == C_BITS || class_of(*common) == C_BITS;
        if (*common != SIM_NOTYPE && have != *common &&
                !(bits && sim_type_size(have) == sim_type_size(*common)))
            return false;
        if (*common == SIM_NOTYPE || class_of(have) == C_BITS) *common = have;
    }
    return true;
}

/* `exact`: registers of the size of the instruction's type. */
static bool is_vector(
        const struct checked *c, const struct sim_operand *o, bool target, bool exact) {
    enum sim_type t = c->type[0], common;
    if (!is_vector_of(c, o, t, c->vec, target, &common)) return false;
    if (common == SIM_NOTYPE) return true;
    if (exact && sim_type_size(common) != sim_type_size(t)) return false;
    return fits_memory(t, common) ||
            (t == SIM_F32 && class_of(common) == C_INT && sim_type_size(common) == 4);
}

/* A constant in a matrix: 0f of f32, no integer of f64; none of other types in A and B. */
static bool is_matrix_constant(const struct sim_operand *o, enum sim_type t, bool factor) {
    if (t == SIM_F32) return o->fbits == 32;
    if (t == SIM_B64) return factor || o->fbits == 64;
    return !factor && fits_constant(t, o);
}

/* The registers of a matrix; those of integers in A and B may have any type of 32 bits. */
static bool is_fragment(const struct checked *c, const struct sim_operand *o, char letter) {
    struct sim_mma x;
    enum sim_type common;
    if (!sim_mma_read(&x, c->in->op, c->in->mods, c->in->nmods)) return false;
    const enum sim_matrix which = letter == '0' ? x.which : (enum sim_matrix)(letter - '0');
    const struct sim_fragment f = sim_fragment_of(&x, which);
    const bool target = letter == '0', factor = letter == '1' || letter == '2';
    const enum sim_type t = f.type == SIM_E_F16            ? SIM_F16X2
            : f.type == SIM_E_BF16 || f.type == SIM_E_TF32 ? SIM_BF16X2
            : f.type == SIM_E_F32                          ? SIM_F32
            : f.type == SIM_E_F64                          ? (x.how.wmma ? SIM_F64 : SIM_B64)
            : f.type == SIM_E_S32                          ? SIM_S32
                                                           : SIM_B32;
    for (unsigned k = 0; o->kind == SIM_O_VEC && k < o->n; k++)
        if (o->list[k].kind == SIM_O_IMM && !is_matrix_constant(&o->list[k], t, factor))
            return false;
    if (f.registers == 1 && o->kind != SIM_O_VEC) return false;
    if (!is_vector_of(c, o, t, f.registers, target, &common)) return false;
    if (common == SIM_NOTYPE) return !target;
    return fits(t, common, false) && !(t == SIM_S32 && common == SIM_F16X2);
}

static bool is_predicate(const struct checked *c, const struct sim_operand *o) {
    return o->kind == SIM_O_SINK || is_target(c, o, SIM_PRED, false);
}

static bool is_pair(const struct checked *c, const struct sim_operand *o, enum sim_type first) {
    if (o->kind != SIM_O_PAIR || !is_predicate(c, &o->list[1])) return false;
    return o->list[0].kind == SIM_O_SINK || is_target(c, &o->list[0], first, false);
}

static bool has_sink(const struct sim_operand *o, unsigned k) {
    return o->kind == SIM_O_PAIR && o->list[k].kind == SIM_O_SINK;
}

static bool holds_address(enum sim_type t, unsigned size) {
    return sim_type_size(t) >= size && class_of(t) != C_FLOAT;
}

static enum sim_type doubled(enum sim_type t) {
    switch (t) {
    case SIM_U16: return SIM_U32;
    case SIM_S16: return SIM_S32;
    case SIM_U32: return SIM_U64;
    default: return SIM_S64;
    }
}

/* The operands of video instructions: a 32-bit register, with elements of it. */
static bool selects(const char *elements, char kind, unsigned n, char last) {
    return elements[0] == kind && strlen(elements + 1) == n &&
            strspn(elements + 1, "01234567") == n &&
            !strpbrk(elements + 1,
                    last == '1'           ? "234567"
                            : last == '3' ? "4567"
                                          : "89");
}

static bool is_video(const struct checked *c, char letter, const struct sim_operand *o) {
    const char *e = o->elements;
    const bool four = c->in->op[strlen(c->in->op) - 1] == '4',
               target = letter == 'E' || letter == 'K';
    struct sim_operand whole = *o;
    whole.elements = NULL;
    if (letter == 'N' || letter == 'M') whole.negated = false;
    if (target ? !is_target(c, &whole, SIM_U32, false) : !is_source(c, &whole, SIM_U32, false))
        return false;
    if (!e) return letter == 'J' ? o->kind == SIM_O_REG : letter != 'E';
    if (letter == 'J') return selects(e, four ? 'b' : 'h', four ? 4 : 2, four ? '7' : '3');
    if (letter == 'M') return false;
    if (letter != 'K') return selects(e, 'b', 1, '3') || selects(e, 'h', 1, '1');
    /* from the highest to the lowest */
    for (unsigned k = 1; e[k + 1]; k++)
        if (e[k] <= e[k + 1]) return false;
    return selects(e, four ? 'b' : 'h', (unsigned)strlen(e + 1), four ? '3' : '1');
}

/* Of an instruction for textures or surfaces: how many elements its coordinates have at least, its
   offsets, and its derivatives exactly. The first coordinate of `indexed` ones is a layer. */
struct geometry {
    const char *name;
    unsigned char coordinates, offsets, derivatives;
    bool indexed;
};
static const struct geometry *geometry_of(const struct checked *c) {
    static const struct geometry geometries[] = {
        { "1d", 1, 1, 1, false },
        { "2d", 2, 2, 2, false },
        { "3d", 4, 4, 4, false },
        { "a1d", 2, 1, 1, true },
        { "a2d", 4, 2, 2, true },
        { "cube", 4, 4, 4, false },
        { "acube", 4, 4, 4, true },
        { "2dms", 4, 2, 2, false },
        { "a2dms", 4, 2, 2, true },
    };
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        for (unsigned k = 0; k < c->in->nmods; k++)
            if (!strcmp(geometries[i].name, c->in->mods[k])) return &geometries[i];
    return &geometries[0];
}

/* A vector of 32-bit registers and constants. Elements are only bits, or all integers, or all
   numbers; those of the instruction's type t may be bits, integers if `ints`, numbers if
   `floats`. */
static bool is_coordinate_vector(const struct checked *c, const struct sim_operand *o,
        unsigned first, bool ints, bool floats) {
    bool bits = false, has_int = false, has_float = false, registers = false;
    for (unsigned k = first; k < o->n; k++) {
        const struct sim_operand *e = &o->list[k];
        if (e->kind == SIM_O_IMM) {
            if (e->fbits) has_float = true;
            else has_int = true;
            continue;
        }
        if (!scalar_register(c, e) || e->negated) return false;
        const enum sim_type t = register_type(c, e);
        if (sim_type_size(t) != 4 || t == SIM_F16X2 || t == SIM_BF16X2) return false;
        registers = true;
        bits |= class_of(t) == C_BITS;
        has_int |= class_of(t) == C_INT;
        has_float |= class_of(t) == C_FLOAT;
    }
    if (has_int && has_float) return false;
    if (bits) return true;
    return has_float ? floats : ints || (registers && floats);
}

static bool is_index(const struct checked *c, const struct sim_operand *o) {
    if (o->kind == SIM_O_IMM) return !o->fbits;
    return scalar_register(c, o) && !o->negated && sim_type_size(register_type(c, o)) == 4 &&
            class_of(register_type(c, o)) != C_FLOAT;
}

/* Of textures: t is the type of the coordinates. */
static bool is_coordinates(const struct checked *c, const struct sim_operand *o) {
    const struct geometry *g = geometry_of(c);
    const enum sim_type t = c->ntypes > 1 ? c->type[1] : SIM_S32;
    const bool texture = c->ntypes > 1, floats = t == SIM_F32;
    if (o->kind == SIM_O_REG && reg_of(c->px, o)->vec == 1)
        return g->coordinates == 1 && !o->component && is_source(c, o, t, false);
    if (o->kind == SIM_O_REG)
        return !o->component && reg_of(c->px, o)->vec >= g->coordinates &&
                sim_type_size(register_type(c, o)) == 4 &&
                (floats || class_of(register_type(c, o)) != C_FLOAT);
    if (o->kind != SIM_O_VEC || (o->n != 1 && o->n != 2 && o->n != 4) || o->n < g->coordinates)
        return false;
    if (g->indexed && texture)
        return is_index(c, &o->list[0]) && is_coordinate_vector(c, o, 1, true, true);
    return is_coordinate_vector(c, o, 0, !floats, floats);
}

/* [object], [object, coordinates] */
static bool is_object(const struct checked *c, const struct sim_operand *o, bool coordinates) {
    if (o->kind != SIM_O_MEM || o->imm || o->n != coordinates) return false;
    if (o->reg < 0 && !o->var) return false;
    if (o->reg >= 0 &&
            (o->component || reg_of(c->px, o)->vec > 1 ||
                    !fits(SIM_U64, reg_of(c->px, o)->type, false)))
        return false;
    return !coordinates || is_coordinates(c, &o->list[0]);
}

static bool is_offsets(const struct checked *c, const struct sim_operand *o) {
    const unsigned need = geometry_of(c)->offsets;
    if (o->kind == SIM_O_REG && reg_of(c->px, o)->vec > 1)
        return !o->component && reg_of(c->px, o)->vec >= need &&
                sim_type_size(register_type(c, o)) == 4 && class_of(register_type(c, o)) != C_FLOAT;
    if (o->kind != SIM_O_VEC) return need == 1 && is_source(c, o, SIM_S32, false);
    return (o->n == 1 || o->n == 2 || o->n == 4) && o->n >= need &&
            is_coordinate_vector(c, o, 0, true, false);
}

static bool is_derivatives(const struct checked *c, const struct sim_operand *o) {
    const unsigned need = geometry_of(c)->derivatives;
    if (o->kind == SIM_O_REG)
        return !o->component && reg_of(c->px, o)->vec == need && need > 1 &&
                fits(SIM_F32, register_type(c, o), false);
    if (o->kind != SIM_O_VEC || o->n != need) return false;
    for (unsigned k = 0; k < o->n; k++)
        if (!is_source(c, &o->list[k], SIM_F32, false)) return false;
    return true;
}

static bool is_texels(const struct checked *c, const struct sim_operand *o) {
    bool known = false;
    if (o->kind == SIM_O_PAIR)
        return o->list[1].kind != SIM_O_SINK && is_predicate(c, &o->list[1]) &&
                o->list[0].kind != SIM_O_PAIR && is_texels(c, &o->list[0]);
    if (o->kind == SIM_O_REG) known = true;
    for (unsigned k = 0; o->kind == SIM_O_VEC && k < o->n; k++)
        known |= o->list[k].kind == SIM_O_REG;
    if (!known) return false;
    if (c->type[0] == SIM_F16 && o->kind == SIM_O_VEC && o->n == c->vec) { /* also integers */
        for (unsigned k = 0; k < o->n; k++)
            if (o->list[k].kind != SIM_O_SINK && !is_target(c, &o->list[k], SIM_B16, false))
                return false;
        return true;
    }
    return is_vector(c, o, true, true);
}

/* Of copies of tensors: the number of dimensions. */
static unsigned dims_of(const struct checked *c) {
    for (unsigned k = 0; k < c->in->nmods; k++) {
        const char *m = c->in->mods[k];
        if (m[0] >= '1' && m[0] <= '5' && m[1] == 'd' && !m[2]) return (unsigned)(m[0] - '0');
    }
    return 0;
}

static bool is_source_vector(
        const struct checked *c, const struct sim_operand *o, unsigned n, enum sim_type t) {
    if (o->kind != SIM_O_VEC || o->n != n) return false;
    for (unsigned k = 0; k < n; k++)
        if (!is_source(c, &o->list[k], t, false)) return false;
    return true;
}

static bool is_tensor(const struct checked *c, const struct sim_operand *o) {
    return o->kind == SIM_O_MEM && o->n == 1 && o->list[0].kind == SIM_O_VEC &&
            o->list[0].n == dims_of(c) && is_coordinate_vector(c, &o->list[0], 0, true, false);
}

static bool operand_fits(const struct checked *c, char letter, const struct sim_operand *o) {
    enum sim_type t0 = c->type[0], t1 = c->type[1];
    const bool surface = !strcmp(c->in->op, "suld") || !strcmp(c->in->op, "sust");
    if (surface && strchr("VS", letter) && !c->vec && o->kind == SIM_O_VEC && o->n == 1)
        o = o->list; /* {a} is a */
    switch (letter) {
    case 'd': return is_target(c, o, t0, false);
    case 'D': return is_target(c, o, t0, true);
    case 'a': return is_source(c, o, t0, false);
    case 'b': return is_source(c, o, t1, false);
    case 'B': return is_source(c, o, t1, true);
    case 'w': return is_target(c, o, doubled(t0), false);
    case 'W': return is_source(c, o, doubled(t0), false);
    case 'j': return scalar_register(c, o) && is_source(c, o, t0, false);
    case 'c': return scalar_register(c, o) && is_source(c, o, t1, false);
    case 'y': return is_target(c, o, t0, false) && class_of(register_type(c, o)) == C_BITS;
    case 'Y': return is_target(c, o, t1, false) && class_of(register_type(c, o)) == C_BITS;
    case 'A':
        return o->kind == SIM_O_SINK ||
                (c->vec ? is_vector(c, o, true, true) : is_target(c, o, t0, false));
    case 'V': return c->vec ? is_vector(c, o, true, false) : is_memory_register(c, o);
    case 'S':
        return c->vec ? is_vector(c, o, false, false)
                      : is_memory_register(c, o) || is_source(c, o, t0, true);
    case 'o': return is_predicate(c, o) || is_pair(c, o, SIM_PRED);
    case 'e':
        return is_predicate(c, o) || (is_pair(c, o, SIM_PRED) && has_sink(o, 1) && !has_sink(o, 0));
    case 'O': return is_target(c, o, t0, false) || (is_pair(c, o, t0) && !has_sink(o, 0));
    case 't': return is_pair(c, o, SIM_B32) && !(has_sink(o, 0) && has_sink(o, 1));
    case 's':
        return is_target(c, o, SIM_B32, false) ||
                (is_pair(c, o, SIM_B32) && has_sink(o, 1) && !has_sink(o, 0));
    case 'q': return is_predicate(c, o);
    case 'p': return is_source(c, o, SIM_PRED, false);
    case 'P': return scalar_register(c, o) && is_source(c, o, SIM_PRED, false);
    case 'r': return is_target(c, o, SIM_B32, false);
    case 'i': return is_target(c, o, SIM_U32, false) && class_of(register_type(c, o)) != C_FLOAT;
    case 'I': return is_target(c, o, SIM_U32, true);
    case 'z': return is_target(c, o, SIM_U16, false);
    case 'u': return is_source(c, o, SIM_U32, false);
    case 'v':
        return is_source(c, o, SIM_U32, false) &&
                !(o->kind == SIM_O_REG && register_type(c, o) == SIM_F16X2);
    case 'f': return is_source(c, o, SIM_F32, false);
    case 'k': return c->has_policy && is_source(c, o, SIM_B64, false);
    case 'n': return o->kind == SIM_O_IMM && !o->fbits;
    case 'm': return o->kind == SIM_O_MEM;
    case 'g':
        if (o->kind == SIM_O_IMM || (o->kind == SIM_O_SYM && o->var)) return true;
        return scalar_register(c, o) && holds_address(register_type(c, o), 4);
    case 'h': return scalar_register(c, o) && holds_address(register_type(c, o), 4);
    case 'G':
        if (o->kind == SIM_O_SYM) return o->var && o->var->space == SIM_SHARED;
        return scalar_register(c, o) && holds_address(register_type(c, o), sim_type_size(t0)) &&
                sim_type_size(register_type(c, o)) == sim_type_size(t0);
    case '_': return o->kind == SIM_O_SINK;
    case 'X':
    case 'N':
    case 'M':
    case 'E':
    case 'J':
    case 'K': return is_video(c, letter, o);
    case 'R': return is_texels(c, o);
    case 'H': return is_object(c, o, true);
    case 'Q': return is_object(c, o, false);
    case 'F': return is_offsets(c, o);
    case 'l': return is_tensor(c, o);
    case '#': return dims_of(c) > 2 && is_source_vector(c, o, dims_of(c) - 2, SIM_U16);
    case '6': return is_source(c, o, SIM_U16, false);
    case 'C': return is_derivatives(c, o);
    case 'Z': return o->kind != SIM_O_SINK && is_predicate(c, o);
    case 'U': return is_source(c, o, SIM_U64, false);
    case '0':
    case '1':
    case '2':
    case '3': return is_fragment(c, o, letter);
    case '4': return o->kind == SIM_O_REG && is_source(c, o, SIM_B32, false);
    case 'L': return o->kind == SIM_O_LABEL;
    case 'T': return o->kind == SIM_O_TARGETS;
    default: return true;
    }
}

static bool operands_fit(const struct checked *c, const char *args) {
    bool optional = false;
    unsigned i = 0;
    for (; *args; args++) {
        if (*args == '.') {
            optional = true;
            continue;
        }
        if (i == c->in->n) return optional && !(c->has_policy && strchr(args, 'k'));
        if (!operand_fits(c, *args, &c->in->opd[i++])) return false;
    }
    return i == c->in->n;
}

/* mov has forms that no letter describes: addresses, special registers, packing into and out of
   vectors. */
static bool mov_fits(const struct checked *c) {
    if (c->in->n != 2) return false;
    const struct sim_operand *d = &c->in->opd[0], *s = &c->in->opd[1];
    enum sim_type t = c->type[0];
    if (c->vec) {
        if (s->kind != SIM_O_SREG)
            return is_vector(c, d, true, true) && is_vector(c, s, false, true);
        return is_vector(c, d, true, true) && c->vec == 4 && sim_type_size(t) == 4 &&
                class_of(t) != C_FLOAT;
    }
    if (d->kind == SIM_O_VEC || s->kind == SIM_O_VEC) {
        const struct sim_operand *v = d->kind == SIM_O_VEC ? d : s,
                                 *w = d->kind == SIM_O_VEC ? s : d;
        unsigned size = sim_type_size(t), part = v->n ? size / v->n : 0, nsinks = 0;
        if (class_of(t) != C_BITS || (v->n != 2 && v->n != 4) || !part) return false;
        for (unsigned i = 0; i < v->n; i++) {
            const struct sim_operand *e = &v->list[i];
            if (e->kind == SIM_O_SINK && v == d && nsinks++ < v->n - 1) continue;
            if (e->kind == SIM_O_IMM && v == s) continue;
            if (!scalar_register(c, e) || sim_type_size(register_type(c, e)) != part) return false;
        }
        return w == d ? is_target(c, w, t, false) : is_source(c, w, t, false);
    }
    if (!is_target(c, d, t, false)) return false;
    if (s->kind == SIM_O_SYM && s->var && s->var->opaque) return !d->component && t == SIM_U64;
    if (s->kind == SIM_O_SYM)
        return !d->component && class_of(t) != C_PRED && (class_of(t) != C_FLOAT || s->func);
    if (s->kind == SIM_O_SREG) {
        struct px_name *name = px_find_name(c->px->store, s->name, strlen(s->name));
        char kind = px_special_kind(name);
        unsigned size = sim_type_size(t);
        if (kind == 'p') return t == SIM_PRED;
        if (kind == 'v' && !s->component && t != SIM_B128) return false;
        if (t == SIM_B128) return kind == 'v' && !s->component;
        if (class_of(t) == C_FLOAT || size < 2) return false;
        return kind == 'l' ? size == 8 : kind == 'q' || (size == 4) || (size == 2 && kind == 'v');
    }
    return is_source(c, s, t, false);
}

/* ---- rules that the forms cannot express ---- */

/* Whether a word is in a list such as "ld|st|atom". */
static bool listed(const char *word, size_t n, const char *list) {
    for (;; list++) {
        size_t len = strcspn(list, "|");
        if (len == n && !memcmp(list, word, n)) return true;
        list += len;
        if (!*list) return false;
    }
}

static bool is(const struct checked *c, const char *ops) {
    return listed(c->in->op, strlen(c->in->op), ops);
}

/* whether one of these modifiers or types is present */
static bool has(const struct checked *c, const char *words) {
    for (unsigned i = 0; i < c->in->nmods; i++)
        if (listed(c->in->mods[i], strlen(c->in->mods[i]), words)) return true;
    return false;
}

/* whether one of each of the lists between `&` is present */
static bool has_each(const struct checked *c, const char *lists) {
    char words[64];
    for (;; lists++) {
        const size_t n = strcspn(lists, "&");
        snprintf(words, sizeof words, "%.*s", (int)n, lists);
        if (!has(c, words)) return false;
        lists += n;
        if (!*lists) return true;
    }
}

/* Some modifiers are part of the name: they follow the opcode at once, in this order, and ptxas's
   messages have them: "mad.lo". */
static const struct {
    const char *op, *parts;
} parted[] = {
    { "mul|mad|mul24|mad24|madc", "lo|hi|wide" },
    { "brx", "idx" },
    { "dp2a", "lo|hi" },
    { "shf", "l|r" },
    { "bar|barrier", "cta|warp|cluster|red|arrive|wait" },
    { "fence|membar", "proxy" },
    { "pmevent", "mask" },
    { "tensormap", "replace|cp_fenceproxy" },
    { "tex", "base|level|grad" },
    { "txq", "level" },
    { "suld|sust|sured", "b|p" },
    { "cvt", "pack" },
    { "cvta", "to" },
    { "wmma", "load|store|mma|a|b|c|d" },
    { "cp", "reduce|async|mbarrier|bulk|prefetch|tensor|wait_all|wait_group|commit_group" },
    { "mbarrier",
            "init|inval|arrive|arrive_drop|test_wait|try_wait|pending_count|noComplete|expect_tx|"
            "complete_tx|parity" },
};

/* The part that comes too late, or NULL. */
static const char *late_part(const struct checked *c) {
    const struct sim_instr *in = c->in;
    for (size_t i = 0; i < sizeof parted / sizeof *parted; i++) {
        const char *rest = parted[i].parts;
        if (!is(c, parted[i].op)) continue;
        for (unsigned m = 0; m < in->nmods; m++) {
            const size_t n = strlen(in->mods[m]);
            if (!listed(in->mods[m], n, parted[i].parts)) rest = "";
            else if (!*rest || !listed(in->mods[m], n, rest)) return in->mods[m];
            else
                while (strncmp(rest, in->mods[m], n) || (rest[n] && rest[n] != '|'))
                    rest = strchr(rest, '|') + 1;
        }
    }
    return NULL;
}

static const char *name_of(const struct checked *c) {
    const struct sim_instr *in = c->in;
    const size_t size = 160;
    if (c->name[0]) return c->name;
    size_t at = (size_t)snprintf(c->name, size, "%.100s", in->op);
    for (size_t i = 0; i < sizeof parted / sizeof *parted; i++)
        for (unsigned m = 0; m < in->nmods && is(c, parted[i].op); m++) {
            size_t n = strlen(in->mods[m]);
            if (listed(in->mods[m], n, parted[i].parts) && at + n + 2 < size)
                at += (size_t)snprintf(c->name + at, size - at, ".%s", in->mods[m]);
        }
    return c->name;
}

static void say(const struct checked *c, const char *what) {
    px_error(c->px, c->in->line, "%s instruction '%s'", what, name_of(c));
}

static void require(const struct checked *c, unsigned sm, unsigned version, const char *kind,
        const char *name) {
    const struct sim_image *m = c->px->image;
    if (m->sm < sm)
        px_error(c->px, c->in->line, "%s '%s' requires .target sm_%u or higher", kind, name, sm);
    if (m->version < version)
        px_error(c->px, c->in->line, "%s '%s' requires PTX ISA .version %u.%u or later", kind, name,
                version / 10, version % 10);
}

/* As ptxas names it, for .target sm_90a only. */
static void check_wgmma(const struct checked *c) {
    const struct sim_image *m = c->px->image;
    const char *types = !has(c, "mma_async") ? ""
            : has(c, "s8|u8")                ? " with integer types"
            : has(c, "b1")                   ? " with boolean type"
                                             : " with floating point types";
    if (m->sm == 90 && m->sm_suffix) return;
    px_error(c->px, c->in->line, "Instruction 'wgmma.%s%s' not supported on .target 'sm_%u%.1s'",
            c->in->nmods ? c->in->mods[0] : "", types, m->sm, &m->sm_suffix);
}

static void check_features(const struct checked *c) {
    const struct sim_image *m = c->px->image;
    if (is(c, "wgmma")) check_wgmma(c);
    if (is(c, "ld|st") && c->vec * sim_type_size(c->type[0]) > 16)
        require(c, 100, 88, "Feature", "256 bit wide load/store");
    if (is(c, "max") && c->in->n > 3)
        require(c, 100, 88, "Feature", "max.f32 with 3 input operands");
    if (is(c, "min") && c->in->n > 3)
        require(c, 100, 88, "Feature", "min.f32 with 3 input operands");
    if (is(c, "add|sub|fma") && has(c, "f32") && has(c, "f16|bf16"))
        require(c, 100, 86, "Feature", "mixed precision");
    if (is(c, "ld|st") && has(c, "volatile") && has(c, "local"))
        require(c, 0, 91, "Feature", "ld/st with .local.volatile");
    if (is(c, "shfl|vote") && !has(c, "sync") && m->sm >= 70 && m->version >= 64)
        px_error(c->px, c->in->line,
                "Instruction '%s' without '.sync' is not supported on .target sm_70 and higher "
                "from PTX ISA version 6.4",
                name_of(c));
    if (is(c, "mad") && c->type[0] == SIM_F32 && !has(c, "rn|rz|rm|rp") && m->sm >= 20)
        say(c, "Rounding modifier required for");
    if (is(c, "cvt") && has(c, "tf32") && has(c, "rn|rz"))
        require(c, 90, 78, "Feature",
                has(c, "rn") ? "cvt with .tf32.f32.rn" : "cvt with .tf32.f32.rz");
    if (is(c, "mbarrier") && has(c, "arrive|arrive_drop") && c->in->n > 2 &&
            !has(c, "noComplete|expect_tx"))
        require(c, 90, 78, "Feature",
                has(c, "arrive")
                        ? "mbarrier.arrive with count argument and without '.noComplete' modifier"
                        : "mbarrier.arrive_drop with count argument and without '.noComplete' "
                          "modifier");
    if (is(c, "setmaxnreg") && m->sm >= 90 && !m->sm_suffix)
        px_error(c->px, c->in->line, "Instruction 'setmaxnreg%s' not supported on .target 'sm_%u'",
                has(c, "inc") ? ".inc" : ".dec", m->sm);
    if (is(c, "tensormap") && has(c, "replace") && m->sm <= 90 && !m->sm_suffix) {
        require(c, 0, 83, "Feature", name_of(c));
        px_error(c->px, c->in->line, "Instruction '%s' not supported on .target 'sm_%u'",
                name_of(c), m->sm);
        return;
    }
    if (has(c, "tensor") && has(c, "mbarrier::complete_tx::bytes") && has(c, "shared::cta"))
        require(c, 0, 86, "Feature",
                "cp.async.bulk.tensor with destination state space as .shared::cta");
    if (m->sm >= 100 && m->version >= 86) return; /* newer than every row */
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *f = &features[i];
        if (m->sm >= f->sm && m->version >= f->version) continue;
        if ((f->op[0] != '*' && strcmp(f->op, c->in->op)) || (f->word && !has_each(c, f->word)))
            continue;
        require(c, f->sm, f->version, f->kind, f->name ? f->name : name_of(c));
        return;
    }
}

static enum sim_space space_of(const struct checked *c) {
    static const struct {
        const char *words;
        enum sim_space space;
    } spaces[] = {
        { "global", SIM_GLOBAL },
        { "shared|shared::cta|shared::cluster", SIM_SHARED },
        { "local", SIM_LOCAL },
        { "const", SIM_CONST },
        { "param|param::entry|param::func", SIM_PARAM },
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (has(c, spaces[i].words)) return spaces[i].space;
    return SIM_GENERIC;
}

/* Operand k if it is a constant, else NULL. */
static const struct sim_operand *constant(const struct sim_instr *in, unsigned k) {
    return k < in->n && in->opd[k].kind == SIM_O_IMM ? &in->opd[k] : NULL;
}

/* The constant of tensormap.replace: a dimension, or a field's value. */
static void check_field(const struct checked *c) {
    static const struct {
        const char *field;
        unsigned most;
    } fields[] = { { "box_dim", 4 }, { "global_dim", 4 }, { "global_stride", 4 },
        { "element_stride", 4 }, { "elemtype", 12 }, { "interleave_layout", 2 },
        { "swizzle_mode", 3 }, { "fill_mode", 1 } };
    const struct sim_operand *value = constant(c->in, 1);
    for (size_t k = 0; value && k < sizeof fields / sizeof *fields; k++)
        if (has(c, fields[k].field) && value->imm > fields[k].most)
            px_error(c->px, c->in->line,
                    "Argument 1 of instruction '%s': value '%llu' expected to be in range [0..%u] "
                    "when .%s modifier is used.",
                    name_of(c), (unsigned long long)value->imm, fields[k].most, fields[k].field);
}

/* Values of constants; modifiers that depend on each other or on the type. */
static void check_details(const struct checked *c) {
    struct px *px = c->px;
    const struct sim_instr *in = c->in;
    if ((is(c, "bar") && !has(c, "warp")) || (is(c, "barrier") && !has(c, "cluster"))) {
        unsigned first = has(c, "red"); /* index of the barrier's number */
        const struct sim_operand *number = constant(in, first);
        const struct sim_operand *threads = in->n > 2 * first + 1 ? constant(in, first + 1) : NULL;
        if (number && number->imm > 15)
            px_error(px, in->line,
                    "Barrier number '%llu' out of range, expected to be in range [0..15]",
                    (unsigned long long)number->imm);
        if (threads && threads->imm % 32)
            px_error(px, in->line,
                    "Number of threads participating in barrier must be in multiple of warp size");
    }
    const struct sim_operand *event = is(c, "pmevent") && !has(c, "mask") ? constant(in, 0) : NULL;
    if (event && event->imm > 15)
        px_error(px, in->line,
                "Argument 0 of instruction 'pmevent': value '%llu' out of range, expected to be in "
                "range [0..15]",
                (unsigned long long)event->imm);
    const struct sim_operand *size = is(c, "applypriority|discard|fence") ? constant(in, 1) : NULL;
    if (size && size->imm != 128)
        px_error(px, in->line,
                "Argument 2 of instruction '%s': unexpected value '%lld', expected to be 128",
                name_of(c), (long long)size->imm);
    if (is(c, "cvta") && in->opd[1].kind == SIM_O_SYM) {
        if (has(c, "to") && !in->opd[1].imm)
            px_error(px, in->line, "Argument 1 of instruction 'cvta.to': must be register");
        if (!has(c, "to") && in->opd[1].var->space != space_of(c))
            say(c, "State space mismatch between instruction and address in");
    }
    const struct sim_operand *align = is(c, "alloca") ? constant(in, 2) : NULL;
    if (align && align->imm & (align->imm - 1))
        px_error(px, in->line, "Alignment must be a power of two");
    if (align && align->imm > 1u << 23)
        px_error(px, in->line, "Alignment value too large, exceeds 2^23");
    if (is(c, "vmad") && in->opd[0].kind == SIM_O_REG &&
            (in->opd[1].negated != in->opd[2].negated) && in->opd[3].negated)
        px_error(px, in->line,
                "Operand negation limited to either (source A xor source B) or source C");
    if (is(c, "min|max") && has(c, "xorsign") && !has(c, "abs"))
        px_error(px, in->line, "Modifier '.xorsign' requires modifier '.abs'");
    if (is(c, "min|max") && has(c, "abs") && !has(c, "xorsign"))
        px_error(px, in->line, "Modifier '.abs' requires modifier '.xorsign'");
    if (is(c, "set|setp")) {
        enum sim_type t = c->type[c->ntypes > 1];
        bool is_signed = t == SIM_S16 || t == SIM_S32 || t == SIM_S64;
        if ((class_of(t) == C_BITS && !has(c, "eq|ne")) || (is_signed && has(c, "lo|ls|hi|hs")))
            px_error(px, in->line, "Mismatch between instruction type and comparison qualifier");
    }
    if (is(c, "tex|tld4") && in->opd[0].kind == SIM_O_PAIR) {
        const char *feature = "Texture instruction with optional predicate result";
        require(c, 0, 71, "Feature", feature);
        require(c, 60, 0, "Feature", feature);
    }
    if (is(c, "tensormap") && has(c, "replace")) check_field(c);
    struct sim_mma x;
    if (is(c, "mma|wmma") && strstr(in->form->mods, "row col") &&
            sim_mma_read(&x, in->op, in->mods, in->nmods) && x.a_col)
        say(c, "Illegal alayout '.col' for");
    const struct sim_operand *selector = is(c, "mma") ? constant(in, 5) : NULL;
    if (selector && sim_mma_read(&x, in->op, in->mods, in->nmods)) {
        const unsigned last = has_each(c, "m16n8k32&f16") ? 3 : 4 / sim_metadata_lanes(&x.how) - 1;
        if (selector->imm && has(c, F8))
            px_error(px, in->line,
                    "Argument 5 of instruction 'mma': unexpected value '%lld', expected to be 0",
                    (long long)selector->imm);
        else if (selector->imm > last)
            px_error(px, in->line,
                    "Argument 6 of instruction 'Sparse mma': value '%lld' out of range, expected "
                    "to be in range [0..%u]",
                    (long long)selector->imm, last);
    }
    const char *late = late_part(c);
    if (late) px_error(px, in->line, "Unknown modifier '.%s'", late);
    const enum sim_select select = in->form ? in->form->select : SIM_SELECT_NONE;
    if (select == SIM_SELECT_CP_ASYNC || select == SIM_SELECT_CP_TENSOR ||
            select == SIM_SELECT_TENSORMAP_COPY) {
        const bool stores = has(c, "bulk_group|cp_fenceproxy");
        unsigned global = 0, shared = 0;
        while (strcmp(in->mods[global], "global")) global++;
        while (strncmp(in->mods[shared], "shared", 6)) shared++;
        if ((global < shared) != stores)
            say(c, "State space mismatch between instruction and address in");
    }
    const struct sim_operand *bytes = is(c, "cp") && has(c, "ca|cg") ? constant(in, 2) : NULL;
    if (bytes) {
        uint64_t v = bytes->imm;
        if (v != 16 && (has(c, "cg") || (v != 4 && v != 8)))
            px_error(px, in->line,
                    "Argument 2 of instruction '%s': unexpected value '%lld', expected to be %s",
                    name_of(c), (long long)v, has(c, "cg") ? "16" : "4 or 8 or 16");
    }
}

static void check_address(const struct checked *c, const struct sim_operand *o) {
    struct px *px = c->px;
    const struct sim_func *f = px->func;
    const struct sim_var *v = o->var;
    const enum sim_space space = space_of(c);
    const bool texture = is(c, "tex|tld4|txq"), surface = is(c, "suld|sust|sured|suq");
    if (texture || surface) {
        if (v && v->opaque != (texture ? SIM_TEXREF : SIM_SURFREF))
            px_error(px, c->in->line,
                    "Argument %u of instruction '%s': .%s or .u64 register expected",
                    is(c, "sust|sured") ? 0 : 1, name_of(c), texture ? "texref" : "surfref");
        else if (v && v->size != 8) say(c, "Arguments mismatch for");
        return;
    }
    if (v && v->opaque) {
        say(c, "Illegal operand type to");
        return;
    }
    if (o->reg >= 0) {
        const struct sim_reg *r = reg_of(px, o);
        if (!holds_address(r->type, is(c, "ld|st") || has(c, "tensor") ? 2 : 4))
            px_error(px, c->in->line,
                    "Illegal to use symbol '%s' of type .%s as address operand. Use integer or bit "
                    "only.",
                    r->name, px_type_name(r->type));
        else if (sim_type_size(r->type) == 4 && (space == SIM_GENERIC || space == SIM_GLOBAL) &&
                is(c, "ld|st|atom|red"))
            px_fatal(px, 218, 0,
                    "Program uses 32-bit address on line '%u' which is conflicting with "
                    ".address_size 64",
                    c->in->line);
    } else if (!v) {
        if (!o->name && space != SIM_LOCAL)
            px_error(px, c->in->line, "Immediate addresses allowed only for .local state space");
    } else if (is(c, "ld|st|atom|red|wmma|ldmatrix|stmatrix")) {
        const bool none = v->space == SIM_CONST || v->space == SIM_PARAM ||
                (v->space == SIM_LOCAL && is(c, "atom"));
        if (space == SIM_GENERIC ? none : space != v->space)
            say(c, "State space mismatch between instruction and address in");
        if (is(c, "st") && f->nparams && v >= f->params && v < f->params + f->nparams)
            px_error(px, c->in->line, "Illegal to write to function input parameter '%s'", v->name);
        if (is(c, "ld") && f->nrets && v >= f->rets && v < f->rets + f->nrets)
            px_error(px, c->in->line, "Illegal to read function return parameter '%s'", v->name);
    }
}

static void check_call_list(struct px *px, unsigned line, const struct sim_operand *list,
        const struct sim_var *formal, unsigned n) {
    if ((list ? list->n : 0) != n) {
        px_error(px, line, "Call has wrong number of parameters");
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct sim_operand *o = &list->list[i];
        uint64_t size, align;
        if (o->kind == SIM_O_REG) size = align = sim_type_size(reg_of(px, o)->type);
        else if (o->kind == SIM_O_SYM && o->var) {
            size = o->var->size;
            align = o->var->align;
        } else continue;
        if (formal[i].is_unsized) continue;
        if (size != formal[i].size)
            px_error(px, line, "Type of argument does not match formal parameter '%s'",
                    formal[i].name);
        if (align < formal[i].align)
            px_error(px, line, "Alignment of argument does not match formal parameter '%s'",
                    formal[i].name);
    }
}

static void check_call(const struct checked *c) {
    struct px *px = c->px;
    const struct sim_instr *in = c->in;
    unsigned i = 0;
    const struct sim_operand *rets = NULL, *args = NULL, *target, *proto = NULL;
    if (in->n && in->opd[0].kind == SIM_O_LIST) rets = &in->opd[i++];
    if (i >= in->n) {
        say(c, "Arguments mismatch for");
        return;
    }
    target = &in->opd[i++];
    if (i < in->n && in->opd[i].kind == SIM_O_LIST) args = &in->opd[i++];
    if (i < in->n) proto = &in->opd[i++];
    const struct sim_func *f = target->kind == SIM_O_SYM ? target->func : NULL;
    if (f && !f->is_entry) {
        check_call_list(px, in->line, rets, f->rets, f->nrets);
        check_call_list(px, in->line, args, f->params, f->nparams);
    } else if (target->kind == SIM_O_REG && proto && proto->kind == SIM_O_PROTO) {
        check_call_list(px, in->line, rets, proto->proto->rets, proto->proto->nrets);
        check_call_list(px, in->line, args, proto->proto->params, proto->proto->nparams);
    } else if (target->kind == SIM_O_REG || target->kind == SIM_O_LABEL)
        px_error(px, in->line, "Call to '%s' requires call prototype",
                target->kind == SIM_O_REG ? reg_of(px, target)->name : target->name);
    else px_error(px, in->line, "Illegal call target, device function expected");
}

/* ---- an instruction ---- */

static bool may_repeat(const struct modifier *m) {
    return listed(m->text, m->len, "sat|cc|sync|NaN");
}

/* How well a form matches: 0 another opcode, 1 types differ, 2 modifiers differ, 3 operands differ,
   4 matches. `odd` is the modifier that the form does not take, or `missing` the group that the
   instruction lacks. */
static int try_form(
        const struct checked *c, size_t form, short *odd, const struct group **missing) {
    const struct compiled *f = &compiled[form];
    *odd = 0;
    *missing = NULL;
    if (!f->wild) {
        if (c->ntypes != f->ntypes) return 1;
        for (unsigned i = 0; i < c->ntypes; i++)
            if (!in_group(&groups[f->first_type + i], c->types[i])) return 1;
    }
    uint32_t taken = 0;
    for (unsigned m = 0; m < c->nmods; m++) {
        bool found = false;
        for (unsigned g = 0; g < f->ngroups && !found; g++)
            if (!(taken >> g & 1) && in_group(&groups[f->first_group + g], c->mods[m])) {
                taken |= 1u << g;
                found = true;
            }
        for (unsigned k = 0; k < m && !found; k++)
            found = c->mods[k] == c->mods[m] && may_repeat(&modifiers[c->mods[m]]);
        if (!found && !f->wild) {
            *odd = c->mods[m];
            break;
        }
    }
    for (unsigned g = 0; g < f->ngroups && !*missing; g++)
        if (!(taken >> g & 1) && !groups[f->first_group + g].optional)
            *missing = &groups[f->first_group + g];
    if (*odd || *missing) return 2;
    bool fit = !strcmp(c->in->op, "mov") ? mov_fits(c) : operands_fit(c, forms[form].args);
    return fit ? 4 : 3;
}

static void odd_modifier(const struct checked *c, const struct modifier *m) {
    const char *word = m->text;
    size_t n = m->len;
    unsigned line = c->in->line;
    bool space = listed(word, n, "global|local|const|param|shared|shared::cta|shared::cluster");
    unsigned times = 0;
    for (unsigned i = 0; i < c->nmods; i++) times += &modifiers[c->mods[i]] == m;
    if (space && is(c, "ld|st|ldu|atom|red|cvta|isspacep|prefetch"))
        say(c, "Unexpected number of state spaces specified in");
    else if (space) say(c, "No state space qualifier expected for");
    else if (is(c, "mul|mad") && listed(word, n, "lo|hi|wide"))
        px_error(c->px, line, "Unexpected instruction types specified for '%s'", name_of(c));
    else if (is(c, "atom|red") && listed(word, n, "add|min|max|inc|dec|and|or|xor|exch|cas"))
        px_error(c->px, line, "Operation .%.*s requires another type for instruction '%s'", (int)n,
                word, name_of(c));
    else if (times > 1) px_error(c->px, line, "Duplicate .%.*s modifier", (int)n, word);
    else if (listed(word, n, "rn|rz|rm|rp|rni|rzi|rmi|rpi|rna|rs"))
        say(c, "Illegal rounding modifier for");
    else if (listed(word, n, FCMP "|lo|ls|hi|hs"))
        say(c, "Comparison qualifier is not allowed for");
    else if (listed(word, n, "v2|v4|v8")) say(c, "Vector qualifier is not allowed for");
    else if (listed(word, n, "wide|idx|wait_group|wait_all|commit_group"))
        px_error(c->px, line, "Unknown modifier '.%.*s'", (int)n, word);
    else
        px_error(c->px, line, "Illegal modifier '.%.*s' for instruction '%s'", (int)n, word,
                name_of(c));
}

static void missing_modifier(const struct checked *c, const struct group *missing) {
    const struct modifier *m = &modifiers[ids[missing->first]];
    unsigned line = c->in->line;
    bool rounding = group_has(missing, "rn") || group_has(missing, "rni"),
         approx = group_has(missing, "approx");
    if (is(c, "mul24|mad24|madc|mbarrier|brx") || (is(c, "cp") && !has(c, "async")))
        px_error(c->px, line, "Not a name of any known instruction: '%s'", c->in->op);
    else if (is(c, "dp2a")) say(c, "'.hi/.lo' modifier required for");
    else if (is(c, "shfl")) say(c, "Shuffle modifier required for");
    else if (is(c, "membar")) say(c, "Membar level required for");
    else if (is(c, "atom|red")) say(c, "Reduction operation is required for");
    else if (is(c, "bar|barrier") && !strcmp(name_of(c), c->in->op))
        say(c, "Barrier modifier required for");
    else if (group_has(missing, "eq")) say(c, "Comparison modifier required for");
    else if (is(c, "div|sqrt|rcp") && (rounding || approx))
        say(c, "Rounding modifier or '.approx' modifier required for");
    else if (rounding) say(c, "Rounding modifier required for");
    else if (approx) say(c, ".approx modifier required for");
    else if (is(c, "mul|mad"))
        px_error(c->px, line, "Unexpected instruction types specified for '%s'", name_of(c));
    else
        px_error(c->px, line, "'.%.*s' modifier required for instruction '%s'", m->len, m->text,
                name_of(c));
}

static void wrong_operands(const struct checked *c, const char *args) {
    const struct sim_instr *in = c->in;
    bool computes = strchr("dDwr", args[0]) != NULL, right_count = strlen(args) == in->n;
    if (is(c, "mov") && in->n && in->opd[0].kind == SIM_O_SREG) {
        px_error(c->px, in->line, "Read-only special register cannot be destination argument");
        return;
    }
    for (unsigned i = 0; i < in->n && computes; i++) {
        const struct sim_operand *o = &in->opd[i];
        if (o->elements)
            say(c,
                    i ? "Video selector is not allowed on source operand for"
                      : "Video selector is not allowed on destination for");
        else if (o->kind == SIM_O_SREG) say(c, "Special register argument not allowed for");
        else if (o->kind == SIM_O_VEC) say(c, "Vector operand is not allowed for");
        else if (right_count && (o->kind == SIM_O_MEM || (o->kind == SIM_O_SYM && o->var)))
            px_error(c->px, in->line, "Argument %u of instruction '%s': must be register", i,
                    name_of(c));
        else if (right_count && !i && (o->kind == SIM_O_IMM || o->kind == SIM_O_SYM))
            say(c, "Result register required for");
        else continue;
        return;
    }
    const struct sim_operand *vector = c->vec && is(c, "ld|st") && in->n == 2
            ? &in->opd[is(c, "st")]
            : NULL;
    if (vector && (vector->kind != SIM_O_VEC || vector->n != c->vec))
        say(c, "Argument vector size mismatch for");
    else say(c, "Arguments mismatch for");
}

/* Sorts the modifiers into types and others; false if ptxas knows one of them in no instruction. */
static bool sort_modifiers(struct checked *c, struct px_name *const *names) {
    bool known = true;
    for (unsigned i = 0; i < c->in->nmods; i++) {
        if (!names[i]->mod &&
                !(names[i]->mod = find_modifier(names[i]->text, names[i]->len, false)))
            names[i]->mod = -1;
        short id = names[i]->mod;
        const struct modifier *m = &modifiers[id > 0 ? id : 0];
        if (id < 0) {
            if (c->px->image->version <= TABLE_VERSION)
                px_error(c->px, c->in->line, "Unknown modifier '.%s'", c->in->mods[i]);
            known = false;
        } else if (m->type) {
            if (c->ntypes < sizeof c->type / sizeof *c->type)
                c->type[c->ntypes] = (enum sim_type)(m->type - 1);
            c->types[c->ntypes++] = id;
        } else {
            c->mods[c->nmods++] = id;
            if (listed(m->text, m->len, "L2::cache_hint")) c->has_policy = true;
            if (listed(m->text, m->len, "v2|v4|v8")) c->vec = (unsigned)(m->text[1] - '0');
        }
    }
    if (!c->ntypes) c->type[0] = SIM_B32;
    return known;
}

/* Keeps in the instruction what matched. */
static void keep_match(
        const struct checked *c, struct sim_instr *in, size_t form, struct px_name *const *names) {
    const struct compiled *f = &compiled[form];
    in->form = &forms[form];
    in->ntypes = c->ntypes < SIM_MAX_TYPES ? c->ntypes : SIM_MAX_TYPES;
    memcpy(in->type, c->type, sizeof in->type);
    for (unsigned i = 0; i < in->nmods; i++) {
        const struct modifier *m = &modifiers[names[i]->mod];
        unsigned g = 0;
        if (!f->wild && !m->type)
            while (g < f->ngroups && !in_group(&groups[f->first_group + g], names[i]->mod)) g++;
        in->group[i] = (unsigned char)(m->format ? SIM_MOD_TYPE - 1 : m->type ? SIM_MOD_TYPE : g);
    }
}

/* In text that is newer than the table, what is not in it may be right. */
static bool newer(struct px *px, const struct sim_instr *in) {
    const unsigned version = px->image->version;
    if (version <= TABLE_VERSION) return false;
    char text[160];
    size_t n = (size_t)snprintf(text, sizeof text, "%.60s", in->op);
    for (unsigned k = 0; k < in->nmods && n < sizeof text; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, ".%.60s", in->mods[k]);
    px_error(px, in->line,
            "Instruction '%s' of PTX ISA %u.%u is not supported by this CPU device, which has "
            "those of %u.%u",
            text, version / 10, version % 10, TABLE_VERSION / 10, TABLE_VERSION % 10);
    return true;
}

void px_check(
        struct px *px, struct sim_instr *in, struct px_name *op, struct px_name *const *names) {
    enum { nforms = sizeof forms / sizeof *forms };
    char name[160] = "";
    struct checked c = { .px = px, .in = in, .name = name };
    int best = 0;
    size_t match = 0;
    short odd = 0;
    const struct group *missing = NULL;

    pthread_once(&once, compile);
    if (!op->op) {
        op->op = -1;
        for (size_t i = 0; i < nforms && op->op < 0; i++)
            if (!strcmp(forms[i].op, op->text)) op->op = (short)(i + 1);
    }
    if (op->op < 0) {
        if (!newer(px, in))
            px_error(px, in->line, "Not a name of any known instruction: '%s'", in->op);
        return;
    }
    bool known = sort_modifiers(&c, names);
    size_t first = (size_t)op->op - 1;
    for (size_t i = first; i < nforms && best < 4 && (i == first || !strcmp(forms[i].op, op->text));
            i++) {
        short o;
        const struct group *m;
        int got = try_form(&c, i, &o, &m);
        if (got > best || (got == best && got == 2 && odd && !o)) {
            best = got;
            match = i;
            odd = o;
            missing = m;
        }
    }
    if (best < 4 && newer(px, in)) return;
    if (best == 1)
        px_error(px, in->line, "Unexpected instruction types specified for '%s'", name_of(&c));
    if (best == 1 || (best < 4 && !known)) return;
    if (best == 2 && odd) odd_modifier(&c, &modifiers[odd]);
    if (best == 2 && !odd) missing_modifier(&c, missing);
    if (best == 3) wrong_operands(&c, forms[first].args);
    if (best < 4) return;
    if (known) keep_match(&c, in, match, names);
    check_features(&c);
    check_details(&c);
    if (is(&c, "call")) check_call(&c);
    for (unsigned i = 0; i < in->n; i++)
        if (in->opd[i].kind == SIM_O_MEM) check_address(&c, &in->opd[i]);
}
