/* volatile memory, nanosleep, clocks, special registers, fences of every scope. */
extern "C" __global__ void handshake(volatile int *flag, int *out) {
    __shared__ volatile int turn;
    int w = threadIdx.x / 32;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (turn != w) __nanosleep(10);
        out[w] = *flag * 10 + w;
        *flag = *flag + 1;
        __threadfence_block();
        turn = w + 1;
    }
}
extern "C" __global__ void clocks(unsigned long long *o) {
    long long a = clock64(), b;
    unsigned long long t0, t1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    do {
        __nanosleep(1000);
        b = clock64();
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    } while (b - a < 2000 || t1 <= t0);
    unsigned c0 = clock();
    o[threadIdx.x] = b > a && t1 > t0 && (c0 || 1);
}
extern "C" __global__ void special(unsigned *o) {
    unsigned t = threadIdx.x, lane, warp, sm, nsm, lt, ge, nw, dyn;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm("mov.u32 %0, %%nsmid;" : "=r"(nsm));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(nw));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dyn));
    o[t] = lane + (lt == (1u << lane) - 1) * 100 + (ge == ~lt) * 200 + (sm < nsm) * 400 +
            (warp < nw) * 800 + dyn * 10000;
}
/* warp-synchronous code of old: volatile shared memory, __syncwarp between the steps */
extern "C" __global__ void old_reduce(const int *x, int *o) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32)
        for (int k = 32; k; k >>= 1) {
            int v = s[t] + s[t + (t < k ? k : 0)];
            __syncwarp();
            if (t < k) s[t] = v;
            __syncwarp();
        }
    if (t == 0) o[blockIdx.x] = s[0];
}
