/* green_raw.c - green contexts through the driver's own calls: how multiprocessors are split, where
   the blocks of their streams run, what they share with the primary context, and how they end. What
   the calls refuse is in tests/device/probe. */
#include "../../test.h"

typedef struct resource {
    int type;
    unsigned char private_bytes[92];
    unsigned sms, least, alignment;
    unsigned char rest[36];
} resource; /* CUdevResource */
enum { SM = 1, NON_BLOCKING = 1, DEFAULT_STREAM = 1, IGNORE_COSCHEDULING = 1 };
enum { MULTIPROCESSORS = 16 }; /* CUdevice_attribute */
enum { MOST_SMS = 1024, MOST_GROUPS = 64, THREADS = 32 };
enum { INVALID_HANDLE = 400, NOT_PERMITTED = 800 };
enum { TOO_LARGE = 720, DESTROYED = 709, NOT_READY = 600 };

static driver_calls cu;
static void *primary, *module, *place, *spin;
static unsigned long long counts; /* of blocks, by multiprocessor */
static resource all, groups[MOST_GROUPS], rest;
static unsigned ngroups;

/* place(counts, spins): each block counts itself at its %smid, after some work, so that a grid
   fills what it may use. */
static const char text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .entry place(.param .u64 p, .param .u32 spins) {\n"
        "    .reg .b64 %a; .reg .b32 %t, %s, %n; .reg .pred %q;\n"
        "    mov.u32 %t, %tid.x; setp.ne.u32 %q, %t, 0; @%q ret;\n"
        "    ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; ld.param.u32 %n, [spins];\n"
        "AGAIN: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra AGAIN;\n"
        "    mov.u32 %s, %smid; mad.wide.u32 %a, %s, 4, %a; red.global.add.u32 [%a], 1; ret;\n}\n"
        ".visible .entry spin(.param .u64 p) {\n"
        "    .reg .b64 %a; .reg .b32 %v; .reg .pred %q; ld.param.u64 %a, [p];\n"
        "AGAIN: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %q, %v, 0; @%q bra AGAIN; ret;\n}\n";

/* 0: this driver has no green contexts */
static int begin(void) {
    ngroups = 0;
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    if (!cu.cuGreenCtxCreate) return 0;
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&primary, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(primary), 0);
    CHECK_EQ(cu.cuModuleLoadData(&module, text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&place, module, "place"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&spin, module, "spin"), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&counts, MOST_SMS * 4), 0);
    CHECK_EQ(cu.cuDeviceGetDevResource(0, &all, SM), 0);
    ngroups = MOST_GROUPS;
    if (cu.cuDevSmResourceSplitByCount(groups, &ngroups, &all, &rest, 0, 1)) ngroups = 0;
    return ngroups > 1;
}
static void end(void) {
    cu.cuCtxSetCurrent(primary);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    CHECK_EQ(cu.cuMemFree_v2(counts), 0);
    cu.cuCtxSetCurrent(NULL);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}
#define BEGIN() \
    if (!begin()) { \
        if (primary) end(); \
        SKIP("no green contexts, or no two groups of multiprocessors"); \
    }

