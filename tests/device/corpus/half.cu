/* fp16 and bfloat16: vector arithmetic, fused multiply-add, comparison, conversion in every
   rounding, atomics on pairs. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half2_math(
        const __half2 *a, const __half2 *b, const __half2 *c, __half2 *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i], z = c[i];
    o[0 * n + i] = __hadd2(x, y);
    o[1 * n + i] = __hsub2(x, y);
    o[2 * n + i] = __hmul2(x, y);
    o[3 * n + i] = __hfma2(x, y, z);
    o[4 * n + i] = __hmax2(x, y);
    o[5 * n + i] = __hmin2(x, y);
    o[6 * n + i] = __hneg2(__habs2(x));
    o[7 * n + i] = __hle2(x, y);
    o[8 * n + i] = __hadd2_sat(x, y);
    o[9 * n + i] = __halves2half2(__low2half(x), __high2half(y));
    o[10 * n + i] = __lowhigh2highlow(x);
    o[11 * n + i] = __floats2half2_rn(__hgt(x.x, y.x), __hequ2(x, y).x);
    o[12 * n + i] = h2floor(x);
    o[13 * n + i] = __hfma2_relu(x, y, z);
}
extern "C" __global__ void half_convert(
        const float *f, unsigned short *h, int *q, float *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = f[i];
    __half r = __float2half_rn(x);
    h[0 * n + i] = __half_as_ushort(r);
    h[1 * n + i] = __half_as_ushort(__float2half_rz(x));
    h[2 * n + i] = __half_as_ushort(__float2half_ru(x));
    h[3 * n + i] = __half_as_ushort(__float2half_rd(x));
    h[4 * n + i] = __bfloat16_as_ushort(__float2bfloat16_rn(x));
    h[5 * n + i] = __bfloat16_as_ushort(__float2bfloat16_rz(x));
    h[6 * n + i] = __half_as_ushort(__int2half_rn(i * 37 - 5000));
    q[0 * n + i] = __half2int_rn(r);
    q[1 * n + i] = __half2int_rz(r);
    q[2 * n + i] = (int)__half2ushort_rd(r);
    back[0 * n + i] = __half2float(r);
    back[1 * n + i] = __bfloat162float(__float2bfloat16_rn(x));
}
extern "C" __global__ void bfloat_math(const __nv_bfloat162 *a, const __nv_bfloat162 *b,
        const __nv_bfloat162 *c, __nv_bfloat162 *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat162 x = a[i], y = b[i], z = c[i];
    o[0 * n + i] = __hadd2(x, y);
    o[1 * n + i] = __hmul2(x, y);
#if __CUDA_ARCH__ >= 800
    o[2 * n + i] = __hfma2(x, y, z);
#else
    o[2 * n + i] = __nv_bfloat162(__double2bfloat16(fma((double)__low2float(x),
                                          (double)__low2float(y), (double)__low2float(z))),
            __double2bfloat16(fma(
                    (double)__high2float(x), (double)__high2float(y), (double)__high2float(z))));
#endif
    o[3 * n + i] = __hmax2(x, y);
    o[4 * n + i] = __floats2bfloat162_rn(__low2float(x) * 0.3f, __high2float(y) + 1.0f);
    o[5 * n + i] = __hgt2(x, y);
}
/* sums of small integers: exact in any order */
extern "C" __global__ void half_atomics(__half2 *h, __nv_bfloat162 *b, __half *one) {
    atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __floats2bfloat162_rn(1.0f, threadIdx.x & 1 ? 1.0f : -1.0f));
    atomicAdd(one, __float2half(0.5f));
}
/* GEMV with half weights and float sums, as inference code has it */
extern "C" __global__ void half_gemv(const uint4 *w, const __half *x, float *y, int k) {
    float s = 0;
    for (int j = threadIdx.x; j < k / 8; j += 32) {
        uint4 v = w[blockIdx.x * (k / 8) + j];
        const __half2 *p = (const __half2 *)&v, *q = (const __half2 *)(x + 8 * j);
        for (int e = 0; e < 4; e++) {
            float2 f = __half22float2(p[e]), g = __half22float2(q[e]);
            s = fmaf(f.x, g.x, s);
            s = fmaf(f.y, g.y, s);
        }
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) y[blockIdx.x] = s;
}
