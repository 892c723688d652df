/* validation.c - the finder of unordered work: programs with one mistake each, and their correct
   twins, to which one edge, wait or call was added; and correct programs that look wrong.
   A program runs with the finder, which must name both places and both streams of a mistake, and
   report nothing for a twin. On the CPU device each program also runs without it, under the two
   adversaries, in a process for each seed: a mistake must give a wrong result for one of the seeds,
   a twin the right one for all. TEST_VERBOSE=1 prints which seed it was. */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include "../../test.h"
#include <sys/mman.h>

#define PTX "tests/header/unit/validation.ptx"
enum { WORDS = 64, BYTES = WORDS * 4, SEEDS = 64, PROGRAMS = 128, LOG = 65536 };
/* what a program returns: whether its result is right, or: */
enum { CANNOT_RUN = -1 };

/* What programs begin with. Memory of the device: zeros; of the host, page-locked: 1. */
typedef struct ground {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_kernel set, set_rest, add, take, count, show;
    gpuexec_stream a, b, c; /* labels: one, two, three */
    gpuexec_event e;
    gpuexec_ptr d, d2;
    uint32_t *p, *q;
    int found; /* the finder is on */
} ground;

enum {
    IS_CORRECT = 1, /* there is no mistake */
    FAULTS = 2,     /* the mistake can break the process's devices */
    HOST_WAITS = 4, /* for what no call of CUDA waits for: not with lazy streams */
    DEVICES = 8     /* needs two */
};
typedef struct program {
    const char *name;
    int (*run)(ground *g, int right);
    const char *one, *two; /* labels of the streams, as reports write them */
    int flags;
    const char *unshown; /* why the CPU device's adversaries cannot show the mistake; or NULL */
    struct program *next;
    int number;
} program;
static program *programs, **programs_end = &programs;
static int programs_count;

static void try_program(const program *p);

#define PROGRAM(id, test_kind, ...) \
    static int id##_runs(ground *g, int right); \
    static program program_of_##id = { #id, id##_runs, __VA_ARGS__, NULL, 0 }; \
    __attribute__((constructor)) static void register_##id(void) { \
        program_of_##id.number = programs_count++; \
        *programs_end = &program_of_##id; \
        programs_end = &program_of_##id.next; \
    } \
    test_kind(id) { try_program(&program_of_##id); } \
    static int id##_runs(ground *g, int right)
#define MISTAKE(id, one, two) PROGRAM(id, TEST, one, two, 0, NULL)
#define CORRECT(id) PROGRAM(id, TEST, NULL, NULL, IS_CORRECT, NULL)

/* The two calls that nothing orders. */
static int first_line, second_line, launch_line;
#define FIRST(...) (first_line = __LINE__, CHECK_OK(__VA_ARGS__))
#define SECOND(...) (second_line = __LINE__, CHECK_OK(__VA_ARGS__))
#define FIRST_IS(...) (first_line = __LINE__, __VA_ARGS__)
#define SECOND_IS(...) (second_line = __LINE__, __VA_ARGS__)
/* The call that launches the graph whose nodes they added. */
#define LAUNCHED(...) (launch_line = __LINE__, CHECK_OK(__VA_ARGS__))

/* -------------------------------------------------------------------------------------------------
   The ground. */

static gpuexec_kernel kernel_of(const ground *g, const char *name) {
    gpuexec_kernel k = gpuexec_kernel_get(g->mod, name);
    CHECK_MADE(k);
    return k;
}

static ground open_ground(int device) {
    ground g;
    memset(&g, 0, sizeof g);
    g.ctx = gpuexec_context_open(device, NULL);
    g.mod = gpuexec_module_load_file(g.ctx, PTX, NULL);
    if (!CHECK_MADE(g.mod)) exit(1);
    g.set = kernel_of(&g, "set");
    g.set_rest = kernel_of(&g, "set_rest");
    g.add = kernel_of(&g, "add");
    g.take = kernel_of(&g, "take");
    g.count = kernel_of(&g, "count");
    g.show = kernel_of(&g, "show");
    g.d = gpuexec_alloc(g.ctx, 4 * BYTES);
    g.d2 = gpuexec_alloc(g.ctx, 4 * BYTES);
    g.p = (uint32_t *)gpuexec_alloc_pinned(g.ctx, 4 * BYTES);
    g.q = (uint32_t *)gpuexec_alloc_pinned(g.ctx, 4 * BYTES);
    g.e = gpuexec_event_create(g.ctx, NULL);
    CHECK(g.d && g.d2 && g.p && g.q);
    return g;
}

static gpuexec_ptr variable_of(const ground *g) {
    size_t bytes = 0;
    const gpuexec_ptr p = gpuexec_module_global_address(g->mod, "variable", &bytes);
    CHECK_EQ(bytes, 4);
    return p;
}

static gpuexec_stream labelled(gpuexec_context ctx, const char *label, int non_blocking) {
    gpuexec_stream s = gpuexec_stream_create(
            ctx, &(gpuexec_stream_desc){ .non_blocking = non_blocking });
    CHECK_MADE(s);
    CHECK_OK(gpuexec_label(s, label));
    return s;
}

static void fill_host(uint32_t *p, uint32_t value) {
    int i;
    for (i = 0; i < 4 * WORDS; i++) p[i] = value;
}

static void begin(ground *g) {
    fill_host(g->p, 1);
    fill_host(g->q, 1);
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d, 0, 1, 4 * BYTES));
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d2, 0, 1, 4 * BYTES));
    g->a = labelled(g->ctx, "one", 0);
    g->b = labelled(g->ctx, "two", 0);
    g->c = labelled(g->ctx, "three", 0);
}

static void end(ground *g) {
    CHECK_OK(gpuexec_context_sync(g->ctx));
    gpuexec_stream_destroy(g->a);
    gpuexec_stream_destroy(g->b);
    gpuexec_stream_destroy(g->c);
}

/* Whether n words, from the first one on, have that value. */
static int are(const uint32_t *words, size_t first, size_t n, uint32_t value) {
    size_t i;
    for (i = 0; i < n; i++)
        if (words[first + i] != value) return 0;
    return 1;
}

/* Whether the stream's work has copied that value to p. */
static int copied(ground *g, gpuexec_stream stream, uint32_t value) {
    return gpuexec_stream_sync(stream) == GPUEXEC_OK && are(g->p, 0, WORDS, value);
}

/* When all is done: whether the device's memory has that value. */
static int holds(ground *g, gpuexec_ptr d, uint32_t value) {
    uint32_t words[WORDS];
    return gpuexec_context_sync(g->ctx) == GPUEXEC_OK &&
            gpuexec_copy_out_now(g->ctx, words, d, BYTES) == GPUEXEC_OK &&
            are(words, 0, WORDS, value);
}

/* Waits for all work without the finder seeing it: a mistake that could break the device is only
   one for the finder. */
static void wait_unseen(ground *g) {
    driver_calls cu;
    if (!g->found) return;
    cu = calls_find();
    CHECK_OK(gpuexec_context_push(g->ctx));
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_OK(gpuexec_context_pop(g->ctx));
}

static gpuexec_result set_at(
        const char *where, const ground *g, gpuexec_stream s, gpuexec_ptr p, uint32_t value) {
    const uint32_t n = WORDS;
    return gpuexec_launch_at(where, g->set, s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(p, value, n));
}
static gpuexec_result take_at(
        const char *where, const ground *g, gpuexec_stream s, gpuexec_ptr to, gpuexec_ptr from) {
    const uint32_t n = WORDS;
    return gpuexec_launch_at(where, g->take, s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(to, from, n));
}
static gpuexec_result add_at(const char *where, const ground *g, gpuexec_stream s, gpuexec_ptr p,
        uint32_t first, uint32_t by, uint32_t n) {
    return gpuexec_launch_at(
            where, g->add, s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(p, first, by, n));
}
#define SET(stream, p, value) set_at(GPUEXEC_HERE, g, stream, p, value)
#define TAKE(stream, to, from) take_at(GPUEXEC_HERE, g, stream, to, from)
#define ADD(stream, p, first, by, n) add_at(GPUEXEC_HERE, g, stream, p, first, by, n)
#define FILL(stream, p, value) gpuexec_fill(stream, p, value, 4, WORDS)
#define OUT(stream, p, d) gpuexec_copy_out(stream, p, d, BYTES)
#define IN(stream, d, p) gpuexec_copy_in(stream, d, p, BYTES)

/* -------------------------------------------------------------------------------------------------
   With the finder. */

typedef struct notes {
    char text[LOG];
    size_t n;
    int messages;
} notes;

static void note(void *user, gpuexec_log_level level, const char *text) {
    notes *l = (notes *)user;
    size_t n = strlen(text);
    if (level != GPUEXEC_LOG_WARNING) return;
    l->messages++;
    if (n > LOG - 1 - l->n) n = LOG - 1 - l->n;
    memcpy(l->text + l->n, text, n);
    l->n += n;
}

static int begin_finder(notes *l) {
    gpuexec_setup_desc desc;
    memset(&desc, 0, sizeof desc);
    memset(l, 0, sizeof *l);
    unsetenv("GPUEXEC_CHECK"); /* each call would wait for its work */
    unsetenv("GPUEXEC_VALIDATION");
    desc.validation = 1;
    desc.log = note;
    desc.log_user = l;
    return CHECK_OK(gpuexec_setup(&desc));
}

/* Whether the text has that line of this file. */
static int has_place(const char *text, int line) {
    char place[64];
    const size_t n = (size_t)snprintf(place, sizeof place, "validation.c:%d", line);
    const char *at = text;
    while ((at = strstr(at, place)) != NULL && at[n] >= '0' && at[n] <= '9') at += n;
    return at != NULL;
}

