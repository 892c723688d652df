/* kernels_raw.c - what a driver returns when a kernel accesses another state space than its
   instruction names, recurses without end, writes to its parameters or prints without end; through
   the driver's own calls. The expected values are those of an H200. Kernels that fail poison their
   process, so each runs in a child, several at a time. The suite keeps the CPU device faithful;
   some tests are only about it. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "../../test.h"
#include <fcntl.h>

typedef unsigned long long ptr;   /* CUdeviceptr */
enum { STACK_SIZE, PRINTF_FIFO }; /* CUlimit */
enum { BYTES = 1 << 20, HALF = BYTES / 2, WORDS = 8, AT_ONCE = 8 };

static driver_calls cu;

static void begin(void) {
    void *context = NULL;
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
}

enum { NOT_TAKEN = 77 }; /* a child's exit code: the driver, or the device, is older */
static void *load(const char *text) {
    void *module = NULL, *kernel = NULL;
    const int result = cu.cuModuleLoadData(&module, text);
    if (result == 222 || result == 209) _exit(NOT_TAKEN);
    CHECK_EQ(result, 0);
    CHECK_EQ(cu.cuModuleGetFunction(&kernel, module, "k"), 0);
    return kernel;
}

/* The kernels' parameters: p, zeroed memory for results; e, 1000 in each word; n, a number. */
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define OLD_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define ENTRY \
    ".visible .entry k(.param .u64 p, .param .u64 e, .param .align 8 .u32 n) {\n" \
    ".reg .u64 %p, %a, %b, %e; .reg .u32 %r, %t, %x, %n; .reg .pred %q; ld.param.u64 %p, [p]; " \
    "ld.param.u64 %e, [e];\n" \
    "ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;\n"

typedef struct row {
    const char *name, *text;
    int result;
    unsigned number, threads, again, stack; /* 0: 1 thread, 1 launch, the default limit */
    unsigned words[WORDS];
} row;

static const row *row_now;

static int launch(void *kernel, unsigned grid, unsigned threads, ptr p, unsigned n) {
    ptr e = p + HALF;
    void *params[3];
    params[0] = &p;
    params[1] = &e;
    params[2] = &n;
    return cu.cuLaunchKernel(kernel, grid, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
}

static void run_row(void) {
    unsigned words[WORDS], k;
    ptr p = 0;
    void *kernel;
    int result;
    begin();
    if (row_now->stack) CHECK_EQ(cu.cuCtxSetLimit(STACK_SIZE, row_now->stack), 0);
    kernel = load(row_now->text);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, BYTES), 0);
    CHECK_EQ(cu.cuMemsetD8_v2(p, 0, HALF), 0);
    CHECK_EQ(cu.cuMemsetD32_v2(p + HALF, 1000, HALF / 4), 0);
    for (k = 0; k <= row_now->again; k++)
        CHECK_EQ(launch(kernel, 1, row_now->threads ? row_now->threads : 1, p, row_now->number), 0);
    result = cu.cuCtxSynchronize();
    CHECK_EQ(result, row_now->result);
    if (result) return;
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p, sizeof words), 0);
    for (k = 0; k < WORDS; k++) CHECK_EQ(words[k], row_now->words[k]);
}

/* Runs each row in a child, and names those that fail. 0: the PTX is too new for the driver or the
   device. */
static int run_rows(const row *rows, unsigned n) {
    pid_t child[AT_ONCE];
    unsigned first, k, not_taken = 0;
    fflush(NULL);
    for (first = 0; first < n; first += AT_ONCE) {
        for (k = 0; k < AT_ONCE && first + k < n; k++) {
            if ((child[k] = fork()) != 0) continue;
            test_failures = 0;
            row_now = &rows[first + k];
            alarm((unsigned)test_timeout() / 2);
            run_row();
            fflush(NULL);
            _exit(test_failures != 0);
        }
        for (k = 0; k < AT_ONCE && first + k < n; k++) {
            int status = -1;
            CHECK_EQ(waitpid(child[k], &status, 0), child[k]);
            if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_TAKEN) not_taken++;
            else if (!CHECK_EQ(status, 0)) printf("... in \"%s\"\n", rows[first + k].name);
        }
    }
    return !not_taken;
}
#define RUN(rows) \
    do { \
        if (!run_rows(rows, (unsigned)(sizeof rows / sizeof *rows))) \
            SKIP("needs CUDA 12.0 and a GPU as an H200"); \
    } while (0)

