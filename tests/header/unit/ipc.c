/* ipc.c - memory, events and pools between processes, and connections that notice the end of the
   other process.

   A test starts this program again, as another process, with the name of a part and the descriptor
   of a connection in the environment. By default the test of rounds makes 1,000 of them, and that
   of kills 10, on a GPU 4; with IPC_ALL=1, 10,000 and 50, and on a GPU, which no other process may
   use then, the free memory is compared. */
#include "../../test.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

enum { WORDS = 4096, BYTES = WORDS * 4 };
/* In milliseconds, half of a test's time: a device may run all work of the other end at once. */
#define PATIENCE (test_timeout() * 500)

static int all(void) { return getenv("IPC_ALL") != NULL; }

/* ---- the other process ---- */

typedef void part(void);
static part other_rounds, other_killed, other_objects, other_exits, other_pool, other_lines,
        other_leader, other_records, other_stuck;
static const struct {
    const char *name;
    part *run;
} parts[] = {
    { "rounds", other_rounds },
    { "killed", other_killed },
    { "objects", other_objects },
    { "exits", other_exits },
    { "pool", other_pool },
    { "lines", other_lines },
    { "leader", other_leader },
    { "records", other_records },
    { "stuck", other_stuck },
};
static const test as_other = { "the other process", NULL, 0, 0, NULL };

