/* Sorting: a bitonic network of keys with values in shared memory, a radix sort of a block by
   ballots and counting. */
extern "C" __global__ void bitonic(unsigned *keys, unsigned *values) {
    __shared__ unsigned k[512], v[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    for (unsigned i = t; i < 512; i += 256) {
        k[i] = keys[base + i];
        v[i] = values[base + i];
    }
    for (unsigned size = 2; size <= 512; size <<= 1)
        for (unsigned stride = size / 2; stride; stride >>= 1) {
            __syncthreads();
            unsigned i = 2 * t - (t & (stride - 1)), j = i + stride;
            bool up = (i & size) == 0;
            if ((k[i] > k[j]) == up) {
                unsigned a = k[i];
                k[i] = k[j];
                k[j] = a;
                a = v[i];
                v[i] = v[j];
                v[j] = a;
            }
        }
    __syncthreads();
    for (unsigned i = t; i < 512; i += 256) {
        keys[base + i] = k[i];
        values[base + i] = v[i];
    }
}
/* 256 threads sort 256 keys, one bit in each round */
extern "C" __global__ void radix(unsigned *keys) {
    __shared__ unsigned s[256], warp_zeros[8];
    unsigned t = threadIdx.x, lane = t & 31, key = keys[blockIdx.x * 256 + t];
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned zeros = __ballot_sync(~0u, !(key >> bit & 1)),
                 before = __popc(zeros & ((1u << lane) - 1)), total = 0;
        if (lane == 0) warp_zeros[t >> 5] = __popc(zeros);
        __syncthreads();
        for (unsigned w = 0; w < 8; w++) {
            if (w < t >> 5) before += warp_zeros[w];
            total += warp_zeros[w];
        }
        s[key >> bit & 1 ? total + t - before : before] = key;
        __syncthreads();
        key = s[t];
        __syncthreads();
    }
    keys[blockIdx.x * 256 + t] = key;
}
