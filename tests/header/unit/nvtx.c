/* nvtx.c - ranges (>>timeline), and an NVTX tool that gets these and labels:
   tests/support/play_nvtx.c plays one. Each test that needs a tool is a separate process, because
   the first range or label of a process loads it. White-box: two tests take the hooks of other
   sections. */
#include "../../test.h"

static char warnings[4000];
static void note_warnings(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING)
        strncat(warnings, text, sizeof warnings - strlen(warnings) - 1);
}
static void set_up_logger(void) {
    gpuexec_setup_desc desc = { 0 };
    desc.log = note_warnings;
    warnings[0] = 0;
    CHECK_OK(gpuexec_setup(&desc));
}
/* What the played tool has got since the last call. */
static const char *got(void) {
    union {
        void *p;
        const char *(*text)(void);
    } f;
    void *const tool = dlopen(PLAYED_NVTX, RTLD_NOW | RTLD_LOCAL);
    f.p = tool ? dlsym(tool, "play_nvtx_text") : NULL;
    return f.p ? f.text() : "no tool";
}
/* What the tool calls while it is loaded. */
static void set_tool_hook(void (*hook)(void)) {
    union {
        void *p;
        void (*set)(void (*)(void));
    } f;
    void *const tool = dlopen(PLAYED_NVTX, RTLD_NOW | RTLD_LOCAL);
    f.p = tool ? dlsym(tool, "play_nvtx_set_hook") : NULL;
    if (CHECK(f.p != NULL)) f.set(hook);
}
#define GREETING "version 3 with 16 and 9 functions\n"
static void use_tool(const char *path) { setenv("NVTX_INJECTION64_PATH", path, 1); }

/* --- ranges ------------------------------------------------------------------------------------
 */

