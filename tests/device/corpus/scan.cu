/* Prefix sums: of a warp by shuffles, of a block, segmented, and of a whole array in one pass with
   decoupled look-back. */
__device__ int scan_warp(int v) {
    int lane = threadIdx.x & 31;
    for (int o = 1; o < 32; o <<= 1) {
        int u = __shfl_up_sync(~0u, v, o);
        if (lane >= o) v += u;
    }
    return v;
}
__device__ int scan_block(int v, int *sums) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    v = scan_warp(v);
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = lane < blockDim.x / 32 ? sums[lane] : 0;
        s = scan_warp(s);
        sums[lane] = s;
    }
    __syncthreads();
    return v + (warp ? sums[warp - 1] : 0);
}
extern "C" __global__ void scan(const int *x, int *y) {
    __shared__ int sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = scan_block(x[i], sums);
}
/* A new segment begins where head is not 0; segments do not cross warps. */
extern "C" __global__ void scan_segments(const int *x, const unsigned char *head, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    unsigned heads = __ballot_sync(~0u, head[i] != 0) | 1u;
    int first = 31 - __clz(heads & (0xffffffffu >> (31 - lane)));
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        int u = __shfl_up_sync(~0u, v, o);
        if (lane - o >= first) v += u;
    }
    y[i] = v;
}
/* state per block: 0 nothing, 1 << 32 | sum of the block, 2 << 32 | sum up to and with the block.
   ticket gives blocks their order. */
extern "C" __global__ void scan_look_back(
        const int *x, int *y, unsigned long long *state, unsigned *ticket) {
    __shared__ int sums[32], before;
    __shared__ unsigned tile;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned b = tile;
    int i = b * blockDim.x + threadIdx.x, v = scan_block(x[i], sums);
    if (threadIdx.x == blockDim.x - 1) {
        int sum = 0;
        __threadfence();
        atomicExch(&state[b], (b ? 1ull : 2ull) << 32 | (unsigned)v);
        for (int k = (int)b - 1; k >= 0;) {
            unsigned long long s = *(volatile unsigned long long *)&state[k];
            if (s == 0) continue;
            sum += (int)(unsigned)s;
            if (s >> 32 == 2) break;
            k--;
        }
        if (b) atomicExch(&state[b], 2ull << 32 | (unsigned)(sum + v));
        before = sum;
    }
    __syncthreads();
    y[i] = v + before;
}
