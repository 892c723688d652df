/* directive.c - directives beside declarations and code: debug information, pragmas, and those
   between a function's parameters and its body. */
#include "ptx.h"

/* ---- .loc .file .section .pragma ---- */

static void skip_loc(struct px *px) {
    for (int i = 0; i < 3; i++) (void)px_number(px);
    while (px_accept(px, ',')) { /* function_name label+4   inlined_at 1 2 3 */
        if (px->t.kind != T_IDENT) px_syntax(px);
        bool label = !strcmp(px->t.name->text, "function_name");
        px_next(px);
        if (label) {
            if (px->t.kind != T_IDENT) px_syntax(px);
            px_next(px);
        }
        while (px->t.kind == T_NUMBER || px_is(px, '+')) px_next(px);
    }
}

static void skip_file(struct px *px) {
    (void)px_number(px);
    if (px->t.kind != T_STRING) px_syntax(px);
    px_next(px);
    while (px_accept(px, ',')) (void)px_number(px);
}

static void skip_section(struct px *px) {
    while (px->t.kind == T_IDENT || px->t.kind == T_DOT) px_next(px);
    px_expect(px, '{');
    for (unsigned open = 1; open; px_next(px)) {
        if (px_is(px, '{')) open++;
        else if (px_is(px, '}')) open--;
        else if (px->t.kind == T_EOF) px_syntax(px);
    }
    px->has_debug = true;
}

/* "used_bytes_mask 0xfff": the bytes that the program uses of what the next instruction loads. The
   others have no effect here. */
static void pragma(struct px *px, enum px_place place) {
    static const struct {
        const char *name;
        bool has_value;
        unsigned char sm, version;
    } known[] = {
        { "used_bytes_mask", true, 0, 83 },
        { "frequency", true, 0, 90 },
        { "enable_smem_spilling", false, 75, 87 },
    };
    const unsigned line = px->t.line;
    char text[200], *end;
    snprintf(text, sizeof text, "%.*s", (int)px->t.len, px->t.text);
    const size_t word = strcspn(text, " ");
    const char *value = text + word + strspn(text + word, " ");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != word || memcmp(known[i].name, text, word)) continue;
        if (place != PX_IN_BODY) {
            px_error(px, line, "Pragma '%s' is allowed only within function scope", text);
            return;
        }
        px_require(px, line, known[i].name, known[i].sm, known[i].version);
        if (known[i].has_value && !*value)
            px_error(px, 0, "Argument(s) to pragma '%s' cannot be empty", known[i].name);
        if (i) return;
        const unsigned long used = strtoul(value, &end, 0);
        if (*end) px_error(px, 0, "Invalid value '%s' specified for .pragma '%s'", value, text);
        else px->unused = ~(uint32_t)used;
        return;
    }
    if (place == PX_IN_MODULE && strcmp(text, "nounroll"))
        px_error(px, 0, "Pragma '%s' not supported", text);
}

bool px_directive(struct px *px, enum px_place place) {
    if (place == PX_IN_BODY && px_accept_dot(px, "loc")) skip_loc(px);
    else if (place == PX_IN_MODULE && px_accept_dot(px, "file")) skip_file(px);
    else if (place == PX_IN_MODULE && px_accept_dot(px, "section")) skip_section(px);
    else if (px_accept_dot(px, "pragma")) {
        do {
            if (px->t.kind != T_STRING) px_syntax(px);
            pragma(px, place);
            px_next(px);
        } while (px_accept(px, ','));
        px_expect(px, ';');
    } else return false;
    return true;
}

/* ---- between a function's parameters and its body: .maxntid 128, 1, 1 .minnctapersm 2 ---- */

static const struct tuning {
    const char *name;
    bool of_entry;         /* else of other functions */
    unsigned char numbers; /* that follow; 0: it is a flag */
    bool positive;
    const char *feature; /* needs this .target and .version */
    unsigned char sm, version;
    size_t at; /* its place in struct sim_func, or 0: it has no effect here */
} tunings[] = {
#define AT(member) offsetof(struct sim_func, member)
    { "maxntid", true, 3, true, NULL, 0, 0, AT(maxntid) },
    { "reqntid", true, 3, true, ".reqntid directive", 0, 21, AT(reqntid) },
    { "minnctapersm", true, 1, true, NULL, 0, 0, AT(minnctapersm) },
    { "maxnctapersm", true, 1, true, NULL, 0, 0, 0 },
    { "maxnreg", true, 1, true, NULL, 0, 0, AT(maxnreg) },
    { "reqnctapercluster", true, 3, false, ".reqnctapercluster", 90, 78, AT(reqnctapercluster) },
    { "maxclusterrank", true, 1, false, ".maxclusterrank", 90, 78, AT(maxclusterrank) },
    { "explicitcluster", true, 0, false, ".explicitcluster", 90, 78, AT(explicit_cluster) },
    { "blocksareclusters", true, 0, false, ".blocksareclusters", 90, 90, AT(blocks_are_clusters) },
    { "noreturn", false, 0, false, ".noreturn", 0, 64, 0 },
    { "abi_preserve", false, 1, false, ".abi_preserve", 80, 90, 0 },
    { "abi_preserve_control", false, 1, false, ".abi_preserve_control", 80, 90, 0 },
#undef AT
};

static void tune(struct px *px, struct sim_func *f, const struct tuning *t) {
    const unsigned line = px->t.line;
    uint32_t v[3] = { 1, 1, 1 };
    bool positive = true;
    px_next(px);
    if (t->feature) px_require(px, line, t->feature, t->sm, t->version);
    if (!strcmp(t->name, "maxnctapersm") && px->image->version >= 21)
        px_error(px, line,
                "Deprecated feature: '.maxnctapersm directive' not supported as of PTX version "
                "2.1");
    for (unsigned k = 0; k < t->numbers && (!k || px_accept(px, ',')); k++) {
        v[k] = (uint32_t)px_number(px);
        positive &= v[k] > 0;
    }
    if (t->positive && !positive)
        px_error(px, line, "Positive non-zero value expected for %s", t->name);
    if (!t->at) return;
    void *to = (char *)f + t->at;
    if (t->numbers) memcpy(to, v, t->numbers * sizeof *v);
    else *(bool *)to = true;
}

bool px_tune(struct px *px, struct sim_func *f) {
    const unsigned line = px->t.line;
    bool any = false;
    for (bool found = true; found; any |= found) {
        found = f->is_entry && px_dot(px, "pragma") && px_directive(px, PX_BEFORE_BODY);
        for (size_t i = 0; i < sizeof tunings / sizeof *tunings && !found; i++)
            if (tunings[i].of_entry == f->is_entry && px_dot(px, tunings[i].name)) {
                tune(px, f, &tunings[i]);
                found = true;
            }
    }
    if (f->maxntid[0] && f->reqntid[0])
        px_error(
                px, line, "Conflicting directives: .maxntid and .reqntid cannot both be specified");
    if (f->reqnctapercluster[0] && f->maxclusterrank)
        px_error(px, line,
                "Conflicting directives: .reqnctapercluster and .maxclusterrank cannot both be "
                "specified");
    if (f->blocks_are_clusters && !(f->reqntid[0] && f->reqnctapercluster[0]))
        px_error(px, line,
                ".reqntid and .reqnctapercluster directive(s) required for directive "
                "'.blocksareclusters'");
    return any;
}
