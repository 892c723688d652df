/* forms.c - compares which instruction forms the device loads with which ones ptxas assembles.
   README.md describes the files and their notation.

     forms check          loads every form and compares with VERDICTS, except for the lines of
                          DIFFERENCES
     forms list           prints every form: its number, ptxas's verdict, its text
     forms ptx            reads numbers, prints one module in which each of them is a kernel on a
                          separate line
     forms verdicts       reads the numbers of the forms that ptxas refuses, prints the new
     VERDICTS */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "../../../gpuexec.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list, multiplied out */

enum { LINE = 8000, TEXT = 400, GROUPS = 24, SETS = 40, ROWS = 1000 };

struct group {
    const char *choice[80];
    unsigned len[80], n;
};
struct row {
    uint32_t key;
    unsigned first, n;
};

static char **forms, *accepted; /* the texts; per form 1 if ptxas takes it */
static unsigned nforms, room;
static struct row rows[ROWS];
static unsigned nrows;
static uint64_t *seen; /* a hash table of the texts */
enum { SEEN = 1 << 22 };

static struct { char name[16], *text; } sets[SETS];
static unsigned nsets;

static void stop(const char *what, const char *detail) {
    fprintf(stderr, "tests/device/forms: %s%s\n", what, detail);
    exit(2);
}

static uint64_t hash(const char *s) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return (h ^ h >> 29) | 1;
}

/* The next line, together with those after it that begin with spaces; false at the end of the
   file. */
static bool next_line(FILE *f, char line[LINE]) {
    size_t n = 0;
    int c;
    line[0] = 0;
    while (fgets(line + n, (int)(LINE - n), f)) {
        n += strcspn(line + n, "\n");
        line[n] = 0;
        if (n > LINE - 200) stop("a line is too long: ", line);
        if (n == 0 || line[0] == '#') {
            n = 0;
            continue;
        }
        if ((c = getc(f)) != ' ') {
            ungetc(c, f);
            return true;
        }
        while ((c = getc(f)) == ' ') {}
        ungetc(c, f);
    }
    return n > 0;
}

static FILE *open_file(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) stop("cannot read ", path);
    return f;
}

static unsigned type_bits(const char *word, size_t n) {
    static const struct {
        const char *names;
        unsigned bits;
    } types[] = {
        { " pred ", 1 },
        { " b8 u8 s8 e2m1x2 ", 8 },
        { " b16 u16 s16 f16 bf16 e4m3x2 e5m2x2 e2m3x2 e3m2x2 ue8m0x2 ", 16 },
        { " b32 u32 s32 f32 f16x2 bf16x2 u16x2 s16x2 tf32 e4m3x4 ", 32 },
        { " b64 u64 s64 f64 f32x2 ", 64 },
        { " b128 ", 128 },
    };
    char spaced[16];
    if (n > 12) return 0;
    snprintf(spaced, sizeof spaced, " %.*s ", (int)n, word);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strstr(types[i].names, spaced)) return types[i].bits;
    return 0;
}

/* Replaces $0, $1 by registers as wide as the first and second type of the opcode (without a second
   one: the first). */
static void add_form(const char *text) {
    char out[TEXT];
    unsigned bits[2] = { 32, 32 }, types = 0;
    size_t n = 0;
    for (const char *w = text; *w && *w != ' ';) {
        size_t len = strcspn(w, ". ");
        const unsigned b = type_bits(w, len);
        if (b && types < 2)
            for (bits[types++] = b; types == 1 && bits[1] != b;) bits[1] = b;
        w += len + (w[len] == '.');
    }
    for (const char *c = text; *c; c++) {
        if (*c == '$') {
            const unsigned b = bits[*++c - '0'];
            n += (size_t)(b == 1 ? snprintf(out + n, TEXT - n, "%%pred")
                                 : snprintf(out + n, TEXT - n, "%%b%u", b == 8 ? 16 : b));
        } else out[n++] = *c;
        if (n > TEXT - 20) stop("a form is too long: ", text);
    }
    out[n] = 0;
    const uint64_t h = hash(out);
    unsigned at = (unsigned)(h % SEEN);
    for (; seen[at]; at = (at + 1) % SEEN)
        if (seen[at] == h) return;
    seen[at] = h;
    if (nforms == room && !(forms = realloc(forms, (room = 2 * room + 4096) * sizeof *forms)))
        abort();
    if (nforms > SEEN / 2) stop("too many forms", "");
    if (!(forms[nforms] = malloc(n + 1))) abort();
    memcpy(forms[nforms++], out, n + 1);
}

