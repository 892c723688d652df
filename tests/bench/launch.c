/* launch.c - the cost of a launch for the calling thread: gpuexec, the driver's own calls, the CUDA
   runtime API (runtime.cu, if it was compiled: its library is the first argument), and Python's
   libraries (peer.py). The same empty kernel with four parameters on the same stream, 4 blocks of
   256 threads; bursts are shorter than the device's queue, so that no call waits for the device. */
#include "peer.h"
#include <dlfcn.h>

enum { ROUNDS = 30, BURSTS = 20, CALLS = 200 };
static unsigned rounds = ROUNDS, bursts = BURSTS;
static int calls = CALLS, missed;

static const char kernel_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry four(.param .u64 x, .param .u64 y, .param .u32 "
                                  "n, .param .f32 a) { ret; }\n";
static gpuexec_ptr x, y;
static int n = 1000;
static float a = 2.0f, *changing;
static gpuexec_context context, adopted;
static gpuexec_stream stream, legacy, adopted_stream;
static gpuexec_kernel kernel, adopted_kernel;
static gpuexec_prepared prepared;
static gpuexec_args block_args;
static gpuexec_launch_desc priority;
static driver_calls cu; /* the driver's entry points, for the raw calls */
/* of a green context, if there are any */
static gpuexec_context green;
static gpuexec_kernel green_kernel;
static gpuexec_stream green_stream;
static struct CUfunc_st *green_function;
static struct CUstream_st *green_queue;
static struct CUfunc_st *function;
static struct CUstream_st *queue;
/* current: the context that is current during a burst, or NULL */
static struct CUctx_st *native, *current;

static double settle(double begin, double end, int bad, const char *what) {
    if (!bad) bad = cu.cuStreamSynchronize(queue) || cu.cuStreamSynchronize(NULL);
    if (!bad && green_queue) bad = cu.cuStreamSynchronize(green_queue);
    if (bad) {
        fprintf(stderr, "%s failed: %s\n", what, gpuexec_error_text());
        exit(1);
    }
    return end - begin;
}
#define BURST(name, call) \
    static double name(int count) { \
        double begin, end; \
        int i, bad = cu.cuCtxSetCurrent(current); \
        begin = microseconds(); \
        for (i = 0; i < count; i++) bad |= (int)(call); \
        end = microseconds(); \
        return settle(begin, end, bad | cu.cuCtxSetCurrent(native), #name); \
    }

/* As in a program without gpuexec. */
#define POINTERS ((void *[]){ &x, &y, &n, &a })
static int launch_extended(
        gxi_launch_attribute *attributes, unsigned count, void **params, void **extra) {
    gxi_launch_config config = { { 4, 1, 1, 256, 1, 1, 0 }, NULL, NULL, 0 };
    config.stream = queue;
    config.attributes = attributes;
    config.count = count;
    return cu.cuLaunchKernelEx(&config, function, params, extra);
}
static int launch_packed(int extended) {
    struct {
        gpuexec_ptr x, y;
        int n;
        float a;
    } block;
    size_t bytes = sizeof block;
    void *extra[] = { (void *)(uintptr_t)GXI_LAUNCH_PARAM_BUFFER_POINTER, &block,
        (void *)(uintptr_t)GXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes, NULL };
    block.x = x;
    block.y = y;
    block.n = n;
    block.a = a;
    return extended ? launch_extended(NULL, 0, NULL, extra)
                    : cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, NULL, extra);
}
static int launch_priority(void) {
    gxi_launch_attribute attribute;
    attribute.id = GXI_LAUNCH_PRIORITY;
    attribute.value.number = 0;
    return launch_extended(&attribute, 1, POINTERS, NULL);
}
static int launch_pushed(void) {
    struct CUctx_st *popped;
    int bad = cu.cuCtxPushCurrent_v2(native);
    if (!bad) bad = cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, POINTERS, NULL);
    return cu.cuCtxPopCurrent_v2(&popped) | bad;
}
static int launch_set(void) {
    struct CUctx_st *before;
    int bad = cu.cuCtxGetCurrent(&before);
    if (!bad && before != native) bad = cu.cuCtxSetCurrent(native);
    if (!bad) bad = cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, POINTERS, NULL);
    if (before != native) bad |= cu.cuCtxSetCurrent(before);
    return bad;
}
BURST(raw, cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, POINTERS, NULL))
BURST(raw_again, cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, POINTERS, NULL))
BURST(raw_packed, launch_packed(0))
BURST(raw_extended, launch_extended(NULL, 0, POINTERS, NULL))
BURST(raw_both, launch_packed(1))
BURST(raw_priority, launch_priority())
BURST(raw_pushed, launch_pushed())
BURST(raw_set, launch_set())
BURST(raw_green,
        cu.cuLaunchKernel(green_function, 4, 1, 1, 256, 1, 1, 0, green_queue, POINTERS, NULL))
