/* Rows of a network: softmax and layer normalisation with block reductions, GELU; expf, rsqrtf,
   tanhf in one kernel. */
__device__ float block_reduce(float v, bool maximum) {
    __shared__ float s[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int o = 16; o; o >>= 1) {
        float u = __shfl_xor_sync(~0u, v, o);
        v = maximum ? fmaxf(v, u) : v + u;
    }
    __syncthreads();
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? s[lane] : maximum ? -INFINITY : 0.0f;
    for (int o = 16; o; o >>= 1) {
        float u = __shfl_xor_sync(~0u, v, o);
        v = maximum ? fmaxf(v, u) : v + u;
    }
    return v;
}
extern "C" __global__ void softmax(const float *x, float *y, int n) {
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, x[i]);
    m = block_reduce(m, true);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += expf(x[i] - m);
    s = block_reduce(s, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - m) / s;
}
extern "C" __global__ void layer_norm_gelu(const float *x, float *y, int n) {
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
    float mean = block_reduce(s, false) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float d = x[i] - mean;
        q += d * d;
    }
    float scale = rsqrtf(block_reduce(q, false) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = (x[i] - mean) * scale;
        y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}
