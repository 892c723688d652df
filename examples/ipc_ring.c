/*  cc examples/ipc_ring.c -o ipc_ring && ./ipc_ring

    Two processes share a ring buffer in device memory. The producer fills one slot after the other,
    the consumer adds each to its sums; no byte goes through the host. Each slot has two events:
    "full", which the producer records, and "empty", which the consumer records. The messages only
    say that an event has been recorded: a wait is for the last record made before it.
    gpuexec_ipc_wait waits on the host: if either process is killed, the other one notices it and
    stops. A stream that waits for an event of a killed process would wait forever.
    The consumer is this program, started again with exec: after a mere fork, CUDA works in one of
    the two only.

    Prints, on the CPU device:
        a ring of 4 slots of 256 KiB
        4000 rounds: 2461 per second, 0.6 GB/s
        all sums are correct
*/
#include "example.h"
#include <unistd.h>
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { slots = 4, n = 1 << 16, rounds = 4000, forever = -1 };

static gpuexec_context ctx;
static gpuexec_stream stream;
static gpuexec_ipc other;
static gpuexec_ptr slot[slots];
static gpuexec_event full[slots], empty[slots];
static gpuexec_event_desc interprocess;
static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}
static float value_of(int round) { return (float)(round % 7); }

static void send_event(gpuexec_event e) {
    gpuexec_ipc_object object;
    must(gpuexec_ipc_export_event(e, &object));
    must(gpuexec_ipc_send(other, "event", 0, &object, -1));
}
static const gpuexec_ipc_message *receive(void) {
    static gpuexec_ipc_message m;
    must(gpuexec_ipc_receive(other, &m, forever));
    return &m;
}

static int produce(void) {
    gpuexec_ipc_object object;
    double began;
    int i;
    for (i = 0; i < slots; i++) {
        slot[i] = gpuexec_alloc(ctx, n * sizeof(float));
        full[i] = gpuexec_event_create(ctx, &interprocess);
        must(gpuexec_ipc_export(slot[i], &object));
        must(gpuexec_ipc_send(other, "slot", n * sizeof(float), &object, -1));
        send_event(full[i]);
        empty[i] = gpuexec_ipc_import_event(ctx, &receive()->object);
    }
    printf("a ring of %d slots of %d KiB\n", slots, n * 4 / 1024);
    began = example_milliseconds();
    for (i = 0; i < rounds; i++) {
        const float value = value_of(i);
        unsigned bits;
        memcpy(&bits, &value, sizeof bits);
        if (i >= slots) receive(); /* "empty" has been recorded for this slot */
        if (i >= slots) must(gpuexec_ipc_wait(other, empty[i % slots], forever));
        gpuexec_fill(stream, slot[i % slots], bits, 4, n);
        must(gpuexec_event_record(full[i % slots], stream));
        must(gpuexec_ipc_send(other, "full", (unsigned long long)i, NULL, -1));
    }
    for (i = 0; i < slots; i++) receive();
    began = (example_milliseconds() - began) / 1e3;
    printf("%d rounds: %.0f per second, %.1f GB/s\n", rounds, rounds / began,
            (double)rounds * n * 4 / began / 1e9);
    i = strcmp(receive()->label, "correct"); /* and the consumer has freed its slots */
    puts(i ? "some sums are wrong" : "all sums are correct");
    return i;
}

static int consume(void) {
    static float host[n];
    gpuexec_kernel saxpy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL), "saxpy");
    gpuexec_ptr sums = gpuexec_alloc(ctx, n * sizeof(float));
    float one = 1, expected = 0;
    int i, count = n, wrong = 0;
    gpuexec_fill(stream, sums, 0, 1, n * sizeof(float));
    for (i = 0; i < slots; i++) {
        slot[i] = gpuexec_ipc_import(ctx, &receive()->object);
        full[i] = gpuexec_ipc_import_event(ctx, &receive()->object);
        empty[i] = gpuexec_event_create(ctx, &interprocess);
        send_event(empty[i]);
    }
    for (i = 0; i < rounds; i++, expected += value_of(i - 1)) {
        receive(); /* "full" has been recorded for this slot */
        must(gpuexec_ipc_wait(other, full[i % slots], forever));
        gpuexec_launch(saxpy, stream, gpuexec_grid_for(n, 256),
                GPUEXEC_ARGS(one, slot[i % slots], sums, count));
        must(gpuexec_event_record(empty[i % slots], stream));
        must(gpuexec_ipc_send(other, "empty", (unsigned long long)i, NULL, -1));
    }
    gpuexec_copy_out(stream, host, sums, sizeof host);
    must(gpuexec_stream_sync(stream));
    for (i = 0; i < n; i++) wrong += host[i] != expected;
    for (i = 0; i < slots; i++) must(gpuexec_free(slot[i]));
    must(gpuexec_ipc_send(other, wrong ? "wrong" : "correct", 0, NULL, -1));
    return wrong;
}

int main(int argc, char **argv) {
    char number[16], self[4096] = "";
    int fd = argc > 1 ? atoi(argv[1]) : -1, wrong;
    other = argc > 1 ? gpuexec_ipc_from_fd(fd) : gpuexec_ipc_pair(&fd);
    snprintf(number, sizeof number, "%d", fd);
    if (argc <= 1 && readlink("/proc/self/exe", self, sizeof self - 1) > 0 && fork() == 0)
        return execl(self, argv[0], number, (char *)NULL);
    if (argc <= 1) close(fd); /* the consumer's end */
    ctx = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(ctx, NULL);
    interprocess.interprocess = 1;
    wrong = argc > 1 ? consume() : produce();
    must(gpuexec_shutdown());
    return wrong != 0;
}
