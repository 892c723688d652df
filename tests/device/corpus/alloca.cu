/* alloca: an array of a thread whose length is known only when the kernel runs. */
extern "C" __global__ void scratch(int n, int *o) {
    int *p = (int *)alloca(n * sizeof *p), s = 0;
    for (int i = 0; i < n; i++) p[i] = i * n;
    for (int i = 0; i < n; i++) s += p[i * 7 % n];
    o[threadIdx.x] = s;
}
