/*  cc examples/graph_nodes.c -o graph_nodes && ./graph_nodes

    A graph built by hand. Two groups of oscillators (x' = v, v' = -x) move side by side: each is a
    chain of kernel nodes, and the chains do not depend on each other. A last node, which depends on
    both, copies the result.

        set x and v ---> 50 steps of group 0 ---.
                    \                            +--> copy x to the host
                     `-> 50 steps of group 1 ---'

    The time step changes from frame to frame: gpuexec_node_set_argument gives it to the nodes of
    the instantiated graph. The first two nodes set the start values: after the first frame they are
    disabled. The copy is disabled until the last frame.

    Prints, on the CPU device:
        203 nodes; the first and the last ones:
        0: fill of 32.0 KiB (32768 bytes) at address 0x200000000000 with 0x3f800000
        1: fill of 32.0 KiB (32768 bytes) at address 0x200000008200 with 0x0
        2: kernel "saxpy", grid 16 x 1 x 1, block 256 x 1 x 1, 0 bytes of dynamic shared memory;
            after 0, 1
        ...
        202: copy of 32.0 KiB (32768 bytes) from device 0x200000000000 to host 0x7f8676c08000; after
            201, 101
        a frame takes the host 1.384 ms to change 200 nodes, and 1.135 ms to launch
        after two periods x is 1.000 and 1.000
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 4096, groups = 2, steps = 50, frames = 40 };

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* The time steps of the frames differ; all steps together are 4 pi, two periods. */
static float time_step(int frame) {
    float part = (float)(frame % 2 ? frame : -frame - 1) / (2 * frames);
    return 12.566371f / (steps * frames) * (1 + part);
}

/* Prints the first three lines that describe nodes, and the last one. */
static void print(gpuexec_graph graph) {
    static char text[65536];
    char *line = text;
    int i;
    gpuexec_graph_text(graph, text, sizeof text);
    line = strchr(line, '\n') + 1;
    for (i = 0; i < 3; i++) {
        printf("%.*s\n", (int)strcspn(line, "\n"), line);
        line = strchr(line, '\n') + 1;
    }
    text[strlen(text) - 1] = 0;
    printf("...\n%s\n", strrchr(text, '\n') + 1);
}

int main(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL);
    gpuexec_kernel saxpy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL), "saxpy");
    gpuexec_ptr x = gpuexec_alloc(ctx, groups * n * sizeof(float));
    gpuexec_ptr v = gpuexec_alloc(ctx, groups * n * sizeof(float));
    float *result = (float *)gpuexec_alloc_pinned(ctx, groups * n * sizeof *result);
    gpuexec_graph graph = gpuexec_graph_create(ctx);
    gpuexec_copy_desc out = { 0 };
    gpuexec_node start[2], kick[groups][steps], drift[groups][steps], last;
    double change = 0, launch = 0;
    int count = n, frame, group, i, off, wrong;
    must(gpuexec_take_error());

    /* x = 1.0f */
    start[0] = gpuexec_graph_add_fill(graph, x, 0x3f800000, 4, groups * n, GPUEXEC_FIRST);
    start[1] = gpuexec_graph_add_fill(graph, v, 0, 4, groups * n, GPUEXEC_FIRST);
    for (group = 0; group < groups; group++) {
        gpuexec_ptr xs = x + (gpuexec_ptr)group * n * sizeof(float),
                    vs = v + (gpuexec_ptr)group * n * sizeof(float);
        float dt = 0; /* set later */
        for (i = 0; i < steps; i++) {
            /* v -= dt x */
            kick[group][i] = gpuexec_graph_add_kernel(graph, saxpy, gpuexec_grid_for(n, 256),
                    GPUEXEC_ARGS(dt, xs, vs, count),
                    i ? GPUEXEC_AFTER(drift[group][i - 1]) : GPUEXEC_AFTER(start[0], start[1]));
            /* x += dt v */
            drift[group][i] = gpuexec_graph_add_kernel(graph, saxpy, gpuexec_grid_for(n, 256),
                    GPUEXEC_ARGS(dt, vs, xs, count), GPUEXEC_AFTER(kick[group][i]));
        }
    }
    out.to.host = result, out.from.device = x, out.bytes = groups * n * sizeof *result;
    last = gpuexec_graph_add_copy(
            graph, &out, GPUEXEC_AFTER(drift[1][steps - 1], drift[0][steps - 1]));
    must(gpuexec_take_error()); /* the first failure of all these calls, if any */
    printf("%u nodes; the first and the last ones:\n", last.index + 1);
    print(graph);
    off = gpuexec_driver_version() >= 11060;
    must(gpuexec_graph_prepare(graph, stream));
    if (off) must(gpuexec_node_enable(last, 0));

    for (frame = 0; frame < frames; frame++) {
        float dt = time_step(frame), minus = -dt;
        double begin = example_milliseconds(), changed;
        for (group = 0; group < groups; group++) {
            for (i = 0; i < steps; i++) {
                gpuexec_node_set_argument(kick[group][i], 0, &minus, sizeof minus);
                gpuexec_node_set_argument(drift[group][i], 0, &dt, sizeof dt);
            }
        }
        changed = example_milliseconds();
        if (off && frame == frames - 1) gpuexec_node_enable(last, 1);
        gpuexec_graph_launch(graph, stream);
        change += changed - begin;
        launch += example_milliseconds() - changed;
        if (off && frame == 0)
            for (i = 0; i < 2; i++) gpuexec_node_enable(start[i], 0);
    }
    must(gpuexec_stream_sync(stream));
    printf("a frame takes the host %.3f ms to change %d nodes, and %.3f ms to launch\n",
            change / frames, 2 * groups * steps, launch / frames);
    if (off)
        printf("after two periods x is %.3f and %.3f\n", (double)result[0],
                (double)result[groups * n - 1]);
    else printf("disabling nodes needs a driver for CUDA 11.6 or later: each frame began again\n");
    wrong = off && (result[0] < 0.99f || result[0] > 1.01f || result[groups * n - 1] < 0.99f);
    gpuexec_shutdown();
    return wrong;
}
