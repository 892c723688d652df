/* cuEvent.c - the entry points of events. */
#include "driver.h"

SIM_API(cuEventCreate, (void **out, unsigned flags), (out, flags), SIM_CTX) {
    if (!out || flags & ~7u) return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_event *e = sim_event_new(sim_self.context, flags);
    if (!e) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(e->handle);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuEventDestroy_v2, cuEventDestroy, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_event *e = sim_get(SIM_H_EVENT, handle);
    if (!e) return sim_not_there(handle);
    sim_event_free(e);
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
    return flags ? sim_capture_take_event(s, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e)
                 : sim_event_record(e, s);
}
SIM_API_STREAM(cuEventRecord, _ptsz, (void *event, void *stream), (event, stream), SIM_EASY) {
    return record(event, stream, 0);
}
SIM_API_STREAM(cuEventRecordWithFlags, _ptsz, (void *event, void *stream, unsigned flags),
        (event, stream, flags), SIM_EASY) {
    return record(event, stream, flags);
}

static int find_state(const void *handle, struct sim_event **e) {
    int result;
    if (!(*e = sim_get(SIM_H_EVENT, handle))) return sim_not_there(handle);
    return (result = sim_event_captured(*e, true)) ? result : sim_capture_forbids();
}

SIM_API(cuEventQuery, (void *handle), (handle), SIM_EASY) {
    struct sim_event *e;
    int result = find_state(handle, &e);
    if (result) return result;
    return sim_event_pending(e) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

SIM_API(cuEventSynchronize, (void *handle), (handle), SIM_EASY) {
    struct sim_event *e;
    int result = find_state(handle, &e);
    return result ? result : sim_event_wait(e);
}

SIM_API_ALSO(cuEventElapsedTime_v2, cuEventElapsedTime,
        (float *milliseconds, void *start, void *end), (milliseconds, start, end), SIM_EASY) {
    struct sim_event *a = sim_get(SIM_H_EVENT, start), *b = sim_get(SIM_H_EVENT, end);
    if (!a || !b) return sim_not_there(a ? end : start);
    if (!milliseconds) return CUDA_ERROR_INVALID_HANDLE; /* as measured */
    int result = sim_event_captured(a, false);
    if (result || (result = sim_event_captured(b, false))) return result;
    if ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING || !a->op || !b->op)
        return CUDA_ERROR_INVALID_HANDLE;
    if (a->context != b->context) return CUDA_ERROR_INVALID_HANDLE;
    if (sim_op_pending(a->op) || sim_op_pending(b->op)) return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)(int64_t)(b->op->done_ns - a->op->done_ns) * 1e-6);
    return CUDA_SUCCESS;
}
