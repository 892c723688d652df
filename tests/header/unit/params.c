/* params.c - parameter blocks, compared with kernels that nvcc compiled, and prepared launches. */
#include "../../test.h"

#define PARAMETERS_PTX "kernels/parameters.ptx"

typedef struct float4 {
    float x, y, z, w;
} float4;
typedef struct float2 {
    float x, y;
} float2;
/* struct { float f; float4 f4; }, as laid out on the device */
typedef struct mixed {
    float f, padding[3];
    float4 f4;
} mixed;

static uint32_t word(setting t, unsigned index) { /* of t.data, after all work */
    uint32_t value = 0xdeadbeef;
    CHECK_OK(gpuexec_copy_out(t.stream, &value, t.data + 4 * index, 4));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    return value;
}

/* -------------------------------------------------------------------------------------------------
   Layout. */

/* In the order of the kernel every_type. */
static const gpuexec_type types[] = { GPUEXEC_BOOL, GPUEXEC_CHAR, GPUEXEC_CHAR1, GPUEXEC_CHAR2,
    GPUEXEC_CHAR3, GPUEXEC_CHAR4, GPUEXEC_UCHAR, GPUEXEC_UCHAR1, GPUEXEC_UCHAR2, GPUEXEC_UCHAR3,
    GPUEXEC_UCHAR4, GPUEXEC_SHORT, GPUEXEC_SHORT1, GPUEXEC_SHORT2, GPUEXEC_SHORT3, GPUEXEC_SHORT4,
    GPUEXEC_USHORT, GPUEXEC_USHORT1, GPUEXEC_USHORT2, GPUEXEC_USHORT3, GPUEXEC_USHORT4, GPUEXEC_INT,
    GPUEXEC_INT1, GPUEXEC_INT2, GPUEXEC_INT3, GPUEXEC_INT4, GPUEXEC_UINT, GPUEXEC_UINT1,
    GPUEXEC_UINT2, GPUEXEC_UINT3, GPUEXEC_UINT4, GPUEXEC_LONGLONG, GPUEXEC_LONGLONG1,
    GPUEXEC_LONGLONG2, GPUEXEC_LONGLONG3, GPUEXEC_LONGLONG4_16A, GPUEXEC_LONGLONG4_32A,
    GPUEXEC_ULONGLONG, GPUEXEC_ULONGLONG1, GPUEXEC_ULONGLONG2, GPUEXEC_ULONGLONG3,
    GPUEXEC_ULONGLONG4_16A, GPUEXEC_ULONGLONG4_32A, GPUEXEC_LONG, GPUEXEC_LONG1, GPUEXEC_LONG2,
    GPUEXEC_LONG3, GPUEXEC_LONG4_16A, GPUEXEC_LONG4_32A, GPUEXEC_ULONG, GPUEXEC_ULONG1,
    GPUEXEC_ULONG2, GPUEXEC_ULONG3, GPUEXEC_ULONG4_16A, GPUEXEC_ULONG4_32A, GPUEXEC_HALF,
    GPUEXEC_HALF2, GPUEXEC_BFLOAT16, GPUEXEC_BFLOAT162, GPUEXEC_FLOAT, GPUEXEC_FLOAT1,
    GPUEXEC_FLOAT2, GPUEXEC_FLOAT3, GPUEXEC_FLOAT4, GPUEXEC_DOUBLE, GPUEXEC_DOUBLE1,
    GPUEXEC_DOUBLE2, GPUEXEC_DOUBLE3, GPUEXEC_DOUBLE4_16A, GPUEXEC_DOUBLE4_32A, GPUEXEC_POINTER,
    GPUEXEC_TEXTURE, GPUEXEC_SURFACE };
enum { TYPES = sizeof types / sizeof types[0] };

/* known: the driver reports the layout; otherwise the offsets of types aligned above 16 are
   unknown */
static void check_known(gpuexec_params p, gpuexec_kernel fn, int known) {
    if (known) CHECK_OK(gpuexec_params_check(p, fn));
    else {
        CHECK_RESULT(gpuexec_params_check(p, fn), GPUEXEC_NOT_SUPPORTED);
        CHECK_TEXT(gpuexec_error_text(), "requires ", "this driver (CUDA 1",
                "does not report the argument's offset", "CUDA 12.4");
    }
}
static void compare_every_type(int known) {
    static const unsigned char zeros[32];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, PARAMETERS_PTX, NULL), "every_type");
    gpuexec_params p = gpuexec_params_create();
    gpuexec_kernel_info info;
    size_t bytes = 0;
    int i;
    CHECK_MADE(p);
    for (i = 0; i < TYPES; i++) {
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, zeros));
        CHECK_OK(gpuexec_params_add(p, types[i], zeros));
        CHECK_EQ(gpuexec_params_count(p), 2 * i + 2);
        CHECK_EQ(gpuexec_params_args(p).sizes[2 * i + 1],
                gpuexec_kernel_parameter_size(fn, 2 * i + 1));
    }
    CHECK_OK(gpuexec_kernel_get_info(fn, &info));
    CHECK_EQ(info.parameters, 2 * TYPES);
    check_known(p, fn, known);
    for (i = 0; i < TYPES; i++)
        CHECK_EQ(gpuexec_params_offset(p, 2 * i + 1),
                gpuexec_kernel_parameter_offset(fn, 2 * i + 1));
    CHECK(gpuexec_params_data(p, &bytes) != NULL);
    CHECK_EQ(bytes, gpuexec_kernel_parameter_offset(fn, 2 * TYPES - 1) + 8);
    CHECK_EQ(gpuexec_params_offset(p, 2 * TYPES), -1);
    CHECK_EQ(gpuexec_params_offset(p, -1), -1);
    CHECK_EQ(gpuexec_kernel_parameter_offset(fn, 2 * TYPES), -1);
    CHECK_EQ(gpuexec_kernel_parameter_offset(fn, -1), -1);
    CHECK_OK(gpuexec_launch(
            fn, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    CHECK_OK(gpuexec_context_sync(ctx));
}
/* A struct can have a larger alignment than any type. */
static void compare_alignments(int known) {
    static const unsigned char bytes[512];
    char ptx[400];
    unsigned alignment;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    for (alignment = 1; alignment <= 512; alignment *= 2) {
        gpuexec_params p = gpuexec_params_create();
        gpuexec_kernel fn;
        snprintf(ptx, sizeof ptx,
                ".version 6.0\n.target sm_70\n.address_size 64\n"
                ".visible .entry k(.param .u8 a, .param .align %u .b8 b[%u], .param .u64 .ptr "
                ".global .align 128 c) { ret; }\n",
                alignment, 512u);
        fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, 0, NULL), "k");
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_UCHAR, bytes));
        CHECK_OK(gpuexec_params_add_struct(p, bytes, 512, alignment));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, bytes));
        CHECK_EQ(gpuexec_params_offset(p, 1), alignment);
        check_known(p, fn, known || alignment <= 16);
        CHECK_EQ(gpuexec_params_offset(p, 1), gpuexec_kernel_parameter_offset(fn, 1));
        CHECK_EQ(gpuexec_params_offset(p, 2), gpuexec_kernel_parameter_offset(fn, 2));
    }
    CHECK_OK(gpuexec_take_error());
}

TEST(every_type_lies_where_nvcc_puts_it) {
    unsigned char seen[GPUEXEC_TYPES] = { 0 };
    int i;
    for (i = 0; i < TYPES; i++) seen[types[i]] = 1;
    for (i = 1; i < GPUEXEC_TYPES; i++) CHECK(seen[i]); /* the kernel has all types */
    compare_every_type(gpuexec_driver_version() >= 12040);
}
TEST(alignments_up_to_512) { compare_alignments(gpuexec_driver_version() >= 12040); }

/* The driver does not report the layout: gpuexec reads it from the PTX text. */
TEST_ALONE(the_same_layout_from_the_ptx_text) {
    setenv("SIMGPU_DRIVER_VERSION", "12020", 1);
    if (gpuexec_driver_version() >= 12040) SKIP("this driver reports the layout");
    compare_every_type(0);
    compare_alignments(0);
}

/* Values for the kernel `receive`, in its order. */
typedef struct values {
    int i;
    float4 f4;
    signed char c;
    float f;
    gpuexec_ptr p;
    float2 f2;
    gpuexec_ptr out;
    mixed m;
    unsigned char b;
    short s3[3];
    double d;
    unsigned short h;
    unsigned char u4[4];
    long long l;
} values;
static const values all = { -7, { 1, 2, 3, 4 }, -100, 0.25f, 0x123456789aULL, { 5, 6 }, 0,
    { 7, { 0, 0, 0 }, { 8, 9, 10, 11 } }, 1, { -1, 2, -3 }, -1.0 / 3, 0x3c01,
    { 250, 251, 252, 253 }, -9000000000000000000LL };
static gpuexec_params block_of(const values *v) {
    gpuexec_params p = gpuexec_params_create();
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &v->i));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT4, &v->f4));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &v->c));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT, &v->f));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &v->p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT2, &v->f2));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &v->out));
    CHECK_OK(gpuexec_params_add_struct(p, &v->m, sizeof v->m, 16));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_BOOL, &v->b));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_SHORT3, v->s3));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_DOUBLE, &v->d));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_HALF, &v->h));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_UCHAR4, v->u4));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_LONGLONG, &v->l));
    return p;
}

static size_t put(unsigned char *to, size_t at, const void *value, size_t bytes) {
    memcpy(to + at, value, bytes);
    return at + bytes;
}

static void check_received(setting t, const values *v) {
    unsigned char wanted[128], got[128];
    size_t n = 0;
    n = put(wanted, n, &v->i, 4);
    n = put(wanted, n, &v->f4, 16);
    n = put(wanted, n, &v->c, 1);
    n = put(wanted, n, &v->f, 4);
    n = put(wanted, n, &v->p, 8);
    n = put(wanted, n, &v->f2, 8);
    n = put(wanted, n, &v->m.f, 4);
    n = put(wanted, n, &v->m.f4, 16);
    n = put(wanted, n, &v->b, 1);
    n = put(wanted, n, v->s3, 6);
    n = put(wanted, n, &v->d, 8);
    n = put(wanted, n, &v->h, 2);
    n = put(wanted, n, v->u4, 4);
    n = put(wanted, n, &v->l, 8);
    CHECK_OK(gpuexec_copy_out(t.stream, got, t.data, n));
    CHECK_OK(gpuexec_fill(t.stream, t.data, 0, 1, 4096));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK(memcmp(got, wanted, n) == 0);
}

