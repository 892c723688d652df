/*  cc examples/multi_device_cg.c -o multi_device_cg && ./multi_device_cg [cells in a row and in a
    column]

    Solves the Poisson equation on a square with zeros at its edges, for a hot and a cold spot, by
    the method of conjugate gradients, on all devices of the same type, with one launch for all
    iterations. Each device has a slab of rows, and its kernels write residuals and parts of sums
    into the others' memory (without peer access, all of these are in host memory). The program
    compares the solution with the CPU's, computes what is left of the equation, and draws the
    residuals of all iterations to cg.svg in the current directory.

    Prints, on two CPU devices:
        64 x 64 cells on 2 devices, through device memory: 228 iterations in 615.1 ms
        largest difference from the CPU's solution: 1.2e-15 of the largest cell
        |b - A x|^2 / |b|^2: 8.5e-21; wrote cg.svg
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "devices.h"
#include "picture.h"

enum { THREADS = 256, ITERATIONS = 20000 };
/* the same as cg_slab in kernels/conjugate_gradient.cu */
typedef struct slab {
    gpuexec_ptr barrier, x, q, r, p, above, below, to_above, to_below, parts[MOST], curve, done;
    int width, rows, iterations;
    double enough;
} slab;

static slab part[MOST];
static gpuexec_context ctx[MOST];
static gpuexec_stream stream[MOST];
static float curve[ITERATIONS];
static const float *const curves[] = { curve };
static const double enough = 1e-10;

/* q = A p on the CPU; returns the product of p and q. Rows 0 and n + 1 are zeros. */
static double apply(double *q, const double *p, int n) {
    const int width = n + 2;
    double sum = 0;
    int i, x;
    for (i = width; i < width * (n + 1); i += width)
        for (x = i + 1; x <= i + n; x++) {
            q[x] = 4 * p[x] - p[x - width] - p[x + width] - p[x - 1] - p[x + 1];
            sum += p[x] * q[x];
        }
    return sum;
}
static double square(const double *v, int n) {
    double sum = 0;
    int i;
    for (i = 0; i < n; i++) sum += v[i] * v[i];
    return sum;
}
/* The same on the CPU; r has b at first. */
static void on_cpu(double *x, double *r, double *p, double *q, int n) {
    const int cells = (n + 2) * (n + 2);
    const double bb = square(r, cells);
    double rr = bb, before;
    int i, k;
    memcpy(p, r, (size_t)cells * sizeof *p);
    for (k = 0; k < ITERATIONS && rr > enough * enough * bb; k++) {
        const double alpha = rr / apply(q, p, n);
        for (i = 0; i < cells; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i];
        before = rr, rr = square(r, cells);
        for (i = 0; i < cells; i++) p[i] = r[i] + rr / before * p[i];
    }
}
static double largest(const double *v, const double *minus, int cells) {
    double most = 0;
    int i;
    for (i = 0; i < cells; i++) {
        const double d = minus ? v[i] - minus[i] : v[i];
        if (!(d <= most && -d <= most)) most = d < 0 ? -d : d;
    }
    return most;
}

