/* stream.c - streams, and their order as edges between operations.

   A stream remembers its last operation; a new one comes after it. An operation on the legacy default stream also comes
   after the last ones of all blocking streams of its context, and operations of blocking streams come after the legacy
   default stream's last one. The context remembers the unfinished work of destroyed streams (orphans).

   While a stream captures, its work becomes nodes of a graph instead (capture.c). The legacy default stream cannot
   capture, and cannot be used while a blocking stream of its context does. */
#include "driver.h"
#include "../base/cudadefs.h"

static uint64_t next_id = 1;

static bool pending(const struct sim_op *op) { return op && !op->done; }

void sim_stream_outlast(struct sim_context *context, bool blocking, struct sim_op *op) {
    struct sim_op **orphan = &context->orphans[blocking], *both;
    if (!pending(op)) return;
    if (pending(*orphan) && (both = sim_op_new(SIM_OP_MARKER))) {
        sim_op_after(both, *orphan);
        sim_op_after(both, op);
        sim_op_submit(both);
        sim_op_unref(*orphan);
        *orphan = both;
    } else {
        sim_op_unref(*orphan);
        sim_op_ref(op);
        *orphan = op;
    }
}

static void free_stream(struct sim_stream *s) {
    sim_capture_leave(s);
    sim_stream_outlast(s->context, s->blocking, s->last);
    sim_op_unref(s->last);
    sim_link_remove(&s->link);
    sim_handle_drop(s->handle);
    free(s);
}
static void end_stream(struct sim_link *link) { free_stream(SIM_OWNER(sim_stream, link)); }

static struct sim_stream *stream_new(struct sim_context *context, unsigned flags, int priority) {
    struct sim_stream *s = calloc(1, sizeof *s);
    if (!s || !(s->handle = sim_handle_new(SIM_H_STREAM, s))) {
        free(s);
        return NULL;
    }
    s->context = context;
    s->flags = flags;
    s->id = 1000 + next_id++;
    s->blocking = !(flags & CU_STREAM_NON_BLOCKING);
    s->priority = priority > 0 ? 0 : priority < SIM_PRIORITY_GREATEST ? SIM_PRIORITY_GREATEST : priority;
    sim_link_add(&context->streams, &s->link, end_stream);
    return s;
}

