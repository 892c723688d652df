/* timeline.c - what ran when, on which stream, as a file. */
#include "../../test.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* --- reading the file ------------------------------------------------------------------------- */

typedef struct slice {
    char phase, category[16], name[160], at[160];
    int pid, tid, untimed;
    double ts, dur;
    unsigned long long bytes, id, nodes, group, calls;
} slice;
typedef struct recording {
    char *text;
    slice *events;
    int count;
} recording;

static const char *json_value(const char *p);
static const char *json_space(const char *p) { return p + strspn(p, " \n\r\t"); }
static const char *json_string(const char *p) { /* NULL: not a string */
    if (*p++ != '"') return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) return NULL;
        if (*p == '\\' && !strchr("\"\\/bfnrtu", *++p)) return NULL;
    }
    return p + 1;
}
static const char *json_list(const char *p, int object) {
    p = json_space(p + 1);
    if (*p == (object ? '}' : ']')) return p + 1;
    for (;; p = json_space(p + 1)) {
        if (object) {
            if (!(p = json_string(p)) || *(p = json_space(p)) != ':') return NULL;
            p = json_space(p + 1);
        }
        if (!(p = json_value(p))) return NULL;
        p = json_space(p);
        if (*p == (object ? '}' : ']')) return p + 1;
        if (*p != ',') return NULL;
    }
}
static const char *json_value(const char *p) { /* NULL: it is not valid */
    char *end;
    if (*p == '{' || *p == '[') return json_list(p, *p == '{');
    if (*p == '"') return json_string(p);
    (void)strtod(p, &end);
    return end == p ? NULL : end;
}
static const char *member(const char *line, const char *key) { /* its value, or NULL */
    char quoted[40];
    const char *p;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    p = strstr(line, quoted);
    return p ? p + strlen(quoted) : NULL;
}
static double number_of(const char *line, const char *key) {
    const char *const p = member(line, key);
    return p ? strtod(p, NULL) : 0;
}
static void text_of(const char *line, const char *key, char *out, size_t size) {
    const char *p = member(line, key);
    size_t n = 0;
    if (p && *p == '"')
        for (p++; *p && *p != '"' && n + 1 < size; p++) out[n++] = *p == '\\' ? *++p : *p;
    out[n] = 0;
}
static recording read_lines(const char *path) {
    recording r = { NULL, NULL, 0 };
    FILE *f = fopen(path, "rb");
    char *line, *next;
    long size;
    if (!CHECK(f != NULL)) return r;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    r.text = (char *)calloc(1, (size_t)size + 1);
    CHECK_EQ(fread(r.text, 1, (size_t)size, f), size);
    fclose(f);
    r.events = (slice *)calloc((size_t)size / 40 + 1, sizeof *r.events);
    for (line = r.text; (next = strchr(line, '\n')) != NULL; line = next + 1) {
        slice *const e = &r.events[r.count];
        char phase[8];
        if (*line != '{') continue;
        *next = 0;
        text_of(line, "ph", phase, sizeof phase);
        e->phase = *phase;
        text_of(line, "cat", e->category, sizeof e->category);
        text_of(line, "name", e->name, sizeof e->name);
        text_of(line, "at", e->at, sizeof e->at);
        if (*phase == 'M') text_of(strstr(line, "\"args\""), "name", e->at, sizeof e->at);
        e->pid = (int)number_of(line, "pid");
        e->tid = (int)number_of(line, "tid");
        e->ts = number_of(line, "ts");
        e->dur = number_of(line, "dur");
        e->bytes = (unsigned long long)number_of(line, "bytes");
        e->id = (unsigned long long)number_of(line, "id");
        e->nodes = (unsigned long long)number_of(line, "nodes");
        e->group = (unsigned long long)number_of(line, "group");
        e->calls = (unsigned long long)number_of(line, "calls");
        e->untimed = (int)number_of(line, "untimed");
        *next = '\n';
        r.count++;
    }
    return r;
}
static recording read_recording(const char *path) { /* a file that was ended: valid JSON */
    recording r = read_lines(path);
    const char *end = r.text ? json_value(r.text) : NULL;
    CHECK(end != NULL && *json_space(end) == 0);
    return r;
}
static void forget(recording *r) {
    free(r->text);
    free(r->events);
}
static int count_of(const recording *r, char phase, const char *category, const char *name) {
    int i, n = 0;
    for (i = 0; i < r->count; i++)
        n += r->events[i].phase == phase &&
                (!category || strcmp(r->events[i].category, category) == 0) &&
                (!name || strcmp(r->events[i].name, name) == 0);
    return n;
}
static unsigned long long bytes_of(const recording *r, const char *name) {
    unsigned long long bytes = 0;
    int i;
    for (i = 0; i < r->count; i++)
        if (r->events[i].phase == 'X' && strcmp(r->events[i].name, name) == 0)
            bytes += r->events[i].bytes;
    return bytes;
}
/* Slices of one lane do not overlap, and everything has a lane with a name. */
static void check_lanes(const recording *r) {
    int i, k, named;
    for (i = 0; i < r->count; i++) {
        const slice *const a = &r->events[i];
        double end = a->ts + a->dur;
        if (a->phase == 'M') continue;
        for (k = named = 0; k < r->count && !named; k++)
            named = r->events[k].phase == 'M' && r->events[k].pid == a->pid &&
                    r->events[k].tid == a->tid && strcmp(r->events[k].name, "thread_name") == 0;
        if (!CHECK(named) || !CHECK(a->ts >= 0 && a->dur >= 0)) return;
        if (a->phase != 'X' || a->pid < 1000) continue;
        for (k = i + 1; k < r->count; k++) {
            const slice *const b = &r->events[k];
            if (b->phase != 'X' || b->pid != a->pid || b->tid != a->tid) continue;
            if (!CHECK(b->ts >= end - 0.0015)) return; /* three digits are written */
            break;
        }
    }
}
static char folder[64];
static const char *path_of(const char *name) { /* in a folder of this test */
    static char path[2][128];
    static int turn;
    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/gpuexec-timeline-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}
