/* cudadefs.h - the part of the CUDA driver's binary interface that this library implements:
   documented values and layouts, under their public names. Handles are void pointers; CUdeviceptr
   and CUdevice are as in C. */
#ifndef SIM_CUDADEFS_H
#define SIM_CUDADEFS_H
#include <stddef.h>
#include <stdint.h>

/* Name, value, and the text that cuGetErrorString returns. */
/* clang-format off */
#define SIM_ERRORS(X) \
    X(SUCCESS, 0, "no error") \
    X(ERROR_INVALID_VALUE, 1, "invalid argument") \
    X(ERROR_OUT_OF_MEMORY, 2, "out of memory") \
    X(ERROR_NOT_INITIALIZED, 3, "initialization error") \
    X(ERROR_DEINITIALIZED, 4, "driver shutting down") \
    X(ERROR_PROFILER_DISABLED, 5, "profiler disabled while using external profiling tool") \
    X(ERROR_PROFILER_NOT_INITIALIZED, 6, \
        "profiler not initialized: call cudaProfilerInitialize()") \
    X(ERROR_PROFILER_ALREADY_STARTED, 7, "profiler already started") \
    X(ERROR_PROFILER_ALREADY_STOPPED, 8, "profiler already stopped") \
    X(ERROR_STUB_LIBRARY, 34, "CUDA driver is a stub library") \
    X(ERROR_CALL_REQUIRES_NEWER_DRIVER, 36, \
        "API call is not supported in the installed CUDA driver") \
    X(ERROR_DEVICE_UNAVAILABLE, 46, "CUDA-capable device(s) is/are busy or unavailable") \
    X(ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected") \
    X(ERROR_INVALID_DEVICE, 101, "invalid device ordinal") \
    X(ERROR_DEVICE_NOT_LICENSED, 102, "device doesn't have valid Grid license") \
    X(ERROR_INVALID_IMAGE, 200, "device kernel image is invalid") \
    X(ERROR_INVALID_CONTEXT, 201, "invalid device context") \
    X(ERROR_CONTEXT_ALREADY_CURRENT, 202, "context already current") \
    X(ERROR_MAP_FAILED, 205, "mapping of buffer object failed") \
    X(ERROR_UNMAP_FAILED, 206, "unmapping of buffer object failed") \
    X(ERROR_ARRAY_IS_MAPPED, 207, "array is mapped") \
    X(ERROR_ALREADY_MAPPED, 208, "resource already mapped") \
    X(ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device") \
    X(ERROR_ALREADY_ACQUIRED, 210, "resource already acquired") \
    X(ERROR_NOT_MAPPED, 211, "resource not mapped") \
    X(ERROR_NOT_MAPPED_AS_ARRAY, 212, "resource not mapped as array") \
    X(ERROR_NOT_MAPPED_AS_POINTER, 213, "resource not mapped as pointer") \
    X(ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered") \
    X(ERROR_UNSUPPORTED_LIMIT, 215, "limit is not supported on this architecture") \
    X(ERROR_CONTEXT_ALREADY_IN_USE, 216, \
        "exclusive-thread device already in use by a different thread") \
    X(ERROR_PEER_ACCESS_UNSUPPORTED, 217, \
        "peer access is not supported between these two devices") \
    X(ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed") \
    X(ERROR_INVALID_GRAPHICS_CONTEXT, 219, "invalid OpenGL or DirectX context") \
    X(ERROR_NVLINK_UNCORRECTABLE, 220, "uncorrectable NVLink error detected during the execution") \
    X(ERROR_JIT_COMPILER_NOT_FOUND, 221, "PTX JIT compiler library not found") \
    X(ERROR_UNSUPPORTED_PTX_VERSION, 222, \
        "the provided PTX was compiled with an unsupported toolchain.") \
    X(ERROR_JIT_COMPILATION_DISABLED, 223, "PTX JIT compilation was disabled") \
    X(ERROR_UNSUPPORTED_EXEC_AFFINITY, 224, "the provided execution affinity is not supported") \
    X(ERROR_UNSUPPORTED_DEVSIDE_SYNC, 225, \
        "the provided PTX contains unsupported call to cudaDeviceSynchronize") \
    X(ERROR_CONTAINED, 226, "Invalid access of peer GPU memory over nvlink or a hardware error") \
    X(ERROR_INVALID_SOURCE, 300, "device kernel image is invalid") \
    X(ERROR_FILE_NOT_FOUND, 301, "file not found") \
    X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, "shared object symbol not found") \
    X(ERROR_SHARED_OBJECT_INIT_FAILED, 303, "shared object initialization failed") \
    X(ERROR_OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS") \
    X(ERROR_INVALID_HANDLE, 400, "invalid resource handle") \
    X(ERROR_ILLEGAL_STATE, 401, "the operation cannot be performed in the present state") \
    X(ERROR_LOSSY_QUERY, 402, "attempted introspection would be semantically lossy") \
    X(ERROR_NOT_FOUND, 500, "named symbol not found") \
    X(ERROR_NOT_READY, 600, "device not ready") \
    X(ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered") \
    X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch") \
    X(ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated") \
    X(ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703, "launch uses incompatible texturing mode") \
    X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled") \
    X(ERROR_PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled") \
    X(ERROR_PRIMARY_CONTEXT_ACTIVE, 708, "cannot set while device is active in this process") \
    X(ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed") \
    X(ERROR_ASSERT, 710, "device-side assert triggered") \
    X(ERROR_TOO_MANY_PEERS, 711, "peer mapping resources exhausted") \
    X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, \
        "part or all of the requested memory range is already mapped") \
    X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, \
        "pointer does not correspond to a registered memory region") \
    X(ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error") \
    X(ERROR_ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered") \
    X(ERROR_MISALIGNED_ADDRESS, 716, "misaligned address") \
    X(ERROR_INVALID_ADDRESS_SPACE, 717, "operation not supported on global/shared address space") \
    X(ERROR_INVALID_PC, 718, "invalid program counter") \
    X(ERROR_LAUNCH_FAILED, 719, "unspecified launch failure") \
    X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch") \
    X(ERROR_TENSOR_MEMORY_LEAK, 721, "tensor memory not completely freed") \
    X(ERROR_NOT_PERMITTED, 800, "operation not permitted") \
    X(ERROR_NOT_SUPPORTED, 801, "operation not supported") \
    X(ERROR_SYSTEM_NOT_READY, 802, "system not yet initialized") \
    X(ERROR_SYSTEM_DRIVER_MISMATCH, 803, \
        "system has unsupported display driver / cuda driver combination") \
    X(ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, \
        "forward compatibility was attempted on non supported HW") \
    X(ERROR_MPS_CONNECTION_FAILED, 805, \
        "MPS client failed to connect to the MPS control daemon or the MPS server") \
    X(ERROR_MPS_RPC_FAILURE, 806, \
        "the remote procedural call between the MPS server and the MPS client failed") \
    X(ERROR_MPS_SERVER_NOT_READY, 807, \
        "MPS server is not ready to accept new MPS client requests") \
    X(ERROR_MPS_MAX_CLIENTS_REACHED, 808, \
        "the hardware resources required to create MPS client have been exhausted") \
    X(ERROR_MPS_MAX_CONNECTIONS_REACHED, 809, \
      "the hardware resources required to support device connections have been exhausted") \
    X(ERROR_MPS_CLIENT_TERMINATED, 810, "the MPS client has been terminated by the server") \
    X(ERROR_CDP_NOT_SUPPORTED, 811, \
      "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not " \
      "support it") \
    X(ERROR_CDP_VERSION_MISMATCH, 812, \
      "unsupported interaction between different versions of CUDA Dynamic Parallelism") \
    X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing") \
    X(ERROR_STREAM_CAPTURE_INVALIDATED, 901, \
        "operation failed due to a previous error during capture") \
    X(ERROR_STREAM_CAPTURE_MERGE, 902, \
        "operation would result in a merge of separate capture sequences") \
    X(ERROR_STREAM_CAPTURE_UNMATCHED, 903, "capture was not ended in the same stream as it began") \
    X(ERROR_STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work") \
    X(ERROR_STREAM_CAPTURE_ISOLATION, 905, \
        "dependency created on uncaptured work in another stream") \
    X(ERROR_STREAM_CAPTURE_IMPLICIT, 906, \
      "operation would make the legacy stream depend on a capturing blocking stream") \
    X(ERROR_CAPTURED_EVENT, 907, \
        "operation not permitted on an event last recorded in a capturing stream") \
    X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, \
      "attempt to terminate a thread-local capture sequence from another thread") \
    X(ERROR_TIMEOUT, 909, "wait operation timed out") \
    X(ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, \
      "the graph update was not performed because it included changes which violated " \
      "constraints specific to " \
      "instantiated graph update") \
    X(ERROR_EXTERNAL_DEVICE, 911, "an async error has occured in external entity outside of CUDA") \
    X(ERROR_INVALID_CLUSTER_SIZE, 912, \
        "a kernel launch error has occurred due to cluster misconfiguration") \
    X(ERROR_FUNCTION_NOT_LOADED, 913, \
      "the function handle is not loaded when calling an API that requires a loaded function") \
    X(ERROR_INVALID_RESOURCE_TYPE, 914, \
      "one or more resources passed in are not valid resource types for the operation") \
    X(ERROR_INVALID_RESOURCE_CONFIGURATION, 915, \
      "one or more resources are insufficient or non-applicable for the operation") \
    X(ERROR_KEY_ROTATION, 916, "an error happened during the key rotation sequence") \
    X(ERROR_UNKNOWN, 999, "unknown error")
/* clang-format on */

enum {
#define X(name, value, text) CUDA_##name = value,
    SIM_ERRORS(X)
#undef X
            SIM_ERRORS_END
};

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct {
    char bytes[16];
} CUuuid;

enum {
    CU_CTX_SCHED_MASK = 7,
    CU_CTX_FLAGS_MASK = 0xff,
    CU_CTX_MAP_HOST = 8,
    CU_CTX_SYNC_MEMOPS = 0x80
};
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_GREEN_CTX_DEFAULT_STREAM = 1 };
enum { CU_DEV_RESOURCE_TYPE_INVALID, CU_DEV_RESOURCE_TYPE_SM };
enum {
    CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING = 1,
    CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE = 2
};
enum {
    CU_STREAM_WAIT_VALUE_GEQ,
    CU_STREAM_WAIT_VALUE_EQ,
    CU_STREAM_WAIT_VALUE_AND,
    CU_STREAM_WAIT_VALUE_NOR,
    CU_STREAM_WAIT_VALUE_FLUSH = 1 << 30
};
enum {
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_EVENT_INTERPROCESS = 4,
    CU_EVENT_RECORD_EXTERNAL = 1
};
enum {
    CU_STREAM_CAPTURE_STATUS_NONE,
    CU_STREAM_CAPTURE_STATUS_ACTIVE,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED
};
enum {
    CU_STREAM_CAPTURE_MODE_GLOBAL,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CU_STREAM_CAPTURE_MODE_RELAXED
};
enum { CU_STREAM_ADD_CAPTURE_DEPENDENCIES, CU_STREAM_SET_CAPTURE_DEPENDENCIES };
enum { CU_EVENT_WAIT_EXTERNAL = 1 };
enum {
    CU_MEMHOSTALLOC_ALL = 7,
    CU_MEMHOSTREGISTER_ALL = 15,
    CU_MEMHOSTREGISTER_IOMEMORY = 4,
    CU_MEMHOSTREGISTER_READ_ONLY = 8
};
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED };
enum {
    CU_LIMIT_STACK_SIZE,
    CU_LIMIT_PRINTF_FIFO_SIZE,
    CU_LIMIT_MALLOC_HEAP_SIZE,
    CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
    CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
    CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
    CU_LIMIT_PERSISTING_L2_CACHE_SIZE
};
enum {
    CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
};
enum {
    CU_MODULE_EAGER_LOADING = 1,
    CU_MODULE_LAZY_LOADING = 2,
    CU_FUNCTION_LOADING_STATE_LOADED = 1
};
enum { CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE, CU_LIBRARY_BINARY_IS_PRESERVED };

