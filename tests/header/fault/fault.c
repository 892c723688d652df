/* fault.c - fault injection: every driver call and every allocation of the flows below fails once,
   and the library must handle it.

   gpuexec.h calls the driver's entry points through wrappers, which count calls and objects and can
   return an error. A flow is run repeatedly, and the n-th call (or allocation) fails, n = 1, 2,
   ..., until a run ends without reaching it. There are three manners of failure, each for driver
   calls and for allocations:

     once       the failed API call is repeated, and the flow then produces the right results
     go on      the flow continues with what it has: failed handles, addresses of 0 permanent  this
     call and all later ones fail: with a sticky error, as after a kernel that failed; or
                no memory is left at all

   At each step: nothing fails without a fault; the call that reached the fault fails, and its text
   names the driver call or the missing memory; the latch does what >>manual says for that kind of
   call; the thread's current context is unchanged. At the end of each run: every object has been
   returned to the driver and all memory to the allocator, gpuexec_shutdown returned what it should,
   and the trace has every driver call.

   Some calls may succeed despite a fault: fault_tolerated lists them, and why. A flow with the
   finder (FINDER_FLOW) must succeed whatever fails in the finder, which must not accuse it.
   FAULT_VERBOSE=1 prints each fault. TEST_ALL=1 injects all of them; without it, a sample. */
#define _DEFAULT_SOURCE
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>
static void *fault_symbol(void *library, const char *name);
#define dlsym fault_symbol /* gpuexec.h finds the driver's cuGetProcAddress with it */
/* What the cache does with files: the call number `at` fails, or with `all` this and all later
   ones. */
static struct { int at, count, all; } fault_files;
static int fault_file(int error) {
    const int n = fault_files.at ? ++fault_files.count : 0;
    if (!n || (fault_files.all ? n < fault_files.at : n != fault_files.at)) return 0;
    errno = error;
    return 1;
}
static ssize_t fault_write(int file, const void *from, size_t bytes) {
    /* a part; the next call fails */
    if (fault_file(ENOSPC)) return bytes > 1 ? write(file, from, bytes / 2) : -1;
    return write(file, from, bytes);
}
static int fault_close(int file) { /* as on a network: written data could not be kept */
    const int failed = fault_file(EDQUOT), closed = close(file);
    if (failed) errno = EDQUOT;
    return failed ? -1 : closed;
}
#define open(...) (fault_file(EMFILE) ? -1 : open(__VA_ARGS__))
#define read(...) (fault_file(EIO) ? -1 : read(__VA_ARGS__))
#define write fault_write
#define close fault_close
#define fstat(...) (fault_file(EIO) ? -1 : fstat(__VA_ARGS__))
#define stat(...) (fault_file(EACCES) ? -1 : stat(__VA_ARGS__))
#define mkdir(...) (fault_file(EROFS) ? -1 : mkdir(__VA_ARGS__))
#define rename(...) (fault_file(EIO) ? -1 : rename(__VA_ARGS__))
#define remove(...) (fault_file(EROFS) ? -1 : remove(__VA_ARGS__))
#define utime(...) (fault_file(EROFS) ? -1 : utime(__VA_ARGS__))
#define opendir(...) (fault_file(EMFILE) ? NULL : opendir(__VA_ARGS__))
#include "../../test.h"
#undef dlsym
#undef open
#undef read
#undef write
#undef close
#undef fstat
#undef stat
#undef mkdir
#undef rename
#undef remove
#undef utime
#undef opendir
#include <sys/mman.h>
#include <sys/socket.h>

/* -------------------------------------------------------------------------------------------------
   The fault, and the counters. */

typedef enum fault_source { DRIVER, MEMORY } fault_source;
typedef enum fault_manner { ONCE, GO_ON, PERMANENT } fault_manner;
static const char *const fault_manners[2][3] = {
    { "a driver call fails once", "a driver call fails, and the flow goes on",
            "a permanent sticky error" },
    { "an allocation fails once", "an allocation fails, and the flow goes on",
            "no memory, permanently" },
};

enum { FAULT_OBJECTS = 18, GRAPHS = 9 };
static struct {
    fault_source source;
    fault_manner manner;
    int at, count; /* the at-th driver call or allocation fails; 0: none. Atomic, since drivers may
                      call from other threads */
    int fired, seen;          /* reached; and the step that reached it has been checked */
    int row, code;            /* which driver call, and its result */
    int in_finder, of_finder; /* a hook of the finder runs; the fault was in one */
    int closing; /* in a call that destroys contexts, barriers, or what a graph retained */
    int off;     /* the harness's own calls */
    long objects[FAULT_OBJECTS], blocks; /* alive */
    long unlaunched; /* nodes that allocate, less those that free, until a launch */
    int calls[GXI_DRIVER_COUNT], traced[GXI_DRIVER_COUNT];
} fault;

/* Shared by the processes of the tests. */
enum { FAULT_SITES = 4096 };
static struct {
    int faults[2][3], runs, sites, flows;
    char reached[GXI_DRIVER_COUNT];
    char site[FAULT_SITES][96];
} * tally;
__attribute__((constructor)) static void fault_begin(void) {
    void *p = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    memcpy(&tally, &p, sizeof p);
}

enum {
#define FAULT_ROW(need, name, version, params) ROW_##name,
    GXI_DRIVER(FAULT_ROW)
#undef FAULT_ROW
            ROWS
};

/* Objects that calls create and destroy. A call that destroys one does so even when it returns an
   error, like a driver call that reports an error of earlier work. */
static const struct {
    unsigned char row;
    signed char change;
    unsigned char object;
} fault_objects[] = {
    { ROW_cuDevicePrimaryCtxRetain, 1, 0 },
    { ROW_cuDevicePrimaryCtxRelease, -1, 0 },
    { ROW_cuCtxCreate, 1, 1 },
    { ROW_cuCtxAttach, 1, 1 },
    { ROW_cuCtxDestroy, -1, 1 },
    { ROW_cuCtxDetach, -1, 1 },
    { ROW_cuModuleLoadDataEx, 1, 2 },
    { ROW_cuModuleUnload, -1, 2 },
    { ROW_cuLinkCreate, 1, 3 },
    { ROW_cuLinkDestroy, -1, 3 },
    { ROW_cuStreamCreateWithPriority, 1, 4 },
    { ROW_cuStreamDestroy, -1, 4 },
    { ROW_cuEventCreate, 1, 5 },
    { ROW_cuEventDestroy, -1, 5 },
    { ROW_cuMemAlloc, 1, 6 },
    { ROW_cuMemAllocPitch, 1, 6 },
    { ROW_cuMemFree, -1, 6 },
    { ROW_cuMemHostAlloc, 1, 7 },
    { ROW_cuMemFreeHost, -1, 7 },
    { ROW_cuMemHostRegister, 1, 7 },
    { ROW_cuMemHostUnregister, -1, 7 },
    { ROW_cuCtxPopCurrent, -1, 255 },
    { ROW_cuMemAllocManaged, 1, 6 },
    { ROW_cuMemAllocFromPoolAsync, 1, 6 },
    { ROW_cuMemFreeAsync, -1, 6 },
    { ROW_cuIpcOpenMemHandle, 1, 12 },
    { ROW_cuIpcCloseMemHandle, -1, 12 },
    { ROW_cuIpcOpenEventHandle, 1, 5 },
    { ROW_cuMemPoolImportFromShareableHandle, 1, 11 },
    { ROW_cuMemPoolImportPointer, 1, 6 },
    { ROW_cuMemPoolCreate, 1, 11 },
    { ROW_cuMemPoolDestroy, -1, 11 },
    { ROW_cuStreamBeginCapture, 1, 8 },
    { ROW_cuStreamEndCapture, -1, 8 },
    { ROW_cuGraphDestroy, -1, GRAPHS },
    { ROW_cuGraphCreate, 1, GRAPHS },
    { ROW_cuGraphClone, 1, GRAPHS },
    { ROW_cuGraphInstantiateWithFlags, 1, 10 },
    { ROW_cuGraphExecDestroy, -1, 10 },
    { ROW_cuLibraryLoadData, 1, 13 },
    { ROW_cuLibraryUnload, -1, 13 },
    { ROW_cuMemAddressReserve, 1, 14 },
    { ROW_cuMemAddressFree, -1, 14 },
    { ROW_cuMemCreate, 1, 15 },
    { ROW_cuMemImportFromShareableHandle, 1, 15 },
    { ROW_cuMemRelease, -1, 15 },
    { ROW_cuMemMap, 1, 16 },
    { ROW_cuMemUnmap, -1, 16 },
    { ROW_cuGreenCtxCreate, 1, 17 },
    { ROW_cuGreenCtxDestroy, -1, 17 },
};
static const char *const fault_object_names[FAULT_OBJECTS] = { "retains of primary contexts",
    "counts of contexts", "modules", "link states", "streams", "events", "pieces of device memory",
    "pieces of page-locked memory", "captures", "graphs", "instantiated graphs", "memory pools",
    "pieces of imported memory", "libraries", "reservations of addresses",
    "allocations of virtual memory", "mappings", "green contexts" };
static int fault_change(int row) { /* an index of fault_objects, or -1 */
    int i = (int)(sizeof fault_objects / sizeof *fault_objects);
    while (i-- > 0 && fault_objects[i].row != row) {}
    return i;
}

/* 1 if this call must fail: `row` of the driver, or -1 for an allocation. A sticky error spares
   calls that do not access a device. */
static int fault_hits(fault_source source, int row) {
    static const unsigned char host_only[] = { ROW_cuDriverGetVersion, ROW_cuDeviceGet,
        ROW_cuDeviceGetCount, ROW_cuDeviceGetAttribute, ROW_cuCtxGetCurrent, ROW_cuCtxPushCurrent,
        ROW_cuCtxPopCurrent, ROW_cuCtxGetId, ROW_cuCtxGetApiVersion, ROW_cuCtxGetDevice,
        ROW_cuLogsDumpToMemory };
    int n;
    if (fault.off || !fault.at || source != fault.source) return 0;
    if (source == DRIVER && fault.manner == PERMANENT && memchr(host_only, row, sizeof host_only))
        return 0;
    n = __atomic_add_fetch(&fault.count, 1, __ATOMIC_RELAXED);
    return n == fault.at || (n > fault.at && fault.manner == PERMANENT);
}
static int fault_code(int row) {
    const int i = fault_change(row);
    if (fault.manner == PERMANENT) return 719;
    return (i >= 0 && fault_objects[i].change > 0) || row == ROW_cuGraphAddMemAllocNode ? 2 : 999;
}
/* Before the driver is called: 1 if the call must be skipped, with the result in *cu. */
static int fault_before(int row, int *cu) {
    const int i = fault_change(row),
              ends = (i >= 0 && fault_objects[i].change < 0) || row == ROW_cuStreamSynchronize ||
            row == ROW_cuCtxSynchronize; /* a wait that fails has waited */
    if (!fault.off) {
        tally->reached[row] = 1;
        if (!fault.in_finder) __atomic_add_fetch(&fault.calls[row], 1, __ATOMIC_RELAXED);
    }
    *cu = 0;
    if (row == ROW_cuThreadExchangeStreamCaptureMode) return 0; /* it sets a number of the thread */
    if (!fault_hits(DRIVER, row)) return 0;
    *cu = fault_code(row);
    if (!fault.fired) {
        fault.row = row;
        fault.code = *cu;
        fault.of_finder = fault.in_finder;
        fault.fired = 1;
    }
    return !ends;
}
static int fault_after(int row, int cu, int injected) {
    const int i = fault_change(row);
    if (i >= 0 && fault_objects[i].object < FAULT_OBJECTS &&
            (cu == 0 || fault_objects[i].change < 0))
        __atomic_add_fetch(
                &fault.objects[fault_objects[i].object], fault_objects[i].change, __ATOMIC_RELAXED);
    if (cu == 0 && row == ROW_cuGraphAddMemAllocNode) fault.unlaunched++;
    if (cu == 0 && row == ROW_cuGraphAddMemFreeNode) fault.unlaunched--;
    if (cu == 0 && row == ROW_cuGraphLaunch && fault.unlaunched) {
        __atomic_add_fetch(&fault.objects[6], fault.unlaunched, __ATOMIC_RELAXED);
        fault.unlaunched = 0;
    }
    if (row == ROW_cuStreamEndCapture && cu == 0)
        __atomic_add_fetch(&fault.objects[GRAPHS], 1, __ATOMIC_RELAXED);
    return injected ? injected : cu;
}

