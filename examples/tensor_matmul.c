/*  cc examples/tensor_matmul.c -o tensor_matmul && ./tensor_matmul

    C = A B, by a plain kernel that uses float, and on tensor cores, which multiply f16 and add f32.
    The elements of A and B are multiples of 1/1024. f16 represents these exactly, so both kernels
    have the same task. Compares both results with sums in double. The PTX ISA says that tensor
    cores add with at least single precision: each of the K additions may be wrong by 2^-23 of the
    sum of the absolute products. First a size that fills no tile, with sums that float represents
    exactly; then larger sizes, until the plain kernel takes 10 ms: from 2048 on, which only a GPU
    reaches, it fails if tensor cores take longer.
    `./tensor_matmul M N K` computes only that size. Needs compute capability 8.0.

    Prints, on the CPU device, whose times mean little:
        200 x 72 times 72 x 136
          plain         largest difference 0.0000000, 0.00 % of what is allowed
          tensor cores  largest difference 0.0000000, 0.00 % of what is allowed
        256 x 256 times 256 x 256
          plain         largest difference 0.0000114, 0.59 % of what is allowed
          tensor cores  largest difference 0.0000057, 0.29 % of what is allowed
          plain            61.888 ms,       0.5 GFLOP/s
          tensor cores    237.256 ms,       0.1 GFLOP/s
    and on an H200 at the end:
        4096 x 4096 times 4096 x 4096
          plain         largest difference 0.0001936, 0.04 % of what is allowed
          tensor cores  largest difference 0.0004911, 0.10 % of what is allowed
          plain            16.935 ms,    8115.8 GFLOP/s
          tensor cores      0.623 ms,  220613.0 GFLOP/s
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { PLAIN, TENSOR, KERNELS };
enum { ROUNDS = 3, LARGEST = 16384, TILE = 128, THREADS = 256 };
static const char *const names[] = { "plain", "tensor cores" };

static gpuexec_context ctx;
static gpuexec_stream s;
static gpuexec_kernel kernels[KERNELS], to_f16;
static int m, n, k; /* A is m x k, B is k x n, C is m x n */
static int wrong, slower;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}
static void *zeros(size_t count, size_t bytes) {
    void *const p = calloc(count, bytes);
    if (p) return p;
    fprintf(stderr, "no memory\n");
    exit(1);
}

/* A matrix of random multiples of 1/1024 from -1 to 1: on the host, and as f32 and f16 on the
   device. */
static float *random_matrix(int count, gpuexec_ptr *f32, gpuexec_ptr *f16) {
    static unsigned random = 1;
    const size_t bytes = (size_t)count * sizeof(float);
    float *const x = (float *)zeros((size_t)count, sizeof *x);
    int i;
    for (i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        x[i] = (float)((int)(random >> 8) % 2049 - 1024) / 1024;
    }
    *f32 = gpuexec_alloc(ctx, bytes);
    *f16 = gpuexec_alloc(ctx, bytes / 2);
    gpuexec_copy_in(s, *f32, x, bytes);
    gpuexec_launch(
            to_f16, s, gpuexec_grid_for((size_t)count, THREADS), GPUEXEC_ARGS(*f32, *f16, count));
    return x;
}

/* Compares all rows of c if the product is small, otherwise 8 rows, with the first and the last. */
static void compare(const float *a, const float *b, const float *c, const char *name) {
    const int rows = (double)m * n * k < 1e8 || m < 8 ? m : 8;
    double *const sums = (double *)zeros((size_t)n, 2 * sizeof *sums), *const sizes = sums + n;
    double largest = 0, share = 0;
    int r, i, j;
    for (r = 0; r < rows; r++) {
        const size_t row = rows > 1 ? (size_t)r * (size_t)(m - 1) / (size_t)(rows - 1) : 0;
        memset(sums, 0, 2 * (size_t)n * sizeof *sums);
        for (i = 0; i < k; i++)
            for (j = 0; j < n; j++) {
                const double x = (double)a[row * (size_t)k + (size_t)i] *
                        (double)b[(size_t)i * (size_t)n + (size_t)j];
                sums[j] += x;
                sizes[j] += x < 0 ? -x : x;
            }
        for (j = 0; j < n; j++) {
            const double x = (double)c[row * (size_t)n + (size_t)j] - sums[j];
            const double apart = x < 0 ? -x : x, allowed = k * sizes[j] / (1 << 23);
            wrong += !(apart <= allowed); /* also if it is not a number */
            if (apart > largest) largest = apart;
            if (apart > share * allowed) share = apart / allowed;
        }
    }
    printf("  %-12s  largest difference %.7f, %.2f %% of what is allowed\n", name, largest,
            100 * share);
    free(sums);
}

