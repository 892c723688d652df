/* label.c - labels of objects and memory: where texts show them, how long they stay, what they
   cost. */
#include "../../test.h"

static char leaks[8000];
static void note_leaks(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) strncat(leaks, text, sizeof leaks - strlen(leaks) - 1);
}

/* One object of each kind, with how texts name it and its label. */
typedef struct labelled {
    uint64_t id;
    const char *described, *leaked; /* leaked: NULL if it is not reported as a leak */
    char label[16];
} labelled;
enum { MOST_LABELLED = 20 };
typedef struct labelled_list {
    labelled of[MOST_LABELLED];
    unsigned n;
    int end; /* of the connection */
} labelled_list;
static void add_labelled(
        labelled_list *list, uint64_t id, const char *described, const char *leaked) {
    labelled *const l = &list->of[list->n++];
    l->id = id;
    l->described = described;
    l->leaked = leaked;
    snprintf(l->label, sizeof l->label, "label %u", list->n);
    CHECK(gpuexec_id_ok(id));
    CHECK_OK(gpuexec_label_at("label.c:1", id, l->label));
}
static void make_labelled(labelled_list *list) {
    gpuexec_virtual_desc growing = { 0 };
    gpuexec_context ctx = gpuexec_context_open_at("made.c:1", 0, NULL);
    gpuexec_module mod = gpuexec_module_load_file_at("made.c:1", ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get_at("made.c:1", mod, "nothing");
    gpuexec_stream stream = gpuexec_stream_create_at("made.c:1", ctx, NULL);
    memset(list, 0, sizeof *list);
    list->end = -1;
    growing.max_bytes = 1 << 22;
#define LABELLED(handle, described, leaked) add_labelled(list, (handle).id, described, leaked)
    LABELLED(ctx, "context", "a context");
    LABELLED(mod, "module", "a module");
    LABELLED(fn, "kernel \"nothing\"", NULL);
    LABELLED(stream, "stream", "a stream");
    LABELLED(gpuexec_event_create_at("made.c:1", ctx, NULL), "event", "an event");
    LABELLED(gpuexec_linker_create_at("made.c:1", ctx, NULL), "linker", "a linker");
    LABELLED(gpuexec_params_create_at("made.c:1"), "parameter block", "a parameter block");
    LABELLED(gpuexec_prepare_at("made.c:1", fn, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            "prepared launch", "a prepared launch");
    LABELLED(gpuexec_graph_create_at("made.c:1", ctx), "graph", "a graph");
    LABELLED(gpuexec_batch_create_at("made.c:1", ctx, NULL), "batch", "a batch");
    LABELLED(gpuexec_barrier_create_at("made.c:1", &ctx, 1, NULL), "barrier", "a barrier");
    LABELLED(gpuexec_pool_create_at("made.c:1", ctx, NULL), "pool", "a pool");
    LABELLED(gpuexec_ipc_pair_at("made.c:1", &list->end), "connection", "a connection");
    LABELLED(gpuexec_library_load_file_at("made.c:1", UNIT_PTX, NULL), "library", "a library");
    LABELLED(gpuexec_virtual_create_at("made.c:1", ctx, &growing), "virtual range",
            "a virtual range");
    LABELLED(gpuexec_stream_legacy_at("made.c:1", ctx), "legacy default stream", NULL);
    LABELLED(gpuexec_context_stream_at("made.c:1", ctx), "the context's own stream", NULL);
}
TEST(each_kind_of_object) {
    gpuexec_setup_desc desc = { 0 };
    labelled_list list;
    char text[200];
    unsigned i;
    desc.report_leaks = 1;
    desc.log = note_leaks;
    CHECK_OK(gpuexec_setup(&desc));
    make_labelled(&list);
    for (i = 0; i < list.n; i++) {
        const labelled *const l = &list.of[i];
        snprintf(text, sizeof text, "%s \"%s\" ", l->described, l->label);
        CHECK_TEXT(gpuexec_id_describe(l->id), text, " at made.c:1");
        CHECK_STRING(gpuexec_id_get_label(l->id), l->label);
    }
    leaks[0] = 0;
    gpuexec_shutdown();
    for (i = 0; i < list.n; i++) {
        const labelled *const l = &list.of[i];
        snprintf(text, sizeof text, "gpuexec: leak: %s \"%s\", created at made.c:1\n",
                l->leaked ? l->leaked : "", l->label);
        if (l->leaked) CHECK_TEXT(leaks, text);
        CHECK_STRING(gpuexec_id_get_label(l->id), "");
    }
    if (list.end >= 0) close(list.end);
}
/* A stale handle keeps its label as long as its place, also after its slot was used again. */
TEST(each_kind_of_stale_handle) {
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_event used[32];
    labelled_list list;
    char text[200];
    unsigned i, k, turn;
    make_labelled(&list);
    for (i = list.n; i-- > 0;) {
        const uint64_t id = list.of[i].id;
        const unsigned kind = (unsigned)id & 0x3F;
        if (kind == ((unsigned)s.ctx.id & 0x3F)) continue;
        /* what its context does not close */
        if (strstr(list.of[i].described, "parameter"))
            CHECK_OK(gpuexec_params_destroy((gpuexec_params){ id }));
        if (strstr(list.of[i].described, "connection"))
            CHECK_OK(gpuexec_ipc_close((gpuexec_ipc){ id }));
        if (strstr(list.of[i].described, "library"))
            CHECK_OK(gpuexec_library_unload((gpuexec_library){ id }));
    }
    CHECK_OK(gpuexec_barrier_destroy((gpuexec_barrier){ list.of[10].id }));
    CHECK_OK(gpuexec_context_close((gpuexec_context){ list.of[0].id }));
    for (turn = 0; turn < 2; turn++) {
        for (i = 0; i < list.n; i++) {
            const labelled *const l = &list.of[i];
            CHECK(!gpuexec_id_ok(l->id));
            snprintf(text, sizeof text, " \"%s\" is stale: it was ", l->label);
            CHECK_TEXT(gpuexec_id_why(l->id), text, "; it was created at made.c:1");
            snprintf(text, sizeof text, " \"%s\", stale: it was ", l->label);
            CHECK_TEXT(gpuexec_id_describe(l->id), text);
            CHECK_STRING(gpuexec_id_get_label(l->id), l->label);
            CHECK_FAILED(gpuexec_label_at("label.c:2", l->id, "too late"), GPUEXEC_STALE_HANDLE,
                    "label.c:2: gpuexec_label: ", l->label, " is stale");
        }
        /* in the slots of these; objects without labels push no label out */
        for (k = 0; k < 4; k++) {
            for (i = 0; i < 32; i++) used[i] = gpuexec_event_create(s.ctx, NULL);
            for (i = 0; i < 32; i++) CHECK_OK(gpuexec_event_destroy(used[i]));
        }
    }
    if (list.end >= 0) close(list.end);
}

TEST(labels_change_and_go) {
    setting s = set_up(UNIT_PTX, "add", 0);
    CHECK_STRING(gpuexec_get_label(s.stream), "");
    CHECK(!strchr(gpuexec_describe(s.stream), '"'));
    CHECK_OK(gpuexec_label(s.stream, "first"));
    CHECK_TEXT(gpuexec_describe(s.stream), "stream \"first\" created at ");
    CHECK_OK(gpuexec_label(s.stream, "second"));
    CHECK_STRING(gpuexec_get_label(s.stream), "second");
    CHECK(!strstr(gpuexec_describe(s.stream), "first"));
    CHECK_OK(gpuexec_label(s.stream, ""));
    CHECK_STRING(gpuexec_get_label(s.stream), "");
    CHECK_TEXT(gpuexec_describe(s.stream), "stream created at ");
    CHECK_OK(gpuexec_label(s.stream, "third"));
    CHECK_OK(gpuexec_label(s.stream, NULL));
    CHECK_OK(gpuexec_label(s.stream, NULL));
    CHECK_STRING(gpuexec_get_label(s.stream), "");
    /* a label that was removed is not that of the stale handle */
    CHECK_OK(gpuexec_stream_destroy(s.stream));
    CHECK_TEXT(gpuexec_why(s.stream), "the stream is stale: it was destroyed");
}
/* The texts of labels: at most 63 bytes, whole characters, no line ends. */
TEST(texts_of_labels) {
    setting s = set_up(UNIT_PTX, "add", 0);
    char longer[101];
    memset(longer, 'x', 100);
    longer[100] = 0;
    CHECK_OK(gpuexec_label(s.stream, longer));
    CHECK_EQ(strlen(gpuexec_get_label(s.stream)), 63);
    CHECK(strncmp(gpuexec_get_label(s.stream), longer, 63) == 0);
    CHECK_TEXT(gpuexec_describe(s.stream), "xxx\" created at ");
    longer[63] = 0;
    CHECK_OK(gpuexec_label(s.stream, longer));
    CHECK_STRING(gpuexec_get_label(s.stream), longer);
    memcpy(longer + 62, "\xC3\xA4xyz", 6); /* U+00E4 */
    CHECK_OK(gpuexec_label(s.stream, longer));
    CHECK_EQ(strlen(gpuexec_get_label(s.stream)), 62);
    memcpy(longer + 60, "\xF0\x9F\x98\x80xyz", 8); /* U+1F600 */
    CHECK_OK(gpuexec_label(s.stream, longer));
    CHECK_EQ(strlen(gpuexec_get_label(s.stream)), 60);
    memcpy(longer + 59, "\xF0\x9F\x98\x80xyz", 8);
    CHECK_OK(gpuexec_label(s.stream, longer));
    CHECK_EQ(strlen(gpuexec_get_label(s.stream)), 63);
    memset(longer, 0x80, 100); /* not UTF-8 */
    longer[100] = 0;
    CHECK_OK(gpuexec_label(s.stream, longer));
    CHECK(strlen(gpuexec_get_label(s.stream)) >= 60);
    CHECK_OK(gpuexec_label(s.stream,
            "a\nb\tc\x7F"
            "d"));
    CHECK_STRING(gpuexec_get_label(s.stream), "a b c d");
    CHECK_OK(gpuexec_label(s.stream, "\xE2\x9C\x93 \"%s%n\""));
    CHECK_TEXT(gpuexec_describe(s.stream), "stream \"\xE2\x9C\x93 \"%s%n\"\" created at ");
}
TEST(wrong_handles_and_addresses) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_stream failed = gpuexec_stream_create((gpuexec_context){ 0 }, NULL), none = { 0 };
    gpuexec_take_error();
    CHECK_FAILED(gpuexec_label(none, "x"), GPUEXEC_BAD_HANDLE,
            "gpuexec_label: ", "was never created: the handle is {0}");
    CHECK_FAILED(gpuexec_label(failed, "x"), GPUEXEC_BAD_HANDLE, "did not create the stream");
    CHECK_FAILED(gpuexec_label(GPUEXEC_CURRENT, "x"), GPUEXEC_BAD_HANDLE, "GPUEXEC_CURRENT",
            "which gpuexec_label does not accept");
    CHECK_FAILED(gpuexec_label_at("a.c:1", 0x1234567890, "x"), GPUEXEC_BAD_HANDLE,
            "a.c:1: gpuexec_label: ");
    CHECK_STRING(gpuexec_get_label(none), "");
    CHECK_STRING(gpuexec_get_label(failed), "");
    CHECK_FAILED(gpuexec_label_memory(0, "x"), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_label_memory: ", "0x0 is in no memory that gpuexec has allocated");
    CHECK_FAILED(gpuexec_label_memory(s.data + 4096, "x"), GPUEXEC_BAD_ARGUMENT,
            "is in no memory that gpuexec has allocated, registered or imported");
    CHECK_OK(gpuexec_label_memory(s.data, "weights"));
    CHECK_OK(gpuexec_free(s.data));
    CHECK_FAILED(gpuexec_label_memory(s.data + 4, "x"), GPUEXEC_BAD_ARGUMENT,
            "; it is part of freed memory: 4096 bytes of device memory \"weights\" at 0x");
    CHECK_STRING(gpuexec_memory_get_label(s.data), "");
    /* nothing was latched */
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

/* --- memory ----------------------------------------------------------------------------------- */

TEST(each_kind_of_memory) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_virtual_desc growing = { 0 };
    gpuexec_ptr memory[6];
    char name[32], text[100];
    static char mine[4096];
    gpuexec_virtual range;
    setting s;
    unsigned i;
    desc.report_leaks = 1;
    desc.log = note_leaks;
    CHECK_OK(gpuexec_setup(&desc));
    s = set_up(UNIT_PTX, "add", 0);
    growing.bytes = growing.max_bytes = 1 << 21;
    range = gpuexec_virtual_create(s.ctx, &growing);
    CHECK_MADE(range);
    memory[0] = gpuexec_alloc(s.ctx, 4096);
    memory[1] = (uintptr_t)gpuexec_alloc_pinned(s.ctx, 4096);
    CHECK_OK(gpuexec_register(s.ctx, mine, sizeof mine));
    memory[2] = (uintptr_t)mine;
    memory[3] = gpuexec_alloc_managed(s.ctx, 4096, NULL);
    memory[4] = gpuexec_alloc_on(s.stream, 4096);
    memory[5] = gpuexec_virtual_address(range);
    for (i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "memory %u", i);
        CHECK_STRING(gpuexec_memory_get_label(memory[i]), "");
        CHECK_OK(gpuexec_label_memory(memory[i] + 5, name));
    }
    for (i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "memory %u", i);
        CHECK_STRING(gpuexec_memory_get_label(memory[i]), name);
        CHECK_STRING(gpuexec_memory_get_label(memory[i] + 4095), name);
    }
    CHECK_STRING(gpuexec_get_label(range), "memory 5");
    CHECK_TEXT(gpuexec_describe(range), "virtual range \"memory 5\" created at ");
    leaks[0] = 0;
    gpuexec_shutdown();
    for (i = 0; i < 5; i++) {
        snprintf(text, sizeof text, " memory \"memory %u\" at 0x", i);
        CHECK_TEXT(leaks, text);
    }
    CHECK_TEXT(leaks, "a virtual range \"memory 5\", created at ");
}
TEST(texts_name_memory) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    char host[8192] = { 0 };
    void *pinned = gpuexec_alloc_pinned(s.ctx, 4096);
    CHECK_OK(gpuexec_label_memory(s.data, "weights"));
    CHECK_REFUSED(gpuexec_copy_in(s.stream, s.data + 96, host, sizeof host), GPUEXEC_BAD_ARGUMENT,
            "to the end of its allocation \"weights\" (4096 bytes of device memory, allocated at ");
    CHECK_FAILED(gpuexec_free(s.data + 8), GPUEXEC_BAD_ARGUMENT,
            "the 4096 bytes of device memory \"weights\" at 0x");
    CHECK_OK(gpuexec_label_memory((uintptr_t)pinned, "staging"));
    CHECK_FAILED(gpuexec_free((uintptr_t)pinned), GPUEXEC_BAD_ARGUMENT,
            "is pinned memory \"staging\" (allocated at ");
    CHECK_OK(gpuexec_free(s.data));
    CHECK_FAILED(gpuexec_free(s.data), GPUEXEC_BAD_ARGUMENT,
            "it was part of 4096 bytes of device "
            "memory \"weights\" at 0x");
    CHECK_REFUSED(gpuexec_copy_in(s.stream, s.data, host, 16), GPUEXEC_BAD_ARGUMENT,
            "4096 bytes of device memory \"weights\" at 0x", "freed at ");
}
/* Memory of a pool that is freed and allocated again by the same line, at the same address, is a
   new allocation: no path that is faster without a label keeps an old one. */
