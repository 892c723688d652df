/*  gpuexec.h - kernel execution on NVIDIA GPUs through the CUDA driver API, in one header.
    Version 0.1.0.  C99 or C++11.  Needs no CUDA toolkit, no cuda.h, no link-time library: only libc and the dynamic loader.
    SPDX-License-Identifier: MIT OR Unlicense  (at your choice; texts at the end of LICENSE)

    CONTENTS                             (search for the tag: it marks the section, its API and its implementation)

      >>start       the smallest program, and how to add the header to yours
      >>options     the macros that change how the header compiles
      >>manual      how things fit together, one chapter for each section of the API
      >>api         the public interface:
        >>types       results, handles, device addresses
        >>error       what failed, where, why, and the cure
        >>setup       start, shutdown, logger, allocator, trace
        >>device      which GPUs there are
        >>context     opening a device, adopting somebody else's context
        >>module      PTX, cubin and fatbin images; kernels by name
        >>memory      device and pinned memory, copies, fills
        >>stream      queues of work
        >>event       points in a stream: order and time
        >>launch      grids, arguments, launching
        >>cplusplus   launch with any values
      >>end-of-api
      >>impl        the implementation:
        >>platform    loader, mutex, thread-local storage, atomics
        >>driver      the table of driver entry points and its loading
        >>core        state, allocator, failures, latch, log
        >>object      handles and their slots, the table of allocations
        >>impl-device, impl-context, impl-module, impl-memory, impl-stream, impl-event, impl-launch

    ---------------------------------------------------------------------------------------------------------------------
    >>start

        #define GPUEXEC_IMPLEMENTATION                 // in exactly one C or C++ file of the program
        #include "gpuexec.h"
        #include <stdio.h>

        int main(void) {
            enum { n = 1 << 20 };
            static float x[n], y[n];                                                   // fill them ...
            float a = 2.0f;
            int   count = n;
            gpuexec_context ctx = gpuexec_context_open(0, NULL);                       // device 0
            gpuexec_module  mod = gpuexec_module_load_file(ctx, "saxpy.ptx", NULL);
            gpuexec_kernel  fn  = gpuexec_kernel_get(mod, "saxpy");
            gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
            gpuexec_ptr     dx  = gpuexec_alloc(ctx, sizeof x), dy = gpuexec_alloc(ctx, sizeof y);
            gpuexec_copy_in(s, dx, x, sizeof x);
            gpuexec_copy_in(s, dy, y, sizeof y);
            gpuexec_launch(fn, s, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(a, dx, dy, count));
            gpuexec_copy_out(s, y, dy, sizeof y);
            if (gpuexec_stream_sync(s) != GPUEXEC_OK) { fputs(gpuexec_error_text(), stderr); return 1; }
            gpuexec_shutdown();
            return 0;
        }

    Compile with `cc program.c -o program` (glibc before 2.34: add -ldl -lpthread). Nothing of CUDA is needed to compile it; to run
    it, the machine needs an NVIDIA driver of CUDA 11.4 or later, or the CPU device of gpuexec's repository (see >>manual, "setup").

    ---------------------------------------------------------------------------------------------------------------------
    >>options   All are optional. "Implementation" means: before the include that has GPUEXEC_IMPLEMENTATION.

      GPUEXEC_IMPLEMENTATION   in exactly one file: compiles the implementation there
      GPUEXEC_STATIC           everywhere the header is included in a file: every function is static, the implementation comes along
      GPUEXEC_API              everywhere alike: how functions are declared, for exporting them from a shared library, e.g.
                               -DGPUEXEC_API='__attribute__((visibility("default")))'. Default: hidden, so that two
                               libraries in one process, each with a copy of this header, never meet
      GPUEXEC_NO_HERE          anywhere: calls do not carry the file and line of the caller (smaller binaries)

    No macro changes the layout of anything. Everything that a user wants to set at run time is a member of a desc struct.

    ---------------------------------------------------------------------------------------------------------------------
    >>manual

    HOW ERRORS WORK (>>error)
      Every call returns either a gpuexec_result or the thing it makes. You may check each call, or only once at the end:

      - A call that makes something and fails returns it in the *failed state*. A failed handle holds its own reason; any call that
        is given it fails with that reason, on whichever thread. gpuexec_ok(handle) asks. A failed gpuexec_alloc returns 0.
      - The first failure on a thread is also *latched* there. From then on, calls that enqueue work (launch, copy, fill, record,
        wait) refuse with that first reason, so that nothing runs on what a failed call should have made.
      - The calls that wait (gpuexec_stream_sync, gpuexec_context_sync, gpuexec_event_sync) return the latched reason and take it, and so does
        gpuexec_take_error(): after it the thread works again. Makers are not blocked (you can try a second variant), questions
        (query, get, count) never latch, and clean-up always works.
      - gpuexec_error_text() says in words what failed on this thread last: where in your program, what, with which numbers, what the
        driver answered, and the cure where one is known. gpuexec_error_detail() has the same in parts.
      - An error inside a kernel (illegal address, misalignment, trap, failed assert) arrives with some later call, marked as asynchronous.
        CUDA then refuses all further work of the *process*: the error is sticky, and the first text is repeated.

      The library prints nothing by itself and never aborts. Set gpuexec_setup_desc.log to see every failure as it happens,
      or GPUEXEC_TRACE=1 in the environment to see every driver call on stderr.

    SETUP (>>setup)
      The first call that needs the driver loads it. gpuexec_setup() before that changes how; it is not needed. The library loaded
      is, in this order: gpuexec_setup_desc.driver_path, the environment's GPUEXEC_DRIVER (unless the process is privileged or the desc says to
      ignore the environment), libcuda.so.1 from the system (nvcuda.dll from the Windows system folder), and known places (WSL, containers).
      On a machine without a GPU, gpuexec's repository builds a CPU device, `make simgpu`; then set GPUEXEC_DRIVER=.../build/libsimgpu.so. It is never
      taken unasked.

    DEVICES (>>device)
      Devices are ordinals 0 .. gpuexec_device_count() - 1 in the driver's order (CUDA_VISIBLE_DEVICES applies).

    CONTEXTS (>>context)
      gpuexec_context_open() retains the device's primary context, the one that the CUDA runtime, cuBLAS, PyTorch and the like use too: pointers
      and streams are shared with them. gpuexec_context_from_native() adopts a CUcontext that a host program gives you.
      No call of this library depends on which context is current on the calling thread, and none changes it: the few driver calls that need a current
      context get the object's, and the thread's stack is left as it was found. Any handle may be used on any thread.
      gpuexec_context_close() destroys everything that was made through that handle, ends the handles, and releases the context.
      Close a context, or shut down, when its work is done: like cuMemFree and cuModuleUnload it may wait for the device.

    MODULES AND KERNELS (>>module)
      An image is PTX text, which the driver compiles for the GPU at hand (and caches on disk), or a cubin or fatbin from nvcc. When the
      compiler complains, its whole log is in the error text. Kernels are found by the name in the image: declare them extern "C" in
      CUDA C, otherwise the name is mangled. Get all kernels early: with the driver's lazy loading, the first
      gpuexec_kernel_get of a kernel can wait for running work.

    MEMORY (>>memory)
      A gpuexec_ptr is a device address, the same number as a CUdeviceptr: add bytes to it, pass it to kernels. It cannot be dereferenced by the host.
      gpuexec_copy_in / _out / gpuexec_copy / gpuexec_fill are queued on a stream and return at once (host to device, device to host, device to
      device); the host memory must stay unchanged until the stream has passed them. They are truly asynchronous only for pinned host
      memory (gpuexec_alloc_pinned); pageable memory works too, but the driver stages it. The _now variants have finished when they return.
      gpuexec_alloc and gpuexec_free may synchronise the device: allocate before the loop, not in it.

    STREAMS (>>stream) and EVENTS (>>event)
      Work on one stream runs in order; work on different streams may overlap. Events mark points: gpuexec_stream_wait_event makes a stream
      wait for one, gpuexec_event_elapsed_ms gives the time between two. A stream made with the default desc also orders itself
      against the legacy default stream (as CUDA does); with .non_blocking it does not. The _now copies use the legacy stream.

    LAUNCHING (>>launch)
      gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, b, c)) in C takes lvalues, in C++ any values: their addresses and sizes. The sizes must be exactly
      those of the kernel's parameters: use int for int, float for float, gpuexec_ptr for pointers. Count and sizes are checked before the
      driver sees them, against the kernel itself (cuFuncGetParamInfo, driver 12.4 or later) or the PTX text; for a cubin on an older driver nothing is known and
      nothing is checked (gpuexec_kernel_info.parameters is -1). Values are copied at the call. Dynamic shared memory above 48 KiB
      is opted in to by itself.

    THREADS
      Unless a function's comment says otherwise, it may be called from any thread at any time, also concurrently on the same object, except
      that nobody may destroy an object while another thread uses it. gpuexec_shutdown must be the only call running.

    NOT SUPPORTED in this version: graphs, linking several images, cooperative and multi-device launches, managed memory, textures; reach
    them with gpuexec_driver_symbol() and the native handles.
*/
#ifndef GPUEXEC_H
#define GPUEXEC_H

