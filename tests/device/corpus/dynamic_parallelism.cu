/* A kernel that launches kernels: into its own stream, the tail stream, a stream that it makes. */
extern "C" __global__ void child(int *p, int d) { atomicAdd(p, d); }
extern "C" __global__ void parent(int *p) {
    if (threadIdx.x == 0) {
        child<<<2, 32>>>(p, 1);
        child<<<1, 4, 0, cudaStreamTailLaunch>>>(p, 3);
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        child<<<1, 1, 0, s>>>(p, 2);
        cudaStreamDestroy(s);
        p[1] = cudaGetLastError();
    }
}
