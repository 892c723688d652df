// Many integer operations, folded into one 64-bit word per element. Every step is exactly defined,
// so the host gets the same bits.
//
//   x = seed + i, mixed by murmur3's 32-bit finaliser and three xorshift steps (0 becomes 1)
//   h = population counts, leading zeros, first set bit, reversed and permuted bytes, low and high
//   halves of products,
//       quotients and remainders of 32 and 64 bits, minimum, maximum, absolute difference, funnel
//           shift, each folded in
//       by FNV-1a

static __device__ unsigned mix(unsigned x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    if (x == 0) x = 1;
    for (int i = 0; i < 3; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

static __device__ unsigned long long fold(unsigned long long h, unsigned long long v) {
    return (h ^ v) * 0x100000001b3ull;
}

extern "C" __global__ void integer(unsigned seed, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = mix(seed + i), y = mix(x);
    unsigned long long wide = (unsigned long long)y << 32 | x, h = 0xcbf29ce484222325ull;
    long long signed_wide = (long long)(wide ^ wide << 7);
    int sx = (int)x, sy = (int)y;
    h = fold(h, __popc(x));
    h = fold(h, __clz(x));
    h = fold(h, __ffs(sx));
    h = fold(h, __popcll(wide) * 64 + __clzll(signed_wide));
    h = fold(h, __brev(x));
    h = fold(h, __byte_perm(x, y, 0x2705));    // bytes 5, 0, 7, 2 of y:x, lowest first
    h = fold(h, x * 0x9e3779b9u);
    h = fold(h, __umulhi(x, 0x9e3779b9u));
    h = fold(h, (unsigned)__mulhi(sx, sy));
    h = fold(h, __umul64hi(wide, 0x9e3779b97f4a7c15ull));
    h = fold(h, wide / (y >> 7 | 1));    // divisors are odd, so never 0
    h = fold(h, wide % (y >> 7 | 1));
    /* neither 0 nor -1, which overflows for the lowest number */
    long long divisor = sx + (sx < 0 ? -1ll : 1ll);
    h = fold(h, (unsigned long long)(signed_wide / divisor));
    h = fold(h, (unsigned long long)(signed_wide % divisor));
    h = fold(h, x / (y & 0xffff | 1));
    h = fold(h, (unsigned)(sx % (-3 - (int)(y & 0xffff))));
    h = fold(h, (unsigned)min(sx, sy));
    h = fold(h, max(x, y));
    h = fold(h, __usad(x, y, i));             // |x - y| + i
    h = fold(h, __funnelshift_l(x, y, i));    // the upper half of y:x shifted left by i mod 32
    h = fold(h, (unsigned)(signed char)x);    // sign extension
    out[i] = h;
}