#define GPUEXEC_VERSION_MAJOR 0
#define GPUEXEC_VERSION_MINOR 1
#define GPUEXEC_VERSION_PATCH 0
#define GPUEXEC_VERSION (GPUEXEC_VERSION_MAJOR * 10000 + GPUEXEC_VERSION_MINOR * 100 + GPUEXEC_VERSION_PATCH)

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <type_traits>
#endif

#if defined(GPUEXEC_STATIC)
#  undef GPUEXEC_API
#  if defined(__GNUC__)
#    define GPUEXEC_API static __attribute__((unused))
#  else
#    define GPUEXEC_API static
#  endif
#elif !defined(GPUEXEC_API)
#  if defined(__GNUC__) && !defined(_WIN32)
#    define GPUEXEC_API __attribute__((visibility("hidden")))
#  else
#    define GPUEXEC_API
#  endif
#endif

/* Calls that can fail in a way worth finding carry the caller's place. They are macros over a function of the same name that has
   one parameter more, `const char *where` ("file.c:12" or NULL), in front: (gpuexec_alloc)(NULL, ctx, 64) calls it directly,
   from a function pointer or another language. In the prototypes below GXI_WHERE stands for that parameter. */
#define GXI_STRING2(x) #x
#define GXI_STRING(x) GXI_STRING2(x)
#ifdef GPUEXEC_NO_HERE
#  define GPUEXEC_HERE ((const char *)0)
#else
#  define GPUEXEC_HERE (__FILE__ ":" GXI_STRING(__LINE__))
#endif
#define GXI_WHERE const char *where,

