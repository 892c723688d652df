/*  cc examples/async_pipeline.c -o async_pipeline && ./async_pipeline

    Copies data to the device, computes, and copies the results back, in pieces on three streams:
    while one piece is computed, the next one is copied in and the one before is copied out. The
    whole should take little longer than the slowest of the three stages alone. This needs pinned
    host memory: the driver stages copies of pageable memory. Meanwhile the CPU sums a series for
    pi, until an event says that the device has finished.

    Prints, on the CPU device (where the stages share the processor with the CPU's own work):
        8 pieces of 4096 KiB on 3 streams; rounds in each kernel: 1
        copies in alone      2.61 ms
        kernels alone       69.16 ms
        copies out alone     2.06 ms
        all stages          84.05 ms
        the slowest stage alone takes 0.82 of the time of all stages
        the CPU enqueued for 0.05 ms and worked for 84.02 ms: after 22523000 terms, pi is 3.141593
        all results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { most = 32, n = 1 << 20, streams = 3 }; /* pieces; elements in a piece: 4 MiB */
enum { COPY_IN = 1, COMPUTE = 2, COPY_OUT = 4, ALL = 7 };
static const unsigned multiplier = 1664525u, increment = 1013904223u;

static gpuexec_kernel busy;
static gpuexec_stream stream[streams];
static gpuexec_ptr device[streams]; /* one piece for each stream */
static gpuexec_event begin, end;
static unsigned *in, *out; /* pinned */
static int pieces = most, rounds = 1;

typedef struct times {
    double device, enqueuing, working /* milliseconds */, terms, pi;
} times;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* Enqueues these stages of all pieces, then lets the CPU work until the device has finished
   them. */
static times run(int stages) {
    times t = { 0, 0, 0, 0, 0 };
    double start = example_milliseconds(), last;
    int i, count = n;
    gpuexec_event_record(begin, stream[0]);
    for (i = 1; i < streams; i++) gpuexec_stream_wait_event(stream[i], begin);
    for (i = 0; i < pieces; i++) {
        gpuexec_stream s = stream[i % streams];
        gpuexec_ptr d = device[i % streams];
        if (stages & COPY_IN) gpuexec_copy_in(s, d, in + (size_t)i * n, n * sizeof *in);
        if (stages & COMPUTE)
            gpuexec_launch(busy, s, gpuexec_grid_for(n, 256),
                    GPUEXEC_ARGS(d, count, multiplier, increment, rounds));
        if (stages & COPY_OUT) gpuexec_copy_out(s, out + (size_t)i * n, d, n * sizeof *out);
    }
    for (i = 1; i < streams; i++) gpuexec_stream_wait_stream(stream[0], stream[i]);
    gpuexec_event_record(end, stream[0]); /* after the work of all streams */
    t.enqueuing = example_milliseconds() - start;
    /* 1000 more terms of 4 - 4/3 + 4/5 - 4/7 ... */
    while (gpuexec_event_query(end) == GPUEXEC_NOT_READY)
        for (last = t.terms + 1000; t.terms < last; t.terms += 2)
            t.pi += 4 / (2 * t.terms + 1) - 4 / (2 * t.terms + 3);
    t.working = example_milliseconds() - start - t.enqueuing;
    must(gpuexec_event_sync(end)); /* returns at once, with any failure */
    t.device = gpuexec_event_elapsed_ms(begin, end);
    if (t.device < 0) must(gpuexec_error_detail()->result);
    return t;
}

int main(void) {
    static const struct {
        int stages;
        const char *name;
    } part[] = {
        { COPY_IN, "copies in alone" },
        { COMPUTE, "kernels alone" },
        { COPY_OUT, "copies out alone" },
        { ALL, "all stages" },
    };
    gpuexec_stream_desc own = { 0 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    times best[4], t;
    double copying, slowest = 0;
    unsigned m = 1, c = 0, wrong = 0;
    int i, attempt;
    own.non_blocking = 1; /* does not synchronize with the legacy stream */
    busy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, example_ptx("busy.ptx"), NULL), "busy");
    for (i = 0; i < streams; i++) {
        stream[i] = gpuexec_stream_create(ctx, &own);
        device[i] = gpuexec_alloc(ctx, n * sizeof *in);
    }
    begin = gpuexec_event_create(ctx, NULL), end = gpuexec_event_create(ctx, NULL);
    in = gpuexec_alloc_pinned(ctx, most * n * sizeof *in);
    out = gpuexec_alloc_pinned(ctx, most * n * sizeof *out);
    must(gpuexec_take_error());
    for (i = 0; i < most * n; i++) in[i] = (unsigned)i * 2654435761u;

    /* warms up; fewer pieces on a slow device */
    while (run(ALL).device > 100 && pieces > 8) pieces /= 2;
    copying = run(COPY_IN).device;
    if ((t = run(COPY_OUT)).device > copying) copying = t.device;
    while (rounds < 10000 && run(COMPUTE).device < 1.5 * copying) rounds += 1 + rounds / 5;
    for (attempt = 0; attempt < 3; attempt++)
        for (i = 0; i < 4; i++) {
            t = run(part[i].stages);
            if (!attempt || t.device < best[i].device) best[i] = t;
        }
    printf("%d pieces of %d KiB on %d streams; rounds in each kernel: %d\n", pieces, n / 256,
            streams, rounds);
    for (i = 0; i < 4; i++) {
        printf("%-16s %8.2f ms\n", part[i].name, best[i].device);
        if (i < 3 && best[i].device > slowest) slowest = best[i].device;
    }
    printf("the slowest stage alone takes %.2f of the time of all stages\n",
            slowest / best[3].device);
    printf("the CPU enqueued for %.2f ms and worked for %.2f ms: after %.0f terms, pi is %.6f\n",
            best[3].enqueuing, best[3].working, best[3].terms, best[3].pi);

    for (i = 0; i < rounds; i++) { /* all rounds are one with other numbers */
        c = multiplier * c + increment;
        m *= multiplier;
    }
    for (i = 0; i < pieces * n; i++) wrong += out[i] != m * in[i] + c;
    if (wrong) printf("%u results are wrong\n", wrong);
    else printf("all results are correct\n");
    gpuexec_shutdown();
    return wrong > 0;
}
