// One iteration of Jacobi's method on some rows of a grid, as kernels/jacobi.cu computes it, but
// one launch for each iteration: for programs whose processes exchange rows between two launches,
// such as examples/mpi_jacobi.c. Block i computes row first + i * step: all inner rows, or only the
// two at the edges.

extern "C" __global__ void jacobi_step(
        const float *from, float *to, unsigned *change, int width, int first, int step) {
    const size_t row = (size_t)(first + (int)blockIdx.x * step) * width;
    const float *here = from + row, *up = here - width, *down = here + width;
    float most = 0;
    for (int x = 1 + threadIdx.x; x < width - 1; x += blockDim.x) {
        float mean = 0.25f * ((up[x] + down[x]) + (here[x - 1] + here[x + 1]));
        to[row + x] = mean;
        most = fmaxf(most, fabsf(mean - here[x]));
    }
    if (!change) return;    // else the largest change of any cell, as the bits of the float
    for (int lanes = 16; lanes > 0; lanes /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, lanes));
    if (threadIdx.x % 32 == 0) atomicMax(change, __float_as_uint(most));
}
