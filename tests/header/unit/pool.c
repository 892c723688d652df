/* pool.c - memory in the order of a stream: gpuexec_alloc_on, gpuexec_free_on, and the pools behind
   them, gpuexec's and others. */
#include "../../test.h"

enum { WORDS = 512, BYTES = WORDS * 4, ROUNDS = 20 };
enum { THRESHOLD = 4, RESERVED, RESERVED_HIGH, USED, USED_HIGH }; /* CUmemPool_attribute */

/* The driver's own calls. */
static driver_calls cu;

static uint64_t attribute(void *pool, int which) {
    uint64_t value = 0;
    CHECK_EQ(cu.cuMemPoolGetAttribute(pool, which, &value), 0);
    return value;
}
static void *pool_of(gpuexec_ptr p) {
    void *pool = NULL;
    CHECK_EQ(cu.cuPointerGetAttribute(&pool, 17, p), 0); /* CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE */
    return pool;
}

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.gate = gate_make(s.ctx, s.mod);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_alloc_on(s.stream, 4))); /* creates the pool */
    cu = calls_find();
    return s;
}

static gpuexec_result add_to(const setting *s, gpuexec_stream stream, gpuexec_ptr p, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(s->kernel, stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, n));
}

/* The host only enqueues: memory of all rounds is allocated and freed behind the gate. */
TEST(memory_between_two_points_of_a_stream) {
    setting s = begin();
    uint32_t i;
    gate_close(s.gate, s.stream);
    for (i = 0; i < ROUNDS; i++) {
        gpuexec_ptr p = gpuexec_alloc_on(s.stream, BYTES),
                    q = gpuexec_alloc_on(s.stream, BYTES + 4 * i);
        CHECK(p && q && p != q && p % 256 == 0);
        CHECK_OK(gpuexec_fill(s.stream, p, i, 4, WORDS));
        CHECK_OK(gpuexec_copy(s.stream, q, p, BYTES));
        CHECK_OK(gpuexec_free_on(s.stream, p));
        CHECK_OK(add_to(&s, s.stream, q, 100));
        CHECK_OK(gpuexec_copy_out(s.stream, s.host + i, q + 4 * i, 4));
        CHECK_OK(gpuexec_free_on(s.stream, q));
    }
    CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < ROUNDS; i++) CHECK_EQ(s.host[i], 100 + i);
}

/* Work on other streams waits for the allocation, and the free for it. */
TEST(streams_share_memory) {
    setting s = begin();
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    uint32_t i;
    for (i = 0; i < ROUNDS; i++) {
        gpuexec_ptr p = gpuexec_alloc_on(s.stream, BYTES);
        CHECK_OK(gpuexec_fill(s.stream, p, i, 4, WORDS));
        CHECK_OK(gpuexec_stream_wait_stream(other, s.stream));
        CHECK_OK(add_to(&s, other, p, 1));
        CHECK_OK(gpuexec_copy_out(other, s.host + i, p, 4));
        if (i % 2) CHECK_OK(gpuexec_stream_wait_stream(s.stream, other));
        CHECK_OK(gpuexec_free_on(i % 2 ? s.stream : other, p));
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_stream_sync(other));
    for (i = 0; i < ROUNDS; i++) CHECK_EQ(s.host[i], 1 + i);
}

TEST(all_kinds_of_streams) {
    setting s = begin();
    const gpuexec_stream streams[] = { gpuexec_stream_legacy(s.ctx),
        gpuexec_stream_per_thread(s.ctx), gpuexec_context_stream(s.ctx),
        gpuexec_stream_from_native(s.ctx, gpuexec_stream_native(s.stream)) };
    int i;
    for (i = 0; i < 4; i++) {
        gpuexec_ptr p = gpuexec_alloc_on(streams[i], BYTES);
        CHECK_OK(gpuexec_fill(streams[i], p, 5, 4, WORDS));
        CHECK_OK(add_to(&s, streams[i], p, 2));
        CHECK_OK(gpuexec_copy_out(streams[i], s.host, p, BYTES));
        CHECK_OK(gpuexec_free_on(streams[i], p));
        CHECK_OK(gpuexec_stream_sync(streams[i]));
        CHECK_EQ(s.host[WORDS - 1], 7);
    }
}

/* In a capture, both become nodes; what was allocated before it cannot be freed there, and stays
   allocated. The first allocation creates the pool. */
TEST(in_a_capture) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_graph g = { 0 };
    gpuexec_ptr p = 0, before = gpuexec_alloc(s.ctx, BYTES);
    uint32_t host[2] = { 0, 0 };
    int i;
    GPUEXEC_CAPTURE(s.stream, &g) {
        p = gpuexec_alloc_on(s.stream, BYTES);
        CHECK(p && p != before);
        CHECK_FAILED(gpuexec_free_on(s.stream, before), GPUEXEC_BAD_ARGUMENT, "cannot free 0x",
                "on the stream", "cuMemFreeAsync", "free it after the capture");
        CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, "was allocated in a capture, at ",
                "pool.c:", "belongs to the graph", "gpuexec_free_on");
        /* does not break the capture */
        CHECK_OK(gpuexec_free_on(other, gpuexec_alloc_on(other, BYTES)));
        CHECK_OK(gpuexec_fill(s.stream, p, 1, 4, WORDS));
        CHECK_OK(add_to(&s, s.stream, p, 2));
        CHECK_OK(gpuexec_copy(s.stream, before, p, BYTES));
        CHECK_OK(gpuexec_free_on(s.stream, p));
        CHECK_OK(add_to(&s, s.stream, s.data, 1));
    }
    CHECK_MADE(g);
    for (i = 0; i < 3; i++) CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_copy_out(s.stream, host, before, 4));
    CHECK_OK(gpuexec_copy_out(s.stream, host + 1, s.data, 4));
    CHECK_OK(gpuexec_free_on(s.stream, before));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(host[0], 3);
    CHECK_EQ(host[1], 3);
    CHECK_OK(gpuexec_graph_destroy(g));
}

/* Each launch allocates the memory again. */
TEST(a_graph_that_leaves_memory_to_the_program) {
    setting s = begin();
    gpuexec_graph g = { 0 };
    gpuexec_ptr p = 0, q = gpuexec_alloc_on(s.stream, BYTES);
    int i;
    GPUEXEC_CAPTURE(s.stream, &g) {
        p = gpuexec_alloc_on(s.stream, BYTES);
        CHECK_OK(gpuexec_fill(s.stream, p, 7, 4, WORDS));
        CHECK_OK(gpuexec_free(q)); /* after the capture */
    }
    for (i = 0; i < 3; i++) {
        CHECK_OK(gpuexec_graph_launch(g, s.stream));
        CHECK_OK(add_to(&s, s.stream, p, (uint32_t)i));
        CHECK_OK(gpuexec_copy_out(s.stream, s.host + i, p, 4));
        CHECK_OK(gpuexec_free_on(s.stream, p));
    }
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < 3; i++) CHECK_EQ(s.host[i], 7 + i);
    CHECK_OK(gpuexec_context_close(s.ctx)); /* frees it the fourth time */
}

TEST(a_graph_whose_memory_is_freed_on_a_stream) {
    setting s = begin();
    gpuexec_ptr p[2];
    int i;
    p[0] = gpuexec_alloc_on(s.stream, BYTES);
    p[1] = gpuexec_alloc(s.ctx, BYTES);
    for (i = 0; i < 2; i++) {
        gpuexec_graph g = { 0 };
        GPUEXEC_CAPTURE(s.stream, &g) CHECK_OK(gpuexec_fill(s.stream, p[i], 7, 4, WORDS));
        CHECK_OK(gpuexec_graph_launch(g, s.stream));
        CHECK_OK(gpuexec_free_on(s.stream, p[i]));
        CHECK_REFUSED(gpuexec_graph_launch(g, s.stream), GPUEXEC_STALE_HANDLE,
                "node 0 uses the 2048 bytes", "which were freed at ", "pool.c:");
    }
}