static void check_report(const program *p, const notes *l) {
    int ok = CHECK(has_place(l->text, first_line)) & CHECK(has_place(l->text, second_line)) &
            CHECK_TEXT(l->text, p->one, p->two, "first:", "second:", "cure:");
    if (launch_line) ok &= CHECK(has_place(l->text, launch_line)) & CHECK_TEXT(l->text, "  graph:");
    if (!ok)
        printf("%s, lines %d and %d: reported:\n%s", p->name, first_line, second_line, l->text);
}

static void try_program(const program *p) {
    static notes l;
    int right, result;
    ground g;
    for (right = p->flags & IS_CORRECT; right < 2; right++) {
        if (!begin_finder(&l)) return;
        if (p->flags & DEVICES && gpuexec_device_count() < 2) SKIP("needs 2 devices");
        first_line = second_line = launch_line = 0;
        g = open_ground(0);
        g.found = 1;
        begin(&g);
        result = p->run(&g, right);
        end(&g);
        if (result == CANNOT_RUN) SKIP("the device or the driver cannot run it");
        if (right) {
            CHECK_EQ(result, 1);
            if (!CHECK_EQ(gpuexec_validation_reports(), 0))
                printf("%s, correct: reported:\n%s", p->name, l.text);
        } else if (CHECK_EQ(gpuexec_validation_reports(), 1)) check_report(p, &l);
        else if (l.n) printf("%s: reported:\n%s", p->name, l.text);
        gpuexec_shutdown();
    }
}

/* -------------------------------------------------------------------------------------------------
   With the adversaries. */

typedef struct adversary_results {
    int seed[PROGRAMS];      /* the first that showed the mistake; 0: none */
    int not_right[PROGRAMS]; /* how often the twin's result was wrong */
    int cannot_run[PROGRAMS];
} adversary_results;
static adversary_results *all;
static int seed_now;
static const program *only; /* of a child that may end with broken devices */

static void configure(int seed) {
    char text[16];
    snprintf(text, sizeof text, "%d", seed);
    setenv("SIMGPU_SCHEDULE", text, 1);
    setenv("SIMGPU_LAZY", "60000", 1); /* no work starts because the machine stopped the process */
    setenv("SIMGPU_THREADS", "1", 1);
    setenv("SIMGPU_DEVICES", "2", 1);
}

static void run_program(ground *g, const program *p, int right) {
    int result;
    begin(g);
    result = p->run(g, right);
    if (result == CANNOT_RUN) all->cannot_run[p->number] = 1;
    else if (right && !result) all->not_right[p->number]++;
    else if (!right && !result && !all->seed[p->number]) all->seed[p->number] = seed_now;
}

static void run_faulty(void) {
    ground g = open_ground(0);
    run_program(&g, only, 0);
    test_failures = 0;
}

static void run_all(void) {
    ground g = open_ground(0);
    const program *p;
    for (p = programs; p; p = p->next) {
        if (p->flags & HOST_WAITS || all->cannot_run[p->number]) continue;
        run_program(&g, p, 1);
        end(&g);
        if (p->flags & (IS_CORRECT | FAULTS) || p->unshown || all->seed[p->number]) continue;
        run_program(&g, p, 0);
        end(&g);
    }
    gpuexec_shutdown();
}

TEST_ALONE(adversaries_show_each_mistake) {
    const program *p;
    if (!on_cpu_device()) SKIP("only the CPU device has adversaries");
    CHECK(programs_count <= PROGRAMS);
    all = (adversary_results *)mmap(
            NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(all != MAP_FAILED)) return;
    unsetenv("GPUEXEC_VALIDATION");
    unsetenv("GPUEXEC_CHECK");
    for (seed_now = 1; seed_now <= SEEDS; seed_now++) {
        configure(seed_now);
        CHECK(run_child(run_all));
        for (only = programs; only; only = only->next)
            if (only->flags & FAULTS && !only->unshown && !all->seed[only->number] &&
                    !all->cannot_run[only->number])
                run_child(run_faulty);
    }
    for (p = programs; p; p = p->next) {
        const int i = p->number;
        if (all->not_right[i]) {
            CHECK_EQ(all->not_right[i], 0);
            printf("%s: the correct program\n", p->name);
        }
        if (p->flags & IS_CORRECT || p->unshown || all->cannot_run[i]) continue;
        if (!CHECK(all->seed[i] != 0)) printf("%s: no seed shows the mistake\n", p->name);
        if (getenv("TEST_VERBOSE")) printf("    %-46s seed %d\n", p->name, all->seed[i]);
    }
}

/* -------------------------------------------------------------------------------------------------
   Two streams. */

/* Stream two reads what stream one writes: 7. */
static int two_copies(ground *g, int right) {
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}
static int two_takes(ground *g, int right) { /* with a kernel */
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(TAKE(g->b, g->d2, g->d));
    CHECK_OK(OUT(g->b, g->p, g->d2));
    return copied(g, g->b, 7);
}

MISTAKE(a_fill_and_a_copy_out, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    return two_copies(g, right);
}

MISTAKE(a_copy_in_and_a_kernel, "\"one\"", "\"two\"") {
    fill_host(g->q, 7);
    FIRST(IN(g->a, g->d, g->q));
    return two_takes(g, right);
}

MISTAKE(a_kernel_and_a_copy_out, "\"one\"", "\"two\"") {
    FIRST(SET(g->a, g->d, 7));
    return two_copies(g, right);
}

MISTAKE(two_kernels_write, "\"one\"", "\"two\"") {
    FIRST(SET(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(SET(g->b, g->d, 8));
    return holds(g, g->d, 8);
}

/* What the program says counts, not what the PTX says. */
PROGRAM(a_use_that_the_program_names, TEST, "\"one\"", "\"two\"", 0, "both write the same") {
    CHECK_OK(gpuexec_kernel_set_access(g->set, 0, right ? GPUEXEC_USE_READ : GPUEXEC_USE_WRITE));
    FIRST(SET(g->a, g->d, 7));
    SECOND(SET(g->b, g->d, 7));
    return holds(g, g->d, 7);
}

PROGRAM(a_use_that_the_program_denies, TEST, "\"one\"", "\"two\"", 0, "both write the same") {
    CHECK_OK(gpuexec_kernel_set_access(g->set, 0, GPUEXEC_USE_NONE));
    if (!right) CHECK_OK(gpuexec_kernel_set_access(g->set, 0, GPUEXEC_USE_UNKNOWN));
    FIRST(SET(g->a, g->d, 7));
    SECOND(SET(g->b, g->d, 7));
    return holds(g, g->d, 7);
}

MISTAKE(a_kernel_reads_what_one_writes, "\"one\"", "\"two\"") {
    FIRST(SET(g->a, g->d, 7));
    return two_takes(g, right);
}

MISTAKE(a_kernel_writes_what_one_reads, "\"one\"", "\"two\"") {
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d, 7, 4, WORDS));
    FIRST(TAKE(g->a, g->d2, g->d));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(SET(g->b, g->d, 9));
    return holds(g, g->d2, 7);
}

/* Atomics may meet, but the copy needs the result. */
MISTAKE(a_count_that_a_copy_reads, "\"one\"", "\"two\"") {
    FIRST(gpuexec_launch(g->count, g->a, gpuexec_grid(2, 32, 0), GPUEXEC_ARGS(g->d)));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_copy_out(g->b, g->p, g->d, 4));
    CHECK_OK(gpuexec_stream_sync(g->b));
    return g->p[0] == 2 * 32;
}

/* The count begins before its memory is zero. */
MISTAKE(a_count_before_its_fill, "\"one\"", "\"two\"") {
    uint32_t n = 0;
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d, 9, 4, 1));
    FIRST(gpuexec_fill(g->a, g->d, 0, 4, 1));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_launch(g->count, g->b, gpuexec_grid(2, 32, 0), GPUEXEC_ARGS(g->d)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, &n, g->d, 4));
    return n == 2 * 32;
}

MISTAKE(a_prepared_launch, "\"one\"", "\"two\"") {
    const uint32_t n = WORDS, seven = 7;
    gpuexec_prepared step = gpuexec_prepare(
            g->set, g->a, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(g->d, seven, n));
    FIRST(gpuexec_launch_prepared(step));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(OUT(g->b, g->p, g->d));
    CHECK_OK(gpuexec_prepared_destroy(step));
    return copied(g, g->b, 7);
}

/* Two words of each second row of 16 words. */
MISTAKE(rows_that_meet, "\"one\"", "\"two\"") {
    uint32_t words[4 * WORDS];
    FIRST(gpuexec_copy_with(g->a, ROWS(ON_DEVICE(g->d, 64), OF_VALUE(7, 4), 32, 4)));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_copy_with(g->b, ROWS(ON_DEVICE(g->d + 24, 128), ON_HOST(g->q, 16), 16, 2)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, 6, 7) && are(words, 6, 4, 1) && are(words, 16, 8, 7) &&
            are(words, 38, 4, 1);
}

#define BOX(of_to, of_from) \
    (&(gpuexec_copy_desc){ \
            .to = of_to, .from = of_from, .width_bytes = 16, .height = 2, .depth = 2 })
#define PLACED(address, row, slice, at_x, at_y, at_z) \
    (gpuexec_side) { \
        .device = (address), .pitch = (row), .slice_height = (slice), .x = (at_x), .y = (at_y), \
        .z = (at_z) \
    }

