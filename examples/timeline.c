/*  cc examples/timeline.c -o timeline && ./timeline

    Shows where the time goes: the same work, before and after its fix, as two pictures and two
    pages. Eight pieces are copied in, computed and copied out. Before, the host waits for each
    piece; after, three streams take turns and the host waits once: copies run beside kernels.

    Writes timeline_before.svg and timeline_after.svg, pages with all details
    (timeline_before.html, timeline_after.html), and files that Perfetto opens (.json).
    `./timeline run.json run.html` draws a page or a picture of any timeline's file.

    Prints, on the CPU device:
        before: 8 pieces in 77.62 ms; timeline_before.svg
        after:  8 pieces in 43.70 ms; timeline_after.svg
        all results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { pieces = 8, n = 1 << 19, streams = 3 }; /* elements in a piece: 2 MiB */
static const unsigned multiplier = 1664525u, increment = 1013904223u;

static gpuexec_context ctx;
static gpuexec_kernel busy;
static gpuexec_stream stream[streams];
static gpuexec_ptr device[streams]; /* one piece for each stream */
static unsigned *in, *out;          /* pinned */
static int rounds = 1;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

static void enqueue(int piece, int on) {
    const int count = n;
    gpuexec_copy_in(stream[on], device[on], in + (size_t)piece * n, n * sizeof *in);
    gpuexec_launch(busy, stream[on], gpuexec_grid_for(n, 256),
            GPUEXEC_ARGS(device[on], count, multiplier, increment, rounds));
    gpuexec_copy_out(stream[on], out + (size_t)piece * n, device[on], n * sizeof *out);
}
static void before(void) {
    int i;
    for (i = 0; i < pieces; i++) GPUEXEC_RANGE("piece") {
            enqueue(i, 0);
            must(gpuexec_stream_sync(stream[0]));
        }
}
static void after(void) {
    int i;
    GPUEXEC_RANGE("all pieces") {
        for (i = 0; i < pieces; i++) enqueue(i, i % streams);
        for (i = 0; i < streams; i++) must(gpuexec_stream_sync(stream[i]));
    }
}

static void record(const char *title, const char *name, void (*work)(void)) {
    char json[80], picture[80], page[80];
    gpuexec_timeline_desc desc = { 0 };
    double start, ms;
    snprintf(json, sizeof json, "%s.json", name);
    snprintf(picture, sizeof picture, "%s.svg", name);
    snprintf(page, sizeof page, "%s.html", name);
    desc.page = page;
    must(gpuexec_timeline_begin(json, &desc));
    start = example_milliseconds();
    work();
    ms = example_milliseconds() - start;
    must(gpuexec_timeline_end());
    must(gpuexec_timeline_page(json, picture));
    printf("%-7s %d pieces in %.2f ms; %s\n", title, pieces, ms, picture);
}

int main(int argc, char **argv) {
    static const char *const labels[streams] = { "first", "second", "third" };
    double start, copies, kernel;
    unsigned m = 1, c = 0, wrong = 0;
    int i;
    if (argc == 3) {
        must(gpuexec_timeline_page(argv[1], argv[2]));
        return 0;
    }
    ctx = gpuexec_context_open(0, NULL);
    busy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, example_ptx("busy.ptx"), NULL), "busy");
    for (i = 0; i < streams; i++) {
        stream[i] = gpuexec_stream_create(ctx, NULL);
        gpuexec_label(stream[i], labels[i]);
        device[i] = gpuexec_alloc(ctx, n * sizeof *in);
    }
    in = gpuexec_alloc_pinned(ctx, pieces * n * sizeof *in);
    out = gpuexec_alloc_pinned(ctx, pieces * n * sizeof *out);
    must(gpuexec_take_error());
    for (i = 0; i < pieces * n; i++) in[i] = (unsigned)i * 2654435761u;

    /* warms up; then, on a fast device, as many rounds as take the time of both copies */
    after();
    for (copies = 0, kernel = 0; rounds < 10000 && kernel <= copies; rounds += 1 + rounds / 4) {
        const int count = n;
        start = example_milliseconds();
        gpuexec_copy_in(stream[0], device[0], in, n * sizeof *in);
        gpuexec_copy_out(stream[0], out, device[0], n * sizeof *out);
        must(gpuexec_stream_sync(stream[0]));
        copies = example_milliseconds() - start;
        gpuexec_launch(busy, stream[0], gpuexec_grid_for(n, 256),
                GPUEXEC_ARGS(device[0], count, multiplier, increment, rounds));
        must(gpuexec_stream_sync(stream[0]));
        kernel = example_milliseconds() - start - copies;
    }
    record("before:", "timeline_before", before);
    memset(out, 0, pieces * n * sizeof *out);
    record("after:", "timeline_after", after);

    for (i = 0; i < rounds; i++) { /* all rounds are one with other numbers */
        c = multiplier * c + increment;
        m *= multiplier;
    }
    for (i = 0; i < pieces * n; i++) wrong += out[i] != m * in[i] + c;
    if (wrong) printf("%u results are wrong\n", wrong);
    else printf("all results are correct\n");
    must(gpuexec_shutdown());
    return wrong > 0;
}
