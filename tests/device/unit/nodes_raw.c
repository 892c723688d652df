/* nodes_raw.c - graphs that the program builds node by node, through the driver's own calls: what
   each kind of node does when the graph is launched, with parameters and attributes set before and
   after it was instantiated; then random graphs beside a model on the host. What the calls refuse
   is in ../probe. The suite keeps the CPU device faithful, and shows what the library can rely
   on. */
#include "../../test.h"
#include <sched.h>

typedef unsigned long long ptr; /* CUdeviceptr */
enum { WORDS = 1024, INVALID_VALUE = 1, LOSSY_QUERY = 402, UPDATE_FAILURE = 910 };
enum {
    KERNEL,
    MEMCPY,
    MEMSET,
    HOST_FUNCTION,
    CHILD,
    EMPTY,
    WAIT,
    RECORD,
    ALLOC = 10,
    FREE,
    CONDITIONAL = 13
};                         /* CUgraphNodeType */
enum { HOST = 1, DEVICE }; /* CUmemorytype */

/* CUDA_KERNEL_NODE_PARAMS_v2 */
typedef struct kernel_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra, *kernel, *context;
} kernel_params;
/* half of a CUDA_MEMCPY3D */
typedef struct end {
    size_t x, y, z, lod;
    unsigned type;
    void *host;
    ptr device;
    void *array, *reserved;
    size_t pitch, height;
} end;
typedef struct copy_params {
    end from, to;
    size_t width, height, depth;
} copy_params;
typedef struct fill_params {
    ptr to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} fill_params;
typedef struct host_params {
    void (*function)(void *);
    void *user;
} host_params;
/* CUDA_MEM_ALLOC_NODE_PARAMS */
typedef struct alloc_params {
    int type, handles;
    struct {
        int type, id;
    } at;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
    const void *views;
    size_t nviews, bytes;
    ptr address;
} alloc_params;

/* CUgraphNodeParams */
typedef struct node_params {
    int type, reserved[3];
    union {
        kernel_params kernel;
        struct {
            int flags, reserved;
            void *context;
            copy_params p;
        } copy;
        struct {
            fill_params p;
            void *context;
        } fill;
        host_params host;
        struct {
            void *graph;
            int ownership;
        } child;
        void *event;
        alloc_params alloc;
        ptr free;
        struct {
            uint64_t handle;
            int type;
            unsigned size;
            void **graphs, *context;
        } conditional;
        long long all[29];
    } of;
    long long end;
} node_params;
typedef struct edge_data {
    unsigned char from_port, to_port, type, reserved[5];
} edge_data;
typedef union attribute_value {
    char size[64];
    int cooperative, priority;
    unsigned cluster[3];
} attribute_value;
enum { COOPERATIVE = 2, CLUSTER = 4, SERIALIZATION = 6, PRIORITY = 8 }; /* CUlaunchAttributeID */
typedef struct update_result {
    int result;
    void *node, *from;
} update_result;


static driver_calls cu;

static const char text[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        /* *to = *a * 3 + *b * 7 + by */
        ".visible .entry mix(.param .u64 to, .param .u64 a, .param .u64 b, .param .u32 by) {\n"
        "    .reg .u32 %r, %s, %c; .reg .u64 %t, %a, %b;\n"
        "    ld.param.u64 %t, [to]; ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u32 %c, "
        "[by];\n"
        "    ld.global.u32 %r, [%a]; ld.global.u32 %s, [%b]; mad.lo.u32 %c, %r, 3, %c; mad.lo.u32 "
        "%c, %s, 7, %c;\n"
        "    st.global.u32 [%t], %c; ret;\n}\n";

static void *context, *module, *mix, *stream;
static ptr data;         /* WORDS words of device memory */
static uint32_t *pinned; /* and of pinned memory */

static const char *start(void) {
    void *p = NULL;
    if (gpuexec_device_count() < 1) return "needs a device";
    if (gpuexec_driver_version() < 12000) return "needs a driver for CUDA 12.0";
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuModuleLoadData(&module, text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&mix, module, "mix"), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream, 1), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&data, WORDS * 4), 0);
    CHECK_EQ(cu.cuMemsetD32_v2(data, 0, WORDS), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0); /* the stream does not wait for it */
    CHECK_EQ(cu.cuMemAllocHost_v2(&p, WORDS * 4), 0);
    if (!p) exit(1);
    pinned = (uint32_t *)p;
    memset(p, 0, WORDS * 4);
    return NULL;
}
#define START() \
    do { \
        const char *why = start(); \
        if (why) SKIP(why); \
    } while (0)
static void finish(void) {
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    CHECK_EQ(cu.cuMemFree_v2(data), 0);
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
    cu.cuCtxSetCurrent(NULL);
}

/* ---- parameters ---- */

static ptr word(unsigned i) { return data + 4 * i; }
static uint32_t mixed(uint32_t a, uint32_t b, uint32_t by) { return a * 3 + b * 7 + by; }

typedef struct mix_call {
    ptr to, a, b;
    uint32_t by;
    void *at[4];
    kernel_params p;
} mix_call;
static const kernel_params *mix_of(mix_call *c, ptr to, ptr a, ptr b, uint32_t by) {
    memset(c, 0, sizeof *c);
    c->to = to;
    c->a = a;
    c->b = b;
    c->by = by;
    c->at[0] = &c->to;
    c->at[1] = &c->a;
    c->at[2] = &c->b;
    c->at[3] = &c->by;
    c->p.function = mix;
    c->p.grid[0] = c->p.grid[1] = c->p.grid[2] = c->p.block[0] = c->p.block[1] = c->p.block[2] = 1;
    c->p.params = c->at;
    return &c->p;
}
/* An address of device memory, or of pinned memory. */
static void set_end(end *e, ptr at, const void *host) {
    e->type = host ? HOST : DEVICE;
    e->device = host ? 0 : at;
    memcpy(&e->host, &host, sizeof host);
}
static copy_params copy_of(
        ptr to, const void *to_host, ptr from, const void *from_host, size_t bytes) {
    copy_params p;
    memset(&p, 0, sizeof p);
    set_end(&p.to, to, to_host);
    set_end(&p.from, from, from_host);
    p.width = bytes;
    p.height = p.depth = 1;
    return p;
}
static fill_params fill_of(ptr to, uint32_t value, size_t words) {
    fill_params p;
    memset(&p, 0, sizeof p);
    p.to = to;
    p.value = value;
    p.element = 4;
    p.width = words;
    p.height = 1;
    return p;
}
static alloc_params alloc_of(size_t bytes) {
    alloc_params p;
    memset(&p, 0, sizeof p);
    p.type = 1;
    p.at.type = 1;
    p.bytes = bytes;
    return p;
}
static void count_up(void *n) { ++*(uint32_t *)n; }

/* ---- nodes; before: those to depend on, NULL is skipped ---- */

