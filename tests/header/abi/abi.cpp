// abi.cpp - compares the driver's binary interface as gpuexec.h and the CPU device declare it with
// CUDA's own headers, at compile time. Only compiled. run.sh generates rows.inc and symbols.inc
// from gpuexec.h and tests/simgpu, so that no row and no constant is forgotten here. rows.inc is
// included twice, since cuda.h has macros with the functions' names: first our types and values get
// separate names, then they are compared.
#include <stddef.h>
#include <stdint.h>
#include <type_traits>
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
namespace sim {
#include "../../simgpu/base/cudadefs.h"
#define SYMBOL(name, parameters) \
    int name parameters; \
    typedef decltype(name) type_of_##name;
#include "symbols.inc"
}    // namespace sim
namespace rows {
typedef void (*gxi_cu_stream_callback)(gxi_cu_stream stream, int result, void *user);
typedef void (*gxi_cu_log_callback)(void *user, int level, char *text, size_t bytes);
#define DRIVER_ROW(name, version, symbol, suffix, params) typedef int type_of_##symbol params;
#include "entry_points.h"
}    // namespace rows
#define ENTRY(need, name, base, version) \
    typedef std::remove_pointer<decltype(gxi_driver::name)>::type type_of_##name;
#define CONSTANT(ours, theirs)
#define SIM_ENTRY(base, version, symbol)
#define SIM_MISSING(base, version, symbol)
#define SIM_CONSTANT(ours, theirs) enum : long long { value_of_##ours = sim::ours };
#include "rows.inc"
#undef ENTRY
#undef CONSTANT
#undef SIM_ENTRY
#undef SIM_MISSING
#undef SIM_CONSTANT

/* cuda.h then also declares the older interfaces, by their symbols */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>

#include "agree.h"

static_assert(agree<int(void **, const int *), CUresult(CUcontext *, const CUlimit *)>::value &&
                !agree<int(int *), CUresult(const int *)>::value &&
                !agree<int(int), CUresult(int, int)>::value &&
                !agree<int(int), CUresult(size_t)>::value &&
                !agree<int(void *), CUresult(size_t *)>::value &&
                !agree<int(int *), CUresult(unsigned *)>::value &&
                !agree<int(size_t *), CUresult(CUlimit *)>::value,
        "agree distinguishes right from wrong");

// ---- layouts ----

// clang-format off
#define STRUCT(type, cuda) SAME(sizeof(type), sizeof(cuda)) SAME(alignof(type), alignof(cuda)) \
    template <> struct same_layout<type, cuda> : std::true_type {};
