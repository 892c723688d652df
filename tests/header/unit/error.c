/* error.c - how failures propagate: failed handles, the thread's latch, and the error text. */
#include "../../test.h"

/* The objects that most tests here use. */

enum { WORDS = 64, BYTES = WORDS * 4 };

static setting begin(void) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    s.a = gpuexec_event_create(s.ctx, NULL);
    return s;
}

static gpuexec_result add_to(const setting *s, gpuexec_stream stream, uint32_t by) {
    uint32_t n = WORDS;
    return gpuexec_launch(s->kernel, stream, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(s->data, by, n));
}

static uint32_t first_word(const setting *s) {
    uint32_t word = 0xdeadbeef;
    CHECK_OK(gpuexec_copy_out_now(s->ctx, &word, s->data, sizeof word));
    return word;
}

/* Two failures with different reasons. */
static gpuexec_module fail_with_file_error(const setting *s) {
    return gpuexec_module_load_file(s->ctx, "no/such/file.ptx", NULL);
}

static gpuexec_kernel fail_with_not_found(const setting *s) {
    return gpuexec_kernel_get(s->mod, "no_such_kernel");
}

TEST(nothing_failed_yet) {
    const gpuexec_error *e = gpuexec_error_detail();
    CHECK_STRING(gpuexec_error_text(), "");
    CHECK(e != NULL);
    CHECK_EQ(e->result, GPUEXEC_OK);
    CHECK_EQ(e->driver_result, 0);
    CHECK_STRING(e->text, "");
    CHECK(e->driver_result_name == NULL && e->driver_call == NULL && e->log == NULL &&
            e->cure == NULL);
    CHECK_OK(gpuexec_take_error());
}

TEST(result_names) {
    static const struct {
        gpuexec_result result;
        const char *name;
    } names[] = {
        { GPUEXEC_OK, "GPUEXEC_OK" },
        { GPUEXEC_NOT_READY, "GPUEXEC_NOT_READY" },
        { GPUEXEC_BAD_ARGUMENT, "GPUEXEC_BAD_ARGUMENT" },
        { GPUEXEC_BAD_HANDLE, "GPUEXEC_BAD_HANDLE" },
        { GPUEXEC_STALE_HANDLE, "GPUEXEC_STALE_HANDLE" },
        { GPUEXEC_WRONG_KIND, "GPUEXEC_WRONG_KIND" },
        { GPUEXEC_WRONG_CONTEXT, "GPUEXEC_WRONG_CONTEXT" },
        { GPUEXEC_TOO_LATE, "GPUEXEC_TOO_LATE" },
        { GPUEXEC_NO_DRIVER, "GPUEXEC_NO_DRIVER" },
        { GPUEXEC_OLD_DRIVER, "GPUEXEC_OLD_DRIVER" },
        { GPUEXEC_NO_DEVICE, "GPUEXEC_NO_DEVICE" },
        { GPUEXEC_FORKED, "GPUEXEC_FORKED" },
        { GPUEXEC_NOT_SUPPORTED, "GPUEXEC_NOT_SUPPORTED" },
        { GPUEXEC_OUT_OF_HOST_MEMORY, "GPUEXEC_OUT_OF_HOST_MEMORY" },
        { GPUEXEC_OUT_OF_DEVICE_MEMORY, "GPUEXEC_OUT_OF_DEVICE_MEMORY" },
        { GPUEXEC_BAD_IMAGE, "GPUEXEC_BAD_IMAGE" },
        { GPUEXEC_IMAGE_TOO_NEW, "GPUEXEC_IMAGE_TOO_NEW" },
        { GPUEXEC_NOT_FOUND, "GPUEXEC_NOT_FOUND" },
        { GPUEXEC_FILE_ERROR, "GPUEXEC_FILE_ERROR" },
        { GPUEXEC_BAD_LAUNCH, "GPUEXEC_BAD_LAUNCH" },
        { GPUEXEC_BAD_PARAMETERS, "GPUEXEC_BAD_PARAMETERS" },
        { GPUEXEC_KERNEL_FAILED, "GPUEXEC_KERNEL_FAILED" },
        { GPUEXEC_DRIVER_ERROR, "GPUEXEC_DRIVER_ERROR" },
    };
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_STRING(gpuexec_result_name(names[i].result), names[i].name);
    CHECK_STRING(gpuexec_result_name((gpuexec_result)77), "unknown gpuexec_result");
}

