/* clusters.c - thread block clusters: where a block is, and what blocks do with each other's shared
   memory. The kernels are in clusters.cu; the host computes every expected value. On the CPU device
   the kernels also run under SIMGPU_SCHEDULE, which runs the blocks, warps and lanes of a cluster
   in many orders, and wrong kernels are reported. Needs a GPU of compute capability 9.0. */
#include "../../test.h"

#define PTX "tests/device/unit/clusters.ptx"

static struct {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream s;
} gpu;

static int attribute(int which) {
    int value = 0;
    CHECK_EQ(calls_find().cuDeviceGetAttribute(&value, which, 0), 0);
    return value;
}

#define BEGIN() \
    do { \
        if (gpuexec_driver_version() < 12010) SKIP("the kernels need a driver of CUDA 12.1"); \
        if (!attribute(120)) \
            SKIP("this device has no clusters"); /* CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH */ \
        begin(); \
    } while (0)

static void begin(void) {
    gpu.ctx = gpuexec_context_open(0, NULL);
    gpu.mod = gpuexec_module_load_file(gpu.ctx, PTX, NULL);
    gpu.s = gpuexec_stream_create(gpu.ctx, NULL);
    CHECK_MADE(gpu.mod);
}

static gpuexec_ptr in(const void *host, size_t bytes) {
    gpuexec_ptr p = gpuexec_alloc(gpu.ctx, bytes);
    gpuexec_copy_in(gpu.s, p, host, bytes);
    return p;
}
static gpuexec_ptr filled(unsigned char value, size_t bytes) {
    gpuexec_ptr p = gpuexec_alloc(gpu.ctx, bytes);
    gpuexec_fill(gpu.s, p, value, 1, bytes);
    return p;
}
static void out(void *host, gpuexec_ptr p, size_t bytes) {
    gpuexec_copy_out(gpu.s, host, p, bytes);
    CHECK_OK(gpuexec_stream_sync(gpu.s));
    gpuexec_free(p);
}

/* with clusters of `x` blocks; 0: those of the kernel */
static gpuexec_launch_desc clusters_of(unsigned x) {
    gpuexec_launch_desc desc = { 0 };
    desc.cluster_x = x;
    desc.non_portable_cluster = x > 8;
    return desc;
}
#define LAUNCH(name, dims, desc, ...) \
    CHECK_OK(gpuexec_launch_with( \
            gpuexec_kernel_get(gpu.mod, name), gpu.s, dims, desc, GPUEXEC_ARGS(__VA_ARGS__)))

static const unsigned sizes[] = { 1, 2, 3, 4, 8 };
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 16, WORDS = 20 };

/* -------------------------------------------------------------------------------------------------
   Where a block is. */

static void check_ids(const char *kernel, gpuexec_dims dims, const gpuexec_launch_desc *desc,
        const unsigned c[3], unsigned is_explicit) {
    static unsigned got[64 * WORDS];
    const unsigned n[3] = { dims.grid_x, dims.grid_y, dims.grid_z }, blocks = n[0] * n[1] * n[2];
    gpuexec_ptr p = filled(0xee, sizeof got);
    unsigned id[3], i, k;
    gpuexec_kernel fn = gpuexec_kernel_get(gpu.mod, kernel);
    if (desc) CHECK_OK(gpuexec_launch_with(fn, gpu.s, dims, desc, GPUEXEC_ARGS(p)));
    else CHECK_OK(gpuexec_launch(fn, gpu.s, dims, GPUEXEC_ARGS(p)));
    out(got, p, sizeof got);
    for (i = 0; i < blocks; i++) {
        const unsigned *g = got + i * WORDS;
        id[0] = i % n[0];
        id[1] = i / n[0] % n[1];
        id[2] = i / n[0] / n[1];
        for (k = 0; k < 3; k++) {
            CHECK_EQ(g[k], id[k] / c[k]);
            CHECK_EQ(g[3 + k], n[k] / c[k]);
            CHECK_EQ(g[6 + k], id[k] % c[k]);
            CHECK_EQ(g[9 + k], c[k]);
            CHECK_EQ(g[15 + k], id[k]);
        }
        CHECK_EQ(g[12], id[0] % c[0] + c[0] * (id[1] % c[1] + c[1] * (id[2] % c[2])));
        CHECK_EQ(g[13], c[0] * c[1] * c[2]);
        CHECK_EQ(g[14], is_explicit);
        CHECK_EQ(g[18], n[0]);
        CHECK_EQ(g[19], n[1] * 1000 + n[2]);
    }
}

