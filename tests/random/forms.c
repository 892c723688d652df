/* forms.c - the instruction forms in the CPU device's table (tests/simgpu/text/forms.h): each row's modifiers and types
   multiplied out.

   A row with cache hints (loads, stores, atomics) gives the forms in which at most one group of modifiers differs from
   its first choice, for all of its types. Of rows that accept anything ("*"), only the forms of `more` are generated;
   other forms of their opcode are one entry, which is not tested. */
#include "random.h"
#include "../simgpu/text/forms.h"

enum { MAX_GROUPS = 16, MAX_CHOICES = 32 };

struct choices { const char *text[MAX_CHOICES]; unsigned len[MAX_CHOICES], n; };

static struct rnd_form *all;
static size_t count, room;
static bool done;

static unsigned split(const char *text, struct choices *g, bool *wild) {
    unsigned n = 0;
    while (*text) {
        while (*text == ' ') text++;
        if (!*text) break;
        if (*text == '*') {
            *wild = true;
            text++;
            continue;
        }
        const char *start = text, *end = text + strcspn(text, " ");
        struct choices *c = &g[n++];
        c->n = 0;
        if (end[-1] == '?') {
            c->text[0] = "";
            c->len[c->n++] = 0;
        }
        while (start < end) {
            size_t len = strcspn(start, "|? ");
            c->text[c->n] = start;
            c->len[c->n++] = (unsigned)len;
            start += len + 1;
        }
        text = end;
    }
    return n;
}

/* Whether a word is one of a list such as "ld|st|atom". */
static bool listed(const char *word, size_t n, const char *list) {
    for (;; list++) {
        const size_t len = strcspn(list, "|");
        if (len == n && !memcmp(list, word, n)) return true;
        list += len;
        if (!*list) return false;
    }
}

bool rnd_has(const struct rnd_form *f, const char *words) {
    for (const char *p = f->text; (p = strchr(p, '.')) != NULL;)
        if (p++, listed(p, strcspn(p, "."), words)) return true;
    return false;
}

static bool among(const char *op, const char *ops) { return listed(op, strlen(op), ops); }

/* Forms that no program has, and why; `alone`: rnd_generate_alone can create a program. The first line that matches
   counts. */
#define NEWER RND_UNTESTED, "needs a newer GPU than an H200", false
static const struct left_out {
    const char *ops, *words;
    enum rnd_status status;
    const char *why;
    bool alone;
} left_out[] = {
    { "trap|brkpt", "", RND_UNTESTED, "ends the kernel: tests/unit", false },
    { "setmaxnreg", "", RND_UNTESTED, "needs a kernel made for it", false },
    { "mapa|getctarank", "", RND_UNTESTED, "shared memory of other blocks: tests/unit/clusters.c", false },
    { "st|red", "async", RND_UNTESTED, "shared memory of other blocks: tests/unit/clusters.c", false },
    { "ld|st", "param::func|unified", RND_UNTESTED,
      "the programs with calls have function parameters, without these modifiers", false },
    { "cvt", "rs|ue8m0x2|e2m3x2|e3m2x2|e2m1x2", NEWER }, { "redux", "f32", NEWER },
    { "ld|st|atom|red|ldu", "v8", NEWER },
    { "ld|st|ldu|mov|atom|red", "b128", RND_UNSUPPORTED, "registers of 128 bits", false },
    { "atom|red", "v2|v4", RND_UNSUPPORTED, "several elements in one atomic", false },
    { "alloca|stacksave|stackrestore", "", RND_UNSUPPORTED, "stack memory of a size known only when the kernel runs",
      false },
    { "cvt", "tf32", RND_UNSUPPORTED, "a format of tensor cores", true },
    { "fma", "oob", RND_UNSUPPORTED, "numbers beside a tensor", true },
    { "prefetch", "tensormap", RND_UNSUPPORTED, "tensor copies", true },
    { "isspacep", "const", RND_UNSUPPORTED, "constant addresses are global ones", true },
}, newer = { "", "", NEWER },
no_test = { "", "", RND_UNSUPPORTED, "ptxas accepts it, and no page says what it tests", true };

