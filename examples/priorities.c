/*  cc examples/priorities.c -o priorities && ./priorities

    Two streams get the same work, in turns: do they share the device, or does one of them come
    first? With kernels that have more blocks than the device has room for, the stream with the
    higher priority finishes first, whichever began. For copies CUDA promises nothing; the same
    measurement with copies within the device's memory shows what happens.

    Prints, on the CPU device (lower numbers mean higher priority):
        kernels   priority  0: 355.997 ms   priority -5: 248.572 ms
        kernels   priority  0: 369.277 ms   priority  0: 369.512 ms
        kernels   priority -5: 250.881 ms   priority  0: 367.450 ms
        copies    priority  0:  36.657 ms   priority -5:  36.470 ms
        copies    priority  0:  27.254 ms   priority  0:  36.099 ms
        copies    priority -5:  36.259 ms   priority  0:  38.691 ms
        with kernels, the stream with the higher priority was faster both ways round
        all results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 1 << 20, threads = 128, launches = 8 }; /* 8192 blocks in each launch */
static const unsigned multiplier = 1664525u, increment = 1013904223u;

static gpuexec_context ctx;
static gpuexec_kernel busy;
static int rounds = 1;
static size_t piece = (size_t)512 << 20; /* bytes of each copy */
static unsigned data[n];

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

static void compute(gpuexec_stream s, gpuexec_ptr p, int turn) {
    int count = n;
    (void)turn;
    gpuexec_launch(busy, s, gpuexec_grid_for(n, threads),
            GPUEXEC_ARGS(p, count, multiplier, increment, rounds));
}

static void copy(gpuexec_stream s, gpuexec_ptr p, int turn) { /* one half to the other, then back */
    if (turn % 2) gpuexec_copy(s, p, p + piece, piece);
    else gpuexec_copy(s, p + piece, p, piece);
}

/* Enqueues work on two streams of these priorities in turns, and prints how long each took. Returns
   by how many milliseconds the second one was faster. */
static double race(const char *name, void (*work)(gpuexec_stream, gpuexec_ptr, int), int turns,
        const gpuexec_ptr memory[2], int first, int second) {
    gpuexec_stream_desc desc[2] = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    gpuexec_stream s[2];
    gpuexec_event start[2], end[2];
    double ms[2];
    int i, turn;
    desc[0].priority = first, desc[1].priority = second;
    for (i = 0; i < 2; i++) s[i] = gpuexec_stream_create(ctx, &desc[i]);
    for (i = 0; i < 2; i++) start[i] = gpuexec_stream_record(s[i], NULL);
    for (turn = 0; turn < turns; turn++)
        for (i = 0; i < 2; i++) work(s[i], memory[i], turn);
    for (i = 0; i < 2; i++) end[i] = gpuexec_stream_record(s[i], NULL);
    for (i = 0; i < 2; i++) {
        must(gpuexec_event_sync(end[i]));
        ms[i] = gpuexec_event_elapsed_ms(start[i], end[i]);
        if (ms[i] < 0) must(gpuexec_error_detail()->result);
        gpuexec_event_destroy(start[i]), gpuexec_event_destroy(end[i]);
        gpuexec_stream_destroy(s[i]);
    }
    printf("%s   priority %2d: %7.3f ms   priority %2d: %7.3f ms\n", name, first, ms[0], second,
            ms[1]);
    return ms[0] - ms[1];
}

int main(void) {
    gpuexec_ptr numbers[2], large[2];
    unsigned m = 1, c = 0, i, wrong = 0;
    int low, high, k, ahead;
    size_t free_bytes = 0;
    ctx = gpuexec_context_open(0, NULL);
    busy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, example_ptx("busy.ptx"), NULL), "busy");
    must(gpuexec_context_get_priorities(ctx, &low, &high));
    must(gpuexec_context_get_memory(ctx, &free_bytes, NULL));
    while (4 * piece > free_bytes / 16) piece /= 2;
    for (k = 0; k < 2; k++) {
        numbers[k] = gpuexec_alloc(ctx, sizeof data), large[k] = gpuexec_alloc(ctx, 2 * piece);
        gpuexec_fill(GPUEXEC_CURRENT, large[k], 0, 1, 2 * piece);
    }
    compute(GPUEXEC_CURRENT, numbers[0], 0); /* a first launch can take longer */
    for (;; rounds *= 2) {                   /* until a launch takes a tenth of a millisecond */
        gpuexec_event start = gpuexec_stream_record(gpuexec_context_stream(ctx), NULL), end;
        compute(GPUEXEC_CURRENT, numbers[0], 0);
        end = gpuexec_stream_record(gpuexec_context_stream(ctx), NULL);
        must(gpuexec_event_sync(end));
        if (rounds >= 4096 || gpuexec_event_elapsed_ms(start, end) >= 0.1) break;
    }
    for (i = 0; i < n; i++) data[i] = i;
    for (k = 0; k < 2; k++) gpuexec_copy_in(GPUEXEC_CURRENT, numbers[k], data, sizeof data);
    must(gpuexec_context_sync(ctx));

    ahead = race("kernels", compute, launches, numbers, low, high) > 0;
    race("kernels", compute, launches, numbers, low, low);
    ahead += race("kernels", compute, launches, numbers, high, low) < 0;
    race("copies ", copy, 2, large, low, high);
    race("copies ", copy, 2, large, low, low);
    race("copies ", copy, 2, large, high, low);
    printf("with kernels, the stream with the higher priority was faster %s\n",
            ahead == 2           ? "both ways round"
                    : ahead == 1 ? "one way round"
                                 : "neither way round");

    /* of all steps */
    for (k = 0; k < 3 * launches * rounds; k++) c = multiplier * c + increment, m *= multiplier;
    for (k = 0; k < 2; k++) {
        must(gpuexec_copy_out_now(ctx, data, numbers[k], sizeof data));
        for (i = 0; i < n; i++) wrong += data[i] != m * i + c;
    }
    if (wrong) printf("%u results are wrong\n", wrong);
    else printf("all results are correct\n");
    gpuexec_shutdown();
    return wrong > 0;
}