/* Before main(): nothing of the harness has begun. Ends with 1 if a check failed. */
__attribute__((constructor)) static void begin_part(void) {
    const char *name = getenv("IPC_PART");
    size_t i;
    if (!name) return;
    test_current = &as_other;
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i].name, name)) parts[i].run();
    gpuexec_shutdown();
    fflush(NULL);
    _exit(test_failures != 0);
}
static int given_fd(void) {
    const char *text = getenv("IPC_FD");
    return text ? atoi(text) : -1;
}
static int numbered(const char *name) {
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

/* Starts a part. fd: its end of a pair, which is closed here; -1: none. */
static pid_t start_part(const char *name, int fd, const char *more, int value) {
    pid_t child;
    char number[16], extra[16];
    snprintf(number, sizeof number, "%d", fd);
    snprintf(extra, sizeof extra, "%d", value);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        setenv("IPC_PART", name, 1);
        setenv("IPC_FD", number, 1);
        if (more) setenv(more, extra, 1);
        execl("/proc/self/exe", "ipc", (char *)NULL);
        _exit(127);
    }
    if (fd >= 0) close(fd);
    return child;
}
/* Waits for its end: its exit code, or -1. */
static int end_of(pid_t child) {
    int status = 0;
    double end = test_seconds() + PATIENCE / 1000;
    pid_t done;
    /* not order */
    while ((done = waitpid(child, &status, WNOHANG)) == 0 && test_seconds() < end) test_sleep_ms(2);
    if (done == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        printf("a process did not end\n");
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static gpuexec_ipc_message get(gpuexec_ipc c, const char *label) {
    gpuexec_ipc_message m;
    CHECK_OK(gpuexec_ipc_receive(c, &m, test_failures ? 0 : PATIENCE));
    CHECK_STRING(m.label, label);
    return m;
}
static gpuexec_event shared_event(gpuexec_context ctx) {
    gpuexec_event_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.interprocess = 1;
    return gpuexec_event_create(ctx, &desc);
}
static void send_event(gpuexec_ipc c, const char *label, gpuexec_event e) {
    gpuexec_ipc_object o;
    CHECK_OK(gpuexec_ipc_export_event(e, &o));
    CHECK_OK(gpuexec_ipc_send(c, label, 0, &o, -1));
}
static void add(const setting *s, gpuexec_stream stream, gpuexec_ptr p, uint32_t by) {
    uint32_t n = WORDS;
    gpuexec_launch(s->kernel, stream, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(p, by, n));
}

/* ---- rounds: each process adds to the same memory in turn; only events order their streams
   ---- */

typedef struct two {
    setting s;
    gpuexec_ipc c;
    gpuexec_ptr data;
    gpuexec_event mine, theirs;
} two;

static two begin_first(gpuexec_ipc c) {
    gpuexec_ipc_object o;
    two t;
    memset(&t, 0, sizeof t);
    t.s = set_up(UNIT_PTX, "add", BYTES);
    t.c = c;
    t.data = t.s.data;
    t.mine = shared_event(t.s.ctx);
    CHECK_OK(gpuexec_ipc_export(t.data, &o));
    CHECK_OK(gpuexec_ipc_send(c, "data", BYTES, &o, -1));
    send_event(c, "first", t.mine);
    o = get(c, "second").object;
    t.theirs = gpuexec_ipc_import_event(t.s.ctx, &o);
    CHECK_MADE(t.theirs);
    return t;
}
static two begin_second(gpuexec_ipc c) {
    gpuexec_ipc_message m;
    two t;
    memset(&t, 0, sizeof t);
    t.s = set_up(UNIT_PTX, "add", 0);
    t.c = c;
    t.mine = shared_event(t.s.ctx);
    m = get(c, "data");
    CHECK_EQ(m.kind, GPUEXEC_IPC_MEMORY);
    t.data = gpuexec_ipc_import(t.s.ctx, &m.object);
    CHECK(t.data != 0);
    m = get(c, "first");
    CHECK_EQ(m.kind, GPUEXEC_IPC_EVENT);
    t.theirs = gpuexec_ipc_import_event(t.s.ctx, &m.object);
    CHECK_MADE(t.theirs);
    send_event(c, "second", t.mine);
    return t;
}

static void other_rounds(void) {
    two t = begin_second(gpuexec_ipc_from_fd(given_fd()));
    gpuexec_ipc_message m;
    while (gpuexec_ipc_receive(t.c, &m, PATIENCE) == GPUEXEC_OK && !strcmp(m.label, "go")) {
        gpuexec_stream_wait_event(t.s.stream, t.theirs);
        add(&t.s, t.s.stream, t.data, 3);
        gpuexec_event_record(t.mine, t.s.stream);
        CHECK_OK(gpuexec_take_error());
        CHECK_OK(gpuexec_ipc_send(t.c, "went", m.value, NULL, -1));
    }
    CHECK_STRING(m.label, "end");
    CHECK_OK(gpuexec_stream_sync(t.s.stream));
    CHECK_OK(gpuexec_free(t.data));
    CHECK_OK(gpuexec_ipc_send(t.c, "freed", 0, NULL, -1));
    get(t.c, "close");
}
TEST(two_processes_take_turns_on_one_memory) {
    const uint32_t rounds = all() ? 10000 : 1000;
    static uint32_t host[WORDS];
    uint32_t i, bad = 0;
    int fd;
    gpuexec_ipc c = gpuexec_ipc_pair(&fd);
    pid_t other;
    double began;
    size_t before, after;
    two t;
    if (!CHECK_MADE(c)) return;
    other = start_part("rounds", fd, NULL, 0);
    t = begin_first(c);
    if (test_failures) {
        kill(other, SIGKILL);
        end_of(other);
        return;
    }
    gpuexec_context_get_memory(t.s.ctx, &before, NULL);
    CHECK_EQ(gpuexec_ipc_peer(c), other);
    began = test_seconds();
    for (i = 1; i <= rounds && !test_failures; i++) {
        add(&t.s, t.s.stream, t.data, 2);
        gpuexec_event_record(t.mine, t.s.stream);
        CHECK_OK(gpuexec_ipc_send(c, "go", i, NULL, -1));
        CHECK_EQ(get(c, "went").value, i);
        gpuexec_stream_wait_event(t.s.stream, t.theirs);
        if (i % 1000) continue; /* until then, both enqueue ahead of the device */
        CHECK_OK(gpuexec_copy_out(t.s.stream, host, t.data, sizeof host));
        CHECK_OK(gpuexec_stream_sync(t.s.stream));
        for (uint32_t k = 0; k < WORDS; k++) bad += host[k] != i * 5;
        CHECK_EQ(bad, 0);
    }
    printf("  %u rounds: %.1f us each\n", rounds, (test_seconds() - began) * 1e6 / rounds);
    CHECK_OK(gpuexec_ipc_send(c, "end", 0, NULL, -1));
    get(c, "freed");
    gpuexec_context_get_memory(t.s.ctx, &after, NULL);
    if (on_cpu_device()) CHECK_EQ(before, after);
    CHECK_OK(gpuexec_ipc_send(c, "close", 0, NULL, -1));
    CHECK_EQ(end_of(other), 0);
    CHECK_OK(gpuexec_ipc_close(c));
}

/* ---- kill -9 ---- */

/* Takes turns until the other process is gone; then everything must still work here. Waits on the
   host, so that no stream waits for an event of a process that may be gone. IPC_FIRST: which of the
   two. */
static void other_killed(void) {
    const int first = numbered("IPC_FIRST");
    gpuexec_ipc c = gpuexec_ipc_from_fd(given_fd());
    two t;
    gpuexec_ipc_message m;
    gpuexec_result result = GPUEXEC_OK;
    size_t before = 0, after = 0;
    char number[32];
    long pid;
    uint32_t i, word = 0;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_context_get_memory(ctx, &before, NULL);
    t = first ? begin_first(c) : begin_second(c);
    pid = gpuexec_ipc_peer(c);
    if (write(1, "r", 1) != 1) _exit(1); /* ready to be killed */
    for (i = 0; result == GPUEXEC_OK && i < 1000000; i++) {
        if (first || i > 0) {
            add(&t.s, t.s.stream, t.data, 1);
            gpuexec_event_record(t.mine, t.s.stream);
            CHECK_OK(gpuexec_take_error());
            result = gpuexec_ipc_send(c, "turn", i, NULL, -1);
        }
        if (result == GPUEXEC_OK) result = gpuexec_ipc_receive(c, &m, PATIENCE);
        if (result == GPUEXEC_OK) result = gpuexec_ipc_wait(c, t.theirs, PATIENCE);
    }
    snprintf(number, sizeof number, "%ld", pid);
    CHECK_FAILED(result, GPUEXEC_PEER_GONE, number, "signal 9");
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, PATIENCE), GPUEXEC_PEER_GONE, number);
    CHECK_FAILED(gpuexec_ipc_send(c, "x", 0, NULL, -1), GPUEXEC_PEER_GONE, number);
    CHECK_OK(gpuexec_ipc_close(c));
    CHECK_OK(gpuexec_stream_sync(t.s.stream));
    CHECK_OK(gpuexec_event_destroy(t.theirs));
    CHECK_OK(gpuexec_event_destroy(t.mine));
    CHECK_OK(gpuexec_free(t.data));
    t.data = gpuexec_alloc(t.s.ctx, BYTES); /* and what this process uses alone */
    CHECK_OK(gpuexec_fill(t.s.stream, t.data, 41, 4, WORDS));
    add(&t.s, t.s.stream, t.data, 1);
    CHECK_OK(gpuexec_copy_out(t.s.stream, &word, t.data, 4));
    CHECK_OK(gpuexec_stream_sync(t.s.stream));
    CHECK_EQ(word, 42);
    CHECK_OK(gpuexec_free(t.data));
    CHECK_OK(gpuexec_context_close(t.s.ctx));
    gpuexec_context_get_memory(ctx, &after, NULL);
    if (on_cpu_device()) CHECK_EQ(before, after);
}
/* Sorted by no means: the number of entries, and the sum of hashes of their names. */
static uint64_t entries(const char *folder) {
    DIR *d = opendir(folder);
    const struct dirent *e;
    uint64_t sum = 0;
    while (d && (e = readdir(d)) != NULL)
        if (strstr(e->d_name, "simgpu") || strstr(e->d_name, "gpuexec")) sum++;
    if (d) closedir(d);
    return sum;
}
static pid_t start_killed(int fd, int first, int report) {
    const int kept = dup(1);
    pid_t child;
    fflush(NULL);
    dup2(report, 1);
    child = start_part("killed", fd, "IPC_FIRST", first);
    dup2(kept, 1);
    close(kept);
    return child;
}
static void kill_one(int victim, long microseconds) {
    int ends[2], reports[2][2], i, code;
    pid_t process[2];
    char text[4000];
    struct pollfd ready;
    struct timespec pause = { 0, 0 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) || pipe(reports[0]) || pipe(reports[1]))
        abort();
    for (i = 0; i < 2; i++) {
        int k;
        for (k = 0; k < 2; k++)
            fcntl(reports[k][0], F_SETFD, FD_CLOEXEC), fcntl(reports[k][1], F_SETFD, FD_CLOEXEC);
        fcntl(ends[1 - i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFD, 0);
        process[i] = start_killed(dup(ends[i]), i == 0, reports[i][1]);
    }
    for (i = 0; i < 2; i++) {
        close(ends[i]);
        close(reports[i][1]);
    }
    for (i = 0; i < 2; i++) { /* both are ready */
        ready.fd = reports[i][0];
        ready.events = POLLIN;
        CHECK(poll(&ready, 1, PATIENCE) == 1 && read(reports[i][0], text, 1) == 1);
    }
    pause.tv_nsec = microseconds * 1000;
    nanosleep(&pause, NULL); /* not order: any moment must do */
    CHECK_EQ(kill(process[victim], SIGKILL), 0);
    /* the other is not waited for yet: the system knows how it ended */
    code = end_of(process[1 - victim]);
    if (!CHECK_EQ(code, 0)) {
        const ssize_t n = read(reports[1 - victim][0], text, sizeof text - 1);
        printf("victim %d after %ld us:\n%.*s\n", victim, microseconds, (int)(n > 0 ? n : 0), text);
    }
    waitpid(process[victim], &code, 0);
    close(reports[0][0]);
    close(reports[1][0]);
}
TEST(a_killed_process_is_noticed) {
    const int kills = all() ? 50 : on_cpu_device() ? 10 : 4;
    const uint64_t files = entries("/dev/shm");
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    uint32_t random = 1;
    size_t before = 0, after = 0;
    double end;
    int i;
    gpuexec_context_get_memory(ctx, &before, NULL);
    for (i = 0; i < kills && !test_failures; i++)
        kill_one(i % 2, (long)(test_random(&random) % 30000));
    end = test_seconds() + 10; /* a GPU's driver frees a process's memory a moment after its end */
    if (on_cpu_device() || all()) {
        do gpuexec_context_get_memory(ctx, &after, NULL);
        while (after != before && test_seconds() < end);
        CHECK_EQ(before, after);
    }
    CHECK_EQ(entries("/dev/shm"), files);
}

/* ---- objects ---- */

