/* cdp.cu - kernels for cdp.c: kernels that launch kernels. Those with a `right` that is 0 lack what
   orders two accesses. Each writes to the zeroed words at `out`. cdp.ptx and cdp_first.ptx, which
   calls the first device runtime (CUDA before 12), are made from this file by

       for to in cdp cdp_first; do
           nvcc -ptx -rdc=true -arch=compute_75 tests/device/unit/cdp.cu -o
   tests/device/unit/$to.ptx \
               $([ $to = cdp ] || echo -DCUDA_FORCE_CDP1_IF_SUPPORTED \
                   -D__CDPRT_SUPPRESS_SYNC_DEPRECATION_WARNING)
           sed -i -e '/^\/\//d' -e 's/[ \t]*$//' -e 's|^\.version .*|.version 7.0|' \
               -e 's|^\.target .*|.target sm_70|' tests/device/unit/$to.ptx
       done */
enum { BLOCKS = 4, THREADS = 64 };

extern "C" __global__ void add(unsigned *at, unsigned n) { atomicAdd(at, n); }

/* out[0]: how many; then the values, in order. */
__device__ static void append(volatile unsigned *out, unsigned value) {
    out[1 + atomicAdd((unsigned *)out, 1)] = value;
    __threadfence();
}
extern "C" __global__ void note(unsigned *out, unsigned value) { append(out, value); }

/* ---- nesting: out[0]: kernels that ran; out[1], out[2]: the first error, and at which depth
   ---- */

extern "C" __global__ void nest(unsigned *out, unsigned depth, unsigned most) {
    atomicAdd(out, 1);
    if (depth == most) return;
    nest<<<1, 1>>>(out, depth + 1, most);
    const unsigned error = cudaGetLastError();
    if (error) {
        out[1] = error;
        out[2] = depth;
    }
}

/* ---- pending launches: out[0]: children that ran; out[1], out[2]: the first error, and failures
   ---- */

extern "C" __global__ void hold(volatile unsigned *open) {
    while (!*open) {}
}

extern "C" __global__ void flood(unsigned *out, unsigned n, unsigned *open) {
    hold<<<1, 1>>>(open); /* all others come after it */
    for (unsigned i = 0; i < n; i++) {
        add<<<1, 1>>>(out, 1);
        const unsigned error = cudaGetLastError();
        if (!error) continue;
        if (!out[2]++) out[1] = error;
    }
    *(volatile unsigned *)open = 1;
}

#ifndef CUDA_FORCE_CDP1_IF_SUPPORTED
/* ---- order: streams, events, tail launches ---- */

extern "C" __global__ void order(unsigned *out, unsigned right) {
    if (threadIdx.x) return;
    cudaStream_t a, b;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 20); /* after everything else here */
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 21);
    for (unsigned i = 1; i <= 3; i++) note<<<1, 1>>>(out, i); /* the block's stream orders them */
    note<<<1, 1, 0, a>>>(out, 4);
    cudaEventRecord(e, a);
    if (right) cudaStreamWaitEvent(b, e, 0);
    note<<<1, 1, 0, b>>>(out, 5);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(out, 10);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(out, 11);
    cudaEventDestroy(e);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    append(out, 12);
}

/* Fire-and-forget children of children are done, too, before a tail launch begins: out[1] is how
   many there are. */
extern "C" __global__ void fork(unsigned *out, unsigned depth) {
    if (depth)
        for (unsigned i = 0; i < 3; i++) fork<<<1, 1, 0, cudaStreamFireAndForget>>>(out, depth - 1);
    else atomicAdd(out, 1);
}
extern "C" __global__ void look(unsigned *out) { out[1] = *out; }
extern "C" __global__ void gather(unsigned *out, unsigned depth) {
    fork<<<1, 1>>>(out, depth);
    look<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
}

/* A tail launch that launches itself: the stack of tails is one kernel at a time. */
extern "C" __global__ void again(unsigned *out, unsigned n) {
    append(out, n);
    if (n) again<<<1, 1, 0, cudaStreamTailLaunch>>>(out, n - 1);
}

/* ---- what a child sees: the sum of what all threads of its parent's block wrote ---- */

__device__ unsigned shared_with_children[BLOCKS][THREADS];
__constant__ unsigned factor = 3;

extern "C" __global__ void sum(unsigned *out, unsigned block) {
    unsigned s = 0;
    for (unsigned i = 0; i < THREADS; i++) s += shared_with_children[block][i];
    out[block] = s * factor;
}
extern "C" __global__ void publish(unsigned *out, unsigned right) {
    shared_with_children[blockIdx.x][threadIdx.x] = threadIdx.x + 1 + blockIdx.x;
    if (right) __syncthreads();
    if (threadIdx.x == 0) sum<<<1, 1>>>(out, blockIdx.x);
}

/* ---- copies and fills in a stream; memory of the device's heap ---- */

extern "C" __global__ void move(unsigned *from, unsigned *to, unsigned n) {
    cudaMemsetAsync(from, 1, n * sizeof *from, 0);
    add<<<1, 1>>>(from, 1);
    cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDeviceToDevice, 0);
    add<<<1, 1>>>(to + 1, 5);
    cudaMemset2DAsync(to + 2, 8, 0, 4, 3, 0); /* words 2, 4, 6 */
    /* words 8, 9: words 0, 2 */
    cudaMemcpy2DAsync(to + 8, 4, to, 8, 4, 2, cudaMemcpyDeviceToDevice, 0);
    void *p = 0;
    to[n] = cudaMalloc(&p, 1000) != cudaSuccess || !p;
    *(unsigned *)p = 77;
    to[n + 1] = *(unsigned *)p;
    to[n + 2] = cudaFree(p);
}

