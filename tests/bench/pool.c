/* pool.c - the cost of memory in stream order for the calling thread: gpuexec, the driver's own
   calls, and the caching allocators of CuPy and PyTorch (peer.py). A pair is an allocation and its
   free; a frame is 32 allocations of 32 MiB, their frees, and a wait, at which a pool may return
   memory to the system. The context is current. */
#include "peer.h"

enum { ROUNDS = 30, BURSTS = 10, BUFFERS = 32, NONE = 99 };
static unsigned rounds = ROUNDS, bursts = BURSTS;
static int missed;
static size_t bytes = 1 << 16;

static gpuexec_stream stream;
static gpuexec_pool pool, caching;
static gxi_driver cu; /* the driver's entry points */
static struct CUstream_st *queue;
static struct CUctx_st *native;
/* gpuexec's pool; of gpuexec_pool_create: as it is; one that keeps all; with CUDA's settings */
static void *ours, *own, *keeps, *usual;

static void must(int ok) {
    if (ok) return;
    fprintf(stderr, "a call failed: %s\n", gpuexec_error_text());
    exit(1);
}
static double ends(double begin, int bad) {
    const double end = microseconds();
    must(!bad && cu.cuStreamSynchronize(queue) == 0);
    return end - begin;
}
static double raw_pairs(void *from, int count) {
    const double begin = microseconds();
    gpuexec_ptr p;
    int i, bad = 0;
    for (i = 0; i < count; i++)
        bad |= cu.cuMemAllocFromPoolAsync(&p, bytes, from, queue) | cu.cuMemFreeAsync(p, queue);
    return ends(begin, bad);
}
static double raw_pair(int count) { return raw_pairs(ours, count); }
static double raw_own_pair(int count) { return raw_pairs(own, count); }
/* With what gpuexec must do so that captures of other libraries go on, and destroyed contexts are
   noticed. */
static double guarded_pairs(void *from, int count) {
    const double begin = microseconds();
    unsigned long long id;
    gpuexec_ptr p;
    int i, bad = 0;
    for (i = 0; i < count; i++) {
        int mode = GPUEXEC_CAPTURE_RELAXED;
        bad |= cu.cuThreadExchangeStreamCaptureMode(&mode);
        bad |= cu.cuMemAllocFromPoolAsync(&p, bytes, from, queue);
        bad |= cu.cuThreadExchangeStreamCaptureMode(&mode);
        mode = GPUEXEC_CAPTURE_RELAXED;
        bad |= cu.cuCtxGetId(native, &id) | cu.cuThreadExchangeStreamCaptureMode(&mode);
        bad |= cu.cuMemFreeAsync(p, queue);
        bad |= cu.cuThreadExchangeStreamCaptureMode(&mode);
    }
    return ends(begin, bad);
}
static double guarded_pair(int count) { return guarded_pairs(ours, count); }
static double guarded_own_pair(int count) { return guarded_pairs(own, count); }
static double raw_plain(int count) {
    const double begin = microseconds();
    gpuexec_ptr p;
    int i, bad = 0;
    for (i = 0; i < count; i++) bad |= cu.cuMemAlloc(&p, bytes) | cu.cuMemFree(p);
    return ends(begin, bad);
}
static double our_pair(int count) {
    const double begin = microseconds();
    int i, bad = 0;
    for (i = 0; i < count; i++)
        bad |= (int)gpuexec_free_on(stream, gpuexec_alloc_on(stream, bytes));
    return ends(begin, bad);
}
static double pool_pair(int count) {
    const double begin = microseconds();
    int i, bad = 0;
    for (i = 0; i < count; i++)
        bad |= (int)gpuexec_free_on(stream, gpuexec_pool_alloc(pool, stream, bytes));
    return ends(begin, bad);
}
static double cached_pair(int count) {
    const double begin = microseconds();
    int i, bad = 0;
    for (i = 0; i < count; i++)
        bad |= (int)gpuexec_free_on(stream, gpuexec_pool_alloc(caching, stream, bytes));
    return ends(begin, bad);
}
static double raw_frames(void *from, int count) {
    const double begin = microseconds();
    gpuexec_ptr p[BUFFERS];
    int i, k, bad = 0;
    for (i = 0; i < count; i++) {
        for (k = 0; k < BUFFERS; k++) bad |= cu.cuMemAllocFromPoolAsync(&p[k], bytes, from, queue);
        for (k = 0; k < BUFFERS; k++) bad |= cu.cuMemFreeAsync(p[k], queue);
        bad |= cu.cuStreamSynchronize(queue);
    }
    return ends(begin, bad);
}
static double frame_keeps(int count) { return raw_frames(keeps, count); }
static double frame_usual(int count) { return raw_frames(usual, count); }
static double our_frame(int count) {
    const double begin = microseconds();
    gpuexec_ptr p[BUFFERS];
    int i, k, bad = 0;
    for (i = 0; i < count; i++) {
        for (k = 0; k < BUFFERS; k++) p[k] = gpuexec_alloc_on(stream, bytes);
        for (k = 0; k < BUFFERS; k++) bad |= (int)gpuexec_free_on(stream, p[k]);
        bad |= (int)gpuexec_stream_sync(stream);
    }
    return ends(begin, bad);
}

