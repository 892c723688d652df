/* The tensor copy engine: a tile by its coordinates in a tensor map, into swizzled shared memory,
   back into another tensor, and added to it (sm_90). */
#include <cuda.h>
#include <cuda/barrier>
namespace cde = cuda::device::experimental;
extern "C" __global__ void boxes(const __grid_constant__ CUtensorMap from,
        const __grid_constant__ CUtensorMap to, int *out) {
    __shared__ alignas(1024) int s[16 * 16];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    const int x = blockIdx.x % 3 * 16, y = blockIdx.x / 3 * 16;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cde::cp_async_bulk_tensor_2d_global_to_shared(s, &from, x - 4, y - 3, bar);
    auto token = threadIdx.x == 0 ? cuda::device::barrier_arrive_tx(bar, 1, sizeof s)
                                  : bar.arrive();
    bar.wait(std::move(token));
    out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
    s[threadIdx.x] += 1;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&to, x, y, s);
        cde::cp_async_bulk_commit_group();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%1, %2}], [%3];" ::"l"(&to),
                     "r"(x), "r"(y), "r"((unsigned)__cvta_generic_to_shared(s))
                     : "memory");
        cde::cp_async_bulk_commit_group();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