/* int, float4, char, float, pointer, float2, pointer: the packing example of CUDA's documentation;
   then the struct with padding after its first member. */
TEST(one_block_for_every_way_to_launch) {
    static const int offsets[] = { 0, 16, 32, 36, 40, 48, 56, 64, 96, 98, 104, 112, 116, 120 };
    setting t = set_up(PARAMETERS_PTX, "receive", 4096);
    values v = all;
    gpuexec_params p;
    gpuexec_prepared prepared;
    gpuexec_launch_desc desc = { 0 };
    gpuexec_device_launch on_device;
    size_t bytes = 0;
    void *data, *extra[5];
    int i;
    v.out = t.data;
    p = block_of(&v);
    for (i = 0; i < 14; i++) {
        CHECK_EQ(gpuexec_params_offset(p, i), offsets[i]);
        CHECK_EQ(gpuexec_kernel_parameter_offset(t.kernel, i), offsets[i]);
    }
    CHECK_OK(gpuexec_params_check(p, t.kernel));
    data = gpuexec_params_data(p, &bytes);
    CHECK_EQ(bytes, 128);
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    check_received(t, &v);
    CHECK_OK(gpuexec_launch_cooperative(
            t.kernel, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    check_received(t, &v);
    desc.has_priority = gpuexec_driver_version() >= 11080;
    CHECK_OK(gpuexec_launch_with(
            t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc, gpuexec_params_args(p)));
    check_received(t, &v);
    on_device.kernel = t.kernel;
    on_device.stream = t.stream;
    on_device.dims = gpuexec_grid(1, 1, 0);
    on_device.args = gpuexec_params_args(p);
    CHECK_OK(gpuexec_launch_multi_device(&on_device, 1, NULL));
    check_received(t, &v);
    prepared = gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    check_received(t, &v);
    extra[0] = (void *)1; /* CU_LAUNCH_PARAM_BUFFER_POINTER */
    extra[1] = data;
    extra[2] = (void *)2; /* CU_LAUNCH_PARAM_BUFFER_SIZE */
    extra[3] = &bytes;
    extra[4] = NULL; /* CU_LAUNCH_PARAM_END */
    CHECK_EQ(calls_find().cuLaunchKernel(gpuexec_kernel_native(t.kernel), 1, 1, 1, 1, 1, 1, 0,
                     gpuexec_stream_native(t.stream), NULL, extra),
            0);
    check_received(t, &v);
    v.i = 8;
    memcpy(data, &v.i, 4); /* directly in the block */
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    check_received(t, &v);
}

TEST(padding_inside_is_zero_and_none_at_the_end) {
    static const unsigned char ff[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
    gpuexec_params p = gpuexec_params_create();
    size_t bytes = 99;
    unsigned char *data = (unsigned char *)gpuexec_params_data(p, &bytes);
    CHECK(data != NULL);
    CHECK_EQ(bytes, 0);
    CHECK_EQ(gpuexec_params_count(p), 0);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, ff));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_SHORT, ff));
    data = (unsigned char *)gpuexec_params_data(p, &bytes);
    CHECK_EQ(bytes, 10);
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_EQ(gpuexec_params_count(p), 0);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, ff));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_LONGLONG, ff));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, ff));
    data = (unsigned char *)gpuexec_params_data(p, &bytes);
    CHECK_EQ(bytes, 17);
    CHECK(memcmp(data, "\xff\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff", 17) == 0);
    CHECK_OK(gpuexec_params_destroy(p));
}

/* More arguments than GPUEXEC_ARGS accepts. */
TEST(a_hundred_arguments) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 4);
    gpuexec_params p = gpuexec_params_create();
    static char ptx[20000];
    size_t at = 0;
    uint32_t i, sum = 0, got = 0, seed = 5;
    gpuexec_kernel fn;
#define ADD(...) at += (size_t)snprintf(ptx + at, sizeof ptx - at, __VA_ARGS__)
    ADD(".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry weigh(.param .u64 out");
    for (i = 0; i < 99; i++) ADD(", .param .u32 a%u", i);
    ADD(")\n{ .reg .u32 %%r<3>; .reg .u64 %%rd;\n ld.param.u64 %%rd, [out]; mov.u32 %%r1, 0;\n");
    for (i = 0; i < 99; i++)
        ADD(" ld.param.u32 %%r2, [a%u]; mad.lo.u32 %%r1, %%r2, %u, %%r1;\n", i, i + 1);
    ADD(" st.u32 [%%rd], %%r1; ret; }\n");
#undef ADD
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &out));
    for (i = 0; i < 99; i++) {
        uint32_t a = test_random(&seed);
        sum += (i + 1) * a;
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_UINT, &a));
    }
    fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, at, NULL), "weigh");
    CHECK_OK(gpuexec_params_check(p, fn));
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    CHECK_OK(gpuexec_copy_out(s, &got, out, 4));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, sum);
}

/* The kernel writes the last word of its big parameter; 8 + bytes in total. */
static gpuexec_kernel big_kernel(gpuexec_context ctx, unsigned bytes) {
    char ptx[500];
    snprintf(ptx, sizeof ptx,
            ".version %s\n.target sm_70\n.address_size 64\n"
            ".visible .entry last(.param .u64 out, .param .align 4 .b8 big[%u])\n"
            "{ .reg .u32 %%r; .reg .u64 %%rd; ld.param.u64 %%rd, [out]; ld.param.u32 %%r, "
            "[big+%u]; st.u32 [%%rd], %%r; ret; }\n",
            bytes > 4088 ? "8.1" : "6.0", bytes, bytes - 4);
    return gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, 0, NULL), "last");
}
TEST(as_many_bytes_as_a_kernel_takes) {
    static const unsigned sizes[] = { 4088, 4092, 32756 };
    static uint32_t words[8192];
    setting t = set_up(UNIT_PTX, "nothing", 4096);
    uint32_t i;
    for (i = 0; i < 3; i++) {
        gpuexec_params p = gpuexec_params_create();
        gpuexec_kernel fn;
        if (sizes[i] > 4088 && gpuexec_driver_version() < 12010)
            SKIP("more than 4,096 bytes need a driver of CUDA 12.1");
        fn = big_kernel(t.ctx, sizes[i]);
        words[sizes[i] / 4 - 1] = 1000 + i;
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
        CHECK_OK(gpuexec_params_add_struct(p, words, sizes[i], 4));
        CHECK_OK(gpuexec_params_check(p, fn));
        CHECK_OK(gpuexec_launch(fn, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
        CHECK_EQ(word(t, 0), 1000 + i);
        CHECK_OK(gpuexec_launch_prepared(
                gpuexec_prepare(fn, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p))));
        CHECK_EQ(word(t, 0), 1000 + i);
    }
}
TEST(more_bytes_than_any_kernel_takes) {
    static const unsigned char bytes[32768];
    gpuexec_params p = gpuexec_params_create();
    CHECK_REFUSED(gpuexec_params_add_struct(p, bytes, 32768, 4), GPUEXEC_BAD_PARAMETERS,
            "argument 0 (counted from 0) is 32768 bytes long and does not fit",
            "the arguments before it take 0", "limited to 32764", "device memory");
    CHECK_OK(gpuexec_params_add_struct(p, bytes, 32760, 4));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, bytes)); /* 32,764 */
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_CHAR, bytes), GPUEXEC_BAD_PARAMETERS,
            "argument 2 (counted from 0) is 1 byte long and", "the arguments before it take 32764",
            "limited to 32764");
    CHECK_REFUSED(gpuexec_params_add_struct(p, bytes, (size_t)1 << 62, (size_t)1 << 62),
            GPUEXEC_BAD_PARAMETERS,
            "argument 2 (counted from 0) is 4611686018427387904 bytes long");
    CHECK_EQ(gpuexec_params_count(p), 2);
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_OK(gpuexec_params_add_struct(p, bytes, 32760, 4));
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_POINTER, bytes), GPUEXEC_BAD_PARAMETERS,
            "argument 1 (counted from 0) is 8 bytes long", "the arguments before it take 32760");
}
TEST_ALONE(more_bytes_than_an_old_driver_takes) {
    static const unsigned char bytes[8192];
    gpuexec_params p = gpuexec_params_create();
    gpuexec_context ctx;
    gpuexec_kernel fn;
    setenv("SIMGPU_DRIVER_VERSION", "12000", 1);
    if (gpuexec_driver_version() >= 12010) SKIP("this driver accepts 32,764 bytes");
    ctx = gpuexec_context_open(0, NULL);
    fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, PARAMETERS_PTX, NULL), "receive");
    CHECK_OK(gpuexec_params_add_struct(p, bytes, 4104, 8));
    CHECK_FAILED(gpuexec_params_check(p, fn), GPUEXEC_BAD_PARAMETERS, "4104 bytes", "\"receive\"",
            "limited to 4096", "CUDA 12.1", "sm_70");
    /* without the PTX text the layout is unknown */
    fn = gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(fn));
    CHECK_FAILED(
            gpuexec_params_check(p, fn), GPUEXEC_BAD_PARAMETERS, "4104 bytes", "limited to 4096");
    CHECK_REFUSED(gpuexec_params_unpack(p, fn, bytes, 128), GPUEXEC_NOT_SUPPORTED,
            "the parameters of this adopted kernel are not known", "cannot be divided",
            "CUDA 12.4");
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, bytes));
    CHECK_FAILED(gpuexec_params_check(p, fn), GPUEXEC_NOT_SUPPORTED, "are not known", "CUDA 12.4");
    CHECK_EQ(gpuexec_kernel_parameter_offset(fn, 0), -1);
    {
        const void *addresses[1];
        gpuexec_args args = { addresses, NULL, 1, 0, { 0 } };
        addresses[0] = bytes;
        CHECK(!gpuexec_ok(
                gpuexec_prepare(fn, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), args)));
        CHECK_TEXT(gpuexec_error_text(), "sizes of the arguments are not known", "args.sizes");
        gpuexec_take_error();
    }
}