static double cached_frame(int count) {
    const double begin = microseconds();
    gpuexec_ptr p[BUFFERS];
    int i, k, bad = 0;
    for (i = 0; i < count; i++) {
        for (k = 0; k < BUFFERS; k++) p[k] = gpuexec_pool_alloc(caching, stream, bytes);
        for (k = 0; k < BUFFERS; k++) bad |= (int)gpuexec_free_on(stream, p[k]);
        bad |= (int)gpuexec_stream_sync(stream);
    }
    return ends(begin, bad);
}

static peer peers[4] = {
    { "cupy-pair", 0, 0, 0, "" },
    { "torch-pair", 0, 0, 0, "" },
    { "cupy-frame", 0, 0, 0, "" },
    { "torch-frame", 0, 0, 0, "" },
};
static double peer_0(int count) { return peer_burst(&peers[0], count); }
static double peer_1(int count) { return peer_burst(&peers[1], count); }
static double peer_2(int count) { return peer_burst(&peers[2], count); }
static double peer_3(int count) { return peer_burst(&peers[3], count); }

/* most: the bound of its ratio to the way with the number `to`, 0 for none */
typedef struct way {
    const char *name;
    burst_function burst;
    double most;
    unsigned to;
} way;
/* list: `count` ways; with room for two more, those of the peers, unless peer_of is NONE.
   cuMemAlloc and other processes disturb the processor's caches: they must not be in the table of
   what is compared closely. */
static void table(
        const char *title, const char *to, way *list, unsigned count, unsigned peer_of, int calls) {
    static const burst_function bursts_of[] = { peer_0, peer_1, peer_2, peer_3 };
    burst_function functions[MOST_WAYS];
    unsigned i;
    for (i = peer_of; peer_of != NONE && i < peer_of + 2 && !smoke(); i++) {
        if (!peer_begins(&peers[i])) {
            printf("\nskipped: %s: %s\n", peers[i].name, peers[i].says);
            continue;
        }
        list[count].name = peers[i].says + strlen("ready ");
        list[count].most = 0;
        list[count].to = 0;
        list[count++].burst = bursts_of[i];
    }
    for (i = 0; i < count; i++) functions[i] = list[i].burst;
    contest(functions, count, rounds, bursts, smoke() ? 2 : calls);
    printf("\n| %s | us | ratio to %s |\n|---|---|---|\n", title, to);
    for (i = 0; i < count; i++) {
        const double ratio = contest_ratio(i, list[i].to);
        printf("| %s | %.3f | %.3f", list[i].name, contest_time(i), ratio);
        if (list[i].most > 0) printf(" (at most %.2f)", list[i].most);
        printf(" |\n");
        missed += list[i].most > 0 && ratio > list[i].most;
    }
    fflush(stdout);
    for (i = peer_of; peer_of != NONE && i < peer_of + 2; i++) peer_ends(&peers[i]);
}

