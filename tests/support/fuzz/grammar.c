/* grammar.c - see grammar.h. For each operand letter of forms.h, writes a register, constant or
   address of that kind. */
#include "grammar.h"
#include "../../simgpu/text/forms.h"
#include <stdarg.h>

enum { FORMS = sizeof forms / sizeof *forms, MOST = 24 };

void grammar_add(struct grammar_text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->text + t->n, t->cap - t->n, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < t->cap - t->n) t->n += (size_t)n;
    t->text[t->n] = 0;
}

/* ---- words ---- */

struct word {
    const char *text;
    size_t n;
};
struct words {
    struct word w[MOST];
    unsigned n;
};

static struct word nth(const char *list, unsigned k) { /* of "a|b|c" */
    for (; k; k--) list += strcspn(list, "| ?") + 1;
    return (struct word){ list, strcspn(list, "| ?") };
}
static unsigned alternatives(const char *list) { /* how many until the group's end */
    unsigned n = 1;
    for (; *list && *list != ' ' && *list != '?'; list++) n += *list == '|';
    return n;
}
static bool is_word(struct word w, const char *text) {
    return w.n == strlen(text) && !memcmp(w.text, text, w.n);
}
static bool has_word(const struct words *w, const char *text) {
    for (unsigned i = 0; i < w->n; i++)
        if (is_word(w->w[i], text)) return true;
    return false;
}

/* One modifier of each group; an optional one sometimes. Where any modifier is allowed, some of
   those that such instructions accept. */
static void choose(struct fuzz_source *s, const char *groups, struct words *out) {
    static const char loose[] = "shared|shared::cta|b64|release|relaxed|acquire|cta|cluster|gpu|"
                                "sys|noComplete|expect_tx|parity|global|"
                                "shared::cluster|async|bulk|"
                                "mbarrier::complete_tx::bytes|bulk_group|commit_group|wait_group|"
                                "read|add|inc|min|u32|s32|u64|b32|v2|v4|tensor|"
                                "1d|2d|aligned|sync|row|col|"
                                "m16n8k16|x4|trans|"
                                "f16|f32|bf16|s8|generic|fractional|L2::evict_last|L2::evict_first|"
                                "alias|acq_rel|to|tensormap|range";
    for (const char *g = groups; *g; g += *g == ' ') {
        const size_t len = strcspn(g, " ");
        const bool optional = len && g[len - 1] == '?';
        if (*g == '*') {
            for (unsigned k = fuzz_pick(s, 6); k && out->n < MOST; k--)
                out->w[out->n++] = nth(loose, fuzz_pick(s, alternatives(loose)));
            const unsigned odd = fuzz_byte(s);
            if (odd > 240 && out->n < MOST)
                out->w[out->n++] = nth(
                        other_modifiers, fuzz_pick(s, alternatives(other_modifiers)));
        } else if ((!optional || fuzz_byte(s) % 4 == 1) && out->n < MOST)
            out->w[out->n++] = nth(g, fuzz_pick(s, alternatives(g)));
        g += len;
    }
}

void grammar_words(void (*each)(const char *word, size_t n)) {
    static const char more[] = ".version|.target|.address_size|.entry|.func|.visible|.extern|.weak|"
                               ".common|.global|.const|.shared|.local|"
                               ".param|.reg|.align|.ptr|.maxntid|"
                               ".reqntid|.minnctapersm|.maxnreg|.pragma|.loc|.file|.section|."
                               "branchtargets|.callprototype|.alias|.noreturn|"
                               ".attribute|generic|WARP_SZ|0f3F800000|"
                               "0d3FF0000000000000|0x|0b1|{|}|[|]|(|)|<|>|.v2|.v4|.pred|@%p1|!%p1|%"
                               "r1|%rd1|sm_70|sm_90|sm_90a|8.4|64|//|/*|*/|"
                               "_|.x|.y|# 1|.b8|vprintf|malloc|function_name|inlined_at";
    for (const char *list = more; *list; list += *list == '|') {
        each(list, strcspn(list, "|"));
        list += strcspn(list, "|");
    }
    for (const char *list = other_modifiers; *list; list += *list == '|') {
        each(list, strcspn(list, "|"));
        list += strcspn(list, "|");
    }
    for (unsigned i = 0; i < FORMS; i++) {
        if (!i || strcmp(forms[i].op, forms[i - 1].op)) each(forms[i].op, strlen(forms[i].op));
        for (int k = 0; k < 2; k++)
            for (const char *list = k ? forms[i].types : forms[i].mods; *list;
                    list += strspn(list, "| ?*")) {
                each(list, strcspn(list, "| ?*"));
                list += strcspn(list, "| ?*");
            }
    }
    for (size_t i = 1; i < sizeof specials / sizeof *specials; i++)
        each(specials[i].name, strlen(specials[i].name));
}

