/* Kernels of schedules.c: each in a correct variant (name_right), and in one with an omission
   (name_wrong).
   All take zeroed words for results and zeroed words to work with. Compiled, like those of
   kernels/, for all drivers since 11.4:
       nvcc -ptx -arch=compute_75 tests/device/unit/schedules.cu -o tests/device/unit/schedules.ptx
       sed -i 's|^\.version .*|.version 7.0|; s|^\.target .*|.target sm_70|'
           tests/device/unit/schedules.ptx */
#define BOTH(name) \
    extern "C" __global__ void name##_right(int *out, int *work, int me) { \
        name<true>(out, work, me); \
    } \
    extern "C" __global__ void name##_wrong(int *out, int *work, int me) { \
        name<false>(out, work, me); \
    }
#define KERNEL(name) \
    template <bool right> __device__ __forceinline__ void name(int *out, int *work, int me)
#define SEEN(x) (*(volatile int *)&(x))

/* A sum in shared memory, without the barrier between its steps. */
KERNEL(reduce) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t + 1;
    __syncthreads();
    for (int d = 64; d; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        if (right) __syncthreads();
    }
    __syncthreads();
    out[blockIdx.x * 128 + t] = s[0];
}
BOTH(reduce)

/* Two buffers in turn; one of eight barriers is missing. */
KERNEL(double_buffer) {
    __shared__ int s[2][128];
    int t = threadIdx.x;
    s[0][t] = t;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        s[(k + 1) & 1][t] = s[k & 1][(t + 1) & 127];
        if (right || k != 5) __syncthreads();
    }
    out[blockIdx.x * 128 + t] = s[0][t] == ((t + 8) & 127);
}
BOTH(double_buffer)

/* The second barrier of a loop is missing: the next round's value is written before all have read
   this one. */
KERNEL(broadcast) {
    __shared__ int s;
    int sum = 0;
    for (int k = 0; k < 8; k++) {
        if (threadIdx.x == 0) s = k;
        __syncthreads();
        sum += s;
        if (right) __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
BOTH(broadcast)

/* Lanes of a warp exchange values through shared memory after they diverged. */
KERNEL(lanes_apart) {
    __shared__ int s[128];
    int t = threadIdx.x, x = t;
    for (int k = work[0]; k < (t & 3); k++) x = x * 5 + 1;
    s[t] = x;
    if (right) __syncwarp();
    int y = t ^ 1;
    for (int k = 0; k < ((t ^ 1) & 3); k++) y = y * 5 + 1;
    out[blockIdx.x * 128 + t] = SEEN(s[t ^ 1]) == y;
}
BOTH(lanes_apart)

/* The same without divergence, as written for GPUs whose warps ran in lockstep. */
KERNEL(lanes_together) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    if (right) __syncwarp();
    out[blockIdx.x * 128 + t] = SEEN(s[t ^ 1]) == (t ^ 1);
}
BOTH(lanes_together)

/* One block writes a value, the others use it and do not wait for its flag. */
KERNEL(no_wait) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        work[1] = 42;
        __threadfence();
        SEEN(work[0]) = 1;
    } else {
        while (right && !SEEN(work[0])) {}
        __threadfence();
    }
    out[blockIdx.x] = SEEN(work[1]) == 42;
}
BOTH(no_wait)

/* They wait, but the fence between the value and the flag is missing. */
KERNEL(no_fence) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        work[1] = 42;
        if (right) __threadfence();
        SEEN(work[0]) = 1;
        out[0] = 1;
    } else {
        while (!SEEN(work[0])) {}
        __threadfence();
        out[blockIdx.x] = SEEN(work[1]) == 42;
    }
}
BOTH(no_fence)

/* The last block to arrive adds the values of all blocks; without a fence before they report their
   arrival. */
KERNEL(last_block) {
    if (threadIdx.x) return;
    work[1 + blockIdx.x] = 1;
    if (right) __threadfence();
    if (atomicAdd(&work[0], 1) != (int)gridDim.x - 1) return;
    __threadfence();
    for (unsigned b = 0; b < gridDim.x; b++) out[0] += SEEN(work[1 + b]);
}
BOTH(last_block)

/* A lock without fences. */
KERNEL(lock) {
    if (threadIdx.x) return;
    for (int k = 0; k < 4; k++) {
        while (atomicCAS(&work[0], 0, 1)) {}
        if (right) __threadfence();
        out[0] = SEEN(out[0]) + 1;
        if (right) __threadfence();
        atomicExch(&work[0], 0);
    }
}
BOTH(lock)

/* A plain read and write instead of an atomic addition. */
KERNEL(count) {
    if (right) atomicAdd(out, 1);
    else SEEN(out[0]) = SEEN(out[0]) + 1;
}
BOTH(count)

/* Two devices synchronise with each other, and one does not wait. */
KERNEL(meet) {
    if (blockIdx.x || threadIdx.x) return;
    work[me] = 10 + me;
    __threadfence_system();
    SEEN(work[2 + me]) = 1;
    while ((right || me == 0) && !SEEN(work[3 - me])) {}
    __threadfence_system();
    out[me] = SEEN(work[1 - me]) == 11 - me;
}
BOTH(meet)

/* This kernel is correct, but its result is the order of its threads. */
extern "C" __global__ void order(int *out, int *work, int me) {
    out[atomicAdd(work, 1)] = blockIdx.x * 128 + threadIdx.x;
}

/* Waits until work[0] is not 0, and sets it. */
extern "C" __global__ void wait(int *out, int *work, int me) {
    while (!SEEN(work[0])) {}
    out[0] = 1;
}

extern "C" __global__ void set(int *out, int *work, int me) { SEEN(work[0]) = 1; }
