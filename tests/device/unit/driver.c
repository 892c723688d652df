/* driver.c - the driver's entry points: which arguments they refuse, what they return, and what
   happens to pending work when its objects are destroyed. The suite keeps the CPU device faithful,
   and shows which results of a driver the library can rely on. The refusals are those of an H200
   with driver 580. (doc) means that the documentation says so and no GPU was tested, or that
   drivers differ; such a test accepts everything that the documentation allows. */
#include "../../test.h"

enum { MOST = 8, BLOCKS = 4, THREADS = 128 };
enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    UNSUPPORTED_LIMIT = 215,
    FILE_NOT_FOUND = 301,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    TIMED_OUT = 702,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    INVALID_CLUSTER = 912
};
enum { HOST = 1, DEVICE, ARRAY, UNIFIED };
typedef unsigned long long ptr; /* CUdeviceptr */

/* CUDA_MEMCPY2D */
typedef struct copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    ptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;
typedef struct attribute {
    unsigned id, pad;
    union {
        char size[64];
        int flag;
        unsigned dim[3];
    } value;
} attribute; /* CUlaunchAttribute */
/* CUlaunchConfig */
typedef struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    attribute *list;
    unsigned n;
} config;

static driver_calls cu;

static const char text[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry nop() { ret; }\n"
        ".visible .entry gate(.param .u64 word) {\n" /* waits until *word is not 0 */
        "    .reg .pred %p; .reg .u32 %r; .reg .u64 %a; ld.param.u64 %a, [word];\n"
        "AGAIN: ld.volatile.u32 %r, [%a]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN; ret;\n}\n"
        ".visible .entry mark(.param .u64 out, .param .u32 value) {\n"
        "    .reg .u32 %r; .reg .u64 %a; ld.param.u64 %a, [out]; ld.param.u32 %r, [value]; "
        "st.volatile.u32 [%a], %r; ret;\n}\n"
        /* like gate; *out = 1, or 2 after ns of waiting */
        ".visible .entry patience(.param .u64 word, .param .u64 ns, .param .u64 out) {\n"
        "    .reg .pred %p; .reg .u32 %r; .reg .u64 %a, %o, %t, %end;\n"
        "    ld.param.u64 %a, [word]; ld.param.u64 %o, [out]; ld.param.u64 %end, [ns]; mov.u64 %t, "
        "%globaltimer; add.u64 %end, %end, %t;\n"
        "AGAIN: ld.volatile.u32 %r, [%a]; setp.ne.u32 %p, %r, 0; @%p bra CAME;\n"
        "    mov.u64 %t, %globaltimer; setp.lt.u64 %p, %t, %end; @%p bra AGAIN; mov.u32 %r, 2; "
        "st.volatile.u32 [%o], %r; ret;\n"
        "CAME: mov.u32 %r, 1; st.volatile.u32 [%o], %r; ret;\n}\n"
        ".visible .entry broken(.param .u64 word) {\n"
        "    .reg .pred %p; .reg .u32 %r; .reg .u64 %a; ld.param.u64 %a, [word];\n"
        "AGAIN: ld.volatile.u32 %r, [%a]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN; trap;\n}\n"
        /* Block b of each device synchronises with block b of all others, repeatedly. Thread t
           writes a word and the round's number to flag [b][me] of device t, and waits for flag
           [b][t] on its device; then all threads check the words. There are two sets of words,
           because the others can be one round ahead. */
        ".visible .entry meet(.param .u64 table, .param .u32 n, .param .u32 me, .param .u32 "
        "rounds, .param .u64 wrong) {\n"
        "    .reg .pred %p, %waits; .reg .u32 %n, %me, %peer, %r, %v, %last, %bad, %d; .reg .u64 "
        "%tab, %a, %o, %set, %theirs, %mine;\n"
        "    ld.param.u64 %tab, [table]; ld.param.u32 %n, [n]; ld.param.u32 %me, [me]; "
        "ld.param.u32 %last, [rounds];\n"
        "    mov.u32 %v, %tid.x; setp.lt.u32 %waits, %v, %n; rem.u32 %peer, %v, %n; mov.u32 %v, "
        "%ctaid.x; mul.wide.u32 %o, %v, 32;\n"
        "    mul.wide.u32 %a, %me, 8; add.u64 %a, %tab, %a; ld.u64 %mine, [%a]; add.u64 %mine, "
        "%mine, %o;\n"
        "    mul.wide.u32 %a, %peer, 4; add.u64 %mine, %mine, %a;\n"
        "    mul.wide.u32 %a, %peer, 8; add.u64 %a, %tab, %a; ld.u64 %theirs, [%a]; add.u64 "
        "%theirs, %theirs, %o;\n"
        "    mul.wide.u32 %a, %me, 4; add.u64 %theirs, %theirs, %a; mov.u32 %r, 1; mov.u32 %bad, "
        "0;\n"
        "ROUND: barrier.sync 0; and.b32 %v, %r, 1; mul.wide.u32 %set, %v, 1024; @!%waits bra "
        "JOIN;\n"
        "    mad.lo.u32 %d, %r, 7, %me; add.u64 %a, %theirs, %set; st.relaxed.sys.u32 [%a+1024], "
        "%d; st.release.sys.u32 [%theirs], %r;\n"
        "SPIN: ld.acquire.sys.u32 %v, [%mine]; setp.lt.u32 %p, %v, %r; @%p bra SPIN;\n"
        "JOIN: barrier.sync 0; add.u64 %a, %mine, %set; ld.relaxed.sys.u32 %v, [%a+1024]; "
        "mad.lo.u32 %d, %r, 7, %peer;\n"
        "    setp.ne.u32 %p, %v, %d; @%p add.u32 %bad, %bad, 1; add.u32 %r, %r, 1; setp.le.u32 %p, "
        "%r, %last; @%p bra ROUND;\n"
        "    setp.ne.u32 %p, %bad, 0; ld.param.u64 %a, [wrong]; @%p red.add.u32 [%a], %bad; "
        "ret;\n}\n";

/* words: pinned, 4 KiB of zeros */
typedef struct device {
    void *context, *module, *stream;
    uint32_t *words;
    ptr address;
} device;
static device on[MOST];
static int used;

static void *kernel(int i, const char *name) {
    void *f = NULL;
    CHECK_EQ(cu.cuModuleGetFunction(&f, on[i].module, name), 0);
    return f;
}

static int launch(void *f, void *stream, unsigned grid, unsigned block, void **arguments) {
    return cu.cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, stream, arguments, NULL);
}

static void set_word(int i, int k, uint32_t value) {
    __atomic_store_n(&on[i].words[k], value, __ATOMIC_SEQ_CST);
}
static uint32_t word(int i, int k) { return __atomic_load_n(&on[i].words[k], __ATOMIC_SEQ_CST); }
static int close_gate(void *f, void *stream, int i, int k) {
    ptr address = on[i].address + 4u * (unsigned)k;
    void *a[1];
    a[0] = &address;
    set_word(i, k, 0);
    return launch(f, stream, 1, 1, a);
}
static int becomes(int i, int k, uint32_t value) {
    TEST_UNTIL(word(i, k) == value);
    return word(i, k) == value;
}

/* Starts from `least` to `most` devices, each with its primary context, a stream, the module and
   pinned words; the context of device 0 is current. Returns NULL, or the reason why it is not
   possible. */
static const char *start(int least, int most) {
    int i;
    if ((used = gpuexec_device_count()) < least)
        return least < 2 ? "needs a device" : "needs two devices";
    cu = calls_find();
    if (used > most) used = most;
    for (i = used; i-- > 0;) {
        device *d = &on[i];
        void *p = NULL;
        if (cu.cuDevicePrimaryCtxRetain(&d->context, i) || cu.cuCtxSetCurrent(d->context) ||
                cu.cuModuleLoadData(&d->module, text) ||
                cu.cuStreamCreateWithPriority(&d->stream, 1, 0) || cu.cuMemAllocHost_v2(&p, 4096)) {
            CHECK(0 && "the device's objects could be made");
            return "not made";
        }
        d->words = (uint32_t *)p;
        d->address = (ptr)(uintptr_t)p;
        memset(p, 0, 4096);
    }
    return NULL;
}