static void *make(resource *of, unsigned n) {
    void *descriptor = NULL, *green = NULL;
    CHECK_EQ(cu.cuDevResourceGenerateDesc(&descriptor, of, n), 0);
    CHECK_EQ(cu.cuGreenCtxCreate(&green, descriptor, 0, DEFAULT_STREAM), 0);
    return green;
}
static void *stream_of(void *green) {
    void *stream = NULL, *converted = NULL;
    if (cu.cuGreenCtxStreamCreate) /* CUDA 12.5 */
        CHECK_EQ(cu.cuGreenCtxStreamCreate(&stream, green, NON_BLOCKING, 0), 0);
    else {
        CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green), 0);
        CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
        CHECK_EQ(cu.cuStreamCreate(&stream, NON_BLOCKING), 0);
        CHECK_EQ(cu.cuCtxPopCurrent_v2(&converted), 0);
    }
    return stream;
}
static int launch(void *function, void *stream, unsigned blocks, unsigned spins) {
    void *params[] = { &counts, &spins };
    return cu.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, params, NULL);
}
/* Runs blocks on a stream; marks the multiprocessors that they ran on. Returns how many. */
static unsigned places(void *stream, unsigned blocks, unsigned char used[MOST_SMS]) {
    static unsigned found[MOST_SMS];
    unsigned n = 0, sum = 0;
    int i;
    CHECK_EQ(cu.cuMemsetD32_v2(counts, 0, MOST_SMS), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(launch(place, stream, blocks, 20000), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(found, counts, sizeof found), 0);
    for (i = 0; i < MOST_SMS; i++) {
        sum += found[i];
        n += found[i] != 0;
        used[i] |= found[i] != 0;
    }
    CHECK_EQ(sum, blocks);
    return n;
}

TEST(a_device_is_split_into_groups) {
    unsigned n, least, sum = 0, i;
    int sms = 0;
    BEGIN();
    CHECK_EQ(cu.cuDeviceGetAttribute(&sms, MULTIPROCESSORS, 0), 0);
    CHECK_EQ(all.type, SM);
    CHECK_EQ(all.sms, sms);
    for (i = 0; i < ngroups; i++) {
        CHECK_EQ(groups[i].type, SM);
        CHECK_EQ(groups[i].sms, groups[0].sms);
        sum += groups[i].sms;
    }
    if (rest.type == SM) sum += rest.sms;
    CHECK_EQ(sum, sms);
    /* without groups: how many there would be */
    CHECK_EQ(cu.cuDevSmResourceSplitByCount(NULL, &n, &all, NULL, 0, 1), 0);
    CHECK_EQ(n, ngroups);
    /* one more than a group has: rounded up */
    least = groups[0].sms + 1;
    n = 1;
    CHECK_EQ(cu.cuDevSmResourceSplitByCount(groups, &n, &all, &rest, 0, least), 0);
    CHECK_EQ(n, 1);
    CHECK(groups[0].sms >= least);
    CHECK_EQ(groups[0].sms + rest.sms, sms);
    n = MOST_GROUPS;
    CHECK_EQ(cu.cuDevSmResourceSplitByCount(groups, &n, &all, NULL, IGNORE_COSCHEDULING, 1), 0);
    CHECK(n > ngroups);
    end();
}

TEST(blocks_stay_on_their_multiprocessors) {
    static unsigned char used[3][MOST_SMS];
    void *green[2], *stream[2];
    unsigned n[2], i, both = 0;
    BEGIN();
    memset(used, 0, sizeof used);
    for (i = 0; i < 2; i++) {
        green[i] = make(&groups[i], 1);
        stream[i] = stream_of(green[i]);
        n[i] = places(stream[i], 512, used[i]);
        CHECK(n[i] <= groups[i].sms);
        CHECK(!on_cpu_device() || n[i] == groups[i].sms);
    }
    for (i = 0; i < MOST_SMS; i++) both += used[0][i] && used[1][i];
    CHECK_EQ(both, 0);
    /* a stream of the primary context uses the whole device */
    CHECK(places(NULL, 4096, used[2]) > groups[0].sms);
    for (i = 0; i < 2; i++) {
        CHECK_EQ(cu.cuStreamDestroy_v2(stream[i]), 0);
        CHECK_EQ(cu.cuGreenCtxDestroy(green[i]), 0);
    }
    end();
}

TEST(groups_of_one_split_make_a_larger_context) {
    static unsigned char used[MOST_SMS];
    resource got;
    void *green, *stream;
    BEGIN();
    memset(used, 0, sizeof used);
    green = make(groups, 2);
    CHECK_EQ(cu.cuGreenCtxGetDevResource(green, &got, SM), 0);
    CHECK_EQ(got.sms, groups[0].sms + groups[1].sms);
    stream = stream_of(green);
    CHECK(places(stream, 1024, used) <= got.sms);
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

TEST(a_green_context_can_be_split_again) {
    resource got, parts[2];
    void *green, *small;
    unsigned n = 2;
    BEGIN();
    green = make(groups, 2);
    CHECK_EQ(cu.cuGreenCtxGetDevResource(green, &got, SM), 0);
    CHECK_EQ(cu.cuDevSmResourceSplitByCount(parts, &n, &got, NULL, 0, groups[0].sms), 0);
    CHECK_EQ(n, 2);
    small = make(parts, 1);
    CHECK_EQ(cu.cuGreenCtxGetDevResource(small, &got, SM), 0);
    CHECK_EQ(got.sms, groups[0].sms);
    CHECK_EQ(cu.cuGreenCtxDestroy(small), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

TEST(a_converted_context_shares_memory_and_modules) {
    unsigned long long word = 0, id[2] = { 0, 0 };
    void *green, *converted = NULL, *stream = NULL, *current = NULL, *event = NULL;
    unsigned spins = 1, value = 0;
    int device = -1;
    resource got;
    BEGIN();
    green = make(groups, 1);
    CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green), 0);
    CHECK(converted != NULL && converted != primary);
    CHECK_EQ(cu.cuCtxGetDevResource(converted, &got, SM), 0);
    CHECK_EQ(got.sms, groups[0].sms);
    CHECK_EQ(cu.cuCtxGetDevResource(primary, &got, SM), 0);
    CHECK_EQ(got.sms, all.sms);
    CHECK_EQ(cu.cuCtxGetId(converted, &id[0]), 0);
    CHECK_EQ(cu.cuCtxGetId(primary, &id[1]), 0);
    CHECK(id[0] != id[1]);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
    CHECK_EQ(cu.cuCtxGetCurrent(&current), 0);
    CHECK(current == converted);
    CHECK_EQ(cu.cuCtxGetDevice(&device), 0);
    CHECK_EQ(device, 0);
    /* memory that is allocated here belongs to the primary context, too */
    CHECK_EQ(cu.cuMemAlloc_v2(&word, 64), 0);
    CHECK_EQ(cu.cuMemsetD32_v2(word, 7, 16), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0); /* the other context has another default stream */
    CHECK_EQ(cu.cuStreamCreate(&stream, 0), 0);
    CHECK_EQ(cu.cuEventCreate(&event, 0), 0);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&current), 0);
    CHECK(current == converted);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&value, word, 4), 0);
    CHECK_EQ(value, 7);
    /* a kernel of the primary context's module, and an event, on the green context's stream */
    CHECK_EQ(launch(place, stream, 1, spins), 0);
    CHECK_EQ(cu.cuEventRecord(event, stream), 0);
    CHECK_EQ(cu.cuEventSynchronize(event), 0);
    CHECK_EQ(cu.cuMemFree_v2(word), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(event), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

TEST(streams_name_their_green_context) {
    void *green, *converted = NULL, *stream[3] = { NULL, NULL, NULL }, *found, *context;
    unsigned flags = 9;
    BEGIN();
    green = make(groups, 1);
    CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green), 0);
    stream[0] = stream_of(green);
    CHECK_EQ(cu.cuStreamCreate(&stream[1], 0), 0);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream[2], 0), 0);
    found = NULL;
    CHECK_EQ(cu.cuStreamGetGreenCtx(NULL, &found), 0); /* the current one's */
    CHECK(found == green);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(NULL), 0);
    for (int i = 0; i < 3; i++) {
        found = primary;
        CHECK_EQ(cu.cuStreamGetGreenCtx(stream[i], &found), 0);
        CHECK(found == (i == 1 ? NULL : green));
        if (!cu.cuStreamGetCtx_v2) continue; /* CUDA 12.5 */
        CHECK_EQ(cu.cuStreamGetCtx_v2(stream[i], &context, &found), 0);
        CHECK(context == primary);
        CHECK(found == (i == 1 ? NULL : green));
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(cu.cuStreamGetFlags(stream[i], &flags), 0);
        CHECK_EQ(flags, i == 1 ? 0 : NON_BLOCKING); /* the last one was created without */
    }
    for (int i = 0; i < 3; i++) CHECK_EQ(cu.cuStreamDestroy_v2(stream[i]), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

TEST(a_cooperative_grid_must_fit_into_the_green_context) {
    void *green, *stream, *whole = NULL;
    unsigned spins = 1;
    void *params[] = { &counts, &spins };
    int per = 0;
    BEGIN();
    green = make(groups, 1);
    stream = stream_of(green);
    CHECK_EQ(cu.cuStreamCreate(&whole, NON_BLOCKING), 0);
    CHECK_EQ(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&per, place, THREADS, 0), 0);
    const unsigned most = (unsigned)per * groups[0].sms;
    CHECK_EQ(cu.cuLaunchCooperativeKernel(place, most, 1, 1, THREADS, 1, 1, 0, stream, params), 0);
    CHECK_EQ(cu.cuLaunchCooperativeKernel(place, most + 1, 1, 1, THREADS, 1, 1, 0, stream, params),
            TOO_LARGE);
    CHECK_EQ(cu.cuLaunchCooperativeKernel(place, most + 1, 1, 1, THREADS, 1, 1, 0, whole, params),
            0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(whole), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

/* A gate that a kernel polls: pinned memory. */
static volatile unsigned *gate;
static int launch_spin(void *stream) {
    unsigned long long address = (unsigned long long)(uintptr_t)gate;
    void *params[] = { &address };
    return cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

TEST(events_of_a_green_context) {
    void *green[2], *stream[2], *event = NULL, *memory = NULL, *later;
    BEGIN();
    CHECK_EQ(cu.cuMemHostAlloc(&memory, 64, 0), 0);
    gate = (volatile unsigned *)memory;
    *gate = 0;
    for (int i = 0; i < 2; i++) {
        green[i] = make(&groups[i], 1);
        stream[i] = stream_of(green[i]);
    }
    CHECK_EQ(cu.cuEventCreate(&event, 0), 0);
    CHECK_EQ(launch_spin(stream[0]), 0);
    CHECK_EQ(cu.cuGreenCtxRecordEvent(green[0], event), 0);
    CHECK_EQ(cu.cuEventQuery(event), NOT_READY);
    CHECK_EQ(cu.cuGreenCtxWaitEvent(green[1], event), 0);
    later = stream_of(green[1]);
    CHECK_EQ(launch(place, stream[1], 1, 1), 0);
    CHECK_EQ(launch(place, later, 1, 1), 0);
    CHECK_EQ(cu.cuStreamQuery(stream[1]), NOT_READY);
    CHECK_EQ(cu.cuStreamQuery(later), NOT_READY);
    *gate = 1;
    CHECK_EQ(cu.cuStreamSynchronize(stream[1]), 0);
    CHECK_EQ(cu.cuStreamSynchronize(later), 0);
    CHECK_EQ(cu.cuEventQuery(event), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(later), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(event), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(cu.cuStreamDestroy_v2(stream[i]), 0);
        CHECK_EQ(cu.cuGreenCtxDestroy(green[i]), 0);
    }
    CHECK_EQ(cu.cuMemFreeHost(memory), 0);
    end();
}

TEST(waiting_for_one_green_context_waits_for_no_other) {
    void *green[2], *stream[2], *converted = NULL, *memory = NULL;
    BEGIN();
    CHECK_EQ(cu.cuMemHostAlloc(&memory, 64, 0), 0);
    gate = (volatile unsigned *)memory;
    *gate = 0;
    for (int i = 0; i < 2; i++) {
        green[i] = make(&groups[i], 1);
        stream[i] = stream_of(green[i]);
    }
    CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green[1]), 0);
    CHECK_EQ(launch_spin(stream[0]), 0);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
    CHECK_EQ(launch(place, stream[1], 1, 1), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0); /* would not return before the gate opens */
    CHECK_EQ(cu.cuStreamQuery(stream[0]), NOT_READY);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(NULL), 0);
    *gate = 1;
    CHECK_EQ(cu.cuCtxSynchronize(), 0); /* the primary context's: also for green ones */
    CHECK_EQ(cu.cuStreamQuery(stream[0]), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(cu.cuStreamDestroy_v2(stream[i]), 0);
        CHECK_EQ(cu.cuGreenCtxDestroy(green[i]), 0);
    }
    CHECK_EQ(cu.cuMemFreeHost(memory), 0);
    end();
}

