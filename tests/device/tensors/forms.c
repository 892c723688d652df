/* forms.c - the forms, and the module of each. */
#include "tensors.h"
#include <stdarg.h>

/* {a|b}: one of them. Behind a blank: the selector of a sparse form. */
static const char *const patterns[] = {
    "mma.sync.aligned.m8n8k4.{row|col}.{row|col}.f16.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.{row|col}.{row|col}.f32.f16.f16.{f16|f32}",
    "mma.sync.aligned.{m16n8k8|m16n8k16}.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.{m16n8k8|m16n8k16}.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.{m16n8k8|m16n8k16}.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.{m16n8k4|m16n8k8}.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.{m16n8k16|m16n8k32}.row.col.f16.{e4m3|e5m2}.{e4m3|e5m2}.f16",
    "mma.sync.aligned.{m16n8k16|m16n8k32}.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32",
    "mma.sync.aligned.{m8n8k4|m16n8k4|m16n8k8|m16n8k16}.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.{m16n8k4|m8n8k4}.row.col.{rz|rm|rp}.f64.f64.f64.f64",
    "mma.sync.aligned.{m8n8k16|m16n8k16|m16n8k32}.row.col{|.satfinite}.s32.{s8|u8}.{s8|u8}.s32",
    "mma.sync.aligned.{m8n8k32|m16n8k32|m16n8k64}.row.col{|.satfinite}.s32.{s4|u4}.{s4|u4}.s32",
    "mma.sync.aligned.{m8n8k128|m16n8k128|m16n8k256}.row.col.s32.b1.b1.s32.{xor|and}.popc",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k16.row.col.{f16.f16.f16.f16|f32.f16.f16.f32|"
    "f32.bf16.bf16.f32} {0|1|2|3}",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k32.row.col.{f16.f16.f16.f16|f32.f16.f16.f32|"
    "f32.bf16.bf16.f32} {0|1}",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {0|1|2|3}",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {0|1}",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k64.row.col.f32.{e4m3|e5m2}.{e4m3|e5m2}.f32 0",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k32.row.col{|.satfinite}.s32.{s8|u8}.{s8|u8}.s32"
    " {0|1}",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k64.row.col{|.satfinite}.s32.{s8|u8}.{s8|u8}.s32"
    " 0",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k64.row.col{|.satfinite}.s32.{s4|u4}.{s4|u4}.s32"
    " {0|1}",
    "mma.sp{|::ordered_metadata}.sync.aligned.m16n8k128.row.col{|.satfinite}.s32.{s4|u4}.{s4|u4}"
    ".s32 0",
    "wmma.mma.sync.aligned.{row|col}.{row|col}.m16n16k16.{f16|f32}.{f16|f32}",
    "wmma.mma.sync.aligned.row.col.{m8n32k16|m32n8k16}.{f16|f32}.{f16|f32}",
    "wmma.mma.sync.aligned.{row|col}.{row|col}.m16n16k16.s32.{s8.s8|u8.u8}.s32",
    "wmma.mma.sync.aligned.row.col.{m8n32k16|m32n8k16}.s32.{s8.s8|u8.u8}.s32{|.satfinite}",
    "wmma.mma.sync.aligned.{row|col}.{row|col}.m16n16k16.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.row.col.{m8n32k16|m32n8k16}.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.{row|col}.{row|col}.m16n16k8.f32.tf32.tf32.f32",
    "wmma.mma.sync.aligned.{row|col}.{row|col}.m8n8k4.f64.f64.f64.f64",
    "wmma.mma.sync.aligned.row.col.m8n8k4.{rz|rm|rp}.f64.f64.f64.f64",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.{s4.s4|u4.u4}.s32{|.satfinite}",
    "wmma.mma.{xor|and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
    "wmma.load.{a|b}.sync.aligned.{row|col}.{m16n16k16|m8n32k16|m32n8k16}.shared.{f16|bf16|s8|u8}",
    "wmma.load.{a|b}.sync.aligned.{row|col}.m16n16k8.shared.tf32",
    "wmma.load.{a|b}.sync.aligned.{row|col}.m8n8k4.shared.f64",
    "wmma.load.a.sync.aligned.row.{m8n8k32.shared.s4|m8n8k32.shared.u4|m8n8k128.shared.b1}",
    "wmma.load.b.sync.aligned.col.{m8n8k32.shared.s4|m8n8k32.shared.u4|m8n8k128.shared.b1}",
    "wmma.load.c.sync.aligned.{row|col}.{m16n16k16|m8n32k16|m32n8k16}.shared.{f16|f32|s32}",
    "wmma.load.c.sync.aligned.{row|col}.m16n16k8.shared.f32",
    "wmma.load.c.sync.aligned.{row|col}.m8n8k4.shared.f64",
    "wmma.load.c.sync.aligned.{row|col}.{m8n8k32|m8n8k128}.shared.s32",
    "wmma.store.d.sync.aligned.{row|col}.{m16n16k16|m8n32k16|m32n8k16}.shared.{f16|f32|s32}",
    "wmma.store.d.sync.aligned.{row|col}.m16n16k8.shared.f32",
    "wmma.store.d.sync.aligned.{row|col}.m8n8k4.shared.f64",
    "wmma.store.d.sync.aligned.{row|col}.{m8n8k32|m8n8k128}.shared.s32",
    "ldmatrix.sync.aligned.m8n8.{x1|x2|x4}{|.trans}.shared.b16",
    "stmatrix.sync.aligned.m8n8.{x1|x2|x4}{|.trans}.shared.b16",
    "movmatrix.sync.aligned.m8n8.trans.b16",
};

static char names[TSR_FORMS][120];
static unsigned count;

static void expand(const char *done, const char *rest) {
    const size_t before = strcspn(rest, "{");
    char text[240];
    if (!rest[before]) {
        if (count < TSR_FORMS) snprintf(names[count++], sizeof *names, "%s%s", done, rest);
        return;
    }
    const char *after = strchr(rest, '}') + 1;
    for (const char *choice = rest + before + 1;;) {
        const size_t n = strcspn(choice, "|}");
        snprintf(text, sizeof text, "%s%.*s%.*s", done, (int)before, rest, (int)n, choice);
        expand(text, after);
        if (choice[n] == '}') return;
        choice += n + 1;
    }
}

unsigned tsr_count(void) {
    if (count) return count;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) expand("", patterns[p]);
    return count;
}

const char *tsr_name(unsigned number) { return number < tsr_count() ? names[number] : ""; }

/* ---- operands */

static const struct {
    const char *name;
    unsigned bits;
} types[] = { { "f16", 16 }, { "bf16", 16 }, { "tf32", 32 }, { "f32", 32 }, { "f64", 64 },
    { "e4m3", 8 }, { "e5m2", 8 }, { "s8", 8 }, { "u8", 8 }, { "s4", 4 }, { "u4", 4 }, { "b1", 1 },
    { "s32", 32 }, { "b16", 16 } };

static bool set_type(struct tsr_operand *o, const char *name, size_t n) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (strlen(types[k].name) == n && !memcmp(types[k].name, name, n)) {
            memcpy(o->type, name, n);
            o->type[n] = 0;
            o->bits = types[k].bits;
            return true;
        }
    return false;
}