BURST(ours_green,
        gpuexec_launch(green_kernel, green_stream, gpuexec_grid_for((size_t)n, 256),
                GPUEXEC_ARGS(x, y, n, a)))
BURST(raw_legacy, cu.cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, NULL, POINTERS, NULL))
BURST(raw_cooperative,
        cu.cuLaunchCooperativeKernel(function, 4, 1, 1, 256, 1, 1, 0, queue, POINTERS))

BURST(ours,
        gpuexec_launch(kernel, stream, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a)))
BURST(ours_block, gpuexec_launch(kernel, stream, gpuexec_grid_for((size_t)n, 256), block_args))
BURST(ours_prepared, gpuexec_launch_prepared(prepared))
BURST(ours_changed, (*changing = (float)i, gpuexec_launch_prepared(prepared)))
BURST(ours_legacy,
        gpuexec_launch(kernel, legacy, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a)))
BURST(ours_adopted,
        gpuexec_launch(adopted_kernel, adopted_stream, gpuexec_grid_for((size_t)n, 256),
                GPUEXEC_ARGS(x, y, n, a)))
BURST(ours_cooperative,
        gpuexec_launch_cooperative(
                kernel, stream, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a)))
BURST(ours_priority,
        gpuexec_launch_with(kernel, stream, gpuexec_grid_for((size_t)n, 256), &priority,
                GPUEXEC_ARGS(x, y, n, a)))

/* --- the runtime API: its functions contain the timed loops ----------------------------------- */

typedef double (*runtime_function)(int count, struct CUstream_st *stream);
static runtime_function runtime_chevrons_of, runtime_call_of, runtime_extended_of;
static const char *runtime_missing;

static double runtime_burst(
        runtime_function f, struct CUstream_st *on, const char *what, int count) {
    double time = (cu.cuCtxSetCurrent(current), f(count, on));
    return settle(0, time, (time < 0) | cu.cuCtxSetCurrent(native), what);
}

static double runtime_chevrons(int count) {
    return runtime_burst(runtime_chevrons_of, queue, "kernel<<<...>>>", count);
}

static double runtime_call(int count) {
    return runtime_burst(runtime_call_of, queue, "cudaLaunchKernel", count);
}

static double runtime_extended(int count) {
    return runtime_burst(runtime_extended_of, queue, "cudaLaunchKernelExC", count);
}

static double runtime_legacy(int count) {
    return runtime_burst(runtime_chevrons_of, NULL, "kernel<<<...>>> on the legacy stream", count);
}

static runtime_function runtime_symbol(void *library, const char *name) {
    union {
        void *p;
        runtime_function f;
    } u;
    u.p = dlsym(library, name);
    return u.f;
}
/* NULL, or why the comparison is not possible */
static const char *find_runtime(const char *path) {
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!path) return "it was not compiled (this needs nvcc)";
    if (smoke()) return "it runs on GPUs only";
    if (!library) return dlerror();
    runtime_chevrons_of = runtime_symbol(library, "runtime_chevrons");
    runtime_call_of = runtime_symbol(library, "runtime_call");
    runtime_extended_of = runtime_symbol(library, "runtime_extended");
    return runtime_chevrons_of(1, queue) < 0 ? "it does not launch" : NULL;
}

/* --- Python: see peer.h ----------------------------------------------------------------------- */

enum { PEERS = 2 };
static peer peers[PEERS] = { { "cupy", 0, 0, 0, "" }, { "cuda.core", 0, 0, 0, "" } };
static double peer_0(int count) { return peer_burst(&peers[0], count); }
static double peer_1(int count) { return peer_burst(&peers[1], count); }

/* --- tables ----------------------------------------------------------------------------------- */

/* most: the bound of its ratio, 0 for none */
typedef struct way {
    const char *name;
    burst_function burst;
    double most, most_of_runtime;
} way;