/* ---- errors: out[i] ---- */

extern "C" __global__ void two_words(unsigned *out, unsigned long long address) {
    *out = *(unsigned *)address;
}

extern "C" __global__ void errors(unsigned *out) {
    cudaStream_t s = (cudaStream_t)0x1234;
    cudaEvent_t e;
    if (threadIdx.x == 0) {
        out[0] = cudaStreamCreateWithFlags(&s, 0); /* the flags are 0 */
        out[1] = cudaPeekAtLastError();
        out[2] = cudaGetLastError();
        out[3] = cudaGetLastError(); /* taken */
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        out[4] = cudaEventCreateWithFlags(&e, cudaEventDefault); /* only without timing */
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
        out[5] = cudaEventRecord(e, cudaStreamTailLaunch);
        out[6] = cudaStreamWaitEvent(cudaStreamFireAndForget, e, 0);
        cudaGetLastError();
        add<<<1, 4096>>>(out + 31, 1); /* too many threads */
        out[7] = cudaGetLastError();
        add<<<0, 1>>>(out + 31, 1);
        out[8] = cudaGetLastError();
        add<<<1, 1, 1 << 20>>>(out + 31, 1); /* too much shared memory */
        out[9] = cudaGetLastError();
        add<<<1, 1, 0, s>>>(out + 31, 100); /* nothing is wrong with this */
        out[10] = cudaGetLastError();
        out[11] = cudaStreamDestroy(s) | cudaEventDestroy(e);
        out[12] = cudaGetErrorName(cudaErrorInvalidValue)[9];   /* cudaErrorI */
        out[13] = cudaGetErrorString(cudaErrorInvalidValue)[0]; /* invalid argument */
    }
    __syncthreads();
    if (threadIdx.x) out[30] = cudaGetLastError(); /* each thread has its own */
}

extern "C" __global__ void special(unsigned *out) {
    unsigned word[2] = { 1, 2 };
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    out[0] = cudaMemsetAsync(out + 16, 1, 4, cudaStreamTailLaunch);
    out[1] = cudaMemsetAsync(out + 17, 1, 4, cudaStreamFireAndForget);
    out[2] = cudaEventRecord(e, cudaStreamFireAndForget);
    out[3] = cudaStreamWaitEvent(cudaStreamTailLaunch, e, 0);
    out[4] = cudaStreamWaitEvent(0, e, 0); /* never recorded */
    out[5] = cudaEventRecord(e, 0);
    out[6] = cudaMemsetAsync(out + 18, 1, 0, 0);
    out[7] = cudaMemcpyAsync(out + 19, word, 4, cudaMemcpyDeviceToDevice, 0);
    out[8] = cudaGetErrorName((cudaError_t)12345)[0];
    out[9] = cudaStreamCreateWithFlags((cudaStream_t *)(out + 20), 2);
    out[10] = cudaEventDestroy(e);
}

/* What CUDA leaves undefined and the CPU device reports. */
extern "C" __global__ void stale(unsigned *out) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamDestroy(s);
    add<<<1, 1, 0, s>>>(out + 31, 1);
    out[0] = cudaGetLastError();
    out[1] = cudaStreamDestroy((cudaStream_t)0x1234);
    out[2] = cudaEventDestroy((cudaEvent_t)0x1234);
}
extern "C" __global__ void use_stream(unsigned *out, cudaStream_t s) {
    add<<<1, 1, 0, s>>>(out + 31, 1);
    out[0] = cudaGetLastError();
}
extern "C" __global__ void lend_stream(unsigned *out) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    use_stream<<<1, 1>>>(out, s);
}
extern "C" __global__ void pass_shared(unsigned *out) {
    __shared__ unsigned word;
    word = 5;
    two_words<<<1, 1>>>(out, (unsigned long long)&word);
}
extern "C" __global__ void pass_local(unsigned *out) {
    volatile unsigned word[2] = { 5, 6 };
    two_words<<<1, 1>>>(out, (unsigned long long)&word[out[1]]);
}

/* ---- queries ---- */

extern "C" __global__ void __launch_bounds__(96) narrow(unsigned *out) {
    __shared__ unsigned word[25];
    word[threadIdx.x % 25] = out[0];
    __syncthreads();
    out[0] += word[(threadIdx.x + 1) % 25];
}

extern "C" __global__ void query(unsigned *out) {
    int value = -1;
    size_t limit = 0;
    cudaFuncAttributes a;
    a.sharedSizeBytes = a.maxThreadsPerBlock = 0;
    out[0] = cudaGetDevice(&value);
    out[1] = value;
    cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, value);
    out[2] = value;
    cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
    out[3] = limit;
    out[4] = cudaFuncGetAttributes(&a, narrow);
    out[5] = a.maxThreadsPerBlock;
    out[6] = a.sharedSizeBytes;
    out[7] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, narrow, 96, 0);
    out[8] = value;
    cudaRuntimeGetVersion(&value);
    out[9] = value;
    cudaGetDeviceCount(&value);
    out[10] = value;
}
#else
/* ---- the first device runtime: a block waits for its children ---- */

extern "C" __global__ void wait_for_children(unsigned *out, unsigned right) {
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 3; i++) add<<<2, 32>>>(out + blockIdx.x, 1);
        if (right) cudaDeviceSynchronize();
    }
    __syncthreads();
    if (threadIdx.x == 1) out[BLOCKS + blockIdx.x] = *(volatile unsigned *)(out + blockIdx.x);
}
#endif