static gpuexec_dims grid_of(unsigned x, unsigned y, unsigned z, unsigned threads) {
    gpuexec_dims dims = { 0 };
    dims.grid_x = x;
    dims.grid_y = y;
    dims.grid_z = z;
    dims.block_x = threads;
    return dims;
}

TEST(ids_of_launches) {
    static const unsigned c[][3] = {
        { 1, 1, 1 },
        { 2, 1, 1 },
        { 4, 1, 1 },
        { 8, 1, 1 },
        { 1, 2, 1 },
        { 1, 1, 2 },
        { 2, 2, 1 },
        { 2, 2, 2 },
        { 1, 4, 2 },
        { 3, 1, 2 },
        { 1, 7, 1 },
    };
    static const unsigned none[3] = { 1, 1, 1 };
    unsigned i;
    BEGIN();
    for (i = 0; i < sizeof c / sizeof *c; i++) {
        gpuexec_launch_desc desc = { 0 };
        desc.cluster_x = c[i][0];
        desc.cluster_y = c[i][1];
        desc.cluster_z = c[i][2];
        check_ids("ids", grid_of(c[i][0], c[i][1], c[i][2], 1), &desc, c[i], 1);
        check_ids("ids", grid_of(2 * c[i][0], 2 * c[i][1], c[i][2], 40), &desc, c[i], 1);
        if (i < 8) check_ids("ids", grid_of(c[i][0], 3 * c[i][1], 2 * c[i][2], 32), &desc, c[i], 1);
    }
    check_ids("ids", grid_of(3, 2, 5, 64), NULL, none, 0);
}

TEST(ids_of_kernels) {
    static const unsigned one[3] = { 1, 1, 1 }, two[3] = { 2, 1, 1 }, four[3] = { 2, 2, 1 },
                          tall[3] = { 1, 2, 4 }, eight[3] = { 8, 1, 1 };
    gpuexec_launch_desc desc = { 0 }, same = { 0 };
    BEGIN();
    same.cluster_x = 2;
    desc.has_priority = 1; /* cuLaunchKernelEx without a cluster size */
    check_ids("ids_1", grid_of(3, 1, 1, 32), NULL, one, 1);
    check_ids("ids_2", grid_of(6, 3, 2, 32), NULL, two, 1);
    check_ids("ids_2", grid_of(6, 3, 2, 32), &desc, two, 1);
    check_ids("ids_2", grid_of(6, 3, 2, 32), &same, two, 1);
    check_ids("ids_2_2", grid_of(4, 6, 2, 33), NULL, four, 1);
    check_ids("ids_1_2_4", grid_of(3, 4, 4, 32), NULL, tall, 1);
    check_ids("ids_8", grid_of(16, 2, 1, 96), NULL, eight, 1);
}

/* -------------------------------------------------------------------------------------------------
   Data between blocks, for clusters of each size. */

static void ring(void) {
    enum { THREADS = 70 };
    static unsigned got[3 * MOST * THREADS];
    unsigned i, k, size, rounds;
    for (i = 0; i < SIZES; i++)
        for (rounds = 0; rounds < 6; rounds += 1 + i % 2) {
            gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
            gpuexec_ptr p = filled(0xee, sizeof got);
            LAUNCH("ring", gpuexec_grid(3 * size, THREADS, 0), &desc, p, rounds);
            out(got, p, sizeof got);
            for (k = 0; k < 3 * size * THREADS; k++) {
                const unsigned block = k / THREADS, first = block / size * size,
                               from = first + (block - first + rounds) % size;
                CHECK_EQ(got[k], from * 1000 + k % THREADS + rounds);
            }
        }
}

