/* launch.c - grids, arguments, launches. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../../test.h"
#include <sys/mman.h>

/* A wrong count is found before any address behind the array is read: after this one, nothing is
   mapped. */
TEST(more_arguments_than_addresses) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const setting s = set_up(UNIT_PTX, "add", 64);
    char *const pages = (char *)mmap(
            NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const void **const addresses = (const void **)(void *)(pages + page) - 3;
    gpuexec_args args = GPUEXEC_NO_ARGS;
    unsigned n = 4;
    if (!CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0)) return;
    addresses[0] = &s.data;
    addresses[1] = addresses[2] = &n;
    args.addresses = addresses;
    args.count = 1000;
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 1, 0), args),
            GPUEXEC_BAD_PARAMETERS, "takes 3 parameters", "1000 arguments were passed");
    munmap(pages, 2 * page);
}

TEST(grid_helpers) {
    static const size_t sizes[] = { 1, 31, 32, 33, 255, 256, 257, 1000000, 0x7fffffff,
        (size_t)0x7fffffff * 1024 };
    static const unsigned blocks[] = { 1, 32, 100, 256, 1024 };
    size_t i, k;
    gpuexec_dims d;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (k = 0; k < sizeof blocks / sizeof blocks[0]; k++) {
            if (sizes[i] / blocks[k] >= 0x7fffffff) continue;
            d = gpuexec_grid_for(sizes[i], blocks[k]);
            CHECK_EQ(d.block_x, blocks[k]);
            CHECK((size_t)d.grid_x * blocks[k] >= sizes[i]);      /* enough ... */
            CHECK((size_t)(d.grid_x - 1) * blocks[k] < sizes[i]); /* ... and no block too many */
            CHECK(d.grid_y <= 1 && d.grid_z <= 1 && d.block_y <= 1 && d.block_z <= 1);
            CHECK_EQ(d.shared_bytes, 0);
        }
    CHECK_EQ(gpuexec_grid_for(0, 256).grid_x, 0);
    d = gpuexec_grid_for_2d(1000, 33, 16, 8);
    CHECK_EQ(d.grid_x, 63);
    CHECK_EQ(d.grid_y, 5);
    CHECK_EQ(d.block_x, 16);
    CHECK_EQ(d.block_y, 8);
    CHECK_EQ(d.shared_bytes, 0);
    CHECK(d.grid_z <= 1 && d.block_z <= 1);
    d = gpuexec_grid(7, 64, 4096);
    CHECK_EQ(d.grid_x, 7);
    CHECK_EQ(d.block_x, 64);
    CHECK_EQ(d.shared_bytes, 4096);
    d = gpuexec_with_shared(gpuexec_grid_for_2d(1000, 33, 16, 8), 777);
    CHECK(d.grid_x == 63 && d.grid_y == 5 && d.block_x == 16 && d.block_y == 8);
    CHECK_EQ(d.shared_bytes, 777);
}

/* The kernel sees the requested grid, and every thread of it runs once. */
/* A size or a block of 0 makes an empty grid or block, never one of 1: "0 means 1" is for y and z
   of dims. */
TEST(empty_grids) {
    setting t = set_up(UNIT_PTX, "count", 4);
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid_for_2d(64, 64, 32, 0),
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "block_x is 0");
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid_for_2d(64, 64, 0, 32),
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "block_x is 0");
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid_for_2d(64, 0, 32, 32),
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_x is 0");
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid_for_2d(0, 64, 32, 32),
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_x is 0");
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid_for(64, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "block_x is 0");
}

TEST(grids_of_all_shapes) {
    static const gpuexec_dims shapes[] = {
        { 1, 0, 0, 1, 0, 0, 0 },
        { 3, 0, 0, 33, 0, 0, 0 },
        { 2, 3, 4, 5, 6, 7, 0 },
        { 1, 1, 65, 1, 1, 64, 0 },
        { 1, 700, 1, 4, 4, 0, 16 },
        { 100, 1, 1, 1024, 1, 1, 1000 },
        { 5, 1, 2, 31, 2, 3, 48 * 1024 },
    };
    enum { longest = 102400, bytes = (longest + 9 + 1) * 4 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "where");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, bytes);
    uint32_t *host = (uint32_t *)malloc(bytes);
    size_t i, k;
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        gpuexec_dims d = shapes[i];
        unsigned gy = d.grid_y ? d.grid_y : 1, gz = d.grid_z ? d.grid_z : 1,
                 by = d.block_y ? d.block_y : 1, bz = d.block_z ? d.block_z : 1;
        size_t threads = (size_t)d.grid_x * gy * gz * d.block_x * by * bz;
        gpuexec_fill(s, out, 0, 1, bytes);
        CHECK_OK(gpuexec_launch(fn, s, d, GPUEXEC_ARGS(out)));
        gpuexec_copy_out(s, host, out, bytes);
        CHECK_OK(gpuexec_stream_sync(s));
        CHECK_EQ(host[0], d.grid_x);
        CHECK_EQ(host[1], gy);
        CHECK_EQ(host[2], gz);
        CHECK_EQ(host[3], d.block_x);
        CHECK_EQ(host[4], by);
        CHECK_EQ(host[5], bz);
        CHECK_EQ(host[6], d.shared_bytes);
        CHECK_EQ(host[7], threads - 1);
        for (k = 0; k < threads; k++) CHECK_EQ(host[9 + k], 1);
        CHECK_EQ(host[9 + threads], 0);
    }
    free(host);
}

