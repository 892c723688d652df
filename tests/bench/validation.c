/* validation.c - what the finder costs: a program whose kernels run for 10 us and wait for each
   other across streams, and empty kernels, with and without it, in turn; and the host memory that
   it needs. The bounds: twice the time for the first program, and a fixed amount of memory however
   long it runs. */
#include "bench.h"

enum { ROUNDS = 7, STREAMS = 4, BUFFERS = 8 };
static const double at_most_ratio = 2.0;
static const long at_most_growth = 64 * 1024;

static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        /* step(from, to, ns, n): reads one buffer, writes the other, n words in rounds of all
           threads, and takes so long */
        ".visible .entry step(.param .u64 from, .param .u64 to, .param .u64 ns, .param .u32 n) {\n"
        "    .reg .b64 %a, %b, %c, %d, %o, %n, %begin, %now; .reg .b32 %x, %i, %s, %e, %t;\n"
        "    .reg .pred %p;\n"
        "    mov.u64 %begin, %globaltimer;\n"
        "    ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; ld.param.u64 %n, [ns];\n"
        "    ld.param.u32 %e, [n]; mov.u32 %i, %ctaid.x; mov.u32 %s, %ntid.x; mov.u32 %t, %tid.x;\n"
        "    mad.lo.u32 %i, %i, %s, %t; mov.u32 %t, %nctaid.x; mul.lo.u32 %s, %s, %t;\n"
        "    setp.ge.u32 %p, %i, %e; @%p bra AGAIN;\n"
        "NEXT: mul.wide.u32 %o, %i, 4; add.u64 %c, %a, %o; add.u64 %d, %b, %o;\n"
        "    ld.global.u32 %x, [%c]; add.u32 %x, %x, 1; st.global.u32 [%d], %x;\n"
        "    add.u32 %i, %i, %s; setp.lt.u32 %p, %i, %e; @%p bra NEXT;\n"
        "AGAIN: mov.u64 %now, %globaltimer; sub.u64 %now, %now, %begin;\n"
        "    setp.lt.u64 %p, %now, %n; @%p bra AGAIN; ret;\n}\n";
static long bytes_now, bytes_most;

