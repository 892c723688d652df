/* 64-bit integers: division and remainder by variables and constants, high products, shifts by any
   amount, __int128. */
extern "C" __global__ void divide(const long long *a, const long long *b, long long *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i];
    unsigned long long ux = x, uy = y;
    o[0 * n + i] = x / y;
    o[1 * n + i] = x % y;
    o[2 * n + i] = ux / uy;
    o[3 * n + i] = ux % uy;
    o[4 * n + i] = x / 10 + x % 7;
    o[5 * n + i] = ux / 1000000007u;
    o[6 * n + i] = (int)x / ((int)y | 1);
    o[7 * n + i] = (unsigned)ux % ((unsigned)uy | 1);
    o[8 * n + i] = __mul64hi(x, y);
    o[9 * n + i] = __umul64hi(ux, uy);
    o[10 * n + i] = __mulhi((int)x, (int)y);
    o[11 * n + i] = __umulhi((unsigned)x, (unsigned)y);
    o[12 * n + i] = __mul24((int)x, (int)y) + __umul24((unsigned)x, (unsigned)y);
    o[13 * n + i] = x << (y & 63) ^ x >> (y & 63) ^ (long long)(ux >> (y & 63));
    o[14 * n + i] = x < y ? x : y;
    o[15 * n + i] = llabs(x) + __sad((int)x, (int)y, 0);
    o[16 * n + i] = (short)x / ((short)y | 1);
    o[17 * n + i] = __hadd((int)x, (int)y) + __rhadd((int)x, (int)y) +
            __uhadd((unsigned)x, (unsigned)y);
}
extern "C" __global__ void wide(const long long *a, const long long *b, long long *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __int128 x = a[i], y = b[i], p = x * y, s = p + ((x << 64) - y);
    unsigned __int128 u = (unsigned __int128)s / (unsigned long long)(b[i] | 1);
    __int128 q = s / (y * 3 + 1), r = s % (y * 3 + 1);
    o[0 * n + i] = (long long)p;
    o[1 * n + i] = (long long)(p >> 64);
    o[2 * n + i] = (long long)s;
    o[3 * n + i] = (long long)(s >> 64);
    o[4 * n + i] = (long long)u;
    o[5 * n + i] = (long long)(u >> 64);
    o[6 * n + i] = (long long)q;
    o[7 * n + i] = (long long)r;
    o[8 * n + i] = (long long)((unsigned __int128)s >> (i % 127));
}