/* Parameters of every type arrive unchanged. */
TEST(arguments_of_all_kinds) {
    typedef struct {
        double d;
        int i[3];
        float f;
    } mixed;
    typedef struct {
        float x, y, z, w;
    } float4;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, FAULTS_PTX, NULL), "many_parameters");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 96);
    unsigned char u8 = 0xfe;
    signed char s8 = -100;
    unsigned short u16 = 0xfffd;
    short s16 = -30000;
    int s32 = -2000000000;
    unsigned u32 = 0xfeedbeef;
    uint64_t u64 = UINT64_C(0xfedcba9876543210);
    int64_t s64 = INT64_C(-9000000000000000000);
    float f32 = 0.1f;
    double f64 = -1.0 / 3;
    mixed m = { 1e300, { 1, -2, 3 }, 4.5f };
    float4 v = { 1, 2, 3, 4 };
    unsigned char got[96];
    CHECK_OK(gpuexec_fill(s, out, 0, 1, sizeof got));
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0),
            GPUEXEC_ARGS(out, u8, f64, s8, u16, s32, s16, u64, f32, m, u32, v, s64)));
    CHECK_OK(gpuexec_copy_out(s, got, out, sizeof got));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got[0], u8);
    CHECK(memcmp(got + 1, &s8, 1) == 0);
    CHECK(memcmp(got + 2, &u16, 2) == 0);
    CHECK(memcmp(got + 4, &s16, 2) == 0);
    CHECK(memcmp(got + 8, &s32, 4) == 0);
    CHECK(memcmp(got + 12, &u32, 4) == 0);
    CHECK(memcmp(got + 16, &u64, 8) == 0);
    CHECK(memcmp(got + 24, &s64, 8) == 0);
    CHECK(memcmp(got + 32, &f32, 4) == 0);
    CHECK(memcmp(got + 40, &f64, 8) == 0);
    CHECK(memcmp(got + 48, &m, 24) == 0);
    CHECK(memcmp(got + 80, &v, 16) == 0);
}

/* The call copies the values: the variables can change immediately, while the work is still
   pending. */
TEST(values_are_copied_at_the_call) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel add = gpuexec_kernel_get(mod, "add");
    test_gate gate = gate_make(ctx, mod);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr data = gpuexec_alloc(ctx, 400), p = data;
    uint32_t *host = (uint32_t *)gpuexec_alloc_pinned(ctx, 400);
    uint32_t by, n = 1;
    gpuexec_fill(s, data, 0, 1, 400);
    gate_close(gate, s);
    for (by = 1; by <= 100; by++) {
        CHECK_OK(gpuexec_launch(add, s, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(p, by, n)));
        p += 4;
    }
    gpuexec_copy_out(s, host, data, 400);
    p = 0;
    gate_open(gate);
    CHECK_OK(gpuexec_stream_sync(s));
    for (by = 1; by <= 100; by++) CHECK_EQ(host[by - 1], by);
}

/* 64 parameters, the maximum for GPUEXEC_ARGS: out and a0 .. a62. *out = sum of (i + 1) * ai. */
TEST(sixty_four_arguments) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 4);
    gpuexec_module mod;
    gpuexec_kernel fn;
    static char ptx[20000];
    size_t at = 0;
    uint32_t a[63], seed = 3, sum = 0, got = 0;
    unsigned i;
#define ADD(...) at += (size_t)snprintf(ptx + at, sizeof ptx - at, __VA_ARGS__)
    ADD(".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry weigh(.param .u64 out");
    for (i = 0; i < 63; i++) ADD(", .param .u32 a%u", i);
    ADD(")\n{ .reg .u32 %%r<3>; .reg .u64 %%rd;\n"
        " ld.param.u64 %%rd, [out]; cvta.to.global.u64 %%rd, %%rd; mov.u32 %%r1, 0;\n");
    for (i = 0; i < 63; i++)
        ADD(" ld.param.u32 %%r2, [a%u]; mad.lo.u32 %%r1, %%r2, %u, %%r1;\n", i, i + 1);
    ADD(" st.global.u32 [%%rd], %%r1; ret; }\n");
#undef ADD
    for (i = 0; i < 63; i++) {
        a[i] = test_random(&seed);
        sum += (i + 1) * a[i];
    }
    mod = gpuexec_module_load(ctx, ptx, at, NULL);
    fn = gpuexec_kernel_get(mod, "weigh");
    CHECK_MADE(fn);
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0),
            GPUEXEC_ARGS(out, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                    a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21],
                    a[22], a[23], a[24], a[25], a[26], a[27], a[28], a[29], a[30], a[31], a[32],
                    a[33], a[34], a[35], a[36], a[37], a[38], a[39], a[40], a[41], a[42], a[43],
                    a[44], a[45], a[46], a[47], a[48], a[49], a[50], a[51], a[52], a[53], a[54],
                    a[55], a[56], a[57], a[58], a[59], a[60], a[61], a[62])));
    gpuexec_copy_out(s, &got, out, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, sum);
}

