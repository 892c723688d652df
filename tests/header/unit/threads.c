/* threads.c - many threads use the same objects at once; also run under the thread sanitizer (make
   SAN=thread), which makes these tests slow: TEST_ROUNDS=2 in the environment, instead of 20, is
   then enough. On a GPU, where creating a context takes 0.1 s, the default is 5. */
#include "../../test.h"

#include <sched.h>

enum { THREADS = 8, ROUNDS = 25, WORDS = 1000 };

typedef struct worker {
    gpuexec_context ctx;
    gpuexec_module mod;    /* shared */
    gpuexec_kernel kernel; /* shared: "add", or the test's kernel */
    gpuexec_stream stream; /* shared, or {0}: the worker creates one */
    uint32_t number;
    int wrong; /* words with wrong values */
    gpuexec_result worst;
    char text[500];
} worker;

static int rounds_wanted(void) {
    const char *text = getenv("TEST_ROUNDS");
    return text && atoi(text) > 0 ? atoi(text) : on_cpu_device() || getenv("TEST_ALL") ? 20 : 5;
}

static void note(worker *w, gpuexec_result r) {
    if (r == GPUEXEC_OK || w->worst != GPUEXEC_OK) return;
    w->worst = r;
    snprintf(w->text, sizeof w->text, "%s", gpuexec_error_text());
}

/* Allocates, copies in, adds three times, copies out, checks, frees; repeatedly, with other
   values. */
static void *work(void *user) {
    worker *w = (worker *)user;
    gpuexec_stream own = { 0 }, s;
    uint32_t in[WORDS], out[WORDS], round, i, n = WORDS, by = w->number + 1;
    s = w->stream.id ? w->stream : (own = gpuexec_stream_create(w->ctx, NULL));
    for (round = 0; round < ROUNDS; round++) {
        gpuexec_ptr p = gpuexec_alloc(w->ctx, sizeof in);
        for (i = 0; i < n; i++) in[i] = w->number * 1000000 + round * 10000 + i;
        note(w, gpuexec_copy_in(s, p, in, sizeof in));
        for (i = 0; i < 3; i++)
            note(w, gpuexec_launch(w->kernel, s, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, n)));
        note(w, gpuexec_copy_out(s, out, p, sizeof out));
        note(w, gpuexec_stream_sync(s));
        for (i = 0; i < n; i++)
            if (out[i] != in[i] + 3 * by) w->wrong++;
        note(w, gpuexec_free(p));
    }
    if (own.id) note(w, gpuexec_stream_destroy(own));
    return NULL;
}

static void run_workers(worker *w, void *(*function)(void *)) {
    pthread_t threads[THREADS];
    int i;
    for (i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, function, &w[i]), 0);
    for (i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (i = 0; i < THREADS; i++) {
        CHECK_EQ(w[i].wrong, 0);
        if (!CHECK_EQ(w[i].worst, GPUEXEC_OK)) printf("%s", w[i].text);
    }
}

static void make_workers(worker *w, int shared_stream) {
    int i;
    memset(w, 0, THREADS * sizeof *w);
    w[0].ctx = gpuexec_context_open(0, NULL);
    w[0].mod = gpuexec_module_load_file(w[0].ctx, UNIT_PTX, NULL);
    w[0].kernel = gpuexec_kernel_get(w[0].mod, "add");
    if (shared_stream) w[0].stream = gpuexec_stream_create(w[0].ctx, NULL);
    for (i = 1; i < THREADS; i++) {
        w[i] = w[0];
        w[i].number = (uint32_t)i;
    }
}

TEST(eight_threads_with_a_stream_each) {
    worker w[THREADS];
    make_workers(w, 0);
    run_workers(w, work);
}

TEST(eight_threads_on_one_stream) {
    worker w[THREADS];
    make_workers(w, 1);
    run_workers(w, work);
}

/* Every thread starts without objects: the first one starts the library, the others find it
   started. */
static void *begin_and_work(void *user) {
    worker *w = (worker *)user;
    w->ctx = gpuexec_context_open(0, NULL);
    w->mod = gpuexec_module_load_file(w->ctx, UNIT_PTX, NULL);
    w->kernel = gpuexec_kernel_get(w->mod, "add");
    work(w);
    note(w, gpuexec_module_unload(w->mod));
    note(w, gpuexec_context_close(w->ctx));
    return NULL;
}