/* The types of the name, in its order. */
static unsigned find_types(const char *name, struct tsr_operand found[4]) {
    unsigned n = 0;
    memset(found, 0, 4 * sizeof *found);
    while (*name && *name != ' ' && n < 4) {
        const size_t length = strcspn(name, ". ");
        if (set_type(&found[n], name, length)) n++;
        name += length;
        if (*name == '.') name++;
    }
    return n;
}

static void find_shape(struct tsr_form *f) {
    const char *s = f->name;
    while ((s = strchr(s, '.')) && sscanf(s, ".m%un%uk%u", &f->m, &f->n, &f->k) != 3) s++;
}

static bool has(const struct tsr_form *f, const char *word) { return strstr(f->name, word); }

static unsigned words_of(const struct tsr_operand *o, unsigned elements) {
    return elements * o->bits / 1024;
}

/* Of wmma, a lane has each f16 of a and b twice. */
static unsigned factor_words(const struct tsr_form *f, const struct tsr_operand *o, unsigned n) {
    return !strncmp(f->name, "wmma", 4) && !strcmp(o->type, "f16") ? 8 : words_of(o, n);
}

static void place(struct tsr_form *f) {
    f->b.first = f->a.first + f->a.words;
    f->c.first = f->b.first + f->b.words;
    f->e.first = f->c.first + f->c.words;
    f->out = f->d.words;
}