TEST(arguments_made_by_hand) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel add = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 400);
    uint32_t by = 3, n = 100, got = 0;
    const void *addresses[3];
    unsigned short sizes[3] = { 8, 4, 4 };
    gpuexec_args args = { addresses, sizes, 3, 0, { 0 } };
    addresses[0] = &p;
    addresses[1] = &by;
    addresses[2] = &n;
    gpuexec_fill(s, p, 0, 1, 400);
    CHECK_OK(gpuexec_launch(add, s, gpuexec_grid_for(n, 64), args));
    args.sizes = NULL; /* sizes are not checked */
    CHECK_OK(gpuexec_launch(add, s, gpuexec_grid_for(n, 64), args));
    args.count = 2; /* the count still is checked */
    CHECK_RESULT(gpuexec_launch(add, s, gpuexec_grid_for(n, 64), args), GPUEXEC_BAD_PARAMETERS);
    gpuexec_take_error();
    args.count = 3;
    args.addresses = NULL;
    CHECK_RESULT(gpuexec_launch(add, s, gpuexec_grid_for(n, 64), args), GPUEXEC_BAD_ARGUMENT);
    gpuexec_take_error();
    addresses[1] = NULL;
    args.addresses = addresses;
    CHECK_REFUSED(gpuexec_launch(add, s, gpuexec_grid_for(n, 64), args), GPUEXEC_BAD_ARGUMENT, "1");
    gpuexec_copy_out(s, &got, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 6);
}

TEST(a_kernel_without_parameters) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel bump = gpuexec_kernel_get(mod, "bump");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    uint32_t value = 0;
    CHECK_OK(gpuexec_launch(bump, s, gpuexec_grid(2, 2, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_copy_out(s, &value, gpuexec_module_global_address(mod, "counter", NULL), 4));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(value, 40 + 4 * 9);
}

/* Up to the device's limit, without an opt-in by the caller; and a small size again afterwards. */
TEST(dynamic_shared_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, FAULTS_PTX, NULL), "fill_dynamic_shared");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 4);
    gpuexec_device_info d;
    unsigned bytes[6];
    size_t i;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    bytes[0] = 4;
    bytes[1] = 1024;
    bytes[2] = (unsigned)d.shared_per_block;
    bytes[3] = (unsigned)d.shared_per_block_optin;
    bytes[4] = bytes[5] = (unsigned)d.shared_per_block;
    for (i = 0; i < 6; i++) {
        uint32_t words = bytes[i] / 4, got = 0;
        CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 256, bytes[i]), GPUEXEC_ARGS(out, words)));
        CHECK_OK(gpuexec_copy_out(s, &got, out, 4));
        CHECK_OK(gpuexec_stream_sync(s));
        CHECK_EQ(got, (uint32_t)((uint64_t)words * (words - 1) / 2));
    }
}

/* Blocks of exactly the size that a kernel requires, and of at most its limit. */
TEST(kernels_with_limits) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, FAULTS_PTX, NULL);
    gpuexec_kernel at_most = gpuexec_kernel_get(mod, "count_at_most_64"),
                   exactly = gpuexec_kernel_get(mod, "count_exactly_64");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t got = 0;
    gpuexec_fill(s, p, 0, 1, 4);
    CHECK_OK(gpuexec_launch(at_most, s, gpuexec_grid(3, 64, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_launch(at_most, s, gpuexec_grid(3, 10, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_launch(exactly, s, gpuexec_grid(2, 64, 0), GPUEXEC_ARGS(p)));
    gpuexec_copy_out(s, &got, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 3 * 64 + 3 * 10 + 2 * 64);
}

/* Many small launches, and one of many blocks. */
TEST(many_launches) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "count");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t got = 0;
    int i;
    gpuexec_fill(s, p, 0, 1, 4);
    for (i = 0; i < 3000; i++)
        CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(70000, 32, 0), GPUEXEC_ARGS(p)));
    gpuexec_copy_out(s, &got, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 3000 * 32 + 70000 * 32);
}

/* From a function pointer, as other languages call it. */
TEST(launching_past_the_macro) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "count");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t got = 0;
    gpuexec_result (*launch)(const char *, gpuexec_kernel, gpuexec_stream, gpuexec_dims,
            gpuexec_args) = (gpuexec_launch_at);
    gpuexec_fill(s, p, 0, 1, 4);
    CHECK_OK(launch("script.lua:7", fn, s, gpuexec_grid(1, 5, 0), GPUEXEC_ARGS(p)));
    gpuexec_copy_out(s, &got, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 5);
}

/* --- launch attributes --- */

static uint32_t result_of(setting t) {
    uint32_t got = 0xdeadbeef;
    gpuexec_copy_out(t.stream, &got, t.data, 4);
    CHECK_OK(gpuexec_stream_sync(t.stream));
    return got;
}

static int attribute(int which) {
    int value = 0;
    CHECK_OK(gpuexec_device_get_attribute(0, which, &value));
    return value;
}

TEST(launching_with_attributes) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_launch_desc desc = { 0 };
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), NULL, GPUEXEC_ARGS(t.data)));
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    desc.cooperative = 1; /* alone, on any driver */
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    CHECK_EQ(result_of(t), 24);
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, gpuexec_grid(1 << 20, 1024, 0), &desc,
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "gpuexec_launch_with", "cuLaunchCooperativeKernel",
            "1048576 blocks", "1024 threads");
    if (gpuexec_driver_version() < 11080) SKIP("attributes need a driver of CUDA 11.8");
    desc.has_priority = 1;
    desc.priority = -1;
    /* the device's capability; older devices ignore or refuse it */
    desc.programmatic = attribute(75) >= 9;
    desc.memory_sync_domain = attribute(75) >= 9;
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    CHECK_EQ(result_of(t), 32);
    CHECK_OK(gpuexec_launch_with(t.kernel, gpuexec_stream_legacy(t.ctx), gpuexec_grid(2, 4, 0),
            &desc, GPUEXEC_ARGS(t.data)));
    CHECK_OK(gpuexec_context_sync(t.ctx));
    CHECK_EQ(result_of(t), 40);
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, gpuexec_grid(1 << 20, 1024, 0), &desc,
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "cuLaunchKernelEx", "1048576 blocks");
}

