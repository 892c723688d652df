/* schedules.c - the CPU device as an adversary: SIMGPU_SCHEDULE and SIMGPU_LAZY find the omissions
   in faulty kernels and host code, do not affect the correct variants, repeat a schedule for the
   same seed, and let every correct program finish. A GPU has nothing similar, but runs the correct
   variants.
   Each seed runs in a separate process, because the device reads its settings once. TEST_VERBOSE=1
   prints how many seeds found each fault. */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include "../../test.h"
#include <sys/mman.h>

#define PTX "tests/device/unit/schedules.ptx"
enum { SEEDS = 20, BLOCKS = 4, THREADS = 128, WORDS = BLOCKS * THREADS };

/* Streams that work only when something waits for them: no work starts because the machine stopped
   this process, which would find nothing, or another schedule. */
#define NEVER "60000"

/* Configures a device with only these adversaries. */
static void adversaries(const char *schedule, const char *lazy, const char *threads) {
    setenv("SIMGPU_SCHEDULE", schedule, 1);
    setenv("SIMGPU_LAZY", lazy, 1);
    setenv("SIMGPU_THREADS", threads, 1);
}

/* The results of the children. */
typedef struct report {
    int ran, right_failed[16], wrong_found[16];
    uint64_t order[SEEDS + 1];
} report;
static report *all;
static int seed; /* of the child; 0: the first child, without an adversary */

static void open_report(void) {
    all = (report *)mmap(
            NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(all != MAP_FAILED)) exit(1);
}

/* Runs the function in children with seeds 1 to n. A GPU has no schedules to choose: it runs the
   function once. */
static void run_seeds(int n, const char *lazy, void (*function)(void)) {
    char text[16];
    if (!on_cpu_device()) n = 1;
    open_report();
    setenv("SIMGPU_DEVICES", "2", 1);
    for (seed = 1; seed <= n; seed++) {
        snprintf(text, sizeof text, "%d", seed);
        adversaries(text, lazy, "1");
        CHECK(run_child(function));
    }
    CHECK_EQ(all->ran, n);
}

/* -------------------------------------------------------------------------------------------------
   Kernels. */

typedef struct words {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream s;
    int *out, *work;
    gpuexec_ptr out_at, work_at;
} words;

static words open_words(int device) {
    words w;
    w.ctx = gpuexec_context_open(device, NULL);
    w.mod = gpuexec_module_load_file(w.ctx, PTX, NULL);
    if (!CHECK_MADE(w.mod)) exit(1);
    w.s = gpuexec_stream_create(w.ctx, NULL);
    w.out = (int *)gpuexec_alloc_pinned(w.ctx, WORDS * sizeof *w.out);
    w.work = (int *)gpuexec_alloc_pinned(w.ctx, 64 * sizeof *w.work);
    w.out_at = gpuexec_pinned_address(w.out);
    w.work_at = gpuexec_pinned_address(w.work);
    return w;
}

static void start_kernel(
        words w, const char *name, gpuexec_stream s, gpuexec_ptr out, gpuexec_ptr work, int me) {
    gpuexec_launch(gpuexec_kernel_get(w.mod, name), s, gpuexec_grid(BLOCKS, THREADS, 0),
            GPUEXEC_ARGS(out, work, me));
}

/* Returns 1 if the first n words are `want`. */
static int run_kernel(words w, const char *name, int n, int want) {
    int i, good = 1;
    memset(w.out, 0, WORDS * sizeof *w.out);
    memset(w.work, 0, 64 * sizeof *w.work);
    start_kernel(w, name, w.s, w.out_at, w.work_at, 0);
    CHECK_OK(gpuexec_stream_sync(w.s));
    for (i = 0; i < n; i++) good &= w.out[i] == want;
    return good;
}

/* The words are in pinned memory, which both devices see. */
static int run_meet(words w, const char *name) {
    words other = open_words(1);
    memset(w.out, 0, 2 * sizeof *w.out);
    memset(w.work, 0, 4 * sizeof *w.work);
    start_kernel(w, name, w.s, w.out_at, w.work_at, 0);
    start_kernel(other, name, other.s, w.out_at, w.work_at, 1);
    gpuexec_stream_wait_stream(w.s, other.s); /* with lazy streams both start at the same time */
    CHECK_OK(gpuexec_stream_sync(w.s));
    return w.out[0] == 1 && w.out[1] == 1;
}

