/* memory.c - allocations, pinned and registered memory, pointer attributes, copies and fills. */
#include "probe.h"
#include <sys/mman.h>

static void allocs(void) {
    static const size_t widths[] = { 1, 512, 513, 5000 };
    ptr p = 0, q = 0;
    size_t pitch = 0, bytes = 0;
    void *other = NULL;
    unsigned i;
    cu.cuInit(0);
    PROBE("to_null_without", cu.cuMemAlloc_v2(NULL, 4));
    PROBE("zero_without", cu.cuMemAlloc_v2(&p, 0));
    PROBE("free_garbage_without", cu.cuMemFree_v2(0x1234));
    open_one();
    PROBE("to_null", cu.cuMemAlloc_v2(NULL, 4));
    PROBE("zero_to_null", cu.cuMemAlloc_v2(NULL, 0));
    PROBE("all_bits", cu.cuMemAlloc_v2(&p, ~(size_t)0));
    PROBE("pitch_to_null", cu.cuMemAllocPitch_v2(NULL, &pitch, 4, 4, 4));
    PROBE("pitch_null", cu.cuMemAllocPitch_v2(&p, NULL, 4, 4, 4));
    PROBE("pitch_element_0", cu.cuMemAllocPitch_v2(&p, &pitch, 4, 4, 0));
    PROBE("pitch_element_1", cu.cuMemAllocPitch_v2(&p, &pitch, 4, 4, 1));
    PROBE("pitch_element_2", cu.cuMemAllocPitch_v2(&p, &pitch, 4, 4, 2));
    PROBE("pitch_element_32", cu.cuMemAllocPitch_v2(&p, &pitch, 4, 4, 32));
    PROBE("pitch_huge_width", cu.cuMemAllocPitch_v2(&p, &pitch, (size_t)1 << 60, 1, 4));
    PROBE("pitch_huge_height", cu.cuMemAllocPitch_v2(&p, &pitch, 4, (size_t)1 << 62, 4));
    PROBE("pitch_all_bits", cu.cuMemAllocPitch_v2(&p, &pitch, ~(size_t)0, 1, 4));
    for (i = 0; i < COUNT(widths); i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "pitch_of_%d", (int)widths[i]);
        if (skipped(question)) continue;
        result = cu.cuMemAllocPitch_v2(&p, &pitch, widths[i], 3, 16);
        answer(question, "%d %d", result, (int)pitch);
    }
    cu.cuMemGetAddressRange_v2(NULL, &bytes, p);
    PROBE("pitch_bytes", (int)bytes);
    cu.cuMemAlloc_v2(&p, 1);
    cu.cuMemAlloc_v2(&q, 1);
    answer("aligned", "%d %d", (int)(p % 256), (int)(q % 256));
    PROBE("distinct", p != q);
    PROBE("memory_null", cu.cuMemGetInfo_v2(NULL, NULL));
    PROBE("memory_total_null", cu.cuMemGetInfo_v2(&bytes, NULL));
    PROBE("range_null", cu.cuMemGetAddressRange_v2(NULL, NULL, p));
    PROBE("range_of_null", cu.cuMemGetAddressRange_v2(&q, &bytes, 0));
    PROBE("range_of_freed", (cu.cuMemFree_v2(p), cu.cuMemGetAddressRange_v2(&q, &bytes, p)));
    PROBE("range_end", cu.cuMemGetAddressRange_v2(&q, &bytes, memory[0] + MEMORY - 1));
    cu.cuCtxCreate_v2(&other, 0, 0);
    PROBE("range_in_other_context", cu.cuMemGetAddressRange_v2(&q, &bytes, memory[0]));
    PROBE("free_in_other_context", cu.cuMemFree_v2(memory[0]));
    cu.cuMemAlloc_v2(&p, 64);
    cu.cuCtxPopCurrent_v2(&other);
    cu.cuCtxSetCurrent(NULL);
    PROBE("range_without", cu.cuMemGetAddressRange_v2(&q, &bytes, p));
    PROBE("free_without", cu.cuMemFree_v2(p));
}

