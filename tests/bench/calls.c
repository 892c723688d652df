/* calls.c - the cost of calls on streams, events, memory and contexts for the calling thread:
   gpuexec against the driver's own calls on the same objects. The context is current, which gpuexec
   does not need and some of the driver's calls do. */
#include "bench.h"

enum { ROUNDS = 30, BURSTS = 10 };
static unsigned rounds = ROUNDS, bursts = BURSTS;

static const char kernel_text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry none() { ret; }\n";
static gpuexec_context context;
static gpuexec_stream stream, other;
static gpuexec_event event, begun;
static gpuexec_kernel kernel;
static gpuexec_ptr memory, more;
static int *pinned;
static driver_calls cu; /* the driver's entry points */
static struct CUctx_st *native;
static struct CUstream_st *queue, *queue_other;
static struct CUevent_st *native_event, *native_begun;
static struct CUfunc_st *function;

static double settle(double begin, double end, int bad, const char *what) {
    if (!bad) bad = cu.cuStreamSynchronize(queue) || cu.cuStreamSynchronize(queue_other);
    if (bad) {
        fprintf(stderr, "%s failed: %s\n", what, gpuexec_error_text());
        exit(1);
    }
    return end - begin;
}
#define BURST(name, call) \
    static double name(int count) { \
        double begin, end; \
        int i, bad = 0; \
        begin = microseconds(); \
        for (i = 0; i < count; i++) bad |= (int)(call); \
        end = microseconds(); \
        return settle(begin, end, bad, #name); \
    }
#define PAIR(name, raw, ours) BURST(name##_raw, raw) BURST(name##_ours, ours)

/* Operations that take more than one call. */
static int raw_make_event(void) {
    struct CUevent_st *e;
    return cu.cuEventCreate(&e, GXI_EVENT_DISABLE_TIMING) || cu.cuEventDestroy_v2(e);
}
static int our_make_event(void) {
    gpuexec_event_desc desc = { 0, 1, 0, 0, 0 };
    return gpuexec_event_destroy(gpuexec_event_create(context, &desc)) != GPUEXEC_OK;
}
static int raw_make_stream(void) {
    struct CUstream_st *s;
    return cu.cuStreamCreateWithPriority(&s, 0, 0) || cu.cuStreamDestroy_v2(s);
}
static int our_make_stream(void) {
    return gpuexec_stream_destroy(gpuexec_stream_create(context, NULL)) != GPUEXEC_OK;
}
static int raw_memory(void) {
    gpuexec_ptr p;
    return cu.cuMemAlloc_v2(&p, 1 << 16) || cu.cuMemFree_v2(p);
}
static int our_memory(void) { return gpuexec_free(gpuexec_alloc(context, 1 << 16)) != GPUEXEC_OK; }
static int raw_elapsed(void) {
    float ms;
    return cu.cuEventElapsedTime(&ms, native_begun, native_event);
}
static int our_elapsed(void) { return gpuexec_event_elapsed_ms(begun, event) < 0; }
static int raw_push(void) {
    struct CUctx_st *popped;
    return cu.cuCtxPushCurrent_v2(native) || cu.cuCtxPopCurrent_v2(&popped);
}
static int our_push(void) { return gpuexec_context_push(context) || gpuexec_context_pop(context); }
static int raw_join(void) {
    return cu.cuEventRecord(native_event, queue) ||
            cu.cuStreamWaitEvent(queue_other, native_event, 0);
}
static int our_stream_scope(void) {
    int entered = 0;
    GPUEXEC_STREAM_SCOPE(other) { entered = 1; }
    return !entered;
}
static int our_scope(void) {
    int entered = 0;
    GPUEXEC_CONTEXT_SCOPE(context) { entered = 1; }
    return !entered;
}
static int raw_round(void) {
    return cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, queue, NULL, NULL) ||
            cu.cuStreamSynchronize(queue);
}
static int our_round(void) {
    gpuexec_launch(kernel, stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
    return gpuexec_stream_sync(stream) != GPUEXEC_OK;
}
static int raw_results(void) {
    return cu.cuMemcpyHtoDAsync_v2(memory, pinned, 4, queue) ||
            cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, queue, NULL, NULL) ||
            cu.cuMemcpyDtoHAsync_v2(pinned, memory, 4, queue) || cu.cuStreamSynchronize(queue);
}
static int our_results(void) {
    gpuexec_copy_in(stream, memory, pinned, 4);
    gpuexec_launch(kernel, stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
    gpuexec_copy_out(stream, pinned, memory, 4);
    return gpuexec_stream_sync(stream) != GPUEXEC_OK;
}

PAIR(record, cu.cuEventRecord(native_event, queue), gpuexec_event_record(event, stream))
PAIR(wait, cu.cuStreamWaitEvent(queue_other, native_event, 0),
        gpuexec_stream_wait_event(other, event))
PAIR(join, raw_join(), gpuexec_stream_wait_stream(other, stream))
PAIR(inside, raw_join(), our_stream_scope())
PAIR(query, cu.cuEventQuery(native_event), gpuexec_event_query(event))
PAIR(waited, cu.cuEventSynchronize(native_event), gpuexec_event_sync(event))
PAIR(between, raw_elapsed(), our_elapsed())
PAIR(event, raw_make_event(), our_make_event())
PAIR(idle, cu.cuStreamQuery(queue), gpuexec_stream_query(stream))
PAIR(sync, cu.cuStreamSynchronize(queue), gpuexec_stream_sync(stream))
PAIR(stream, raw_make_stream(), our_make_stream())
PAIR(in, cu.cuMemcpyHtoDAsync_v2(memory, pinned, 4, queue),
        gpuexec_copy_in(stream, memory, pinned, 4))
PAIR(out, cu.cuMemcpyDtoHAsync_v2(pinned, memory, 4, queue),
        gpuexec_copy_out(stream, pinned, memory, 4))
PAIR(copy, cu.cuMemcpyDtoDAsync_v2(memory, more, 4, queue), gpuexec_copy(stream, memory, more, 4))
PAIR(fill, cu.cuMemsetD8Async(memory, 0, 4, queue), gpuexec_fill(stream, memory, 0, 1, 4))
PAIR(now, cu.cuMemcpyDtoH_v2(pinned, memory, 4), gpuexec_copy_out_now(context, pinned, memory, 4))
PAIR(memory, raw_memory(), our_memory())
PAIR(push, raw_push(), our_push())
PAIR(scope, raw_push(), our_scope())
PAIR(round, raw_round(), our_round())
PAIR(results, raw_results(), our_results())

static void row(const char *what, burst_function raw, burst_function ours, int calls) {
    burst_function ways[2];
    ways[0] = raw;
    ways[1] = ours;
    contest(ways, 2, rounds, bursts, smoke() ? 3 : calls);
    printf("| %s | %.3f | %.3f | %.3f |\n", what, contest_time(0), contest_time(1),
            contest_ratio(1, 0));
    fflush(stdout);
}

int main(void) {
    context = gpuexec_context_open(0, NULL);
    kernel = gpuexec_kernel_get(gpuexec_module_load(context, kernel_text, 0, NULL), "none");
    stream = gpuexec_stream_create(context, NULL);
    other = gpuexec_stream_create(context, NULL);
    begun = gpuexec_stream_record(stream, NULL);
    event = gpuexec_stream_record(stream, NULL);
    memory = gpuexec_alloc(context, 4);
    more = gpuexec_alloc(context, 4);
    pinned = (int *)gpuexec_alloc_pinned(context, sizeof *pinned);
    gpuexec_fill(stream, memory, 0, 1, 4);
    gpuexec_fill(stream, more, 0, 1, 4);
    check(gpuexec_stream_sync(stream));
    *pinned = 0;
    native = gpuexec_context_native(context);
    queue = gpuexec_stream_native(stream);
    queue_other = gpuexec_stream_native(other);
    native_event = gpuexec_event_native(event);
    native_begun = gpuexec_event_native(begun);
    function = gpuexec_kernel_native(kernel);
    cu = calls_find();
    check(cu.cuCtxSetCurrent(native) == 0 ? GPUEXEC_OK : GPUEXEC_NOT_FOUND);
    if (smoke()) rounds = bursts = 2;

    printf("\n## Other calls\n\n"
           "microseconds of the calling thread, context current; %u rounds of %u bursts, "
           "interleaved\n\n"
           "| call | the driver's | gpuexec | ratio |\n|---|---|---|---|\n",
            rounds, bursts);
    row("record an event", record_raw, record_ours, 100);
    row("let a stream wait for an event", wait_raw, wait_ours, 100);
    row("let a stream wait for another, against a record and a wait", join_raw, join_ours, 50);
    row("GPUEXEC_STREAM_SCOPE against a record and a wait", inside_raw, inside_ours, 50);
    row("query a completed event", query_raw, query_ours, 200);
    row("wait for a completed event", waited_raw, waited_ours, 200);
    row("time between two events", between_raw, between_ours, 200);
    row("create and destroy an event", event_raw, event_ours, 100);
    row("query an idle stream", idle_raw, idle_ours, 200);
    row("wait for an idle stream", sync_raw, sync_ours, 200);
    row("create and destroy a stream", stream_raw, stream_ours, 10);
    row("copy 4 bytes in, from pinned memory", in_raw, in_ours, 50);
    row("copy 4 bytes out, to pinned memory", out_raw, out_ours, 50);
    row("copy 4 bytes on the device", copy_raw, copy_ours, 50);
    row("fill 4 bytes", fill_raw, fill_ours, 50);
    row("copy 4 bytes out, without a stream (gpuexec_copy_out_now)", now_raw, now_ours, 20);
    row("allocate and free 64 KiB", memory_raw, memory_ours, 20);
    row("push and pop the context", push_raw, push_ours, 200);
    row("GPUEXEC_CONTEXT_SCOPE against push and pop", scope_raw, scope_ours, 200);
    row("launch and wait", round_raw, round_ours, 20);
    row("copy in, launch, copy out, wait", results_raw, results_ours, 20);
    return gpuexec_shutdown() != GPUEXEC_OK;
}
