/* batch.c - batches of launches: their order, changed arguments, what uses memory and kernels that
   are gone. */
#include "../../test.h"

enum { SLOTS = 1024, BYTES = SLOTS * 4, MANY = 100000 };

/* p[to] = p[from] * by + plus, so that the order of launches shows in the result. */
#define STEP(version, target, first) \
    ".version " version "\n.target " target "\n.address_size 64\n" \
    ".visible .entry step(.param .u64 p, .param .u32 from, .param .u32 to, .param .u32 by, " \
    ".param .u32 plus){" \
    ".reg .b32 a,b,c,d;.reg .b64 r,q;" first \
    "ld.param.u64 r,[p];ld.param.u32 a,[from];ld.param.u32 b,[to];ld.param.u32 " \
    "c,[by];ld.param.u32 d,[plus];" \
    "mul.wide.u32 q,a,4;add.u64 q,r,q;ld.global.u32 a,[q];mad.lo.u32 a,a,c,d;" \
    "mul.wide.u32 q,b,4;add.u64 q,r,q;st.global.u32 [q],a;ret;}\n"
static const char step_text[] = STEP("7.0", "sm_70", ""),
                  wait_text[] = STEP("7.8", "sm_90", "griddepcontrol.wait;");

static gpuexec_kernel step_of(gpuexec_context context, const char *text) {
    gpuexec_kernel kernel = gpuexec_kernel_get(gpuexec_module_load(context, text, 0, NULL), "step");
    CHECK_MADE(kernel);
    return kernel;
}
static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.kernel = step_of(s.ctx, step_text);
    return s;
}
static gpuexec_batch batch_of(const setting *s, gpuexec_batch_order order) {
    gpuexec_batch_desc desc = { 0 };
    gpuexec_batch batch;
    desc.order = order;
    batch = gpuexec_batch_create(s->ctx, &desc);
    CHECK_MADE(batch);
    return batch;
}
static int step(const setting *s, gpuexec_batch batch, uint32_t from, uint32_t to, uint32_t by,
        uint32_t plus) {
    return gpuexec_batch_add(
            batch, s->kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s->data, from, to, by, plus));
}
#define CHECK_NOT_ADDED(call, wanted, ...) \
    (CHECK_EQ(call, -1), CHECK_REFUSED(gpuexec_error_detail()->result, wanted, __VA_ARGS__))
static const uint32_t *values(const setting *s) {
    static uint32_t got[SLOTS];
    CHECK_OK(gpuexec_context_sync(s->ctx));
    CHECK_OK(gpuexec_copy_out_now(s->ctx, got, s->data, BYTES));
    return got;
}
static gpuexec_batch_info info_of(gpuexec_batch batch) {
    gpuexec_batch_info info;
    CHECK_OK(gpuexec_batch_get_info(batch, &info));
    return info;
}

TEST(launches_run_in_order) {
    static const int counts[] = { 1, 2, 3, 8, 9, 17, 100 };
    setting s = begin();
    uint32_t expected = 0;
    unsigned c, round;
    for (c = 0; c < sizeof counts / sizeof *counts; c++) {
        gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
        int i;
        for (i = 0; i < counts[c]; i++) CHECK_EQ(step(&s, batch, 0, 0, 3, (uint32_t)i), i);
        for (round = 0; round < 3; round++) {
            CHECK_OK(gpuexec_batch_launch(batch, round == 1 ? GPUEXEC_CURRENT : s.stream));
            CHECK_OK(gpuexec_context_sync(s.ctx));
            for (i = 0; i < counts[c]; i++) expected = expected * 3 + (uint32_t)i;
        }
        CHECK_EQ(values(&s)[0], expected);
        CHECK_EQ(info_of(batch).launches, counts[c]);
        CHECK_EQ(info_of(batch).chains, 1);
        CHECK_EQ(info_of(batch).instantiated, counts[c] > 0);
        CHECK_OK(gpuexec_batch_launch(batch, gpuexec_stream_legacy(s.ctx)));
        for (i = 0; i < counts[c]; i++) expected = expected * 3 + (uint32_t)i;
        CHECK_OK(gpuexec_batch_destroy(batch)); /* that launch still runs */
        CHECK_EQ(values(&s)[0], expected);
        CHECK_REFUSED(
                gpuexec_batch_launch(batch, s.stream), GPUEXEC_STALE_HANDLE, "the batch is stale");
    }
}

