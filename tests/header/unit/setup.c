/* setup.c - starting, stopping, and the options of a program: logger, allocator, trace. */
#include "../../test.h"
#include <semaphore.h>

/* A small program that uses every kind of object and closes none of them. Returns 1 if everything
   worked. */
static int use_everything(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "add");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_event e = gpuexec_event_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 256);
    uint32_t *h = (uint32_t *)gpuexec_alloc_pinned(ctx, 256);
    uint32_t by = 7, n = 64;
    gpuexec_fill(s, p, 0, 1, 256);
    gpuexec_launch(fn, s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(p, by, n));
    gpuexec_event_record(e, s);
    if (h) gpuexec_copy_out(s, h, p, 256);
    return gpuexec_stream_sync(s) == GPUEXEC_OK && h && h[0] == 7 && h[63] == 7;
}

/* Everything that a logger received. */
typedef struct record {
    char text[20000];
    size_t length;
    int calls, errors, warnings, traces, broken;
} record;

static void keep(void *user, gpuexec_log_level level, const char *text) {
    record *r = (record *)user;
    size_t n = strlen(text);
    r->calls++;
    if (level == GPUEXEC_LOG_ERROR) r->errors++;
    if (level == GPUEXEC_LOG_WARNING) r->warnings++;
    if (level == GPUEXEC_LOG_TRACE) r->traces++;
    if (n == 0 || text[n - 1] != '\n') r->broken++; /* not a complete message */
    if (n >= sizeof r->text - r->length) n = sizeof r->text - r->length - 1;
    memcpy(r->text + r->length, text, n);
    r->text[r->length += n] = 0;
}

/* Returns what `action` writes to stderr. */
static char *stderr_of(void (*action)(void)) {
    static char text[40000];
    FILE *file = tmpfile();
    int keep_fd = dup(2);
    size_t n;
    if (!file) return NULL;
    fflush(stderr);
    dup2(fileno(file), 2);
    action();
    fflush(stderr);
    dup2(keep_fd, 2);
    close(keep_fd);
    rewind(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}

TEST(setup_is_not_needed) {
    CHECK(gpuexec_device_count() > 0);
    CHECK(use_everything());
}

TEST(setup_with_defaults) {
    gpuexec_setup_desc desc = { 0 };
    CHECK_OK(gpuexec_setup(&desc));
    CHECK(use_everything());
    gpuexec_shutdown();
    CHECK_OK(gpuexec_setup(NULL));
    CHECK(use_everything());
}

TEST(the_driver) {
    CHECK(gpuexec_driver_version() >= 11040);
    CHECK(gpuexec_driver_path()[0] != 0);
    CHECK(gpuexec_driver_symbol("cuLaunchKernel", 4000) != NULL);
    CHECK(gpuexec_driver_symbol("cuNoSuchCall", 4000) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_NOT_FOUND", "\"cuNoSuchCall\"",
            "cure: check the spelling", "has no version of");
    CHECK(gpuexec_driver_symbol("cuLaunchKernel", 99000) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_OLD_DRIVER",
            "\"cuLaunchKernel\" from CUDA 99.0 is not available",
            "cure: request it for an older CUDA version");
    CHECK(gpuexec_driver_symbol("cuNoSuchCall", 99000) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_OLD_DRIVER",
            "\"cuNoSuchCall\" from CUDA 99.0 is not available",
            "cure: install a newer NVIDIA driver");
    CHECK(gpuexec_driver_symbol("cuLaunchKernel", 3000) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_NOT_FOUND",
            "\"cuLaunchKernel\" was introduced after the version that was passed (CUDA 3.0); this "
            "driver "
            "(CUDA",
            "provides it");
    CHECK(gpuexec_driver_symbol("cuLaunchKernel", 0) == NULL);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_BAD_ARGUMENT",
            "the version for \"cuLaunchKernel\" is 0", "12000 for CUDA 12.0");
    CHECK_OK(gpuexec_take_error()); /* queries latch nothing */
}

