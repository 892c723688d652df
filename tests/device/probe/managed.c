/* managed.c - managed memory: allocation, attributes, advice, prefetches, attaching, captures. */
#include "probe.h"

enum { GLOBAL = 1, ONLY_HOST, SINGLE = 4, BYTES = 1 << 16, PAGE = 4096 };
enum { ON_DEVICE = 1, ON_HOST, ON_NODE, ON_THIS_NODE }; /* CUmemLocationType */
enum { MOSTLY_READ = 1, NOT_MOSTLY_READ, PREFERRED, NOT_PREFERRED, ACCESSED_BY, NOT_ACCESSED_BY };

static location at(int type, int id) {
    location l;
    l.type = type;
    l.id = id;
    return l;
}
static ptr make(size_t bytes) {
    ptr p = 0;
    cu.cuMemAllocManaged(&p, bytes, GLOBAL);
    return p;
}
static void *new_stream(void) {
    void *stream = NULL;
    cu.cuStreamCreateWithPriority(&stream, 1, 0);
    return stream;
}
static uint32_t *words(ptr p) { return (uint32_t *)(uintptr_t)p; }

static void creates(void) {
    static const int wanted[] = { 83, 88, 89, 100, 101 };
    char question[40];
    ptr p = 0;
    unsigned flags;
    int i, value = 0;
    PROBE("before_init", cu.cuMemAllocManaged(&p, 64, GLOBAL));
    cu.cuInit(0);
    PROBE("without", cu.cuMemAllocManaged(&p, 64, GLOBAL));
    PROBE("to_null_without", cu.cuMemAllocManaged(NULL, 64, GLOBAL));
    for (i = 0; i < (int)COUNT(wanted); i++) {
        snprintf(question, sizeof question, "attribute_%d", wanted[i]);
        PROBE(question, (value = 77, cu.cuDeviceGetAttribute(&value, wanted[i], 0) * 1000 + value));
    }
    open_one();
    PROBE("to_null", cu.cuMemAllocManaged(NULL, 64, GLOBAL));
    PROBE("zero", cu.cuMemAllocManaged(&p, 0, GLOBAL));
    PROBE("zero_bad_flags", cu.cuMemAllocManaged(&p, 0, 0));
    for (flags = 0; flags < 10; flags++) {
        snprintf(question, sizeof question, "flags_%u", flags);
        PROBE(question, cu.cuMemAllocManaged(&p, 64, flags));
    }
    PROBE("huge", cu.cuMemAllocManaged(&p, (size_t)1 << 50, GLOBAL));
    PROBE("all_bits", cu.cuMemAllocManaged(&p, ~(size_t)0, GLOBAL));
    PROBE("huge_bad_flags", cu.cuMemAllocManaged(&p, (size_t)1 << 50, 0));
}