/* text: what is left of the line. A group's choice is written, then the rest is multiplied out. */
static void multiply(const char *text, struct group *g, unsigned depth, char *out, size_t n) {
    for (; *text && *text != '('; text++) {
        if (n > TEXT - 100) stop("a form is too long: ", out);
        if (*text == '\\' && text[1] >= '1' && text[1] <= '9') {
            const struct group *back = &g[*++text - '1'];
            memcpy(out + n, back->choice[back->n], back->len[back->n]);
            n += back->len[back->n];
        } else if (*text != '\\') out[n++] = *text;
        else if (text[1]) out[n++] = *++text;
    }
    out[n] = 0;
    if (!*text) {
        add_form(out);
        return;
    }
    struct group *now = &g[depth];
    unsigned count = 0;
    const char *c = ++text;
    if (depth == GROUPS) stop("too many groups: ", text);
    for (const char *start = c;; c++) {
        if (*c == '\\') c++;
        else if (*c == '|' || *c == ')') {
            if (count == sizeof now->len / sizeof *now->len) stop("too many choices: ", text);
            now->choice[count] = start;
            now->len[count++] = (unsigned)(c - start);
            start = c + 1;
            if (*c == ')') break;
        }
        if (!*c) stop("a group without an end: ", text);
    }
    for (unsigned k = 0; k < count; k++) {
        size_t m = n;
        now->n = k;
        for (unsigned i = 0; i < now->len[k]; i++)
            if (now->choice[k][i] != '\\') out[m++] = now->choice[k][i];
        multiply(c + 1, g, depth + 1, out, m);
    }
}

/* <name> becomes (the set's choices), or only the choices inside a group */
static void put_sets(const char *line, char *out) {
    bool inside = false;
    size_t n = 0;
    for (; *line; line++) {
        if (*line == '\\') out[n++] = *line++;
        else if (*line == '(') inside = true;
        else if (*line == ')') inside = false;
        if (*line != '<') {
            out[n++] = *line;
            continue;
        }
        const size_t len = strcspn(++line, ">");
        unsigned s = 0;
        while (s < nsets && (strlen(sets[s].name) != len || memcmp(sets[s].name, line, len))) s++;
        if (s == nsets) stop("an unknown set: ", line);
        n += (size_t)snprintf(
                out + n, LINE - n, "%s%s%s", inside ? "" : "(", sets[s].text, inside ? "" : ")");
        line += len;
        if (n > LINE - 100) stop("a line is too long: ", line);
    }
    out[n] = 0;
}

static void read_list(void) {
    static char line[LINE], whole[LINE], out[TEXT];
    static struct group groups[GROUPS + 1];
    FILE *f = open_file("tests/device/forms/LIST");
    if (!(seen = calloc(SEEN, sizeof *seen))) abort();
    while (next_line(f, line)) {
        char name[16];
        int at = 0;
        if (!strncmp(line, "set ", 4) && sscanf(line, "set %15s %n", name, &at) == 1) {
            if (nsets == SETS) stop("too many sets", "");
            strcpy(sets[nsets].name, name);
            put_sets(line + at, whole);
            if (!(sets[nsets++].text = strdup(whole))) abort();
            continue;
        }
        if (nrows == ROWS) stop("too many lines", "");
        put_sets(line, whole);
        rows[nrows] = (struct row){ (uint32_t)hash(whole), nforms, 0 };
        multiply(whole, groups, 0, out, 0);
        rows[nrows].n = nforms - rows[nrows].first;
        nrows++;
    }
    fclose(f);
    free(seen);
    if (!(accepted = calloc(nforms + 1, 1))) abort();
}