TEST(setup_after_the_first_use_is_too_late) {
    int line = __LINE__ + 1;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char where[64];
    snprintf(where, sizeof where, "setup.c:%d", line);
    CHECK(gpuexec_ok(ctx));
    CHECK_RESULT(gpuexec_setup(NULL), GPUEXEC_TOO_LATE);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_context_open", where);
    CHECK(gpuexec_error_detail()->cure != NULL);
    gpuexec_take_error();
    CHECK(use_everything());
}

TEST(setup_twice_is_too_late) {
    CHECK_OK(gpuexec_setup(NULL));
    CHECK_REFUSED(gpuexec_setup(NULL), GPUEXEC_TOO_LATE, "gpuexec_setup");
}

/* After a setup that failed, another one can be tried in the same process. */
TEST(setup_again_after_a_failure) {
    gpuexec_setup_desc desc = { 0 };
    desc.driver_path = "/no/such/libcuda.so.1";
    CHECK_REFUSED(gpuexec_setup(&desc), GPUEXEC_NO_DRIVER, "/no/such/libcuda.so.1");
    CHECK_OK(gpuexec_setup(NULL));
    CHECK(use_everything());
}

TEST(shutdown_and_start_again) {
    gpuexec_context ctx;
    gpuexec_stream s, later;
    gpuexec_event e;
    gpuexec_module mod;
    gpuexec_kernel fn;
    gpuexec_ptr p;
    int i;
    gpuexec_shutdown(); /* there is nothing to shut down */
    for (i = 0; i < 3; i++) {
        ctx = gpuexec_context_open(0, NULL);
        s = gpuexec_stream_create(ctx, NULL);
        e = gpuexec_event_create(ctx, NULL);
        mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
        fn = gpuexec_kernel_get(mod, "nothing");
        p = gpuexec_alloc(ctx, 64);
        CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
        CHECK(p != 0);
        gpuexec_shutdown();
        gpuexec_shutdown();
        CHECK(!gpuexec_ok(ctx) && !gpuexec_ok(s) && !gpuexec_ok(e) && !gpuexec_ok(mod) &&
                !gpuexec_ok(fn));
        ctx = gpuexec_context_open(0, NULL); /* after a new start the old handles are still stale */
        later = gpuexec_stream_create(ctx, NULL);
        CHECK(gpuexec_ok(later));
        CHECK(later.id != s.id);
        CHECK(!gpuexec_ok(s));
        CHECK_RESULT(gpuexec_stream_sync(s), GPUEXEC_STALE_HANDLE);
        gpuexec_take_error();
        CHECK_RESULT(gpuexec_launch(fn, later, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
                GPUEXEC_STALE_HANDLE);
        gpuexec_take_error();
        CHECK(gpuexec_free(p) != GPUEXEC_OK);
        gpuexec_take_error();
        gpuexec_shutdown();
    }
}

TEST(shutdown_waits_for_work) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "count");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    uint32_t *h = (uint32_t *)calloc(1, sizeof *h);
    gpuexec_ptr p = gpuexec_alloc(ctx, sizeof *h);
    gpuexec_fill(s, p, 0, 1, sizeof *h);
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(500, 128, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_copy_out(s, h, p, sizeof *h));
    gpuexec_shutdown();
    CHECK_EQ(*h, 500 * 128);
    free(h);
}

TEST(the_logger_gets_every_failure) {
    static record r;
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    gpuexec_module mod;
    memset(&r, 0, sizeof r);
    desc.log = keep;
    desc.log_user = &r;
    CHECK_OK(gpuexec_setup(&desc));
    CHECK(use_everything());
    CHECK_EQ(r.calls, 0); /* no messages when nothing fails */
    ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_load_file(ctx, "no/such/file.ptx", NULL);
    CHECK_EQ(r.errors, 1);
    CHECK_TEXT(r.text, "no/such/file.ptx", "setup.c:");
    CHECK_TEXT(r.text, gpuexec_error_text());
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel_get(mod, "no_such_kernel");
    CHECK_EQ(r.errors, 2);
    CHECK_TEXT(r.text, "no_such_kernel");
    CHECK_EQ(r.broken, 0);
    CHECK_EQ(r.traces, 0);
    gpuexec_take_error();
}