/* Of slices with four rows of 16 words: rows 0 and 1, then row 1 and 2, of slices 0 and 1. */
MISTAKE(boxes_that_meet, "\"one\"", "\"two\"") {
    uint32_t words[WORDS];
    fill_host(g->q, 7);
    FIRST(gpuexec_copy_with(g->a, BOX(PLACED(g->d, 32, 4, 0, 0, 0), ON_HOST(g->q, 16))));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_copy_with(g->b, BOX(PLACED(g->d, 32, 4, 0, 1, 0), ON_HOST(g->p, 16))));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, 4, 7) && are(words, 8, 4, 1) && are(words, 16, 4, 1) &&
            are(words, 40, 4, 1);
}

MISTAKE(a_pinned_buffer_that_a_copy_still_writes, "\"one\"", "\"two\"") {
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d, 7, 4, WORDS));
    FIRST(OUT(g->a, g->p, g->d));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(IN(g->b, g->d2, g->p));
    return holds(g, g->d2, 7);
}

MISTAKE(a_pinned_buffer_that_a_copy_still_reads, "\"one\"", "\"two\"") {
    FIRST(IN(g->a, g->d, g->p));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(OUT(g->b, g->p, g->d2));
    return holds(g, g->d, 1);
}

MISTAKE(registered_memory, "\"one\"", "\"two\"") {
    uint32_t *r = (uint32_t *)malloc(BYTES);
    int result;
    if (!CHECK(r != NULL)) return 0;
    memset(r, 0, BYTES);
    CHECK_OK(gpuexec_register(g->ctx, r, BYTES));
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d, 7, 4, WORDS));
    FIRST(OUT(g->a, r, g->d));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(IN(g->b, g->d2, r));
    result = holds(g, g->d2, 7);
    CHECK_OK(gpuexec_unregister(r));
    free(r);
    return result;
}

MISTAKE(a_non_blocking_stream_and_the_legacy_stream, "\"apart\"", "the legacy default stream") {
    gpuexec_stream s = labelled(g->ctx, "apart", !right);
    uint32_t got[WORDS];
    FIRST(FILL(s, g->d, 7));
    SECOND(gpuexec_copy_out_now(g->ctx, got, g->d, BYTES));
    CHECK_OK(gpuexec_stream_destroy(s));
    return are(got, 0, WORDS, 7);
}

MISTAKE(the_legacy_stream_and_a_non_blocking_stream, "the legacy default stream", "\"apart\"") {
    gpuexec_stream s = labelled(g->ctx, "apart", !right);
    int result;
    FIRST(FILL(gpuexec_stream_legacy(g->ctx), g->d, 7));
    SECOND(OUT(s, g->p, g->d));
    result = copied(g, s, 7);
    CHECK_OK(gpuexec_stream_destroy(s));
    return result;
}

/* On an H100, streams of green contexts do not wait for any default stream, and no default stream
   for them. */
static int green_stream(ground *g, int right, int own) {
    uint32_t words[WORDS];
    gpuexec_context green = gpuexec_context_create_green(0, &(gpuexec_green_desc){ .sms = 8 });
    gpuexec_stream s;
    if (!gpuexec_ok(green)) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    s = labelled(green, "green", 0); /* CUDA makes it non-blocking */
    FIRST(FILL(s, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_sync(s));
    SECOND(gpuexec_copy_out_now(own ? green : g->ctx, words, g->d, BYTES));
    CHECK_OK(gpuexec_context_close(green));
    return are(words, 0, WORDS, 7);
}

MISTAKE(a_green_context_and_its_default_stream, "\"green\"", "the legacy default stream") {
    return green_stream(g, right, 1);
}

MISTAKE(a_green_context_and_the_default_stream, "\"green\"", "the legacy default stream") {
    return green_stream(g, right, 0);
}

MISTAKE(the_per_thread_stream, "the per-thread default stream", "\"two\"") {
    gpuexec_stream s = gpuexec_stream_per_thread(g->ctx);
    FIRST(FILL(s, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, s));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(a_stream_that_was_destroyed, "\"gone\"", "\"two\"") {
    gpuexec_stream s = labelled(g->ctx, "gone", 0);
    FIRST(FILL(s, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, s));
    CHECK_OK(gpuexec_stream_destroy(s));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* -------------------------------------------------------------------------------------------------
   Events and waits. */

MISTAKE(an_event_recorded_too_early, "\"one\"", "\"two\"") {
    if (!right) CHECK_OK(gpuexec_event_record(g->e, g->a));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_event_record(g->e, g->a));
    CHECK_OK(gpuexec_stream_wait_event(g->b, g->e));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(an_event_waited_for_before_its_record, "\"one\"", "\"two\"") {
    gpuexec_event e = gpuexec_event_create(g->ctx, NULL);
    if (!right) CHECK_OK(gpuexec_stream_wait_event(g->b, e));
    FIRST(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_event_record(e, g->a));
    if (right) CHECK_OK(gpuexec_stream_wait_event(g->b, e));
    SECOND(OUT(g->b, g->p, g->d));
    CHECK_OK(gpuexec_event_destroy(e));
    return copied(g, g->b, 7);
}

MISTAKE(an_event_recorded_again, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_event_record(g->e, g->a));
    if (right) CHECK_OK(gpuexec_stream_wait_event(g->b, g->e));
    CHECK_OK(gpuexec_event_record(g->e, g->c));
    if (!right) CHECK_OK(gpuexec_stream_wait_event(g->b, g->e));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(a_wait_for_the_wrong_stream, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, right ? g->a : g->c));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(a_wait_of_the_wrong_stream, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_wait_stream(right ? g->b : g->c, g->a));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(a_wait_in_the_wrong_direction, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    else CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(a_wait_before_the_work, "\"one\"", "\"two\"") {
    if (!right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    FIRST(FILL(g->a, g->d, 7));
    return two_copies(g, right);
}

/* one -> three -> two, without the first of the two waits. */
MISTAKE(a_chain_without_one_wait, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->c, g->a));
    CHECK_OK(FILL(g->c, g->d2, 8));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->c));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* The next round's write does not wait for the last round's read. */
MISTAKE(a_loop_without_its_way_back, "\"two\"", "\"one\"") {
    int round;
    uint32_t *to[2];
    to[0] = g->p;
    to[1] = g->q;
    for (round = 0; round < 2; round++) {
        SECOND(FILL(g->a, g->d, 7 + (unsigned)round));
        CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        FIRST(OUT(g->b, to[round], g->d));
        if (right) CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    }
    return gpuexec_context_sync(g->ctx) == GPUEXEC_OK && are(g->p, 0, WORDS, 7) &&
            are(g->q, 0, WORDS, 8);
}

MISTAKE(the_host_waits_for_the_wrong_stream, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_sync(right ? g->a : g->c));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(the_host_waits_for_the_context, "\"one\"", "\"two\"") {
    if (!right) CHECK_OK(gpuexec_context_sync(g->ctx));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_context_sync(g->ctx));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(the_host_queries_the_wrong_stream, "\"one\"", "\"two\"") {
    gpuexec_result ready = GPUEXEC_NOT_READY;
    FIRST(FILL(g->a, g->d, 7));
    TEST_UNTIL((ready = gpuexec_stream_query(right ? g->a : g->c)) != GPUEXEC_NOT_READY);
    CHECK_EQ(ready, GPUEXEC_OK);
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(the_host_waits_for_an_event_before_the_work, "\"one\"", "\"two\"") {
    if (!right) CHECK_OK(gpuexec_event_record(g->e, g->a));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_event_record(g->e, g->a));
    CHECK_OK(gpuexec_event_sync(g->e));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(the_host_queries_an_event_before_the_work, "\"one\"", "\"two\"") {
    gpuexec_result ready = GPUEXEC_NOT_READY;
    if (!right) CHECK_OK(gpuexec_event_record(g->e, g->a));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_event_record(g->e, g->a));
    TEST_UNTIL((ready = gpuexec_event_query(g->e)) != GPUEXEC_NOT_READY);
    CHECK_EQ(ready, GPUEXEC_OK);
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

MISTAKE(a_scope_without_a_join, "\"one\"", "\"two\"") {
    CHECK_OK(gpuexec_context_set_stream(g->ctx, g->b));
    if (right) GPUEXEC_STREAM_SCOPE_JOIN(g->a) FIRST(FILL(GPUEXEC_CURRENT, g->d, 7));
    else GPUEXEC_STREAM_SCOPE(g->a) FIRST(FILL(GPUEXEC_CURRENT, g->d, 7));
    SECOND(OUT(GPUEXEC_CURRENT, g->p, g->d));
    CHECK_OK(gpuexec_context_set_stream(g->ctx, (gpuexec_stream){ 0 }));
    return copied(g, g->b, 7);
}

MISTAKE(a_value_that_nothing_waits_for, "\"one\"", "\"two\"") {
    FIRST(FILL(g->a, g->d, 7));
    if (gpuexec_stream_write_value32(g->a, g->d2, 1)) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    if (right) CHECK_OK(gpuexec_stream_wait_value32(g->b, g->d2, 1, GPUEXEC_EQUAL));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* -------------------------------------------------------------------------------------------------
   Pools. */

/* The allocation gets memory that earlier work of its stream still uses. */
PROGRAM(memory_of_a_pool_before_its_allocation, TEST, "\"one\"", "\"two\"", FAULTS, NULL) {
    gpuexec_ptr before = gpuexec_alloc_on(g->a, BYTES), m;
    int result;
    if (!before) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    CHECK_OK(FILL(g->a, before, 7));
    CHECK_OK(OUT(g->a, g->p, before));
    CHECK_OK(gpuexec_free_on(g->a, before));
    m = FIRST_IS(gpuexec_alloc_on(g->a, BYTES));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    else wait_unseen(g);
    SECOND(FILL(g->b, m, 8));
    CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    result = copied(g, g->a, 7);
    CHECK_OK(gpuexec_free_on(g->a, m));
    return result;
}

PROGRAM(memory_of_a_pool_that_is_freed_too_early, TEST, "\"two\"", "\"one\"", FAULTS, NULL) {
    gpuexec_ptr m = gpuexec_alloc_on(g->a, BYTES);
    if (!m) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    FIRST(SET(g->b, m, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    else wait_unseen(g);
    SECOND(gpuexec_free_on(g->a, m));
    return gpuexec_stream_sync(g->a) == GPUEXEC_OK && gpuexec_stream_sync(g->b) == GPUEXEC_OK;
}

/* The next allocation may get the memory, while a copy still reads it. */
static int freed_while_read(ground *g, int right, gpuexec_ptr m) {
    CHECK_OK(FILL(g->a, m, 7));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    FIRST(OUT(g->b, g->p, m));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    else wait_unseen(g);
    SECOND(gpuexec_free_on(g->a, m));
    return gpuexec_stream_sync(g->a) == GPUEXEC_OK && copied(g, g->b, 7);
}

PROGRAM(memory_of_a_pool_that_is_still_read, TEST, "\"two\"", "\"one\"", FAULTS, NULL) {
    gpuexec_ptr m = gpuexec_alloc_on(g->a, BYTES);
    if (!m) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    return freed_while_read(g, right, m);
}

PROGRAM(memory_of_a_cached_pool_that_is_still_read, TEST, "\"two\"", "\"one\"", FAULTS, NULL) {
    gpuexec_pool pool = gpuexec_pool_create(g->ctx, &(gpuexec_pool_desc){ .cache_bytes = 1 << 20 });
    gpuexec_ptr m = gpuexec_ok(pool) ? gpuexec_pool_alloc(pool, g->a, BYTES) : 0;
    int result;
    if (!m) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    result = freed_while_read(g, right, m);
    gpuexec_pool_destroy(pool);
    return result;
}

/* -------------------------------------------------------------------------------------------------
   Graphs. */

/* The branch forks off before the first write. */
MISTAKE(branches_that_write_the_same, "node 0", "node 1") {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(g->a, &graph) {
        if (!right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        FIRST(SET(g->a, g->d, 7));
        if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        SECOND(SET(g->b, g->d, 8));
        CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    }
    LAUNCHED(gpuexec_graph_launch(graph, g->a));
    return holds(g, g->d, 8);
}

MISTAKE(nodes_without_a_dependency, "node 0", "node 1") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    gpuexec_node fill;
    fill = FIRST_IS(gpuexec_graph_add_fill(graph, g->d, 7, 4, WORDS, GPUEXEC_FIRST));
    SECOND_IS(gpuexec_graph_add_copy(graph, LINE(ON_HOST(g->p, 0), ON_DEVICE(g->d, 0), BYTES),
            right ? GPUEXEC_AFTER(fill) : GPUEXEC_FIRST));
    LAUNCHED(gpuexec_graph_launch(graph, g->a));
    return copied(g, g->a, 7);
}

/* A chain of nodes that lacks its second edge. */
MISTAKE(nodes_of_a_broken_chain, "node 0", "node 2") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    gpuexec_node fill, middle;
    fill = FIRST_IS(gpuexec_graph_add_fill(graph, g->d, 7, 4, WORDS, GPUEXEC_FIRST));
    middle = gpuexec_graph_add_fill(
            graph, g->d2, 1, 4, WORDS, right ? GPUEXEC_AFTER(fill) : GPUEXEC_FIRST);
    SECOND_IS(gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(g->p, 0), ON_DEVICE(g->d, 0), BYTES), GPUEXEC_AFTER(middle)));
    LAUNCHED(gpuexec_graph_launch(graph, g->a));
    return copied(g, g->a, 7);
}

/* The other node's copy is part of a child graph. */
MISTAKE(a_child_graph_without_a_dependency, "node 0", "node 1") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx), child = gpuexec_graph_create(g->ctx);
    gpuexec_node fill;
    gpuexec_graph_add_copy(child, LINE(ON_HOST(g->p, 0), ON_DEVICE(g->d, 0), BYTES), GPUEXEC_FIRST);
    fill = FIRST_IS(gpuexec_graph_add_fill(graph, g->d, 7, 4, WORDS, GPUEXEC_FIRST));
    SECOND_IS(gpuexec_graph_add_child(graph, child, right ? GPUEXEC_AFTER(fill) : GPUEXEC_FIRST));
    LAUNCHED(gpuexec_graph_launch(graph, g->a));
    return copied(g, g->a, 7);
}

