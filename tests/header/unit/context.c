/* context.c - opening devices, adopting contexts, and preserving the thread's current context. */
#include "../../test.h"

/* SIMGPU_DEVICES sets the number of CPU devices; the number of GPUs is fixed. */
static int two_devices_found(void) {
    setenv("SIMGPU_DEVICES", "2", 1);
    return gpuexec_device_count();
}

/* Direct calls of the driver, as a host program or another library makes them. */
static int set_current(void *context) { return calls_find().cuCtxSetCurrent(context); }
static void *get_current(void) {
    void *current = NULL;
    CHECK_EQ(calls_find().cuCtxGetCurrent(&current), 0);
    return current;
}

TEST(open_and_close) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_MADE(ctx);
    CHECK(gpuexec_context_native(ctx) != NULL);
    CHECK_EQ(gpuexec_context_device(ctx), 0);
    CHECK_OK(gpuexec_context_sync(ctx));
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(!gpuexec_ok(ctx));
    CHECK(gpuexec_context_native(ctx) == NULL);
    CHECK_EQ(gpuexec_context_device(ctx), -1);
}

/* There is one primary context per device; each handle retains it separately. */
TEST(two_handles_of_one_primary_context) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(0, NULL);
    gpuexec_stream of_a = gpuexec_stream_create(a, NULL), of_b = gpuexec_stream_create(b, NULL);
    gpuexec_ptr p = gpuexec_alloc(b, 64);
    uint32_t word = 0;
    CHECK(a.id != b.id);
    CHECK(gpuexec_context_native(a) == gpuexec_context_native(b));
    CHECK_OK(gpuexec_context_close(a));
    CHECK(!gpuexec_ok(of_a));
    CHECK(gpuexec_ok(b) && gpuexec_ok(of_b));
    CHECK_OK(gpuexec_fill(of_b, p, 0x11, 1, 64));
    CHECK_OK(gpuexec_copy_out(of_b, &word, p, 4));
    CHECK_OK(gpuexec_stream_sync(of_b));
    CHECK_EQ(word, 0x11111111);
}

TEST(objects_of_two_handles_of_one_context_work_together) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load_file(a, UNIT_PTX, NULL), "count");
    gpuexec_stream s = gpuexec_stream_create(b, NULL);
    gpuexec_ptr p = gpuexec_alloc(b, 4);
    uint32_t word = 0;
    gpuexec_fill(s, p, 0, 1, 4);
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(2, 33, 0), GPUEXEC_ARGS(p)));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 66);
}

TEST(memory_information) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t free_before = 0, free_after = 0, total = 0;
    int i, less = 0;
    gpuexec_ptr p;
    /* on a GPU, other processes allocate and free meanwhile */
    for (i = 0; i < 20 && less != 1; i++) {
        CHECK_OK(gpuexec_context_get_memory(ctx, &free_before, &total));
        CHECK(free_before > 0 && free_before <= total);
        p = gpuexec_alloc(ctx, (size_t)32 << 20);
        CHECK(p != 0);
        CHECK_OK(gpuexec_context_get_memory(ctx, &free_after, NULL));
        less = free_after <= free_before - ((size_t)32 << 20);
        CHECK_OK(gpuexec_free(p));
    }
    CHECK(less);
}

/* Closing a handle closes everything that was created through it. */
TEST(close_ends_what_lives_in_it) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "nothing");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL), legacy = gpuexec_stream_legacy(ctx);
    gpuexec_event e = gpuexec_event_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 64);
    CHECK(gpuexec_ok(mod) && gpuexec_ok(fn) && gpuexec_ok(s) && gpuexec_ok(legacy) &&
            gpuexec_ok(e) && p != 0);
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(100, 32, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(!gpuexec_ok(mod) && !gpuexec_ok(fn) && !gpuexec_ok(s) && !gpuexec_ok(legacy) &&
            !gpuexec_ok(e));
    CHECK_FAILED(gpuexec_stream_sync(s), GPUEXEC_STALE_HANDLE, "context");
    CHECK(gpuexec_free(p) != GPUEXEC_OK);
    gpuexec_take_error();
}

TEST(blocking_sync_flag) {
    gpuexec_context_desc desc = { 0 };
    gpuexec_context ctx;
    desc.flags = 4;
    ctx = gpuexec_context_open(0, &desc);
    CHECK_MADE(ctx);
    CHECK_OK(gpuexec_context_sync(ctx));
}

TEST(adopting_a_native_context) {
    gpuexec_context own = gpuexec_context_open(0, NULL);
    gpuexec_context adopted = gpuexec_context_from_native(gpuexec_context_native(own));
    gpuexec_stream s = gpuexec_stream_create(adopted, NULL);
    gpuexec_ptr p = gpuexec_alloc(adopted, 64);
    unsigned char byte = 0;
    CHECK_MADE(adopted);
    CHECK(adopted.id != own.id);
    CHECK_EQ(gpuexec_context_device(adopted), 0);
    CHECK(gpuexec_context_native(adopted) == gpuexec_context_native(own));
    CHECK_OK(gpuexec_fill(s, p, 77, 1, 64));
    CHECK_OK(gpuexec_copy_out(s, &byte, p, 1));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(byte, 77);
    CHECK_OK(gpuexec_context_close(adopted));
    CHECK(!gpuexec_ok(s));
    CHECK_OK(gpuexec_context_sync(own)); /* the context itself stays valid */
}

TEST(adopting_the_current_context) {
    gpuexec_context own = gpuexec_context_open(0, NULL), adopted;
    CHECK_EQ(set_current(NULL), 0);
    adopted = gpuexec_context_from_native(NULL);
    CHECK(!gpuexec_ok(adopted));
    CHECK_TEXT(gpuexec_error_text(), "current");
    gpuexec_take_error();
    CHECK_EQ(set_current(gpuexec_context_native(own)), 0);
    adopted = gpuexec_context_from_native(NULL);
    CHECK_MADE(adopted);
    CHECK(gpuexec_context_native(adopted) == gpuexec_context_native(own));
    CHECK_OK(gpuexec_context_close(adopted));
    CHECK_EQ(set_current(NULL), 0);
}

/* Every kind of call works with any current context on the thread, and does not change it. */
static void use_everything(gpuexec_context ctx, const void *current) {
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "count");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_event a = gpuexec_event_create(ctx, NULL), b = gpuexec_event_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 64);
    void *h = gpuexec_alloc_pinned(ctx, 64);
    uint32_t word = 1;
    CHECK(get_current() == current);
    CHECK(gpuexec_kernel_occupancy(fn, 64, 0) > 0);
    CHECK(gpuexec_pinned_address(h) != 0);
    CHECK(gpuexec_module_global_address(mod, "counter", NULL) != 0);
    CHECK_OK(gpuexec_context_get_memory(ctx, NULL, NULL));
    CHECK_OK(gpuexec_fill_now(ctx, p, 0, 1, 64));
    CHECK_OK(gpuexec_copy_in_now(ctx, p, &word, sizeof word));
    CHECK_OK(gpuexec_event_record(a, s));
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 9, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_launch(
            fn, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 10, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_event_record(b, s));
    CHECK_OK(gpuexec_stream_wait_event(gpuexec_stream_legacy(ctx), b));
    CHECK_OK(gpuexec_event_sync(b));
    CHECK(gpuexec_event_elapsed_ms(a, b) >= 0);
    CHECK_OK(gpuexec_context_sync(ctx));
    CHECK(get_current() == current);
    CHECK_OK(gpuexec_copy_out_now(ctx, &word, p, sizeof word));
    CHECK_EQ(word, 20);
    CHECK_OK(gpuexec_free(p));
    CHECK_OK(gpuexec_free_pinned(h));
    CHECK_OK(gpuexec_event_destroy(a));
    CHECK_OK(gpuexec_event_destroy(b));
    CHECK_OK(gpuexec_stream_destroy(s));
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK(get_current() == current);
}

TEST(nothing_current) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_EQ(set_current(NULL), 0);
    use_everything(ctx, NULL);
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(get_current() == NULL);
}

TEST(itself_current) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_EQ(set_current(gpuexec_context_native(ctx)), 0);
    use_everything(ctx, gpuexec_context_native(ctx));
    CHECK_EQ(set_current(NULL), 0);
}