/* The text has the caller's place, the function, what failed, and why. */
TEST(the_text_and_its_parts) {
    setting s = begin();
    const gpuexec_error *e;
    int line = __LINE__ + 1;
    gpuexec_module bad = gpuexec_module_load_file(s.ctx, "no/such/file.ptx", NULL);
    char where[64];
    snprintf(where, sizeof where, "error.c:%d", line);
    CHECK(!gpuexec_ok(bad));
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_module_load_file", "no/such/file.ptx", where,
            "GPUEXEC_FILE_ERROR");
    e = gpuexec_error_detail();
    CHECK_EQ(e->result, GPUEXEC_FILE_ERROR);
    CHECK_STRING(e->function, "gpuexec_module_load_file");
    CHECK_TEXT(e->where, where);
    CHECK_TEXT(e->message, "no/such/file.ptx");
    CHECK(strchr(e->message, '\n') == NULL);
    CHECK_STRING(e->text, gpuexec_error_text());
    CHECK(e->text[strlen(e->text) - 1] == '\n');
    CHECK_EQ(e->asynchronous, 0);
    CHECK_EQ(e->sticky, 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FILE_ERROR);
}

/* Without a place, as from other languages. */
TEST(calling_past_the_macro) {
    setting s = begin();
    CHECK(!gpuexec_ok(gpuexec_module_load_file_at(NULL, s.ctx, "no/such/file.ptx", NULL)));
    CHECK(gpuexec_error_detail()->where == NULL);
    CHECK_TEXT(gpuexec_error_text(), "no/such/file.ptx");
    CHECK(!gpuexec_ok(
            gpuexec_module_load_file_at("script.lua:7", s.ctx, "no/such/file.ptx", NULL)));
    CHECK_TEXT(gpuexec_error_text(), "script.lua:7");
    gpuexec_take_error();
}

/* The text names the driver call that failed, and its CUresult by number and name. */
TEST(the_result_of_the_driver) {
    setting s = begin();
    const gpuexec_error *e;
    CHECK_EQ(gpuexec_alloc(s.ctx, (size_t)1 << 60), 0);
    e = gpuexec_error_detail();
    CHECK_EQ(e->result, GPUEXEC_OUT_OF_DEVICE_MEMORY);
    CHECK_EQ(e->driver_result, 2);
    CHECK_STRING(e->driver_result_name, "CUDA_ERROR_OUT_OF_MEMORY");
    CHECK_TEXT(e->driver_call, "cuMemAlloc");
    CHECK_TEXT(e->text, "CUDA_ERROR_OUT_OF_MEMORY", "cuMemAlloc");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
}

/* One failure propagates to everything created from the failed handle, and each handle can report
   it. */
TEST(a_failed_handle_holds_its_reason) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, "no/such/file.ptx", NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "saxpy");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    CHECK(gpuexec_ok(ctx) && gpuexec_ok(s));
    CHECK(!gpuexec_ok(mod));
    CHECK(!gpuexec_ok(fn));
    CHECK(mod.id != 0 && fn.id != 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FILE_ERROR);
    CHECK_REFUSED(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS), GPUEXEC_FILE_ERROR,
            "no/such/file.ptx");
    CHECK_TEXT(gpuexec_why(mod), "no/such/file.ptx");
    CHECK_TEXT(gpuexec_why(fn), "no/such/file.ptx");
    CHECK_STRING(gpuexec_why(ctx), "");
    CHECK_OK(gpuexec_take_error()); /* gpuexec_why and gpuexec_ok are queries */
    gpuexec_kernel_native(fn);
    gpuexec_module_native(mod);
    CHECK_EQ(gpuexec_module_kernel_count(mod), -1);
    CHECK_OK(gpuexec_take_error());
}

/* The text names each call that created nothing because of it. Words like its own in a place mean
   nothing. */