int sim_stream_find(const void *handle, struct sim_stream **out) {
    uintptr_t h = (uintptr_t)handle;
    if (h > 2) {
        *out = sim_get(SIM_H_STREAM, handle);
        return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    int result = sim_in_host_function ? CUDA_ERROR_NOT_PERMITTED : sim_context_need();
    if (result) return result;
    struct sim_context *c = sim_self.context;
    *out = &c->legacy;
    if (h == 1 || (h == 0 && !sim_self.per_thread_default)) return CUDA_SUCCESS;
    const uint64_t me = sim_thread_id();
    SIM_EACH(sim_stream, s, &c->streams) if (s->thread == me) {
        *out = s;
        return CUDA_SUCCESS;
    }
    if (!(*out = stream_new(c, 0, 0))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->thread = me;
    return CUDA_SUCCESS;
}

static int check_use(struct sim_stream *s) {
    return s != &s->context->legacy ? CUDA_SUCCESS : sim_capture_of_blocking(s->context, true);
}

int sim_stream_use(const void *handle, struct sim_stream **out) {
    int result = sim_stream_find(handle, out);
    if (result || !sim_captures) return result;
    if ((*out)->capture) return (*out)->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    return check_use(*out);
}

int sim_stream_use_now(const void *handle, struct sim_stream **out) {
    int result = sim_stream_find(handle, out);
    if (result || !sim_captures) return result;
    if (!(*out)->capture) return check_use(*out);
    sim_capture_invalidate((*out)->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

int sim_stream_use_unsafe(const void *handle, struct sim_stream **out) {
    int result = sim_stream_use(handle, out);
    return result || (*out)->capture ? result : sim_capture_forbids();
}

/* For a wait or a query. */
static int find_state(const void *handle, struct sim_stream **out) {
    int result = sim_stream_use_now(handle, out);
    return result ? result : sim_capture_forbids();
}

/* The same as pending(), for a query by the program. */
static bool still_pending(struct sim_stream *stream) {
    struct sim_context *c = stream->context;
    bool yes = sim_op_pending(stream->last);
    if (stream != &c->legacy) return yes;
    SIM_EACH(sim_stream, s, &c->streams) yes |= s->blocking && sim_op_pending(s->last);
    return sim_op_pending(c->orphans[1]) || yes;
}

bool sim_stream_idle(struct sim_stream *stream) {
    struct sim_context *c = stream->context;
    if (pending(stream->last)) return false;
    if (stream != &c->legacy) return !stream->blocking || !pending(c->legacy.last);
    SIM_EACH(sim_stream, s, &c->streams) if (s->blocking && pending(s->last)) return false;
    return !pending(c->orphans[1]);
}

void sim_stream_after(struct sim_stream *stream, struct sim_op *op) {
    struct sim_context *c = stream->context;
    sim_op_after(op, stream->last);
    if (stream == &c->legacy) {
        SIM_EACH(sim_stream, s, &c->streams) if (s->blocking) sim_op_after(op, s->last);
        sim_op_after(op, c->orphans[1]);
    } else if (stream->blocking) sim_op_after(op, c->legacy.last);
}

static int capture(struct sim_stream *stream, struct sim_op *op) {
    struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_KERNEL, .op = op };
    if (op->kind == SIM_OP_COPY) work.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    if (op->kind == SIM_OP_FILL) work.type = CU_GRAPH_NODE_TYPE_MEMSET;
    if (op->kind == SIM_OP_TRY) work.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    if (op->kind == SIM_OP_HOST) work.type = CU_GRAPH_NODE_TYPE_HOST; else sim_work_in(&work, stream->context);
    return sim_capture_take(stream, work);
}

int sim_stream_submit(struct sim_stream *stream, struct sim_op *op) {
    if (op->priority == 0) op->priority = -stream->priority;
    if (stream->capture) return capture(stream, op);
    sim_stream_after(stream, op);
    sim_op_submit(op);
    sim_op_unref(stream->last);
    stream->last = op;
    if (op->done) {
        sim_op_unref(op);
        stream->last = NULL;
    }
    return CUDA_SUCCESS;
}

int sim_stream_run(struct sim_stream *stream, struct sim_op *op) {
    op->by_caller = op->kind == SIM_OP_COPY || op->kind == SIM_OP_FILL;
    sim_op_ref(op);
    sim_stream_submit(stream, op);
    int result = sim_op_wait(op);
    sim_op_unref(op);
    return result;
}

int sim_stream_wait(struct sim_stream *s) {
    if (s == &s->context->legacy) {               /* as for an operation on it: after all blocking streams */
        struct sim_op *op = sim_op_new(SIM_OP_MARKER);
        return op ? sim_stream_run(s, op) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_has_waited = true;
    return s->last ? sim_op_wait(s->last) : CUDA_SUCCESS;
}

/* ---- entry points ---- */

static int create(void **out, unsigned flags, int priority) {
    if (!out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_context_need();
    if (result) return result;
    struct sim_stream *s = stream_new(sim_self.context, flags, priority);
    if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(s->handle);
    return CUDA_SUCCESS;
}
SIM_API(cuStreamCreate, (void **out, unsigned flags), (out, flags), SIM_HEALTHY) { return create(out, flags, 0); }
SIM_API(cuStreamCreateWithPriority, (void **out, unsigned flags, int priority), (out, flags, priority), SIM_HEALTHY) {
    return create(out, flags, priority);
}

SIM_API_ALSO(cuStreamDestroy_v2, cuStreamDestroy, (void *handle), (handle), SIM_HEALTHY) {
    struct sim_stream *s = sim_get(SIM_H_STREAM, handle);
    if (!s || s->thread) return CUDA_ERROR_INVALID_HANDLE;
    free_stream(s);
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
    return still_pending(s) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

/* 0, or why the stream cannot wait for the event, which stands for nodes of the capture c or, if it is not of one, for
   an operation. */
static int check_wait(const struct sim_stream *s, const struct sim_event *e, const struct sim_capture *c) {
    if (!e->capture && e->shared) return s->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
    if (!e->capture) return s->capture && e->op ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION : CUDA_SUCCESS;
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    if (s == &s->context->legacy) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return s->capture && s->capture != c ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_SUCCESS;
}

static int wait_shared(struct sim_stream *s, struct sim_shared *shared) {
    struct sim_op *op;
    int result = sim_shared_wait(shared, &op);
    return result || !op ? result : sim_stream_submit(s, op);
}

SIM_API_STREAM(cuStreamWaitEvent, _ptsz, (void *handle, void *event, unsigned flags), (handle, event, flags),
               SIM_EASY) {
    struct sim_stream *s;
    struct sim_event *e = sim_get(SIM_H_EVENT, event);
    int result = sim_stream_use(handle, &s);
    if (result) return result;
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (flags && e) return sim_capture_take_event(s, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
    if (flags) {
        sim_capture_invalidate(s->capture);
        return sim_not_there(event);
    }
    struct sim_capture *c = e ? sim_capture_at(e->capture) : NULL;
    if (!e || (result = check_wait(s, e, c))) {
        sim_capture_invalidate(c);
        sim_capture_invalidate(s->capture);
        return e ? result : sim_not_there(event);
    }
    if (c) return sim_capture_join(c, s, &e->nodes);
    if (e->shared) return wait_shared(s, e->shared);
    if (!pending(e->op)) return CUDA_SUCCESS;
    struct sim_op *op = sim_op_new(SIM_OP_MARKER);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_after(op, e->op);
    return sim_stream_submit(s, op);
}

/* For a query that captures allow, but not on the legacy stream while a blocking one captures; a query without a place
   for its result fails before that. */
static int find_allowed(const void *handle, const void *place, struct sim_stream **out) {
    int result = sim_stream_find(handle, out);
    return result || !place ? result : check_use(*out);
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
QUESTION(cuStreamGetFlags, unsigned, find_now, s->flags)          /* as measured */
QUESTION(cuStreamGetPriority, int, find_allowed, s->priority)
QUESTION(cuStreamGetId, unsigned long long, find_now, s->id)
QUESTION(cuStreamGetDevice, CUdevice, find_now, s->context->device->ordinal)
QUESTION(cuStreamGetCtx, void *, find_allowed, SIM_HANDLE(s->context->handle))

SIM_API_STREAM(cuStreamGetCtx_v2, _ptsz, (void *handle, void **out, void **green), (handle, out, green), SIM_HEALTHY) {
    struct sim_stream *s;
    int result = find_allowed(handle, out, &s);
    if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE;
    *out = SIM_HANDLE(s->context->handle);
    if (green) *green = NULL;
    return CUDA_SUCCESS;
}

/* ---- host functions ---- */

struct call { void (*function)(void *); void (*callback)(void *, int, void *); void *stream, *data; };

static void make_call(void *data, int error) {
    struct call *call = data;
    if (call->callback) call->callback(call->stream, error, call->data); else call->function(call->data);
}

void sim_stream_function(const struct sim_op *op, void (**function)(void *), void **data) {
    const struct call *call = op->data;
    *function = call->function;
    *data = call->data;
}

static struct sim_op *new_call(struct call call) {
    struct sim_op *op = sim_op_new(SIM_OP_HOST);
    if (op && !(op->staged = malloc(sizeof call))) {
        sim_op_unref(op);
        op = NULL;
    }
    if (!op) return NULL;
    memcpy(op->staged, &call, sizeof call);
    op->function = make_call;
    op->data = op->staged;
    op->always = call.callback != NULL;
    return op;
}

static int enqueue_call(struct sim_stream *s, struct call call) {
    struct sim_op *op = new_call(call);
    return op ? sim_stream_submit(s, op) : CUDA_ERROR_OUT_OF_MEMORY;
}

struct sim_op *sim_stream_function_op(void (*function)(void *), void *data) {
    return new_call((struct call) { function, NULL, NULL, data });
}

SIM_API_STREAM(cuLaunchHostFunc, _ptsz, (void *handle, void (*function)(void *), void *data),
               (handle, function, data), SIM_EASY) {
    struct sim_stream *s;
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_stream_use(handle, &s);
    return result ? result : enqueue_call(s, (struct call) { function, NULL, NULL, data });
}

SIM_API_STREAM(cuStreamAddCallback, _ptsz,
               (void *handle, void (*callback)(void *, int, void *), void *data, unsigned flags),
               (handle, callback, data, flags), SIM_EASY) {
    struct sim_stream *s;
    if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
    int result = sim_stream_use_now(handle, &s);
    return result ? result : enqueue_call(s, (struct call) { NULL, callback, handle, data });
}
