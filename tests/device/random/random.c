/* random.c - the program: runs the random programs on the available device and compares.

   random                        all: compares with HASHES and APPROX, and the status of each form
                                 with FORMS.
                                 `make check` runs this
   random text N                 prints program N
   random hash FIRST END         a line for HASHES of each program
   random approx                 lines for APPROX
   random forms                  lines for FORMS, by HASHES and APPROX random dump HASHES FIRST END
   the contents of each slot that differs from HASHES, for `diff` on another device; and
                                 lines for HASHES after '#'
   random diff DUMP HASHES [N]   runs those programs here, and prints the instruction, its operands
                                 and both results of up to N threads each. HASHES: of the device
                                 that dumped; marks a difference that only follows from one in an
                                 operand */
#include "random.h"

static struct rnd_program program;
static unsigned char *input, *output;
static size_t input_room, output_room;

static bool run(unsigned number) {
    rnd_generate(&program, number);
    if (program.in_bytes > input_room) input = realloc(input, input_room = program.in_bytes * 2);
    if (program.out_bytes > output_room)
        output = realloc(output, output_room = program.out_bytes * 2);
    if (!input || !output) abort();
    rnd_fill(&program, input);
    return rnd_run(&program, input, output);
}

static uint64_t value_of(struct rnd_source s, unsigned thread) {
    uint64_t v = 0;
    const unsigned size = s.kind == 'i' ? program.input[s.index].size : program.slot[s.index].size,
                   bytes = size < 8 ? size : 8;
    const unsigned char *at = s.kind == 'i' ? input + program.input[s.index].offset
                                            : output + program.slot[s.index].offset;
    memcpy(&v, at + thread * size, bytes);
    return v;
}

static void print_slot(unsigned k) {
    const struct rnd_slot *s = &program.slot[k];
    printf("%u %u %s\n", program.number, k, s->form ? s->form->text : s->text);
    for (unsigned t = 0; t < program.threads; t++)
        printf("%s%llx", t ? " " : "",
                (unsigned long long)value_of((struct rnd_source){ 's', k }, t));
    putchar('\n');
}

static char *next_line(char **line, size_t *room, FILE *f) {
    size_t n = 0;
    for (int c; (c = fgetc(f)) != EOF && c != '\n'; (*line)[n++] = (char)c)
        if (n + 2 > *room && !(*line = realloc(*line, *room = 2 * *room + 4096))) abort();
    if (!n) return NULL;
    (*line)[n] = 0;
    return *line;
}

/* ---- modes */

static int hash(unsigned first, unsigned end) {
    int code = 0;
    for (unsigned n = first; n < end; n++)
        if (run(n)) rnd_print_hashes(&program, output, "");
        else code = 1;
    return code;
}

static int approx(void) {
    for (unsigned n = 0; n < RND_STRAIGHT; n++) {
        rnd_generate(&program, n);
        bool any = false;
        for (unsigned k = 0; k < program.nslots; k++) any |= program.slot[k].check == RND_APPROX;
        if (any && !run(n)) return 1;
        for (unsigned k = 0; k < program.nslots; k++)
            if (program.slot[k].check == RND_APPROX) print_slot(k);
    }
    return 0;
}

static int dump(const char *hashes, unsigned first, unsigned end) {
    if (!rnd_read_hashes(hashes)) return 1;
    for (unsigned n = first; n < end; n++) {
        bool differs[RND_MAX_SLOTS];
        if (!run(n)) return 1;
        rnd_print_hashes(&program, output, "#");
        rnd_compare(&program, output, differs);
        for (unsigned k = 0; k < program.nslots; k++)
            if (differs[k]) print_slot(k);
    }
    return 0;
}

static int diff(const char *path, const char *hashes, unsigned most) {
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    unsigned now = ~0u;
    bool differs[RND_MAX_SLOTS];
    if (!f) {
        printf("cannot read %s\n", path);
        return 1;
    }
    if (!rnd_read_hashes(hashes)) return 1;
    while (next_line(&line, &room, f)) {
        char *at;
        const unsigned n = (unsigned)strtoul(line, &at, 10), k = (unsigned)strtoul(at, NULL, 10);
        if (n != now) {
            if (!run(now = n)) break;
            rnd_compare(&program, output, differs);
        }
        if (!next_line(&line, &room, f)) break;
        if (k >= program.nslots) {
            printf("%u has no slot %u\n", n, k);
            continue;
        }
        const struct rnd_slot *s = &program.slot[k];
        printf("program %u slot %u%s: %s\n", n, k,
                rnd_follows(&program, differs, k) ? " (follows from an earlier one)" : "", s->text);
        at = line;
        for (unsigned t = 0, shown = 0; t < program.threads && shown < most; t++) {
            const uint64_t other = strtoull(at, &at, 16),
                           here = value_of((struct rnd_source){ 's', k }, t);
            if (other == here) continue;
            printf("    thread %u: here %llx, there %llx; from", t, (unsigned long long)here,
                    (unsigned long long)other);
            for (unsigned i = 0; i < s->nsources; i++)
                printf(" %llx", (unsigned long long)value_of(s->source[i], t));
            putchar('\n');
            shown++;
        }
    }
    fclose(f);
    free(line);
    return 0;
}

