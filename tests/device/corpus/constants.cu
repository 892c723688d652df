/* __constant__ arrays and structs, __ldg, cache operators, constant pointers, global variables with
   initial values. */
struct filter {
    int radius;
    float scale;
};
__constant__ float weights[33] = { 1, 2, 3, 4, 5 };
__constant__ struct filter filter = { 2, 0.25f };
__device__ int table[4] = { 10, 20, 30, 40 };
__device__ int *const through = &table[1];
__constant__ const char *names[2] = { "first", "second" };
extern "C" __global__ void convolve(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int k = -filter.radius; k <= filter.radius; k++) {
        int j = i + k;
        if (j >= 0 && j < n) s = fmaf(weights[k + filter.radius], __ldg(&x[j]), s);
    }
    y[i] = s * filter.scale;
}
extern "C" __global__ void lookup(const int4 *v, const unsigned char *bytes, int *o) {
    int t = threadIdx.x;
    int4 q = __ldg(&v[t]);
    o[t] = table[t & 3] + through[t & 1] + q.x - q.y + q.z - q.w + __ldg(&bytes[t]) +
            __ldcg(&o[t]) + names[t & 1][t % 5];
    __stcs(&o[t + 64], __ldcs(&o[t + 64]) + 1);
}