static void finish(void) {
    int i;
    for (i = 0; i < used; i++) {
        CHECK_EQ(cu.cuCtxSetCurrent(on[i].context), 0);
        CHECK_EQ(cu.cuStreamDestroy_v2(on[i].stream), 0);
        CHECK_EQ(cu.cuModuleUnload(on[i].module), 0);
        CHECK_EQ(cu.cuMemFreeHost(on[i].words), 0);
        CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(i), 0);
    }
    cu.cuCtxSetCurrent(NULL);
}

#define START(least, most) \
    do { \
        const char *why = start(least, most); \
        if (why) SKIP(why); \
    } while (0)
#define NEEDS(call) \
    do { \
        if (!cu.call) { \
            finish(); \
            SKIP("the driver has no " #call); \
        } \
    } while (0)

/* --- contexts --- */

TEST(attach_and_detach) {
    void *a = NULL, *b = NULL, *c = NULL;
    START(1, 1);
    CHECK_EQ(cu.cuCtxCreate_v2(&a, 0, 0), 0);
    CHECK_EQ(cu.cuCtxAttach(NULL, 0), INVALID_VALUE);
    CHECK_EQ(cu.cuCtxAttach(&b, 1), INVALID_VALUE);
    CHECK_EQ(cu.cuCtxAttach(&b, 0), 0);
    CHECK(b == a);
    CHECK_EQ(cu.cuCtxDetach(a), 0); /* the first of two */
    CHECK_EQ(cu.cuCtxGetCurrent(&c), 0);
    CHECK(c == a);
    CHECK_EQ(cu.cuCtxSetCurrent(on[0].context), 0);
    CHECK_EQ(cu.cuCtxDetach(a), INVALID_CONTEXT); /* it must be current */
    CHECK_EQ(cu.cuCtxSetCurrent(a), 0);
    CHECK_EQ(cu.cuCtxDetach(a), 0); /* the last detach destroys it, and no context is current */
    CHECK_EQ(cu.cuCtxGetCurrent(&c), 0);
    CHECK(c != a);
    CHECK_EQ(cu.cuCtxSetCurrent(on[0].context), 0);
    finish();
}

TEST(queries_of_contexts) {
    void *a = NULL, *of = NULL;
    unsigned version = 0, flags = 99;
    int active = 99, least = 99, greatest = 99;
    unsigned long long id = 0, other = 0;
    START(1, 1);
    CHECK_EQ(cu.cuDevicePrimaryCtxGetState(0, &flags, &active), 0);
    CHECK_EQ(active, 1);
    CHECK_EQ(flags & 7, 0);
    CHECK(cu.cuDevicePrimaryCtxGetState(99, &flags, &active) != 0);
    CHECK_EQ(cu.cuCtxGetStreamPriorityRange(&least, &greatest), 0);
    CHECK(least == 0 && greatest <= 0);
    CHECK_EQ(cu.cuCtxGetStreamPriorityRange(NULL, NULL), 0);
    CHECK_EQ(cu.cuCtxCreate_v2(&a, 1, 0), 0); /* spins */
    CHECK_EQ(cu.cuCtxGetApiVersion(a, &version), 0);
    CHECK_EQ(version, 3020);
    CHECK_EQ(cu.cuCtxGetApiVersion(NULL, &version), 0);
    CHECK_EQ(cu.cuCtxGetFlags(&flags), 0);
    CHECK_EQ(flags & 7, 1);
    CHECK_EQ(cu.cuStreamGetCtx(NULL, &of), 0);
    CHECK(of == a);
    /* the stream's context, not the current one */
    CHECK_EQ(cu.cuStreamGetCtx(on[0].stream, &of), 0);
    CHECK(of == on[0].context);
    if (cu.cuCtxGetId) {
        CHECK_EQ(cu.cuCtxGetId(a, &id), 0);
        CHECK_EQ(cu.cuCtxGetId(NULL, &other), 0);
        CHECK(id == other);
        CHECK_EQ(cu.cuCtxGetId(on[0].context, &other), 0);
        CHECK(id != other);
    }
    CHECK_EQ(cu.cuCtxDestroy_v2(a), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(on[0].context), 0);
    finish();
}

TEST(limits) {
    size_t value = 0, stack = 0;
    int i;
    START(1, 1);
    for (i = 0; i < 3; i++) {
        CHECK_EQ(cu.cuCtxGetLimit(&value, i), 0);
        CHECK(value > 0);
    }
    CHECK_EQ(cu.cuCtxGetLimit(&stack, 0), 0);
    CHECK_EQ(cu.cuCtxSetLimit(0, 4096), 0);
    CHECK_EQ(cu.cuCtxGetLimit(&value, 0), 0);
    CHECK(value >= 4096 && value < 8192); /* a driver can round up */
    CHECK_EQ(cu.cuCtxSetLimit(0, stack), 0);
    CHECK_EQ(cu.cuCtxSetLimit(1, 2 << 20), 0);
    CHECK_EQ(cu.cuCtxGetLimit(&value, 1), 0);
    CHECK(value >= 2 << 20);
    CHECK_EQ(cu.cuCtxSetLimit(1, 100), 0);
    CHECK_EQ(cu.cuCtxGetLimit(&value, 1), 0);
    CHECK(value >= 100);
    CHECK_EQ(cu.cuCtxSetLimit(0, 1 << 20), INVALID_VALUE); /* no device has such stacks */
    CHECK_EQ(cu.cuCtxGetLimit(NULL, 0), INVALID_VALUE);
    i = cu.cuCtxGetLimit(&value, 99);
    CHECK(i == INVALID_VALUE || i == UNSUPPORTED_LIMIT); /* (doc) the second */
    i = cu.cuCtxSetLimit(99, 1);
    CHECK(i == INVALID_VALUE || i == UNSUPPORTED_LIMIT);
    finish();
}

/* --- streams --- */

static int query_ptsz(void *user) {
    int (*query)(void *);
    memcpy(&query, user, sizeof query);
    return query(NULL);
}

typedef struct other_thread {
    int answers[4];
    int (*query)(void *);
} other_thread;
static void *from_another_thread(void *user) {
    other_thread *t = (other_thread *)user;
    t->answers[0] = cu.cuCtxSetCurrent(on[0].context);
    t->answers[1] = cu.cuStreamQuery((void *)2);
    t->answers[2] = cu.cuStreamSynchronize((void *)2);
    t->answers[3] = t->query ? query_ptsz(&t->query) : 0;
    return NULL;
}

/* The handle 2 is a separate stream on each thread; with the flag, cuGetProcAddress returns
   functions for which NULL is that stream. */
TEST(per_thread_streams) {
    int (*query)(void *) = NULL, priority = 99;
    unsigned flags = 99;
    void *symbol = NULL, *gate;
    other_thread t;
    pthread_t thread;
    START(1, 1);
    gate = kernel(0, "gate");
    CHECK_EQ(cu.cuGetProcAddress("cuStreamQuery", &symbol, 11030, 2), 0);
    CHECK(symbol != NULL && symbol != gpuexec_driver_symbol("cuStreamQuery", 2000));
    CHECK_EQ(cu.cuGetProcAddress("cuStreamQuery", &symbol, 11030, 99), INVALID_VALUE);
    CHECK_EQ(cu.cuGetProcAddress("cuStreamQuery", &symbol, 11030, 2), 0);
    memcpy(&query, &symbol, sizeof query);
    memset(&t, 0xff, sizeof t);
    t.query = query;
    CHECK_EQ(cu.cuStreamGetFlags((void *)2, &flags), 0);
    CHECK_EQ(cu.cuStreamGetPriority((void *)2, &priority), 0);
    CHECK_EQ(priority, 0);
    CHECK_EQ(close_gate(gate, (void *)2, 0, 0), 0);
    CHECK_EQ(cu.cuStreamQuery((void *)2), NOT_READY);
    if (query) CHECK_EQ(query_ptsz(&query), NOT_READY);
    CHECK_EQ(pthread_create(&thread, NULL, from_another_thread, &t), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(t.answers[0] == 0 && t.answers[1] == 0 && t.answers[2] == 0 && t.answers[3] == 0);
    set_word(0, 0, 1);
    CHECK_EQ(cu.cuStreamSynchronize((void *)2), 0);
    CHECK(cu.cuStreamDestroy_v2(NULL) == INVALID_HANDLE &&
            cu.cuStreamDestroy_v2((void *)1) == INVALID_HANDLE &&
            cu.cuStreamDestroy_v2((void *)2) == INVALID_HANDLE);
    finish();
}

TEST(queries_of_streams) {
    void *s = NULL;
    int priority = 99, least, greatest;
    unsigned flags = 99;
    unsigned long long a = 0, b = 0;
    START(1, 1);
    CHECK_EQ(cu.cuCtxGetStreamPriorityRange(&least, &greatest), 0);
    CHECK_EQ(cu.cuStreamCreateWithPriority(&s, 0, greatest - 5), 0); /* clamped */
    CHECK_EQ(cu.cuStreamGetPriority(s, &priority), 0);
    CHECK_EQ(priority, greatest);
    CHECK_EQ(cu.cuStreamGetFlags(s, &flags), 0);
    CHECK_EQ(flags, 0);
    CHECK_EQ(cu.cuStreamGetFlags(on[0].stream, &flags), 0);
    CHECK_EQ(flags, 1);
    CHECK_EQ(cu.cuStreamGetFlags(NULL, &flags), 0);
    CHECK_EQ(flags, 0);
    CHECK(cu.cuStreamGetFlags(s, NULL) == INVALID_VALUE &&
            cu.cuStreamGetPriority(s, NULL) == INVALID_VALUE);
    if (cu.cuStreamGetId) {
        CHECK_EQ(cu.cuStreamGetId(s, &a), 0);
        CHECK_EQ(cu.cuStreamGetId(on[0].stream, &b), 0);
        CHECK(a != b);
    }
    CHECK_EQ(cu.cuStreamDestroy_v2(s), 0);
    finish();
}

static void set_from_callback(void *stream, int error, void *user) {
    *(uint32_t *)user = stream == on[0].stream && error == 0 ? 1 : 2;
}

TEST(callbacks) {
    START(1, 1);
    CHECK_EQ(
            cu.cuStreamAddCallback(on[0].stream, set_from_callback, on[0].words, 1), INVALID_VALUE);
    CHECK_EQ(cu.cuStreamAddCallback(on[0].stream, NULL, on[0].words, 0), INVALID_VALUE);
    CHECK_EQ(cu.cuStreamAddCallback(on[0].stream, set_from_callback, on[0].words, 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
    CHECK_EQ(word(0, 0), 1);
    finish();
}

/* Streams wait for a value and write one, in device memory and in pinned memory. */
TEST(streams_wait_for_values) {
    enum { GEQ, EQ, AND, NOR };
    static const struct {
        uint32_t how, value, misses, hits;
    } cases[] = {
        { GEQ, 5, 4, 6 },
        { GEQ, 2, 0xfffffff0u, 3 },
        { EQ, 7, 8, 7 },
        { AND, 6, 9, 12 },
        { NOR, 0xfffffff0u, 0xfu, 7 },
    };
    void *s = NULL;
    ptr p = 0, host;
    unsigned i;
    uint64_t wide = 0;
    START(1, 1);
    NEEDS(cuStreamWaitValue32_v2);
    host = on[0].address;
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 0);
    CHECK_EQ(cu.cuMemsetD8_v2(p, 0, 64), 0);
    CHECK_EQ(cu.cuStreamCreateWithPriority(&s, 1, 0), 0);
    if (cu.cuStreamWriteValue32_v2(s, p, 1, 0) == NOT_SUPPORTED) {
        finish();
        SKIP("the driver has no stream memory operations");
    }
    CHECK_EQ(cu.cuStreamWaitValue32_v2(s, p + 2, 0, GEQ), INVALID_VALUE);
    CHECK_EQ(cu.cuStreamWaitValue32_v2(s, 0, 0, GEQ), INVALID_VALUE);
    CHECK_EQ(cu.cuStreamWriteValue32_v2(s, p + 2, 0, 0), INVALID_VALUE);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int on_device = (int)(i & 1);
        ptr at = on_device ? p : host;
        set_word(0, 1, 0);
        CHECK_EQ(cu.cuStreamWriteValue32_v2(on[0].stream, at, cases[i].misses, 0), 0);
        CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
        CHECK_EQ(cu.cuStreamWaitValue32_v2(s, at, cases[i].value, cases[i].how), 0);
        CHECK_EQ(cu.cuStreamWriteValue32_v2(s, host + 4, i + 1, 0), 0);
        test_sleep_ms(5); /* not order: it could go on */
        CHECK_EQ(cu.cuStreamQuery(s), NOT_READY);
        CHECK_EQ(word(0, 1), 0);
        CHECK_EQ(cu.cuStreamWriteValue32_v2(on[0].stream, at, cases[i].hits, 0), 0);
        CHECK_EQ(cu.cuStreamSynchronize(s), 0);
        CHECK_EQ(word(0, 1), i + 1);
    }
    if (cu.cuStreamWriteValue64_v2(s, p + 8, 0x123456789abcull, 0) == 0) {
        CHECK_EQ(cu.cuStreamWaitValue64_v2(s, p + 8, 0x123456789abcull, EQ), 0);
        CHECK_EQ(cu.cuStreamSynchronize(s), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(&wide, p + 8, 8), 0);
        CHECK(wide == 0x123456789abcull);
    }
    CHECK_EQ(cu.cuStreamDestroy_v2(s), 0);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    finish();
}

/* --- memory --- */

/* Copies a rectangle from pageable to device to pinned memory and back to pageable, by each name of
   the call. */
TEST(copies_of_rectangles) {
    enum { W = 37, H = 9, PITCH = 64 };
    unsigned char in[H * PITCH], out[H * PITCH];
    copy_2d c;
    ptr p = 0, none = 0;
    size_t pitch = 0, i, k;
    int round;
    START(1, 1);
    for (i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i * 7 + 1);
    CHECK_EQ(cu.cuMemAllocPitch_v2(&p, &pitch, 3 + W, 2 + H, 4), 0);
    CHECK(pitch >= 3 + W && pitch % 4 == 0);
    for (round = 0; round < 3; round++) {
        int (*copy)(const void *) = round ? cu.cuMemcpy2DUnaligned_v2 : cu.cuMemcpy2D_v2;
        memset(out, 0xee, sizeof out);
        memset(&c, 0, sizeof c);
        c.from_type = HOST;
        c.from_host = in;
        c.from_pitch = PITCH;
        c.from_x = 1;
        c.to_type = DEVICE;
        c.to_device = p;
        c.to_pitch = pitch;
        c.to_x = 3;
        c.to_y = 2;
        c.width = W;
        c.height = H;
        if (round == 2) c.from_type = c.to_type = UNIFIED, c.from_device = (ptr)(uintptr_t)in;
        CHECK_EQ(round == 1 ? cu.cuMemcpy2DAsync_v2(&c, on[0].stream) : copy(&c), 0);
        CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
        memset(&c, 0, sizeof c);
        c.from_type = DEVICE;
        c.from_device = p;
        c.from_pitch = pitch;
        c.from_x = 3;
        c.from_y = 2;
        c.to_type = HOST;
        c.to_host = on[0].words;
        c.to_pitch = W;
        c.width = W;
        c.height = H;
        CHECK_EQ(round == 1 ? cu.cuMemcpy2DAsync_v2(&c, on[0].stream) : copy(&c), 0);
        CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
        memset(&c, 0, sizeof c);
        c.from_type = UNIFIED;
        c.from_device = on[0].address;
        c.from_pitch = W;
        c.to_type = UNIFIED;
        c.to_device = (ptr)(uintptr_t)out;
        c.to_pitch = PITCH;
        c.to_x = 1;
        c.width = W;
        c.height = H;
        CHECK_EQ(copy(&c), 0);
        for (i = 0; i < H; i++)
            for (k = 0; k < PITCH; k++)
                if (out[i * PITCH + k] != (k >= 1 && k < 1 + W ? in[i * PITCH + k] : 0xee)) {
                    CHECK_EQ(i * 1000 + k, 0);
                    i = H - 1;
                    break;
                }
    }
    c.width = 0;
    CHECK_EQ(cu.cuMemcpy2D_v2(&c), 0); /* nothing to do */
    c.width = W;
    c.to_pitch = W - 1;
    c.to_x = 0;
    CHECK_EQ(cu.cuMemcpy2D_v2(&c), INVALID_VALUE); /* rows would overlap */
    c.to_pitch = PITCH;
    c.from_pitch = W - 1;
    CHECK_EQ(cu.cuMemcpy2D_v2(&c), INVALID_VALUE);
    c.from_pitch = PITCH;
    c.from_type = 99;
    CHECK_EQ(cu.cuMemcpy2D_v2(&c), INVALID_VALUE);
    c.from_type = DEVICE;
    c.from_device = p;
    c.from_pitch = pitch;
    c.from_y = 1 << 20;
    CHECK_EQ(cu.cuMemcpy2D_v2(&c), INVALID_VALUE); /* after the allocation's end */
    CHECK_EQ(cu.cuMemcpy2D_v2(NULL), INVALID_VALUE);
    CHECK_EQ(cu.cuMemAllocPitch_v2(&none, &pitch, 0, 1, 4), INVALID_VALUE);
    CHECK_EQ(cu.cuMemAllocPitch_v2(&none, &pitch, 4, 0, 4), INVALID_VALUE);
    /* elements must have 4, 8 or 16 bytes */
    CHECK_EQ(cu.cuMemAllocPitch_v2(&none, &pitch, 4, 1, 3), INVALID_VALUE);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    finish();
}

/* Each fill writes its elements and no others. */
TEST(fills) {
    enum { BYTES = 256, PITCH = 32 };
    unsigned char now[BYTES], want[BYTES];
    ptr p = 0;
    size_t i, k;
    int n;
    START(1, 1);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, BYTES), 0);
    for (n = 0; n < 8; n++) {
        size_t cell = n < 2 ? 2
                : n < 4     ? 1
                : n < 6     ? 2
                            : 4,
               cells = n < 2 ? 5 : 3, rows = n < 2 ? 1 : 4, x = 4;
        int result = -1;
        CHECK_EQ(cu.cuMemsetD8_v2(p, 0x11, BYTES), 0);
        CHECK_EQ(cu.cuCtxSynchronize(), 0); /* a fill can still be pending when its call returns */
        switch (n) {
        case 0: result = cu.cuMemsetD16_v2(p + x, 0x3322, cells); break;
        case 1: result = cu.cuMemsetD16Async(p + x, 0x3322, cells, on[0].stream); break;
        case 2: result = cu.cuMemsetD2D8_v2(p + x, PITCH, 0x22, cells, rows); break;
        case 3: result = cu.cuMemsetD2D8Async(p + x, PITCH, 0x22, cells, rows, on[0].stream); break;
        case 4: result = cu.cuMemsetD2D16_v2(p + x, PITCH, 0x3322, cells, rows); break;
        case 5:
            result = cu.cuMemsetD2D16Async(p + x, PITCH, 0x3322, cells, rows, on[0].stream);
            break;
        case 6: result = cu.cuMemsetD2D32_v2(p + x, PITCH, 0x55443322u, cells, rows); break;
        case 7:
            result = cu.cuMemsetD2D32Async(p + x, PITCH, 0x55443322u, cells, rows, on[0].stream);
            break;
        }
        CHECK_EQ(result, 0);
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
        memset(want, 0x11, sizeof want);
        for (i = 0; i < rows; i++)
            for (k = 0; k < cells * cell; k++)
                want[i * PITCH + x + k] = (unsigned char)(0x22 + 0x11 * (k % cell));
        CHECK_EQ(cu.cuMemcpyDtoH_v2(now, p, BYTES), 0);
        if (!CHECK(memcmp(now, want, BYTES) == 0)) printf("fill %d\n", n);
    }
    CHECK_EQ(cu.cuMemsetD16_v2(p + 1, 0, 1), INVALID_VALUE); /* not aligned */
    CHECK_EQ(cu.cuMemsetD2D32_v2(p + 2, PITCH, 0, 1, 2), INVALID_VALUE);
    CHECK_EQ(cu.cuMemsetD2D32_v2(p, PITCH + 2, 0, 1, 2), INVALID_VALUE);
    CHECK_EQ(cu.cuMemsetD16_v2(p, 0, BYTES / 2 + 1), INVALID_VALUE); /* too far */
    CHECK_EQ(cu.cuMemsetD2D8_v2(p, PITCH, 0, PITCH, BYTES / PITCH + 1), INVALID_VALUE);
    CHECK_EQ(cu.cuMemsetD16_v2(p, 0, 0), 0);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    finish();
}

