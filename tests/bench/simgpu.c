/* simgpu.c - how fast the CPU device is: kernels of kernels/ and of the corpus, as compiled by
   nvcc. Run it from the repository's root, with GPUEXEC_DRIVER naming libsimgpu.so
   (`make bench-simgpu` does). For each kernel: how many thread-instructions a launch executes, as
   the device itself counts them (SIMGPU_COUNT), the milliseconds it takes with one worker and with
   two, and the rates computed from these. Each time is the least of many, from processes that take
   turns, and the rate is by processor time, so that a busy machine disturbs it little; the ratio is
   that of elapsed times, and needs two idle processors. Arguments: rounds (default 5), then a part
   of a kernel's name, to time only those. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"

/* Arguments, one word each: f u b z are device memory of that many 4-byte elements: floats from 0.5
   to 1.5, random numbers, random numbers below 256, zeros; i r d are numbers: an int, a float, a
   double. */
static const struct kernel {
    const char *file, *name;
    unsigned grid[3], block[3], shared;
    const char *args;
    int straight;
} kernels[] = {
    { "kernels/vector_add", "vector_add", { 1024 }, { 256 }, 0, "f262144 f262144 z262144 i262144",
            1 },
    { "kernels/saxpy", "saxpy", { 1024 }, { 256 }, 0, "r2 f262144 z262144 i262144", 1 },
    { "kernels/saxpy", "saxpy_strided", { 64 }, { 256 }, 0, "r2 f262144 z262144 i262144", 0 },
    { "tests/device/corpus/ptx/saxpy", "daxpy", { 64 }, { 256 }, 0, "d2 f262144 z262144 i131072",
            0 },
    { "kernels/busy", "busy", { 64 }, { 256 }, 0, "u16384 i16384 i1664525 i1013904223 i1000", 0 },
    { "kernels/integer", "integer", { 64 }, { 256 }, 0, "i1 z65536 i16384", 1 },
    { "kernels/matmul", "matmul", { 12, 12 }, { 16, 16 }, 0, "f36864 f36864 z36864 i192 i192 i192",
            0 },
    { "tests/device/corpus/ptx/matmul", "sgemm", { 4, 4 }, { 256 }, 0,
            "f65536 f65536 z65536 i256 i256", 0 },
    { "kernels/transpose", "transpose", { 16, 16 }, { 32, 8 }, 0, "f262144 z262144 i512 i512", 0 },
    { "kernels/reduce", "reduce_tree_float", { 512 }, { 256 }, 1024, "f262144 z4096 i262144", 0 },
    { "kernels/reduce", "reduce_warps_float", { 128 }, { 256 }, 0, "f262144 z1 i262144", 0 },
    { "kernels/reduce", "reduce_atomic_int", { 512 }, { 256 }, 0, "u131072 z1 z1 z1 i131072", 0 },
    { "tests/device/corpus/ptx/scan", "scan", { 512 }, { 512 }, 0, "u262144 z262144", 0 },
    { "tests/device/corpus/ptx/scan", "scan_segments", { 512 }, { 512 }, 0,
            "u262144 b65536 z262144", 0 },
    { "kernels/histogram", "histogram", { 64 }, { 256 }, 0, "u65536 i262144 z256", 0 },
    { "tests/device/corpus/ptx/sort", "bitonic", { 64 }, { 256 }, 0, "u32768 u32768", 0 },
    { "tests/device/corpus/ptx/sort", "radix", { 64 }, { 256 }, 0, "u16384", 0 },
    { "tests/device/corpus/ptx/stencil", "stencil2d", { 32, 32 }, { 16, 16 }, 1296,
            "f262144 z262144 i512 i512", 0 },
    { "tests/device/corpus/ptx/stencil", "stencil3d", { 2, 16 }, { 32, 4 }, 0,
            "f262144 z262144 i64 i64 i64", 0 },
    { "tests/device/corpus/ptx/softmax", "softmax", { 256 }, { 256 }, 0, "f262144 z262144 i1024",
            0 },
    { "tests/device/corpus/ptx/softmax", "layer_norm_gelu", { 256 }, { 256 }, 0,
            "f262144 z262144 i1024", 0 },
    { "tests/device/corpus/ptx/nbody", "nbody_fast", { 16 }, { 64 }, 0, "f4096 z3072 i1024", 0 },
    { "tests/device/corpus/ptx/nbody", "nbody_exact", { 16 }, { 64 }, 0, "f4096 z3072 i1024", 0 },
    { "kernels/double_precision", "nbody_step", { 4 }, { 128 }, 0, "f8192 z8192 d0.01 d0.1 i512",
            0 },
    { "kernels/mandelbrot", "mandelbrot", { 32, 32 }, { 16, 16 }, 0,
            "z524288 i512 i512 d-2.2 d1.5 d0.006 d4 i100", 0 },
    { "tests/device/corpus/ptx/fft", "fft", { 64 }, { 128 }, 0, "f32768 z32768", 0 },
    { "tests/device/corpus/ptx/random", "monte_carlo", { 64 }, { 256 }, 0, "z64 i100", 0 },
    { "tests/device/corpus/ptx/math_float", "math_float", { 64 }, { 256 }, 0,
            "f16384 f16384 z524288 i16384", 0 },
    { "tests/device/corpus/ptx/half", "half_gemv", { 1024 }, { 32 }, 0, "b524288 b1024 z1024 i1024",
            0 },
};
enum { KERNELS = sizeof kernels / sizeof kernels[0], ARGUMENTS = 12, TIMES = 40 };

