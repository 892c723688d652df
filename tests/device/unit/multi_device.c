/* multi_device.c - one cooperative launch over several devices by the driver's own call: its rules,
   its two synchronisations, kernels that synchronise with each other. Also peer access between
   devices. */
#include "../../test.h"

enum { MOST = 8, COOPERATIVE_MULTI_DEVICE = 96, NO_PRE_SYNC = 1, NO_POST_SYNC = 2 };

/* CUDA_LAUNCH_PARAMS */
typedef struct params {
    void *function;
    unsigned grid[3], block[3], shared;
    void *stream, **arguments;
} params;
typedef int multi_call(params *list, unsigned n, unsigned flags);

static const char text[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry mark(.param .u64 wait, .param .u64 out) {\n" /* when *wait is not 0, *out
                                                                         becomes 1 */
        "    .reg .pred %p; .reg .u32 %r; .reg .u64 %a, %b;\n"
        "    ld.param.u64 %a, [wait]; ld.param.u64 %b, [out];\n"
        "AGAIN: ld.volatile.u32 %r, [%a]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN;\n"
        "    mov.u32 %r, 1; st.volatile.u32 [%b], %r; ret;\n}\n"
        ".visible .entry other(.param .u64 wait, .param .u64 out) {\n"
        "    .reg .u32 %r; .reg .u64 %b; ld.param.u64 %b, [out]; mov.u32 %r, 1; st.volatile.u32 "
        "[%b], %r; ret;\n}\n"
        /* Block b of each device synchronises with block b of all others: it writes the round to
           flag [b][me] of each device and waits for its own flags [b][0..n). Data take the same
           path: word [b][me] of the second half. Counts the words that are missing. */
        ".visible .entry meet(.param .u64 table, .param .u32 n, .param .u32 me, .param .u32 "
        "rounds, .param .u64 wrong) {\n"
        "    .reg .pred %p; .reg .u32 %n, %me, %k, %r, %v, %last, %bad, %t, %d; .reg .u64 %tab, "
        "%a, %q, %o, %w, %mine;\n"
        "    ld.param.u64 %tab, [table]; ld.param.u32 %n, [n]; ld.param.u32 %me, [me]; "
        "ld.param.u32 %last, [rounds];\n"
        "    mov.u32 %t, %ctaid.x; shl.b32 %t, %t, 5; cvt.u64.u32 %o, %t;\n"
        "    mul.wide.u32 %q, %me, 8; add.u64 %q, %tab, %q; ld.u64 %mine, [%q]; add.u64 %mine, "
        "%mine, %o;\n"
        "    mov.u32 %r, 1; mov.u32 %bad, 0; shl.b32 %last, %last, 1;\n"
        "ROUND: mov.u32 %k, 0;\n"
        "PUSH: mul.wide.u32 %q, %k, 8; add.u64 %q, %tab, %q; ld.u64 %a, [%q]; add.u64 %a, %a, %o;\n"
        "    mul.wide.u32 %w, %me, 4; add.u64 %a, %a, %w;\n"
        /* odd rounds write data, even rounds only synchronise */
        "    and.b32 %t, %r, 1; setp.eq.u32 %p, %t, 0; @%p bra FLAG; st.u32 [%a+1024], %r;\n"
        "FLAG: st.release.sys.u32 [%a], %r; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra "
        "PUSH;\n"
        "    mov.u32 %k, 0;\n"
        "WAIT: mul.wide.u32 %w, %k, 4; add.u64 %a, %mine, %w;\n"
        "SPIN: ld.acquire.sys.u32 %v, [%a]; setp.lt.u32 %p, %v, %r; @%p bra SPIN;\n"
        "    and.b32 %t, %r, 1; setp.eq.u32 %p, %t, 0; @%p bra NEXT;\n"
        "    ld.relaxed.sys.u32 %d, [%a+1024]; setp.ne.u32 %p, %d, %r; @%p add.u32 %bad, %bad, 1;\n"
        "NEXT: add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %n; @%p bra WAIT;\n"
        "    add.u32 %r, %r, 1; setp.le.u32 %p, %r, %last; @%p bra ROUND;\n"
        "    ld.param.u64 %a, [wrong]; mov.u32 %t, %ctaid.x; mul.wide.u32 %w, %t, 4; add.u64 %a, "
        "%a, %w; st.u32 [%a], %bad; ret;\n}\n";

typedef struct device {
    gpuexec_context context;
    gpuexec_stream stream;
    gpuexec_kernel mark, other, meet;
    uint32_t *words; /* pinned: 0 is waited for, 1 is written, 2 and 3 are the same for later
                        work */
    gpuexec_ptr address[4];
    void *arguments[2];
} device;
static device devices[MOST];
static int used;
static multi_call *multi;
static params list[MOST];

static void *raw(void *to, const char *name, int version) {
    void *symbol = gpuexec_driver_symbol(name, version);
    memcpy(to, &symbol, sizeof symbol);
    return symbol;
}

static void make_list(void) {
    int i;
    for (i = 0; i < used; i++) {
        device *d = &devices[i];
        params p = { gpuexec_kernel_native(d->mark), { 1, 1, 1 }, { 1, 1, 1 }, 0,
            gpuexec_stream_native(d->stream), NULL };
        p.arguments = d->arguments;
        list[i] = p;
        memset(d->words, 0, 16);
    }
}

/* Returns NULL, or the reason why these tests are not possible here. */
static const char *start(int most) {
    int (*set_current)(void *), i, k, value = 0;
    used = gpuexec_device_count();
    if (used > most) used = most;
    if (used < 2) return "needs two devices";
    if (gpuexec_device_get_attribute(0, COOPERATIVE_MULTI_DEVICE, &value) != GPUEXEC_OK || !value)
        return "no multi-device cooperative launch here";
    if (!raw(&multi, "cuLaunchCooperativeKernelMultiDevice", 9000) ||
            !raw(&set_current, "cuCtxSetCurrent", 4000))
        return "the driver has no such call";
    for (i = 0; i < used; i++) {
        device *d = &devices[i];
        gpuexec_module m;
        d->context = gpuexec_context_open(i, NULL);
        d->stream = gpuexec_stream_create(d->context, NULL);
        m = gpuexec_module_load(d->context, text, 0, NULL);
        d->mark = gpuexec_kernel_get(m, "mark");
        d->other = gpuexec_kernel_get(m, "other");
        d->meet = gpuexec_kernel_get(m, "meet");
        d->words = (uint32_t *)gpuexec_alloc_pinned(d->context, 4096);
        if (!CHECK_MADE(d->meet) || !CHECK(d->words != NULL)) return "not made";
        for (k = 0; k < 4; k++) d->address[k] = gpuexec_pinned_address(d->words) + 4u * (unsigned)k;
        d->arguments[0] = &d->address[0];
        d->arguments[1] = &d->address[1];
    }
    CHECK_EQ(set_current(gpuexec_context_native(devices[0].context)), 0);
    make_list();
    return NULL;
}

static void finish(void) {
    int (*set_current)(void *), i;
    for (i = 0; i < used; i++) CHECK_OK(gpuexec_stream_sync(devices[i].stream));
    if (raw(&set_current, "cuCtxSetCurrent", 4000)) set_current(NULL);
}

static uint32_t word(int i, int k) {
    return __atomic_load_n((uint32_t *)devices[i].words + k, __ATOMIC_ACQUIRE);
}
static void set_word(int i, int k) {
    __atomic_store_n((uint32_t *)devices[i].words + k, 1, __ATOMIC_RELEASE);
}
static int becomes_1(int i, int k) {
    TEST_UNTIL(word(i, k));
    return word(i, k) == 1;
}

TEST_MULTI(rules) {
    const char *why = start(2);
    gpuexec_stream second;
    unsigned *differs[7];
    int i;
    if (why) SKIP(why);
    second = gpuexec_stream_create(devices[0].context, NULL);
    CHECK_EQ(multi(list, 0, 0), 1);
    CHECK_EQ(multi(NULL, 2, 0), 1);
    CHECK_EQ(multi(list, 2, 4), 1);
    for (i = 0; i < 7; i++) {
        differs[i] = i < 3 ? &list[1].grid[i] : i < 6 ? &list[1].block[i - 3] : &list[1].shared;
        *differs[i] += 2;
        CHECK_EQ(multi(list, 2, 0), 1);
        *differs[i] -= 2;
    }
    for (i = 0; i < 3; i++) { /* NULL, legacy, per thread */
        list[1].stream = (void *)(uintptr_t)i;
        CHECK_EQ(multi(list, 2, 0), 400);
    }
    list[1].stream = list[0].stream; /* of the other device */
    CHECK_EQ(multi(list, 2, 0), 400);
    list[1] = list[0];
    CHECK_EQ(multi(list, 2, 0), 101);
    list[1].stream = gpuexec_stream_native(second);
    CHECK_EQ(multi(list, 2, 0), 101);
    make_list();
    list[0].grid[0] = list[1].grid[0] = 1000000;
    CHECK_EQ(multi(list, 2, 0), 720);
    make_list();
    set_word(0, 0);
    set_word(1, 0);
    test_sleep_ms(20); /* not order: a kernel that had been started could end */
    CHECK_EQ(word(0, 1) + word(1, 1), 0);
    list[1].function = gpuexec_kernel_native(devices[1].other);
    CHECK_EQ(multi(list, 2, 0), 0); /* the driver does not compare the functions */
    finish();
    CHECK(word(0, 1) == 1 && word(1, 1) == 1);
}

static void before_the_launch(unsigned flags) {
    device *d = &devices[1];
    make_list();
    set_word(0, 0);
    set_word(1, 0);
    /* waits */
    CHECK_OK(gpuexec_launch(
            d->mark, d->stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(d->address[2], d->address[3])));
    CHECK_EQ(multi(list, 2, flags), 0);
    if (flags & NO_PRE_SYNC) CHECK(becomes_1(0, 1));
    test_sleep_ms(50); /* not order: a kernel could begin too early */
    CHECK_EQ(word(0, 1), flags & NO_PRE_SYNC ? 1 : 0);
    CHECK_EQ(word(1, 1), 0);
    set_word(1, 2);
    CHECK(becomes_1(0, 1) && becomes_1(1, 1));
    finish();
}

static void after_the_launch(unsigned flags) {
    device *d = &devices[0];
    make_list();
    set_word(0, 0);
    set_word(0, 2);
    CHECK_EQ(multi(list, 2, flags), 0); /* the second device's kernel waits */
    CHECK_OK(gpuexec_launch(
            d->mark, d->stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(d->address[2], d->address[3])));
    CHECK(becomes_1(0, 1));
    if (flags & NO_POST_SYNC) CHECK(becomes_1(0, 3));
    test_sleep_ms(50); /* not order: a kernel could begin too early */
    CHECK_EQ(word(0, 3), flags & NO_POST_SYNC ? 1 : 0);
    set_word(1, 0);
    CHECK(becomes_1(0, 3));
    finish();
}

TEST_MULTI(no_kernel_begins_before_all_prior_work) {
    const char *why = start(2);
    if (why) SKIP(why);
    before_the_launch(0);
    start(2);
    before_the_launch(NO_PRE_SYNC);
}

TEST_MULTI(no_later_work_begins_before_all_kernels_are_done) {
    const char *why = start(2);
    if (why) SKIP(why);
    after_the_launch(0);
    start(2);
    after_the_launch(NO_POST_SYNC);
}

static const char *meet(int most, uint32_t rounds) {
    int (*enable)(void *, unsigned), (*set_current)(void *), i, k;
    enum { BLOCKS = 3 };
    gpuexec_ptr area[MOST], table[MOST], wrong[MOST];
    uint32_t n, me[MOST], bad[BLOCKS];
    void *arguments[MOST][5];
    const char *why = start(most);
    if (why) return why;
    raw(&enable, "cuCtxEnablePeerAccess", 4000);
    raw(&set_current, "cuCtxSetCurrent", 4000);
    for (i = 0; i < used; i++)
        for (k = 0; k < used; k++)
            if (i != k && !gpuexec_device_can_access_peer(i, k))
                return "no peer access between the devices";
    for (i = 0; i < used; i++) {
        set_current(gpuexec_context_native(devices[i].context));
        for (k = 0; k < used; k++)
            if (i != k) {
                int r = enable(gpuexec_context_native(devices[k].context), 0);
                CHECK(r == 0 || r == 704);
            }
        area[i] = gpuexec_alloc(devices[i].context, 2048);
        table[i] = gpuexec_alloc(devices[i].context, sizeof area);
        wrong[i] = gpuexec_alloc(devices[i].context, sizeof bad);
        gpuexec_fill(devices[i].stream, area[i], 0, 1, 2048);
        gpuexec_fill(devices[i].stream, wrong[i], 0xff, 1, sizeof bad);
    }
    n = (uint32_t)used;
    for (i = 0; i < used; i++) {
        params p = { gpuexec_kernel_native(devices[i].meet), { BLOCKS, 1, 1 }, { 1, 1, 1 }, 0,
            gpuexec_stream_native(devices[i].stream), NULL };
        void *a[5];
        me[i] = (uint32_t)i;
        a[0] = &table[i];
        a[1] = &n;
        a[2] = &me[i];
        a[3] = &rounds;
        a[4] = &wrong[i];
        memcpy(arguments[i], a, sizeof a);
        p.arguments = arguments[i];
        list[i] = p;
        gpuexec_copy_in(devices[i].stream, table[i], area, sizeof area[0] * n);
        CHECK_OK(gpuexec_stream_sync(devices[i].stream));
    }
    CHECK_EQ(multi(list, n, 0), 0);
    for (i = 0; i < used; i++) {
        CHECK_OK(gpuexec_copy_out(devices[i].stream, bad, wrong[i], sizeof bad));
        CHECK_OK(gpuexec_stream_sync(devices[i].stream));
        for (k = 0; k < BLOCKS; k++) CHECK_EQ(bad[k], 0);
    }
    finish();
    return NULL;
}

TEST_MULTI(kernels_of_two_devices_meet) {
    const char *why = meet(2, 200);
    if (why) SKIP(why);
}

TEST_ALONE_MULTI(kernels_of_all_devices_meet_on_one_worker) {
    const char *why;
    setenv("SIMGPU_DEVICES", "8", 1); /* for the CPU device; a GPU ignores it */
    setenv("SIMGPU_THREADS", "1", 1);
    if ((why = meet(MOST, 20)) != NULL) SKIP(why);
}

/* The CPU device's topologies. A GPU has a fixed one. */
static const char *peers(const char *topology, int reached_by_0) {
    int (*enable)(void *, unsigned), (*attribute)(int *, int, int, int), (*set_current)(void *), i,
            value;
    gpuexec_context first, other;
    if (!on_cpu_device()) return "only the CPU device has topologies to choose from";
    setenv("SIMGPU_DEVICES", "4", 1);
    setenv("SIMGPU_PEERS", topology, 1);
    CHECK_EQ(gpuexec_device_count(), 4);
    if (!raw(&enable, "cuCtxEnablePeerAccess", 4000) ||
            !raw(&attribute, "cuDeviceGetP2PAttribute", 8000) ||
            !raw(&set_current, "cuCtxSetCurrent", 4000))
        return "the driver has no such call";
    first = gpuexec_context_open(0, NULL);
    for (i = 1; i < 4; i++) {
        int can = reached_by_0 >> i & 1;
        other = gpuexec_context_open(i, NULL);
        CHECK_EQ(gpuexec_device_can_access_peer(0, i), can);
        CHECK_EQ(attribute(&value, 2, 0, i), 0); /* access supported */
        CHECK_EQ(value, can);
        CHECK_EQ(set_current(gpuexec_context_native(first)), 0);
        CHECK_EQ(enable(gpuexec_context_native(other), 0), can ? 0 : 217);
    }
    set_current(NULL);
    CHECK_EQ(gpuexec_device_can_access_peer(2, 3), strcmp(topology, "none") != 0);
    return NULL;
}

TEST_ALONE_MULTI(peers_all) {
    const char *why = peers("all", 14);
    if (why) SKIP(why);
}

TEST_ALONE_MULTI(peers_none) {
    const char *why = peers("none", 0);
    if (why) SKIP(why);
}

TEST_ALONE_MULTI(peers_pairs) {
    const char *why = peers("pairs", 2);
    if (why) SKIP(why);
}

TEST_ALONE_MULTI(the_compiler_reports_each_entry) {
    gpuexec_module_desc desc = { 0 };
    const char *log;
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* otherwise a GPU's driver may not compile at all */
    desc.verbose = 1;
    log = gpuexec_module_log(gpuexec_module_load(gpuexec_context_open(0, NULL), text, 0, &desc));
    CHECK_TEXT(log, "Compiling entry function 'mark' for 'sm_",
            "Compiling entry function 'meet' for 'sm_", "Used ", " registers");
}