/* -------------------------------------------------------------------------------------------------
   Wrong blocks. */

TEST(blocks_that_do_not_fit_the_kernel) {
    setting t = set_up(PARAMETERS_PTX, "receive", 4096);
    values v = all;
    gpuexec_params p = gpuexec_params_create();
    int i;
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &v.i));
    CHECK_FAILED(gpuexec_params_check(p, t.kernel), GPUEXEC_BAD_PARAMETERS,
            "\"receive\" takes 14 parameters", "1 argument was passed");
    for (i = 0; i < 3; i++) {
        CHECK_OK(gpuexec_params_clear(p));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &v.i));
        if (i == 0) CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT3, &v.f4)); /* another size */
        if (i == 1) CHECK_OK(gpuexec_params_add_struct(p, &v.f4, 16, 4));   /* another alignment */
        /* the same size: accepted */
        if (i == 2) CHECK_OK(gpuexec_params_add(p, GPUEXEC_LONGLONG2, &v.f4));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &v.c));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT, &v.f));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &v.p));
        CHECK_OK(i == 2 ? gpuexec_params_add(p, GPUEXEC_INT2, &v.f2)
                        : gpuexec_params_add(p, GPUEXEC_FLOAT2, &v.f2));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
        CHECK_OK(gpuexec_params_add_struct(p, &v.m, sizeof v.m, 16));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_BOOL, &v.b));
        CHECK_OK(i == 2 ? gpuexec_params_add_struct(p, v.s3, 6, 1)
                        : gpuexec_params_add(p, GPUEXEC_SHORT3, v.s3));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_DOUBLE, &v.d));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_HALF, &v.h));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_UCHAR4, v.u4));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_LONGLONG, &v.l));
        if (i == 0)
            CHECK_FAILED(gpuexec_params_check(p, t.kernel), GPUEXEC_BAD_PARAMETERS,
                    "parameter 1 (counted from 0) of kernel \"receive\" has 16 bytes at offset 16",
                    "the argument (float3) has 12 at offset 4", "the sizes differ");
        if (i == 1)
            CHECK_FAILED(gpuexec_params_check(p, t.kernel), GPUEXEC_BAD_PARAMETERS,
                    "parameter 1 (counted from 0) of kernel \"receive\" has 16 bytes at offset 16",
                    "the argument (a struct aligned to 4) has 16 at offset 4",
                    "pass the alignment");
        if (i == 2)
            CHECK_FAILED(gpuexec_params_check(p, t.kernel), GPUEXEC_BAD_PARAMETERS, "parameter 9",
                    "6 bytes at offset 98",
                    "the argument (a struct aligned to 1) has 6 at offset 97");
        CHECK_OK(gpuexec_take_error()); /* a query latches nothing */
        if (i == 0)
            CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0),
                                  gpuexec_params_args(p)),
                    GPUEXEC_BAD_PARAMETERS, "argument 1", "12 bytes", "16");
    }
}
TEST(a_type_of_another_alignment) {
    static const char ptx[] =
            ".version 6.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry k(.param .u8 a, .param .align 2 .b8 b[8]) { ret; }\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, 0, NULL), "k");
    gpuexec_params p = gpuexec_params_create();
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, ptx));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_SHORT4, ptx));
    CHECK_FAILED(gpuexec_params_check(p, fn), GPUEXEC_BAD_PARAMETERS, "has 8 bytes at offset 2",
            "the argument (short4) has 8 at offset 8", "the alignments differ",
            "gpuexec_params_add_struct");
}

TEST(wrong_arguments_are_refused) {
    static const char zeros[64];
    gpuexec_params p = gpuexec_params_create();
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_NO_TYPE, zeros), GPUEXEC_BAD_ARGUMENT,
            "0 is not a gpuexec_type", "gpuexec_params_add_struct");
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_TYPES, zeros), GPUEXEC_BAD_ARGUMENT,
            "is not a gpuexec_type");
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_INT, NULL), GPUEXEC_BAD_ARGUMENT,
            "the value of argument 0 (counted from 0) is NULL");
    CHECK_REFUSED(gpuexec_params_add_struct(p, NULL, 4, 4), GPUEXEC_BAD_ARGUMENT,
            "the value of argument 0 (counted from 0) is NULL");
    CHECK_REFUSED(gpuexec_params_add_struct(p, zeros, 12, 3), GPUEXEC_BAD_ARGUMENT, "alignment 3",
            "12-byte struct", "not a power of two");
    CHECK_REFUSED(gpuexec_params_add_struct(p, zeros, 12, 0), GPUEXEC_BAD_ARGUMENT, "alignment 0",
            "not a power of two");
    CHECK_REFUSED(gpuexec_params_add_struct(p, zeros, 20, 16), GPUEXEC_BAD_ARGUMENT, "20 bytes",
            "aligned to 16", "not a multiple");
    CHECK_REFUSED(gpuexec_params_add_struct(p, zeros, 0, 4), GPUEXEC_BAD_ARGUMENT, "0 bytes",
            "not a multiple");
    CHECK_EQ(gpuexec_params_count(p), 0);
}

TEST(wrong_handles_are_refused) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_params never = { 0 }, p = gpuexec_params_create(), wrong;
    gpuexec_prepared no_launch = { 0 };
    gpuexec_args args;
    int value = 0;
    wrong.id = t.stream.id;
    CHECK_OK(gpuexec_params_destroy(p));
    CHECK_OK(gpuexec_params_destroy(never));
    CHECK_OK(gpuexec_prepared_destroy(no_launch));
    CHECK_FAILED(gpuexec_params_destroy(p), GPUEXEC_STALE_HANDLE, "the parameter block is stale",
            "destroyed");
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_INT, &value), GPUEXEC_STALE_HANDLE,
            "the parameter block");
    CHECK_REFUSED(
            gpuexec_params_add(never, GPUEXEC_INT, &value), GPUEXEC_BAD_HANDLE, "never created");
    CHECK_REFUSED(gpuexec_params_clear(wrong), GPUEXEC_WRONG_KIND, "is a stream",
            "a parameter block is required");
    CHECK_FAILED(gpuexec_params_check(p, t.kernel), GPUEXEC_STALE_HANDLE, "the parameter block");
    CHECK_EQ(gpuexec_params_count(p), -1);
    CHECK_EQ(gpuexec_params_offset(p, 0), -1);
    CHECK(gpuexec_params_data(p, NULL) == NULL);
    gpuexec_take_error();
    /* latched: otherwise a kernel without parameters would accept these */
    args = gpuexec_params_args(p);
    CHECK_EQ(args.count, 0);
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0), args),
            GPUEXEC_STALE_HANDLE, "gpuexec_params_args: the parameter block is stale",
            "was refused");
    CHECK_REFUSED(gpuexec_launch_prepared(no_launch), GPUEXEC_BAD_HANDLE,
            "the prepared launch was never created");
    no_launch.id = t.kernel.id;
    CHECK_REFUSED(gpuexec_launch_prepared(no_launch), GPUEXEC_WRONG_KIND, "is a kernel",
            "a prepared launch is required");
}

/* -------------------------------------------------------------------------------------------------
   Types: a float does not match an integer, where PTX and the argument both have a type. */

static const char scalars_ptx[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry scalars(.param .u64 p, .param .u32 i, .param .f32 f, .param .b32 b, "
        ".param .f64 d,\n"
        "    .param .s64 .ptr .global .align 4 q, .param .align 4 .b8 s[4]) { ret; }\n";
enum { SCALARS = 7 };
static const gpuexec_type scalars[SCALARS] = { GPUEXEC_POINTER, GPUEXEC_INT, GPUEXEC_FLOAT,
    GPUEXEC_UINT, GPUEXEC_DOUBLE, GPUEXEC_POINTER, GPUEXEC_FLOAT };

TEST(the_types_of_parameters) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load(ctx, scalars_ptx, 0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "scalars"), never = { 0 },
                   adopted = gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(fn));
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    int i;
    CHECK_OK(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, scalars_ptx, 0, NULL));
    for (i = 0; i < 2; i++) {
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 0), GPUEXEC_PARAMETER_INTEGER);
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 1), GPUEXEC_PARAMETER_INTEGER);
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 2), GPUEXEC_PARAMETER_FLOAT);
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 3), GPUEXEC_PARAMETER_BITS);
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 4), GPUEXEC_PARAMETER_FLOAT);
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 5), GPUEXEC_PARAMETER_POINTER);
        CHECK_EQ(gpuexec_kernel_parameter_type(fn, 6), GPUEXEC_PARAMETER_BYTES);
        /* a linked module has the same types */
        fn = gpuexec_kernel_get(gpuexec_linker_load(linker), "scalars");
        CHECK_MADE(fn);
    }
    CHECK_EQ(gpuexec_kernel_parameter_type(fn, 7), GPUEXEC_PARAMETER_UNKNOWN);
    CHECK_EQ(gpuexec_kernel_parameter_type(fn, -1), GPUEXEC_PARAMETER_UNKNOWN);
    CHECK_EQ(gpuexec_kernel_parameter_type(adopted, 2), GPUEXEC_PARAMETER_UNKNOWN);
    CHECK_EQ(gpuexec_kernel_parameter_type(never, 0), GPUEXEC_PARAMETER_UNKNOWN);
    CHECK_TEXT(
            gpuexec_error_text(), "gpuexec_kernel_parameter_type", "the kernel was never created");
    CHECK_OK(gpuexec_take_error());
}

/* The arguments of `scalars`, with argument `other` of another type; -1: none. All as raw bytes, if
   `raw`. */