static void clean_up(const char *name) {
    remove(path_of(name));
    CHECK_EQ(rmdir(folder), 0);
    *folder = 0;
}

/* --- what is in it ---------------------------------------------------------------------------- */

static void launch_count(const setting *s, gpuexec_stream stream, unsigned blocks) {
    CHECK_OK(gpuexec_launch(s->kernel, stream, gpuexec_grid(blocks, 32, 0), GPUEXEC_ARGS(s->data)));
}
static void host_function(void *user) { ++*(int *)user; }

TEST(each_kind_of_work) {
    setting s = set_up(UNIT_PTX, "count", 1 << 20);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    gpuexec_timeline_info info;
    gpuexec_graph graph = { 0 };
    gpuexec_ptr p;
    static char host[1 << 16];
    uint32_t word = 0;
    int called = 0, i;
    recording r;
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4, 1 << 18));
    CHECK_OK(gpuexec_timeline_begin(path_of("kinds"), NULL));
    launch_count(&s, s.stream, 3);
    launch_count(&s, s.stream, 4);
    CHECK_OK(gpuexec_copy_in(s.stream, s.data + 4096, host, 5000));
    CHECK_OK(gpuexec_copy_out(s.stream, host, s.data + 4096, 7000));
    CHECK_OK(gpuexec_copy(s.stream, s.data + 65536, s.data + 4096, 9000));
    CHECK_OK(gpuexec_fill(s.stream, s.data + 4096, 1, 4, 100));
    CHECK_OK(gpuexec_event_record(event, s.stream));
    CHECK_OK(gpuexec_stream_wait_event(other, event));
    launch_count(&s, other, 1);
    CHECK_OK(gpuexec_stream_host_function(other, host_function, &called));
    CHECK(p = gpuexec_alloc_on(other, 12345));
    CHECK_OK(gpuexec_free_on(other, p));
    GPUEXEC_CAPTURE(other, &graph) {
        launch_count(&s, other, 1);
        launch_count(&s, other, 1);
    }
    CHECK_OK(gpuexec_graph_launch(graph, other));
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.recording, 0);
    CHECK_EQ(info.kernels, 4);
    CHECK_EQ(info.transfers, 4);
    CHECK_EQ(info.waiting, 0);
    CHECK_EQ(info.untimed, 0);
    CHECK(info.clock_error_us > 0);
    r = read_recording(path_of("kinds"));
    check_lanes(&r);
    CHECK_EQ(count_of(&r, 'X', "kernel", "count"), 3);
    CHECK_EQ(bytes_of(&r, "copy to device"), 5000);
    CHECK_EQ(bytes_of(&r, "copy to host"), 7000);
    CHECK_EQ(bytes_of(&r, "copy on device"), 9000);
    CHECK_EQ(bytes_of(&r, "fill"), 400);
    CHECK_EQ(count_of(&r, 'X', "host", "host function"), 1);
    CHECK_EQ(count_of(&r, 'X', "graph", NULL), 1);
    CHECK_EQ(count_of(&r, 'i', "memory", "allocate"), 1);
    CHECK_EQ(count_of(&r, 'i', "memory", "free"), 1);
    CHECK_EQ(count_of(&r, 'i', "order", "record"), 1);
    CHECK_EQ(count_of(&r, 'i', "order", "wait"), 1);
    /* one arrow from the fill to the kernel on the other stream; one from each call to its work */
    CHECK_EQ(count_of(&r, 's', "order", "waits for"), 1);
    CHECK_EQ(count_of(&r, 's', "launch", "enqueues"), 9);
    CHECK_EQ(count_of(&r, 'f', "launch", "enqueues"), 9);
    for (i = 0; i < r.count; i++) {
        const slice *const e = &r.events[i];
        if (strcmp(e->category, "graph") == 0 && e->phase == 'X') {
            CHECK_EQ(e->nodes, 2);
            CHECK_TEXT(e->name, "graph", "timeline.c:");
        }
        if (strcmp(e->category, "kernel") == 0) CHECK_TEXT(e->at, "timeline.c:");
        if (strcmp(e->name, "gpuexec_copy_in") == 0) CHECK_EQ(e->calls >= 1, 1);
    }
    CHECK_TEXT(r.text, "\"grid\":\"3x1x1\",\"block\":\"32x1x1\",\"shared\":0", "device 0",
            "stream created at tests/", "gpuexec_launch");
    CHECK_EQ(called, 1);
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 32 * (3 + 4 + 1 + 2));
    forget(&r);
    clean_up("kinds");
}

