/* batch.c - many short launches: one by one, as graphs that the driver captures, as batches, and as
   graphs of CuPy and PyTorch (peer.py). Times include the device's work: a burst waits for it. The
   context is current. */
#include "peer.h"

enum { LAUNCHES = 1000, MOST_CHAINS = 16, ROUNDS = 20, BURSTS = 6, CALLS = 5 };
static int launches = LAUNCHES; /* in each graph and batch */

#define KERNEL(version, target, body) \
    ".version " version "\n.target " target "\n.address_size 64\n" \
    ".visible .entry four(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 f) { " body \
    "ret; }\n"
static gpuexec_context context;
static gpuexec_stream stream;
static gpuexec_kernel empty, waits; /* waits: for its predecessor; {0} if the device cannot */
static gxi_driver cu;               /* the driver's entry points */
static struct CUstream_st *queue, *others[MOST_CHAINS];
static struct CUevent_st *fork_event, *join_events[MOST_CHAINS];
static gpuexec_ptr a = 256, b = 512;
static int n = 1000, missed;
static float factor = 2;
static void *params[4];

static void must(int ok) {
    if (ok) return;
    fprintf(stderr, "a call failed: %s\n", gpuexec_error_text());
    exit(1);
}

/* --- graphs that the driver captures ---------------------------------------------------------- */

typedef struct graph {
    struct CUgraph_st *native;
    struct CUgraphExec_st *exec;
    struct CUgraphNode_st **nodes;
} graph;

static int raw_launch(gpuexec_kernel kernel, struct CUstream_st *on, int early) {
    struct CUfunc_st *const function = gpuexec_kernel_native(kernel);
    gxi_launch_attribute attribute;
    gxi_launch_config config;
    if (!early) return cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, on, params, NULL);
    memset(&attribute, 0, sizeof attribute);
    attribute.id = GXI_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.number = 1;
    config.dims = gpuexec_grid(4, 256, 0);
    config.stream = on;
    config.attributes = &attribute;
    config.count = 1;
    return cu.cuLaunchKernelEx(&config, function, params, NULL);
}
static graph raw_graph(int count, int chains, gpuexec_kernel kernel, int early) {
    graph g;
    int i, bad = cu.cuStreamBeginCapture(queue, GPUEXEC_CAPTURE_GLOBAL);
    memset(&g, 0, sizeof g);
    if (chains > 1) bad |= cu.cuEventRecord(fork_event, queue);
    for (i = 1; i < chains; i++) bad |= cu.cuStreamWaitEvent(others[i], fork_event, 0);
    for (i = 0; i < count; i++)
        bad |= raw_launch(kernel, i % chains ? others[i % chains] : queue, early && i);
    for (i = 1; i < chains; i++)
        bad |= cu.cuEventRecord(join_events[i], others[i]) |
                cu.cuStreamWaitEvent(queue, join_events[i], 0);
    bad |= cu.cuStreamEndCapture(queue, &g.native) |
            cu.cuGraphInstantiateWithFlags(&g.exec, g.native, 0);
    must(!bad);
    return g;
}
static void list_nodes(graph *g) {
    size_t count = (size_t)launches;
    g->nodes = (struct CUgraphNode_st **)calloc(count, sizeof *g->nodes);
    must(g->nodes && cu.cuGraphGetNodes(g->native, g->nodes, &count) == 0 &&
            count == (size_t)launches);
}
static void raw_destroy(graph g) {
    must((cu.cuGraphExecDestroy(g.exec) | cu.cuGraphDestroy(g.native)) == 0);
}

/* --- batches ---------------------------------------------------------------------------------- */

static gpuexec_batch our_batch(int count, gpuexec_batch_order order, gpuexec_kernel kernel) {
    gpuexec_batch_desc desc;
    gpuexec_batch batch;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.order = order;
    batch = gpuexec_batch_create(context, &desc);
    for (i = 0; i < count; i++)
        must(gpuexec_batch_add(
                     batch, kernel, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(a, b, n, factor)) == i);
    return batch;
}

/* --- ways: each burst ends with a wait, and takes that long for each launch ------------------- */

static graph chain, early_chain, eight;
static gpuexec_batch in_order, early, side_by_side;

