/*  cc examples/green_contexts.c -o green_contexts && ./green_contexts

    Short kernels that should finish at once, beside long ones that fill the device: first on two
    streams of one context, where the short ones wait until the long ones leave room, then on two
    green contexts, which have separate multiprocessors. Each block counts itself at the
    multiprocessor that it runs on, and the example checks that the two contexts have none in
    common. Needs a driver for CUDA 12.4.

    Prints, on the CPU device, whose times mean little:
        device 0 has 20 multiprocessors: 8 for short kernels, 8 for long ones, 4 left
        one context:         a short kernel takes   0.901 ms, the long ones  61.473 ms
        two green contexts:  a short kernel takes   1.184 ms, the long ones  50.047 ms
        short kernels ran on 8 multiprocessors, long ones on 8, and none ran both
        all results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

/* work(seen, rounds): computes for so many rounds; then each block adds 1 to seen[%smid]. */
static const char text[] = ".version 6.4\n.target sm_52\n.address_size 64\n"
                           ".visible .entry work(.param .u64 seen, .param .u32 rounds) {\n"
                           "    .reg .pred %p; .reg .b32 %r, %sm, %x; .reg .b64 %a;\n"
                           "    ld.param.u64 %a, [seen]; ld.param.u32 %r, [rounds];\n"
                           "    cvta.to.global.u64 %a, %a; mov.u32 %x, %tid.x;\n"
                           "NEXT:\n"
                           "    mad.lo.u32 %x, %x, 1664525, 1013904223;\n"
                           "    sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra NEXT;\n"
                           "    and.b32 %x, %x, %r;\n" /* 0, which the compiler does not know */
                           "    add.u32 %x, %x, 1;\n"
                           "    mov.u32 %r, %tid.x; setp.ne.u32 %p, %r, 0; @%p ret;\n"
                           "    mov.u32 %sm, %smid; mad.wide.u32 %a, %sm, 4, %a;\n"
                           "    red.global.add.u32 [%a], %x; ret;\n}\n";

enum { most = 1024, threads = 128, short_blocks = 8, short_runs = 20, long_runs = 4 };
static unsigned long_blocks, long_rounds;
static double short_ms, long_ms;

typedef struct side { /* of the work: what launches there, and where its blocks ran */
    gpuexec_context ctx;
    gpuexec_kernel work;
    gpuexec_stream stream;
    gpuexec_ptr seen;
    unsigned blocks[most];
} side;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

static side begin(gpuexec_context ctx) {
    static side s;
    s.ctx = ctx;
    s.work = gpuexec_kernel_get(gpuexec_module_load(ctx, text, 0, NULL), "work");
    s.stream = gpuexec_stream_create(ctx, NULL);
    s.seen = gpuexec_alloc(ctx, sizeof s.blocks);
    gpuexec_fill(s.stream, s.seen, 0, 1, sizeof s.blocks);
    must(gpuexec_stream_sync(s.stream));
    return s;
}

static void launch(const side *s, unsigned blocks, unsigned rounds) {
    gpuexec_launch(
            s->work, s->stream, gpuexec_grid(blocks, threads, 0), GPUEXEC_ARGS(s->seen, rounds));
}

/* Short kernels, one after the other, while long ones run. */
static void compare(side *urgent, side *bulk) {
    double begun, long_begun;
    int i;
    launch(urgent, short_blocks, 1); /* a first launch can take longer */
    launch(bulk, 1, 1);
    must(gpuexec_stream_sync(urgent->stream));
    must(gpuexec_stream_sync(bulk->stream));
    long_begun = example_milliseconds();
    for (i = 0; i < long_runs; i++) launch(bulk, long_blocks, long_rounds);
    begun = example_milliseconds();
    for (i = 0; i < short_runs; i++) {
        launch(urgent, short_blocks, 100);
        must(gpuexec_stream_sync(urgent->stream));
    }
    short_ms = (example_milliseconds() - begun) / short_runs;
    must(gpuexec_stream_sync(bulk->stream));
    long_ms = example_milliseconds() - long_begun;
}

/* Where the blocks ran. Returns on how many multiprocessors. */
static int places(side *s, unsigned expected) {
    unsigned sum = 0;
    int i, n = 0;
    must(gpuexec_copy_out_now(s->ctx, s->blocks, s->seen, sizeof s->blocks));
    for (i = 0; i < most; i++) n += s->blocks[i] != 0, sum += s->blocks[i];
    if (sum == expected) return n;
    printf("%u blocks ran, not %u\n", sum, expected);
    exit(1);
}

int main(void) {
    gpuexec_context whole = gpuexec_context_open(0, NULL), parts[2], rest;
    side urgent, bulk;
    int sizes[2], total = 0, n[3] = { 0, 0, 0 }, i, ran_short, ran_long, both = 0;
    must(gpuexec_context_get_sms(whole, &total));
    sizes[0] = 1; /* the smallest group */
    sizes[1] = total / 3;
    if (gpuexec_device_split(0, sizes, 2, NULL, parts, &rest) != GPUEXEC_OK) {
        const int missing = gpuexec_error_detail()->result == GPUEXEC_NOT_SUPPORTED;
        fputs(gpuexec_error_text(), stderr);
        gpuexec_take_error();
        return missing ? 77 : 1; /* the driver is too old, or the device too small */
    }
    for (i = 0; i < 2; i++) must(gpuexec_context_get_sms(parts[i], &n[i]));
    if (rest.id) must(gpuexec_context_get_sms(rest, &n[2]));
    printf("device 0 has %d multiprocessors: %d for short kernels, %d for long ones, %d left\n",
            total, n[0], n[1], n[2]);
    urgent = begin(whole), bulk = begin(whole);
    /* several times as many blocks as there is room for */
    long_blocks = 8 * (unsigned)gpuexec_kernel_cooperative_blocks(bulk.work, threads, 0);
    /* on a GPU until a launch takes some milliseconds */
    for (long_rounds = 100; long_rounds < 100000; long_rounds *= 2) {
        const double start = example_milliseconds();
        launch(&bulk, long_blocks, long_rounds);
        must(gpuexec_stream_sync(bulk.stream));
        if (example_milliseconds() - start > 5) break;
    }
    compare(&urgent, &bulk);
    printf("one context:         a short kernel takes %7.3f ms, the long ones %7.3f ms\n", short_ms,
            long_ms);
    urgent = begin(parts[0]), bulk = begin(parts[1]);
    compare(&urgent, &bulk);
    printf("two green contexts:  a short kernel takes %7.3f ms, the long ones %7.3f ms\n", short_ms,
            long_ms);
    ran_short = places(&urgent, short_blocks * (short_runs + 1));
    ran_long = places(&bulk, long_runs * long_blocks + 1);
    for (i = 0; i < most; i++) both += urgent.blocks[i] && bulk.blocks[i];
    printf("short kernels ran on %d multiprocessors, long ones on %d, and %s ran both\n", ran_short,
            ran_long, both ? "some" : "none");
    if (!both && ran_short <= n[0] && ran_long <= n[1]) printf("all results are correct\n");
    must(gpuexec_shutdown());
    return both || ran_short > n[0] || ran_long > n[1];
}
