/*  cc examples/cooperative_sum.c -o cooperative_sum && ./cooperative_sum

    A cooperative launch: all blocks of the grid run at the same time, so they can wait for each
    other in the kernel. The program queries how many blocks fit on the device, launches that many,
    and checks the sum against the CPU. A grid that is one block larger is refused before it starts.

    Prints, on the CPU device:
        the sum of 1048576 numbers by 32 blocks that wait for each other: 2251796365443072, as on
            the CPU
        one more block is refused:
        examples/cooperative_sum.c:52: gpuexec_launch_cooperative: a cooperative grid of 33 blocks
            ...
        (GPUEXEC_BAD_LAUNCH)
          driver: ...
          cure: use fewer blocks, and let each thread process several elements in a loop
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

int main(void) {
    enum { n = 1 << 20, threads = 256 };
    static unsigned in[n];
    unsigned long long sum = 0, sum_on_cpu = 0;
    int i, count = n, blocks;
    for (i = 0; i < n; i++) sum_on_cpu += in[i] = (unsigned)i * 2654435761u;

    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, example_ptx("grid_sum.ptx"), NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "grid_sum");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    blocks = gpuexec_kernel_cooperative_blocks(fn, threads, 0);
    if (blocks < 1) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    gpuexec_ptr din = gpuexec_alloc(ctx, sizeof in),
                shares = gpuexec_alloc(ctx, (size_t)blocks * sizeof sum),
                dsum = gpuexec_alloc(ctx, sizeof sum);
    gpuexec_copy_in(s, din, in, sizeof in);
    gpuexec_launch_cooperative(fn, s, gpuexec_grid((unsigned)blocks, threads, 0),
            GPUEXEC_ARGS(din, shares, dsum, count));
    gpuexec_copy_out(s, &sum, dsum, sizeof sum);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("the sum of %d numbers by %d blocks that wait for each other: %llu, ", count, blocks,
            sum);
    if (sum != sum_on_cpu) {
        printf("but the CPU's is %llu\n", sum_on_cpu);
        return 1;
    }
    printf("as on the CPU\n");

    if (gpuexec_launch_cooperative(fn, s, gpuexec_grid((unsigned)blocks + 1, threads, 0),
                GPUEXEC_ARGS(din, shares, dsum, count)) != GPUEXEC_BAD_LAUNCH) {
        printf("a grid of %d blocks should have been refused\n", blocks + 1);
        return 1;
    }
    printf("one more block is refused:\n%s", gpuexec_error_text());
    gpuexec_take_error(); /* clears the latch: the failure was expected */
    gpuexec_shutdown();
    return 0;
}