/* Computes C with each kernel, compares it, and, if `timed`, measures the kernel. Returns the
   milliseconds of the plain one. */
static double multiply(int timed) {
    gpuexec_ptr f32[3], f16[2];
    float *const a = random_matrix(m * k, &f32[0], &f16[0]);
    float *const b = random_matrix(k * n, &f32[1], &f16[1]);
    float *const c = (float *)zeros((size_t)m * (size_t)n, sizeof *c);
    const size_t bytes = (size_t)m * (size_t)n * sizeof *c;
    double ms[KERNELS] = { 0, 0 };
    int way, i;
    f32[2] = gpuexec_alloc(ctx, bytes);
    printf("%d x %d times %d x %d\n", m, k, k, n);
    for (way = 0; way < KERNELS; way++) {
        const gpuexec_ptr *const in = way == PLAIN ? f32 : f16;
        gpuexec_dims dims = gpuexec_grid_for_2d((size_t)n, (size_t)m, 16, 16);
        gpuexec_event begin, end;
        if (way == TENSOR) { /* a block computes a tile */
            dims = gpuexec_grid_for_2d((size_t)n, (size_t)m, TILE, TILE);
            dims.block_x = THREADS, dims.block_y = 1;
        }
        gpuexec_fill(s, f32[2], 0xFF, 1, bytes);
        gpuexec_launch(kernels[way], s, dims, GPUEXEC_ARGS(in[0], in[1], f32[2], m, n, k));
        gpuexec_copy_out(s, c, f32[2], bytes);
        must(gpuexec_stream_sync(s));
        compare(a, b, c, names[way]);
        if (!timed) continue;
        begin = gpuexec_stream_record(s, NULL);
        for (i = 0; i < ROUNDS; i++)
            gpuexec_launch(kernels[way], s, dims, GPUEXEC_ARGS(in[0], in[1], f32[2], m, n, k));
        end = gpuexec_stream_record(s, NULL);
        must(gpuexec_stream_sync(s));
        ms[way] = gpuexec_event_elapsed_ms(begin, end) / ROUNDS;
        must(gpuexec_event_destroy(begin));
        must(gpuexec_event_destroy(end));
    }
    for (way = 0; timed && way < KERNELS; way++)
        printf("  %-12s  %9.3f ms, %9.1f GFLOP/s\n", names[way], ms[way],
                2e-6 * m * n * k / ms[way]);
    slower = timed && ms[TENSOR] >= ms[PLAIN];
    for (i = 0; i < 3; i++) must(gpuexec_free(f32[i]));
    for (i = 0; i < 2; i++) must(gpuexec_free(f16[i]));
    free(a), free(b), free(c);
    return ms[PLAIN];
}

int main(int argc, char **argv) {
    gpuexec_module mod, tensor_mod;
    gpuexec_device_info info;
    must(gpuexec_device_get_info(0, &info));
    if (info.compute_capability < 80) {
        printf("device 0 has compute capability %d.%d; this needs 8.0\n",
                info.compute_capability / 10, info.compute_capability % 10);
        return 77;
    }
    m = argc == 4 ? atoi(argv[1]) : 200, n = argc == 4 ? atoi(argv[2]) : 136;
    k = argc == 4 ? atoi(argv[3]) : 72;
    if ((argc != 1 && argc != 4) || m < 1 || n < 1 || k < 1 || m > LARGEST || n > LARGEST ||
            k > LARGEST || n % 8 || k % 8) {
        fprintf(stderr,
                "usage: %s [M N K]\n"
                "each from 1 to %d; N and K multiples of 8: a row of f16 is copied 16 bytes at a "
                "time\n",
                argv[0], LARGEST);
        return 2;
    }
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    mod = gpuexec_module_load_file(ctx, example_ptx("matmul.ptx"), NULL);
    tensor_mod = gpuexec_module_load_file(ctx, example_ptx("tensor_matmul.ptx"), NULL);
    kernels[PLAIN] = gpuexec_kernel_get(mod, "matmul");
    kernels[TENSOR] = gpuexec_kernel_get(tensor_mod, "tensor_matmul");
    to_f16 = gpuexec_kernel_get(tensor_mod, "to_f16");
    must(gpuexec_take_error());
    multiply(argc == 4);
    if (argc == 1)
        for (m = n = k = 256; multiply(1) < 10 && m < LARGEST / 2; m *= 2, n = k = m) {}
    if (wrong) printf("%d elements differ by more than is allowed\n", wrong);
    slower = slower && argc == 1 && m >= 2048;
    if (slower) printf("tensor cores take longer than the plain kernel\n");
    return gpuexec_shutdown() != GPUEXEC_OK || wrong || slower;
}
