/*  cc examples/quicksort_cdp.c -o quicksort_cdp && ./quicksort_cdp [KEYS]

    Sorts random keys with kernels that launch kernels (dynamic parallelism,
    kernels/quicksort_cdp.cu): a quicksort whose blocks launch one child for each part, in streams
    made on the device, and a merge sort whose passes are tail launches. Compares with qsort. Parent
    and child share global memory, where the keys are, and constant memory: the host sets `leaf`
    once, and every generation reads it. Shared memory is each block's own.
    The kernels call the device runtime, CUDA's library libcudadevrt.a, which gpuexec finds and
    links. Without it, the program prints where it was looked for and how to get it, and exits with
    77. The CPU device needs no library.

    Prints, on the CPU device:
        quicksort:  65536 keys right in 155.6 ms; kernels launched 210 kernels, 12 generations deep
        merge_sort: 65536 keys right in 199.7 ms; kernels launched 6 kernels, 6 generations deep
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

static int compare(const void *a, const void *b) {
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

/* A variable of the module: kernels count in it. */
static unsigned variable(gpuexec_module mod, const char *name) {
    unsigned value = 0;
    gpuexec_module_read_global(mod, name, &value, sizeof value);
    return value;
}

/* Sorts a copy of the keys on the device. Returns whether the result is `wanted`. */
static int sort(gpuexec_context ctx, gpuexec_module mod, const char *name, const unsigned *keys,
        unsigned *got, const unsigned *wanted, unsigned n) {
    static const unsigned zero = 0;
    const size_t bytes = n * sizeof *keys;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dkeys = gpuexec_alloc(ctx, bytes), dspare = gpuexec_alloc(ctx, bytes);
    gpuexec_kernel k = gpuexec_kernel_get(mod, name);
    const int quick = strcmp(name, "quicksort") == 0;
    unsigned depth = 0;
    double start;
    int ok;
    gpuexec_module_write_global(mod, "launches", &zero, sizeof zero);
    gpuexec_module_write_global(mod, "deepest", &zero, sizeof zero);
    gpuexec_copy_in(s, dkeys, keys, bytes);
    ok = gpuexec_stream_sync(s) == GPUEXEC_OK;
    start = example_milliseconds();
    if (quick) gpuexec_launch(k, s, gpuexec_grid(1, 256, 0), GPUEXEC_ARGS(dkeys, dspare, n, depth));
    else
        gpuexec_launch(
                k, s, gpuexec_grid((n + 1023) / 1024, 256, 0), GPUEXEC_ARGS(dkeys, dspare, n));
    ok &= gpuexec_stream_sync(s) == GPUEXEC_OK; /* a kernel is done when all of its children are */
    start = example_milliseconds() - start;
    gpuexec_copy_out(s, got, dkeys, bytes);
    ok &= gpuexec_stream_sync(s) == GPUEXEC_OK;
    if (!ok) {
        fputs(gpuexec_error_text(), stderr);
        return 0;
    }
    ok = memcmp(got, wanted, bytes) == 0;
    printf("%s:%s %u keys %s in %.1f ms; kernels launched %u kernels, %u generations deep\n", name,
            quick ? " " : "", n, ok ? "right" : "WRONG", start, variable(mod, "launches"),
            variable(mod, "deepest"));
    if (variable(mod, "failed"))
        printf("  a launch failed with cudaError %u\n", variable(mod, "failed"));
    gpuexec_free(dkeys);
    gpuexec_free(dspare);
    gpuexec_stream_destroy(s);
    return ok;
}

int main(int argc, char **argv) {
    const unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 65536, leaf = 1024;
    unsigned *const keys = (unsigned *)calloc(3 * (size_t)n + 1, sizeof *keys),
                    *const got = keys + n;
    unsigned *const wanted = got + n;
    unsigned i, seed = 1;
    int ok;
    if (!n || !keys) return 1;
    for (i = 0; i < n; i++) wanted[i] = keys[i] = (seed = seed * 1664525u + 1013904223u) >> 4;
    qsort(wanted, n, sizeof *wanted, compare);

    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_PENDING_LAUNCHES, n / 128 > 2048 ? n / 128 : 2048);
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, example_ptx("quicksort_cdp.ptx"));
    gpuexec_module mod = gpuexec_linker_load(linker);
    if (!gpuexec_ok(mod)) {
        fputs(gpuexec_error_text(), stderr);
        return strstr(gpuexec_error_text(), "GPUEXEC_CUDADEVRT") ? 77 : 1;
    }
    gpuexec_linker_destroy(linker);
    gpuexec_module_write_global(mod, "leaf", &leaf, sizeof leaf);
    ok = sort(ctx, mod, "quicksort", keys, got, wanted, n);
    ok &= sort(ctx, mod, "merge_sort", keys, got, wanted, n);
    free(keys);
    gpuexec_shutdown();
    return !ok;
}
