/* cuDevice.c - the entry points that describe devices. */
#include "driver.h"

SIM_API(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal), SIM_INIT) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetCount, (int *count), (count), SIM_INIT) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = sim_device_count;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetName, (char *name, int length, CUdevice device), (name, length, device),
        SIM_INIT) {
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", sim_devices[device].name);
    return CUDA_SUCCESS;
}

static int uuid(CUuuid *out, CUdevice device) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    sim_device_uuid((unsigned char *)out->bytes, sim_devices[device].number);
    return CUDA_SUCCESS;
}
SIM_API(cuDeviceGetUuid, (CUuuid * out, CUdevice device), (out, device), SIM_INIT) {
    return uuid(out, device);
}
SIM_API(cuDeviceGetUuid_v2, (CUuuid * out, CUdevice device), (out, device), SIM_INIT) {
    return uuid(out, device);
}

SIM_API(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device), (bytes, device), SIM_INIT) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = sim_devices[device].memory;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device),
        (value, attribute, device), SIM_INIT) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    return sim_device_attribute(&sim_devices[device], attribute, value);
}

SIM_API(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
        (major, minor, device), SIM_INIT) {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    *major = (int)sim_settings.capability->sm / 10;
    *minor = (int)sim_settings.capability->sm % 10;
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetProperties, (CUdevprop * out, CUdevice device), (out, device), SIM_INIT) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    *out = (CUdevprop){ SIM_BLOCK_THREADS, { 1024, 1024, 64 }, { 0x7fffffff, 65535, 65535 },
        SIM_BLOCK_SHARED, 65536, 32, 0x7fffffff, SIM_SM_REGS, 1000000, 512 };
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetPCIBusId, (char *text, int length, CUdevice device), (text, length, device),
        SIM_INIT) {
    if (!text || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    return snprintf(text, (size_t)length, "0000:%02x:00.0", sim_devices[device].number + 1) < length
            ? CUDA_SUCCESS
            : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuDeviceGetByPCIBusId, (CUdevice * device, const char *text), (device, text), SIM_INIT) {
    unsigned domain = 0, bus, slot, function = 0;
    if (!device || !text) return CUDA_ERROR_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < sim_device_count && !domain && !slot && !function; i++)
        if (bus == (unsigned)sim_devices[i].number + 1) {
            *device = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}

SIM_API(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer), (can, device, peer),
        SIM_INIT) {
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device) || !sim_device_at(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = sim_peers(&sim_devices[device], &sim_devices[peer]);
    return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetP2PAttribute, (int *value, int attribute, CUdevice a, CUdevice b),
        (value, attribute, a, b), SIM_INIT) {
    enum { RANK = 1, ACCESS, ATOMICS, ARRAYS, PARTIAL_ATOMICS };
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(a) || !sim_device_at(b) || a == b) return CUDA_ERROR_INVALID_DEVICE;
    if (attribute < RANK || attribute > PARTIAL_ATOMICS) return CUDA_ERROR_INVALID_VALUE;
    const enum sim_peering link = sim_device_link(&sim_devices[a], &sim_devices[b]);
    *value = attribute == RANK ? SIM_NVLINK - link
            : attribute == ACCESS || attribute == ARRAYS
            ? link != SIM_NO_ACCESS
            : attribute == ATOMICS && link == SIM_NVLINK;
    return CUDA_SUCCESS;
}

static int pool(void **out, CUdevice device, bool current) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device_at(device)) return CUDA_ERROR_INVALID_DEVICE;
    const struct sim_device *d = &sim_devices[device];
    *out = SIM_HANDLE((current ? d->current_pool : d->pool)->handle);
    return CUDA_SUCCESS;
}
SIM_API(cuDeviceGetDefaultMemPool, (void **out, CUdevice device), (out, device), SIM_INIT) {
    return pool(out, device, false);
}
SIM_API(cuDeviceGetMemPool, (void **out, CUdevice device), (out, device), SIM_INIT) {
    return pool(out, device, true);
}