TEST(wrong_attributes) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_launch_desc desc = { 0 }, dirty;
    memset(&dirty, 0xff, sizeof dirty);
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(1, 1, 0), &dirty, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_ARGUMENT, "gpuexec_launch_desc was not zero-initialized");
    CHECK_REFUSED(
            gpuexec_launch_with(t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc, GPUEXEC_NO_ARGS),
            GPUEXEC_BAD_PARAMETERS, "\"count\" takes 1 parameter");
    if (gpuexec_driver_version() < 11080) SKIP("attributes need a driver of CUDA 11.8");
    desc.memory_sync_domain = 2;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_ARGUMENT, "memory_sync_domain is 2", "1 (the remote domain)");
    desc.memory_sync_domain = 0;
    desc.has_priority = 1;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, gpuexec_grid(1, 5000, 0), &desc,
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "cuLaunchKernelEx", "block_x is 5000");
    CHECK_EQ(result_of(t), 0);
}

TEST_ALONE(attributes_on_an_old_driver) {
    gpuexec_launch_desc desc = { 0 };
    setting t;
    setenv("SIMGPU_DRIVER_VERSION", "11040", 1);
    if (gpuexec_driver_version() >= 11080) SKIP("this driver has cuLaunchKernelEx");
    t = set_up(UNIT_PTX, "count", 4);
    desc.cooperative = 1;
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc, GPUEXEC_ARGS(t.data)));
    desc.cluster_x = 2;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(2, 1, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_OLD_DRIVER, "\"count\"", "need a driver for CUDA 11.8",
            "this driver supports CUDA 11.4");
    CHECK_EQ(result_of(t), 1);
}

static gpuexec_event make_event(gpuexec_context ctx, int no_timing) {
    gpuexec_event_desc desc = { 0 };
    desc.no_timing = no_timing;
    return gpuexec_event_create(ctx, &desc);
}

/* The attributes that change no result. */
TEST(hints_for_a_launch) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_launch_desc desc = { 0 };
    if (gpuexec_driver_version() < 12080) SKIP("needs a driver for CUDA 12.8");
    if (attribute(109)) {
        desc.window.address = t.data;
        desc.window.bytes = 4096;
        desc.window.hit_ratio = 0.5f;
        desc.window.hit = GPUEXEC_ACCESS_PERSISTING;
        desc.window.miss = GPUEXEC_ACCESS_STREAMING;
    }
    desc.has_carveout = 1;
    desc.carveout = 50;
    if (attribute(126) > 1) {
        desc.has_memory_sync_map = 1;
        desc.memory_sync_map[1] = 1;
    }
    desc.cluster_policy = GPUEXEC_CLUSTER_LOAD_BALANCING;
    if (attribute(120)) {
        desc.cluster_x = 2;
        desc.preferred_cluster_x = 4;
    }
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(8, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    CHECK_EQ(result_of(t), 32);
    desc.raw_attribute = 8; /* CU_LAUNCH_ATTRIBUTE_PRIORITY */
    memcpy(desc.raw_value, "\xff\xff\xff\xff", 4);
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(8, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    CHECK_EQ(result_of(t), 64);
    desc.raw_attribute = 9999;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(8, 4, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "cuLaunchKernelEx", "8 x 1 x 1 blocks");
    CHECK_EQ(result_of(t), 64);
}

/* Events that the launch records: they are reached when the grid has ended, at the latest. */
TEST(events_of_a_launch) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_stream other = gpuexec_stream_create(t.ctx, NULL);
    gpuexec_event ended = make_event(t.ctx, 1), started = make_event(t.ctx, 1);
    const test_gate gate = gate_make(t.ctx, t.mod);
    gpuexec_launch_desc desc = { 0 };
    uint32_t got = 0;
    if (gpuexec_driver_version() < 12030) SKIP("needs a driver for CUDA 12.3");
    if (attribute(75) >= 9) desc.programmatic_event = ended;
    desc.started_event = started;
    gate_close(gate, t.stream);
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    CHECK_RESULT(gpuexec_event_query(started), GPUEXEC_NOT_READY);
    if (attribute(75) >= 9) {
        CHECK_RESULT(gpuexec_event_query(ended), GPUEXEC_NOT_READY);
        CHECK_OK(gpuexec_stream_wait_event(other, ended));
    }
    CHECK_OK(gpuexec_stream_wait_event(other, started));
    gate_open(gate);
    CHECK_OK(gpuexec_event_sync(started));
    if (attribute(75) >= 9) CHECK_OK(gpuexec_event_sync(ended));
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_EQ(result_of(t), 8);
    /* prepared: recorded by each launch */
    {
        gpuexec_prepared p = gpuexec_prepare_with(
                t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data));
        int i;
        for (i = 0; i < 3; i++) {
            gate_close(gate, t.stream);
            CHECK_OK(gpuexec_launch_prepared(p));
            CHECK_RESULT(gpuexec_event_query(started), GPUEXEC_NOT_READY);
            gate_open(gate);
            CHECK_OK(gpuexec_event_sync(started));
            CHECK_OK(gpuexec_stream_sync(t.stream));
        }
        CHECK_EQ(result_of(t), 32);
        CHECK_OK(gpuexec_event_destroy(started));
        CHECK_REFUSED(gpuexec_launch_prepared(p), GPUEXEC_STALE_HANDLE, "desc.started_event");
    }
    /* a launch that fails has not recorded it */
    desc.started_event.id = 0;
    desc.programmatic_event = ended;
    if (attribute(75) < 9) return;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, gpuexec_grid(1, 5000, 0), &desc,
                          GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "block_x is 5000");
    CHECK_FAILED(gpuexec_event_query(ended), GPUEXEC_BAD_LAUNCH, "the event has not been recorded",
            "the last attempt to record it, at ");
    CHECK_OK(gpuexec_copy_out_now(t.ctx, &got, t.data, 4));
    CHECK_EQ(got, 32);
}

