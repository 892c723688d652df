/* timeline.c - what a timeline costs, and how exact it is: the calling thread's time for a launch
   with and without one, on both kinds of streams, in bursts and for as long as the device keeps
   up; the times of kernels in its file, compared with the device's clock, which each kernel reads
   at its begin and its end (%globaltimer), and, where CUPTI is installed, with CUPTI's; a million
   launches in bounded memory. The bounds: 2 us a launch on a non-blocking stream, 3.5 us on others,
   which need the record of a second event; 5 % for kernels of 100 us and more. */
#include "bench.h"
#include <dlfcn.h>
#include <unistd.h>

enum { ROUNDS = 15, LAUNCHES = 100, SPINS = 24 };
static const double at_most_us = 2.0, at_most_default_us = 3.5, at_most_error = 0.05;
static int missed;
static char path[64];

static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry nothing() { ret; }\n"
        /* spin(out, ns): out[0], out[1]: its begin and its end */
        ".visible .entry spin(.param .u64 out, .param .u64 ns) {\n"
        "    .reg .b64 %a, %n, %from, %to, %gone; .reg .pred %p;\n"
        "    mov.u64 %from, %globaltimer;\n"
        "    ld.param.u64 %a, [out]; ld.param.u64 %n, [ns]; cvta.to.global.u64 %a, %a;\n"
        "AGAIN: mov.u64 %to, %globaltimer; sub.u64 %gone, %to, %from;\n"
        "    setp.lt.u64 %p, %gone, %n; @%p bra AGAIN;\n"
        "    st.global.u64 [%a], %from; st.global.u64 [%a+8], %to; ret;\n}\n";
static gpuexec_context context;
static gpuexec_kernel nothing, spin;
static gpuexec_stream streams[2]; /* a default one, and a non-blocking one */
static const char *const kinds[] = { "default", "non_blocking" };

/* Microseconds of the calling thread for each launch of a burst that the device's queue can
   hold. */
