/* ipc_raw.c - what processes share through the driver's own calls: handles that are not an
   exporter's, atomics of 128 bits, and another process that is stopped at any moment. The suite
   keeps the CPU device faithful. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#endif
#include "../../test.h"
#include <sched.h>
#include <sys/mman.h>

typedef unsigned long long ptr; /* CUdeviceptr */
typedef gxi_ipc_handle handle;  /* CUipcMemHandle, CUipcEventHandle */
enum {
    LAZY_PEER = 1,
    INTERPROCESS = 6 /* without timing */,
    BYTES = 4096,
    PATIENCE = 60 /* seconds */
};

static driver_calls cu;
static void *context, *stream;

/* Between the processes. */
static struct between {
    handle memory, event;
    int exported, opened, stop, rounds;
} * between;

static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST); }
static int is_set(int *flag) { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }
static int wait_for(int *flag) {
    const double end = test_seconds() + PATIENCE;
    while (!is_set(flag) && test_seconds() < end) sched_yield(); /* not order: polls */
    return is_set(flag);
}

static void begin(void) {
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream, 1), 0);
}

/* Runs `other` in a process that has made no CUDA calls, as this one has not. */
static pid_t start_other(void (*other)(void)) {
    between = (struct between *)mmap(
            NULL, sizeof *between, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        begin();
        other();
        fflush(NULL);
        _exit(test_failures != 0);
    }
    return child;
}
static void end_other(pid_t child) {
    int status = 0;
    set(&between->stop);
    kill(child, SIGCONT);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    munmap(between, sizeof *between);
}

static void export_memory(void) {
    ptr p = 0;
    CHECK_EQ(cu.cuMemAlloc_v2(&p, BYTES), 0);
    CHECK_EQ(cu.cuMemsetD8_v2(p, 0, BYTES), 0);
    CHECK_EQ(cu.cuIpcGetMemHandle(&between->memory, p), 0);
    set(&between->exported);
    CHECK(wait_for(&between->stop));
}

/* A handle's bytes may be anything. On the CPU device it says where the memory is, and how long: it
   must agree with what the exporter says. */
TEST_ALONE(a_handle_that_was_changed) {
    static const uint64_t by[] = { 1, 512, 4096, 1ull << 16, 1ull << 32, 1ull << 40, 0xffffffff };
    pid_t child;
    ptr p = 0;
    int i;
    size_t k;
    if (!on_cpu_device()) SKIP("a GPU's handles are opaque");
    child = start_other(export_memory);
    begin();
    CHECK(wait_for(&between->exported));
    for (i = 0; i < 8; i++)
        for (k = 0; k < sizeof by / sizeof *by; k++) {
            handle forged = between->memory;
            /* the number of a process: it may be one of its threads */
            if (i == 0 && by[k] >> 32) continue;
            forged.word[i] += by[k];
            CHECK_EQ(cu.cuIpcOpenMemHandle_v2(&p, forged, LAZY_PEER), 1);
        }
    CHECK_EQ(cu.cuIpcOpenMemHandle_v2(&p, between->memory, LAZY_PEER), 0);
    CHECK_EQ(cu.cuMemsetD8_v2(p + BYTES - 1, 1, 1), 0);
    CHECK_EQ(cu.cuMemsetD8_v2(p + BYTES, 1, 1), 1);
    CHECK_EQ(cu.cuIpcCloseMemHandle(p), 0);
    end_other(child);
}

/* Both halves of a word change together, n times by each thread. */
static const char text[] =
        ".version 8.4\n.target sm_90\n.address_size 64\n"
        ".visible .entry add(.param .u64 p, .param .u32 n) {\n"
        "    .reg .b64 %p, %lo, %hi, %lo2, %hi2, %a, %b; .reg .b128 %old, %new, %got; .reg .b32 "
        "%n; .reg .pred %q, %r;\n"
        "    ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; mov.b64 %lo, 0; mov.b64 %hi, 0;\n"
        "NEXT: add.u64 %lo2, %lo, 1; sub.u64 %hi2, %hi, 1;\n"
        "    mov.b128 %old, {%lo, %hi}; mov.b128 %new, {%lo2, %hi2};\n"
        "    atom.relaxed.sys.global.cas.b128 %got, [%p], %old, %new;\n"
        "    mov.b128 {%a, %b}, %got; setp.eq.u64 %q, %a, %lo; setp.eq.and.u64 %r, %b, %hi, %q;\n"
        "    @!%r mov.b64 %lo, %a; @!%r mov.b64 %hi, %b; @!%r bra NEXT;\n"
        "    mov.b64 %lo, %lo2; mov.b64 %hi, %hi2; sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q "
        "bra NEXT; ret;\n}\n";
