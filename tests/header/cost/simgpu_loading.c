/* simgpu_loading.c - how much processor time and memory the CPU device needs to load a text of n
   and of 2 n kernels, called functions and so on: simgpu_loading DRIVER N. Prints a line for each
   kind: its name, n, ms and KiB of n, ms and KiB of 2 n. Each load is in a child, so that its
   memory is separate. Loads of n and of 2 n take turns, three times each; while the shortest of
   these suggest more than twice the time, up to 15 times, because other processes may use the
   caches. Texts that nest deeper than the device supports must be refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../support/calls.h"

static const char *driver;
struct result {
    int code;
    double ms;
    long kib;
};

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may keep the processors busy */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void load(const char *text, const char *entry, struct result *out) {
    void *library = dlopen(driver, RTLD_NOW), *context = NULL, *module = NULL, *function = NULL;
    if (!library) _exit(1);
    const driver_calls cu = calls_load(library);
    if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) || cu.cuCtxSetCurrent(context))
        _exit(1);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    const double start = now_ms();
    out->code = cu.cuModuleLoadData(&module, text);
    out->ms = now_ms() - start;
    getrusage(RUSAGE_SELF, &after);
    out->kib = after.ru_maxrss - before.ru_maxrss;
    if (!out->code &&
            (cu.cuModuleGetFunction(&function, module, entry) || cu.cuModuleUnload(module)))
        _exit(1);
    _exit(0);
}

enum { LOADS = 3, MOST_LOADS = 15 };
/* Loads the text once, and keeps the shorter time. Returns 0 if the child fails. */
static int in_child(const char *text, const char *entry, struct result *best) {
    struct result *shared = mmap(
            NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        load(text, entry, shared);
    }
    const int ended = waitpid(child, &status, 0) == child && status == 0;
    if (ended && (best->code < 0 || shared->ms < best->ms)) *best = *shared;
    munmap(shared, sizeof *shared);
    return ended;
}

/* The parts of a PTX text: n copies of `before` stand before its entry, and n of `body` in it. %d
   becomes the number of the copy, at most twice in each. */
static const struct kind {
    const char *name, *before, *body, *close;
    int refused;
} kinds[] = {
    { "kernels", ".visible .entry k%d(.param .u64 p){ .reg .u32 r; add.u32 r,r,1; ret; }\n", NULL,
            NULL, 0 },
    { "functions", ".func f%d() { ret; }\n", "call f%d;\n", NULL, 0 },
    { "taken", ".func f%d() { ret; }\n", "mov.u64 a, f%d;\n", NULL, 0 },
    { "labels", NULL, "L%d: setp.eq.u32 q, x, y; @q bra L%d;\n", NULL, 0 },
    { "variables", ".global .u32 g%d = 7;\n", NULL, NULL, 0 },
    { "shared", NULL, ".shared .u16 s%d; st.shared.u16 [s%d], 1;\n", NULL, 0 },
    { "locals", NULL, ".local .u32 l%d; st.local.u32 [l%d], 1;\n", NULL, 0 },
    { "scopes", NULL, "{ .reg .u32 a%d; add.u32 a%d, x, 1; }\n", NULL, 0 },
    { "registers", NULL, ".reg .u32 r%d; add.u32 x, r%d, 1;\n", NULL, 0 },
    { "nest", NULL, "{ ", "} ", 1 },
    { "expression", NULL, "mov.u32 x, (", NULL, 1 },
};

static char *text_of(const struct kind *k, int n) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int i = 0; k->before && i < n; i++) fprintf(f, k->before, i);
    fprintf(f,
            ".visible .entry last(.param .u64 p) {\n.reg .u32 x, y; .reg .u64 a; .reg .pred q;\n");
    for (int i = 0; k->body && i < n; i++) fprintf(f, k->body, i, i);
    for (int i = 0; k->close && i < n; i++) fprintf(f, "%s", k->close);
    fprintf(f, "ret;\n}\n");
    fclose(f);
    return text;
}

int main(int argc, char **argv) {
    const int n = argc > 2 ? atoi(argv[2]) : 10000;
    driver = argc > 1 ? argv[1] : getenv("GPUEXEC_DRIVER");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct result r[2] = { { -1, 0, 0 }, { -1, 0, 0 } };
        char *text[2] = { text_of(&kinds[i], n), text_of(&kinds[i], 2 * n) };
        for (int k = 0; k < LOADS || (k < MOST_LOADS && r[1].ms > 2.2 * r[0].ms); k++)
            for (int twice = 0; twice < 2; twice++) {
                if (in_child(text[twice], "last", &r[twice]) &&
                        r[twice].code == (kinds[i].refused ? 218 : 0))
                    continue;
                fprintf(stderr, "%s: loading %d gives %d\n", kinds[i].name, n << twice,
                        r[twice].code);
                return 1;
            }
        free(text[0]);
        free(text[1]);
        printf("%s %d %.2f %ld %.2f %ld\n", kinds[i].name, n, r[0].ms, r[0].kib, r[1].ms, r[1].kib);
    }
    return 0;
}