TEST_ALONE_MULTI(another_current) {
    gpuexec_context ctx, other;
    if (two_devices_found() < 2) SKIP("needs 2 devices");
    ctx = gpuexec_context_open(0, NULL);
    other = gpuexec_context_open(1, NULL);
    CHECK_EQ(set_current(gpuexec_context_native(other)), 0);
    use_everything(ctx, gpuexec_context_native(other));
    CHECK_EQ(set_current(NULL), 0);
}

/* A stream on one device waits for an event on another; the results are combined. */
TEST_ALONE_MULTI(two_devices) {
    gpuexec_context c[2];
    gpuexec_kernel fn[2];
    gpuexec_stream s[2];
    gpuexec_event done;
    gpuexec_ptr p[2];
    uint32_t by[2] = { 5, 9 }, n = 1000, word[2] = { 0, 0 };
    int i;
    if (two_devices_found() < 2) SKIP("needs 2 devices");
    for (i = 0; i < 2; i++) {
        c[i] = gpuexec_context_open(i, NULL);
        fn[i] = gpuexec_kernel_get(gpuexec_module_load_file(c[i], UNIT_PTX, NULL), "add");
        s[i] = gpuexec_stream_create(c[i], NULL);
        p[i] = gpuexec_alloc(c[i], n * 4);
        gpuexec_fill(s[i], p[i], 0, 1, n * 4);
        CHECK_OK(gpuexec_launch(
                fn[i], s[i], gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p[i], by[i], n)));
    }
    done = gpuexec_event_create(c[0], NULL);
    CHECK_OK(gpuexec_event_record(done, s[0]));
    CHECK_OK(gpuexec_stream_wait_event(s[1], done));
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_copy_out(s[i], &word[i], p[i] + 4 * (n - 1), 4));
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_sync(s[i]));
    CHECK_EQ(word[0], 5);
    CHECK_EQ(word[1], 9);
}

/* ---- created contexts, users, and the thread's stack of current contexts ---- */

TEST(a_created_context_is_apart_from_the_primary_one) {
    gpuexec_context primary = gpuexec_context_open(0, NULL), own = gpuexec_context_create(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(own, NULL),
                   other = gpuexec_stream_create(primary, NULL);
    gpuexec_event e = gpuexec_event_create(own, NULL);
    gpuexec_ptr p = gpuexec_alloc(own, 256);
    uint32_t got = 0;
    CHECK_MADE(own);
    CHECK(gpuexec_context_native(own) != gpuexec_context_native(primary));
    CHECK(!gpuexec_context_is_current(own)); /* creating it does not change the current context */
    CHECK_EQ(gpuexec_context_device(own), 0);
    CHECK_OK(gpuexec_fill(s, p, 77, 4, 64));
    CHECK_OK(gpuexec_copy_out(s, &got, p + 252, 4));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(got, 77);
    CHECK_RESULT(gpuexec_event_record(e, other), GPUEXEC_WRONG_CONTEXT);
    gpuexec_take_error();
    CHECK_OK(gpuexec_context_close(own));
    CHECK(!gpuexec_ok(s) && !gpuexec_ok(e));
    CHECK(gpuexec_ok(other));
}

TEST(users_of_a_context) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    CHECK_EQ(gpuexec_context_users(ctx), 1);
    CHECK_OK(gpuexec_context_retain(ctx));
    CHECK_OK(gpuexec_context_retain(ctx));
    CHECK_EQ(gpuexec_context_users(ctx), 3);
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK_EQ(gpuexec_context_users(ctx), 1);
    CHECK(gpuexec_alloc(ctx, 64) != 0);
    CHECK_OK(gpuexec_context_close(ctx)); /* the last close destroys it */
    CHECK_EQ(gpuexec_context_users(ctx), 0);
    CHECK_RESULT(gpuexec_context_retain(ctx), GPUEXEC_STALE_HANDLE);
    gpuexec_take_error();
    CHECK_RESULT(gpuexec_context_close(ctx), GPUEXEC_STALE_HANDLE);
}

/* Three users of one context close it in any order; the last close destroys it. */
TEST(the_last_user_destroys) {
    static const int orders[6][3] = {
        { 0, 1, 2 },
        { 0, 2, 1 },
        { 1, 0, 2 },
        { 1, 2, 0 },
        { 2, 0, 1 },
        { 2, 1, 0 },
    };
    int i, k;
    const driver_calls cu = calls_find();
    if (!cu.cuCtxAttach) SKIP("this driver does not count a context's users");
    for (i = 0; i < 6; i++) {
        gpuexec_context user[3];
        struct CUctx_st *native;
        user[0] = gpuexec_context_create(0, NULL);
        native = gpuexec_context_native(user[0]);
        user[1] = gpuexec_context_attach(native);
        user[2] = gpuexec_context_attach(native);
        CHECK(user[0].id != user[1].id && user[1].id != user[2].id);
        for (k = 0; k < 3; k++) {
            gpuexec_ptr p;
            uint32_t word = 0, wanted = (uint32_t)(10 * i + k);
            CHECK_MADE(user[orders[i][k]]);
            p = gpuexec_alloc(user[orders[i][k]], 64);
            CHECK_OK(gpuexec_copy_in_now(user[orders[i][k]], p, &wanted, 4));
            CHECK_OK(gpuexec_copy_out_now(user[orders[i][k]], &word, p, 4));
            CHECK_EQ(word, wanted);
            CHECK_EQ(gpuexec_context_users(user[orders[i][k]]), 1); /* through its handle */
            CHECK_OK(gpuexec_context_close(user[orders[i][k]]));
            CHECK(!gpuexec_ok(user[orders[i][k]]));
            CHECK(get_current() == NULL);
        }
        CHECK_RESULT(gpuexec_context_sync(user[orders[i][2]]), GPUEXEC_STALE_HANDLE);
    }
}

/* The host counts with direct driver calls, and its context is current while ours is created and
   closed. */
TEST(a_count_beside_the_host_s) {
    void *native = NULL, *popped = NULL;
    gpuexec_context ctx;
    gpuexec_stream s;
    const driver_calls cu = calls_find();
    if (!cu.cuCtxAttach) SKIP("this driver does not count a context's users");
    CHECK_EQ(cu.cuCtxCreate_v2(&native, 0, 0), 0); /* the host: count 1, and current */
    ctx = gpuexec_context_attach(NULL);            /* we: 2 */
    CHECK_MADE(ctx);
    CHECK(gpuexec_context_native(ctx) == native && get_current() == native);
    CHECK_OK(gpuexec_context_close(ctx)); /* 1 */
    CHECK(get_current() == native);
    ctx = gpuexec_context_attach(native);
    s = gpuexec_stream_create(ctx, NULL);
    CHECK_EQ(cu.cuCtxDetach(native), 0); /* the host detaches: our context is still valid */
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(gpuexec_alloc(ctx, 64) != 0);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_OK(gpuexec_context_close(ctx)); /* 0 */
    CHECK(get_current() == NULL);
    CHECK(!gpuexec_ok(s));
}

/* A driver that does not count users: one close destroys a created context, and sharing is
   refused. */
TEST(a_driver_without_counts) {
    gpuexec_context own = gpuexec_context_create(0, NULL), user;
    struct CUctx_st *native = gpuexec_context_native(own);
    test_replace("cuCtxAttach", NULL);
    test_replace("cuCtxDetach", NULL);
    user = gpuexec_context_attach(native);
    CHECK(!gpuexec_ok(user));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
    CHECK_TEXT(gpuexec_error_text(),
            "context.c:", "does not count references to a context: it has no cuCtxAttach",
            "gpuexec_context_from_native", "before the context's owner");
    CHECK(get_current() == NULL);
    user = gpuexec_context_from_native(native);
    CHECK_MADE(user);
    CHECK_OK(gpuexec_context_close(own));
    CHECK_RESULT(gpuexec_context_close(user), GPUEXEC_STALE_HANDLE);
    user = gpuexec_context_attach(gpuexec_context_native(gpuexec_context_open(0, NULL)));
    CHECK_MADE(user); /* the primary context needs no cuCtxAttach */
}

/* The owner destroys a context that we adopted, and everything in it: every later use is an error,
   without a driver call. */
