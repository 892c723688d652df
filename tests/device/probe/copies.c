/* copies.c - copies in three dimensions, in batches, fills of rows. */
#include "probe.h"

enum { ROW = 64, ROWS = 8, SLICES = 4, ALL = ROW * ROWS * SLICES };
enum { IN_ORDER = 1, DURING_CALL, ANY };

static void *s, *spin;
static gate g;
static char *pageable, *pinned;
static ptr d, host; /* d: ALL bytes of device memory; host: pinned, ALL bytes */

static void open_copies(void) {
    void *p = NULL;
    int i;
    open_one();
    g = make_gate();
    spin = kernel(0, "spin");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuMemAlloc_v2(&d, ALL);
    cu.cuMemHostAlloc(&p, ALL, 0);
    pinned = (char *)p;
    host = (ptr)(uintptr_t)p;
    pageable = (char *)malloc(ALL);
    for (i = 0; i < ALL; i++) pinned[i] = pageable[i] = (char)(i * 7 + i / ROW);
    cu.cuMemsetD32_v2(d, 0, ALL / 4);
    cu.cuCtxSynchronize(); /* the stream does not wait for the fill */
}

/* 16 bytes of 2 rows of 2 slices, from pinned memory to device memory */
static copy_3d usual(void) {
    copy_3d c;
    memset(&c, 0, sizeof c);
    c.from_type = HOST;
    c.from_host = pinned;
    c.from_pitch = c.to_pitch = ROW;
    c.from_height = c.to_height = ROWS;
    c.to_type = DEVICE;
    c.to_device = d;
    c.width = 16;
    c.height = 2;
    c.depth = 2;
    return c;
}
#define WITH(name, change) \
    do { \
        c = usual(); \
        change; \
        PROBE(name, cu.cuMemcpy3DAsync_v2(&c, s)); \
    } while (0)

