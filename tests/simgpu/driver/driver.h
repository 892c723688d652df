/* driver.h - the map of driver/: the entry points of the CUDA driver API. They check their
   arguments, look up the handles, and call the functions of objects/. A file has the calls that
   begin with its name, and these:

     cuInit.c           cuDriverGetVersion, cuGetProcAddress, cuGetExportTable, cuProfiler
     cuCtx.c            cuDevicePrimaryCtx
     cuGreenCtx.c       green contexts, also cuCtxFromGreenCtx, cuStreamGetGreenCtx, and the
                        resources that they are made of
     cuStream.c         cuLaunchHostFunc cuStreamCapture.c  what begins, ends and describes captures
     cuMem.c            what allocates, frees and describes memory, also cuPointer
     cuMemcpy.c         cuMemset
     cuMemManaged.c     cuMemAllocManaged, cuMemPrefetch, cuMemAdvise, cuMemRange, cuStreamAttachMem
     cuMemVirtual.c     cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess, ...
     cuMemPool.c        cuMemAllocAsync, cuMemAllocFromPool, cuMemFreeAsync, cuDeviceSetMemPool
     cuArray.c          cuMipmappedArray
     cuTexObject.c      cuSurfObject
     cuTensorMap.c      tensor maps
     cuTexRef.c         cuSurfRef, cuModuleGetTexRef, cuModuleGetSurfRef, cuParamSetTexRef
     cuIpc.c            what exports and imports memory pools
     cuLibrary.c        cuKernel
     cuParam.c          the launches of CUDA before 4.0
     cuGraphNode.c      what adds nodes, and changes their parameters
     cuGraphExec.c      cuGraphInstantiate, cuGraphLaunch, cuGraphUpload
     cuUserObject.c     cuGraphRetainUserObject, cuGraphReleaseUserObject, cuGraphConditionalHandle
     entry.c            what every entry point does before and after its work; cuGetErrorName,
                        cuGetErrorString
     names.c            the names of all entry points, and their versions
     missing.c          entry points that are not implemented

   Every entry point is written with SIM_API: its body runs with sim_lock held, after the checks it
   names. */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include "../base/base.h"
#include "../base/cudadefs.h"
#include "../objects/objects.h"

enum sim_need {
    SIM_PURE, /* nothing, not even cuInit */
    SIM_INIT,
    SIM_EASY,       /* as SIM_HEALTHY, but also allowed in host functions, on streams that have a
                       handle */
    SIM_HEALTHY,    /* and no sticky error */
    SIM_CTX,        /* and a current context */
    SIM_MISSING,    /* not implemented: 801 */
    SIM_UNSAFE = 16 /* added: a call that captures may forbid */
};
/* said: a line on stderr why it is 801 */
struct sim_call {
    const char *symbol;
    int version;
    bool said;
};
/* takes sim_lock; 0, or the result to return */
int sim_enter(struct sim_call *call, unsigned need);
int sim_leave(struct sim_call *call, int result); /* releases it; logs; flushes kernel printf */
extern bool sim_ready, sim_forked; /* cuInit has succeeded; in this process's parent */
/* names.c: base name, symbol, driver version that introduced this ABI, suffix of the variant for
   per-thread default streams or "" */
struct sim_name {
    const char *base, *symbol;
    int version;
    const char *per_thread;
    bool missing;
};
extern const struct sim_name sim_names[];
extern const unsigned sim_names_count;
/* driver version that introduced an entry point, 0 if it is not in the table */
int sim_version_of(const char *symbol);

#define SIM_WRAP_(symbol, body, parameters, arguments, need, per_thread) \
    SIM_EXPORT int symbol parameters; \
    SIM_EXPORT int symbol parameters { \
        static struct sim_call call = { #symbol, 0, false }; \
        int result = sim_enter(&call, need); \
        sim_self.per_thread_default = per_thread; \
        return sim_leave(&call, result ? result : body arguments); \
    }
/* SIM_API(symbol, (parameters), (arguments), need) { body }. SIM_API_ALSO also defines the symbol
   of an older ABI with the same parameters. SIM_API_STREAM also defines symbol + suffix, where the
   NULL stream is the per-thread default stream: _ptsz for calls that take a stream, _ptds for
   synchronous ones. */
#define SIM_API(symbol, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    static int symbol##_body parameters
#define SIM_API_ALSO(symbol, other, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    SIM_WRAP_(other, symbol##_body, parameters, arguments, need, false) \
    static int symbol##_body parameters
#define SIM_API_STREAM(symbol, suffix, parameters, arguments, need) \
    static int symbol##_body parameters; \
    SIM_WRAP_(symbol, symbol##_body, parameters, arguments, need, false) \
    SIM_WRAP_(symbol##suffix, symbol##_body, parameters, arguments, need, true) \
    static int symbol##_body parameters

#endif
