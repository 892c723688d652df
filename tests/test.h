/*  test.h - the test harness: main() and a few macros. Needs only a GNU-compatible C99 compiler and
    POSIX.

    A test program is one file:

        #include "../../test.h"                 // includes gpuexec.h with its implementation
        TEST(name)       { CHECK(...); }        // starts with an unused library: gpuexec_shutdown()
                                                    // runs after each test
        TEST_ALONE(name) { setenv(...); ... }       // the same in a separate process: for another
                                                    // environment, or to break CUDA
        TEST_MULTI(name) { ... }        // sees all GPUs of the machine; TEST and TEST_ALONE see one
        TEST_ALONE_MULTI(name) { ... }  // both

    The first process makes no CUDA calls. It forks children that run the tests, so a test that
    crashes, hangs or poisons CUDA (errors in kernels are sticky) is one failure, and the next test
    starts in a new child. Checks continue after a failure.

    CUDA takes a good part of a second to start for each GPU. Therefore one child runs all tests of
    a kind, one after the other, and retains the primary contexts that they open and close: first
    TEST, then TEST_MULTI, then each TEST_ALONE in a separate child. The CPU device starts at once,
    and there all tests see all of its devices.

    ./program            runs all tests and ends with `suite NAME: N passed, N failed, N skipped`;
                         exit code 1 if one failed
    ./program text ...   runs only the tests whose names contain one of the texts
    TEST_DEVICE=1        the GPU for tests that see one, as in CUDA_VISIBLE_DEVICES; by default the
                         first
    TEST_VERBOSE=1       prints one line per test, with its time
    TEST_TIMEOUT=120     the time limit of one test, in seconds
    GPUEXEC_VALIDATION=1 a test also fails if the finder of unordered work reports something */
#ifndef TEST_H
#define TEST_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "support/calls.h"
#include "support/doors.h"

/* Descs of copies and fills: LINE(ON_DEVICE(p, 0), ON_HOST(memory, 0), bytes), ROWS(ON_DEVICE(p,
   pitch), ...). */
#define ON_DEVICE(address, row) \
    (gpuexec_side) { .device = (address), .pitch = (row) }
#define ON_HOST(pointer, row) \
    (gpuexec_side) { .host = (pointer), .pitch = (row) }
#define OF_VALUE(number, size) \
    (gpuexec_side) { .value = (number), .element_bytes = (size) }
#define LINE(of_to, of_from, n) (&(gpuexec_copy_desc){ .to = of_to, .from = of_from, .bytes = (n) })
#define ROWS(of_to, of_from, width, rows) \
    (&(gpuexec_copy_desc){ .to = of_to, .from = of_from, .width_bytes = (width), .height = (rows) })

/* -------------------------------------------------------------------------------------------------
   Declaring tests. Constructors register them in the order of the file. */

typedef struct test {
    const char *name;
    void (*run)(void);
    int alone, multi;
    struct test *next;
} test;

typedef struct test_list {
    test *first, **last;
} test_list;
static test *test_first; /* of the tests to run; set in main() */
static test_list test_kinds[3] = {
    { NULL, &test_kinds[0].first },
    { NULL, &test_kinds[1].first },
    { NULL, &test_kinds[2].first },
};

#define TEST(name) TEST_REGISTER(name, 0, 0)
#define TEST_MULTI(name) TEST_REGISTER(name, 0, 1)
#define TEST_ALONE(name) TEST_REGISTER(name, 1, 0)
#define TEST_ALONE_MULTI(name) TEST_REGISTER(name, 1, 1)
#define TEST_REGISTER(id, alone, multi) \
    static void id(void); \
    static test test_of_##id = { #id, id, alone, multi, NULL }; \
    __attribute__((constructor)) static void test_register_##id(void) { \
        test_list *kind = &test_kinds[alone ? 2 : multi]; \
        *kind->last = &test_of_##id; \
        kind->last = &test_of_##id.next; \
    } \
    static void id(void)

/* -------------------------------------------------------------------------------------------------
   Checks. All of them work on any thread. */

static const test *test_current;
static int test_failures;        /* of the current test; atomic */
static const char *test_skipped; /* the reason, or NULL */

/* Prints where a check failed. Returns 0 after ten failures of a test, so that the rest is not
   printed. */
static inline int test_fail_at(const char *file, int line) {
    int n = __atomic_add_fetch(&test_failures, 1, __ATOMIC_RELAXED);
    if (n == 11) printf("%s: %s: more failures, not shown\n", file, test_current->name);
    if (n > 10) return 0;
    printf("%s:%d: %s: ", file, line, test_current->name);
    return 1;
}

