/* debugging.c - what helps to find a failure: GPUEXEC_CHECK, gpuexec_describe, GPUEXEC_LOG, and
   what a program prints that ends with a failure. */
#include "../../test.h"
#include <fcntl.h>
#include <semaphore.h>

enum { BYTES = 4096 };

/* --- GPUEXEC_CHECK: a launch that fails returns its own failure ------------------------------- */

typedef gpuexec_result launcher(const setting *s, gpuexec_kernel kernel, int *line);

static gpuexec_result launch_plain(const setting *s, gpuexec_kernel kernel, int *line) {
    *line = __LINE__ + 1;
    return gpuexec_launch(kernel, s->stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
}
static gpuexec_result launch_cooperative(const setting *s, gpuexec_kernel kernel, int *line) {
    *line = __LINE__ + 1;
    return gpuexec_launch_cooperative(kernel, s->stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
}
static gpuexec_result launch_on_legacy(const setting *s, gpuexec_kernel kernel, int *line) {
    gpuexec_stream stream = gpuexec_stream_legacy(s->ctx);
    *line = __LINE__ + 1;
    return gpuexec_launch(kernel, stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
}
static gpuexec_result launch_on_per_thread(const setting *s, gpuexec_kernel kernel, int *line) {
    gpuexec_stream stream = gpuexec_stream_per_thread(s->ctx);
    *line = __LINE__ + 1;
    return gpuexec_launch(kernel, stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
}
static gpuexec_result launch_on_current(const setting *s, gpuexec_kernel kernel, int *line) {
    (void)s;
    *line = __LINE__ + 1;
    return gpuexec_launch(kernel, GPUEXEC_CURRENT, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
}
static gpuexec_result launch_prepared(const setting *s, gpuexec_kernel kernel, int *line) {
    gpuexec_prepared prepared = gpuexec_prepare(
            kernel, s->stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS);
    *line = __LINE__ + 1;
    return gpuexec_launch_prepared(prepared);
}
static gpuexec_result launch_graph(const setting *s, gpuexec_kernel kernel, int *line) {
    gpuexec_graph graph = { 0 };
    CHECK_OK(gpuexec_capture_begin(s->stream, NULL));
    /* captured: it does not run, and the call must not wait for it */
    CHECK_OK(gpuexec_launch(kernel, s->stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    graph = gpuexec_capture_end(s->stream);
    CHECK_MADE(graph);
    *line = __LINE__ + 1;
    return gpuexec_graph_launch(graph, s->stream);
}
static gpuexec_result launch_batch(const setting *s, gpuexec_kernel kernel, int *line) {
    gpuexec_batch batch = gpuexec_batch_create(s->ctx, NULL);
    CHECK_EQ(gpuexec_batch_add(batch, kernel, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS), 0);
    *line = __LINE__ + 1;
    return gpuexec_batch_launch(batch, s->stream);
}
static gpuexec_result launch_multi(const setting *s, gpuexec_kernel kernel, int *line) {
    gpuexec_device_launch list[1];
    memset(list, 0, sizeof list);
    list[0].kernel = kernel;
    list[0].stream = s->stream;
    list[0].dims = gpuexec_grid(1, 32, 0);
    *line = __LINE__ + 1;
    return gpuexec_launch_multi_device(list, 1, NULL);
}

static const struct {
    launcher *launch;
    const char *function, *work;
} launchers[] = {
    { launch_plain, "gpuexec_launch", "kernel \"illegal_address\"" },
    { launch_cooperative, "gpuexec_launch_cooperative", "kernel \"illegal_address\"" },
    { launch_on_legacy, "gpuexec_launch", "kernel \"illegal_address\"" },
    { launch_on_per_thread, "gpuexec_launch", "kernel \"illegal_address\"" },
    { launch_on_current, "gpuexec_launch", "kernel \"illegal_address\"" },
    { launch_prepared, "gpuexec_launch_prepared", "kernel \"illegal_address\"" },
    { launch_graph, "gpuexec_graph_launch", "a kernel of the graph" },
    { launch_batch, "gpuexec_batch_launch", "a kernel of the batch" },
    { launch_multi, "gpuexec_launch_multi_device", "a kernel" },
};
static size_t launcher_now;
static int in_desc;

static void launch_one_that_fails(void) {
    gpuexec_setup_desc desc = { 0 };
    char first[200], work[100];
    const gpuexec_error *e;
    gpuexec_kernel faulty;
    gpuexec_stream other;
    uint32_t by = 1, n = BYTES / 4;
    setting s;
    int line = 0;
    desc.check = desc.ignore_environment = in_desc;
    desc.driver_path = in_desc ? getenv("GPUEXEC_DRIVER") : NULL;
    CHECK_OK(gpuexec_setup(&desc));
    s = set_up(UNIT_PTX, "add", BYTES);
    faulty = gpuexec_kernel_get(
            gpuexec_module_load_file(s.ctx, FAULTS_PTX, NULL), "illegal_address");
    other = gpuexec_stream_create(s.ctx, NULL);
    /* launches before it, on both streams, are not accused */
    CHECK_OK(
            gpuexec_launch(s.kernel, other, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s.data, by, n)));
    CHECK_OK(gpuexec_launch(
            s.kernel, s.stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s.data, by, n)));
    CHECK_RESULT(launchers[launcher_now].launch(&s, faulty, &line), GPUEXEC_KERNEL_FAILED);
    e = gpuexec_error_detail();
    CHECK_EQ(e->asynchronous, 0);
    CHECK_EQ(e->sticky, 1);
    snprintf(first, sizeof first, "debugging.c:%d: %s: ", line, launchers[launcher_now].function);
    snprintf(work, sizeof work, ": %s launched by this call accessed an illegal address",
            launchers[launcher_now].work);
    CHECK_TEXT(e->text, first, work, "GPUEXEC_CHECK has waited", "CUDA_ERROR_ILLEGAL_ADDRESS",
            "start a new one");
    CHECK(!strstr(e->text, "earlier kernel"));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED); /* latched */
}
TEST_ALONE(check_finds_the_launch_that_failed) {
    setenv("GPUEXEC_CHECK", "1", 1);
    for (launcher_now = 0; launcher_now < sizeof launchers / sizeof *launchers; launcher_now++)
        if (!CHECK(run_child(launch_one_that_fails)))
            printf("the launch is number %d\n", (int)launcher_now);
}
TEST_ALONE(check_as_a_member_of_the_desc) {
    setenv("GPUEXEC_CHECK", "0", 1);
    in_desc = 1;
    CHECK(run_child(launch_one_that_fails));
}

static void launch_without_check(void) {
    gpuexec_setup_desc desc = { 0 };
    setting s;
    gpuexec_kernel waiting, faulty;
    desc.ignore_environment = in_desc;
    desc.driver_path = in_desc ? getenv("GPUEXEC_DRIVER") : NULL;
    CHECK_OK(gpuexec_setup(&desc));
    s = set_up(UNIT_PTX, "add", BYTES);
    s.gate = gate_make(s.ctx, s.mod);
    faulty = gpuexec_kernel_get(
            gpuexec_module_load_file(s.ctx, FAULTS_PTX, NULL), "illegal_address");
    waiting = s.gate.kernel;
    CHECK_MADE(waiting);
    gate_close(s.gate, s.stream); /* with the check, this would never return */
    CHECK_OK(gpuexec_launch(faulty, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    gate_open(s.gate);
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_EQ(gpuexec_error_detail()->asynchronous, 1);
}
TEST_ALONE(without_check_nothing_waits) {
    setenv("GPUEXEC_CHECK", "0", 1);
    CHECK(run_child(launch_without_check));
    setenv("GPUEXEC_CHECK", "1", 1);
    in_desc = 1; /* ignores the environment */
    CHECK(run_child(launch_without_check));
}

/* Which calls wait: the trace has a cuStreamSynchronize for each. */
static int waits;
static void count_waits(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_TRACE && strstr(text, "cuStreamSynchronize")) waits++;
}
#define CHECK_WAITS(call, n) \
    do { \
        const int before = waits; \
        CHECK_OK(call); \
        CHECK_EQ(waits - before, n); \
    } while (0)
TEST(check_waits_for_work_only) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_graph graph;
    gpuexec_batch batch;
    gpuexec_copy_part parts[8];
    static char host[BYTES];
    gpuexec_event e;
    gpuexec_ptr other;
    uint32_t by = 1, n = BYTES / 4;
    unsigned i;
    setting s;
    desc.check = desc.trace = 1;
    desc.log = count_waits;
    CHECK_OK(gpuexec_setup(&desc));
    s = set_up(UNIT_PTX, "add", BYTES);
    e = gpuexec_event_create(s.ctx, NULL);
    other = gpuexec_alloc(s.ctx, BYTES);
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 8; i++) {
        parts[i].to = other + 16 * i;
        parts[i].from = s.data + 16 * i;
        parts[i].bytes = 16;
    }
    CHECK_WAITS(gpuexec_launch(
                        s.kernel, s.stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s.data, by, n)),
            1);
    CHECK_OK(gpuexec_stream_query(s.stream));
    CHECK_WAITS(gpuexec_fill(s.stream, s.data, 3, 4, n), 1);
    CHECK_WAITS(gpuexec_copy(s.stream, other, s.data, BYTES), 1);
    CHECK_WAITS(gpuexec_copy_many(s.stream, parts, 8), 1);
    CHECK_WAITS(gpuexec_copy_out(GPUEXEC_CURRENT, host, other, BYTES), 1);
    CHECK_EQ(host[4], 3); /* before any call that waits */
    CHECK_WAITS(gpuexec_event_record(e, s.stream), 0);
    CHECK_WAITS(gpuexec_stream_wait_event(s.stream, e), 0);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    CHECK_WAITS(gpuexec_fill(s.stream, s.data, 4, 4, n), 0);
    CHECK_WAITS(gpuexec_launch(
                        s.kernel, s.stream, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s.data, by, n)),
            0);
    /* the capture does not forbid waits on other streams */
    CHECK_WAITS(gpuexec_fill(GPUEXEC_CURRENT, other, 9, 4, n), 1);
    graph = gpuexec_capture_end(s.stream);
    CHECK_MADE(graph);
    CHECK_WAITS(gpuexec_graph_launch(graph, s.stream), 1);
    CHECK_WAITS(gpuexec_graph_launch(graph, s.stream), 1);
    batch = gpuexec_batch_create(s.ctx, NULL);
    for (i = 0; i < 3; i++)
        gpuexec_batch_add(batch, s.kernel, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(s.data, by, n));
    CHECK_WAITS(gpuexec_batch_launch(batch, s.stream), 1);
    CHECK_WAITS(gpuexec_batch_launch(batch, s.stream), 1);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_copy_out(s.stream, host, s.data, BYTES));
    CHECK_EQ(host[0], 4 + 1 + 6);
}