static gpuexec_ptr alloc_here(gpuexec_stream s) { return gpuexec_alloc_on(s, 4096); }
TEST(memory_of_pools_that_is_used_again) {
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_ptr first, again;
    int i, same = 0;
    for (i = 0; i < 20; i++) {
        first = alloc_here(s.stream);
        CHECK_STRING(gpuexec_memory_get_label(first), "");
        if (i % 3) CHECK_OK(gpuexec_label_memory(first, "tensor"));
        if (i % 3 == 2) CHECK_OK(gpuexec_label_memory(first, "other"));
        CHECK_STRING(gpuexec_memory_get_label(first),
                i % 3 == 0           ? ""
                        : i % 3 == 1 ? "tensor"
                                     : "other");
        CHECK_OK(gpuexec_free_on(s.stream, first));
        CHECK_FAILED(gpuexec_free(first), GPUEXEC_BAD_ARGUMENT,
                i % 3 == 0           ? "of device memory at 0x"
                        : i % 3 == 1 ? "of device memory \"tensor\" at 0x"
                                     : "of device memory \"other\" at 0x");
        again = alloc_here(s.stream);
        same += first == again;
        CHECK_STRING(gpuexec_memory_get_label(again), "");
        CHECK_OK(gpuexec_free_on(s.stream, again));
    }
    CHECK(same > 0);
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
TEST(memory_of_pools_that_cache) {
    gpuexec_pool_desc desc = { 0 };
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_pool pool;
    gpuexec_ptr p;
    int i;
    desc.cache_bytes = 1 << 20;
    pool = gpuexec_pool_create(s.ctx, &desc);
    for (i = 0; i < 10; i++) {
        p = gpuexec_pool_alloc(pool, s.stream, 4096);
        CHECK_STRING(gpuexec_memory_get_label(p), "");
        CHECK_OK(gpuexec_label_memory(p, "cached"));
        CHECK_STRING(gpuexec_memory_get_label(p + 1), "cached");
        CHECK_OK(gpuexec_free_on(s.stream, p));
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_pool_destroy(pool));
}

/* The driver refuses to free it: it stays allocated, and keeps its label. */
TEST(memory_that_is_not_freed) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_graph graph = { 0 };
    CHECK_OK(gpuexec_label_memory(s.data, "kept"));
    GPUEXEC_CAPTURE(s.stream, &graph) {
        CHECK_FAILED(gpuexec_free_on(s.stream, s.data), GPUEXEC_BAD_ARGUMENT, "cannot free 0x",
                " \"kept\" on the stream");
    }
    CHECK_STRING(gpuexec_memory_get_label(s.data), "kept");
    CHECK_OK(gpuexec_free_on(s.stream, s.data));
    CHECK_STRING(gpuexec_memory_get_label(s.data), "");
    CHECK_OK(gpuexec_stream_sync(s.stream));
}
TEST(memory_of_a_graph) {
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_graph graph = { 0 };
    gpuexec_ptr p = 0;
    int i;
    GPUEXEC_CAPTURE(s.stream, &graph) {
        p = gpuexec_alloc_on(s.stream, 4096);
        CHECK_OK(gpuexec_label_memory(p, "scratch"));
        CHECK_OK(gpuexec_fill(s.stream, p, 0, 1, 4096));
    }
    CHECK_MADE(graph);
    for (i = 0; i < 2; i++) { /* each launch allocates it again, with its label */
        CHECK_OK(gpuexec_graph_launch(graph, s.stream));
        CHECK_STRING(gpuexec_memory_get_label(p), "scratch");
        CHECK_FAILED(
                gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, " \"scratch\" was allocated in a capture");
        CHECK_OK(gpuexec_free_on(s.stream, p));
    }
    CHECK_OK(gpuexec_stream_sync(s.stream));
    CHECK_OK(gpuexec_graph_destroy(graph));
    CHECK_STRING(gpuexec_memory_get_label(p), "");
}