/* ---- operands ---- */

static unsigned size_of(struct word type) { /* bytes of the registers that hold it; 0: predicate */
    char name[16] = "";
    if (type.n < sizeof name) memcpy(name, type.text, type.n);
    for (size_t i = 0; i < sizeof other_types / sizeof *other_types; i++)
        for (const char *list = other_types[i].names; *list; list += *list == '|') {
            const size_t n = strcspn(list, "|");
            if (n == type.n && !memcmp(list, type.text, n))
                return other_types[i].held == SIM_B64 ? 8 : other_types[i].held == SIM_B32 ? 4 : 2;
            list += n;
        }
    const char *digits = name + strcspn(name, "0123456789");
    const unsigned bits = (unsigned)strtoul(digits, NULL, 10) * (strstr(name, "x2") ? 2 : 1);
    return !strcmp(name, "pred") ? 0 : bits <= 16 ? 2 : bits / 8;
}

/* %d0 to %d3 and %r0 to %r3 hold addresses and the thread's number: rarely overwritten, so that
   most loads access valid memory. */
static void put_register(
        struct fuzz_source *s, struct grammar_text *t, unsigned size, bool written) {
    const unsigned x = fuzz_byte(s);
    if (size == 0) grammar_add(t, "%%p%u", x % 8);
    else if (size <= 2) grammar_add(t, "%%h%u", x % 8);
    else if (size == 16) grammar_add(t, "%%q%u", x % 4);
    else grammar_add(t, size == 4 ? "%%r%u" : "%%d%u", written && x < 240 ? 4 + x % 12 : x % 16);
}

static void put_constant(struct fuzz_source *s, struct grammar_text *t, struct word type) {
    const uint64_t x = fuzz_number(s);
    const bool is_float = type.n && type.text[0] == 'f' && type.text[1] != '1';
    if (is_float && type.text[1] == '3') grammar_add(t, "0f%08X", (unsigned)x);
    else if (is_float) grammar_add(t, "0d%016llX", (unsigned long long)x);
    else grammar_add(t, "%lld", (long long)x);
}

static void put_source(
        struct fuzz_source *s, struct grammar_text *t, struct word type, unsigned size) {
    if (fuzz_byte(s) % 4 == 0 && size && size < 16) put_constant(s, t, type);
    else put_register(s, t, size, false);
}

/* An address that is usually valid in the space that the modifiers name. */
static void put_address(struct fuzz_source *s, struct grammar_text *t, const struct words *w) {
    const unsigned kind = fuzz_byte(s), offset = fuzz_byte(s) / 16 * 4;
    if (kind > 250) {
        grammar_add(t, "[%%d%u+%d]", kind % 16, (int)offset - 32);
        return;
    }
    if (has_word(w, "shared") || has_word(w, "shared::cta") || has_word(w, "shared::cluster"))
        grammar_add(t,
                kind % 4 == 0           ? "[dyn+%u]"
                        : kind % 4 == 1 ? "[%%r3+%u]"
                                        : "[sh+%u]",
                offset);
    else if (has_word(w, "local")) grammar_add(t, "[loc+%u]", offset);
    else if (has_word(w, "const")) grammar_add(t, "[c+%u]", offset);
    else if (has_word(w, "param") || has_word(w, "param::entry") || has_word(w, "param::func"))
        grammar_add(t, kind % 2 ? "[st+%u]" : "[p+%u]", kind % 2 ? offset & 31 : 0);
    else if (has_word(w, "global"))
        grammar_add(t,
                kind % 3 == 0           ? "[g+%u]"
                        : kind % 3 == 1 ? "[%%d0+%u]"
                                        : "[%%d1+%u]",
                offset);
    else grammar_add(t, "[%%d%u+%u]", kind % 4, offset);
}

