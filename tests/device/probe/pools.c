/* pools.c - memory pools: creation, attributes, memory in stream order. */
#include "probe.h"

enum {
    REUSE_EVENTS = 1,
    REUSE_OPPORTUNISTIC,
    REUSE_INTERNAL,
    THRESHOLD,
    RESERVED,
    RESERVED_HIGH,
    USED,
    USED_HIGH
};
enum { SUPPORTED = 115, HANDLE = 17, MIB = 1 << 20 };

/* CUmemPoolProps */
typedef struct properties {
    int type, handle_types, location, device;
    void *security;
    size_t most;
    unsigned char zeros[56];
} properties;

static properties usual(void) {
    properties p;
    memset(&p, 0, sizeof p);
    p.type = 1; /* pinned, of a device */
    p.location = 1;
    return p;
}
static void *new_pool(uint64_t threshold) {
    properties p = usual();
    void *pool = NULL;
    cu.cuMemPoolCreate(&pool, &p);
    cu.cuMemPoolSetAttribute(pool, THRESHOLD, &threshold);
    return pool;
}
static void *new_stream(void) {
    void *stream = NULL;
    cu.cuStreamCreateWithPriority(&stream, 1, 0);
    return stream;
}
static uint64_t account_of(void *pool, int which) {
    uint64_t value = 77;
    cu.cuMemPoolGetAttribute(pool, which, &value);
    return value;
}
/* and destroyed: the result, and whether there was a pool */
static int made(int result, void **pool) {
    const int is = *pool != NULL;
    if (*pool) cu.cuMemPoolDestroy(*pool);
    *pool = NULL;
    return result * 10 + is;
}

static void creates(void) {
    properties p = usual();
    void *pool = NULL, *standard = NULL, *current = NULL;
    int value = 0, i;
    char question[40];
    PROBE("create_before_init", cu.cuMemPoolCreate(&pool, &p));
    cu.cuInit(0);
    PROBE("create_without_context", made(cu.cuMemPoolCreate(&pool, &p), &pool));
    PROBE("create_to_null", cu.cuMemPoolCreate(NULL, &p));
    PROBE("create_of_null", cu.cuMemPoolCreate(&pool, NULL));
    for (i = 0; i < 4; i++) {
        p = usual();
        p.type = i;
        snprintf(question, sizeof question, "create_type_%d", i);
        PROBE(question, made(cu.cuMemPoolCreate(&pool, &p), &pool));
        p = usual();
        p.location = i;
        snprintf(question, sizeof question, "create_location_%d", i);
        PROBE(question, made(cu.cuMemPoolCreate(&pool, &p), &pool));
        p = usual();
        p.handle_types = 1 << i;
        snprintf(question, sizeof question, "create_handles_%d", 1 << i);
        PROBE(question, made(cu.cuMemPoolCreate(&pool, &p), &pool));
    }
    p = usual();
    p.device = -1;
    PROBE("create_device_-1", made(cu.cuMemPoolCreate(&pool, &p), &pool));
    p.device = 99;
    PROBE("create_device_99", made(cu.cuMemPoolCreate(&pool, &p), &pool));
    p = usual();
    p.most = 1;
    PROBE("create_most_1", made(cu.cuMemPoolCreate(&pool, &p), &pool));
    p = usual();
    p.zeros[40] = 1;
    PROBE("create_reserved_1", made(cu.cuMemPoolCreate(&pool, &p), &pool));
    PROBE("supported", (cu.cuDeviceGetAttribute(&value, SUPPORTED, 0), value));
    PROBE("default_to_null", cu.cuDeviceGetDefaultMemPool(NULL, 0));
    PROBE("default_device_99", cu.cuDeviceGetDefaultMemPool(&standard, 99));
    cu.cuDeviceGetDefaultMemPool(&standard, 0);
    cu.cuDeviceGetMemPool(&current, 0);
    PROBE("default_is_current", standard == current);
    PROBE("destroy_null", cu.cuMemPoolDestroy(NULL));
    PROBE("destroy_default", cu.cuMemPoolDestroy(standard));
}