static gpuexec_params scalars_block(int other, gpuexec_type type, int raw) {
    static const unsigned char zeros[8];
    gpuexec_params p = gpuexec_params_create();
    int i;
    for (i = 0; i < SCALARS; i++) {
        size_t bytes = i == 0 || i == 4 || i == 5 ? 8 : 4;
        if (raw) CHECK_OK(gpuexec_params_add_struct(p, zeros, bytes, bytes));
        else CHECK_OK(gpuexec_params_add(p, i == other ? type : scalars[i], zeros));
    }
    return p;
}
TEST(a_float_for_an_integer_is_refused) {
    static const struct {
        int argument;
        gpuexec_type type;
        int refused;
        const char *text, *parameter;
    } cases[] = {
        { 1, GPUEXEC_FLOAT, 1, "argument 1 (counted from 0) of kernel \"scalars\" is a float",
                "the parameter is a 4-byte integer" },
        { 2, GPUEXEC_INT, 1, "argument 2 (counted from 0) of kernel \"scalars\" is an int",
                "the parameter is a 4-byte float" },
        { 2, GPUEXEC_UINT, 1, "is an unsigned int,", "a 4-byte float" },
        { 0, GPUEXEC_DOUBLE, 1, "argument 0 (counted from 0) of kernel", "an 8-byte integer" },
        { 4, GPUEXEC_POINTER, 1, "is a pointer,", "an 8-byte float" },
        { 4, GPUEXEC_LONGLONG, 1, "is a long long,", "an 8-byte float" },
        { 5, GPUEXEC_DOUBLE, 1, "is a double,", "an 8-byte pointer" },
        { 3, GPUEXEC_FLOAT, 0, NULL, NULL },
        { 3, GPUEXEC_INT, 0, NULL, NULL }, /* .b32 can be either */
        { 6, GPUEXEC_INT, 0, NULL, NULL },
        { 6, GPUEXEC_FLOAT1, 0, NULL, NULL }, /* bytes match every type */
        { 1, GPUEXEC_UINT, 0, NULL, NULL },
        { 0, GPUEXEC_ULONGLONG, 0, NULL, NULL },
        { 1, GPUEXEC_UCHAR4, 0, NULL, NULL },
    };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load(ctx, scalars_ptx, 0, NULL), "scalars");
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    gpuexec_device_launch on_device;
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpuexec_params p = scalars_block(cases[i].argument, cases[i].type, 0);
        if (!cases[i].refused) {
            CHECK_OK(gpuexec_params_check(p, fn));
            CHECK_OK(gpuexec_launch(fn, s, one, gpuexec_params_args(p)));
            continue;
        }
        CHECK_FAILED(gpuexec_params_check(p, fn), GPUEXEC_BAD_PARAMETERS, "gpuexec_params_check",
                cases[i].text, cases[i].parameter);
        CHECK_REFUSED(gpuexec_launch(fn, s, one, gpuexec_params_args(p)), GPUEXEC_BAD_PARAMETERS,
                cases[i].text, cases[i].parameter, "cure: ", "use a struct");
        CHECK_REFUSED(gpuexec_launch_cooperative(fn, s, one, gpuexec_params_args(p)),
                GPUEXEC_BAD_PARAMETERS, cases[i].text);
        CHECK(!gpuexec_ok(gpuexec_prepare(fn, s, one, gpuexec_params_args(p))));
        CHECK_TEXT(gpuexec_error_text(), "gpuexec_prepare", cases[i].text);
        gpuexec_take_error();
        on_device.kernel = fn;
        on_device.stream = s;
        on_device.dims = one;
        on_device.args = gpuexec_params_args(p);
        CHECK_REFUSED(gpuexec_launch_multi_device(&on_device, 1, NULL), GPUEXEC_BAD_PARAMETERS,
                "launches[0]: argument", cases[i].parameter);
    }
    CHECK_OK(
            gpuexec_launch(fn, s, one, gpuexec_params_args(scalars_block(-1, GPUEXEC_NO_TYPE, 0))));
    /* raw bytes */
    CHECK_OK(
            gpuexec_launch(fn, s, one, gpuexec_params_args(scalars_block(-1, GPUEXEC_NO_TYPE, 1))));
    fn = gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(fn)); /* with unknown types */
    CHECK_OK(gpuexec_launch(fn, s, one, gpuexec_params_args(scalars_block(1, GPUEXEC_FLOAT, 0))));
    CHECK_OK(gpuexec_stream_sync(s));
}
TEST(typed_arguments_made_by_hand) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load(ctx, scalars_ptx, 0, NULL), "scalars");
    const uint64_t zero = 0;
    const void *addresses[SCALARS];
    unsigned short sizes[2 * SCALARS] = { 8, 4, 4, 4, 8, 8, 4 };
    gpuexec_args args = { 0 };
    int i;
    for (i = 0; i < SCALARS; i++) addresses[i] = &zero;
    args.addresses = addresses;
    args.sizes = sizes;
    args.count = SCALARS;
    args.typed = 1;
    /* GPUEXEC_NO_TYPE matches every type */
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), args));
    sizes[SCALARS + 1] = GPUEXEC_FLOAT;
    CHECK_REFUSED(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), args), GPUEXEC_BAD_PARAMETERS,
            "argument 1 (counted from 0)", "is a float", "a 4-byte integer");
    sizes[SCALARS + 1] = GPUEXEC_INT;
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), args));
    args.count = 6;
    CHECK_REFUSED(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), args), GPUEXEC_BAD_PARAMETERS,
            "takes 7 parameters", "6 arguments");
    args.count = SCALARS;
    sizes[1] = 8;
    CHECK_REFUSED(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), args), GPUEXEC_BAD_PARAMETERS,
            "argument 1 (counted from 0)", "is 8 bytes", "is 4");
    CHECK_OK(gpuexec_stream_sync(s));
}

/* -------------------------------------------------------------------------------------------------
   The life of a block. */

TEST_ALONE(blocks_need_no_driver) {
    gpuexec_kernel fn = { 0 };
    gpuexec_params p;
    size_t bytes = 0;
    double d = 0.5;
    setenv("GPUEXEC_DRIVER", "/nowhere/libcuda.so", 1);
    p = gpuexec_params_create();
    CHECK_MADE(p);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_DOUBLE, &d));
    CHECK(memcmp(gpuexec_params_data(p, &bytes), &d, 8) == 0);
    CHECK_EQ(bytes, 8);
    CHECK_FAILED(gpuexec_params_check(p, fn), GPUEXEC_NO_DRIVER, "/nowhere/libcuda.so");
    CHECK_OK(gpuexec_shutdown());
    CHECK(!gpuexec_ok(p));
}

/* An argument was refused and its failure taken: the rest must not be launched as if it were
   complete. */
TEST(a_block_that_is_not_whole) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_module mod = gpuexec_module_load_file(t.ctx, UNIT_PTX, NULL);
    gpuexec_kernel bump = gpuexec_kernel_get(mod, "bump");
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    gpuexec_params p = gpuexec_params_create();
    gpuexec_args args, empty = gpuexec_params_args(p);
    size_t bytes = 1;
    char line[40];
    int i;
    /* the kernel takes no arguments, and there are none */
    CHECK_OK(gpuexec_launch(bump, t.stream, one, empty));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    args = gpuexec_params_args(p);
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, args));
    for (i = 0; i < 5; i++) {
        snprintf(line, sizeof line, "params.c:%d", __LINE__ + 4);
        gpuexec_params_clear(p);
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
        CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, args)); /* complete again */
        if (i < 2) CHECK(gpuexec_params_add(p, i ? GPUEXEC_TYPES : GPUEXEC_INT, i ? &i : NULL));
        if (i == 2) CHECK(gpuexec_params_add_struct(p, &i, 4, 3));
        if (i == 3) CHECK(gpuexec_params_add_struct(p, &i, 6, 4));
        if (i == 4) CHECK(gpuexec_params_add_struct(p, &i, 100000, 4));
        CHECK(gpuexec_take_error());
        CHECK_EQ(gpuexec_params_count(p), 1);
        CHECK(gpuexec_launch(t.kernel, t.stream, one, args)); /* the earlier arguments */
        CHECK_TEXT(gpuexec_error_text(), "the parameter block is incomplete",
                "argument 1 (counted from 0) could not be added",
                "params.c:", "gpuexec_params_clear");
        if (i < 2) CHECK_TEXT(gpuexec_error_text(), line);
        CHECK(gpuexec_take_error());
        args = gpuexec_params_args(p);
        CHECK(gpuexec_take_error());
        CHECK_TEXT(gpuexec_error_text(), "gpuexec_params_args", "is incomplete");
        CHECK(gpuexec_launch(bump, t.stream, one, args)); /* it would accept the empty arguments */
        CHECK_TEXT(gpuexec_error_text(), "gpuexec_launch", "is incomplete");
        CHECK(gpuexec_take_error());
        CHECK(!gpuexec_ok(gpuexec_prepare(t.kernel, t.stream, one, gpuexec_params_args(p))));
        CHECK(gpuexec_take_error());
        CHECK(gpuexec_params_data(p, &bytes) == NULL);
        CHECK_EQ(bytes, 0);
        CHECK(gpuexec_take_error());
        CHECK(gpuexec_params_check(p, t.kernel));
        CHECK_TEXT(gpuexec_error_text(), "gpuexec_params_check", "is incomplete");
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &i)); /* it is not known which one is missing */
        CHECK(gpuexec_params_check(p, t.kernel));
        CHECK_OK(gpuexec_params_clear(p));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
        args = gpuexec_params_args(p);
        CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, args));
    }
    CHECK_EQ(word(t, 0), 11);
}
/* -------------------------------------------------------------------------------------------------
   Structs whose members are added one by one. */

