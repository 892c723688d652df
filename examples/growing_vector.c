/*  cc examples/growing_vector.c -o growing_vector && ./growing_vector

    A vector on the device that grows from 1 MiB to 1 GiB while kernels use it: its address and its
    data stay, and nothing is copied. Each round enqueues a kernel over all elements, lets the
   vector grow to twice as many while that kernel may run, and fills the new half. An argument is
   the last size in MiB; the default is 1024, or what the device has room for: on the CPU device 16.

    Prints, on the CPU device:
           1 MiB at 0x...: 1 piece
           2 MiB at the same address: 1 piece
           ...
          16 MiB at the same address: 4 pieces
        all 4194304 elements are right; work was pending after 4 of 4 growths
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

typedef struct vector {
    gpuexec_virtual range;
    gpuexec_ptr data;
    size_t count; /* of floats */
} vector;

static size_t last_size(gpuexec_context ctx, int argc, char **argv) {
    size_t available = 0, bytes = (size_t)1 << 30;
    gpuexec_device_info device;
    if (argc > 1) return (size_t)strtoul(argv[1], NULL, 10) << 20;
    if (gpuexec_device_get_info(0, &device) == GPUEXEC_OK && strstr(device.name, "CPU"))
        return (size_t)16 << 20;
    gpuexec_context_get_memory(ctx, &available, NULL);
    while (bytes > available / 2) bytes /= 2;
    return bytes;
}
/* The new elements are 1. */
static void append(vector *v, gpuexec_stream s, size_t count) {
    const float one = 1.0f;
    unsigned bits;
    memcpy(&bits, &one, sizeof bits);
    gpuexec_virtual_grow(v->range, count * sizeof(float));
    gpuexec_fill(s, v->data + v->count * sizeof(float), bits, 4, count - v->count);
    v->count = count;
}

int main(int argc, char **argv) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL);
    gpuexec_kernel saxpy = gpuexec_kernel_get(mod, "saxpy");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    const size_t last = last_size(ctx, argc, argv);
    const float one = 1.0f;
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual_info info;
    unsigned rounds = 0, busy = 0, wrong = 0;
    size_t i, begin;
    float *host;
    vector v;

    desc.max_bytes = last; /* only addresses */
    v.range = gpuexec_virtual_create(ctx, &desc);
    v.data = gpuexec_virtual_address(v.range);
    v.count = 0;
    append(&v, s, ((size_t)1 << 20) / sizeof(float));
    for (;;) {
        const int count = (int)v.count;
        if (gpuexec_virtual_get_info(v.range, &info) != GPUEXEC_OK || info.address != v.data) break;
        printf("%4lu MiB at ", (unsigned long)(v.count * sizeof(float) >> 20));
        if (rounds) printf("the same address");
        else printf("0x%llx", v.data);
        printf(": %u piece%s\n", info.pieces, info.pieces == 1 ? "" : "s");
        if (v.count * sizeof(float) * 2 > last) break;
        /* y = 1 * y + y: each round doubles all elements */
        gpuexec_launch(
                saxpy, s, gpuexec_grid_for(v.count, 256), GPUEXEC_ARGS(one, v.data, v.data, count));
        append(&v, s, 2 * v.count); /* the kernel may still run */
        busy += gpuexec_stream_query(s) == GPUEXEC_NOT_READY;
        rounds++;
    }
    host = (float *)malloc(v.count * sizeof(float));
    if (!host) return 1;
    gpuexec_copy_out(s, host, v.data, v.count * sizeof(float)); /* one copy over all pieces */
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    /* an element doubled in each round since it was appended */
    for (i = 0, begin = ((size_t)1 << 20) / sizeof(float); i < v.count; i++) {
        unsigned round = 0;
        while (begin << round <= i) round++;
        wrong += host[i] != (float)((size_t)1 << (rounds - round));
    }
    free(host);
    gpuexec_shutdown();
    if (wrong) {
        printf("%u elements are wrong\n", wrong);
        return 1;
    }
    printf("all %lu elements are right; work was pending after %u of %u growths\n",
            (unsigned long)v.count, busy, rounds);
    return 0;
}