static gpuexec_ipc_object exported(gpuexec_ptr p) {
    gpuexec_ipc_object o;
    CHECK_OK(gpuexec_ipc_export(p, &o));
    return o;
}
TEST(what_cannot_be_exported) {
    setting s = set_up(UNIT_PTX, NULL, BYTES);
    gpuexec_ipc_object o;
    gpuexec_event_desc shared;
    gpuexec_event plain = gpuexec_event_create(s.ctx, NULL), e;
    gpuexec_ptr pooled = gpuexec_alloc_on(s.stream, 64);
    void *pinned = gpuexec_alloc_pinned(s.ctx, 64);
    gpuexec_ipc_info info;
    memset(&shared, 0, sizeof shared);
    shared.interprocess = 1;
    e = gpuexec_event_create(s.ctx, &shared);
    CHECK_REFUSED(gpuexec_ipc_export(s.data, NULL), GPUEXEC_BAD_ARGUMENT, "\"object\" is NULL");
    CHECK_REFUSED(gpuexec_ipc_export(s.data + 16, &o), GPUEXEC_BAD_ARGUMENT,
            "16 bytes after the beginning");
    CHECK_REFUSED(gpuexec_ipc_export((uintptr_t)pinned, &o), GPUEXEC_BAD_ARGUMENT, "pinned memory");
    CHECK_REFUSED(gpuexec_ipc_export(0x1234, &o), GPUEXEC_BAD_ARGUMENT,
            "0x1234 is not from gpuexec_alloc");
    CHECK_REFUSED(gpuexec_ipc_export(pooled, &o), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_pool_desc.exportable", "ipc.c:");
    CHECK_REFUSED(gpuexec_ipc_export_event(plain, &o), GPUEXEC_BAD_ARGUMENT,
            "created for use in a single process", "gpuexec_event_desc.interprocess");
    CHECK_REFUSED(gpuexec_ipc_export_event(e, NULL), GPUEXEC_BAD_ARGUMENT, "\"object\" is NULL");
    CHECK_EQ(gpuexec_ipc_export_pool(gpuexec_context_pool(s.ctx)), -1);
    CHECK_REFUSED(
            gpuexec_error_detail()->result, GPUEXEC_BAD_ARGUMENT, "gpuexec_pool_desc.exportable");
    CHECK_OK(gpuexec_event_record(e, s.stream));
    CHECK_OK(gpuexec_event_sync(e));
    CHECK(gpuexec_event_elapsed_ms(e, e) < 0);
    CHECK_TEXT(gpuexec_error_text(), "without timing");
    o = exported(s.data);
    CHECK_OK(gpuexec_ipc_get_info(&o, &info));
    CHECK(info.kind == GPUEXEC_IPC_MEMORY && info.bytes == BYTES && info.pid == getpid());
    CHECK_OK(gpuexec_ipc_export_event(e, &o));
    CHECK_OK(gpuexec_ipc_get_info(&o, &info));
    CHECK_EQ(info.kind, GPUEXEC_IPC_EVENT);
    CHECK_FAILED(gpuexec_ipc_get_info(&o, NULL), GPUEXEC_BAD_ARGUMENT, "\"info\" is NULL");
}
#define REFUSED_IMPORT(call, ...) \
    do { \
        CHECK(!(call)); \
        CHECK_REFUSED(gpuexec_error_detail()->result, GPUEXEC_BAD_ARGUMENT, __VA_ARGS__); \
    } while (0)
TEST(bytes_that_are_not_another_process_s_object) {
    setting s = set_up(UNIT_PTX, NULL, BYTES);
    gpuexec_ipc_object o = exported(s.data), bad;
    gpuexec_ipc_info info;
    size_t i;
    REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, NULL), "NULL");
    REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, &o), "this process exported the object",
            "use the exported address");
    REFUSED_IMPORT(gpuexec_ok(gpuexec_ipc_import_event(s.ctx, &o)),
            "is memory from gpuexec_alloc, not an event", "gpuexec_ipc_import");
    for (i = 0; i < sizeof o.bytes; i++) {
        bad = o;
        bad.bytes[i] ^= 0x10;
        REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, &bad),
                i < 8            ? "do not begin with gpuexec's signature"
                        : i < 12 ? "format"
                                 : "checksum does not match");
        CHECK_FAILED(gpuexec_ipc_get_info(&bad, &info), GPUEXEC_BAD_ARGUMENT, "");
    }
    memset(&bad, 0, sizeof bad);
    REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, &bad), "not a gpuexec object", "all 128");
}

/* Exports, and is then killed by the test, or ends after a message. */
static void other_objects(void) {
    gpuexec_ipc c = gpuexec_ipc_from_fd(given_fd());
    setting s = set_up(UNIT_PTX, NULL, BYTES);
    gpuexec_ipc_object o = exported(s.data);
    CHECK_OK(gpuexec_fill(s.stream, s.data, 7, 4, WORDS));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_ipc_send(c, "memory", BYTES, &o, -1));
    send_event(c, "event", shared_event(s.ctx));
    get(c, "end");
}
TEST(what_is_imported_outlives_its_process) {
    int fd;
    gpuexec_ipc c = gpuexec_ipc_pair(&fd);
    pid_t other = start_part("objects", fd, NULL, 0);
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_ipc_object o = get(c, "memory").object, oe = get(c, "event").object, again;
    gpuexec_ipc_info info;
    gpuexec_event e = gpuexec_ipc_import_event(s.ctx, &oe);
    uint32_t word = 0;
    int status;
    CHECK_OK(gpuexec_ipc_get_info(&o, &info));
    CHECK_EQ(info.pid, other);
    s.data = gpuexec_ipc_import(s.ctx, &o);
    CHECK_MADE(e);
    if (!CHECK(s.data != 0)) return;
    REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, &o), "has imported the memory already", "ipc.c:");
    REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, &oe), "is an event, not memory");
    CHECK_REFUSED(gpuexec_ipc_export(s.data, &again), GPUEXEC_BAD_ARGUMENT, "was imported");
    CHECK_REFUSED(gpuexec_ipc_export_event(e, &again), GPUEXEC_BAD_ARGUMENT,
            "the event was imported", "ipc.c:");
    CHECK_OK(gpuexec_copy_out(s.stream, &word, s.data + BYTES - 4, 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(word, 7);
    CHECK_REFUSED(gpuexec_copy_out(s.stream, &word, s.data + BYTES - 2, 4), GPUEXEC_BAD_ARGUMENT,
            "only 2 bytes remain");
    kill(other, SIGKILL);
    waitpid(other, &status, 0);
    add(&s, s.stream, s.data, 1);
    CHECK_OK(gpuexec_copy_out(s.stream, &word, s.data, 4));
    CHECK_OK(gpuexec_event_record(e, s.stream));
    CHECK_OK(gpuexec_event_sync(e));
    CHECK_EQ(word, 8);
    CHECK_OK(gpuexec_free(s.data));
    CHECK_FAILED(gpuexec_free(s.data), GPUEXEC_BAD_ARGUMENT, "already freed");
    CHECK(gpuexec_ipc_import(s.ctx, &o) == 0);
    CHECK_REFUSED(
            gpuexec_error_detail()->result, gpuexec_error_detail()->result, "is still running");
    CHECK_OK(gpuexec_event_destroy(e));
    CHECK_OK(gpuexec_ipc_close(c));
}

/* ---- connections ---- */

static void listening_name(char *name, size_t size, int parent) {
    snprintf(name, size, "@gpuexec-test-%d", parent);
}

/* Whether the kernel attaches its descriptor of the sender to messages: SO_PASSPIDFD. */
static int knows_processes(void) {
    int ends[2], yes = 1, known;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) abort();
    known = setsockopt(ends[0], SOL_SOCKET, 76, &yes, sizeof yes) == 0;
    close(ends[0]);
    close(ends[1]);
    return known;
}
static int open_files(void) {
    int n = 0, fd;
    for (fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}
/* The format of messages and objects, again: a witness of what other processes may rely on, or lie
   about. */
typedef struct wire {
    char magic[8];
    uint32_t version, kind; /* a gpuexec_ipc_kind, or HELLO or BYE */
    uint64_t value;
    char label[64];
    gpuexec_ipc_object object;
} wire;
typedef struct object {
    char magic[8];
    uint32_t version, kind;
    uint64_t process;
    int64_t pid;
    uint64_t bytes;
    unsigned char uuid[16], handle[64];
    uint64_t hash; /* FNV-1a of all before it */
} object;
enum { VERSION = 1, HELLO = 100, BYE = 101 };

static uint64_t hash_of(const object *o) {
    const unsigned char *byte = (const unsigned char *)o;
    uint64_t hash = 0xCBF29CE484222325u;
    size_t i;
    for (i = 0; i < offsetof(object, hash); i++) hash = (hash ^ byte[i]) * 0x100000001B3u;
    return hash;
}
/* A connection, and the other end as a socket that says what the test wants. */
static gpuexec_ipc pair_with_socket(int *raw) {
    int ends[2];
    gpuexec_ipc c;
    char greeting[256];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) abort();
    c = gpuexec_ipc_from_fd(ends[0]);
    CHECK_MADE(c);
    CHECK_EQ(recv(ends[1], greeting, sizeof greeting, 0), sizeof(wire));
    *raw = ends[1];
    return c;
}
static wire wire_of(uint32_t kind, uint64_t value) {
    wire w;
    memset(&w, 0, sizeof w);
    memcpy(w.magic, "gpuexec!", sizeof w.magic);
    w.version = VERSION;
    w.kind = kind;
    w.value = value;
    return w;
}
/* Sends bytes with copies of descriptor 0. */
static void send_raw(int raw, const void *bytes, size_t n, int files) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(64 * sizeof(int))];
    } control;
    struct iovec v = { (void *)(uintptr_t)bytes, n };
    struct msghdr m;
    memset(&m, 0, sizeof m);
    memset(&control, 0, sizeof control);
    m.msg_iov = &v;
    m.msg_iovlen = 1;
    if (files) {
        m.msg_control = &control;
        m.msg_controllen = control.header.cmsg_len = CMSG_LEN((size_t)files * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS; /* the descriptors are zeros */
    }
    CHECK_EQ(sendmsg(raw, &m, MSG_NOSIGNAL), n);
}

