/* nodes.c - graphs that a program builds node by node: where nodes can go, their parameters and
   what of these may change, attributes, edges with data, memory, child graphs, conditions, user
   objects. */
#include "probe.h"

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
};
/* CUDA_KERNEL_NODE_PARAMS_v2 */
typedef struct kernel_params {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra, *kernel, *context;
} kernel_params;
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
    location at;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
    const void *views;
    size_t nviews, bytes;
    ptr address;
} alloc_params;
typedef struct edge_data {
    unsigned char from_port, to_port, type, reserved[5];
} edge_data;
/* CUgraphNodeParams */
typedef struct node_params {
    int type, reserved[3];
    union {
        kernel_params kernel;
        struct {
            int flags, reserved;
            void *context;
            copy_3d p;
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
        } condition;
        long long all[29];
    } of;
    long long end;
} node_params;
/* CUlaunchAttributeValue */
typedef union value {
    char size[64];
    int number;
    unsigned dim[3];
} value;
enum { LINE = 64, WORDS = 4 };

static void *g, *x, *stream, *store, *nop;
static void *node; /* the last one that was added */
static uint32_t pageable[64], number = 7;
static ptr address;
static void *store_params[2] = { &address, &number };

static void nothing(void *user) { (void)user; }

/* ---- parameters that are good ---- */

static kernel_params kernel_of(void *function, void **params) {
    kernel_params p;
    unsigned i;
    memset(&p, 0, sizeof p);
    p.function = function;
    for (i = 0; i < 3; i++) p.grid[i] = p.block[i] = 1;
    p.params = params;
    return p;
}
static copy_3d copy_of(ptr to, ptr from, size_t bytes, size_t rows) {
    copy_3d p;
    memset(&p, 0, sizeof p);
    p.from_type = p.to_type = DEVICE;
    p.from_device = from;
    p.to_device = to;
    p.from_pitch = p.to_pitch = LINE;
    p.width = bytes;
    p.height = rows;
    p.depth = 1;
    return p;
}
static copy_3d copy_in(ptr to, const void *from, size_t bytes) {
    copy_3d p = copy_of(to, 0, bytes, 1);
    p.from_type = HOST;
    p.from_host = from;
    return p;
}
static fill_params fill_of(ptr to, size_t words, size_t rows) {
    fill_params p;
    memset(&p, 0, sizeof p);
    p.to = to;
    p.pitch = LINE;
    p.value = 5;
    p.element = 4;
    p.width = words;
    p.height = rows;
    return p;
}
static host_params host_of(void (*function)(void *)) {
    host_params p;
    p.function = function;
    p.user = NULL;
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
static node_params any_of(int type) {
    node_params p;
    memset(&p, 0, sizeof p);
    p.type = type;
    if (type == KERNEL) p.of.kernel = kernel_of(store, store_params);
    if (type == MEMSET) p.of.fill.p = fill_of(memory[0], WORDS, 1);
    if (type == MEMSET) p.of.fill.context = context[0];
    if (type == MEMCPY) p.of.copy.p = copy_of(memory[0], memory[0] + 1024, 16, 1);
    if (type == MEMCPY) p.of.copy.context = context[0];
    if (type == HOST_FUNCTION) p.of.host = host_of(nothing);
    return p;
}

/* ---- calls with the last node as their result ---- */

static int add_kernel(void *graph, kernel_params p) {
    return cu.cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p);
}
static int add_copy(void *graph, copy_3d p) {
    return cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &p, context[0]);
}
static int add_fill(void *graph, fill_params p) {
    return cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &p, context[0]);
}
static int add_any(void *graph, node_params p) {
    return cu.cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p);
}
static int set_copy(copy_3d p) {
    return cu.cuGraphExecMemcpyNodeSetParams(x, node, &p, context[0]);
}
static int set_fill(fill_params p) {
    return cu.cuGraphExecMemsetNodeSetParams(x, node, &p, context[0]);
}
static int set_kernel(kernel_params p) { return cu.cuGraphExecKernelNodeSetParams_v2(x, node, &p); }
static int launched(void) {
    int result = cu.cuGraphLaunch(x, stream);
    return result ? result : cu.cuStreamSynchronize(stream);
}
static int made(void *graph) {
    x = NULL;
    return cu.cuGraphInstantiateWithFlags(&x, graph, 0);
}
static void *new_graph(void) {
    void *graph = NULL;
    cu.cuGraphCreate(&graph, 0);
    return graph;
}
static void *new_event(void) {
    void *e = NULL;
    cu.cuEventCreate(&e, 2);
    return e;
}
static void *store_node(void *graph) {
    add_kernel(graph, kernel_of(store, store_params));
    return node;
}
static void begin(void) {
    open_one();
    store = kernel(0, "store");
    nop = kernel(0, "nop");
    address = memory[0];
    cu.cuStreamCreateWithPriority(&stream, 1, 0);
    g = new_graph();
}

/* ---- where a node goes ---- */

static void arguments(void) {
    kernel_params k;
    copy_3d c;
    fill_params f;
    host_params h = host_of(nothing);
    alloc_params a = alloc_of(64);
    void *e, *child;
    begin();
    k = kernel_of(store, store_params);
    c = copy_of(memory[0], memory[0] + 1024, 16, 1);
    f = fill_of(memory[0], WORDS, 1);
    e = new_event();
    child = new_graph();
    PROBE("kernel_to_null", cu.cuGraphAddKernelNode_v2(NULL, g, NULL, 0, &k));
    PROBE("kernel_no_graph", cu.cuGraphAddKernelNode_v2(&node, NULL, NULL, 0, &k));
    PROBE("kernel_no_params", cu.cuGraphAddKernelNode_v2(&node, g, NULL, 0, NULL));
    PROBE("copy_to_null", cu.cuGraphAddMemcpyNode(NULL, g, NULL, 0, &c, context[0]));
    PROBE("copy_no_graph", cu.cuGraphAddMemcpyNode(&node, NULL, NULL, 0, &c, context[0]));
    PROBE("copy_no_params", cu.cuGraphAddMemcpyNode(&node, g, NULL, 0, NULL, context[0]));
    PROBE("copy_no_context", cu.cuGraphAddMemcpyNode(&node, g, NULL, 0, &c, NULL));
    PROBE("fill_to_null", cu.cuGraphAddMemsetNode(NULL, g, NULL, 0, &f, context[0]));
    PROBE("fill_no_graph", cu.cuGraphAddMemsetNode(&node, NULL, NULL, 0, &f, context[0]));
    PROBE("fill_no_params", cu.cuGraphAddMemsetNode(&node, g, NULL, 0, NULL, context[0]));
    PROBE("fill_no_context", cu.cuGraphAddMemsetNode(&node, g, NULL, 0, &f, NULL));
    PROBE("host_to_null", cu.cuGraphAddHostNode(NULL, g, NULL, 0, &h));
    PROBE("host_no_graph", cu.cuGraphAddHostNode(&node, NULL, NULL, 0, &h));
    PROBE("host_no_params", cu.cuGraphAddHostNode(&node, g, NULL, 0, NULL));
    h = host_of(NULL);
    PROBE("host_no_function", cu.cuGraphAddHostNode(&node, g, NULL, 0, &h));
    PROBE("record_to_null", cu.cuGraphAddEventRecordNode(NULL, g, NULL, 0, e));
    PROBE("record_no_graph", cu.cuGraphAddEventRecordNode(&node, NULL, NULL, 0, e));
    PROBE("record_no_event", cu.cuGraphAddEventRecordNode(&node, g, NULL, 0, NULL));
    PROBE("wait_no_graph", cu.cuGraphAddEventWaitNode(&node, NULL, NULL, 0, e));
    PROBE("wait_no_event", cu.cuGraphAddEventWaitNode(&node, g, NULL, 0, NULL));
    PROBE("wait_never_recorded", cu.cuGraphAddEventWaitNode(&node, g, NULL, 0, e));
    PROBE("child_to_null", cu.cuGraphAddChildGraphNode(NULL, g, NULL, 0, child));
    PROBE("child_no_graph", cu.cuGraphAddChildGraphNode(&node, NULL, NULL, 0, child));
    PROBE("child_no_child", cu.cuGraphAddChildGraphNode(&node, g, NULL, 0, NULL));
    PROBE("alloc_to_null", cu.cuGraphAddMemAllocNode(NULL, g, NULL, 0, &a));
    PROBE("alloc_no_graph", cu.cuGraphAddMemAllocNode(&node, NULL, NULL, 0, &a));
    PROBE("alloc_no_params", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, NULL));
    PROBE("free_no_graph", cu.cuGraphAddMemFreeNode(&node, NULL, NULL, 0, memory[0]));
    PROBE("free_of_0", cu.cuGraphAddMemFreeNode(&node, g, NULL, 0, 0));
    PROBE("empty_to_null", cu.cuGraphAddEmptyNode(NULL, g, NULL, 0));
    PROBE("instantiate", made(g));
    PROBE("launch", launched());
}