static char ended[8000];
static uint64_t last_began, last_ended;
static void note_ended(const char *text, uint64_t began, uint64_t end) {
    static char lock;
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
    snprintf(ended + strlen(ended), sizeof ended - strlen(ended), "%s;", text);
    CHECK(began && began <= end);
    last_began = began;
    last_ended = end;
    __atomic_clear(&lock, __ATOMIC_RELEASE);
}
static void watch_ranges(int on) {
    ended[0] = 0;
    GXI_STORE(&gxi.hooks.range_ended, on ? &note_ended : NULL);
}
static const char *take_ended(void) {
    static char taken[sizeof ended];
    snprintf(taken, sizeof taken, "%s", ended);
    ended[0] = 0;
    return taken;
}
TEST(ranges_are_nested) {
    uint64_t outer_began;
    CHECK_OK(gpuexec_range_push("not watched"));
    watch_ranges(1);
    CHECK_OK(gpuexec_range_push("outer"));
    CHECK_OK(gpuexec_range_push("inner"));
    CHECK_STRING(take_ended(), "");
    CHECK_OK(gpuexec_range_pop());
    outer_began = last_began;
    CHECK_STRING(take_ended(), "inner;");
    CHECK_OK(gpuexec_range_push("second"));
    CHECK_OK(gpuexec_range_pop());
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "second;outer;");
    CHECK(last_began <= outer_began && last_ended >= outer_began);
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "not watched;"); /* begun before */
    watch_ranges(0);
}
TEST(wrong_ranges_change_nothing) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    watch_ranges(1);
    CHECK_FAILED(gpuexec_range_pop_at("a.c:1"), GPUEXEC_BAD_ARGUMENT,
            "a.c:1: gpuexec_range_pop: this thread has no open range",
            "cure: call it once for each");
    CHECK_FAILED(gpuexec_range_push_at("a.c:2", NULL), GPUEXEC_BAD_ARGUMENT,
            "a.c:2: gpuexec_range_push: the text is NULL");
    CHECK_FAILED(gpuexec_range_pop(), GPUEXEC_BAD_ARGUMENT, "has no open range");
    CHECK_OK(gpuexec_range_push("one"));
    CHECK_OK(gpuexec_range_pop());
    CHECK_FAILED(gpuexec_range_pop(), GPUEXEC_BAD_ARGUMENT, "has no open range");
    CHECK_STRING(take_ended(), "one;");
    watch_ranges(0);
    CHECK_OK(gpuexec_fill(s.stream, s.data, 0, 1, 16)); /* nothing was latched */
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
TEST(deep_ranges) {
    char name[200];
    int i;
    watch_ranges(1);
    for (i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%d", i);
        CHECK_OK(gpuexec_range_push(name));
    }
    for (i = 0; i < 100; i++) CHECK_OK(gpuexec_range_pop());
    CHECK(strncmp(take_ended(), "31;30;29;", 9) == 0);
    memset(name, 'x', sizeof name);
    name[199] = 0;
    CHECK_OK(gpuexec_range_push(name));
    memset(name, 'y', 199); /* the text was copied */
    CHECK_OK(gpuexec_range_pop());
    CHECK_EQ(strspn(ended, "x"), 63);
    CHECK_STRING(ended + 63, ";");
    CHECK_FAILED(gpuexec_range_pop(), GPUEXEC_BAD_ARGUMENT, "has no open range");
    watch_ranges(0);
}
static int leave_by_return(void) {
    GPUEXEC_RANGE("returned") {
        CHECK_STRING(take_ended(), "");
        GPUEXEC_RANGE("inside") return 7;
    }
    return 0;
}
TEST(scopes) {
    int i, turns = 0;
    watch_ranges(1);
    GPUEXEC_RANGE("outer") {
        GPUEXEC_RANGE("inner") turns++;
        CHECK_STRING(take_ended(), "inner;");
    }
    CHECK_STRING(take_ended(), "outer;");
    CHECK_EQ(leave_by_return(), 7);
    CHECK_STRING(take_ended(), "inside;returned;");
    for (i = 0; i < 3; i++) GPUEXEC_RANGE("left") {
            if (i == 1) break; /* leaves the block */
            turns++;
        }
    CHECK_EQ(turns, 3);
    CHECK_STRING(take_ended(), "left;left;left;");
    /* what the block has begun and not ended, ends with it */
    GPUEXEC_RANGE("whole") CHECK_OK(gpuexec_range_push("forgotten"));
    CHECK_STRING(take_ended(), "forgotten;whole;");
    /* and a block that ends too many ends no other one */
    CHECK_OK(gpuexec_range_push("around"));
    GPUEXEC_RANGE("ended by hand") CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "ended by hand;");
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "around;");
    GPUEXEC_RANGE(NULL) turns++;
    CHECK_EQ(turns, 4);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_range_push: the text is NULL");
    CHECK_STRING(take_ended(), "");
    watch_ranges(0);
}
static void *push_and_end(void *user) {
    (void)user;
    CHECK_OK(gpuexec_range_push("first"));
    CHECK_OK(gpuexec_range_push("second"));
    return NULL;
}
TEST(ranges_end_with_their_thread) {
    pthread_t thread;
    watch_ranges(1);
    CHECK_OK(gpuexec_range_push("of this thread"));
    CHECK_EQ(pthread_create(&thread, NULL, push_and_end, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_STRING(take_ended(), "second;first;");
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "of this thread;");
    watch_ranges(0);
}
/* Before the start, during a capture, over a shutdown; and in a forked child. */
static void pop_in_child(void) {
    take_ended();
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "everything;");
    CHECK_FAILED(gpuexec_range_pop(), GPUEXEC_BAD_ARGUMENT, "has no open range");
    CHECK_OK(gpuexec_range_push("of the child"));
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "of the child;");
}
TEST_ALONE(ranges_at_any_time) {
    setting s;
    gpuexec_graph graph;
    watch_ranges(1);
    CHECK_OK(gpuexec_range_push("everything"));
    CHECK(!GXI_LOAD(&gxi.start.started));
    CHECK(run_child(pop_in_child));
    s = set_up(UNIT_PTX, "add", 4096);
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    GPUEXEC_RANGE("captured") CHECK_OK(gpuexec_fill(s.stream, s.data, 0, 1, 16));
    graph = gpuexec_capture_end(s.stream);
    CHECK_MADE(graph);
    CHECK(run_child(pop_in_child)); /* after the start: without CUDA */
    gpuexec_shutdown();
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(take_ended(), "captured;everything;");
    watch_ranges(0);
}
TEST_ALONE(ranges_without_a_driver) {
    setenv("GPUEXEC_DRIVER", "./no/such/driver.so", 1);
    watch_ranges(1);
    GPUEXEC_RANGE("works") CHECK_EQ(gpuexec_driver_version(), 0);
    CHECK_STRING(take_ended(), "works;");
    watch_ranges(0);
}