TEST(the_allocation_is_known) {
    setting s = begin();
    gpuexec_ptr p = gpuexec_alloc_on(s.stream, 100);
    gpuexec_pointer_info i;
    CHECK_OK(gpuexec_pointer_get_info(p + 99, &i));
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_DEVICE);
    CHECK_EQ(i.base, p);
    CHECK_EQ(i.bytes, 100);
    CHECK_EQ(i.device_address, p + 99);
    CHECK_EQ(i.ours, 1);
    CHECK_TEXT(i.where, "pool.c:");
    CHECK_REFUSED(gpuexec_fill(s.stream, p, 0, 1, 101), GPUEXEC_BAD_ARGUMENT,
            "only 100 bytes remain", "pool.c:");
    CHECK_REFUSED(gpuexec_copy_in(s.stream, p + 4, s.host, 100), GPUEXEC_BAD_ARGUMENT,
            "only 96 bytes remain");
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

static void open_later(void *word) {
    test_sleep_ms(30); /* not order: it could be freed too early */
    __atomic_store_n((uint32_t *)word, 1, __ATOMIC_RELAXED);
}
TEST(both_ways_to_free) {
    setting s = begin();
    gpuexec_stream_desc free_of_the_others = { 0 };
    gpuexec_stream other;
    gpuexec_ptr p = gpuexec_alloc_on(s.stream, BYTES), q = gpuexec_alloc(s.ctx, BYTES);
    free_of_the_others.non_blocking = 1;
    other = gpuexec_stream_create(s.ctx, &free_of_the_others);
    gate_close(s.gate, s.stream);
    CHECK_OK(add_to(&s, s.stream, p, 1));
    CHECK_OK(gpuexec_stream_host_function(other, open_later, s.gate.word));
    CHECK_OK(gpuexec_free(p)); /* waits */
    CHECK_OK(gpuexec_stream_query(s.stream));
    CHECK_OK(gpuexec_fill(s.stream, q, 1, 1, BYTES));
    CHECK_OK(gpuexec_free_on(s.stream, q));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_FAILED(gpuexec_free(q), GPUEXEC_BAD_ARGUMENT, "was already freed; it was part of ",
            "(allocated at tests/header/unit/pool.c:", ", freed at tests/header/unit/pool.c:");
}

