/* pools.c - memory pools: creation, attributes, memory in stream order. */
#include "probe.h"

enum { REUSE_EVENTS = 1, REUSE_OPPORTUNISTIC, REUSE_INTERNAL, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH };
enum { SUPPORTED = 115, HANDLE = 17, MIB = 1 << 20 };

typedef struct properties {                          /* CUmemPoolProps */
    int type, handle_types, location, device;
    void *security;
    size_t most;
    unsigned char zeros[56];
} properties;

static properties usual(void) {
    properties p;
    memset(&p, 0, sizeof p);
    p.type = 1;                                      /* pinned, of a device */
    p.location = 1;
    return p;
}
static void *new_pool(uint64_t threshold) {
    properties p = usual();
    void      *pool = NULL;
    cu.pool(&pool, &p);
    cu.pool_set(pool, THRESHOLD, &threshold);
    return pool;
}
static void *new_stream(void) {
    void *stream = NULL;
    cu.stream(&stream, 1, 0);
    return stream;
}
static uint64_t account_of(void *pool, int which) {
    uint64_t value = 77;
    cu.pool_get(pool, which, &value);
    return value;
}
static int made(int result, void **pool) {           /* and destroyed: the result, and whether there was a pool */
    const int is = *pool != NULL;
    if (*pool) cu.pool_destroy(*pool);
    *pool = NULL;
    return result * 10 + is;
}

static void creates(void) {
    properties p = usual();
    void      *pool = NULL, *standard = NULL, *current = NULL;
    int        value = 0, i;
    char       question[40];
    PROBE("create_before_init", cu.pool(&pool, &p));
    cu.init(0);
    PROBE("create_without_context", made(cu.pool(&pool, &p), &pool));
    PROBE("create_to_null", cu.pool(NULL, &p));
    PROBE("create_of_null", cu.pool(&pool, NULL));
    for (i = 0; i < 4; i++) {
        p = usual();
        p.type = i;
        snprintf(question, sizeof question, "create_type_%d", i);
        PROBE(question, made(cu.pool(&pool, &p), &pool));
        p = usual();
        p.location = i;
        snprintf(question, sizeof question, "create_location_%d", i);
        PROBE(question, made(cu.pool(&pool, &p), &pool));
        p = usual();
        p.handle_types = 1 << i;
        snprintf(question, sizeof question, "create_handles_%d", 1 << i);
        PROBE(question, made(cu.pool(&pool, &p), &pool));
    }
    p = usual();
    p.device = -1;
    PROBE("create_device_-1", made(cu.pool(&pool, &p), &pool));
    p.device = 99;
    PROBE("create_device_99", made(cu.pool(&pool, &p), &pool));
    p = usual();
    p.most = 1;
    PROBE("create_most_1", made(cu.pool(&pool, &p), &pool));
    p = usual();
    p.zeros[40] = 1;
    PROBE("create_reserved_1", made(cu.pool(&pool, &p), &pool));
    PROBE("supported", (cu.attribute(&value, SUPPORTED, 0), value));
    PROBE("default_to_null", cu.pool_default(NULL, 0));
    PROBE("default_device_99", cu.pool_default(&standard, 99));
    cu.pool_default(&standard, 0);
    cu.pool_current(&current, 0);
    PROBE("default_is_current", standard == current);
    PROBE("destroy_null", cu.pool_destroy(NULL));
    PROBE("destroy_default", cu.pool_destroy(standard));
}

static void attributes(void) {
    uint64_t value, zero = 0, one = 1;
    void    *pool, *standard = NULL;
    int      i, result;
    char     question[40];
    open_one();
    cu.pool_default(&standard, 0);
    PROBE("default_threshold", (int)account_of(standard, THRESHOLD));
    PROBE("default_used", (int)account_of(standard, USED));
    pool = new_pool(0);
    for (i = 0; i < 12; i++) {
        snprintf(question, sizeof question, "get_%d", i);
        if (skipped(question)) continue;
        value = 0;
        result = cu.pool_get(pool, i, &value);
        answer(question, "%d %d", result, (int)value);
        snprintf(question, sizeof question, "set_%d_to_0", i);
        PROBE(question, cu.pool_set(pool, i, &zero));
        snprintf(question, sizeof question, "set_%d_to_1", i);
        PROBE(question, cu.pool_set(pool, i, &one));
    }
    PROBE("get_to_null", cu.pool_get(pool, THRESHOLD, NULL));
    PROBE("set_to_null", cu.pool_set(pool, THRESHOLD, NULL));
    PROBE("get_of_null", cu.pool_get(NULL, THRESHOLD, &value));
    PROBE("trim_null", cu.pool_trim(NULL, 0));
    PROBE("trim_empty", cu.pool_trim(pool, 0));
}

