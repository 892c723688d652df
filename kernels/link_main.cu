// y[i] = curve(x[i]), where another file defines curve (link_curve.cu). Compiled with nvcc
// -rdc=true; the kernel can be loaded only after it is linked.
// nvcc: -rdc=true

extern "C" __device__ float curve(float x);

extern "C" __global__ void draw(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = curve(x[i]);
}