static void put_vector(
        struct fuzz_source *s, struct grammar_text *t, unsigned n, unsigned size, bool written) {
    grammar_add(t, "{");
    for (unsigned i = 0; i < n; i++) {
        if (i) grammar_add(t, ",");
        put_register(s, t, size, written);
    }
    grammar_add(t, "}");
}

static void put_special(struct fuzz_source *s, struct grammar_text *t) {
    const unsigned i = 1 + fuzz_pick(s, (unsigned)SPECIAL_ENVREG);
    if (i >= SPECIAL_ENVREG) grammar_add(t, "%%envreg%u", fuzz_byte(s) % 33);
    else
        grammar_add(t, specials[i].kind == 'v' ? "%s.%c" : "%s", specials[i].name,
                "xyz"[fuzz_byte(s) % 3]);
}

static void put_anything(
        struct fuzz_source *s, struct grammar_text *t, const struct words *w, struct word type) {
    static const char *const names[] = { "g", "sh", "loc", "c", "dyn", "square", "deeper", "fmt",
        "table", "st", "p", "k", "_", "generic", "nothing" };
    switch (fuzz_byte(s) % 9) {
    case 0: put_register(s, t, 4, true); break;
    case 1: put_register(s, t, 8, true); break;
    case 2: put_address(s, t, w); break;
    case 3: put_constant(s, t, type); break;
    case 4: grammar_add(t, "%s", names[fuzz_byte(s) % (sizeof names / sizeof *names)]); break;
    case 5: put_vector(s, t, 1u << fuzz_byte(s) % 3, 2u << fuzz_byte(s) % 3, true); break;
    case 6: put_special(s, t); break;
    case 7: put_register(s, t, 0, true); break;
    default: put_register(s, t, size_of(type), true); break;
    }
}

/* A 32-bit operand of a video instruction: elements of it. */
static void put_elements(struct fuzz_source *s, struct grammar_text *t, char letter) {
    static const char *const names[] = { ".b0", ".b3", ".h1", ".h10", ".h32", ".b7610", ".b3210",
        ".b20" };
    if (strchr("NM", letter) && fuzz_byte(s) % 4 == 1) grammar_add(t, "-");
    put_register(s, t, 4, strchr("EK", letter) != NULL);
    if (letter == 'E' || fuzz_byte(s) % 2) grammar_add(t, "%s", names[fuzz_byte(s) % 8]);
}

/* A texture or surface: one that the executor makes, a reference, or any number. */
static void put_image(struct fuzz_source *s, struct grammar_text *t, bool surface) {
    const unsigned x = fuzz_byte(s);
    if (x < 16) put_register(s, t, 8, false);
    else if (x < 64) grammar_add(t, surface ? "su" : "tx");
    else grammar_add(t, "%%o%u", x % 4 + (surface ? 4 : 0));
}
/* Coordinates, derivatives or offsets of the geometry that the modifiers name. */
static void put_coordinates(
        struct fuzz_source *s, struct grammar_text *t, const struct words *mods, bool layer) {
    static const char *const names[] = { "1d", "a1d", "2d", "a2d", "2dms", "a2dms", "3d", "cube",
        "acube" };
    static const unsigned char all[] = { 1, 2, 2, 4, 4, 4, 4, 4, 4 },
                               without[] = { 1, 1, 2, 2, 2, 2, 4, 4, 4 };
    unsigned k = 0;
    while (k < 8 && !has_word(mods, names[k])) k++;
    put_vector(s, t, fuzz_byte(s) < 250 ? (layer ? all : without)[k] : 3, 4, false);
}
static void put_image_operand(struct fuzz_source *s, struct grammar_text *t, char letter,
        const struct words *mods, const struct words *types, bool surface) {
    const struct word type = types->w[0];
    switch (letter) {
    case 'R':
        put_vector(s, t, has_word(mods, "v2") ? 2 : 4, size_of(type), true);
        if (fuzz_byte(s) % 8 == 1) {
            grammar_add(t, "|");
            put_register(s, t, 0, true);
        }
        break;
    case 'H':
        grammar_add(t, "[");
        put_image(s, t, surface);
        grammar_add(t, ", ");
        put_coordinates(s, t, mods, true);
        grammar_add(t, "]");
        break;
    case 'Q':
        grammar_add(t, "[");
        put_image(s, t, surface);
        grammar_add(t, "]");
        break;
    case 'F':
    case 'C': put_coordinates(s, t, mods, false); break;
    default: put_image(s, t, is_word(type, "surfref")); break; /* U */
    }
}

