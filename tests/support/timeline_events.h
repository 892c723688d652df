/* timeline_events.h - writes the file of a timeline with made-up events, as a program with two
   devices would leave it, and counts what is in it. For tests of what draws such files. */
#ifndef TIMELINE_EVENTS_H
#define TIMELINE_EVENTS_H
#include <stdio.h>
#include <string.h>

enum { TIMELINE_KERNELS = 7, TIMELINE_COPIES = 3 };
static const char *const timeline_kernels[TIMELINE_KERNELS] = { "saxpy", "reduce_blocks",
    "void gemm<float, 128, 128, 8, cutlass::layout::RowMajor>(Params<float, 128>)", "softmax_rows",
    "halo_exchange", "layer_norm_backward", "tiny" };
static const char *const timeline_copies[TIMELINE_COPIES] = { "copy to device", "copy to host",
    "copy between devices" };

/* what the file has; times in ns */
typedef struct timeline_totals {
    long long events, kernels[TIMELINE_KERNELS], kernel_ns[TIMELINE_KERNELS],
            copies[TIMELINE_COPIES], copy_bytes[TIMELINE_COPIES], copy_ns[TIMELINE_COPIES], arrows;
} timeline_totals;
typedef struct timeline_writer {
    FILE *file;
    unsigned seed;
    long long id, host[2], stream[6]; /* ns: until when each is busy */
    timeline_totals totals;
} timeline_writer;

static unsigned timeline_random(timeline_writer *w, unsigned below) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}
#define TIMELINE_US(ns) (ns) / 1000, (ns) % 1000 /* for "%lld.%03lld" */
static void timeline_event(timeline_writer *w, const char *head, int pid, int tid, long long at,
        long long ns, const char *args) {
    fprintf(w->file, "{\"ph\":\"%c\",%s,\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03lld",
            ns < 0 ? 'i' : 'X', head, pid, tid, TIMELINE_US(at));
    if (ns >= 0) fprintf(w->file, ",\"dur\":%lld.%03lld", TIMELINE_US(ns));
    fprintf(w->file, "%s%s},\n", *args ? ",\"args\":" : "", args);
    w->totals.events++;
}
static void timeline_arrow(timeline_writer *w, const char *names, int pid, int tid, long long at,
        int to_pid, int to_tid, long long to_at) {
    w->id++;
    fprintf(w->file,
            "{\"ph\":\"s\",%s,\"id\":%lld,\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03lld},\n"
            "{\"ph\":\"f\",\"bp\":\"e\",%s,\"id\":%lld,\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03lld},"
            "\n",
            names, w->id, pid, tid, TIMELINE_US(at), names, w->id, to_pid, to_tid,
            TIMELINE_US(to_at));
    w->totals.arrows++;
}
/* A call on a host thread, and what it enqueues on a stream (0 to 5), which begins after `after`.
 */
