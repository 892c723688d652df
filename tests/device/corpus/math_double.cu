/* Double precision: the library as nvcc inlines it (with the slow path of sin for large arguments),
   and what is exact. */
#define ROW(k, value) o[(k)*n + i] = (value)
extern "C" __global__ void math_double(const double *a, const double *b, double *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i], p = fabs(x) + 1e-3, u = x / (1.0 + fabs(x));
    ROW(0, sin(x));
    ROW(1, cos(x));
    ROW(2, tan(x));
    ROW(3, exp(x));
    ROW(4, exp2(x));
    ROW(5, log(p));
    ROW(6, log2(p));
    ROW(7, log10(p));
    ROW(8, pow(p, y));
    ROW(9, erf(x));
    ROW(10, erfc(u));
    ROW(11, tanh(x));
    ROW(12, atan2(x, y));
    ROW(13, asin(u));
    ROW(14, acos(u));
    ROW(15, atan(x));
    ROW(16, cbrt(x));
    ROW(17, hypot(x, y));
    ROW(18, sinh(u));
    ROW(19, cosh(u));
    ROW(20, expm1(u));
    ROW(21, log1p(p));
    ROW(22, tgamma(p));
    ROW(23, lgamma(p));
    ROW(24, sin(x * 1e12));
    ROW(25, rsqrt(p));
    ROW(26, exp10(u));
    ROW(27, cospi(u));
}
extern "C" __global__ void math_exact(const double *a, const double *b, double *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, e;
    if (i >= n) return;
    double x = a[i], y = b[i], p = fabs(x);
    ROW(0, sqrt(p));
    ROW(1, x / y);
    ROW(2, 1.0 / x);
    ROW(3, fma(x, y, p));
    ROW(4, floor(x));
    ROW(5, ceil(x));
    ROW(6, rint(x));
    ROW(7, round(x));
    ROW(8, trunc(x));
    ROW(9, fmod(x, y));
    ROW(10, remainder(x, y));
    ROW(11, copysign(x, y));
    ROW(12, fmin(x, y));
    ROW(13, fmax(x, y));
    ROW(14, ldexp(x, i % 300 - 150));
    ROW(15, frexp(x, &e));
    ROW(16, (double)e);
    ROW(17, nextafter(x, y));
    ROW(18, (double)(float)x);
    ROW(19, __dadd_rd(x, y));
    ROW(20, __dmul_rz(x, y));
    ROW(21, __ddiv_ru(x, y));
    ROW(22, __dsqrt_rd(p));
    ROW(23, (double)__double2float_rz(x));
    ROW(24, (double)__double2ll_rn(x));
    ROW(25, (double)__double2int_rz(y));
    ROW(26, __fma_rz(x, y, p));
    ROW(27, (double)__ll2float_rn(__double2ll_rz(x * 1e6)));
}