/* The host's struct has no padding between f and f4; the kernel's has 12 bytes. */
TEST(a_struct_built_member_by_member) {
    setting t = set_up(PARAMETERS_PTX, "receive", 4096);
    const float f = 7, f4[4] = { 8, 9, 10, 11 };
    values v = all;
    gpuexec_params whole, p = gpuexec_params_create();
    gpuexec_prepared prepared;
    size_t bytes = 0, expected = 0;
    v.out = t.data;
    whole = block_of(&v);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &v.i));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT4, &v.f4));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &v.c));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT, &v.f));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &v.p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT2, &v.f2));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &v.out));
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_EQ(gpuexec_params_count(p), 0);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT, &f));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_FLOAT4, f4));
    CHECK_EQ(gpuexec_params_count(p), 2);
    CHECK_EQ(gpuexec_params_offset(p, 1), 16); /* of the member in its struct */
    CHECK_OK(gpuexec_params_end_struct(p));
    CHECK_EQ(gpuexec_params_count(p), 8);
    CHECK_EQ(gpuexec_params_offset(p, 7), 64);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_BOOL, &v.b));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_SHORT3, v.s3));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_DOUBLE, &v.d));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_HALF, &v.h));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_UCHAR4, v.u4));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_LONGLONG, &v.l));
    CHECK_OK(gpuexec_params_check(p, t.kernel));
    CHECK(memcmp(gpuexec_params_data(p, &bytes), gpuexec_params_data(whole, &expected), 128) == 0);
    CHECK(bytes == 128 && expected == 128);
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    check_received(t, &v);
    prepared = gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    check_received(t, &v);
}
/* struct outer { char c; struct { short s; double d; char e; } in[2]; struct { char x[3]; } tail; }
   as device code lays it out: 8 + 2 * 24 + 3, and 5 bytes of padding. */
TEST(structs_in_structs) {
    static const unsigned char byte = 5, three[3] = { 1, 2, 3 };
    const short word = 6;
    const double real = 0.5;
    gpuexec_params p = gpuexec_params_create();
    unsigned char expected[64] = { 0 }, zeros[300] = { 0 };
    size_t bytes = 0;
    int i;
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &byte));
    for (i = 0; i < 2; i++) {
        CHECK_OK(gpuexec_params_begin_struct(p));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_SHORT, &word));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_DOUBLE, &real));
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &byte));
        CHECK_EQ(gpuexec_params_offset(p, 2), 16);
        CHECK_OK(gpuexec_params_end_struct(p));
        CHECK_EQ(gpuexec_params_offset(p, 1 + i), 8 + 24 * i);
        put(expected, 8 + 24 * (size_t)i, &word, 2);
        put(expected, 16 + 24 * (size_t)i, &real, 8);
        put(expected, 24 + 24 * (size_t)i, &byte, 1);
    }
    CHECK_OK(gpuexec_params_add_struct(p, three, 3, 1));
    CHECK_EQ(gpuexec_params_offset(p, 3), 56);
    CHECK_OK(gpuexec_params_end_struct(p));
    put(expected, 0, &byte, 1);
    put(expected, 56, three, 3);
    CHECK_EQ(gpuexec_params_count(p), 1);
    CHECK_EQ(gpuexec_params_args(p).sizes[0], 64);
    CHECK(memcmp(gpuexec_params_data(p, &bytes), expected, 64) == 0);
    CHECK_EQ(bytes, 64);
    /* more members and bytes than fit at first; padding that needs more memory */
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_DOUBLE4_32A, zeros));
    for (i = 0; i < 30; i++) CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &byte));
    CHECK_OK(gpuexec_params_add_struct(p, zeros, 256 - 62, 1));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_CHAR, &byte));
    CHECK_OK(gpuexec_params_end_struct(p));
    CHECK_EQ(gpuexec_params_args(p).sizes[0], 288);
}
TEST(a_struct_that_has_not_ended) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    gpuexec_params p = gpuexec_params_create();
    gpuexec_args args;
    size_t bytes = 1;
    CHECK_REFUSED(gpuexec_params_end_struct(p), GPUEXEC_BAD_ARGUMENT, "has no unfinished struct",
            "gpuexec_params_begin_struct");
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_REFUSED(gpuexec_params_end_struct(p), GPUEXEC_BAD_ARGUMENT, "the struct begun at ",
            "params.c:", "has no members");
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    args = gpuexec_params_args(p);
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, one, args), GPUEXEC_BAD_PARAMETERS,
            "the parameter block is incomplete: a struct begun at ", "params.c:", "was not ended",
            "gpuexec_params_end_struct");
    args = gpuexec_params_args(p);
    CHECK_EQ(gpuexec_take_error(), GPUEXEC_BAD_PARAMETERS);
    CHECK_REFUSED(
            gpuexec_launch(t.kernel, t.stream, one, args), GPUEXEC_BAD_PARAMETERS, "was not ended");
    CHECK(gpuexec_params_data(p, &bytes) == NULL && bytes == 0);
    CHECK_EQ(gpuexec_take_error(), GPUEXEC_BAD_PARAMETERS);
    CHECK_RESULT(gpuexec_params_check(p, t.kernel), GPUEXEC_BAD_PARAMETERS);
    /* a member that cannot be added makes the whole block incomplete */
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_REFUSED(gpuexec_params_add(p, GPUEXEC_INT, NULL), GPUEXEC_BAD_ARGUMENT,
            "value of member 0 (counted from 0) is NULL");
    CHECK_REFUSED(gpuexec_params_end_struct(p), GPUEXEC_BAD_ARGUMENT,
            "member 0 (counted from 0) of the struct could not be added at ", "params.c:");
    CHECK_REFUSED(gpuexec_params_end_struct(p), GPUEXEC_BAD_ARGUMENT,
            "member 1 (counted from 0) of the struct could not be added");
    CHECK(gpuexec_params_data(p, NULL) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "argument 1 (counted from 0) could not be added",
            "gpuexec_params_clear");
    CHECK_EQ(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_clear(p)); /* also leaves the structs */
    CHECK_EQ(gpuexec_params_count(p), 0);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, gpuexec_params_args(p)));
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_destroy(p));
    CHECK_REFUSED(gpuexec_params_begin_struct(p), GPUEXEC_STALE_HANDLE, "the parameter block");
    CHECK_REFUSED(gpuexec_params_end_struct(p), GPUEXEC_STALE_HANDLE, "the parameter block");
    CHECK_EQ(word(t, 0), 1);
}

/* -------------------------------------------------------------------------------------------------
   Packed buffers of the caller. */

TEST(a_packed_buffer_for_every_way_to_launch) {
    setting t = set_up(PARAMETERS_PTX, "receive", 4096);
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    unsigned char buffer[144] = { 0 };
    values v = all;
    gpuexec_params p = gpuexec_params_create(), packed;
    gpuexec_device_launch on_device;
    gpuexec_graph graph = gpuexec_graph_create(t.ctx);
    gpuexec_batch batch = gpuexec_batch_create(t.ctx, NULL);
    gpuexec_prepared prepared;
    size_t bytes = 0;
    int i;
    v.out = t.data;
    packed = block_of(&v);
    memcpy(buffer, gpuexec_params_data(packed, NULL), 128);
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &i)); /* is replaced */
    CHECK_OK(gpuexec_params_begin_struct(p));
    CHECK_OK(gpuexec_params_unpack(p, t.kernel, buffer, 128));
    CHECK_EQ(gpuexec_params_count(p), 14);
    for (i = 0; i < 14; i++)
        CHECK_EQ(gpuexec_params_offset(p, i), gpuexec_kernel_parameter_offset(t.kernel, i));
    CHECK_OK(gpuexec_params_check(p, t.kernel));
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, gpuexec_params_args(p)));
    check_received(t, &v);
    v.i = 9;
    memcpy(buffer, &v.i, 4);
    CHECK_OK(gpuexec_params_unpack(p, t.kernel, buffer, 143)); /* padding at the end */
    CHECK(memcmp(gpuexec_params_data(p, &bytes), buffer, 128) == 0 && bytes == 128);
    memset(buffer, 0xFF, sizeof buffer); /* it was copied */
    CHECK_OK(gpuexec_launch_cooperative(t.kernel, t.stream, one, gpuexec_params_args(p)));
    check_received(t, &v);
    on_device.kernel = t.kernel;
    on_device.stream = t.stream;
    on_device.dims = one;
    on_device.args = gpuexec_params_args(p);
    CHECK_OK(gpuexec_launch_multi_device(&on_device, 1, NULL));
    check_received(t, &v);
    prepared = gpuexec_prepare(t.kernel, t.stream, one, gpuexec_params_args(p));
    CHECK_OK(gpuexec_launch_prepared(prepared));
    check_received(t, &v);
    CHECK(gpuexec_ok(
            gpuexec_graph_add_kernel(graph, t.kernel, one, gpuexec_params_args(p), GPUEXEC_FIRST)
                    .graph));
    CHECK_OK(gpuexec_graph_launch(graph, t.stream));
    check_received(t, &v);
    CHECK_EQ(gpuexec_batch_add(batch, t.kernel, one, gpuexec_params_args(p)), 0);
    CHECK_OK(gpuexec_batch_launch(batch, t.stream));
    check_received(t, &v);
    /* from the block itself, which then is the same */
    CHECK_OK(gpuexec_params_unpack(p, t.kernel, gpuexec_params_data(p, NULL), 128));
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, gpuexec_params_args(p)));
    check_received(t, &v);
}
TEST(packed_buffers_that_do_not_fit) {
    setting t = set_up(UNIT_PTX, "add", 4096);
    gpuexec_module mod = gpuexec_module_load_file(t.ctx, UNIT_PTX, NULL);
    gpuexec_kernel nothing = gpuexec_kernel_get(mod, "nothing");
    gpuexec_params p = gpuexec_params_create();
    const unsigned char large[4096] = { 0 };
    struct {
        gpuexec_ptr data;
        uint32_t by, n;
    } args = { 0, 5, 4 };
    size_t bytes = 1;
    args.data = t.data;
    CHECK_REFUSED(gpuexec_params_unpack(p, t.kernel, &args, 12), GPUEXEC_BAD_PARAMETERS,
            "the packed buffer has 12 bytes, but the parameters of kernel \"add\" take 16",
            "gpuexec_kernel_parameter_offset");
    CHECK(gpuexec_params_data(p, &bytes) == NULL && bytes == 0); /* incomplete */
    CHECK_EQ(gpuexec_take_error(), GPUEXEC_BAD_PARAMETERS);
    CHECK_REFUSED(gpuexec_params_unpack(p, t.kernel, large, 32), GPUEXEC_BAD_PARAMETERS,
            "has 32 bytes", "take 16");
    CHECK_REFUSED(gpuexec_params_unpack(p, nothing, large, 1), GPUEXEC_BAD_PARAMETERS,
            "has 1 byte, but the parameters of kernel \"nothing\" take 0");
    CHECK_REFUSED(gpuexec_params_unpack(p, t.kernel, NULL, 16), GPUEXEC_BAD_ARGUMENT,
            "the address of the packed buffer of 16 bytes is NULL");
    CHECK_REFUSED(gpuexec_params_unpack(p, (gpuexec_kernel){ 0 }, &args, 16), GPUEXEC_BAD_HANDLE,
            "the kernel");
    CHECK_OK(gpuexec_params_unpack(p, nothing, NULL, 0));
    CHECK_OK(gpuexec_launch(nothing, t.stream, gpuexec_grid(1, 1, 0), gpuexec_params_args(p)));
    CHECK_OK(gpuexec_params_unpack(p, t.kernel, &args, sizeof args));
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 32, 0), gpuexec_params_args(p)));
    CHECK_EQ(word(t, 3), 5);
    CHECK_OK(gpuexec_params_destroy(p));
    CHECK_REFUSED(gpuexec_params_unpack(p, t.kernel, &args, sizeof args), GPUEXEC_STALE_HANDLE,
            "the parameter block");
}
/* Arguments that are still used after the block has changed or is destroyed. */
TEST(arguments_of_a_block_that_has_changed_or_gone) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    gpuexec_params p = gpuexec_params_create(), other;
    gpuexec_args args;
    gpuexec_device_launch on_device;
    int i;
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    args = gpuexec_params_args(p);
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, args));
    /* the block moves */
    for (i = 0; i < 100; i++) CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, one, args), GPUEXEC_BAD_PARAMETERS,
            "the parameter block passed to ", "it had 1 argument", "kernel \"count\"",
            "and has 101 now", "gpuexec_params_args again");
    CHECK_OK(gpuexec_params_clear(p));
    CHECK_OK(gpuexec_params_add(p, GPUEXEC_POINTER, &t.data));
    args = gpuexec_params_args(p);
    CHECK_OK(gpuexec_launch(t.kernel, t.stream, one, args));
    CHECK_OK(gpuexec_params_destroy(p));
    other = gpuexec_params_create(); /* at the same address */
    CHECK_OK(gpuexec_params_add(other, GPUEXEC_POINTER, &t.data));
    CHECK_REFUSED(gpuexec_launch(t.kernel, t.stream, one, args), GPUEXEC_STALE_HANDLE,
            "the parameter block that the arguments come from is stale", "it was destroyed");
    CHECK_REFUSED(gpuexec_launch_cooperative(t.kernel, t.stream, one, args), GPUEXEC_STALE_HANDLE,
            "the parameter block that the");
    CHECK(!gpuexec_ok(gpuexec_prepare(t.kernel, t.stream, one, args)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_STALE_HANDLE);
    on_device.kernel = t.kernel;
    on_device.stream = t.stream;
    on_device.dims = one;
    on_device.args = args;
    CHECK_REFUSED(gpuexec_launch_multi_device(&on_device, 1, NULL), GPUEXEC_STALE_HANDLE,
            "launches[0]: the parameter block");
    CHECK_EQ(word(t, 0), 2);
}

