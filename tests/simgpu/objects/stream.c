/* stream.c - streams, and their order as edges between operations.

   A stream remembers its last operation; a new one comes after it. An operation on the legacy
   default stream also comes after the last ones of all blocking streams of its context, and
   operations of blocking streams come after the legacy default stream's last one. The context
   remembers the unfinished work of destroyed streams (orphans). The streams of green contexts are
   never blocking, and the default stream of a green context waits for no other stream.

   While a stream captures, its work becomes nodes of a graph instead (capture.c). The legacy
   default stream cannot capture, and cannot be used while a blocking stream of its context does. */
#include "objects.h"

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

void sim_stream_free(struct sim_stream *s) {
    sim_capture_leave(s);
    sim_stream_outlast(s->context, s->blocking, s->last);
    sim_op_unref(s->last);
    sim_link_remove(&s->link);
    sim_handle_drop(s->handle);
    free(s);
}
static void end_stream(struct sim_link *link) { sim_stream_free(SIM_OWNER(sim_stream, link)); }

int sim_stream_priority(int priority) {
    return priority > 0 ? 0 : priority < SIM_PRIORITY_GREATEST ? SIM_PRIORITY_GREATEST : priority;
}
struct sim_stream *sim_stream_new(
        struct sim_context *context, struct sim_green *green, unsigned flags, int priority) {
    struct sim_stream *s = calloc(1, sizeof *s);
    if (!s || !(s->handle = sim_handle_new(SIM_H_STREAM, s))) {
        free(s);
        return NULL;
    }
    s->context = context;
    s->green = green;
    s->flags = green ? flags | CU_STREAM_NON_BLOCKING : flags; /* as on an H100 */
    s->id = 1000 + next_id++;
    s->blocking = !(s->flags & CU_STREAM_NON_BLOCKING);
    s->priority = sim_stream_priority(priority);
    if (green && pending(green->gate)) {
        sim_op_ref(green->gate);
        s->last = green->gate;
    }
    sim_link_add(&context->streams, &s->link, end_stream);
    return s;
}

