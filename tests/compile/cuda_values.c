/* cuda_values.c - what the implementation says of the driver's ABI, against CUDA's own headers: the versions of entry points, the values of
   constants, the layouts of structs. Only compiled; a difference is an array of negative size. */
#include <cuda.h>
#include <cudaTypedefs.h>
#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"

/* cudaTypedefs.h has a type for each ABI that an entry point ever had: PFN_cuMemAlloc_v3020. */
#define ROW(need, name, version, params) size_t version_of_##name(void); size_t version_of_##name(void) { return sizeof(PFN_##name##_v##version); }
GXI_DRIVER(ROW)

#define SAME(tag, ours, theirs) typedef char same_##tag[(long long)(ours) == (long long)(theirs) ? 1 : -1];
#define ERROR(name)    SAME(name, GXI_##name, CUDA_ERROR_##name)
#define JIT(name)      SAME(name, GXI_JIT_##name, CU_JIT_##name)
#define FUNC(name)     SAME(func_##name, GXI_FUNC_##name, CU_FUNC_ATTRIBUTE_##name)
#define DEVICE(name)   SAME(dev_##name, GXI_DEV_##name, CU_DEVICE_ATTRIBUTE_##name)
#define POINTER(name)  SAME(pointer_##name, GXI_POINTER_##name, CU_POINTER_ATTRIBUTE_##name)
SAME(success, GXI_SUCCESS, CUDA_SUCCESS)
ERROR(INVALID_VALUE) ERROR(OUT_OF_MEMORY) ERROR(NOT_INITIALIZED) ERROR(DEINITIALIZED) ERROR(STUB_LIBRARY) ERROR(NO_DEVICE) ERROR(INVALID_DEVICE)
ERROR(INVALID_IMAGE) ERROR(INVALID_CONTEXT) ERROR(ECC_UNCORRECTABLE) ERROR(PEER_ACCESS_UNSUPPORTED) ERROR(PEER_ACCESS_ALREADY_ENABLED)
ERROR(PEER_ACCESS_NOT_ENABLED) ERROR(NO_BINARY_FOR_GPU) ERROR(INVALID_PTX) ERROR(UNSUPPORTED_PTX_VERSION) ERROR(INVALID_HANDLE)
ERROR(ILLEGAL_ADDRESS) ERROR(LAUNCH_TIMEOUT) ERROR(CONTEXT_IS_DESTROYED) ERROR(ASSERT) ERROR(HARDWARE_STACK_ERROR) ERROR(ILLEGAL_INSTRUCTION)
ERROR(MISALIGNED_ADDRESS) ERROR(INVALID_ADDRESS_SPACE) ERROR(INVALID_PC) ERROR(LAUNCH_FAILED) ERROR(SYSTEM_NOT_READY) ERROR(SYSTEM_DRIVER_MISMATCH)
ERROR(HOST_MEMORY_ALREADY_REGISTERED)
SAME(not_found, GXI_SYMBOL_NOT_FOUND, CUDA_ERROR_NOT_FOUND)
SAME(not_ready, GXI_CU_NOT_READY, CUDA_ERROR_NOT_READY)
SAME(out_of_resources, GXI_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
SAME(too_large, GXI_COOPERATIVE_TOO_LARGE, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
SAME(not_supported, GXI_CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED)
JIT(MAX_REGISTERS) JIT(WALL_TIME) JIT(INFO_LOG_BUFFER) JIT(INFO_LOG_BUFFER_SIZE_BYTES) JIT(ERROR_LOG_BUFFER) JIT(ERROR_LOG_BUFFER_SIZE_BYTES)
JIT(OPTIMIZATION_LEVEL) JIT(GENERATE_DEBUG_INFO) JIT(LOG_VERBOSE) JIT(GENERATE_LINE_INFO)
FUNC(MAX_THREADS_PER_BLOCK) FUNC(SHARED_SIZE_BYTES) FUNC(CONST_SIZE_BYTES) FUNC(LOCAL_SIZE_BYTES) FUNC(NUM_REGS) FUNC(PTX_VERSION) FUNC(BINARY_VERSION)
FUNC(MAX_DYNAMIC_SHARED_SIZE_BYTES)
DEVICE(MAX_THREADS_PER_BLOCK) DEVICE(MAX_BLOCK_DIM_X) DEVICE(MAX_GRID_DIM_X) DEVICE(MAX_SHARED_MEMORY_PER_BLOCK) DEVICE(WARP_SIZE) DEVICE(MAX_PITCH)
DEVICE(MAX_REGISTERS_PER_BLOCK) DEVICE(CLOCK_RATE) DEVICE(MULTIPROCESSOR_COUNT) DEVICE(INTEGRATED) DEVICE(L2_CACHE_SIZE)
DEVICE(MAX_THREADS_PER_MULTIPROCESSOR) DEVICE(ASYNC_ENGINE_COUNT) DEVICE(COMPUTE_CAPABILITY_MAJOR) DEVICE(COMPUTE_CAPABILITY_MINOR)
DEVICE(COOPERATIVE_LAUNCH) DEVICE(COOPERATIVE_MULTI_DEVICE_LAUNCH) DEVICE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
POINTER(CONTEXT) POINTER(MEMORY_TYPE) POINTER(DEVICE_POINTER) POINTER(HOST_POINTER) POINTER(IS_MANAGED) POINTER(DEVICE_ORDINAL)
SAME(non_blocking, GXI_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING)
SAME(blocking_sync, GXI_EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC)
SAME(no_timing, GXI_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING)
SAME(portable, GXI_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE)
SAME(devicemap, GXI_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP)
SAME(register_portable, GXI_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE)
SAME(register_devicemap, GXI_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTREGISTER_DEVICEMAP)
SAME(host, GXI_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST)
SAME(device, GXI_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE)

#define MEMBER(type, ours, cuda, theirs) \
    SAME(at_##theirs, offsetof(type, ours), offsetof(cuda, theirs)) \
    SAME(size_##theirs, sizeof((type *)0)->ours, sizeof((cuda *)0)->theirs)
SAME(memcpy2d, sizeof(gxi_memcpy2d), sizeof(CUDA_MEMCPY2D))
MEMBER(gxi_memcpy2d, from_x, CUDA_MEMCPY2D, srcXInBytes)         MEMBER(gxi_memcpy2d, from_y, CUDA_MEMCPY2D, srcY)
MEMBER(gxi_memcpy2d, from_type, CUDA_MEMCPY2D, srcMemoryType)    MEMBER(gxi_memcpy2d, from_host, CUDA_MEMCPY2D, srcHost)
MEMBER(gxi_memcpy2d, from_device, CUDA_MEMCPY2D, srcDevice)      MEMBER(gxi_memcpy2d, from_array, CUDA_MEMCPY2D, srcArray)
MEMBER(gxi_memcpy2d, from_pitch, CUDA_MEMCPY2D, srcPitch)        MEMBER(gxi_memcpy2d, to_x, CUDA_MEMCPY2D, dstXInBytes)
MEMBER(gxi_memcpy2d, to_y, CUDA_MEMCPY2D, dstY)                  MEMBER(gxi_memcpy2d, to_type, CUDA_MEMCPY2D, dstMemoryType)
MEMBER(gxi_memcpy2d, to_host, CUDA_MEMCPY2D, dstHost)            MEMBER(gxi_memcpy2d, to_device, CUDA_MEMCPY2D, dstDevice)
MEMBER(gxi_memcpy2d, to_array, CUDA_MEMCPY2D, dstArray)          MEMBER(gxi_memcpy2d, to_pitch, CUDA_MEMCPY2D, dstPitch)
MEMBER(gxi_memcpy2d, width, CUDA_MEMCPY2D, WidthInBytes)         MEMBER(gxi_memcpy2d, height, CUDA_MEMCPY2D, Height)
SAME(launch_params, sizeof(gxi_launch_params), sizeof(CUDA_LAUNCH_PARAMS))
SAME(at_grid, offsetof(gxi_launch_params, grid), offsetof(CUDA_LAUNCH_PARAMS, gridDimX))
SAME(at_block, offsetof(gxi_launch_params, block), offsetof(CUDA_LAUNCH_PARAMS, blockDimX))
SAME(at_shared, offsetof(gxi_launch_params, shared), offsetof(CUDA_LAUNCH_PARAMS, sharedMemBytes))
SAME(at_stream, offsetof(gxi_launch_params, stream), offsetof(CUDA_LAUNCH_PARAMS, hStream))
SAME(at_params, offsetof(gxi_launch_params, params), offsetof(CUDA_LAUNCH_PARAMS, kernelParams))

#define LAUNCH(name) SAME(launch_##name, GXI_LAUNCH_##name, CU_LAUNCH_ATTRIBUTE_##name)
ERROR(INVALID_CLUSTER_SIZE) DEVICE(CLUSTER_LAUNCH)
FUNC(CLUSTER_SIZE_MUST_BE_SET) FUNC(REQUIRED_CLUSTER_WIDTH) FUNC(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
SAME(cluster_height, GXI_FUNC_REQUIRED_CLUSTER_WIDTH + 1, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)
SAME(cluster_depth, GXI_FUNC_REQUIRED_CLUSTER_WIDTH + 2, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
LAUNCH(COOPERATIVE) LAUNCH(CLUSTER_DIMENSION) LAUNCH(PROGRAMMATIC_STREAM_SERIALIZATION) LAUNCH(PRIORITY) LAUNCH(MEM_SYNC_DOMAIN)
SAME(sync_domain_remote, 1, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)      /* gpuexec_launch_desc.memory_sync_domain */
SAME(launch_attribute, sizeof(gxi_launch_attribute), sizeof(CUlaunchAttribute))
MEMBER(gxi_launch_attribute, id, CUlaunchAttribute, id)           MEMBER(gxi_launch_attribute, value, CUlaunchAttribute, value)
SAME(launch_config, sizeof(gxi_launch_config), sizeof(CUlaunchConfig))
SAME(config_grid, offsetof(gxi_launch_config, grid), offsetof(CUlaunchConfig, gridDimX))
SAME(config_block, offsetof(gxi_launch_config, block), offsetof(CUlaunchConfig, blockDimX))
SAME(config_shared, offsetof(gxi_launch_config, shared_bytes), offsetof(CUlaunchConfig, sharedMemBytes))
SAME(config_stream, offsetof(gxi_launch_config, stream), offsetof(CUlaunchConfig, hStream))
MEMBER(gxi_launch_config, attributes, CUlaunchConfig, attrs)      MEMBER(gxi_launch_config, count, CUlaunchConfig, numAttrs)
