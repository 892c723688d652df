/* matrix.c - which matrices an instruction has, and who has their elements. */
#include "matrix.h"

static const struct {
    const char *name;
    unsigned bits;
} elements[] = { [SIM_E_NONE] = { "", 32 },
    [SIM_E_F16] = { "f16", 16 },
    [SIM_E_BF16] = { "bf16", 16 },
    [SIM_E_TF32] = { "tf32", 32 },
    [SIM_E_E4M3] = { "e4m3", 8 },
    [SIM_E_E5M2] = { "e5m2", 8 },
    [SIM_E_F32] = { "f32", 32 },
    [SIM_E_F64] = { "f64", 64 },
    [SIM_E_U8] = { "u8", 8 },
    [SIM_E_S8] = { "s8", 8 },
    [SIM_E_U4] = { "u4", 4 },
    [SIM_E_S4] = { "s4", 4 },
    [SIM_E_B1] = { "b1", 32 },
    [SIM_E_S32] = { "s32", 32 } };

static enum sim_element element_named(const char *name) {
    unsigned k = sizeof elements / sizeof *elements;
    while (--k && strcmp(elements[k].name, name)) {}
    return (enum sim_element)k;
}

static enum sim_matrix matrix_named(char letter) {
    return letter == 'a'    ? SIM_MATRIX_A
            : letter == 'b' ? SIM_MATRIX_B
            : letter == 'c' ? SIM_MATRIX_C
                            : SIM_MATRIX_D;
}

bool sim_mma_read(struct sim_mma *x, const char *op, const char *const *mods, unsigned n) {
    struct sim_products *p = &x->how;
    enum sim_element types[4] = { SIM_E_NONE, SIM_E_NONE, SIM_E_NONE, SIM_E_NONE };
    unsigned ntypes = 0, layouts = 0;
    memset(x, 0, sizeof *x);
    p->wmma = !strcmp(op, "wmma");
    for (unsigned k = 0; k < n; k++) {
        const char *m = mods[k];
        const enum sim_element type = element_named(m);
        const bool layout = !strcmp(m, "row") || !strcmp(m, "col");
        if (type && ntypes < 4) types[ntypes++] = type;
        else if (layout && layouts++) x->b_row = m[0] == 'r';
        else if (layout) x->a_col = m[0] == 'c';
        else if (m[0] == 'm' && m[1] >= '0' && m[1] <= '9')
            sscanf(m, "m%un%uk%u", &p->m, &p->n, &p->k);
        else if (m[0] == 'x' && m[1] >= '0' && m[1] <= '9') x->registers = (unsigned)(m[1] - '0');
        else if (m[0] >= 'a' && m[0] <= 'd' && !m[1]) x->which = matrix_named(m[0]);
        else if (m[0] == 'r' && strlen(m) == 2)
            p->round = m[1] == 'n' ? 0 : m[1] == 'z' ? 1 : m[1] == 'm' ? 2 : 3;
        p->sparse |= !strncmp(m, "sp", 2);
        p->satfinite |= !strcmp(m, "satfinite");
        p->xor |= !strcmp(m, "xor");
    }
    p->d = types[0];
    p->c = ntypes ? types[ntypes - 1] : SIM_E_NONE;
    p->a = ntypes == 4 ? types[1] : ntypes == 2 ? SIM_E_F16 : types[0];
    p->b = ntypes == 4 ? types[2] : p->a;
    x->four = !p->wmma && p->m == 8 && p->k == 4 && p->a == SIM_E_F16;
    return p->k || x->registers;
}

/* 2 bits for each element of A, 4 of tf32, 2 for a pair of s4 or u4; 32 bits a lane. */
unsigned sim_metadata_lanes(const struct sim_products *p) {
    const unsigned bits = elements[p->a].bits;
    return (bits == 32 ? 2 * p->k : bits == 4 ? p->k / 2 : p->k) / 16;
}

/* What each bit of a number gives. */
struct bits {
    uint16_t at[8];
    unsigned n;
};
static void add_row(struct bits *b, unsigned v) { b->at[b->n++] = (uint16_t)(v << 8); }
static void add_column(struct bits *b, unsigned v) { b->at[b->n++] = (uint16_t)v; }