TEST(the_trace_goes_to_the_logger) {
    static record r;
    gpuexec_setup_desc desc = { 0 };
    memset(&r, 0, sizeof r);
    desc.log = keep;
    desc.log_user = &r;
    desc.trace = 1;
    CHECK_OK(gpuexec_setup(&desc));
    CHECK(use_everything());
    CHECK(r.traces > 5);
    CHECK_EQ(r.errors, 0);
    CHECK_EQ(r.broken, 0);
    CHECK_TEXT(r.text, "cuInit", "cuLaunchKernel", "cuStreamCreate", "cuMemAlloc",
            "cuStreamSynchronize");
}

/* Each driver call with its arguments, as numbers: addresses in hexadecimal, negative ones with
   their sign. */
static char lines[20000];
static size_t lines_bytes;
static int lines_broken;
static void keep_lines(void *user, gpuexec_log_level level, const char *text) {
    size_t n = strlen(text);
    (void)user;
    (void)level;
    lines_broken += n == 0 || strchr(text, '\n') != text + n - 1; /* one complete line */
    if (lines_bytes + n >= sizeof lines) return;
    memcpy(lines + lines_bytes, text, n + 1);
    lines_bytes += n;
}
TEST(the_trace_shows_arguments) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_stream_desc first = { 0, 1, -1, 0 };
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream s;
    gpuexec_kernel fn;
    gpuexec_ptr p;
    char wanted[300];
    int alloc_line;
    lines_bytes = 0;
    lines_broken = 0;
    desc.log = keep_lines;
    desc.trace = 1;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    fn = gpuexec_kernel_get(mod, "count");
    s = gpuexec_stream_create(ctx, &first);
    p = gpuexec_alloc(ctx, 1234), alloc_line = __LINE__;
    CHECK_OK(gpuexec_fill(s, p, 7, 1, 1234));
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(5, 32, 16), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_context_sync(ctx));
    CHECK_TEXT(lines, ", 1, -1) = CUDA_SUCCESS (0)  in gpuexec_stream_create at ",
            "cuCtxSynchronize () = CUDA_SUCCESS",
            ", 1234) = CUDA_SUCCESS (0)  in gpuexec_alloc at tests/header/unit/setup.c:");
    snprintf(wanted, sizeof wanted,
            "cuMemsetD8Async (0x%llx device memory " __FILE__
            ":%d, 7, 1234, 0x%llx stream " __FILE__
            ":%d) = CUDA_SUCCESS (0)  in gpuexec_fill at " __FILE__ ":%d\n",
            p, alloc_line, (unsigned long long)(uintptr_t)gpuexec_stream_native(s), alloc_line - 1,
            alloc_line + 1);
    CHECK_TEXT(lines, wanted);
    snprintf(wanted, sizeof wanted,
            "cuLaunchKernel (0x%llx kernel \"count\", 5, 1, 1, 32, 1, 1, 16, 0x%llx "
            "stream " __FILE__ ":%d, 0x",
            (unsigned long long)(uintptr_t)gpuexec_kernel_native(fn),
            (unsigned long long)(uintptr_t)gpuexec_stream_native(s), alloc_line - 1);
    CHECK_TEXT(lines, wanted);
    CHECK_EQ(lines_broken, 0);
}
/* For a caller's path of any length. */
TEST(every_message_of_the_logger_is_a_line) {
    static char where[2000];
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    size_t n;
    lines_bytes = 0;
    lines_broken = 0;
    desc.log = keep_lines;
    desc.trace = 1;
    desc.report_leaks = 1;
    CHECK_OK(gpuexec_setup(&desc));
    for (n = 200; n < sizeof where; n += 7) {
        memset(where, 'p', n);
        where[n] = 0;
        ctx = gpuexec_context_open_at(where, 0, NULL);
        CHECK(gpuexec_alloc_at(where, ctx, 100) != 0);
        CHECK_OK(gpuexec_shutdown()); /* reports both */
        CHECK_OK(gpuexec_setup(&desc));
    }
    CHECK_TEXT(lines, "leak: a context, created at ppp", "leak: 100 bytes of device memory");
    CHECK_EQ(lines_broken, 0);
}

