/* memory.c - device and pinned memory, copies, fills. */
#include "../test.h"

#define UNIT_PTX "tests/unit/unit.ptx"

static void fill_random(void *memory, size_t bytes, uint32_t seed) {
    unsigned char *p = (unsigned char *)memory;
    while (bytes--) *p++ = (unsigned char)(test_random(&seed) >> 13);
}

TEST(allocations_are_aligned_and_apart) {
    enum { count = 40 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_ptr p[count];
    size_t      bytes[count];
    int i, k;
    for (i = 0; i < count; i++) {
        bytes[i] = (size_t)1 + (size_t)(i * i * 97);
        p[i] = gpuexec_alloc(ctx, bytes[i]);
        CHECK(p[i] != 0);
        CHECK_EQ(p[i] % 256, 0);
        for (k = 0; k < i; k++) CHECK(p[i] + bytes[i] <= p[k] || p[k] + bytes[k] <= p[i]);
    }
    for (i = 0; i < count; i++) CHECK_OK(gpuexec_free(p[(i * 7) % count]));
}

TEST(freeing_nothing) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_MADE(ctx);
    CHECK_OK(gpuexec_free(0));
    CHECK_OK(gpuexec_free_pinned(NULL));
}

TEST(round_trips_of_many_sizes) {
    static const size_t sizes[] = { 1, 2, 3, 4, 7, 8, 15, 64, 255, 256, 257, 4095, 4096, 4097, 65537, 1000003 };
    enum { longest = 1000003 };
    gpuexec_context ctx  = gpuexec_context_open(0, NULL);
    gpuexec_stream  s    = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     a    = gpuexec_alloc(ctx, longest + 64), b = gpuexec_alloc(ctx, longest + 64);
    unsigned char  *from = (unsigned char *)malloc(longest), *to = (unsigned char *)malloc(longest + 1);
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i], off = i % 5;                        /* places need no alignment */
        fill_random(from, n, (uint32_t)n);
        memset(to, 0xee, longest + 1);
        gpuexec_copy_in(s, a + off, from, n);
        gpuexec_copy(s, b + off * 3, a + off, n);
        gpuexec_copy_out(s, to, b + off * 3, n);
        CHECK_OK(gpuexec_stream_sync(s));
        CHECK(memcmp(from, to, n) == 0);
        CHECK_EQ(to[n], 0xee);                                   /* and not a byte more */
        memset(to, 0, n);
        CHECK_OK(gpuexec_fill_now(ctx, a, 0, longest));
        CHECK_OK(gpuexec_copy_in_now(ctx, a + off, from, n));
        CHECK_OK(gpuexec_copy_now(ctx, b + off * 3, a + off, n));
        CHECK_OK(gpuexec_copy_out_now(ctx, to, b + off * 3, n));
        CHECK(memcmp(from, to, n) == 0);
    }
    free(from);
    free(to);
}

TEST(a_large_round_trip) {
    enum { bytes = 48 << 20 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, bytes);
    uint32_t *from = (uint32_t *)malloc(bytes), *to = (uint32_t *)malloc(bytes), seed = 1;
    size_t i;
    for (i = 0; i < bytes / 4; i++) from[i] = test_random(&seed);
    gpuexec_copy_in(s, p, from, bytes);
    gpuexec_copy_out(s, to, p, bytes);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(memcmp(from, to, bytes) == 0);
    free(from);
    free(to);
}

