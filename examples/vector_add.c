/*  cc examples/vector_add.c -o vector_add && ./vector_add

    The smallest complete program: adds two arrays on the device and checks every sum. No call is checked by itself: the
    first failure is kept, nothing runs after it, and the call that waits reports it.

    Prints:
        1048576 sums, all right: c[1048575] = 3145725
*/
#include "example.h"                                    /* where the PTX is */
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

int main(void)
{
    enum { n = 1 << 20 };
    static float a[n], b[n], c[n];
    int i, count = n, wrong = 0;
    for (i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = 2.0f * (float)i;
    }

    gpuexec_context ctx = gpuexec_context_open(0, NULL);                        /* device 0 */
    gpuexec_module  mod = gpuexec_module_load_file(ctx, example_ptx("vector_add.ptx"), NULL);
    gpuexec_kernel  add = gpuexec_kernel_get(mod, "vector_add");
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     da  = gpuexec_alloc(ctx, sizeof a), db = gpuexec_alloc(ctx, sizeof b),
                    dc = gpuexec_alloc(ctx, sizeof c);
    gpuexec_copy_in(s, da, a, sizeof a);
    gpuexec_copy_in(s, db, b, sizeof b);
    gpuexec_launch(add, s, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(da, db, dc, count));
    gpuexec_copy_out(s, c, dc, sizeof c);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    gpuexec_shutdown();                                                         /* frees all of it */

    for (i = 0; i < n; i++) wrong += c[i] != a[i] + b[i];
    if (wrong) {
        printf("%d of %d sums are wrong\n", wrong, count);
        return 1;
    }
    printf("%d sums, all right: c[%d] = %.0f\n", count, n - 1, (double)c[n - 1]);
    return 0;
}