/* Each pointer attribute: its result and, of numbers, the value. */
static void describes(void) {
    static const int all[] = { 1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21 };
    ptr p, q, base = 0;
    size_t bytes = 0;
    unsigned k, flags = 77;
    char question[40];
    void *list[3], *first = NULL;
    int which[3] = { 2, 4, 8 }, type = 77, is = 77;
    ptr apart;
    open_one();
    p = make(1000);
    q = make(1000);
    PROBE("aligned", (int)(p % PAGE));
    PROBE("aligned_2_mib", p % (2 << 20) == 0);
    apart = q > p ? q - p : p - q;
    PROBE("distance", (int)(apart < 65536 ? apart : 65536)); /* where the system maps it */
    PROBE("first_word", (int)words(make(64))[0]);
    for (k = 0; k < COUNT(all); k++) {
        union {
            long long number;
            int small;
            void *pointer;
            ptr address;
        } v;
        v.number = 0;
        snprintf(question, sizeof question, "pointer_%d", all[k]);
        if (skipped(question)) continue;
        type = cu.cuPointerGetAttribute(&v, all[k], p + 8);
        answer(question, "%d %d", type,
                all[k] == 1 ? v.pointer == context[0]
                        : all[k] == 3 || all[k] == 4 || all[k] == 11 || all[k] == 19
                        ? (int)(v.address - p)
                        : v.small);
    }
    PROBE("range", cu.cuMemGetAddressRange_v2(&base, &bytes, p + 8) * 100000 + (int)bytes);
    PROBE("range_base", base == p);
    PROBE("behind_end", cu.cuPointerGetAttribute(&type, 2, p + 1000));
    PROBE("far_behind_end", cu.cuPointerGetAttribute(&type, 2, p + PAGE));
    list[0] = &type;
    list[1] = &first;
    list[2] = &is;
    PROBE("list",
            (cu.cuPointerGetAttributes(3, which, list, p) * 1000 + type * 100 +
                    (first == (void *)(uintptr_t)p) * 10 + is));
    PROBE("host_flags", cu.cuMemHostGetFlags(&flags, (void *)(uintptr_t)p) * 100 + (int)flags);
    PROBE("host_address", cu.cuMemHostGetDevicePointer_v2(&base, (void *)(uintptr_t)p, 0));
    PROBE("host_register", cu.cuMemHostRegister_v2((void *)(uintptr_t)p, 1000, 0));
    PROBE("host_unregister", cu.cuMemHostUnregister((void *)(uintptr_t)p));
    PROBE("host_free", cu.cuMemFreeHost((void *)(uintptr_t)p));
    PROBE("free_inside", cu.cuMemFree_v2(p + 8));
    PROBE("free", cu.cuMemFree_v2(p));
    PROBE("free_again", cu.cuMemFree_v2(p));
    PROBE("type_of_freed", (type = 77, cu.cuPointerGetAttribute(&type, 2, p) * 100 + type));
    PROBE("free_async", cu.cuMemFreeAsync(q, NULL));
    PROBE("free_async_again", cu.cuMemFreeAsync(q, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
    p = make(1000);
    cu.cuCtxSetCurrent(NULL);
    PROBE("type_without", cu.cuPointerGetAttribute(&type, 2, p));
    PROBE("free_without", cu.cuMemFree_v2(p));
}

/* The host and the device use it, also at the same time. */
static void uses(void) {
    void *s, *t, *spin, *store, *params[2], *host = NULL;
    ptr p, q, d = memory[0];
    uint32_t value = 5, got[16];
    char *pageable = (char *)calloc(1, BYTES);
    gate g;
    open_one();
    d = memory[0];
    g = make_gate();
    spin = kernel(0, "spin");
    store = kernel(0, "store");
    s = new_stream();
    t = new_stream();
    p = make(BYTES);
    q = make(BYTES);
    cu.cuMemHostAlloc(&host, BYTES, 0);
    params[0] = &p;
    params[1] = &value;
    PROBE("store", (launch(store, 1, 1, s, params), cu.cuStreamSynchronize(s), (int)*words(p)));
    words(p)[1] = 9;
    PROBE("copy_to_device", cu.cuMemcpyDtoD_v2(d, p, 64));
    PROBE("copy_to_host", (cu.cuMemcpyDtoH_v2(got, d, 64), (int)got[1]));
    PROBE("to_host_as_host", (cu.cuMemcpyDtoH_v2((void *)(uintptr_t)q, d, 64), (int)words(q)[1]));
    PROBE("to_device_as_host", cu.cuMemcpyHtoD_v2(d, (void *)(uintptr_t)p, 64));
    PROBE("to_device_as_device", cu.cuMemcpyHtoD_v2(p, pageable, 64));
    PROBE("past_end", cu.cuMemcpyDtoD_v2(d, p + BYTES - 32, 64));
    PROBE("past_end_of_range", cu.cuMemcpyHtoD_v2(p, pageable, BYTES + 1));
    PROBE("fill", (cu.cuMemsetD32_v2(p, 3, 16), (int)words(p)[15]));
    PROBE("fill_past_end", cu.cuMemsetD32_v2(p, 3, BYTES / 4 + 1));
    PROBE("touch_beside",
            (close_gate(g, spin, s), words(p)[2] = 4, (int)words(p)[2] + cu.cuStreamQuery(s)));
    PROBE("async_between", cu.cuMemcpyDtoDAsync_v2(q, p, BYTES, s) * 1000 + cu.cuStreamQuery(s));
    PROBE("async_from_pinned",
            cu.cuMemcpyDtoDAsync_v2(q, (ptr)(uintptr_t)host, 64, s) * 1000 + cu.cuStreamQuery(s));
    PROBE("async_to_pinned",
            cu.cuMemcpyDtoDAsync_v2((ptr)(uintptr_t)host, q, 64, s) * 1000 + cu.cuStreamQuery(s));
    PROBE("async_from_pageable",
            cu.cuMemcpyHtoDAsync_v2(q, pageable, 64, s) * 1000 + cu.cuStreamQuery(s));
    PROBE("async_fill", cu.cuMemsetD32Async(q, 1, 16, s) * 1000 + cu.cuStreamQuery(s));
    PROBE("touch_target", (words(q)[0] = 2, cu.cuStreamQuery(s)));
    open_gate(g);
    PROBE("end", cu.cuStreamSynchronize(s));
    PROBE("filled", (int)words(q)[0]);
    PROBE("wait_value",
            (words(q)[0] = 7,
                    cu.cuStreamWaitValue32_v2(t, q, 7, 1) * 1000 + cu.cuStreamSynchronize(t)));
    PROBE("write_value",
            (cu.cuStreamWriteValue32_v2(t, q, 8, 0) * 10000 + cu.cuStreamSynchronize(t) * 1000 +
                    (int)words(q)[0]));
}

static int what(ptr p, size_t bytes, int which) {
    int value = 77;
    return cu.cuMemRangeGetAttribute(&value, 4, which, p, bytes) * 1000 + value;
}
static void state(const char *question, ptr p, size_t bytes) {
    if (skipped(question)) return;
    answer(question, "%d %d %d %d %d %d %d", what(p, bytes, 1), what(p, bytes, 2),
            what(p, bytes, 4), what(p, bytes, 5), what(p, bytes, 6), what(p, bytes, 7),
            what(p, bytes, 8));
}

static void advises(void) {
    ptr p, far_away = 16;
    int i, old[4], list[3] = { 77, 77, 77 };
    size_t sizes[3] = { 4, 4, 4 };
    void *data[3], *pinned = NULL;
    int which[3] = { 1, 2, 4 };
    char question[40], *pageable = (char *)malloc(BYTES);
    PROBE("before_init", cu.cuMemAdvise_v2(0x1000, 64, MOSTLY_READ, at(1, 0)));
    cu.cuInit(0);
    PROBE("without", cu.cuMemAdvise_v2(0x1000, 64, MOSTLY_READ, at(1, 0)));
    open_one();
    p = make(BYTES);
    state("new", p, BYTES);
    for (i = 0; i < 9; i++) {
        snprintf(question, sizeof question, "advice_%d", i);
        PROBE(question, cu.cuMemAdvise_v2(p, BYTES, i, at(ON_DEVICE, 0)));
        snprintf(question, sizeof question, "state_%d", i);
        state(question, p, BYTES);
    }
    for (i = 0; i < 6; i++) {
        snprintf(question, sizeof question, "prefer_type_%d", i);
        PROBE(question, cu.cuMemAdvise_v2(p, BYTES, PREFERRED, at(i, 0)));
        snprintf(question, sizeof question, "prefer_type_%d_state", i);
        state(question, p, BYTES);
        snprintf(question, sizeof question, "access_type_%d", i);
        PROBE(question, cu.cuMemAdvise_v2(p, BYTES, ACCESSED_BY, at(i, 0)));
        snprintf(question, sizeof question, "mostly_type_%d", i);
        PROBE(question, cu.cuMemAdvise_v2(p, BYTES, MOSTLY_READ, at(i, 99)));
    }
    PROBE("device_99", cu.cuMemAdvise_v2(p, BYTES, PREFERRED, at(ON_DEVICE, 99)));
    PROBE("device_-1", cu.cuMemAdvise_v2(p, BYTES, PREFERRED, at(ON_DEVICE, -1)));
    PROBE("access_device_99", cu.cuMemAdvise_v2(p, BYTES, ACCESSED_BY, at(ON_DEVICE, 99)));
    PROBE("unprefer_device_99", cu.cuMemAdvise_v2(p, BYTES, NOT_PREFERRED, at(ON_DEVICE, 99)));
    PROBE("unaccess_device_99", cu.cuMemAdvise_v2(p, BYTES, NOT_ACCESSED_BY, at(ON_DEVICE, 99)));
    PROBE("node_99", cu.cuMemAdvise_v2(p, BYTES, PREFERRED, at(ON_NODE, 99)));
    PROBE("node_-1", cu.cuMemAdvise_v2(p, BYTES, PREFERRED, at(ON_NODE, -1)));
    PROBE("host_99", cu.cuMemAdvise_v2(p, BYTES, PREFERRED, at(ON_HOST, 99)));
    PROBE("bad_advice_bad_device", cu.cuMemAdvise_v2(p, BYTES, 9, at(ON_DEVICE, 99)));
    PROBE("bad_memory_bad_device",
            cu.cuMemAdvise_v2(far_away, BYTES, PREFERRED, at(ON_DEVICE, 99)));
    PROBE("zero", cu.cuMemAdvise_v2(p, 0, MOSTLY_READ, at(1, 0)));
    PROBE("past_end", cu.cuMemAdvise_v2(p, BYTES + 1, MOSTLY_READ, at(1, 0)));
    PROBE("past_end_by_page", cu.cuMemAdvise_v2(p, BYTES + PAGE, MOSTLY_READ, at(1, 0)));
    PROBE("all_bits", cu.cuMemAdvise_v2(p, ~(size_t)0, MOSTLY_READ, at(1, 0)));
    PROBE("inside", cu.cuMemAdvise_v2(p + 10, 100, MOSTLY_READ, at(1, 0)));
    PROBE("null", cu.cuMemAdvise_v2(0, 64, MOSTLY_READ, at(1, 0)));
    PROBE("wild", cu.cuMemAdvise_v2(far_away, 64, MOSTLY_READ, at(1, 0)));
    PROBE("device_memory", cu.cuMemAdvise_v2(memory[0], 64, MOSTLY_READ, at(1, 0)));
    PROBE("pinned",
            (cu.cuMemHostAlloc(&pinned, BYTES, 0),
                    cu.cuMemAdvise_v2((ptr)(uintptr_t)pinned, 64, MOSTLY_READ, at(1, 0))));
    PROBE("pageable", cu.cuMemAdvise_v2((ptr)(uintptr_t)pageable, BYTES, MOSTLY_READ, at(1, 0)));
    PROBE("pageable_prefer",
            cu.cuMemAdvise_v2((ptr)(uintptr_t)pageable, BYTES, PREFERRED, at(1, 0)));
    for (i = 0; i < 3; i++) {
        old[i] = i - 2;
        snprintf(question, sizeof question, "old_device_%d", old[i]);
        PROBE(question, cu.cuMemAdvise(p, BYTES, PREFERRED, old[i]));
        snprintf(question, sizeof question, "old_access_%d", old[i]);
        PROBE(question, cu.cuMemAdvise(p, BYTES, ACCESSED_BY, old[i]));
    }
    PROBE("old_device_99", cu.cuMemAdvise(p, BYTES, PREFERRED, 99));
    PROBE("old_mostly_99", cu.cuMemAdvise(p, BYTES, MOSTLY_READ, 99));
    /* a part of the pages */
    p = make(BYTES);
    PROBE("part", cu.cuMemAdvise_v2(p + PAGE + 1, 1, PREFERRED, at(ON_HOST, 0)));
    state("part_all", p, BYTES);
    state("part_page", p + PAGE, PAGE);
    state("part_other_page", p, PAGE);
    state("part_two_pages", p + PAGE, PAGE + 1);
    PROBE("by_both",
            cu.cuMemAdvise_v2(p, BYTES, ACCESSED_BY, at(1, 0)) * 1000 +
                    cu.cuMemAdvise_v2(p, BYTES, ACCESSED_BY, at(ON_HOST, 0)));
    PROBE("by_list", cu.cuMemRangeGetAttribute(list, 12, 3, p, BYTES));
    answer("by_list_is", "%d %d %d", list[0], list[1], list[2]);
    PROBE("by_one",
            (list[0] = 77, cu.cuMemRangeGetAttribute(list, 4, 3, p, BYTES) * 1000 + list[0]));
    for (i = 0; i < 10; i++) {
        snprintf(question, sizeof question, "query_%d", i);
        PROBE(question,
                (list[0] = 77, cu.cuMemRangeGetAttribute(list, 4, i, p, BYTES) * 1000 + list[0]));
    }
    PROBE("query_size_0", cu.cuMemRangeGetAttribute(list, 0, 1, p, BYTES));
    PROBE("query_size_2", cu.cuMemRangeGetAttribute(list, 2, 1, p, BYTES));
    PROBE("query_size_8", cu.cuMemRangeGetAttribute(list, 8, 1, p, BYTES));
    PROBE("list_size_0", cu.cuMemRangeGetAttribute(list, 0, 3, p, BYTES));
    PROBE("list_size_6", cu.cuMemRangeGetAttribute(list, 6, 3, p, BYTES));
    PROBE("query_to_null", cu.cuMemRangeGetAttribute(NULL, 4, 1, p, BYTES));
    PROBE("query_zero", cu.cuMemRangeGetAttribute(list, 4, 1, p, 0));
    PROBE("query_past_end", cu.cuMemRangeGetAttribute(list, 4, 1, p, BYTES + PAGE));
    PROBE("query_device_memory", cu.cuMemRangeGetAttribute(list, 4, 1, memory[0], 64));
    PROBE("query_pageable", cu.cuMemRangeGetAttribute(list, 4, 1, (ptr)(uintptr_t)pageable, 64));
    data[0] = &list[0];
    data[1] = &list[1];
    data[2] = &list[2];
    PROBE("several", cu.cuMemRangeGetAttributes(data, sizes, which, 3, p, BYTES));
    answer("several_are", "%d %d %d", list[0], list[1], list[2]);
    PROBE("several_none", cu.cuMemRangeGetAttributes(data, sizes, which, 0, p, BYTES));
    PROBE("several_null", cu.cuMemRangeGetAttributes(NULL, sizes, which, 3, p, BYTES));
    which[1] = 99;
    list[0] = list[2] = 77;
    PROBE("several_unknown", cu.cuMemRangeGetAttributes(data, sizes, which, 3, p, BYTES));
    answer("several_unknown_are", "%d %d", list[0], list[2]);
    cu.cuMemFree_v2(p);
    PROBE("freed", cu.cuMemAdvise_v2(p, BYTES, MOSTLY_READ, at(1, 0)));
    p = make(BYTES);
    cu.cuCtxSetCurrent(NULL);
    PROBE("advise_without", cu.cuMemAdvise_v2(p, BYTES, MOSTLY_READ, at(1, 0)));
    PROBE("query_without", cu.cuMemRangeGetAttribute(list, 4, 1, p, BYTES));
}

static void prefetches(void) {
    ptr p;
    void *s, *spin;
    int i;
    char question[40], *pageable = (char *)malloc(BYTES);
    gate g;
    PROBE("before_init", cu.cuMemPrefetchAsync_v2(0x1000, 64, at(1, 0), 0, NULL));
    cu.cuInit(0);
    PROBE("without", cu.cuMemPrefetchAsync_v2(0x1000, 64, at(1, 0), 0, NULL));
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    p = make(BYTES);
    for (i = 0; i < 6; i++) {
        snprintf(question, sizeof question, "type_%d", i);
        PROBE(question, cu.cuMemPrefetchAsync_v2(p, BYTES, at(i, 0), 0, s));
        snprintf(question, sizeof question, "type_%d_state", i);
        state(question, p, BYTES);
    }
    PROBE("flags_1", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 1, s));
    PROBE("device_99", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 99), 0, s));
    PROBE("device_-1", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, -1), 0, s));
    PROBE("node_99", cu.cuMemPrefetchAsync_v2(p, BYTES, at(ON_NODE, 99), 0, s));
    PROBE("host_99", cu.cuMemPrefetchAsync_v2(p, BYTES, at(ON_HOST, 99), 0, s));
    PROBE("zero", cu.cuMemPrefetchAsync_v2(p, 0, at(1, 0), 0, s));
    PROBE("past_end", cu.cuMemPrefetchAsync_v2(p, BYTES + 1, at(1, 0), 0, s));
    PROBE("past_end_by_page", cu.cuMemPrefetchAsync_v2(p, BYTES + PAGE, at(1, 0), 0, s));
    PROBE("inside", cu.cuMemPrefetchAsync_v2(p + 100, 10, at(ON_HOST, 0), 0, s));
    state("inside_state", p, BYTES);
    PROBE("null", cu.cuMemPrefetchAsync_v2(0, 64, at(1, 0), 0, s));
    PROBE("device_memory", cu.cuMemPrefetchAsync_v2(memory[0], 64, at(1, 0), 0, s));
    PROBE("pageable", cu.cuMemPrefetchAsync_v2((ptr)(uintptr_t)pageable, BYTES, at(1, 0), 0, s));
    PROBE("legacy", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, NULL));
    PROBE("stream_1", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, (void *)(uintptr_t)1));
    PROBE("stream_2", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, (void *)(uintptr_t)2));
    PROBE("bad_flags_bad_device", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 99), 1, s));
    PROBE("bad_memory_bad_device", cu.cuMemPrefetchAsync_v2(16, BYTES, at(1, 99), 0, s));
    for (i = -2; i < 1; i++) {
        snprintf(question, sizeof question, "old_device_%d", i);
        PROBE(question, cu.cuMemPrefetchAsync(p, BYTES, i, s));
    }
    PROBE("old_device_99", cu.cuMemPrefetchAsync(p, BYTES, 99, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
    PROBE("behind_work",
            (close_gate(g, spin, s),
                    cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, s) * 1000 +
                            cu.cuStreamQuery(s)));
    PROBE("touch_behind_work", (words(p)[0] = 1, cu.cuStreamQuery(s)));
    open_gate(g);
    cu.cuStreamSynchronize(s);
    cu.cuMemFree_v2(p);
    PROBE("freed", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, s));
}

