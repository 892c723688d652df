/* cuCtx.c - the entry points of contexts: created, primary, current to the thread; their limits and
   peer access. */
#include "driver.h"

static bool flags_bad(unsigned flags) {
    unsigned how = flags & CU_CTX_SCHED_MASK;
    return flags & ~(unsigned)CU_CTX_FLAGS_MASK || (how & (how - 1));
}

static int create(void **out, unsigned flags, CUdevice ordinal) {
    struct sim_device *device = sim_device_at(ordinal);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    if (!out || flags_bad(flags)) return CUDA_ERROR_INVALID_VALUE;
    struct sim_context *c = sim_context_new(device, false, flags);
    if (!c || sim_context_push(c->handle)) {
        if (c) sim_context_kill(c);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = SIM_HANDLE(c->handle);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuCtxCreate_v2, cuCtxCreate, (void **out, unsigned flags, CUdevice device),
        (out, flags, device), SIM_HEALTHY) {
    return create(out, flags, device);
}

SIM_API(cuCtxCreate_v3, (void **out, void *affinity, int count, unsigned flags, CUdevice device),
        (out, affinity, count, flags, device), SIM_HEALTHY) {
    if (affinity || count) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create(out, flags, device);
}

SIM_API(cuCtxCreate_v4, (void **out, CUctxCreateParams *params, unsigned flags, CUdevice device),
        (out, params, flags, device), SIM_HEALTHY) {
    if (params && (params->execAffinityParams || params->numExecAffinityParams))
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (params && params->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
    return create(out, flags, device);
}

static void destroy(struct sim_context *c) {
    if (sim_self.depth && sim_self.stack[sim_self.depth - 1] == c->handle) sim_self.depth--;
    sim_context_kill(c);
}

SIM_API_ALSO(cuCtxDestroy_v2, cuCtxDestroy, (void *handle), (handle), SIM_INIT) {
    struct sim_context *c = sim_context_at(handle);
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    if (!c || c->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
    destroy(c);
    return __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED);
}

SIM_API(cuCtxAttach, (void **out, unsigned flags), (out, flags), SIM_CTX) {
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    sim_self.context->count++;
    *out = SIM_HANDLE(sim_self.context->handle);
    return CUDA_SUCCESS;
}

SIM_API(cuCtxDetach, (void *handle), (handle), SIM_INIT) {
    struct sim_context *c = sim_context_at(handle);
    if (!c || c != sim_context_current()) return CUDA_ERROR_INVALID_CONTEXT;
    /* a primary context is accepted, as measured */
    if (!c->is_primary && --c->count == 0) destroy(c);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuCtxPushCurrent_v2, cuCtxPushCurrent, (void *handle), (handle), SIM_INIT) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    return sim_context_at(handle) ? sim_context_push((uint64_t)(uintptr_t)handle)
                                  : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_API_ALSO(cuCtxPopCurrent_v2, cuCtxPopCurrent, (void **out), (out), SIM_INIT) {
    if (!sim_self.depth) return CUDA_ERROR_INVALID_CONTEXT;
    uint64_t handle = sim_self.stack[--sim_self.depth];
    if (out) *out = SIM_HANDLE(handle);
    return CUDA_SUCCESS;
}

SIM_API(cuCtxSetCurrent, (void *handle), (handle), SIM_INIT) {
    if (!handle) {
        sim_self.depth -= sim_self.depth > 0;
        return CUDA_SUCCESS;
    }
    if (!sim_context_at(handle)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!sim_self.depth) return sim_context_push((uint64_t)(uintptr_t)handle);
    sim_self.stack[sim_self.depth - 1] = (uint64_t)(uintptr_t)handle;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCurrent, (void **out), (out), SIM_INIT) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = sim_self.depth ? SIM_HANDLE(sim_self.stack[sim_self.depth - 1]) : NULL;
    return CUDA_SUCCESS;
}

/* ---- context queries; NULL is the current context ---- */

static int given_or_current(const void *handle, struct sim_context **out) {
    *out = handle ? sim_context_at(handle) : sim_context_current();
    return *out                         ? CUDA_SUCCESS
            : handle || !sim_self.depth ? CUDA_ERROR_INVALID_CONTEXT
                                        : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* These two also accept a destroyed context. */
static int get_device(CUdevice *out, const struct sim_context *c) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    *out = c->device->ordinal;
    return CUDA_SUCCESS;
}
SIM_API(cuCtxGetDevice, (CUdevice * out), (out), SIM_INIT) {
    return get_device(out, sim_context_or_dead());
}
SIM_API(cuCtxGetDevice_v2, (CUdevice * out, void *handle), (out, handle), SIM_INIT) {
    return get_device(out, handle ? sim_context_at(handle) : sim_context_or_dead());
}

SIM_API(cuCtxGetFlags, (unsigned *flags), (flags), SIM_HEALTHY) {
    const struct sim_context *c = sim_context_or_dead();
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    *flags = c->flags;
    return CUDA_SUCCESS;
}

static int synchronize(struct sim_context *c, const struct sim_green *g) {
    int result = sim_capture_in(c, g);
    if (result || (result = sim_capture_forbids())) return result;
    result = g ? sim_drain_green(g) : sim_drain(c, NULL);
    sim_pools_settle();
    return result;
}
SIM_API(cuCtxSynchronize, (void), (), SIM_CTX) {
    return synchronize(sim_self.context, sim_green_current());
}

SIM_API(cuCtxSynchronize_v2, (void *handle), (handle), SIM_INIT) {
    struct sim_context *c;
    int result = given_or_current(handle, &c);
    return result ? result : synchronize(c, handle ? sim_green_at(handle) : sim_green_current());
}

SIM_API(cuCtxSetFlags, (unsigned flags), (flags), SIM_CTX) {
    if (flags_bad(flags)) return CUDA_ERROR_INVALID_VALUE;
    sim_self.context->flags = sim_self.context->is_primary ? flags | CU_CTX_MAP_HOST : flags;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetId, (void *handle, unsigned long long *id), (handle, id), SIM_INIT) {
    struct sim_context *c;
    int result = given_or_current(handle, &c);
    if (result) return handle ? sim_context_not_there(handle) : result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    const struct sim_green *g = handle ? sim_green_at(handle) : sim_green_current();
    *id = g ? g->id : c->id;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetApiVersion, (void *handle, unsigned *version), (handle, version), SIM_INIT) {
    struct sim_context *c;
    int result = given_or_current(handle, &c);
    if (result) return result;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = c->api_version;
    return CUDA_SUCCESS;
}

/* As measured on an H200: the limit of the device's synchronisation depth was removed with compute
   capability 9.0; two limits are read-only. Limit 8 says whether graphics and compute share the
   context. */
enum { LIMIT_SHMEM = CU_LIMIT_PERSISTING_L2_CACHE_SIZE + 1, LIMIT_CIG, LIMIT_CIG_FALLBACK };

static int check_limit(int limit) {
    if (limit < 0 || limit > LIMIT_CIG_FALLBACK) return CUDA_ERROR_INVALID_VALUE;
    return limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit == LIMIT_CIG_FALLBACK
            ? CUDA_ERROR_UNSUPPORTED_LIMIT
            : CUDA_SUCCESS;
}

SIM_API(cuCtxGetLimit, (size_t * value, int limit), (value, limit), SIM_CTX) {
    int result = value ? check_limit(limit) : CUDA_ERROR_INVALID_VALUE;
    if (!result) *value = limit == LIMIT_CIG ? 0 : sim_self.context->limits[limit];
    return result;
}

/* The values are rounded up as on a GPU. As documented, the size of the printf buffer can no longer
   be set once a kernel that prints was launched; the same holds for the heap. */
SIM_API(cuCtxSetLimit, (int limit, size_t value), (limit, value), SIM_CTX | SIM_UNSAFE) {
    static const uint64_t least[] = { 0, 512 << 10, 4 << 20, 0, 32, 0, 0 };
    int result = check_limit(limit);
    if (result) return result;
    if (limit >= LIMIT_SHMEM) return CUDA_ERROR_NOT_PERMITTED;
    if (limit == CU_LIMIT_STACK_SIZE && value >= 512 << 10) return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128) return CUDA_ERROR_INVALID_VALUE;
    if ((limit == CU_LIMIT_PRINTF_FIFO_SIZE || limit == CU_LIMIT_MALLOC_HEAP_SIZE) &&
            sim_self.context->has_printed)
        return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_STACK_SIZE) value = (value + 15) / 16 * 16;
    if (limit == CU_LIMIT_PRINTF_FIFO_SIZE)
        value = value > 2u << 30 ? 2u << 30 : (value + 1023) / 1024 * 1024;
    sim_self.context->limits[limit] = value < least[limit] ? least[limit] : value;
    return CUDA_SUCCESS;
}

