/* green.c - green contexts: how multiprocessors are split, wrong arguments, where blocks run, what
   the converted context may do, and ends. */
#include "probe.h"

/* CUdevResource; from CUDA 13.1 on, it has a pointer */
typedef union resource {
    struct {
        int type;
        unsigned char inside[92];
        unsigned sms, least, alignment;
    } of;
    uint64_t words[18];
} resource;
enum { SM = 1, NON_BLOCKING = 1, DEFAULT_STREAM = 1, FINE = 1, LARGE_CLUSTERS = 2 };
enum { MOST = 128, MOST_SMS = 1024 };

static resource all, groups[MOST], rest;
static unsigned ngroups;

/* Splits device 0 into the smallest groups. */
static void open_groups(void) {
    open_one();
    memset(&all, 0, sizeof all);
    memset(groups, 0, sizeof groups);
    memset(&rest, 0, sizeof rest);
    ngroups = MOST;
    PROBE("all", cu.cuDeviceGetDevResource(0, (void *)&all, SM));
    PROBE("split",
            cu.cuDevSmResourceSplitByCount(
                    (void *)groups, &ngroups, (void *)&all, (void *)&rest, 0, 1));
}
static int split(
        resource *to, unsigned *n, resource *from, resource *left, unsigned flags, unsigned least) {
    return cu.cuDevSmResourceSplitByCount((void *)to, n, (void *)from, (void *)left, flags, least);
}
static int describe(void **descriptor, resource *list, unsigned n) {
    return cu.cuDevResourceGenerateDesc(descriptor, (void *)list, n);
}
static void *make(resource *list, unsigned n) {
    void *descriptor = NULL, *green = NULL;
    if (describe(&descriptor, list, n)) return NULL;
    cu.cuGreenCtxCreate(&green, descriptor, 0, DEFAULT_STREAM);
    return green;
}