// alone: ours is an array for three named members, or is nested deeper
#define AT(type, ours, cuda, theirs) SAME(offsetof(type, ours), offsetof(cuda, theirs))
#define MEMBER(type, ours, cuda, theirs) AT(type, ours, cuda, theirs) \
    static_assert(agree<decltype(type::ours), decltype(cuda::theirs)>::value, \
                  "the type of " #type "::" #ours " is not that of " #cuda "::" #theirs);

SAME(sizeof(unsigned char[16]), sizeof(CUuuid))
template <> struct same_layout<unsigned char, CUuuid> : std::true_type {};    // ours is an array
STRUCT(gxi_memcpy2d, CUDA_MEMCPY2D)
MEMBER(gxi_memcpy2d, from_x, CUDA_MEMCPY2D, srcXInBytes)
MEMBER(gxi_memcpy2d, from_y, CUDA_MEMCPY2D, srcY)
MEMBER(gxi_memcpy2d, from_type, CUDA_MEMCPY2D, srcMemoryType)
MEMBER(gxi_memcpy2d, from_host, CUDA_MEMCPY2D, srcHost)
MEMBER(gxi_memcpy2d, from_device, CUDA_MEMCPY2D, srcDevice)
MEMBER(gxi_memcpy2d, from_array, CUDA_MEMCPY2D, srcArray)
MEMBER(gxi_memcpy2d, from_pitch, CUDA_MEMCPY2D, srcPitch)
MEMBER(gxi_memcpy2d, to_x, CUDA_MEMCPY2D, dstXInBytes)
MEMBER(gxi_memcpy2d, to_y, CUDA_MEMCPY2D, dstY)
MEMBER(gxi_memcpy2d, to_type, CUDA_MEMCPY2D, dstMemoryType)
MEMBER(gxi_memcpy2d, to_host, CUDA_MEMCPY2D, dstHost)
MEMBER(gxi_memcpy2d, to_device, CUDA_MEMCPY2D, dstDevice)
MEMBER(gxi_memcpy2d, to_array, CUDA_MEMCPY2D, dstArray)
MEMBER(gxi_memcpy2d, to_pitch, CUDA_MEMCPY2D, dstPitch)
MEMBER(gxi_memcpy2d, width, CUDA_MEMCPY2D, WidthInBytes)
MEMBER(gxi_memcpy2d, height, CUDA_MEMCPY2D, Height)
STRUCT(gxi_launch_params, CUDA_LAUNCH_PARAMS)
MEMBER(gxi_launch_params, function, CUDA_LAUNCH_PARAMS, function)
AT(gxi_launch_params, dims.grid_x, CUDA_LAUNCH_PARAMS, gridDimX)
AT(gxi_launch_params, dims.grid_y, CUDA_LAUNCH_PARAMS, gridDimY)
AT(gxi_launch_params, dims.grid_z, CUDA_LAUNCH_PARAMS, gridDimZ)
AT(gxi_launch_params, dims.block_x, CUDA_LAUNCH_PARAMS, blockDimX)
AT(gxi_launch_params, dims.block_y, CUDA_LAUNCH_PARAMS, blockDimY)
AT(gxi_launch_params, dims.block_z, CUDA_LAUNCH_PARAMS, blockDimZ)
AT(gxi_launch_params, dims.shared_bytes, CUDA_LAUNCH_PARAMS, sharedMemBytes)
MEMBER(gxi_launch_params, stream, CUDA_LAUNCH_PARAMS, hStream)
MEMBER(gxi_launch_params, params, CUDA_LAUNCH_PARAMS, kernelParams)
#if CUDA_VERSION >= 11080
STRUCT(gxi_launch_value, CUlaunchAttributeValue)
STRUCT(gxi_launch_attribute, CUlaunchAttribute)
MEMBER(gxi_launch_attribute, id, CUlaunchAttribute, id)
AT(gxi_launch_attribute, value, CUlaunchAttribute, value)
AT(gxi_launch_attribute, value.number, CUlaunchAttribute, value.cooperative)
AT(gxi_launch_attribute, value.number, CUlaunchAttribute, value.priority)
AT(gxi_launch_attribute, value.number, CUlaunchAttribute,
    value.programmaticStreamSerializationAllowed)
AT(gxi_launch_attribute, value.blocks, CUlaunchAttribute, value.clusterDim)
AT(gxi_launch_attribute, value.number, CUlaunchAttribute, value.syncPolicy)
AT(gxi_launch_attribute, value.number, CUlaunchAttribute, value.clusterSchedulingPolicyPreference)
AT(gxi_launch_attribute, value.window.address, CUlaunchAttribute, value.accessPolicyWindow.base_ptr)
AT(gxi_launch_attribute, value.window.bytes, CUlaunchAttribute, value.accessPolicyWindow.num_bytes)
AT(gxi_launch_attribute, value.window.hit_ratio, CUlaunchAttribute,
    value.accessPolicyWindow.hitRatio)
AT(gxi_launch_attribute, value.window.hit, CUlaunchAttribute, value.accessPolicyWindow.hitProp)
AT(gxi_launch_attribute, value.window.miss, CUlaunchAttribute, value.accessPolicyWindow.missProp)
AT(gxi_launch_attribute, value.record.event, CUlaunchAttribute, value.programmaticEvent.event)
AT(gxi_launch_attribute, value.record.flags, CUlaunchAttribute, value.programmaticEvent.flags)
AT(gxi_launch_attribute, value.record.at_start, CUlaunchAttribute,
    value.programmaticEvent.triggerAtBlockStart)
SAME(sizeof(gpuexec_window), sizeof(CUaccessPolicyWindow))
SAME(GPUEXEC_ACCESS_STREAMING, CU_ACCESS_PROPERTY_STREAMING)
SAME(GPUEXEC_ACCESS_PERSISTING, CU_ACCESS_PROPERTY_PERSISTING)
SAME(GPUEXEC_WAIT_AUTO, CU_SYNC_POLICY_AUTO)
SAME(GPUEXEC_WAIT_SPIN, CU_SYNC_POLICY_SPIN)
SAME(GPUEXEC_WAIT_YIELD, CU_SYNC_POLICY_YIELD)
SAME(GPUEXEC_WAIT_BLOCK, CU_SYNC_POLICY_BLOCKING_SYNC)
SAME(GPUEXEC_CLUSTER_SPREAD, CU_CLUSTER_SCHEDULING_POLICY_SPREAD)
SAME(GPUEXEC_CLUSTER_LOAD_BALANCING, CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
#if CUDA_VERSION >= 12000
AT(gxi_launch_attribute, value.domains[0], CUlaunchAttribute, value.memSyncDomainMap.default_)
AT(gxi_launch_attribute, value.domains[1], CUlaunchAttribute, value.memSyncDomainMap.remote)
#endif
#if CUDA_VERSION >= 12030
AT(gxi_launch_attribute, value.record.event, CUlaunchAttribute, value.launchCompletionEvent.event)
AT(gxi_launch_attribute, value.record.flags, CUlaunchAttribute, value.launchCompletionEvent.flags)
#endif
#if CUDA_VERSION >= 12040
AT(gxi_launch_attribute, value.update.updatable, CUlaunchAttribute,
    value.deviceUpdatableKernelNode.deviceUpdatable)
AT(gxi_launch_attribute, value.update.node, CUlaunchAttribute,
    value.deviceUpdatableKernelNode.devNode)
#endif
#if CUDA_VERSION >= 12050
AT(gxi_launch_attribute, value.number, CUlaunchAttribute, value.sharedMemCarveout)
#endif
#if CUDA_VERSION >= 12080
AT(gxi_launch_attribute, value.blocks, CUlaunchAttribute, value.preferredClusterDim)
#endif
STRUCT(gxi_launch_config, CUlaunchConfig)
AT(gxi_launch_config, dims.grid_x, CUlaunchConfig, gridDimX)
AT(gxi_launch_config, dims.grid_y, CUlaunchConfig, gridDimY)
AT(gxi_launch_config, dims.grid_z, CUlaunchConfig, gridDimZ)
AT(gxi_launch_config, dims.block_x, CUlaunchConfig, blockDimX)
AT(gxi_launch_config, dims.block_y, CUlaunchConfig, blockDimY)
AT(gxi_launch_config, dims.block_z, CUlaunchConfig, blockDimZ)
AT(gxi_launch_config, dims.shared_bytes, CUlaunchConfig, sharedMemBytes)
MEMBER(gxi_launch_config, stream, CUlaunchConfig, hStream)
MEMBER(gxi_launch_config, attributes, CUlaunchConfig, attrs)
MEMBER(gxi_launch_config, count, CUlaunchConfig, numAttrs)
#endif
#if CUDA_VERSION < 11080
// was smaller
template <> struct same_layout<gxi_launch_value, CUkernelNodeAttrValue> : std::true_type {};
template <>
struct same_layout<sim::CUlaunchAttributeValue, CUkernelNodeAttrValue> : std::true_type {};
template <> struct same_layout<gxi_launch_value, CUstreamAttrValue> : std::true_type {};
template <>
struct same_layout<sim::CUlaunchAttributeValue, CUstreamAttrValue> : std::true_type {};
#endif
STRUCT(gxi_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1)
MEMBER(gxi_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v1, func)
AT(gxi_kernel_node, dims.grid_x, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX)
AT(gxi_kernel_node, dims.grid_y, CUDA_KERNEL_NODE_PARAMS_v1, gridDimY)
AT(gxi_kernel_node, dims.grid_z, CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ)
AT(gxi_kernel_node, dims.block_x, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX)
AT(gxi_kernel_node, dims.block_y, CUDA_KERNEL_NODE_PARAMS_v1, blockDimY)
AT(gxi_kernel_node, dims.block_z, CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ)
AT(gxi_kernel_node, dims.shared_bytes, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes)
MEMBER(gxi_kernel_node, params, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams)
MEMBER(gxi_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v1, extra)
STRUCT(gxi_memcpy3d, CUDA_MEMCPY3D)
STRUCT(gxi_memcpy3d, CUDA_MEMCPY3D_PEER)                // `reserved` is there the context
AT(gxi_memcpy3d, from.context, CUDA_MEMCPY3D_PEER, srcContext)
AT(gxi_memcpy3d, from.pitch, CUDA_MEMCPY3D_PEER, srcPitch)
AT(gxi_memcpy3d, to.x, CUDA_MEMCPY3D_PEER, dstXInBytes)
AT(gxi_memcpy3d, to.context, CUDA_MEMCPY3D_PEER, dstContext)
AT(gxi_memcpy3d, to.height, CUDA_MEMCPY3D_PEER, dstHeight)
AT(gxi_memcpy3d, width, CUDA_MEMCPY3D_PEER, WidthInBytes)
#if CUDA_VERSION >= 12080
STRUCT(gxi_batch_attributes, CUmemcpyAttributes)
AT(gxi_batch_attributes, order, CUmemcpyAttributes, srcAccessOrder)
AT(gxi_batch_attributes, from, CUmemcpyAttributes, srcLocHint)
AT(gxi_batch_attributes, to, CUmemcpyAttributes, dstLocHint)
MEMBER(gxi_batch_attributes, flags, CUmemcpyAttributes, flags)
#endif
AT(gxi_memcpy3d, from.x, CUDA_MEMCPY3D, srcXInBytes)
AT(gxi_memcpy3d, from.type, CUDA_MEMCPY3D, srcMemoryType)
AT(gxi_memcpy3d, from.host, CUDA_MEMCPY3D, srcHost)
AT(gxi_memcpy3d, from.device, CUDA_MEMCPY3D, srcDevice)
AT(gxi_memcpy3d, from.pitch, CUDA_MEMCPY3D, srcPitch)
AT(gxi_memcpy3d, from.height, CUDA_MEMCPY3D, srcHeight)
AT(gxi_memcpy3d, to.x, CUDA_MEMCPY3D, dstXInBytes)
AT(gxi_memcpy3d, to.type, CUDA_MEMCPY3D, dstMemoryType)
AT(gxi_memcpy3d, to.host, CUDA_MEMCPY3D, dstHost)
AT(gxi_memcpy3d, to.device, CUDA_MEMCPY3D, dstDevice)
AT(gxi_memcpy3d, to.pitch, CUDA_MEMCPY3D, dstPitch)
AT(gxi_memcpy3d, to.height, CUDA_MEMCPY3D, dstHeight)
MEMBER(gxi_memcpy3d, width, CUDA_MEMCPY3D, WidthInBytes)
MEMBER(gxi_memcpy3d, height, CUDA_MEMCPY3D, Height)
MEMBER(gxi_memcpy3d, depth, CUDA_MEMCPY3D, Depth)
STRUCT(gxi_array_layout, CUDA_ARRAY3D_DESCRIPTOR)
MEMBER(gxi_array_layout, width, CUDA_ARRAY3D_DESCRIPTOR, Width)
MEMBER(gxi_array_layout, height, CUDA_ARRAY3D_DESCRIPTOR, Height)
MEMBER(gxi_array_layout, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth)
MEMBER(gxi_array_layout, format, CUDA_ARRAY3D_DESCRIPTOR, Format)
MEMBER(gxi_array_layout, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels)
MEMBER(gxi_array_layout, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags)
STRUCT(gxi_reference_layout, CUDA_ARRAY_DESCRIPTOR)
MEMBER(gxi_reference_layout, width, CUDA_ARRAY_DESCRIPTOR, Width)
MEMBER(gxi_reference_layout, height, CUDA_ARRAY_DESCRIPTOR, Height)
MEMBER(gxi_reference_layout, format, CUDA_ARRAY_DESCRIPTOR, Format)
MEMBER(gxi_reference_layout, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels)
STRUCT(gxi_resource_desc, CUDA_RESOURCE_DESC)
MEMBER(gxi_resource_desc, type, CUDA_RESOURCE_DESC, resType)
AT(gxi_resource_desc, u.array, CUDA_RESOURCE_DESC, res.array.hArray)
AT(gxi_resource_desc, u.mipmapped, CUDA_RESOURCE_DESC, res.mipmap.hMipmappedArray)
AT(gxi_resource_desc, u.memory.address, CUDA_RESOURCE_DESC, res.linear.devPtr)
AT(gxi_resource_desc, u.memory.format, CUDA_RESOURCE_DESC, res.linear.format)
AT(gxi_resource_desc, u.memory.channels, CUDA_RESOURCE_DESC, res.linear.numChannels)
AT(gxi_resource_desc, u.memory.size[0], CUDA_RESOURCE_DESC, res.linear.sizeInBytes)
AT(gxi_resource_desc, u.memory.address, CUDA_RESOURCE_DESC, res.pitch2D.devPtr)
AT(gxi_resource_desc, u.memory.format, CUDA_RESOURCE_DESC, res.pitch2D.format)
AT(gxi_resource_desc, u.memory.channels, CUDA_RESOURCE_DESC, res.pitch2D.numChannels)
AT(gxi_resource_desc, u.memory.size[0], CUDA_RESOURCE_DESC, res.pitch2D.width)
AT(gxi_resource_desc, u.memory.size[1], CUDA_RESOURCE_DESC, res.pitch2D.height)
AT(gxi_resource_desc, u.memory.size[2], CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes)
MEMBER(gxi_resource_desc, flags, CUDA_RESOURCE_DESC, flags)
STRUCT(gxi_sampler_desc, CUDA_TEXTURE_DESC)
AT(gxi_sampler_desc, address, CUDA_TEXTURE_DESC, addressMode)
MEMBER(gxi_sampler_desc, filter, CUDA_TEXTURE_DESC, filterMode)
MEMBER(gxi_sampler_desc, flags, CUDA_TEXTURE_DESC, flags)
MEMBER(gxi_sampler_desc, max_anisotropy, CUDA_TEXTURE_DESC, maxAnisotropy)
MEMBER(gxi_sampler_desc, level_filter, CUDA_TEXTURE_DESC, mipmapFilterMode)
MEMBER(gxi_sampler_desc, level_bias, CUDA_TEXTURE_DESC, mipmapLevelBias)
MEMBER(gxi_sampler_desc, min_level, CUDA_TEXTURE_DESC, minMipmapLevelClamp)
MEMBER(gxi_sampler_desc, max_level, CUDA_TEXTURE_DESC, maxMipmapLevelClamp)
AT(gxi_sampler_desc, border, CUDA_TEXTURE_DESC, borderColor)
STRUCT(gxi_view_desc, CUDA_RESOURCE_VIEW_DESC)
MEMBER(gxi_view_desc, format, CUDA_RESOURCE_VIEW_DESC, format)
MEMBER(gxi_view_desc, width, CUDA_RESOURCE_VIEW_DESC, width)
MEMBER(gxi_view_desc, height, CUDA_RESOURCE_VIEW_DESC, height)
MEMBER(gxi_view_desc, depth, CUDA_RESOURCE_VIEW_DESC, depth)
MEMBER(gxi_view_desc, first_level, CUDA_RESOURCE_VIEW_DESC, firstMipmapLevel)
MEMBER(gxi_view_desc, last_level, CUDA_RESOURCE_VIEW_DESC, lastMipmapLevel)
MEMBER(gxi_view_desc, first_layer, CUDA_RESOURCE_VIEW_DESC, firstLayer)
MEMBER(gxi_view_desc, last_layer, CUDA_RESOURCE_VIEW_DESC, lastLayer)
STRUCT(gxi_fill_node, CUDA_MEMSET_NODE_PARAMS)
MEMBER(gxi_fill_node, to, CUDA_MEMSET_NODE_PARAMS, dst)
MEMBER(gxi_fill_node, pitch, CUDA_MEMSET_NODE_PARAMS, pitch)
MEMBER(gxi_fill_node, value, CUDA_MEMSET_NODE_PARAMS, value)
MEMBER(gxi_fill_node, element, CUDA_MEMSET_NODE_PARAMS, elementSize)
MEMBER(gxi_fill_node, width, CUDA_MEMSET_NODE_PARAMS, width)
MEMBER(gxi_fill_node, height, CUDA_MEMSET_NODE_PARAMS, height)
STRUCT(gxi_host_node, CUDA_HOST_NODE_PARAMS)
MEMBER(gxi_host_node, function, CUDA_HOST_NODE_PARAMS, fn)
MEMBER(gxi_host_node, user, CUDA_HOST_NODE_PARAMS, userData)
STRUCT(gxi_alloc_node, CUDA_MEM_ALLOC_NODE_PARAMS)
AT(gxi_alloc_node, pool, CUDA_MEM_ALLOC_NODE_PARAMS, poolProps)
AT(gxi_alloc_node, access, CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs)
MEMBER(gxi_alloc_node, accesses, CUDA_MEM_ALLOC_NODE_PARAMS, accessDescCount)
MEMBER(gxi_alloc_node, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize)
MEMBER(gxi_alloc_node, address, CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
#if CUDA_VERSION >= 12030
STRUCT(gxi_edge, CUgraphEdgeData)
MEMBER(gxi_edge, from_port, CUgraphEdgeData, from_port)
MEMBER(gxi_edge, to_port, CUgraphEdgeData, to_port)
MEMBER(gxi_edge, type, CUgraphEdgeData, type)
STRUCT(gxi_condition_node, CUgraphNodeParams)
MEMBER(gxi_condition_node, node_type, CUgraphNodeParams, type)
AT(gxi_condition_node, condition, CUgraphNodeParams, conditional.handle)
AT(gxi_condition_node, type, CUgraphNodeParams, conditional.type)
AT(gxi_condition_node, size, CUgraphNodeParams, conditional.size)
AT(gxi_condition_node, bodies, CUgraphNodeParams, conditional.phGraph_out)
AT(gxi_condition_node, context, CUgraphNodeParams, conditional.ctx)
#endif
#if CUDA_VERSION >= 12000
STRUCT(gxi_update, CUgraphExecUpdateResultInfo)
MEMBER(gxi_update, result, CUgraphExecUpdateResultInfo, result)
MEMBER(gxi_update, node, CUgraphExecUpdateResultInfo, errorNode)
MEMBER(gxi_update, from, CUgraphExecUpdateResultInfo, errorFromNode)
SAME(1, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)    // gpuexec_launch_desc.memory_sync_domain
#endif
#if CUDA_VERSION >= 12040    // without the alignment: newer ones have a pointer at their end
SAME(sizeof(gxi_sm_resource), sizeof(CUdevResource))
SAME(sizeof(sim::CUdevResource), sizeof(CUdevResource))
template <> struct same_layout<gxi_sm_resource, CUdevResource> : std::true_type {};
template <> struct same_layout<sim::CUdevResource, CUdevResource> : std::true_type {};
MEMBER(gxi_sm_resource, type, CUdevResource, type)
AT(gxi_sm_resource, sms, CUdevResource, sm.smCount)
MEMBER(sim::CUdevResource, type, CUdevResource, type)
AT(sim::CUdevResource, sm, CUdevResource, sm)
AT(sim::CUdevResource, sm.smCount, CUdevResource, sm.smCount)
#if CUDA_VERSION >= 13000
AT(gxi_sm_resource, least, CUdevResource, sm.minSmPartitionSize)
AT(gxi_sm_resource, alignment, CUdevResource, sm.smCoscheduledAlignment)
AT(sim::CUdevResource, sm.minSmPartitionSize, CUdevResource, sm.minSmPartitionSize)
AT(sim::CUdevResource, sm.smCoscheduledAlignment, CUdevResource, sm.smCoscheduledAlignment)
#endif
#endif
STRUCT(gxi_pool_properties, CUmemPoolProps)
MEMBER(gxi_pool_properties, type, CUmemPoolProps, allocType)
MEMBER(gxi_pool_properties, handle_types, CUmemPoolProps, handleTypes)
AT(gxi_pool_properties, location_type, CUmemPoolProps, location.type)
AT(gxi_pool_properties, location, CUmemPoolProps, location.id)
MEMBER(gxi_pool_properties, security, CUmemPoolProps, win32SecurityAttributes)
#if CUDA_VERSION >= 12020
AT(gxi_pool_properties, max_bytes, CUmemPoolProps, maxSize)
#endif
STRUCT(gxi_location, CUmemLocation)
MEMBER(gxi_location, type, CUmemLocation, type)
MEMBER(gxi_location, id, CUmemLocation, id)
STRUCT(gxi_access, CUmemAccessDesc)
MEMBER(gxi_access, location, CUmemAccessDesc, location)
MEMBER(gxi_access, flags, CUmemAccessDesc, flags)
SAME(GPUEXEC_READ_MOSTLY, CU_MEM_ADVISE_SET_READ_MOSTLY)
SAME(GPUEXEC_NOT_READ_MOSTLY, CU_MEM_ADVISE_UNSET_READ_MOSTLY)
SAME(GPUEXEC_PREFERRED, CU_MEM_ADVISE_SET_PREFERRED_LOCATION)
SAME(GPUEXEC_NOT_PREFERRED, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
SAME(GPUEXEC_ACCESSED_BY, CU_MEM_ADVISE_SET_ACCESSED_BY)
SAME(GPUEXEC_NOT_ACCESSED_BY, CU_MEM_ADVISE_UNSET_ACCESSED_BY)
SAME(GPUEXEC_ATTACH_ALL, CU_MEM_ATTACH_GLOBAL)
SAME(GPUEXEC_ATTACH_HOST, CU_MEM_ATTACH_HOST)
SAME(GPUEXEC_ATTACH_STREAM, CU_MEM_ATTACH_SINGLE)
SAME(GPUEXEC_HOST, CU_DEVICE_CPU)
SAME(GPUEXEC_NOWHERE, CU_DEVICE_INVALID)
STRUCT(gxi_ipc_handle, CUipcMemHandle) STRUCT(gxi_ipc_handle, CUipcEventHandle)
STRUCT(gxi_ipc_handle, CUmemPoolPtrExportData)
SAME(GPUEXEC_LIMIT_STACK, CU_LIMIT_STACK_SIZE)
SAME(GPUEXEC_LIMIT_PRINTF_FIFO, CU_LIMIT_PRINTF_FIFO_SIZE)
SAME(GPUEXEC_LIMIT_MALLOC_HEAP, CU_LIMIT_MALLOC_HEAP_SIZE)
SAME(GPUEXEC_LIMIT_SYNC_DEPTH, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
SAME(GPUEXEC_LIMIT_PENDING_LAUNCHES, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT)
SAME(GPUEXEC_LIMIT_L2_FETCH, CU_LIMIT_MAX_L2_FETCH_GRANULARITY)
SAME(GPUEXEC_LIMIT_PERSISTING_L2, CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
SAME(GPUEXEC_FORMAT_U8, CU_AD_FORMAT_UNSIGNED_INT8)
SAME(GPUEXEC_FORMAT_U16, CU_AD_FORMAT_UNSIGNED_INT16)
SAME(GPUEXEC_FORMAT_U32, CU_AD_FORMAT_UNSIGNED_INT32)
SAME(GPUEXEC_FORMAT_S8, CU_AD_FORMAT_SIGNED_INT8)
SAME(GPUEXEC_FORMAT_S16, CU_AD_FORMAT_SIGNED_INT16)
SAME(GPUEXEC_FORMAT_S32, CU_AD_FORMAT_SIGNED_INT32)
SAME(GPUEXEC_FORMAT_F16, CU_AD_FORMAT_HALF)
SAME(GPUEXEC_FORMAT_F32, CU_AD_FORMAT_FLOAT)
#if CUDA_VERSION >= 11050
SAME(GPUEXEC_FORMAT_UNORM8, CU_AD_FORMAT_UNORM_INT8X1)
SAME(GPUEXEC_FORMAT_UNORM16, CU_AD_FORMAT_UNORM_INT16X1)
SAME(GPUEXEC_FORMAT_SNORM8, CU_AD_FORMAT_SNORM_INT8X1)
SAME(GPUEXEC_FORMAT_SNORM16, CU_AD_FORMAT_SNORM_INT16X1)
SAME(GPUEXEC_FORMAT_BC1, CU_AD_FORMAT_BC1_UNORM)
SAME(GPUEXEC_FORMAT_BC1_SRGB, CU_AD_FORMAT_BC1_UNORM_SRGB)
SAME(GPUEXEC_FORMAT_BC2, CU_AD_FORMAT_BC2_UNORM)
SAME(GPUEXEC_FORMAT_BC2_SRGB, CU_AD_FORMAT_BC2_UNORM_SRGB)
SAME(GPUEXEC_FORMAT_BC3, CU_AD_FORMAT_BC3_UNORM)
SAME(GPUEXEC_FORMAT_BC3_SRGB, CU_AD_FORMAT_BC3_UNORM_SRGB)
SAME(GPUEXEC_FORMAT_BC4, CU_AD_FORMAT_BC4_UNORM)
SAME(GPUEXEC_FORMAT_BC4_SIGNED, CU_AD_FORMAT_BC4_SNORM)
SAME(GPUEXEC_FORMAT_BC5, CU_AD_FORMAT_BC5_UNORM)
SAME(GPUEXEC_FORMAT_BC5_SIGNED, CU_AD_FORMAT_BC5_SNORM)
SAME(GPUEXEC_FORMAT_BC6H, CU_AD_FORMAT_BC6H_UF16)
SAME(GPUEXEC_FORMAT_BC6H_SIGNED, CU_AD_FORMAT_BC6H_SF16)
SAME(GPUEXEC_FORMAT_BC7, CU_AD_FORMAT_BC7_UNORM)
SAME(GPUEXEC_FORMAT_BC7_SRGB, CU_AD_FORMAT_BC7_UNORM_SRGB)
#endif
#if CUDA_VERSION >= 12000
static_assert(sizeof(gpuexec_tensor_map) == sizeof(CUtensorMap), "gpuexec_tensor_map");
static_assert(GXI_TENSOR_MAP_ALIGNMENT % alignof(CUtensorMap) == 0, "its alignment");
SAME(GPUEXEC_TENSOR_U8, CU_TENSOR_MAP_DATA_TYPE_UINT8)
SAME(GPUEXEC_TENSOR_U16, CU_TENSOR_MAP_DATA_TYPE_UINT16)
SAME(GPUEXEC_TENSOR_U32, CU_TENSOR_MAP_DATA_TYPE_UINT32)
SAME(GPUEXEC_TENSOR_S32, CU_TENSOR_MAP_DATA_TYPE_INT32)
SAME(GPUEXEC_TENSOR_U64, CU_TENSOR_MAP_DATA_TYPE_UINT64)
SAME(GPUEXEC_TENSOR_S64, CU_TENSOR_MAP_DATA_TYPE_INT64)
SAME(GPUEXEC_TENSOR_F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
SAME(GPUEXEC_TENSOR_F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32)
SAME(GPUEXEC_TENSOR_F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64)
SAME(GPUEXEC_TENSOR_BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)
SAME(GPUEXEC_TENSOR_F32_FTZ, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ)
SAME(GPUEXEC_TENSOR_TF32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32)
SAME(GPUEXEC_TENSOR_TF32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)
SAME(GPUEXEC_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_NONE)
SAME(GPUEXEC_INTERLEAVE_16B, CU_TENSOR_MAP_INTERLEAVE_16B)
SAME(GPUEXEC_INTERLEAVE_32B, CU_TENSOR_MAP_INTERLEAVE_32B)
SAME(GPUEXEC_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE)
SAME(GPUEXEC_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_32B)
SAME(GPUEXEC_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_64B)
SAME(GPUEXEC_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B)
SAME(GPUEXEC_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE)
SAME(GPUEXEC_L2_PROMOTION_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_64B)
SAME(GPUEXEC_L2_PROMOTION_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B)
SAME(GPUEXEC_L2_PROMOTION_256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
#endif
#if CUDA_VERSION >= 12080
SAME(GPUEXEC_FORMAT_UNORM_10_10_10_2, CU_AD_FORMAT_UNORM_INT_101010_2)
SAME(GPUEXEC_TENSOR_U4_ALIGN8, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B)
SAME(GPUEXEC_TENSOR_U4_ALIGN16, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B)
SAME(GPUEXEC_TENSOR_U6_ALIGN16, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
SAME(GPUEXEC_SWIZZLE_128B_ATOM_32B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B)
SAME(GPUEXEC_SWIZZLE_128B_ATOM_32B_FLIP_8B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B)
SAME(GPUEXEC_SWIZZLE_128B_ATOM_64B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
#endif
static_assert(std::is_same<gpuexec_ptr, CUdeviceptr>::value, "gpuexec_ptr is CUdeviceptr");

#define SIM_STRUCT(type) STRUCT(sim::type, type)
#define SIM_MEMBER(type, member) MEMBER(sim::type, member, type, member)
static_assert(std::is_same<sim::CUdeviceptr, CUdeviceptr>::value && std::is_same<sim::CUdevice,
    CUdevice>::value,
              "simgpu: CUdeviceptr and CUdevice");
SIM_STRUCT(CUuuid) SIM_STRUCT(CUipcMemHandle) SIM_STRUCT(CUipcEventHandle)
SIM_STRUCT(CUmemPoolPtrExportData)
SIM_STRUCT(CUDA_MEMCPY2D)
SIM_MEMBER(CUDA_MEMCPY2D, srcXInBytes) SIM_MEMBER(CUDA_MEMCPY2D, srcY)
SIM_MEMBER(CUDA_MEMCPY2D, srcMemoryType)
SIM_MEMBER(CUDA_MEMCPY2D, srcHost) SIM_MEMBER(CUDA_MEMCPY2D, srcDevice)
SIM_MEMBER(CUDA_MEMCPY2D, srcArray)
SIM_MEMBER(CUDA_MEMCPY2D, srcPitch) SIM_MEMBER(CUDA_MEMCPY2D, dstXInBytes)
SIM_MEMBER(CUDA_MEMCPY2D, dstY)
SIM_MEMBER(CUDA_MEMCPY2D, dstMemoryType) SIM_MEMBER(CUDA_MEMCPY2D, dstHost)
SIM_MEMBER(CUDA_MEMCPY2D, dstDevice)
SIM_MEMBER(CUDA_MEMCPY2D, dstArray) SIM_MEMBER(CUDA_MEMCPY2D, dstPitch)
SIM_MEMBER(CUDA_MEMCPY2D, WidthInBytes)
SIM_MEMBER(CUDA_MEMCPY2D, Height)
SIM_STRUCT(CUDA_ARRAY_DESCRIPTOR)
SIM_MEMBER(CUDA_ARRAY_DESCRIPTOR, Width) SIM_MEMBER(CUDA_ARRAY_DESCRIPTOR, Height)
SIM_MEMBER(CUDA_ARRAY_DESCRIPTOR, Format) SIM_MEMBER(CUDA_ARRAY_DESCRIPTOR, NumChannels)
SIM_STRUCT(CUDA_ARRAY3D_DESCRIPTOR)
SIM_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Width) SIM_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Height)
SIM_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Depth) SIM_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Format)
SIM_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, NumChannels) SIM_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Flags)
SIM_STRUCT(CUDA_ARRAY_SPARSE_PROPERTIES)
SIM_MEMBER(CUDA_ARRAY_SPARSE_PROPERTIES, miptailFirstLevel)
SIM_MEMBER(CUDA_ARRAY_SPARSE_PROPERTIES, miptailSize)
SIM_MEMBER(CUDA_ARRAY_SPARSE_PROPERTIES, flags)
SIM_STRUCT(CUDA_RESOURCE_DESC)
SIM_MEMBER(CUDA_RESOURCE_DESC, resType) SIM_MEMBER(CUDA_RESOURCE_DESC, flags)
SIM_STRUCT(CUDA_TEXTURE_DESC)
SIM_MEMBER(CUDA_TEXTURE_DESC, filterMode) SIM_MEMBER(CUDA_TEXTURE_DESC, flags)
SIM_MEMBER(CUDA_TEXTURE_DESC, maxAnisotropy) SIM_MEMBER(CUDA_TEXTURE_DESC, mipmapFilterMode)
SIM_MEMBER(CUDA_TEXTURE_DESC, mipmapLevelBias) SIM_MEMBER(CUDA_TEXTURE_DESC, minMipmapLevelClamp)
SIM_MEMBER(CUDA_TEXTURE_DESC, maxMipmapLevelClamp)
SIM_STRUCT(CUDA_RESOURCE_VIEW_DESC)
SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, format) SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, width)
SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, height) SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, depth)
SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, firstMipmapLevel)
SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, lastMipmapLevel) SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, firstLayer)
SIM_MEMBER(CUDA_RESOURCE_VIEW_DESC, lastLayer)
AT(sim::CUDA_RESOURCE_DESC, res.array.hArray, CUDA_RESOURCE_DESC, res.array.hArray)
AT(sim::CUDA_RESOURCE_DESC, res.linear.devPtr, CUDA_RESOURCE_DESC, res.linear.devPtr)
AT(sim::CUDA_RESOURCE_DESC, res.linear.format, CUDA_RESOURCE_DESC, res.linear.format)
AT(sim::CUDA_RESOURCE_DESC, res.linear.numChannels, CUDA_RESOURCE_DESC, res.linear.numChannels)
AT(sim::CUDA_RESOURCE_DESC, res.linear.sizeInBytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes)
AT(sim::CUDA_RESOURCE_DESC, res.pitch2D.width, CUDA_RESOURCE_DESC, res.pitch2D.width)
AT(sim::CUDA_RESOURCE_DESC, res.pitch2D.height, CUDA_RESOURCE_DESC, res.pitch2D.height)
AT(sim::CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes)
AT(sim::CUDA_TEXTURE_DESC, borderColor, CUDA_TEXTURE_DESC, borderColor)
#if CUDA_VERSION >= 11060
SIM_STRUCT(CUDA_ARRAY_MEMORY_REQUIREMENTS)
SIM_MEMBER(CUDA_ARRAY_MEMORY_REQUIREMENTS, size)
SIM_MEMBER(CUDA_ARRAY_MEMORY_REQUIREMENTS, alignment)
#endif
SIM_STRUCT(CUDA_LAUNCH_PARAMS)
SIM_MEMBER(CUDA_LAUNCH_PARAMS, function) SIM_MEMBER(CUDA_LAUNCH_PARAMS, gridDimX)
SIM_MEMBER(CUDA_LAUNCH_PARAMS, gridDimY) SIM_MEMBER(CUDA_LAUNCH_PARAMS, gridDimZ)
SIM_MEMBER(CUDA_LAUNCH_PARAMS, blockDimX) SIM_MEMBER(CUDA_LAUNCH_PARAMS, blockDimY)
SIM_MEMBER(CUDA_LAUNCH_PARAMS, blockDimZ) SIM_MEMBER(CUDA_LAUNCH_PARAMS, sharedMemBytes)
SIM_MEMBER(CUDA_LAUNCH_PARAMS, hStream) SIM_MEMBER(CUDA_LAUNCH_PARAMS, kernelParams)
SIM_STRUCT(CUDA_KERNEL_NODE_PARAMS_v1)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, func) SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams) SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, extra)
SIM_STRUCT(CUDA_MEMCPY3D)
SIM_MEMBER(CUDA_MEMCPY3D, srcXInBytes) SIM_MEMBER(CUDA_MEMCPY3D, srcLOD)
SIM_MEMBER(CUDA_MEMCPY3D, srcMemoryType)
SIM_MEMBER(CUDA_MEMCPY3D, srcHost) SIM_MEMBER(CUDA_MEMCPY3D, srcDevice)
SIM_MEMBER(CUDA_MEMCPY3D, srcPitch)
SIM_MEMBER(CUDA_MEMCPY3D, dstXInBytes) SIM_MEMBER(CUDA_MEMCPY3D, dstLOD)
SIM_MEMBER(CUDA_MEMCPY3D, dstMemoryType)
SIM_MEMBER(CUDA_MEMCPY3D, dstHost) SIM_MEMBER(CUDA_MEMCPY3D, dstDevice)
SIM_MEMBER(CUDA_MEMCPY3D, dstPitch)
SIM_MEMBER(CUDA_MEMCPY3D, WidthInBytes) SIM_MEMBER(CUDA_MEMCPY3D, Height)
SIM_MEMBER(CUDA_MEMCPY3D, Depth)
SIM_STRUCT(CUDA_MEMCPY3D_PEER)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcXInBytes) SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcLOD)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcMemoryType) SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcHost)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcDevice) SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcArray)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcContext) SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcPitch)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, srcHeight) SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstXInBytes)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstLOD) SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstMemoryType)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstHost) SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstDevice)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstArray) SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstContext)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstPitch) SIM_MEMBER(CUDA_MEMCPY3D_PEER, dstHeight)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, WidthInBytes) SIM_MEMBER(CUDA_MEMCPY3D_PEER, Height)
SIM_MEMBER(CUDA_MEMCPY3D_PEER, Depth)
SIM_STRUCT(CUmemLocation)
SIM_MEMBER(CUmemLocation, type) SIM_MEMBER(CUmemLocation, id)
SIM_STRUCT(CUmemAccessDesc)
SIM_MEMBER(CUmemAccessDesc, location) SIM_MEMBER(CUmemAccessDesc, flags)
SIM_STRUCT(CUDA_MEMSET_NODE_PARAMS)
SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS, dst) SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS, pitch)
SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS, value) SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS, elementSize)
SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS, width) SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS, height)
SIM_STRUCT(CUDA_HOST_NODE_PARAMS)
SIM_MEMBER(CUDA_HOST_NODE_PARAMS, fn) SIM_MEMBER(CUDA_HOST_NODE_PARAMS, userData)
SIM_STRUCT(CUmemPoolProps)
SIM_MEMBER(CUmemPoolProps, allocType) SIM_MEMBER(CUmemPoolProps, handleTypes)
AT(sim::CUmemPoolProps, location.type, CUmemPoolProps, location.type)
AT(sim::CUmemPoolProps, location.id, CUmemPoolProps, location.id)
SIM_STRUCT(CUmemAllocationProp)
SIM_MEMBER(CUmemAllocationProp, type) SIM_MEMBER(CUmemAllocationProp, requestedHandleTypes)
SIM_MEMBER(CUmemAllocationProp, location) SIM_MEMBER(CUmemAllocationProp, win32HandleMetaData)
AT(sim::CUmemAllocationProp, allocFlags.compressionType, CUmemAllocationProp,
    allocFlags.compressionType)