static inline int test_true(const char *file, int line, int ok, const char *what) {
    if (!ok && test_fail_at(file, line)) printf("not true: %s\n", what);
    return ok;
}

static inline int test_equal(const char *file, int line, long long a, long long b,
        const char *what_a, const char *what_b) {
    if (a != b && test_fail_at(file, line))
        printf("%s is %lld (0x%llx), but %s is %lld (0x%llx)\n", what_a, a, (unsigned long long)a,
                what_b, b, (unsigned long long)b);
    return a == b;
}

static inline int test_same_text(
        const char *file, int line, const char *a, const char *b, const char *what) {
    int ok = a && b && strcmp(a, b) == 0;
    if (!ok && test_fail_at(file, line))
        printf("%s is \"%.2000s\", not \"%.2000s\"\n", what, a ? a : "(NULL)", b ? b : "(NULL)");
    return ok;
}

static inline int test_has_text(
        const char *file, int line, const char *text, const char *what, const char *const *parts) {
    int ok = 1;
    for (; *parts; parts++) {
        if (text && strstr(text, *parts)) continue;
        ok = 0;
        if (test_fail_at(file, line))
            printf("%s lacks \"%.200s\"; it is:\n%.2000s\n", what, *parts, text ? text : "(NULL)");
    }
    return ok;
}

static inline int test_result(
        const char *file, int line, gpuexec_result got, gpuexec_result wanted, const char *what) {
    if (got != wanted && test_fail_at(file, line)) {
        printf("%s returned %s, not %s", what, gpuexec_result_name(got),
                gpuexec_result_name(wanted));
        if (got != GPUEXEC_OK) printf("; the last failure is:\n%s", gpuexec_error_text());
        printf("\n");
    }
    return got == wanted;
}

static inline int test_made(const char *file, int line, uint64_t id, const char *what) {
    if (!gpuexec_id_ok(id) && test_fail_at(file, line))
        printf("%s is not ok:\n%s\n", what, gpuexec_id_why(id));
    return gpuexec_id_ok(id);
}

/* Whether the text contains the message, whose parts are on separate lines if a kernel failed. */
static inline int test_has_message(const gpuexec_error *e) {
    const char *message = e->message, *text = e->text;
    if (!message) return 0;
    if (!e->asynchronous) return strstr(text, message) != NULL;
    while (message) {
        const char *next = strstr(message, "; ");
        const size_t n = next ? (size_t)(next - message) : strlen(message);
        while (*text && strncmp(text, message, n) != 0) text++;
        if (!*text) return 0;
        message = next ? next + 2 : NULL;
    }
    return 1;
}

/* Checks a call that must fail: it returned this result, and the error text contains these parts,
   the message and the cure. The failure is latched, and taken here; with `latches` 0 nothing is
   latched, as for queries, clean-up, and calls that wait. */
static inline int test_refused(const char *file, int line, gpuexec_result got,
        gpuexec_result wanted, int latches, const char *what, const char *const *parts) {
    const gpuexec_error *e = gpuexec_error_detail();
    int ok = test_result(file, line, got, wanted, what);
    ok &= test_has_text(file, line, gpuexec_error_text(), what, parts);
    ok &= test_true(file, line, e->result == wanted && test_has_message(e),
            "the parts of the failure agree");
    ok &= test_true(
            file, line, !e->cure || strstr(e->text, e->cure) != NULL, "the text has the cure");
    ok &= test_result(file, line, gpuexec_take_error(), latches ? wanted : GPUEXEC_OK,
            "gpuexec_take_error() then");
    return ok;
}

/* Checks a failed handle: its reason contains these parts, and the failure is latched, and taken
   here. */
static inline int test_not_made(const char *file, int line, uint64_t id, gpuexec_result wanted,
        const char *what, const char *const *parts) {
    int ok = test_true(file, line, id != 0 && !gpuexec_id_ok(id), what);
    ok &= test_has_text(file, line, gpuexec_id_why(id), what, parts);
    ok &= test_refused(file, line, gpuexec_take_error(), wanted, 0, what, parts);
    return ok;
}