/* The gate is open after 30 ms: what waits for it begins after that, on another stream, too. */
TEST(times_on_the_host_s_clock) {
    setting s = set_up(UNIT_PTX, "count", 4);
    test_gate gate = gate_make(s.ctx, s.mod);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    double began, closed_ms, all_ms;
    const slice *waits = NULL, *first = NULL;
    gpuexec_timeline_info info;
    recording r;
    int i;
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4, 1));
    CHECK_OK(gpuexec_timeline_begin(path_of("times"), NULL));
    began = test_seconds();
    gate_close(gate, s.stream);
    CHECK_OK(gpuexec_event_record(event, s.stream));
    CHECK_OK(gpuexec_stream_wait_event(other, event));
    launch_count(&s, other, 1);
    test_sleep_ms(30); /* not order: time to measure */
    closed_ms = (test_seconds() - began) * 1e3;
    gate_open(gate);
    CHECK_OK(gpuexec_stream_sync(other));
    all_ms = (test_seconds() - began) * 1e3;
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    r = read_recording(path_of("times"));
    check_lanes(&r);
    for (i = 0; i < r.count; i++) {
        if (strcmp(r.events[i].category, "kernel") != 0) continue;
        if (strcmp(r.events[i].name, "gate") == 0) first = &r.events[i];
        if (strcmp(r.events[i].name, "count") == 0) waits = &r.events[i];
    }
    if (CHECK(first && waits)) {
        CHECK(first->dur / 1e3 >= 25);
        CHECK(first->dur / 1e3 <= all_ms);
        CHECK(waits->ts >= first->ts + first->dur - 0.0015);
        CHECK((waits->ts + waits->dur) / 1e3 <= all_ms + 1 + info.clock_error_us / 1e3);
        CHECK(closed_ms <= all_ms);
    }
    forget(&r);
    clean_up("times");
}

/* Work on a non-blocking stream has no event before it, except after what may delay it unseen. */
TEST(begins_without_events_before_them) {
    gpuexec_stream_desc alone = { 0 };
    setting s = set_up(UNIT_PTX, "count", 4);
    test_gate gate = gate_make(s.ctx, s.mod);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    const slice *kernels[4] = { NULL };
    gpuexec_timeline_info info;
    gpuexec_stream stream;
    double before, begun, done, closed; /* seconds */
    int i, n = 0;
    recording r;
    alone.non_blocking = 1;
    stream = gpuexec_stream_create(s.ctx, &alone);
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4, 1));
    gate_close(gate, s.stream);
    CHECK_OK(gpuexec_event_record(event, s.stream)); /* unknown to the timeline */
    before = test_seconds();
    CHECK_OK(gpuexec_timeline_begin(path_of("alone"), NULL));
    begun = test_seconds();
    for (i = 0; i < 2; i++) launch_count(&s, stream, 1);
    CHECK_OK(gpuexec_stream_sync(stream));
    done = test_seconds();
    CHECK_OK(gpuexec_stream_wait_event(stream, event));
    for (i = 0; i < 2; i++) launch_count(&s, stream, 1);
    test_sleep_ms(30); /* not order: time to measure */
    closed = test_seconds();
    gate_open(gate);
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    r = read_recording(path_of("alone"));
    check_lanes(&r);
    for (i = 0; i < r.count; i++)
        if (strcmp(r.events[i].name, "count") == 0 && CHECK(n < 4)) kernels[n++] = &r.events[i];
    if (CHECK_EQ(n, 4)) {
        CHECK(kernels[1]->ts + kernels[1]->dur <= kernels[2]->ts);
        CHECK(kernels[1]->ts + kernels[1]->dur <= (done - before) * 1e6 + info.clock_error_us);
        CHECK(kernels[2]->ts >= (closed - begun) * 1e6 - info.clock_error_us);
        CHECK(kernels[3]->ts >= kernels[2]->ts + kernels[2]->dur - 0.0015);
        CHECK_EQ(kernels[0]->untimed + kernels[1]->untimed + kernels[2]->untimed, 0);
    }
    forget(&r);
    clean_up("alone");
}

/* --- random programs: starts are in the order that dependencies force ------------------------- */