static void pinned(void) {
    static const unsigned all[] = { 0, 1, 2, 3, 4, 5, 7, 8, 16, 0x80000000u };
    void *p = NULL, *small = malloc(64);
    ptr d = 0;
    size_t bytes = 0;
    unsigned i, flags;
    cu.cuInit(0);
    PROBE("without", cu.cuMemHostAlloc(&p, 64, 0));
    PROBE("zero_without", cu.cuMemHostAlloc(&p, 0, 0));
    PROBE("free_null_without", cu.cuMemFreeHost(NULL));
    PROBE("free_garbage_without", cu.cuMemFreeHost(small));
    open_one();
    PROBE("to_null", cu.cuMemHostAlloc(NULL, 64, 0));
    p = &p;
    PROBE("zero", cu.cuMemHostAlloc(&p, 0, 0));
    answer("zero_is", "%d %d", p == NULL, p == (void *)&p);
    PROBE("zero_to_null", cu.cuMemHostAlloc(NULL, 0, 0));
    PROBE("zero_bad_flags", cu.cuMemHostAlloc(&p, 0, 8));
    PROBE("huge", cu.cuMemHostAlloc(&p, (size_t)1 << 60, 0));
    for (i = 0; i < COUNT(all); i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "flags_%x", all[i]);
        if (skipped(question)) continue;
        result = cu.cuMemHostAlloc(&p, 64, all[i]);
        flags = 77;
        if (result == 0) cu.cuMemHostGetFlags(&flags, p);
        answer(question, "%d %u", result, flags);
    }
    cu.cuMemHostAlloc(&p, 64, 0);
    PROBE("flags_to_null", cu.cuMemHostGetFlags(NULL, p));
    PROBE("flags_of_null", cu.cuMemHostGetFlags(&flags, NULL));
    PROBE("flags_of_pageable", cu.cuMemHostGetFlags(&flags, small));
    PROBE("flags_of_device", cu.cuMemHostGetFlags(&flags, (void *)(uintptr_t)memory[0]));
    PROBE("flags_of_interior", cu.cuMemHostGetFlags(&flags, (char *)p + 8));
    PROBE("address_to_null", cu.cuMemHostGetDevicePointer_v2(NULL, p, 0));
    PROBE("address_flags_1", cu.cuMemHostGetDevicePointer_v2(&d, p, 1));
    PROBE("address_of_null", cu.cuMemHostGetDevicePointer_v2(&d, NULL, 0));
    PROBE("address_of_pageable", cu.cuMemHostGetDevicePointer_v2(&d, small, 0));
    PROBE("address_of_device",
            cu.cuMemHostGetDevicePointer_v2(&d, (void *)(uintptr_t)memory[0], 0));
    PROBE("address_of_interior", cu.cuMemHostGetDevicePointer_v2(&d, (char *)p + 8, 0));
    PROBE("address_is_same", d == (ptr)(uintptr_t)p + 8);
    PROBE("range", cu.cuMemGetAddressRange_v2(&d, &bytes, (ptr)(uintptr_t)p + 8));
    answer("range_is", "%d %d", d == (ptr)(uintptr_t)p, (int)bytes);
    PROBE("free_interior", cu.cuMemFreeHost((char *)p + 8));
    PROBE("free_pageable", cu.cuMemFreeHost(small));
    PROBE("free_device", cu.cuMemFreeHost((void *)(uintptr_t)memory[0]));
    PROBE("free_null", cu.cuMemFreeHost(NULL));
    PROBE("free_as_device", cu.cuMemFree_v2((ptr)(uintptr_t)p));
    PROBE("free", cu.cuMemFreeHost(p));
    PROBE("free_again", cu.cuMemFreeHost(p));
    cu.cuMemHostAlloc(&p, 64, 0);
    cu.cuCtxSetCurrent(NULL);
    PROBE("flags_of_without", cu.cuMemHostGetFlags(&flags, p));
    PROBE("address_without", cu.cuMemHostGetDevicePointer_v2(&d, p, 0));
    PROBE("free_without", cu.cuMemFreeHost(p));
}