static void attributes(void) {
    uint64_t value, zero = 0, one = 1;
    void *pool, *standard = NULL;
    int i, result;
    char question[40];
    open_one();
    cu.cuDeviceGetDefaultMemPool(&standard, 0);
    PROBE("default_threshold", (int)account_of(standard, THRESHOLD));
    PROBE("default_used", (int)account_of(standard, USED));
    pool = new_pool(0);
    for (i = 0; i < 12; i++) {
        snprintf(question, sizeof question, "get_%d", i);
        if (skipped(question)) continue;
        value = 0;
        result = cu.cuMemPoolGetAttribute(pool, i, &value);
        answer(question, "%d %d", result, (int)value);
        snprintf(question, sizeof question, "set_%d_to_0", i);
        PROBE(question, cu.cuMemPoolSetAttribute(pool, i, &zero));
        snprintf(question, sizeof question, "set_%d_to_1", i);
        PROBE(question, cu.cuMemPoolSetAttribute(pool, i, &one));
    }
    PROBE("get_to_null", cu.cuMemPoolGetAttribute(pool, THRESHOLD, NULL));
    PROBE("set_to_null", cu.cuMemPoolSetAttribute(pool, THRESHOLD, NULL));
    PROBE("get_of_null", cu.cuMemPoolGetAttribute(NULL, THRESHOLD, &value));
    PROBE("trim_null", cu.cuMemPoolTrimTo(NULL, 0));
    PROBE("trim_empty", cu.cuMemPoolTrimTo(pool, 0));
}

/* How much memory is used and reserved at each step, in KiB. */
static void account(const char *question, void *pool) {
    if (skipped(question)) return;
    answer(question, "%d %d", (int)(account_of(pool, USED) >> 10),
            (int)(account_of(pool, RESERVED) >> 10));
}
static void accounts(void) {
    void *pool, *s, *spin;
    ptr p = 0, q = 0;
    gate g;
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    account("account_new", pool);
    PROBE("from_zero", (p = 5, cu.cuMemAllocFromPoolAsync(&p, 0, pool, s) * 10 + (p != 0)));
    PROBE("from_to_null", cu.cuMemAllocFromPoolAsync(NULL, 64, pool, s));
    PROBE("from_null_pool", cu.cuMemAllocFromPoolAsync(&p, 64, NULL, s));
    PROBE("from_huge", cu.cuMemAllocFromPoolAsync(&p, (size_t)1 << 50, pool, s));
    PROBE("from_all_bits", cu.cuMemAllocFromPoolAsync(&p, ~(size_t)0, pool, s));
    cu.cuMemAllocFromPoolAsync(&p, 1, pool, s);
    account("account_of_1", pool);
    cu.cuMemAllocFromPoolAsync(&q, 3 * MIB, pool, s);
    account("account_of_3_mib_more", pool);
    close_gate(g, spin, s);
    cu.cuMemFreeAsync(q, s);
    account("account_free_pending", pool);
    open_gate(g);
    cu.cuStreamSynchronize(s);
    account("account_freed", pool);
    PROBE("high_reset",
            (cu.cuMemPoolSetAttribute(pool, USED_HIGH, &(uint64_t){ 0 }),
                    (int)(account_of(pool, USED_HIGH) >> 10)));
    cu.cuMemPoolTrimTo(pool, 0);
    account("account_trimmed", pool);
    cu.cuMemFreeAsync(p, s);
    cu.cuStreamSynchronize(s);
    cu.cuMemPoolTrimTo(pool, 0);
    account("account_all_trimmed", pool);
    pool = new_pool(0);
    cu.cuMemAllocFromPoolAsync(&p, MIB, pool, s);
    cu.cuMemFreeAsync(p, s);
    account("account_threshold_0", pool);
    cu.cuStreamSynchronize(s);
    account("account_threshold_0_synced", pool);
}