static void spread(const struct bits *b, uint16_t *to) {
    for (unsigned k = 0; k < 1u << b->n; k++)
        for (unsigned j = 0; j < b->n; j++)
            if (k >> j & 1) to[k] = (uint16_t)(to[k] + b->at[j]);
}

/* m8n8k4 of f16: lanes with the same bits 2 and 3 have one of the four. */
static void share_four(const struct sim_mma *x, enum sim_matrix which, enum sim_element type,
        struct bits *lane, struct bits *element) {
    const bool is_a = which == SIM_MATRIX_A, is_b = which == SIM_MATRIX_B, wide = type == SIM_E_F32;
    void (*const outer)(struct bits *, unsigned) = is_b ? add_column : add_row;
    /* along which way a lane's elements lie */
    const bool down = is_a ? x->a_col : is_b && !x->b_row;
    add_row(lane, 1);
    (wide ? add_column : add_row)(lane, 2);
    if (down) {
        lane->n = 0;
        add_column(lane, 1);
        add_column(lane, 2);
    }
    outer(lane, 8);
    outer(lane, 16);
    outer(lane, 4);
    (down ? add_row : add_column)(element, 1);
    (down || wide ? add_row : add_column)(element, 2);
    if (!is_a && !is_b) add_column(element, 4);
}

/* All others. Inner: along k, for C and D along a row; outer: the other way. Of m8n32k16 the
   matrices are those of m32n8k16, transposed and in each other's place. */
static void share(const struct sim_products *p, enum sim_matrix which, unsigned bits,
        struct bits *lane, struct bits *element) {
    const bool is_b = which == SIM_MATRIX_B, sums = which == SIM_MATRIX_C || which == SIM_MATRIX_D,
               turned = p->n == 32, tall = sums || turned == is_b;
    void (*const inner)(struct bits *, unsigned) = sums ? (turned ? add_row : add_column)
            : is_b                                      ? add_row
                                                        : add_column;
    void (*const outer)(struct bits *, unsigned) = inner == add_row ? add_column : add_row;
    const unsigned packed = sums ? 2
            : bits < 32          ? 32 / bits
                                 : 1,
                   m = turned ? p->n : p->m, n = turned ? p->m : p->n,
                   k = (p->a == SIM_E_B1 ? p->k / 32 : p->k) /
            (p->sparse && which == SIM_MATRIX_A ? 2 : 1),
                   inside = sums ? n : k, outside = tall ? m : n;
    for (unsigned v = 1; v < packed; v *= 2) inner(element, v);
    inner(lane, packed);
    inner(lane, 2 * packed);
    for (unsigned v = 1; v < 8; v *= 2) outer(lane, v);
    if (tall && m > 8) outer(element, 8);
    for (unsigned v = 4 * packed; v < inside; v *= 2) inner(element, v);
    if (outside == (tall ? 32 : 16)) outer(element, outside / 2);
}

struct sim_fragment sim_fragment_of(const struct sim_mma *x, enum sim_matrix which) {
    const struct sim_products *p = &x->how;
    struct sim_fragment f = { .type = which == SIM_MATRIX_A ? p->a
                : which == SIM_MATRIX_B                     ? p->b
                : which == SIM_MATRIX_C                     ? p->c
                                                            : p->d };
    struct bits lane = { { 0 }, 0 }, element = { { 0 }, 0 };
    f.bits = elements[f.type].bits;
    if (x->registers) {
        f.registers = f.n = x->registers;
        return f;
    }
    if (x->four) share_four(x, which, f.type, &lane, &element);
    else share(p, which, f.bits, &lane, &element);
    spread(&lane, f.lane);
    spread(&element, f.element);
    f.n = 1u << element.n;
    f.registers = f.bits == 64 ? f.n : f.n * f.bits / 32;
    if (p->wmma && f.type == SIM_E_F16 && (which == SIM_MATRIX_A || which == SIM_MATRIX_B))
        f.registers = 8;
    return f;
}