/* --- gpuexec_describe ------------------------------------------------------------------------- */

/* "KIND created at ...debugging.c:LINE, device 0" */
static void check_described(unsigned long long id, const char *what, int line, const char *rest) {
    char text[200];
    snprintf(text, sizeof text, "debugging.c:%d%s", line, rest);
    CHECK_TEXT(gpuexec_id_describe(id), what, text);
    CHECK(strncmp(gpuexec_id_describe(id), what, strlen(what)) == 0);
    CHECK(!strchr(gpuexec_id_describe(id), '\n'));
}
#define CHECK_DESCRIBED(handle, what, line, rest) check_described((handle).id, what, line, rest)

TEST(every_kind_of_handle_has_a_description) {
    static const char on_device[] = ", device 0";
    gpuexec_linker_desc linking = { 0 };
    const int line = __LINE__ + 1;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "nothing");
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL);
    gpuexec_event event = gpuexec_event_create(ctx, NULL);
    gpuexec_linker linker = gpuexec_linker_create(ctx, &linking);
    gpuexec_params params = gpuexec_params_create();
    gpuexec_prepared prepared = gpuexec_prepare(fn, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    gpuexec_barrier barrier = gpuexec_barrier_create(&ctx, 1, NULL);
    gpuexec_graph graph = gpuexec_graph_create(ctx);
    gpuexec_batch batch = gpuexec_batch_create(ctx, NULL);
    gpuexec_pool pool = gpuexec_pool_create(ctx, NULL);
    gpuexec_library library = gpuexec_library_load_file(UNIT_PTX, NULL);
    gpuexec_stream legacy = gpuexec_stream_legacy(ctx);
    gpuexec_stream per_thread = gpuexec_stream_per_thread(ctx);
    gpuexec_stream own = gpuexec_context_stream(ctx);
    gpuexec_stream adopted = gpuexec_stream_from_native(ctx, gpuexec_stream_native(stream));
    gpuexec_context again = gpuexec_context_from_native(gpuexec_context_native(ctx));
    CHECK_DESCRIBED(ctx, "context opened at ", line, on_device);
    CHECK_DESCRIBED(mod, "module created at ", line + 1, on_device);
    CHECK_DESCRIBED(fn, "kernel \"nothing\" requested at ", line + 2, on_device);
    CHECK_DESCRIBED(stream, "stream created at ", line + 3, on_device);
    CHECK_DESCRIBED(event, "event created at ", line + 4, on_device);
    CHECK_DESCRIBED(linker, "linker created at ", line + 5, on_device);
    CHECK_DESCRIBED(params, "parameter block created at ", line + 6, "");
    CHECK_DESCRIBED(prepared, "prepared launch created at ", line + 7, on_device);
    CHECK_DESCRIBED(barrier, "barrier created at ", line + 8, "");
    CHECK_DESCRIBED(graph, "graph created at ", line + 9, on_device);
    CHECK_DESCRIBED(batch, "batch created at ", line + 10, on_device);
    CHECK_DESCRIBED(pool, "pool created at ", line + 11, on_device);
    CHECK_DESCRIBED(library, "library created at ", line + 12, "");
    CHECK_DESCRIBED(legacy, "legacy default stream requested at ", line + 13, on_device);
    CHECK_DESCRIBED(per_thread, "per-thread default stream requested at ", line + 14, on_device);
    CHECK_DESCRIBED(own, "the context's own stream created at ", line + 15, on_device);
    CHECK_DESCRIBED(adopted, "stream adopted at ", line + 16, on_device);
    CHECK_DESCRIBED(again, "context adopted at ", line + 17, on_device);
    CHECK_OK(gpuexec_take_error());
    CHECK_TEXT(gpuexec_describe(gpuexec_ipc_connect(NULL, 1)),
            "connection, failed: ", "debugging.c:", "gpuexec_ipc_connect: ");
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
}

