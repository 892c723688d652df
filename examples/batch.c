/*  cc examples/batch.c -o batch && ./batch

    10,000 short launches, each on its own row of a matrix: one after the other with gpuexec_launch,
    and as batches, which one call launches: in order; independent of each other, so that they may
    run side by side; and the same with another argument of each launch each time. Checks the
    results, and draws the times to batch.svg in the current directory.

    Prints, on the CPU device, where launches cost little:
        gpuexec_launch                  3.41 us for each launch
        a batch in order                4.50 us
        independent launches            3.02 us
        ... with changed arguments      3.92 us
        all results are correct; wrote batch.svg
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { rows = 10000, columns = 64, rounds = 3, ways = 4 };
static gpuexec_stream stream;
static gpuexec_kernel saxpy;
static gpuexec_ptr x, y;
static float factor = 1; /* what each element of y grows by in a round */

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

static void launch_each(void) {
    int i, n = columns;
    for (i = 0; i < rows; i++) {
        gpuexec_ptr from = x + (size_t)i * columns * 4, to = y + (size_t)i * columns * 4;
        gpuexec_launch(
                saxpy, stream, gpuexec_grid(1, columns, 0), GPUEXEC_ARGS(factor, from, to, n));
    }
}

static gpuexec_batch make(gpuexec_context ctx, gpuexec_batch_order order) {
    gpuexec_batch_desc desc = { 0 };
    gpuexec_batch batch;
    int i, n = columns;
    desc.order = order;
    batch = gpuexec_batch_create(ctx, &desc);
    for (i = 0; i < rows; i++) {
        gpuexec_ptr from = x + (size_t)i * columns * 4, to = y + (size_t)i * columns * 4;
        gpuexec_batch_add(
                batch, saxpy, gpuexec_grid(1, columns, 0), GPUEXEC_ARGS(factor, from, to, n));
    }
    return batch;
}

/* Horizontal bars, as long as the times. */
static int draw(const char *file, const char *const *names, const double *times) {
    double longest = 0;
    int i;
    FILE *f = fopen(file, "w");
    if (!f) return 0;
    for (i = 0; i < ways; i++)
        if (longest < times[i]) longest = times[i];
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='640' height='%d' "
            "font-family='sans-serif' font-size='14'>\n<rect width='100%%' height='100%%' "
            "fill='white'/>\n"
            "<text x='20' y='30' font-size='18'>%d launches: microseconds for each</text>\n",
            60 + 40 * ways, rows);
    for (i = 0; i < ways; i++)
        fprintf(f,
                "<text x='20' y='%d'>%s</text>\n<rect x='230' y='%d' width='%.1f' height='24' "
                "fill='%s'/>\n"
                "<text x='%.1f' y='%d'>%.2f</text>\n",
                72 + 40 * i, names[i], 55 + 40 * i, 320 * times[i] / longest,
                i ? "#4a7ab5" : "#b55a4a", 240 + 320 * times[i] / longest, 72 + 40 * i, times[i]);
    fprintf(f, "</svg>\n");
    return fclose(f) == 0;
}

int main(void) {
    static const char *const names[ways] = { "gpuexec_launch", "a batch in order",
        "independent launches", "... with changed arguments" };
    static float result[rows * columns];
    gpuexec_batch batches[ways] = { { 0 } };
    double times[ways], expected = 0;
    int way, round, i;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    saxpy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL), "saxpy");
    stream = gpuexec_stream_create(ctx, NULL);
    x = gpuexec_alloc(ctx, sizeof result);
    y = gpuexec_alloc(ctx, sizeof result);
    for (i = 0; i < rows * columns; i++) result[i] = 1;
    must(gpuexec_copy_in_now(ctx, x, result, sizeof result));
    must(gpuexec_fill_now(ctx, y, 0, 1, sizeof result));
    batches[1] = make(ctx, GPUEXEC_BATCH_IN_ORDER);
    batches[2] = batches[3] = make(ctx, GPUEXEC_BATCH_INDEPENDENT);

    for (way = 0; way < ways; way++) {
        /* the first one makes the graph */
        for (times[way] = 1e9, round = 0; round < rounds; round++) {
            double begin = example_milliseconds(), time;
            factor = (float)(way == 3 ? 2 + round : 1);
            for (i = 0; way == 3 && i < rows; i++)
                gpuexec_batch_set(batches[way], i, 0, &factor, sizeof factor);
            if (way == 0) launch_each();
            else gpuexec_batch_launch(batches[way], stream);
            must(gpuexec_stream_sync(stream));
            time = (example_milliseconds() - begin) * 1e3 / rows;
            if (times[way] > time) times[way] = time;
            expected += (double)factor;
        }
        printf("%-30s %5.2f us%s\n", names[way], times[way], way ? "" : " for each launch");
    }
    must(gpuexec_copy_out_now(ctx, result, y, sizeof result));
    gpuexec_shutdown();
    for (i = 0; i < rows * columns; i++) {
        if ((double)result[i] == expected) continue;
        printf("element %d is %g, not %g\n", i, (double)result[i], expected);
        return 1;
    }
    if (!draw("batch.svg", names, times)) return 1;
    printf("all results are correct; wrote batch.svg\n");
    return 0;
}
