/* int8 dot products: dp4a, dp2a, signed and unsigned; the byte-wise SIMD functions. */
extern "C" __global__ void dot8(const int *a, const int *b, int *o, int n) {
    int s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s = __dp4a(a[i], b[i], s);
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) *o = s;
}
extern "C" __global__ void simd(const unsigned *a, const unsigned *b, unsigned *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    o[0 * n + i] = __dp4a(x, y, 7u);
    o[1 * n + i] = __dp2a_lo((int)x, (int)y, -3);
    o[2 * n + i] = __dp2a_hi(x, y, 9u);
    o[3 * n + i] = __vadd4(x, y);
    o[4 * n + i] = __vsub2(x, y);
    o[5 * n + i] = __vabsdiffu4(x, y);
    o[6 * n + i] = __vmaxs4(x, y);
    o[7 * n + i] = __vminu2(x, y);
    o[8 * n + i] = __vsadu4(x, y);
    o[9 * n + i] = __vcmpgtu4(x, y);
    o[10 * n + i] = __vaddus4(x, y);
    o[11 * n + i] = __vavgu4(x, y);
    o[12 * n + i] = __sad((int)x, (int)y, 5u);
    o[13 * n + i] = __vmaxs2(x, y);
    o[14 * n + i] = __viaddmax_s32_relu((int)x, (int)y, 100);
    o[15 * n + i] = __vaddss2(x, y);
}
