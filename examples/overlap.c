/*  cc examples/overlap.c -o overlap && ./overlap

    Copies in, kernels, copies out and CPU work: first one after the other, then overlapped. Overlap needs pinned host
    memory (the driver stages copies from and to pageable memory), and two streams, so that one copies while the other
    computes. Both runs do the same work, and check all of its results.

    Prints, on an H200 (on the CPU device, the device and the CPU work share the cores):
        32 MiB in 8 chunks, 4096 rounds each
                        device    CPU work       total
        one by one     3.56 ms     2.54 ms     6.11 ms
        overlapped     2.26 ms     2.45 ms     2.54 ms
        results are correct both times; overlapped is 2.4 times as fast
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { chunks = 8, n = 1 << 20 };                                   /* elements in a chunk: 4 MiB */
static const unsigned multiplier = 1664525u, increment = 1013904223u;

static gpuexec_kernel busy;
static gpuexec_stream stream[2];
static gpuexec_event  begin, middle, end;
static gpuexec_ptr    device[2];                                    /* one chunk for each stream */
static unsigned      *in, *out;                                     /* pinned */

static void compute(int s, int rounds) {
    int count = n;
    gpuexec_launch(busy, stream[s], gpuexec_grid_for(n, 256),
                   GPUEXEC_ARGS(device[s], count, multiplier, increment, rounds));
}

static void chunk(int i, int s, int rounds) {
    gpuexec_copy_in(stream[s], device[s], in + (size_t)i * n, n * sizeof *in);
    compute(s, rounds);
    gpuexec_copy_out(stream[s], out + (size_t)i * n, device[s], n * sizeof *out);
}

/* The time that the device takes to copy one chunk in and out (rounds 0) or to compute it. */
static double measure(int rounds) {
    gpuexec_event_record(begin, stream[0]);
    if (rounds) compute(0, rounds);
    else gpuexec_copy_in(stream[0], device[0], in, n * sizeof *in),
        gpuexec_copy_out(stream[0], out, device[0], n * sizeof *out);
    gpuexec_event_record(end, stream[0]);
    return gpuexec_event_sync(end) == GPUEXEC_OK ? gpuexec_event_elapsed_ms(begin, end) : 1e9;
}

static unsigned cpu_work(int units) {
    unsigned x = 1, i;
    for (i = 0; i < (unsigned)units * 10000u; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

/* Does all of the work, prints a line of the table, and checks every element. Returns the total time, or -1 if
   something is wrong. */
static double run(const char *name, int overlapped, int rounds, int units, unsigned *answer) {
    unsigned m = 1, c = 0;
    int      i, r;
    double   start = example_milliseconds(), cpu_start, cpu_stop, stop;
    gpuexec_event_record(begin, stream[0]);
    gpuexec_stream_wait_event(stream[1], begin);
    for (i = 0; i < chunks; i++) {
        chunk(i, overlapped ? i % 2 : 0, rounds);                   /* returns immediately */
        if (!overlapped && gpuexec_stream_sync(stream[0]) != GPUEXEC_OK) return -1;
    }
    gpuexec_event_record(middle, stream[1]);
    gpuexec_stream_wait_event(stream[0], middle);
    gpuexec_event_record(end, stream[0]);                           /* after the work of both streams */
    cpu_start = example_milliseconds();
    *answer = cpu_work(units);
    cpu_stop = example_milliseconds();
    if (gpuexec_event_sync(end) != GPUEXEC_OK) return -1;
    stop = example_milliseconds();
    printf("%-10s %8.2f ms %8.2f ms %8.2f ms\n", name, gpuexec_event_elapsed_ms(begin, end), cpu_stop - cpu_start,
           stop - start);
    for (r = 0; r < rounds; r++) {
        c = multiplier * c + increment;
        m *= multiplier;
    }
    for (i = 0; i < chunks * n; i++)
        if (out[i] != m * in[i] + c) return -1;
    memset(out, 0, chunks * n * sizeof *out);
    return stop - start;
}

int main(void) {
    int      i, rounds = 1, units = 1;
    unsigned answer[2] = { 0, 1 };
    double   serial, overlapped, copying, goal;
    gpuexec_stream_desc own = { 0 };
    own.non_blocking = 1;                                           /* does not synchronise with the legacy stream */
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    busy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, example_ptx("busy.ptx"), NULL), "busy");
    for (i = 0; i < 2; i++) {
        stream[i] = gpuexec_stream_create(ctx, &own);
        device[i] = gpuexec_alloc(ctx, n * sizeof *in);
    }
    begin = gpuexec_event_create(ctx, NULL), middle = gpuexec_event_create(ctx, NULL),
        end = gpuexec_event_create(ctx, NULL);
    in = gpuexec_alloc_pinned(ctx, chunks * n * sizeof *in), out = gpuexec_alloc_pinned(ctx, chunks * n * sizeof *out);
    if (gpuexec_take_error() != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    for (i = 0; i < chunks * n; i++) in[i] = (unsigned)i * 2654435761u;

    measure(0), measure(1);                                         /* warm up */
    for (copying = measure(0); rounds < 4096 && measure(rounds) < copying; ) rounds *= 2;   /* as slow as a copy */
    goal = 0.7 * chunks * (copying + measure(rounds));     /* makes the CPU work take about as long as the device's */
    for (; units < 4096; units *= 2) {
        double start = example_milliseconds();
        answer[0] = cpu_work(units);
        if (example_milliseconds() - start >= goal) break;
    }
    printf("%d MiB in %d chunks, %d rounds each\n"
           "                device    CPU work       total\n", chunks * n / (1 << 18), chunks, rounds);
    serial = run("one by one", 0, rounds, units, &answer[0]);
    overlapped = run("overlapped", 1, rounds, units, &answer[1]);
    if (gpuexec_take_error() != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    if (serial < 0 || overlapped < 0 || answer[0] != answer[1]) {
        printf("the results are wrong\n");
        return 1;
    }
    printf("results are correct both times; overlapped is %.1f times as fast\n", serial / overlapped);
    gpuexec_shutdown();
    return 0;
}
