/* caching.c - pools that cache freed blocks: gpuexec_pool_desc.cache_bytes. */
#include "../../test.h"
#include <pthread.h>

enum { WORDS = 512, BYTES = WORDS * 4, ROUNDS = 20, USED = 7 /* CUmemPool_attribute */ };

static driver_calls cu; /* the driver's own calls */
/* Older drivers cache nothing: they cannot report whether a stream's context still exists. */
#define NEEDS_CACHE() \
    if (gpuexec_driver_version() < 12000) SKIP("needs a driver for CUDA 12.0")

static gpuexec_pool caching_pool(gpuexec_context ctx, size_t bytes) {
    gpuexec_pool_desc desc = { 0 };
    desc.cache_bytes = bytes;
    return gpuexec_pool_create(ctx, &desc);
}
static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.gate = gate_make(s.ctx, s.mod);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    cu = calls_find();
    return s;
}
static gpuexec_pool_info info_of(gpuexec_pool pool) {
    gpuexec_pool_info info;
    CHECK_OK(gpuexec_pool_get_info(pool, &info));
    return info;
}
static uint64_t used_by_driver(gpuexec_pool pool) {
    uint64_t value = 0;
    CHECK_EQ(cu.cuMemPoolGetAttribute(gpuexec_pool_native(pool), USED, &value), 0);
    return value;
}
static gpuexec_result add_to(const setting *s, gpuexec_stream stream, gpuexec_ptr p, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(s->kernel, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, n));
}

TEST(freed_blocks_are_cached) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_ptr p = gpuexec_pool_alloc(pool, s.stream, 1000), q, r;
    uint64_t used;
    CHECK(p && info_of(pool).cached == 0 && info_of(pool).used >= 1000);
    used = used_by_driver(pool);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_EQ(info_of(pool).cached, 1024);
    CHECK_EQ(info_of(pool).used, used - 1024);
    CHECK_EQ(used_by_driver(pool), used);
    q = gpuexec_pool_alloc(pool, s.stream, 2000); /* another size */
    r = gpuexec_pool_alloc(pool, other, 1000);    /* another stream */
    CHECK(q && r && q != p && r != p);
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, 1020), p); /* rounded up, the same size */
    CHECK_EQ(info_of(pool).cached, 0);
    CHECK_OK(gpuexec_stream_wait_stream(other, s.stream));
    CHECK_OK(gpuexec_free_on(other, p)); /* the stream of the free has it now */
    CHECK_OK(gpuexec_free_on(other, r));
    CHECK_EQ(gpuexec_pool_alloc(pool, other, 700), r);
    CHECK_EQ(gpuexec_pool_alloc(pool, other, 513), p);
    CHECK_OK(gpuexec_free(p)); /* goes to the driver */
    CHECK_EQ(info_of(pool).cached, 0);
    /* large ones: rounded up by at most 1/16 */
    for (used = 1; used < (32u << 20); used = used * 3 + 511) {
        size_t before, more;
        CHECK((p = gpuexec_pool_alloc(pool, s.stream, used)) != 0);
        before = info_of(pool).cached;
        CHECK_OK(gpuexec_free_on(s.stream, p));
        more = info_of(pool).cached - before;
        CHECK(more >= used && more <= used + used / 16 + 511);
        CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, more), p);
        CHECK_OK(gpuexec_free_on(s.stream, p));
    }
    CHECK_OK(gpuexec_context_sync(s.ctx));
}
/* The stream has reached the free of a block, but not yet its next allocation: a gate is between
   them. */