/* --- the hook for labels ------------------------------------------------------------------------
 */

static char hooked[1000];
static void note_labelled(uint64_t id, const char *text) {
    char label[64];
    const int has = gxi_label_get(id, label, sizeof label); /* no mutex is held */
    CHECK_STRING(label, text);
    CHECK_EQ(has, *text != 0);
    snprintf(hooked + strlen(hooked), sizeof hooked - strlen(hooked), "%llu %s;",
            (unsigned long long)id, text);
}
TEST(labels_are_reported) {
    char text[200], small[4];
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_virtual_desc growing = { 0 };
    gpuexec_virtual range;
    growing.bytes = growing.max_bytes = 1 << 21;
    range = gpuexec_virtual_create(s.ctx, &growing);
    GXI_STORE(&gxi.hooks.labelled, &note_labelled);
    CHECK_OK(gpuexec_label(s.stream, "a\nb"));
    CHECK_EQ(gxi_label_get(s.stream.id, small, sizeof small), 1);
    CHECK_STRING(small, "a b");
    CHECK_EQ(gxi_label_get(s.ctx.id, small, sizeof small), 0);
    CHECK_STRING(small, "");
    CHECK_OK(gpuexec_label(s.stream, NULL));
    CHECK_OK(gpuexec_label_memory(s.data, "not an object"));
    CHECK_OK(gpuexec_label_memory(gpuexec_virtual_address(range), "range"));
    GXI_STORE(&gxi.hooks.labelled, NULL);
    snprintf(text, sizeof text, "%llu a b;%llu ;%llu range;", s.stream.id, s.stream.id, range.id);
    CHECK_STRING(hooked, text);
}

/* --- NVTX ---------------------------------------------------------------------------------------
 */

