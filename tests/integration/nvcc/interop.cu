// Kernels of nvcc by the runtime API, cuBLAS, and gpuexec, together in one process: on the same
// memory, streams, events and contexts, each using objects that the others created. Every result is
// compared with the host's, and every call of gpuexec is watched: it must leave the thread's
// current context and the runtime's last error unchanged. The first wrong value ends the program
// with exit code 1 and a text.
//
//   interop rounds [N] [gpuexec|runtime]   N rounds (100), of which ten form an epoch: a thread
//                                          with no current context and a device that was reset. The
//                                          second argument comes first in the first epoch
//                                          (gpuexec); after that they take turns.
//   interop fault-runtime                  gpuexec reports the error of a kernel of nvcc
//   interop fault-gpuexec                  and the other way round
//   interop reset                          cudaDeviceReset under gpuexec's handles: stale, and all
//                                          can start again
//
// Kernels are loaded from kernels/, so the working directory is the repository's root. With
// -DINTEROP_CUBLAS it needs -lcublas.
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <cuda.h>
#include <cuda_runtime.h>
#ifdef INTEROP_CUBLAS
#include <cublas_v2.h>
#endif
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <atomic>
#include <thread>
#include <vector>

enum { N = 4096, THREADS = 128, BLOCKS = N / THREADS, BYTES = N * 4, EPOCH = 10 };
enum { SLOW = 20000, QUICK = 50 };    // a kernel's rounds: some 50 us, so that a missing wait shows

// --- the kernels of nvcc -------------------------------------------------------------------------

// The same as kernels/busy.cu, which gpuexec loads from its PTX. Steps with different numbers do
// not commute: the result shows their order.
__global__ void advance(
        unsigned *data, int n, unsigned multiplier, unsigned increment, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) { return; }
    unsigned x = data[i];
    for (int r = 0; r < rounds; r++) { x = multiplier * x + increment; }
    data[i] = x;
}

__global__ void scale(float *y, int n, float factor, float summand) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { y[i] = y[i] * factor + summand; }
}

__device__ unsigned variable[4];
__global__ void add_variable(unsigned *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { data[i] += variable[i % 4]; }
}

__global__ void store(unsigned *anywhere) { *(volatile unsigned *)anywhere = 1; }

// --- failures ------------------------------------------------------------------------------------

static thread_local char place[200] = "the beginning";    // which round, which part, which objects
static std::atomic<long> compared(0), calls(0);

[[noreturn]] static void fail(int line, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void fail(int line, const char *format, ...) {
    va_list list;
    printf("interop.cu:%d: %s: ", line, place);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
    fflush(stdout);
    _exit(1);
}
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, "failed: %s", #condition))

// The thread's current context, queried without starting anything: NULL while no driver is loaded.
static CUcontext current() {
    CUcontext context = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library) {
        CUresult (*get)(CUcontext *);
        void *symbol = dlsym(library, "cuCtxGetCurrent");
        memcpy(&get, &symbol, sizeof get);
        if (!get || get(&context) != CUDA_SUCCESS) { context = NULL; }
        dlclose(library);
    }
    return context;
}

// What cudaGetLastError would return on this thread, if it has used the runtime.
static thread_local bool uses_runtime;
static thread_local cudaError_t pending = cudaSuccess;

static void runtime_ok(int line, cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fail(line, "%s returned %s: %s", what, cudaGetErrorName(error), cudaGetErrorString(error));
    }
}
#define RUNTIME(call) (uses_runtime = true, runtime_ok(__LINE__, call, #call))

// A call of gpuexec, and the state that it must not change.
template <class Call>
static auto watched(int line, const char *what, Call call) -> decltype(call()) {
    CUcontext before = current();
    auto result = call();
    CUcontext after = current();
    calls++;
    if (before != after) {
        fail(line, "%s found context %p current and left %p", what, (void *)before, (void *)after);
    }
    cudaError_t last = uses_runtime ? cudaPeekAtLastError() : cudaSuccess;
    if (last != (uses_runtime ? pending : cudaSuccess)) {
        fail(line, "after %s, cudaPeekAtLastError returns %s, before it %s", what,
                cudaGetErrorName(last), cudaGetErrorName(pending));
    }
    return result;
}
#define WATCHED(call) watched(__LINE__, #call, [&] { return call; })

static void returns(int line, const char *what, gpuexec_result got, gpuexec_result wanted) {
    if (got != wanted) {
        fail(line, "%s returned %s, not %s; the last failure is:\n%s", what,
                gpuexec_result_name(got), gpuexec_result_name(wanted), gpuexec_error_text());
    }
}
#define RETURNS(call, wanted) returns(__LINE__, #call, WATCHED(call), wanted)
#define OK(call) RETURNS(call, GPUEXEC_OK)

template <class Handle> static Handle made(int line, const char *what, Handle handle) {
    if (!gpuexec_ok(handle)) { fail(line, "%s failed:\n%s", what, gpuexec_why(handle)); }
    return handle;
}
static gpuexec_ptr made(int line, const char *what, gpuexec_ptr address) {
    if (!address) { fail(line, "%s failed:\n%s", what, gpuexec_error_text()); }
    return address;
}
#define MADE(call) made(__LINE__, #call, WATCHED(call))

// --- the computation -----------------------------------------------------------------------------

struct step {
    unsigned multiplier, increment;
    int rounds;
};

static unsigned random_state;
static thread_local unsigned *own_state = &random_state;    // threads have their own
static unsigned random_number() {
    *own_state = *own_state * 1664525u + 1013904223u;
    return *own_state >> 8;
}
static step next_step(int rounds) {
    step s = { random_number() * 4 + 1, random_number() * 2 + 1, rounds };
    return s;
}

// The expected contents of an array. Many rounds of a step equal one round of another step, which
// squaring finds.
struct expectation {
    unsigned value[N];
    void start() {
        unsigned first = random_number();
        for (int i = 0; i < N; i++) { value[i] = first + 2654435761u * (unsigned)i; }
    }
    void advance(step s) {
        unsigned multiplier = 1, increment = 0;
        for (; s.rounds; s.rounds >>= 1) {
            if (s.rounds & 1) {
                multiplier = s.multiplier * multiplier;
                increment = s.multiplier * increment + s.increment;
            }
            s.increment = s.multiplier * s.increment + s.increment;
            s.multiplier *= s.multiplier;
        }
        for (int i = 0; i < N; i++) { value[i] = multiplier * value[i] + increment; }
    }
    void compare(int line, const unsigned *got) const {
        for (int i = 0; i < N; i++) {
            if (got[i] != value[i]) { fail(line, "element %d is %u, not %u", i, got[i], value[i]); }
        }
        compared++;
    }
};
#define COMPARE(expected, got) (expected).compare(__LINE__, got)

// --- an epoch's objects --------------------------------------------------------------------------

/* one stream, by both handles */
struct stream_pair {
    const char *name;
    gpuexec_stream ours;
    cudaStream_t theirs;
};
enum {
    OURS,
    OURS_NON_BLOCKING,
    OURS_LEGACY,
    OURS_PER_THREAD,
    THEIRS,
    THEIRS_NON_BLOCKING,
    THEIRS_ZERO,
    THEIRS_PER_THREAD,
    STREAMS
};

static struct {
    gpuexec_context ctx, apart;
    gpuexec_module busy_module, saxpy_module, globals_module, apart_module;
    gpuexec_kernel busy, saxpy, use_globals, apart_busy, adopted_advance;
    stream_pair stream[STREAMS];
    bool has_pools;
#ifdef INTEROP_CUBLAS
    cublasHandle_t blas;
#endif
} w;

