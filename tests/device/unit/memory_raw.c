/* memory_raw.c - managed memory, copies in three dimensions and in batches through the driver's own
   calls: what they do to the bytes, and when. What the calls refuse is in tests/device/probe. The
   suite keeps the CPU device faithful. */
#include "../../test.h"

typedef unsigned long long ptr; /* CUdeviceptr */
enum { NOT_SUPPORTED = 801, NOT_READY = 600 };
enum { HOST = 1, DEVICE, UNIFIED = 4 };               /* CUmemorytype */
enum { GLOBAL = 1, SINGLE = 4 };                      /* CUmemAttach_flags */
enum { IN_ORDER = 1, DURING_CALL };                   /* CUmemcpySrcAccessOrder */
enum { MANAGED_MEMORY = 83, CONCURRENT_ACCESS = 89 }; /* CUdevice_attribute */
enum { WORDS = 256, BYTES = WORDS * 4, COPIES = 50 };

typedef struct location {
    unsigned type;
    int id;
} location;
typedef struct attributes {
    unsigned order;
    location from, to;
    unsigned flags;
} attributes;
/* half of a CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER */
typedef struct side {
    size_t x, y, z, level;
    unsigned type;
    void *host;
    ptr device;
    void *array, *context;
    size_t pitch, rows;
} side;
typedef struct volume {
    side from, to;
    size_t width, height, depth;
} volume;
typedef struct operand {
    unsigned type;
    ptr address;
    size_t pitch, rows;
    location hint;
} operand;
typedef struct box {
    operand from, to;
    size_t width, height, depth;
    unsigned order, flags;
} box;


static driver_calls cu;

static const char text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .global .attribute(.managed) .align 4 .u32 shared_words[4] = { 7, 8, 9, 10 };\n"
        ".visible .entry twice(.param .u64 p, .param .u32 n) {\n"
        "    .reg .b64 %a; .reg .b32 %t, %n, %b, %v; .reg .pred %q;\n"
        "    ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; mov.u32 %t, %ctaid.x; mov.u32 %b, "
        "%ntid.x;\n"
        "    mul.lo.u32 %t, %t, %b; mov.u32 %b, %tid.x; add.u32 %t, %t, %b; setp.ge.u32 %q, %t, "
        "%n; @%q ret;\n"
        "    mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %v, [%a]; add.u32 %v, %v, %v; st.global.u32 "
        "[%a], %v; ret;\n}\n"
        ".visible .entry spin(.param .u64 p) {\n"
        "    .reg .b64 %a; .reg .b32 %v; .reg .pred %q; ld.param.u64 %a, [p];\n"
        "AGAIN: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %q, %v, 0; @%q bra AGAIN; ret;\n}\n";

static void *context, *module, *twice, *spin, *stream;
static volatile uint32_t *gate;

static void begin_on(int device) {
    void *word = NULL;
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, device), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuModuleLoadData(&module, text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&twice, module, "twice"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&spin, module, "spin"), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream, 1), 0);
    CHECK_EQ(cu.cuMemHostAlloc(&word, 64, 0), 0);
    gate = (volatile uint32_t *)word;
}
static void end(void) {
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuMemFreeHost((void *)(uintptr_t)gate), 0);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}
static void close_gate(void) {
    void *params[1];
    ptr at = (ptr)(uintptr_t)gate;
    params[0] = &at;
    *gate = 0;
    CHECK_EQ(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), 0);
}
static void open_gate(void) { __atomic_store_n((uint32_t *)(uintptr_t)gate, 1, __ATOMIC_SEQ_CST); }
static void double_words(ptr p, unsigned n) {
    void *params[2];
    params[0] = &p;
    params[1] = &n;
    CHECK_EQ(
            cu.cuLaunchKernel(twice, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL), 0);
}
static int has(int attribute) {
    int value = 0;
    CHECK_EQ(cu.cuDeviceGetAttribute(&value, attribute, 0), 0);
    return value;
}

/* The host and a kernel take turns on the same words; copies and fills of them are as of any
   memory. */
