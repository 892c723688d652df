/* probe.h - probes of any driver. A group of probes runs in a separate process, so that an error that poisons or ends a
   process affects only that group. Every probe prints one line, `group.probe answer`: a CUresult, or small numbers that
   are the same in each run. */
#ifndef PROBE_H
#define PROBE_H
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE                             /* MAP_ANONYMOUS, under -std=c99 */
#endif
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long ptr;                      /* CUdeviceptr */

typedef struct copy_2d {                             /* CUDA_MEMCPY2D */
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void       *to_host;
    ptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;
typedef struct copy_3d {                             /* CUDA_MEMCPY3D; of a peer, `reserved` is a context */
    size_t from_x, from_y, from_z, from_lod;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array, *from_reserved;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_lod;
    unsigned to_type;
    void       *to_host;
    ptr to_device;
    void *to_array, *to_reserved;
    size_t to_pitch, to_height;
    size_t width, height, depth;
} copy_3d;
typedef struct location { unsigned type; int id; } location;              /* CUmemLocation */
typedef struct copy_attributes { unsigned order; location from, to; unsigned flags; } copy_attributes;
typedef struct operand { unsigned type; ptr address; size_t row, rows; location hint; } operand;      /* a pointer */
typedef struct copy_op { operand from, to; size_t width, height, depth; unsigned order, flags; } copy_op;
typedef struct update { int result; void *node, *from; } update;          /* CUgraphExecUpdateResultInfo */
typedef struct attribute { unsigned id, pad; union { char size[64]; int flag; unsigned dim[3]; } value; }
attribute;      /* CUlaunchAttribute */
/* CUlaunchConfig */
typedef struct config { unsigned grid[3], block[3], shared; void *stream; attribute *list; unsigned n; } config;
/* CUDA_LAUNCH_PARAMS */
typedef struct part { void *function; unsigned grid[3], block[3], shared; void *stream, **params; } part;
enum { HOST = 1, DEVICE, ARRAY, UNIFIED };           /* CUmemorytype */
enum { LOG_INFO = 3, LOG_INFO_SIZE, LOG_ERROR, LOG_ERROR_SIZE, LOG_VERBOSE = 12, WALL_TIME = 2 };     /* CUjit_option */
enum { MAX_DYNAMIC = 8, CARVEOUT = 9 };              /* CUfunction_attribute */

/* Name, exported symbol, parameters. The symbols are those of the ABI that gpuexec.h uses. */
#define SHAPE unsigned, unsigned, unsigned, unsigned, unsigned, unsigned
#define PLACE void **, void *, void *const *, size_t           /* of a node */
#define CALLS(X) \
    X(init, "cuInit", (unsigned)) X(version, "cuDriverGetVersion", (int *)) \
    X(error_name, "cuGetErrorName", (int, const char **)) \
    X(error_string, "cuGetErrorString", (int, const char **)) \
    X(address, "cuGetProcAddress_v2", (const char *, void **, int, uint64_t, int *)) \
    X(old_address, "cuGetProcAddress", (const char *, void **, int, uint64_t)) \
    X(device, "cuDeviceGet", (int *, int)) X(count, "cuDeviceGetCount", (int *)) \
    X(name, "cuDeviceGetName", (char *, int, int)) \
    X(attribute, "cuDeviceGetAttribute", (int *, int, int)) X(total, "cuDeviceTotalMem_v2", (size_t *, int)) \
    X(bus, "cuDeviceGetPCIBusId", (char *, int, int)) X(uuid, "cuDeviceGetUuid_v2", (unsigned char *, int)) \
    X(can_access, "cuDeviceCanAccessPeer", (int *, int, int)) \
    X(link, "cuDeviceGetP2PAttribute", (int *, int, int, int)) X(retain, "cuDevicePrimaryCtxRetain", (void **, int)) \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int)) X(reset, "cuDevicePrimaryCtxReset_v2", (int)) \
    X(primary_flags, "cuDevicePrimaryCtxSetFlags_v2", (int, unsigned)) \
    X(primary_state, "cuDevicePrimaryCtxGetState", (int, unsigned *, int *)) \
    X(current, "cuCtxGetCurrent", (void **)) X(set_current, "cuCtxSetCurrent", (void *)) \
    X(push, "cuCtxPushCurrent_v2", (void *)) \
    X(pop, "cuCtxPopCurrent_v2", (void **)) X(context_device, "cuCtxGetDevice", (int *)) \
    X(create, "cuCtxCreate_v2", (void **, unsigned, int)) \
    X(destroy, "cuCtxDestroy_v2", (void *)) X(api_version, "cuCtxGetApiVersion", (void *, unsigned *)) \
    X(context_id, "cuCtxGetId", (void *, unsigned long long *)) X(context_flags, "cuCtxGetFlags", (unsigned *)) \
    X(get_limit, "cuCtxGetLimit", (size_t *, int)) X(set_limit, "cuCtxSetLimit", (int, size_t)) \
    X(priorities, "cuCtxGetStreamPriorityRange", (int *, int *)) X(attach, "cuCtxAttach", (void **, unsigned)) \
    X(detach, "cuCtxDetach", (void *)) \
    X(sync, "cuCtxSynchronize", (void)) X(enable_peer, "cuCtxEnablePeerAccess", (void *, unsigned)) \
    X(disable_peer, "cuCtxDisablePeerAccess", (void *)) \
    X(load, "cuModuleLoadData", (void **, const void *)) \
    X(load_ex, "cuModuleLoadDataEx", (void **, const void *, unsigned, int *, void **)) \
    X(unload, "cuModuleUnload", (void *)) X(function, "cuModuleGetFunction", (void **, void *, const char *)) \
    X(global, "cuModuleGetGlobal_v2", (ptr *, size_t *, void *, const char *)) \
    X(function_count, "cuModuleGetFunctionCount", (unsigned *, void *)) \
    X(functions, "cuModuleEnumerateFunctions", (void **, unsigned, void *)) \
    X(function_name, "cuFuncGetName", (const char **, void *)) \
    X(function_module, "cuFuncGetModule", (void **, void *)) \
    X(param, "cuFuncGetParamInfo", (void *, size_t, size_t *, size_t *)) \
    X(get_attribute, "cuFuncGetAttribute", (int *, int, void *)) \
    X(set_attribute, "cuFuncSetAttribute", (void *, int, int)) \
    X(function_load, "cuFuncLoad", (void *)) X(function_loaded, "cuFuncIsLoaded", (int *, void *)) \
    X(function_cache, "cuFuncSetCacheConfig", (void *, int)) \
    X(function_shared, "cuFuncSetSharedMemConfig", (void *, int)) \
    X(loading_mode, "cuModuleGetLoadingMode", (int *)) \
    X(library_load, "cuLibraryLoadData", \
      (void **, const void *, int *, void **, unsigned, int *, void **, unsigned)) \
    X(library_file, "cuLibraryLoadFromFile", \
      (void **, const char *, int *, void **, unsigned, int *, void **, unsigned)) \
    X(library_unload, "cuLibraryUnload", (void *)) X(library_module, "cuLibraryGetModule", (void **, void *)) \
    X(library_kernel, "cuLibraryGetKernel", (void **, void *, const char *)) \
    X(library_count, "cuLibraryGetKernelCount", (unsigned *, void *)) \
    X(library_kernels, "cuLibraryEnumerateKernels", (void **, unsigned, void *)) \
    X(library_global, "cuLibraryGetGlobal", (ptr *, size_t *, void *, const char *)) \
    X(library_managed, "cuLibraryGetManaged", (ptr *, size_t *, void *, const char *)) \
    X(library_unified, "cuLibraryGetUnifiedFunction", (void **, void *, const char *)) \
    X(kernel_function, "cuKernelGetFunction", (void **, void *)) \
    X(kernel_library, "cuKernelGetLibrary", (void **, void *)) \
    X(kernel_name, "cuKernelGetName", (const char **, void *)) \
    X(kernel_param, "cuKernelGetParamInfo", (void *, size_t, size_t *, size_t *)) \
    X(kernel_get, "cuKernelGetAttribute", (int *, int, void *, int)) \
    X(kernel_set, "cuKernelSetAttribute", (int, int, void *, int)) \
    X(kernel_cache, "cuKernelSetCacheConfig", (void *, int, int)) \
    X(link_create, "cuLinkCreate_v2", (unsigned, int *, void **, void **)) \
    X(link_add, "cuLinkAddData_v2", (void *, int, void *, size_t, const char *, unsigned, int *, void **)) \
    X(link_complete, "cuLinkComplete", (void *, void **, size_t *)) X(link_destroy, "cuLinkDestroy", (void *)) \
    X(blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, void *, int, size_t)) \
    X(block_size, "cuOccupancyMaxPotentialBlockSize", (int *, int *, void *, size_t (*)(int), size_t, int)) \
    X(available, "cuOccupancyAvailableDynamicSMemPerBlock", (size_t *, void *, int, int)) \
    X(active_clusters, "cuOccupancyMaxActiveClusters", (int *, void *, const config *)) \
    X(cluster_size, "cuOccupancyMaxPotentialClusterSize", (int *, void *, const config *)) \
    X(launch, "cuLaunchKernel", (void *, SHAPE, unsigned, void *, void **, void **)) \
    X(launch_ex, "cuLaunchKernelEx", (const config *, void *, void **, void **)) \
    X(cooperative, "cuLaunchCooperativeKernel", (void *, SHAPE, unsigned, void *, void **)) \
    X(multi, "cuLaunchCooperativeKernelMultiDevice", (part *, unsigned, unsigned)) \
    X(host_function, "cuLaunchHostFunc", (void *, void (*)(void *), void *)) \
    X(alloc, "cuMemAlloc_v2", (ptr *, size_t)) \
    X(alloc_pitch, "cuMemAllocPitch_v2", (ptr *, size_t *, size_t, size_t, unsigned)) \
    X(free, "cuMemFree_v2", (ptr)) X(memory, "cuMemGetInfo_v2", (size_t *, size_t *)) \
    X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned)) \
    X(host_free, "cuMemFreeHost", (void *)) X(host_register, "cuMemHostRegister_v2", (void *, size_t, unsigned)) \
    X(host_unregister, "cuMemHostUnregister", (void *)) X(host_flags, "cuMemHostGetFlags", (unsigned *, void *)) \
    X(host_address, "cuMemHostGetDevicePointer_v2", (ptr *, void *, unsigned)) \
    X(range, "cuMemGetAddressRange_v2", (ptr *, size_t *, ptr)) \
    X(pointer, "cuPointerGetAttribute", (void *, int, ptr)) \
    X(pointers, "cuPointerGetAttributes", (unsigned, int *, void **, ptr)) \
    X(to_device, "cuMemcpyHtoD_v2", (ptr, const void *, size_t)) X(to_host, "cuMemcpyDtoH_v2", (void *, ptr, size_t)) \
    X(copy, "cuMemcpyDtoD_v2", (ptr, ptr, size_t)) \
    X(to_device_async, "cuMemcpyHtoDAsync_v2", (ptr, const void *, size_t, void *)) \
    X(to_host_async, "cuMemcpyDtoHAsync_v2", (void *, ptr, size_t, void *)) \
    X(copy_async, "cuMemcpyDtoDAsync_v2", (ptr, ptr, size_t, void *)) \
    X(copy_2d, "cuMemcpy2DAsync_v2", (const copy_2d *, void *)) \
    X(copy_peer, "cuMemcpyPeerAsync", (ptr, void *, ptr, void *, size_t, void *)) \
    X(copy_3d, "cuMemcpy3DAsync_v2", (const copy_3d *, void *)) X(copy_3d_now, "cuMemcpy3D_v2", (const copy_3d *)) \
    X(copy_3d_peer, "cuMemcpy3DPeerAsync", (const copy_3d *, void *)) \
    X(copy_3d_peer_now, "cuMemcpy3DPeer", (const copy_3d *)) \
    X(batch, "cuMemcpyBatchAsync_v2", \
      (ptr *, ptr *, size_t *, size_t, copy_attributes *, size_t *, size_t, void *)) \
    X(old_batch, "cuMemcpyBatchAsync", \
      (ptr *, ptr *, size_t *, size_t, copy_attributes *, size_t *, size_t, size_t *, void *)) \
    X(batch_3d, "cuMemcpy3DBatchAsync_v2", (size_t, copy_op *, unsigned long long, void *)) \
    X(old_batch_3d, "cuMemcpy3DBatchAsync", (size_t, copy_op *, size_t *, unsigned long long, void *)) \
    X(fill_2d_16, "cuMemsetD2D16Async", (ptr, size_t, unsigned short, size_t, size_t, void *)) \
    X(fill_2d_32, "cuMemsetD2D32Async", (ptr, size_t, unsigned, size_t, size_t, void *)) \
    X(managed, "cuMemAllocManaged", (ptr *, size_t, unsigned)) \
    X(attach_memory, "cuStreamAttachMemAsync", (void *, ptr, size_t, unsigned)) \
    X(prefetch, "cuMemPrefetchAsync_v2", (ptr, size_t, location, unsigned, void *)) \
    X(old_prefetch, "cuMemPrefetchAsync", (ptr, size_t, int, void *)) \
    X(advise, "cuMemAdvise_v2", (ptr, size_t, int, location)) X(old_advise, "cuMemAdvise", (ptr, size_t, int, int)) \
    X(range_attribute, "cuMemRangeGetAttribute", (void *, size_t, int, ptr, size_t)) \
    X(range_attributes, "cuMemRangeGetAttributes", (void **, size_t *, int *, size_t, ptr, size_t)) \
    X(fill_8, "cuMemsetD8Async", (ptr, unsigned char, size_t, void *)) \
    X(fill_16, "cuMemsetD16Async", (ptr, unsigned short, size_t, void *)) \
    X(fill_32, "cuMemsetD32Async", (ptr, unsigned, size_t, void *)) \
    X(fill_2d, "cuMemsetD2D8Async", (ptr, size_t, unsigned char, size_t, size_t, void *)) \
    X(fill_32_now, "cuMemsetD32_v2", (ptr, unsigned, size_t)) \
    X(stream, "cuStreamCreateWithPriority", (void **, unsigned, int)) \
    X(stream_destroy, "cuStreamDestroy_v2", (void *)) \
    X(stream_sync, "cuStreamSynchronize", (void *)) X(stream_query, "cuStreamQuery", (void *)) \
    X(wait_event, "cuStreamWaitEvent", (void *, void *, unsigned)) \
    X(stream_context, "cuStreamGetCtx", (void *, void **)) X(stream_flags, "cuStreamGetFlags", (void *, unsigned *)) \
    X(stream_priority, "cuStreamGetPriority", (void *, int *)) \
    X(stream_id, "cuStreamGetId", (void *, unsigned long long *)) \
    X(stream_device, "cuStreamGetDevice", (void *, int *)) X(event, "cuEventCreate", (void **, unsigned)) \
    X(event_destroy, "cuEventDestroy_v2", (void *)) \
    X(record, "cuEventRecord", (void *, void *)) X(event_sync, "cuEventSynchronize", (void *)) \
    X(event_query, "cuEventQuery", (void *)) \
    X(elapsed, "cuEventElapsedTime", (float *, void *, void *)) \
    X(record_with, "cuEventRecordWithFlags", (void *, void *, unsigned)) \
    X(alloc_async, "cuMemAllocAsync", (ptr *, size_t, void *)) X(free_async, "cuMemFreeAsync", (ptr, void *)) \
    X(alloc_from, "cuMemAllocFromPoolAsync", (ptr *, size_t, void *, void *)) \
    X(pool, "cuMemPoolCreate", (void **, const void *)) X(pool_destroy, "cuMemPoolDestroy", (void *)) \
    X(pool_get, "cuMemPoolGetAttribute", (void *, int, void *)) \
    X(pool_set, "cuMemPoolSetAttribute", (void *, int, void *)) X(pool_trim, "cuMemPoolTrimTo", (void *, size_t)) \
    X(pool_default, "cuDeviceGetDefaultMemPool", (void **, int)) X(pool_current, "cuDeviceGetMemPool", (void **, int)) \
    X(pool_share, "cuMemPoolSetAccess", (void *, const void *, size_t)) \
    X(pool_shared, "cuMemPoolGetAccess", (unsigned *, void *, location *)) \
    X(pool_use, "cuDeviceSetMemPool", (int, void *)) \
    X(add_callback, "cuStreamAddCallback", (void *, void (*)(void *, int, void *), void *, unsigned)) \
    X(wait_value, "cuStreamWaitValue32_v2", (void *, ptr, unsigned, unsigned)) \
    X(write_value, "cuStreamWriteValue32_v2", (void *, ptr, unsigned, unsigned)) \
    X(begin_capture, "cuStreamBeginCapture_v2", (void *, int)) X(end_capture, "cuStreamEndCapture", (void *, void **)) \
    X(capture_to, "cuStreamBeginCaptureToGraph", (void *, void *, void *const *, const void *, size_t, int)) \
    X(is_capturing, "cuStreamIsCapturing", (void *, int *)) \
    X(capture_info, "cuStreamGetCaptureInfo_v3", \
      (void *, int *, uint64_t *, void **, void *const **, const void **, size_t *)) \
    X(update_dependencies, "cuStreamUpdateCaptureDependencies", (void *, void **, size_t, unsigned)) \
    X(exchange_mode, "cuThreadExchangeStreamCaptureMode", (int *)) X(graph, "cuGraphCreate", (void **, unsigned)) \
    X(graph_destroy, "cuGraphDestroy", (void *)) X(graph_clone, "cuGraphClone", (void **, void *)) \
    X(graph_nodes, "cuGraphGetNodes", (void *, void **, size_t *)) \
    X(graph_roots, "cuGraphGetRootNodes", (void *, void **, size_t *)) \
    X(graph_edges, "cuGraphGetEdges", (void *, void **, void **, size_t *)) \
    X(node_type, "cuGraphNodeGetType", (void *, int *)) X(node_destroy, "cuGraphDestroyNode", (void *)) \
    X(add_empty, "cuGraphAddEmptyNode", (void **, void *, void *const *, size_t)) \
    X(add_edges, "cuGraphAddDependencies", (void *, void **, void **, size_t)) \
    X(remove_edges, "cuGraphRemoveDependencies", (void *, void **, void **, size_t)) \
    X(node_before, "cuGraphNodeGetDependencies", (void *, void **, size_t *)) \
    X(node_after, "cuGraphNodeGetDependentNodes", (void *, void **, size_t *)) \
    X(find_in_clone, "cuGraphNodeFindInClone", (void **, void *, void *)) \
    X(kernel_params, "cuGraphKernelNodeGetParams", (void *, void *)) \
    X(memset_params, "cuGraphMemsetNodeGetParams", (void *, void *)) \
    X(memcpy_params, "cuGraphMemcpyNodeGetParams", (void *, void *)) \
    X(instantiate, "cuGraphInstantiateWithFlags", (void **, void *, uint64_t)) \
    X(graph_launch, "cuGraphLaunch", (void *, void *)) X(graph_upload, "cuGraphUpload", (void *, void *)) \
    X(exec_destroy, "cuGraphExecDestroy", (void *)) X(exec_flags, "cuGraphExecGetFlags", (void *, uint64_t *)) \
    X(exec_update, "cuGraphExecUpdate_v2", (void *, void *, struct update *)) \
    X(add_kernel, "cuGraphAddKernelNode_v2", (PLACE, const void *)) \
    X(add_copy, "cuGraphAddMemcpyNode", (PLACE, const copy_3d *, void *)) \
    X(add_fill, "cuGraphAddMemsetNode", (PLACE, const void *, void *)) \
    X(add_host, "cuGraphAddHostNode", (PLACE, const void *)) \
    X(add_record, "cuGraphAddEventRecordNode", (PLACE, void *)) \
    X(add_wait, "cuGraphAddEventWaitNode", (PLACE, void *)) X(add_child, "cuGraphAddChildGraphNode", (PLACE, void *)) \
    X(add_alloc, "cuGraphAddMemAllocNode", (PLACE, void *)) X(add_free, "cuGraphAddMemFreeNode", (PLACE, ptr)) \
    X(add_node, "cuGraphAddNode_v2", (void **, void *, void *const *, const void *, size_t, void *)) \
    X(child_graph, "cuGraphChildGraphNodeGetGraph", (void *, void **)) \
    X(set_kernel, "cuGraphKernelNodeSetParams_v2", (void *, const void *)) \
    X(set_copy, "cuGraphMemcpyNodeSetParams", (void *, const copy_3d *)) \
    X(set_node, "cuGraphNodeSetParams", (void *, void *)) \
    X(exec_kernel, "cuGraphExecKernelNodeSetParams_v2", (void *, void *, const void *)) \
    X(exec_copy, "cuGraphExecMemcpyNodeSetParams", (void *, void *, const copy_3d *, void *)) \
    X(exec_fill, "cuGraphExecMemsetNodeSetParams", (void *, void *, const void *, void *)) \
    X(exec_child, "cuGraphExecChildGraphNodeSetParams", (void *, void *, void *)) \
    X(exec_node, "cuGraphExecNodeSetParams", (void *, void *, void *)) \
    X(set_enabled, "cuGraphNodeSetEnabled", (void *, void *, unsigned)) \
    X(get_enabled, "cuGraphNodeGetEnabled", (void *, void *, unsigned *)) \
    X(set_node_attribute, "cuGraphKernelNodeSetAttribute", (void *, int, const void *)) \
    X(get_node_attribute, "cuGraphKernelNodeGetAttribute", (void *, int, void *)) \
    X(copy_node_attributes, "cuGraphKernelNodeCopyAttributes", (void *, void *)) \
    X(add_edges_with_data, "cuGraphAddDependencies_v2", (void *, void **, void **, const void *, size_t)) \
    X(remove_edges_with_data, "cuGraphRemoveDependencies_v2", (void *, void **, void **, const void *, size_t)) \
    X(edges_with_data, "cuGraphGetEdges_v2", (void *, void **, void **, void *, size_t *)) \
    X(condition, "cuGraphConditionalHandleCreate", (uint64_t *, void *, void *, unsigned, unsigned)) \
    X(object, "cuUserObjectCreate", (void **, void *, void (*)(void *), unsigned, unsigned)) \
    X(object_retain, "cuUserObjectRetain", (void *, unsigned)) \
    X(object_release, "cuUserObjectRelease", (void *, unsigned)) \
    X(graph_retain, "cuGraphRetainUserObject", (void *, void *, unsigned, unsigned)) \
    X(graph_release, "cuGraphReleaseUserObject", (void *, void *, unsigned))

