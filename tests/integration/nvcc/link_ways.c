/* link_ways.c - links the files given on the command line, which are made from kernels/link_main.cu
   and link_curve.cu, runs the kernel, compares with the host, and prints the results' bits: run.sh
   compares what different ways of compiling and linking give. Exit code 77: no nvJitLink. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static float curve(float x) { return fmaf(fmaf(fmaf(3.0f, x, 0.5f), x, -2.0f), x, 1.0f); }

int main(int argc, char **argv) {
    static float x[N], y[N];
    int i, n = N;
    for (i = 0; i < N; i++) x[i] = 0.37f * (float)i - 100.0f;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    for (i = 1; i < argc; i++) gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, argv[i]);
    gpuexec_kernel draw = gpuexec_kernel_get(gpuexec_linker_load(linker), "draw");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr from = gpuexec_alloc(ctx, sizeof x), to = gpuexec_alloc(ctx, sizeof y);
    gpuexec_copy_in(s, from, x, sizeof x);
    gpuexec_launch(draw, s, gpuexec_grid_for(N, 128), GPUEXEC_ARGS(from, to, n));
    gpuexec_copy_out(s, y, to, sizeof y);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return gpuexec_error_detail()->result == GPUEXEC_NO_COMPILER ? 77 : 1;
    }
    for (i = 0; i < N; i++) {
        unsigned bits;
        memcpy(&bits, &y[i], sizeof bits);
        printf("%08x\n", bits);
        if (y[i] != curve(x[i])) return 2;
    }
    return gpuexec_shutdown() != GPUEXEC_OK;
}
