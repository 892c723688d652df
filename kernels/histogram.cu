// Counts each of the 256 byte values: shared atomics count per block, then global atomics add the
// counts of the blocks to bins[256], which must be 0 at first. Works with any grid and block.

extern "C" __global__ void histogram(const unsigned char *data, unsigned n, unsigned *bins) {
    __shared__ unsigned mine[256];
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        if (mine[b]) atomicAdd(&bins[b], mine[b]);
}
