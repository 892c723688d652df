/* launches.c - launches of every kind with one or two wrong arguments; occupancy. */
#include "probe.h"

static int go(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
        unsigned shared) {
    return cu.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, NULL, NULL, NULL);
}

static void shapes(void) {
    void *nop, *fixed, *params[1], *other = NULL, *s = NULL, *store;
    open_one();
    nop = kernel(0, "nop");
    fixed = kernel(0, "fixed40k");
    store = kernel(0, "store");
    params[0] = &memory[0];
    PROBE("null", go(NULL, 1, 1, 1, 1, 1, 1, 0));
    PROBE("null_grid_0", go(NULL, 0, 1, 1, 1, 1, 1, 0));
    PROBE("grid_y_0", go(nop, 1, 0, 1, 1, 1, 1, 0));
    PROBE("grid_z_0", go(nop, 1, 1, 0, 1, 1, 1, 0));
    PROBE("block_y_0", go(nop, 1, 1, 1, 1, 0, 1, 0));
    PROBE("block_z_0", go(nop, 1, 1, 1, 1, 1, 0, 0));
    PROBE("grid_x_over", go(nop, 0x80000000u, 1, 1, 1, 1, 1, 0));
    PROBE("grid_y_most", go(nop, 1, 65535, 1, 1, 1, 1, 0));
    PROBE("grid_z_over", go(nop, 1, 1, 65536, 1, 1, 1, 0));
    PROBE("block_y_1024", go(nop, 1, 1, 1, 1, 1024, 1, 0));
    PROBE("block_z_64", go(nop, 1, 1, 1, 1, 1, 64, 0));
    PROBE("block_z_65", go(nop, 1, 1, 1, 1, 1, 65, 0));
    PROBE("block_32_33", go(nop, 1, 1, 1, 32, 33, 1, 0));
    PROBE("block_wraps", go(nop, 1, 1, 1, 65536, 65536, 1, 0));
    PROBE("shared_all_bits", go(nop, 1, 1, 1, 1, 1, 1, 0xffffffffu));
    PROBE("shared_odd", go(nop, 1, 1, 1, 1, 1, 1, 3));
    PROBE("max64_8x8", go(kernel(0, "max64"), 1, 1, 1, 8, 8, 1, 0));
    PROBE("max64_1x64", go(kernel(0, "max64"), 1, 1, 1, 1, 64, 1, 0));
    PROBE("req64", go(kernel(0, "req64"), 1, 1, 1, 64, 1, 1, 0));
    PROBE("req64_8x8", go(kernel(0, "req64"), 1, 1, 1, 8, 8, 1, 0));
    PROBE("req64_65", go(kernel(0, "req64"), 1, 1, 1, 65, 1, 1, 0));
    PROBE("fixed_and_8k", cu.cuLaunchKernel(fixed, 1, 1, 1, 1, 1, 1, 8192, NULL, params, NULL));
    PROBE("fixed_and_8k_and_4",
            cu.cuLaunchKernel(fixed, 1, 1, 1, 1, 1, 1, 8196, NULL, params, NULL));
    PROBE("params_of_none", cu.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    PROBE("params_null_grid_0", go(store, 0, 1, 1, 1, 1, 1, 0));
    PROBE("params_null_shared_too_large", go(store, 1, 1, 1, 1, 1, 1, 0xfffff));
    cu.cuCtxCreate_v2(&other, 0, 0);
    cu.cuStreamCreateWithPriority(&s, 0, 0);
    cu.cuCtxPopCurrent_v2(&other);
    PROBE("other_context", cu.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    PROBE("other_context_grid_0", cu.cuLaunchKernel(nop, 0, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    PROBE("other_context_params_null",
            cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
    cu.cuCtxSetCurrent(NULL);
    PROBE("without", go(nop, 1, 1, 1, 1, 1, 1, 0));
    PROBE("without_grid_0", go(nop, 0, 1, 1, 1, 1, 1, 0));
    PROBE("without_null", go(NULL, 1, 1, 1, 1, 1, 1, 0));
    PROBE("without_params_null", go(store, 1, 1, 1, 1, 1, 1, 0));
    PROBE("on_1_without", cu.cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 0, (void *)1, NULL, NULL));
}

static int extra(void *f, void *a, void *b, void *c, void *d, void *e, void *g, void *h) {
    void *list[8];
    list[0] = a;
    list[1] = b;
    list[2] = c;
    list[3] = d;
    list[4] = e;
    list[5] = g;
    list[6] = h;
    list[7] = NULL;
    return cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, list);
}
static void extras(void) {
    static char packed[64];
    void *nop, *store, *POINTER_KEY = (void *)1, *SIZE_KEY = (void *)2;
    void *none[2] = { NULL, NULL };
    size_t twelve = 12, nothing = 0, sixteen = 16, eight = 8;
    open_one();
    nop = kernel(0, "nop");
    store = kernel(0, "store");
    memcpy(packed, &memory[0], 8);
    PROBE("end_of_none", extra(nop, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PROBE("end", extra(store, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PROBE("none_0", extra(nop, POINTER_KEY, packed, SIZE_KEY, &nothing, NULL, NULL, NULL));
    PROBE("none_0_null", extra(nop, POINTER_KEY, NULL, SIZE_KEY, &nothing, NULL, NULL, NULL));
    PROBE("none_12", extra(nop, POINTER_KEY, packed, SIZE_KEY, &twelve, NULL, NULL, NULL));
    PROBE("null_buffer_0", extra(store, POINTER_KEY, NULL, SIZE_KEY, &nothing, NULL, NULL, NULL));
    PROBE("size_first", extra(store, SIZE_KEY, &twelve, POINTER_KEY, packed, NULL, NULL, NULL));
    PROBE("size_twice",
            extra(store, SIZE_KEY, &sixteen, POINTER_KEY, packed, SIZE_KEY, &twelve, NULL));
    PROBE("size_twice_other",
            extra(store, SIZE_KEY, &twelve, POINTER_KEY, packed, SIZE_KEY, &sixteen, NULL));
    PROBE("pointer_only", extra(store, POINTER_KEY, packed, NULL, NULL, NULL, NULL, NULL));
    PROBE("size_only", extra(store, SIZE_KEY, &twelve, NULL, NULL, NULL, NULL, NULL));
    PROBE("unknown_key", extra(store, (void *)5, packed, NULL, NULL, NULL, NULL, NULL));
    PROBE("unknown_key_then",
            extra(store, POINTER_KEY, packed, SIZE_KEY, &twelve, (void *)5, packed, NULL));
    PROBE("unknown_key_none", extra(nop, (void *)5, packed, NULL, NULL, NULL, NULL, NULL));
    PROBE("key_all_bits",
            extra(store, (void *)~(uintptr_t)0, packed, NULL, NULL, NULL, NULL, NULL));
    PROBE("no_buffer", extra(store, POINTER_KEY, NULL, SIZE_KEY, &twelve, NULL, NULL, NULL));
    PROBE("no_size", extra(store, POINTER_KEY, packed, SIZE_KEY, NULL, NULL, NULL, NULL));
    PROBE("params_null_element", launch(store, 1, 1, NULL, none));
    PROBE("long_grid_0",
            cu.cuLaunchKernel(store, 0, 1, 1, 1, 1, 1, 0, NULL, NULL,
                    (void *[]){ POINTER_KEY, packed, SIZE_KEY, &sixteen, NULL }));
    PROBE("long_shared_too_large",
            cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0xfffff, NULL, NULL,
                    (void *[]){ POINTER_KEY, packed, SIZE_KEY, &sixteen, NULL }));
    PROBE("unknown_key_grid_0",
            cu.cuLaunchKernel(
                    store, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, (void *[]){ (void *)5, packed, NULL }));
    PROBE("unknown_key_null_function",
            cu.cuLaunchKernel(
                    NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, (void *[]){ (void *)5, packed, NULL }));
    PROBE("params_and_extra_null_function",
            cu.cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ packed, packed },
                    (void *[]){ NULL }));
    PROBE("short_long",
            extra(kernel(0, "fixed40k"), POINTER_KEY, packed, SIZE_KEY, &twelve, NULL, NULL, NULL));
    PROBE("exact",
            extra(kernel(0, "fixed40k"), POINTER_KEY, packed, SIZE_KEY, &eight, NULL, NULL, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
}
/* --- cuLaunchKernelEx --- */

static config simple(attribute *list, unsigned n) {
    config c;
    memset(&c, 0, sizeof c);
    c.grid[0] = 4;
    c.grid[1] = c.grid[2] = c.block[0] = c.block[1] = c.block[2] = 1;
    c.list = list;
    c.n = n;
    return c;
}
static int with(unsigned id, int value) {
    attribute a;
    config c = simple(&a, 1);
    memset(&a, 0, sizeof a);
    a.id = id;
    a.value.flag = value;
    return cu.cuLaunchKernelEx(&c, kernel(0, "nop"), NULL, NULL);
}
static int cluster(unsigned x, unsigned y, unsigned z) {
    attribute a;
    config c = simple(&a, 1);
    memset(&a, 0, sizeof a);
    a.id = 4;
    a.value.dim[0] = x;
    a.value.dim[1] = y;
    a.value.dim[2] = z;
    return cu.cuLaunchKernelEx(&c, kernel(0, "nop"), NULL, NULL);
}
static void launch_ex(void) {
    attribute a[2];
    config c;
    void *nop, *store, *params[1];
    char question[60];
    int i;
    open_one();
    nop = kernel(0, "nop");
    store = kernel(0, "store");
    params[0] = &memory[0];
    memset(a, 0, sizeof a);
    PROBE("null", cu.cuLaunchKernelEx(NULL, nop, NULL, NULL));
    PROBE("all_null", cu.cuLaunchKernelEx(NULL, NULL, NULL, NULL));
    c = simple(NULL, 0);
    PROBE("function_null", cu.cuLaunchKernelEx(&c, NULL, NULL, NULL));
    PROBE("params_null", cu.cuLaunchKernelEx(&c, store, NULL, NULL));
    c = simple(a, 0);
    PROBE("list_of_none", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    c.grid[1] = 0;
    PROBE("grid_0", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    a[0].id = 99;
    c.n = 1;
    PROBE("grid_0_unknown", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    c = simple(a, 1);
    PROBE("unknown_function_null", cu.cuLaunchKernelEx(&c, NULL, NULL, NULL));
    PROBE("unknown_params_null", cu.cuLaunchKernelEx(&c, store, NULL, NULL));
    PROBE("unknown_all_bits", with(0xffffffffu, 0));
    for (i = 0; i <= 24; i++) {
        snprintf(question, sizeof question, "attribute_%d", i);
        PROBE(question, with((unsigned)i, 0));
    }
    PROBE("cooperative_1", with(2, 1));
    PROBE("cooperative_2", with(2, 2));
    PROBE("cooperative_-1", with(2, -1));
    PROBE("policy_1", with(3, 1));
    PROBE("policy_3", with(3, 3));
    PROBE("policy_99", with(3, 99));
    PROBE("cluster_policy_2", with(5, 2));
    PROBE("cluster_policy_3", with(5, 3));
    PROBE("programmatic_1", with(6, 1));
    PROBE("programmatic_2", with(6, 2));
    PROBE("priority_5", with(8, 5));
    PROBE("priority_-5", with(8, -5));
    PROBE("priority_-100", with(8, -100));
    PROBE("domain_1", with(10, 1));
    PROBE("domain_2", with(10, 2));
    PROBE("carveout_50", with(14, 50));
    PROBE("carveout_-1", with(14, -1));
    PROBE("carveout_-2", with(14, -2));
    PROBE("carveout_101", with(14, 101));
    PROBE("cluster_1", cluster(1, 1, 1));
    PROBE("cluster_0", cluster(0, 0, 0));
    PROBE("cluster_1_0", cluster(1, 0, 0));
    PROBE("cluster_2", cluster(2, 1, 1));
    PROBE("cluster_3", cluster(3, 1, 1));
    PROBE("cluster_y_2", cluster(1, 2, 1));
    PROBE("cluster_8", cluster(8, 1, 1));
    PROBE("cluster_16", cluster(16, 1, 1));
    c = simple(a, 2);
    a[0].id = 2;
    a[0].value.flag = 1;
    a[1].id = 2;
    a[1].value.flag = 0;
    PROBE("cooperative_twice", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    c = simple(a, 1);
    c.grid[0] = 1000000;
    PROBE("cooperative_too_large", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    PROBE("cooperative_too_large_params_null", cu.cuLaunchKernelEx(&c, store, NULL, NULL));
    c.n = 2;
    a[1].id = 99;
    PROBE("too_large_unknown", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    c.shared = 0xfffff;
    c.n = 1;
    PROBE("too_large_shared", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    c = simple(NULL, 0);
    PROBE("params_for_none", cu.cuLaunchKernelEx(&c, nop, params, NULL));
    c.n = 1;
    PROBE("no_list", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    PROBE("no_list_function_null", cu.cuLaunchKernelEx(&c, NULL, NULL, NULL));
    c.n = 0;
    PROBE("sync", cu.cuCtxSynchronize());
    cu.cuCtxSetCurrent(NULL);
    PROBE("without", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
}
/* --- attributes that are structs --- */

static void window(
        const char *question, ptr address, size_t bytes, double ratio, int hit, int miss) {
    attribute a;
    config c = simple(&a, 1);
    memset(&a, 0, sizeof a);
    a.id = 1;
    a.value.window.address = address;
    a.value.window.bytes = bytes;
    a.value.window.ratio = (float)ratio;
    a.value.window.hit = hit;
    a.value.window.miss = miss;
    PROBE(question, cu.cuLaunchKernelEx(&c, kernel(0, "nop"), NULL, NULL));
}
static void map(const char *question, unsigned of_default, unsigned of_remote) {
    attribute a;
    config c = simple(&a, 1);
    memset(&a, 0, sizeof a);
    a.id = 9;
    a.value.domains[0] = (unsigned char)of_default;
    a.value.domains[1] = (unsigned char)of_remote;
    PROBE(question, cu.cuLaunchKernelEx(&c, kernel(0, "nop"), NULL, NULL));
}
static void windows(void) {
    int most = 0, domains = 0;
    open_one();
    cu.cuDeviceGetAttribute(&most, 109, 0);
    cu.cuDeviceGetAttribute(&domains, 126, 0);
    PROBE("sizes", most > 0);
    PROBE("domains", domains);
    window("whole", memory[0], MEMORY, 1, 2, 1);
    window("ratio_0", memory[0], MEMORY, 0, 2, 1);
    window("ratio_half", memory[0], MEMORY, 0.5, 2, 0);
    window("ratio_more", memory[0], MEMORY, 1.5, 2, 1);
    window("ratio_less", memory[0], MEMORY, -0.5, 2, 1);
    window("hit_3", memory[0], MEMORY, 1, 3, 1);
    window("miss_2", memory[0], MEMORY, 1, 2, 2);
    window("miss_3", memory[0], MEMORY, 1, 2, 3);
    window("both_normal", memory[0], MEMORY, 1, 0, 0);
    window("no_bytes", memory[0], 0, 1, 2, 1);
    window("no_bytes_ratio_more", memory[0], 0, 1.5, 2, 1);
    window("address_0", 0, 64, 1, 2, 1);
    window("odd", memory[0] + 1, 3, 1, 2, 1);
    window("most", memory[0], (size_t)most, 1, 2, 1);
    window("one_more", memory[0], (size_t)most + 1, 1, 2, 1);
    map("map_0_0", 0, 0);
    map("map_0_1", 0, 1);
    map("map_most", (unsigned)domains - 1, (unsigned)domains - 1);
    map("map_one_more", 0, (unsigned)domains);
    map("map_255", 255, 255);
    PROBE("sync", cu.cuCtxSynchronize());
}

static void *new_event(unsigned flags) {
    void *e = NULL;
    cu.cuEventCreate(&e, flags);
    return e;
}
static int recorded(int id, void *event, int flags, int at_start, void *stream) {
    attribute a;
    config c = simple(&a, 1);
    c.stream = stream;
    memset(&a, 0, sizeof a);
    a.id = (unsigned)id;
    a.value.record.event = event;
    a.value.record.flags = flags;
    a.value.record.at_start = at_start;
    return cu.cuLaunchKernelEx(&c, kernel(0, "nop"), NULL, NULL);
}
static void launch_events(void) {
    static const int ids[] = { 7, 12 };
    void *own = NULL, *other, *s = NULL, *graph = NULL, *e;
    char question[60];
    float ms;
    unsigned i;
    open_one();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuCtxCreate_v2(&own, 0, 0);
    other = new_event(2);
    cu.cuCtxSetCurrent(context[0]);
#define EVENT_PROBE(what, call) \
    do { \
        snprintf(question, sizeof question, what "_%d", ids[i]); \
        PROBE(question, call); \
    } while (0)
    for (i = 0; i < 2; i++) {
        e = new_event(2);
        EVENT_PROBE("without_timing", recorded(ids[i], e, 0, 0, NULL));
        EVENT_PROBE("sync", cu.cuEventSynchronize(e));
        EVENT_PROBE("elapsed", cu.cuEventElapsedTime(&ms, e, e));
        EVENT_PROBE("at_start", recorded(ids[i], e, 0, 1, NULL));
        EVENT_PROBE("at_start_2", recorded(ids[i], e, 0, 2, NULL));
        EVENT_PROBE("flags_1", recorded(ids[i], e, 1, 0, NULL));
        EVENT_PROBE("flags_2", recorded(ids[i], e, 2, 0, NULL));
        EVENT_PROBE("blocking", recorded(ids[i], new_event(3), 0, 0, NULL));
        EVENT_PROBE("with_timing", recorded(ids[i], new_event(0), 0, 0, NULL));
        EVENT_PROBE("interprocess", recorded(ids[i], new_event(6), 0, 0, NULL));
        EVENT_PROBE("of_another_context", recorded(ids[i], other, 0, 0, NULL));
        EVENT_PROBE("no_event", recorded(ids[i], NULL, 0, 0, NULL));
        EVENT_PROBE("begin", cu.cuStreamBeginCapture_v2(s, 2));
        EVENT_PROBE("captured", recorded(ids[i], e, 0, 0, s));
        EVENT_PROBE("query_captured", cu.cuEventQuery(e));
        EVENT_PROBE("end", cu.cuStreamEndCapture(s, &graph));
    }
    PROBE("updatable_now", recorded(13, (void *)(uintptr_t)1, 0, 0, NULL));
    PROBE("begin_13", cu.cuStreamBeginCapture_v2(s, 2));
    PROBE("updatable", recorded(13, (void *)(uintptr_t)1, 0, 0, s));
    PROBE("end_13", cu.cuStreamEndCapture(s, &graph));
    PROBE("all", cu.cuCtxSynchronize());
}
/* --- cooperative launches --- */

static void cooperative(void) {
    void *nop, *store, *fixed, *params[2], *other = NULL, *s = NULL;
    int each = 0, processors = 0;
    unsigned v = 1, most;
    open_one();
    nop = kernel(0, "nop");
    store = kernel(0, "store");
    fixed = kernel(0, "fixed40k");
    params[0] = &memory[0];
    params[1] = &v;
    cu.cuDeviceGetAttribute(&processors, 16, 0);
    cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, store, 256, 0);
    most = (unsigned)(each * processors);
    PROBE("most", cu.cuLaunchCooperativeKernel(store, most, 1, 1, 256, 1, 1, 0, NULL, params));
    PROBE("one_more",
            cu.cuLaunchCooperativeKernel(store, most + 1, 1, 1, 256, 1, 1, 0, NULL, params));
    PROBE("one_more_params_null",
            cu.cuLaunchCooperativeKernel(store, most + 1, 1, 1, 256, 1, 1, 0, NULL, NULL));
    PROBE("one_more_block_0",
            cu.cuLaunchCooperativeKernel(store, most + 1, 1, 1, 0, 1, 1, 0, NULL, params));
    PROBE("null", cu.cuLaunchCooperativeKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL));
    PROBE("grid_0", cu.cuLaunchCooperativeKernel(nop, 0, 1, 1, 1, 1, 1, 0, NULL, NULL));
    PROBE("block_1025", cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL));
    PROBE("shared_too_large",
            cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1, 1, 1, 49156, NULL, NULL));
    PROBE("too_large_shared_too_large",
            cu.cuLaunchCooperativeKernel(nop, 1000000, 1, 1, 1, 1, 1, 49156, NULL, NULL));
    PROBE("too_large_maxntid",
            cu.cuLaunchCooperativeKernel(
                    kernel(0, "max64"), 1000000, 1, 1, 65, 1, 1, 0, NULL, NULL));
    PROBE("params_null_block_1025",
            cu.cuLaunchCooperativeKernel(store, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL));
    PROBE("params_null_shared_too_large",
            cu.cuLaunchCooperativeKernel(store, 1, 1, 1, 32, 1, 1, 49156, NULL, NULL));
    PROBE("grid_y_over", cu.cuLaunchCooperativeKernel(nop, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL));
    PROBE("params_null", cu.cuLaunchCooperativeKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, NULL));
    PROBE("fixed", cu.cuLaunchCooperativeKernel(fixed, 1, 1, 1, 1, 1, 1, 8192, NULL, params));
    cu.cuCtxCreate_v2(&other, 0, 0);
    cu.cuStreamCreateWithPriority(&s, 0, 0);
    cu.cuCtxPopCurrent_v2(&other);
    PROBE("other_context_too_large",
            cu.cuLaunchCooperativeKernel(nop, 1000000, 1, 1, 32, 1, 1, 0, s, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
    cu.cuCtxSetCurrent(NULL);
    PROBE("without", cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1, 1, 1, 0, NULL, NULL));
    PROBE("without_too_large",
            cu.cuLaunchCooperativeKernel(nop, 1000000, 1, 1, 32, 1, 1, 0, NULL, NULL));
}

static part parts[3];
static void reset_parts(void *const streams[2], const char *name) {
    int i;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 2; i++) {
        parts[i].function = kernel(i, name);
        parts[i].grid[0] = parts[i].grid[1] = parts[i].grid[2] = parts[i].block[0] =
                parts[i].block[1] = parts[i].block[2] = 1;
        parts[i].stream = streams[i];
    }
    parts[2] = parts[0];
}
static void multi(void) {
    void *streams[2] = { NULL, NULL };
    part one;
    open_all();
    cu.cuStreamCreateWithPriority(&streams[0], 0, 0);
    cu.cuCtxSetCurrent(context[1]);
    cu.cuStreamCreateWithPriority(&streams[1], 0, 0);
    cu.cuCtxSetCurrent(context[0]);
#define TRY(question, n, flags, change) \
    reset_parts(streams, "nop"); \
    change; \
    PROBE(question, cu.cuLaunchCooperativeKernelMultiDevice(parts, n, flags))
    TRY("plain", 2, 0, (void)0);
    TRY("one", 1, 0, (void)0);
    TRY("flags_3", 2, 3, (void)0);
    TRY("flags_4", 2, 4, (void)0);
    TRY("none", 0, 0, (void)0);
    TRY("none_flags_4", 0, 4, (void)0);
    PROBE("null", cu.cuLaunchCooperativeKernelMultiDevice(NULL, 2, 0));
    PROBE("null_none", cu.cuLaunchCooperativeKernelMultiDevice(NULL, 0, 0));
    TRY("three", 3, 0, (void)0);
    TRY("function_null", 2, 0, parts[1].function = NULL);
    TRY("stream_null", 2, 0, parts[0].stream = NULL);
    TRY("stream_1", 2, 0, parts[1].stream = (void *)1);
    TRY("stream_2", 2, 0, parts[1].stream = (void *)2);
    TRY("streams_swapped", 2, 0, (parts[0].stream = streams[1], parts[1].stream = streams[0]));
    TRY("functions_swapped", 2, 0,
            (one = parts[0], parts[0].function = parts[1].function,
                    parts[1].function = one.function));
    TRY("parts_swapped", 2, 0, (one = parts[0], parts[0] = parts[1], parts[1] = one));
    TRY("same_twice", 2, 0, parts[1] = parts[0]);
    TRY("grid_0", 2, 0, parts[0].grid[0] = parts[1].grid[0] = 0);
    TRY("grids_differ", 2, 0, parts[1].grid[0] = 2);
    TRY("blocks_differ", 2, 0, parts[1].block[1] = 2);
    TRY("shared_differs", 2, 0, parts[1].shared = 4);
    TRY("too_large", 2, 0, parts[0].grid[0] = parts[1].grid[0] = 1000000);
    TRY("too_large_differs", 2, 0, (parts[0].grid[0] = 1000000, parts[1].grid[0] = 1000001));
    TRY("same_twice_grids_differ", 2, 0, (parts[1] = parts[0], parts[1].grid[0] = 2));
    TRY("stream_null_flags_4", 2, 4, parts[0].stream = NULL);
    TRY("function_null_grids_differ", 2, 0, (parts[1].function = NULL, parts[1].grid[0] = 2));
    TRY("shared_too_large", 2, 0, parts[0].shared = parts[1].shared = 49156);
    TRY("other_function", 2, 0, parts[1].function = kernel(1, "max64"));
    reset_parts(streams, "store");
    PROBE("params_null", cu.cuLaunchCooperativeKernelMultiDevice(parts, 2, 0));
    TRY("sync", 2, 0, (void)0);
    PROBE("sync_0", cu.cuStreamSynchronize(streams[0]));
    PROBE("sync_1", cu.cuStreamSynchronize(streams[1]));
    cu.cuCtxSetCurrent(NULL);
    TRY("without", 2, 0, (void)0);
    PROBE("sync_without", cu.cuStreamSynchronize(streams[1]));
}

/* --- occupancy --- */

static size_t much(int threads) { return (size_t)threads * 1000; }

static size_t most_of(int threads) {
    (void)threads;
    return (size_t)1 << 40;
}

static void occupancy(void) {
    static const struct {
        const char *name;
        int threads;
        size_t shared;
    } cases[] = {
        { "nop", 1, 0 },
        { "nop", 32, 0 },
        { "nop", 33, 0 },
        { "nop", 1024, 0 },
        { "nop", 1025, 0 },
        { "nop", 0, 0 },
        { "nop", -1, 0 },
        { "nop", 32, 1024 },
        { "nop", 32, 49152 },
        { "nop", 32, 49153 },
        { "nop", 32, 61440 },
        { "nop", 32, 232448 },
        { "nop", 32, 232449 },
        { "nop", 32, (size_t)1 << 40 },
        { "nop", 32, ((size_t)1 << 40) + 49153 },
        { "max64", 64, 0 },
        { "max64", 65, 0 },
        { "req64", 32, 0 },
        { "req64", 65, 0 },
        { "fixed40k", 32, 0 },
        { "fixed40k", 32, 8192 },
        { "fixed40k", 32, 8193 },
    };
    void *nop;
    int n, grid, block, blocks = 0, i;
    char question[80];
    open_one();
    nop = kernel(0, "nop");
    for (i = 0; i < (int)COUNT(cases); i++) {
        int result;
        snprintf(question, sizeof question, "%s_%d_%llu", cases[i].name, cases[i].threads,
                (ptr)cases[i].shared);
        if (skipped(question)) continue;
        n = 77;
        result = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &n, kernel(0, cases[i].name), cases[i].threads, cases[i].shared);
        answer(question, "%d %d", result, n);
    }
    PROBE("opt_in", cu.cuFuncSetAttribute(nop, MAX_DYNAMIC, 61440));
    n = 77;
    PROBE("after_opt_in", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, nop, 32, 61440));
    PROBE("after_opt_in_blocks", n);
    n = 77;
    PROBE("above_opt_in", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, nop, 32, 61441));
    PROBE("above_opt_in_blocks", n);
    PROBE("to_null", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, nop, 32, 0));
    PROBE("of_null", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 32, 0));
    PROBE("of_null_threads_0", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 0, 0));
    PROBE("size_grid_null", cu.cuOccupancyMaxPotentialBlockSize(NULL, &block, nop, NULL, 0, 0));
    PROBE("size_block_null", cu.cuOccupancyMaxPotentialBlockSize(&grid, NULL, nop, NULL, 0, 0));
    PROBE("size_both_null", cu.cuOccupancyMaxPotentialBlockSize(NULL, NULL, nop, NULL, 0, 0));
    PROBE("size_of_null", cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, NULL, NULL, 0, 0));
    PROBE("size_limit_-1", cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, nop, NULL, 0, -1));
    cu.cuDeviceGetAttribute(&n, 16, 0);
#define SIZE(question, f, shared_of, shared, limit) \
    do { \
        int r; \
        if (skipped(question)) break; \
        grid = block = 0; \
        r = cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, shared_of, shared, limit); \
        answer(question, "%d %d %d", r, grid / n, block); \
    } while (0)
    SIZE("size", nop, NULL, 0, 0);
    SIZE("size_limit_1", nop, NULL, 0, 1);
    SIZE("size_limit_33", nop, NULL, 0, 33);
    SIZE("size_limit_5000", nop, NULL, 0, 5000);
    SIZE("size_of_max64", kernel(0, "max64"), NULL, 0, 0);
    SIZE("size_of_req64", kernel(0, "req64"), NULL, 0, 0);
    SIZE("size_shared_48k", kernel(0, "store"), NULL, 49152, 0);
    SIZE("size_shared_60k", kernel(0, "store"), NULL, 61440, 0);
    SIZE("size_shared_300k", kernel(0, "store"), NULL, 300000, 0);
    for (i = 0; i < 3; i++) {
        snprintf(question, sizeof question, "flags_%d", i);
        PROBE(question,
                cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                        &blocks, nop, 32, 0, (unsigned)i));
        snprintf(question, sizeof question, "flags_%d_of_null", i);
        PROBE(question,
                cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                        &blocks, NULL, 32, 0, (unsigned)i));
        snprintf(question, sizeof question, "size_flags_%d", i);
        PROBE(question,
                cu.cuOccupancyMaxPotentialBlockSizeWithFlags(
                        &grid, &block, nop, NULL, 0, 0, (unsigned)i));
    }
    PROBE("flags_to_null",
            cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(NULL, nop, 32, 0, 1));
    PROBE("flags_threads_0",
            cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, nop, 0, 0, 1));
    SIZE("size_much", kernel(0, "store"), much, 0, 0);
    SIZE("size_most", kernel(0, "store"), most_of, 0, 0);
    cu.cuCtxSetCurrent(NULL);
    PROBE("without", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, nop, 32, 0));
    PROBE("without_null", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 32, 0));
    PROBE("without_to_null", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, nop, 32, 0));
    PROBE("size_without", cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, nop, NULL, 0, 0));
}

const group launch_groups[] = {
    { "shape", shapes, 1 },
    { "extra", extras, 1 },
    { "launch_ex", launch_ex, 1 },
    { "windows", windows, 1 },
    { "launch_events", launch_events, 1 },
    { "cooperative", cooperative, 1 },
    { "multi", multi, 2 },
    { "occupancy", occupancy, 1 },
    { NULL, NULL, 0 },
};