TEST(descriptions_of_handles_that_are_not_ok) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL), none = { 0 };
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL), garbage;
    gpuexec_stream_desc bad = { 0 };
    gpuexec_stream failed;
    const char *before;
    int line = __LINE__ + 1, i;
    gpuexec_stream gone = gpuexec_stream_create(ctx, NULL);
    char text[300];
    CHECK_OK(gpuexec_stream_destroy(gone));
    snprintf(text, sizeof text, "debugging.c:%d; it was created at ", line + 2);
    CHECK_TEXT(gpuexec_describe(gone),
            "stream, stale: it was destroyed by gpuexec_stream_destroy at ", text);
    snprintf(text, sizeof text, "debugging.c:%d", line);
    CHECK_TEXT(gpuexec_describe(gone), text);
    bad.start_canary = 7;
    failed = gpuexec_stream_create(ctx, &bad);
    snprintf(text, sizeof text, "debugging.c:%d: gpuexec_stream_create: ", __LINE__ - 1);
    CHECK_TEXT(gpuexec_describe(failed), "stream, failed: ", text,
            "the gpuexec_stream_desc was not zero-initialized");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    before = gpuexec_error_text();
    CHECK_STRING(gpuexec_describe(none), "a handle that was never created (0x0)");
    CHECK_TEXT(gpuexec_describe(GPUEXEC_CURRENT),
            "GPUEXEC_CURRENT, the calling thread's current stream (0x3f)");
    garbage.id = 0x1234567800000004u;
    CHECK_STRING(
            gpuexec_describe(garbage), "not a handle of this copy of gpuexec (0x1234567800000004)");
    CHECK(before == gpuexec_error_text()); /* it is not a failure */
    CHECK_OK(gpuexec_take_error());
    /* four texts stay valid */
    before = gpuexec_describe(stream);
    snprintf(text, sizeof text, "%s", before);
    for (i = 0; i < 3; i++) gpuexec_describe(gone);
    CHECK_STRING(before, text);
    /* a reason that is no longer stored */
    for (i = 0; i < 64; i++) {
        gpuexec_stream_create(ctx, &bad);
        gpuexec_take_error();
    }
    CHECK_STRING(gpuexec_describe(failed), "stream, failed: the reason is no longer stored");
    gpuexec_shutdown();
    CHECK_STRING(gpuexec_describe(stream),
            "stream, stale: it was closed during gpuexec_shutdown or earlier");
}