SIM_API(cuCtxGetStreamPriorityRange, (int *least, int *greatest), (least, greatest), SIM_CTX) {
    if (least) *least = 0;
    if (greatest) *greatest = SIM_PRIORITY_GREATEST;
    return CUDA_SUCCESS;
}

static int get_config(unsigned *out, unsigned value) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = value;
    return CUDA_SUCCESS;
}
static int set_config(unsigned *to, unsigned value, unsigned most) {
    if (value > most) return CUDA_ERROR_INVALID_VALUE;
    *to = value;
    return CUDA_SUCCESS;
}
SIM_API(cuCtxGetCacheConfig, (unsigned *config), (config), SIM_CTX) {
    return get_config(config, sim_self.context->cache_config);
}
SIM_API(cuCtxSetCacheConfig, (unsigned config), (config), SIM_CTX) {
    return set_config(&sim_self.context->cache_config, config, 3);
}
SIM_API(cuCtxGetSharedMemConfig, (unsigned *config), (config), SIM_CTX) {
    return get_config(config, sim_self.context->shared_config);
}
SIM_API(cuCtxSetSharedMemConfig, (unsigned config), (config), SIM_CTX) {
    return set_config(&sim_self.context->shared_config, config, 2);
}
/* there are no persisting lines */
SIM_API(cuCtxResetPersistingL2Cache, (void), (), SIM_CTX) { return CUDA_SUCCESS; }