/* Blocks created before gpuexec_setup stay valid, and are freed by the allocator that they came
   from. */
TEST(blocks_before_the_setup) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_params before = gpuexec_params_create(), after;
    int value = 7;
    size_t bytes = 0;
    CHECK_OK(gpuexec_params_add(before, GPUEXEC_INT, &value));
    desc.realloc_function = test_realloc;
    CHECK_OK(gpuexec_setup(&desc));
    CHECK_EQ(test_blocks, 0);
    CHECK_OK(gpuexec_params_add(before, GPUEXEC_INT, &value));
    CHECK(gpuexec_params_data(before, &bytes) != NULL);
    CHECK_EQ(bytes, 8);
    after = gpuexec_params_create();
    CHECK_OK(gpuexec_params_add(after, GPUEXEC_INT, &value));
    CHECK(test_blocks > 0);
    CHECK_OK(gpuexec_params_destroy(before));
    CHECK_OK(gpuexec_shutdown()); /* frees the other block */
    CHECK_EQ(test_blocks, 0);
    CHECK(!gpuexec_ok(before));
    CHECK(!gpuexec_ok(after));
}
/* Each allocation fails in turn: there is an error text, no crash, no leak, and the block stays
   unchanged. */
TEST(host_memory_runs_out) {
    gpuexec_setup_desc desc = { 0 };
    int i, failed, failures = 0, k, added = 0;
    desc.realloc_function = test_realloc;
    for (i = 0; i < 400; i++) {
        setting t;
        gpuexec_params p;
        gpuexec_prepared prepared;
        test_blocks_left = TEST_BLOCKS_ENOUGH;
        CHECK_OK(gpuexec_setup(&desc));
        t = set_up(UNIT_PTX, "count", 4096);
        test_blocks_left = i;
        p = gpuexec_params_create();
        for (added = k = 0; k < 200; k++)
            added += gpuexec_params_add(p, GPUEXEC_POINTER, &t.data) == GPUEXEC_OK;
        prepared = gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data));
        failed = gpuexec_take_error() != GPUEXEC_OK;
        failures += failed;
        if (failed) CHECK(gpuexec_error_text()[0]);
        else CHECK(added == 200 && gpuexec_ok(prepared));
        test_blocks_left = TEST_BLOCKS_ENOUGH;
        if (gpuexec_ok(p)) CHECK_EQ(gpuexec_params_count(p), added);
        if (gpuexec_ok(prepared)) {
            CHECK_OK(gpuexec_launch_prepared(prepared));
            CHECK_EQ(word(t, 0), 1);
        }
        gpuexec_shutdown();
        CHECK_EQ(test_blocks, 0);
        if (!failed) break;
    }
    CHECK_EQ(added, 200);
    CHECK(failures >= 6);
}

/* -------------------------------------------------------------------------------------------------
   Prepared launches. */

TEST(prepared_launches_run_with_what_they_hold) {
    setting t = set_up(UNIT_PTX, "add", 4096);
    uint32_t by = 5, n = 64, *place;
    gpuexec_ptr out = t.data, other = t.data + 1024;
    gpuexec_prepared p = gpuexec_prepare(
            t.kernel, t.stream, gpuexec_grid(1, 64, 0), GPUEXEC_ARGS(out, by, n));
    int i;
    CHECK_MADE(p);
    out = 0;
    by = 1000;
    n = 0; /* copied before: has no effect */
    for (i = 0; i < 10; i++) CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_EQ(word(t, 0), 50);
    CHECK_EQ(word(t, 63), 50);
    CHECK_EQ(word(t, 64), 0);
    by = 7;
    CHECK_OK(gpuexec_prepared_set(p, 1, &by, sizeof by));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_EQ(word(t, 0), 57);
    place = (uint32_t *)gpuexec_prepared_argument(p, 1, sizeof *place);
    for (i = 0; i < 100; i++) { /* read at each launch */
        *place = (uint32_t)i;
        CHECK_OK(gpuexec_launch_prepared(p));
    }
    CHECK_EQ(word(t, 0), 57 + 4950);
    CHECK_OK(gpuexec_prepared_set(p, 0, &other, sizeof other));
    n = 100000;
    CHECK_OK(gpuexec_prepared_set(p, 2, &n, sizeof n));
    CHECK_OK(gpuexec_prepared_set_dims(p, gpuexec_grid(2, 32, 16)));
    *place = 3;
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_EQ(word(t, 256 + 63), 3);
    CHECK_EQ(word(t, 256 + 64), 0);
    CHECK_EQ(word(t, 0), 57 + 4950);
    CHECK_OK(gpuexec_prepared_destroy(p));
    CHECK_REFUSED(gpuexec_launch_prepared(p), GPUEXEC_STALE_HANDLE, "the prepared launch is stale");
    CHECK_RESULT(gpuexec_prepared_destroy(p), GPUEXEC_STALE_HANDLE);
}

TEST(prepared_without_parameters_and_on_the_legacy_stream) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_prepared p = gpuexec_prepare(gpuexec_kernel_get(mod, "bump"),
            gpuexec_stream_legacy(ctx), gpuexec_grid(1, 2, 0), GPUEXEC_NO_ARGS);
    uint32_t value = 0;
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK(!gpuexec_prepared_argument(p, 0, 4));
    CHECK_TEXT(gpuexec_error_text(), "no argument 0",
            "\"bump\" has no arguments, so there is no argument 0");
    gpuexec_take_error();
    CHECK_OK(gpuexec_context_sync(ctx));
    CHECK_OK(gpuexec_copy_out_now(
            ctx, &value, gpuexec_module_global_address(mod, "counter", NULL), 4));
    CHECK_EQ(value, 40 + 4 * 9);
}