AT(sim::CUmemAllocationProp, allocFlags.gpuDirectRDMACapable, CUmemAllocationProp,
    allocFlags.gpuDirectRDMACapable)
AT(sim::CUmemAllocationProp, allocFlags.usage, CUmemAllocationProp, allocFlags.usage)
AT(sim::CUmemAllocationProp, allocFlags.reserved, CUmemAllocationProp, allocFlags.reserved)
SIM_STRUCT(CUDA_MEM_ALLOC_NODE_PARAMS)
AT(sim::CUDA_MEM_ALLOC_NODE_PARAMS, poolProps.allocType, CUDA_MEM_ALLOC_NODE_PARAMS,
    poolProps.allocType)
AT(sim::CUDA_MEM_ALLOC_NODE_PARAMS, poolProps.location.type, CUDA_MEM_ALLOC_NODE_PARAMS,
    poolProps.location.type)
AT(sim::CUDA_MEM_ALLOC_NODE_PARAMS, poolProps.location.id, CUDA_MEM_ALLOC_NODE_PARAMS,
    poolProps.location.id)
SIM_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize) SIM_MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
SIM_STRUCT(CUdevprop)
SIM_MEMBER(CUdevprop, maxThreadsPerBlock) SIM_MEMBER(CUdevprop, maxThreadsDim)
SIM_MEMBER(CUdevprop, maxGridSize)
SIM_MEMBER(CUdevprop, sharedMemPerBlock) SIM_MEMBER(CUdevprop, totalConstantMemory)
SIM_MEMBER(CUdevprop, SIMDWidth)
SIM_MEMBER(CUdevprop, memPitch) SIM_MEMBER(CUdevprop, regsPerBlock) SIM_MEMBER(CUdevprop, clockRate)
SIM_MEMBER(CUdevprop, textureAlign)
#if CUDA_VERSION >= 11080
SIM_STRUCT(CUlaunchAttribute) SIM_STRUCT(CUlaunchAttributeValue)
SIM_MEMBER(CUlaunchAttribute, id)
AT(sim::CUlaunchAttribute, value, CUlaunchAttribute, value)
AT(sim::CUlaunchAttribute, value.priority, CUlaunchAttribute, value.priority)
AT(sim::CUlaunchAttribute, value.cooperative, CUlaunchAttribute, value.cooperative)
AT(sim::CUlaunchAttribute, value.cluster, CUlaunchAttribute, value.clusterDim)
SIM_STRUCT(CUlaunchConfig)
SIM_MEMBER(CUlaunchConfig, gridDimX) SIM_MEMBER(CUlaunchConfig, gridDimY)
SIM_MEMBER(CUlaunchConfig, gridDimZ)
SIM_MEMBER(CUlaunchConfig, blockDimX) SIM_MEMBER(CUlaunchConfig, blockDimY)
SIM_MEMBER(CUlaunchConfig, blockDimZ)
SIM_MEMBER(CUlaunchConfig, sharedMemBytes) SIM_MEMBER(CUlaunchConfig, hStream)
SIM_MEMBER(CUlaunchConfig, attrs)
SIM_MEMBER(CUlaunchConfig, numAttrs)
#endif
#if CUDA_VERSION >= 12000
SIM_STRUCT(CUgraphExecUpdateResultInfo)
SIM_MEMBER(CUgraphExecUpdateResultInfo, result) SIM_MEMBER(CUgraphExecUpdateResultInfo, errorNode)
SIM_MEMBER(CUgraphExecUpdateResultInfo, errorFromNode)
SIM_STRUCT(CUDA_GRAPH_INSTANTIATE_PARAMS)
SIM_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, flags)
SIM_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream)
SIM_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out)
SIM_MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out)
SIM_STRUCT(CUDA_KERNEL_NODE_PARAMS_v2)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, func) SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, gridDimX)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, blockDimX)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams) SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, extra)
SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, kern) SIM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v2, ctx)
#endif
#if CUDA_VERSION >= 12030
SIM_STRUCT(CUgraphEdgeData)
SIM_MEMBER(CUgraphEdgeData, from_port) SIM_MEMBER(CUgraphEdgeData, to_port)
SIM_MEMBER(CUgraphEdgeData, type)
SIM_MEMBER(CUgraphEdgeData, reserved)
SIM_STRUCT(CUDA_CONDITIONAL_NODE_PARAMS)
SIM_MEMBER(CUDA_CONDITIONAL_NODE_PARAMS, handle) SIM_MEMBER(CUDA_CONDITIONAL_NODE_PARAMS, type)
SIM_MEMBER(CUDA_CONDITIONAL_NODE_PARAMS, size) SIM_MEMBER(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out)
SIM_MEMBER(CUDA_CONDITIONAL_NODE_PARAMS, ctx)
SIM_STRUCT(CUDA_MEMCPY_NODE_PARAMS)
SIM_MEMBER(CUDA_MEMCPY_NODE_PARAMS, flags) SIM_MEMBER(CUDA_MEMCPY_NODE_PARAMS, copyCtx)
SIM_MEMBER(CUDA_MEMCPY_NODE_PARAMS, copyParams)
SIM_STRUCT(CUDA_MEMSET_NODE_PARAMS_v2)
AT(sim::CUDA_MEMSET_NODE_PARAMS_v2, params.height, CUDA_MEMSET_NODE_PARAMS_v2, height)
SIM_MEMBER(CUDA_MEMSET_NODE_PARAMS_v2, ctx)
SIM_STRUCT(CUgraphNodeParams)
SIM_MEMBER(CUgraphNodeParams, type) SIM_MEMBER(CUgraphNodeParams, reserved2)
AT(sim::CUgraphNodeParams, of, CUgraphNodeParams, kernel)
AT(sim::CUgraphNodeParams, of.graph, CUgraphNodeParams, graph)
AT(sim::CUgraphNodeParams, of.event, CUgraphNodeParams, eventRecord)
AT(sim::CUgraphNodeParams, of.free, CUgraphNodeParams, free)
#endif
#if CUDA_VERSION >= 12090
SIM_STRUCT(CUDA_CHILD_GRAPH_NODE_PARAMS)
SIM_MEMBER(CUDA_CHILD_GRAPH_NODE_PARAMS, graph) SIM_MEMBER(CUDA_CHILD_GRAPH_NODE_PARAMS, ownership)
#endif
#if CUDA_VERSION >= 12050
SIM_STRUCT(CUctxCreateParams)
SIM_MEMBER(CUctxCreateParams, execAffinityParams)
SIM_MEMBER(CUctxCreateParams, numExecAffinityParams)
SIM_MEMBER(CUctxCreateParams, cigParams)
#endif