TEST(a_failed_handle_names_what_was_not_created) {
    gpuexec_context ctx = gpuexec_context_open_at("a; because of this, b, and c.c:1", 99, NULL);
    gpuexec_module mod = gpuexec_module_load_file_at("d, and e.c:2", ctx, "no.ptx", NULL);
    gpuexec_kernel fn = gpuexec_kernel_get_at("f; g.c:3", mod, "add");
    CHECK_TEXT(gpuexec_why(mod),
            "; because of this, gpuexec_context_open at a; because of this, b, and c.c:1 did not "
            "create the context (GPUEXEC_NO_DEVICE)\n");
    CHECK_TEXT(gpuexec_why(fn),
            "; because of this, gpuexec_context_open at a; because of this, b, and c.c:1 did not "
            "create the context, and gpuexec_module_load_file at d, and e.c:2 did not create the "
            "module (");
    gpuexec_kernel_native(fn);
    CHECK_TEXT(gpuexec_error_detail()->message,
            "; because of this, gpuexec_context_open at a; because of this, b, and c.c:1 did not "
            "create the context, gpuexec_module_load_file at d, and e.c:2 did not create the "
            "module, and gpuexec_kernel_get at f; g.c:3 did not create the kernel");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NO_DEVICE);
}

/* A whole program on a failed context, checked once. Nothing crashes, and the last call returns the
   first failure. */
TEST(check_once_at_the_end) {
    gpuexec_context ctx = gpuexec_context_open(9999, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_event e = gpuexec_event_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, BYTES);
    void *h = gpuexec_alloc_pinned(ctx, BYTES);
    uint32_t one = 1, n = WORDS, host[WORDS] = { 0 };
    CHECK(!gpuexec_ok(ctx) && !gpuexec_ok(mod) && !gpuexec_ok(fn) && !gpuexec_ok(s) &&
            !gpuexec_ok(e) && p == 0 && h == NULL);
    gpuexec_copy_in(s, p, host, sizeof host);
    gpuexec_launch(fn, s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(p, one, n));
    gpuexec_event_record(e, s);
    gpuexec_copy_out(s, host, p, sizeof host);
    CHECK_FAILED(gpuexec_stream_sync(s), GPUEXEC_NO_DEVICE, "9999", "gpuexec_context_open");
    gpuexec_free_pinned(h);
    gpuexec_free(p);
    gpuexec_event_destroy(e);
    gpuexec_stream_destroy(s);
    gpuexec_module_unload(mod);
    gpuexec_context_close(ctx);
}

/* The first failure decides: it refuses every kind of work, and nothing reaches the device. */
TEST(the_first_failure_is_latched_and_refuses_work) {
    setting s = begin();
    uint32_t ones[WORDS], zeros[WORDS];
    memset(ones, 1, sizeof ones);
    memset(zeros, 0, sizeof zeros);
    fail_with_file_error(&s);
    fail_with_not_found(&s);
    CHECK_RESULT(add_to(&s, s.stream, 1), GPUEXEC_FILE_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "no/such/file.ptx");
    CHECK_RESULT(gpuexec_copy_in(s.stream, s.data, ones, BYTES), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_copy_out(s.stream, zeros, s.data, BYTES), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_copy(s.stream, s.data, s.data + 128, 64), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_fill(s.stream, s.data, 1, 1, BYTES), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_fill(s.stream, s.data, 1, 4, WORDS), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_event_record(s.a, s.stream), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_stream_wait_event(s.stream, s.a), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_copy_in_now(s.ctx, s.data, ones, BYTES), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_copy_out_now(s.ctx, zeros, s.data, BYTES), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_copy_now(s.ctx, s.data, s.data + 128, 64), GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_fill_now(s.ctx, s.data, 1, 1, BYTES), GPUEXEC_FILE_ERROR);
    /* returns it and clears the latch */
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_FILE_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "no/such/file.ptx");
    CHECK_EQ(first_word(&s), 0);
    CHECK_OK(add_to(&s, s.stream, 1));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(first_word(&s), 1);
}

TEST(who_takes_the_latched_failure) {
    setting s = begin();
    fail_with_file_error(&s);
    CHECK_RESULT(gpuexec_context_sync(s.ctx), GPUEXEC_FILE_ERROR);
    CHECK_OK(gpuexec_context_sync(s.ctx));
    fail_with_file_error(&s);
    CHECK_RESULT(gpuexec_event_sync(s.a), GPUEXEC_FILE_ERROR);
    CHECK_OK(gpuexec_event_sync(s.a));
    fail_with_file_error(&s);
    fail_with_not_found(&s);
    /* the text describes the last failure ... */
    CHECK_TEXT(gpuexec_error_text(), "no_such_kernel");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FILE_ERROR); /* ... but the first is latched */
    CHECK_TEXT(gpuexec_error_text(), "no/such/file.ptx");
    CHECK_OK(gpuexec_take_error());
    CHECK_OK(add_to(&s, s.stream, 1));
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

