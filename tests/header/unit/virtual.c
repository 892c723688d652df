/* virtual.c - memory that grows without moving: gpuexec_virtual_create and what follows it, also
   over two devices, in graphs, and in another process. */
#include "../../test.h"
#include <fcntl.h>

enum { UNIT = 2 << 20, WORDS = UNIT / 4 };
#define PATIENCE (test_timeout() * 500)

/* ---- the other process: this program again ---- */

static void other_process(void);
static const test as_other = { "the other process", NULL, 0, 0, NULL };
__attribute__((constructor)) static void begin_part(void) {
    if (!getenv("VIRTUAL_FD")) return;
    test_current = &as_other;
    other_process();
    gpuexec_shutdown();
    fflush(NULL);
    _exit(test_failures != 0);
}
static pid_t start_other(int fd) {
    char number[16];
    pid_t child;
    snprintf(number, sizeof number, "%d", fd);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        setenv("VIRTUAL_FD", number, 1);
        execl("/proc/self/exe", "virtual", (char *)NULL);
        _exit(127);
    }
    close(fd);
    return child;
}

/* ---- what the tests share ---- */

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    s.host = (uint32_t *)gpuexec_alloc_pinned(s.ctx, 4 * UNIT);
    return s;
}
static gpuexec_virtual range_of(gpuexec_context ctx, size_t bytes, size_t max_bytes) {
    gpuexec_virtual_desc desc = { 0 };
    desc.bytes = bytes;
    desc.max_bytes = max_bytes;
    return gpuexec_virtual_create(ctx, &desc);
}
static gpuexec_virtual_info info_of(gpuexec_virtual range) {
    gpuexec_virtual_info info;
    CHECK_OK(gpuexec_virtual_get_info(range, &info));
    return info;
}
static void add(const setting *s, gpuexec_stream stream, gpuexec_ptr p, uint32_t by, uint32_t n) {
    CHECK_OK(gpuexec_launch(s->kernel, stream, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
}
/* All words have that value. */
static void check_words(const setting *s, gpuexec_ptr p, size_t bytes, uint32_t value) {
    size_t i, bad = 0;
    memset(s->host, 0xAA, bytes);
    CHECK_OK(gpuexec_copy_out(s->stream, s->host, p, bytes));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    for (i = 0; i < bytes / 4; i++) bad += s->host[i] != value;
    CHECK_EQ(bad, 0);
}
static size_t free_bytes(gpuexec_context ctx) {
    size_t bytes = 0;
    CHECK_OK(gpuexec_context_get_memory(ctx, &bytes, NULL));
    return bytes;
}

/* ---- growing and shrinking ---- */

TEST(a_range_grows_and_keeps_its_address_and_data) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, 1, (size_t)4 << 30);
    gpuexec_virtual_info info;
    gpuexec_ptr p;
    uint32_t i;
    if (!CHECK_MADE(range)) return;
    p = gpuexec_virtual_address(range);
    info = info_of(range);
    CHECK(p && p == info.address && p % info.granularity == 0);
    CHECK_EQ(info.bytes, info.granularity);
    CHECK_EQ(info.max_bytes, (size_t)4 << 30);
    CHECK_EQ(info.pieces, 1);
    CHECK_EQ(info.device, 0);
    CHECK_EQ(info.devices, 1);
    CHECK_OK(gpuexec_fill(s.stream, p, 1, 4, WORDS));
    for (i = 2; i <= 4; i++) {
        CHECK_OK(gpuexec_virtual_grow(range, i * UNIT));
        CHECK_EQ(gpuexec_virtual_address(range), p);
        CHECK_EQ(info_of(range).bytes, i * UNIT);
        CHECK_EQ(info_of(range).pieces, i);
        CHECK_OK(gpuexec_fill(s.stream, p + (i - 1) * UNIT, i, 4, WORDS));
        /* one kernel and one copy over all pieces */
        add(&s, s.stream, p, 1, i * WORDS);
    }
    /* piece k has its number, and one more for each growth since */
    for (i = 1; i <= 4; i++) check_words(&s, p + (i - 1) * UNIT, UNIT, i + (i == 1 ? 3 : 5 - i));
    CHECK_OK(gpuexec_fill(s.stream, p, 9, 4, 4 * WORDS));
    check_words(&s, p, 4 * UNIT, 9);
    /* no change */
    CHECK_OK(gpuexec_virtual_grow(range, 0));
    CHECK_OK(gpuexec_virtual_grow(range, UNIT));
    CHECK_EQ(info_of(range).bytes, 4 * UNIT);
    CHECK_OK(gpuexec_virtual_destroy(range));
}
/* The kernel uses the first part, before, during and after the growth. */
TEST(a_range_grows_while_kernels_use_it) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 8 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    const test_gate g = gate_make(s.ctx, s.mod);
    uint32_t i;
    CHECK_OK(gpuexec_fill_now(s.ctx, p, 0, 4, WORDS));
    gate_close(g, s.stream);
    for (i = 0; i < 3; i++) add(&s, s.stream, p, 1, WORDS);
    CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_fill(s.stream, p + UNIT, 0, 4, WORDS));
    add(&s, s.stream, p, 4, 2 * WORDS);
    CHECK_OK(gpuexec_virtual_grow(range, 3 * UNIT));
    CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
    gate_open(g);
    check_words(&s, p, UNIT, 7);
    check_words(&s, p + UNIT, UNIT, 4);
    CHECK_EQ(info_of(range).bytes, 3 * UNIT);
}
TEST(a_range_shrinks_by_pieces) {
    setting s = begin();
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual range;
    gpuexec_virtual_piece piece;
    gpuexec_ptr p;
    size_t before, all;
    desc.max_bytes = 16 * UNIT;
    desc.bytes = 5 * UNIT;
    desc.piece_bytes = 2 * UNIT;
    before = free_bytes(s.ctx);
    range = gpuexec_virtual_create(s.ctx, &desc);
    p = gpuexec_virtual_address(range);
    all = free_bytes(s.ctx);
    if (on_cpu_device()) CHECK_EQ(before - all, 5 * UNIT);
    CHECK_EQ(info_of(range).pieces, 3);
    CHECK_OK(gpuexec_virtual_get_piece(range, 1, &piece));
    CHECK_EQ(piece.offset, 2 * UNIT);
    CHECK_EQ(piece.bytes, 2 * UNIT);
    CHECK_EQ(piece.device, 0);
    CHECK_EQ(piece.ipc, 0);
    CHECK_OK(gpuexec_virtual_get_piece(range, 2, &piece));
    CHECK_EQ(piece.bytes, UNIT);
    CHECK_OK(gpuexec_fill(s.stream, p, 3, 4, 5 * WORDS));
    /* the piece that begins before it stays */
    CHECK_OK(gpuexec_virtual_shrink(range, 3 * UNIT));
    CHECK_EQ(info_of(range).bytes, 4 * UNIT);
    CHECK_EQ(info_of(range).pieces, 2);
    check_words(&s, p, 4 * UNIT, 3);
    if (on_cpu_device()) CHECK_EQ(before - free_bytes(s.ctx), 4 * UNIT);
    CHECK_OK(gpuexec_virtual_shrink(range, 4 * UNIT)); /* nothing to do */
    CHECK_EQ(info_of(range).bytes, 4 * UNIT);
    CHECK_OK(gpuexec_virtual_shrink(range, 0));
    CHECK_EQ(info_of(range).bytes, 0);
    CHECK_EQ(info_of(range).pieces, 0);
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
    CHECK_OK(gpuexec_virtual_shrink(range, 0));
    /* at the same address again */
    CHECK_OK(gpuexec_virtual_grow(range, 4 * UNIT));
    CHECK_EQ(gpuexec_virtual_address(range), p);
    CHECK_OK(gpuexec_fill(s.stream, p, 4, 4, 4 * WORDS));
    check_words(&s, p, 4 * UNIT, 4);
    CHECK_OK(gpuexec_virtual_destroy(range));
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
}
static struct late {
    test_gate g;
    int opened;
} late;
static void *open_later(void *unused) {
    (void)unused;
    __atomic_store_n(&late.opened, 1, __ATOMIC_RELEASE);
    gate_open(late.g);
    return NULL;
}
/* The driver unmaps without waiting: gpuexec waits for the kernel that still writes there. */
TEST(shrinking_waits_for_pending_work) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    pthread_t thread;
    int destroys;
    for (destroys = 0; destroys < 2; destroys++) {
        late.g = gate_make(s.ctx, s.mod);
        late.opened = 0;
        CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
        gate_close(late.g, s.stream);
        CHECK_OK(gpuexec_fill(s.stream, p + UNIT, 0, 4, WORDS));
        add(&s, s.stream, p + UNIT, 1, WORDS);
        CHECK_EQ(pthread_create(&thread, NULL, open_later, NULL), 0);
        CHECK_OK(destroys ? gpuexec_virtual_destroy(range) : gpuexec_virtual_shrink(range, UNIT));
        CHECK(__atomic_load_n(&late.opened, __ATOMIC_ACQUIRE));
        CHECK_OK(gpuexec_stream_query(s.stream));
        CHECK_EQ(pthread_join(thread, NULL), 0);
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
static void *shrink_to_one(void *range) {
    CHECK_OK(gpuexec_virtual_shrink(*(const gpuexec_virtual *)range, UNIT));
    return NULL;
}
/* While one range waits for its kernel, which waits for the host, others grow. */
TEST(a_range_that_waits_stops_no_other) {
    setting s = begin();
    gpuexec_virtual waits = range_of(s.ctx, UNIT, 4 * UNIT), grows = range_of(s.ctx, 0, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(waits);
    const test_gate g = gate_make(s.ctx, s.mod);
    pthread_t thread;
    CHECK_OK(gpuexec_virtual_grow(waits, 2 * UNIT));
    CHECK_OK(gpuexec_fill_now(s.ctx, p, 0, 4, 2 * WORDS));
    gate_close(g, s.stream);
    add(&s, s.stream, p, 1, 2 * WORDS);
    CHECK_EQ(pthread_create(&thread, NULL, shrink_to_one, &waits), 0);
    TEST_UNTIL(info_of(waits).pieces == 1);
    CHECK_OK(gpuexec_virtual_grow(grows, 4 * UNIT));
    CHECK_EQ(info_of(grows).bytes, 4 * UNIT);
    CHECK_RESULT(gpuexec_stream_query(s.stream), GPUEXEC_NOT_READY);
    gate_open(g);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    check_words(&s, p, UNIT, 1);
}
TEST(addresses_without_memory) {
    setting s = begin();
    size_t before = free_bytes(s.ctx);
    gpuexec_virtual range = range_of(s.ctx, 0, 3 * UNIT + 1);
    gpuexec_virtual_info info;
    if (!CHECK_MADE(range)) return;
    info = info_of(range);
    CHECK_EQ(info.bytes, 0);
    CHECK_EQ(info.max_bytes, 4 * UNIT);
    CHECK_EQ(info.pieces, 0);
    CHECK(info.address != 0);
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
    CHECK_REFUSED(gpuexec_fill(s.stream, info.address, 0, 4, 1), GPUEXEC_BAD_ARGUMENT,
            "cannot fill 4 bytes: the destination 0x", "is byte 0 of the virtual range created at ",
            "virtual.c:", "which has 0 bytes", "let the range grow first");
    CHECK_REFUSED(gpuexec_copy_out(s.stream, s.host, info.address + 3 * UNIT, 4),
            GPUEXEC_BAD_ARGUMENT, "the source 0x", "is byte 6291456 of the virtual range");
    CHECK_OK(gpuexec_virtual_grow(range, 4 * UNIT));
    CHECK_OK(gpuexec_fill(s.stream, info.address, 0, 4, 4 * WORDS));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_virtual_destroy(range));
}
/* Random sizes, compared with a copy on the host. */
TEST(random_growths_and_shrinks) {
    setting s = begin();
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual range;
    uint32_t seed = 5, values[8] = { 0 }, i, step;
    size_t have = 0;
    gpuexec_ptr p;
    desc.max_bytes = 8 * UNIT;
    desc.piece_bytes = UNIT;
    range = gpuexec_virtual_create(s.ctx, &desc);
    p = gpuexec_virtual_address(range);
    for (step = 1; step <= 40; step++) {
        const size_t want = test_random(&seed) % 9;
        if (want > have) {
            CHECK_OK(gpuexec_virtual_grow(range, want * UNIT - test_random(&seed) % UNIT));
            for (i = (uint32_t)have; i < want; i++) {
                values[i] = step;
                CHECK_OK(gpuexec_fill(s.stream, p + i * UNIT, step, 4, WORDS));
            }
        } else CHECK_OK(gpuexec_virtual_shrink(range, want * UNIT));
        have = want;
        CHECK_EQ(info_of(range).bytes, have * UNIT);
        for (i = 0; i < have; i++) {
            CHECK_OK(gpuexec_copy_out(s.stream, s.host + i, p + (i + 1) * UNIT - 4, 4));
        }
        CHECK_OK(gpuexec_stream_sync(s.stream));
        for (i = 0; i < have; i++) CHECK_EQ(s.host[i], values[i]);
    }
}
typedef struct grower {
    gpuexec_virtual range;
    uint32_t seed;
} grower;
static void *grow_and_look(void *arg) {
    grower *const g = (grower *)arg;
    gpuexec_virtual_info info;
    gpuexec_virtual_piece piece;
    gpuexec_pointer_info where;
    int i;
    for (i = 1; i <= 8; i++) {
        CHECK_OK(gpuexec_virtual_grow(g->range, (size_t)i * UNIT));
        CHECK_OK(gpuexec_virtual_get_info(g->range, &info));
        CHECK(info.bytes >= (size_t)i * UNIT && info.bytes <= 8 * UNIT);
        CHECK_OK(gpuexec_virtual_get_piece(g->range, test_random(&g->seed) % info.pieces, &piece));
        CHECK_OK(gpuexec_pointer_get_info(info.address + (size_t)i * UNIT - 1, &where));
        CHECK_EQ(where.is_virtual, 1);
        CHECK_EQ(where.base, info.address);
        CHECK_EQ(where.device, 0);
    }
    return NULL;
}
TEST(threads_grow_one_range) {
    setting s = begin();
    grower growers[4];
    pthread_t threads[4];
    gpuexec_virtual range = range_of(s.ctx, UNIT, 8 * UNIT);
    uint32_t i;
    for (i = 0; i < 4; i++) {
        growers[i].range = range;
        growers[i].seed = i + 1;
        CHECK_EQ(pthread_create(&threads[i], NULL, grow_and_look, &growers[i]), 0);
    }
    for (i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(info_of(range).bytes, 8 * UNIT);
}

/* ---- it is ordinary memory ---- */

TEST(what_is_at_an_address) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    gpuexec_pointer_info info;
    gpuexec_copy_info copy;
    int i;
    for (i = 1; i <= 2; i++) {
        CHECK_OK(gpuexec_pointer_get_info(p + 5, &info));
        CHECK_EQ(info.kind, GPUEXEC_MEMORY_DEVICE);
        CHECK_EQ(info.device, 0);
        CHECK_EQ(info.base, p);
        CHECK_EQ(info.bytes, i * UNIT);
        CHECK_EQ(info.device_address, p + 5);
        CHECK(!info.host_address);
        CHECK_EQ(info.ours, 1);
        CHECK_EQ(info.is_virtual, 1);
        CHECK_EQ(info.pool + info.ipc, 0);
        CHECK_TEXT(info.where, "virtual.c:");
        CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    }
    CHECK_OK(gpuexec_pointer_get_info(s.data, &info));
    CHECK_EQ(info.is_virtual, 0);
    CHECK_OK(gpuexec_copy_explain(s.stream, p, (uintptr_t)s.host, 64, &copy));
    CHECK_EQ(copy.asynchronous, 1);
    CHECK_TEXT(gpuexec_describe(range), "virtual range created at ", "virtual.c:", "device 0",
            "4194304 of at most 8388608 bytes at 0x");
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_TEXT(gpuexec_describe(range), "virtual range, stale", "destroyed", "virtual.c:");
}
TEST(copies_of_all_shapes_cross_pieces) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    gpuexec_copy_part parts[4];
    uint32_t i;
    CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    CHECK_OK(gpuexec_virtual_grow(range, 4 * UNIT));
    for (i = 0; i < 4 * WORDS; i++) s.host[i] = i;
    CHECK_OK(gpuexec_copy_in(s.stream, p, s.host, 4 * UNIT));
    CHECK_OK(gpuexec_copy(s.stream, s.data, p + UNIT - 64, 128));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, 128));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < 32; i++) CHECK_EQ(s.host[i], WORDS - 16 + i);
    /* rows of 64 bytes, one of them across a border */
    CHECK_OK(gpuexec_copy_with(s.stream,
            ROWS(ON_DEVICE(s.data, 64), ON_DEVICE(p + 2 * UNIT - 32 - 4096, 4096), 64, 4)));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, 256));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < 64; i++) CHECK_EQ(s.host[i], 2 * WORDS - 8 - 1024 + i / 16 * 1024 + i % 16);
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 4; i++) {
        parts[i].from = p + UNIT - 8 + i * 4;
        parts[i].to = s.data + i * 4;
        parts[i].bytes = 4;
    }
    CHECK_OK(gpuexec_copy_many(s.stream, parts, 4));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, 16));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < 4; i++) CHECK_EQ(s.host[i], WORDS - 2 + i);
}
TEST(captures_and_graphs) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT), other;
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    gpuexec_graph g = { 0 }, tail = { 0 };
    CHECK_OK(gpuexec_fill_now(s.ctx, p, 0, 4, WORDS));
    GPUEXEC_CAPTURE(s.stream, &g) {
        add(&s, s.stream, p, 1, WORDS);
        /* growing goes on in a capture, shrinking waits for work, which none can */
        CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
        CHECK_FAILED(gpuexec_virtual_shrink(range, UNIT), GPUEXEC_CAPTURING,
                "cannot shrink the virtual range created at ", "virtual.c:", "is capturing",
                "end the capture first");
        other = range_of(s.ctx, UNIT, 0);
        CHECK_MADE(other);
    }
    CHECK_MADE(g);
    CHECK_EQ(info_of(range).bytes, 2 * UNIT);
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_virtual_grow(range, 3 * UNIT));
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    check_words(&s, p, UNIT, 2);
    GPUEXEC_CAPTURE(s.stream, &tail) {
        CHECK_OK(gpuexec_fill(s.stream, p + 2 * UNIT, 5, 4, WORDS));
    }
    CHECK_OK(gpuexec_graph_launch(tail, s.stream));
    check_words(&s, p + 2 * UNIT, UNIT, 5);
    CHECK_OK(gpuexec_virtual_shrink(range, 2 * UNIT));
    CHECK_OK(gpuexec_graph_launch(g, s.stream)); /* it does not use that part */
    check_words(&s, p, UNIT, 3);
    CHECK_REFUSED(gpuexec_graph_launch(tail, s.stream), GPUEXEC_STALE_HANDLE,
            "uses the 2097152 bytes of device memory at 0x", "virtual.c:", "freed at ");
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_REFUSED(gpuexec_graph_launch(g, s.stream), GPUEXEC_STALE_HANDLE,
            "bytes of device memory at 0x", "virtual.c:");
    CHECK_OK(gpuexec_virtual_destroy(other));
}
TEST(a_graph_retains_a_range) {
    setting s = begin();
    size_t before = free_bytes(s.ctx);
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    gpuexec_graph g = { 0 };
    CHECK_OK(gpuexec_fill_now(s.ctx, p, 0, 4, WORDS));
    GPUEXEC_CAPTURE(s.stream, &g) {
        add(&s, s.stream, p, 1, WORDS);
        CHECK_OK(gpuexec_copy_out(s.stream, s.host, p, UNIT));
    }
    CHECK_OK(gpuexec_graph_retain(g));
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(s.host[WORDS - 1], 2);
    CHECK_OK(gpuexec_graph_destroy(g));
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
}
TEST(destroyed_in_a_capture) {
    setting s = begin();
    size_t before = free_bytes(s.ctx);
    gpuexec_virtual range = range_of(s.ctx, UNIT, 0);
    gpuexec_graph g = { 0 };
    GPUEXEC_CAPTURE(s.stream, &g) {
        CHECK_OK(gpuexec_fill(s.stream, gpuexec_virtual_address(range), 1, 4, WORDS));
        CHECK_OK(gpuexec_virtual_destroy(range));
        if (on_cpu_device()) CHECK_EQ(before - free_bytes(s.ctx), UNIT);
    }
    CHECK_MADE(g);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
    CHECK_REFUSED(gpuexec_graph_launch(g, s.stream), GPUEXEC_STALE_HANDLE, "freed at ");
}
/* Other code captures: destroying the range would break that. */
TEST(captures_of_other_code) {
    setting s = begin();
    const driver_calls cu = calls_find();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 2 * UNIT);
    struct CUstream_st *const native = gpuexec_stream_native(s.stream);
    void *graph = NULL;
    CHECK_EQ(cu.cuStreamBeginCapture_v2(native, GPUEXEC_CAPTURE_GLOBAL), 0);
    CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    CHECK_FAILED(gpuexec_virtual_shrink(range, UNIT), GPUEXEC_CAPTURING, "is capturing");
    CHECK_FAILED(gpuexec_virtual_destroy(range), GPUEXEC_CAPTURING,
            "cannot destroy the virtual range created at ", "virtual.c:", "is capturing");
    CHECK_EQ(cu.cuStreamEndCapture(native, &graph), 0);
    CHECK_EQ(cu.cuGraphDestroy(graph), 0);
    CHECK_OK(gpuexec_virtual_shrink(range, UNIT));
    CHECK_OK(gpuexec_virtual_destroy(range));
}

