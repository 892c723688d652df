/* memory.c - device and pinned memory, copies, fills. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, under -std=c99 */
#include "../../test.h"
#include <sys/mman.h>

static void fill_random(void *memory, size_t bytes, uint32_t seed) {
    unsigned char *p = (unsigned char *)memory;
    while (bytes--) *p++ = (unsigned char)(test_random(&seed) >> 13);
}

TEST(allocations_are_aligned_and_apart) {
    enum { count = 40 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_ptr p[count];
    size_t bytes[count];
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
    static const size_t sizes[] = { 1, 2, 3, 4, 7, 8, 15, 64, 255, 256, 257, 4095, 4096, 4097,
        65537, 1000003 };
    enum { longest = 1000003 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr a = gpuexec_alloc(ctx, longest + 64), b = gpuexec_alloc(ctx, longest + 64);
    unsigned char *from = (unsigned char *)malloc(longest),
                  *to = (unsigned char *)malloc(longest + 1);
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i], off = i % 5; /* addresses need no alignment */
        fill_random(from, n, (uint32_t)n);
        memset(to, 0xee, longest + 1);
        gpuexec_copy_in(s, a + off, from, n);
        gpuexec_copy(s, b + off * 3, a + off, n);
        gpuexec_copy_out(s, to, b + off * 3, n);
        CHECK_OK(gpuexec_stream_sync(s));
        CHECK(memcmp(from, to, n) == 0);
        CHECK_EQ(to[n], 0xee); /* and not one byte more */
        memset(to, 0, n);
        CHECK_OK(gpuexec_fill_now(ctx, a, 0, 1, longest));
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
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, bytes);
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
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 1024);
    unsigned char host[1024];
    uint32_t word;
    size_t i;
    gpuexec_fill(s, p, 0x5a, 1, 1024);
    gpuexec_fill(s, p + 3, 0x01, 1, 10);          /* bytes 3 .. 12 */
    gpuexec_fill(s, p + 512, 0xdeadbeef, 4, 100); /* bytes 512 .. 911 */
    gpuexec_fill(s, p + 914, 0x1234, 2, 5);       /* bytes 914 .. 923 */
    gpuexec_copy_out(s, host, p, sizeof host);
    CHECK_OK(gpuexec_stream_sync(s));
    for (i = 0; i < 512; i++) CHECK_EQ(host[i], i >= 3 && i < 13 ? 0x01 : 0x5a);
    for (i = 512; i < 912; i += 4) {
        memcpy(&word, host + i, 4);
        CHECK_EQ(word, 0xdeadbeef);
    }
    for (i = 912; i < 1024; i++)
        CHECK_EQ(host[i], i < 914 || i >= 924 ? 0x5a : i % 2 ? 0x12 : 0x34);
    CHECK_OK(gpuexec_fill_now(ctx, p + 1, 0xff, 1, 2));
    CHECK_OK(gpuexec_copy_out_now(ctx, host, p, 4));
    CHECK_EQ(host[0], 0x5a);
    CHECK_EQ(host[1], 0xff);
    CHECK_EQ(host[2], 0xff);
    CHECK_EQ(host[3], 0x01);
}

TEST(misaligned_fill32) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 64);
    CHECK_REFUSED(gpuexec_fill(s, p + 2, 1, 4, 4), GPUEXEC_BAD_ARGUMENT, "gpuexec_fill",
            "not a multiple of 4");
    CHECK_REFUSED(gpuexec_fill(s, p + 1, 1, 2, 4), GPUEXEC_BAD_ARGUMENT, "gpuexec_fill",
            "not a multiple of 2");
}

TEST(zero_bytes_do_nothing) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t host = 5;
    CHECK_OK(gpuexec_copy_in_now(ctx, p, &host, 4));
    host = 6;
    CHECK_OK(gpuexec_copy_in(s, p, &host, 0));
    CHECK_OK(gpuexec_copy_out(s, &host, p, 0));
    CHECK_OK(gpuexec_copy(s, p, p, 0));
    CHECK_OK(gpuexec_fill(s, p, 9, 1, 0));
    CHECK_OK(gpuexec_fill(s, p, 9, 4, 0));
    CHECK_OK(gpuexec_copy_in_now(ctx, p, NULL, 0));
    CHECK_OK(gpuexec_copy_out_now(ctx, NULL, p, 0));
    CHECK_OK(gpuexec_copy_now(ctx, p, p, 0));
    CHECK_OK(gpuexec_fill_now(ctx, p, 9, 1, 0));
    CHECK_OK(gpuexec_fill(s, p, 9, 2, 0));
    CHECK_OK(gpuexec_copy_peer(s, p, ctx, p, ctx, 0));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 0), ON_HOST(&host, 0), 0, 5)));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_HOST(&host, 4), ON_DEVICE(p, 4), 4, 0)));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 4), ON_DEVICE(p, 4), 0, 1)));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 4), OF_VALUE(9, 1), 4, 0)));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(host, 6);
    CHECK_OK(gpuexec_copy_out_now(ctx, &host, p, 4));
    CHECK_EQ(host, 5);
}

