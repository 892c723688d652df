// Module variables that the host looks up by name: a constant table, a counter, and one with an
// initial value.

extern "C" {
__constant__ float table[16];
__device__ unsigned counter;
__device__ int initial[4] = { 10, -20, 30, -40 };
}

// out[i] = table[i % 16] + initial[i % 4]; counter counts the elements.
extern "C" __global__ void use_globals(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = table[i % 16] + (float)initial[i % 4];
    atomicAdd(&counter, 1u);
}