static void reduce(void) {
    enum { THREADS = 20, CLUSTERS = 2 }; /* few enough that not all bits are set */
    static unsigned numbers[CLUSTERS * MOST * THREADS];
    unsigned long long got[6 * CLUSTERS], want[6];
    unsigned seed = 5, i, k, c, size;
    for (k = 0; k < sizeof numbers / sizeof *numbers; k++) numbers[k] = test_random(&seed);
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr p = filled(0xee, sizeof got), from = in(numbers, sizeof numbers);
        LAUNCH("reduce", gpuexec_grid(CLUSTERS * size, THREADS, 0), &desc, from, p);
        out(got, p, sizeof got);
        for (c = 0; c < CLUSTERS; c++) {
            memset(want, 0, sizeof want);
            want[3] = ~0u;
            for (k = c * size * THREADS; k < (c + 1) * size * THREADS; k++) {
                want[0] += numbers[k];
                want[1] |= 1u << (numbers[k] & 31);
                if (numbers[k] > want[2]) want[2] = numbers[k];
                if (numbers[k] < want[3]) want[3] = numbers[k];
                want[4] = want[4] >= 99 ? 0 : want[4] + 1;
                want[5] += numbers[k] & 1023;
            }
            for (k = 0; k < 6; k++) CHECK_EQ(got[6 * c + k], want[k]);
        }
        gpuexec_free(from);
    }
}

static void histogram(void) {
    static unsigned numbers[5000], got[1000], want[1000];
    unsigned seed = 9, i, k, size, n = 5000, bins;
    for (k = 0; k < n; k++) numbers[k] = test_random(&seed);
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr from = in(numbers, sizeof numbers), p = filled(0, sizeof got);
        bins = 1000 - 7 * i;
        LAUNCH("histogram", gpuexec_grid(2 * size, 64, 4 * ((bins + size - 1) / size)), &desc, from,
                n, bins, p);
        out(got, p, sizeof got);
        memset(want, 0, sizeof want);
        for (k = 0; k < n; k++) want[numbers[k] % bins]++;
        for (k = 0; k < 1000; k++) CHECK_EQ(got[k], want[k]);
        gpuexec_free(from);
    }
}

static void phases(void) {
    enum { THREADS = 64, ROUNDS = 7 };
    static unsigned got[2 * 2 * MOST * THREADS];
    unsigned i, k, j, size, rounds = ROUNDS;
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr p = filled(0xee, sizeof got);
        LAUNCH("phases", gpuexec_grid(2 * size, THREADS, 0), &desc, p, rounds);
        out(got, p, sizeof got);
        for (k = 0; k < 2 * size * THREADS; k++) {
            const unsigned rank = k / THREADS % size;
            unsigned work = k % THREADS;
            for (j = 0; j < 3 * rank * ROUNDS; j++) work = work * 1664525u + 1013904223u;
            CHECK_EQ(got[2 * k], size * (size + 1) / 2 * (ROUNDS * (ROUNDS + 1) / 2));
            CHECK_EQ(got[2 * k + 1], work);
        }
    }
}

static void exchange(void) {
    static unsigned got[2 * MOST * MOST * 64];
    unsigned i, k, size;
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr p = filled(0xee, sizeof got);
        LAUNCH("exchange", gpuexec_grid(2 * size, 96, 0), &desc, p);
        out(got, p, sizeof got);
        for (k = 0; k < 2 * size * MOST * 64; k++) {
            const unsigned block = k / 64 / MOST, from = k / 64 % MOST, first = block / size * size;
            CHECK_EQ(got[k],
                    from < size ? ((first + from) * 100 + block - first) * 100 + k % 64
                                : 0xeeeeeeeeu);
        }
    }
}

static void matmul(void) {
    enum { N = 128 };
    static float a[N * N], b[N * N], c[N * N];
    static const unsigned parts[] = { 1, 2, 4, 8 };
    unsigned seed = 3, i, k, x, y;
    for (i = 0; i < N * N; i++) {
        a[i] = (float)(int)(test_random(&seed) % 17) - 8;
        b[i] = (float)(int)(test_random(&seed) % 17) - 8;
    }
    for (i = 0; i < 4; i++) {
        gpuexec_launch_desc desc = clusters_of(parts[i]);
        gpuexec_ptr pa = in(a, sizeof a), pb = in(b, sizeof b), pc = filled(0xee, sizeof c);
        gpuexec_dims dims = grid_of(N / 16, N / 16, 1, 16);
        unsigned n = N;
        dims.block_y = 16;
        LAUNCH("matmul", dims, &desc, pa, pb, pc, n);
        out(c, pc, sizeof c);
        for (y = 0; y < N; y += 5)
            for (x = 0; x < N; x++) {
                float sum = 0; /* exact: small integers */
                for (k = 0; k < N; k++) sum += a[y * N + k] * b[k * N + x];
                CHECK_EQ((int)c[y * N + x], (int)sum);
            }
        gpuexec_free(pa);
        gpuexec_free(pb);
    }
}