static void attaches(void) {
    ptr p;
    void *s, *t, *pinned = NULL;
    unsigned flags;
    char question[40], *pageable = (char *)malloc(BYTES);
    cu.cuInit(0);
    PROBE("without", cu.cuStreamAttachMemAsync(NULL, 0x1000, 0, GLOBAL));
    open_one();
    s = new_stream();
    p = make(BYTES);
    for (flags = 1; flags < 10; flags++) { /* a GPU's driver crashes without any */
        snprintf(question, sizeof question, "flags_%u", flags);
        PROBE(question, cu.cuStreamAttachMemAsync(s, p, 0, flags));
    }
    PROBE("whole", cu.cuStreamAttachMemAsync(s, p, BYTES, SINGLE));
    PROBE("part", cu.cuStreamAttachMemAsync(s, p, PAGE, SINGLE));
    PROBE("over", cu.cuStreamAttachMemAsync(s, p, BYTES + 1, SINGLE));
    PROBE("over_by_page", cu.cuStreamAttachMemAsync(s, p, BYTES + PAGE, SINGLE));
    PROBE("inside", cu.cuStreamAttachMemAsync(s, p + PAGE, 0, SINGLE));
    PROBE("inside_rest", cu.cuStreamAttachMemAsync(s, p + PAGE, BYTES - PAGE, SINGLE));
    PROBE("legacy_single", cu.cuStreamAttachMemAsync(NULL, p, 0, SINGLE));
    PROBE("legacy_1_single", cu.cuStreamAttachMemAsync((void *)(uintptr_t)1, p, 0, SINGLE));
    PROBE("per_thread_single", cu.cuStreamAttachMemAsync((void *)(uintptr_t)2, p, 0, SINGLE));
    PROBE("legacy_global", cu.cuStreamAttachMemAsync(NULL, p, 0, GLOBAL));
    PROBE("null", cu.cuStreamAttachMemAsync(s, 0, 0, GLOBAL));
    PROBE("wild", cu.cuStreamAttachMemAsync(s, 16, 0, GLOBAL));
    PROBE("device_memory", cu.cuStreamAttachMemAsync(s, memory[0], 0, GLOBAL));
    PROBE("pinned",
            (cu.cuMemHostAlloc(&pinned, BYTES, 0),
                    cu.cuStreamAttachMemAsync(s, (ptr)(uintptr_t)pinned, 0, GLOBAL)));
    PROBE("pageable", cu.cuStreamAttachMemAsync(s, (ptr)(uintptr_t)pageable, BYTES, GLOBAL));
    PROBE("pageable_0", cu.cuStreamAttachMemAsync(s, (ptr)(uintptr_t)pageable, 0, GLOBAL));
    PROBE("sync", cu.cuStreamSynchronize(s));
    t = new_stream();
    PROBE("single_destroyed",
            cu.cuStreamAttachMemAsync(t, p, 0, SINGLE) * 1000 + cu.cuStreamDestroy_v2(t));
    PROBE("free", cu.cuMemFree_v2(p));
}