static void registered(void) {
    enum { PAGE = 4096, PAGES = 16 };
    static const unsigned all[] = { 0, 1, 2, 3, 8, 9, 16, 0x80000000u };
    char *p = (char *)mmap(
            NULL, PAGE * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *gap = (char *)mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *constant = (char *)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned i, flags;
    ptr d = 0;
    size_t bytes = 0;
    memset(p, 1, PAGE * PAGES);
    cu.cuInit(0);
    PROBE("without", cu.cuMemHostRegister_v2(p, PAGE, 0));
    PROBE("unregister_without", cu.cuMemHostUnregister(p));
    open_one();
    PROBE("null", cu.cuMemHostRegister_v2(NULL, PAGE, 0));
    PROBE("zero", cu.cuMemHostRegister_v2(p, 0, 0));
    PROBE("null_bad_flags", cu.cuMemHostRegister_v2(NULL, PAGE, 16));
    PROBE("wraps", cu.cuMemHostRegister_v2(p, ~(size_t)0, 0));
    PROBE("device", cu.cuMemHostRegister_v2((void *)(uintptr_t)memory[0], PAGE, 0));
    PROBE("no_access", cu.cuMemHostRegister_v2(gap, PAGE, 0));
    PROBE("read_only_memory", cu.cuMemHostRegister_v2(constant, PAGE, 0));
    PROBE("read_only_memory_by_flag", cu.cuMemHostRegister_v2(constant, PAGE, 8));
    for (i = 0; i < COUNT(all); i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "flags_%x", all[i]);
        if (skipped(question)) continue;
        result = cu.cuMemHostRegister_v2(p, PAGE, all[i]);
        flags = 77;
        if (result == 0) cu.cuMemHostGetFlags(&flags, p);
        answer(question, "%d %u", result, flags);
        if (result == 0) cu.cuMemHostUnregister(p);
    }
    PROBE("odd", cu.cuMemHostRegister_v2(p + 2 * PAGE + 1, 100, 0));
    PROBE("odd_same_page", cu.cuMemHostRegister_v2(p + 2 * PAGE + 200, 100, 0));
    PROBE("odd_again", cu.cuMemHostRegister_v2(p + 2 * PAGE + 1, 100, 0));
    PROBE("odd_range", cu.cuMemGetAddressRange_v2(&d, &bytes, (ptr)(uintptr_t)p + 2 * PAGE + 50));
    answer("odd_range_is", "%d %d", (int)(d - (ptr)(uintptr_t)p), (int)bytes);
    PROBE("odd_flags_before", cu.cuMemHostGetFlags(&flags, p + 2 * PAGE));
    PROBE("odd_flags_behind", cu.cuMemHostGetFlags(&flags, p + 2 * PAGE + 150));
    PROBE("odd_address", cu.cuMemHostGetDevicePointer_v2(&d, p + 2 * PAGE + 1, 0));
    PROBE("odd_unregister_page", cu.cuMemHostUnregister(p + 2 * PAGE));
    PROBE("odd_unregister_interior", cu.cuMemHostUnregister(p + 2 * PAGE + 2));
    PROBE("odd_unregister", cu.cuMemHostUnregister(p + 2 * PAGE + 1));
    PROBE("unregister_again", cu.cuMemHostUnregister(p + 2 * PAGE + 1));
    PROBE("unregister_null", cu.cuMemHostUnregister(NULL));
    PROBE("unregister_device", cu.cuMemHostUnregister((void *)(uintptr_t)memory[0]));
    PROBE("middle", cu.cuMemHostRegister_v2(p + 4 * PAGE, 2 * PAGE, 0));
    PROBE("over_start", cu.cuMemHostRegister_v2(p + 3 * PAGE, 2 * PAGE, 0));
    PROBE("over_end", cu.cuMemHostRegister_v2(p + 5 * PAGE, 2 * PAGE, 0));
    PROBE("inside", cu.cuMemHostRegister_v2(p + 4 * PAGE + 8, 8, 0));
    PROBE("around", cu.cuMemHostRegister_v2(p + 3 * PAGE, 5 * PAGE, 0));
    PROBE("beside", cu.cuMemHostRegister_v2(p + 6 * PAGE, PAGE, 0));
    PROBE("copy_over_both", cu.cuMemcpyHtoDAsync_v2(memory[0], p + 5 * PAGE + PAGE - 8, 16, NULL));
    PROBE("copy_half_registered", cu.cuMemcpyHtoDAsync_v2(memory[0], p + 7 * PAGE - 8, 16, NULL));
    PROBE("free_registered", cu.cuMemFreeHost(p + 4 * PAGE));
    PROBE("free_registered_as_device", cu.cuMemFree_v2((ptr)(uintptr_t)p + 4 * PAGE));
    PROBE("kernel_writes", (d = (ptr)(uintptr_t)p + 4 * PAGE, cu.cuMemsetD32Async(d, 7, 4, NULL)));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("written", p[4 * PAGE]);
    cu.cuCtxSetCurrent(NULL);
    PROBE("unregister_middle_without", cu.cuMemHostUnregister(p + 4 * PAGE));
}