static double burst(gpuexec_stream on) {
    const double begin = microseconds();
    double took;
    int i;
    for (i = 0; i < LAUNCHES; i++)
        check(gpuexec_launch(nothing, on, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    took = (microseconds() - begin) / LAUNCHES;
    check(gpuexec_stream_sync(on));
    return took;
}
/* Microseconds of host and device for each of many launches. */
static double throughput(gpuexec_stream on) {
    const int count = smoke() ? 1000 : 20000;
    const double begin = microseconds();
    int i;
    for (i = 0; i < count; i++)
        check(gpuexec_launch(nothing, on, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    check(gpuexec_stream_sync(on));
    return (microseconds() - begin) / count;
}
/* A way to launch; no name: none. bounded: at_most_us or at_most_default_us holds for it. */
enum { WAYS = 3, BURSTS = 4 };
typedef struct way {
    const char *name;
    int records, no_calls, cupti, bounded;
} way;
static void table_of_costs(const way ways[WAYS]) {
    const int rounds = smoke() ? 2 : ROUNDS;
    int k, w, round, i;
    throughput(streams[0]); /* warm up */
    printf("\nmicroseconds for each launch of an empty kernel, interleaved: of "
           "the calling thread, the median of %d times the least of %d bursts of %d; and of host "
           "and device, many one after the other\n\n"
           "| stream | while it records | us | more | many |\n|---|---|---|---|---|\n",
            rounds, BURSTS, LAUNCHES);
    for (k = 0; k < 2; k++) {
        static double us[WAYS][ROUNDS], many[WAYS][ROUNDS], more[ROUNDS];
        for (round = 0; round < rounds; round++)
            for (w = 0; w < WAYS && ways[w].name; w++) {
                gpuexec_timeline_desc how = { 0 };
                how.no_calls = ways[w].no_calls;
                how.cupti = ways[w].cupti;
                if (ways[w].records) check(gpuexec_timeline_begin(path, &how));
                many[w][round] = throughput(streams[k]);
                us[w][round] = burst(streams[k]);
                for (i = 1; i < BURSTS; i++) {
                    const double one = burst(streams[k]);
                    if (one < us[w][round]) us[w][round] = one;
                }
                if (ways[w].records) check(gpuexec_timeline_end());
            }
        for (w = 0; w < WAYS && ways[w].name; w++) {
            const double most = k ? at_most_us : at_most_default_us;
            double above;
            for (round = 0; round < rounds; round++) more[round] = us[w][round] - us[0][round];
            above = median(more, (size_t)rounds);
            missed += ways[w].bounded && above > most;
            printf("| %s | %s | ", kinds[k], ways[w].name);
            for (round = 0; round < rounds; round++) more[round] = us[w][round];
            printf("%.3f | ", median(more, (size_t)rounds));
            if (w) printf("%.3f", above);
            if (ways[w].bounded) printf(" (at most %.2f)", most);
            printf(" | %.3f |\n", median(many[w], (size_t)rounds));
        }
    }
}
static void costs_of_events(void) {
    static const way ways[WAYS] = { { "no timeline", 0, 0, 0, 0 },
        { "a timeline of devices (no_calls)", 1, 1, 0, 1 }, { "a timeline", 1, 0, 0, 1 } };
    printf("\n## A timeline\n");
    table_of_costs(ways);
}
/* The last table: CUPTI stays in the process. */
static void costs_of_cupti(void) {
    static const way ways[WAYS] = { { "no timeline, CUPTI in the process", 0, 0, 0, 0 },
        { "a timeline with CUPTI", 1, 0, 1, 0 }, { NULL, 0, 0, 0, 0 } };
    gpuexec_timeline_desc desc = { 0 };
    desc.cupti = 1;
    if (gpuexec_timeline_begin(path, &desc) == GPUEXEC_OK) {
        check(gpuexec_timeline_end());
        table_of_costs(ways);
        return;
    }
    printf("\nno timeline with CUPTI: %s\n", gpuexec_error_detail()->message);
    gpuexec_take_error();
}

/* CUPTI's activity records of kernels. In all versions (cupti_activity.h) they begin with the kind,
   and have the times of start and end, in ns, from byte 16 on. */
enum { CUPTI_KERNEL = 10, CUPTI_BUFFER = 1 << 16 };
static struct {
    int (*enable)(int kind), (*disable)(int kind), (*flush)(unsigned flags);
    int (*set_callbacks)(void (*request)(unsigned char **buffer, size_t *bytes, size_t *most),
            void (*complete)(void *context, unsigned stream, unsigned char *buffer, size_t bytes,
                    size_t valid));
    int (*next)(unsigned char *buffer, size_t valid, void **record);
} cupti;
/* not malloc: CUPTI requests one in the middle of a launch */
static unsigned long long cupti_buffers[2][CUPTI_BUFFER / 8];
static unsigned cupti_nbuffers;
static double cupti_us[SPINS];
static int cupti_kernels;
static void cupti_request(unsigned char **buffer, size_t *bytes, size_t *most) {
    *buffer = (unsigned char *)cupti_buffers[cupti_nbuffers++ % 2];
    *bytes = sizeof cupti_buffers[0];
    *most = 0;
}
static void cupti_complete(
        void *of, unsigned on, unsigned char *buffer, size_t bytes, size_t valid) {
    void *record = NULL;
    (void)of, (void)on, (void)bytes;
    while (cupti.next(buffer, valid, &record) == 0) {
        unsigned long long times[2];
        int kind;
        memcpy(&kind, record, sizeof kind);
        memcpy(times, (char *)record + 16, sizeof times);
        if (kind == CUPTI_KERNEL && cupti_kernels < SPINS)
            cupti_us[cupti_kernels++] = (double)(times[1] - times[0]) / 1e3;
    }
}
static int cupti_begin(void) { /* 0: it is not available */
    static const char *const names[] = { "libcupti.so", "libcupti.so.13", "libcupti.so.12",
        "/usr/local/cuda/lib64/libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so" };
    void *library = NULL;
    unsigned i;
    for (i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library || smoke()) return 0;
    *(void **)&cupti.enable = dlsym(library, "cuptiActivityEnable");
    *(void **)&cupti.disable = dlsym(library, "cuptiActivityDisable");
    *(void **)&cupti.flush = dlsym(library, "cuptiActivityFlushAll");
    *(void **)&cupti.set_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
    *(void **)&cupti.next = dlsym(library, "cuptiActivityGetNextRecord");
    return cupti.enable && cupti.disable && cupti.flush && cupti.set_callbacks && cupti.next &&
            cupti.set_callbacks(cupti_request, cupti_complete) == 0 &&
            cupti.enable(CUPTI_KERNEL) == 0;
}

/* The durations of kernel `spin` in the file, in its order, in microseconds. */
static int read_durations(double *us, int most) {
    char line[4096];
    FILE *f = fopen(path, "r");
    int n = 0;
    while (f && fgets(line, sizeof line, f)) {
        const char *const dur = strstr(line, "\"dur\":");
        if (dur && strstr(line, "\"cat\":\"kernel\",\"name\":\"spin\"") && n < most)
            us[n++] = atof(dur + 6);
    }
    if (f) fclose(f);
    return n;
}
/* Kernels of that length, one after the other, on a stream that is idle at first (busy 0: before
   each of them). */
static void row_of_errors(double us, int kind, int busy, int cupti_runs, gpuexec_ptr out) {
    const gpuexec_stream stream = streams[kind];
    const unsigned long long ns = (unsigned long long)(us * 1e3);
    unsigned long long times[SPINS][2];
    double recorded[SPINS], own[SPINS], errors[SPINS], of_cupti[SPINS], length, more;
    int i, worst = 0;
    cupti_kernels = 0;
    check(gpuexec_timeline_begin(path, NULL));
    for (i = 0; i < SPINS; i++) {
        check(gpuexec_launch(spin, stream, gpuexec_grid(1, 1, 0),
                GPUEXEC_ARGS((gpuexec_ptr){ out + (gpuexec_ptr)i * 16 }, ns)));
        if (!busy) check(gpuexec_stream_sync(stream));
    }
    check(gpuexec_timeline_end());
    check(gpuexec_copy_out_now(context, times, out, sizeof times));
    if (cupti_runs) cupti.flush(1);
    if (read_durations(recorded, SPINS) != SPINS || (cupti_runs && cupti_kernels != SPINS)) {
        printf("kernels are missing: %d of CUPTI\n", cupti_kernels);
        missed++;
        return;
    }
    for (i = 0; i < SPINS; i++) {
        own[i] = (double)(times[i][1] - times[i][0]) / 1e3;
        errors[i] = recorded[i] - own[i];
        of_cupti[i] = cupti_runs ? recorded[i] - cupti_us[i] : 0;
        if (of_cupti[i] > of_cupti[worst]) worst = i;
    }
    length = median(own, SPINS);
    more = median(errors, SPINS);
    printf("| %.1f | %s, %s | %.2f | %.2f (%.1f %%) | ", length, kinds[kind],
            busy ? "busy" : "idle", median(recorded, SPINS), more, 100 * more / length);
    if (cupti_runs) {
        length = median(cupti_us, SPINS);
        more = median(of_cupti, SPINS);
        printf("%.2f | %.2f (%.1f %%) | %.2f, number %d |\n", length, more, 100 * more / length,
                of_cupti[SPINS - 1], worst + 1);
    } else printf("not there | | |\n");
    missed += us >= 100 && more > at_most_error * length;
}
static void table_of_errors(void) {
    static const double lengths[] = { 2, 5, 20, 100, 1000 };
    const gpuexec_ptr out = gpuexec_alloc(context, SPINS * 16);
    const int cupti_runs = cupti_begin();
    gpuexec_timeline_info info;
    unsigned k;
    printf("\n| kernel, us by its own clock | its stream | in the timeline | longer | CUPTI's "
           "| "
           "longer than that | highest |\n|---|---|---|---|---|---|---|\n");
    for (k = 0; k < 4 * sizeof lengths / sizeof *lengths; k++)
        row_of_errors(lengths[k / 4], k / 2 % 2, k % 2, cupti_runs, out);
    if (cupti_runs) cupti.disable(CUPTI_KERNEL);
    check(gpuexec_timeline_get_info(&info));
    printf("\nThe clocks of host and device differ by at most %.1f us.\n", info.clock_error_us);
    check(gpuexec_free(out));
}

static size_t resident_kib(void) {
    unsigned long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%lu %lu", &all, &pages) != 2) pages = 0;
        fclose(f);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}
static void many(void) {
    const int count = smoke() ? 20000 : 1000000;
    size_t before, after;
    gpuexec_timeline_info info;
    int i;
    check(gpuexec_timeline_begin(path, NULL));
    for (i = 0; i < count / 20; i++)
        check(gpuexec_launch(nothing, streams[0], gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    before = resident_kib();
    for (; i < count; i++)
        check(gpuexec_launch(nothing, streams[0], gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    after = resident_kib();
    check(gpuexec_timeline_end());
    check(gpuexec_timeline_get_info(&info));
    printf("\n%d launches: %llu in the timeline, %llu without times; %ld KiB more memory after the "
           "last one than after a twentieth (at most 32768).\n",
            count, info.kernels, info.untimed, (long)after - (long)before);
    missed += info.kernels + info.untimed != (unsigned)count || after > before + 32768;
}

int main(void) {
    gpuexec_stream_desc desc = { 0 };
    gpuexec_module module;
    int file;
    snprintf(path, sizeof path, "/tmp/gpuexec-bench-XXXXXX");
    if ((file = mkstemp(path)) < 0) return 1;
    close(file);
    context = gpuexec_context_open(0, NULL);
    module = gpuexec_module_load(context, text, 0, NULL);
    nothing = gpuexec_kernel_get(module, "nothing");
    spin = gpuexec_kernel_get(module, "spin");
    desc.non_blocking = 1;
    streams[0] = gpuexec_stream_create(context, NULL);
    streams[1] = gpuexec_stream_create(context, &desc);
    check(gpuexec_take_error());
    costs_of_events();
    many();
    table_of_errors();
    costs_of_cupti();
    remove(path);
    if (missed && !smoke()) printf("\n%d figures missed their bounds\n", missed);
    return gpuexec_shutdown() != GPUEXEC_OK || (missed && !smoke());
}
