/* corpus.c - the kernels of tests/device/corpus, from the PTX that nvcc generates for sm_75 and for
   sm_90, against host references.
   Integer kernels, and floating-point kernels with only exact operations, are compared bit for bit.
   For .approx instructions and library functions, the comparison states the error bound, in units
   in the last place (ULP) of the host's result unless it says something else. STATUS in that folder
   says for each text whether the CPU device runs it (PASS) or refuses to load it (UNSUPPORTED, with
   a text that its log must contain). Both are checked here, so the table stays true. */
#include "../../test.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* -------------------------------------------------------------------------------------------------
   The kernel file under test: its module, memory and random numbers. */

static struct {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream stream;
    int sm;
    uint32_t seed;
    void *kept[256];
    int nkept;
} run;

static void *keep(size_t count, size_t size) {
    void *p = calloc(count ? count : 1, size);
    if (!p || run.nkept == 256) {
        printf("no memory\n");
        abort();
    }
    return run.kept[run.nkept++] = p;
}
#define NEW(type, count) ((type *)keep((size_t)(count), sizeof(type)))

static gpuexec_ptr in_bytes(const void *host, size_t bytes) {
    gpuexec_ptr p = gpuexec_alloc(run.ctx, bytes);
    gpuexec_copy_in(run.stream, p, host, bytes);
    return p;
}
static gpuexec_ptr filled(unsigned char value, size_t bytes) {
    gpuexec_ptr p = gpuexec_alloc(run.ctx, bytes);
    gpuexec_fill(run.stream, p, value, 1, bytes);
    return p;
}
static void *back_bytes(gpuexec_ptr p, size_t bytes) {
    void *host = keep(1, bytes);
    gpuexec_copy_out(run.stream, host, p, bytes);
    CHECK_OK(gpuexec_stream_sync(run.stream));
    return host;
}
/* a copy on the device */
#define IN(host, count) in_bytes(host, (size_t)(count) * sizeof *(host))
/* shows unwritten elements */
#define OUT(type, count) filled(0xee, (size_t)(count) * sizeof(type))
#define ZEROS(type, count) filled(0, (size_t)(count) * sizeof(type))
#define BACK(type, p, count) ((type *)back_bytes(p, (size_t)(count) * sizeof(type)))
#define GRID(blocks, threads) gpuexec_grid((unsigned)(blocks), (unsigned)(threads), 0)
#define LAUNCH(name, dims, ...) \
    CHECK_OK(gpuexec_launch( \
            gpuexec_kernel_get(run.mod, name), run.stream, dims, GPUEXEC_ARGS(__VA_ARGS__)))

static uint32_t rnd(void) { return test_random(&run.seed); }
static int below(int n) { return (int)(rnd() % (uint32_t)n); }
static float between(float lo, float hi) {
    return lo + (hi - lo) * ((float)(rnd() >> 8) * 0x1p-24f);
}

static double between_d(double lo, double hi) {
    return lo + (hi - lo) * ((double)rnd() * 0x1p-32 + (double)rnd() * 0x1p-64);
}

static uint64_t rnd64(void) {
    uint64_t hi = rnd();
    return hi << 32 | rnd();
}

static uint32_t bits_of(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}

static int fail_at(int line, const char *what, long long index) {
    if (!test_fail_at(__FILE__, line)) return 0;
    printf("sm_%d: %s, index %lld: ", run.sm, what, index);
    return 1;
}
static void eq_at(int line, const char *what, long long index, uint64_t got, uint64_t wanted) {
    if (got != wanted && fail_at(line, what, index))
        printf("0x%llx (%lld), not 0x%llx (%lld)\n", (unsigned long long)got, (long long)got,
                (unsigned long long)wanted, (long long)wanted);
}
static void same_at(int line, const char *what, long long index, double got, double wanted) {
    int ok = isnan(wanted) ? isnan(got) : got == wanted && !signbit(got) == !signbit(wanted);
    if (!ok && fail_at(line, what, index))
        printf("%.17g (%a), not %.17g (%a)\n", got, got, wanted, wanted);
}
static void near_at(int line, const char *what, long long index, long double got,
        long double wanted, double bound, int mantissa) {
    int exponent = 0;
    long double error;
    if (isnan(wanted) || isinf(wanted) || isnan(got) || isinf(got)) {
        same_at(line, what, index, (double)got, (double)wanted);
        return;
    }
    frexpl(wanted, &exponent);
    if (exponent < (mantissa == 24 ? -125 : -1021)) exponent = mantissa == 24 ? -125 : -1021;
    error = fabsl(got - wanted) / ldexpl(1.0L, exponent - mantissa);
    if (!(error <= (long double)bound) && fail_at(line, what, index))
        printf("%.17Lg is %.2Lf ULP from %.17Lg; the bound is %g\n", got, error, wanted, bound);
}
static void within_at(
        int line, const char *what, long long index, double got, double wanted, double bound) {
    if (!(fabs(got - wanted) <= bound) && fail_at(line, what, index))
        printf("%.9g is %.3g from %.9g; the bound is %.3g\n", got, fabs(got - wanted), wanted,
                bound);
}
/* integers */
#define EQ(i, got, wanted) \
    eq_at(__LINE__, #got, (long long)(i), (uint64_t)(got), (uint64_t)(wanted))
/* floats: all bits, except those of a NaN */
#define SAME(i, got, wanted) same_at(__LINE__, #got, (long long)(i), got, wanted)
#define NEAR(i, got, wanted, ulp) \
    near_at(__LINE__, #got, (long long)(i), (long double)(got), (long double)(wanted), ulp, 24)
#define WITHIN(i, got, wanted, bound) \
    within_at(__LINE__, #got, (long long)(i), (double)(got), (double)(wanted), bound)

/* -------------------------------------------------------------------------------------------------
   The table of supported texts, and the two tests of each kernel file. */

/* A kernel's line in the table: its state for sm_75 and sm_90, and the reason. Returns 0 if there
   is none. */
typedef struct status {
    char name[64], state[2][16], reason[128];
} status;
static int read_status(FILE *file, status *s) {
    char line[400];
    while (fgets(line, sizeof line, file)) {
        memset(s, 0, sizeof *s);
        if (line[0] == '#' ||
                sscanf(line, "%63s %15s %15s %127[^\n]", s->name, s->state[0], s->state[1],
                        s->reason) < 3)
            continue;
        return 1;
    }
    return 0;
}

static const char *corpus_names[128];
static int corpus_count;

/* links: to the device runtime. */
static void judge(const char *name, int sm, void (*reference)(void), int links) {
    char path[128];
    gpuexec_device_info info;
    FILE *file = fopen("tests/device/corpus/STATUS", "r");
    status s;
    const char *state;
    int found = 0;
    if (!CHECK(file != NULL)) return;
    while (!found && read_status(file, &s)) found = !strcmp(s.name, name);
    fclose(file);
    if (!found) {
        CHECK(0 && "a line in tests/device/corpus/STATUS");
        return;
    }
    state = s.state[sm == 90];
    snprintf(path, sizeof path, "tests/device/corpus/ptx/%s.sm_%d.ptx", name, sm);
    if (!strcmp(state, "-")) SKIP("nvcc does not compile it to PTX for this architecture");
    memset(&run, 0, sizeof run);
    run.sm = sm;
    run.seed = 12345;
    run.ctx = gpuexec_context_open(0, NULL);
    if (!CHECK_MADE(run.ctx) || !CHECK_OK(gpuexec_device_get_info(0, &info))) return;
    if (info.compute_capability < sm) SKIP("the device is older than the text's architecture");
    if (links) {
        gpuexec_linker linker = gpuexec_linker_create(run.ctx, NULL);
        gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, path);
        run.mod = gpuexec_linker_load(linker);
    } else run.mod = gpuexec_module_load_file(run.ctx, path, NULL);
    if (!gpuexec_ok(run.mod) && gpuexec_error_detail()->driver_result == 222)
        SKIP("the text's .version is above the driver's");
    if (!strcmp(state, "UNSUPPORTED")) {
        char instruction[128] = "";
        if (!on_cpu_device()) SKIP("not supported by the CPU device; nothing to test on a GPU");
        sscanf(s.reason, "%127[^:]", instruction);
        CHECK(!gpuexec_ok(run.mod));
        CHECK_TEXT(
                gpuexec_why(run.mod), "line ", "is not supported by this CPU device", instruction);
        return;
    }
    CHECK_STRING(state, "PASS");
    run.stream = gpuexec_stream_create(run.ctx, NULL);
    if (CHECK_MADE(run.mod) && reference) reference();
    while (run.nkept) free(run.kept[--run.nkept]);
}

#define CORPUS_AS(kind, name, links) \
    static void reference_##name(void); \
    kind(name##_sm_75) { judge(#name, 75, reference_##name, links); } \
    kind(name##_sm_90) { judge(#name, 90, reference_##name, links); } \
    __attribute__((constructor)) static void corpus_register_##name(void) { \
        corpus_names[corpus_count++] = #name; \
    } \
    static void reference_##name(void)
#define CORPUS(name) CORPUS_AS(TEST, name, 0)
#define CORPUS_ALONE(name) CORPUS_AS(TEST_ALONE, name, 0) /* it breaks CUDA in its process */
#define CORPUS_LINKED(name) CORPUS_AS(TEST, name, 1)
#define CORPUS_REFUSED(name) \
    CORPUS_AS(TEST, name, 0) { CHECK(0 && "a host reference: the CPU device can run it now"); }

/* Every text has a line, and every line has its texts and its tests. */
TEST(status_is_complete) {
    FILE *file = fopen("tests/device/corpus/STATUS", "r");
    DIR *dir = opendir("tests/device/corpus/ptx");
    struct dirent *entry;
    status s;
    int lines = 0, texts = 0, files = 0, i;
    if (!CHECK(file != NULL) || !CHECK(dir != NULL)) return;
    while (read_status(file, &s)) {
        int known = 0, sm;
        for (i = 0; i < corpus_count; i++) known |= !strcmp(corpus_names[i], s.name);
        if (!known && test_fail_at(__FILE__, __LINE__))
            printf("STATUS has a line for %s, which no test runs\n", s.name);
        for (sm = 75; sm <= 90; sm += 15) {
            const char *state = s.state[sm == 90];
            char path[128];
            int there;
            snprintf(path, sizeof path, "tests/device/corpus/ptx/%s.sm_%d.ptx", s.name, sm);
            there = access(path, R_OK) == 0;
            if (there == !strcmp(state, "-") && test_fail_at(__FILE__, __LINE__))
                printf("%s is %s, but STATUS says %s\n", path, there ? "there" : "not there",
                        state);
            if (!strcmp(state, "UNSUPPORTED") && !s.reason[0] && test_fail_at(__FILE__, __LINE__))
                printf("STATUS gives no reason for %s\n", s.name);
            texts += there;
        }
        lines++;
    }
    while ((entry = readdir(dir))) files += strstr(entry->d_name, ".ptx") != NULL;
    CHECK_EQ(lines, corpus_count);
    CHECK_EQ(texts, files);
    fclose(file);
    closedir(dir);
}

/* -------------------------------------------------------------------------------------------------
   Common first kernels. */

CORPUS(vector_add) {
    int n = 1000, i;
    float *a = NEW(float, n), *b = NEW(float, n), *c;
    gpuexec_ptr da, db, dc;
    for (i = 0; i < n; i++) {
        a[i] = between(-9, 9);
        b[i] = between(-9, 9);
    }
    da = IN(a, n);
    db = IN(b, n);
    dc = OUT(float, n);
    LAUNCH("vecadd", gpuexec_grid_for((size_t)n, 256), da, db, dc, n);
    c = BACK(float, dc, n);
    for (i = 0; i < n; i++) SAME(i, c[i], a[i] + b[i]);
}

CORPUS(saxpy) {
    int n = 1500, i;
    float a = 1.7f, *x = NEW(float, n), *y = NEW(float, n), *z;
    double da = -0.3, *dx = NEW(double, n), *dy = NEW(double, n), *dz;
    gpuexec_ptr px, py, qx, qy;
    for (i = 0; i < n; i++) {
        x[i] = between(-9, 9);
        y[i] = between(-9, 9);
        dx[i] = between_d(-9, 9);
        dy[i] = between_d(-9, 9);
    }
    px = IN(x, n);
    py = IN(y, n);
    qx = IN(dx, n);
    qy = IN(dy, n);
    LAUNCH("saxpy", GRID(3, 128), a, px, py, n);
    LAUNCH("daxpy", GRID(3, 128), da, qx, qy, n);
    z = BACK(float, py, n);
    dz = BACK(double, qy, n);
    for (i = 0; i < n; i++) {
        SAME(i, z[i], a * x[i] + y[i]);
        SAME(i, dz[i], da * dx[i] + dy[i]);
    }
}

/* whole numbers: their float sums are exact in any order */
CORPUS(reduce) {
    int n = 5000, i, *y = NEW(int, n), *part, blocks = 4, sum[4] = { 0, 0, 0, 0 };
    float *x = NEW(float, n), total = 0;
    gpuexec_ptr dx, dy, out, parts;
    for (i = 0; i < n; i++) {
        x[i] = (float)below(100);
        total += x[i];
        y[i] = below(2000000) - 1000000;
        sum[i / 224 % 4] += y[i];
    }
    dx = IN(x, n);
    dy = IN(y, n);
    out = ZEROS(float, 1);
    parts = OUT(int, 4);
    LAUNCH("reduce", gpuexec_grid(5, 256, 1024), dx, out, n);
    LAUNCH("reduce_warp", GRID(blocks, 224), dy, parts, n);
    SAME(0, *BACK(float, out, 1), total);
    part = BACK(int, parts, 4);
    for (i = 0; i < 4; i++) EQ(i, part[i], sum[i]);
}

CORPUS(matmul) {
    int m = 37, n = 45, k = 29, i, j, l;
    float *a = NEW(float, 64 * 64), *b = NEW(float, 64 * 128), *c;
    gpuexec_ptr da, db, dc;
    gpuexec_dims d = gpuexec_grid_for_2d(45, 37, 16, 16);
    for (i = 0; i < 64 * 64; i++) a[i] = between(-1, 1);
    for (i = 0; i < 64 * 128; i++) b[i] = between(-1, 1);
    da = IN(a, 64 * 64);
    db = IN(b, 64 * 128);
    dc = OUT(float, 64 * 128);
    LAUNCH("matmul", d, da, db, dc, m, n, k);
    c = BACK(float, dc, m *n);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            float s = 0;
            for (l = 0; l < 32; l++) s += l < k ? a[i * k + l] * b[l * n + j] : 0.0f;
            SAME(i * n + j, c[i * n + j], s);
        }
    n = 128;
    k = 64;
    d = GRID(2, 256);
    LAUNCH("sgemm", d, da, db, dc, n, k);
    c = BACK(float, dc, 64 * n);
    for (i = 0; i < 64; i++)
        for (j = 0; j < n; j++) {
            float s = 0;
            for (l = 0; l < k; l++) s = fmaf(a[i * k + l], b[l * n + j], s);
            SAME(i * n + j, c[i * n + j], s);
        }
}

CORPUS(histogram) {
    int n = 10000, i, t;
    unsigned char *d = NEW(unsigned char, n);
    unsigned want[256] = { 0 }, *h, u[2] = { 3, 5 };
    int p[8] = { 100, -1, 50, 3, -1, 0, 0x55, 5 }, *o, *q;
    unsigned long long big[4] = { 7, 1, 0, 30 }, *b;
    float f[2] = { 0.5f, 0 }, *g;
    double e = 0.25;
    gpuexec_ptr dd, dh, dp, du, dq, df, de, dout;
    for (i = 0; i < n; i++) want[d[i] = (unsigned char)(below(16) * below(17))]++;
    dd = IN(d, n);
    dh = ZEROS(unsigned, 256);
    LAUNCH("hist", GRID(4, 192), dd, dh, n);
    h = BACK(unsigned, dh, 256);
    for (i = 0; i < 256; i++) EQ(i, h[i], want[i]);
    dp = IN(p, 8);
    du = IN(u, 2);
    dq = IN(big, 4);
    df = IN(f, 2);
    de = IN(&e, 1);
    dout = OUT(int, 1);
    LAUNCH("atomics", GRID(1, 1), dp, du, dq, df, de, dout); /* one thread: its order is fixed */
    o = BACK(int, dout, 1);
    q = BACK(int, dp, 8);
    EQ(0, o[0], 100 - 1 + 50 + 3 - 1 + 0 + 0x55 + 5 + 3 + 5);
    for (t = 0; t < 8; t++) {
        static const int after[8] = { 100, 0, 0, 3, 0, 0, 0x55, 5 };
        EQ(t, q[t], after[t]);
    }
    dout = OUT(int, 64);
    dp = IN(p, 8);
    du = IN(u, 2);
    dq = IN(big, 4);
    df = IN(f, 2);
    de = IN(&e, 1);
    LAUNCH("atomics", GRID(1, 64), dp, du, dq, df, de, dout);
    q = BACK(int, dp, 8);
    h = BACK(unsigned, du, 2);
    b = BACK(unsigned long long, dq, 4);
    g = BACK(float, df, 2);
    EQ(0, q[0], 100 - 63 * 32);
    EQ(2, q[2], 0);
    EQ(3, q[3], 63);
    EQ(4, q[4], 0);
    EQ(5, q[5], 63);
    EQ(6, q[6], 0x55);
    EQ(0, h[0], (3 + 64) % 8);
    EQ(1, h[1], 5); /* of 64 steps down from 5, eight by eight */
    EQ(0, b[0], 71);
    EQ(1, b[1], 2);
    EQ(2, b[2], 5);
    EQ(3, b[3], 9);
    SAME(0, g[0], 64.5f);
    SAME(1, g[1], 2.0f);
    SAME(0, *BACK(double, de, 1), 64.25);
}

CORPUS(transpose) {
    int w = 70, h = 45, x, y;
    float *a = NEW(float, w *h), *b;
    gpuexec_ptr in, out;
    gpuexec_dims d = { 3, 2, 1, 32, 8, 1, 0 };
    for (x = 0; x < w * h; x++) a[x] = (float)x;
    in = IN(a, w * h);
    out = OUT(float, w *h);
    LAUNCH("transpose", d, in, out, w, h);
    b = BACK(float, out, w *h);
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) SAME(y * w + x, b[x * h + y], a[y * w + x]);
}

CORPUS(stencil) {
    int w = 50, h = 37, nx = 20, ny = 18, nz = 12, x, y, z, n = nx * ny * nz;
    float *a = NEW(float, n), *b;
    gpuexec_ptr in, out;
    gpuexec_dims d = gpuexec_with_shared(gpuexec_grid_for_2d(50, 37, 16, 8), 18 * 10 * 4),
                 e = gpuexec_grid_for_2d(20, 18, 8, 8);
    for (x = 0; x < n; x++) a[x] = between(-1, 1);
    in = IN(a, n);
    out = OUT(float, n);
    LAUNCH("stencil2d", d, in, out, w, h);
    b = BACK(float, out, w *h);
#define AT2(x, y) \
    a[((y) < 0 ? 0 : (y) >= h ? h - 1 : (y)) * w + ((x) < 0 ? 0 : (x) >= w ? w - 1 : (x))]
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++)
            SAME(y * w + x, b[y * w + x],
                    0.5f * AT2(x, y) +
                            0.125f *
                                    (AT2(x - 1, y) + AT2(x + 1, y) + AT2(x, y - 1) +
                                            AT2(x, y + 1)));
    LAUNCH("stencil3d", e, in, out, nx, ny, nz);
    b = BACK(float, out, n);
    for (z = 1; z < nz - 1; z++)
        for (y = 1; y < ny - 1; y++)
            for (x = 1; x < nx - 1; x++) {
                int i = (z * ny + y) * nx + x;
                SAME(i, b[i],
                        a[i] +
                                0.1f *
                                        (a[i - nx * ny] + a[i + nx * ny] + a[i - 1] + a[i + 1] +
                                                a[i - nx] + a[i + nx] - 6.0f * a[i]));
            }
}