TEST(an_empty_batch_does_nothing) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_batch_barrier(batch));
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(info_of(batch).launches, 0);
    CHECK_EQ(info_of(batch).instantiated, 0);
    CHECK_OK(gpuexec_batch_clear(batch));
    CHECK_OK(gpuexec_batch_destroy((gpuexec_batch){ 0 }));
}

/* Rows of launches side by side, each after a barrier: a row reads what the row before has written,
   in reverse. */
TEST(independent_launches_and_barriers) {
    enum { LONGEST = 40 };
    static const int rows[] = { 1, 7, 8, 9, LONGEST, 3, 16, 1, 30 };
    enum { ROWS = sizeof rows / sizeof *rows };
    setting s = begin();
    gpuexec_batch batch = batch_of(&s, GPUEXEC_BATCH_INDEPENDENT);
    uint32_t expected[ROWS + 1][LONGEST] = { { 0 } };
    int r, i, round, launches = 0;
    for (r = 0; r < ROWS; r++) {
        for (i = 0; i < rows[r]; i++, launches++)
            step(&s, batch, (uint32_t)(r * LONGEST + LONGEST - 1 - i),
                    (uint32_t)((r + 1) * LONGEST + i), 5, (uint32_t)(r + i));
        CHECK_OK(gpuexec_batch_barrier(batch));
        CHECK_OK(gpuexec_batch_barrier(batch)); /* the second one changes nothing */
    }
    CHECK_EQ(info_of(batch).launches, launches);
    CHECK(info_of(batch).chains > 1);
    for (round = 0; round < 4; round++) {
        const uint32_t *got;
        const uint32_t first = (uint32_t)round * 1000;
        CHECK_OK(gpuexec_fill_now(s.ctx, s.data, first, 4, LONGEST));
        for (i = 0; i < LONGEST; i++) expected[0][i] = first;
        for (r = 0; r < ROWS; r++)
            for (i = 0; i < rows[r]; i++)
                expected[r + 1][i] = expected[r][LONGEST - 1 - i] * 5 + (uint32_t)(r + i);
        CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        got = values(&s);
        CHECK(memcmp(got, expected, sizeof expected) == 0);
    }
}

/* The first launch waits until the second one has run. */
TEST(independent_launches_run_side_by_side) {
    setting s = begin();
    gpuexec_batch batch = batch_of(&s, GPUEXEC_BATCH_INDEPENDENT);
    gpuexec_kernel gate = gpuexec_kernel_get(s.mod, "gate"),
                   count = gpuexec_kernel_get(s.mod, "count");
    int i;
    for (i = 0; i < 3; i++)
        gpuexec_batch_add(
                batch, i == 1 ? count : gate, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s.data));
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(values(&s)[0], 1);
}

TEST(programmatic_launches) {
    setting s = begin();
    gpuexec_batch batch = batch_of(&s, GPUEXEC_BATCH_PROGRAMMATIC),
                  mixed = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_launch_desc desc = { 0 };
    gpuexec_device_info device;
    uint32_t expected = 0, zero = 0, by = 3, i;
    int round;
    CHECK_OK(gpuexec_device_get_info(0, &device));
    if (device.compute_capability < 90 || gpuexec_driver_version() < 11080)
        SKIP("needs compute capability 9.0, and a driver of CUDA 11.8");
    s.kernel = step_of(s.ctx, wait_text);
    desc.programmatic = 1;
    for (i = 0; i < 60; i++) {
        CHECK_EQ(step(&s, batch, 0, 0, 3, i), i);
        if (i % 7 == 0) CHECK_OK(gpuexec_batch_barrier(batch));
        CHECK_EQ(gpuexec_batch_add_with(mixed, s.kernel, gpuexec_grid(1, 1, 0),
                         i % 3 ? &desc : NULL, GPUEXEC_ARGS(s.data, zero, zero, by, i)),
                i);
    }
    for (round = 0; round < 6; round++) {
        CHECK_OK(gpuexec_batch_launch(round % 2 ? batch : mixed, s.stream));
        for (i = 0; i < 60; i++) expected = expected * 3 + i;
    }
    CHECK_EQ(values(&s)[0], expected);
}

