/* contexts.c - the driver and its devices, error texts, addresses of entry points; contexts, the
   threads' context stacks, limits, peers. */
#include "probe.h"

/* --- the driver and devices --- */

static unsigned hash(unsigned h, const char *text) {
    for (; text && *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static void errors(void) {
    const char *s = "untouched";
    unsigned names = 2166136261u, texts = 2166136261u;
    int code, known = 0, sum = 0;
    for (code = 0; code < 1200; code++) {
        if (cu.cuGetErrorName(code, &s)) continue;
        known++;
        sum += code;
        names = hash(names, s);
        if (cu.cuGetErrorString(code, &s) == 0) texts = hash(texts, s);
    }
    answer("known", "%d %d", known, sum);
    answer("names", "%08x", names);
    answer("texts", "%08x", texts);
    s = "untouched";
    PROBE("name_of_35", cu.cuGetErrorName(35, &s));
    PROBE("sets_null", s == NULL);
    PROBE("name_of_-1", cu.cuGetErrorName(-1, &s));
    s = "untouched";
    PROBE("text_of_9999", cu.cuGetErrorString(9999, &s));
    PROBE("text_sets_null", s == NULL);
    PROBE("name_to_null", cu.cuGetErrorName(1, NULL));
    PROBE("text_to_null", cu.cuGetErrorString(1, NULL));
    PROBE("unknown_to_null", cu.cuGetErrorName(9999, NULL));
    PROBE("version_to_null", cu.cuDriverGetVersion(NULL));
    PROBE("init_all_bits", cu.cuInit(0xffffffffu));
}

static void device(void) {
    char text[100];
    int value = 77, last = 0, i;
    size_t bytes = 0;
    unsigned char id[16];
    cu.cuInit(0);
    PROBE("init_again", cu.cuInit(0));
    PROBE("init_1_again", cu.cuInit(1));
    PROBE("count_to_null", cu.cuDeviceGetCount(NULL));
    PROBE("device_to_null", cu.cuDeviceGet(NULL, 0));
    PROBE("device_99_to_null", cu.cuDeviceGet(NULL, 99));
    PROBE("name_to_null", cu.cuDeviceGetName(NULL, 10, 0));
    PROBE("name_to_null_of_99", cu.cuDeviceGetName(NULL, 10, 99));
    PROBE("name_of_99", cu.cuDeviceGetName(text, 10, 99));
    PROBE("name_0", cu.cuDeviceGetName(text, 0, 0));
    PROBE("name_-1", cu.cuDeviceGetName(text, -1, 0));
    memset(text, 'x', sizeof text);
    PROBE("name_1", cu.cuDeviceGetName(text, 1, 0));
    answer("name_1_text", "%d %d", text[0], text[1]);
    memset(text, 'x', sizeof text);
    PROBE("name_4", cu.cuDeviceGetName(text, 4, 0));
    answer("name_4_text", "%d %d", text[3], text[4]);
    PROBE("attribute_to_null", cu.cuDeviceGetAttribute(NULL, 1, 0));
    PROBE("attribute_0", cu.cuDeviceGetAttribute(&value, 0, 0));
    PROBE("attribute_-1", cu.cuDeviceGetAttribute(&value, -1, 0));
    PROBE("attribute_1000", cu.cuDeviceGetAttribute(&value, 1000, 0));
    PROBE("attribute_1000_of_99", cu.cuDeviceGetAttribute(&value, 1000, 99));
    PROBE("attribute_to_null_of_99", cu.cuDeviceGetAttribute(NULL, 1, 99));
    for (i = 1; i < 400; i++)
        if (cu.cuDeviceGetAttribute(&value, i, 0) == 0) last = i;
    PROBE("attribute_last", last);
    for (i = 1; i < last && cu.cuDeviceGetAttribute(&value, i, 0) == 0; i++) {}
    PROBE("attribute_hole", i);
    PROBE("total_to_null", cu.cuDeviceTotalMem_v2(NULL, 0));
    PROBE("total_of_99", cu.cuDeviceTotalMem_v2(&bytes, 99));
    PROBE("total_of_99_to_null", cu.cuDeviceTotalMem_v2(NULL, 99));
    PROBE("bus_to_null", cu.cuDeviceGetPCIBusId(NULL, 20, 0));
    PROBE("bus_0", cu.cuDeviceGetPCIBusId(text, 0, 0));
    PROBE("bus_-1", cu.cuDeviceGetPCIBusId(text, -1, 0));
    memset(text, 'x', sizeof text);
    PROBE("bus_5", cu.cuDeviceGetPCIBusId(text, 5, 0));
    answer("bus_5_text", "%d %d %d", text[0], text[4], text[5]);
    PROBE("bus_12", cu.cuDeviceGetPCIBusId(text, 12, 0));
    PROBE("bus_13", cu.cuDeviceGetPCIBusId(text, 13, 0));
    PROBE("bus_13_length", (int)strlen(text));
    PROBE("bus_of_99", cu.cuDeviceGetPCIBusId(text, 20, 99));
    PROBE("bus_of_99_to_null", cu.cuDeviceGetPCIBusId(NULL, 20, 99));
    PROBE("uuid_to_null", cu.cuDeviceGetUuid_v2(NULL, 0));
    PROBE("uuid_of_99", cu.cuDeviceGetUuid_v2(id, 99));
    PROBE("access_to_null", cu.cuDeviceCanAccessPeer(NULL, 0, 0));
    PROBE("access_99", cu.cuDeviceCanAccessPeer(&value, 0, 99));
    PROBE("access_99_to_null", cu.cuDeviceCanAccessPeer(NULL, 99, 0));
}

static void find(const char *question, const char *name, int version, uint64_t flags) {
    void *p = &p;
    int status = 77, result;
    if (skipped(question)) return;
    result = cu.cuGetProcAddress_v2(name, &p, version, flags, &status);
    answer(question, "%d %s %d", result, p == &p ? "untouched" : p ? "found" : "null", status);
}
static void addresses(void) { /* also before cuInit */
    void *a = NULL, *b = NULL;
    find("plain", "cuMemAlloc", 3020, 0);
    find("first", "cuMemAlloc", 2000, 0);
    find("too_old", "cuMemAlloc", 1000, 0);
    find("too_old_for_new", "cuFuncGetParamInfo", 12030, 0);
    find("new", "cuFuncGetParamInfo", 12040, 0);
    find("version_0", "cuInit", 0, 0);
    find("version_-1", "cuInit", -1, 0);
    find("version_next", "cuInit", 13010, 0);
    find("version_future", "cuInit", 99000, 0);
    find("unknown", "cuNoSuchCall", 12000, 0);
    find("unknown_future", "cuNoSuchCall", 99000, 0);
    find("empty", "", 12000, 0);
    find("null", NULL, 12000, 0);
    find("with_suffix", "cuMemAlloc_v2", 12000, 0);
    find("with_ptsz", "cuStreamQuery_ptsz", 12000, 0);
    find("case", "cuinit", 12000, 0);
    find("not_public", "cuGetExportTable", 12000, 0);
    find("flags_1", "cuStreamQuery", 12000, 1);
    find("flags_2", "cuStreamQuery", 12000, 2);
    find("flags_3", "cuStreamQuery", 12000, 3);
    find("flags_4", "cuStreamQuery", 12000, 4);
    find("flags_high", "cuStreamQuery", 12000, (uint64_t)1 << 40);
    find("flags_4_unknown", "cuNoSuchCall", 12000, 4);
    find("flags_2_no_stream", "cuInit", 12000, 2);
    PROBE("to_null", cu.cuGetProcAddress_v2("cuInit", NULL, 12000, 0, NULL));
    PROBE("status_null", cu.cuGetProcAddress_v2("cuInit", &a, 12000, 0, NULL));
    PROBE("status_null_unknown", cu.cuGetProcAddress_v2("cuNoSuchCall", &a, 12000, 0, NULL));
    PROBE("old_plain", cu.cuGetProcAddress("cuInit", &a, 12000, 0));
    a = &a;
    PROBE("old_unknown", cu.cuGetProcAddress("cuNoSuchCall", &a, 12000, 0));
    PROBE("old_unknown_sets_null", a == NULL);
    PROBE("old_too_old", cu.cuGetProcAddress("cuFuncGetParamInfo", &a, 12030, 0));
    cu.cuGetProcAddress_v2("cuGetProcAddress", &a, 11030, 0, NULL);
    cu.cuGetProcAddress_v2("cuGetProcAddress", &b, 12000, 0, NULL);
    PROBE("two_of_itself", a && b && a != b);
    cu.cuGetProcAddress_v2("cuStreamQuery", &a, 12000, 1, NULL);
    cu.cuGetProcAddress_v2("cuStreamQuery", &b, 12000, 2, NULL);
    PROBE("two_of_query", a && b && a != b);
    cu.cuGetProcAddress_v2("cuStreamQuery", &b, 12000, 0, NULL);
    PROBE("legacy_is_default", a == b);
}

/* --- contexts --- */

static void context_create(void) {
    static const unsigned all[] = { 3, 5, 6, 7, 8, 16, 24, 0x80, 0x100, 0x80000000u };
    void *a = NULL, *c = NULL;
    unsigned i, flags;
    cu.cuInit(0);
    PROBE("to_null", cu.cuCtxCreate_v2(NULL, 0, 0));
    PROBE("to_null_on_99", cu.cuCtxCreate_v2(NULL, 0, 99));
    PROBE("on_99", cu.cuCtxCreate_v2(&a, 0, 99));
    PROBE("on_-1", cu.cuCtxCreate_v2(&a, 0, -1));
    PROBE("bad_flags_on_99", cu.cuCtxCreate_v2(&a, 0x80000000u, 99));
    for (i = 0; i < COUNT(all); i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "flags_%x", all[i]);
        if (skipped(question)) continue;
        result = cu.cuCtxCreate_v2(&a, all[i], 0);
        flags = 0;
        if (result == 0) cu.cuCtxGetFlags(&flags);
        answer(question, "%d %x", result, flags);
        if (result == 0) cu.cuCtxDestroy_v2(a);
    }
    PROBE("destroy_null", cu.cuCtxDestroy_v2(NULL));
    PROBE("detach_null", cu.cuCtxDetach(NULL));
    cu.cuCtxCreate_v2(&a, 0, 0);
    PROBE("flags_to_null", cu.cuCtxGetFlags(NULL));
    PROBE("attach_to_null_with_flags", cu.cuCtxAttach(NULL, 1));
    cu.cuCtxAttach(&c, 0);
    PROBE("destroy_attached", cu.cuCtxDestroy_v2(a));
    PROBE("current_after", cu.cuCtxGetCurrent(&c));
    PROBE("none_after", c == NULL);
    PROBE("attach_without", cu.cuCtxAttach(&c, 0));
}

static int is(void *c) {
    void *now = NULL;
    cu.cuCtxGetCurrent(&now);
    return now == c;
}
static void context_stack(void) {
    void *a = NULL, *b = NULL, *c = NULL;
    int device = 77;
    ptr p = 0;
    size_t bytes = 0;
    cu.cuInit(0);
    PROBE("set_null_on_empty", cu.cuCtxSetCurrent(NULL));
    PROBE("push_null", cu.cuCtxPushCurrent_v2(NULL));
    PROBE("pop_after_push_null", cu.cuCtxPopCurrent_v2(&c));
    PROBE("current_to_null", cu.cuCtxGetCurrent(NULL));
    PROBE("device_to_null_without", cu.cuCtxGetDevice(NULL));
    PROBE("memory_to_null_without", cu.cuMemGetInfo_v2(NULL, NULL));
    cu.cuCtxCreate_v2(&a, 0, 0);
    cu.cuCtxCreate_v2(&b, 0, 0);
    PROBE("device_to_null", cu.cuCtxGetDevice(NULL));
    PROBE("pop_to_null", cu.cuCtxPopCurrent_v2(NULL));
    PROBE("a_is_left", is(a));
    cu.cuCtxPushCurrent_v2(b);
    PROBE("set_null", cu.cuCtxSetCurrent(NULL));
    PROBE("a_under_null", is(a));
    PROBE("none_after_null", is(NULL));
    while (cu.cuCtxPopCurrent_v2(&c) == 0) {}
    cu.cuCtxPushCurrent_v2(a);
    PROBE("push_again", cu.cuCtxPushCurrent_v2(a));
    cu.cuCtxPopCurrent_v2(&c);
    PROBE("once_more_there", is(a));
    cu.cuCtxPushCurrent_v2(b);
    PROBE("set_a_over_b", cu.cuCtxSetCurrent(a));
    cu.cuCtxPopCurrent_v2(&c);
    PROBE("a_replaced_b", c == a);
    PROBE("a_below", is(a));
    cu.cuCtxPopCurrent_v2(&c);
    PROBE("empty_then", is(NULL));
    PROBE("pop_empty_to_null", cu.cuCtxPopCurrent_v2(NULL));
    cu.cuCtxPushCurrent_v2(b);
    cu.cuCtxPushCurrent_v2(a);
    PROBE("destroy_below_top", cu.cuCtxDestroy_v2(b));
    PROBE("top_stays", is(a));
    cu.cuCtxPopCurrent_v2(&c);
    PROBE("dead_below", is(b));
    PROBE("dead_device", cu.cuCtxGetDevice(&device));
    PROBE("dead_alloc", cu.cuMemAlloc_v2(&p, 4));
    PROBE("dead_alloc_0", cu.cuMemAlloc_v2(&p, 0));
    PROBE("dead_memory", cu.cuMemGetInfo_v2(&bytes, &bytes));
    PROBE("dead_set_over", cu.cuCtxSetCurrent(a));
    PROBE("dead_replaced", is(a));
    PROBE("destroy_once_current", cu.cuCtxDestroy_v2(a));
    PROBE("empty_after", is(NULL));
}

static void *made, *seen;
static int codes[8];
static void in_other_thread(void) {
    void *c = NULL;
    codes[0] = is(NULL);
    codes[1] = cu.cuCtxPopCurrent_v2(&c);
    codes[2] = cu.cuCtxCreate_v2(&made, 0, 0);
    codes[3] = is(made);
}

static void set_and_leave(void) {
    codes[0] = cu.cuCtxSetCurrent(made);
    codes[1] = cu.cuCtxPushCurrent_v2(made);
}

static void destroy_it(void) {
    codes[0] = cu.cuCtxDestroy_v2(made);
    codes[1] = cu.cuCtxGetCurrent(&seen);
}

static void context_threads(void) {
    void *a = NULL, *c = NULL;
    ptr p = 0;
    int device = 77, least = 0;
    unsigned version = 0;
    size_t value = 0;
    cu.cuInit(0);
    cu.cuCtxCreate_v2(&a, 0, 0);
    in_thread(in_other_thread);
    answer("starts", "%d %d %d %d", codes[0], codes[1], codes[2], codes[3]);
    PROBE("mine_stays", is(a));
    PROBE("use_of_ended_thread", cu.cuCtxSetCurrent(made));
    PROBE("alloc_in_it", cu.cuMemAlloc_v2(&p, 4));
    in_thread(set_and_leave);
    answer("leaves", "%d %d", codes[0], codes[1]);
    PROBE("destroy_while_left", cu.cuCtxDestroy_v2(made));
    PROBE("none_then", is(NULL));
    cu.cuCtxSetCurrent(a);
    made = a;
    in_thread(destroy_it);
    answer("destroyed_there", "%d %d", codes[0], codes[1]);
    PROBE("dead_is_current", is(a));
    PROBE("alloc", cu.cuMemAlloc_v2(&p, 4));
    PROBE("free_0", cu.cuMemFree_v2(0));
    PROBE("device", cu.cuCtxGetDevice(&device));
    PROBE("limit", cu.cuCtxGetLimit(&value, 0));
    PROBE("limit_99", cu.cuCtxGetLimit(&value, 99));
    PROBE("priorities", cu.cuCtxGetStreamPriorityRange(&least, &least));
    PROBE("stream", cu.cuStreamCreateWithPriority(&c, 0, 0));
    PROBE("stream_bad_flags", cu.cuStreamCreateWithPriority(&c, 8, 0));
    PROBE("query_null_stream", cu.cuStreamQuery(NULL));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("flags", cu.cuCtxGetFlags(&version));
    PROBE("api_version_of_current", cu.cuCtxGetApiVersion(NULL, &version));
    PROBE("load_null", cu.cuModuleLoadData(&c, NULL));
    PROBE("to_device_0", cu.cuMemcpyHtoD_v2(p, NULL, 0));
    PROBE("set_null", cu.cuCtxSetCurrent(NULL));
    PROBE("pop", cu.cuCtxPopCurrent_v2(&c));
}

static void context_queries(void) {
    void *a = NULL, *b = NULL, *primary = NULL;
    unsigned version = 0, flags = 0;
    unsigned long long id[4] = { 0, 0, 0, 0 };
    int least = 77, greatest = 77;
    cu.cuInit(0);
    PROBE("api_version_without", cu.cuCtxGetApiVersion(NULL, &version));
    PROBE("id_without", cu.cuCtxGetId(NULL, &id[0]));
    PROBE("priorities_without", cu.cuCtxGetStreamPriorityRange(NULL, NULL));
    PROBE("flags_without", cu.cuCtxGetFlags(&flags));
    PROBE("flags_to_null_without", cu.cuCtxGetFlags(NULL));
    cu.cuCtxCreate_v2(&a, 0, 0);
    cu.cuCtxGetId(a, &id[0]);
    PROBE("id_of_current", cu.cuCtxGetId(NULL, &id[1]));
    PROBE("same_id", id[0] == id[1]);
    PROBE("id_to_null", cu.cuCtxGetId(a, NULL));
    PROBE("id_of_current_to_null", cu.cuCtxGetId(NULL, NULL));
    PROBE("api_version_to_null", cu.cuCtxGetApiVersion(a, NULL));
    cu.cuCtxCreate_v2(&b, 0, 0);
    cu.cuCtxGetId(b, &id[1]);
    PROBE("ids_rise", id[1] > id[0]);
    cu.cuDevicePrimaryCtxRetain(&primary, 0);
    PROBE("api_version_of_primary", cu.cuCtxGetApiVersion(primary, &version));
    answer("is", "%u", version);
    cu.cuCtxGetId(primary, &id[2]);
    cu.cuDevicePrimaryCtxRelease_v2(0);
    cu.cuDevicePrimaryCtxRetain(&primary, 0);
    cu.cuCtxGetId(primary, &id[3]);
    PROBE("primary_id_is_new", id[2] != id[3]);
    PROBE("priorities", cu.cuCtxGetStreamPriorityRange(&least, NULL));
    PROBE("least", least);
    cu.cuCtxGetStreamPriorityRange(NULL, &greatest);
    PROBE("greatest", greatest);
}

static void limits(void) {
    static const struct {
        int limit;
        size_t value;
    } set[] = {
        { 0, 0 },
        { 0, 1 },
        { 0, 1025 },
        { 0, 100000 },
        { 0, (size_t)1 << 40 },
        { 1, 0 },
        { 1, 5 << 20 },
        { 1, (size_t)1 << 50 },
        { 1, (size_t)1 << 31 },
        { 2, 0 },
        { 2, 5 << 20 },
        { 3, 0 },
        { 3, 1 },
        { 4, 0 },
        { 4, 1 },
        { 4, 5000 },
        { 5, 0 },
        { 5, 33 },
        { 5, 128 },
        { 5, 129 },
        { 6, 0 },
        { 7, 0 },
        { 7, 1024 },
        { 8, 0 },
        { 8, 1 },
        { 9, 1 },
        { 10, 0 },
        { 11, 0 },
        { -1, 0 },
    };
    void *c = NULL;
    size_t value, i;
    char question[60];
    cu.cuInit(0);
    value = 77;
    PROBE("get_without", cu.cuCtxGetLimit(&value, 0));
    PROBE("get_99_without", cu.cuCtxGetLimit(&value, 99));
    PROBE("set_without", cu.cuCtxSetLimit(0, 1024));
    cu.cuCtxCreate_v2(&c, 0, 0);
    PROBE("get_99_to_null", cu.cuCtxGetLimit(NULL, 99));
    for (i = 0; i < 12; i++) {
        int result;
        snprintf(question, sizeof question, "get_%d", (int)i);
        if (skipped(question)) continue;
        value = 77;
        result = cu.cuCtxGetLimit(&value, (int)i);
        if (i == 2 || i == 6) value = 0; /* depends on the device's size */
        answer(question, "%d %llu", result, (ptr)value);
    }
    for (i = 0; i < COUNT(set); i++) {
        int result;
        snprintf(question, sizeof question, "set_%d_to_%llu", set[i].limit, (ptr)set[i].value);
        if (skipped(question)) continue;
        result = cu.cuCtxSetLimit(set[i].limit, set[i].value);
        value = 77;
        if (set[i].limit >= 0) cu.cuCtxGetLimit(&value, set[i].limit);
        answer(question, "%d %llu", result, (ptr)value);
    }
}

/* --- primary contexts --- */

static void primary(void) {
    void *a = NULL, *b = NULL;
    unsigned flags = 77;
    int active = 77;
    ptr p = 0;
    cu.cuInit(0);
    PROBE("retain_to_null", cu.cuDevicePrimaryCtxRetain(NULL, 0));
    PROBE("retain_99_to_null", cu.cuDevicePrimaryCtxRetain(NULL, 99));
    PROBE("retain_-1", cu.cuDevicePrimaryCtxRetain(&a, -1));
    PROBE("release_99", cu.cuDevicePrimaryCtxRelease_v2(99));
    PROBE("reset_99", cu.cuDevicePrimaryCtxReset_v2(99));
    PROBE("state_99", cu.cuDevicePrimaryCtxGetState(99, &flags, &active));
    PROBE("state_99_to_null", cu.cuDevicePrimaryCtxGetState(99, NULL, NULL));
    PROBE("state_to_null", cu.cuDevicePrimaryCtxGetState(0, NULL, NULL));
    PROBE("state_flags_to_null", cu.cuDevicePrimaryCtxGetState(0, NULL, &active));
    PROBE("state_active_to_null", cu.cuDevicePrimaryCtxGetState(0, &flags, NULL));
    PROBE("flags_99", cu.cuDevicePrimaryCtxSetFlags_v2(99, 0));
    PROBE("flags_99_bad", cu.cuDevicePrimaryCtxSetFlags_v2(99, 0x1000));
    PROBE("flags_bad", cu.cuDevicePrimaryCtxSetFlags_v2(0, 0x1000));
    PROBE("flags_3", cu.cuDevicePrimaryCtxSetFlags_v2(0, 3));
    PROBE("flags_4", cu.cuDevicePrimaryCtxSetFlags_v2(0, 4));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("state", "%x %d", flags, active);
    PROBE("flags_8", cu.cuDevicePrimaryCtxSetFlags_v2(0, 8));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("state_8", "%x %d", flags, active);
    PROBE("flags_16", cu.cuDevicePrimaryCtxSetFlags_v2(0, 16));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("state_16", "%x %d", flags, active);
    cu.cuDevicePrimaryCtxSetFlags_v2(0, 4);
    cu.cuDevicePrimaryCtxRetain(&a, 0);
    cu.cuDevicePrimaryCtxRetain(&b, 0);
    PROBE("same", a == b);
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("state_active", "%x %d", flags, active);
    PROBE("flags_1_active", cu.cuDevicePrimaryCtxSetFlags_v2(0, 1));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("state_1_active", "%x %d", flags, active);
    cu.cuCtxSetCurrent(a);
    cu.cuCtxGetFlags(&flags);
    answer("flags_of_context", "%x", flags);
    PROBE("release", cu.cuDevicePrimaryCtxRelease_v2(0));
    PROBE("alloc_in_rest", cu.cuMemAlloc_v2(&p, 4));
    PROBE("reset_retained", cu.cuDevicePrimaryCtxReset_v2(0));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    PROBE("active_after_reset", active);
    PROBE("alloc_after_reset", cu.cuMemAlloc_v2(&p, 4));
    PROBE("release_after_reset", cu.cuDevicePrimaryCtxRelease_v2(0));
    PROBE("release_once_more", cu.cuDevicePrimaryCtxRelease_v2(0));
    PROBE("retain_again", cu.cuDevicePrimaryCtxRetain(&b, 0));
    PROBE("same_again", a == b);
    PROBE("alloc_then", cu.cuMemAlloc_v2(&p, 4));
    PROBE("state_flags_kept", cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    answer("kept", "%x %d", flags, active);
    PROBE("attach_primary", cu.cuCtxAttach(&b, 0));
    PROBE("detach_primary", cu.cuCtxDetach(a));
    PROBE("detach_primary_again", cu.cuCtxDetach(a));
    PROBE("alloc_still", cu.cuMemAlloc_v2(&p, 4));
    cu.cuDevicePrimaryCtxSetFlags_v2(0, 2);
    PROBE("release_last", cu.cuDevicePrimaryCtxRelease_v2(0));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("kept_after_release", "%x %d", flags, active);
    PROBE("reset_last", cu.cuDevicePrimaryCtxReset_v2(0));
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    answer("kept_after_reset", "%x %d", flags, active);
}

/* --- the preferred cache, the profiler --- */

static void cache(void) {
    unsigned is_set = 77;
    void *c = NULL, *popped = NULL;
    int i;
    cu.cuInit(0);
    PROBE("get_without", cu.cuCtxGetCacheConfig(&is_set));
    PROBE("set_without", cu.cuCtxSetCacheConfig(1));
    PROBE("start_without", cu.cuProfilerStart());
    PROBE("stop_without", cu.cuProfilerStop());
    cu.cuCtxCreate_v2(&c, 0, 0);
    PROBE("get_to_null", cu.cuCtxGetCacheConfig(NULL));
    for (i = -1; i < 5; i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "set_%d", i);
        if (skipped(question)) continue;
        result = cu.cuCtxSetCacheConfig((unsigned)i);
        cu.cuCtxGetCacheConfig(&is_set);
        answer(question, "%d %u", result, is_set);
    }
    PROBE("stop", cu.cuProfilerStop());
    PROBE("start", cu.cuProfilerStart());
    PROBE("start_again", cu.cuProfilerStart());
    PROBE("stop_then", cu.cuProfilerStop());
    cu.cuCtxPopCurrent_v2(&popped);
    PROBE("stop_after_pop", cu.cuProfilerStop());
    cu.cuCtxPushCurrent_v2(c);
    cu.cuCtxDestroy_v2(c);
    PROBE("get_after", cu.cuCtxGetCacheConfig(&is_set));
    PROBE("start_after", cu.cuProfilerStart());
}

/* --- peers --- */

static void peers_one(void) {
    void *other = NULL;
    open_one();
    PROBE("enable_null", cu.cuCtxEnablePeerAccess(NULL, 0));
    PROBE("enable_null_flags", cu.cuCtxEnablePeerAccess(NULL, 1));
    PROBE("disable_null", cu.cuCtxDisablePeerAccess(NULL));
    PROBE("disable_self", cu.cuCtxDisablePeerAccess(context[0]));
    PROBE("enable_self_flags", cu.cuCtxEnablePeerAccess(context[0], 1));
    cu.cuCtxCreate_v2(&other, 0, 0);
    PROBE("enable_same_device", cu.cuCtxEnablePeerAccess(context[0], 0));
    PROBE("disable_same_device", cu.cuCtxDisablePeerAccess(context[0]));
    cu.cuCtxPopCurrent_v2(&other);
    cu.cuCtxSetCurrent(NULL);
    PROBE("enable_without", cu.cuCtxEnablePeerAccess(context[0], 0));
    PROBE("enable_without_flags", cu.cuCtxEnablePeerAccess(context[0], 1));
    PROBE("disable_without", cu.cuCtxDisablePeerAccess(context[0]));
}
static void peers_two(void) {
    void *third = NULL, *own = NULL;
    ptr p = 0;
    open_all();
    cu.cuCtxCreate_v2(&third, 0, 1);
    cu.cuCtxSetCurrent(context[0]);
    PROBE("primary", cu.cuCtxEnablePeerAccess(context[1], 0));
    PROBE("created_then", cu.cuCtxEnablePeerAccess(third, 0));
    PROBE("disable_created", cu.cuCtxDisablePeerAccess(third));
    PROBE("primary_again", cu.cuCtxEnablePeerAccess(context[1], 0));
    PROBE("flags_of_enabled", cu.cuCtxEnablePeerAccess(context[1], 1));
    cu.cuCtxCreate_v2(&own, 0, 0);
    PROBE("from_second_context", cu.cuCtxEnablePeerAccess(context[1], 0));
    PROBE("other_way", (cu.cuCtxSetCurrent(context[1]), cu.cuCtxEnablePeerAccess(context[0], 0)));
    cu.cuCtxSetCurrent(context[0]);
    PROBE("destroy_peer", cu.cuCtxDestroy_v2(third));
    PROBE("copy_peer",
            cu.cuMemcpyPeerAsync(memory[0], context[0], memory[1], context[1], 64, NULL));
    PROBE("copy_peer_swapped",
            cu.cuMemcpyPeerAsync(memory[0], context[1], memory[1], context[0], 64, NULL));
    PROBE("copy_peer_null", cu.cuMemcpyPeerAsync(memory[0], NULL, memory[1], NULL, 64, NULL));
    PROBE("copy_peer_0",
            cu.cuMemcpyPeerAsync(memory[0], context[0], memory[1], context[1], 0, NULL));
    PROBE("copy_peer_0_null", cu.cuMemcpyPeerAsync(0, context[0], 0, context[1], 0, NULL));
    PROBE("copy_peer_past_end",
            cu.cuMemcpyPeerAsync(memory[0], context[0], memory[1] + 4, context[1], MEMORY, NULL));
    PROBE("copy_peer_one_side",
            cu.cuMemcpyPeerAsync(memory[0], context[0], memory[0] + 64, context[0], 64, NULL));
    PROBE("copy_across", cu.cuMemcpyDtoDAsync_v2(memory[0], memory[1], 64, NULL));
    PROBE("alloc_there_free_here",
            (cu.cuCtxSetCurrent(context[1]), cu.cuMemAlloc_v2(&p, 64),
                    cu.cuCtxSetCurrent(context[0]), cu.cuMemFree_v2(p)));
    PROBE("range_of_other", cu.cuMemGetAddressRange_v2(&p, NULL, memory[1]));
    PROBE("disable", cu.cuCtxDisablePeerAccess(context[1]));
    PROBE("range_of_other_then", cu.cuMemGetAddressRange_v2(&p, NULL, memory[1]));
    PROBE("fill_other", cu.cuMemsetD8Async(memory[1], 0, 64, NULL));
    PROBE("to_other", cu.cuMemcpyHtoD_v2(memory[1], "1234", 4));
    PROBE("from_other", cu.cuMemcpyDtoH_v2(&p, memory[1], 4));
    PROBE("disable_again", cu.cuCtxDisablePeerAccess(context[1]));
    PROBE("event_there_stream_here",
            (cu.cuCtxSetCurrent(context[1]), cu.cuEventCreate(&own, 0),
                    cu.cuEventRecord(own, (void *)1), cu.cuCtxSetCurrent(context[0]),
                    cu.cuStreamWaitEvent(NULL, own, 0)));
    PROBE("launch_there_on_null", launch(kernel(1, "nop"), 1, 1, NULL, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
}

const group device_groups[] = {
    { "error", errors, 1 },
    { "device", device, 1 },
    { "address", addresses, 1 },
    { NULL, NULL, 0 },
};
const group context_groups[] = {
    { "context_create", context_create, 1 },
    { "context_stack", context_stack, 1 },
    { "context_threads", context_threads, 1 },
    { "context_tells", context_queries, 1 },
    { "limit", limits, 1 },
    { "primary", primary, 1 },
    { "preferred_cache", cache, 1 },
    { "peers_one", peers_one, 1 },
    { "peers_two", peers_two, 2 },
    { NULL, NULL, 0 },
};