static void *graph_new(void) {
    void *g = NULL;
    CHECK_EQ(cu.cuGraphCreate(&g, 0), 0);
    return g;
}
static void *add_mix(void *g, void *before, ptr to, ptr a, ptr b, uint32_t by) {
    mix_call c;
    void *node = NULL;
    CHECK_EQ(
            cu.cuGraphAddKernelNode_v2(&node, g, &before, before != NULL, mix_of(&c, to, a, b, by)),
            0);
    return node;
}
static void *add_copy(void *g, void *before, copy_params p) {
    void *node = NULL;
    CHECK_EQ(cu.cuGraphAddMemcpyNode(&node, g, &before, before != NULL, &p, context), 0);
    return node;
}
static void *add_fill(void *g, void *before, fill_params p) {
    void *node = NULL;
    CHECK_EQ(cu.cuGraphAddMemsetNode(&node, g, &before, before != NULL, &p, context), 0);
    return node;
}
static void *add_host(void *g, void *before, void (*function)(void *), void *user) {
    host_params p;
    void *node = NULL;
    p.function = function;
    p.user = user;
    CHECK_EQ(cu.cuGraphAddHostNode(&node, g, &before, before != NULL, &p), 0);
    return node;
}
static void *made(void *g) {
    void *x = NULL;
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&x, g, 0), 0);
    return x;
}
static void run(void *x) {
    CHECK_EQ(cu.cuGraphLaunch(x, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
}
static void set_word(unsigned i, uint32_t value) {
    CHECK_EQ(cu.cuMemsetD32_v2(word(i), value, 1), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
}
static uint32_t value_of(ptr at) {
    uint32_t value = 0;
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&value, at, 4), 0);
    return value;
}

/* ---- what each kind does ---- */

TEST(each_kind_of_node_works) {
    void *g, *x, *node, *child, *first = NULL, *second = NULL, *event = NULL;
    uint32_t calls = 0, i;
    alloc_params memory = alloc_of(4096);
    START();
    g = graph_new();
    child = graph_new();
    CHECK_EQ(cu.cuEventCreate(&first, 2), 0);
    CHECK_EQ(cu.cuEventCreate(&second, 2), 0);
    CHECK_EQ(cu.cuEventRecord(first, stream), 0);
    pinned[0] = 5;
    node = add_copy(g, NULL, copy_of(word(0), NULL, 0, pinned, 4));
    node = add_fill(g, node, fill_of(word(1), 9, 1));
    node = add_mix(g, node, word(2), word(0), word(1), 1);
    CHECK_EQ(cu.cuGraphAddEmptyNode(&node, g, &node, 1), 0);
    CHECK_EQ(cu.cuGraphAddEventWaitNode(&node, g, &node, 1, first), 0);
    CHECK_EQ(cu.cuGraphAddMemAllocNode(&node, g, &node, 1, &memory), 0);
    CHECK(memory.address != 0);
    node = add_mix(g, node, memory.address, word(2), word(2), 2);
    add_mix(child, add_mix(child, NULL, word(3), memory.address, word(0), 3), word(4), word(3),
            word(3), 4);
    CHECK_EQ(cu.cuGraphAddChildGraphNode(&node, g, &node, 1, child), 0);
    CHECK_EQ(cu.cuGraphDestroy(child), 0); /* the node has a copy */
    CHECK_EQ(cu.cuGraphAddMemFreeNode(&node, g, &node, 1, memory.address), 0);
    node = add_host(g, node, count_up, &calls);
    CHECK_EQ(cu.cuGraphAddEventRecordNode(&event, g, &node, 1, second), 0);
    add_copy(g, event, copy_of(0, &pinned[1], word(4), NULL, 4));
    x = made(g);
    for (i = 1; i <= 3; i++) {
        const uint32_t a = mixed(5, 9, 1), b = mixed(a, a, 2), c = mixed(b, 5, 3);
        pinned[1] = 0;
        run(x);
        CHECK_EQ(pinned[1], mixed(c, c, 4));
        CHECK_EQ(calls, i);
        CHECK_EQ(cu.cuEventQuery(second), 0);
    }
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(first), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(second), 0);
    finish();
}

/* Parameters of the graph's node are those of later executable graphs; those of a child's node are
   in the copy. */
TEST(kernels_get_new_parameters) {
    void *g, *x, *y, *node, *child, *inner, *there = NULL, *list[1];
    mix_call c;
    size_t n = 1;
    START();
    g = graph_new();
    child = graph_new();
    node = add_mix(g, NULL, word(1), word(0), word(0), 1);
    inner = add_mix(child, NULL, word(2), word(0), word(0), 10);
    CHECK_EQ(cu.cuGraphAddChildGraphNode(&there, g, NULL, 0, child), 0);
    CHECK_EQ(cu.cuGraphChildGraphNodeGetGraph(there, &there), 0);
    CHECK_EQ(cu.cuGraphGetNodes(there, list, &n), 0);
    CHECK(list[0] != inner);
    x = made(g);
    CHECK_EQ(cu.cuGraphKernelNodeSetParams_v2(node, mix_of(&c, word(1), word(0), word(0), 2)), 0);
    y = made(g);
    CHECK_EQ(cu.cuGraphExecKernelNodeSetParams_v2(
                     y, list[0], mix_of(&c, word(2), word(0), word(0), 20)),
            0);
    run(x);
    CHECK_EQ(value_of(word(1)), 1);
    CHECK_EQ(value_of(word(2)), 10);
    run(y);
    CHECK_EQ(value_of(word(1)), 2);
    CHECK_EQ(value_of(word(2)), 20);
    CHECK_EQ(
            cu.cuGraphExecKernelNodeSetParams_v2(x, node, mix_of(&c, word(1), word(0), word(0), 3)),
            0);
    run(x);
    CHECK_EQ(value_of(word(1)), 3);
    CHECK_EQ(value_of(word(2)), 10);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(y), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuGraphDestroy(child), 0);
    finish();
}