static void places(void) {
    void *other, *nodes[3], *foreign, *gone;
    kernel_params k;
    begin();
    k = kernel_of(store, store_params);
    other = new_graph();
    foreign = store_node(other);
    nodes[0] = store_node(g);
    nodes[1] = store_node(g);
    gone = store_node(g);
    cu.cuGraphDestroyNode(gone);
    PROBE("no_list", cu.cuGraphAddKernelNode_v2(&node, g, NULL, 1, &k));
    PROBE("list_of_0", cu.cuGraphAddKernelNode_v2(&node, g, &foreign, 0, &k));
    PROBE("of_another_graph", cu.cuGraphAddKernelNode_v2(&node, g, &foreign, 1, &k));
    nodes[2] = nodes[0];
    PROBE("twice", cu.cuGraphAddKernelNode_v2(&node, g, nodes, 3, &k));
    PROBE("two", cu.cuGraphAddKernelNode_v2(&node, g, nodes, 2, &k));
    PROBE("edge_to_itself", cu.cuGraphAddDependencies(g, &node, &node, 1));
    PROBE("edge_again", cu.cuGraphAddDependencies(g, &nodes[0], &node, 1));
    PROBE("edge_of_another_graph", cu.cuGraphAddDependencies(g, &foreign, &node, 1));
    PROBE("edge_back", cu.cuGraphAddDependencies(g, &node, &nodes[0], 1));
    PROBE("instantiate_circle", made(g));
    PROBE("remove_edge_back", cu.cuGraphRemoveDependencies(g, &node, &nodes[0], 1));
    PROBE("remove_it_again", cu.cuGraphRemoveDependencies(g, &node, &nodes[0], 1));
    PROBE("instantiate", made(g));
    PROBE("launch", launched());
}

/* ---- kernels ---- */

static void kernels(void) {
    kernel_params k;
    void *library = NULL, *entry = NULL, *params[2];
    size_t bytes = 12;
    struct {
        ptr to;
        uint32_t value;
    } packed;
    void *extra[5];
    begin();
    k = kernel_of(NULL, store_params);
    PROBE("no_function", add_kernel(g, k));
    k = kernel_of(store, NULL);
    PROBE("no_params", add_kernel(g, k));
    k = kernel_of(store, store_params);
    k.grid[1] = 0;
    PROBE("grid_0", add_kernel(g, k));
    k.grid[1] = 65536;
    PROBE("grid_too_large", add_kernel(g, k));
    k = kernel_of(store, store_params);
    k.block[0] = 0;
    PROBE("block_0", add_kernel(g, k));
    k.block[0] = 1025;
    PROBE("block_too_large", add_kernel(g, k));
    k = kernel_of(kernel(0, "max64"), NULL);
    k.block[0] = 128;
    PROBE("above_maxntid", add_kernel(g, k));
    k = kernel_of(kernel(0, "req64"), NULL);
    PROBE("not_reqntid", add_kernel(g, k));
    k = kernel_of(store, store_params);
    k.shared = 1 << 20;
    PROBE("shared_too_large", add_kernel(g, k));
    packed.to = memory[0];
    packed.value = 9;
    extra[0] = (void *)1;
    extra[1] = &packed;
    extra[2] = (void *)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    k = kernel_of(store, NULL);
    k.extra = extra;
    PROBE("extra", add_kernel(g, k));
    k.params = store_params;
    PROBE("both", add_kernel(g, k));
    cu.cuLibraryLoadData(&library, module_text, NULL, NULL, 0, NULL, NULL, 0);
    cu.cuLibraryGetKernel(&entry, library, "nop");
    k = kernel_of(NULL, NULL);
    k.kernel = entry;
    PROBE("kernel_of_library", add_kernel(g, k));
    k.context = context[0];
    PROBE("kernel_in_context", add_kernel(g, k));
    k = kernel_of(entry, NULL);
    PROBE("kernel_as_function", add_kernel(g, k));
    params[0] = &address;
    params[1] = NULL;
    k = kernel_of(store, params);
    PROBE("param_null", add_kernel(g, k));
    PROBE("instantiate", made(g));
    PROBE("launch", launched());
    g = new_graph();
    store_node(g);
    made(g);
    PROBE("set_other_function", set_kernel(kernel_of(nop, NULL)));
    PROBE("set_no_function", set_kernel(kernel_of(NULL, NULL)));
    k = kernel_of(store, store_params);
    k.grid[0] = 0;
    PROBE("set_grid_0", set_kernel(k));
    PROBE("set_no_params", cu.cuGraphExecKernelNodeSetParams_v2(x, node, NULL));
    PROBE("set_no_exec",
            (k = kernel_of(nop, NULL), cu.cuGraphExecKernelNodeSetParams_v2(NULL, node, &k)));
    PROBE("set_no_node",
            (k = kernel_of(nop, NULL), cu.cuGraphExecKernelNodeSetParams_v2(x, NULL, &k)));
    PROBE("set_graph_no_node",
            (k = kernel_of(nop, NULL), cu.cuGraphKernelNodeSetParams_v2(NULL, &k)));
    PROBE("set_graph_no_params", cu.cuGraphKernelNodeSetParams_v2(node, NULL));
    PROBE("set_later_node", (store_node(g), set_kernel(kernel_of(nop, NULL))));
    PROBE("set_destroyed_node", (cu.cuGraphDestroyNode(node), set_kernel(kernel_of(nop, NULL))));
    PROBE("launch_set", launched());
}