/* In a capture, the event is a point in the graph, through which another stream joins. */
TEST(an_event_of_a_captured_launch) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_stream other = gpuexec_stream_create(t.ctx, NULL);
    gpuexec_launch_desc desc = { 0 };
    gpuexec_graph_info info;
    gpuexec_graph graph;
    if (gpuexec_driver_version() < 12030) SKIP("needs a driver for CUDA 12.3");
    desc.started_event = make_event(t.ctx, 1);
    CHECK_OK(gpuexec_capture_begin(t.stream, NULL));
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data)));
    CHECK_FAILED(gpuexec_event_query(desc.started_event), GPUEXEC_CAPTURING,
            "was last recorded during a capture");
    CHECK_OK(gpuexec_stream_wait_event(other, desc.started_event));
    CHECK_OK(gpuexec_launch(t.kernel, other, gpuexec_grid(1, 4, 0), GPUEXEC_ARGS(t.data)));
    CHECK_OK(gpuexec_stream_wait_stream(t.stream, other));
    graph = gpuexec_capture_end(t.stream);
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_graph_get_info(graph, &info));
    CHECK_EQ(info.nodes, 2);
    CHECK_OK(gpuexec_graph_launch(graph, t.stream));
    CHECK_EQ(result_of(t), 12);
}

static gpuexec_result launch_as(setting t, const gpuexec_launch_desc *desc) {
    return gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(8, 4, 0), desc, GPUEXEC_ARGS(t.data));
}

TEST(wrong_values_of_attributes) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_launch_desc good = { 0 }, desc;
    char most[32];
    if (gpuexec_driver_version() < 12080) SKIP("needs a driver for CUDA 12.8");
    good.window.address = t.data;
    good.window.bytes = 4096;
    desc = good;
    desc.window.hit_ratio = 1.5f;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "window.hit_ratio is 1.5", "0 to 1");
    desc = good;
    desc.window.miss = GPUEXEC_ACCESS_PERSISTING;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "window.miss is 2");
    desc.window.miss = GPUEXEC_ACCESS_NORMAL;
    desc.window.hit = (gpuexec_access)3;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "window.hit is 3");
    desc = good;
    desc.window.address = 0;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "window.address is 0");
    desc = good;
    desc.window.bytes = (size_t)1 << 40;
    snprintf(most, sizeof most, "at most %d", attribute(109));
    if (attribute(109)) {
        CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "window.bytes is 1099511627776",
                "device 0", most);
    }
    memset(&desc, 0, sizeof desc);
    desc.cluster_policy = (gpuexec_cluster_policy)3;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "cluster_policy is 3",
            "GPUEXEC_CLUSTER_LOAD_BALANCING (2)");
    memset(&desc, 0, sizeof desc);
    desc.has_carveout = 1;
    desc.carveout = 101;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "carveout is 101 percent", "0 to 100");
    desc.carveout = -1;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "carveout is -1", "has_carveout to 0");
    memset(&desc, 0, sizeof desc);
    desc.has_memory_sync_map = 1;
    desc.memory_sync_map[1] = 200;
    CHECK_REFUSED(launch_as(t, &desc),
            attribute(126) ? GPUEXEC_BAD_ARGUMENT : GPUEXEC_NOT_SUPPORTED,
            "memory_sync_map is { 0, 200 }", "device 0 has ");
    memset(&desc, 0, sizeof desc);
    desc.raw_attribute = -1;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "raw_attribute is -1");
    CHECK_EQ(result_of(t), 0);
    if (!attribute(120)) return;
    memset(&desc, 0, sizeof desc);
    desc.preferred_cluster_x = 2;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_LAUNCH, "clusters of 2 x 1 x 1 blocks",
            "no cluster size", "desc.cluster_x");
    desc.cluster_x = 4;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_LAUNCH, "preferred_cluster_x is 2",
            "not a multiple of the cluster's size of 4 blocks");
    desc.cluster_x = 2;
    desc.preferred_cluster_x = 6;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_LAUNCH, "grid_x is 8",
            "preferred_cluster_x, which is 6 blocks");
    CHECK_EQ(result_of(t), 0);
    if (!on_cpu_device()) return; /* an H100 launches it with smaller clusters */
    desc.preferred_cluster_x = 16;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(32, 4, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "a preferred cluster of 16 x 1 x 1 has 16 blocks",
            "non_portable_cluster");
    CHECK_EQ(result_of(t), 0);
}

