/* What stays behind when objects come and go: each row of `kinds` creates and destroys one kind of
   object, again and again, on the CPU device. After a warm-up, gpuexec must not own more host
   memory, and the process not more memory, mappings and file descriptors; and the last tenth must
   not take longer than the first. Prints a line for each kind; exit code 1 if something grows.

   cycles [COUNT [NAMES...]]: COUNT cycles of each cheap kind, and of expensive ones a tenth, at
   most 10,000. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MODULES "../../support/unit.ptx"
enum {
    BYTES = 4096,
    SLICES = 50,
    FEWEST = 128, /* cycles of a warm-up, which are 1250 for cheap kinds: of some things, the last
                     64 or 1024 are kept */
    GROWTH = 2048,
    RESIDENT = 2 << 20
}; /* bytes that are no growth; resident: of what malloc does not count */
static gpuexec_context ctx, peer;
static gpuexec_module mod;
static gpuexec_kernel kernel, add;
static gpuexec_stream stream, other;
static gpuexec_event event;
static gpuexec_ptr data;
static gpuexec_library library;
static char *ptx, *memory;
static const char *doing = "starting";

static void need_at(int line, int ok) {
    if (ok) return;
    printf("%s: line %d failed: %s\n", doing, line, gpuexec_error_text());
    exit(1);
}
#define NEED(condition) need_at(__LINE__, (condition) ? 1 : 0)
#define NEED_OK(call) need_at(__LINE__, (call) == GPUEXEC_OK)
#define NEED_BAD(call) need_at(__LINE__, (call) != GPUEXEC_OK && gpuexec_take_error() != GPUEXEC_OK)

/* --- one cycle of each kind ------------------------------------------------------------------- */