TEST(copies_fills_and_functions_get_new_parameters) {
    void *g, *x, *copy, *fill, *call, *record, *first = NULL, *second = NULL;
    uint32_t calls[2] = { 0, 0 };
    copy_params c;
    fill_params f;
    host_params h;
    START();
    CHECK_EQ(cu.cuEventCreate(&first, 2), 0);
    CHECK_EQ(cu.cuEventCreate(&second, 2), 0);
    g = graph_new();
    copy = add_copy(g, NULL, copy_of(word(0), NULL, 0, pinned, 8));
    fill = add_fill(g, copy, fill_of(word(2), 3, 2));
    call = add_host(g, fill, count_up, &calls[0]);
    CHECK_EQ(cu.cuGraphAddEventRecordNode(&record, g, &call, 1, first), 0);
    x = made(g);
    pinned[0] = 11;
    pinned[1] = 12;
    pinned[2] = 13;
    run(x);
    CHECK_EQ(value_of(word(1)), 12);
    CHECK_EQ(value_of(word(3)), 3);
    CHECK_EQ(calls[0], 1);
    c = copy_of(word(1), NULL, 0, pinned + 1, 8); /* in the executable graph: other addresses */
    CHECK_EQ(cu.cuGraphExecMemcpyNodeSetParams(x, copy, &c, context), 0);
    f = fill_of(word(3), 4, 2);
    CHECK_EQ(cu.cuGraphExecMemsetNodeSetParams(x, fill, &f, context), 0);
    h.function = count_up;
    h.user = &calls[1];
    CHECK_EQ(cu.cuGraphExecHostNodeSetParams(x, call, &h), 0);
    CHECK_EQ(cu.cuGraphExecEventRecordNodeSetEvent(x, record, second), 0);
    run(x);
    CHECK_EQ(value_of(word(2)), 13);
    CHECK_EQ(value_of(word(4)), 4);
    CHECK_EQ(calls[0], 1);
    CHECK_EQ(calls[1], 1);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    c = copy_of(word(5), NULL, word(1), NULL, 4); /* in the graph: also another kind of memory */
    CHECK_EQ(cu.cuGraphMemcpyNodeSetParams(copy, &c), 0);
    f = fill_of(word(6), 5, 3);
    CHECK_EQ(cu.cuGraphMemsetNodeSetParams(fill, &f), 0);
    CHECK_EQ(cu.cuGraphHostNodeSetParams(call, &h), 0);
    CHECK_EQ(cu.cuGraphEventRecordNodeSetEvent(record, second), 0);
    x = made(g);
    run(x);
    CHECK_EQ(value_of(word(5)), 12);
    CHECK_EQ(value_of(word(8)), 5);
    CHECK_EQ(calls[1], 2);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(first), 0);
    CHECK_EQ(cu.cuEventDestroy_v2(second), 0);
    finish();
}

TEST(a_disabled_node_does_nothing) {
    void *g, *x, *node;
    unsigned enabled = 77;
    START();
    g = graph_new();
    node = add_fill(g, NULL, fill_of(word(0), 1, 1));
    node = add_fill(g, node, fill_of(word(0), 2, 1));
    add_mix(g, node, word(1), word(0), word(0), 0);
    x = made(g);
    CHECK_EQ(cu.cuGraphNodeSetEnabled(x, node, 0), 0);
    CHECK_EQ(cu.cuGraphNodeGetEnabled(x, node, &enabled), 0);
    CHECK_EQ(enabled, 0);
    run(x);
    CHECK_EQ(value_of(word(1)), mixed(1, 1, 0));
    CHECK_EQ(cu.cuGraphNodeSetEnabled(x, node, 1), 0);
    run(x);
    CHECK_EQ(value_of(word(1)), mixed(2, 2, 0));
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    finish();
}

TEST(kernels_keep_their_attributes) {
    void *g, *x, *node, *other;
    attribute_value v;
    mix_call c;
    START();
    g = graph_new();
    node = add_mix(g, NULL, word(0), word(1), word(1), 1);
    other = add_mix(g, node, word(2), word(0), word(0), 1);
    memset(&v, 0, sizeof v);
    v.cooperative = 1;
    CHECK_EQ(cu.cuGraphKernelNodeSetAttribute(node, COOPERATIVE, &v), 0);
    v.priority = -2;
    CHECK_EQ(cu.cuGraphKernelNodeSetAttribute(node, PRIORITY, &v), 0);
    CHECK_EQ(cu.cuGraphKernelNodeSetParams_v2(node, mix_of(&c, word(0), word(1), word(1), 2)), 0);
    CHECK_EQ(cu.cuGraphKernelNodeCopyAttributes(other, node), 0);
    memset(&v, 0, sizeof v);
    CHECK_EQ(cu.cuGraphKernelNodeGetAttribute(other, COOPERATIVE, &v), 0);
    CHECK_EQ(v.cooperative, 1);
    CHECK_EQ(cu.cuGraphKernelNodeGetAttribute(other, PRIORITY, &v), 0);
    CHECK_EQ(v.priority, -2);
    x = made(g);
    run(x);
    CHECK_EQ(value_of(word(2)), mixed(2, 2, 1));
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    finish();
}

/* One call for all kinds; a kernel that may begin before the one that it depends on has ended. */
TEST(nodes_of_any_kind_from_one_call) {
    void *g, *x, *a = NULL, *b = NULL, *from[2] = { NULL, NULL }, *to[2] = { NULL, NULL };
    node_params p;
    edge_data e, got[2];
    mix_call c;
    size_t n = 2;
    START();
    if (!cu.cuGraphAddNode_v2) {
        finish();
        SKIP("needs CUDA 12.3");
    }
    g = graph_new();
    memset(&p, 0, sizeof p);
    memset(&e, 0, sizeof e);
    p.type = KERNEL;
    p.of.kernel = *mix_of(&c, word(0), word(1), word(1), 1);
    CHECK_EQ(cu.cuGraphAddNode_v2(&a, g, NULL, NULL, 0, &p), 0);
    e.from_port = 1; /* programmatic: the kernel never says when */
    e.type = 1;
    p.of.kernel = *mix_of(&c, word(2), word(1), word(1), 2);
    CHECK_EQ(cu.cuGraphAddNode_v2(&b, g, &a, &e, 1, &p), 0);
    memset(got, 0, sizeof got);
    CHECK_EQ(cu.cuGraphGetEdges_v2(g, from, to, got, &n), 0);
    CHECK_EQ(n, 1);
    CHECK(from[0] == a && to[0] == b && memcmp(got, &e, sizeof e) == 0);
    n = 2;
    CHECK_EQ(cu.cuGraphGetEdges_v2(g, from, to, NULL, &n), LOSSY_QUERY);
    memset(&p, 0, sizeof p);
    p.type = MEMSET;
    p.of.fill.p = fill_of(word(3), 9, 1);
    p.of.fill.context = context;
    CHECK_EQ(cu.cuGraphAddNode_v2(&b, g, &b, NULL, 1, &p), 0);
    x = made(g);
    run(x);
    CHECK_EQ(value_of(word(2)), 2);
    CHECK_EQ(value_of(word(3)), 9);
    p.of.fill.p.value = 10;
    CHECK_EQ(cu.cuGraphExecNodeSetParams(x, b, &p), 0);
    run(x);
    CHECK_EQ(value_of(word(3)), 10);
    p.type = MEMCPY;
    CHECK_EQ(cu.cuGraphNodeSetParams(b, &p), INVALID_VALUE); /* the kind cannot change */
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    finish();
}

static void set_flag(void *flag) { __atomic_store_n((int *)flag, 1, __ATOMIC_SEQ_CST); }