enum {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
    CU_POINTER_ATTRIBUTE_HOST_POINTER,
    CU_POINTER_ATTRIBUTE_P2P_TOKENS,
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
    CU_POINTER_ATTRIBUTE_BUFFER_ID,
    CU_POINTER_ATTRIBUTE_IS_MANAGED,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    CU_POINTER_ATTRIBUTE_MAPPED,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
    CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
    CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
    CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
    CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
    CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE
};

enum {
    CU_MEMPOOL_ATTR_REUSE_FIRST = 1,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    CU_MEMPOOL_ATTR_REUSE_LAST,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
    CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
    CU_MEMPOOL_ATTR_USED_MEM_HIGH
};

enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_NUM_REGS,
    CU_FUNC_ATTRIBUTE_PTX_VERSION,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION,
    CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
};

enum {
    CU_JIT_MAX_REGISTERS,
    CU_JIT_THREADS_PER_BLOCK,
    CU_JIT_WALL_TIME,
    CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_ERROR_LOG_BUFFER,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_OPTIMIZATION_LEVEL,
    CU_JIT_TARGET_FROM_CUCONTEXT,
    CU_JIT_TARGET,
    CU_JIT_FALLBACK_STRATEGY,
    CU_JIT_LOG_VERBOSE = 12,
    CU_JIT_NEW_SM3X_OPT = 15,
    CU_JIT_GLOBAL_SYMBOL_NAMES = 17,
    CU_JIT_GLOBAL_SYMBOL_COUNT = 19,
    CU_JIT_REFERENCED_KERNEL_NAMES = 25,
    CU_JIT_REFERENCED_VARIABLE_NAMES = 27,
    CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES = 29,
    CU_JIT_MIN_CTA_PER_SM = 31,
    CU_JIT_MAX_THREADS_PER_BLOCK,
    CU_JIT_OVERRIDE_DIRECTIVE_VALUES,
    CU_JIT_NUM_OPTIONS = 35
};
enum {
    CU_JIT_INPUT_CUBIN,
    CU_JIT_INPUT_PTX,
    CU_JIT_INPUT_FATBINARY,
    CU_JIT_INPUT_OBJECT,
    CU_JIT_INPUT_LIBRARY,
    CU_JIT_INPUT_NVVM,
    CU_JIT_NUM_INPUT_TYPES
};