TEST(managed_memory_is_the_same_everywhere) {
    ptr p = 0, d = 0;
    uint32_t *words, i, got[WORDS];
    begin_on(0);
    if (!has(MANAGED_MEMORY)) SKIP("no managed memory");
    CHECK_EQ(cu.cuMemAllocManaged(&p, BYTES, GLOBAL), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&d, BYTES), 0);
    words = (uint32_t *)(uintptr_t)p;
    for (i = 0; i < WORDS; i++) words[i] = i;
    double_words(p, WORDS);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    for (i = 0; i < WORDS && words[i] == 2 * i; i++) {}
    CHECK_EQ(i, WORDS);
    words[5] = 1000;
    CHECK_EQ(cu.cuMemcpyAsync(d, p, BYTES, stream), 0);
    CHECK_EQ(cu.cuMemsetD32Async(p, 3, WORDS / 2, stream), 0);
    double_words(p, WORDS);
    CHECK_EQ(cu.cuMemcpyAsync(p + BYTES / 2, d, 64, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, d, BYTES), 0);
    CHECK(got[4] == 8 && got[5] == 1000 && words[0] == 6 && words[WORDS / 2 + 5] == 1000 &&
            words[WORDS / 2] == 0);
    CHECK_EQ(words[WORDS - 1], 4 * (WORDS - 1));
    if (has(CONCURRENT_ACCESS)) {
        close_gate(); /* a kernel runs, and the host goes on */
        words[0] = 77;
        CHECK_EQ(words[0], 77);
        CHECK_EQ(cu.cuStreamQuery(stream), NOT_READY);
        open_gate();
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    }
    CHECK_EQ(cu.cuStreamAttachMemAsync(stream, p, 0, SINGLE), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(words[0], has(CONCURRENT_ACCESS) ? 77 : 6);
    CHECK_EQ(cu.cuMemFree_v2(d), 0);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    end();
}

TEST(managed_variables) {
    ptr p = 0;
    size_t bytes = 0;
    begin_on(0);
    if (!has(MANAGED_MEMORY)) SKIP("no managed memory");
    CHECK_EQ(cu.cuModuleGetGlobal_v2(&p, &bytes, module, "shared_words"), 0);
    CHECK_EQ(bytes, 16);
    CHECK_EQ(((uint32_t *)(uintptr_t)p)[3], 10);
    ((uint32_t *)(uintptr_t)p)[0] = 21;
    double_words(p, 4);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK(((uint32_t *)(uintptr_t)p)[0] == 42 && ((uint32_t *)(uintptr_t)p)[1] == 16);
    CHECK_EQ(cu.cuMemFree_v2(p), 1);
    end();
}