extern long syscall(long number, ...); /* POSIX hides it */
/* Its first thread ends; another one goes on. */
static void *goes_on(void *fd) {
    gpuexec_ipc c = gpuexec_ipc_from_fd(*(int *)fd);
    char path[64], text[256] = "", state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    while (state != 'Z') {
        FILE *file = fopen(path, "rb");
        if (file && fgets(text, sizeof text, file)) state = strrchr(text, ')')[2];
        if (file) fclose(file);
    }
    CHECK_OK(gpuexec_ipc_send(c, "the first thread has ended", 0, NULL, -1));
    get(c, "go on");
    CHECK_OK(gpuexec_ipc_send(c, "alive", 0, NULL, -1));
    get(c, "end");
    _exit(test_failures != 0);
}
static void other_leader(void) {
    static int fd;
    pthread_t thread;
    fd = given_fd();
    if (pthread_create(&thread, NULL, goes_on, &fd)) _exit(1);
    syscall(SYS_exit, 0); /* of this thread; pthread_exit does the same in main() */
}
TEST(a_process_without_its_first_thread_lives) {
    gpuexec_ipc_message m;
    int fd;
    gpuexec_ipc c = gpuexec_ipc_pair(&fd);
    pid_t other = start_part("leader", fd, NULL, 0);
    get(c, "the first thread has ended");
    CHECK_RESULT(gpuexec_ipc_receive(c, &m, 300), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_ipc_send(c, "go on", 0, NULL, 0));
    get(c, "alive");
    CHECK_EQ(gpuexec_ipc_peer(c), other);
    CHECK_OK(gpuexec_ipc_send(c, "end", 0, NULL, 0));
    CHECK_EQ(end_of(other), 0);
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, PATIENCE), GPUEXEC_PEER_GONE, "the other process");
    CHECK_OK(gpuexec_ipc_close(c));
}
/* As if it lived in another PID namespace: no process here has its number, or another one does. */
TEST(a_number_in_a_greeting_decides_nothing) {
    static const uint64_t numbers[] = { 0, 1, 999999999, 1ull << 63, UINT64_MAX };
    gpuexec_ipc_message m;
    int raw;
    unsigned i;
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        gpuexec_ipc c = pair_with_socket(&raw);
        wire hello = wire_of(HELLO, numbers[i]), word = wire_of(GPUEXEC_IPC_NOTHING, i);
        send_raw(raw, &hello, sizeof hello, 0);
        CHECK_RESULT(gpuexec_ipc_receive(c, &m, 250), GPUEXEC_NOT_READY);
        CHECK_EQ(gpuexec_ipc_peer(c), getpid()); /* what the kernel says */
        send_raw(raw, &word, sizeof word, 0);
        CHECK_OK(gpuexec_ipc_receive(c, &m, 0));
        CHECK_EQ(m.value, i);
        CHECK_OK(gpuexec_ipc_close(c));
        close(raw);
    }
}
TEST_ALONE(a_forked_child_closes_only_its_copy) {
    gpuexec_ipc_message m;
    int fd = -1;
    gpuexec_ipc a = gpuexec_ipc_pair(&fd), b = gpuexec_ipc_from_fd(fd);
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) { /* refused if CUDA has started; then the shutdown closes it */
        const gpuexec_result closed = gpuexec_ipc_close(a), ended = gpuexec_shutdown();
        _exit(closed != GPUEXEC_OK && closed != GPUEXEC_FORKED && ended != GPUEXEC_OK);
    }
    CHECK_EQ(end_of(child), 0);
    CHECK_RESULT(gpuexec_ipc_receive(b, &m, 0), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_ipc_send(a, "still there", 0, NULL, 0));
    get(b, "still there");
    CHECK_OK(gpuexec_ipc_close(a));
    CHECK_OK(gpuexec_ipc_close(b));
}

/* ---- time-outs ---- */

static unsigned ticks;
static void tick(int number) {
    const struct itimerval stop = { { 0, 0 }, { 0, 0 } };
    (void)number;
    if (++ticks >= 1000) setitimer(ITIMER_REAL, &stop, NULL); /* after 8 seconds */
}
static socklen_t address_of(struct sockaddr_un *address, const char *name) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name + 1, strlen(name) - 1);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
}
/* A call that must end before the ticks do, and not before its time-out. */
#define ENDS_IN_TIME(call, result) \
    do { \
        const double began_at = test_seconds(); \
        ticks = 0; \
        setitimer(ITIMER_REAL, &every, NULL); \
        CHECK_EQ(call, result); \
        setitimer(ITIMER_REAL, &never, NULL); \
        CHECK(test_seconds() - began_at > 0.19); \
        CHECK(ticks < 1000); \
    } while (0)
