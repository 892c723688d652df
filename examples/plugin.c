/*  cc examples/plugin.c -o plugin && ./plugin

    A plugin uses gpuexec inside a host program that has its own CUDA context, stream and memory and
    does not know gpuexec. Both halves are in this file; the host calls the driver directly, as a
    program linked to libcuda does. The plugin can also be built as a library, which the host then
    loads:
        cc -shared -fPIC examples/plugin.c -o plugin.so && ./plugin ./plugin.so

    Prints:
        host: created a context, a stream and 2 arrays of 100000 elements
        plugin: enqueued y = 2 x + y on the host's stream, twice
        host: the plugin returned: examples/plugin.c:48: gpuexec_launch: kernel "saxpy" ... empty
            grid: grid_x is 0
        (GPUEXEC_BAD_LAUNCH)
          driver: ...
          cure: do not launch if there is nothing to do (gpuexec_grid_for(0, ...) is an empty grid)
        host: 100000 results are correct; its context, stream and arrays are still valid
*/
#include "example.h"
#include <dlfcn.h>
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

/* The interface between the two. Each function returns NULL, or a text that says what failed. */
typedef struct plugin {
    const char *(*open)(struct CUctx_st *context, struct CUstream_st *stream, const char *ptx_path);
    /* enqueues y = a x + y and returns immediately */
    const char *(*add_scaled)(float a, unsigned long long x, unsigned long long y, int n);
    const char *(*close)(void);
} plugin;
#define EXPORT __attribute__((visibility("default")))
EXPORT const plugin *example_plugin(void);

/* ---- the plugin ---- */

static gpuexec_context ctx;
static gpuexec_stream stream;
static gpuexec_kernel saxpy;

static const char *failure(void) {
    return gpuexec_take_error() == GPUEXEC_OK ? NULL : gpuexec_error_text();
}

static const char *plugin_open(
        struct CUctx_st *host_context, struct CUstream_st *host_stream, const char *ptx_path) {
    /* the host still owns the context; gpuexec_context_attach would share ownership */
    ctx = gpuexec_context_from_native(host_context);
    stream = gpuexec_stream_from_native(ctx, host_stream);
    saxpy = gpuexec_kernel_get(gpuexec_module_load_file(ctx, ptx_path, NULL), "saxpy");
    return failure();
}
static const char *plugin_add_scaled(float a, unsigned long long x, unsigned long long y, int n) {
    gpuexec_launch(saxpy, stream, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(a, x, y, n));
    return failure();
}
static const char *plugin_close(void) {
    /* shuts down this copy of gpuexec; the last call before dlclose */
    gpuexec_result closed = gpuexec_context_close(ctx), ended = gpuexec_shutdown();
    return closed || ended ? "the plugin could not close\n" : NULL;
}
const plugin *example_plugin(void) {
    static const plugin functions = { plugin_open, plugin_add_scaled, plugin_close };
    return &functions;
}

/* ---- the host, which uses only the driver ---- */

/* clang-format off */
#define DRIVER(X) \
    X(cuInit, cuInit, (unsigned)) \
    X(cuCtxCreate, cuCtxCreate_v2, (struct CUctx_st **, unsigned, int)) \
    X(cuCtxDestroy, cuCtxDestroy_v2, (struct CUctx_st *)) \
    X(cuStreamCreate, cuStreamCreate, (struct CUstream_st **, unsigned)) \
    X(cuStreamSynchronize, cuStreamSynchronize, (struct CUstream_st *)) \
    X(cuStreamDestroy, cuStreamDestroy_v2, (struct CUstream_st *)) \
    X(cuMemAlloc, cuMemAlloc_v2, (unsigned long long *, size_t)) \
    X(cuMemFree, cuMemFree_v2, (unsigned long long)) \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (unsigned long long, const void *, size_t)) \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *, unsigned long long, size_t))
/* clang-format on */
#define MEMBER(name, symbol, parameters) int(*name) parameters;
#define SYMBOL(name, symbol, parameters) #symbol,
#define COUNTED(name, symbol, parameters) +1
static const char *const symbols[] = { DRIVER(SYMBOL) };
static union {
    struct {
        DRIVER(MEMBER)
    } f;
    void *p[0 DRIVER(COUNTED)];
} cu;

static void must(const char *what, int failed) {
    if (failed) fprintf(stderr, "%s failed\n", what), exit(1);
}
#define CU(call) must(#call, cu.f.call)

int main(int argc, char **argv) {
    enum { n = 100000 };
    static float x[n], y[n];
    const char *name = getenv("GPUEXEC_DRIVER"), *text;
    union {
        void *p;
        const plugin *(*get)(void);
    } entry;
    struct CUctx_st *context;
    struct CUstream_st *queue;
    unsigned long long dx, dy;
    int i, wrong = 0;
    void *driver = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW);
    must("loading the driver", !driver);
    for (i = 0; i < (int)(sizeof symbols / sizeof symbols[0]); i++)
        must(symbols[i], !(cu.p[i] = dlsym(driver, symbols[i])));
    entry.get = example_plugin; /* the plugin in this file, or the library in argv[1] */
    if (argc > 1)
        must("the plugin's entry",
                !(driver = dlopen(argv[1], RTLD_NOW)) ||
                        !(entry.p = dlsym(driver, "example_plugin")));
    for (i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    CU(cuInit(0));
    CU(cuCtxCreate(&context, 0, 0));
    CU(cuStreamCreate(&queue, 0));
    CU(cuMemAlloc(&dx, sizeof x));
    CU(cuMemAlloc(&dy, sizeof y));
    CU(cuMemcpyHtoD(dx, x, sizeof x));
    CU(cuMemcpyHtoD(dy, y, sizeof y));
    printf("host: created a context, a stream and 2 arrays of %d elements\n", n);

    const plugin *p = entry.get();
    text = p->open(context, queue, example_ptx("saxpy.ptx"));
    if (!text) text = p->add_scaled(2, dx, dy, n);
    if (!text) text = p->add_scaled(2, dx, dy, n);
    if (text) {
        fputs(text, stderr);
        return 1;
    }
    printf("plugin: enqueued y = 2 x + y on the host's stream, twice\n");
    text = p->add_scaled(2, dx, dy, 0); /* the host's mistake: an empty array */
    printf("host: the plugin returned: %s", text ? text : "no error, which is wrong\n");
    must("closing the plugin", !text || p->close() != NULL);

    CU(cuStreamSynchronize(queue));
    /* the plugin is closed; the host's objects are still valid */
    CU(cuMemcpyDtoH(y, dy, sizeof y));
    CU(cuMemFree(dx));
    CU(cuMemFree(dy));
    CU(cuStreamDestroy(queue));
    CU(cuCtxDestroy(context));
    for (i = 0; i < n; i++) wrong += y[i] != 4 * x[i] + 1;
    printf("host: %d results are %s\n", n,
            wrong ? "not all correct" : "correct; its context, stream and arrays are still valid");
    return wrong != 0;
}