TEST(eight_threads_start_the_library_at_once) {
    worker w[THREADS];
    int i;
    memset(w, 0, sizeof w);
    for (i = 0; i < THREADS; i++) w[i].number = (uint32_t)i;
    run_workers(w, begin_and_work);
}

/* Creates and destroys objects and queries stale ones, to test the tables of handles. */
static void *churn(void *user) {
    worker *w = (worker *)user;
    gpuexec_stream s[16];
    gpuexec_event e[16];
    int round, i;
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < 16; i++) {
            s[i] = gpuexec_stream_create(w->ctx, NULL);
            e[i] = gpuexec_event_create(w->ctx, NULL);
        }
        for (i = 0; i < 16; i++)
            if (!gpuexec_ok(s[i]) || !gpuexec_ok(e[i])) w->wrong++;
        for (i = 0; i < 16; i++) note(w, gpuexec_event_record(e[i], s[i]));
        for (i = 0; i < 16; i++) note(w, gpuexec_event_sync(e[i]));
        if (gpuexec_kernel_get(w->mod, "add").id != w->kernel.id) w->wrong++;
        if (gpuexec_stream_legacy(w->ctx).id != w->stream.id) w->wrong++;
        for (i = 0; i < 16; i++) {
            note(w, gpuexec_stream_destroy(s[i]));
            note(w, gpuexec_event_destroy(e[i]));
        }
        for (i = 0; i < 16; i++)
            if (gpuexec_ok(s[i]) || gpuexec_ok(e[i])) w->wrong++;
        if (gpuexec_stream_sync(s[round % 16]) != GPUEXEC_STALE_HANDLE) w->wrong++;
        gpuexec_take_error();
    }
    return NULL;
}

TEST(eight_threads_make_and_destroy) {
    worker w[THREADS];
    int i;
    make_workers(w, 0);
    for (i = 0; i < THREADS; i++) w[i].stream = gpuexec_stream_legacy(w[0].ctx);
    run_workers(w, churn);
}

/* All threads get the same kernel of a new module at once: there must be one handle. Meanwhile each
   has a separate module, whose kernels are created and destroyed. */
static int waiting_to_get;
static void *get_together(void *user) {
    worker *w = (worker *)user;
    gpuexec_module own = gpuexec_module_load_file(w->ctx, UNIT_PTX, NULL);
    gpuexec_kernel_get(own, "add");
    __atomic_sub_fetch(&waiting_to_get, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&waiting_to_get, __ATOMIC_SEQ_CST) > 0) {}
    w->kernel = gpuexec_kernel_get(w->mod, "count");
    if (!gpuexec_ok(w->kernel) || !gpuexec_ok(gpuexec_kernel_get(own, "count"))) w->wrong++;
    note(w, gpuexec_module_unload(own));
    return NULL;
}

TEST(eight_threads_get_the_same_kernel) {
    worker w[THREADS];
    int i, round;
    make_workers(w, 0);
    for (round = 0; round < rounds_wanted(); round++) {
        gpuexec_module mod = gpuexec_module_load_file(w[0].ctx, UNIT_PTX, NULL);
        __atomic_store_n(&waiting_to_get, THREADS, __ATOMIC_SEQ_CST);
        for (i = 0; i < THREADS; i++) w[i].mod = mod;
        run_workers(w, get_together);
        for (i = 1; i < THREADS; i++) CHECK_EQ(w[i].kernel.id, w[0].kernel.id);
        CHECK_OK(gpuexec_module_unload(mod));
    }
}

/* Different sizes of shared memory above 48 KiB for one kernel at once: no opt-in may lower another
   one. */