static void events(void) {
    gpuexec_event e = gpuexec_event_create(ctx, NULL);
    NEED_OK(gpuexec_event_record(e, stream));
    NEED_OK(gpuexec_event_destroy(e));
}
static void records(void) { NEED_OK(gpuexec_event_destroy(gpuexec_stream_record(stream, NULL))); }
static void streams(void) { NEED_OK(gpuexec_stream_destroy(gpuexec_stream_create(ctx, NULL))); }
static void current_streams(void) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    NEED_OK(gpuexec_context_set_stream(ctx, s));
    NEED_OK(gpuexec_launch(kernel, GPUEXEC_CURRENT, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    NEED_OK(gpuexec_context_set_stream(ctx, (gpuexec_stream){ 0 }));
    NEED_OK(gpuexec_stream_wait_stream(stream, s));
    NEED_OK(gpuexec_stream_destroy(s));
    NEED_OK(gpuexec_stream_sync(stream));
}
static void launches(void) {
    NEED_OK(gpuexec_launch(kernel, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    NEED_OK(gpuexec_stream_sync(stream));
}
static void allocations(void) { NEED_OK(gpuexec_free(gpuexec_alloc(ctx, BYTES))); }
static void pitched(void) {
    size_t pitch;
    NEED_OK(gpuexec_free(gpuexec_alloc_pitched(ctx, 100, 3, 4, &pitch)));
}
static void pinned(void) { NEED_OK(gpuexec_free_pinned(gpuexec_alloc_pinned(ctx, BYTES))); }
static void registered(void) {
    NEED_OK(gpuexec_register(ctx, memory, BYTES));
    NEED_OK(gpuexec_unregister(memory));
}
static void managed(void) {
    gpuexec_ptr p = gpuexec_alloc_managed(ctx, BYTES, NULL);
    NEED_OK(gpuexec_managed_advise(p, BYTES, GPUEXEC_READ_MOSTLY, 0));
    NEED_OK(gpuexec_free(p));
}
static void pools(void) {
    gpuexec_pool pool = gpuexec_pool_create(ctx, NULL);
    NEED_OK(gpuexec_free_on(stream, gpuexec_pool_alloc(pool, stream, BYTES)));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_pool_destroy(pool));
}
static void virtual_ranges(void) {
    gpuexec_virtual_desc desc = { .max_bytes = 8 << 21, .bytes = 1, .exportable = 1 };
    gpuexec_virtual range = gpuexec_virtual_create(ctx, &desc), copy;
    gpuexec_ipc_object object;
    int fd = gpuexec_ipc_export_piece(range, 0, &object);
    NEED_OK(gpuexec_virtual_grow(range, 3 << 21));
    NEED_OK(gpuexec_virtual_shrink(range, 1 << 21));
    NEED_OK(gpuexec_virtual_grow(range, 4 << 21));
    NEED_BAD(gpuexec_virtual_grow(range, 9 << 21));
    memset(&desc, 0, sizeof desc);
    desc.max_bytes = 8 << 21;
    copy = gpuexec_virtual_create(ctx, &desc);
    NEED_OK(gpuexec_ipc_import_piece(copy, &object, fd));
    close(fd);
    NEED_OK(gpuexec_virtual_destroy(range));
    NEED_OK(gpuexec_virtual_destroy(copy));
}
static void caching_pool(void) {
    gpuexec_pool_desc desc = { .cache_bytes = 4 * BYTES };
    gpuexec_pool pool = gpuexec_pool_create(ctx, &desc);
    gpuexec_ptr p = gpuexec_pool_alloc(pool, stream, BYTES);
    NEED_OK(gpuexec_free_on(stream, gpuexec_pool_alloc(pool, stream, 3 * BYTES)));
    NEED_OK(gpuexec_free_on(stream, p));
    NEED_OK(gpuexec_free_on(stream, gpuexec_pool_alloc(pool, stream, 2 * BYTES)));
    NEED_OK(gpuexec_pool_destroy(pool));
    NEED_OK(gpuexec_stream_sync(stream)); /* so that no free is pending */
}
static void alloc_on(void) { /* many addresses: few of them are the last one again */
    static gpuexec_ptr held[64];
    static unsigned at;
    gpuexec_ptr *p = &held[at++ % 64];
    if (*p) NEED_OK(gpuexec_free_on(stream, *p));
    NEED(*p = gpuexec_alloc_on(stream, 512 + 512 * (at % 7)));
    NEED_OK(gpuexec_stream_sync(stream)); /* so that what was freed is there again */
}
static void freed_otherwise(void) { NEED_OK(gpuexec_free(gpuexec_alloc_on(stream, BYTES))); }
static void kernels(void) { NEED(gpuexec_ok(gpuexec_kernel_get(mod, "nothing"))); }
static void adopted(void) {
    gpuexec_stream s = gpuexec_stream_from_native(ctx, gpuexec_stream_native(other));
    gpuexec_event e = gpuexec_event_from_native(ctx, gpuexec_event_native(event));
    NEED_OK(gpuexec_event_destroy(e));
    NEED_OK(gpuexec_stream_destroy(s));
}
static void params(void) {
    gpuexec_params p = gpuexec_params_create();
    unsigned i, n = 0;
    for (i = 0; i < 20; i++) NEED_OK(gpuexec_params_add(p, GPUEXEC_UINT, &n));
    NEED_OK(gpuexec_params_clear(p));
    NEED_OK(gpuexec_params_destroy(p));
}
static void prepared(void) {
    unsigned by = 1, n = 1;
    gpuexec_prepared p = gpuexec_prepare(
            add, stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(data, by, n));
    NEED_OK(gpuexec_launch_prepared(p));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_prepared_destroy(p));
}
static void batches(void) {
    gpuexec_batch b = gpuexec_batch_create(ctx, NULL);
    unsigned by = 1, n = 1;
    NEED(gpuexec_batch_add(b, add, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(data, by, n)) == 0);
    NEED_OK(gpuexec_batch_launch(b, stream));
    NEED_OK(gpuexec_batch_set(b, 0, 1, &by, sizeof by));
    NEED_OK(gpuexec_batch_launch(b, stream));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_batch_destroy(b));
}
static void graphs(void) {
    gpuexec_graph g = gpuexec_graph_create(ctx);
    gpuexec_node a = gpuexec_graph_add_kernel(
            g, kernel, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS, GPUEXEC_FIRST);
    gpuexec_node b = gpuexec_graph_add_fill(g, data, 0, 4, 16, GPUEXEC_AFTER(a));
    NEED(gpuexec_ok(b.graph));
    NEED_OK(gpuexec_graph_launch(g, stream));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_graph_destroy(gpuexec_graph_clone(g)));
    NEED_OK(gpuexec_graph_destroy(g));
}
static void graph_memory(void) {
    gpuexec_graph g = gpuexec_graph_create(ctx);
    gpuexec_ptr p = 0;
    gpuexec_node a = gpuexec_graph_add_alloc(g, BYTES, &p, GPUEXEC_FIRST);
    NEED(gpuexec_ok(gpuexec_graph_add_free(g, p, GPUEXEC_AFTER(a)).graph));
    NEED_OK(gpuexec_graph_launch(g, stream));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_graph_destroy(g));
}
static void captures(void) {
    gpuexec_graph g;
    gpuexec_ptr p;
    NEED_OK(gpuexec_capture_begin(stream, NULL));
    p = gpuexec_alloc_on(stream, BYTES);
    NEED_OK(gpuexec_launch(kernel, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    NEED_OK(gpuexec_free_on(stream, p));
    NEED_OK(gpuexec_free(gpuexec_alloc(ctx, BYTES))); /* postponed */
    g = gpuexec_capture_end(stream);
    NEED_OK(gpuexec_graph_launch(g, stream));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_graph_destroy(g));
}
static void barriers(void) {
    gpuexec_context both[2];
    gpuexec_barrier b;
    both[0] = ctx;
    both[1] = peer;
    b = gpuexec_barrier_create(both, 2, NULL);
    NEED(gpuexec_barrier_address(b, 1));
    NEED_OK(gpuexec_barrier_destroy(b));
}
static void multi(void) { /* other streams each time: the launch is not one of those kept */
    gpuexec_device_launch l;
    memset(&l, 0, sizeof l);
    l.kernel = kernel;
    l.stream = gpuexec_stream_create(ctx, NULL);
    l.dims = gpuexec_grid(1, 1, 0);
    NEED_OK(gpuexec_launch_multi_device(&l, 1, NULL));
    NEED_OK(gpuexec_stream_sync(l.stream));
    NEED_OK(gpuexec_stream_destroy(l.stream));
}
static void copy_many(void) {
    gpuexec_copy_part parts[5];
    int i;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 5; i++) {
        parts[i].to = data + 64 * (unsigned)i;
        parts[i].from = data + BYTES / 2 + 64 * (unsigned)i;
        parts[i].bytes = 64;
    }
    NEED_OK(gpuexec_copy_many(stream, parts, 5));
    NEED_OK(gpuexec_stream_sync(stream));
}
static void queries(void) {
    gpuexec_pointer_info info;
    gpuexec_ptr foreign;
    NEED_OK(gpuexec_pointer_get_info((uintptr_t)memory, &info));
    NEED(foreign = gpuexec_module_global_address(mod, "counter", NULL));
    NEED_OK(gpuexec_pointer_get_info(foreign, &info));
}
static void failed_handles(void) {
    gpuexec_event e = gpuexec_event_create((gpuexec_context){ 0 }, NULL);
    NEED(!gpuexec_ok(e) && *gpuexec_why(e));
    NEED_BAD(gpuexec_event_record(e, stream));
}
static void errors(void) { NEED_BAD(gpuexec_copy_now(ctx, data, data + BYTES - 8, 64)); }
static void marked_streams(void) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    NEED(gpuexec_copy(s, 0, data, 4) != GPUEXEC_OK && gpuexec_stream_sync(s) != GPUEXEC_OK);
    NEED_OK(gpuexec_stream_destroy(s));
}
static void *thread(void *fails) {
    NEED_OK(gpuexec_context_set_stream(ctx, stream));
    NEED_OK(gpuexec_launch(kernel, GPUEXEC_CURRENT, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    if (fails) NEED(gpuexec_copy(other, 0, data, 4) != GPUEXEC_OK);
    return NULL;
}
static void run_thread(void *fails) {
    pthread_t t;
    NEED(pthread_create(&t, NULL, thread, fails) == 0 && pthread_join(t, NULL) == 0);
}
static void threads(void) { run_thread(NULL); }
/* their failures stay until a wait for the stream returns them */
static void threads_that_fail(void) {
    static unsigned n;
    run_thread(&n);
    if (++n % 16 == 0) NEED(gpuexec_stream_sync(other) != GPUEXEC_OK);
}
static void contexts(void) {
    gpuexec_context c = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(c, NULL);
    gpuexec_ptr p = gpuexec_alloc(c, BYTES);
    NEED_OK(gpuexec_fill(s, p, 1, 1, BYTES));
    NEED(gpuexec_ok(gpuexec_context_stream(c)));
    NEED_OK(gpuexec_context_close(c));
}
static void created_contexts(void) {
    gpuexec_context c = gpuexec_context_create(0, NULL);
    NEED_OK(gpuexec_free_on(
            gpuexec_context_stream(c), gpuexec_alloc_on(gpuexec_context_stream(c), BYTES)));
    NEED_OK(gpuexec_context_close(c));
}
static void modules(void) {
    gpuexec_module m = gpuexec_module_load(ctx, ptx, 0, NULL);
    gpuexec_kernel k = gpuexec_kernel_get(m, "nothing");
    NEED_OK(gpuexec_launch(k, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    NEED_OK(gpuexec_stream_sync(stream));
    NEED_OK(gpuexec_module_unload(m));
}
static void bad_modules(void) {
    gpuexec_module m = gpuexec_module_load(
            ctx, ".version 7.0\n.target sm_70\n.address_size 64\nnonsense", 0, NULL);
    NEED(!gpuexec_ok(m) && gpuexec_take_error() != GPUEXEC_OK);
}
static void libraries(void) {
    gpuexec_library l = gpuexec_library_load(ptx, 0, NULL);
    NEED(gpuexec_ok(gpuexec_kernel_get(gpuexec_library_module(l, ctx), "nothing")));
    NEED_OK(gpuexec_library_unload(l));
}
static void library_contexts(void) { /* a library that stays, contexts that come and go */
    gpuexec_context c = gpuexec_context_create(0, NULL);
    NEED(gpuexec_ok(gpuexec_kernel_get(gpuexec_library_module(library, c), "nothing")));
    NEED_OK(gpuexec_context_close(c));
}
static void links(void) {
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    gpuexec_module m;
    NEED_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, ptx, 0, "unit"));
    m = gpuexec_linker_load(l);
    NEED(gpuexec_ok(m));
    NEED_OK(gpuexec_linker_destroy(l));
    NEED_OK(gpuexec_module_unload(m));
}
static void connections(void) {
    gpuexec_ipc_message message;
    gpuexec_ipc a, b;
    int fd = -1;
    a = gpuexec_ipc_pair(&fd);
    b = gpuexec_ipc_from_fd(fd);
    NEED_OK(gpuexec_ipc_send(a, "label", 1, NULL, 1000));
    NEED_OK(gpuexec_ipc_receive(b, &message, 1000));
    NEED_OK(gpuexec_ipc_close(a));
    NEED_OK(gpuexec_ipc_close(b));
}
static void exported(void) {
    gpuexec_event_desc desc = { 0, 0, 0, 0, 0 };
    gpuexec_ipc_object object;
    gpuexec_ptr p = gpuexec_alloc(ctx, BYTES);
    gpuexec_event e;
    desc.interprocess = 1;
    e = gpuexec_event_create(ctx, &desc);
    NEED_OK(gpuexec_ipc_export(p, &object));
    NEED_OK(gpuexec_ipc_export_event(e, &object));
    NEED_OK(gpuexec_event_destroy(e));
    NEED_OK(gpuexec_free(p));
}

/* A cycle may end with objects that a later one destroys, if the warm-up creates as many. */
static const struct {
    const char *name;
    void (*cycle)(void);
    int expensive;
} kinds[] = {
    { "events", events, 0 },
    { "events of gpuexec_stream_record", records, 0 },
    { "streams", streams, 0 },
    { "current streams", current_streams, 0 },
    { "launches", launches, 0 },
    { "allocations", allocations, 0 },
    { "pitched allocations", pitched, 0 },
    { "pinned allocations", pinned, 0 },
    { "registrations", registered, 0 },
    { "managed allocations", managed, 0 },
    { "pools", pools, 0 },
    { "pools that cache", caching_pool, 0 },
    { "allocations in stream order", alloc_on, 0 },
    { "the same, freed by gpuexec_free", freed_otherwise, 0 },
    { "kernels looked up", kernels, 0 },
    { "adopted streams and events", adopted, 0 },
    { "parameter blocks", params, 0 },
    { "prepared launches", prepared, 0 },
    { "batches", batches, 0 },
    { "graphs", graphs, 0 },
    { "memory in graphs", graph_memory, 0 },
    { "captures", captures, 0 },
    { "barriers", barriers, 0 },
    { "multi-device launches", multi, 0 },
    { "arrays of copies", copy_many, 0 },
    { "queries of addresses", queries, 0 },
    { "failed handles", failed_handles, 0 },
    { "latched errors", errors, 0 },
    { "marked streams", marked_streams, 0 },
    { "threads", threads, 0 },
    { "threads with a failure", threads_that_fail, 0 },
    { "virtual ranges", virtual_ranges, 1 },
    { "contexts", contexts, 1 },
    { "created contexts", created_contexts, 1 },
    { "modules", modules, 1 },
    { "modules that fail", bad_modules, 1 },
    { "libraries", libraries, 1 },
    { "contexts that use a library", library_contexts, 1 },
    { "links", links, 1 },
    { "connections", connections, 1 },
    { "exported memory and events", exported, 1 },
};

/* --- measuring -------------------------------------------------------------------------------- */

static size_t owned; /* bytes that gpuexec has allocated */
static void *counted(void *user, void *p, size_t bytes) {
    const size_t before = p ? malloc_usable_size(p) : 0;
    void *q = bytes ? realloc(p, bytes) : NULL;
    (void)user;
    if (!bytes) free(p);
    if (q || !bytes)
        __atomic_add_fetch(&owned, (q ? malloc_usable_size(q) : 0) - before, __ATOMIC_RELAXED);
    return q;
}
typedef struct state {
    size_t owned, all, resident, descriptors, mappings;
} state;
static size_t entries(const char *folder) {
    DIR *d = opendir(folder);
    size_t n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}
static state now(void) {
    state s;
    struct mallinfo2 m;
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    int c;
    memset(&s, 0, sizeof s);
    if (f && fscanf(f, "%*u %lu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    f = fopen("/proc/self/maps", "r");
    while (f && (c = getc(f)) != EOF) s.mappings += c == '\n';
    if (f) fclose(f);
    s.resident = pages * (size_t)sysconf(_SC_PAGESIZE);
    s.descriptors = entries("/proc/self/fd");
    m = mallinfo2();
    s.all = m.uordblks + m.hblkhd;
    s.owned = __atomic_load_n(&owned, __ATOMIC_RELAXED);
    return s;
}
static double us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may keep the processors busy */
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static double fastest(const double *took, int from, int to) {
    double least = took[from];
    for (; from < to; from++)
        if (took[from] < least) least = took[from];
    return least;
}
/* The slices of the first and the last tenth: the fastest of each, because other processes slow
   single ones down. */
static int measure(unsigned k, long cycles) {
    const long each = cycles / SLICES > 0 ? cycles / SLICES : 1;
    double took[SLICES], first, last;
    state before, after;
    long i, grew, grew_all;
    int slice, bad;
    doing = kinds[k].name;
    for (i = 0; i < each * SLICES / 4 + FEWEST; i++) kinds[k].cycle();
    before = now();
    for (slice = 0; slice < SLICES; slice++) {
        const double begin = us();
        for (i = 0; i < each; i++) kinds[k].cycle();
        took[slice] = (us() - begin) / (double)each;
    }
    after = now();
    first = fastest(took, 0, SLICES / 10);
    last = fastest(took, SLICES - SLICES / 10, SLICES);
    grew = (long)(after.owned - before.owned);
    grew_all = (long)(after.all - before.all);
    bad = grew > GROWTH || grew_all - grew > GROWTH || last > 3 * first + 1 ||
            after.resident > before.resident + RESIDENT || after.descriptors > before.descriptors ||
            after.mappings > before.mappings + 16;
    printf("%s%-33s %8ld cycles: %7.2f us, then %7.2f; gpuexec %+ld bytes, the rest %+ld, resident "
           "%+ld KiB, descriptors %+ld, mappings %+ld\n",
            bad ? "GROWS: " : "", doing, each * SLICES, first, last, grew, grew_all - grew,
            ((long)after.resident - (long)before.resident) / 1024,
            (long)(after.descriptors - before.descriptors),
            (long)(after.mappings - before.mappings));
    fflush(stdout);
    return bad;
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 20);
    if (!f || !text || fread(text, 1, (1 << 20) - 1, f) == 0) exit(2);
    fclose(f);
    return text;
}
static int wanted(const char *name, int argc, char **argv) {
    int i;
    for (i = 2; i < argc && !strstr(name, argv[i]); i++) {}
    return argc <= 2 || i < argc;
}
int main(int argc, char **argv) {
    const long count = argc > 1 ? atol(argv[1]) : 5000,
               few = count / 10 < 10000 ? count / 10 : 10000;
    gpuexec_setup_desc desc;
    unsigned k;
    int bad = 0;
    memset(&desc, 0, sizeof desc);
    desc.realloc_function = counted;
    desc.cache_folder = "";
    mallopt(M_ARENA_MAX, 1); /* otherwise each thread's arena counts as growth */
    ptx = read_file(MODULES);
    memory = (char *)malloc(BYTES);
    NEED_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    peer = gpuexec_context_open(gpuexec_device_count() > 1 ? 1 : 0, NULL);
    mod = gpuexec_module_load(ctx, ptx, 0, NULL);
    kernel = gpuexec_kernel_get(mod, "nothing");
    add = gpuexec_kernel_get(mod, "add");
    stream = gpuexec_stream_create(ctx, NULL);
    other = gpuexec_stream_create(ctx, NULL);
    event = gpuexec_event_create(ctx, NULL);
    data = gpuexec_alloc(ctx, BYTES);
    library = gpuexec_library_load(ptx, 0, NULL);
    NEED(gpuexec_ok(add) && gpuexec_ok(library) && memory);
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!wanted(kinds[k].name, argc, argv)) continue;
        /* twice: a busy machine delays work that is pending, what grows does so again */
        bad |= measure(k, kinds[k].expensive ? few : count) &&
                measure(k, kinds[k].expensive ? few : count);
    }
    gpuexec_shutdown(); /* returns a failure of a thread */
    if (owned)
        printf("GROWS: after gpuexec_shutdown, gpuexec owns %lu bytes\n", (unsigned long)owned);
    return bad || owned != 0;
}