#ifdef __cplusplus
extern "C" {
#endif

/* Exactly CUDA's tags, so that this header and cuda.h can be included in any order, or this one alone. */
struct CUctx_st; struct CUmod_st; struct CUfunc_st; struct CUstream_st; struct CUevent_st;

/* =====================================================================================================================
   >>api
   ---------------------------------------------------------------------------------------------------------------------
   >>types   Results, handles, device addresses. */

typedef enum gpuexec_result {
    GPUEXEC_OK = 0,
    GPUEXEC_NOT_READY = 1,              /* a query's answer: the work is still running. Not an error, never latched */
    /* the call is wrong */
    GPUEXEC_BAD_ARGUMENT = 10,          /* NULL, zero, out of range, a desc that was not zeroed */
    GPUEXEC_BAD_HANDLE = 11,            /* a handle that was never made, or made by another copy of this header */
    GPUEXEC_STALE_HANDLE = 12,          /* its object was destroyed, or ended with its context or module */
    GPUEXEC_WRONG_KIND = 13,            /* an event where a stream is wanted */
    GPUEXEC_WRONG_CONTEXT = 14,         /* kernel and stream, or event and stream, of different contexts */
    GPUEXEC_TOO_LATE = 15,              /* gpuexec_setup after the first use */
    /* the machine */
    GPUEXEC_NO_DRIVER = 20,             /* no driver library could be loaded, or it is the toolkit's stub */
    GPUEXEC_OLD_DRIVER = 21,            /* the driver lacks what the call needs; the text says which version has it */
    GPUEXEC_NO_DEVICE = 22,             /* no GPU, or no device of that ordinal */
    GPUEXEC_FORKED = 23,                /* a child of fork() cannot use its parent's CUDA */
    GPUEXEC_NOT_SUPPORTED = 24,         /* this device or driver cannot do it */
    /* memory */
    GPUEXEC_OUT_OF_HOST_MEMORY = 30,
    GPUEXEC_OUT_OF_DEVICE_MEMORY = 31,
    /* code */
    GPUEXEC_BAD_IMAGE = 40,             /* broken PTX (the log is in the text), or not an image at all */
    GPUEXEC_IMAGE_TOO_NEW = 41,         /* PTX .version or .target newer than driver or device, or no code for this device */
    GPUEXEC_NOT_FOUND = 42,             /* no kernel or variable of that name */
    GPUEXEC_FILE_ERROR = 43,            /* a file cannot be opened or read */
    /* launching and running */
    GPUEXEC_BAD_LAUNCH = 50,            /* grid, block or shared memory out of the device's or the kernel's limits */
    GPUEXEC_BAD_PARAMETERS = 51,        /* wrong number or size of kernel arguments */
    GPUEXEC_KERNEL_FAILED = 60,         /* illegal address, trap ... in a kernel. Sticky: the process must end to use CUDA again */
    GPUEXEC_DRIVER_ERROR = 90           /* any other answer of the driver: see gpuexec_error.driver_result */
} gpuexec_result;

/* Handles: copied freely, compared by .id. {0} means "never made". They stay distinguishable from all others, also after their object is gone. */
typedef struct gpuexec_context { uint64_t id; } gpuexec_context;
typedef struct gpuexec_module  { uint64_t id; } gpuexec_module;
typedef struct gpuexec_kernel  { uint64_t id; } gpuexec_kernel;
typedef struct gpuexec_stream  { uint64_t id; } gpuexec_stream;
typedef struct gpuexec_event   { uint64_t id; } gpuexec_event;

typedef unsigned long long gpuexec_ptr;      /* a device address, as CUdeviceptr; 0 is none */

/* ---------------------------------------------------------------------------------------------------------------------
   >>error   What failed on the calling thread. Texts belong to the library and live until the next failure on this thread. */

typedef struct gpuexec_error {
    gpuexec_result result;
    int            driver_result;            /* the CUresult, 0 if the driver was not asked or not the one to refuse */
    const char    *driver_result_name;       /* "CUDA_ERROR_INVALID_VALUE", or NULL */
    const char    *driver_call;              /* "cuLaunchKernel", or NULL */
    const char    *function;                 /* "gpuexec_launch" */
    const char    *where;                    /* "main.c:12", or NULL */
    const char    *message;                  /* what went wrong, one line, without the rest */
    const char    *log;                      /* the JIT compiler's whole log, or NULL */
    const char    *cure;                     /* what to do, or NULL */
    int            asynchronous;             /* 1: an earlier kernel or copy failed; this call only met it */
    int            sticky;                   /* 1: every further call of this process will fail alike */
    const char    *text;                     /* all of it, several lines, as gpuexec_error_text() */
} gpuexec_error;

/* The last failure on this thread in words, ending in a newline; "" if there was none. Never NULL. */
GPUEXEC_API const char *gpuexec_error_text(void);

/* The same in parts. Never NULL; .result is GPUEXEC_OK if nothing failed yet on this thread. */
GPUEXEC_API const gpuexec_error *gpuexec_error_detail(void);

/* Returns the latched first failure of this thread and takes it, so that work is accepted again; GPUEXEC_OK if there is none.
   gpuexec_error_text() then is that failure's text. */
GPUEXEC_API gpuexec_result gpuexec_take_error(void);

/* "GPUEXEC_BAD_LAUNCH" and so on; "unknown gpuexec_result" for other numbers. */
GPUEXEC_API const char *gpuexec_result_name(gpuexec_result result);

/* 1 if the handle (of any kind) is that of a living object of this copy of the library, else 0. A question: latches nothing. */
#define gpuexec_ok(handle) gpuexec_id_ok((handle).id)
GPUEXEC_API int gpuexec_id_ok(uint64_t id);

/* Why the handle (of any kind) is not ok: the text of the failure for one in the failed state. "" if it is ok. Same lifetime as gpuexec_error_text(). */
#define gpuexec_why(handle) gpuexec_id_why((handle).id)
GPUEXEC_API const char *gpuexec_id_why(uint64_t id);

/* ---------------------------------------------------------------------------------------------------------------------
   >>setup   Start, shutdown, logger, allocator, trace. */

typedef enum gpuexec_log_level { GPUEXEC_LOG_ERROR = 1, GPUEXEC_LOG_WARNING = 2, GPUEXEC_LOG_TRACE = 3 } gpuexec_log_level;

/* Called with one complete message, newline at its end, on the thread that met it. It must not call the library. */
typedef void (*gpuexec_log_function)(void *user, gpuexec_log_level level, const char *text);

/* realloc's contract: p NULL allocates, bytes 0 frees and returns NULL, NULL otherwise means out of memory. From any thread. */
typedef void *(*gpuexec_realloc_function)(void *user, void *p, size_t bytes);

/* All descs: zero-initialise ({0} in C, {} in C++), then set what you need; zero means the default, and NULL for the whole desc means all defaults. */
typedef struct gpuexec_setup_desc {
    uint32_t                 start_canary;       /* leave 0, as end_canary: tells a desc that was never zeroed */
    int                      ignore_environment; /* 1: GPUEXEC_DRIVER and GPUEXEC_TRACE have no effect */
    const char              *driver_path;        /* library to load instead of the system's driver; tried alone */
    int                      no_latch;           /* 1: failures are not latched (for programs that check every call) */
    int                      trace;              /* 1: every driver call to the logger, or to stderr if there is none */
    int                      report_leaks;       /* 1: gpuexec_shutdown logs what was not destroyed, with file and line (stderr without logger) */
    gpuexec_log_function     log;                /* NULL: nothing is logged */
    void                    *log_user;
    gpuexec_realloc_function realloc_function;   /* NULL: realloc and free */
    void                    *realloc_user;
    uint32_t                 end_canary;
} gpuexec_setup_desc;

/* Loads the driver and starts CUDA (cuInit: hundreds of milliseconds). Optional: the first call that needs it does the same with defaults.
   After that first use it is GPUEXEC_TOO_LATE, and the text names the first use. May be called again after a failure or gpuexec_shutdown. */
#define gpuexec_setup(...) gpuexec_setup(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_setup)(GXI_WHERE const gpuexec_setup_desc *desc);

/* Destroys every object that still lives (streams finish their work first), releases the contexts, and returns to the state before the first use; handles
   made before stay stale. The driver library stays loaded. A shared library that uses gpuexec calls it before it is unloaded. */
GPUEXEC_API void gpuexec_shutdown(void);

/* The driver's version as CUDA counts: 12040 is 12.4. 0 if there is no driver (gpuexec_error_text() says why). Starts the library. cuDriverGetVersion. */
GPUEXEC_API int gpuexec_driver_version(void);

/* The path of the library that was loaded, "" if none. Starts the library. */
GPUEXEC_API const char *gpuexec_driver_path(void);

/* A driver entry point by base name and the CUDA version whose ABI is meant, e.g. ("cuGraphLaunch", 10000); NULL if this driver has none. For what gpuexec does
   not wrap. cuGetProcAddress. */
GPUEXEC_API void *gpuexec_driver_symbol(const char *name, int version);

/* ---------------------------------------------------------------------------------------------------------------------
   >>device   Which GPUs there are. Questions: they start the library but latch nothing. */

typedef struct gpuexec_device_info {
    char          name[256];
    char          pci_bus_id[32];                /* "0000:1b:00.0" */
    unsigned char uuid[16];
    int           compute_capability;            /* 90 for 9.0 */
    int           multiprocessors;
    int           warp_size;
    int           max_threads_per_block;
    int           max_threads_per_multiprocessor;
    int           max_block[3], max_grid[3];
    int           registers_per_block;
    int           async_engines;                 /* copies that can run beside kernels */
    int           cooperative_launch;            /* 1: cooperative grids are possible */
    int           integrated;                    /* 1: shares the host's memory */
    int           clock_khz;
    size_t        total_memory;                  /* bytes */
    size_t        l2_bytes;
    size_t        shared_per_block;              /* bytes without opting in, usually 48 KiB */
    size_t        shared_per_block_optin;        /* bytes at most */
} gpuexec_device_info;

/* Number of devices; 0 without a driver or GPU (gpuexec_error_text() says why). cuDeviceGetCount. */
GPUEXEC_API int gpuexec_device_count(void);

/* Fills *info. GPUEXEC_NO_DEVICE for an ordinal that does not exist. cuDeviceGetName, cuDeviceGetAttribute and others. */
GPUEXEC_API gpuexec_result gpuexec_device_get_info(int device, gpuexec_device_info *info);

/* Any CUdevice_attribute by its number, as cuDeviceGetAttribute. */
GPUEXEC_API gpuexec_result gpuexec_device_get_attribute(int device, int attribute, int *value);

/* 1 if kernels on `device` can access memory of `peer`, else 0. cuDeviceCanAccessPeer. */
GPUEXEC_API int gpuexec_device_can_access_peer(int device, int peer);

/* ---------------------------------------------------------------------------------------------------------------------
   >>context   A context is where modules, memory, streams and events of one device live. */

typedef struct gpuexec_context_desc {
    uint32_t start_canary;
    unsigned flags;                              /* CU_CTX_SCHED_* for the primary context: 1 spin, 2 yield, 4 blocking sync; 0 leaves them as they are */
    uint32_t end_canary;
} gpuexec_context_desc;

/* Opens a device: retains its primary context (about 100 ms the first time). Every call is a handle and a retain of its own.
   cuDevicePrimaryCtxRetain. */
#define gpuexec_context_open(...) gpuexec_context_open(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_context (gpuexec_context_open)(GXI_WHERE int device, const gpuexec_context_desc *desc);

/* Adopts a context that someone else made and will destroy, after the handle was closed. NULL adopts the calling thread's current one. */
#define gpuexec_context_from_native(...) gpuexec_context_from_native(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_context (gpuexec_context_from_native)(GXI_WHERE struct CUctx_st *native);

/* The CUcontext; NULL if the handle is not ok. */
GPUEXEC_API struct CUctx_st *gpuexec_context_native(gpuexec_context context);

/* The device's ordinal; -1 if the handle is not ok. */
GPUEXEC_API int gpuexec_context_device(gpuexec_context context);

/* Bytes of device memory free now and in all; either pointer may be NULL. cuMemGetInfo. */
GPUEXEC_API gpuexec_result gpuexec_context_get_memory(gpuexec_context context, size_t *free_bytes, size_t *total_bytes);

/* Waits for all work of the context. Returns and takes the thread's latched failure. cuCtxSynchronize. */
#define gpuexec_context_sync(...) gpuexec_context_sync(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_context_sync)(GXI_WHERE gpuexec_context context);

/* Destroys everything made through this handle (memory, modules, streams, events), then releases the context. An adopted context itself
   stays. cuDevicePrimaryCtxRelease. */
GPUEXEC_API gpuexec_result gpuexec_context_close(gpuexec_context context);

/* ---------------------------------------------------------------------------------------------------------------------
   >>module   Images and the kernels in them. */

typedef struct gpuexec_module_desc {
    uint32_t    start_canary;
    const char *name;                            /* for messages; default: the file's name, or "PTX image" */
    int         max_registers;                   /* per thread; CU_JIT_MAX_REGISTERS */
    int         optimization;                    /* 1..4 as -O1..-O4; 0: the default, 4. CU_JIT_OPTIMIZATION_LEVEL */
    int         debug_info, line_info;           /* 1: generate; CU_JIT_GENERATE_DEBUG_INFO, CU_JIT_GENERATE_LINE_INFO */
    int         verbose;                         /* 1: the compiler tells registers and the like in gpuexec_module_log(). CU_JIT_LOG_VERBOSE */
    uint32_t    end_canary;
} gpuexec_module_desc;

/* Loads an image from memory: PTX text, cubin or fatbin. bytes: its length, or 0 if it is PTX that ends in NUL or a binary (which
   knows its own length). The image may be freed afterwards. Compiling PTX takes milliseconds to seconds the first time. cuModuleLoadDataEx. */
#define gpuexec_module_load(...) gpuexec_module_load(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_module (gpuexec_module_load)(GXI_WHERE gpuexec_context context, const void *image, size_t bytes, const gpuexec_module_desc *desc);

/* The same from a file. A relative path is relative to the working directory. */
#define gpuexec_module_load_file(...) gpuexec_module_load_file(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_module (gpuexec_module_load_file)(GXI_WHERE gpuexec_context context, const char *path, const gpuexec_module_desc *desc);

/* Adopts a CUmodule that someone else unloads. */
#define gpuexec_module_from_native(...) gpuexec_module_from_native(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_module (gpuexec_module_from_native)(GXI_WHERE gpuexec_context context, struct CUmod_st *native);
GPUEXEC_API struct CUmod_st *gpuexec_module_native(gpuexec_module module);

/* What the compiler said when it succeeded: warnings, and more with desc.verbose. "" if nothing. Lives as long as the module. */
GPUEXEC_API const char *gpuexec_module_log(gpuexec_module module);

/* Milliseconds that the driver says it spent compiling; 0 if it took the image as it was or from its cache, negative if the handle is not ok. */
GPUEXEC_API double gpuexec_module_jit_ms(gpuexec_module module);

/* Kernels in the image, and the name of each; -1 and NULL when unknown (a binary on a driver before 12.4). Names live as long as the module. */
GPUEXEC_API int gpuexec_module_kernel_count(gpuexec_module module);
GPUEXEC_API const char *gpuexec_module_kernel_name(gpuexec_module module, int index);

/* Address, and size in bytes if `bytes` is not NULL, of a __device__ or __constant__ variable; 0 if it fails. cuModuleGetGlobal. */
#define gpuexec_module_global(...) gpuexec_module_global(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_ptr (gpuexec_module_global)(GXI_WHERE gpuexec_module module, const char *name, size_t *bytes);

/* Unloads; the handles of its kernels end. Waits for running work as the driver needs it. cuModuleUnload. */
GPUEXEC_API gpuexec_result gpuexec_module_unload(gpuexec_module module);

/* The kernel of that name. It lives as long as its module; asking twice gives the same handle. cuModuleGetFunction. */
#define gpuexec_kernel_get(...) gpuexec_kernel_get(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_kernel (gpuexec_kernel_get)(GXI_WHERE gpuexec_module module, const char *name);

/* Adopts a CUfunction of that context. */
#define gpuexec_kernel_from_native(...) gpuexec_kernel_from_native(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_kernel (gpuexec_kernel_from_native)(GXI_WHERE gpuexec_context context, struct CUfunc_st *native);
GPUEXEC_API struct CUfunc_st *gpuexec_kernel_native(gpuexec_kernel kernel);

typedef struct gpuexec_kernel_info {
    const char *name;                            /* lives as long as the kernel */
    int         parameters;                      /* how many; -1 if not known, then launches are not checked */
    int         max_threads_per_block;           /* that this kernel can run with */
    int         registers;                       /* per thread */
    int         ptx_version, binary_version;     /* 75 for compute capability 7.5 */
    size_t      static_shared, local_bytes, constant_bytes;
} gpuexec_kernel_info;

/* cuFuncGetAttribute. A question. */
GPUEXEC_API gpuexec_result gpuexec_kernel_get_info(gpuexec_kernel kernel, gpuexec_kernel_info *info);

/* Size in bytes of parameter `index`, 0 if it is not known or there is none. cuFuncGetParamInfo, or the PTX text. */
GPUEXEC_API size_t gpuexec_kernel_parameter_size(gpuexec_kernel kernel, int index);

/* How many blocks of that size, with that much dynamic shared memory in bytes, run on one multiprocessor at a time; -1 if it fails.
   cuOccupancyMaxActiveBlocksPerMultiprocessor. */
GPUEXEC_API int gpuexec_kernel_occupancy(gpuexec_kernel kernel, unsigned block_threads, size_t shared_bytes);

/* ---------------------------------------------------------------------------------------------------------------------
   >>memory   All sizes in bytes unless a name says otherwise. */

/* Device memory, uninitialised, aligned to 256 bytes at least; 0 if it fails. cuMemAlloc. */
#define gpuexec_alloc(...) gpuexec_alloc(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_ptr (gpuexec_alloc)(GXI_WHERE gpuexec_context context, size_t bytes);

/* Frees what gpuexec_alloc gave; 0 is ignored. Waits for work that may use it. cuMemFree. */
#define gpuexec_free(...) gpuexec_free(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_free)(GXI_WHERE gpuexec_ptr address);

/* Page-locked host memory, uninitialised, which copies use without staging and kernels can access by gpuexec_pinned_address(); NULL if it
   fails. Dear to make (it locks pages), so make it once. cuMemHostAlloc with PORTABLE and DEVICEMAP. */
#define gpuexec_alloc_pinned(...) gpuexec_alloc_pinned(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API void *(gpuexec_alloc_pinned)(GXI_WHERE gpuexec_context context, size_t bytes);

/* Frees what gpuexec_alloc_pinned gave; NULL is ignored. cuMemFreeHost. */
#define gpuexec_free_pinned(...) gpuexec_free_pinned(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_free_pinned)(GXI_WHERE void *memory);

/* The device address of pinned memory (or of a place inside), for kernels; 0 if it is not pinned. cuMemHostGetDevicePointer. */
#define gpuexec_pinned_address(...) gpuexec_pinned_address(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_ptr (gpuexec_pinned_address)(GXI_WHERE void *memory);

/* Host to device, device to host, device to device, on a stream: queued, and done when the stream has come that far. 0 bytes do nothing.
   cuMemcpyHtoDAsync, cuMemcpyDtoHAsync, cuMemcpyDtoDAsync. */
#define gpuexec_copy_in(...)  gpuexec_copy_in(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_out(...) gpuexec_copy_out(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy(...)     gpuexec_copy(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_copy_in)(GXI_WHERE gpuexec_stream stream, gpuexec_ptr to, const void *from, size_t bytes);
GPUEXEC_API gpuexec_result (gpuexec_copy_out)(GXI_WHERE gpuexec_stream stream, void *to, gpuexec_ptr from, size_t bytes);
GPUEXEC_API gpuexec_result (gpuexec_copy)(GXI_WHERE gpuexec_stream stream, gpuexec_ptr to, gpuexec_ptr from, size_t bytes);

/* Fills with a byte, or with `count` 32-bit words (the address must be a multiple of 4), on a stream. cuMemsetD8Async, cuMemsetD32Async. */
#define gpuexec_fill(...)   gpuexec_fill(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill32(...) gpuexec_fill32(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_fill)(GXI_WHERE gpuexec_stream stream, gpuexec_ptr to, unsigned char value, size_t bytes);
GPUEXEC_API gpuexec_result (gpuexec_fill32)(GXI_WHERE gpuexec_stream stream, gpuexec_ptr to, uint32_t value, size_t count);

/* The same without a stream: finished when they return (ordered on the legacy stream). Refused while a failure is latched, which they do
   not take. cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD, cuMemsetD8. */
#define gpuexec_copy_in_now(...)  gpuexec_copy_in_now(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_out_now(...) gpuexec_copy_out_now(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_now(...)     gpuexec_copy_now(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill_now(...)     gpuexec_fill_now(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_copy_in_now)(GXI_WHERE gpuexec_context context, gpuexec_ptr to, const void *from, size_t bytes);
GPUEXEC_API gpuexec_result (gpuexec_copy_out_now)(GXI_WHERE gpuexec_context context, void *to, gpuexec_ptr from, size_t bytes);
GPUEXEC_API gpuexec_result (gpuexec_copy_now)(GXI_WHERE gpuexec_context context, gpuexec_ptr to, gpuexec_ptr from, size_t bytes);
GPUEXEC_API gpuexec_result (gpuexec_fill_now)(GXI_WHERE gpuexec_context context, gpuexec_ptr to, unsigned char value, size_t bytes);

/* ---------------------------------------------------------------------------------------------------------------------
   >>stream   Queues of work. */

typedef struct gpuexec_stream_desc {
    uint32_t start_canary;
    int      non_blocking;                       /* 1: not ordered against the legacy stream. CU_STREAM_NON_BLOCKING */
    int      priority;                           /* lower numbers first, as CUDA; clamped to the device's range */
    uint32_t end_canary;
} gpuexec_stream_desc;

/* cuStreamCreateWithPriority. */
#define gpuexec_stream_create(...) gpuexec_stream_create(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_stream (gpuexec_stream_create)(GXI_WHERE gpuexec_context context, const gpuexec_stream_desc *desc);

/* The context's legacy default stream (the "NULL stream"). The same handle each time; destroying it is an error. */
#define gpuexec_stream_legacy(...) gpuexec_stream_legacy(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_stream (gpuexec_stream_legacy)(GXI_WHERE gpuexec_context context);

/* Adopts a CUstream (or cudaStream_t) that someone else destroys; it must belong to `context`. NULL is the legacy stream. */
#define gpuexec_stream_from_native(...) gpuexec_stream_from_native(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_stream (gpuexec_stream_from_native)(GXI_WHERE gpuexec_context context, struct CUstream_st *native);

/* The CUstream; for the legacy stream CU_STREAM_LEGACY ((CUstream)1), NULL if the handle is not ok. */
GPUEXEC_API struct CUstream_st *gpuexec_stream_native(gpuexec_stream stream);

/* Waits until all work of the stream is done. Returns and takes the thread's latched failure. cuStreamSynchronize. */
#define gpuexec_stream_sync(...) gpuexec_stream_sync(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_stream_sync)(GXI_WHERE gpuexec_stream stream);

/* GPUEXEC_OK if all work is done, GPUEXEC_NOT_READY if not. A question. cuStreamQuery. */
GPUEXEC_API gpuexec_result gpuexec_stream_query(gpuexec_stream stream);

/* Later work on `stream` waits until the event's last record is reached, on whichever stream of whichever device. cuStreamWaitEvent. */
#define gpuexec_stream_wait_event(...) gpuexec_stream_wait_event(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_stream_wait_event)(GXI_WHERE gpuexec_stream stream, gpuexec_event event);

/* Ends the handle; work already queued still runs. An adopted stream itself stays. cuStreamDestroy. */
GPUEXEC_API gpuexec_result gpuexec_stream_destroy(gpuexec_stream stream);

/* ---------------------------------------------------------------------------------------------------------------------
   >>event   Points in streams. */

typedef struct gpuexec_event_desc {
    uint32_t start_canary;
    int      no_timing;                          /* 1: cheaper, for order only. CU_EVENT_DISABLE_TIMING */
    int      blocking_sync;                      /* 1: gpuexec_event_sync sleeps instead of spinning. CU_EVENT_BLOCKING_SYNC */
    uint32_t end_canary;
} gpuexec_event_desc;

/* cuEventCreate. */
#define gpuexec_event_create(...) gpuexec_event_create(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_event (gpuexec_event_create)(GXI_WHERE gpuexec_context context, const gpuexec_event_desc *desc);

/* Adopts a CUevent (or cudaEvent_t) that someone else destroys. */
#define gpuexec_event_from_native(...) gpuexec_event_from_native(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_event (gpuexec_event_from_native)(GXI_WHERE gpuexec_context context, struct CUevent_st *native);
GPUEXEC_API struct CUevent_st *gpuexec_event_native(gpuexec_event event);

/* The event is reached when the work queued on the stream so far is done. Event and stream must be of one context. cuEventRecord. */
#define gpuexec_event_record(...) gpuexec_event_record(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_event_record)(GXI_WHERE gpuexec_event event, gpuexec_stream stream);

/* Waits until the last record is reached (at once if there was none). Returns and takes the thread's latched failure. cuEventSynchronize. */
#define gpuexec_event_sync(...) gpuexec_event_sync(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_event_sync)(GXI_WHERE gpuexec_event event);

/* GPUEXEC_OK if the last record is reached, GPUEXEC_NOT_READY if not. A question. cuEventQuery. */
GPUEXEC_API gpuexec_result gpuexec_event_query(gpuexec_event event);

/* Milliseconds from `start` to `stop`; both must be recorded and reached (gpuexec_event_sync(stop) first). Negative if it cannot be told: gpuexec_error_text()
   says why. A question. cuEventElapsedTime. */
#define gpuexec_event_elapsed_ms(...) gpuexec_event_elapsed_ms(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API double (gpuexec_event_elapsed_ms)(GXI_WHERE gpuexec_event start, gpuexec_event stop);

/* cuEventDestroy; an adopted event itself stays. */
GPUEXEC_API gpuexec_result gpuexec_event_destroy(gpuexec_event event);

/* ---------------------------------------------------------------------------------------------------------------------
   >>launch   Grids, arguments, launching. */

typedef struct gpuexec_dims {
    unsigned grid_x, grid_y, grid_z;             /* blocks in the grid; y and z: 0 means 1 */
    unsigned block_x, block_y, block_z;          /* threads in a block; y and z: 0 means 1 */
    unsigned shared_bytes;                       /* dynamic shared memory per block */
} gpuexec_dims;

/* Enough blocks of block_x (times block_y) threads to cover n (width times height) threads: the kernel checks its index against n. n 0 gives an
   empty grid, which gpuexec_launch refuses. Pure functions. */
GPUEXEC_API gpuexec_dims gpuexec_grid_for(size_t n, unsigned block_x);
GPUEXEC_API gpuexec_dims gpuexec_grid_for_2d(size_t width, size_t height, unsigned block_x, unsigned block_y);

/* Exactly these: so many blocks of so many threads, with so many bytes of dynamic shared memory. */
GPUEXEC_API gpuexec_dims gpuexec_grid(unsigned blocks, unsigned threads, unsigned shared_bytes);

typedef struct gpuexec_args {                    /* made by GPUEXEC_ARGS; or by hand: */
    const void *const    *addresses;             /* of each argument's value */
    const unsigned short *sizes;                 /* of each, in bytes; NULL: sizes are not checked */
    unsigned              count;
} gpuexec_args;

/* Launches the kernel on the stream and returns at once. dims and args are checked against the kernel first; a launch that the driver
   refuses is explained with the numbers. Argument values are copied during the call. Kernel and stream must be of one context.
   In C: gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, b)), or GPUEXEC_NO_ARGS for a kernel without parameters.
   In C++: the same, or the values directly: gpuexec_launch(kernel, stream, dims, a, 2 * b). cuLaunchKernel. */
#define gpuexec_launch(...) gpuexec_launch(GPUEXEC_HERE, __VA_ARGS__)
GPUEXEC_API gpuexec_result (gpuexec_launch)(GXI_WHERE gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims dims, gpuexec_args args);

/* GPUEXEC_ARGS: the addresses and sizes of 1 to 64 lvalues, as a gpuexec_args that lives until the end of the enclosing block. */
#ifdef __cplusplus
#  define GPUEXEC_ARGS(...) __VA_ARGS__
#  define GPUEXEC_NO_ARGS (gpuexec_args())
#else
#  define GPUEXEC_ARGS(...) ((gpuexec_args){ \
       (const void *const[]){ GXI_EACH(GXI_ADDRESS, __VA_ARGS__) }, \
       (const unsigned short[]){ GXI_EACH(GXI_SIZE, __VA_ARGS__) }, GXI_COUNT(__VA_ARGS__) })