TEST_MULTI(copies_between_devices) {
    uint32_t in[256], out[256];
    ptr a = 0, b = 0;
    unsigned i;
    START(2, 2);
    for (i = 0; i < 256; i++) in[i] = i * i;
    CHECK_EQ(cu.cuMemAlloc_v2(&a, sizeof in), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(on[1].context), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&b, sizeof in), 0);
    /* memory of the device that is not current */
    CHECK_EQ(cu.cuMemcpyHtoD_v2(a, in, sizeof in), 0);
    /* without peer access the copy goes through the host, with the same result */
    for (i = 0; i < 3; i++) {
        memset(out, 0, sizeof out);
        CHECK_EQ(cu.cuMemsetD8_v2(b, 0, sizeof in), 0);
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
        CHECK_EQ(i == 0          ? cu.cuMemcpyPeer(b, on[1].context, a, on[0].context, sizeof in)
                        : i == 1 ? cu.cuMemcpyPeerAsync(b, on[1].context, a, on[0].context,
                                           sizeof in, on[1].stream)
                                 : cu.cuMemcpyAsync(b, a, sizeof in, on[0].stream),
                0);
        CHECK_EQ(cu.cuStreamSynchronize(on[i == 2 ? 0 : 1].stream), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(out, b, sizeof out), 0);
        CHECK(memcmp(in, out, sizeof in) == 0);
    }
    /* the addresses determine the contexts */
    CHECK_EQ(cu.cuMemcpyPeer(b, NULL, a, NULL, sizeof in), 0);
    CHECK_EQ(cu.cuMemcpyPeer(b, on[1].context, a, on[0].context, sizeof in + 4), INVALID_VALUE);
    CHECK(cu.cuMemFree_v2(a) == 0 && cu.cuMemFree_v2(b) == 0);
    finish();
}