TEST(an_object_lives_as_long_as_graphs_need_it) {
    void *g, *x, *object = NULL;
    int gone = 0;
    START();
    CHECK_EQ(cu.cuUserObjectCreate(&object, &gone, set_flag, 1, 1), 0);
    g = graph_new();
    CHECK_EQ(cu.cuGraphRetainUserObject(g, object, 1, 1), 0); /* moved: no longer this thread's */
    add_fill(g, NULL, fill_of(word(0), 1, 1));
    x = made(g);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    run(x);
    CHECK_EQ(__atomic_load_n(&gone, __ATOMIC_SEQ_CST), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    TEST_UNTIL(__atomic_load_n(&gone, __ATOMIC_SEQ_CST));
    CHECK_EQ(__atomic_load_n(&gone, __ATOMIC_SEQ_CST), 1);
    finish();
}

/* A graph of that many kernels: 16 chains that meet in one node. With TEST_ALL=1 100,000: no step
   may take a time that grows with its square. */
TEST(a_graph_has_many_nodes) {
    const unsigned many = getenv("TEST_ALL") ? 100000 : 10000;
    void **nodes, *g, *x, *last = NULL;
    unsigned i;
    size_t n = many + 1;
    mix_call c;
    START();
    nodes = (void **)calloc(many + 1, sizeof *nodes);
    g = graph_new();
    for (i = 0; i < many; i++) {
        const unsigned w = i % 16;
        if (!CHECK_EQ(cu.cuGraphAddKernelNode_v2(&nodes[i], g, i < 16 ? NULL : &nodes[i - 16],
                              i >= 16, mix_of(&c, word(w), word(w), word(w), w + 1)),
                    0))
            break;
    }
    CHECK_EQ(cu.cuGraphAddEmptyNode(&last, g, &nodes[many - 16], 16), 0);
    CHECK_EQ(cu.cuGraphGetNodes(g, nodes, &n), 0);
    CHECK_EQ(n, many + 1);
    CHECK(nodes[many] == last);
    x = made(g);
    for (i = 0; i < many; i++)
        if (!CHECK_EQ(cu.cuGraphExecKernelNodeSetParams_v2(
                              x, nodes[i], mix_of(&c, word(i % 16), word(i % 16), word(16), 1)),
                    0))
            break;
    run(x);
    for (i = 0, n = 0; i < many / 16; i++) n = (n * 3 + 1) & 0xffffffffu;
    CHECK_EQ(value_of(word(0)), n);
    CHECK_EQ(value_of(word(15)), n);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    free(nodes);
    finish();
}

/* ---- several devices: kernels between which nothing is ordered run at the same time, so that they
   can wait for each other ---- */

static const char meet_text[] =
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        /* writes its word, then waits until the other one has this round, too: all threads of a
           cooperative grid */
        ".visible .entry meet(.param .u64 mine, .param .u64 other, .param .u32 rounds) {\n"
        "    .reg .u32 %r, %i, %n, %t, %b; .reg .u64 %m, %o; .reg .pred %p;\n"
        "    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; or.b32 %t, %t, %b; setp.ne.u32 %p, %t, 0; "
        "@%p ret;\n"
        "    ld.param.u64 %m, [mine]; ld.param.u64 %o, [other]; ld.param.u32 %n, [rounds]; "
        "ld.global.u32 %i, [%m];\n"
        "    add.u32 %n, %n, %i;\n"
        "NEXT: add.u32 %i, %i, 1; st.release.sys.global.u32 [%m], %i;\n"
        "WAIT: ld.acquire.sys.global.u32 %r, [%o]; sub.u32 %r, %r, %i; setp.lt.s32 %p, %r, 0; @%p "
        "bra WAIT;\n"
        "    setp.lt.u32 %p, %i, %n; @%p bra NEXT; ret;\n}\n";

TEST_MULTI(kernels_of_two_devices_meet_in_one_graph) {
    enum { ROUNDS = 20 };
    void *g, *x, *contexts[2], *modules[2], *meets[2], *node, *first = NULL;
    ptr words[2] = { 0, 0 };
    attribute_value cooperative;
    int i, can = 0;
    START();
    if (gpuexec_device_count() > 1) CHECK_EQ(cu.cuDeviceCanAccessPeer(&can, 0, 1), 0);
    if (!can) {
        finish();
        SKIP("needs two devices that access each other's memory");
    }
    contexts[0] = context;
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&contexts[1], 1), 0);
    for (i = 1; i >= 0; i--) {
        CHECK_EQ(cu.cuCtxSetCurrent(contexts[i]), 0);
        cu.cuCtxEnablePeerAccess(contexts[!i], 0); /* 704: another test did */
        CHECK_EQ(cu.cuModuleLoadData(&modules[i], meet_text), 0);
        CHECK_EQ(cu.cuModuleGetFunction(&meets[i], modules[i], "meet"), 0);
        CHECK_EQ(cu.cuMemAlloc_v2(&words[i], 4), 0);
        CHECK_EQ(cu.cuMemsetD32_v2(words[i], 0, 1), 0);
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
    }
    g = graph_new();
    memset(&cooperative, 0, sizeof cooperative);
    cooperative.cooperative = 1;
    CHECK_EQ(cu.cuGraphAddEmptyNode(&first, g, NULL, 0), 0);
    for (i = 0; i < 2; i++) {
        uint32_t rounds = ROUNDS;
        kernel_params p;
        void *params[3];
        memset(&p, 0, sizeof p);
        params[0] = &words[i];
        params[1] = &words[!i];
        params[2] = &rounds;
        p.function = meets[i];
        p.grid[0] = 2;
        p.block[0] = 32;
        p.grid[1] = p.grid[2] = p.block[1] = p.block[2] = 1;
        p.params = params;
        CHECK_EQ(cu.cuGraphAddKernelNode_v2(&node, g, &first, 1, &p), 0);
        CHECK_EQ(cu.cuGraphKernelNodeSetAttribute(node, COOPERATIVE, &cooperative), 0);
    }
    x = made(g);
    for (i = 0; i < 3; i++) run(x);
    CHECK_EQ(value_of(words[0]), 3 * ROUNDS);
    CHECK_EQ(value_of(words[1]), 3 * ROUNDS);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    for (i = 1; i >= 0; i--) {
        CHECK_EQ(cu.cuCtxSetCurrent(contexts[i]), 0);
        CHECK_EQ(cu.cuModuleUnload(modules[i]), 0);
        CHECK_EQ(cu.cuMemFree_v2(words[i]), 0);
    }
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(1), 0);
    finish();
}

/* ---- nodes that execute graphs if or while a value is set, which a kernel decides ---- */

static char decide_text[] =
        ".version 8.3\n.target sm_70\n.address_size 64\n"
        ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
        /* *at += by, which becomes the value */
        ".visible .entry decide(.param .u64 handle, .param .u64 at, .param .u32 by) {\n"
        "    .reg .u32 %r, %s; .reg .u64 %h, %a; .param .b64 h; .param .b32 v;\n"
        "    ld.param.u64 %h, [handle]; ld.param.u64 %a, [at]; ld.param.u32 %s, [by];\n"
        "    ld.global.u32 %r, [%a]; add.u32 %r, %r, %s; st.global.u32 [%a], %r;\n"
        "    st.param.b64 [h], %h; st.param.b32 [v], %r; call.uni cudaGraphSetConditional, (h, v); "
        "ret;\n}\n";