enum { STREAMS = 4, STEPS = 40 };
/* Each step is a fill of another size; before[] holds, as bits, the steps it must follow. */
static void random_program(const setting *s, gpuexec_stream *streams, uint32_t *random) {
    gpuexec_event events[STREAMS];
    uint64_t before[STEPS], recorded[STREAMS] = { 0 }, follows[STREAMS] = { 0 };
    const slice *at[STEPS] = { NULL };
    recording r;
    int i, k;
    for (i = 0; i < STREAMS; i++) CHECK_MADE(events[i] = gpuexec_event_create(s->ctx, NULL));
    CHECK_OK(gpuexec_timeline_begin(path_of("random"), NULL));
    for (i = 0; i < STEPS; i++) {
        const unsigned on = test_random(random) % STREAMS, other = test_random(random) % STREAMS;
        switch (test_random(random) % 4) {
        case 0:
            CHECK_OK(gpuexec_event_record(events[other], streams[on]));
            recorded[other] = follows[on];
            break;
        case 1:
            CHECK_OK(gpuexec_stream_wait_event(streams[on], events[other]));
            follows[on] |= recorded[other];
            break;
        }
        before[i] = follows[on];
        follows[on] |= (uint64_t)1 << i;
        CHECK_OK(gpuexec_fill(streams[on], s->data + (unsigned)i * 4096, 7, 1, (size_t)i + 1));
    }
    CHECK_OK(gpuexec_timeline_end());
    r = read_recording(path_of("random"));
    check_lanes(&r);
    CHECK_EQ(count_of(&r, 'X', "fill", NULL), STEPS);
    for (i = 0; i < r.count; i++)
        if (strcmp(r.events[i].category, "fill") == 0 && r.events[i].bytes - 1 < STEPS)
            at[r.events[i].bytes - 1] = &r.events[i];
    for (i = 0; i < STEPS; i++)
        for (k = 0; k < i; k++)
            if (before[i] >> k & 1 && CHECK(at[i] && at[k]))
                if (!CHECK(at[i]->ts >= at[k]->ts + at[k]->dur - 0.0015)) i = k = STEPS;
    forget(&r);
    for (i = 0; i < STREAMS; i++) CHECK_OK(gpuexec_event_destroy(events[i]));
}
TEST(order_of_random_programs) {
    setting s = set_up(UNIT_PTX, "count", STEPS * 4096);
    gpuexec_stream streams[STREAMS];
    gpuexec_stream_desc alone = { 0 };
    uint32_t random = 1;
    int i;
    alone.non_blocking = 1;
    for (i = 0; i < STREAMS; i++)
        CHECK_MADE(streams[i] = gpuexec_stream_create(s.ctx, i % 2 ? &alone : NULL));
    for (i = 0; i < 300; i++) random_program(&s, streams, &random);
    clean_up("random");
}

/* --- captures, threads, several devices ------------------------------------------------------- */

/* Recording changes no capture: the graph has the nodes of the calls, and begins and ends of a
   timeline in the middle break nothing. */
TEST(captures_are_left_alone) {
    setting s = set_up(UNIT_PTX, "count", 4096);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_graph graph;
    gpuexec_graph_info info;
    uint32_t word = 0;
    recording r;
    int i;
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4, 1));
    CHECK_OK(gpuexec_capture_begin(s.stream, NULL));
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_timeline_begin(path_of("capture"), NULL));
    launch_count(&s, s.stream, 1);
    launch_count(&s, other, 5); /* not captured: its events are queried meanwhile */
    for (i = 0; i < 300; i++) CHECK_OK(gpuexec_fill(other, s.data + 2048, 1, 4, 16));
    CHECK_OK(gpuexec_timeline_end());
    launch_count(&s, s.stream, 1);
    CHECK_MADE(graph = gpuexec_capture_end(s.stream));
    CHECK_OK(gpuexec_graph_get_info(graph, &info));
    CHECK_EQ(info.nodes, 3);
    CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 32 * 8);
    r = read_recording(path_of("capture"));
    check_lanes(&r);
    CHECK_EQ(count_of(&r, 'X', "kernel", "count"), 1);
    CHECK_EQ(count_of(&r, 'X', "fill", NULL), 300);
    forget(&r);
    clean_up("capture");
}

enum { THREADS = 4, LAUNCHES = 500 };
static setting shared;
static void *launch_some(void *unused) {
    gpuexec_stream stream = gpuexec_stream_create(shared.ctx, NULL);
    int i;
    (void)unused;
    for (i = 0; i < LAUNCHES; i++) launch_count(&shared, stream, 1);
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_OK(gpuexec_stream_destroy(stream));
    return NULL;
}
TEST(threads_and_streams_that_come_and_go) {
    pthread_t threads[THREADS];
    gpuexec_timeline_info info;
    recording r;
    int i, round;
    shared = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(gpuexec_timeline_begin(path_of("threads"), NULL));
    for (round = 0; round < 2; round++) {
        for (i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, launch_some, NULL);
        for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    }
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.kernels, 2 * THREADS * LAUNCHES);
    r = read_recording(path_of("threads"));
    check_lanes(&r);
    CHECK_EQ(count_of(&r, 'X', "kernel", "count"), 2 * THREADS * LAUNCHES);
    CHECK_EQ(count_of(&r, 'M', NULL, "thread_name"), 4 * THREADS); /* of threads and streams */
    forget(&r);
    clean_up("threads");
}
static void *record_often(void *unused) {
    const char *const path = (const char *)unused;
    int i;
    for (i = 0; i < 30; i++) {
        CHECK_OK(gpuexec_timeline_begin(path, NULL));
        CHECK_OK(gpuexec_timeline_end());
    }
    return NULL;
}
TEST(begun_and_ended_while_others_launch) {
    pthread_t threads[THREADS], recorder;
    char path[128];
    uint32_t word = 0;
    recording r;
    int i;
    shared = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(gpuexec_fill_now(shared.ctx, shared.data, 0, 4, 1));
    snprintf(path, sizeof path, "%s", path_of("often"));
    pthread_create(&recorder, NULL, record_often, path);
    for (i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, launch_some, NULL);
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_join(recorder, NULL);
    r = read_recording(path);
    check_lanes(&r);
    CHECK_OK(gpuexec_copy_out_now(shared.ctx, &word, shared.data, 4));
    CHECK_EQ(word, 32 * THREADS * LAUNCHES);
    forget(&r);
    clean_up("often");
}