typedef struct lost {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_kernel fn;
    gpuexec_stream s;
    gpuexec_event e, e2;
    gpuexec_ptr p;
} lost;
static gpuexec_result lost_sync(lost *l) { return gpuexec_stream_sync(l->s); }
static gpuexec_result lost_query(lost *l) { return gpuexec_stream_query(l->s); }
static gpuexec_result lost_context(lost *l) { return gpuexec_context_sync(l->ctx); }
static gpuexec_result lost_record(lost *l) { return gpuexec_event_record(l->e, l->s); }
static gpuexec_result lost_event(lost *l) { return gpuexec_event_query(l->e); }
static gpuexec_result lost_wait(lost *l) { return gpuexec_stream_wait_event(l->s, l->e); }

static gpuexec_result lost_elapsed(lost *l) {
    return gpuexec_event_elapsed_ms(l->e, l->e2) < 0 ? gpuexec_error_detail()->result : GPUEXEC_OK;
}

static gpuexec_result lost_fill(lost *l) { return gpuexec_fill(l->s, l->p, 0, 1, 64); }

static gpuexec_result lost_alloc(lost *l) {
    return gpuexec_alloc(l->ctx, 64) ? GPUEXEC_OK : gpuexec_error_detail()->result;
}

static gpuexec_result lost_stream(lost *l) {
    return gpuexec_ok(gpuexec_stream_create(l->ctx, NULL)) ? GPUEXEC_OK
                                                           : gpuexec_error_detail()->result;
}

static gpuexec_result lost_kernel(lost *l) {
    return gpuexec_ok(gpuexec_kernel_get(l->mod, "add")) ? GPUEXEC_OK
                                                         : gpuexec_error_detail()->result;
}

static gpuexec_result lost_launch(lost *l) {
    return gpuexec_launch(l->fn, l->s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
}

static gpuexec_result lost_cooperative(lost *l) {
    return gpuexec_launch_cooperative(l->fn, l->s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
}

static gpuexec_result lost_point(lost *l) {
    return gpuexec_ok(gpuexec_stream_record(l->s, NULL)) ? GPUEXEC_OK
                                                         : gpuexec_error_detail()->result;
}

static gpuexec_result lost_push(lost *l) { return gpuexec_context_push(l->ctx); }
static gpuexec_result lost_unload(lost *l) { return gpuexec_module_unload(l->mod); }
static gpuexec_result lost_stream_destroy(lost *l) { return gpuexec_stream_destroy(l->s); }
static gpuexec_result lost_event_destroy(lost *l) { return gpuexec_event_destroy(l->e); }
static gpuexec_result lost_close(lost *l) { return gpuexec_context_close(l->ctx); }

TEST(an_adopted_context_that_its_owner_destroyed) {
    static gpuexec_result (*const next[])(lost *) = { lost_sync, lost_query, lost_context,
        lost_record, lost_event, lost_wait, lost_elapsed, lost_fill, lost_alloc, lost_stream,
        lost_kernel, lost_launch, lost_cooperative, lost_point, lost_push, lost_unload,
        lost_stream_destroy, lost_event_destroy, lost_close };
    void *native = NULL, *popped = NULL, *later = NULL;
    const size_t step = test_in_full() ? 1 : 3;
    size_t i;
    const driver_calls cu = calls_find();
    for (i = 0; i < sizeof next / sizeof next[0]; i += step) {
        lost l;
        CHECK_EQ(cu.cuCtxCreate_v2(&native, 0, 0), 0);
        CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
        l.ctx = gpuexec_context_from_native(native);
        l.mod = gpuexec_module_load_file(l.ctx, UNIT_PTX, NULL);
        l.fn = gpuexec_kernel_get(l.mod, "nothing");
        l.s = gpuexec_stream_create(l.ctx, NULL);
        l.e = gpuexec_event_create(l.ctx, NULL);
        l.e2 = gpuexec_event_create(l.ctx, NULL);
        l.p = gpuexec_alloc(l.ctx, 64);
        CHECK_OK(gpuexec_event_record(l.e, l.s));
        CHECK_OK(gpuexec_event_record(l.e2, l.s));
        CHECK_OK(gpuexec_launch(l.fn, l.s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
        CHECK_OK(gpuexec_stream_sync(l.s));
        CHECK_EQ(cu.cuCtxDestroy_v2(native), 0);
        if (i % 2) { /* perhaps at the same address */
            CHECK_EQ(cu.cuCtxCreate_v2(&later, 0, 0), 0);
            CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
        }
        CHECK_RESULT(next[i](&l), GPUEXEC_STALE_HANDLE);
        CHECK_TEXT(gpuexec_error_text(), "destroyed outside gpuexec", "gpuexec_context_attach");
        CHECK(!gpuexec_ok(l.ctx) && !gpuexec_ok(l.mod) && !gpuexec_ok(l.fn) && !gpuexec_ok(l.s) &&
                !gpuexec_ok(l.e));
        gpuexec_take_error();
        CHECK_RESULT(gpuexec_launch(l.fn, l.s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
                GPUEXEC_STALE_HANDLE);
        gpuexec_take_error();
        CHECK_RESULT(gpuexec_context_close(l.ctx), GPUEXEC_STALE_HANDLE);
        CHECK(gpuexec_free(l.p) != GPUEXEC_OK);
        if (i % 2) CHECK_EQ(cu.cuCtxDestroy_v2(later), 0);
        CHECK(get_current() == NULL);
    }
    CHECK(!gpuexec_ok(gpuexec_context_from_native(native))); /* and it can no longer be adopted */
    CHECK_TEXT(gpuexec_error_text(), "is not a context, or has been destroyed");
    gpuexec_take_error();
}

/* The runtime API resets the device, which destroys the primary context that we also opened. */
TEST_ALONE(the_primary_context_was_reset) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL), again;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_event e = gpuexec_event_create(ctx, NULL);
    const driver_calls cu = calls_find();
    CHECK(gpuexec_alloc(ctx, 64) != 0);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(cu.cuDevicePrimaryCtxReset_v2(0), 0);
    CHECK_RESULT(gpuexec_event_destroy(e), GPUEXEC_STALE_HANDLE);
    CHECK_TEXT(gpuexec_error_text(), "destroyed outside gpuexec");
    CHECK(!gpuexec_ok(s) && !gpuexec_ok(ctx));
    again = gpuexec_context_open(0, NULL);
    CHECK(gpuexec_alloc(again, 64) != 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxReset_v2(0), 0);
    CHECK_OK(gpuexec_shutdown()); /* there is nothing left to destroy */
}

/* The last close of a current context removes it from the stack, as cuCtxDestroy does. */
TEST(closing_the_current_context) {
    gpuexec_context below = gpuexec_context_open(0, NULL), ctx = gpuexec_context_create(0, NULL);
    CHECK_OK(gpuexec_context_push(below));
    CHECK_OK(gpuexec_context_push(ctx));
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(gpuexec_context_is_current(below));
    CHECK_OK(gpuexec_context_pop(below));
    CHECK(get_current() == NULL);
}

/* Attaching to the primary context retains it. */
TEST(a_count_of_the_primary_context) {
    gpuexec_context owner = gpuexec_context_open(0, NULL),
                    user = gpuexec_context_attach(gpuexec_context_native(owner));
    gpuexec_ptr p;
    CHECK_MADE(user);
    CHECK_OK(gpuexec_context_close(owner));
    p = gpuexec_alloc(user, 64);
    CHECK(p != 0);
    CHECK_OK(gpuexec_fill_now(user, p, 1, 1, 64));
    CHECK_OK(gpuexec_context_close(user));
    CHECK_EQ(set_current(NULL), 0);
    CHECK(!gpuexec_ok(gpuexec_context_attach(NULL)));
    CHECK_TEXT(gpuexec_error_text(), "so there is none to adopt");
    gpuexec_take_error();
}

TEST(push_and_pop) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    CHECK_OK(gpuexec_context_push(a));
    CHECK(gpuexec_context_is_current(a));
    CHECK_OK(gpuexec_context_push(b));
    CHECK(gpuexec_context_is_current(b) && !gpuexec_context_is_current(a));
    CHECK(gpuexec_alloc(a, 64) != 0); /* works in a, and leaves b current */
    CHECK(gpuexec_context_is_current(b));
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT); /* wrong order */
    CHECK_TEXT(gpuexec_error_text(), "is not current", "the context last pushed through gpuexec is",
            "context.c:", "reverse order");
    CHECK_OK(gpuexec_context_pop(b));
    CHECK(gpuexec_context_is_current(a));
    CHECK_OK(gpuexec_context_pop(a));
    CHECK(!gpuexec_context_is_current(a) && !gpuexec_context_is_current(b));
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT); /* the stack is empty */
}

