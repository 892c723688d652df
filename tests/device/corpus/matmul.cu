/* Matrix product in shared tiles of 16 x 16, and one in tiles of 64 x 64 with float4 loads and 4 x
   4 results per thread. */
#define T 16
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * T + ty, c = blockIdx.x * T + tx;
    float s = 0;
    for (int k = 0; k < K; k += T) {
        a[ty][tx] = (r < M && k + tx < K) ? A[r * K + k + tx] : 0.f;
        b[ty][tx] = (k + ty < K && c < N) ? B[(k + ty) * N + c] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++) s += a[ty][i] * b[i][tx];
        __syncthreads();
    }
    if (r < M && c < N) C[r * N + c] = s;
}

/* M and N multiples of 64, K of 8; 256 threads */
extern "C" __global__ void __launch_bounds__(256, 2)
        sgemm(const float4 *A, const float4 *B, float4 *C, int N, int K) {
    __shared__ __align__(16) float a[8][64], b[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.y * 64, col = blockIdx.x * 64;
    float s[4][4] = {};
    for (int k = 0; k < K; k += 8) {
        if (t < 128) {
            float4 v = A[((row + t / 2) * K + k) / 4 + t % 2];
            a[t % 2 * 4 + 0][t / 2] = v.x;
            a[t % 2 * 4 + 1][t / 2] = v.y;
            a[t % 2 * 4 + 2][t / 2] = v.z;
            a[t % 2 * 4 + 3][t / 2] = v.w;
        } else {
            int u = t - 128;
            *(float4 *)&b[u / 16][u % 16 * 4] = B[((k + u / 16) * N + col) / 4 + u % 16];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float4 x = *(float4 *)&a[i][ty * 4], y = *(float4 *)&b[i][tx * 4];
            float xs[4] = { x.x, x.y, x.z, x.w }, ys[4] = { y.x, y.y, y.z, y.w };
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++) s[p][q] = fmaf(xs[p], ys[q], s[p][q]);
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        C[((row + ty * 4 + p) * N + col) / 4 + tx] = make_float4(
                s[p][0], s[p][1], s[p][2], s[p][3]);
}