TEST(pinned_memory) {
    enum { words = 10000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, words * 4);
    uint32_t *from = (uint32_t *)gpuexec_alloc_pinned(ctx, words * 4),
             *to = (uint32_t *)gpuexec_alloc_pinned(ctx, words * 4);
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

/* A kernel works directly on pinned memory. */
TEST(pinned_memory_in_a_kernel) {
    enum { words = 1000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel add = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    uint32_t *h = (uint32_t *)gpuexec_alloc_pinned(ctx, words * 4);
    gpuexec_ptr p = gpuexec_pinned_address(h);
    uint32_t by = 1000, n = words - 10, i;
    if (!CHECK(h != NULL && p != 0)) return;
    CHECK_EQ(gpuexec_pinned_address(h + 10), p + 40); /* an address inside */
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

/* A copy has read its pageable source before the host overwrites that after a sync. */
TEST(queued_copies_keep_their_order) {
    enum { rounds = 50, words = 256 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel add = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, words * 4);
    uint32_t *h = (uint32_t *)gpuexec_alloc_pinned(ctx, rounds * words * 4), by = 3, n = words;
    size_t r, i;
    if (!CHECK(h != NULL)) return;
    gpuexec_fill(s, p, 0, 1, words * 4);
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
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel count = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "count");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    gpuexec_fill(s, p, 0, 1, 4);
    CHECK_OK(gpuexec_launch(count, s, gpuexec_grid(2000, 128, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_free(p));
    CHECK_OK(gpuexec_stream_sync(s));
}

/* ---- registered host memory, and peer memory ---- */

TEST(registered_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    size_t bytes = 100000;
    unsigned char *h = malloc(bytes);
    gpuexec_ptr d = gpuexec_alloc(ctx, bytes);
    memset(h, 7, bytes);
    CHECK_OK(gpuexec_register(ctx, h, bytes));
    CHECK(gpuexec_pinned_address(h + 5) != 0);
    CHECK_REFUSED(gpuexec_register(ctx, h, bytes), GPUEXEC_BAD_ARGUMENT, "already registered (at ",
            "memory.c:");
    CHECK_OK(gpuexec_copy_in(s, d, h, bytes));
    CHECK_OK(gpuexec_fill(s, d + 10, 9, 1, 10));
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

TEST_MULTI(memory_of_a_peer) {
    gpuexec_context a, b;
    gpuexec_stream s;
    gpuexec_ptr p, q;
    uint32_t got = 0;
    setenv("SIMGPU_DEVICES", "2", 1);
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(1, NULL);
    s = gpuexec_stream_create(a, NULL);
    p = gpuexec_alloc(a, 4096), q = gpuexec_alloc(b, 4096);
    gpuexec_fill_now(b, q, 0x5A, 1, 4096);
    CHECK_OK(gpuexec_copy(s, p, q, 4096)); /* works with and without peer access */
    CHECK_OK(gpuexec_copy_out(s, &got, p + 4092, 4));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 0x5A5A5A5A);
    if (!gpuexec_device_can_access_peer(0, 1)) {
        CHECK_REFUSED(gpuexec_peer_enable(a, b), GPUEXEC_NOT_SUPPORTED, "device 0", "device 1");
        return;
    }
    CHECK_OK(gpuexec_peer_enable(a, b));
    CHECK_OK(gpuexec_peer_enable(a, b)); /* enabling it twice is not an error */
    CHECK_OK(gpuexec_copy(s, q, p, 2048));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_peer_disable(a, b));
    CHECK_OK(gpuexec_peer_disable(a, b));
}

/* A copy that is refused; the texts give the reason. */
#define REFUSED(call, ...) CHECK_REFUSED(call, GPUEXEC_BAD_ARGUMENT, __VA_ARGS__)

/* for texts; each of the last eight stays valid */
static const char *number(unsigned long long n) {
    static char texts[8][24];
    static int next;
    char *t = texts[next++ % 8];
    snprintf(t, sizeof texts[0], "%llu", n);
    return t;
}

/* Memory that another library allocates without gpuexec, as cudaMalloc and cudaMallocHost do. */
static gpuexec_ptr foreign_alloc(gpuexec_context ctx, size_t bytes) {
    gpuexec_ptr p = 0;
    CHECK_OK(gpuexec_context_push(ctx));
    CHECK_EQ(gxi.cu.cuMemAlloc(&p, bytes), 0);
    CHECK_OK(gpuexec_context_pop(ctx));
    return p;
}
static void *foreign_alloc_pinned(gpuexec_context ctx, size_t bytes) {
    void *h = NULL;
    CHECK_OK(gpuexec_context_push(ctx));
    CHECK_EQ(calls_find().cuMemAllocHost_v2(&h, bytes), 0);
    CHECK_OK(gpuexec_context_pop(ctx));
    return h;
}
static void foreign_free(gpuexec_ptr p) { CHECK_EQ(gxi.cu.cuMemFree(p), 0); }
static void foreign_free_pinned(void *h) { CHECK_EQ(gxi.cu.cuMemFreeHost(h), 0); }

/* ---- rows ---- */

TEST(pitched_allocations) {
    static const size_t widths[] = { 1, 4, 100, 511, 512, 513, 4096, 10001 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    unsigned element;
    size_t i, pitch;
    for (i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (element = 4; element <= 16; element *= 2) {
            gpuexec_ptr p;
            pitch = 0;
            p = gpuexec_alloc_pitched(ctx, widths[i], 7, element, &pitch);
            CHECK(p != 0);
            CHECK(pitch >= widths[i]);
            CHECK_EQ(pitch % element, 0);
            CHECK_EQ(p % element, 0);
            CHECK_OK(gpuexec_fill_now(ctx, p, 1, 1, pitch * 7)); /* all rows are there ... */
            REFUSED(gpuexec_fill_now(ctx, p, 1, 1, pitch * 7 + 1), number(pitch * 7),
                    number(pitch * 7 + 1), "memory.c:");
            CHECK_OK(gpuexec_free(p));
        }
}

TEST(pitched_allocations_that_are_refused) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t pitch = 9;
    CHECK_EQ(gpuexec_alloc_pitched(ctx, 100, 10, 1, &pitch), 0);
    CHECK_EQ(pitch, 0);
    CHECK_TEXT(gpuexec_error_text(), "element_bytes is 1", "4, 8 or 16", "cure:");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(gpuexec_alloc_pitched(ctx, 0, 10, 4, &pitch), 0);
    CHECK_TEXT(gpuexec_error_text(), "cannot allocate 0 bytes");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(gpuexec_alloc_pitched(ctx, 10, 0, 4, &pitch), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(gpuexec_alloc_pitched(ctx, 10, 10, 4, NULL), 0);
    CHECK_TEXT(gpuexec_error_text(), "pitch is NULL");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    /* the product overflows */
    CHECK_EQ(gpuexec_alloc_pitched(ctx, (size_t)1 << 40, (size_t)1 << 40, 4, &pitch), 0);
    CHECK_TEXT(gpuexec_error_text(), "1099511627776 rows of 1099511627776 bytes");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    CHECK_EQ(gpuexec_alloc_pitched(ctx, (size_t)1 << 30, (size_t)1 << 20, 4, &pitch), 0);
    CHECK_TEXT(gpuexec_error_text(), "1125899906842624 bytes", "device memory");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
}

/* Host rows without gaps, to a pitched allocation, to rows of an odd pitch at an odd address, to
   host rows with gaps: the gaps stay unchanged. */
static void rows_round_trip(
        gpuexec_context ctx, unsigned char *from, unsigned char *to, size_t width, size_t height) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    size_t pitch = 0, odd = width + 5, gapped = width + 3, x, y, wrong = 0;
    gpuexec_ptr a = gpuexec_alloc_pitched(ctx, width, height, 4, &pitch),
                b = gpuexec_alloc(ctx, odd * height + 1);
    fill_random(from, width * height, (uint32_t)width);
    memset(to, 0xee, gapped * height);
    gpuexec_fill(s, b, 0x77, 1, odd * height + 1);
    gpuexec_copy_with(s, ROWS(ON_DEVICE(a, pitch), ON_HOST(from, width), width, height));
    gpuexec_copy_with(s, ROWS(ON_DEVICE(b + 1, odd), ON_DEVICE(a, pitch), width, height));
    gpuexec_copy_with(s, ROWS(ON_HOST(to, gapped), ON_DEVICE(b + 1, odd), width, height));
    CHECK_OK(gpuexec_stream_sync(s));
    for (y = 0; y < height; y++) {
        wrong += memcmp(to + y * gapped, from + y * width, width) != 0;
        for (x = width; x < gapped; x++) wrong += to[y * gapped + x] != 0xee;
    }
    CHECK_EQ(wrong, 0);
    gpuexec_copy_out(s, to, b, odd * height + 1); /* the gaps of b */
    CHECK_OK(gpuexec_stream_sync(s));
    wrong = to[0] != 0x77;
    for (y = 0; y < height; y++)
        for (x = width; x < odd; x++) wrong += to[1 + y * odd + x] != 0x77;
    CHECK_EQ(wrong, 0);
    CHECK_OK(gpuexec_free(a));
    CHECK_OK(gpuexec_free(b));
    CHECK_OK(gpuexec_stream_destroy(s));
}
TEST(rows_of_many_sizes) {
    static const size_t sizes[][2] = {
        { 1, 1 },
        { 1, 100 },
        { 33, 1 },
        { 33, 10 },
        { 512, 16 },
        { 1000, 77 },
        { 4099, 5 },
    };
    enum { most = 100000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    unsigned char *page = (unsigned char *)malloc(most * 2),
                  *pinned = (unsigned char *)gpuexec_alloc_pinned(ctx, most * 2);
    size_t i;
    if (!CHECK(pinned != NULL)) return;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        rows_round_trip(ctx, page, page + most, sizes[i][0], sizes[i][1]);
        rows_round_trip(ctx, pinned, pinned + most, sizes[i][0], sizes[i][1]);
        rows_round_trip(ctx, page, pinned, sizes[i][0], sizes[i][1]);
    }
    free(page);
}

TEST(fill_of_rows) {
    enum { pitch = 20, height = 6 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL), legacy = gpuexec_stream_legacy(ctx);
    gpuexec_ptr p = gpuexec_alloc(ctx, pitch * height);
    unsigned char host[pitch * height];
    size_t i;
    gpuexec_fill(s, p, 1, 1, sizeof host);
    /* columns 3 .. 9 of rows 0 .. 3 */
    gpuexec_copy_with(s, ROWS(ON_DEVICE(p + 3, pitch), OF_VALUE(0x5a, 1), 7, 4));
    /* the last row, to its end */
    gpuexec_copy_with(s, ROWS(ON_DEVICE(p + 5 * pitch, pitch), OF_VALUE(9, 1), pitch, 1));
    CHECK_OK(gpuexec_stream_sync(s));
    gpuexec_copy_with(legacy, ROWS(ON_DEVICE(p + 4 * pitch, pitch), OF_VALUE(8, 1), 2, 1));
    gpuexec_copy_out(legacy, host, p, sizeof host);
    CHECK_OK(gpuexec_stream_sync(legacy));
    for (i = 0; i < sizeof host; i++) {
        size_t x = i % pitch, y = i / pitch;
        CHECK_EQ(host[i], y < 4 && x >= 3 && x < 10 ? 0x5a : y == 5 ? 9 : y == 4 && x < 2 ? 8 : 1);
    }
}

TEST(rows_that_are_refused) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr a = gpuexec_alloc(ctx, 1000), b = gpuexec_alloc(ctx, 1000);
    unsigned char host[1000], *pinned = (unsigned char *)gpuexec_alloc_pinned(ctx, 500);
    int max_pitch = 0;
    memset(host, 0, sizeof host);
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 32), ON_HOST(host, 40), 33, 2)),
            "2 rows of 33 bytes", "pitch of the destination is 32",
            "less than the 33 bytes of a row", "cure:");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 40), ON_HOST(host, 32), 33, 2)),
            "pitch of the source is 32", "less than the 33 bytes of a row");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_HOST(host, 1), ON_DEVICE(a, 40), 33, 2)),
            "pitch of the destination is 1");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 7), OF_VALUE(0, 1), 8, 2)), "cannot fill",
            "pitch of the destination is 7", "less than the 8 bytes of a row");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 100), ON_HOST(host, 50), 50, 11)),
            "the copy needs 1050", "only 1000 bytes remain",
            "its allocation (1000 bytes of device memory, allocated at ", "memory.c:");
    /* the last row needs no gap after it */
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 100), ON_HOST(host, 50), 100 - 50, 10)));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(a + 50, 100), OF_VALUE(0, 1), 50, 10)));
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a + 51, 100), OF_VALUE(0, 1), 50, 10)),
            "the fill needs 950", "only 949 bytes remain");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(b, 100), ON_DEVICE(a + 600, 100), 100, 5)),
            "the source", "the copy needs 500", "only 400 bytes remain");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_HOST(pinned, 60), ON_DEVICE(a, 50), 50, 9)),
            "the destination", "the copy needs 530", "only 500 bytes remain",
            "bytes of pinned memory");
    CHECK_OK(gpuexec_device_get_attribute(0, 11, &max_pitch));
    REFUSED(gpuexec_copy_with(
                    s, ROWS(ON_DEVICE(a, (size_t)max_pitch + 1), ON_DEVICE(b, 50), 50, 2)),
            "pitch of the destination", number((unsigned)max_pitch),
            number((unsigned)max_pitch + 1u), "MAX_PITCH");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 50), ON_DEVICE(b, 50), 50, SIZE_MAX)),
            "no allocation is that large");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 50), ON_HOST(NULL, 50), 50, 2)),
            "the source has neither a device address nor a host pointer");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(0, 50), ON_HOST(host, 50), 50, 2)),
            "the destination has neither a device address nor a host pointer");
    CHECK_OK(gpuexec_stream_sync(s));
}