#  define GPUEXEC_NO_ARGS ((gpuexec_args){ 0, 0, 0 })
#endif
#define GXI_ADDRESS(x) (const void *)&(x)
#define GXI_SIZE(x) sizeof(x)
#define GXI_CAT2(a, b) a##b
#define GXI_CAT(a, b) GXI_CAT2(a, b)
#define GXI_EACH(m, ...) GXI_CAT(GXI_EACH_, GXI_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
/* >>> generated: one line per count, and 65 to 128 arguments to a name that says what is wrong */
#define GXI_EACH_1(m, x) m(x)
#define GXI_EACH_2(m, x, ...) m(x), GXI_EACH_1(m, __VA_ARGS__)
#define GXI_EACH_3(m, x, ...) m(x), GXI_EACH_2(m, __VA_ARGS__)
#define GXI_EACH_4(m, x, ...) m(x), GXI_EACH_3(m, __VA_ARGS__)
#define GXI_EACH_5(m, x, ...) m(x), GXI_EACH_4(m, __VA_ARGS__)
#define GXI_EACH_6(m, x, ...) m(x), GXI_EACH_5(m, __VA_ARGS__)
#define GXI_EACH_7(m, x, ...) m(x), GXI_EACH_6(m, __VA_ARGS__)
#define GXI_EACH_8(m, x, ...) m(x), GXI_EACH_7(m, __VA_ARGS__)
#define GXI_EACH_9(m, x, ...) m(x), GXI_EACH_8(m, __VA_ARGS__)
#define GXI_EACH_10(m, x, ...) m(x), GXI_EACH_9(m, __VA_ARGS__)
#define GXI_EACH_11(m, x, ...) m(x), GXI_EACH_10(m, __VA_ARGS__)
#define GXI_EACH_12(m, x, ...) m(x), GXI_EACH_11(m, __VA_ARGS__)
#define GXI_EACH_13(m, x, ...) m(x), GXI_EACH_12(m, __VA_ARGS__)
#define GXI_EACH_14(m, x, ...) m(x), GXI_EACH_13(m, __VA_ARGS__)
#define GXI_EACH_15(m, x, ...) m(x), GXI_EACH_14(m, __VA_ARGS__)
#define GXI_EACH_16(m, x, ...) m(x), GXI_EACH_15(m, __VA_ARGS__)
#define GXI_EACH_17(m, x, ...) m(x), GXI_EACH_16(m, __VA_ARGS__)
#define GXI_EACH_18(m, x, ...) m(x), GXI_EACH_17(m, __VA_ARGS__)
#define GXI_EACH_19(m, x, ...) m(x), GXI_EACH_18(m, __VA_ARGS__)
#define GXI_EACH_20(m, x, ...) m(x), GXI_EACH_19(m, __VA_ARGS__)
#define GXI_EACH_21(m, x, ...) m(x), GXI_EACH_20(m, __VA_ARGS__)
#define GXI_EACH_22(m, x, ...) m(x), GXI_EACH_21(m, __VA_ARGS__)
#define GXI_EACH_23(m, x, ...) m(x), GXI_EACH_22(m, __VA_ARGS__)
#define GXI_EACH_24(m, x, ...) m(x), GXI_EACH_23(m, __VA_ARGS__)
#define GXI_EACH_25(m, x, ...) m(x), GXI_EACH_24(m, __VA_ARGS__)
#define GXI_EACH_26(m, x, ...) m(x), GXI_EACH_25(m, __VA_ARGS__)
#define GXI_EACH_27(m, x, ...) m(x), GXI_EACH_26(m, __VA_ARGS__)
#define GXI_EACH_28(m, x, ...) m(x), GXI_EACH_27(m, __VA_ARGS__)
#define GXI_EACH_29(m, x, ...) m(x), GXI_EACH_28(m, __VA_ARGS__)
#define GXI_EACH_30(m, x, ...) m(x), GXI_EACH_29(m, __VA_ARGS__)
#define GXI_EACH_31(m, x, ...) m(x), GXI_EACH_30(m, __VA_ARGS__)
#define GXI_EACH_32(m, x, ...) m(x), GXI_EACH_31(m, __VA_ARGS__)
#define GXI_EACH_33(m, x, ...) m(x), GXI_EACH_32(m, __VA_ARGS__)
#define GXI_EACH_34(m, x, ...) m(x), GXI_EACH_33(m, __VA_ARGS__)
#define GXI_EACH_35(m, x, ...) m(x), GXI_EACH_34(m, __VA_ARGS__)
#define GXI_EACH_36(m, x, ...) m(x), GXI_EACH_35(m, __VA_ARGS__)
#define GXI_EACH_37(m, x, ...) m(x), GXI_EACH_36(m, __VA_ARGS__)
#define GXI_EACH_38(m, x, ...) m(x), GXI_EACH_37(m, __VA_ARGS__)
#define GXI_EACH_39(m, x, ...) m(x), GXI_EACH_38(m, __VA_ARGS__)
#define GXI_EACH_40(m, x, ...) m(x), GXI_EACH_39(m, __VA_ARGS__)
#define GXI_EACH_41(m, x, ...) m(x), GXI_EACH_40(m, __VA_ARGS__)
#define GXI_EACH_42(m, x, ...) m(x), GXI_EACH_41(m, __VA_ARGS__)
#define GXI_EACH_43(m, x, ...) m(x), GXI_EACH_42(m, __VA_ARGS__)
#define GXI_EACH_44(m, x, ...) m(x), GXI_EACH_43(m, __VA_ARGS__)
#define GXI_EACH_45(m, x, ...) m(x), GXI_EACH_44(m, __VA_ARGS__)
#define GXI_EACH_46(m, x, ...) m(x), GXI_EACH_45(m, __VA_ARGS__)
#define GXI_EACH_47(m, x, ...) m(x), GXI_EACH_46(m, __VA_ARGS__)
#define GXI_EACH_48(m, x, ...) m(x), GXI_EACH_47(m, __VA_ARGS__)
#define GXI_EACH_49(m, x, ...) m(x), GXI_EACH_48(m, __VA_ARGS__)
#define GXI_EACH_50(m, x, ...) m(x), GXI_EACH_49(m, __VA_ARGS__)
#define GXI_EACH_51(m, x, ...) m(x), GXI_EACH_50(m, __VA_ARGS__)
#define GXI_EACH_52(m, x, ...) m(x), GXI_EACH_51(m, __VA_ARGS__)
#define GXI_EACH_53(m, x, ...) m(x), GXI_EACH_52(m, __VA_ARGS__)
#define GXI_EACH_54(m, x, ...) m(x), GXI_EACH_53(m, __VA_ARGS__)
#define GXI_EACH_55(m, x, ...) m(x), GXI_EACH_54(m, __VA_ARGS__)
#define GXI_EACH_56(m, x, ...) m(x), GXI_EACH_55(m, __VA_ARGS__)
#define GXI_EACH_57(m, x, ...) m(x), GXI_EACH_56(m, __VA_ARGS__)
#define GXI_EACH_58(m, x, ...) m(x), GXI_EACH_57(m, __VA_ARGS__)
#define GXI_EACH_59(m, x, ...) m(x), GXI_EACH_58(m, __VA_ARGS__)
#define GXI_EACH_60(m, x, ...) m(x), GXI_EACH_59(m, __VA_ARGS__)
#define GXI_EACH_61(m, x, ...) m(x), GXI_EACH_60(m, __VA_ARGS__)
#define GXI_EACH_62(m, x, ...) m(x), GXI_EACH_61(m, __VA_ARGS__)
#define GXI_EACH_63(m, x, ...) m(x), GXI_EACH_62(m, __VA_ARGS__)
#define GXI_EACH_64(m, x, ...) m(x), GXI_EACH_63(m, __VA_ARGS__)
#define GXI_TOO_MANY GPUEXEC_ARGS_takes_at_most_64_arguments
#define GXI_COUNT(...) GXI_PICK(__VA_ARGS__, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, \
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, \
    45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, \
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GXI_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, \
    a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, \
    a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, \
    a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, a89, a90, a91, \
    a92, a93, a94, a95, a96, a97, a98, a99, a100, a101, a102, a103, a104, a105, a106, a107, a108, a109, a110, a111, a112, \
    a113, a114, a115, a116, a117, a118, a119, a120, a121, a122, a123, a124, a125, a126, a127, a128, n, ...) n