TEST(wrong_events_of_a_launch) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_event timed = make_event(t.ctx, 0), plain = make_event(t.ctx, 1);
    gpuexec_graph graph = gpuexec_graph_create(t.ctx);
    gpuexec_batch batch = gpuexec_batch_create(t.ctx, NULL);
    gpuexec_context own = gpuexec_context_create(0, NULL);
    struct CUgraphDeviceUpdatableNode_st *device_node = NULL;
    gpuexec_launch_desc desc = { 0 };
    if (gpuexec_driver_version() < 12040) SKIP("needs a driver for CUDA 12.4");
    desc.started_event = timed;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT,
            "desc.started_event is an event with timing", "no_timing");
    desc.started_event = make_event(own, 1);
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_WRONG_CONTEXT, "desc.started_event");
    CHECK_OK(gpuexec_event_destroy(desc.started_event));
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_STALE_HANDLE, "desc.started_event");
    memset(&desc, 0, sizeof desc);
    desc.programmatic_event_at_start = 1;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "there is no programmatic_event");
    desc.programmatic_event = plain;
    if (attribute(75) < 9)
        CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_NOT_SUPPORTED, "compute capability 9.0");
    desc.programmatic_event_at_start = 0;
    CHECK(!gpuexec_ok(gpuexec_graph_add_kernel_with(
            graph, t.kernel, gpuexec_grid(1, 1, 0), &desc, GPUEXEC_ARGS(t.data), GPUEXEC_FIRST)
                              .graph));
    CHECK_TEXT(gpuexec_error_text(), "a graph node cannot record an event", "started_event to 0");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK(gpuexec_batch_add_with(
                  batch, t.kernel, gpuexec_grid(1, 1, 0), &desc, GPUEXEC_ARGS(t.data)) < 0);
    CHECK_TEXT(gpuexec_error_text(), "a launch in a batch cannot record an event");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    memset(&desc, 0, sizeof desc);
    desc.device_node = &device_node;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_BAD_ARGUMENT, "device_node is set",
            "the stream is not capturing");
    CHECK_NOT_MADE(gpuexec_prepare_with(
                           t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_ARGUMENT, "device_node is set, which a prepared launch cannot have");
    CHECK_EQ(result_of(t), 0);
}

/* The CPU device refuses it. */
TEST(a_node_that_kernels_can_change) {
    setting t = set_up(UNIT_PTX, "count", 4);
    struct CUgraphDeviceUpdatableNode_st *device_node = NULL;
    gpuexec_launch_desc desc = { 0 };
    gpuexec_result result;
    gpuexec_graph graph;
    if (gpuexec_driver_version() < 12040) SKIP("needs a driver for CUDA 12.4");
    desc.device_node = &device_node;
    CHECK_OK(gpuexec_capture_begin(t.stream, NULL));
    result = launch_as(t, &desc);
    if (result) {
        CHECK_RESULT(result, GPUEXEC_NOT_SUPPORTED);
        CHECK_TEXT(gpuexec_error_text(), "device_node", "\"count\"");
        CHECK(!device_node);
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
        (void)gpuexec_capture_end(t.stream);
        (void)gpuexec_take_error();
        return;
    }
    CHECK(device_node);
    graph = gpuexec_capture_end(t.stream);
    CHECK_OK(gpuexec_graph_launch(graph, t.stream));
    CHECK_EQ(result_of(t), 32);
}

/* How large clusters can be, and how many of them run at the same time. */
TEST(clusters_that_fit) {
    setting t = set_up(UNIT_PTX, "count", 4);
    const gpuexec_dims dims = gpuexec_grid(16, 64, 0);
    const gpuexec_kernel none = { 0 };
    gpuexec_launch_desc desc = { 0 };
    int largest, two, eight;
    if (gpuexec_driver_version() < 11080 || !attribute(120)) SKIP("needs clusters");
    largest = gpuexec_kernel_largest_cluster(t.kernel, dims, NULL);
    CHECK_EQ(largest, 8);
    desc.cluster_x = 2;
    two = gpuexec_kernel_resident_clusters(t.kernel, dims, &desc);
    desc.cluster_x = 8;
    eight = gpuexec_kernel_resident_clusters(t.kernel, dims, &desc);
    CHECK(eight > 0 && two > eight);
    CHECK_OK(gpuexec_launch_with(t.kernel, t.stream, dims, &desc, GPUEXEC_ARGS(t.data)));
    CHECK_EQ(result_of(t), 16 * 64);
    desc.non_portable_cluster = 1;
    CHECK(gpuexec_kernel_largest_cluster(t.kernel, dims, &desc) >= 8);
    desc.cluster_x = 3;
    CHECK_EQ(gpuexec_kernel_resident_clusters(t.kernel, dims, &desc), -1);
    CHECK_TEXT(gpuexec_error_text(), "cuOccupancyMaxActiveClusters", "16 x 1 x 1 blocks",
            "a multiple of the cluster");
    CHECK_EQ(gpuexec_kernel_largest_cluster(t.kernel, gpuexec_grid(0, 64, 0), NULL), -1);
    CHECK_TEXT(gpuexec_error_text(), "cuOccupancyMaxPotentialClusterSize", "\"count\"");
    CHECK_EQ(gpuexec_kernel_largest_cluster(none, dims, NULL), -1);
    CHECK_TEXT(gpuexec_error_text(), "the kernel");
    memset(&desc, 0xff, sizeof desc);
    CHECK_EQ(gpuexec_kernel_resident_clusters(t.kernel, dims, &desc), -1);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_launch_desc was not zero-initialized");
    CHECK_OK(gpuexec_take_error());
}