static const struct {
    const char *name;
    int words, want;
} kernels[] = {
    { "reduce", WORDS, THREADS *(THREADS + 1) / 2 },
    { "double_buffer", WORDS, 1 },
    { "broadcast", WORDS, 28 },
    { "lanes_apart", WORDS, 1 },
    { "lanes_together", WORDS, 1 },
    { "no_wait", BLOCKS, 1 },
    { "no_fence", BLOCKS, 1 },
    { "last_block", 1, BLOCKS },
    { "lock", 1, 4 * BLOCKS },
    { "count", 1, WORDS },
    { "meet", 0, 0 },
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static void planted_kernels(void) {
    words w = open_words(0);
    int k;
    char name[64];
    for (k = 0; k < KERNELS; k++) {
        if (!kernels[k].words && gpuexec_device_count() < 2) continue;
        snprintf(name, sizeof name, "%s_right", kernels[k].name);
        all->right_failed[k] += !(kernels[k].words
                        ? run_kernel(w, name, kernels[k].words, kernels[k].want)
                        : run_meet(w, name));
        if (!on_cpu_device()) continue;
        snprintf(name, sizeof name, "%s_wrong", kernels[k].name);
        all->wrong_found[k] += !(kernels[k].words
                        ? run_kernel(w, name, kernels[k].words, kernels[k].want)
                        : run_meet(w, name));
    }
    all->ran++;
    gpuexec_shutdown();
}

TEST_ALONE_MULTI(a_seed_finds_what_is_missing_in_a_kernel_and_nothing_in_its_twin) {
    int k;
    run_seeds(SEEDS, NEVER, planted_kernels);
    for (k = 0; k < KERNELS; k++) {
        if (getenv("TEST_VERBOSE"))
            printf("    %-16s found by %2d of %d seeds\n", kernels[k].name, all->wrong_found[k],
                    SEEDS);
        if (!CHECK_EQ(all->right_failed[k], 0) ||
                (on_cpu_device() && !CHECK(all->wrong_found[k] > 0)))
            printf("%s\n", kernels[k].name);
    }
}

/* -------------------------------------------------------------------------------------------------
   One seed, one schedule. */

static void note_order(void) {
    words w = open_words(0);
    int i;
    CHECK(run_kernel(w, "order", 0, 0));
    all->order[seed] = 14695981039346656037u;
    for (i = 0; i < WORDS; i++)
        all->order[seed] = (all->order[seed] ^ (uint64_t)w.out[i]) * 1099511628211u;
    all->ran++;
    gpuexec_shutdown();
}

TEST_ALONE(a_seed_is_a_schedule) {
    uint64_t first[SEEDS + 1];
    int i, k;
    if (!on_cpu_device()) SKIP("only the CPU device has schedules");
    run_seeds(SEEDS, NEVER, note_order);
    memcpy(first, all->order, sizeof first);
    run_seeds(SEEDS, NEVER, note_order);
    for (i = 1; i <= SEEDS; i++) {
        CHECK(first[i] == all->order[i]);
        for (k = 1; k < i; k++) CHECK(first[k] != first[i]);
    }
}

/* -------------------------------------------------------------------------------------------------
   Host code. Each function returns whether its result was right. */

static const gpuexec_stream_desc non_blocking = { 0, 1, 0, 0 };

typedef struct host {
    words w;
    gpuexec_stream a, b;
    gpuexec_ptr d;
    volatile int *p;
} host;

static host open_host(void) {
    host h;
    h.w = open_words(0);
    h.a = gpuexec_stream_create(h.w.ctx, &non_blocking);
    h.b = gpuexec_stream_create(h.w.ctx, &non_blocking);
    h.d = gpuexec_alloc(h.w.ctx, 4);
    h.p = h.w.out;
    CHECK_OK(gpuexec_fill_now(h.w.ctx, h.d, 0, 1, 4));
    *h.p = 0;
    return h;
}

/* The host reads the destination of a copy without waiting for it. */
static int read_too_early(host h, int right) {
    int got;
    gpuexec_fill(h.a, h.d, 7, 4, 1);
    gpuexec_copy_out(h.a, h.w.out, h.d, 4);
    if (right) CHECK_OK(gpuexec_stream_sync(h.a));
    got = *h.p;
    CHECK_OK(gpuexec_stream_sync(h.a));
    return got == 7;
}

/* The host writes to a pinned buffer while a copy still has to read it. */
static int reused_too_early(host h, int right) {
    *h.p = 1;
    gpuexec_copy_in(h.a, h.d, h.w.out, 4);
    if (right) CHECK_OK(gpuexec_stream_sync(h.a));
    *h.p = 2;
    CHECK_OK(gpuexec_stream_sync(h.a));
    gpuexec_copy_out(h.a, h.w.out, h.d, 4);
    CHECK_OK(gpuexec_stream_sync(h.a));
    return *h.p == 1;
}

/* A stream reads data that another stream writes, and does not wait for it. */
static int streams_apart(host h, int right) {
    gpuexec_fill(h.a, h.d, 7, 4, 1);
    if (right) gpuexec_stream_wait_stream(h.b, h.a);
    gpuexec_copy_out(h.b, h.w.out, h.d, 4);
    CHECK_OK(gpuexec_stream_sync(h.b));
    return *h.p == 7;
}

/* The same, but finally the host waits for everything. */
static int streams_apart_then_all(host h, int right) {
    gpuexec_fill(h.a, h.d, 7, 4, 1);
    if (right) gpuexec_stream_wait_stream(h.b, h.a);
    gpuexec_copy_out(h.b, h.w.out, h.d, 4);
    CHECK_OK(gpuexec_context_sync(h.w.ctx));
    return *h.p == 7;
}

/* A stream that does not synchronise with the legacy stream reads data that the legacy stream
   writes. */
static int apart_from_legacy(host h, int right) {
    gpuexec_fill(gpuexec_stream_legacy(h.w.ctx), h.d, 7, 4, 1);
    gpuexec_copy_out(right ? h.w.s : h.a, h.w.out, h.d, 4);
    CHECK_OK(gpuexec_stream_sync(right ? h.w.s : h.a));
    return *h.p == 7;
}

static driver_calls cu;

/* The driver's synchronous fills and copies can return before the device has finished. */
static int fill_that_returns(host h, int right) {
    cu = calls_find();
    gpuexec_context_push(h.w.ctx);
    CHECK_EQ(cu.cuMemsetD32_v2(h.d, 7, 1), 0);
    gpuexec_context_pop(h.w.ctx);
    if (right) CHECK_OK(gpuexec_context_sync(h.w.ctx));
    gpuexec_copy_out(h.a, h.w.out, h.d, 4);
    CHECK_OK(gpuexec_stream_sync(h.a));
    return *h.p == 7;
}

static int copy_that_returns(host h, int right) {
    int seven = 7;
    cu = calls_find();
    gpuexec_context_push(h.w.ctx);
    CHECK_EQ(cu.cuMemcpyHtoD_v2(h.d, &seven, 4), 0);
    gpuexec_context_pop(h.w.ctx);
    seven = 8;
    if (right) CHECK_OK(gpuexec_context_sync(h.w.ctx));
    gpuexec_copy_out(h.a, h.w.out, h.d, 4);
    CHECK_OK(gpuexec_stream_sync(h.a));
    return *h.p == 7;
}

/* Memory is freed on a stream that does not wait for the stream that still uses it: an error, and
   the last call of the process. */
static int freed_too_early(host h, int right) {
    gpuexec_ptr d = 0;
    cu = calls_find();
    CHECK_EQ(cu.cuMemAllocAsync(&d, 4, gpuexec_stream_native(h.a)), 0);
    gpuexec_fill(h.a, d, 7, 4, 1);
    if (right) gpuexec_stream_wait_stream(h.b, h.a);
    CHECK_EQ(cu.cuMemFreeAsync(d, gpuexec_stream_native(h.b)), 0);
    return gpuexec_stream_sync(h.b) == GPUEXEC_OK && gpuexec_stream_sync(h.a) == GPUEXEC_OK;
}

/* A graph from a capture: one branch reads what the other writes, and forks off before the
   write. */
static void *branches(host h, int right) {
    void *a = gpuexec_stream_native(h.a), *b = gpuexec_stream_native(h.b), *e = NULL, *graph = NULL,
         *exec = NULL;
    gpuexec_context_push(h.w.ctx);
    CHECK_EQ(cu.cuEventCreate(&e, 2), 0);
    CHECK_EQ(cu.cuStreamBeginCapture_v2(a, 1), 0);
    if (!right) CHECK_EQ(cu.cuEventRecord(e, a), 0);
    CHECK_EQ(cu.cuMemsetD32Async(h.d, 7, 1, a), 0);
    if (right) CHECK_EQ(cu.cuEventRecord(e, a), 0);
    CHECK_EQ(cu.cuStreamWaitEvent(b, e, 0), 0);
    CHECK_EQ(cu.cuMemcpyDtoHAsync_v2(h.w.out, h.d, 4, b), 0);
    CHECK_EQ(cu.cuEventRecord(e, b), 0);
    CHECK_EQ(cu.cuStreamWaitEvent(a, e, 0), 0);
    CHECK_EQ(cu.cuStreamEndCapture(a, &graph), 0);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    gpuexec_context_pop(h.w.ctx);
    return exec;
}

static int branches_apart(host h, int right) {
    cu = calls_find();
    CHECK_EQ(cu.cuGraphLaunch(branches(h, right), gpuexec_stream_native(h.b)), 0);
    CHECK_OK(gpuexec_stream_sync(h.b));
    return *h.p == 7;
}

static int (*const hosts[])(host, int) = { read_too_early, reused_too_early, streams_apart,
    streams_apart_then_all, apart_from_legacy, fill_that_returns, copy_that_returns, branches_apart,
    freed_too_early };
enum { HOSTS = sizeof hosts / sizeof hosts[0] };

static void planted_hosts(void) {
    int k, right;
    for (k = 0; k < HOSTS; k++)
        for (right = 1; right >= !on_cpu_device(); right--) {
            int good = hosts[k](open_host(), right);
            if (right) all->right_failed[k] += !good;
            else all->wrong_found[k] += !good;
        }
    all->ran++;
}

static void check_hosts(int n) {
    int k;
    CHECK_EQ(all->ran, n);
    for (k = 0; k < HOSTS; k++)
        if (!CHECK_EQ(all->right_failed[k], 0) ||
                (on_cpu_device() && !CHECK_EQ(all->wrong_found[k], n)))
            printf("host code %d\n", k);
}

TEST_ALONE(lazy_streams_find_what_is_missing_in_host_code) {
    adversaries("0", NEVER, "1");
    open_report();
    CHECK(run_child(planted_hosts));
    check_hosts(1);
}

/* Without SIMGPU_LAZY the seed alone decides which branch comes first: both orders occur. */
static void planted_branches(void) {
    int right;
    for (right = 1; right >= !on_cpu_device(); right--) {
        int good = branches_apart(open_host(), right);
        if (right) all->right_failed[0] += !good;
        else all->wrong_found[0] += !good;
    }
    all->ran++;
    gpuexec_shutdown();
}

TEST_ALONE(branches_of_a_graph_run_in_any_order) {
    run_seeds(SEEDS, "0", planted_branches);
    CHECK_EQ(all->right_failed[0], 0);
    if (on_cpu_device()) CHECK(all->wrong_found[0] > 0 && all->wrong_found[0] < SEEDS);
}

/* -------------------------------------------------------------------------------------------------
   Correct programs finish, even if they wait without a call that waits. */

/* The host polls pinned memory that the device writes, as programs do. The thread sanitizer sees no
   order in that. */
__attribute__((noinline, no_sanitize("thread"))) static int look(const volatile int *p) {
    return *p;
}
__attribute__((noinline, no_sanitize("thread"))) static void put(volatile int *p, int value) {
    *p = value;
}

static void say(void *flag) { __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE); }