TEST(wrong_frees) {
    setting s = begin();
    gpuexec_ptr p = gpuexec_alloc_on(s.stream, 100);
    gpuexec_stream none = { 0 }, dead = gpuexec_stream_create(s.ctx, NULL);
    CHECK_OK(gpuexec_stream_destroy(dead));
    CHECK_OK(gpuexec_free_on(s.stream, 0));
    CHECK_OK(gpuexec_free_on(none, 0));
    CHECK_FAILED(gpuexec_free_on(s.stream, p + 1), GPUEXEC_BAD_ARGUMENT,
            "is 1 byte after the beginning of the 100 bytes",
            "pass the address at which the memory begins");
    CHECK_FAILED(gpuexec_free_on(s.stream, (uintptr_t)s.host), GPUEXEC_BAD_ARGUMENT,
            "is pinned memory", "gpuexec_free_pinned");
    CHECK_FAILED(gpuexec_free_on(none, p), GPUEXEC_BAD_HANDLE, "the stream was never created");
    CHECK_FAILED(gpuexec_free_on(dead, p), GPUEXEC_STALE_HANDLE, "the stream is stale");
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_FAILED(gpuexec_free_on(s.stream, p), GPUEXEC_BAD_ARGUMENT, "was already freed");
    CHECK_FAILED(gpuexec_free_on(GPUEXEC_CURRENT, p), GPUEXEC_BAD_ARGUMENT, "was already freed");
    /* by gpuexec, if another allocation begins in these bytes; otherwise by the driver */
    CHECK_REFUSED(
            gpuexec_fill(s.stream, p, 0, 1, 0x7FFFFFFF), GPUEXEC_BAD_ARGUMENT, "gpuexec_fill");
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

/* A GPU would often copy what is left there. The table of allocations refuses it, also after the
   memory was returned to the system; memory that was allocated at the same address since then
   works. */
TEST(memory_freed_in_stream_order_is_not_used) {
    setting s = begin();
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc_on_at("made.c:1", s.stream, BYTES),
                q = gpuexec_alloc_on(s.stream, BYTES), again;
    uint32_t word = 0;
    int turn;
    CHECK_OK(gpuexec_fill(s.stream, p, 1, 1, BYTES));
    CHECK_OK(gpuexec_free_on_at("gone.c:2", s.stream, p));
#define FREED(call) \
    CHECK_REFUSED(call, GPUEXEC_BAD_ARGUMENT, " was freed: ", " bytes of device memory at 0x", \
            "(allocated at made.c:1, freed at gone.c:2)", \
            "free memory only after the last call that uses it")
    for (turn = 0; turn < 3; turn++) {
        FREED(gpuexec_copy_out(s.stream, &word, p, 4));
        FREED(gpuexec_copy_out(other, &word, p + 8, 4));
        FREED(gpuexec_copy_out_now(s.ctx, &word, p, 4));
        FREED(gpuexec_copy_in(s.stream, p, &word, 4));
        FREED(gpuexec_copy(s.stream, q, p, 4));
        FREED(gpuexec_copy(s.stream, p, q, 4));
        FREED(gpuexec_fill(s.stream, p, 0, 1, BYTES));
        FREED(gpuexec_fill(s.stream, p, 0, 4, 1));
        FREED(gpuexec_copy_with(s.stream, ROWS(ON_DEVICE(q, 8), ON_DEVICE(p, 8), 8, 2)));
        FREED(gpuexec_fill(GPUEXEC_CURRENT, p, 0, 1, BYTES));
        /* the driver knows now that it is free */
        if (turn == 0) CHECK_OK(gpuexec_stream_sync(s.stream));
        if (turn == 1) CHECK_OK(gpuexec_pool_trim(gpuexec_context_pool(s.ctx), 0));
    }
    CHECK_OK(gpuexec_free_on(s.stream, q));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (turn = 0; turn < 3; turn++) {
        again = turn ? gpuexec_alloc_on(s.stream, BYTES) : gpuexec_alloc(s.ctx, BYTES);
        CHECK_OK(gpuexec_fill(s.stream, again, 5, 1, BYTES));
        CHECK_OK(gpuexec_copy_out(s.stream, &word, again, 4));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_EQ(word, 0x05050505);
        CHECK_OK(gpuexec_free_on(s.stream, again));
    }
}
/* Other code may allocate from a pool whose native handle it has, at an address that gpuexec has
   freed. */
TEST(others_allocate_where_gpuexec_freed) {
    setting s = begin();
    gpuexec_pool pool = gpuexec_pool_create(s.ctx, NULL);
    gpuexec_ptr p, q = 0;
    uint32_t word = 0;
    if (getenv("SIMGPU_SCHEDULE")) SKIP("an adversary may give it other memory");
    cu = calls_find();
    p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_EQ(cu.cuMemAllocFromPoolAsync(
                     &q, BYTES, gpuexec_pool_native(pool), gpuexec_stream_native(s.stream)),
            0);
    CHECK_EQ(q, p); /* otherwise this tests nothing */
    CHECK_OK(gpuexec_fill(s.stream, q, 3, 1, BYTES));
    CHECK_OK(gpuexec_copy_out(s.stream, &word, q, 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(word, 0x03030303);
    CHECK_EQ(cu.cuMemFreeAsync(q, gpuexec_stream_native(s.stream)), 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_destroy(pool));
}

/* A failure is latched and marks the stream; clean-up is not refused. */
TEST(wrong_allocations) {
    setting s = begin();
    const gpuexec_stream none = { 0 };
    gpuexec_ptr p = gpuexec_alloc_on(s.stream, 100);
    CHECK_EQ(gpuexec_alloc_on(s.stream, 0), 0);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_alloc_on: cannot allocate 0 bytes");
    CHECK_EQ(gpuexec_alloc_on(s.stream, 100), 0);
    CHECK_TEXT(gpuexec_error_text(), "cannot allocate 0 bytes",
            "because of this failure, gpuexec_alloc_on at", "was refused");
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(gpuexec_alloc_on(none, 100), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_HANDLE);
    CHECK_EQ(gpuexec_alloc_on(s.stream, (size_t)1 << 61), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    p = gpuexec_alloc_on(s.stream, 2048);
    CHECK_EQ(gpuexec_alloc_on(s.stream, (size_t)1 << 50), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "cannot allocate 1.0 PiB (1125899906842624 bytes) of device memory on device 0: ",
            " are free; memory pools have reserved ", " bytes), of which ", " are in use",
            "cuMemAllocFromPoolAsync returned CUDA_ERROR_OUT_OF_MEMORY", "request less");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK(gpuexec_alloc_on(s.stream, 100) != 0);
    CHECK_OK(gpuexec_free(p));
}

/* While another library captures on this thread, the driver refuses both calls, and the attempt
   breaks that capture, unless the thread's capture mode is relaxed; the second round takes the fast
   way. */
TEST(beside_another_library_s_capture) {
    setting s = begin();
    gpuexec_stream theirs = gpuexec_stream_create(s.ctx, NULL);
    int mode, i;
    for (mode = 0; mode < 3; mode++) {
        void *graph = NULL;
        CHECK_EQ(cu.cuStreamBeginCapture_v2(gpuexec_stream_native(theirs), mode), 0);
        for (i = 0; i < 2; i++)
            CHECK_OK(gpuexec_free_on(s.stream, gpuexec_alloc_on(s.stream, BYTES)));
        CHECK_EQ(cu.cuStreamEndCapture(gpuexec_stream_native(theirs), &graph), 0);
        CHECK_EQ(cu.cuGraphDestroy(graph), 0);
    }
}

/* GPUEXEC_CURRENT: for an allocation in the current context, for a free in that of the memory. */
TEST(on_the_current_stream) {
    setting s = begin();
    gpuexec_context made = gpuexec_context_create(0, NULL);
    gpuexec_stream own = gpuexec_context_stream(s.ctx), mine = gpuexec_stream_create(s.ctx, NULL);
    void *foreign = NULL;
    gpuexec_ptr p = 0;
    CHECK_EQ(gpuexec_alloc_on(GPUEXEC_CURRENT, 100), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "GPUEXEC_CURRENT does not refer to a stream here: no context is current on this thread",
            "gpuexec_context_push", "gpuexec_context_stream(context)");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(cu.cuCtxCreate_v2(&foreign, 0, 0), 0);
    CHECK_EQ(gpuexec_alloc_on(GPUEXEC_CURRENT, 100), 0);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec has no handle for the current context");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(cu.cuCtxDestroy_v2(foreign), 0);
    CHECK_OK(gpuexec_context_set_stream(s.ctx, mine));
    GPUEXEC_CONTEXT_SCOPE(s.ctx) {
        gate_close(s.gate, mine);
        p = gpuexec_alloc_on(GPUEXEC_CURRENT, BYTES);
        CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, p, 7, 1, BYTES));
        CHECK_OK(gpuexec_stream_query(own));
        CHECK_RESULT(gpuexec_stream_query(mine), GPUEXEC_NOT_READY);
        gate_open(s.gate);
    }
    GPUEXEC_CONTEXT_SCOPE(made) CHECK_OK(gpuexec_free_on(GPUEXEC_CURRENT, p));
    CHECK_OK(gpuexec_stream_sync(mine));
    GPUEXEC_CONTEXT_SCOPE(made) p = gpuexec_alloc_on(GPUEXEC_CURRENT, BYTES);
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK_OK(gpuexec_fill(GPUEXEC_CURRENT, p, 1, 1, BYTES)); /* it is in the other context */
    CHECK_OK(gpuexec_stream_sync(gpuexec_context_stream(made)));
    CHECK_OK(gpuexec_free_on(gpuexec_context_stream(made), p));
}

TEST(a_pool_for_each_device) {
    setting s = begin();
    gpuexec_context made = gpuexec_context_create(0, NULL);
    gpuexec_stream t = gpuexec_stream_create(made, NULL);
    gpuexec_ptr p = gpuexec_alloc_on(s.stream, BYTES), q = gpuexec_alloc_on(t, BYTES);
    void *pool = pool_of(p), *usual = NULL;
    CHECK_EQ(cu.cuDeviceGetDefaultMemPool(&usual, 0), 0);
    CHECK(pool && pool == pool_of(q) && pool != usual);
    CHECK(attribute(pool, THRESHOLD) == UINT64_MAX);
    CHECK_EQ(attribute(usual, THRESHOLD), 0);
    CHECK_EQ(attribute(usual, USED_HIGH), 0);
    CHECK(attribute(pool, USED) >= 2 * BYTES);
    CHECK(attribute(pool, RESERVED) >= attribute(pool, USED));
    CHECK_OK(gpuexec_context_close(s.ctx)); /* frees p; the pool remains */
    CHECK_OK(gpuexec_fill(t, q, 1, 1, BYTES));
    CHECK_OK(gpuexec_stream_sync(t));
    CHECK(pool_of(q) == pool && pool_of(gpuexec_alloc_on(t, BYTES)) == pool);
    CHECK_OK(gpuexec_context_close(made));
    /* a GPU may crash */
    if (on_cpu_device() && !test_strict()) CHECK_EQ(cu.cuMemPoolTrimTo(pool, 0), 1);
}

static char lines[4000];
static void keep_lines(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s", text);
}
TEST(leaks_are_reported) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    gpuexec_stream s;
    lines[0] = 0;
    desc.log = keep_lines;
    desc.report_leaks = 1;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    CHECK(gpuexec_alloc_on(s, 12345) != 0);
    CHECK_OK(gpuexec_free_on(s, gpuexec_alloc_on(s, 54321)));
    CHECK_OK(gpuexec_shutdown());
    CHECK_TEXT(lines, "leak: 12345 bytes of device memory at 0x", "allocated at ", "pool.c:");
    CHECK(strstr(lines, "54321") == NULL);
}

/* The owner destroys its context: the memory outlives it, and gpuexec frees it, though a GPU's
   driver can refuse that (709), and then keeps it until the pool is destroyed. */
TEST(a_context_that_its_owner_destroys) {
    setting s = begin();
    gpuexec_context owner = gpuexec_context_create(0, NULL),
                    adopted = gpuexec_context_from_native(gpuexec_context_native(owner));
    gpuexec_stream t = gpuexec_stream_create(adopted, NULL);
    gpuexec_ptr p = gpuexec_alloc_on(t, BYTES);
    void *pool = pool_of(p);
    const uint64_t used = attribute(pool, USED);
    CHECK_OK(gpuexec_stream_sync(t));
    CHECK_OK(gpuexec_context_close(owner));
    CHECK_FAILED(gpuexec_free_on(t, p), GPUEXEC_STALE_HANDLE, "was destroyed outside gpuexec");
    CHECK_EQ(gpuexec_alloc_on(t, BYTES), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_STALE_HANDLE);
    if (on_cpu_device()) CHECK(attribute(pool, USED) < used);
    CHECK_OK(gpuexec_free_on(s.stream, gpuexec_alloc_on(s.stream, BYTES)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

/* --- pools that the program creates ----------------------------------------------------------- */

enum { LARGE = 4 << 20 };
#define CHECK_NO_MEMORY(call, why, ...) \
    (CHECK_EQ(call, 0), CHECK_REFUSED(gpuexec_error_detail()->result, why, __VA_ARGS__))
static gpuexec_pool_info info_of(gpuexec_pool pool) {
    gpuexec_pool_info info;
    CHECK_OK(gpuexec_pool_get_info(pool, &info));
    return info;
}

TEST(a_pool_of_the_program) {
    setting s = begin();
    gpuexec_pool pool = gpuexec_pool_create(s.ctx, NULL), own = gpuexec_context_pool(s.ctx);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_ptr p = gpuexec_pool_alloc(pool, s.stream, LARGE),
                q = gpuexec_pool_alloc(pool, other, LARGE);
    gpuexec_pool_info i = info_of(pool);
    CHECK(pool_of(p) == gpuexec_pool_native(pool) && pool_of(q) == pool_of(p));
    CHECK(gpuexec_pool_native(own) == pool_of(gpuexec_alloc_on(s.stream, 4)) &&
            pool_of(p) != pool_of(s.data));
    CHECK(gpuexec_same(own, gpuexec_context_pool(s.ctx)) && !gpuexec_same(own, pool));
    CHECK(i.device == 0 && !i.plain && i.threshold == SIZE_MAX && i.max_bytes == 0);
    CHECK(i.used == 2 * LARGE && i.used_high == i.used && i.reserved >= i.used &&
            i.reserved_high == i.reserved);
    CHECK_OK(gpuexec_fill(s.stream, p, 5, 4, WORDS));
    CHECK_OK(add_to(&s, s.stream, p, 2));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, p, BYTES));
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_free_on(other, q));
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_EQ(s.host[WORDS - 1], 7);
    i = info_of(pool); /* it keeps what was freed, across a wait */
    CHECK_EQ(i.used, 0);
    CHECK_EQ(i.used_high, 2 * LARGE);
    CHECK(i.reserved >= 2 * LARGE);
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK_EQ(info_of(pool).reserved, 0);
    CHECK_OK(gpuexec_pool_reset_high(pool));
    i = info_of(pool);
    CHECK_EQ(i.used_high, 0);
    CHECK_EQ(i.reserved_high, 0);
    p = gpuexec_pool_alloc(pool, s.stream, LARGE);
    CHECK_OK(gpuexec_pool_destroy(pool)); /* what is allocated remains */
    CHECK_OK(gpuexec_fill(s.stream, p, 1, 1, LARGE));
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_NO_MEMORY(gpuexec_pool_alloc(pool, s.stream, 4), GPUEXEC_STALE_HANDLE,
            "gpuexec_pool_alloc: the pool is stale");
}

TEST(a_pool_that_returns_memory) {
    setting s = begin();
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool pool, own = gpuexec_context_pool(s.ctx);
    gpuexec_ptr p;
    int i;
    desc.release = 1;
    pool = gpuexec_pool_create(s.ctx, &desc);
    for (i = 0; i < 2; i++) { /* a desc, or a setter */
        const gpuexec_pool from = i ? own : pool;
        CHECK_EQ(info_of(from).threshold, 0);
        p = gpuexec_pool_alloc(from, s.stream, LARGE);
        CHECK(info_of(from).reserved >= LARGE);
        CHECK_OK(gpuexec_free_on(s.stream, p));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK(info_of(from).reserved < LARGE);
        CHECK_OK(gpuexec_pool_set_threshold(own, 0));
    }
    desc.release_threshold = 1 << 20;
    CHECK_EQ(info_of(gpuexec_pool_create(s.ctx, &desc)).threshold, 1 << 20);
    CHECK_OK(gpuexec_pool_set_threshold(own, SIZE_MAX));
    CHECK_EQ(info_of(own).threshold, SIZE_MAX);
}

/* Its settings do not change; several handles refer to the same pool. */
TEST(the_default_pool) {
    setting s = begin();
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool pool;
    void *usual = NULL;
    desc.use_default = 1;
    pool = gpuexec_pool_create(s.ctx, &desc);
    CHECK_EQ(cu.cuDeviceGetDefaultMemPool(&usual, 0), 0);
    CHECK(gpuexec_pool_native(pool) == usual);
    CHECK(pool_of(gpuexec_pool_alloc(pool, s.stream, BYTES)) == usual);
    CHECK_EQ(info_of(pool).threshold, 0);
    CHECK_REFUSED(gpuexec_pool_set_threshold(pool, 1), GPUEXEC_BAD_ARGUMENT,
            "cannot change the threshold",
            "this is the default pool of device 0, which is shared with other libraries",
            "gpuexec_pool_native");
    CHECK_REFUSED(gpuexec_pool_reset_high(pool), GPUEXEC_BAD_ARGUMENT, "the high-water marks");
    CHECK_REFUSED(gpuexec_pool_peer_enable(pool, s.ctx), GPUEXEC_BAD_ARGUMENT,
            "which devices can access the pool");
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK_OK(gpuexec_pool_destroy(pool));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(attribute(usual, THRESHOLD), 0);
    desc.exportable = 1;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT, "use_default is 1",
            "the default pool of device 0 has other users", "without use_default");
}