/* Work that was enqueued before the failure still runs, and sync still waits for it. */
TEST(sync_waits_even_when_it_returns_a_latched_failure) {
    setting s = begin();
    CHECK_OK(add_to(&s, s.stream, 5));
    fail_with_file_error(&s);
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_FILE_ERROR);
    CHECK_OK(gpuexec_stream_query(s.stream));
    CHECK_EQ(first_word(&s), 5);
}

/* After a variant fails, a second one can be tried. */
TEST(makers_are_not_blocked) {
    setting s = begin();
    gpuexec_module mod = fail_with_file_error(&s);
    gpuexec_stream stream;
    gpuexec_event event;
    gpuexec_ptr p;
    void *h;
    gpuexec_context again;
    CHECK(!gpuexec_ok(mod));
    mod = gpuexec_module_load_file(s.ctx, UNIT_PTX, NULL);
    CHECK(gpuexec_ok(mod));
    CHECK(gpuexec_ok(gpuexec_kernel_get(mod, "add")));
    stream = gpuexec_stream_create(s.ctx, NULL);
    event = gpuexec_event_create(s.ctx, NULL);
    p = gpuexec_alloc(s.ctx, 4096);
    h = gpuexec_alloc_pinned(s.ctx, 4096);
    again = gpuexec_context_open(0, NULL);
    CHECK(gpuexec_ok(stream) && gpuexec_ok(event) && gpuexec_ok(again) && p != 0 && h != NULL);
    CHECK(gpuexec_ok(gpuexec_stream_legacy(s.ctx)));
    CHECK(gpuexec_module_global_address(mod, "counter", NULL) != 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FILE_ERROR);
}

TEST(queries_never_latch) {
    setting s = begin();
    gpuexec_stream no_stream = { 0 };
    gpuexec_event no_event = { 0 };
    gpuexec_kernel no_kernel = { 0 };
    gpuexec_module no_module = { 0 };
    gpuexec_context no_context = { 0 };
    gpuexec_device_info device;
    gpuexec_kernel_info kernel;
    size_t bytes;
    int value;
    CHECK(!gpuexec_ok(no_stream));
    CHECK_TEXT(gpuexec_why(no_stream), "never");
    CHECK(gpuexec_stream_query(no_stream) != GPUEXEC_OK);
    CHECK(gpuexec_event_query(no_event) != GPUEXEC_OK);
    CHECK(gpuexec_event_elapsed_ms(s.a, s.a) < 0);
    CHECK(gpuexec_kernel_get_info(no_kernel, &kernel) != GPUEXEC_OK);
    CHECK_EQ(gpuexec_kernel_parameter_size(no_kernel, 0), 0);
    CHECK_EQ(gpuexec_kernel_occupancy(no_kernel, 32, 0), -1);
    CHECK_EQ(gpuexec_module_kernel_count(no_module), -1);
    CHECK(gpuexec_module_kernel_name(no_module, 0) == NULL);
    CHECK(gpuexec_module_jit_ms(no_module) < 0);
    CHECK_RESULT(gpuexec_device_get_info(9999, &device), GPUEXEC_NO_DEVICE);
    CHECK_RESULT(gpuexec_device_get_attribute(9999, 1, &value), GPUEXEC_NO_DEVICE);
    CHECK_EQ(gpuexec_context_device(no_context), -1);
    CHECK(gpuexec_context_native(no_context) == NULL);
    CHECK(gpuexec_context_get_memory(no_context, &bytes, NULL) != GPUEXEC_OK);
    CHECK_OK(add_to(&s, s.stream, 1)); /* none of the failures blocks later work */
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

TEST(clean_up_works_while_a_failure_is_latched) {
    setting s = begin();
    void *h = gpuexec_alloc_pinned(s.ctx, 64);
    fail_with_file_error(&s);
    CHECK_OK(gpuexec_free(s.data));
    CHECK_OK(gpuexec_free_pinned(h));
    CHECK_OK(gpuexec_event_destroy(s.a));
    CHECK_OK(gpuexec_stream_destroy(s.stream));
    CHECK_OK(gpuexec_module_unload(s.mod));
    CHECK_OK(gpuexec_context_close(s.ctx));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FILE_ERROR);
}