/* A context passed around: created here, current on four threads in turn, two at a time, closed on
   the last. */
typedef struct relay {
    gpuexec_context ctx;
    gpuexec_ptr p;
    pthread_barrier_t *both;
    uint32_t number;
    int last;
} relay;
static void *takes_the_context_over(void *arg) {
    relay *r = (relay *)arg;
    uint32_t got = 0;
    const driver_calls cu = calls_find();
    CHECK(!gpuexec_context_is_current(r->ctx)); /* no context is current on a new thread */
    CHECK_RESULT(gpuexec_context_pop(r->ctx), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(),
            "this thread has already popped every context that it pushed through gpuexec",
            "pop on the thread that pushed");
    CHECK_OK(gpuexec_context_push(r->ctx));
    CHECK(gpuexec_context_is_current(r->ctx));
    if (r->both) pthread_barrier_wait(r->both); /* now current on two threads */
    CHECK_EQ(cu.cuMemcpyHtoD_v2(r->p + 4 * r->number, &r->number, 4), 0);
    /* direct driver calls work here */
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&got, r->p + 4 * r->number, 4), 0);
    CHECK_EQ(got, r->number);
    if (r->both) pthread_barrier_wait(r->both);
    CHECK_OK(gpuexec_context_pop(r->ctx));
    if (r->last) CHECK_OK(gpuexec_context_close(r->ctx));
    return NULL;
}

TEST(a_floating_context_goes_from_thread_to_thread) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 64);
    pthread_barrier_t both;
    pthread_t thread[2];
    relay r[2];
    uint32_t i;
    CHECK_OK(gpuexec_context_push(ctx));
    CHECK_OK(gpuexec_context_pop(ctx)); /* now it is floating */
    for (i = 0; i < 4; i++) {
        r[0] = (relay){ ctx, p, NULL, i, 0 };
        CHECK_EQ(pthread_create(&thread[0], NULL, takes_the_context_over, &r[0]), 0);
        pthread_join(thread[0], NULL);
    }
    pthread_barrier_init(&both, NULL, 2);
    for (i = 0; i < 2; i++) {
        r[i] = (relay){ ctx, p, &both, 4 + i, 0 };
        CHECK_EQ(pthread_create(&thread[i], NULL, takes_the_context_over, &r[i]), 0);
    }
    for (i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&both);
    r[0] = (relay){ ctx, p, NULL, 6, 1 };
    CHECK_EQ(pthread_create(&thread[0], NULL, takes_the_context_over, &r[0]), 0);
    pthread_join(thread[0], NULL);
    CHECK(!gpuexec_ok(ctx));
}

TEST(a_foreign_pop_is_noticed) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    void *popped = NULL;
    const driver_calls cu = calls_find();
    CHECK_OK(gpuexec_context_push(a));
    CHECK_OK(gpuexec_context_push(b));
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0); /* other code pops our context */
    CHECK(popped == gpuexec_context_native(b));
    CHECK_RESULT(gpuexec_context_pop(b), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(),
            "pushed at tests/header/unit/context.c:", "since been popped outside gpuexec",
            "the current one is", "cuCtxPopCurrent without a push");
    CHECK_OK(gpuexec_context_pop(a));

    CHECK_OK(gpuexec_context_push(a)); /* a pop that empties the stack */
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(), "pushed at tests/header/unit/context.c:",
            "since been popped outside gpuexec; no context is current");
    /* reported once; now there is nothing to pop */
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(),
            "no context is current, and this thread has already popped every context");
    CHECK_OK(gpuexec_context_push(b));
    CHECK_OK(gpuexec_context_pop(b));
    CHECK(get_current() == NULL);
}

TEST(a_foreign_push_is_noticed) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    void *popped = NULL;
    const driver_calls cu = calls_find();
    CHECK_OK(gpuexec_context_push(a));
    CHECK_EQ(cu.cuCtxPushCurrent_v2(gpuexec_context_native(b)), 0);
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(), "pushed at tests/header/unit/context.c:",
            "another context has since been pushed or set", "cuCtxPushCurrent");
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0); /* they undo it, and the stack is correct again */
    CHECK_OK(gpuexec_context_pop(a));
    CHECK(get_current() == NULL);
}

/* More pushes than the audit records. */
TEST(a_deep_stack) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    char text[256];
    int i;
    for (i = 0; i < 50; i++) CHECK_OK(gpuexec_context_push(i % 2 ? b : a));
    CHECK(gpuexec_context_stack_text(text, sizeof text) > sizeof text);
    CHECK_TEXT(text, "the last 18 pushes through gpuexec are not recorded");
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(),
            "this thread has pushed 50 contexts through gpuexec, of which only 32 are recorded");
    for (i = 50; i-- > 0;) CHECK_OK(gpuexec_context_pop(i % 2 ? b : a));
    CHECK(get_current() == NULL);
    CHECK_RESULT(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(), "this thread has already popped every context");
}

/* The text that describes the stack. */
TEST(the_stack_in_words) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    void *foreign = NULL, *popped = NULL;
    char text[1024], line[128];
    size_t n;
    const driver_calls cu = calls_find();
    CHECK(gpuexec_context_stack_text(text, sizeof text) > 0);
    CHECK_STRING(text, "no context is current\n");
    CHECK_EQ(cu.cuCtxCreate_v2(&foreign, 0, 0), 0); /* the host's, at the bottom */
    CHECK_OK(gpuexec_context_push(a));
    CHECK_OK(gpuexec_context_push(b));
    n = gpuexec_context_stack_text(text, sizeof text);
    CHECK_EQ(n, strlen(text));
    CHECK_EQ(gpuexec_context_stack_text(NULL, 0), n);
    CHECK_EQ(gpuexec_context_stack_text(line, 10), n);
    CHECK_EQ(strlen(line), 9); /* truncated, as by snprintf */
    snprintf(line, sizeof line,
            "context %p on device 0, current, pushed at tests/header/unit/context.c:",
            (void *)gpuexec_context_native(b));
    CHECK(strstr(text, line) == text);
    snprintf(line, sizeof line,
            "\n"
            "context %p on device 0, pushed at tests/header/unit/context.c:",
            (void *)gpuexec_context_native(a));
    CHECK_TEXT(text, line);
    snprintf(line, sizeof line, "\ncontext %p, not pushed through gpuexec\n", (void *)foreign);
    CHECK_TEXT(text, line);
    CHECK_OK(gpuexec_context_close(b)); /* destroyed, and therefore removed from the stack */
    gpuexec_context_stack_text(text, sizeof text);
    CHECK_TEXT(text, ", since closed, pushed at");
    CHECK_RESULT(gpuexec_context_pop(b), GPUEXEC_STALE_HANDLE);
    CHECK_OK(gpuexec_context_pop(a));
    CHECK(get_current() == foreign);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_EQ(cu.cuCtxDestroy_v2(foreign), 0);
}

/* A handle is closed while its context is current: others may still use the context, and the pop
   removes it. */
TEST(closed_before_it_is_popped) {
    gpuexec_context keeps = gpuexec_context_open(0, NULL), ctx = gpuexec_context_open(0, NULL);
    CHECK_OK(gpuexec_context_push(ctx));
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(gpuexec_context_is_current(keeps));
    CHECK_OK(gpuexec_context_pop(ctx));
    CHECK(get_current() == NULL);
    CHECK_RESULT(gpuexec_context_pop(ctx), GPUEXEC_STALE_HANDLE);
}

/* ---- the scope ---- */

static int leaves_by_return(gpuexec_context ctx) {
    GPUEXEC_CONTEXT_SCOPE(ctx) {
        CHECK(gpuexec_context_is_current(ctx));
        return 7;
    }
    return 8;
}
static void leaves_by_goto(gpuexec_context ctx) {
    GPUEXEC_CONTEXT_SCOPE(ctx) {
        if (gpuexec_context_is_current(ctx)) goto out;
        CHECK(0);
    }
out:
    return;
}