#define POINTER(name, symbol, parameters) int (*name) parameters;
typedef struct calls { CALLS(POINTER) } calls;
extern calls cu;                                     /* NULL: the driver lacks the entry point */

/* devices: the number it needs; others are hidden, since each costs time */
typedef struct group { const char *name; void (*run)(void); int devices; } group;
extern const group device_groups[], context_groups[], stream_groups[], memory_groups[], module_groups[], link_groups[],
    library_groups[], launch_groups[], cluster_groups[], capture_groups[], more_capture_groups[],
    left_capture_groups[], pool_groups[], more_pool_groups[], managed_groups[], copy_groups[],
    basic_groups[], node_groups[], devrt_groups[];

/* PROBE: a call's CUresult, or any small number. If a probe ended the process or never returned, its answer is
   "crashed" or "hung": the group runs again without it. */
void answer(const char *question, const char *format, ...) __attribute__((format(printf, 2, 3)));
int skipped(const char *question);                  /* the same for probes without PROBE; after
                                                       a crash or hang it prints the answer */
#define PROBE(question, call) \
    do { if (!skipped(question)) answer(question, "%d", call); } while (0)

/* The primary context of device 0, current, with the module of probe.c, and 4096 bytes of device memory. open_all():
   also of device 1, if there is one: `devices` is their number. A failure here ends the process, and the missing
   answers show it. */
enum { MEMORY = 4096 };
extern const char module_text[];
extern int   devices;
extern void *context[2], *module[2];
extern ptr   memory[2];
void  open_one(void);
void  open_all(void);
void *kernel(int device, const char *name);
int   launch(void *function, unsigned grid, unsigned block, void *stream, void **params);
void  in_thread(void (*run)(void));
void  sleep_ms(int ms);
void  wrong_time(void);                          /* in which something wrong could happen; not order */

/* Waits until the condition is true, for about half a minute at most. */
#define UNTIL(condition) \
    for (int until_ms = 0; !(condition) && until_ms < 30000; until_ms++) sleep_ms(1)         /* not order */

/* A kernel that spins until its gate, a word of pinned memory, is opened. */
typedef struct gate { volatile uint32_t *word; ptr address; } gate;
gate  make_gate(void);
int   close_gate(gate g, void *function, void *stream);          /* launches "spin" on it */
void  open_gate(gate g);

#define COUNT(a) (sizeof (a) / sizeof (a)[0])
#endif
