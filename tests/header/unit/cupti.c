/* cupti.c - timelines whose times are CUPTI's: tests/support/play_cupti.c plays it, and one test
   uses the machine's, if it has one. */
#include "../../support/play_cupti.h"
#include "../../test.h"

static struct {
    void (*plan)(const play_cupti_piece *pieces, unsigned n);
    void (*hold)(int on);
    unsigned (*depth)(void), (*enabled)(void);
} play;
static void use_played(void) {
    void *const library = dlopen(PLAYED_CUPTI ".so", RTLD_NOW | RTLD_LOCAL);
    setenv("GPUEXEC_CUPTI", PLAYED_CUPTI ".so", 1);
    if (!CHECK(library != NULL)) return;
    *(void **)&play.plan = dlsym(library, "play_cupti_plan");
    *(void **)&play.hold = dlsym(library, "play_cupti_hold");
    *(void **)&play.depth = dlsym(library, "play_cupti_depth");
    *(void **)&play.enabled = dlsym(library, "play_cupti_enabled");
}
static char folder[64], path[128];
static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/gpuexec-cupti-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/t.json", folder);
}
static void remove_folder(void) {
    remove(path);
    CHECK_EQ(rmdir(folder), 0);
}
static char *read_file(const char *name) {
    FILE *const f = fopen(name, "rb");
    char *text = NULL;
    long size = 0;
    if (!CHECK(f != NULL)) return (char *)calloc(1, 1);
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = (char *)calloc(1, (size_t)size + 1);
    CHECK_EQ(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    return text;
}
/* How many lines have all these. */
static int lines_with(const char *text, const char *a, const char *b, const char *c) {
    char line[4096];
    int n = 0;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        const size_t bytes = strcspn(text, "\n");
        if (bytes >= sizeof line) continue;
        memcpy(line, text, bytes);
        line[bytes] = 0;
        n += strstr(line, a) && strstr(line, b) && strstr(line, c);
    }
    return n;
}
/* The thread id of the line that has this; 0: there is none. */
static int lane_of(const char *text, const char *name) {
    const char *const at = strstr(text, name), *const tid = at ? strstr(at, "\"tid\":") : NULL;
    return tid ? atoi(tid + 6) : 0;
}
static void begin_timeline(void) {
    gpuexec_timeline_desc desc = { 0 };
    desc.cupti = 1;
    CHECK_OK(gpuexec_timeline_begin(path, &desc));
}
static void launch(const setting *s) {
    CHECK_OK(gpuexec_launch(s->kernel, s->stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s->data)));
    CHECK_OK(gpuexec_stream_sync(s->stream));
}
static const play_cupti_piece kernel_7us = { PLAY_CUPTI_KERNEL, 500, 7123, "_Z5countPj", 0, 0, 0 };