TEST(launches_with_attributes) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL),
                  alone = batch_of(&s, GPUEXEC_BATCH_INDEPENDENT);
    gpuexec_launch_desc desc = { 0 }, dirty;
    uint32_t zero = 0, by = 3, one = 1;
    desc.cooperative = 1;
    CHECK_EQ(gpuexec_batch_add_with(batch, s.kernel, gpuexec_grid(1, 1, 0), &desc,
                     GPUEXEC_ARGS(s.data, zero, zero, by, one)),
            0);
    desc.cooperative = 0;
    desc.has_priority = gpuexec_driver_version() >= 11080;
    CHECK_EQ(gpuexec_batch_add_with(batch, s.kernel, gpuexec_grid(1, 1, 0), &desc,
                     GPUEXEC_ARGS(s.data, zero, zero, by, one)),
            1);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(values(&s)[0], 4);
    memset(&dirty, 0xff, sizeof dirty);
    CHECK_NOT_ADDED(gpuexec_batch_add_with(batch, s.kernel, gpuexec_grid(1, 1, 0), &dirty,
                            GPUEXEC_ARGS(s.data, zero, zero, by, one)),
            GPUEXEC_BAD_ARGUMENT, "gpuexec_batch_add_with: launch 2 of the batch",
            "gpuexec_launch_desc was not zero-initialized");
    desc.programmatic = 1;
    if (gpuexec_driver_version() < 11080) SKIP("attributes need a driver of CUDA 11.8");
    CHECK_NOT_ADDED(gpuexec_batch_add_with(alone, s.kernel, gpuexec_grid(1, 1, 0), &desc,
                            GPUEXEC_ARGS(s.data, zero, zero, by, one)),
            GPUEXEC_BAD_ARGUMENT, "a programmatic launch of kernel \"step\"", "independent",
            "GPUEXEC_BATCH_IN_ORDER");
}

/* Arguments change between launches; what was launched before has those of then. */
TEST(arguments_change_between_launches) {
    enum { N = 20 };
    static const gpuexec_batch_order orders[] = { GPUEXEC_BATCH_IN_ORDER,
        GPUEXEC_BATCH_INDEPENDENT };
    setting s = begin();
    test_gate gate = gate_make(s.ctx, s.mod);
    uint32_t random = 5, expected[N], plus[N];
    unsigned o;
    int i, round;
    for (o = 0; o < 2; o++) {
        gpuexec_batch batch = batch_of(&s, orders[o]);
        memset(expected, 0, sizeof expected);
        CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 1, BYTES));
        for (i = 0; i < N; i++) step(&s, batch, (uint32_t)i, (uint32_t)i, 7, plus[i] = (uint32_t)i);
        gate_close(gate, s.stream);
        for (round = 0; round < 6; round++) {
            CHECK_OK(gpuexec_batch_launch(batch, s.stream));
            CHECK_EQ(info_of(batch).changed, 0);
            for (i = 0; i < N; i++) expected[i] = expected[i] * 7 + plus[i];
            for (i = 0; i < round * 4; i++) { /* the same launch perhaps several times */
                const int which = (int)(test_random(&random) % N);
                plus[which] = test_random(&random);
                CHECK_OK(gpuexec_batch_set(batch, which, 4, &plus[which], 4));
            }
            CHECK(info_of(batch).changed <= (size_t)round * 4 &&
                    (info_of(batch).changed > 0) == (round > 0));
        }
        gate_open(gate);
        CHECK(memcmp(values(&s), expected, sizeof expected) == 0);
        CHECK_OK(gpuexec_batch_destroy(batch));
    }
}