/* Every integer of type `from` is one of type `to`. */
static bool cannot_overflow(const char *to, const char *from) {
    const unsigned long width = strtoul(to + 1, NULL, 10), source = strtoul(from + 1, NULL, 10);
    if (!strchr("us", *to) || !strchr("us", *from)) return false;
    return *to == *from ? width >= source : *to == 's' && width > source;
}

/* Accepted by the table, but not by ptxas. */
static bool refused(const struct rnd_form *f) {
    const char *op = f->op, *t0 = f->type[0], *t1 = f->type[1];
    if (!strcmp(op, "set") || !strcmp(op, "setp")) {
        const char *t = *t1 ? t1 : t0;
        if ((*t == 'b' && t[1] != 'f' && !rnd_has(f, "eq|ne")) || (*t == 's' && rnd_has(f, "lo|ls|hi|hs"))) return true;
        if (rnd_has(f, "ftz") && (strstr(t0, "bf16") || strstr(t1, "bf16") || !strcmp(t, "f64"))) return true;
        return !strcmp(t0, "f16") && !strcmp(t1, "bf16");
    }
    if (rnd_has(f, "b128") && rnd_has(f, "v2|v4|v8")) return true;
    const bool sat = rnd_has(f, "sat"), ftz = rnd_has(f, "ftz"), limits = rnd_has(f, "relu|satfinite");
    if (!strcmp(op, "cvt") && *t1) {
        const bool to_b = !strcmp(t0, "bf16"), from_b = !strcmp(t1, "bf16"), from_32 = !strcmp(t1, "f32"),
                   to_32 = !strcmp(t0, "f32");
        if (ftz && !from_32 && !to_32) return true;
        if (sat && (limits || to_b || from_b || cannot_overflow(t0, t1))) return true;
        if (limits && (ftz || rnd_has(f, "rm|rp") || (rnd_has(f, "rna") && rnd_has(f, "relu"))) && !strstr(t0, "x2") &&
            !strstr(t1, "x2")) return true;
        if ((to_b && (!strcmp(t1 + 1, "8"))) || (from_b && !strcmp(t0 + 1, "8"))) return true;
        return !strcmp(t0, t1) && strstr(t0, "f16") && rnd_has(f, "rn|rz|rm|rp");
    }
    if (!strcmp(op, "min") || !strcmp(op, "max")) return rnd_has(f, "xorsign") != rnd_has(f, "abs");
    if (!strcmp(op, "slct")) return ftz && !strcmp(t1, "s32");
    if (!strcmp(op, "fence")) return rnd_has(f, "sync_restrict::shared::cta") ? !rnd_has(f, "release") :
        rnd_has(f, "sync_restrict::shared::cluster") && !rnd_has(f, "acquire");
    if (!strcmp(op, "atom")) return rnd_has(f, "cas") && rnd_has(f, "L2::cache_hint");
    if (!strcmp(op, "red")) return rnd_has(f, "acquire|acq_rel");
    if (!strcmp(op, "mbarrier")) return rnd_has(f, "inval|init") && rnd_has(f, "shared::cluster");
    if (!strcmp(op, "cp")) return rnd_has(f, "ca|mbarrier") && rnd_has(f, "shared::cluster");
    if (!strcmp(op, "mov")) return !strncmp(t0, "f16", 3) || (rnd_has(f, "v2|v4") && !strcmp(t0, "pred")) ||
        (rnd_has(f, "v4") && strstr(t0, "64"));
    if (!strcmp(op, "ldu")) return rnd_has(f, "v4") && strstr(t0, "64");
    if (!strcmp(op, "prefetch")) return rnd_has(f, "generic");
    if (!strcmp(op, "cvta")) return !strcmp(t0, "u32");        /* addresses have 64 bits */
    if (!strcmp(op, "ld") || !strcmp(op, "st")) {
        /* only with 256 bits */
        if (rnd_has(f, "L2::evict_first|L2::evict_last|L2::evict_normal") || (rnd_has(f, "v8") && !strstr(t0, "32")))
            return true;
        const bool strong = rnd_has(f, "volatile|relaxed|acquire|release|mmio");
        if (strong && (rnd_has(f, "const|param|param::entry|param::func|local"))) return true;
        if (*op == 's' && rnd_has(f, "const|param|param::entry|L2::64B|L2::128B|L2::256B")) return true;
        return rnd_has(f, "nc") && !rnd_has(f, "global");
    }
    return false;
}