static void set_mma(struct tsr_form *f) {
    struct tsr_operand t[4];
    const unsigned n = find_types(f->name, t);
    const bool four = has(f, "m8n8k4") && !has(f, "f64");
    f->d = t[0];
    f->c = t[n - 1];
    if (n == 4) {
        f->a = t[1];
        f->b = t[2];
    } else {
        set_type(&f->a, "f16", 3);
        set_type(&f->b, "f16", 3);
    }
    const unsigned m = four ? 4 * f->m : f->m, columns = four ? 4 * f->n : f->n;
    f->a.words = factor_words(f, &f->a, m * f->k / (f->sparse ? 2 : 1));
    f->b.words = factor_words(f, &f->b, f->k * columns);
    f->c.words = words_of(&f->c, m * f->n);
    f->d.words = words_of(&f->d, m * f->n);
    set_type(&f->e, "b16", 3);
    f->e.words = f->sparse;
    place(f);
}

/* Rows and columns of the matrix in memory, for wmma's loads and stores. */
static unsigned elements_of(const struct tsr_form *f) {
    return has(f, ".a.") ? f->m * f->k : has(f, ".b.") ? f->k * f->n : f->m * f->n;
}
static unsigned stride_of(const struct tsr_form *f, unsigned bits) {
    const unsigned rows = has(f, ".b.") ? f->k : f->m, columns = has(f, ".a.") ? f->k : f->n;
    return (has(f, ".row") ? columns : rows) + 128 / bits;
}

static void set_memory(struct tsr_form *f) {
    struct tsr_operand t[4];
    find_types(f->name, t);
    t[0].first = 0;
    t[0].words = f->addressed                ? (has(f, ".x4")                  ? 4
                                                               : has(f, ".x2") ? 2
                                                                               : 1)
            : has(f, ".c.") || has(f, ".d.") ? words_of(&t[0], elements_of(f))
                                             : factor_words(f, &t[0], elements_of(f));
    f->c = f->d = t[0];
    if (f->addressed) f->c.first = TSR_MATRICES;
    f->out = f->kind == TSR_LOAD ? f->d.words : TSR_MEMORY;
}

/* ---- the module */

static void add(struct tsr_form *f, const char *format, ...) {
    const size_t n = strlen(f->text);
    va_list args;
    va_start(args, format);
    vsnprintf(f->text + n, sizeof f->text - n, format, args);
    va_end(args);
}

static char register_of(const struct tsr_operand *o) {
    return !strcmp(o->type, "f64") ? 'g' : !strcmp(o->type, "f32") ? 'f' : 'r';
}

/* The registers of an operand: their names end with those of the first word in the input. */
static void add_list(struct tsr_form *f, const char *prefix, const struct tsr_operand *o) {
    const char r = register_of(o);
    const bool single = has(f, "movmatrix");
    add(f, single ? "" : "{");
    for (unsigned k = 0; k < o->words; k += r == 'g' ? 2 : 1)
        add(f, "%s%%%s%c%u", k ? ", " : "", prefix, r, o->first + k);
    add(f, single ? "" : "}");
}

static void add_loads(struct tsr_form *f, const struct tsr_operand *o) {
    const char r = register_of(o);
    for (unsigned k = 0; k < o->words; k += r == 'g' ? 2 : 1)
        add(f, "    ld.global.%s %%%c%u, [%%in + %u];\n",
                r == 'g'           ? "f64"
                        : r == 'f' ? "f32"
                                   : "b32",
                r, o->first + k, 4 * (o->first + k));
}

static void add_stores(struct tsr_form *f, const struct tsr_operand *o) {
    const char r = register_of(o);
    for (unsigned k = 0; k < o->words; k += r == 'g' ? 2 : 1)
        add(f, "    st.global.%s [%%out + %u], %%d%c%u;\n",
                r == 'g'           ? "f64"
                        : r == 'f' ? "f32"
                                   : "b32",
                4 * k, r, o->first + k);
}