/* A prepared launch keeps its attributes; what gpuexec_launch_with refuses, preparing refuses. */
TEST(prepared_with_attributes) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_launch_desc desc = { 0 }, dirty;
    gpuexec_prepared p;
    uint32_t value = 0;
    int i;
    memset(&dirty, 0xff, sizeof dirty);
    p = gpuexec_prepare_with(t.kernel, t.stream, gpuexec_grid(2, 4, 0), NULL, GPUEXEC_ARGS(t.data));
    CHECK_MADE(p);
    CHECK_OK(gpuexec_launch_prepared(p));
    desc.cooperative = 1; /* alone, on any driver */
    p = gpuexec_prepare_with(
            t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data));
    desc.cooperative = 0; /* copied before: has no effect */
    CHECK_MADE(p);
    for (i = 0; i < 3; i++) CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_copy_out(t.stream, &value, t.data, 4));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK_EQ(value, 32);
    CHECK_REFUSED(gpuexec_prepared_set_dims(p, gpuexec_grid(1 << 20, 1024, 0)), GPUEXEC_BAD_LAUNCH,
            "gpuexec_prepared_set_dims", "1048576 blocks", "1024 threads");
    CHECK_OK(gpuexec_prepared_set_dims(p, gpuexec_grid(1, 4, 0)));
    CHECK_OK(gpuexec_launch_prepared(p));
    desc.cooperative = 1;
    CHECK_NOT_MADE(gpuexec_prepare_with(t.kernel, t.stream, gpuexec_grid(1 << 20, 1024, 0), &desc,
                           GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_LAUNCH, "1048576 blocks");
    CHECK_NOT_MADE(gpuexec_prepare_with(
                           t.kernel, t.stream, gpuexec_grid(1, 1, 0), &dirty, GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_ARGUMENT, "gpuexec_launch_desc");
    desc.memory_sync_domain = 7;
    if (gpuexec_driver_version() < 11060) {
        CHECK_NOT_MADE(gpuexec_prepare_with(t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc,
                               GPUEXEC_ARGS(t.data)),
                GPUEXEC_OLD_DRIVER, "11.8");
    } else {
        CHECK_NOT_MADE(gpuexec_prepare_with(t.kernel, t.stream, gpuexec_grid(1, 1, 0), &desc,
                               GPUEXEC_ARGS(t.data)),
                GPUEXEC_BAD_ARGUMENT, "memory_sync_domain is 7");
        desc.memory_sync_domain = 0;
        desc.has_priority = 1;
        desc.priority = -1;
        p = gpuexec_prepare_with(
                t.kernel, t.stream, gpuexec_grid(2, 4, 0), &desc, GPUEXEC_ARGS(t.data));
        for (i = 0; i < 3; i++) CHECK_OK(gpuexec_launch_prepared(p));
        CHECK_OK(gpuexec_copy_out(t.stream, &value, t.data, 4));
        CHECK_OK(gpuexec_stream_sync(t.stream));
        CHECK_EQ(value, 36 + 24);
    }
}

/* Clusters, where the device has them: the kernel is launched in clusters of two, prepared once. */
TEST(prepared_with_clusters) {
    setting t = set_up(UNIT_PTX, "count", 4);
    gpuexec_launch_desc desc = { 0 };
    gpuexec_prepared p;
    uint32_t value = 0;
    int has = 0;
    if (gpuexec_driver_version() < 11080) SKIP("attributes need a driver of CUDA 11.8");
    CHECK_OK(gpuexec_device_get_attribute(0, 120, &has));
    if (!has) SKIP("this device has no clusters");
    desc.cluster_x = 2;
    p = gpuexec_prepare_with(
            t.kernel, t.stream, gpuexec_grid(4, 8, 0), &desc, GPUEXEC_ARGS(t.data));
    CHECK_MADE(p);
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_copy_out(t.stream, &value, t.data, 4));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK_EQ(value, 64);
    CHECK_REFUSED(gpuexec_prepared_set_dims(p, gpuexec_grid(5, 8, 0)), GPUEXEC_BAD_LAUNCH,
            "grid_x is 5", "2 blocks");
    desc.cluster_x = 16;
    desc.non_portable_cluster = 1;
    p = gpuexec_prepare_with(
            t.kernel, t.stream, gpuexec_grid(16, 8, 0), &desc, GPUEXEC_ARGS(t.data));
    CHECK_MADE(p);
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_stream_sync(t.stream));
}

/* One prepared launch on two streams in turn: the one at the gate waits, the other runs. Each has
   its own word to count in. */
TEST(a_prepared_launch_on_another_stream) {
    setting t = set_up(UNIT_PTX, "count", 8);
    const gpuexec_ptr second_word = t.data + 4;
    test_gate g = gate_make(t.ctx, t.mod);
    gpuexec_stream other = gpuexec_stream_create(t.ctx, NULL),
                   gone = gpuexec_stream_create(t.ctx, NULL);
    gpuexec_stream none = { 0 };
    gpuexec_context second = gpuexec_context_create(0, NULL);
    gpuexec_prepared p = gpuexec_prepare(
            t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data));
    uint32_t value = 0;
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    gate_close(g, t.stream);
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_prepared_set_stream(p, other));
    CHECK_OK(gpuexec_prepared_set(p, 0, &second_word, sizeof second_word));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_copy_out(other, &value, second_word, 4));
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_EQ(value, 2);
    CHECK_RESULT(gpuexec_stream_query(t.stream), GPUEXEC_NOT_READY);
    gate_open(g);
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK_EQ(word(t, 0), 2);
    CHECK_OK(gpuexec_prepared_set_stream(p, gpuexec_stream_legacy(t.ctx)));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_context_sync(t.ctx));
    CHECK_OK(gpuexec_stream_destroy(gone));
    CHECK_REFUSED(gpuexec_prepared_set_stream(p, gone), GPUEXEC_STALE_HANDLE,
            "gpuexec_prepared_set_stream");
    CHECK_REFUSED(gpuexec_prepared_set_stream(p, none), GPUEXEC_BAD_HANDLE, "the stream");
    CHECK_REFUSED(gpuexec_prepared_set_stream(p, gpuexec_stream_create(second, NULL)),
            GPUEXEC_WRONG_CONTEXT, "count");
    CHECK_OK(gpuexec_prepared_set_stream(p, other)); /* a failed call has changed nothing */
    CHECK_OK(gpuexec_stream_destroy(t.stream));      /* it no longer needs that one */
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_copy_out(other, &value, second_word, 4));
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_EQ(value, 4);
    CHECK_OK(gpuexec_stream_destroy(other));
    CHECK_REFUSED(gpuexec_launch_prepared(p), GPUEXEC_STALE_HANDLE,
            "is stale: it was destroyed by gpuexec_stream_destroy");
    /* and a new stream revives it */
    CHECK_OK(gpuexec_prepared_set_stream(p, gpuexec_stream_legacy(t.ctx)));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_context_sync(t.ctx));
}

/* Preparing makes all checks of a launch. */
TEST(what_cannot_be_prepared) {
    setting t = set_up(UNIT_PTX, "add", 4096);
    uint32_t by = 1, n = 1;
    uint64_t eight = 1;
    gpuexec_ptr out = t.data;
    gpuexec_kernel none = { 0 };
    gpuexec_prepared p;
    gpuexec_device_info d;
    gpuexec_dims dims = gpuexec_grid(1, 1, 0);
    int i;
    CHECK_OK(gpuexec_device_get_info(0, &d));
#define REFUSED(prepare, result, ...) \
    do { \
        p = prepare; \
        CHECK_NOT_MADE(p, result, __VA_ARGS__); \
        CHECK_RESULT(gpuexec_launch_prepared(p), result); \
        gpuexec_take_error(); \
    } while (0)
    REFUSED(gpuexec_prepare(none, t.stream, dims, GPUEXEC_ARGS(out, by, n)), GPUEXEC_BAD_HANDLE,
            "gpuexec_prepare", "the kernel was never created");
    REFUSED(gpuexec_prepare(t.kernel, t.stream, dims, GPUEXEC_ARGS(out, by)),
            GPUEXEC_BAD_PARAMETERS, "\"add\" takes 3 parameters", "2 arguments");
    REFUSED(gpuexec_prepare(t.kernel, t.stream, dims, GPUEXEC_ARGS(out, eight, n)),
            GPUEXEC_BAD_PARAMETERS, "argument 1", "8 bytes", "is 4");
    REFUSED(gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(0, 1, 0), GPUEXEC_ARGS(out, by, n)),
            GPUEXEC_BAD_LAUNCH, "grid_x is 0");
    REFUSED(gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 0, 0), GPUEXEC_ARGS(out, by, n)),
            GPUEXEC_BAD_LAUNCH, "block_x is 0");
    REFUSED(gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 5000, 0), GPUEXEC_ARGS(out, by, n)),
            GPUEXEC_BAD_LAUNCH, "block_x is 5000");
    REFUSED(gpuexec_prepare(t.kernel, t.stream,
                    gpuexec_grid(1, 1, (unsigned)d.shared_per_block_optin + 4),
                    GPUEXEC_ARGS(out, by, n)),
            GPUEXEC_BAD_LAUNCH, "shared memory", "0 static");
    dims.grid_y = 65536;
    REFUSED(gpuexec_prepare(t.kernel, t.stream, dims, GPUEXEC_ARGS(out, by, n)), GPUEXEC_BAD_LAUNCH,
            "grid_y is 65536", "65535");
    if (gpuexec_device_count() > 1)
        REFUSED(gpuexec_prepare(t.kernel,
                        gpuexec_stream_create(gpuexec_context_open(1, NULL), NULL),
                        gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(out, by, n)),
                GPUEXEC_WRONG_CONTEXT, "device 0", "device 1");
#undef REFUSED
    p = gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(out, by, n));
    CHECK_MADE(p);
    CHECK_REFUSED(gpuexec_prepared_set_dims(p, gpuexec_grid(1, 5000, 0)), GPUEXEC_BAD_LAUNCH,
            "gpuexec_prepared_set_dims", "block_x is 5000");
    CHECK_REFUSED(gpuexec_prepared_set(p, 3, &by, 4), GPUEXEC_BAD_ARGUMENT, "no argument 3",
            "\"add\" has 3");
    CHECK_REFUSED(gpuexec_prepared_set(p, -1, &by, 4), GPUEXEC_BAD_ARGUMENT, "no argument -1");
    CHECK_REFUSED(gpuexec_prepared_set(p, 1, &eight, 8), GPUEXEC_BAD_PARAMETERS,
            "argument 1 (counted from 0) of kernel \"add\" has 4 bytes, but 8 were passed");
    CHECK_REFUSED(gpuexec_prepared_set(p, 1, NULL, 4), GPUEXEC_BAD_ARGUMENT,
            "the value of argument 1 (counted from 0) is NULL");
    /* and the failure is latched: nothing runs with an argument that was not set */
    CHECK(gpuexec_prepared_argument(p, 1, 8) == NULL);
    CHECK_REFUSED(gpuexec_launch_prepared(p), GPUEXEC_BAD_PARAMETERS, "gpuexec_prepared_argument",
            "because of this failure, gpuexec_launch_prepared");
    for (i = 0; i < 3; i++) CHECK_OK(gpuexec_launch_prepared(p));
    CHECK(gpuexec_prepared_argument(p, 1, 8) == NULL); /* also after it has launched before */
    CHECK_RESULT(gpuexec_launch_prepared(p), GPUEXEC_BAD_PARAMETERS);
    gpuexec_take_error();
    CHECK_EQ(word(t, 0), 3);
}