TEST_ALONE(a_tool_gets_ranges) {
    char longer[201];
    use_tool(PLAYED_NVTX);
    set_up_logger();
    GPUEXEC_RANGE("outer") {
        CHECK_STRING(warnings, "");
        GPUEXEC_RANGE("inner") {}
    }
    CHECK_STRING(got(), GREETING "push outer\npush inner\npop\npop\n");
    CHECK_RESULT(gpuexec_range_pop(), GPUEXEC_BAD_ARGUMENT);
    CHECK_RESULT(gpuexec_range_push(NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_STRING(got(), "");
    memset(longer, 'x', 200); /* the whole text */
    longer[200] = 0;
    CHECK_OK(gpuexec_range_push(longer));
    CHECK_EQ(strlen(got()), 206);
    gpuexec_shutdown(); /* the tool stays */
    CHECK_OK(gpuexec_range_pop());
    CHECK_OK(gpuexec_range_push("later"));
    CHECK_STRING(got(), "pop\npush later\n");
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(got(), "pop\n");
    CHECK_STRING(warnings, "");
}
TEST_ALONE(a_tool_gets_deep_ranges_and_those_of_ended_threads) {
    const char *text;
    pthread_t thread;
    int i, pushes = 0, pops = 0;
    use_tool(PLAYED_NVTX);
    for (i = 0; i < 50; i++) CHECK_OK(gpuexec_range_push("deep"));
    for (i = 0; i < 50; i++) CHECK_OK(gpuexec_range_pop());
    for (text = got(); *text; text++) {
        pushes += strncmp(text, "push deep\n", 10) == 0;
        pops += strncmp(text, "pop\n", 4) == 0;
    }
    CHECK_EQ(pushes, 50);
    CHECK_EQ(pops, 50);
    CHECK_EQ(pthread_create(&thread, NULL, push_and_end, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_STRING(got(), "push first\npush second\npop\npop\n");
}
TEST_ALONE(a_tool_gets_labels) {
    char text[500];
    setting s;
    use_tool(PLAYED_NVTX);
    s = set_up(UNIT_PTX, "add", 4096);
    s.a = gpuexec_event_create(s.ctx, NULL);
    CHECK_OK(gpuexec_label(s.kernel, "a kernel: it has no name in NVTX"));
    CHECK_OK(gpuexec_label(s.stream, "upload"));
    CHECK_OK(gpuexec_label(s.a, "uploaded"));
    CHECK_OK(gpuexec_label(s.ctx, "main"));
    CHECK_OK(gpuexec_label_memory(s.data, "memory"));
    CHECK_OK(gpuexec_label(s.stream, NULL));
    CHECK_OK(gpuexec_label(gpuexec_stream_legacy(s.ctx), "default"));
    snprintf(text, sizeof text,
            GREETING "stream %p upload\nevent %p uploaded\ncontext %p main\nstream %p \n"
                     "stream %p default\n",
            (void *)gpuexec_stream_native(s.stream), (void *)gpuexec_event_native(s.a),
            (void *)gpuexec_context_native(s.ctx), (void *)gpuexec_stream_native(s.stream),
            (void *)gpuexec_stream_native(gpuexec_stream_legacy(s.ctx)));
    CHECK_STRING(got(), text);
    CHECK_FAILED(gpuexec_label((gpuexec_stream){ 0 }, "x"), GPUEXEC_BAD_HANDLE, "never created");
    CHECK_STRING(got(), "");
}
static void *push_and_pop(void *user) {
    int i;
    (void)user;
    for (i = 0; i < 200; i++) {
        CHECK_OK(gpuexec_range_push("a"));
        CHECK_OK(gpuexec_range_pop());
    }
    return NULL;
}
TEST_ALONE(threads_load_a_tool_once) {
    pthread_t threads[4];
    const char *text;
    int i, greetings = 0, pushes = 0, pops = 0;
    use_tool(PLAYED_NVTX);
    for (i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], NULL, push_and_pop, NULL), 0);
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (text = got(); *text; text++) {
        greetings += strncmp(text, GREETING, strlen(GREETING)) == 0;
        pushes += strncmp(text, "push a\n", 7) == 0;
        pops += strncmp(text, "pop\n", 4) == 0;
    }
    CHECK_EQ(greetings, 1);
    CHECK_EQ(pushes, 800);
    CHECK_EQ(pops, 800);
}
TEST_ALONE(a_tool_that_takes_few_functions) {
    setting s;
    use_tool(PLAYED_NVTX);
    setenv("PLAY_NVTX_LACKS", "push name", 1);
    s = set_up(UNIT_PTX, "add", 0);
    CHECK_OK(gpuexec_label(s.stream, "not named"));
    GPUEXEC_RANGE("not pushed") {}
    CHECK_STRING(got(), GREETING "pop\n");
    CHECK_STRING(gpuexec_get_label(s.stream), "not named");
}
TEST_ALONE(a_forked_child_uses_the_tool) {
    use_tool(PLAYED_NVTX);
    watch_ranges(1);
    CHECK_OK(gpuexec_range_push("everything"));
    CHECK(run_child(pop_in_child));
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(got(), GREETING "push everything\npop\n");
}

/* A tool that uses gpuexec while it is loaded: it does not get that. */
static void push_in_tool(void) {
    CHECK_OK(gpuexec_range_push("of the tool"));
    CHECK_OK(gpuexec_range_pop());
}
TEST_ALONE(a_tool_that_calls_while_it_is_loaded) {
    use_tool(PLAYED_NVTX);
    set_tool_hook(push_in_tool);
    watch_ranges(1);
    CHECK_OK(gpuexec_range_push("first"));
    CHECK_OK(gpuexec_range_pop());
    CHECK_STRING(got(), GREETING "push first\npop\n");
    CHECK_STRING(take_ended(), "of the tool;first;");
}
/* A child that is forked while another thread loads the tool goes on without one. */
static int tool_entered, tool_released;
static void wait_in_tool(void) {
    __atomic_store_n(&tool_entered, 1, __ATOMIC_RELEASE);
    TEST_UNTIL(__atomic_load_n(&tool_released, __ATOMIC_ACQUIRE));
}
static void *push_once(void *user) {
    (void)user;
    CHECK_OK(gpuexec_range_push("of the thread"));
    CHECK_OK(gpuexec_range_pop());
    return NULL;
}
static void push_without_a_tool(void) {
    push_once(NULL);
    CHECK_STRING(take_ended(), "of the thread;");
    CHECK_EQ(gxi.nvtx.state, -1);
}
TEST_ALONE(forked_while_a_thread_loads_a_tool) {
    pthread_t thread;
    use_tool(PLAYED_NVTX);
    set_tool_hook(wait_in_tool);
    watch_ranges(1);
    CHECK_EQ(pthread_create(&thread, NULL, push_once, NULL), 0);
    TEST_UNTIL(__atomic_load_n(&tool_entered, __ATOMIC_ACQUIRE));
    CHECK(run_child(push_without_a_tool));
    __atomic_store_n(&tool_released, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_STRING(got(), GREETING "push of the thread\npop\n");
}

/* Libraries that are not tools: one warning, and nothing else. */
static const char *wrong_tool, *wrong_why;
static void use_wrong_tool(void) {
    char first[300];
    use_tool(wrong_tool);
    set_up_logger();
    GPUEXEC_RANGE("works") {}
    snprintf(first, sizeof first,
            "gpuexec: the NVTX tool \"%s\" named by NVTX_INJECTION64_PATH is not used: ",
            wrong_tool);
    CHECK_TEXT(warnings, first, wrong_why);
    CHECK(strchr(warnings, '\n') == warnings + strlen(warnings) - 1); /* one line */
    warnings[0] = 0;
    GPUEXEC_RANGE("works") {}
    CHECK_OK(gpuexec_label(gpuexec_context_open(0, NULL), "works, too"));
    CHECK_STRING(warnings, "");
}
TEST_ALONE(what_is_not_a_tool) {
    char folder[] = "/tmp/gpuexec_nvtx_XXXXXX", path[100];
    FILE *f;
    wrong_tool = "./no/such/tool.so";
    wrong_why = "tool.so";
    CHECK(run_child(use_wrong_tool));
    wrong_tool = PLAYED_NVRTC;
    wrong_why = "it does not export InitializeInjectionNvtx2\n";
    CHECK(run_child(use_wrong_tool));
    setenv("PLAY_NVTX_REFUSES", "1", 1);
    wrong_tool = PLAYED_NVTX;
    wrong_why = "its InitializeInjectionNvtx2 returned 0\n";
    CHECK(run_child(use_wrong_tool));
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    wrong_tool = folder;
    wrong_why = "it is a directory\n";
    CHECK(run_child(use_wrong_tool));
    snprintf(path, sizeof path, "%s/text.so", folder);
    if ((f = fopen(path, "w")) != NULL) {
        fputs("not a library\n", f);
        fclose(f);
    }
    wrong_tool = path;
    wrong_why = "text.so";
    CHECK(run_child(use_wrong_tool));
    unlink(path);
    rmdir(folder);
}
TEST_ALONE(no_tool_if_the_environment_is_ignored) {
    gpuexec_setup_desc desc = { 0 };
    use_tool(PLAYED_NVTX);
    desc.ignore_environment = 1;
    desc.driver_path = getenv("GPUEXEC_DRIVER");
    CHECK_OK(gpuexec_setup(&desc));
    GPUEXEC_RANGE("works") {}
    CHECK_OK(gpuexec_label(gpuexec_context_open(0, NULL), "works, too"));
    CHECK_STRING(got(), "");
}
/* Nothing is printed without a logger. */
static void use_quietly(void) {
    use_tool("./no/such/tool.so");
    if (!freopen("/dev/null", "w", stdout)) return;
    GPUEXEC_RANGE("works") {}
}
TEST_ALONE(no_warning_without_a_logger) {
    int ends[2], saved = dup(2);
    char text[100];
    CHECK_EQ(pipe(ends), 0);
    dup2(ends[1], 2);
    CHECK(run_child(use_quietly));
    dup2(saved, 2);
    close(ends[1]);
    CHECK_EQ(read(ends[0], text, sizeof text), 0);
    close(ends[0]);
    close(saved);
}