static void resources(void) {
    resource r, some[4];
    unsigned n = 0;
    void *converted = NULL, *green;
    open_groups();
    answer("numbers", "%u %u %u %u", all.of.sms, ngroups, groups[0].of.sms, rest.of.sms);
    answer("of_all", "%d %u %u", all.of.type, all.of.least, all.of.alignment);
    answer("of_group", "%d %u %u", groups[0].of.type, groups[0].of.least, groups[0].of.alignment);
    answer("of_rest", "%d %u %u", rest.of.type, rest.of.least, rest.of.alignment);
    PROBE("equal", groups[0].of.sms == groups[ngroups - 1].of.sms);
    PROBE("nothing_lost", ngroups * groups[0].of.sms + rest.of.sms == all.of.sms);
    PROBE("type_0", cu.cuDeviceGetDevResource(0, (void *)&r, 0));
    PROBE("type_2", cu.cuDeviceGetDevResource(0, (void *)&r, 2));
    PROBE("type_-1", cu.cuDeviceGetDevResource(0, (void *)&r, -1));
    PROBE("to_null", cu.cuDeviceGetDevResource(0, NULL, SM));
    PROBE("of_99", cu.cuDeviceGetDevResource(99, (void *)&r, SM));
    PROBE("of_99_to_null", cu.cuDeviceGetDevResource(99, NULL, SM));
    PROBE("of_context", cu.cuCtxGetDevResource(context[0], (void *)&r, SM));
    PROBE("of_context_is_all", r.of.sms == all.of.sms);
    PROBE("of_context_to_null", cu.cuCtxGetDevResource(context[0], NULL, SM));
    PROBE("of_context_type_0", cu.cuCtxGetDevResource(context[0], (void *)&r, 0));
    PROBE("of_no_context", cu.cuCtxGetDevResource(NULL, (void *)&r, SM));
    /* how many there would be */
    PROBE("query", split(NULL, &n, &all, NULL, 0, 1));
    PROBE("query_is", n == ngroups);
    n = 77;
    PROBE("query_0", split(NULL, &n, &all, NULL, 0, 0));
    PROBE("query_0_is", n == ngroups);
    n = 77;
    PROBE("query_9", split(NULL, &n, &all, NULL, 0, 9));
    PROBE("query_9_less", n < ngroups);
    n = 77;
    PROBE("query_all", split(NULL, &n, &all, NULL, 0, all.of.sms));
    answer("query_all_n", "%u", n);
    PROBE("query_more_than_all", split(NULL, &n, &all, NULL, 0, all.of.sms + 1));
    n = 77;
    PROBE("query_large", split(NULL, &n, &all, NULL, LARGE_CLUSTERS, 1));
    answer("query_large_n", "%d", n <= ngroups);
    n = 77;
    PROBE("query_fine", split(NULL, &n, &all, NULL, FINE, 1));
    PROBE("query_fine_more", n > ngroups);
    n = 77;
    PROBE("query_fine_3", split(NULL, &n, &all, NULL, FINE, 3));
    PROBE("query_fine_is", n * 4 <= all.of.sms);
    PROBE("flag_4", split(NULL, &n, &all, NULL, 4, 1));
    PROBE("both_flags", split(NULL, &n, &all, NULL, 3, 1));
    PROBE("n_null", split(some, NULL, &all, NULL, 0, 1));
    n = 0;
    PROBE("n_0", split(some, &n, &all, NULL, 0, 1));
    PROBE("input_null", split(NULL, &n, NULL, NULL, 0, 1));
    memset(&r, 0, sizeof r);
    PROBE("input_zero", split(NULL, &n, &r, NULL, 0, 1));
    r.of.type = SM;
    r.of.sms = 16;
    PROBE("input_made_up", split(NULL, &n, &r, NULL, 0, 1));
    n = 2;
    memset(some, 0, sizeof some);
    PROBE("two", split(some, &n, &all, &r, 0, 1));
    answer("two_n", "%u", n);
    PROBE("two_rest", r.of.sms == all.of.sms - some[0].of.sms - some[1].of.sms);
    n = 1;
    PROBE("again", split(some + 2, &n, &some[0], NULL, 0, 1));
    PROBE("one", split(some, &n, &all, &r, 0, 1));
    n = 1;
    PROBE("rest_again", split(some + 2, &n, &r, NULL, 0, 1));
    n = 1;
    PROBE("small_rest_again", split(some + 2, &n, &rest, NULL, 0, 1));
    PROBE("small_rest_fine", split(some + 2, &n, &rest, NULL, FINE, 1));
    PROBE("one_of_9", (n = 1, split(some, &n, &all, NULL, 0, 9)));
    answer("one_of_9_has", "%u", some[0].of.sms);
    green = make(groups, 2);
    PROBE("of_green", cu.cuGreenCtxGetDevResource(green, (void *)&r, SM));
    PROBE("of_green_is", r.of.sms == 2 * groups[0].of.sms);
    answer("of_green_also", "%d %u %u", r.of.type, r.of.least, r.of.alignment);
    n = 2;
    PROBE("green_again", split(some, &n, &r, NULL, 0, 1));
    answer("green_again_n", "%u %u", n, some[0].of.sms);
    PROBE("of_green_to_null", cu.cuGreenCtxGetDevResource(green, NULL, SM));
    PROBE("of_green_type_0", cu.cuGreenCtxGetDevResource(green, (void *)&r, 0));
    PROBE("of_green_null", cu.cuGreenCtxGetDevResource(NULL, (void *)&r, SM));
    PROBE("convert", cu.cuCtxFromGreenCtx(&converted, green));
    PROBE("of_converted", cu.cuCtxGetDevResource(converted, (void *)&r, SM));
    PROBE("of_converted_is", r.of.sms == 2 * groups[0].of.sms);
    PROBE("destroy", cu.cuGreenCtxDestroy(green));
}

static void descriptors(void) {
    resource r, two[2], other[2];
    void *d = NULL, *e = NULL, *green = NULL, *second = NULL;
    unsigned n = 2;
    open_groups();
    PROBE("of_all", describe(&d, &all, 1));
    PROBE("null", d == NULL);
    PROBE("again", describe(&e, &all, 1));
    PROBE("to_null", describe(NULL, &all, 1));
    PROBE("of_null", describe(&e, NULL, 1));
    PROBE("of_none", describe(&e, &all, 0));
    memset(&r, 0, sizeof r);
    PROBE("of_zeros", describe(&e, &r, 1));
    r.of.type = SM;
    r.of.sms = 8;
    PROBE("made_up", describe(&e, &r, 1));
    r.of.type = 7;
    PROBE("type_7", describe(&e, &r, 1));
    PROBE("of_one", describe(&e, groups, 1));
    PROBE("of_two", describe(&e, groups, 2));
    two[0] = groups[0];
    two[1] = rest;
    PROBE("with_rest", describe(&e, two, 2));
    PROBE("of_rest", describe(&e, &rest, 1));
    two[1] = groups[0];
    PROBE("twice_the_same", describe(&e, two, 2));
    PROBE("split_again", split(other, &n, &all, NULL, 0, 1));
    two[1] = other[1];
    PROBE("of_two_splits", describe(&e, two, 2));
    two[1] = all;
    PROBE("group_and_all", describe(&e, two, 2));
    memset(&two[1], 0, sizeof two[1]);
    PROBE("group_and_zeros", describe(&e, two, 2));
    PROBE("create", cu.cuGreenCtxCreate(&green, d, 0, DEFAULT_STREAM));
    PROBE("create_again", cu.cuGreenCtxCreate(&second, d, 0, DEFAULT_STREAM));
    PROBE("another", second && second != green);
    PROBE("flags_0", cu.cuGreenCtxCreate(&e, d, 0, 0));
    PROBE("flags_2", cu.cuGreenCtxCreate(&e, d, 0, 2));
    PROBE("flags_3", cu.cuGreenCtxCreate(&e, d, 0, 3));
    PROBE("create_to_null", cu.cuGreenCtxCreate(NULL, d, 0, DEFAULT_STREAM));
    PROBE("create_of_null", cu.cuGreenCtxCreate(&e, NULL, 0, DEFAULT_STREAM));
    PROBE("create_on_99", cu.cuGreenCtxCreate(&e, d, 99, DEFAULT_STREAM));
    PROBE("create_on_99_flags_0", cu.cuGreenCtxCreate(&e, d, 99, 0));
    PROBE("destroy", cu.cuGreenCtxDestroy(green));
    PROBE("destroy_second", cu.cuGreenCtxDestroy(second));
    PROBE("destroy_null", cu.cuGreenCtxDestroy(NULL));
}