/* For programs that check every call. */
TEST(no_latch) {
    gpuexec_setup_desc desc = { 0 };
    setting s;
    desc.no_latch = 1;
    CHECK_OK(gpuexec_setup(&desc));
    s = begin();
    fail_with_file_error(&s);
    CHECK_OK(add_to(&s, s.stream, 3));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_take_error());
    CHECK_EQ(first_word(&s), 3);
    /* failed handles still refuse */
    CHECK_RESULT(gpuexec_launch(
                         fail_with_not_found(&s), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_NOT_FOUND);
    CHECK_RESULT(gpuexec_copy_in(s.stream, 0, &s, 4), GPUEXEC_BAD_ARGUMENT);
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

/* The result of an action on another thread. */
typedef struct visitor {
    setting s;
    gpuexec_kernel failed;
    gpuexec_result first, second, taken;
    char text[2000];
} visitor;

static void visit(visitor *v, void *(*action)(void *)) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, action, v), 0);
    pthread_join(thread, NULL);
}

static void *launch_failed_handle(void *user) {
    visitor *v = (visitor *)user;
    CHECK_STRING(gpuexec_error_text(), "");
    v->first = gpuexec_launch(v->failed, v->s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    snprintf(v->text, sizeof v->text, "%s", gpuexec_error_text());
    v->second = add_to(&v->s, v->s.stream, 1);
    v->taken = gpuexec_take_error();
    return NULL;
}

/* A handle that failed on one thread gives its reason on every other, and is latched there. */
TEST(a_failed_handle_on_another_thread) {
    visitor v;
    memset(&v, 0, sizeof v);
    v.s = begin();
    v.failed = fail_with_not_found(&v.s);
    visit(&v, launch_failed_handle);
    CHECK_EQ(v.first, GPUEXEC_NOT_FOUND);
    CHECK_TEXT(v.text, "no_such_kernel");
    CHECK_EQ(v.second, GPUEXEC_NOT_FOUND);
    CHECK_EQ(v.taken, GPUEXEC_NOT_FOUND);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_FOUND);
}

static void *work_undisturbed(void *user) {
    visitor *v = (visitor *)user;
    v->first = add_to(&v->s, v->s.stream, 4);
    v->second = gpuexec_stream_sync(v->s.stream);
    fail_with_file_error(&v->s); /* still latched when the thread ends */
    return NULL;
}

TEST(latches_of_threads_are_apart) {
    visitor v;
    memset(&v, 0, sizeof v);
    v.s = begin();
    fail_with_not_found(&v.s);
    visit(&v, work_undisturbed);
    CHECK_EQ(v.first, GPUEXEC_OK);
    CHECK_EQ(v.second, GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "no_such_kernel");
    CHECK_RESULT(gpuexec_stream_sync(v.s.stream), GPUEXEC_NOT_FOUND);
    CHECK_EQ(first_word(&v.s), 4);
}

