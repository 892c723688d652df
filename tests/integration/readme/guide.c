/* One program of the chapter OVERLAPPING WORK in the header's manual: run.sh defines PROGRAM, its
   file. The program has the variables below. It leaves y = 1 + a x in device memory, or passes it
   to use(). Exit code: 0 if y is right, 3 if not, 1 if a call failed. */
#include "gpuexec.h"
#include <stdio.h>
#include <string.h>

enum { N = 1 << 12, pieces = 2 };

static gpuexec_context ctx;
static gpuexec_kernel saxpy;
static gpuexec_dims dims;
static gpuexec_stream compute, transfer;
static gpuexec_event ready, done;
static gpuexec_ptr x, y, z;
static float *host_x, *host_y, *host_z, *piece[pieces], a = 2.0f; /* pinned */
static int n = N, i, used, wrong;
static size_t bytes = N * sizeof(float);

static void cpu_work(void) {}

static void use(const float *got) {
    int k;
    used = 1;
    for (k = 0; k < N; k++) wrong += got[k] != 1.0f + a * (float)(k % 100);
}

static int program(void) {
#include PROGRAM
    return 0;
}

static float *pinned(void) {
    float *p = (float *)gpuexec_alloc_pinned(ctx, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

/* Device memory with this value everywhere. */
static gpuexec_ptr filled(float value) {
    gpuexec_ptr p = gpuexec_alloc(ctx, bytes);
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    gpuexec_fill(compute, p, bits, 4, N);
    return p;
}

int main(void) {
    gpuexec_stream_desc own = { 0, 0, 0, 0 };
    int k;
    own.non_blocking = 1;
    ctx = gpuexec_context_open(0, NULL);
    saxpy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, "saxpy.ptx", NULL), "saxpy");
    dims = gpuexec_grid_for(N, 256);
    compute = gpuexec_stream_create(ctx, &own), transfer = gpuexec_stream_create(ctx, &own);
    ready = gpuexec_event_create(ctx, NULL), done = gpuexec_event_create(ctx, NULL);
    host_x = pinned(), host_y = pinned(), host_z = pinned();
    x = filled(9.0f), y = filled(1.0f), z = filled(0.0f);
    if (gpuexec_context_sync(ctx) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    for (k = 0; k < N; k++) host_x[k] = (float)(k % 100);
    piece[0] = host_z, piece[1] = host_x;
    (void)transfer, (void)i;
    cpu_work();
    if (program() || gpuexec_stream_sync(gpuexec_context_stream(ctx)) ||
            gpuexec_context_sync(ctx)) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    if (!used) {
        if (gpuexec_copy_out_now(ctx, host_y, y, bytes) != GPUEXEC_OK) return 1;
        use(host_y);
    }
    gpuexec_shutdown();
    return wrong ? 3 : 0;
}
