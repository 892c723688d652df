/*  cc examples/multi_device_jacobi.c -o multi_device_jacobi && ./multi_device_jacobi [cells in a
    row and in a column]

    Computes the temperature of a plate with a hot left edge and three cold edges by Jacobi's
    method, on all devices of the same type, with one launch for all iterations. Each device has a
    slab of rows. The kernels write the edge rows of their slabs into each other's memory (without
    peer access, into host memory) and synchronise at a barrier in each iteration. The program
    compares all cells, and the largest change of a cell in every tenth iteration, with the CPU's,
    bit for bit, and draws the changes to jacobi.svg in the current directory.

    Prints, on two CPU devices:
        128 x 128 cells on 2 devices, halo rows in device memory: 2180 iterations in 462.3 ms
        largest change of a cell: 0.0240268707 after 10, ... 9.97185707e-05 after 2180 iterations
        bit for bit the same as on the CPU; wrote jacobi.svg
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "devices.h"
#include "jacobi.h"
#include "picture.h"

enum { THREADS = 256, ROWS = 64 /* per block */ };
/* the same as jacobi_slab in kernels/jacobi.cu */
typedef struct slab {
    gpuexec_ptr barrier, cells, above, below, to_above, to_below, change, changes;
    int width, rows, iterations, every;
    float enough;
} slab;

static int direct;
static slab part[MOST];
static gpuexec_context ctx[MOST];
static gpuexec_stream stream[MOST];
static float change[JACOBI_CHECKS];
static const float *const curves[] = { change };

int main(int argc, char **argv) {
    static gpuexec_device_launch launch[MOST];
    static const void *argument[MOST];
    static const unsigned short size = sizeof(slab);
    static jacobi_solution cpu;
    static float *plate;
    const int count = identical_devices(MOST), n = argc > 1 ? atoi(argv[1]) : 128, width = n + 2;
    const size_t row = (size_t)width * sizeof(float);
    int i, k, most, blocks = n / (count + !count) / ROWS + 1;
    gpuexec_multi_desc desc = { 0 };
    gpuexec_event t0, t1;
    gpuexec_ptr changes;

    if (count == 0) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    if (n < count || n > 16384) {
        fprintf(stderr, "%d rows on %d devices: use %d to 16384 rows\n", n, count, count);
        return 1;
    }
    plate = jacobi_plate(n, 0, width);
    cpu = jacobi_on_cpu(n);

    for (i = 0; i < count; i++) {
        ctx[i] = gpuexec_context_open(i, NULL);
        stream[i] = gpuexec_stream_create(ctx[i], NULL);
        launch[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(ctx[i], example_ptx("jacobi.ptx"), NULL), "jacobi");
        launch[i].stream = stream[i];
    }
    t0 = gpuexec_event_create(ctx[0], NULL), t1 = gpuexec_event_create(ctx[0], NULL);
    /* creating the barrier also enables peer access, if the devices support it */
    desc.barrier = gpuexec_barrier_create(ctx, (unsigned)count, NULL);
    direct = gpuexec_barrier_is_direct(desc.barrier);
    changes = shared_zeros(ctx[0], direct, (size_t)count * sizeof change);
    most = gpuexec_kernel_cooperative_blocks(launch[0].kernel, THREADS, 0);
    for (i = 0; i < count; i++) { /* one slab of rows for each device */
        const int first = n * i / count, rows = n * (i + 1) / count - first;
        const gpuexec_ptr halo = shared_zeros(ctx[i], direct, 4 * row),
                          cells = gpuexec_alloc(ctx[i], 2 * (size_t)rows * row);
        const slab s = { gpuexec_barrier_address(desc.barrier, (unsigned)i), cells, halo,
            halo + 2 * row, 0, 0, gpuexec_alloc(ctx[i], sizeof change), changes, width, rows,
            JACOBI_ITERATIONS, JACOBI_EVERY, jacobi_enough };
        part[i] = s;
        if (i > 0) part[i].to_above = part[i - 1].below, part[i - 1].to_below = part[i].above;
        for (k = 0; k < 2; k++)
            gpuexec_copy_in(stream[i], cells + (size_t)(k * rows) * row,
                    plate + (first + 1) * width, (size_t)rows * row);
        gpuexec_fill(stream[i], part[i].change, 0, 1, sizeof change);
        argument[i] = &part[i];
        launch[i].args.addresses = &argument[i], launch[i].args.sizes = &size,
        launch[i].args.count = 1;
        launch[i].dims = gpuexec_grid((unsigned)(blocks < most ? blocks : most), THREADS, 0);
    }
    gpuexec_event_record(t0, stream[0]);
    gpuexec_launch_multi_device(launch, (unsigned)count, &desc);
    gpuexec_event_record(t1, stream[0]); /* after the kernels of all devices */
    gpuexec_copy_out(stream[0], change, part[0].change, sizeof change);
    for (i = 0; i < count; i++)
        gpuexec_copy_out(stream[i], plate + (n * i / count + 1) * width,
                part[i].cells + (size_t)(cpu.iterations % 2 * part[i].rows) * row,
                (size_t)part[i].rows * row);
    for (i = 0; i < count; i++)
        if (gpuexec_stream_sync(stream[i]) != GPUEXEC_OK) {
            fputs(gpuexec_error_text(), stderr);
            return 1;
        }
    printf("%d x %d cells on %d device%s, halo rows in %s memory: %d iterations in %.1f ms\n", n, n,
            count, count > 1 ? "s" : "", direct ? "device" : "host", cpu.iterations,
            gpuexec_event_elapsed_ms(t0, t1));
    gpuexec_shutdown();

    if (!jacobi_same(&cpu, n, plate, change)) return 1;
    if (!picture_curves("jacobi.svg", "Jacobi's method: how much the cells still change",
                "iterations", "largest change of a cell", curves, NULL, 1,
                cpu.iterations / JACOBI_EVERY, JACOBI_EVERY))
        return 1;
    printf("bit for bit the same as on the CPU; wrote jacobi.svg\n");
    return 0;
}