static void launch_on_two(gpuexec_multi_way way) {
    gpuexec_multi_desc desc = { 0 };
    setting s[2];
    gpuexec_device_launch list[2];
    recording r;
    int i;
    unsigned long long groups[2] = { 0, 0 };
    int pids[2] = { 0, 0 }, n = 0;
    desc.way = way;
    memset(list, 0, sizeof list);
    for (i = 0; i < 2; i++) {
        s[i] = set_up_on(i, UNIT_PTX, "count", 4);
        list[i].kernel = s[i].kernel;
        list[i].stream = s[i].stream;
        list[i].dims = gpuexec_grid(1, 32, 0);
    }
    list[0].args = GPUEXEC_ARGS(s[0].data);
    list[1].args = GPUEXEC_ARGS(s[1].data);
    CHECK_OK(gpuexec_timeline_begin(path_of("multi"), NULL));
    CHECK_OK(gpuexec_launch_multi_device(list, 2, &desc));
    launch_count(&s[1], s[1].stream, 1);
    for (i = 0; i < 2; i++) CHECK_OK(gpuexec_stream_sync(s[i].stream));
    CHECK_OK(gpuexec_timeline_end());
    r = read_recording(path_of("multi"));
    check_lanes(&r);
    for (i = 0; i < r.count; i++)
        if (strcmp(r.events[i].category, "kernel") == 0 && r.events[i].group && n < 2) {
            groups[n] = r.events[i].group;
            pids[n++] = r.events[i].pid;
        }
    CHECK_EQ(n, 2);
    CHECK_EQ(groups[0], groups[1]);
    CHECK_EQ(pids[0] + pids[1], 2001);
    CHECK_EQ(count_of(&r, 'X', "kernel", NULL), 3);
    forget(&r);
    clean_up("multi");
}

TEST_MULTI(a_launch_on_two_devices_is_one_group) {
    if (gpuexec_device_count() < 2) SKIP("one device");
    launch_on_two(GPUEXEC_MULTI_PER_DEVICE);
    launch_on_two(GPUEXEC_MULTI_DRIVER);
}

/* While one stream's kernel waits for the host, the other stream's kernel runs: the slices overlap.
 */
TEST(lanes_overlap_where_streams_do) {
    setting s = set_up(UNIT_PTX, "count", 4);
    test_gate gate = gate_make(s.ctx, s.mod);
    gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
    const slice *gates = NULL, *counts = NULL;
    recording r;
    int i;
    launch_count(&s, other, 1); /* the code is on the device */
    CHECK_OK(gpuexec_stream_sync(other));
    CHECK_OK(gpuexec_timeline_begin(path_of("overlap"), NULL));
    gate_close(gate, s.stream);
    launch_count(&s, other, 1);
    CHECK_OK(gpuexec_stream_sync(other));
    gate_open(gate);
    CHECK_OK(gpuexec_timeline_end());
    r = read_recording(path_of("overlap"));
    check_lanes(&r);
    for (i = 0; i < r.count; i++) {
        if (strcmp(r.events[i].category, "kernel") != 0) continue;
        if (strcmp(r.events[i].name, "gate") == 0) gates = &r.events[i];
        if (strcmp(r.events[i].name, "count") == 0) counts = &r.events[i];
    }
    if (CHECK(gates && counts)) {
        CHECK(gates->tid != counts->tid);
        CHECK(counts->ts + counts->dur <= gates->ts + gates->dur);
    }
    forget(&r);
    clean_up("overlap");
}

TEST(labels_ranges_and_nodes) {
    setting s = set_up(UNIT_PTX, "count", 4);
    const slice *outer = NULL, *inner = NULL, *launch = NULL;
    gpuexec_graph graph = { 0 };
    recording r;
    int i;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        launch_count(&s, s.stream, 1);
        launch_count(&s, s.stream, 2);
    }
    CHECK_OK(gpuexec_label(graph, "step"));
    CHECK_OK(gpuexec_label(s.stream, "first name"));
    CHECK_OK(gpuexec_range_push("before the timeline"));
    CHECK_OK(gpuexec_timeline_begin(path_of("labels"), NULL));
    GPUEXEC_RANGE("outer") {
        GPUEXEC_RANGE("inner") launch_count(&s, s.stream, 1);
        CHECK_OK(gpuexec_label(s.stream, "second \"name\""));
    }
    for (i = 0; i < 3; i++) CHECK_OK(gpuexec_graph_launch(graph, s.stream));
    CHECK_OK(gpuexec_range_pop());
    CHECK_OK(gpuexec_timeline_end());
    r = read_recording(path_of("labels"));
    check_lanes(&r);
    for (i = 0; i < r.count; i++) {
        if (strcmp(r.events[i].name, "outer") == 0) outer = &r.events[i];
        if (strcmp(r.events[i].name, "inner") == 0) inner = &r.events[i];
        if (strcmp(r.events[i].name, "gpuexec_launch") == 0) launch = &r.events[i];
        if (strcmp(r.events[i].category, "graph") == 0 && r.events[i].phase == 'X')
            CHECK_TEXT(r.events[i].name, "graph \"step\" ", "timeline.c:");
    }
    if (CHECK(outer && inner && launch)) {
        CHECK(outer->ts <= inner->ts && inner->ts <= launch->ts);
        CHECK(launch->ts + launch->dur <= inner->ts + inner->dur + 0.002);
        CHECK(inner->ts + inner->dur <= outer->ts + outer->dur + 0.002);
        CHECK(outer->tid == inner->tid && inner->tid == launch->tid);
    }
    CHECK_EQ(count_of(&r, 'X', "range", NULL), 3);
    CHECK_EQ(count_of(&r, 'X', "graph", NULL), 3);
    CHECK_EQ(count_of(&r, 'i', "graph", "nodes of a graph"), 1);
    CHECK_TEXT(r.text, "stream \\\"first name\\\" created at",
            "stream \\\"second \\\"name\\\"\\\" created at", "nodes: 2\\u000a0: kernel");
    forget(&r);
    clean_up("labels");
}