static double since(double begin, int bad) {
    must(!bad && cu.cuStreamSynchronize(queue) == 0);
    return (microseconds() - begin) / launches;
}
#define WAY(name, work) \
    static double name(int calls) { \
        const double begin = microseconds(); \
        int i, bad = 0; \
        for (i = 0; i < calls; i++) bad |= (int)(work); \
        return since(begin, bad); \
    }
static int launch_all(void) {
    int i, bad = 0;
    for (i = 0; i < launches; i++) bad |= raw_launch(empty, queue, 0);
    return bad;
}
/* Another value of the last argument for each launch. */
static int raw_change(const graph *g) {
    gxi_kernel_node node = { NULL, { 4, 1, 1, 256, 1, 1, 0 }, params, NULL };
    int i, bad = 0;
    node.function = gpuexec_kernel_native(empty);
    for (i = 0; i < launches; i++) {
        factor += 1;
        bad |= cu.cuGraphExecKernelNodeSetParams(g->exec, g->nodes[i], &node);
    }
    return bad | cu.cuGraphLaunch(g->exec, queue);
}
static int our_change(gpuexec_batch batch) {
    int i, bad = 0;
    for (i = 0; i < launches; i++) {
        factor += 1;
        bad |= (int)gpuexec_batch_set(batch, i, 3, &factor, sizeof factor);
    }
    return bad | (int)gpuexec_batch_launch(batch, stream);
}
static int raw_make(int chains) {
    const graph g = raw_graph(launches, chains, empty, 0);
    const int bad = cu.cuGraphLaunch(g.exec, queue);
    raw_destroy(g);
    return bad;
}
static int our_make(gpuexec_batch_order order) {
    const gpuexec_batch batch = our_batch(launches, order, empty);
    const int bad = (int)gpuexec_batch_launch(batch, stream);
    return bad | (int)gpuexec_batch_destroy(batch);
}
#define WAIT cu.cuStreamSynchronize(queue)
WAY(raw_each, launch_all())
WAY(raw_chain, cu.cuGraphLaunch(chain.exec, queue))
WAY(our_chain, gpuexec_batch_launch(in_order, stream))
WAY(raw_early, cu.cuGraphLaunch(early_chain.exec, queue))
WAY(our_early, gpuexec_batch_launch(early, stream))
WAY(raw_eight, cu.cuGraphLaunch(eight.exec, queue))
WAY(our_eight, gpuexec_batch_launch(side_by_side, stream))
WAY(raw_change_chain, raw_change(&chain) | WAIT)
WAY(our_change_chain, our_change(in_order) | (int)WAIT)
WAY(raw_change_eight, raw_change(&eight) | WAIT)
WAY(our_change_eight, our_change(side_by_side) | (int)WAIT)
WAY(raw_change_chain_on, raw_change(&chain))
WAY(our_change_chain_on, our_change(in_order))
WAY(raw_change_eight_on, raw_change(&eight))
WAY(our_change_eight_on, our_change(side_by_side))
WAY(raw_make_chain, raw_make(1))
WAY(our_make_chain, our_make(GPUEXEC_BATCH_IN_ORDER))
WAY(raw_make_eight, raw_make(8))
WAY(our_make_eight, our_make(GPUEXEC_BATCH_INDEPENDENT))

static peer peers[2] = { { "cupy-graph", 0, 0, 0, "" }, { "torch-graph", 0, 0, 0, "" } };
static double peer_graph(int calls) { return peer_burst(&peers[0], calls) / LAUNCHES; }
static double torch_graph(int calls) { return peer_burst(&peers[1], calls) / LAUNCHES; }

/* One row for each way; a limit: to the way before it. */
static void rows(const char *const *names, const burst_function *ways, const double *limits,
        unsigned count, int calls) {
    unsigned i;
    contest(ways, count, smoke() ? 2 : ROUNDS, smoke() ? 2 : BURSTS, smoke() ? 2 : calls);
    for (i = 0; i < count; i++) {
        printf("| %s | %.3f | %.3f |", names[i], contest_time(i), contest_ratio(i, 0));
        if (limits[i] > 0) {
            const double ratio = contest_ratio(i, i - 1);
            printf(" %.3f (at most %.2f)", ratio, limits[i]);
            missed += ratio > limits[i];
        }
        puts(" |");
    }
    fflush(stdout);
}
static void table(const char *title, const char *first) {
    printf("\n### %s\n\nmicroseconds for each launch, with the device's work\n\n"
           "| way | time | to %s | to the driver's in the row above |\n|---|---|---|---|\n",
            title, first);
}

