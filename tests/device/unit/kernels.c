/* kernels.c - compares every kernel of kernels/ with a host reference, bit for bit, for sizes that
   fill their blocks and sizes that do not. */
#include "../../test.h"
#include <limits.h>
#include <math.h>

/* Compile the reference like the kernels: one rounding per operation. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

static gpuexec_ptr to_device(const setting *s, const void *host, size_t bytes) {
    gpuexec_ptr p = gpuexec_alloc(s->ctx, bytes);
    gpuexec_copy_in(s->stream, p, host, bytes);
    return p;
}

/* Memory filled with 0xee, to detect elements that a kernel does not write. */
static gpuexec_ptr unwritten(const setting *s, size_t bytes) {
    gpuexec_ptr p = gpuexec_alloc(s->ctx, bytes);
    gpuexec_fill(s->stream, p, 0xee, 1, bytes);
    return p;
}

/* Compares the device memory with `wanted`, which is `count` elements of `size` bytes, and frees
   the device memory. */
#define CHECK_DEVICE(s, p, wanted, count, size) check_device(__LINE__, s, p, wanted, count, size)
static void check_device(
        int line, const setting *s, gpuexec_ptr p, const void *wanted, size_t count, size_t size) {
    unsigned char *got = (unsigned char *)calloc(count, size);
    const unsigned char *w = (const unsigned char *)wanted;
    size_t i, wrong = 0, first = 0, k;
    gpuexec_copy_out(s->stream, got, p, count * size);
    if (CHECK_OK(gpuexec_stream_sync(s->stream)))
        for (i = count; i-- > 0;)
            if (memcmp(got + i * size, w + i * size, size) != 0) {
                wrong++;
                first = i;
            }
    if (wrong && test_fail_at(__FILE__, line)) {
        printf("%lu of %lu elements are wrong; the first is [%lu], which is 0x",
                (unsigned long)wrong, (unsigned long)count, (unsigned long)first);
        for (k = size; k-- > 0;) printf("%02x", got[first * size + k]);
        printf(" and should be 0x");
        for (k = size; k-- > 0;) printf("%02x", w[first * size + k]);
        printf("\n");
    }
    CHECK_OK(gpuexec_free(p));
    free(got);
}

static float random_float(uint32_t *seed) {
    return (float)(test_random(seed) >> 8) * 0x1p-20f - 8.0f;
}

static double random_double(uint32_t *seed) {
    return (double)test_random(seed) * 0x1p-32 + (double)test_random(seed) * 0x1p-64;
}

static float *random_floats(size_t n, uint32_t seed) {
    float *x = (float *)malloc((n ? n : 1) * sizeof *x);
    size_t i;
    for (i = 0; i < n; i++) x[i] = random_float(&seed);
    return x;
}

static const int sizes[] = { 1, 31, 32, 33, 255, 256, 257, 1000, 65536, 300007 };
#define EACH_SIZE(n) \
    size_t n##_at = 0; \
    n##_at < sizeof sizes / sizeof sizes[0] && (n = sizes[n##_at], 1); \
    n##_at++