static gpuexec_stream of_parent;
static void describe_in_child(void) {
    CHECK_STRING(gpuexec_describe(of_parent), "stream, stale: the parent process created it");
}
TEST_ALONE(descriptions_in_a_forked_child) {
    of_parent = gpuexec_stream_create(gpuexec_context_open(0, NULL), NULL);
    CHECK_MADE(of_parent);
    CHECK(run_child(describe_in_child));
}

static gpuexec_result describe_without_memory(void) {
    gpuexec_stream none = { 0 };
    const char *text = gpuexec_describe(none);
    CHECK(strncmp(text, "a handle ", 9) == 0);
    return strstr(text, "out of host memory") ? GPUEXEC_OUT_OF_HOST_MEMORY : GPUEXEC_OK;
}
TEST(descriptions_without_memory) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_result result = GPUEXEC_OUT_OF_HOST_MEMORY;
    int i;
    desc.realloc_function = test_realloc;
    for (i = 0; i < 20 && result; i++) {
        CHECK_OK(gpuexec_setup(&desc));
        test_blocks_left = i;
        result = describe_without_memory();
        test_blocks_left = TEST_BLOCKS_ENOUGH;
        gpuexec_shutdown();
    }
    CHECK(i > 1 && i < 20);
    CHECK_EQ(test_blocks, 0);
}