/* Memory type, owner, base address and size, for memory of each kind. */
TEST(queries_of_pointers) {
    enum { TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, BUFFER_ID = 7, ORDINAL = 9 };
    void *own = NULL, *context = NULL, *more[3], *mapped = NULL;
    ptr p = 0, address = 0, base = 0;
    size_t bytes = 0;
    unsigned type = 77, flags = 77;
    int ordinal = 77, queried[3];
    START(1, 1);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 1000), 0);
    CHECK(posix_memalign(&own, 4096, 8192) == 0 && cu.cuMemHostRegister_v2(own, 8192, 0) == 0);
    CHECK_EQ(cu.cuMemHostAlloc(&mapped, 4096, 2), 0);

    CHECK_EQ(cu.cuPointerGetAttribute(&type, TYPE, p + 999), 0);
    CHECK_EQ(type, DEVICE);
    CHECK_EQ(cu.cuPointerGetAttribute(&context, 1, p), 0);
    CHECK(context == on[0].context);
    CHECK_EQ(cu.cuPointerGetAttribute(&address, DEVICE_POINTER, p + 8), 0);
    CHECK(address == p + 8);
    CHECK_EQ(cu.cuPointerGetAttribute(&context, HOST_POINTER, p), INVALID_VALUE);
    CHECK_EQ(cu.cuMemGetAddressRange_v2(&base, &bytes, p + 500), 0);
    CHECK(base == p);
    CHECK_EQ(bytes, 1000);
    CHECK_EQ(cu.cuMemGetAddressRange_v2(NULL, &bytes, p), 0);

    CHECK_EQ(cu.cuPointerGetAttribute(&type, TYPE, on[0].address + 8), 0);
    CHECK_EQ(type, HOST);
    CHECK_EQ(cu.cuPointerGetAttribute(&context, HOST_POINTER, on[0].address + 8), 0);
    CHECK(context == on[0].words + 2);
    CHECK_EQ(cu.cuPointerGetAttribute(&type, TYPE, (ptr)(uintptr_t)own + 5000), 0);
    CHECK_EQ(type, HOST);
    CHECK_EQ(cu.cuMemHostGetFlags(&flags, mapped), 0);
    CHECK(flags & 2);
    CHECK_EQ(cu.cuMemHostGetFlags(&flags, on[0].words), 0);
    CHECK_EQ(cu.cuMemHostGetFlags(&flags, &flags), INVALID_VALUE);

    CHECK_EQ(cu.cuPointerGetAttribute(&type, TYPE, (ptr)(uintptr_t)&type), INVALID_VALUE);
    queried[0] = TYPE;
    queried[1] = ORDINAL;
    queried[2] = DEVICE_POINTER;
    more[0] = &type;
    more[1] = &ordinal;
    more[2] = &address;
    /* unknown memory is not an error here */
    CHECK_EQ(cu.cuPointerGetAttributes(3, queried, more, (ptr)(uintptr_t)&type), 0);
    CHECK(type == 0 && ordinal == -2 && address == 0);
    CHECK_EQ(cu.cuPointerGetAttributes(3, queried, more, p), 0);
    CHECK(type == DEVICE && ordinal == 0 && address == p);
    CHECK_EQ(cu.cuMemGetAddressRange_v2(&base, &bytes, (ptr)(uintptr_t)&type), NOT_FOUND);

    CHECK_EQ(cu.cuMemHostRegister_v2((char *)own + 4096, 4096, 0), 712);
    /* not 712: the driver allocated it */
    CHECK_EQ(cu.cuMemHostRegister_v2(on[0].words, 4096, 0), INVALID_VALUE);
    CHECK_EQ(cu.cuMemHostUnregister((char *)own + 4), INVALID_VALUE);
    /* each must be freed as it was allocated */
    CHECK_EQ(cu.cuMemHostUnregister(on[0].words), INVALID_VALUE);
    CHECK_EQ(cu.cuMemFreeHost(own), INVALID_VALUE);
    CHECK_EQ(cu.cuMemFreeHost(on[0].words + 1), INVALID_VALUE);
    CHECK_EQ(cu.cuMemFree_v2(on[0].address), INVALID_VALUE);
    CHECK_EQ(cu.cuMemHostUnregister(&type), 713);
    CHECK_EQ(cu.cuMemHostGetFlags(&flags, own), 0);
    CHECK_EQ(cu.cuMemHostUnregister(own), 0);
    CHECK_EQ(cu.cuPointerGetAttribute(&type, TYPE, (ptr)(uintptr_t)own), INVALID_VALUE);
    CHECK(cu.cuMemFreeHost(mapped) == 0 && cu.cuMemFree_v2(p) == 0);
    free(own);
    finish();
}

