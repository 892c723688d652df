/* green.c - green contexts: multiprocessors as resources, their splits, and contexts on some of
   them. As an H100 with driver 580 does it, where groups have a multiple of 8 multiprocessors, or
   of 2 if their order in the device does not matter.

   The driver keeps a resource's multiprocessors in the bytes that its type reserves, so a program
   may copy it. */
#include "objects.h"

/* In CUdevResource._internal_padding. */
struct stored {
    uint64_t magic;
    struct sim_sms sms;
};
static const uint64_t magic = 0x73656d6d61727367; /* any: memory that is not a resource lacks it */
static uint64_t next_id = (1ull << 32) + 1;       /* none has the number of another context */

void sim_sms_write(struct sim_sms sms, CUdevResource *out) {
    const struct stored stored = { magic, sms };
    memset(out, 0, sizeof *out);
    if (!sms.sms) return; /* of the type CU_DEV_RESOURCE_TYPE_INVALID */
    out->type = CU_DEV_RESOURCE_TYPE_SM;
    memcpy(out->_internal_padding, &stored, sizeof stored);
    out->sm.smCount = (unsigned)__builtin_popcountll(sms.sms);
    if (sim_settings.driver_version < 13000 || sms.split) return;
    const unsigned least = out->sm.smCount < SIM_SM_GROUP ? out->sm.smCount : SIM_SM_GROUP;
    out->sm.minSmPartitionSize = out->sm.smCoscheduledAlignment = least;
}

bool sim_sms_read(const CUdevResource *resource, struct sim_sms *out) {
    struct stored s;
    memcpy(&s, resource->_internal_padding, sizeof s);
    *out = s.sms;
    return s.magic == magic && sim_device_at(out->device) && out->sms &&
            !(out->sms & ~(uint64_t)SIM_ALL_SMS) &&
            resource->sm.smCount == (unsigned)__builtin_popcountll(out->sms);
}

unsigned sim_sms_groups(const struct sim_sms *from, unsigned least, bool fine, unsigned *each) {
    const unsigned step = fine ? SIM_SM_PAIR : SIM_SM_GROUP;
    const unsigned sms = (unsigned)__builtin_popcountll(from->sms);
    if (least > sms) return 0;
    *each = least ? (least + step - 1) / step * step : step;
    if (*each > sms) *each = sms;
    return sms / *each;
}

/* Takes n of the multiprocessors, the lowest. */
static uint64_t take(uint64_t *sms, unsigned n) {
    const uint64_t before = *sms;
    while (n--) *sms &= *sms - 1;
    return before ^ *sms;
}

void sim_sms_split(const struct sim_sms *from, unsigned each, unsigned n, CUdevResource *groups,
        CUdevResource *rest) {
    struct sim_sms part = *from;
    uint64_t left = from->sms;
    part.split = 1;
    for (unsigned i = 0; i < n; i++) {
        part.sms = take(&left, each);
        sim_sms_write(part, &groups[i]);
    }
    part.sms = left;
    if (rest) sim_sms_write(part, rest);
}

static struct described {
    struct described *next;
    struct sim_sms sms;
} * descriptors;

const struct sim_sms *sim_sms_describe(int device, uint64_t sms) {
    struct described *d = descriptors;
    while (d && (d->sms.device != device || d->sms.sms != sms)) d = d->next;
    if (d) return &d->sms;
    if (!(d = calloc(1, sizeof *d))) return NULL;
    d->sms.device = device;
    d->sms.sms = sms;
    d->next = descriptors;
    descriptors = d;
    return &d->sms;
}

const struct sim_sms *sim_sms_described(const void *descriptor) {
    const struct described *d = descriptors;
    while (d && &d->sms != descriptor) d = d->next;
    return d ? &d->sms : NULL;
}

/* ---- contexts ---- */

/* Its streams have ended for the program; their work goes on. */
void sim_green_destroy(struct sim_green *g) {
    struct sim_context *c = g->context;
    for (struct sim_link *link = c->streams.next, *next; link != &c->streams; link = next) {
        struct sim_stream *s = SIM_OWNER(sim_stream, link);
        next = link->next;
        if (s->green != g) continue;
        sim_handle_orphan(s->handle);
        s->green = NULL;
        sim_stream_free(s);
    }
    sim_stream_outlast(c, false, g->legacy.last);
    sim_op_unref(g->legacy.last);
    sim_op_unref(g->gate);
    sim_link_remove(&g->link);
    sim_handle_orphan(g->handle);
    free(g);
}

struct sim_green *sim_green_new(struct sim_device *device, uint64_t sms) {
    struct sim_green *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    if (!(g->handle = sim_handle_new(SIM_H_GREEN, g))) {
        free(g);
        return NULL;
    }
    sim_context_activate(device); /* releases sim_lock if it is just being destroyed */
    g->context = device->primary;
    g->sms = sms;
    g->id = next_id++;
    g->legacy = (struct sim_stream){ .context = g->context, .green = g, .id = g->id };
    sim_link_add(&g->context->greens, &g->link, NULL);
    return g;
}

int sim_green_wait_event(struct sim_green *g, struct sim_event *e) {
    int result = sim_stream_wait_event(&g->legacy, e);
    SIM_EACH(sim_stream, s, &g->context->streams)
    if (!result && s->green == g) result = sim_stream_wait_event(s, e);
    if (result || !e->op || e->op->done) return result;
    struct sim_op *op = sim_op_new(SIM_OP_MARKER); /* of streams that are created meanwhile */
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_after(op, e->op);
    sim_op_after(op, g->gate);
    sim_op_submit(op);
    sim_op_unref(g->gate);
    g->gate = op;
    return CUDA_SUCCESS;
}