/* ---- copies and fills ---- */

static void copies(void) {
    copy_3d c;
    void *pinned = NULL, *graph;
    begin();
    cu.cuMemHostAlloc(&pinned, 4096, 0);
    PROBE("width_0", add_copy(g, copy_of(memory[0], memory[0] + 1024, 0, 1)));
    PROBE("height_0", add_copy(g, copy_of(memory[0], memory[0] + 1024, 16, 0)));
    c = copy_of(memory[0], memory[0] + 1024, 16, 1);
    c.depth = 0;
    PROBE("depth_0", add_copy(g, c));
    PROBE("pitch_too_small", add_copy(g, copy_of(memory[0], memory[0] + 1024, 65, 2)));
    c = copy_of(memory[0], memory[0] + 1024, 16, 1);
    c.from_type = 0;
    PROBE("type_0", add_copy(g, c));
    c.from_type = 5;
    PROBE("type_5", add_copy(g, c));
    PROBE("to_0", add_copy(g, copy_of(0, memory[0], 16, 1)));
    PROBE("beyond", add_copy(g, copy_of(memory[0] + MEMORY - 8, memory[0], 16, 1)));
    PROBE("from_pageable", add_copy(g, copy_in(memory[0], pageable, 16)));
    PROBE("from_pinned", add_copy(g, copy_in(memory[0], pinned, 16)));
    PROBE("2d", add_copy(g, copy_of(memory[0] + 512, memory[0] + 1024, 16, 3)));
    PROBE("instantiate", made(g));
    PROBE("launch", launched());
    PROBE("exec_2d_same_shape", set_copy(copy_of(memory[0] + 768, memory[0] + 1024, 16, 3)));
    PROBE("exec_2d_other_rows", set_copy(copy_of(memory[0] + 512, memory[0] + 1024, 16, 2)));
    PROBE("exec_2d_to_1d", set_copy(copy_of(memory[0] + 512, memory[0] + 1024, 16, 1)));
    graph = new_graph();
    add_copy(graph, copy_of(memory[0], memory[0] + 1024, 16, 1));
    made(graph);
    PROBE("exec_other_address", set_copy(copy_of(memory[0] + 64, memory[0] + 1024, 16, 1)));
    PROBE("exec_other_width", set_copy(copy_of(memory[0] + 64, memory[0] + 1024, 64, 1)));
    PROBE("exec_width_0", set_copy(copy_of(memory[0] + 64, memory[0] + 1024, 0, 1)));
    PROBE("exec_to_2d", set_copy(copy_of(memory[0], memory[0] + 1024, 16, 2)));
    PROBE("exec_from_pinned", set_copy(copy_in(memory[0], pinned, 16)));
    PROBE("exec_from_pageable", set_copy(copy_in(memory[0], pageable, 16)));
    c = copy_of(memory[0], memory[0] + 1024, 16, 1);
    PROBE("exec_no_context", cu.cuGraphExecMemcpyNodeSetParams(x, node, &c, NULL));
    PROBE("exec_no_params", cu.cuGraphExecMemcpyNodeSetParams(x, node, NULL, context[0]));
    PROBE("set_to_2d",
            (c = copy_of(memory[0], memory[0] + 1024, 16, 2),
                    cu.cuGraphMemcpyNodeSetParams(node, &c)));
    PROBE("set_from_pinned",
            (c = copy_in(memory[0], pinned, 16), cu.cuGraphMemcpyNodeSetParams(node, &c)));
    PROBE("set_width_0",
            (c = copy_in(memory[0], pinned, 0), cu.cuGraphMemcpyNodeSetParams(node, &c)));
    PROBE("launch_set", launched());
    PROBE("pinned_to_pageable",
            (graph = new_graph(), add_copy(graph, copy_in(memory[0], pinned, 16)), made(graph),
                    set_copy(copy_in(memory[0], pageable, 16))));
}

static void fills(void) {
    fill_params f;
    void *graph;
    begin();
    PROBE("width_0", add_fill(g, fill_of(memory[0], 0, 1)));
    PROBE("height_0", add_fill(g, fill_of(memory[0], 4, 0)));
    f = fill_of(memory[0], 4, 1);
    f.element = 3;
    PROBE("element_3", add_fill(g, f));
    f.element = 0;
    PROBE("element_0", add_fill(g, f));
    f.element = 8;
    PROBE("element_8", add_fill(g, f));
    PROBE("misaligned", add_fill(g, fill_of(memory[0] + 2, 4, 1)));
    f = fill_of(memory[0], 17, 2);
    PROBE("pitch_too_small", add_fill(g, f));
    f = fill_of(memory[0], 4, 1);
    f.pitch = 0;
    PROBE("pitch_0_one_row", add_fill(g, f));
    f.element = 1;
    f.value = 256;
    PROBE("value_too_large", add_fill(g, f));
    PROBE("beyond", add_fill(g, fill_of(memory[0] + MEMORY - 8, 4, 1)));
    graph = new_graph();
    PROBE("to_0", add_fill(graph, fill_of(0, 4, 1)));
    graph = new_graph();
    PROBE("add", add_fill(graph, fill_of(memory[0], 4, 1)));
    PROBE("instantiate", made(graph));
    PROBE("exec_other_address", set_fill(fill_of(memory[0] + 256, 4, 1)));
    PROBE("exec_narrower", set_fill(fill_of(memory[0], 2, 1)));
    PROBE("exec_wider", set_fill(fill_of(memory[0], 64, 1)));
    PROBE("exec_width_0", set_fill(fill_of(memory[0], 0, 1)));
    PROBE("exec_two_rows", set_fill(fill_of(memory[0], 4, 2)));
    f = fill_of(memory[0], 8, 1);
    f.element = 2;
    PROBE("exec_other_element", set_fill(f));
    PROBE("exec_no_context",
            (f = fill_of(memory[0], 4, 1), cu.cuGraphExecMemsetNodeSetParams(x, node, &f, NULL)));
    PROBE("launch", launched());
    graph = new_graph();
    add_fill(graph, fill_of(memory[0], 4, 3));
    made(graph);
    PROBE("exec_2d_same_shape", set_fill(fill_of(memory[0] + 512, 4, 3)));
    PROBE("exec_2d_narrower", set_fill(fill_of(memory[0], 3, 3)));
    PROBE("exec_2d_fewer_rows", set_fill(fill_of(memory[0], 4, 2)));
    PROBE("launch_2d", launched());
}

/* ---- memory of graphs ---- */