/* --- pointer attributes: the result codes for attributes 1 to 21, then values --- */

/* I/O memory: no device's is mapped here, so these are wrong. */
static void io_memory(void) {
    enum { PAGE = 4096 };
    static const unsigned all[] = { 4, 5, 6, 7, 12, 20 };
    unsigned char *p = NULL;
    unsigned i;
    cu.cuInit(0);
    PROBE("without", cu.cuMemHostRegister_v2(&p, PAGE, 4));
    open_one();
    if (posix_memalign((void **)&p, PAGE, 4 * PAGE)) return;
    PROBE("null", cu.cuMemHostRegister_v2(NULL, PAGE, 4));
    PROBE("zero", cu.cuMemHostRegister_v2(p, 0, 4));
    for (i = 0; i < COUNT(all); i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "flags_%x", all[i]);
        if (skipped(question)) continue;
        result = cu.cuMemHostRegister_v2(p, PAGE, all[i]);
        answer(question, "%d", result);
        if (result == 0) cu.cuMemHostUnregister(p);
    }
    PROBE("ordinary_then", cu.cuMemHostRegister_v2(p, PAGE, 0));
    PROBE("io_then", cu.cuMemHostRegister_v2(p, PAGE, 4));
}

static void probe_pointer(const char *kind, ptr p) {
    static const int bytes[] = { 0, 8, 4, 8, 8, 0, 4, 8, 4, 4, 4, 8, 8, 4, 8, 4, 4, 8 };
    static const int which[] = { 2, 6, 8, 9, 10, 12, 13, 14, 15, 16 };
    char line[400], question[60];
    int i, at = 0;
    for (i = 0; i <= 21; i++) {
        char room[64];
        at += snprintf(
                line + at, sizeof line - (size_t)at, " %d", cu.cuPointerGetAttribute(room, i, p));
    }
    snprintf(question, sizeof question, "%s_codes", kind);
    answer(question, "%s", line + 1);
    at = 0;
    for (i = 0; i < (int)COUNT(which); i++) {
        uint64_t room[8] = { 0 };
        int one = which[i];
        void *to = room;
        cu.cuPointerGetAttributes(1, &one, &to, p);
        at += snprintf(line + at, sizeof line - (size_t)at, " %lld",
                bytes[one] == 4 ? (long long)(int)room[0] : (long long)room[0]);
    }
    snprintf(question, sizeof question, "%s_is", kind);
    answer(question, "%s", line + 1);
}
static void pointers(void) {
    void *host = NULL, *own = NULL, *values[3];
    char *pageable = (char *)malloc(64);
    ptr p = 0, freed = 0, g = 0;
    int which[3] = { 2, 99, 9 }, type = 77, ordinal = 77;
    void *other = &other;
    open_one();
    cu.cuMemAlloc_v2(&p, 1000);
    cu.cuMemHostAlloc(&host, 1000, 0);
    if (posix_memalign(&own, 4096, 4096)) return;
    cu.cuMemHostRegister_v2(own, 4096, 0);
    cu.cuModuleGetGlobal_v2(&g, NULL, module[0], "gv");
    probe_pointer("device", p + 8);
    probe_pointer("pinned", (ptr)(uintptr_t)host + 8);
    probe_pointer("registered", (ptr)(uintptr_t)own);
    probe_pointer("pageable", (ptr)(uintptr_t)pageable);
    probe_pointer("null", 0);
    cu.cuMemAlloc_v2(&freed, 1 << 22);
    cu.cuMemFree_v2(freed);
    probe_pointer("freed", freed);
    PROBE("global_type", cu.cuPointerGetAttribute(&type, 2, g));
    PROBE("global_is", type);
    PROBE("global_free", cu.cuMemFree_v2(g));
    PROBE("behind_end", cu.cuPointerGetAttribute(&type, 2, p + 1000));
    PROBE("behind_pinned", cu.cuPointerGetAttribute(&type, 2, (ptr)(uintptr_t)host + 1000));
    PROBE("one_to_null", cu.cuPointerGetAttribute(NULL, 2, p));
    PROBE("unknown_to_null", cu.cuPointerGetAttribute(NULL, 99, 0));
    values[0] = &type;
    values[1] = &other;
    values[2] = &ordinal;
    PROBE("none", cu.cuPointerGetAttributes(0, which, values, p));
    type = ordinal = 77;
    PROBE("unknown_in_list", cu.cuPointerGetAttributes(3, which, values, p));
    answer("unknown_in_list_wrote", "%d %d", type, ordinal);
    PROBE("null_list", cu.cuPointerGetAttributes(3, NULL, values, p));
    PROBE("null_values", cu.cuPointerGetAttributes(3, which, NULL, p));
    which[1] = 4;
    type = ordinal = 77;
    PROBE("host_pointer_of_device", cu.cuPointerGetAttributes(3, which, values, p));
    answer("host_pointer_wrote", "%d %d %d", type, ordinal, other == NULL);
    which[1] = 3;
    values[1] = NULL;
    type = ordinal = 77;
    PROBE("null_value_in_list", cu.cuPointerGetAttributes(3, which, values, p));
    answer("null_value_wrote", "%d %d", type, ordinal);
    cu.cuCtxSetCurrent(NULL);
    PROBE("without", cu.cuPointerGetAttribute(&type, 2, p));
    PROBE("device_pointer_without", cu.cuPointerGetAttribute(&g, 3, p));
    PROBE("pinned_pointer_without", cu.cuPointerGetAttribute(&g, 3, (ptr)(uintptr_t)host));
    which[0] = 2;
    which[1] = 3;
    which[2] = 9;
    values[1] = &other;
    type = ordinal = 77;
    PROBE("list_without", cu.cuPointerGetAttributes(3, which, values, p));
    answer("list_without_wrote", "%d %d", type, ordinal);
    PROBE("unknown_list_without",
            cu.cuPointerGetAttributes(3, which, values, (ptr)(uintptr_t)pageable));
}

