/* cuStream.c - entry points of streams: waits, queries, single words that they wait for or write,
   host functions. */
#include "driver.h"

/* For a wait or a query. */
static int find_state(const void *handle, struct sim_stream **out) {
    int result = sim_stream_use_now(handle, out);
    return result ? result : sim_capture_forbids();
}

static int create(void **out, unsigned flags, int priority) {
    if (!out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_context_need();
    if (result) return result;
    struct sim_stream *s = sim_stream_new(sim_self.context, sim_green_current(), flags, priority);
    if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(s->handle);
    return CUDA_SUCCESS;
}
SIM_API(cuStreamCreate, (void **out, unsigned flags), (out, flags), SIM_HEALTHY) {
    return create(out, flags, 0);
}
SIM_API(cuStreamCreateWithPriority, (void **out, unsigned flags, int priority),
        (out, flags, priority), SIM_HEALTHY) {
    return create(out, flags, priority);
}

SIM_API_ALSO(cuStreamDestroy_v2, cuStreamDestroy, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_stream *s;
    if ((uintptr_t)handle <= 2) return CUDA_ERROR_INVALID_HANDLE;
    int result = sim_stream_find(handle, &s);
    if (result || s->thread) return result ? result : CUDA_ERROR_INVALID_HANDLE;
    sim_stream_free(s);
    return CUDA_SUCCESS;
}

SIM_API_STREAM(cuStreamSynchronize, _ptsz, (void *handle), (handle), SIM_EASY) {
    struct sim_stream *s;
    int result = find_state(handle, &s);
    if (result) return result;
    result = sim_stream_wait(s);
    sim_pools_settle();
    return result;
}

SIM_API_STREAM(cuStreamQuery, _ptsz, (void *handle), (handle), SIM_EASY) {
    struct sim_stream *s;
    int result = find_state(handle, &s);
    if (result) return result;
    return sim_stream_pending(s) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

SIM_API_STREAM(cuStreamWaitEvent, _ptsz, (void *handle, void *event, unsigned flags),
        (handle, event, flags), SIM_EASY) {
    struct sim_stream *s;
    struct sim_event *e = sim_get(SIM_H_EVENT, event);
    int result = sim_stream_use(handle, &s);
    if (result) return result;
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (!e) {
        sim_capture_invalidate(s->capture);
        return sim_not_there(event);
    }
    return flags ? sim_capture_take_event(s, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e)
                 : sim_stream_wait_event(s, e);
}

/* For a query that captures allow, but not on the legacy stream while a blocking one captures; a
   query without a place for its result fails before that. */
static int find_allowed(const void *handle, const void *place, struct sim_stream **out) {
    int result = sim_stream_find(handle, out);
    return result || !place ? result : sim_stream_check(*out);
}
static int find_now(const void *handle, const void *place, struct sim_stream **out) {
    (void)place;
    return sim_stream_use_now(handle, out);
}

/* Stream queries: each finds the stream, refuses a NULL result pointer, and returns one member. */
#define QUESTION(symbol, type, find, answer) \
    SIM_API_STREAM(symbol, _ptsz, (void *handle, type *out), (handle, out), SIM_EASY) { \
        struct sim_stream *s; \
        int result = find(handle, out, &s); \
        if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE; \
        *out = answer; \
        return CUDA_SUCCESS; \
    }
QUESTION(cuStreamGetFlags, unsigned, find_now, s->flags) /* as measured */
QUESTION(cuStreamGetPriority, int, find_allowed, s->priority)
QUESTION(cuStreamGetId, unsigned long long, find_now, s->id)
QUESTION(cuStreamGetDevice, CUdevice, find_now, s->context->device->ordinal)
static void *context_of(const struct sim_stream *s) {
    if (!s->green) return SIM_HANDLE(s->context->handle);
    s->green->converted = true;
    return SIM_HANDLE(s->green->handle);
}
QUESTION(cuStreamGetCtx, void *, find_allowed, context_of(s))

SIM_API_STREAM(cuStreamGetCtx_v2, _ptsz, (void *handle, void **out, void **green),
        (handle, out, green), SIM_HEALTHY) {
    struct sim_stream *s;
    int result = find_allowed(handle, out, &s);
    if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(s->context->handle);
    if (green) *green = s->green ? SIM_HANDLE(s->green->handle) : NULL;
    return CUDA_SUCCESS;
}

/* ---- attributes, of the launches on the stream ---- */

SIM_API_STREAM(cuStreamSetAttribute, _ptsz,
        (void *handle, int id, const CUlaunchAttributeValue *value), (handle, id, value),
        SIM_HEALTHY) {
    struct sim_stream *s;
    const int result = sim_stream_find(handle, &s);
    if (result || !value) return result ? result : CUDA_ERROR_INVALID_VALUE;
    return sim_launch_stream_set(s, (unsigned)id, value);
}
SIM_API_STREAM(cuStreamGetAttribute, _ptsz, (void *handle, int id, CUlaunchAttributeValue *value),
        (handle, id, value), SIM_HEALTHY) {
    struct sim_stream *s;
    const int result = sim_stream_find(handle, &s);
    if (result || !value) return result ? result : CUDA_ERROR_INVALID_VALUE;
    return sim_launch_stream_get(s, (unsigned)id, value);
}

/* ---- single words: a stream waits for a value, or writes one ---- */

#define VALUES(symbol, bits, wait) \
    SIM_API_STREAM(symbol, _ptsz, \
            (void *stream, CUdeviceptr address, uint##bits##_t v, unsigned flags), \
            (stream, address, v, flags), SIM_HEALTHY) { \
        return sim_stream_value(stream, address, v, bits / 8, flags, wait); \
    }
VALUES(cuStreamWaitValue32_v2, 32, true)
VALUES(cuStreamWaitValue64_v2, 64, true)
VALUES(cuStreamWriteValue32_v2, 32, false)
VALUES(cuStreamWriteValue64_v2, 64, false)

/* The first versions need a setting of the kernel module that no system sets: attributes 92 to 94
   are 0, the calls return 801, as measured. */
#define OLD_VALUES(symbol, type) \
    SIM_API_STREAM(symbol, _ptsz, (void *stream, CUdeviceptr address, type v, unsigned flags), \
            (stream, address, v, flags), SIM_HEALTHY) { \
        (void)stream; \
        (void)address; \
        (void)v; \
        (void)flags; \
        return CUDA_ERROR_NOT_SUPPORTED; \
    }
OLD_VALUES(cuStreamWaitValue32, uint32_t)
OLD_VALUES(cuStreamWaitValue64, uint64_t)
OLD_VALUES(cuStreamWriteValue32, uint32_t)
OLD_VALUES(cuStreamWriteValue64, uint64_t)

/* ---- host functions ---- */

SIM_API_STREAM(cuLaunchHostFunc, _ptsz, (void *handle, void (*function)(void *), void *data),
        (handle, function, data), SIM_EASY) {
    struct sim_stream *s;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_stream_use(handle, &s);
    return result ? result : sim_stream_call(s, function, data);
}

SIM_API_STREAM(cuStreamAddCallback, _ptsz,
        (void *handle, void (*callback)(void *, int, void *), void *data, unsigned flags),
        (handle, callback, data, flags), SIM_EASY) {
    struct sim_stream *s;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_stream_use_now(handle, &s);
    return result ? result : sim_stream_call_back(s, callback, handle, data);
}