static void put_operand(struct fuzz_source *s, struct grammar_text *t, char letter,
        const struct words *mods, const struct words *types, unsigned line, unsigned lines) {
    static const struct word none = { "b32", 3 };
    const struct word t0 = types->n ? types->w[0] : none, t1 = types->n > 1 ? types->w[1] : t0;
    const unsigned size = size_of(t0),
                   vec = has_word(mods, "v2") ? 2
            : has_word(mods, "v4")            ? 4
            : has_word(mods, "v8")            ? 8
                                              : 0;
    switch (letter) {
    case 'd':
    case 'y': put_register(s, t, size, true); break;
    case 'D': put_register(s, t, fuzz_byte(s) < 224 || size > 4 ? size : size * 2, true); break;
    case 'a': put_source(s, t, t0, size); break;
    case 'b': put_source(s, t, t1, size_of(t1)); break;
    case 'B':
        put_source(s, t, t1, fuzz_byte(s) < 224 || size_of(t1) > 4 ? size_of(t1) : size_of(t1) * 2);
        break;
    case 'w': put_register(s, t, size * 2, true); break;
    case 'W': put_register(s, t, size * 2, false); break;
    case 'A':
    case 'V':
        if (letter == 'A' && fuzz_byte(s) % 8 == 1) grammar_add(t, "_");
        else if (vec) put_vector(s, t, vec, size, true);
        else put_register(s, t, size, true);
        break;
    case 'S':
        if (vec) put_vector(s, t, vec, size, false);
        else put_source(s, t, t0, size);
        break;
    case 'o':
        put_register(s, t, 0, true);
        if (fuzz_byte(s) % 4 == 1) {
            grammar_add(t, "|");
            put_register(s, t, 0, true);
        }
        break;
    case 'O':
        put_register(s, t, size, true);
        if (fuzz_byte(s) % 2) {
            grammar_add(t, "|");
            put_register(s, t, 0, true);
        }
        break;
    case 't':
        put_register(s, t, 4, true);
        grammar_add(t, "|");
        put_register(s, t, 0, true);
        break;
    case 'q': put_register(s, t, 0, true); break;
    case 'e':
        put_register(s, t, 0, true);
        if (fuzz_byte(s) % 4 == 1) grammar_add(t, "|_");
        break;
    case 's':
        put_register(s, t, 4, true);
        if (fuzz_byte(s) % 4 == 1) grammar_add(t, "|_");
        break;
    case '_': grammar_add(t, "_"); break;
    case 'z': put_register(s, t, 2, true); break;
    case 'j': put_register(s, t, size, false); break;
    case 'c':
    case 'Y': put_register(s, t, size_of(t1), false); break;
    case 'h': put_register(s, t, 8, false); break;
    case 'X':
    case 'N':
    case 'M':
    case 'E':
    case 'J':
    case 'K': put_elements(s, t, letter); break;
    case 'p':
    case 'P':
        if (fuzz_byte(s) % 4 == 1) grammar_add(t, "!");
        put_register(s, t, 0, false);
        break;
    case 'r':
    case 'i':
    case 'I': put_register(s, t, 4, true); break;
    case 'f':
    case 'u':
    case 'v': put_source(s, t, none, 4); break;
    case '0':
    case '1':
    case '2':
    case '3': put_vector(s, t, 1u << fuzz_pick(s, 4), size == 8 ? 8 : 4, letter == '0'); break;
    case '4': put_register(s, t, 4, false); break;
    case 'k': put_register(s, t, 8, false); break;
    case 'n': grammar_add(t, "%llu", (unsigned long long)fuzz_number(s)); break;
    case 'm': put_address(s, t, mods); break;
    case 'g':
    case 'G':
        if (fuzz_byte(s) % 2) put_register(s, t, 8, false);
        else put_anything(s, t, mods, none);
        break;
    /* few loops, because most never end */
    case 'L':
        grammar_add(t, "L%u",
                fuzz_byte(s) < 240 ? line + 1 + fuzz_pick(s, lines - line) : fuzz_pick(s, lines));
        break;
    case 'T': grammar_add(t, "TARGETS"); break;
    default: put_anything(s, t, mods, t0); break;
    }
}