static void *launch_with_shared(void *user) {
    worker *w = (worker *)user;
    gpuexec_stream s = gpuexec_stream_create(w->ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(w->ctx, 4);
    uint32_t words = 12 * 1024 + w->number * 500, sum = 0;
    int i;
    for (i = 0; i < 4; i++)
        note(w,
                gpuexec_launch(
                        w->kernel, s, gpuexec_grid(1, 256, words * 4), GPUEXEC_ARGS(p, words)));
    note(w, gpuexec_copy_out(s, &sum, p, 4));
    note(w, gpuexec_stream_sync(s));
    if (sum != words * (words - 1) / 2) w->wrong++;
    note(w, gpuexec_free(p));
    return NULL;
}

TEST(eight_threads_raise_the_shared_memory) {
    worker w[THREADS];
    gpuexec_device_info d;
    int i, round;
    make_workers(w, 0);
    CHECK_OK(gpuexec_device_get_info(0, &d));
    if (d.shared_per_block_optin < 64 * 1024)
        SKIP("this device has less than 64 KiB of shared memory per block");
    for (round = 0; round < rounds_wanted(); round++) { /* a new kernel, not opted in yet */
        gpuexec_module mod = gpuexec_module_load_file(w[0].ctx, "kernels/faults.ptx", NULL);
        for (i = 0; i < THREADS; i++) w[i].kernel = gpuexec_kernel_get(mod, "fill_dynamic_shared");
        run_workers(w, launch_with_shared);
        CHECK_OK(gpuexec_module_unload(mod));
    }
}

/* ---- everything at once: 32 threads, each starting at another entry of the list of operations,
   traced ---- */

enum { CROWD = 32, LAPS = 2 };
typedef struct crowd {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream stream;
    gpuexec_event event;
    gpuexec_barrier barrier;
    uint32_t laps;
} crowd;
typedef struct one {
    const crowd *all;
    uint32_t number, done;
} one;

/* Adds to n new words in that context, on that stream. */
static void add_up(gpuexec_context ctx, gpuexec_kernel add, gpuexec_stream s, uint32_t by) {
    uint32_t out[64] = { 0 }, n = 64, i;
    gpuexec_ptr p = gpuexec_alloc(ctx, sizeof out);
    CHECK_OK(gpuexec_fill(s, p, 0, 1, sizeof out));
    for (i = 0; i < 3; i++)
        CHECK_OK(gpuexec_launch(add, s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(p, by, n)));
    CHECK_OK(gpuexec_copy_out(s, out, p, sizeof out));
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(out[0] == 3 * by && out[63] == 3 * by);
    CHECK_OK(gpuexec_free(p));
}

static void on_the_shared_stream(one *me) {
    add_up(me->all->ctx, gpuexec_kernel_get(me->all->mod, "add"), me->all->stream, me->number + 1);
}

static void on_a_stream_of_its_own(one *me) {
    gpuexec_stream s = gpuexec_stream_create(me->all->ctx, NULL);
    add_up(me->all->ctx, gpuexec_kernel_get(me->all->mod, "add"), s, me->number + 1);
    CHECK_OK(gpuexec_stream_wait_stream(s, me->all->stream));
    CHECK_OK(gpuexec_stream_destroy(s));
    CHECK_RESULT(gpuexec_stream_sync(s), GPUEXEC_STALE_HANDLE);
}
static void in_a_context_of_its_own(one *me) {
    gpuexec_context ctx = me->number % 2 ? gpuexec_context_open(0, NULL)
                                         : gpuexec_context_create(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    add_up(ctx, gpuexec_kernel_get(mod, "add"), gpuexec_stream_create(ctx, NULL), me->number);
    CHECK(gpuexec_alloc(ctx, 64) != 0); /* freed with the context */
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(!gpuexec_ok(mod));
}
static void with_a_module_of_its_own(one *me) {
    gpuexec_module mod = gpuexec_module_load_file(me->all->ctx, UNIT_PTX, NULL);
    add_up(me->all->ctx, gpuexec_kernel_get(mod, "add"), gpuexec_stream_legacy(me->all->ctx),
            me->number);
    CHECK_OK(gpuexec_module_unload(mod));
}
static void events(one *me) {
    gpuexec_event e = gpuexec_event_create(me->all->ctx, NULL), f;
    CHECK_OK(gpuexec_event_record(e, me->all->stream));
    f = gpuexec_stream_record(me->all->stream, NULL);
    /* one event that all threads record */
    CHECK_OK(gpuexec_event_record(me->all->event, me->all->stream));
    CHECK_OK(gpuexec_stream_wait_event(gpuexec_stream_per_thread(me->all->ctx), me->all->event));
    CHECK_OK(gpuexec_event_sync(f));
    CHECK_OK(gpuexec_event_query(e));
    CHECK(gpuexec_event_elapsed_ms(e, f) >= 0);
    CHECK(gpuexec_event_query(me->all->event) <= GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_event_destroy(e));
    CHECK_OK(gpuexec_event_destroy(f));
}
static void pushes(one *me) {
    char text[1000];
    CHECK_OK(gpuexec_context_push(me->all->ctx));
    CHECK(gpuexec_context_is_current(me->all->ctx));
    CHECK(gpuexec_context_stack_text(text, sizeof text) > 0);
    CHECK_TEXT(text, "threads.c");
    CHECK_OK(gpuexec_context_retain(me->all->ctx));
    CHECK(gpuexec_context_users(me->all->ctx) > 1);
    CHECK_OK(gpuexec_context_close(me->all->ctx));
    CHECK_OK(gpuexec_context_pop(me->all->ctx));
}
static void failures(one *me) {
    char name[40];
    gpuexec_kernel k;
    const gpuexec_stream none = { 0 }; /* a wait for the shared stream would return it */
    snprintf(name, sizeof name, "none_of_%u", me->number);
    k = gpuexec_kernel_get(me->all->mod, name);
    CHECK_TEXT(gpuexec_error_text(), name, "\"add\"");
    CHECK_TEXT(gpuexec_why(k), name);
    CHECK_RESULT(
            gpuexec_launch(k, none, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS), GPUEXEC_NOT_FOUND);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_FOUND);
    CHECK_TEXT(gpuexec_error_detail()->message, name);
}
static void prepared(one *me) {
    uint32_t by = 1, n = 32, out = 0, i;
    gpuexec_ptr p = gpuexec_alloc(me->all->ctx, 4 * n);
    gpuexec_params b = gpuexec_params_create();
    gpuexec_prepared launch;
    CHECK_OK(gpuexec_params_add(b, GPUEXEC_POINTER, &p));
    CHECK_OK(gpuexec_params_add(b, GPUEXEC_UINT, &by));
    CHECK_OK(gpuexec_params_add(b, GPUEXEC_UINT, &n));
    launch = gpuexec_prepare(gpuexec_kernel_get(me->all->mod, "add"), me->all->stream,
            gpuexec_grid(1, 32, 0), gpuexec_params_args(b));
    CHECK_OK(gpuexec_fill(me->all->stream, p, 0, 1, 4 * n));
    for (i = 0; i < 5; i++) CHECK_OK(gpuexec_launch_prepared(launch));
    CHECK_OK(gpuexec_copy_out(me->all->stream, &out, p, 4));
    CHECK_OK(gpuexec_stream_sync(me->all->stream));
    CHECK_EQ(out, 5);
    CHECK_OK(gpuexec_prepared_destroy(launch));
    CHECK_OK(gpuexec_params_destroy(b));
    CHECK_OK(gpuexec_free(p));
}
static void addresses(one *me) {
    gpuexec_pointer_info info;
    uint32_t *pinned = (uint32_t *)gpuexec_alloc_pinned(me->all->ctx, 4096);
    gpuexec_ptr p = gpuexec_alloc(me->all->ctx, 4096);
    CHECK_OK(gpuexec_pointer_get_info(gpuexec_pinned_address(pinned + 4), &info));
    CHECK(info.kind == GPUEXEC_MEMORY_PINNED && info.ours);
    *pinned = me->number;
    CHECK_OK(gpuexec_copy_in(me->all->stream, p, pinned, 4));
    CHECK_OK(gpuexec_copy_out(me->all->stream, pinned + 1, p, 4));
    CHECK_OK(gpuexec_context_sync(me->all->ctx));
    CHECK_EQ(pinned[1], me->number);
    CHECK_OK(gpuexec_free(p));
    CHECK_OK(gpuexec_free_pinned(pinned));
}
/* every wait in its context reports a broken barrier: so it has a separate context */
static void barriers(one *me) {
    gpuexec_context ctx = gpuexec_context_create(0, NULL);
    gpuexec_barrier own = gpuexec_barrier_create(&ctx, 1, NULL);
    CHECK(gpuexec_barrier_address(own, 0) != gpuexec_barrier_address(me->all->barrier, 0));
    CHECK_OK(gpuexec_barrier_check(me->all->barrier));
    CHECK_OK(gpuexec_barrier_abort(own));
    CHECK_RESULT(gpuexec_context_sync(ctx), GPUEXEC_BARRIER_BROKEN);
    CHECK_OK(gpuexec_barrier_destroy(own));
    CHECK_OK(gpuexec_context_close(ctx));
}
static void in_stream_order(one *me) { /* closing the contexts races for the device's pool */
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream own = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc_on(own, 4096), q = gpuexec_alloc_on(me->all->stream, 4096);
    uint32_t out = 0;
    CHECK(p && q && p != q);
    CHECK_OK(gpuexec_fill(own, p, me->number, 4, 1024));
    CHECK_OK(gpuexec_fill(me->all->stream, q, 1, 1, 4096));
    CHECK_OK(gpuexec_copy_out(own, &out, p, 4));
    CHECK_OK(gpuexec_free_on(me->all->stream, q));
    CHECK_OK(gpuexec_stream_sync(own));
    CHECK_EQ(out, me->number);
    if (me->number % 2) CHECK_OK(gpuexec_free_on(own, p));
    CHECK_OK(gpuexec_context_close(ctx));
}
static void (*const doings[])(one *) = { on_the_shared_stream, on_a_stream_of_its_own,
    in_a_context_of_its_own, with_a_module_of_its_own, events, pushes, failures, prepared,
    addresses, barriers, in_stream_order };
static void *live(void *user) {
    one *me = (one *)user;
    const uint32_t n = sizeof doings / sizeof *doings;
    for (me->done = 0; me->done < me->all->laps * n; me->done++)
        doings[(me->number + me->done) % n](me);
    return NULL;
}
static int traced;
static void count_trace(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_TRACE && strncmp(text, "gpuexec: cu", 11) == 0 &&
            text[strlen(text) - 1] == '\n')
        __atomic_add_fetch(&traced, 1, __ATOMIC_RELAXED);
}

