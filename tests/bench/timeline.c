/* timeline.c - what a timeline costs, and how exact it is: the calling thread's time for a launch
   with and without one, on both kinds of streams, in bursts and for as long as the device keeps
   up; the times of kernels in its file, compared with the device's clock, which each kernel reads
   at its begin and its end (%globaltimer); a million launches in bounded memory. The bounds: 2 us a
   launch, 5 % for kernels of 100 us and more. */
#include "bench.h"
#include <unistd.h>

enum { ROUNDS = 15, LAUNCHES = 100, SPINS = 24 };
static const double at_most_us = 2.0, at_most_error = 0.05;
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
static gpuexec_stream stream;

/* The least microseconds for a launch, in bursts that the device's queue can hold. */
static double cost(gpuexec_stream on) {
    double least = 1e9;
    int round, i;
    for (round = 0; round < (smoke() ? 2 : ROUNDS); round++) {
        double begin = microseconds(), took;
        for (i = 0; i < LAUNCHES; i++)
            check(gpuexec_launch(nothing, on, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
        took = (microseconds() - begin) / LAUNCHES;
        check(gpuexec_stream_sync(on));
        if (took < least) least = took;
    }
    return least;
}
/* Microseconds of host and device for each of many launches. */
static double throughput(gpuexec_stream on) {
    const int count = smoke() ? 1000 : 50000;
    const double begin = microseconds();
    int i;
    for (i = 0; i < count; i++)
        check(gpuexec_launch(nothing, on, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    check(gpuexec_stream_sync(on));
    return (microseconds() - begin) / count;
}
static void table_of_costs(void) {
    static const char *const names[] = { "no timeline", "a timeline of devices (no_calls)",
        "a timeline" };
    gpuexec_stream_desc desc = { 0 };
    gpuexec_stream streams[2];
    double us[3];
    int i, k;
    desc.non_blocking = 1;
    streams[0] = stream;
    streams[1] = gpuexec_stream_create(context, &desc);
    check(gpuexec_take_error());
    printf("\n## A timeline\n\nmicroseconds for each launch of an empty kernel: of the calling "
           "thread, the least of %d bursts of %d; and of host and device, many one after the "
           "other\n\n| stream | while it records | us | more | many |\n|---|---|---|---|---|\n",
            smoke() ? 2 : ROUNDS, LAUNCHES);
    for (k = 0; k < 2; k++) {
        for (i = 0; i < 3; i++) {
            gpuexec_timeline_desc how = { 0 };
            double many;
            how.no_calls = i == 1;
            if (i) check(gpuexec_timeline_begin(path, &how));
            us[i] = cost(streams[k]);
            many = throughput(streams[k]);
            if (i) check(gpuexec_timeline_end());
            printf("| %s | %s | %.3f | %.3f%s | %.3f |\n", k ? "non_blocking" : "default", names[i],
                    us[i], us[i] - us[0], i ? " (at most 2)" : "", many);
            missed += i && us[i] - us[0] > at_most_us;
        }
    }
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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
static void table_of_errors(void) {
    static const double lengths[] = { 2, 5, 20, 100, 1000 };
    const gpuexec_ptr out = gpuexec_alloc(context, SPINS * 16);
    unsigned long long times[SPINS][2];
    double recorded[SPINS], errors[SPINS];
    gpuexec_timeline_info info;
    unsigned k;
    int i;
    printf("\n| kernel, us by its own clock | in the timeline: median | longer: median | highest |"
           "\n|---|---|---|---|\n");
    for (k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const unsigned long long ns = (unsigned long long)(lengths[k] * 1e3);
        double sum = 0;
        check(gpuexec_timeline_begin(path, NULL));
        for (i = 0; i < SPINS; i++)
            check(gpuexec_launch(spin, stream, gpuexec_grid(1, 1, 0),
                    GPUEXEC_ARGS((gpuexec_ptr){ out + (gpuexec_ptr)i * 16 }, ns)));
        check(gpuexec_timeline_end());
        check(gpuexec_timeline_get_info(&info));
        check(gpuexec_copy_out_now(context, times, out, sizeof times));
        if (read_durations(recorded, SPINS) != SPINS) {
            printf("the timeline lacks kernels\n");
            missed++;
            return;
        }
        for (i = 0; i < SPINS; i++) {
            const double own = (double)(times[i][1] - times[i][0]) / 1e3;
            errors[i] = recorded[i] - own;
            sum += own;
        }
        qsort(errors, SPINS, sizeof *errors, by_value);
        qsort(recorded, SPINS, sizeof *recorded, by_value);
        printf("| %.1f | %.2f | %.2f (%.1f %%) | %.2f |\n", sum / SPINS, recorded[SPINS / 2],
                errors[SPINS / 2], 100 * errors[SPINS / 2] / (sum / SPINS), errors[SPINS - 1]);
        missed += lengths[k] >= 100 && errors[SPINS / 2] > at_most_error * lengths[k];
    }
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
        check(gpuexec_launch(nothing, stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    before = resident_kib();
    for (; i < count; i++)
        check(gpuexec_launch(nothing, stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    after = resident_kib();
    check(gpuexec_timeline_end());
    check(gpuexec_timeline_get_info(&info));
    printf("\n%d launches: %llu in the timeline, %llu without times; %ld KiB more memory after the "
           "last one than after a twentieth (at most 32768).\n",
            count, info.kernels, info.untimed, (long)after - (long)before);
    missed += info.kernels + info.untimed != (unsigned)count || after > before + 32768;
}

int main(void) {
    gpuexec_module module;
    int file;
    snprintf(path, sizeof path, "/tmp/gpuexec-bench-XXXXXX");
    if ((file = mkstemp(path)) < 0) return 1;
    close(file);
    context = gpuexec_context_open(0, NULL);
    module = gpuexec_module_load(context, text, 0, NULL);
    nothing = gpuexec_kernel_get(module, "nothing");
    spin = gpuexec_kernel_get(module, "spin");
    stream = gpuexec_stream_create(context, NULL);
    check(gpuexec_take_error());
    table_of_costs();
    table_of_errors();
    many();
    remove(path);
    if (missed && !smoke()) printf("\n%d figures missed their bounds\n", missed);
    return gpuexec_shutdown() != GPUEXEC_OK || (missed && !smoke());
}
