/* start.c - the time from the start of a process to its first result: this program starts itself
   and the runtime API's (start_runtime.cu, if it was compiled: the first argument), one after the
   other and interleaved. Each loads a kernel, copies numbers in, launches, copies out, and prints a
   line; the time is measured here, from the start of the process until that line. The driver's
   cache of compiled PTX is warm, because the first round is not counted. */
#define _GNU_SOURCE /* posix_spawn */
#include "bench.h"
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, ROUNDS = 7 };
static float a[N], b[N], c[N];

static int right(void) {
    int i;
    for (i = 0; i < N; i++)
        if (c[i] < 3.0f || c[i] > 3.0f) return 0;
    return puts("done") >= 0 && fflush(stdout) == 0;
}

static int with_gpuexec(void) {
    int n = N;
    gpuexec_context context = gpuexec_context_open(0, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(
            gpuexec_module_load_file(context, "kernels/vector_add.ptx", NULL), "vector_add");
    gpuexec_stream stream = gpuexec_stream_create(context, NULL);
    gpuexec_ptr da = gpuexec_alloc(context, sizeof a), db = gpuexec_alloc(context, sizeof b),
                dc = gpuexec_alloc(context, sizeof c);
    gpuexec_copy_in(stream, da, a, sizeof a);
    gpuexec_copy_in(stream, db, b, sizeof b);
    gpuexec_launch(kernel, stream, gpuexec_grid_for(N, 256), GPUEXEC_ARGS(da, db, dc, n));
    gpuexec_copy_out(stream, c, dc, sizeof c);
    check(gpuexec_stream_sync(stream));
    return !right();
}

/* The same with the driver's calls, as exported by its library: this loads only the calls it
   needs. */
static void *library;
#define CALL(name, values) \
    do { \
        driver_calls cu; \
        void *const symbol = dlsym(library, #name); \
        memcpy(&cu.name, &symbol, sizeof symbol); \
        if (!symbol || cu.name values) { \
            fprintf(stderr, "%s failed\n", #name); \
            return 1; \
        } \
    } while (0)
static int with_driver(void) {
    static char text[65536];
    const char *path = getenv("GPUEXEC_DRIVER");
    FILE *file = fopen("kernels/vector_add.ptx", "r");
    struct CUctx_st *context;
    struct CUmod_st *module;
    struct CUfunc_st *function;
    struct CUstream_st *stream;
    gpuexec_ptr da, db, dc;
    int device, n = N;
    void *arguments[4];
    arguments[0] = &da;
    arguments[1] = &db;
    arguments[2] = &dc;
    arguments[3] = &n;
    if (!file || fread(text, 1, sizeof text - 1, file) == 0 || fclose(file)) return 1;
    library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    CALL(cuInit, (0));
    CALL(cuDeviceGet, (&device, 0));
    CALL(cuDevicePrimaryCtxRetain, (&context, device));
    CALL(cuCtxSetCurrent, (context));
    CALL(cuModuleLoadData, (&module, text));
    CALL(cuModuleGetFunction, (&function, module, "vector_add"));
    CALL(cuStreamCreate, (&stream, 0));
    CALL(cuMemAlloc_v2, (&da, sizeof a));
    CALL(cuMemAlloc_v2, (&db, sizeof b));
    CALL(cuMemAlloc_v2, (&dc, sizeof c));
    CALL(cuMemcpyHtoDAsync_v2, (da, a, sizeof a, stream));
    CALL(cuMemcpyHtoDAsync_v2, (db, b, sizeof b, stream));
    CALL(cuLaunchKernel, (function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
    CALL(cuMemcpyDtoHAsync_v2, (c, dc, sizeof c, stream));
    CALL(cuStreamSynchronize, (stream));
    return !right();
}

static double start(char *program, const char *how) {
    extern char **environ;
    const double begin = microseconds();
    double end;
    char *arguments[3], said[8] = "";
    int ends[2], status = 1;
    pid_t process;
    posix_spawn_file_actions_t actions;
    arguments[0] = program;
    arguments[1] = (char *)(uintptr_t)how;
    arguments[2] = NULL;
    if (pipe(ends)) exit(1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (posix_spawn(&process, program, &actions, NULL, arguments, environ)) {
        perror(program);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (read(ends[0], said, 5) != 5) said[0] = 0;
    end = microseconds();
    close(ends[0]);
    waitpid(process, &status, 0);
    if (status != 0 || strcmp(said, "done\n") != 0) {
        fprintf(stderr, "%s %s failed\n", program, how);
        exit(1);
    }
    return end - begin;
}
static char *self, *runtime;
static double start_driver(int count) { return count * start(self, "--driver"); }
static double start_gpuexec(int count) { return count * start(self, "--gpuexec"); }
static double start_runtime(int count) { return count * start(runtime, "--runtime"); }

int main(int argc, char **argv) {
    static const burst_function ways[] = { start_driver, start_gpuexec, start_runtime };
    static const char *const names[] = { "the driver's calls", "gpuexec", "runtime API" };
    unsigned i;
    int quick;
    for (i = 0; i < N; i++) {
        a[i] = 1.0f;
        b[i] = 2.0f;
    }
    if (argc > 1 && strcmp(argv[1], "--gpuexec") == 0) return with_gpuexec();
    if (argc > 1 && strcmp(argv[1], "--driver") == 0) return with_driver();
    /* this process keeps the driver loaded, so that no other has to load its firmware */
    quick = smoke();
    self = argv[0];
    runtime = quick ? NULL : argv[1];
    contest(ways, runtime ? 3 : 2, quick ? 2 : ROUNDS, 1, 1);
    printf("\n## From the start of a process to its first result\n\n| with | ms | ratio to the "
           "first |\n"
           "|---|---|---|\n");
    for (i = 0; i < (runtime ? 3u : 2u); i++)
        printf("| %s | %.1f | %.3f |\n", names[i], contest_time(i) / 1e3, contest_ratio(i, 0));
    if (!runtime)
        printf("\nskipped: the runtime API: %s\n",
                quick ? "it runs on GPUs only" : "it was not compiled (this needs nvcc)");
    return 0;
}