/* ---- the check */

/* Value and neighbourhood of a float of `bits` bits: bit patterns in the order of the values. */
static int64_t ordered(uint64_t v, unsigned bits) {
    const uint64_t sign = (uint64_t)1 << (bits - 1);
    return v & sign ? -(int64_t)(v & (sign - 1)) : (int64_t)v;
}

static double single(uint64_t v) {
    const uint32_t bits = (uint32_t)v;
    float f;
    memcpy(&f, &bits, 4);
    return (double)f;
}

/* Whether two results of an approximate function may both count as right. The CPU device computes
   them to nearest; a GPU errs by up to two units in the last place, except where the PTX ISA has
   another bound: sin and cos 2^-20.5 (absolute, within pi), lg2 2^-22 (absolute near 1, else
   relative), tanh 2^-11 (relative). rcp and rsqrt .approx.ftz.f64 have 20 bits. NaNs must be the
   same; infinity is the number after the largest. */
static bool near(const struct rnd_form *f, const char *type, uint64_t a, uint64_t b) {
    if (!strcmp(type, "f16x2") || !strcmp(type, "bf16x2")) {
        const char *half = *type == 'f' ? "f16" : "bf16";
        return near(f, half, a & 0xffff, b & 0xffff) && near(f, half, a >> 16, b >> 16);
    }
    const bool is32 = !strcmp(type, "f32"), is64 = !strcmp(type, "f64");
    const unsigned bits = is64 ? 64 : is32 ? 32 : 16;
    const uint64_t infinity = is64 ? 0x7ff0000000000000u
            : is32                 ? 0x7f800000
            : *type == 'b'         ? 0x7f80
                                   : 0x7c00,
                   magnitude = ((uint64_t)1 << (bits - 1)) - 1;
    if (a == b) return true;
    if ((a & magnitude) > infinity || (b & magnitude) > infinity) return false;
    const int64_t apart = ordered(a, bits) - ordered(b, bits),
                  ulps = is64 && rnd_has(f, "ftz") ? (int64_t)1 << 32 : 2;
    if (apart <= ulps && apart >= -ulps) return true;
    if (!is32 || (a & magnitude) == infinity || (b & magnitude) == infinity) return false;
    const double x = single(a), y = single(b), error = x > y ? x - y : y - x, size = y < 0 ? -y : y;
    if (!strcmp(f->op, "sin") || !strcmp(f->op, "cos")) return error <= 0x1.7p-21;
    if (!strcmp(f->op, "lg2")) return error <= 0x1p-22 * (size > 1 ? size : 1);
    return !strcmp(f->op, "tanh") && error <= 0x1p-11 * size;
}

struct tally {
    unsigned passed, failed, shown;
    unsigned *uses;
};

static void mark(const struct rnd_form *f, enum rnd_status status) {
    size_t n;
    struct rnd_form *all = rnd_forms(&n);
    if (f) all[f - all].status = status;
}

static bool approx_is_near(FILE *file, unsigned k) {
    static char *line;
    static size_t room;
    const struct rnd_slot *s = &program.slot[k];
    char label[160];
    snprintf(label, sizeof label, "%u %u %s", program.number, k, s->form->text);
    if (!next_line(&line, &room, file) || strcmp(line, label) || !next_line(&line, &room, file)) {
        printf("APPROX: no line '%s' here\n", label);
        return false;
    }
    char *at = line;
    for (unsigned t = 0; t < program.threads; t++) {
        const uint64_t want = strtoull(at, &at, 16),
                       got = value_of((struct rnd_source){ 's', k }, t);
        if (near(s->form, s->form->type[0], got, want)) continue;
        printf("program %u slot %u: %s: thread %u has %llx, ", program.number, k, s->text, t,
                (unsigned long long)got);
        printf("the H200 %llx, of", (unsigned long long)want);
        for (unsigned i = 0; i < s->nsources; i++)
            printf(" %llx", (unsigned long long)value_of(s->source[i], t));
        putchar('\n');
        return false;
    }
    return true;
}