/* Each returns 1 if it holds. */
#define CHECK(condition) test_true(__FILE__, __LINE__, (condition) ? 1 : 0, #condition)
/* integers */
#define CHECK_EQ(a, b) test_equal(__FILE__, __LINE__, (long long)(a), (long long)(b), #a, #b)
#define CHECK_STRING(a, b) test_same_text(__FILE__, __LINE__, a, b, #a)
/* contains each of these texts */
#define CHECK_TEXT(text, ...) \
    test_has_text(__FILE__, __LINE__, text, #text, (const char *const[]){ __VA_ARGS__, NULL })
/* a gpuexec_result */
#define CHECK_RESULT(call, r) test_result(__FILE__, __LINE__, call, r, #call)
#define CHECK_OK(call) test_result(__FILE__, __LINE__, call, GPUEXEC_OK, #call)
#define CHECK_MADE(handle) test_made(__FILE__, __LINE__, (handle).id, #handle) /* of any kind */

/* Calls that must fail, and the texts that the error text must contain. */
#define CHECK_REFUSED(call, result, ...) \
    test_refused(__FILE__, __LINE__, call, result, 1, #call, \
            (const char *const[]){ __VA_ARGS__, NULL })
#define CHECK_FAILED(call, result, ...) /* ... and it latches nothing */ \
    test_refused(__FILE__, __LINE__, call, result, 0, #call, \
            (const char *const[]){ __VA_ARGS__, NULL })
#define CHECK_NOT_MADE(handle, result, ...) \
    test_not_made(__FILE__, __LINE__, (handle).id, result, #handle, \
            (const char *const[]){ __VA_ARGS__, NULL })
#define CHECK_CURE() CHECK(gpuexec_error_detail()->cure != NULL) /* the last failure has one */

/* Ends the test function: it cannot run here, for this reason. */
#define SKIP(reason) \
    do { \
        test_skipped = (reason); \
        return; \
    } while (0)

/* -------------------------------------------------------------------------------------------------
   Helpers that many tests use. */

/* Whether the environment turns this on: GPUEXEC_VALIDATION=1. */
static inline int test_is_on(const char *variable) {
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

/* SIMGPU_STRICT: no calls with handles of destroyed objects, on purpose or not. */
static inline int test_strict(void) { return test_is_on("SIMGPU_STRICT"); }

static inline double test_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Time in which something wrong could happen. No test relies on it for an order: a machine can stop
   one thread, or all, for any time. To wait for something, use TEST_UNTIL. */
static inline void test_sleep_ms(long ms) {
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL); /* not order */
}

static inline int test_timeout(void) {
    const char *s = getenv("TEST_TIMEOUT");
    return s && atoi(s) > 0 ? atoi(s) : 120;
}

/* Waits until the condition is true, at most for half of the test's time. A check of the condition
   follows. */
#define TEST_UNTIL(condition) \
    for (double test_end = test_seconds() + test_timeout() / 2.0; \
            !(condition) && test_seconds() < test_end;) \
    test_sleep_ms(1) /* not order: between two looks */

/* Returns 1 on the CPU device. Starts nothing, so a GPU skips tests for the CPU device before CUDA
   starts. */
static inline int on_cpu_device(void) {
    const char *driver = getenv("GPUEXEC_DRIVER");
    return driver && strstr(driver, "libsimgpu");
}

/* A GPU, whose driver takes long to create a context, runs all of an expensive test only with
   TEST_ALL=1. */
static inline int test_in_full(void) { return on_cpu_device() || getenv("TEST_ALL"); }

/* Starts `function` in a forked child of the test. */
static inline pid_t begin_child(void (*function)(void)) {
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        test_failures = 0;
        function();
        fflush(NULL);
        _exit(test_failures != 0);
    }
    return child;
}