TEST(vector_add) {
    setting s = set_up("kernels/vector_add.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "vector_add");
    int n, i;
    for (EACH_SIZE(n)) {
        size_t bytes = (size_t)n * 4;
        float *a = random_floats((size_t)n, 1), *b = random_floats((size_t)n, 2),
              *c = random_floats((size_t)n, 3);
        gpuexec_ptr da = to_device(&s, a, bytes), db = to_device(&s, b, bytes),
                    dc = unwritten(&s, bytes);
        CHECK_OK(gpuexec_launch(
                fn, s.stream, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(da, db, dc, n)));
        for (i = 0; i < n; i++) c[i] = a[i] + b[i];
        CHECK_DEVICE(&s, dc, c, (size_t)n, 4);
        gpuexec_free(da);
        gpuexec_free(db);
        free(a);
        free(b);
        free(c);
    }
}

/* Floats of every class: the sum of each pair of special values. */
TEST(vector_add_of_special_values) {
    static const uint32_t bits[] = {
        0,
        0x80000000,
        1,
        0x80000001,
        0x007fffff,
        0x00800000,
        0x00800001,
        0x3f800000,
        0xbf800000,
        0x3f7fffff,
        0x33800000,
        0x4b800000,
        0x7f7fffff,
        0xff7fffff,
        0x7f800000,
        0xff800000,
    };
    enum { kinds = sizeof bits / sizeof bits[0] };
    setting s = set_up("kernels/vector_add.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "vector_add");
    float a[kinds * kinds], b[kinds * kinds], c[kinds * kinds];
    gpuexec_ptr da, db, dc;
    int n = 0, i, k;
    for (i = 0; i < kinds; i++)
        for (k = 0; k < kinds; k++) {
            memcpy(&a[n], &bits[i], 4);
            memcpy(&b[n], &bits[k], 4);
            if (isinf(a[n]) && isinf(b[n]) && i != k) continue; /* a NaN: any bits are valid */
            c[n] = a[n] + b[n];
            n++;
        }
    da = to_device(&s, a, (size_t)n * 4);
    db = to_device(&s, b, (size_t)n * 4);
    dc = unwritten(&s, (size_t)n * 4);
    CHECK_OK(gpuexec_launch(
            fn, s.stream, gpuexec_grid_for((size_t)n, 64), GPUEXEC_ARGS(da, db, dc, n)));
    CHECK_DEVICE(&s, dc, c, (size_t)n, 4);
}

TEST(saxpy) {
    setting s = set_up("kernels/saxpy.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "saxpy"),
                   strided = gpuexec_kernel_get(s.mod, "saxpy_strided");
    float a = -1.7f;
    int n, i;
    for (EACH_SIZE(n)) {
        size_t bytes = (size_t)n * 4;
        float *x = random_floats((size_t)n, 4), *y = random_floats((size_t)n, 5);
        gpuexec_ptr dx = to_device(&s, x, bytes), dy = to_device(&s, y, bytes),
                    dz = to_device(&s, y, bytes);
        CHECK_OK(gpuexec_launch(
                fn, s.stream, gpuexec_grid_for((size_t)n, 128), GPUEXEC_ARGS(a, dx, dy, n)));
        CHECK_OK(gpuexec_launch(
                strided, s.stream, gpuexec_grid(7, 96, 0), GPUEXEC_ARGS(a, dx, dz, n)));
        for (i = 0; i < n; i++) y[i] = fmaf(a, x[i], y[i]);
        CHECK_DEVICE(&s, dy, y, (size_t)n, 4);
        CHECK_DEVICE(&s, dz, y, (size_t)n, 4);
        gpuexec_free(dx);
        free(x);
        free(y);
    }
}

TEST(reduce_integers) {
    setting s = set_up("kernels/reduce.ptx", NULL, 0);
    gpuexec_kernel tree = gpuexec_kernel_get(s.mod, "reduce_tree_int"),
                   warps = gpuexec_kernel_get(s.mod, "reduce_warps_int");
    gpuexec_kernel atomic = gpuexec_kernel_get(s.mod, "reduce_atomic_int");
    int n, i;
    for (EACH_SIZE(n)) {
        gpuexec_dims d = gpuexec_grid_for((size_t)n, 256);
        uint32_t seed = (uint32_t)n;
        int32_t zero = 0, high = INT_MAX, low = INT_MIN, sum, lowest = INT_MAX, highest = INT_MIN;
        int32_t *x = (int32_t *)malloc((size_t)n * 4), *part = (int32_t *)calloc(d.grid_x, 4);
        uint32_t total = 0;
        gpuexec_ptr dx, dparts, dsum1, dsum2, dlow, dhigh;
        for (i = 0; i < n; i++) {
            x[i] = (int32_t)(test_random(&seed) % 2000001) - 1000000;
            part[i / 256] += x[i];
            total += (uint32_t)x[i];
            if (x[i] < lowest) lowest = x[i];
            if (x[i] > highest) highest = x[i];
        }
        memcpy(&sum, &total, 4);
        dx = to_device(&s, x, (size_t)n * 4);
        dparts = unwritten(&s, d.grid_x * 4);
        dsum1 = to_device(&s, &zero, 4);
        dsum2 = to_device(&s, &zero, 4);
        dlow = to_device(&s, &high, 4);
        dhigh = to_device(&s, &low, 4);
        CHECK_OK(gpuexec_launch(
                warps, s.stream, gpuexec_grid(5, 160, 0), GPUEXEC_ARGS(dx, dsum1, n)));
        CHECK_OK(gpuexec_launch(atomic, s.stream, d, GPUEXEC_ARGS(dx, dsum2, dlow, dhigh, n)));
        d.shared_bytes = 256 * 4;
        CHECK_OK(gpuexec_launch(tree, s.stream, d, GPUEXEC_ARGS(dx, dparts, n)));
        CHECK_DEVICE(&s, dparts, part, d.grid_x, 4);
        CHECK_DEVICE(&s, dsum1, &sum, 1, 4);
        CHECK_DEVICE(&s, dsum2, &sum, 1, 4);
        CHECK_DEVICE(&s, dlow, &lowest, 1, 4);
        CHECK_DEVICE(&s, dhigh, &highest, 1, 4);
        gpuexec_free(dx);
        free(x);
        free(part);
    }
}

/* Any floats for the tree, whose order of additions is fixed and repeated on the host. The other
   kernel's order is not fixed: it gets small integers, whose sums are exact. */
TEST(reduce_floats) {
    setting s = set_up("kernels/reduce.ptx", NULL, 0);
    gpuexec_kernel tree = gpuexec_kernel_get(s.mod, "reduce_tree_float"),
                   warps = gpuexec_kernel_get(s.mod, "reduce_warps_float");
    int n, i;
    for (EACH_SIZE(n)) {
        unsigned threads = n % 2 ? 512 : 64, half;
        gpuexec_dims d = gpuexec_grid_for((size_t)n, threads);
        float *x = random_floats((size_t)n, 6), *parts = (float *)calloc(d.grid_x, threads * 4),
              *sums = (float *)calloc(d.grid_x, 4), exact = 0;
        float zero = 0;
        gpuexec_ptr dx = to_device(&s, x, (size_t)n * 4), dsums = unwritten(&s, d.grid_x * 4),
                    dsum = to_device(&s, &zero, 4);
        unsigned b, t;
        memcpy(parts, x, (size_t)n * 4);
        for (b = 0; b < d.grid_x; b++) {
            float *part = parts + b * threads;
            for (half = threads / 2; half > 0; half /= 2)
                for (t = 0; t < half; t++) part[t] += part[t + half];
            sums[b] = part[0];
        }
        d.shared_bytes = threads * 4;
        CHECK_OK(gpuexec_launch(tree, s.stream, d, GPUEXEC_ARGS(dx, dsums, n)));
        CHECK_DEVICE(&s, dsums, sums, d.grid_x, 4);
        for (i = 0; i < n; i++) {
            x[i] = (float)(i % 17 - 8);
            exact += x[i];
        }
        gpuexec_copy_in(s.stream, dx, x, (size_t)n * 4);
        CHECK_OK(gpuexec_launch(
                warps, s.stream, gpuexec_grid(9, 256, 0), GPUEXEC_ARGS(dx, dsum, n)));
        CHECK_DEVICE(&s, dsum, &exact, 1, 4);
        gpuexec_free(dx);
        free(x);
        free(parts);
        free(sums);
    }
}

TEST(matmul) {
    /* m n k */
    static const int shapes[][3] = {
        { 1, 1, 1 },
        { 16, 16, 16 },
        { 17, 15, 33 },
        { 3, 100, 7 },
        { 64, 48, 80 },
        { 100, 130, 90 },
    };
    setting s = set_up("kernels/matmul.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "matmul");
    size_t t;
    for (t = 0; t < sizeof shapes / sizeof shapes[0]; t++) {
        int m = shapes[t][0], n = shapes[t][1], k = shapes[t][2], row, column, i;
        float *a = random_floats((size_t)(m * k), 7), *b = random_floats((size_t)(k * n), 8),
              *c = random_floats((size_t)(m * n), 9);
        gpuexec_ptr da = to_device(&s, a, (size_t)(m * k) * 4),
                    db = to_device(&s, b, (size_t)(k * n) * 4),
                    dc = unwritten(&s, (size_t)(m * n) * 4);
        CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid_for_2d((size_t)n, (size_t)m, 16, 16),
                GPUEXEC_ARGS(da, db, dc, m, n, k)));
        for (row = 0; row < m; row++)
            for (column = 0; column < n; column++) {
                float sum = 0;
                for (i = 0; i < k; i++) sum = fmaf(a[row * k + i], b[i * n + column], sum);
                /* the last tile's padding turns -0 into 0 */
                for (; i % 16; i++) sum = fmaf(0.0f, 0.0f, sum);
                c[row * n + column] = sum;
            }
        CHECK_DEVICE(&s, dc, c, (size_t)(m * n), 4);
        gpuexec_free(da);
        gpuexec_free(db);
        free(a);
        free(b);
        free(c);
    }
}

/* All products and sums are exact, in any order. */
static float *eighths(int count, unsigned seed) {
    float *x = random_floats((size_t)count, seed);
    int i;
    for (i = 0; i < count; i++) x[i] = (float)(int)(x[i] * 8) / 8;
    return x;
}
TEST(tensor_matmul) {
    enum { THREADS = 256, TILE = 128 };
    /* m n k */
    static const int shapes[][3] = {
        { 1, 8, 8 },
        { 128, 128, 32 },
        { 129, 136, 40 },
        { 77, 264, 96 },
        { 300, 72, 200 },
    };
    setting s = set_up("kernels/matmul.ptx", NULL, 0);
    gpuexec_device_info d;
    gpuexec_module mod;
    gpuexec_kernel fn, to_f16;
    size_t t;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    if (d.compute_capability < 80) SKIP("needs compute capability 8.0");
    mod = gpuexec_module_load_file(s.ctx, "kernels/tensor_matmul.ptx", NULL);
    fn = gpuexec_kernel_get(mod, "tensor_matmul");
    to_f16 = gpuexec_kernel_get(mod, "to_f16");
    for (t = 0; t < sizeof shapes / sizeof shapes[0]; t++) {
        int m = shapes[t][0], n = shapes[t][1], k = shapes[t][2], row, column, i;
        int in_a = m * k, in_b = k * n;
        float *a = eighths(in_a, 7), *b = eighths(in_b, 8), *c = random_floats((size_t)(m * n), 9);
        gpuexec_ptr da = to_device(&s, a, (size_t)in_a * 4),
                    db = to_device(&s, b, (size_t)in_b * 4), ha = unwritten(&s, (size_t)in_a * 2),
                    hb = unwritten(&s, (size_t)in_b * 2), dc = unwritten(&s, (size_t)(m * n) * 4);
        gpuexec_dims dims = gpuexec_grid_for_2d((size_t)n, (size_t)m, TILE, TILE);
        dims.block_x = THREADS;
        dims.block_y = 1;
        CHECK_OK(gpuexec_launch(
                to_f16, s.stream, gpuexec_grid_for((size_t)in_a, 256), GPUEXEC_ARGS(da, ha, in_a)));
        CHECK_OK(gpuexec_launch(
                to_f16, s.stream, gpuexec_grid_for((size_t)in_b, 256), GPUEXEC_ARGS(db, hb, in_b)));
        CHECK_OK(gpuexec_launch(fn, s.stream, dims, GPUEXEC_ARGS(ha, hb, dc, m, n, k)));
        for (row = 0; row < m; row++)
            for (column = 0; column < n; column++) {
                float sum = 0;
                for (i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
                c[row * n + column] = sum;
            }
        CHECK_DEVICE(&s, dc, c, (size_t)(m * n), 4);
        CHECK_OK(gpuexec_free(da));
        CHECK_OK(gpuexec_free(db));
        CHECK_OK(gpuexec_free(ha));
        CHECK_OK(gpuexec_free(hb));
        free(a);
        free(b);
        free(c);
    }
}

TEST(transpose) {
    static const int shapes[][2] = {
        { 1, 1 },
        { 32, 32 },
        { 33, 31 },
        { 1, 500 },
        { 500, 1 },
        { 257, 300 },
    };
    setting s = set_up("kernels/transpose.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "transpose");
    size_t t;
    for (t = 0; t < sizeof shapes / sizeof shapes[0]; t++) {
        int width = shapes[t][0], height = shapes[t][1], x, y;
        size_t bytes = (size_t)(width * height) * 4;
        float *in = random_floats((size_t)(width * height), 10),
              *out = random_floats((size_t)(width * height), 11);
        gpuexec_ptr din = to_device(&s, in, bytes), dout = unwritten(&s, bytes);
        gpuexec_dims d = gpuexec_grid_for_2d((size_t)width, (size_t)height, 32, 32);
        d.block_y = 8; /* each thread moves 4 elements of a tile */
        CHECK_OK(gpuexec_launch(fn, s.stream, d, GPUEXEC_ARGS(din, dout, width, height)));
        for (y = 0; y < height; y++)
            for (x = 0; x < width; x++) out[x * height + y] = in[y * width + x];
        CHECK_DEVICE(&s, dout, out, (size_t)(width * height), 4);
        gpuexec_free(din);
        free(in);
        free(out);
    }
}

TEST(histogram) {
    setting s = set_up("kernels/histogram.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "histogram");
    int n, skewed;
    for (EACH_SIZE(n))
        for (skewed = 0; skewed < 2; skewed++) { /* evenly distributed values, or mostly the same
                                                    one */
            unsigned char *data = (unsigned char *)malloc((size_t)n);
            uint32_t bins[256] = { 0 }, seed = 12, count = (uint32_t)n, i;
            gpuexec_ptr ddata, dbins;
            for (i = 0; i < count; i++) {
                data[i] = (unsigned char)(test_random(&seed) >> 11);
                if (skewed && test_random(&seed) % 8) data[i] = 200;
                bins[data[i]]++;
            }
            ddata = to_device(&s, data, count);
            dbins = gpuexec_alloc(s.ctx, sizeof bins);
            gpuexec_fill(s.stream, dbins, 0, 1, sizeof bins);
            CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid(6, skewed ? 96 : 256, 0),
                    GPUEXEC_ARGS(ddata, count, dbins)));
            CHECK_DEVICE(&s, dbins, bins, 256, 4);
            gpuexec_free(ddata);
            free(data);
        }
}

/* -------------------------------------------------------------------------------------------------
   The integer kernel, repeated on the host: the PTX instructions, spelt out. */

static uint32_t mix(uint32_t x) {
    int i;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    if (x == 0) x = 1;
    for (i = 0; i < 3; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

static unsigned ones(uint64_t x) {
    unsigned n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

static unsigned leading_zeros(uint64_t x, unsigned of) {
    unsigned n = 0;
    while (n < of && !(x >> (of - 1 - n) & 1)) n++;
    return n;
}

static unsigned first_set(uint32_t x) {
    unsigned n = 0;
    if (!x) return 0;
    while (!(x >> n & 1)) n++;
    return n + 1;
}

static uint32_t reversed(uint32_t x) {
    uint32_t r = 0;
    int i;
    for (i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
    return r;
}

static int32_t as_signed(uint32_t x) {
    int32_t s;
    memcpy(&s, &x, 4);
    return s;
}

static int64_t as_signed_wide(uint64_t x) {
    int64_t s;
    memcpy(&s, &x, 8);
    return s;
}

/* the upper 64 of 128 bits, from four products of 32 bits */
static uint64_t high_product(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), lower = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (lower >> 32);
}

static uint64_t integer_reference(uint32_t seed, uint32_t i) {
    uint32_t x = mix(seed + i), y = mix(x), shift = i & 31;
    uint64_t wide = (uint64_t)y << 32 | x, h = UINT64_C(0xcbf29ce484222325), both = wide;
    int32_t sx = as_signed(x), sy = as_signed(y);
    int64_t signed_wide = as_signed_wide(wide ^ wide << 7),
            divisor = sx + (sx < 0 ? INT64_C(-1) : INT64_C(1));
    int32_t negative = -3 - (int32_t)(y & 0xffff);
#define FOLD(v) h = (h ^ (uint64_t)(v)) * UINT64_C(0x100000001b3)
    FOLD(ones(x));
    FOLD(leading_zeros(x, 32));
    FOLD(first_set(x));
    FOLD(ones(wide) * 64 + leading_zeros((uint64_t)signed_wide, 64));
    FOLD(reversed(x));
    FOLD((uint32_t)(both >> 40 & 0xff) | (uint32_t)(both & 0xff) << 8 |
            (uint32_t)(both >> 56) << 16 | (uint32_t)(both >> 16 & 0xff) << 24);
    FOLD(x * 0x9e3779b9u);
    FOLD((uint32_t)((uint64_t)x * 0x9e3779b9u >> 32));
    FOLD((uint32_t)((uint64_t)((int64_t)sx * sy) >> 32));
    FOLD(high_product(wide, UINT64_C(0x9e3779b97f4a7c15)));
    FOLD(wide / (y >> 7 | 1));
    FOLD(wide % (y >> 7 | 1));
    FOLD(signed_wide / divisor);
    FOLD(signed_wide % divisor);
    FOLD(x / ((y & 0xffff) | 1));
    FOLD((uint32_t)(sx % negative));
    FOLD((uint32_t)(sx < sy ? sx : sy));
    FOLD(x > y ? x : y);
    FOLD((x > y ? x - y : y - x) + i);
    FOLD(shift ? y << shift | x >> (32 - shift) : y);
    FOLD(((x & 0xff) ^ 0x80) - 0x80); /* sign extension */
#undef FOLD
    return h;
}

TEST(integer) {
    setting s = set_up("kernels/integer.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "integer");
    int n, i;
    for (EACH_SIZE(n)) {
        uint32_t seed = 0xfffff000u + (uint32_t)n;
        uint64_t *out = (uint64_t *)malloc((size_t)n * 8);
        gpuexec_ptr dout = unwritten(&s, (size_t)n * 8);
        CHECK_OK(gpuexec_launch(
                fn, s.stream, gpuexec_grid_for((size_t)n, 192), GPUEXEC_ARGS(seed, dout, n)));
        for (i = 0; i < n; i++) out[i] = integer_reference(seed, (uint32_t)i);
        CHECK_DEVICE(&s, dout, out, (size_t)n, 8);
        free(out);
    }
}

/* -------------------------------------------------------------------------------------------------
   Double precision. */

typedef struct body {
    double x, y, z, mass, vx, vy, vz, unused;
} body;

static void nbody_reference(const body *from, body *to, double dt, double softening, int n) {
    int i, j;
    for (i = 0; i < n; i++) {
        body b = from[i];
        double ax = 0, ay = 0, az = 0;
        for (j = 0; j < n; j++) {
            double dx = from[j].x - b.x, dy = from[j].y - b.y, dz = from[j].z - b.z;
            double r2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, softening)));
            double f = from[j].mass / (r2 * sqrt(r2));
            ax = fma(f, dx, ax);
            ay = fma(f, dy, ay);
            az = fma(f, dz, az);
        }
        b.vx = fma(ax, dt, b.vx);
        b.vy = fma(ay, dt, b.vy);
        b.vz = fma(az, dt, b.vz);
        b.x = fma(b.vx, dt, b.x);
        b.y = fma(b.vy, dt, b.y);
        b.z = fma(b.vz, dt, b.z);
        to[i] = b;
    }
}

TEST(bodies_under_gravity) {
    enum { n_bodies = 150, steps = 8 };
    setting s = set_up("kernels/double_precision.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "nbody_step");
    static body host[2][n_bodies];
    double dt = 0.01, softening = 1e-3;
    uint32_t seed = 21;
    int n = n_bodies, i;
    gpuexec_ptr d[2];
    for (i = 0; i < n; i++) {
        body *b = &host[0][i];
        b->x = random_double(&seed);
        b->y = random_double(&seed);
        b->z = random_double(&seed);
        b->mass = random_double(&seed);
        b->vx = random_double(&seed) - 0.5;
        b->vy = random_double(&seed) - 0.5;
        b->vz = random_double(&seed) - 0.5;
        b->unused = i;
    }
    d[0] = to_device(&s, host[0], sizeof host[0]);
    d[1] = unwritten(&s, sizeof host[0]);
    for (i = 0; i < steps; i++) {
        gpuexec_ptr from = d[i % 2], to = d[1 - i % 2];
        CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid_for(n_bodies, 64),
                GPUEXEC_ARGS(from, to, dt, softening, n)));
        nbody_reference(host[i % 2], host[1 - i % 2], dt, softening, n);
    }
    CHECK_DEVICE(&s, d[steps % 2], host[steps % 2], n_bodies, sizeof(body));
}

TEST(horner_and_newton) {
    static const double coefficients[] = { 1.0 / 3, -2.5, 1e-3, 4, -1e5, 7.125 };
    setting s = set_up("kernels/double_precision.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "horner_newton");
    gpuexec_ptr dc = to_device(&s, coefficients, sizeof coefficients);
    int n, i, j, count = 6, steps = 7;
    for (EACH_SIZE(n)) {
        size_t bytes = (size_t)n * 8;
        uint32_t seed = 33;
        double *x = (double *)malloc(bytes), *p = (double *)malloc(bytes),
               *root = (double *)malloc(bytes);
        gpuexec_ptr dx, dp, droot;
        if (n > 70000) n = 70001;
        bytes = (size_t)n * 8;
        for (i = 0; i < n; i++) {
            double sum = 0, r = 1;
            x[i] = random_double(&seed) * 200 - 100;
            for (j = 0; j < count; j++) sum = fma(sum, x[i], coefficients[j]);
            for (j = 0; j < steps; j++) r = 0.5 * (r + fabs(sum) / r);
            p[i] = sum;
            root[i] = r;
        }
        dx = to_device(&s, x, bytes);
        dp = unwritten(&s, bytes);
        droot = unwritten(&s, bytes);
        CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid_for((size_t)n, 128),
                GPUEXEC_ARGS(dx, dc, count, steps, dp, droot, n)));
        CHECK_DEVICE(&s, dp, p, (size_t)n, 8);
        CHECK_DEVICE(&s, droot, root, (size_t)n, 8);
        gpuexec_free(dx);
        free(x);
        free(p);
        free(root);
    }
}

TEST(mandelbrot) {
    enum { width = 120, height = 83 };
    typedef struct {
        uint32_t steps;
        float radius2;
    } pixel;
    setting s = set_up("kernels/mandelbrot.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "mandelbrot");
    static pixel out[width * height];
    double left = -2.2, top = 1.3, pitch = 3.0 / 113, limit = 64;
    unsigned max_steps = 200;
    int px, py, w = width, h = height;
    gpuexec_ptr d = unwritten(&s, sizeof out);
    CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid_for_2d(width, height, 16, 8),
            GPUEXEC_ARGS(d, w, h, left, top, pitch, limit, max_steps)));
    for (py = 0; py < height; py++)
        for (px = 0; px < width; px++) {
            double cx = left + px * pitch, cy = top - py * pitch, x = 0, y = 0, x2 = 0, y2 = 0;
            unsigned steps = 0;
            while (steps < max_steps && x2 + y2 <= limit) {
                y = 2.0 * (x * y) + cy;
                x = x2 - y2 + cx;
                x2 = x * x;
                y2 = y * y;
                steps++;
            }
            out[py * width + px].steps = steps;
            out[py * width + px].radius2 = (float)(x2 + y2);
        }
    CHECK_DEVICE(&s, d, out, width * height, sizeof(pixel));
}

/* -------------------------------------------------------------------------------------------------
   Variables, work of a chosen duration, output. */

TEST(globals) {
    setting s = set_up("kernels/globals.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "use_globals");
    size_t bytes = 0;
    gpuexec_ptr table = gpuexec_module_global_address(s.mod, "table", &bytes),
                counter = gpuexec_module_global_address(s.mod, "counter", NULL), out;
    static const int initial[4] = { 10, -20, 30, -40 };
    float host[1000], values[16];
    uint32_t counted;
    int n, i;
    CHECK_EQ(bytes, sizeof values);
    for (i = 0; i < 16; i++) values[i] = (float)i * 1.25f;
    gpuexec_copy_in(s.stream, table, values, sizeof values);
    for (n = 1; n <= 1000; n = n * 3 + 1) {
        counted = 0;
        gpuexec_copy_in(s.stream, counter, &counted, 4);
        out = unwritten(&s, (size_t)n * 4);
        CHECK_OK(gpuexec_launch(
                fn, s.stream, gpuexec_grid_for((size_t)n, 64), GPUEXEC_ARGS(out, n)));
        gpuexec_copy_out(s.stream, &counted, counter, 4);
        for (i = 0; i < n; i++) host[i] = values[i % 16] + (float)initial[i % 4];
        CHECK_DEVICE(&s, out, host, (size_t)n, 4);
        CHECK_EQ(counted, n);
    }
}

TEST(busy) {
    setting s = set_up("kernels/busy.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "busy");
    uint32_t data[500], wanted[500], multiplier = 1664525, increment = 1013904223, seed = 5;
    int n = 500, rounds = 777, i, r;
    gpuexec_ptr d;
    for (i = 0; i < n; i++) {
        data[i] = wanted[i] = test_random(&seed);
        for (r = 0; r < rounds; r++) wanted[i] = multiplier * wanted[i] + increment;
    }
    d = to_device(&s, data, sizeof data);
    CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid_for((size_t)n, 96),
            GPUEXEC_ARGS(d, n, multiplier, increment, rounds)));
    CHECK_DEVICE(&s, d, wanted, (size_t)n, 4);
}

/* Every thread's line appears once, complete, in any order. */
TEST_ALONE(hello) {
    enum { blocks = 3, threads = 5 };
    setting s = set_up("kernels/hello.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "hello");
    static char text[10000];
    double x = -0.625;
    uint64_t word = UINT64_C(0xfedcba9876543210);
    int keep = dup(1), i;
    size_t wanted_length = 0;
    gpuexec_result result;
    FILE *file = tmpfile();
    if (!CHECK(file != NULL)) return;
    fflush(stdout);
    dup2(fileno(file), 1);
    gpuexec_launch(fn, s.stream, gpuexec_grid(blocks, threads, 0), GPUEXEC_ARGS(x, word));
    result = gpuexec_stream_sync(s.stream);
    fflush(stdout);
    dup2(keep, 1);
    close(keep);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    CHECK_OK(result);
    for (i = 0; i < blocks * threads; i++) {
        char line[200];
        snprintf(line, sizeof line,
                "hello from thread %d of block %d, %s: x + %d = %f, word >> %d = %llx\n",
                i % threads, i / threads, i % 2 ? "odd" : "even", i, x + i, i,
                (unsigned long long)(word >> i));
        CHECK_TEXT(text, line);
        wanted_length += strlen(line);
    }
    CHECK_EQ(strlen(text), wanted_length);
}

/* One grid whose blocks wait for each other: as large as fits on the device, and one block
   larger. */
TEST(a_cooperative_grid) {
    setting s = set_up("kernels/grid_sum.ptx", NULL, 0);
    gpuexec_kernel sum = gpuexec_kernel_get(s.mod, "grid_sum");
    int n = 1000003, i, most = gpuexec_kernel_cooperative_blocks(sum, 256, 0), blocks;
    unsigned *in = malloc((size_t)n * sizeof *in);
    unsigned long long want = 0, got;
    gpuexec_ptr din = gpuexec_alloc(s.ctx, (size_t)n * sizeof *in), shares,
                out = gpuexec_alloc(s.ctx, 8);
    for (i = 0; i < n; i++) want += in[i] = (unsigned)i * 2654435761u;
    CHECK(most > 1);
    shares = gpuexec_alloc(s.ctx, (size_t)most * 8);
    gpuexec_copy_in(s.stream, din, in, (size_t)n * sizeof *in);
    for (blocks = 1; blocks <= most;
            blocks = blocks < most && blocks * 5 > most ? most : blocks * 5) {
        got = 0;
        CHECK_OK(gpuexec_launch_cooperative(sum, s.stream, gpuexec_grid((unsigned)blocks, 256, 0),
                GPUEXEC_ARGS(din, shares, out, n)));
        CHECK_OK(gpuexec_copy_out(s.stream, &got, out, 8));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(got, want);
    }
    CHECK_RESULT(gpuexec_launch_cooperative(sum, s.stream, gpuexec_grid((unsigned)most + 1, 256, 0),
                         GPUEXEC_ARGS(din, shares, out, n)),
            GPUEXEC_BAD_LAUNCH);
    {
        char a[32], b[32];
        snprintf(a, sizeof a, "%d blocks", most + 1);
        snprintf(b, sizeof b, "at most %d", most);
        CHECK_TEXT(gpuexec_error_text(), a, b, "grid_sum", "cooperative", "cure:");
    }
    gpuexec_take_error();
    free(in);
}

/* On one device; the example multi_device_jacobi uses several. One block, several rows per block,
   more blocks than rows; to the end, and with an early stop. */
TEST(jacobi) {
    enum { rows = 13, width = 75, iterations = 200, every = 8, checks = iterations / every };
    typedef struct {
        gpuexec_ptr barrier, cells, above, below, to_above, to_below, change, changes;
        int width, rows, iterations, every;
        float enough;
    } slab;
    setting s = set_up("kernels/jacobi.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "jacobi");
    gpuexec_barrier barrier = gpuexec_barrier_create(&s.ctx, 1, NULL);
    static float grid[2][rows + 2][width], got[2][rows][width];
    int round, k, x, y;
    for (round = 0; round < 3; round++) {
        float change[checks] = { 0 }, got_change[checks];
        uint32_t seed = 40;
        slab a = { gpuexec_barrier_address(barrier, 0), gpuexec_alloc(s.ctx, sizeof got),
            gpuexec_alloc(s.ctx, 2 * sizeof grid[0][0]),
            gpuexec_alloc(s.ctx, 2 * sizeof grid[0][0]), 0, 0, gpuexec_alloc(s.ctx, sizeof change),
            gpuexec_alloc(s.ctx, sizeof change), width, rows, iterations, every,
            round == 1 ? 0.5f : 0.0f };
        gpuexec_device_launch launch = { fn, s.stream,
            gpuexec_grid(round == 0      ? 1
                            : round == 1 ? 5
                                         : 17,
                    96, 0),
            GPUEXEC_ARGS(a) };
        for (y = 0; y < rows + 2; y++)
            for (x = 0; x < width; x++) grid[0][y][x] = grid[1][y][x] = random_float(&seed);
        for (k = 0; k < 2; k++) {
            gpuexec_copy_in(
                    s.stream, a.cells + (size_t)k * sizeof got[0], grid[k][1], sizeof got[0]);
            gpuexec_copy_in(s.stream, a.above + (size_t)k * sizeof grid[0][0], grid[k][0],
                    sizeof grid[0][0]);
            gpuexec_copy_in(s.stream, a.below + (size_t)k * sizeof grid[0][0], grid[k][rows + 1],
                    sizeof grid[0][0]);
        }
        gpuexec_fill(s.stream, a.change, 0, 1, sizeof change);
        CHECK_OK(gpuexec_launch_multi_device(&launch, 1, NULL));
        gpuexec_copy_out(s.stream, got, a.cells, sizeof got);
        gpuexec_copy_out(s.stream, got_change, a.change, sizeof change);
        CHECK_OK(gpuexec_stream_sync(s.stream));
        for (k = 0; k < iterations;) {
            float(*from)[width] = grid[k % 2], (*to)[width] = grid[++k % 2], most = 0;
            for (y = 1; y <= rows; y++)
                for (x = 1; x < width - 1; x++) {
                    to[y][x] = 0.25f *
                            ((from[y - 1][x] + from[y + 1][x]) + (from[y][x - 1] + from[y][x + 1]));
                    most = fmaxf(most, fabsf(to[y][x] - from[y][x]));
                }
            if (k % every == 0 && (change[k / every - 1] = most) <= a.enough) break;
        }
        CHECK_EQ(k < iterations, round == 1);
        for (y = 0; y < 2; y++) CHECK(memcmp(got[y], grid[y][1], sizeof got[0]) == 0);
        CHECK(memcmp(got_change, change, sizeof change) == 0);
    }
}

/* Rows 1, 3, 5 ... of a grid; with and without the largest change. */
TEST(jacobi_step) {
    enum { rows = 9, width = 300 };
    setting s = set_up("kernels/jacobi_step.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "jacobi_step");
    static float from[rows][width], got[rows][width], to[rows][width];
    gpuexec_ptr a = gpuexec_alloc(s.ctx, sizeof from), b = gpuexec_alloc(s.ctx, sizeof to),
                change = 0;
    gpuexec_ptr most = gpuexec_alloc(s.ctx, sizeof(float));
    int x, y, w = width, first = 1, step = 2, round;
    uint32_t seed = 41;
    for (round = 0; round < 2; round++, change = most) {
        float largest = 0, got_largest = -1;
        for (y = 0; y < rows; y++)
            for (x = 0; x < width; x++) from[y][x] = random_float(&seed);
        memset(to, 0, sizeof to);
        gpuexec_copy_in(s.stream, a, from, sizeof from);
        gpuexec_fill(s.stream, b, 0, 1, sizeof to);
        gpuexec_fill(s.stream, most, 0, 1, sizeof(float));
        CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid(rows / 2, 96, 0),
                GPUEXEC_ARGS(a, b, change, w, first, step)));
        gpuexec_copy_out(s.stream, got, b, sizeof got);
        gpuexec_copy_out(s.stream, &got_largest, most, sizeof(float));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        for (y = 1; y < rows - 1; y += 2)
            for (x = 1; x < width - 1; x++) {
                to[y][x] = 0.25f *
                        ((from[y - 1][x] + from[y + 1][x]) + (from[y][x - 1] + from[y][x + 1]));
                if (round == 1) largest = fmaxf(largest, fabsf(to[y][x] - from[y][x]));
            }
        CHECK(memcmp(got, to, sizeof to) == 0);
        CHECK(memcmp(&got_largest, &largest, sizeof largest) == 0);
    }
}

/* On one device; the example multi_device_cg uses several. One block, several rows per block, more
   blocks than rows; to the end, and with an early stop. */
TEST(conjugate_gradient) {
    enum { rows = 7, width = 37, cells = (rows + 2) * width, iterations = 400 };
    typedef struct {
        gpuexec_ptr barrier, x, q, r, p, above, below, to_above, to_below, parts[32], curve, done;
        int width, rows, iterations;
        double enough;
    } slab;
    setting s = set_up("kernels/conjugate_gradient.ptx", NULL, 0);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "conjugate_gradient");
    gpuexec_barrier barrier = gpuexec_barrier_create(&s.ctx, 1, NULL);
    const size_t bytes = rows * width * sizeof(double);
    static double b[cells], x[cells];
    static float curve[iterations];
    uint32_t seed = 41;
    int round, i, k, done;
    for (k = 1; k <= rows; k++)
        for (i = 1; i < width - 1; i++) b[k * width + i] = (double)random_float(&seed);
    for (round = 0; round < 3; round++) {
        const double enough = round == 1 ? 1e-3 : 1e-12;
        double left = 0, all = 0;
        gpuexec_device_launch launch = { fn, s.stream,
            gpuexec_grid(round == 0      ? 1
                            : round == 1 ? 3
                                         : 10,
                    256, 0),
            GPUEXEC_NO_ARGS };
        const void *argument[1];
        slab a;
        memset(&a, 0, sizeof a);
        a.barrier = gpuexec_barrier_address(barrier, 0);
        a.x = gpuexec_alloc(s.ctx, bytes);
        a.q = gpuexec_alloc(s.ctx, bytes);
        a.r = gpuexec_alloc(s.ctx, bytes);
        a.p = gpuexec_alloc(s.ctx, 2 * sizeof b);
        a.above = gpuexec_alloc(s.ctx, width * sizeof(double));
        a.below = gpuexec_alloc(s.ctx, width * sizeof(double));
        a.parts[0] = gpuexec_alloc(s.ctx, 2 * 10 * sizeof(double));
        a.curve = gpuexec_alloc(s.ctx, sizeof curve);
        a.done = gpuexec_alloc(s.ctx, sizeof done);
        a.width = width, a.rows = rows, a.iterations = iterations, a.enough = enough;
        gpuexec_fill(s.stream, a.x, 0, 1, bytes);
        gpuexec_fill(s.stream, a.p, 0, 1, 2 * sizeof b);
        gpuexec_fill(s.stream, a.above, 0, 1, width * sizeof(double));
        gpuexec_fill(s.stream, a.below, 0, 1, width * sizeof(double));
        gpuexec_copy_in(s.stream, a.r, b + width, bytes);
        argument[0] = &a;
        launch.args.addresses = argument;
        launch.args.count = 1;
        CHECK_OK(gpuexec_launch_multi_device(&launch, 1, NULL));
        memset(x, 0, sizeof x);
        gpuexec_copy_out(s.stream, x + width, a.x, bytes);
        gpuexec_copy_out(s.stream, curve, a.curve, sizeof curve);
        gpuexec_copy_out(s.stream, &done, a.done, sizeof done);
        CHECK_OK(gpuexec_stream_sync(s.stream));
        for (k = 1; k <= rows; k++)
            for (i = k * width + 1; i < (k + 1) * width - 1; i++) {
                const double d = b[i] -
                        (4 * x[i] - x[i - width] - x[i + width] - x[i - 1] - x[i + 1]);
                left += d * d;
                all += b[i] * b[i];
            }
        CHECK(sqrt(left / all) < 2 * enough); /* what it computes equals what is left */
        if (!CHECK(done > 1 && done < iterations)) return;
        CHECK((double)curve[done - 1] <= enough && (double)curve[done - 2] > enough);
    }
}

/* ---- x*y+z in every rounding, where the product and z nearly cancel ---- */

enum { NEAREST, TOWARD_ZERO, DOWN, UP };

static float power(int exponent) { return (float)ldexp(1, exponent); }

/* A number with 24 random bits, and 2^exponent as its first. */
static float random_mantissa(uint32_t *seed, int exponent) {
    const float size = (float)ldexp(0x800000 | test_random(seed) >> 9, exponent - 23);
    return test_random(seed) & 1 ? size : -size;
}

/* The exact value of x*y+z, except that what 53 bits cannot hold becomes an odd last bit: it lies
   on the same side of every float and of every middle between floats as the exact value. */
static double exact_fma(float x, float y, float z) {
    const double product = (double)x * y, sum = product + z, part = sum - product;
    const double rest = (product - (sum - part)) + (z - part);
    uint64_t bits;
    double odd;
    memcpy(&bits, &sum, 8);
    if (rest == 0 || bits & 1) return sum;
    bits = (rest > 0) == (sum > 0) ? bits | 1 : bits - 1;
    memcpy(&odd, &bits, 8);
    return odd;
}

static float round_float(double exact, int rounding, int ftz) {
    const float nearest = (float)exact, zero = signbit(exact) ? -0.0f : 0.0f;
    if (exact == 0) return rounding == DOWN ? -0.0f : 0.0f;
    if (ftz && fabs(exact) < 0x1p-126) return zero;
    if (rounding == NEAREST || nearest == exact) return nearest;
    if (rounding == DOWN || (rounding == TOWARD_ZERO && exact > 0))
        return nearest > exact ? nextafterf(nearest, -INFINITY) : nearest;
    return nearest < exact ? nextafterf(nearest, INFINITY) : nearest;
}

/* Operands without subnormal numbers. y is often 1 or -1; z differs from -x*y in its last bits, or
   is below it, or is unrelated. */
static void near_cancellation(uint32_t *seed, float *x, float *y, float *z) {
    for (;;) {
        const int total = (int)(test_random(seed) % 255) - 126;
        int first = (int)(test_random(seed) % 254) - 126;
        if (total - first < -126) first = total + (int)(test_random(seed) % 127);
        if (total - first > 127) first = total - (int)(test_random(seed) % 127);
        if (first < -126 || first > 127) continue;
        *x = random_mantissa(seed, first);
        *y = random_mantissa(seed, total - first);
        if (test_random(seed) % 4 == 0) *y = test_random(seed) & 1 ? 1.0f : -1.0f;
        *z = -(float)((double)*x * *y);
        switch (test_random(seed) % 4) {
        case 0: break;
        case 1: *z += *z * (power(-23) * ((float)(test_random(seed) % 9) - 4)); break;
        case 2: *z *= 1 - power(-(int)(test_random(seed) % 24)); break;
        default: *z = random_mantissa(seed, (int)(test_random(seed) % 254) - 126);
        }
        if (fabsf(*z) >= power(-126) && !isinf(*z)) {
            const double size = fabs(exact_fma(*x, *y, *z));
            /* it does not round to 2^-126 */
            if (size < 0x1p-126 - 0x1p-150 || size >= 0x1p-126) return;
        }
    }
}

TEST(fma_near_cancellation) {
    enum { n = 1 << 16 };
    static const char *const ops[] = { "fma.rn", "fma.rz", "fma.rm", "fma.rp", "mad.rn", "mad.rz",
        "mad.rm", "mad.rp" };
    static float x[n], y[n], z[n], want[n];
    setting s = set_up(UNIT_PTX, NULL, 0);
    uint32_t seed = 43;
    unsigned op, ftz, i;
    gpuexec_ptr dx, dy, dz, out;
    for (i = 0; i < n; i++) near_cancellation(&seed, &x[i], &y[i], &z[i]);
    dx = to_device(&s, x, sizeof x);
    dy = to_device(&s, y, sizeof y);
    dz = to_device(&s, z, sizeof z);
    for (op = 0; op < 8; op++)
        for (ftz = 0; ftz < 2; ftz++) {
            char text[2048];
            gpuexec_module mod;
            snprintf(text, sizeof text,
                    ".version 7.0\n.target sm_70\n.address_size 64\n"
                    ".visible .entry f(.param .u64 x, .param .u64 y, .param .u64 z, .param .u64 "
                    "out) {\n"
                    "    .reg .f32 %%f<4>; .reg .u32 %%r<4>; .reg .u64 %%a<5>;\n"
                    "    mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x;\n"
                    "    mad.lo.u32 %%r1, %%r1, %%r2, %%r3; mul.wide.u32 %%a0, %%r1, 4;\n"
                    "    ld.param.u64 %%a1, [x]; add.u64 %%a1, %%a1, %%a0; ld.global.f32 %%f0, "
                    "[%%a1];\n"
                    "    ld.param.u64 %%a2, [y]; add.u64 %%a2, %%a2, %%a0; ld.global.f32 %%f1, "
                    "[%%a2];\n"
                    "    ld.param.u64 %%a3, [z]; add.u64 %%a3, %%a3, %%a0; ld.global.f32 %%f2, "
                    "[%%a3];\n"
                    "    %s%s.f32 %%f3, %%f0, %%f1, %%f2;\n"
                    "    ld.param.u64 %%a4, [out]; add.u64 %%a4, %%a4, %%a0; st.global.f32 [%%a4], "
                    "%%f3; ret;\n}\n",
                    ops[op], ftz ? ".ftz" : "");
            mod = gpuexec_module_load(s.ctx, text, 0, NULL);
            CHECK_MADE(mod);
            out = unwritten(&s, sizeof want);
            CHECK_OK(gpuexec_launch(gpuexec_kernel_get(mod, "f"), s.stream,
                    gpuexec_grid_for(n, 256), GPUEXEC_ARGS(dx, dy, dz, out)));
            for (i = 0; i < n; i++)
                want[i] = round_float(exact_fma(x[i], y[i], z[i]), (int)op % 4, (int)ftz);
            CHECK_DEVICE(&s, out, want, n, sizeof want[0]);
            CHECK_OK(gpuexec_module_unload(mod));
        }
}

/* ---- registers that are vectors ---- */

TEST(vector_registers) {
    static const char text[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry f(.param .u64 to) {\n"
            "    .reg .u32 %r<3>; .reg .u64 %a; .reg .v2 .u32 %v, %w, %x; .reg .v4 .u32 %t;\n"
            "    ld.param.u64 %a, [to]; mov.u32 %r1, 7; mov.u32 %r2, 8;\n"
            "    mov.v2.u32 %v, {%r2, %r1};\n"
            "    mov.v2.u32 %w, %v; st.global.v2.u32 [%a], %w;\n"
            "    ld.global.v2.u32 %x, [%a]; mov.v2.u32 {%r1, %r2}, %x; st.global.v2.u32 [%a+8], "
            "{%r2, %r1};\n"
            "    st.global.u32 [%a+16], %x.y; mov.v4.u32 %t, %ntid; st.global.v4.u32 [%a+32], %t; "
            "ret;\n}\n";
    static const uint32_t want[12] = { 8, 7, 7, 8, 7, 0xeeeeeeee, 0xeeeeeeee, 0xeeeeeeee, 1, 1, 1,
        0 };
    setting s = set_up(UNIT_PTX, NULL, 0);
    gpuexec_module mod = gpuexec_module_load(s.ctx, text, 0, NULL);
    gpuexec_ptr to = unwritten(&s, sizeof want);
    CHECK_MADE(mod);
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(mod, "f"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(to)));
    CHECK_DEVICE(&s, to, want, 12, sizeof want[0]);
}

/* ---- vector loads of which the program does not use every byte ---- */

/* Each of 32 threads loads 16 bytes; the last 4 of the last thread are after the end of the
   allocation. The result is the sum of the first three words. */
static gpuexec_result load_used_bytes(const char *version, const char *before, const char *load) {
    enum { n = 32 };
    setting s = set_up(UNIT_PTX, NULL, 0);
    uint32_t in[4 * n], want[n];
    gpuexec_result result;
    gpuexec_module mod;
    gpuexec_ptr from = gpuexec_alloc(s.ctx, sizeof in - 4), to = unwritten(&s, sizeof want);
    char text[1500];
    unsigned i;
    for (i = 0; i < 4 * n; i++) in[i] = i * i + 7;
    for (i = 0; i < n; i++) want[i] = in[4 * i] + in[4 * i + 1] + in[4 * i + 2];
    gpuexec_copy_in(s.stream, from, in, sizeof in - 4);
    snprintf(text, sizeof text,
            ".version %s\n.target sm_70\n.address_size 64\n"
            ".visible .entry f(.param .u64 from, .param .u64 to) {\n"
            "    .reg .u32 %%r<6>; .reg .u64 %%a<4>;\n"
            "    mov.u32 %%r5, %%tid.x; mul.wide.u32 %%a0, %%r5, 16; mul.wide.u32 %%a1, %%r5, 4;\n"
            "    ld.param.u64 %%a2, [from]; add.u64 %%a2, %%a2, %%a0;\n"
            "    ld.param.u64 %%a3, [to]; add.u64 %%a3, %%a3, %%a1;\n"
            "    %s\n"
            "    %s {%%r0, %%r1, %%r2, %%r3}, [%%a2];\n"
            "    add.u32 %%r0, %%r0, %%r1; add.u32 %%r0, %%r0, %%r2; st.global.u32 [%%a3], %%r0; "
            "ret;\n}\n",
            version, before, load);
    mod = gpuexec_module_load(s.ctx, text, 0, NULL);
    CHECK_MADE(mod);
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(mod, "f"), s.stream, gpuexec_grid(1, n, 0), GPUEXEC_ARGS(from, to)));
    result = gpuexec_stream_sync(s.stream);
    if (result == GPUEXEC_OK) CHECK_DEVICE(&s, to, want, n, sizeof want[0]);
    return result;
}

