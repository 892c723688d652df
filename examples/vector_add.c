/*  cc examples/vector_add.c -o vector_add && ./vector_add

    A complete program in one file: adds two arrays on the device and checks every sum. It checks
    only the call that waits, which returns the first failure of all calls; no work runs after that
    failure. The kernel's PTX is a string here; other examples load it from a file.

    Prints:
        1048576 sums, all correct: c[1048575] = 3145725
*/
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include <stdio.h>

/* Each thread adds one pair: int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i]
   + b[i]; */
static const char ptx[] =
        ".version 7.0\n"
        ".target sm_70\n"
        ".address_size 64\n"
        ".visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n"
        "    .reg .pred %beyond;\n"
        "    .reg .b32  %i, %n, %block, %threads;\n"
        "    .reg .b64  %pa, %pb, %pc, %offset;\n"
        "    .reg .f32  %x, %y;\n"
        "    mov.u32        %block, %ctaid.x;\n"
        "    mov.u32        %threads, %ntid.x;\n"
        "    mov.u32        %i, %tid.x;\n"
        "    mad.lo.u32     %i, %block, %threads, %i;\n"
        "    ld.param.u32   %n, [n];\n"
        "    setp.ge.u32    %beyond, %i, %n;\n"
        "    @%beyond ret;\n"
        "    mul.wide.u32   %offset, %i, 4;\n"
        "    ld.param.u64   %pa, [a];\n"
        "    ld.param.u64   %pb, [b];\n"
        "    ld.param.u64   %pc, [c];\n"
        "    add.u64        %pa, %pa, %offset;\n"
        "    add.u64        %pb, %pb, %offset;\n"
        "    add.u64        %pc, %pc, %offset;\n"
        "    ld.global.f32  %x, [%pa];\n"
        "    ld.global.f32  %y, [%pb];\n"
        "    add.rn.f32     %x, %x, %y;\n"
        "    st.global.f32  [%pc], %x;\n"
        "    ret;\n"
        "}\n";

int main(void) {
    enum { n = 1 << 20 };
    static float a[n], b[n], c[n];
    int i, count = n, wrong = 0;
    for (i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = 2.0f * (float)i;
    }

    gpuexec_context ctx = gpuexec_context_open(0, NULL); /* device 0 */
    gpuexec_module mod = gpuexec_module_load(ctx, ptx, sizeof ptx, NULL);
    gpuexec_kernel add = gpuexec_kernel_get(mod, "vector_add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr da = gpuexec_alloc(ctx, sizeof a), db = gpuexec_alloc(ctx, sizeof b),
                dc = gpuexec_alloc(ctx, sizeof c);
    gpuexec_copy_in(s, da, a, sizeof a);
    gpuexec_copy_in(s, db, b, sizeof b);
    gpuexec_launch(add, s, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(da, db, dc, count));
    gpuexec_copy_out(s, c, dc, sizeof c);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    gpuexec_shutdown(); /* frees everything */

    for (i = 0; i < n; i++) wrong += c[i] != a[i] + b[i];
    if (wrong) {
        printf("%d of %d sums are wrong\n", wrong, count);
        return 1;
    }
    printf("%d sums, all correct: c[%d] = %.0f\n", count, n - 1, (double)c[n - 1]);
    return 0;
}
