/* cuda::barrier, cuda::memcpy_async and cuda::pipeline of the C++ library; __syncthreads_count,
   _and, _or. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void block_barrier(const int *in, int *out) {
    __shared__ int s[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    int v = in[blockIdx.x * 128 + t];
    for (int round = 0; round < 5; round++) {
        s[t] = v;
        auto token = bar.arrive();
        int extra = round * t;
        bar.wait(std::move(token));
        v = s[(t + 1) % 128] + extra;
        bar.arrive_and_wait();
    }
    out[blockIdx.x * 128 + t] = v;
}
extern "C" __global__ void async_barrier(const int4 *in, int4 *out) {
    __shared__ int4 s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    cg::thread_block b = cg::this_thread_block();
    if (b.thread_rank() == 0) init(&bar, b.size());
    b.sync();
    cuda::memcpy_async(b, s, in + blockIdx.x * 64, cuda::aligned_size_t<16>(sizeof s), bar);
    bar.arrive_and_wait();
    out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void pipeline(const int *in, int *out, int batches) {
    __shared__ int s[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block b = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(b, &state);
    int sum = 0;
    for (int compute = 0, fetch = 0; compute < batches; compute++) {
        for (; fetch < batches && fetch < compute + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(
                    b, s[fetch % 2], in + fetch * 128, cuda::aligned_size_t<4>(sizeof s[0]), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[compute % 2][127 - threadIdx.x] ^ compute;
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void sync_votes(const int *x, int *o) {
    int v = x[threadIdx.x];
    o[threadIdx.x] = __syncthreads_count(v & 1) * 4 + (__syncthreads_and(v > 0) != 0) * 2 +
            (__syncthreads_or(v > 990) != 0);
}
