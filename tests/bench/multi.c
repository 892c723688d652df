/* multi.c - the cost of a launch over several devices, and of their barrier. For each number of
   devices from 2 on: microseconds for one barrier, as blocks x threads on each (a whole kernel's
   time divided by its rounds; median, lowest and highest of 64 barriers that exist at once), and
   for one launch with both synchronisations, back to back, by the driver's own call and by gpuexec,
   in interleaved pairs; medians. `multi 3`: only over three devices. */
#include "bench.h"

enum { MOST = 32, PAIRS = 30, BARRIERS = 64 };
static unsigned n;
static int made; /* number of barriers */
static gpuexec_context context[MOST];
static gpuexec_stream stream[MOST];
static gpuexec_kernel rounds_kernel[MOST];
static gpuexec_ptr done[MOST];

static void wait_all(unsigned count) {
    unsigned i;
    for (i = 0; i < count; i++) check(gpuexec_stream_sync(stream[i]));
}

/* `launches` launches of a kernel of `rounds` barriers; total microseconds, from the first launch
   to the end of the last. */
static double run(unsigned count, gpuexec_barrier barrier, gpuexec_multi_way way, int rounds,
        int launches, unsigned blocks, unsigned threads) {
    gpuexec_device_launch list[MOST];
    gpuexec_ptr part[MOST];
    const void *args[MOST][3];
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    double begin;
    unsigned i;
    int k;
    desc.way = way;
    memset(list, 0, sizeof list);
    for (i = 0; i < count; i++) {
        part[i] = gpuexec_barrier_address(barrier, i);
        args[i][0] = &part[i];
        args[i][1] = &rounds;
        args[i][2] = &done[i];
        list[i].kernel = rounds_kernel[i];
        list[i].stream = stream[i];
        list[i].dims = gpuexec_grid(blocks, threads, 0);
        list[i].args.addresses = args[i];
        list[i].args.count = 3;
    }
    begin = microseconds();
    for (k = 0; k < launches; k++) check(gpuexec_launch_multi_device(list, count, &desc));
    wait_all(count);
    return microseconds() - begin;
}

/* One column: the median, lowest and highest of all barriers, which have different addresses,
   nearer to or farther from the blocks that poll them. A barrier that has collapsed takes a hundred
   times as long: then fewer rounds are enough. */
static void column(unsigned count, const gpuexec_barrier *barrier, int rounds, unsigned blocks,
        unsigned threads) {
    double t[BARRIERS];
    int k;
    for (k = 0; k < made; k++) {
        const int few = rounds / 20 + 1,
                  collapsed = run(count, barrier[k], GPUEXEC_MULTI_PER_DEVICE, few, 1, blocks,
                                      threads) /
                        few >
                30;
        const int enough = collapsed ? rounds / 5 : rounds;
        t[k] = run(count, barrier[k], GPUEXEC_MULTI_PER_DEVICE, enough, 1, blocks, threads) /
                enough;
    }
    printf(" | %.2f", median(t, (size_t)made));
    printf(" (%.2f to %.2f)", t[0], t[made - 1]);
}

static void barriers(unsigned count, int host, int rounds) {
    const unsigned most = (unsigned)gpuexec_kernel_cooperative_blocks(rounds_kernel[0], 256, 0);
    const unsigned shapes[][2] = {
        { 1, 32 },
        { 1, 256 },
        { 132, 32 },
        { 132, 256 },
        { most, 256 },
    };
    gpuexec_barrier_desc desc = { 0, 0, 0, 0 };
    gpuexec_barrier barrier[BARRIERS];
    unsigned i;
    int k;
    desc.host_memory = host;
    for (k = 0; k < made; k++) barrier[k] = gpuexec_barrier_create(context, count, &desc);
    check(gpuexec_take_error());
    printf("| %u, %s", count,
            gpuexec_barrier_is_direct(barrier[0]) ? "peer access" : "through host memory");
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (shapes[i][0] > most) printf(" | do not fit");
        else column(count, barrier, rounds, shapes[i][0], shapes[i][1]);
    }
    printf(" |\n");
    fflush(stdout);
    for (k = 0; k < made; k++) check(gpuexec_barrier_destroy(barrier[k]));
}
static void pairs(unsigned count, int launches) {
    double driver[PAIRS], ours[PAIRS], ratio[PAIRS];
    gpuexec_barrier barrier = gpuexec_barrier_create(context, count, NULL);
    unsigned i;
    run(count, barrier, GPUEXEC_MULTI_DRIVER, 0, 1, 1, 32);
    run(count, barrier, GPUEXEC_MULTI_FASTEST, 0, 1, 1, 32);
    for (i = 0; i < PAIRS; i++) {
        driver[i] = run(count, barrier, GPUEXEC_MULTI_DRIVER, 0, launches, 1, 32) / launches;
        ours[i] = run(count, barrier, GPUEXEC_MULTI_FASTEST, 0, launches, 1, 32) / launches;
        ratio[i] = ours[i] / driver[i];
    }
    printf("| %u | %.2f | %.2f | %.3f |\n", count, median(driver, PAIRS), median(ours, PAIRS),
            median(ratio, PAIRS));
    fflush(stdout);
    check(gpuexec_barrier_destroy(barrier));
}
static unsigned next(unsigned count) { return count + (count < 4 ? 1 : 2); }

int main(int argc, char **argv) {
    const int rounds = smoke() ? 20 : 3000;
    const unsigned only = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    unsigned i, count;
    made = smoke() ? 4 : BARRIERS;
    n = (unsigned)gpuexec_device_count();
    if (n > MOST) n = MOST;
    printf("\n## Several devices\n\n");
    if (n < 2) {
        printf("skipped: this needs two devices\n");
        return 0;
    }
    for (i = 0; i < n; i++) {
        gpuexec_module module;
        context[i] = gpuexec_context_open((int)i, NULL);
        module = gpuexec_module_load_file(context[i], "kernels/ring_exchange.ptx", NULL);
        rounds_kernel[i] = gpuexec_kernel_get(module, "barrier_rounds");
        stream[i] = gpuexec_stream_create(context[i], NULL);
        done[i] = gpuexec_alloc(context[i], 4);
    }
    check(gpuexec_take_error());
    printf("| us for a barrier over devices | 1 block of 32 threads on each | 1 x 256 | 132 x 32 | "
           "132 x 256 | as many as fit x 256 |\n|---|---|---|---|---|---|\n");
    for (count = 2; count <= n; count = next(count)) {
        if (only && count != only) continue;
        barriers(count, 0, rounds);
        barriers(count, 1, rounds);
    }
    printf("\n| us for a launch with both synchronisations, devices | the driver's | gpuexec | "
           "ratio |\n"
           "|---|---|---|---|\n");
    for (count = 2; count <= n; count = next(count))
        if (!only || count == only) pairs(count, rounds / 10 + 1);
    return gpuexec_shutdown() != GPUEXEC_OK;
}