/* -------------------------------------------------------------------------------------------------
   State spaces. */

#define SHARED "mov.u64 %a, s; cvta.shared.u64 %a, %a;"
#define LOCAL "mov.u64 %a, o; cvta.local.u64 %a, %a;"
#define PARAM "mov.b64 %a, n; cvta.param.u64 %a, %a;"
#define GLOBAL "mov.u64 %a, %e;"
/* %a is the address of 77; the result is %r, then what is in shared and local memory */
#define SPACE(place, access) \
    HEAD ENTRY ".shared .align 16 .b8 s[64]; .local .align 16 .b8 o[64];\n" \
               "mov.u32 %r, 77; st.shared.u32 [s], %r; st.local.u32 [o], %r;\n" place "\n" access \
               "\n" \
               "st.global.u32 [%p], %r; ld.shared.u32 %r, [s]; st.global.u32 [%p+4], %r; " \
               "ld.local.u32 %r, [o];\n" \
               "st.global.u32 [%p+8], %r; ret; }\n"
#define REFUSED(code, where, access) \
    { \
        access " of " #where, SPACE(where, access), code, 0, 0, 0, 0, { 0 } \
    }
#define DONE(where, access, ...) \
    { \
        access " of " #where, SPACE(where, access), 0, 6, 0, 0, 0, { __VA_ARGS__ } \
    }

TEST_ALONE(global_instructions_take_no_shared_or_local_address) {
    static const row rows[] = { REFUSED(717, SHARED, "ld.global.u32 %r, [%a];"),
        REFUSED(717, SHARED, "st.global.u32 [%a], %r;"),
        REFUSED(717, SHARED, "atom.global.add.u32 %r, [%a], 1;"),
        REFUSED(717, SHARED, "ld.volatile.global.u32 %r, [%a];"),
        REFUSED(717, SHARED, "ld.global.nc.v2.u32 {%r, %x}, [%a];"),
        REFUSED(717, LOCAL, "ld.global.u32 %r, [%a];"),
        REFUSED(717, LOCAL, "st.release.gpu.global.u32 [%a], %r;"),
        REFUSED(717, LOCAL, "red.global.add.u32 [%a], 1;"),
        REFUSED(717, LOCAL, "ld.global.u32 %r, [%a+1];"), /* also misaligned */
        REFUSED(717, LOCAL, "cp.async.ca.shared.global [s], [%a], 4; cp.async.wait_all;"),
        REFUSED(700, "mov.u64 %a, s;", "ld.global.u32 %r, [%a];"),
        DONE(GLOBAL, "ld.global.u32 %r, [%a];", 1000, 77, 77),
        DONE(PARAM, "ld.global.u32 %r, [%a];", 6, 77, 77) };
    RUN(rows);
}

TEST_ALONE(shared_instructions_take_only_shared_addresses) {
    static const row rows[] = { REFUSED(715, LOCAL, "ld.shared.u32 %r, [%a];"),
        REFUSED(715, LOCAL, "st.shared.u32 [%a], %r;"),
        REFUSED(715, LOCAL, "atom.shared.add.u32 %r, [%a], 1;"),
        REFUSED(715, PARAM, "ld.shared.u32 %r, [%a];"),
        REFUSED(715, LOCAL, "ld.shared::cluster.u32 %r, [%a];"),
        REFUSED(715, LOCAL, "ld.shared.u32 %r, [%a+1];"),
        REFUSED(715, PARAM, "mbarrier.init.shared.b64 [%a], 1;"),
        REFUSED(715, LOCAL, "mbarrier.init.b64 [%a], 1;"),
        REFUSED(715, LOCAL, "cp.async.ca.shared.global [%a], [%e], 4; cp.async.wait_all;"),
        REFUSED(716, SHARED, "ld.shared.u32 %r, [%a+1];"),
        DONE(SHARED, "ld.shared.u32 %r, [%a];", 77, 77, 77),
        DONE(SHARED, "atom.shared.add.u32 %r, [%a], 1;", 77, 78, 77),
        DONE(SHARED, "ld.shared::cluster.u32 %r, [%a];", 77, 77, 77) };
    /* an H200 accepts some of these addresses, and then changes shared memory */
    static const row by_luck[] = { REFUSED(715, GLOBAL, "mbarrier.init.b64 [%a], 1;") };
    RUN(rows);
    if (on_cpu_device()) RUN(by_luck);
}