TEST_ALONE(clusters_that_the_device_or_driver_lacks) {
    setting t;
    setenv("SIMGPU_DEVICE_0", "120=0", 1);
    t = set_up(UNIT_PTX, "count", 4);
    if (attribute(120)) SKIP("this device has clusters");
    if (gpuexec_driver_version() < 11080) SKIP("this driver has no clusters");
    CHECK_EQ(gpuexec_kernel_largest_cluster(t.kernel, gpuexec_grid(2, 2, 0), NULL), -1);
    CHECK_TEXT(gpuexec_error_text(), "device 0 has no clusters", "CLUSTER_LAUNCH is 0");
}
TEST_ALONE(clusters_that_the_driver_lacks) {
    setting t;
    setenv("SIMGPU_DRIVER_VERSION", "11040", 1);
    if (gpuexec_driver_version() >= 11080) SKIP("this driver has clusters");
    t = set_up(UNIT_PTX, "count", 4);
    CHECK_EQ(gpuexec_kernel_resident_clusters(t.kernel, gpuexec_grid(2, 2, 0), NULL), -1);
    CHECK_TEXT(gpuexec_error_text(), "clusters need", "CUDA 11.8", "CUDA 11.4");
}

TEST_ALONE(newer_attributes_on_older_drivers) {
    gpuexec_launch_desc desc = { 0 };
    setting t;
    setenv("SIMGPU_DRIVER_VERSION", "11080", 1);
    if (gpuexec_driver_version() >= 12000) SKIP("this driver has the newer attributes");
    t = set_up(UNIT_PTX, "count", 4);
    desc.has_memory_sync_map = 1;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_OLD_DRIVER, "memory_sync_map", "CUDA 12.0");
    memset(&desc, 0, sizeof desc);
    desc.started_event = make_event(t.ctx, 1);
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_OLD_DRIVER, "started_event", "CUDA 12.3");
    memset(&desc, 0, sizeof desc);
    desc.has_carveout = 1;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_OLD_DRIVER, "has_carveout", "CUDA 12.5");
    memset(&desc, 0, sizeof desc);
    desc.preferred_cluster_x = 2;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_OLD_DRIVER, "preferred cluster", "CUDA 12.8");
    CHECK_EQ(result_of(t), 0);
}

/* A device without windows, and one that is too old for the event. */
TEST_ALONE(attributes_that_the_device_lacks) {
    gpuexec_launch_desc desc = { 0 };
    setting t;
    setenv("SIMGPU_DEVICE_0", "109=0;75=8;76=6", 1);
    t = set_up(UNIT_PTX, "count", 4);
    if (attribute(109) || attribute(75) != 8) SKIP("needs the CPU device");
    if (gpuexec_driver_version() < 12040) SKIP("this driver lacks these attributes");
    desc.window.address = t.data;
    desc.window.bytes = 4;
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_NOT_SUPPORTED, "device 0 has no access windows",
            "CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE is 0", "window.bytes to 0");
    memset(&desc, 0, sizeof desc);
    desc.programmatic_event = make_event(t.ctx, 1);
    CHECK_REFUSED(launch_as(t, &desc), GPUEXEC_NOT_SUPPORTED, "compute capability 9.0",
            "device 0 has 8.6", "desc.started_event");
    CHECK_EQ(result_of(t), 0);
}

/* A device that says that it has no clusters, of a capability before and after 9.0, and a driver
   that refuses them. */
static void refuse_clusters(const char *device, const char *need, const char *capability) {
    gpuexec_launch_desc desc = { 0 };
    setting t;
    setenv("SIMGPU_DEVICE_0", device, 1);
    setenv("SIMGPU_FAIL", "cuLaunchKernelEx:1:801", 1);
    t = set_up(UNIT_PTX, "count", 4);
    desc.cluster_x = 2;
    CHECK_REFUSED(gpuexec_launch_with(
                          t.kernel, t.stream, gpuexec_grid(6, 32, 0), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_NOT_SUPPORTED, "clusters (2 x 1 x 1 blocks, kernel \"count\")", need,
            capability);
    CHECK_EQ(result_of(t), 0);
}
TEST_ALONE(clusters_on_an_older_device) {
    const char *version = getenv("SIMGPU_DRIVER_VERSION"); /* it must not start the library yet */
    if (version && atoi(version) < 11080) SKIP("the driver is too old for this");
    if (!on_cpu_device()) SKIP("only the CPU device can be one");
    refuse_clusters("120=0;75=8;76=6", "need compute capability 9.0", "device 0 has 8.6");
}
TEST_ALONE(clusters_on_a_device_without_them) {
    if (!on_cpu_device()) SKIP("only the CPU device can be one");
    const char *version = getenv("SIMGPU_DRIVER_VERSION"); /* it must not start the library yet */
    if (version && atoi(version) < 11080) SKIP("the driver is too old for this");
    refuse_clusters("120=0", "but the driver reports no support for clusters",
            "device 0: its compute capability is 9.0");
}

TEST(clusters) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_launch_desc desc = { 0 };
    gpuexec_dims grid = gpuexec_grid(6, 32, 0);
    if (gpuexec_driver_version() < 11080) SKIP("attributes need a driver of CUDA 11.8");
    /* CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH */
    if (!attribute(120)) SKIP("this device has no clusters");
    desc.cluster_x = 2;
    CHECK_OK(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)));
    CHECK_EQ(result_of(t), 6 * 32);
    desc.cluster_x = 4;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_x is 6", "not a multiple of the cluster's size of 4 blocks",
            "\"count\"");
    desc.cluster_x = 0;
    desc.cluster_y = 2; /* x 0 is 1 */
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "grid_y is 1", "not a multiple of the cluster's size of 2 blocks");
    desc.cluster_y = 0;
    desc.cluster_x = 16;
    grid.grid_x = 32;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "16 x 1 x 1 has 16 blocks", "only 8", "non_portable_cluster");
    desc.cluster_x = 32;
    desc.non_portable_cluster = 1;
    CHECK_REFUSED(gpuexec_launch_with(t.kernel, t.stream, grid, &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "32 x 1 x 1 has 32 blocks", "at most", "on device 0");
    CHECK_EQ(result_of(t), 6 * 32);
}