TEST(rows_past_the_end_of_foreign_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = foreign_alloc(ctx, 2 << 20);
    static char host[8192];
    REFUSED(gpuexec_copy_with(
                    s, ROWS(ON_DEVICE(p + (2 << 20) - 4096, 4096), ON_HOST(host, 4096), 4096, 2)),
            "2 rows", "only 4096 bytes remain", "its allocation (2097152 bytes of device memory",
            "another library", "cuMemcpy2DAsync");
    foreign_free(p);
}

/* The manual's loop: a smaller size each time; it clears only failures for lack of memory. */
static gpuexec_ptr as_much_as_there_is(gpuexec_context ctx, size_t bytes) {
    gpuexec_ptr p;
    while (!(p = gpuexec_alloc(ctx, bytes)) &&
            gpuexec_error_detail()->result == GPUEXEC_OUT_OF_DEVICE_MEMORY) {
        gpuexec_take_error();
        bytes /= 2;
    }
    return p;
}
TEST(trying_with_less) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK(as_much_as_there_is(ctx, (size_t)1 << 50) != 0);
    CHECK_OK(gpuexec_take_error());
    CHECK(as_much_as_there_is(ctx, 0) == 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(as_much_as_there_is(ctx, 1000) == 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_STALE_HANDLE);
}

/* ---- overlapping copies ---- */

TEST(copies_that_overlap) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 1000);
    gpuexec_fill(s, p, 0, 1, 1000);
    REFUSED(gpuexec_copy(s, p + 99, p, 100), "overlap", "third buffer");
    REFUSED(gpuexec_copy(s, p, p + 99, 100), "overlap");
    REFUSED(gpuexec_copy_now(ctx, p, p + 99, 100), "overlap");
    REFUSED(gpuexec_copy_peer(s, p, ctx, p + 99, ctx, 100), "overlap");
    CHECK_OK(gpuexec_copy(s, p + 100, p, 100));
    CHECK_OK(gpuexec_copy(s, p, p + 100, 100));
    /* the left half of a picture to its right half */
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p + 50, 100), ON_DEVICE(p, 100), 50, 10)));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p + 50, 100), 50, 10)));
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(p + 49, 100), ON_DEVICE(p, 100), 50, 10)),
            "overlap");
    /* overlaps the beginning of the next row */
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p + 51, 100), 50, 9)),
            "overlap");
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p + 500, 100), 50, 5)));
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p + 400, 100), 50, 5)),
            "overlap");
    /* one row: the pitches mean nothing */
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p + 49, 200), 50, 1)),
            "overlap");
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p + 50, 200), 50, 1)));
    CHECK_OK(gpuexec_stream_sync(s));
}
/* Source and destination are the same: the driver accepts it, and nothing changes. */
TEST(copies_onto_themselves) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 1000);
    unsigned char *h = (unsigned char *)gpuexec_alloc_pinned(ctx, 1000), got[1000];
    unsigned i;
    for (i = 0; i < 1000; i++) h[i] = (unsigned char)(i * 7);
    CHECK_OK(gpuexec_copy_in(s, p, h, 1000));
    CHECK_OK(gpuexec_copy(s, p, p, 1000));
    CHECK_OK(gpuexec_copy(s, p + 3, p + 3, 1));
    CHECK_OK(gpuexec_copy_peer(s, p, ctx, p, ctx, 1000));
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 100), ON_DEVICE(p, 100), 50, 10)));
    CHECK_OK(gpuexec_copy_now(ctx, p, p, 1000));
    CHECK_OK(gpuexec_copy_out(s, got, p, 1000));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(memcmp(got, h, 1000) == 0);
    REFUSED(gpuexec_copy(s, p, p, 1001), "the copy needs 1001", "only 1000 bytes remain");
    CHECK_OK(gpuexec_free_pinned(h));
}

TEST(counts_over_4_GiB) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4096), q = gpuexec_alloc(ctx, 4096);
    const size_t five_gib = (size_t)5 << 30;
    REFUSED(gpuexec_copy(s, p, q, five_gib), "5.0 GiB (5368709120 bytes)",
            "only 4096 bytes remain");
    REFUSED(gpuexec_fill(s, p, 0, 1, five_gib), "5368709120 bytes", "only 4096 bytes remain");
    REFUSED(gpuexec_fill(s, p, 0, 2, five_gib), "10737418240 bytes");
    REFUSED(gpuexec_fill(s, p, 0, 4, five_gib), "21474836480 bytes");
    REFUSED(gpuexec_fill(s, p, 0, 4, (size_t)1 << 30), "4294967296 bytes"); /* 0 in 32 bits */
    REFUSED(gpuexec_fill(s, p, 0, 2, SIZE_MAX / 2 + 2), "no allocation is that large");
    REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 1 << 20), OF_VALUE(0, 1), 1, 4097)),
            "the fill needs 4294967297");
    CHECK_OK(gpuexec_stream_sync(s));
}

/* ---- two devices ---- */

/* Copies of each kind from one device's memory to the other's, on streams of both. */
static void copies_between(gpuexec_context a, gpuexec_context b) {
    enum { bytes = 300000 };
    gpuexec_stream streams[4];
    gpuexec_ptr p = gpuexec_alloc(a, bytes), q = gpuexec_alloc(b, bytes);
    unsigned char *from = (unsigned char *)malloc(bytes), *to = (unsigned char *)malloc(bytes);
    int i, k;
    streams[0] = gpuexec_stream_create(a, NULL);
    streams[1] = gpuexec_stream_create(b, NULL);
    streams[2] = gpuexec_stream_legacy(a);
    streams[3] = gpuexec_stream_legacy(b);
    for (i = 0; i < 4; i++)
        for (k = 0; k < 3; k++) {
            gpuexec_stream s = streams[i];
            fill_random(from, bytes, (uint32_t)(i * 3 + k + 1));
            memset(to, 0, bytes);
            CHECK_OK(gpuexec_copy_in_now(a, p, from, bytes));
            CHECK_OK(gpuexec_fill_now(b, q, 0, 1, bytes));
            if (k == 0) CHECK_OK(gpuexec_copy_peer(s, q, b, p, a, bytes));
            if (k == 1) CHECK_OK(gpuexec_copy(s, q, p, bytes));
            if (k == 2)
                CHECK_OK(gpuexec_copy_with(
                        s, ROWS(ON_DEVICE(q, 1000), ON_DEVICE(p, 1000), 1000, bytes / 1000)));
            CHECK_OK(gpuexec_stream_sync(s));
            CHECK_OK(gpuexec_copy_out_now(b, to, q, bytes));
            CHECK(memcmp(from, to, bytes) == 0);
        }
    REFUSED(gpuexec_copy_peer(streams[0], q, a, p, a, 100), "the destination", "memory on device 1",
            "memory.c:", "passed for it is on device 0");
    REFUSED(gpuexec_copy_peer(streams[0], q, b, p, b, 100), "the source", "memory on device 0",
            "passed for it is on device 1");
    REFUSED(gpuexec_copy_peer(streams[0], q, b, p + 1, a, bytes), "only 299999 bytes remain");
    free(from);
    free(to);
}
static void expect_explained(gpuexec_stream s, uint64_t to, uint64_t from, size_t bytes,
        int asynchronous, int overlaps, const char *why, const char *more) {
    gpuexec_copy_info info;
    if (!CHECK_OK(gpuexec_copy_explain(s, to, from, bytes, &info))) return;
    CHECK_EQ(info.asynchronous, asynchronous);
    CHECK_EQ(info.overlaps, overlaps);
    CHECK_TEXT(info.why, why, more);
}

