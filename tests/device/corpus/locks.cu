/* Locks that code in the field has: a ticket lock, a spin lock taken by one thread of a block, the
   last block to come does the rest. */
extern "C" __global__ void ticket_lock(
        unsigned *next, volatile unsigned *serving, unsigned *count) {
    unsigned mine = atomicAdd(next, 1);
    for (bool done = false; !done;) {
        if (*serving == mine) {
            __threadfence();
            *(volatile unsigned *)count = *(volatile unsigned *)count + mine;
            __threadfence();
            *serving = mine + 1;
            done = true;
        }
    }
}
extern "C" __global__ void block_lock(int *lock, int *list, int *length) {
    __shared__ int mine;
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
        __threadfence();
        mine = *(volatile int *)length;
    }
    __syncthreads();
    list[mine + threadIdx.x] = blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        *(volatile int *)length = mine + blockDim.x;
        __threadfence();
        atomicExch(lock, 0);
    }
}
__device__ unsigned arrived;
extern "C" __global__ void last_block(const int *x, volatile int *part, int *out, int n) {
    __shared__ int s[256];
    __shared__ bool last;
    int t = threadIdx.x, v = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) v += x[i];
    s[t] = v;
    for (int k = 128; k; k >>= 1) {
        __syncthreads();
        if (t < k) s[t] += s[t + k];
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    v = 0;
    for (int i = t; i < gridDim.x; i += 256) v += part[i];
    s[t] = v;
    for (int k = 128; k; k >>= 1) {
        __syncthreads();
        if (t < k) s[t] += s[t + k];
    }
    if (t == 0) *out = s[0];
}
/* Block b waits for the message of block b - 1: a chain in which every store is fenced before its
   flag. */
extern "C" __global__ void pass_on(int *message, int *flag) {
    if (threadIdx.x == 0 && blockIdx.x) {
        while (atomicAdd(&flag[blockIdx.x - 1], 0) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
    int before = blockIdx.x ? __ldcg(&message[(blockIdx.x - 1) * 32 + threadIdx.x]) : 0;
    message[blockIdx.x * 32 + threadIdx.x] = before + threadIdx.x + blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&flag[blockIdx.x], 1);
}
