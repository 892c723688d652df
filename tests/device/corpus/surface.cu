/* Surface objects. */
extern "C" __global__ void paint(cudaSurfaceObject_t s) {
    surf2Dwrite<float>(1.0f, s, threadIdx.x * 4, blockIdx.x);
}
