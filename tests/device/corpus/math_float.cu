/* The single-precision math library, as nvcc inlines it: one row of results per function. */
#define ROW(k, value) o[(k)*n + i] = (value)
extern "C" __global__ void math_float(const float *a, const float *b, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], p = fabsf(x) + 1e-3f, u = x / (1.0f + fabsf(x));
    ROW(0, sinf(x));
    ROW(1, cosf(x));
    ROW(2, tanf(x));
    ROW(3, expf(x * 0.25f));
    ROW(4, exp2f(x));
    ROW(5, logf(p));
    ROW(6, log2f(p));
    ROW(7, log10f(p));
    ROW(8, powf(p, y));
    ROW(9, erff(x));
    ROW(10, erfcf(u));
    ROW(11, tanhf(x));
    ROW(12, atan2f(x, y));
    ROW(13, asinf(u));
    ROW(14, acosf(u));
    ROW(15, atanf(x));
    ROW(16, cbrtf(x));
    ROW(17, hypotf(x, y));
    ROW(18, sinhf(u));
    ROW(19, coshf(u));
    ROW(20, expm1f(u));
    ROW(21, log1pf(p));
    ROW(22, tgammaf(p));
    ROW(23, lgammaf(p));
    ROW(24, sinf(x * 100000.0f));
    ROW(25, rsqrtf(p));
    ROW(26, exp10f(u));
    ROW(27, sinpif(u));
}
/* what is exact: compared bit for bit */
extern "C" __global__ void math_exact(const float *a, const float *b, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, e;
    if (i >= n) return;
    float x = a[i], y = b[i], p = fabsf(x), w;
    ROW(0, sqrtf(p));
    ROW(1, x / y);
    ROW(2, 1.0f / x);
    ROW(3, fmaf(x, y, p));
    ROW(4, floorf(x));
    ROW(5, ceilf(x));
    ROW(6, rintf(x));
    ROW(7, roundf(x));
    ROW(8, truncf(x));
    ROW(9, fmodf(x, y));
    ROW(10, remainderf(x, y));
    ROW(11, copysignf(x, y));
    ROW(12, fminf(x, y));
    ROW(13, fmaxf(x, y));
    ROW(14, fdimf(x, y));
    ROW(15, ldexpf(x, i % 300 - 150));
    ROW(16, frexpf(x, &e));
    ROW(17, (float)e);
    ROW(18, modff(x, &w));
    ROW(19, w);
    ROW(20, nextafterf(x, y));
    ROW(21, scalbnf(x, -130));
    ROW(22, (float)ilogbf(p + 1e-30f));
    ROW(23, __fadd_rz(x, y));
    ROW(24, __fmul_ru(x, y));
    ROW(25, __fdiv_rd(x, y));
    ROW(26, __fsqrt_rz(p));
    ROW(27, __frcp_ru(y));
    ROW(28, __fmaf_rd(x, y, p));
    ROW(29, (float)(isnan(x) + 2 * isinf(x) + 4 * (signbit(x) != 0)));
    ROW(30, __saturatef(x));
    ROW(31, (float)llrintf(x) + (float)lroundf(y));
}
/* the intrinsics that are one approximate instruction, or two */
extern "C" __global__ void math_fast(const float *a, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], p = fabsf(x) + 1e-3f;
    ROW(0, __sinf(x * 0.3f));
    ROW(1, __cosf(x * 0.3f));
    ROW(2, __expf(x * 0.25f));
    ROW(3, __logf(p));
    ROW(4, __log2f(p));
    ROW(5, __powf(p, 0.3f));
    ROW(6, __fdividef(x, p));
    ROW(7, __frsqrt_rn(p));
    ROW(8, __tanf(x * 0.1f));
    ROW(9, __exp10f(x * 0.1f));
    ROW(10, __log10f(p));
}
