/* reference.c - texture and surface references. A reference that is bound has its separate texture
   or surface object, with a new number after each change. That of a module's reference is in the 8
   bytes of the variable, where kernels find it as the number of any other object.

   A change is for launches that follow it: it waits for the device's work if kernels may use what
   the reference had. What no object can have (linear filtering of integers, for example) is an
   error only of a kernel that uses it: the program may be about to change more. */
#include "objects.h"

enum { ALIGNMENT = 14 }; /* CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */

static void write_variable(const struct sim_reference *r) {
    struct sim_range range;
    sim_mem_use();
    if (r->variable && sim_mem_find(NULL, r->variable, sizeof r->object, &range))
        memcpy((char *)(uintptr_t)r->variable + range.delta, &r->object, sizeof r->object);
    sim_mem_unuse();
}

static void drop_object(struct sim_reference *r) {
    struct sim_view *v = r->is_surface ? sim_surface_view(r->object) : sim_texture_view(r->object);
    if (v && v->reference == r) sim_view_free(v); /* unless it ended with its context */
    r->object = 0;
}

static void make_object(struct sim_reference *r) {
    struct sim_context *current = sim_self.context;
    int result = CUDA_SUCCESS;
    sim_self.context = r->context;
    if (r->is_surface) result = sim_surface_new(&r->object, &r->resource);
    else result = sim_texture_new(&r->object, &r->resource, &r->how, NULL);
    if (result) r->object = 0;
    else (r->is_surface ? sim_surface_view(r->object) : sim_texture_view(r->object))->reference = r;
    sim_self.context = current;
}

/* The format of memory is that of the reference. */
static void set_format(struct sim_reference *r) {
    if (r->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        r->resource.res.linear.format = r->format;
        r->resource.res.linear.numChannels = r->channels;
    } else if (r->resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
        r->resource.res.pitch2D.format = r->format;
        r->resource.res.pitch2D.numChannels = r->channels;
    }
}

struct sim_reference *sim_reference_at(bool is_surface, const void *handle) {
    return sim_get(is_surface ? SIM_H_SURFREF : SIM_H_TEXREF, handle);
}

int sim_reference_settle(struct sim_reference **r) {
    const enum sim_handle_kind kind = (*r)->is_surface ? SIM_H_SURFREF : SIM_H_TEXREF;
    const void *handle = SIM_HANDLE((*r)->handle);
    if (!(*r)->object || !(*r)->variable) return CUDA_SUCCESS;
    const int result = sim_drain(NULL, (*r)->context->device);
    if (result) return result;
    return (*r = sim_find(kind, handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void sim_reference_renew(struct sim_reference *r) {
    drop_object(r);
    set_format(r);
    if (r->is_bound) make_object(r);
    write_variable(r);
}

/* Whether an object that samples in the plainest way can have the resource. */
static bool fits(const struct sim_reference *r) {
    struct sim_reference plain = { .context = r->context,
        .is_surface = r->is_surface,
        .resource = r->resource,
        .how.flags = CU_TRSF_NORMALIZED_COORDINATES };
    make_object(&plain);
    const bool ok = plain.object != 0;
    drop_object(&plain);
    return ok;
}

int sim_reference_bind(struct sim_reference *r, const CUDA_RESOURCE_DESC *resource) {
    const struct sim_reference before = *r;
    const int result = sim_reference_settle(&r);
    if (result) return result;
    r->resource = *resource;
    r->is_bound = true;
    sim_reference_renew(r);
    if (r->object || fits(r)) return CUDA_SUCCESS;
    r->resource = before.resource;
    r->is_bound = before.is_bound;
    r->format = before.format;
    r->channels = before.channels;
    sim_reference_renew(r);
    return CUDA_ERROR_INVALID_VALUE;
}

void sim_reference_unbind(struct sim_reference *r) {
    r->is_bound = false;
    sim_reference_renew(r);
}

static void end_reference(struct sim_link *link) {
    sim_reference_free(SIM_OWNER(sim_reference, link));
}

struct sim_reference *sim_reference_new(struct sim_context *c, bool is_surface, uint64_t variable) {
    struct sim_reference *r = calloc(1, sizeof *r);
    if (!r || !(r->handle = sim_handle_new(is_surface ? SIM_H_SURFREF : SIM_H_TEXREF, r))) {
        free(r);
        return NULL;
    }
    r->context = c;
    r->is_surface = is_surface;
    r->variable = variable;
    r->format = CU_AD_FORMAT_FLOAT;
    r->channels = 1;
    for (int i = 0; i < 3; i++) r->how.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    sim_link_add(&c->children, &r->link, end_reference);
    return r;
}

void sim_reference_free(struct sim_reference *r) {
    drop_object(r);
    sim_handle_drop(r->handle);
    sim_link_remove(&r->link);
    free(r);
}

/* A texture begins at an aligned address: *offset is how far before `address`. NULL: it must be
   aligned. */
int sim_reference_align(const struct sim_reference *r, CUdeviceptr address, size_t *offset) {
    const size_t before = address % (size_t)sim_device_limit(r->context->device, ALIGNMENT);
    if (before && !offset) return CUDA_ERROR_INVALID_VALUE;
    if (offset) *offset = before;
    return CUDA_SUCCESS;
}