/* Whether an allocation of `bytes` on a stream gets memory that was freed before. */
static int again(ptr p, void *pool, size_t bytes, void *stream) {
    ptr q = 0;
    const int result = cu.cuMemAllocFromPoolAsync(&q, bytes, pool, stream);
    return result * 10 + (q == p);
}
static void reuses(void) {
    void *pool, *s, *t, *event, *spin;
    ptr p = 0;
    gate g;
    int type, word;
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    t = new_stream();
    cu.cuEventCreate(&event, 2);
#define TAKEN pool = new_pool(UINT64_MAX), cu.cuMemAllocFromPoolAsync(&p, MIB, pool, s)
#define FREED TAKEN, cu.cuMemFreeAsync(p, s)
#define FREED_LATER TAKEN, close_gate(g, spin, s), cu.cuMemFreeAsync(p, s)
    PROBE("reuse_same_stream_pending", (FREED_LATER, again(p, pool, MIB, s)));
    open_gate(g);
    cu.cuCtxSynchronize();
    PROBE("reuse_other_stream_pending", (FREED_LATER, again(p, pool, MIB, t)));
    open_gate(g);
    cu.cuCtxSynchronize();
    PROBE("reuse_other_stream_after_event",
            (FREED_LATER, cu.cuEventRecord(event, s), cu.cuStreamWaitEvent(t, event, 0),
                    again(p, pool, MIB, t)));
    open_gate(g);
    cu.cuCtxSynchronize();
    PROBE("reuse_same_stream_done", (FREED, cu.cuStreamSynchronize(s), again(p, pool, MIB, s)));
    PROBE("reuse_other_stream_done", (FREED, cu.cuStreamSynchronize(s), again(p, pool, MIB, t)));
    PROBE("reuse_smaller", (FREED, again(p, pool, MIB / 2, s)));
    PROBE("reuse_larger", (FREED, again(p, pool, 2 * MIB, s)));
    PROBE("reuse_after_free_now", (TAKEN, cu.cuMemFree_v2(p), again(p, pool, MIB, s)));
    PROBE("freed_type", (FREED, type = 77, cu.cuPointerGetAttribute(&type, 2, p) * 100 + type));
    PROBE("freed_copied", (FREED, cu.cuMemcpyDtoHAsync_v2(&word, p, 4, s)));
    cu.cuCtxSynchronize();
}

/* Frees of both kinds of memory, in both ways. */
static void frees(void) {
    void *pool, *s, *is = NULL;
    ptr p = 0, q = 0;
    open_one();
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    cu.cuMemAllocFromPoolAsync(&p, 64, pool, s);
    PROBE("handle_of_memory", (cu.cuPointerGetAttribute(&is, HANDLE, p), is == pool));
    PROBE("free_inside", cu.cuMemFreeAsync(p + 4, s));
    PROBE("free_null", cu.cuMemFreeAsync(0, s));
    PROBE("free_garbage", cu.cuMemFreeAsync(0x1234, s));
    PROBE("free", cu.cuMemFreeAsync(p, s));
    PROBE("free_twice", cu.cuMemFreeAsync(p, s));
    PROBE("free_now_after", cu.cuMemFree_v2(p));
    cu.cuMemAlloc_v2(&q, 64);
    PROBE("free_of_plain", cu.cuMemFreeAsync(q, s));
    PROBE("free_of_plain_twice", cu.cuMemFreeAsync(q, s));
}

/* The primary context is reset, as by cudaDeviceReset. */
static void resets(void) {
    void *pool, *s, *again_context = NULL;
    ptr p = 0, q = 0;
    open_one();
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    cu.cuMemAllocFromPoolAsync(&p, 64, pool, s);
    cu.cuStreamSynchronize(s);
    cu.cuDevicePrimaryCtxReset_v2(0);
    PROBE("reset_threshold", account_of(pool, THRESHOLD) == UINT64_MAX);
    PROBE("reset_used", (int)account_of(pool, USED));
    PROBE("reset_free", cu.cuMemFree_v2(p));
    PROBE("reset_free_twice", cu.cuMemFree_v2(p));
    cu.cuDevicePrimaryCtxRetain(&again_context, 0);
    cu.cuCtxSetCurrent(again_context);
    s = new_stream();
    PROBE("reset_alloc", cu.cuMemAllocFromPoolAsync(&q, 64, pool, s));
    PROBE("reset_fill", (cu.cuMemsetD8Async(q, 1, 64, s), cu.cuStreamSynchronize(s)));
    PROBE("reset_destroy", cu.cuMemPoolDestroy(pool));
    PROBE("reset_destroy_after_release",
            (pool = new_pool(0), cu.cuDevicePrimaryCtxRelease_v2(0),
                    cu.cuDevicePrimaryCtxRelease_v2(0), cu.cuMemPoolDestroy(pool)));
}