/* Another library's pool: its memory and settings are used through the handle, and outlive it. */
TEST(a_pool_of_another_library) {
    setting s = begin();
    /* CUmemPoolProps: pinned memory, no export, on device 0 */
    const int properties[22] = { 1, 0, 1, 0 };
    void *native = NULL;
    gpuexec_pool pool;
    gpuexec_ptr p;
    CHECK_EQ(cu.cuMemPoolCreate(&native, properties), 0);
    pool = gpuexec_pool_from_native(s.ctx, (struct CUmemPoolHandle_st *)native);
    CHECK_MADE(pool);
    CHECK((void *)gpuexec_pool_native(pool) == native);
    p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK(pool_of(p) == native);
    CHECK_EQ(info_of(pool).used, attribute(native, USED));
    CHECK_OK(gpuexec_pool_set_threshold(pool, 12345));
    CHECK_EQ(attribute(native, THRESHOLD), 12345);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_pool_destroy(pool));
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, 4), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_STALE_HANDLE);
    CHECK_EQ(attribute(native, THRESHOLD), 12345);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(cu.cuMemPoolDestroy(native), 0);
    CHECK_NOT_MADE(gpuexec_pool_from_native(s.ctx, NULL), GPUEXEC_BAD_ARGUMENT,
            "the CUmemoryPool is NULL");
}
TEST(a_pool_with_a_limit) {
    setting s = begin();
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool pool;
    gpuexec_ptr p;
    if (!gpuexec_driver_symbol("cuMemPrefetchAsync", 12020)) SKIP("needs a driver for CUDA 12.2");
    desc.max_bytes = 64 << 20;
    pool = gpuexec_pool_create(s.ctx, &desc);
    CHECK_EQ(info_of(pool).max_bytes, 64 << 20);
    p = gpuexec_pool_alloc(pool, s.stream, 48 << 20);
    CHECK(p != 0);
    CHECK_NO_MEMORY(gpuexec_pool_alloc(pool, s.stream, 32 << 20), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "gpuexec_pool_alloc: cannot allocate 33554432 bytes from the pool created at ",
            "pool.c:", ": 50331648 bytes are in use, and max_bytes is 67108864",
            "a larger max_bytes");
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK(gpuexec_pool_alloc(pool, s.stream, 32 << 20) != 0);
}