TEST(a_batch_of_one_changes_too) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    uint32_t plus = 9;
    step(&s, batch, 0, 0, 1, 1);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_batch_set(batch, 0, 4, &plus, 4));
    CHECK_EQ(info_of(batch).changed, 1);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(values(&s)[0], 10);
}

TEST(launches_are_added_and_removed_later) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    uint32_t plus = 100;
    step(&s, batch, 0, 0, 1, 1);
    step(&s, batch, 0, 0, 1, 2);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream)); /* 3 */
    CHECK_OK(gpuexec_batch_set(batch, 1, 4, &plus, 4));
    CHECK_OK(gpuexec_batch_set(batch, 1, 4, &plus, 4));
    CHECK_EQ(info_of(batch).changed, 1);
    CHECK_EQ(step(&s, batch, 0, 0, 1, 10), 2); /* the graph is made again, with what changed */
    CHECK_EQ(info_of(batch).instantiated, 0);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream)); /* + 111 */
    CHECK_OK(gpuexec_batch_clear(batch));
    CHECK_EQ(info_of(batch).launches, 0);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(step(&s, batch, 0, 0, 2, 0), 0);
    CHECK_EQ(step(&s, batch, 0, 0, 2, 0), 1);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(values(&s)[0], 456);
}

TEST(arguments_of_any_kind) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_params params = gpuexec_params_create();
    const void *addresses[5];
    uint32_t numbers[4] = { 0, 1, 1, 5 };
    gpuexec_args args = { 0, 0, 5, 0, { 0 } };
    int i;
    CHECK_OK(gpuexec_params_add(params, GPUEXEC_POINTER, &s.data));
    addresses[0] = &s.data;
    for (i = 0; i < 4; i++) {
        CHECK_OK(gpuexec_params_add(params, GPUEXEC_UINT, &numbers[i]));
        addresses[i + 1] = &numbers[i];
    }
    args.addresses = addresses; /* their sizes are the kernel's */
    CHECK_EQ(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 1, 0), gpuexec_params_args(params)),
            0);
    CHECK_EQ(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 1, 0), args), 1);
    s.kernel = gpuexec_kernel_get(s.mod, "nothing");
    CHECK_EQ(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS), 2);
    CHECK_OK(gpuexec_params_destroy(params));
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(values(&s)[1], 5);
}

/* Random batches of each order beside a model. In an independent one, launches between two barriers
   use no memory that another one of them writes. */
typedef struct drawn {
    uint32_t from, to, by, plus;
} drawn;
static drawn draw(uint32_t *random, int section, int independent, int *written, int *used) {
    enum { FEW = 80 };
    drawn d;
    do d.to = test_random(random) % FEW;
    while (independent && (written[d.to] == section || used[d.to] == section));
    do d.from = test_random(random) % FEW;
    while (independent && written[d.from] == section);
    d.by = test_random(random);
    d.plus = test_random(random);
    written[d.to] = used[d.from] = section;
    return d;
}
TEST(random_batches) {
    enum { PROGRAMS = 60, MOST = 80 };
    setting s = begin();
    const gpuexec_kernel plain = s.kernel;
    gpuexec_kernel waits = { 0 };
    gpuexec_device_info device;
    uint32_t random = 17, model[SLOTS] = { 0 };
    int program, section = 0, written[MOST] = { 0 }, used[MOST] = { 0 }, bad = 0;
    CHECK_OK(gpuexec_device_get_info(0, &device));
    if (device.compute_capability >= 90 && gpuexec_driver_version() >= 11080)
        waits = step_of(s.ctx, wait_text);
    for (program = 0; program < PROGRAMS && !bad; program++) {
        const gpuexec_batch_order order = (gpuexec_batch_order)(program % 3);
        gpuexec_batch batch = batch_of(&s, order);
        drawn d[MOST];
        int i, round, n = 0, since = ++section, more = (int)(test_random(&random) % 60);
        s.kernel = order == GPUEXEC_BATCH_PROGRAMMATIC && info_of(batch).order == order ? waits
                                                                                        : plain;
        for (round = 0; round < 4; round++) {
            for (since = n; more > 0; more--, n++) {
                if (n - since > 30 || test_random(&random) % 6 == 0) {
                    CHECK_OK(gpuexec_batch_barrier(batch));
                    section++;
                    since = n;
                }
                d[n] = draw(&random, section, order == GPUEXEC_BATCH_INDEPENDENT, written, used);
                CHECK_EQ(step(&s, batch, d[n].from, d[n].to, d[n].by, d[n].plus), n);
            }
            CHECK_OK(gpuexec_batch_launch(batch, s.stream));
            for (i = 0; i < n; i++) model[d[i].to] = model[d[i].from] * d[i].by + d[i].plus;
            for (i = (int)(test_random(&random) % 20); n && i > 0; i--) {
                const unsigned which = test_random(&random) % (unsigned)n;
                d[which].plus = test_random(&random);
                CHECK_OK(gpuexec_batch_set(batch, (int)which, 4, &d[which].plus, 4));
            }
            more = n + 5 < MOST && test_random(&random) % 4 == 0 ? 5 : 0;
        }
        bad = memcmp(values(&s), model, sizeof model) != 0;
        if (!CHECK(!bad)) printf("program %d, order %d, %d launches\n", program, (int)order, n);
        CHECK_OK(gpuexec_batch_destroy(batch));
    }
}