TEST(a_crowd_does_everything_at_once) {
    gpuexec_setup_desc desc = { 0 };
    pthread_t threads[CROWD];
    one ones[CROWD];
    crowd all;
    /* A GPU creates one context after the other, in a sixth of a second each: there a quarter of
       the threads makes one round. */
    const uint32_t threads_here = on_cpu_device() ? CROWD
            : getenv("TEST_ALL")                  ? CROWD / 2
                                                  : CROWD / 4;
    uint32_t i;
    all.laps = on_cpu_device() ? LAPS : 1;
    desc.log = count_trace;
    desc.trace = 1;
    CHECK_OK(gpuexec_setup(&desc));
    all.ctx = gpuexec_context_open(0, NULL);
    all.mod = gpuexec_module_load_file(all.ctx, UNIT_PTX, NULL);
    all.stream = gpuexec_stream_create(all.ctx, NULL);
    all.event = gpuexec_event_create(all.ctx, NULL);
    all.barrier = gpuexec_barrier_create(&all.ctx, 1, NULL);
    CHECK_MADE(all.barrier);
    for (i = 0; i < threads_here; i++) {
        ones[i].all = &all;
        ones[i].number = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, live, &ones[i]), 0);
    }
    for (i = 0; i < threads_here; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK(traced > (int)(threads_here * all.laps) * 10);
    CHECK_EQ(gpuexec_context_users(all.ctx), 1);
    CHECK_OK(gpuexec_context_close(all.ctx));
}

