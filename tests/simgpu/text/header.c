/* header.c - the first directives of a text: .version, .target, .address_size. */
#include "ptx.h"

/* The targets that ptxas 13.0 knows, with the .version that introduced each. */
static const struct {
    unsigned char sm, version;
} targets[] = {
    { 10, 10 },
    { 11, 10 },
    { 12, 12 },
    { 13, 12 },
    { 20, 20 },
    { 30, 31 },
    { 32, 40 },
    { 35, 31 },
    { 37, 41 },
    { 50, 40 },
    { 52, 41 },
    { 53, 42 },
    { 60, 50 },
    { 61, 50 },
    { 62, 50 },
    { 70, 60 },
    { 72, 61 },
    { 75, 63 },
    { 80, 70 },
    { 86, 71 },
    { 87, 74 },
    { 88, 73 },
    { 89, 78 },
    { 90, 78 },
    { 100, 86 },
    { 101, 86 },
    { 103, 88 },
    { 110, 90 },
    { 120, 87 },
    { 121, 88 },
};

static void parse_version(struct px *px) {
    static const char absent[] =
            "Missing .version directive at start of file 'application ptx input'";
    if (px->t.kind != T_DOT || !px_dot(px, "version")) {
        px->errors++;
        px->result = 200;
        sim_log_add(px->log, SIM_NO_FORMAT);
        longjmp(px->bail, 1);
    }
    /* minor version of each major one */
    static const unsigned char last[] = { 0, 5, 3, 2, 3, 1, 5, 8, 8, 9 };
    px_next(px);
    const char *c = px->t.text;
    unsigned major = 0, minor = 0, line = px->t.line;
    if (px->t.kind != T_NUMBER || px->t.fbits != 64) px_fatal(px, 218, line, "%s", absent);
    for (; *c >= '0' && *c <= '9'; c++)
        major = major < 1000 ? major * 10 + (unsigned)(*c - '0') : major;
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++)
            minor = minor < 1000 ? minor * 10 + (unsigned)(*c - '0') : minor;
    px->image->version = major * 10 + minor;
    if (px->image->version > px->max_version || !major || major >= sizeof last ||
            minor > last[major])
        px_fatal(px, 222, line, "Unsupported .version %u.%u; current version is '%u.%u'", major,
                minor, px->max_version / 10, px->max_version % 10);
    px_next(px);
}

/* The options that ptxas accepts beside an architecture; only `debug` has an effect. */
static bool is_option(const char *name) {
    static const char *const options[] = { "texmode_unified", "texmode_independent", "texmode_raw",
        "debug", "map_f64_to_f32" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!strcmp(name, options[i])) return true;
    return false;
}

/* The .version that introduced sm_NN, sm_NNa or sm_NNf, its number, and its suffix or 0; 0: no such
   architecture. */
static unsigned introduced(const char *name, unsigned *sm, char *suffix) {
    if (strncmp(name, "sm_", 3) || name[3] < '1' || name[3] > '9') return 0;
    char *end;
    const unsigned long number = strtoul(name + 3, &end, 10);
    const bool is_known = !*end || (*end == 'a' && number >= 90) || (*end == 'f' && number >= 100);
    if (!is_known || (*end && end[1])) return 0;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].sm == number) {
            const unsigned since = number == 90 && *end ? 80 : targets[i].version;
            *sm = targets[i].sm;
            *suffix = *end;
            return *end == 'f' && since < 88 ? 88 : since;
        }
    return 0;
}

/* sm_101 was the first name of sm_110. */
static unsigned renamed(unsigned sm) { return sm == 101 ? 110 : sm; }

/* Whether the device can run it: an older architecture; with `a` only that one, with `f` an older
   one of the same family. */
static void check_target(struct px *px, const char *name, unsigned sm, char suffix) {
    const unsigned device = px->device_sm, newest = renamed(sm);
    if (sm > device)
        px_fatal(px, 218, 0,
                "SM version specified by .target is higher than default SM version assumed");
    if (suffix == 'a' && newest != device)
        px_fatal(px, 218, 0, "Program with .target '%s' cannot be compiled to future architecture",
                name);
    if (suffix == 'f' && newest / 10 != device / 10)
        px_fatal(px, 218, 0,
                "Program with .target '%s' cannot be compiled to different SM-family architecture",
                name);
}

static void parse_target(struct px *px) {
    struct sim_image *m = px->image;
    const unsigned line = px->t.line;
    bool maps = false;
    if (!px_dot(px, "target"))
        px_fatal(px, 218, line,
                "Missing .target directive at start of file 'application ptx input'");
    do {
        px_next(px);
        if (px->t.kind != T_IDENT) px_syntax(px);
        const char *name = px->t.name->text;
        unsigned sm = 0;
        char suffix = 0;
        const unsigned since = introduced(name, &sm, &suffix);
        px->debug |= !strcmp(name, "debug");
        px->independent |= !strcmp(name, "texmode_independent");
        maps |= !strcmp(name, "map_f64_to_f32");
        if (since) {
            if (since > m->version)
                px_error(px, line, "PTX .version %u.%u does not support .target %s",
                        m->version / 10, m->version % 10, name);
            m->sm = sm;
            m->sm_suffix = suffix;
            check_target(px, name, sm, suffix);
        } else if (!is_option(name)) {
            if (m->sm || !strncmp(name, "sm_", 3) || !strncmp(name, "compute_", 8))
                px_fatal(px, 218, line, "Unsupported .target '%s'", name);
            break;
        }
        px_next(px);
    } while (px_is(px, ','));
    if (maps && m->sm >= 13)
        px_error(px, line, "Directive map_f64_to_f32 is not supported with SM 1.3 or higher");
    if (!m->sm)
        px_fatal(px, 218, line,
                "Target architecture not defined at start of file 'application ptx input'");
}

void px_parse_header(struct px *px) {
    px_next(px);
    parse_version(px);
    do parse_target(px);
    while (px_dot(px, "target"));
    px->image->address_size = 64;
    if (px_accept_dot(px, "address_size")) {
        unsigned line = px->t.line;
        px_require(px, line, ".address_size directive", 0, 23);
        if (px->t.kind != T_NUMBER || px->t.fbits) px_syntax(px);
        if (px->t.value == 32)
            px_fatal(px, 218, line, ".address_size 32 is not supported by this CPU device");
        if (px->t.value != 64)
            px_error(px, line, "Illegal value for .address_size directive (must be 32 or 64)");
        px_next(px);
    }
}