/* --- what is refused -------------------------------------------------------------------------- */

TEST(what_cannot_be_added) {
    setting s = begin();
    gpuexec_batch_desc desc = { 0 };
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL), failed;
    uint32_t a = 1;
    uint64_t wide = 1;
    desc.order = (gpuexec_batch_order)3;
    CHECK_NOT_MADE(gpuexec_batch_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "3 is not a gpuexec_batch_order");
    desc.end_canary = 1;
    CHECK_NOT_MADE(failed = gpuexec_batch_create(s.ctx, &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_batch_desc was not");
    CHECK_NOT_MADE(gpuexec_batch_create((gpuexec_context){ 0 }, NULL), GPUEXEC_BAD_HANDLE,
            "never created");
    CHECK_NOT_ADDED(step(&s, failed, 0, 0, 1, 1), GPUEXEC_BAD_ARGUMENT, "gpuexec_batch_create",
            "did not create the batch");
    CHECK_NOT_ADDED(step(&s, (gpuexec_batch){ s.stream.id }, 0, 0, 1, 1), GPUEXEC_WRONG_KIND,
            "this handle is a stream");
    CHECK_REFUSED(gpuexec_batch_barrier((gpuexec_batch){ 0 }), GPUEXEC_BAD_HANDLE,
            "the batch was never created");
    CHECK_REFUSED(gpuexec_batch_clear((gpuexec_batch){ 0 }), GPUEXEC_BAD_HANDLE,
            "the batch was never created");
    CHECK_FAILED(gpuexec_batch_get_info(batch, NULL), GPUEXEC_BAD_ARGUMENT, "\"info\" is NULL");

    step(&s, batch, 0, 0, 1, 1);
    CHECK_NOT_ADDED(
            gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s.data, a)),
            GPUEXEC_BAD_PARAMETERS, "gpuexec_batch_add: launch 1 of the batch created at",
            "batch.c:", "kernel \"step\" takes 5 parameters", "2 arguments were passed");
    CHECK_EQ(step(&s, batch, 0, 0, 1, 1), 1); /* it has not added anything */
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_batch_clear(batch));
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_NOT_ADDED(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 1, 0),
                            GPUEXEC_ARGS(s.data, a, wide, a, a)),
            GPUEXEC_BAD_PARAMETERS, "launch 0", "argument 2", "is 8 bytes");
    CHECK_NOT_ADDED(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(0, 1, 0),
                            GPUEXEC_ARGS(s.data, a, a, a, a)),
            GPUEXEC_BAD_LAUNCH, "launch 0", "the grid of kernel \"step\" is empty");
    CHECK_NOT_ADDED(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 4096, 0),
                            GPUEXEC_ARGS(s.data, a, a, a, a)),
            GPUEXEC_BAD_LAUNCH, "block_x is 4096");
    CHECK_NOT_ADDED(gpuexec_batch_add(batch, s.kernel, gpuexec_grid(1, 1, 1 << 30),
                            GPUEXEC_ARGS(s.data, a, a, a, a)),
            GPUEXEC_BAD_LAUNCH, "shared memory");
    s.kernel.id = 0;
    CHECK_NOT_ADDED(step(&s, batch, 0, 0, 1, 1), GPUEXEC_BAD_HANDLE, "launch 0",
            "the kernel was never created");
}

