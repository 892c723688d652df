/* quicksort_cdp.cu - two sorts that launch their own kernels (dynamic parallelism).
   Parent and child share global memory (the keys) and constant memory (`leaf`). They do not share
   shared memory: each block has its own `below` and `above`, so a parent passes a child their
   values, never their addresses.
   A parent does not see what its children write: it launches them last, and is done when all of
   them are. */
// nvcc: -rdc=true

enum { RUN = 1024, DEEPEST = 22 };    // keys that one block sorts alone; CUDA nests 24 launches

__constant__ unsigned leaf = RUN;                 // quicksort: no more launches for so few keys
__device__ unsigned launches, deepest, failed;    // failed: a cudaError_t of a launch

__device__ static void launched(unsigned depth) {
    const unsigned error = cudaGetLastError();
    if (error) failed = error;
    atomicAdd(&launches, 1);
    atomicMax(&deepest, depth);
}

/* A key's place is the number of keys that precede it. */
__device__ static void sort_by_rank(const unsigned *from, unsigned *to, unsigned n) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        const unsigned key = from[i];
        unsigned rank = 0;
        for (unsigned j = 0; j < n; j++) rank += from[j] < key || (from[j] == key && j < i);
        to[rank] = key;
    }
    __syncthreads();
}

__device__ static unsigned middle(unsigned a, unsigned b, unsigned c) {
    return max(min(a, b), min(max(a, b), c));
}

/* One block: the keys below the pivot go to the front of `spare`, those above it to the end, then
   all back. Two children sort both parts, each in its own stream, so that they may run at the same
   time. */
extern "C" __global__ void quicksort(unsigned *keys, unsigned *spare, unsigned n, unsigned depth) {
    __shared__ unsigned below, above;
    if (n <= leaf || depth == DEEPEST) {
        sort_by_rank(keys, spare, n);
        for (unsigned i = threadIdx.x; i < n; i += blockDim.x) keys[i] = spare[i];
        return;
    }
    const unsigned pivot = middle(keys[0], keys[n / 2], keys[n - 1]);
    if (threadIdx.x == 0) below = above = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        const unsigned key = keys[i];
        if (key < pivot) spare[atomicAdd(&below, 1)] = key;
        if (key > pivot) spare[n - 1 - atomicAdd(&above, 1)] = key;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        keys[i] = i < below || i >= n - above ? spare[i] : pivot;
    __syncthreads();    // the children see what the whole block wrote
    if (threadIdx.x) return;
    cudaStream_t left, right;
    cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking);
    if (below) {
        quicksort<<<1, blockDim.x, 0, left>>>(keys, spare, below, depth + 1);
        launched(depth + 1);
    }
    if (above) {
        quicksort<<<1, blockDim.x, 0, right>>>(
                keys + n - above, spare + n - above, above, depth + 1);
        launched(depth + 1);
    }
    cudaStreamDestroy(left);    // the children run on
    cudaStreamDestroy(right);
}

/* Merges pairs of sorted runs of `width` keys: a key's place is its own in its run, and the number
   of keys of the other run that precede it. The next pass is a tail launch: it begins when all
   blocks of this one are done. */
extern "C" __global__ void merge_pass(
        const unsigned *from, unsigned *to, unsigned n, unsigned width, unsigned depth) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned key = from[i], own = i / width * width, second = own / width % 2;
        const unsigned other = second ? own - width : own + width;
        unsigned low = min(other, n), high = min(other + width, n);
        const unsigned start = low;
        while (low < high) {    // of equal keys, those of the first run come first
            const unsigned at = low + (high - low) / 2;
            if (from[at] < key || (second && from[at] == key)) low = at + 1;
            else high = at;
        }
        to[min(own, second ? other : own) + (i - own) + (low - start)] = key;
    }
    if (i == 0 && 2 * width < n) {
        merge_pass<<<gridDim.x, blockDim.x, 0, cudaStreamTailLaunch>>>(
                to, (unsigned *)from, n, 2 * width, depth + 1);
        launched(depth + 1);
    }
}

/* Each block sorts a run of RUN keys; then passes merge them. The runs begin where the last pass
   ends in `keys`. */
extern "C" __global__ void merge_sort(unsigned *keys, unsigned *spare, unsigned n) {
    __shared__ unsigned run[RUN];
    const unsigned at = blockIdx.x * RUN, count = min(n - at, (unsigned)RUN);
    unsigned passes = 0;
    while (RUN << passes < n) passes++;
    unsigned *const to = passes % 2 ? spare : keys;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) run[i] = keys[at + i];
    __syncthreads();
    sort_by_rank(run, to + at, count);
    if (blockIdx.x || threadIdx.x || !passes) return;
    merge_pass<<<(n + blockDim.x - 1) / blockDim.x, blockDim.x, 0, cudaStreamTailLaunch>>>(
            to, to == keys ? spare : keys, n, RUN, 1);
    launched(1);
}
