/*  cc examples/graph_multi_stream.c -o graph_multi_stream && ./graph_multi_stream

    One graph of work on several streams and, where there are two, on both devices. The capture
    begins on one stream. The others join it by waiting for that stream, and the first stream waits
    for them before the end: so the branches of the graph run side by side.

    Prints, on the CPU device with two devices:
        captured on 3 streams of 2 devices:
        graph captured at examples/graph_multi_stream.c:53, nodes: 6
        0: kernel "saxpy", grid 16 x 1 x 1, block 256 x 1 x 1, 0 bytes of dynamic shared memory
        1: kernel "saxpy", grid 16 x 1 x 1, block 256 x 1 x 1, 0 bytes of dynamic shared memory
        2: kernel "saxpy", grid 16 x 1 x 1, block 256 x 1 x 1, 0 bytes of dynamic shared memory
        3: copy of 16.0 KiB (16384 bytes) from device 0x200000004200 to device 0x200000010800; after
            0, 1, 2
        4: copy of 16.0 KiB (16384 bytes) from device 0x280000004200 to device 0x200000014800; after
            3
        5: copy of 16.0 KiB (16384 bytes) from device 0x20000000c600 to device 0x200000018800; after
            4
        10 launches: 12288 results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 4096, branches = 3, launches = 10 };
static float host[branches][n];

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

int main(void) {
    static float ones[n];
    const int devices = gpuexec_device_count() > 1 ? 2 : 1;
    gpuexec_context ctx[branches];
    gpuexec_stream stream[branches];
    gpuexec_kernel saxpy[branches];
    gpuexec_ptr x[branches], y[branches], all;
    gpuexec_graph graph;
    static char text[4000];
    int i, k, count = n, wrong = 0;
    for (i = 0; i < n; i++) ones[i] = 1;
    for (k = 0; k < branches; k++) { /* branches 0 and 2: the same device */
        ctx[k] = gpuexec_context_open(k % devices, NULL);
        saxpy[k] = gpuexec_kernel_get(
                gpuexec_module_load_file(ctx[k], example_ptx("saxpy.ptx"), NULL), "saxpy");
        stream[k] = gpuexec_stream_create(ctx[k], NULL);
        x[k] = gpuexec_alloc(ctx[k], sizeof ones);
        y[k] = gpuexec_alloc(ctx[k], sizeof ones);
        must(gpuexec_copy_in_now(ctx[k], x[k], ones, sizeof ones));
        must(gpuexec_fill_now(ctx[k], y[k], 0, 1, sizeof ones));
    }
    all = gpuexec_alloc(ctx[0], sizeof host);

    GPUEXEC_CAPTURE(stream[0], &graph) {
        for (k = 1; k < branches; k++) gpuexec_stream_wait_stream(stream[k], stream[0]); /* fork */
        for (k = 0; k < branches; k++) {
            float a = (float)(k + 1); /* each branch with its own number */
            gpuexec_launch(saxpy[k], stream[k], gpuexec_grid_for(n, 256),
                    GPUEXEC_ARGS(a, x[k], y[k], count));
        }
        for (k = 1; k < branches; k++) gpuexec_stream_wait_stream(stream[0], stream[k]); /* join */
        for (k = 0; k < branches; k++)
            gpuexec_copy(stream[0], all + (size_t)k * sizeof ones, y[k], sizeof ones);
    }
    printf("captured on %d streams of %d device%s:\n", branches, devices, devices > 1 ? "s" : "");
    gpuexec_graph_text(graph, text, sizeof text);
    fputs(text, stdout);

    for (i = 0; i < launches; i++) gpuexec_graph_launch(graph, stream[0]);
    gpuexec_copy_out(stream[0], host, all, sizeof host);
    must(gpuexec_stream_sync(stream[0]));
    for (k = 0; k < branches; k++)
        for (i = 0; i < n; i++) wrong += host[k][i] != (float)(launches * (k + 1));
    if (wrong) printf("%d results are wrong\n", wrong);
    else printf("%d launches: %d results are correct\n", launches, branches * n);
    gpuexec_shutdown();
    return wrong > 0;
}