/* Texts are complete at any length: every part of a long log is there. */
TEST(a_very_long_text) {
    setting s = begin();
    static char name[6000];
    memset(name, 'x', sizeof name - 1);
    CHECK(!gpuexec_ok(gpuexec_kernel_get(s.mod, name)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_FOUND);
    CHECK_TEXT(gpuexec_error_text(), "xxxx");
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_NOT_FOUND");
}

/* --- places ----------------------------------------------------------------------------------- */

/* A caller's place is freed when its library is unloaded: code that keeps a place longer than the
   call must copy it. The test uses a string that changes. */
static char place[64];
static const char *at(const char *now) {
    snprintf(place, sizeof place, "%s", now);
    return place;
}
static char log_text[4000];
static size_t log_bytes;
static void log_warning(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING)
        log_bytes += (size_t)snprintf(
                log_text + log_bytes, sizeof log_text - log_bytes, "%s", text);
}
TEST(places_are_copied) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_pointer_info info;
    gpuexec_context ctx;
    gpuexec_stream failed;
    gpuexec_ptr p;
    char stack[1000];
    desc.log = log_warning;
    desc.report_leaks = 1;
    log_bytes = 0;
    CHECK_OK(gpuexec_setup_at(at("setup.c:1"), &desc));
    ctx = gpuexec_context_open_at(at("context.c:2"), 0, NULL);
    gpuexec_stream_create_at(at("stream.c:3"), ctx, NULL);
    p = gpuexec_alloc_at(at("alloc.c:4"), ctx, 64);
    CHECK_OK(gpuexec_context_push_at(at("push.c:5"), ctx));
    failed = gpuexec_stream_create_at(at("failed.c:6"), (gpuexec_context){ 0 }, NULL);
    at("overwritten");
    CHECK_STRING(gpuexec_error_detail()->where, "failed.c:6");
    CHECK_TEXT(gpuexec_error_text(), "failed.c:6: gpuexec_stream_create");
    CHECK_RESULT(gpuexec_event_record_at(NULL, (gpuexec_event){ 0 }, (gpuexec_stream){ 0 }),
            GPUEXEC_BAD_HANDLE);
    CHECK_STRING(gpuexec_error_detail()->where, "failed.c:6"); /* that of the latched failure */
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_HANDLE);
    CHECK_TEXT(gpuexec_why(failed), "failed.c:6");
    CHECK_REFUSED(gpuexec_setup_at(NULL, NULL), GPUEXEC_TOO_LATE,
            "gpuexec_setup at setup.c:1 started it");
    CHECK_OK(gpuexec_pointer_get_info(p, &info));
    CHECK_STRING(info.where, "alloc.c:4");
    CHECK(gpuexec_context_stack_text(stack, sizeof stack) > 0);
    CHECK_TEXT(stack, "pushed at push.c:5");
    CHECK_OK(gpuexec_context_pop(ctx));
    gpuexec_shutdown();
    CHECK_TEXT(log_text, "a context, created at context.c:2", "a stream, created at stream.c:3",
            "64 bytes of device memory", "allocated at alloc.c:4");
    CHECK(strstr(log_text, "overwritten") == NULL);
}

/* A CUresult of the program's own driver call becomes a failure like any other. */
TEST(a_driver_call_of_the_program) {
    setting t = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(gpuexec_driver_check("cuGraphLaunch", 0));
    CHECK_RESULT(gpuexec_driver_check("cuGraphLaunch", 600), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_take_error());
    CHECK_REFUSED(gpuexec_driver_check("cuGraphLaunch", 2), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "error.c:", "gpuexec_driver_check",
            "driver: cuGraphLaunch returned CUDA_ERROR_OUT_OF_MEMORY (2), out of memory");
    CHECK_REFUSED(gpuexec_driver_check("cuMemMap", 801), GPUEXEC_NOT_SUPPORTED,
            "CUDA_ERROR_NOT_SUPPORTED (801)");
    CHECK_REFUSED(gpuexec_driver_check("cuMemMap", 424242), GPUEXEC_DRIVER_ERROR, "(424242)");
    CHECK_REFUSED(gpuexec_driver_check(NULL, 1), GPUEXEC_BAD_ARGUMENT, "NULL");
    CHECK_RESULT(gpuexec_driver_check("cuMemMap", 1), GPUEXEC_BAD_ARGUMENT);
    CHECK_RESULT(gpuexec_launch(t.kernel, t.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(t.data)),
            GPUEXEC_BAD_ARGUMENT); /* refused: it is latched */
    CHECK_RESULT(gpuexec_stream_sync(t.stream), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "cuMemMap");
}

/* What the driver logged about a failure that gpuexec cannot explain itself, on this thread. */
TEST(the_log_of_the_driver) {
    setting t = set_up(UNIT_PTX, "count", 4);
    const driver_calls cu = calls_find();
    if (gpuexec_driver_version() < 12090) SKIP("the driver has a log from CUDA 12.9 on");
    CHECK_REFUSED(gpuexec_driver_check("cuFuncSetCacheConfig",
                          cu.cuFuncSetCacheConfig(gpuexec_kernel_native(t.kernel), 42)),
            GPUEXEC_BAD_ARGUMENT, "  driver log: Invalid CUfunc_cache value 42\n");
    CHECK_REFUSED(gpuexec_driver_check("cuFuncSetCacheConfig", 2), GPUEXEC_OUT_OF_DEVICE_MEMORY,
            "returned");
    CHECK(!gpuexec_error_detail()->driver_log); /* it returned 1, and logged nothing about 2 */
    CHECK_REFUSED(gpuexec_driver_check("cuFuncSetCache", 1), GPUEXEC_BAD_ARGUMENT,
            "Invalid CUfunc_cache value 42");
    CHECK_REFUSED(gpuexec_driver_check("cuMemMap", 1), GPUEXEC_BAD_ARGUMENT, "cuMemMap");
    CHECK(!gpuexec_error_detail()->driver_log);
}

