/* managed.c - managed memory: one address for host and devices, prefetches, advice, attachments,
   and devices that lack concurrent access. */
#include "../../test.h"

enum { WORDS = 4096, BYTES = WORDS * 4, PAGE = 4096, CONCURRENT = 89 };

static setting begin(void) { return set_up(UNIT_PTX, "add", BYTES); }
static int is_concurrent(void) {
    int value = 0;
    CHECK_OK(gpuexec_device_get_attribute(0, CONCURRENT, &value));
    return value;
}
static gpuexec_result add_to(const setting *s, gpuexec_ptr p, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(s->kernel, s->stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, n));
}
static gpuexec_managed_info info_of(gpuexec_ptr p, size_t bytes) {
    gpuexec_managed_info info;
    CHECK_OK(gpuexec_managed_get_info(p, bytes, &info));
    return info;
}

TEST(host_and_device_share_an_address) {
    setting s = begin();
    gpuexec_ptr p = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
    uint32_t *words = (uint32_t *)gpuexec_managed_host(p), i;
    gpuexec_pointer_info info;
    CHECK(words != NULL && gpuexec_managed_host(p + 4) == words + 1);
    for (i = 0; i < WORDS; i++) words[i] = i;
    CHECK_OK(add_to(&s, p, 5));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    for (i = 0; i < WORDS; i++)
        if (!CHECK_EQ(words[i], i + 5)) break;
    CHECK_OK(gpuexec_copy(s.stream, s.data, p, BYTES));
    CHECK_OK(add_to(&s, s.data, 1));
    CHECK_OK(gpuexec_copy(s.stream, p, s.data, BYTES));
    CHECK_OK(gpuexec_fill(s.stream, p, 77, 4, 1));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(words[0], 77);
    CHECK_EQ(words[WORDS - 1], WORDS - 1 + 6);
    CHECK_OK(gpuexec_copy_out(s.stream, words + 1, s.data, 4));
    CHECK_OK(gpuexec_copy_in(s.stream, s.data, words, 4));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &i, s.data, 4));
    CHECK_EQ(i, 77);
    CHECK_OK(gpuexec_pointer_get_info(p + 8, &info));
    CHECK(info.kind == GPUEXEC_MEMORY_MANAGED && info.base == p && info.bytes == BYTES &&
            info.ours == 1);
    CHECK(info.device_address == p + 8 && info.host_address == words + 2);
    CHECK_TEXT(info.where, "managed.c:");
    CHECK_OK(gpuexec_free(p));
    CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, "was already freed");
}

TEST(several_streams_and_the_host) {
    setting s = begin();
    gpuexec_managed_desc desc = { 0 };
    gpuexec_ptr p;
    uint32_t *words, i;
    if (!is_concurrent()) SKIP("no concurrent access");
    desc.concurrent = 1;
    s.gate = gate_make(s.ctx, s.mod);
    p = gpuexec_alloc_managed(s.ctx, 2 * BYTES, &desc);
    words = (uint32_t *)gpuexec_managed_host(p);
    gate_close(s.gate, s.stream);
    CHECK_OK(add_to(&s, p, 1));
    for (i = WORDS; i < 2 * WORDS; i++) words[i] = i; /* while the stream has work */
    CHECK(gpuexec_managed_host(p) == words);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(words[2 * WORDS - 1], 2 * WORDS - 1);
}