#if CUDA_VERSION >= 12080
SIM_STRUCT(CUmemcpyAttributes)
SIM_MEMBER(CUmemcpyAttributes, srcAccessOrder) SIM_MEMBER(CUmemcpyAttributes, srcLocHint)
SIM_MEMBER(CUmemcpyAttributes, dstLocHint) SIM_MEMBER(CUmemcpyAttributes, flags)
SIM_STRUCT(CUmemcpy3DOperand)
SIM_MEMBER(CUmemcpy3DOperand, type)
AT(sim::CUmemcpy3DOperand, op.ptr.ptr, CUmemcpy3DOperand, op.ptr.ptr)
AT(sim::CUmemcpy3DOperand, op.ptr.rowLength, CUmemcpy3DOperand, op.ptr.rowLength)
AT(sim::CUmemcpy3DOperand, op.ptr.layerHeight, CUmemcpy3DOperand, op.ptr.layerHeight)
AT(sim::CUmemcpy3DOperand, op.ptr.locHint, CUmemcpy3DOperand, op.ptr.locHint)
AT(sim::CUmemcpy3DOperand, op.array.offset, CUmemcpy3DOperand, op.array.offset)
SIM_STRUCT(CUextent3D)
SIM_MEMBER(CUextent3D, width) SIM_MEMBER(CUextent3D, height) SIM_MEMBER(CUextent3D, depth)
SIM_STRUCT(CUDA_MEMCPY3D_BATCH_OP)
SIM_MEMBER(CUDA_MEMCPY3D_BATCH_OP, src) SIM_MEMBER(CUDA_MEMCPY3D_BATCH_OP, dst)
SIM_MEMBER(CUDA_MEMCPY3D_BATCH_OP, extent) SIM_MEMBER(CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder)
SIM_MEMBER(CUDA_MEMCPY3D_BATCH_OP, flags)
// clang-format on
#endif

