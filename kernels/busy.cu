// Computes for as long as the caller wants: `rounds` steps x -> multiplier x + increment for each
// element. The host need not repeat them to check: many such steps are one step with another
// multiplier and increment.

extern "C" __global__ void busy(
        unsigned *data, int n, unsigned multiplier, unsigned increment, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = data[i];
    for (int r = 0; r < rounds; r++) x = multiplier * x + increment;
    data[i] = x;
}
