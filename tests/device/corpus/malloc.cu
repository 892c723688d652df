/* The heap of a kernel: malloc, free, new, delete; memory that one launch leaves to the next. */
__device__ int *kept[64];
extern "C" __global__ void allocate(const int *x) {
    int t = threadIdx.x, *p = (int *)malloc(sizeof(int) * (t + 1));
    if (p)
        for (int i = 0; i <= t; i++) p[i] = x[t] + i;
    kept[t] = p;
}
extern "C" __global__ void release(int *o) {
    int t = threadIdx.x, *p = kept[t], s = 0;
    for (int i = 0; p && i <= t; i++) s += p[i];
    free(p);
    int *q = new int[4];
    for (int i = 0; i < 4; i++) q[i] = s + i;
    o[t] = q[t & 3] + (((size_t)p & 15) == 0) * 100000;
    delete[] q;
    free(nullptr);
}
/* until nothing is left, then back: the count must be the same each time */
extern "C" __global__ void exhaust(int *o) {
    void *p[64];
    int n = 0;
#pragma unroll 1
    while (n < 64 && (p[n] = malloc(1 << 20))) *(int *)p[n++] = 1;
    o[0] = n;
#pragma unroll 1
    while (n) free(p[--n]);
}