TEST_ALONE(generic_instructions_take_any_address) {
    static const row rows[] = { DONE(SHARED, "atom.add.u32 %r, [%a], 1;", 77, 78, 77),
        DONE(LOCAL, "atom.add.u32 %r, [%a], 1;", 77, 77, 78),
        DONE(LOCAL, "st.u32 [%a], 5;", 77, 77, 5), DONE(GLOBAL, "ld.u32 %r, [%a];", 1000, 77, 77),
        REFUSED(700, "mov.u64 %a, s;", "ld.u32 %r, [%a];"),
        REFUSED(700, "mov.u64 %a, s;", "atom.add.u32 %r, [%a], 1;") };
    RUN(rows);
}

/* -------------------------------------------------------------------------------------------------
   Parameters: a launch may write to their generic addresses; its threads see that there, but not in
   ld.param, and no other launch sees it. */

#define AT_N "mov.b64 %a, n; cvta.param.u64 %b, %a;\n"
#define PARAMETER(name, body, ...) \
    { \
        name, HEAD ENTRY AT_N body " ret; }\n", 0, 7, 4, 1, 0, { __VA_ARGS__ } \
    }
TEST_ALONE(parameters_stay_as_they_were_launched) {
    static const row rows[] = {
        PARAMETER("store",
                "ld.u32 %x, [%b]; st.global.u32 [%p], %x; bar.sync 0; st.u32 [%b], 9; ld.param.u32 "
                "%x, [n];"
                "st.global.u32 [%p+4], %x; ld.u32 %x, [%b]; st.global.u32 [%p+8], %x;",
                7, 7, 9),
        PARAMETER("store of one thread",
                "setp.eq.u32 %q, %t, 0; @%q st.u32 [%b], 9; bar.sync 0; ld.u32 %x, [%b];"
                "mul.wide.u32 %a, %t, 4; add.u64 %p, %p, %a; st.global.u32 [%p], %x;",
                9, 9, 9, 9),
        PARAMETER("atomic",
                "atom.add.u32 %x, [%b], 1; bar.sync 0; ld.u32 %x, [%b]; st.global.u32 [%p], %x;"
                "ld.param.u32 %x, [n]; st.global.u32 [%p+4], %x;",
                11, 7),
        PARAMETER("where it is",
                "isspacep.param %q, %b; selp.u32 %x, 1, 0, %q; st.global.u32 [%p], %x;"
                "isspacep.global %q, %b; selp.u32 %x, 1, 0, %q; st.global.u32 [%p+4], %x;"
                "isspacep.local %q, %b; selp.u32 %x, 1, 0, %q; st.global.u32 [%p+8], %x;",
                1, 1, 0)
    };
    RUN(rows);
}

/* -------------------------------------------------------------------------------------------------
   Recursion: the limit of the stack bounds it. */

#define CALL "call f, (%n); st.global.u32 [%p], 1; ret; }\n"
#define COUNTED(frame) \
    HEAD ".global .u32 g;\n.func f(.reg .u32 n) { " frame " .reg .u32 m; .reg .pred q;\n" \
         "setp.eq.u32 q, n, 0; @q ret; sub.u32 m, n, 1; call f, (m); atom.global.add.u32 m, [g], " \
         "1; ret; }\n" ENTRY CALL
#define KEPT \
    ".local .align 8 .b8 o[256]; .reg .u64 a; mov.u64 a, o; cvta.local.u64 a, a; st.volatile.u32 " \
    "[a], n;"