/* What was said of a part of the pages is not said of all. */
TEST(advice_is_remembered) {
    enum { PAGES = 65536, ALL = 8 * PAGES, MOSTLY_READ = 1, PREFERRED = 3 };
    enum { IS_MOSTLY_READ = 1, IS_PREFERRED, PREFETCHED = 4 };
    ptr p = 0;
    int value = 0;
    begin_on(0);
    if (!has(MANAGED_MEMORY) || !has(CONCURRENT_ACCESS))
        SKIP("no managed memory that the host may use at any time");
    CHECK_EQ(cu.cuMemAllocManaged(&p, ALL, GLOBAL), 0);
    CHECK_EQ(cu.cuMemAdvise(p, ALL, MOSTLY_READ, 0), 0);
    CHECK_EQ(cu.cuMemAdvise(p, PAGES, PREFERRED, -1), 0);
    CHECK_EQ(cu.cuMemPrefetchAsync(p + PAGES, ALL - PAGES, 0, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
#define IS(attribute, at, bytes, expected) \
    CHECK_EQ(cu.cuMemRangeGetAttribute(&value, sizeof value, attribute, at, bytes), 0); \
    CHECK_EQ(value, expected)
    IS(IS_MOSTLY_READ, p, ALL, 1);
    IS(IS_PREFERRED, p, PAGES, -1);
    IS(IS_PREFERRED, p, ALL, -2);
    IS(PREFETCHED, p + PAGES, PAGES, 0);
    IS(PREFETCHED, p, ALL, -2);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    end();
}

/* --- volumes: random copies, compared with the same copies by the host --- */

enum { ROW = 48, ROWS = 10, SLICES = 6, VOLUME = ROW * ROWS * SLICES };
typedef struct place {
    unsigned char *host, *model;
    ptr address;
    unsigned type;
} place;

static size_t draw(uint32_t *seed, size_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}
static void fill_side(uint32_t *seed, side *s, const place *p, const volume *v) {
    s->pitch = v->width + draw(seed, ROW - v->width + 1);
    s->rows = v->height + draw(seed, ROWS - v->height + 1);
    s->x = draw(seed, s->pitch - v->width + 1);
    s->y = draw(seed, s->rows - v->height + 1);
    s->z = draw(seed, SLICES - v->depth + 1);
    s->type = p->type;
    s->host = p->host;
    s->device = p->address;
}
static unsigned char *byte_at(const side *s, unsigned char *base, size_t x, size_t y, size_t z) {
    return base + ((s->z + z) * s->rows + s->y + y) * s->pitch + s->x + x;
}
static void copy_model(const volume *v, unsigned char *to, unsigned char *from) {
    size_t x, y, z;
    for (z = 0; z < v->depth; z++)
        for (y = 0; y < v->height; y++)
            for (x = 0; x < v->width; x++)
                *byte_at(&v->to, to, x, y, z) = *byte_at(&v->from, from, x, y, z);
}
static int copy_in_graph(const volume *v) {
    void *graph = NULL, *exec = NULL;
    CHECK_EQ(cu.cuStreamBeginCapture_v2(stream, 1), 0);
    CHECK_EQ(cu.cuMemcpy3DAsync_v2(v, stream), 0);
    CHECK_EQ(cu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_EQ(cu.cuGraphLaunch(exec, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(exec), 0);
    return cu.cuGraphDestroy(graph);
}
static int copy_as_box(const volume *v) {
    box b;
    size_t bad = 0;
    memset(&b, 0, sizeof b);
    b.from.type = b.to.type = 1;
    b.from.address = (v->from.type == HOST ? (ptr)(uintptr_t)v->from.host : v->from.device) +
            (v->from.z * v->from.rows + v->from.y) * v->from.pitch + v->from.x;
    b.to.address = (v->to.type == HOST ? (ptr)(uintptr_t)v->to.host : v->to.device) +
            (v->to.z * v->to.rows + v->to.y) * v->to.pitch + v->to.x;
    b.from.pitch = v->from.pitch;
    b.from.rows = v->from.rows;
    b.to.pitch = v->to.pitch;
    b.to.rows = v->to.rows;
    b.width = v->width;
    b.height = v->height;
    b.depth = v->depth;
    b.order = IN_ORDER;
    return cu.cuMemcpy3DBatchAsync(1, &b, &bad, 0, stream);
}

TEST(volumes) {
    place p[4];
    uint32_t seed = 16;
    unsigned i, k;
    void *pinned = NULL;
    begin_on(0);
    memset(p, 0, sizeof p);
    CHECK_EQ(cu.cuMemAlloc_v2(&p[0].address, VOLUME), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p[1].address, VOLUME), 0);
    CHECK_EQ(cu.cuMemHostAlloc(&pinned, VOLUME, 0), 0);
    p[0].type = p[1].type = DEVICE;
    p[2].type = p[3].type = HOST;
    p[2].host = (unsigned char *)pinned;
    p[3].host = (unsigned char *)malloc(VOLUME);
    for (i = 0; i < 4; i++) {
        p[i].model = (unsigned char *)malloc(VOLUME);
        for (k = 0; k < VOLUME; k++) p[i].model[k] = (unsigned char)draw(&seed, 256);
        if (p[i].host) memcpy(p[i].host, p[i].model, VOLUME);
        else CHECK_EQ(cu.cuMemcpyHtoD_v2(p[i].address, p[i].model, VOLUME), 0);
    }
    for (i = 0; i < 6 * COPIES; i++) {
        const size_t from = draw(&seed, 4), to = (from + 1 + draw(&seed, 3)) % 4,
                     how = draw(&seed, 6);
        volume v;
        int result;
        memset(&v, 0, sizeof v);
        v.width = 1 + draw(&seed, ROW);
        v.height = 1 + draw(&seed, ROWS);
        v.depth = 1 + draw(&seed, SLICES);
        fill_side(&seed, &v.from, &p[from], &v);
        fill_side(&seed, &v.to, &p[to], &v);
        if (how == 2 || how == 3) v.from.context = v.to.context = context;
        result = how == 0                             ? cu.cuMemcpy3D_v2(&v)
                : how == 2                            ? cu.cuMemcpy3DPeer(&v)
                : how == 3                            ? cu.cuMemcpy3DPeerAsync(&v, stream)
                : how == 4                            ? copy_in_graph(&v)
                : how == 5 && cu.cuMemcpy3DBatchAsync ? copy_as_box(&v)
                                                      : cu.cuMemcpy3DAsync_v2(&v, stream);
        CHECK_EQ(result, 0);
        CHECK_EQ(cu.cuStreamSynchronize(how == 0 || how == 2 ? NULL : stream), 0);
        copy_model(&v, p[to].model, p[from].model);
    }
    for (i = 0; i < 4; i++) {
        unsigned char *got = p[i].host;
        if (!got) {
            got = (unsigned char *)malloc(VOLUME);
            CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p[i].address, VOLUME), 0);
            CHECK_EQ(cu.cuMemFree_v2(p[i].address), 0);
        }
        CHECK(memcmp(got, p[i].model, VOLUME) == 0);
        if (i != 2) free(got);
        free(p[i].model);
    }
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    end();
}

/* On the CPU device a stride that is too large meets addresses of no allocation, whatever it
   allocated before. The thread sanitizer leaves it too few addresses for that. */
#ifdef __SANITIZE_THREAD__
enum { FEW_ADDRESSES = 1 };
#else
enum { FEW_ADDRESSES = 0 };
#endif
TEST(allocations_are_far_apart) {
    enum { N = 100, LEAST = 64 << 10 };
    ptr at[4 * N], first, second;
    int i, k;
    begin_on(0);
    if (!on_cpu_device()) SKIP("a GPU's allocations are close together");
    if (FEW_ADDRESSES) SKIP("the thread sanitizer takes most addresses");
    for (i = 0; i < N; i++) {
        void *pinned = NULL;
        CHECK_EQ(cu.cuMemAlloc_v2(&at[i], 1 + 700 * (size_t)i), 0);
        CHECK_EQ(cu.cuMemAllocAsync(&at[N + i], 256, stream), 0);
        CHECK_EQ(cu.cuMemAllocManaged(&at[2 * N + i], 256, GLOBAL), 0);
        CHECK_EQ(cu.cuMemHostAlloc(&pinned, 256, 0), 0);
        at[3 * N + i] = (ptr)(uintptr_t)pinned;
    }
    for (i = 0; i < 4 * N; i++)
        for (k = 0; k < i; k++) {
            const int lower = at[i] < at[k] ? i : k;
            first = at[lower] + (lower < N ? 1 + 700 * (size_t)lower : 256);
            second = at[i] < at[k] ? at[k] : at[i];
            CHECK(second >= first + LEAST);
        }
    for (i = 0; i < 4 * N; i += N) { /* a word behind each kind is not there */
        CHECK_EQ(cu.cuMemsetD32Async(at[i] + 1024, 1, 1, stream), 1);
        CHECK_EQ(cu.cuMemsetD32Async(at[i] + LEAST, 1, 1, stream), 1);
    }
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    for (i = 0; i < N; i++) {
        CHECK_EQ(cu.cuMemFree_v2(at[i]), 0);
        CHECK_EQ(cu.cuMemFreeAsync(at[N + i], stream), 0);
        CHECK_EQ(cu.cuMemFree_v2(at[2 * N + i]), 0);
        CHECK_EQ(cu.cuMemFreeHost((void *)(uintptr_t)at[3 * N + i]), 0);
    }
    end();
}

/* cuMemFree of memory of a pool waits for nothing. If its allocation is still pending on a stream,
   other streams use the memory only after what that stream does with it. */
static ptr free_pending(uint32_t *got) {
    ptr p = 0, q = 0;
    CHECK_EQ(cu.cuMemAllocAsync(&p, BYTES, stream), 0);
    CHECK_EQ(cu.cuMemsetD32Async(p, 3, WORDS, stream), 0);
    close_gate();
    double_words(p, WORDS);
    CHECK_EQ(cu.cuMemcpyAsync((ptr)(uintptr_t)got, p, BYTES, stream), 0);
    CHECK_EQ(cu.cuMemFreeAsync(p, stream), 0);
    CHECK_EQ(cu.cuMemAllocAsync(&q, BYTES, stream), 0);
    CHECK(q == p || getenv("SIMGPU_SCHEDULE")); /* which may prefer other memory */
    CHECK_EQ(cu.cuMemFree_v2(q), 0);
    CHECK_EQ(cu.cuMemFree_v2(q), 1);
    return p;
}
TEST(a_free_of_memory_whose_allocation_is_pending) {
    ptr p, q = 0, r = 0;
    void *other = NULL, *memory = NULL;
    uint32_t *got;
    begin_on(0);
    if (!on_cpu_device()) SKIP("a GPU may wait for the kernel");
    CHECK_EQ(cu.cuMemHostAlloc(&memory, 3 * BYTES, 0), 0);
    got = (uint32_t *)memory;
    CHECK_EQ(cu.cuStreamCreate(&other, 1), 0);
    p = free_pending(got);
    CHECK_EQ(cu.cuMemAllocAsync(&r, BYTES, other), 0);
    CHECK(r != p);
    CHECK_EQ(cu.cuMemsetD32Async(r, 7, WORDS, other), 0);
    CHECK_EQ(cu.cuStreamSynchronize(other), 0);
    CHECK_EQ(cu.cuMemAllocAsync(&q, BYTES, stream), 0);
    CHECK(q == p || getenv("SIMGPU_SCHEDULE"));
    CHECK_EQ(cu.cuMemsetD32Async(q, 9, WORDS, stream), 0);
    CHECK_EQ(cu.cuMemcpyAsync((ptr)(uintptr_t)(got + WORDS), q, BYTES, stream), 0);
    open_gate();
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyAsync((ptr)(uintptr_t)(got + 2 * WORDS), r, BYTES, other), 0);
    CHECK_EQ(cu.cuStreamSynchronize(other), 0);
    CHECK_EQ(got[WORDS - 1], 6);
    CHECK_EQ(got[2 * WORDS - 1], 9);
    CHECK_EQ(got[3 * WORDS - 1], 7);
    CHECK_EQ(cu.cuMemFreeAsync(q, stream), 0);
    CHECK_EQ(cu.cuMemFreeAsync(r, other), 0);
    CHECK_EQ(cu.cuStreamSynchronize(other), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(other), 0);
    CHECK_EQ(cu.cuMemFreeHost(memory), 0);
    end();
}
TEST_ALONE(a_kernel_that_uses_such_memory) {
    void *memory = NULL;
    ptr p;
    begin_on(0);
    if (!on_cpu_device()) SKIP("not on the CPU device");
    CHECK_EQ(cu.cuMemHostAlloc(&memory, BYTES, 0), 0);
    p = free_pending((uint32_t *)memory);
    open_gate();
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    double_words(p, WORDS);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}