/* In a capture of each mode: creating a pool, allocating, freeing. */
static void captured(void) {
    properties as_usual = usual();
    int mode;
    char question[60];
    open_one();
    for (mode = 0; mode < 3; mode++) {
        void *pool = new_pool(UINT64_MAX), *s = new_stream(), *made_here = NULL, *graph = NULL;
        ptr before = 0, p = 0, plain = 0;
        cu.cuMemAllocFromPoolAsync(&before, 64, pool, s);
        cu.cuMemAlloc_v2(&plain, 64);
        cu.cuStreamSynchronize(s);
#define IN_MODE(what, call) \
    snprintf(question, sizeof question, "%s_%d", what, mode); \
    PROBE(question, \
            (cu.cuStreamBeginCapture_v2(s, mode), (call)*1000 + cu.cuStreamEndCapture(s, &graph)))
        IN_MODE("capture_create", cu.cuMemPoolCreate(&made_here, &as_usual));
        IN_MODE("capture_destroy", cu.cuMemPoolDestroy(made_here));
        IN_MODE("capture_set",
                cu.cuMemPoolSetAttribute(pool, THRESHOLD, &(uint64_t){ UINT64_MAX }));
        IN_MODE("capture_get", cu.cuMemPoolGetAttribute(pool, THRESHOLD, &(uint64_t){ 0 }));
        IN_MODE("capture_trim", cu.cuMemPoolTrimTo(pool, 0));
        IN_MODE("capture_alloc", cu.cuMemAllocFromPoolAsync(&p, 64, pool, s));
        IN_MODE("capture_both",
                cu.cuMemAllocFromPoolAsync(&p, 64, pool, s) + cu.cuMemFreeAsync(p, s));
        IN_MODE("capture_free_before", cu.cuMemFreeAsync(before, s));
        IN_MODE("capture_free_plain", cu.cuMemFreeAsync(plain, s));
    }
}

/* --- which devices have access; the current pool; pools of other memory; what is used and reserved
   --- */

typedef struct access_of {
    location where;
    unsigned flags;
} access_of; /* CUmemAccessDesc */