/* runtime: index of the runtime's way; 0: none */
static void table(const char *title, const way *ways, unsigned count, unsigned runtime) {
    burst_function list[MOST_WAYS];
    unsigned i;
    for (i = 0; i < count; i++) list[i] = ways[i].burst;
    contest(list, count, rounds, bursts, calls);
    printf("\n| %s | us | ratio to the first%s |\n"
           "|---|---|---%s|\n",
            title, runtime ? " | to the runtime API" : "", runtime ? "|---" : "");
    for (i = 0; i < count; i++) {
        const double ratio = contest_ratio(i, 0),
                     of_runtime = runtime ? contest_ratio(i, runtime) : 0;
        printf("| %s | %.3f | %.3f", ways[i].name, contest_time(i), ratio);
        if (ways[i].most > 0) printf(" (at most %.2f)", ways[i].most);
        if (runtime) printf(" | %.3f", of_runtime);
        if (runtime && ways[i].most_of_runtime > 0)
            printf(" (at most %.2f)", ways[i].most_of_runtime);
        printf(" |\n");
        missed += (ways[i].most > 0 && ratio > ways[i].most) +
                (runtime && ways[i].most_of_runtime > 0 && of_runtime > ways[i].most_of_runtime);
    }
    fflush(stdout);
}
/* If the runtime is missing, its ways, which are the table's last ones, are omitted. */
#define TABLE(title, ways, of_runtime, first_of_them) \
    table(title, ways, \
            (unsigned)(sizeof ways / sizeof ways[0]) - (runtime_missing ? of_runtime : 0u), \
            runtime_missing || !of_runtime ? 0 : first_of_them)

static void with_current(const char *title) {
    static const way ways[] = {
        { "cuLaunchKernel, pointers", raw, 0, 0 },
        { "the same again (the difference is noise)", raw_again, 0, 0 },
        { "cuLaunchKernel, packed buffer", raw_packed, 0, 0 },
        { "cuLaunchKernelEx, pointers", raw_extended, 0, 0 },
        { "cuLaunchKernelEx, packed buffer", raw_both, 0, 0 },
        { "gpuexec_launch", ours, 1.02, 0.97 },
        { "gpuexec_launch of a parameter block", ours_block, 0, 0 },
        { "gpuexec_launch_prepared", ours_prepared, 1.00, 0.97 },
        { "the same, one argument changed", ours_changed, 0, 0 },
        { "runtime API, kernel<<<...>>>", runtime_chevrons, 0, 0 },
        { "runtime API, cudaLaunchKernel", runtime_call, 0, 0 },
        { "runtime API, cudaLaunchKernelExC", runtime_extended, 0, 0 },
    };
    TABLE(title, ways, 3u, 9u);
}
static void without_current(const char *title) {
    static const way ways[] = {
        { "cuLaunchKernel alone: the stream determines the context", raw, 0, 0 },
        { "cuCtxPushCurrent, cuLaunchKernel, cuCtxPopCurrent", raw_pushed, 0, 0 },
        { "cuCtxGetCurrent, cuCtxSetCurrent, cuLaunchKernel, cuCtxSetCurrent", raw_set, 0, 0 },
        { "gpuexec_launch", ours, 1.02, 0.97 },
        { "gpuexec_launch_prepared", ours_prepared, 1.00, 0.97 },
        { "runtime API, kernel<<<...>>>, which makes its context current and leaves it current",
                runtime_chevrons, 0, 0 },
    };
    current = NULL;
    TABLE(title, ways, 1u, 5u);
    current = native;
}
static void others(void) {
    static const way on_legacy[] = {
        { "cuLaunchKernel", raw_legacy, 0, 0 },
        { "gpuexec_launch", ours_legacy, 0, 0 },
        { "runtime API, kernel<<<...>>>", runtime_legacy, 0, 0 },
    };
    static const way in_adopted[] = {
        { "cuLaunchKernel", raw, 0, 0 },
        { "gpuexec_launch", ours_adopted, 0, 0 },
    };
    static const way on_green[] = {
        { "cuLaunchKernel", raw_green, 0, 0 },
        { "gpuexec_launch", ours_green, 0, 0 },
    };
    static const way cooperative[] = {
        { "cuLaunchCooperativeKernel", raw_cooperative, 0, 0 },
        { "gpuexec_launch_cooperative", ours_cooperative, 0, 0 },
    };
    static const way attributes[] = {
        { "cuLaunchKernelEx", raw_priority, 0, 0 },
        { "gpuexec_launch_with", ours_priority, 0, 0 },
    };
    TABLE("on the legacy stream, context current", on_legacy, 1u, 2u);
    TABLE("in a context that other code created (gpuexec_context_from_native)", in_adopted, 0u, 0u);
    if (gpuexec_ok(green)) TABLE("on a stream of a green context", on_green, 0u, 0u);
    TABLE("cooperative", cooperative, 0u, 0u);
    TABLE("with an attribute, a priority", attributes, 0u, 0u);
}
static void python(void) {
    way ways[2 + PEERS] = {
        { "cuLaunchKernel, pointers", raw, 0, 0 },
        { "gpuexec_launch", ours, 0, 0 },
        { 0, 0, 0, 0 },
        { 0, 0, 0, 0 },
    };
    static const burst_function their[PEERS] = { peer_0, peer_1 };
    unsigned i, count = 2;
    for (i = 0; i < PEERS; i++) {
        if (!peer_begins(&peers[i])) {
            printf("\nskipped: %s: %s\n", peers[i].name, peers[i].says);
            continue;
        }
        ways[count].name = peers[i].says + strlen("ready ");
        ways[count++].burst = their[i];
    }
    if (count > 2) table("Python, each in a separate process", ways, count, 0);
    for (i = 0; i < PEERS; i++) peer_ends(&peers[i]);
}