typedef struct {
    void *function;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void *hStream, **kernelParams;
} CUDA_LAUNCH_PARAMS;
enum { CU_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC = 1, CU_MULTI_DEVICE_NO_POST_LAUNCH_SYNC = 2 };

enum { CU_LAUNCH_PARAM_END, CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE };
enum {
    CU_LAUNCH_ATTRIBUTE_IGNORE,
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
    CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16
};

enum { CU_ACCESS_PROPERTY_NORMAL, CU_ACCESS_PROPERTY_STREAMING, CU_ACCESS_PROPERTY_PERSISTING };
typedef struct {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    unsigned hitProp, missProp;
} CUaccessPolicyWindow;
enum { CU_SYNC_POLICY_AUTO = 1, CU_SYNC_POLICY_BLOCKING_SYNC = 4 };

typedef union {
    char size[64];
    int cooperative;
    unsigned number, cluster[3];
    int priority;
    unsigned char domains[2];
    CUaccessPolicyWindow window;
    struct {
        void *event;
        int flags, at_start;
    } record;
} CUlaunchAttributeValue;
typedef struct {
    unsigned id;
    char pad[4];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void *hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

typedef struct {
    size_t srcXInBytes, srcY;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray, *srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray, *dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;

enum {
    CU_MEM_LOCATION_TYPE_INVALID,
    CU_MEM_LOCATION_TYPE_DEVICE,
    CU_MEM_LOCATION_TYPE_HOST,
    CU_MEM_LOCATION_TYPE_HOST_NUMA,
    CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
};
typedef struct {
    unsigned type;
    int id;
} CUmemLocation;
enum {
    CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
    CU_MEMCPY_SRC_ACCESS_ORDER_ANY
};
enum { CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1 };
enum { CU_MEMCPY_OPERAND_TYPE_POINTER = 1, CU_MEMCPY_OPERAND_TYPE_ARRAY };
typedef struct {
    unsigned srcAccessOrder;
    CUmemLocation srcLocHint, dstLocHint;
    unsigned flags;
} CUmemcpyAttributes;
typedef struct {
    size_t width, height, depth;
} CUextent3D;
typedef struct {
    size_t x, y, z;
} CUoffset3D;
typedef struct {
    unsigned type;
    union {
        struct {
            CUdeviceptr ptr;
            size_t rowLength, layerHeight;
            CUmemLocation locHint;
        } ptr;
        struct {
            void *array;
            CUoffset3D offset;
        } array;
    } op;
} CUmemcpy3DOperand;
typedef struct {
    CUmemcpy3DOperand src, dst;
    CUextent3D extent;
    unsigned srcAccessOrder, flags;
} CUDA_MEMCPY3D_BATCH_OP;
enum { CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4 };
enum {
    CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
    CU_MEM_ADVISE_UNSET_READ_MOSTLY,
    CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_SET_ACCESSED_BY,
    CU_MEM_ADVISE_UNSET_ACCESSED_BY
};
enum {
    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
    CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID
};
enum { CU_DEVICE_CPU = -1, CU_DEVICE_INVALID = -2 };
enum {
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89
};

enum {
    CU_GRAPH_NODE_TYPE_KERNEL,
    CU_GRAPH_NODE_TYPE_MEMCPY,
    CU_GRAPH_NODE_TYPE_MEMSET,
    CU_GRAPH_NODE_TYPE_HOST,
    CU_GRAPH_NODE_TYPE_GRAPH,
    CU_GRAPH_NODE_TYPE_EMPTY,
    CU_GRAPH_NODE_TYPE_WAIT_EVENT,
    CU_GRAPH_NODE_TYPE_EVENT_RECORD,
    CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
    CU_GRAPH_NODE_TYPE_MEM_FREE,
    CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
    CU_GRAPH_NODE_TYPE_CONDITIONAL
};
enum {
    CU_GRAPH_COND_TYPE_IF,
    CU_GRAPH_COND_TYPE_WHILE,
    CU_GRAPH_COND_TYPE_SWITCH,
    CU_GRAPH_COND_ASSIGN_DEFAULT = 1
};
enum { CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE };
enum { CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1, CU_GRAPH_USER_OBJECT_MOVE = 1 };
enum { CU_GRAPH_DEPENDENCY_TYPE_DEFAULT, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC };
enum {
    CU_GRAPH_KERNEL_NODE_PORT_DEFAULT,
    CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
    CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
};
enum {
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8
};
enum {
    CUDA_GRAPH_INSTANTIATE_SUCCESS,
    CUDA_GRAPH_INSTANTIATE_ERROR,
    CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
    CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
};
enum {
    CU_GRAPH_EXEC_UPDATE_SUCCESS,
    CU_GRAPH_EXEC_UPDATE_ERROR,
    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
    CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
    CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED,
    CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
    CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED,
    CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE,
    CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
};

typedef struct {
    unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;
typedef struct {
    int result;
    void *errorNode, *errorFromNode;
} CUgraphExecUpdateResultInfo;
typedef struct {
    uint64_t flags;
    void *hUploadStream, *hErrNode_out;
    int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct {
    void *func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;
typedef struct {
    void *func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra, *kern, *ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;
typedef struct {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray, *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray, *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef struct {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;
typedef struct {
    void (*fn)(void *);
    void *userData;
} CUDA_HOST_NODE_PARAMS;
enum { CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };
typedef struct {
    char reserved[64];
} CUipcMemHandle;
typedef struct {
    char reserved[64];
} CUipcEventHandle;
typedef struct {
    unsigned char reserved[64];
} CUmemPoolPtrExportData;
typedef struct {
    CUmemLocation location;
    unsigned flags;
} CUmemAccessDesc;
enum {
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_ALLOCATION_TYPE_MANAGED,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115
};
typedef struct {
    int allocType, handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;
typedef unsigned long long CUmemGenericAllocationHandle;
enum {
    CU_MEM_HANDLE_TYPE_WIN32 = 2,
    CU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
    CU_MEM_HANDLE_TYPE_FABRIC = 8
};
enum { CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1, CU_MEM_ALLOCATION_COMP_GENERIC = 1 };
typedef struct {
    int type, requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;
typedef struct {
    CUmemPoolProps poolProps;
    const void *accessDescs;
    size_t accessDescCount, bytesize;
    CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;
typedef struct {
    int flags, reserved;
    void *copyCtx;
    CUDA_MEMCPY3D copyParams;
} CUDA_MEMCPY_NODE_PARAMS;
typedef struct {
    CUDA_MEMSET_NODE_PARAMS params;
    void *ctx;
} CUDA_MEMSET_NODE_PARAMS_v2;
typedef struct {
    void *graph;
    int ownership;
} CUDA_CHILD_GRAPH_NODE_PARAMS;
typedef struct {
    uint64_t handle;
    int type;
    unsigned size;
    void **phGraph_out, *ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;
typedef struct {
    int type, reserved0[3];
    union {
        long long reserved1[29];
        CUDA_KERNEL_NODE_PARAMS_v2 kernel;
        CUDA_MEMCPY_NODE_PARAMS memcpy;
        CUDA_MEMSET_NODE_PARAMS_v2 memset;
        CUDA_HOST_NODE_PARAMS host;
        CUDA_CHILD_GRAPH_NODE_PARAMS graph;
        void *event;
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUdeviceptr free;
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
    } of;
    long long reserved2;
} CUgraphNodeParams;

typedef struct {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock,
            totalConstantMemory, SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
} CUdevprop;
/* The driver writes the last two of sm from CUDA 13.0 on. */
typedef struct {
    int type;
    unsigned char _internal_padding[92];
    struct {
        unsigned smCount, minSmPartitionSize, smCoscheduledAlignment;
    } sm;
    unsigned char rest[36];
} CUdevResource;
typedef struct {
    void *execAffinityParams;
    int numExecAffinityParams;
    void *cigParams;
} CUctxCreateParams;

/* clang-format off */
enum {
    CU_AD_FORMAT_UNSIGNED_INT8 = 1, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
    CU_AD_FORMAT_SIGNED_INT8 = 8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32,
    CU_AD_FORMAT_HALF = 0x10, CU_AD_FORMAT_FLOAT = 0x20, CU_AD_FORMAT_UNORM_INT_101010_2 = 0x50,
    CU_AD_FORMAT_BC1_UNORM = 0x91, CU_AD_FORMAT_BC1_UNORM_SRGB, CU_AD_FORMAT_BC2_UNORM,
    CU_AD_FORMAT_BC2_UNORM_SRGB, CU_AD_FORMAT_BC3_UNORM, CU_AD_FORMAT_BC3_UNORM_SRGB,
    CU_AD_FORMAT_BC4_UNORM, CU_AD_FORMAT_BC4_SNORM, CU_AD_FORMAT_BC5_UNORM, CU_AD_FORMAT_BC5_SNORM,
    CU_AD_FORMAT_BC6H_UF16, CU_AD_FORMAT_BC6H_SF16, CU_AD_FORMAT_BC7_UNORM,
    CU_AD_FORMAT_BC7_UNORM_SRGB,
    CU_AD_FORMAT_P010 = 0x9f, CU_AD_FORMAT_P016 = 0xa1, CU_AD_FORMAT_NV16, CU_AD_FORMAT_P210,
    CU_AD_FORMAT_P216, CU_AD_FORMAT_YUY2, CU_AD_FORMAT_Y210, CU_AD_FORMAT_Y216, CU_AD_FORMAT_AYUV,
    CU_AD_FORMAT_Y410, CU_AD_FORMAT_NV12 = 0xb0, CU_AD_FORMAT_Y416, CU_AD_FORMAT_Y444_PLANAR8,
    CU_AD_FORMAT_Y444_PLANAR10, CU_AD_FORMAT_YUV444_8bit_SemiPlanar,
    CU_AD_FORMAT_YUV444_16bit_SemiPlanar,
    CU_AD_FORMAT_UNORM_INT8X1 = 0xc0, CU_AD_FORMAT_UNORM_INT8X2, CU_AD_FORMAT_UNORM_INT8X4,
    CU_AD_FORMAT_UNORM_INT16X1, CU_AD_FORMAT_UNORM_INT16X2, CU_AD_FORMAT_UNORM_INT16X4,
    CU_AD_FORMAT_SNORM_INT8X1, CU_AD_FORMAT_SNORM_INT8X2, CU_AD_FORMAT_SNORM_INT8X4,
    CU_AD_FORMAT_SNORM_INT16X1, CU_AD_FORMAT_SNORM_INT16X2, CU_AD_FORMAT_SNORM_INT16X4
};
enum {
    CU_RES_VIEW_FORMAT_NONE, CU_RES_VIEW_FORMAT_UINT_1X8, CU_RES_VIEW_FORMAT_UINT_2X8,
    CU_RES_VIEW_FORMAT_UINT_4X8, CU_RES_VIEW_FORMAT_SINT_1X8, CU_RES_VIEW_FORMAT_SINT_2X8,
    CU_RES_VIEW_FORMAT_SINT_4X8, CU_RES_VIEW_FORMAT_UINT_1X16, CU_RES_VIEW_FORMAT_UINT_2X16,
    CU_RES_VIEW_FORMAT_UINT_4X16, CU_RES_VIEW_FORMAT_SINT_1X16, CU_RES_VIEW_FORMAT_SINT_2X16,
    CU_RES_VIEW_FORMAT_SINT_4X16, CU_RES_VIEW_FORMAT_UINT_1X32, CU_RES_VIEW_FORMAT_UINT_2X32,
    CU_RES_VIEW_FORMAT_UINT_4X32, CU_RES_VIEW_FORMAT_SINT_1X32, CU_RES_VIEW_FORMAT_SINT_2X32,
    CU_RES_VIEW_FORMAT_SINT_4X32, CU_RES_VIEW_FORMAT_FLOAT_1X16, CU_RES_VIEW_FORMAT_FLOAT_2X16,
    CU_RES_VIEW_FORMAT_FLOAT_4X16, CU_RES_VIEW_FORMAT_FLOAT_1X32, CU_RES_VIEW_FORMAT_FLOAT_2X32,
    CU_RES_VIEW_FORMAT_FLOAT_4X32, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, CU_RES_VIEW_FORMAT_UNSIGNED_BC2,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC3, CU_RES_VIEW_FORMAT_UNSIGNED_BC4,
    CU_RES_VIEW_FORMAT_SIGNED_BC4, CU_RES_VIEW_FORMAT_UNSIGNED_BC5, CU_RES_VIEW_FORMAT_SIGNED_BC5,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC6H, CU_RES_VIEW_FORMAT_SIGNED_BC6H,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC7
};
/* clang-format on */
enum {
    CUDA_ARRAY3D_LAYERED = 1,
    CUDA_ARRAY3D_SURFACE_LDST = 2,
    CUDA_ARRAY3D_CUBEMAP = 4,
    CUDA_ARRAY3D_TEXTURE_GATHER = 8,
    CUDA_ARRAY3D_DEPTH_TEXTURE = 0x10,
    CUDA_ARRAY3D_COLOR_ATTACHMENT = 0x20,
    CUDA_ARRAY3D_SPARSE = 0x40,
    CUDA_ARRAY3D_DEFERRED_MAPPING = 0x80,
    CUDA_ARRAY3D_VIDEO_ENCODE_DECODE = 0x100
};
typedef struct {
    size_t Width, Height;
    unsigned Format, NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct {
    size_t Width, Height, Depth;
    unsigned Format, NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct {
    struct {
        unsigned width, height, depth;
    } tileExtent;
    unsigned miptailFirstLevel;
    unsigned long long miptailSize;
    unsigned flags, reserved[4];
} CUDA_ARRAY_SPARSE_PROPERTIES;
typedef struct {
    size_t size, alignment;
    unsigned reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS;
enum {
    CU_RESOURCE_TYPE_ARRAY,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CU_RESOURCE_TYPE_LINEAR,
    CU_RESOURCE_TYPE_PITCH2D
};
typedef struct {
    unsigned resType;
    union {
        struct {
            void *hArray;
        } array;
        struct {
            void *hMipmappedArray;
        } mipmap;
        struct {
            CUdeviceptr devPtr;
            unsigned format, numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            unsigned format, numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
} CUDA_RESOURCE_DESC;
enum {
    CU_TR_ADDRESS_MODE_WRAP,
    CU_TR_ADDRESS_MODE_CLAMP,
    CU_TR_ADDRESS_MODE_MIRROR,
    CU_TR_ADDRESS_MODE_BORDER
};
enum { CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR };
enum {
    CU_TRSA_OVERRIDE_FORMAT = 1,
    CU_TRSF_READ_AS_INTEGER = 1,
    CU_TRSF_NORMALIZED_COORDINATES = 2,
    CU_TRSF_SRGB = 0x10,
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20,
    CU_TRSF_SEAMLESS_CUBEMAP = 0x40
};
typedef struct {
    unsigned addressMode[3], filterMode, flags, maxAnisotropy, mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;
typedef struct {
    unsigned format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
} CUDA_RESOURCE_VIEW_DESC;

#endif
