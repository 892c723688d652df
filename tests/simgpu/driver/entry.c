/* entry.c - code common to all entry points: settings, the checks before a call, the log and the requested failures
   after it; the table of handles; cuInit, errors, and cuGetProcAddress with its table of names and versions. */
#include "driver.h"
#include "../execute/execute.h"
#include "../base/cudadefs.h"
#include <dlfcn.h>

__thread struct sim_thread sim_self;
bool sim_ready;
static bool forked;

/* ---- settings ---- */

struct failure { char name[64]; unsigned nth; int code; unsigned seen; };
static struct failure failures[16];
static unsigned nfailures;

static void read_failures(const char *text) {
    for (int used; text && *text && nfailures < sizeof failures / sizeof *failures;
         text += used + (text[used] == ',')) {
        struct failure *f = &failures[nfailures++];
        used = 0;
        if (sscanf(text, "%63[^:]:%u:%d%n", f->name, &f->nth, &f->code, &used) == 3 && used) continue;
        fprintf(stderr, "simgpu: SIMGPU_FAIL is name:n:code[,...], not \"%s\"\n", text);
        nfailures--;
        return;
    }
}

static void in_child(void) {
    sim_engine_fork();
    forked = sim_ready;
}

static void read_settings(void) {
    sim_settings_read();
    read_failures(getenv("SIMGPU_FAIL"));
    pthread_atfork(NULL, NULL, in_child);
}

int sim_max_ptx(void) {
    static const struct { int driver, ptx; } known[] = {
        { 11040, 74 }, { 11050, 75 }, { 11060, 76 }, { 11070, 77 }, { 11080, 78 }, { 12000, 80 }, { 12010, 81 },
        { 12020, 82 }, { 12030, 83 }, { 12040, 84 }, { 12050, 85 }, { 12060, 85 }, { 12070, 86 }, { 12080, 87 },
        { 12090, 88 }, { 13000, 90 }, { 13010, 91 }
    };
    int ptx = known[0].ptx;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sim_settings.driver_version >= known[i].driver) ptx = known[i].ptx;
    return ptx;
}

/* ---- around every call ---- */

static pthread_once_t settings_once = PTHREAD_ONCE_INIT;

/* "cuMemAlloc" and "cuMemAlloc_v2" both name the entry point cuMemAlloc_v2. */
static bool names(const char *rule, const char *symbol) {
    size_t n = strlen(rule);
    if (strncmp(rule, symbol, n)) return false;
    return !symbol[n] || (symbol[n] == '_' && strspn(symbol + n, "_v0123456789ptdsz") == strlen(symbol + n));
}

static int check(struct sim_call *call, enum sim_need need) {
    if (call->version > sim_settings.driver_version) {
        /* callers try this one first */
        if (!strcmp(call->symbol, "cuGetProcAddress_v2")) return CUDA_ERROR_NOT_SUPPORTED;
        fprintf(stderr, "simgpu: %s needs driver %d.%d, this one simulates %d.%d (SIMGPU_DRIVER_VERSION)\n",
                call->symbol, call->version / 1000, call->version % 1000 / 10, sim_settings.driver_version / 1000,
                sim_settings.driver_version % 1000 / 10);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (need != SIM_PURE) {
        if (forked || !sim_ready) return CUDA_ERROR_NOT_INITIALIZED;
        if (sim_in_host_function && need != SIM_EASY) return CUDA_ERROR_NOT_PERMITTED;
    }
    int fails = CUDA_SUCCESS;
    for (unsigned i = 0; i < nfailures; i++)      /* each rule counts all calls, including
                                                     those that another rule fails */
        if (names(failures[i].name, call->symbol) && ++failures[i].seen == failures[i].nth && !fails)
            fails = failures[i].code;
    if (fails) return fails;
    if (need == SIM_CTX && (fails = sim_context_need())) return fails;
    return need >= SIM_EASY ? __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED) : CUDA_SUCCESS;
}

