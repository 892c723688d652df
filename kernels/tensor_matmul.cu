// nvcc: -arch=sm_80
// C = A B on tensor cores, in row-major order: A is m x k, B is k x n. A and B are f16 (their bits,
// as unsigned short), C and the sums are f32. n and k are multiples of 8, so that every row begins
// at a multiple of 16 bytes, which is what cp.async copies at a time.
//
// A block computes 128 x 128 elements of C. While it multiplies one tile of A and B in shared
// memory, cp.async fills another one. Each of its 8 warps computes 64 x 32 elements, as 4 x 4
// products of mma.m16n8k16, whose operands ldmatrix reads.

enum { TILE_M = 128, TILE_N = 128, TILE_K = 32, THREADS = 256 };
enum { WARP_M = 64, WARP_N = 32, MMA_M = 16, MMA_N = 8, MMA_K = 16 };
enum { AT_ONCE = 8 };    // elements in 16 bytes

// Rows are 16 bytes longer than the tile: the 8 rows that ldmatrix reads at a time are then in
// different banks.
struct tile {
    unsigned short a[TILE_M][TILE_K + AT_ONCE], b[TILE_K][TILE_N + AT_ONCE];
};

static __device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

// 16 bytes; zeros if `inside` is false
static __device__ void copy_async(unsigned short *to, const unsigned short *from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
            "l"(__cvta_generic_to_global(from)), "r"(inside ? 16 : 0));
}

// The part of A and B for the products `start` to `start` + TILE_K; zeros beyond their edges. Each
// thread copies two times 16 bytes of each.
static __device__ void fill(
        tile *t, const unsigned short *a, const unsigned short *b, int m, int n, int k, int start) {
    const int top = blockIdx.y * TILE_M, left = blockIdx.x * TILE_N;
    for (int i = threadIdx.x; i < TILE_M * TILE_K / AT_ONCE; i += THREADS) {
        const int y = i / (TILE_K / AT_ONCE), x = i % (TILE_K / AT_ONCE) * AT_ONCE;
        const bool inside = top + y < m && start + x < k;
        copy_async(&t->a[y][x], inside ? a + (size_t)(top + y) * k + start + x : a, inside);
    }
    for (int i = threadIdx.x; i < TILE_K * TILE_N / AT_ONCE; i += THREADS) {
        const int y = i / (TILE_N / AT_ONCE), x = i % (TILE_N / AT_ONCE) * AT_ONCE;
        const bool inside = start + y < k && left + x < n;
        copy_async(&t->b[y][x], inside ? b + (size_t)(start + y) * n + left + x : b, inside);
    }
}

// Four matrices of 8 x 8: lane i passes the address of row i % 8 of matrix i / 8.
static __device__ void load_a(unsigned r[4], const unsigned short *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}
// The same, transposed: mma takes B by columns.
static __device__ void load_b(unsigned r[4], const unsigned short *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}
static __device__ void multiply_add(float c[4], const unsigned a[4], const unsigned b[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(THREADS) tensor_matmul(
        const unsigned short *a, const unsigned short *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) tile tiles[2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int top = warp / (TILE_N / WARP_N) * WARP_M, left = warp % (TILE_N / WARP_N) * WARP_N;
    float sums[WARP_M / MMA_M][WARP_N / MMA_N][4] = {};
    int now = 0;

    fill(&tiles[now], a, b, m, n, k, 0);
    asm volatile("cp.async.commit_group;");
    for (int start = 0; start < k; start += TILE_K, now ^= 1) {
        if (start + TILE_K < k) fill(&tiles[now ^ 1], a, b, m, n, k, start + TILE_K);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;" ::: "memory");    // all but the newest group
        __syncthreads();    // the tile has what all threads have copied
#pragma unroll
        for (int at = 0; at < TILE_K; at += MMA_K) {
            unsigned in_a[WARP_M / MMA_M][4], in_b[WARP_N / MMA_N][2];
#pragma unroll
            for (int i = 0; i < WARP_M / MMA_M; i++)
                load_a(in_a[i], &tiles[now].a[top + i * MMA_M + lane % 16][at + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < WARP_N / MMA_N; j += 2)    // two operands at a time
                load_b(in_b[j], &tiles[now].b[at + lane % 16][left + j * MMA_N + lane / 16 * 8]);
#pragma unroll
            for (int i = 0; i < WARP_M / MMA_M; i++)
#pragma unroll
                for (int j = 0; j < WARP_N / MMA_N; j++) multiply_add(sums[i][j], in_a[i], in_b[j]);
        }
        __syncthreads();    // all warps have read the tile, which the next fill overwrites
    }

    // A lane has two elements, side by side, of row lane / 4, and two of the eighth row below it.
    for (int i = 0; i < WARP_M / MMA_M; i++)
        for (int j = 0; j < WARP_N / MMA_N; j++)
            for (int half = 0; half < 2; half++) {
                const int row = blockIdx.y * TILE_M + top + i * MMA_M + lane / 4 + half * 8;
                const int column = blockIdx.x * TILE_N + left + j * MMA_N + lane % 4 * 2;
                if (row < m && column < n)
                    *(float2 *)&c[(size_t)row * n + column] = make_float2(
                            sums[i][j][2 * half], sums[i][j][2 * half + 1]);
            }
}

// f16 from f32, to nearest.
extern "C" __global__ void to_f16(const float *in, unsigned short *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out[i]) : "f"(in[i]));
}