TEST_MULTI(copies_between_devices) {
    gpuexec_context a, b;
    gpuexec_stream s;
    gpuexec_ptr p, q;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(1, NULL);
    s = gpuexec_stream_create(a, NULL);
    p = gpuexec_alloc(a, 4096), q = gpuexec_alloc(b, 4096);
    copies_between(a, b);
    if (!gpuexec_device_can_access_peer(0, 1))
        SKIP("the second half needs devices with peer access");
    expect_explained(s, p, q, 4096, 1, 1, "from device 1 to device 0 through host memory",
            "gpuexec_peer_enable");
    CHECK_OK(gpuexec_peer_enable(a, b));
    CHECK_OK(gpuexec_peer_enable(b, a));
    copies_between(a, b);
    expect_explained(s, p, q, 4096, 1, 1, "directly from device 1 to device 0", "peer access");
    expect_explained(s, q, p, 4096, 1, 1, "directly from device 0 to device 1", "peer access");
    CHECK_OK(gpuexec_peer_disable(a, b));
    CHECK_OK(gpuexec_peer_disable(b, a));
}
TEST_ALONE_MULTI(copies_between_devices_that_are_no_peers) {
    gpuexec_context a, b;
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_PEERS", "none", 1);
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    if (gpuexec_device_can_access_peer(0, 1)) SKIP("these devices are peers");
    a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(1, NULL);
    copies_between(a, b);
    expect_explained(gpuexec_stream_create(a, NULL), gpuexec_alloc(a, 4096), gpuexec_alloc(b, 4096),
            4096, 1, 1, "through host memory", "device 0 cannot access the memory of device 1");
}

/* Pinned and registered memory counts as pinned on every device, whichever context it was allocated
   through. */
TEST_MULTI(host_memory_of_all_devices) {
    enum { bytes = 50000 };
    gpuexec_context a, b;
    gpuexec_kernel add;
    gpuexec_stream s;
    gpuexec_ptr q, address;
    unsigned char *h, *r;
    uint32_t by = 1, n = 100, i;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(1, NULL);
    add = gpuexec_kernel_get(gpuexec_module_load_file(b, UNIT_PTX, NULL), "add");
    s = gpuexec_stream_create(b, NULL);
    q = gpuexec_alloc(b, bytes);
    h = (unsigned char *)gpuexec_alloc_pinned(a, bytes);
    r = (unsigned char *)malloc(bytes);
    if (!CHECK(h != NULL)) return;
    CHECK_OK(gpuexec_register(a, r, bytes));
    fill_random(h, bytes, 4);
    memset(r, 0, bytes);
    expect_explained(s, q, (uintptr_t)h, bytes, 1, 1, "page-locked", "device 1");
    expect_explained(s, (uintptr_t)r, q, bytes, 1, 1, "page-locked", "device 1");
    gpuexec_copy_in(s, q, h, bytes);
    gpuexec_copy_out(s, r, q, bytes);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(memcmp(h, r, bytes) == 0);
    memset(r, 0, bytes);
    address = gpuexec_pinned_address(r); /* a kernel of the other device writes it */
    CHECK_OK(gpuexec_launch(add, s, gpuexec_grid_for(n, 64), GPUEXEC_ARGS(address, by, n)));
    CHECK_OK(gpuexec_stream_sync(s));
    for (i = 0; i < n; i++) CHECK_EQ(((uint32_t *)(void *)r)[i], 1);
    CHECK_OK(gpuexec_unregister(r));
    free(r);
}

/* ---- queries of pointers ---- */

static gpuexec_pointer_info info_of(uint64_t address) {
    gpuexec_pointer_info info;
    memset(&info, 0x55, sizeof info);
    CHECK_OK(gpuexec_pointer_get_info(address, &info));
    return info;
}

TEST(what_an_address_is) {
    int last = gpuexec_device_count() - 1, line;
    /* the last device: its ordinal is not always 0 */
    gpuexec_context ctx = gpuexec_context_open(last, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 5000);
    char *pinned = (char *)gpuexec_alloc_pinned(ctx, 6000), *page = (char *)malloc(20000);
    gpuexec_pointer_info i;
    char where[64];
    line = __LINE__ + 1;
    gpuexec_ptr here = gpuexec_alloc(ctx, 5000);
    snprintf(where, sizeof where, "memory.c:%d", line);
    i = info_of(here + 5);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_DEVICE);
    CHECK_EQ(i.device, last);
    CHECK_EQ(i.base, here);
    CHECK_EQ(i.bytes, 5000);
    CHECK_EQ(i.device_address, here + 5);
    CHECK(i.host_address == NULL);
    CHECK_EQ(i.ours, 1);
    CHECK_TEXT(i.where, where);
    i = info_of((uintptr_t)pinned + 100);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_PINNED);
    CHECK_EQ(i.device, last);
    CHECK_EQ(i.base, (uintptr_t)pinned);
    CHECK_EQ(i.bytes, 6000);
    CHECK(i.host_address == pinned + 100);
    CHECK_EQ(i.device_address, gpuexec_pinned_address(pinned + 100));
    CHECK_EQ(i.ours, 1);
    CHECK_OK(gpuexec_register(ctx, page, 10000));
    i = info_of((uintptr_t)page + 9999);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_REGISTERED);
    CHECK_EQ(i.base, (uintptr_t)page);
    CHECK_EQ(i.bytes, 10000);
    CHECK(i.host_address == page + 9999);
    CHECK(i.device_address != 0);
    CHECK_TEXT(i.where, "memory.c:");
    CHECK_OK(gpuexec_unregister(page));
    i = info_of((uintptr_t)page + 9999);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_PAGEABLE);
    CHECK_EQ(i.device, -1);
    CHECK(i.base == 0 && i.bytes == 0 && i.device_address == 0 && i.host_address == NULL &&
            !i.ours && i.where == NULL);
    CHECK_OK(gpuexec_free(p));
    CHECK_EQ(info_of(0).kind, GPUEXEC_MEMORY_PAGEABLE);
    CHECK_RESULT(gpuexec_pointer_get_info(here, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "\"info\" is NULL");
    CHECK_OK(gpuexec_take_error()); /* a query latches nothing */
    free(page);
}

/* Own addresses need no call of the driver; host memory needs one the first time. */
static void count_calls(void *user, gpuexec_log_level level, const char *text) {
    *(int *)user += level == GPUEXEC_LOG_TRACE && strncmp(text, "gpuexec: cu", 11) == 0;
}
TEST(own_addresses_without_a_driver_call) {
    enum { many = 2000 };
    static gpuexec_ptr p[many];
    gpuexec_setup_desc desc;
    gpuexec_context ctx;
    gpuexec_stream s;
    unsigned char *pinned, *combined, *page = (unsigned char *)malloc(5000);
    gpuexec_pointer_info i;
    static int calls; /* gpuexec_shutdown still logs */
    int before, pools = 0;
    unsigned k;
    calls = 0;
    memset(&desc, 0, sizeof desc);
    desc.trace = 1;
    desc.log = count_calls;
    desc.log_user = &calls;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    pinned = (unsigned char *)gpuexec_alloc_pinned(ctx, 5000);
    combined = (unsigned char *)gpuexec_alloc_write_combined(ctx, 5000);
    CHECK_OK(gpuexec_register(ctx, page, 5000));
    /* CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED */
    CHECK_OK(gpuexec_device_get_attribute(0, 115, &pools));
    for (k = 0; k < many; k++) { /* sizes of any order of magnitude */
        p[k] = k % 3 || !pools ? gpuexec_alloc(ctx, (size_t)1 << k % 17)
                               : gpuexec_alloc_on(s, 100 + k);
        if (!CHECK(p[k] != 0)) return;
    }
    CHECK_EQ(info_of((uintptr_t)pinned + 1).device_address, gpuexec_pinned_address(pinned + 1));
    CHECK_EQ(info_of((uintptr_t)combined + 1).device_address, gpuexec_pinned_address(combined + 1));
    CHECK_EQ(info_of((uintptr_t)page + 1).device_address, gpuexec_pinned_address(page + 1));
    before = calls;
    for (k = 0; k < many; k++) {
        i = info_of(p[k] + (k % 3 ? ((size_t)1 << k % 17) - 1 : 50));
        CHECK(i.ours && i.base == p[k] && i.device_address >= p[k] &&
                i.kind == GPUEXEC_MEMORY_DEVICE && !i.ipc);
        CHECK_EQ(i.pool, k % 3 == 0 && pools);
        CHECK_EQ(i.bytes, k % 3 || !pools ? (size_t)1 << k % 17 : 100 + k);
    }
    i = info_of((uintptr_t)combined + 4999);
    CHECK(i.kind == GPUEXEC_MEMORY_PINNED && i.host_address == combined + 4999 &&
            i.base == (uintptr_t)combined);
    CHECK(i.device_address && !i.pool);
    CHECK_TEXT(i.where, "memory.c:");
    i = info_of((uintptr_t)page + 4999);
    CHECK(i.kind == GPUEXEC_MEMORY_REGISTERED && i.bytes == 5000 && i.device == 0);
    CHECK_EQ(calls, before);
    /* the table shrinks, and still finds the others */
    for (k = 0; k < many; k += 2) CHECK_OK(gpuexec_free(p[k]));
    for (k = 1; k < many; k += 2) CHECK_EQ(info_of(p[k]).base, p[k]);
    CHECK_OK(gpuexec_unregister(page));
    CHECK_EQ(info_of((uintptr_t)page).ours, 0);
    CHECK(calls > before);
    free(page);
}