TEST(prefetches_and_advice) {
    setting s = begin();
    gpuexec_ptr p = gpuexec_alloc_managed(s.ctx, 4 * BYTES, NULL);
    uint32_t *words = (uint32_t *)gpuexec_managed_host(p);
    gpuexec_managed_info i = info_of(p, 4 * BYTES);
    if (!is_concurrent()) SKIP("no concurrent access");
    CHECK(i.concurrent && !i.read_mostly && i.preferred == GPUEXEC_NOWHERE &&
            i.last_prefetch == GPUEXEC_NOWHERE);
    CHECK_EQ(i.accessed_by[0], GPUEXEC_NOWHERE);
    memset(words, 0, 4 * BYTES);
    CHECK_OK(gpuexec_managed_prefetch(s.stream, p, 4 * BYTES, 0));
    CHECK_OK(add_to(&s, p, 3));
    CHECK_OK(gpuexec_managed_prefetch(s.stream, p, PAGE, GPUEXEC_HOST));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(words[WORDS - 1], 3);
    CHECK_EQ(info_of(p, PAGE).last_prefetch, GPUEXEC_HOST);
    CHECK_EQ(info_of(p + PAGE, PAGE).last_prefetch, 0);
    CHECK_EQ(info_of(p, 2 * PAGE).last_prefetch, GPUEXEC_NOWHERE);
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_READ_MOSTLY, 0));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, 0));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_ACCESSED_BY, GPUEXEC_HOST));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_ACCESSED_BY, 0));
    i = info_of(p, BYTES);
    CHECK(i.read_mostly && i.preferred == 0);
    CHECK(i.accessed_by[0] + i.accessed_by[1] == GPUEXEC_HOST &&
            i.accessed_by[2] == GPUEXEC_NOWHERE);
    CHECK_EQ(info_of(p, 2 * BYTES).read_mostly, 0);
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_NOT_READ_MOSTLY, 0));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_NOT_PREFERRED, 0));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_NOT_ACCESSED_BY, GPUEXEC_HOST));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_NOT_ACCESSED_BY, 0));
    i = info_of(p, BYTES);
    CHECK(!i.read_mostly && i.preferred == GPUEXEC_NOWHERE && i.accessed_by[0] == GPUEXEC_NOWHERE);
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, GPUEXEC_HOST));
    CHECK_EQ(info_of(p, BYTES).preferred, GPUEXEC_HOST);
}

/* NUMA nodes came with the second interface. */
TEST(prefetches_to_a_numa_node) {
    setting s = begin();
    gpuexec_managed_info i;
    gpuexec_ptr p = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
    if (!is_concurrent()) SKIP("no concurrent access");
    if (!gpuexec_driver_symbol("cuMemPrefetchAsync", 12020))
        SKIP("the driver has only the first interface");
    CHECK_OK(gpuexec_managed_prefetch(s.stream, p, BYTES, GPUEXEC_NUMA(0)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(info_of(p, BYTES).last_prefetch, GPUEXEC_NUMA(0));
    CHECK_OK(gpuexec_managed_prefetch(s.stream, p, BYTES, GPUEXEC_NUMA_CURRENT));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, GPUEXEC_NUMA(0)));
    i = info_of(p, BYTES); /* drivers report a node of the host as the host, or not */
    CHECK(i.preferred == GPUEXEC_HOST || i.preferred == GPUEXEC_NOWHERE);
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, BYTES, GPUEXEC_NUMA(1000)),
            GPUEXEC_BAD_ARGUMENT, "cannot prefetch 16384 bytes at 0x", "to location -1016",
            "a NUMA node of this host", "cuMemPrefetchAsync");
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
TEST_ALONE(a_driver_with_the_first_interface) {
    setting s;
    gpuexec_ptr p;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_DRIVER_VERSION", "12010", 1);
    s = begin();
    p = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
    CHECK_OK(gpuexec_managed_prefetch(s.stream, p, BYTES, 0));
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, GPUEXEC_HOST));
    CHECK_EQ(info_of(p, BYTES).last_prefetch, 0);
    CHECK_EQ(info_of(p, BYTES).preferred, GPUEXEC_HOST);
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, BYTES, GPUEXEC_NUMA(0)), GPUEXEC_OLD_DRIVER,
            "using a NUMA node as the location needs a driver for CUDA 12.2 or later; this driver "
            "supports CUDA 12.1",
            "GPUEXEC_HOST");
    CHECK_REFUSED(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, GPUEXEC_NUMA_CURRENT),
            GPUEXEC_OLD_DRIVER, "needs a driver for CUDA 12.2 or later");
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

