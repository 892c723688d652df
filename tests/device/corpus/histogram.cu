/* Shared and global atomics: a histogram, and every atomic function that CUDA C has for int,
   unsigned, long long, float, double. */
extern "C" __global__ void hist(const unsigned char *d, unsigned *h, int n) {
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[d[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (s[i]) atomicAdd(&h[i], s[i]);
}
extern "C" __global__ void atomics(
        int *p, unsigned *u, unsigned long long *q, float *f, double *d, int *o) {
    int t = threadIdx.x;
    o[t] = atomicSub(p, t) + atomicExch(p + 1, t) + atomicMin(p + 2, t) + atomicMax(p + 3, t) +
            atomicAnd(p + 4, t) + atomicOr(p + 5, t) + atomicXor(p + 6, t) +
            atomicCAS(p + 7, t, t + 1) + atomicInc(u, 7) + atomicDec(u + 1, 7);
    atomicAdd(q, 1ull);
    atomicCAS(q + 1, 1ull, 2ull);
    atomicExch(q + 2, 5ull);
    atomicAdd(f, 1.f);
    atomicExch(f + 1, 2.f);
    atomicAdd(d, 1.0);
    atomicMin(q + 3, 9ull);
}