TEST(signals_do_not_extend_timeouts) {
    const struct itimerval every = { { 0, 8000 }, { 0, 8000 } }, never = { { 0, 0 }, { 0, 0 } };
    setting s = set_up(UNIT_PTX, "add", BYTES);
    struct sigaction action, before;
    gpuexec_ipc_message m;
    gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
    int fd = -1;
    gpuexec_ipc a = gpuexec_ipc_pair(&fd), b = gpuexec_ipc_from_fd(fd);
    char name[64];
    listening_name(name, sizeof name, (int)getpid());
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    sigaction(SIGALRM, &action, &before);
    s.gate = gate_make(s.ctx, s.mod);
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(e, s.stream));
    ENDS_IN_TIME(gpuexec_ipc_receive(a, &m, 200), GPUEXEC_NOT_READY);
    ENDS_IN_TIME(gpuexec_ipc_wait(a, e, 200), GPUEXEC_NOT_READY);
    ENDS_IN_TIME(gpuexec_id_ok(gpuexec_ipc_listen(name, 200).id), 0);
    CHECK_REFUSED(gpuexec_error_detail()->result, GPUEXEC_FILE_ERROR, "within 200 ms");
    ENDS_IN_TIME(gpuexec_id_ok(gpuexec_ipc_connect(name, 200).id), 0);
    CHECK_REFUSED(gpuexec_error_detail()->result, GPUEXEC_FILE_ERROR, "within 200 ms");
    while (gpuexec_ipc_send(a, "", 0, NULL, 0) == GPUEXEC_OK) {}
    ENDS_IN_TIME(gpuexec_ipc_send(a, "", 0, NULL, 200), GPUEXEC_NOT_READY);
    sigaction(SIGALRM, &before, NULL);
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_ipc_close(a));
    CHECK_OK(gpuexec_ipc_close(b));
}
TEST(a_listener_that_does_not_accept) {
    struct sockaddr_un address;
    char name[64];
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), waits[2], i;
    socklen_t size;
    listening_name(name, sizeof name, (int)getpid());
    size = address_of(&address, name);
    CHECK_EQ(bind(fd, (struct sockaddr *)(void *)&address, size), 0);
    CHECK_EQ(listen(fd, 1), 0);
    for (i = 0; i < 2; i++) { /* fill its queue */
        waits[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK_EQ(connect(waits[i], (struct sockaddr *)(void *)&address, size), 0);
    }
    CHECK_NOT_MADE(
            gpuexec_ipc_connect(name, 100), GPUEXEC_FILE_ERROR, "within 100 ms", "did not accept");
    CHECK_NOT_MADE(
            gpuexec_ipc_connect(name, 0), GPUEXEC_FILE_ERROR, "within 0 ms", "did not accept");
    for (i = 0; i < 2; i++) close(waits[i]);
    close(fd);
}
/* Linux counts a process's descriptors: here, the listening socket is the last one. */
TEST(a_listener_without_descriptors) {
    struct rlimit limit, few;
    struct sockaddr_un address;
    char name[64], end;
    int fill[1024], n = 0, ends[2], i;
    socklen_t size;
    pid_t child;
    listening_name(name, sizeof name, (int)getpid());
    size = address_of(&address, name);
    if (pipe(ends)) abort();
    fflush(NULL);
    child = fork();
    if (child == 0) {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        close(ends[1]);
        while (connect(fd, (struct sockaddr *)(void *)&address, size) && read(fd, &end, 0) < 1)
            test_sleep_ms(1);               /* not order: until the other process listens */
        _exit(read(ends[0], &end, 1) != 0); /* until the test closes the other end */
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    few = limit;
    while (n < 1000 && (fill[n] = dup(0)) >= 0 && fill[n] < 900) n++;
    few.rlim_cur = (rlim_t)fill[n] + 1;
    close(fill[n]);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_NOT_MADE(gpuexec_ipc_listen(name, PATIENCE), GPUEXEC_FILE_ERROR, "cannot accept",
            "Too many open files", "ulimit");
    setrlimit(RLIMIT_NOFILE, &limit);
    for (i = 0; i < n; i++) close(fill[i]);
    close(ends[1]);
    CHECK_EQ(end_of(child), 0);
    close(ends[0]);
}

/* ---- processes that lie ---- */

static void refused_raw(
        gpuexec_ipc c, int raw, const void *bytes, size_t n, int files, const char *text) {
    const int before = open_files();
    gpuexec_ipc_message m;
    wire good = wire_of(GPUEXEC_IPC_NOTHING, n);
    send_raw(raw, bytes, n, files);
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, 0), GPUEXEC_BAD_ARGUMENT, text);
    CHECK_EQ(m.fd, -1);
    CHECK_EQ(open_files(), before);
    send_raw(raw, &good, sizeof good, 0);
    CHECK_OK(gpuexec_ipc_receive(c, &m, 0)); /* the connection works */
    CHECK_EQ(m.value, n);
}
TEST(what_a_lying_process_sends_is_refused) {
    static const char *const kinds[] = { "nothing", "memory from gpuexec_alloc", "an event",
        "a pool", "memory from a pool", "a piece of a virtual range" };
    setting s = set_up(UNIT_PTX, NULL, BYTES);
    gpuexec_ipc_object o = exported(s.data);
    gpuexec_ipc_message m;
    char text[128];
    int raw, before = open_files();
    gpuexec_ipc c = pair_with_socket(&raw);
    wire w[2];
    uint32_t kind;
    memset(w, 0, sizeof w);
    refused_raw(c, raw, w, 0, 0, "received 0 bytes, which are not a message");
    refused_raw(c, raw, w, 0, 1, "received 0 bytes, which are not a message");
    refused_raw(c, raw, w, 100, 2, "100 bytes, which are not a message");
    refused_raw(c, raw, w, sizeof *w, 1, "not a message");
    w[0] = wire_of(GPUEXEC_IPC_NOTHING, 0);
    refused_raw(c, raw, w, sizeof *w - 1, 0, "not a message");
    refused_raw(c, raw, w, sizeof *w + 1, 3, "more than");
    w[0].version++;
    refused_raw(c, raw, w, sizeof *w, 0, "not a message from this version of gpuexec.h");
    for (kind = 0; kind <= GPUEXEC_IPC_PIECE; kind++) {
        const int right = kind == GPUEXEC_IPC_POOL || kind == GPUEXEC_IPC_PIECE;
        w[0] = wire_of(kind, 0);
        w[0].object = o;
        snprintf(text, sizeof text, "%s%s came with %d file descriptor%s instead of %d",
                kind ? "a message that contains " : "an empty message", kind ? kinds[kind] : "",
                1 - right, right ? "s" : "", right);
        refused_raw(c, raw, w, sizeof *w, 1 - right, text);
        refused_raw(c, raw, w, sizeof *w, 2, "with 2 file descriptors");
        refused_raw(c, raw, w, sizeof *w, 60, "or more file descriptors");
    }
    w[0] = wire_of(HELLO, 1);
    refused_raw(c, raw, w, sizeof *w, 1, "1 file descriptor instead of 0");
    w[0].kind = BYE;
    refused_raw(c, raw, w, sizeof *w, 1, "1 file descriptor instead of 0");
    for (kind = 6; kind < 300; kind += 9) {
        w[0].kind = kind;
        snprintf(text, sizeof text, "kind %u", kind);
        refused_raw(c, raw, w, sizeof *w, (int)kind % 2, text);
    }
    w[0] = wire_of(GPUEXEC_IPC_MEMORY, 0);
    refused_raw(c, raw, w, sizeof *w, 0, "not a gpuexec object");
    w[0].object = o;
    w[0].object.bytes[100] ^= 1;
    refused_raw(c, raw, w, sizeof *w, 0, "checksum does not match");
    w[0].kind = GPUEXEC_IPC_EVENT;
    w[0].object = o;
    refused_raw(c, raw, w, sizeof *w, 0, "claims to contain an event, but contains memory");
    w[0].kind = GPUEXEC_IPC_PIECE;
    refused_raw(c, raw, w, sizeof *w, 1,
            "claims to contain a piece of a virtual range, but contains memory");
    w[0].kind = GPUEXEC_IPC_MEMORY;
    memset(w[0].label, 'x', sizeof w[0].label);
    send_raw(raw, w, sizeof *w, 0);
    CHECK_OK(gpuexec_ipc_receive(c, &m, 0));
    CHECK_EQ(strlen(m.label), sizeof m.label - 1);
    w[0] = wire_of(GPUEXEC_IPC_POOL, 0);
    send_raw(raw, w, sizeof *w, 1);
    CHECK_OK(gpuexec_ipc_receive(c, &m, 0));
    CHECK(m.fd >= 0 && fcntl(m.fd, F_GETFD) == FD_CLOEXEC);
    close(m.fd);
    CHECK_OK(gpuexec_ipc_close(c));
    close(raw);
    CHECK_EQ(open_files(), before);
}
/* Also if this process has noticed the end before. */
TEST(what_was_sent_before_the_end_is_received) {
    gpuexec_ipc_message m;
    int raw;
    gpuexec_ipc c = pair_with_socket(&raw);
    wire w = wire_of(HELLO, 1);
    send_raw(raw, &w, sizeof w, 0);
    w = wire_of(GPUEXEC_IPC_NOTHING, 42);
    send_raw(raw, &w, sizeof w, 0);
    close(raw);
    CHECK_FAILED(gpuexec_ipc_send(c, "", 1, NULL, 0), GPUEXEC_PEER_GONE, "the other process");
    CHECK_OK(gpuexec_ipc_receive(c, &m, 1000));
    CHECK_EQ(m.value, 42);
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, 1000), GPUEXEC_PEER_GONE, "the other process");
    CHECK_OK(gpuexec_ipc_close(c));
}