static const struct left_out *why_left_out(const struct rnd_form *f) {
    const bool fp8 = !strcmp(f->op, "cvt") && rnd_has(f, "e4m3x2|e5m2x2");
    if (!strcmp(f->op, "testp") && !strchr(strchr(f->text, '.') + 1, '.')) return &no_test;
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out && !fp8; i++)
        if (among(f->op, left_out[i].ops) && (!*left_out[i].words || rnd_has(f, left_out[i].words)))
        return &left_out[i];
    const bool wide = among(f->op, "ld|st") && rnd_has(f, "v4") && strstr(f->type[0], "64"),
        mixed = among(f->op, "add|sub|fma") && !strcmp(f->type[0], "f32") && *f->type[1];
    return wide || mixed || f->sm > 90 ? &newer : NULL;
}

uint64_t rnd_key(const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    h ^= h >> 29;
    return h * 0xbf58476d1ce4e5b9u ^ h >> 32;
}

/* Requirements of a newer .target or .version, besides the table's own `features`. */
static const struct { const char *ops, *words; unsigned char sm, version; } needs[] = {
    { "bar", "cta", 70, 78 }, { "cp", "", 80, 75 }, { "cvt", "satfinite", 80, 81 }, { "cvt", "f16x2", 80, 70 },
    { "cvt", "pack", 72, 70 }, { "fence", "sync_restrict::shared::cta|sync_restrict::shared::cluster|acquire|release",
                                 90, 86 }, { "isspacep", "param", 70, 77 },
    { "max|min", "s32", 90, 80 },
    { "prefetch", "tensormap", 90, 80 }, { "prefetch", "L2::evict_last|L2::evict_normal", 80, 74 },
    { "red", "bf16|bf16x2", 90, 78 },
    { "ld|st", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate", 70, 74 },
};

static void add_needs(struct rnd_form *f) {
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *need = &features[i];
        if ((need->op[0] != '*' && strcmp(need->op, f->op)) || (need->word && !rnd_has(f, need->word))) continue;
        if (f->sm < need->sm) f->sm = need->sm;
        if (f->version < need->version) f->version = need->version;
    }
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!among(f->op, needs[i].ops) || (*needs[i].words && !rnd_has(f, needs[i].words))) continue;
        if (among(f->op, "max|min") && !rnd_has(f, "relu")) continue;
        if (f->sm < needs[i].sm) f->sm = needs[i].sm;
        if (f->version < needs[i].version) f->version = needs[i].version;
    }
    /* bf16 to and from any type but f32 */
    const bool wide = !rnd_has(f, "f32") || (!strcmp(f->type[1], "bf16") && rnd_has(f, "ftz"));
    if (!strcmp(f->op, "cvt") && rnd_has(f, "bf16") && wide) {
        f->sm = 90;
        f->version = 78;
    }
}

static void add(struct rnd_form *f) {
    for (size_t i = count; i-- > 0 && !strcmp(all[i].op, f->op);) if (!strcmp(all[i].text, f->text)) return;
    f->key = rnd_key(f->text);
    if (count == room) all = realloc(all, (room = 2 * room + 1024) * sizeof *all);
    if (!all) abort();
    all[count++] = *f;
}

/* The CPU device executes these forms of the rows that accept anything. Its other ones are in flow.c and memory.c,
   with the code they need. */