static gpuexec_graph filling(ground *g, uint32_t value) {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    gpuexec_graph_add_fill(graph, g->d, value, 4, WORDS, GPUEXEC_FIRST);
    return graph;
}

MISTAKE(a_graph_and_a_copy_out, "\"one\"", "\"two\"") {
    gpuexec_graph graph = filling(g, 7);
    FIRST(gpuexec_graph_launch(graph, g->a));
    return two_copies(g, right);
}

MISTAKE(a_graph_writes_what_a_copy_reads, "\"one\"", "\"two\"") {
    gpuexec_graph graph = filling(g, 7);
    FIRST(OUT(g->a, g->p, g->d));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_graph_launch(graph, g->b));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    return copied(g, g->a, 0);
}

/* The second launch, on another stream, waits for the first one, but not for what reads its
   result. */
MISTAKE(a_graph_launched_again_too_early, "\"two\"", "\"three\"") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    gpuexec_node fill = gpuexec_graph_add_fill(graph, g->d2, 5, 4, WORDS, GPUEXEC_FIRST);
    gpuexec_graph_add_kernel(
            graph, g->count, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(g->d), GPUEXEC_AFTER(fill));
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    FIRST(gpuexec_copy_out(g->b, g->p, g->d, 4));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->c, g->b));
    SECOND(gpuexec_graph_launch(graph, g->c));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, g->q, g->d, 4));
    return g->p[0] == 32 && g->q[0] == 64;
}

MISTAKE(arguments_changed_to_shared_memory, "\"one\"", "\"two\"") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    const uint32_t eight = 8, n = WORDS;
    gpuexec_node node = gpuexec_graph_add_kernel(
            graph, g->set, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(g->d2, eight, n), GPUEXEC_FIRST);
    CHECK_OK(FILL(g->a, g->d, 6));
    CHECK_OK(gpuexec_graph_launch(graph, g->b));
    CHECK_OK(gpuexec_node_set_args(node, GPUEXEC_ARGS(g->d, eight, n)));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_graph_launch(graph, g->b));
    return holds(g, g->d, 8);
}

MISTAKE(a_fill_node_changed_to_shared_memory, "\"one\"", "\"two\"") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    gpuexec_node node = gpuexec_graph_add_fill(graph, g->d2, 8, 4, WORDS, GPUEXEC_FIRST);
    CHECK_OK(gpuexec_graph_launch(graph, g->b));
    CHECK_OK(gpuexec_node_set_fill(node, g->d, 8, 4, WORDS));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_graph_launch(graph, g->b));
    return holds(g, g->d, 8);
}

MISTAKE(a_graph_updated_to_shared_memory, "\"one\"", "\"two\"") {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx), other = filling(g, 8);
    if (gpuexec_driver_version() < 12000) return CANNOT_RUN;
    gpuexec_graph_add_fill(graph, g->d2, 8, 4, WORDS, GPUEXEC_FIRST);
    CHECK_OK(gpuexec_graph_launch(graph, g->b));
    CHECK_OK(gpuexec_graph_update(graph, other));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_graph_launch(graph, g->b));
    return holds(g, g->d, 8);
}

MISTAKE(a_node_enabled_again, "\"one\"", "\"two\"") {
    gpuexec_graph graph = filling(g, 8);
    const gpuexec_node node = { graph, 0 };
    if (gpuexec_driver_version() < 11060) return CANNOT_RUN;
    CHECK_OK(gpuexec_node_enable(node, 0));
    CHECK_OK(FILL(g->a, g->d, 6));
    CHECK_OK(gpuexec_graph_launch(graph, g->b));
    CHECK_OK(gpuexec_node_enable(node, 1));
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_graph_launch(graph, g->b));
    return holds(g, g->d, 8);
}

/* A graph's wait for an event of the stream outside. */
MISTAKE(a_graph_that_waits_for_no_event, "\"one\"", "\"two\"") {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(g->b, &graph) {
        if (right) CHECK_OK(gpuexec_stream_wait_external(g->b, g->e));
        CHECK_OK(OUT(g->b, g->p, g->d));
    }
    FIRST(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_event_record(g->e, g->a));
    SECOND(gpuexec_graph_launch(graph, g->b));
    return copied(g, g->b, 7);
}

