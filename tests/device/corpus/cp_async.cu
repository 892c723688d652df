/* Asynchronous copies to shared memory: the pipeline primitives in several stages,
   cooperative_groups::memcpy_async. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
extern "C" __global__ void cpa(const float4 *in, float4 *out) {
    __shared__ float4 s[256];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[blockIdx.x * 256 + threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
extern "C" __global__ void cpcg(const float *in, float *out) {
    __shared__ float s[256];
    auto b = cg::this_thread_block();
    cg::memcpy_async(b, s, in + blockIdx.x * 256, sizeof(float) * 256);
    cg::wait(b);
    out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
/* Four stages of 64 elements; the tail of the last copy is filled with zeros. */
extern "C" __global__ void stages(const int *in, int *out, int n) {
    __shared__ int s[4][64];
    int t = threadIdx.x, total = (n + 63) / 64, sum = 0;
    for (int k = 0; k < 3; k++) {
        int i = k * 64 + t;
        if (k < total) __pipeline_memcpy_async(&s[k][t], &in[i < n ? i : 0], 4, i < n ? 0 : 4);
        __pipeline_commit();
    }
    for (int k = 0; k < total; k++) {
        int next = k + 3, i = next * 64 + t;
        if (next < total)
            __pipeline_memcpy_async(&s[next % 4][t], &in[i < n ? i : 0], 4, i < n ? 0 : 4);
        __pipeline_commit();
        __pipeline_wait_prior(3);
        __syncthreads();
        sum += s[k % 4][63 - t] * (k + 1);
        __syncthreads();
    }
    out[t] = sum;
}