/* ---- rings ---- */

TEST(a_mirrored_range) {
    setting s = begin();
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual ring;
    gpuexec_virtual_info info;
    gpuexec_pointer_info at;
    gpuexec_ptr p;
    size_t before = free_bytes(s.ctx);
    uint32_t i;
    desc.bytes = 2 * UNIT - 5;
    desc.mirror = 1;
    ring = gpuexec_virtual_create(s.ctx, &desc);
    if (!CHECK_MADE(ring)) return;
    info = info_of(ring);
    p = info.address;
    CHECK_EQ(info.bytes, 2 * UNIT);
    CHECK_EQ(info.max_bytes, 2 * UNIT);
    CHECK_EQ(info.pieces, 1);
    if (on_cpu_device()) CHECK_EQ(before - free_bytes(s.ctx), 2 * UNIT);
    CHECK_OK(gpuexec_pointer_get_info(p + 3 * UNIT, &at));
    CHECK_EQ(at.bytes, 4 * UNIT);
    CHECK_EQ(at.device, 0);
    for (i = 0; i < 4 * WORDS; i++) s.host[i] = i;
    /* written across the end: the rest is at the beginning */
    CHECK_OK(gpuexec_copy_in(s.stream, p + UNIT, s.host, 2 * UNIT));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host + 2 * WORDS, p, UNIT));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < WORDS; i++)
        if (!CHECK_EQ(s.host[2 * WORDS + i], WORDS + i)) break;
    /* a kernel reads and writes across it */
    CHECK_OK(gpuexec_fill(s.stream, p, 1, 4, 2 * WORDS));
    add(&s, s.stream, p + UNIT + UNIT / 2, 3, WORDS);
    check_words(&s, p, UNIT / 2, 4);
    check_words(&s, p + UNIT / 2, UNIT, 1);
    check_words(&s, p + UNIT + UNIT / 2, UNIT, 4);
    /* its size is fixed */
    CHECK_OK(gpuexec_virtual_grow(ring, 2 * UNIT));
    CHECK_REFUSED(gpuexec_virtual_grow(ring, 3 * UNIT), GPUEXEC_BAD_ARGUMENT,
            "cannot grow the virtual range created at ", "to 6291456 bytes", "it is mirrored",
            "fixed at 4194304 bytes");
    CHECK_FAILED(gpuexec_virtual_shrink(ring, UNIT), GPUEXEC_BAD_ARGUMENT, "cannot shrink",
            "it is mirrored");
    CHECK_OK(gpuexec_virtual_destroy(ring));
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
}