/* Waits for it. Returns 1 if it ended in time and all its checks held. */
static inline int end_child(pid_t child) {
    int status = 0;
    pid_t done = 0;
    TEST_UNTIL((done = waitpid(child, &status, WNOHANG)) != 0);
    if (done == 0) {
        printf("%s: a child process did not end\n", test_current->name);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return 0;
    }
    if (WIFSIGNALED(status))
        printf("%s: a child process was killed by signal %d\n", test_current->name,
                WTERMSIG(status));
    return done == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static inline int run_child(void (*function)(void)) { return end_child(begin_child(function)); }

/* Random bits that are the same in every run (xorshift). */
static inline uint32_t test_random(uint32_t *state) {
    uint32_t x = *state ? *state : 2463534242u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

/* An allocator for gpuexec_setup_desc.realloc_function: counts its blocks, and succeeds
   test_blocks_left more times. */
enum { TEST_BLOCKS_ENOUGH = 1000000 };
static int test_blocks, test_blocks_left = TEST_BLOCKS_ENOUGH;

static inline void *test_realloc(void *user, void *p, size_t bytes) {
    (void)user;
    if (!bytes) {
        if (p) test_blocks--;
        free(p);
        return NULL;
    }
    if (test_blocks_left-- <= 0) return NULL;
    if (!p) test_blocks++;
    return realloc(p, bytes);
}

/* Runs `work` with memory for no allocation, then for one, and so on, until it returns GPUEXEC_OK,
   which must happen with fewer than `most` allocations. Each failure before that must have a text,
   and leak nothing. */
static inline void test_running_dry(gpuexec_result (*work)(void), int most) {
    gpuexec_setup_desc desc;
    gpuexec_result made = GPUEXEC_OUT_OF_HOST_MEMORY;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.realloc_function = test_realloc;
    for (i = 0; i < most && made; i++) {
        test_blocks_left = i;
        made = gpuexec_setup(&desc);
        if (!made) made = work();
        if (made) CHECK(gpuexec_error_text()[0]);
        gpuexec_shutdown();
        CHECK_EQ(test_blocks, 0);
    }
    CHECK(i > 10 && i < most);
    test_blocks_left = TEST_BLOCKS_ENOUGH;
}

/* A gate keeps a stream busy until the test opens it. Create it early: while a gate is closed, a
   call that may wait for the device (allocating, freeing, getting a kernel, a copy from or to
   pageable memory on that stream) would wait forever on a GPU. */
typedef struct test_gate {
    gpuexec_kernel kernel;
    uint32_t *word;
} test_gate;

static inline test_gate gate_make(gpuexec_context context, gpuexec_module unit_ptx) {
    test_gate g;
    g.kernel = gpuexec_kernel_get(unit_ptx, "gate");
    g.word = (uint32_t *)gpuexec_alloc_pinned(context, sizeof *g.word);
    return g;
}

static inline void gate_close(test_gate g, gpuexec_stream stream) {
    gpuexec_ptr word = gpuexec_pinned_address(g.word);
    __atomic_store_n(g.word, 0, __ATOMIC_RELAXED);
    gpuexec_launch(g.kernel, stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(word));
}

static inline void gate_open(test_gate g) { __atomic_store_n(g.word, 1, __ATOMIC_RELAXED); }

/* The objects that most tests begin with: a context, a module, one of its kernels (NULL: none), a
   stream, and `bytes` (0: none) of zeroed device memory. The remaining members are for tests that
   fill them. */
#define UNIT_PTX "tests/support/unit.ptx"
#define FAULTS_PTX "kernels/faults.ptx"
typedef struct setting {
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_kernel kernel;
    gpuexec_stream stream;
    gpuexec_ptr data;
    gpuexec_event a, b;
    test_gate gate;
    uint32_t *host;
} setting;

static inline setting set_up_on(int device, const char *ptx, const char *kernel, size_t bytes) {
    setting s;
    memset(&s, 0, sizeof s);
    s.ctx = gpuexec_context_open(device, NULL);
    s.mod = gpuexec_module_load_file(s.ctx, ptx, NULL);
    s.stream = gpuexec_stream_create(s.ctx, NULL);
    CHECK_MADE(s.mod);
    CHECK_MADE(s.stream);
    if (kernel) {
        s.kernel = gpuexec_kernel_get(s.mod, kernel);
        CHECK_MADE(s.kernel);
    }
    if (bytes) {
        s.data = gpuexec_alloc(s.ctx, bytes);
        CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 1, bytes));
    }
    return s;
}

static inline setting set_up(const char *ptx, const char *kernel, size_t bytes) {
    return set_up_on(0, ptx, kernel, bytes);
}

/* -------------------------------------------------------------------------------------------------
   Running the tests. A child runs them and reports through a pipe; the parent counts. */

enum { TEST_BEGUN, TEST_PASSED, TEST_FAILED, TEST_SKIPPED };
typedef struct test_report {
    test *of;
    int outcome;
} test_report;

static inline void test_say(int pipe_in, test *of, int outcome) {
    test_report r;
    memset(&r, 0, sizeof r);
    r.of = of;
    r.outcome = outcome;
    fflush(NULL);
    if (write(pipe_in, &r, sizeof r) != (ssize_t)sizeof r) _exit(3);
}

/* In the child: selects the GPUs that its tests see, or all CPU devices; on a GPU, retains their
   primary contexts. */