/* -------------------------------------------------------------------------------------------------
   Cooperation of blocks, warps and grids. */

CORPUS(grid_sync) {
    int n = 300, iterations = 7, i, k;
    unsigned m = 1000, total = 0, *x = NEW(unsigned, m), *o;
    float *a = NEW(float, n), *b = NEW(float, n), *c;
    gpuexec_ptr da, db, dx, part, out;
    for (i = 0; i < n; i++) a[i] = between(0, 100);
    for (i = 0; i < (int)m; i++) total += x[i] = rnd();
    da = IN(a, n);
    db = IN(a, n);
    dx = IN(x, m);
    part = OUT(unsigned, 4);
    out = OUT(unsigned, 4 * 64);
    CHECK_OK(gpuexec_launch_cooperative(gpuexec_kernel_get(run.mod, "gridsync"), run.stream,
            GRID(4, 64), GPUEXEC_ARGS(da, db, n, iterations)));
    CHECK_OK(gpuexec_launch_cooperative(gpuexec_kernel_get(run.mod, "grid_total"), run.stream,
            GRID(4, 64), GPUEXEC_ARGS(dx, part, out, m)));
    for (k = 0; k < iterations; k++) {
        for (i = 0; i < n; i++) b[i] = 0.5f * (a[i ? i - 1 : 0] + a[i < n - 1 ? i + 1 : i]);
        c = a;
        a = b;
        b = c;
    }
    c = BACK(float, db, n); /* after an odd number of steps */
    for (i = 0; i < n; i++) SAME(i, c[i], a[i]);
    o = BACK(unsigned, out, 256);
    for (i = 0; i < 256; i++) EQ(i, o[i], total);
}

CORPUS(system_atomics) {
    volatile unsigned *flag = (volatile unsigned *)gpuexec_alloc_pinned(run.ctx, 4);
    int one[3] = { 0, 0, 0 };
    gpuexec_ptr p = IN(one, 3), f, p1 = p + 4, p2 = p + 8;
    double end = test_seconds() + 20;
    if (!CHECK(flag != NULL)) return;
    f = gpuexec_pinned_address((void *)(uintptr_t)flag);
    gpuexec_kernel_get(run.mod, "spin"); /* no module may be loaded while the handshake spins */
    gpuexec_kernel_get(run.mod, "locked_count");
    gpuexec_kernel_get(run.mod, "devatom");
    CHECK_OK(gpuexec_stream_sync(run.stream));
    *flag = 0;
    LAUNCH("sysatom", GRID(1, 1), p, f);
    while (*flag != 1 && test_seconds() < end) {}
    CHECK_EQ(*flag, 1);
    *flag = 2;
    CHECK_EQ(*BACK(int, p, 1), 1);
    CHECK_EQ(*flag, 3);
    LAUNCH("spin", GRID(4, 96), p1, p2);
    EQ(0, BACK(int, p, 3)[2], 4 * 96);
    EQ(0, BACK(int, p, 3)[1], 0);
    p = IN(one, 3);
    p1 = p + 4;
    p2 = p + 8;
    LAUNCH("locked_count", GRID(3, 64), p, p1, p2);
    EQ(0, BACK(int, p, 3)[0], 0);
    EQ(1, BACK(int, p, 3)[1], 192);
    EQ(2, BACK(int, p, 3)[2], 3 * 192);
    one[0] = -1; /* makes the sum 0, and the lock free */
    p = IN(one, 1);
    LAUNCH("devatom", GRID(1, 1), p);
    EQ(0, *BACK(int, p, 1), 1);
    CHECK_OK(gpuexec_free_pinned((void *)(uintptr_t)flag));
}

CORPUS(locks) {
    unsigned zero[3] = { 0, 0, 0 }, *u;
    int state[2] = { 0, 0 }, n = 4000, i, k, *list, *x = NEW(int, n), want = 0, *m;
    gpuexec_ptr d = IN(zero, 3), d1 = d + 4, d2 = d + 8, s = IN(state, 2), s1 = s + 4,
                l = OUT(int, 8 * 32), dx, part, out, message, flag;
    LAUNCH("ticket_lock", GRID(3, 50), d, d1, d2);
    u = BACK(unsigned, d, 3);
    EQ(0, u[0], 150);
    EQ(1, u[1], 150);
    EQ(2, u[2], 149 * 150 / 2);
    LAUNCH("block_lock", GRID(8, 32), s, l, s1);
    list = BACK(int, l, 256);
    EQ(0, BACK(int, s, 2)[1], 256);
    for (i = 0; i < 8; i++) {
        for (k = 0; k < 32; k++) EQ(i * 32 + k, list[i * 32 + k], list[i * 32]);
        want |= 1 << list[i * 32];
    }
    EQ(0, want, 255);
    for (i = want = 0; i < n; i++) want += x[i] = below(1000) - 500;
    dx = IN(x, n);
    part = OUT(int, 6);
    out = OUT(int, 2);
    for (i = 0; i < 2; i++) {
        LAUNCH("last_block", GRID(6, 256), dx, part, out, n);
        EQ(i, *BACK(int, out, 1), want);
    }
    message = OUT(int, 12 * 32);
    flag = ZEROS(int, 12);
    LAUNCH("pass_on", GRID(12, 32), message, flag);
    m = BACK(int, message, 12 * 32);
    for (i = 0; i < 12; i++)
        for (k = 0; k < 32; k++) EQ(i * 32 + k, m[i * 32 + k], (i + 1) * k + i * (i + 1) / 2);
}

CORPUS(cp_async) {
    int n = 300, i, k, total, *x = NEW(int, n), *o;
    float *a = NEW(float, 2048), *b;
    gpuexec_ptr da, out, dx, dout;
    for (i = 0; i < 2048; i++) a[i] = between(-1, 1);
    for (i = 0; i < n; i++) x[i] = (int)rnd() >> 4;
    da = IN(a, 2048);
    out = OUT(float, 2048);
    dx = IN(x, n);
    dout = OUT(int, 64);
    LAUNCH("cpa", GRID(2, 256), da, out);
    b = BACK(float, out, 2048);
    for (i = 0; i < 2048; i++) SAME(i, b[i], a[i / 1024 * 1024 + (255 - i % 1024 / 4) * 4 + i % 4]);
    LAUNCH("cpcg", GRID(2, 256), da, out);
    b = BACK(float, out, 512);
    for (i = 0; i < 512; i++) SAME(i, b[i], a[i / 256 * 256 + 255 - i % 256]);
    LAUNCH("stages", GRID(1, 64), dx, dout, n);
    o = BACK(int, dout, 64);
    total = (n + 63) / 64;
    for (i = 0; i < 64; i++) {
        uint32_t sum = 0;
        for (k = 0; k < total; k++)
            sum += (k * 64 + 63 - i < n ? (uint32_t)x[k * 64 + 63 - i] : 0) * (uint32_t)(k + 1);
        EQ(i, (uint32_t)o[i], sum);
    }
}

CORPUS(barriers) {
    int i, k, v[128], w[128], batches = 5, *x = NEW(int, 1024), *o;
    gpuexec_ptr dx, out;
    for (i = 0; i < 1024; i++) x[i] = below(1000);
    dx = IN(x, 1024);
    out = OUT(int, 1024);
    LAUNCH("block_barrier", GRID(2, 128), dx, out);
    o = BACK(int, out, 256);
    memcpy(v, x, sizeof v);
    for (k = 0; k < 5; k++) {
        for (i = 0; i < 128; i++) w[i] = v[(i + 1) % 128] + k * i;
        memcpy(v, w, sizeof v);
    }
    for (i = 0; i < 128; i++) EQ(i, o[i], v[i]);
    LAUNCH("async_barrier", GRID(3, 64), dx, out);
    o = BACK(int, out, 768);
    for (i = 0; i < 768; i++) EQ(i, o[i], x[i / 256 * 256 + (63 - i % 256 / 4) * 4 + i % 4]);
    LAUNCH("pipeline", GRID(1, 128), dx, out, batches);
    o = BACK(int, out, 128);
    for (i = 0; i < 128; i++) {
        int sum = 0;
        for (k = 0; k < batches; k++) sum += x[k * 128 + 127 - i] ^ k;
        EQ(i, o[i], sum);
    }
    LAUNCH("sync_votes", GRID(1, 100), dx, out);
    o = BACK(int, out, 100);
    for (i = k = v[0] = 0, v[1] = 1; i < 100; i++) {
        k += x[i] & 1;
        v[0] |= x[i] > 990;
        v[1] &= x[i] > 0;
    }
    for (i = 0; i < 100; i++) EQ(i, o[i], k * 4 + v[1] * 2 + v[0]);
}