static void memory_nodes(void) {
    alloc_params a;
    kernel_params k;
    void *allocs = NULL, *frees = NULL, *again = NULL, *other, *child;
    ptr p;
    begin();
    a = alloc_of(0);
    PROBE("bytes_0", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
    a = alloc_of(64);
    a.type = 0;
    PROBE("type_0", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
    a = alloc_of(64);
    a.handles = 1;
    PROBE("handles", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
    a = alloc_of(64);
    a.at.id = 64;
    PROBE("no_device", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
    a = alloc_of(64);
    a.at.type = 2;
    PROBE("on_host", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
    a = alloc_of(64);
    a.nviews = 1;
    PROBE("views_null", cu.cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
    a = alloc_of(64);
    PROBE("alloc", cu.cuGraphAddMemAllocNode(&allocs, g, NULL, 0, &a));
    p = a.address;
    PROBE("free_of_plain_memory", cu.cuGraphAddMemFreeNode(&node, g, &allocs, 1, memory[0]));
    PROBE("free_inside", cu.cuGraphAddMemFreeNode(&node, g, &allocs, 1, p + 8));
    PROBE("free", cu.cuGraphAddMemFreeNode(&frees, g, &allocs, 1, p));
    PROBE("free_twice", cu.cuGraphAddMemFreeNode(&node, g, &allocs, 1, p));
    other = new_graph();
    PROBE("free_elsewhere", cu.cuGraphAddMemFreeNode(&node, other, NULL, 0, p));
    child = new_graph();
    PROBE("as_child", cu.cuGraphAddChildGraphNode(&node, child, NULL, 0, g));
    PROBE("clone", cu.cuGraphClone(&again, g));
    PROBE("destroy_node", cu.cuGraphDestroyNode(frees));
    PROBE("remove_edge", cu.cuGraphRemoveDependencies(g, &allocs, &frees, 1));
    PROBE("add_kernel", add_kernel(g, kernel_of(store, store_params)));
    PROBE("add_edge", cu.cuGraphAddDependencies(g, &allocs, &node, 1));
    PROBE("instantiate", made(g));
    PROBE("instantiate_again", cu.cuGraphInstantiateWithFlags(&again, g, 0));
    PROBE("set_kernel",
            (k = kernel_of(store, store_params), cu.cuGraphKernelNodeSetParams_v2(node, &k)));
    PROBE("set_exec_kernel", set_kernel(kernel_of(store, store_params)));
    PROBE("launch", launched());
    PROBE("launch_again", launched());
}

/* ---- child graphs ---- */

static void children(void) {
    void *child, *embedded = NULL, *inner, *parent = NULL, *list[4], *found = NULL, *one;
    size_t n;
    kernel_params k;
    begin();
    child = new_graph();
    inner = store_node(child);
    PROBE("itself", cu.cuGraphAddChildGraphNode(&node, child, NULL, 0, child));
    PROBE("add", cu.cuGraphAddChildGraphNode(&parent, g, NULL, 0, child));
    PROBE("get", cu.cuGraphChildGraphNodeGetGraph(parent, &embedded));
    PROBE("get_is_new", embedded != child);
    PROBE("get_to_null", cu.cuGraphChildGraphNodeGetGraph(parent, NULL));
    PROBE("get_of_kernel", cu.cuGraphChildGraphNodeGetGraph(inner, &found));
    PROBE("destroy_embedded", cu.cuGraphDestroy(embedded));
    PROBE("instantiate_embedded", made(embedded));
    PROBE("parent_into_embedded", cu.cuGraphAddChildGraphNode(&node, embedded, NULL, 0, g));
    list[0] = NULL;
    PROBE("embedded_nodes", (n = 4, cu.cuGraphGetNodes(embedded, list, &n), (int)n));
    PROBE("find_in_embedded", cu.cuGraphNodeFindInClone(&found, inner, embedded));
    PROBE("found", found == list[0]);
    one = node = NULL;
    PROBE("add_to_embedded", add_kernel(embedded, kernel_of(store, store_params)));
    one = node;
    PROBE("instantiate", made(g));
    k = kernel_of(nop, NULL);
    PROBE("set_embedded", cu.cuGraphExecKernelNodeSetParams_v2(x, list[0], &k));
    PROBE("set_original", cu.cuGraphExecKernelNodeSetParams_v2(x, inner, &k));
    PROBE("enable_embedded", cu.cuGraphNodeSetEnabled(x, list[0], 0));
    PROBE("child_other_topology", cu.cuGraphExecChildGraphNodeSetParams(x, parent, child));
    store_node(child);
    PROBE("child_same_topology", cu.cuGraphExecChildGraphNodeSetParams(x, parent, child));
    PROBE("child_null", cu.cuGraphExecChildGraphNodeSetParams(x, parent, NULL));
    PROBE("child_of_kernel", cu.cuGraphExecChildGraphNodeSetParams(x, inner, child));
    PROBE("launch", launched());
    PROBE("destroy_child", cu.cuGraphDestroy(child));
    PROBE("launch_after", launched());
    cu.cuGraphDestroyNode(one);
    child = new_graph();
    add_kernel(child, kernel_of(nop, NULL));
    PROBE("child_other_function",
            (made(g), cu.cuGraphExecChildGraphNodeSetParams(x, parent, child)));
    PROBE("as_child_of_child", cu.cuGraphAddChildGraphNode(&node, child, NULL, 0, embedded));
}

/* ---- whether a node works ---- */

static void enabled(void) {
    unsigned is = 77;
    void *host = NULL, *empty = NULL, *later, *child = NULL;
    begin();
    cu.cuGraphAddHostNode(&host, g, NULL, 0, &(host_params){ nothing, NULL });
    cu.cuGraphAddEmptyNode(&empty, g, NULL, 0);
    cu.cuGraphAddChildGraphNode(&child, g, NULL, 0, new_graph());
    store_node(g);
    made(g);
    PROBE("get", cu.cuGraphNodeGetEnabled(x, node, &is));
    PROBE("is", (int)is);
    PROBE("get_null", cu.cuGraphNodeGetEnabled(x, node, NULL));
    PROBE("set", cu.cuGraphNodeSetEnabled(x, node, 0));
    PROBE("now", (cu.cuGraphNodeGetEnabled(x, node, &is), (int)is));
    PROBE("set_2", cu.cuGraphNodeSetEnabled(x, node, 2));
    PROBE("now_2", (cu.cuGraphNodeGetEnabled(x, node, &is), (int)is));
    PROBE("set_host", cu.cuGraphNodeSetEnabled(x, host, 0));
    PROBE("get_host", cu.cuGraphNodeGetEnabled(x, host, &is));
    PROBE("set_empty", cu.cuGraphNodeSetEnabled(x, empty, 0));
    PROBE("set_child", cu.cuGraphNodeSetEnabled(x, child, 0));
    PROBE("set_no_exec", cu.cuGraphNodeSetEnabled(NULL, node, 0));
    later = store_node(g);
    PROBE("set_later", cu.cuGraphNodeSetEnabled(x, later, 0));
    PROBE("launch", launched());
}

/* ---- a kernel's attributes ---- */

static void attributes(void) {
    static const int ids[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 };
    char question[40];
    unsigned i;
    value v;
    void *other, *fill;
    begin();
    store_node(g);
    for (i = 0; i < COUNT(ids); i++) {
        if (ids[i] == 13) continue;
        memset(&v, 0, sizeof v);
        snprintf(question, sizeof question, "get_%d", ids[i]);
        PROBE(question, cu.cuGraphKernelNodeGetAttribute(node, ids[i], &v));
        snprintf(question, sizeof question, "is_%d", ids[i]);
        PROBE(question, v.number);
    }
    for (i = 0; i < COUNT(ids); i++) {
        /* pointers in them */
        if (ids[i] == 1 || ids[i] == 7 || ids[i] == 12 || ids[i] == 13) continue;
        memset(&v, 0, sizeof v);
        snprintf(question, sizeof question, "set_%d", ids[i]);
        PROBE(question, cu.cuGraphKernelNodeSetAttribute(node, ids[i], &v));
    }
    memset(&v, 0, sizeof v);
    v.number = 1;
    PROBE("cooperative", cu.cuGraphKernelNodeSetAttribute(node, 2, &v));
    v.number = -3;
    PROBE("priority", cu.cuGraphKernelNodeSetAttribute(node, 8, &v));
    v.number = -99;
    PROBE("priority_99", cu.cuGraphKernelNodeSetAttribute(node, 8, &v));
    PROBE("priority_is", (cu.cuGraphKernelNodeGetAttribute(node, 8, &v), v.number));
    v.number = 101;
    PROBE("carveout_101", cu.cuGraphKernelNodeSetAttribute(node, 14, &v));
    v.number = 3;
    PROBE("policy_3", cu.cuGraphKernelNodeSetAttribute(node, 5, &v));
    v.number = 2;
    PROBE("domain_2", cu.cuGraphKernelNodeSetAttribute(node, 10, &v));
    v.dim[0] = 2;
    v.dim[1] = v.dim[2] = 1;
    PROBE("cluster_of_more_than_the_grid", cu.cuGraphKernelNodeSetAttribute(node, 4, &v));
    PROBE("get_null", cu.cuGraphKernelNodeGetAttribute(node, 2, NULL));
    PROBE("get_no_node", cu.cuGraphKernelNodeGetAttribute(NULL, 2, &v));
    other = node;
    store_node(g);
    PROBE("copy", cu.cuGraphKernelNodeCopyAttributes(node, other));
    PROBE("copied",
            (memset(&v, 0, sizeof v), cu.cuGraphKernelNodeGetAttribute(node, 2, &v), v.number));
    fill = (add_fill(g, fill_of(memory[0], 4, 1)), node);
    PROBE("copy_to_fill", cu.cuGraphKernelNodeCopyAttributes(fill, other));
    PROBE("get_of_fill", cu.cuGraphKernelNodeGetAttribute(fill, 8, &v));
}

/* ---- one call for all kinds ---- */

static void generic(void) {
    node_params p;
    begin();
    PROBE("type_99", add_any(g, any_of(99)));
    PROBE("type_-1", add_any(g, any_of(-1)));
    PROBE("type_8", add_any(g, any_of(8)));
    PROBE("empty", add_any(g, any_of(EMPTY)));
    PROBE("kernel", add_any(g, any_of(KERNEL)));
    PROBE("copy", add_any(g, any_of(MEMCPY)));
    PROBE("fill", add_any(g, any_of(MEMSET)));
    PROBE("host", add_any(g, any_of(HOST_FUNCTION)));
    p = any_of(KERNEL);
    p.reserved[1] = 1;
    PROBE("reserved", add_any(g, p));
    p = any_of(KERNEL);
    p.end = 1;
    PROBE("reserved_end", add_any(g, p));
    p = any_of(KERNEL);
    p.of.all[28] = 1;
    PROBE("not_zero_behind", add_any(g, p));
    p = any_of(MEMCPY);
    p.of.copy.flags = 1;
    PROBE("copy_flags", add_any(g, p));
    p = any_of(MEMCPY);
    p.of.copy.context = NULL;
    PROBE("copy_no_context", add_any(g, p));
    PROBE("no_params", cu.cuGraphAddNode_v2(&node, g, NULL, NULL, 0, NULL));
    store_node(g);
    made(g);
    p = any_of(KERNEL);
    PROBE("set", cu.cuGraphNodeSetParams(node, &p));
    PROBE("set_exec", cu.cuGraphExecNodeSetParams(x, node, &p));
    p = any_of(MEMSET);
    PROBE("set_other_kind", cu.cuGraphNodeSetParams(node, &p));
    PROBE("set_exec_other_kind", cu.cuGraphExecNodeSetParams(x, node, &p));
    PROBE("set_no_params", cu.cuGraphNodeSetParams(node, NULL));
    p = any_of(EMPTY);
    PROBE("set_empty", (add_any(g, any_of(EMPTY)), cu.cuGraphNodeSetParams(node, &p)));
    PROBE("launch", launched());
}

/* ---- edges ---- */

static int edge(
        unsigned from_port, unsigned to_port, unsigned type, unsigned reserved, int to_kernel) {
    edge_data e;
    void *graph = new_graph(), *before = store_node(graph);
    node_params p = any_of(to_kernel ? KERNEL : MEMSET);
    memset(&e, 0, sizeof e);
    e.from_port = (unsigned char)from_port;
    e.to_port = (unsigned char)to_port;
    e.type = (unsigned char)type;
    e.reserved[0] = (unsigned char)reserved;
    return cu.cuGraphAddNode_v2(&node, graph, &before, &e, 1, &p);
}
/* The digits of port and type of the edge between a launch and one that may begin early. */
static int captured_edge(int first_is_kernel, int *lossy) {
    attribute a;
    config c;
    void *graph = NULL, *from[2] = { NULL, NULL }, *to[2] = { NULL, NULL };
    edge_data data[2];
    size_t n = 2;
    memset(&a, 0, sizeof a);
    a.id = 6;
    a.value.flag = 1;
    memset(&c, 0, sizeof c);
    c.grid[0] = c.grid[1] = c.grid[2] = c.block[0] = c.block[1] = c.block[2] = 1;
    c.stream = stream;
    c.list = &a;
    c.n = 1;
    memset(data, 0, sizeof data);
    cu.cuStreamBeginCapture_v2(stream, 1);
    if (first_is_kernel) launch(nop, 1, 1, stream, NULL);
    else cu.cuMemsetD32Async(memory[0], 1, 4, stream);
    cu.cuLaunchKernelEx(&c, nop, NULL, NULL);
    cu.cuStreamEndCapture(stream, &graph);
    *lossy = cu.cuGraphGetEdges(graph, from, to, &n);
    n = 2;
    cu.cuGraphGetEdges_v2(graph, from, to, data, &n);
    return (int)n * 100 + data[0].from_port * 10 + data[0].type;
}
static void edges(void) {
    edge_data e;
    void *nodes[2], *from[2], *to[2];
    int lossy = 77;
    size_t n;
    begin();
    PROBE("plain", edge(0, 0, 0, 0, 1));
    PROBE("port_1", edge(1, 0, 0, 0, 1));
    PROBE("port_2", edge(2, 0, 0, 0, 1));
    PROBE("type_1", edge(0, 0, 1, 0, 1));
    PROBE("programmatic", edge(1, 0, 1, 0, 1));
    PROBE("launch_order", edge(2, 0, 1, 0, 1));
    PROBE("port_3", edge(3, 0, 1, 0, 1));
    PROBE("to_port_1", edge(1, 1, 1, 0, 1));
    PROBE("type_2", edge(1, 0, 2, 0, 1));
    PROBE("reserved", edge(1, 0, 1, 1, 1));
    PROBE("programmatic_to_fill", edge(1, 0, 1, 0, 0));
    PROBE("captured", captured_edge(1, &lossy));
    PROBE("captured_lossy", lossy);
    PROBE("captured_after_fill", captured_edge(0, &lossy));
    PROBE("captured_after_fill_lossy", lossy);
    nodes[0] = store_node(g);
    nodes[1] = store_node(g);
    memset(&e, 0, sizeof e);
    e.from_port = e.type = 1;
    PROBE("add", cu.cuGraphAddDependencies_v2(g, &nodes[0], &nodes[1], &e, 1));
    PROBE("count_without_data", (n = 0, cu.cuGraphGetEdges(g, NULL, NULL, &n) * 10 + (int)n));
    PROBE("list_without_data", (n = 2, cu.cuGraphGetEdges(g, from, to, &n)));
    PROBE("before_without_data", (n = 2, cu.cuGraphNodeGetDependencies(nodes[1], from, &n)));
    PROBE("after_without_data", (n = 2, cu.cuGraphNodeGetDependentNodes(nodes[0], from, &n)));
    PROBE("remove_without_data", cu.cuGraphRemoveDependencies(g, &nodes[0], &nodes[1], 1));
    PROBE("remove", cu.cuGraphRemoveDependencies_v2(g, &nodes[0], &nodes[1], &e, 1));
    cu.cuGraphAddDependencies_v2(g, &nodes[0], &nodes[1], &e, 1);
    PROBE("instantiate", made(g));
    PROBE("launch", launched());
}

/* ---- conditions ---- */

static node_params condition_of(uint64_t handle, int type, unsigned size) {
    node_params p = any_of(CONDITIONAL);
    p.of.condition.handle = handle;
    p.of.condition.type = type;
    p.of.condition.size = size;
    p.of.condition.context = context[0];
    return p;
}
static void conditions(void) {
    uint64_t handle = 0, other = 0;
    node_params p;
    void *body, *graph, *clone = NULL, *spare = NULL;
    alloc_params a = alloc_of(64);
    host_params h = host_of(nothing);
    begin();
    PROBE("handle_to_null", cu.cuGraphConditionalHandleCreate(NULL, g, context[0], 0, 1));
    PROBE("handle_no_graph", cu.cuGraphConditionalHandleCreate(&handle, NULL, context[0], 0, 1));
    PROBE("handle_flags_2", cu.cuGraphConditionalHandleCreate(&handle, g, context[0], 0, 2));
    PROBE("handle_no_context", cu.cuGraphConditionalHandleCreate(&other, g, NULL, 0, 1));
    PROBE("handle", cu.cuGraphConditionalHandleCreate(&handle, g, context[0], 0, 1));
    PROBE("size_0", add_any(g, condition_of(handle, 0, 0)));
    PROBE("if_3", add_any(g, condition_of(handle, 0, 3)));
    PROBE("while_2", add_any(g, condition_of(handle, 1, 2)));
    PROBE("type_3", add_any(g, condition_of(handle, 3, 1)));
    graph = new_graph();
    PROBE("of_another_graph", add_any(graph, condition_of(handle, 0, 1)));
    p = condition_of(handle, 0, 1);
    p.of.condition.context = NULL;
    PROBE("no_context", add_any(new_graph(), p));
    p = condition_of(handle, 0, 2);
    PROBE("if", cu.cuGraphAddNode_v2(&node, g, NULL, NULL, 0, &p));
    body = p.of.condition.graphs ? p.of.condition.graphs[0] : NULL;
    PROBE("handle_again", add_any(g, condition_of(handle, 0, 1)));
    PROBE("destroy_body", cu.cuGraphDestroy(body));
    PROBE("instantiate_body", made(body));
    PROBE("alloc_in_body", cu.cuGraphAddMemAllocNode(&spare, body, NULL, 0, &a));
    PROBE("clone", cu.cuGraphClone(&clone, g));
    PROBE("as_child", cu.cuGraphAddChildGraphNode(&spare, graph, NULL, 0, g));
    PROBE("instantiate_empty_bodies", made(g));
    PROBE("kernel_in_body", add_kernel(body, kernel_of(store, store_params)));
    PROBE("instantiate", made(g));
    PROBE("instantiate_twice", cu.cuGraphInstantiateWithFlags(&spare, g, 0));
    PROBE("set_in_body", set_kernel(kernel_of(nop, NULL)));
    PROBE("launch", launched());
    PROBE("host_in_body", cu.cuGraphAddHostNode(&spare, body, NULL, 0, &h));
    PROBE("instantiate_host_in_body", made(g));
    graph = new_graph();
    PROBE("unused_handle", cu.cuGraphConditionalHandleCreate(&handle, graph, context[0], 0, 1));
    PROBE("instantiate_unused_handle", made(graph));
}

/* What the group above lost, since a body with memory cannot be instantiated. */
static void bodies(void) {
    uint64_t handle = 0;
    node_params p;
    void *body, *graph, *spare = NULL;
    alloc_params a = alloc_of(64);
    host_params h = host_of(nothing);
    begin();
    cu.cuGraphConditionalHandleCreate(&handle, g, context[0], 0, 1);
    p = condition_of(handle, 0, 1);
    cu.cuGraphAddNode_v2(&node, g, NULL, NULL, 0, &p);
    body = p.of.condition.graphs ? p.of.condition.graphs[0] : NULL;
    PROBE("instantiate_empty", made(g));
    PROBE("kernel", add_kernel(body, kernel_of(store, store_params)));
    PROBE("instantiate", made(g));
    PROBE("instantiate_twice", cu.cuGraphInstantiateWithFlags(&spare, g, 0));
    PROBE("set_in_body", set_kernel(kernel_of(nop, NULL)));
    PROBE("launch", launched());
    PROBE("host", cu.cuGraphAddHostNode(&spare, body, NULL, 0, &h));
    PROBE("instantiate_host", made(g));
    graph = new_graph();
    cu.cuGraphConditionalHandleCreate(&handle, graph, context[0], 0, 1);
    p = condition_of(handle, 0, 1);
    cu.cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &p);
    body = p.of.condition.graphs ? p.of.condition.graphs[0] : NULL;
    cu.cuGraphAddMemAllocNode(&spare, body, NULL, 0, &a);
    PROBE("instantiate_alloc", made(graph));
    PROBE("free", cu.cuGraphAddMemFreeNode(&spare, body, NULL, 0, a.address));
    PROBE("instantiate_free", made(graph));
}

/* Memory of a graph in nodes of this and another graph: kernel, fill, copy as digits, 1 where the
   call failed. */
static int users(void *graph, ptr p) {
    kernel_params k = kernel_of(store, store_params);
    int result;
    address = p;
    result = (add_kernel(graph, k) != 0) * 100;
    result += (add_fill(graph, fill_of(p, WORDS, 1)) != 0) * 10;
    result += add_copy(graph, copy_of(memory[0], p, 16, 1)) != 0;
    address = memory[0];
    return result;
}
static void own(void) {
    alloc_params a = alloc_of(64), b = alloc_of(64);
    void *allocs = NULL, *other, *fill, *later;
    begin();
    cu.cuGraphAddMemAllocNode(&allocs, g, NULL, 0, &a);
    cu.cuGraphAddMemsetNode(
            &node, g, &allocs, 1, &(fill_params){ a.address, LINE, 5, 4, WORDS, 1 }, context[0]);
    fill = node;
    PROBE("before_free", users(new_graph(), a.address));
    PROBE("free", cu.cuGraphAddMemFreeNode(&later, g, &fill, 1, a.address));
    PROBE("here", users(g, a.address));
    PROBE("elsewhere", users(new_graph(), a.address));
    g = new_graph();
    cu.cuGraphAddMemAllocNode(&allocs, g, NULL, 0, &b);
    made(g);
    PROBE("instantiated", users(new_graph(), b.address));
    PROBE("launched", (launched(), users(new_graph(), b.address)));
    other = new_graph();
    PROBE("free_in_another", cu.cuGraphAddMemFreeNode(&node, other, NULL, 0, b.address));
    PROBE("freed_in_another", users(new_graph(), b.address));
    PROBE("free_in_a_third", cu.cuGraphAddMemFreeNode(&node, new_graph(), NULL, 0, b.address));
    g = new_graph();
    a = alloc_of(64);
    cu.cuGraphAddMemAllocNode(&allocs, g, NULL, 0, &a);
    cu.cuGraphAddMemsetNode(
            &node, g, &allocs, 1, &(fill_params){ a.address, LINE, 5, 4, WORDS, 1 }, context[0]);
    fill = node;
    cu.cuGraphAddMemFreeNode(&later, g, &fill, 1, a.address);
    made(g);
    node = fill;
    PROBE("set_exec_fill", set_fill(fill_of(a.address, 2, 1)));
    PROBE("set_exec_fill_to_0", set_fill(fill_of(0, 2, 1)));
}

static void embedded(void) {
    void *child = new_graph(), *parent = NULL, *inner = NULL, *clone = NULL, *one, *list[2];
    size_t n = 2;
    struct update info;
    kernel_params k;
    begin();
    child = new_graph();
    store_node(child);
    cu.cuGraphAddChildGraphNode(&parent, g, NULL, 0, child);
    cu.cuGraphChildGraphNodeGetGraph(parent, &inner);
    PROBE("clone", cu.cuGraphClone(&clone, inner));
    made(g);
    PROBE("update_from_it", cu.cuGraphExecUpdate_v2(x, inner, &info));
    one = store_node(inner);
    PROBE("destroy_node", cu.cuGraphDestroyNode(one));
    PROBE("nodes", (list[0] = list[1] = NULL, cu.cuGraphGetNodes(inner, list, &n), (int)n));
    made(g);
    child = new_graph();
    k = kernel_of(store, store_params);
    k.grid[0] = 2;
    add_kernel(child, k);
    PROBE("child_other_grid", cu.cuGraphExecChildGraphNodeSetParams(x, parent, child));
    child = new_graph();
    add_kernel(child, kernel_of(nop, NULL));
    PROBE("child_other_function", cu.cuGraphExecChildGraphNodeSetParams(x, parent, child));
    PROBE("launch", launched());
    child = new_graph();
    add_fill(child, fill_of(memory[0], 4, 1));
    cu.cuGraphAddChildGraphNode(&parent, g = new_graph(), NULL, 0, child);
    made(g);
    child = new_graph();
    add_fill(child, fill_of(memory[0] + 64, 2, 1));
    PROBE("child_other_fill", cu.cuGraphExecChildGraphNodeSetParams(x, parent, child));
}

/* What of a child graph may change, and whether destroyed nodes count. */
static void *store_graph(int destroyed_before, int destroyed_after, unsigned blocks) {
    void *graph = new_graph();
    kernel_params k = kernel_of(store, store_params);
    k.grid[0] = blocks;
    if (destroyed_before) cu.cuGraphDestroyNode(store_node(graph));
    add_kernel(graph, k);
    if (destroyed_after) cu.cuGraphDestroyNode(store_node(graph));
    return graph;
}
static void numbers(void) {
    void *child, *parent = NULL, *inner = NULL;
    struct update info;
    begin();
    child = store_graph(0, 0, 1);
    cu.cuGraphAddChildGraphNode(&parent, g, NULL, 0, child);
    cu.cuGraphChildGraphNodeGetGraph(parent, &inner);
    made(g);
    PROBE("same", cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(0, 0, 1)));
    PROBE("other_grid", cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(0, 0, 2)));
    child = new_graph();
    add_kernel(child, kernel_of(nop, NULL));
    PROBE("other_function", cu.cuGraphExecChildGraphNodeSetParams(x, parent, child));
    PROBE("destroyed_before",
            cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(1, 0, 1)));
    PROBE("destroyed_after",
            cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(0, 1, 1)));
    cu.cuGraphDestroyNode(store_node(inner));
    PROBE("destroyed_inside",
            cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(0, 0, 1)));
    made(g);
    PROBE("made_again", cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(0, 0, 1)));
    PROBE("both_destroyed", cu.cuGraphExecChildGraphNodeSetParams(x, parent, store_graph(0, 1, 1)));
    PROBE("launch", launched());
    made(store_graph(0, 0, 1));
    PROBE("update_destroyed", cu.cuGraphExecUpdate_v2(x, store_graph(0, 1, 1), &info));
    made(store_graph(0, 1, 1));
    PROBE("update_same", cu.cuGraphExecUpdate_v2(x, store_graph(0, 0, 1), &info));
    PROBE("update_other_grid", cu.cuGraphExecUpdate_v2(x, store_graph(0, 0, 2), &info));
}