/* --- how many launches, and how many chains, a batch should use ------------------------------- */

static graph small_graph;
static gpuexec_batch small_batch;
static int small_launches(void) {
    int i, bad = 0;
    for (i = 0; i < launches; i++)
        bad |= (int)gpuexec_launch(
                empty, stream, gpuexec_grid(4, 256, 0), GPUEXEC_ARGS(a, b, n, factor));
    return bad;
}
WAY(small_each, small_launches())
WAY(small_raw, cu.cuGraphLaunch(small_graph.exec, queue))
WAY(small_ours, gpuexec_batch_launch(small_batch, stream))
WAY(small_each_waits, small_launches() | (int)WAIT)
WAY(small_raw_waits, cu.cuGraphLaunch(small_graph.exec, queue) | WAIT)
WAY(small_ours_waits, (int)gpuexec_batch_launch(small_batch, stream) | (int)WAIT)

static void small_row(int count, const burst_function *ways) {
    const int all = launches;
    launches = count;
    small_graph = raw_graph(count, 1, empty, 0);
    small_batch = our_batch(count, GPUEXEC_BATCH_IN_ORDER, empty);
    contest(ways, 3, smoke() ? 2 : ROUNDS, smoke() ? 2 : BURSTS, smoke() ? 2 : 100);
    printf("| %d | %.3f | %.3f | %.3f |\n", count, contest_time(0), contest_time(1),
            contest_time(2));
    fflush(stdout);
    raw_destroy(small_graph);
    check(gpuexec_batch_destroy(small_batch));
    launches = all;
}
static void small_table(const char *title, const burst_function *ways) {
    int count;
    printf("\n### %s\n\nmicroseconds for each launch\n\n"
           "| launches | gpuexec_launch | the driver's graph | gpuexec_batch_launch "
           "|\n|---|---|---|---|\n",
            title);
    for (count = 1; count <= 8; count = count < 4 ? count + 1 : 2 * count) small_row(count, ways);
}
static graph chained[5];
WAY(chains_1, cu.cuGraphLaunch(chained[0].exec, queue))
WAY(chains_2, cu.cuGraphLaunch(chained[1].exec, queue))
WAY(chains_4, cu.cuGraphLaunch(chained[2].exec, queue))
WAY(chains_8, cu.cuGraphLaunch(chained[3].exec, queue))
WAY(chains_16, cu.cuGraphLaunch(chained[4].exec, queue))

static void begin(void) {
    gpuexec_device_info info;
    gpuexec_stream_desc desc;
    int i;
    context = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(context, NULL);
    queue = gpuexec_stream_native(stream);
    empty = gpuexec_kernel_get(
            gpuexec_module_load(context, KERNEL("7.0", "sm_70", ""), 0, NULL), "four");
    check(gpuexec_device_get_info(0, &info));
    if (info.compute_capability >= 90)
        waits = gpuexec_kernel_get(
                gpuexec_module_load(
                        context, KERNEL("7.8", "sm_90", "griddepcontrol.wait; "), 0, NULL),
                "four");
    check(gpuexec_take_error());
    memset(&desc, 0, sizeof desc);
    desc.non_blocking = 1;
    fork_event = gpuexec_event_native(gpuexec_event_create(context, NULL));
    for (i = 1; i < MOST_CHAINS; i++) {
        others[i] = gpuexec_stream_native(gpuexec_stream_create(context, &desc));
        join_events[i] = gpuexec_event_native(gpuexec_event_create(context, NULL));
    }
    params[0] = &a;
    params[1] = &b;
    params[2] = &n;
    params[3] = &factor;
    cu = gxi.cu;
    must(calls_find().cuCtxSetCurrent(gpuexec_context_native(context)) == 0);
    if (smoke()) launches = 20;
}