static void leavers(void) {
    static unsigned got[3 * 16];
    unsigned i, k, r, size, threads, total;
    for (i = 0; i < SIZES; i++)
        for (threads = 1; threads < 100; threads += 45) {
            gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
            gpuexec_ptr p = filled(0, sizeof got);
            LAUNCH("leavers", gpuexec_grid(3 * size, threads, 0), &desc, p);
            out(got, p, sizeof got);
            for (k = 0, total = 0; k < size; k++) {
                for (r = 0; r < size; r++)
                    total += (r + 1 > k ? (threads + 1) / 2 : 0) + (r > k ? threads / 2 : 0);
                for (r = 0; r < 3; r++) CHECK_EQ(got[16 * r + k], total);
            }
        }
}

static void addresses(void) {
    static unsigned got[2 * MOST * 16 * 8];
    unsigned i, b, r, size;
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr p = filled(0xee, sizeof got);
        LAUNCH("addresses", gpuexec_grid(2 * size, 32, 0), &desc, p);
        out(got, p, sizeof got);
        for (b = 0; b < 2 * size; b++)
            for (r = 0; r < size; r++) {
                const unsigned *g = got + (b * 16 + r) * 8;
                CHECK_EQ(g[0], r);
                CHECK_EQ(g[1], r);
                CHECK_EQ(g[2], r == b % size);
                CHECK_EQ(g[3], 1);
                CHECK_EQ(g[4], 0);
                CHECK_EQ(g[5], 1);
                CHECK_EQ(g[6], 1);
                CHECK_EQ(g[7], r);
            }
    }
}

static void arrivals(void) {
    enum { THREADS = 40 };
    static unsigned got[2 * MOST * THREADS];
    unsigned i, k, j, size;
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr p = filled(0xee, sizeof got);
        LAUNCH("arrivals", gpuexec_grid(2 * size, THREADS, 0), &desc, p);
        out(got, p, sizeof got);
        for (k = 0; k < 2 * size * THREADS; k++) {
            unsigned total = 0;
            for (j = 0; j < size; j++) total += 2 * 10 * (k / THREADS / size * size + j) + 1;
            CHECK_EQ(got[k], total);
        }
    }
}

static void async_stores(void) {
    static unsigned got[2 * MOST * 64];
    unsigned i, k, j, size;
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr p = filled(0xee, sizeof got);
        LAUNCH("async_stores", gpuexec_grid(2 * size, 64, 0), &desc, p);
        out(got, p, sizeof got);
        for (k = 0; k < 2 * size * 64; k++) {
            const unsigned block = k / 64, from = block / size * size + (block + size - 1) % size;
            unsigned hash = 7 + 63 * 64 / 2;
            for (j = 0; j < 4; j++) hash = hash * 31 + from * 1000 + k % 64 + j;
            CHECK_EQ(got[k], hash);
        }
    }
}

static void bulk(void) {
    static unsigned numbers[2 * 256], got[2 * MOST * 256];
    unsigned seed = 4, i, k, size;
    for (k = 0; k < 512; k++) numbers[k] = test_random(&seed);
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr from = in(numbers, sizeof numbers), p = filled(0xee, sizeof got);
        LAUNCH("bulk", gpuexec_grid(2 * size, 256, 0), &desc, from, p);
        out(got, p, sizeof got);
        for (k = 0; k < 2 * size * 256; k++) {
            const unsigned block = k / 256, rank = (block % size + size - 1) % size;
            CHECK_EQ(got[k], numbers[block / size * 256 + k % 256] * 2 + rank);
        }
        gpuexec_free(from);
    }
}

static void grid_and_cluster(void) {
    static unsigned got[2 * MOST];
    unsigned i, k, size;
    for (i = 0; i < SIZES; i++) {
        gpuexec_launch_desc desc = clusters_of(size = sizes[i]);
        gpuexec_ptr work = filled(0xee, sizeof got), p = filled(0xee, sizeof got);
        desc.cooperative = 1;
        LAUNCH("grid_and_cluster", gpuexec_grid(2 * size, 64, 0), &desc, work, p);
        out(got, p, sizeof got);
        for (k = 0; k < 2 * size; k++) CHECK_EQ(got[k], 64 * size * (2 * size + 1));
        gpuexec_free(work);
    }
}

