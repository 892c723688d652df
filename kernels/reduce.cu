// Three ways to sum an array. Float sums depend on the order of the additions; with integer values
// small enough that every partial sum is exact, all three give the same bits.

// A tree in dynamic shared memory (blockDim.x elements); each block writes one partial sum to
// sums[blockIdx.x]. blockDim.x must be a power of two.
template <class T> __device__ void reduce_tree(const T *x, T *sums, int n) {
    extern __shared__ unsigned char memory[];
    T *part = reinterpret_cast<T *>(memory);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : T(0);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_tree_float(const float *x, float *sums, int n) {
    reduce_tree(x, sums, n);
}
extern "C" __global__ void reduce_tree_int(const int *x, int *sums, int n) {
    reduce_tree(x, sums, n);
}

// Grid-stride loop, shuffles within each warp, one shared value per warp, one atomic per block.
// Adds to *sum, which must be 0 at first.
template <class T> __device__ void reduce_warps(const T *x, T *sum, int n) {
    __shared__ T warp_sums[32];
    T v = T(0);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < (blockDim.x + 31) / 32 ? warp_sums[threadIdx.x] : T(0);
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
        if (threadIdx.x == 0) atomicAdd(sum, v);
    }
}

// blockDim.x must be a multiple of 32.
extern "C" __global__ void reduce_warps_float(const float *x, float *sum, int n) {
    reduce_warps(x, sum, n);
}
extern "C" __global__ void reduce_warps_int(const int *x, int *sum, int n) {
    reduce_warps(x, sum, n);
}

// The simplest way: one atomic per element. Also the lowest and highest, which must be INT_MAX and
// INT_MIN at first.
extern "C" __global__ void reduce_atomic_int(
        const int *x, int *sum, int *lowest, int *highest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(sum, x[i]);
    atomicMin(lowest, x[i]);
    atomicMax(highest, x[i]);
}