static void wait_by_queries(void) {
    host h = open_host();
    gpuexec_event e;
    int said = 0;
    gpuexec_fill(h.a, h.d, 7, 4, 1);
    while (gpuexec_stream_query(h.a) == GPUEXEC_NOT_READY) {}
    gpuexec_fill(h.a, h.d, 8, 4, 1);
    e = gpuexec_stream_record(h.a, NULL);
    while (gpuexec_event_query(e) == GPUEXEC_NOT_READY) {}
    gpuexec_copy_out(h.b, h.w.out, h.d, 4);
    while (look(h.p) != 8) {} /* only time makes this start */
    gpuexec_stream_host_function(h.b, say, &said);
    while (!__atomic_load_n(&said, __ATOMIC_ACQUIRE)) {}
    put(h.p, 0);
    put(h.w.work, 0);
    /* on a GPU, a first query next to a spinning kernel waits for it */
    CHECK(gpuexec_kernel_get(h.w.mod, "set").id);
    /* waits for the next kernel, for which no call waits */
    start_kernel(h.w, "wait", h.a, h.w.out_at, h.w.work_at, 0);
    start_kernel(h.w, "set", h.b, h.w.out_at, h.w.work_at, 0);
    CHECK_OK(gpuexec_stream_sync(h.a));
    CHECK_EQ(look(h.p), 1);
    gpuexec_copy_out(h.a, h.w.out + 1, h.d, 4);
    CHECK_OK(gpuexec_stream_destroy(h.a));
    while (look(h.p + 1) != 8) {}
    gpuexec_shutdown();
}

/* run_child limits the time */
TEST_ALONE(queries_alone_make_progress) {
    adversaries("0", "1", "4");
    CHECK(run_child(wait_by_queries));
    adversaries("1", "1", "1");
    CHECK(run_child(wait_by_queries));
}