/* clang-format off */
#define EACH(X) \
    X(ring) X(reduce) X(histogram) X(phases) X(exchange) X(matmul) X(leavers) X(addresses) \
    X(arrivals) \
    X(async_stores) X(bulk) X(grid_and_cluster)
/* clang-format on */
#define AS_TEST(name) \
    TEST(cluster_##name) { \
        BEGIN(); \
        name(); \
    }
EACH(AS_TEST)

/* More than 8 blocks need an opt-in, and may not fit on a device. */
TEST(sixteen_blocks) {
    enum { THREADS = 64 };
    static unsigned got[32 * THREADS];
    gpuexec_launch_desc desc = clusters_of(16);
    unsigned k, rounds = 5;
    gpuexec_ptr p;
    BEGIN();
    p = filled(0xee, sizeof got);
    if (gpuexec_launch_with(gpuexec_kernel_get(gpu.mod, "ring"), gpu.s,
                gpuexec_grid(32, THREADS, 0), &desc,
                GPUEXEC_ARGS(p, rounds)) == GPUEXEC_BAD_LAUNCH) {
        gpuexec_take_error();
        SKIP("this device has no room for clusters of 16 blocks");
    }
    out(got, p, sizeof got);
    for (k = 0; k < 32 * THREADS; k++)
        CHECK_EQ(got[k],
                (k / THREADS / 16 * 16 + (k / THREADS + rounds) % 16) * 1000 + k % THREADS +
                        rounds);
}

/* -------------------------------------------------------------------------------------------------
   The CPU device: other orders, and its reports. */

static void everything(void) {
    begin();
#define CALL(name) name();
    EACH(CALL)
}

/* In a test whose children start the library, so that it must not start it. */
static int plays_old_driver(void) {
    const char *version = getenv("SIMGPU_DRIVER_VERSION");
    return version && atoi(version) < 12010;
}

TEST_ALONE(in_other_orders) {
    char text[16];
    int seed;
    if (!on_cpu_device()) SKIP("a GPU has no schedules to choose");
    if (plays_old_driver()) SKIP("the kernels need a driver of CUDA 12.1");
    setenv("SIMGPU_LAZY", "1", 1);
    for (seed = 1; seed <= 6; seed++) {
        snprintf(text, sizeof text, "%d", seed);
        setenv("SIMGPU_SCHEDULE", text, 1);
        snprintf(text, sizeof text, "%d", seed % 3 == 0 ? 8 : seed % 3);
        setenv("SIMGPU_THREADS", text, 1);
        CHECK(run_child(everything));
    }
    unsetenv("SIMGPU_SCHEDULE");
    for (seed = 1; seed <= 8; seed += 7) {
        snprintf(text, sizeof text, "%d", seed);
        setenv("SIMGPU_THREADS", text, 1);
        CHECK(run_child(everything));
    }
}

static const char *wrong_kernel, *wanted_text;
static unsigned how;

static void wrong(void) {
    gpuexec_launch_desc desc = clusters_of(2);
    gpuexec_ptr p;
    begin();
    p = filled(0, 64);
    if (!strcmp(wrong_kernel, "stuck")) LAUNCH("stuck", gpuexec_grid(4, 64, 0), &desc, p);
    else LAUNCH("beyond", gpuexec_grid(2, 32, 0), &desc, p, how);
    CHECK(gpuexec_stream_sync(gpu.s) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), wanted_text);
    gpuexec_take_error();
}

TEST_ALONE(what_is_wrong_is_reported) {
    static const char *const texts[] = {
        "shared address of block 1 of the cluster, which has exited (4-byte load)",
        "shared address of block 2 of a cluster that has 2",
        "outside the 16 bytes of block 1 of the cluster",
        "shared address of block 1 of the cluster, without .shared::cluster"
    };
    static const char *const seeds[] = { "0", "1", "2" };
    unsigned seed;
    if (!on_cpu_device()) SKIP("a GPU does not say what is wrong");
    if (plays_old_driver()) SKIP("the kernels need a driver of CUDA 12.1");
    for (seed = 0; seed < 3; seed++) {
        setenv("SIMGPU_SCHEDULE", seeds[seed], 1);
        wrong_kernel = "stuck";
        wanted_text = "deadlock in block (";
        CHECK(run_child(wrong));
        wrong_kernel = "beyond";
        for (how = 0; how < 4; how++) {
            wanted_text = texts[how];
            CHECK(run_child(wrong));
        }
    }
}