static void contexts(void) {
    void *green, *converted = NULL, *again = NULL, *current = NULL, *popped = NULL, *event = NULL;
    unsigned long long id[3] = { 0, 0, 0 }, green_id = 0;
    size_t limit = 0, other = 0;
    unsigned flags = 77, version = 0;
    int device = 77, active = 77;
    open_groups();
    green = make(groups, 1);
    PROBE("convert", cu.cuCtxFromGreenCtx(&converted, green));
    PROBE("convert_again", cu.cuCtxFromGreenCtx(&again, green));
    PROBE("the_same", again == converted);
    PROBE("not_primary", converted != context[0]);
    PROBE("not_green", converted != green);
    PROBE("convert_to_null", cu.cuCtxFromGreenCtx(NULL, green));
    PROBE("convert_null", cu.cuCtxFromGreenCtx(&again, NULL));
    PROBE("id", cu.cuCtxGetId(converted, &id[0]));
    PROBE("id_of_primary", cu.cuCtxGetId(context[0], &id[1]));
    PROBE("ids_differ", id[0] != id[1]);
    PROBE("green_id", cu.cuGreenCtxGetId(green, &green_id));
    PROBE("green_id_is_id", green_id == id[0]);
    PROBE("green_id_null", cu.cuGreenCtxGetId(NULL, &green_id));
    PROBE("green_id_to_null", cu.cuGreenCtxGetId(green, NULL));
    PROBE("version", cu.cuCtxGetApiVersion(converted, &version));
    PROBE("push", cu.cuCtxPushCurrent_v2(converted));
    PROBE("current", cu.cuCtxGetCurrent(&current));
    PROBE("current_is", current == converted);
    PROBE("green_id_of_current", cu.cuGreenCtxGetId(NULL, &green_id));
    PROBE("id_of_current", cu.cuCtxGetId(NULL, &id[2]));
    PROBE("id_of_current_is", id[2] == id[0]);
    PROBE("device", cu.cuCtxGetDevice(&device));
    answer("device_is", "%d", device);
    PROBE("flags", cu.cuCtxGetFlags(&flags));
    answer("flags_are", "%u", flags);
    PROBE("set_flags", cu.cuCtxSetFlags(8));
    PROBE("get_limit", cu.cuCtxGetLimit(&limit, 0));
    PROBE("set_limit", cu.cuCtxSetLimit(0, 2048));
    PROBE("get_limit_then", cu.cuCtxGetLimit(&limit, 0));
    PROBE("set_heap", cu.cuCtxSetLimit(2, 16 << 20));
    PROBE("set_cache", cu.cuCtxSetCacheConfig(1));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("enable_peer_self", cu.cuCtxEnablePeerAccess(context[0], 0));
    PROBE("event", cu.cuEventCreate(&event, 0));
    PROBE("record", cu.cuEventRecord(event, NULL));
    PROBE("destroy_current", cu.cuCtxDestroy_v2(converted));
    PROBE("current_then", cu.cuCtxGetCurrent(&current));
    PROBE("current_still", current == converted);
    PROBE("pop", cu.cuCtxPopCurrent_v2(&popped));
    PROBE("popped", popped == converted);
    PROBE("get_limit_of_primary", cu.cuCtxGetLimit(&other, 0));
    PROBE("limit_is_shared", other == limit);
    PROBE("destroy_converted", cu.cuCtxDestroy_v2(converted));
    PROBE("push_green", cu.cuCtxPushCurrent_v2(green));
    PROBE("event_here", cu.cuEventRecord(event, NULL));
    PROBE("event_synchronize", cu.cuEventSynchronize(event));
    PROBE("release", cu.cuDevicePrimaryCtxRelease_v2(0));
    PROBE("state", cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    answer("active", "%d", active);
    PROBE("retain", cu.cuDevicePrimaryCtxRetain(&context[0], 0));
    PROBE("destroy", cu.cuGreenCtxDestroy(green));
    PROBE("id_then", cu.cuCtxGetId(converted, &id[0]));
    PROBE("version_then", cu.cuCtxGetApiVersion(converted, &version));
}

static void streams(void) {
    void *green, *second, *converted = NULL, *s[4] = { NULL, NULL, NULL, NULL }, *found, *of,
                          *event = NULL, *graph = NULL;
    unsigned flags = 77;
    int priority = 77;
    open_groups();
    green = make(groups, 1);
    second = make(groups + 1, 1);
    cu.cuCtxFromGreenCtx(&converted, green);
    PROBE("create", cu.cuGreenCtxStreamCreate(&s[0], green, NON_BLOCKING, 0));
    PROBE("create_flags_0", cu.cuGreenCtxStreamCreate(&s[3], green, 0, 0));
    PROBE("create_flags_3", cu.cuGreenCtxStreamCreate(&s[3], green, 3, 0));
    PROBE("create_to_null", cu.cuGreenCtxStreamCreate(NULL, green, NON_BLOCKING, 0));
    PROBE("create_of_null", cu.cuGreenCtxStreamCreate(&s[3], NULL, NON_BLOCKING, 0));
    PROBE("create_priority", cu.cuGreenCtxStreamCreate(&s[1], green, NON_BLOCKING, -99));
    PROBE("priority", cu.cuStreamGetPriority(s[1], &priority));
    answer("priority_is", "%d", priority);
    PROBE("flags", cu.cuStreamGetFlags(s[0], &flags));
    answer("flags_are", "%u", flags);
    cu.cuCtxPushCurrent_v2(converted);
    PROBE("create_current", cu.cuStreamCreate(&s[2], 0));
    PROBE("null_of_green", (found = NULL, cu.cuStreamGetGreenCtx(NULL, &found)));
    PROBE("null_of_green_is", found == green);
    PROBE("get_ctx_of_null", cu.cuStreamGetCtx(NULL, &of));
    PROBE("get_ctx_of_null_is", of == converted);
    cu.cuCtxPopCurrent_v2(&of);
    PROBE("green_of", cu.cuStreamGetGreenCtx(s[0], &found));
    PROBE("green_of_is", found == green);
    PROBE("green_of_current", cu.cuStreamGetGreenCtx(s[2], &found));
    PROBE("green_of_current_is", found == green);
    PROBE("green_of_null", (found = green, cu.cuStreamGetGreenCtx(NULL, &found)));
    PROBE("green_of_null_is", found == NULL);
    PROBE("green_to_null", cu.cuStreamGetGreenCtx(s[0], NULL));
    PROBE("get_ctx", cu.cuStreamGetCtx(s[0], &of));
    PROBE("get_ctx_is", of == converted);
    PROBE("get_both", cu.cuStreamGetCtx_v2(s[0], &of, &found));
    PROBE("get_both_primary", of == context[0]);
    PROBE("get_both_green", found == green);
    PROBE("launch", launch(kernel(0, "nop"), 1, 1, s[0], NULL));
    PROBE("event", cu.cuEventCreate(&event, 0));
    PROBE("event_record", cu.cuEventRecord(event, s[0]));
    PROBE("record", cu.cuGreenCtxRecordEvent(green, event));
    PROBE("record_null", cu.cuGreenCtxRecordEvent(green, NULL));
    PROBE("record_of_null", cu.cuGreenCtxRecordEvent(NULL, event));
    PROBE("wait", cu.cuGreenCtxWaitEvent(second, event));
    PROBE("wait_null", cu.cuGreenCtxWaitEvent(second, NULL));
    PROBE("wait_of_null", cu.cuGreenCtxWaitEvent(NULL, event));
    PROBE("capture", cu.cuStreamBeginCapture_v2(s[0], 2));
    PROBE("capture_launch", launch(kernel(0, "nop"), 1, 1, s[0], NULL));
    PROBE("capture_record", cu.cuGreenCtxRecordEvent(green, event));
    PROBE("capture_end", cu.cuStreamEndCapture(s[0], &graph));
    PROBE("capture_2", cu.cuStreamBeginCapture_v2(s[0], 2));
    PROBE("capture_record_other", cu.cuGreenCtxRecordEvent(second, event));
    PROBE("capture_wait", cu.cuGreenCtxWaitEvent(green, event));
    PROBE("capture_2_end", cu.cuStreamEndCapture(s[0], &graph));
    PROBE("destroy_stream", cu.cuStreamDestroy_v2(s[1]));
    PROBE("destroy", cu.cuGreenCtxDestroy(green));
    PROBE("stream_then", cu.cuStreamQuery(s[0]));
    PROBE("stream_launch_then", launch(kernel(0, "nop"), 1, 1, s[0], NULL));
    PROBE("stream_destroy_then", cu.cuStreamDestroy_v2(s[0]));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("destroy_second", cu.cuGreenCtxDestroy(second));
}

/* Blocks count themselves at their %smid; out[MOST_SMS]: %nsmid. */
static const char text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .entry place(.param .u64 p, .param .u32 spins) {\n"
        "    .reg .b64 %a, %b; .reg .b32 %s, %n; .reg .pred %q;\n"
        "    ld.param.u64 %a, [p]; ld.param.u32 %n, [spins];\n"
        "AGAIN: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra AGAIN;\n"
        "    mov.u32 %s, %nsmid; st.global.u32 [%a+4096], %s;\n"
        "    mov.u32 %s, %smid; mad.wide.u32 %b, %s, 4, %a; red.global.add.u32 [%b], 1; ret;\n}\n";
static ptr counts;
static void *place;
static unsigned nsmid;

/* Returns how many multiprocessors the blocks ran on, and marks these. */
static int run(void *stream, unsigned char *used) {
    static unsigned found[MOST_SMS + 1];
    unsigned spins = 2000;
    void *params[] = { &counts, &spins };
    int n = 0, i;
    cu.cuMemsetD32_v2(counts, 0, MOST_SMS + 1);
    cu.cuCtxSynchronize();
    if (launch(place, 4096, 1, stream, params) || cu.cuCtxSynchronize()) return -1;
    cu.cuMemcpyDtoH_v2(found, counts, sizeof found);
    nsmid = found[MOST_SMS];
    for (i = 0; i < MOST_SMS; i++) {
        n += found[i] != 0;
        used[i] |= found[i] != 0;
    }
    return n;
}

static void places(void) {
    static unsigned char used[4][MOST_SMS];
    void *green[3], *converted = NULL, *s[3], *code = NULL, *graph = NULL, *exec = NULL, *whole;
    int n[3], i, both = 0, outside = 0, blocks = 0;
    open_groups();
    PROBE("load", cu.cuModuleLoadData(&code, text));
    PROBE("kernel", cu.cuModuleGetFunction(&place, code, "place"));
    PROBE("memory", cu.cuMemAlloc_v2(&counts, (MOST_SMS + 1) * 4));
    for (i = 0; i < 3; i++) {
        green[i] = i < 2 ? make(groups + i, 1) : make(&rest, 1);
        s[i] = NULL;
        cu.cuGreenCtxStreamCreate(&s[i], green[i], NON_BLOCKING, 0);
        n[i] = run(s[i], used[i]);
        if (i == 0) PROBE("nsmid_is_all", nsmid == all.of.sms);
    }
    PROBE("fills_its_group", n[0] == (int)groups[0].of.sms);
    PROBE("fills_the_rest", n[2] == (int)rest.of.sms);
    for (i = 0; i < MOST_SMS; i++) both += (used[0][i] + used[1][i] + used[2][i]) > 1;
    PROBE("in_common", both);
    PROBE("numbers_in_order", used[0][0] && used[0][groups[0].of.sms - 1]);
    cu.cuStreamCreate(&whole, NON_BLOCKING);
    PROBE("whole", run(whole, used[3]) == (int)all.of.sms);
    /* a graph captured on a green stream, launched on one of the primary context */
    PROBE("capture", cu.cuStreamBeginCapture_v2(s[0], 2));
    {
        unsigned spins = 2000;
        void *params[] = { &counts, &spins };
        PROBE("capture_launch", launch(place, 4096, 1, s[0], params));
    }
    PROBE("capture_end", cu.cuStreamEndCapture(s[0], &graph));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    cu.cuMemsetD32_v2(counts, 0, MOST_SMS + 1);
    PROBE("graph", cu.cuGraphLaunch(exec, whole));
    PROBE("graph_sync", cu.cuStreamSynchronize(whole));
    {
        static unsigned found[MOST_SMS];
        cu.cuMemcpyDtoH_v2(found, counts, sizeof found);
        for (i = 0; i < MOST_SMS; i++) outside += found[i] && !used[0][i];
    }
    PROBE("graph_stays_in_its_group", outside == 0);
    /* a cooperative grid */
    cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, place, 32, 0);
    {
        unsigned spins = 1, most = (unsigned)blocks * groups[0].of.sms;
        void *params[] = { &counts, &spins };
        PROBE("cooperative",
                cu.cuLaunchCooperativeKernel(place, most, 1, 1, 32, 1, 1, 0, s[0], params));
        PROBE("cooperative_more",
                cu.cuLaunchCooperativeKernel(place, most + 1, 1, 1, 32, 1, 1, 0, s[0], params));
    }
    cu.cuCtxFromGreenCtx(&converted, green[0]);
    cu.cuCtxPushCurrent_v2(converted);
    {
        int grid = 0, block = 0;
        PROBE("best", cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, place, NULL, 0, 0));
        PROBE("best_of_group", grid % (int)groups[0].of.sms == 0 && grid < (int)all.of.sms * 2);
    }
    PROBE("null_stream", run(NULL, used[3]) == (int)groups[0].of.sms);
    cu.cuCtxPopCurrent_v2(&converted);
    for (i = 0; i < 3; i++) {
        cu.cuStreamDestroy_v2(s[i]);
        cu.cuGreenCtxDestroy(green[i]);
    }
}

