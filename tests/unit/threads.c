/* threads.c - the same objects used by many threads at once. Run it under a thread sanitiser, too. */
#include "../test.h"

#define UNIT_PTX "tests/unit/unit.ptx"

enum { THREADS = 8, ROUNDS = 25, WORDS = 1000 };

typedef struct worker {
    gpuexec_context ctx;
    gpuexec_module  mod;                               /* shared */
    gpuexec_kernel  kernel;                            /* shared: "add", or what the test says */
    gpuexec_stream  stream;                            /* shared, or {0}: the worker makes its own */
    uint32_t        number;
    int             wrong;                             /* words that were not right */
    gpuexec_result  worst;
    char            text[500];
} worker;

static void note(worker *w, gpuexec_result r) {
    if (r == GPUEXEC_OK || w->worst != GPUEXEC_OK) return;
    w->worst = r;
    snprintf(w->text, sizeof w->text, "%s", gpuexec_error_text());
}

/* Allocates, copies in, adds three times, copies out, checks, frees; again and again with other values. */
static void *work(void *user) {
    worker *w = (worker *)user;
    gpuexec_stream own = { 0 }, s;
    uint32_t in[WORDS], out[WORDS], round, i, n = WORDS, by = w->number + 1;
    s = w->stream.id ? w->stream : (own = gpuexec_stream_create(w->ctx, NULL));
    for (round = 0; round < ROUNDS; round++) {
        gpuexec_ptr p = gpuexec_alloc(w->ctx, sizeof in);
        for (i = 0; i < n; i++) in[i] = w->number * 1000000 + round * 10000 + i;
        note(w, gpuexec_copy_in(s, p, in, sizeof in));
        for (i = 0; i < 3; i++) note(w, gpuexec_launch(w->kernel, s, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(p, by, n)));
        note(w, gpuexec_copy_out(s, out, p, sizeof out));
        note(w, gpuexec_stream_sync(s));
        for (i = 0; i < n; i++) if (out[i] != in[i] + 3 * by) w->wrong++;
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
    for (i = 1; i < THREADS; i++) { w[i] = w[0]; w[i].number = (uint32_t)i; }
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

/* Every thread begins with nothing: the first of them starts the library, the others find it started. */
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

/* Makes and destroys objects and asks for stale ones: the tables of handles are what is tried here. */
static void *churn(void *user) {
    worker *w = (worker *)user;
    gpuexec_stream s[16];
    gpuexec_event  e[16];
    int round, i;
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < 16; i++) { s[i] = gpuexec_stream_create(w->ctx, NULL); e[i] = gpuexec_event_create(w->ctx, NULL); }
        for (i = 0; i < 16; i++) if (!gpuexec_ok(s[i]) || !gpuexec_ok(e[i])) w->wrong++;
        for (i = 0; i < 16; i++) note(w, gpuexec_event_record(e[i], s[i]));
        for (i = 0; i < 16; i++) note(w, gpuexec_event_sync(e[i]));
        if (gpuexec_kernel_get(w->mod, "add").id != w->kernel.id) w->wrong++;
        if (gpuexec_stream_legacy(w->ctx).id != w->stream.id) w->wrong++;
        for (i = 0; i < 16; i++) { note(w, gpuexec_stream_destroy(s[i])); note(w, gpuexec_event_destroy(e[i])); }
        for (i = 0; i < 16; i++) if (gpuexec_ok(s[i]) || gpuexec_ok(e[i])) w->wrong++;
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

/* The same kernel of a fresh module, asked for by all at once: one handle. Meanwhile each has a module of its own, whose kernels come and go. */
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
    for (round = 0; round < 50; round++) {
        gpuexec_module mod = gpuexec_module_load_file(w[0].ctx, UNIT_PTX, NULL);
        __atomic_store_n(&waiting_to_get, THREADS, __ATOMIC_SEQ_CST);
        for (i = 0; i < THREADS; i++) w[i].mod = mod;
        run_workers(w, get_together);
        for (i = 1; i < THREADS; i++) CHECK_EQ(w[i].kernel.id, w[0].kernel.id);
        CHECK_OK(gpuexec_module_unload(mod));
    }
}

/* Different amounts of shared memory above 48 KiB for one kernel at once: the opt-in of one must not take another's away. */
static void *launch_with_shared(void *user) {
    worker *w = (worker *)user;
    gpuexec_stream s = gpuexec_stream_create(w->ctx, NULL);
    gpuexec_ptr    p = gpuexec_alloc(w->ctx, 4);
    uint32_t       words = 12 * 1024 + w->number * 500, sum = 0;
    int i;
    for (i = 0; i < 4; i++) note(w, gpuexec_launch(w->kernel, s, gpuexec_grid(1, 256, words * 4), GPUEXEC_ARGS(p, words)));
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
    if (d.shared_per_block_optin < 64 * 1024) SKIP("this device has less than 64 KiB of shared memory per block");
    for (round = 0; round < 20; round++) {                       /* a fresh kernel, not opted in yet */
        gpuexec_module mod = gpuexec_module_load_file(w[0].ctx, "kernels/faults.ptx", NULL);
        for (i = 0; i < THREADS; i++) w[i].kernel = gpuexec_kernel_get(mod, "fill_dynamic_shared");
        run_workers(w, launch_with_shared);
        CHECK_OK(gpuexec_module_unload(mod));
    }
}

/* Threads come and go; what each of them kept for itself goes with it. */
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