/* Random kinds, lengths and numbers of descriptors. */
TEST(random_messages) {
    static const uint32_t kinds[] = { 0, 1, 2, 3, 4, 5, 77, 99, 100, 102, 0x80000000, 0xFFFFFFFF };
    const int before = open_files();
    const uint32_t count = all() ? 1000000 : 20000;
    gpuexec_ipc_message m;
    gpuexec_ipc c;
    uint32_t random = 5, i, taken = 0, refused = 0;
    int raw;
    c = pair_with_socket(&raw);
    for (i = 0; i < count && test_failures == 0; i++) {
        wire w[2];
        const uint32_t r = test_random(&random), bye = test_random(&random) % 100 == 0;
        const size_t n = r % 4 ? sizeof *w : test_random(&random) % (sizeof w + 1);
        gpuexec_result result;
        unsigned k;
        memset(w, 0, sizeof w);
        w[0] = wire_of(
                bye ? (uint32_t)BYE : kinds[test_random(&random) % 12], test_random(&random));
        for (k = test_random(&random) % 8; k < 8 && !bye && r % 16 == 0; k++)
            ((unsigned char *)w)[test_random(&random) % sizeof w] ^= (unsigned char)test_random(
                    &random);
        send_raw(raw, w, n, r / 16 % 3 ? 0 : (int)(test_random(&random) % 65));
        result = gpuexec_ipc_receive(c, &m, 0);
        CHECK(result == GPUEXEC_OK || result == GPUEXEC_NOT_READY ||
                result == GPUEXEC_BAD_ARGUMENT || result == GPUEXEC_PEER_GONE);
        taken += result == GPUEXEC_OK;
        refused += result == GPUEXEC_BAD_ARGUMENT;
        CHECK((m.fd >= 0) == (result == GPUEXEC_OK && m.kind == GPUEXEC_IPC_POOL));
        if (m.fd >= 0) close(m.fd);
        if (result == GPUEXEC_PEER_GONE) {
            CHECK_OK(gpuexec_ipc_close(c));
            close(raw);
            CHECK_EQ(open_files(), before);
            c = pair_with_socket(&raw);
        }
    }
    CHECK(taken > count / 100 && refused > count / 10);
    CHECK_OK(gpuexec_ipc_close(c));
    close(raw);
    CHECK_EQ(open_files(), before);
}
/* Its checksum is right: only the driver knows how much memory there is. */
TEST(an_object_that_lies_about_its_size) {
    static const uint64_t sizes[] = { 0, BYTES + 1, 1ull << 40, UINT64_MAX - 4096, UINT64_MAX };
    int fd;
    gpuexec_ipc c = gpuexec_ipc_pair(&fd);
    pid_t other = start_part("objects", fd, NULL, 0);
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_ipc_object o = get(c, "memory").object;
    object lies;
    unsigned i;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[32];
        memcpy(&lies, &o, sizeof lies);
        lies.bytes = sizes[i];
        lies.hash = hash_of(&lies);
        snprintf(text, sizeof text, "%llu bytes", (unsigned long long)sizes[i]);
        REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, (const gpuexec_ipc_object *)(const void *)&lies),
                text, "16384 bytes");
    }
    s.data = gpuexec_ipc_import(s.ctx, &o); /* the refused ones were closed */
    CHECK(s.data != 0);
    CHECK_OK(gpuexec_free(s.data));
    get(c, "event");
    CHECK_OK(gpuexec_ipc_send(c, "end", 0, NULL, 0));
    CHECK_EQ(end_of(other), 0);
    CHECK_OK(gpuexec_ipc_close(c));
}

/* ---- streams that wait for an ended process ---- */

/* Records two events on two streams that are not reached before the other process says so. */
static void other_records(void) {
    gpuexec_ipc c = gpuexec_ipc_from_fd(given_fd());
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream second = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_event e = shared_event(s.ctx), another = shared_event(s.ctx);
    test_gate gate = gate_make(s.ctx, s.mod);
    gpuexec_ipc_message m;
    s.gate = gate_make(s.ctx, s.mod);
    gate_close(s.gate, s.stream);
    gate_close(gate, second);
    CHECK_OK(gpuexec_event_record(e, s.stream));
    CHECK_OK(gpuexec_event_record(another, second));
    send_event(c, "event", e);
    send_event(c, "another", another);
    CHECK_OK(gpuexec_ipc_receive(c, &m, PATIENCE));
    gate_open(gate);
    CHECK_OK(gpuexec_stream_sync(second));
    if (strcmp(m.label, "open another") == 0) m = get(c, "open");
    CHECK_STRING(m.label, "open");
    gate_open(s.gate);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    get(c, "end");
}
/* On the per-thread stream: all threads have the same CUstream for it, but each has a separate
   stream. */
typedef struct waiting {
    gpuexec_ipc c;
    gpuexec_context ctx;
    gpuexec_event e;
} waiting;
static void *waits_and_goes_on(void *user) {
    const waiting *w = (const waiting *)user;
    gpuexec_stream own = gpuexec_stream_per_thread(w->ctx);
    CHECK_OK(gpuexec_stream_wait_event(own, w->e));
    CHECK_OK(gpuexec_ipc_send(w->c, "open another", 0, NULL, -1));
    CHECK_OK(gpuexec_stream_sync(own));
    return NULL;
}
static void *opens_later(void *c) {
    test_sleep_ms(1500); /* not order: longer than a wait for an ended process */
    CHECK_OK(gpuexec_ipc_send(*(gpuexec_ipc *)c, "open", 0, NULL, -1));
    return NULL;
}
/* IPC_HOW: 0 shuts down, 1 closes the context, 2 closes the connection before, 3 destroys the
   stream and the event before, 4 waits for a process that lives, 5 waits on two threads, on one of
   them only for a moment. */