int main(int argc, char **argv) {
    static gpuexec_device_launch launch[MOST];
    static const void *argument[MOST];
    static const unsigned short size = sizeof(slab);
    const int count = identical_devices(MOST), n = argc > 1 ? atoi(argv[1]) : 64, width = n + 2;
    const size_t row = (size_t)width * sizeof(double);
    gpuexec_multi_desc desc = { 0 };
    gpuexec_event t0, t1;
    double *v[6], left, difference; /* b, x, r, p, q; the devices' x */
    int i, k, direct, most, blocks, done = 0;
    if (count == 0 || n < count || n > 8192) {
        if (count) fprintf(stderr, "%d rows on %d devices: use %d to 8192 rows\n", n, count, count);
        else fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    for (i = 0; i < 6; i++)
        if (!(v[i] = (double *)calloc((size_t)width, row))) return 1;
    v[0][(n / 4 + 1) * width + n / 3 + 1] = 1, v[0][(n * 3 / 4 + 1) * width + n / 2 + 1] -= 0.5;
    memcpy(v[2], v[0], (size_t)width * row);
    on_cpu(v[1], v[2], v[3], v[4], n);

    for (i = 0; i < count; i++) {
        ctx[i] = gpuexec_context_open(i, NULL);
        stream[i] = gpuexec_stream_create(ctx[i], NULL);
        launch[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(ctx[i], example_ptx("conjugate_gradient.ptx"), NULL),
                "conjugate_gradient");
        launch[i].stream = stream[i];
    }
    t0 = gpuexec_event_create(ctx[0], NULL), t1 = gpuexec_event_create(ctx[0], NULL);
    /* also enables peer access */
    desc.barrier = gpuexec_barrier_create(ctx, (unsigned)count, NULL);
    direct = gpuexec_barrier_is_direct(desc.barrier);
    most = gpuexec_kernel_cooperative_blocks(launch[0].kernel, THREADS, 0);
    blocks = n / count < most ? n / count : most;
    for (i = 0; i < count; i++) {
        const int first = n * i / count, rows = n * (i + 1) / count - first;
        const size_t bytes = (size_t)rows * row,
                     slots = 2 * (size_t)(count * blocks) * sizeof(double);
        slab *s = &part[i];
        s->barrier = gpuexec_barrier_address(desc.barrier, (unsigned)i);
        s->x = shared_zeros(ctx[i], 1, bytes), s->q = gpuexec_alloc(ctx[i], bytes),
        s->r = gpuexec_alloc(ctx[i], bytes);
        s->p = shared_zeros(ctx[i], 1, 2 * (bytes + 2 * row));
        s->above = shared_zeros(ctx[i], direct, row), s->below = shared_zeros(ctx[i], direct, row);
        if (i > 0) s->to_above = part[i - 1].below, part[i - 1].to_below = s->above;
        part[0].parts[i] = shared_zeros(ctx[i], direct, slots);
        s->curve = gpuexec_alloc(ctx[i], sizeof curve),
        s->done = shared_zeros(ctx[i], 1, sizeof done);
        s->width = width, s->rows = rows, s->iterations = ITERATIONS, s->enough = enough;
        gpuexec_copy_in(stream[i], s->r, v[0] + (first + 1) * width, bytes);
        argument[i] = s;
        launch[i].args.addresses = &argument[i], launch[i].args.sizes = &size,
        launch[i].args.count = 1;
        launch[i].dims = gpuexec_grid((unsigned)blocks, THREADS, 0);
    }
    for (i = 1; i < count; i++) memcpy(part[i].parts, part[0].parts, sizeof part[0].parts);
    gpuexec_event_record(t0, stream[0]);
    gpuexec_launch_multi_device(launch, (unsigned)count, &desc);
    gpuexec_event_record(t1, stream[0]); /* after the kernels of all devices */
    gpuexec_copy_out(stream[0], curve, part[0].curve, sizeof curve);
    gpuexec_copy_out(stream[0], &done, part[0].done, sizeof done);
    for (i = 0; i < count; i++)
        gpuexec_copy_out(stream[i], v[5] + (n * i / count + 1) * width, part[i].x,
                (size_t)part[i].rows * row);
    for (i = 0; i < count; i++)
        if (gpuexec_stream_sync(stream[i]) != GPUEXEC_OK) {
            fputs(gpuexec_error_text(), stderr);
            return 1;
        }
    printf("%d x %d cells on %d device%s, through %s memory: %d iterations in %.1f ms\n", n, n,
            count, count > 1 ? "s" : "", direct ? "device" : "host", done,
            gpuexec_event_elapsed_ms(t0, t1));
    gpuexec_shutdown();

    difference = largest(v[5], v[1], width * width) / largest(v[1], NULL, width * width);
    apply(v[4], v[5], n);
    for (i = 0, k = width * width; i < k; i++) v[4][i] -= v[0][i];
    left = square(v[4], k) / square(v[0], k);
    printf("largest difference from the CPU's solution: %.1e of the largest cell\n", difference);
    if (!(difference < 1e-8 && left < 4 * enough * enough && done > 1 && done < ITERATIONS)) {
        printf("|b - A x|^2 / |b|^2: %.1e: the solution is wrong\n", left);
        return 1;
    }
    if (!picture_curves("cg.svg", "Conjugate gradients: what is left of the equation", "iterations",
                "|r| / |b|", curves, NULL, 1, done, 1))
        return 1;
    printf("|b - A x|^2 / |b|^2: %.1e; wrote cg.svg\n", left);
    return 0;
}