TEST_ALONE(the_stack_limit_bounds_recursion) {
    static const row rows[] = {
        { "without a frame", HEAD ".func f(.reg .u32 n) { call f, (n); ret; }\n" ENTRY CALL, 700, 0,
                0, 0, 0, { 0 } },
        { "with registers",
                HEAD
                ".func f(.reg .u32 n) { .reg .u32 b; .reg .u64 q<40>; add.u32 b, n, 1; call f, (b);"
                "add.u32 b, b, n; ret; }\n" ENTRY CALL,
                700, 0, 0, 0, 0, { 0 } },
        { "through a pointer",
                HEAD ".func f() { .reg .u64 a; mov.u64 a, f; c: .callprototype _ (); call a, (), c;"
                     "ret; }\n" ENTRY "call f; ret; }\n",
                700, 0, 0, 0, 0, { 0 } },
        { "32 deep", COUNTED(""), 0, 32, 0, 0, 0, { 1 } },
        { "64 deep", COUNTED(""), 700, 64, 0, 0, 0, { 0 } },
        { "256 deep", COUNTED(""), 0, 256, 0, 0, 8192, { 1 } },
        { "512 deep", COUNTED(""), 700, 512, 0, 0, 8192, { 0 } },
        { "2048 deep", COUNTED(""), 0, 2048, 0, 0, 65536, { 1 } },
        { "4096 deep", COUNTED(""), 700, 4096, 0, 0, 65536, { 0 } },
        { "4 large frames", COUNTED(KEPT), 700, 4, 0, 0, 0, { 0 } },
        { "128 large frames", COUNTED(KEPT), 0, 128, 0, 0, 65536, { 1 } },
    };
    RUN(rows);
}

/* -------------------------------------------------------------------------------------------------
   printf: its buffer is a ring. Without a call that waits, only the newest lines remain. */

#define PRINTS \
    OLD_HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" \
             ".global .align 1 .b8 f[4] = { 37, 100, 10, 0 };\n" ENTRY \
             ".local .align 8 .b8 v[8]; mov.u32 %r, 0;\n" \
             "L: mov.u64 %a, f; cvta.global.u64 %a, %a; mov.u64 %b, v; cvta.local.u64 %b, %b; " \
             "st.local.u32 [v], %r;\n" \
             "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %a; st.param.b64 " \
             "[y], %b;\n" \
             "call (z), vprintf, (x, y); }\nadd.u32 %r, %r, 1; setp.lt.u32 %q, %r, %n; @%q bra " \
             "L;\n" \
             "st.volatile.global.u32 [%e], 1; ret; }\n"
static void print_many(void) {
    static char text[1 << 20];
    enum { LINES = 60000, ROOM = 512 << 10 };
    char path[] = "/tmp/gpuexec_kernels_raw_XXXXXX", *at = text;
    unsigned n, first, k;
    size_t size = 0;
    void *word = NULL, *kernel, *params[3];
    int file = mkstemp(path), out;
    ptr p = 0;
    ssize_t bytes;
    begin();
    unlink(path);
    CHECK_EQ(cu.cuCtxSetLimit(PRINTF_FIFO, ROOM - 1000), 0);
    CHECK_EQ(cu.cuCtxGetLimit(&size, PRINTF_FIFO), 0);
    CHECK_EQ(size, ROOM);
    CHECK_EQ(cu.cuMemHostAlloc(&word, 64, 0), 0);
    *(volatile unsigned *)word = 0;
    kernel = load(PRINTS);
    fflush(stdout);
    out = dup(1);
    dup2(file, 1);
    p = (ptr)(uintptr_t)word;
    n = LINES;
    params[0] = params[1] = &p;
    params[2] = &n;
    k = (unsigned)cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    /* not order: polls */
    while (!k && !__atomic_load_n((unsigned *)word, __ATOMIC_ACQUIRE)) test_sleep_ms(1);
    k = k ? k : (unsigned)cu.cuCtxSynchronize();
    fflush(stdout);
    dup2(out, 1);
    CHECK_EQ(k, 0);
    bytes = pread(file, text, sizeof text - 1, 0);
    CHECK(bytes > 0);
    first = (unsigned)strtoul(text, NULL, 10);
    for (k = first; *at && k < LINES; k++) {
        if (!CHECK_EQ(strtoul(at, &at, 10), k)) break;
        at++;
    }
    CHECK_EQ(k, LINES); /* none of the newest is missing */
    CHECK(first > 0 && LINES - first <= ROOM / 16 && LINES - first >= ROOM / 128);
}
TEST_ALONE(what_is_printed_stays_in_its_buffer) {
    if (!on_cpu_device()) SKIP("a GPU's driver also empties the buffer at times that it chooses");
    CHECK(run_child(print_many));
}

