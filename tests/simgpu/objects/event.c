/* event.c - events: a handle to the operation of the last record, or to nodes of the capture in
   which it was recorded. An event that was never recorded counts as complete, except for its
   time. */
#include "objects.h"

void sim_event_free(struct sim_event *e) {
    sim_link_remove(&e->link);
    if (e->context->dying) sim_handle_orphan(e->handle);
    else sim_handle_drop(e->handle);
    sim_event_unref(e);
}

void sim_event_set(struct sim_event *e, struct sim_op *op) {
    sim_op_unref(e->op);
    e->op = op;
    e->capture = 0;
    if (e->shared && op) sim_shared_record(e->shared, op);
}

static void end_event(struct sim_link *link) { sim_event_free(SIM_OWNER(sim_event, link)); }

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

/* In a capture, a record only notes the stream's last nodes. */
static int record_captured(struct sim_event *e, const struct sim_stream *s) {
    e->nodes.n = 0;
    if (!sim_set_add(&e->nodes, s->nodes.at, s->nodes.n)) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_unref(e->op);
    e->op = NULL;
    e->capture = s->capture->id;
    return CUDA_SUCCESS;
}

int sim_event_record(struct sim_event *e, struct sim_stream *s) {
    if (s->capture) return record_captured(e, s);
    struct sim_op *op = sim_op_new(SIM_OP_EVENT);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_ref(op);
    sim_stream_submit(s, op);
    sim_event_set(e, op);
    return CUDA_SUCCESS;
}

/* 0, or why the event has no state that the host can use: 907 during its capture, 1 when this has
   ended or is invalid. */
int sim_event_captured(const struct sim_event *e, bool invalidate) {
    if (!e->capture) return CUDA_SUCCESS;
    struct sim_capture *c = sim_capture_at(e->capture);
    if (c && invalidate) sim_capture_invalidate(c);
    return c ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE;
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

bool sim_event_pending(const struct sim_event *e) {
    const bool pending = sim_op_pending(e->op);
    return pending || (e->shared && sim_shared_pending(e->shared));
}

int sim_event_wait(const struct sim_event *e) {
    sim_has_waited = true;
    if (e->shared) return wait_shared(e->shared);
    const int result = e->op ? sim_op_wait(e->op) : CUDA_SUCCESS;
    sim_pools_settle();
    return result;
}