/* --- GPUEXEC_LOG, and what a program prints that ends with a failure ---------------------------
 */

/* Runs `program` in a child, which then calls exit. Returns what the child writes to stderr. */
static char *printed_by(void (*program)(void)) {
    static char text[20000];
    FILE *file = tmpfile();
    pid_t child;
    size_t n;
    if (!file) return NULL;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        dup2(fileno(file), 2);
        test_failures = 0;
        program();
        exit(test_failures != 0);
    }
    CHECK(end_child(child));
    rewind(file);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}
#define ENDED "gpuexec: the program has ended with a failure that it has not taken"
static int times(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++) n++;
    return n;
}

static int first_line;
static void fail_twice(void) {
    first_line = __LINE__ + 1;
    gpuexec_context_open(1000, NULL);
    gpuexec_context_open(1001, NULL);
}
static void fail_and_take(void) {
    fail_twice();
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NO_DEVICE);
}
static void fail_and_shut_down(void) {
    fail_twice();
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_NO_DEVICE);
}
static void fail_and_be_quiet(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.quiet_exit = 1;
    CHECK_OK(gpuexec_setup(&desc));
    fail_twice();
}
static void fail_without_latch(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.no_latch = 1;
    CHECK_OK(gpuexec_setup(&desc));
    fail_twice();
}
static void fail_in_queries(void) {
    int value;
    CHECK_RESULT(gpuexec_device_get_attribute(1000, 1, &value), GPUEXEC_NO_DEVICE);
}
static void *fail_on_a_thread(void *done) {
    fail_twice();
    if (done) sem_post((sem_t *)done);
    while (done) pause();
    return NULL;
}
static void fail_on_an_ended_thread(void) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, fail_on_a_thread, NULL), 0);
    pthread_join(thread, NULL);
}
/* After what the library does at the end. With newer versions of glibc, exit then waits for the
   locks of all files, with and without gpuexec. */