static void other_stuck(void) {
    const int how = numbered("IPC_HOW");
    int fd, status;
    gpuexec_ipc c = gpuexec_ipc_pair(&fd);
    pid_t recorder = start_part("records", fd, NULL, 0);
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_stream second = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_ipc_object o = get(c, "event").object, o2 = get(c, "another").object;
    gpuexec_event e = gpuexec_ipc_import_event(s.ctx, &o),
                  another = gpuexec_ipc_import_event(s.ctx, &o2);
    gpuexec_ipc_message m;
    void *pinned = gpuexec_alloc_pinned(s.ctx, 64);
    pthread_t thread;
    CHECK(pinned != NULL && gpuexec_alloc_on(second, 64) != 0);
    gpuexec_pool_create(s.ctx, NULL);
    if (how == 5) {
        waiting w = { c, s.ctx, another };
        CHECK_OK(gpuexec_stream_wait_event(gpuexec_stream_per_thread(s.ctx), e));
        CHECK_EQ(pthread_create(&thread, NULL, waits_and_goes_on, &w), 0);
        pthread_join(thread, NULL);
    } else {
        CHECK_OK(gpuexec_stream_wait_event(second, e));
        add(&s, second, s.data, 1);
        CHECK_OK(gpuexec_stream_wait_stream(s.stream, second));
    }
    if (how == 4) {
        /* another process has ended; this one takes its time */
        gpuexec_ipc ended = gpuexec_ipc_pair(&fd);
        const pid_t ends = start_part("exits", fd, "IPC_HOW", 2);
        get(ended, "last words");
        CHECK_FAILED(gpuexec_ipc_receive(ended, &m, PATIENCE), GPUEXEC_PEER_GONE, "SIGABRT");
        waitpid(ends, &status, 0);
        CHECK_EQ(pthread_create(&thread, NULL, opens_later, &c), 0);
        CHECK_OK(gpuexec_context_close(s.ctx)); /* waits for it */
        pthread_join(thread, NULL);
        CHECK_OK(gpuexec_ipc_send(c, "end", 0, NULL, -1));
        CHECK_EQ(end_of(recorder), 0);
        return;
    }
    kill(recorder, SIGKILL);
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, PATIENCE), GPUEXEC_PEER_GONE, "signal 9",
            "gpuexec_shutdown");
    waitpid(recorder, &status, 0);
    if (how == 2) CHECK_OK(gpuexec_ipc_close(c));
    if (how == 3) {
        CHECK_OK(gpuexec_event_destroy(e));
        CHECK_OK(gpuexec_stream_destroy(second));
    }
    if (how == 1) {
        CHECK_FAILED(gpuexec_context_close(s.ctx), GPUEXEC_PEER_GONE, "process that has exited",
                "ipc.c:", "forever");
        CHECK_OK(gpuexec_shutdown());
    } else
        CHECK_FAILED(gpuexec_shutdown(), GPUEXEC_PEER_GONE, "process that has exited",
                "ipc.c:", "gpuexec_ipc_wait");
}
TEST(streams_that_wait_for_an_ended_process) {
    pid_t child[6];
    int how;
    for (how = 0; how < 6; how++) child[how] = start_part("stuck", -1, "IPC_HOW", how);
    for (how = 0; how < 6; how++)
        if (!CHECK_EQ(end_of(child[how]), 0)) printf("IPC_HOW=%d\n", how);
}

/* IPC_HOW: 0 closes the connection, 1 exits without closing it, 2 aborts, 3 stops until it is
   killed. */
static void other_exits(void) {
    gpuexec_ipc c = gpuexec_ipc_from_fd(given_fd());
    CHECK_OK(gpuexec_ipc_send(c, "last words", 1, NULL, -1));
    switch (numbered("IPC_HOW")) {
    case 0:
        CHECK_OK(gpuexec_ipc_close(c));
        test_sleep_ms(20000); /* not order: it is killed */
        break;
    case 1: _exit(3);
    case 2: signal(SIGABRT, SIG_DFL); abort();
    default: raise(SIGSTOP);
    }
}
TEST(how_the_other_process_ended) {
    static const char *const texts[] = { "closed its end", "has exited with status 3",
        "signal 6 (SIGABRT)" };
    gpuexec_ipc_message m;
    char number[24];
    int how, fd, status;
    for (how = 0; how < 3; how++) {
        gpuexec_ipc c = gpuexec_ipc_pair(&fd);
        pid_t other = start_part("exits", fd, "IPC_HOW", how);
        if (how == 1) test_sleep_ms(300); /* not order: it can end before the first receive */
        CHECK_EQ(get(c, "last words").value, 1);
        snprintf(number, sizeof number, "process, %d,", (int)other);
        CHECK_FAILED(gpuexec_ipc_receive(c, &m, PATIENCE), GPUEXEC_PEER_GONE, number, texts[how]);
        CHECK_EQ(gpuexec_ipc_peer(c), other);
        CHECK_OK(gpuexec_ipc_close(c));
        kill(other, SIGKILL);
        waitpid(other, &status, 0);
    }
}
/* Another process has a copy of the socket, so that its end does not close it. */
TEST(an_end_without_the_end_of_the_socket) {
    gpuexec_ipc_message m;
    int fd, kept, status;
    gpuexec_ipc c;
    pid_t other;
    if (!knows_processes())
        SKIP("before Linux 6.5, only the end of the socket shows the end of the process");
    c = gpuexec_ipc_pair(&fd);
    kept = dup(fd);
    other = start_part("exits", fd, "IPC_HOW", 1);
    CHECK_EQ(get(c, "last words").value, 1);
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, PATIENCE), GPUEXEC_PEER_GONE, "status 3");
    CHECK_OK(gpuexec_ipc_close(c));
    close(kept);
    waitpid(other, &status, 0);
    c = gpuexec_ipc_pair(&fd);
    kept = dup(fd);
    other = start_part("exits", fd, "IPC_HOW", 1);
    CHECK_EQ(get(c, "last words").value, 1);
    waitpid(other, &status, 0); /* now the system no longer knows how */
    CHECK_FAILED(gpuexec_ipc_receive(c, &m, PATIENCE), GPUEXEC_PEER_GONE, "has ended");
    CHECK_OK(gpuexec_ipc_close(c));
    close(kept);
}
static void other_lines(void) {
    char name[64];
    gpuexec_ipc c;
    listening_name(name, sizeof name, (int)getppid());
    c = gpuexec_ipc_connect(name, PATIENCE);
    CHECK_MADE(c);
    CHECK_EQ(gpuexec_ipc_peer(c), getppid());
    CHECK_EQ(get(c, "number").value, 5);
    CHECK_OK(gpuexec_ipc_send(c, "number", 6, NULL, -1));
}
TEST(connections_by_name) {
    char name[64], file[] = "/tmp/gpuexec-ipc-XXXXXX";
    gpuexec_ipc c;
    pid_t other = start_part("lines", -1, NULL, 0);
    listening_name(name, sizeof name, (int)getpid());
    c = gpuexec_ipc_listen(name, PATIENCE);
    CHECK_MADE(c);
    CHECK_EQ(gpuexec_ipc_peer(c), other);
    CHECK_OK(gpuexec_ipc_send(c, "number", 5, NULL, -1));
    CHECK_EQ(get(c, "number").value, 6);
    CHECK_EQ(end_of(other), 0);
    CHECK_OK(gpuexec_ipc_close(c));
    CHECK_NOT_MADE(
            gpuexec_ipc_listen(name, 10), GPUEXEC_FILE_ERROR, "no process connected", "10 ms");
    CHECK_NOT_MADE(gpuexec_ipc_connect(name, 10), GPUEXEC_FILE_ERROR, "cannot connect",
            "gpuexec_ipc_listen");
    CHECK_NOT_MADE(gpuexec_ipc_listen("", 10), GPUEXEC_BAD_ARGUMENT,
            "1 to 107 bytes long, but this one is 0 bytes");
    CHECK_NOT_MADE(
            gpuexec_ipc_listen("/no/such/folder/name", 10), GPUEXEC_FILE_ERROR, "cannot listen");
    close(mkstemp(file));
    CHECK_NOT_MADE(
            gpuexec_ipc_listen(file, 10), GPUEXEC_FILE_ERROR, "cannot listen", "another name");
    unlink(file);
    CHECK_NOT_MADE(gpuexec_ipc_listen(file, 10), GPUEXEC_FILE_ERROR, "no process connected");
    CHECK(access(file, F_OK) != 0); /* it has removed its file */
}
TEST(messages) {
    setting s = set_up(UNIT_PTX, "add", BYTES);
    gpuexec_ipc_object o = exported(s.data), bad;
    gpuexec_ipc_message m;
    gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
    gpuexec_ipc a, b;
    gpuexec_result result;
    unsigned sent = 0, i;
    char label[65];
    int fd = -1, pipes[2];
    a = gpuexec_ipc_pair(&fd);
    b = gpuexec_ipc_from_fd(fd); /* both ends in one process */
    CHECK_MADE(b);
    CHECK_RESULT(gpuexec_ipc_receive(b, &m, 0), GPUEXEC_NOT_READY);
    CHECK_RESULT(gpuexec_ipc_receive(b, &m, 20), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_ipc_send(a, NULL, 1ull << 63, &o, -1));
    CHECK_OK(gpuexec_ipc_receive(b, &m, 0));
    CHECK(m.kind == GPUEXEC_IPC_MEMORY && m.value == 1ull << 63 && m.fd == -1 && !*m.label);
    CHECK(!memcmp(&m.object, &o, sizeof o));
    memset(label, 'x', sizeof label);
    label[64] = 0;
    CHECK_FAILED(gpuexec_ipc_send(a, label, 0, NULL, -1), GPUEXEC_BAD_ARGUMENT, "64 bytes", "63");
    memset(&bad, 1, sizeof bad);
    CHECK_FAILED(
            gpuexec_ipc_send(a, "", 0, &bad, -1), GPUEXEC_BAD_ARGUMENT, "not a gpuexec object");
    CHECK_FAILED(gpuexec_ipc_receive(a, NULL, 0), GPUEXEC_BAD_ARGUMENT, "\"message\" is NULL");
    CHECK_FAILED(gpuexec_ipc_send_pool(a, "", 0, gpuexec_context_pool(s.ctx), -1),
            GPUEXEC_BAD_ARGUMENT, "exportable");
    while ((result = gpuexec_ipc_send(a, "", sent, NULL, 0)) == GPUEXEC_OK && sent < 100000) sent++;
    CHECK_RESULT(result, GPUEXEC_NOT_READY); /* the other end has not received them */
    CHECK_RESULT(gpuexec_ipc_send(a, "", sent, NULL, 20), GPUEXEC_NOT_READY);
    for (i = 0; i < sent; i++) {
        CHECK_OK(gpuexec_ipc_receive(b, &m, 0));
        CHECK_EQ(m.value, i);
    }
    CHECK_RESULT(gpuexec_ipc_receive(b, &m, 0), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_ipc_send(a, "", 0, NULL, 0));
    CHECK_OK(gpuexec_ipc_wait(a, e, 0)); /* never recorded */
    s.gate = gate_make(s.ctx, s.mod);
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_event_record(e, s.stream));
    CHECK_RESULT(gpuexec_ipc_wait(a, e, 20), GPUEXEC_NOT_READY);
    CHECK_OK(gpuexec_ipc_close(b));
    CHECK_FAILED(gpuexec_ipc_wait(a, e, PATIENCE), GPUEXEC_PEER_GONE, "closed its end");
    gate_open(s.gate);
    CHECK_FAILED(
            gpuexec_ipc_send(b, "", 0, NULL, -1), GPUEXEC_STALE_HANDLE, "the connection is stale");
    CHECK_OK(gpuexec_ipc_close(a));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    if (pipe(pipes)) abort();
    CHECK_NOT_MADE(
            gpuexec_ipc_from_fd(pipes[0]), GPUEXEC_BAD_ARGUMENT, "not a SOCK_SEQPACKET socket");
    CHECK_EQ(close(pipes[0]) + close(pipes[1]), 0); /* still the caller's */
    CHECK_NOT_MADE(gpuexec_ipc_pair(NULL), GPUEXEC_BAD_ARGUMENT, "\"child_fd\" is NULL");
}