TEST(what_cannot_be_changed) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    uint32_t a = 1;
    CHECK_REFUSED(gpuexec_batch_set(batch, 0, 0, &a, 4), GPUEXEC_BAD_ARGUMENT,
            "there is no launch 0", "contains 0 launches");
    step(&s, batch, 0, 0, 1, 1);
    CHECK_REFUSED(gpuexec_batch_set(batch, 1, 0, &a, 4), GPUEXEC_BAD_ARGUMENT,
            "there is no launch 1", "contains 1 launch");
    CHECK_REFUSED(
            gpuexec_batch_set(batch, -1, 0, &a, 4), GPUEXEC_BAD_ARGUMENT, "there is no launch -1");
    CHECK_REFUSED(gpuexec_batch_set(batch, 0, 5, &a, 4), GPUEXEC_BAD_ARGUMENT,
            "launch 0 of the batch created at", "there is no argument 5", "has 5 arguments");
    CHECK_REFUSED(gpuexec_batch_set(batch, 0, 0, &a, 4), GPUEXEC_BAD_PARAMETERS, "argument 0",
            "has 8 bytes, but 4");
    CHECK_REFUSED(gpuexec_batch_set(batch, 0, 1, NULL, 4), GPUEXEC_BAD_ARGUMENT, "launch 0",
            "argument 1", "is NULL");
    CHECK_REFUSED(gpuexec_batch_set((gpuexec_batch){ 0 }, 0, 1, &a, 4), GPUEXEC_BAD_HANDLE,
            "the batch was never");
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_REFUSED(gpuexec_batch_launch(batch, (gpuexec_stream){ 0 }), GPUEXEC_BAD_HANDLE,
            "the stream was never");
    CHECK_EQ(values(&s)[0], 1);
}

TEST(a_kernel_is_unloaded) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_module module = { 0 };
    const gpuexec_kernel stays = s.kernel;
    int i;
    for (i = 0; i < 3; i++) {
        module = gpuexec_module_load(s.ctx, step_text, 0, NULL);
        s.kernel = stays;
        step(&s, batch, 0, 0, 1, 1);
        s.kernel = gpuexec_kernel_get(module, "step");
        step(&s, batch, 0, 0, 1, 1);
        /* the first time, no graph is made */
        if (i) CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        if (i) CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        CHECK_OK(gpuexec_module_unload(module));
        CHECK_REFUSED(gpuexec_batch_launch(batch, s.stream), GPUEXEC_STALE_HANDLE,
                "gpuexec_batch_launch: launch 1 of", "kernel \"step\" is stale",
                "gpuexec_batch_clear");
        CHECK_OK(gpuexec_batch_clear(batch));
    }
    CHECK_EQ(values(&s)[0], 8);
}

TEST(memory_is_freed) {
    setting s = begin();
    gpuexec_batch batch = batch_of(&s, GPUEXEC_BATCH_INDEPENDENT);
    gpuexec_ptr first = gpuexec_alloc(s.ctx, 4096), again;
    uint32_t zero = 0, one = 1, two = 2;
    int way;
    for (way = 0; way < 2; way++) { /* cuMemFree, then in stream order */
        step(&s, batch, 0, 0, 1, 1);
        gpuexec_batch_add(
                batch, s.kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(first, one, two, one, zero));
        CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        CHECK_OK(way ? gpuexec_free_on(s.stream, first) : gpuexec_free(first));
        CHECK_REFUSED(gpuexec_batch_launch(batch, s.stream), GPUEXEC_STALE_HANDLE,
                "launch 1 of the batch created at", "argument 0", "kernel \"step\"",
                "has since been freed", "gpuexec_batch_set");
        again = gpuexec_alloc_on(s.stream, 4096);
        CHECK_OK(gpuexec_batch_set(batch, 1, 0, &again, sizeof again));
        CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        CHECK_OK(gpuexec_stream_sync(s.stream));
        CHECK_OK(gpuexec_batch_clear(batch));
        first = again;
    }
    CHECK_EQ(values(&s)[0], 4);
    again = 4; /* not memory, until it is changed */
    gpuexec_batch_add(
            batch, s.kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(again, one, two, one, zero));
    CHECK_OK(gpuexec_batch_set(batch, 0, 0, &first, sizeof first));
    CHECK_OK(gpuexec_free(first));
    CHECK_REFUSED(gpuexec_batch_launch(batch, s.stream), GPUEXEC_STALE_HANDLE, "argument 0",
            "has since been freed");
}

