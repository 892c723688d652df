/* Structs by value: members of every alignment, arrays, nested, over 4 KiB on sm_90;
   __grid_constant__; vectors of every type. */
struct __align__(16) inner {
    char c;
    float4 v;
};
struct mixed {
    char a;
    double d;
    short s[3];
    struct inner in;
    float2 f2;
    unsigned char tail;
};
struct odd {
    char c[7];
};
struct matrix {
    float m[4][4];
};
extern "C" __global__ void by_value(char c, struct mixed m, struct odd o, short s, struct matrix x,
        bool b, float3 f3, const double *in, double *out) {
    int t = threadIdx.x;
    double v = c + m.a * 2 + m.d + m.s[t % 3] + m.in.c + m.in.v.z + m.f2.y + m.tail + o.c[t % 7] +
            s + x.m[t % 4][t / 4 % 4] + (b ? 1000 : 0) + f3.x * f3.y - f3.z;
    out[t] = v + in[t];
}
extern "C" __global__ void grid_constant(
        const __grid_constant__ struct matrix x, int k, float *out) {
    const float *p = &x.m[0][0];
    out[threadIdx.x] = p[(threadIdx.x * k) & 15];
}
extern "C" __global__ void vectors(const uchar4 *a, const short2 *b, const double2 *c,
        const longlong2 *d, const char3 *e, const ushort4 *f, float4 *o) {
    int t = threadIdx.x;
    uchar4 p = a[t];
    short2 q = b[t];
    double2 r = c[t];
    longlong2 u = d[t];
    char3 v = e[t];
    ushort4 w = f[t];
    o[t] = make_float4((float)(p.x + p.y * p.z - p.w), (float)(q.x * q.y), (float)(r.x + r.y),
            (float)(u.x - u.y + v.x * v.y * v.z + w.x + w.y - w.z * w.w % 77));
}
#if __CUDA_ARCH__ >= 700
struct large {
    int v[1500];
};

extern "C" __global__ void large_parameter(const struct large l, int *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] =
            l.v[(blockIdx.x * blockDim.x + threadIdx.x) % 1500];
}
#endif