/* --- modules and launches --- */

TEST(modules_and_functions) {
    void *m = NULL, *f;
    int state = 99;
    START(1, 1);
    CHECK_EQ(cu.cuModuleLoad(&m, "no/such/file.ptx"), FILE_NOT_FOUND);
    CHECK_EQ(cu.cuModuleLoadFatBinary(&m, "neither PTX nor a binary"), INVALID_IMAGE);
    CHECK_EQ(cu.cuModuleLoadFatBinary(&m, NULL), INVALID_VALUE);
    f = kernel(0, "nop");
    CHECK_EQ(cu.cuFuncGetModule(&m, f), 0);
    CHECK(m == on[0].module);
    CHECK(cu.cuFuncSetCacheConfig(f, 1) == 0 && cu.cuFuncSetCacheConfig(f, 99) == INVALID_VALUE);
    if (cu.cuModuleGetLoadingMode) {
        CHECK_EQ(cu.cuModuleGetLoadingMode(&state), 0);
        CHECK(state == 1 || state == 2); /* eager, lazy */
    }
    if (cu.cuFuncLoad && cu.cuFuncIsLoaded) {
        CHECK_EQ(cu.cuFuncLoad(f), 0);
        CHECK_EQ(cu.cuFuncIsLoaded(&state, f), 0);
        CHECK_EQ(state, 1);
    }
    finish();
}

/* The parameter space begins at 0x210 on sm_90, and the alignment applies to addresses there: an
   offset need not be a multiple of the alignment. */
TEST(parameters_aligned_to_more_than_16) {
    unsigned alignment;
    int major = 0, minor = 0;
    START(1, 1);
    NEEDS(cuFuncGetParamInfo);
    CHECK_EQ(cu.cuDeviceGetAttribute(&major, 75, 0), 0);
    CHECK_EQ(cu.cuDeviceGetAttribute(&minor, 76, 0), 0);
    for (alignment = 16; alignment <= 512; alignment *= 2) {
        unsigned char packed[2048] = { 0 }, a = 200;
        uint32_t b[256], k;
        uint64_t got[5] = { 0 };
        char ptx[1200];
        size_t at = 0, bytes = 0, to = 0;
        void *module = NULL, *f = NULL, *arguments[3], *extra[5];
        ptr out = 0;
        for (k = 0; k < 256; k++) b[k] = 1000 * alignment + k;
        snprintf(ptx, sizeof ptx,
                ".version 7.7\n.target sm_70\n.address_size 64\n"
                ".visible .entry k(.param .u8 a, .param .align %u .b8 b[1024], .param .u64 out) {\n"
                "    .reg .u32 %%r<5>; .reg .u64 %%d<6>; ld.param.u64 %%d1, [out]; mov.u64 %%d2, "
                "b; cvta.param.u64 %%d3, %%d2;\n"
                "    ld.u32 %%r1, [%%d3]; cvt.u64.u32 %%d4, %%r1; st.u64 [%%d1], %%d4;\n" /* b[0],
                                                                                             generic
                                                                                           */
                "    ld.param.u8 %%r2, [a]; cvt.u64.u32 %%d5, %%r2; st.u64 [%%d1+8], %%d5; add.u64 "
                "%%d3, %%d3, %%d5;\n"
                /* b[50], generic */
                "    ld.u32 %%r3, [%%d3]; cvt.u64.u32 %%d4, %%r3; st.u64 [%%d1+16], %%d4; sub.u64 "
                "%%d3, %%d3, %%d5;\n"
                "    ld.param.u32 %%r4, [b+1020]; cvt.u64.u32 %%d4, %%r4; st.u64 [%%d1+24], %%d4; "
                "st.u64 [%%d1+32], %%d3; ret;\n}\n",
                alignment);
        if (!CHECK_EQ(cu.cuModuleLoadData(&module, ptx), 0)) break;
        CHECK_EQ(cu.cuModuleGetFunction(&f, module, "k"), 0);
        CHECK_EQ(cu.cuFuncGetParamInfo(f, 1, &at, &bytes), 0);
        CHECK_EQ(bytes, 1024);
        if (10 * major + minor == 90)
            CHECK_EQ(at, ((0x210 + 1 + alignment - 1) & ~(alignment - 1)) - 0x210);
        CHECK_EQ(cu.cuFuncGetParamInfo(f, 2, &to, &bytes), 0);
        CHECK_EQ(to, at + 1024);
        CHECK_EQ(cu.cuMemAlloc_v2(&out, sizeof got), 0);
        packed[0] = a;
        memcpy(packed + at, b, sizeof b);
        memcpy(packed + to, &out, 8);
        bytes = to + 8;
        arguments[0] = &a;
        arguments[1] = b;
        arguments[2] = &out;
        extra[0] = (void *)1;
        extra[1] = packed;
        extra[2] = (void *)2;
        extra[3] = &bytes;
        extra[4] = NULL;
        for (k = 0; k < 2; k++) {
            CHECK_EQ(cu.cuMemsetD8_v2(out, 0xff, sizeof got), 0);
            CHECK_EQ(cu.cuLaunchKernel(
                             f, 1, 1, 1, 1, 1, 1, 0, NULL, k ? NULL : arguments, k ? extra : NULL),
                    0);
            CHECK_EQ(cu.cuMemcpyDtoH_v2(got, out, sizeof got), 0);
            CHECK(got[0] == b[0] && got[1] == 200 && got[2] == b[50] && got[3] == b[255]);
            /* generic addresses of parameters were not checked on a GPU */
            if (on_cpu_device()) CHECK_EQ(got[4] % alignment, 0);
        }
        CHECK_EQ(cu.cuMemFree_v2(out), 0);
        CHECK_EQ(cu.cuModuleUnload(module), 0);
    }
    finish();
}

