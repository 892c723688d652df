/* Random numbers: Philox 4x32-10 by counter, xorshift by state, a Monte Carlo count with a
   reduction by ballots. */
__device__ uint4 philox4x32(uint4 c, uint2 k) {
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x,
                 h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}

extern "C" __global__ void philox(uint4 *o, uint2 key) {
    o[threadIdx.x] = philox4x32(make_uint4(threadIdx.x, 0, 0, 0), key);
}

extern "C" __global__ void monte_carlo(unsigned *inside, int n) {
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x + 1, c = 0;
    for (int i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float x = (float)(s >> 16) * (1.0f / 65536.0f), y = (float)(s & 0xffff) * (1.0f / 65536.0f);
        c += __popc(__ballot_sync(~0u, x * x + y * y <= 1.0f));
    }
    if (threadIdx.x % 32 == 0) atomicAdd(inside, c);
}
