/* Sums: a tree in dynamic shared memory, warp shuffles, a floating-point atomic. */
extern "C" __global__ void reduce(const float *x, float *out, int n) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k >= 32; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t < 32) {
        v = s[t];
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
        if (!t) atomicAdd(out, v);
    }
}
extern "C" __global__ void reduce_warp(const int *x, int *out, int n) {
    __shared__ int s[32];
    int t = threadIdx.x, l = t & 31, w = t >> 5, v = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += x[i];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (!l) s[w] = v;
    __syncthreads();
    if (!w) {
        v = l < (blockDim.x + 31) / 32 ? s[l] : 0;
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        if (!l) out[blockIdx.x] = v;
    }
}