static void by_gpuexec(gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_ptr data, step s) {
    const gpuexec_dims dims = gpuexec_grid_for(N, THREADS);
    OK(gpuexec_launch(kernel, stream, dims, data, (int)N, s.multiplier, s.increment, s.rounds));
}
static void by_runtime(cudaStream_t stream, gpuexec_ptr data, step s) {
    advance<<<BLOCKS, THREADS, 0, stream>>>(
            (unsigned *)data, N, s.multiplier, s.increment, s.rounds);
    RUNTIME(cudaPeekAtLastError());
}

// One step on a stream, by either of the two.
static void do_step(
        bool runtime, const stream_pair &on, gpuexec_ptr data, expectation &expected, int rounds) {
    step s = next_step(rounds);
    if (runtime) {
        by_runtime(on.theirs, data, s);
    } else {
        by_gpuexec(w.busy, on.ours, data, s);
    }
    expected.advance(s);
}

// gpuexec alone, before this thread used the runtime.
static void before_the_runtime() {
    static expectation e;
    unsigned result[N];
    snprintf(place, sizeof place, "before the runtime starts");
    gpuexec_stream s = MADE(gpuexec_stream_create(w.ctx, NULL));
    gpuexec_ptr p = MADE(gpuexec_alloc(w.ctx, BYTES));
    step first = next_step(QUICK);
    e.start();
    OK(gpuexec_copy_in(s, p, e.value, BYTES));
    OK(gpuexec_stream_sync(s));
    by_gpuexec(w.busy, s, p, first);
    e.advance(first);
    OK(gpuexec_copy_out(s, result, p, BYTES));
    OK(gpuexec_stream_sync(s));
    COMPARE(e, result);
    OK(gpuexec_free(p));
    OK(gpuexec_stream_destroy(s));
}

static void add_ours(int at, const char *name, gpuexec_stream stream) {
    w.stream[at].name = name;
    w.stream[at].ours = stream;
    w.stream[at].theirs = (cudaStream_t)WATCHED(gpuexec_stream_native(stream));
    CHECK(w.stream[at].theirs != NULL);
}
static void add_theirs(int at, const char *name, cudaStream_t stream) {
    w.stream[at].name = name;
    w.stream[at].theirs = stream;
    w.stream[at].ours = MADE(gpuexec_stream_from_native(w.ctx, (CUstream)stream));
}

static void open_epoch(int number, bool runtime_first) {
    snprintf(place, sizeof place, "epoch %d, started by %s", number,
            runtime_first ? "the runtime" : "gpuexec");
    CHECK(current() == NULL);
    if (runtime_first) {
        RUNTIME(cudaFree(0));
        CHECK(current() != NULL);
    }
    int way = runtime_first ? number / 2 % 3 : 0;
    w.ctx = way == 0   ? MADE(gpuexec_context_open(0, NULL))
            : way == 1 ? MADE(gpuexec_context_from_native(NULL))
                       : MADE(gpuexec_context_attach(NULL));
    w.busy_module = MADE(gpuexec_module_load_file(w.ctx, "kernels/busy.ptx", NULL));
    w.saxpy_module = MADE(gpuexec_module_load_file(w.ctx, "kernels/saxpy.ptx", NULL));
    w.globals_module = MADE(gpuexec_module_load_file(w.ctx, "kernels/globals.ptx", NULL));
    w.busy = MADE(gpuexec_kernel_get(w.busy_module, "busy"));
    w.saxpy = MADE(gpuexec_kernel_get(w.saxpy_module, "saxpy"));
    w.use_globals = MADE(gpuexec_kernel_get(w.globals_module, "use_globals"));
    if (!runtime_first) {
        before_the_runtime();
        CHECK(current() == NULL);
        RUNTIME(cudaFree(0));
    }
    snprintf(place, sizeof place, "epoch %d, opening", number);
    CHECK(current() == gpuexec_context_native(w.ctx));    // both work in the primary context

    w.apart = MADE(gpuexec_context_create(0, NULL));
    w.apart_module = MADE(gpuexec_module_load_file(w.apart, "kernels/busy.ptx", NULL));
    w.apart_busy = MADE(gpuexec_kernel_get(w.apart_module, "busy"));

    gpuexec_stream_desc desc = {};
    cudaStream_t stream;
    desc.non_blocking = 1;
    add_ours(OURS, "gpuexec's stream", MADE(gpuexec_stream_create(w.ctx, NULL)));
    add_ours(OURS_NON_BLOCKING, "gpuexec's non-blocking stream",
            MADE(gpuexec_stream_create(w.ctx, &desc)));
    add_ours(OURS_LEGACY, "gpuexec's legacy stream", MADE(gpuexec_stream_legacy(w.ctx)));
    add_ours(
            OURS_PER_THREAD, "gpuexec's per-thread stream", MADE(gpuexec_stream_per_thread(w.ctx)));
    RUNTIME(cudaStreamCreate(&stream));
    add_theirs(THEIRS, "cudaStreamCreate's stream", stream);
    RUNTIME(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    add_theirs(THEIRS_NON_BLOCKING, "the runtime's non-blocking stream", stream);
    add_theirs(THEIRS_ZERO, "stream 0", 0);
    add_theirs(THEIRS_PER_THREAD, "cudaStreamPerThread", cudaStreamPerThread);
    CHECK(w.stream[THEIRS_ZERO].ours.id == w.stream[OURS_LEGACY].ours.id);
    CHECK(w.stream[THEIRS_PER_THREAD].ours.id == w.stream[OURS_PER_THREAD].ours.id);
    CHECK(w.stream[OURS_LEGACY].theirs == cudaStreamLegacy);
    CHECK(w.stream[OURS_PER_THREAD].theirs == cudaStreamPerThread);

    int pools = 0;
    RUNTIME(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0));
    w.has_pools = pools != 0;
    cudaFunction_t function;
    RUNTIME(cudaGetFuncBySymbol(&function, (const void *)advance));
    w.adopted_advance = MADE(gpuexec_kernel_from_native(w.ctx, (CUfunction)function));
#ifdef INTEROP_CUBLAS
    CHECK(cublasCreate(&w.blas) == CUBLAS_STATUS_SUCCESS);
#endif
}