static void *decider, *decide;

/* NULL, or why there are no conditional nodes. */
static const char *load_decider(void) {
    static const char *const file = "/usr/local/cuda/lib64/libcudadevrt.a";
    void *state = NULL, *image = NULL;
    size_t bytes = 0;
    int result, version = 0;
    if (!cu.cuGraphAddNode_v2 || !cu.cuGraphConditionalHandleCreate) return "needs CUDA 12.3";
    CHECK_EQ(cu.cuDriverGetVersion(&version), 0);
    if (version < 12080) return "needs CUDA 12.8"; /* for else and switch */
    if (access(file, R_OK)) return "no libcudadevrt.a";
    CHECK_EQ(cu.cuLinkCreate_v2(0, NULL, NULL, &state), 0);
    CHECK_EQ(
            cu.cuLinkAddData_v2(state, 1, decide_text, sizeof decide_text, "decide", 0, NULL, NULL),
            0);
    result = cu.cuLinkAddFile_v2(state, 4, file, 0, NULL, NULL);
    if (!result) result = cu.cuLinkComplete(state, &image, &bytes);
    if (!result) CHECK_EQ(cu.cuModuleLoadData(&decider, image), 0);
    CHECK_EQ(cu.cuLinkDestroy(state), 0);
    if (result) return "the driver does not link this libcudadevrt.a";
    CHECK_EQ(cu.cuModuleGetFunction(&decide, decider, "decide"), 0);
    return NULL;
}
#define LOAD_DECIDER() \
    do { \
        const char *why = load_decider(); \
        if (why) { \
            finish(); \
            SKIP(why); \
        } \
    } while (0)

static void *add_decide(void *g, void *before, uint64_t handle, ptr at, uint32_t by) {
    void *params[3], *node = NULL;
    kernel_params p;
    memset(&p, 0, sizeof p);
    params[0] = &handle;
    params[1] = &at;
    params[2] = &by;
    p.function = decide;
    p.grid[0] = p.grid[1] = p.grid[2] = p.block[0] = p.block[1] = p.block[2] = 1;
    p.params = params;
    CHECK_EQ(cu.cuGraphAddKernelNode_v2(&node, g, &before, before != NULL, &p), 0);
    return node;
}
enum { IF, WHILE, SWITCH }; /* CUgraphConditionalNodeType */
static uint64_t handle_of(void *g, unsigned value, unsigned flags) {
    uint64_t handle = 0;
    CHECK_EQ(cu.cuGraphConditionalHandleCreate(&handle, g, context, value, flags), 0);
    return handle;
}
/* Copies the bodies' handles. */
static void *add_conditional(
        void *g, void *before, uint64_t handle, int type, unsigned size, void **bodies) {
    node_params p;
    void *node = NULL;
    memset(&p, 0, sizeof p);
    p.type = CONDITIONAL;
    p.of.conditional.handle = handle;
    p.of.conditional.type = type;
    p.of.conditional.size = size;
    p.of.conditional.context = context;
    CHECK_EQ(cu.cuGraphAddNode_v2(&node, g, &before, NULL, before != NULL, &p), 0);
    if (p.of.conditional.graphs) memcpy(bodies, p.of.conditional.graphs, size * sizeof *bodies);
    return node;
}

TEST(a_branch_depends_on_a_kernel) {
    void *g, *x, *node, *bodies[2] = { NULL, NULL };
    uint64_t handle;
    uint32_t i;
    START();
    LOAD_DECIDER();
    g = graph_new();
    handle = handle_of(g, 0, 0);
    node = add_decide(g, NULL, handle, word(0), 0);
    node = add_conditional(g, node, handle, IF, 2, bodies);
    add_mix(bodies[0], NULL, word(1), word(1), word(2), 1);
    add_mix(bodies[1], add_mix(bodies[1], NULL, word(3), word(3), word(2), 1), word(3), word(3),
            word(3), 0);
    add_fill(g, node, fill_of(word(4), 7, 1));
    x = made(g);
    set_word(4, 0);
    run(x);
    CHECK_EQ(value_of(word(1)), 0);
    CHECK_EQ(value_of(word(3)), 10);
    CHECK_EQ(value_of(word(4)), 7);
    set_word(0, 3);
    for (i = 0; i < 5; i++) CHECK_EQ(cu.cuGraphLaunch(x, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(value_of(word(1)), 121); /* 1, 4, 13, 40, 121 */
    CHECK_EQ(value_of(word(3)), 10);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuModuleUnload(decider), 0);
    finish();
}

TEST(a_loop_runs_until_a_kernel_ends_it) {
    enum { ROUNDS = 20 };
    void *g, *x, *node, *body = NULL, *child, *inner = NULL, *list[4];
    uint64_t outer, nested;
    uint32_t i, expected = 0;
    mix_call c;
    size_t n = 4;
    START();
    LOAD_DECIDER();
    g = graph_new();
    child = graph_new();
    outer = handle_of(g, 1, 1); /* 1 at each launch */
    nested = handle_of(g, 0, 0);
    node = add_fill(g, NULL, fill_of(word(0), ROUNDS, 1));
    node = add_conditional(g, node, outer, WHILE, 1, &body);
    add_mix(child, NULL, word(1), word(1), word(0), 1);
    CHECK_EQ(cu.cuGraphAddChildGraphNode(&node, body, NULL, 0, child), 0);
    node = add_fill(body, node, fill_of(word(2), 4, 1)); /* 3 times what follows */
    node = add_decide(body, node, nested, word(2), (uint32_t)-1);
    node = add_conditional(body, node, nested, WHILE, 1, &inner);
    add_decide(inner, add_mix(inner, NULL, word(3), word(3), word(1), 0), nested, word(2),
            (uint32_t)-1);
    add_decide(body, node, outer, word(0), (uint32_t)-1);
    x = made(g);
    for (i = ROUNDS; i > 0; i--) expected = mixed(expected, i, 1);
    run(x);
    CHECK_EQ(value_of(word(0)), 0);
    CHECK_EQ(value_of(word(1)), expected);
    CHECK_EQ(cu.cuGraphGetNodes(inner, list, &n), 0);
    CHECK_EQ(n, 2);
    CHECK_EQ(cu.cuGraphLaunch(x, stream), 0);
    if (cu.cuGraphExecKernelNodeSetParams_v2(
                x, list[0], mix_of(&c, word(4), word(4), word(1), 0)) == 0) {
        run(x); /* the launch before it is as it was */
        for (n = 0; n < 2; n++)
            for (i = ROUNDS; i > 0; i--) expected = mixed(expected, i, 1);
        CHECK_EQ(value_of(word(1)), expected);
        CHECK(value_of(word(3)) != 0 && value_of(word(4)) != 0);
    }
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuGraphDestroy(child), 0);
    CHECK_EQ(cu.cuModuleUnload(decider), 0);
    finish();
}