/* Threads start and end; their records are freed with them. */
static void *fail_and_leave(void *user) {
    worker *w = (worker *)user;
    if (gpuexec_error_text()[0] != 0) w->wrong++;
    gpuexec_kernel_get(w->mod, "no_such_kernel");
    if (!strstr(gpuexec_error_text(), "no_such_kernel")) w->wrong++;
    return NULL;
}

TEST(many_short_threads) {
    worker w[THREADS];
    int i;
    make_workers(w, 0);
    for (i = 0; i < 20; i++) run_workers(w, fail_and_leave);
    CHECK_OK(gpuexec_take_error());
}

/* --- failures that other threads report ------------------------------------------------------- */

enum { TOO_MANY_THREADS = 100000 }; /* per block, for every device */
typedef struct failing {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_stream stream;
    gpuexec_event event;
    int how, takes;
} failing;
enum {
    BY_LAUNCH,
    BY_LATCH,
    BY_COPY_IN,
    BY_COPY_OUT_2D,
    BY_FILL,
    BY_RECORD,
    BY_STREAM_RECORD,
    BY_WAIT_EVENT,
    BY_WAIT_STREAM,
    BY_HOST_FUNCTION,
    BY_PREPARED,
    BY_MULTI,
    WAYS
};

static failing fail_set_up(void) {
    failing f;
    memset(&f, 0, sizeof f);
    f.ctx = gpuexec_context_open(0, NULL);
    f.mod = gpuexec_module_load_file(f.ctx, UNIT_PTX, NULL);
    f.stream = gpuexec_stream_create(f.ctx, NULL);
    f.event = gpuexec_event_create(f.ctx, NULL);
    CHECK_MADE(f.mod);
    return f;
}
/* Enqueues work that is refused, in a different way for each value. */
static gpuexec_result refused(const failing *f) {
    static const gpuexec_event no_event = { 0 };
    static const gpuexec_stream no_stream = { 0 };
    gpuexec_kernel kernel = gpuexec_kernel_get(f->mod, "nothing");
    gpuexec_device_launch launch;
    gpuexec_prepared prepared;
    char bytes[8];
    switch (f->how) {
    case BY_LAUNCH:
        return gpuexec_launch(
                kernel, f->stream, gpuexec_grid(1, TOO_MANY_THREADS, 0), GPUEXEC_NO_ARGS);
    case BY_LATCH:
        /* latched; the launch itself is right, but refused */
        gpuexec_kernel_get(f->mod, "no_such_kernel");
        return gpuexec_launch(kernel, f->stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    case BY_COPY_IN: return gpuexec_copy_in(f->stream, 0, bytes, sizeof bytes);
    case BY_COPY_OUT_2D:
        return gpuexec_copy_with(f->stream, ROWS(ON_HOST(bytes, 8), ON_DEVICE(0, 8), 8, 1));
    case BY_FILL: return gpuexec_fill(f->stream, 0, 1, 4, 2);
    case BY_RECORD: return gpuexec_event_record(no_event, f->stream);
    case BY_STREAM_RECORD:
        gpuexec_kernel_get(f->mod, "no_such_kernel");
        return gpuexec_ok(gpuexec_stream_record(f->stream, NULL)) ? GPUEXEC_OK
                                                                  : gpuexec_error_detail()->result;
    case BY_WAIT_EVENT: return gpuexec_stream_wait_event(f->stream, no_event);
    case BY_WAIT_STREAM: return gpuexec_stream_wait_stream(f->stream, no_stream);
    case BY_HOST_FUNCTION: return gpuexec_stream_host_function(f->stream, NULL, NULL);
    case BY_PREPARED:
        prepared = gpuexec_prepare(kernel, f->stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
        CHECK_MADE(prepared);
        gpuexec_kernel_get(f->mod, "no_such_kernel");
        return gpuexec_launch_prepared(prepared);
    default:
        memset(&launch, 0, sizeof launch);
        launch.kernel = kernel;
        launch.stream = f->stream;
        launch.dims = gpuexec_grid(1, TOO_MANY_THREADS, 0);
        return gpuexec_launch_multi_device(&launch, 1, NULL);
    }
}
static void *fail_and_end(void *user) {
    const failing *f = (const failing *)user;
    const gpuexec_result result = refused(f);
    CHECK(result != GPUEXEC_OK);
    if (f->takes) CHECK_RESULT(gpuexec_take_error(), result);
    return NULL;
}
static void in_a_thread(void *(*function)(void *), void *user) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, function, user), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(a_wait_returns_what_was_refused_on_another_thread) {
    failing f = fail_set_up();
    for (f.how = 0; f.how < WAYS; f.how++) {
        in_a_thread(fail_and_end, &f);
        CHECK(gpuexec_stream_sync(f.stream) != GPUEXEC_OK);
        CHECK_TEXT(gpuexec_error_text(),
                "this failure happened on another thread; it was reported by gpuexec_stream_sync "
                "at ",
                "threads.c:");
        CHECK_OK(gpuexec_stream_sync(f.stream)); /* the next wait has nothing to return */
        CHECK_OK(gpuexec_take_error());          /* and nothing is latched here */
        in_a_thread(fail_and_end, &f);
        CHECK(gpuexec_context_sync(f.ctx) != GPUEXEC_OK);
        CHECK_TEXT(gpuexec_error_text(), "it was reported by gpuexec_context_sync at ");
        CHECK_OK(gpuexec_context_sync(f.ctx));
    }
    CHECK_OK(gpuexec_shutdown()); /* all failures were reported */
}
TEST(what_a_thread_has_taken_marks_no_stream) {
    failing f = fail_set_up();
    f.takes = 1;
    for (f.how = 0; f.how < WAYS; f.how++) {
        in_a_thread(fail_and_end, &f);
        CHECK_OK(gpuexec_stream_sync(f.stream));
        CHECK_OK(gpuexec_context_sync(f.ctx));
    }
    CHECK_OK(gpuexec_shutdown());
}
TEST(a_wait_for_another_stream_does_not_return_it) {
    failing f = fail_set_up();
    gpuexec_stream other = gpuexec_stream_create(f.ctx, NULL);
    in_a_thread(fail_and_end, &f);
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_RESULT(gpuexec_stream_sync(f.stream), GPUEXEC_BAD_LAUNCH);
    CHECK_OK(gpuexec_shutdown());
}
TEST(two_streams_of_one_failure) {
    failing f = fail_set_up(), g = f;
    g.stream = gpuexec_stream_create(f.ctx, NULL);
    CHECK_RESULT(refused(&f), GPUEXEC_BAD_LAUNCH);
    CHECK_RESULT(refused(&g), GPUEXEC_BAD_LAUNCH);
    /* takes the thread's failure, and with it both streams' */
    CHECK_RESULT(gpuexec_stream_sync(f.stream), GPUEXEC_BAD_LAUNCH);
    CHECK_OK(gpuexec_stream_sync(g.stream));
    CHECK_OK(gpuexec_shutdown());
}
TEST(shutdown_reports_failures_that_were_not_taken) {
    failing f = fail_set_up();
    in_a_thread(fail_and_end, &f);
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_BAD_LAUNCH);
    CHECK_TEXT(gpuexec_error_text(), "threads.c:", "gpuexec_launch",
            "this failure happened on another thread; it was reported by gpuexec_shutdown");
    CHECK_OK(gpuexec_shutdown());
    f = fail_set_up();
    f.how = BY_LATCH;
    in_a_thread(fail_and_end, &f);
    /* the stream is destroyed, the failure is still there */
    CHECK_OK(gpuexec_stream_destroy(f.stream));
    CHECK_OK(gpuexec_context_close(f.ctx));
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_NOT_FOUND);
}
static void *fail_and_wait(void *user) {
    failing *f = (failing *)user;
    refused(f);
    __atomic_store_n(&f->takes, 1, __ATOMIC_RELEASE);
    TEST_UNTIL(__atomic_load_n(&f->takes, __ATOMIC_ACQUIRE) != 1);
    return NULL;
}
TEST(shutdown_reports_what_a_living_thread_has_not_taken) {
    failing f = fail_set_up();
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, fail_and_wait, &f), 0);
    TEST_UNTIL(__atomic_load_n(&f.takes, __ATOMIC_ACQUIRE));
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_BAD_LAUNCH);
    __atomic_store_n(&f.takes, 2, __ATOMIC_RELEASE);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_OK(gpuexec_shutdown());
}
TEST(many_threads_end_with_failures) { /* more than the 1024 that are kept */
    failing f = fail_set_up();
    int i;
    for (i = 0; i < 1032; i++) in_a_thread(fail_and_end, &f);
    CHECK_RESULT(gpuexec_stream_sync(f.stream), GPUEXEC_BAD_LAUNCH); /* the last one's */
    CHECK_OK(gpuexec_stream_sync(f.stream));
    for (i = 0; i < 2; i++) in_a_thread(fail_and_end, &f); /* in place of one that was returned */
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_BAD_LAUNCH);
    CHECK_OK(gpuexec_shutdown());
}
static void *fail_dry(void *user) {
    CHECK(refused((const failing *)user) != GPUEXEC_OK);
    return NULL;
}
/* Each allocation of the failing thread also fails: without memory for a text, the mark still
   reports the refusal. */