/* --- texts ------------------------------------------------------------------------------------ */

TEST(texts_name_objects) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_context other = gpuexec_context_create(0, NULL);
    gpuexec_stream foreign = gpuexec_stream_create(other, NULL);
    gpuexec_graph graph = gpuexec_graph_create(s.ctx);
    gpuexec_batch batch = gpuexec_batch_create(s.ctx, NULL);
    gpuexec_node node = { { 0 }, 7 };
    char text[4096];
    uint32_t by = 1, n = 4;
    CHECK_OK(gpuexec_label(s.ctx, "main"));
    CHECK_OK(gpuexec_label(other, "side"));
    CHECK_OK(gpuexec_label(foreign, "upload"));
    CHECK_OK(gpuexec_label(graph, "step"));
    CHECK_OK(gpuexec_label(batch, "many"));
    CHECK_REFUSED(
            gpuexec_launch(s.kernel, foreign, gpuexec_grid(1, 4, 0), GPUEXEC_ARGS(s.data, by, n)),
            GPUEXEC_WRONG_CONTEXT, "in the context \"main\" opened at ",
            "\"upload\" is on device 0", "in the context \"side\" opened at ");
    CHECK_REFUSED(gpuexec_event_record((gpuexec_event){ foreign.id }, s.stream), GPUEXEC_WRONG_KIND,
            "is a stream \"upload\", but an event is required");
    /* what enqueues work names its stream */
    CHECK_OK(gpuexec_label(s.stream, "compute"));
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 4096, 0),
                          GPUEXEC_ARGS(s.data, by, n)),
            GPUEXEC_BAD_LAUNCH, "block_x is 4096",
            "; the stream is \"compute\" (GPUEXEC_BAD_LAUNCH)");
    CHECK_REFUSED(gpuexec_fill(s.stream, s.data + 4096, 0, 1, 16), GPUEXEC_BAD_ARGUMENT,
            "; the stream is \"compute\"");
    CHECK_OK(gpuexec_label(s.stream, NULL));
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 4096, 0),
                          GPUEXEC_ARGS(s.data, by, n)),
            GPUEXEC_BAD_LAUNCH, "(kernel \"add\") (GPUEXEC_BAD_LAUNCH)");
    node.graph = graph;
    CHECK_REFUSED(gpuexec_node_set_argument(node, 0, &n, sizeof n), GPUEXEC_BAD_ARGUMENT,
            "there is no node 7: the graph \"step\" created at ");
    CHECK(gpuexec_graph_text(graph, text, sizeof text) > 0);
    CHECK_TEXT(text, "graph \"step\" created at ");
    CHECK_OK(gpuexec_label_memory(s.data, "sums"));
    CHECK_OK(gpuexec_label(s.kernel, "adder"));
    gpuexec_graph_add_kernel(
            graph, s.kernel, gpuexec_grid(1, 4, 0), GPUEXEC_ARGS(s.data, by, n), GPUEXEC_FIRST);
    gpuexec_graph_add_copy(graph, LINE(ON_DEVICE(s.data, 0), OF_VALUE(1, 1), 64), GPUEXEC_FIRST);
    gpuexec_graph_add_copy(
            graph, LINE(ON_HOST(text, 0), ON_DEVICE(s.data + 8, 0), 64), GPUEXEC_FIRST);
    CHECK(gpuexec_graph_text(graph, text, sizeof text) > 0);
    CHECK_TEXT(text, "kernel \"add\" \"adder\", grid ", "fill of 64 bytes at address 0x",
            " \"sums\" with 0x1", " \"sums\" to host 0x");
    CHECK(gpuexec_graph_dot(graph, text, sizeof text) > 0);
    CHECK_TEXT(text, "kernel 'add' 'adder', grid ");
    CHECK_REFUSED(gpuexec_batch_set(batch, 3, 0, &n, sizeof n), GPUEXEC_BAD_ARGUMENT,
            "there is no launch 3: the batch \"many\" created at ");
    CHECK_OK(gpuexec_capture_begin(foreign, NULL));
    CHECK_RESULT(gpuexec_stream_sync(foreign), GPUEXEC_CAPTURING);
    CHECK_TEXT(gpuexec_error_text(), "the stream \"upload\" is capturing");
    CHECK_RESULT(gpuexec_context_sync(other), GPUEXEC_CAPTURING);
    CHECK_TEXT(gpuexec_error_text(), "its stream \"upload\" created at ");
    gpuexec_take_error();
    graph = gpuexec_capture_end(foreign);
    CHECK_OK(gpuexec_context_push(s.ctx));
    CHECK(gpuexec_context_stack_text(text, sizeof text) > 0);
    CHECK_TEXT(text, " \"main\" on device 0");
    CHECK_OK(gpuexec_context_pop(s.ctx));
    CHECK_OK(gpuexec_context_close(other));
    CHECK_REFUSED(gpuexec_fill(foreign, s.data, 0, 1, 16), GPUEXEC_STALE_HANDLE,
            "the stream \"upload\" is stale: it was destroyed by gpuexec_context_close at ");
}
static void launch_a_fault(void) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel faulty = gpuexec_kernel_get(
            gpuexec_module_load_file(s.ctx, FAULTS_PTX, NULL), "illegal_address");
    gpuexec_ptr freed = gpuexec_alloc(s.ctx, 4096);
    CHECK_OK(gpuexec_label(s.stream, "compute"));
    CHECK_OK(gpuexec_label(faulty, "culprit"));
    CHECK_OK(gpuexec_label_memory(s.data, "activations"));
    CHECK_OK(gpuexec_label_memory(freed, "gradients"));
    CHECK_OK(gpuexec_free(freed));
    CHECK_OK(gpuexec_launch(faulty, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "last launch on each stream: kernel \"illegal_address\" \"culprit\" at ",
            " on device 0 on the stream \"compute\"",
            "most recent allocations still in use: 4096 bytes of device memory \"activations\" at ",
            "last freed: 4096 bytes of device memory \"gradients\" at ",
            "while waiting for the stream \"compute\"");
}
TEST_ALONE(an_asynchronous_error_names_labels) { CHECK(run_child(launch_a_fault)); }