TEST(blocks_are_cached_before_the_stream_reaches_their_allocation) {
    NEEDS_CACHE();
    setting s = begin();
    const test_gate later = gate_make(s.ctx, s.mod);
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX);
    const gpuexec_ptr p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    s.a = gpuexec_event_create(s.ctx, NULL);
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_event_record(s.a, s.stream));
    gate_close(later, s.stream);
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, BYTES), p);
    gate_open(s.gate);
    CHECK_OK(gpuexec_event_sync(s.a));
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_EQ(info_of(pool).cached, BYTES);
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, BYTES), p);
    CHECK_OK(gpuexec_fill(s.stream, p, 5, 4, WORDS));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, p, BYTES));
    gate_open(later);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(s.host[WORDS - 1], 5);
    CHECK_OK(gpuexec_free_on(s.stream, p));
}
/* All that a frame enqueues sees its own data, although the host is far ahead. */
TEST(cached_blocks_are_used_in_stream_order) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, 1 << 20);
    gpuexec_ptr first = 0;
    uint32_t i;
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_pool_alloc(pool, s.stream, BYTES)));
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_pool_alloc(pool, s.stream, BYTES + 512)));
    gate_close(s.gate, s.stream);
    for (i = 0; i < ROUNDS; i++) {
        gpuexec_ptr p = gpuexec_pool_alloc(pool, s.stream, BYTES),
                    q = gpuexec_pool_alloc(pool, s.stream, BYTES + 1 + i);
        if (i == 0) first = p;
        CHECK(p && q && p != q && p == first);
        CHECK_OK(gpuexec_fill(s.stream, p, i, 4, WORDS));
        CHECK_OK(gpuexec_copy(s.stream, q, p, BYTES));
        CHECK_OK(gpuexec_free_on(s.stream, p));
        CHECK_OK(add_to(&s, s.stream, q, 100));
        CHECK_OK(gpuexec_copy_out(s.stream, s.host + i, q, 4));
        CHECK_OK(gpuexec_free_on(s.stream, q));
    }
    CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < ROUNDS; i++) CHECK_EQ(s.host[i], 100 + i);
}
TEST(a_full_cache_frees_the_oldest_block) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, 4 * BYTES);
    gpuexec_ptr p[5], large = gpuexec_pool_alloc(pool, s.stream, 5 * BYTES);
    int i;
    for (i = 0; i < 5; i++) CHECK((p[i] = gpuexec_pool_alloc(pool, s.stream, BYTES)) != 0);
    for (i = 0; i < 5; i++) CHECK_OK(gpuexec_free_on(s.stream, p[i]));
    CHECK_EQ(info_of(pool).cached, 4 * BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, large)); /* does not fit: frees nothing else */
    CHECK_EQ(info_of(pool).cached, 4 * BYTES);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(info_of(pool).used, 0);
    for (i = 4; i > 0; i--) CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, BYTES), p[i]);
    CHECK_EQ(info_of(pool).cached, 0);
}
TEST(what_ends_cached_blocks) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX), other = caching_pool(s.ctx, SIZE_MAX);
    gpuexec_stream t = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_ptr p = gpuexec_pool_alloc(pool, s.stream, BYTES),
                q = gpuexec_pool_alloc(pool, t, BYTES), r = gpuexec_pool_alloc(other, t, BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_free_on(t, q));
    CHECK_OK(gpuexec_free_on(t, r));
    CHECK(info_of(pool).cached == 2 * BYTES && info_of(other).cached == BYTES);
    CHECK_OK(gpuexec_stream_destroy(t)); /* of both pools */
    CHECK(info_of(pool).cached == BYTES && info_of(other).cached == 0);
    CHECK_EQ(used_by_driver(other), 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK(info_of(pool).cached == 0 && used_by_driver(pool) == 0);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK_EQ(info_of(pool).reserved, 0);
    p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_pool_alloc(pool, s.stream, BYTES)));
    CHECK_OK(gpuexec_pool_destroy(pool)); /* p remains */
    CHECK_OK(gpuexec_fill(s.stream, p, 1, 4, WORDS));
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    /* a stream of another context, which is closed */
    {
        gpuexec_context ctx = gpuexec_context_create(0, NULL);
        t = gpuexec_stream_create(ctx, NULL);
        CHECK_OK(gpuexec_free_on(t, gpuexec_pool_alloc(other, t, BYTES)));
        CHECK_EQ(info_of(other).cached, BYTES);
        CHECK_OK(gpuexec_context_close(ctx));
        CHECK_EQ(info_of(other).cached, 0);
        CHECK_EQ(used_by_driver(other), 0);
    }
}
/* A pool with a limit, which only its cached blocks reach. */
TEST(cached_blocks_go_back_when_memory_runs_out) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool pool;
    if (!gpuexec_driver_symbol("cuMemPrefetchAsync", 12020)) SKIP("needs a driver for CUDA 12.2");
    desc.max_bytes = 64 << 20;
    desc.cache_bytes = SIZE_MAX;
    pool = gpuexec_pool_create(s.ctx, &desc);
    CHECK_EQ(info_of(pool).max_bytes, 64 << 20);
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_pool_alloc(pool, s.stream, 40 << 20)));
    CHECK(info_of(pool).cached >= 40 << 20);
    CHECK(gpuexec_pool_alloc(pool, s.stream, 32 << 20) != 0);
    CHECK_EQ(info_of(pool).cached, 0);
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, 48 << 20), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
}
TEST_ALONE(cached_blocks_go_back_to_the_device) {
    setting s;
    gpuexec_pool pool;
    gpuexec_ptr p;
    int plain;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_MEMORY", "64M", 1);
    s = begin();
    NEEDS_CACHE();
    for (plain = 0; plain < 2; plain++) {
        pool = caching_pool(s.ctx, SIZE_MAX);
        CHECK_OK(gpuexec_free_on(s.stream, gpuexec_pool_alloc(pool, s.stream, 40 << 20)));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK(info_of(pool).cached >= 40 << 20);
        p = plain ? gpuexec_alloc(s.ctx, 48 << 20) : gpuexec_alloc_on(s.stream, 48 << 20);
        CHECK(p != 0);
        CHECK_EQ(info_of(pool).cached, 0);
        CHECK_OK(gpuexec_free(p));
        CHECK_OK(gpuexec_pool_trim(gpuexec_context_pool(s.ctx), 0));
        CHECK_OK(gpuexec_pool_destroy(pool));
    }
}
/* They go to the driver. */
TEST(blocks_of_default_streams_are_not_cached) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX);
    gpuexec_stream defaults[2];
    gpuexec_ptr p;
    int i;
    defaults[0] = gpuexec_stream_legacy(s.ctx);
    defaults[1] = gpuexec_stream_per_thread(s.ctx);
    for (i = 0; i < 2; i++) {
        p = gpuexec_pool_alloc(pool, defaults[i], BYTES);
        CHECK_OK(gpuexec_fill(defaults[i], p, 1, 4, WORDS));
        CHECK_OK(gpuexec_free_on(defaults[i], p));
        CHECK_OK(gpuexec_stream_sync(defaults[i]));
        CHECK_EQ(info_of(pool).cached, 0);
        CHECK_EQ(used_by_driver(pool), 0);
    }
}
TEST(captures_and_graphs_with_cached_blocks) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX);
    gpuexec_graph graph = { 0 };
    gpuexec_ptr p, in_graph = 0;
    int i;
    p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    GPUEXEC_CAPTURE(s.stream, &graph) {
        in_graph = gpuexec_pool_alloc(pool, s.stream, BYTES);
        CHECK(in_graph && in_graph != p);
        CHECK_OK(gpuexec_fill(s.stream, in_graph, 1, 4, WORDS));
        CHECK_OK(gpuexec_free_on(s.stream, in_graph));
    }
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(info_of(pool).cached, BYTES);
    /* a graph that uses it loses it, or retains it */
    for (i = 0; i < 2; i++) {
        graph.id = 0;
        p = gpuexec_pool_alloc(pool, s.stream, BYTES);
        GPUEXEC_CAPTURE(s.stream, &graph) CHECK_OK(gpuexec_fill(s.stream, p, 1, 4, WORDS));
        if (i) CHECK_OK(gpuexec_graph_retain(graph));
        CHECK_OK(gpuexec_free_on(s.stream, p));
        if (!i)
            CHECK_REFUSED(gpuexec_graph_launch(graph, s.stream), GPUEXEC_STALE_HANDLE,
                    "node 0 uses the 2048 bytes");
        else {
            CHECK_OK(gpuexec_graph_launch(graph, s.stream));
            CHECK(gpuexec_pool_alloc(pool, s.stream, BYTES) != p);
            CHECK_OK(gpuexec_graph_destroy(graph));
        }
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
/* Blocks of a stream that captures cannot be freed on it: trimming, a full cache and a lack of
   memory leave them alone, and do not break the capture. */
TEST(cached_blocks_of_a_stream_that_captures) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, 2 * BYTES);
    gpuexec_stream t = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    gpuexec_ptr p[3];
    int i;
    for (i = 0; i < 3; i++) CHECK((p[i] = gpuexec_pool_alloc(pool, s.stream, BYTES)) != 0);
    CHECK_OK(gpuexec_stream_wait_stream(t, s.stream));
    CHECK_OK(gpuexec_free_on(t, p[0]));
    GPUEXEC_CAPTURE(t, &graph) {
        CHECK_OK(add_to(&s, t, s.data, 1));
        CHECK_OK(gpuexec_pool_trim(pool, 0));
        CHECK_EQ(info_of(pool).cached, BYTES);
        CHECK_OK(gpuexec_free_on(s.stream, p[1]));
        CHECK_OK(gpuexec_free_on(s.stream, p[2])); /* p[1] makes room, which is newer than p[0] */
        CHECK_EQ(info_of(pool).cached, 2 * BYTES);
        CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, BYTES), p[2]);
        CHECK_OK(gpuexec_free_on(s.stream, p[2]));
    }
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_graph_launch(graph, t));
    CHECK_EQ(gpuexec_pool_alloc(pool, t, BYTES), p[0]);
    CHECK_OK(gpuexec_free_on(t, p[0]));
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK_EQ(info_of(pool).cached, 0);
    CHECK_EQ(used_by_driver(pool), 0);
}
TEST(wrong_uses_of_cached_blocks) {
    setting s = begin();
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX);
    gpuexec_ptr p = gpuexec_pool_alloc_at("made.c:1", pool, s.stream, BYTES);
    CHECK_OK(gpuexec_free_on_at("gone.c:2", s.stream, p));
    CHECK_REFUSED(gpuexec_fill(s.stream, p, 0, 1, BYTES), GPUEXEC_BAD_ARGUMENT,
            " was freed: ", "(allocated at made.c:1, freed at gone.c:2)");
    CHECK_FAILED(gpuexec_free_on(s.stream, p), GPUEXEC_BAD_ARGUMENT, "was already freed");
    CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, "was already freed");
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, BYTES), p);
    CHECK_OK(gpuexec_fill(s.stream, p, 0, 1, BYTES));
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, 0), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    desc.cache_bytes = 5000;
    desc.use_default = 1;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.use_default is 1, but other members set properties");
    desc.use_default = 0;
    desc.location = GPUEXEC_POOL_ON_HOST;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.cache_bytes is 5000, but the pool is on the host");
}
/* The CPU device finds them: a kernel after the free, and one past the end of a block that
   has room for more. */