/* ---- pools ---- */

static void other_pool(void) {
    gpuexec_ipc c = gpuexec_ipc_from_fd(given_fd());
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_pool_desc desc;
    gpuexec_ipc_object o;
    gpuexec_pool pool;
    uint32_t word = 0;
    memset(&desc, 0, sizeof desc);
    desc.exportable = 1;
    pool = gpuexec_pool_create(s.ctx, &desc);
    s.data = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK_OK(gpuexec_fill(s.stream, s.data, 9, 4, WORDS));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_ipc_send_pool(c, "pool", 1, pool, -1));
    o = exported(s.data);
    CHECK_OK(gpuexec_ipc_send(c, "memory", BYTES, &o, -1));
    get(c, "freed");
    CHECK_OK(gpuexec_copy_out(s.stream, &word, s.data, 4));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_EQ(word, 11);
    CHECK_OK(gpuexec_free_on(s.stream, s.data));
}
/* Its address has been freed and allocated again; the stream has done neither yet. */
TEST(an_allocation_that_waits_for_its_stream_is_exported) {
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_pool_desc desc;
    gpuexec_pool pool;
    gpuexec_ptr p;
    int fd;
    memset(&desc, 0, sizeof desc);
    desc.exportable = 1;
    pool = gpuexec_pool_create(s.ctx, &desc);
    p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    CHECK((fd = gpuexec_ipc_export_pool(pool)) >= 0 && close(fd) == 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    s.gate = gate_make(s.ctx, s.mod);
    gate_close(s.gate, s.stream);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    p = gpuexec_pool_alloc(pool, s.stream, BYTES);
    exported(p);
    gate_open(s.gate);
    CHECK_OK(gpuexec_free_on(s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_destroy(pool));
}
/* A program that was started without standard input: the next descriptor is 0. */
TEST_ALONE(memory_is_exported_without_standard_input) {
    setting s;
    close(0);
    s = set_up(UNIT_PTX, "add", BYTES);
    exported(s.data);
}
TEST(a_pool_of_another_process) {
    int fd;
    gpuexec_ipc c = gpuexec_ipc_pair(&fd);
    pid_t other = start_part("pool", fd, NULL, 0);
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_ipc_message m = get(c, "pool");
    gpuexec_pool pool;
    CHECK(m.kind == GPUEXEC_IPC_POOL && m.fd >= 0);
    pool = gpuexec_ipc_import_pool(s.ctx, m.fd);
    CHECK_MADE(pool);
    close(m.fd);
    m = get(c, "memory");
    CHECK_EQ(m.kind, GPUEXEC_IPC_POOL_MEMORY);
    REFUSED_IMPORT(gpuexec_ipc_import(s.ctx, &m.object), "is memory from a pool",
            "gpuexec_ipc_import_from");
    s.data = gpuexec_ipc_import_from(pool, &m.object);
    CHECK(s.data != 0);
    /* the driver would return the same address, and the first free would end both */
    REFUSED_IMPORT(
            gpuexec_ipc_import_from(pool, &m.object), "has imported the memory already", "ipc.c:");
    CHECK(gpuexec_pool_alloc(pool, s.stream, 64) == 0); /* only its process allocates */
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
    add(&s, s.stream, s.data, 2);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_free(s.data));
    CHECK_OK(gpuexec_ipc_send(c, "freed", 0, NULL, -1));
    CHECK_EQ(end_of(other), 0);
    CHECK_OK(gpuexec_pool_destroy(pool));
    CHECK_NOT_MADE(
            gpuexec_ipc_import_pool(s.ctx, 0), gpuexec_error_detail()->result, "file descriptor 0");
    CHECK_OK(gpuexec_ipc_close(c));
}