TEST(unused_bytes_of_a_load) {
    static const char *const loads[] = { "ld.global.v4.u32", "ld.v4.b32", "ld.global.nc.v4.u32",
        "ld.volatile.global.v4.u32" };
    unsigned i;
    if (gpuexec_driver_version() < 12030) SKIP("the driver reads PTX before 8.3 only");
    for (i = 0; i < 4; i++) {
        CHECK_OK(load_used_bytes("8.3", ".pragma \"used_bytes_mask 0xfff\";", loads[i]));
        CHECK_OK(load_used_bytes(
                "8.3", ".pragma \"nounroll\", \"used_bytes_mask 4095\";", loads[i]));
        CHECK_OK(load_used_bytes("8.3", ".pragma \"used_bytes_mask 0xfff\"; .loc 1 1 1", loads[i]));
    }
}

static void used_bytes_are_outside(const char *version, const char *before) {
    if (!on_cpu_device()) SKIP("a GPU does not find accesses so close to an allocation");
    if (gpuexec_driver_version() < 12030) SKIP("the driver reads PTX before 8.3 only");
    CHECK_RESULT(load_used_bytes(version, before, "ld.global.v4.u32"), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "(700)", "16-byte load");
}
TEST_ALONE(a_used_byte_of_a_load_is_outside) {
    used_bytes_are_outside("8.3", ".pragma \"used_bytes_mask 0x1fff\";");
}
TEST_ALONE(the_mask_of_used_bytes_is_for_the_next_instruction) {
    used_bytes_are_outside("8.3", ".pragma \"used_bytes_mask 0xfff\"; mov.u32 %r4, 0;");
}
TEST(old_ptx_has_no_mask_of_used_bytes) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    if (gpuexec_driver_version() < 12030) SKIP("an older driver ignores the pragma");
    CHECK_NOT_MADE(gpuexec_module_load(ctx,
                           ".version 8.2\n.target sm_70\n.address_size 64\n"
                           ".entry e() { .pragma \"used_bytes_mask 0xfff\"; ret; }\n",
                           0, NULL),
            GPUEXEC_BAD_IMAGE, "Feature 'used_bytes_mask' requires PTX ISA .version 8.3 or later");
}