/* The operands of mov and call have more forms than their letters describe. */
static void put_mov(struct fuzz_source *s, struct grammar_text *t, const struct words *types) {
    const unsigned size = size_of(types->w[0]), kind = fuzz_byte(s) % 8;
    if (kind == 0 && size >= 4) {
        put_register(s, t, size, true);
        grammar_add(t, ", ");
        put_special(s, t);
    } else if (kind == 1 && size >= 4) {
        static const char *const names[] = { "g", "sh", "loc", "c", "dyn", "square", "deeper",
            "fmt", "table", "st" };
        put_register(s, t, size, true);
        grammar_add(t, ", %s+%u", names[fuzz_byte(s) % 10], fuzz_byte(s) % 64);
    } else if (kind == 2 && size >= 4) {
        put_register(s, t, size, true);
        grammar_add(t, ", ");
        put_vector(s, t, 2, size / 2, false);
    } else if (kind == 3 && size >= 4) {
        put_vector(s, t, 2, size / 2, true);
        grammar_add(t, ", ");
        put_register(s, t, size, false);
    } else {
        put_register(s, t, size, true);
        grammar_add(t, ", ");
        put_source(s, t, types->w[0], size);
    }
}
static void put_call(struct fuzz_source *s, struct grammar_text *t) {
    static const char *const calls[] = { "(%r5), square, (%r6)", "(%r7), deeper, (%r8)",
        "(%r7), deeper, (%r0)", "(%r9), vprintf, (%d2, %d1)", "(%d10), malloc, (%d11)",
        "free, (%d10)", "nothing", "free, (%d4)", "(%r5), %d12, (%r6), PROTO", "nothing, (%r4)",
        "(%r5), square", "(%r9), __assertfail, (%d2)", "k, (%d0)", "(%d11), malloc, (%d1)",
        "(%r6), %d5, (%r4), PROTO", "%d12" };
    grammar_add(t, "%s", calls[fuzz_byte(s) % (sizeof calls / sizeof *calls)]);
}