static void shapes(void) {
    copy_3d c;
    cu.cuInit(0);
    memset(&c, 0, sizeof c);
    PROBE("without", cu.cuMemcpy3D_v2(&c));
    open_copies();
    PROBE("null", cu.cuMemcpy3DAsync_v2(NULL, s));
    PROBE("null_now", cu.cuMemcpy3D_v2(NULL));
    WITH("usual", (void)0);
    PROBE("sync", cu.cuStreamSynchronize(s));
    WITH("offsets", (c.from_x = 4, c.from_y = 1, c.from_z = 2, c.to_x = 8, c.to_y = 3, c.to_z = 1));
    WITH("width_0", c.width = 0);
    WITH("height_0", c.height = 0);
    WITH("depth_0", c.depth = 0);
    WITH("all_0_wild", (c.width = c.height = c.depth = 0, c.to_device = 16));
    WITH("width_0_wild", (c.width = 0, c.to_device = 16));
    WITH("from_pitch_0", c.from_pitch = 0);
    WITH("to_pitch_0", c.to_pitch = 0);
    WITH("pitch_0_flat", (c.from_pitch = c.to_pitch = 0, c.height = c.depth = 1));
    WITH("from_height_0", c.from_height = 0);
    WITH("to_height_0", c.to_height = 0);
    WITH("height_0_one_slice", (c.from_height = c.to_height = 0, c.depth = 1));
    WITH("height_0_second_slice", (c.from_height = 0, c.from_z = 1, c.depth = 1));
    WITH("pitch_small", c.to_pitch = 15);
    WITH("pitch_small_by_x", (c.to_pitch = 16, c.to_x = 1));
    WITH("pitch_just", (c.to_pitch = 17, c.to_x = 1));
    WITH("height_small", c.to_height = 1);
    WITH("height_small_by_y", (c.to_height = 2, c.to_y = 1));
    WITH("height_just", (c.to_height = 3, c.to_y = 1));
    WITH("height_small_one_slice", (c.to_height = 1, c.depth = 1));
    WITH("pitch_odd", c.to_pitch = 33);
    WITH("pitch_2_gib", (c.to_pitch = (size_t)1 << 31, c.height = c.depth = 1));
    WITH("pitch_huge", (c.to_pitch = (size_t)1 << 40, c.height = c.depth = 1));
    WITH("from_lod_1", c.from_lod = 1);
    WITH("to_lod_1", c.to_lod = 1);
    WITH("from_reserved", c.from_reserved = &c);
    WITH("to_reserved", c.to_reserved = &c);
    WITH("from_array_set", c.from_array = &c);
    WITH("from_device_set", c.from_device = 16);
    WITH("type_0", c.to_type = 0);
    WITH("type_5", c.to_type = 5);
    WITH("type_array_null", c.to_type = ARRAY);
    WITH("from_array_null", c.from_type = ARRAY);
    WITH("unified", (c.to_type = UNIFIED, c.from_type = UNIFIED, c.from_device = host));
    WITH("unified_pageable", (c.from_type = UNIFIED, c.from_device = (ptr)(uintptr_t)pageable));
    WITH("device_pageable", (c.from_type = DEVICE, c.from_device = (ptr)(uintptr_t)pageable));
    WITH("device_pinned", (c.from_type = DEVICE, c.from_device = host));
    WITH("host_device", c.from_host = (void *)(uintptr_t)d);
    WITH("from_null", c.from_host = NULL);
    WITH("to_null", c.to_device = 0);
    WITH("to_wild", c.to_device = 16);
    WITH("to_host", (c.to_type = HOST, c.to_host = pageable));
    WITH("last_slice", (c.to_z = SLICES - 2, c.to_y = ROWS - 2, c.to_x = ROW - 16));
    WITH("past_end", (c.to_z = SLICES - 1));
    WITH("past_end_padding", (c.to_z = SLICES - 2, c.height = ROWS));
    WITH("past_end_by_1",
            (c.to_device = d + 1, c.to_z = SLICES - 2, c.to_y = ROWS - 2, c.to_x = ROW - 16));
    WITH("depth_huge", c.depth = (size_t)1 << 62);
    WITH("onto_itself", (c.from_type = DEVICE, c.from_device = d));
    WITH("overlapping", (c.from_type = DEVICE, c.from_device = d + ROW));
    PROBE("sync_again", cu.cuStreamSynchronize(s));
    c = usual();
    PROBE("now", cu.cuMemcpy3D_v2(&c));
    PROBE("legacy", cu.cuMemcpy3DAsync_v2(&c, NULL));
    close_gate(g, spin, s);
    WITH("behind_work", (void)0);
    WITH("behind_work_from_pageable", c.from_host = pageable);
    PROBE("behind_work_query", cu.cuStreamQuery(s));
    open_gate(g);
    PROBE("end", cu.cuStreamSynchronize(s));
    c = usual();
    cu.cuCtxSetCurrent(NULL);
    PROBE("async_without", cu.cuMemcpy3DAsync_v2(&c, s));
    PROBE("now_without", cu.cuMemcpy3D_v2(&c));
}