/* --- how it ends ------------------------------------------------------------------------------ */

TEST(a_context_that_is_closed_is_waited_for) {
    setting s = set_up(UNIT_PTX, "count", 4);
    gpuexec_context second = gpuexec_context_create(0, NULL);
    gpuexec_stream stream = gpuexec_stream_create(second, NULL);
    gpuexec_ptr p = gpuexec_alloc(second, 4096);
    recording r;
    int i;
    CHECK_OK(gpuexec_timeline_begin(path_of("closed"), NULL));
    for (i = 0; i < 100; i++) CHECK_OK(gpuexec_fill(stream, p, 1, 4, 1024));
    CHECK_OK(gpuexec_context_close(second));
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_shutdown()); /* ends it */
    r = read_recording(path_of("closed"));
    check_lanes(&r);
    CHECK_EQ(count_of(&r, 'X', "fill", NULL), 100);
    CHECK_EQ(count_of(&r, 'X', "kernel", "count"), 1);
    forget(&r);
    clean_up("closed");
}

static char killed_path[128];
static void record_until_killed(void) {
    setting s = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(gpuexec_timeline_begin(killed_path, NULL));
    for (;;) {
        launch_count(&s, s.stream, 1);
        CHECK_OK(gpuexec_stream_sync(s.stream));
    }
}
/* Killed in the middle: all whole lines are events. */
TEST_ALONE(a_process_that_is_killed) {
    pid_t child;
    recording r;
    char *end;
    snprintf(killed_path, sizeof killed_path, "%s", path_of("killed"));
    child = begin_child(record_until_killed);
    TEST_UNTIL((r = (recording){ 0 }, access(killed_path, R_OK) == 0) &&
            (r = read_lines(killed_path), end = r.text ? strstr(r.text, "\"kernel\"") : NULL,
                    forget(&r), end != NULL));
    kill(child, SIGKILL);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    r = read_lines(killed_path);
    CHECK(count_of(&r, 'X', "kernel", "count") > 0);
    check_lanes(&r);
    /* the array need not be closed: closed after the last whole line, it is valid */
    end = strrchr(r.text, '\n');
    if (CHECK(end && end > r.text)) {
        while (end > r.text && (*end == '\n' || *end == ',')) *end-- = 0;
        end[1] = ']';
        CHECK(json_value(r.text) != NULL);
    }
    forget(&r);
    clean_up("killed");
}
static void end_without_shutdown(void) {
    setting s = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(gpuexec_timeline_begin(killed_path, NULL));
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    exit(0);
}
TEST_ALONE(a_program_that_ends_without_shutdown) {
    recording r;
    snprintf(killed_path, sizeof killed_path, "%s", path_of("left"));
    CHECK(run_child(end_without_shutdown));
    r = read_lines(killed_path);
    CHECK(count_of(&r, 'X', "call", "gpuexec_launch") == 1);
    forget(&r);
    clean_up("left");
}

/* A forked child writes nothing, and does not wait for a mutex that another thread held. */
TEST_ALONE(a_forked_child) {
    setting s = set_up(UNIT_PTX, "count", 4);
    recording r;
    pid_t child;
    int status = -1;
    CHECK_OK(gpuexec_timeline_begin(path_of("forked"), NULL));
    launch_count(&s, s.stream, 1);
    if ((child = fork()) == 0) {
        gpuexec_timeline_info info;
        const int bad = gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 1, 0),
                                GPUEXEC_ARGS(s.data)) == GPUEXEC_OK ||
                gpuexec_timeline_end() == GPUEXEC_OK || gpuexec_timeline_get_info(&info) ||
                info.recording;
        _exit(bad);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_timeline_end());
    r = read_recording(path_of("forked"));
    CHECK_EQ(count_of(&r, 'X', "kernel", "count"), 2);
    forget(&r);
    clean_up("forked");
}