static int share(void *pool, int type, int id, unsigned flags) {
    access_of a;
    a.where.type = type;
    a.where.id = id;
    a.flags = flags;
    return cu.cuMemPoolSetAccess(pool, &a, 1);
}
static int shared(void *pool, int type, int id) {
    location l;
    int flags = 77;
    l.type = type;
    l.id = id;
    return cu.cuMemPoolGetAccess(&flags, pool, &l) * 100 + flags;
}
static void accesses(void) {
    void *pool, *other, *current = NULL, *standard = NULL, *s, *is = NULL;
    int k;
    char question[40];
    access_of both[2];
    location own;
    ptr p = 0;
    open_one();
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    own.type = 1;
    own.id = 0;
    for (k = 0; k < 5; k++) {
        snprintf(question, sizeof question, "own_flags_%d", k);
        PROBE(question, share(pool, 1, 0, (unsigned)k));
        snprintf(question, sizeof question, "location_%d", k);
        PROBE(question, share(pool, k, 0, 3));
        snprintf(question, sizeof question, "get_location_%d", k);
        PROBE(question, shared(pool, k, 0));
    }
    PROBE("device_99", share(pool, 1, 99, 3));
    PROBE("device_-1", share(pool, 1, -1, 3));
    PROBE("get_device_99", shared(pool, 1, 99));
    PROBE("null_pool", share(NULL, 1, 0, 3));
    PROBE("null_list", cu.cuMemPoolSetAccess(pool, NULL, 1));
    PROBE("none", cu.cuMemPoolSetAccess(pool, &own, 0));
    PROBE("null_none", cu.cuMemPoolSetAccess(pool, NULL, 0));
    both[0].where = both[1].where = own;
    both[0].flags = both[1].flags = 3;
    PROBE("twice", cu.cuMemPoolSetAccess(pool, both, 2));
    PROBE("get_to_null", cu.cuMemPoolGetAccess(NULL, pool, &own));
    PROBE("get_of_null", shared(NULL, 1, 0));
    PROBE("get_null_location", (k = 0, cu.cuMemPoolGetAccess(&k, pool, NULL)));
    cu.cuDeviceGetDefaultMemPool(&standard, 0);
    PROBE("share_default", share(standard, 1, 0, 3));
    PROBE("use", cu.cuDeviceSetMemPool(0, pool));
    PROBE("use_is", (cu.cuDeviceGetMemPool(&current, 0), current == pool));
    PROBE("use_default_is", (cu.cuDeviceGetDefaultMemPool(&current, 0), current == standard));
    PROBE("use_null", cu.cuDeviceSetMemPool(0, NULL));
    PROBE("use_device_99", cu.cuDeviceSetMemPool(99, pool));
    PROBE("use_alloc",
            (cu.cuMemAllocAsync(&p, 64, s), cu.cuPointerGetAttribute(&is, HANDLE, p), is == pool));
    PROBE("destroy_current", cu.cuMemPoolDestroy(pool));
    PROBE("destroyed_current_is", (cu.cuDeviceGetMemPool(&current, 0), current == standard));
    other = new_pool(0);
    PROBE("use_other", cu.cuDeviceSetMemPool(0, other));
    PROBE("use_default", cu.cuDeviceSetMemPool(0, standard));
    PROBE("destroyed_memory", (cu.cuMemsetD8Async(p, 1, 64, s) * 1000 + cu.cuStreamSynchronize(s)));
    PROBE("destroyed_handle",
            (is = NULL, cu.cuPointerGetAttribute(&is, HANDLE, p) * 10 + (is == pool)));
    PROBE("destroyed_free", cu.cuMemFreeAsync(p, s) * 1000 + cu.cuStreamSynchronize(s));
}

/* Two devices: memory of a pool of device 0, used by device 1. */
static void peers(void) {
    void *pool, *s, *t, *store, *params[2];
    ptr p = 0, q = 0;
    uint32_t value = 5, got = 0;
    open_all();
    if (devices < 2) {
        answer("gave_up", "two devices");
        return;
    }
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    cu.cuMemAllocFromPoolAsync(&p, MEMORY, pool, s);
    cu.cuStreamSynchronize(s);
    PROBE("get_other", shared(pool, 1, 1));
    PROBE("share_1", share(pool, 1, 1, 1));
    PROBE("share_3", share(pool, 1, 1, 3));
    PROBE("get_shared", shared(pool, 1, 1));
    cu.cuMemAllocFromPoolAsync(&q, MEMORY, pool, s);
    cu.cuStreamSynchronize(s);
    cu.cuCtxSetCurrent(context[1]);
    t = new_stream();
    store = kernel(1, "store");
    params[0] = &p;
    params[1] = &value;
    PROBE("peer_copy",
            (cu.cuMemcpyDtoDAsync_v2(memory[1], p, 64, t) * 1000 + cu.cuStreamSynchronize(t)));
    PROBE("peer_copy_peer",
            (cu.cuMemcpyPeerAsync(p, context[0], memory[1], context[1], 64, t) * 1000 +
                    cu.cuStreamSynchronize(t)));
    PROBE("store", (launch(store, 1, 1, t, params) * 1000 + cu.cuStreamSynchronize(t)));
    PROBE("stored", (cu.cuMemcpyDtoH_v2(&got, p, 4), (int)got));
    params[0] = &q;
    PROBE("store_in_later", (launch(store, 1, 1, t, params) * 1000 + cu.cuStreamSynchronize(t)));
    PROBE("fill", cu.cuMemsetD32Async(p, 1, 4, t) * 1000 + cu.cuStreamSynchronize(t));
    PROBE("alloc_on_its_stream", cu.cuMemAllocFromPoolAsync(&p, 64, pool, t));
    PROBE("free_on_its_stream", cu.cuMemFreeAsync(p, t));
    PROBE("sync", cu.cuStreamSynchronize(t));
    PROBE("share_0", share(pool, 1, 1, 0));
    PROBE("get_unshared", shared(pool, 1, 1));
    PROBE("use_of_other_device", cu.cuDeviceSetMemPool(1, pool));
    params[0] = &q;
    PROBE("store_unshared", (launch(store, 1, 1, t, params) * 1000 + cu.cuStreamSynchronize(t)));
}

