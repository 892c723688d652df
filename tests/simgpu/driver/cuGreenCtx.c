/* cuGreenCtx.c - the entry points of green contexts, and of the multiprocessors that they are made
   of. */
#include "driver.h"

/* ---- resources ---- */

static int write_sms(CUdevResource *out, int type, const struct sim_device *device, uint64_t sms) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    sim_sms_write((struct sim_sms){ sms, device->ordinal, 0 }, out);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetDevResource, (CUdevice device, CUdevResource *out, int type),
        (device, out, type), SIM_INIT) {
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    return write_sms(out, type, &sim_devices[device], SIM_ALL_SMS);
}

SIM_API(cuCtxGetDevResource, (void *handle, CUdevResource *out, int type), (handle, out, type),
        SIM_INIT) {
    const struct sim_context *c = handle ? sim_context_at(handle) : NULL;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    return write_sms(out, type, c->device, sim_green_sms(sim_green_at(handle)));
}

/* The green context; or 709: it was destroyed, or 201. */
static int find(const void *handle, struct sim_green **out) {
    *out = sim_get(SIM_H_GREEN, handle);
    if (*out) return CUDA_SUCCESS;
    return sim_not_there(handle) == CUDA_ERROR_CONTEXT_IS_DESTROYED
            ? CUDA_ERROR_CONTEXT_IS_DESTROYED
            : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_API(cuGreenCtxGetDevResource, (void *handle, CUdevResource *out, int type), (handle, out, type),
        SIM_INIT) {
    struct sim_green *g;
    const int result = find(handle, &g);
    return result ? result : write_sms(out, type, g->context->device, g->sms);
}

SIM_API(cuDevSmResourceSplitByCount,
        (CUdevResource * groups, unsigned *n, const CUdevResource *input, CUdevResource *rest,
                unsigned flags, unsigned least),
        (groups, n, input, rest, flags, least), SIM_INIT) {
    const bool fine = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING,
               large = flags & CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    struct sim_sms from;
    unsigned each;
    if (!n || !input || (fine && large) || (groups && !*n)) return CUDA_ERROR_INVALID_VALUE;
    if (input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (!sim_sms_read(input, &from) || from.split) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const unsigned count = sim_sms_groups(&from, least, fine, &each);
    if (!count) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (!groups || *n > count) *n = count;
    if (groups) sim_sms_split(&from, each, *n, groups, rest);
    return CUDA_SUCCESS;
}

SIM_API(cuDevResourceGenerateDesc, (void **out, CUdevResource *list, unsigned n), (out, list, n),
        SIM_INIT) {
    struct sim_sms all = { 0, 0, 0 }, sms;
    if (!out || !list || !n) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) {
        if (list[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
        if (!sim_sms_read(&list[i], &sms) || (i && sms.device != all.device))
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        all.device = sms.device;
        all.sms |= sms.sms;
    }
    const struct sim_sms *descriptor = sim_sms_describe(all.device, all.sms);
    if (!descriptor) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (void *)descriptor;
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

SIM_API(cuGreenCtxCreate, (void **out, void *descriptor, CUdevice ordinal, unsigned flags),
        (out, descriptor, ordinal, flags), SIM_HEALTHY) {
    struct sim_device *device = sim_device_at(ordinal);
    const struct sim_sms whole = { SIM_ALL_SMS, ordinal, 0 };
    const struct sim_sms *sms = descriptor ? sim_sms_described(descriptor) : &whole;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    if (!sms || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
    if (sms->device != ordinal) return CUDA_ERROR_INVALID_DEVICE;
    struct sim_green *g = sim_green_new(device, sms->sms);
    if (!g) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(g->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxDestroy, (void *handle), (handle), SIM_INIT) {
    struct sim_green *g;
    const int result = find(handle, &g);
    if (result) return result;
    sim_green_destroy(g);
    return __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED);
}

SIM_API(cuCtxFromGreenCtx, (void **out, void *handle), (out, handle), SIM_INIT) {
    struct sim_green *g;
    const int result = find(handle, &g);
    if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE;
    g->converted = true;
    *out = handle;
    return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxGetId, (void *handle, unsigned long long *id), (handle, id), SIM_INIT) {
    struct sim_green *g = handle ? NULL : sim_green_current();
    const int result = g ? CUDA_SUCCESS : find(handle, &g);
    if (result || !id) return result ? result : CUDA_ERROR_INVALID_VALUE;
    *id = g->id;
    return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxStreamCreate, (void **out, void *handle, unsigned flags, int priority),
        (out, handle, flags, priority), SIM_HEALTHY) {
    struct sim_green *g;
    const int result = find(handle, &g);
    if (!out || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    if (result) return result;
    struct sim_stream *s = sim_stream_new(g->context, g, flags, priority);
    if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = SIM_HANDLE(s->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuStreamGetGreenCtx, (void *handle, void **out), (handle, out), SIM_HEALTHY) {
    struct sim_stream *s;
    const int result = sim_stream_find(handle, &s);
    if (result || !out) return result ? result : CUDA_ERROR_INVALID_VALUE;
    *out = s->green ? SIM_HANDLE(s->green->handle) : NULL;
    return CUDA_SUCCESS;
}

/* ---- events ---- */

/* The green context and the event; 900 if one of its streams captures. */
static int find_both(
        const void *handle, const void *event, struct sim_green **g, struct sim_event **e) {
    const int result = find(handle, g);
    if (result) return result;
    if (!(*e = sim_get(SIM_H_EVENT, event))) return sim_not_there(event);
    return sim_capture_in((*g)->context, *g);
}

SIM_API(cuGreenCtxRecordEvent, (void *handle, void *event), (handle, event), SIM_HEALTHY) {
    struct sim_green *g;
    struct sim_event *e;
    const int result = find_both(handle, event, &g, &e);
    if (result) return result;
    if (e->context != g->context) return CUDA_ERROR_INVALID_HANDLE;
    struct sim_op *op = sim_context_marker(NULL, g);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_op_submit(op);
    sim_event_set(e, op);
    return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxWaitEvent, (void *handle, void *event), (handle, event), SIM_HEALTHY) {
    struct sim_green *g;
    struct sim_event *e;
    const int result = find_both(handle, event, &g, &e);
    if (result) return result;
    if (sim_capture_at(e->capture)) {
        sim_capture_invalidate(sim_capture_at(e->capture));
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return sim_green_wait_event(g, e);
}
