// The sum of all elements, by one grid whose blocks wait for each other: each block sums its share,
// all blocks wait at the grid barrier, then one block adds the shares. Needs a cooperative launch;
// without one, grid.sync() stops the kernel with a trap. The elements are integers, so the order of
// the additions does not affect the result.

#include <cooperative_groups.h>

extern "C" __global__ void grid_sum(
        const unsigned *in, unsigned long long *shares, unsigned long long *sum, int n) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    __shared__ unsigned long long s[256];
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) shares[blockIdx.x] = s[0];
    grid.sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        unsigned long long all = 0;
        for (int b = 0; b < gridDim.x; b++) all += shares[b];
        *sum = all;
    }
}