int sim_stream_find(const void *handle, struct sim_stream **out) {
    uintptr_t h = (uintptr_t)handle;
    if (h > 2) {
        *out = sim_find(SIM_H_STREAM, handle);
        if (*out) return CUDA_SUCCESS;
        if (sim_not_there(handle) == CUDA_ERROR_CONTEXT_IS_DESTROYED) /* a green one */
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        sim_get(SIM_H_STREAM, handle);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    int result = sim_in_host_function ? CUDA_ERROR_NOT_PERMITTED : sim_context_need();
    if (result) return result;
    struct sim_context *c = sim_self.context;
    struct sim_green *g = sim_green_current();
    *out = sim_stream_legacy(c, g);
    if (h == 1 || (h == 0 && !sim_self.per_thread_default)) return CUDA_SUCCESS;
    if (g) /* as on an H100 */
        return sim_because(CUDA_ERROR_INVALID_HANDLE,
                "CUDA Green Contexts cannot be used with stream-per-thread mode");
    const uint64_t me = sim_thread_id();
    SIM_EACH(sim_stream, s, &c->streams) if (s->thread == me) {
        *out = s;
        return CUDA_SUCCESS;
    }
    if (!(*out = sim_stream_new(c, NULL, 0, 0))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->thread = me;
    return CUDA_SUCCESS;
}

int sim_stream_check(struct sim_stream *s) {
    return sim_stream_joins_blocking(s) ? sim_capture_of_blocking(s->context, true) : CUDA_SUCCESS;
}

int sim_stream_use(const void *handle, struct sim_stream **out) {
    int result = sim_stream_find(handle, out);
    if (result || !sim_captures) return result;
    if ((*out)->capture)
        return (*out)->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    return sim_stream_check(*out);
}

int sim_stream_use_now(const void *handle, struct sim_stream **out) {
    int result = sim_stream_find(handle, out);
    if (result || !sim_captures) return result;
    if (!(*out)->capture) return sim_stream_check(*out);
    sim_capture_invalidate((*out)->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

int sim_stream_use_unsafe(const void *handle, struct sim_stream **out) {
    int result = sim_stream_use(handle, out);
    return result || (*out)->capture ? result : sim_capture_forbids();
}

/* The same as pending(), for a query by the program. */
bool sim_stream_pending(struct sim_stream *stream) {
    struct sim_context *c = stream->context;
    bool yes = sim_op_pending(stream->last);
    if (!sim_stream_joins_blocking(stream)) return yes;
    SIM_EACH(sim_stream, s, &c->streams) yes |= s->blocking && sim_op_pending(s->last);
    return sim_op_pending(c->orphans[1]) || yes;
}

bool sim_stream_idle(struct sim_stream *stream) {
    struct sim_context *c = stream->context;
    if (pending(stream->last)) return false;
    if (!sim_stream_joins_blocking(stream)) return !stream->blocking || !pending(c->legacy.last);
    SIM_EACH(sim_stream, s, &c->streams) if (s->blocking && pending(s->last)) return false;
    return !pending(c->orphans[1]);
}

void sim_stream_after(struct sim_stream *stream, struct sim_op *op) {
    struct sim_context *c = stream->context;
    sim_op_after(op, stream->last);
    if (sim_stream_joins_blocking(stream)) {
        SIM_EACH(sim_stream, s, &c->streams) if (s->blocking) sim_op_after(op, s->last);
        sim_op_after(op, c->orphans[1]);
    } else if (stream->blocking) sim_op_after(op, c->legacy.last);
}

static int capture(struct sim_stream *stream, struct sim_op *op) {
    struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_KERNEL, .op = op };
    if (op->kind == SIM_OP_COPY) work.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    if (op->kind == SIM_OP_FILL) work.type = CU_GRAPH_NODE_TYPE_MEMSET;
    if (op->kind == SIM_OP_TRY) work.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    if (op->kind == SIM_OP_HOST) work.type = CU_GRAPH_NODE_TYPE_HOST;
    else sim_work_in(&work, stream->context);
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
    if (sim_stream_is_legacy(s)) { /* as for an operation on it: after all blocking streams */
        struct sim_op *op = sim_op_new(SIM_OP_MARKER);
        return op ? sim_stream_run(s, op) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_has_waited = true;
    return s->last ? sim_op_wait(s->last) : CUDA_SUCCESS;
}

/* 0, or why the stream cannot wait for the event, which stands for nodes of the capture c or, if it
   is not of one, for an operation. */
static int check_wait(
        const struct sim_stream *s, const struct sim_event *e, const struct sim_capture *c) {
    if (!e->capture && e->shared)
        return s->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
    if (!e->capture)
        return s->capture && e->op ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION : CUDA_SUCCESS;
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    if (sim_stream_is_legacy(s)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return s->capture && s->capture != c ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_SUCCESS;
}

static int wait_shared(struct sim_stream *s, struct sim_shared *shared) {
    struct sim_op *op;
    int result = sim_shared_wait(shared, &op);
    return result || !op ? result : sim_stream_submit(s, op);
}

int sim_stream_wait_event(struct sim_stream *s, struct sim_event *e) {
    struct sim_capture *c = sim_capture_at(e->capture);
    int result = check_wait(s, e, c);
    if (result) {
        sim_capture_invalidate(c);
        sim_capture_invalidate(s->capture);
        return result;
    }
    if (c) return sim_capture_join(c, s, &e->nodes);
    if (e->shared) return wait_shared(s, e->shared);
    /* an H100 enqueues a wait on the legacy default stream even if the event is done */
    if (!e->op || (e->op->done && !sim_stream_joins_blocking(s))) return CUDA_SUCCESS;
    struct sim_op *op = sim_op_new(SIM_OP_MARKER);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_after(op, e->op);
    return sim_stream_submit(s, op);
}

/* ---- host functions ---- */

struct call {
    void (*function)(void *);
    void (*callback)(void *, int, void *);
    void *stream, *data;
};

static void make_call(void *data, int error) {
    struct call *call = data;
    if (call->callback) call->callback(call->stream, error, call->data);
    else call->function(call->data);
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
    return new_call((struct call){ function, NULL, NULL, data });
}

int sim_stream_call(struct sim_stream *s, void (*function)(void *), void *data) {
    return enqueue_call(s, (struct call){ function, NULL, NULL, data });
}

int sim_stream_call_back(
        struct sim_stream *s, void (*callback)(void *, int, void *), void *stream, void *data) {
    return enqueue_call(s, (struct call){ NULL, callback, stream, data });
}