CORPUS(scan) {
    int n = 2048, i, *x = NEW(int, n), *y, sum = 0;
    unsigned char *head = NEW(unsigned char, n);
    gpuexec_ptr dx, dy, dh, state = ZEROS(uint64_t, 16), ticket = ZEROS(unsigned, 1);
    for (i = 0; i < n; i++) {
        x[i] = below(200) - 100;
        head[i] = below(7) == 0;
    }
    dx = IN(x, n);
    dy = OUT(int, n);
    dh = IN(head, n);
    LAUNCH("scan", GRID(8, 256), dx, dy);
    y = BACK(int, dy, n);
    for (i = 0; i < n; i++) {
        sum = (i % 256 ? sum : 0) + x[i];
        EQ(i, y[i], sum);
    }
    LAUNCH("scan_segments", GRID(8, 256), dx, dh, dy);
    y = BACK(int, dy, n);
    for (i = 0; i < n; i++) {
        sum = (i % 32 && !head[i] ? sum : 0) + x[i];
        EQ(i, y[i], sum);
    }
    LAUNCH("scan_look_back", GRID(16, 128), dx, dy, state, ticket);
    y = BACK(int, dy, n);
    for (i = sum = 0; i < n; i++) {
        sum += x[i];
        EQ(i, y[i], sum);
    }
}

CORPUS(bulk_copy) {
    int i, x[256], *o;
    gpuexec_ptr dx, out = OUT(int, 512);
    for (i = 0; i < 256; i++) x[i] = (int)(rnd() >> 1);
    dx = IN(x, 256);
    LAUNCH("bulk", GRID(2, 256), dx, out);
    o = BACK(int, out, 256);
    for (i = 0; i < 256; i++) EQ(i, o[i], x[i]);
    LAUNCH("bulk_back", GRID(2, 256), out);
    o = BACK(int, out, 512);
    for (i = 0; i < 512; i++) EQ(i, o[i], i % 256 * (i % 256) + i / 256);
}

CORPUS(alloca) {
    int n = 13, i, sum = 0, *o;
    gpuexec_ptr out = OUT(int, 64);
    LAUNCH("scratch", GRID(1, 64), n, out);
    o = BACK(int, out, 64);
    for (i = 0; i < n; i++) sum += i * 7 % n * n;
    for (i = 0; i < 64; i++) EQ(i, o[i], sum);
}
CORPUS(cluster) {
    int i, *o;
    gpuexec_ptr out = OUT(int, 6 * 50);
    LAUNCH("neighbours", GRID(6, 50), out);
    o = BACK(int, out, 6 * 50);
    for (i = 0; i < 6 * 50; i++) EQ(i, o[i], i / 50 ^ 1);
}