/* (doc) Before CUDA 4.0 a function held everything but the grid of its next launch. */
TEST(launches_as_before_cuda_4) {
    static const char ptx[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry k(.param .u64 out, .param .u32 a, .param .f32 b) {\n"
            "    .reg .u64 %o; .reg .u32 %r<7>; .reg .f32 %f;\n"
            "    ld.param.u64 %o, [out]; ld.param.u32 %r0, [a]; ld.param.f32 %f, [b];\n"
            "    mov.u32 %r1, %ntid.x; mov.u32 %r2, %ntid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, "
            "%nctaid.y;\n"
            "    mov.u32 %r5, %dynamic_smem_size; st.u32 [%o], %r0; st.f32 [%o+4], %f; st.u32 "
            "[%o+8], %r1;\n"
            "    st.u32 [%o+12], %r2; st.u32 [%o+16], %r3; st.u32 [%o+20], %r4; st.u32 [%o+24], "
            "%r5; ret;\n}\n";
    uint32_t got[7] = { 0 };
    void *module = NULL, *f = NULL, *stream = NULL;
    float b = 0;
    ptr out = 0;
    if (!on_cpu_device()) SKIP("the driver of an H200 crashes in these calls");
    START(1, 1);
    CHECK_EQ(cu.cuModuleLoadData(&module, ptx), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&f, module, "k"), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&out, sizeof got), 0);
    CHECK_EQ(cu.cuStreamCreateWithPriority(&stream, 0, 0), 0);
    CHECK_EQ(cu.cuFuncSetBlockShape(f, 0, 1, 1), INVALID_VALUE);
    CHECK_EQ(cu.cuFuncSetBlockShape(NULL, 1, 1, 1), INVALID_HANDLE);
    CHECK_EQ(cu.cuParamSeti(f, -4, 1), INVALID_VALUE);
    CHECK_EQ(cu.cuParamSetSize(f, 16), 0);
    CHECK_EQ(cu.cuParamSetv(f, 0, &out, 8), 0);
    CHECK_EQ(cu.cuParamSeti(f, 8, 42), 0);
    CHECK_EQ(cu.cuParamSetf(f, 12, 2.5f), 0);
    CHECK_EQ(cu.cuLaunch(f), 0); /* as measured: without a shape, one thread */
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, out, sizeof got), 0);
    CHECK(got[0] == 42 && got[2] == 1 && got[3] == 1 && got[4] == 1 && got[5] == 1 && got[6] == 0);
    CHECK_EQ(cu.cuFuncSetBlockShape(f, 8, 2, 1), 0);
    CHECK_EQ(cu.cuFuncSetSharedSize(f, 512), 0);
    CHECK_EQ(cu.cuLaunchGrid(f, 3, 2), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, out, sizeof got), 0);
    memcpy(&b, &got[1], 4);
    CHECK(got[0] == 42 && b == 2.5f && got[2] == 8 && got[3] == 2 && got[4] == 3 && got[5] == 2 &&
            got[6] == 512);
    CHECK_EQ(cu.cuParamSeti(f, 8, 43), 0); /* the rest is kept */
    CHECK_EQ(cu.cuLaunchGridAsync(f, 2, 1, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, out, sizeof got), 0);
    CHECK(got[0] == 43 && got[2] == 8 && got[4] == 2 && got[5] == 1);
    CHECK_EQ(cu.cuLaunch(f), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, out, sizeof got), 0);
    CHECK(got[0] == 43 && got[4] == 1 && got[5] == 1 && got[6] == 512);
    CHECK_EQ(cu.cuLaunchGrid(f, 0, 1), INVALID_VALUE);
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuMemFree_v2(out), 0);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    finish();
}

TEST(occupancy) {
    void *f;
    int blocks = 0, grid = 0, block = 0;
    size_t bytes = 0, less = 0;
    START(1, 1);
    f = kernel(0, "meet");
    CHECK_EQ(cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 128, 0, 0), 0);
    CHECK(blocks > 1);
    CHECK_EQ(cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, 0, 0, 0),
            INVALID_VALUE);
    CHECK_EQ(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0), 0);
    CHECK(grid > 0 && block >= 128);
    CHECK_EQ(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 64), 0);
    CHECK_EQ(block, 64);
    CHECK_EQ(cu.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, 128), 0);
    CHECK_EQ(cu.cuOccupancyAvailableDynamicSMemPerBlock(&less, f, 16, 128), 0);
    CHECK(less > 0 && less < bytes);
    finish();
}

TEST(attributes_of_launches) {
    enum { COOPERATIVE = 2, CLUSTER = 4, SERIALIZATION = 6, PRIORITY = 8, DOMAIN = 10 };
    attribute a[2];
    config c;
    void *arguments[2], *mark;
    ptr out;
    uint32_t value = 0;
    int i, result;
    START(1, 1);
    NEEDS(cuLaunchKernelEx);
    mark = kernel(0, "mark");
    out = on[0].address;
    arguments[0] = &out;
    arguments[1] = &value;
    memset(&c, 0, sizeof c);
    c.grid[0] = c.grid[1] = c.grid[2] = c.block[0] = c.block[1] = c.block[2] = 1;
    c.stream = on[0].stream;
    c.list = a;
    for (i = 0; i <= 5; i++) {
        memset(a, 0, sizeof a);
        c.n = i ? 2 : 0;
        a[0].id = i == 1 ? COOPERATIVE
                : i == 2 ? CLUSTER
                : i == 3 ? SERIALIZATION
                : i == 4 ? PRIORITY
                         : DOMAIN;
        if (i == 2) a[0].value.dim[0] = a[0].value.dim[1] = a[0].value.dim[2] = 1;
        else a[0].value.flag = i < 4 ? 1 : i == 4 ? -1 : 0; /* a[1] is IGNORE */
        value = 100 + (uint32_t)i;
        CHECK_EQ(cu.cuLaunchKernelEx(&c, mark, arguments, NULL), 0);
        CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
        CHECK_EQ(word(0, 0), value);
    }
    c.n = 1;
    a[0].id = CLUSTER;
    for (i = 0; i < 3; i++) a[0].value.dim[i] = 1;
    a[0].value.dim[0] = 3; /* does not divide the grid */
    result = cu.cuLaunchKernelEx(&c, mark, arguments, NULL);
    /* (doc) not which */
    CHECK(result == INVALID_CLUSTER || result == INVALID_VALUE || result == NOT_SUPPORTED);
    c.grid[0] = 2;
    a[0].value.dim[0] = 2;
    result = cu.cuLaunchKernelEx(&c, mark, arguments, NULL); /* GPUs since 9.0 support it */
    CHECK_EQ(cu.cuDeviceGetAttribute(&i, 120, 0), 0);
    CHECK(i ? result == 0 : result != 0);
    a[0].id = 9999;
    CHECK_EQ(cu.cuLaunchKernelEx(&c, mark, arguments, NULL), INVALID_VALUE);
    CHECK(cu.cuLaunchKernelEx(NULL, mark, arguments, NULL) == INVALID_VALUE);
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
    finish();
}

/* Objects of device 0 work without a current context, and with the other device's. */
TEST(another_context_is_current) {
    void *e = NULL, *arguments[2], *mark;
    ptr out;
    uint32_t value;
    START(1, 2);
    mark = kernel(0, "mark");
    out = on[0].address;
    arguments[0] = &out;
    arguments[1] = &value;
    CHECK_EQ(cu.cuEventCreate(&e, 0), 0);
    for (value = 1; value <= (uint32_t)used; value++) {
        CHECK_EQ(cu.cuCtxSetCurrent(value == 1 ? NULL : on[1].context), 0);
        CHECK_EQ(launch(mark, on[0].stream, 1, 1, arguments), 0);
        CHECK_EQ(cu.cuEventRecord(e, on[0].stream), 0);
        CHECK_EQ(cu.cuStreamWaitEvent(on[0].stream, e, 0), 0);
        CHECK_EQ(cu.cuEventSynchronize(e), 0);
        CHECK_EQ(cu.cuEventQuery(e), 0);
        CHECK_EQ(cu.cuStreamQuery(on[0].stream), 0);
        CHECK_EQ(word(0, 0), value);
        /* an event of the other device */
        if (value == 2) CHECK_EQ(cu.cuEventRecord(e, on[1].stream), INVALID_HANDLE);
        /* but a stream can wait for it */
        if (value == 2) CHECK_EQ(cu.cuStreamWaitEvent(on[1].stream, e, 0), 0);
    }
    CHECK_EQ(cu.cuEventDestroy_v2(e), 0);
    finish();
}