TEST(a_scope) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    void *popped = NULL;
    int i, runs = 0;
    const driver_calls cu = calls_find();
    GPUEXEC_CONTEXT_SCOPE(a) {
        runs++;
        CHECK(gpuexec_context_is_current(a));
        GPUEXEC_CONTEXT_SCOPE(b) {
            runs++;
            CHECK(gpuexec_context_is_current(b));
        }
        CHECK(gpuexec_context_is_current(a));
    }
    CHECK_EQ(runs, 2);
    CHECK(get_current() == NULL);
    for (i = 0; i < 3; i++) {
        GPUEXEC_CONTEXT_SCOPE(b) {
            if (i == 1) break;
            if (i == 2) continue;
            runs++;
        }
        CHECK(get_current() == NULL);
    }
    CHECK_EQ(runs, 3);
    CHECK_EQ(leaves_by_return(a), 7);
    CHECK(get_current() == NULL);
    leaves_by_goto(a);
    CHECK(get_current() == NULL);
    CHECK_OK(gpuexec_take_error());

    GPUEXEC_CONTEXT_SCOPE((gpuexec_context){ 0 }) runs = 100; /* not entered, and reported */
    CHECK_EQ(runs, 3);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_HANDLE);
    GPUEXEC_CONTEXT_SCOPE(a) CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_WRONG_CONTEXT);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_CONTEXT_SCOPE",
            "context.c:", "since been popped outside gpuexec");
}

/* ---- the users of all handles ---- */

TEST(the_users_of_all_handles) {
    gpuexec_context made = gpuexec_context_create(0, NULL), a, b, adopted, opened;
    a = gpuexec_context_attach(gpuexec_context_native(made));
    b = gpuexec_context_attach(gpuexec_context_native(made));
    CHECK_EQ(gpuexec_context_usage(made), 3);
    CHECK_EQ(gpuexec_context_usage(a), 3);
    adopted = gpuexec_context_from_native(gpuexec_context_native(made));
    CHECK_EQ(gpuexec_context_usage(adopted), 3); /* it does not keep the context */
    opened = gpuexec_context_open(0, NULL);
    CHECK_EQ(gpuexec_context_usage(opened), 1); /* another context */
    CHECK_OK(gpuexec_context_retain(b));
    CHECK_EQ(gpuexec_context_usage(made), 4);
    CHECK_EQ(gpuexec_context_users(b), 2);
    CHECK_OK(gpuexec_context_close(made));
    CHECK_EQ(gpuexec_context_usage(b), 3);
    CHECK_OK(gpuexec_context_close(b));
    CHECK_OK(gpuexec_context_close(b));
    CHECK_EQ(gpuexec_context_usage(a), 1);
    CHECK_EQ(gpuexec_context_usage(adopted), 1);
    CHECK_OK(gpuexec_context_close(adopted));
    CHECK_OK(gpuexec_context_close(a));
    CHECK_EQ(gpuexec_context_usage(a), 0);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_context_usage: the context is stale");
    CHECK_OK(gpuexec_take_error()); /* a query */
    a = gpuexec_context_open(0, NULL);
    b = gpuexec_context_attach(gpuexec_context_native(opened));
    CHECK_EQ(gpuexec_context_usage(opened), 3);
}

/* ---- the primary context ---- */

TEST_ALONE(the_state_of_the_primary_context) {
    gpuexec_context ctx;
    unsigned flags = 77;
    int active = 77;
    CHECK_OK(gpuexec_primary_get_state(0, &flags, &active));
    CHECK(flags == 0 && active == 0);
    CHECK_OK(gpuexec_primary_set_flags(0, 4));
    CHECK_OK(gpuexec_primary_get_state(0, &flags, NULL));
    CHECK_EQ(flags, 4);
    ctx = gpuexec_context_open(0, NULL);
    CHECK_OK(gpuexec_primary_get_state(0, &flags, &active));
    CHECK(flags == 4 && active == 1);
    CHECK_OK(gpuexec_primary_set_flags(0, 1)); /* also while it is active */
    CHECK_OK(gpuexec_primary_get_state(0, &flags, &active));
    CHECK(flags == 1 && active == 1);
    CHECK_REFUSED(gpuexec_primary_set_flags(0, 0x1000), GPUEXEC_BAD_ARGUMENT,
            "cannot set flags 4096 on the primary context of device 0",
            "cuDevicePrimaryCtxSetFlags returned");
    CHECK_REFUSED(gpuexec_primary_set_flags(999, 0), GPUEXEC_NO_DEVICE, "there is no device 999");
    CHECK_FAILED(gpuexec_primary_get_state(-1, &flags, &active), GPUEXEC_NO_DEVICE,
            "there is no device -1");
    CHECK(flags == 0 && active == 0);
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK_OK(gpuexec_primary_get_state(0, NULL, &active));
    CHECK_EQ(active, 0);
}

TEST_ALONE(a_reset_of_the_primary_context) {
    const driver_calls cu = calls_find();
    gpuexec_context opened = gpuexec_context_open(0, NULL), adopted, made;
    struct CUctx_st *native = gpuexec_context_native(opened);
    gpuexec_ptr p = gpuexec_alloc(opened, 64);
    unsigned flags = 77;
    int active = 77;
    adopted = gpuexec_context_from_native(native);
    made = gpuexec_context_create(0, NULL); /* it is not the primary one */
    CHECK_FAILED(gpuexec_primary_reset(0), GPUEXEC_BAD_ARGUMENT,
            "cannot reset the primary context of device 0: gpuexec has 2 handles to it",
            "opened at tests/header/unit/context.c:", "adopted at tests/header/unit/context.c:",
            "close each of these handles first");
    CHECK_OK(gpuexec_fill_now(opened, p, 1, 1, 64));                        /* nothing was lost */
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain((gxi_cu_context *)&native, 0), 0); /* other code */
    CHECK_OK(gpuexec_context_close(opened));
    CHECK_FAILED(gpuexec_primary_reset(0), GPUEXEC_BAD_ARGUMENT, "gpuexec has 1 handle to it",
            "adopted at tests/header/unit/context.c:");
    CHECK_OK(gpuexec_context_close(adopted));
    adopted = gpuexec_context_from_native(gpuexec_context_native(made)); /* of another context */
    CHECK_OK(gpuexec_primary_set_flags(0, 1));
    CHECK_OK(gpuexec_primary_reset(0));
    CHECK_OK(gpuexec_primary_get_state(0, &flags, &active));
    CHECK(flags == 0 && active == 0);
    CHECK_OK(gpuexec_context_sync(made));
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
    opened = gpuexec_context_open(0, NULL);
    CHECK(gpuexec_alloc(opened, 64) != 0);
    CHECK_OK(gpuexec_context_close(opened));
    CHECK_OK(gpuexec_primary_reset(0)); /* nothing to destroy */
    CHECK_FAILED(gpuexec_primary_reset(999), GPUEXEC_NO_DEVICE, "there is no device 999");
}

/* ---- set instead of pushed ---- */

TEST(set_instead_of_pushed) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    char text[1024], line[128];
    CHECK_OK(gpuexec_context_set_current(a)); /* as a push: the stack was empty */
    CHECK(gpuexec_context_is_current(a));
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK(gpuexec_context_is_current(b));
    CHECK(gpuexec_context_stack_text(text, sizeof text) > 0);
    snprintf(line, sizeof line,
            "context %p on device 0, current, set at tests/header/unit/context.c:",
            (void *)gpuexec_context_native(b));
    CHECK_TEXT(text, line);
    CHECK(!strchr(text, '\n')[1]); /* the only line */
    CHECK_FAILED(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT, "is not current",
            "the context last set through gpuexec is", ", set at tests/header/unit/context.c:");
    CHECK_OK(gpuexec_context_pop(b));
    CHECK(get_current() == NULL);

    CHECK_OK(gpuexec_context_push(a)); /* what was pushed is replaced, and what is below stays */
    CHECK_OK(gpuexec_context_push(a));
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK_OK(gpuexec_context_pop(b));
    CHECK(gpuexec_context_is_current(a));
    CHECK_OK(gpuexec_context_pop(a));
    CHECK(get_current() == NULL);
    CHECK_FAILED(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT, "has already popped every context");

    CHECK_REFUSED(gpuexec_context_set_current((gpuexec_context){ 0 }), GPUEXEC_BAD_HANDLE,
            "the context was never created");
    CHECK_OK(gpuexec_context_close(b));
    CHECK_REFUSED(gpuexec_context_set_current(b), GPUEXEC_STALE_HANDLE, "the context is stale");
    CHECK(get_current() == NULL);
}

