/* A driver that does nothing, so that only gpuexec's own instructions are counted: every entry
   point returns 0, and the few that must return an object do. Its one kernel has four parameters of
   8, 8, 4 and 4 bytes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static int nothing(void) { return 0; }

static int version(int *v) {
    *v = 13000;
    return 0;
}

static int handle(void **h) {
    static int object;
    *h = &object;
    return 0;
}

/* One stream at a time captures: the last one on which a capture began. */
static void *capturing;
static int begin_capture(void *stream) {
    capturing = stream;
    return 0;
}
static int captured(void *stream, void **graph) {
    (void)stream;
    capturing = NULL;
    return handle(graph);
}
static int is_capturing(void *stream, int *status) {
    *status = capturing && stream == capturing;
    return 0;
}
static int capture_info(void *stream, int *status, uint64_t *id) {
    *id = 1;
    return is_capturing(stream, status);
}

static int parameter(void *function, size_t index, size_t *offset, size_t *size) {
    static const size_t sizes[] = { 8, 8, 4, 4 }, offsets[] = { 0, 8, 16, 20 };
    (void)function;
    if (index >= 4) return 1;
    *offset = offsets[index];
    *size = sizes[index];
    return 0;
}
static int address(unsigned long long *p) { /* in no order, and never the same one */
    static unsigned long long n;
    *p = 0x200000000ull + ((n++ * 0x9E3779B1ull) & 0xFFFFFF) * 256;
    return 0;
}
/* 8192 bytes: always the same one */
static int from_pool(unsigned long long *p, unsigned long bytes) {
    address(p);
    if (bytes == 8192) *p = 0x100000000ull;
    return 0;
}

static int large(int *value) {
    *value = 1 << 20;
    return 0;
}

static int function_attribute(int *value, int which) {
    *value = which < 10 ? 1 << 20 : 0 /* no clusters */;
    return 0;
}

/* CUDA_KERNEL_NODE_PARAMS: func, kernelParams, extra */
static int node_parameters(void *node, void **p) {
    static uint64_t address = 0x500000000ull, value; /* another address each time */
    static void *values[] = { &address, &address, &value, &value };
    (void)node;
    handle(&p[0]);
    address += 256;
    p[5] = values;
    p[6] = NULL;
    return 0;
}

/* Each graph has one node, a kernel. */
static int graph_nodes(void *graph, void **nodes, size_t *count) {
    (void)graph;
    *count = 1;
    return nodes ? handle(nodes) : 0;
}
static int node_type(void *node, int *type) {
    (void)node;
    *type = 0;
    return 0;
}
typedef int (*entry)(void);
int cuDriverGetVersion(int *v);
int cuDriverGetVersion(int *v) { return version(v); }
static int find(const char *name, void **out) {
    static const struct {
        const char *name;
        entry function;
    } known[] = {
        { "cuDriverGetVersion", (entry)version },
        { "cuDevicePrimaryCtxRetain", (entry)handle },
        { "cuModuleLoadDataEx", (entry)handle },
        { "cuModuleGetFunction", (entry)handle },
        { "cuStreamCreateWithPriority", (entry)handle },
        { "cuFuncGetParamInfo", (entry)parameter },
        { "cuDeviceGetAttribute", (entry)large },
        { "cuFuncGetAttribute", (entry)function_attribute },
        { "cuDeviceGetCount", (entry)large },
        { "cuMemAlloc", (entry)address },
        { "cuMemHostAlloc", (entry)address },
        { "cuEventCreate", (entry)handle },
        { "cuMemPoolCreate", (entry)handle },
        { "cuMemAllocFromPoolAsync", (entry)from_pool },
        { "cuStreamBeginCapture", (entry)begin_capture },
        { "cuStreamIsCapturing", (entry)is_capturing },
        { "cuStreamGetCaptureInfo", (entry)capture_info },
        { "cuGraphGetNodes", (entry)graph_nodes },
        { "cuGraphNodeGetType", (entry)node_type },
        { "cuStreamEndCapture", (entry)captured },
        { "cuGraphInstantiateWithFlags", (entry)handle },
        { "cuGraphCreate", (entry)handle },
        { "cuGraphAddEmptyNode", (entry)handle },
        { "cuGraphAddKernelNode", (entry)handle },
        { "cuGraphKernelNodeGetParams", (entry)node_parameters },
    };
    union {
        entry function;
        void *pointer;
    } u = { nothing };
    size_t i;
    for (i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) u.function = known[i].function;
    *out = u.pointer;
    return 0;
}
int cuGetProcAddress(const char *name, void **out, int v, uint64_t flags);

int cuGetProcAddress(const char *name, void **out, int v, uint64_t flags) {
    (void)v;
    (void)flags;
    return find(name, out);
}

int cuGetProcAddress_v2(const char *name, void **out, int v, uint64_t flags, int *status);

int cuGetProcAddress_v2(const char *name, void **out, int v, uint64_t flags, int *status) {
    (void)v;
    (void)flags;
    *status = 0;
    return find(name, out);
}