static double milliseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static void check(gpuexec_result result) {
    if (result == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* ---- the measuring process: prints the least milliseconds of a launch, elapsed and of processor
   time, or the thread-instructions of one ---- */

static gpuexec_ptr memory(gpuexec_context context, gpuexec_stream stream, char kind, size_t count) {
    unsigned *host = (unsigned *)malloc(4 * count), seed = 1;
    gpuexec_ptr p = gpuexec_alloc(context, 4 * count);
    size_t i;
    if (!host) exit(1);
    for (i = 0; i < count; i++) {
        float f;
        seed = seed * 1664525u + 1013904223u;
        f = 0.5f + (float)(seed >> 8) * 0x1p-24f;
        host[i] = kind == 'u' ? seed : kind == 'b' ? seed >> 24 : 0;
        if (kind == 'f') memcpy(&host[i], &f, 4);
    }
    gpuexec_copy_in(stream, p, host, 4 * count);
    check(gpuexec_stream_sync(stream));
    free(host);
    return p;
}

static int measure(const struct kernel *k) {
    union {
        gpuexec_ptr p;
        int i;
        float r;
        double d;
    } value[ARGUMENTS];
    const void *address[ARGUMENTS];
    union {
        void *object;
        unsigned long long (*function)(void);
    } executed;
    gpuexec_context context = gpuexec_context_open(0, NULL);
    gpuexec_stream stream = gpuexec_stream_create(context, NULL);
    gpuexec_dims dims = gpuexec_with_shared(gpuexec_grid(k->grid[0], k->block[0], 0), k->shared);
    gpuexec_args args = { address, NULL, 0, 0, { 0 } };
    gpuexec_kernel kernel;
    char path[200];
    const char *word;
    double least[2] = { 1e30, 1e30 }, spent = 0;
    int n;
    snprintf(path, sizeof path, "%s%s.ptx", k->file, strncmp(k->file, "tests", 5) ? "" : ".sm_90");
    kernel = gpuexec_kernel_get(gpuexec_module_load_file(context, path, NULL), k->name);
    if (k->grid[1]) dims.grid_y = k->grid[1];
    if (k->block[1]) dims.block_y = k->block[1];
    for (word = k->args; *word; word += strcspn(word, " "), word += *word == ' ') {
        const double x = atof(word + 1);
        if (*word == 'i') value[args.count].i = (int)x;
        else if (*word == 'r') value[args.count].r = (float)x;
        else if (*word == 'd') value[args.count].d = x;
        else value[args.count].p = memory(context, stream, *word, (size_t)x);
        address[args.count] = &value[args.count];
        args.count++;
    }
    if (getenv("SIMGPU_COUNT")) {
        executed.object = dlsym(
                dlopen(getenv("GPUEXEC_DRIVER"), RTLD_NOW), "simgpu_thread_instructions");
        if (!executed.object) {
            fprintf(stderr, "GPUEXEC_DRIVER does not name libsimgpu.so\n");
            return 1;
        }
        gpuexec_launch(kernel, stream, dims, args);
        check(gpuexec_stream_sync(stream));
        printf("%llu\n", executed.function());
        return 0;
    }
    for (n = 0; n < TIMES && spent < 400; n++) {
        double elapsed = milliseconds(CLOCK_MONOTONIC),
               used = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        gpuexec_launch(kernel, stream, dims, args);
        check(gpuexec_stream_sync(stream));
        elapsed = milliseconds(CLOCK_MONOTONIC) - elapsed;
        used = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used;
        spent += elapsed;
        if (elapsed < least[0]) least[0] = elapsed;
        if (used < least[1]) least[1] = used;
    }
    printf("%.6f %.6f\n", least[0], least[1]);
    return gpuexec_shutdown() != GPUEXEC_OK;
}

/* ---- the process that starts them ---- */

/* Lowers the numbers in least to those that the process prints. */
static void run(const char *self, const char *setting, int kernel, double least[2]) {
    char line[1000];
    double x;
    FILE *pipe;
    int n;
    snprintf(line, sizeof line, "%s %s measure %d", setting, self, kernel);
    pipe = popen(line, "r");
    for (n = 0; pipe && n < 2 && fscanf(pipe, "%lf", &x) == 1; n++)
        if (x < least[n]) least[n] = x;
    if (!n || pclose(pipe)) {
        fprintf(stderr, "%s failed\n", line);
        exit(1);
    }
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    double rates[KERNELS], ratios[KERNELS];
    int k, n = 0;
    if (argc == 3 && !strcmp(argv[1], "measure")) return measure(&kernels[atoi(argv[2])]);
    printf("%-20s %12s %10s %8s %10s %8s\n", "kernel", "thread-instr", "1: ms", "G/s", "2: ms",
            "ratio");
    for (k = 0; k < KERNELS; k++) {
        double count[2] = { 1e30, 0 }, one[2] = { 1e30, 1e30 }, two[2] = { 1e30, 1e30 };
        int r;
        if (argc > 2 && !strstr(kernels[k].name, argv[2])) continue;
        run(argv[0], "SIMGPU_COUNT=1", k, count);
        for (r = 0; r < rounds; r++) {
            run(argv[0], "SIMGPU_THREADS=1", k, one);
            run(argv[0], "SIMGPU_THREADS=2", k, two);
        }
        rates[n] = count[0] / one[1] * 1e-6;
        ratios[n] = one[0] / two[0];
        printf("%-20s %12.0f %10.3f %7.3f%s %10.3f %8.2f\n", kernels[k].name, count[0], one[1],
                rates[n], kernels[k].straight ? "*" : " ", two[0], ratios[n]);
        fflush(stdout);
        n++;
    }
    if (!n) return 1;
    qsort(rates, (size_t)n, sizeof rates[0], by_size);
    qsort(ratios, (size_t)n, sizeof ratios[0], by_size);
    printf("median of %d: %.3f G thread-instructions/s with one worker (%.3f to %.3f), with two "
           "%.2f times as many (%.2f to %.2f). *: straight-line\n",
            n, rates[n / 2], rates[0], rates[n - 1], ratios[n / 2], ratios[0], ratios[n - 1]);
    return 0;
}