/* One warp stores 8 words of each lane. */
static void check_old(const char *head, const char *code, const uint32_t (*want)[8]) {
    static const uint32_t zeros[32][8];
    setting s = set_up(UNIT_PTX, "count", 4);
    gpuexec_ptr to = to_device(&s, zeros, sizeof zeros);
    char text[2000];
    snprintf(text, sizeof text,
            "%s\n.address_size 64\n.entry f(.param .u64 to) {\n"
            "    .reg .u32 %%lane, %%a, %%b, %%c, %%d;\n    .reg .f32 %%x, %%y, %%z, %%w;\n"
            "    .reg .u64 %%to, %%at;\n    .reg .pred %%odd, %%low, %%p;\n"
            "    ld.param.u64 %%to, [to];\n    mov.u32 %%lane, %%tid.x;\n    mul.wide.u32 %%at, "
            "%%lane, 32;\n"
            "    add.u64 %%to, %%to, %%at;\n%s\n    exit;\n}\n",
            head, code);
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(gpuexec_module_load(s.ctx, text, 0, NULL), "f"),
            s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(to)));
    CHECK_DEVICE(&s, to, want, 32 * 8, sizeof want[0][0]);
}

/* Up to .target sm_13, operations of .f32 flush subnormal numbers, and mad has no rounding
   modifier. */