static void *caches_on_a_thread(void *kernel) {
    calls_find().cuFuncSetCacheConfig(kernel, 43);
    return NULL;
}
TEST(the_log_of_another_thread_is_not_shown) {
    setting t = set_up(UNIT_PTX, "count", 4);
    pthread_t thread;
    if (gpuexec_driver_version() < 12090) SKIP("the driver has a log from CUDA 12.9 on");
    CHECK(pthread_create(&thread, NULL, caches_on_a_thread, gpuexec_kernel_native(t.kernel)) == 0);
    pthread_join(thread, NULL);
    CHECK_REFUSED(
            gpuexec_driver_check("cuFuncSetCacheConfig", 1), GPUEXEC_BAD_ARGUMENT, "returned");
    CHECK(!gpuexec_error_detail()->driver_log || !strstr(gpuexec_error_detail()->driver_log, "43"));
}

TEST(equal_handles) {
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL),
                    none = { 0 };
    gpuexec_stream s = gpuexec_stream_legacy(a);
    CHECK(gpuexec_same(a, a) && !gpuexec_same(a, b) && !gpuexec_same(a, none) &&
            gpuexec_same(none, none));
    CHECK(gpuexec_same(s, gpuexec_stream_legacy(a)));
    CHECK(!gpuexec_same(gpuexec_stream_create(a, NULL), gpuexec_stream_create(a, NULL)));
}

/* Each thread has a separate per-thread stream in the driver, so no other thread reports a failure
   there. */
static void *fails_on_its_stream(void *stream) {
    gpuexec_stream s;
    memcpy(&s, stream, sizeof s);
    gpuexec_copy_in(s, 0, "x", 1);
    return NULL;
}
TEST(a_failure_on_the_per_thread_stream_stays_on_its_thread) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream own = gpuexec_stream_per_thread(ctx), shared = gpuexec_stream_create(ctx, NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fails_on_its_stream, &own) == 0);
    pthread_join(thread, NULL);
    CHECK_OK(gpuexec_stream_sync(own));
    CHECK(pthread_create(&thread, NULL, fails_on_its_stream, &shared) == 0);
    pthread_join(thread, NULL);
    CHECK_RESULT(gpuexec_stream_sync(shared), GPUEXEC_BAD_ARGUMENT);
}

typedef struct log_lines {
    int count;
    char text[4][200];
} log_lines;
static void keep_line(void *user, int level, char *text, size_t length) {
    log_lines *lines = (log_lines *)user;
    CHECK_EQ(level, 0);
    if (lines->count < 4)
        snprintf(lines->text[lines->count], sizeof lines->text[0], "%.*s", (int)length, text);
    lines->count++;
}
TEST(the_drivers_log_calls_back) {
    setting t = set_up(UNIT_PTX, "count", 4);
    log_lines lines = { 0, { "" } };
    void *callback = NULL;
    const driver_calls cu = calls_find();
    if (gpuexec_driver_version() < 12090) SKIP("the driver has a log from CUDA 12.9 on");
    CHECK_EQ(cu.cuLogsRegisterCallback(keep_line, &lines, &callback), 0);
    cu.cuFuncSetCacheConfig(gpuexec_kernel_native(t.kernel), 42);
    CHECK_EQ(lines.count, 2);
    CHECK_STRING(lines.text[0], "Invalid CUfunc_cache value 42");
    CHECK_STRING(lines.text[1], "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuFuncSetCacheConfig");
    CHECK_EQ(cu.cuLogsUnregisterCallback(callback), 0);
    cu.cuFuncSetCacheConfig(gpuexec_kernel_native(t.kernel), 43);
    CHECK_EQ(lines.count, 2);
}