TEST_ALONE(times_are_cupti_s) {
    static const play_cupti_piece copy = { PLAY_CUPTI_MEMCPY, 100, 3000, NULL, 4096, 1, 0 },
                                  fill = { PLAY_CUPTI_MEMSET, 100, 2000, NULL, 4096, 0, 0 };
    static char host[4096];
    gpuexec_timeline_info info;
    setting s;
    char *text;
    int i;
    use_played();
    s = set_up(UNIT_PTX, "count", 4096);
    make_folder();
    begin_timeline();
    play.plan(&kernel_7us, 1);
    for (i = 0; i < 20; i++) launch(&s);
    play.plan(&copy, 1);
    CHECK_OK(gpuexec_copy_in(s.stream, s.data, host, sizeof host));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    play.plan(&fill, 1);
    CHECK_OK(gpuexec_fill(s.stream, s.data, 0, 1, 4096));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(play.depth(), 0);
    CHECK(play.enabled() != 0);
    CHECK_OK(gpuexec_timeline_end());
    CHECK_EQ(play.enabled(), 0);
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.kernels, 20);
    CHECK_EQ(info.transfers, 2);
    CHECK_EQ(info.by_cupti, 22);
    CHECK_EQ(info.inside, 0);
    CHECK_EQ(info.untimed, 0);
    text = read_file(path);
    CHECK_EQ(lines_with(text, "\"name\":\"count\"", "\"dur\":7.123", "\"grid\":\"1x1x1\""), 20);
    CHECK_EQ(lines_with(text, "\"copy to device\"", "\"dur\":3.000", "\"bytes\":4096"), 1);
    CHECK_EQ(lines_with(text, "\"fill\"", "\"dur\":2.000", "\"bytes\":4096"), 1);
    CHECK_TEXT(text, "CUPTI measured 22 of 22");
    free(text);
    remove_folder();
}
/* Two branches and what follows them: the second branch has another lane. */
TEST_ALONE(inside_graphs) {
    static const play_cupti_piece pieces[] = {
        { PLAY_CUPTI_KERNEL, 9000, 4000, "last", 0, 0, 0 },
        { PLAY_CUPTI_KERNEL, 1000, 6000, "left", 0, 0, 0 },
        { PLAY_CUPTI_DRIVER, 0, 100, NULL, 0, 0, 0 },
        { PLAY_CUPTI_KERNEL, 2000, 5000, "right", 0, 0, 0 },
        { PLAY_CUPTI_MEMCPY2, 6800, 1000, NULL, 777, 0, 0 },
        { PLAY_CUPTI_KERNEL, 0, -1, "not measured", 0, 0, 0 },
    };
    gpuexec_timeline_info info;
    gpuexec_graph graph = { 0 };
    setting s;
    char *text, page[160];
    int i;
    use_played();
    s = set_up(UNIT_PTX, "count", 4096);
    CHECK_OK(gpuexec_label(s.stream, "main"));
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data)));
    }
    make_folder();
    begin_timeline();
    play.plan(pieces, 6);
    for (i = 0; i < 3; i++) {
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_OK(gpuexec_stream_sync(s.stream));
    }
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.kernels, 3);
    CHECK_EQ(info.by_cupti, 3);
    CHECK_EQ(info.inside, 12);
    text = read_file(path);
    /* from the first begin to the last end */
    CHECK_EQ(lines_with(text, "\"cat\":\"graph\"", "\"dur\":12.000", "\"nodes\":1"), 3);
    CHECK_EQ(lines_with(text, "\"left\"", "\"dur\":6.000",
                     "\"grid\":\"2x3x4\",\"block\":\"5x6x7\","
                     "\"shared\":512"),
            3);
    CHECK_EQ(lines_with(text, "\"right\"", "\"dur\":5.000", "cupti.c:"), 3);
    /* the 200 ns that overlap are within CUPTI's error: the copy begins later */
    CHECK_EQ(lines_with(text, "\"copy between devices\"", "\"dur\":0.800", "\"bytes\":777"), 3);
    CHECK_EQ(lines_with(text, "\"last\"", "\"dur\":4.000", ""), 3);
    CHECK_EQ(lines_with(text, "not measured", "", ""), 0);
    CHECK_EQ(lane_of(text, "\"left\""), lane_of(text, "\"cat\":\"graph\""));
    CHECK_EQ(lane_of(text, "\"last\""), lane_of(text, "\"cat\":\"graph\""));
    CHECK(lane_of(text, "\"right\"") > lane_of(text, "\"left\""));
    CHECK_EQ(lines_with(text, "thread_name", "main", "branch 2 of graphs"), 1);
    CHECK_EQ(lines_with(text, "thread_name", "of graphs", ""), 1);
    free(text);
    snprintf(page, sizeof page, "%s/t.html", folder);
    CHECK_OK(gpuexec_timeline_page(path, page));
    text = read_file(page);
    CHECK_TEXT(text, "branch 2 of graphs", "right");
    free(text);
    remove(page);
    remove_folder();
}
/* What is late is taken at the end, what never comes has the times of events. */
TEST_ALONE(late_records_and_none) {
    gpuexec_timeline_info info;
    setting s;
    int round;
    use_played();
    s = set_up(UNIT_PTX, "count", 4096);
    make_folder();
    for (round = 0; round < 2; round++) {
        begin_timeline();
        play.plan(&kernel_7us, round == 0 ? 1 : 0);
        play.hold(1);
        launch(&s);
        launch(&s);
        CHECK_OK(gpuexec_timeline_get_info(&info));
        CHECK_EQ(info.waiting, 2);
        CHECK_OK(gpuexec_timeline_end());
        CHECK_OK(gpuexec_timeline_get_info(&info));
        CHECK_EQ(info.kernels, 2);
        CHECK_EQ(info.by_cupti, round == 0 ? 2 : 0);
        CHECK_EQ(info.untimed, 0);
    }
    remove_folder();
}
TEST_ALONE(without_cupti) {
    gpuexec_timeline_desc desc = { 0 };
    desc.cupti = 1;
    make_folder();
    setenv("GPUEXEC_CUPTI", "/no/such/libcupti.so", 1);
    CHECK_FAILED(gpuexec_timeline_begin(path, &desc), GPUEXEC_NOT_SUPPORTED,
            "cannot use \"/no/such/libcupti.so\", named by the environment variable GPUEXEC_CUPTI");
    setenv("GPUEXEC_CUPTI", "libm.so.6", 1);
    CHECK_FAILED(gpuexec_timeline_begin(path, &desc), GPUEXEC_NOT_SUPPORTED,
            "it has no function cuptiGetVersion");
    setenv("GPUEXEC_CUPTI", PLAYED_CUPTI "_lacks.so", 1);
    CHECK_FAILED(gpuexec_timeline_begin(path, &desc), GPUEXEC_NOT_SUPPORTED,
            "it has no function cuptiGetTimestamp");
    setenv("PLAY_CUPTI_FAILS", "39", 1);
    use_played();
    CHECK_FAILED(gpuexec_timeline_begin(path, &desc), GPUEXEC_NOT_SUPPORTED,
            "CUPTI (version 26 of its interface) cannot record: "
            "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)",
            "another profiler in the process may use CUPTI");
    CHECK_EQ(play.enabled(), 0);
    CHECK(access(path, F_OK) != 0);
    unsetenv("PLAY_CUPTI_FAILS");
    begin_timeline();
    CHECK_FAILED(gpuexec_timeline_begin(path, &desc), GPUEXEC_BAD_ARGUMENT, "already recorded");
    CHECK(play.enabled() != 0); /* the one that records is not disturbed */
    CHECK_OK(gpuexec_timeline_end());
    CHECK_FAILED(gpuexec_timeline_begin("/no/such/folder/t.json", &desc), GPUEXEC_FILE_ERROR,
            "No such file");
    CHECK_EQ(play.enabled(), 0);
    remove_folder();
}
static char warning[1000];
static void keep_warning(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) snprintf(warning, sizeof warning, "%s", text);
}
TEST_ALONE(from_the_environment) {
    gpuexec_setup_desc desc;
    char page[160], *text;
    setting s;
    int round;
    memset(&desc, 0, sizeof desc);
    desc.log = keep_warning;
    make_folder();
    setenv("GPUEXEC_TIMELINE", path, 1);
    for (round = 0; round < 2; round++) {
        if (round) use_played();
        else setenv("GPUEXEC_CUPTI", "/no/such/libcupti.so", 1);
        CHECK_OK(gpuexec_shutdown());
        CHECK_OK(gpuexec_setup(&desc));
        if (round == 0) CHECK_TEXT(warning, "GPUEXEC_CUPTI", "/no/such/libcupti.so");
        s = set_up(UNIT_PTX, "count", 4096);
        if (round) play.plan(&kernel_7us, 1);
        launch(&s);
        CHECK_OK(gpuexec_shutdown());
        text = read_file(path);
        CHECK_EQ(lines_with(text, "\"name\":\"count\"", "\"dur\"", ""), 1);
        CHECK_EQ(lines_with(text, "\"name\":\"count\"", "\"dur\":7.123", ""), round);
        free(text);
    }
    unsetenv("GPUEXEC_TIMELINE");
    snprintf(page, sizeof page, "%s/t.html", folder);
    remove(page);
    remove_folder();
}
/* The machine's own. */
TEST_ALONE(the_real_library) {
    gpuexec_timeline_desc desc = { 0 };
    gpuexec_timeline_info info;
    gpuexec_graph graph = { 0 };
    char *text;
    setting s;
    int i;
    unsetenv("GPUEXEC_CUPTI");
    if (on_cpu_device()) SKIP("CUPTI knows no CPU device");
    s = set_up(UNIT_PTX, "count", 4096);
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4, 1024));
    make_folder();
    desc.cupti = 1;
    if (gpuexec_timeline_begin(path, &desc)) {
        printf("%s\n", gpuexec_error_detail()->message);
        gpuexec_take_error();
        rmdir(folder);
        SKIP("CUPTI is not installed");
    }
    GPUEXEC_CAPTURE(s.stream, &graph) {
        for (i = 0; i < 3; i++)
            CHECK_OK(gpuexec_launch(
                    s.kernel, s.stream, gpuexec_grid(2, 32, 0), GPUEXEC_ARGS(s.data)));
        CHECK_OK(gpuexec_fill(s.stream, s.data + 1024, 1, 4, 100));
    }
    for (i = 0; i < 10; i++) {
        launch(&s);
        CHECK_OK(gpuexec_fill(s.stream, s.data + 1024, 1, 4, 100));
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    }
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.kernels, 20);
    CHECK_EQ(info.transfers, 10);
    CHECK_EQ(info.by_cupti, 30);
    CHECK_EQ(info.inside, 40);
    CHECK_EQ(info.untimed, 0);
    text = read_file(path);
    CHECK_EQ(lines_with(text, "\"name\":\"count\"", "\"grid\":\"1x1x1\"", "\"dur\""), 10);
    CHECK_EQ(lines_with(text, "\"name\":\"count\"", "\"grid\":\"2x1x1\"", "\"dur\""), 30);
    CHECK_EQ(lines_with(text, "\"fill\"", "\"bytes\":400", "\"dur\""), 20);
    free(text);
    remove_folder();
}