TEST(a_captured_kernel_stays_on_its_multiprocessors) {
    static unsigned char used[2][MOST_SMS];
    static unsigned found[MOST_SMS];
    void *green, *stream, *other, *graph = NULL, *exec = NULL;
    unsigned outside = 0;
    BEGIN();
    memset(used, 0, sizeof used);
    green = make(groups, 1);
    stream = stream_of(green);
    other = stream_of(green);
    places(stream, 1024, used[0]);
    CHECK_EQ(cu.cuMemsetD32_v2(counts, 0, MOST_SMS), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuStreamBeginCapture_v2(stream, 2), 0);
    CHECK_EQ(launch(place, stream, 256, 1000), 0);
    CHECK_EQ(cu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_EQ(cu.cuGraphLaunch(exec, other), 0);
    CHECK_EQ(cu.cuStreamSynchronize(other), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(found, counts, sizeof found), 0);
    for (int i = 0; i < MOST_SMS; i++) outside += found[i] && !used[0][i];
    CHECK(!on_cpu_device() || outside == 0);
    CHECK_EQ(cu.cuGraphExecDestroy(exec), 0);
    CHECK_EQ(cu.cuGraphDestroy(graph), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(other), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

TEST(a_green_context_keeps_the_primary_context) {
    void *green;
    unsigned flags;
    int active = 0;
    BEGIN();
    green = make(groups, 1);
    end(); /* releases the primary context */
    CHECK_EQ(cu.cuDevicePrimaryCtxGetState(0, &flags, &active), 0);
    CHECK_EQ(active, 1);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
}

TEST(the_per_thread_stream_of_a_green_context) {
    void *green, *converted = NULL, *own = (void *)2;
    BEGIN();
    green = make(groups, 1);
    CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green), 0);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
    CHECK_EQ(launch(place, own, 1, 1), INVALID_HANDLE);
    CHECK_EQ(cu.cuMemsetD8Async(counts, 0, 64, own), INVALID_HANDLE);
    CHECK_EQ(launch(place, NULL, 1, 1), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(NULL), 0);
    CHECK_EQ(launch(place, own, 1, 1), 0); /* the primary context has one */
    CHECK_EQ(cu.cuStreamSynchronize(own), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    end();
}

TEST(a_green_context_prevents_a_reset) {
    void *green, *converted = NULL, *current = NULL;
    BEGIN();
    green = make(groups, 1);
    CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green), 0);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxReset_v2(0), NOT_PERMITTED);
    CHECK_EQ(launch(place, NULL, 1, 1), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    CHECK_EQ(cu.cuCtxGetCurrent(&current), 0); /* it stays current */
    CHECK(current == converted);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&current), 0);
    end();
}

/* Destroyed streams are documented as CUDA_ERROR_CONTEXT_IS_DESTROYED; a GPU may read freed memory,
   so only the CPU device is tried. */
TEST(streams_end_with_their_green_context) {
    void *green, *stream, *converted = NULL;
    if (!on_cpu_device()) SKIP("a destroyed stream");
    BEGIN();
    green = make(groups, 1);
    stream = stream_of(green);
    CHECK_EQ(cu.cuCtxFromGreenCtx(&converted, green), 0);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(converted), 0);
    CHECK_EQ(cu.cuGreenCtxDestroy(green), 0);
    CHECK_EQ(launch(place, stream, 1, 1), DESTROYED);
    CHECK_EQ(cu.cuStreamSynchronize(stream), DESTROYED);
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), DESTROYED);
    CHECK_EQ(cu.cuCtxSetCurrent(primary), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    end();
}