static void add_wild(const char *op) {
    static const char *const more[] = { "vabsdiff2.u32.u32.u32", "vabsdiff2.u32.s32.s32", "vabsdiff2.u32.u32.u32.add",
                                        "vabsdiff2.u32.s32.s32.add",
        "vabsdiff4.u32.u32.u32", "vabsdiff4.u32.s32.s32", "vabsdiff4.u32.u32.u32.add", "vabsdiff4.u32.s32.s32.add" };
    struct rnd_form f = { .args = "daaa", .sm = 70, .version = 70, .type = { "u32" } };
    snprintf(f.op, sizeof f.op, "%s", op);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (strncmp(more[i], op, strlen(op)) || more[i][strlen(op)] != '.') continue;
        snprintf(f.text, sizeof f.text, "%s", more[i]);
        add(&f);
    }
    snprintf(f.text, sizeof f.text, "%s.*", op);
    *f.type[0] = 0;
    f.status = RND_UNTESTED;
    f.why = "the table does not check it";
    add(&f);
}

static void add_form(unsigned row, const struct choices *g, const unsigned *at, unsigned nmods, unsigned n) {
    struct rnd_form f = { .args = forms[row].args, .sm = 70, .version = 70 };
    size_t used = (size_t)snprintf(f.text, sizeof f.text, "%s", forms[row].op);
    snprintf(f.op, sizeof f.op, "%s", forms[row].op);
    for (unsigned i = 0; i < n; i++) {
        const unsigned len = g[i].len[at[i]];
        if (!len) continue;
        used += (size_t)snprintf(f.text + used, sizeof f.text - used, ".%.*s", (int)len, g[i].text[at[i]]);
        if (i >= nmods) snprintf(f.type[i - nmods], sizeof f.type[0], "%.*s", (int)len, g[i].text[at[i]]);
    }
    if (rnd_has(&f, "cta") && *f.op == 'b')       /* ptxas expects it there */
        snprintf(f.text, sizeof f.text, "%s.cta.sync%s", f.op, rnd_has(&f, "aligned") ? ".aligned" : "");
    if (used >= sizeof f.text) {
        fprintf(stderr, "forms.c: no room for %s\n", f.text);
        exit(2);
    }
    add_needs(&f);
    const struct left_out *out = why_left_out(&f);
    if (out) {
        f.status = out->status;
        f.why = out->why;
        f.alone = out->alone;
    }
    if (!refused(&f)) add(&f);
}

/* All choices of the groups from i on; of a row with hints, those in which at most `more` further modifiers differ from
   their first choice. */
static void multiply(unsigned row, const struct choices *g, unsigned *at, unsigned nmods, unsigned n, unsigned i,
                     unsigned more) {
    if (i == n) {
        add_form(row, g, at, nmods, n);
        return;
    }
    for (unsigned k = 0; k < g[i].n && (k == 0 || more || i >= nmods || !strncmp(g[i].text[k], "nc", 2)); k++) {
        at[i] = k;
        const bool free = !k || i >= nmods || !strncmp(g[i].text[k], "nc", 2);   /* .nc has no effect without .global */
        multiply(row, g, at, nmods, n, i + 1, free ? more : more - 1);
    }
}

struct rnd_form *rnd_forms(size_t *n) {
    for (unsigned row = 0; !done && row < sizeof forms / sizeof *forms; row++) {
        struct choices g[MAX_GROUPS];
        unsigned at[MAX_GROUPS] = { 0 };
        bool wild = false;
        const unsigned nmods = split(forms[row].mods, g, &wild),
                       ngroups = nmods + split(forms[row].types, g + nmods, &wild);
        if (wild) add_wild(forms[row].op);
        else multiply(row, g, at, nmods, ngroups, 0, strstr(forms[row].mods, "L2::") ? 1 : ngroups);
    }
    done = true;
    *n = count;
    return all;
}

const struct rnd_form *rnd_form_named(const char *text) {
    size_t n;
    const struct rnd_form *f = rnd_forms(&n);
    for (size_t i = 0; i < n; i++) if (!strcmp(f[i].text, text)) return &f[i];
    return NULL;
}