/* The allocator of the library, with the size before each block. */
static void *counted(void *user, void *p, size_t bytes) {
    size_t *const old = p ? (size_t *)p - 2 : NULL, had = old ? *old : 0;
    size_t *block;
    (void)user;
    bytes_now += (long)bytes - (long)had;
    if (bytes_now > bytes_most) bytes_most = bytes_now;
    if (!bytes) {
        free(old);
        return NULL;
    }
    block = realloc(old, bytes + 2 * sizeof *block);
    if (!block) return NULL;
    *block = bytes;
    return block + 2;
}
typedef struct figures {
    double program_us, launch_us; /* for each kernel: host and device; of the calling thread */
    long before, after;           /* bytes: after the first tenth, and at the end */
} figures;
static figures measure(int validation) {
    const int steps = smoke() ? 400 : 4000, bursts = smoke() ? 2 : 20;
    gpuexec_setup_desc setup = { 0 };
    gpuexec_stream_desc alone = { 0 };
    gpuexec_stream streams[STREAMS];
    gpuexec_event events[STREAMS];
    gpuexec_ptr buffers[BUFFERS];
    gpuexec_context context;
    gpuexec_kernel step;
    unsigned long long ns = 10000;
    unsigned n = 1;
    double begin, least = 1e30;
    figures f = { 0, 0, 0, 0 };
    int i, k;
    gpuexec_shutdown();
    setup.validation = validation;
    setup.realloc_function = counted;
    check(gpuexec_setup(&setup));
    context = gpuexec_context_open(0, NULL);
    step = gpuexec_kernel_get(gpuexec_module_load(context, text, 0, NULL), "step");
    alone.non_blocking = 1;
    for (i = 0; i < STREAMS; i++) {
        streams[i] = gpuexec_stream_create(context, i % 2 ? &alone : NULL);
        events[i] = gpuexec_event_create(context, NULL);
    }
    for (i = 0; i < BUFFERS; i++) {
        buffers[i] = gpuexec_alloc(context, 1 << 16);
        check(gpuexec_fill(streams[0], buffers[i], 0, 4, 1 << 14));
    }
    check(gpuexec_context_sync(context));
    for (k = 0; k < 2; k++) { /* the first time warms up */
        begin = microseconds();
        for (i = 0; i < (k ? steps : steps / 10); i++) {
            const unsigned words = 100u + (unsigned)i % 100; /* no launch repeats one of the last
                                                              * ones
                                                              */
            const int on = i % STREAMS, before = (i + STREAMS - 1) % STREAMS;
            if (i) check(gpuexec_stream_wait_event(streams[on], events[before]));
            check(gpuexec_launch(step, streams[on], gpuexec_grid(1, 32, 0),
                    GPUEXEC_ARGS(buffers[i % BUFFERS], buffers[(i + 1) % BUFFERS], ns, words)));
            check(gpuexec_event_record(events[on], streams[on]));
        }
        check(gpuexec_context_sync(context));
        f.program_us = (microseconds() - begin) / steps;
        if (!k) f.before = bytes_now;
    }
    f.after = bytes_now;
    ns = 0;
    for (k = 0; k < bursts; k++) {
        begin = microseconds();
        for (i = 0; i < 100; i++)
            check(gpuexec_launch(step, streams[1], gpuexec_grid(1, 1, 0),
                    GPUEXEC_ARGS(buffers[0], buffers[1], ns, n)));
        if (microseconds() - begin < least) least = microseconds() - begin;
        check(gpuexec_stream_sync(streams[1]));
    }
    f.launch_us = least / 100;
    if (gpuexec_validation_reports()) {
        printf("the finder reports this correct program\n");
        exit(1);
    }
    check(gpuexec_shutdown());
    return f;
}
int main(void) {
    const int rounds = smoke() ? 1 : ROUNDS;
    static double us[2][ROUNDS], launch[2][ROUNDS], ratio[ROUNDS];
    long growth = 0, most[2] = { 0, 0 };
    int round, on, missed = 0;
    for (round = 0; round < rounds; round++) {
        for (on = 0; on < 2; on++) {
            figures f;
            bytes_most = bytes_now = 0;
            f = measure(on);
            us[on][round] = f.program_us;
            launch[on][round] = f.launch_us;
            most[on] = bytes_most;
            if (on && f.after - f.before > growth) growth = f.after - f.before;
        }
        ratio[round] = us[1][round] / us[0][round];
    }
    printf("\nmicroseconds for each kernel, with and without the finder in turn, the median of %d "
           "rounds\n\n| what | without | with | ratio |\n|---|---|---|---|\n",
            rounds);
    printf("| kernels of 10 us that wait for each other, host and device | %.2f | %.2f | %.2f |\n",
            median(us[0], (size_t)rounds), median(us[1], (size_t)rounds),
            median(ratio, (size_t)rounds));
    printf("| launch of an empty kernel with two pointers, the calling thread | %.2f | %.2f | %.1f "
           "|\n",
            median(launch[0], (size_t)rounds), median(launch[1], (size_t)rounds),
            median(launch[1], (size_t)rounds) / median(launch[0], (size_t)rounds));
    printf("\nhighest ratio of the program: %.2f. Host memory of the library: at most %ld KiB, and "
           "%ld KiB with the finder; the finder's growth over the program: %ld KiB\n",
            ratio[rounds - 1], most[0] >> 10, most[1] >> 10, growth >> 10);
    if (!smoke() && ratio[rounds / 2] > at_most_ratio) missed = 1;
    if (growth > at_most_growth) missed = 1;
    if (missed)
        printf("the bounds are a ratio of %.1f and %ld KiB\n", at_most_ratio, at_most_growth >> 10);
    return missed;
}