TEST(a_refusal_is_reported_without_memory) {
    gpuexec_setup_desc desc = { 0 };
    int left, without_text = 0, with_text = 0;
    desc.realloc_function = test_realloc;
    for (left = 0; left < 24; left++) {
        failing f;
        CHECK_OK(gpuexec_setup(&desc));
        f = fail_set_up();
        f.how = left % 2 ? BY_LATCH : BY_LAUNCH;
        test_blocks_left = left / 2;
        in_a_thread(fail_dry, &f);
        test_blocks_left = TEST_BLOCKS_ENOUGH;
        CHECK(gpuexec_stream_sync(f.stream) != GPUEXEC_OK);
        without_text += strstr(gpuexec_error_text(), "reason could not be stored") != NULL;
        with_text += strstr(gpuexec_error_text(), "this failure happened on another thread") !=
                NULL;
        CHECK_OK(gpuexec_stream_sync(f.stream));
        gpuexec_shutdown();
        CHECK_EQ(test_blocks, 0);
    }
    CHECK(without_text > 0 && with_text > 0);
}

TEST(without_the_latch_waits_return_their_own_failures) {
    static const gpuexec_stream no_stream = { 0 };
    static const gpuexec_event no_event = { 0 };
    static const gpuexec_context no_context = { 0 };
    gpuexec_setup_desc desc = { 0 };
    failing f;
    desc.no_latch = 1;
    CHECK_OK(gpuexec_setup(&desc));
    f = fail_set_up();
    CHECK_RESULT(gpuexec_stream_sync(no_stream), GPUEXEC_BAD_HANDLE);
    CHECK_RESULT(gpuexec_event_sync(no_event), GPUEXEC_BAD_HANDLE);
    CHECK_RESULT(gpuexec_context_sync(no_context), GPUEXEC_BAD_HANDLE);
    CHECK_RESULT(refused(&f), GPUEXEC_BAD_LAUNCH);
    CHECK_OK(gpuexec_stream_sync(f.stream)); /* the launch has already returned it */
    in_a_thread(fail_and_end, &f);
    CHECK_OK(gpuexec_stream_sync(f.stream));
    CHECK_OK(gpuexec_shutdown());
}