TEST(fills) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, 1024);
    unsigned char   host[1024];
    uint32_t        word;
    size_t i;
    gpuexec_fill(s, p, 0x5a, 1024);
    gpuexec_fill(s, p + 3, 0x01, 10);                            /* bytes 3 .. 12 */
    gpuexec_fill32(s, p + 512, 0xdeadbeef, 100);                 /* bytes 512 .. 911 */
    gpuexec_copy_out(s, host, p, sizeof host);
    CHECK_OK(gpuexec_stream_sync(s));
    for (i = 0; i < 512; i++) CHECK_EQ(host[i], i >= 3 && i < 13 ? 0x01 : 0x5a);
    for (i = 512; i < 912; i += 4) { memcpy(&word, host + i, 4); CHECK_EQ(word, 0xdeadbeef); }
    for (i = 912; i < 1024; i++) CHECK_EQ(host[i], 0x5a);
    CHECK_OK(gpuexec_fill_now(ctx, p + 1, 0xff, 2));
    CHECK_OK(gpuexec_copy_out_now(ctx, host, p, 4));
    CHECK_EQ(host[0], 0x5a);
    CHECK_EQ(host[1], 0xff);
    CHECK_EQ(host[2], 0xff);
    CHECK_EQ(host[3], 0x01);
}

TEST(misaligned_fill32) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, 64);
    CHECK_RESULT(gpuexec_fill32(s, p + 2, 1, 4), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_fill32", "4");
    gpuexec_take_error();
}

TEST(zero_bytes_do_nothing) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, 4);
    uint32_t        host = 5;
    CHECK_OK(gpuexec_copy_in_now(ctx, p, &host, 4));
    host = 6;
    CHECK_OK(gpuexec_copy_in(s, p, &host, 0));
    CHECK_OK(gpuexec_copy_out(s, &host, p, 0));
    CHECK_OK(gpuexec_copy(s, p, p, 0));
    CHECK_OK(gpuexec_fill(s, p, 9, 0));
    CHECK_OK(gpuexec_fill32(s, p, 9, 0));
    CHECK_OK(gpuexec_copy_in_now(ctx, p, NULL, 0));
    CHECK_OK(gpuexec_fill_now(ctx, p, 9, 0));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(host, 6);
    CHECK_OK(gpuexec_copy_out_now(ctx, &host, p, 4));
    CHECK_EQ(host, 5);
}