/* ---- host memory ---- */

TEST(a_range_on_the_host) {
    setting s = begin();
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual range;
    gpuexec_virtual_piece piece;
    gpuexec_pointer_info info;
    gpuexec_ptr p;
    volatile uint32_t *host;
    int has = 0;
    desc.max_bytes = 4 * UNIT;
    desc.bytes = UNIT;
    desc.on_host = 1;
    desc.numa_node = GPUEXEC_NUMA_CLOSEST;
    if (gpuexec_driver_version() < 12020) {
        CHECK_NOT_MADE(gpuexec_virtual_create(s.ctx, &desc), GPUEXEC_OLD_DRIVER,
                "gpuexec_virtual_desc.on_host needs a driver for CUDA 12.2");
        return;
    }
    gpuexec_device_get_attribute(0, 141 /* HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */, &has);
    if (!has) SKIP("the driver has no virtual memory on the host");
    range = gpuexec_virtual_create(s.ctx, &desc);
    if (!CHECK_MADE(range)) return;
    p = gpuexec_virtual_address(range);
    host = (volatile uint32_t *)(uintptr_t)p;
    host[0] = 5;
    host[WORDS - 1] = 6;
    add(&s, s.stream, p, 1, WORDS);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(host[0], 6);
    CHECK_EQ(host[WORDS - 1], 7);
    CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    host[WORDS] = 1;
    CHECK_EQ(host[0], 6);
    CHECK_OK(gpuexec_copy_in(s.stream, s.data, (const void *)(uintptr_t)(p + UNIT - 4), 8));
    CHECK_OK(gpuexec_copy_out(s.stream, s.host, s.data, 8));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(s.host[0], 7);
    CHECK_EQ(s.host[1], 1);
    CHECK_OK(gpuexec_pointer_get_info(p + UNIT, &info));
    CHECK_EQ(info.kind, GPUEXEC_MEMORY_PINNED);
    CHECK_EQ(info.is_virtual, 1);
    CHECK_OK(gpuexec_virtual_get_piece(range, 1, &piece));
    CHECK_EQ(piece.device, -1);
    CHECK_FAILED(gpuexec_free_pinned((void *)(uintptr_t)p), GPUEXEC_BAD_ARGUMENT,
            "is memory of the virtual range created at ");
    CHECK_REFUSED(gpuexec_virtual_grow_on(range, s.ctx, 3 * UNIT), GPUEXEC_BAD_ARGUMENT,
            "is on the host", "use gpuexec_virtual_grow");
    CHECK_OK(gpuexec_virtual_destroy(range));
}

