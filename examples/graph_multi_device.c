/*  cc examples/graph_multi_device.c -o graph_multi_device && ./graph_multi_device [steps]

    One graph over all devices, with a cooperative launch on all of them and their barrier inside. A
    step fills a counter on each device, exchanges numbers in a ring of devices with two barriers
    for each round, and copies the counters back. The capture begins on the first device's stream;
    the launch makes the other streams join.

    The same steps run as calls, then as launches of the graph: one call of the host for each step.
    A graph does not start the kernels sooner (two H200s: 20 us for a graph of only the launch, 11
    us for gpuexec_launch_multi_device).

    Prints, on two CPU devices:
        2 devices, barrier in device memory, 100 steps of 20 rounds
        as calls:  3.152 ms a step
        as graphs: 2.952 ms a step
        1600 blocks have received the right numbers in each round
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { MOST = 32, BLOCKS = 4, THREADS = 64, ROUNDS = 20 };

/* with the arguments of ring_exchange */
typedef struct device {
    gpuexec_context ctx;
    gpuexec_stream stream;
    gpuexec_ptr barrier, mine, next, wrong, done;
    int rounds, fault, fault_round;
    const void *arguments[8];
    unsigned *counted; /* wrong and done, on the host */
} device;
static device device_of[MOST];
static gpuexec_device_launch launch[MOST];
static gpuexec_multi_desc desc;
static int count;

/* How many devices, from device 0 on, are identical: a multi-device launch requires that. */
static int identical_devices(void) {
    const int devices = gpuexec_device_count();
    gpuexec_device_info first, other;
    int i;
    for (i = 0; i < devices && i < MOST &&
            gpuexec_device_get_info(i, i ? &other : &first) == GPUEXEC_OK;
            i++)
        if (i &&
                (strcmp(first.name, other.name) != 0 ||
                        first.multiprocessors != other.multiprocessors))
            break;
    return i;
}

static void prepare(void) {
    static gpuexec_context contexts[MOST];
    int i, direct;
    for (i = 0; i < count; i++) contexts[i] = device_of[i].ctx = gpuexec_context_open(i, NULL);
    desc.barrier = gpuexec_barrier_create(contexts, (unsigned)count, NULL);
    direct = gpuexec_barrier_is_direct(desc.barrier);
    for (i = 0; i < count; i++) {
        device *d = &device_of[i];
        d->stream = gpuexec_stream_create(d->ctx, NULL);
        d->barrier = gpuexec_barrier_address(desc.barrier, (unsigned)i);
        d->mine = gpuexec_alloc(d->ctx, BLOCKS * sizeof(unsigned));
        d->wrong = gpuexec_alloc(d->ctx, 2 * sizeof(unsigned));
        d->done = d->wrong + sizeof(unsigned);
        d->counted = (unsigned *)gpuexec_alloc_pinned(d->ctx, 2 * sizeof(unsigned));
        d->rounds = ROUNDS;
    }
    for (i = 0; i < count; i++) {
        device *d = &device_of[i];
        const void *const arguments[8] = { &d->barrier, &d->mine, &d->next, &d->rounds, &d->fault,
            &d->fault_round, &d->wrong, &d->done };
        /* without peer access, only its own memory */
        d->next = device_of[direct ? (i + 1) % count : i].mine;
        memcpy(d->arguments, arguments, sizeof arguments);
        launch[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(d->ctx, example_ptx("ring_exchange.ptx"), NULL),
                "ring_exchange");
        launch[i].stream = d->stream;
        launch[i].dims = gpuexec_grid(BLOCKS, THREADS, 0);
        launch[i].args.addresses = d->arguments;
        launch[i].args.count = 8;
    }
    printf("%d device%s, barrier in %s memory, ", count, count > 1 ? "s" : "",
            direct ? "device" : "host");
}

/* All work of a step, enqueued or recorded. It begins and ends on the first device's stream. */
static void step(void) {
    int i;
    for (i = 1; i < count; i++)
        gpuexec_stream_wait_stream(device_of[i].stream, device_of[0].stream);
    for (i = 0; i < count; i++)
        gpuexec_fill(device_of[i].stream, device_of[i].wrong, 0, 1, 2 * sizeof(unsigned));
    gpuexec_launch_multi_device(launch, (unsigned)count, &desc);
    for (i = 0; i < count; i++)
        gpuexec_copy_out(device_of[i].stream, device_of[i].counted, device_of[i].wrong,
                2 * sizeof(unsigned));
    for (i = 1; i < count; i++)
        gpuexec_stream_wait_stream(device_of[0].stream, device_of[i].stream);
}

int main(int argc, char **argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    gpuexec_graph graph = { 0 };
    double begin = 0, ms[2];
    unsigned blocks = 0;
    int i, k, way;
    if ((count = identical_devices()) == 0 || steps < 1) {
        fputs(count ? "the number of steps must be at least 1\n" : gpuexec_error_text(), stderr);
        return 1;
    }
    prepare();
    printf("%d steps of %d rounds\n", steps, ROUNDS);
    GPUEXEC_CAPTURE(device_of[0].stream, &graph) step();
    for (way = 0; way < 2; way++) {
        for (k = -1; k < steps; k++) { /* step -1 loads the code */
            if (way) gpuexec_graph_launch(graph, device_of[0].stream);
            else step();
            if (gpuexec_stream_sync(device_of[0].stream) != GPUEXEC_OK) {
                fputs(gpuexec_error_text(), stderr);
                return 1;
            }
            if (k < 0) begin = example_milliseconds();
            for (i = 0; k >= 0 && i < count; i++)
                if (!device_of[i].counted[0]) blocks += device_of[i].counted[1];
        }
        ms[way] = (example_milliseconds() - begin) / steps;
    }
    printf("as calls:  %.3f ms a step\nas graphs: %.3f ms a step\n", ms[0], ms[1]);
    gpuexec_shutdown();
    if (blocks != 2u * (unsigned)(steps * count * BLOCKS)) {
        printf("only %u of %d blocks have received the right numbers\n", blocks,
                2 * steps * count * BLOCKS);
        return 1;
    }
    printf("%u blocks have received the right numbers in each round\n", blocks);
    return 0;
}