/* -------------------------------------------------------------------------------------------------
   Only about the CPU device. */

/* Four instructions: blocks of this kernel fill a quantum without a rest. */
static const char tiny[] = OLD_HEAD
        ".visible .entry k(.param .u64 p, .param .u64 e, .param .u32 n) { .reg .u64 %p;\n"
        ".reg .u32 %r; ld.param.u64 %p, [p]; mov.u32 %r, 1; red.global.add.u32 [%p], %r; ret; }\n";

static void time_out(void) {
    const char *text = NULL;
    ptr p = 0;
    void *kernel;
    setenv("SIMGPU_TIMEOUT", "0.2", 1);
    begin();
    kernel = load(tiny);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, BYTES), 0);
    CHECK_EQ(launch(kernel, 0x7fffffff, 1, p, 0), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 702);
    CHECK_EQ(cu.cuGetErrorString(702, &text), 0);
    CHECK_TEXT(
            text, "kernel k was still running after 0.2 s", "of its 2147483647 blocks not started");
}
TEST_ALONE(a_grid_of_many_small_blocks_times_out) {
    if (!on_cpu_device()) SKIP("a setting of the CPU device");
    CHECK(run_child(time_out));
}

/* Plays a system that stops a worker when it has read a clock: for longer than work is held, and
   from the beginning of a second on, where a difference of nanoseconds is negative. The CPU device
   finds this function before libc's. */
static int stalls;
static __thread int is_test;
int clock_gettime(clockid_t clock, struct timespec *out) {
    static int (*real)(clockid_t, struct timespec *);
    struct timespec pause = { 0, 200000 };
    int result;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    result = real(clock, out);
    if (is_test || !__atomic_load_n(&stalls, __ATOMIC_RELAXED)) return result;
    while (clock == CLOCK_REALTIME && out->tv_nsec > 3000000) {
        nanosleep(&pause, NULL); /* not order: plays a stall */
        real(clock, out);
    }
    pause.tv_nsec = 5000000;
    nanosleep(&pause, NULL); /* not order: plays a stall */
    return result;
}

static void poll_held_work(void) {
    const double end = test_seconds() + test_timeout() / 4.0;
    void *word = NULL, *kernel;
    setenv("SIMGPU_LAZY", "4", 1); /* holds work for 4 ms */
    is_test = 1;
    begin();
    kernel = load(tiny);
    CHECK_EQ(cu.cuMemHostAlloc(&word, 64, 0), 0);
    *(unsigned *)word = 0;
    __atomic_store_n(&stalls, 1, __ATOMIC_RELAXED);
    CHECK_EQ(launch(kernel, 1, 1, (ptr)(uintptr_t)word, 0), 0);
    while (!__atomic_load_n((unsigned *)word, __ATOMIC_ACQUIRE) && test_seconds() < end)
        test_sleep_ms(1); /* not order: polls */
    CHECK_EQ(__atomic_load_n((unsigned *)word, __ATOMIC_ACQUIRE), 1);
}
TEST_ALONE(held_work_begins_though_its_worker_was_stopped) {
    if (!on_cpu_device()) SKIP("a setting of the CPU device");
    CHECK(run_child(poll_held_work));
}

static void destroy_late(void) {
    void *context = NULL, *stream = NULL, *graph = NULL, *exec = NULL;
    ptr p = 0;
    begin();
    CHECK_EQ(cu.cuCtxCreate_v2(&context, 0, 0), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 64), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream, 1), 0);
    CHECK_EQ(cu.cuStreamBeginCapture_v2(stream, 2), 0);
    CHECK_EQ(cu.cuMemsetD32Async(p, 7, 1, stream), 0);
    CHECK_EQ(cu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_EQ(cu.cuCtxDestroy_v2(context), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(exec), 709);
}
TEST_ALONE(destroying_a_graph_after_its_context_is_an_error) {
    if (!on_cpu_device()) SKIP("the driver of an H200 never returns from this call");
    CHECK(run_child(destroy_late));
}