TEST(a_switch_selects_one_body) {
    void *g, *x, *node, *same = NULL, *bodies[3] = { NULL, NULL, NULL };
    uint64_t handle;
    uint32_t i;
    START();
    LOAD_DECIDER();
    g = graph_new();
    handle = handle_of(g, 0, 0);
    node = add_decide(g, NULL, handle, word(0), 1); /* 1, 2, 3: the last one selects none */
    add_conditional(g, node, handle, SWITCH, 3, bodies);
    for (i = 0; i < 3; i++) { /* the first two by captures */
        if (i == 2) add_fill(bodies[i], NULL, fill_of(word(1), 10 + i, 1));
        else CHECK_EQ(cu.cuStreamBeginCaptureToGraph(stream, bodies[i], NULL, NULL, 0, 1), 0);
        if (i < 2) CHECK_EQ(cu.cuMemsetD32Async(word(1), 10 + i, 1, stream), 0);
        if (i < 2) CHECK_EQ(cu.cuStreamEndCapture(stream, &same), 0);
        if (i < 2) CHECK(same == bodies[i]);
    }
    x = made(g);
    for (i = 1; i <= 3; i++) {
        run(x);
        CHECK_EQ(value_of(word(1)), i < 3 ? 10 + i : 12);
    }
    set_word(0, 0);
    CHECK_EQ(cu.cuGraphLaunch(x, stream), 0); /* what it needs stays until it has ended */
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(value_of(word(1)), 11);
    CHECK_EQ(cu.cuModuleUnload(decider), 0);
    finish();
}

/* ---- random graphs beside a model: nodes of all kinds that read and write cells of memory, in a
   random order as far as these accesses allow, with some of their parameters changed between
   launches ---- */

enum {
    CELL = 16,
    DEVICE_CELLS = 40,
    PINNED_CELLS = 16,
    OWN_CELLS = 6,
    CELLS = DEVICE_CELLS + PINNED_CELLS + OWN_CELLS,
    MOST = 200,
    PARTS = 4,
    LAUNCHES = 4,
    SAMPLE = 200
};

typedef struct step {
    int kind;          /* of node; OWN cells begin with an ALLOC and end with a FREE */
    unsigned to, a, b; /* cells */
    unsigned at_to, at_a, at_b, words, rows; /* where in them; a row is in the next cell */
    uint32_t by;
    int disabled;
    struct step *parts; /* CHILD */
    unsigned nparts;
    void *node;
    struct world *world;
} step;
typedef struct world {
    uint32_t random, model[CELLS][CELL];
    ptr own[OWN_CELLS];
    void *events[3]; /* 0, 1: to record; 2: recorded before */
    step steps[MOST], parts[MOST][PARTS];
    unsigned n, nown;
    unsigned char needs[MOST][MOST]; /* needs[i][k]: step i comes after step k */
    int writer[CELLS];
    unsigned char readers[CELLS][MOST];
} world;

static uint32_t below(world *w, unsigned n) { return test_random(&w->random) % n; }
static int is_pinned(unsigned cell) {
    return cell >= DEVICE_CELLS && cell < DEVICE_CELLS + PINNED_CELLS;
}
static uint32_t *pinned_at(unsigned cell) { return pinned + (cell - DEVICE_CELLS) * CELL; }
static ptr cell_at(const world *w, unsigned cell, unsigned at) {
    if (is_pinned(cell)) return (ptr)(uintptr_t)(pinned_at(cell) + at);
    return (cell < DEVICE_CELLS ? word(cell * CELL) : w->own[cell - DEVICE_CELLS - PINNED_CELLS]) +
            4 * at;
}

/* A cell of device or pinned memory, or one of the graph's own; with that many rows below it. */
static unsigned any_cell(world *w, unsigned rows, int pinned_too) {
    const unsigned kind = below(w, 8);
    if (rows == 1 && w->nown && kind == 0) return DEVICE_CELLS + PINNED_CELLS + below(w, w->nown);
    if (pinned_too && kind < 3) return DEVICE_CELLS + below(w, PINNED_CELLS - rows + 1);
    return below(w, DEVICE_CELLS - rows + 1);
}

static step random_work(world *w, int kind) {
    step s;
    memset(&s, 0, sizeof s);
    s.world = w;
    s.kind = kind;
    s.rows = s.words = 1;
    s.by = test_random(&w->random);
    if (kind == MEMCPY || kind == MEMSET) {
        s.rows = below(w, 3) ? 1 : 2 + below(w, 2);
        s.words = 1 + below(w, CELL / 2);
    }
    s.at_to = below(w, CELL - s.words + 1);
    s.at_a = below(w, CELL - s.words + 1);
    s.at_b = below(w, CELL);
    if (kind == HOST_FUNCTION) {
        s.to = DEVICE_CELLS + below(w, PINNED_CELLS);
        s.a = DEVICE_CELLS + below(w, PINNED_CELLS);
        s.b = DEVICE_CELLS + below(w, PINNED_CELLS);
        return s;
    }
    s.to = any_cell(w, s.rows, kind != MEMSET);
    do s.a = any_cell(w, s.rows, 1);
    while (kind == MEMCPY && s.a < s.to + s.rows && s.to < s.a + s.rows);
    s.b = any_cell(w, 1, 1);
    return s;
}

/* Step i comes after all whose accesses to the cells conflict with its own. */
static void needs_read(world *w, unsigned i, unsigned cell) {
    if (w->writer[cell] >= 0 && (unsigned)w->writer[cell] != i) w->needs[i][w->writer[cell]] = 1;
    w->readers[cell][i] = 1;
}
static void needs_write(world *w, unsigned i, unsigned cell) {
    unsigned k;
    if (w->writer[cell] >= 0 && (unsigned)w->writer[cell] != i) w->needs[i][w->writer[cell]] = 1;
    for (k = 0; k < i; k++)
        if (w->readers[cell][k]) w->needs[i][k] = 1;
    memset(w->readers[cell], 0, sizeof w->readers[cell]);
    w->writer[cell] = (int)i;
}
static void needs_of(world *w, unsigned i, const step *s) {
    unsigned k;
    for (k = 0; k < s->nparts; k++) needs_of(w, i, &s->parts[k]);
    if (s->kind == KERNEL || s->kind == HOST_FUNCTION || s->kind == MEMCPY)
        for (k = 0; k < s->rows; k++) needs_read(w, i, s->a + k);
    if (s->kind == KERNEL || s->kind == HOST_FUNCTION) needs_read(w, i, s->b);
    if (s->kind <= HOST_FUNCTION || s->kind == ALLOC || s->kind == FREE)
        for (k = 0; k < s->rows; k++) needs_write(w, i, s->to + k);
}