TEST(pinned_memory) {
    enum { words = 10000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, words * 4);
    uint32_t *from = (uint32_t *)gpuexec_alloc_pinned(ctx, words * 4), *to = (uint32_t *)gpuexec_alloc_pinned(ctx, words * 4);
    if (!CHECK(from != NULL && to != NULL)) return;
    fill_random(from, words * 4, 9);
    memset(to, 0, words * 4);
    gpuexec_copy_in(s, p, from, words * 4);
    gpuexec_copy_out(s, to, p, words * 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(memcmp(from, to, words * 4) == 0);
    CHECK_OK(gpuexec_free_pinned(from));
    CHECK_OK(gpuexec_free_pinned(to));
}

/* A kernel works on pinned memory in place. */
TEST(pinned_memory_in_a_kernel) {
    enum { words = 1000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel  add = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    uint32_t       *h   = (uint32_t *)gpuexec_alloc_pinned(ctx, words * 4);
    gpuexec_ptr     p   = gpuexec_pinned_address(h);
    uint32_t        by = 1000, n = words - 10, i;
    if (!CHECK(h != NULL && p != 0)) return;
    CHECK_EQ(gpuexec_pinned_address(h + 10), p + 40);            /* a place inside */
    for (i = 0; i < words; i++) h[i] = i;
    p = gpuexec_pinned_address(h + 10);
    CHECK_OK(gpuexec_launch(add, s, gpuexec_grid_for(n, 96), GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_stream_sync(s));
    for (i = 0; i < words; i++) CHECK_EQ(h[i], i < 10 ? i : i + 1000);
}

TEST(not_pinned) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int on_stack = 0;
    CHECK_MADE(ctx);
    CHECK_EQ(gpuexec_pinned_address(&on_stack), 0);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_alloc_pinned");
    gpuexec_take_error();
    CHECK(gpuexec_free_pinned(&on_stack) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_alloc_pinned");
    gpuexec_take_error();
}

/* What is copied from pageable memory has been read when the next work of the host overwrites it after a sync. */
TEST(queued_copies_keep_their_order) {
    enum { rounds = 50, words = 256 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel  add = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, words * 4);
    uint32_t       *h   = (uint32_t *)gpuexec_alloc_pinned(ctx, rounds * words * 4), by = 3, n = words;
    size_t r, i;
    if (!CHECK(h != NULL)) return;
    gpuexec_fill(s, p, 0, words * 4);
    for (r = 0; r < rounds; r++) {
        gpuexec_launch(add, s, gpuexec_grid_for(n, 64), GPUEXEC_ARGS(p, by, n));
        gpuexec_copy_out(s, h + r * words, p, words * 4);
    }
    CHECK_OK(gpuexec_stream_sync(s));
    for (r = 0; r < rounds; r++)
        for (i = 0; i < words; i++) CHECK_EQ(h[r * words + i], 3 * (r + 1));
}

/* Freeing waits for work that uses the memory. */
TEST(freeing_memory_in_use) {
    gpuexec_context ctx   = gpuexec_context_open(0, NULL);
    gpuexec_kernel  count = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "count");
    gpuexec_stream  s     = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p     = gpuexec_alloc(ctx, 4);
    gpuexec_fill(s, p, 0, 4);
    CHECK_OK(gpuexec_launch(count, s, gpuexec_grid(2000, 128, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_free(p));
    CHECK_OK(gpuexec_stream_sync(s));
}

/* ---- host memory that is registered, and memory of a peer ---- */

TEST(registered_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream  s = gpuexec_stream_create(ctx, NULL);
    size_t          bytes = 100000;
    unsigned char  *h = malloc(bytes);
    gpuexec_ptr     d = gpuexec_alloc(ctx, bytes);
    memset(h, 7, bytes);
    CHECK_OK(gpuexec_register(ctx, h, bytes));
    CHECK(gpuexec_pinned_address(h + 5) != 0);
    CHECK_RESULT(gpuexec_register(ctx, h, bytes), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "registered memory already", "memory.c:");
    gpuexec_take_error();
    CHECK_OK(gpuexec_copy_in(s, d, h, bytes));
    CHECK_OK(gpuexec_fill(s, d + 10, 9, 10));
    CHECK_OK(gpuexec_copy_out(s, h, d, bytes));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(h[9] == 7 && h[10] == 9 && h[19] == 9 && h[20] == 7 && h[bytes - 1] == 7);
    CHECK_RESULT(gpuexec_copy_out(s, h, d, bytes + 1), GPUEXEC_BAD_ARGUMENT);
    gpuexec_take_error();
    CHECK_RESULT(gpuexec_free_pinned(h), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "registered", "gpuexec_unregister");
    CHECK_OK(gpuexec_unregister(h));
    CHECK_RESULT(gpuexec_unregister(h), GPUEXEC_BAD_ARGUMENT);
    free(h);
}

TEST(memory_of_a_peer) {
    gpuexec_context a, b;
    gpuexec_stream  s;
    gpuexec_ptr     p, q;
    uint32_t        got = 0;
    setenv("SIMGPU_DEVICES", "2", 1);
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(1, NULL);
    s = gpuexec_stream_create(a, NULL);
    p = gpuexec_alloc(a, 4096), q = gpuexec_alloc(b, 4096);
    gpuexec_fill_now(b, q, 0x5A, 4096);
    CHECK_OK(gpuexec_copy(s, p, q, 4096));                           /* works with and without peer access */
    CHECK_OK(gpuexec_copy_out(s, &got, p + 4092, 4));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 0x5A5A5A5A);
    if (!gpuexec_device_can_access_peer(0, 1)) {
        CHECK_RESULT(gpuexec_peer_enable(a, b), GPUEXEC_NOT_SUPPORTED);
        CHECK_TEXT(gpuexec_error_text(), "device 0", "device 1");
        gpuexec_take_error();
        return;
    }
    CHECK_OK(gpuexec_peer_enable(a, b));
    CHECK_OK(gpuexec_peer_enable(a, b));                             /* already is fine */
    CHECK_OK(gpuexec_copy(s, q, p, 2048));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_peer_disable(a, b));
    CHECK_OK(gpuexec_peer_disable(a, b));
}