static void check_program(unsigned n, FILE *approximate, struct tally *t) {
    bool differs[RND_MAX_SLOTS] = { false };
    size_t nforms;
    const struct rnd_form *all = rnd_forms(&nforms);
    const bool same = run(n) && !rnd_compare(&program, output, differs);
    bool good = same;
    for (unsigned k = 0; k < program.nslots; k++) {
        const struct rnd_slot *s = &program.slot[k];
        if (s->form) t->uses[s->form - all]++;
        if (s->check == RND_APPROX && !approx_is_near(approximate, k)) {
            good = false;
            mark(s->form, RND_FAIL);
        }
        if (s->check == RND_APPROX || same || !differs[k] || rnd_follows(&program, differs, k))
            continue;
        mark(s->form, RND_FAIL);
        if (t->shown++ < 20)
            printf("program %u slot %u: %s: differs from the H200's result\n", n, k, s->text);
    }
    if (good) t->passed++;
    else t->failed++;
}

/* A form that the list calls UNSUPPORTED must be refused, for that reason and no other. */
static bool is_refused(const struct rnd_form *f) {
    char log[2000];
    rnd_generate_alone(&program, f);
    if (rnd_refuses(program.text, program.length, log, sizeof log) &&
            strstr(log, "is not supported by this CPU device"))
        return true;
    printf("%s: the CPU device %s\n", f->text, *log ? log : "accepts it");
    return false;
}

static int check(bool write) {
    const int capability = rnd_capability();
    struct tally t = { 0, 0, 0, NULL };
    size_t n;
    struct rnd_form *f = rnd_forms(&n);
    FILE *approximate = fopen("tests/device/random/APPROX", "r");
    /* a GPU's driver takes 40 ms for each */
    const unsigned step = capability > 0 && !getenv("RANDOM_ALL") ? 16 : 1;
    t.uses = calloc(n, sizeof *t.uses);
    if (!t.uses) abort();
    if (capability < 0 || (capability > 0 && capability != 90)) {
        printf("skipped: random: the expected results are an H200's\nsuite random: 0 passed, 0 "
               "failed, 1 skipped\n");
        return 0;
    }
    if (!approximate || !rnd_read_hashes("tests/device/random/HASHES")) t.failed++;
    if (!rnd_list_read("tests/device/random/FORMS")) t.failed++;
    for (unsigned k = 0; k < RND_PROGRAMS && t.failed < 200; k += step)
        check_program(k, approximate, &t);
    for (size_t i = 0; i < n && step == 1; i++) {
        if (f[i].status == RND_PASS && !t.uses[i]) {
            f[i].status = RND_UNTESTED;
            f[i].why = "in no program";
        }
        if (f[i].status == RND_UNSUPPORTED && f[i].alone && capability == 0 && !is_refused(&f[i]))
            f[i].status = RND_PASS;
    }
    if (write) {
        rnd_list_write(stdout);
        return 0;
    }
    if (step == 1 && rnd_list_check("tests/device/random/FORMS")) t.failed++;
    else t.passed++;
    if (approximate) fclose(approximate);
    free(t.uses);
    printf("suite random: %u passed, %u failed, 0 skipped\n", t.passed, t.failed);
    return t.failed != 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "check";
    unsigned n[3] = { 0, RND_PROGRAMS, 4 };
    int code = 2;
    for (int i = !strcmp(what, "dump"), k = 0; k < 3 && i + 2 < argc; i++, k++)
        n[k] = (unsigned)strtoul(argv[i + 2], NULL, 10);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (!strcmp(what, "check") || !strcmp(what, "forms")) code = check(*what == 'f');
    else if (!strcmp(what, "text")) {
        rnd_generate(&program, n[0]);
        fputs(program.text, stdout);
        code = 0;
    } else if (!strcmp(what, "hash")) code = hash(n[0], n[1]);
    else if (!strcmp(what, "approx")) code = approx();
    else if (!strcmp(what, "dump") && argc > 2) code = dump(argv[2], n[0], n[1]);
    else if (!strcmp(what, "diff") && argc > 3) code = diff(argv[2], argv[3], argc > 4 ? n[2] : 4);
    else fprintf(stderr, "tests/device/random/random.c describes the modes\n");
    rnd_close();
    return code;
}