static long long timeline_call(
        timeline_writer *w, int thread, const char *call, const char *driver, int line) {
    const long long at = w->host[thread], ns = 1200 + timeline_random(w, 2500);
    char head[160], args[160];
    snprintf(head, sizeof head, "\"cat\":\"call\",\"name\":\"%s\"", call);
    snprintf(args, sizeof args, "{\"driver\":\"%s\",\"at\":\"train.c:%d\",\"result\":0}", driver,
            line);
    timeline_event(w, head, 1, thread + 1, at, ns, args);
    w->host[thread] = at + ns + 300 + timeline_random(w, 900);
    return at + ns;
}
static void timeline_work(timeline_writer *w, int thread, int stream, const char *head,
        const char *args, long long ns, const char *call, const char *driver, int line) {
    const long long called = timeline_call(w, thread, call, driver, line), ready = called + 2000;
    const long long at = ready > w->stream[stream] ? ready : w->stream[stream];
    timeline_event(w, head, 1000 + stream / 3, 5 + stream % 3, at, ns, args);
    timeline_arrow(w, "\"cat\":\"launch\",\"name\":\"enqueues\"", 1, thread + 1, called - 200,
            1000 + stream / 3, 5 + stream % 3, at);
    w->stream[stream] = at + ns + 400 + timeline_random(w, 600);
}
static void timeline_kernel(timeline_writer *w, int thread, int stream, int kernel, int group) {
    static const int typical[TIMELINE_KERNELS] = { 42000, 9000, 160000, 21000, 12000, 30000, 1800 };
    const long long ns = typical[kernel] + (int)timeline_random(w, (unsigned)typical[kernel] / 4);
    char head[200], args[160];
    snprintf(head, sizeof head, "\"cat\":\"kernel\",\"name\":\"%s\"", timeline_kernels[kernel]);
    snprintf(args, sizeof args,
            "{\"grid\":\"%dx1x1\",\"block\":\"256x1x1\",\"shared\":%d,\"at\":"
            "\"train.c:%d\"",
            1024 << kernel % 3, kernel == 2 ? 49152 : 0, 120 + kernel);
    snprintf(
            args + strlen(args), sizeof args - strlen(args), group ? ",\"group\":%d}" : "}", group);
    timeline_work(w, thread, stream, head, args, ns,
            group ? "gpuexec_launch_multi_device" : "gpuexec_launch", "cuLaunchKernel",
            120 + kernel);
    w->totals.kernels[kernel]++;
    w->totals.kernel_ns[kernel] += ns;
}
static void timeline_copy(timeline_writer *w, int thread, int stream, int copy, long long bytes) {
    const long long ns = bytes / (copy == 2 ? 130 : 24) + 900 + timeline_random(w, 700);
    char head[100], args[120];
    snprintf(head, sizeof head, "\"cat\":\"copy\",\"name\":\"%s\"", timeline_copies[copy]);
    snprintf(args, sizeof args, "{\"bytes\":%lld,\"gbs\":%lld.%lld,\"at\":\"train.c:%d\"}", bytes,
            bytes / ns, bytes * 10 / ns % 10, 90 + copy);
    timeline_work(w, thread, stream, head, args, ns,
            copy == 1 ? "gpuexec_copy_out" : "gpuexec_copy", "cuMemcpyAsync", 90 + copy);
    w->totals.copies[copy]++;
    w->totals.copy_bytes[copy] += bytes;
    w->totals.copy_ns[copy] += ns;
}
/* `to` waits for all work of `from` so far. */
static void timeline_wait(timeline_writer *w, int thread, int from, int to) {
    const long long called = timeline_call(
                            w, thread, "gpuexec_stream_wait_stream", "cuStreamWaitEvent", 140),
                    done = w->stream[from] > called ? w->stream[from] : called;
    const int pid = 1000 + from / 3, to_pid = 1000 + to / 3;
    timeline_event(w, "\"s\":\"t\",\"cat\":\"order\",\"name\":\"record\"", pid, 5 + from % 3, done,
            -1, "{\"at\":\"train.c:140\"}");
    if (w->stream[to] < done + 500) w->stream[to] = done + 500;
    timeline_event(w, "\"s\":\"t\",\"cat\":\"order\",\"name\":\"wait\"", to_pid, 5 + to % 3,
            w->stream[to] - 200, -1, "{\"at\":\"train.c:140\"}");
    timeline_arrow(w, "\"cat\":\"order\",\"name\":\"waits for\"", pid, 5 + from % 3, done, to_pid,
            5 + to % 3, w->stream[to] - 200);
}
/* One step of one thread, which drives one device. */
static void timeline_step(timeline_writer *w, int thread, int step) {
    const int first = thread * 3;
    const long long began = w->host[thread];
    char head[80];
    int i;
    w->host[thread] += 500;
    timeline_copy(w, thread, first, 0, 262144 << timeline_random(w, 3));
    timeline_wait(w, thread, first, first + 1);
    timeline_kernel(w, thread, first + 1, 0, 0);
    timeline_kernel(w, thread, first + 1, 2, 0);
    timeline_kernel(w, thread, first + 1, 3, 0);
    for (i = 0; i < 6; i++) timeline_kernel(w, thread, first + 1, 6, 0);
    timeline_kernel(w, thread, first + 2, 5, 0);
    timeline_kernel(w, thread, first + 1, 4, step + 1);
    timeline_copy(w, thread, first + 2, 2, 1048576);
    timeline_wait(w, thread, first + 1, first + 2);
    timeline_kernel(w, thread, first + 2, 1, 0);
    timeline_copy(w, thread, first + 2, 1, 65536);
    if (w->host[thread] < w->stream[first + 2]) w->host[thread] = w->stream[first + 2] - 6000;
    timeline_call(w, thread, "gpuexec_stream_sync", "cuStreamSynchronize", 160);
    if (w->host[thread] < w->stream[first + 2] + 2000)
        w->host[thread] = w->stream[first + 2] + 2000;
    snprintf(head, sizeof head, "\"cat\":\"range\",\"name\":\"step %d\"", step);
    timeline_event(w, head, 1, thread + 1, began, w->host[thread] - began, "");
}
static void timeline_name(
        timeline_writer *w, const char *what, int pid, int tid, const char *name) {
    fprintf(w->file,
            "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}},\n",
            what, pid, tid, name);
}
/* Writes at least `count` events. Returns what they are; no events: the file cannot be written. */
static timeline_totals timeline_write(const char *path, long long count) {
    static const char *const streams[] = { "stream \\\"upload\\\" created at train.c:31",
        "stream \\\"compute\\\" created at train.c:32",
        "stream \\\"reduce\\\" created at train.c:33" };
    timeline_writer w;
    int i, step = 0;
    memset(&w, 0, sizeof w);
    w.seed = 1;
    w.host[0] = w.host[1] = 25000;
    w.host[1] += 7000;
    if (!(w.file = fopen(path, "w"))) return w.totals;
    fputs("[\n", w.file);
    timeline_name(&w, "process_name", 1, 0, "host: process 4711");
    timeline_name(&w, "thread_name", 1, 1, "thread 1");
    timeline_name(&w, "thread_name", 1, 2, "thread 2, which drives device 1");
    for (i = 0; i < 2; i++) {
        timeline_name(&w, "process_name", 1000 + i, 0,
                i ? "device 1: NVIDIA H100 80GB HBM3" : "device 0: NVIDIA H100 80GB HBM3");
        timeline_name(&w, "thread_name", 1000 + i, 5, streams[0]);
        timeline_name(&w, "thread_name", 1000 + i, 6, streams[1]);
        timeline_name(&w, "thread_name", 1000 + i, 7, streams[2]);
    }
    for (i = 0; i < 6; i++)
        timeline_event(&w,
                i == 4 ? "\"s\":\"t\",\"cat\":\"memory\",\"name\":\"free\""
                       : "\"s\":\"t\",\"cat\":\"memory\",\"name\":\"allocate\"",
                1, 1, i * 3700, -1, "{\"bytes\":16777216,\"at\":\"train.c:40\"}");
    timeline_event(&w, "\"cat\":\"fill\",\"name\":\"fill\"", 1000, 5, 12000, 9000,
            "{\"bytes\":8388608,\"gbs\":932.1,\"at\":\"train.c:44\"}");
    timeline_event(&w, "\"cat\":\"graph\",\"name\":\"graph\"", 1001, 6, 11000, 14000,
            "{\"nodes\":12,\"at\":\"train.c:48\"}");
    for (; w.totals.events < count; step++) {
        timeline_step(&w, 0, step);
        timeline_step(&w, 1, step);
    }
    fputs("{\"ph\":\"M\",\"name\":\"gpuexec\",\"pid\":1,\"tid\":0,\"args\":{\"version\":\"0.3.0\","
          "\"clock_error_us\":4.2,\"dropped\":0,\"notes\":[\"The device's clock was compared with "
          "the "
          "host's at the begin and at the end.\"]}}\n]\n",
            w.file);
    if (fclose(w.file)) w.totals.events = 0;
    return w.totals;
}
#endif