TEST(wrong_calls_on_pools) {
    setting s = begin();
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool_info info;
    const gpuexec_pool none = { 0 }, own = gpuexec_context_pool(s.ctx);
    gpuexec_context closed = gpuexec_context_open(0, NULL);
    int can = 2;
    desc.start_canary = 1;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc was not zero-init");
    desc.start_canary = 0;
    desc.release_threshold = 5;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "release_threshold is 5, but release is 0");
    CHECK_OK(gpuexec_context_close(closed));
    CHECK_NOT_MADE(gpuexec_pool_create(closed, NULL), GPUEXEC_STALE_HANDLE,
            "it was closed by gpuexec_context_close");
    CHECK_NOT_MADE(gpuexec_context_pool(closed), GPUEXEC_STALE_HANDLE,
            "it was closed by gpuexec_context_close");
    CHECK_NO_MEMORY(gpuexec_pool_alloc(none, s.stream, 4), GPUEXEC_BAD_HANDLE,
            "the pool was never created");
    CHECK_NO_MEMORY(gpuexec_pool_alloc(own, s.stream, 0), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_alloc: cannot allocate 0 bytes");
    CHECK_FAILED(gpuexec_pool_trim(none, 0), GPUEXEC_BAD_HANDLE, "the pool was never created");
    CHECK_FAILED(gpuexec_pool_get_info(own, NULL), GPUEXEC_BAD_ARGUMENT, "\"info\" is NULL");
    CHECK_FAILED(
            gpuexec_pool_get_info(none, &info), GPUEXEC_BAD_HANDLE, "the pool was never created");
    CHECK_REFUSED(
            gpuexec_pool_set_threshold(none, 0), GPUEXEC_BAD_HANDLE, "the pool was never created");
    CHECK_REFUSED(gpuexec_pool_reset_high((gpuexec_pool){ s.stream.id }), GPUEXEC_WRONG_KIND,
            "is a stream");
    CHECK_REFUSED(gpuexec_pool_peer_enable(own, closed), GPUEXEC_STALE_HANDLE,
            "it was closed by gpuexec_context_close");
    CHECK_OK(gpuexec_pool_peer_enable(own, s.ctx));
    CHECK_OK(gpuexec_pool_peer_disable(own, s.ctx));
    CHECK_OK(gpuexec_pool_peer_query(own, s.ctx, &can));
    CHECK_EQ(can, 1);
    CHECK_FAILED(gpuexec_pool_peer_query(own, closed, &can), GPUEXEC_STALE_HANDLE,
            "it was closed by gpuexec_context_close");
    CHECK_FAILED(gpuexec_pool_peer_query(none, s.ctx, &can), GPUEXEC_BAD_HANDLE,
            "the pool was never created");
    CHECK_FAILED(
            gpuexec_pool_peer_query(own, s.ctx, NULL), GPUEXEC_BAD_ARGUMENT, "\"can\" is NULL");
    CHECK(gpuexec_pool_native(none) == NULL);
    CHECK_FAILED(gpuexec_pool_destroy(own), GPUEXEC_BAD_ARGUMENT, "cannot destroy gpuexec's pool",
            "the last context on device 0", "gpuexec_pool_trim");
    CHECK_OK(gpuexec_pool_destroy(none));
}

/* Settings are possible while a stream captures; an allocation becomes a node. */
TEST(pools_in_a_capture) {
    setting s = begin();
    gpuexec_pool pool = { 0 }, before = gpuexec_pool_create(s.ctx, NULL);
    gpuexec_graph g = { 0 };
    gpuexec_ptr p;
    GPUEXEC_CAPTURE(s.stream, &g) {
        pool = gpuexec_pool_create(s.ctx, NULL);
        CHECK_OK(gpuexec_pool_set_threshold(pool, 0));
        CHECK_OK(gpuexec_pool_reset_high(pool));
        CHECK_EQ(info_of(pool).threshold, 0);
        CHECK_OK(gpuexec_pool_trim(gpuexec_context_pool(s.ctx), 0));
        p = gpuexec_pool_alloc(pool, s.stream, BYTES);
        CHECK_OK(gpuexec_fill(s.stream, p, 3, 4, WORDS));
        CHECK_OK(gpuexec_copy(s.stream, s.data, p, BYTES));
        CHECK_OK(gpuexec_free_on(s.stream, p));
        CHECK_OK(gpuexec_pool_destroy(before));
    }
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(s.host[0], 3);
}

TEST_MULTI(pools_and_other_devices) {
    gpuexec_context ctx[2];
    gpuexec_stream s[2];
    gpuexec_pool pool;
    gpuexec_module mod;
    gpuexec_ptr p;
    uint32_t host[WORDS], n = WORDS, by = 3;
    int i, can = 2;
    if (gpuexec_device_count() < 2) SKIP("only one device");
    for (i = 0; i < 2; i++) {
        ctx[i] = gpuexec_context_open(i, NULL);
        s[i] = gpuexec_stream_create(ctx[i], NULL);
    }
    pool = gpuexec_pool_create(ctx[0], NULL);
    CHECK_NO_MEMORY(gpuexec_pool_alloc(pool, s[1], BYTES), GPUEXEC_WRONG_CONTEXT,
            "the pool is on device 0, but the stream is on device 1");
    if (!gpuexec_device_can_access_peer(1, 0)) SKIP("no access between these devices");
    p = gpuexec_pool_alloc(pool, s[0], BYTES);
    CHECK_OK(gpuexec_fill(s[0], p, 4, 4, WORDS));
    CHECK_OK(gpuexec_pool_peer_query(pool, ctx[1], &can));
    CHECK_EQ(can, 0);
    CHECK_OK(gpuexec_pool_peer_enable(pool, ctx[1]));
    CHECK_OK(gpuexec_pool_peer_query(pool, ctx[1], &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_stream_wait_stream(s[1], s[0]));
    mod = gpuexec_module_load_file(ctx[1], UNIT_PTX, NULL);
    CHECK_OK(gpuexec_launch(gpuexec_kernel_get(mod, "add"), s[1], gpuexec_grid_for(n, 128),
            GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_stream_sync(s[1]));
    CHECK_OK(gpuexec_copy_out(s[0], host, p, BYTES));
    CHECK_OK(gpuexec_stream_sync(s[0]));
    for (i = 0; i < WORDS; i++)
        if (!CHECK_EQ(host[i], 7)) break;
    CHECK_OK(gpuexec_pool_peer_disable(pool, ctx[1]));
}

/* --- frames: allocate, compute, free ---------------------------------------------------------- */

/* Memory that pools keep is part of what is missing: every allocation that fails says how much
   trimming would return. The driver trims the pool of an allocation that fails. */
TEST(what_pools_keep_when_memory_runs_out) {
    setting s = begin();
    gpuexec_pool pool = gpuexec_context_pool(s.ctx);
    gpuexec_pool_info i;
    char reserved[64], left[80];
    gpuexec_ptr used = gpuexec_alloc_on(s.stream, 1000), p = gpuexec_alloc_on(s.stream, 40 << 20);
    size_t pitch;
    int way;
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_get_info(pool, &i));
    CHECK(used && i.used >= 1000 && i.reserved >= 40 << 20 && i.used < i.reserved);
    for (way = 0; way < 4; way++) {
        const size_t much = (size_t)1 << 50;
        p = way == 0       ? gpuexec_alloc(s.ctx, much)
                : way == 1 ? gpuexec_alloc_pitched(s.ctx, much / 4, 4, 4, &pitch)
                : way == 2 ? gpuexec_alloc_on(s.stream, much)
                           : gpuexec_alloc_managed(s.ctx, much, NULL);
        CHECK_EQ(p, 0);
        CHECK_OK(gpuexec_pool_get_info(pool, &i));
        snprintf(reserved, sizeof reserved, "(%llu bytes), of which",
                (unsigned long long)i.reserved);
        snprintf(left, sizeof left, "return at most %.1f MiB (%llu bytes)",
                (double)(i.reserved - i.used) / (1 << 20),
                (unsigned long long)(i.reserved - i.used));
        CHECK_TEXT(gpuexec_error_text(), "cannot allocate ", "1125899906842624", " are free",
                reserved, left);
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    }
    CHECK(gpuexec_alloc_pinned(s.ctx, (size_t)1 << 50) == NULL);
    CHECK_TEXT(gpuexec_error_text(),
            "cannot allocate 1.0 PiB (1125899906842624 bytes) of pinned host memory: ",
            " of the host's ", " are free");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_HOST_MEMORY);
}

enum { FRAMES = 1000, FRAME_THREADS = 8 };
typedef struct frames {
    const setting *s;
    gpuexec_pool pool;
    size_t unit;
    uint32_t number;
    int refused;
} frames;
/* Memory may run out: that is an error with numbers, after which the thread goes on with another
   frame. */