TEST(write_combined_memory) {
    enum { bytes = 10000 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, bytes);
    unsigned char *h = (unsigned char *)gpuexec_alloc_write_combined(ctx, bytes), got[bytes];
    unsigned i;
    if (!CHECK(h != NULL)) return;
    for (i = 0; i < bytes; i++) h[i] = (unsigned char)(i * 7);
    CHECK_OK(gpuexec_copy_in(s, p, h, bytes));
    CHECK_OK(gpuexec_copy_out(s, got, p, bytes));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(memcmp(h, got, bytes), 0);
    CHECK_OK(gpuexec_free_pinned(h));
    CHECK(gpuexec_alloc_write_combined(ctx, 0) == NULL);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_alloc_write_combined", "0 bytes");
}

/* ---- flags of pinned and registered memory ---- */

static int(GXI_CUDA *real_host_alloc)(void **memory, size_t bytes, unsigned flags);
static int(GXI_CUDA *real_host_register)(void *pages, size_t bytes, unsigned flags);
static unsigned host_flags;
static int register_fails; /* a CUresult, instead of a call */
static int GXI_CUDA noting_host_alloc(void **memory, size_t bytes, unsigned flags) {
    host_flags = flags;
    return real_host_alloc(memory, bytes, flags);
}
static int GXI_CUDA noting_host_register(void *pages, size_t bytes, unsigned flags) {
    host_flags = flags;
    return register_fails ? register_fails : real_host_register(pages, bytes, flags);
}
static setting noting_host_flags(void) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    real_host_alloc = gxi.cu.cuMemHostAlloc;
    real_host_register = gxi.cu.cuMemHostRegister;
    gxi.cu.cuMemHostAlloc = noting_host_alloc;
    gxi.cu.cuMemHostRegister = noting_host_register;
    register_fails = 0;
    return s;
}

TEST(flags_of_pinned_memory) {
    static const unsigned flags[] = { 3, 7, 2, 6, 1, 5, 0, 4 };
    setting s = noting_host_flags();
    gpuexec_pinned_desc desc;
    uint32_t *h, back[16];
    unsigned i, k;
    for (i = 0; i < 8; i++) {
        memset(&desc, 0, sizeof desc);
        desc.write_combined = (int)(i & 1);
        desc.not_portable = (int)(i & 2);
        desc.not_mapped = (int)(i & 4);
        h = (uint32_t *)gpuexec_alloc_pinned_with(s.ctx, sizeof back, &desc);
        if (!CHECK(h != NULL)) return;
        CHECK_EQ(host_flags, flags[i]);
        CHECK_EQ(info_of((uintptr_t)h).kind, GPUEXEC_MEMORY_PINNED);
        for (k = 0; k < 16; k++) h[k] = i * 100 + k;
        CHECK_OK(gpuexec_copy_in(s.stream, s.data, h, sizeof back));
        CHECK_OK(gpuexec_copy_out(s.stream, back, s.data, sizeof back));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK(memcmp(back, h, sizeof back) == 0);
        CHECK_OK(gpuexec_free_pinned(h));
    }
    h = (uint32_t *)gpuexec_alloc_pinned_with(s.ctx, 64, NULL);
    CHECK(h != NULL && host_flags == 3);
    CHECK_OK(gpuexec_free_pinned(h));
    h = (uint32_t *)gpuexec_alloc_write_combined(s.ctx, 64);
    CHECK(h != NULL && host_flags == 7);
    CHECK_OK(gpuexec_free_pinned(h));
    memset(&desc, 0, sizeof desc);
    CHECK(gpuexec_alloc_pinned_with(s.ctx, 0, &desc) == NULL);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_alloc_pinned_with: cannot allocate 0 bytes");
    memset(&desc, 0x55, sizeof desc);
    CHECK(gpuexec_alloc_pinned_with(s.ctx, 64, &desc) == NULL);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_pinned_desc");
}

