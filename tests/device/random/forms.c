/* forms.c - the instruction forms in the CPU device's table (tests/simgpu/text/forms.h): each row's
   modifiers and types multiplied out.

   A row of a load, a store or an atomic gives the forms in which at most one group of modifiers
   differs from its first choice, for all of its types. Rows that accept anything ("*") are one
   entry, which is not tested. */
#include "random.h"
#include "../../simgpu/text/forms.h"

enum { MAX_GROUPS = 16, MAX_CHOICES = 32 };

struct choices {
    const char *text[MAX_CHOICES];
    unsigned len[MAX_CHOICES], n;
};

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

/* Forms that no program has, and why; `alone`: rnd_generate_alone can create a program. The first
   line that matches counts. */
#define NEWER RND_UNTESTED, "needs a newer GPU than an H200", false
static const struct left_out {
    const char *ops, *words;
    enum rnd_status status;
    const char *why;
    bool alone;
} left_out[] = {
    { "trap|brkpt", "", RND_UNTESTED, "ends the kernel: the unit suites", false },
    { "setmaxnreg", "", RND_UNTESTED, "needs a kernel made for it", false },
    { "mapa|getctarank", "", RND_UNTESTED,
            "other blocks' memory: tests/device/unit/clusters.c", false },
    { "st|red", "async", RND_UNTESTED,
            "other blocks' memory: tests/device/unit/clusters.c", false },
    { "ld", "param::func", RND_UNTESTED, "calls have function parameters without it", false },
    { "st", "param|param::func", RND_UNTESTED, "the programs with calls store parameters", false },
    { "cvt", "rs|ue8m0x2|e2m3x2|e3m2x2|e2m1x2", NEWER }, { "redux", "f32", NEWER },
    { "ld|st|ldu", "v8", NEWER },
    { "prefetch", "tensormap", RND_UNTESTED, "has no effect without a tensor map", false },
    { "cp", "prefetch", RND_UNTESTED, "has no effect that a program sees", false },
    { "createpolicy", "", RND_UNTESTED, "a policy's bits depend on the device", false },
}, newer = { "", "", NEWER },
byte_register = { "", "", RND_UNTESTED, "needs a register of 8 bits", false },
no_test = { "", "", RND_UNTESTED, "without a test, the result is always false", false };

/* Accepted by the table, but not by check.c. */
static bool refused(const struct rnd_form *f) {
    const char *op = f->op, *t0 = f->type[0], *t1 = f->type[1];
    if (!strcmp(op, "set") || !strcmp(op, "setp")) {
        const char *t = *t1 ? t1 : t0;
        return (*t == 'b' && t[1] != 'f' && !rnd_has(f, "eq|ne")) ||
                (*t == 's' && rnd_has(f, "lo|ls|hi|hs"));
    }
    if (rnd_has(f, "b128") && rnd_has(f, "v2|v4|v8")) return true;
    if (!strcmp(op, "min") || !strcmp(op, "max")) return rnd_has(f, "xorsign") != rnd_has(f, "abs");
    if (!strcmp(op, "mov"))
        return (rnd_has(f, "v2|v4") && !strcmp(t0, "pred")) ||
                (rnd_has(f, "v4") && strstr(t0, "64"));
    if (!strcmp(op, "mad") && !strcmp(t0, "f32") && !rnd_has(f, "rn|rz|rm|rp")) return true;
    if ((!strcmp(op, "shfl") || !strcmp(op, "vote")) && !rnd_has(f, "sync")) return true;
    /* newer .version */
    if (!strcmp(op, "clmad") || (rnd_has(f, "volatile") && rnd_has(f, "local"))) return true;
    if (!strcmp(op, "cvta")) return !strcmp(t0, "u32"); /* addresses have 64 bits */
    return (!strcmp(op, "ld") || !strcmp(op, "st")) && rnd_has(f, "v8") && !strstr(t0, "32");
}

static const struct left_out *why_left_out(const struct rnd_form *f) {
    const bool fp8 = !strcmp(f->op, "cvt") && rnd_has(f, "e4m3x2|e5m2x2");
    if (!strcmp(f->op, "testp") && !strchr(strchr(f->text, '.') + 1, '.')) return &no_test;
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out && !fp8; i++)
        if (among(f->op, left_out[i].ops) && (!*left_out[i].words || rnd_has(f, left_out[i].words)))
            return &left_out[i];
    if (!strcmp(f->op, "cvt") && rnd_has(f, "bf16") && rnd_has(f, "u8|s8")) return &byte_register;
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
static const struct {
    const char *ops, *words;
    unsigned char sm, version;
} needs[] = {
    { "bar", "cta", 70, 78 },
    { "cp", "", 80, 75 },
    { "cvt", "satfinite", 80, 81 },
    { "cvt", "f16x2", 80, 70 },
    { "cvt", "pack", 72, 70 },
    { "fence", "sync_restrict::shared::cta|sync_restrict::shared::cluster|acquire|release", 90,
            86 },
    { "isspacep", "param", 70, 77 },
    { "max|min", "s32", 90, 80 },
    { "ld|st|ldu|mov|atom", "b128", 90, 84 },
    { "cvt", "tf32", 90, 80 },
    { "alloca|stacksave|stackrestore", "", 80, 75 },
    { "prefetch", "tensormap", 90, 80 },
    { "prefetch", "L2::evict_last|L2::evict_normal", 80, 74 },
    { "red", "bf16|bf16x2", 90, 78 },
    { "ld|st",
            "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
            70, 74 },
};

