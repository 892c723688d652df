/*  cc examples/library.c -o library && ./library

    One image for all devices. gpuexec_library_load needs no context: each device gets its module
    when it first needs one. Drivers for CUDA 12.0 and later keep the image once for the whole
    process. Each context has its own copy of the variable `calls`, which the kernel counts up.

    Prints, on a machine with two devices:
        1 kernel: scale
        device 0: 2 calls, 1048576 numbers right
        device 1: 3 calls, 1048576 numbers right
*/
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include <stdio.h>

/* __device__ int calls;
   extern "C" __global__ void scale(float *x, float by) {
       int i = blockIdx.x * blockDim.x + threadIdx.x;
       if (i == 0) calls++;
       x[i] *= by;
   } */
static const char ptx[] = ".version 7.0\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .global .align 4 .u32 calls;\n"
                          ".visible .entry scale(.param .u64 x, .param .f32 by) {\n"
                          "    .reg .pred %first;\n"
                          "    .reg .b32  %i, %block, %threads;\n"
                          "    .reg .b64  %px, %offset;\n"
                          "    .reg .f32  %a, %by;\n"
                          "    mov.u32        %block, %ctaid.x;\n"
                          "    mov.u32        %threads, %ntid.x;\n"
                          "    mov.u32        %i, %tid.x;\n"
                          "    mad.lo.u32     %i, %block, %threads, %i;\n"
                          "    setp.eq.u32    %first, %i, 0;\n"
                          "    @%first red.global.add.u32 [calls], 1;\n"
                          "    ld.param.u64   %px, [x];\n"
                          "    ld.param.f32   %by, [by];\n"
                          "    mul.wide.u32   %offset, %i, 4;\n"
                          "    add.u64        %px, %px, %offset;\n"
                          "    ld.global.f32  %a, [%px];\n"
                          "    mul.rn.f32     %a, %a, %by;\n"
                          "    st.global.f32  [%px], %a;\n"
                          "    ret;\n"
                          "}\n";

enum { N = 1 << 20 };
static float x[N];

/* Scales `calls` times on a device. Returns how many numbers are right. */
static int use(gpuexec_library library, int device, unsigned calls, unsigned *counted) {
    gpuexec_context ctx = gpuexec_context_open(device, NULL);
    gpuexec_module mod = gpuexec_library_module(library, ctx);
    gpuexec_kernel scale = gpuexec_kernel_get(mod, "scale");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dx = gpuexec_alloc(ctx, sizeof x);
    float by = 2.0f, wanted = 3.0f;
    int i, right = 0;
    unsigned k;
    for (i = 0; i < N; i++) x[i] = 3.0f;
    gpuexec_copy_in(s, dx, x, sizeof x);
    for (k = 0; k < calls; k++, wanted *= by)
        gpuexec_launch(scale, s, gpuexec_grid_for(N, 256), GPUEXEC_ARGS(dx, by));
    gpuexec_copy_out(s, x, dx, sizeof x);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK ||
            gpuexec_module_read_global(mod, "calls", counted, sizeof *counted)) {
        fputs(gpuexec_error_text(), stderr);
        return 0;
    }
    gpuexec_context_close(ctx); /* closes mod, but not the library */
    for (i = 0; i < N; i++) right += x[i] == wanted;
    return right;
}

int main(void) {
    gpuexec_library library = gpuexec_library_load(ptx, sizeof ptx, NULL);
    gpuexec_library_info info;
    int device, status = 0;
    if (gpuexec_library_get_info(library, &info) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("%d kernel: %s\n", info.kernel_count, gpuexec_library_kernel_name(library, 0));
    for (device = 0; device < gpuexec_device_count(); device++) {
        const unsigned calls = 2u + (unsigned)device % 2u;
        unsigned counted = 0;
        const int right = use(library, device, calls, &counted);
        printf("device %d: %u calls, %d numbers right\n", device, counted, right);
        status |= right != N || counted != calls;
    }
    gpuexec_library_unload(library);
    gpuexec_shutdown();
    return status;
}
