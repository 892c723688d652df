/* devrt.c - kernels that launch kernels (unit/cdp.cu), linked with the device runtime:
   GPUEXEC_CUDADEVRT, or that of the toolkit in /usr/local/cuda. The CPU device needs none. */
#include "probe.h"

enum { WORDS = 64, PTX = 1, LIBRARY = 4, PENDING = 4, CAPTURE_RELAXED = 2 };

static void *linked;
static uint32_t words[WORDS];

/* The bytes of a file, with a NUL; NULL: it cannot be read. */
static char *contents(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long n = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) n = ftell(file);
    if (n >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
            (data = (char *)calloc(1, (size_t)n + 1)) != NULL)
        *bytes = fread(data, 1, (size_t)n, file);
    if (file) fclose(file);
    return data;
}

/* The results of adding the text and the library, of linking and of loading. */
static void link_with(const char *question, const char *ptx, int with_library) {
    const char *named = getenv("GPUEXEC_CUDADEVRT");
    void *state = NULL, *image = NULL;
    size_t size = 0, bytes = 0;
    char *text = contents(ptx, &size), *library;
    int added, more = 0, completed, loaded = 77;
    if (skipped(question)) return;
    library = contents(named ? named : "/usr/local/cuda/lib64/libcudadevrt.a", &bytes);
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    added = cu.cuLinkAddData_v2(state, PTX, text, size + 1, "cdp", 0, NULL, NULL);
    if (with_library && library)
        more = cu.cuLinkAddData_v2(state, LIBRARY, library, bytes, "library", 0, NULL, NULL);
    completed = cu.cuLinkComplete(state, &image, &bytes);
    if (completed == 0) loaded = cu.cuModuleLoadData(&linked, image);
    answer(question, "%d %s%d %d", added, with_library && more ? "failed " : "", completed, loaded);
    cu.cuLinkDestroy(state);
    free(text);
    free(library);
}

/* Runs a kernel on zeroed words; the result of the wait. */
static int run(const char *name, unsigned threads, unsigned a, unsigned b, ptr address) {
    void *f = NULL, *params[] = { &memory[0], &a, &b };
    int result = cu.cuModuleGetFunction(&f, linked, name);
    if (address) params[2] = &address;
    memset(words, 0, sizeof words);
    if (!result) result = cu.cuMemcpyHtoD_v2(memory[0], words, sizeof words);
    if (!result) result = cu.cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
    if (!result) result = cu.cuCtxSynchronize();
    if (!result) result = cu.cuMemcpyDtoH_v2(words, memory[0], sizeof words);
    return result;
}

static void show(const char *question, int result, int from, int n) {
    char text[400];
    int at = snprintf(text, sizeof text, "%d", result), i;
    for (i = from; i < from + n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %u", words[i]);
    answer(question, "%s", text);
}

#define CDP "tests/device/unit/cdp.ptx"
#define SHOW(question, call, from, n) \
    do { \
        if (!skipped(question)) show(question, call, from, n); \
    } while (0)

static void devrt(void) {
    void *graph = NULL, *exec = NULL, *stream = NULL, *f = NULL;
    unsigned depth = 0, most = 3;
    void *params[] = { &memory[0], &depth, &most };
    open_one();
    link_with("link", CDP, 1);
    SHOW("nest", run("nest", 1, 0, 40, 0), 0, 3);
    SHOW("nest_24", run("nest", 1, 0, 24, 0), 0, 3);
    SHOW("tails", run("again", 1, 40, 0, 0), 0, 3);
    SHOW("gather", run("gather", 1, 4, 0, 0), 0, 2);
    SHOW("errors", run("errors", 2, 0, 0, 0), 0, 14);
    SHOW("errors_of_others", run("errors", 2, 0, 0, 0), 30, 2);
    SHOW("special", run("special", 1, 0, 0, 0), 0, 11);
    SHOW("special_words", run("special", 1, 0, 0, 0), 16, 4);
    SHOW("limit", run("query", 1, 0, 0, 0), 3, 4);
    cu.cuStreamCreateWithPriority(&stream, 1, 0);
    cu.cuModuleGetFunction(&f, linked, "nest");
    memset(words, 0, sizeof words);
    cu.cuMemcpyHtoD_v2(memory[0], words, sizeof words);
    PROBE("capture", cu.cuStreamBeginCapture_v2(stream, CAPTURE_RELAXED));
    PROBE("captured_launch", cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    PROBE("end_capture", cu.cuStreamEndCapture(stream, &graph));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    PROBE("launch_graph", cu.cuGraphLaunch(exec, stream));
    PROBE("sync_graph", cu.cuStreamSynchronize(stream));
}

static void devrt_pending(void) {
    gate g;
    size_t limit = 0;
    open_one();
    g = make_gate();
    link_with("link", CDP, 1);
    SHOW("default", run("flood", 1, 6000, 0, g.address), 0, 3);
    PROBE("set", cu.cuCtxSetLimit(PENDING, 8192));
    cu.cuCtxGetLimit(&limit, PENDING);
    PROBE("get", (int)limit);
    *g.word = 0;
    SHOW("more", run("flood", 1, 6000, 0, g.address), 0, 3);
    PROBE("set_100", cu.cuCtxSetLimit(PENDING, 100));
    cu.cuCtxGetLimit(&limit, PENDING);
    PROBE("get_100", (int)limit);
    *g.word = 0;
    SHOW("less", run("flood", 1, 6000, 0, g.address), 0, 3);
    PROBE("set_0", cu.cuCtxSetLimit(PENDING, 0));
    cu.cuCtxGetLimit(&limit, PENDING);
    PROBE("get_0", (int)limit);
}

static void devrt_missing(void) {
    size_t bytes;
    char *text;
    open_one();
    link_with("link", CDP, 0);
    text = contents(CDP, &bytes);
    PROBE("load", cu.cuModuleLoadData(&linked, text));
}

static void devrt_first(void) {
    open_one();
    link_with("link", "tests/device/unit/cdp_first.ptx", 1);
    SHOW("wait", run("wait_for_children", 32, 1, 0, 0), 0, 5);
}

/* What CUDA leaves undefined. */
static void alone(const char *name, int n) {
    open_one();
    link_with("link", CDP, 1);
    SHOW(name, run(name, 1, 0, 0, 0), 0, n);
}
static void devrt_stale(void) { alone("stale", 3); }
static void devrt_lent(void) { alone("lend_stream", 1); }
static void devrt_shared(void) { alone("pass_shared", 1); }
static void devrt_local(void) { alone("pass_local", 1); }

const group devrt_groups[] = {
    { "devrt", devrt, 1 },
    { "devrt_pending", devrt_pending, 1 },
    { "devrt_missing", devrt_missing, 1 },
    { "devrt_first", devrt_first, 1 },
    { "devrt_stale", devrt_stale, 1 },
    { "devrt_lent", devrt_lent, 1 },
    { "devrt_shared", devrt_shared, 1 },
    { "devrt_local", devrt_local, 1 },
    { NULL, NULL, 0 },
};
