/* Bit functions: reversal, counts, first set, byte permutation, funnel shifts, saturation and
   conversion between integer widths. */
extern "C" __global__ void bits(
        const unsigned *a, const unsigned *b, unsigned long long *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    unsigned long long z = (unsigned long long)x << 32 | y;
    o[0 * n + i] = __brev(x) ^ (unsigned long long)__popc(x) << 32 ^
            (unsigned long long)__clz(x) << 40 ^ (unsigned long long)__ffs(x) << 48;
    o[1 * n + i] = __brevll(z);
    o[2 * n + i] = __popcll(z) * 10000 + __clzll(z) * 100 + __ffsll(z);
    o[3 * n + i] = __byte_perm(x, y, 0x3715) | (unsigned long long)__byte_perm(x, y, y) << 32;
    o[4 * n + i] = __funnelshift_l(x, y, i) | (unsigned long long)__funnelshift_r(x, y, i) << 32;
    o[5 * n + i] = __funnelshift_lc(x, y, i % 48) |
            (unsigned long long)__funnelshift_rc(x, y, i % 48) << 32;
    o[6 * n + i] = (x ^ y) & (x | ~y);
    o[7 * n + i] = (unsigned long long)(signed char)x + (short)y + (unsigned char)(x >> 8);
    o[8 * n + i] = x << (y & 31) | x >> (32 - (y & 31) & 31);
    o[9 * n + i] = __float_as_uint((float)x) |
            (unsigned long long)__float_as_uint((float)(int)y) << 32;
    o[10 * n + i] = __double_as_longlong((double)z);
    o[11 * n + i] = (unsigned)__float2int_rn((float)(int)x * 0.001f) |
            (unsigned long long)__float2uint_rz((float)y) << 32;
    o[12 * n + i] = (unsigned)__fns(x, 0, 3) |
            (unsigned long long)(x >> (y & 15) & ((1u << (y >> 16 & 15)) - 1)) << 32;
    o[13 * n + i] = __float2ull_ru((float)z) ^ __double2ll_rd((double)(long long)z * 0.37);
}
/* CRC-32 by table in shared memory, and SHA-256 of one block per thread */
extern "C" __global__ void crc32(const unsigned char *data, unsigned *out, int each) {
    __shared__ unsigned table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, c = ~0u;
    for (int i = 0; i < each; i++) c = table[(c ^ data[t * each + i]) & 255] ^ c >> 8;
    out[t] = ~c;
}
__constant__ unsigned K[64] = {
    0x428a2f98,
    0x71374491,
    0xb5c0fbcf,
    0xe9b5dba5,
    0x3956c25b,
    0x59f111f1,
    0x923f82a4,
    0xab1c5ed5,
    0xd807aa98,
    0x12835b01,
    0x243185be,
    0x550c7dc3,
    0x72be5d74,
    0x80deb1fe,
    0x9bdc06a7,
    0xc19bf174,
    0xe49b69c1,
    0xefbe4786,
    0x0fc19dc6,
    0x240ca1cc,
    0x2de92c6f,
    0x4a7484aa,
    0x5cb0a9dc,
    0x76f988da,
    0x983e5152,
    0xa831c66d,
    0xb00327c8,
    0xbf597fc7,
    0xc6e00bf3,
    0xd5a79147,
    0x06ca6351,
    0x14292967,
    0x27b70a85,
    0x2e1b2138,
    0x4d2c6dfc,
    0x53380d13,
    0x650a7354,
    0x766a0abb,
    0x81c2c92e,
    0x92722c85,
    0xa2bfe8a1,
    0xa81a664b,
    0xc24b8b70,
    0xc76c51a3,
    0xd192e819,
    0xd6990624,
    0xf40e3585,
    0x106aa070,
    0x19a4c116,
    0x1e376c08,
    0x2748774c,
    0x34b0bcb5,
    0x391c0cb3,
    0x4ed8aa4a,
    0x5b9cca4f,
    0x682e6ff3,
    0x748f82ee,
    0x78a5636f,
    0x84c87814,
    0x8cc70208,
    0x90befffa,
    0xa4506ceb,
    0xbef9a3f7,
    0xc67178f2,
};
__device__ unsigned rotate(unsigned x, int n) { return __funnelshift_r(x, x, n); }
extern "C" __global__ void sha256(const unsigned *message, unsigned *digest) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, w[64];
    unsigned h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
        0x1f83d9ab, 0x5be0cd19 },
             v[8];
    for (int i = 0; i < 16; i++) w[i] = __byte_perm(message[t * 16 + i], 0, 0x0123);
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
                w[i - 7] + (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 8; i++) v[i] = h[i];
#pragma unroll 4
    for (int i = 0; i < 64; i++) {
        unsigned a = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        unsigned b = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v[7] = v[6];
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + a;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = a + b;
    }
    for (int i = 0; i < 8; i++) digest[t * 8 + i] = h[i] + v[i];
}