/* Other code moves the stack in between. */
TEST(set_beside_other_code) {
    const driver_calls cu = calls_find();
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    void *foreign = NULL, *popped = NULL;
    char text[1024];
    int i;
    CHECK_EQ(cu.cuCtxCreate_v2(&foreign, 0, 0), 0);
    CHECK_OK(gpuexec_context_set_current(a)); /* in the place of another library's */
    CHECK_OK(gpuexec_context_pop(a));
    CHECK(get_current() == NULL);

    CHECK_OK(gpuexec_context_push(a)); /* a pushed one of theirs is replaced; ours is below */
    CHECK_EQ(cu.cuCtxPushCurrent_v2(foreign), 0);
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK(gpuexec_context_stack_text(text, sizeof text) > 0);
    CHECK_TEXT(text, ", current, set at", ", pushed at");
    CHECK_OK(gpuexec_context_pop(b));
    CHECK_OK(gpuexec_context_pop(a));
    CHECK(get_current() == NULL);

    CHECK_OK(gpuexec_context_push(a)); /* they pop ours, and ours below it is replaced */
    CHECK_OK(gpuexec_context_push(b));
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK_OK(gpuexec_context_pop(b));
    CHECK(get_current() == NULL);

    CHECK_OK(gpuexec_context_push(a)); /* they pop all */
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK(gpuexec_context_stack_text(text, sizeof text) > 0);
    CHECK(!strchr(text, '\n')[1]);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_FAILED(gpuexec_context_pop(b), GPUEXEC_WRONG_CONTEXT,
            ", set at tests/header/unit/context.c:", "has since been popped outside gpuexec");

    CHECK_EQ(cu.cuCtxPushCurrent_v2(foreign), 0); /* one that gpuexec does not know is uncovered */
    CHECK_EQ(cu.cuCtxPushCurrent_v2(foreign), 0);
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_FAILED(gpuexec_context_pop(b), GPUEXEC_WRONG_CONTEXT,
            "is no longer current: another context has since been pushed or set, or has become "
            "current through a pop");
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    CHECK_EQ(cu.cuCtxDestroy_v2(foreign), 0);
    CHECK(get_current() == NULL);

    for (i = 0; i < 40; i++) CHECK_OK(gpuexec_context_push(a)); /* more than are recorded */
    CHECK_OK(gpuexec_context_set_current(b));
    CHECK_OK(gpuexec_context_pop(b));
    for (i = 1; i < 40; i++) CHECK_OK(gpuexec_context_pop(a));
    CHECK(get_current() == NULL);
    CHECK_OK(gpuexec_context_set_current(a));
    CHECK_OK(gpuexec_context_pop(a));
}

/* ---- the preferred cache ---- */

TEST(the_preferred_cache) {
    gpuexec_context a = gpuexec_context_create(0, NULL), b = gpuexec_context_create(0, NULL);
    gpuexec_cache prefer = GPUEXEC_CACHE_PREFER_EQUAL;
    CHECK_OK(gpuexec_context_get_cache(a, &prefer));
    CHECK_EQ(prefer, GPUEXEC_CACHE_NO_PREFERENCE);
    CHECK_OK(gpuexec_context_set_cache(a, GPUEXEC_CACHE_PREFER_L1));
    CHECK_OK(gpuexec_context_get_cache(a, &prefer));
    /* a GPU whose sizes are fixed has no preference */
    if (prefer != GPUEXEC_CACHE_NO_PREFERENCE || on_cpu_device())
        CHECK_EQ(prefer, GPUEXEC_CACHE_PREFER_L1);
    CHECK_OK(gpuexec_context_get_cache(b, &prefer));
    CHECK_EQ(prefer, GPUEXEC_CACHE_NO_PREFERENCE); /* each context has its own */
    CHECK_REFUSED(gpuexec_context_set_cache(a, (gpuexec_cache)4), GPUEXEC_BAD_ARGUMENT,
            "4 is not a gpuexec_cache", "GPUEXEC_CACHE_PREFER_EQUAL (3)");
    CHECK_FAILED(gpuexec_context_get_cache(a, NULL), GPUEXEC_BAD_ARGUMENT, "\"prefer\" is NULL");
    CHECK_OK(gpuexec_context_close(b));
    CHECK_REFUSED(gpuexec_context_set_cache(b, GPUEXEC_CACHE_PREFER_L1), GPUEXEC_STALE_HANDLE,
            "the context is stale");
    CHECK_FAILED(
            gpuexec_context_get_cache(b, &prefer), GPUEXEC_STALE_HANDLE, "the context is stale");
    CHECK(get_current() == NULL);
}

/* ---- waits for a device, and for all ---- */

static gpuexec_event busy(const setting *s) { /* after work that takes some time */
    gpuexec_dims many = gpuexec_grid(2000, 256, 0);
    CHECK_OK(gpuexec_launch(s->kernel, s->stream, many, GPUEXEC_ARGS(s->data)));
    return gpuexec_stream_record(s->stream, NULL);
}

TEST_MULTI(waits_for_devices) {
    const int devices = gpuexec_device_count() > 1 ? 2 : 1;
    gpuexec_context made = gpuexec_context_create(0, NULL);
    setting on[3];
    gpuexec_event done[3];
    int i, round;
    CHECK_OK(gpuexec_sync_all());
    on[0] = set_up_on(0, UNIT_PTX, "count", 4);
    on[1] = on[0]; /* on the same device, in another context */
    on[1].ctx = made;
    on[1].kernel = gpuexec_kernel_get(gpuexec_module_load_file(made, UNIT_PTX, NULL), "count");
    on[1].stream = gpuexec_stream_create(made, NULL);
    on[1].data = gpuexec_alloc(made, 4);
    if (devices > 1) on[2] = set_up_on(1, UNIT_PTX, "count", 4);
    for (round = 0; round < 2; round++) {
        for (i = 0; i < devices + 1; i++) done[i] = busy(&on[i]);
        CHECK_OK(round ? gpuexec_sync_all() : gpuexec_device_sync(0));
        CHECK_OK(gpuexec_event_query(done[0]));
        CHECK_OK(gpuexec_event_query(done[1]));
        if (devices > 1) {
            if (!round) CHECK_OK(gpuexec_device_sync(1));
            CHECK_OK(gpuexec_event_query(done[2]));
        }
    }
    CHECK(get_current() == NULL);
    CHECK_FAILED(gpuexec_device_sync(999), GPUEXEC_NO_DEVICE, "there is no device 999");
    CHECK_FAILED(gpuexec_device_sync(-1), GPUEXEC_NO_DEVICE, "there is no device -1");
}

static void *a_call_that_fails(void *arg) { /* on another thread: it marks the stream */
    const setting *s = (const setting *)arg;
    CHECK_RESULT(gpuexec_fill(s->stream, 0, 0, 4, 1), GPUEXEC_BAD_ARGUMENT);
    return NULL;
}

TEST(waits_for_devices_return_failures) {
    setting s = set_up(UNIT_PTX, "count", 4), t;
    pthread_t thread;
    int all;
    t = s;
    t.ctx = gpuexec_context_create(0, NULL);
    t.stream = gpuexec_stream_create(t.ctx, NULL);
    for (all = 0; all < 2; all++) {
        gpuexec_module_load_file(s.ctx, "no/such/file", NULL); /* latched here */
        CHECK_RESULT(all ? gpuexec_sync_all() : gpuexec_device_sync(0), GPUEXEC_FILE_ERROR);
        CHECK_OK(all ? gpuexec_sync_all() : gpuexec_device_sync(0));
        CHECK_EQ(pthread_create(&thread, NULL, a_call_that_fails, all ? &s : &t), 0);
        pthread_join(thread, NULL);
        CHECK_RESULT(all ? gpuexec_sync_all() : gpuexec_device_sync(0), GPUEXEC_BAD_ARGUMENT);
        CHECK_OK(all ? gpuexec_sync_all() : gpuexec_device_sync(0));
    }
    CHECK_OK(gpuexec_capture_begin(t.stream, NULL));
    CHECK_FAILED(gpuexec_device_sync(0), GPUEXEC_CAPTURING,
            "cannot wait for device 0: the stream created at tests/header/unit/context.c:",
            "is capturing", "end the capture first");
    CHECK_FAILED(gpuexec_sync_all(), GPUEXEC_CAPTURING, "cannot wait for all devices");
    CHECK(gpuexec_stream_is_capturing(t.stream)); /* and it can go on */
    CHECK_MADE(gpuexec_capture_end(t.stream));
    CHECK_OK(gpuexec_sync_all());
    CHECK(get_current() == NULL);
}