/* A graph with a conditional node and its one executable graph. */
static void once(void) {
    uint64_t handle = 0;
    node_params p;
    void *body, *spare = NULL;
    begin();
    cu.cuGraphConditionalHandleCreate(&handle, g, context[0], 1, 1);
    p = condition_of(handle, 0, 1);
    cu.cuGraphAddNode_v2(&node, g, NULL, NULL, 0, &p);
    body = p.of.condition.graphs ? p.of.condition.graphs[0] : NULL;
    PROBE("kernel", add_kernel(body, kernel_of(store, store_params)));
    PROBE("instantiate", made(g));
    PROBE("set_in_body", set_kernel(kernel_of(nop, NULL)));
    PROBE("launch", launched());
    PROBE("instantiate_twice", cu.cuGraphInstantiateWithFlags(&spare, g, 0));
    PROBE("destroy", cu.cuGraphExecDestroy(x));
    PROBE("instantiate_after", made(g));
    PROBE("launch_after", launched());
}

/* Whether a disabled node still orders those before and after it. Each writes one word: to the
   program's memory, or to memory that the graph allocates, from which it is copied out at the
   end. */
static const char *const kind_names[] = { "kernel", "copy" };
static ptr constants(unsigned k) { return memory[0] + 2048 + 4 * k; }
static void *add_write(int kind, void *before, ptr to, unsigned k) {
    kernel_params p = kernel_of(store, store_params);
    fill_params f = fill_of(to, 1, 1);
    copy_3d c = copy_of(to, constants(k), 4, 1);
    void *made_node = NULL;
    f.value = number = k;
    address = to;
    if (kind == KERNEL) cu.cuGraphAddKernelNode_v2(&made_node, g, &before, before != NULL, &p);
    if (kind == MEMCPY)
        cu.cuGraphAddMemcpyNode(&made_node, g, &before, before != NULL, &c, context[0]);
    if (kind == MEMSET)
        cu.cuGraphAddMemsetNode(&made_node, g, &before, before != NULL, &f, context[0]);
    return made_node;
}
static int last_written(int own, int before, int between, int after) {
    gate held = make_gate();
    ptr to = memory[0];
    alloc_params a = alloc_of(64);
    kernel_params k = kernel_of(kernel(0, "spin"), NULL);
    void *last = NULL, *off, *params[1] = { &held.address };
    copy_3d c;
    uint32_t got = 0;
    g = new_graph();
    if (own) {
        cu.cuGraphAddMemAllocNode(&last, g, NULL, 0, &a);
        to = a.address;
    }
    k.params = params;
    cu.cuGraphAddKernelNode_v2(&node, g, &last, last != NULL, &k);
    off = add_write(between, add_write(before, node, to, 1), memory[0] + LINE, 3);
    last = add_write(after, off, to, 2);
    if (own) {
        c = copy_of(memory[0], to, 4, 1);
        cu.cuGraphAddMemcpyNode(&node, g, &last, 1, &c, context[0]);
        cu.cuGraphAddMemFreeNode(&last, g, &node, 1, to);
    }
    if (made(g) || cu.cuGraphNodeSetEnabled(x, off, 0)) return 7;
    cu.cuGraphLaunch(x, stream);
    sleep_ms(5); /* not order: on a GPU, for what the disabled node lets pass */
    open_gate(held);
    cu.cuStreamSynchronize(stream);
    cu.cuMemcpyDtoH_v2(&got, memory[0], 4);
    return (int)got;
}
static void disabled(void) {
    char question[40], text[10];
    unsigned own, between, k;
    begin();
    for (k = 1; k < 4; k++) cu.cuMemsetD32_v2(constants(k), k, 1);
    for (own = 0; own < 2; own++)
        for (between = 0; between < MEMSET; between++) { /* a GPU loses the order around a disabled
                                                            fill */
            snprintf(question, sizeof question, "%s_%s", own ? "own" : "device",
                    kind_names[between]);
            for (k = 0; k < 9; k++)
                text[k] = (char)('0' +
                        last_written((int)own, (int)k / 3, (int)between, (int)k % 3));
            text[9] = 0;
            answer(question, "%s", text);
        }
}