static void close_epoch(int number) {
    snprintf(place, sizeof place, "epoch %d, closing", number);
#ifdef INTEROP_CUBLAS
    CHECK(cublasDestroy(w.blas) == CUBLAS_STATUS_SUCCESS);
#endif
    RUNTIME(cudaDeviceSynchronize());
    OK(gpuexec_stream_destroy(w.stream[THEIRS].ours));
    OK(gpuexec_stream_destroy(w.stream[THEIRS_NON_BLOCKING].ours));
    RUNTIME(cudaStreamDestroy(w.stream[THEIRS].theirs));
    RUNTIME(cudaStreamDestroy(w.stream[THEIRS_NON_BLOCKING].theirs));
    OK(gpuexec_context_close(w.apart));
    if (number & 2) {
        OK(gpuexec_context_close(w.ctx));
    } else {
        OK(gpuexec_shutdown());
    }
    CHECK(!gpuexec_ok(w.ctx) && !gpuexec_ok(w.busy) && !gpuexec_ok(w.stream[OURS].ours));
    unsigned *p;    // the runtime continues without gpuexec
    RUNTIME(cudaMalloc(&p, BYTES));
    RUNTIME(cudaMemset(p, 0, BYTES));
    advance<<<BLOCKS, THREADS>>>(p, N, 3, 5, 1);
    unsigned last = 0;
    RUNTIME(cudaMemcpy(&last, p + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    CHECK(last == 5);
    RUNTIME(cudaFree(p));
    RUNTIME(cudaDeviceReset());
}

// --- memory of all kinds, on all streams ---------------------------------------------------------

enum {
    CUDA_MALLOC,
    CUDA_MALLOC_ASYNC,
    CUDA_MALLOC_MANAGED,
    CUDA_MALLOC_HOST,
    GPUEXEC_ALLOC,
    GPUEXEC_ALLOC_PINNED,
    GPUEXEC_REGISTER,
    MEMORIES
};
static const char *const memory_names[MEMORIES] = { "cudaMalloc", "cudaMallocAsync",
    "cudaMallocManaged", "cudaMallocHost", "gpuexec_alloc", "gpuexec_alloc_pinned",
    "gpuexec_register" };

struct memory {
    gpuexec_ptr device;
    unsigned *host;    // NULL: the host cannot read it
};

static memory get_memory(int which, cudaStream_t stream) {
    memory m = { 0, NULL };
    void *p = NULL;
    switch (which) {
    case CUDA_MALLOC: RUNTIME(cudaMalloc(&p, BYTES)); break;
    case CUDA_MALLOC_ASYNC: RUNTIME(cudaMallocAsync(&p, BYTES, stream)); break;
    case CUDA_MALLOC_MANAGED:
        RUNTIME(cudaMallocManaged(&p, BYTES));
        m.host = (unsigned *)p;
        break;
    case CUDA_MALLOC_HOST:
        RUNTIME(cudaMallocHost(&p, BYTES));
        m.host = (unsigned *)p;
        break;
    case GPUEXEC_ALLOC: m.device = MADE(gpuexec_alloc(w.ctx, BYTES)); return m;
    case GPUEXEC_ALLOC_PINNED:
        m.host = (unsigned *)WATCHED(gpuexec_alloc_pinned(w.ctx, BYTES));
        CHECK(m.host != NULL);
        break;
    default:
        m.host = (unsigned *)malloc(BYTES);
        CHECK(m.host != NULL);
        OK(gpuexec_register(w.ctx, m.host, BYTES));
    }
    m.device = m.host ? MADE(gpuexec_pinned_address(m.host)) : (gpuexec_ptr)(uintptr_t)p;
    return m;
}

static void free_memory(int which, memory m, cudaStream_t stream) {
    switch (which) {
    case CUDA_MALLOC:
    case CUDA_MALLOC_MANAGED: RUNTIME(cudaFree((void *)m.device)); break;
    case CUDA_MALLOC_ASYNC: RUNTIME(cudaFreeAsync((void *)m.device, stream)); break;
    case CUDA_MALLOC_HOST: RUNTIME(cudaFreeHost(m.host)); break;
    case GPUEXEC_ALLOC: OK(gpuexec_free(m.device)); break;
    case GPUEXEC_ALLOC_PINNED: OK(gpuexec_free_pinned(m.host)); break;
    default: OK(gpuexec_unregister(m.host)); free(m.host);
    }
}

// What each reports about memory that the other allocated.
static void ask_about(int which, memory m) {
    static const gpuexec_memory_kind kinds[MEMORIES] = { GPUEXEC_MEMORY_DEVICE,
        GPUEXEC_MEMORY_DEVICE, GPUEXEC_MEMORY_MANAGED, GPUEXEC_MEMORY_PINNED, GPUEXEC_MEMORY_DEVICE,
        GPUEXEC_MEMORY_PINNED, GPUEXEC_MEMORY_REGISTERED };
    gpuexec_pointer_info info;
    cudaPointerAttributes theirs;
    void *address = m.host ? (void *)m.host : (void *)m.device;
    OK(gpuexec_pointer_get_info((gpuexec_ptr)(uintptr_t)address, &info));
    RUNTIME(cudaPointerGetAttributes(&theirs, address));
    CHECK(info.kind == kinds[which]);
    CHECK(info.ours == (which >= GPUEXEC_ALLOC));
    CHECK(info.device_address == m.device);
    CHECK(theirs.type ==
            (kinds[which] == GPUEXEC_MEMORY_DEVICE                   ? cudaMemoryTypeDevice
                            : kinds[which] == GPUEXEC_MEMORY_MANAGED ? cudaMemoryTypeManaged
                                                                     : cudaMemoryTypeHost));
    CHECK(theirs.devicePointer == (void *)m.device);
    CHECK(theirs.device == 0 && info.device == 0);
}

// One stream, one allocation: kernels of each in turn, which depend on one another, and copies in
// and out by each.
static void take_turns(int round, int which, const stream_pair &on, memory m) {
    static expectation e;
    static unsigned result[N];
    bool odd = (round + which) & 1;
    snprintf(place, sizeof place, "round %d, turns with memory of %s on %s", round,
            memory_names[which], on.name);
    e.start();
    if (m.host && (which != CUDA_MALLOC_MANAGED || (round & 2))) {
        memcpy(m.host, e.value, BYTES);
    } else if (odd) {
        OK(gpuexec_copy_in(on.ours, m.device, e.value, BYTES));
        OK(gpuexec_stream_sync(on.ours));    // before `expected` changes
    } else {
        RUNTIME(cudaMemcpyAsync(
                (void *)m.device, e.value, BYTES, cudaMemcpyHostToDevice, on.theirs));
        RUNTIME(cudaStreamSynchronize(on.theirs));
    }
    do_step(odd, on, m.device, e, SLOW);
    do_step(!odd, on, m.device, e, SLOW);
    do_step(odd, on, m.device, e, QUICK);

    step s = next_step(SLOW);    // the runtime's kernel, launched by gpuexec
    by_gpuexec(w.adopted_advance, on.ours, m.device, s);
    e.advance(s);
    s = next_step(QUICK);
    const gpuexec_dims dims = gpuexec_grid_for(N, THREADS);
    gpuexec_prepared prepared = MADE(gpuexec_prepare(
            w.busy, on.ours, dims, m.device, (int)N, s.multiplier, s.increment, s.rounds));
    OK(gpuexec_launch_prepared(prepared));
    e.advance(s);
    do_step(true, on, m.device, e, QUICK);
    OK(gpuexec_launch_prepared(prepared));
    e.advance(s);

    memset(result, 0, sizeof result);
    if (m.host) {
        ;
    } else if (odd) {
        RUNTIME(cudaMemcpyAsync(
                result, (void *)m.device, BYTES, cudaMemcpyDeviceToHost, on.theirs));
    } else {
        OK(gpuexec_copy_out(on.ours, result, m.device, BYTES));
    }
    if (odd) {
        OK(gpuexec_stream_sync(on.ours));
    } else {
        RUNTIME(cudaStreamSynchronize(on.theirs));
        OK(gpuexec_stream_query(on.ours));
    }
    COMPARE(e, m.host ? m.host : result);
    OK(gpuexec_prepared_destroy(prepared));
    OK(gpuexec_take_error());
}

static void all_memory_on_all_streams(int round) {
    for (int which = 0; which < MEMORIES; which++) {
        bool each = which == CUDA_MALLOC_ASYNC;    // it belongs to a stream
        memory m = { 0, NULL };
        snprintf(place, sizeof place, "round %d, memory of %s", round, memory_names[which]);
        if (each && !w.has_pools) { continue; }
        if (!each) {
            m = get_memory(which, 0);
            ask_about(which, m);
        }
        for (int at = 0; at < STREAMS; at++) {
            const stream_pair &on = w.stream[at];
            if (each) { m = get_memory(which, on.theirs); }
            take_turns(round, which, on, m);
            if (each) { free_memory(which, m, on.theirs); }
        }
        if (!each) { free_memory(which, m, 0); }
    }
}

// Copies between pinned memory of each and device memory of the other, with a wait only at the end.
static void pinned_copies(int round) {
    static expectation e;
    static unsigned result[N];
    const stream_pair &on = w.stream[round % STREAMS];
    snprintf(place, sizeof place, "round %d, pinned copies on %s", round, on.name);
    memory ours_pinned = get_memory(GPUEXEC_ALLOC_PINNED, 0);
    memory theirs_pinned = get_memory(CUDA_MALLOC_HOST, 0);
    memory ours = get_memory(GPUEXEC_ALLOC, 0);
    memory theirs = get_memory(CUDA_MALLOC, 0);
    e.start();
    memcpy(theirs_pinned.host, e.value, BYTES);
    memset(ours_pinned.host, 0, BYTES);
    OK(gpuexec_copy_in(on.ours, ours.device, theirs_pinned.host, BYTES));
    do_step(true, on, ours.device, e, SLOW);
    RUNTIME(cudaMemcpyAsync(
            ours_pinned.host, (void *)ours.device, BYTES, cudaMemcpyDefault, on.theirs));
    RUNTIME(cudaMemcpyAsync(
            (void *)theirs.device, ours_pinned.host, BYTES, cudaMemcpyDefault, on.theirs));
    do_step(false, on, theirs.device, e, SLOW);
    OK(gpuexec_fill(on.ours, ours.device, 0xAB, 1, BYTES));
    OK(gpuexec_copy(on.ours, ours.device, theirs.device, BYTES));
    do_step(true, on, ours.device, e, QUICK);
    OK(gpuexec_copy_out(on.ours, theirs_pinned.host, ours.device, BYTES));
    RUNTIME(cudaStreamSynchronize(on.theirs));
    COMPARE(e, theirs_pinned.host);

    RUNTIME(cudaMemset((void *)ours.device, 0x5A, BYTES));    // all on the legacy stream
    OK(gpuexec_copy_out_now(w.ctx, result, ours.device, BYTES));
    CHECK(result[0] == 0x5A5A5A5Au && result[N - 1] == 0x5A5A5A5Au);
    OK(gpuexec_fill_now(w.ctx, theirs.device, 0xA5, 1, BYTES));
    RUNTIME(cudaMemcpy(result, (void *)theirs.device, BYTES, cudaMemcpyDeviceToHost));
    CHECK(result[0] == 0xA5A5A5A5u && result[N - 1] == 0xA5A5A5A5u);
    free_memory(GPUEXEC_ALLOC_PINNED, ours_pinned, 0);
    free_memory(CUDA_MALLOC_HOST, theirs_pinned, 0);
    free_memory(GPUEXEC_ALLOC, ours, 0);
    free_memory(CUDA_MALLOC, theirs, 0);
}

// --- order between streams -----------------------------------------------------------------------

enum { HAND_OVERS = 6 };

// `to` waits for the work on `from` so far.
static void hand_over(int way, const stream_pair &from, const stream_pair &to) {
    cudaEvent_t theirs = NULL;
    gpuexec_event ours = { 0 };
    if (way == 0 || way == 1) {
        RUNTIME(cudaEventCreateWithFlags(&theirs, cudaEventDisableTiming));
        ours = MADE(gpuexec_event_from_native(w.ctx, (CUevent)theirs));
    } else if (way == 2 || way == 3) {
        ours = MADE(gpuexec_event_create(w.ctx, NULL));
        theirs = (cudaEvent_t)WATCHED(gpuexec_event_native(ours));
        CHECK(theirs != NULL);
    }
    switch (way) {
    case 0:    // the runtime's, recorded by the runtime, waited for by gpuexec
        RUNTIME(cudaEventRecord(theirs, from.theirs));
        OK(gpuexec_stream_wait_event(to.ours, ours));
        break;
    case 1:    // recorded by gpuexec, waited for by the runtime
        OK(gpuexec_event_record(ours, from.ours));
        RUNTIME(cudaStreamWaitEvent(to.theirs, theirs, 0));
        break;
    case 2:    // gpuexec's, recorded by gpuexec, waited for by the runtime
        OK(gpuexec_event_record(ours, from.ours));
        RUNTIME(cudaStreamWaitEvent(to.theirs, theirs, 0));
        break;
    case 3:    // recorded by the runtime, waited for by gpuexec
        RUNTIME(cudaEventRecord(theirs, from.theirs));
        OK(gpuexec_stream_wait_event(to.ours, ours));
        break;
    case 4:
        ours = MADE(gpuexec_stream_record(from.ours, NULL));
        RUNTIME(cudaStreamWaitEvent(to.theirs, (cudaEvent_t)gpuexec_event_native(ours), 0));
        break;
    default: OK(gpuexec_stream_wait_stream(to.ours, from.ours)); return;
    }
    OK(gpuexec_event_destroy(ours));    // while the stream still waits for it
    if (way == 0 || way == 1) { RUNTIME(cudaEventDestroy(theirs)); }
}

static void events(int round) {
    static const int on[] = { THEIRS_NON_BLOCKING, OURS_NON_BLOCKING, THEIRS, OURS };
    static expectation e;
    static unsigned result[N];
    memory m = get_memory(round % 2 ? CUDA_MALLOC : GPUEXEC_ALLOC, 0);
    cudaEvent_t begin;
    snprintf(place, sizeof place, "round %d, events", round);
    e.start();
    OK(gpuexec_copy_in_now(w.ctx, m.device, e.value, BYTES));
    RUNTIME(cudaEventCreate(&begin));
    gpuexec_event our_begin = MADE(gpuexec_event_from_native(w.ctx, (CUevent)begin));
    RUNTIME(cudaEventRecord(begin, w.stream[on[0]].theirs));
    int from = 0;
    for (int i = 0; i < 2 * HAND_OVERS + 1; i++) {
        int to = (from + 1 + (round + i) % 3) % 4, way = (round + i) % HAND_OVERS;
        do_step((round ^ i) & 1, w.stream[on[from]], m.device, e, SLOW);
        hand_over(way, w.stream[on[from]], w.stream[on[to]]);
        from = to;
    }
    do_step(round & 1, w.stream[on[from]], m.device, e, SLOW);
    OK(gpuexec_copy_out(w.stream[on[from]].ours, result, m.device, BYTES));
    gpuexec_event our_end = MADE(gpuexec_stream_record(w.stream[on[from]].ours, NULL));
    cudaEvent_t end = (cudaEvent_t)WATCHED(gpuexec_event_native(our_end));
    if (round % 3 == 0) {
        RUNTIME(cudaEventSynchronize(end));
    } else {
        OK(gpuexec_event_sync(our_end));
    }
    COMPARE(e, result);
    OK(gpuexec_event_query(our_end));
    RUNTIME(cudaEventQuery(end));
    float theirs = 0;
    double ours = WATCHED(gpuexec_event_elapsed_ms(our_begin, our_end));
    RUNTIME(cudaEventElapsedTime(&theirs, begin, end));
    CHECK((float)ours == theirs && theirs > 0);
    OK(gpuexec_event_destroy(our_begin));
    OK(gpuexec_event_destroy(our_end));
    RUNTIME(cudaEventDestroy(begin));
    free_memory(round % 2 ? CUDA_MALLOC : GPUEXEC_ALLOC, m, 0);
}

// Every second stream is the legacy default stream: CUDA alone keeps the order, and no thread
// waits.
static void default_streams(int round) {
    static const int on[] = { THEIRS, OURS_LEGACY, OURS, THEIRS_ZERO, OURS_PER_THREAD, OURS_LEGACY,
        THEIRS_PER_THREAD, THEIRS_ZERO, OURS };
    static expectation e;
    static unsigned result[N];
    memory m = get_memory(round % 2 ? GPUEXEC_ALLOC : CUDA_MALLOC, 0);
    snprintf(place, sizeof place, "round %d, default streams", round);
    e.start();
    RUNTIME(cudaMemcpy((void *)m.device, e.value, BYTES, cudaMemcpyHostToDevice));
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        do_step(((size_t)round + i) & 1, w.stream[on[i]], m.device, e, SLOW);
    }
    OK(gpuexec_copy_out_now(w.ctx, result, m.device, BYTES));    // on the legacy stream, too
    COMPARE(e, result);
    free_memory(round % 2 ? GPUEXEC_ALLOC : CUDA_MALLOC, m, 0);
}

struct log_of_calls {
    std::atomic<int> count;
    char text[16];
};
struct one_call {
    log_of_calls *log;
    char letter;
};
static void write_letter(void *user) {
    one_call *c = (one_call *)user;
    c->log->text[c->log->count++ % 16] = c->letter;
}
static void host_functions(int round) {
    const stream_pair &on = w.stream[round % STREAMS];
    log_of_calls log = {};
    one_call call[8];
    snprintf(place, sizeof place, "round %d, host functions on %s", round, on.name);
    for (int i = 0; i < 8; i++) {
        call[i].log = &log;
        call[i].letter = (char)('a' + i);
        if ((i ^ round) & 1) {
            OK(gpuexec_stream_host_function(on.ours, write_letter, &call[i]));
        } else {
            RUNTIME(cudaLaunchHostFunc(on.theirs, write_letter, &call[i]));
        }
    }
    RUNTIME(cudaStreamSynchronize(on.theirs));
    if (strcmp(log.text, "abcdefgh") != 0) {
        fail(__LINE__, "the functions were called as %s, not as abcdefgh", log.text);
    }
}

// --- cuBLAS --------------------------------------------------------------------------------------

#ifdef INTEROP_CUBLAS
enum { SIDE = 32, FLOATS = SIDE * SIDE };

// Small integers, so that floats are exact, whatever the order of their sum.
static void blas(int round) {
    static const int streams[] = { OURS, THEIRS_NON_BLOCKING, OURS_NON_BLOCKING, OURS_LEGACY };
    static float x[FLOATS], y[FLOATS], c[FLOATS], expected_y[FLOATS], got[FLOATS];
    const stream_pair &on = w.stream[streams[round % 4]];
    const bool ours = (round / 4) % 2 == 0;
    const float three = 3.0f, one = 1.0f, two = 2.0f;
    snprintf(place, sizeof place, "round %d, cuBLAS on %s", round, on.name);
    const int kind = ours ? GPUEXEC_ALLOC : CUDA_MALLOC;
    const int other = ours ? CUDA_MALLOC : GPUEXEC_ALLOC;
    memory mx = get_memory(kind, 0);
    memory my = get_memory(other, 0);
    memory mc = get_memory(kind, 0);
    float *px = (float *)mx.device, *py = (float *)my.device, *pc = (float *)mc.device;
    for (int i = 0; i < FLOATS; i++) {
        x[i] = (float)((int)(random_number() % 17) - 8);
        y[i] = (float)((int)(random_number() % 17) - 8);
        c[i] = (float)((int)(random_number() % 17) - 8);
    }
    OK(gpuexec_copy_in(on.ours, mx.device, x, sizeof x));
    RUNTIME(cudaMemcpyAsync(py, y, sizeof y, cudaMemcpyHostToDevice, on.theirs));
    OK(gpuexec_copy_in(on.ours, mc.device, c, sizeof c));
    CHECK(cublasSetStream(w.blas, on.theirs) == CUBLAS_STATUS_SUCCESS);

    const gpuexec_dims dims = gpuexec_grid_for(FLOATS, THREADS);
    /* y += 2 x */
    OK(gpuexec_launch(w.saxpy, on.ours, dims, two, mx.device, my.device, (int)FLOATS));
    /* y += 3 x */
    CHECK(cublasSaxpy(w.blas, FLOATS, &three, px, 1, py, 1) == CUBLAS_STATUS_SUCCESS);
    scale<<<FLOATS / THREADS, THREADS, 0, on.theirs>>>(py, FLOATS, 2.0f, -1.0f);    // y = 2 y - 1
    RUNTIME(cudaPeekAtLastError());
    CHECK(cublasSgemm(w.blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, px, SIDE, py, SIDE,
                  &two, pc, SIDE) == CUBLAS_STATUS_SUCCESS);    // c = x y + 2 c
    /* c += 3 y */
    OK(gpuexec_launch(w.saxpy, on.ours, dims, three, my.device, mc.device, (int)FLOATS));
    OK(gpuexec_copy_out(on.ours, got, mc.device, sizeof got));
    OK(gpuexec_stream_sync(on.ours));

    for (int i = 0; i < FLOATS; i++) { expected_y[i] = 2.0f * (y[i] + 5.0f * x[i]) - 1.0f; }
    /* column by column, as cuBLAS stores matrices */
    for (int column = 0; column < SIDE; column++) {
        for (int row = 0; row < SIDE; row++) {
            float sum = 0;
            for (int k = 0; k < SIDE; k++) {
                sum += x[row + SIDE * k] * expected_y[k + SIDE * column];
            }
            int i = row + SIDE * column;
            float expected = sum + 2.0f * c[i] + 3.0f * expected_y[i];
            if (got[i] != expected) {
                fail(__LINE__, "element %d is %g, not %g", i, got[i], expected);
            }
        }
    }
    compared++;
    free_memory(kind, mx, 0);
    free_memory(other, my, 0);
    free_memory(kind, mc, 0);
}
#endif

// --- captures ------------------------------------------------------------------------------------

// The work of both on a stream and on one that joins, captured by either: y += 5 x, z += x.
static void captured_work(const stream_pair &on, const stream_pair &side, gpuexec_ptr x,
        gpuexec_ptr y, gpuexec_ptr z) {
    const gpuexec_dims dims = gpuexec_grid_for(N, THREADS);
    const float one = 1.0f, two = 2.0f;
    OK(gpuexec_stream_wait_stream(side.ours, on.ours));
    OK(gpuexec_launch(w.saxpy, side.ours, dims, one, x, z, (int)N));
    /* what a capture forbids is legal by gpuexec */
    gpuexec_ptr unused = MADE(gpuexec_alloc(w.ctx, BYTES));
    OK(gpuexec_launch(w.saxpy, on.ours, dims, two, x, y, (int)N));
#ifdef INTEROP_CUBLAS
    const float three = 3.0f;
    CHECK(cublasSetStream(w.blas, on.theirs) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasSaxpy(w.blas, N, &three, (float *)x, 1, (float *)y, 1) == CUBLAS_STATUS_SUCCESS);
#else
    OK(gpuexec_launch(w.saxpy, on.ours, dims, 3.0f, x, y, (int)N));
#endif
    scale<<<BLOCKS, THREADS, 0, on.theirs>>>((float *)y, N, 1.0f, 0.0f);
    RUNTIME(cudaPeekAtLastError());
    OK(gpuexec_free(unused));
    OK(gpuexec_stream_wait_stream(on.ours, side.ours));
}

static void captures(int round) {
    enum { REPLAYS = 4 };
    static const int streams[] = { OURS, THEIRS_NON_BLOCKING, OURS_NON_BLOCKING, THEIRS,
        OURS_PER_THREAD };
    static const cudaStreamCaptureMode modes[] = { cudaStreamCaptureModeThreadLocal,
        cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed };
    static float x[N], y[N], z[N], got[2][N];
    const stream_pair &on = w.stream[streams[round % 5]],
                      &side = w.stream[streams[(round + 1) % 5]];
    const bool ours = (round / 5) % 2 == 0;
    snprintf(place, sizeof place, "round %d, a capture by %s on %s", round,
            ours ? "gpuexec" : "the runtime", on.name);
    memory mx = get_memory(GPUEXEC_ALLOC, 0), my = get_memory(CUDA_MALLOC, 0),
           mz = get_memory(GPUEXEC_ALLOC, 0);
    for (int i = 0; i < N; i++) {
        x[i] = (float)((int)(random_number() % 17) - 8);
        y[i] = (float)((int)(random_number() % 17) - 8);
        z[i] = (float)((int)(random_number() % 17) - 8);
    }
    OK(gpuexec_copy_in(on.ours, mx.device, x, sizeof x));
    OK(gpuexec_copy_in(on.ours, my.device, y, sizeof y));
    OK(gpuexec_copy_in(on.ours, mz.device, z, sizeof z));
    OK(gpuexec_stream_sync(on.ours));
    if (ours) {
        OK(gpuexec_capture_begin(on.ours, NULL));
        captured_work(on, side, mx.device, my.device, mz.device);
        gpuexec_graph graph = MADE(gpuexec_capture_end(on.ours));
        for (int i = 0; i < REPLAYS; i++) {
            OK(gpuexec_graph_launch(graph, i % 2 ? side.ours : on.ours));
        }
        OK(gpuexec_stream_sync(side.ours));
        OK(gpuexec_stream_sync(on.ours));
        OK(gpuexec_graph_destroy(graph));
    } else {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        RUNTIME(cudaStreamBeginCapture(on.theirs, modes[round % 3]));
        captured_work(on, side, mx.device, my.device, mz.device);
        RUNTIME(cudaStreamEndCapture(on.theirs, &graph));
        RUNTIME(cudaGraphInstantiate(&executable, graph, 0));
        for (int i = 0; i < REPLAYS; i++) {
            RUNTIME(cudaGraphLaunch(executable, i % 2 ? side.theirs : on.theirs));
        }
        OK(gpuexec_stream_sync(side.ours));
        OK(gpuexec_stream_sync(on.ours));
        RUNTIME(cudaGraphExecDestroy(executable));
        RUNTIME(cudaGraphDestroy(graph));
    }
    OK(gpuexec_copy_out_now(w.ctx, got[0], my.device, sizeof got[0]));
    OK(gpuexec_copy_out_now(w.ctx, got[1], mz.device, sizeof got[1]));
    for (int i = 0; i < N; i++) {
        const float wanted[2] = { y[i] + REPLAYS * 5.0f * x[i], z[i] + REPLAYS * x[i] };
        for (int k = 0; k < 2; k++) {
            if (got[k][i] != wanted[k]) {
                fail(__LINE__, "element %d of %c is %g, not %g", i, "yz"[k], got[k][i], wanted[k]);
            }
        }
    }
    compared++;
    free_memory(GPUEXEC_ALLOC, mx, 0);
    free_memory(CUDA_MALLOC, my, 0);
    free_memory(GPUEXEC_ALLOC, mz, 0);
}

// --- variables, contexts, threads ----------------------------------------------------------------

// Each accesses the other's variables: an address is an address.
static void variables(int round) {
    static expectation e;
    static unsigned result[N];
    const stream_pair &on = w.stream[THEIRS];
    unsigned four[4] = { random_number(), random_number(), random_number(), random_number() };
    unsigned counter = 0;
    void *address = NULL;
    size_t bytes = 0;
    snprintf(place, sizeof place, "round %d, variables", round);
    memory m = get_memory(GPUEXEC_ALLOC, 0);
    e.start();
    OK(gpuexec_copy_in(on.ours, m.device, e.value, BYTES));
    RUNTIME(cudaGetSymbolAddress(&address, variable));
    OK(gpuexec_copy_in(on.ours, (gpuexec_ptr)(uintptr_t)address, four, sizeof four));
    add_variable<<<BLOCKS, THREADS, 0, on.theirs>>>((unsigned *)m.device, N);
    OK(gpuexec_copy_out(on.ours, result, m.device, BYTES));
    OK(gpuexec_stream_sync(on.ours));
    for (int i = 0; i < N; i++) { e.value[i] += four[i % 4]; }
    COMPARE(e, result);

    gpuexec_ptr ours = MADE(gpuexec_module_global_address(w.globals_module, "counter", &bytes));
    CHECK(bytes == sizeof counter);
    counter = (unsigned)round * 1000;
    RUNTIME(cudaMemcpyAsync(
            (void *)ours, &counter, sizeof counter, cudaMemcpyHostToDevice, on.theirs));
    OK(gpuexec_launch(w.use_globals, on.ours, gpuexec_grid_for(N, THREADS), m.device, (int)N));
    RUNTIME(cudaMemcpyAsync(
            &counter, (void *)ours, sizeof counter, cudaMemcpyDeviceToHost, on.theirs));
    RUNTIME(cudaStreamSynchronize(on.theirs));
    CHECK(counter == (unsigned)round * 1000 + N);
    free_memory(GPUEXEC_ALLOC, m, 0);
}

// Several handles of one context, and a second context in which both also work.
static void contexts(int round) {
    static expectation e;
    static unsigned result[N];
    unsigned *p = NULL;
    CUcontext before = current();
    snprintf(place, sizeof place, "round %d, contexts", round);
    gpuexec_context adopted = MADE(gpuexec_context_from_native(NULL));
    gpuexec_context attached = MADE(gpuexec_context_attach(NULL));
    CHECK(gpuexec_context_native(adopted) == gpuexec_context_native(w.ctx));
    CHECK(gpuexec_context_native(attached) == gpuexec_context_native(w.ctx));
    stream_pair on = { "", MADE(gpuexec_stream_create(attached, NULL)), NULL };
    on.theirs = (cudaStream_t)gpuexec_stream_native(on.ours);
    gpuexec_ptr q = MADE(gpuexec_alloc(adopted, BYTES));
    e.start();
    OK(gpuexec_copy_in(on.ours, q, e.value, BYTES));
    OK(gpuexec_stream_sync(on.ours));
    do_step(false, on, q, e, SLOW);    // kernel, stream and memory of three handles
    do_step(true, on, q, e, QUICK);
    OK(gpuexec_copy_out(on.ours, result, q, BYTES));
    OK(gpuexec_stream_sync(on.ours));
    COMPARE(e, result);
    OK(gpuexec_context_close(adopted));
    OK(gpuexec_context_close(attached));
    CHECK(current() == before);

    snprintf(place, sizeof place, "round %d, the separate context", round);
    int entered = 0;
    GPUEXEC_CONTEXT_SCOPE(w.apart) {
        entered = 1;
        CHECK(current() == gpuexec_context_native(w.apart));
        on.ours = MADE(gpuexec_stream_legacy(w.apart));
        on.theirs = 0;
        RUNTIME(cudaMalloc(&p, BYTES));
        e.start();
        RUNTIME(cudaMemcpy(p, e.value, BYTES, cudaMemcpyHostToDevice));
        step s = next_step(SLOW);
        by_runtime(on.theirs, (gpuexec_ptr)p, s);
        e.advance(s);
        s = next_step(QUICK);
        by_gpuexec(w.apart_busy, on.ours, (gpuexec_ptr)p, s);
        e.advance(s);
        OK(gpuexec_copy_out_now(w.apart, result, (gpuexec_ptr)p, BYTES));
        COMPARE(e, result);
        gpuexec_pointer_info info;
        OK(gpuexec_pointer_get_info((gpuexec_ptr)p, &info));
        CHECK(info.kind == GPUEXEC_MEMORY_DEVICE && !info.ours);
        RUNTIME(cudaFree(p));
    }
    CHECK(entered && current() == before);
}

// Threads that begin with no current context: gpuexec needs none, and each thread has its own
// cudaStreamPerThread.
static void work_on_a_thread(int round, int number, unsigned seed) {
    const stream_pair &on = w.stream[OURS_PER_THREAD];
    std::vector<expectation> expected(1);
    std::vector<unsigned> result(N);
    expectation &e = expected[0];
    own_state = &seed;
    snprintf(place, sizeof place, "round %d, thread %d", round, number);
    CHECK(current() == NULL);
    e.start();
    gpuexec_ptr p = MADE(gpuexec_alloc(w.ctx, BYTES));
    OK(gpuexec_copy_in(on.ours, p, e.value, BYTES));
    OK(gpuexec_stream_sync(on.ours));
    do_step(false, on, p, e, SLOW);
    CHECK(current() == NULL);
    for (int i = 0; i < 6; i++) { do_step((i ^ number) & 1, on, p, e, i & 2 ? SLOW : QUICK); }
    if (number & 1) {
        OK(gpuexec_copy_out(on.ours, result.data(), p, BYTES));
        RUNTIME(cudaStreamSynchronize(on.theirs));
    } else {
        RUNTIME(cudaMemcpyAsync(
                result.data(), (void *)p, BYTES, cudaMemcpyDeviceToHost, on.theirs));
        OK(gpuexec_stream_sync(on.ours));
    }
    COMPARE(e, result.data());
    OK(gpuexec_free(p));
    OK(gpuexec_take_error());
}
static void threads(int round) {
    snprintf(place, sizeof place, "round %d, threads", round);
    std::thread one(work_on_a_thread, round, 1, random_number());
    std::thread two(work_on_a_thread, round, 2, random_number());
    one.join();
    two.join();
}

// --- a refusal by one does not affect the other --------------------------------------------------

static void still_works(int round, const char *after) {
    static expectation e;
    static unsigned result[N];
    const stream_pair &on = w.stream[round % STREAMS];
    snprintf(place, sizeof place, "round %d, after %s", round, after);
    gpuexec_ptr p = MADE(gpuexec_alloc(w.ctx, BYTES));
    e.start();
    OK(gpuexec_copy_in(on.ours, p, e.value, BYTES));
    OK(gpuexec_stream_sync(on.ours));
    step s = next_step(QUICK);
    by_gpuexec(w.busy, on.ours, p, s);
    e.advance(s);
    OK(gpuexec_copy_out(on.ours, result, p, BYTES));
    OK(gpuexec_stream_sync(on.ours));
    COMPARE(e, result);
    OK(gpuexec_free(p));
    OK(gpuexec_take_error());
}

static void refusals(int round) {
    const stream_pair &on = w.stream[round % STREAMS];
    const size_t too_much = (size_t)1 << 50;
    memory m = get_memory(CUDA_MALLOC, 0);
    void *p = NULL;
    snprintf(place, sizeof place, "round %d, refusals", round);

    // By gpuexec: the runtime's last error stays clean, which WATCHED checks.
    const gpuexec_dims wide = gpuexec_grid(1, 4096, 0), large = gpuexec_grid(1, 32, 1 << 24);
    RETURNS(gpuexec_launch(w.busy, on.ours, wide, m.device, (int)N, 1u, 1u, 1), GPUEXEC_BAD_LAUNCH);
    RETURNS(gpuexec_take_error(), GPUEXEC_BAD_LAUNCH);
    RETURNS(gpuexec_launch(w.adopted_advance, on.ours, large, m.device, (int)N, 1u, 1u, 1),
            GPUEXEC_BAD_LAUNCH);
    RETURNS(gpuexec_take_error(), GPUEXEC_BAD_LAUNCH);
    CHECK(WATCHED(gpuexec_alloc(w.ctx, too_much)) == 0);
    RETURNS(gpuexec_take_error(), GPUEXEC_OUT_OF_DEVICE_MEMORY);
    RETURNS(gpuexec_free(m.device), GPUEXEC_BAD_ARGUMENT);    // the runtime allocated it
    RUNTIME(cudaGetLastError());
    still_works(round, "gpuexec's refusals");
    RUNTIME(cudaMemset((void *)m.device, 0, BYTES));    // it is still valid

    // By the runtime: its last error is kept for cudaGetLastError, whatever gpuexec does meanwhile.
    CHECK(cudaMalloc(&p, too_much) == cudaErrorMemoryAllocation);
    pending = cudaErrorMemoryAllocation;
    still_works(round, "a refused cudaMalloc");
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    pending = cudaSuccess;
    advance<<<1, 4096, 0, on.theirs>>>((unsigned *)m.device, N, 1, 1, 1);
    pending = cudaPeekAtLastError();    // invalid value or configuration, by version
    CHECK(pending != cudaSuccess);
    still_works(round, "a refused <<<>>>");
    CHECK(cudaGetLastError() == pending);
    pending = cudaSuccess;
    snprintf(place, sizeof place, "round %d, refusals, at the end", round);
    RUNTIME(cudaGetLastError());
    RUNTIME(cudaFree((void *)m.device));
}

// --- rounds --------------------------------------------------------------------------------------

template <class Function> static Function driver_function(const char *name) {
    Function function;
    void *symbol = gpuexec_driver_symbol(name, 4000);
    CHECK(symbol != NULL);
    memcpy(&function, &symbol, sizeof function);
    return function;
}

// In odd rounds the primary context is pushed above the other one: a push that gpuexec failed to
// undo would show between them.
static void one_round(int round) {
    auto push = driver_function<CUresult (*)(CUcontext)>("cuCtxPushCurrent");
    auto pop = driver_function<CUresult (*)(CUcontext *)>("cuCtxPopCurrent");
    CUcontext before = current(), popped = NULL;
    CUcontext apart = gpuexec_context_native(w.apart), primary = gpuexec_context_native(w.ctx);
    if (round & 1) { CHECK(push(apart) == CUDA_SUCCESS && push(primary) == CUDA_SUCCESS); }
    all_memory_on_all_streams(round);
    pinned_copies(round);
    events(round);
    default_streams(round);
    host_functions(round);
#ifdef INTEROP_CUBLAS
    blas(round);
#endif
    captures(round);
    variables(round);
    contexts(round);
    threads(round);
    refusals(round);
    snprintf(place, sizeof place, "round %d, at the end", round);
    if (round & 1) {
        CHECK(pop(&popped) == CUDA_SUCCESS && popped == primary);
        CHECK(pop(&popped) == CUDA_SUCCESS && popped == apart);
    }
    CHECK(current() == before);
}

static void one_epoch(int number, int first, int end, bool runtime_first) {
    uses_runtime = false;
    open_epoch(number, runtime_first);
    for (int round = first; round < end; round++) { one_round(round); }
    close_epoch(number);
}

static int rounds(int count, bool runtime_first) {
    for (int first = 0, number = 0; first < count; first += EPOCH, number++) {
        const int end = first + EPOCH < count ? first + EPOCH : count;
        std::thread(one_epoch, number, first, end, ((number & 1) != 0) != runtime_first).join();
    }
#ifdef INTEROP_CUBLAS
    const char *with = "with cuBLAS";
#else
    const char *with = "without cuBLAS";
#endif
    printf("%d rounds %s, %s first: %ld calls of gpuexec watched, %ld results compared, all "
           "correct\n",
            count, with, runtime_first ? "the runtime" : "gpuexec", calls.load(), compared.load());
    return count > 0 && compared.load() > 0 ? 0 : 1;
}

// --- a kernel that fails -------------------------------------------------------------------------

static void says(int line, const char *text) {
    if (!strstr(gpuexec_error_text(), text)) {
        fail(line, "the error text lacks \"%s\"; it is:\n%s", text, gpuexec_error_text());
    }
}
#define SAYS(text) says(__LINE__, text)
// Without WATCHED, whose query also returns the kernel's error.
#define UNWATCHED(call, wanted) returns(__LINE__, #call, call, wanted)

static void check_gpuexec_after_a_fault() {
    const gpuexec_error *error = gpuexec_error_detail();
    CHECK(error->result == GPUEXEC_KERNEL_FAILED);
    CHECK(error->asynchronous == 1 && error->sticky == 1);
    CHECK(error->driver_result == CUDA_ERROR_ILLEGAL_ADDRESS);
    SAYS("CUDA_ERROR_ILLEGAL_ADDRESS");
    SAYS("start a new one");
}
static void check_the_end(gpuexec_ptr data) {
    void *p = NULL;
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaMalloc(&p, 64) == cudaErrorIllegalAddress);
    const gpuexec_dims dims = gpuexec_grid(1, 32, 0);
    UNWATCHED(gpuexec_launch(w.busy, w.stream[OURS].ours, dims, data, 1, 1u, 1u, 1),
            GPUEXEC_KERNEL_FAILED);
    UNWATCHED(gpuexec_take_error(), GPUEXEC_KERNEL_FAILED);
    CHECK(gpuexec_alloc(w.ctx, 64) == 0);
    UNWATCHED(gpuexec_take_error(), GPUEXEC_KERNEL_FAILED);
    UNWATCHED(gpuexec_context_sync(w.ctx), GPUEXEC_KERNEL_FAILED);
    CHECK(gpuexec_shutdown() == GPUEXEC_KERNEL_FAILED);    // and closes all handles nevertheless
    CHECK(!gpuexec_ok(w.ctx) && !gpuexec_ok(w.busy) && !gpuexec_ok(w.stream[OURS].ours));
}