void grammar_instruction(
        struct fuzz_source *s, struct grammar_text *t, unsigned line, unsigned lines) {
    const struct sim_form *f = &forms[fuzz_pick(s, FORMS)];
    /* the device supports none of these */
    if (!strcmp(f->mods, "*") && strlen(f->args) > 9 && fuzz_byte(s) < 240)
        f = &forms[fuzz_pick(s, FORMS)];
    struct words mods = { .n = 0 }, types = { .n = 0 };
    const unsigned guard = fuzz_byte(s);
    if (guard % 8 == 1) grammar_add(t, "@%%p%u ", guard / 8 % 8);
    if (guard % 8 == 2) grammar_add(t, "@!%%p%u ", guard / 8 % 8);
    choose(s, f->mods, &mods);
    choose(s, f->types, &types);
    grammar_add(t, "%s", f->op);
    for (unsigned i = 0; i < mods.n; i++) grammar_add(t, ".%.*s", (int)mods.w[i].n, mods.w[i].text);
    for (unsigned i = 0; i < types.n; i++)
        grammar_add(t, ".%.*s", (int)types.w[i].n, types.w[i].text);
    grammar_add(t, " ");
    if (!strcmp(f->op, "mov") && mods.n == 0) put_mov(s, t, &types);
    else if (!strcmp(f->op, "call")) put_call(s, t);
    else {
        bool optional = false, first = true;
        for (const char *a = f->args; *a; a++) {
            if (*a == '.') {
                optional = true;
                continue;
            }
            if (*a == 'k' && !has_word(&mods, "L2::cache_hint")) continue;
            if (optional && *a != 'k' && fuzz_byte(s) % 4) break;
            if (!first) grammar_add(t, ", ");
            if (strchr("RHQFCU", *a))
                put_image_operand(s, t, *a, &mods, &types, !strncmp(f->op, "su", 2));
            else if (*a == 'Z') put_register(s, t, 0, true);
            else put_operand(s, t, *a, &mods, &types, line, lines);
            first = false;
        }
    }
    grammar_add(t, ";");
}

/* ---- modules ---- */

void grammar_declaration(struct fuzz_source *s, struct grammar_text *t) {
    static const char *const linkage[] = { "", "", ".visible ", ".extern ", ".weak ", ".common " },
                             *const space[] = { "global", "const", "shared", "local", "reg",
                                 "param" };
    static const char *const type[] = { "b8", "u8", "b16", "f16", "u32", "b32", "f32", "s64", "b64",
        "f64", "b128", "pred", "f16x2" };
    static const char *const value[] = { "1", "-1", "0f3F800000", "0d4000000000000000", "1.5",
        "generic(g)", "g+8", "0xFF(g)", "0xFF00(square)", "{1,2}", "(3 < 4) ? 5 : 6", "~0 >> 3",
        "WARP_SZ", "1/0", "(.s64)1e30", "{{1},{2,3}}", "square", "0x7FFFFFFFFFFFFFFF + 1",
        "\"text\"", "{}", "1 << 63", "-9223372036854775808 % -1" };
    unsigned parameters = fuzz_byte(s) % 4 ? 0 : 1 + fuzz_byte(s) % 5;
    if (parameters)
        grammar_add(t, "%s%s e%u(", linkage[fuzz_byte(s) % 6],
                fuzz_byte(s) % 4 ? ".entry" : ".func", fuzz_byte(s) % 4);
    do {
        if (parameters) grammar_add(t, fuzz_byte(s) < 250 ? ".param " : ".reg ");
        else grammar_add(t, "%s.%s ", linkage[fuzz_byte(s) % 6], space[fuzz_byte(s) % 6]);
        if (fuzz_byte(s) % 4 == 1) grammar_add(t, ".align %u ", 1u << fuzz_byte(s) % 12);
        if (fuzz_byte(s) % 8 == 1) grammar_add(t, fuzz_byte(s) % 2 ? ".v2 " : ".v4 ");
        grammar_add(t, ".%s v%u", type[fuzz_byte(s) % 13], fuzz_byte(s) % 8);
        for (unsigned dims = fuzz_byte(s) % 4; dims; dims--) {
            const unsigned x = fuzz_byte(s);
            if (x < 16) grammar_add(t, "[]");
            else grammar_add(t, "[%llu]", (unsigned long long)(x < 240 ? x % 5 : fuzz_number(s)));
        }
        if (parameters)
            grammar_add(t, parameters > 1 ? ", " : fuzz_byte(s) % 2 ? ") { ret; }" : ");");
    } while (parameters && --parameters);
    if (t->n && (t->text[t->n - 1] == ';' || t->text[t->n - 1] == '}')) return;
    if (fuzz_byte(s) % 2) {
        const bool braces = fuzz_byte(s) % 2;
        grammar_add(t, braces ? " = {" : " = ");
        for (unsigned n = 1 + fuzz_byte(s) % 3; n; n--)
            grammar_add(t, n > 1 && braces ? "%s, " : "%s",
                    value[fuzz_byte(s) % (sizeof value / sizeof *value)]);
        grammar_add(t, braces ? "}" : "");
    }
    grammar_add(t, ";");
}