TEST(flags_of_registered_memory) {
    setting s = noting_host_flags();
    gpuexec_register_desc desc = { 0 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t *m = (uint32_t *)mmap(
                     NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
             got = 0;
    if (!CHECK(m != MAP_FAILED)) return;
    m[1] = 77;
    CHECK_OK(gpuexec_register_with(s.ctx, m, page, NULL));
    CHECK_EQ(host_flags, 3);
    CHECK_OK(gpuexec_unregister(m));
    desc.not_portable = 1;
    CHECK_OK(gpuexec_register_with(s.ctx, m, page, &desc));
    CHECK_EQ(host_flags, 2);
    CHECK_OK(gpuexec_unregister(m));
    desc.not_mapped = 1;
    CHECK_OK(gpuexec_register_with(s.ctx, m, page, &desc));
    CHECK_EQ(host_flags, 0);
    CHECK_REFUSED(gpuexec_register_with(s.ctx, m, page, &desc), GPUEXEC_BAD_ARGUMENT,
            "already registered (at tests/header/unit/memory.c:");
    CHECK_OK(gpuexec_unregister(m));

    CHECK_EQ(mprotect(m, page, PROT_READ), 0); /* the host has it without write access */
    CHECK_REFUSED(gpuexec_register(s.ctx, m, page), GPUEXEC_BAD_ARGUMENT, "cannot page-lock",
            "gpuexec_register_desc.read_only");
    memset(&desc, 0, sizeof desc);
    desc.read_only = 1;
    CHECK_OK(gpuexec_register_with(s.ctx, m, page, &desc));
    CHECK_EQ(host_flags, 11);
    CHECK_OK(gpuexec_copy_in(s.stream, s.data, m, 64));
    CHECK_OK(gpuexec_copy_out(s.stream, &got, s.data + 4, 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(got, 77);
    CHECK_OK(gpuexec_unregister(m));
    register_fails = 801;
    CHECK_REFUSED(gpuexec_register_with(s.ctx, m, page, &desc), GPUEXEC_NOT_SUPPORTED,
            "device 0 cannot register memory as read-only", "cuMemHostRegister returned");
    munmap(m, page);
    memset(&desc, 0x55, sizeof desc);
    CHECK_REFUSED(gpuexec_register_with(s.ctx, m, page, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_register_desc");
}

/* There is no I/O memory here: the flag arrives, and each refusal is explained. */
TEST(registered_io_memory) {
    setting s = noting_host_flags();
    gpuexec_register_desc desc = { 0 };
    static char memory[8192];
    int i;
    desc.io_memory = 1;
    for (i = 0; i < 3; i++) {
        register_fails = i == 0 ? 801 : i == 1 ? 800 : 1;
        host_flags = 0;
        CHECK_REFUSED(gpuexec_register_with(s.ctx, memory, sizeof memory, &desc),
                i == 0           ? GPUEXEC_NOT_SUPPORTED
                        : i == 1 ? GPUEXEC_DRIVER_ERROR
                                 : GPUEXEC_BAD_ARGUMENT,
                "cannot register 8192 bytes at", "as I/O memory", "privileged user");
        CHECK_EQ(host_flags, 7);
    }
    register_fails = 0;
    CHECK_REFUSED(gpuexec_register_with(s.ctx, memory, sizeof memory, &desc), GPUEXEC_BAD_ARGUMENT,
            "as I/O memory");
    CHECK_OK(gpuexec_register(s.ctx, memory, sizeof memory)); /* nothing was left behind */
    CHECK_OK(gpuexec_unregister(memory));
}

/* Memory of another library, such as the CUDA runtime: reported, usable in copies and kernels, and
   named when a copy is wrong. */
TEST(memory_of_another_library) {
    enum { bytes = 2 << 20 };
    int last = gpuexec_device_count() - 1;
    gpuexec_context ctx = gpuexec_context_open(last, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = foreign_alloc(ctx, bytes), address;
    uint32_t *h = (uint32_t *)foreign_alloc_pinned(ctx, 4096);
    gpuexec_pointer_info i = info_of(p + 5);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_DEVICE);
    CHECK_EQ(i.device, last);
    CHECK_EQ(i.base, p);
    CHECK_EQ(i.bytes, bytes);
    CHECK_EQ(i.device_address, p + 5);
    CHECK(!i.ours && i.where == NULL);
    i = info_of((uintptr_t)h);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_PINNED);
    CHECK_EQ(i.base, (uintptr_t)h);
    CHECK(i.bytes >= 4096);
    CHECK(i.host_address == h && !i.ours);
    address = gpuexec_pinned_address(h);
    CHECK_EQ(address, i.device_address);
    *h = 7;
    CHECK_OK(gpuexec_copy_in(s, p, h, 4));
    CHECK_OK(gpuexec_copy_out(s, h + 1, p, 4));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(h[1], 7);
    REFUSED(gpuexec_fill(s, p + bytes - 10, 0, 1, 11), "only 10 bytes remain", "another library",
            "cuMemsetD8Async");
    CHECK_RESULT(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "not from gpuexec_alloc");
    CHECK_REFUSED(gpuexec_register(ctx, h, 4096), GPUEXEC_BAD_ARGUMENT, "already page-locked",
            "another library", "4096 bytes");
    foreign_free(p);
    REFUSED(gpuexec_copy_out(s, h, p, 4), "the source", "not in device memory", "freed");
    foreign_free_pinned(h);
}

/* Memory of a pool has no context: it is queried in one of ours, but not in one that its owner
   destroyed. */
TEST(memory_of_a_pool_and_a_destroyed_context) {
    gpuexec_context owner = gpuexec_context_create(0, NULL),
                    adopted = gpuexec_context_from_native(gpuexec_context_native(owner)), ctx;
    gpuexec_pointer_info i;
    gpuexec_stream s;
    gpuexec_ptr p = 0;
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    CHECK_EQ(calls_find().cuMemAllocAsync(&p, 4096, gpuexec_stream_native(s)), 0);
    CHECK_OK(gpuexec_context_close(owner));
    i = info_of(p + 5);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_DEVICE);
    CHECK_EQ(i.device_address, p + 5);
    CHECK_RESULT(gpuexec_context_close(adopted), GPUEXEC_STALE_HANDLE);
    CHECK_OK(gpuexec_stream_sync(s));
}

TEST(the_wrong_kind_of_address) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4096), q = gpuexec_alloc(ctx, 4096);
    char *page = (char *)malloc(4096);
    REFUSED(gpuexec_copy_in(s, (uintptr_t)page, page + 2048, 100), "the destination",
            "not in device memory", "host pointer", "cuMemcpyHtoDAsync");
    REFUSED(gpuexec_copy(s, p, (uintptr_t)page, 100), "the source", "not in device memory");
    REFUSED(gpuexec_copy_in(s, p, (void *)(uintptr_t)q, 100), "the source",
            "device memory allocated at", "host pointer is required", "gpuexec_copy");
    REFUSED(gpuexec_copy_out_now(ctx, (void *)(uintptr_t)(p + 8), q, 100), "the destination",
            "device memory allocated at", "memory.c:");
    CHECK_EQ(gpuexec_pinned_address((void *)(uintptr_t)p), 0);
    CHECK_TEXT(gpuexec_error_text(), "device memory, not pinned", "gpuexec_register");
    gpuexec_take_error();
    CHECK_OK(gpuexec_free(q));
    REFUSED(gpuexec_copy(s, p, q, 4), "the source", "freed");
    CHECK_OK(gpuexec_stream_sync(s));
    free(page);
}

/* ---- registering ---- */

TEST(registrations_that_overlap) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 65536);
    char *h = NULL, *pinned = (char *)gpuexec_alloc_pinned(ctx, 8192);
    if (!CHECK(posix_memalign((void **)&h, 4096, 65536) == 0)) return;
    memset(h, 0, 65536);
    CHECK_OK(gpuexec_register(ctx, h + 16384, 16384));
    REFUSED(gpuexec_register(ctx, h + 20480, 4096), "already registered (at ",
            "memory.c:", "do not register it");
    REFUSED(gpuexec_register(ctx, h, 20480), "20480 bytes",
            "overlap 16384 bytes of registered memory",
            "memory.c:", "register the whole buffer once");
    REFUSED(gpuexec_register(ctx, h + 20480, 32768), "overlap 16384 bytes");
    REFUSED(gpuexec_register(ctx, h, 65536), "overlap 16384 bytes");
    REFUSED(gpuexec_register(ctx, pinned + 100, 4096), "already pinned memory");
    REFUSED(gpuexec_register(ctx, NULL, 4096), "\"memory\" is NULL");
    REFUSED(gpuexec_register(ctx, h, 0), "0 bytes");
    REFUSED(gpuexec_register(ctx, h + 40960, SIZE_MAX), "cannot register");
    CHECK_OK(gpuexec_register(ctx, h, 16384)); /* memory next to it is valid */
    CHECK_OK(gpuexec_unregister(h));
    /* copies that leave it, at the beginning and at the end */
    REFUSED(gpuexec_copy_in(s, p, h + 28672, 8192), "the source", "only 4096 bytes remain",
            "its allocation (16384 bytes of registered memory, registered at ", "memory.c:");
    REFUSED(gpuexec_copy_out(s, h + 12288, p, 8192), "the destination",
            "page-locked only from byte 4096 on", "that part was registered at", "memory.c:");
    expect_explained(s, p, (uintptr_t)h + 28672, 8192, 0, 0, "the source",
            "not within one allocation or registration");
    expect_explained(s, (uintptr_t)h + 12288, p, 8192, 0, 0, "the destination",
            "not within one allocation or registration");
    CHECK_OK(gpuexec_copy_in(s, p, h, 16384)); /* up to its beginning the memory is pageable */
    CHECK_OK(gpuexec_copy_in(s, p, h + 16384, 16384));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_FAILED(gpuexec_unregister(h + 16385), GPUEXEC_BAD_ARGUMENT,
            "1 byte after the beginning of the 16384 bytes of registered memory", "memory.c:");
    CHECK_FAILED(gpuexec_unregister(h + 4), GPUEXEC_BAD_ARGUMENT,
            "was already unregistered; it was part of 16384 bytes");
    CHECK_FAILED(gpuexec_unregister(pinned), GPUEXEC_BAD_ARGUMENT, "is pinned memory",
            "gpuexec_free_pinned");
    CHECK_OK(gpuexec_unregister(h + 16384));
    CHECK_RESULT(gpuexec_unregister(h + 16384), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(),
            "was already unregistered; it was part of 16384 bytes of registered memory at 0x",
            "unregistered at tests/header/unit/memory.c:");
    CHECK_EQ(gpuexec_pinned_address(h + 16384), 0);
    CHECK_TEXT(gpuexec_error_text(), "pageable memory, not pinned");
    gpuexec_take_error();
    free(h);
}

/* ---- will a copy be asynchronous ---- */