static step *push(world *w, step s) {
    const unsigned i = w->n++, extra = i ? below(w, 3) : 0;
    unsigned k;
    w->steps[i] = s;
    needs_of(w, i, &s);
    for (k = 0; k < extra; k++) w->needs[i][below(w, i)] = 1;
    return &w->steps[i];
}
static void push_own(world *w, int kind, unsigned cell) {
    step s = random_work(w, kind);
    s.to = cell;
    s.rows = 1;
    s.words = CELL;
    s.at_to = 0;
    push(w, s);
}
static void push_any(world *w) {
    static const int kinds[] = { KERNEL, KERNEL, KERNEL, MEMCPY, MEMCPY, MEMSET, HOST_FUNCTION,
        CHILD, EMPTY, WAIT, RECORD };
    const int kind = kinds[below(w, sizeof kinds / sizeof *kinds)];
    step s = random_work(w, kind);
    unsigned k;
    if (kind == RECORD) s.to = below(w, 2);
    if (kind == CHILD) {
        s.parts = w->parts[w->n];
        s.nparts = 1 + below(w, PARTS);
        for (k = 0; k < s.nparts; k++) s.parts[k] = random_work(w, kinds[below(w, 7)]);
    }
    push(w, s);
}

static void random_steps(world *w, unsigned n, int own) {
    const unsigned first = DEVICE_CELLS + PINNED_CELLS;
    unsigned i;
    w->n = w->nown = 0;
    memset(w->needs, 0, sizeof w->needs);
    memset(w->readers, 0, sizeof w->readers);
    for (i = 0; i < CELLS; i++) w->writer[i] = -1;
    while (w->n < n) {
        if (own && w->nown < OWN_CELLS && w->n + OWN_CELLS + 3 < n && !below(w, 6)) {
            push_own(w, ALLOC, first + w->nown);
            push_own(w, MEMSET, first + w->nown++);
        } else if (w->n + w->nown >= n) {
            push_own(w, FREE, first + --w->nown);
        } else push_any(w);
    }
}

/* ---- as a graph ---- */

static void call_step(void *user) {
    const step *s = (const step *)user;
    pinned_at(s->to)[s->at_to] = mixed(pinned_at(s->a)[s->at_a], pinned_at(s->b)[s->at_b], s->by);
}

static const kernel_params *kernel_of(mix_call *c, const step *s) {
    const world *w = s->world;
    return mix_of(c, cell_at(w, s->to, s->at_to), cell_at(w, s->a, s->at_a),
            cell_at(w, s->b, s->at_b), s->by);
}
static void set_cell(end *e, const world *w, unsigned cell, unsigned at) {
    set_end(e, cell_at(w, cell, at), is_pinned(cell) ? pinned_at(cell) + at : NULL);
    e->pitch = CELL * 4;
}
static copy_params copy_step(const step *s) {
    copy_params p = copy_of(0, NULL, 0, NULL, s->words * 4);
    set_cell(&p.to, s->world, s->to, s->at_to);
    set_cell(&p.from, s->world, s->a, s->at_a);
    p.height = s->rows;
    return p;
}
static fill_params fill_step(const step *s) {
    fill_params p = fill_of(cell_at(s->world, s->to, s->at_to), s->by, s->words);
    p.pitch = CELL * 4;
    p.height = s->rows;
    return p;
}
static host_params host_step(step *s) {
    host_params p;
    p.function = call_step;
    p.user = s;
    return p;
}

static void *graph_of_parts(step *s);

static int add_step(void *g, step *s, void **before, size_t n) {
    world *w = s->world;
    mix_call c;
    copy_params copy;
    fill_params fill;
    host_params host;
    alloc_params memory = alloc_of(CELL * 4);
    void *child;
    int result = -1;
    if (s->kind == KERNEL)
        return cu.cuGraphAddKernelNode_v2(&s->node, g, before, n, kernel_of(&c, s));
    if (s->kind == EMPTY) return cu.cuGraphAddEmptyNode(&s->node, g, before, n);
    if (s->kind == WAIT) return cu.cuGraphAddEventWaitNode(&s->node, g, before, n, w->events[2]);
    if (s->kind == RECORD)
        return cu.cuGraphAddEventRecordNode(&s->node, g, before, n, w->events[s->to]);
    if (s->kind == MEMCPY) {
        copy = copy_step(s);
        return cu.cuGraphAddMemcpyNode(&s->node, g, before, n, &copy, context);
    }
    if (s->kind == MEMSET) {
        fill = fill_step(s);
        return cu.cuGraphAddMemsetNode(&s->node, g, before, n, &fill, context);
    }
    if (s->kind == HOST_FUNCTION) {
        host = host_step(s);
        return cu.cuGraphAddHostNode(&s->node, g, before, n, &host);
    }
    if (s->kind == CHILD) {
        child = graph_of_parts(s);
        result = cu.cuGraphAddChildGraphNode(&s->node, g, before, n, child);
        return result ? result : cu.cuGraphDestroy(child);
    }
    if (s->kind == FREE)
        return cu.cuGraphAddMemFreeNode(&s->node, g, before, n, cell_at(w, s->to, 0));
    result = cu.cuGraphAddMemAllocNode(&s->node, g, before, n, &memory);
    w->own[s->to - DEVICE_CELLS - PINNED_CELLS] = memory.address;
    return result;
}
static void *graph_of_parts(step *s) { /* one after the other */
    void *g = graph_new();
    unsigned i;
    for (i = 0; i < s->nparts; i++)
        CHECK_EQ(add_step(g, &s->parts[i], i ? &s->parts[i - 1].node : NULL, i != 0), 0);
    return g;
}
static void *graph_of(world *w) {
    void *g = graph_new(), *before[MOST];
    unsigned i, k;
    for (i = 0; i < w->n; i++) {
        size_t n = 0;
        for (k = 0; k < i; k++)
            if (w->needs[i][k]) before[n++] = w->steps[k].node;
        CHECK_EQ(add_step(g, &w->steps[i], before, n), 0);
    }
    return g;
}

/* ---- on the host ---- */

static void model_step(world *w, const step *s) {
    unsigned r, i;
    for (i = 0; i < s->nparts; i++) model_step(w, &s->parts[i]);
    if (s->disabled) return;
    if (s->kind == KERNEL || s->kind == HOST_FUNCTION)
        w->model[s->to][s->at_to] = mixed(w->model[s->a][s->at_a], w->model[s->b][s->at_b], s->by);
    for (r = 0; r < s->rows && (s->kind == MEMCPY || s->kind == MEMSET); r++)
        for (i = 0; i < s->words; i++)
            w->model[s->to + r][s->at_to + i] = s->kind == MEMSET ? s->by
                                                                  : w->model[s->a + r][s->at_a + i];
}

/* ---- changed between launches: what keeps each step's cells ---- */

