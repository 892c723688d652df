/* driver.c - the driver API of the CPU device itself: an input is a list of entry points called with valid, stale,
   foreign, zero and invented handles, from one thread or from two at the same time, also while the other thread
   destroys the objects in use. Nothing may crash, hang or leak; results are CUresults that have names.

   The calls use one prototype with twelve 64-bit arguments, which the calling conventions of 64-bit Linux allow if no
   floating-point number is passed. */
#define _GNU_SOURCE 1
#include "fuzz.h"
#include <dlfcn.h>
#include <pthread.h>

typedef int entry(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                  uint64_t, uint64_t);
enum { ARGUMENTS = 12, KEPT = 8, HOST = 1 << 17, HALF = HOST / 2 };

/* One letter per argument. Handles: c context, s stream, e event, m module, f function or kernel, l link state,
   p memory pool, r library. The capital letter: a place for a new one. 1 graph, 2 node, 3 executable graph; ! @ #:
   places for new ones.

     a A   device address, place for one        h   host memory, at least HALF bytes   b   at most HALF bytes
     o     room for a result, or NULL           w   a word that is 7, for streams      z   a size, not too large
     N     any number                           n   a small one                        i   64-bit zero
     t T   a PTX text, its length               k   a name                             g G callbacks
     x     kernel parameters                    y   a launch's configuration           Y   two devices' launches
     j     a CUDA_MEMCPY2D                      d   device                             u U 0 to 4, 0 to 2
     v     1                                    q   7                                  B O 4 nodes, room for 0 to 16
     H     h, aligned for any struct            D   a CUmemPoolProps
     J     a CUDA_MEMCPY3D or _PEER             X   4 addresses for a batch            Z   their sizes
     W     4 indices                            Q   4 CUmemcpyAttributes               K   a CUmemAccessDesc */
