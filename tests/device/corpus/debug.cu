/* Compiled with -G: no optimisation, debug sections, every variable in local memory. */
struct point { int x, y; };
__device__ int dot(struct point a, struct point b) { int s = a.x * b.x; s += a.y * b.y; return s; }
extern "C" __global__ void debug(const struct point *p, int *o, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        struct point q = p[(t + i) % n];
        if (q.x % 2) sum += dot(q, p[i]); else sum -= q.y;
    }
    s[t] = sum;
    __syncthreads();
    o[t] = s[t ^ 1] + __shfl_xor_sync(~0u, sum, 2);
}