static int ends_before_files_are_flushed;
__attribute__((destructor(101))) static void end_now(void) {
    if (ends_before_files_are_flushed) _exit(test_failures != 0);
}
/* The thread runs on, and holds the lock of stderr. */
static void *fail_with_stderr_locked(void *done) {
#if !defined(__SANITIZE_THREAD__) /* its end flushes stderr */
    flockfile(stderr);
#endif
    return fail_on_a_thread(done);
}
static void fail_on_a_thread_that_runs(void) {
    static sem_t done;
    pthread_t thread;
    ends_before_files_are_flushed = 1;
    sem_init(&done, 0, 0);
    CHECK_EQ(pthread_create(&thread, NULL, fail_with_stderr_locked, &done), 0);
    pthread_detach(thread);
    while (sem_wait(&done) != 0) {}
}
/* A wait on this thread returns the other one's failure. */
static void fail_and_return_it_elsewhere(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_MADE(ctx);
    fail_on_an_ended_thread();
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_NO_DEVICE);
}
static void fail_then_fork(void) {
    pid_t child;
    int status = 1;
    fail_twice();
    child = fork();
    if (child == 0) exit(0); /* prints nothing */
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

TEST_ALONE(a_program_that_ends_with_a_failure_prints_it) {
    void (*const programs[])(void) = { fail_twice, fail_on_an_ended_thread,
        fail_on_a_thread_that_runs, fail_then_fork, fail_and_take, fail_and_shut_down,
        fail_and_be_quiet, fail_without_latch, fail_in_queries, fail_and_return_it_elsewhere };
    const size_t that_print = 4;
    size_t i;
    for (i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *const text = printed_by(programs[i]);
        if (!CHECK_EQ(times(text, ENDED), i < that_print)) printf("program %d\n", (int)i);
        CHECK_EQ(times(text, "there is no device 1000"), i < that_print);
        CHECK_EQ(times(text, "debugging.c:"), i < that_print);
        CHECK_EQ(times(text, "device 1001"), 0);
    }
}

/* The program ends while a thread is inside the allocator, with or without the library's lock. */
static int stops_at;
static sem_t stopped;
static void *allocator_that_stops(void *user, void *p, size_t bytes) {
    if (bytes && __atomic_load_n(&stops_at, __ATOMIC_ACQUIRE) > 0 &&
            __atomic_sub_fetch(&stops_at, 1, __ATOMIC_ACQ_REL) == 0) {
        sem_post(&stopped);
        while (user) pause();
    }
    if (bytes) return realloc(p, bytes);
    free(p);
    return NULL;
}
static void *create_on_a_thread(void *unused) {
    gpuexec_params_create_at("a place that is copied");
    sem_post(&stopped); /* it has not stopped */
    return unused;
}
static int stops;
static void end_inside_the_allocator(void) {
    gpuexec_setup_desc desc = { 0 };
    pthread_t thread;
    desc.realloc_function = allocator_that_stops;
    desc.realloc_user = &desc;
    sem_init(&stopped, 0, 0);
    CHECK_OK(gpuexec_setup(&desc));
    fail_twice();
    __atomic_store_n(&stops_at, stops, __ATOMIC_RELEASE);
    CHECK_EQ(pthread_create(&thread, NULL, create_on_a_thread, NULL), 0);
    pthread_detach(thread);
    while (sem_wait(&stopped) != 0) {}
}
TEST_ALONE(a_program_ends_while_a_thread_holds_the_lock) {
    int printed = 0, n = 12;
    for (stops = 1; stops <= n; stops++)
        printed += times(printed_by(end_inside_the_allocator), ENDED);
    CHECK(printed > 0 && printed < n); /* not where the lock is held */
}

/* stderr is a pipe: full, or without a reader. */
static void fail_into_a_full_pipe(void) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], "x", 1) == 1) {}
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], 2);
    fail_twice();
}
static void fail_into_a_broken_pipe(void) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    signal(SIGPIPE, SIG_DFL);
    dup2(ends[1], 2);
    close(ends[1]);
    close(ends[0]);
    fail_twice();
}
static void fail_without_stderr(void) {
    fail_twice();
    close(2);
}
TEST_ALONE(a_program_ends_although_stderr_cannot_be_written) {
    CHECK_STRING(printed_by(fail_into_a_full_pipe), "");
    CHECK_STRING(printed_by(fail_into_a_broken_pipe), "");
    CHECK_STRING(printed_by(fail_without_stderr), "");
}

static void fail_and_log(void) {
    fail_and_take();
    fail_in_queries();
}
static void fail_and_ignore_the_environment(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.ignore_environment = 1;
    desc.driver_path = getenv("GPUEXEC_DRIVER");
    CHECK_OK(gpuexec_setup(&desc));
    fail_and_log();
}
static void fail_with_a_logger(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.log = count_waits;
    CHECK_OK(gpuexec_setup(&desc));
    fail_and_log();
}
TEST_ALONE(failures_are_printed_on_request) {
    const char *text;
    CHECK_STRING(printed_by(fail_and_log), "");
    setenv("GPUEXEC_LOG", "0", 1);
    CHECK_STRING(printed_by(fail_and_log), "");
    setenv("GPUEXEC_LOG", "1", 1);
    text = printed_by(fail_and_log);
    CHECK_EQ(times(text, "there is no device 1000"), 2); /* queries, too */
    CHECK_EQ(times(text, "there is no device 1001"), 1);
    CHECK_EQ(times(text, "cuInit"), 0); /* no trace */
    CHECK_EQ(times(text, ENDED), 0);
    CHECK_STRING(printed_by(fail_and_ignore_the_environment), "");
    CHECK_STRING(printed_by(fail_with_a_logger), "");
    setenv("GPUEXEC_DRIVER", "/no/such/driver.so", 1);
    CHECK_TEXT(
            printed_by(fail_twice), "cannot load the driver library \"/no/such/driver.so\"", ENDED);
}
