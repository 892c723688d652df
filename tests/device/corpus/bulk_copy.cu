/* The bulk copy engine: cp.async.bulk into shared memory with a barrier that counts bytes, and back
   in a group (sm_90). */
#include <cuda/barrier>
extern "C" __global__ void bulk(const int *in, int *out) {
    __shared__ alignas(128) int s[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::cp_async_bulk_global_to_shared(s, in, sizeof s, bar);
    }
    __syncthreads();
    auto token = threadIdx.x == 0 ? cuda::device::barrier_arrive_tx(bar, 1, sizeof s)
                                  : bar.arrive();
    bar.wait(std::move(token));
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void bulk_back(int *out) {
    __shared__ alignas(128) int s[256];
    s[threadIdx.x] = threadIdx.x * threadIdx.x + blockIdx.x;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_shared_to_global(
                out + blockIdx.x * 256, s, sizeof s);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
}
