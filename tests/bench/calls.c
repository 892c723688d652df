/* calls.c - the cost of calls on streams, events, memory and contexts for the calling thread:
   gpuexec against the driver's own calls on the same objects, and, where gpuexec makes more calls
   so that no capture of other code breaks and no destroyed context is used, against these calls
   with the same guards. The context is current, which gpuexec does not need and some of the
   driver's calls do. A ratio above LIMIT must have a reason. */
#include "bench.h"

enum { ROUNDS = 30, BURSTS = 10 };
#define LIMIT 1.05
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
/* the driver's call as gpuexec makes it */
#define GUARDED(name, raw) BURST(name##_guarded, guarded(raw))
static int relaxed(void) {
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED;
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}
static void restored(int mode) { cu.cuThreadExchangeStreamCaptureMode(&mode); }
static int mode_before, result;
#define guarded(call) (mode_before = relaxed(), result = (call), restored(mode_before), result)
/* a call that needs the context: gpuexec queries whether it is current */
static int entered(void) {
    struct CUctx_st *current;
    return cu.cuCtxGetCurrent(&current) || current != native;
}

/* Operations that take more than one call. */
static int raw_point(void) {
    struct CUevent_st *e;
    return cu.cuEventCreate(&e, 0) || cu.cuEventRecord(e, queue) || cu.cuEventDestroy_v2(e);
}
static int our_point(void) {
    return gpuexec_event_destroy(gpuexec_stream_record(stream, NULL)) != GPUEXEC_OK;
}
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
/* destroying and freeing checks that the context still exists */
static int exists(void) {
    unsigned long long id;
    return cu.cuCtxGetId(native, &id) || entered();
}
static int guarded_make_event(void) {
    struct CUevent_st *e;
    return guarded(entered() || cu.cuEventCreate(&e, GXI_EVENT_DISABLE_TIMING)) ||
            guarded(exists() || cu.cuEventDestroy_v2(e));
}
static int guarded_memory(void) {
    gpuexec_ptr p;
    return guarded(entered() || cu.cuMemAlloc_v2(&p, 1 << 16)) ||
            guarded(exists() || cu.cuMemFree_v2(p));
}
static int guarded_make_stream(void) {
    struct CUstream_st *s;
    return guarded(entered() || cu.cuStreamCreateWithPriority(&s, 0, 0)) ||
            guarded(exists() || cu.cuStreamDestroy_v2(s));
}
/* whether gpuexec allocated the bytes */
static int known(gpuexec_ptr p) {
    const gxi_range *r;
    gxi_lock(&gxi_tables_mutex);
    r = gxi_range_contains(p);
    gxi_unlock(&gxi_tables_mutex);
    return r != NULL;
}
static int guarded_fill(void) { return !known(memory) || cu.cuMemsetD8Async(memory, 0, 4, queue); }
static int guarded_in(void) {
    return !known(memory) || !known((uintptr_t)pinned) ||
            cu.cuMemcpyHtoDAsync_v2(memory, pinned, 4, queue);
}
static int guarded_out(void) {
    return !known(memory) || !known((uintptr_t)pinned) ||
            cu.cuMemcpyDtoHAsync_v2(pinned, memory, 4, queue);
}
/* a copy without a stream is ordered as one on the legacy default stream, number 1 */
static int guarded_now(void) {
    int capturing = 0;
    return guarded(entered() || cu.cuStreamIsCapturing((struct CUstream_st *)1, &capturing) ||
            capturing || !known(memory) || !known((uintptr_t)pinned) ||
            cu.cuMemcpyDtoH_v2(pinned, memory, 4));
}
static int guarded_push(void) {
    struct CUctx_st *popped;
    return entered() || cu.cuCtxPushCurrent_v2(native) || entered() ||
            cu.cuCtxPopCurrent_v2(&popped);
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
PAIR(point, raw_point(), our_point())
GUARDED(query, cu.cuEventQuery(native_event))
GUARDED(waited, cu.cuEventSynchronize(native_event))
GUARDED(idle, cu.cuStreamQuery(queue))
GUARDED(sync, cu.cuStreamSynchronize(queue))
BURST(event_guarded, guarded_make_event())
BURST(memory_guarded, guarded_memory())
BURST(stream_guarded, guarded_make_stream())
BURST(in_guarded, guarded_in())
BURST(out_guarded, guarded_out())
BURST(fill_guarded, guarded_fill())
BURST(now_guarded, guarded_now())
BURST(push_guarded, guarded_push())
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

/* why: what the rest is for, if the ratio exceeds LIMIT; NULL: it must not. Returns 1 if it does.
 */
static int row_with_guards(const char *what, burst_function raw, burst_function ours,
        burst_function guards, int calls, const char *why) {
    burst_function ways[3] = { raw, ours, guards };
    double ratio;
    contest(ways, guards ? 3 : 2, rounds, bursts, smoke() ? 3 : calls);
    ratio = contest_ratio(1, 0);
    printf("| %s | %.3f | %.3f | %.3f | %.3f | ", what, contest_time(0), contest_time(1), ratio,
            contest_highest(1, 0));
    if (guards) printf("%.3f", contest_ratio(1, 2));
    printf(" | %s |\n", ratio > LIMIT ? why ? why : "**too much**" : "");
    fflush(stdout);
    return ratio > LIMIT && !why && !smoke();
}
static int row(
        const char *what, burst_function raw, burst_function ours, int calls, const char *why) {
    return row_with_guards(what, raw, ours, NULL, calls, why);
}

int main(void) {
    static const char captures[] = "the capture mode, exchanged twice",
                      handles[] = "the handle, its place, and the checks that its context exists",
                      table[] = "looking up both addresses in the table of allocations";
    int bad = 0;
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
    /* not gpuexec_stream_native: other code could then capture on these streams, and each call
       makes a query */
    queue = gxi_peek(stream.id, GXI_STREAM)->data.stream.native;
    queue_other = gxi_peek(other.id, GXI_STREAM)->data.stream.native;
    native_event = gxi_peek(event.id, GXI_EVENT)->data.event.native;
    native_begun = gxi_peek(begun.id, GXI_EVENT)->data.event.native;
    function = gpuexec_kernel_native(kernel);
    cu = calls_find();
    check(cu.cuCtxSetCurrent(native) == 0 ? GPUEXEC_OK : GPUEXEC_NOT_FOUND);
    if (smoke()) rounds = bursts = 2;

    printf("\n## Other calls\n\n"
           "microseconds of the calling thread, context current; %u rounds of %u bursts, "
           "interleaved; `guarded`: to the driver's call with the guards that gpuexec makes\n\n"
           "| call | the driver's | gpuexec | ratio | highest | guarded | above %.2f for |\n"
           "|---|---|---|---|---|---|---|\n",
            rounds, bursts, LIMIT);
    bad += row("record an event", record_raw, record_ours, 100, NULL);
    bad += row("let a stream wait for an event", wait_raw, wait_ours, 100,
            "finding two handles and the last record, 10 ns");
    bad += row("let a stream wait for another, against a record and a wait", join_raw, join_ours,
            50, NULL);
    bad += row(
            "GPUEXEC_STREAM_SCOPE against a record and a wait", inside_raw, inside_ours, 50, NULL);
    bad += row_with_guards(
            "query a completed event", query_raw, query_ours, query_guarded, 200, captures);
    bad += row_with_guards(
            "wait for a completed event", waited_raw, waited_ours, waited_guarded, 200, captures);
    bad += row("time between two events", between_raw, between_ours, 200, NULL);
    bad += row_with_guards(
            "create and destroy an event", event_raw, event_ours, event_guarded, 100, handles);
    bad += row("gpuexec_stream_record and destroy", point_raw, point_ours, 100, handles);
    bad += row_with_guards(
            "query an idle stream", idle_raw, idle_ours, idle_guarded, 200, captures);
    bad += row_with_guards(
            "wait for an idle stream", sync_raw, sync_ours, sync_guarded, 200, captures);
    bad += row_with_guards(
            "create and destroy a stream", stream_raw, stream_ours, stream_guarded, 10, handles);
    bad += row_with_guards(
            "copy 4 bytes in, from pinned memory", in_raw, in_ours, in_guarded, 50, table);
    bad += row_with_guards(
            "copy 4 bytes out, to pinned memory", out_raw, out_ours, out_guarded, 50, table);
    bad += row("copy 4 bytes on the device", copy_raw, copy_ours, 50, NULL);
    bad += row_with_guards("fill 4 bytes", fill_raw, fill_ours, fill_guarded, 50,
            "looking up the address in the table of allocations");
    bad += row_with_guards("copy 4 bytes out, without a stream (gpuexec_copy_out_now)", now_raw,
            now_ours, now_guarded, 20,
            "queries of captures that the legacy stream would break, and the table of allocations");
    bad += row_with_guards("allocate and free 64 KiB", memory_raw, memory_ours, memory_guarded, 20,
            "the table of allocations, and the guards");
    bad += row_with_guards("push and pop the context", push_raw, push_ours, push_guarded, 200,
            "the record of who pushed what where");
    bad += row_with_guards("GPUEXEC_CONTEXT_SCOPE against push and pop", scope_raw, scope_ours,
            push_guarded, 200, "the record of who pushed what where");
    bad += row("launch and wait", round_raw, round_ours, 20, NULL);
    bad += row("copy in, launch, copy out, wait", results_raw, results_ours, 20, NULL);
    return gpuexec_shutdown() != GPUEXEC_OK || bad;
}