static void run_it(void) {
    CHECK(use_everything());
    gpuexec_shutdown();
}

TEST_ALONE(the_trace_of_the_environment_goes_to_stderr) {
    const char *text;
    setenv("GPUEXEC_TRACE", "1", 1);
    text = stderr_of(run_it);
    CHECK_TEXT(text, "cuInit", "cuLaunchKernel", "cuStreamSynchronize");
}

static void run_it_without_environment(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.ignore_environment = 1;
    desc.driver_path = getenv("TEST_DRIVER_PATH");
    CHECK_OK(gpuexec_setup(&desc));
    CHECK(use_everything());
}

TEST_ALONE(the_environment_can_be_ignored) {
    char *path;
    CHECK(gpuexec_device_count() > 0);
    path = strdup(gpuexec_driver_path());
    gpuexec_shutdown();
    setenv("TEST_DRIVER_PATH", path, 1);
    setenv("GPUEXEC_TRACE", "1", 1);
    setenv("GPUEXEC_DRIVER", "/no/such/driver.so", 1);
    CHECK_STRING(stderr_of(run_it_without_environment), "");
    gpuexec_shutdown();
    CHECK_EQ(gpuexec_device_count(), 0); /* not ignored: only this path is tried */
    CHECK_TEXT(gpuexec_error_text(), "/no/such/driver.so", "GPUEXEC_DRIVER");
    free(path);
}

TEST_ALONE(nothing_is_printed_by_default) { CHECK_STRING(stderr_of(run_it), ""); }

/* An allocator that counts, and that can fail at its Nth call. */
typedef struct counter {
    long calls, live, fail_at;
    pthread_mutex_t mutex;
} counter;

static void *counted(void *user, void *p, size_t bytes) {
    counter *c = (counter *)user;
    int fails;
    pthread_mutex_lock(&c->mutex);
    fails = bytes && ++c->calls == c->fail_at;
    pthread_mutex_unlock(&c->mutex);
    if (fails) return NULL;
    if (bytes == 0) {
        if (p) __atomic_fetch_sub(&c->live, 1, __ATOMIC_RELAXED);
        free(p);
        return NULL;
    }
    if (!p) __atomic_fetch_add(&c->live, 1, __ATOMIC_RELAXED);
    return realloc(p, bytes);
}

TEST(every_allocation_goes_through_the_users_function_and_comes_back) {
    counter c = { 0, 0, 0, PTHREAD_MUTEX_INITIALIZER };
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    desc.realloc_function = counted;
    desc.realloc_user = &c;
    CHECK_OK(gpuexec_setup(&desc));
    CHECK(use_everything());
    ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_load_file(ctx, "no/such/file.ptx", NULL); /* failed handles keep texts */
    gpuexec_module_load(ctx, ".version 6.0\n.target sm_70\n.address_size 64\nnonsense", 0, NULL);
    gpuexec_take_error();
    CHECK(c.calls > 0);
    CHECK(c.live > 0);
    gpuexec_shutdown();
    CHECK_EQ(c.live, 0);
}

/* Each allocation of the library fails once: no crash, no leak, the text says what the memory was
   for, and the next run works. */
