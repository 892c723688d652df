/*  cc examples/scoped_streams.c -o scoped_streams && ./scoped_streams

    Functions that enqueue on the current stream, so that their callers decide which stream that is.
    On one stream all of it runs in order, which needs no synchronization. Then a scope moves the
    upload to a second stream, where it runs beside the computation, and the functions stay as they
    are.

    Prints, on the CPU device (where the upload and the computation share the processor):
        in order                  178.169 ms
        upload in a scope         181.791 ms
        all in another scope      142.341 ms
        the results are correct each time
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 1 << 19, steps = 16 };
static gpuexec_context ctx;
static gpuexec_kernel saxpy;
static gpuexec_stream work, transfer;
static gpuexec_ptr x, y, z;  /* n floats each */
static float *host, *result; /* pinned */

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* to += a from, `times` times. */
static void add(gpuexec_ptr to, float a, gpuexec_ptr from, int times) {
    int count = n;
    while (times-- > 0)
        gpuexec_launch(
                saxpy, GPUEXEC_CURRENT, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(a, from, to, count));
}

static void upload(gpuexec_ptr to, const float *from) {
    gpuexec_copy_in(GPUEXEC_CURRENT, to, from, n * sizeof *from);
}

static void clear(gpuexec_ptr p) { gpuexec_fill(GPUEXEC_CURRENT, p, 0, 1, n * sizeof(float)); }

/* Everything on the current stream, in order. */
static void in_order(void) {
    clear(y);
    add(y, 1, x, steps);
    upload(z, host);
    add(y, 2, z, 1);
}

/* The upload moves to another stream, which waits at the beginning of the scope for all earlier
   work, here for the last reader of z. So the scope comes before the computation: after it, the
   upload would wait for the computation. */
static void upload_in_a_scope(void) {
    clear(y);
    GPUEXEC_STREAM_SCOPE(transfer) upload(z, host);
    add(y, 1, x, steps); /* on the stream from before, beside the upload */
    gpuexec_stream_wait_stream(gpuexec_context_stream(ctx), transfer);
    add(y, 2, z, 1); /* now z is complete */
}

/* The caller can move all of that to a third stream. At the end of a joining scope the stream from
   before waits for the work inside, so what follows may use y. */
static void all_in_a_scope(void) { GPUEXEC_STREAM_SCOPE_JOIN(work) upload_in_a_scope(); }

/* Runs the function twice, checks y, and prints how long the second run took. Returns 0 if
   something is wrong. */
static int run(const char *name, void (*function)(void), gpuexec_event begin, gpuexec_event end) {
    double ms;
    int i, turn;
    for (turn = 0; turn < 2; turn++) {
        for (i = 0; i < n; i++) host[i] = (float)(i % 1000 + turn);
        gpuexec_event_record(begin, GPUEXEC_CURRENT);
        function();
        gpuexec_event_record(end, GPUEXEC_CURRENT);
        gpuexec_copy_out(GPUEXEC_CURRENT, result, y, n * sizeof *result);
        must(gpuexec_stream_sync(gpuexec_context_stream(ctx)));
        for (i = 0; i < n; i++)
            if (result[i] != (float)(steps * (i % 7) + 2 * (i % 1000 + turn))) {
                printf("%s: element %d is wrong\n", name, i);
                return 0;
            }
    }
    ms = gpuexec_event_elapsed_ms(begin, end);
    if (ms < 0) must(gpuexec_error_detail()->result);
    printf("%-24s %8.3f ms\n", name, ms);
    return 1;
}

int main(void) {
    gpuexec_stream_desc own = { 0 };
    gpuexec_event begin, end;
    int i, right;
    ctx = gpuexec_context_open(0, NULL);
    saxpy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL), "saxpy");
    own.non_blocking = 1; /* does not synchronize with the legacy stream */
    work = gpuexec_stream_create(ctx, &own), transfer = gpuexec_stream_create(ctx, &own);
    begin = gpuexec_event_create(ctx, NULL), end = gpuexec_event_create(ctx, NULL);
    x = gpuexec_alloc(ctx, n * sizeof(float));
    y = gpuexec_alloc(ctx, n * sizeof(float));
    z = gpuexec_alloc(ctx, n * sizeof(float));
    host = gpuexec_alloc_pinned(ctx, n * sizeof *host);
    result = gpuexec_alloc_pinned(ctx, n * sizeof *result);
    must(gpuexec_take_error());
    for (i = 0; i < n; i++) host[i] = (float)(i % 7);
    upload(x, host);
    must(gpuexec_stream_sync(gpuexec_context_stream(ctx))); /* run() writes to `host` */
    right = run("in order", in_order, begin, end) &&
            run("upload in a scope", upload_in_a_scope, begin, end) &&
            run("all in another scope", all_in_a_scope, begin, end);
    if (right) printf("the results are correct each time\n");
    gpuexec_shutdown();
    return !right;
}
