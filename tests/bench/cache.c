/* cache.c - the second start with the cache on disk against the first. Each start is a new process
   with an open context; measured is the time from the call to the kernels' handles: linking the 21
   kernels of 16 PTX files, and compiling kernels/reduce.cu with NVRTC. The cache is empty before
   each first start. The driver's own cache is off. */
#define _GNU_SOURCE /* posix_spawn */
#include "bench.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 11 };

static gpuexec_module link_all(gpuexec_context context) {
    static const char *const names[] = { "busy", "double_precision", "grid_sum", "histogram",
        "integer", "jacobi", "ring_exchange", "gpuexec_barrier", "link_main", "link_curve",
        "mandelbrot", "matmul", "reduce", "saxpy", "transpose", "vector_add" };
    gpuexec_linker_desc desc;
    gpuexec_linker linker;
    gpuexec_module module;
    char path[64];
    unsigned i;
    memset(&desc, 0, sizeof desc);
    desc.cache = 1;
    linker = gpuexec_linker_create(context, &desc);
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "kernels/%s.ptx", names[i]);
        gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, path);
    }
    module = gpuexec_linker_load(linker);
    gpuexec_linker_destroy(linker);
    return module;
}
static gpuexec_module compile(gpuexec_context context) {
    static char text[1 << 16];
    FILE *file = fopen("kernels/reduce.cu", "r");
    if (!file || fread(text, 1, sizeof text - 1, file) == 0 || fclose(file)) exit(1);
    return gpuexec_module_compile(context, text, "reduce.cu", NULL);
}
/* In a new process: prints the time, the number of kernels, and whether they were cached. */
static int start(const char *how) {
    gpuexec_context context = gpuexec_context_open(0, NULL);
    double begin, end;
    gpuexec_module module;
    int i, count;
    check(gpuexec_take_error());
    begin = microseconds();
    module = strcmp(how, "--link") == 0 ? link_all(context) : compile(context);
    count = gpuexec_module_kernel_count(module);
    for (i = 0; i < count; i++)
        (void)gpuexec_kernel_get(module, gpuexec_module_kernel_name(module, i));
    end = microseconds();
    check(gpuexec_take_error());
    printf("%.1f %d %d\n", end - begin, count, gpuexec_module_is_cached(module));
    return 0;
}

/* Runs this program once more; returns what it measured. */
static double run(char *program, const char *how, int cached, int *kernels) {
    extern char **environ;
    char *arguments[3], said[64] = "";
    double us = 0;
    int ends[2], status = 1, was = -1;
    ssize_t n;
    pid_t process;
    posix_spawn_file_actions_t actions;
    arguments[0] = program;
    arguments[1] = (char *)(uintptr_t)how;
    arguments[2] = NULL;
    if (pipe(ends)) exit(1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (posix_spawn(&process, program, &actions, NULL, arguments, environ)) {
        perror(program);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    n = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    waitpid(process, &status, 0);
    if (n <= 0 || status != 0 || sscanf(said, "%lf %d %d", &us, kernels, &was) != 3 ||
            was != cached) {
        fprintf(stderr, "%s %s failed, or was %scached\n", program, how, was == 1 ? "" : "not ");
        exit(1);
    }
    return us;
}
static void compare(char *program, const char *how, const char *what, int rounds) {
    double first[ROUNDS], second[ROUNDS], ratio[ROUNDS];
    int i, kernels = 0;
    for (i = 0; i < rounds; i++) {
        check(gpuexec_cache_clear());
        first[i] = run(program, how, 0, &kernels);
        second[i] = run(program, how, 1, &kernels);
        ratio[i] = first[i] / second[i];
    }
    printf("| %s, %d kernels | %.2f | %.3f | %.1f |\n", what, kernels,
            median(first, (size_t)rounds) / 1e3, median(second, (size_t)rounds) / 1e3,
            median(ratio, (size_t)rounds));
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/gpuexec-bench-XXXXXX";
    int rounds;
    if (argc > 1) return start(argv[1]);
    if (!mkdtemp(folder)) return 1;
    setenv("GPUEXEC_CACHE", folder, 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    /* this keeps the driver loaded: no other process has to load its firmware */
    rounds = smoke() ? 2 : ROUNDS;
    printf("\n## The second start with the cache on disk\n\n| what | first, ms | second, ms | "
           "times faster |\n"
           "|---|---|---|---|\n");
    compare(argv[0], "--link", "linking PTX", rounds);
    if (gpuexec_compiler_version())
        compare(argv[0], "--compile", "compiling kernels/reduce.cu", rounds);
    else printf("\nskipped: compiling: no NVRTC was found\n");
    check(gpuexec_cache_clear());
    rmdir(folder);
    return 0;
}