static inline void test_open_gpus(const test *t) {
    const char *device = getenv("TEST_DEVICE"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    void *library;
    gxi_cu_context context;
    driver_calls cu;
    int i, n = 0;
    if (on_cpu_device()) unsetenv("CUDA_VISIBLE_DEVICES");
    if (getenv("GPUEXEC_DRIVER")) return;
    if (!t->multi) {
        char first[64];
        snprintf(first, sizeof first, "%s",
                device && *device             ? device
                        : visible && *visible ? visible
                                              : "0");
        first[strcspn(first, ",")] = 0;
        setenv("CUDA_VISIBLE_DEVICES", first, 1);
    }
    if (t->alone || (library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) == NULL) return;
    cu = calls_load(library);
    if (cu.cuInit(0) != 0 || cu.cuDeviceGetCount(&n) != 0) return;
    for (i = 0; i < n; i++) cu.cuDevicePrimaryCtxRetain(&context, i);
}

/* In the child: runs this test and those after it that can share its process. */
static inline void test_run_batch(test *t, int pipe_in) {
    test *first = t;
    test_open_gpus(t);
    for (; t && (t == first || (!t->alone && !first->alone && t->multi == first->multi));
            t = t->next) {
        double begin = test_seconds();
        test_current = t;
        test_failures = 0;
        test_skipped = NULL;
        test_say(pipe_in, t, TEST_BEGUN);
        t->run();
        /* tests that make mistakes with streams on purpose turn the finder off */
        if (test_is_on("GPUEXEC_VALIDATION")) CHECK_EQ(gpuexec_validation_reports(), 0);
        gpuexec_take_error();
        gpuexec_shutdown();
        if (getenv("TEST_VERBOSE")) printf("  %-50s %7.3f s\n", t->name, test_seconds() - begin);
        if (test_skipped && !test_failures) printf("  skipped: %s: %s\n", t->name, test_skipped);
        test_say(pipe_in, t,
                test_failures          ? TEST_FAILED
                        : test_skipped ? TEST_SKIPPED
                                       : TEST_PASSED);
    }
}

/* In the parent: the next report, 0 when the child has closed the pipe, -1 when time is up. */
static inline int test_next_report(int pipe_out, test_report *r) {
    struct pollfd p = { pipe_out, POLLIN, 0 };
    int n;
    do n = poll(&p, 1, test_timeout() * 1000);
    while (n < 0 && errno == EINTR);
    if (n == 0) return -1;
    return read(pipe_out, r, sizeof *r) == (ssize_t)sizeof *r;
}

static inline test *test_wanted(test *t, char **names) {
    for (; t; t = t->next) {
        char **n = names;
        if (!*n) return t;
        for (; *n; n++)
            if (strstr(t->name, *n)) return t;
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    int count[4] = { 0, 0, 0, 0 };
    test **link, *t;
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a test that crashes has said what failed before */
    setenv("GPUEXEC_CACHE", "0", 1);  /* no test uses the user's cache */
    *test_kinds[0].last = test_kinds[1].first;
    link = test_kinds[1].first ? test_kinds[1].last : test_kinds[0].last;
    *link = test_kinds[2].first;
    /* unlink the tests that the arguments exclude */
    for (test_first = test_kinds[0].first, link = &test_first; *link; link = &(*link)->next)
        if ((*link = test_wanted(*link, argv + 1)) == NULL) break;
    for (t = test_first; t;) {
        test_report r = { t, TEST_PASSED };
        int ends[2], status = 0, got;
        pid_t child;
        fflush(NULL);
        if (pipe(ends) != 0 || (child = fork()) < 0) {
            perror("pipe or fork");
            return 1;
        }
        if (child == 0) {
            close(ends[0]);
            test_run_batch(t, ends[1]);
            exit(0); /* leak checkers report here */
        }
        close(ends[1]);
        while ((got = test_next_report(ends[0], &r)) == 1)
            if (r.outcome != TEST_BEGUN) count[r.outcome]++;
        if (got < 0) kill(child, SIGKILL);
        close(ends[0]);
        waitpid(child, &status, 0);
        if (got < 0 || status != 0 || r.outcome == TEST_BEGUN) {
            const char *when = r.outcome == TEST_BEGUN ? "in" : "after";
            if (got < 0) printf("%s: took more than %d s\n", r.of->name, test_timeout());
            else if (WIFSIGNALED(status))
                printf("%s: the process was killed by signal %d %s this test\n", r.of->name,
                        WTERMSIG(status), when);
            else
                printf("%s: the process ended with exit code %d %s this test\n", r.of->name,
                        WEXITSTATUS(status), when);
        }
        if (r.outcome == TEST_BEGUN || (status != 0 && got >= 0)) count[TEST_FAILED]++;
        t = r.of->next;
    }
    printf("suite %s: %d passed, %d failed, %d skipped\n", slash ? slash + 1 : argv[0],
            count[TEST_PASSED], count[TEST_FAILED], count[TEST_SKIPPED]);
    return count[TEST_FAILED] != 0 || count[TEST_PASSED] + count[TEST_SKIPPED] == 0;
}

#endif /* TEST_H */