/* How much memory is used and reserved at each step, in KiB. */
static void account(const char *question, void *pool) {
    if (skipped(question)) return;
    answer(question, "%d %d", (int)(account_of(pool, USED) >> 10), (int)(account_of(pool, RESERVED) >> 10));
}
static void accounts(void) {
    void *pool, *s, *spin;
    ptr   p = 0, q = 0;
    gate  g;
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    account("account_new", pool);
    PROBE("from_zero", (p = 5, cu.alloc_from(&p, 0, pool, s) * 10 + (p != 0)));
    PROBE("from_to_null", cu.alloc_from(NULL, 64, pool, s));
    PROBE("from_null_pool", cu.alloc_from(&p, 64, NULL, s));
    PROBE("from_huge", cu.alloc_from(&p, (size_t)1 << 50, pool, s));
    PROBE("from_all_bits", cu.alloc_from(&p, ~(size_t)0, pool, s));
    cu.alloc_from(&p, 1, pool, s);
    account("account_of_1", pool);
    cu.alloc_from(&q, 3 * MIB, pool, s);
    account("account_of_3_mib_more", pool);
    close_gate(g, spin, s);
    cu.free_async(q, s);
    account("account_free_pending", pool);
    open_gate(g);
    cu.stream_sync(s);
    account("account_freed", pool);
    PROBE("high_reset", (cu.pool_set(pool, USED_HIGH, &(uint64_t) { 0 }), (int)(account_of(pool, USED_HIGH) >> 10)));
    cu.pool_trim(pool, 0);
    account("account_trimmed", pool);
    cu.free_async(p, s);
    cu.stream_sync(s);
    cu.pool_trim(pool, 0);
    account("account_all_trimmed", pool);
    pool = new_pool(0);
    cu.alloc_from(&p, MIB, pool, s);
    cu.free_async(p, s);
    account("account_threshold_0", pool);
    cu.stream_sync(s);
    account("account_threshold_0_synced", pool);
}

/* Whether an allocation of `bytes` on a stream gets memory that was freed before. */
static int again(ptr p, void *pool, size_t bytes, void *stream) {
    ptr       q = 0;
    const int result = cu.alloc_from(&q, bytes, pool, stream);
    return result * 10 + (q == p);
}
static void reuses(void) {
    void *pool, *s, *t, *event, *spin;
    ptr   p = 0;
    gate  g;
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    t = new_stream();
    cu.event(&event, 2);
#define TAKEN       pool = new_pool(UINT64_MAX), cu.alloc_from(&p, MIB, pool, s)
#define FREED       TAKEN, cu.free_async(p, s)
#define FREED_LATER TAKEN, close_gate(g, spin, s), cu.free_async(p, s)
    PROBE("reuse_same_stream_pending", (FREED_LATER, again(p, pool, MIB, s)));
    open_gate(g);
    cu.sync();
    PROBE("reuse_other_stream_pending", (FREED_LATER, again(p, pool, MIB, t)));
    open_gate(g);
    cu.sync();
    PROBE("reuse_other_stream_after_event", (FREED_LATER, cu.record(event, s),
                                             cu.wait_event(t, event, 0), again(p, pool, MIB, t)));
    open_gate(g);
    cu.sync();
    PROBE("reuse_same_stream_done", (FREED, cu.stream_sync(s), again(p, pool, MIB, s)));
    PROBE("reuse_other_stream_done", (FREED, cu.stream_sync(s), again(p, pool, MIB, t)));
    PROBE("reuse_smaller", (FREED, again(p, pool, MIB / 2, s)));
    PROBE("reuse_larger", (FREED, again(p, pool, 2 * MIB, s)));
    PROBE("reuse_after_free_now", (TAKEN, cu.free(p), again(p, pool, MIB, s)));
}

/* Frees of both kinds of memory, in both ways. */
static void frees(void) {
    void *pool, *s, *spin, *is = NULL;
    ptr   p = 0, q = 0;
    gate  g;
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    cu.alloc_from(&p, 64, pool, s);
    PROBE("handle_of_memory", (cu.pointer(&is, HANDLE, p), is == pool));
    PROBE("free_inside", cu.free_async(p + 4, s));
    PROBE("free_null", cu.free_async(0, s));
    PROBE("free_garbage", cu.free_async(0x1234, s));
    PROBE("free", cu.free_async(p, s));
    PROBE("free_twice", cu.free_async(p, s));
    PROBE("free_now_after", cu.free(p));
    cu.alloc(&q, 64);
    PROBE("free_of_plain", cu.free_async(q, s));
    PROBE("free_of_plain_twice", cu.free_async(q, s));
    cu.alloc_from(&p, 64, pool, s);
    close_gate(g, spin, s);
    PROBE("free_now_behind_work", cu.free(p));
    open_gate(g);
    cu.stream_sync(s);
}