/* A context that its owner destroyed is reported once, and does not prevent the other waits. */
TEST(waits_for_devices_and_a_destroyed_context) {
    const driver_calls cu = calls_find();
    setting s = set_up(UNIT_PTX, "count", 4);
    void *native = NULL, *popped = NULL;
    gpuexec_context adopted;
    gpuexec_event done;
    CHECK_EQ(cu.cuCtxCreate_v2(&native, 0, 0), 0);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&popped), 0);
    adopted = gpuexec_context_from_native((struct CUctx_st *)native);
    CHECK_OK(gpuexec_device_sync(0));
    CHECK_EQ(cu.cuCtxDestroy_v2(native), 0);
    done = busy(&s);
    CHECK_FAILED(gpuexec_sync_all(), GPUEXEC_STALE_HANDLE, "destroyed outside gpuexec",
            "adopted at tests/header/unit/context.c:");
    CHECK_OK(gpuexec_event_query(done));
    CHECK(!gpuexec_ok(adopted));
    CHECK_OK(gpuexec_sync_all());
}

/* Contexts come and go on one thread while another waits for their device. */
static int closing_ended; /* atomic */
static void *contexts_come_and_go(void *arg) {
    int i;
    (void)arg;
    for (i = 0; i < 30; i++) {
        gpuexec_context ctx = gpuexec_context_create(0, NULL);
        gpuexec_ptr p = gpuexec_alloc(ctx, 256);
        CHECK_OK(gpuexec_fill(gpuexec_stream_create(ctx, NULL), p, 0, 1, 256));
        CHECK_OK(gpuexec_context_close(ctx));
    }
    __atomic_store_n(&closing_ended, 1, __ATOMIC_RELEASE);
    return NULL;
}
TEST(waits_for_devices_whose_contexts_come_and_go) {
    gpuexec_context keeps = gpuexec_context_open(0, NULL);
    pthread_t thread;
    closing_ended = 0;
    CHECK_MADE(keeps);
    CHECK_EQ(pthread_create(&thread, NULL, contexts_come_and_go, NULL), 0);
    while (!__atomic_load_n(&closing_ended, __ATOMIC_ACQUIRE)) {
        if (!CHECK_OK(gpuexec_device_sync(0))) break;
        if (!CHECK_OK(gpuexec_sync_all())) break;
    }
    pthread_join(thread, NULL);
    CHECK(get_current() == NULL);
}

/* ---- the profiler ---- */

static void *profiled; /* the context that was current */
static int starts, stops, profiler_fails;
static int play_profiler_start(void) {
    starts++;
    profiled = get_current();
    return profiler_fails;
}
static int play_profiler_stop(void) {
    stops++;
    profiled = get_current();
    return profiler_fails;
}

TEST(the_profiler) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    test_function start, stop;
    CHECK_OK(gpuexec_profiler_start(ctx));
    CHECK_OK(gpuexec_profiler_stop(ctx));
    CHECK_OK(gpuexec_profiler_stop(ctx));
    starts = stops = profiler_fails = 0;
    start = test_replace("cuProfilerStart", (test_function)play_profiler_start);
    stop = test_replace("cuProfilerStop", (test_function)play_profiler_stop);
    CHECK(start && stop);
    CHECK_OK(gpuexec_profiler_start(ctx));
    CHECK(starts == 1 && profiled == gpuexec_context_native(ctx));
    profiled = NULL;
    CHECK_OK(gpuexec_profiler_stop(ctx));
    CHECK(stops == 1 && profiled == gpuexec_context_native(ctx));
    profiler_fails = 999;
    CHECK_REFUSED(gpuexec_profiler_start(ctx), GPUEXEC_DRIVER_ERROR, "cannot start the profiler",
            "cuProfilerStart returned");
    CHECK_FAILED(gpuexec_profiler_stop(ctx), GPUEXEC_DRIVER_ERROR, "cannot stop the profiler",
            "cuProfilerStop returned");
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK_REFUSED(gpuexec_profiler_start(ctx), GPUEXEC_STALE_HANDLE, "the context is stale");
    CHECK_FAILED(gpuexec_profiler_stop(ctx), GPUEXEC_STALE_HANDLE, "the context is stale");
    CHECK(get_current() == NULL);
}

/* ---- limits and priorities ---- */

TEST(limits) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL), other = gpuexec_context_create(0, NULL);
    size_t stack = 0, is = 0, heap = 0;
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_STACK, &stack));
    CHECK(stack > 0);
    CHECK_OK(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_STACK, 5000));
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_STACK, &is));
    CHECK(is >= 5000 && is < 6000);
    CHECK_OK(gpuexec_context_get_limit(other, GPUEXEC_LIMIT_STACK, &is));
    CHECK_EQ(is, stack); /* each context has its own */
    CHECK_OK(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_PRINTF_FIFO, (size_t)2 << 20));
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_PRINTF_FIFO, &is));
    CHECK(is >= (size_t)2 << 20);
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_MALLOC_HEAP, &heap));
    CHECK_OK(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_MALLOC_HEAP, heap * 2));
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_MALLOC_HEAP, &is));
    CHECK(is >= heap * 2);
    CHECK(get_current() == NULL);
    CHECK_OK(gpuexec_take_error());
}

/* Limits that a device does not have, or not in that size. */
TEST(limits_that_cannot_be) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    size_t before = 0, is = 0;
    char text[128];
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_STACK, &before));
    CHECK_RESULT(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_STACK, (size_t)1 << 50),
            GPUEXEC_BAD_ARGUMENT);
    snprintf(text, sizeof text,
            "cannot set limit STACK of device 0's context to 1125899906842624: it is still %llu",
            (unsigned long long)before);
    CHECK_TEXT(gpuexec_error_text(), text, "cuCtxSetLimit");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_STACK, &is));
    CHECK_EQ(is, before);
    CHECK_REFUSED(gpuexec_context_set_limit(ctx, (gpuexec_limit)99, 1), GPUEXEC_BAD_ARGUMENT,
            "99 is not a gpuexec_limit; the last valid value is GPUEXEC_LIMIT_PERSISTING_L2 (6)");
    CHECK_RESULT(gpuexec_context_get_limit(ctx, (gpuexec_limit)7, &is), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "7 is not a gpuexec_limit");
    CHECK_RESULT(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_STACK, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "\"value\" is NULL");
    CHECK_OK(gpuexec_take_error()); /* queries latch nothing */
}

TEST(a_limit_that_the_device_does_not_have) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    size_t is = 0;
    if (gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_SYNC_DEPTH, &is) == GPUEXEC_OK)
        SKIP("this device has all limits");
    CHECK_RESULT(
            gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_SYNC_DEPTH, &is), GPUEXEC_NOT_SUPPORTED);
    CHECK_TEXT(
            gpuexec_error_text(), "limit SYNC_DEPTH is not supported by device 0", "cuCtxGetLimit");
    CHECK_REFUSED(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_SYNC_DEPTH, 2),
            GPUEXEC_NOT_SUPPORTED, "limit SYNC_DEPTH is not supported by device 0",
            "cuCtxSetLimit");
}

/* A driver that returns success and sets a lower limit. */
TEST(a_limit_that_the_device_cuts) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    size_t is = 0;
    char text[128];
    if (gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_PRINTF_FIFO, (size_t)1 << 50) == GPUEXEC_OK)
        SKIP("this device takes a printf buffer of any size");
    CHECK_OK(gpuexec_context_get_limit(ctx, GPUEXEC_LIMIT_PRINTF_FIFO, &is));
    snprintf(text, sizeof text,
            "cannot set limit PRINTF_FIFO to 1125899906842624: device 0 allows at most %llu, which "
            "is the current limit",
            (unsigned long long)is);
    CHECK_TEXT(gpuexec_error_text(), text, "request less");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
}

