/* Calls: recursion, tables of function pointers, virtual functions, functions that return structs;
   none may be inlined. */
__noinline__ __device__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__noinline__ __device__ unsigned ackermann(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(unsigned *o) {
    unsigned t = threadIdx.x;
    o[t] = fib(t % 12) * 1000 + ackermann(t % 3, t % 4);
}

__noinline__ __device__ int add(int a, int b) { return a + b; }
__noinline__ __device__ int sub(int a, int b) { return a - b; }
__noinline__ __device__ int mul(int a, int b) { return a * b; }
__noinline__ __device__ int low(int a, int b) { return a < b ? a : b; }
typedef int (*binary)(int, int);
__device__ binary operations[4] = { add, sub, mul, low };
extern "C" __global__ void pointers(const int *x, int *o) {
    int t = threadIdx.x;
    binary f = operations[x[t] & 3];
    o[t] = f(x[t], t) + operations[t & 3](t, 3);
}

struct shape {
    __device__ virtual float area() const = 0;
    float a;
};
struct square : shape {
    __device__ float area() const override { return a * a; }
};
struct circle : shape {
    __device__ float area() const override { return 3.0f * a * a; }
};
extern "C" __global__ void virtuals(float *o) {
    square s;
    circle c;
    s.a = (float)threadIdx.x;
    c.a = (float)threadIdx.x + 1.0f;
    const shape *p = threadIdx.x & 1 ? (const shape *)&s : (const shape *)&c;
    o[threadIdx.x] = p->area();
}

struct big {
    double d;
    char c;
    int v[5];
    short s;
};
__noinline__ __device__ struct big make(int n, char c) {
    struct big b;
    b.d = n * 0.5;
    b.c = c;
    b.s = (short)(n - 7);
    for (int i = 0; i < 5; i++) b.v[i] = n * i;
    return b;
}
__noinline__ __device__ double total(struct big b, float f) {
    return b.d + b.c + b.v[0] + b.v[4] + b.s + f;
}
extern "C" __global__ void structs(double *o) {
    o[threadIdx.x] = total(make((int)threadIdx.x, 'x'), 0.25f);
}

/* quicksort of one array per thread, by recursion */
__noinline__ __device__ void quicksort(int *a, int n) {
    if (n < 2) return;
    int p = a[n / 2], i = 0, j = n - 1;
    while (i <= j) {
        while (a[i] < p) i++;
        while (a[j] > p) j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, j + 1);
    quicksort(a + i, n - i);
}
extern "C" __global__ void sort_each(int *a, int n) {
    quicksort(a + (blockIdx.x * blockDim.x + threadIdx.x) * n, n);
}
