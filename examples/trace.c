/*  cc examples/trace.c -o trace && ./trace

    Which driver calls does a program make, and how long do they take? A trace hook counts them by
    name: first for 100 launches, then for the same launches as a batch, which is one call of the
    driver.

    Prints (times differ):
        100 launches, one by one
          cuMemcpyHtoDAsync              1 call        9.1 us
          cuLaunchKernel               100 calls     212.5 us
          cuMemcpyDtoHAsync              1 call       35.8 us
          cuStreamSynchronize            1 call        5.2 us
        100 launches as a batch
          ...
          cuGraphLaunch                  1 call       36.0 us
          ...
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { N = 1 << 12, LAUNCHES = 100, NAMES = 50 };
typedef struct counts {
    struct {
        const char *name;
        int calls;
        double us;
    } of[NAMES];
    int names;
} counts;

/* This program has one thread; with several, the hook would need a mutex. */
static void count(void *user, const gpuexec_trace_call *call) {
    counts *c = (counts *)user;
    int i = 0;
    if (!call->after) return;
    while (i < c->names && strcmp(c->of[i].name, call->name) != 0) i++;
    if (i == NAMES) return;
    if (i == c->names) c->of[c->names++].name = call->name;
    c->of[i].calls++;
    c->of[i].us += (double)call->took_ns / 1000;
}
static void begin(counts *c) {
    gpuexec_trace_desc desc = { 0 };
    memset(c, 0, sizeof *c);
    desc.function = count;
    desc.user = c;
    desc.filter = "cuMemcpy*,cuLaunch*,cuGraph*,cuStreamSynchronize";
    if (gpuexec_trace_begin(&desc) != GPUEXEC_OK) fputs(gpuexec_error_text(), stderr);
}
static int print(const counts *c, const char *what) { /* returns the number of calls */
    int i, all = 0;
    printf("%s\n", what);
    for (i = 0; i < c->names; i++) {
        printf("  %-24s %7d call%s %9.1f us\n", c->of[i].name, c->of[i].calls,
                c->of[i].calls == 1 ? " " : "s", c->of[i].us);
        all += c->of[i].calls;
    }
    return all;
}

int main(void) {
    static float a[N], b[N];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, example_ptx("vector_add.ptx"), NULL);
    gpuexec_kernel add = gpuexec_kernel_get(mod, "vector_add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr da = gpuexec_alloc(ctx, sizeof a), db = gpuexec_alloc(ctx, sizeof b);
    gpuexec_batch batch = gpuexec_batch_create(ctx, NULL);
    int i, n = N, wrong = 0, one_by_one, batched;
    counts c;
    for (i = 0; i < LAUNCHES; i++) /* a = a + b */
        gpuexec_batch_add(batch, add, gpuexec_grid_for(N, 256), GPUEXEC_ARGS(da, db, da, n));
    for (i = 0; i < N; i++) b[i] = (float)(i % 100);
    gpuexec_copy_in(s, db, b, sizeof b);
    gpuexec_batch_launch(batch, s); /* creates its graph */
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) goto failed;

    begin(&c);
    gpuexec_copy_in(s, da, a, sizeof a);
    for (i = 0; i < LAUNCHES; i++)
        gpuexec_launch(add, s, gpuexec_grid_for(N, 256), GPUEXEC_ARGS(da, db, da, n));
    gpuexec_copy_out(s, a, da, sizeof a);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) goto failed;
    gpuexec_trace_end();
    one_by_one = print(&c, "100 launches, one by one");

    begin(&c);
    gpuexec_copy_in(s, da, a, sizeof a);
    gpuexec_batch_launch(batch, s);
    gpuexec_copy_out(s, a, da, sizeof a);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) goto failed;
    gpuexec_trace_end();
    batched = print(&c, "100 launches as a batch");

    for (i = 0; i < N; i++) wrong += a[i] != 2 * LAUNCHES * b[i];
    if (wrong) fprintf(stderr, "%d sums are wrong\n", wrong);
    if (one_by_one != batched + LAUNCHES - 1)
        fprintf(stderr, "%d, %d calls\n", one_by_one, batched);
    gpuexec_shutdown();
    return wrong || one_by_one != batched + LAUNCHES - 1;
failed:
    fputs(gpuexec_error_text(), stderr);
    return 1;
}