static void add_instruction(struct tsr_form *f) {
    add(f, "    %.*s ", (int)strcspn(f->name, " "), f->name);
    if (f->kind == TSR_STORE) add(f, "[%%at], ");
    add_list(f, f->kind == TSR_STORE ? "" : "d", f->kind == TSR_STORE ? &f->c : &f->d);
    if (f->kind == TSR_LOAD) add(f, ", [%%at]");
    if (f->kind != TSR_MMA && !f->addressed) add(f, ", %u", stride_of(f, f->d.bits));
    if (f->kind == TSR_MMA) {
        const struct tsr_operand *const list[] = { &f->a, &f->b, &f->c };
        for (unsigned k = 0; k < 3; k++)
            if (list[k]->words) {
                add(f, ", ");
                add_list(f, "", list[k]);
            }
        if (f->sparse) add(f, ", %%r%u, %s", f->e.first, strchr(f->name, ' ') + 1);
    }
    add(f, ";\n");
}

static void make_text(struct tsr_form *f) {
    add(f,
            ".version 8.7\n.target sm_90\n.address_size 64\n"
            ".visible .entry k(.param .u64 from, .param .u64 to) {\n"
            "    .shared .align 128 .b8 memory[2048];\n"
            "    .reg .u64 %%in, %%out;\n    .reg .u32 %%block, %%lane, %%index, %%save, %%at;\n"
            "    .reg .b32 %%r<40>, %%dr<40>;\n    .reg .f32 %%f<40>, %%df<40>;\n"
            "    .reg .f64 %%g<40>, %%dg<40>;\n"
            "    ld.param.u64 %%in, [from];\n    ld.param.u64 %%out, [to];\n"
            "    mov.u32 %%block, %%ctaid.x;\n    mov.u32 %%lane, %%tid.x;\n"
            "    mad.lo.u32 %%index, %%block, 32, %%lane;\n"
            "    mad.wide.u32 %%in, %%index, %u, %%in;\n    mad.wide.u32 %%out, %%index, %u, "
            "%%out;\n"
            "    mov.u32 %%at, memory;\n    mad.lo.u32 %%save, %%lane, %u, %%at;\n",
            TSR_IN * 4, f->out * 4, TSR_MEMORY * 4);
    for (unsigned k = 0; f->kind != TSR_MMA && k < TSR_MEMORY; k++)
        if (f->kind == TSR_LOAD)
            add(f,
                    "    ld.global.b32 %%r%u, [%%in + %u];\n    st.shared.b32 [%%save + %u], "
                    "%%r%u;\n",
                    k, 4 * k, 4 * k, k);
        else add(f, "    st.shared.b32 [%%save + %u], 0;\n", 4 * k);
    if (f->addressed)
        add(f, "    ld.global.b32 %%r38, [%%in + %u];\n    add.u32 %%at, %%at, %%r38;\n",
                4 * TSR_ADDRESS);
    add_loads(f, &f->a);
    add_loads(f, &f->b);
    if (f->kind != TSR_LOAD) add_loads(f, &f->c);
    add_loads(f, &f->e);
    add(f, "    bar.sync 0;\n");
    add_instruction(f);
    add(f, "    bar.sync 0;\n");
    if (f->kind != TSR_STORE) add_stores(f, &f->d);
    for (unsigned k = 0; f->kind == TSR_STORE && k < TSR_MEMORY; k++)
        add(f, "    ld.shared.b32 %%r%u, [%%save + %u];\n    st.global.b32 [%%out + %u], %%r%u;\n",
                k, 4 * k, 4 * k, k);
    add(f, "    ret;\n}\n");
}

void tsr_form(struct tsr_form *f, unsigned number) {
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", tsr_name(number));
    f->addressed = has(f, "ldmatrix") || has(f, "stmatrix");
    f->kind = has(f, ".load") || has(f, "ldmatrix")  ? TSR_LOAD
            : has(f, ".store") || has(f, "stmatrix") ? TSR_STORE
                                                     : TSR_MMA;
    f->sparse = has(f, "mma.sp");
    find_shape(f);
    if (has(f, "movmatrix")) {
        set_type(&f->a, "b16", 3);
        f->a.words = 1;
        f->d = f->a;
        place(f);
    } else if (f->kind == TSR_MMA) set_mma(f);
    else set_memory(f);
    make_text(f);
}