/* --- threads that end during gpuexec_shutdown, and calls of others during gpuexec_setup
   --------------------------- */

static int blocks; /* allocated by the allocator below */
static void *count_blocks(void *user, void *p, size_t bytes) {
    (void)user;
    if (!p) __atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
    if (bytes) return realloc(p, bytes);
    if (p) __atomic_sub_fetch(&blocks, 1, __ATOMIC_RELAXED);
    free(p);
    return NULL;
}
typedef struct ending {
    pthread_barrier_t *both;
    int failures;
} ending;
static void *fail_then_end(void *user) {
    ending *e = (ending *)user;
    int i;
    for (i = 0; i < e->failures; i++) gpuexec_context_open(-1 - i, NULL);
    pthread_barrier_wait(e->both);
    return NULL; /* during the shutdown */
}
TEST(threads_end_during_shutdown) {
    int round, i;
    for (round = 0; round < 10 * rounds_wanted(); round++) {
        gpuexec_setup_desc desc = { 0 };
        pthread_barrier_t both;
        pthread_t threads[THREADS];
        ending e;
        CHECK_EQ(pthread_barrier_init(&both, NULL, THREADS + 1), 0);
        e.both = &both;
        e.failures = 1 + round % 3;
        desc.realloc_function = count_blocks;
        CHECK_OK(gpuexec_setup(&desc));
        for (i = 0; i < THREADS; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, fail_then_end, &e), 0);
        pthread_barrier_wait(&both);
        CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_NO_DEVICE);
        for (i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(pthread_barrier_destroy(&both), 0);
        CHECK_EQ(blocks, 0);
    }
}