/* ---- several devices ---- */

typedef struct two {
    gpuexec_context ctx[2];
    gpuexec_stream stream[2];
    gpuexec_kernel add[2];
} two;
static two begin_two(void) {
    two t;
    int i;
    for (i = 0; i < 2; i++) {
        gpuexec_module mod;
        t.ctx[i] = gpuexec_context_open(i, NULL);
        t.stream[i] = gpuexec_stream_create(t.ctx[i], NULL);
        mod = gpuexec_module_load_file(t.ctx[i], UNIT_PTX, NULL);
        t.add[i] = gpuexec_kernel_get(mod, "add");
        CHECK_MADE(t.add[i]);
    }
    return t;
}
static int two_peers(void) {
    return gpuexec_device_count() >= 2 && gpuexec_device_can_access_peer(0, 1) &&
            gpuexec_device_can_access_peer(1, 0);
}
/* As NVIDIA's sample vectorAddMMAP: each vector is striped over both devices, and each device can
   access it. Here, each device adds to all stripes. */
TEST_MULTI(vectors_striped_over_two_devices) {
    gpuexec_virtual vectors[3];
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual_piece piece;
    gpuexec_pointer_info at;
    uint32_t n = 2 * WORDS, i, k, *host;
    two t;
    if (!two_peers()) SKIP("needs two devices with access to each other");
    host = (uint32_t *)malloc(2 * UNIT);
    t = begin_two();
    desc.max_bytes = 2 * UNIT;
    desc.peers = &t.ctx[1];
    desc.npeers = 1;
    for (i = 0; i < 3; i++) {
        vectors[i] = gpuexec_virtual_create(t.ctx[0], &desc);
        CHECK_OK(gpuexec_virtual_grow_on(vectors[i], t.ctx[0], UNIT));
        CHECK_OK(gpuexec_virtual_grow_on(vectors[i], t.ctx[1], 2 * UNIT));
        CHECK_EQ(info_of(vectors[i]).devices, 3);
        for (k = 0; k < 2; k++) {
            CHECK_OK(gpuexec_virtual_get_piece(vectors[i], k, &piece));
            CHECK_EQ(piece.device, k);
            CHECK_OK(gpuexec_pointer_get_info(gpuexec_virtual_address(vectors[i]) + k * UNIT, &at));
            CHECK_EQ(at.device, k);
        }
    }
    for (i = 0; i < 3; i++) {
        const gpuexec_ptr p = gpuexec_virtual_address(vectors[i]);
        uint32_t by = i + 1;
        CHECK_OK(gpuexec_fill(t.stream[0], p, 0, 4, n));
        CHECK_OK(gpuexec_launch(
                t.add[0], t.stream[0], gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
        CHECK_OK(gpuexec_stream_wait_stream(t.stream[1], t.stream[0]));
        CHECK_OK(gpuexec_launch(
                t.add[1], t.stream[1], gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
        CHECK_OK(gpuexec_copy_out(t.stream[1], host, p, 2 * UNIT));
        CHECK_OK(gpuexec_stream_sync(t.stream[1]));
        for (k = 0; k < n; k++)
            if (!CHECK_EQ(host[k], 2 * by)) break;
    }
    free(host);
    for (i = 0; i < 3; i++) CHECK_OK(gpuexec_virtual_destroy(vectors[i]));
}
/* Memory of a second device joins a range that did not name it. */
TEST_MULTI(memory_of_another_device_joins) {
    gpuexec_virtual range;
    uint32_t host[2] = { 0, 0 }, by = 1, n = 2 * WORDS;
    gpuexec_ptr p;
    int can = 0;
    two t;
    if (!two_peers()) SKIP("needs two devices with access to each other");
    t = begin_two();
    range = range_of(t.ctx[0], UNIT, 4 * UNIT);
    p = gpuexec_virtual_address(range);
    CHECK_OK(gpuexec_fill_now(t.ctx[0], p, 0, 4, WORDS));
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[1], &can));
    CHECK_EQ(can, 0);
    CHECK_OK(gpuexec_virtual_grow_on(range, t.ctx[1], 2 * UNIT));
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[1], &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_fill(t.stream[1], p + UNIT, 0, 4, WORDS));
    CHECK_OK(gpuexec_launch(
            t.add[1], t.stream[1], gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_stream_wait_stream(t.stream[0], t.stream[1]));
    CHECK_OK(gpuexec_copy_out(t.stream[0], host, p + UNIT - 4, 8));
    CHECK_OK(gpuexec_stream_sync(t.stream[0]));
    CHECK_EQ(host[0], 1);
    CHECK_EQ(host[1], 1);
    CHECK_OK(gpuexec_virtual_shrink(range, UNIT));
    CHECK_OK(gpuexec_virtual_destroy(range));
}
TEST_MULTI(access_of_other_devices) {
    gpuexec_virtual range;
    uint32_t host = 0, by = 2, n = WORDS;
    gpuexec_ptr p;
    int can = 7;
    two t;
    if (!two_peers()) SKIP("needs two devices with access to each other");
    t = begin_two();
    range = range_of(t.ctx[0], 0, 4 * UNIT);
    p = gpuexec_virtual_address(range);
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[0], &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[1], &can));
    CHECK_EQ(can, 0);
    /* before there is memory; it holds for what comes later */
    CHECK_OK(gpuexec_virtual_peer_enable(range, t.ctx[1]));
    CHECK_OK(gpuexec_virtual_peer_enable(range, t.ctx[1]));
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[1], &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_virtual_grow(range, UNIT));
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[1], &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_fill_now(t.ctx[0], p, 0, 4, WORDS));
    CHECK_OK(gpuexec_launch(
            t.add[1], t.stream[1], gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_stream_sync(t.stream[1]));
    CHECK_OK(gpuexec_virtual_peer_disable(range, t.ctx[1]));
    CHECK_OK(gpuexec_virtual_peer_disable(range, t.ctx[1]));
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[1], &can));
    CHECK_EQ(can, 0);
    CHECK_EQ(info_of(range).devices, 1);
    if (on_cpu_device()) { /* on a GPU, this may be an error of the device, which is sticky */
        CHECK_REFUSED(gpuexec_fill(t.stream[1], p + 64, 0, 4, 1), GPUEXEC_BAD_ARGUMENT,
                "cannot fill 4 bytes: device 1 has no access to the destination 0x",
                "which is in the virtual range created at ",
                "virtual.c:", "call gpuexec_virtual_peer_enable first");
        CHECK_REFUSED(gpuexec_fill_now(t.ctx[1], p, 0, 4, 1), GPUEXEC_BAD_ARGUMENT,
                "device 1 has no access to the destination 0x");
    }
    CHECK_OK(gpuexec_copy_out_now(t.ctx[0], &host, p + UNIT - 4, 4));
    CHECK_EQ(host, 2);
    /* with memory */
    CHECK_OK(gpuexec_virtual_peer_enable(range, t.ctx[1]));
    CHECK_OK(gpuexec_launch(
            t.add[1], t.stream[1], gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_stream_sync(t.stream[1]));
    /* its own device keeps its access */
    CHECK_OK(gpuexec_virtual_peer_disable(range, t.ctx[0]));
    CHECK_OK(gpuexec_virtual_peer_query(range, t.ctx[0], &can));
    CHECK_EQ(can, 1);
    CHECK_OK(gpuexec_virtual_destroy(range));
}
TEST_ALONE_MULTI(a_kernel_without_access) {
    uint32_t by = 1, n = WORDS;
    gpuexec_virtual range;
    gpuexec_ptr p;
    two t;
    if (!two_peers()) SKIP("needs two devices with access to each other");
    t = begin_two();
    range = range_of(t.ctx[0], UNIT, 4 * UNIT);
    p = gpuexec_virtual_address(range);
    CHECK_OK(gpuexec_launch(
            t.add[1], t.stream[1], gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n)));
    CHECK_RESULT(gpuexec_stream_sync(t.stream[1]), GPUEXEC_KERNEL_FAILED);
    if (on_cpu_device())
        CHECK_TEXT(gpuexec_error_text(), "is in memory of a virtual range",
                "gpuexec_virtual_peer_enable", "virtual.c:");
}
TEST_ALONE(a_kernel_that_goes_too_far) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    add(&s, s.stream, gpuexec_virtual_address(range), 1, WORDS + 1);
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    if (on_cpu_device())
        CHECK_TEXT(gpuexec_error_text(),
                "0 bytes past the end of the 2097152 bytes of device "
                "memory at 0x",
                "virtual.c:");
}