static void *run_frames(void *user) {
    frames *me = (frames *)user;
    gpuexec_stream stream = gpuexec_stream_create(me->s->ctx, NULL);
    uint32_t seed = me->number, host, frame;
    for (frame = 0; frame < FRAMES / FRAME_THREADS;) {
        const size_t bytes = me->unit * (1 + test_random(&seed) % 8);
        gpuexec_ptr p = frame % 2 ? gpuexec_pool_alloc(me->pool, stream, bytes)
                                  : gpuexec_alloc_on(stream, bytes);
        if (!p) {
            const gpuexec_error *e = gpuexec_error_detail();
            CHECK(e->result == GPUEXEC_OUT_OF_DEVICE_MEMORY);
            CHECK_TEXT(e->message, "cannot allocate ",
                    " bytes) of device memory on device 0: ", " are free");
            CHECK_RESULT(gpuexec_stream_sync(stream), GPUEXEC_OUT_OF_DEVICE_MEMORY);
            me->refused++;
            continue;
        }
        CHECK_OK(gpuexec_fill(stream, p, frame, 4, WORDS));
        CHECK_OK(add_to(me->s, stream, p, me->number));
        CHECK_OK(gpuexec_copy_out(stream, &host, p, 4));
        CHECK_OK(gpuexec_free_on(stream, p));
        CHECK_OK(gpuexec_stream_sync(stream));
        if (!CHECK_EQ(host, frame + me->number)) break;
        frame++;
    }
    CHECK_OK(gpuexec_stream_destroy(stream));
    return NULL;
}
/* Returns how many allocations failed. */
static int frames_on_all_threads(const setting *s, size_t unit) {
    frames all[FRAME_THREADS];
    pthread_t threads[FRAME_THREADS];
    gpuexec_pool pool = gpuexec_pool_create(s->ctx, NULL), own = gpuexec_context_pool(s->ctx);
    size_t before = 0, after = 0;
    int i, refused = 0;
    CHECK_OK(gpuexec_stream_sync(s->stream));
    CHECK_OK(gpuexec_pool_trim(own, 0));
    CHECK_OK(gpuexec_context_get_memory(s->ctx, &before, NULL));
    for (i = 0; i < FRAME_THREADS; i++) {
        const frames one = { s, pool, unit, (uint32_t)i + 1, 0 };
        all[i] = one;
        CHECK_EQ(pthread_create(&threads[i], NULL, run_frames, &all[i]), 0);
    }
    for (i = 0; i < FRAME_THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        refused += all[i].refused;
    }
    CHECK(info_of(own).used == 0 && info_of(pool).used == 0);
    CHECK_OK(gpuexec_pool_trim(own, 0));
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK_OK(gpuexec_context_get_memory(s->ctx, &after, NULL));
    if (on_cpu_device()) CHECK_EQ(after, before); /* a GPU has other users */
    return refused;
}
TEST(frames_on_threads) {
    const setting s = begin();
    CHECK_EQ(frames_on_all_threads(&s, 1 << 16), 0);
}
/* Of 64 MiB, 3 are left: the largest frames, of 4, do not fit, and others only at times. */
TEST_ALONE(frames_with_little_memory) {
    setting s;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_MEMORY", "64M", 1);
    s = begin();
    CHECK(gpuexec_alloc(s.ctx, 61 << 20) != 0);
    CHECK(frames_on_all_threads(&s, 512 << 10) > 0);
}

TEST_ALONE(a_device_without_pools) {
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool_info info;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_pool plain;
    gpuexec_graph g = { 0 };
    gpuexec_ptr p = 0;
    void *pool = NULL;
    const int props[22] = { 1, 0, 1, 0 };
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_DEVICE_0", "115=0", 1);
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    CHECK_EQ(gpuexec_alloc_on(s, 100), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "device 0 has no memory pools: CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0",
            "use gpuexec_alloc and gpuexec_free");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
    cu = calls_find();
    CHECK_EQ(cu.cuMemPoolCreate(&pool, props), 801);
    CHECK_EQ(cu.cuMemAllocAsync(&p, 100, gpuexec_stream_native(s)), 801);
    p = gpuexec_alloc(ctx, 100);
    CHECK_OK(gpuexec_free_on(s, p));
    CHECK_NOT_MADE(gpuexec_pool_create(ctx, NULL), GPUEXEC_NOT_SUPPORTED,
            "device 0 has no memory pools", "or_plain");
    CHECK_NOT_MADE(
            gpuexec_context_pool(ctx), GPUEXEC_NOT_SUPPORTED, "device 0 has no memory pools");
    desc.or_plain = 1;
    plain = gpuexec_pool_create(ctx, &desc);
    p = gpuexec_pool_alloc(plain, s, 100);
    CHECK_OK(gpuexec_fill(s, p, 1, 1, 100));
    CHECK_OK(gpuexec_free_on(s, p));
    CHECK_OK(gpuexec_free(gpuexec_pool_alloc(plain, s, 100)));
    info = info_of(plain);
    CHECK(info.plain && info.used == 0 && info.threshold == 0 &&
            gpuexec_pool_native(plain) == NULL);
    CHECK_OK(gpuexec_pool_trim(plain, 0));
    CHECK_OK(gpuexec_pool_set_threshold(plain, 0));
    CHECK_OK(gpuexec_pool_reset_high(plain));
    GPUEXEC_CAPTURE(s, &g) {
        CHECK_NO_MEMORY(gpuexec_pool_alloc(plain, s, 100), GPUEXEC_CAPTURING,
                "in a capture on a device without memory pools");
    }
    CHECK_MADE(g);
    CHECK_NO_MEMORY(gpuexec_pool_alloc(plain, s, (size_t)1 << 50), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "cannot allocate 1.0 PiB", " are free");
    CHECK_OK(gpuexec_pool_destroy(plain));
}

/* --- pools of the CPU device ------------------------------------------------------------------ */

static void *make_pool(uint64_t threshold, size_t most) {
    int props[22] = { 1, 0, 1, 0 }; /* CUmemPoolProps: pinned, of device 0 */
    void *pool = NULL;
    memcpy(&props[6], &most, sizeof most);
    CHECK_EQ(cu.cuMemPoolCreate(&pool, props), 0);
    CHECK_EQ(cu.cuMemPoolSetAttribute(pool, THRESHOLD, &threshold), 0);
    return pool;
}
static gpuexec_ptr take(void *pool, size_t bytes, void *stream) {
    gpuexec_ptr p = 0;
    CHECK_EQ(cu.cuMemAllocFromPoolAsync(&p, bytes, pool, stream), 0);
    return p;
}

/* A stream gets back what it has freed, also before the free has run; a stream that waits for it
   gets it, too; other streams get other memory until the free has run. */
TEST(freed_memory_is_used_again) {
    if (!on_cpu_device()) SKIP("not on the CPU device");
    if (getenv("SIMGPU_SCHEDULE")) SKIP("an adversary may give it other memory");
    setting s = begin();
    void *a = gpuexec_stream_native(s.stream),
         *b = gpuexec_stream_native(gpuexec_context_stream(s.ctx));
    void *pool = make_pool(UINT64_MAX, 0);
    gpuexec_ptr p = take(pool, BYTES, a), q;
    CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK(cu.cuMemFreeAsync(p, a) == 1 && cu.cuMemFree_v2(p) == 1);
    CHECK(take(pool, BYTES / 2, b) == p);
    CHECK_EQ(cu.cuMemFreeAsync(p, b), 0);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK(take(pool, BYTES, b) == p);
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_fill(s.stream, p, 7, 4, WORDS));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, p, 4));
    CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
    CHECK(cu.cuMemFreeAsync(p, a) == 1);
    q = take(pool, BYTES, b);
    CHECK(q != p);
    CHECK(take(pool, BYTES, a) == p);
    CHECK_EQ(attribute(pool, USED), 2 * BYTES);
    CHECK_OK(gpuexec_fill(s.stream, p, 8, 4, 1));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host + 1, p, 8));
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(s.host[0], 7);
    CHECK_EQ(s.host[1], 8);
    CHECK_EQ(s.host[2], 0xCDCDCDCD); /* new memory, although it was not given back */
    gate_close(s.gate, s.stream);
    CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
    CHECK_OK(gpuexec_stream_wait_stream(gpuexec_context_stream(s.ctx), s.stream));
    CHECK(take(pool, BYTES, b) == p);
    gate_open(s.gate);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_EQ(cu.cuMemFree_v2(q), 0);
    CHECK_EQ(cu.cuMemPoolDestroy(pool), 0);
    CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
}

