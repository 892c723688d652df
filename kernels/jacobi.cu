// Solves the Laplace equation on a grid by Jacobi's method, on several devices in one launch: in
// each iteration, each cell becomes the mean of its four neighbours. Each device has a slab of
// rows, in two copies: even iterations read the first and write the second, odd iterations the
// other way round. Each device also writes its first and last row to the neighbouring devices. Then
// all blocks wait at the barrier. One barrier per iteration is enough, because no block writes the
// copy that others still read. Every `every` iterations, all devices exchange the largest change of
// any cell, and stop if it is small enough. A maximum does not depend on the order of its operands,
// so the result is bit for bit the same on any number of devices.

#include "gpuexec_barrier.cuh"

/* one device's; examples/multi_device_jacobi.c has the same struct */
struct jacobi_slab {
    const gpuexec_barrier_device *barrier;
    float *cells;    // [2][rows][width]; the first and last cells of a row never change
    const float *above, *below;    // [2][width], the rows next to the slab, which the neighbours
                                   // write
    float *to_above, *to_below;    // [2][width], the neighbours' below and above; NULL at
                                   // the edges of the grid
    unsigned *change;     // [iterations / every], 0 at first: the largest change of any cell,
                          // as the bits of the float
    unsigned *changes;    // [iterations / every][devices], the same memory for all devices:
                          // the largest change on each device
    int width, rows, iterations, every;
    float enough;    // stop when no cell changes by more than this
};

extern "C" __global__ void jacobi(jacobi_slab s) {
    const unsigned devices = s.barrier->count, rank = s.barrier->rank;
    for (int k = 0; k < s.iterations; k++) {
        const int from = k & 1, to = from ^ 1, looking = (k + 1) % s.every == 0;
        float most = 0;
        for (int row = blockIdx.x; row < s.rows; row += gridDim.x) {
            const float *here = s.cells + (size_t)(from * s.rows + row) * s.width;
            const float *up = row > 0 ? here - s.width : s.above + from * s.width;
            const float *down = row < s.rows - 1 ? here + s.width : s.below + from * s.width;
            float *out = s.cells + (size_t)(to * s.rows + row) * s.width;
            float *copy = row == 0 && s.to_above ? s.to_above + to * s.width : out;
            float *more = row == s.rows - 1 && s.to_below ? s.to_below + to * s.width : out;
            for (int x = 1 + threadIdx.x; x < s.width - 1; x += blockDim.x) {
                float mean = 0.25f * ((up[x] + down[x]) + (here[x - 1] + here[x + 1]));
                out[x] = mean;
                if (copy != out) copy[x] = mean;
                if (more != out) more[x] = mean;
                if (looking) most = fmaxf(most, fabsf(mean - here[x]));
            }
        }
        unsigned *change = s.change + k / s.every, *changes = s.changes + k / s.every * devices;
        if (looking) {
            for (int lanes = 16; lanes > 0; lanes /= 2)
                most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, lanes));
            // floats that are not negative have the same order as their bits
            if (threadIdx.x % 32 == 0) atomicMax(change, __float_as_uint(most));
        }
        if (gpuexec_barrier_sync(s.barrier)) return;
        if (looking) {
            const int first = blockIdx.x == 0 && threadIdx.x == 0;
            unsigned of_all = 0;
            if (first) changes[rank] = *change;
            if (gpuexec_barrier_sync(s.barrier)) return;
            for (unsigned i = 0; i < devices; i++) of_all = max(of_all, changes[i]);
            if (first) *change = of_all;
            if (__uint_as_float(of_all) <= s.enough) return;
        }
    }
}