int main(void) {
    static const char *const replay_names[] = { "cuLaunchKernel", "captured: one chain",
        "batch in order", "captured: programmatic", "programmatic batch", "captured: eight chains",
        "independent batch" };
    static const double replay_limits[] = { 0, 0, 1.02, 0, 1.02, 0, 1.05 },
                        pair_limits[] = { 0, 1.05 }, make_limits[] = { 0, 1.00 },
                        no_limits[5] = { 0 };
    static const char *const change_names[] = { "cuGraphExecKernelNodeSetParams, cuGraphLaunch",
        "gpuexec_batch_set, gpuexec_batch_launch" };
    static const char *const make_names[] = { "capture, instantiate, launch, destroy",
        "batch: create, add, launch, destroy" };
    static const char *const chain_names[] = { "1 chain", "2", "4", "8", "16" };
    static const char *const peer_names[] = { "gpuexec: batch in order", "CuPy", "PyTorch" };
    static const burst_function replays[] = { raw_each, raw_chain, our_chain, raw_early, our_early,
        raw_eight, our_eight };
    static const burst_function eights[] = { raw_each, raw_chain, our_chain, raw_eight, our_eight };
    static const char *const eight_names[] = { "cuLaunchKernel", "captured: one chain",
        "batch in order", "captured: eight chains", "independent batch" };
    static const double eight_limits[] = { 0, 0, 1.02, 0, 1.05 };
    static const burst_function changes[4][2] = {
        { raw_change_chain, our_change_chain },
        { raw_change_eight, our_change_eight },
        { raw_change_chain_on, our_change_chain_on },
        { raw_change_eight_on, our_change_eight_on },
    };
    static const char *const change_titles[] = {
        "One argument of each launch changes, then a replay and a wait: one chain",
        "The same: eight chains", "The same without waiting: one chain",
        "The same without waiting: eight chains"
    };
    static const burst_function makes[2][2] = {
        { raw_make_chain, our_make_chain },
        { raw_make_eight, our_make_eight },
    };
    static const burst_function chain_ways[] = { chains_1, chains_2, chains_4, chains_8,
        chains_16 };
    static const burst_function small[2][3] = {
        { small_each, small_raw, small_ours },
        { small_each_waits, small_raw_waits, small_ours_waits },
    };
    burst_function others_too[3];
    const char *others_names[3];
    unsigned count = 1;
    int i, has_early;
    begin();
    has_early = waits.id && GXI_HAS(cuGraphAddDependencies);
    printf("\n## Batches\n\n%d empty kernels with four arguments; interleaved\n", launches);
    chain = raw_graph(launches, 1, empty, 0);
    eight = raw_graph(launches, 8, empty, 0);
    list_nodes(&chain);
    list_nodes(&eight);
    in_order = our_batch(launches, GPUEXEC_BATCH_IN_ORDER, empty);
    side_by_side = our_batch(launches, GPUEXEC_BATCH_INDEPENDENT, empty);
    if (has_early) {
        early_chain = raw_graph(launches, 1, waits, 1);
        early = our_batch(launches, GPUEXEC_BATCH_PROGRAMMATIC, waits);
    }
    table("Replays", "cuLaunchKernel");
    if (has_early) rows(replay_names, replays, replay_limits, 7, CALLS);
    else rows(eight_names, eights, eight_limits, 5, CALLS);
    for (i = 0; i < 4; i++) {
        table(change_titles[i], "the driver");
        rows(change_names, changes[i], pair_limits, 2, CALLS);
    }
    for (i = 0; i < 2; i++) {
        table(i ? "Made, launched once and destroyed: eight chains"
                : "Made, launched once and destroyed: one chain",
                "the driver");
        rows(make_names, makes[i], make_limits, 2, 2);
    }
    small_table("Few launches, without waiting", small[0]);
    small_table("Few launches, with a wait after each replay", small[1]);
    for (i = 0; i < 5; i++) chained[i] = raw_graph(launches, 1 << i, empty, 0);
    table("Captured chains side by side", "one chain");
    rows(chain_names, chain_ways, no_limits, 5, CALLS);
    if (!smoke()) {
        others_too[0] = our_chain;
        others_names[0] = peer_names[0];
        for (i = 0; i < 2; i++) {
            if (!peer_begins(&peers[i])) {
                printf("\n%s: not possible: %s\n", peers[i].name, peers[i].says);
                continue;
            }
            others_too[count] = i ? torch_graph : peer_graph;
            others_names[count++] = peer_names[1 + i];
        }
        table("Graphs of Python's libraries, one chain", "the batch");
        rows(others_names, others_too, no_limits, count, CALLS);
        for (i = 0; i < 2; i++) peer_ends(&peers[i]);
    }
    if (missed && !smoke()) printf("\n%d of these ratios missed their bounds\n", missed);
    return gpuexec_shutdown() != GPUEXEC_OK || (missed && !smoke());
}