int sim_enter(struct sim_call *call, enum sim_need need) {
    pthread_once(&settings_once, read_settings);
    pthread_mutex_lock(&sim_lock);
    if (!call->version) call->version = sim_version_of(call->symbol);
    return check(call, need);
}

static const char *error_name(int code);

int sim_leave(struct sim_call *call, int result) {
    bool flush = sim_has_waited && !sim_in_host_function;
    sim_has_waited = false;
    const char *name = error_name(result);
    sim_log_failure(call->symbol, result, name);
    pthread_mutex_unlock(&sim_lock);
    sim_log_call_back();
    if (flush) sim_print_flush();
    if (sim_settings.trace) fprintf(stderr, "simgpu: %s -> %d %s\n", call->symbol, result, name ? name : "");
    return result;
}

/* ---- handles: generation << 32 | slot << 4 | kind. A slot's generation
   increases with each use, so a stale handle stays stale. ---- */

static struct slot { void *object; uint32_t generation, orphan; enum sim_handle_kind kind; uint32_t next_free; } *slots;
static uint32_t nslots, free_slot;                /* free_slot: index + 1, or 0 */

uint64_t sim_handle_new(enum sim_handle_kind kind, void *object) {
    if (!free_slot) {
        uint32_t more = nslots ? nslots : 64;
        struct slot *bigger = realloc(slots, (nslots + more) * sizeof *bigger);
        if (!bigger) return 0;
        slots = bigger;
        memset(slots + nslots, 0, more * sizeof *slots);
        for (uint32_t i = nslots + more; i-- > nslots; free_slot = i + 1) slots[i].next_free = free_slot;
        nslots += more;
    }
    struct slot *slot = &slots[free_slot - 1];
    uint64_t index = free_slot - 1;
    free_slot = slot->next_free;
    slot->object = object;
    slot->kind = kind;
    return (uint64_t)++slot->generation << 32 | index << 4 | kind;
}

static struct slot *slot_of(uint64_t handle) {
    uint32_t index = (uint32_t)handle >> 4;
    struct slot *slot = index < nslots ? &slots[index] : NULL;
    return slot && slot->object && slot->generation == handle >> 32 && slot->kind == (handle & 15) ? slot : NULL;
}

void sim_handle_drop(uint64_t handle) {
    struct slot *slot = slot_of(handle);
    if (!slot) return;
    slot->object = NULL;
    slot->next_free = free_slot;
    free_slot = (uint32_t)(slot - slots) + 1;
}

void sim_handle_orphan(uint64_t handle) {
    struct slot *slot = slot_of(handle);
    if (slot) slot->orphan = slot->generation;
    sim_handle_drop(handle);
}

int sim_not_there(const void *handle) {
    uint64_t h = (uint64_t)(uintptr_t)handle;
    uint32_t index = (uint32_t)h >> 4;
    return index < nslots && h >> 32 && slots[index].orphan == h >> 32 ? CUDA_ERROR_CONTEXT_IS_DESTROYED :
                                                                         CUDA_ERROR_INVALID_HANDLE;
}

void *sim_get(enum sim_handle_kind kind, const void *handle) {
    struct slot *slot = slot_of((uint64_t)(uintptr_t)handle);
    return slot && slot->kind == kind ? slot->object : NULL;
}

void sim_link_init(struct sim_link *head) { head->prev = head->next = head; }
void sim_link_add(struct sim_link *head, struct sim_link *link) {
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

void sim_link_remove(struct sim_link *link) {
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

/* Resolved in this library and no other. The reference also keeps it from being unloaded while its threads run. */
static void *own_symbol(const char *name) {
    static void *self;
    Dl_info info;
    if (!self && dladdr((void *)&sim_settings, &info))
        self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    return self ? dlsym(self, name) : NULL;
}

/* ---- start, version, errors ---- */

SIM_API(cuInit, (unsigned flags), (flags), SIM_PURE) {
    if (forked) return CUDA_ERROR_NOT_INITIALIZED;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (sim_ready) return CUDA_SUCCESS;
    int result = own_symbol("cuInit") ? sim_start() : CUDA_ERROR_OPERATING_SYSTEM;
    sim_ready = result == CUDA_SUCCESS;
    return result;
}

SIM_API(cuDriverGetVersion, (int *version), (version), SIM_PURE) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = sim_settings.driver_version;
    return CUDA_SUCCESS;
}

static const struct { const char *name, *text; int value; } errors[] = {
#define X(name, value, text) { "CUDA_" #name, text, value },
    SIM_ERRORS(X)
#undef X
};

static int error_index(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].value == code) return (int)i;
    return -1;
}

