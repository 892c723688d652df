// The runtime API's launches for launch.c, as a library: an empty kernel with the same parameters.
// The functions return the microseconds for that many launches, or -1 if they failed.
#include <time.h>

__global__ void four(float *, float *, int, float) {}

static double microseconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static float *x, *y;
static int n = 1000;
static float a = 2.0f;

extern "C" double runtime_chevrons(int count, cudaStream_t stream) {
    const double begin = microseconds();
    for (int i = 0; i < count; i++) four<<<4, 256, 0, stream>>>(x, y, n, a);
    const double end = microseconds();
    return cudaGetLastError() == cudaSuccess ? end - begin : -1;
}
extern "C" double runtime_call(int count, cudaStream_t stream) {
    const double begin = microseconds();
    int bad = 0;
    for (int i = 0; i < count; i++) {
        void *pointers[] = { &x, &y, &n, &a };
        bad |= cudaLaunchKernel((const void *)four, dim3(4), dim3(256), pointers, 0, stream);
    }
    return bad ? -1 : microseconds() - begin;
}
extern "C" double runtime_extended(int count, cudaStream_t stream) {
    const double begin = microseconds();
    int bad = 0;
    for (int i = 0; i < count; i++) {
        void *pointers[] = { &x, &y, &n, &a };
        cudaLaunchConfig_t config = {};
        config.gridDim = 4;
        config.blockDim = 256;
        config.stream = stream;
        bad |= cudaLaunchKernelExC(&config, (const void *)four, pointers);
    }
    return bad ? -1 : microseconds() - begin;
}