/* Handles of what was destroyed, each in a separate process if it crashes. */
static void gone(void) {
    void *green, *converted = NULL, *current = NULL;
    unsigned long long id;
    open_groups();
    green = make(groups, 1);
    cu.cuCtxFromGreenCtx(&converted, green);
    PROBE("push", cu.cuCtxPushCurrent_v2(converted));
    PROBE("destroy_current", cu.cuGreenCtxDestroy(green));
    PROBE("current", cu.cuCtxGetCurrent(&current));
    PROBE("current_is_converted", current == converted);
    cu.cuCtxSetCurrent(context[0]);
    PROBE("id", cu.cuCtxGetId(converted, &id));
    PROBE("reset", (green = make(groups, 1), cu.cuDevicePrimaryCtxReset_v2(0)));
    PROBE("destroy_after_reset", cu.cuGreenCtxDestroy(green));
}

/* Less usual sizes, flags and descriptors. */
static void more(void) {
    resource r, two[2];
    unsigned n = 77, most;
    void *d = NULL, *green = NULL;
    open_groups();
    most = ngroups * groups[0].of.sms;
    PROBE("flags_5", split(NULL, &n, &all, NULL, 5, 1));
    answer("flags_5_fine", "%d", n > ngroups);
    PROBE("flags_7", split(NULL, &n, &all, NULL, 7, 1));
    PROBE("flags_8", split(NULL, &n, &all, NULL, 8, 1));
    PROBE("large_all", split(NULL, &n, &all, NULL, LARGE_CLUSTERS, all.of.sms));
    PROBE("large_too_many", split(NULL, &n, &all, NULL, LARGE_CLUSTERS, all.of.sms + 1));
    PROBE("fine_all", (n = 77, split(NULL, &n, &all, NULL, FINE, all.of.sms)));
    answer("fine_all_n", "%u", n);
    n = 1;
    memset(&r, 0, sizeof r);
    PROBE("all_groups", split(two, &n, &all, &r, 0, most));
    PROBE("all_groups_has", n == 1 && two[0].of.sms == most);
    PROBE("all_groups_rest", r.of.sms == all.of.sms - most);
    n = 1;
    PROBE("one_more", split(two, &n, &all, &r, 0, most + 1));
    PROBE("one_more_has_all", n == 1 && two[0].of.sms == all.of.sms);
    answer("one_more_rest", "%d %u", r.of.type, r.of.sms);
    n = 1;
    PROBE("all_less_1", split(two, &n, &all, &r, 0, all.of.sms - 1));
    PROBE("all_less_1_has_all", n == 1 && two[0].of.sms == all.of.sms);
    PROBE("made_up_too_many",
            (memset(&r, 0, sizeof r), r.of.type = SM, r.of.sms = 8, n = 1,
                    split(two, &n, &r, NULL, 0, 9)));
    PROBE("none_of_made_up", (n = 0, split(two, &n, &r, NULL, 0, 1)));
    /* contexts of unusual descriptors: how many multiprocessors they have */
    green = NULL;
    PROBE("of_null", cu.cuGreenCtxCreate(&green, NULL, 0, DEFAULT_STREAM));
    PROBE("of_null_made", green != NULL);
    PROBE("of_null_resource", (r.of.sms = 0, cu.cuGreenCtxGetDevResource(green, (void *)&r, SM)));
    PROBE("of_null_is_all", r.of.sms == all.of.sms);
    PROBE("of_null_destroy", cu.cuGreenCtxDestroy(green));
    two[0] = two[1] = groups[0];
    green = make(two, 2);
    PROBE("twice", (r.of.sms = 0, cu.cuGreenCtxGetDevResource(green, (void *)&r, SM)));
    PROBE("twice_is_once", r.of.sms == groups[0].of.sms);
    PROBE("twice_destroy", cu.cuGreenCtxDestroy(green));
    two[1] = all;
    green = make(two, 2);
    PROBE("and_all", (r.of.sms = 0, cu.cuGreenCtxGetDevResource(green, (void *)&r, SM)));
    PROBE("and_all_is_all", r.of.sms == all.of.sms);
    PROBE("and_all_destroy", cu.cuGreenCtxDestroy(green));
    n = 1;
    PROBE("fine", split(two, &n, &all, NULL, FINE, 1));
    green = make(two, 1);
    PROBE("of_fine", cu.cuGreenCtxGetDevResource(green, (void *)&r, SM));
    answer("of_fine_is", "%u %u %u", r.of.sms, r.of.least, r.of.alignment);
    PROBE("of_fine_again", (n = 1, split(two, &n, &r, NULL, 0, 1)));
    PROBE("of_fine_fine", (n = 1, split(two, &n, &r, NULL, FINE, 1)));
    PROBE("of_fine_destroy", cu.cuGreenCtxDestroy(green));
    PROBE("describe", describe(&d, groups, 1));
    PROBE("create_to_null_on_99", cu.cuGreenCtxCreate(NULL, d, 99, DEFAULT_STREAM));
    PROBE("create_of_null_on_99", cu.cuGreenCtxCreate(&green, NULL, 99, DEFAULT_STREAM));
}