TEST(attachments) {
    setting s = begin();
    gpuexec_managed_desc desc = { 0 };
    gpuexec_ptr p;
    desc.attach_host = 1;
    p = gpuexec_alloc_managed(s.ctx, BYTES, &desc);
    memset((void *)(uintptr_t)p, 0, BYTES);
    CHECK_OK(gpuexec_managed_attach(s.stream, p, GPUEXEC_ATTACH_STREAM));
    CHECK_OK(add_to(&s, p, 9));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(*(uint32_t *)(uintptr_t)p, 9);
    CHECK_OK(gpuexec_managed_attach(s.stream, p, GPUEXEC_ATTACH_ALL));
    CHECK_OK(gpuexec_managed_attach(s.stream, p, GPUEXEC_ATTACH_HOST));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_REFUSED(gpuexec_managed_attach(gpuexec_stream_legacy(s.ctx), p, GPUEXEC_ATTACH_STREAM),
            GPUEXEC_BAD_ARGUMENT, "memory cannot be attached to a default stream",
            "gpuexec_stream_create");
    CHECK_REFUSED(gpuexec_managed_attach(s.stream, p, (gpuexec_attachment)3), GPUEXEC_BAD_ARGUMENT,
            "3 is not a gpuexec_attachment");
    CHECK_REFUSED(gpuexec_managed_attach(s.stream, p + 4, GPUEXEC_ATTACH_ALL), GPUEXEC_BAD_ARGUMENT,
            "cannot attach the managed memory at 0x", "the address at which the memory begins");
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

TEST(wrong_calls) {
    setting s = begin();
    const gpuexec_stream none = { 0 };
    gpuexec_managed_desc desc = { 0 };
    gpuexec_managed_info info;
    gpuexec_ptr p = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
    size_t available = 0;
    uint32_t host = 0;
    CHECK_EQ(gpuexec_alloc_managed(s.ctx, 0, NULL), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &available, NULL));
    /* refused: nothing is allocated */
    CHECK_EQ(gpuexec_alloc_managed(s.ctx, available * 2, NULL), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "bytes of managed memory on device 0: ", " are free; memory pools", "oversubscribe",
            "gpuexec_pool_trim");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    desc.end_canary = 1;
    CHECK_EQ(gpuexec_alloc_managed(s.ctx, BYTES, &desc), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK(gpuexec_managed_host((uintptr_t)&host) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "is pageable memory, not managed", "gpuexec_alloc_managed");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_REFUSED(gpuexec_managed_prefetch(none, p, BYTES, 0), GPUEXEC_BAD_HANDLE,
            "the stream was never created");
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, s.data, BYTES, 0), GPUEXEC_BAD_ARGUMENT,
            "is device memory");
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, 0, 0), GPUEXEC_BAD_ARGUMENT,
            "the range has 0 bytes");
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p + 4, BYTES, 0), GPUEXEC_BAD_ARGUMENT,
            "only 16380 bytes remain", "16384 bytes of managed memory, allocated at ",
            "managed.c:", "but the range is 16384 bytes");
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, BYTES, GPUEXEC_NOWHERE),
            GPUEXEC_BAD_ARGUMENT, "-2 is not a location", "GPUEXEC_NUMA");
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, BYTES, 99), GPUEXEC_NO_DEVICE,
            "there is no device 99");
    CHECK_REFUSED(gpuexec_managed_advise(p, BYTES, (gpuexec_advice)7, 0), GPUEXEC_BAD_ARGUMENT,
            "7 is not a gpuexec_advice");
    CHECK_REFUSED(gpuexec_managed_advise(s.data, 4, GPUEXEC_READ_MOSTLY, 0), GPUEXEC_BAD_ARGUMENT,
            "not managed");
    CHECK_REFUSED(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, -5), GPUEXEC_BAD_ARGUMENT,
            "-5 is not a location");
    CHECK_FAILED(
            gpuexec_managed_get_info(p, BYTES, NULL), GPUEXEC_BAD_ARGUMENT, "\"info\" is NULL");
    CHECK_FAILED(gpuexec_managed_get_info(s.data, 4, &info), GPUEXEC_BAD_ARGUMENT,
            "is device memory, not managed");
    CHECK_FAILED(gpuexec_free_on(s.stream, p), GPUEXEC_BAD_ARGUMENT, "is managed memory",
            "free it with gpuexec_free");
    CHECK_FAILED(gpuexec_free_pinned((void *)(uintptr_t)p), GPUEXEC_BAD_ARGUMENT,
            "is managed memory", "free it with gpuexec_free");
    CHECK_FAILED(gpuexec_free(p + 4), GPUEXEC_BAD_ARGUMENT, "is 4 bytes after the beginning");
    CHECK_OK(gpuexec_free(p));
}