TEST(the_range_of_priorities) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int least = 99, greatest = 99, again = 99;
    CHECK_OK(gpuexec_context_get_priorities(ctx, &least, &greatest));
    CHECK_EQ(least, 0);
    CHECK(greatest <= least);
    CHECK_OK(gpuexec_context_get_priorities(ctx, NULL, &again));
    CHECK_EQ(again, greatest);
    CHECK_RESULT(gpuexec_context_get_priorities((gpuexec_context){ 0 }, &least, &greatest),
            GPUEXEC_BAD_HANDLE);
}

/* ---- after a fork, and at the end of the process ---- */

static gpuexec_context parents;
static int in_a_child(void (*work)(void)) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        test_failures = 0;
        work();
        fflush(NULL);
        _exit(test_failures != 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
static void use_the_parents_context(void) {
    size_t value = 0;
    char text[64] = "x";
    int least = 0, greatest = 0, runs = 0;
    CHECK_RESULT(gpuexec_context_pop(parents), GPUEXEC_FORKED); /* it was current in the parent */
    CHECK_TEXT(gpuexec_error_text(), "was forked from process");
    CHECK_RESULT(gpuexec_context_push(parents), GPUEXEC_FORKED);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FORKED);
    GPUEXEC_CONTEXT_SCOPE(parents) runs++;
    CHECK_EQ(runs, 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FORKED);
    CHECK(!gpuexec_ok(gpuexec_context_attach((struct CUctx_st *)(void *)&value)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FORKED);
    CHECK(!gpuexec_ok(gpuexec_stream_per_thread(parents)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FORKED);
    CHECK_RESULT(gpuexec_context_get_limit(parents, GPUEXEC_LIMIT_STACK, &value), GPUEXEC_FORKED);
    CHECK_RESULT(gpuexec_context_get_priorities(parents, &least, &greatest), GPUEXEC_FORKED);
    CHECK_EQ(gpuexec_context_stack_text(text, sizeof text), 0);
    CHECK_STRING(text, "");
    CHECK_RESULT(gpuexec_context_close(parents), GPUEXEC_FORKED);
    gpuexec_shutdown();
}

TEST_ALONE(a_forked_child) {
    parents = gpuexec_context_create(0, NULL);
    CHECK_OK(gpuexec_context_push(parents));
    CHECK(in_a_child(use_the_parents_context));
    CHECK(gpuexec_context_is_current(parents));
    CHECK_OK(gpuexec_context_pop(parents));
    CHECK(gpuexec_alloc(parents, 64) != 0);
    CHECK_OK(gpuexec_context_close(parents));
}

/* A driver that is shutting down because the process exits has destroyed everything. Clean-up is
   then complete, and reports nothing. */
static int logged;

static void count_log(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    (void)text;
    logged += level != GPUEXEC_LOG_TRACE;
}

TEST_ALONE(clean_up_after_the_driver_s_end) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    /* CUDA_ERROR_DEINITIALIZED; call 1 is part of creating the context */
    setenv("SIMGPU_FAIL", "cuCtxGetId:2:4", 1);
    desc.log = count_log;
    if (!on_cpu_device()) SKIP("only the CPU device can simulate it");
    CHECK_OK(gpuexec_setup(&desc));
    if (gpuexec_driver_version() < 12000) SKIP("this driver uses another call");
    ctx = gpuexec_context_open(0, NULL);
    CHECK(gpuexec_alloc(ctx, 64) != 0);
    CHECK_MADE(gpuexec_stream_create(ctx, NULL));
    CHECK_MADE(gpuexec_event_create(ctx, NULL));
    CHECK_OK(gpuexec_shutdown());
    CHECK_EQ(logged, 0);
    CHECK(!gpuexec_ok(ctx));
}

/* ---- each driver call of this section fails once ---- */

static const char *failing; /* the driver call, as in SIMGPU_FAIL */
static int reported;        /* how many calls reported that it had failed */
static int ok(gpuexec_result r) {
    const gpuexec_error *e = gpuexec_error_detail();
    if (r != GPUEXEC_OK && e->driver_call &&
            strncmp(failing, e->driver_call, strlen(e->driver_call)) == 0)
        reported++;
    return r == GPUEXEC_OK;
}
static int made(int is_ok) { return ok(is_ok ? GPUEXEC_OK : gpuexec_error_detail()->result); }

/* Returns 1 if everything worked. */
static int use_contexts_streams_and_events(void) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b, c;
    gpuexec_stream s;
    gpuexec_stream_info info;
    gpuexec_event e;
    size_t value = 0;
    int least = 0, greatest = 0, all = 1, pushed, runs = 0;
    all &= made(gpuexec_ok(a));
    b = gpuexec_context_create(0, NULL);
    all &= made(gpuexec_ok(b));
    c = gpuexec_context_attach(gpuexec_context_native(b));
    all &= made(gpuexec_ok(c));
    gpuexec_take_error();
    pushed = ok(gpuexec_context_push(b));
    all &= pushed;
    if (pushed) all &= ok(gpuexec_context_pop(b)) || (ok(gpuexec_context_pop(b)), 0);
    GPUEXEC_CONTEXT_SCOPE(b) runs++;
    all &= runs;
    gpuexec_take_error();
    all &= ok(gpuexec_context_set_limit(b, GPUEXEC_LIMIT_STACK, 2048));
    all &= ok(gpuexec_context_get_limit(b, GPUEXEC_LIMIT_STACK, &value));
    all &= ok(gpuexec_context_get_priorities(b, &least, &greatest));
    gpuexec_take_error();
    s = gpuexec_stream_create(b, NULL);
    all &= made(gpuexec_ok(s));
    gpuexec_take_error();
    all &= ok(gpuexec_stream_get_info(s, &info));
    e = gpuexec_stream_record(s, NULL);
    all &= made(gpuexec_ok(e));
    gpuexec_take_error();
    all &= ok(gpuexec_event_sync(e));
    if (gpuexec_ok(e)) all &= made(gpuexec_event_elapsed_ms(e, e) >= 0);
    all &= ok(gpuexec_event_destroy(e));
    all &= ok(gpuexec_stream_destroy(s));
    all &= ok(gpuexec_context_close(c));
    all &= ok(gpuexec_context_close(b));
    all &= ok(gpuexec_context_close(a));
    gpuexec_take_error();
    CHECK(get_current() == NULL);
    return all;
}
static void with_a_failing_call(void) {
    setenv("SIMGPU_FAIL", failing, 1);
    CHECK(!use_contexts_streams_and_events());
    CHECK(reported > 0);
    CHECK(use_contexts_streams_and_events()); /* and everything works again */
    CHECK_OK(gpuexec_shutdown());
}

TEST_ALONE(each_driver_call_fails_once) {
    static const char *const calls[] = { "cuDevicePrimaryCtxRetain:1:2", "cuCtxCreate:1:2",
        "cuCtxPopCurrent:1:999", "cuCtxAttach:1:801", "cuCtxDetach:1:999", "cuCtxPushCurrent:1:2",
        "cuCtxPushCurrent:2:2", "cuCtxPopCurrent:3:999", "cuCtxGetCurrent:2:999",
        "cuCtxSetLimit:1:999", "cuCtxGetLimit:2:999", "cuCtxGetStreamPriorityRange:1:999",
        "cuStreamCreateWithPriority:1:2", "cuStreamGetFlags:1:999", "cuStreamGetPriority:1:999",
        "cuEventCreate:1:2", "cuEventRecord:1:2", "cuEventSynchronize:1:999",
        "cuEventElapsedTime:1:999", "cuEventDestroy:1:999", "cuStreamDestroy:1:999",
        "cuDevicePrimaryCtxRelease:2:999" };
    size_t i;
    if (!on_cpu_device()) SKIP("only the CPU device can let a call fail");
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        failing = calls[i];
        if (!CHECK(in_a_child(with_a_failing_call))) printf("  with %s\n", failing);
    }
}