/* The primary context is reset, as by cudaDeviceReset. */
static void resets(void) {
    void *pool, *s, *again_context = NULL;
    ptr   p = 0, q = 0;
    open_one();
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    cu.alloc_from(&p, 64, pool, s);
    cu.stream_sync(s);
    cu.reset(0);
    PROBE("reset_threshold", account_of(pool, THRESHOLD) == UINT64_MAX);
    PROBE("reset_used", (int)account_of(pool, USED));
    PROBE("reset_free", cu.free(p));
    PROBE("reset_free_twice", cu.free(p));
    cu.retain(&again_context, 0);
    cu.set_current(again_context);
    s = new_stream();
    PROBE("reset_alloc", cu.alloc_from(&q, 64, pool, s));
    PROBE("reset_fill", (cu.fill_8(q, 1, 64, s), cu.stream_sync(s)));
    PROBE("reset_destroy", cu.pool_destroy(pool));
    PROBE("reset_destroy_after_release", (pool = new_pool(0), cu.release(0), cu.release(0), cu.pool_destroy(pool)));
}

/* In a capture of each mode: creating a pool, allocating, freeing. */
static void captured(void) {
    properties as_usual = usual();
    int        mode;
    char       question[60];
    open_one();
    for (mode = 0; mode < 3; mode++) {
        void *pool = new_pool(UINT64_MAX), *s = new_stream(), *made_here = NULL, *graph = NULL;
        ptr   before = 0, p = 0, plain = 0;
        cu.alloc_from(&before, 64, pool, s);
        cu.alloc(&plain, 64);
        cu.stream_sync(s);
#define IN_MODE(what, call) \
        snprintf(question, sizeof question, "%s_%d", what, mode); \
        PROBE(question, (cu.begin_capture(s, mode), (call) * 1000 + cu.end_capture(s, &graph)))
        IN_MODE("capture_create", cu.pool(&made_here, &as_usual));
        IN_MODE("capture_destroy", cu.pool_destroy(made_here));
        IN_MODE("capture_set", cu.pool_set(pool, THRESHOLD, &(uint64_t) { UINT64_MAX }));
        IN_MODE("capture_get", cu.pool_get(pool, THRESHOLD, &(uint64_t) { 0 }));
        IN_MODE("capture_trim", cu.pool_trim(pool, 0));
        IN_MODE("capture_alloc", cu.alloc_from(&p, 64, pool, s));
        IN_MODE("capture_both", cu.alloc_from(&p, 64, pool, s) + cu.free_async(p, s));
        IN_MODE("capture_free_before", cu.free_async(before, s));
        IN_MODE("capture_free_plain", cu.free_async(plain, s));
    }
}

/* Memory that a pool keeps, and other allocations that need it. */
static void rooms(void) {
    void  *pool, *other, *s;
    ptr    p = 0, q = 0;
    size_t available = 0, total = 0;
    open_one();
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    other = new_pool(0);
    cu.memory(&available, &total);
    available = available / 8 * 5;
    PROBE("room_kept", (cu.alloc_from(&p, available, pool, s), cu.free_async(p, s), cu.stream_sync(s)));
    PROBE("room_for_plain", cu.alloc(&q, available));
    PROBE("room_left", account_of(pool, RESERVED) == 0);
    cu.free(q);
    PROBE("room_kept_again", (cu.alloc_from(&p, available, pool, s), cu.free_async(p, s), cu.stream_sync(s)));
    PROBE("room_for_other_pool", cu.alloc_from(&q, available, other, s));
    PROBE("room_left_by_other", account_of(pool, RESERVED) == 0);
}

const group pool_groups[] = {
    { "pool", creates, 1 }, { "pool_attributes", attributes, 1 }, { "pool_accounts", accounts, 1 },
    { "pool_reuse", reuses, 1 }, { "pool_free", frees, 1 }, { "pool_reset", resets, 1 },
    { "pool_capture", captured, 1 }, { "pool_room", rooms, 1 }, { NULL, NULL, 0 }
};