static void peers(void) {
    copy_3d c;
    void *other = NULL, *gone = NULL;
    open_copies();
    c = usual();
    PROBE("contexts_null", cu.cuMemcpy3DPeerAsync(&c, s));
    c.from_reserved = c.to_reserved = context[0];
    PROBE("contexts", cu.cuMemcpy3DPeerAsync(&c, s));
    cu.cuCtxCreate_v2(&other, 0, 0);
    cu.cuCtxSetCurrent(context[0]);
    c.to_reserved = other;
    PROBE("other_context", cu.cuMemcpy3DPeerAsync(&c, s));
    c.to_reserved = &c;
    PROBE("garbage_context_from_ok",
            cu.cuCtxCreate_v2(&gone, 0, 0) + cu.cuCtxDestroy_v2(gone) +
                    cu.cuCtxSetCurrent(context[0]));
    c = usual();
    c.from_type = DEVICE;
    c.from_device = d + ROW;
    PROBE("device_contexts_null", cu.cuMemcpy3DPeerAsync(&c, s));
    c.from_reserved = context[0];
    PROBE("device_one_context", cu.cuMemcpy3DPeerAsync(&c, s));
    c.to_reserved = context[0];
    PROBE("device_contexts", cu.cuMemcpy3DPeerAsync(&c, s));
    PROBE("now", cu.cuMemcpy3DPeer(&c));
    c.to_lod = 1;
    PROBE("lod_1", cu.cuMemcpy3DPeerAsync(&c, s));
    c.to_lod = 0;
    c.width = 0;
    PROBE("width_0", cu.cuMemcpy3DPeerAsync(&c, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
}

/* A batch: all arguments, to change some. */
typedef struct batch {
    ptr to[4], from[4];
    size_t sizes[4], n, starts[4];
    copy_attributes list[4];
    size_t nlist;
} batch;
static batch usual_batch(void) {
    batch b;
    int i;
    memset(&b, 0, sizeof b);
    for (i = 0; i < 4; i++) {
        b.to[i] = d + 64 * (ptr)i;
        b.from[i] = host + 64 * (ptr)i;
        b.sizes[i] = 64;
        b.starts[i] = (size_t)i;
        b.list[i].order = IN_ORDER;
    }
    b.n = 4;
    b.nlist = 1;
    return b;
}
static int run(batch *b, void *stream) {
    return cu.cuMemcpyBatchAsync_v2(
            b->to, b->from, b->sizes, b->n, b->list, b->starts, b->nlist, stream);
}
static size_t failed;
static int run_old(batch *b, void *stream) {
    failed = 77;
    return cu.cuMemcpyBatchAsync(
            b->to, b->from, b->sizes, b->n, b->list, b->starts, b->nlist, &failed, stream);
}
#define BATCH(name, change) \
    do { \
        b = usual_batch(); \
        change; \
        PROBE(name, run(&b, s)); \
        snprintf(question, sizeof question, "%s_old", name); \
        b = usual_batch(); \
        change; \
        if (!skipped(question)) { \
            int result_ = run_old(&b, s); \
            answer(question, "%d %d", result_, (int)failed); \
        } \
    } while (0)

static void batches(void) {
    batch b;
    char question[60];
    unsigned k;
    ptr m = 0;
    cu.cuInit(0);
    memset(&b, 0, sizeof b);
    b.n = b.nlist = 1;
    PROBE("without", run(&b, NULL));
    open_copies();
    cu.cuMemAllocManaged(&m, 4096, 1);
    BATCH("usual", (void)0);
    PROBE("sync", cu.cuStreamSynchronize(s));
    BATCH("n_0", b.n = 0);
    BATCH("n_0_no_attributes", (b.n = 0, b.nlist = 0));
    BATCH("no_attributes", b.nlist = 0);
    BATCH("attributes_as_many", b.nlist = 4);
    BATCH("attributes_more", (b.n = 3, b.nlist = 4));
    BATCH("first_start_1", b.starts[0] = 1);
    BATCH("starts_equal", (b.nlist = 2, b.starts[1] = 0));
    BATCH("starts_down", (b.nlist = 3, b.starts[1] = 2, b.starts[2] = 1));
    BATCH("start_behind", (b.nlist = 2, b.starts[1] = 4));
    for (k = 0; k < 5; k++) {
        char name[40];
        snprintf(name, sizeof name, "order_%u", k);
        BATCH(name, b.list[0].order = k);
        snprintf(name, sizeof name, "order_%u_of_third", k);
        BATCH(name, (b.nlist = 2, b.starts[1] = 2, b.list[1].order = k));
        snprintf(name, sizeof name, "flags_%u", k);
        BATCH(name, b.list[0].flags = k);
        snprintf(name, sizeof name, "hint_type_%u", k);
        BATCH(name, (b.list[0].from.type = (int)k, b.list[0].to.type = (int)k));
    }
    BATCH("hint_device_99", (b.list[0].from.type = 1, b.list[0].from.id = 99));
    BATCH("hint_type_9", b.list[0].to.type = 9);
    BATCH("managed_hint_device_99",
            (b.from[0] = m, b.list[0].from.type = 1, b.list[0].from.id = 99));
    BATCH("managed_hint", (b.from[0] = m, b.list[0].from.type = 1, b.list[0].to.type = 1));
    BATCH("size_0", b.sizes[1] = 0);
    BATCH("past_end", b.sizes[2] = ALL);
    BATCH("to_pageable", b.to[2] = (ptr)(uintptr_t)pageable);
    BATCH("both_pageable",
            (b.to[2] = (ptr)(uintptr_t)pageable, b.from[2] = (ptr)(uintptr_t)pageable + 128));
    BATCH("both_pinned", b.to[2] = host + 512);
    BATCH("both_device", b.from[2] = d + 512);
    BATCH("managed", (b.from[2] = m, b.to[1] = m + 512));
    BATCH("onto_itself", b.from[2] = b.to[2]);
    BATCH("same_target", b.to[2] = b.to[1]);
    BATCH("overlapping", b.from[2] = b.to[2] + 8);
    BATCH("pinned_past_end", (b.from[2] = host + ALL - 8));
    b = usual_batch();
    PROBE("to_list_null",
            cu.cuMemcpyBatchAsync_v2(NULL, b.from, b.sizes, 4, b.list, b.starts, 1, s));
    PROBE("from_list_null",
            cu.cuMemcpyBatchAsync_v2(b.to, NULL, b.sizes, 4, b.list, b.starts, 1, s));
    PROBE("sizes_null", cu.cuMemcpyBatchAsync_v2(b.to, b.from, NULL, 4, b.list, b.starts, 1, s));
    PROBE("attributes_null",
            cu.cuMemcpyBatchAsync_v2(b.to, b.from, b.sizes, 4, NULL, b.starts, 1, s));
    PROBE("starts_null", cu.cuMemcpyBatchAsync_v2(b.to, b.from, b.sizes, 4, b.list, NULL, 1, s));
    PROBE("attributes_null_0",
            cu.cuMemcpyBatchAsync_v2(b.to, b.from, b.sizes, 4, NULL, NULL, 0, s));
    PROBE("failed_null",
            cu.cuMemcpyBatchAsync(b.to, b.from, b.sizes, 4, b.list, b.starts, 1, NULL, s));
    PROBE("legacy", run(&b, NULL));
    PROBE("legacy_1", run(&b, (void *)(uintptr_t)1));
    PROBE("legacy_old", run_old(&b, NULL));
    PROBE("legacy_bad", (b.n = 0, run(&b, NULL)));
    b = usual_batch();
    cu.cuCtxSetCurrent(NULL);
    PROBE("on_stream_without", run(&b, s));
}

static void wild(void) {
    batch b;
    char question[60];
    open_copies();
    BATCH("order_0", (b.list[0].order = 0, b.to[0] = 16));
    BATCH("size_0", (b.sizes[1] = 0, b.to[1] = 16));
    BATCH("to_null", b.to[2] = 0);
}

/* When a batch behind a kernel that spins returns, and when it reads its source. */
static void times(void) {
    static const char *const sources[] = { "pinned", "pageable", "device" };
    batch b;
    char question[60];
    unsigned order, k;
    uint32_t got = 0;
    ptr other = 0;
    open_copies();
    cu.cuMemAlloc_v2(&other, 4096);
    for (order = 1; order < 4; order++)
        for (k = 0; k < 3; k++) {
            char *from = k ? pageable : pinned;
            memset(from, 1, 64);
            cu.cuMemsetD32_v2(other, 0x01010101, 16);
            b = usual_batch();
            b.n = 1;
            b.list[0].order = order;
            b.from[0] = k == 2 ? other : (ptr)(uintptr_t)from;
            /* these wait, measured */
            if (k == 1 ? order == IN_ORDER : order == DURING_CALL) continue;
            close_gate(g, spin, s);
            snprintf(question, sizeof question, "%s_order_%u", sources[k], order);
            PROBE(question, run(&b, s) * 1000 + cu.cuStreamQuery(s));
            if (k < 2) memset(from, 2, 64);
            open_gate(g);
            cu.cuStreamSynchronize(s);
            cu.cuMemcpyDtoH_v2(&got, d, 4);
            snprintf(question, sizeof question, "%s_order_%u_read", sources[k], order);
            PROBE(question, (int)(got & 255));
        }
    b = usual_batch();
    b.n = 1;
    b.to[0] = (ptr)(uintptr_t)pageable;
    close_gate(g, spin, s);
    PROBE("to_pageable", run(&b, s) * 1000 + cu.cuStreamQuery(s));
    open_gate(g);
    cu.cuStreamSynchronize(s);
    b.from[0] = d;
    close_gate(g, spin, s);
    PROBE("device_to_pageable", run(&b, s) * 1000 + cu.cuStreamQuery(s));
    open_gate(g);
    cu.cuStreamSynchronize(s);
}

static copy_op usual_op(void) {
    copy_op o;
    memset(&o, 0, sizeof o);
    o.from.type = o.to.type = 1;
    o.from.address = host;
    o.to.address = d;
    o.from.row = o.to.row = ROW;
    o.from.rows = o.to.rows = ROWS;
    o.width = 16;
    o.height = o.depth = 2;
    o.order = IN_ORDER;
    return o;
}
#define OP(name, change) \
    do { \
        o[0] = o[1] = usual_op(); \
        o[1].to.address += ROW * ROWS * 2; \
        change; \
        PROBE(name, cu.cuMemcpy3DBatchAsync_v2(2, o, 0, s)); \
        snprintf(question, sizeof question, "%s_old", name); \
        if (!skipped(question)) { \
            int result_ = (failed = 77, cu.cuMemcpy3DBatchAsync(2, o, &failed, 0, s)); \
            answer(question, "%d %d", result_, (int)failed); \
        } \
    } while (0)
static void batches_3d(void) {
    copy_op o[2];
    char question[60], got[ALL];
    open_copies();
    OP("usual", (void)0);
    PROBE("sync", cu.cuStreamSynchronize(s));
    OP("packed", (o[0].from.row = 0, o[0].from.rows = 0));
    PROBE("packed_right",
            (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(got, d, ALL),
                    got[(ROWS + 1) * ROW] == pinned[16 * 3]));
    OP("type_0", o[1].to.type = 0);
    OP("type_3", o[1].to.type = 3);
    OP("width_0", o[1].width = 0);
    OP("height_0", o[1].height = 0);
    OP("depth_0", o[1].depth = 0);
    OP("row_small", o[1].from.row = 15);
    OP("row_just", o[1].from.row = 16);
    OP("rows_small", o[1].from.rows = 1);
    OP("rows_just", o[1].from.rows = 2);
    OP("order_0", o[1].order = 0);
    OP("order_2", o[1].order = 2);
    OP("order_4", o[1].order = 4);
    OP("flags_1", o[1].flags = 1);
    OP("flags_2", o[1].flags = 2);
    OP("from_null", o[1].from.address = 0);
    OP("past_end", o[1].depth = 3);
    PROBE("n_0", cu.cuMemcpy3DBatchAsync_v2(0, o, 0, s));
    PROBE("null", cu.cuMemcpy3DBatchAsync_v2(2, NULL, 0, s));
    o[0] = o[1] = usual_op();
    PROBE("flags_of_all", cu.cuMemcpy3DBatchAsync_v2(2, o, 1, s));
    PROBE("legacy", cu.cuMemcpy3DBatchAsync_v2(2, o, 0, NULL));
    PROBE("per_thread", cu.cuMemcpy3DBatchAsync_v2(2, o, 0, (void *)(uintptr_t)2));
    PROBE("end", cu.cuStreamSynchronize(s));
}

/* In captures of each mode: the result, the state of the capture, the result of its end, and how
   many nodes. */
static int now_mode;
static void captured(const char *name, int result) {
    int status = 77, end, type = 77;
    size_t n = 0, one = 1;
    void *graph = NULL, *node = NULL;
    char question[60];
    cu.cuStreamIsCapturing(s, &status);
    end = cu.cuStreamEndCapture(s, &graph);
    if (graph) cu.cuGraphGetNodes(graph, NULL, &n);
    if (graph && n) cu.cuGraphGetNodes(graph, &node, &one);
    if (node) cu.cuGraphNodeGetType(node, &type);
    snprintf(question, sizeof question, "%s_%d", name, now_mode);
    answer(question, "%d %d %d %d %d", result, status, end, (int)n, type);
    if (graph) cu.cuGraphDestroy(graph);
}
#define CAPTURED(name, call) \
    do { \
        if (skipped(name)) break; \
        cu.cuStreamBeginCapture_v2(s, now_mode); \
        captured(name, call); \
    } while (0)
static void captures(void) {
    copy_3d c, wrong, into;
    batch b, during, old;
    copy_op o;
    open_copies();
    c = wrong = into = usual();
    wrong.to_pitch = 15;
    into.from_host = pageable;
    b = during = old = usual_batch();
    during.list[0].order = DURING_CALL;
    o = usual_op();
    for (now_mode = 0; now_mode < 3; now_mode++) {
        CAPTURED("copy", cu.cuMemcpy3DAsync_v2(&c, s));
        CAPTURED("copy_wrong", cu.cuMemcpy3DAsync_v2(&wrong, s));
        CAPTURED("copy_pageable", cu.cuMemcpy3DAsync_v2(&into, s));
        CAPTURED("copy_null", cu.cuMemcpy3DAsync_v2(NULL, s));
        CAPTURED("copy_now", cu.cuMemcpy3D_v2(&c));
        CAPTURED("copy_legacy", cu.cuMemcpy3DAsync_v2(&c, NULL));
        CAPTURED("copy_width_0",
                (wrong = usual(), wrong.width = 0, cu.cuMemcpy3DAsync_v2(&wrong, s)));
        CAPTURED("peer", cu.cuMemcpy3DPeerAsync(&c, s));
        CAPTURED("peer_now", cu.cuMemcpy3DPeer(&c));
        CAPTURED("batch", run(&b, s));
        CAPTURED("batch_old", run_old(&old, s));
        CAPTURED("batch_during", run(&during, s));
        CAPTURED("batch_bad", (old = usual_batch(), old.n = 0, run(&old, s)));
        CAPTURED("batch_legacy", run(&b, NULL));
        CAPTURED("batch_3d", cu.cuMemcpy3DBatchAsync_v2(1, &o, 0, s));
        CAPTURED("fill_rows_32", cu.cuMemsetD2D32Async(d, ROW, 1, 4, 4, s));
        CAPTURED("fill_rows_16", cu.cuMemsetD2D16Async(d, ROW, 1, 4, 4, s));
        CAPTURED("fill_rows_wrong", cu.cuMemsetD2D32Async(d, 8, 1, 4, 4, s));
        wrong = usual();
        wrong.to_pitch = 15;
    }
}

/* What the node of a copy in three dimensions says, and whether the graph copies. */
static void nodes(void) {
    copy_3d c, is;
    void *graph = NULL, *node = NULL, *exec = NULL;
    size_t one = 1;
    open_copies();
    c = usual();
    c.to_x = 8;
    c.to_z = 1;
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemcpy3DAsync_v2(&c, s);
    cu.cuStreamEndCapture(s, &graph);
    cu.cuGraphGetNodes(graph, &node, &one);
    memset(&is, 0, sizeof is);
    PROBE("params", cu.cuGraphMemcpyNodeGetParams(node, &is));
    answer("sizes", "%d %d %d", (int)is.width, (int)is.height, (int)is.depth);
    answer("types", "%u %u", is.from_type, is.to_type);
    answer("pitches", "%d %d %d %d", (int)is.from_pitch, (int)is.to_pitch, (int)is.from_height,
            (int)is.to_height);
    answer("offsets", "%d %d %d", (int)is.to_x, (int)is.to_y, (int)is.to_z);
    answer("base", "%d %d", (int)(is.to_device - d),
            (int)((char *)(uintptr_t)is.from_host - pinned));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    PROBE("launch", cu.cuGraphLaunch(exec, s) * 1000 + cu.cuStreamSynchronize(s));
}

static void fills(void) {
    open_copies();
    PROBE("rows_32", cu.cuMemsetD2D32Async(d, ROW, 1, 4, 4, s));
    PROBE("rows_16", cu.cuMemsetD2D16Async(d, ROW, 1, 4, 4, s));
    PROBE("rows_32_odd_pitch", cu.cuMemsetD2D32Async(d, ROW + 2, 1, 4, 4, s));
    PROBE("rows_32_odd_pitch_1", cu.cuMemsetD2D32Async(d, ROW + 2, 1, 4, 1, s));
    PROBE("rows_16_odd_pitch", cu.cuMemsetD2D16Async(d, ROW + 1, 1, 4, 4, s));
    PROBE("rows_32_odd_address", cu.cuMemsetD2D32Async(d + 2, ROW, 1, 4, 4, s));
    PROBE("rows_32_pitch_small", cu.cuMemsetD2D32Async(d, 12, 1, 4, 4, s));
    PROBE("rows_32_pitch_just", cu.cuMemsetD2D32Async(d, 16, 1, 4, 4, s));
    PROBE("rows_32_pitch_0", cu.cuMemsetD2D32Async(d, 0, 1, 4, 4, s));
    PROBE("rows_32_pitch_0_1", cu.cuMemsetD2D32Async(d, 0, 1, 4, 1, s));
    PROBE("rows_32_width_0", cu.cuMemsetD2D32Async(d, ROW, 1, 0, 4, s));
    PROBE("rows_32_rows_0", cu.cuMemsetD2D32Async(d, ROW, 1, 4, 0, s));
    PROBE("rows_32_rows_0_wild", cu.cuMemsetD2D32Async(18, ROW, 1, 4, 0, s));
    PROBE("rows_32_last", cu.cuMemsetD2D32Async(d + ALL - 3 * ROW - 16, ROW, 1, 4, 4, s));
    PROBE("rows_32_past_end", cu.cuMemsetD2D32Async(d + ALL - 3 * ROW - 12, ROW, 1, 4, 4, s));
    PROBE("rows_32_pinned", cu.cuMemsetD2D32Async(host, ROW, 1, 4, 4, s));
    PROBE("rows_32_pageable", cu.cuMemsetD2D32Async((ptr)(uintptr_t)pageable, ROW, 1, 4, 4, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
}


/* What the first run left open: pageable sources, the per-thread stream, whether copies are right
   (after a wait for the fill before them). */
static void more_batches(void) {
    batch b;
    char question[60], got[ALL];
    open_copies();
    cu.cuCtxSynchronize();
    BATCH("from_pageable", b.from[2] = (ptr)(uintptr_t)pageable);
    PROBE("from_pageable_right",
            (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(got, d, ALL),
                    memcmp(got + 128, pageable, 64) == 0));
    memset(got, 1, sizeof got);
    BATCH("from_stack", b.from[2] = (ptr)(uintptr_t)got);
    BATCH("pageable_during", (b.from[2] = (ptr)(uintptr_t)pageable, b.list[0].order = DURING_CALL));
    BATCH("pageable_any", (b.from[2] = (ptr)(uintptr_t)pageable, b.list[0].order = ANY));
    b = usual_batch();
    PROBE("per_thread", run(&b, (void *)(uintptr_t)2));
    PROBE("sync", cu.cuCtxSynchronize());
    b = usual_batch();
    b.sizes[0] = 1;
    b.sizes[1] = 3;
    b.from[2] = host + 65;
    PROBE("odd", run(&b, s));
    PROBE("sync_odd", cu.cuStreamSynchronize(s));
}
static void rights(void) {
    copy_3d c;
    copy_op o[2];
    char got[ALL];
    void *graph = NULL, *exec = NULL;
    open_copies();
    cu.cuCtxSynchronize();
    c = usual();
    c.from_x = 4, c.from_y = 1, c.from_z = 2, c.to_x = 8, c.to_y = 3, c.to_z = 1;
    PROBE("copy", cu.cuMemcpy3DAsync_v2(&c, s) * 1000 + cu.cuStreamSynchronize(s));
    cu.cuMemcpyDtoH_v2(got, d, ALL);
    PROBE("right",
            got[(1 * ROWS + 3) * ROW + 8] == pinned[(2 * ROWS + 1) * ROW + 4] &&
                    got[(2 * ROWS + 4) * ROW + 8 + 15] == pinned[(3 * ROWS + 2) * ROW + 4 + 15]);
    o[0] = o[1] = usual_op();
    o[1].to.address += ROW * ROWS * 2;
    PROBE("batch", cu.cuMemcpy3DBatchAsync_v2(2, o, 0, s) * 1000 + cu.cuStreamSynchronize(s));
    cu.cuMemcpyDtoH_v2(got, d, ALL);
    PROBE("batch_right",
            got[(ROWS + 1) * ROW + 15] == pinned[(ROWS + 1) * ROW + 15] &&
                    got[3 * ROWS * ROW] == pinned[ROWS * ROW]);
    cu.cuMemsetD32_v2(d, 0, ALL / 4);
    cu.cuCtxSynchronize();
    c = usual();
    c.to_x = 8;
    c.to_z = 1;
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemcpy3DAsync_v2(&c, s);
    cu.cuStreamEndCapture(s, &graph);
    cu.cuGraphInstantiateWithFlags(&exec, graph, 0);
    PROBE("graph", cu.cuGraphLaunch(exec, s) * 1000 + cu.cuStreamSynchronize(s));
    cu.cuMemcpyDtoH_v2(got, d, ALL);
    PROBE("graph_right", got[(2 * ROWS + 1) * ROW + 8 + 15] == pinned[(ROWS + 1) * ROW + 15]);
}
/* A node of a copy in two dimensions with offsets; without pitches. */
static void nodes_2d(void) {
    copy_2d c;
    copy_3d is;
    void *graph = NULL, *node = NULL;
    size_t one = 1;
    int k;
    char question[40];
    open_copies();
    for (k = 0; k < 3; k++) {
        memset(&c, 0, sizeof c);
        c.from_type = k == 2 ? UNIFIED : HOST;
        c.from_host = pinned;
        c.from_device = host;
        c.to_type = k == 2 ? UNIFIED : DEVICE;
        c.to_device = d;
        c.from_pitch = c.to_pitch = k == 1 ? 0 : ROW;
        c.width = 16;
        c.height = 3;
        c.to_x = 8;
        c.to_y = 1;
        cu.cuStreamBeginCapture_v2(s, 1);
        cu.cuMemcpy2DAsync_v2(&c, s);
        cu.cuStreamEndCapture(s, &graph);
        one = 1;
        cu.cuGraphGetNodes(graph, &node, &one);
        memset(&is, 0, sizeof is);
        snprintf(question, sizeof question, "params_%d", k);
        if (skipped(question)) continue;
        one = (size_t)cu.cuGraphMemcpyNodeGetParams(node, &is);
        answer(question, "%d %d %d %d %d %d %d %d %d %d %u %u %d", (int)one, (int)is.width,
                (int)is.height, (int)is.depth, (int)is.from_pitch, (int)is.from_height,
                (int)is.to_pitch, (int)is.to_height, (int)is.to_x, (int)is.to_y, is.from_type,
                is.to_type, (int)(is.to_device - d));
    }
}
/* A copy between devices, where no context is current. */
static void between_devices(void) {
    ptr p = 0, q = 0;
    open_all();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuMemAlloc_v2(&p, 64);
    cu.cuCtxSetCurrent(context[1]);
    cu.cuMemAlloc_v2(&q, 64);
    PROBE("to_this", cu.cuMemcpyDtoDAsync_v2(p, q, 64, s));
    cu.cuCtxSetCurrent(NULL);
    PROBE("peer", cu.cuMemcpyPeerAsync(p, context[0], q, context[1], 64, s));
    PROBE("in_one", cu.cuMemcpyDtoDAsync_v2(p, p + 32, 16, s));
    PROBE("from_host", cu.cuMemcpyHtoDAsync_v2(q, &p, sizeof p, s));
    PROBE("device_to_device", cu.cuMemcpyDtoDAsync_v2(p, q, 64, s));
}
const group copy_groups[] = {
    { "copy3d", shapes, 1 },
    { "copy3d_peer", peers, 1 },
    { "batch", batches, 1 },
    { "batch_wild", wild, 1 },
    { "batch_times", times, 1 },
    { "batch_3d", batches_3d, 1 },
    { "copy_capture", captures, 1 },
    { "copy3d_node", nodes, 1 },
    { "fill_rows", fills, 1 },
    { "batch_more", more_batches, 1 },
    { "rights", rights, 1 },
    { "node_2d", nodes_2d, 1 },
    { "copy_devices", between_devices, 2 },
    { NULL, NULL, 0 },
};