/* A batch runs in the order of the stream. A source that is read during the call may change as soon
   as the call returns. */
TEST(batches) {
    enum { N = 32 };
    ptr d = 0, to[N], from[N];
    size_t sizes[N], starts[2] = { 0, N / 2 }, bad = 0;
    uint32_t *pinned, got[WORDS], i;
    uint32_t sources[N];
    attributes how[2];
    void *memory = NULL;
    begin_on(0);
    if (!cu.cuMemcpyBatchAsync) SKIP("no batches of copies: they need CUDA 12.8");
    CHECK_EQ(cu.cuMemAlloc_v2(&d, BYTES), 0);
    CHECK_EQ(cu.cuMemHostAlloc(&memory, BYTES, 0), 0);
    pinned = (uint32_t *)memory;
    memset(how, 0, sizeof how);
    how[0].order = IN_ORDER;
    how[1].order = DURING_CALL;
    for (i = 0; i < N; i++) {
        to[i] = d + 4 * i;
        from[i] = i < N / 2 ? (ptr)(uintptr_t)(pinned + i) : (ptr)(uintptr_t)(sources + i);
        sizes[i] = 4;
        pinned[i] = 0;
        sources[i] = 100 + i;
    }
    close_gate();
    CHECK_EQ(cu.cuMemsetD32Async(d, 1, WORDS, stream), 0);
    CHECK_EQ(cu.cuMemcpyBatchAsync(to, from, sizes, N, how, starts, 2, &bad, stream), 0);
    double_words(d, WORDS);
    for (i = 0; i < N; i++) {
        pinned[i] = 200 + i; /* in the order of the stream */
        sources[i] = 0;
    }
    CHECK_EQ(cu.cuStreamQuery(stream), NOT_READY);
    open_gate();
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, d, BYTES), 0);
    for (i = 0; i < N && got[i] == 2 * (i < N / 2 ? 200 + i : 100 + i); i++) {}
    CHECK_EQ(i, N);
    CHECK_EQ(got[N], 2);
    CHECK_EQ(cu.cuMemFree_v2(d), 0);
    CHECK_EQ(cu.cuMemFreeHost(memory), 0);
    end();
}