/* ---- errors ---- */

TEST(descs_that_contradict_themselves) {
    setting s = begin();
    gpuexec_virtual_desc desc;
#define DESC(...) \
    (desc = (gpuexec_virtual_desc){ __VA_ARGS__ }, gpuexec_virtual_create(s.ctx, &desc))
    CHECK_NOT_MADE(gpuexec_virtual_create(s.ctx, NULL), GPUEXEC_BAD_ARGUMENT, "the desc is NULL",
            "addresses cost no memory");
    CHECK_NOT_MADE(DESC(.start_canary = 1, .max_bytes = UNIT), GPUEXEC_BAD_ARGUMENT,
            "the gpuexec_virtual_desc was not zero-initialized");
    CHECK_NOT_MADE(DESC(.piece_bytes = UNIT), GPUEXEC_BAD_ARGUMENT, "max_bytes and bytes are 0");
    CHECK_NOT_MADE(DESC(.bytes = 3 * UNIT, .max_bytes = UNIT), GPUEXEC_BAD_ARGUMENT,
            "bytes is 6291456, but max_bytes is 2097152");
    CHECK_NOT_MADE(DESC(.bytes = (size_t)-UNIT), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_virtual_desc.bytes is 184", "negative or overflowed size");
    CHECK_NOT_MADE(DESC(.max_bytes = (size_t)-1), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_virtual_desc.max_bytes is 184");
    CHECK_NOT_MADE(DESC(.max_bytes = UNIT, .piece_bytes = (size_t)-1), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_virtual_desc.piece_bytes is 184");
    CHECK_NOT_MADE(DESC(.mirror = 1, .max_bytes = UNIT), GPUEXEC_BAD_ARGUMENT,
            "mirror is 1, but bytes is 0 and max_bytes is 2097152");
    CHECK_NOT_MADE(DESC(.mirror = 1, .bytes = UNIT, .max_bytes = 2 * UNIT), GPUEXEC_BAD_ARGUMENT,
            "mirror is 1, but bytes is 2097152 and max_bytes is 4194304");
    CHECK_NOT_MADE(DESC(.mirror = 1, .bytes = UNIT, .piece_bytes = UNIT), GPUEXEC_BAD_ARGUMENT,
            "mirror is 1, but piece_bytes is 2097152");
    CHECK_NOT_MADE(DESC(.bytes = UNIT, .numa_node = 1), GPUEXEC_BAD_ARGUMENT,
            "numa_node is 1, but on_host is 0");
    CHECK_NOT_MADE(DESC(.bytes = UNIT, .on_host = 1, .exportable = 1), GPUEXEC_BAD_ARGUMENT,
            "exportable is 1, but on_host is 1");
    CHECK_NOT_MADE(DESC(.bytes = UNIT, .npeers = 2), GPUEXEC_BAD_ARGUMENT,
            "peers is NULL, but npeers is 2");
    CHECK_NOT_MADE(DESC(.bytes = UNIT, .npeers = 1, .peers = &(gpuexec_context){ 0 }),
            GPUEXEC_BAD_HANDLE, "a peer was never created");
    CHECK_NOT_MADE(gpuexec_virtual_create((gpuexec_context){ 0 }, &desc), GPUEXEC_BAD_HANDLE,
            "the context was never created");
#undef DESC
}
TEST(sizes_out_of_range) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 3 * UNIT);
    gpuexec_virtual_piece piece;
    CHECK_REFUSED(gpuexec_virtual_grow(range, 3 * UNIT + 1), GPUEXEC_BAD_ARGUMENT,
            "cannot grow the virtual range created at ", "virtual.c:", "to 6291457 bytes",
            "it has addresses for at most 6291456 bytes",
            "a larger gpuexec_virtual_desc.max_bytes");
    CHECK_REFUSED(gpuexec_virtual_grow(range, (size_t)-1), GPUEXEC_BAD_ARGUMENT,
            "to 18446744073709551615 bytes", "negative or overflowed size");
    CHECK_FAILED(gpuexec_virtual_shrink(range, (size_t)-UNIT), GPUEXEC_BAD_ARGUMENT,
            "cannot shrink the virtual range created at ", "negative or overflowed size");
    CHECK_REFUSED(gpuexec_virtual_grow_on(range, s.ctx, 4 * UNIT), GPUEXEC_BAD_ARGUMENT,
            "at most 6291456 bytes");
    CHECK_FAILED(gpuexec_virtual_get_piece(range, 1, &piece), GPUEXEC_BAD_ARGUMENT,
            "the piece has index 1, but the virtual range created at ", "has 1 piece");
    CHECK_FAILED(
            gpuexec_virtual_get_piece(range, 0, NULL), GPUEXEC_BAD_ARGUMENT, "\"piece\" is NULL");
    CHECK_FAILED(gpuexec_virtual_get_info(range, NULL), GPUEXEC_BAD_ARGUMENT, "\"info\" is NULL");
    CHECK_FAILED(gpuexec_virtual_peer_query(range, s.ctx, NULL), GPUEXEC_BAD_ARGUMENT,
            "\"can\" is NULL");
    CHECK_EQ(info_of(range).bytes, UNIT); /* nothing is lost */
}
TEST(handles_that_are_not_ok) {
    setting s = begin();
    gpuexec_virtual none = { 0 }, failed = range_of(s.ctx, 0, 0), range, wrong;
    gpuexec_virtual_info info;
    int can;
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_REFUSED(gpuexec_virtual_grow(none, 1), GPUEXEC_BAD_HANDLE,
            "the virtual range was never created: the handle is {0}");
    CHECK_REFUSED(gpuexec_virtual_grow(failed, 1), GPUEXEC_BAD_ARGUMENT,
            "did not create the virtual range", "max_bytes and bytes are 0");
    CHECK_OK(gpuexec_virtual_destroy(none));
    CHECK_OK(gpuexec_virtual_destroy(failed));
    wrong.id = s.stream.id;
    CHECK_REFUSED(gpuexec_virtual_grow(wrong, 1), GPUEXEC_WRONG_KIND, "this handle is a stream",
            "but a virtual range is required");
    range = range_of(s.ctx, UNIT, 0);
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_FAILED(gpuexec_virtual_destroy(range), GPUEXEC_STALE_HANDLE, "the virtual range",
            "created at ", "destroyed", "virtual.c:");
    CHECK_REFUSED(gpuexec_virtual_grow(range, 1), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_REFUSED(gpuexec_virtual_grow_on(range, s.ctx, 1), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_FAILED(gpuexec_virtual_shrink(range, 1), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_FAILED(gpuexec_virtual_get_info(range, &info), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_REFUSED(gpuexec_virtual_peer_enable(range, s.ctx), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_FAILED(gpuexec_virtual_peer_disable(range, s.ctx), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_FAILED(
            gpuexec_virtual_peer_query(range, s.ctx, &can), GPUEXEC_STALE_HANDLE, "virtual.c:");
    CHECK_EQ(gpuexec_virtual_address(range), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_STALE_HANDLE);
    range = range_of(s.ctx, UNIT, 0);
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK_REFUSED(gpuexec_virtual_grow(range, 1), GPUEXEC_STALE_HANDLE, "context", "virtual.c:");
}
/* The table of allocations knows what has memory: each use of what has none, or no more, is
   refused, with the places. */
TEST(uses_of_what_has_no_memory) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    CHECK_REFUSED(gpuexec_copy_in(s.stream, p, s.host, UNIT + 4), GPUEXEC_BAD_ARGUMENT,
            "only 2097152 bytes remain from the destination 0x",
            "virtual.c:", "but the copy needs 2097156",
            "let the range grow first, with gpuexec_virtual_grow");
    CHECK_REFUSED(gpuexec_fill(s.stream, p + 4, 0, 4, WORDS), GPUEXEC_BAD_ARGUMENT,
            "only 2097148 bytes remain", "gpuexec_virtual_grow");
    CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    CHECK_OK(gpuexec_copy_in(s.stream, p, s.host, UNIT + 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_virtual_shrink(range, UNIT));
    CHECK_REFUSED(gpuexec_copy_in(s.stream, p, s.host, UNIT + 4), GPUEXEC_BAD_ARGUMENT,
            "only 2097152 bytes remain");
    CHECK_REFUSED(gpuexec_copy_out(s.stream, s.host, p + UNIT, 4), GPUEXEC_BAD_ARGUMENT,
            "the source 0x", "was freed: 2097152 bytes of device memory at 0x", "allocated at ",
            "freed at ", "virtual.c:");
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_REFUSED(gpuexec_fill(s.stream, p, 0, 4, 1), GPUEXEC_BAD_ARGUMENT,
            "was freed: ", "freed at ", "virtual.c:");
}
TEST(frees_of_a_part) {
    setting s = begin();
    gpuexec_virtual range = range_of(s.ctx, UNIT, 4 * UNIT);
    const gpuexec_ptr p = gpuexec_virtual_address(range);
    gpuexec_ipc_object object;
    CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT,
            "is memory of the virtual range created at ",
            "virtual.c:", "destroy the range with gpuexec_virtual_destroy",
            "gpuexec_virtual_shrink");
    CHECK_FAILED(gpuexec_free_on(s.stream, p), GPUEXEC_BAD_ARGUMENT,
            "is memory of the virtual range created at ");
    CHECK_FAILED(gpuexec_free(p + 64), GPUEXEC_BAD_ARGUMENT,
            "is memory of the virtual range created at ");
    CHECK_REFUSED(gpuexec_ipc_export(p, &object), GPUEXEC_BAD_ARGUMENT,
            "is memory of the virtual range created at ", "gpuexec_ipc_export_piece");
    CHECK_REFUSED(gpuexec_register(s.ctx, (void *)(uintptr_t)p, 64), GPUEXEC_BAD_ARGUMENT,
            "is already device memory");
    CHECK_EQ(info_of(range).bytes, UNIT);
    CHECK_OK(gpuexec_fill(s.stream, p, 0, 4, WORDS));
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
/* What a growth did before it failed is undone. */
TEST(not_enough_memory) {
    setting s = begin();
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual range;
    size_t total = 0, before = 0, after = 0;
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &before, &total));
    desc.max_bytes = 2 * total;
    desc.bytes = UNIT;
    desc.piece_bytes = total / 8;
    range = gpuexec_virtual_create(s.ctx, &desc);
    if (!CHECK_MADE(range)) return;
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &before, NULL));
    CHECK_OK(gpuexec_fill_now(s.ctx, gpuexec_virtual_address(range), 3, 4, WORDS));
    CHECK_REFUSED(gpuexec_virtual_grow(range, 2 * total), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "cannot let the virtual range created at ", "virtual.c:", "grow from 2097152 bytes to ",
            "of memory on device 0: ", "are free", "request less");
    CHECK_EQ(info_of(range).bytes, UNIT);
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &after, NULL));
    if (on_cpu_device()) CHECK_EQ(before, after);
    check_words(&s, gpuexec_virtual_address(range), UNIT, 3);
    CHECK_OK(gpuexec_virtual_grow(range, 2 * UNIT));
    CHECK_OK(gpuexec_virtual_destroy(range));
    desc.bytes = 2 * total;
    CHECK_NOT_MADE(gpuexec_virtual_create(s.ctx, &desc), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "cannot create a virtual range with ", "of memory on device 0: ");
    desc.bytes = 0;
    desc.max_bytes = (size_t)1 << 60;
    CHECK_NOT_MADE(gpuexec_virtual_create(s.ctx, &desc), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "cannot reserve the addresses of 1024.0 PiB", "request fewer addresses");
}
static char lines[4000];
static void keep_lines(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s", text);
}
TEST(a_leaked_range) {
    gpuexec_setup_desc setup = { 0 };
    gpuexec_context ctx;
    lines[0] = 0;
    setup.log = keep_lines;
    setup.report_leaks = 1;
    CHECK_OK(gpuexec_setup(&setup));
    ctx = gpuexec_context_open(0, NULL);
    CHECK_MADE(range_of(ctx, UNIT, 4 * UNIT));
    CHECK_OK(gpuexec_virtual_destroy(range_of(ctx, UNIT, 4 * UNIT)));
    CHECK_OK(gpuexec_shutdown());
    CHECK_TEXT(lines, "leak: a virtual range, created at ", "virtual.c:");
    CHECK(!strstr(lines, "bytes of device memory")); /* once is enough */
}
/* The end of a context, of gpuexec or of other code, ends its ranges: their memory is not the
   context's. */
TEST(ranges_end_with_their_context) {
    setting s = begin();
    const size_t before = free_bytes(s.ctx);
    int destroyed;
    for (destroyed = 0; destroyed < 2; destroyed++) {
        const gpuexec_context owner = gpuexec_context_create(0, NULL),
                              other = gpuexec_context_from_native(gpuexec_context_native(owner));
        const gpuexec_virtual range = range_of(other, UNIT, 4 * UNIT);
        const gpuexec_ptr p = gpuexec_virtual_address(range);
        CHECK_OK(gpuexec_fill_now(other, p, 0, 4, WORDS));
        if (destroyed) {
            CHECK_OK(gpuexec_context_close(owner));
            CHECK_FAILED(gpuexec_virtual_destroy(range), GPUEXEC_STALE_HANDLE,
                    "was destroyed outside gpuexec");
        } else {
            CHECK_OK(gpuexec_context_close(other));
            CHECK_FAILED(gpuexec_virtual_destroy(range), GPUEXEC_STALE_HANDLE, "virtual.c:");
            CHECK_OK(gpuexec_context_close(owner));
        }
        if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
    }
}

/* ---- between processes ---- */

static gpuexec_virtual exportable(gpuexec_context ctx) {
    gpuexec_virtual_desc desc = { 0 };
    desc.max_bytes = 8 * UNIT;
    desc.bytes = UNIT;
    desc.exportable = 1;
    return gpuexec_virtual_create(ctx, &desc);
}
static gpuexec_ipc_message get(gpuexec_ipc c, const char *label) {
    gpuexec_ipc_message m;
    CHECK_OK(gpuexec_ipc_receive(c, &m, test_failures ? 0 : PATIENCE));
    CHECK_STRING(m.label, label);
    return m;
}
static void import_from(gpuexec_ipc c, gpuexec_virtual range) {
    const gpuexec_ipc_message m = get(c, "piece");
    CHECK_EQ(m.kind, GPUEXEC_IPC_PIECE);
    CHECK_OK(gpuexec_ipc_import_piece(range, &m.object, m.fd));
    if (m.fd >= 0) close(m.fd);
}
static void other_process(void) {
    gpuexec_ipc c = gpuexec_ipc_from_fd(atoi(getenv("VIRTUAL_FD")));
    setting s = begin();
    gpuexec_virtual range;
    gpuexec_virtual_piece piece;
    gpuexec_ipc_object object;
    gpuexec_ipc_message first = get(c, "piece");
    gpuexec_ipc_info info;
    gpuexec_pointer_info at;
    gpuexec_ptr p;
    CHECK_OK(gpuexec_ipc_get_info(&first.object, &info));
    CHECK_EQ(info.kind, GPUEXEC_IPC_PIECE);
    CHECK_EQ(info.bytes, UNIT);
    CHECK_EQ(info.offset, 0);
    CHECK_EQ(info.max_bytes, 8 * UNIT);
    range = range_of(s.ctx, 0, info.max_bytes);
    p = gpuexec_virtual_address(range);
    CHECK_OK(gpuexec_ipc_import_piece(range, &first.object, first.fd));
    close(first.fd);
    import_from(c, range);
    CHECK_EQ(info_of(range).bytes, 3 * UNIT);
    CHECK_OK(gpuexec_virtual_get_piece(range, 1, &piece));
    CHECK_EQ(piece.ipc, 1);
    CHECK_OK(gpuexec_pointer_get_info(p, &at));
    CHECK_EQ(at.ipc + at.is_virtual + at.ours, 3);
    CHECK_EQ(piece.device, 0);
    CHECK_EQ(piece.offset, UNIT);
    check_words(&s, p, 3 * UNIT, 7);
    add(&s, s.stream, p, 1, 3 * WORDS);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_ipc_send(c, "added", 0, NULL, -1));
    /* after the other process's range has grown, so can this one */
    import_from(c, range);
    CHECK_EQ(info_of(range).bytes, 4 * UNIT);
    CHECK_EQ(gpuexec_virtual_address(range), p);
    add(&s, s.stream, p, 1, 4 * WORDS);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(gpuexec_ipc_export_piece(range, 0, &object), -1);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(gpuexec_ipc_send(c, "added", 0, NULL, -1));
    get(c, "gone"); /* the exporter has ended its range */
    check_words(&s, p, 3 * UNIT, 9);
    CHECK_OK(gpuexec_virtual_shrink(range, UNIT));
    check_words(&s, p, UNIT, 9);
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_OK(gpuexec_ipc_send(c, "done", 0, NULL, -1));
}
TEST(another_process_imports_a_growing_range) {
    setting s = begin();
    gpuexec_virtual range;
    gpuexec_ptr p;
    size_t before;
    int fd, has = 0;
    gpuexec_ipc c;
    pid_t other;
    gpuexec_device_get_attribute(0, 103 /* HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED */, &has);
    if (!has) SKIP("the device exports no memory by file descriptor");
    c = gpuexec_ipc_pair(&fd);
    other = start_other(fd);
    before = free_bytes(s.ctx);
    range = exportable(s.ctx);
    p = gpuexec_virtual_address(range);
    CHECK_OK(gpuexec_virtual_grow(range, 3 * UNIT));
    CHECK_OK(gpuexec_fill(s.stream, p, 7, 4, 3 * WORDS));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_ipc_send_piece(c, "piece", 0, range, 0, PATIENCE));
    CHECK_OK(gpuexec_ipc_send_piece(c, "piece", 1, range, 1, PATIENCE));
    get(c, "added");
    check_words(&s, p, 3 * UNIT, 8);
    CHECK_OK(gpuexec_virtual_grow(range, 4 * UNIT));
    CHECK_OK(gpuexec_fill(s.stream, p + 3 * UNIT, 1, 4, WORDS));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_ipc_send_piece(c, "piece", 2, range, 2, PATIENCE));
    get(c, "added");
    check_words(&s, p, 3 * UNIT, 9);
    check_words(&s, p + 3 * UNIT, UNIT, 2);
    CHECK_OK(gpuexec_virtual_destroy(range));
    CHECK_OK(gpuexec_ipc_send(c, "gone", 0, NULL, -1));
    get(c, "done");
    CHECK(end_child(other));
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
    CHECK_OK(gpuexec_ipc_close(c));
}
/* As descriptors of the caller, also in the same process: two ranges with the same bytes. */
TEST(pieces_as_file_descriptors) {
    setting s = begin();
    gpuexec_virtual from = exportable(s.ctx), plain = range_of(s.ctx, UNIT, 8 * UNIT), to, small;
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_ipc_object first, second, none;
    int fds[2], other;
    CHECK_OK(gpuexec_virtual_grow(from, 3 * UNIT));
    fds[0] = gpuexec_ipc_export_piece(from, 0, &first);
    fds[1] = gpuexec_ipc_export_piece(from, 1, &second);
    if (!CHECK(fds[0] >= 0 && fds[1] >= 0)) return;
    to = range_of(s.ctx, 0, 8 * UNIT);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &second, fds[1]), GPUEXEC_BAD_ARGUMENT,
            "the piece begins at byte 2097152 of its range, but the virtual range created at ",
            "has 0 bytes", "in order");
    CHECK_OK(gpuexec_ipc_import_piece(to, &first, fds[0]));
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &first, fds[0]), GPUEXEC_BAD_ARGUMENT,
            "the piece begins at byte 0", "has 2097152 bytes");
    CHECK_OK(gpuexec_ipc_import_piece(to, &second, fds[1]));
    CHECK_OK(gpuexec_fill(s.stream, gpuexec_virtual_address(from), 4, 4, 3 * WORDS));
    check_words(&s, gpuexec_virtual_address(to), 3 * UNIT, 4);
    CHECK_EQ(info_of(to).bytes, 3 * UNIT);
    /* what cannot be exported */
    CHECK_EQ(gpuexec_ipc_export_piece(plain, 0, &none), -1);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT, "cannot be exported",
            "gpuexec_virtual_desc.exportable");
    CHECK_EQ(gpuexec_ipc_export_piece(from, 2, &none), -1);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_EQ(gpuexec_ipc_export_piece(from, 0, NULL), -1);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    /* what cannot be imported */
    small = range_of(s.ctx, 0, UNIT);
    CHECK_OK(gpuexec_ipc_import_piece(small, &first, fds[0]));
    CHECK_REFUSED(gpuexec_ipc_import_piece(small, &second, fds[1]), GPUEXEC_BAD_ARGUMENT,
            "the piece has 4194304 bytes, but the virtual range created at ",
            "has addresses for only 0 more");
    CHECK_OK(gpuexec_virtual_shrink(to, 0));
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &first, -1), GPUEXEC_BAD_ARGUMENT,
            "the file descriptor is -1");
    other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(gpuexec_ipc_import_piece(to, &first, other) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "cannot import memory from file descriptor ",
            "gpuexec_ipc_export_piece");
    gpuexec_take_error();
    close(other);
    memset(&none, 0, sizeof none);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &none, fds[0]), GPUEXEC_BAD_ARGUMENT,
            "the bytes are not a gpuexec object");
    CHECK_EQ(gpuexec_ipc_import(s.ctx, &first), 0);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT,
            "the object is a piece of a virtual range", "import it with gpuexec_ipc_import_piece");
    desc.bytes = UNIT;
    desc.mirror = 1;
    CHECK_REFUSED(gpuexec_ipc_import_piece(gpuexec_virtual_create(s.ctx, &desc), &first, fds[0]),
            GPUEXEC_BAD_ARGUMENT, "it is mirrored");
    /* the descriptor is the caller's; the memory stays while it is open */
    CHECK_OK(gpuexec_virtual_destroy(from));
    CHECK_OK(gpuexec_ipc_import_piece(to, &first, fds[0]));
    check_words(&s, gpuexec_virtual_address(to), UNIT, 4);
    close(fds[0]);
    close(fds[1]);
    CHECK_EQ(info_of(to).bytes, UNIT);
}
/* the bytes of a gpuexec_ipc_object */
typedef struct object {
    char magic[8];
    uint32_t version, kind;
    uint64_t process;
    int64_t pid;
    uint64_t bytes;
    unsigned char uuid[16];
    uint64_t offset, max_bytes;
    unsigned char zeros[48];
    uint64_t hash; /* FNV-1a of all before it */
} object;
static gpuexec_ipc_object lie_of(const gpuexec_ipc_object *from, uint64_t bytes, uint64_t offset) {
    gpuexec_ipc_object lies;
    object o;
    size_t i;
    memcpy(&o, from, sizeof o);
    o.bytes = bytes;
    o.offset = offset;
    o.hash = 0xCBF29CE484222325u;
    for (i = 0; i < offsetof(object, hash); i++)
        o.hash = (o.hash ^ ((const unsigned char *)&o)[i]) * 0x100000001B3u;
    memcpy(&lies, &o, sizeof lies);
    return lies;
}
/* The exporter is not believed: what does not fit is refused, or the driver refuses it. */
TEST(a_piece_that_lies) {
    setting s = begin();
    gpuexec_virtual from = exportable(s.ctx), to = range_of(s.ctx, 0, 8 * UNIT);
    size_t before = free_bytes(s.ctx);
    gpuexec_ipc_object o, lies;
    int fd = gpuexec_ipc_export_piece(from, 0, &o);
    if (!CHECK(fd >= 0)) return;
    CHECK_EQ(sizeof(object), sizeof o);
    lies = lie_of(&o, 0, 0);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &lies, fd), GPUEXEC_BAD_ARGUMENT,
            "the piece has 0 bytes, not a multiple of the granularity, 2097152 bytes",
            "only from processes that you trust");
    lies = lie_of(&o, UNIT + 4096, 0);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &lies, fd), GPUEXEC_BAD_ARGUMENT,
            "the piece has 2101248 bytes, not a multiple of the granularity");
    lies = lie_of(&o, (uint64_t)1 << 62, 0);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &lies, fd), GPUEXEC_BAD_ARGUMENT,
            "has addresses for only 16777216 more");
    lies = lie_of(&o, UINT64_MAX / UNIT * UNIT, 0);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &lies, fd), GPUEXEC_BAD_ARGUMENT,
            "has addresses for only 16777216 more");
    lies = lie_of(&o, UNIT, UINT64_MAX / UNIT * UNIT);
    CHECK_REFUSED(gpuexec_ipc_import_piece(to, &lies, fd), GPUEXEC_BAD_ARGUMENT,
            "the piece begins at byte 18446744073707454464");
    lies = lie_of(&o, 2 * UNIT, 0); /* more than the memory has */
    CHECK(gpuexec_ipc_import_piece(to, &lies, fd) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "cannot map 4194304 bytes of imported memory", "cuMemMap");
    gpuexec_take_error();
    CHECK_EQ(info_of(to).bytes, 0);
    if (on_cpu_device()) CHECK_EQ(before, free_bytes(s.ctx));
    CHECK_OK(gpuexec_ipc_import_piece(to, &o, fd));
    CHECK_EQ(info_of(to).bytes, UNIT);
    close(fd);
}
