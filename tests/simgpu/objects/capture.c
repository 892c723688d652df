/* capture.c - captures: which streams take part, which nodes each of them comes after, and which
   calls a capture forbids. The entry points are in driver/cuStreamCapture.c; stream.c and event.c
   give a capture its nodes and edges.

   Work on a stream that captures becomes a node that depends on the stream's set of last nodes, and
   then is that set. An event that is recorded on such a stream keeps a copy of the set; a stream
   that waits for it joins the capture, and adds the copy to its own set. A call that breaks a
   capture invalidates it: its streams refuse work until it is ended. */
#include "objects.h"

struct sim_capture *sim_captures;
static uint64_t last_id;

struct sim_capture *sim_capture_at(uint64_t id) {
    struct sim_capture *c = sim_captures;
    while (c && c->id != id) c = c->next;
    return c && !c->invalid ? c : NULL;
}

void sim_capture_invalidate(struct sim_capture *capture) {
    if (capture) capture->invalid = true;
}

static void add_member(struct sim_capture *capture, struct sim_stream *stream) {
    stream->capture = capture;
    stream->next_member = capture->members;
    capture->members = stream;
}

static void remove_member(struct sim_stream *stream) {
    struct sim_stream **at = &stream->capture->members;
    while (*at != stream) at = &(*at)->next_member;
    *at = stream->next_member;
    stream->capture = NULL;
    sim_set_clear(&stream->nodes);
}

/* Frees the graph, also one that was given, unless *out takes it, as measured, or a node has it. */
static void finish(struct sim_capture *capture, struct sim_graph **out) {
    struct sim_capture **at = &sim_captures;
    while (*at != capture) at = &(*at)->next;
    *at = capture->next;
    while (capture->members) remove_member(capture->members);
    capture->graph->captured = false;
    if (out) *out = capture->graph;
    else if (!capture->graph->owner) sim_graph_free(capture->graph);
    sim_set_clear(&capture->left);
    free(capture->edges);
    free(capture);
}

int sim_capture_begin(struct sim_stream *origin, struct sim_graph *graph, void *const *nodes,
        size_t n, int mode) {
    struct sim_capture *capture = calloc(1, sizeof *capture);
    if (!capture || !sim_set_add(&origin->nodes, nodes, n) ||
            !(capture->graph = graph ? graph : sim_graph_new())) {
        sim_set_clear(&origin->nodes);
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->graph->captured = true;
    capture->to_graph = graph != NULL;
    capture->id = ++last_id;
    capture->thread = sim_thread_id();
    capture->mode = mode;
    capture->origin = origin;
    add_member(capture, origin);
    capture->next = sim_captures;
    sim_captures = capture;
    return CUDA_SUCCESS;
}

int sim_capture_join(
        struct sim_capture *capture, struct sim_stream *stream, const struct sim_set *nodes) {
    if (!sim_set_add(&stream->nodes, nodes->at, nodes->n)) {
        sim_capture_invalidate(capture);
        if (!stream->capture) sim_set_clear(&stream->nodes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!stream->capture) add_member(capture, stream);
    return CUDA_SUCCESS;
}

int sim_capture_depend(struct sim_stream *stream, void *const *nodes, size_t n, bool more) {
    struct sim_set set = { NULL, 0, 0 };
    if (!sim_set_add(&set, stream->nodes.at, more ? stream->nodes.n : 0) ||
            !sim_set_add(&set, nodes, n)) {
        sim_set_clear(&set);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_set_end(&stream->nodes); /* as documented for those that are no longer in the set */
    sim_set_clear(&stream->nodes);
    stream->nodes = set;
    return CUDA_SUCCESS;
}

int sim_capture_take(struct sim_stream *stream, struct sim_work work) {
    struct sim_capture *capture = stream->capture;
    if (capture->invalid) {
        sim_op_unref(work.op);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    const struct sim_node *node = sim_node_add(
            capture->graph, work, stream->nodes.at, NULL, stream->nodes.n);
    stream->nodes.n = 0;
    if (node && sim_set_add(&stream->nodes, &(void *){ SIM_HANDLE(node->handle) }, 1))
        return CUDA_SUCCESS;
    sim_capture_invalidate(capture);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

int sim_capture_take_event(struct sim_stream *stream, int type, struct sim_event *event) {
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (event->shared)
        return sim_because(CUDA_ERROR_NOT_SUPPORTED,
                "this device's graphs do not wait for events of other processes");
    struct sim_work work = { .type = type, .op = sim_event_op(event) };
    if (!work.op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_work_in(&work, event->context);
    return sim_capture_take(stream, work);
}

/* A stream that joined the capture without adding a node is not a branch. */
static bool all_joined(const struct sim_capture *capture) {
    bool joined = true;
    sim_set_mark(&capture->origin->nodes);
    for (const struct sim_stream *s = capture->members; s && joined; s = s->next_member)
        joined = sim_set_marked(&s->nodes);
    return joined && sim_set_marked(&capture->left);
}

int sim_capture_end(struct sim_stream *stream, struct sim_graph **out) {
    struct sim_capture *capture = stream->capture;
    int result = CUDA_SUCCESS;
    *out = NULL;
    if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (stream != capture->origin) {
        sim_capture_invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->invalid) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(capture)) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    else if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != sim_thread_id())
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    else sim_set_end(&capture->origin->nodes);
    finish(capture, result ? NULL : out);
    return result;
}

void sim_capture_leave(struct sim_stream *stream) {
    struct sim_capture *capture = stream->capture;
    if (!capture) return;
    if (stream == capture->origin) finish(capture, NULL);
    else {
        if (!sim_set_add(&capture->left, stream->nodes.at, stream->nodes.n))
            sim_capture_invalidate(capture);
        remove_member(stream);
    }
}

/* ---- what captures forbid, as measured; each of these calls also invalidates the captures that
   forbid it ----

   Unsafe calls, by their mode and that of the thread: SIM_UNSAFE calls, stream-ordered memory on
   other streams (sim_stream_use_unsafe), unloading what is loaded, waits and queries.
   Waits for a context in which a stream captures, and calls on a stream that captures which no
   capture can contain (sim_stream_use_now): in any mode.
   Work, waits and queries on the legacy default stream while a blocking stream of its context
   captures.
   Waiting for an event that the capture cannot contain; a launch that fails after its handles and
   arguments were found. ---- */

int sim_capture_forbids(void) {
    const int global = CU_STREAM_CAPTURE_MODE_GLOBAL;
    int result = CUDA_SUCCESS;
    for (struct sim_capture *c = sim_captures; c; c = c->next) {
        const bool own = c->thread == sim_self.id;
        if (sim_self.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                c->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        if (!own && (sim_self.capture_mode != global || c->mode != global)) continue;
        sim_capture_invalidate(c);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

int sim_capture_of_blocking(const struct sim_context *context, bool invalidate) {
    int result = CUDA_SUCCESS;
    for (struct sim_capture *c = sim_captures; c; c = c->next)
        for (const struct sim_stream *s = c->members; s; s = s->next_member) {
            if (s->context != context || !s->blocking) continue;
            if (invalidate) sim_capture_invalidate(c);
            result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return result;
}

int sim_capture_in(const struct sim_context *context, const struct sim_green *green) {
    int result = CUDA_SUCCESS;
    for (struct sim_capture *c = sim_captures; c; c = c->next)
        for (const struct sim_stream *s = c->members; s; s = s->next_member) {
            if (s->context != context || (green && s->green != green)) continue;
            sim_capture_invalidate(c);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}