TEST(arithmetic_of_sm_13) {
    uint32_t want[32][8] = { { 0 } };
    int i;
    for (i = 0; i < 32; i++) {
        want[i][0] = 0x28800000; /* fused: 2^-46 */
        want[i][1] = 0x3f800000; /* saturated: 1 */
        want[i][4] = 0x80000000; /* -0, since 0x80000001 is subnormal */
    }
    check_old(".version 2.3\n.target sm_13",
            "    mov.f32 %x, 0f3F800001;\n    mov.f32 %y, 0fBF800002;\n    mad.f32 %z, %x, %x, "
            "%y;\n"
            "    st.global.f32 [%to], %z;\n    mov.f32 %y, 0f40000000;\n    mad.sat.f32 %z, %x, "
            "%y, %x;\n"
            "    st.global.f32 [%to+4], %z;\n    mov.f32 %x, 0f00000001;\n    mad.f32 %z, %x, %y, "
            "%x;\n"
            "    st.global.f32 [%to+8], %z;\n    add.f32 %z, %x, %x;\n    st.global.f32 [%to+12], "
            "%z;\n"
            "    mov.f32 %x, 0f80000001;\n    mul.f32 %z, %x, %y;\n    st.global.f32 [%to+16], %z;",
            (const uint32_t(*)[8])want);
}