// ---- rows: cudaTypedefs.h has a type for each interface that an entry point ever had
// (PFN_cuMemAlloc_v3020); cuda.h declares the symbols ----

// those of the CPU device have other names than cu...
#define ROW_OF_DRIVER(need, name, version, params) \
    +(GXI_NEED_##need < GXI_NEED_NVRTC && #name[0] == 'c')
        // clang-format off
static_assert(ENTRIES == 0 GXI_DRIVER(ROW_OF_DRIVER),
              "run.sh sees all rows of GXI_DRIVER that belong to the driver");
// clang-format on

// NVRTC and nvJitLink have no typedefs with versions: their rows are compared with their functions
#define TOOL_REQUIRED(name)
#define TOOL_OPTIONAL(name)
#define TOOL_AGREES(name) \
    static_assert( \
            agree<std::remove_pointer<decltype(gxi_driver::name)>::type, decltype(::name)>::value, \
            "gpuexec.h: the parameters of " #name);
#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define TOOL_NVRTC(name) TOOL_AGREES(name)
#else
#define TOOL_NVRTC(name)
#endif
#if __has_include(<nvJitLink.h>)
#include <nvJitLink.h>
#define TOOL_NVJITLINK(name) TOOL_AGREES(name)
SAME(GXI_NVJITLINK_UNRECOGNIZED_OPTION, NVJITLINK_ERROR_UNRECOGNIZED_OPTION)
SAME(GXI_NVJITLINK_INPUT_CUBIN, NVJITLINK_INPUT_CUBIN)
SAME(GXI_NVJITLINK_INPUT_PTX, NVJITLINK_INPUT_PTX)
SAME(GXI_NVJITLINK_INPUT_LTOIR, NVJITLINK_INPUT_LTOIR)
SAME(GXI_NVJITLINK_INPUT_FATBIN, NVJITLINK_INPUT_FATBIN)
SAME(GXI_NVJITLINK_INPUT_OBJECT, NVJITLINK_INPUT_OBJECT)
SAME(GXI_NVJITLINK_INPUT_LIBRARY, NVJITLINK_INPUT_LIBRARY)
#if CUDA_VERSION >= 13000
SAME(GXI_NVJITLINK_ARCH_MISMATCH, NVJITLINK_ERROR_ARCH_MISMATCH)
SAME(GXI_NVJITLINK_OUTDATED_LIBRARY, NVJITLINK_ERROR_OUTDATED_LIBRARY)
SAME(GXI_NVJITLINK_UNRECOGNIZED_ARCH, NVJITLINK_ERROR_UNRECOGNIZED_ARCH)
SAME(GXI_NVJITLINK_UNSUPPORTED_ARCH, NVJITLINK_ERROR_UNSUPPORTED_ARCH)
#endif
#else
#define TOOL_NVJITLINK(name)
#endif
#define TOOL_ROW(need, name, version, params) TOOL_##need(name)
GXI_DRIVER(TOOL_ROW)
#define ENTRY(need, name, base, version) \
    static_assert( \
            agree<type_of_##name, std::remove_pointer<PFN_##base##_v##version>::type>::value, \
            "gpuexec.h: the parameters of " #name " " #version); \
    static_assert(!GXI_NEED_##need || version <= 11040, \
            "gpuexec.h: " #name " is required, but newer than CUDA 11.4");
#define CONSTANT(ours, theirs) SAME(ours, theirs)
#define SIM_ENTRY(base, version, symbol) \
    static_assert(agree<sim::type_of_##symbol, \
                          std::remove_pointer<PFN_##base##_v##version>::type>::value, \
            "simgpu: the parameters of " #symbol); \
    static_assert(agree<rows::type_of_##symbol, \
                          std::remove_pointer<PFN_##base##_v##version>::type>::value, \
            "entry_points.rows: the parameters of " #symbol); \
    SIM_MISSING(base, version, symbol)
#define SIM_MISSING(base, version, symbol) \
    static_assert(std::is_same<decltype(&::symbol), PFN_##base##_v##version>::value, \
            "simgpu: " #symbol " is not " #base " " #version);
#define SIM_CONSTANT(ours, theirs) SAME(value_of_##ours, theirs)
#include "rows.inc"