/* More dynamic shared memory than a kernel gets without opting in. */
TEST(prepared_with_much_shared_memory) {
    setting t = set_up(FAULTS_PTX, "fill_dynamic_shared", 4096);
    gpuexec_device_info d;
    uint32_t words;
    gpuexec_prepared p;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    words = (uint32_t)d.shared_per_block_optin / 4;
    p = gpuexec_prepare(
            t.kernel, t.stream, gpuexec_grid(1, 256, 4 * words), GPUEXEC_ARGS(t.data, words));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_EQ(word(t, 0), (uint32_t)((uint64_t)words * (words - 1) / 2));
}

/* Counts launches and calls the driver. */
static int launches;
static int (*real_launch)(struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned,
        unsigned, unsigned, struct CUstream_st *, void **, void **);
static int counted_launch(struct CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz,
        unsigned bx, unsigned by, unsigned bz, unsigned shared, struct CUstream_st *stream,
        void **params, void **extra) {
    launches++;
    return real_launch(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}
static int (*real_launch_ex)(const void *, struct CUfunc_st *, void **, void **);
static int counted_launch_ex(
        const void *config, struct CUfunc_st *function, void **params, void **extra) {
    launches++;
    return real_launch_ex(config, function, params, extra);
}

/* A prepared launch becomes stale when one of its objects is closed, and the text says which. Other
   objects can be closed without effect. */
TEST(prepared_when_something_ends) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    gpuexec_module mod = gpuexec_module_load_file(t.ctx, UNIT_PTX, NULL),
                   other = gpuexec_module_load_file(t.ctx, UNIT_PTX, NULL);
    gpuexec_context second = gpuexec_context_open(0, NULL);
    gpuexec_stream s1 = gpuexec_stream_create(t.ctx, NULL), s2 = gpuexec_stream_create(t.ctx, NULL),
                   of_second = gpuexec_stream_create(second, NULL);
    gpuexec_prepared by_module = gpuexec_prepare(gpuexec_kernel_get(mod, "count"), t.stream,
                             gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data)),
                     by_stream = gpuexec_prepare(
                             t.kernel, s1, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data)),
                     by_context = gpuexec_prepare(
                             t.kernel, of_second, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data)),
                     unsent = gpuexec_prepare(gpuexec_kernel_get(mod, "count"), t.stream,
                             gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data)),
                     lives = gpuexec_prepare(
                             t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data));
    CHECK_MADE(by_context);
    /* t.data was zeroed, and other streams also add to it */
    CHECK_OK(gpuexec_stream_sync(t.stream));
    real_launch = (__typeof__(real_launch))test_replace(
            "cuLaunchKernel", (test_function)counted_launch);
    real_launch_ex = (__typeof__(real_launch_ex))test_replace(
            "cuLaunchKernelEx", (test_function)counted_launch_ex);
    if (!real_launch_ex) test_replace("cuLaunchKernelEx", NULL);
    launches = 0;
    CHECK_OK(gpuexec_launch_prepared(by_module));
    CHECK_OK(gpuexec_launch_prepared(by_stream));
    CHECK_OK(gpuexec_launch_prepared(by_context));
    CHECK_OK(gpuexec_launch_prepared(lives));
    CHECK_OK(gpuexec_stream_sync(s1));
    CHECK_OK(gpuexec_stream_sync(of_second));
    CHECK_EQ(word(t, 0), 4);

    CHECK_OK(gpuexec_stream_destroy(s2));
    gpuexec_kernel_get(other, "count");
    CHECK_OK(gpuexec_module_unload(other));
    CHECK_OK(gpuexec_launch_prepared(by_module));
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK_REFUSED(gpuexec_launch_prepared(by_module), GPUEXEC_STALE_HANDLE,
            "gpuexec_launch_prepared: the kernel of the prepared launch (kernel \"count\" of "
            "\"" UNIT_PTX "\", prepared at tests/header/unit/params.c:",
            "is stale: it was unloaded by gpuexec_module_unload at tests/header/unit/",
            "cure: prepare the launch again with gpuexec_prepare, using the kernel");
    CHECK_REFUSED(gpuexec_launch_prepared(unsent), GPUEXEC_STALE_HANDLE,
            "unloaded by gpuexec_module_unload");
    CHECK_REFUSED(gpuexec_prepared_set_dims(by_module, gpuexec_grid(1, 1, 0)), GPUEXEC_STALE_HANDLE,
            "gpuexec_prepared_set_dims", "unloaded by gpuexec_module_unload");
    CHECK_REFUSED(gpuexec_prepared_set(by_module, 0, &t.data, 4), GPUEXEC_BAD_PARAMETERS,
            "argument 0 (counted from 0) of kernel \"count\" has 8 bytes");
    CHECK_OK(gpuexec_prepared_set(by_module, 0, &t.data, 8)); /* it has its own memory */
    CHECK_OK(gpuexec_launch_prepared(by_stream));
    CHECK_OK(gpuexec_stream_sync(s1));
    CHECK_OK(gpuexec_stream_destroy(s1));
    s1 = gpuexec_stream_create(t.ctx, NULL); /* in the slot of the old stream */
    CHECK_REFUSED(gpuexec_launch_prepared(by_stream), GPUEXEC_STALE_HANDLE, "kernel \"count\" of",
            "it was destroyed by gpuexec_stream_destroy at tests/header/unit/params.c:",
            "on an open stream");
    CHECK_OK(gpuexec_context_close(second));
    CHECK_REFUSED(gpuexec_launch_prepared(by_context), GPUEXEC_STALE_HANDLE,
            "the stream of the prepared launch",
            "it was destroyed by gpuexec_context_close at tests/header/unit/params.c:");
    CHECK_OK(gpuexec_launch_prepared(lives));
    CHECK_EQ(word(t, 0), 7);
    /* the refused launches never reached the driver, which crashes on destroyed objects */
    CHECK_EQ(launches, 7);
    CHECK_OK(gpuexec_prepared_destroy(by_module));
    CHECK_OK(gpuexec_prepared_destroy(by_stream));
    CHECK_OK(gpuexec_context_close(t.ctx));
    CHECK(!gpuexec_ok(by_context) && !gpuexec_ok(lives));
    CHECK_REFUSED(gpuexec_launch_prepared(lives), GPUEXEC_STALE_HANDLE,
            "the prepared launch is stale", "cure: prepare the launch again with gpuexec_prepare");
}

/* Each thread has its own objects, while streams and kernels are created and destroyed. */
enum { THREADS = 4, LAUNCHES = 500 };
typedef struct worker {
    setting t;
    int index, wrong;
} worker;
static void *launch_many(void *argument) {
    worker *w = (worker *)argument;
    gpuexec_ptr to = w->t.data + 4 * (unsigned)w->index;
    gpuexec_stream s = gpuexec_stream_create(w->t.ctx, NULL);
    gpuexec_prepared p = gpuexec_prepare(w->t.kernel, s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(to));
    int i;
    for (i = 0; i < LAUNCHES; i++) {
        w->wrong += gpuexec_launch_prepared(p) != GPUEXEC_OK;
        if (i % 50 == 0) gpuexec_stream_destroy(gpuexec_stream_create(w->t.ctx, NULL));
    }
    w->wrong += gpuexec_stream_sync(s) != GPUEXEC_OK;
    return NULL;
}
TEST(prepared_launches_in_threads) {
    setting t = set_up(UNIT_PTX, "count", 4096);
    worker w[THREADS];
    pthread_t thread[THREADS];
    int i;
    CHECK_OK(gpuexec_stream_sync(t.stream));
    for (i = 0; i < THREADS; i++) {
        w[i].t = t;
        w[i].index = i;
        w[i].wrong = 0;
        CHECK_EQ(pthread_create(&thread[i], NULL, launch_many, &w[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK_EQ(w[i].wrong, 0);
        CHECK_EQ(word(t, (unsigned)i), LAUNCHES);
    }
}

/* The text of a kernel failure names the launch. */
TEST_ALONE(a_prepared_launch_that_traps) {
    setting t = set_up(FAULTS_PTX, "trap_now", 4096);
    gpuexec_prepared p = gpuexec_prepare(
            t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    char place[40];
    snprintf(place, sizeof place, "params.c:%d", __LINE__ + 1);
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_RESULT(gpuexec_stream_sync(t.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "kernel \"trap_now\" at ", place);
    CHECK_REFUSED(gpuexec_launch_prepared(p), GPUEXEC_KERNEL_FAILED, "kernel \"trap_now\" at ");
}

/* The trace shows each launch, including those after the first. */
static int traced;
static void count_launches(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    traced += level == GPUEXEC_LOG_TRACE && strstr(text, "cuLaunchKernel ") &&
            strstr(text, "gpuexec_launch_prepared at ");
}
TEST(prepared_launches_are_traced) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_prepared p;
    setting t;
    desc.trace = 1;
    desc.log = count_launches;
    traced = 0;
    CHECK_OK(gpuexec_setup(&desc));
    t = set_up(UNIT_PTX, "count", 4096);
    p = gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_OK(gpuexec_launch_prepared(p));
    CHECK_EQ(word(t, 0), 2);
    CHECK_EQ(traced, 2);
}

static char leaks[2000];
static void keep_leaks(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) strncat(leaks, text, sizeof leaks - strlen(leaks) - 1);
}
TEST(what_was_not_destroyed_is_reported) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_params p, other;
    char line[80];
    int made_at;
    setting t;
    desc.report_leaks = 1;
    desc.log = keep_leaks;
    leaks[0] = 0;
    CHECK_OK(gpuexec_setup(&desc));
    t = set_up(UNIT_PTX, "count", 4096);
    made_at = __LINE__ + 1;
    p = gpuexec_params_create();
    snprintf(line, sizeof line,
            "leak: a parameter block, created at tests/header/unit/params.c:%d\n", made_at);
    other = gpuexec_params_create();
    gpuexec_prepare(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data));
    CHECK_OK(gpuexec_params_destroy(other));
    CHECK_OK(gpuexec_shutdown());
    CHECK_TEXT(leaks, line, "leak: a prepared launch, created at tests/header/unit/params.c:");
    CHECK(strstr(strstr(leaks, "a parameter block") + 1, "a parameter block") == NULL);
    CHECK(!gpuexec_ok(p));
}