/* The event is recorded inside the graph, before or after the fill. */
MISTAKE(a_graph_that_records_too_early, "\"one\"", "\"two\"") {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(g->a, &graph) {
        if (!right) CHECK_OK(gpuexec_event_record_external(g->e, g->a));
        CHECK_OK(FILL(g->a, g->d, 7));
        if (right) CHECK_OK(gpuexec_event_record_external(g->e, g->a));
    }
    FIRST(gpuexec_graph_launch(graph, g->a));
    CHECK_OK(gpuexec_stream_wait_event(g->b, g->e));
    SECOND(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* Memory that the graph allocates, and leaves to the stream. */
PROGRAM(memory_that_a_graph_allocates, TEST, "\"one\"", "\"two\"", FAULTS, NULL) {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    gpuexec_ptr m = 0;
    int result;
    gpuexec_node alloc = gpuexec_graph_add_alloc(graph, BYTES, &m, GPUEXEC_FIRST);
    if (!gpuexec_ok(alloc.graph)) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    gpuexec_graph_add_fill(graph, m, 7, 4, WORDS, GPUEXEC_AFTER(alloc));
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    FIRST(FILL(g->a, m, 8));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    else wait_unseen(g);
    SECOND(OUT(g->b, g->p, m));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    result = copied(g, g->b, 8);
    if (result) CHECK_OK(gpuexec_free_on(g->b, m));
    return result;
}

/* The graph is gone before its work is done. */
MISTAKE(a_graph_that_was_destroyed, "\"one\"", "\"two\"") {
    gpuexec_graph graph = filling(g, 7);
    FIRST(gpuexec_graph_launch(graph, g->a));
    CHECK_OK(gpuexec_graph_destroy(graph));
    return two_copies(g, right);
}

MISTAKE(a_batch_beside_a_copy, "\"one\"", "\"two\"") {
    gpuexec_batch batch = gpuexec_batch_create(g->ctx, NULL);
    const uint32_t n = WORDS;
    int k;
    for (k = 0; k < 4; k++) {
        const gpuexec_ptr to = g->d2 + (gpuexec_ptr)(k * BYTES),
                          from = g->d + (gpuexec_ptr)(k * BYTES);
        CHECK_EQ(gpuexec_batch_add(
                         batch, g->take, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(to, from, n)),
                k);
    }
    fill_host(g->q, 7);
    FIRST(IN(g->a, g->d, g->q));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_batch_launch(batch, g->b));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_batch_destroy(batch));
    return holds(g, g->d2, 7) && holds(g, g->d2 + (gpuexec_ptr)(3 * BYTES), 0);
}

/* -------------------------------------------------------------------------------------------------
   Other memory. */

MISTAKE(an_array_of_copies, "\"one\"", "\"two\"") {
    gpuexec_copy_part parts[4];
    int k;
    memset(parts, 0, sizeof parts);
    for (k = 0; k < 4; k++) {
        parts[k].from = g->d + (gpuexec_ptr)(k * 64);
        parts[k].to = g->d2 + (gpuexec_ptr)(k * 64);
        parts[k].bytes = 64;
    }
    CHECK_OK(gpuexec_fill_now(g->ctx, g->d, 7, 4, WORDS));
    FIRST(gpuexec_copy_many(g->a, parts, 4));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(OUT(g->b, g->p, g->d2));
    return copied(g, g->b, 7);
}

/* A variable of the module, which a kernel reads by its name. */
MISTAKE(a_variable_that_a_kernel_reads, "\"one\"", "\"two\"") {
    const gpuexec_ptr variable = variable_of(g);
    uint32_t got = 0;
    CHECK_OK(gpuexec_copy_in_now(g->ctx, variable, &(uint32_t){ 40 }, 4));
    FIRST(gpuexec_launch(g->show, g->a, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(g->d)));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_fill(g->b, variable, 41, 4, 1));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, &got, g->d, 4));
    return got == 40;
}

/* The other order: the kernel must see what the copy writes. */
MISTAKE(a_variable_that_a_copy_writes, "\"one\"", "\"two\"") {
    const gpuexec_ptr variable = variable_of(g);
    uint32_t got = 0;
    CHECK_OK(gpuexec_copy_in_now(g->ctx, variable, &(uint32_t){ 40 }, 4));
    FIRST(gpuexec_copy_in(g->a, variable, g->q, 4));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(gpuexec_launch(g->show, g->b, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(g->d)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, &got, g->d, 4));
    return got == 1;
}

