/* ./launches raw|plain|prepared N: N launches with four arguments, with the driver of driver.c. */
#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>

typedef int (*launch_function)(struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               struct CUstream_st *, void **, void **);

int main(int argc, char **argv) {
    gpuexec_context  ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel   fn  = gpuexec_kernel_get(gpuexec_module_load(ctx, ".version 7.0", 0, NULL), "k");
    gpuexec_stream   s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr      x = 1, y = 2;
    int              n = 1000, i, count = argc == 3 ? atoi(argv[2]) : 0;
    float            a = 3;
    gpuexec_prepared prepared = gpuexec_prepare(fn, s, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a));
    struct CUfunc_st *function = gpuexec_kernel_native(fn);
    struct CUstream_st *stream = gpuexec_stream_native(s);
    union { void *pointer; launch_function call; } raw;
    void *params[4];
    raw.pointer = gpuexec_driver_symbol("cuLaunchKernel", 4000);
    params[0] = &x;
    params[1] = &y;
    params[2] = &n;
    params[3] = &a;
    gpuexec_launch_prepared(prepared);           /* the first launch makes all its checks */
    if (argc != 3 || gpuexec_take_error() != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    if (argv[1][0] == 'r')
        for (i = 0; i < count; i++) raw.call(function, 4, 1, 1, 256, 1, 1, 0, stream, params, NULL);
    else if (argv[1][1] == 'l')
        for (i = 0; i < count; i++) gpuexec_launch(fn, s, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a));
    else                        for (i = 0; i < count; i++) gpuexec_launch_prepared(prepared);
    return gpuexec_take_error() != GPUEXEC_OK;
}