/* Pools on the host, and of managed memory. */
static void others(void) {
    properties p;
    void *pool = NULL, *s;
    ptr m = 0;
    int k, value;
    char question[40];
    open_one();
    s = new_stream();
    for (k = 0; k < 3; k++) {
        static const char *const names[] = { "host", "node", "managed" };
        p = usual();
        p.location = k == 0 ? 2 : k == 1 ? 3 : 1;
        if (k == 2) p.type = 2;
        pool = NULL;
        snprintf(question, sizeof question, "%s_create", names[k]);
        PROBE(question, cu.cuMemPoolCreate(&pool, &p));
        if (!pool) continue;
        snprintf(question, sizeof question, "%s_alloc", names[k]);
        m = 0;
        PROBE(question,
                cu.cuMemAllocFromPoolAsync(&m, 4096, pool, s) * 1000 + cu.cuStreamSynchronize(s));
        snprintf(question, sizeof question, "%s_type", names[k]);
        PROBE(question, (value = 77, cu.cuPointerGetAttribute(&value, 2, m) * 100 + value));
        snprintf(question, sizeof question, "%s_is_managed", names[k]);
        PROBE(question, (value = 77, cu.cuPointerGetAttribute(&value, 8, m) * 100 + value));
        snprintf(question, sizeof question, "%s_ordinal", names[k]);
        PROBE(question, (value = 77, cu.cuPointerGetAttribute(&value, 9, m) * 100 + value));
        snprintf(question, sizeof question, "%s_fill", names[k]);
        PROBE(question, cu.cuMemsetD32Async(m, 7, 4, s) * 1000 + cu.cuStreamSynchronize(s));
        snprintf(question, sizeof question, "%s_access", names[k]);
        PROBE(question, shared(pool, 1, 0));
        snprintf(question, sizeof question, "%s_touch", names[k]);
        PROBE(question, (int)*(volatile uint32_t *)(uintptr_t)m);
        snprintf(question, sizeof question, "%s_use", names[k]);
        PROBE(question, cu.cuDeviceSetMemPool(0, pool));
        snprintf(question, sizeof question, "%s_free", names[k]);
        PROBE(question, cu.cuMemFreeAsync(m, s) * 1000 + cu.cuStreamSynchronize(s));
        snprintf(question, sizeof question, "%s_destroy", names[k]);
        PROBE(question, cu.cuMemPoolDestroy(pool));
    }
}