/* --- copies and fills --- */

static void copies(void) {
    char *pageable = (char *)malloc(8192), *q;
    void *host = NULL, *s = NULL;
    ptr m, p = 0, freed = 0, h;
    cu.cuInit(0);
    PROBE("without", cu.cuMemcpyHtoD_v2(0x1000, pageable, 4));
    PROBE("zero_without", cu.cuMemcpyHtoD_v2(0, NULL, 0));
    PROBE("async_zero_without", cu.cuMemcpyHtoDAsync_v2(0, NULL, 0, NULL));
    open_one();
    m = memory[0];
    cu.cuMemAlloc_v2(&p, 1000);
    cu.cuMemHostAlloc(&host, 4096, 0);
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    q = (char *)host;
    h = (ptr)(uintptr_t)host;
    memset(pageable, 1, 8192);
    PROBE("to_null", cu.cuMemcpyHtoD_v2(0, pageable, 4));
    PROBE("to_null_0", cu.cuMemcpyHtoD_v2(0, pageable, 0));
    PROBE("to_garbage_0", cu.cuMemcpyHtoD_v2(0xdead00, pageable, 0));
    PROBE("from_null_async", cu.cuMemcpyHtoDAsync_v2(m, NULL, 4, s));
    PROBE("past_end_by_1", cu.cuMemcpyHtoD_v2(p, pageable, 1001));
    PROBE("from_past_end_by_1", cu.cuMemcpyDtoH_v2(pageable, p, 1001));
    PROBE("past_end_by_25", cu.cuMemcpyHtoD_v2(p, pageable, 1025));
    PROBE("from_interior_past_end", cu.cuMemcpyDtoH_v2(pageable, m + 4000, 97));
    PROBE("all_bits", cu.cuMemcpyHtoD_v2(m, pageable, ~(size_t)0));
    PROBE("to_host_null", cu.cuMemcpyDtoH_v2(NULL, m, 4));
    PROBE("to_host_null_0", cu.cuMemcpyDtoH_v2(NULL, m, 0));
    cu.cuMemAlloc_v2(&freed, 1 << 22);
    cu.cuMemFree_v2(freed);
    PROBE("to_freed", cu.cuMemcpyHtoD_v2(freed, pageable, 4));
    PROBE("to_freed_0", cu.cuMemcpyHtoD_v2(freed, pageable, 0));
    PROBE("to_pinned", cu.cuMemcpyHtoD_v2(h, pageable, 4));
    PROBE("to_pageable", cu.cuMemcpyHtoD_v2((ptr)(uintptr_t)pageable, pageable + 64, 4));
    PROBE("from_device_as_host", cu.cuMemcpyHtoD_v2(m, (void *)(uintptr_t)p, 4));
    PROBE("to_device_as_host", cu.cuMemcpyDtoH_v2((void *)(uintptr_t)p, m, 4));
    PROBE("from_pageable", cu.cuMemcpyDtoH_v2(q, (ptr)(uintptr_t)pageable, 4));
    PROBE("from_pinned", cu.cuMemcpyDtoH_v2(pageable, h, 4));
    PROBE("between_pinned", cu.cuMemcpyDtoD_v2(h, h + 64, 4));
    PROBE("between_pageable",
            cu.cuMemcpyDtoD_v2((ptr)(uintptr_t)pageable, (ptr)(uintptr_t)pageable + 64, 4));
    PROBE("pinned_past_end", cu.cuMemcpyHtoD_v2(m, q + 4090, 7));
    PROBE("to_pinned_past_end", cu.cuMemcpyDtoH_v2(q + 4090, m, 7));
    PROBE("onto_itself", cu.cuMemcpyDtoD_v2(m, m, 64));
    PROBE("overlapping_up", cu.cuMemcpyDtoD_v2(m + 16, m, 64));
    PROBE("overlapping_down", cu.cuMemcpyDtoD_v2(m, m + 16, 64));
    PROBE("device_null", cu.cuMemcpyDtoD_v2(0, m, 4));
    PROBE("device_null_0", cu.cuMemcpyDtoD_v2(0, 0, 0));
    PROBE("async_past_end", cu.cuMemcpyDtoDAsync_v2(m, p, 1001, s));
    PROBE("async_to_pageable", cu.cuMemcpyDtoHAsync_v2(pageable, m, 64, s));
    PROBE("async_to_null", cu.cuMemcpyDtoHAsync_v2(NULL, m, 64, s));
    PROBE("async_from_garbage", cu.cuMemcpyDtoHAsync_v2(pageable, 0xdead00, 4, s));
    PROBE("async_odd", cu.cuMemcpyDtoDAsync_v2(m + 1, p + 3, 5, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
    cu.cuCtxSetCurrent(NULL);
    PROBE("on_stream_without", cu.cuMemcpyDtoDAsync_v2(m, p, 4, s));
    PROBE("on_null_without", cu.cuMemcpyDtoDAsync_v2(m, p, 4, NULL));
    PROBE("from_garbage_without", cu.cuMemcpyDtoHAsync_v2(pageable, 0xdead00, 4, NULL));
    PROBE("now_without", cu.cuMemcpyDtoD_v2(m, p, 4));
    PROBE("now_0_without", cu.cuMemcpyDtoD_v2(m, p, 0));
}

static void fills(void) {
    char *pageable = (char *)malloc(4096);
    void *host = NULL, *s = NULL;
    ptr m, p = 0, h;
    open_one();
    m = memory[0];
    cu.cuMemAlloc_v2(&p, 1000);
    cu.cuMemHostAlloc(&host, 4096, 0);
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    h = (ptr)(uintptr_t)host;
    PROBE("null", cu.cuMemsetD8Async(0, 0, 1, s));
    PROBE("null_0", cu.cuMemsetD8Async(0, 0, 0, s));
    PROBE("garbage_0", cu.cuMemsetD8Async(0xdead00, 0, 0, s));
    PROBE("16_odd", cu.cuMemsetD16Async(m + 1, 0, 1, s));
    PROBE("16_odd_0", cu.cuMemsetD16Async(m + 1, 0, 0, s));
    PROBE("32_odd_0", cu.cuMemsetD32Async(m + 1, 0, 0, s));
    PROBE("32_at_2", cu.cuMemsetD32Async(m + 2, 0, 1, s));
    PROBE("32_now_odd_0", cu.cuMemsetD32_v2(m + 1, 0, 0));
    PROBE("past_end_by_1", cu.cuMemsetD8Async(p, 0, 1001, s));
    PROBE("16_past_end", cu.cuMemsetD16Async(p, 0, 501, s));
    PROBE("32_past_end", cu.cuMemsetD32Async(p, 0, 251, s));
    PROBE("pinned", cu.cuMemsetD8Async(h, 7, 16, s));
    PROBE("pageable", cu.cuMemsetD8Async((ptr)(uintptr_t)pageable, 7, 16, s));
    PROBE("2d", cu.cuMemsetD2D8Async(m, 64, 0, 64, 64, s));
    PROBE("2d_one_too_many", cu.cuMemsetD2D8Async(m, 64, 0, 64, 65, s));
    PROBE("2d_last_row_short", cu.cuMemsetD2D8Async(m, 64, 0, 32, 64, s));
    PROBE("2d_last_row_ends", cu.cuMemsetD2D8Async(p, 100, 0, 50, 10, s));
    PROBE("2d_last_row_past", cu.cuMemsetD2D8Async(p + 60, 100, 0, 50, 10, s));
    PROBE("2d_narrow_pitch", cu.cuMemsetD2D8Async(m, 63, 0, 64, 2, s));
    PROBE("2d_narrow_pitch_1_row", cu.cuMemsetD2D8Async(m, 63, 0, 64, 1, s));
    PROBE("2d_pitch_0_1_row", cu.cuMemsetD2D8Async(m, 0, 0, 64, 1, s));
    PROBE("2d_pitch_0", cu.cuMemsetD2D8Async(m, 0, 0, 64, 2, s));
    PROBE("2d_width_0", cu.cuMemsetD2D8Async(m, 64, 0, 0, 2, s));
    PROBE("2d_height_0", cu.cuMemsetD2D8Async(m, 64, 0, 64, 0, s));
    PROBE("2d_narrow_height_0", cu.cuMemsetD2D8Async(m, 63, 0, 64, 0, s));
    PROBE("2d_null_0", cu.cuMemsetD2D8Async(0, 64, 0, 0, 0, s));
    PROBE("2d_null", cu.cuMemsetD2D8Async(0, 64, 0, 1, 1, s));
    PROBE("2d_odd_pitch", cu.cuMemsetD2D8Async(m, 65, 0, 3, 3, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
    cu.cuCtxSetCurrent(NULL);
    PROBE("without", cu.cuMemsetD8Async(m, 0, 4, NULL));
    PROBE("zero_without", cu.cuMemsetD8Async(m, 0, 0, NULL));
    PROBE("now_without", cu.cuMemsetD32_v2(m, 0, 1));
    PROBE("now_0_without", cu.cuMemsetD32_v2(m, 0, 0));
}

/* the first of them may break everything; the results of the others then only repeat its error */
static void fills_wrap(void) {
    open_one();
    PROBE("32", cu.cuMemsetD32Async(memory[0], 0, (size_t)1 << 62, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
}

static copy_2d square(ptr to, const void *from) { /* 16 x 4 bytes, pitch 64 on both sides */
    copy_2d c;
    memset(&c, 0, sizeof c);
    c.from_type = HOST;
    c.from_host = from;
    c.from_pitch = 64;
    c.to_type = DEVICE;
    c.to_device = to;
    c.to_pitch = 64;
    c.width = 16;
    c.height = 4;
    return c;
}
static void copies_2d(void) {
    char *pageable = (char *)malloc(8192);
    copy_2d c;
    open_one();
    memset(pageable, 0, 8192);
#define VARY(question, change) \
    c = square(memory[0], pageable); \
    change; \
    PROBE(question, cu.cuMemcpy2DAsync_v2(&c, NULL))
    VARY("plain", (void)0);
    PROBE("null", cu.cuMemcpy2DAsync_v2(NULL, NULL));
    VARY("width_0", c.width = 0);
    VARY("height_0", c.height = 0);
    VARY("width_0_bad_type", (c.width = 0, c.from_type = 99));
    VARY("height_0_bad_pitch", (c.height = 0, c.from_pitch = 8));
    VARY("width_0_null", (c.width = 0, c.from_host = NULL, c.to_device = 0));
    VARY("type_0", c.from_type = 0);
    VARY("type_5", c.to_type = 5);
    VARY("array_null", c.from_type = ARRAY);
    VARY("array_null_to", c.to_type = ARRAY);
    VARY("from_null", c.from_host = NULL);
    VARY("to_null", c.to_device = 0);
    VARY("to_garbage", c.to_device = 0xdead00);
    VARY("pitch_narrow", c.from_pitch = 15);
    VARY("pitch_narrow_1_row", (c.from_pitch = 15, c.height = 1));
    VARY("to_pitch_narrow", c.to_pitch = 15);
    VARY("to_pitch_narrow_1_row", (c.to_pitch = 15, c.height = 1));
    VARY("pitch_0", c.from_pitch = 0);
    VARY("to_pitch_0", c.to_pitch = 0);
    VARY("pitch_0_1_row", (c.from_pitch = 0, c.to_pitch = 0, c.height = 1));
    VARY("pitch_odd", (c.from_pitch = 17, c.to_pitch = 19));
    VARY("x_leaves_row", c.from_x = 49);
    VARY("to_x_leaves_row", c.to_x = 49);
    VARY("x_beyond_row", (c.from_x = 64));
    VARY("y_past_end", c.to_y = 62);
    VARY("y_at_end", c.to_y = 60);
    VARY("y_wraps", c.to_y = (size_t)1 << 60);
    VARY("pitch_too_large", c.to_pitch = (size_t)1 << 32);
    VARY("pitch_too_large_1_row", (c.to_pitch = (size_t)1 << 32, c.height = 1));
    VARY("unified_host", (c.from_type = UNIFIED, c.from_device = (ptr)(uintptr_t)pageable));
    VARY("unified_host_field", (c.from_type = UNIFIED));
    VARY("unified_null", (c.from_type = UNIFIED, c.from_host = NULL, c.from_device = 0));
    VARY("device_is_host", (c.from_type = DEVICE, c.from_device = (ptr)(uintptr_t)pageable));
    VARY("host_is_device", c.from_host = (void *)(uintptr_t)(memory[0] + 2048));
    VARY("width_all_bits", c.width = ~(size_t)0);
    VARY("height_all_bits", c.height = ~(size_t)0);
    VARY("to_pageable_as_device", c.to_device = (ptr)(uintptr_t)pageable + 4096);
    VARY("bad_type_bad_pitch", (c.from_type = 99, c.to_pitch = 1));
    PROBE("sync", cu.cuCtxSynchronize());
    cu.cuCtxSetCurrent(NULL);
    VARY("without", (void)0);
    VARY("width_0_without", c.width = 0);
    PROBE("null_without", cu.cuMemcpy2DAsync_v2(NULL, NULL));
}

const group memory_groups[] = {
    { "alloc", allocs, 1 },
    { "pinned", pinned, 1 },
    { "registered", registered, 1 },
    { "io_memory", io_memory, 1 },
    { "pointer", pointers, 1 },
    { "copy", copies, 1 },
    { "fill", fills, 1 },
    { "fill_wraps", fills_wrap, 1 },
    { "copy_2d", copies_2d, 1 },
    { NULL, NULL, 0 },
};