static const char *error_name(int code) {
    int i = error_index(code);
    return i < 0 ? NULL : errors[i].name;
}

SIM_API(cuGetErrorName, (int error, const char **text), (error, text), SIM_PURE) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = error_name(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGetErrorString, (int error, const char **text), (error, text), SIM_PURE) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    static __thread char whole[600];                           /* with the text of the error that stopped a kernel:
                                                                  where it happened, which a GPU does not report */
    int i = error_index(error);
    *text = i < 0 ? NULL : errors[i].text;
    if (*text && error == __atomic_load_n(&sim_sticky, __ATOMIC_ACQUIRE) && *sim_fault_text) {
        snprintf(whole, sizeof whole, "%s: %s", *text, sim_fault_text);
        *text = whole;
    }
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The private tables of the runtime API are not implemented. */
SIM_API(cuGetExportTable, (const void **table, const CUuuid *id), (table, id), SIM_PURE) {
    (void)id;
    if (table) *table = NULL;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* There is no profiler to start: the same as a GPU's driver without an attached profiler. */
SIM_API(cuProfilerStart, (void), (), SIM_CTX) { return CUDA_SUCCESS; }
SIM_API(cuProfilerStop, (void), (), SIM_CTX) { return CUDA_SUCCESS; }

/* ---- cuGetProcAddress ----

   Base name, exported symbol, driver version that introduced this ABI, suffix of the per-thread default stream variant.
   Rows of one base are together, oldest first. ABIs that ended before CUDA 4 are not listed. */
static const struct row { const char *base, *symbol; int version; const char *per_thread; } rows[] = {
#define R(name, version) { #name, #name, version, NULL },
#define S(name, version, symbol) { #name, symbol, version, NULL },
#define T(name, version, suffix) { #name, #name, version, suffix },
#define U(name, version, symbol, suffix) { #name, symbol, version, suffix },
    R(cuInit, 2000) R(cuDriverGetVersion, 2020) R(cuGetErrorName, 6000) R(cuGetErrorString, 6000)
    R(cuLogsRegisterCallback, 12090) R(cuLogsUnregisterCallback, 12090) R(cuLogsCurrent, 12090)
    R(cuLogsDumpToMemory, 12090) R(cuLogsDumpToFile, 12090)
    R(cuGetExportTable, 3000) S(cuGetProcAddress, 11030, "cuGetProcAddress")
    S(cuGetProcAddress, 12000, "cuGetProcAddress_v2") R(cuProfilerStart, 4000) R(cuProfilerStop, 4000)

    R(cuDeviceGet, 2000) R(cuDeviceGetCount, 2000) R(cuDeviceGetName, 2000) S(cuDeviceGetUuid, 9020, "cuDeviceGetUuid")
    S(cuDeviceGetUuid, 11040, "cuDeviceGetUuid_v2") S(cuDeviceTotalMem, 3020, "cuDeviceTotalMem_v2")
    R(cuDeviceGetAttribute, 2000) R(cuDeviceGetPCIBusId, 4010) R(cuDeviceGetByPCIBusId, 4010)
    R(cuDeviceCanAccessPeer, 4000) R(cuDeviceGetP2PAttribute, 8000) R(cuDeviceComputeCapability, 2000)
    R(cuDeviceGetProperties, 2000) R(cuDeviceGetDefaultMemPool, 11020) R(cuDeviceGetMemPool, 11020)

    R(cuDevicePrimaryCtxRetain, 7000) S(cuDevicePrimaryCtxRelease, 7000, "cuDevicePrimaryCtxRelease")
    S(cuDevicePrimaryCtxRelease, 11000, "cuDevicePrimaryCtxRelease_v2")
    S(cuDevicePrimaryCtxReset, 7000, "cuDevicePrimaryCtxReset")
    S(cuDevicePrimaryCtxReset, 11000, "cuDevicePrimaryCtxReset_v2") R(cuDevicePrimaryCtxGetState, 7000)
    S(cuDevicePrimaryCtxSetFlags, 7000, "cuDevicePrimaryCtxSetFlags")
    S(cuDevicePrimaryCtxSetFlags, 11000, "cuDevicePrimaryCtxSetFlags_v2") S(cuCtxCreate, 3020, "cuCtxCreate_v2")
    S(cuCtxCreate, 11040, "cuCtxCreate_v3") S(cuCtxCreate, 12050, "cuCtxCreate_v4")
    S(cuCtxDestroy, 4000, "cuCtxDestroy_v2") S(cuCtxPushCurrent, 4000, "cuCtxPushCurrent_v2")
    S(cuCtxPopCurrent, 4000, "cuCtxPopCurrent_v2") R(cuCtxSetCurrent, 4000) R(cuCtxGetCurrent, 4000)
    S(cuCtxGetDevice, 2000, "cuCtxGetDevice") S(cuCtxGetDevice, 13000, "cuCtxGetDevice_v2")
    S(cuCtxSynchronize, 2000, "cuCtxSynchronize") S(cuCtxSynchronize, 13000, "cuCtxSynchronize_v2")
    R(cuCtxGetFlags, 7000) R(cuCtxSetFlags, 12010) R(cuCtxGetId, 12000) R(cuCtxGetApiVersion, 3020)
    R(cuCtxGetLimit, 3010) R(cuCtxSetLimit, 3010) R(cuCtxGetStreamPriorityRange, 5050) R(cuCtxAttach, 2000)
    R(cuCtxDetach, 2000) R(cuCtxEnablePeerAccess, 4000) R(cuCtxDisablePeerAccess, 4000) R(cuCtxGetCacheConfig, 3020)
    R(cuCtxSetCacheConfig, 3020) R(cuCtxGetSharedMemConfig, 4020) R(cuCtxSetSharedMemConfig, 4020)
    R(cuCtxResetPersistingL2Cache, 11000)

    R(cuModuleLoad, 2000) R(cuModuleLoadData, 2000) R(cuModuleLoadDataEx, 2010) R(cuModuleLoadFatBinary, 2000)
    R(cuModuleUnload, 2000) R(cuModuleGetFunction, 2000) S(cuModuleGetGlobal, 3020, "cuModuleGetGlobal_v2")
    R(cuModuleGetFunctionCount, 12040) S(cuLinkCreate, 6050, "cuLinkCreate_v2")
    S(cuLinkAddData, 6050, "cuLinkAddData_v2") S(cuLinkAddFile, 6050, "cuLinkAddFile_v2") R(cuLinkComplete, 5050)
    R(cuLinkDestroy, 5050) R(cuModuleEnumerateFunctions, 12040) R(cuModuleGetLoadingMode, 11070)
    R(cuFuncGetAttribute, 2020) R(cuFuncSetAttribute, 9000) R(cuFuncGetName, 12030) R(cuFuncGetModule, 11000)
    R(cuFuncGetParamInfo, 12040) R(cuFuncSetCacheConfig, 3000) R(cuFuncSetSharedMemConfig, 4020) R(cuFuncLoad, 12040)
    R(cuFuncIsLoaded, 12040) R(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)
    R(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) R(cuOccupancyMaxPotentialBlockSize, 6050)
    R(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000) R(cuOccupancyAvailableDynamicSMemPerBlock, 10020)
    T(cuLaunchKernel, 4000, "_ptsz") T(cuLaunchKernelEx, 11060, "_ptsz") T(cuLaunchCooperativeKernel, 9000, "_ptsz")
    R(cuLaunchCooperativeKernelMultiDevice, 9000) T(cuLaunchHostFunc, 10000, "_ptsz")

    S(cuMemAlloc, 3020, "cuMemAlloc_v2") S(cuMemAllocPitch, 3020, "cuMemAllocPitch_v2")
    S(cuMemFree, 3020, "cuMemFree_v2") S(cuMemGetInfo, 3020, "cuMemGetInfo_v2")
    S(cuMemGetAddressRange, 3020, "cuMemGetAddressRange_v2") S(cuMemAllocHost, 3020, "cuMemAllocHost_v2")
    R(cuMemHostAlloc, 2020) R(cuMemFreeHost, 2000) S(cuMemHostGetDevicePointer, 3020, "cuMemHostGetDevicePointer_v2")
    R(cuMemHostGetFlags, 2030) S(cuMemHostRegister, 6050, "cuMemHostRegister_v2") R(cuMemHostUnregister, 4000)
    R(cuMemAllocManaged, 6000) T(cuMemAllocAsync, 11020, "_ptsz") T(cuMemAllocFromPoolAsync, 11020, "_ptsz")
    T(cuMemFreeAsync, 11020, "_ptsz") R(cuMemPoolSetAttribute, 11020) R(cuMemPoolGetAttribute, 11020)
    R(cuMemPoolTrimTo, 11020) R(cuPointerGetAttribute, 4000) R(cuPointerGetAttributes, 7000)

    T(cuMemcpy, 4000, "_ptds") T(cuMemcpyAsync, 4000, "_ptsz") T(cuMemcpyPeer, 4000, "_ptds")
    T(cuMemcpyPeerAsync, 4000, "_ptsz") U(cuMemcpyHtoD, 3020, "cuMemcpyHtoD_v2", "_ptds")
    U(cuMemcpyDtoH, 3020, "cuMemcpyDtoH_v2", "_ptds") U(cuMemcpyDtoD, 3020, "cuMemcpyDtoD_v2", "_ptds")
    U(cuMemcpyHtoDAsync, 3020, "cuMemcpyHtoDAsync_v2", "_ptsz")
    U(cuMemcpyDtoHAsync, 3020, "cuMemcpyDtoHAsync_v2", "_ptsz")
    U(cuMemcpyDtoDAsync, 3020, "cuMemcpyDtoDAsync_v2", "_ptsz") U(cuMemcpy2D, 3020, "cuMemcpy2D_v2", "_ptds")
    U(cuMemcpy2DUnaligned, 3020, "cuMemcpy2DUnaligned_v2", "_ptds")
    U(cuMemcpy2DAsync, 3020, "cuMemcpy2DAsync_v2", "_ptsz") U(cuMemsetD8, 3020, "cuMemsetD8_v2", "_ptds")
    U(cuMemsetD16, 3020, "cuMemsetD16_v2", "_ptds") U(cuMemsetD32, 3020, "cuMemsetD32_v2", "_ptds")
    U(cuMemsetD2D8, 3020, "cuMemsetD2D8_v2", "_ptds") U(cuMemsetD2D16, 3020, "cuMemsetD2D16_v2", "_ptds")
    U(cuMemsetD2D32, 3020, "cuMemsetD2D32_v2", "_ptds") T(cuMemsetD8Async, 3020, "_ptsz")
    T(cuMemsetD16Async, 3020, "_ptsz") T(cuMemsetD32Async, 3020, "_ptsz") T(cuMemsetD2D8Async, 3020, "_ptsz")
    T(cuMemsetD2D16Async, 3020, "_ptsz") T(cuMemsetD2D32Async, 3020, "_ptsz")

    R(cuStreamCreate, 2000) R(cuStreamCreateWithPriority, 5050) S(cuStreamDestroy, 4000, "cuStreamDestroy_v2")
    T(cuStreamSynchronize, 2000, "_ptsz") T(cuStreamQuery, 2000, "_ptsz") T(cuStreamWaitEvent, 3020, "_ptsz")
    T(cuStreamGetCtx, 9020, "_ptsz") U(cuStreamGetCtx, 12050, "cuStreamGetCtx_v2", "_ptsz")
    T(cuStreamGetFlags, 5050, "_ptsz") T(cuStreamGetPriority, 5050, "_ptsz") T(cuStreamGetId, 12000, "_ptsz")
    T(cuStreamGetDevice, 12080, "_ptsz") T(cuStreamWaitValue32, 8000, "_ptsz")
    U(cuStreamWaitValue32, 11070, "cuStreamWaitValue32_v2", "_ptsz") T(cuStreamWaitValue64, 9000, "_ptsz")
    U(cuStreamWaitValue64, 11070, "cuStreamWaitValue64_v2", "_ptsz") T(cuStreamWriteValue32, 8000, "_ptsz")
    U(cuStreamWriteValue32, 11070, "cuStreamWriteValue32_v2", "_ptsz") T(cuStreamWriteValue64, 9000, "_ptsz")
    U(cuStreamWriteValue64, 11070, "cuStreamWriteValue64_v2", "_ptsz") T(cuStreamAddCallback, 5000, "_ptsz")
    T(cuStreamIsCapturing, 10000, "_ptsz") R(cuEventCreate, 2000) S(cuEventDestroy, 4000, "cuEventDestroy_v2")
    T(cuEventRecord, 2000, "_ptsz") T(cuEventRecordWithFlags, 11010, "_ptsz") R(cuEventQuery, 2000)
    R(cuEventSynchronize, 2000) S(cuEventElapsedTime, 2000, "cuEventElapsedTime")
    S(cuEventElapsedTime, 12080, "cuEventElapsedTime_v2")
#undef R
#undef S
#undef T
#undef U
};
#define NROWS (sizeof rows / sizeof *rows)

int sim_version_of(const char *symbol) {
    for (size_t i = 0; i < NROWS; i++) {
        size_t n = strlen(rows[i].symbol);
        if (strncmp(rows[i].symbol, symbol, n)) continue;
        if (!symbol[n] || (rows[i].per_thread && !strcmp(rows[i].per_thread, symbol + n))) return rows[i].version;
    }
    return 0;
}

static int find_address(const char *base, void **out, int version, uint64_t flags, int *status) {
    int answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct row *best = NULL;
    if (!base || !out || version > sim_settings.driver_version) return CUDA_ERROR_INVALID_VALUE;
    if (flags & ~(uint64_t)(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
        return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (size_t i = 0; i < NROWS; i++) {
        if (strcmp(rows[i].base, base) || rows[i].version > sim_settings.driver_version) continue;
        answer = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (rows[i].version <= version) best = &rows[i];
    }
    if (best) {
        char name[96];
        bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        snprintf(name, sizeof name, "%s%s", best->symbol, per_thread && best->per_thread ? best->per_thread : "");
        *out = own_symbol(name);
        answer = *out ? 0 : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    if (status) *status = answer;
    return CUDA_SUCCESS;
}

SIM_API(cuGetProcAddress, (const char *base, void **out, int version, uint64_t flags), (base, out, version, flags),
        SIM_PURE) {
    void *found = NULL;
    int result = find_address(base, out ? &found : NULL, version, flags, NULL);
    if (result || !found) return result ? result : CUDA_ERROR_NOT_FOUND;         /* and *out is unchanged */
    *out = found;
    return CUDA_SUCCESS;
}

SIM_API(cuGetProcAddress_v2, (const char *base, void **out, int version, uint64_t flags, int *status),
        (base, out, version, flags, status), SIM_PURE) {
    return find_address(base, out, version, flags, status);
}