/* --- the opt-in to dynamic shared memory --- */

/* The device's limit applies to static and dynamic shared memory together. Tested with each kind of
   launch. */
TEST(static_and_dynamic_shared_memory_together) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_kernel fn = gpuexec_kernel_get(t.mod, "with_static_shared");
    gpuexec_launch_desc desc = { 0 };
    gpuexec_prepared p;
    gpuexec_device_info d;
    char need[100];
    unsigned most;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    most = (unsigned)d.shared_per_block_optin - 1024;
    desc.has_priority = gpuexec_driver_version() >= 11080;
    snprintf(need, sizeof need,
            "needs %u bytes of shared memory per block (1024 static and %u dynamic), but device 0 "
            "allows at most %u",
            most + 1028, most + 4, most + 1024);
    CHECK_REFUSED(gpuexec_launch(fn, t.stream, gpuexec_grid(1, 1, most + 4), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, need);
    CHECK_REFUSED(gpuexec_launch_cooperative(
                          fn, t.stream, gpuexec_grid(1, 1, most + 4), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, need);
    CHECK_REFUSED(gpuexec_launch_with(
                          fn, t.stream, gpuexec_grid(1, 1, most + 4), &desc, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, need);
    CHECK(!gpuexec_ok(
            gpuexec_prepare(fn, t.stream, gpuexec_grid(1, 1, most + 4), GPUEXEC_ARGS(t.data))));
    CHECK_TEXT(gpuexec_error_text(), need);
    gpuexec_take_error();
    CHECK_OK(gpuexec_launch(fn, t.stream, gpuexec_grid(1, 1, most), GPUEXEC_ARGS(t.data)));
    p = gpuexec_prepare(fn, t.stream, gpuexec_grid(1, 1, most), GPUEXEC_ARGS(t.data));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_stream_sync(t.stream));
}

/* Each kind of launch opts in automatically, and none lowers the limit that another has set:
   neither with a smaller size nor through another handle of the function. */
TEST(the_opt_in_is_never_lowered) {
    enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
    const driver_calls cu = calls_find();
    gpuexec_device_info d;
    gpuexec_launch_desc desc = { 0 };
    unsigned most, low;
    int way, limit;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    most = (unsigned)d.shared_per_block_optin;
    low = (unsigned)d.shared_per_block + 4;
    if (low >= most) SKIP("this device has no shared memory beyond the default limit");
    desc.has_priority = gpuexec_driver_version() >= 11080;
    for (way = 0; way < 4; way++) {
        gpuexec_context ctx = gpuexec_context_open(0, NULL);
        gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
        gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, FAULTS_PTX, NULL),
                               "fill_dynamic_shared"),
                       again = gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(fn));
        gpuexec_ptr out = gpuexec_alloc(ctx, 4);
        uint32_t words = most / 4, few = 1, got = 0;
        gpuexec_dims large = gpuexec_grid(1, 64, most);
        if (way == 0) CHECK_OK(gpuexec_launch(fn, s, large, GPUEXEC_ARGS(out, words)));
        if (way == 1) CHECK_OK(gpuexec_launch_cooperative(fn, s, large, GPUEXEC_ARGS(out, words)));
        if (way == 2) CHECK_OK(gpuexec_launch_with(fn, s, large, &desc, GPUEXEC_ARGS(out, words)));
        if (way == 3)
            CHECK_OK(gpuexec_launch_prepared(
                    gpuexec_prepare(fn, s, large, GPUEXEC_ARGS(out, words))));
        CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 64, low), GPUEXEC_ARGS(out, few)));
        CHECK_OK(gpuexec_launch(again, s, gpuexec_grid(1, 64, low), GPUEXEC_ARGS(out, few)));
        CHECK_EQ(cu.cuFuncGetAttribute(
                         &limit, MAX_DYNAMIC_SHARED_SIZE_BYTES, gpuexec_kernel_native(fn)),
                0);
        CHECK_EQ(limit, most);
        CHECK_OK(gpuexec_launch(fn, s, large, GPUEXEC_ARGS(out, words)));
        CHECK_OK(gpuexec_launch(again, s, large, GPUEXEC_ARGS(out, words)));
        CHECK_OK(gpuexec_copy_out(s, &got, out, 4));
        CHECK_OK(gpuexec_stream_sync(s));
        CHECK_EQ(got, (uint32_t)((uint64_t)words * (words - 1) / 2));
        CHECK_OK(gpuexec_context_close(ctx));
    }
}