/* Before PTX 6.0, shfl and vote had no member mask: the lanes that execute them take part. */
TEST(shuffles_and_votes_without_masks) {
    uint32_t want[32][8] = { { 0 } }, i;
    for (i = 16; i < 32; i++) {
        want[i][0] = i ^ 3;
        want[i][1] = 0xaaaa0000;
        want[i][2] = 0x40; /* any, not all */
        want[i][3] = i + 1 < 32 ? i + 1 : i;
        want[i][4] = i + 1 < 32;
    }
    check_old(".version 5.0\n.target sm_30",
            "    and.b32 %a, %lane, 1;\n    setp.ne.u32 %odd, %a, 0;\n    setp.lt.u32 %low, %lane, "
            "16;\n"
            "    @%low bra L;\n    shfl.bfly.b32 %b, %lane, 3, 31;\n    st.global.u32 [%to], %b;\n"
            "    vote.ballot.b32 %b, %odd;\n    st.global.u32 [%to+4], %b;\n    vote.any.pred %p, "
            "%odd;\n"
            "    selp.u32 %b, 0x40, 0, %p;\n    vote.all.pred %p, %odd;\n    @%p add.u32 %b, %b, "
            "1;\n"
            "    st.global.u32 [%to+8], %b;\n    shfl.down.b32 %b|%p, %lane, 1, 31;\n"
            "    selp.u32 %c, 1, 0, %p;\n    st.global.u32 [%to+12], %b;\n    st.global.u32 "
            "[%to+16], %c;\nL:",
            (const uint32_t(*)[8])want);
}