enum { TIMES = 100000, LANES = 2 };

static int add_to(ptr p) {
    void *module = NULL, *add = NULL, *params[2];
    unsigned n = TIMES;
    params[0] = &p;
    params[1] = &n;
    if (cu.cuModuleLoadData(&module, text)) return 0;
    CHECK_EQ(cu.cuModuleGetFunction(&add, module, "add"), 0);
    __atomic_fetch_add(&between->rounds, 1, __ATOMIC_SEQ_CST);
    /* together */
    while (__atomic_load_n(&between->rounds, __ATOMIC_SEQ_CST) < 2 && !is_set(&between->stop)) {}
    CHECK_EQ(cu.cuLaunchKernel(add, 1, 1, 1, LANES, 1, 1, 0, stream, params, NULL), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    return 1;
}
static void add_there(void) {
    ptr p = 0;
    CHECK_EQ(cu.cuMemAlloc_v2(&p, BYTES), 0);
    CHECK_EQ(cu.cuMemsetD8_v2(p, 0, BYTES), 0);
    CHECK_EQ(cu.cuStreamSynchronize(NULL), 0);
    CHECK_EQ(cu.cuIpcGetMemHandle(&between->memory, p), 0);
    set(&between->exported);
    add_to(p);
    set(&between->opened);
    CHECK(wait_for(&between->stop));
}
TEST_ALONE(atomics_of_128_bits_between_processes) {
    uint64_t is[2] = { 0, 0 };
    const pid_t child = start_other(add_there);
    ptr p = 0;
    begin();
    CHECK(wait_for(&between->exported));
    CHECK_EQ(cu.cuIpcOpenMemHandle_v2(&p, between->memory, LAZY_PEER), 0);
    if (!add_to(p)) {
        end_other(child);
        SKIP("no atomics of 128 bits: they need compute capability 9.0 and CUDA 12.4");
    }
    CHECK(wait_for(&between->opened));
    CHECK_EQ(cu.cuMemcpyDtoH_v2(is, p, sizeof is), 0);
    CHECK_EQ(is[0], 2 * TIMES * LANES);
    CHECK_EQ(is[1], -(uint64_t)(2 * TIMES * LANES));
    CHECK_EQ(cu.cuIpcCloseMemHandle(p), 0);
    end_other(child);
}

static void record_there(void) {
    void *event = NULL;
    CHECK(wait_for(&between->exported));
    CHECK_EQ(cu.cuIpcOpenEventHandle(&event, between->event), 0);
    set(&between->opened);
    while (!is_set(&between->stop)) CHECK_EQ(cu.cuEventRecord(event, stream), 0);
}

/* Wherever the other process is stopped, this one's calls return. The test ends by its time limit
   if they do not. */
TEST_ALONE(a_stopped_process_stops_no_other) {
    pid_t child;
    void *event = NULL;
    int i;
    if (!on_cpu_device()) SKIP("not known of a GPU's driver");
    child = start_other(record_there);
    begin();
    CHECK_EQ(cu.cuEventCreate(&event, INTERPROCESS), 0);
    CHECK_EQ(cu.cuIpcGetEventHandle(&between->event, event), 0);
    set(&between->exported);
    CHECK(wait_for(&between->opened));
    alarm(PATIENCE);
    for (i = 0; i < 500; i++) {
        int k, status;
        CHECK_EQ(kill(child, SIGSTOP), 0);
        for (k = 0; k < 1000 && waitpid(child, &status, WUNTRACED | WNOHANG) == 0; k++)
            sched_yield(); /* not order: it may also stop later */
        for (k = 0; k < 3; k++) CHECK_EQ(cu.cuEventRecord(event, stream), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
        CHECK_EQ(kill(child, SIGCONT), 0);
        /* not order: the process stops at another point each time */
        for (k = 0; k < i % 50; k++) sched_yield();
    }
    alarm(0);
    CHECK_EQ(cu.cuStreamWaitEvent(stream, event, 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    end_other(child);
}