/* Pools on the host: which there are, who can access them, how they are freed. */
static void on_host(void) {
    static const struct {
        const char *name;
        int location, id, types;
    } kinds[] = { { "id_99", 2, 99, 0 }, { "exported", 2, 0, 1 }, { "node_-1", 3, -1, 0 },
        { "node_99", 3, 99, 0 }, { "node_exported", 3, 0, 1 }, { "current", 4, 0, 0 },
        { "current_99", 4, 99, 0 } };
    properties p = usual();
    void *pool = NULL, *s, *graph = NULL, *params[2];
    ptr m = 0, n = 0;
    unsigned i, value = 9;
    open_one();
    s = new_stream();
    params[0] = &m;
    params[1] = &value;
    for (i = 0; i < COUNT(kinds); i++) {
        p = usual();
        p.location = kinds[i].location;
        p.device = kinds[i].id;
        p.handle_types = kinds[i].types;
        PROBE(kinds[i].name, cu.cuMemPoolCreate(&pool, &p));
    }
    p = usual();
    p.location = 2;
    pool = NULL;
    cu.cuMemPoolCreate(&pool, &p);
    PROBE("not_shared", shared(pool, 1, 0));
    PROBE("host", shared(pool, 2, 0));
    PROBE("share_host", share(pool, 2, 0, 3));
    PROBE("share_to_read", share(pool, 1, 0, 1));
    PROBE("share", share(pool, 1, 0, 3));
    PROBE("is_shared", shared(pool, 1, 0));
    PROBE("alloc",
            cu.cuMemAllocFromPoolAsync(&m, 4096, pool, s) * 1000 + cu.cuStreamSynchronize(s));
    PROBE("fill", cu.cuMemsetD32Async(m, 7, 4, s) * 1000 + cu.cuStreamSynchronize(s));
    PROBE("touch", (int)*(volatile uint32_t *)(uintptr_t)m);
    PROBE("store", launch(kernel(0, "store"), 1, 1, s, params) * 1000 + cu.cuStreamSynchronize(s));
    PROBE("same_address", (cu.cuPointerGetAttribute(&n, 3, m) * 10 + (n == m)));
    PROBE("host_address", (cu.cuPointerGetAttribute(&n, 4, m) * 10 + (n == m)));
    PROBE("unshare", share(pool, 1, 0, 0));
    PROBE("fill_unshared", cu.cuMemsetD32Async(m, 8, 4, s) * 1000 + cu.cuStreamSynchronize(s));
    PROBE("free_host", cu.cuMemFreeHost((void *)(uintptr_t)m));
    PROBE("free", cu.cuMemFree_v2(m));
    PROBE("free_again", cu.cuMemFree_v2(m));
    cu.cuStreamBeginCapture_v2(s, 2);
    PROBE("alloc_captured", cu.cuMemAllocFromPoolAsync(&m, 4096, pool, s));
    PROBE("end_capture", cu.cuStreamEndCapture(s, &graph));
    PROBE("destroy", cu.cuMemPoolDestroy(pool));
}

/* Queries until the stream has finished: a query does not wait. */
static int ready(void *stream) {
    int result = 600;
    UNTIL((result = cu.cuStreamQuery(stream)) != 600);
    return result;
}

