/* event.c - events: a handle to the operation of the last record. An event
   that was never recorded counts as complete, except for its time. */
#include "driver.h"
#include "../base/cudadefs.h"

static void free_event(struct sim_event *e) {
    sim_op_unref(e->op);
    sim_link_remove(&e->link);
    if (e->context->dying) sim_handle_orphan(e->handle); else sim_handle_drop(e->handle);
    free(e);
}

static void end_event(struct sim_link *link) { free_event(SIM_OWNER(sim_event, link)); }

/* An interprocess event works like any other; only its IPC handle is not available here. */
SIM_API(cuEventCreate, (void **out, unsigned flags), (out, flags), SIM_CTX) {
    if (!out || flags & ~7u) return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_VALUE;
    struct sim_event *e = calloc(1, sizeof *e);
    if (!e || !(e->handle = sim_handle_new(SIM_H_EVENT, e))) {
        free(e);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    e->context = sim_self.context;
    e->flags = flags;
    sim_link_add(&e->context->children, &e->link, end_event);
    *out = SIM_HANDLE(e->handle);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuEventDestroy_v2, cuEventDestroy, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return sim_not_there(handle);
    free_event(e);
    return CUDA_SUCCESS;
}

static int record(void *handle, void *stream, unsigned flags) {
    struct sim_stream *s;
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    int result = sim_stream_find(stream, &s);
    if (result) return result;
    if (!e) return sim_not_there(handle);
    if (e->context != s->context) return CUDA_ERROR_INVALID_HANDLE;
    /* valid only in a capture */
    if (flags) return flags == CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
    struct sim_op *op = sim_op_new(SIM_OP_EVENT);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_ref(op);
    sim_stream_submit(s, op);
    sim_op_unref(e->op);
    e->op = op;
    return CUDA_SUCCESS;
}
SIM_API_STREAM(cuEventRecord, _ptsz, (void *event, void *stream), (event, stream), SIM_EASY) {
    return record(event, stream, 0);
}
SIM_API_STREAM(cuEventRecordWithFlags, _ptsz, (void *event, void *stream, unsigned flags), (event, stream, flags),
               SIM_EASY) {
    return record(event, stream, flags);
}

SIM_API(cuEventQuery, (void *handle), (handle), SIM_EASY) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return sim_not_there(handle);
    return sim_op_pending(e->op) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

SIM_API(cuEventSynchronize, (void *handle), (handle), SIM_EASY) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return sim_not_there(handle);
    sim_has_waited = true;
    return e->op ? sim_op_wait(e->op) : CUDA_SUCCESS;
}

SIM_API_ALSO(cuEventElapsedTime_v2, cuEventElapsedTime, (float *milliseconds, void *start, void *end),
             (milliseconds, start, end), SIM_EASY) {
    struct sim_event *a = sim_get(SIM_H_EVENT, start), *b = sim_get(SIM_H_EVENT, end);
    if (!a || !b) return sim_not_there(a ? end : start);
    if (!milliseconds) return CUDA_ERROR_INVALID_HANDLE;           /* as measured */
    if ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING || !a->op || !b->op) return CUDA_ERROR_INVALID_HANDLE;
    if (a->context != b->context) return CUDA_ERROR_INVALID_HANDLE;
    if (sim_op_pending(a->op) || sim_op_pending(b->op)) return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)(int64_t)(b->op->done_ns - a->op->done_ns) * 1e-6);
    return CUDA_SUCCESS;
}