static const struct { const char *name, *arguments; } calls[] = {
    { "cuInit", "n" }, { "cuDriverGetVersion", "o" }, { "cuGetErrorName", "No" }, { "cuGetErrorString", "No" },
    { "cuGetExportTable", "oo" }, { "cuGetProcAddress", "koNn" }, { "cuGetProcAddress_v2", "koNno" },
    { "cuProfilerStart", "" }, { "cuDeviceGet", "od" }, { "cuDeviceGetCount", "o" }, { "cuDeviceGetName", "hbd" },
    { "cuDeviceGetUuid_v2", "od" }, { "cuDeviceTotalMem_v2", "od" }, { "cuDeviceGetAttribute", "oNd" },
    { "cuDeviceComputeCapability", "ood" }, { "cuDeviceGetProperties", "od" }, { "cuDeviceGetPCIBusId", "hbd" },
    { "cuDeviceGetByPCIBusId", "ok" }, { "cuDeviceCanAccessPeer", "odd" }, { "cuDeviceGetP2PAttribute", "ondd" },
    { "cuDeviceGetDefaultMemPool", "Pd" }, { "cuDeviceGetMemPool", "Pd" }, { "cuCtxCreate_v2", "Cnd" },
    { "cuCtxCreate_v2", "Cid" }, { "cuCtxCreate_v3", "Cinnd" }, { "cuCtxCreate_v4", "Cind" },
    { "cuCtxDestroy_v2", "c" }, { "cuCtxAttach", "Cn" }, { "cuCtxDetach", "c" }, { "cuCtxPushCurrent_v2", "c" },
    { "cuCtxPushCurrent_v2", "c" }, { "cuCtxPopCurrent_v2", "o" }, { "cuCtxSetCurrent", "c" },
    { "cuCtxSetCurrent", "c" }, { "cuCtxGetCurrent", "o" }, { "cuCtxGetDevice", "o" }, { "cuCtxGetDevice_v2", "oc" },
    { "cuCtxSynchronize", "" }, { "cuCtxSynchronize_v2", "c" }, { "cuCtxGetFlags", "o" }, { "cuCtxSetFlags", "n" },
    { "cuCtxGetId", "co" }, { "cuCtxGetApiVersion", "co" }, { "cuCtxGetLimit", "on" }, { "cuCtxSetLimit", "nz" },
    { "cuCtxGetStreamPriorityRange", "oo" }, { "cuCtxGetCacheConfig", "o" }, { "cuCtxSetCacheConfig", "n" },
    { "cuCtxSetSharedMemConfig", "n" }, { "cuCtxEnablePeerAccess", "cn" }, { "cuCtxEnablePeerAccess", "ci" },
    { "cuCtxDisablePeerAccess", "c" }, { "cuDevicePrimaryCtxRetain", "Cd" }, { "cuDevicePrimaryCtxRelease_v2", "d" },
    { "cuDevicePrimaryCtxReset_v2", "d" }, { "cuDevicePrimaryCtxGetState", "doo" },
    { "cuDevicePrimaryCtxSetFlags_v2", "dn" }, { "cuModuleLoadData", "Mt" }, { "cuModuleLoadData", "Mt" },
    { "cuModuleLoadDataEx", "Mtiii" }, { "cuModuleLoadFatBinary", "Mt" }, { "cuModuleLoad", "Mk" },
    { "cuModuleUnload", "m" }, { "cuModuleGetLoadingMode", "o" }, { "cuModuleGetFunction", "Fmk" },
    { "cuModuleGetFunction", "Fmk" }, { "cuModuleGetFunction", "Fmk" }, { "cuModuleGetGlobal_v2", "Aomk" },
    { "cuModuleGetFunctionCount", "om" }, { "cuModuleEnumerateFunctions", "onm" }, { "cuFuncGetAttribute", "onf" },
    { "cuFuncSetAttribute", "fnz" }, { "cuFuncGetName", "of" }, { "cuFuncGetModule", "Mf" },
    { "cuFuncGetParamInfo", "fnoo" }, { "cuFuncSetCacheConfig", "fn" }, { "cuFuncSetSharedMemConfig", "fn" },
    { "cuFuncLoad", "f" }, { "cuFuncIsLoaded", "of" }, { "cuLinkCreate_v2", "iiiL" }, { "cuLinkCreate_v2", "niiL" },
    { "cuLinkAddData_v2", "lvtTkiii" }, { "cuLinkAddData_v2", "lnhbkiii" }, { "cuLinkAddFile_v2", "lnkiii" },
    { "cuLinkComplete", "loo" }, { "cuLinkDestroy", "l" }, { "cuOccupancyMaxActiveBlocksPerMultiprocessor", "ofNz" },
    { "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "ofNzn" },
    { "cuOccupancyMaxPotentialBlockSize", "oofizn" }, { "cuOccupancyMaxPotentialBlockSizeWithFlags", "oofiznn" },
    { "cuOccupancyAvailableDynamicSMemPerBlock", "ofNN" }, { "cuLaunchKernel", "fuuunnnisxi" },
    { "cuLaunchKernel", "fvvvvvvisxi" }, { "cuLaunchKernel_ptsz", "fvvvvvvzsxi" },
    { "cuLaunchCooperativeKernel", "fvvvvvvisx" }, { "cuLaunchKernelEx", "yfxi" }, { "cuLaunchKernelEx_ptsz", "yfxi" },
    { "cuLaunchCooperativeKernelMultiDevice", "YUn" }, { "cuLaunchHostFunc", "sgi" }, { "cuStreamAddCallback", "sGii" },
    { "cuMemAlloc_v2", "Az" }, { "cuMemAlloc_v2", "Az" }, { "cuMemAlloc_v2", "AN" }, { "cuMemAllocPitch_v2", "Aozzn" },
    { "cuMemAllocManaged", "Azn" }, { "cuMemFree_v2", "a" }, { "cuMemGetInfo_v2", "oo" },
    { "cuMemGetAddressRange_v2", "ooa" }, { "cuMemFreeHost", "h" }, { "cuMemFreeHost", "N" },
    { "cuMemHostRegister_v2", "hbn" }, { "cuMemHostUnregister", "h" }, { "cuMemHostGetDevicePointer_v2", "ohi" },
    { "cuMemHostGetFlags", "oh" }, { "cuMemAllocAsync", "Azs" }, { "cuMemAllocFromPoolAsync", "Azps" },
    { "cuMemFreeAsync", "as" }, { "cuMemPoolTrimTo", "pN" }, { "cuMemPoolSetAttribute", "pno" },
    { "cuMemPoolGetAttribute", "pno" }, { "cuPointerGetAttribute", "ona" }, { "cuPointerGetAttribute", "onh" },
    { "cuMemcpyHtoD_v2", "ahb" }, { "cuMemcpyDtoH_v2", "hab" }, { "cuMemcpyDtoD_v2", "aaN" },
    { "cuMemcpyHtoDAsync_v2", "ahbs" }, { "cuMemcpyDtoHAsync_v2", "habs" }, { "cuMemcpyDtoDAsync_v2", "aaNs" },
    { "cuMemcpyPeer", "acacN" }, { "cuMemcpyPeerAsync", "acacNs" }, { "cuMemcpy", "hhb" }, { "cuMemcpyAsync", "hhbs" },
    { "cuMemcpyAsync_ptsz", "hhbs" }, { "cuMemcpy2D_v2", "j" }, { "cuMemcpy2DAsync_v2", "js" },
    { "cuMemsetD8_v2", "anN" }, { "cuMemsetD16_v2", "anN" }, { "cuMemsetD32_v2", "anN" },
    { "cuMemsetD2D8_v2", "aNnNN" }, { "cuMemsetD2D32_v2", "aNnNN" }, { "cuMemsetD8Async", "anNs" },
    { "cuMemsetD16Async", "anNs" }, { "cuMemsetD32Async", "anNs" }, { "cuMemsetD2D16Async", "aNnNNs" },
    { "cuStreamCreate", "Si" }, { "cuStreamCreate", "Sn" }, { "cuStreamCreateWithPriority", "Snn" },
    { "cuStreamDestroy_v2", "s" }, { "cuStreamSynchronize", "s" }, { "cuStreamSynchronize_ptsz", "s" },
    { "cuStreamQuery", "s" }, { "cuStreamWaitEvent", "sei" }, { "cuStreamWaitEvent", "sen" },
    { "cuStreamGetCtx", "so" }, { "cuStreamGetCtx_v2", "soo" }, { "cuStreamGetFlags", "so" },
    { "cuStreamGetPriority", "so" }, { "cuStreamGetId", "so" }, { "cuStreamGetDevice", "so" },
    { "cuStreamIsCapturing", "so" }, { "cuStreamWaitValue32_v2", "swqn" }, { "cuStreamWriteValue32_v2", "swqi" },
    { "cuStreamWaitValue64_v2", "swii" }, { "cuStreamWriteValue64_v2", "saNi" }, { "cuEventCreate", "En" },
    { "cuEventCreate", "Ei" }, { "cuEventDestroy_v2", "e" }, { "cuEventRecord", "es" }, { "cuEventRecord", "es" },
    { "cuEventRecordWithFlags", "esn" }, { "cuEventQuery", "e" }, { "cuEventSynchronize", "e" },
    { "cuEventElapsedTime", "oee" },
    { "cuEventElapsedTime_v2", "oee" }, { "cuLibraryLoadData", "Rtiiiiii" }, { "cuLibraryLoadFromFile", "Rkiiiiii" },
    { "cuLibraryUnload", "r" }, { "cuLibraryGetKernel", "Frk" }, { "cuLibraryGetKernel", "Frk" },
    { "cuLibraryGetKernelCount", "or" }, { "cuLibraryEnumerateKernels", "onr" }, { "cuLibraryGetModule", "Mr" },
    { "cuLibraryGetGlobal", "Aork" }, { "cuLibraryGetManaged", "oork" }, { "cuLibraryGetUnifiedFunction", "ork" },
    { "cuKernelGetFunction", "Ff" }, { "cuKernelGetLibrary", "of" }, { "cuKernelGetName", "of" },
    { "cuKernelGetParamInfo", "fnoo" }, { "cuKernelGetAttribute", "onfd" }, { "cuKernelSetAttribute", "nzfd" },
    { "cuKernelSetCacheConfig", "fnd" }, { "cuMemAlloc", "oz" },
    { "cuFuncSetBlockShape", "fvvv" }, { "cuFuncSetBlockShape", "fNNN" }, { "cuFuncSetSharedSize", "fn" },
    { "cuParamSetSize", "fN" }, { "cuParamSetv", "fNhb" }, { "cuParamSetv", "fihb" }, { "cuParamSeti", "fNN" },
    { "cuLaunch", "f" }, { "cuLaunchGrid", "fuu" }, { "cuLaunchGridAsync", "fvus" },
    { "cuStreamBeginCapture_v2", "sU" }, { "cuStreamBeginCapture_v2", "sn" },
    { "cuStreamBeginCapture_v2_ptsz", "sU" }, { "cuStreamBeginCapture", "s" },
    { "cuStreamBeginCaptureToGraph", "s1BiuU" }, { "cuStreamEndCapture", "s!" }, { "cuStreamEndCapture", "s!" },
    { "cuStreamEndCapture", "si" }, { "cuStreamGetCaptureInfo", "soo" }, { "cuStreamGetCaptureInfo_v2", "sooooo" },
    { "cuStreamGetCaptureInfo_v3", "soooooo" }, { "cuStreamUpdateCaptureDependencies", "sBun" },
    { "cuStreamUpdateCaptureDependencies_v2", "sBiuU" }, { "cuThreadExchangeStreamCaptureMode", "H" },
    { "cuGraphCreate", "!i" }, { "cuGraphDestroy", "1" }, { "cuGraphClone", "!1" },
    { "cuGraphNodeFindInClone", "@21" }, { "cuGraphGetNodes", "1@O" }, { "cuGraphGetRootNodes", "1@O" },
    { "cuGraphGetEdges", "1HHO" }, { "cuGraphGetEdges_v2", "1HHHO" }, { "cuGraphNodeGetType", "2o" },
    { "cuGraphNodeGetDependencies", "2HO" }, { "cuGraphNodeGetDependencies_v2", "2HHO" },
    { "cuGraphNodeGetDependentNodes", "2HO" }, { "cuGraphDestroyNode", "2" }, { "cuGraphAddEmptyNode", "@1Bu" },
    { "cuGraphAddDependencies", "1BBu" }, { "cuGraphAddDependencies_v2", "1BBiu" },
    { "cuGraphRemoveDependencies", "1BBu" }, { "cuGraphInstantiateWithFlags", "#1i" },
    { "cuGraphInstantiateWithFlags", "#1n" }, { "cuGraphInstantiate_v2", "#1oHb" },
    { "cuGraphInstantiateWithParams", "#1H" }, { "cuGraphExecGetFlags", "3o" }, { "cuGraphLaunch", "3s" },
    { "cuGraphLaunch", "3s" }, { "cuGraphUpload", "3s" }, { "cuGraphExecDestroy", "3" },
    { "cuGraphExecUpdate_v2", "31H" }, { "cuGraphExecUpdate", "31oo" }, { "cuGraphKernelNodeGetParams", "2H" },
    { "cuGraphKernelNodeGetParams_v2", "2H" }, { "cuGraphMemcpyNodeGetParams", "2H" },
    { "cuGraphMemsetNodeGetParams", "2H" }, { "cuGraphHostNodeGetParams", "2H" },
    { "cuGraphMemAllocNodeGetParams", "2H" }, { "cuGraphMemFreeNodeGetParams", "2o" },
    { "cuGraphEventRecordNodeGetEvent", "2o" }, { "cuGraphEventWaitNodeGetEvent", "2o" },
    { "cuMemAllocManaged", "Azv" }, { "cuStreamAttachMemAsync", "sain" }, { "cuStreamAttachMemAsync", "sazu" },
    { "cuMemPrefetchAsync", "azds" }, { "cuMemPrefetchAsync_v2", "aznis" }, { "cuMemAdvise", "aznd" },
    { "cuMemAdvise_v2", "aznn" }, { "cuMemRangeGetAttribute", "hbnaz" }, { "cuMemRangeGetAttributes", "HHHiaz" },
    { "cuMemcpy3D_v2", "J" }, { "cuMemcpy3DAsync_v2", "Js" }, { "cuMemcpy3DPeer", "J" },
    { "cuMemcpy3DPeerAsync", "Js" }, { "cuMemcpyBatchAsync", "XXZuQWuos" }, { "cuMemcpyBatchAsync_v2", "XXZuQWus" },
    { "cuMemcpy3DBatchAsync", "iHoNs" }, { "cuMemcpy3DBatchAsync_v2", "iHNs" }, { "cuMemPoolSetAccess", "pKU" },
    { "cuMemPoolGetAccess", "opK" }, { "cuDeviceSetMemPool", "dp" },
    { "cuMemPoolCreate", "PD" }, { "cuMemPoolCreate", "PH" }, { "cuMemPoolDestroy", "p" },
    { "cuIpcGetMemHandle", "Ha" }, { "cuIpcCloseMemHandle", "a" }, { "cuIpcGetEventHandle", "He" },
    { "cuMemPoolExportPointer", "Ha" }, { "cuMemPoolImportPointer", "ApH" },
    { "cuMemPoolImportFromShareableHandle", "PNvi" },
};
enum { CALLS = sizeof calls / sizeof *calls };
/* kinds of which some are kept, and the letters for new ones; the last one: addresses */
static const char kinds[] = "csemflpr123a", makers[] = "CSEMFLPR!@#A";

static entry    *functions[CALLS];
static uint64_t  kept[sizeof kinds][KEPT];
static unsigned  next[sizeof kinds];
static char      host[HOST];
static uint64_t  word;                                   /* the device address of a 7 that no other call writes to */
static int     (*error_name)(int, const char **);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .b8 g[64];\n"
                          ".visible .entry nothing() { ret; }\n"
    ".visible .entry add(.param .u64 p, .param .u32 by, .param .u32 n) { .reg .u32 %r; .reg .u64 %d; "
    "ld.param.u64 %d, [p]; ld.param.u32 %r, [by]; "
        "red.global.add.u32 [%d], %r; ret; }\n"
    ".visible .entry slow() { .reg .u32 %r; .reg .pred %p; mov.u32 %r, 0; L: add.u32 %r, %r, 1; "
    "setp.lt.u32 %p, %r, 3000; @%p bra L; ret; }\n"
    ".visible .entry wait() { bar.sync 0; bar.sync 1; ret; }\n"
    ".visible .entry fault() { .reg .u64 %d; mov.u64 %d, 16; st.global.u32 [%d], 1; ret; }\n";

static entry *find(const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    entry *f;
    FUZZ_CHECK(symbol, "no %s", name);
    memcpy(&f, &symbol, sizeof f);
    return f;
}

static int call(entry *f, const uint64_t *a) {
    return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}
#define DRIVER(name, ...) call(find(name), (const uint64_t[ARGUMENTS]) { __VA_ARGS__ })
#define AT(x) ((uint64_t)(uintptr_t)(x))

static void called(void *user) { (void)user; }

static void called_back(void *stream, int status, void *user) {
    (void)stream;
    (void)status;
    (void)user;
}

/* Memory of graphs can only be freed after a launch: it is tried again at the end. */
static uint64_t  lost[1024];
static unsigned  nlost;

static void free_memory(uint64_t address) {
    if (!DRIVER("cuMemFree_v2", address)) return;
    const unsigned at = __atomic_fetch_add(&nlost, 1, __ATOMIC_RELAXED);
    if (at < sizeof lost / sizeof *lost) lost[at] = address;
}

static void destroy(char kind, uint64_t x) {
    if (kind == 'l') (void)DRIVER("cuLinkDestroy", x);
    if (kind == 'r') (void)DRIVER("cuLibraryUnload", x);
    if (kind == '1') (void)DRIVER("cuGraphDestroy", x);
    if (kind == '3') (void)DRIVER("cuGraphExecDestroy", x);
    if (kind == 'a') free_memory(x);
}

/* Handles that drop out are lost: what no context destroys must be destroyed here. */
static void keep(size_t kind, uint64_t x) {
    uint64_t old = __atomic_exchange_n(&kept[kind][__atomic_fetch_add(&next[kind], 1, __ATOMIC_RELAXED) % KEPT], x,
                                       __ATOMIC_RELAXED);
    if (old) destroy(kinds[kind], old);
}
static uint64_t handle(struct fuzz_source *s, size_t kind) {
    const unsigned how = fuzz_byte(s), k = how / 16 % KEPT;
    const uint64_t own = __atomic_load_n(&kept[kind][k], __ATOMIC_RELAXED);
    switch (how % 16) {
    case 0: return 0;
    case 1: return __atomic_load_n(&kept[fuzz_byte(s) % (sizeof kinds - 2)][k], __ATOMIC_RELAXED);
    case 2: return own ^ 1ull << fuzz_byte(s) % 64;
    /* must not be memory of this process by chance */
    case 3: return kinds[kind] == 'a' ? fuzz_number(s) % (1 << 28) : fuzz_number(s);
    case 4: return kinds[kind] == 's' ? fuzz_byte(s) % 3 : own;
    case 5: return kinds[kind] == 'a' ? own + fuzz_number(s) % 4096 : own;
    default: return own;
    }
}

struct room {                                            /* the objects that the arguments of one call point to */
    uint64_t answer[16], made[16], nodes[2][4], count;
    uint64_t address, by, params[8];
    struct {
        unsigned grid[3], block[3], shared;
        void *stream;
        struct { unsigned id, pad; uint64_t value[8]; } *attributes;
        unsigned count;
    } configuration;
    struct { unsigned id, pad; uint64_t value[8]; } attributes[2];
    struct { void *function; unsigned grid[3], block[3], shared; void *stream; void **params; } launches[2];
    struct { size_t x, y; unsigned type; const void *host; uint64_t device; void *array; size_t pitch; } sides[2];
    uint64_t copy[16];                                   /* CUDA_MEMCPY2D: the two sides, width, height */
    struct { unsigned type, handle_types, location, device; void *security; size_t most, rest[7]; } pool;
    uint64_t volume[25];                                 /* CUDA_MEMCPY3D */
    uint64_t places[2][4], sizes[4], starts[4];
    struct { unsigned order, hints[4], flags; } attributes_of[4];
    struct { unsigned type, id, flags; } access;
    const char *text;
};

/* Of the host's buffer or of a device's window: an address that another thread has freed must not be this process's own
   by chance. */
static uint64_t place(struct fuzz_source *s) {
    const uint64_t a = handle(s, sizeof kinds - 2);
    return a >> 45 == 1 ? a : AT(host + fuzz_number(s) % HALF);
}

static uint64_t argument(struct fuzz_source *s, char letter, struct room *r, unsigned at, size_t *makes) {
    static const char *const names[] = { "nothing", "add", "slow", "wait", "fault", "g", "", "/no/such/file", "cuInit",
                                         "cuMemAlloc", "0000:01:00.0" };
    const char *own = strchr(kinds, letter), *new = strchr(makers, letter);
    if (own) return handle(s, (size_t)(own - kinds));
    if (new) {
        *makes = (size_t)(new - makers) + 1;
        return fuzz_byte(s) < 250 ? AT(&r->made[0]) : 0;
    }
    switch (letter) {
    case 'h': return AT(host + fuzz_number(s) % HALF);
    case 'H': return (AT(host) + fuzz_number(s) % HALF + 15) / 16 * 16;
    case 'b': return fuzz_number(s) % HALF;
    case 'w': return fuzz_byte(s) < 230 ? word : fuzz_number(s) % (1 << 28);
    case 'o': return fuzz_byte(s) < 240 ? AT(&r->answer[at]) : 0;
    case 'z': return fuzz_number(s) % (1 << 20);
    case 'N': return fuzz_number(s);
    case 'n': return fuzz_byte(s) % 4 ? fuzz_byte(s) % 8 : fuzz_number(s);
    case 'd': return fuzz_byte(s) < 230 ? fuzz_byte(s) % 2 : fuzz_number(s);
    case 't': r->text = fuzz_byte(s) < 230 ? ptx : "nothing"; return AT(r->text);
    case 'T': return fuzz_byte(s) < 230 ? strlen(r->text) + 1 : fuzz_number(s) % 8;
    case 'k': return AT(names[fuzz_byte(s) % (sizeof names / sizeof *names)]);
    case 'g': return AT(called);
    case 'G': return AT(called_back);
    case 'B':
        for (unsigned i = 0; i < 4; i++) r->nodes[at % 2][i] = handle(s, (size_t)(strchr(kinds, '2') - kinds));
        return fuzz_byte(s) < 240 ? AT(r->nodes[at % 2]) : 0;
    case 'O':
        r->count = fuzz_byte(s) % 17;
        return fuzz_byte(s) < 240 ? AT(&r->count) : 0;
    case 'v': return 1;
    case 'q': return 7;
    case 'u': return fuzz_byte(s) % 5;
    case 'U': return fuzz_byte(s) % 3;
    case 'x':
        r->address = handle(s, sizeof kinds - 2);
        for (unsigned i = 0; i < 8; i++) r->params[i] = AT(i ? &r->by : &r->address);
        return fuzz_byte(s) < 240 ? AT(r->params) : 0;
    case 'y':
        for (unsigned i = 0; i < 3; i++) {
            r->configuration.grid[i] = fuzz_byte(s) % 3;
            r->configuration.block[i] = fuzz_byte(s) % 9;
        }
        r->configuration.stream = (void *)(uintptr_t)handle(s, 1);
        for (unsigned i = 0; i < 2; i++) { r->attributes[i].id = fuzz_byte(s) % 16;
                                           r->attributes[i].value[0] = fuzz_number(s);
            r->attributes[i].value[1] = fuzz_byte(s) % 3;
            }
        r->configuration.attributes = (void *)r->attributes;
        r->configuration.count = fuzz_byte(s) % 3;
        return AT(&r->configuration);
    case 'Y':
        r->address = handle(s, sizeof kinds - 2);
        for (unsigned i = 0; i < 8; i++) r->params[i] = AT(i ? &r->by : &r->address);
        for (unsigned i = 0; i < 2; i++) {
            r->launches[i].function = (void *)(uintptr_t)handle(s, 4);
            r->launches[i].stream = (void *)(uintptr_t)handle(s, 1);
            for (unsigned k = 0; k < 3; k++) {
                r->launches[i].grid[k] = 1;
                r->launches[i].block[k] = 1 + fuzz_byte(s) / 250;
            }
            r->launches[i].params = (void **)(void *)r->params;
        }
        return AT(r->launches);
    case 'j':
        for (unsigned i = 0; i < 2; i++) {
            r->sides[i].type = 1 + fuzz_byte(s) / 8 % 4;
            r->sides[i].host = host;
            /* unified: the driver trusts any address */
            r->sides[i].device = r->sides[i].type == 4 ? AT(host) : handle(s, sizeof kinds - 2);
            r->sides[i].pitch = fuzz_byte(s) % 4 ? 256 : fuzz_number(s) % 512;
            r->sides[i].x = fuzz_number(s) % 256;
            r->sides[i].y = fuzz_number(s) % 64;
        }
        memcpy(r->copy, r->sides, sizeof r->sides);
        r->copy[14] = fuzz_number(s) % 256;
        r->copy[15] = fuzz_number(s) % 64;
        return AT(r->copy);
    case 'J':
        for (unsigned i = 0; i < 2; i++) {
            uint64_t *v = r->volume + 11 * i;
            v[0] = fuzz_number(s) % 64;
            v[1] = fuzz_number(s) % 8;
            v[2] = fuzz_number(s) % 8;
            v[3] = fuzz_byte(s) / 250;
            v[4] = 1 + fuzz_byte(s) / 8 % 4;
            v[5] = AT(host);
            v[6] = v[4] == 4 ? AT(host) : handle(s, sizeof kinds - 2);
            v[8] = 0;
            v[9] = fuzz_byte(s) % 4 ? 128 : fuzz_number(s) % 256;
            v[10] = fuzz_byte(s) % 4 ? 16 : fuzz_number(s) % 32;
        }
        for (unsigned i = 22; i < 25; i++) r->volume[i] = fuzz_number(s) % 16;
        return AT(r->volume);
    case 'X':
        for (unsigned i = 0; i < 4; i++) r->places[at % 2][i] = place(s);
        return fuzz_byte(s) < 250 ? AT(r->places[at % 2]) : 0;
    case 'Z':
        for (unsigned i = 0; i < 4; i++) r->sizes[i] = fuzz_number(s) % HALF;
        return AT(r->sizes);
    case 'W':
        for (unsigned i = 1; i < 4; i++) r->starts[i] = fuzz_byte(s) % 4 ? i : fuzz_byte(s);
        return AT(r->starts);
    case 'Q':
        for (unsigned i = 0; i < 4; i++) r->attributes_of[i].order = 1 + fuzz_byte(s) / 80;
        return AT(r->attributes_of);
    case 'K':
        r->access.type = 1 + fuzz_byte(s) / 240;
        r->access.id = fuzz_byte(s) % 3;
        r->access.flags = fuzz_byte(s) % 2 ? 3 : fuzz_byte(s) % 4;
        return AT(&r->access);
    case 'D':
        r->pool.type = 1 + fuzz_byte(s) / 240;
        r->pool.location = 1 + fuzz_byte(s) / 240;
        r->pool.device = fuzz_byte(s) % 2 + fuzz_byte(s) / 240;
        r->pool.most = fuzz_byte(s) % 2 ? fuzz_number(s) % (1 << 20) : 0;
        return AT(&r->pool);
    default: return 0;
    }
}

static void *run(void *data) {
    struct fuzz_source *s = (struct fuzz_source *)data;
    (void)DRIVER("cuThreadExchangeStreamCaptureMode", AT(&(int) { 0 }));
    while (s->left) {
        struct room r;
        uint64_t a[ARGUMENTS] = { 0 };
        const unsigned which = fuzz_pick(s, CALLS);
        size_t makes = 0;
        const char *text;
        memset(&r, 0, sizeof r);
        for (unsigned i = 0; calls[which].arguments[i]; i++)
            a[i] = argument(s, calls[which].arguments[i], &r, i, &makes);
        if (!functions[which]) continue;
        if (getenv("FUZZ_VERBOSE")) {
            fprintf(stderr, "%s(", calls[which].name);
            for (unsigned i = 0; calls[which].arguments[i]; i++)
                fprintf(stderr, "%s0x%llx", i ? ", " : "", (unsigned long long)a[i]);
            fprintf(stderr, ")");
        }
        const int result = call(functions[which], a);
        if (getenv("FUZZ_VERBOSE")) fprintf(stderr, " = %d\n", result);
        FUZZ_CHECK(result >= 0 && error_name(result, &text) == 0 && text, "%s returns %d, which has no name",
                   calls[which].name, result);
        if (makes && result == 0 && r.made[0]) keep(makes - 1, r.made[0]);
    }
    uint64_t popped;
    while (DRIVER("cuCtxPopCurrent_v2", AT(&popped)) == 0) {}
    return NULL;
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    void *symbol = dlsym(RTLD_DEFAULT, "cuGetErrorName");
    (void)count;
    (void)arguments;
    setenv("SIMGPU_MEMORY", "64M", 1);
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_TIMEOUT", "5", 1);
    memcpy(&error_name, &symbol, sizeof symbol);
    for (unsigned i = 0; i < CALLS; i++) functions[i] = find(calls[i].name);
    FUZZ_CHECK(DRIVER("cuInit", 0) == 0, "no CPU device");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const unsigned first = size ? data[0] : 0;
    struct fuzz_source all = { data + (size > 0), size - (size > 0) }, half = all;
    uint64_t context, stream, event, module, function, library, address, contexts[2];
    pthread_t thread;
    if (size > 600) return -1;
    memset(kept, 0, sizeof kept);
    memset(next, 0, sizeof next);
    nlost = 0;
    for (unsigned i = 0; i < 2; i++) {  /* one of each, on both devices; the context of the word is destroyed last */
        FUZZ_CHECK(DRIVER("cuCtxCreate_v2", AT(&contexts[i]), 0, i) == 0, "a context of the harness");
        if (i == 1) FUZZ_CHECK(DRIVER("cuMemAlloc_v2", AT(&word), 8) == 0 && DRIVER("cuMemsetD32_v2", word, 7, 2) == 0,
                               "a word");
        if (!(first & 1)) continue;
        FUZZ_CHECK(DRIVER("cuDevicePrimaryCtxRetain", AT(&context), i) == 0 &&
                   DRIVER("cuCtxPushCurrent_v2", context) == 0 && DRIVER("cuStreamCreate",
            AT(&stream), 0) == 0 &&
                   DRIVER("cuEventCreate", AT(&event), 0) == 0 &&
                   DRIVER("cuModuleLoadData", AT(&module), AT(ptx)) == 0 &&
                   DRIVER("cuModuleGetFunction", AT(&function), module, AT("slow")) == 0 &&
                   DRIVER("cuLibraryLoadData", AT(&library), AT(ptx), 0, 0, 0, 0, 0, 0) == 0 &&
                   DRIVER("cuMemAlloc_v2", AT(&address), 4096) == 0, "one of each");
        const uint64_t made[] = { context, stream, event, module, function, 0, 0, library, 0, 0, 0, address };
        for (size_t k = 0; k + 1 < sizeof kinds; k++) if (made[k]) keep(k, made[k]);
    }
    if (first & 2) {
        all.left /= 2;
        half.at += all.left;
        half.left -= all.left;
        FUZZ_CHECK(pthread_create(&thread, NULL, run, &half) == 0, "a thread");
        run(&all);
        pthread_join(thread, NULL);
    } else run(&all);
    simgpu_forget_fault();
    (void)DRIVER("cuCtxPushCurrent_v2", contexts[1]);
    (void)DRIVER("cuThreadExchangeStreamCaptureMode", AT(&(int) { 2 }));
    for (size_t kind = 0; kinds[kind]; kind++)
        for (unsigned i = 0; i < KEPT; i++) if (kept[kind][i]) destroy(kinds[kind], kept[kind][i]);
    for (unsigned i = 0; i < nlost && i < sizeof lost / sizeof *lost; i++) (void)DRIVER("cuMemFree_v2", lost[i]);
    simgpu_end_contexts();
    return 0;
}
