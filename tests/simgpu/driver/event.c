/* event.c - events: a handle to the operation of the last record, or to nodes of the capture in which it was recorded.
   An event that was never recorded counts as complete, except for its time. */
#include "driver.h"
#include "../base/cudadefs.h"

static void free_event(struct sim_event *e) {
    sim_link_remove(&e->link);
    if (e->context->dying) sim_handle_orphan(e->handle); else sim_handle_drop(e->handle);
    sim_event_unref(e);
}

void sim_event_set(struct sim_event *e, struct sim_op *op) {
    sim_op_unref(e->op);
    e->op = op;
    e->capture = 0;
    if (e->shared && op) sim_shared_record(e->shared, op);
}

static void end_event(struct sim_link *link) { free_event(SIM_OWNER(sim_event, link)); }

struct sim_event *sim_event_new(struct sim_context *context, unsigned flags) {
    struct sim_event *e = calloc(1, sizeof *e);
    if (!e || !(e->handle = sim_handle_new(SIM_H_EVENT, e))) {
        free(e);
        return NULL;
    }
    e->refs = 1;
    e->context = context;
    e->flags = flags;
    sim_link_add(&context->children, &e->link, end_event);
    return e;
}

SIM_API(cuEventCreate, (void **out, unsigned flags), (out, flags), SIM_CTX) {
    if (!out || flags & ~7u) return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_VALUE;
    struct sim_event *e = sim_event_new(sim_self.context, flags);
    if (!e) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(e->handle);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuEventDestroy_v2, cuEventDestroy, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return sim_not_there(handle);
    free_event(e);
    return CUDA_SUCCESS;
}

/* In a capture, a record only notes the stream's last nodes. */
static int record_captured(struct sim_event *e, const struct sim_stream *s) {
    e->nodes.n = 0;
    if (!sim_set_add(&e->nodes, s->nodes.at, s->nodes.n)) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_unref(e->op);
    e->op = NULL;
    e->capture = s->capture->id;
    return CUDA_SUCCESS;
}

static int record(void *handle, void *stream, unsigned flags) {
    struct sim_stream *s;
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    int result = sim_stream_use(stream, &s);
    if (result) return result;
    if (!e) return sim_not_there(handle);
    if (e->context != s->context) return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (flags) return sim_capture_take_event(s, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
    if (s->capture) return record_captured(e, s);
    struct sim_op *op = sim_op_new(SIM_OP_EVENT);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_ref(op);
    sim_stream_submit(s, op);
    sim_event_set(e, op);
    return CUDA_SUCCESS;
}
SIM_API_STREAM(cuEventRecord, _ptsz, (void *event, void *stream), (event, stream), SIM_EASY) {
    return record(event, stream, 0);
}
SIM_API_STREAM(cuEventRecordWithFlags, _ptsz, (void *event, void *stream, unsigned flags), (event, stream, flags),
               SIM_EASY) {
    return record(event, stream, flags);
}

/* 0, or why the event has no state that the host can use: 907 during its capture, 1 when this has ended or
   is invalid. */
static int captured(const struct sim_event *e, bool invalidate) {
    if (!e->capture) return CUDA_SUCCESS;
    struct sim_capture *c = sim_capture_at(e->capture);
    if (c && invalidate) sim_capture_invalidate(c);
    return c ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE;
}

static int find_state(const void *handle, struct sim_event **e) {
    int result;
    if (!(*e = sim_get(SIM_H_EVENT, handle))) return sim_not_there(handle);
    return (result = captured(*e, true)) ? result : sim_capture_forbids();
}

SIM_API(cuEventQuery, (void *handle), (handle), SIM_EASY) {
    struct sim_event *e;
    int result = find_state(handle, &e);
    if (result) return result;
    const bool pending = sim_op_pending(e->op);
    return pending || (e->shared && sim_shared_pending(e->shared)) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static int wait_shared(struct sim_shared *shared) {
    struct sim_op *op;
    int result = sim_shared_wait(shared, &op);
    if (result || !op) return result ? result : __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED);
    sim_op_submit(op);
    result = sim_op_wait(op);
    sim_op_unref(op);
    return result;
}

SIM_API(cuEventSynchronize, (void *handle), (handle), SIM_EASY) {
    struct sim_event *e;
    int result = find_state(handle, &e);
    if (result) return result;
    sim_has_waited = true;
    if (e->shared) return wait_shared(e->shared);
    if (e->op) result = sim_op_wait(e->op);
    sim_pools_settle();
    return result;
}

SIM_API_ALSO(cuEventElapsedTime_v2, cuEventElapsedTime, (float *milliseconds, void *start, void *end),
             (milliseconds, start, end), SIM_EASY) {
    struct sim_event *a = sim_get(SIM_H_EVENT, start), *b = sim_get(SIM_H_EVENT, end);
    if (!a || !b) return sim_not_there(a ? end : start);
    if (!milliseconds) return CUDA_ERROR_INVALID_HANDLE;           /* as measured */
    int result = captured(a, false);
    if (result || (result = captured(b, false))) return result;
    if ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING || !a->op || !b->op) return CUDA_ERROR_INVALID_HANDLE;
    if (a->context != b->context) return CUDA_ERROR_INVALID_HANDLE;
    if (sim_op_pending(a->op) || sim_op_pending(b->op)) return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)(int64_t)(b->op->done_ns - a->op->done_ns) * 1e-6);
    return CUDA_SUCCESS;
}