static void change_values(world *w, step *s) {
    unsigned k;
    s->by = test_random(&w->random);
    for (k = 0; k < s->nparts; k++) change_values(w, &s->parts[k]);
    if (s->rows > 1 || s->kind > HOST_FUNCTION || s->words == CELL) return;
    s->at_to = below(w, CELL - s->words + 1);
    s->at_a = below(w, CELL - s->words + 1);
}
static void set_step(world *w, void *x, step *s) {
    mix_call c;
    copy_params copy;
    fill_params fill;
    host_params host;
    void *child;
    if (s->kind == KERNEL)
        CHECK_EQ(cu.cuGraphExecKernelNodeSetParams_v2(x, s->node, kernel_of(&c, s)), 0);
    if (s->kind == MEMCPY && s->rows == 1) {
        copy = copy_step(s);
        CHECK_EQ(cu.cuGraphExecMemcpyNodeSetParams(x, s->node, &copy, context), 0);
    }
    if (s->kind == MEMSET) {
        fill = fill_step(s);
        CHECK_EQ(cu.cuGraphExecMemsetNodeSetParams(x, s->node, &fill, context), 0);
    }
    if (s->kind == HOST_FUNCTION) {
        host = host_step(s);
        CHECK_EQ(cu.cuGraphExecHostNodeSetParams(x, s->node, &host), 0);
    }
    if (s->kind == CHILD) {
        child = graph_of_parts(s);
        CHECK_EQ(cu.cuGraphExecChildGraphNodeSetParams(x, s->node, child), 0);
        CHECK_EQ(cu.cuGraphDestroy(child), 0);
    }
    if (s->kind == RECORD)
        CHECK_EQ(cu.cuGraphExecEventRecordNodeSetEvent(x, s->node, w->events[below(w, 2)]), 0);
    /* a driver does not order those around a disabled fill */
    if (s->kind <= MEMCPY && !below(w, 3)) {
        s->disabled = !s->disabled;
        CHECK_EQ(cu.cuGraphNodeSetEnabled(x, s->node, !s->disabled), 0);
    }
}
/* The driver adds no fill or copy of memory that a graph both allocates and frees to another graph:
   such a child cannot be made a second time. */
static int is_own(unsigned cell) { return cell >= DEVICE_CELLS + PINNED_CELLS; }
static int has_own_part(const step *s) {
    unsigned k;
    for (k = 0; k < s->nparts; k++) {
        const step *part = &s->parts[k];
        if (part->kind == MEMSET && is_own(part->to)) return 1;
        if (part->kind == MEMCPY && (is_own(part->to) || is_own(part->a))) return 1;
    }
    return 0;
}
/* All nodes at once, from another graph: those that were disabled stay so. */
static void update(world *w, void *x, void **g) {
    update_result result;
    unsigned i;
    void *next;
    for (i = 0; i < w->n; i++) change_values(w, &w->steps[i]);
    next = graph_of(w);
    CHECK_EQ(cu.cuGraphExecUpdate_v2(x, next, &result), 0);
    CHECK_EQ(cu.cuGraphDestroy(*g), 0);
    *g = next;
}

static void print_writers(const world *w, const step *list, unsigned n, unsigned cell) {
    unsigned i;
    for (i = 0; i < n; i++) {
        const step *s = &list[i];
        print_writers(w, s->parts, s->nparts, cell);
        if (s->to <= cell && cell < s->to + s->rows && s->kind <= HOST_FUNCTION)
            printf("%s %u, kind %d: to %u[%u], from %u[%u] and %u[%u], %u words, %u rows, by "
                   "%08x%s\n",
                    list == w->steps ? "step" : "part", i, s->kind, s->to, s->at_to, s->a, s->at_a,
                    s->b, s->at_b, s->words, s->rows, s->by, s->disabled ? ", disabled" : "");
    }
}
/* Prints the first difference, and what writes to its cell. */
static int same_memory(world *w) {
    static uint32_t got[CELLS * CELL];
    const uint32_t *model = w->model[0];
    unsigned i;
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, data, DEVICE_CELLS * CELL * 4), 0);
    memcpy(got + DEVICE_CELLS * CELL, pinned, PINNED_CELLS * CELL * 4);
    for (i = 0; i < (DEVICE_CELLS + PINNED_CELLS) * CELL; i++)
        if (got[i] != model[i]) {
            printf("cell %u, word %u is %08x, not %08x\n", i / CELL, i % CELL, got[i], model[i]);
            print_writers(w, w->steps, w->n, i / CELL);
            return 0;
        }
    return 1;
}

static int random_graph(world *w, uint32_t seed) {
    static const unsigned sizes[] = { 2, 5, 12, 30, 80, 200 };
    void *g, *x;
    unsigned i, launch, most;
    int own, whole, good = 1;
    w->random = seed * 2654435761u + 1;
    most = sizes[below(w, 6)];
    own = below(w, 2) != 0;
    whole = !own && !below(w, 2) && cu.cuGraphExecUpdate_v2 != NULL;
    random_steps(w, 2 + below(w, most - 1), own);
    for (i = 0; i < CELLS * CELL; i++) w->model[i / CELL][i % CELL] = test_random(&w->random);
    CHECK_EQ(cu.cuMemcpyHtoD_v2(data, w->model, DEVICE_CELLS * CELL * 4), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0);
    memcpy(pinned, w->model[DEVICE_CELLS], PINNED_CELLS * CELL * sizeof(uint32_t));
    g = graph_of(w);
    x = made(g);
    for (launch = 0; launch < LAUNCHES && good; launch++) {
        CHECK_EQ(cu.cuGraphLaunch(x, stream), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
        for (i = 0; i < w->n; i++) model_step(w, &w->steps[i]);
        good = same_memory(w);
        if (!good)
            printf("after launch %u of %u nodes%s\n", launch, w->n,
                    whole ? " updated as a whole" : "");
        if (launch == LAUNCHES - 1) break;
        if (whole) update(w, x, &g);
        else
            for (i = 0; i < w->n; i++) {
                step *s = &w->steps[i];
                if (below(w, 3) || s->kind > EMPTY + 2 || (s->kind == MEMCPY && s->rows > 1) ||
                        has_own_part(s))
                    continue;
                change_values(w, s);
                set_step(w, x, s);
            }
    }
    CHECK_EQ(cu.cuGraphExecDestroy(x), 0);
    CHECK_EQ(cu.cuGraphDestroy(g), 0);
    return good;
}

/* TEST_RANDOM_GRAPHS=5000 runs as many; TEST_ALL=1 500. */
TEST(random_graphs_compute_what_the_model_computes) {
    static world w;
    const char *number = getenv("TEST_RANDOM_GRAPHS");
    uint32_t seed, count = number ? (uint32_t)atoi(number) : getenv("TEST_ALL") ? 500 : SAMPLE;
    unsigned i;
    START();
    for (i = 0; i < 3; i++) CHECK_EQ(cu.cuEventCreate(&w.events[i], 2), 0);
    CHECK_EQ(cu.cuEventRecord(w.events[2], stream), 0);
    for (seed = 1; seed <= count; seed++)
        if (!CHECK(random_graph(&w, seed))) printf("seed %u\n", seed);
    for (i = 0; i < 3; i++) CHECK_EQ(cu.cuEventDestroy_v2(w.events[i]), 0);
    finish();
}
