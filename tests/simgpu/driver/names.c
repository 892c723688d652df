/* names.c - the names of all entry points, and the versions that introduced them. */
#include "driver.h"

const struct sim_name sim_names[] = {
#define R(name, version) { #name, #name, version, "", false },
#define S(name, version, symbol) { #name, #symbol, version, "", false },
#define T(name, version, per_thread) { #name, #name, version, #per_thread, false },
#define U(name, version, symbol, per_thread) { #name, #symbol, version, #per_thread, false },
    R(cuInit, 2000) R(cuDriverGetVersion, 2020) R(cuGetErrorName, 6000) R(cuGetErrorString, 6000)
    R(cuLogsRegisterCallback, 12090) R(cuLogsUnregisterCallback, 12090) R(cuLogsCurrent, 12090)
    R(cuLogsDumpToMemory, 12090) R(cuLogsDumpToFile, 12090) R(cuGetExportTable, 3000)
    S(cuGetProcAddress, 11030, cuGetProcAddress) S(cuGetProcAddress, 12000, cuGetProcAddress_v2)
    R(cuProfilerStart, 4000) R(cuProfilerStop, 4000)

    R(cuDeviceGet, 2000) R(cuDeviceGetCount, 2000) R(cuDeviceGetName, 2000) S(cuDeviceGetUuid, 9020, cuDeviceGetUuid)
    S(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2) S(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)
    R(cuDeviceGetAttribute, 2000) R(cuDeviceGetPCIBusId, 4010) R(cuDeviceGetByPCIBusId, 4010)
    R(cuDeviceCanAccessPeer, 4000) R(cuDeviceGetP2PAttribute, 8000) R(cuDeviceComputeCapability, 2000)
    R(cuDeviceGetProperties, 2000) R(cuDeviceGetDefaultMemPool, 11020) R(cuDeviceGetMemPool, 11020)

    R(cuDevicePrimaryCtxRetain, 7000) S(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease)
    S(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)
    S(cuDevicePrimaryCtxReset, 7000, cuDevicePrimaryCtxReset)
    S(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2) R(cuDevicePrimaryCtxGetState, 7000)
    S(cuDevicePrimaryCtxSetFlags, 7000, cuDevicePrimaryCtxSetFlags)
    S(cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2) R(cuCtxCreate, 2000)
    S(cuCtxCreate, 3020, cuCtxCreate_v2) S(cuCtxCreate, 11040, cuCtxCreate_v3) S(cuCtxCreate, 12050, cuCtxCreate_v4)
    R(cuCtxDestroy, 2000) S(cuCtxDestroy, 4000, cuCtxDestroy_v2) R(cuCtxPushCurrent, 2000)
    S(cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2) R(cuCtxPopCurrent, 2000) S(cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2)
    R(cuCtxSetCurrent, 4000) R(cuCtxGetCurrent, 4000) S(cuCtxGetDevice, 2000, cuCtxGetDevice)
    S(cuCtxGetDevice, 13000, cuCtxGetDevice_v2) S(cuCtxSynchronize, 2000, cuCtxSynchronize)
    S(cuCtxSynchronize, 13000, cuCtxSynchronize_v2) R(cuCtxGetFlags, 7000) R(cuCtxSetFlags, 12010) R(cuCtxGetId, 12000)
    R(cuCtxGetApiVersion, 3020) R(cuCtxGetLimit, 3010) R(cuCtxSetLimit, 3010) R(cuCtxGetStreamPriorityRange, 5050)
    R(cuCtxAttach, 2000) R(cuCtxDetach, 2000) R(cuCtxEnablePeerAccess, 4000) R(cuCtxDisablePeerAccess, 4000)
    R(cuCtxGetCacheConfig, 3020) R(cuCtxSetCacheConfig, 3020) R(cuCtxGetSharedMemConfig, 4020)
    R(cuCtxSetSharedMemConfig, 4020) R(cuCtxResetPersistingL2Cache, 11000)

    R(cuModuleLoad, 2000) R(cuModuleLoadData, 2000) R(cuModuleLoadDataEx, 2010) R(cuModuleLoadFatBinary, 2000)
    R(cuModuleUnload, 2000) R(cuModuleGetFunction, 2000) S(cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2)
    R(cuModuleGetFunctionCount, 12040) R(cuLinkCreate, 5050) S(cuLinkCreate, 6050, cuLinkCreate_v2)
    R(cuLinkAddData, 5050) S(cuLinkAddData, 6050, cuLinkAddData_v2) R(cuLinkAddFile, 5050)
    S(cuLinkAddFile, 6050, cuLinkAddFile_v2) R(cuLinkComplete, 5050) R(cuLinkDestroy, 5050)
    R(cuModuleEnumerateFunctions, 12040) R(cuModuleGetLoadingMode, 11070) R(cuFuncGetAttribute, 2020)
    R(cuFuncSetAttribute, 9000) R(cuFuncGetName, 12030) R(cuFuncGetModule, 11000) R(cuFuncGetParamInfo, 12040)
    R(cuFuncGetParamCount, 13020) R(cuFuncSetCacheConfig, 3000) R(cuFuncSetSharedMemConfig, 4020) R(cuFuncLoad, 12040)
    R(cuFuncIsLoaded, 12040) R(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)
    R(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) R(cuOccupancyMaxPotentialBlockSize, 6050)
    R(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000) R(cuOccupancyMaxActiveClusters, 11070)
    R(cuOccupancyMaxPotentialClusterSize, 11070) R(cuOccupancyAvailableDynamicSMemPerBlock, 10020)
    T(cuLaunchKernel, 4000, _ptsz) T(cuLaunchKernelEx, 11060, _ptsz) T(cuLaunchCooperativeKernel, 9000, _ptsz)
    R(cuLaunchCooperativeKernelMultiDevice, 9000) T(cuLaunchHostFunc, 10000, _ptsz)
    R(cuFuncSetBlockShape, 2000) R(cuFuncSetSharedSize, 2000) R(cuParamSetSize, 2000) R(cuParamSeti, 2000)
    R(cuParamSetf, 2000) R(cuParamSetv, 2000) R(cuLaunch, 2000) R(cuLaunchGrid, 2000) R(cuLaunchGridAsync, 2000)

    R(cuLibraryLoadData, 12000) R(cuLibraryLoadFromFile, 12000) R(cuLibraryUnload, 12000) R(cuLibraryGetKernel, 12000)
    R(cuLibraryGetKernelCount, 12040) R(cuLibraryEnumerateKernels, 12040) R(cuLibraryGetModule, 12000)
    R(cuLibraryGetGlobal, 12000) R(cuLibraryGetManaged, 12000) R(cuLibraryGetUnifiedFunction, 12000)
    R(cuKernelGetFunction, 12000) R(cuKernelGetLibrary, 12050) R(cuKernelGetAttribute, 12000)
    R(cuKernelSetAttribute, 12000) R(cuKernelSetCacheConfig, 12000) R(cuKernelGetName, 12030)
    R(cuKernelGetParamInfo, 12040) R(cuKernelGetParamCount, 13020)

    S(cuMemAlloc, 3020, cuMemAlloc_v2) S(cuMemAllocPitch, 3020, cuMemAllocPitch_v2) S(cuMemFree, 3020, cuMemFree_v2)
    S(cuMemGetInfo, 3020, cuMemGetInfo_v2) S(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2)
    S(cuMemAllocHost, 3020, cuMemAllocHost_v2) R(cuMemHostAlloc, 2020) R(cuMemFreeHost, 2000)
    S(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2) R(cuMemHostGetFlags, 2030)
    R(cuMemHostRegister, 4000) S(cuMemHostRegister, 6050, cuMemHostRegister_v2) R(cuMemHostUnregister, 4000)
    R(cuMemAllocManaged, 6000) T(cuMemAllocAsync, 11020, _ptsz) T(cuMemAllocFromPoolAsync, 11020, _ptsz)
    T(cuMemFreeAsync, 11020, _ptsz) R(cuMemPoolSetAttribute, 11020) R(cuMemPoolGetAttribute, 11020)
    R(cuMemPoolTrimTo, 11020) R(cuMemPoolCreate, 11020) R(cuMemPoolDestroy, 11020) R(cuPointerGetAttribute, 4000)
    R(cuDeviceSetMemPool, 11020) R(cuMemPoolGetAccess, 11020) R(cuMemPoolSetAccess, 11020)
    R(cuPointerGetAttributes, 7000)

    T(cuMemcpy, 4000, _ptds) T(cuMemcpyAsync, 4000, _ptsz) T(cuMemcpyPeer, 4000, _ptds)
    T(cuMemcpyPeerAsync, 4000, _ptsz) U(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2, _ptds)
    U(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2, _ptds) U(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2, _ptds)
    U(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2, _ptsz) U(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2, _ptsz)
    U(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2, _ptsz) U(cuMemcpy2D, 3020, cuMemcpy2D_v2, _ptds)
    U(cuMemcpy2DUnaligned, 3020, cuMemcpy2DUnaligned_v2, _ptds) U(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2, _ptsz)
    U(cuMemsetD8, 3020, cuMemsetD8_v2, _ptds) U(cuMemsetD16, 3020, cuMemsetD16_v2, _ptds)
    U(cuMemsetD32, 3020, cuMemsetD32_v2, _ptds) U(cuMemsetD2D8, 3020, cuMemsetD2D8_v2, _ptds)
    U(cuMemsetD2D16, 3020, cuMemsetD2D16_v2, _ptds) U(cuMemsetD2D32, 3020, cuMemsetD2D32_v2, _ptds)
    T(cuMemsetD8Async, 3020, _ptsz) T(cuMemsetD16Async, 3020, _ptsz) T(cuMemsetD32Async, 3020, _ptsz)
    T(cuMemsetD2D8Async, 3020, _ptsz) T(cuMemsetD2D16Async, 3020, _ptsz) T(cuMemsetD2D32Async, 3020, _ptsz)
    R(cuMemAdvise, 8000) S(cuMemAdvise, 12020, cuMemAdvise_v2) T(cuMemPrefetchAsync, 8000, _ptsz)
    U(cuMemPrefetchAsync, 12020, cuMemPrefetchAsync_v2, _ptsz) R(cuMemRangeGetAttribute, 8000)
    R(cuMemRangeGetAttributes, 8000) U(cuMemcpy3D, 3020, cuMemcpy3D_v2, _ptds)
    U(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2, _ptsz) T(cuMemcpy3DBatchAsync, 12080, _ptsz)
    U(cuMemcpy3DBatchAsync, 13000, cuMemcpy3DBatchAsync_v2, _ptsz) T(cuMemcpy3DPeer, 4000, _ptds)
    T(cuMemcpy3DPeerAsync, 4000, _ptsz) T(cuMemcpyBatchAsync, 12080, _ptsz)
    U(cuMemcpyBatchAsync, 13000, cuMemcpyBatchAsync_v2, _ptsz) T(cuStreamAttachMemAsync, 6000, _ptsz)

    R(cuStreamCreate, 2000) R(cuStreamCreateWithPriority, 5050) R(cuStreamDestroy, 2000)
    S(cuStreamDestroy, 4000, cuStreamDestroy_v2) T(cuStreamSynchronize, 2000, _ptsz) T(cuStreamQuery, 2000, _ptsz)
    T(cuStreamWaitEvent, 3020, _ptsz) T(cuStreamGetCtx, 9020, _ptsz) U(cuStreamGetCtx, 12050, cuStreamGetCtx_v2, _ptsz)
    T(cuStreamGetFlags, 5050, _ptsz) T(cuStreamGetPriority, 5050, _ptsz) T(cuStreamGetId, 12000, _ptsz)
    T(cuStreamGetDevice, 12080, _ptsz) T(cuStreamWaitValue32, 8000, _ptsz)
    U(cuStreamWaitValue32, 11070, cuStreamWaitValue32_v2, _ptsz) T(cuStreamWaitValue64, 9000, _ptsz)
    U(cuStreamWaitValue64, 11070, cuStreamWaitValue64_v2, _ptsz) T(cuStreamWriteValue32, 8000, _ptsz)
    U(cuStreamWriteValue32, 11070, cuStreamWriteValue32_v2, _ptsz) T(cuStreamWriteValue64, 9000, _ptsz)
    U(cuStreamWriteValue64, 11070, cuStreamWriteValue64_v2, _ptsz) T(cuStreamAddCallback, 5000, _ptsz)
    T(cuStreamIsCapturing, 10000, _ptsz) R(cuEventCreate, 2000) R(cuEventDestroy, 2000)
    S(cuEventDestroy, 4000, cuEventDestroy_v2) T(cuEventRecord, 2000, _ptsz) T(cuEventRecordWithFlags, 11010, _ptsz)
    R(cuEventQuery, 2000) R(cuEventSynchronize, 2000) S(cuEventElapsedTime, 2000, cuEventElapsedTime)
    S(cuEventElapsedTime, 12080, cuEventElapsedTime_v2)

    T(cuStreamBeginCapture, 10000, _ptsz) U(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, _ptsz)
    T(cuStreamBeginCaptureToGraph, 12030, _ptsz) T(cuStreamEndCapture, 10000, _ptsz)
    T(cuStreamGetCaptureInfo, 10010, _ptsz) U(cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2, _ptsz)
    U(cuStreamGetCaptureInfo, 12030, cuStreamGetCaptureInfo_v3, _ptsz)
    T(cuStreamUpdateCaptureDependencies, 11030, _ptsz)
    U(cuStreamUpdateCaptureDependencies, 12030, cuStreamUpdateCaptureDependencies_v2, _ptsz)
    R(cuThreadExchangeStreamCaptureMode, 10010) R(cuGraphCreate, 10000) R(cuGraphDestroy, 10000) R(cuGraphClone, 10000)
    R(cuGraphNodeFindInClone, 10000) R(cuGraphGetNodes, 10000) R(cuGraphGetRootNodes, 10000) R(cuGraphGetEdges, 10000)
    S(cuGraphGetEdges, 12030, cuGraphGetEdges_v2) R(cuGraphNodeGetType, 10000) R(cuGraphNodeGetDependencies, 10000)
    S(cuGraphNodeGetDependencies, 12030, cuGraphNodeGetDependencies_v2) R(cuGraphNodeGetDependentNodes, 10000)
    S(cuGraphNodeGetDependentNodes, 12030, cuGraphNodeGetDependentNodes_v2) R(cuGraphDestroyNode, 10000)
    R(cuGraphAddEmptyNode, 10000) R(cuGraphAddDependencies, 10000)
    S(cuGraphAddDependencies, 12030, cuGraphAddDependencies_v2) R(cuGraphRemoveDependencies, 10000)
    S(cuGraphRemoveDependencies, 12030, cuGraphRemoveDependencies_v2) R(cuGraphInstantiate, 10000)
    S(cuGraphInstantiate, 11000, cuGraphInstantiate_v2) R(cuGraphInstantiateWithFlags, 11040)
    T(cuGraphInstantiateWithParams, 12000, _ptsz) R(cuGraphExecGetFlags, 12000) T(cuGraphLaunch, 10000, _ptsz)
    T(cuGraphUpload, 11010, _ptsz) R(cuGraphExecDestroy, 10000) R(cuGraphExecUpdate, 10020)
    S(cuGraphExecUpdate, 12000, cuGraphExecUpdate_v2) R(cuGraphDebugDotPrint, 11030)
    R(cuGraphKernelNodeGetParams, 10000) S(cuGraphKernelNodeGetParams, 12000, cuGraphKernelNodeGetParams_v2)
    R(cuGraphMemcpyNodeGetParams, 10000) R(cuGraphMemsetNodeGetParams, 10000) R(cuGraphHostNodeGetParams, 10000)
    R(cuGraphMemAllocNodeGetParams, 11040) R(cuGraphMemFreeNodeGetParams, 11040)
    R(cuGraphEventRecordNodeGetEvent, 11010) R(cuGraphEventWaitNodeGetEvent, 11010)
    R(cuGraphAddNode, 12020) S(cuGraphAddNode, 12030, cuGraphAddNode_v2) R(cuGraphConditionalHandleCreate, 12030)
    R(cuGraphEventRecordNodeSetEvent, 11010) R(cuGraphEventWaitNodeSetEvent, 11010)
    R(cuGraphExecChildGraphNodeSetParams, 11010) R(cuGraphExecEventRecordNodeSetEvent, 11010)
    R(cuGraphExecEventWaitNodeSetEvent, 11010) R(cuGraphExecHostNodeSetParams, 10020)
    R(cuGraphExecMemcpyNodeSetParams, 10020) R(cuGraphExecMemsetNodeSetParams, 10020) R(cuGraphExecNodeSetParams, 12020)
    R(cuGraphHostNodeSetParams, 10000) R(cuGraphKernelNodeCopyAttributes, 11000) R(cuGraphKernelNodeGetAttribute, 11000)
    R(cuGraphKernelNodeSetAttribute, 11000) R(cuGraphMemcpyNodeSetParams, 10000) R(cuGraphMemsetNodeSetParams, 10000)
    R(cuGraphNodeGetEnabled, 11060) R(cuGraphNodeSetEnabled, 11060) R(cuGraphNodeSetParams, 12020)
    R(cuGraphReleaseUserObject, 11030) R(cuGraphRetainUserObject, 11030) R(cuUserObjectCreate, 11030)
    R(cuUserObjectRelease, 11030) R(cuUserObjectRetain, 11030)
    R(cuGraphAddChildGraphNode, 10000) R(cuGraphAddEventRecordNode, 11010) R(cuGraphAddEventWaitNode, 11010)
    R(cuGraphAddHostNode, 10000) R(cuGraphAddKernelNode, 10000) S(cuGraphAddKernelNode, 12000, cuGraphAddKernelNode_v2)
    R(cuGraphAddMemAllocNode, 11040) R(cuGraphAddMemFreeNode, 11040) R(cuGraphAddMemcpyNode, 10000)
    R(cuGraphAddMemsetNode, 10000) R(cuGraphChildGraphNodeGetGraph, 10000) R(cuGraphExecKernelNodeSetParams, 10010)
    S(cuGraphExecKernelNodeSetParams, 12000, cuGraphExecKernelNodeSetParams_v2) R(cuGraphKernelNodeSetParams, 10000)
    S(cuGraphKernelNodeSetParams, 12000, cuGraphKernelNodeSetParams_v2)

    R(cuIpcGetMemHandle, 4010) R(cuIpcOpenMemHandle, 4010) S(cuIpcOpenMemHandle, 11000, cuIpcOpenMemHandle_v2)
    R(cuIpcCloseMemHandle, 4010) R(cuIpcGetEventHandle, 4010) R(cuIpcOpenEventHandle, 4010)
    R(cuMemPoolExportToShareableHandle, 11020) R(cuMemPoolImportFromShareableHandle, 11020)
    R(cuMemPoolExportPointer, 11020) R(cuMemPoolImportPointer, 11020)
#undef R
#undef S
#undef T
#undef U
#define R(name, version) { #name, #name, version, "", true },
#define S(name, version, symbol) { #name, #symbol, version, "", true },
#define T(name, version, per_thread) { #name, #name, version, #per_thread, true },
#define U(name, version, symbol, per_thread) { #name, #symbol, version, #per_thread, true },
#include "missing.h"
};
const unsigned sim_names_count = sizeof sim_names / sizeof *sim_names;

int sim_version_of(const char *symbol) {
    for (unsigned i = 0; i < sim_names_count; i++) {
        const size_t n = strlen(sim_names[i].symbol);
        if (strncmp(sim_names[i].symbol, symbol, n)) continue;
        if (!symbol[n] || !strcmp(symbol + n, sim_names[i].per_thread)) return sim_names[i].version;
    }
    return 0;
}