TEST(accounts_of_a_pool) {
    if (!on_cpu_device()) SKIP("not on the CPU device");
    if (getenv("SIMGPU_SCHEDULE")) SKIP("an adversary may give it other memory");
    setting s = begin();
    void *a = gpuexec_stream_native(s.stream), *pool = make_pool(1 << 20, 1 << 20), *usual = NULL;
    gpuexec_ptr p = take(pool, 4096, a), q = take(pool, 1000, a), r = 0;
    uint64_t zero = 0;
    const uint64_t step = attribute(pool, RESERVED);
    size_t before = 0, after = 0;
    CHECK_EQ(attribute(pool, USED), 4096 + 1000);
    CHECK_EQ(attribute(pool, RESERVED), step);
    CHECK(step >= 1 << 20); /* its maximum is rounded up */
    CHECK_EQ(cu.cuMemAllocFromPoolAsync(&r, step - 4096, pool, a), 2); /* more than that */
    CHECK_EQ(cu.cuMemFreeAsync(q, a), 0);
    CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(attribute(pool, USED), 0);
    CHECK_EQ(attribute(pool, RESERVED), step); /* the threshold */
    CHECK_EQ(attribute(pool, USED_HIGH), 4096 + 1000);
    CHECK_EQ(attribute(pool, RESERVED_HIGH), step);
    CHECK_EQ(cu.cuMemPoolSetAttribute(pool, USED_HIGH, &zero), 0);
    CHECK_EQ(cu.cuMemPoolSetAttribute(pool, RESERVED_HIGH, &zero), 0);
    CHECK_EQ(attribute(pool, USED_HIGH), 0);
    CHECK_EQ(attribute(pool, RESERVED_HIGH), step);
    CHECK_EQ(cu.cuMemPoolSetAttribute(pool, USED, &zero), 1);
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &before, NULL));
    CHECK_EQ(cu.cuMemPoolTrimTo(pool, 0), 0);
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &after, NULL));
    CHECK_EQ(after - before, step);
    CHECK_EQ(attribute(pool, RESERVED), 0);
    CHECK_EQ(cu.cuMemPoolSetAttribute(pool, THRESHOLD, &zero), 0);
    CHECK_EQ(cu.cuMemFreeAsync(take(pool, 64, a), a), 0);
    CHECK_EQ(attribute(pool, RESERVED), step); /* until the program waits */
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(attribute(pool, RESERVED), 0);
    p = take(pool, 4096, a);
    CHECK_EQ(cu.cuMemPoolDestroy(pool), 0); /* at once; the memory remains */
    CHECK_EQ(cu.cuMemPoolDestroy(pool), 1);
    CHECK_EQ(cu.cuMemAllocFromPoolAsync(&r, 8, pool, a), 1);
    CHECK_OK(gpuexec_fill(s.stream, p, 1, 1, 4096));
    CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &before, NULL));
    CHECK_EQ(after, before);
    CHECK_EQ(cu.cuDeviceGetDefaultMemPool(&usual, 0), 0);
    CHECK_EQ(cu.cuMemPoolDestroy(usual), 1);
}

/* What a pool keeps is returned when there is no other memory. */
TEST_ALONE(little_memory) {
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_ptr p;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_MEMORY", "1M", 1);
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    CHECK_OK(gpuexec_free_on(s, gpuexec_alloc_on(s, 600 << 10)));
    CHECK_OK(gpuexec_free_on(s, gpuexec_alloc_on(s, 700 << 10)));
    CHECK_OK(gpuexec_stream_sync(s));
    p = gpuexec_alloc(ctx, 800 << 10);
    CHECK(p != 0);
    CHECK_EQ(gpuexec_alloc_on(s, 500 << 10), 0);
    CHECK_TEXT(gpuexec_error_text(), "cannot allocate 500.0 KiB (512000 bytes)",
            "224.0 KiB (229376 bytes) of 1.0 MiB",
            "memory pools have reserved 0 bytes, of which 0 bytes are in use");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    CHECK_OK(gpuexec_free_on(s, p));
    CHECK(gpuexec_alloc_on(s, 500 << 10) != 0); /* waits for the free */
}

/* With SIMGPU_SCHEDULE, another stream may get memory as soon as its free has run. */
TEST_ALONE(freed_memory_under_schedules) {
    size_t bytes;
    int reused = 0, rounds = 0;
    setting s;
    void *a, *b, *pool;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_SCHEDULE", "1", 1);
    s = begin();
    a = gpuexec_stream_native(s.stream);
    b = gpuexec_stream_native(gpuexec_context_stream(s.ctx));
    pool = make_pool(UINT64_MAX, 0);
    for (bytes = 512; bytes <= 512 * ROUNDS; bytes += 512, rounds++) {
        gpuexec_ptr p = take(pool, bytes, a), q;
        gate_close(s.gate, s.stream);
        CHECK_EQ(cu.cuMemFreeAsync(p, a), 0);
        q = take(pool, bytes, b);
        CHECK(q != p); /* the free has not run */
        gate_open(s.gate);
        CHECK_OK(gpuexec_stream_sync(s.stream));
        reused += take(pool, bytes, b) == p;
    }
    CHECK(reused > 0 && reused < rounds);
}

/* ---- pools on the host ---- */

static gpuexec_pool host_pool(gpuexec_context ctx, gpuexec_pool_location location, int node) {
    gpuexec_pool_desc desc = { 0 };
    desc.location = location;
    desc.numa_node = node;
    return gpuexec_pool_create(ctx, &desc);
}

/* Host, kernels and copies use the same memory by the same address. */
static void use_host_pool(const setting *s, gpuexec_pool pool) {
    enum { n = 1000 };
    const uint32_t by = 5, count = n;
    gpuexec_ptr p = gpuexec_pool_alloc(pool, s->stream, n * 4), q;
    uint32_t *h = (uint32_t *)(uintptr_t)p, i, wrong = 0;
    gpuexec_pointer_info info;
    gpuexec_pool_info numbers;
    if (!CHECK(p != 0)) return;
    CHECK_OK(gpuexec_stream_sync(s->stream));
    for (i = 0; i < 2; i++) { /* the second time from the table alone */
        CHECK_OK(gpuexec_pointer_get_info(p + 8, &info));
        CHECK_EQ(info.kind, GPUEXEC_MEMORY_PINNED);
        CHECK(info.base == p && info.bytes == n * 4 && info.device == 0);
        CHECK(info.host_address == h + 2 && info.device_address == p + 8);
        CHECK(info.ours && info.pool && !info.ipc && strstr(info.where, "pool.c:"));
    }
    CHECK_EQ(gpuexec_pinned_address(h), p);
    for (i = 0; i < n; i++) h[i] = i;
    CHECK_OK(gpuexec_launch(
            s->kernel, s->stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, count)));
    CHECK_OK(gpuexec_copy_in(s->stream, s->data, h, 64)); /* as host memory */
    /* by its address for devices, which an H100 refuses: "Allocation not found" */
    if (on_cpu_device()) CHECK_OK(gpuexec_copy(s->stream, p + 64, s->data, 64));
    else CHECK_OK(gpuexec_copy_out(s->stream, h + 16, s->data, 64));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    for (i = 0; i < n; i++) wrong += h[i] != (i >= 16 && i < 32 ? i - 16 : i) + 5;
    CHECK_EQ(wrong, 0);
    CHECK_OK(gpuexec_pool_get_info(pool, &numbers));
    CHECK(numbers.used >= n * 4 && numbers.reserved >= numbers.used);
    CHECK_OK(gpuexec_free_on(s->stream, p));
    CHECK_FAILED(gpuexec_free_on(s->stream, p), GPUEXEC_BAD_ARGUMENT, "was already freed");
    p = gpuexec_pool_alloc(pool, s->stream, 64);
    CHECK_OK(gpuexec_free(p));
    p = gpuexec_pool_alloc(pool, s->stream, 64);
    q = gpuexec_pool_alloc(pool, s->stream, 64);
    CHECK_OK(gpuexec_free_pinned((void *)(uintptr_t)q)); /* it is pinned memory, too */
    CHECK_OK(gpuexec_context_set_stream(s->ctx, s->stream));
    CHECK_OK(gpuexec_free_on(GPUEXEC_CURRENT, p));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    CHECK_OK(gpuexec_pool_trim(pool, 0));
    CHECK_OK(gpuexec_pool_get_info(pool, &numbers));
    if (on_cpu_device()) CHECK_EQ(numbers.used, 0); /* an H100 still reports 128 bytes */
}

