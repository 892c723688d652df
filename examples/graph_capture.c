/*  cc examples/graph_capture.c -o graph_capture && ./graph_capture

    Launches of short kernels cost the host more time than the device needs for them. The same
    calls, captured once, become a graph, which one call launches again and again.

    Prints, on the CPU device:
        100 kernels, launched one by one    0.395 ms of the host, 4.849 ms in all
        the same kernels as a graph         0.055 ms of the host, 4.280 ms in all
        the graph has 100 kernels; capturing it took 0.1 ms, preparing it 0.0 ms
        4096 results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 4096, kernels = 100, frames = 50 };

static gpuexec_context ctx;
static gpuexec_stream stream;
static gpuexec_kernel saxpy;
static gpuexec_ptr x, y;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* One frame: y += x, many times. The function is the same for both ways. */
static void frame(void) {
    float one = 1;
    int i, count = n;
    for (i = 0; i < kernels; i++)
        gpuexec_launch(saxpy, stream, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(one, x, y, count));
}

/* Runs all frames, and prints the time of one. */
static void run(const char *name, const gpuexec_graph *graph) {
    double begin = example_milliseconds(), enqueued;
    int i;
    for (i = 0; i < frames; i++) {
        if (graph) gpuexec_graph_launch(*graph, stream);
        else frame();
    }
    enqueued = example_milliseconds();
    must(gpuexec_stream_sync(stream));
    printf("%-35s %.3f ms of the host, %.3f ms in all\n", name, (enqueued - begin) / frames,
            (example_milliseconds() - begin) / frames);
}

int main(void) {
    static float host[n];
    gpuexec_graph_info info;
    gpuexec_graph graph;
    double begin, captured, prepared;
    int i, wrong = 0;
    ctx = gpuexec_context_open(0, NULL);
    saxpy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL), "saxpy");
    stream = gpuexec_stream_create(ctx, NULL);
    x = gpuexec_alloc(ctx, sizeof host);
    y = gpuexec_alloc(ctx, sizeof host);
    for (i = 0; i < n; i++) host[i] = (float)(i % 100);
    gpuexec_copy_in(stream, x, host, sizeof host);
    gpuexec_fill(stream, y, 0, 1, sizeof host);
    frame(); /* a first launch can take longer */
    must(gpuexec_stream_sync(stream));

    begin = example_milliseconds();
    GPUEXEC_CAPTURE(stream, &graph) frame(); /* enqueues nothing */
    captured = example_milliseconds();
    must(gpuexec_graph_prepare(graph, stream)); /* otherwise the first launch takes longer */
    must(gpuexec_stream_sync(stream));
    prepared = example_milliseconds();

    run("100 kernels, launched one by one", NULL);
    run("the same kernels as a graph", &graph);
    must(gpuexec_graph_get_info(graph, &info));
    printf("the graph has %d kernels; capturing it took %.1f ms, preparing it %.1f ms\n",
            (int)info.kernels, captured - begin, prepared - captured);

    must(gpuexec_copy_out_now(ctx, host, y, sizeof host));
    for (i = 0; i < n; i++) wrong += host[i] != (float)((2 * frames + 1) * kernels * (i % 100));
    if (wrong) printf("%d results are wrong\n", wrong);
    else printf("%d results are correct\n", n);
    gpuexec_shutdown();
    return wrong > 0;
}