static void add_needs(struct rnd_form *f) {
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *need = &features[i];
        if ((need->op[0] != '*' && strcmp(need->op, f->op)) ||
                (need->word && !rnd_has(f, need->word)))
            continue;
        if (f->sm < need->sm) f->sm = need->sm;
        if (f->version < need->version) f->version = need->version;
    }
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!among(f->op, needs[i].ops) || (*needs[i].words && !rnd_has(f, needs[i].words)))
            continue;
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
    for (size_t i = count; i-- > 0 && !strcmp(all[i].op, f->op);)
        if (!strcmp(all[i].text, f->text)) return;
    f->key = rnd_key(f->text);
    if (count == room) all = realloc(all, (room = 2 * room + 1024) * sizeof *all);
    if (!all) abort();
    all[count++] = *f;
}

/* What the CPU device executes of the rows that accept anything is tested elsewhere, and what needs
   an object or a whole warp. */
static void add_wild(const char *op, const char *why) {
    struct rnd_form f = { .args = "", .sm = 70, .version = 70 };
    snprintf(f.op, sizeof f.op, "%s", op);
    snprintf(f.text, sizeof f.text, "%s.*", op);
    f.status = RND_UNTESTED;
    f.why = why;
    add(&f);
}

static void add_form(
        unsigned row, const struct choices *g, const unsigned *at, unsigned nmods, unsigned n) {
    struct rnd_form f = { .args = forms[row].args, .sm = 70, .version = 70 };
    size_t used = (size_t)snprintf(f.text, sizeof f.text, "%s", forms[row].op);
    snprintf(f.op, sizeof f.op, "%s", forms[row].op);
    for (unsigned i = 0; i < n; i++) {
        const unsigned len = g[i].len[at[i]];
        if (!len) continue;
        used += (size_t)snprintf(
                f.text + used, sizeof f.text - used, ".%.*s", (int)len, g[i].text[at[i]]);
        if (i >= nmods)
            snprintf(f.type[i - nmods], sizeof f.type[0], "%.*s", (int)len, g[i].text[at[i]]);
    }
    if (rnd_has(&f, "cta") && *f.op == 'b') /* ptxas expects it there */
        snprintf(f.text, sizeof f.text, "%s.cta.sync%s", f.op,
                rnd_has(&f, "aligned") ? ".aligned" : "");
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

/* All choices of the groups from i on; of a row with hints, those in which at most `more` further
   modifiers differ from their first choice. */
static void multiply(unsigned row, const struct choices *g, unsigned *at, unsigned nmods,
        unsigned n, unsigned i, unsigned more) {
    if (i == n) {
        add_form(row, g, at, nmods, n);
        return;
    }
    for (unsigned k = 0;
            k < g[i].n && (k == 0 || more || i >= nmods || !strncmp(g[i].text[k], "nc", 2)); k++) {
        at[i] = k;
        /* .nc has no effect without .global */
        const bool free = !k || i >= nmods || !strncmp(g[i].text[k], "nc", 2);
        multiply(row, g, at, nmods, n, i + 1, free ? more : more - 1);
    }
}

/* check.c finds an opcode's rows by the first: they must follow each other. */
static void check_order(unsigned row) {
    for (unsigned i = 0; i + 1 < row; i++) {
        if (strcmp(forms[i].op, forms[row].op) || !strcmp(forms[row - 1].op, forms[row].op))
            continue;
        fprintf(stderr, "tests/simgpu/text/forms.h: a row of '%s' is apart from the others\n",
                forms[row].op);
        exit(2);
    }
}

struct rnd_form *rnd_forms(size_t *n) {
    for (unsigned row = 0; !done && row < sizeof forms / sizeof *forms; row++) {
        struct choices g[MAX_GROUPS];
        unsigned at[MAX_GROUPS] = { 0 };
        bool wild = false;
        check_order(row);
        const unsigned nmods = split(forms[row].mods, g, &wild),
                       ngroups = nmods + split(forms[row].types, g + nmods, &wild);
        const bool object = among(forms[row].op, "tex|tld4|txq|suq|suld|sust|sured|istypep"),
                   tensor = among(forms[row].op, "tensormap") || strstr(forms[row].mods, "tensor "),
                   matrix = among(forms[row].op, "mma|wmma|ldmatrix|stmatrix|movmatrix");
        if (object) add_wild(forms[row].op, "needs an object: tests/device/unit/textures.c");
        else if (tensor) add_wild(forms[row].op, "needs a tensor map: tests/device/boxes");
        else if (matrix) add_wild(forms[row].op, "needs a whole warp: tests/device/tensors");
        else if (wild) add_wild(forms[row].op, "the table does not check it");
        else
            multiply(row, g, at, nmods, ngroups, 0,
                    among(forms[row].op, "ld|st|atom|red|cp") ? 1 : ngroups);
    }
    done = true;
    *n = count;
    return all;
}

const struct rnd_form *rnd_form_named(const char *text) {
    size_t n;
    const struct rnd_form *f = rnd_forms(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(f[i].text, text)) return &f[i];
    return NULL;
}