/* In captures of each mode: the result, the state of the capture, the result of its end, and how
   many nodes. */
static void *now_s;
static int now_mode;
static void captured(const char *name, int result) {
    int status = 77, end;
    size_t n = 0;
    void *g = NULL;
    char question[60];
    cu.cuStreamIsCapturing(now_s, &status);
    end = cu.cuStreamEndCapture(now_s, &g);
    if (g) cu.cuGraphGetNodes(g, NULL, &n);
    snprintf(question, sizeof question, "%s_%d", name, now_mode);
    answer(question, "%d %d %d %d", result, status, end, (int)n);
    if (g) cu.cuGraphDestroy(g);
}
#define CAPTURED(name, call) \
    do { \
        if (skipped(name)) break; \
        cu.cuStreamBeginCapture_v2(now_s, now_mode); \
        captured(name, call); \
    } while (0)
static void captures(void) {
    ptr p, q, made = 0;
    int value = 0;
    open_one();
    p = make(BYTES);
    q = make(BYTES);
    now_s = new_stream();
    for (now_mode = 0; now_mode < 3; now_mode++) {
        CAPTURED("alloc", cu.cuMemAllocManaged(&made, 64, GLOBAL));
        CAPTURED("free", cu.cuMemFree_v2(made));
        CAPTURED("advise", cu.cuMemAdvise_v2(p, BYTES, MOSTLY_READ, at(1, 0)));
        CAPTURED("query", cu.cuMemRangeGetAttribute(&value, 4, 1, p, BYTES));
        CAPTURED("prefetch", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, now_s));
        CAPTURED("prefetch_bad", cu.cuMemPrefetchAsync_v2(16, BYTES, at(1, 0), 0, now_s));
        CAPTURED("prefetch_other", cu.cuMemPrefetchAsync_v2(p, BYTES, at(1, 0), 0, NULL));
        CAPTURED("attach", cu.cuStreamAttachMemAsync(now_s, p, 0, GLOBAL));
        CAPTURED("attach_other", cu.cuStreamAttachMemAsync(NULL, p, 0, GLOBAL));
        CAPTURED("copy", cu.cuMemcpyDtoDAsync_v2(q, p, 64, now_s));
        CAPTURED("copy_to_pinned", cu.cuMemcpyDtoDAsync_v2(memory[0], p, 64, now_s));
        CAPTURED("fill", cu.cuMemsetD32Async(p, 1, 4, now_s));
        CAPTURED("pointer", cu.cuPointerGetAttribute(&value, 8, p));
    }
}

const group managed_groups[] = {
    { "managed", creates, 1 },
    { "managed_pointer", describes, 1 },
    { "managed_use", uses, 1 },
    { "advise", advises, 1 },
    { "prefetch", prefetches, 1 },
    { "attach", attaches, 1 },
    { "managed_capture", captures, 1 },
    { NULL, NULL, 0 },
};