TEST(explained_copies) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL), legacy = gpuexec_stream_legacy(ctx),
                   never = { 0 };
    gpuexec_ptr p = gpuexec_alloc(ctx, 10000), q = gpuexec_alloc(ctx, 10000);
    char *pinned = (char *)gpuexec_alloc_pinned(ctx, 10000), *page = (char *)malloc(10000), at[32];
    uint64_t h = (uintptr_t)page, l = (uintptr_t)pinned;
    gpuexec_device_info device;
    gpuexec_copy_info info;
    int beside;
    CHECK_OK(gpuexec_device_get_info(0, &device));
    beside = device.async_engines > 0;
    snprintf(at, sizeof at, "0x%llx", (unsigned long long)h);
    expect_explained(s, p, h, 10000, 0, 0, "the source", "pageable");
    expect_explained(s, p, h, 10000, 0, 0, at, "gpuexec_alloc_pinned");
    expect_explained(s, h, p, 10000, 0, 0, "the destination", "pageable");
    expect_explained(s, h, p, 10000, 0, 0, "returns when the copy is done", "gpuexec_register");
    expect_explained(s, l, p, 10000, 1, beside, "page-locked", "device 0");
    expect_explained(s, p, l, 10000, 1, beside, "page-locked",
            beside ? "copy engine, concurrently with kernels" : "no copy engine");
    expect_explained(s, p, q, 10000, 1, 1, "within device 0", "bandwidth");
    expect_explained(s, h, h + 5000, 5000, 0, 0, "host memory", "memcpy");
    expect_explained(s, l, l + 5000, 5000, 0, 0, "host memory", "memcpy");
    expect_explained(s, p, l, 10001, 0, 0, "10001 bytes", "refused");
    expect_explained(s, p + 1, q, 10000, 0, 0, "the destination", "refused");
    expect_explained(s, h, p, 0, 1, 0, "0 bytes", "nothing");
    expect_explained(legacy, p, l, 10000, 1, 0, "page-locked", "legacy stream");
    expect_explained(legacy, p, h, 10000, 0, 0, "pageable", "cure:");
    CHECK_OK(gpuexec_register(ctx, page, 10000));
    expect_explained(s, p, h, 10000, 1, beside, "page-locked", "device 0");
    CHECK_OK(gpuexec_unregister(page));
    expect_explained(s, p, h, 10000, 0, 0, "pageable", "cure:");
    CHECK_RESULT(gpuexec_copy_explain(never, p, h, 4, &info), GPUEXEC_BAD_HANDLE);
    CHECK_RESULT(gpuexec_copy_explain(s, p, h, 4, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "\"info\" is NULL");
    CHECK_OK(gpuexec_take_error()); /* a query latches nothing */
    free(page);
}

/* The explanation must match the behaviour: while the stream is held back, a call that is explained
   as asynchronous returns, and its bytes have not arrived. One that is not would wait for ever: a
   thread opens the gate for it. */
static void hold_back(void *gate) {
    int closed = 0;
    TEST_UNTIL(__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE));
    /* given up */
    __atomic_compare_exchange_n((int *)gate, &closed, 2, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static void *open_later(void *gate) {
    test_sleep_ms(100); /* not order: the call could return in this time */
    __atomic_store_n((int *)gate, 1, __ATOMIC_RELEASE);
    return NULL;
}
TEST(explained_as_it_happens) {
    enum { bytes = 4096 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, bytes), q = gpuexec_alloc(ctx, bytes);
    char *pinned = (char *)gpuexec_alloc_pinned(ctx, bytes), *page = (char *)malloc(bytes),
         *registered = (char *)malloc(bytes);
    const uint64_t pairs[][2] = {
        { p, q },
        { p, (uintptr_t)pinned },
        { (uintptr_t)pinned, p },
        { (uintptr_t)registered, p },
        { (uintptr_t)page, p },
    };
    gpuexec_copy_info info;
    pthread_t thread;
    size_t i;
    CHECK_OK(gpuexec_register(ctx, registered, bytes));
    CHECK_OK(gpuexec_fill_now(ctx, q, 0, 1, bytes));
    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        static int gate;
        const uint64_t to = pairs[i][0], from = pairs[i][1];
        __atomic_store_n(&gate, 0, __ATOMIC_RELEASE);
        CHECK_OK(gpuexec_copy_explain(s, to, from, bytes, &info));
        CHECK_OK(gpuexec_stream_host_function(s, hold_back, &gate));
        if (!info.asynchronous && pthread_create(&thread, NULL, open_later, &gate)) return;
        if (to == p && from == q) CHECK_OK(gpuexec_copy(s, to, from, bytes));
        else if (to == p) CHECK_OK(gpuexec_copy_in(s, to, (void *)(uintptr_t)from, bytes));
        else CHECK_OK(gpuexec_copy_out(s, (void *)(uintptr_t)to, from, bytes));
        CHECK_EQ(__atomic_load_n(&gate, __ATOMIC_ACQUIRE), !info.asynchronous);
        __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
        if (!info.asynchronous) pthread_join(thread, NULL);
        CHECK_OK(gpuexec_stream_sync(s));
    }
    CHECK_OK(gpuexec_unregister(registered));
    free(registered);
    free(page);
}

/* Only GPUs support it. */
TEST(managed_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr m = 0, p = gpuexec_alloc(ctx, 4096);
    gpuexec_copy_info copy;
    gpuexec_pointer_info i;
    int result;
    CHECK_OK(gpuexec_context_push(ctx));
    result = gxi.cu.cuMemAllocManaged(&m, 4096, 1);
    CHECK_OK(gpuexec_context_pop(ctx));
    if (result == 801) SKIP("the device has no managed memory");
    CHECK_EQ(result, 0);
    i = info_of(m + 8);
    CHECK_EQ(i.kind, GPUEXEC_MEMORY_MANAGED);
    CHECK_EQ(i.base, m);
    CHECK_EQ(i.bytes, 4096);
    CHECK_EQ(i.device_address, m + 8);
    CHECK(i.host_address == (void *)(uintptr_t)(m + 8) && !i.ours);
    memset((void *)(uintptr_t)m, 3, 4096);
    CHECK_OK(gpuexec_copy_explain(s, p, m, 4096, &copy));
    CHECK_EQ(copy.overlaps, 0);
    CHECK_TEXT(copy.why, "managed memory");
    CHECK_OK(gpuexec_copy(s, p, m, 4096));
    CHECK_OK(gpuexec_fill(s, m, 0, 1, 4096));
    CHECK_OK(gpuexec_copy_out(s, (char *)(uintptr_t)m + 1, p, 1));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(*(unsigned char *)(uintptr_t)m, 0);
    CHECK_EQ(((unsigned char *)(uintptr_t)m)[1], 3);
    foreign_free(m);
}

/* Calls that the driver can refuse although their arguments are right. */
TEST_ALONE(a_driver_that_fails) {
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_ptr p, q, other;
    gpuexec_pointer_info info;
    gpuexec_copy_info copy;
    size_t pitch;
    char *h = (char *)malloc(8192);
    setenv("SIMGPU_FAIL",
            "cuPointerGetAttributes:1:999,cuPointerGetAttributes:2:999,cuPointerGetAttributes:3:"
            "999,cuMemAllocPitch:1:2,"
            "cuMemHostRegister:1:2,cuMemHostUnregister:1:713,cuMemcpy2DAsync:1:999,"
            "cuMemcpyPeerAsync:1:999,cuMemGetAddressRange:1:1",
            1);
    if (!on_cpu_device()) SKIP("needs the CPU device's failures");
    ctx = gpuexec_context_open(0, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    p = gpuexec_alloc(ctx, 4096), q = gpuexec_alloc(ctx, 4096), other = foreign_alloc(ctx, 4096);
    CHECK_RESULT(gpuexec_pointer_get_info(other, &info), GPUEXEC_DRIVER_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "cannot query pointer 0x", "cuPointerGetAttributes", "999");
    CHECK_RESULT(gpuexec_copy_explain(s, p, other, 4, &copy), GPUEXEC_DRIVER_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_copy_explain", "cannot query pointer 0x");
    CHECK_EQ(gpuexec_pinned_address(h), 0);
    CHECK_TEXT(gpuexec_error_text(), "cannot query the device address");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_DRIVER_ERROR);
    CHECK_EQ(gpuexec_alloc_pitched(ctx, 100, 10, 4, &pitch), 0);
    CHECK_TEXT(gpuexec_error_text(), "1000 bytes", "of device memory", "cuMemAllocPitch");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    CHECK_EQ(pitch, 0);
    CHECK(gpuexec_register(ctx, h, 8192) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "cannot page-lock", "8192 bytes at", "cuMemHostRegister");
    gpuexec_take_error();
    CHECK_REFUSED(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, 64), ON_DEVICE(q, 64), 64, 2)),
            GPUEXEC_DRIVER_ERROR, "cannot copy 2 rows of 64 bytes", "cuMemcpy2DAsync");
    CHECK_REFUSED(gpuexec_copy_peer(s, p, ctx, q, ctx, 64), GPUEXEC_DRIVER_ERROR,
            "cannot copy 64 bytes", "cuMemcpyPeerAsync");
    CHECK_OK(gpuexec_register(ctx, h, 8192)); /* the failures are used up: everything works */
    CHECK(gpuexec_unregister(h) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "cuMemHostUnregister");
    CHECK_OK(gpuexec_pointer_get_info(q, &info));
    CHECK_EQ(info.base, q);
    CHECK((p = gpuexec_alloc_pitched(ctx, 100, 10, 4, &pitch)) != 0);
    CHECK_OK(gpuexec_copy_with(s, ROWS(ON_DEVICE(p, pitch), ON_DEVICE(q, 64), 64, 2)));
    CHECK_OK(gpuexec_stream_sync(s));
    free(h);
}

