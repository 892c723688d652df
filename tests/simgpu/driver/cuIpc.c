/* cuIpc.c - the entry points that share memory, events and pools with other processes. */
#include "driver.h"

/* ---- memory ---- */

SIM_API(cuIpcGetMemHandle, (CUipcMemHandle * out, CUdeviceptr address), (out, address), SIM_CTX) {
    return out ? sim_ipc_export(address, out) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_ALSO(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle,
        (CUdeviceptr * out, CUipcMemHandle handle, unsigned flags), (out, handle, flags), SIM_CTX) {
    if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    return sim_ipc_open(&handle, out);
}

SIM_API(cuIpcCloseMemHandle, (CUdeviceptr address), (address), SIM_CTX) {
    return sim_ipc_close(address);
}

/* ---- events ---- */

SIM_API(cuIpcGetEventHandle, (CUipcEventHandle * out, void *event), (out, event), SIM_CTX) {
    struct sim_event *e = sim_get(SIM_H_EVENT, event);
    if (!out || !event) return CUDA_ERROR_INVALID_VALUE;
    if (!e) return sim_not_there(event);
    if (!(e->flags & CU_EVENT_INTERPROCESS)) return CUDA_ERROR_INVALID_HANDLE;
    return sim_ipc_export_event(e, out);
}

SIM_API(cuIpcOpenEventHandle, (void **out, CUipcEventHandle handle), (out, handle), SIM_CTX) {
    return out ? sim_ipc_open_event(&handle, out) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- pools ---- */

SIM_API(cuMemPoolExportToShareableHandle,
        (void *out, void *pool, int type, unsigned long long flags), (out, pool, type, flags),
        SIM_HEALTHY) {
    const struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!out || !p || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    if (!(p->handle_types & type))
        return sim_because(
                CUDA_ERROR_INVALID_VALUE, "the pool was created without this type of handle");
    return sim_ipc_export_pool(p, out);
}

SIM_API(cuMemPoolImportFromShareableHandle,
        (void **out, void *handle, int type, unsigned long long flags), (out, handle, type, flags),
        SIM_HEALTHY) {
    if (!out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_ipc_import_pool((int)(intptr_t)handle, out);
}

SIM_API(cuMemPoolExportPointer, (CUmemPoolPtrExportData * out, CUdeviceptr address), (out, address),
        SIM_HEALTHY) {
    return out ? sim_ipc_export_pointer(address, out) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemPoolImportPointer, (CUdeviceptr * out, void *pool, CUmemPoolPtrExportData *data),
        (out, pool, data), SIM_HEALTHY) {
    struct sim_pool *p = sim_get(SIM_H_POOL, pool);
    if (!out || !p || !p->imported || !data) return CUDA_ERROR_INVALID_VALUE;
    return sim_ipc_import_pointer(p, data, out);
}