static gxi_driver fault_real; /* the driver's own */
/* Whether the row is that entry point: its second interface has a row with a suffix. */
static int fault_is_row(int row, const char *name) {
    const char *const full = gxi_driver_rows[row].name;
    const size_t length = strlen(name);
    return strncmp(full, name, length) == 0 && (!full[length] || full[length] == '_');
}
#define HEADER_ROW(name, params, arguments) \
    static int GXI_CUDA fault_##name params { \
        int injected; \
        if (fault_before(ROW_##name, &injected)) return injected; \
        return fault_after(ROW_##name, fault_real.name arguments, injected); \
    }
#include "entry_points.h"
static const gxi_driver fault_wrapped = {
#define FAULT_ROW(need, name, version, params) fault_##name,
    GXI_DRIVER(FAULT_ROW)
#undef FAULT_ROW
};

/* The driver's cuGetProcAddress; it is replaced to return the wrappers of the entry points that
   gpuexec.h knows. */
static int(GXI_CUDA *fault_real_address)(const char *, void **, int, uint64_t, int *);
static int(GXI_CUDA *fault_real_old_address)(const char *, void **, int, uint64_t);
static int fault_wrap(const char *name, int version, void **symbol, int cu) {
    int row;
    if (cu || !*symbol) return cu;
    for (row = 0; row < ROWS; row++)
        if (gxi_driver_rows[row].version == version && fault_is_row(row, name)) {
            memcpy((char *)&fault_real + (size_t)row * sizeof *symbol, symbol, sizeof *symbol);
            memcpy(symbol, (const char *)&fault_wrapped + (size_t)row * sizeof *symbol,
                    sizeof *symbol);
            break;
        }
    return cu;
}
static int GXI_CUDA fault_address(
        const char *name, void **symbol, int version, uint64_t flags, int *status) {
    return fault_wrap(
            name, version, symbol, fault_real_address(name, symbol, version, flags, status));
}
static int GXI_CUDA fault_old_address(
        const char *name, void **symbol, int version, uint64_t flags) {
    return fault_wrap(name, version, symbol, fault_real_old_address(name, symbol, version, flags));
}
static void *fault_symbol(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (strcmp(name, "cuGetProcAddress_v2") == 0 && symbol) {
        int(GXI_CUDA * own)(const char *, void **, int, uint64_t, int *) = fault_address;
        memcpy(&fault_real_address, &symbol, sizeof symbol);
        memcpy(&symbol, &own, sizeof symbol);
    } else if (strcmp(name, "cuGetProcAddress") == 0 && symbol) {
        int(GXI_CUDA * own)(const char *, void **, int, uint64_t) = fault_old_address;
        memcpy(&fault_real_old_address, &symbol, sizeof symbol);
        memcpy(&symbol, &own, sizeof symbol);
    } else if (strcmp(name, "cuDriverGetVersion") == 0 && symbol) {
        int(GXI_CUDA * own)(int *) = fault_cuDriverGetVersion;
        memcpy(&fault_real.cuDriverGetVersion, &symbol, sizeof symbol);
        memcpy(&symbol, &own, sizeof symbol);
    } else if (gxi_tool_of(name)) {
        int row;
        for (row = 0; row < ROWS; row++)
            if (strcmp(gxi_driver_rows[row].name, name) == 0)
                fault_wrap(name, gxi_driver_rows[row].version, &symbol, 0);
    }
    return symbol;
}

/* Every call is in the trace with its result, except queries of error texts, the version query
   before the start, the two calls that keep captures unbroken, and those of the finder. */
static void fault_log(void *user, gpuexec_log_level level, const char *text) {
    char name[64] = "";
    int row;
    (void)user;
    if (level != GPUEXEC_LOG_TRACE || fault.off) return;
    for (row = sscanf(text, "gpuexec: %63s =", name) == 1 ? 0 : ROWS;
            row < ROWS && !fault_is_row(row, name); row++) {}
    if (row == ROW_cuMemPrefetchAsync && fault_real.cuMemPrefetchAsync_12020)
        row = ROW_cuMemPrefetchAsync_12020;
    if (row == ROW_cuMemAdvise && fault_real.cuMemAdvise_12020) row = ROW_cuMemAdvise_12020;
    if (row < ROWS) __atomic_add_fetch(&fault.traced[row], 1, __ATOMIC_RELAXED);
}

/* Some queries of captures, and of the contexts that have them, are made with a mutex held: no log
   function can run. */
static int fault_is_traced(int row) {
    return row != ROW_cuCtxGetId && row != ROW_cuCtxGetApiVersion && row != ROW_cuCtxPushCurrent &&
            row != ROW_cuCtxPopCurrent && row != ROW_cuGetErrorName &&
            row != ROW_cuGetErrorString && row != ROW_cuDriverGetVersion &&
            row != ROW_cuLogsDumpToMemory && row != ROW_cuStreamGetCaptureInfo &&
            row != ROW_cuThreadExchangeStreamCaptureMode;
}

static void *fault_realloc(void *user, void *p, size_t bytes) {
    (void)user;
    if (!bytes) {
        if (p) __atomic_sub_fetch(&fault.blocks, 1, __ATOMIC_RELAXED);
        free(p);
        return NULL;
    }
    if (fault_hits(MEMORY, -1)) {
        if (!fault.fired) fault.of_finder = fault.in_finder;
        fault.fired = 1;
        return NULL;
    }
    if (!p) __atomic_add_fetch(&fault.blocks, 1, __ATOMIC_RELAXED);
    return realloc(p, bytes);
}

/* The finder's hooks, and those that note that they run. */
static struct {
    void (*before)(const gxi_call *call, const gxi_watched_call *w);
    void (*after)(const gxi_call *call, const gxi_watched_call *w);
    void (*note_memory)(const gxi_call *call, const struct gxi_slot *stream, const gxi_range *range,
            int allocated);
    void (*give_event)(struct CUevent_st *native);
} fault_hooks;
static void fault_finder_before(const gxi_call *call, const gxi_watched_call *w) {
    fault.in_finder++;
    fault_hooks.before(call, w);
    fault.in_finder--;
}
static void fault_finder_after(const gxi_call *call, const gxi_watched_call *w) {
    fault.in_finder++;
    fault_hooks.after(call, w);
    fault.in_finder--;
}
static void fault_finder_memory(const gxi_call *call, const struct gxi_slot *stream,
        const gxi_range *range, int allocated) {
    fault.in_finder++;
    fault_hooks.note_memory(call, stream, range, allocated);
    fault.in_finder--;
}
static void fault_finder_event(struct CUevent_st *native) {
    fault.in_finder++;
    fault_hooks.give_event(native);
    fault.in_finder--;
}
static void fault_finder_begin(void) { /* after each start of the library */
    if (gxi.hooks.before_call[GXI_WATCH_FINDER] == fault_finder_before) return;
    fault_hooks.before = gxi.hooks.before_call[GXI_WATCH_FINDER];
    fault_hooks.after = gxi.hooks.after_call[GXI_WATCH_FINDER];
    fault_hooks.note_memory = gxi.hooks.note_memory;
    fault_hooks.give_event = gxi.hooks.give_event;
    gxi.hooks.before_call[GXI_WATCH_FINDER] = fault_finder_before;
    gxi.hooks.after_call[GXI_WATCH_FINDER] = fault_finder_after;
    gxi.hooks.note_memory = fault_finder_memory;
    gxi.hooks.give_event = fault_finder_event;
}

/* -------------------------------------------------------------------------------------------------
   Steps: each is one API call. */

static struct {
    const char *call;
    char function[64];
    int line;
    gxi_kind_of_call kind;
    int moves;
    gpuexec_result latched;
    struct CUctx_st *current;
} step;

static void fault_wrong(const char *format, ...) {
    static struct {
        const char *format, *call;
        int row;
    } said[1000];
    const int row = fault.source == DRIVER ? fault.row : -1;
    static size_t n;
    size_t i;
    va_list list;
    test_failures++;
    for (i = 0; i < n; i++)
        if (said[i].format == format && said[i].call == step.call && said[i].row == row) return;
    if (n == sizeof said / sizeof *said) return;
    said[n].format = format;
    said[n].call = step.call;
    said[n++].row = row; /* report the same row only once */
    printf("%s:%d: %s: %s, number %d", __FILE__, step.line, test_current->name,
            fault_manners[fault.source][fault.manner], fault.at);
    if (fault.fired && fault.source == DRIVER) printf(" (%s)", gxi_driver_rows[fault.row].name);
    printf(": %s: ", step.call);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
}
static struct CUctx_st *fault_current(void) {
    struct CUctx_st *now = NULL;
    if (fault_real.cuCtxGetCurrent) fault_real.cuCtxGetCurrent(&now);
    return now;
}
static void fault_step(gxi_kind_of_call kind, const char *call, int line) {
    const size_t n = strspn(
            call, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    step.call = call;
    step.line = line;
    step.kind = kind;
    step.moves = 0;
    snprintf(step.function, sizeof step.function, "%.*s", (int)n, call);
    step.latched = gxi_failure_latched();
    step.current = fault_current();
}

/* Driver calls that these functions can do without, and why. */
enum { ALLOCATION = -1 };
static const struct {
    const char *function;
    int row;
} fault_tolerated[] = {
    { "gpuexec_node_enable", ROW_cuGraphExecDestroy }, /* the next launch instantiates a new one */
    { "gpuexec_node_set_attributes", ROW_cuGraphExecDestroy },
    { "", ROW_cuGetErrorName }, /* "unknown CUresult" */
    { "", ROW_cuGetErrorString },
    { "", ROW_cuLogsDumpToMemory },  /* the text is then without the log */
    { "", ROW_cuStreamIsCapturing }, /* then the driver finds what a capture forbids */
    { "", ROW_cuStreamGetCaptureInfo },
    { "gpuexec_context_close", ROW_cuStreamEndCapture }, /* nothing needs the graph */
    { "gpuexec_context_close", ROW_cuGraphDestroy },
    { "gpuexec_graph_text", ROW_cuGraphNodeGetType }, /* the line of that node then says less */
    { "gpuexec_graph_text", ROW_cuGraphKernelNodeGetParams },
    { "gpuexec_graph_text", ROW_cuGraphMemcpyNodeGetParams },
    { "gpuexec_graph_text", ROW_cuGraphMemsetNodeGetParams },
    { "gpuexec_graph_text", ROW_cuGraphMemAllocNodeGetParams },
    { "gpuexec_graph_text", ROW_cuGraphMemFreeNodeGetParams },
    { "gpuexec_graph_dot", ROW_cuGraphNodeGetType },
    { "gpuexec_graph_dot", ROW_cuGraphKernelNodeGetParams },
    { "gpuexec_graph_dot", ROW_cuGraphMemcpyNodeGetParams },
    { "gpuexec_graph_dot", ROW_cuGraphMemsetNodeGetParams },
    { "gpuexec_graph_update", ROW_cuGraphDestroy }, /* of the CUgraph that the other one replaces */
    { "gpuexec_free", ROW_cuGraphGetNodes }, /* launches then do not notice that the memory is
                                                gone */
    { "gpuexec_free", ROW_cuGraphNodeGetType },
    { "gpuexec_free", ROW_cuGraphKernelNodeGetParams },
    { "gpuexec_free", ROW_cuGraphMemcpyNodeGetParams },
    { "gpuexec_free", ROW_cuGraphMemsetNodeGetParams },
    { "gpuexec_free", ROW_cuGraphEventRecordNodeGetEvent },
    { "gpuexec_free", ROW_cuGraphEventWaitNodeGetEvent },
    { "gpuexec_free", ROW_cuGraphChildGraphNodeGetGraph },
    { "gpuexec_node_set_", ROW_cuGraphExecKernelNodeSetParams }, /* the next launch instantiates the
                                                                    graph again */
    { "gpuexec_node_set_", ROW_cuGraphExecMemcpyNodeSetParams },
    { "gpuexec_node_set_", ROW_cuGraphExecMemsetNodeSetParams },
    { "gpuexec_graph_add_alloc", ALLOCATION }, /* the memory is then not known */
    { "gpuexec_virtual_", ROW_cuGraphGetNodes },
    { "gpuexec_virtual_", ROW_cuGraphNodeGetType },
    { "gpuexec_virtual_", ROW_cuGraphMemsetNodeGetParams },
    { "gpuexec_virtual_destroy", ALLOCATION }, /* it is then not retained */
    { "gpuexec_event_destroy", ROW_cuGraphGetNodes },
    { "gpuexec_event_destroy", ROW_cuGraphNodeGetType },
    { "gpuexec_event_destroy", ROW_cuGraphKernelNodeGetParams },
    { "gpuexec_event_destroy", ROW_cuGraphMemcpyNodeGetParams },
    { "gpuexec_event_destroy", ROW_cuGraphMemsetNodeGetParams },
    { "gpuexec_event_destroy", ROW_cuGraphEventRecordNodeGetEvent },
    { "gpuexec_event_destroy", ROW_cuGraphEventWaitNodeGetEvent },
    { "gpuexec_event_destroy", ROW_cuGraphChildGraphNodeGetGraph },
    { "gpuexec_event_destroy", ALLOCATION },
    { "gpuexec_texture_destroy", ROW_cuGraphGetNodes },
    { "gpuexec_texture_destroy", ROW_cuGraphNodeGetType },
    { "gpuexec_texture_destroy", ROW_cuGraphKernelNodeGetParams },
    { "gpuexec_texture_destroy", ROW_cuGraphMemcpyNodeGetParams },
    { "gpuexec_texture_destroy", ALLOCATION },
    { "gpuexec_surface_destroy", ALLOCATION },
    { "gpuexec_array_destroy", ALLOCATION },
    { "gpuexec_barrier_destroy", ROW_cuGraphGetNodes },
    { "gpuexec_barrier_destroy", ROW_cuGraphNodeGetType },
    { "gpuexec_barrier_destroy", ROW_cuGraphKernelNodeGetParams },
    { "gpuexec_barrier_destroy", ALLOCATION },
    { "gpuexec_free", ALLOCATION }, /* it is then not postponed, or not retained */
    { "gpuexec_library_unload", ALLOCATION },
    { "gpuexec_context_close", ALLOCATION },
    { "gpuexec_module_unload", ALLOCATION },
    { "", ROW_cuCtxGetCurrent },       /* then it is pushed */
    { "", ROW_simgpuMemCacheAsync },   /* the block goes to the driver */
    { "", ROW_simgpuMemUncacheAsync }, /* the block keeps its size */
    { "", ROW_cuCtxPopCurrent },       /* the result of the API call counts */
    { "", ROW_cuCtxGetId },            /* then the context is assumed to be alive */
    { "", ROW_cuCtxGetApiVersion },
    { "gpuexec_stream_", ROW_cuCtxPushCurrent }, /* the per-thread stream then counts as not
                                                    capturing */
    { "gpuexec_context_close", ROW_cuCtxPushCurrent },
    { "gpuexec_context_", ROW_cuDeviceGet }, /* the ordinal then serves as the CUdevice */
    { "gpuexec_context_attach", ROW_cuStreamGetGreenCtx }, /* then it is not taken for a green one
                                                            */
    { "gpuexec_stream_per_thread", ROW_cuStreamGetGreenCtx },
    { "gpuexec_context_attach", ROW_cuDevicePrimaryCtxRelease }, /* the context itself is
                                                                    available */
    { "load", ROW_cuModuleGetFunctionCount }, /* the kernels' names are then unknown, which is
                                                 allowed */
    { "load", ROW_cuModuleEnumerateFunctions },
    { "load", ROW_cuFuncGetName },
    { "load", ROW_cuLibraryGetKernelCount },
    { "load", ROW_cuLibraryEnumerateKernels },
    { "load", ROW_cuKernelGetName },
    { "library_module", ROW_cuModuleGetFunctionCount },
    { "library_module", ROW_cuModuleEnumerateFunctions },
    { "library_module", ROW_cuFuncGetName },
    { "library_module", ALLOCATION }, /* of the log, the names, or the text's parameters */
    { "library_from_native", ROW_cuLibraryGetKernelCount },
    { "library_from_native", ROW_cuLibraryEnumerateKernels },
    { "library_from_native", ROW_cuKernelGetName },
    { "library_from_native", ALLOCATION },
    { "library_unload", ALLOCATION },                  /* it is then not postponed */
    { "kernel_from_native", ROW_cuKernelGetFunction }, /* it is then taken for a CUfunction */
    { "module_from_native", ROW_cuModuleGetFunctionCount },
    { "module_from_native", ROW_cuModuleEnumerateFunctions },
    { "from_native", ROW_cuFuncGetName },
    { "load", ALLOCATION },
    { "module_compile", ROW_nvrtcGetProgramLogSize }, /* the module is then without the compiler's
                                                         log */
    { "module_compile", ROW_nvrtcGetProgramLog },
    { "module_compile", ROW_nvrtcDestroyProgram },
    { "module_compile", ROW_cuLinkDestroy },
    { "gpuexec_linker_load", ROW_nvJitLinkGetInfoLogSize },
    { "gpuexec_linker_load", ROW_nvJitLinkGetInfoLog },
    { "gpuexec_linker_load", ROW_nvJitLinkDestroy },
    { "module_compile", ROW_cuModuleGetFunctionCount },
    { "module_compile", ROW_cuModuleEnumerateFunctions },
    { "module_compile", ROW_cuFuncGetName },
    { "module_compile", ALLOCATION }, /* see FLOW(compile); or the result is not kept on disk */
    { "module_compile", ROW_cuDeviceGetAttribute }, /* the result is then not kept */
    { "linker_load", ROW_cuDeviceGetAttribute },
    { "gpuexec_cache_", ALLOCATION },  /* the information then lacks its texts, or entries */
    { "gpuexec_linker_", ALLOCATION }, /* the log of a successful step */
    { "wait_stream", ROW_cuEventDestroy },
    { "gpuexec_shutdown", ROW_cuEventDestroy },
    { "gpuexec_context_close", ROW_cuEventDestroy },
    { "module_from_native", ALLOCATION },
    { "gpuexec_kernel_", ROW_cuFuncGetParamInfo },    /* the parameters are then unknown, which is
                                                         allowed */
    { "gpuexec_kernel_get", ROW_cuFuncGetAttribute }, /* the limit of shared memory: the launch
                                                         requests more than it needs */
    { "gpuexec_kernel_from_native", ROW_cuFuncGetAttribute },
    { "gpuexec_ipc_", ROW_cuDeviceGetUuid }, /* it is only for an error's text */
    { "gpuexec_ipc_receive", ALLOCATION },
    { "", ROW_cuMemGetAddressRange },          /* some memory has none */
    { "copy_with", ROW_cuDeviceGetAttribute }, /* the driver checks the pitch, too */
    { "copy_many", ROW_cuModuleLoadDataEx },   /* each copy is then separate */
    { "copy_many", ROW_cuModuleGetFunction },
    { "copy_many", ROW_cuPointerGetAttributes },
};
static int fault_is_tolerated(void) {
    const int row = fault.source == DRIVER ? fault.row : ALLOCATION;
    size_t i;
    if (fault.of_finder) return 1; /* it then knows less */
    for (i = 0; i < sizeof fault_tolerated / sizeof *fault_tolerated; i++)
        if (fault_tolerated[i].row == row && strstr(step.function, fault_tolerated[i].function))
            return 1;
    return 0;
}
static void fault_count(void) {
    const char *what = fault.source == DRIVER ? gxi_driver_rows[fault.row].name : "an allocation";
    char site[96];
    int i;
    tally->faults[fault.source][fault.manner]++;
    fault.closing = strstr(step.function, "close") || strstr(step.function, "barrier_destroy") ||
            strstr(step.function, "shutdown") || strstr(step.function, "graph_destroy");
    snprintf(site, sizeof site, "%s: %s", step.function, what);
    for (i = 0; i < tally->sites && strcmp(tally->site[i], site) != 0; i++) {}
    if (i == tally->sites && i < FAULT_SITES)
        memcpy(tally->site[tally->sites++], site, sizeof site);
    if (getenv("FAULT_VERBOSE"))
        printf("%s, number %d: line %d, %s\n", fault_manners[fault.source][fault.manner], fault.at,
                step.line, site);
}

static int fault_devices(void) {
    static int n;
    if (!n) {
        fault.off = 1;
        fault_real.cuDeviceGetCount(&n);
        fault.off = 0;
    }
    return n;
}

static int fault_reach(int peer) { /* whether device 0 can access it */
    int can = 0, device = 0;
    fault.off = 1;
    fault_real.cuDeviceGet(&device, peer);
    fault_real.cuDeviceCanAccessPeer(&can, 0, device);
    fault.off = 0;
    return can;
}

/* Whether the results must be right. */
static int fault_whole(void) { return !fault.fired || fault.manner == ONCE; }

/* The latch after a call, >>manual "HOW ERRORS WORK". */
static void fault_check_latch(gpuexec_result r) {
    const gpuexec_result now = gxi_failure_latched();
    gpuexec_result wanted = step.latched;
    if (step.kind == GXI_WAITS) {
        if (step.latched && r != step.latched)
            fault_wrong("returned %s, but %s was latched", gpuexec_result_name(r),
                    gpuexec_result_name(step.latched));
        wanted = GPUEXEC_OK;
    } else if (step.kind == GXI_WORKS && step.latched) {
        if (r != step.latched)
            fault_wrong("was not refused: returned %s while %s was latched", gpuexec_result_name(r),
                    gpuexec_result_name(step.latched));
    } else if (!step.latched && (step.kind == GXI_WORKS || step.kind == GXI_MAKES)) wanted = r;
    if (now != wanted)
        fault_wrong("returned %s and left %s latched, not %s", gpuexec_result_name(r),
                gpuexec_result_name(now), gpuexec_result_name(wanted));
}

/* After a call that returned r: 1 if it must be repeated. */
static int fault_again(gpuexec_result r) {
    const char *text = gpuexec_error_text();
    const int hit = fault.fired && !fault.seen;
    if (!step.moves && fault_current() != step.current &&
            !(fault.source == DRIVER && fault.row == ROW_cuCtxGetCurrent))
        fault_wrong("left another context current");
    if (strlen(text) == 0 && r && (!fault.fired || !fault_is_tolerated()))
        fault_wrong("returned %s without a text", gpuexec_result_name(r));
    fault_check_latch(r);
    if (!hit) {
        if (r && fault_whole()) fault_wrong("returned %s:\n%s", gpuexec_result_name(r), text);
        return 0;
    }
    fault.seen = 1;
    fault_count();
    if (r && fault.of_finder && fault.manner != PERMANENT)
        fault_wrong("failed although only the finder lacked something:\n%s", text);
    if (r == GPUEXEC_OK) {
        if (!fault_is_tolerated())
            fault_wrong("succeeded although %s failed",
                    fault.source == DRIVER ? gxi_driver_rows[fault.row].name : "an allocation");
        return 0;
    }
    if (fault.source == MEMORY) {
        if (!strstr(text, "memory")) fault_wrong("the text does not mention memory:\n%s", text);
        if (r != GPUEXEC_OUT_OF_HOST_MEMORY)
            fault_wrong("returned %s:\n%s", gpuexec_result_name(r), text);
    } else {
        char expected[128];
        snprintf(expected, sizeof expected, "%s%.*s returned",
                gxi_tool_of(gxi_driver_rows[fault.row].name) ? "" : "driver: ",
                (int)strcspn(gxi_driver_rows[fault.row].name, "_"),
                gxi_driver_rows[fault.row].name);
        /* any of the calls that failed */
        if (fault.manner == PERMANENT) snprintf(expected, sizeof expected, "(719)");
        if (!strstr(text, expected) && !fault_is_tolerated())
            fault_wrong("the text lacks \"%s\":\n%s", expected, text);
    }
    if (fault.manner != ONCE) return 0;
    if (gpuexec_take_error() && gpuexec_take_error()) fault_wrong("the failure stayed latched");
    step.latched = GPUEXEC_OK;
    return 1;
}

static gpuexec_result fault_last(void);
static void fault_refused(gpuexec_result r) {
    if (!gpuexec_error_text()[0] || (r && gpuexec_error_detail()->result == GPUEXEC_OK))
        fault_wrong("returned %s without a text", gpuexec_result_name(r));
    fault_check_latch(r);
    if (fault.fired && !fault.seen) {
        fault.seen = 1;
        fault_count();
    }
}

/* The last failure, for calls that do not return a gpuexec_result. */
static gpuexec_result fault_last(void) {
    const gpuexec_result r = gpuexec_error_detail()->result;
    return r ? r : GPUEXEC_DRIVER_ERROR;
}
#define fault_of(handle) (gpuexec_ok(handle) ? GPUEXEC_OK : fault_last())
#define STEP(kind, call) \
    do fault_step(kind, #call, __LINE__); \
    while (fault_again(call))
#define VALUE(kind, text, v, call, ok) \
    do { \
        fault_step(kind, text, __LINE__); \
        v = (call); \
    } while (fault_again((ok) ? GPUEXEC_OK : fault_last()))
#define WORK(call) STEP(GXI_WORKS, call)
#define WAIT(call) STEP(GXI_WAITS, call)
#define QUERY(call) STEP(GXI_QUERIES, call)
/* creates something other than a handle */
#define DO(call) STEP(GXI_MAKES, call)
#define MAKE(handle, call) VALUE(GXI_MAKES, #call, handle, call, gpuexec_ok(handle))
#define GET(v, call) VALUE(GXI_MAKES, #call, v, call, v != 0) /* an address */
#define MAKE_WORK(handle, call) VALUE(GXI_WORKS, #call, handle, call, gpuexec_ok(handle))
#define READ(v, call, ok) VALUE(GXI_QUERIES, #call, v, call, ok)
#define PUSH(call) \
    do { \
        fault_step(GXI_MAKES, #call, __LINE__); \
        step.moves = 1; \
    } while (fault_again(call))
#define POP(call) \
    do { \
        fault_step(GXI_CLEANS, #call, __LINE__); \
        step.moves = 1; \
    } while (fault_again(call) && fault.row != ROW_cuCtxPopCurrent)
/* Clean-up is not repeated: it has released what it could, and the counts show it. */
#define CLEAN(call) \
    do { \
        fault_step(GXI_CLEANS, #call, __LINE__); \
        fault_again(call); \
    } while (0)
#define EQUAL(a, b) \
    do { \
        if (fault_whole()) CHECK_EQ(a, b); \
    } while (0)

/* -------------------------------------------------------------------------------------------------
   Repeated runs of a flow. */

static int fault_finds; /* the flow runs with the finder */
/* 1 if the fault was reached */
static int fault_run(void (*flow)(void), fault_source source, fault_manner manner, int at) {
    gpuexec_setup_desc desc = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    gpuexec_result r;
    int i;
    memset(&fault, 0, sizeof fault);
    fault.source = source;
    fault.manner = manner;
    fault.at = at;
    tally->runs++;
    desc.realloc_function = fault_realloc;
    desc.log = fault_log;
    desc.validation = fault_finds;
    /* not always: a traced launch does not take the fast path */
    desc.trace = source == DRIVER && (manner == GO_ON || !at);
    alarm((unsigned)test_timeout() / 2);
    gpuexec_shutdown();
    fault_step(GXI_MAKES, "gpuexec_setup", __LINE__);
    step.current = NULL;
    if (fault_again(gpuexec_setup_at("here", &desc))) (void)gpuexec_setup_at("here", &desc);
    if (fault_finds) fault_finder_begin();
    flow();
    fault_step(GXI_WAITS, "gpuexec_shutdown()", __LINE__);
    r = gpuexec_shutdown();
    while (fault_current() && fault_real.cuCtxPopCurrent(&step.current) == 0) {}
    step.current = NULL;
    if (fault.manner == ONCE || !fault.fired) fault_again(r);
    else if (fault.fired && !fault.seen) {
        fault.seen = 1;
        fault_count();
    }
    fault.off = 1;
    /* a context can be detached from, memory in it freed, and what a graph of another one retained
       of it unloaded, only while it is current */
    if (fault.closing && fault.row == ROW_cuCtxPushCurrent)
        fault.objects[1] = fault.objects[2] = fault.objects[6] = fault.objects[7] = 0;
    for (i = 0; i < FAULT_OBJECTS; i++)
        if (fault.objects[i])
            fault_wrong("%ld %s are left", fault.objects[i], fault_object_names[i]);
    if (fault.blocks) fault_wrong("%ld blocks of host memory are left", fault.blocks);
    for (i = 0; i < ROWS && desc.trace; i++)
        if (fault.traced[i] > fault.calls[i] ||
                (fault.traced[i] < fault.calls[i] && fault_is_traced(i)))
            fault_wrong("%s was called %d times, of which the trace has %d",
                    gxi_driver_rows[i].name, fault.calls[i], fault.traced[i]);
    return fault.fired;
}
static char fault_ptx[8192]; /* tests/support/unit.ptx */
static void fault_read(const char *path, char *to, size_t size);
/* Every stride-th fault of the manners up to `last`: all with TEST_ALL, otherwise a sample, which
   begins elsewhere in each manner. On a GPU only a few, because creating a context is slow there,
   so one is kept open; what the header does then does not depend on the device. */
enum { SAMPLE = 6, GPU_SAMPLE = 32 };
static void fault_flow(void (*flow)(void), fault_manner last, int stride) {
    const char *driver = getenv("GPUEXEC_DRIVER");
    const int cpu_device = driver && strstr(driver, "libsimgpu");
    const int sample = !cpu_device ? GPU_SAMPLE : getenv("TEST_ALL") ? 1 : SAMPLE;
    int source, manner, at, device;
    fault_read("tests/support/unit.ptx", fault_ptx, sizeof fault_ptx);
    if (!gpuexec_device_count()) SKIP("no device");
    fault_run(flow, DRIVER, ONCE, 0);
    if (!cpu_device) {
        struct CUctx_st *kept;
        for (device = 0; device < 2; device++) fault_real.cuDevicePrimaryCtxRetain(&kept, device);
        last = ONCE;
    }
    for (source = DRIVER; source <= MEMORY; source++)
        for (manner = ONCE; manner <= (int)last; manner++)
            for (at = 1 + (2 * source + manner) % sample;
                    fault_run(flow, (fault_source)source, (fault_manner)manner, at);
                    at += manner == PERMANENT && stride > sample ? stride : sample) {}
    tally->flows++;
}
#define FLOW_OF(test, name) \
    static void flow_##name(void); \
    test(name) { fault_flow(flow_##name, PERMANENT, 1); } \
    static void flow_##name(void)
#define FLOW(name) FLOW_OF(TEST_ALONE, name)
#define FINDER_FLOW(name) \
    static void flow_##name(void); \
    TEST_ALONE(name) { \
        fault_finds = 1; \
        fault_flow(flow_##name, PERMANENT, 1); \
    } \
    static void flow_##name(void)

/* -------------------------------------------------------------------------------------------------
   The flows. */


enum { N = 64 };
static void fault_read(const char *path, char *to, size_t size) {
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(to, 1, size - 1, f) : 0;
    if (f) fclose(f);
    to[n] = 0;
}

FLOW(device) {
    gpuexec_device_info info;
    gpuexec_device_link link;
    char text[4000];
    size_t length;
    int n, value = 0;
    READ(n, gpuexec_device_count(), n > 0);
    QUERY(gpuexec_device_get_info(0, &info));
    QUERY(gpuexec_device_get_attribute(0, 16, &value));
    if (n > 1) READ(value, gpuexec_device_can_access_peer(0, n - 1), value || !fault_reach(n - 1));
    QUERY(gpuexec_device_get_link(0, fault_devices() - 1, &link));
    EQUAL(link.access, fault_devices() == 1 || fault_reach(fault_devices() - 1));
    READ(length, gpuexec_topology_text(text, sizeof text), length > 0);
    READ(length, gpuexec_devices_text(text, sizeof text), length > 0);
    EQUAL(info.warp_size, 32);
    READ(n, gpuexec_driver_version(), n >= 11040);
}

FLOW(context) {
    gpuexec_context_desc spin = { 0, 1, 0 };
    gpuexec_context open, made, same, shared, primary;
    gpuexec_stream s;
    gpuexec_cache prefer = GPUEXEC_CACHE_PREFER_L1;
    char text[1000];
    size_t n = 0, m = 0;
    unsigned flags = 0;
    int low, high, is;
    DO(gpuexec_primary_set_flags(0, 1));
    MAKE(open, gpuexec_context_open(0, &spin));
    MAKE(made, gpuexec_context_create(0, &spin));
    MAKE(same, gpuexec_context_from_native(gpuexec_context_native(made)));
    MAKE(shared, gpuexec_context_attach(gpuexec_context_native(made)));
    MAKE(primary, gpuexec_context_attach(gpuexec_context_native(open)));
    MAKE(s, gpuexec_stream_create(same, NULL)); /* closing `same` waits for it and closes it */
    DO(gpuexec_context_retain(open));
    PUSH(gpuexec_context_push(made));
    PUSH(gpuexec_context_push(open));
    READ(n, gpuexec_context_stack_text(text, sizeof text), n > 0);
    READ(is, gpuexec_context_is_current(open), is);
    POP(gpuexec_context_pop(open));
    POP(gpuexec_context_pop(made));
    PUSH(gpuexec_context_set_current(open));
    POP(gpuexec_context_pop(open));
    DO(gpuexec_profiler_start(made));
    CLEAN(gpuexec_profiler_stop(made));
    DO(gpuexec_context_set_cache(made, prefer));
    QUERY(gpuexec_context_get_cache(made, &prefer));
    QUERY(gpuexec_context_get_memory(made, &n, &m));
    DO(gpuexec_context_set_limit(made, GPUEXEC_LIMIT_STACK, 2048));
    QUERY(gpuexec_context_get_limit(made, GPUEXEC_LIMIT_STACK, &n));
    QUERY(gpuexec_context_get_priorities(made, &low, &high));
    EQUAL(n, 2048);
    WAIT(gpuexec_context_sync(made));
    WAIT(gpuexec_device_sync(0));
    WAIT(gpuexec_sync_all());
    QUERY(gpuexec_primary_get_state(0, &flags, &is));
    EQUAL(is, 1);
    CLEAN(gpuexec_context_close(primary));
    CLEAN(gpuexec_context_close(shared));
    CLEAN(gpuexec_context_close(same));
    CLEAN(gpuexec_context_close(made));
    CLEAN(gpuexec_context_close(open));
    CLEAN(gpuexec_context_close(open));
    MAKE(made, gpuexec_context_create(0, NULL));
    MAKE(same, gpuexec_context_from_native(gpuexec_context_native(made)));
    CLEAN(gpuexec_primary_reset(0)); /* no handle to it: `same` has another context */
    CLEAN(gpuexec_context_close(same));
    CLEAN(gpuexec_context_close(made));
}

FLOW(green) {
    static const int sizes[2] = { 2, 3 };
    const gpuexec_green_desc desc = { .sms = 1 }, fine = { .fine = 1 };
    gpuexec_context one, parts[2], rest, adopted;
    gpuexec_stream s;
    gpuexec_ptr p;
    int sms = 0;
    MAKE(one, gpuexec_context_create_green(0, &desc));
    QUERY(gpuexec_context_get_sms(one, &sms));
    MAKE(adopted, gpuexec_context_from_native(gpuexec_context_native(one)));
    QUERY(gpuexec_context_get_sms(adopted, &sms));
    CLEAN(gpuexec_context_close(adopted));
    DO(gpuexec_device_split(0, sizes, 2, &fine, parts, &rest));
    MAKE(s, gpuexec_stream_create(parts[0], NULL));
    GET(p, gpuexec_alloc(parts[1], 64));
    WORK(gpuexec_fill(s, p, 0, 1, 64));
    WAIT(gpuexec_stream_sync(s));
    WAIT(gpuexec_context_sync(parts[0]));
    CLEAN(gpuexec_free(p));
    CLEAN(gpuexec_context_close(rest));
    CLEAN(gpuexec_context_close(parts[0]));
    CLEAN(gpuexec_context_close(parts[1]));
    CLEAN(gpuexec_context_close(one));
}

FLOW(module) {
    /* the header of a cubin for the CPU device, which refuses it */
    static const unsigned char cubin[64] = { 0x7F, 'E', 'L', 'F', 2, 1, 1, 0x33,
        7, [18] = 190, [48] = 90 };
    const gpuexec_image images[2] = { { cubin, sizeof cubin, "cubin" }, { fault_ptx, 0, NULL } };
    gpuexec_module_desc desc;
    gpuexec_context ctx;
    gpuexec_module mod, file, best, adopted;
    gpuexec_kernel add, bump, same;
    gpuexec_kernel_info info;
    gpuexec_ptr p;
    size_t bytes = 0;
    uint32_t value = 7;
    int n;
    const char *name;
    memset(&desc, 0, sizeof desc);
    desc.verbose = 1;
    desc.threads_per_block = 128;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, &desc));
    MAKE(file, gpuexec_module_load_file(ctx, "tests/support/unit.ptx", NULL));
    MAKE(best, gpuexec_module_load_best(ctx, images, 2, NULL));
    MAKE(adopted, gpuexec_module_from_native(ctx, gpuexec_module_native(mod)));
    READ(name, gpuexec_module_log(mod), name != NULL);
    READ(n, gpuexec_module_kernel_count(mod),
            n > 0 || fault.fired || gpuexec_driver_version() < 12040);
    READ(name, gpuexec_module_kernel_name(mod, 0),
            name != NULL || fault.fired || gpuexec_driver_version() < 12040);
    READ(n, gpuexec_module_kernel_count(adopted),
            n > 0 || fault.fired || gpuexec_driver_version() < 12040);
    READ(name, gpuexec_module_kernel_name(adopted, 0),
            name != NULL || fault.fired || gpuexec_driver_version() < 12040);
    GET(p, gpuexec_module_global_address(file, "counter", &bytes));
    WORK(gpuexec_module_write_global(file, "counter", &value, sizeof value));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    MAKE(bump, gpuexec_kernel_get(file, "bump"));
    MAKE(same, gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(bump)));
    WORK(gpuexec_launch(same, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    value = 0;
    WORK(gpuexec_module_read_global(file, "counter", &value, sizeof value));
    EQUAL(value, 7 + 9);
    QUERY(gpuexec_kernel_get_info(add, &info));
    if (!fault.fired) CHECK_EQ(info.parameters, 3);
    DO(gpuexec_kernel_set_carveout(add, 25));
    DO(gpuexec_kernel_set_attribute(add, 9, 50));
    QUERY(gpuexec_kernel_get_attribute(add, 9, &n));
    READ(n, gpuexec_kernel_occupancy_flags(add, 64, 0, 1), n > 0);
    READ(n, gpuexec_kernel_best_block_flags(add, 0, 1, &n), n > 0);
    READ(n, gpuexec_multi_cooperative_blocks(&add, 1, 64, 0), n >= 0);
    if (gpuexec_driver_version() >= 11080) {
        READ(n, gpuexec_kernel_largest_cluster(add, gpuexec_grid(2, 64, 0), NULL), n >= 0);
        READ(n, gpuexec_kernel_resident_clusters(add, gpuexec_grid(2, 64, 0), NULL), n >= 0);
    }
    DO(gpuexec_kernel_set_cache(add, GPUEXEC_CACHE_PREFER_L1));
    READ(n, gpuexec_kernel_occupancy(add, 64, 0), n > 0);
    READ(n, gpuexec_kernel_best_block(add, 0, &n), n > 0);
    READ(n, gpuexec_kernel_cooperative_blocks(add, 64, 0), n >= 0);
    CLEAN(gpuexec_module_unload(adopted));
    CLEAN(gpuexec_module_unload(mod));
    CLEAN(gpuexec_module_unload(file));
    CLEAN(gpuexec_context_close(ctx));
}

FLOW(library) {
    gpuexec_context ctx, other;
    gpuexec_library library, file, adopted;
    gpuexec_library_info info;
    gpuexec_module mod, second, of_file, of_adopted;
    gpuexec_kernel bump, same;
    gpuexec_stream s;
    uint32_t value = 0;
    int n;
    const char *name;
    MAKE(library, gpuexec_library_load(fault_ptx, 0, NULL));
    MAKE(file, gpuexec_library_load_file("tests/support/unit.ptx", NULL));
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(other, gpuexec_context_create(0, NULL));
    MAKE(mod, gpuexec_library_module(library, ctx));
    MAKE(second, gpuexec_library_module(library, other));
    MAKE(of_file, gpuexec_library_module(file, ctx));
    QUERY(gpuexec_library_get_info(library, &info));
    if (fault_whole()) CHECK_EQ(info.modules, 2);
    READ(name, gpuexec_library_kernel_name(library, 0), name != NULL || fault.fired);
    MAKE(bump, gpuexec_kernel_get(mod, "bump"));
    (void)of_file;
    READ(n, gpuexec_loads_lazily(), n >= 0);
    READ(n, gpuexec_kernel_is_loaded(bump), n >= 0);
    DO(gpuexec_kernel_load(bump));
    MAKE(same, gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(bump)));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    WORK(gpuexec_launch(same, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    WAIT(gpuexec_stream_sync(s));
    WORK(gpuexec_module_read_global(mod, "counter", &value, sizeof value));
    EQUAL(value, 49);
    WORK(gpuexec_module_read_global(second, "counter", &value, sizeof value));
    EQUAL(value, 40);
    if (gpuexec_library_native(library)) {
        MAKE(adopted, gpuexec_library_from_native(gpuexec_library_native(library)));
        MAKE(of_adopted, gpuexec_library_module(adopted, ctx));
        (void)of_adopted;
        CLEAN(gpuexec_library_unload(adopted));
    }
    CLEAN(gpuexec_context_close(other));
    CLEAN(gpuexec_library_unload(library));
    CLEAN(gpuexec_context_close(ctx));
}

static const char fault_nested[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".extern .func (.param .b64 p) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align "
        "4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
        ".extern .func (.param .b32 e) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
        ".visible .global .u32 ran;\n"
        ".visible .entry child() { .reg .u32 %r; atom.global.add.u32 %r, [ran], 1; ret; }\n"
        ".visible .entry parent() {\n"
        "    .reg .b64 %f, %b; .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 "
        "b[12]; .param .b32 s;\n"
        "    .param .b64 p; .param .b64 q; .param .b64 t; .param .b32 e; mov.u64 %f, child; "
        "st.param.b64 [f], %f;\n"
        "    st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [s], "
        "0;\n"
        "    st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"
        "    call (p), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %b, [p];\n"
        "    st.param.b64 [q], %b; st.param.b64 [t], 0; call (e), __cudaCDP2LaunchDeviceV2, (q, "
        "t); ret; }\n";
static char fault_devrt[256]; /* a libcudadevrt.a for the CPU device */
/* 0: this machine has none. */
static int fault_devrt_begin(void) {
    static const char archive[] = "!<arch>\n//                                              23     "
                                  "   `\ncuda_device_runtime.o/\n";
    FILE *file;
    if (!on_cpu_device()) return access("/usr/local/cuda/lib64/libcudadevrt.a", R_OK) == 0;
    snprintf(fault_devrt, sizeof fault_devrt, "%s/gpuexec-fault-%ld.a",
            getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    if ((file = fopen(fault_devrt, "wb")) == NULL) abort();
    fwrite(archive, 1, sizeof archive - 1, file);
    fclose(file);
    setenv("GPUEXEC_CUDADEVRT", fault_devrt, 1);
    return 1;
}
static void fault_devrt_end(void) {
    if (fault_devrt[0]) unlink(fault_devrt);
}

/* With the library of play_nvrtc.c, which run.sh builds. A failed allocation may cost what the
   module can do without: the kernels' names, their parameters, the log, and no more than one of
   these. */
FLOW(compile) {
    const char *const names[] = { "no<th>ing" }; /* played NVRTC calls it nothing */
    gpuexec_compile_desc desc;
    gpuexec_context ctx;
    gpuexec_module mod, nested;
    gpuexec_kernel kernel, add;
    const int devrt = on_cpu_device() && fault_devrt_begin(); /* a GPU links no played cubin */
    unsigned ran = 0;
    memset(&desc, 0, sizeof desc);
    desc.expressions = names, desc.expression_count = 1;
    desc.no_cache = 1;
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC, 1);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(mod, gpuexec_module_compile(ctx, fault_ptx, "unit.cu", &desc));
    MAKE(kernel, gpuexec_kernel_get(mod, "no<th>ing"));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    if (fault_whole())
        CHECK((gpuexec_module_kernel_count(mod) < 0) + !gpuexec_module_log(mod)[0] +
                        !gpuexec_kernel_parameter_size(add, 0) <=
                fault.fired);
    WORK(gpuexec_launch(
            kernel, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    if (devrt) {
        desc.expression_count = 0;
        MAKE(nested, gpuexec_module_compile(ctx, fault_nested, "nested.cu", &desc));
        MAKE(kernel, gpuexec_kernel_get(nested, "parent"));
        WORK(gpuexec_launch(
                kernel, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
        WORK(gpuexec_module_read_global(nested, "ran", &ran, sizeof ran));
        EQUAL(ran, 1);
    }
    WAIT(gpuexec_context_sync(ctx));
    CLEAN(gpuexec_module_unload(mod));
    CLEAN(gpuexec_context_close(ctx));
    fault_devrt_end();
}

/* With the library of tests/support/play_nvjitlink.c, which run.sh builds: its cubin is refused,
   then loaded. */
static const char fault_lto[] = "\xED\x43\x4E\x7F.visible .entry nothing() { ret; }\n";
static void fault_nvjitlink(void) {
    gpuexec_context ctx;
    gpuexec_linker linker;
    gpuexec_module mod;
    gpuexec_kernel kernel;
    const char *log;
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK, 1);
    setenv("PLAY_NVJITLINK_LOG", "a warning\n", 1);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(linker, gpuexec_linker_create(ctx, NULL));
    DO(gpuexec_linker_add(linker, GPUEXEC_INPUT_LTO, fault_lto, sizeof fault_lto - 1, "lto"));
    DO(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_PTX, "kernels/link_curve.ptx"));
    MAKE(mod, gpuexec_linker_load(linker));
    MAKE(kernel, gpuexec_kernel_get(mod, "nothing"));
    READ(log, gpuexec_linker_log(linker), log != NULL);
    (void)kernel;
    CLEAN(gpuexec_context_close(ctx));
}
FLOW(nvjitlink) {
    if (!on_cpu_device()) return; /* a GPU's driver may accept such a cubin */
    fault_nvjitlink();
}
FLOW(nvjitlink_on_gpu) {
    setenv("PLAY_NVJITLINK_CUBIN", "text", 1);
    fault_nvjitlink();
    unsetenv("PLAY_NVJITLINK_CUBIN");
}

static char fault_folder[64]; /* a cache: empty from `begin` on, and removed at the end */
static void fault_cache(int begin) {
    if (begin && !fault_folder[0] && !mkdtemp(strcpy(fault_folder, "/tmp/gpuexec-fault-XXXXXX")))
        abort();
    setenv("GPUEXEC_CACHE", fault_folder, 1);
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC, 1);
    fault.off = 1;
    gpuexec_cache_clear();
    fault.off = 0;
    if (begin) return;
    CHECK(rmdir(fault_folder) == 0); /* nothing is left */
    fault_folder[0] = 0;
}
FLOW(cache) {
    gpuexec_linker_desc desc;
    gpuexec_context ctx;
    gpuexec_linker linker;
    gpuexec_module mod;
    gpuexec_kernel kernel;
    gpuexec_cache_info info;
    int round;
    fault_cache(1);
    memset(&desc, 0, sizeof desc);
    desc.cache = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    for (round = 0; round < 2; round++) {
        MAKE(linker, gpuexec_linker_create(ctx, &desc));
        DO(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/link_main.ptx"));
        DO(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/link_curve.ptx"));
        MAKE(mod, gpuexec_linker_load(linker));
        if (!fault.fired) CHECK_EQ(gpuexec_module_is_cached(mod), round);
        MAKE(kernel, gpuexec_kernel_get(mod, "draw"));
        CLEAN(gpuexec_linker_destroy(linker));
        CLEAN(gpuexec_module_unload(mod));
        MAKE(mod, gpuexec_module_compile(ctx, fault_ptx, "unit.cu", NULL));
        MAKE(kernel, gpuexec_kernel_get(mod, "add"));
        CLEAN(gpuexec_module_unload(mod));
        (void)kernel;
    }
    QUERY(gpuexec_cache_get_info(&info));
    if (!fault.fired) CHECK(info.hits == 2 && info.misses == 2 && info.entries == 2);
    CLEAN(gpuexec_cache_clear());
    CLEAN(gpuexec_context_close(ctx));
    fault_cache(0);
}

/* Each operation on a file fails once, and then this and all later ones: no call fails, and the
   code is right. */
static int fault_of_files(int at, int all) {
    gpuexec_linker_desc desc;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int round, reached;
    fault_cache(1);
    memset(&desc, 0, sizeof desc);
    desc.cache = 1;
    fault_files.at = at;
    fault_files.all = all;
    fault_files.count = 0;
    for (round = 0; round < 3; round++) {
        gpuexec_linker linker = gpuexec_linker_create(ctx, &desc);
        gpuexec_module mod;
        CHECK_OK(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, fault_ptx, 0, NULL));
        mod = gpuexec_linker_load(linker);
        CHECK_MADE(gpuexec_kernel_get(mod, "add"));
        if (!at) CHECK_EQ(gpuexec_module_is_cached(mod), round > 0);
        mod = gpuexec_module_compile(ctx, fault_ptx, "unit.cu", NULL);
        CHECK_MADE(gpuexec_kernel_get(mod, "add"));
        if (!at) CHECK_EQ(gpuexec_module_is_cached(mod), round > 0);
    }
    reached = fault_files.count >= at;
    fault_files.at = 0;
    gpuexec_shutdown();
    return reached;
}
TEST_ALONE(files) {
    const char *driver = getenv("GPUEXEC_DRIVER");
    const int stride = driver && strstr(driver, "libsimgpu") ? 1 : 5;
    int at, all, n = 0;
    gpuexec_cache_info info;
    fault_read("tests/support/unit.ptx", fault_ptx, sizeof fault_ptx);
    fault_of_files(0, 0);
    for (all = 0; all < 2; all++)
        for (at = 1; fault_of_files(at, all); at += stride) {
            n++;
            fault_of_files(0, 0); /* the entries left are complete */
            fault_cache(1);
            CHECK_OK(gpuexec_cache_get_info(&info));
            CHECK_EQ(info.damaged, 0);
        }
    CHECK(n > 40 / stride);
    fault_cache(0);
    tally->flows++;
}

/* Links that find a library: nvJitLink, libcudadevrt.a. */
FLOW(cached_links) {
    gpuexec_linker_desc desc;
    gpuexec_context ctx;
    gpuexec_linker linker;
    gpuexec_module mod;
    gpuexec_kernel kernel;
    gpuexec_cache_info info;
    unsigned ran = 0;
    int round;
    if (!on_cpu_device()) return; /* a GPU does not load what played libraries make */
    fault_devrt_begin();
    fault_cache(1);
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK, 1);
    memset(&desc, 0, sizeof desc);
    desc.cache = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    for (round = 0; round < 2; round++) {
        MAKE(linker, gpuexec_linker_create(ctx, &desc));
        DO(gpuexec_linker_add(linker, GPUEXEC_INPUT_LTO, fault_lto, sizeof fault_lto - 1, "lto"));
        MAKE(mod, gpuexec_linker_load(linker));
        if (!fault.fired) CHECK_EQ(gpuexec_module_is_cached(mod), round);
        MAKE(kernel, gpuexec_kernel_get(mod, "nothing"));
        CLEAN(gpuexec_linker_destroy(linker));
        MAKE(mod, gpuexec_module_compile(ctx, fault_nested, "nested.cu", NULL));
        if (!fault.fired) CHECK_EQ(gpuexec_module_is_cached(mod), round);
        MAKE(kernel, gpuexec_kernel_get(mod, "parent"));
        WORK(gpuexec_launch(
                kernel, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
        WORK(gpuexec_module_read_global(mod, "ran", &ran, sizeof ran));
        EQUAL(ran, 1);
    }
    QUERY(gpuexec_cache_get_info(&info));
    if (!fault.fired) CHECK(info.hits == 3 && info.misses == 3 && info.entries == 3);
    CLEAN(gpuexec_cache_clear());
    CLEAN(gpuexec_context_close(ctx));
    fault_cache(0);
    fault_devrt_end();
}
FLOW(linker) {
    gpuexec_module_desc desc;
    gpuexec_context ctx;
    gpuexec_linker linker;
    gpuexec_module mod, again;
    gpuexec_kernel draw;
    const void *image = NULL;
    const char *name;
    char path[256];
    size_t bytes = 0;
    double ms;
    memset(&desc, 0, sizeof desc);
    desc.verbose = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(linker, gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = &desc }));
    DO(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, fault_ptx, 0, NULL));
    DO(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/link_main.ptx"));
    DO(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_PTX, "kernels/link_curve.ptx"));
    MAKE(mod, gpuexec_linker_load(linker));
    DO(gpuexec_linker_image(linker, &image, &bytes));
    snprintf(path, sizeof path, "%s/gpuexec-fault-%ld",
            getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    DO(gpuexec_linker_save(linker, path));
    unlink(path);
    READ(name, gpuexec_linker_log(linker), name != NULL);
    READ(ms, gpuexec_linker_ms(linker), ms >= 0);
    if (fault_whole()) MAKE(again, gpuexec_module_load(ctx, image, bytes, NULL));
    MAKE(draw, gpuexec_kernel_get(mod, "draw"));
    if (!fault.fired) CHECK_EQ(gpuexec_kernel_parameter_size(draw, 0), 8);
    CLEAN(gpuexec_linker_destroy(linker));
    CLEAN(gpuexec_module_unload(mod));
    MAKE(linker, gpuexec_linker_create(ctx, NULL)); /* closing destroys it */
    DO(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, fault_ptx, 0, NULL));
    CLEAN(gpuexec_context_close(ctx));
    (void)again;
}

/* Needs memory only. */
FLOW(timeline_page) {
    static const char *const ends[] = { "json", "html", "svg" };
    char paths[3][256];
    FILE *file;
    int i;
    for (i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/gpuexec-fault-%ld.%s",
                getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid(), ends[i]);
    file = fopen(paths[0], "w");
    if (!CHECK(file != NULL)) return;
    fputs("[\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1000,\"args\":{\"name\":\"stream\"}},"
          "\n"
          "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"add\",\"pid\":1000,\"ts\":1,\"dur\":2,"
          "\"args\":{\"grid\":\"1x1x1\",\"at\":\"a.c:1\"}},\n"
          "{\"ph\":\"s\",\"name\":\"waits for\",\"cat\":\"order\",\"id\":2,\"ts\":2},\n"
          "{\"ph\":\"f\",\"name\":\"waits for\",\"cat\":\"order\",\"id\":2,\"ts\":3},\n"
          "{\"ph\":\"M\",\"name\":\"gpuexec\",\"args\":{\"notes\":[]}}\n]\n",
            file);
    CHECK_EQ(fclose(file), 0);
    QUERY(gpuexec_timeline_page(paths[0], paths[1]));
    QUERY(gpuexec_timeline_page(paths[0], paths[2]));
    for (i = 0; i < 3; i++) {
        if (i && fault_whole()) CHECK_EQ(access(paths[i], R_OK), 0);
        unlink(paths[i]);
    }
}

/* Links a kernel that launches a kernel. The CPU device needs no library, so any archive is one. */
FLOW(nested) {
    gpuexec_context ctx;
    gpuexec_linker linker;
    gpuexec_module mod;
    gpuexec_kernel parent;
    unsigned ran = 0;
    if (!fault_devrt_begin()) return;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(linker, gpuexec_linker_create(ctx, NULL));
    DO(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, fault_nested, 0, "nested"));
    MAKE(mod, gpuexec_linker_load(linker));
    fault_devrt_end();
    MAKE(parent, gpuexec_kernel_get(mod, "parent"));
    WORK(gpuexec_launch(
            parent, gpuexec_stream_legacy(ctx), gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    WORK(gpuexec_module_read_global(mod, "ran", &ran, sizeof ran));
    EQUAL(ran, 1);
    CLEAN(gpuexec_linker_destroy(linker));
    CLEAN(gpuexec_context_close(ctx));
}

FLOW(memory) {
    static uint32_t host[N], registered[N];
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_ptr a, b, rows, address;
    gpuexec_pointer_info info;
    gpuexec_copy_info copy;
    uint32_t *pinned;
    size_t pitch = 256;
    memset(host, 0, sizeof host);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    GET(a, gpuexec_alloc(ctx, sizeof host));
    GET(b, gpuexec_alloc(ctx, sizeof host));
    GET(rows, gpuexec_alloc_pitched(ctx, 16, 4, 4, &pitch));
    GET(pinned, gpuexec_alloc_pinned(ctx, sizeof host));
    DO(gpuexec_register_with(ctx, registered, sizeof registered, NULL));
    QUERY(gpuexec_label_memory(a, "memory"));
    QUERY(gpuexec_label_memory((uintptr_t)registered, "registered"));
    GET(address, gpuexec_pinned_address(pinned));
    GET(address, gpuexec_pinned_address(registered));
    WORK(gpuexec_fill(s, a, 1, 1, sizeof host));
    WORK(gpuexec_fill(s, a, 0x0202, 2, 2));
    WORK(gpuexec_fill(s, a + 4, 0x03030303, 4, 1));
    WORK(gpuexec_copy(s, b, a, sizeof host));
    WORK(gpuexec_copy_out(s, registered, b, sizeof registered));
    WORK(gpuexec_copy_in(s, b + 8, registered, 4));
    WORK(gpuexec_copy_with(s, ROWS(ON_DEVICE(rows, pitch), OF_VALUE(9, 1), 16, 4)));
    WORK(gpuexec_copy_with(s, ROWS(ON_DEVICE(rows, pitch), ON_HOST(registered, 8), 8, 2)));
    WORK(gpuexec_copy_with(
            s, ROWS(ON_DEVICE(rows + 2 * pitch, pitch), ON_DEVICE(rows, pitch), 8, 2)));
    WORK(gpuexec_copy_with(s, ROWS(ON_HOST(registered, 16), ON_DEVICE(rows, pitch), 16, 4)));
    WAIT(gpuexec_stream_sync(s));
    WORK(gpuexec_copy_out_now(ctx, host, b, sizeof host));
    EQUAL(host[0], 0x02020202);
    EQUAL(host[1], 0x03030303);
    EQUAL(host[2], 0x02020202);
    EQUAL(host[3], 0x01010101);
    EQUAL(registered[9], 0x02020202 + 0x01010101);
    WORK(gpuexec_copy_in_now(ctx, a, host, sizeof host));
    WORK(gpuexec_copy_now(ctx, b, a, sizeof host));
    WORK(gpuexec_fill_now(ctx, a, 0, 1, sizeof host));
    QUERY(gpuexec_pointer_get_info(b + 4, &info));
    EQUAL(info.base, b);
    QUERY(gpuexec_pointer_get_info((uintptr_t)pinned, &info));
    QUERY(gpuexec_pointer_get_info((uintptr_t)host, &info));
    QUERY(gpuexec_copy_explain(s, a, (uintptr_t)pinned, sizeof host, &copy));
    EQUAL(copy.asynchronous, 1);
    CLEAN(gpuexec_unregister(registered));
    CLEAN(gpuexec_free_pinned(pinned));
    CLEAN(gpuexec_free(rows));
    CLEAN(gpuexec_free(b));
    CLEAN(gpuexec_free(a));
    CLEAN(gpuexec_stream_destroy(s));
    CLEAN(gpuexec_context_close(ctx));
    if (fault.fired && fault.seen == 0) gpuexec_unregister(registered);
}

/* Boxes, rows of words and arrays of copies, each with a stream and without. */
FLOW(copies) {
    static uint32_t host[64], got[64];
    gpuexec_context ctx;
    gpuexec_stream s, legacy;
    gpuexec_ptr a, b, c = 0;
    gpuexec_pinned_desc combined = { 0, 1, 0, 0, 0 };
    gpuexec_copy_desc box;
    gpuexec_copy_part parts[5];
    uint32_t *pinned;
    unsigned i;
    for (i = 0; i < 64; i++) host[i] = i;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    GET(a, gpuexec_alloc(ctx, 256));
    GET(b, gpuexec_alloc(ctx, 256));
    GET(pinned, gpuexec_alloc_pinned_with(ctx, 256, &combined));
    memset(&box, 0, sizeof box);
    box.to.device = a;
    box.to.pitch = 16;
    box.to.slice_height = 4;
    box.to.y = 1;
    box.from.host = host;
    box.width_bytes = 8;
    box.height = 2;
    box.depth = 2;
    WORK(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 128), OF_VALUE(0x0101, 2), 2 * 64, 2)));
    WORK(gpuexec_copy_with(s, ROWS(ON_DEVICE(b, 128), OF_VALUE(0x02020202, 4), 4 * 32, 2)));
    WORK(gpuexec_copy_with(s, &box));
    WAIT(gpuexec_stream_sync(s));
    memset(parts, 0, sizeof parts);
    parts[0].to = b;
    parts[0].from = a + 16;
    parts[1].to = b + 64;
    parts[1].from = a + 80;
    parts[2].to = b + 128;
    parts[2].from_host = pinned;
    parts[3].to_host = pinned + 8;
    parts[3].from = a;
    parts[4].to = b + 192;
    parts[4].from_host = host;
    for (i = 0; i < 5; i++) parts[i].bytes = 8;
    if (pinned) memset(pinned, 3, 8);
    WORK(gpuexec_copy_many(s, parts, 5));
    WAIT(gpuexec_stream_sync(s));
    WORK(gpuexec_copy_out_now(ctx, got, b, 256));
    EQUAL(got[0], 0);
    EQUAL(got[1], 1);
    EQUAL(got[16], 4);
    EQUAL(got[31], 0x02020202);
    EQUAL(got[32], 0x03030303);
    EQUAL(got[49], 1);
    MAKE(legacy, gpuexec_stream_legacy(ctx));
    WORK(gpuexec_copy_many(legacy, parts, 5));
    WORK(gpuexec_copy_with(legacy, ROWS(ON_DEVICE(a, 16), OF_VALUE(1, 1), 4, 2)));
    WORK(gpuexec_copy_with(legacy, &box));
    WAIT(gpuexec_stream_sync(legacy));
    WORK(gpuexec_fill_now(ctx, a, 1, 2, 4));
    WORK(gpuexec_fill_now(ctx, a, 1, 4, 4));
    WORK(gpuexec_copy_with(s, ROWS(ON_DEVICE(a, 16), ON_HOST(host, 8), 8, 2)));
    WORK(gpuexec_copy_with(s, ROWS(ON_DEVICE(b, 16), ON_DEVICE(a, 16), 8, 2)));
    WORK(gpuexec_copy_with(s, ROWS(ON_HOST(got, 8), ON_DEVICE(b, 16), 8, 2)));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[2], 2);
    WORK(gpuexec_copy_peer_now(ctx, b, ctx, a, ctx, 16));
    box.from.host = NULL;
    box.from.device = b;
    box.to.context = box.from.context = ctx;
    WORK(gpuexec_copy_with(s, &box));
    GET(c, gpuexec_alloc(ctx, 4));
    CLEAN(gpuexec_free(c));
    CLEAN(gpuexec_context_close(ctx));
}

/* Arrays, textures and surfaces: their copies, kernels that use them, references, graphs. */
#define NODE(node, call) VALUE(GXI_MAKES, #call, node, call, gpuexec_ok(node.graph))
static const char fault_texture_ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".global .texref t; .global .surfref u;\n"
        ".visible .entry sample(.param .u64 object, .param .u64 out) {\n"
        "    .reg .u32 %r<6>; .reg .u64 %d<3>; ld.param.u64 %d1, [object];\n"
        "    ld.param.u64 %d2, [out]; mov.u32 %r1, 3;\n"
        "    tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1, %r1}];\n"
        "    st.global.u32 [%d2], %r2; ret;\n}\n"
        ".visible .entry paint(.param .u64 object) {\n"
        "    .reg .u32 %r<3>; .reg .u64 %d; ld.param.u64 %d, [object]; mov.u32 %r1, 12;\n"
        "    mov.u32 %r2, 3; sust.b.2d.b32.trap [%d, {%r1, %r2}], {%r2}; ret;\n}\n";
FLOW(textures) {
    gpuexec_array_desc desc = { 0, GPUEXEC_FORMAT_U32, 0, 8, 8, 0, 0, 0, 0, 1, 0, 0 };
    gpuexec_array_info info;
    gpuexec_texture_desc view, got_view;
    gpuexec_copy_desc box;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_module mod;
    gpuexec_kernel sample, paint;
    gpuexec_array a, levels, adopted;
    gpuexec_texture t, linear, mipmapped;
    gpuexec_surface u;
    gpuexec_graph graph;
    gpuexec_node n[2];
    gpuexec_ptr p;
    unsigned long long object = 0, painted = 0;
    struct CUarray_st *native = NULL;
    static uint32_t host[64];
    uint32_t got = 0;
    host[27] = 7;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_texture_ptx, 0, NULL));
    MAKE(sample, gpuexec_kernel_get(mod, "sample"));
    MAKE(paint, gpuexec_kernel_get(mod, "paint"));
    GET(p, gpuexec_alloc(ctx, 4096));
    MAKE(a, gpuexec_array_create(ctx, &desc));
    QUERY(gpuexec_array_get_info(a, 0, &info));
    EQUAL(info.row_bytes, 32);
    desc.levels = GPUEXEC_ALL_LEVELS;
    MAKE(levels, gpuexec_array_create(ctx, &desc));
    READ(native, gpuexec_array_native(a, 0), native != NULL);
    MAKE(adopted, gpuexec_array_from_native(ctx, native));
    memset(&box, 0, sizeof box);
    box.to.array = a;
    box.from.host = host;
    box.width_bytes = 32;
    box.height = 8;
    WORK(gpuexec_copy_with(s, &box));
    memset(&view, 0, sizeof view);
    view.array = a;
    MAKE(t, gpuexec_texture_create(ctx, &view));
    QUERY(gpuexec_texture_get_desc(t, &got_view));
    view.array = levels;
    view.normalized = 1;
    MAKE(mipmapped, gpuexec_texture_create(ctx, &view));
    memset(&view, 0, sizeof view);
    view.memory = p;
    view.format = GPUEXEC_FORMAT_U32;
    view.width = 64;
    MAKE(linear, gpuexec_texture_create(ctx, &view));
    MAKE(u, gpuexec_surface_create(a, 0));
    READ(object, gpuexec_texture_object(t), object != 0);
    READ(painted, gpuexec_surface_object(u), painted != 0);
    if (object) /* without an object, the kernel would end CUDA */
        WORK(gpuexec_launch(sample, s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(object, p)));
    WORK(gpuexec_copy_out(s, &got, p, sizeof got));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got, 7);
    if (painted) WORK(gpuexec_launch(paint, s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(painted)));
    WORK(gpuexec_texture_bind(t, mod, "t"));
    WORK(gpuexec_texture_bind(mipmapped, mod, "t"));
    WORK(gpuexec_texture_bind(linear, mod, "t"));
    WORK(gpuexec_surface_bind(u, mod, "u"));
    MAKE(graph, gpuexec_graph_create(ctx));
    DO(gpuexec_graph_retain(graph));
    NODE(n[0],
            gpuexec_graph_add_kernel(
                    graph, sample, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(object, p), GPUEXEC_FIRST));
    NODE(n[1],
            gpuexec_graph_add_kernel(graph, paint, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(painted),
                    GPUEXEC_AFTER(n[0])));
    if (object && painted) WORK(gpuexec_graph_launch(graph, s));
    WAIT(gpuexec_stream_sync(s));
    CLEAN(gpuexec_texture_destroy(t));
    CLEAN(gpuexec_surface_destroy(u));
    CLEAN(gpuexec_array_destroy(adopted));
    CLEAN(gpuexec_array_destroy(a));
    CLEAN(gpuexec_texture_destroy(linear));
    CLEAN(gpuexec_array_destroy(levels)); /* the texture has it */
    CLEAN(gpuexec_texture_destroy(mipmapped));
    CLEAN(gpuexec_graph_destroy(graph));
    CLEAN(gpuexec_context_close(ctx));
}

FLOW(tensor_maps) {
    gpuexec_context ctx;
    gpuexec_ptr p;
    gpuexec_tensor_map_desc tiles, pixels;
    gpuexec_tensor_map map;
    gpuexec_device_info info;
    memset(&info, 0, sizeof info);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    GET(p, gpuexec_alloc(ctx, 8192));
    memset(&tiles, 0, sizeof tiles);
    tiles.address = p;
    tiles.rank = 3;
    tiles.dims[0] = tiles.dims[1] = 16;
    tiles.dims[2] = 4;
    pixels = tiles;
    tiles.box[0] = 16;
    tiles.box[1] = tiles.box[2] = 1;
    pixels.channels = pixels.pixels = 16;
    QUERY(gpuexec_device_get_info(0, &info));
    if (info.compute_capability >= 90 && gpuexec_driver_version() >= 12000) {
        DO(gpuexec_tensor_map_encode(ctx, &pixels, &map));
        DO(gpuexec_tensor_map_encode(ctx, &tiles, &map));
        DO(gpuexec_tensor_map_replace_address(ctx, &map, p));
    }
    CLEAN(gpuexec_free(p));
    CLEAN(gpuexec_context_close(ctx));
}

#define TAKE(v, call) VALUE(GXI_WORKS, #call, v, call, v != 0)
FLOW(pool) {
    gpuexec_context ctx, made, adopted;
    gpuexec_stream s, t, legacy;
    gpuexec_ptr a, b, c, left;
    uint32_t got[2] = { 0, 0 };
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(made, gpuexec_context_create(0, NULL));
    MAKE(adopted, gpuexec_context_from_native(gpuexec_context_native(made)));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(t, gpuexec_stream_create(adopted, NULL));
    TAKE(a, gpuexec_alloc_on(s, 64));
    QUERY(gpuexec_label_memory(a, "a block"));
    MAKE(legacy, gpuexec_stream_legacy(ctx));
    TAKE(b, gpuexec_alloc_on(legacy, 64));
    TAKE(left, gpuexec_alloc_on(t, 64)); /* freed with its context */
    WORK(gpuexec_fill(s, a, 1, 1, 64));
    WORK(gpuexec_copy_out(s, got, a, 4));
    WAIT(gpuexec_stream_sync(s));
    CLEAN(gpuexec_free_on(s, a));
    TAKE(c, gpuexec_alloc_on(s, 64));
    WORK(gpuexec_fill(s, c, 2, 1, 64));
    WORK(gpuexec_copy_out(s, got + 1, c, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[0], 0x01010101);
    EQUAL(got[1], 0x02020202);
    CLEAN(gpuexec_free(c));
    CLEAN(gpuexec_free_on(legacy, b));
    PUSH(gpuexec_context_push(ctx));
    TAKE(a, gpuexec_alloc_on(GPUEXEC_CURRENT, 64));
    POP(gpuexec_context_pop(ctx));
    CLEAN(gpuexec_free_on(GPUEXEC_CURRENT, a));
    CLEAN(gpuexec_context_close(adopted));
    CLEAN(gpuexec_context_close(made));
    CLEAN(gpuexec_context_close(ctx));
}

/* Another process, which exports what FLOW(ipc) imports, until this one ends. */
typedef struct fault_exports {
    gpuexec_ipc_object memory, event, piece;
} fault_exports;
__attribute__((constructor)) static void fault_exporter(void) {
    const char *text = getenv("FAULT_EXPORTER");
    gpuexec_event_desc event = { 0, 0, 0, 1, 0 };
    gpuexec_pool_desc desc;
    gpuexec_context ctx;
    fault_exports out;
    gpuexec_pool pool;
    gpuexec_ptr piece;
    int fd, wire;
    if (!text) return;
    wire = atoi(text);
    memset(&desc, 0, sizeof desc);
    desc.exportable = 1;
    ctx = gpuexec_context_open(0, NULL);
    pool = gpuexec_pool_create(ctx, &desc);
    piece = gpuexec_pool_alloc(pool, gpuexec_context_stream(ctx), 64);
    fd = gpuexec_ipc_export_pool(pool);
    if (gpuexec_ipc_export(gpuexec_alloc(ctx, 64), &out.memory) == GPUEXEC_OK &&
            gpuexec_ipc_export_event(gpuexec_event_create(ctx, &event), &out.event) == GPUEXEC_OK &&
            gpuexec_ipc_export(piece, &out.piece) == GPUEXEC_OK &&
            write(wire, &out, sizeof out) == (ssize_t)sizeof out) {
        union {
            struct cmsghdr header;
            char room[CMSG_SPACE(sizeof(int))];
        } control;
        struct iovec bytes = { &out, 1 };
        struct msghdr message;
        memset(&control, 0, sizeof control);
        memset(&message, 0, sizeof message);
        message.msg_iov = &bytes;
        message.msg_iovlen = 1;
        message.msg_control = &control;
        message.msg_controllen = control.header.cmsg_len = CMSG_LEN(sizeof fd);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        if (sendmsg(wire, &message, 0) == 1)
            while (read(wire, &fd, 1) > 0) {}
    } else fputs(gpuexec_error_text(), stderr);
    _exit(0);
}
static int fault_pool_fd = -1;
static fault_exports fault_given;
static void fault_start_exporter(void) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    struct iovec bytes;
    char number[16], one;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
    snprintf(number, sizeof number, "%d", ends[1]);
    if (fork() == 0) {
        close(ends[0]);
        setenv("FAULT_EXPORTER", number, 1);
        execl("/proc/self/exe", "exporter", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    memset(&message, 0, sizeof message);
    bytes.iov_base = &one;
    bytes.iov_len = 1;
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    CHECK(recv(ends[0], &fault_given, sizeof fault_given, MSG_WAITALL) ==
                    (ssize_t)sizeof fault_given &&
            recvmsg(ends[0], &message, 0) == 1 && message.msg_controllen > 0);
    memcpy(&fault_pool_fd, CMSG_DATA(&control.header), sizeof fault_pool_fd);
}
static void flow_ipc(void);
TEST_ALONE(ipc) {
    fault_start_exporter();
    if (fault_pool_fd >= 0) fault_flow(flow_ipc, PERMANENT, 1);
}
static void flow_ipc(void) {
    gpuexec_event_desc desc = { 0, 0, 0, 1, 0 };
    gpuexec_pool_desc own;
    gpuexec_ipc_object memory, object;
    gpuexec_ipc_info info;
    gpuexec_ipc_message m;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_event e, theirs;
    gpuexec_pool pool, mine;
    gpuexec_ipc near, far;
    gpuexec_ptr p, q, piece, left;
    uint32_t got = 0;
    int fd = -1, exported = -1;
    memset(&own, 0, sizeof own);
    memset(&memory, 0, sizeof memory);
    memset(&object, 0, sizeof object);
    own.exportable = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    GET(p, gpuexec_alloc(ctx, 64));
    MAKE(e, gpuexec_event_create(ctx, &desc));
    DO(gpuexec_ipc_export(p, &memory));
    DO(gpuexec_ipc_export_event(e, &object));
    MAKE(mine, gpuexec_pool_create(ctx, &own));
    TAKE(left, gpuexec_pool_alloc(mine, s, 64));
    VALUE(GXI_MAKES, "gpuexec_ipc_export_pool(mine)", exported, gpuexec_ipc_export_pool(mine),
            exported >= 0);
    if (exported >= 0) close(exported);
    DO(gpuexec_ipc_export(left, &object));
    GET(q, gpuexec_ipc_import(ctx, &fault_given.memory));
    MAKE(theirs, gpuexec_ipc_import_event(ctx, &fault_given.event));
    MAKE(pool, gpuexec_ipc_import_pool(ctx, fault_pool_fd));
    GET(piece, gpuexec_ipc_import_from(pool, &fault_given.piece));
    WORK(gpuexec_fill(s, q, 5, 4, 16));
    WORK(gpuexec_copy(s, piece, q, 64));
    WORK(gpuexec_event_record(theirs, s));
    WORK(gpuexec_copy_out(s, &got, piece, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got, 5);
    MAKE(near, gpuexec_ipc_pair(&fd));
    if (!gpuexec_ok(near)) fd = -1;
    MAKE(far, gpuexec_ipc_from_fd(fd));
    if (!gpuexec_ok(far) && fd >= 0) close(fd);
    if (fault_whole()) { /* without an end, a receive would wait */
        QUERY(gpuexec_ipc_send(near, "memory", 3, &memory, -1));
        QUERY(gpuexec_ipc_receive(far, &m, 1000));
        QUERY(gpuexec_ipc_get_info(&m.object, &info));
        EQUAL(info.bytes, 64);
        WAIT(gpuexec_ipc_wait(near, theirs, 1000));
    }
    CLEAN(gpuexec_ipc_close(near));
    CLEAN(gpuexec_ipc_close(far));
    CLEAN(gpuexec_event_destroy(theirs));
    CLEAN(gpuexec_free(piece));
    CLEAN(gpuexec_pool_destroy(pool));
    CLEAN(gpuexec_context_close(ctx)); /* it closes q */
}

static gpuexec_graph fault_retained(gpuexec_stream s, gpuexec_ptr p);
FLOW(virtual_ranges) {
    gpuexec_virtual_desc desc, ring;
    gpuexec_virtual_info info;
    gpuexec_virtual_piece piece;
    gpuexec_virtual range, mirrored, copy, left;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_ptr p;
    gpuexec_ipc_object object;
    gpuexec_ipc near, far;
    gpuexec_ipc_message m;
    gpuexec_graph g;
    uint32_t got[2] = { 0, 0 };
    int fd = -1, other = -1, can = 0;
    memset(&desc, 0, sizeof desc);
    memset(&ring, 0, sizeof ring);
    memset(&info, 0, sizeof info);
    memset(&object, 0, sizeof object);
    desc.max_bytes = 8 << 21;
    desc.bytes = 1;
    desc.piece_bytes = 1 << 21;
    desc.exportable = 1;
    ring.bytes = 1;
    ring.mirror = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(range, gpuexec_virtual_create(ctx, &desc));
    MAKE(mirrored, gpuexec_virtual_create(ctx, &ring));
    GET(p, gpuexec_virtual_address(range));
    DO(gpuexec_virtual_grow(range, 3 << 21));
    DO(gpuexec_virtual_grow_on(range, ctx, 4 << 21));
    WORK(gpuexec_fill(s, p, 1, 1, (size_t)4 << 21));
    WORK(gpuexec_copy_out(s, got, p + (4 << 21) - 4, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[0], 0x01010101);
    QUERY(gpuexec_virtual_get_info(range, &info));
    EQUAL(info.pieces, 4);
    QUERY(gpuexec_virtual_get_piece(range, 3, &piece));
    QUERY(gpuexec_virtual_peer_query(range, ctx, &can));
    CLEAN(gpuexec_virtual_shrink(range, 1 << 21));
    memset(&desc, 0, sizeof desc);
    desc.max_bytes = 8 << 21;
    MAKE(copy, gpuexec_virtual_create(ctx, &desc));
    VALUE(GXI_MAKES, "gpuexec_ipc_export_piece(range, 0, &object)", fd,
            gpuexec_ipc_export_piece(range, 0, &object), fd >= 0);
    DO(gpuexec_ipc_import_piece(copy, &object, fd));
    if (fd >= 0) close(fd);
    if (fault_whole()) { /* without an end, a receive would wait */
        MAKE(near, gpuexec_ipc_pair(&other));
        MAKE(far, gpuexec_ipc_from_fd(other));
        QUERY(gpuexec_ipc_send_piece(near, "piece", 3, range, 0, -1));
        QUERY(gpuexec_ipc_receive(far, &m, 1000));
        if (m.fd >= 0) close(m.fd);
        CLEAN(gpuexec_ipc_close(near));
        CLEAN(gpuexec_ipc_close(far));
    }
    MAKE(left, gpuexec_virtual_create(ctx, &desc)); /* it ends with the context */
    DO(gpuexec_virtual_grow(left, 1));
    VALUE(GXI_MAKES, "gpuexec_capture_end(s)", g, fault_retained(s, p), gpuexec_ok(g));
    CLEAN(gpuexec_virtual_destroy(range));
    CLEAN(gpuexec_virtual_destroy(mirrored));
    CLEAN(gpuexec_virtual_destroy(copy));
    CLEAN(gpuexec_graph_destroy(g));
    CLEAN(gpuexec_context_close(ctx));
}
FLOW(caching_pool) {
    gpuexec_pool_desc desc = { 0, 0, 0, 0, 0, 0, 0, GPUEXEC_POOL_ON_DEVICE, 0, 1024, 0 };
    gpuexec_context ctx;
    gpuexec_stream s, t;
    gpuexec_pool pool;
    gpuexec_ptr a, b, c;
    uint32_t got = 0;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(t, gpuexec_stream_create(ctx, NULL));
    MAKE(pool, gpuexec_pool_create(ctx, &desc));
    TAKE(a, gpuexec_pool_alloc(pool, s, 64));
    TAKE(b, gpuexec_pool_alloc(pool, s, 64));
    TAKE(c, gpuexec_pool_alloc(pool, t, 64));
    CLEAN(gpuexec_free_on(s, a));
    CLEAN(gpuexec_free_on(s, b));
    CLEAN(gpuexec_free_on(t, c)); /* frees a */
    TAKE(a, gpuexec_pool_alloc(pool, s, 100));
    WORK(gpuexec_fill(s, a, 1, 1, 100));
    WORK(gpuexec_copy_out(s, &got, a, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got, 0x01010101);
    CLEAN(gpuexec_free_on(s, a));
    CLEAN(gpuexec_stream_destroy(t));
    CLEAN(gpuexec_pool_trim(pool, 0));
    TAKE(a, gpuexec_pool_alloc(pool, s, 64));
    CLEAN(gpuexec_free_on(s, a));
    CLEAN(gpuexec_pool_destroy(pool));
    CLEAN(gpuexec_context_close(ctx));
}
FLOW(pools) {
    gpuexec_pool_desc desc = { 0, 0, 1, 1 << 16, 0, 0, 1, GPUEXEC_POOL_ON_DEVICE, 0, 0, 0 },
                      usual = { 0, 1, 0, 0, 0, 0, 0, GPUEXEC_POOL_ON_DEVICE, 0, 0, 0 },
                      hosts = { 0, 0, 0, 0, 0, 0, 0, GPUEXEC_POOL_ON_HOST_NUMA,
                          GPUEXEC_NUMA_CLOSEST, 0, 0 };
    gpuexec_pool_info info = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_pool pool, own, shared;
    gpuexec_ptr a, b;
    uint32_t got = 0;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(own, gpuexec_context_pool(ctx));
    MAKE(pool, gpuexec_pool_create(ctx, &desc));
    MAKE(shared, gpuexec_pool_create(ctx, &usual));
    TAKE(a, gpuexec_pool_alloc(pool, s, 64));
    TAKE(b, gpuexec_pool_alloc(shared, s, 64));
    WORK(gpuexec_fill(s, a, 1, 1, 64));
    WORK(gpuexec_copy(s, b, a, 64));
    WORK(gpuexec_copy_out(s, &got, b, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got, 0x01010101);
    DO(gpuexec_pool_set_threshold(own, 0));
    DO(gpuexec_pool_reset_high(pool));
    QUERY(gpuexec_pool_get_info(pool, &info));
    EQUAL(info.threshold, 1 << 16);
    CLEAN(gpuexec_free_on(s, a));
    CLEAN(gpuexec_free(b));
    CLEAN(gpuexec_pool_trim(pool, 0));
    CLEAN(gpuexec_pool_destroy(shared));
    CLEAN(gpuexec_pool_destroy(pool));
    MAKE(pool, gpuexec_pool_create(ctx, NULL));
    TAKE(a, gpuexec_pool_alloc(pool, s, 64)); /* both are freed with the context */
    if (gpuexec_driver_version() >= 12020) {
        MAKE(shared, gpuexec_pool_create(ctx, &hosts));
        TAKE(a, gpuexec_pool_alloc(shared, s, 64));
        WORK(gpuexec_fill(s, a, 1, 1, 64));
        CLEAN(gpuexec_free_on(s, a));
        TAKE(a, gpuexec_pool_alloc(shared, s, 64));
        CLEAN(gpuexec_free(a));
        CLEAN(gpuexec_pool_destroy(shared));
    }
    CLEAN(gpuexec_context_close(ctx));
}

FLOW(managed) {
    gpuexec_managed_info info = { 0, 0, 0, 0, { 0 } };
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_ptr a, b;
    uint32_t *host;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    GET(a, gpuexec_alloc_managed(ctx, 8192, NULL));
    GET(b, gpuexec_alloc_managed(ctx, 64, NULL)); /* freed with the context */
    GET(host, (uint32_t *)gpuexec_managed_host(a));
    if (host) *host = 5;
    WORK(gpuexec_managed_attach(s, a, GPUEXEC_ATTACH_ALL));
    WORK(gpuexec_managed_prefetch(s, a, 8192, 0));
    DO(gpuexec_managed_advise(a, 8192, GPUEXEC_PREFERRED, GPUEXEC_HOST));
    WORK(gpuexec_fill(s, a + 4, 1, 1, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(host[0], 5);
    EQUAL(host[1], 0x01010101);
    QUERY(gpuexec_managed_get_info(a, 8192, &info));
    EQUAL(info.preferred, GPUEXEC_HOST);
    CLEAN(gpuexec_free(a));
    CLEAN(gpuexec_context_close(ctx));
}

static void fault_called(void *user) { *(volatile int *)user = 1; }
FLOW(stream) {
    static volatile int called;
    gpuexec_stream_desc desc = { 0, 1, -1, 0 };
    gpuexec_context ctx, adopted;
    gpuexec_stream s, t, own, legacy, mine;
    gpuexec_event event;
    gpuexec_ptr word;
    gpuexec_stream_info info;
    gpuexec_stream_attributes hints = { 0 };
    int windows = 0;
    called = 0;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, &desc));
    MAKE(t, gpuexec_stream_create(ctx, NULL));
    MAKE(own, gpuexec_stream_from_native(ctx, gpuexec_stream_native(s)));
    MAKE(legacy, gpuexec_stream_legacy(ctx));
    MAKE(mine, gpuexec_stream_per_thread(ctx));
    QUERY(gpuexec_label(s, "a stream"));
    QUERY(gpuexec_label(mine, "a default stream"));
    QUERY(gpuexec_label(mine, NULL));
    WORK(gpuexec_stream_host_function(s, fault_called, (void *)(uintptr_t)&called));
    WORK(gpuexec_stream_wait_stream(t, s));
    MAKE(event, gpuexec_event_create(ctx, NULL));
    WORK(gpuexec_event_record(event, t));
    WORK(gpuexec_stream_wait_event(mine, event));
    GET(word, gpuexec_alloc(ctx, 8));
    if (gpuexec_driver_version() >= 11070) {
        WORK(gpuexec_stream_write_value32(t, word, 7));
        WORK(gpuexec_stream_wait_value32(t, word, 7, GPUEXEC_EQUAL));
        WORK(gpuexec_stream_write_value64(t, word, 1));
        WORK(gpuexec_stream_wait_value64(t, word, 1, GPUEXEC_GREATER_EQUAL));
    }
    WAIT(gpuexec_stream_sync(mine));
    EQUAL(called, 1);
    QUERY(gpuexec_stream_query(own));
    QUERY(gpuexec_stream_get_info(s, &info));
    EQUAL(info.non_blocking, 1);
    hints.wait_policy = GPUEXEC_WAIT_SPIN;
    QUERY(gpuexec_device_get_attribute(0, 109, &windows));
    hints.has_window = windows > 0;
    hints.window.address = word;
    hints.window.bytes = 8;
    DO(gpuexec_stream_set_attributes(s, &hints));
    QUERY(gpuexec_stream_get_attributes(s, &hints));
    EQUAL(hints.wait_policy, GPUEXEC_WAIT_SPIN);
    WAIT(gpuexec_stream_sync(legacy));
    CLEAN(gpuexec_event_destroy(event));
    CLEAN(gpuexec_stream_destroy(own));
    CLEAN(gpuexec_stream_destroy(t));
    CLEAN(gpuexec_stream_destroy(s));
    MAKE(adopted, gpuexec_context_from_native(gpuexec_context_native(ctx)));
    MAKE(mine, gpuexec_stream_per_thread(adopted));
    CLEAN(gpuexec_context_close(adopted));
    CLEAN(gpuexec_context_close(ctx));
}

static gpuexec_graph fault_capture(
        gpuexec_kernel add, gpuexec_stream s, gpuexec_ptr p, unsigned value) {
    uint32_t by = 1;
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s, &graph) {
        (void)gpuexec_fill(s, p, value, 4, N);
        (void)gpuexec_copy(s, p, p + N * 2, N * 2);
        (void)gpuexec_launch(add, s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p, by, by));
    }
    return graph;
}
FLOW(graph) {
    char text[1000];
    size_t length;
    uint32_t got[N];
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_module mod;
    gpuexec_kernel add;
    gpuexec_graph graph, other;
    gpuexec_graph_info info;
    gpuexec_ptr p, q;
    memset(got, 0, sizeof got);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    GET(p, gpuexec_alloc(ctx, sizeof got));
    GET(q, gpuexec_alloc(ctx, sizeof got));
    VALUE(GXI_MAKES, "gpuexec_capture_end(s)", graph, fault_capture(add, s, p, 7),
            gpuexec_ok(graph));
    VALUE(GXI_MAKES, "gpuexec_capture_end(s)", other, fault_capture(add, s, q, 9),
            gpuexec_ok(other));
    QUERY(gpuexec_graph_get_info(graph, &info));
    EQUAL(info.fills, 1);
    READ(length, gpuexec_graph_text(graph, text, sizeof text), length > 0);
    READ(length, gpuexec_graph_dot(graph, text, sizeof text), length > 0);
    WORK(gpuexec_graph_prepare(graph, s));
    WORK(gpuexec_graph_launch(graph, s));
    WORK(gpuexec_copy_out(s, got, p, sizeof got));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[N - 1], 7);
    if (gpuexec_driver_version() >= 12000) {
        DO(gpuexec_graph_update(graph, other));
        WORK(gpuexec_graph_launch(graph, s));
        WORK(gpuexec_copy_out(s, got, q, sizeof got));
        WAIT(gpuexec_stream_sync(s));
        EQUAL(got[N - 1], 9);
    }
    CLEAN(gpuexec_graph_destroy(other));
    CLEAN(gpuexec_free(q)); /* reads what the graph uses */
    CLEAN(gpuexec_free(p));
    CLEAN(gpuexec_module_unload(mod));
    CLEAN(gpuexec_context_close(ctx));
}

FLOW(nodes) {
    char text[1000];
    size_t length;
    uint32_t by = 1, one = 1, got = 0;
    uintptr_t called = 0;
    gpuexec_launch_desc desc = { 0 };
    gpuexec_copy_desc box;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_module mod;
    gpuexec_kernel add;
    gpuexec_graph graph, child, body = { 0 }, bodies[2] = { { 0 } };
    gpuexec_event event;
    gpuexec_node m[3], n[9];
    gpuexec_ptr p, q = 0;
    unsigned long long condition;
    memset(&box, 0, sizeof box);
    desc.cooperative = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    GET(p, gpuexec_alloc(ctx, 64));
    MAKE(event, gpuexec_event_create(ctx, NULL));
    MAKE(child, gpuexec_graph_create(ctx));
    NODE(m[0],
            gpuexec_graph_add_kernel_with(child, add, gpuexec_grid(1, 1, 0), &desc,
                    GPUEXEC_ARGS(p, by, one), GPUEXEC_FIRST));
    if (gpuexec_driver_version() >= 12030) {
        desc.cooperative = 0;
        desc.programmatic = 1;
        NODE(m[1],
                gpuexec_graph_add_kernel_with(child, add, gpuexec_grid(1, 1, 0), &desc,
                        GPUEXEC_ARGS(p, by, one), GPUEXEC_AFTER(m[0])));
    }
    box.to.device = p + 32;
    box.from.device = p;
    box.width_bytes = 4;
    box.height = box.depth = 1;
    MAKE(graph, gpuexec_graph_create(ctx));
    NODE(n[0], gpuexec_graph_add_child(graph, child, GPUEXEC_FIRST));
    NODE(n[1],
            gpuexec_graph_add_host(
                    graph, fault_called, (void *)(uintptr_t)&called, GPUEXEC_AFTER(n[0])));
    NODE(n[2], gpuexec_graph_add_record(graph, event, GPUEXEC_AFTER(n[1])));
    NODE(n[3], gpuexec_graph_add_wait(graph, event, GPUEXEC_AFTER(n[2])));
    NODE(n[4], gpuexec_graph_add_empty(graph, GPUEXEC_AFTER(n[3])));
    NODE(n[5], gpuexec_graph_add_alloc(graph, 64, &q, GPUEXEC_AFTER(n[4])));
    NODE(n[6], gpuexec_graph_add_free(graph, q, GPUEXEC_AFTER(n[5])));
    if (gpuexec_driver_version() >= 12040) {
        GET(condition, gpuexec_graph_condition(graph, 1));
        NODE(n[7], gpuexec_graph_add_if(graph, condition, &body, GPUEXEC_AFTER(n[6])));
        NODE(n[8], gpuexec_graph_add_fill(body, p, 5, 4, 1, GPUEXEC_FIRST));
        DO(gpuexec_node_set_fill(n[8], p, 6, 4, 1));
    } else n[7] = n[6];
    if (gpuexec_driver_version() >= 12080) {
        GET(condition, gpuexec_graph_condition(graph, 1));
        NODE(n[8], gpuexec_graph_add_switch(graph, condition, bodies, 2, GPUEXEC_AFTER(n[7])));
        NODE(n[8], gpuexec_graph_add_fill(bodies[1], p, 6, 4, 1, GPUEXEC_FIRST));
        GET(condition, gpuexec_graph_condition(graph, 1));
        NODE(n[8],
                gpuexec_graph_add_if_else(
                        graph, condition, &bodies[0], &bodies[1], GPUEXEC_AFTER(n[7])));
    }
    NODE(m[2], gpuexec_graph_add_copy(graph, &box, GPUEXEC_AFTER(n[7])));
    READ(length, gpuexec_graph_text(graph, text, sizeof text), length > 0);
    WORK(gpuexec_graph_launch(graph, s));
    WORK(gpuexec_copy_out(s, &got, p + 32, 4));
    WAIT(gpuexec_stream_sync(s));
    if (gpuexec_driver_version() >= 12040) EQUAL(got, 6);
    EQUAL(called, 1);
    CLEAN(gpuexec_event_destroy(event)); /* reads what the graphs use */
    CLEAN(gpuexec_graph_destroy(graph));
    CLEAN(gpuexec_context_close(ctx));
}
FLOW(changes) {
    uint32_t got[N], by = 1, count = N;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_module mod;
    gpuexec_kernel add;
    gpuexec_kernel_info info;
    gpuexec_launch_desc desc = { 0 };
    gpuexec_graph graph, clone;
    gpuexec_node first, fill, kernel, copy;
    gpuexec_ptr p;
    desc.cooperative = 1;
    memset(got, 0, sizeof got);
    memset(&info, 0, sizeof info);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    GET(p, gpuexec_alloc(ctx, sizeof got));
    MAKE(graph, gpuexec_graph_create(ctx));
    NODE(first, gpuexec_graph_add_empty(graph, GPUEXEC_FIRST));
    NODE(fill, gpuexec_graph_add_fill(graph, p, 5, 4, N, GPUEXEC_AFTER(first)));
    NODE(kernel,
            gpuexec_graph_add_kernel(graph, add, gpuexec_grid(1, N, 0), GPUEXEC_ARGS(p, by, count),
                    GPUEXEC_AFTER(fill)));
    NODE(copy,
            gpuexec_graph_add_copy(graph, LINE(ON_HOST(got, 0), ON_DEVICE(p, 0), sizeof got),
                    GPUEXEC_AFTER(kernel)));
    MAKE(clone, gpuexec_graph_clone(graph));
    WORK(gpuexec_graph_prepare(graph, s));
    by = 20;
    QUERY(gpuexec_kernel_get_info(add, &info));
    if (info.parameters >= 0) {
        DO(gpuexec_node_set_argument(kernel, 1, &by, 4));
        DO(gpuexec_node_set_dims(kernel, gpuexec_grid(2, N / 2, 0)));
    } else DO(gpuexec_node_set_args(kernel, GPUEXEC_ARGS(p, by, count)));
    DO(gpuexec_node_set_fill(fill, p, 7, 4, N));
    DO(gpuexec_node_set_copy(copy, LINE(ON_HOST(got, 0), ON_DEVICE(p, 0), sizeof got)));
    desc.cooperative = 0;
    DO(gpuexec_node_set_attributes(kernel, &desc));
    desc.cooperative = 1;
    DO(gpuexec_node_set_attributes(kernel, &desc));
    VALUE(GXI_QUERIES, "gpuexec_graph_find_kernel(graph, add, 0)", kernel,
            gpuexec_graph_find_kernel(graph, add, 0), gpuexec_ok(kernel.graph));
    QUERY(gpuexec_node_get_attributes(kernel, &desc));
    EQUAL(desc.cooperative, 1);
    WORK(gpuexec_graph_launch(graph, s));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[N - 1], 27);
    if (gpuexec_driver_version() >= 11060) {
        DO(gpuexec_node_enable(fill, 0));
        WORK(gpuexec_graph_launch(graph, s));
        WAIT(gpuexec_stream_sync(s));
        EQUAL(got[N - 1], 47);
    }
    kernel.graph = clone;
    DO(gpuexec_node_set_args(kernel, GPUEXEC_ARGS(p, count, count)));
    WORK(gpuexec_graph_launch(clone, s));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[N - 1], 5 + N);
    CLEAN(gpuexec_graph_destroy(graph));
    CLEAN(gpuexec_graph_destroy(clone));
    CLEAN(gpuexec_context_close(ctx));
}

static gpuexec_graph fault_external(gpuexec_stream s, gpuexec_event records, gpuexec_event waits) {
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s, &graph) {
        (void)gpuexec_stream_wait_external(s, waits);
        (void)gpuexec_event_record_external(records, s);
    }
    return graph;
}
/* A failure to read a captured graph's events is repaired at the next free. */
FLOW(external) {
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_event a, b;
    gpuexec_graph graph;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(a, gpuexec_event_create(ctx, NULL));
    MAKE(b, gpuexec_event_create(ctx, NULL));
    VALUE(GXI_MAKES, "gpuexec_capture_end(s)", graph, fault_external(s, a, b), gpuexec_ok(graph));
    WORK(gpuexec_graph_launch(graph, s));
    WAIT(gpuexec_event_sync(a));
    CLEAN(gpuexec_event_destroy(b));
    CLEAN(gpuexec_event_destroy(a));
    CLEAN(gpuexec_graph_destroy(graph));
    CLEAN(gpuexec_stream_destroy(s));
    CLEAN(gpuexec_context_close(ctx));
}

static gpuexec_graph fault_retained(gpuexec_stream s, gpuexec_ptr p) {
    gpuexec_capture_desc desc = { 0, GPUEXEC_CAPTURE_THREAD_LOCAL, 1, 0 };
    gpuexec_graph none = { 0 };
    if (gpuexec_capture_begin(s, &desc)) return none;
    (void)gpuexec_fill(s, p, 1, 4, 16);
    return gpuexec_capture_end(s);
}
/* Without memory to retain something, the graph cannot be launched any more. */
FLOW(retained) {
    uint32_t by = 1, one = 1;
    gpuexec_context ctx, other;
    gpuexec_stream s;
    gpuexec_module mod, part;
    gpuexec_library library;
    gpuexec_kernel add, its;
    gpuexec_event event;
    gpuexec_graph graph, captured;
    gpuexec_graph_info info;
    gpuexec_node n[4];
    gpuexec_ptr p, q, r;
    memset(&info, 0, sizeof info);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(other, gpuexec_context_create(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(other, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    MAKE(library, gpuexec_library_load(fault_ptx, 0, NULL));
    MAKE(part, gpuexec_library_module(library, ctx));
    MAKE(its, gpuexec_kernel_get(part, "add"));
    MAKE(event, gpuexec_event_create(ctx, NULL));
    GET(p, gpuexec_alloc(other, 64));
    GET(q, gpuexec_alloc_on(s, 64));
    GET(r, gpuexec_alloc(ctx, 64));
    MAKE(graph, gpuexec_graph_create(ctx));
    NODE(n[0], gpuexec_graph_add_fill(graph, p, 1, 4, 1, GPUEXEC_FIRST));
    NODE(n[1],
            gpuexec_graph_add_kernel(graph, add, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p, by, one),
                    GPUEXEC_AFTER(n[0])));
    NODE(n[2], gpuexec_graph_add_record(graph, event, GPUEXEC_AFTER(n[1])));
    NODE(n[3],
            gpuexec_graph_add_kernel(graph, its, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(q, by, one),
                    GPUEXEC_AFTER(n[2])));
    DO(gpuexec_graph_retain(graph));
    WORK(gpuexec_graph_launch(graph, s));
    VALUE(GXI_MAKES, "gpuexec_capture_end(s)", captured, fault_retained(s, r),
            gpuexec_ok(captured));
    CLEAN(gpuexec_free(r));
    CLEAN(gpuexec_event_destroy(event));
    CLEAN(gpuexec_library_unload(library));
    CLEAN(gpuexec_free_on(s, q));
    CLEAN(gpuexec_context_close(other));
    QUERY(gpuexec_graph_get_info(graph, &info));
    if (!fault.at) CHECK_EQ(info.retained, 6);
    if (info.retained == 6) WORK(gpuexec_graph_launch(graph, s));
    WAIT(gpuexec_stream_sync(s));
    CLEAN(gpuexec_graph_destroy(graph));
    CLEAN(gpuexec_graph_destroy(captured));
    CLEAN(gpuexec_context_close(ctx));
}
/* What the finder has reported. It must not accuse a correct program. */
static void fault_check_reports(unsigned long long mistakes) {
    unsigned long long reports;
    if (fault.fired && (!fault.of_finder || fault.manner == PERMANENT)) return;
    fault_step(GXI_QUERIES, "gpuexec_validation_reports()", __LINE__);
    reports = gpuexec_validation_reports();
    if (reports > mistakes || (!fault.fired && reports < mistakes))
        fault_wrong("%llu reports of %llu mistakes", reports, mistakes);
}
/* Stream b works beside stream a; a copy, a kernel, and events that other work records, or waits
   for. */
static gpuexec_graph fault_branches(
        gpuexec_kernel add, const gpuexec_stream *s, const gpuexec_event *e, const gpuexec_ptr *p) {
    uint32_t by = 1, n = N;
    gpuexec_graph graph = { 0 };
    GPUEXEC_CAPTURE(s[0], &graph) {
        (void)gpuexec_stream_wait_external(s[0], e[0]);
        (void)gpuexec_fill(s[0], p[0], 5, 4, N);
        (void)gpuexec_stream_wait_stream(s[1], s[0]);
        (void)gpuexec_copy(s[1], p[1], p[0], N * 4);
        (void)gpuexec_launch(add, s[1], gpuexec_grid(1, N, 0), GPUEXEC_ARGS(p[1], by, n));
        (void)gpuexec_event_record(e[1], s[1]);
        (void)gpuexec_stream_wait_event(s[0], e[1]);
        (void)gpuexec_event_record_external(e[2], s[0]);
    }
    return graph;
}
FINDER_FLOW(finder) {
    uint32_t got[N], by = 3, n = N;
    gpuexec_context ctx;
    gpuexec_stream s[2];
    gpuexec_event e[3];
    gpuexec_module mod, of_library;
    gpuexec_library library;
    gpuexec_kernel add, bump, its;
    gpuexec_graph graph, outer;
    gpuexec_node child, last;
    gpuexec_ptr p[2], pooled;
    struct CUevent_st *native;
    int i;
    memset(got, 0, sizeof got);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    MAKE(bump, gpuexec_kernel_get(mod, "bump"));
    MAKE(library, gpuexec_library_load(fault_ptx, 0, NULL));
    MAKE(of_library, gpuexec_library_module(library, ctx));
    MAKE(its, gpuexec_kernel_get(of_library, "add"));
    if (gpuexec_kernel_parameter_size(its, 0))
        DO(gpuexec_kernel_set_access(its, 0, GPUEXEC_USE_READ_WRITE));
    for (i = 0; i < 2; i++) {
        MAKE(s[i], gpuexec_stream_create(ctx, NULL));
        GET(p[i], gpuexec_alloc(ctx, sizeof got));
    }
    for (i = 0; i < 3; i++) MAKE(e[i], gpuexec_event_create(ctx, NULL));
    WORK(gpuexec_fill(s[0], p[0], 1, 4, N));
    WORK(gpuexec_launch(add, s[0], gpuexec_grid(1, N, 0), GPUEXEC_ARGS(p[0], by, n)));
    WORK(gpuexec_launch(bump, s[0], gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    WORK(gpuexec_event_record(e[0], s[0]));
    WORK(gpuexec_stream_wait_event(s[1], e[0]));
    WORK(gpuexec_launch(its, s[1], gpuexec_grid(1, N, 0), GPUEXEC_ARGS(p[0], by, n)));
    WORK(gpuexec_copy_out(s[1], got, p[0], sizeof got)); /* pageable */
    WAIT(gpuexec_stream_sync(s[1]));
    EQUAL(got[N - 1], 7);
    WORK(gpuexec_stream_wait_stream(s[0], s[1]));
    GET(pooled, gpuexec_alloc_on(s[0], sizeof got)); /* on one stream: a wait can fail */
    WORK(gpuexec_copy(s[0], pooled, p[0], sizeof got));
    WORK(gpuexec_copy(s[0], p[1], pooled, sizeof got));
    CLEAN(gpuexec_free_on(s[0], pooled));
    VALUE(GXI_MAKES, "gpuexec_capture_end(s)", graph, fault_branches(add, s, e, p),
            gpuexec_ok(graph));
    WORK(gpuexec_graph_launch(graph, s[0]));
    WORK(gpuexec_stream_wait_event(s[1], e[2]));
    WORK(gpuexec_copy_out_now(ctx, got, p[1], sizeof got)); /* after both streams */
    EQUAL(got[N - 1], 6);
    MAKE(outer, gpuexec_graph_create(ctx));
    NODE(child, gpuexec_graph_add_child(outer, graph, GPUEXEC_FIRST));
    NODE(last,
            gpuexec_graph_add_kernel(outer, add, gpuexec_grid(1, N, 0), GPUEXEC_ARGS(p[1], by, n),
                    GPUEXEC_AFTER(child)));
    WORK(gpuexec_graph_launch(outer, s[1]));
    WAIT(gpuexec_stream_sync(s[1]));
    by = 5;
    DO(gpuexec_node_set_args(last, GPUEXEC_ARGS(p[1], by, n)));
    WORK(gpuexec_graph_launch(outer, s[1]));
    WAIT(gpuexec_context_sync(ctx));
    WORK(gpuexec_copy_out_now(ctx, got, p[1], sizeof got));
    EQUAL(got[N - 1], 11);
    fault_check_reports(0);
    WORK(gpuexec_fill(s[0], p[0], 1, 4, N));
    WORK(gpuexec_copy(s[1], p[1], p[0], sizeof got)); /* a mistake */
    WAIT(gpuexec_context_sync(ctx));
    fault_check_reports(1);
    VALUE(GXI_QUERIES, "gpuexec_event_native(e[0])", native, gpuexec_event_native(e[0]),
            native != NULL);
    CLEAN(gpuexec_graph_destroy(outer));
    CLEAN(gpuexec_graph_destroy(graph));
    CLEAN(gpuexec_event_destroy(e[0]));
    CLEAN(gpuexec_stream_destroy(s[0]));
    CLEAN(gpuexec_module_unload(mod));
    CLEAN(gpuexec_library_unload(library));
    CLEAN(gpuexec_free(p[0]));
    CLEAN(gpuexec_context_close(ctx));
}
FLOW(event) {
    gpuexec_event_desc sleeps = { 0, 0, 1, 0, 0 };
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_event a, b, same;
    double ms;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(a, gpuexec_event_create(ctx, &sleeps));
    WORK(gpuexec_event_record(a, s));
    MAKE_WORK(b, gpuexec_stream_record(s, NULL));
    WAIT(gpuexec_event_sync(b));
    MAKE(same, gpuexec_event_from_native(ctx, gpuexec_event_native(a)));
    QUERY(gpuexec_event_query(same));
    READ(ms, gpuexec_event_elapsed_ms(a, b), ms >= 0);
    CLEAN(gpuexec_event_destroy(same));
    CLEAN(gpuexec_event_destroy(a));
    CLEAN(gpuexec_event_destroy(b));
    CLEAN(gpuexec_stream_destroy(s));
    CLEAN(gpuexec_context_close(ctx));
}

FLOW(launch) {
    static const uint32_t zeros[N];
    uint32_t got[N], by = 3, n = N, words = 15000;
    gpuexec_launch_desc first = { 0 };
    gpuexec_event_desc event_desc = { 0, 1, 0, 0, 0 };
    gpuexec_event event;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_module mod, faults;
    gpuexec_kernel add, fill;
    gpuexec_ptr p;
    memset(got, 0, sizeof got);
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(faults, gpuexec_module_load_file(ctx, "kernels/faults.ptx", NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    MAKE(fill, gpuexec_kernel_get(faults, "fill_dynamic_shared"));
    GET(p, gpuexec_alloc(ctx, sizeof got));
    WORK(gpuexec_copy_in(s, p, zeros, sizeof zeros));
    WORK(gpuexec_launch(add, s, gpuexec_grid_for(N, 32), GPUEXEC_ARGS(p, by, n)));
    WORK(gpuexec_launch_cooperative(add, s, gpuexec_grid_for(N, 32), GPUEXEC_ARGS(p, by, n)));
    first.has_priority = gpuexec_driver_version() >= 11080;
    if (gpuexec_driver_version() >= 12030) {
        MAKE(event, gpuexec_event_create(ctx, &event_desc));
        first.started_event = event;
        first.has_memory_sync_map = 1;
    }
    WORK(gpuexec_launch_with(add, s, gpuexec_grid_for(N, 32), &first, GPUEXEC_ARGS(p, by, n)));
    WORK(gpuexec_launch(
            add, gpuexec_stream_legacy(ctx), gpuexec_grid_for(N, 32), GPUEXEC_ARGS(p, by, n)));
    WORK(gpuexec_copy_out(s, got, p, sizeof got));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got[0], 12);
    EQUAL(got[N - 1], 12);
    /* opts in to more shared memory */
    if (p) WORK(gpuexec_launch(fill, s, gpuexec_grid(1, 32, words * 4), GPUEXEC_ARGS(p, words)));
    WAIT(gpuexec_context_sync(ctx));
    CLEAN(gpuexec_free(p));
    CLEAN(gpuexec_stream_destroy(s));
    CLEAN(gpuexec_module_unload(faults));
    CLEAN(gpuexec_context_close(ctx));
}

static int trace_began, trace_ended;
static void trace_hook(void *user, const gpuexec_trace_call *call) {
    char text[300];
    (void)user;
    trace_began += !call->after;
    trace_ended += call->after;
    CHECK(gpuexec_trace_text(call, text, sizeof text) > 0);
}
FLOW(trace) {
    gpuexec_trace_desc desc = { 0, trace_hook, NULL, "cu*, !cuGetErrorName", 0 };
    gpuexec_result begun = GPUEXEC_OK;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_ptr p;
    trace_began = trace_ended = 0;
    QUERY(begun = gpuexec_trace_begin(&desc));
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    GET(p, gpuexec_alloc(ctx, 64));
    WORK(gpuexec_fill(s, p, 0, 1, 64));
    WAIT(gpuexec_stream_sync(s));
    CLEAN(gpuexec_free(p));
    CLEAN(gpuexec_stream_destroy(s));
    CLEAN(gpuexec_context_close(ctx));
    if (!begun) CLEAN(gpuexec_trace_end());
    CHECK_EQ(trace_began, trace_ended);
    EQUAL(trace_began > 5, 1);
}

FLOW(params) {
    uint32_t got = 0, by = 1, n = 1, *where;
    gpuexec_context ctx;
    gpuexec_stream s;
    gpuexec_kernel add;
    gpuexec_module mod;
    gpuexec_params block;
    gpuexec_prepared ready, with;
    gpuexec_launch_desc attributes = { 0 };
    gpuexec_stream t;
    gpuexec_ptr p;
    void *data;
    int i;
    attributes.cooperative = 1;
    MAKE(block, gpuexec_params_create());
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    GET(p, gpuexec_alloc(ctx, 4));
    WORK(gpuexec_fill_now(ctx, p, 0, 1, 4));
    DO(gpuexec_params_add(block, GPUEXEC_POINTER, &p));
    DO(gpuexec_params_add(block, GPUEXEC_UINT, &by));
    DO(gpuexec_params_add_struct(block, &n, sizeof n, 4));
    if (!fault.fired) QUERY(gpuexec_params_check(block, add));
    GET(data, gpuexec_params_data(block, NULL));
    WORK(gpuexec_launch(add, s, gpuexec_grid(1, 1, 0), gpuexec_params_args(block)));
    MAKE(ready, gpuexec_prepare(add, s, gpuexec_grid(1, 1, 0), gpuexec_params_args(block)));
    WORK(gpuexec_launch_prepared(ready));
    by = 5;
    DO(gpuexec_prepared_set(ready, 1, &by, sizeof by));
    WORK(gpuexec_launch_prepared(ready));
    GET(where, (uint32_t *)gpuexec_prepared_argument(ready, 1, sizeof *where));
    if (where) *where = 10;
    DO(gpuexec_prepared_set_dims(ready, gpuexec_grid(2, 1, 0)));
    WORK(gpuexec_launch_prepared(ready));
    MAKE(t, gpuexec_stream_create(ctx, NULL));
    MAKE(with,
            gpuexec_prepare_with(
                    add, t, gpuexec_grid(1, 1, 0), &attributes, gpuexec_params_args(block)));
    DO(gpuexec_prepared_set_stream(with, s));
    WORK(gpuexec_launch_prepared(with));
    WORK(gpuexec_copy_out(s, &got, p, 4));
    WAIT(gpuexec_stream_sync(s));
    EQUAL(got, 1 + 1 + 5 + 10 + 1);
    DO(gpuexec_params_clear(block));
    DO(gpuexec_params_begin_struct(block));
    for (i = 0; i < 40; i++) DO(gpuexec_params_add(block, GPUEXEC_DOUBLE4_32A, fault_ptx));
    if (!fault.fired) DO(gpuexec_params_end_struct(block));
    if (!fault.fired) GET(data, gpuexec_params_data(block, NULL));
    if (!fault.fired) DO(gpuexec_params_unpack(block, add, fault_ptx, 16));
    for (i = 0; i < 40; i++)
        DO(gpuexec_params_add(block, GPUEXEC_DOUBLE4_32A,
                got ? (const void *)fault_ptx : (const void *)&fault_real));
    DO(gpuexec_params_clear(block));
    CLEAN(gpuexec_prepared_destroy(ready));
    CLEAN(gpuexec_params_destroy(block));
    CLEAN(gpuexec_context_close(ctx));
}

/* Only gpuexec_shutdown destroys the objects. */
FLOW(left_behind) {
    static char memory[64];
    gpuexec_context ctx, made;
    gpuexec_module mod;
    gpuexec_kernel add;
    gpuexec_stream s;
    gpuexec_event e;
    gpuexec_ptr p;
    gpuexec_params block;
    void *pinned;
    uint32_t by = 1, n = 1;
    gpuexec_prepared ready;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(made, gpuexec_context_create(0, NULL));
    MAKE(mod, gpuexec_module_load(made, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    MAKE(s, gpuexec_stream_create(made, NULL));
    MAKE(e, gpuexec_event_create(ctx, NULL));
    GET(p, gpuexec_alloc(made, 64));
    GET(pinned, gpuexec_alloc_pinned(ctx, 64));
    DO(gpuexec_register(ctx, memory, sizeof memory));
    MAKE(block, gpuexec_params_create());
    DO(gpuexec_params_add(block, GPUEXEC_POINTER, &p));
    MAKE(ready, gpuexec_prepare(add, s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p, by, n)));
    WORK(gpuexec_launch_prepared(ready));
}

FLOW_OF(TEST_ALONE_MULTI, peer) {
    gpuexec_context ctx[2];
    gpuexec_stream s;
    gpuexec_pool pool, adopted;
    gpuexec_virtual range;
    gpuexec_virtual_desc desc;
    gpuexec_ptr a, b;
    gpuexec_copy_info copy;
    uint32_t got = 0;
    int can = 0;
    if (fault_devices() < 2) SKIP("needs two devices");
    MAKE(ctx[0], gpuexec_context_open(0, NULL));
    MAKE(ctx[1], gpuexec_context_open(1, NULL));
    MAKE(s, gpuexec_stream_create(ctx[0], NULL));
    GET(a, gpuexec_alloc(ctx[0], 64));
    GET(b, gpuexec_alloc(ctx[1], 64));
    WORK(gpuexec_fill_now(ctx[1], b, 6, 1, 64));
    WORK(gpuexec_copy(s, a, b, 32));
    QUERY(gpuexec_copy_explain(s, a, b, 32, &copy));
    if (fault_reach(1)) DO(gpuexec_peer_enable(ctx[0], ctx[1]));
    QUERY(gpuexec_copy_explain(s, a, b, 64, &copy));
    WORK(gpuexec_copy(s, a, b, 64));
    WORK(gpuexec_copy_peer(s, b, ctx[1], a, ctx[0], 16));
    WAIT(gpuexec_stream_sync(s));
    WORK(gpuexec_copy_out_now(ctx[1], &got, b, 4));
    EQUAL(got, 0x06060606);
    if (fault_reach(1)) CLEAN(gpuexec_peer_disable(ctx[0], ctx[1]));
    MAKE(pool, gpuexec_context_pool(ctx[1]));
    if (fault_reach(1)) DO(gpuexec_pool_peer_enable(pool, ctx[0]));
    QUERY(gpuexec_pool_peer_query(pool, ctx[0], &can));
    MAKE(adopted, gpuexec_pool_from_native(ctx[1], gpuexec_pool_native(pool)));
    if (fault_reach(1)) CLEAN(gpuexec_pool_peer_disable(pool, ctx[0]));
    memset(&desc, 0, sizeof desc);
    desc.max_bytes = 4 << 21;
    desc.bytes = 1;
    MAKE(range, gpuexec_virtual_create(ctx[1], &desc));
    if (fault_reach(1)) {
        DO(gpuexec_virtual_grow_on(range, ctx[0], 2 << 21));
        CLEAN(gpuexec_virtual_peer_disable(range, ctx[0]));
        DO(gpuexec_virtual_peer_enable(range, ctx[0]));
        QUERY(gpuexec_virtual_peer_query(range, ctx[0], &can));
    }
    CLEAN(gpuexec_virtual_destroy(range));
    CLEAN(gpuexec_free(a));
    CLEAN(gpuexec_context_close(ctx[1]));
    CLEAN(gpuexec_context_close(ctx[0]));
}

/* Two devices, a barrier, and both ways to launch. */
static void fault_multi(gpuexec_multi_way way, int host_memory) {
    gpuexec_barrier_desc kind = { 0, 0, 30, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gpuexec_context ctx[2];
    gpuexec_module mod[2];
    gpuexec_kernel kernel[2];
    gpuexec_stream s[2];
    gpuexec_ptr counts[2], address[2];
    gpuexec_barrier barrier;
    gpuexec_graph graph;
    gpuexec_node all;
    gpuexec_device_launch list[2];
    const void *args[2][3];
    int rounds = 1, i, k, ok = 1;
    static char ptx[65536];
    char *first, *second;
    if (fault_devices() < 2) SKIP("needs two devices");
    if (!ptx[0]) fault_read("kernels/ring_exchange.ptx", ptx, sizeof ptx);
    if ((first = strstr(ptx, ".visible .entry ring_exchange")) != NULL &&
            (second = strstr(ptx, ".visible .entry barrier_rounds")) != NULL)
        memmove(first, second, strlen(second) + 1); /* only the smaller kernel: it is loaded some
                                                       thousand times */
    kind.host_memory = host_memory;
    desc.way = way;
    for (i = 0; i < 2; i++) {
        MAKE(ctx[i], gpuexec_context_open(i, NULL));
        MAKE(mod[i], gpuexec_module_load(ctx[i], ptx, 0, NULL));
        MAKE(kernel[i], gpuexec_kernel_get(mod[i], "barrier_rounds"));
        MAKE(s[i], gpuexec_stream_create(ctx[i], NULL));
        GET(counts[i], gpuexec_alloc(ctx[i], 64));
        WORK(gpuexec_fill_now(ctx[i], counts[i], 0, 1, 64));
    }
    MAKE(barrier, gpuexec_barrier_create(ctx, 2, &kind));
    desc.barrier = barrier;
    memset(list, 0, sizeof list);
    for (i = 0; i < 2; i++) {
        GET(address[i], gpuexec_barrier_address(barrier, (unsigned)i));
        ok &= address[i] != 0 && counts[i] != 0;
        args[i][0] = &address[i];
        args[i][1] = &rounds;
        args[i][2] = &counts[i];
        list[i].kernel = kernel[i];
        list[i].stream = s[i];
        list[i].dims = gpuexec_grid(1, 2, 0); /* a thread for each device */
        list[i].args.addresses = args[i];
        list[i].args.count = 3;
    }
    for (k = 0; ok && k < 2; k++) { /* the second time only the driver's calls */
        for (;;) {
            gpuexec_result broken;
            fault_step(GXI_WORKS, "gpuexec_launch_multi_device", __LINE__);
            if (!fault_again(gpuexec_launch_multi_device(list, 2, &desc))) break;
            /* one kernel may have begun alone, and was aborted */
            for (i = 0; i < 2; i++) broken = gpuexec_stream_sync(s[i]);
            (void)broken;
            DO(gpuexec_barrier_reset(barrier));
        }
    }
    if (ok && way == GPUEXEC_MULTI_PER_DEVICE) {
        MAKE(graph, gpuexec_graph_create(ctx[0]));
        NODE(all, gpuexec_graph_add_multi_device(graph, list, 2, &desc, GPUEXEC_FIRST));
        WORK(gpuexec_graph_launch(graph, s[0]));
    }
    for (i = 0; i < 2; i++) WAIT(gpuexec_stream_sync(s[i]));
    QUERY(gpuexec_barrier_check(barrier));
    CLEAN(gpuexec_barrier_abort(barrier));
    DO(gpuexec_barrier_reset(barrier));
    CLEAN(gpuexec_barrier_destroy(barrier));
    CLEAN(gpuexec_context_close(ctx[0]));
    CLEAN(gpuexec_context_close(ctx[1]));
}
/* After a sticky error, barriers without waiting threads get half a second to report it: not each
   time. */
static void flow_multi(void) { fault_multi(GPUEXEC_MULTI_PER_DEVICE, 0); }
static void flow_host(void) { fault_multi(GPUEXEC_MULTI_PER_DEVICE, 1); }
static void flow_driver(void) { fault_multi(GPUEXEC_MULTI_DRIVER, 0); }
TEST_ALONE_MULTI(multi) { fault_flow(flow_multi, PERMANENT, 20); }
TEST_ALONE_MULTI(multi_host_memory) { fault_flow(flow_host, ONCE, 1); }
TEST_ALONE_MULTI(multi_by_driver) { fault_flow(flow_driver, ONCE, 1); }
TEST_ALONE_MULTI(multi_by_driver_with_finder) {
    fault_finds = 1;
    fault_flow(flow_driver, ONCE, 1);
}

/* Calls that fail without a fault: an additional fault changes neither the latch nor the presence
   of a text. */
#define REFUSED(kind, call) \
    do { \
        fault_step(kind, #call, __LINE__); \
        fault_refused(call); \
    } while (0)
FLOW(refused) {
    gpuexec_context ctx;
    gpuexec_stream s, dead;
    gpuexec_module mod;
    gpuexec_kernel add;
    gpuexec_linker linker;
    gpuexec_library library;
    gpuexec_prepared ready;
    gpuexec_ptr p = 1;
    uint32_t n = 1;
    MAKE(ctx, gpuexec_context_open(0, NULL));
    MAKE(s, gpuexec_stream_create(ctx, NULL));
    MAKE(dead, gpuexec_stream_create(ctx, NULL));
    CLEAN(gpuexec_stream_destroy(dead));
    MAKE(mod, gpuexec_module_load(ctx, fault_ptx, 0, NULL));
    MAKE(add, gpuexec_kernel_get(mod, "add"));
    MAKE(linker, gpuexec_linker_create(ctx, NULL));
    MAKE(library, gpuexec_library_load(fault_ptx, 0, NULL));
    REFUSED(GXI_MAKES, fault_of(gpuexec_context_open(99, NULL)));
    REFUSED(GXI_MAKES, fault_of(gpuexec_module_load(ctx, ".version 7.0 nonsense", 0, NULL)));
    REFUSED(GXI_MAKES, fault_of(gpuexec_module_load_file(ctx, "no/such/file", NULL)));
    REFUSED(GXI_MAKES, fault_of(gpuexec_kernel_get(mod, "ad")));
    REFUSED(GXI_MAKES,
            gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "kernels/link_main.ptx"));
    REFUSED(GXI_MAKES, fault_of(gpuexec_linker_load(linker)));
    REFUSED(GXI_MAKES, gpuexec_alloc(ctx, (size_t)1 << 50) ? GPUEXEC_OK : fault_last());
    REFUSED(GXI_WORKS, gpuexec_copy_in(s, p, &n, 4));
    REFUSED(GXI_WORKS, gpuexec_alloc_on(s, (size_t)1 << 50) ? GPUEXEC_OK : fault_last());
    REFUSED(GXI_WORKS, gpuexec_launch(add, s, gpuexec_grid(1, 4096, 0), GPUEXEC_ARGS(p, n, n)));
    REFUSED(GXI_WAITS, gpuexec_stream_sync(dead));
    REFUSED(GXI_WORKS, gpuexec_launch(add, s, gpuexec_grid(1, 4096, 0), GPUEXEC_ARGS(p, n, n)));
    REFUSED(GXI_WAITS, gpuexec_stream_sync(s));
    REFUSED(GXI_WORKS, gpuexec_launch(add, dead, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(p, n, n)));
    REFUSED(GXI_MAKES,
            fault_of(ready = gpuexec_prepare(
                             add, s, gpuexec_grid(1, 1, 1u << 30), GPUEXEC_ARGS(p, n, n))));
    REFUSED(GXI_WORKS, gpuexec_launch_prepared(ready));
    REFUSED(GXI_CLEANS, gpuexec_free(p));
    REFUSED(GXI_CLEANS, gpuexec_event_destroy((gpuexec_event){ s.id }));
    gpuexec_take_error();
    GET(p, gpuexec_alloc(ctx, 64));
    WORK(gpuexec_capture_begin(s, NULL));
    CLEAN(gpuexec_free(p));
    CLEAN(gpuexec_module_unload(mod));
    CLEAN(gpuexec_library_unload(library));
    CLEAN(gpuexec_linker_destroy(linker));
    REFUSED(GXI_CLEANS, gpuexec_context_close(ctx)); /* it ends the capture, and frees */
}

/* Rows of GXI_DRIVER that no flow reaches, and why. */
static const struct {
    int row;
    const char *why;
} fault_unreached[] = {
    { ROW_cuCtxGetApiVersion, "called only without cuCtxGetId" },
    { ROW_cuMemPrefetchAsync, "called only without its second interface" },
    { ROW_cuMemAdvise, "called only without its second interface" },
    { ROW_cuTexObjectGetResourceDesc, "called only for a number that gpuexec did not make" },
    { ROW_cuSurfObjectGetResourceDesc, "called only for a number that gpuexec did not make" },
    { ROW_cuTexRefSetAddress2D, "called only to bind a texture of rows of memory" },
};
TEST_ALONE(rows) {
    const int devices = gpuexec_device_count();
    int row, reached = 0, count = 0, i, flows = 0;
    size_t k;
    const test *t;
    for (t = test_first; t; t = t->next) flows++;
    if (tally->flows + 1 < flows || flows < 10) SKIP("not all flows were run");
    for (row = 0; row < ROWS; row++) {
        const char *why = "";
        void *entry;
        memcpy(&entry, (const char *)&fault_real + (size_t)row * sizeof entry, sizeof entry);
        if (tally->reached[row]) {
            reached++;
            continue;
        }
        for (k = 0; k < sizeof fault_unreached / sizeof *fault_unreached; k++)
            if (fault_unreached[k].row == row) why = fault_unreached[k].why;
        if (!entry) why = "this driver lacks it";
        printf("  not reached: %s%s%s\n", gxi_driver_rows[row].name, *why ? ": " : "", why);
        if (devices >= 2) CHECK(*why != 0); /* one device has no peers */
    }
    for (i = 0; i < 6; i++) count += tally->faults[i / 3][i % 3];
    printf("  %d faults in %d runs: driver calls %d once, %d and on, %d sticky; allocations %d "
           "once, %d and on, %d permanent.\n"
           "  %d sites, each a function and the failed call in it; %d of %d driver calls reached\n",
            count, tally->runs, tally->faults[0][0], tally->faults[0][1], tally->faults[0][2],
            tally->faults[1][0], tally->faults[1][1], tally->faults[1][2], tally->sites, reached,
            (int)ROWS);
}