MISTAKE(managed_memory, "\"one\"", "\"two\"") {
    gpuexec_ptr m = gpuexec_alloc_managed(g->ctx, BYTES, NULL);
    int result;
    if (!m) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    FIRST(SET(g->a, m, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(TAKE(g->b, g->d, m));
    CHECK_OK(OUT(g->b, g->p, g->d));
    result = copied(g, g->b, 7);
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_free(m));
    return result;
}

MISTAKE(a_virtual_range, "\"one\"", "\"two\"") {
    gpuexec_virtual v = gpuexec_virtual_create(g->ctx, &(gpuexec_virtual_desc){ .bytes = BYTES });
    gpuexec_ptr m;
    int result;
    if (!gpuexec_ok(v)) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    m = gpuexec_virtual_address(v);
    FIRST(FILL(g->a, m, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(OUT(g->b, g->p, m));
    result = copied(g, g->b, 7);
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_virtual_destroy(v));
    return result;
}

/* -------------------------------------------------------------------------------------------------
   Arrays, textures and surfaces. */

/* An array of 32-bit integers, with both ways to it. Zeros. */
typedef struct picture {
    gpuexec_array array;
    gpuexec_texture texture;
    gpuexec_surface surface;
} picture;
static gpuexec_copy_desc part_of(picture p, uint32_t *host, size_t first, size_t n, int is_out) {
    gpuexec_copy_desc c;
    gpuexec_side *const side = is_out ? &c.from : &c.to;
    memset(&c, 0, sizeof c);
    *(is_out ? &c.to : &c.from) = ON_HOST(host, 0);
    side->array = p.array;
    side->x = 4 * first;
    c.width_bytes = 4 * n;
    c.height = 1;
    return c;
}
static gpuexec_result part_at(const char *where, gpuexec_stream s, picture p, uint32_t *host,
        size_t first, size_t n, int is_out) {
    const gpuexec_copy_desc c = part_of(p, host, first, n, is_out);
    return gpuexec_copy_with_at(where, s, &c);
}
#define PART_IN(s, picture, host, first, n) part_at(GPUEXEC_HERE, s, picture, host, first, n, 0)
#define PART_OUT(s, picture, host, first, n) part_at(GPUEXEC_HERE, s, picture, host, first, n, 1)
#define ALL_IN(s, picture, host) PART_IN(s, picture, host, 0, WORDS)
#define ALL_OUT(s, picture, host) PART_OUT(s, picture, host, 0, WORDS)

static picture picture_open(ground *g) {
    static const gpuexec_array_desc desc = {
        .format = GPUEXEC_FORMAT_U32, .width = WORDS, .surface = 1
    };
    picture p;
    gpuexec_texture_desc t = { .read_integers = 1 };
    p.array = gpuexec_array_create(g->ctx, &desc);
    CHECK_OK(gpuexec_label(p.array, "picture"));
    t.array = p.array;
    p.texture = gpuexec_texture_create(g->ctx, &t);
    p.surface = gpuexec_surface_create(p.array, 0);
    if (CHECK_MADE(p.texture) && CHECK_MADE(p.surface)) {
        fill_host(g->p, 0);
        CHECK_OK(ALL_IN(g->a, p, g->p));
        CHECK_OK(gpuexec_stream_sync(g->a));
        fill_host(g->p, 1);
    }
    return p;
}
static int picture_close(ground *g, picture p, int result) {
    CHECK_OK(gpuexec_context_sync(g->ctx));
    gpuexec_texture_destroy(p.texture);
    gpuexec_surface_destroy(p.surface);
    gpuexec_array_destroy(p.array);
    return result;
}
static gpuexec_result look_at(const char *where, const ground *g, const char *kernel,
        gpuexec_stream s, gpuexec_ptr to, gpuexec_texture texture) {
    const unsigned long long object = gpuexec_texture_object(texture);
    const uint32_t n = WORDS;
    return gpuexec_launch_at(
            where, kernel_of(g, kernel), s, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(to, object, n));
}
static gpuexec_result draw_at(
        const char *where, const ground *g, gpuexec_stream s, picture p, uint32_t value) {
    const unsigned long long object = gpuexec_surface_object(p.surface);
    const uint32_t n = WORDS;
    return gpuexec_launch_at(where, kernel_of(g, "draw"), s, gpuexec_grid_for(n, 32),
            GPUEXEC_ARGS(object, value, n));
}
#define LOOK(stream, to, texture) look_at(GPUEXEC_HERE, g, "look", stream, to, texture)
#define FETCH(stream, to, texture) look_at(GPUEXEC_HERE, g, "fetch", stream, to, texture)
#define DRAW(stream, picture, value) draw_at(GPUEXEC_HERE, g, stream, picture, value)

MISTAKE(a_copy_to_an_array_and_a_texture, "\"one\"", "array \"picture\" of 64 elements") {
    const picture p = picture_open(g);
    fill_host(g->q, 7);
    FIRST(ALL_IN(g->a, p, g->q));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(LOOK(g->b, g->d, p.texture));
    return picture_close(g, p, holds(g, g->d, 7));
}

MISTAKE(a_texture_and_a_copy_to_its_array, "\"one\"", "\"two\"") {
    const picture p = picture_open(g);
    fill_host(g->q, 7);
    FIRST(LOOK(g->a, g->d, p.texture));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(ALL_IN(g->b, p, g->q));
    return picture_close(g, p, holds(g, g->d, 0));
}

MISTAKE(a_surface_and_a_copy_from_its_array, "\"one\"", "\"two\"") {
    const picture p = picture_open(g);
    FIRST(DRAW(g->a, p, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(ALL_OUT(g->b, p, g->p));
    return picture_close(g, p, copied(g, g->b, 7));
}

/* The same launch certainly writes the same elements. */
PROGRAM(a_surface_drawn_twice, TEST, "\"one\"", "\"two\"", 0, "both write the same") {
    const picture p = picture_open(g);
    FIRST(DRAW(g->a, p, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(DRAW(g->b, p, 7));
    return picture_close(g, p, 1);
}

MISTAKE(parts_of_an_array_that_overlap, "\"one\"", "a part of it") {
    const picture p = picture_open(g);
    fill_host(g->q, 7);
    FIRST(PART_IN(g->a, p, g->q, 16, 32));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(PART_OUT(g->b, p, g->p, 40, 16));
    return picture_close(g, p, gpuexec_stream_sync(g->b) == GPUEXEC_OK && are(g->p, 0, 8, 7));
}

CORRECT(parts_of_an_array_beside_each_other) {
    const picture p = picture_open(g);
    (void)right;
    fill_host(g->q, 7);
    FIRST(PART_IN(g->a, p, g->q, 16, 32));
    SECOND(PART_OUT(g->b, p, g->p, 48, 16));
    return picture_close(g, p, gpuexec_stream_sync(g->b) == GPUEXEC_OK && are(g->p, 0, 16, 0));
}

CORRECT(two_textures_over_one_array) {
    const picture p = picture_open(g);
    (void)right;
    CHECK_OK(LOOK(g->a, g->d, p.texture));
    CHECK_OK(LOOK(g->b, g->d2, p.texture));
    return picture_close(g, p, holds(g, g->d, 0) && holds(g, g->d2, 0));
}

CORRECT(atomics_of_surfaces_meet) {
    const picture p = picture_open(g);
    const unsigned long long object = gpuexec_surface_object(p.surface);
    const gpuexec_kernel tally = kernel_of(g, "tally");
    (void)right;
    CHECK_OK(gpuexec_launch(tally, g->a, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(object)));
    CHECK_OK(gpuexec_launch(tally, g->b, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(object)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(ALL_OUT(g->a, p, g->p));
    CHECK_OK(gpuexec_stream_sync(g->a));
    return picture_close(g, p, g->p[0] == 64);
}

/* Memory is found through the texture over it. */
MISTAKE(a_fill_and_a_texture_over_the_memory, "\"one\"", "\"two\"") {
    const gpuexec_texture texture = gpuexec_texture_create(g->ctx,
            &(gpuexec_texture_desc){ .memory = g->d,
                    .format = GPUEXEC_FORMAT_U32,
                    .width = 4 * WORDS,
                    .read_integers = 1 });
    int result;
    FIRST(gpuexec_fill(g->a, g->d, 7, 4, 4 * WORDS));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    SECOND(FETCH(g->b, g->d2, texture));
    result = holds(g, g->d2, 7);
    gpuexec_texture_destroy(texture);
    return result;
}

MISTAKE(an_array_in_branches_of_a_graph, "node 0", "node 1") {
    const picture p = picture_open(g);
    gpuexec_graph graph = { 0 };
    int result;
    fill_host(g->q, 7);
    GPUEXEC_CAPTURE(g->a, &graph) {
        if (!right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        FIRST(ALL_IN(g->a, p, g->q));
        if (right) CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        SECOND(LOOK(g->b, g->d, p.texture));
        CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
    }
    LAUNCHED(gpuexec_graph_launch(graph, g->a));
    result = holds(g, g->d, 7);
    gpuexec_graph_destroy(graph);
    return picture_close(g, p, result);
}

/* Levels and layers are apart; a new array may have the old one's CUarray. */
CORRECT(levels_layers_and_new_arrays) {
    const gpuexec_array_desc desc = {
        .format = GPUEXEC_FORMAT_U32, .width = WORDS, .height = 4, .layers = 2, .levels = 2
    };
    gpuexec_stream streams[3];
    int i, round, result = 1;
    (void)right;
    memcpy(streams, &g->a, sizeof streams);
    for (round = 0; round < 3; round++) {
        const gpuexec_array array = gpuexec_array_create(g->ctx, &desc);
        if (!CHECK_MADE(array)) return 0;
        fill_host(g->q, 7);
        for (i = 0; i < 3; i++) {
            gpuexec_copy_desc c;
            memset(&c, 0, sizeof c);
            c.to.array = array;
            c.to.level = i == 2;
            c.to.z = i == 1;
            c.from.host = g->q;
            c.width_bytes = i == 2 ? BYTES / 2 : BYTES;
            c.height = 1;
            CHECK_OK(gpuexec_copy_with(streams[i], &c));
        }
        result &= gpuexec_array_destroy(array) == GPUEXEC_OK;
    }
    return result;
}

/* -------------------------------------------------------------------------------------------------
   Several devices. */

PROGRAM(a_copy_between_devices, TEST_MULTI, "\"one\"", "\"far\"", DEVICES, NULL) {
    ground h;
    int result;
    h = open_ground(1);
    h.a = labelled(h.ctx, "far", 0);
    FIRST(FILL(g->a, g->d, 7));
    if (right) CHECK_OK(gpuexec_stream_wait_stream(h.a, g->a));
    SECOND(gpuexec_copy(h.a, h.d, g->d, BYTES));
    CHECK_OK(OUT(h.a, h.p, h.d));
    result = copied(&h, h.a, 7);
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_context_close(h.ctx));
    return result;
}

/* Without the wait for all streams, the second device's kernel reads too early. */
PROGRAM(a_launch_on_devices_without_a_wait, TEST_MULTI, "\"one\"", "\"far\"", DEVICES, NULL) {
    const uint32_t n = WORDS;
    gpuexec_device_launch launches[2];
    gpuexec_multi_desc desc;
    ground h;
    int result;
    h = open_ground(1);
    h.a = labelled(h.ctx, "far", 0);
    if (gpuexec_peer_enable(h.ctx, g->ctx)) {
        gpuexec_take_error();
        CHECK_OK(gpuexec_context_close(h.ctx));
        return CANNOT_RUN;
    }
    memset(&desc, 0, sizeof desc);
    memset(launches, 0, sizeof launches);
    desc.no_pre_sync = !right;
    launches[0].kernel = g->take;
    launches[0].stream = g->a;
    launches[1].kernel = h.take;
    launches[1].stream = h.a;
    launches[0].dims = launches[1].dims = gpuexec_grid_for(n, 32);
    launches[0].args = GPUEXEC_ARGS(g->d2, g->d, n);
    launches[1].args = GPUEXEC_ARGS(h.d, g->d, n);
    FIRST(FILL(g->a, g->d, 7));
    SECOND(gpuexec_launch_multi_device(launches, 2, &desc));
    CHECK_OK(OUT(h.a, h.p, h.d));
    result = copied(&h, h.a, 7);
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_context_close(h.ctx));
    return result;
}

/* -------------------------------------------------------------------------------------------------
   Correct programs that look wrong. */

/* Four words of each row of 16: one stream the first ones, the other one the next ones. */
CORRECT(rows_that_interleave) {
    uint32_t words[WORDS];
    (void)right;
    CHECK_OK(gpuexec_copy_with(g->a, ROWS(ON_DEVICE(g->d, 64), OF_VALUE(7, 4), 16, 4)));
    CHECK_OK(gpuexec_copy_with(g->b, ROWS(ON_DEVICE(g->d + 16, 64), ON_HOST(g->p, 16), 16, 4)));
    CHECK_OK(gpuexec_copy_with(g->c, ROWS(ON_DEVICE(g->d + 32, 64), OF_VALUE(9, 4), 32, 4)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, 4, 7) && are(words, 4, 4, 1) && are(words, 8, 8, 9) &&
            are(words, 52, 4, 1) && are(words, 56, 8, 9);
}

/* Slices of four rows: rows 0 and 1 of each, and rows 2 and 3. */
CORRECT(boxes_that_interleave) {
    uint32_t words[WORDS];
    (void)right;
    fill_host(g->q, 7);
    CHECK_OK(gpuexec_copy_with(g->a, BOX(PLACED(g->d, 32, 4, 0, 0, 0), ON_HOST(g->q, 16))));
    CHECK_OK(gpuexec_copy_with(g->b, BOX(PLACED(g->d, 32, 4, 0, 2, 0), ON_HOST(g->p, 16))));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, 4, 7) && are(words, 8, 4, 7) && are(words, 16, 4, 1) &&
            are(words, 24, 4, 1) && are(words, 32, 4, 7) && are(words, 48, 4, 1);
}

CORRECT(readers_on_all_streams) {
    (void)right;
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    CHECK_OK(gpuexec_stream_wait_stream(g->c, g->a));
    CHECK_OK(TAKE(g->a, g->d2, g->d));
    CHECK_OK(OUT(g->b, g->p, g->d));
    CHECK_OK(OUT(g->c, g->q, g->d));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    return are(g->p, 0, WORDS, 7) && are(g->q, 0, WORDS, 7) && holds(g, g->d2, 7);
}

/* Each stream has its chunk: its address. */
CORRECT(chunks_by_address) {
    const gpuexec_stream streams[3] = { g->a, g->b, g->c };
    int k;
    (void)right;
    for (k = 0; k < 3; k++) {
        const gpuexec_ptr chunk = g->d + (gpuexec_ptr)(k * BYTES);
        CHECK_OK(IN(streams[k], chunk, g->p + k * WORDS));
        CHECK_OK(TAKE(streams[k], g->d2 + (gpuexec_ptr)(k * BYTES), chunk));
        CHECK_OK(SET(streams[k], chunk, 9));
        CHECK_OK(OUT(streams[k], g->q + k * WORDS, chunk));
    }
    CHECK_OK(gpuexec_context_sync(g->ctx));
    return are(g->q, 0, (size_t)3 * WORDS, 9) && holds(g, g->d2 + (gpuexec_ptr)(2 * BYTES), 1);
}

/* Each stream has its chunk: a number that the kernel adds to the address. */
CORRECT(chunks_by_offset) {
    const gpuexec_stream streams[3] = { g->a, g->b, g->c };
    int k;
    (void)right;
    for (k = 0; k < 3; k++) CHECK_OK(ADD(streams[k], g->d, (uint32_t)k * WORDS, 7, WORDS));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    return holds(g, g->d, 7) && holds(g, g->d + (gpuexec_ptr)(2 * BYTES), 7) &&
            holds(g, g->d + (gpuexec_ptr)(3 * BYTES), 0);
}

/* The kernel gets the address of the whole, but leaves out its first words, as one that computes
   the inner rows while others are received. */
CORRECT(a_copy_beside_a_kernel_of_the_rest) {
    const uint32_t value = 7, n = WORDS - 16;
    uint32_t words[WORDS];
    (void)right;
    CHECK_OK(gpuexec_launch(
            g->set_rest, g->a, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(g->d, value, n)));
    CHECK_OK(gpuexec_copy_in(g->b, g->d, g->p, 64));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, 16, 1) && are(words, 16, WORDS - 16, 7);
}

/* Two kernels that write parts of the same memory, and both get the address of the whole. */
CORRECT(two_kernels_of_two_parts) {
    const uint32_t value = 7, other = 8, n = WORDS - 16, few = 16;
    uint32_t words[WORDS];
    (void)right;
    CHECK_OK(gpuexec_launch(
            g->set_rest, g->a, gpuexec_grid_for(n, 32), GPUEXEC_ARGS(g->d, value, n)));
    CHECK_OK(gpuexec_launch(
            g->set, g->b, gpuexec_grid_for(few, 32), GPUEXEC_ARGS(g->d, other, few)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, 16, 8) && are(words, 16, WORDS - 16, 7);
}

CORRECT(kernels_that_count) {
    uint32_t n = 0;
    (void)right;
    CHECK_OK(gpuexec_launch(g->count, g->a, gpuexec_grid(2, 32, 0), GPUEXEC_ARGS(g->d)));
    CHECK_OK(gpuexec_launch(g->count, g->b, gpuexec_grid(2, 32, 0), GPUEXEC_ARGS(g->d)));
    CHECK_OK(gpuexec_launch(g->count, g->c, gpuexec_grid(2, 32, 0), GPUEXEC_ARGS(g->d)));
    CHECK_OK(gpuexec_context_sync(g->ctx));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, &n, g->d, 4));
    return n == 6 * 32;
}

/* One stream copies in, the other one computes; two events for each of two buffers. */
CORRECT(two_buffers) {
    gpuexec_event full[2], empty[2];
    gpuexec_ptr buffer[2];
    int k, i;
    (void)right;
    for (k = 0; k < 2; k++) {
        buffer[k] = g->d + (gpuexec_ptr)(k * BYTES);
        full[k] = gpuexec_event_create(g->ctx, NULL);
        empty[k] = gpuexec_event_create(g->ctx, NULL);
    }
    for (i = 0; i < 6; i++) {
        k = i % 2;
        CHECK_OK(gpuexec_stream_wait_event(g->a, empty[k]));
        CHECK_OK(FILL(g->a, buffer[k], (unsigned)i));
        CHECK_OK(gpuexec_event_record(full[k], g->a));
        CHECK_OK(gpuexec_stream_wait_event(g->b, full[k]));
        CHECK_OK(TAKE(g->b, g->d2 + (gpuexec_ptr)(k * BYTES), buffer[k]));
        CHECK_OK(gpuexec_event_record(empty[k], g->b));
    }
    CHECK_OK(gpuexec_context_sync(g->ctx));
    for (k = 0; k < 2; k++) {
        CHECK_OK(gpuexec_event_destroy(full[k]));
        CHECK_OK(gpuexec_event_destroy(empty[k]));
    }
    return holds(g, g->d2, 4) && holds(g, g->d2 + (gpuexec_ptr)BYTES, 5);
}

/* Two threads, each with its stream, take turns: a mutex orders them, and each waits for its
   stream before it lets the other one continue. */
typedef struct turns {
    ground *g;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int turn, failed;
} turns;
typedef struct player {
    turns *t;
    int me;
} player;

static void *plays(void *user) {
    const player *p = (const player *)user;
    turns *t = p->t;
    ground *g = t->g;
    const gpuexec_stream stream = p->me ? g->b : g->a;
    int round;
    for (round = 0; round < 3; round++) {
        pthread_mutex_lock(&t->mutex);
        while (t->turn % 2 != p->me) pthread_cond_wait(&t->changed, &t->mutex);
        t->failed |= TAKE(stream, g->d2, g->d) != GPUEXEC_OK;
        t->failed |= FILL(stream, g->d, (unsigned)++t->turn) != GPUEXEC_OK;
        t->failed |= gpuexec_stream_sync(stream) != GPUEXEC_OK;
        pthread_cond_broadcast(&t->changed);
        pthread_mutex_unlock(&t->mutex);
    }
    return NULL;
}

CORRECT(threads_that_take_turns) {
    turns t;
    player players[2];
    pthread_t threads[2];
    int k;
    (void)right;
    memset(&t, 0, sizeof t);
    t.g = g;
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.changed, NULL);
    for (k = 0; k < 2; k++) {
        players[k].t = &t;
        players[k].me = k;
        if (!CHECK_EQ(pthread_create(&threads[k], NULL, plays, &players[k]), 0)) return 0;
    }
    for (k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.mutex);
    return !t.failed && holds(g, g->d, 6) && holds(g, g->d2, 5);
}

/* On each thread, the per-thread stream is another one; they join on the legacy stream. */
static void *fills_its_part(void *user) {
    player *p = (player *)user;
    ground *g = p->t->g;
    const gpuexec_stream stream = gpuexec_stream_per_thread(g->ctx);
    const gpuexec_ptr part = g->d + (gpuexec_ptr)(p->me * BYTES);
    if (FILL(stream, part, 7 + (unsigned)p->me)) p->me = -1;
    else if (TAKE(stream, part + 2 * BYTES, part)) p->me = -1;
    return NULL;
}

CORRECT(per_thread_streams) {
    turns t;
    player players[2];
    pthread_t threads[2];
    int k;
    (void)right;
    memset(&t, 0, sizeof t);
    t.g = g;
    for (k = 0; k < 2; k++) {
        players[k].t = &t;
        players[k].me = k;
        if (!CHECK_EQ(pthread_create(&threads[k], NULL, fills_its_part, &players[k]), 0)) return 0;
    }
    for (k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    CHECK_EQ(players[0].me, 0);
    CHECK_EQ(players[1].me, 1);
    /* the legacy stream waits for both, and they for it */
    return holds(g, g->d + (gpuexec_ptr)(2 * BYTES), 7) &&
            holds(g, g->d + (gpuexec_ptr)(3 * BYTES), 8);
}

/* Blocking streams wait for the legacy stream, and it for them. */
CORRECT(the_order_of_the_legacy_stream) {
    gpuexec_stream legacy = gpuexec_stream_legacy(g->ctx);
    (void)right;
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_copy(legacy, g->d2, g->d, BYTES));
    CHECK_OK(OUT(g->b, g->p, g->d2));
    CHECK_OK(FILL(g->c, g->d, 8));
    return copied(g, g->b, 7) && holds(g, g->d, 8) && holds(g, g->d2, 7);
}

static void sets_flag(void *user) { __atomic_store_n((int *)user, 1, __ATOMIC_RELEASE); }

/* The host waits for what a host function on the stream writes. */
PROGRAM(a_host_function, TEST, NULL, NULL, IS_CORRECT | HOST_WAITS, NULL) {
    int flag = 0;
    (void)right;
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_host_function(g->a, sets_flag, &flag));
    TEST_UNTIL(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
    CHECK(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
    CHECK_OK(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* The host waits for what a host function of a graph writes. */
PROGRAM(a_host_function_of_a_graph, TEST, NULL, NULL, IS_CORRECT | HOST_WAITS, NULL) {
    int flag = 0;
    gpuexec_graph graph = filling(g, 7);
    const gpuexec_node fill = { graph, 0 };
    (void)right;
    gpuexec_graph_add_host(graph, sets_flag, &flag, GPUEXEC_AFTER(fill));
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    TEST_UNTIL(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
    CHECK(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
    CHECK_OK(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* The host waits for a value that the stream writes to its memory. */
PROGRAM(a_value_that_the_host_waits_for, TEST, NULL, NULL, IS_CORRECT | HOST_WAITS, NULL) {
    (void)right;
    g->q[0] = 0;
    CHECK_OK(FILL(g->a, g->d, 7));
    if (gpuexec_stream_write_value32(g->a, gpuexec_pinned_address(g->q), 1)) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    TEST_UNTIL(__atomic_load_n(g->q, __ATOMIC_ACQUIRE) == 1);
    CHECK_EQ(__atomic_load_n(g->q, __ATOMIC_ACQUIRE), 1);
    CHECK_OK(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* On the legacy stream, a wait for an event is work, also if the event is done. */
CORRECT(a_done_event_on_the_legacy_stream) {
    (void)right;
    CHECK_OK(gpuexec_event_record(g->e, g->c));
    CHECK_OK(gpuexec_event_sync(g->e));
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_wait_event(gpuexec_stream_legacy(g->ctx), g->e));
    CHECK_OK(OUT(g->b, g->p, g->d));
    return copied(g, g->b, 7);
}

/* The legacy stream waits for a blocking stream that was destroyed, too. */
CORRECT(the_legacy_stream_after_a_stream_ended) {
    gpuexec_stream s = labelled(g->ctx, "gone", 0);
    uint32_t words[WORDS];
    (void)right;
    CHECK_OK(FILL(s, g->d, 7));
    CHECK_OK(gpuexec_stream_destroy(s));
    CHECK_OK(gpuexec_copy_out_now(g->ctx, words, g->d, BYTES));
    return are(words, 0, WORDS, 7);
}

/* Memory of gpuexec_alloc, freed in the order of a stream that waits for the others. */
CORRECT(memory_freed_on_a_stream) {
    gpuexec_ptr m = gpuexec_alloc(g->ctx, BYTES);
    (void)right;
    CHECK_OK(FILL(g->a, m, 7));
    CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
    CHECK_OK(OUT(g->b, g->p, m));
    CHECK_OK(gpuexec_stream_wait_stream(g->c, g->b));
    CHECK_OK(gpuexec_free_on(g->c, m));
    return copied(g, g->b, 7);
}

/* The pool gives memory that one stream has freed to another one: the driver orders them. */
CORRECT(memory_of_a_pool_on_two_streams) {
    int k;
    (void)right;
    for (k = 0; k < 4; k++) {
        const gpuexec_stream stream = k % 2 ? g->b : g->a;
        const gpuexec_ptr m = gpuexec_alloc_on(stream, BYTES);
        if (!m) {
            gpuexec_take_error();
            return CANNOT_RUN;
        }
        CHECK_OK(FILL(stream, m, 7));
        CHECK_OK(OUT(stream, g->p + k * WORDS, m));
        CHECK_OK(gpuexec_free_on(stream, m));
    }
    CHECK_OK(gpuexec_stream_sync(g->a));
    CHECK_OK(gpuexec_stream_sync(g->b));
    return are(g->p, 0, (size_t)4 * WORDS, 7);
}

/* The wait is enqueued before the work and the write that it waits for. */
CORRECT(a_wait_for_a_value_before_its_write) {
    (void)right;
    if (gpuexec_stream_wait_value32(g->b, g->d2, 1, GPUEXEC_EQUAL)) {
        gpuexec_take_error();
        return CANNOT_RUN;
    }
    CHECK_OK(OUT(g->b, g->p, g->d));
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_stream_write_value32(g->a, g->d2, 1));
    CHECK_OK(gpuexec_stream_sync(g->a));
    return copied(g, g->b, 7);
}

/* Launches of one graph run one after the other, on any streams. */
CORRECT(one_graph_on_two_streams) {
    gpuexec_graph graph = gpuexec_graph_create(g->ctx);
    const uint32_t first = 0, by = 1, n = WORDS;
    (void)right;
    gpuexec_graph_add_kernel(graph, g->add, gpuexec_grid_for(n, 32),
            GPUEXEC_ARGS(g->d, first, by, n), GPUEXEC_FIRST);
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    CHECK_OK(gpuexec_graph_launch(graph, g->b));
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    return holds(g, g->d, 3);
}

/* A branch joins through an event, and the rest of the graph uses what both wrote. */
CORRECT(a_graph_with_a_join) {
    gpuexec_graph graph = { 0 };
    (void)right;
    GPUEXEC_CAPTURE(g->a, &graph) {
        CHECK_OK(SET(g->a, g->d, 7));
        CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        CHECK_OK(TAKE(g->b, g->d2, g->d));
        CHECK_OK(OUT(g->a, g->q, g->d));
        CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
        CHECK_OK(SET(g->a, g->d, 9));
        CHECK_OK(OUT(g->a, g->p, g->d2));
    }
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    CHECK_OK(gpuexec_graph_launch(graph, g->a));
    return copied(g, g->a, 7) && are(g->q, 0, WORDS, 7) && holds(g, g->d, 9);
}

/* A copy to memory that is not page-locked has ended when the call returns. */
CORRECT(a_copy_to_pageable_memory) {
    uint32_t words[WORDS];
    (void)right;
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(OUT(g->a, words, g->d));
    CHECK_OK(FILL(g->b, g->d, 8));
    return are(words, 0, WORDS, 7) && holds(g, g->d, 8);
}

/* gpuexec_free waits, so that the next allocation may have the same address. */
CORRECT(memory_allocated_again) {
    int k;
    (void)right;
    for (k = 0; k < 4; k++) {
        const gpuexec_ptr m = gpuexec_alloc(g->ctx, BYTES);
        CHECK_OK(FILL(k % 2 ? g->b : g->a, m, 7));
        CHECK_OK(OUT(k % 2 ? g->b : g->a, g->p + k * WORDS, m));
        CHECK_OK(gpuexec_free(m));
    }
    return are(g->p, 0, (size_t)4 * WORDS, 7);
}

/* The pool gives the memory out again, in the stream's order. */
CORRECT(memory_of_a_pool_allocated_again) {
    int k;
    (void)right;
    for (k = 0; k < 4; k++) {
        const gpuexec_ptr m = gpuexec_alloc_on(g->a, BYTES);
        if (!m) {
            gpuexec_take_error();
            return CANNOT_RUN;
        }
        CHECK_OK(FILL(g->a, m, 7));
        CHECK_OK(gpuexec_stream_wait_stream(g->b, g->a));
        CHECK_OK(OUT(g->b, g->p + k * WORDS, m));
        CHECK_OK(gpuexec_stream_wait_stream(g->a, g->b));
        CHECK_OK(gpuexec_free_on(g->a, m));
    }
    CHECK_OK(gpuexec_stream_sync(g->a));
    return are(g->p, 0, (size_t)4 * WORDS, 7);
}

CORRECT(the_host_reads_the_time) {
    gpuexec_event e = gpuexec_event_create(g->ctx, NULL);
    (void)right;
    CHECK_OK(gpuexec_event_record(g->e, g->a));
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_event_record(e, g->a));
    CHECK_OK(gpuexec_event_sync(e));
    CHECK(gpuexec_event_elapsed_ms(g->e, e) >= 0);
    CHECK_OK(FILL(g->b, g->d, 8));
    CHECK_OK(gpuexec_event_destroy(e));
    return holds(g, g->d, 8);
}

/* -------------------------------------------------------------------------------------------------
   What other code may order. */

/* The other code records the event: what its streams have done is not known. */
CORRECT(an_event_that_other_code_has) {
    driver_calls cu = calls_find();
    gpuexec_event e = gpuexec_event_create(g->ctx, NULL);
    void *stream = NULL;
    (void)right;
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(gpuexec_context_push(g->ctx));
    CHECK_EQ(cu.cuStreamCreate(&stream, 0), 0);
    /* the other code's stream waits for stream one, unseen: on the host */
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuEventRecord(gpuexec_event_native(e), stream), 0);
    CHECK_OK(gpuexec_context_pop(g->ctx));
    CHECK_OK(gpuexec_stream_wait_event(g->b, e));
    CHECK_OK(OUT(g->b, g->p, g->d));
    CHECK_OK(gpuexec_stream_sync(g->b));
    CHECK_OK(gpuexec_event_destroy(e));
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    return copied(g, g->b, 7);
}

/* Work on adopted streams is never accused; one message says so. */
TEST(adopted_streams) {
    driver_calls cu;
    gpuexec_stream adopted;
    static notes l;
    void *native = NULL;
    ground g;
    int round;
    if (!begin_finder(&l)) return;
    g = open_ground(0);
    begin(&g);
    cu = calls_find();
    CHECK_OK(gpuexec_context_push(g.ctx));
    CHECK_EQ(cu.cuStreamCreate(&native, 0), 0);
    CHECK_OK(gpuexec_context_pop(g.ctx));
    adopted = gpuexec_stream_from_native(g.ctx, (struct CUstream_st *)native);
    for (round = 0; round < 2; round++) {
        CHECK_OK(FILL(g.a, g.d, 7));
        CHECK_OK(OUT(adopted, g.p, g.d));
        CHECK_OK(FILL(adopted, g.d2, 7));
        CHECK_OK(OUT(g.b, g.q, g.d2));
    }
    CHECK_EQ(gpuexec_validation_reports(), 0);
    CHECK_EQ(l.messages, 1);
    CHECK_TEXT(l.text, "other code can use", "not checked");
    end(&g);
    CHECK_OK(gpuexec_stream_destroy(adopted));
    CHECK_EQ(cu.cuStreamDestroy_v2(native), 0);
}

/* gpuexec does not see that other code waits for all work of its context. */
TEST(other_code_waits_in_its_context) {
    gpuexec_context theirs;
    gpuexec_stream a, b;
    driver_calls cu;
    static notes l;
    ground g;
    if (!begin_finder(&l)) return;
    g = open_ground(0);
    begin(&g);
    cu = calls_find();
    CHECK_MADE(theirs = gpuexec_context_from_native(gpuexec_context_native(g.ctx)));
    CHECK_MADE(a = gpuexec_stream_create(theirs, NULL));
    CHECK_MADE(b = gpuexec_stream_create(theirs, NULL));
    CHECK_OK(FILL(a, g.d, 7));
    CHECK_OK(gpuexec_context_push(theirs));
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_OK(gpuexec_context_pop(theirs));
    CHECK_OK(OUT(b, g.p, g.d));
    CHECK_OK(gpuexec_stream_sync(b));
    CHECK_EQ(gpuexec_validation_reports(), 0);
    CHECK_EQ(g.p[0], 7);
    end(&g);
    CHECK_OK(gpuexec_context_close(theirs));
}

/* A pair of places is reported once, and counted once; after a shutdown, again. */
TEST(each_pair_is_reported_once) {
    static notes l;
    ground now, *g = &now;
    int start, round;
    for (start = 0; start < 2; start++) {
        if (!begin_finder(&l)) return;
        now = open_ground(0);
        begin(g);
        for (round = 0; round < 3; round++) {
            FIRST(FILL(g->a, g->d, 7));
            SECOND(OUT(g->b, g->p, g->d));
            CHECK_OK(gpuexec_context_sync(g->ctx));
        }
        CHECK_EQ(gpuexec_validation_reports(), 1);
        CHECK_EQ(l.messages, 1);
        CHECK(has_place(l.text, first_line) && has_place(l.text, second_line));
        end(g);
        gpuexec_shutdown();
    }
}

/* Without the finder, nothing is reported. */
TEST(the_finder_is_off_by_default) {
    ground now, *g = &now;
    unsetenv("GPUEXEC_VALIDATION");
    now = open_ground(0);
    begin(g);
    CHECK_OK(FILL(g->a, g->d, 7));
    CHECK_OK(OUT(g->b, g->p, g->d));
    CHECK_EQ(gpuexec_validation_reports(), 0);
    end(g);
}