TEST(pools_on_the_host) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_pool pool[3];
    gpuexec_ptr left;
    int i;
    if (gpuexec_driver_version() < 13000) SKIP("needs a driver for CUDA 13.0");
    pool[0] = host_pool(s.ctx, GPUEXEC_POOL_ON_HOST, 0);
    pool[1] = host_pool(s.ctx, GPUEXEC_POOL_ON_HOST_NUMA, 0);
    pool[2] = host_pool(s.ctx, GPUEXEC_POOL_ON_HOST_NUMA, GPUEXEC_NUMA_CLOSEST);
    for (i = 0; i < 3; i++) {
        int can = 0;
        CHECK_MADE(pool[i]);
        CHECK_OK(gpuexec_pool_peer_query(pool[i], s.ctx, &can)); /* which it is not at first */
        CHECK_EQ(can, 1);
        use_host_pool(&s, pool[i]);
    }
    left = gpuexec_pool_alloc(pool[0], s.stream, 100);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_destroy(pool[0])); /* what is allocated remains */
    *(uint32_t *)(uintptr_t)left = 3;
    CHECK_OK(gpuexec_copy_in(s.stream, s.data, (void *)(uintptr_t)left, 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK(gpuexec_pool_alloc(pool[1], s.stream, 100) != 0); /* freed with the context */
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK_FAILED(gpuexec_free(left), GPUEXEC_BAD_ARGUMENT, "was already freed");
}

TEST(wrong_pools_on_the_host) {
    setting s = set_up(UNIT_PTX, "add", 64);
    gpuexec_pool_desc desc = { 0 };
    gpuexec_pool pool;
    CHECK_NOT_MADE(host_pool(s.ctx, (gpuexec_pool_location)3, 0), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.location is 3", "GPUEXEC_POOL_ON_HOST_NUMA (2)");
    CHECK_NOT_MADE(host_pool(s.ctx, GPUEXEC_POOL_ON_DEVICE, 1), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.numa_node is 1, but location is 0");
    CHECK_NOT_MADE(host_pool(s.ctx, GPUEXEC_POOL_ON_HOST, -1), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.numa_node is -1, but location is 1");
    desc.location = GPUEXEC_POOL_ON_HOST;
    desc.exportable = 1;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.exportable is 1, but the pool is on the host");
    desc.exportable = 0;
    desc.or_plain = 1;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.or_plain is 1, but the pool is on the host");
    desc.or_plain = 0;
    desc.use_default = 1;
    CHECK_NOT_MADE(gpuexec_pool_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.use_default is 1");
    if (gpuexec_driver_version() < 13000) SKIP("needs a driver for CUDA 13.0");
    pool = host_pool(s.ctx, GPUEXEC_POOL_ON_HOST_NUMA, 12345);
    CHECK(!gpuexec_ok(pool));
    CHECK_TEXT(gpuexec_error_text(), "cannot create a memory pool on the host, on NUMA node 12345",
            "cuMemPoolCreate returned", "numactl");
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
    pool = host_pool(s.ctx, GPUEXEC_POOL_ON_HOST, 0);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, 64), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_CAPTURING);
    CHECK_TEXT(gpuexec_error_text(), "allocate host memory in a capture");
    CHECK_MADE(gpuexec_capture_end(s.stream));
    CHECK_OK(gpuexec_pool_destroy(pool));
    memset(&desc, 0, sizeof desc);
    desc.location = GPUEXEC_POOL_ON_HOST_NUMA;
    desc.max_bytes = (size_t)64 << 20;
    pool = gpuexec_pool_create(s.ctx, &desc);
    CHECK_MADE(pool);
    CHECK_EQ(gpuexec_pool_alloc(pool, s.stream, (size_t)1 << 40), 0);
    CHECK_TEXT(gpuexec_error_text(), "cannot allocate", "max_bytes is 67108864");
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
    CHECK_OK(gpuexec_free(gpuexec_pool_alloc(pool, s.stream, 64)));
}

TEST_ALONE(pools_on_the_host_of_an_older_driver) {
    gpuexec_context ctx;
    setenv("SIMGPU_DRIVER_VERSION", "12080", 1);
    if (gpuexec_driver_version() != 12080) SKIP("only the CPU device can play an older driver");
    ctx = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(host_pool(ctx, GPUEXEC_POOL_ON_HOST, 0), GPUEXEC_OLD_DRIVER,
            "a memory pool on the host needs a driver for CUDA 13.0", "supports CUDA 12.8",
            "GPUEXEC_POOL_ON_HOST_NUMA");
    CHECK_MADE(host_pool(ctx, GPUEXEC_POOL_ON_HOST_NUMA, 0));
}
TEST_ALONE(pools_on_the_host_of_an_old_driver) {
    gpuexec_context ctx;
    setenv("SIMGPU_DRIVER_VERSION", "12010", 1);
    if (gpuexec_driver_version() != 12010) SKIP("only the CPU device can play an older driver");
    ctx = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(host_pool(ctx, GPUEXEC_POOL_ON_HOST_NUMA, 0), GPUEXEC_OLD_DRIVER,
            "a memory pool on the host needs a driver for CUDA 12.2", "gpuexec_alloc_pinned");
}

/* Kernels on another device can use it, with or without peer access between the devices. */
static void host_pool_of_two(void) {
    const uint32_t by = 7, n = 16;
    setting a = set_up_on(0, UNIT_PTX, "add", 64), b = set_up_on(1, UNIT_PTX, "add", 64);
    gpuexec_pool pool = host_pool(a.ctx, GPUEXEC_POOL_ON_HOST, 0);
    gpuexec_ptr p = gpuexec_pool_alloc(pool, a.stream, 64);
    uint32_t *h = (uint32_t *)(uintptr_t)p;
    int can = 1;
    if (!CHECK(p != 0)) return;
    CHECK_OK(gpuexec_stream_sync(a.stream));
    memset(h, 0, 64);
    CHECK_OK(gpuexec_pool_peer_query(pool, b.ctx, &can));
    CHECK_EQ(can, 0);
    CHECK_OK(gpuexec_pool_peer_enable(pool, b.ctx));
    CHECK_OK(gpuexec_pool_peer_query(pool, b.ctx, &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_launch(b.kernel, b.stream, gpuexec_grid(1, 16, 0), GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_stream_sync(b.stream));
    CHECK_EQ(h[15], 7);
    CHECK_OK(gpuexec_pool_peer_disable(pool, b.ctx));
    CHECK_EQ(gpuexec_pool_alloc(pool, b.stream, 64), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_WRONG_CONTEXT);
    CHECK_OK(gpuexec_free(p));
}
TEST_MULTI(pools_on_the_host_of_two_devices) {
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    if (gpuexec_driver_version() < 13000) SKIP("needs a driver for CUDA 13.0");
    host_pool_of_two();
}
TEST_ALONE(pools_on_the_host_of_two_devices_that_are_no_peers) {
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_PEERS", "none", 1);
    if (!on_cpu_device()) SKIP("only the CPU device can have no peers");
    if (gpuexec_driver_version() < 13000) SKIP("needs a driver for CUDA 13.0");
    host_pool_of_two();
}