/* The per-thread default stream while a green context is current. */
static void own_stream(void) {
    static uint32_t host[4];
    void *const own = (void *)2;
    void *green, *converted = NULL, *event = NULL, *of = NULL, *graph = NULL, *symbol = NULL,
                 *stream = NULL;
    int (*query)(void *) = NULL, state = 7, priority = 77;
    unsigned flags = 77;
    unsigned long long id = 0;
    ptr p = 0;
    open_groups();
    green = make(groups, 1);
    cu.cuCtxFromGreenCtx(&converted, green);
    cu.cuEventCreate(&event, 0);
    PROBE("symbol", cu.cuGetProcAddress("cuStreamQuery", &symbol, 11030, 2));
    memcpy(&query, &symbol, sizeof query);
    PROBE("before", cu.cuStreamQuery(own));
    PROBE("push", cu.cuCtxPushCurrent_v2(converted));
    PROBE("query", cu.cuStreamQuery(own));
    PROBE("query_null_per_thread", query(NULL));
    PROBE("synchronize", cu.cuStreamSynchronize(own));
    PROBE("launch", launch(kernel(0, "nop"), 1, 1, own, NULL));
    PROBE("fill", cu.cuMemsetD8Async(memory[0], 0, 16, own));
    PROBE("fill_of_nothing", cu.cuMemsetD8Async(memory[0], 0, 0, own));
    PROBE("fill_nowhere", cu.cuMemsetD8Async(0, 0, 16, own));
    PROBE("copy", cu.cuMemcpyHtoDAsync_v2(memory[0], host, sizeof host, own));
    PROBE("allocate", cu.cuMemAllocAsync(&p, 64, own));
    PROBE("record", cu.cuEventRecord(event, own));
    PROBE("wait", cu.cuStreamWaitEvent(own, event, 0));
    PROBE("wait_null", cu.cuStreamWaitEvent(own, NULL, 0));
    PROBE("capture", cu.cuStreamBeginCapture_v2(own, 2));
    PROBE("capture_end", cu.cuStreamEndCapture(own, &graph));
    PROBE("capturing", cu.cuStreamIsCapturing(own, &state));
    PROBE("flags", cu.cuStreamGetFlags(own, &flags));
    PROBE("priority", cu.cuStreamGetPriority(own, &priority));
    PROBE("id", cu.cuStreamGetId(own, &id));
    PROBE("context", cu.cuStreamGetCtx(own, &of));
    PROBE("green", cu.cuStreamGetGreenCtx(own, &of));
    PROBE("destroy", cu.cuStreamDestroy_v2(own));
    /* none of this ends the others */
    PROBE("legacy", launch(kernel(0, "nop"), 1, 1, NULL, NULL));
    PROBE("create", cu.cuStreamCreate(&stream, 0));
    PROBE("created", launch(kernel(0, "nop"), 1, 1, stream, NULL));
    PROBE("context_synchronize", cu.cuCtxSynchronize());
    PROBE("pop", cu.cuCtxPopCurrent_v2(&of));
    PROBE("after", launch(kernel(0, "nop"), 1, 1, own, NULL));
    PROBE("after_synchronize", cu.cuStreamSynchronize(own));
}