TEST(a_number_is_not_memory) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_kernel count = gpuexec_kernel_get(s.mod, "count");
    gpuexec_ptr other = gpuexec_alloc(s.ctx, 256), end = s.data + BYTES - 4;
    int i;
    for (i = 0; i < 3; i++)
        CHECK_EQ(gpuexec_batch_add(batch, count, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(end)), i);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_free(other)); /* that is not the batch's */
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_EQ(values(&s)[SLOTS - 1], 6);
}

/* --- captures, contexts ----------------------------------------------------------------------- */

TEST(in_a_capture_each_launch_is_recorded) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_graph graph = { 0 };
    gpuexec_graph_info info;
    uint32_t plus = 1000;
    step(&s, batch, 0, 0, 2, 1);
    step(&s, batch, 0, 0, 2, 1);
    step(&s, batch, 0, 0, 2, 1);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream)); /* 7 */
    GPUEXEC_CAPTURE(s.stream, &graph) CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_MADE(graph);
    CHECK_OK(gpuexec_graph_get_info(graph, &info));
    CHECK_EQ(info.nodes, 3);
    CHECK_EQ(info.kernels, 3);
    CHECK_OK(gpuexec_batch_set(batch, 2, 4, &plus, 4)); /* the graph keeps its own */
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));    /* 63 */
    CHECK_EQ(values(&s)[0], 63);
    GPUEXEC_CAPTURE(s.stream, &graph) { /* on another stream, the batch runs */
        CHECK_OK(gpuexec_batch_launch(batch, gpuexec_stream_create(s.ctx, NULL)));
        CHECK_OK(gpuexec_batch_clear(batch));
        step(&s, batch, 0, 0, 1, 1);
        CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        CHECK_OK(gpuexec_batch_destroy(batch));
    }
    CHECK_EQ(values(&s)[0], 63 * 8 + 6 + 1000);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_EQ(values(&s)[0], 63 * 8 + 7 + 1000);
}

TEST(its_context_is_closed) {
    setting s = begin();
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    step(&s, batch, 0, 0, 1, 1);
    step(&s, batch, 0, 0, 1, 1);
    CHECK_OK(gpuexec_batch_launch(batch, s.stream));
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK_FAILED(gpuexec_batch_destroy(batch), GPUEXEC_STALE_HANDLE, "the batch is stale");
}

TEST_MULTI(a_stream_of_another_device) {
    setting s, t;
    gpuexec_batch batch, single;
    gpuexec_kernel other;
    uint32_t zero = 0, one = 1;
    if (gpuexec_device_count() < 2) SKIP("needs two devices");
    s = begin();
    t = set_up_on(1, UNIT_PTX, "add", BYTES);
    batch = gpuexec_batch_create(s.ctx, NULL);
    single = gpuexec_batch_create(s.ctx, NULL);
    step(&s, batch, 0, 0, 1, 1);
    step(&s, batch, 0, 0, 1, 1);
    step(&s, single, 0, 0, 1, 7);
    CHECK_OK(gpuexec_batch_launch(batch, t.stream)); /* the kernels run on the first device */
    CHECK_OK(gpuexec_batch_launch(single, t.stream));
    CHECK_OK(gpuexec_stream_sync(t.stream));
    CHECK_EQ(values(&s)[0], 9);
    other = step_of(t.ctx, step_text);
    CHECK_NOT_ADDED(gpuexec_batch_add(batch, other, gpuexec_grid(1, 1, 0),
                            GPUEXEC_ARGS(t.data, zero, zero, one, one)),
            GPUEXEC_WRONG_CONTEXT, "launch 2 of the batch", "kernel \"step\" is on device 1",
            "the batch is on device 0", "one batch for each context");
}

