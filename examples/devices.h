/* Shared by the examples that use all devices in one launch: include it after gpuexec.h. */
#ifndef EXAMPLE_DEVICES_H
#define EXAMPLE_DEVICES_H

enum { MOST = 32 }; /* devices of one launch */

/* How many devices, from device 0 on, are identical: a multi-device launch requires that. At most
   `most`. */
static inline int identical_devices(int most) {
    const int devices = gpuexec_device_count();
    gpuexec_device_info first, other;
    int i;
    for (i = 0; i < devices && i < most &&
            gpuexec_device_get_info(i, i ? &other : &first) == GPUEXEC_OK;
            i++)
        if (i &&
                (strcmp(first.name, other.name) != 0 ||
                        first.multiprocessors != other.multiprocessors))
            break;
    return i;
}

/* Memory that all devices can access: with `direct` on the context's device, otherwise on the host.
   The second is zeroed. */
static inline gpuexec_ptr shared_memory(gpuexec_context ctx, int direct, size_t bytes) {
    return direct ? gpuexec_alloc(ctx, bytes)
                  : gpuexec_pinned_address(gpuexec_alloc_pinned(ctx, bytes));
}
static inline gpuexec_ptr shared_zeros(gpuexec_context ctx, int direct, size_t bytes) {
    const gpuexec_ptr p = direct ? gpuexec_alloc(ctx, bytes) : 0;
    void *const host = direct ? NULL : gpuexec_alloc_pinned(ctx, bytes);
    if (direct) gpuexec_fill_now(ctx, p, 0, 1, bytes);
    else if (host) memset(host, 0, bytes);
    return direct ? p : gpuexec_pinned_address(host);
}

#endif