/* Prefetches and attachments are no nodes: refused, and the capture goes on. Frees happen after
   it. */
TEST(in_a_capture) {
    setting s = begin();
    gpuexec_graph g = { 0 };
    gpuexec_ptr p = gpuexec_alloc_managed(s.ctx, BYTES, NULL), q = 0;
    if (!is_concurrent()) SKIP("no concurrent access");
    memset(gpuexec_managed_host(p), 0, BYTES);
    GPUEXEC_CAPTURE(s.stream, &g) {
        q = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
        CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, BYTES, 0), GPUEXEC_CAPTURING,
                "cannot prefetch", "before the capture, or between launches");
        CHECK_REFUSED(gpuexec_managed_attach(s.stream, p, GPUEXEC_ATTACH_ALL), GPUEXEC_CAPTURING,
                "cannot attach");
        CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_READ_MOSTLY, 0));
        CHECK_EQ(info_of(p, BYTES).read_mostly, 1);
        CHECK(gpuexec_managed_host(q) != NULL);
        CHECK_OK(gpuexec_free(q));
        CHECK_OK(add_to(&s, p, 4));
    }
    CHECK_OK(gpuexec_graph_launch(g, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(*(uint32_t *)gpuexec_managed_host(p), 4);
    CHECK_OK(gpuexec_free(p));
    CHECK_REFUSED(gpuexec_graph_launch(g, s.stream), GPUEXEC_STALE_HANDLE,
            "16384 bytes of managed memory");
}

/* The host may access the memory only when the device is idle. */
TEST_ALONE(a_device_without_concurrent_access) {
    setting s;
    gpuexec_managed_desc desc = { 0 };
    gpuexec_ptr p;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_DEVICE_0", "89=0", 1);
    s = begin();
    s.gate = gate_make(s.ctx, s.mod);
    p = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
    CHECK_EQ(info_of(p, BYTES).concurrent, 0);
    memset(gpuexec_managed_host(p), 0, BYTES);
    gate_close(s.gate, s.stream);
    CHECK_OK(add_to(&s, p, 1));
    CHECK(gpuexec_managed_host(p) == NULL);
    CHECK_TEXT(gpuexec_error_text(),
            "device 0 does not let the host access managed memory while the device is busy",
            "CONCURRENT_MANAGED_ACCESS is 0), and the stream created at ", "has pending work",
            "gpuexec_context_sync");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
    gate_open(s.gate);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    CHECK_EQ(*(uint32_t *)gpuexec_managed_host(p), 1);
    CHECK_REFUSED(gpuexec_managed_prefetch(s.stream, p, BYTES, 0), GPUEXEC_NOT_SUPPORTED,
            "device 0 cannot prefetch managed memory: "
            "CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS is 0",
            "leave this call out");
    CHECK_REFUSED(gpuexec_managed_advise(p, BYTES, GPUEXEC_PREFERRED, 0), GPUEXEC_NOT_SUPPORTED,
            "cannot place");
    CHECK_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_READ_MOSTLY, 0));
    desc.concurrent = 1;
    CHECK_EQ(gpuexec_alloc_managed(s.ctx, BYTES, &desc), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "the host cannot access managed memory while kernels run on device 0",
            "gpuexec_managed_desc.concurrent");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
}
static int host_is_done;
static void *destroys_streams(void *context) {
    while (!__atomic_load_n(&host_is_done, __ATOMIC_ACQUIRE)) {
        gpuexec_context mine = gpuexec_context_open(0, NULL);
        CHECK_OK(gpuexec_stream_destroy(gpuexec_stream_create(mine, NULL)));
        CHECK_OK(gpuexec_stream_destroy(gpuexec_stream_create(*(gpuexec_context *)context, NULL)));
        CHECK_OK(gpuexec_context_close(mine));
    }
    return NULL;
}
/* gpuexec_managed_host looks at the streams of all threads. */
TEST_ALONE(streams_are_destroyed_beside_managed_host) {
    setting s;
    gpuexec_ptr p;
    pthread_t thread;
    int i;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_DEVICE_0", "89=0", 1);
    setenv("SIMGPU_STRICT", "1", 1);
    s = begin();
    p = gpuexec_alloc_managed(s.ctx, BYTES, NULL);
    CHECK_EQ(pthread_create(&thread, NULL, destroys_streams, &s.ctx), 0);
    for (i = 0; i < 20000; i++) CHECK(gpuexec_managed_host(p) != NULL);
    __atomic_store_n(&host_is_done, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}
TEST_ALONE(a_device_without_managed_memory) {
    gpuexec_context ctx;
    if (!on_cpu_device()) SKIP("not on the CPU device");
    setenv("SIMGPU_DEVICE_0", "83=0", 1);
    ctx = gpuexec_context_open(0, NULL);
    CHECK_EQ(gpuexec_alloc_managed(ctx, BYTES, NULL), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "device 0 has no managed memory: CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY is 0",
            "gpuexec_alloc_pinned");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
}
/* A module's .managed variable is managed memory that gpuexec did not allocate. */
TEST(a_managed_variable) {
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global "
                               ".attribute(.managed) .align 4 .u32 count;\n"
                               ".visible .entry bump() { .reg .u64 %d; .reg .u32 %r; mov.u64 %d, "
                               "count; atom.global.add.u32 %r, [%d], 3;\n"
                               "ret; }\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_module mod = gpuexec_module_load(ctx, text, 0, NULL);
    size_t bytes = 0;
    gpuexec_ptr p = gpuexec_module_global_address(mod, "count", &bytes);
    uint32_t *count = (uint32_t *)gpuexec_managed_host(p);
    if (!CHECK(count != NULL && bytes == 4)) return;
    *count = 5;
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(mod, "bump"), s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(*count, 8);
}

/* Other threads open and close contexts while a call that was given none looks for one: with an
   address sanitizer, it found one that had just been freed. */
static void *opens_and_closes(void *going) {
    gpuexec_context c[8];
    int i, k;
    for (i = 0; i < 500; i++) {
        for (k = 0; k < 8; k++) c[k] = gpuexec_context_open(gpuexec_device_count() - 1, NULL);
        for (k = 0; k < 8; k++) CHECK_OK(gpuexec_context_close(c[k]));
    }
    __atomic_sub_fetch((int *)going, 1, __ATOMIC_RELEASE);
    return NULL;
}
TEST(contexts_come_and_go_beside_calls_without_one) {
    gpuexec_params first = gpuexec_params_create(); /* so that the first slot is not a context */
    const setting s = set_up(UNIT_PTX, NULL, 0);
    const gpuexec_ptr p = gpuexec_alloc_managed(s.ctx, 4096, NULL);
    pthread_t threads[2];
    int going = 2;
    if (!p) {
        gpuexec_take_error();
        SKIP("no managed memory");
    }
    CHECK_EQ(pthread_create(&threads[0], NULL, opens_and_closes, &going), 0);
    CHECK_EQ(pthread_create(&threads[1], NULL, opens_and_closes, &going), 0);
    while (__atomic_load_n(&going, __ATOMIC_ACQUIRE))
        CHECK_OK(gpuexec_managed_advise(p, 4096, GPUEXEC_READ_MOSTLY, 0));
    CHECK_EQ(pthread_join(threads[0], NULL), 0);
    CHECK_EQ(pthread_join(threads[1], NULL), 0);
    CHECK_OK(gpuexec_params_destroy(first));
}
