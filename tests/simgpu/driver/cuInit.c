/* cuInit.c - what a program calls first: cuInit, the driver's version, cuGetProcAddress. */
#include "driver.h"
#include <dlfcn.h>

/* Resolved in this library and no other. The reference also keeps it from being unloaded while its
   threads run. */
static void *own_symbol(const char *name) {
    static void *self;
    Dl_info info;
    if (!self && dladdr((void *)&sim_settings, &info))
        self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    return self ? dlsym(self, name) : NULL;
}

static int start(void) {
    sim_nested_start();
    int result = own_symbol("cuInit") ? sim_devices_start() : CUDA_ERROR_OPERATING_SYSTEM;
    for (int i = 0; !result && i < sim_device_count; i++)
        if (!sim_devices[i].primary &&
                !(sim_devices[i].primary = sim_context_new(&sim_devices[i], true, 0)))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

SIM_API(cuInit, (unsigned flags), (flags), SIM_PURE) {
    if (sim_forked) return CUDA_ERROR_NOT_INITIALIZED;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (sim_ready) return CUDA_SUCCESS;
    const int result = start();
    sim_ready = result == CUDA_SUCCESS;
    return result;
}

SIM_API(cuDriverGetVersion, (int *version), (version), SIM_PURE) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = sim_settings.driver_version;
    return CUDA_SUCCESS;
}

/* The tables behind the runtime API are private to NVIDIA's driver: not implemented, and not
   imitated. */
SIM_API(cuGetExportTable, (const void **table, const CUuuid *id), (table, id), SIM_PURE) {
    static bool said;
    (void)id;
    if (!said)
        fprintf(stderr,
                "simgpu: cuGetExportTable is not implemented. If the program stops now, it uses "
                "the CUDA runtime API, which checks for NVIDIA's own driver; this CPU device is "
                "not that driver. Kernels compiled to PTX (nvcc -ptx, NVRTC) and launched through "
                "the driver API run\n");
    said = true;
    if (table) *table = NULL;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* There is no profiler to start: the same as a GPU's driver without an attached profiler. */
SIM_API(cuProfilerStart, (void), (), SIM_CTX) { return CUDA_SUCCESS; }
SIM_API(cuProfilerStop, (void), (), SIM_CTX) { return CUDA_SUCCESS; }

/* ---- cuGetProcAddress ---- */

static int find_address(const char *base, void **out, int version, uint64_t flags, int *status) {
    int answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct sim_name *best = NULL;
    if (!base || !out || version > sim_settings.driver_version) return CUDA_ERROR_INVALID_VALUE;
    if (flags &
            ~(uint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (unsigned i = 0; i < sim_names_count; i++) {
        const struct sim_name *n = &sim_names[i];
        if (strcmp(n->base, base) || n->version > sim_settings.driver_version) continue;
        answer = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (n->version <= version && (!best || n->version > best->version)) best = n;
    }
    if (best) {
        char name[96];
        const bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        snprintf(name, sizeof name, "%s%s", best->symbol, per_thread ? best->per_thread : "");
        *out = own_symbol(name);
        answer = *out ? 0 : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    if (status) *status = answer;
    return CUDA_SUCCESS;
}

SIM_API(cuGetProcAddress, (const char *base, void **out, int version, uint64_t flags),
        (base, out, version, flags), SIM_PURE) {
    void *found = NULL;
    int result = find_address(base, out ? &found : NULL, version, flags, NULL);
    if (result || !found) return result ? result : CUDA_ERROR_NOT_FOUND; /* and *out is unchanged */
    *out = found;
    return CUDA_SUCCESS;
}

SIM_API(cuGetProcAddress_v2,
        (const char *base, void **out, int version, uint64_t flags, int *status),
        (base, out, version, flags, status), SIM_PURE) {
    return find_address(base, out, version, flags, status);
}