/* --- how many, and from threads ----------------------------------------------------------------
 */

/* What comes and goes leaves nothing behind: the memory for labels does not grow. */
TEST(many_labels_leave_nothing) {
    enum { ALIVE = 1000, TURNS = 20 };
    gpuexec_setup_desc desc = { 0 };
    static gpuexec_params made[ALIVE];
    char label[32];
    int turn, i, after_one = 0;
    desc.realloc_function = test_realloc;
    CHECK_OK(gpuexec_setup(&desc));
    for (turn = 0; turn < TURNS; turn++) {
        for (i = 0; i < ALIVE; i++) {
            made[i] = gpuexec_params_create();
            snprintf(label, sizeof label, "block %d of %d", i, turn);
            CHECK_OK(gpuexec_label(made[i], label));
        }
        for (i = 0; i < ALIVE; i += 97) {
            snprintf(label, sizeof label, "block %d of %d", i, turn);
            CHECK_STRING(gpuexec_get_label(made[i]), label);
        }
        for (i = 0; i < ALIVE; i++) CHECK_OK(gpuexec_params_destroy(made[i]));
        if (!turn) after_one = test_blocks;
    }
    CHECK_EQ(test_blocks, after_one);
    CHECK_TEXT(gpuexec_why(made[ALIVE - 1]), "\"block 999 of 19\" is stale");
    gpuexec_shutdown();
    CHECK_EQ(test_blocks, 0);
}
static gpuexec_result label_things(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 64);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr q = p ? gpuexec_alloc_on(s, 64) : 0;
    gpuexec_result r = q ? gpuexec_label(s, "a stream") : gpuexec_error_detail()->result;
    if (r) return r;
    r = gpuexec_label_memory(p, "some memory");
    if (!r) r = gpuexec_label_memory(q, "a block");
    if (r) {
        CHECK_RESULT(r, GPUEXEC_OUT_OF_HOST_MEMORY);
        CHECK_STRING(gpuexec_memory_get_label(q), "");
    }
    return r;
}
TEST(labels_without_memory) { test_running_dry(label_things, 200); }