/* --- objects destroyed while work is pending --- */

TEST(busy_streams_and_events_are_destroyed_at_once) {
    void *s = NULL, *e = NULL, *gate, *mark, *arguments[2];
    ptr out;
    uint32_t value = 7;
    START(1, 1);
    gate = kernel(0, "gate");
    mark = kernel(0, "mark");
    out = on[0].address + 4;
    arguments[0] = &out;
    arguments[1] = &value;
    CHECK_EQ(cu.cuStreamCreateWithPriority(&s, 1, 0), 0);
    CHECK_EQ(cu.cuEventCreate(&e, 2), 0);
    CHECK_EQ(close_gate(gate, s, 0, 0), 0);
    CHECK_EQ(cu.cuEventRecord(e, s), 0);
    CHECK_EQ(cu.cuStreamWaitEvent(on[0].stream, e, 0), 0);
    CHECK_EQ(launch(mark, s, 1, 1, arguments), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(e), 0); /* neither waits for the gate, which opens below */
    CHECK_EQ(cu.cuStreamDestroy_v2(s), 0);
    test_sleep_ms(10); /* not order: the mark could be made */
    CHECK_EQ(word(0, 1), 0);
    CHECK_EQ(cu.cuStreamQuery(on[0].stream), NOT_READY); /* waits for an event that was destroyed */
    set_word(0, 0, 1);
    CHECK(becomes(0, 1, 7));
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
    finish();
}

static void *open_later(void *user) {
    (void)user;
    test_sleep_ms(60); /* not order: the module could be unloaded too early */
    set_word(0, 2, 1);
    set_word(0, 0, 1);
    return NULL;
}

/* The call returns, and the enqueued work completes: no kernel sees freed memory or code. */
TEST(a_busy_module_is_unloaded_when_its_kernels_are_done) {
    void *m = NULL, *gate = NULL, *mark = NULL, *arguments[2];
    ptr out;
    uint32_t value = 9;
    pthread_t thread;
    START(1, 1);
    CHECK_EQ(cu.cuModuleLoadData(&m, text), 0);
    CHECK(cu.cuModuleGetFunction(&gate, m, "gate") == 0 &&
            cu.cuModuleGetFunction(&mark, m, "mark") == 0);
    out = on[0].address + 4;
    arguments[0] = &out;
    arguments[1] = &value;
    CHECK_EQ(close_gate(gate, on[0].stream, 0, 0), 0);
    CHECK_EQ(launch(mark, on[0].stream, 1, 1, arguments), 0);
    CHECK_EQ(pthread_create(&thread, NULL, open_later, NULL), 0);
    CHECK_EQ(cu.cuModuleUnload(m), 0);
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
    CHECK(word(0, 2) == 1 && word(0, 1) == 9);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    finish();
}

TEST(a_busy_context_is_destroyed) {
    void *a = NULL, *s = NULL, *m = NULL, *gate = NULL, *c = NULL;
    ptr p = 0;
    pthread_t thread;
    START(1, 1);
    CHECK_EQ(cu.cuCtxCreate_v2(&a, 0, 0), 0);
    CHECK(cu.cuStreamCreateWithPriority(&s, 1, 0) == 0 && cu.cuModuleLoadData(&m, text) == 0 &&
            cu.cuMemAlloc_v2(&p, 64) == 0);
    CHECK_EQ(cu.cuModuleGetFunction(&gate, m, "gate"), 0);
    CHECK_EQ(close_gate(gate, s, 0, 0), 0);
    CHECK_EQ(pthread_create(&thread, NULL, open_later, NULL), 0);
    /* (doc) does not say whether it waits or stops the kernel; here it must end */
    CHECK_EQ(cu.cuCtxDestroy_v2(a), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(cu.cuCtxGetCurrent(&c), 0);
    CHECK(c == on[0].context);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(launch(kernel(0, "nop"), on[0].stream, 1, 1, NULL), 0); /* the device still works */
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), 0);
    finish();
}

/* --- several devices --- */

/* All devices synchronise at 200 barriers, with flags and words in peer memory, or in mapped host
   memory. */
static const char *all_meet(int in_host_memory) {
    uint32_t n, me, rounds = 200, bad;
    ptr area[MOST], table[MOST], wrong[MOST];
    void *meet[MOST], *arguments[5];
    int i, k, can;
    const char *why = start(2, MOST);
    if (why) return why;
    n = (uint32_t)used;
    for (i = 0; i < used; i++) {
        CHECK_EQ(cu.cuCtxSetCurrent(on[i].context), 0);
        for (k = 0; k < used && !in_host_memory; k++) {
            if (k == i) continue;
            if (cu.cuDeviceCanAccessPeer(&can, i, k) || !can) {
                finish();
                return "no peer access between the devices";
            }
            can = cu.cuCtxEnablePeerAccess(on[k].context, 0);
            CHECK(can == 0 || can == 704);
        }
        meet[i] = kernel(i, "meet");
        CHECK(cu.cuMemAlloc_v2(&area[i], 4096) == 0 &&
                cu.cuMemAlloc_v2(&table[i], sizeof area) == 0 &&
                cu.cuMemAlloc_v2(&wrong[i], 4) == 0);
        CHECK(cu.cuMemsetD8_v2(area[i], 0, 4096) == 0 && cu.cuMemsetD8_v2(wrong[i], 0, 4) == 0);
        if (in_host_memory) {
            CHECK_EQ(cu.cuMemFree_v2(area[i]), 0);
            area[i] = on[i].address;
        }
    }
    for (i = 0; i < used; i++) CHECK_EQ(cu.cuMemcpyHtoD_v2(table[i], area, sizeof area[0] * n), 0);
    for (i = 0; i < used; i++) {
        cu.cuCtxSetCurrent(on[i].context);
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
    }
    for (i = 0; i < used; i++) {
        me = (uint32_t)i;
        arguments[0] = &table[i];
        arguments[1] = &n;
        arguments[2] = &me;
        arguments[3] = &rounds;
        arguments[4] = &wrong[i];
        CHECK_EQ(cu.cuLaunchCooperativeKernel(
                         meet[i], BLOCKS, 1, 1, THREADS, 1, 1, 0, on[i].stream, arguments),
                0);
    }
    for (i = 0; i < used; i++) {
        bad = 99;
        CHECK_EQ(cu.cuStreamSynchronize(on[i].stream), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(&bad, wrong[i], 4), 0);
        CHECK_EQ(bad, 0);
    }
    for (i = 0; i < used; i++) {
        CHECK(cu.cuMemFree_v2(table[i]) == 0 && cu.cuMemFree_v2(wrong[i]) == 0);
        if (!in_host_memory) CHECK_EQ(cu.cuMemFree_v2(area[i]), 0);
    }
    finish();
    return NULL;
}
TEST_ALONE_MULTI(eight_devices_meet_in_peer_memory) {
    const char *why;
    setenv("SIMGPU_DEVICES", "8", 1); /* for the CPU device; a GPU ignores it */
    if ((why = all_meet(0)) != NULL) SKIP(why);
}
TEST_ALONE_MULTI(eight_devices_meet_in_host_memory_on_one_worker) {
    const char *why;
    setenv("SIMGPU_DEVICES", "8", 1);
    setenv("SIMGPU_THREADS", "1", 1);
    if ((why = all_meet(1)) != NULL) SKIP(why);
}

/* One device never arrives: the others wait until their time limit, by the device's clock, and
   end. */
