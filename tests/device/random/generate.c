/* generate.c - the straight-line programs: each instruction's operands, by the letters of the
   table, and the slots of its results.

   A form's name decides which programs contain it (COPIES of them), so that a new row of the table
   changes only those. There are four groups of programs: for .target sm_70, sm_80, sm_90, and the
   approximate functions. An approximate result is never an operand. */
#include "emit.h"
#include <stdarg.h>

enum {
    COPIES = 5,
    APPROX_COPIES = 2,
    CELL = 64 /* bytes of scratch memory that each thread has in each space */
};
static const struct {
    unsigned first, n, sm, version;
} groups[4] = {
    { 0, 1100, 70, 70 },
    { 1100, 150, 80, 75 },
    { 1250, 238, 90, 86 },
    { 1488, 12, 90, 80 },
};

/* ---- names and sizes */

unsigned emit_size(const char *type) {
    static const struct {
        const char *name;
        unsigned size;
    } odd[] = {
        { "pred", 0 },
        { "f16x2", 4 },
        { "bf16x2", 4 },
        { "u16x2", 4 },
        { "s16x2", 4 },
        { "tf32", 4 },
        { "f32x2", 8 },
        { "e4m3x2", 2 },
        { "e5m2x2", 2 },
        { "e2m3x2", 2 },
        { "e3m2x2", 2 },
        { "ue8m0x2", 2 },
        { "e2m1x2", 1 },
        { "bf16", 2 },
        { "e4m3x4", 4 },
        { "e5m2x4", 4 },
        { "e2m3x4", 4 },
        { "e3m2x4", 4 },
        { "e2m1x4", 2 },
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (!strcmp(type, odd[i].name)) return odd[i].size;
    return (unsigned)strtoul(type + strcspn(type, "0123456789"), NULL, 10) / 8;
}

enum rnd_kind emit_kind(const char *type) {
    return !strcmp(type, "f16")       ? RND_F16
            : !strcmp(type, "bf16")   ? RND_BF16
            : !strcmp(type, "f32")    ? RND_F32
            : !strcmp(type, "f64")    ? RND_F64
            : !strcmp(type, "f16x2")  ? RND_F16X2
            : !strcmp(type, "bf16x2") ? RND_BF16X2
                                      : RND_INT;
}

/* ---- writing */

void emit(struct emit *e, const char *format, ...) {
    struct rnd_program *p = e->p;
    for (;;) {
        va_list args;
        va_start(args, format);
        const int n = vsnprintf(p->text + p->length, p->room - p->length, format, args);
        va_end(args);
        if (n < 0) abort();
        if (p->length + (size_t)n + 2 <= p->room) {
            p->length += (size_t)n;
            break;
        }
        if (!(p->text = realloc(p->text, p->room = 2 * p->room + 16384))) abort();
    }
    p->text[p->length++] = '\n';
    p->text[p->length] = 0;
}

unsigned emit_below(struct emit *e, unsigned n) { return rnd_below(&e->rng, n); }

static struct value *new_value(struct emit *e, unsigned size) {
    static const char letter[4] = { 'p', 'h', 'r', 'd' };
    const unsigned c = size == 0 ? 0 : size <= 2 ? 1 : size == 4 ? 2 : 3;
    if (e->nvalues == MAX_VALUES) {
        fprintf(stderr, "generate.c: too many registers\n");
        exit(2);
    }
    struct value *v = &e->pool[e->nvalues++];
    snprintf(v->name, sizeof v->name, "%%%c%u", letter[c], e->nregs[c]++);
    v->size = size && size < 2 ? 2 : size;
    v->kind = RND_INT;
    v->from = (struct rnd_source){ 'n', 0 }; /* not usable as an operand yet */
    return v;
}

const char *emit_new(struct emit *e, unsigned size) { return new_value(e, size)->name; }

static void note(struct emit *e, struct rnd_source s) {
    if (e->nsources < RND_MAX_SOURCES) e->source[e->nsources++] = s;
}

static unsigned add_input(struct rnd_program *p, enum rnd_kind kind, unsigned size) {
    if (p->ninputs == RND_MAX_INPUTS) {
        fprintf(stderr, "generate.c: too many inputs\n");
        exit(2);
    }
    p->input[p->ninputs] = (struct rnd_input){ kind, size, p->in_bytes };
    p->in_bytes += (size * p->threads + 31) / 32 * 32;
    return p->ninputs++;
}

const char *emit_input(struct emit *e, enum rnd_kind kind, unsigned size) {
    struct value *v = new_value(e, size);
    const unsigned k = add_input(e->p, kind, v->size);
    emit(e, "\tld.global.b%u %s, [%%i%u+%u];", 8 * v->size, v->name, v->size,
            e->p->input[k].offset);
    v->kind = kind;
    v->from = (struct rnd_source){ 'i', k };
    note(e, v->from);
    return v->name;
}

static const char *constant(struct emit *e, enum rnd_kind kind, unsigned size) {
    static char text[4][40];
    static unsigned at;
    char *t = text[at++ % 4];
    if (kind == RND_F32 || kind == RND_F64 || kind == RND_NUMBER64) {
        static const double nice[] = { 0, 1, -1, 0.5, 3, -2.5, 1e10, 255, -0.0, 65536 };
        const double v = nice[emit_below(e, 10)];
        const float f = (float)v;
        uint32_t b32;
        uint64_t b64;
        memcpy(&b32, &f, 4);
        memcpy(&b64, &v, 8);
        if (kind == RND_F32) snprintf(t, sizeof *text, "0f%08lX", (unsigned long)b32);
        else snprintf(t, sizeof *text, "0d%016llX", (unsigned long long)b64);
    } else {
        const uint64_t v = rnd_value(&e->rng, kind, size);
        if (size == 8 || v < 1000) snprintf(t, sizeof *text, "%llu", (unsigned long long)v);
        else snprintf(t, sizeof *text, "0x%llx", (unsigned long long)v);
    }
    return t;
}

const char *emit_source(struct emit *e, enum rnd_kind kind, unsigned size, bool constants) {
    const unsigned how = emit_below(e, 20);
    const bool any = kind != RND_LANE && kind != RND_SMALL && kind != RND_ANGLE &&
            kind != RND_NUMBER64;
    if (how < 2 && constants && kind != RND_F16 && kind != RND_BF16 && kind != RND_F16X2 &&
            kind != RND_BF16X2 && kind != RND_ANGLE)
        return constant(e, kind, size);
    /* Of this kind; of another kind only loaded values: ptxas (13.0) treats a result of cvt to f16
       or f32 that is used as an integer operand as the number itself. */
    for (int tries = 0; how < 12 && tries < 12; tries++) {
        if (!e->nvalues) break;
        const struct value *v = &e->pool[emit_below(e, e->nvalues)];
        if (v->from.kind == 'n' || v->size != (size < 2 ? 2 : size) ||
                (v->kind != kind && !(any && how < 3 && v->from.kind == 'i')))
            continue;
        note(e, v->from);
        return v->name;
    }
    return emit_input(e, kind, size);
}

const char *emit_predicate(struct emit *e) {
    for (int tries = 0; tries < 8 && e->nvalues && emit_below(e, 3); tries++) {
        const struct value *v = &e->pool[emit_below(e, e->nvalues)];
        if (v->size || v->from.kind == 'n') continue;
        note(e, v->from);
        return v->name;
    }
    char bits[12];
    snprintf(bits, sizeof bits, "%s", emit_input(e, RND_INT, 4));
    const struct rnd_source from = e->pool[e->nvalues - 1].from;
    struct value *v = new_value(e, 0);
    const char *t = emit_new(e, 4);
    emit(e, "\tand.b32 %s, %s, %u;", t, bits, 1u << emit_below(e, 32));
    emit(e, "\tsetp.ne.u32 %s, %s, 0;", v->name, t);
    v->from = from;
    return v->name;
}

void emit_slot(struct emit *e, const struct rnd_form *form, const char *text, const char *reg,
        unsigned size, enum rnd_kind kind) {
    struct rnd_program *p = e->p;
    const bool approx = form && (rnd_has(form, "approx|full"));
    if (p->nslots == RND_MAX_SLOTS) {
        fprintf(stderr, "generate.c: too many slots\n");
        exit(2);
    }
    struct rnd_slot *s = &p->slot[p->nslots];
    memset(s, 0, sizeof *s);
    snprintf(s->text, sizeof s->text, "%.150s%s%s", text, reg ? "  -> " : "", reg ? reg : "");
    s->form = form;
    s->check = approx ? RND_APPROX : RND_EXACT;
    s->nsources = e->nsources;
    memcpy(s->source, e->source, sizeof s->source);
    s->offset = p->out_bytes;
    if (reg) {
        const char *stored = reg;
        if (size == 0) {
            stored = emit_new(e, 4);
            emit(e, "\tselp.b32 %s, 1, 0, %s;", stored, reg);
        }
        s->size = size == 0 ? 4 : size < 2 ? 2 : size;
        emit(e, "\tst.global.b%u [%%o%u+%u], %s;", 8 * s->size, s->size, s->offset, stored);
        p->out_bytes += (s->size * p->threads + 31) / 32 * 32;
        for (unsigned i = e->nvalues; i-- > 0;)
            if (!strcmp(e->pool[i].name, reg)) {
                e->pool[i].kind = kind;
                e->pool[i].from = approx ? (struct rnd_source){ 'n', 0 }
                                         : (struct rnd_source){ 's', p->nslots };
                break;
            }
    }
    p->nslots++;
}

/* Registers: %i2 %i4 %i8 and %o2 %o4 %o8 are the thread's element 0 of the input and the output by
   element size; %mask: the lanes of its warp. With memory: %ag %as %al %ac, the thread's cell in
   global, shared, local and constant memory, %gs and %gl, their generic addresses, %ai a cell of
   the input, %line a cache line that no thread reads. */
void emit_head(struct emit *e, unsigned sm, unsigned version, bool memory) {
    emit(e, ".version %u.%u\n.target sm_%u\n.address_size 64\n", version / 10, version % 10, sm);
    e->policy = memory && sm >= 80 && version >= 74;
    if (memory) {
        emit(e, ".const .align 16 .b8 table[256] = {");
        for (int i = 0; i < 256; i += 16) {
            char line[120] = "";
            for (int k = 0; k < 16; k++)
                snprintf(line + strlen(line), sizeof line - strlen(line), "%u%s",
                        emit_below(e, 256), i + k < 255 ? "," : "");
            emit(e, "%s", line);
        }
        emit(e, "};");
    }
}

void emit_entry(struct emit *e, bool memory) {
    struct rnd_program *p = e->p;
    emit(e,
            ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 16 .b8 "
            "block[64])\n{");
    emit(e,
            "\t.reg .pred %%p<400>;\n\t.reg .b16 %%h<700>;\n\t.reg .b32 %%r<700>, %%gid, %%t, "
            "%%mask, %%n;");
    emit(e, "\t.reg .b64 %%d<700>, %%i2, %%i4, %%i8, %%o2, %%o4, %%o8;");
    emit(e, "\tmov.u32 %%t, %%tid.x;\n\tmov.u32 %%n, %%ctaid.x;\n\tmad.lo.u32 %%gid, %%n, %u, %%t;",
            p->block);
    emit(e,
            "\tld.param.u64 %%i2, [in];\n\tld.param.u64 %%o2, [out];\n\tcvta.to.global.u64 %%i2, "
            "%%i2;\n"
            "\tcvta.to.global.u64 %%o2, %%o2;");
    for (unsigned size = 8; size >= 2; size /= 2) {
        emit(e,
                "\tmad.wide.u32 %%i%u, %%gid, %u, %%i2;\n"
                "\tmad.wide.u32 %%o%u, %%gid, %u, %%o2;",
                size, size, size, size);
    }
    /* lanes of the warp that are threads of the block: all, or the first few in the last warp */
    emit(e,
            "\tand.b32 %%n, %%t, 0xffffffe0;\n\tsub.u32 %%n, %u, %%n;\n\tmin.u32 %%n, %%n, 32;\n"
            "\tsub.u32 %%n, 32, %%n;\n\tmov.b32 %%mask, 0xffffffff;\n"
            "\tshr.u32 %%mask, %%mask, %%n;",
            p->block);
    if (!memory) return;
    const unsigned cells = add_input(p, RND_INT, 32);
    emit(e, "\t.reg .b32 %%as;\n\t.reg .b64 %%ag, %%al, %%ac, %%ai, %%gs, %%gl, %%pol, %%line;");
    emit(e, "\t.shared .align 16 .b8 cells[%u];\n\t.local .align 16 .b8 mine[%u];", CELL * p->block,
            CELL);
    emit(e,
            "\tld.param.u64 %%line, [out];\n\tcvta.to.global.u64 %%line, %%line;\n"
            "\tmad.wide.u32 %%ag, %%gid, %u, %%line;\n\tadd.u64 %%ag, %%ag, 128;",
            CELL);
    emit(e,
            "\tmov.u32 %%as, cells;\n\tmad.lo.u32 %%as, %%t, %u, %%as;\n\tcvt.u64.u32 %%gs, %%as;\n"
            "\tcvta.shared.u64 %%gs, %%gs;",
            CELL);
    emit(e,
            "\tmov.u64 %%al, mine;\n\tcvta.local.u64 %%gl, %%al;\n\tmov.u64 %%ac, "
            "table;\n\tand.b32 %%n, %%gid, 7;\n"
            "\tmad.wide.u32 %%ac, %%n, 16, %%ac;");
    emit(e,
            "\tld.param.u64 %%ai, [in];\n\tcvta.to.global.u64 %%ai, %%ai;\n\tmad.wide.u32 %%ai, "
            "%%gid, 32, %%ai;");
    emit(e, "\tadd.u64 %%ai, %%ai, %u;", p->input[cells].offset);
    if (e->policy) emit(e, "\tcreatepolicy.fractional.L2::evict_last.b64 %%pol, 1.0;");
    p->out_bytes += 128 + CELL * p->threads; /* a cache line that no thread reads, then the cells */
}

void emit_end(struct emit *e) { emit(e, "\tret;\n}"); }

/* ---- one instruction by its operand letters */

/* Excludes a register as an operand. */
static void forget(struct emit *e, const char *reg) {
    for (unsigned i = 0; i < e->nvalues; i++)
        if (!strcmp(e->pool[i].name, reg)) e->pool[i].from.kind = 'n';
}

struct result {
    char reg[12];
    unsigned size;
    enum rnd_kind kind;
};

static enum rnd_kind count_kind(const struct rnd_form *f, unsigned nth) {
    if (!strcmp(f->op, "fns")) return nth == 0 ? RND_INT : nth == 1 ? RND_LANE : RND_SMALL;
    static const char *const counted[] = { "shl", "shr", "shf", "bfe", "bfi", "bmsk", "szext",
        "shfl" };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (!strcmp(f->op, counted[i])) return RND_COUNT;
    return RND_INT;
}

static unsigned wider(struct emit *e, unsigned size) {
    const unsigned how = emit_below(e, 10);
    while (size < 2 || (size < 8 && how < (size < 4 ? 4 : 3) && emit_below(e, 2))) size *= 2;
    return size;
}

static bool among(const char *op, const char *list) {
    const size_t n = strlen(op);
    for (const char *p = list; (p = strstr(p, op)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

/* One result, or a pair: always of packed halves, never of one half. */
static int results_of(struct emit *e, const struct rnd_form *f, char letter) {
    if (letter != 't' && letter != 'o' && letter != 'O') return 1;
    const bool setp = !strcmp(f->op, "setp");
    if (letter == 't' || (setp && rnd_has(f, "f16x2|bf16x2"))) return 2;
    return setp && rnd_has(f, "f16|bf16") ? 1 : 1 + (int)emit_below(e, 2);
}

/* The letters of forms.h that differ only in what ptxas accepts, and counts among the sources, are
   the same here. */
static char letter_at(const struct rnd_form *f, const char *l) {
    if (strchr("iI", *l)) return 'r';
    if (*l == 'v' ||
            (*l == 'a' && (!strcmp(f->op, "fns") || (!strcmp(f->op, "shfl") && l[-1] == 'a'))))
        return 'u';
    return *l == 'P' ? 'p' : *l == 'j' ? 'a' : *l;
}

/* A part of a video instruction's operand: some elements of a result, any of the sources; or none
   is named. */
static void add_elements(
        struct emit *e, const struct rnd_form *f, char letter, char *operand, size_t size) {
    static const char *const one[] = { "b0", "b1", "b2", "b3", "h0", "h1" };
    static const char *const some[] = { "b0", "b1", "b2", "b3", "b10", "b20", "b30", "b21", "b31",
        "b32", "b210", "b310", "b320", "b321", "b3210" };
    static const char *const halves[] = { "h0", "h1", "h10" };
    const bool four = f->op[strlen(f->op) - 1] == '4';
    char text[8] = "";
    if (letter != 'E' && emit_below(e, 3) == 0) return;
    if (letter == 'J') {
        strcpy(text, four ? "b" : "h");
        for (unsigned k = four ? 4 : 2; k-- > 0;)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u",
                    emit_below(e, four ? 8 : 4));
    } else
        strcpy(text,
                letter != 'K'  ? one[emit_below(e, 6)]
                        : four ? some[emit_below(e, 15)]
                               : halves[emit_below(e, 3)]);
    snprintf(operand + strlen(operand), size - strlen(operand), ".%s", text);
}

/* One instruction. These programs do not test what ptxas computes at compile time, which may differ
   from the GPU's result: so no instruction has the same register twice, two constants, or a
   constant as its only or, for reals, first source; and results of set are not operands. For a
   guarded set, testp, abs or neg, ptxas (13.0) executes parts unguarded, or other instructions than
   without the guard. With two NaNs, ptxas decides which one is the second, whose payload a double
   keeps: so only one source may be a NaN. */
static void by_letters(struct emit *e, const struct rnd_form *f) {
    char text[400] = "", operand[100];
    struct result result[2];
    unsigned nresults = 0, nth = 0, ntexts = 0, nsources = 0;
    bool constants = !among(f->op, "set setp");
    unsigned negatives = emit_below(e, 3); /* vmad: 1 the first source, 2 the last */
    char texts[8][40];
    const bool sync = among(f->op, "shfl vote match redux elect bar barrier"),
               shfl = !strcmp(f->op, "shfl"),
               bar = among(f->op, "bar barrier") && !rnd_has(f, "warp");
    const char *t0 = f->type[0][0] ? f->type[0] : "b32", *t1 = f->type[1];
    /* ptxas requires registers of the exact size; no constants */
    const bool exact = rnd_has(f, "bf16"), halves = rnd_has(f, "u16x2|s16x2");
    const bool one_nan = !strcmp(f->type[0], "f64") &&
            among(f->op, "add sub mul fma mad div min max");
    const unsigned nan_at = emit_below(e, (unsigned)strlen(f->args) - 1);
    const enum rnd_kind angle = among(f->op, "sin cos") ? RND_ANGLE : RND_INT;
    e->nsources = 0;
    const bool guard = !sync && !among(f->op, "activemask set testp abs neg") &&
            emit_below(e, 8) == 0;
    if (guard) {
        const char *p = emit_predicate(e);
        snprintf(text, sizeof text, "@%s%s ", emit_below(e, 2) ? "!" : "", p);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", f->text);
    bool optional = false;
    for (const char *l = f->args; *l; l++) {
        if (*l == '.') {
            optional = true;
            continue;
        }
        const char letter = letter_at(f, l);
        if (optional && !(bar && emit_below(e, 2))) break;
        *operand = 0;
        struct result r = { "", 4, RND_INT };
        bool is_result = true;
        switch (letter) {
        case 'd':
        case 'D':
        case 'w':
        case 'O':
        case 'y':
        case 'z':
            r.size = emit_size(t0);
            r.kind = emit_kind(t0);
            if (letter == 'w') r.size *= 2;
            if (letter == 'D' && r.kind == RND_INT && !exact) r.size = wider(e, r.size);
            break;
        case 'r':
        case 's':
        case 't':
        case 'E':
        case 'K': break;
        case 'q':
        case 'o':
        case 'e': r.size = 0; break;
        default: is_result = false;
        }
        if (is_result) {
            for (int k = 0; k < results_of(e, f, letter); k++) {
                if (k) {
                    r.size = 0;
                    r.kind = RND_INT;
                }
                /* the value that a guarded instruction may leave unchanged is defined */
                snprintf(r.reg, sizeof r.reg, "%s",
                        guard ? r.size ? emit_input(e, r.kind, r.size) : emit_new(e, 0)
                              : emit_new(e, r.size));
                if (guard && !r.size) emit(e, "\tsetp.ne.u32 %s, 0, 0;", r.reg);
                result[nresults++] = r;
                snprintf(operand + strlen(operand), sizeof operand - strlen(operand), "%s%s",
                        k ? "|" : "", r.reg);
            }
            if (strchr("EK", letter)) add_elements(e, f, letter, operand, sizeof operand);
        } else if (letter == 'p') {
            const char *p = emit_predicate(e);
            snprintf(operand, sizeof operand, "%s%s", emit_below(e, 3) ? "" : "!", p);
        } else if (letter == 'n')
            snprintf(operand, sizeof operand, "%u",
                    emit_below(e, strcmp(f->op, "pmevent") ? 256 : 16));
        else if (letter == 'u' && sync && !l[1] && !bar)
            snprintf(operand, sizeof operand, "%%mask");
        else if (letter == 'u' && bar && nth++ == 0)
            snprintf(operand, sizeof operand, "%u", emit_below(e, 16));
        else if (letter == 'u' && bar)
            snprintf(operand, sizeof operand, "%u", (e->p->block + 31) / 32 * 32);
        else if (letter == 'u' && shfl && nth++ == 1) { /* segments and a clamp */
            if (emit_below(e, 2))
                snprintf(operand, sizeof operand, "%u",
                        (0x1f & ~0u << emit_below(e, 6)) << 8 | (rnd_has(f, "up") ? 0 : 0x1f));
            else snprintf(operand, sizeof operand, "%u", (unsigned)rnd_next(&e->rng) & 0x1f1f);
        } else if (letter == 'u') {
            const enum rnd_kind k = count_kind(f, nth++);
            snprintf(operand, sizeof operand, "%s", emit_source(e, k, 4, constants && nsources));
            /* ptxas accepts constants up to 255 there */
            if (among(f->op, "bfe bfi") && *operand != '%')
                snprintf(operand, sizeof operand, "%lu", strtoul(operand, NULL, 0) & 255);
            nsources++;
        } else if (strchr("XNMJ", letter)) {
            const char *from = emit_source(e, RND_INT, 4, letter != 'J' && constants && nsources);
            const bool minus = (letter == 'N' && !nsources && negatives == 1) ||
                    (letter == 'M' && negatives == 2);
            snprintf(operand, sizeof operand, "%s%s", minus && *from == '%' ? "-" : "", from);
            if (letter != 'M' && *from == '%') add_elements(e, f, letter, operand, sizeof operand);
            nsources++;
        } else {
            const char *t = strchr("bBcY", letter) ? t1 : t0;
            enum rnd_kind kind = angle ? angle : emit_kind(t);
            unsigned size = emit_size(t);
            if (!strcmp(t, "pred")) snprintf(operand, sizeof operand, "%s", emit_predicate(e));
            else {
                const bool is_byte = size == 1;
                if (one_nan && nsources != nan_at) kind = RND_NUMBER64;
                if (letter == 'W') size *= 2;
                if (letter == 'B' && kind == RND_INT && !exact) size = wider(e, size);
                const bool here = constants &&
                        (nsources || (kind == RND_INT && strlen(f->args) > 2)) && !is_byte &&
                        !halves && strchr("ab", letter);
                const char *from = emit_source(e, kind, size, here);
                for (unsigned i = 0; i < ntexts; i++)
                    if (!strcmp(from, texts[i])) {
                        from = emit_input(e, kind, size);
                        break;
                    }
                snprintf(operand, sizeof operand, "%s", from);
                nsources++;
            }
        }
        if (!is_result && *operand != '%' && *operand != '-') constants = false;
        if (!is_result && ntexts < 8) snprintf(texts[ntexts++], sizeof texts[0], "%.39s", operand);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                text[strlen(text) - 1] == ' ' && l == f->args ? "" : ", ", operand);
    }
    size_t n = strlen(text);
    while (n && text[n - 1] == ' ') text[--n] = 0;
    emit(e, "\t%s;", text);
    if (!nresults) emit_slot(e, f, text, NULL, 0, RND_INT);
    for (unsigned k = 0; k < nresults; k++) {
        emit_slot(e, f, text, result[k].reg, result[k].size, result[k].kind);
        if (!strcmp(f->op, "set")) forget(e, result[k].reg);
    }
}

/* ---- instructions that the letters do not describe */

/* Adjacent instructions write and read the carry flag. */
static void carry(struct emit *e, const struct rnd_form *f) {
    char text[400] = "", s[3][40], low[12], out[12], flag[12] = "";
    const bool sub = !strncmp(f->op, "sub", 3), in = strlen(f->op) == 4 && f->op[3] == 'c',
               mad = *f->op == 'm', sets = rnd_has(f, "cc");
    const unsigned size = emit_size(f->type[0]);
    e->nsources = 0;
    snprintf(s[0], sizeof s[0], "%s", emit_source(e, RND_INT, 4, false));
    snprintf(s[1], sizeof s[1], "%s", emit_source(e, RND_INT, 4, false));
    if (in)
        snprintf(text, sizeof text, "%s.cc.u32 %s, %s, %s; ", sub ? "sub" : "add",
                strcpy(low, emit_new(e, 4)), s[0], s[1]);
    for (int k = 0; k < 3; k++)
        snprintf(s[k], sizeof s[k], "%s", emit_source(e, RND_INT, size, k != 0));
    strcpy(out, emit_new(e, size));
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s, %s, %s%s%s", f->text, out,
            s[0], s[1], mad ? ", " : "", mad ? s[2] : "");
    if (sets) {
        strcpy(flag, emit_new(e, 4));
        snprintf(text + strlen(text), sizeof text - strlen(text), "; %s.u32 %s, 0, 0",
                sub && emit_below(e, 2) ? "subc" : "addc", flag);
    }
    emit(e, "\t%s;", text);
    emit_slot(e, f, text, out, size, RND_INT);
    if (sets) emit_slot(e, f, text, flag, 4, RND_INT);
}

static const char *move_source(struct emit *e, const char *type, unsigned size) {
    return emit_source(e, emit_kind(type), size, false);
}

/* packed from two or four parts, moved, unpacked */
static void move_128(struct emit *e, const struct rnd_form *f) {
    char text[640], list[2][120] = { "", "" }, reg[4][12];
    const unsigned n[2] = { 2u << emit_below(e, 2), 2u << emit_below(e, 2) };
    for (unsigned k = 0; k < n[0]; k++)
        snprintf(list[0] + strlen(list[0]), sizeof list[0] - strlen(list[0]), "%s%s", k ? ", " : "",
                emit_source(e, RND_INT, 16 / n[0], false));
    for (unsigned k = 0; k < n[1]; k++)
        snprintf(list[1] + strlen(list[1]), sizeof list[1] - strlen(list[1]), "%s%s", k ? ", " : "",
                strcpy(reg[k], emit_new(e, 16 / n[1])));
    snprintf(text, sizeof text,
            "{ .reg .b128 %%q<2>; %s %%q0, {%s}; %s %%q1, %%q0; %s {%s}, %%q1; }", f->text, list[0],
            f->text, f->text, list[1]);
    emit(e, "\t%s", text);
    for (unsigned k = 0; k < n[1]; k++) emit_slot(e, f, text, reg[k], 16 / n[1], RND_INT);
}

static void move(struct emit *e, const struct rnd_form *f) {
    char text[400], list[120] = "", to[120] = "", reg[4][12];
    const char *t = f->type[0];
    const unsigned size = emit_size(t), n = rnd_has(f, "v2") ? 2 : rnd_has(f, "v4") ? 4 : 1;
    e->nsources = 0;
    if (size == 16) {
        move_128(e, f);
        return;
    }
    if (size == 0 && n == 1) {
        strcpy(reg[0], emit_new(e, 0));
        snprintf(text, sizeof text, "mov.pred %s, %s", reg[0], emit_predicate(e));
        emit(e, "\t%s;", text);
        emit_slot(e, f, text, reg[0], 0, RND_INT);
        return;
    }
    const unsigned how = emit_below(e, 3), parts = how == 2 && size == 8 ? 4 : 2,
                   part = n > 1 ? size : size / parts;
    /* lists: of vectors, or parts of one register */
    if (n > 1 || (*t == 'b' && how && part >= 2)) {
        const bool pack = n > 1 || emit_below(e, 2), unpack = n > 1 || !pack;
        for (unsigned k = 0; k < (n > 1 ? n : parts); k++) {
            const char *from = !pack ? ""
                    : n > 1          ? move_source(e, t, part)
                                     : emit_source(e, RND_INT, part, false);
            if (pack)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "",
                        from);
            if (unpack)
                snprintf(to + strlen(to), sizeof to - strlen(to), "%s%s", k ? ", " : "",
                        strcpy(reg[k], emit_new(e, part)));
        }
        if (pack && unpack) snprintf(text, sizeof text, "%s {%s}, {%s}", f->text, to, list);
        else if (pack)
            snprintf(text, sizeof text, "%s %s, {%s}", f->text, strcpy(reg[0], emit_new(e, size)),
                    list);
        else {
            snprintf(list, sizeof list, "%s", emit_source(e, RND_INT, size, false));
            snprintf(text, sizeof text, "%s {%s}, %s", f->text, to, list);
        }
        emit(e, "\t%s;", text);
        if (!unpack) emit_slot(e, f, text, reg[0], size, emit_kind(t));
        else
            for (unsigned k = 0; k < (n > 1 ? n : parts); k++)
                emit_slot(e, f, text, reg[k], part, emit_kind(t));
        return;
    }
    static const char *const special[] = { "%tid.x", "%tid.y", "%ntid.x", "%ntid.z", "%ctaid.x",
        "%ctaid.y", "%nctaid.x", "%nctaid.z", "%laneid", "%lanemask_lt", "%lanemask_le",
        "%lanemask_eq", "%lanemask_ge", "%lanemask_gt" };
    const bool fixed = how == 2 && strncmp(t, "f16", 3);
    if (size == 4 && *t != 'f' && how == 1) strcpy(list, special[emit_below(e, 14)]);
    else
        snprintf(list, sizeof list, "%s",
                fixed ? constant(e, emit_kind(t), size) : move_source(e, t, size));
    snprintf(text, sizeof text, "%s %s, %s", f->text, strcpy(reg[0], emit_new(e, size)), list);
    emit(e, "\t%s;", text);
    emit_slot(e, f, text, reg[0], size, emit_kind(t));
    if (fixed) forget(e, reg[0]);
}

/* Warp 0 arrives, the others wait. */
static void arrive(struct emit *e, const struct rnd_form *f) {
    const unsigned id = 1 + emit_below(e, 15), n = (e->p->block + 31) / 32 * 32,
                   label = e->labels++;
    const char *op = f->op;
    const char *pred = emit_new(e, 0);
    e->nsources = 0;
    emit(e,
            "\tsetp.lt.u32 %s, %%t, 32;\n\t@%s bra FIRST%u;\n\t%s.sync %u, %u;\n"
            "\tbra BOTH%u;",
            pred, pred, label, op, id, n, label);
    emit(e, "FIRST%u:\n\t%s %u, %u;\nBOTH%u:\n\t%s.sync 0;", label, f->text, id, n, label, op);
    emit_slot(e, f, f->text, NULL, 0, RND_INT);
}

static void emit_form(struct emit *e, const struct rnd_form *f) {
    if (among(f->op, "addc subc madc") || rnd_has(f, "cc")) carry(e, f);
    else if (!strcmp(f->op, "mov")) move(e, f);
    else if (among(f->op, "bar barrier") && rnd_has(f, "arrive")) {
        if (!rnd_has(f, "cluster")) {
            arrive(e, f);
            return;
        }
        e->nsources = 0;
        emit(e, "\t%s;\n\tbarrier.cluster.wait%s;", f->text,
                rnd_has(f, "aligned") ? ".aligned" : "");
        emit_slot(e, f, f->text, NULL, 0, RND_INT);
    } else if (rnd_has(f, "wait") && rnd_has(f, "cluster")) {
        e->nsources = 0;
        emit(e, "\tbarrier.cluster.arrive%s;\n\t%s;", rnd_has(f, "aligned") ? ".aligned" : "",
                f->text);
        emit_slot(e, f, f->text, NULL, 0, RND_INT);
    } else if (!emit_memory(e, f)) by_letters(e, f);
}

/* ---- which programs contain a form */

static struct stand {
    unsigned program;
    uint64_t order;
    const struct rnd_form *form;
} * stands;
static size_t nstands;

static int by_program(const void *a, const void *b) {
    const struct stand *x = a, *y = b;
    return x->program != y->program ? (x->program < y->program ? -1 : 1)
            : x->order < y->order   ? -1
                                    : x->order > y->order;
}

static void place(void) {
    size_t n;
    struct rnd_form *f = rnd_forms(&n);
    stands = calloc(n * COPIES, sizeof *stands);
    if (!stands) abort();
    for (size_t i = 0; i < n; i++) {
        /* flow.c generates those */
        if (f[i].why || among(f[i].op, "bra brx call ret exit")) continue;
        const bool approx = rnd_has(&f[i], "approx|full");
        const unsigned g = approx ? 3
                : f[i].sm > 80 || f[i].version > groups[1].version
                ? 2
                : f[i].sm > 70 || f[i].version > 70;
        uint64_t state = f[i].key;
        for (unsigned k = 0; k < (approx ? APPROX_COPIES : COPIES); k++) {
            struct stand *s = &stands[nstands++];
            s->program = groups[g].first + rnd_below(&state, groups[g].n);
            s->order = rnd_next(&state);
            s->form = &f[i];
        }
    }
    qsort(stands, nstands, sizeof *stands, by_program);
}

void rnd_generate(struct rnd_program *p, unsigned number) {
    static struct emit work;
    struct emit *e = &work;
    if (!stands) place();
    memset(e, 0, sizeof *e);
    e->p = p;
    e->rng = 0x9e3779b97f4a7c15u * (number + 1);
    p->number = number;
    p->length = 0;
    p->nslots = p->ninputs = p->in_bytes = p->out_bytes = 0;
    static const unsigned blocks[] = { 32, 33, 48, 64, 65, 80, 95, 96 };
    p->grid = 1 + emit_below(e, 3);
    p->block = blocks[emit_below(e, 8)];
    if (number >= RND_STRAIGHT) {
        rnd_flow(e);
        return;
    }
    size_t first = 0, end;
    while (first < nstands && stands[first].program < number) first++;
    for (end = first; end < nstands && stands[end].program == number; end++) {}
    unsigned g = 0;
    while (g < 3 && number >= groups[g + 1].first) g++;
    bool memory = false;
    for (size_t i = first; i < end; i++) {
        const struct rnd_form *f = stands[i].form;
        /* the value from an inactive lane is undefined */
        if (!strcmp(f->op, "shfl")) p->block = (p->block + 31) / 32 * 32;
        memory |= strpbrk(f->args, "mgh") != NULL || !strcmp(f->op, "mbarrier");
    }
    p->threads = p->grid * p->block;
    emit_head(e, groups[g].sm, groups[g].version, memory);
    emit_entry(e, memory);
    for (size_t i = first; i < end; i++) {
        e->rng ^= stands[i].order;
        emit_form(e, stands[i].form);
    }
    emit_end(e);
    if (!p->out_bytes) p->out_bytes = 8;
    if (!p->in_bytes) p->in_bytes = 8;
}

void rnd_generate_alone(struct rnd_program *p, const struct rnd_form *f) {
    static struct emit work;
    memset(&work, 0, sizeof work);
    work.p = p;
    p->length = 0;
    p->nslots = p->ninputs = p->in_bytes = p->out_bytes = 0;
    p->grid = 1;
    p->block = p->threads = 32;
    emit_head(&work, f->sm < 90 ? f->sm : 90, f->version < 86 ? f->version : 86, true);
    emit_entry(&work, true);
    emit_form(&work, f);
    emit_end(&work);
}

void rnd_fill(const struct rnd_program *p, void *in) {
    uint64_t state = 0x94d049bb133111ebu * (p->number + 1);
    memset(in, 0, p->in_bytes);
    for (unsigned k = 0; k < p->ninputs; k++) {
        const struct rnd_input *input = &p->input[k];
        unsigned char *at = (unsigned char *)in + input->offset;
        const unsigned part = input->size < 8 ? input->size : 8;
        for (unsigned i = 0; i < p->threads * input->size / part; i++, at += part) {
            const uint64_t v = rnd_value(&state, input->kind, part);
            memcpy(at, &v, part);
        }
    }
}