typedef struct reader {
    gpuexec_stream stream;
    gpuexec_ptr memory;
    int stop, begun;
} reader;
static void *read_labels(void *user) {
    reader *const r = (reader *)user;
    int turns = 0;
    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE) || turns < 10) {
        const char *const label = gpuexec_get_label(r->stream);
        CHECK(!*label || strcmp(label, "one") == 0 || strcmp(label, "another") == 0);
        CHECK_TEXT(gpuexec_describe(r->stream), "stream");
        CHECK_FAILED(gpuexec_free(r->memory + 1), GPUEXEC_BAD_ARGUMENT, "after the beginning of");
        if (!turns++) __atomic_add_fetch(&r->begun, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
TEST(labels_set_while_threads_read_them) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    reader r = { s.stream, s.data, 0, 0 };
    pthread_t threads[3];
    int i;
    for (i = 0; i < 3; i++) CHECK_EQ(pthread_create(&threads[i], NULL, read_labels, &r), 0);
    TEST_UNTIL(__atomic_load_n(&r.begun, __ATOMIC_ACQUIRE) == 3);
    for (i = 0; i < 300; i++) {
        CHECK_OK(gpuexec_label(s.stream, i % 3 == 0 ? "one" : i % 3 == 1 ? "another" : NULL));
        CHECK_OK(gpuexec_label_memory(s.data, i % 2 ? "memory" : NULL));
        if (i % 10 == 0) { /* others come and go in the same table */
            gpuexec_event e = gpuexec_event_create(s.ctx, NULL);
            CHECK_OK(gpuexec_label(e, "short"));
            CHECK_OK(gpuexec_event_destroy(e));
        }
    }
    __atomic_store_n(&r.stop, 1, __ATOMIC_RELEASE);
    for (i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
/* Blocks that one thread labels, while another one frees and allocates its own without locks. */
static void *use_blocks(void *user) {
    const gpuexec_stream stream = *(const gpuexec_stream *)user;
    int i;
    for (i = 0; i < 300; i++) {
        const gpuexec_ptr p = gpuexec_alloc_on(stream, 512);
        if (i % 5 == 0) CHECK_OK(gpuexec_label_memory(p, "mine"));
        CHECK_STRING(gpuexec_memory_get_label(p), i % 5 ? "" : "mine");
        CHECK_OK(gpuexec_free_on(stream, p));
    }
    return NULL;
}
TEST(blocks_labelled_beside_others) {
    setting s = set_up(UNIT_PTX, "add", 0);
    gpuexec_stream streams[3];
    pthread_t threads[3];
    int i;
    for (i = 0; i < 3; i++) {
        streams[i] = gpuexec_stream_create(s.ctx, NULL);
        CHECK_EQ(pthread_create(&threads[i], NULL, use_blocks, &streams[i]), 0);
    }
    for (i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    CHECK_OK(gpuexec_context_sync(s.ctx));
}

static char traced[8000];
static void note_trace(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    (void)level;
    if (strlen(traced) + strlen(text) < sizeof traced) strcat(traced, text);
}
TEST(traces_of_driver_calls_show_labels) {
    gpuexec_setup_desc desc = { 0 };
    gpuexec_context ctx;
    gpuexec_module mod;
    gpuexec_kernel fn;
    gpuexec_stream stream;
    gpuexec_ptr p;
    traced[0] = 0;
    desc.log = note_trace;
    desc.trace = 1;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    fn = gpuexec_kernel_get(mod, "nothing");
    stream = gpuexec_stream_create_at("made.c:1", ctx, NULL);
    p = gpuexec_alloc_at("made.c:2", ctx, 64);
    CHECK_OK(gpuexec_label(stream, "upload"));
    CHECK_OK(gpuexec_label(fn, "warm-up"));
    CHECK_OK(gpuexec_label_memory(p, "weights"));
    CHECK_OK(gpuexec_fill(stream, p, 7, 1, 64));
    CHECK_OK(gpuexec_launch(fn, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_OK(gpuexec_label(stream, NULL));
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_TEXT(traced, " device memory \"weights\" made.c:2, 7, 64, 0x",
            " stream \"upload\" made.c:1) = ", " kernel \"nothing\" \"warm-up\", 1, 1, 1, ",
            " stream made.c:1) = ");
}