TEST(each_allocation_fails_once) {
    counter c = { 0, 0, 0, PTHREAD_MUTEX_INITIALIZER };
    gpuexec_setup_desc desc = { 0 };
    long n;
    int worked = 0, failed = 0;
    desc.realloc_function = counted;
    desc.realloc_user = &c;
    for (n = 1; n < 500 && !worked; n++) {
        gpuexec_result first;
        c.calls = 0;
        c.fail_at = n;
        first = gpuexec_setup(&desc);
        worked = first == GPUEXEC_OK && use_everything();
        if (c.calls >= n && !worked) {
            failed++;
            CHECK_EQ(gpuexec_error_detail()->result, GPUEXEC_OUT_OF_HOST_MEMORY);
            CHECK_TEXT(gpuexec_error_text(), "memory");
        }
        worked = c.calls < n; /* this call was not reached: all have failed once */
        gpuexec_take_error();
        gpuexec_shutdown();
        if (!CHECK_EQ(c.live, 0)) break;
    }
    CHECK(worked);
    CHECK(failed > 0);
}

static int leak_line;

static void leave_everything(void) {
    gpuexec_context ctx = gpuexec_context_open((leak_line = __LINE__, 0), NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_stream_create(ctx, NULL);
    gpuexec_event_create(ctx, NULL);
    gpuexec_alloc(ctx, 12345);
    gpuexec_alloc_pinned(ctx, 54321);
    CHECK(gpuexec_ok(mod));
}

TEST(the_leak_report) {
    static record r;
    gpuexec_setup_desc desc = { 0 };
    char where[64];
    int i;
    memset(&r, 0, sizeof r);
    desc.log = keep;
    desc.log_user = &r;
    desc.report_leaks = 1;
    CHECK_OK(gpuexec_setup(&desc));
    leave_everything();
    CHECK_EQ(r.calls, 0);
    gpuexec_shutdown();
    CHECK_TEXT(r.text, "12345", "54321", "stream", "event", "module", "context");
    for (i = 0; i < 6; i++) { /* the place of each object */
        snprintf(where, sizeof where, "setup.c:%d", leak_line + i);
        CHECK_TEXT(r.text, where);
    }
    CHECK_EQ(r.broken, 0);
}

/* Each message ends in a newline, even one with a path that is longer than the library's lines. */
static int lines_without_end;
static void look_at_the_end(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    (void)level;
    lines_without_end += !*text || text[strlen(text) - 1] != '\n';
}
TEST(lines_of_the_log_end) {
    static char where[2000];
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    memset(where, 'w', sizeof where - 1);
    desc.log = look_at_the_end;
    desc.report_leaks = desc.trace = 1;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open_at(where, 0, NULL);
    CHECK(gpuexec_alloc_at(where, ctx, 64) != 0);
    CHECK(!gpuexec_ok(gpuexec_context_open_at(where, 4711, NULL)));
    gpuexec_take_error();
    gpuexec_shutdown();
    CHECK_EQ(lines_without_end, 0);
}

TEST(no_leak_no_report) {
    static record r;
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream s;
    gpuexec_event e;
    gpuexec_ptr p;
    void *h;
    memset(&r, 0, sizeof r);
    desc.log = keep;
    desc.log_user = &r;
    desc.report_leaks = 1;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    s = gpuexec_stream_create(ctx, NULL);
    e = gpuexec_event_create(ctx, NULL);
    p = gpuexec_alloc(ctx, 64);
    h = gpuexec_alloc_pinned(ctx, 64);
    gpuexec_kernel_get(mod, "add");
    gpuexec_stream_legacy(ctx);
    CHECK_OK(gpuexec_free_pinned(h));
    CHECK_OK(gpuexec_free(p));
    CHECK_OK(gpuexec_event_destroy(e));
    CHECK_OK(gpuexec_stream_destroy(s));
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK_OK(gpuexec_context_close(ctx));
    gpuexec_shutdown();
    CHECK_STRING(r.text, "");
}

static void leave_and_shut_down(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.report_leaks = 1;
    CHECK_OK(gpuexec_setup(&desc));
    leave_everything();
    gpuexec_shutdown();
}

TEST_ALONE(the_leak_report_goes_to_stderr_without_a_logger) {
    CHECK_TEXT(stderr_of(leave_and_shut_down), "12345", "setup.c:");
}

/* ---- fork while another thread starts the library ---- */

/* A logger that stops the thread in its start: at its failure, which is before CUDA is initialized,
   or at the trace of cuInit. */
static sem_t stopped, go_on;
static void stop_there(void *user, gpuexec_log_level level, const char *text) {
    (void)level;
    if (!strstr(text, (const char *)user)) return;
    sem_post(&stopped);
    while (sem_wait(&go_on) != 0) {}
}
static void *start_and_stop(void *at_init) {
    gpuexec_setup_desc desc = { 0 };
    desc.log = stop_there;
    desc.log_user = at_init ? (void *)(uintptr_t) "cuInit" : (void *)(uintptr_t) "/no/such";
    desc.driver_path = at_init ? NULL : "/no/such/libcuda.so";
    desc.trace = at_init != NULL;
    CHECK_RESULT(gpuexec_setup(&desc), at_init ? GPUEXEC_OK : GPUEXEC_NO_DRIVER);
    gpuexec_take_error();
    return NULL;
}
static const char *how_it_was_forked;
static void use_it_in_the_child(void) {
    gpuexec_context none;
    alarm(20); /* it would wait for a thread that the child does not have */
    none = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(none, GPUEXEC_FORKED, "this process (", ") was forked from process ",
            how_it_was_forked, "fork before the first use of CUDA");
    CHECK_RESULT(gpuexec_setup(NULL), GPUEXEC_FORKED);
    CHECK_EQ(gpuexec_device_count(), 0);
    gpuexec_take_error();
    gpuexec_shutdown();
}
static void fork_while_starting(void *at_init) {
    pthread_t thread;
    how_it_was_forked = at_init ? " after that process initialized CUDA"
                                : " while another thread of that process was initializing CUDA";
    sem_init(&stopped, 0, 0);
    sem_init(&go_on, 0, 0);
    CHECK_EQ(pthread_create(&thread, NULL, start_and_stop, at_init), 0);
    while (sem_wait(&stopped) != 0) {}
    CHECK(run_child(use_it_in_the_child));
    sem_post(&go_on);
    pthread_join(thread, NULL);
}
TEST_ALONE(forked_while_another_thread_starts) { fork_while_starting(NULL); }
TEST_ALONE(forked_while_another_thread_initializes_cuda) {
    static int at_init;
    fork_while_starting(&at_init);
}

#if defined(__SANITIZE_ADDRESS__)
enum { ADDRESS_SANITIZER = 1 };
#elif defined(__has_feature)
enum { ADDRESS_SANITIZER = __has_feature(address_sanitizer) };
#else
enum { ADDRESS_SANITIZER = 0 };
#endif
/* The same at any moment of a start, with locks held or not: the child gets an answer. */
static int enough;
static void *start_often(void *unused) {
    gpuexec_setup_desc desc = { 0 };
    desc.driver_path = "/no/such/libcuda.so";
    while (!__atomic_load_n(&enough, __ATOMIC_ACQUIRE)) {
        CHECK_RESULT(gpuexec_setup(&desc), GPUEXEC_NO_DRIVER);
        gpuexec_take_error();
        CHECK_OK(gpuexec_params_destroy(gpuexec_params_create()));
    }
    return unused;
}
static void get_an_answer(void) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_result result;
    alarm(20);
    desc.driver_path = "/no/such/libcuda.so";
    gpuexec_params_destroy(gpuexec_params_create());
    result = gpuexec_setup(&desc);
    CHECK(result == GPUEXEC_NO_DRIVER || result == GPUEXEC_FORKED);
}
TEST_ALONE(forked_at_any_moment_of_a_start) {
    pthread_t threads[2];
    int i;
    if (ADDRESS_SANITIZER)
        SKIP("its allocator hangs in a child that was forked while another thread allocates");
    for (i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, start_often, NULL), 0);
    for (i = 0; i < 300; i++)
        if (!CHECK(run_child(get_an_answer))) break;
    __atomic_store_n(&enough, 1, __ATOMIC_RELEASE);
    for (i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
