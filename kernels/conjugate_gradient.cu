// Solves the Poisson equation with zeros around a grid of cells, 4 x[here] - x[up] - x[down] -
// x[left] - x[right] = b, by the method of conjugate gradients, on several devices in one launch.
// Each device has a slab of rows. Two barriers for each iteration are enough: both go with a sum
// over all cells, and each device has copies of the residuals and directions in the rows next to
// its slab, so that it computes those directions itself. Each block writes its part of a sum to all
// devices, and after the barrier each block adds up all parts in the same order: all have the same
// bits, and stop in the same iteration.

#include "gpuexec_barrier.cuh"

enum { MOST = 32, THREADS = 256 };    // examples/multi_device_cg.c has the same struct
struct cg_slab {
    const gpuexec_barrier_device *barrier;
    double *x, *q;            // [rows][width]; the first and last cells of a row are 0
    double *r;                // [rows][width], at first b
    double *p;                // [2][rows + 2][width], also the rows next to the slab; at first 0
    double *above, *below;    // [width], r next to the slab, which the neighbours write
    double *to_above, *to_below;    // [width], the neighbours' below and above; NULL at the edges
    double *parts[MOST];            // [2][devices][blocks], of each device
    float *curve;                   // [iterations]: |r| / |b| after each one, of the first device
    int *done;                      // [1], how many iterations, of the first device
    int width, rows, iterations;
    double enough;    // stop when |r| / |b| is not larger
};

// The block's sum, in thread 0; all threads call it.
__device__ double block_sum(double mine) {
    __shared__ double s[THREADS];
    __syncthreads();
    s[threadIdx.x] = mine;
    for (int k = THREADS / 2; k > 0; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    }
    __syncthreads();
    return s[0];
}
// The sum over all blocks of all devices, in all threads; `which` sum alternates. Returns 0 if the
// barrier is broken.
static __device__ int sum_of_all(const cg_slab &s, int which, double mine, double *sum) {
    const unsigned count = s.barrier->count, rank = s.barrier->rank, parts = count * gridDim.x;
    mine = block_sum(mine);
    if (threadIdx.x < count)
        s.parts[threadIdx.x][which * parts + rank * gridDim.x + blockIdx.x] = mine;
    if (gpuexec_barrier_sync(s.barrier)) return 0;
    mine = 0;
    for (unsigned i = threadIdx.x; i < parts; i += THREADS)
        mine += s.parts[rank][which * parts + i];
    *sum = block_sum(mine);
    return 1;
}

extern "C" __global__ void __launch_bounds__(THREADS) conjugate_gradient(cg_slab s) {
    const size_t width = s.width;
    const int first = s.barrier->rank == 0 && blockIdx.x == 0 && threadIdx.x == 0;
    double rr, pq, bb, beta = 0, mine = 0;
    for (int row = blockIdx.x; row < s.rows; row += gridDim.x) {    // |b|, and b for the neighbours
        const double *r = s.r + row * width;
        for (int x = 1 + threadIdx.x; x < width - 1; x += THREADS) {
            mine += r[x] * r[x];
            if (row == 0 && s.to_above) s.to_above[x] = r[x];
            if (row == s.rows - 1 && s.to_below) s.to_below[x] = r[x];
        }
    }
    if (!sum_of_all(s, 0, mine, &bb)) return;
    rr = bb;
    for (int k = 0; k < s.iterations && rr > s.enough * s.enough * bb; k++) {
        // p = r + beta * p and q = A p. Rows -1 and s.rows are the neighbours'.
        const double *from = s.p + (size_t)(k & 1) * (s.rows + 2) * width + width;
        double *to = s.p + (size_t)(~k & 1) * (s.rows + 2) * width + width;
        mine = 0;
        for (int row = (int)blockIdx.x - 1; row <= s.rows; row += gridDim.x) {
            const double *r = row < 0 ? s.above : row == s.rows ? s.below : s.r + row * width;
            const double *up = row <= 0 ? s.above : r - width,
                         *down = row >= s.rows - 1 ? s.below : r + width;
            const double *p = from + row * (long long)width;
            for (int x = 1 + threadIdx.x; x < width - 1; x += THREADS) {
                const double here = r[x] + beta * p[x];
                to[row * (long long)width + x] = here;
                if (row < 0 || row == s.rows) continue;
                const double q = 4 * here - (up[x] + beta * p[x - width]) -
                        (down[x] + beta * p[x + width]) - (r[x - 1] + beta * p[x - 1]) -
                        (r[x + 1] + beta * p[x + 1]);
                s.q[row * width + x] = q;
                mine += here * q;
            }
        }
        if (!sum_of_all(s, 1, mine, &pq)) return;
        // x += alpha * p and r -= alpha * q
        const double alpha = rr / pq, before = rr;
        mine = 0;
        for (int row = blockIdx.x; row < s.rows; row += gridDim.x)
            for (int x = 1 + threadIdx.x; x < width - 1; x += THREADS) {
                const size_t i = row * width + x;
                const double r = s.r[i] - alpha * s.q[i];
                s.x[i] += alpha * to[i];
                s.r[i] = r;
                if (row == 0 && s.to_above) s.to_above[x] = r;
                if (row == s.rows - 1 && s.to_below) s.to_below[x] = r;
                mine += r * r;
            }
        if (!sum_of_all(s, 0, mine, &rr)) return;
        beta = rr / before;
        if (first) s.curve[k] = (float)sqrt(rr / bb);
        if (first) *s.done = k + 1;
    }
}