void grammar_module(struct fuzz_source *s, struct grammar_text *t) {
    enum { MOST_LINES = 80 };
    grammar_add(t, "%s",
            ".version 8.5\n.target sm_90\n.address_size 64\n"
            ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
            ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param "
            ".b64 p);\n"
            ".extern .shared .align 16 .b8 dyn[];\n.global .align 16 .b8 g[256];\n"
            ".global .align 1 .b8 fmt[16] = { 37, 100, 32, 37, 115, 32, 37, 53, 46, 50, 102, 37, "
            "108, 108, 120, 10 };\n"
            ".const .align 16 .b8 c[128] = { 1, 2, 3, 4, 5, 6, 7, 8, 255, 254, 0, 0, 128, 63, 0, "
            "0, 0, 0, 240, 127 };\n"
            ".func (.reg .b32 y) square (.reg .b32 x) { mul.lo.u32 y, x, x; ret; }\n"
            ".func (.param .b32 y) deeper (.param .b32 x) {\n.reg .b32 %r<4>; .reg .pred %p; "
            ".local .b8 l[24];\n"
            "ld.param.b32 %r1, [x]; st.local.b32 [l+4], %r1; and.b32 %r2, %r1, 15;\n"
            "setp.eq.u32 %p, %r2, 0; @%p bra E; sub.u32 %r2, %r2, 1;\n"
            "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), deeper, (a); "
            "ld.param.b32 %r3, [b]; }\n"
            "add.u32 %r1, %r1, %r3;\nE: ld.local.b32 %r2, [l+4]; add.u32 %r1, %r1, %r2; "
            "st.param.b32 [y], %r1; ret; }\n"
            ".func nothing () { ret; }\n.global .texref tx; .global .surfref su;\n.global .u64 "
            "table[2] = { square, g };\n"
            ".entry k (.param .u64 p, .param .align 16 .b8 st[32], .param .u32 n) {\n"
            ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .b128 "
            "%q<4>; .reg .b64 %o<8>;\n"
            ".shared .align 16 .b8 sh[256]; .local .align 16 .b8 loc[128];\n"
            "mov.u64 %o0, 1; mov.u64 %o1, 2; mov.u64 %o2, 3; mov.u64 %o3, 4;\n"
            "mov.u64 %o4, 5; mov.u64 %o5, 6; mov.u64 %o6, 7; mov.u64 %o7, 8;\n"
            "TARGETS: .branchtargets L0, L1, L2; PROTO: .callprototype (.param .b32 _) _ (.param "
            ".b32 _);\n"
            "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %laneid; mov.u32 %r3, sh; "
            "ld.param.u64 %d0, [p]; mad.wide.u32 %d1, %r0, 16, %d0; mov.u64 %d2, fmt; "
            "cvta.to.global.u64 %d3, %d1;\n"
            "setp.lt.u32 %p1, %r0, 5; setp.eq.u32 %p2, %r2, 31; and.b32 %r4, %r0, 1; setp.ne.u32 "
            "%p3, %r4, 0; cvt.u64.u32 %d4, %r0; mov.u64 %d12, square; mov.b32 {%h1, %h2}, %r0; "
            "mov.b32 %r5, 0f3FC00000; mov.b64 %d5, 0d400C000000000000; cvt.rn.f32.u32 %r6, %r0;\n");
    const unsigned lines = 3 + (unsigned)(s->left < 8 * MOST_LINES ? s->left / 8 : MOST_LINES);
    for (unsigned line = 0; line < lines; line++) {
        grammar_add(t, "L%u: ", line);
        grammar_instruction(s, t, line, lines);
        grammar_add(t, "\n");
    }
    grammar_add(t, "L%u: ", lines);
    grammar_add(t, "ret; }\n");
}