static void crash_a_kernel(void) {
    setting s = set_up(UNIT_PTX, "count", 4);
    gpuexec_timeline_info info;
    recording r;
    CHECK_OK(gpuexec_timeline_begin(killed_path, NULL));
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 32, 0),
            GPUEXEC_ARGS((gpuexec_ptr){ 16 }))); /* an illegal address */
    CHECK(gpuexec_stream_sync(s.stream) != GPUEXEC_OK);
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    r = read_recording(killed_path);
    CHECK_EQ(info.kernels + info.untimed, 2);
    CHECK(count_of(&r, 'X', "kernel", "count") + count_of(&r, 'i', "kernel", "count") == 2);
    forget(&r);
    exit(0);
}
TEST_ALONE(a_context_that_fails) {
    snprintf(killed_path, sizeof killed_path, "%s", path_of("fails"));
    CHECK(run_child(crash_a_kernel));
    clean_up("fails");
}

/* --- faults: the program's calls succeed all the same, and the file is valid --------------------
 */

static void record_a_little(void) {
    setting s = set_up(UNIT_PTX, "count", 4096);
    gpuexec_timeline_info info;
    uint32_t word = 0;
    recording r;
    int i;
    CHECK_OK(gpuexec_fill_now(s.ctx, s.data, 0, 4, 1));
    CHECK_OK(gpuexec_timeline_begin(killed_path, NULL));
    for (i = 0; i < 5; i++) {
        launch_count(&s, s.stream, 1);
        CHECK_OK(gpuexec_fill(s.stream, s.data + 2048, 1, 4, 16));
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.kernels + info.transfers + info.untimed, 10);
    CHECK_OK(gpuexec_copy_out_now(s.ctx, &word, s.data, 4));
    CHECK_EQ(word, 5 * 32);
    r = read_recording(killed_path);
    check_lanes(&r);
    forget(&r);
    CHECK_OK(gpuexec_shutdown());
}
TEST_ALONE(each_call_of_the_driver_fails) {
    static const char *const calls[] = { "cuEventCreate", "cuEventRecord", "cuEventQuery",
        "cuEventElapsedTime", "cuEventSynchronize", "cuEventDestroy", "cuStreamGetCtx",
        "cuStreamIsCapturing", "cuDeviceGetName", "cuStreamCreateWithPriority" };
    char fail[80];
    size_t i;
    int n;
    if (!on_cpu_device()) SKIP("calls of a GPU's driver do not fail on request");
    snprintf(killed_path, sizeof killed_path, "%s", path_of("faults"));
    for (i = 0; i < sizeof calls / sizeof *calls; i++)
        /* the program itself creates the first stream */
        for (n = 1 + (strcmp(calls[i], "cuStreamCreateWithPriority") == 0); n < 40;
                n = n < 8 ? n + 1 : n * 2) {
            snprintf(fail, sizeof fail, "%s:%d:1", calls[i], n);
            setenv("SIMGPU_FAIL", fail, 1);
            if (!CHECK(run_child(record_a_little))) printf("%s\n", fail);
        }
    unsetenv("SIMGPU_FAIL");
    clean_up("faults");
}
/* Memory for `blocks` more allocations. */
static void record_without_memory(void) {
    gpuexec_setup_desc setup;
    gpuexec_timeline_info info;
    setting s;
    recording r;
    int blocks, i;
    gpuexec_result result;
    memset(&setup, 0, sizeof setup);
    setup.realloc_function = test_realloc;
    CHECK_OK(gpuexec_setup(&setup));
    s = set_up(UNIT_PTX, "count", 4096);
    for (blocks = 0; blocks < 60; blocks++) {
        gpuexec_stream other = gpuexec_stream_create(s.ctx, NULL);
        gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
        const int before = test_blocks;
        CHECK_MADE(event);
        test_blocks_left = blocks;
        result = gpuexec_timeline_begin(killed_path, NULL);
        if (result) CHECK_RESULT(result, GPUEXEC_OUT_OF_HOST_MEMORY);
        else {
            for (i = 0; i < 5; i++) {
                launch_count(&s, s.stream, 1);
                CHECK_OK(gpuexec_event_record(event, s.stream));
                CHECK_OK(gpuexec_stream_wait_event(other, event));
                CHECK_OK(gpuexec_fill(other, s.data + 2048, 1, 4, 16));
            }
            result = gpuexec_timeline_end();
            test_blocks_left = TEST_BLOCKS_ENOUGH;
            if (result) CHECK(result == GPUEXEC_FILE_ERROR);
            CHECK_OK(gpuexec_timeline_get_info(&info));
            CHECK(info.kernels + info.transfers + info.untimed == 10);
            r = read_recording(killed_path);
            check_lanes(&r);
            forget(&r);
        }
        test_blocks_left = TEST_BLOCKS_ENOUGH;
        CHECK(test_blocks <= before + 8); /* places, the failure's text */
        CHECK_OK(gpuexec_stream_destroy(other));
        CHECK_OK(gpuexec_event_destroy(event));
    }
    CHECK_OK(result);
    CHECK_OK(gpuexec_shutdown());
    CHECK_EQ(test_blocks, 0);
}
TEST_ALONE(without_memory) {
    snprintf(killed_path, sizeof killed_path, "%s", path_of("memory"));
    CHECK(run_child(record_without_memory));
    clean_up("memory");
}