int main(void) {
    way ours_pairs[] = {
        { "the driver's calls, gpuexec's pool", raw_pair, 0, 0 },
        { "gpuexec_alloc_on, _free_on", our_pair, 1.05, 0 },
        { "the driver's, with capture modes exchanged and the context checked", guarded_pair, 0,
                0 },
    };
    way own_pairs[] = {
        { "the driver's calls, a pool of gpuexec_pool_create", raw_own_pair, 0, 0 },
        { "gpuexec_pool_alloc, _free_on", pool_pair, 1.05, 0 },
        { "the driver's, with the same guards", guarded_own_pair, 0, 0 },
        { "gpuexec_pool_alloc, _free_on, a pool with cache_bytes", cached_pair, 0.63, 0 },
    };
    way others[5] = {
        { "gpuexec_alloc_on, _free_on", our_pair, 0, 0 },
        { "cuMemAlloc, cuMemFree", raw_plain, 0, 0 },
    };
    way frames[] = {
        { "the driver's calls, a pool that keeps all", frame_keeps, 0, 0 },
        { "gpuexec_alloc_on, _free_on", our_frame, 1.10, 0 },
        { "gpuexec_pool_alloc, _free_on, a pool with cache_bytes", cached_frame, 0.63, 0 },
    };
    way other_frames[4] = {
        { "gpuexec_alloc_on, _free_on", our_frame, 0, 0 },
        { "the driver's calls, CUDA's settings", frame_usual, 0, 0 },
    };
    gpuexec_pool_desc released = { .release = 1 }, cached = { .cache_bytes = SIZE_MAX };
    gpuexec_context context = gpuexec_context_open(0, NULL);
    check(gpuexec_context_push(context));
    stream = gpuexec_stream_create(context, NULL);
    queue = gpuexec_stream_native(stream);
    pool = gpuexec_pool_create(context, NULL);
    caching = gpuexec_pool_create(context, &cached);
    native = gpuexec_context_native(context);
    ours = gpuexec_pool_native(gpuexec_context_pool(context));
    own = gpuexec_pool_native(pool);
    keeps = gpuexec_pool_native(gpuexec_pool_create(context, NULL));
    usual = gpuexec_pool_native(gpuexec_pool_create(context, &released));
    cu = gxi.cu;
    must(ours && keeps && usual);
    if (smoke()) rounds = bursts = 2;

    printf("\n## Memory in stream order\n\nmicroseconds of the calling thread; %u rounds of %u "
           "bursts, interleaved; Python's libraries in separate processes\n",
            rounds, bursts);
    table("64 KiB, allocated and freed", "the driver's calls", ours_pairs, 3, NONE, 100);
    table("64 KiB, a pool of gpuexec_pool_create", "the driver's calls", own_pairs, 4, NONE, 100);
    table("64 KiB, others", "gpuexec", others, 2, 0, 100);
    check(gpuexec_pool_trim(pool, 0));
    check(gpuexec_pool_trim(caching, 0));
    if (!smoke()) bytes = 32 << 20;
    rounds = smoke() ? 2 : 10;
    bursts = smoke() ? 2 : 6;
    table("a frame: 32 allocations of 32 MiB, their frees, a wait", "the driver's calls", frames, 3,
            NONE, 4);
    table("a frame, others", "gpuexec", other_frames, 2, 2, 4);
    check(gpuexec_context_pop(context));
    if (missed && !smoke()) printf("\n%d ratios are above their bounds\n", missed);
    return gpuexec_shutdown() != GPUEXEC_OK || (missed && !smoke());
}