/* ---- modules */

static const char head[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                           ".global .align 16 .b8 global[64]; .shared .align 16 .b8 shared[64]; "
                           ".const .align 16 .b8 constant[64];"
                           ".global .texref texture; .global .surfref surface;"
                           ".func (.param .b32 r) function(.param .b32 a) { ret; }\n";
enum { HEAD_LINES = 4 };

static void print_kernel(char *out, size_t size, unsigned number) {
    snprintf(out, size,
            ".entry k%u(.param .align 16 .b8 parameter[64]) { .local .align 16 .b8 local[64];"
            ".param .align 16 .b8 argument[64];"
            ".reg .pred %%pred, %%pred2; .reg .b8 %%b8, %%b8b; .reg .b16 %%b16, %%b16b; .reg .u16 "
            "%%u16; .reg .s16 %%s16;"
            ".reg .f16 %%f16; .reg .b16 %%bf16; .reg .b32 %%b32, %%b32b; .reg .u32 %%u32; .reg "
            ".s32 %%s32; .reg .f32 %%f32;"
            ".reg .f16x2 %%f16x2; .reg .b32 %%bf16x2; .reg .b64 %%b64, %%b64b; .reg .u64 %%u64; "
            ".reg .s64 %%s64;"
            ".reg .f64 %%f64; .reg .b128 %%b128; .reg .v2 .u32 %%v2u32; .reg .v4 .u32 %%v4u32;"
            "targets: .branchtargets label; prototype: .callprototype (.param .b32 r) _ (.param "
            ".b32 a);"
            " %s; label: ret; }\n",
            number, forms[number]);
}

static bool read_number(unsigned *number) {
    if (scanf("%u", number) != 1) return false;
    if (*number >= nforms) stop("no form has this number", "");
    return true;
}

static void print_ptx(void) {
    static char kernel[3000];
    unsigned number;
    fputs(head, stdout);
    while (read_number(&number)) {
        print_kernel(kernel, sizeof kernel, number);
        fputs(kernel, stdout);
    }
}

/* ---- verdicts: for each line of LIST, a hash of its text, the number of its forms, and a bit for
   each */

static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-";

static void print_verdicts(void) {
    unsigned number;
    memset(accepted, 1, nforms);
    while (read_number(&number)) accepted[number] = 0;
    puts("# What ptxas 13.0 takes, for each line of LIST: made by tests/device/forms/verdicts.sh.");
    for (unsigned r = 0; r < nrows; r++) {
        int column = printf("%08lx %u ", (unsigned long)rows[r].key, rows[r].n);
        for (unsigned i = 0; i < rows[r].n; i += 6) {
            unsigned bits = 0;
            for (unsigned k = 0; k < 6 && i + k < rows[r].n; k++)
                bits |= (unsigned)accepted[rows[r].first + i + k] << k;
            if (column == 120) column = printf("\n    ") - 1;
            putchar(letters[bits]);
            column++;
        }
        putchar('\n');
    }
}

static void read_verdicts(void) {
    static char line[LINE * 2];
    FILE *f = open_file("tests/device/forms/VERDICTS");
    for (unsigned r = 0; r < nrows; r++) {
        unsigned long key = 0;
        unsigned n = 0;
        int at = 0;
        if (!next_line(f, line) || sscanf(line, "%lx %u %n", &key, &n, &at) != 2 ||
                key != rows[r].key || n != rows[r].n || strlen(line + at) != (n + 5) / 6)
            stop("VERDICTS is not that of LIST: run tests/device/forms/verdicts.sh, which needs "
                 "ptxas 13.0",
                    "");
        for (unsigned i = 0; i < n; i++) {
            const char *bits = strchr(letters, line[(unsigned)at + i / 6]);
            if (bits) accepted[rows[r].first + i] = (char)((bits - letters) >> i % 6 & 1);
        }
    }
    fclose(f);
}

/* ---- the comparison */

enum { MOST_DIFFERENCES = 20 };

static int check(void) {
    static char text[5000], line[LINE * 2];
    struct {
        char *form;
        bool met;
    } known[MOST_DIFFERENCES];
    unsigned nknown = 0, passed = 0, failed = 0, step = 1;
    gpuexec_device_info info;
    if (gpuexec_device_get_info(0, &info) != GPUEXEC_OK) stop(gpuexec_error_text(), "");
    /* a driver compiles for some ms */
    const bool gpu = strstr(info.name, "NVIDIA") != NULL;
    if (!getenv(gpu ? "FORMS_ALL" : "TEST_ALL")) step = gpu ? 64 : 3;
    if (info.compute_capability < 90 || gpuexec_driver_version() != 13000) {
        puts("skipped: forms: the verdicts are those of ptxas 13.0 for sm_90\n"
             "suite forms: 0 passed, 0 failed, 1 skipped");
        return 0;
    }
    FILE *f = open_file("tests/device/forms/DIFFERENCES");
    while (next_line(f, line)) {
        char *reason = strstr(line, "   # ");
        if (!reason || nknown == MOST_DIFFERENCES)
            stop("DIFFERENCES: too many lines, or one without a reason: ", line);
        *reason = 0;
        known[nknown].met = false;
        if (!(known[nknown++].form = strdup(line))) abort();
    }
    fclose(f);
    gpuexec_context context = gpuexec_context_open(0, NULL);
    for (unsigned i = 0; i < nforms; i += step) {
        size_t n = (size_t)snprintf(text, sizeof text, "%s", head);
        print_kernel(text + n, sizeof text - n, i);
        gpuexec_module module = gpuexec_module_load(context, text, strlen(text) + 1, NULL);
        const bool loads = gpuexec_take_error() == GPUEXEC_OK;
        if (loads) gpuexec_module_unload(module);
        unsigned k = 0;
        while (k < nknown && strcmp(known[k].form, forms[i])) k++;
        if (k < nknown) known[k].met = true;
        if (loads == accepted[i] && k < nknown && step == 1) {
            printf("DIFFERENCES lists %s, which is no longer different\n", forms[i]);
            failed++;
        } else if (loads != accepted[i] && (k == nknown || gpu)) {
            const char *why = loads ? "" : strstr(gpuexec_error_text(), "error   :");
            printf("%s: ptxas %s it, the device %s\n", forms[i], accepted[i] ? "takes" : "refuses",
                    loads ? "loads it" : "does not");
            if (why && getenv("FORMS_VERBOSE")) printf("    %.*s\n", (int)strcspn(why, "\n"), why);
            failed++;
        } else passed++;
    }
    for (unsigned k = 0; k < nknown; k++) {
        if (!known[k].met && step == 1) {
            printf("DIFFERENCES lists %s, which is not in LIST\n", known[k].form);
            failed++;
        }
        free(known[k].form);
    }
    gpuexec_shutdown();
    printf("suite forms: %u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "check";
    int code = 0;
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    read_list();
    if (!strcmp(what, "ptx")) print_ptx();
    else if (!strcmp(what, "verdicts")) print_verdicts();
    else if (!strcmp(what, "count")) printf("%u\n", nforms);
    else if (!strcmp(what, "texts"))
        for (unsigned i = 0; i < nforms; i++) puts(forms[i]);
    else {
        read_verdicts();
        if (!strcmp(what, "check")) code = check();
        else
            for (unsigned i = 0; i < nforms; i++)
                printf("%u %s %s\n", i, accepted[i] ? "takes" : "refuses", forms[i]);
    }
    for (unsigned i = 0; i < nforms; i++) free(forms[i]);
    for (unsigned s = 0; s < nsets; s++) free(sets[s].text);
    free(forms);
    free(accepted);
    return code;
}
