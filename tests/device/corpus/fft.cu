/* A radix-2 FFT of 256 points per block, by Stockham's scheme, twiddles by sincospif. */
extern "C" __global__ void fft(const float2 *in, float2 *out) {
    __shared__ float2 s[2][256];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * 256 + t];
    s[0][t + 128] = in[blockIdx.x * 256 + t + 128];
    for (int n = 1; n < 256; n *= 2, from ^= 1) {
        __syncthreads();
        int k = t & (n - 1);
        float2 a = s[from][t], b = s[from][t + 128], w;
        sincospif(-(float)k / (float)n, &w.y, &w.x);
        b = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
        int j = (t - k) * 2 + k;
        s[from ^ 1][j] = make_float2(a.x + b.x, a.y + b.y);
        s[from ^ 1][j + n] = make_float2(a.x - b.x, a.y - b.y);
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = s[from][t];
    out[blockIdx.x * 256 + t + 128] = s[from][t + 128];
}