TEST_ALONE_MULTI(a_device_that_never_arrives) {
    uint64_t ns = 300000000;
    ptr out[MOST];
    void *arguments[3], *f[MOST];
    double begin;
    int i;
    setenv("SIMGPU_DEVICES", "3", 1);
    START(2, 3);
    for (i = 0; i < used; i++) f[i] = kernel(i, "patience");
    begin = test_seconds();
    for (i = 1; i < used; i++) {
        out[i] = on[i].address + 4;
        arguments[0] = &on[0].address;
        arguments[1] = &ns;
        arguments[2] = &out[i];
        CHECK_EQ(launch(f[i], on[i].stream, 1, 32, arguments), 0);
    }
    for (i = 1; i < used; i++) {
        CHECK_EQ(cu.cuStreamSynchronize(on[i].stream), 0);
        CHECK_EQ(word(i, 1), 2);
    }
    CHECK(test_seconds() - begin > 0.25 && test_seconds() - begin < 60);
    ns = 1000000000000u; /* and a device that arrives in time is seen */
    out[1] = on[1].address + 4;
    arguments[0] = &on[0].address;
    arguments[1] = &ns;
    arguments[2] = &out[1];
    CHECK_EQ(launch(f[1], on[1].stream, 1, 32, arguments), 0);
    set_word(0, 0, 1);
    CHECK(becomes(1, 1, 1));
    finish();
}

/* A kernel traps on the last device while the kernel on the first spins: every call returns the
   error, and soon. Words that the host wrote are kept, and the spinning kernel continues. */
TEST_ALONE(a_trap_beside_a_kernel_that_spins) {
    void *patience, *broken, *c = NULL, *arguments[3];
    uint64_t ns = 1000000000000u; /* it would spin for 1000 seconds */
    ptr p = 0, out;
    int last, tries;
    START(1, 2);
    last = used - 1;
    patience = kernel(0, "patience");
    broken = kernel(last, "broken");
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 0);
    set_word(0, 5, 1234);
    CHECK_EQ(close_gate(broken, on[last].stream, last, 9), 0);
    out = on[0].address + 4;
    arguments[0] = &on[0].address;
    arguments[1] = &ns;
    arguments[2] = &out;
    if (last) CHECK_EQ(launch(patience, on[0].stream, 1, 1, arguments), 0);
    /* until it spins: a driver can postpone work until a query */
    for (tries = 0; tries < 20; tries++) {
        cu.cuStreamQuery(on[0].stream);
        test_sleep_ms(1); /* not order: the results are the same if it does not spin yet */
    }
    set_word(last, 9, 1);
    CHECK_EQ(cu.cuStreamSynchronize(on[last].stream), LAUNCH_FAILED);
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), LAUNCH_FAILED);
    CHECK_EQ(cu.cuMemFree_v2(p), LAUNCH_FAILED);
    CHECK_EQ(cu.cuMemFreeHost(on[0].words), LAUNCH_FAILED);
    CHECK_EQ(cu.cuStreamQuery(on[0].stream), LAUNCH_FAILED);
    CHECK_EQ(cu.cuCtxGetCurrent(&c), 0);
    CHECK_EQ(word(0, 5), 1234);
    CHECK_EQ(word(0, 1), 0);
    set_word(0, 0, 1);
    if (last) CHECK(becomes(0, 1, 1));
}

/* Not tested on a GPU. */
TEST_ALONE_MULTI(a_reset_after_a_trap_stops_what_still_spins) {
    void *gate, *broken;
    setenv("SIMGPU_DEVICES", "2", 1);
    if (!on_cpu_device()) SKIP("not on the CPU device");
    START(2, 2);
    gate = kernel(0, "gate");
    broken = kernel(1, "broken");
    CHECK_EQ(close_gate(gate, on[0].stream, 0, 0), 0);
    CHECK_EQ(close_gate(broken, on[1].stream, 1, 0), 0);
    set_word(1, 0, 1);
    CHECK_EQ(cu.cuStreamSynchronize(on[1].stream), LAUNCH_FAILED);
    CHECK_EQ(cu.cuDevicePrimaryCtxReset_v2(0), 0); /* not reached by one that waits */
}

static void leave_a_kernel_spinning(void) {
    const char *why = start(1, 1);
    if (why || close_gate(kernel(0, "broken"), on[0].stream, 0, 0)) CHECK(0 && "started");
    if (on_cpu_device()) exit(test_failures != 0); /* a GPU can wait in there */
}

TEST_ALONE(a_process_ends_though_a_kernel_spins) {
    CHECK(run_child(leave_a_kernel_spinning)); /* which limits the time */
}

/* --- what the CPU device does on request --- */

static const char *reason(int result) {
    const char *s = NULL;
    return cu.cuGetErrorString(result, &s) == 0 ? s : NULL;
}

#define ON_SIMGPU() \
    if (!on_cpu_device()) SKIP("not on the CPU device")

TEST_ALONE(failures_on_demand) {
    ptr p = 0;
    void *nop;
    setenv("SIMGPU_FAIL",
            "cuMemAlloc:1:2,cuMemAlloc_v2:2:46,cuLaunchCooperativeKernel:2:719,cuMemsetD16:1:7,"
            "cuStreamWriteValue32:2:801",
            1);
    ON_SIMGPU();
    START(1, 1);
    nop = kernel(0, "nop");
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 2);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 46); /* each of several rules counts all calls */
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 0);
    CHECK_EQ(cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1, 1, 1, 0, on[0].stream, NULL), 0);
    CHECK_EQ(cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1, 1, 1, 0, on[0].stream, NULL),
            LAUNCH_FAILED);
    /* the failures broke nothing */
    CHECK_EQ(cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1, 1, 1, 0, on[0].stream, NULL), 0);
    CHECK(cu.cuMemsetD16_v2(p, 0, 1) == 7 && cu.cuMemsetD16_v2(p, 0, 1) == 0);
    if (cu.cuStreamWriteValue32_v2)
        CHECK(cu.cuStreamWriteValue32_v2(on[0].stream, p + 32, 1, 0) == 0 &&
                cu.cuStreamWriteValue32_v2(on[0].stream, p + 32, 1, 0) == 801);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    finish();
}

TEST_ALONE(little_memory) {
    ptr p = 0, q = 0;
    size_t pitch = 0;
    setenv("SIMGPU_MEMORY", "2M", 1);
    ON_SIMGPU();
    START(1, 1);
    CHECK_EQ(cu.cuMemAllocPitch_v2(&p, &pitch, 1000, 3000, 4), OUT_OF_MEMORY);
    CHECK_EQ(cu.cuMemAllocPitch_v2(&p, &pitch, 1000, 1500, 4), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&q, 1 << 20), OUT_OF_MEMORY);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&q, 1 << 20), 0);
    CHECK_EQ(cu.cuMemFree_v2(q), 0);
    finish();
}

TEST_ALONE(endless_spinning_is_reported_after_the_time_limit) {
    void *arguments[1];
    arguments[0] = &on[0].address;
    setenv("SIMGPU_TIMEOUT", "0.2", 1);
    ON_SIMGPU();
    START(1, 1);
    CHECK_EQ(launch(kernel(0, "gate"), on[0].stream, 1000, 64, arguments), 0);
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), TIMED_OUT);
    CHECK_TEXT(reason(TIMED_OUT), "kernel gate", "0.2 s", "SIMGPU_TIMEOUT", "on device 0",
            " of its 1000 blocks not started; block (",
            " threads of warp 0 from (0,0,0) on run at line 7; ",
            " threads of warp 1 from (32,0,0) on run at line 7");
    if (!getenv("SIMGPU_SCHEDULE")) /* an adversary may split the warps */
        CHECK_TEXT(reason(TIMED_OUT),
                "32 threads of warp 0 from (0,0,0) on run at line 7; 32 threads of warp 1 from "
                "(32,0,0) on run at line 7");
}

TEST_ALONE(a_deadlock_is_reported) {
    static const char stuck[] =
            ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry stuck() {\n"
            "    .reg .pred %p; .reg .u32 %r; mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;\n"
            "    @%p bra FIRST;\n"
            "    barrier.sync 2;\n"
            "FIRST: barrier.sync 1;\n"
            "    ret;\n}\n";
    void *m = NULL, *f = NULL;
    ON_SIMGPU();
    START(1, 1);
    CHECK(cu.cuModuleLoadData(&m, stuck) == 0 && cu.cuModuleGetFunction(&f, m, "stuck") == 0);
    CHECK_EQ(launch(f, on[0].stream, 1, 64, NULL), 0);
    CHECK_EQ(cu.cuStreamSynchronize(on[0].stream), TIMED_OUT);
    CHECK_TEXT(reason(TIMED_OUT), "deadlock in block (0,0,0) of kernel stuck",
            "32 threads of warp 0 from (0,0,0) on wait for the block at line 8",
            "32 threads of warp 1 from (32,0,0) on wait for the block at line 7");
}
