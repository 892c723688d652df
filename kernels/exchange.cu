// What devices exchange with each other, in one launch over all of them.
//
// all_to_all: each device has a part for each device; all parts arrive at once, ordered by sender.
// Then the receivers send them back, so that `back` on each device must be what it had in `parts`.
//
// all_reduce: each device has n floats, and gets their sum over all devices. Each device adds up
// one slice of all the inputs, and writes it to all outputs: (count - 1) / count of the data come
// over links, and as many leave. Each sum is computed once, so all devices have the same bits.

#include "gpuexec_barrier.cuh"

enum { MOST = 32 };    // examples/multi_device_exchange.c and _reduce.c: the same structs
struct all_to_all_data {
    const gpuexec_barrier_device *barrier;
    const unsigned *parts;                    // [devices][n]
    unsigned *received[MOST], *back[MOST];    // [devices][n], of each device
    unsigned long long n;
};
struct all_reduce_data {
    const gpuexec_barrier_device *barrier;
    const float *in[MOST];    // of each device
    float *out[MOST];
    unsigned long long n;
    int rounds;    // so many reductions, one after the other
};

extern "C" __global__ void all_to_all(all_to_all_data d) {
    const unsigned count = d.barrier->count, rank = d.barrier->rank;
    const unsigned long long first = blockIdx.x * blockDim.x + threadIdx.x,
                             step = gridDim.x * blockDim.x;
    for (unsigned k = 0; k < count; k++) {
        const unsigned to = (rank + k) % count;    // not all to the same device at the same time
        for (unsigned long long i = first; i < d.n; i += step)
            d.received[to][rank * d.n + i] = d.parts[to * d.n + i];
    }
    if (gpuexec_barrier_sync(d.barrier)) return;
    for (unsigned k = 0; k < count; k++) {
        const unsigned to = (rank + k) % count;
        const unsigned *own = d.received[rank];
        for (unsigned long long i = first; i < d.n; i += step)
            d.back[to][rank * d.n + i] = own[to * d.n + i];
    }
}

extern "C" __global__ void all_reduce(all_reduce_data d) {
    const unsigned count = d.barrier->count, rank = d.barrier->rank;
    const unsigned long long first = blockIdx.x * blockDim.x + threadIdx.x,
                             step = gridDim.x * blockDim.x;
    const unsigned long long fours = d.n / 4, end = fours * (rank + 1) / count;
    for (int round = 0; round < d.rounds; round++) {
        if (gpuexec_barrier_sync(d.barrier)) return;    // all inputs are there
        for (unsigned long long i = fours * rank / count + first; i < end; i += step) {
            float4 sum = ((const float4 *)d.in[rank])[i];
#pragma unroll 4
            for (unsigned k = 1; k < count; k++) {
                const float4 more = ((const float4 *)d.in[(rank + k) % count])[i];
                sum.x += more.x;
                sum.y += more.y;
                sum.z += more.z;
                sum.w += more.w;
            }
            for (unsigned k = 0; k < count; k++) ((float4 *)d.out[(rank + k) % count])[i] = sum;
        }
        if (rank == 0 && first < d.n % 4) {    // what is left over
            float sum = 0;
            for (unsigned k = 0; k < count; k++) sum += d.in[k][4 * fours + first];
            for (unsigned k = 0; k < count; k++) d.out[k][4 * fours + first] = sum;
        }
        if (gpuexec_barrier_sync(d.barrier)) return;    // all outputs are there
    }
}