/* --- wrong uses ------------------------------------------------------------------------------- */

TEST(wrong_uses) {
    gpuexec_timeline_desc desc;
    char path[128];
    setting s = set_up(UNIT_PTX, "count", 4);
    CHECK_FAILED(gpuexec_timeline_end(), GPUEXEC_BAD_ARGUMENT, "no timeline is recorded",
            "gpuexec_timeline_begin");
    CHECK_FAILED(gpuexec_timeline_begin(NULL, NULL), GPUEXEC_BAD_ARGUMENT, "path");
    CHECK_FAILED(gpuexec_timeline_begin(path_of("no/such/folder"), NULL), GPUEXEC_FILE_ERROR,
            "no/such/folder", "No such file");
    memset(&desc, 1, sizeof desc);
    CHECK_FAILED(gpuexec_timeline_begin(path_of("x"), &desc), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_timeline_desc", "zero-initialized");
    CHECK_FAILED(gpuexec_timeline_get_info(NULL), GPUEXEC_BAD_ARGUMENT, "info");
    snprintf(path, sizeof path, "%s", path_of("once"));
    CHECK_OK(gpuexec_timeline_begin(path, NULL));
    CHECK_FAILED(gpuexec_timeline_begin(path_of("twice"), NULL), GPUEXEC_BAD_ARGUMENT,
            "already recorded", "/once", "gpuexec_timeline_end");
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_timeline_end());
    clean_up("once");
    /* a disk that is full */
    CHECK_OK(gpuexec_timeline_begin("/dev/full", NULL));
    launch_count(&s, s.stream, 1);
    CHECK_FAILED(gpuexec_timeline_end(), GPUEXEC_FILE_ERROR, "/dev/full", "No space left");
}

static char warning[300];
static void keep_warning(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) snprintf(warning, sizeof warning, "%s", text);
}
TEST_ALONE(from_the_environment) {
    gpuexec_setup_desc desc;
    char path[128];
    recording r;
    setting s;
    CHECK_OK(gpuexec_shutdown());
    memset(&desc, 0, sizeof desc);
    desc.log = keep_warning;
    setenv("GPUEXEC_TIMELINE", "/no/such/folder/t.json", 1);
    CHECK_OK(gpuexec_setup(&desc)); /* the program runs all the same */
    CHECK_TEXT(warning, "GPUEXEC_TIMELINE", "/no/such/folder/t.json", "No such file");
    CHECK_OK(gpuexec_shutdown());
    snprintf(path, sizeof path, "%s", path_of("environment"));
    setenv("GPUEXEC_TIMELINE", path, 1);
    s = set_up(UNIT_PTX, "count", 4);
    launch_count(&s, s.stream, 1);
    CHECK_OK(gpuexec_shutdown());
    r = read_recording(path);
    CHECK_EQ(count_of(&r, 'X', "kernel", "count"), 1);
    CHECK(count_of(&r, 'X', "call", "gpuexec_context_open") == 1);
    forget(&r);
    CHECK_EQ(remove(path_of("environment.html")), 0); /* the page */
    remove(path);
    desc.ignore_environment = 1;
    desc.driver_path = getenv("GPUEXEC_DRIVER");
    CHECK_OK(gpuexec_setup(&desc));
    s = set_up(UNIT_PTX, "count", 4);
    CHECK_OK(gpuexec_shutdown());
    CHECK(access(path, F_OK) != 0);
    unsetenv("GPUEXEC_TIMELINE");
    clean_up("environment");
}

/* Many launches in bounded memory: the library's own, with a timeline of devices only. */
static size_t owned, most_owned;
static void *measured(void *user, void *p, size_t bytes) {
    size_t *block = p ? (size_t *)p - 2 : NULL, *fresh;
    (void)user;
    __atomic_sub_fetch(&owned, block ? *block : 0, __ATOMIC_RELAXED);
    if (!bytes) {
        free(block);
        return NULL;
    }
    if (!(fresh = (size_t *)realloc(block, bytes + 16))) return NULL;
    *fresh = bytes;
    if (__atomic_add_fetch(&owned, bytes, __ATOMIC_RELAXED) > most_owned) most_owned = owned;
    return fresh + 2;
}
TEST_ALONE(memory_is_bounded) {
    gpuexec_timeline_desc desc = { 0 };
    gpuexec_setup_desc setup;
    gpuexec_timeline_info info;
    const int launches = test_in_full() ? 100000 : 20000;
    size_t before;
    setting s;
    int i;
    CHECK_OK(gpuexec_shutdown());
    memset(&setup, 0, sizeof setup);
    setup.realloc_function = measured;
    CHECK_OK(gpuexec_setup(&setup));
    s = set_up(UNIT_PTX, "nothing", 4);
    before = owned;
    desc.no_calls = 1;
    CHECK_OK(gpuexec_timeline_begin("/dev/null", &desc));
    most_owned = 0;
    for (i = 0; i < launches; i++)
        CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_timeline_end());
    CHECK_OK(gpuexec_timeline_get_info(&info));
    CHECK_EQ(info.kernels + info.untimed, launches);
    CHECK(most_owned - before < 24u << 20);
    CHECK(owned <= before + 4096);
    CHECK_OK(gpuexec_shutdown());
}