int main(int argc, char **argv) {
    gpuexec_params block;
    gpuexec_module module;
    const gpuexec_green_desc one_group = { 0, 1, 0, 0 };
    float unused[1] = { 0 };
    context = gpuexec_context_open(0, NULL);
    module = gpuexec_module_load(context, kernel_text, 0, NULL);
    kernel = gpuexec_kernel_get(module, "four");
    stream = gpuexec_stream_create(context, NULL);
    legacy = gpuexec_stream_legacy(context);
    x = gpuexec_alloc(context, sizeof unused);
    y = gpuexec_alloc(context, sizeof unused);
    block = gpuexec_params_create();
    gpuexec_params_add(block, GPUEXEC_POINTER, &x);
    gpuexec_params_add(block, GPUEXEC_POINTER, &y);
    gpuexec_params_add(block, GPUEXEC_INT, &n);
    gpuexec_params_add(block, GPUEXEC_FLOAT, &a);
    block_args = gpuexec_params_args(block);
    prepared = gpuexec_prepare(
            kernel, stream, gpuexec_grid_for((size_t)n, 256), GPUEXEC_ARGS(x, y, n, a));
    changing = (float *)gpuexec_prepared_argument(prepared, 3, sizeof *changing);
    function = gpuexec_kernel_native(kernel);
    queue = gpuexec_stream_native(stream);
    native = current = gpuexec_context_native(context);
    adopted = gpuexec_context_from_native(native);
    adopted_stream = gpuexec_stream_from_native(adopted, queue);
    adopted_kernel = gpuexec_kernel_get(gpuexec_module_load(adopted, kernel_text, 0, NULL), "four");
    green = gpuexec_context_create_green(0, &one_group);
    if (gpuexec_ok(green)) {
        green_kernel = gpuexec_kernel_get(gpuexec_module_load(green, kernel_text, 0, NULL), "four");
        green_stream = gpuexec_stream_create(green, NULL);
        green_function = gpuexec_kernel_native(green_kernel);
        green_queue = gpuexec_stream_native(green_stream);
    } else gpuexec_take_error(); /* an old driver */
    priority.has_priority = 1;
    check(gpuexec_take_error());
    cu = calls_find();
    if (smoke()) {
        rounds = 2;
        bursts = 2;
        calls = 20;
    }
    cu.cuCtxSetCurrent(native);
    runtime_missing = find_runtime(argc > 1 ? argv[1] : NULL);
    if (runtime_missing) printf("\nskipped: the runtime API: %s\n", runtime_missing);

    printf("\n## Launches\n\nmicroseconds of the calling thread; %u rounds of %u bursts of %d "
           "launches, interleaved\n",
            rounds, bursts, calls);
    with_current("context current");
    without_current("no context current");
    others();
    python();
    if (missed && !smoke()) printf("\n%d of these ratios missed their bounds\n", missed);
    return gpuexec_shutdown() != GPUEXEC_OK;
}