/* <<< generated */

#ifdef __cplusplus
} /* extern "C" */

/* ---------------------------------------------------------------------------------------------------------------------
   >>cplusplus   gpuexec_launch(kernel, stream, dims, values...): values of any trivially copyable types, rvalues too. The sizes are checked like
   GPUEXEC_ARGS's: pass 1u or 1.0f where the kernel wants unsigned or float. */

template <class... T> struct gxi_all_trivially_copyable : std::true_type {};
template <class T, class... U> struct gxi_all_trivially_copyable<T, U...>
    : std::integral_constant<bool, std::is_trivially_copyable<T>::value && gxi_all_trivially_copyable<U...>::value> {};

template <class... T>
inline gpuexec_result (gpuexec_launch)(GXI_WHERE gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims dims, const T &...values) {
    const void *const addresses[] = { static_cast<const void *>(&reinterpret_cast<const unsigned char &>(values))..., nullptr };
    const unsigned short sizes[] = { static_cast<unsigned short>(sizeof(T))..., 0 };
    static_assert(sizeof...(T) <= 64, "gpuexec_launch takes at most 64 kernel arguments");
    static_assert(gxi_all_trivially_copyable<T...>::value, "kernel arguments must be trivially copyable");
    gpuexec_args args = { addresses, sizes, static_cast<unsigned>(sizeof...(T)) };
    return (gpuexec_launch)(where, kernel, stream, dims, args);
}
#endif

/* >>end-of-api ======================================================================================================= */
#endif /* GPUEXEC_H */