/* ---- memory and its context ---- */

/* The driver must not get a context that its owner destroyed: it would use it, and corrupt the
   heap. */
TEST(freeing_after_the_owner_destroyed_the_context) {
    gpuexec_context owner = gpuexec_context_create(0, NULL),
                    ctx = gpuexec_context_from_native(gpuexec_context_native(owner));
    gpuexec_ptr p = gpuexec_alloc(ctx, 64), q = gpuexec_alloc(ctx, 64);
    CHECK(p != 0 && q != 0);
    CHECK_OK(gpuexec_context_close(owner));
    CHECK_RESULT(gpuexec_free(p), GPUEXEC_STALE_HANDLE);
    CHECK_TEXT(gpuexec_error_text(), "was destroyed outside gpuexec");
    CHECK_RESULT(gpuexec_free(q), GPUEXEC_BAD_ARGUMENT); /* the memory was freed with the context */
    CHECK_RESULT(gpuexec_context_close(ctx), GPUEXEC_STALE_HANDLE);
}

/* A free that fails can be repeated later. */
TEST_ALONE(freeing_after_a_failure) {
    gpuexec_context ctx;
    gpuexec_ptr p;
    if (!on_cpu_device()) SKIP("only the CPU device fails on request");
    setenv("SIMGPU_FAIL", "cuCtxPushCurrent:2:2", 1);
    ctx = gpuexec_context_open(0, NULL);
    p = gpuexec_alloc(ctx, 64);
    CHECK(gpuexec_free(p) != GPUEXEC_OK);
    CHECK_OK(gpuexec_free(p));
}

/* The table of allocations against an array with the same content: splits and ends of leaves,
   neighbours, gaps. */
TEST(the_table_of_allocations) {
    enum { PLACES = 5000, STEPS = 200000 };
    /* of the allocation that begins at that 256th byte; 0: none */
    static unsigned char size[PLACES];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const uint64_t base = 0x7000000000000000u;
    uint32_t random = 5, step, wrong = 0, live = 0;
    gpuexec_pointer_info info;
    gxi_range r;
    memset(size, 0, sizeof size);
    for (step = 0; step < STEPS && !wrong; step++) {
        const uint32_t at = test_random(&random) % PLACES, by = test_random(&random) % 256;
        const int phase = step / 40000 % 2; /* grows to nearly all, shrinks to nearly none */
        if (size[at] && (phase || by < 32)) {
            if (!gxi_range_remove(base + 256 * at, GPUEXEC_MEMORY_DEVICE, NULL, &r)) wrong++;
            size[at] = 0;
            live--;
        } else if (!size[at] && (!phase || by < 32)) {
            size[at] = (unsigned char)(1 + by % 255);
            if (!gxi_range_add(base + 256 * at, size[at], ctx.id, NULL, GPUEXEC_MEMORY_DEVICE, 0))
                wrong++;
            live++;
        }
        if (!size[at] != !gxi_range_find(base + 256 * at, &r)) wrong++;
        if ((by < size[at]) != gxi_range_find(base + 256 * at + by, &r)) wrong++;
        if (by < size[at] && (r.lo != base + 256 * at || r.bytes != size[at])) wrong++;
        if ((by < size[at]) != gxi_pointer_query_fast(base + 256 * at + by, &info)) wrong++;
        if (by < size[at] && (info.base != base + 256 * at || info.bytes != size[at])) wrong++;
        if (!size[at] && gxi_range_remove(base + 256 * at, GPUEXEC_MEMORY_DEVICE, NULL, &r))
            wrong++;
    }
    CHECK_EQ(wrong, 0);
    while (gxi_context_remove_range(gxi_peek(ctx.id, GXI_CONTEXT), &r, NULL)) live--;
    CHECK_EQ(live, 0);
    CHECK_EQ(gxi.ranges.nleaves, 0);
}

/* Queries of allocations take no lock: they stay right while others are added and removed between
   these. */
enum { STEADY = 700, STEADY_APART = 4096 };
static const uint64_t steady = 0x7000000000000000u;
typedef struct query {
    int done;
    unsigned wrong, right;
} query;
static void *query_steady(void *user) {
    query *q = (query *)user;
    gxi_range_entry entry;
    uint64_t lo, i;
    while (!GXI_LOAD(&q->done))
        for (i = 0; i < STEADY; i++) {
            /* it changes: queried again */
            if (!gxi_range_entry_find(steady + i * STEADY_APART + i, &entry, &lo)) continue;
            GXI_STORE(&q->right, q->right + 1);
            q->wrong += lo != steady + i * STEADY_APART || entry.bytes != 1000 + i;
        }
    return NULL;
}
static int has_queried(query *q) {
#ifdef __SANITIZE_THREAD__ /* under which each query takes the lock, and finds nothing here */
    return q != NULL;
#else
    return GXI_LOAD(&q->right) > 0;
#endif
}
TEST(queries_while_the_table_changes) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    pthread_t thread;
    uint32_t random = 1, wrong = 0, step;
    uint64_t i;
    gxi_range r;
    query q = { 0, 0, 0 };
    for (i = 0; i < STEADY; i++)
        wrong += !gxi_range_add(
                steady + i * STEADY_APART, 1000 + i, ctx.id, NULL, GPUEXEC_MEMORY_DEVICE, 0);
    CHECK_EQ(pthread_create(&thread, NULL, query_steady, &q), 0);
    for (step = 0; step < 100000 || !has_queried(&q); step++) {
        const uint64_t at = steady + test_random(&random) % STEADY * STEADY_APART + 2000;
        if (!gxi_range_remove(at, GPUEXEC_MEMORY_DEVICE, NULL, &r))
            wrong += !gxi_range_add(at, 2000, ctx.id, NULL, GPUEXEC_MEMORY_DEVICE, 0);
    }
    GXI_STORE(&q.done, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(q.wrong + wrong, 0);
    while (gxi_context_remove_range(gxi_peek(ctx.id, GXI_CONTEXT), &r, NULL)) {}
}

/* The owner destroyed a context, and with it its memory, and the driver returns the address again
   before gpuexec detects that: the table's old entry is obsolete, and must not be freed when that
   context is closed. */
TEST(an_address_that_the_driver_gives_out_again) {
    gpuexec_context first = gpuexec_context_open(0, NULL), second = gpuexec_context_create(0, NULL);
    const uint64_t at = 0x7000000000000000u;
    gxi_range r;
    CHECK(gxi_range_add(at, 64, first.id, NULL, GPUEXEC_MEMORY_DEVICE, 0));
    CHECK(gxi_range_add(at, 128, second.id, NULL, GPUEXEC_MEMORY_DEVICE, 0));
    CHECK(!gxi_context_remove_range(gxi_peek(first.id, GXI_CONTEXT), &r, NULL));
    CHECK(gxi_range_find(at + 100, &r) && r.context == second.id && r.bytes == 128);
    CHECK(gxi_context_remove_range(gxi_peek(second.id, GXI_CONTEXT), &r, NULL) && r.bytes == 128);
    CHECK_EQ(gxi.ranges.nleaves, 0);
}

/* Of a launch over several devices in a graph that fails half way. Between the two steps, another
   thread frees memory, for which all graphs are read. */
TEST(a_node_that_was_removed_is_forgotten) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_graph g = gpuexec_graph_create(ctx);
    gpuexec_ptr removed = gpuexec_alloc(ctx, 4096), used = gpuexec_alloc(ctx, 4096),
                other = gpuexec_alloc(ctx, 64);
    gpuexec_node n = gpuexec_graph_add_fill(g, removed, 0, 1, 16, GPUEXEC_FIRST);
    gxi_call call;
    CHECK_OK(gpuexec_free(other));
    gxi_call_init(&call, "test", NULL, GXI_MAKES);
    gxi_graph_remove_last_node(&call, g, n.index);
    CHECK_MADE(gpuexec_graph_add_fill(g, used, 0, 1, 16, GPUEXEC_FIRST).graph);
    CHECK_OK(gpuexec_free(removed));
    CHECK_OK(gpuexec_graph_launch(g, s));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_free(used));
    CHECK_REFUSED(gpuexec_graph_launch(g, s), GPUEXEC_STALE_HANDLE, "node 0 uses the 4096 bytes",
            "freed at");
}