/* More of what was destroyed, and a primary context that is released too often. */
static void ends(void) {
    void *green, *current = NULL, *stream = NULL, *d = NULL;
    unsigned long long id = 0;
    unsigned flags = 77;
    int device = 77, active = 77, released = 0;
    resource r;
    ptr p = 0;
    open_groups();
    green = make(groups, 1);
    PROBE("push", cu.cuCtxPushCurrent_v2(green));
    PROBE("destroy", cu.cuGreenCtxDestroy(green));
    PROBE("device", cu.cuCtxGetDevice(&device));
    PROBE("flags", cu.cuCtxGetFlags(&flags));
    PROBE("id_of_current", cu.cuCtxGetId(NULL, &id));
    PROBE("synchronize", cu.cuCtxSynchronize());
    PROBE("allocate", cu.cuMemAlloc_v2(&p, 64));
    PROBE("create_stream", cu.cuStreamCreate(&stream, 0));
    PROBE("query_null", cu.cuStreamQuery(NULL));
    PROBE("query_own", cu.cuStreamQuery((void *)2));
    PROBE("pop", cu.cuCtxPopCurrent_v2(&current));
    PROBE("popped", current == green);
    PROBE("push_again", cu.cuCtxPushCurrent_v2(green));
    cu.cuCtxSetCurrent(context[0]);
    PROBE("green_id", cu.cuGreenCtxGetId(green, &id));
    PROBE("resource", cu.cuGreenCtxGetDevResource(green, (void *)&r, SM));
    PROBE("convert", cu.cuCtxFromGreenCtx(&current, green));
    PROBE("stream", cu.cuGreenCtxStreamCreate(&stream, green, NON_BLOCKING, 0));
    PROBE("destroy_again", cu.cuGreenCtxDestroy(green));
    PROBE("destroy_primary", cu.cuGreenCtxDestroy(context[0]));
    PROBE("convert_primary", cu.cuCtxFromGreenCtx(&current, context[0]));
    PROBE("id_of_primary", cu.cuGreenCtxGetId(context[0], &id));
    PROBE("reset_without", cu.cuDevicePrimaryCtxReset_v2(0));
    /* one retain of the program's, one of the green context's */
    PROBE("retain", cu.cuDevicePrimaryCtxRetain(&context[0], 0));
    PROBE("describe", describe(&d, groups, 1));
    PROBE("create", cu.cuGreenCtxCreate(&green, d, 0, DEFAULT_STREAM));
    while (released < 8 && cu.cuDevicePrimaryCtxRelease_v2(0) == 0) released++;
    answer("released", "%d", released);
    PROBE("state", cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    answer("active", "%d", active);
    PROBE("last_destroy", cu.cuGreenCtxDestroy(green));
    PROBE("last_state", cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    answer("last_active", "%d", active);
}

/* Multiprocessors of two devices. */
static void two_devices(void) {
    resource two[2];
    void *d = NULL, *green = NULL;
    open_all();
    if (devices < 2) {
        answer("gave_up", "two devices");
        return;
    }
    memset(two, 0, sizeof two);
    PROBE("first", cu.cuDeviceGetDevResource(0, (void *)&two[0], SM));
    PROBE("second", cu.cuDeviceGetDevResource(1, (void *)&two[1], SM));
    PROBE("both", describe(&d, two, 2));
    PROBE("describe", describe(&d, two + 1, 1));
    PROBE("on_the_other", cu.cuGreenCtxCreate(&green, d, 0, DEFAULT_STREAM));
    PROBE("on_its_own", cu.cuGreenCtxCreate(&green, d, 1, DEFAULT_STREAM));
}

const group green_groups[] = {
    { "green_resources", resources, 1 },
    { "green_descriptors", descriptors, 1 },
    { "green_contexts", contexts, 1 },
    { "green_streams", streams, 1 },
    { "green_places", places, 1 },
    { "green_gone", gone, 1 },
    { "green_more", more, 1 },
    { "green_own_stream", own_stream, 1 },
    { "green_ends", ends, 1 },
    { "green_two_devices", two_devices, 2 },
    { NULL, NULL, 0 },
};