static gpuexec_ptr open_for_a_fault() {
    cudaStream_t stream;
    RUNTIME(cudaFree(0));
    w.ctx = MADE(gpuexec_context_open(0, NULL));
    w.busy_module = MADE(gpuexec_module_load_file(w.ctx, "kernels/busy.ptx", NULL));
    w.busy = MADE(gpuexec_kernel_get(w.busy_module, "busy"));
    add_ours(OURS, "gpuexec's stream", MADE(gpuexec_stream_create(w.ctx, NULL)));
    RUNTIME(cudaStreamCreate(&stream));
    add_theirs(THEIRS, "cudaStreamCreate's stream", stream);
    return MADE(gpuexec_alloc(w.ctx, BYTES));
}

static int fault_runtime() {
    snprintf(place, sizeof place, "a fault of the runtime's kernel");
    gpuexec_ptr data = open_for_a_fault();
    store<<<1, 1, 0, w.stream[THEIRS].theirs>>>((unsigned *)16);
    UNWATCHED(gpuexec_stream_sync(w.stream[THEIRS].ours), GPUEXEC_KERNEL_FAILED);
    check_gpuexec_after_a_fault();
    UNWATCHED(gpuexec_stream_sync(w.stream[OURS].ours), GPUEXEC_KERNEL_FAILED);
    check_the_end(data);
    puts("an illegal address in a kernel of the runtime: gpuexec reported it, and the process "
         "ended normally");
    return 0;
}