/* ---- user objects ---- */

static int ended; /* atomic: the driver's thread counts */
static void end(void *user) {
    (void)user;
    __atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
}
static int ends(void) {
    UNTIL(__atomic_load_n(&ended, __ATOMIC_ACQUIRE));
    return __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
}
static void objects(void) {
    void *o = NULL, *clone = NULL;
    begin();
    PROBE("to_null", cu.cuUserObjectCreate(NULL, NULL, end, 1, 1));
    PROBE("no_function", cu.cuUserObjectCreate(&o, NULL, NULL, 1, 1));
    PROBE("count_0", cu.cuUserObjectCreate(&o, NULL, end, 0, 1));
    PROBE("flags_0", cu.cuUserObjectCreate(&o, NULL, end, 1, 0));
    PROBE("create", cu.cuUserObjectCreate(&o, NULL, end, 2, 1));
    PROBE("retain_0", cu.cuUserObjectRetain(o, 0));
    PROBE("release_0", cu.cuUserObjectRelease(o, 0));
    PROBE("retain_null", cu.cuUserObjectRetain(NULL, 1));
    PROBE("graph_null", cu.cuGraphRetainUserObject(NULL, o, 1, 0));
    PROBE("graph_object_null", cu.cuGraphRetainUserObject(g, NULL, 1, 0));
    PROBE("graph_count_0", cu.cuGraphRetainUserObject(g, o, 0, 0));
    PROBE("graph_flags_2", cu.cuGraphRetainUserObject(g, o, 1, 2));
    PROBE("graph_release_none", cu.cuGraphReleaseUserObject(g, o, 1));
    PROBE("graph_retain", cu.cuGraphRetainUserObject(g, o, 1, 0));
    PROBE("graph_move", cu.cuGraphRetainUserObject(g, o, 1, 1));
    PROBE("graph_release_3", cu.cuGraphReleaseUserObject(g, o, 3));
    PROBE("graph_release", cu.cuGraphReleaseUserObject(g, o, 1));
    PROBE("clone", cu.cuGraphClone(&clone, g));
    PROBE("instantiate", made(g));
    PROBE("release", cu.cuUserObjectRelease(o, 1));
    PROBE("destroy", cu.cuGraphDestroy(g));
    PROBE("ended_with_graph", (wrong_time(), __atomic_load_n(&ended, __ATOMIC_ACQUIRE)));
    PROBE("destroy_clone", cu.cuGraphDestroy(clone));
    PROBE("ended_with_clone", (wrong_time(), __atomic_load_n(&ended, __ATOMIC_ACQUIRE)));
    PROBE("exec_destroy", cu.cuGraphExecDestroy(x));
    PROBE("ended", ends());
}

const group node_groups[] = {
    { "nodes_arguments", arguments, 1 },
    { "nodes_places", places, 1 },
    { "nodes_kernels", kernels, 1 },
    { "nodes_copies", copies, 1 },
    { "nodes_fills", fills, 1 },
    { "nodes_memory", memory_nodes, 1 },
    { "nodes_children", children, 1 },
    { "nodes_enabled", enabled, 1 },
    { "nodes_attributes", attributes, 1 },
    { "nodes_generic", generic, 1 },
    { "nodes_edges", edges, 1 },
    { "nodes_conditions", conditions, 1 },
    { "nodes_objects", objects, 1 },
    { "nodes_bodies", bodies, 1 },
    { "nodes_own", own, 1 },
    { "nodes_embedded", embedded, 1 },
    { "nodes_disabled", disabled, 1 },
    { "nodes_numbers", numbers, 1 },
    { "nodes_once", once, 1 },
    { NULL, NULL, 0 },
};