static void *use_without_the_driver(void *user) {
    ending *e = (ending *)user;
    int i, value = 1;
    pthread_barrier_wait(e->both);
    for (i = 0; i < 20; i++) {
        gpuexec_params p = gpuexec_params_create();
        CHECK_OK(gpuexec_params_add(p, GPUEXEC_INT, &value));
        CHECK(gpuexec_params_add(p, (gpuexec_type)-1, &value) != GPUEXEC_OK);
        CHECK_TEXT(gpuexec_error_text(), "gpuexec_params_add");
        CHECK(gpuexec_why(p)[0] == 0);
        CHECK_OK(gpuexec_params_destroy(p));
        CHECK(gpuexec_params_add(p, GPUEXEC_INT, &value) == GPUEXEC_STALE_HANDLE);
        CHECK(gpuexec_take_error() != GPUEXEC_OK);
        if (e->failures) gpuexec_device_count(); /* starts the library, possibly as the first */
    }
    return NULL;
}
TEST(setup_beside_calls_of_other_threads) {
    int round, i;
    for (round = 0; round < 5 * rounds_wanted(); round++) {
        gpuexec_setup_desc desc = { 0 }, wrong = { 0 };
        pthread_barrier_t both;
        pthread_t threads[THREADS];
        gpuexec_result result;
        ending e;
        CHECK_EQ(pthread_barrier_init(&both, NULL, THREADS + 1), 0);
        e.both = &both;
        e.failures = round % 2;
        wrong.driver_path = "./no_such_library.so";
        wrong.realloc_function = desc.realloc_function = count_blocks;
        for (i = 0; i < THREADS; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, use_without_the_driver, &e), 0);
        pthread_barrier_wait(&both);
        for (i = 0; i < 3; i++) CHECK(gpuexec_setup(&wrong) != GPUEXEC_OK);
        result = gpuexec_setup(&desc);
        CHECK(result == GPUEXEC_OK || (e.failures && result == GPUEXEC_TOO_LATE));
        for (i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
        gpuexec_take_error();
        CHECK_OK(gpuexec_shutdown());
        CHECK_EQ(pthread_barrier_destroy(&both), 0);
        CHECK_EQ(blocks, 0);
    }
}
