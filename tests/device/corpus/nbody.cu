/* Gravity of all on all, in tiles of float4, once with rsqrtf (approximate) and once with sqrtf and
   a division (exact). */
template <bool EXACT> __device__ float3 pull(float4 a, float4 b, float3 f) {
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z,
          r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))), s;
    if (EXACT) {
        float r = sqrtf(r2);
        s = b.w / (r * r * r);
    } else {
        float r = rsqrtf(r2);
        s = b.w * r * r * r;
    }
    f.x = fmaf(dx, s, f.x);
    f.y = fmaf(dy, s, f.y);
    f.z = fmaf(dz, s, f.z);
    return f;
}
template <bool EXACT> __device__ void all(const float4 *p, float3 *f, int n) {
    __shared__ float4 s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 a = p[i];
    float3 sum = { 0, 0, 0 };
    for (int k = 0; k < n; k += 64) {
        s[threadIdx.x] = p[k + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 64; j++) sum = pull<EXACT>(a, s[j], sum);
        __syncthreads();
    }
    f[i] = sum;
}
extern "C" __global__ void nbody_exact(const float4 *p, float3 *f, int n) { all<true>(p, f, n); }
extern "C" __global__ void nbody_fast(const float4 *p, float3 *f, int n) { all<false>(p, f, n); }