/* --- many launches, little memory, threads ---------------------------------------------------- */

/* The processor's seconds that `count` launches take: they do not grow while the machine does
   something else. Each launch is changed, before the graph is made, or after. */
static double seconds_of(const setting *s, int count, int after) {
    gpuexec_batch batch = batch_of(s, GPUEXEC_BATCH_INDEPENDENT);
    const clock_t begins = clock();
    uint32_t plus = 3;
    int i, bad = 0;
    for (i = 0; i < count; i++) bad |= step(s, batch, 0, (uint32_t)i % SLOTS, 0, 2) != i;
    if (after) CHECK_OK(gpuexec_batch_launch(batch, s->stream));
    for (i = 0; i < count; i++)
        bad |= gpuexec_batch_set(batch, i, 4, &plus, sizeof plus) != GPUEXEC_OK;
    CHECK(info_of(batch).changed < 16); /* the graph has the others */
    CHECK_OK(gpuexec_batch_launch(batch, s->stream));
    CHECK_OK(gpuexec_stream_sync(s->stream));
    CHECK_OK(gpuexec_batch_destroy(batch));
    CHECK(!bad);
    return (double)(clock() - begins) / CLOCKS_PER_SEC;
}
TEST(a_hundred_thousand_launches) {
    setting s = begin();
    const double some = seconds_of(&s, MANY / 20, 1), all = seconds_of(&s, MANY, 0);
    const uint32_t *got = values(&s);
    int i, bad = 0;
    for (i = 0; i < SLOTS; i++) bad |= got[i] != 3;
    CHECK(!bad);
    if (!CHECK(all < 80 * some + 1))
        printf("%d launches took %g s, %d of them %g s\n", MANY, all, MANY / 20, some);
}

static gpuexec_result without_memory(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(
            gpuexec_module_load(ctx, step_text, 0, NULL), "step");
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    gpuexec_batch batch = gpuexec_batch_create(ctx, NULL);
    uint32_t zero = 0, one = 1;
    int i;
    for (i = 0; i < 70; i++)
        gpuexec_batch_add(
                batch, kernel, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p, zero, zero, one, one));
    gpuexec_batch_launch(batch, stream);
    return gpuexec_stream_sync(stream);
}
TEST(running_out_of_memory) { test_running_dry(without_memory, 400); }

static void *on_a_thread(void *argument) {
    setting s = *(const setting *)argument;
    gpuexec_batch batch = batch_of(&s, GPUEXEC_BATCH_INDEPENDENT);
    uint32_t i, round;
    for (i = 0; i < 30; i++) step(&s, batch, s.host[0] + i, s.host[0] + i, 1, i);
    for (round = 0; round < 10; round++) {
        for (i = 0; i < 30; i++) CHECK_OK(gpuexec_batch_set(batch, (int)i, 4, &round, 4));
        CHECK_OK(gpuexec_batch_launch(batch, s.stream));
        CHECK_OK(gpuexec_free(gpuexec_alloc(s.ctx, 256))); /* each launch looks at its memory */
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_batch_destroy(batch));
    return NULL;
}
TEST(batches_of_several_threads) {
    enum { THREADS = 4 };
    setting s = begin(), own[THREADS];
    pthread_t threads[THREADS];
    uint32_t first[THREADS], i;
    for (i = 0; i < THREADS; i++) {
        first[i] = i * 100;
        own[i] = s;
        own[i].host = &first[i];
        own[i].stream = gpuexec_stream_create(s.ctx, NULL);
        CHECK_EQ(pthread_create(&threads[i], NULL, on_a_thread, &own[i]), 0);
    }
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (i = 0; i < 30; i++) CHECK_EQ(values(&s)[100 + i], 45);
}