static void use_after_free(int past_the_end) {
    setting s = begin();
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX);
    gpuexec_ptr p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    if (past_the_end) CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, BYTES - 4), p);
    CHECK_OK(add_to(&s, s.stream, p, 1));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "illegal address");
}
TEST_ALONE(a_kernel_that_uses_a_cached_block) {
    NEEDS_CACHE();
    if (!on_cpu_device()) SKIP("not on the CPU device");
    use_after_free(0);
}
TEST_ALONE(a_kernel_past_the_end_of_a_cached_block) {
    NEEDS_CACHE();
    if (!on_cpu_device()) SKIP("not on the CPU device");
    use_after_free(1);
}
/* Blocks come and go on streams of several threads; each holds what its own stream wrote. */
typedef struct worker {
    const setting *s;
    gpuexec_pool pool;
    uint32_t seed;
} worker;
static void *work(void *user) {
    enum { HELD = 8 };
    worker *w = (worker *)user;
    const setting *s = w->s;
    gpuexec_stream mine[2], t;
    gpuexec_ptr held[HELD] = { 0 };
    uint32_t marks[HELD] = { 0 }, got, i, k;
    mine[0] = gpuexec_stream_create(s->ctx, NULL);
    mine[1] = gpuexec_stream_create(s->ctx, NULL);
    for (i = 0; i < 300; i++) {
        k = test_random(&w->seed) % HELD;
        t = mine[k % 2];
        if (held[k]) {
            CHECK_OK(gpuexec_copy_out(t, &got, held[k] + BYTES - 4, 4));
            CHECK_OK(gpuexec_free_on(t, held[k]));
            CHECK_OK(gpuexec_stream_sync(t));
            CHECK_EQ(got, marks[k] + 1);
            held[k] = 0;
        } else {
            held[k] = gpuexec_pool_alloc(w->pool, t, BYTES + test_random(&w->seed) % 3000);
            CHECK(held[k] != 0);
            marks[k] = test_random(&w->seed);
            CHECK_OK(gpuexec_fill(t, held[k], marks[k], 4, WORDS));
            CHECK_OK(add_to(s, t, held[k], 1));
        }
        if (i % 100 == 99) { /* with what it has cached */
            CHECK_OK(gpuexec_stream_sync(mine[1]));
            for (k = 1; k < HELD; k += 2)
                if (held[k]) CHECK_OK(gpuexec_free_on(mine[1], held[k]));
            for (k = 1; k < HELD; k += 2) held[k] = 0;
            CHECK_OK(gpuexec_stream_destroy(mine[1]));
            mine[1] = gpuexec_stream_create(s->ctx, NULL);
        }
        if (i % 70 == 69) CHECK_OK(gpuexec_pool_trim(w->pool, 1 << 20));
    }
    return NULL;
}
TEST(threads_share_a_caching_pool) {
    NEEDS_CACHE();
    enum { THREADS = 4 };
    const setting s = begin();
    worker w[THREADS];
    pthread_t threads[THREADS];
    gpuexec_pool pool = caching_pool(s.ctx, 6 * BYTES);
    uint32_t i;
    for (i = 0; i < THREADS; i++) {
        w[i].s = &s;
        w[i].pool = pool;
        w[i].seed = i + 1;
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    }
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(info_of(pool).cached <= 6 * BYTES);
    CHECK_OK(gpuexec_pool_destroy(pool));
}
/* The context of its stream is destroyed by other code: the driver must not free the block. */
TEST(a_context_is_destroyed_outside) {
    NEEDS_CACHE();
    setting s = begin();
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    gpuexec_pool pool = caching_pool(s.ctx, SIZE_MAX), own = caching_pool(ctx, SIZE_MAX);
    gpuexec_stream t = gpuexec_stream_create(ctx, NULL);
    CHECK_OK(gpuexec_free_on(t, gpuexec_pool_alloc(pool, t, BYTES)));
    CHECK_OK(gpuexec_free_on(t, gpuexec_pool_alloc(own, t, BYTES)));
    CHECK_EQ(cu.cuCtxDestroy_v2(gpuexec_context_native(ctx)), 0);
    CHECK_OK(gpuexec_pool_trim(pool, 0)); /* its stream's handle is still open */
    CHECK_FAILED(gpuexec_stream_destroy(t), GPUEXEC_STALE_HANDLE, "was destroyed outside gpuexec");
    CHECK_EQ(info_of(pool).cached, 0);
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_pool_alloc(pool, s.stream, BYTES)));
    CHECK_OK(gpuexec_pool_destroy(pool));
}