static int by_key(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}
static int by_value(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

CORPUS(sort) {
    int n = 1024, i;
    uint32_t *k = NEW(uint32_t, n), *v = NEW(uint32_t, n), *r = NEW(uint32_t, n), *s, *w;
    gpuexec_ptr dk, dv, dr;
    for (i = 0; i < n; i++) {
        k[i] = rnd();
        v[i] = k[i] * 7;
        r[i] = i % 5 ? rnd() : rnd() % 3;
    }
    dk = IN(k, n);
    dv = IN(v, n);
    dr = IN(r, n);
    LAUNCH("bitonic", GRID(2, 256), dk, dv);
    LAUNCH("radix", GRID(4, 256), dr);
    for (i = 0; i < 2; i++) qsort(k + 512 * i, 512, 4, by_key);
    for (i = 0; i < 4; i++) qsort(r + 256 * i, 256, 4, by_key);
    s = BACK(uint32_t, dk, n);
    v = BACK(uint32_t, dv, n);
    w = BACK(uint32_t, dr, n);
    for (i = 0; i < n; i++) {
        EQ(i, s[i], k[i]);
        EQ(i, v[i], k[i] * 7);
        EQ(i, w[i], r[i]);
    }
}

CORPUS(cub) {
    int n = 1024, i, b, *x = NEW(int, n), *k, *s, *t, sum = 0;
    gpuexec_ptr dx, dk, ds, dt;
    for (i = 0; i < n; i++) x[i] = below(2000) - 1000;
    dx = IN(x, n);
    dk = OUT(int, n);
    ds = OUT(int, n);
    dt = OUT(int, 2);
    LAUNCH("cub_sort", GRID(2, 128), dx, dk, ds, dt);
    k = BACK(int, dk, n);
    s = BACK(int, ds, n);
    t = BACK(int, dt, 2);
    for (b = 0; b < 2; b++) {
        qsort(x + 512 * b, 512, sizeof *x, by_value);
        for (i = 512 * b, sum = 0; i < 512 * b + 512; i++) {
            EQ(i, k[i], x[i]);
            EQ(i, s[i], sum);
            sum += x[i];
        }
        EQ(b, t[b], sum);
    }
}

CORPUS(groups) {
    int n = 256, i, l, *x = NEW(int, n), *o, want;
    gpuexec_ptr dx, out = OUT(int, 8 * 256), counter = ZEROS(int, 1);
    for (i = 0; i < n; i++) x[i] = below(1000);
    dx = IN(x, n);
    LAUNCH("tiles", GRID(2, 128), dx, out, n);
    o = BACK(int, out, 8 * n);
    for (i = 0; i < n; i++) {
        int w = i & ~31, e = i & ~7, sum = 0, low = INT_MAX, upto = 0, before = 0, any = 0, all = 1;
        for (l = w; l < w + 32; l++) {
            sum += x[l];
            upto += l <= i ? x[l] : 0;
        }
        for (l = e; l < e + 8; l++) {
            low = x[l] < low ? x[l] : low;
            before += l < i ? x[l] : 0;
            any |= x[l] > 900;
            all &= x[l] > 10;
        }
        EQ(i, o[0 * n + i], sum);
        EQ(i, o[1 * n + i], low);
        EQ(i, o[2 * n + i], upto);
        EQ(i, o[3 * n + i], before);
        EQ(i, o[4 * n + i], x[e + 7 - i % 8]);
        EQ(i, o[5 * n + i], i % 4 * 100 + 4);
        EQ(i, o[6 * n + i], i % 32 / 8 * 100 + 4);
        EQ(i, o[7 * n + i], any * 2 + all);
    }
    LAUNCH("coalesced", GRID(2, 128), dx, counter, out, n);
    o = BACK(int, out, 5 * n);
    for (i = want = 0; i < n; i++) want += x[i] % 3 == 0;
    EQ(0, *BACK(int, counter, 1), want);
    for (i = 0; i < n; i++) {
        int w = i & ~31, sum = 0, rank = 0, first = -1, same = 0, mine = 0, high = -1;
        for (l = w; l < w + 32; l++) {
            if (x[l] % 3 == 0) {
                if (first < 0) first = l;
                sum += x[l];
                rank += l < i;
            }
            if (x[l] % 5 == x[i] % 5) {
                same++;
                mine += l < i;
            }
            if ((x[l] > 500) == (x[i] > 500) && x[l] > high) high = x[l];
        }
        EQ(i, o[0 * n + i], x[i] % 3 ? -1 : o[0 * n + first] + rank);
        EQ(i, o[1 * n + i], x[i] % 3 ? -1 : sum);
        EQ(i, o[2 * n + i], x[i] % 3 ? -1 : rank);
        EQ(i, o[3 * n + i], same * 100 + mine);
        EQ(i, o[4 * n + i], high);
    }
}

CORPUS(warps) {
    int n = 64, i, l, *x = NEW(int, 256), *steps;
    unsigned *o;
    double *f;
    gpuexec_ptr dx, out = OUT(unsigned, 9 * 64), shuffled = OUT(double, 5 * 64),
                    walked = OUT(int, 256);
    for (i = 0; i < 256; i++) x[i] = 1 + below(1000);
    dx = IN(x, 256);
    LAUNCH("votes", GRID(1, n), dx, out);
    LAUNCH("shuffles", GRID(1, n), dx, shuffled);
    LAUNCH("collatz", GRID(2, 128), dx, walked);
    o = BACK(unsigned, out, 9 * n);
    f = BACK(double, shuffled, 5 * n);
    steps = BACK(int, walked, 256);
    for (i = 0; i < n; i++) {
        int w = i & ~31, any = 0, all = 1, k, odd, seven = (i & ~7) + i * 7 % 8;
        unsigned ballot = 0, some = 0, six = 0, three = 0, add = 0, low = ~0u, high = 0, xors = 0,
                 ands = ~0u, ors = 0;
        for (l = w; l < w + 32; l++) {
            unsigned u = (unsigned)x[l], bit = 1u << (l - w);
            ballot |= u & 1 ? bit : 0;
            some |= u % 3 != 1 && u & 1 && u & 2 ? bit : 0;
            any |= x[l] > 900;
            all &= x[l] > 3;
            six |= x[l] % 6 == x[i] % 6 ? bit : 0;
            three |= x[l] % 3 == x[i] % 3 ? bit : 0;
            add += u;
            low = u < low ? u : low;
            high = u > high ? u : high;
            xors ^= u;
            ands &= u | 0x1000;
            ors |= u;
        }
        EQ(i, o[0 * n + i], ballot);
        EQ(i, o[1 * n + i], any * 2 + all + 4);
        EQ(i, o[2 * n + i], six);
        EQ(i, o[3 * n + i], (unsigned)-1 + 1u);
        EQ(i, o[4 * n + i], three);
        EQ(i, o[5 * n + i], x[i] % 3 == 1 ? 7u : x[i] & 1 ? some : 0);
        EQ(i, o[6 * n + i], x[i & 1 ? w + 31 : w]);
        EQ(i, o[7 * n + i], add + low * 3 + high * 5);
        EQ(i, o[8 * n + i], xors ^ ands ^ ors);
        l = i - w;
        SAME(i, f[0 * n + i], 0.5 * x[l >= 3 ? i - 3 : i]);
        SAME(i, f[1 * n + i], (double)((long long)x[l % 16 + 5 < 16 ? i + 5 : i] << 33));
        SAME(i, f[2 * n + i], (double)x[i ^ 9]);
        SAME(i, f[3 * n + i], (double)x[seven]);
        SAME(i, f[4 * n + i], (double)(unsigned char)x[i % 4 ? i - 1 : i]);
        for (k = odd = 0, low = (unsigned)x[i]; low != 1; k++) {
            if (k > 200) break;
            if (low & 1) {
                low = 3 * low + 1;
                odd++;
                continue;
            }
            low >>= 1;
            while ((low & 3) == 0) {
                low >>= 2;
                k += 2;
                if (low == 1) break;
            }
        }
        EQ(i, steps[i], k * 1000 + odd);
    }
}

/* -------------------------------------------------------------------------------------------------
   Calls, and memory of single threads. */

static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static unsigned ackermann(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

CORPUS(calls) {
    int n = 64, i, k, *x = NEW(int, n * 16), *o;
    unsigned *u;
    float *f;
    double *d;
    gpuexec_ptr dx, out = OUT(int, 64), du = OUT(unsigned, 64), df = OUT(float, 64),
                    dd = OUT(double, 64);
    int each = 16;
    for (i = 0; i < n * 16; i++) x[i] = below(1000);
    dx = IN(x, n * 16);
    LAUNCH("recursion", GRID(1, n), du);
    LAUNCH("pointers", GRID(1, n), dx, out);
    LAUNCH("virtuals", GRID(1, n), df);
    LAUNCH("structs", GRID(1, n), dd);
    LAUNCH("sort_each", GRID(2, n / 2), dx, each);
    u = BACK(unsigned, du, n);
    o = BACK(int, out, n);
    f = BACK(float, df, n);
    d = BACK(double, dd, n);
    for (i = 0; i < n; i++) {
        int a = x[i], c = x[i] & 3;
        EQ(i, u[i], fib((unsigned)i % 12) * 1000 + ackermann((unsigned)i % 3, (unsigned)i % 4));
        EQ(i, o[i],
                (c == 0                  ? a + i
                                : c == 1 ? a - i
                                : c == 2 ? a * i
                                : a < i  ? a
                                         : i) +
                        (i % 4 == 0                  ? i + 3
                                        : i % 4 == 1 ? i - 3
                                        : i % 4 == 2 ? i * 3
                                        : i < 3      ? i
                                                     : 3));
        SAME(i, f[i], i & 1 ? (float)i * (float)i : 3.0f * ((float)i + 1.0f) * ((float)i + 1.0f));
        SAME(i, d[i], i * 0.5 + 'x' + i * 4 + (i - 7) + 0.25);
    }
    for (i = 0; i < n; i++) qsort(x + 16 * i, 16, sizeof *x, by_value);
    o = BACK(int, dx, n * 16);
    for (k = 0; k < n * 16; k++) EQ(k, o[k], x[k]);
}

CORPUS(constants) {
    int n = 100, i, k, table[4] = { 11, 22, 33, 44 };
    float w[33] = { 1, 2, 3, 4, 5 }, *x = NEW(float, n), *y;
    int v[256], *o, before[128];
    unsigned char bytes[64];
    static const char *const names[2] = { "first", "second" };
    gpuexec_ptr dx, dy = OUT(float, 100), dv, db, dout, symbol;
    size_t size = 0;
    for (i = 0; i < n; i++) x[i] = between(-5, 5);
    for (i = 0; i < 256; i++) v[i] = below(1000);
    for (i = 0; i < 128; i++) before[i] = below(1000);
    for (i = 0; i < 64; i++) bytes[i] = (unsigned char)rnd();
    dx = IN(x, n);
    dv = IN(v, 256);
    db = IN(bytes, 64);
    dout = IN(before, 128);
    for (k = 0; k < 2; k++) { /* with the initial values of the text, then with others */
        LAUNCH("convolve", gpuexec_grid_for((size_t)n, 64), dx, dy, n);
        y = BACK(float, dy, n);
        for (i = 0; i < n; i++) {
            float s = 0;
            int j;
            for (j = -2; j <= 2; j++)
                if (i + j >= 0 && i + j < n) s = fmaf(w[j + 2], x[i + j], s);
            SAME(i, y[i], s * 0.25f);
        }
        symbol = gpuexec_module_global_address(run.mod, "weights", &size);
        CHECK_EQ(size, sizeof w);
        for (i = 0; i < 33; i++) w[i] = between(-1, 1);
        gpuexec_copy_in(run.stream, symbol, w, sizeof w);
    }
    symbol = gpuexec_module_global_address(run.mod, "table", &size);
    CHECK_EQ(size, 16);
    gpuexec_copy_in(run.stream, symbol, table, sizeof table);
    LAUNCH("lookup", GRID(1, 64), dv, db, dout);
    o = BACK(int, dout, 128);
    for (i = 0; i < 64; i++) {
        EQ(i, o[i],
                table[i & 3] + table[1 + (i & 1)] + v[4 * i] - v[4 * i + 1] + v[4 * i + 2] -
                        v[4 * i + 3] + bytes[i] + before[i] + names[i & 1][i % 5]);
        EQ(i, o[i + 64], before[i + 64] + 1);
    }
}

CORPUS(local_arrays) {
    static const unsigned char program[] = { 0, 1, 2, 5, 3, 10, 17, 4, 0, 8, 10, 3, 10, 2, 6, 7, 9,
        1, 3, 5, 11, 2, 12 };
    int n = 64, m = 20, length = sizeof program, i, k, *x = NEW(int, n), *o;
    gpuexec_ptr dx, dp = IN(program, sizeof program), out = OUT(int, 64);
    for (i = 0; i < n; i++) x[i] = below(200) - 100;
    dx = IN(x, n);
    LAUNCH("machine", GRID(2, 32), dp, length, dx, out);
    o = BACK(int, out, n);
    for (i = 0; i < n; i++) {
        uint32_t s[16] = { 0 };
        int top = 0, pc;
        for (pc = 0; pc < length; pc++) switch (program[pc]) {
            case 0: s[top++] = (uint32_t)x[i]; break;
            case 1: s[top++] = (uint32_t)i; break;
            case 2:
                top--;
                s[top - 1] += s[top];
                break;
            case 3:
                top--;
                s[top - 1] *= s[top];
                break;
            case 4:
                top--;
                s[top - 1] -= s[top];
                break;
            case 5:
                s[top] = s[top - 1];
                top++;
                break;
            case 6: {
                uint32_t a = s[top - 1];
                s[top - 1] = s[top - 2];
                s[top - 2] = a;
                break;
            }
            case 7: s[top - 1] = 0 - s[top - 1]; break;
            case 8:
                if ((int32_t)s[--top] < 0) pc += 2;
                break;
            case 9: s[top - 1] = (uint32_t)((int32_t)s[top - 1] >> 1); break;
            case 10: s[top++] = program[++pc]; break;
            default: s[top - 1] ^= 0x55; break;
            }
        EQ(i, (uint32_t)o[i], s[top - 1]);
        x[i] = below(100);
    }
    dx = IN(x, n);
    LAUNCH("local", GRID(1, n), dx, out, m);
    o = BACK(int, out, n);
    for (i = 0; i < n; i++) {
        int a[32] = { 0 }, t[35], sum = 0, q = x[i] & 7;
        static const char text[16] = "local arrays";
        for (k = 0; k < m; k++) a[x[(i + k) % m] & 31] += k;
        for (k = 0; k < 35; k++) t[k] = a[k & 31] ^ k;
        for (k = 0; k < 32; k++) sum += a[k] * (k + 1);
        EQ(i, o[i],
                sum + t[x[i] % 5 * 7 + i % 7] * 3 + (short)a[q] + (int)((float)a[q + 8] * 0.5f) +
                        text[i % 16]);
    }
}

typedef struct matrix {
    float m[16];
} matrix;
typedef struct large {
    int v[1500];
} large;
CORPUS(structs) {
    struct odd {
        char c[7];
    } odd = { { 1, 2, 3, 4, 5, 6, 7 } };
    /* as the device lays it out: the host's float4 need not be aligned */
    unsigned char mixed[80] = { 0 };
    int i, n = 3000, k = 5, *v;
    matrix x;
    large *l = NEW(large, 1);
    double d = 2.5, in[64], *o;
    float z = 0.75f, y = 8.0f, *g, f3[3] = { 2, 3, 4 };
    short s[3] = { 10, 20, 30 }, sh = -5;
    char c = 3;
    unsigned char b = 1, r[64 * 4];
    short q[64 * 2];
    double e[64 * 2];
    long long u[64 * 2];
    signed char t[64 * 3];
    unsigned short w[64 * 4];
    gpuexec_ptr din, dout = OUT(double, 64), df = OUT(float, 64), dv = OUT(float, 256),
                     dl = OUT(int, 3000), dr, dq, de, du, dt, dw;
    struct f3 {
        float x, y, z;
    } f;
    memcpy(&f, f3, sizeof f);
    mixed[0] = 7;
    memcpy(mixed + 8, &d, 8);
    memcpy(mixed + 16, s, 6);
    mixed[32] = 11;
    memcpy(mixed + 56, &z, 4);
    memcpy(mixed + 68, &y, 4);
    mixed[72] = 200;
    for (i = 0; i < 16; i++) x.m[i] = (float)i * 0.25f;
    for (i = 0; i < 64; i++) in[i] = i;
    for (i = 0; i < 1500; i++) l->v[i] = (int)rnd();
    for (i = 0; i < 256; i++) {
        r[i] = (unsigned char)below(200);
        w[i] = (unsigned short)below(100);
    }
    for (i = 0; i < 128; i++) {
        q[i] = (short)(below(200) - 100);
        e[i] = below(100) * 0.5;
        u[i] = below(1000);
    }
    for (i = 0; i < 192; i++) t[i] = (signed char)(below(20) - 10);
    din = IN(in, 64);
    {
        struct {
            unsigned char bytes[80];
        } m;
        memcpy(m.bytes, mixed, 80);
        LAUNCH("by_value", GRID(1, 64), c, m, odd, sh, x, b, f, din, dout);
    }
    o = BACK(double, dout, 64);
    for (i = 0; i < 64; i++)
        SAME(i, o[i],
                3 + 7 * 2 + 2.5 + s[i % 3] + 11 + 0.75 + 8.0 + 200 + odd.c[i % 7] - 5 +
                        x.m[i % 4 * 4 + i / 4 % 4] + 1000 + (2 * 3 - 4) + i);
    LAUNCH("grid_constant", GRID(1, 64), x, k, df);
    g = BACK(float, df, 64);
    for (i = 0; i < 64; i++) SAME(i, g[i], x.m[i * k & 15]);
    dr = IN(r, 256);
    dq = IN(q, 128);
    de = IN(e, 128);
    du = IN(u, 128);
    dt = IN(t, 192);
    dw = IN(w, 256);
    LAUNCH("vectors", GRID(1, 64), dr, dq, de, du, dt, dw, dv);
    g = BACK(float, dv, 256);
    for (i = 0; i < 64; i++) {
        SAME(i, g[4 * i], (float)(r[4 * i] + r[4 * i + 1] * r[4 * i + 2] - r[4 * i + 3]));
        SAME(i, g[4 * i + 1], (float)(q[2 * i] * q[2 * i + 1]));
        SAME(i, g[4 * i + 2], (float)(e[2 * i] + e[2 * i + 1]));
        SAME(i, g[4 * i + 3],
                (float)(u[2 * i] - u[2 * i + 1] + t[3 * i] * t[3 * i + 1] * t[3 * i + 2] +
                        w[4 * i] + w[4 * i + 1] - w[4 * i + 2] * w[4 * i + 3] % 77));
    }
    LAUNCH("large_parameter", GRID(30, 100), *l, dl);
    v = BACK(int, dl, n);
    for (i = 0; i < n; i++) EQ(i, v[i], l->v[i % 1500]);
}

CORPUS(volatiles) {
    int flag = 5, i, *o, *x = NEW(int, 256), sum = 0;
    unsigned *s;
    uint64_t *c;
    gpuexec_ptr f = IN(&flag, 1), out = OUT(int, 8), dc = OUT(uint64_t, 32), ds = OUT(unsigned, 96),
                dx, dout = OUT(int, 4);
    for (i = 0; i < 256; i++) x[i] = below(1000);
    dx = IN(x, 256);
    LAUNCH("handshake", GRID(1, 256), f, out);
    LAUNCH("clocks", GRID(1, 32), dc);
    LAUNCH("special", gpuexec_grid(1, 96, 8), ds);
    LAUNCH("old_reduce", GRID(4, 64), dx, dout);
    o = BACK(int, out, 8);
    c = BACK(uint64_t, dc, 32);
    s = BACK(unsigned, ds, 96);
    for (i = 0; i < 8; i++) EQ(i, o[i], (5 + i) * 10 + i);
    for (i = 0; i < 32; i++) EQ(i, c[i], 1);
    for (i = 0; i < 96; i++) EQ(i, s[i], i % 32 + 1500 + 80000);
    o = BACK(int, dout, 4);
    for (i = 0; i < 256; i++) {
        sum = (i % 64 ? sum : 0) + x[i];
        if (i % 64 == 63) EQ(i, o[i / 64], sum);
    }
}

/* Returns what a child process printed on stdout while it ran `function`. */
static char *printed(void (*function)(void)) {
    static char text[8192];
    FILE *file = tmpfile();
    int saved = dup(1);
    size_t n;
    if (!CHECK(file != NULL)) return text;
    fflush(NULL);
    dup2(fileno(file), 1);
    function();
    CHECK_OK(gpuexec_stream_sync(run.stream));
    fflush(NULL);
    dup2(saved, 1);
    close(saved);
    rewind(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}
static gpuexec_ptr printf_counts, printf_text;
static void printf_say(void) { LAUNCH("say", GRID(1, 1), printf_counts, printf_text); }

static void printf_each(void) {
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(run.mod, "each"), run.stream, GRID(2, 16), GPUEXEC_NO_ARGS));
}

CORPUS(printf) {
    static const int arguments[9] = { 0, 7, 7, 9, 5, 4, 4, 5, 3 };
    int i, k, *counts;
    char wanted[2048], *got;
    printf_counts = OUT(int, 9);
    printf_text = in_bytes("from memory", 12);
    got = printed(printf_say);
    counts = BACK(int, printf_counts, 9);
    for (i = 0; i < 9; i++) EQ(i, counts[i], arguments[i]);
    snprintf(wanted, sizeof wanted,
            "plain\n%d|%i|%5d|%-5d|%05d|%+d|% d\n%u|%o|%x|%X|%#x|%#o|%c|%%\n"
            "%f|%.3f|%10.2f|%-10.1f|%e|%.2E|%g|%G|%a\n"
            "-1234567890123456789|18446744073709551615|123456789abcdef|77|5\nfrom memory|     "
            "right|left      |tru\n"
            "%*d|%-*d|%%.*f|%%*.*f\n1 mixed 2.000000 z 3\ninf -inf 0.000000\n",
            /* a GPU prints a precision of * unchanged */
            -1, 2, 3, 4, 5, 6, 7, 4000000000u, 8u, 0xabcu, 0xdefu, 255u, 8u, 'q', 1.5, 3.14159, 2.5,
            2.5, 12345.678, 0.00012, 1e10, 1e-10, 1.0, 6, 42, 6, 42);
    CHECK_STRING(got, wanted);
    got = printed(printf_each); /* the blocks can print in any order */
    for (i = 0; i < 2; i++)
        for (k = 3; k < 16; k += 8) {
            snprintf(wanted, sizeof wanted, "block %d thread %d\n", i, k);
            CHECK_TEXT(got, wanted);
        }
    CHECK_EQ(strlen(got), 4 * strlen("block 0 thread 3\n") + 2);
}

/* On a GPU the message also goes to stderr. */
static gpuexec_ptr assert_values;
static void assert_run(void) {
    gpuexec_launch(gpuexec_kernel_get(run.mod, "chk"), run.stream, GRID(1, 4),
            GPUEXEC_ARGS(assert_values));
    if (gpuexec_stream_sync(run.stream) == GPUEXEC_OK) printf("not stopped\n");
}
CORPUS_ALONE(assert) {
    int good[4] = { 1, 2, 3, 4 }, bad[4] = { 1, 2, 0, 4 };
    int saved = dup(2), null = open("/dev/null", O_WRONLY);
    assert_values = IN(good, 4);
    LAUNCH("chk", GRID(1, 4), assert_values);
    CHECK_OK(gpuexec_stream_sync(run.stream));
    assert_values = IN(bad, 4);
    CHECK_OK(gpuexec_stream_sync(run.stream));
    fflush(NULL);
    dup2(null, 2);
    assert_run();
    dup2(saved, 2);
    close(saved);
    close(null);
    CHECK_EQ(gpuexec_error_detail()->driver_result, 710);
    CHECK_EQ(gpuexec_error_detail()->sticky, 1);
}

CORPUS(malloc) {
    int i, k, round, x[64], *o;
    gpuexec_ptr dx, out = OUT(int, 64);
    for (i = 0; i < 64; i++) x[i] = below(1000);
    dx = IN(x, 64);
    for (round = 0; round < 3; round++) {
        LAUNCH("allocate", GRID(1, 64), dx);
        LAUNCH("release", GRID(1, 64), out);
        o = BACK(int, out, 64);
        for (i = 0; i < 64; i++) {
            int s = 0;
            for (k = 0; k <= i; k++) s += x[i] + k;
            EQ(i, o[i], s + (i & 3) + 100000);
        }
    }
    for (round = 0; round < 2; round++) {
        LAUNCH("exhaust", GRID(1, 1), out);
        k = *BACK(int, out, 1);
        CHECK(k >= 4 && k <= 8); /* MiB of the 8 that the heap has */
    }
}

CORPUS_AS(TEST, debug, 0) {
    int n = 10, i, k, sum[64], p[20], *o;
    gpuexec_ptr dp, out = OUT(int, 64);
    for (i = 0; i < 20; i++) p[i] = below(100);
    dp = IN(p, 20);
    LAUNCH(gpuexec_module_kernel_name(run.mod, 0), GRID(1, 64), dp, out, n);
    o = BACK(int, out, 64);
    for (i = 0; i < 64; i++)
        for (k = sum[i] = 0; k < n; k++) {
            int *q = &p[(i + k) % n * 2];
            if (q[0] % 2) sum[i] += q[0] * p[2 * k] + q[1] * p[2 * k + 1];
            else sum[i] -= q[1];
        }
    for (i = 0; i < 64; i++) EQ(i, o[i], sum[i ^ 1] + sum[i ^ 2]);
}
CORPUS(lineinfo) { reference_debug(); }

/* -------------------------------------------------------------------------------------------------
   Integers. */

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

CORPUS(integer64) {
    int n = 256, i;
    int64_t *a = NEW(int64_t, n), *b = NEW(int64_t, n), *o;
    gpuexec_ptr da, db, out = OUT(int64_t, 18 * 256), wide = OUT(int64_t, 9 * 256);
    for (i = 0; i < n; i++) {
        a[i] = (int64_t)rnd64() >> below(63);
        b[i] = (int64_t)rnd64() >> below(63);
        if (b[i] == 0 || b[i] == -1) b[i] = 3;
    }
    a[0] = INT64_MAX;
    b[0] = INT64_MIN;
    a[1] = INT64_MIN;
    b[1] = 2;
    a[2] = -7;
    b[2] = 2;
    da = IN(a, n);
    db = IN(b, n);
    LAUNCH("divide", GRID(2, 128), da, db, out, n);
    LAUNCH("wide", GRID(2, 128), da, db, wide, n);
    o = BACK(int64_t, out, 18 * n);
    for (i = 0; i < n; i++) {
        int64_t x = a[i], y = b[i];
        uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
        int32_t sx = (int32_t)x, sy = (int32_t)y, dy = sy | 1, hx = (int16_t)x, hy = (int16_t)y | 1;
        uint32_t wx = (uint32_t)x, wy = (uint32_t)y;
        EQ(i, o[0 * n + i], x / y);
        EQ(i, o[1 * n + i], x % y);
        EQ(i, o[2 * n + i], ux / uy);
        EQ(i, o[3 * n + i], ux % uy);
        EQ(i, o[4 * n + i], x / 10 + x % 7);
        EQ(i, o[5 * n + i], ux / 1000000007u);
        EQ(i, o[6 * n + i], (int64_t)(int32_t)((int64_t)sx / dy));
        EQ(i, o[7 * n + i], wx % (wy | 1));
        EQ(i, o[8 * n + i], (int128)x * y >> 64);
        EQ(i, o[9 * n + i], (uint128)ux * uy >> 64);
        EQ(i, o[10 * n + i], (int64_t)sx * sy >> 32);
        EQ(i, o[11 * n + i], (uint64_t)wx * wy >> 32);
        EQ(i, o[12 * n + i],
                (uint32_t)(((uint64_t)((int64_t)((int32_t)(wx << 8) >> 8) *
                                   ((int32_t)(wy << 8) >> 8))) +
                        (uint64_t)(wx & 0xffffff) * (wy & 0xffffff)));
        EQ(i, o[13 * n + i], (ux << (uy & 63)) ^ (uint64_t)(x >> (uy & 63)) ^ ux >> (uy & 63));
        EQ(i, o[14 * n + i], x < y ? x : y);
        EQ(i, o[15 * n + i],
                (x < 0 ? 0 - ux : ux) +
                        (uint32_t)((int64_t)sx > sy ? (int64_t)sx - sy : (int64_t)sy - sx));
        EQ(i, o[16 * n + i], (int64_t)(hx / hy));
        EQ(i, o[17 * n + i],
                (uint32_t)((uint32_t)(((int64_t)sx + sy) >> 1) +
                        (uint32_t)(((int64_t)sx + sy + 1) >> 1) +
                        (uint32_t)(((uint64_t)wx + wy) >> 1)));
    }
    o = BACK(int64_t, wide, 9 * n);
    for (i = 0; i < n; i++) {
        int128 x = a[i], y = b[i], p = x * y,
               s = (int128)((uint128)p + ((uint128)x << 64) - (uint128)y), q = s / (y * 3 + 1),
               r = s % (y * 3 + 1);
        uint128 u = (uint128)s / (uint64_t)(b[i] | 1);
        EQ(i, o[0 * n + i], p);
        EQ(i, o[1 * n + i], p >> 64);
        EQ(i, o[2 * n + i], s);
        EQ(i, o[3 * n + i], s >> 64);
        EQ(i, o[4 * n + i], u);
        EQ(i, o[5 * n + i], u >> 64);
        EQ(i, o[6 * n + i], q);
        EQ(i, o[7 * n + i], r);
        EQ(i, o[8 * n + i], (uint128)s >> (i % 127));
    }
}

static int popcount(uint64_t x) {
    int n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

static uint64_t reversed(uint64_t x, int bits) {
    uint64_t r = 0;
    int i;
    for (i = 0; i < bits; i++) r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

static int leading(uint64_t x, int bits) {
    int n = 0;
    while (n < bits && !(x >> (bits - 1 - n) & 1)) n++;
    return n;
}

static int first_set(uint64_t x) {
    int n;
    for (n = 0; n < 64; n++)
        if (x >> n & 1) return n + 1;
    return 0;
}

static uint32_t permuted(uint32_t x, uint32_t y, uint32_t s) {
    uint64_t both = (uint64_t)y << 32 | x;
    uint32_t r = 0;
    int k;
    for (k = 0; k < 4; k++) {
        uint32_t byte = (uint32_t)(both >> (s >> 4 * k & 7) * 8) & 255;
        r |= byte << 8 * k;
    }
    return r;
}
static uint32_t rotated(uint32_t x, int n) { return x >> n | x << (32 - n); }
/* the position of the third set bit, counted from 0; all ones if there is none */
static uint32_t third_set(uint32_t x) {
    int k, n = 0;
    for (k = 0; k < 32; k++)
        if (x >> k & 1 && ++n == 3) return (uint32_t)k;
    return ~0u;
}

static float rounded_float(uint64_t x) { return (float)x; }

CORPUS(bits) {
    int n = 256, i, k, each = 50;
    uint32_t *a = NEW(uint32_t, n), *b = NEW(uint32_t, n), *c, *m = NEW(uint32_t, 16 * 32), *digest;
    uint64_t *o;
    unsigned char *data = NEW(unsigned char, 64 * each);
    gpuexec_ptr da, db, out = OUT(uint64_t, 14 * 256), dd, dc = OUT(uint32_t, 64), dm,
                        dh = OUT(uint32_t, 8 * 32);
    for (i = 0; i < n; i++) {
        a[i] = rnd() >> below(32);
        b[i] = rnd();
    }
    a[0] = 0;
    b[0] = 0;
    a[1] = ~0u;
    b[1] = ~0u;
    for (i = 0; i < 64 * each; i++) data[i] = (unsigned char)rnd();
    for (i = 0; i < 16 * 32; i++) m[i] = i < 16 ? 0 : rnd();
    m[0] = 0x80636261;
    m[15] = 24u << 24; /* "abc", padded: a known digest */
    da = IN(a, n);
    db = IN(b, n);
    dd = IN(data, 64 * each);
    dm = IN(m, 16 * 32);
    LAUNCH("bits", GRID(2, 128), da, db, out, n);
    LAUNCH("crc32", GRID(2, 32), dd, dc, each);
    LAUNCH("sha256", GRID(1, 32), dm, dh);
    o = BACK(uint64_t, out, 14 * n);
    for (i = 0; i < n; i++) {
        uint32_t x = a[i], y = b[i], s = y & 31;
        uint64_t z = (uint64_t)x << 32 | y, w;
        double scaled, as_double;
        EQ(i, o[0 * n + i],
                reversed(x, 32) ^ (uint64_t)popcount(x) << 32 ^ (uint64_t)leading(x, 32) << 40 ^
                        (uint64_t)first_set(x) << 48);
        EQ(i, o[1 * n + i], reversed(z, 64));
        EQ(i, o[2 * n + i], popcount(z) * 10000 + leading(z, 64) * 100 + first_set(z));
        EQ(i, o[3 * n + i], permuted(x, y, 0x3715) | (uint64_t)permuted(x, y, y) << 32);
        k = i & 31;
        w = (uint64_t)y << 32 | x;
        EQ(i, o[4 * n + i], (uint32_t)(w << k >> 32) | (uint64_t)(uint32_t)(w >> k) << 32);
        k = i % 48 > 32 ? 32 : i % 48;
        EQ(i, o[5 * n + i],
                (uint32_t)(k == 32 ? x : w << k >> 32) | (uint64_t)(uint32_t)(w >> k) << 32);
        EQ(i, o[6 * n + i], (x ^ y) & (x | ~y));
        EQ(i, o[7 * n + i], (int64_t)(int8_t)x + (int16_t)y + (uint8_t)(x >> 8));
        EQ(i, o[8 * n + i], x << s | x >> ((32 - s) & 31));
        EQ(i, o[9 * n + i], bits_of((float)x) | (uint64_t)bits_of((float)(int32_t)y) << 32);
        as_double = (double)z;
        memcpy(&w, &as_double, 8);
        EQ(i, o[10 * n + i], w);
        EQ(i, o[11 * n + i],
                (uint32_t)lrintf((float)(int32_t)x * 0.001f) |
                        ((float)y >= 0x1p32f ? 0xffffffffull : (uint64_t)(uint32_t)(float)y) << 32);
        EQ(i, o[12 * n + i],
                third_set(x) | (uint64_t)(x >> (y & 15) & ((1u << (y >> 16 & 15)) - 1)) << 32);
        scaled = (double)(int64_t)z * 0.37;
        EQ(i, o[13 * n + i],
                (rounded_float(z) >= 0x1p64f ? UINT64_MAX : (uint64_t)rounded_float(z)) ^
                        (uint64_t)(int64_t)floor(scaled));
    }
    c = BACK(uint32_t, dc, 64);
    for (i = 0; i < 64; i++) {
        uint32_t crc = ~0u;
        for (k = 0; k < 8 * each; k++)
            crc = ((crc ^ (uint32_t)data[i * each + k / 8] >> k % 8) & 1 ? 0xedb88320u : 0) ^
                    crc >> 1;
        EQ(i, c[i], ~crc);
    }
    digest = BACK(uint32_t, dh, 8 * 32);
    EQ(0, digest[0], 0xba7816bf);
    EQ(1, digest[1], 0x8f01cfea);
    EQ(2, digest[2], 0x414140de);
    EQ(3, digest[3], 0x5dae2223);
    EQ(4, digest[4], 0xb00361a3);
    EQ(5, digest[5], 0x96177a9c);
    EQ(6, digest[6], 0xb410ff61);
    EQ(7, digest[7], 0xf20015ad);
    EQ(0, rotated(1, 1), 0x80000000);
}

static int byte_of(uint32_t x, int k, int is_signed) {
    return is_signed ? (int8_t)(x >> 8 * k) : (uint8_t)(x >> 8 * k);
}

static int word_of(uint32_t x, int k, int is_signed) {
    return is_signed ? (int16_t)(x >> 16 * k) : (uint16_t)(x >> 16 * k);
}

static int clipped(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

CORPUS(dp4a) {
    int n = 256, i, k;
    int32_t *a = NEW(int32_t, n), *b = NEW(int32_t, n), dot = 0;
    uint32_t *o;
    gpuexec_ptr da, db, out = OUT(uint32_t, 16 * 256), dd = OUT(int32_t, 1);
    for (i = 0; i < n; i++) {
        a[i] = (int32_t)rnd();
        b[i] = (int32_t)rnd();
    }
    da = IN(a, n);
    db = IN(b, n);
    LAUNCH("dot8", GRID(1, 32), da, db, dd, n);
    LAUNCH("simd", GRID(2, 128), da, db, out, n);
    o = BACK(uint32_t, out, 16 * n);
    for (i = 0; i < n; i++) {
        uint32_t x = (uint32_t)a[i], y = (uint32_t)b[i], u4 = 7, lo = (uint32_t)-3, hi = 9,
                 r[16] = { 0 };
        int64_t most;
        for (k = 0; k < 4; k++) {
            int p = byte_of(x, k, 0), q = byte_of(y, k, 0), sp = byte_of(x, k, 1),
                sq = byte_of(y, k, 1), sh = 8 * k;
            dot += sp * sq;
            u4 += (uint32_t)(p * q);
            if (k < 2) lo += (uint32_t)(word_of(x, k, 1) * sq);
            else hi += (uint32_t)word_of(x, k - 2, 0) * (uint32_t)q;
            r[3] |= (uint32_t)((p + q) & 255) << sh;
            r[5] |= (uint32_t)abs(p - q) << sh;
            r[6] |= (uint32_t)((sp > sq ? sp : sq) & 255) << sh;
            r[8] += (uint32_t)abs(p - q);
            r[9] |= (p > q ? 255u : 0) << sh;
            r[10] |= (uint32_t)clipped(p + q, 0, 255) << sh;
            r[11] |= (uint32_t)((p + q + 1) / 2) << sh;
        }
        for (k = 0; k < 2; k++) {
            int p = word_of(x, k, 0), q = word_of(y, k, 0), sp = word_of(x, k, 1),
                sq = word_of(y, k, 1), sh = 16 * k;
            r[4] |= (uint32_t)((p - q) & 65535) << sh;
            r[7] |= (uint32_t)(p < q ? p : q) << sh;
            r[13] |= (uint32_t)((sp > sq ? sp : sq) & 65535) << sh;
            r[15] |= (uint32_t)(clipped(sp + sq, -32768, 32767) & 65535) << sh;
        }
        r[0] = u4;
        r[1] = lo;
        r[2] = hi;
        most = (int64_t)a[i] - b[i];
        r[12] = (uint32_t)(most < 0 ? -most : most) + 5;
        most = (int32_t)(x + y);
        r[14] = (uint32_t)(most > 100 ? most : 100);
        for (k = 0; k < 16; k++) EQ(k * 1000 + i, o[k * n + i], r[k]);
    }
    EQ(0, *BACK(int32_t, dd, 1), dot);
}

CORPUS(carry) {
    int i, k, j;
    uint32_t *a = NEW(uint32_t, 128), *b = NEW(uint32_t, 128), *o, *s;
    uint64_t c = 0;
    gpuexec_ptr da, db, out = OUT(uint32_t, 512), sum = OUT(uint32_t, 32),
                        both = OUT(uint32_t, 128);
    for (i = 0; i < 128; i++) {
        a[i] = i % 3 ? rnd() : ~0u;
        b[i] = i % 5 ? ~a[i] : rnd();
    }
    da = IN(a, 128);
    db = IN(b, 128);
    LAUNCH("chains", GRID(1, 32), da, db, out);
    LAUNCH("add1024", GRID(1, 32), da, db, sum);
    LAUNCH("mixed", GRID(1, 32), da, db, both);
    o = BACK(uint32_t, out, 512);
    s = BACK(uint32_t, sum, 32);
    for (i = 0; i < 32; i++) {
        uint32_t *x = a + 4 * i, *y = b + 4 * i, p[8] = { 0 };
        uint64_t up = 0, down = 0;
        for (k = 0; k < 4; k++) {
            up = (uint64_t)x[k] + y[k] + (up >> 32);
            down = (uint64_t)x[k] - y[k] - (down >> 63);
            EQ(i, o[16 * i + k], (uint32_t)up);
            EQ(i, o[16 * i + 4 + k], (uint32_t)down);
        }
        for (k = 0; k < 4; k++) {
            uint64_t carry = 0;
            for (j = 0; j < 4; j++) {
                carry += (uint64_t)x[j] * y[k] + p[k + j];
                p[k + j] = (uint32_t)carry;
                carry >>= 32;
            }
            p[k + 4] = (uint32_t)carry;
        }
        for (k = 0; k < 8; k++) EQ(i, o[16 * i + 8 + k], p[k]);
        c += (uint64_t)a[i] + b[i];
        EQ(i, s[i], (uint32_t)c);
        c >>= 32;
    }
    o = BACK(uint32_t, both, 128);
    for (i = 0; i < 32; i++) { /* the carry of a difference is set if there was no borrow */
        uint32_t x = a[i], y = b[i], carried = (uint64_t)x + y > ~0u;
        EQ(i, o[4 * i], x - y);
        EQ(i, o[4 * i + 1], x >= y);
        EQ(i, o[4 * i + 2], x + y);
        EQ(i, o[4 * i + 3], carried - 1);
    }
}

CORPUS(inline_ptx) {
    int n = 64, i, k;
    uint32_t *in = NEW(uint32_t, 4 * n), *o, before[19 * 64] = { 0 }, sum = 0;
    gpuexec_ptr din, out;
    for (i = 0; i < 4 * n; i++) in[i] = i % 7 ? rnd() : (uint32_t)below(40);
    in[3] = 0;
    din = IN(in, 4 * n);
    out = IN(before, 19 * 64);
    LAUNCH("inline_ptx", GRID(1, 64), din, out, n);
    o = BACK(uint32_t, out, 19 * n);
    for (i = 0; i < n; i++) {
        uint32_t a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2], d = in[4 * i + 3],
                 at = b & 31, len = c & 31, r, field;
        int64_t s;
        r = (uint32_t)((uint64_t)a >> at & ((1ull << len) - 1));
        at = a & 31;
        len = b & 31; /* sign-extended; above the top bit are copies of the sign */
        s = (int64_t)(int32_t)d >> at;
        field = len == 0 ? 0 : (uint32_t)((int64_t)((uint64_t)s << (64 - len)) >> (64 - len));
        EQ(i, o[0 * n + i], r ^ field);
        field = (uint32_t)(((1ull << (d & 31)) - 1) << (c & 31));
        EQ(i, o[1 * n + i], ((a << (c & 31)) & field) | (b & ~field));
        EQ(i, o[2 * n + i], (a & b) | (~a & c));
        EQ(i, o[3 * n + i], a < b ? c : 82);
        EQ(i, o[4 * n + i], a + 10);
        EQ(i, o[5 * n + i], (a & 15) * ((a & 15) + 1) / 2);
        EQ(i, o[6 * n + i], b ^ (c >> 16 | c << 16));
        EQ(i, o[7 * n + i], (uint32_t)(((uint64_t)a * b + c) >> 17));
        EQ(i, o[8 * n + i], (int32_t)c >= 0 ? a : b);
        EQ(i, o[9 * n + i], (uint32_t)(((uint64_t)b << 32 | a) << (c & 31) >> 32));
        EQ(i, o[10 * n + i], (uint32_t)(((uint64_t)b << 32 | a) >> 8 * (c & 3)));
        EQ(i, o[11 * n + i], a & 0xffff ? (uint32_t)leading(a & 0xffff, 32) : ~0u);
        EQ(i, o[12 * n + i], (a > b ? a - b : b - a) + c);
        EQ(i, o[13 * n + i], (d ? d : 3) + 1);
        sum += a;
        for (k = 0; k < 2; k++) EQ(i, o[15 * n + 4 * i + 2 + k], k ? b : a);
    }
    EQ(0, o[14 * n], sum);
}

CORPUS(random) {
    uint32_t key[2] = { 0xa4093822, 0x299f31d0 }, *o, inside = 0;
    struct {
        uint32_t x, y;
    } k;
    int n = 64, i, j;
    gpuexec_ptr out = OUT(uint32_t, 4 * 32), count = ZEROS(uint32_t, 1);
    memcpy(&k, key, 8);
    LAUNCH("philox", GRID(1, 32), out, k);
    LAUNCH("monte_carlo", GRID(2, 64), count, n);
    o = BACK(uint32_t, out, 128);
    for (i = 0; i < 32; i++) {
        uint32_t c[4] = { (uint32_t)i, 0, 0, 0 }, k0 = key[0], k1 = key[1];
        for (j = 0; j < 10; j++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
            uint64_t p = 0xd2511f53ull * c[0], q = 0xcd9e8d57ull * c[2];
            uint32_t next[4] = { (uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q,
                (uint32_t)(p >> 32) ^ c[3] ^ k1, (uint32_t)p };
            memcpy(c, next, sizeof c);
        }
        for (j = 0; j < 4; j++) EQ(4 * i + j, o[4 * i + j], c[j]);
    }
    for (i = 1; i <= 128; i++) {
        uint32_t s = (uint32_t)i;
        for (j = 0; j < n; j++) {
            float x, y;
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            x = (float)(s >> 16) / 65536.0f;
            y = (float)(s & 0xffff) / 65536.0f;
            inside += x * x + y * y <= 1.0f;
        }
    }
    EQ(0, *BACK(uint32_t, count, 1), inside);
}

/* -------------------------------------------------------------------------------------------------
   Floating point. */

/* The value of a 16-bit format with `mantissa` mantissa bits and the least exponent `least` (1 -
   bias): decoded, and rounded to nearest even. */
static double small_value(unsigned bits, int mantissa, int least) {
    int exponents = 15 - mantissa, e = (int)(bits >> mantissa & ((1u << exponents) - 1));
    double m = (double)(bits & ((1u << mantissa) - 1)), v;
    if (e == (1 << exponents) - 1) v = m > 0 ? (double)NAN : (double)INFINITY;
    else v = ldexp(e ? m + ldexp(1, mantissa) : m, (e ? e - 1 : 0) + least - mantissa);
    return bits >> 15 & 1 ? -v : v;
}
/* mode: 0 nearest, 1 to zero, 2 down, 3 up */
static double small_rounded(double v, int mantissa, int least, double most, int mode) {
    int e = 0;
    double unit, q, r;
    if (v == 0 || v != v || isinf(v)) return v;
    frexp(v, &e);
    unit = ldexp(1, (e - 1 < least ? least : e - 1) - mantissa);
    q = v / unit;
    r = (mode == 0 ? rint(q) : mode == 1 ? trunc(q) : mode == 2 ? floor(q) : ceil(q)) * unit;
    if (fabs(r) > most)
        r = mode == 0 || (mode == 3 && r > 0) || (mode == 2 && r < 0) ? copysign(INFINITY, v)
                                                                      : copysign(most, v);
    return r == 0 ? copysign(0.0, v) : r;
}
static double half_value(unsigned h) { return small_value(h, 10, -14); }
static double half_rounded(double v, int mode) { return small_rounded(v, 10, -14, 65504, mode); }
static double bf_value(unsigned h) { return small_value(h, 7, -126); }
static double bf_rounded(double v, int mode) { return small_rounded(v, 7, -126, 0x1.fep127, mode); }

CORPUS(half) {
    int n = 128, i, k, half, cols = 64;
    uint16_t *a = NEW(uint16_t, 2 * n), *b = NEW(uint16_t, 2 * n), *c = NEW(uint16_t, 2 * n), *o,
             *w = NEW(uint16_t, 4 * 64), *x = NEW(uint16_t, 64);
    float *f = NEW(float, n), *back, *y;
    int *q;
    gpuexec_ptr da, db, dc, out = OUT(uint32_t, 14 * 128), df, dh = OUT(uint16_t, 7 * 128),
                            dq = OUT(int, 3 * 128), dback = OUT(float, 2 * 128), ds[3], dw, dx,
                            dy = OUT(float, 4);
    for (i = 0; i < 2 * n; i++) { /* moderate values, so that a double holds each exact result */
        a[i] = (uint16_t)(0x2c00 + below(0x2000) + (below(2) << 15));
        b[i] = (uint16_t)(0x2c00 + below(0x2000) + (below(2) << 15));
        c[i] = (uint16_t)(0x2c00 + below(0x2000) + (below(2) << 15));
        if (i % 7 == 0) b[i] = a[i];
    }
    for (i = 0; i < n; i++) f[i] = between(-2, 2) * ldexpf(1, below(44) - 26);
    f[0] = 65520;
    f[1] = -65519.9f;
    f[2] = 1e-8f;
    f[3] = 0.0f;
    f[4] = -0.0f;
    f[5] = 0x1.ffffp10f;
    for (i = 0; i < 4 * 64; i++) w[i] = (uint16_t)(0x3000 + below(0x1000) + (below(2) << 15));
    for (i = 0; i < 64; i++) x[i] = (uint16_t)(0x3000 + below(0x1000) + (below(2) << 15));
    da = IN(a, 2 * n);
    db = IN(b, 2 * n);
    dc = IN(c, 2 * n);
    df = IN(f, n);
    LAUNCH("half2_math", GRID(1, 128), da, db, dc, out, n);
    LAUNCH("half_convert", GRID(1, 128), df, dh, dq, dback, n);
    o = BACK(uint16_t, out, 28 * n);
#define LANE(row) half_value(o[2 * ((row)*n + i) + half])
    for (i = 0; i < n; i++)
        for (half = 0; half < 2; half++) {
            double p = half_value(a[2 * i + half]), r = half_value(b[2 * i + half]),
                   s = half_value(c[2 * i + half]), sum = half_rounded(p + r, 0),
                   fused = half_rounded(p * r + s, 0);
            SAME(i, LANE(0), sum);
            SAME(i, LANE(1), half_rounded(p - r, 0));
            SAME(i, LANE(2), half_rounded(p * r, 0));
            SAME(i, LANE(3), fused);
            SAME(i, LANE(4), p > r ? p : r);
            SAME(i, LANE(5), p < r ? p : r);
            SAME(i, LANE(6), -fabs(p));
            SAME(i, LANE(7), p <= r ? 1.0 : 0.0);
            SAME(i, LANE(8), sum > 1 ? 1 : sum > 0 ? sum : 0);
            SAME(i, LANE(9), half ? r : p);
            SAME(i, LANE(10), half_value(a[2 * i + 1 - half]));
            SAME(i, LANE(11),
                    half ? (a[2 * i] == b[2 * i] ? 1.0 : 0.0)
                            : half_value(a[2 * i]) > half_value(b[2 * i]) ? 1.0
                                                                          : 0.0);
            SAME(i, LANE(12), floor(p));
            SAME(i, LANE(13), fused > 0 ? fused : 0.0);
        }
    o = BACK(uint16_t, dh, 7 * n);
    q = BACK(int, dq, 3 * n);
    back = BACK(float, dback, 2 * n);
    for (i = 0; i < n; i++) {
        double h = half_rounded((double)f[i], 0), u = floor(h);
        for (k = 0; k < 4; k++)
            SAME(i, half_value(o[k * n + i]),
                    half_rounded((double)f[i],
                            k == 0           ? 0
                                    : k == 1 ? 1
                                    : k == 2 ? 3
                                             : 2));
        for (k = 0; k < 2; k++) SAME(i, bf_value(o[(4 + k) * n + i]), bf_rounded((double)f[i], k));
        SAME(i, half_value(o[6 * n + i]), half_rounded(i * 37 - 5000, 0));
        EQ(i, q[0 * n + i], isinf(h) ? h > 0 ? INT_MAX : INT_MIN : (int)rint(h));
        EQ(i, q[1 * n + i], isinf(h) ? h > 0 ? INT_MAX : INT_MIN : (int)trunc(h));
        EQ(i, q[2 * n + i], u <= 0 ? 0 : u >= 65535 ? 65535 : (int)u);
        SAME(i, (double)back[i], h);
        SAME(i, (double)back[n + i], bf_rounded((double)f[i], 0));
    }
    for (i = 0; i < 2 * n; i++) { /* now as bfloat16: from 2^-3 to 2^4 */
        a[i] = (uint16_t)(0x3e00 + below(0x380) + (below(2) << 15));
        b[i] = (uint16_t)(0x3e00 + below(0x380) + (below(2) << 15));
        c[i] = (uint16_t)(0x3e00 + below(0x380) + (below(2) << 15));
    }
    da = IN(a, 2 * n);
    db = IN(b, 2 * n);
    dc = IN(c, 2 * n);
    LAUNCH("bfloat_math", GRID(1, 128), da, db, dc, out, n);
    o = BACK(uint16_t, out, 28 * n);
    for (i = 0; i < n; i++)
        for (half = 0; half < 2; half++) {
            double p = bf_value(a[2 * i + half]), r = bf_value(b[2 * i + half]),
                   s = bf_value(c[2 * i + half]);
            double got[6];
            for (k = 0; k < 6; k++) got[k] = bf_value(o[2 * (k * n + i) + half]);
            SAME(i, got[0], bf_rounded(p + r, 0));
            SAME(i, got[1], bf_rounded(p * r, 0));
            SAME(i, got[2], bf_rounded(p * r + s, 0));
            SAME(i, got[3], p > r ? p : r);
            SAME(i, got[4],
                    bf_rounded(half ? (double)((float)r + 1.0f) : (double)((float)p * 0.3f), 0));
            SAME(i, got[5], p > r ? 1.0 : 0.0);
        }
    for (i = 0; i < 3; i++) ds[i] = ZEROS(uint32_t, 1);
    LAUNCH("half_atomics", GRID(2, 64), ds[0], ds[1], ds[2]);
    o = BACK(uint16_t, ds[0], 2);
    SAME(0, half_value(o[0]), 128.0);
    SAME(1, half_value(o[1]), 256.0);
    o = BACK(uint16_t, ds[1], 2);
    SAME(0, bf_value(o[0]), 128.0);
    SAME(1, bf_value(o[1]), 0.0);
    SAME(0, half_value(*BACK(uint16_t, ds[2], 1)), 64.0);
    dw = IN(w, 4 * 64);
    dx = IN(x, 64);
    LAUNCH("half_gemv", GRID(4, 32), dw, dx, dy, cols);
    y = BACK(float, dy, 4);
    for (i = 0; i < 4; i++) {
        float s[32] = { 0 }, t[32];
        int o2;
        for (k = 0; k < 64; k++)
            s[k / 8] = fmaf((float)half_value(w[64 * i + k]), (float)half_value(x[k]), s[k / 8]);
        for (o2 = 16; o2; o2 >>= 1) {
            for (k = 0; k < 32; k++) t[k] = s[k] + s[k ^ o2];
            memcpy(s, t, sizeof s);
        }
        SAME(i, y[i], s[0]);
    }
}

/* 8 bits: e4m3 has no infinities, and its highest mantissa at the top is the NaN; conversions
   saturate. */
static double fp8_value(unsigned v, int mantissa, int least) {
    int e = (int)(v >> mantissa & (0x7fu >> mantissa));
    double m = (double)(v & ((1u << mantissa) - 1)), r;
    if (mantissa == 3 ? (v & 127) == 127 : (v & 127) > 0x7c) return (double)NAN;
    r = ldexp(e ? m + ldexp(1, mantissa) : m, (e ? e - 1 : 0) + least - mantissa);
    return v & 128 ? -r : r;
}
CORPUS(fp8) {
    int n = 200, i, k;
    float *x = NEW(float, 2 * n), *back[2];
    uint16_t *q[2];
    gpuexec_ptr dx, d4 = OUT(uint16_t, 200), d5 = OUT(uint16_t, 200), b4 = OUT(float, 400),
                    b5 = OUT(float, 400);
    for (i = 0; i < 2 * n; i++) x[i] = between(-2, 2) * ldexpf(1, below(40) - 20);
    x[0] = 448;
    x[1] = 464;
    x[2] = 1e9f;
    x[3] = -1e9f;
    x[4] = 0;
    x[5] = -0.0f;
    x[6] = 0x1p-10f;
    x[7] = 0x1.8p-10f;
    x[8] = 57344;
    x[9] = 61440;
    x[10] = 0x1p-17f;
    x[11] = NAN;
    x[12] = INFINITY;
    x[13] = -INFINITY;
    x[14] = 0x1.1p0f;
    x[15] = 0x1.3p0f;
    dx = IN(x, 2 * n);
    LAUNCH("quantise", gpuexec_grid_for((size_t)n, 64), dx, d4, d5, b4, b5, n);
    q[0] = BACK(uint16_t, d4, n);
    q[1] = BACK(uint16_t, d5, n);
    back[0] = BACK(float, b4, 2 * n);
    back[1] = BACK(float, b5, 2 * n);
    for (i = 0; i < 2 * n; i++)
        for (k = 0; k < 2; k++) {
            double most = k ? 57344 : 448, v = (double)x[i],
                   w = isnan(v) ? v
                                : small_rounded(fabs(v) > most ? copysign(most, v) : v, k ? 2 : 3,
                                          k ? -14 : -6, most, 0);
            unsigned code = (unsigned)q[k][i / 2] >> i % 2 * 8 & 255u;
            SAME(i, fp8_value(code, k ? 2 : 3, k ? -14 : -6), w);
            SAME(i, (double)back[k][i], w);
        }
}

CORPUS(nbody) {
    int n = 128, i, j, c;
    float *p = NEW(float, 4 * n), *exact, *fast;
    gpuexec_ptr dp, out = OUT(float, 3 * 128), out2 = OUT(float, 3 * 128);
    for (i = 0; i < 4 * n; i++) p[i] = i % 4 == 3 ? between(0.1f, 1) : between(-1, 1);
    dp = IN(p, 4 * n);
    LAUNCH("nbody_exact", GRID(2, 64), dp, out, n);
    LAUNCH("nbody_fast", GRID(2, 64), dp, out2, n);
    exact = BACK(float, out, 3 * n);
    fast = BACK(float, out2, 3 * n);
    for (i = 0; i < n; i++) {
        float f[3] = { 0, 0, 0 };
        double scale = 0;
        for (j = 0; j < n; j++) {
            float d[3], r2, r, s;
            for (c = 0; c < 3; c++) d[c] = p[4 * j + c] - p[4 * i + c];
            r2 = fmaf(d[0], d[0], fmaf(d[1], d[1], fmaf(d[2], d[2], 0.01f)));
            r = sqrtf(r2);
            s = p[4 * j + 3] / (r * r * r);
            for (c = 0; c < 3; c++) f[c] = fmaf(d[c], s, f[c]);
            scale += (double)s;
        }
        for (c = 0; c < 3; c++) {
            SAME(3 * i + c, exact[3 * i + c], f[c]);
            WITHIN(3 * i + c, fast[3 * i + c], f[c], 1e-5 * scale);
        }
    }
}

/* ULP bounds: those of the CUDA C++ programming guide, plus a small amount for the host's own error
   where its reference is not more accurate. */
CORPUS(math_float) {
    static const struct {
        const char *name;
        double bound;
    } rows[28] = {
        { "sin", 2 },
        { "cos", 2 },
        { "tan", 4 },
        { "exp", 2 },
        { "exp2", 2 },
        { "log", 1 },
        { "log2", 1 },
        { "log10", 2 },
        { "pow", 4 },
        { "erf", 2 },
        { "erfc", 4 },
        { "tanh", 2 },
        { "atan2", 3 },
        { "asin", 4 },
        { "acos", 2 },
        { "atan", 2 },
        { "cbrt", 1 },
        { "hypot", 3 },
        { "sinh", 3 },
        { "cosh", 2 },
        { "expm1", 2 },
        { "log1p", 2 },
        { "tgamma", 11 },
        { "lgamma", 0 },
        { "sin of large", 2 },
        { "rsqrt", 2 },
        { "exp10", 2 },
        { "sinpi", 2 },
    };
    int n = 256, i, k, e;
    float *a = NEW(float, n), *b = NEW(float, n), *o;
    gpuexec_ptr da, db, out = OUT(float, 32 * 256), fast = OUT(float, 11 * 256);
    for (i = 0; i < n; i++) {
        a[i] = between(-10, 10);
        b[i] = between(-6, 6);
    }
    da = IN(a, n);
    db = IN(b, n);
    LAUNCH("math_float", GRID(2, 128), da, db, out, n);
    o = BACK(float, out, 28 * n);
    for (i = 0; i < n; i++) {
        double x = (double)a[i], y = (double)b[i], p = (double)(fabsf(a[i]) + 1e-3f),
               u = (double)(a[i] / (1.0f + fabsf(a[i])));
        double want[28] = { sin(x), cos(x), tan(x), exp(x * 0.25), exp2(x), log(p), log2(p),
            log10(p), pow(p, y), erf(x), erfc(u), tanh(x), atan2(x, y), asin(u), acos(u), atan(x),
            cbrt(x), hypot(x, y), sinh(u), cosh(u), expm1(u), log1p(p), tgamma(p), lgamma(p),
            sin((double)(a[i] * 100000.0f)), 1 / sqrt(p), pow(10, u),
            sin(3.14159265358979323846 * u) };
        for (k = 0; k < 28; k++)
            if (rows[k].bound > 0)
                near_at(__LINE__, rows[k].name, i, (long double)o[k * n + i], (long double)want[k],
                        rows[k].bound, 24);
        /* near the zeros of lgamma no relative bound holds */
        WITHIN(i, o[23 * n + i], want[23], 1e-5 + 5e-7 * fabs(want[23]));
    }
    for (i = 0; i < 40; i++) {
        static const float odd[8] = { 0.0f, -0.0f, 1e-40f, -1e-42f, 1.0f, 0x1.fffffep127f,
            -0x1p-126f, 2.5f };
        a[i] = odd[i % 8];
        b[i] = odd[i / 8];
    }
    a[40] = INFINITY;
    b[40] = 2;
    a[41] = -INFINITY;
    b[41] = INFINITY;
    a[42] = NAN;
    b[42] = 1;
    a[43] = 1;
    b[43] = NAN;
    da = IN(a, n);
    db = IN(b, n);
    LAUNCH("math_exact", GRID(2, 128), da, db, out, n);
    o = BACK(float, out, 32 * n);
    for (i = 0; i < n; i++) {
        float x = a[i], y = b[i], p = fabsf(x), w = 0, m;
#define ROW(k, want) SAME((k)*1000 + i, (double)o[(k)*n + i], (double)(want))
        ROW(0, sqrtf(p));
        ROW(1, x / y);
        ROW(2, 1.0f / x);
        ROW(3, fmaf(x, y, p));
        ROW(4, floorf(x));
        ROW(5, ceilf(x));
        ROW(6, rintf(x));
        ROW(7, roundf(x));
        ROW(8, truncf(x));
        ROW(9, fmodf(x, y));
        ROW(10, remainderf(x, y));
        ROW(11, copysignf(x, y));
        ROW(14, fdimf(x, y));
        ROW(15, ldexpf(x, i % 300 - 150));
        m = frexpf(x, &e);
        ROW(16, m);
        if (x != 0 || y != 0) { /* for zeros with different signs, C allows either result */
            ROW(12, fminf(x, y));
            ROW(13, fmaxf(x, y));
        }
        if (isfinite(x)) {
            ROW(17, (float)e);
            ROW(22, (float)ilogbf(p + 1e-30f));
        }
        if (fabsf(x) < 1e9f && fabsf(y) < 1e9f) ROW(31, (float)llrintf(x) + (float)lroundf(y));
        m = modff(x, &w);
        ROW(18, m);
        ROW(19, w);
        ROW(20, nextafterf(x, y));
        ROW(21, scalbnf(x, -130));
        ROW(29, (float)((isnan(x) ? 1 : 0) + (isinf(x) ? 2 : 0) + (signbit(x) ? 4 : 0)));
        ROW(30, x > 0 ? x > 1 ? 1.0f : x : 0.0f);
        /* where a double holds the rounded value, or enough of it */
        if (isfinite(x) && isfinite(y) && fabsf(x) < 1e6f && fabsf(x) > 1e-6f && fabsf(y) < 1e6f &&
                fabsf(y) > 1e-6f) {
            double s = (double)x + (double)y, q = (double)x / (double)y, r = sqrt((double)p);
            float near = (float)s;
            ROW(23, fabs((double)near) > fabs(s) ? nextafterf(near, 0) : near);
            s = (double)x * (double)y;
            near = (float)s;
            ROW(24, (double)near < s ? nextafterf(near, INFINITY) : near);
            near = (float)q;
            ROW(25, (double)near > q ? nextafterf(near, -INFINITY) : near);
            near = (float)r;
            ROW(26, (double)near > r ? nextafterf(near, 0) : near);
            q = 1 / (double)y;
            near = (float)q;
            ROW(27, (double)near < q ? nextafterf(near, INFINITY) : near);
            if (fabs(s) > 1e-3 && fabs(s) < 1e3 && p > 1e-3f) {
                s = s + (double)p;
                near = (float)s;
                ROW(28, (double)near > s ? nextafterf(near, -INFINITY) : near);
            }
        }
#undef ROW
    }
    for (i = 0; i < n; i++) a[i] = between(-10, 10);
    da = IN(a, n);
    LAUNCH("math_fast", GRID(2, 128), da, fast, n);
    o = BACK(float, fast, 11 * n);
    for (i = 0; i < n; i++) {
        double x = (double)a[i], p = (double)(fabsf(a[i]) + 1e-3f), s = (double)(a[i] * 0.3f),
               t = (double)(a[i] * 0.1f);
        WITHIN(i, o[0 * n + i], sin(s), 2e-6);
        WITHIN(i, o[1 * n + i], cos(s), 2e-6);
        NEAR(i, o[2 * n + i], exp((double)(a[i] * 0.25f)), 8);
        WITHIN(i, o[3 * n + i], log(p), 1e-6 + 4e-7 * fabs(log(p)));
        WITHIN(i, o[4 * n + i], log2(p), 1e-6 + 2e-7 * fabs(log2(p)));
        NEAR(i, o[5 * n + i], pow(p, 0.3), 12);
        NEAR(i, o[6 * n + i], x / p, 2.5);
        NEAR(i, o[7 * n + i], 1 / sqrt(p), 1);
        WITHIN(i, o[8 * n + i], tan(t), 8e-6);
        NEAR(i, o[9 * n + i], pow(10, t), 12);
        WITHIN(i, o[10 * n + i], log10(p), 1e-6 + 4e-7 * fabs(log10(p)));
    }
}

CORPUS(math_double) {
    static const struct {
        const char *name;
        double bound;
    } rows[28] = {
        { "sin", 2 },
        { "cos", 2 },
        { "tan", 2 },
        { "exp", 1 },
        { "exp2", 1 },
        { "log", 1 },
        { "log2", 1 },
        { "log10", 1 },
        { "pow", 2 },
        { "erf", 2 },
        { "erfc", 5 },
        { "tanh", 2 },
        { "atan2", 2 },
        { "asin", 2 },
        { "acos", 2 },
        { "atan", 2 },
        { "cbrt", 1 },
        { "hypot", 2 },
        { "sinh", 2 },
        { "cosh", 1 },
        { "expm1", 1 },
        { "log1p", 1 },
        { "tgamma", 10 },
        { "lgamma", 0 },
        { "sin of large", 2 },
        { "rsqrt", 1 },
        { "exp10", 1 },
        { "cospi", 2 },
    };
    int n = 256, i, k, e;
    double *a = NEW(double, n), *b = NEW(double, n), *o;
    gpuexec_ptr da, db, out = OUT(double, 28 * 256);
    for (i = 0; i < n; i++) {
        a[i] = between_d(-10, 10);
        b[i] = between_d(-6, 6);
    }
    da = IN(a, n);
    db = IN(b, n);
    LAUNCH("math_double", GRID(2, 128), da, db, out, n);
    o = BACK(double, out, 28 * n);
    for (i = 0; i < n; i++) {
        long double x = (long double)a[i], y = (long double)b[i],
                    p = (long double)(fabs(a[i]) + 1e-3),
                    u = (long double)(a[i] / (1.0 + fabs(a[i])));
        long double want[28] = { sinl(x), cosl(x), tanl(x), expl(x), exp2l(x), logl(p), log2l(p),
            log10l(p), powl(p, y), erfl(x), erfcl(u), tanhl(x), atan2l(x, y), asinl(u), acosl(u),
            atanl(x), cbrtl(x), hypotl(x, y), sinhl(u), coshl(u), expm1l(u), log1pl(p), tgammal(p),
            lgammal(p), sinl((long double)(a[i] * 1e12)), 1 / sqrtl(p), powl(10, u),
            cosl(3.14159265358979323846264338327950288L * u) };
        /* + 0.51: the guide's bounds are whole numbers relative to a rounded reference */
        for (k = 0; k < 28; k++) {
            if (k == 27 && fabsl(want[k]) < 0.1L) WITHIN(i, o[k * n + i], want[k], 1e-16);
            else if (rows[k].bound > 0)
                near_at(__LINE__, rows[k].name, i, (long double)o[k * n + i], want[k],
                        rows[k].bound + 0.51, 53);
        }
        WITHIN(i, o[23 * n + i], want[23], 1e-14 + 1e-15 * (double)fabsl(want[23]));
    }
    for (i = 0; i < 36; i++) {
        static const double odd[6] = { 0.0, -0.0, 4e-320, 1.0, 0x1.fffffffffffffp1023, -0x1p-1022 };
        a[i] = odd[i % 6];
        b[i] = odd[i / 6];
    }
    a[40] = (double)INFINITY;
    b[40] = 2;
    a[41] = -(double)INFINITY;
    b[41] = 3;
    a[42] = (double)NAN;
    b[42] = 1;
    da = IN(a, n);
    db = IN(b, n);
    LAUNCH("math_exact", GRID(2, 128), da, db, out, n);
    o = BACK(double, out, 28 * n);
    for (i = 0; i < n; i++) {
        double x = a[i], y = b[i], p = fabs(x), m;
#define ROW(k, want) SAME((k)*1000 + i, o[(k)*n + i], want)
        ROW(0, sqrt(p));
        ROW(1, x / y);
        ROW(2, 1.0 / x);
        ROW(3, fma(x, y, p));
        ROW(4, floor(x));
        ROW(5, ceil(x));
        ROW(6, rint(x));
        ROW(7, round(x));
        ROW(8, trunc(x));
        ROW(9, fmod(x, y));
        ROW(10, remainder(x, y));
        ROW(11, copysign(x, y));
        if (x != 0 || y != 0) {
            ROW(12, fmin(x, y));
            ROW(13, fmax(x, y));
        }
        ROW(14, ldexp(x, i % 300 - 150));
        m = frexp(x, &e);
        ROW(15, m);
        if (isfinite(x)) ROW(16, (double)e);
        ROW(17, nextafter(x, y));
        ROW(18, (double)(float)x);
        /* the remainder of the nearest result, computed with fma, shows on which side it is */
        if (p > 1e-3 && p < 1e6 && fabs(y) > 1e-3 && fabs(y) < 1e6) {
            double s = x + y, t = s - x, err = (x - (s - t)) + (y - t), q = x / y, r = sqrt(p),
                   f = (double)(float)x;
            ROW(19, err < 0 ? nextafter(s, -(double)INFINITY) : s);
            s = x * y;
            err = fma(x, y, -s);
            ROW(20, (err < 0) == (s > 0) && err != 0 ? nextafter(s, 0) : s);
            err = fma(-q, y, x);
            ROW(21, err != 0 && (err > 0) == (y > 0) ? nextafter(q, (double)INFINITY) : q);
            err = fma(-r, r, p);
            ROW(22, err < 0 ? nextafter(r, 0) : r);
            ROW(23, fabs(f) > p ? (double)nextafterf((float)x, 0) : f);
            ROW(24, (double)(int64_t)rint(x));
            ROW(25, (double)(int)y);
            ROW(27, (double)(float)(int64_t)trunc(x * 1e6));
        }
#undef ROW
    }
}

CORPUS(fft) {
    int i, k, block;
    float *x = NEW(float, 1024), *y;
    gpuexec_ptr dx, dy = OUT(float, 1024);
    for (i = 0; i < 1024; i++) x[i] = between(-1, 1);
    dx = IN(x, 1024);
    LAUNCH("fft", GRID(2, 128), dx, dy);
    y = BACK(float, dy, 1024);
    for (block = 0; block < 2; block++)
        for (k = 0; k < 256; k++) {
            double re = 0, im = 0;
            for (i = 0; i < 256; i++) {
                double angle = -2 * 3.14159265358979323846 * (i * k % 256) / 256,
                       a = (double)x[512 * block + 2 * i], b = (double)x[512 * block + 2 * i + 1];
                re += a * cos(angle) - b * sin(angle);
                im += a * sin(angle) + b * cos(angle);
            }
            WITHIN(256 * block + k, y[512 * block + 2 * k], re, 2e-5);
            WITHIN(256 * block + k, y[512 * block + 2 * k + 1], im, 2e-5);
        }
}

CORPUS(graph) {
    int rows = 60, i, k, level = 3, queued = 20, zero = 0, n, *start = NEW(int, 61),
        *column = NEW(int, 3000), *distance = NEW(int, 60), *queue = NEW(int, 20), *after, *next;
    double *value = NEW(double, 3000), *x = NEW(double, 60), *y;
    gpuexec_ptr ds, dc, dv, dx, dy = OUT(double, 60), dd, dq, dnext = OUT(int, 60),
                                dn = IN(&zero, 1);
    for (i = 0; i < rows; i++) {
        start[i + 1] = start[i] + below(49);
        for (k = start[i]; k < start[i + 1]; k++) {
            column[k] = below(rows);
            value[k] = below(100) * 0.5;
        }
        x[i] = below(64) * 0.25; /* exact in any order */
        distance[i] = i < 30 ? 2 : -1;
        if (i < queued) queue[i] = i;
    }
    ds = IN(start, 61);
    dc = IN(column, 3000);
    dv = IN(value, 3000);
    dx = IN(x, 60);
    dd = IN(distance, 60);
    dq = IN(queue, 20);
    LAUNCH("spmv", GRID(15, 128), ds, dc, dv, dx, dy, rows);
    y = BACK(double, dy, rows);
    for (i = 0; i < rows; i++) {
        double s = 0;
        for (k = start[i]; k < start[i + 1]; k++) s += value[k] * x[column[k]];
        SAME(i, y[i], s);
    }
    LAUNCH("bfs", GRID(1, 32), ds, dc, dd, dq, queued, dnext, dn, level);
    after = BACK(int, dd, rows);
    n = *BACK(int, dn, 1);
    next = BACK(int, dnext, n);
    for (k = 0; k < start[queued]; k++)
        if (distance[column[k]] < 0) {
            distance[column[k]] = level;
            n--;
        }
    EQ(0, n, 0);
    for (i = 0; i < rows; i++) EQ(i, after[i], distance[i]);
    n = *BACK(int, dn, 1);
    for (i = 0; i < n; i++) { /* each once */
        EQ(i, distance[next[i]], level);
        distance[next[i]] = 99;
    }
}

CORPUS(softmax) {
    int n = 300, i, row;
    float *x = NEW(float, 3 * 300), *y, *g;
    gpuexec_ptr dx, dy = OUT(float, 3 * 300), dg = OUT(float, 3 * 300);
    for (i = 0; i < 3 * n; i++) x[i] = between(-8, 8);
    dx = IN(x, 3 * n);
    LAUNCH("softmax", GRID(3, 128), dx, dy, n);
    LAUNCH("layer_norm_gelu", GRID(3, 128), dx, dg, n);
    y = BACK(float, dy, 3 * n);
    g = BACK(float, dg, 3 * n);
    for (row = 0; row < 3; row++) {
        double most = -1e9, sum = 0, mean = 0, square = 0;
        float *r = x + row * n;
        for (i = 0; i < n; i++) {
            most = (double)r[i] > most ? (double)r[i] : most;
            mean += (double)r[i] / n;
        }
        for (i = 0; i < n; i++) {
            sum += exp((double)r[i] - most);
            square += ((double)r[i] - mean) * ((double)r[i] - mean) / n;
        }
        for (i = 0; i < n; i++) {
            double v = ((double)r[i] - mean) / sqrt(square + 1e-5),
                   want = 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
            WITHIN(i, y[row * n + i], exp((double)r[i] - most) / sum,
                    2e-6 * exp((double)r[i] - most) / sum + 1e-12);
            WITHIN(i, g[row * n + i], want, 2e-6 + 2e-6 * fabs(want));
        }
    }
}

/* 64 threads add 1, the one of the other stream 2, and, after them, 4 threads of the tail launch 3
   each. */
CORPUS_LINKED(dynamic_parallelism) {
    gpuexec_ptr p = OUT(int, 2);
    const int zero[2] = { 0, -1 };
    gpuexec_copy_in(run.stream, p, zero, sizeof zero);
    LAUNCH("parent", GRID(1, 32), p);
    EQ(0, BACK(int, p, 2)[0], 64 + 2 + 12);
    EQ(1, BACK(int, p, 2)[1], 0);
}

/* -------------------------------------------------------------------------------------------------
   Texts that the CPU device does not support, and reports. */

/* CUDA_ARRAY3D_DESCRIPTOR, CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC */
typedef struct texels {
    size_t width, height, depth;
    unsigned format, channels, flags;
} texels;
typedef struct resource {
    unsigned type;
    union {
        void *array;
        int room[32];
    } of;
    unsigned flags;
} resource;
typedef struct sampling {
    unsigned address[3], filter, flags, anisotropy, mipmap_filter;
    float bias, least, most, border[4];
    int room[12];
} sampling;
enum { FLOATS = 0x20, SURFACE = 2, CLAMP = 1 };

/* An array of floats, two-dimensional, of the context that is then current. */
static void *array_of_floats(driver_calls *cu, resource *r, size_t width, size_t height) {
    texels is;
    void *context = NULL;
    *cu = calls_find();
    CHECK_EQ(cu->cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu->cuCtxSetCurrent(context), 0);
    memset(&is, 0, sizeof is);
    memset(r, 0, sizeof *r);
    is.width = width;
    is.height = height;
    is.format = FLOATS;
    is.channels = 1;
    is.flags = SURFACE;
    CHECK_EQ(cu->cuArray3DCreate_v2(&r->of.array, &is), 0);
    return r->of.array;
}
static void end_array(driver_calls *cu, void *array) {
    CHECK_EQ(cu->cuArrayDestroy(array), 0);
    CHECK_EQ(cu->cuDevicePrimaryCtxRelease_v2(0), 0);
}
/* between host memory and all of it */
static void copy_array(driver_calls *cu, void *array, float *host, int width, int height, int to) {
    struct {
        size_t x, y;
        unsigned type;
        void *host;
        unsigned long long device;
        void *array;
        size_t pitch;
    } side[2];
    struct {
        char sides[sizeof side];
        size_t width, height;
    } plane;
    memset(side, 0, sizeof side);
    side[to].type = 3;
    side[to].array = array;
    side[!to].type = 1;
    side[!to].host = host;
    side[!to].pitch = (size_t)width * 4;
    memcpy(plane.sides, side, sizeof side);
    plane.width = (size_t)width * 4;
    plane.height = (size_t)height;
    CHECK_EQ(cu->cuMemcpy2D_v2((void *)&plane), 0);
}

/* t(x + 0.5, y + 0.5) of point filtering is the texel (x, y) */
CORPUS(texture) {
    int w = 16, h = 8, n = w * h, i;
    float *host = NEW(float, n), *o;
    driver_calls cu;
    resource r;
    sampling how;
    unsigned long long t = 0;
    gpuexec_ptr out = OUT(float, n);
    void *array = array_of_floats(&cu, &r, (size_t)w, (size_t)h);
    for (i = 0; i < n; i++) host[i] = between(-9, 9);
    copy_array(&cu, array, host, w, h, 1);
    memset(&how, 0, sizeof how);
    how.address[0] = how.address[1] = how.address[2] = CLAMP;
    CHECK_EQ(cu.cuTexObjectCreate(&t, &r, &how, NULL), 0);
    LAUNCH("sample", GRID(1, n), t, out, w);
    o = BACK(float, out, n);
    for (i = 0; i < n; i++) SAME(i, o[i], host[i]);
    CHECK_EQ(cu.cuTexObjectDestroy(t), 0);
    end_array(&cu, array);
}

CORPUS(surface) {
    enum { W = 16, H = 8 };
    float *host = NEW(float, W *H);
    int i;
    driver_calls cu;
    resource r;
    unsigned long long s = 0;
    void *array = array_of_floats(&cu, &r, W, H);
    for (i = 0; i < W * H; i++) host[i] = 5;
    copy_array(&cu, array, host, W, H, 1);
    CHECK_EQ(cu.cuSurfObjectCreate(&s, &r), 0);
    LAUNCH("paint", GRID(H - 1, W), s); /* not the last row */
    CHECK_OK(gpuexec_stream_sync(run.stream));
    copy_array(&cu, array, host, W, H, 0);
    for (i = 0; i < W * H; i++) SAME(i, host[i], i < W * (H - 1) ? 1.0f : 5.0f);
    CHECK_EQ(cu.cuSurfObjectDestroy(s), 0);
    end_array(&cu, array);
}

/* A map of 32-bit integers, with boxes of 16 x 16 and the swizzle of 64 bytes. */
typedef struct tensor_map {
    uint64_t words[16];
} tensor_map;
static tensor_map map_of(const driver_calls *cu, gpuexec_ptr address, int width, int height) {
    enum { INT32 = 3, SWIZZLE_64B = 2 };
    unsigned char room[sizeof(tensor_map) + 64];
    unsigned char *to = room + (64 - (uintptr_t)room % 64) % 64;
    const uint64_t dims[] = { (uint64_t)width, (uint64_t)height };
    const uint64_t stride = 4 * (uint64_t)width;
    const uint32_t box[] = { 16, 16 }, steps[] = { 1, 1 };
    tensor_map map;
    CHECK_EQ(cu->cuTensorMapEncodeTiled(to, INT32, 2, (void *)(uintptr_t)address, dims, &stride,
                     box, steps, 0, SWIZZLE_64B, 0, 0),
            0);
    memcpy(&map, to, sizeof map);
    return map;
}

/* The first tile begins at (-4, -3): loads fill with 0 what is out of bounds. Stores skip it. */
CORPUS(tensor_copy) {
    enum { W = 44, H = 37, TILES = 9 };
    int *host = NEW(int, W *H), b, i;
    int *wanted = NEW(int, W *H), *o, *t;
    const driver_calls cu = calls_find();
    gpuexec_ptr out = OUT(int, TILES * 256), to = OUT(int, W *H);
    tensor_map from_map, to_map;
    for (i = 0; i < W * H; i++) host[i] = (int)(rnd() >> 8);
    gpuexec_context_push(run.ctx);
    from_map = map_of(&cu, IN(host, W * H), W, H);
    to_map = map_of(&cu, to, W, H);
    gpuexec_context_pop(run.ctx);
    LAUNCH("boxes", GRID(TILES, 256), from_map, to_map, out);
    o = BACK(int, out, TILES * 256);
    t = BACK(int, to, W *H);
    for (b = 0; b < TILES; b++)
        for (i = 0; i < 256; i++) {
            const int x = b % 3 * 16 + i % 16, y = b / 3 * 16 + i / 16;
            const int in = x - 4 >= 0 && x - 4 < W && y - 3 >= 0 && y - 3 < H;
            const int value = in ? host[(y - 3) * W + x - 4] : 0;
            EQ(b, o[b * 256 + (i ^ (i >> 5 & 3) << 2)], value);
            if (x < W && y < H) wanted[y * W + x] = 2 * (value + 1);
        }
    for (i = 0; i < W * H; i++) EQ(i, t[i], wanted[i]);
}

/* Numbers with few bits: every sum is exact, in any order. */
CORPUS(wmma) {
    uint16_t *a = NEW(uint16_t, 256), *b = NEW(uint16_t, 256);
    float *c;
    int i, j, l;
    gpuexec_ptr da, db, dc = OUT(float, 256);
    for (i = 0; i < 256; i++) {
        a[i] = (uint16_t)(below(2) << 15 | (14 + below(3)) << 10 | below(4) << 8);
        b[i] = (uint16_t)(below(2) << 15 | (14 + below(3)) << 10 | below(4) << 8);
    }
    da = IN(a, 256);
    db = IN(b, 256);
    LAUNCH("wmma_gemm", GRID(1, 32), da, db, dc);
    c = BACK(float, dc, 256);
    for (i = 0; i < 16; i++)
        for (j = 0; j < 16; j++) {
            double sum = 0;
            for (l = 0; l < 16; l++) sum += half_value(a[16 * i + l]) * half_value(b[16 * j + l]);
            SAME(16 * i + j, c[16 * i + j], sum);
        }
}