/* ---- peer access ---- */

static int peer(const void *handle, bool enable, unsigned flags) {
    struct sim_context *me = sim_self.context, *other = sim_context_at(handle);
    if (!other) return sim_context_not_there(handle);
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (enable && !sim_peers(me->device, other->device)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return sim_context_peer(me, other, enable);
}

SIM_API(cuCtxEnablePeerAccess, (void *other, unsigned flags), (other, flags), SIM_CTX) {
    return peer(other, true, flags);
}
SIM_API(cuCtxDisablePeerAccess, (void *other), (other), SIM_CTX) { return peer(other, false, 0); }

/* ---- primary contexts ---- */

SIM_API(cuDevicePrimaryCtxRetain, (void **out, CUdevice ordinal), (out, ordinal), SIM_HEALTHY) {
    struct sim_device *device = sim_device_at(ordinal);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    sim_context_retain(device);
    *out = SIM_HANDLE(device->primary->handle);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, (CUdevice ordinal), (ordinal),
        SIM_INIT) {
    struct sim_device *device = sim_device_at(ordinal);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    if (!device->primary_count) return CUDA_ERROR_INVALID_CONTEXT;
    sim_context_release(device);
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, (CUdevice ordinal), (ordinal),
        SIM_INIT) {
    struct sim_device *device = sim_device_at(ordinal);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    if (sim_context_has_greens(device)) return CUDA_ERROR_NOT_PERMITTED;
    if (device->primary->active) sim_context_kill(device->primary);
    device->primary_flags = 0;
    return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxGetState, (CUdevice ordinal, unsigned *flags, int *active),
        (ordinal, flags, active), SIM_INIT) {
    struct sim_device *device = sim_device_at(ordinal);
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    *active = device->primary->active;
    *flags = device->primary->active ? device->primary->flags & ~(unsigned)CU_CTX_MAP_HOST
                                     : device->primary_flags;
    return CUDA_SUCCESS;
}

SIM_API_ALSO(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags,
        (CUdevice ordinal, unsigned flags), (ordinal, flags), SIM_INIT) {
    struct sim_device *device = sim_device_at(ordinal);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    if (flags_bad(flags) || flags & CU_CTX_MAP_HOST) return CUDA_ERROR_INVALID_VALUE;
    device->primary_flags = flags;
    if (device->primary->active) device->primary->flags = flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
}
