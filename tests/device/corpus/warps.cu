/* Operations of a warp: votes, matches, shuffles of every kind and type, active masks in divergent
   code, redux from sm_80 on. */
extern "C" __global__ void votes(const int *x, unsigned *o) {
    int t = threadIdx.x, v = x[t], n = blockDim.x;
    unsigned e = 0;
    int all;
    o[0 * n + t] = __ballot_sync(~0u, v & 1);
    o[1 * n + t] = __any_sync(~0u, v > 900) * 2 + __all_sync(~0u, v > 3) +
            __uni_sync(~0u, v >= 0) * 4;
    o[2 * n + t] = __match_any_sync(~0u, v % 6);
    o[3 * n + t] = __match_all_sync(~0u, v / 4096, &all) + (unsigned)all;
    o[4 * n + t] = __match_any_sync(~0u, (unsigned long long)(v % 3) << 40);
    unsigned some = __ballot_sync(~0u, v % 3 != 1 && v & 1);
    if (v % 3 == 1) e = 7;
    else if (v & 1) e = __ballot_sync(some, v & 2) | ((__activemask() & ~some) != 0);
    __syncwarp();
    o[5 * n + t] = e;
    unsigned odd = __ballot_sync(~0u, t & 1);
    if (t & 1) o[6 * n + t] = __shfl_sync(odd, v, 31);
    else o[6 * n + t] = __shfl_sync(~odd, v, 0);
#if __CUDA_ARCH__ >= 800
    o[7 * n + t] = __reduce_add_sync(~0u, (unsigned)v) + __reduce_min_sync(~0u, v) * 3 +
            __reduce_max_sync(~0u, (unsigned)v) * 5;
    o[8 * n + t] = __reduce_xor_sync(~0u, (unsigned)v) ^
            __reduce_and_sync(~0u, (unsigned)v | 0x1000) ^ __reduce_or_sync(~0u, (unsigned)v);
#else
    unsigned add = 0, low = ~0u, high = 0, x_ = 0, a = ~0u, r = 0;
    for (int l = 0; l < 32; l++) {
        unsigned u = __shfl_sync(~0u, (unsigned)v, l);
        add += u;
        low = min(low, u);
        high = max(high, u);
        x_ ^= u;
        a &= u | 0x1000;
        r |= u;
    }
    o[7 * n + t] = add + low * 3 + high * 5;
    o[8 * n + t] = x_ ^ a ^ r;
#endif
}
extern "C" __global__ void shuffles(const int *x, double *o) {
    int t = threadIdx.x, v = x[t], n = blockDim.x;
    o[0 * n + t] = __shfl_up_sync(~0u, (double)v * 0.5, 3);
    o[1 * n + t] = __shfl_down_sync(~0u, (long long)v << 33, 5, 16);
    o[2 * n + t] = __shfl_xor_sync(~0u, (float)v, 9);
    o[3 * n + t] = __shfl_sync(~0u, v, t * 7, 8);
    o[4 * n + t] = __shfl_up_sync(~0u, (unsigned char)v, 1, 4);
}
/* Divergence: each lane's loop is its own length, with a break, a continue and nested
   conditions. */
extern "C" __global__ void collatz(const int *x, int *o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, steps = 0, odd = 0;
    for (unsigned v = x[t]; v != 1; steps++) {
        if (steps > 200) break;
        if (v & 1) {
            v = 3 * v + 1;
            odd++;
            continue;
        }
        v >>= 1;
        while ((v & 3) == 0) {
            v >>= 2;
            steps += 2;
            if (v == 1) break;
        }
    }
    o[t] = steps * 1000 + odd;
}