static void sizes(void) {
    static const size_t bytes[] = { 1, 64, 100, 512, 513, 4096, 33 * (size_t)MIB, 64 * (size_t)MIB,
        65 * (size_t)MIB };
    properties of;
    void *pool, *s, *t, *event;
    ptr p = 0, q = 0;
    unsigned k;
    int none = 0;
    char question[60];
    open_one();
    s = new_stream();
    t = new_stream();
    cu.cuEventCreate(&event, 2);
    for (k = 0; k < COUNT(bytes); k++) {
        pool = new_pool(0);
        cu.cuMemAllocFromPoolAsync(&p, bytes[k], pool, s);
        snprintf(question, sizeof question, "used_by_%lu", (unsigned long)bytes[k]);
        PROBE(question, (int)account_of(pool, USED));
        snprintf(question, sizeof question, "reserved_by_%lu", (unsigned long)bytes[k]);
        PROBE(question, (int)(account_of(pool, RESERVED) >> 10));
        cu.cuMemFreeAsync(p, s);
        cu.cuStreamSynchronize(s);
        cu.cuMemPoolDestroy(pool);
    }
    for (k = 0; k < 3; k++) {
        static const size_t most[] = { 1, MIB, 64 * (size_t)MIB };
        pool = NULL;
        of = usual();
        of.most = most[k];
        cu.cuMemPoolCreate(&pool, &of);
        snprintf(question, sizeof question, "most_%lu_alloc_64", (unsigned long)most[k]);
        PROBE(question, cu.cuMemAllocFromPoolAsync(&p, 64, pool, s));
        snprintf(question, sizeof question, "most_%lu_reserved", (unsigned long)most[k]);
        PROBE(question, (int)(account_of(pool, RESERVED) >> 10));
        snprintf(question, sizeof question, "most_%lu_alloc_2_mib", (unsigned long)most[k]);
        PROBE(question, cu.cuMemAllocFromPoolAsync(&p, 2 * MIB, pool, s));
        snprintf(question, sizeof question, "most_%lu_alloc_64_mib", (unsigned long)most[k]);
        PROBE(question, cu.cuMemAllocFromPoolAsync(&p, 64 * (size_t)MIB, pool, s));
    }
    /* reuse with the settings off; each pool then has no other free memory */
    for (k = 0; k < 4; k++) {
        of = usual();
        of.most = 32 * MIB;
        pool = NULL;
        cu.cuMemPoolCreate(&pool, &of);
        cu.cuMemPoolSetAttribute(pool, THRESHOLD, &(uint64_t){ UINT64_MAX });
        if (k) cu.cuMemPoolSetAttribute(pool, (int)k, &none);
        cu.cuMemAllocFromPoolAsync(&p, 32 * MIB, pool, s);
        cu.cuMemFreeAsync(p, s);
        cu.cuStreamSynchronize(s);
        snprintf(question, sizeof question, "without_%u_other_stream_done", k);
        PROBE(question, (q = 0, cu.cuMemAllocFromPoolAsync(&q, 32 * MIB, pool, t) * 10 + (q == p)));
    }
    PROBE("trim_more_than_reserved",
            (pool = new_pool(UINT64_MAX), cu.cuMemPoolTrimTo(pool, (size_t)1 << 40)));
    PROBE("trim_keeps",
            (cu.cuMemAllocFromPoolAsync(&p, MIB, pool, s), cu.cuMemFreeAsync(p, s),
                    cu.cuStreamSynchronize(s), cu.cuMemPoolTrimTo(pool, 1),
                    (int)(account_of(pool, RESERVED) >> 10)));
    PROBE("threshold_query",
            (pool = new_pool(0), cu.cuMemAllocFromPoolAsync(&p, MIB, pool, s),
                    cu.cuMemFreeAsync(p, s), ready(s), (int)(account_of(pool, RESERVED) >> 10)));
    PROBE("threshold_event",
            (cu.cuEventRecord(event, s), cu.cuEventSynchronize(event),
                    (int)(account_of(pool, RESERVED) >> 10)));
    PROBE("threshold_copy",
            (pool = new_pool(0), cu.cuMemAllocFromPoolAsync(&p, MIB, pool, s),
                    cu.cuMemFreeAsync(p, s), ready(s), cu.cuMemcpyDtoH_v2(question, memory[0], 4),
                    (int)(account_of(pool, RESERVED) >> 10)));
}

/* cuMemFree behind a kernel that spins: of a pool's memory, then what else the stream does. */
static void frees_behind(void) {
    void *pool, *s, *spin;
    ptr p = 0, q = 0;
    gate gates;
    open_one();
    gates = make_gate();
    spin = kernel(0, "spin");
    s = new_stream();
    pool = new_pool(UINT64_MAX);
    cu.cuMemAllocFromPoolAsync(&p, 64, pool, s);
    cu.cuMemAlloc_v2(&q, 64);
    close_gate(gates, spin, s);
    PROBE("query", cu.cuStreamQuery(s));
    PROBE("plain_async", cu.cuMemFreeAsync(q, s));
    PROBE("plain_async_query", cu.cuStreamQuery(s));
    PROBE("pool_now", cu.cuMemFree_v2(p));
    PROBE("used", (int)account_of(pool, USED));
    open_gate(gates);
    PROBE("sync", cu.cuStreamSynchronize(s));
}

const group more_pool_groups[] = {
    { "pool_access", accesses, 1 },
    { "pool_peer", peers, 2 },
    { "pool_others", others, 1 },
    { "pool_on_host", on_host, 1 },
    { "pool_sizes", sizes, 1 },
    { "pool_behind", frees_behind, 1 },
    { NULL, NULL, 0 },
};
const group pool_groups[] = {
    { "pool", creates, 1 },
    { "pool_attributes", attributes, 1 },
    { "pool_accounts", accounts, 1 },
    { "pool_reuse", reuses, 1 },
    { "pool_free", frees, 1 },
    { "pool_reset", resets, 1 },
    { "pool_capture", captured, 1 },
    { NULL, NULL, 0 },
};
