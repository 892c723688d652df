/* ./growth KIND: calls that must cost the same whether 10 or 10,000 graphs, slots, or nodes of a
   graph are there, with the driver of driver.c. run.sh counts the instructions of few_CALL and
   many_CALL, and compares them. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <stdio.h>

enum { FEW = 10, MANY = 10000, TIMES = 500 };
static gpuexec_context ctx;
static gpuexec_kernel fn;
static gpuexec_stream s;
static gpuexec_graph large; /* the one with many nodes */
static gpuexec_node last;
static gpuexec_ptr x = 1, y = 2;
static int n = 1000;
static float a = 3;

static gpuexec_node add(gpuexec_graph graph) {
    return gpuexec_graph_add_kernel(
            graph, fn, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(x, y, n, a), GPUEXEC_FIRST);
}
static void capture(void) {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s, &graph)
    gpuexec_launch(fn, s, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(x, y, n, a));
    gpuexec_free(gpuexec_alloc(ctx, 256)); /* reads the graph */
    gpuexec_graph_destroy(graph);
}
static void build(void) {
    const gpuexec_graph graph = gpuexec_graph_create(ctx);
    add(graph);
    gpuexec_graph_destroy(graph);
}
/* alloc_on: at the same address again; alloc_other: at another one each time */
#define CALLS(X) \
    X(free, gpuexec_free(gpuexec_alloc(ctx, 256))) \
    X(alloc_on, gpuexec_free_on(s, gpuexec_alloc_on(s, 8192))) \
    X(alloc_other, gpuexec_free_on(s, gpuexec_alloc_on(s, 4096))) \
    X(capture, capture()) \
    X(graph, build()) \
    X(change, gpuexec_node_set_argument(last, 2, &n, sizeof n); \
            gpuexec_free(gpuexec_alloc(ctx, 256)))
/* One time more, so that the compiler does not merge them. */
#define CALL(name, call) \
    __attribute__((noinline)) static void few_##name(void) { \
        for (int i = 0; i < TIMES; i++) { call; } \
    } \
    __attribute__((noinline)) static void many_##name(void) { \
        for (int i = 0; i < TIMES + 1; i++) { call; } \
    }
CALLS(CALL)
/* The first of each kind creates what is kept, and reads the graphs. */
#define RUN_FEW(name, call) \
    call; \
    few_##name();
#define RUN_MANY(name, call) \
    call; \
    many_##name();

static void grow(char kind, int from, int to) {
    for (; from < to; from++) {
        if (kind == 's') gpuexec_event_create(ctx, NULL);
        else if (kind == 'n') last = add(large);
        else {
            const gpuexec_graph graph = gpuexec_graph_create(ctx);
            add(graph);
        }
    }
}
int main(int argc, char **argv) {
    if (argc != 2) return 1;
    ctx = gpuexec_context_open(0, NULL);
    fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ".version 7.0", 0, NULL), "k");
    s = gpuexec_stream_create(ctx, NULL);
    large = gpuexec_graph_create(ctx);
    last = add(large);
    grow(*argv[1], 1, FEW);
    CALLS(RUN_FEW)
    grow(*argv[1], FEW, MANY);
    CALLS(RUN_MANY)
    if (gpuexec_shutdown() == GPUEXEC_OK) return 0;
    fputs(gpuexec_error_text(), stderr);
    return 1;
}