static int fault_gpuexec() {
    snprintf(place, sizeof place, "a fault of gpuexec's kernel");
    gpuexec_ptr data = open_for_a_fault();
    gpuexec_module module = MADE(gpuexec_module_load_file(w.ctx, "kernels/faults.ptx", NULL));
    gpuexec_kernel kernel = MADE(gpuexec_kernel_get(module, "illegal_address"));
    UNWATCHED(gpuexec_launch(kernel, w.stream[OURS].ours, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_OK);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    UNWATCHED(gpuexec_stream_sync(w.stream[OURS].ours), GPUEXEC_KERNEL_FAILED);
    check_gpuexec_after_a_fault();
    SAYS("illegal_address");    // the kernel's name
    check_the_end(data);
    puts("an illegal address in a kernel of gpuexec: the runtime reported it, and the process "
         "ended normally");
    return 0;
}

// --- cudaDeviceReset -----------------------------------------------------------------------------

static int reset() {
    static expectation e;
    static unsigned result[N];
    for (int i = 0; i < 6; i++) {
        const int way = i % 3;    // retained; adopted; not queried before the end
        snprintf(place, sizeof place, "reset %d", i);
        RUNTIME(cudaFree(0));
        w.ctx = way == 1 ? MADE(gpuexec_context_from_native(NULL))
                         : MADE(gpuexec_context_open(0, NULL));
        gpuexec_module module = MADE(gpuexec_module_load_file(w.ctx, "kernels/busy.ptx", NULL));
        gpuexec_event event = MADE(gpuexec_event_create(w.ctx, NULL));
        w.busy = MADE(gpuexec_kernel_get(module, "busy"));
        add_ours(OURS, "gpuexec's stream", MADE(gpuexec_stream_create(w.ctx, NULL)));
        gpuexec_stream s = w.stream[OURS].ours;
        gpuexec_ptr p = MADE(gpuexec_alloc(w.ctx, BYTES));
        e.start();
        OK(gpuexec_copy_in(s, p, e.value, BYTES));
        OK(gpuexec_stream_sync(s));
        do_step(false, w.stream[OURS], p, e, QUICK);
        do_step(true, w.stream[OURS], p, e, QUICK);
        OK(gpuexec_event_record(event, s));
        OK(gpuexec_copy_out(s, result, p, BYTES));
        OK(gpuexec_stream_sync(s));
        COMPARE(e, result);
        RUNTIME(cudaDeviceReset());
        if (way == 2) {
            UNWATCHED(gpuexec_shutdown(), GPUEXEC_OK);    // none of our objects is left to destroy
        } else if (way == 1) {
            const gpuexec_dims dims = gpuexec_grid_for(N, THREADS);
            UNWATCHED(gpuexec_launch(w.busy, s, dims, p, (int)N, 1u, 1u, 1), GPUEXEC_STALE_HANDLE);
            SAYS("destroyed");
            UNWATCHED(gpuexec_take_error(), GPUEXEC_STALE_HANDLE);
        } else {
            UNWATCHED(gpuexec_event_destroy(event), GPUEXEC_STALE_HANDLE);
            SAYS("destroyed");
        }
        CHECK(!gpuexec_ok(w.ctx) && !gpuexec_ok(module) && !gpuexec_ok(w.busy) && !gpuexec_ok(s) &&
                !gpuexec_ok(event));
        if (way != 2) {
            UNWATCHED(gpuexec_stream_sync(s), GPUEXEC_STALE_HANDLE);
            UNWATCHED(gpuexec_stream_destroy(s), GPUEXEC_STALE_HANDLE);
            UNWATCHED(gpuexec_module_unload(module), GPUEXEC_STALE_HANDLE);
            CHECK(gpuexec_free(p) != GPUEXEC_OK);
            UNWATCHED(gpuexec_context_close(w.ctx), GPUEXEC_STALE_HANDLE);
            UNWATCHED(gpuexec_take_error(), GPUEXEC_OK);
        }
    }
    UNWATCHED(gpuexec_shutdown(), GPUEXEC_OK);
    RUNTIME(cudaDeviceReset());
    puts("6 resets: handles were stale, and each time both started again");
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "rounds";
    if (strcmp(mode, "rounds") == 0) {
        return rounds(argc > 2 ? atoi(argv[2]) : 100, argc > 3 && strcmp(argv[3], "runtime") == 0);
    }
    if (strcmp(mode, "fault-runtime") == 0) { return fault_runtime(); }
    if (strcmp(mode, "fault-gpuexec") == 0) { return fault_gpuexec(); }
    if (strcmp(mode, "reset") == 0) { return reset(); }
    puts("usage: interop rounds [N] [gpuexec|runtime] | fault-runtime | fault-gpuexec | reset");
    return 2;
}
