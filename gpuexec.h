/*  gpuexec.h - runs kernels on NVIDIA GPUs through the CUDA driver API, in one header.
    Version 0.2.0.  C99 or C++11.  No CUDA toolkit, no cuda.h, no link-time library: only libc and the dynamic loader.
    SPDX-License-Identifier: MIT OR Unlicense  (your choice; the texts are at the end of LICENSE)

    CONTENTS                             (search for the tag: it marks the section, its API and its implementation)

      >>start       the smallest program, and how to add the header to yours
      >>options     the macros that change how the header compiles
      >>manual      how things fit together, one chapter for each section of the API
      >>api         the public interface:
        >>types       results, handles, device addresses
        >>error       failures: what, where, why, and the cure
        >>setup       start, shutdown, logger, allocator, trace
        >>device      the GPUs of the machine
        >>context     opening a device, adopting another library's context
        >>module      PTX, cubin and fatbin images; kernels by name
        >>link        several images linked into one module
        >>memory      device and pinned memory, copies, fills
        >>copies      copies of boxes, arrays of copies
        >>stream      queues of work
        >>current     the stream that a thread uses in a context if a call names none
        >>pool        device memory allocated and freed in the order of a stream, and the pools that it comes from
        >>managed     memory that migrates between host and devices
        >>event       points in a stream: order and time
        >>launch      grids, arguments, launching
        >>params      packed parameters, prepared launches
        >>capture     streams that record their work
        >>graph       launching what a capture recorded
        >>barrier     a barrier across devices
        >>multi       one launch on several devices
        >>ipc         memory and events of other processes, and connections to these
        >>cplusplus   launches that take any values
        >>names       the names that programs use
      >>end-of-api
      >>impl        the implementation:
        >>platform    loader, mutex, thread-local storage, atomics
        >>driver      the table of driver entry points and its loading
        >>core        state, allocator, log, trace
        >>failure     each thread's last failure, the latch, the single function that records every failure
        >>begin       finding and starting the driver
        >>object      handles and their slots
        >>ranges      the table of allocations
        >>impl-setup, impl-device, impl-context, impl-shutdown, impl-image, impl-module, impl-link, impl-memory,
        >>impl-stream, impl-current, impl-pool, impl-managed, impl-event, impl-transfer, impl-copies, impl-launch,
        >>impl-params, impl-graph, impl-capture, impl-barrier, impl-multi, impl-ipc, impl-connection

    --------------------------------------------------------------------------------------------------------------------
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

    Only the call that waits is checked: it returns the first failure of all calls before it. Larger programs put the
    implementation into a separate two-line file, gpuexec.c:

        #define GPUEXEC_IMPLEMENTATION
        #include "gpuexec.h"

    Compile with `cc program.c -o program` (glibc before 2.34: add -ldl -lpthread). Compiling needs nothing from CUDA.
    Running needs an NVIDIA driver for CUDA 11.4 or later, or the CPU device from gpuexec's repository (see SETUP
    below).

    --------------------------------------------------------------------------------------------------------------------
    >>options   All are optional. Options marked "implementation" go in the file that defines GPUEXEC_IMPLEMENTATION,
                before the include.

      GPUEXEC_IMPLEMENTATION   in exactly one file: compiles the implementation there. Without it, the linker reports
                               "undefined reference to gpuexec_..." or "hidden symbol gpuexec_... isn't defined"; with
                               it in two files, "multiple definition"
      GPUEXEC_STATIC           before every include in a file: makes every function static and compiles the
                               implementation into that file
      GPUEXEC_API              how functions are declared; define it, identically in every file, to export them from a
                               shared library: -DGPUEXEC_API='__attribute__((visibility("default")))'. By default,
                               they are hidden, so that two libraries in one process, each with a copy of this header,
                               do not interfere with each other
      GPUEXEC_NO_MULTI         implementation: omits >>barrier and >>multi. Programs that call functions of these
                               sections fail to link, or, with GPUEXEC_STATIC, to compile
      GPUEXEC_NO_IPC           the same for >>ipc
      GPUEXEC_NO_HERE          any file: its calls do not pass the caller's file and line (smaller binaries)

    No macro changes the layout of a type. Run-time settings are the members of descs (structs of options, such as
    gpuexec_stream_desc) and two environment variables, GPUEXEC_DRIVER and GPUEXEC_TRACE.

    --------------------------------------------------------------------------------------------------------------------
    >>manual

    HOW ERRORS WORK (>>error)
      Most calls return a gpuexec_result, or the object that they create. You can check each call, or only once at the
      end:

      - A call that fails to create an object returns a handle in the *failed state*. A failed handle holds the reason:
        every call that uses it, except clean-up, fails with that reason, on any thread. gpuexec_ok(handle) tests a
        handle. A failed gpuexec_alloc returns 0. Before you use a pointer that the host dereferences, check it: on
        failure, gpuexec_alloc_pinned and gpuexec_prepared_argument return NULL.
      - The first failure to create or enqueue something is also *latched* on its thread. From then on, calls that
        enqueue work (launch, copy, fill, record, or make a stream wait) are refused with that first reason. So no work
        uses an object that was never created.
      - Calls that wait (gpuexec_stream_sync, gpuexec_context_sync, gpuexec_event_sync) return the latched failure and
        take it: afterwards the thread can enqueue work again. Check every one of these calls; gcc and clang warn if you
        do not. gpuexec_take_error() takes the failure without waiting.
      - Calls that create an object are not refused, so that you can try an alternative. Take the first failure before
        you launch the alternative. Seven such calls are refused nevertheless: gpuexec_stream_record, gpuexec_alloc_on
        and gpuexec_pool_alloc, because they enqueue work, gpuexec_linker_load, _image and _save, because an input may
        be missing, and gpuexec_capture_end, because the graph lacks what was refused.
      - Queries (marked "A query." below) and clean-up (free, destroy, unload, close) return their failures but never
        latch them. Clean-up is never refused, and does nothing for {0} and for failed handles.
      - Each thread has its own latch. A wait first returns the failure that is latched on its own thread, even if
        another stream caused it. If you use several streams and want to continue after a failure, end each batch of
        calls with gpuexec_take_error(): it reports whether the whole batch was enqueued.
      - Other threads also receive failures. If a launch, copy, fill, record, stream wait or gpuexec_alloc_on fails or
        is refused, its stream is marked. The next gpuexec_stream_sync of that stream, or gpuexec_context_sync, returns
        the failure, on any thread that has not latched a failure. Taking the failure on the thread where it occurred
        clears the marks. gpuexec_shutdown returns a failure that no thread has taken and no wait has returned. A failed
        handle carries its reason to other threads. The 0 of a failed gpuexec_alloc cannot: check it before you pass it
        to another thread.
      - gpuexec_error_text() describes the last failure of this thread: the place in your program, the cause with its
        numbers, the driver's result, and, if one is known, the cure (what to change). gpuexec_error_detail() has the
        same in parts. For driver calls that your program makes itself, gpuexec_driver_check() records a failure in the
        same way.
      - An error inside a kernel (illegal address, misalignment, trap, failed assert) is returned by a later call and
        marked as asynchronous. It is sticky: CUDA then refuses all further work of the *process*, and later failures
        repeat the first message.

      The library prints nothing by default, and never aborts. Set gpuexec_setup_desc.log to receive every failure as it
      happens. Set GPUEXEC_TRACE=1 in the environment to print every driver call to stderr, except look-ups of entry
      points and error texts. Arguments are printed as numbers (for a launch: function, grid, block, shared memory,
      stream, parameters).

    SETUP (>>setup)
      The first call that needs the driver loads it. gpuexec_setup() is optional: call it before that to change the
      defaults. The driver library is the first of these that can be loaded: gpuexec_setup_desc.driver_path;
      GPUEXEC_DRIVER from the environment (unless the process is privileged or the desc ignores the environment);
      libcuda.so.1 from the system (nvcuda.dll from the Windows system folder); the same library in known places (WSL,
      containers). If either of the first two names a library, no other is tried. For machines without a GPU, gpuexec's
      repository builds a CPU device: run `make simgpu`, then set GPUEXEC_DRIVER=.../build/libsimgpu.so. The CPU device
      is never used automatically.

    DEVICES (>>device)
      Devices are numbered from 0 to gpuexec_device_count() - 1, in the driver's order (CUDA_VISIBLE_DEVICES applies).

    CONTEXTS (>>context)
      gpuexec_context_open() retains the device's primary context, which the CUDA runtime, cuBLAS and PyTorch also use:
      gpuexec and these libraries can use each other's pointers and streams. gpuexec_context_create() creates a separate
      context.
      There are two ways to use a CUcontext that other code created. gpuexec_context_from_native() adopts the context:
      its owner must not destroy it before the handle is closed. gpuexec_context_attach() also increments the context's
      usage count: the context stays valid until all users have released it, in whatever order, including users of
      another copy of this header and users that do not use gpuexec.
      gpuexec_context_close() waits for the context's work (in an adopted context, only for the work on streams created
      through the handle), destroys everything created through the handle, closes the handles to those objects, and
      releases the context. gpuexec_context_retain() lets several parts of a program share one handle, which the last
      gpuexec_context_close closes. gpuexec_context_users() returns the number of users of that handle; no driver
      reports the usage count of the context itself.
      A context can be destroyed while a handle still refers to it: an adopted context by its owner, a primary context
      by cudaDeviceReset. The driver would crash if it received an object of that context. gpuexec therefore checks
      first whether the context still exists: for adopted contexts in every call, for all others only during clean-up.
      If the context no longer exists, the call returns GPUEXEC_STALE_HANDLE, and all handles to objects in that context
      are closed. gpuexec cannot detect the destruction of a context during a call: the owner must prevent it.
      The current context of a thread matters only to the calls that deal with it: gpuexec_context_push, _pop,
      _is_current and _stack_text, GPUEXEC_CONTEXT_SCOPE, and gpuexec_context_from_native and _attach with NULL. Only
      push, pop and the scope change it. For the few driver calls that need a current context, gpuexec makes the
      object's context current and restores the thread's stack afterwards. Any handle may be used on any thread. Push
      contexts for your own driver calls and for the CUDA runtime. gpuexec_context_stack_text() lists the contexts on
      the thread's stack, and where they were pushed.

    DESTROYING
      gpuexec_free, gpuexec_free_pinned, gpuexec_unregister, gpuexec_module_unload, gpuexec_barrier_destroy,
      gpuexec_context_close and gpuexec_shutdown wait for work that may use what they destroy. gpuexec_stream_destroy
      and gpuexec_event_destroy do not wait: work already enqueued still runs, and an enqueued copy still writes into
      your host memory. Wait for the stream before you free that memory.

    MODULES AND KERNELS (>>module)
      An image is a cubin or fatbin from nvcc, or PTX text, which the driver compiles for the context's GPU (JIT) and
      caches on disk. If the compiler reports errors, the error text contains its whole log. Kernels are found by their
      name in the image: declare them extern "C" in CUDA C; otherwise their names are mangled. Get all kernels early:
      with the driver's lazy loading, the first gpuexec_kernel_get of a kernel can wait for running work.
      Each module has its own copy of its variables (__device__, __constant__). gpuexec_module_set_global and
      _get_global copy synchronously. To change a variable between two launches on a stream, enqueue the copy there:
          gpuexec_copy_in(s, gpuexec_module_global(mod, "table", NULL), table, sizeof table);

    LINKING (>>link)
      Device code in several files, compiled with nvcc -rdc=true (or PTX with .extern and .visible), becomes one module:
          gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
          gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "main.ptx");
          gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, "libcudadevrt.a");
          gpuexec_module mod = gpuexec_linker_load(linker);
          gpuexec_linker_destroy(linker);
      Inputs are PTX, cubins, fatbins, and objects and libraries from nvcc, in any order. Kernels that launch kernels
      also need the toolkit's libcudadevrt.a. gpuexec_linker_save writes the linked cubin to a file, so that the program
      can load it next time without compiling. A cubin runs only on GPUs whose compute capability has the same major
      version and the same or a higher minor version. LTO-IR (nvcc -dlto) needs nvJitLink: load the cubin that nvJitLink
      produces.

    MEMORY (>>memory)
      A gpuexec_ptr is a device address, the same number as a CUdeviceptr: add bytes to it, pass it to kernels. The host
      cannot dereference it. gpuexec_copy_in, _copy_out and _copy (host to device, device to host, device to device) and
      gpuexec_fill are enqueued on a stream. With pinned host memory (gpuexec_alloc_pinned, gpuexec_register) the copies
      return at once; until a copy has finished, that memory must stay valid, and you must not change it (or, for
      copy_out, read it). Pageable memory also works, but the driver stages it, and the call may wait for that. The _now
      variants have finished when they return. gpuexec_copy_explain reports whether a copy between two addresses would
      be asynchronous, and if not, why. gpuexec_pointer_get_info reports what an address is. Pointers can be exchanged
      with the CUDA runtime in both directions. For matrices with padded rows, use gpuexec_alloc_pitched and the _2d
      copies. Memory that the host only writes, such as input for a kernel that reads it once, can be write-combined:
      gpuexec_alloc_write_combined.
      gpuexec_copy always works between devices. With gpuexec_peer_enable the copy does not go through host memory, and
      kernels can access the other device's memory directly. Pinned and registered memory counts as pinned on every
      device. A copy that runs past the end of an allocation made by gpuexec, or whose source and destination partly
      overlap, is refused before the driver sees it.
      gpuexec_alloc and gpuexec_free may synchronize the device: call them before the loop, not in it; for memory that
      only a few calls need, see MEMORY IN STREAM ORDER. To retry with a smaller size when memory runs out:
          if (gpuexec_take_error() != GPUEXEC_OK) return 1;   // otherwise the loop would take an earlier failure
          while (!(p = gpuexec_alloc(ctx, bytes)) && gpuexec_error_detail()->result == GPUEXEC_OUT_OF_DEVICE_MEMORY) {
              gpuexec_take_error();
              bytes /= 2;
          }
      Any other failure stays latched, including that of a request for 0 bytes.

    BOXES AND ARRAYS OF COPIES (>>copies)
      gpuexec_copy_3d copies a box: `depth` slices of `height` rows of `width_bytes` bytes, between host and device
      memory in any direction. Each side has a separate pitch, slice height and offset, so that parts of volumes and
      images can be copied without a loop; with depth 1, it is a 2-D copy with offsets. A pitch or slice height of 0
      means that there are no gaps:
          gpuexec_copy_3d_desc c = { 0 };                            // a 16 x 16 x 16 part of a 64 x 64 x 64 volume
          c.from.device = volume, c.from.pitch = 64, c.from.slice_height = 64;
          c.from.x = 8, c.from.y = 24, c.from.z = 40;
          c.to.host = part;                                          // rows of 16 bytes, slices of 16 rows
          c.width_bytes = c.height = c.depth = 16;
          gpuexec_copy_3d(s, &c);
      gpuexec_copy_many makes an array of copies with one call. On an H200, 1,000 copies of 4 bytes from pinned memory
      take a fifth of the time of 1,000 calls; between device addresses, where the driver's own batches gain nothing, a
      kernel copies. Larger copies gain less. All copies are checked first: if one is refused, none is made, and the
      text names it: "copies[17]".

    STREAMS (>>stream) and EVENTS (>>event)
      Work on one stream runs in order; work on different streams may overlap. An event marks a point in a stream.
      gpuexec_stream_wait_event makes a stream wait for an event of any device, and gpuexec_event_elapsed_ms returns the
      time between two events. gpuexec_stream_record creates an event at the current end of the stream:
          gpuexec_event begin = gpuexec_stream_record(s, NULL);   // ... work ...
          gpuexec_event end = gpuexec_stream_record(s, NULL);
          if (gpuexec_event_sync(end) == GPUEXEC_OK) ms = gpuexec_event_elapsed_ms(begin, end);
      You may destroy an event while streams still wait for it, and a stream while its work still runs.
      A stream can also wait for a value in memory, which a kernel, another stream or the host writes:
      gpuexec_stream_wait_value32, gpuexec_stream_write_value32.
      Each context has two default streams, the legacy and the per-thread one. As in CUDA, the per-thread default stream
      and streams created with the default desc also synchronize with the legacy default stream; a stream with
      .non_blocking does not. The _now copies use the legacy default stream. If blocks from two streams wait for room on
      the device, those from the stream with the higher priority start first; priorities have no other effect.

    MEMORY IN STREAM ORDER (>>pool)
      gpuexec_alloc_on and gpuexec_free_on allocate and free at a point of a stream, without waiting, and cost less than
      a launch. Use them for memory that only some work on a stream needs, also in a loop:
          gpuexec_ptr sums = gpuexec_alloc_on(s, bytes);
          gpuexec_launch(add, s, dims, GPUEXEC_ARGS(data, sums, n));
          gpuexec_launch(scale, s, dims, GPUEXEC_ARGS(data, sums, n));
          gpuexec_free_on(s, sums);
      The memory is valid between these two points. Work on other streams that uses it must wait for the stream of the
      allocation, and the stream of the free must wait for that work. Otherwise it may read or overwrite another
      allocation, because the pool gives freed memory to the next one; neither gpuexec nor the driver detects this.
      Memory that stays allocated is better allocated with gpuexec_alloc.
      In a capture, both calls become nodes: each launch of the graph allocates the memory again, at the same address.
      If the capture does not free it, call gpuexec_free_on after each launch.
      gpuexec has one pool for each device; the device's default pool, which other libraries use, is not touched. The
      pool keeps what was freed for later allocations, until gpuexec_shutdown, or until the last context on its device
      is closed. CUDA's own default is to return unused memory to the system whenever the host waits: on an H200, a
      frame of 32 allocations of 32 MiB then takes 3.3 ms instead of 0.08. While a pool of gpuexec keeps memory,
      gpuexec_alloc and other pools of the process can still get it, but other processes cannot. To return it once, or
      above a number of bytes at each wait:
          gpuexec_pool_trim(gpuexec_context_pool(ctx), 0);
          gpuexec_pool_set_threshold(gpuexec_context_pool(ctx), 256 << 20);
      With gpuexec_pool_create, parts of a program have separate pools: with another threshold (.release), with a limit
      (.max_bytes), or to be imported by other processes (.exportable). gpuexec_pool_alloc allocates from one, and
      gpuexec_free_on frees. gpuexec_pool_get_info reports what is used and reserved now, and was at most. A pool on the
      device's default pool (.use_default) shares memory with libraries that use cudaMallocAsync; gpuexec does not
      change its settings. Kernels on other devices can access a pool's memory after gpuexec_pool_peer_enable. A few
      devices have no pools (gpuexec_pool_desc.or_plain).

    MANAGED MEMORY (>>managed)
      Managed memory has one address, which kernels, copies and the host can all use; its pages migrate to where they
      are accessed:
          gpuexec_ptr p = gpuexec_alloc_managed(ctx, n * sizeof(float), NULL);
          float *x = (float *)gpuexec_managed_host(p);
          x[0] = 1;
          gpuexec_managed_prefetch(s, p, n * sizeof(float), 0);        // optional: to device 0, before the kernel
          gpuexec_launch(fn, s, dims, GPUEXEC_ARGS(p, n));
          gpuexec_managed_prefetch(s, p, n * sizeof(float), GPUEXEC_HOST);
          if (gpuexec_stream_sync(s) == GPUEXEC_OK) printf("%g\n", x[0]);
      Without prefetches, each first access to a page waits for its migration: copies are usually faster. Use managed
      memory for data structures with pointers, for sparse accesses, and for more data than a device has.
      On some devices (Windows, many integrated ones), the host must not access managed memory while any kernel runs on
      the device: the access would end the process. gpuexec_managed_info.concurrent is then 0, prefetches are refused,
      and gpuexec_managed_host returns NULL as long as a stream has work. A program that relies on concurrent accesses
      sets gpuexec_managed_desc.concurrent, so that the allocation is refused there.
      More managed memory than the device has free is refused, because the rest occupies the host's memory, and if that
      runs out, Linux ends processes. gpuexec_managed_desc.oversubscribe permits it.

    OVERLAPPING WORK, a guide to streams (>>stream, >>current, >>event)
      There are three levels. Each needs more care than the one before: go on only if a measurement shows that the
      device or the host is idle. In the programs below, x, y and z are device memory, and host_x and host_y are pinned.
      Level 1, no streams: pass GPUEXEC_CURRENT to every call. The work runs in order on the context's own stream. The
      host continues meanwhile, and waits once, before it reads the results:
          gpuexec_copy_in(GPUEXEC_CURRENT, x, host_x, bytes);
          gpuexec_launch(saxpy, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(a, x, y, n));
          gpuexec_copy_out(GPUEXEC_CURRENT, host_y, y, bytes);
          cpu_work();                                                           // at the same time
          if (gpuexec_stream_sync(gpuexec_context_stream(ctx))) return 1;       // without this, host_y is incomplete
          use(host_y);
      Level 2, scoped streams: put work that can overlap with other work, such as copies, into a scope. It then waits
      for all work enqueued before the scope; so open the scope before you enqueue the other work. Only you know what
      needs its results. That must wait:
          GPUEXEC_STREAM_SCOPE(transfer) gpuexec_copy_in(GPUEXEC_CURRENT, x, host_x, bytes);
          gpuexec_launch(saxpy, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(a, z, y, n));           // at the same time
          gpuexec_stream_wait_stream(gpuexec_context_stream(ctx), transfer);    // without this, x is incomplete
          gpuexec_launch(saxpy, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(a, x, y, n));
      GPUEXEC_STREAM_SCOPE_JOIN includes this last wait. But two joining scopes in sequence never overlap: the second
      one waits for the first. For several branches, use plain scopes, and join them at the end:
          GPUEXEC_STREAM_SCOPE(transfer) gpuexec_copy_in(GPUEXEC_CURRENT, x, host_x, bytes);
          GPUEXEC_STREAM_SCOPE(compute)  gpuexec_launch(saxpy, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(a, z, y, n));
          gpuexec_stream_wait_stream(gpuexec_context_stream(ctx), compute);
          gpuexec_stream_wait_stream(gpuexec_context_stream(ctx), transfer);    // without this, x is incomplete
          gpuexec_launch(saxpy, GPUEXEC_CURRENT, dims, GPUEXEC_ARGS(a, x, y, n));
      Level 3, explicit streams: name the stream in each call. This saves a record and a wait for each scope (0.3 us on
      an H200), and nothing waits automatically any more. Data that one stream writes and another one uses needs a wait,
      even after gpuexec_fill and gpuexec_copy; without it the program is often right, and sometimes wrong:
          gpuexec_copy_in(transfer, x, host_x, bytes);
          gpuexec_stream_wait_stream(compute, transfer);                        // without this, x is incomplete
          gpuexec_launch(saxpy, compute, dims, GPUEXEC_ARGS(a, x, y, n));
      The same holds in the other direction, since data must not be overwritten before its last reader has finished:
          for (i = 0; i < pieces; i++) {
              gpuexec_stream_wait_event(transfer, done);                        // without this, x changes too early
              gpuexec_copy_in(transfer, x, piece[i], bytes);
              gpuexec_event_record(ready, transfer);
              gpuexec_stream_wait_event(compute, ready);                        // without this, x is incomplete
              gpuexec_launch(saxpy, compute, dims, GPUEXEC_ARGS(a, x, y, n));
              gpuexec_event_record(done, compute);
          }
      Let streams wait for each other instead of making the host wait: gpuexec_stream_wait_event and _wait_stream return
      at once, and the host can enqueue further work. They also order streams of different devices. The host needs to
      wait only before it reads results, and before it changes or frees memory that enqueued work uses.
      Wait for as little as possible, but not for less. gpuexec_context_sync waits for all streams of a context,
      gpuexec_stream_sync for one, gpuexec_event_sync for one point in it:
          gpuexec_copy_in(compute, x, host_x, bytes);
          gpuexec_launch(saxpy, compute, dims, GPUEXEC_ARGS(a, x, y, n));
          gpuexec_copy_out(compute, host_y, y, bytes);
          gpuexec_event_record(ready, compute);
          gpuexec_copy_out(compute, host_z, z, bytes);                          // continues during use(host_y)
          if (gpuexec_event_sync(ready)) return 1;                              // without this, host_y is incomplete
          use(host_y);
      In the same way, gpuexec_stream_wait_event waits for one point, and gpuexec_stream_wait_stream for everything
      enqueued so far. gpuexec_event_query does not wait at all: the host can work until the device has finished:
          gpuexec_copy_in(compute, x, host_x, bytes);
          gpuexec_launch(saxpy, compute, dims, GPUEXEC_ARGS(a, x, y, n));
          gpuexec_copy_out(compute, host_y, y, bytes);
          gpuexec_event_record(ready, compute);
          while (gpuexec_event_query(ready) == GPUEXEC_NOT_READY) cpu_work();
          if (gpuexec_event_sync(ready)) return 1;                              // does not wait: returns failures
          use(host_y);
      Keep the legacy default stream out of loops. Its work waits for all earlier work on the context's streams, and
      their later work waits for it, so nothing overlaps with it. The _now copies, and the CUDA runtime's calls without
      a stream, use it. Streams with .non_blocking are exempt, and need a wait instead:
          gpuexec_stream_desc own = { 0 };
          own.non_blocking = 1;
          gpuexec_stream s = gpuexec_stream_create(ctx, &own);
          gpuexec_copy_in(gpuexec_stream_legacy(ctx), x, host_x, bytes);        // or a call of the CUDA runtime
          gpuexec_stream_wait_stream(s, gpuexec_stream_legacy(ctx));            // without this, x is incomplete
          gpuexec_launch(saxpy, s, dims, GPUEXEC_ARGS(a, x, y, n));
      A graph (>>graph) pays if the same short kernels are launched repeatedly. On an H200, a launch takes the host
      3 us, and the device is idle after a shorter kernel. In a graph of 1,000 empty kernels, each takes 0.54 us in one
      chain, and 0.24 us in four chains side by side. Making the graph costs about 5 us for each kernel, so it pays from
      the third launch on. Longer kernels gain little: their launches already overlap with the device's work.
      In gpuexec's repository, examples/scoped_streams.c, async_pipeline.c and priorities.c measure these rules, and
      tests/seed_002.md lists programs and tests for more of them.

    LAUNCHING (>>launch)
      gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, b, c)) passes the addresses and sizes of the arguments. In C,
      the arguments must be lvalues; in C++, they can be any trivially copyable values except host pointers and handles.
      The types of the arguments must match those of the kernel's parameters: int for int, float for float, gpuexec_ptr
      for pointers. For a struct, pass the same struct by value (share one header between .cu and C, and beware of
      vector types, whose alignment the host may not know).
      The number and sizes of the arguments are checked before the driver sees them. They are compared with the kernel
      itself (cuFuncGetParamInfo, driver for CUDA 12.4 or later) or with the PTX text. For a cubin on an older driver,
      the parameters are not known and not checked (gpuexec_kernel_info.parameters is -1). A float for an integer
      parameter, or an integer for a float, is refused if both types are known, that is, if the kernel comes from PTX
      text and the argument is a C++ value or was added with gpuexec_params_add. In C, GPUEXEC_ARGS passes only sizes.
      To pass the bits of one type as the other, put them into a struct (gpuexec_params_add_struct). Values are copied
      during the call.
      dims.shared_bytes is the dynamic shared memory (`extern __shared__`); above 48 KiB, gpuexec opts in automatically.
      The output of printf in kernels appears at the next call that waits. gpuexec_launch_with also takes launch
      attributes, such as clusters, a priority and programmatic dependent launch.

    PARAMETERS (>>params)
      Use GPUEXEC_ARGS if the arguments are known where the launch is written. A parameter block holds arguments that
      are collected at run time, or that the driver needs packed:
          gpuexec_params p = gpuexec_params_create();
          gpuexec_params_add(p, GPUEXEC_INT, &n);
          gpuexec_params_add(p, GPUEXEC_FLOAT4, color);     // float color[4]: aligned to 16 in the parameter block,
                                                            // even if the host's array is not
          gpuexec_params_add_struct(p, &camera, sizeof camera, 16);
          gpuexec_launch(kernel, stream, dims, gpuexec_params_args(p));
      Every launch takes gpuexec_params_args(p). For your own driver calls, gpuexec_params_data(p, &bytes) returns the
      packed buffer (CU_LAUNCH_PARAM_BUFFER_POINTER). The driver accepts a wrong buffer without an error, so call
      gpuexec_params_check(p, kernel) first.
      A prepared launch is checked once; each launch then costs only the driver's call:
          gpuexec_prepared step = gpuexec_prepare(kernel, stream, dims, GPUEXEC_ARGS(n, t, data));
          float *time = (float *)gpuexec_prepared_argument(step, 1, sizeof *time);
          if (!time) { fputs(gpuexec_error_text(), stderr); return 1; }
          for (...) { *time += dt; gpuexec_launch_prepared(step); }
      gpuexec_prepare_with also takes launch attributes; gpuexec_prepared_stream moves the launch to another stream.

    CAPTURES AND GRAPHS (>>capture, >>graph)
      Many short kernels can take the host longer to enqueue than the device to run. Capture the calls once: they then
      run nothing, but are recorded in a graph. Launch the graph as often as needed, each time with one call:
          gpuexec_graph graph = { 0 };
          GPUEXEC_CAPTURE(s, &graph) { step(s); }          // launches, copies and fills on s
          for (i = 0; i < n; i++) gpuexec_graph_launch(graph, s);
      The block is ordinary code; it may call libraries that enqueue on the stream. The graph keeps arguments, addresses
      and sizes as they were in the capture, but copies read their source again at each launch. Other streams, also of
      other devices, join the capture when they wait for it, and must be joined again before its end. In each launch,
      the work between the two waits may run at the same time:
          gpuexec_stream_wait_stream(t, s);                // fork: t joins the capture
          left(s);
          right(t);
          gpuexec_stream_wait_stream(s, t);                // join
      Nothing in the block can wait for its results or query them: these calls are refused, and the capture goes on.
      Allocating, loading and creating objects work as usual. A table in >>capture lists what each call does. Streams
      created with .non_blocking leave the legacy default stream and the _now copies usable meanwhile.
      A failed launch in the block is latched as usual; gpuexec_capture_end then returns a failed handle with that
      reason. If a call broke the capture, it names that call, its file and line. In any case the capture has ended, and
      the streams are usable. If another library breaks the capture because it allocates, begin the capture with
      GPUEXEC_CAPTURE_RELAXED.
      Memory, modules and contexts that a graph uses must exist until its last launch. If gpuexec has freed, unloaded or
      closed one since, gpuexec_graph_launch is refused and names it, and the file and line that did so. Memory of other
      libraries is not tracked. To change arguments or addresses, capture the changed calls and give the result to the
      first graph: gpuexec_graph_update is much faster than instantiating the other graph. gpuexec_graph_text and
      gpuexec_graph_dot show what a graph consists of, gpuexec_graph_get_info only counts.

    BETWEEN PROCESSES (>>ipc)
      Processes on one machine can use the same device memory without a copy through the host. One exports memory and
      events as 128 bytes each, and sends them over a connection, or in any other way; the other imports them:
          gpuexec_ipc_export(p, &object);                             // p: from gpuexec_alloc
          r = gpuexec_ipc_send(connection, "frames", count, &object);
          ...                                                         // the other process:
          r = gpuexec_ipc_receive(connection, &message, -1);
          q = gpuexec_ipc_import(ctx, &message.object);
      Events order the work: a stream of one process waits for an event that the other has recorded. As always, it waits
      for the last record made before; so send a message after the record, and wait when it has arrived. The example
      ipc_ring is a ring buffer of this kind. The rules:

      - Start other processes with exec, or before CUDA starts: a forked child cannot use CUDA that its parent started.
      - A process cannot import what it exported itself. It can import each memory once.
      - Only whole allocations can be exported, by their first address; send an offset as the message's number.
      - Memory of gpuexec_alloc_on cannot be exported. Use gpuexec_alloc, or a pool with gpuexec_pool_desc.exportable:
        send the pool first (gpuexec_ipc_send_pool, gpuexec_ipc_import_pool), then its memory
        (gpuexec_ipc_import_from). Pinned and managed memory cannot be exported either.
      - Events need gpuexec_event_desc.interprocess, and then have no time.
      - Importers free first, then the exporter. What an importer has opened stays valid when the exporter is killed.
      - CUDA does not report that a process has ended. What waits for an event whose record died with its process waits
        forever (measured on an H200; gpuexec_event_sync, gpuexec_stream_sync, gpuexec_free and gpuexec_context_close,
        too): only the end of the own process helps. gpuexec_ipc_receive, _send and _wait notice it: they return
        GPUEXEC_PEER_GONE, with the process and how it ended. If a process may be killed, call gpuexec_ipc_wait with its
        event before you enqueue work that depends on it, instead of gpuexec_stream_wait_event.

    MANY DEVICES (>>multi, >>barrier)
      Contexts on several devices can be open at the same time, and any thread may use all of them.
      gpuexec_stream_wait_event and gpuexec_stream_wait_stream order streams of different devices. gpuexec_copy and
      gpuexec_copy_peer copy between devices. After gpuexec_peer_enable, kernels can read and write the other device's
      memory, if the hardware supports it.
      gpuexec_launch_multi_device starts one cooperative grid on each device. The grids run at the same time and may
      wait for each other at a gpuexec_barrier. Create contexts, modules, kernels and streams for all devices before the
      first launch: with lazy loading, loading a kernel can wait for a kernel that is already spinning at the barrier.
      Then create the barrier. Pass each kernel its device's gpuexec_barrier_address.
      In the kernel, gpuexec_barrier_sync(barrier) waits for all blocks of all devices. Its source is in gpuexec's
      repository: kernels/gpuexec_barrier.cuh to include in CUDA C, or kernels/gpuexec_barrier.ptx to link.
      After the barrier, each block can read everything that any block wrote before it. If one device fails, the others
      leave the barrier after its timeout, and the host's next wait reports which devices were missing. While you start
      launches that wait for each other, do not allocate, free, load or synchronize on any thread: such calls can wait
      for the running kernels.

    IN A PLUGIN, which gets its context and stream from the host program
      Open: call gpuexec_context_from_native (or _attach, if the host may release its context first) and
      gpuexec_stream_from_native, load the module, and get the kernels. Run: enqueue on the host's stream, with the
      host's own device pointers. If an entry point of the plugin does not wait, end it with gpuexec_take_error(). Pass
      gpuexec_error_text() to the host. Close, while the host's context and stream are still valid:
      gpuexec_context_close destroys what the plugin created, and leaves the host's objects untouched. Unload:
      gpuexec_shutdown() must be the last call before the library is unloaded, once for the library and not for each
      instance; a destructor function of the library may call it. Two plugins that each contain a copy of this header
      share nothing; exchange native handles between them. The host's driver must be the library that gpuexec finds (see
      SETUP); if the host uses a different one, have it pass that library's path to the plugin, for
      gpuexec_setup_desc.driver_path.

    IN A LIBRARY whose callers may use gpuexec, too
      Build the library with GPUEXEC_STATIC, or as a shared library with its own gpuexec.c: then it has its own latch.
      If the library and its caller share one copy, a failure that the caller has not taken makes the library's calls
      fail. Give each thread its own stream, since a failure on a stream is reported to every thread that waits for that
      stream; gpuexec_stream_per_thread is separate on each thread. Before you return, take the failure and copy its
      text. Pass on your caller's location: call the _at functions with a string such as "main.c:12" as `where`. A
      launch keeps only the pointer, for later error texts; the string must therefore stay valid until gpuexec_shutdown.

    IN C++ CLASSES
      A destructor can close any handle: clean-up calls accept handles that were never created, are stale, or failed.
      Names such as gpuexec_stream_destroy are macros; as a template argument, use gpuexec_stream_destroy_at. In that
      case, compile with -fvisibility=hidden; otherwise g++ warns about a class that is more visible than its template
      arguments. Compare handles with ==.

    THREADS
      Unless its comment says otherwise, a function may be called from any thread at any time, even concurrently on the
      same object. But no thread may destroy an object while another thread uses it, and no other call may run during
      gpuexec_shutdown.

    NOT SUPPORTED in this version: graphs that are built node by node, allocation of managed memory, 3D copies,
    inter-process handles, textures, LTO-IR and CUDA C source as inputs. On a GPU, gpuexec_driver_symbol() and the
    native handles let you make the driver's own calls. The CPU device supports few of these calls.
*/
#ifndef GPUEXEC_H
#define GPUEXEC_H

#if !defined(__cplusplus) && !defined(_MSC_VER) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#  error "gpuexec.h needs C99 or later, or C++11 or later: compile with -std=c99"
#endif

#define GPUEXEC_VERSION_MAJOR 0
#define GPUEXEC_VERSION_MINOR 2
#define GPUEXEC_VERSION_PATCH 0
#define GPUEXEC_VERSION (GPUEXEC_VERSION_MAJOR * 10000 + GPUEXEC_VERSION_MINOR * 100 + GPUEXEC_VERSION_PATCH)

#include <stddef.h>                          /* the only include, so that including this header stays cheap */

#if defined(GPUEXEC_STATIC)
#  undef GPUEXEC_API
#  if defined(__GNUC__)
#    define GPUEXEC_API static __attribute__((unused))
#  else
#    define GPUEXEC_API static
#  endif
#elif !defined(GPUEXEC_API)
#  if !defined(__GNUC__) || defined(_WIN32)
#    define GPUEXEC_API
#  elif defined(__cplusplus)
#    define GPUEXEC_API __attribute__((visibility("hidden")))
#  else                                /* one pragma compiles faster; in C++ it would also hide the types */
#    define GPUEXEC_API
#    define GXI_HIDDEN
#    pragma GCC visibility push(hidden)
#  endif
#endif

/* Calls that can fail record the caller's file and line: gpuexec_alloc(ctx, 64) is a macro for the plain function
   gpuexec_alloc_at(where, ctx, 64), where `where` is "file.c:12" or NULL. Debuggers, function pointers and
   other languages use the function; >>names lists the macros. gpuexec copies every string that it still needs after the
   call returns, because the calling library may be unloaded in the meantime; the copies stay valid until
   gpuexec_shutdown. Only a launch, for speed, keeps just the pointer `where`. If the library that has this string is
   unloaded before its kernel's failure is reported, the text omits the place. A string in other memory must stay valid
   until gpuexec_shutdown. */
#define GXI_STRING2(x) #x
#define GXI_STRING(x) GXI_STRING2(x)
#if defined(GPUEXEC_NO_HERE) && defined(__cplusplus)
#  define GPUEXEC_HERE (static_cast<const char *>(nullptr))
#elif defined(GPUEXEC_NO_HERE)
#  define GPUEXEC_HERE ((const char *)0)
#else
#  define GPUEXEC_HERE (__FILE__ ":" GXI_STRING(__LINE__))
#endif

#if defined(__GNUC__)
#  define GXI_MUST_CHECK __attribute__((warn_unused_result))
/* never shared between libraries, even without optimization */
#  define GXI_INLINE inline __attribute__((visibility("hidden"), always_inline))
#else
#  define GXI_MUST_CHECK
#  define GXI_INLINE inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's own tags, so that this header works without cuda.h, or together with cuda.h, included before or after it. */
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUmemPoolHandle_st;

/* =====================================================================================================================
   >>api   Each comment ends with the driver calls that the function makes, or with CUDA's name for what a member sets.
   ---------------------------------------------------------------------------------------------------------------------
   >>types   Results, handles, device addresses. */

typedef enum gpuexec_result {
    GPUEXEC_OK = 0,
    GPUEXEC_NOT_READY = 1,              /* returned by queries: work is still running. Not an error, never latched */
    /* the call is wrong */
    GPUEXEC_BAD_ARGUMENT = 10,          /* NULL, zero, out of range, or a desc that was not zero-initialized */
    GPUEXEC_BAD_HANDLE = 11,            /* a handle that was never created, or that another copy of this header, in
                                           another library, created */
    GPUEXEC_STALE_HANDLE = 12,          /* a handle whose object was destroyed, alone or with its context or module; or
                                           a native object that the driver does not accept as one */
    GPUEXEC_WRONG_KIND = 13,            /* for example, an event where a stream is expected */
    GPUEXEC_WRONG_CONTEXT = 14,         /* kernel and stream, or event and stream, belong to different contexts; or the
                                           context to pop is not current */
    GPUEXEC_TOO_LATE = 15,              /* gpuexec_setup after the first use; a linker input after linking */
    /* the machine */
    GPUEXEC_NO_DRIVER = 20,             /* no driver library can be loaded, or it is the toolkit's stub */
    GPUEXEC_OLD_DRIVER = 21,            /* the driver lacks what the call needs; the text says which version has it */
    GPUEXEC_NO_DEVICE = 22,             /* no GPU, or no device with that ordinal */
    GPUEXEC_FORKED = 23,                /* the process was forked after its parent had started CUDA */
    GPUEXEC_NOT_SUPPORTED = 24,         /* this device or driver does not support it */
    /* memory */
    GPUEXEC_OUT_OF_HOST_MEMORY = 30,
    GPUEXEC_OUT_OF_DEVICE_MEMORY = 31,
    /* code */
    GPUEXEC_BAD_IMAGE = 40,        /* invalid PTX (the log is in the text), or not an image */
    GPUEXEC_IMAGE_TOO_NEW = 41,    /* the PTX .version is newer than the driver supports, or .target newer than the
                                      device supports; or the image has no code for this device */
    GPUEXEC_NOT_FOUND = 42,        /* no kernel or variable has that name */
    GPUEXEC_FILE_ERROR = 43,       /* a file cannot be opened, read or written */
    GPUEXEC_LINK_FAILED = 44,      /* missing or duplicate symbols: the log in the text names them */
    /* launching and running */
    GPUEXEC_BAD_LAUNCH = 50,            /* grid, block or shared memory exceeds a limit of the device or kernel; or the
                                           grid is empty */
    GPUEXEC_BAD_PARAMETERS = 51,        /* wrong number, size or type of kernel arguments; or their parameter block has
                                           changed */
    GPUEXEC_KERNEL_FAILED = 60,         /* illegal address, trap ... in a kernel. Sticky: only a new process can use
                                           CUDA again */
    GPUEXEC_BARRIER_BROKEN = 61,        /* kernels left a barrier across devices because of a timeout or an abort: the
                                           text names the devices that were missing */
    /* captures and graphs */
    GPUEXEC_CAPTURING = 70,             /* the call is not possible while its stream captures, or would break the
                                           capture: it was not made */
    GPUEXEC_CAPTURE_BROKEN = 71,        /* an earlier call broke the capture; the text names it, if gpuexec made it */
    GPUEXEC_GRAPH_DIFFERS = 72,         /* gpuexec_graph_update: the graphs do not have the same structure */
    /* other processes */
    GPUEXEC_PEER_GONE = 80,             /* the process at the other end of a connection has ended or closed it: the text
                                           says which, and how it ended */
    GPUEXEC_DRIVER_ERROR = 90           /* any other error of the driver: see gpuexec_error.driver_result */
} gpuexec_result;

/* Handles: copy them freely, compare them with gpuexec_same. {0} means "never created". A handle stays distinct from
   all others, even after its object is destroyed. */
typedef struct gpuexec_context { unsigned long long id; } gpuexec_context;
typedef struct gpuexec_module  { unsigned long long id; } gpuexec_module;
typedef struct gpuexec_kernel  { unsigned long long id; } gpuexec_kernel;
typedef struct gpuexec_stream  { unsigned long long id; } gpuexec_stream;
typedef struct gpuexec_event   { unsigned long long id; } gpuexec_event;
typedef struct gpuexec_linker  { unsigned long long id; } gpuexec_linker;
typedef struct gpuexec_params  { unsigned long long id; } gpuexec_params;
typedef struct gpuexec_prepared { unsigned long long id; } gpuexec_prepared;
typedef struct gpuexec_barrier { unsigned long long id; } gpuexec_barrier;
typedef struct gpuexec_graph   { unsigned long long id; } gpuexec_graph;
typedef struct gpuexec_pool    { unsigned long long id; } gpuexec_pool;
typedef struct gpuexec_ipc     { unsigned long long id; } gpuexec_ipc;

/* gpuexec_same(a, b): 1 if two handles of one kind are the same handle, 0 if not; handles of different kinds do not
   compile. In C++, a == b and a != b do the same. Two handles for one native object, from two calls of
   gpuexec_*_from_native, are different handles: compare gpuexec_*_native() instead. */
#define gpuexec_same(a, b) ((void)sizeof((1 ? (a) : (b)).id), (a).id == (b).id)

typedef unsigned long long gpuexec_ptr;      /* a device address, the same value as a CUdeviceptr; 0 means none */

/* ---------------------------------------------------------------------------------------------------------------------
   >>error   Failures of the calling thread. The library owns the texts. Each is valid until two more failures have
   occurred on this thread, the thread ends, or gpuexec_shutdown is called: copy a text to keep it. */

typedef struct gpuexec_error {
    gpuexec_result result;
    int            driver_result;            /* the CUresult; 0 if the driver was not called or did not fail; -1 if the
                                                driver returned success but no object, or an impossible size */
    const char    *driver_result_name;       /* "CUDA_ERROR_INVALID_VALUE", or NULL */
    const char    *driver_call;              /* "cuLaunchKernel", or NULL */
    const char    *function;                 /* "gpuexec_launch" */
    const char    *where;                    /* "main.c:12", or NULL */
    const char    *message;                  /* the cause, one line, without the other parts */
    const char    *log;                      /* the JIT compiler's whole log, or NULL */
    const char    *driver_log;               /* one line that the driver itself logged about driver_result, if the
                                                message cannot explain it; otherwise NULL. Needs a driver for CUDA 12.9
                                                or later. cuLogsDumpToMemory */
    const char    *cure;                     /* what to change, or NULL */
    int            asynchronous;             /* 1: an earlier kernel or copy failed; this call only reports it */
    int            sticky;                   /* 1: every later call of this process will fail in the same way */
    const char    *text;                     /* the whole text, several lines, as gpuexec_error_text() returns it */
} gpuexec_error;

/* Returns the text of this thread's last failure; it ends in a newline. "" if there was none. Never NULL. Call it in a
   separate statement: as an argument of the same printf as the failing call, it may be evaluated first. */
GPUEXEC_API const char *gpuexec_error_text(void);

/* Returns the same in parts. Never NULL; .result is GPUEXEC_OK if nothing has failed on this thread yet. */
GPUEXEC_API const gpuexec_error *gpuexec_error_detail(void);

/* Returns the failure latched on this thread and clears the latch, so that the thread can enqueue work again;
   GPUEXEC_OK if nothing is latched. gpuexec_error_text() then returns the text of that failure. */
GPUEXEC_API gpuexec_result gpuexec_take_error(void);

/* Returns the name of a result, such as "GPUEXEC_BAD_LAUNCH"; "unknown gpuexec_result" for other numbers. */
GPUEXEC_API const char *gpuexec_result_name(gpuexec_result result);

/* Returns 1 if the handle (of any kind) refers to an existing object of this copy of the library, else 0. A query. */
#define gpuexec_ok(handle) gpuexec_id_ok((handle).id)
GPUEXEC_API int gpuexec_id_ok(unsigned long long id);

/* Returns why the handle (of any kind) is not ok: for a failed handle, the text of its failure. "" if it is ok. Valid
   as long as the text of gpuexec_error_text(). A query. */
#define gpuexec_why(handle) gpuexec_id_why((handle).id)
GPUEXEC_API const char *gpuexec_id_why(unsigned long long id);

/* ---------------------------------------------------------------------------------------------------------------------
   >>setup   Start, shutdown, logger, allocator, trace. */

typedef enum gpuexec_log_level {
    GPUEXEC_LOG_ERROR = 1,
    GPUEXEC_LOG_WARNING = 2,
    GPUEXEC_LOG_TRACE = 3
} gpuexec_log_level;

/* Your logger. gpuexec calls it with one complete message, which ends in a newline, on the thread that the message
   concerns. The logger must not call the library. */
typedef void (*gpuexec_log_function)(void *user, gpuexec_log_level level, const char *text);

/* The contract of realloc: p NULL allocates; bytes 0 frees and returns NULL; otherwise NULL means out of memory. Called
   from any thread. */
typedef void *(*gpuexec_realloc_function)(void *user, void *p, size_t bytes);

/* All descs: zero-initialize them ({0} in C, {} in C++), then set the members you need. Zero means the default; NULL
   for the whole desc means all defaults.
   In one line of C: gpuexec_stream_create(ctx, &(gpuexec_stream_desc){ .non_blocking = 1 }). */
typedef struct gpuexec_setup_desc {
    unsigned                 start_canary;       /* leave it 0, like end_canary. If either is not 0, the desc was not
                                                    zero-initialized, and the call fails */
    int                      ignore_environment; /* 1: ignore GPUEXEC_DRIVER and GPUEXEC_TRACE */
    const char              *driver_path;        /* the only library to try, instead of the system's driver */
    int                      no_latch;           /* 1: failures are not latched (for programs that check every call) */
    int                      trace;              /* 1: log every driver call, except the calls that look up entry points
                                                    or error texts; to stderr if there is no logger */
    int                      report_leaks;       /* 1: gpuexec_shutdown logs each object that was not destroyed, with
                                                    file and line (to stderr if there is no logger). Kernels and default
                                                    streams are not leaks: their module or context closes them */
    gpuexec_log_function     log;                /* receives failures, trace and leak report; NULL: failures are not
                                                    logged */
    void                    *log_user;
    gpuexec_realloc_function realloc_function;   /* NULL: realloc and free */
    void                    *realloc_user;
    unsigned                 end_canary;
} gpuexec_setup_desc;

/* Loads the driver and initializes CUDA (cuInit: hundreds of milliseconds). Optional: the first call that needs the
   driver does the same with the defaults. After that, gpuexec_setup returns GPUEXEC_TOO_LATE, and the text names the
   first use. gpuexec_setup may be called again after it has failed (it then clears this thread's latch), or after
   gpuexec_shutdown. Parameter blocks created before it stay valid, and their memory returns to the allocator that it
   came from. Other threads may call the library at the same time. */
GPUEXEC_API gpuexec_result gpuexec_setup_at(const char *where, const gpuexec_setup_desc *desc);

/* Destroys every remaining object after its work has finished, releases the contexts, and returns the library to the
   state before its first use; older handles stay stale. Returns this thread's latched failure, or a failure of the work
   that was still running, or the first failure latched on another thread that was neither taken nor returned;
   gpuexec_error_text() returns its text. No other thread may be inside a call to the library during this time, but
   threads may exit. The driver library stays loaded. Call gpuexec_shutdown before you unload a shared library that uses
   gpuexec. */
GPUEXEC_API gpuexec_result gpuexec_shutdown(void);

/* Returns the driver's version in CUDA's encoding: 12040 is 12.4. 0 if there is no driver (gpuexec_error_text() says
   why). Starts the library. A query. cuDriverGetVersion. */
GPUEXEC_API int gpuexec_driver_version(void);

/* Returns the path of the driver library; "" if none was loaded. Starts the library. A query. */
GPUEXEC_API const char *gpuexec_driver_path(void);

/* Returns a driver entry point that gpuexec does not wrap; NULL if this driver does not have it (gpuexec_error_text()
   says why). `name` is the name in CUDA's manual, without a suffix such as _v2. `version` is the CUDA version of that
   manual, e.g. ("cuGraphLaunch", 12000) for 12.0: the newest variant up to that version is returned. Copy the result
   into a function pointer: CUresult (*f)(CUgraphExec, CUstream); memcpy(&f, &symbol, sizeof f). A query.
   cuGetProcAddress. */
GPUEXEC_API void *gpuexec_driver_symbol(const char *name, int version);

/* Turns the CUresult of a driver call that the program made itself into a result of gpuexec, with the same text, latch
   and sticky errors as gpuexec's own calls: gpuexec_driver_check("cuGraphLaunch", graph_launch(exec, stream)). Returns
   GPUEXEC_OK for 0 (CUDA_SUCCESS), and GPUEXEC_NOT_READY for 600 (CUDA_ERROR_NOT_READY), which is not a failure. `call`
   is the name of the driver call, for the text. cuGetErrorName, cuGetErrorString. */
GPUEXEC_API gpuexec_result gpuexec_driver_check_at(const char *where, const char *call, int cu_result);

/* ---------------------------------------------------------------------------------------------------------------------
   >>device   The GPUs of the machine. All calls are queries: they start the library but latch nothing. */

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
    int           async_engines;                 /* how many copies can run at the same time as kernels */
    int           cooperative_launch;            /* 1: supports cooperative launches */
    int           integrated;                    /* 1: shares the host's memory */
    int           clock_khz;
    size_t        total_memory;                  /* bytes */
    size_t        l2_bytes;
    size_t        shared_per_block;              /* bytes without opting in, usually 48 KiB */
    size_t        shared_per_block_optin;        /* the most bytes that a kernel can opt in to */
} gpuexec_device_info;

/* Returns the number of devices; 0 without a driver or GPU (gpuexec_error_text() says why). cuDeviceGetCount. */
GPUEXEC_API int gpuexec_device_count(void);

/* Fills *info. Numbers that the driver does not report are 0. GPUEXEC_NO_DEVICE if there is no device with that
   ordinal. cuDeviceGetName, cuDeviceGetAttribute and others. */
GPUEXEC_API gpuexec_result gpuexec_device_get_info_at(const char *where, int device, gpuexec_device_info *info);

/* Reads any CUdevice_attribute, by its number, into *value. cuDeviceGetAttribute. */
GPUEXEC_API gpuexec_result gpuexec_device_get_attribute_at(const char *where, int device, int attribute, int *value);

/* Returns 1 if kernels on `device` can access the memory of `peer`, else 0. cuDeviceCanAccessPeer. */
GPUEXEC_API int gpuexec_device_can_access_peer(int device, int peer);

/* ---------------------------------------------------------------------------------------------------------------------
   >>context   A context holds modules, memory, streams and events on one device. */

typedef struct gpuexec_context_desc {
    unsigned start_canary;
    unsigned flags;                              /* CU_CTX_* flags, including CU_CTX_SCHED_*: 1 spin, 2 yield, 4
                                                    blocking sync. 0: the driver's choice for a created context; a
                                                    primary context keeps its flags. Other values replace the flags of a
                                                    primary context, for all of its users */
    unsigned end_canary;
} gpuexec_context_desc;

/* Opens a device: retains its primary context (about 100 ms the first time). Each call retains the context again, and
   returns a separate handle. cuDevicePrimaryCtxRetain, and cuDevicePrimaryCtxSetFlags if desc.flags is not 0. */
GPUEXEC_API gpuexec_context gpuexec_context_open_at(const char *where, int device, const gpuexec_context_desc *desc);

/* Creates a separate context on the device, in addition to the primary one. The new context shares no modules, streams
   or events with the CUDA runtime or other libraries. It is not made current. Most programs need gpuexec_context_open
   instead. cuCtxCreate. */
GPUEXEC_API gpuexec_context gpuexec_context_create_at(const char *where, int device, const gpuexec_context_desc *desc);

/* Adopts a context that other code created. Its owner must not destroy the context before the handle is closed. NULL
   adopts the calling thread's current context. The context must come from the driver library that gpuexec has loaded.
   Adopting a context twice creates two handles, each with the objects created through it; a launch can combine a kernel
   of one with a stream of the other. If the owner destroys the context too early, the next call on the handle, or on
   anything created through it, returns GPUEXEC_STALE_HANDLE, and all these handles are closed. The only unsafe case is
   a call that runs while the context is being destroyed. cuCtxGetId (before CUDA 12.0 cuCtxGetApiVersion, which cannot
   distinguish a primary context that was released and retained again). */
GPUEXEC_API gpuexec_context gpuexec_context_from_native_at(const char *where, struct CUctx_st *native);

/* Adopts a context and increments its usage count, so that the context stays valid until its last user has released it.
   If three libraries share a context, each of them attaches, and closes its handle when it is done. NULL attaches to
   the calling thread's current context. Closing a handle from gpuexec_context_create also releases just its count.
   GPUEXEC_NOT_SUPPORTED if the driver has no usage counts. No driver reports the count. cuCtxAttach and cuCtxDetach
   (deprecated by CUDA, but present in every driver so far); for a device's primary context cuDevicePrimaryCtxRetain and
   cuDevicePrimaryCtxRelease. */
GPUEXEC_API gpuexec_context gpuexec_context_attach_at(const char *where, struct CUctx_st *native);

/* Returns the CUcontext; NULL if the handle is not ok. A query. */
GPUEXEC_API struct CUctx_st *gpuexec_context_native(gpuexec_context context);

/* Returns the device's ordinal; -1 if the handle is not ok. A query. */
GPUEXEC_API int gpuexec_context_device(gpuexec_context context);

/* Reads how many bytes of device memory are free, and how many the device has; either pointer may be NULL. A query.
   cuMemGetInfo. */
GPUEXEC_API gpuexec_result gpuexec_context_get_memory_at(const char *where, gpuexec_context context, size_t *free_bytes,
                                                         size_t *total_bytes);

/* Limits for the kernels of a context. The numbers are CUDA's CU_LIMIT_*. */
typedef enum gpuexec_limit {
    GPUEXEC_LIMIT_STACK = 0,                     /* bytes of stack for each GPU thread */
    GPUEXEC_LIMIT_PRINTF_FIFO = 1,               /* bytes of the buffer that printf in kernels fills until the next
                                                    wait */
    GPUEXEC_LIMIT_MALLOC_HEAP = 2,               /* bytes of the heap for malloc and free in kernels; set it before the
                                                    first such kernel runs */
    GPUEXEC_LIMIT_SYNC_DEPTH = 3,                /* nesting depth of kernels that launch kernels and wait for them;
                                                    only on devices before compute capability 9.0 */
    GPUEXEC_LIMIT_PENDING_LAUNCHES = 4,          /* how many launches made by kernels can be pending */
    GPUEXEC_LIMIT_L2_FETCH = 5,                  /* bytes that the L2 cache fetches at a time, 0 to 128: a hint */
    GPUEXEC_LIMIT_PERSISTING_L2 = 6              /* bytes of the L2 cache that are set aside for persisting accesses */
} gpuexec_limit;

/* Set and read a limit. The driver may round a value up; gpuexec_context_get_limit returns the value in effect. Setting
   fails if the device grants less than the requested value: the text has both numbers, and the granted value is in
   effect. Setting also fails for a value out of range, and with GPUEXEC_NOT_SUPPORTED for a limit that the device does
   not have. gpuexec_context_get_limit is a query. cuCtxSetLimit, cuCtxGetLimit. */
GPUEXEC_API gpuexec_result gpuexec_context_set_limit_at(const char *where, gpuexec_context context, gpuexec_limit limit,
                                                        size_t value);
GPUEXEC_API gpuexec_result gpuexec_context_get_limit_at(const char *where, gpuexec_context context, gpuexec_limit limit,
                                                        size_t *value);

/* Reads the range of stream priorities: *least is the default and the lowest, *greatest the highest. Lower numbers mean
   higher priority. Either pointer may be NULL; both values are 0 on a device without priorities. A query.
   cuCtxGetStreamPriorityRange. */
GPUEXEC_API gpuexec_result gpuexec_context_get_priorities_at(const char *where, gpuexec_context context, int *least,
                                                             int *greatest);

/* Waits for all work in the context, including that of other libraries. Returns and takes the thread's latched failure;
   if there is none, a failure that marked one of the context's streams. cuCtxSynchronize. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_context_sync_at(const char *where, gpuexec_context context);

/* Adds a user to the handle: closing it then takes one more gpuexec_context_close. The count belongs to this handle;
   other libraries do not share it. */
GPUEXEC_API gpuexec_result gpuexec_context_retain_at(const char *where, gpuexec_context context);

/* Returns the number of users of the handle; 0 if it is not ok. A query. */
GPUEXEC_API int gpuexec_context_users(gpuexec_context context);

/* The calling thread's stack of current contexts. gpuexec does not need it, but the CUDA runtime and your own driver
   calls do. Push makes the context current; pop removes it and makes the context below it current again. Any thread may
   push a context, and several threads may push the same one. CUDA calls a context that no thread has pushed floating:
   you can pass it to any thread.
   Pop fails (GPUEXEC_WRONG_CONTEXT) if another context is current. The text says where the context was pushed, and
   whether the pops are out of order, or other code has popped it or pushed another context since. At most 32 nested
   pushes of a thread are recorded. cuCtxPushCurrent, cuCtxPopCurrent. */
GPUEXEC_API gpuexec_result gpuexec_context_push_at(const char *where, gpuexec_context context);
GPUEXEC_API gpuexec_result gpuexec_context_pop_at(const char *where, gpuexec_context context);

/* GPUEXEC_CONTEXT_SCOPE(context) { ... } makes the context current in the block and pops it at the end, even if return,
   break, goto or a C++ exception leaves the block. break and continue leave this block, not an enclosing loop. If the
   push fails, the block is skipped and the failure latched; a failure of the pop is also latched. The macro is a `for`
   around gpuexec_context_scope_begin and _end. A C compiler without __attribute__((cleanup)), such as MSVC, only pops
   at the end of the block: do not leave the block in any other way there. Scopes can be nested, each on a separate
   line. */
#define GPUEXEC_CONTEXT_SCOPE(context) \
    for (GXI_SCOPE_TYPE GXI_CAT(gxi_scope_, __LINE__) \
             GXI_SCOPE_INIT(gpuexec_context_scope_begin_at(GPUEXEC_HERE, context)); \
         GXI_CAT(gxi_scope_, __LINE__).entered == 1; \
         GXI_SCOPE_NEXT(gpuexec_context_scope_end, GXI_CAT(gxi_scope_, __LINE__)))
typedef struct gpuexec_context_scope { gpuexec_context context; const char *where; int entered; } gpuexec_context_scope;
GPUEXEC_API gpuexec_context_scope gpuexec_context_scope_begin_at(const char *where, gpuexec_context context);
GPUEXEC_API void gpuexec_context_scope_end(gpuexec_context_scope *scope);      /* a second call does nothing */
#ifdef __cplusplus
#  define GXI_SCOPE_TYPE gxi_context_scope
#  define GXI_SCOPE_INIT(scope) (scope)
#  define GXI_SCOPE_NEXT(end, scope) (scope.entered = 2)     /* the destructor ends it */
#elif defined(__GNUC__)
#  define GXI_SCOPE_TYPE __attribute__((cleanup(gpuexec_context_scope_end))) gpuexec_context_scope
#  define GXI_SCOPE_INIT(scope) = scope
#  define GXI_SCOPE_NEXT(end, scope) (scope.entered = 2)
#else
#  define GXI_SCOPE_TYPE gpuexec_context_scope
#  define GXI_SCOPE_INIT(scope) = scope
#  define GXI_SCOPE_NEXT(end, scope) end(&scope)
#endif

/* Writes the calling thread's stack of contexts, as far as gpuexec knows it, into text[bytes]. There is one line for
   each context, the current one first: its device, and where it was pushed through gpuexec. Returns the length of the
   whole text, as snprintf does; 0 if it fails. A query. cuCtxGetCurrent. */
GPUEXEC_API size_t gpuexec_context_stack_text(char *text, size_t bytes);

/* Returns 1 if the context is the calling thread's current one, else 0. A query. cuCtxGetCurrent. */
GPUEXEC_API int gpuexec_context_is_current(gpuexec_context context);

/* Waits for the context's work (in an adopted context, only for work on streams created through this handle). Then
   destroys everything created through this handle (memory, modules, linkers, streams, events, barriers, prepared
   launches, graphs) and releases the context; CUDA destroys a context when it has no other user. An adopted context is
   not released. If the handle has several users (gpuexec_context_retain), each close but the last only removes a user.
   A failure does not stop the clean-up; the call returns the first failure, including a failure of the work.
   cuDevicePrimaryCtxRelease, cuCtxDetach, or cuCtxDestroy if the driver has no usage counts. */
GPUEXEC_API gpuexec_result gpuexec_context_close_at(const char *where, gpuexec_context context);

/* ---------------------------------------------------------------------------------------------------------------------
   >>module   Images and the kernels in them. */

typedef struct gpuexec_module_desc {
    unsigned    start_canary;
    const char *name;                            /* for messages; default: the file's name, or "PTX image" */
    /* How PTX is compiled; cubins are loaded as they are. 0 is the driver's default. */
    int         max_registers;                   /* at most this many per thread; CU_JIT_MAX_REGISTERS */
    int         threads_per_block;               /* few enough registers for blocks of this many threads;
                                                    CU_JIT_THREADS_PER_BLOCK */
    int         optimization;                    /* 1..4 for -O1..-O4, -1 for -O0; 0: the default, 4.
                                                    CU_JIT_OPTIMIZATION_LEVEL */
    int         target;                          /* compute capability, 75 for 7.5 (as CUjit_target); 0: that of the
                                                    context's device. CU_JIT_TARGET */
    int         prefer_binary;                   /* 1: if a fatbin has no code for exactly this device, prefer
                                                    compatible code to PTX; not for linkers. CU_JIT_FALLBACK_STRATEGY */
    int         cache_mode;                      /* 1: cache loads in L2 only, 2: also in L1; CU_JIT_CACHE_MODE */
    int         debug_info, line_info;           /* 1: generate it; CU_JIT_GENERATE_DEBUG_INFO,
                                                    CU_JIT_GENERATE_LINE_INFO */
    int         verbose;                         /* 1: gpuexec_module_log() also has the number of registers and similar
                                                    data, unless the code comes from the driver's cache.
                                                    CU_JIT_LOG_VERBOSE */
    /* These need a newer driver: */
    int         position_independent;            /* 1: CU_JIT_POSITION_INDEPENDENT_CODE */
    int         min_blocks, max_block_threads;   /* like .minnctapersm and .maxntid in PTX: CU_JIT_MIN_CTA_PER_SM,
                                                    CU_JIT_MAX_THREADS_PER_BLOCK */
    int         override_directives;             /* 1: the options set here override those in the PTX;
                                                    CU_JIT_OVERRIDE_DIRECTIVE_VALUES */
    int         compile_threads;                 /* host threads for compiling; -1: one per CPU; CU_JIT_SPLIT_COMPILE */
    unsigned    end_canary;
} gpuexec_module_desc;

/* Loads an image from memory: PTX text, cubin or fatbin. `bytes` is its length; it may be 0 for PTX that ends in NUL
   and for binaries, which contain their length. The image may be freed afterwards. Compiling PTX takes milliseconds to
   seconds the first time. cuModuleLoadDataEx. */
GPUEXEC_API gpuexec_module gpuexec_module_load_at(const char *where, gpuexec_context context, const void *image,
                                                  size_t bytes, const gpuexec_module_desc *desc);

/* The same from a file. A relative path is relative to the working directory. GPUEXEC_FILE_ERROR if the file cannot be
   read. */
GPUEXEC_API gpuexec_module gpuexec_module_load_file_at(const char *where, gpuexec_context context, const char *path,
                                                       const gpuexec_module_desc *desc);

/* Adopts a CUmodule of that context. Its owner must not unload the module before the handle is closed. */
GPUEXEC_API gpuexec_module gpuexec_module_from_native_at(const char *where, gpuexec_context context,
                                                         struct CUmod_st *native);

/* Returns the CUmodule; NULL if the handle is not ok. gpuexec still owns the CUmodule, or, if it was adopted, other
   code does. A query. */
GPUEXEC_API struct CUmod_st *gpuexec_module_native(gpuexec_module module);

/* Returns the compiler's log of a successful load: warnings, and more with desc.verbose. "" if it is empty. Valid as
   long as the module. A query. */
GPUEXEC_API const char *gpuexec_module_log(gpuexec_module module);

/* Returns the milliseconds of compilation that the driver reports; 0 if it did not compile the image or took it from
   its cache, negative if the handle is not ok. A query. */
GPUEXEC_API double gpuexec_module_jit_ms(gpuexec_module module);

/* Returns the threads per block that the compiler targeted if desc.threads_per_block was set; 0 if it was not; -1 if
   the handle is not ok. A query. */
GPUEXEC_API int gpuexec_module_threads_per_block(gpuexec_module module);

/* Return the number of kernels in the image, and the name of each; -1 and NULL if they are not known. That happens on
   drivers before CUDA 12.4, for a binary image, or a linked module with a binary among its inputs. Names are valid as
   long as the module. Queries. */
GPUEXEC_API int gpuexec_module_kernel_count(gpuexec_module module);
GPUEXEC_API const char *gpuexec_module_kernel_name(gpuexec_module module, int index);

/* Returns the address of a __device__ or __constant__ variable, and in *bytes its size unless `bytes` is NULL; 0 if it
   fails, e.g. with GPUEXEC_NOT_FOUND. cuModuleGetGlobal. */
GPUEXEC_API gpuexec_ptr gpuexec_module_global_at(const char *where, gpuexec_module module, const char *name,
                                                 size_t *bytes);

/* Copy a whole variable from the host, or back; `bytes` must be its size. To copy a part of it, use
   gpuexec_module_global and a copy. The copy is ordered on the legacy default stream, and has finished when the call
   returns. The call is refused while a failure is latched. cuMemcpyHtoD, cuMemcpyDtoH. */
GPUEXEC_API gpuexec_result gpuexec_module_set_global_at(const char *where, gpuexec_module module, const char *name,
                                                        const void *from, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_module_get_global_at(const char *where, gpuexec_module module, const char *name,
                                                        void *to, size_t bytes);

/* Unloads the module and closes the handles of its kernels; an adopted module is not unloaded. The driver waits for
   running kernels of the module (measured on an H200). cuModuleUnload. */
GPUEXEC_API gpuexec_result gpuexec_module_unload_at(const char *where, gpuexec_module module);

/* Returns the kernel of that name, which is valid as long as its module; a second call returns the same handle.
   GPUEXEC_NOT_FOUND if there is none. cuModuleGetFunction. */
GPUEXEC_API gpuexec_kernel gpuexec_kernel_get_at(const char *where, gpuexec_module module, const char *name);

/* Adopts a CUfunction of that context. Its owner must not unload the CUfunction's module before the handle is closed.
   cuFuncGetName, cuFuncGetParamInfo. */
GPUEXEC_API gpuexec_kernel gpuexec_kernel_from_native_at(const char *where, gpuexec_context context,
                                                         struct CUfunc_st *native);

/* Returns the CUfunction, which is valid as long as its module; NULL if the handle is not ok. A query. */
GPUEXEC_API struct CUfunc_st *gpuexec_kernel_native(gpuexec_kernel kernel);

typedef struct gpuexec_kernel_info {
    const char *name;                            /* valid as long as the kernel */
    int         parameters;                      /* number of parameters; -1 if not known: the arguments of launches are
                                                    then not checked */
    int         max_threads_per_block;           /* of this kernel */
    int         registers;                       /* per thread */
    int         ptx_version, binary_version;     /* 75 for compute capability 7.5 */
    size_t      static_shared, local_bytes, constant_bytes;
    size_t      max_dynamic_shared;              /* bytes, the current limit; launches raise it automatically, up to the
                                                    device's limit */
    int         cache_mode_ca;                   /* 1: compiled to cache global loads in L1 */
    int         preferred_carveout;              /* percent of L1 for shared memory; -1: the driver's choice */
    /* clusters; 0 on drivers and devices without them: */
    int         cluster_must_be_set, required_cluster[3], non_portable_cluster_allowed;
    int         cluster_scheduling_policy;       /* CUclusterSchedulingPolicy */
} gpuexec_kernel_info;

/* Reads what the compiler and the driver report about a kernel; sizes are in bytes. A query. cuFuncGetAttribute. */
GPUEXEC_API gpuexec_result gpuexec_kernel_get_info_at(const char *where, gpuexec_kernel kernel,
                                                      gpuexec_kernel_info *info);

/* Sets which part of each multiprocessor's unified L1 cache and shared memory later launches of the kernel prefer as
   shared memory: 0 to 100 percent, or -1 for the driver's choice. This is a hint: the driver never takes less than a
   launch needs. The setting belongs to the CUfunction, so it applies to all handles and threads.
   CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT. */
GPUEXEC_API gpuexec_result gpuexec_kernel_set_carveout_at(const char *where, gpuexec_kernel kernel, int percent);

typedef enum gpuexec_cache {                     /* CUfunc_cache */
    GPUEXEC_CACHE_NO_PREFERENCE = 0,
    GPUEXEC_CACHE_PREFER_SHARED = 1,
    GPUEXEC_CACHE_PREFER_L1     = 2,
    GPUEXEC_CACHE_PREFER_EQUAL  = 3
} gpuexec_cache;

/* The older, coarser form of the same hint. Launches of kernels with different preferences can wait for each other.
   cuFuncSetCacheConfig. */
GPUEXEC_API gpuexec_result gpuexec_kernel_set_cache_at(const char *where, gpuexec_kernel kernel, gpuexec_cache prefer);

/* Returns the size of parameter `index` in bytes; 0 if it is not known or there is no such parameter. A query.
   cuFuncGetParamInfo, or the PTX text. */
GPUEXEC_API size_t gpuexec_kernel_parameter_size(gpuexec_kernel kernel, int index);

/* The type that PTX declares for a parameter. */
typedef enum gpuexec_parameter_type {
    GPUEXEC_PARAMETER_UNKNOWN = 0,               /* not known: a cubin, a fatbin, an adopted kernel */
    GPUEXEC_PARAMETER_INTEGER = 1,               /* .u8 to .u64, .s8 to .s64; also nvcc's pointers */
    GPUEXEC_PARAMETER_FLOAT = 2,                 /* .f32, .f64 */
    GPUEXEC_PARAMETER_POINTER = 3,               /* an integer with .ptr */
    GPUEXEC_PARAMETER_BITS = 4,                  /* .b8 to .b64: integer or float */
    GPUEXEC_PARAMETER_BYTES = 5                  /* an array: nvcc's structs, vectors, half and bfloat16 */
} gpuexec_parameter_type;

/* Returns the type of parameter `index` from the PTX text; GPUEXEC_PARAMETER_UNKNOWN also if there is no such
   parameter. If the argument's type is also known (from gpuexec_params_add, or a C++ value), launches refuse a float
   for an integer and an integer for a float. A query. */
GPUEXEC_API gpuexec_parameter_type gpuexec_kernel_parameter_type(gpuexec_kernel kernel, int index);

/* Returns the offset of parameter `index` in the kernel's packed parameters, in bytes from the start of the first one;
   -1 if it is not known or there is no such parameter. A query. cuFuncGetParamInfo, or the PTX text. */
GPUEXEC_API int gpuexec_kernel_parameter_offset(gpuexec_kernel kernel, int index);

/* Returns how many blocks of `block_threads` threads, with `shared_bytes` of dynamic shared memory each, can be
   resident on one multiprocessor: 0 if not even one fits; -1 if the call fails. A query.
   cuOccupancyMaxActiveBlocksPerMultiprocessor. */
GPUEXEC_API int gpuexec_kernel_occupancy(gpuexec_kernel kernel, unsigned block_threads, size_t shared_bytes);

/* Returns the threads per block with the highest occupancy, for `shared_bytes` of dynamic shared memory per block; -1
   if it fails. *blocks, unless NULL, receives the smallest grid that then fills the device. A query.
   cuOccupancyMaxPotentialBlockSize. */
GPUEXEC_API int gpuexec_kernel_best_block(gpuexec_kernel kernel, size_t shared_bytes, int *blocks);

/* ---------------------------------------------------------------------------------------------------------------------
   >>link   Several images linked into one module. Only one thread at a time may use a linker. */

typedef enum gpuexec_input_type {
    GPUEXEC_INPUT_AUTO = 0,                      /* recognized by its content */
    GPUEXEC_INPUT_PTX = 1, GPUEXEC_INPUT_CUBIN = 2, GPUEXEC_INPUT_FATBIN = 3,
    GPUEXEC_INPUT_OBJECT = 4,                    /* a host object that contains device code: nvcc -dc x.cu -o x.o */
    GPUEXEC_INPUT_LIBRARY = 5                    /* an archive of such objects: libcudadevrt.a */
} gpuexec_input_type;

/* Creates a linker without inputs. The desc's options apply to its PTX inputs; desc.name names the linked module in
   messages, by default "the image". cuLinkCreate. */
GPUEXEC_API gpuexec_linker gpuexec_linker_create_at(const char *where, gpuexec_context context,
                                                    const gpuexec_module_desc *desc);

/* Adds an input. It is copied, and may be freed afterwards. `bytes` is its length; it may be 0 for PTX that ends in
   NUL, and for cubins and fatbins. `name` is for logs and messages; NULL: "input 1" and so on. PTX is compiled during
   this call. GPUEXEC_LINK_FAILED if the input defines a symbol that an earlier input already defines, or declares a
   symbol differently. A failed call leaves the linker unchanged. GPUEXEC_TOO_LATE after the first gpuexec_linker_load,
   _image or _save that succeeded. cuLinkAddData. */
GPUEXEC_API gpuexec_result gpuexec_linker_add_at(const char *where, gpuexec_linker linker, gpuexec_input_type type,
                                                 const void *data, size_t bytes, const char *name);

/* The same from a file; the path is the input's name. */
GPUEXEC_API gpuexec_result gpuexec_linker_add_file_at(const char *where, gpuexec_linker linker, gpuexec_input_type type,
                                                      const char *path);

/* Links the inputs, unless that has already been done, and loads the result; each call creates a separate module.
   GPUEXEC_LINK_FAILED if symbols are missing, defined twice, or do not match: the text names them, and inputs may still
   be added. Like _image and _save, the call is refused while a failure is latched, for instance because an input could
   not be added. cuLinkComplete, cuModuleLoadDataEx. */
GPUEXEC_API gpuexec_module gpuexec_linker_load_at(const char *where, gpuexec_linker linker);

/* Links the inputs, unless that has already been done. _image returns the linked image, for gpuexec_module_load in this
   process or another; the image is valid as long as the linker. _save writes it to a file, completely or not at all (it
   writes a temporary file and renames it). cuLinkComplete. */
GPUEXEC_API gpuexec_result gpuexec_linker_image_at(const char *where, gpuexec_linker linker, const void **image,
                                                   size_t *bytes);
GPUEXEC_API gpuexec_result gpuexec_linker_save_at(const char *where, gpuexec_linker linker, const char *path);

/* Returns the output so far of the compiler and the linker, without that of failed calls; with desc.verbose it is more
   detailed. "" if there is none. Valid until the next call with this linker. A query. */
GPUEXEC_API const char *gpuexec_linker_log(gpuexec_linker linker);

/* Returns the milliseconds of compiling and linking that the driver reports so far; negative if the handle is not ok.
   A query. */
GPUEXEC_API double gpuexec_linker_ms(gpuexec_linker linker);

/* Destroys the linker and its inputs. Modules loaded from it stay loaded. cuLinkDestroy. */
GPUEXEC_API gpuexec_result gpuexec_linker_destroy_at(const char *where, gpuexec_linker linker);

/* ---------------------------------------------------------------------------------------------------------------------
   >>memory   Sizes are in bytes unless a name says otherwise. */

typedef enum gpuexec_memory_kind {
    GPUEXEC_MEMORY_PAGEABLE = 0,                 /* not known to CUDA: ordinary host memory, or no memory at all (CUDA
                                                    does not distinguish them) */
    GPUEXEC_MEMORY_DEVICE = 1,
    GPUEXEC_MEMORY_PINNED = 2,                   /* host memory that CUDA allocated as page-locked, or that another
                                                    library registered */
    GPUEXEC_MEMORY_REGISTERED = 3,               /* host memory that gpuexec_register page-locked */
    GPUEXEC_MEMORY_MANAGED = 4                   /* migrates between host and devices on demand (cuMemAllocManaged) */
} gpuexec_memory_kind;

/* Allocates device memory, uninitialized and aligned to at least 256 bytes. Returns 0 if it fails; GPUEXEC_BAD_ARGUMENT
   for 0 bytes. Free it with gpuexec_free. cuMemAlloc. */
GPUEXEC_API gpuexec_ptr gpuexec_alloc_at(const char *where, gpuexec_context context, size_t bytes);

/* Allocates device memory for `height` rows of `width_bytes` bytes each. The rows begin *pitch bytes apart; the driver
   chooses the pitch so that each row is aligned for accesses of `element_bytes` bytes (4, 8 or 16; for smaller
   elements, pass 4). Returns 0 if it fails. Free it with gpuexec_free. cuMemAllocPitch. */
GPUEXEC_API gpuexec_ptr gpuexec_alloc_pitched_at(const char *where, gpuexec_context context, size_t width_bytes,
                                                 size_t height, unsigned element_bytes, size_t *pitch);

/* Frees memory from gpuexec_alloc, gpuexec_alloc_pitched, gpuexec_alloc_managed or a pool; 0 is ignored. Waits for work
   that may use it. cuMemFree; for memory of a pool, cuCtxSynchronize first. */
GPUEXEC_API gpuexec_result gpuexec_free_at(const char *where, gpuexec_ptr address);

/* Allocates page-locked host memory, uninitialized. Copies use it without staging, and kernels can access it through
   gpuexec_pinned_address(). Returns NULL if it fails. Free it with gpuexec_free_pinned. The call is expensive because
   it locks pages, so allocate once. cuMemHostAlloc with PORTABLE and DEVICEMAP. */
GPUEXEC_API void *gpuexec_alloc_pinned_at(const char *where, gpuexec_context context, size_t bytes);

/* The same for memory that the host only writes, front to back, and the device reads: it is write-combined, so that
   copies of it to the device and kernels do not disturb the host's caches. For the host, reading it is very slow, and
   kernels may have another address for it: gpuexec_pinned_address. cuMemHostAlloc with WRITECOMBINED also. */
GPUEXEC_API void *gpuexec_alloc_write_combined_at(const char *where, gpuexec_context context, size_t bytes);

/* Frees memory from gpuexec_alloc_pinned or gpuexec_alloc_write_combined; NULL is ignored. Waits for work that may use
   it. cuMemFreeHost. */
GPUEXEC_API gpuexec_result gpuexec_free_pinned_at(const char *where, void *memory);

/* Page-locks existing host memory for all devices, until gpuexec_unregister(memory): unregister the memory before you
   free it. Any address and size are possible. The call is expensive because it locks pages. GPUEXEC_BAD_ARGUMENT if all
   or part of the memory is already page-locked. gpuexec_unregister waits for work that may use the memory.
   cuMemHostRegister with PORTABLE and DEVICEMAP, cuMemHostUnregister. */
GPUEXEC_API gpuexec_result gpuexec_register_at(const char *where, gpuexec_context context, void *memory, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_unregister_at(const char *where, void *memory);

/* Enable or disable direct access by kernels and copies of `context` to the memory of `peer`. This is one direction;
   for both, call the function twice. A call succeeds if nothing has to change, or if both are the same context.
   GPUEXEC_NOT_SUPPORTED if the devices do not support it (gpuexec_device_can_access_peer). cuCtxEnablePeerAccess,
   cuCtxDisablePeerAccess. */
GPUEXEC_API gpuexec_result gpuexec_peer_enable_at(const char *where, gpuexec_context context, gpuexec_context peer);
GPUEXEC_API gpuexec_result gpuexec_peer_disable_at(const char *where, gpuexec_context context, gpuexec_context peer);

/* Returns the address by which kernels access this pinned, registered or managed memory; `memory` may also point inside
   an allocation, and any library may have allocated it. 0 for other memory. cuPointerGetAttributes. */
GPUEXEC_API gpuexec_ptr gpuexec_pinned_address_at(const char *where, void *memory);

/* Enqueue a copy on a stream: host to device, device to host, device to device. Until the copy has finished, pinned
   host memory must stay valid, and must not be changed (for copy_out: nor read). A copy of 0 bytes does nothing.
   gpuexec_copy works between any two devices, with or without peer access, on a stream of either. Source and
   destination may be the same, but must not partly overlap, nor extend past the end of an allocation.
   cuMemcpyHtoDAsync, cuMemcpyDtoHAsync, cuMemcpyDtoDAsync. */
GPUEXEC_API gpuexec_result gpuexec_copy_in_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                              const void *from, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_copy_out_at(const char *where, gpuexec_stream stream, void *to, gpuexec_ptr from,
                                               size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_copy_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, gpuexec_ptr from,
                                           size_t bytes);

/* gpuexec_copy with the contexts in which the memory was allocated, as cuMemcpyPeerAsync takes them. This is needed
   only for memory outside the unified address space. */
GPUEXEC_API gpuexec_result gpuexec_copy_peer_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                                gpuexec_context to_context, gpuexec_ptr from,
                                               gpuexec_context from_context, size_t bytes);

/* Enqueue a copy of `height` rows of `width_bytes` bytes each on a stream. A pitch is the distance in bytes
   between the starts of two rows: at least the width, at most the device's CU_DEVICE_ATTRIBUTE_MAX_PITCH. If width or
   height is 0, the call does nothing. A partial overlap is only detected if both pitches are equal. To begin at column
   x (bytes) of row y, add y * pitch + x to the address. Between devices, both sides must be memory of gpuexec.
   cuMemcpy2DAsync; between devices cuMemcpy3DPeerAsync. */
GPUEXEC_API gpuexec_result gpuexec_copy_in_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                                 size_t to_pitch, const void *from, size_t from_pitch,
                                                size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_copy_out_2d_at(const char *where, gpuexec_stream stream, void *to, size_t to_pitch,
                                                  gpuexec_ptr from, size_t from_pitch,
                                                 size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_copy_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t to_pitch,
                                              gpuexec_ptr from, size_t from_pitch,
                                             size_t width_bytes, size_t height);
/* Enqueue a fill on a stream: with `bytes` copies of a byte, or `count` copies of a 16-bit or 32-bit word (the address
   must then be a multiple of 2 or 4). cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async. */
GPUEXEC_API gpuexec_result gpuexec_fill_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                           unsigned char value, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_fill16_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                             unsigned short value, size_t count);
GPUEXEC_API gpuexec_result gpuexec_fill32_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, unsigned value,
                                             size_t count);

/* The same for `height` rows of `width_bytes` bytes or `count` words. Address and pitch must be multiples of the word's
   size. cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async. */
GPUEXEC_API gpuexec_result gpuexec_fill_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t pitch,
                                              unsigned char value, size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_fill16_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t pitch,
                                                unsigned short value, size_t count, size_t height);
GPUEXEC_API gpuexec_result gpuexec_fill32_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t pitch,
                                                unsigned value, size_t count, size_t height);

/* The same without a stream: the copy or fill is ordered on the legacy default stream, and has finished when the call
   returns. The calls are refused while a failure is latched, and do not take that failure. cuMemcpyHtoD, cuMemcpyDtoH,
   cuMemcpyDtoD, cuMemsetD8Async. */
GPUEXEC_API gpuexec_result gpuexec_copy_in_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                  const void *from, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_copy_out_now_at(const char *where, gpuexec_context context, void *to,
                                                   gpuexec_ptr from, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_copy_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                               gpuexec_ptr from, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_fill_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                               unsigned char value, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_fill16_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                 unsigned short value, size_t count);
GPUEXEC_API gpuexec_result gpuexec_fill32_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                 unsigned value, size_t count);
GPUEXEC_API gpuexec_result gpuexec_copy_peer_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                    gpuexec_context to_context, gpuexec_ptr from,
                                                    gpuexec_context from_context, size_t bytes);
GPUEXEC_API gpuexec_result gpuexec_copy_in_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                     size_t to_pitch, const void *from, size_t from_pitch,
                                                     size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_copy_out_2d_now_at(const char *where, gpuexec_context context, void *to,
                                                      size_t to_pitch, gpuexec_ptr from, size_t from_pitch,
                                                      size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_copy_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                  size_t to_pitch, gpuexec_ptr from, size_t from_pitch,
                                                  size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_fill_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                  size_t pitch, unsigned char value, size_t width_bytes, size_t height);
GPUEXEC_API gpuexec_result gpuexec_fill16_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                    size_t pitch, unsigned short value, size_t count, size_t height);
GPUEXEC_API gpuexec_result gpuexec_fill32_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                    size_t pitch, unsigned value, size_t count, size_t height);

typedef struct gpuexec_pointer_info {
    gpuexec_memory_kind kind;
    int         device;                     /* ordinal of the device that holds the memory, or for which host memory was
                                               allocated; -1 for pageable memory */
    gpuexec_ptr base;                       /* start of the allocation; 0 if not known */
    size_t      bytes;                      /* size of the allocation; 0 if not known */
    gpuexec_ptr device_address;             /* address of the given byte on that device; 0 if the device cannot access
                                               the memory */
    void       *host_address;               /* address of the given byte on the host; NULL if the host cannot access the
                                               memory, or if it is pageable */
    int         ours;                       /* 1: gpuexec allocated or registered the memory; 0: other code did */
    const char *where;                      /* if ours is 1, the place of that call: "main.c:12", valid until
                                               gpuexec_shutdown; otherwise NULL */
    int         pool;                       /* 1: from a memory pool, of any library */
    int         ipc;                        /* 1: another process allocated it, and gpuexec imported it */
} gpuexec_pointer_info;

/* Describes an address, including memory of other libraries and the CUDA runtime. `address` is a device address, or a
   host pointer as (uintptr_t)pointer. A query. For memory that gpuexec allocated in a context that it opened or created
   it makes no driver call, and does not notice if that context was destroyed outside gpuexec; the first query of host
   memory, of an allocation in a capture, and of all other memory: cuPointerGetAttributes, cuMemGetAddressRange. */
GPUEXEC_API gpuexec_result gpuexec_pointer_get_info_at(const char *where, gpuexec_ptr address,
                                                       gpuexec_pointer_info *info);

typedef struct gpuexec_copy_info {
    int  asynchronous;                           /* 1: the call returns at once; 0: it may wait for earlier work on the
                                                    stream, or for the copy itself */
    int  overlaps;                               /* 1: the copy can run at the same time as kernels on other streams */
    char why[400];                               /* the reason in one sentence, with the cure if there is one */
} gpuexec_copy_info;

/* Reports whether a copy on `stream` would be asynchronous, and if not, why. It applies CUDA's documented
   synchronization behavior to the current memory at these two addresses (host pointers as (uintptr_t)pointer). Copies
   nothing. A query. */
GPUEXEC_API gpuexec_result gpuexec_copy_explain(gpuexec_stream stream, gpuexec_ptr to, gpuexec_ptr from, size_t bytes,
                                                gpuexec_copy_info *info);

/* ---------------------------------------------------------------------------------------------------------------------
   >>copies   Copies of boxes and arrays of copies. The rules of gpuexec_copy and the _2d copies apply (>>memory). */

/* One side of a 3-D copy: where its box begins in memory that consists of slices of rows. */
typedef struct gpuexec_box {
    gpuexec_ptr     device;                      /* a device address; or */
    const void     *host;                        /* a host pointer. The other one is 0 */
    size_t          pitch;                       /* bytes from the start of one row to the next; 0: width_bytes */
    size_t          slice_height;                /* rows from the start of one slice to the next; 0: height */
    size_t          x, y, z;                     /* offset: bytes in the row, rows in the slice, slices */
    gpuexec_context context;                     /* on both sides or on none ({0}): as for gpuexec_copy_peer */
} gpuexec_box;
typedef struct gpuexec_copy_3d_desc {
    unsigned    start_canary;
    gpuexec_box to, from;
    size_t      width_bytes, height, depth;      /* bytes of a row, rows of a slice, slices; nothing is copied if one is
                                                    0 */
    unsigned    end_canary;
} gpuexec_copy_3d_desc;

/* Enqueues the copy of a box on a stream, between host and device memory in any direction, also between devices, with
   or without peer access. _now: the same without a stream, like gpuexec_copy_now. GPUEXEC_BAD_ARGUMENT if the box does
   not fit into its rows and slices, or these into the allocation. cuMemcpy3DAsync; between devices
   cuMemcpy3DPeerAsync; for one slice within a device cuMemcpy2DAsync. */
GPUEXEC_API gpuexec_result gpuexec_copy_3d_at(const char *where, gpuexec_stream stream,
                                              const gpuexec_copy_3d_desc *copy);
GPUEXEC_API gpuexec_result gpuexec_copy_3d_now_at(const char *where, gpuexec_context context,
                                                  const gpuexec_copy_3d_desc *copy);

/* One of an array of copies. Of `to` and `to_host`, one is 0; of `from` and `from_host` also. */
typedef struct gpuexec_copy_part {
    gpuexec_ptr to;                              /* a device address */
    void       *to_host;
    gpuexec_ptr from;                            /* a device address */
    const void *from_host;
    size_t      bytes;
} gpuexec_copy_part;

/* Enqueues `count` copies on a stream, in any mix of directions except host to host. They run after the stream's
   earlier work, in no particular order: none may write what another one reads or writes. All are checked before the
   first is enqueued. _now: the same without a stream, like gpuexec_copy_now. For many small copies this is faster than
   a call for each:
   - to and from page-locked host memory with cuMemcpyBatchAsync, for which the driver must support CUDA 12.8, and
     which the legacy stream does not allow;
   - up to 1 MiB within the stream's context, between addresses from gpuexec, if there are at least four: with a
     kernel, 170 copies a launch. The first such call in a context loads it (cuModuleLoadDataEx), which takes a few
     milliseconds;
   - all others, and all copies in a capture: as separate copies. */
GPUEXEC_API gpuexec_result gpuexec_copy_many_at(const char *where, gpuexec_stream stream,
                                                const gpuexec_copy_part *copies, size_t count);
GPUEXEC_API gpuexec_result gpuexec_copy_many_now_at(const char *where, gpuexec_context context,
                                                    const gpuexec_copy_part *copies, size_t count);

/* ---------------------------------------------------------------------------------------------------------------------
   >>stream   Queues of work. */

typedef struct gpuexec_stream_desc {
    unsigned start_canary;
    int      non_blocking;                       /* 1: does not synchronize with the legacy default stream.
                                                    CU_STREAM_NON_BLOCKING */
    int      priority;                           /* lower numbers mean higher priority, as in CUDA; a value outside the
                                                    range of gpuexec_context_get_priorities becomes the nearest value in
                                                    the range (gpuexec_stream_get_info returns that value) */
    unsigned end_canary;
} gpuexec_stream_desc;

/* Creates a stream; desc NULL: one with default priority that synchronizes with the legacy default stream. It is
   destroyed by gpuexec_stream_destroy, or when its context is closed. cuStreamCreateWithPriority. */
GPUEXEC_API gpuexec_stream gpuexec_stream_create_at(const char *where, gpuexec_context context,
                                                    const gpuexec_stream_desc *desc);

/* Returns the context's legacy default stream (the "NULL stream"), the same handle each time. It cannot be
   destroyed. */
GPUEXEC_API gpuexec_stream gpuexec_stream_legacy_at(const char *where, gpuexec_context context);

/* Returns the context's per-thread default stream, the same handle each time and on all threads. On each thread that
   uses the handle, it refers to a separate stream of the driver, which synchronizes with the legacy default stream.
   Code compiled with --default-stream per-thread uses that stream as stream 0. It cannot be destroyed. */
GPUEXEC_API gpuexec_stream gpuexec_stream_per_thread_at(const char *where, gpuexec_context context);

/* Adopts a CUstream (or cudaStream_t) of `context`. Its owner must not destroy the stream before the handle is closed.
   NULL and CU_STREAM_LEGACY are the legacy default stream, CU_STREAM_PER_THREAD is the per-thread default stream.
   GPUEXEC_WRONG_CONTEXT if the stream belongs to another context. cuStreamGetCtx. */
GPUEXEC_API gpuexec_stream gpuexec_stream_from_native_at(const char *where, gpuexec_context context,
                                                         struct CUstream_st *native);

/* Returns the CUstream: CU_STREAM_LEGACY ((CUstream)1) for the legacy default stream, CU_STREAM_PER_THREAD
   ((CUstream)2) for the per-thread default stream. NULL if the handle is not ok. A query. */
GPUEXEC_API struct CUstream_st *gpuexec_stream_native(gpuexec_stream stream);

/* Waits until all work on the stream has finished. Returns and takes the thread's latched failure; if there is none,
   the failure that marked the stream. cuStreamSynchronize. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_stream_sync_at(const char *where, gpuexec_stream stream);

/* Returns GPUEXEC_OK if all work on the stream has finished, GPUEXEC_NOT_READY if not. A query. cuStreamQuery. */
GPUEXEC_API gpuexec_result gpuexec_stream_query(gpuexec_stream stream);

/* Makes later work on `stream` wait for the last record of the event, on any stream of any device. If the event was
   never recorded, there is no wait. cuStreamWaitEvent. */
GPUEXEC_API gpuexec_result gpuexec_stream_wait_event_at(const char *where, gpuexec_stream stream, gpuexec_event event);

/* Makes later work on `stream` wait for all work enqueued so far on `other`, a stream of any device. cuEventRecord and
   cuStreamWaitEvent, on an event that the context keeps for this. */
GPUEXEC_API gpuexec_result gpuexec_stream_wait_stream_at(const char *where, gpuexec_stream stream,
                                                         gpuexec_stream other);

/* Enqueues a call of function(user) on a thread of the driver. Later work on the stream waits until the function
   returns. The function must not call CUDA, nor wait for a thread that does. After a kernel has failed, the function
   may or may not be called: do not rely on it to free memory. cuLaunchHostFunc. */
GPUEXEC_API gpuexec_result gpuexec_stream_host_function_at(const char *where, gpuexec_stream stream,
                                                           void (*function)(void *user), void *user);

/* How a value in memory compares with the given one, for gpuexec_stream_wait_value32 and 64. */
typedef enum gpuexec_compare {                   /* CU_STREAM_WAIT_VALUE_* */
    GPUEXEC_GREATER_EQUAL = 0,                   /* (int)(*address - value) >= 0, so that counters may wrap around */
    GPUEXEC_EQUAL = 1,                           /* *address == value */
    GPUEXEC_AND   = 2,                           /* (*address & value) != 0 */
    GPUEXEC_NOR   = 3                            /* ~(*address | value) != 0 */
} gpuexec_compare;

/* Make later work on `stream` wait until the value at `address` satisfies the comparison. The address must be a
   multiple of 4 (for 64 bits, of 8), in device memory or in pinned memory (gpuexec_pinned_address). A kernel or another
   stream can write the value, or the host, if it is in pinned memory. If the value is never written, the stream never
   continues, and every wait for the stream hangs: use events instead if they suffice. Needs a driver for CUDA 11.7 or
   later. cuStreamWaitValue32, cuStreamWaitValue64. */
GPUEXEC_API gpuexec_result gpuexec_stream_wait_value32_at(const char *where, gpuexec_stream stream,
                                                          gpuexec_ptr address, unsigned value,
                                                          gpuexec_compare compare);
GPUEXEC_API gpuexec_result gpuexec_stream_wait_value64_at(const char *where, gpuexec_stream stream,
                                                          gpuexec_ptr address, unsigned long long value,
                                                          gpuexec_compare compare);

/* Enqueue a write of the value to `address`, after all work enqueued on the stream so far; a reader of the value also
   sees what that work wrote. The address and the driver must be as for the waits. cuStreamWriteValue32,
   cuStreamWriteValue64. */
GPUEXEC_API gpuexec_result gpuexec_stream_write_value32_at(const char *where, gpuexec_stream stream,
                                                           gpuexec_ptr address, unsigned value);
GPUEXEC_API gpuexec_result gpuexec_stream_write_value64_at(const char *where, gpuexec_stream stream,
                                                           gpuexec_ptr address, unsigned long long value);

typedef struct gpuexec_stream_info {
    int device;                                  /* ordinal */
    int non_blocking;                            /* 1: does not synchronize with the legacy default stream */
    int priority;                                /* the actual priority */
    int adopted;                                 /* 1: adopted, or a default stream: gpuexec does not destroy it */
} gpuexec_stream_info;

/* Reads the properties of a stream. A query. cuStreamGetFlags, cuStreamGetPriority. */
GPUEXEC_API gpuexec_result gpuexec_stream_get_info_at(const char *where, gpuexec_stream stream,
                                                      gpuexec_stream_info *info);

/* Closes the handle and destroys the stream, without waiting: work already enqueued still runs. An adopted stream is
   not destroyed. cuStreamDestroy. */
GPUEXEC_API gpuexec_result gpuexec_stream_destroy_at(const char *where, gpuexec_stream stream);

/* ---------------------------------------------------------------------------------------------------------------------
   >>current   Each thread has a current stream in each context: at first the context's own stream. GPUEXEC_CURRENT in
   place of a stream means the current stream of the calling thread: for a launch, in the kernel's context; for a copy
   or fill, in the context of the destination, or of the source if the destination is host memory; for
   gpuexec_event_record, in the event's context; for gpuexec_alloc_on, in the thread's current context; for
   gpuexec_free_on, in the allocation's context. All other calls refuse it: pass gpuexec_context_stream(context). */

#ifdef __cplusplus
#  define GPUEXEC_CURRENT (gpuexec_stream{ 0x14 })
#else
#  define GPUEXEC_CURRENT ((gpuexec_stream){ 0x14 })
#endif

/* Returns the calling thread's current stream of the context. If the thread has made none current, that is the
   context's own stream: all threads share it, it is created with the default desc when it is first needed, and closed
   with the context. cuStreamCreateWithPriority at most once for each context. */
GPUEXEC_API gpuexec_stream gpuexec_context_stream_at(const char *where, gpuexec_context context);

/* Makes the stream the calling thread's current one in its context; {0}: the context's own stream again. Nothing waits:
   what was enqueued before on the other stream may still run. GPUEXEC_STREAM_SCOPE adds the wait. The stream must stay
   open as long as it is current. No driver call. */
GPUEXEC_API gpuexec_result gpuexec_context_set_stream_at(const char *where, gpuexec_context context,
                                                         gpuexec_stream stream);

/* GPUEXEC_STREAM_SCOPE(stream) { ... } makes the stream current in the block. First, it makes the stream wait for what
   has been enqueued on the stream that was current: work in the block sees the results of work before it. At the end
   of the block, the other stream is current again, even if return, break, goto or a C++ exception leaves the block; it
   does not wait. GPUEXEC_STREAM_SCOPE_JOIN(stream) { ... } also makes it wait there for the work of the block. If a
   wait fails, the failure is latched, and on entry the block is skipped. The rules of GPUEXEC_CONTEXT_SCOPE for break,
   continue, nesting and MSVC apply. cuEventRecord and cuStreamWaitEvent, once for each wait. */
#define GPUEXEC_STREAM_SCOPE(stream)      GXI_STREAM_SCOPE(stream, 0)
#define GPUEXEC_STREAM_SCOPE_JOIN(stream) GXI_STREAM_SCOPE(stream, 1)
#define GXI_STREAM_SCOPE(stream, join) \
    for (GXI_STREAM_SCOPE_TYPE GXI_CAT(gxi_scope_, __LINE__) \
             GXI_SCOPE_INIT(gpuexec_stream_scope_begin_at(GPUEXEC_HERE, stream, join)); \
         GXI_CAT(gxi_scope_, __LINE__).entered == 1; \
         GXI_SCOPE_NEXT(gpuexec_stream_scope_end, GXI_CAT(gxi_scope_, __LINE__)))
typedef struct gpuexec_stream_scope {
    gpuexec_context context;
    gpuexec_stream  stream, before;
    const char     *where;
    void           *before_slot;
    unsigned long long ends;
    int             join, entered;
} gpuexec_stream_scope;
GPUEXEC_API gpuexec_stream_scope gpuexec_stream_scope_begin_at(const char *where, gpuexec_stream stream, int join);
GPUEXEC_API void gpuexec_stream_scope_end(gpuexec_stream_scope *scope);        /* a second call does nothing */
#ifdef __cplusplus
#  define GXI_STREAM_SCOPE_TYPE gxi_stream_scope
#elif defined(__GNUC__)
#  define GXI_STREAM_SCOPE_TYPE __attribute__((cleanup(gpuexec_stream_scope_end))) gpuexec_stream_scope
#else
#  define GXI_STREAM_SCOPE_TYPE gpuexec_stream_scope
#endif

/* ---------------------------------------------------------------------------------------------------------------------
   >>pool   Device memory allocated and freed in the order of a stream, and the pools that it comes from. */

/* Allocates device memory on the stream's device, uninitialized and aligned to at least 256 bytes. Work enqueued later
   on this stream can use it; work on other streams, and copies without a stream, must wait for this point. On
   GPUEXEC_CURRENT, the thread's current context decides (gpuexec_context_push, or another library's cuCtxSetCurrent or
   cudaSetDevice); GPUEXEC_BAD_ARGUMENT if there is none, or gpuexec has no handle for it. Returns 0 if it fails, or is
   refused; GPUEXEC_BAD_ARGUMENT for 0 bytes, GPUEXEC_NOT_SUPPORTED if the device has no memory pools. Free it with
   gpuexec_free_on or gpuexec_free; otherwise it is freed when the stream's context is closed. Kernels on other devices
   can access it only with gpuexec_pool_peer_enable; gpuexec_peer_enable is not enough. cuMemAllocFromPoolAsync; the
   first call on a device also cuMemPoolCreate and cuMemPoolSetAttribute. */
GPUEXEC_API gpuexec_ptr gpuexec_alloc_on_at(const char *where, gpuexec_stream stream, size_t bytes);

/* Frees memory from gpuexec_alloc_on, gpuexec_pool_alloc, gpuexec_alloc or gpuexec_alloc_pitched once all work enqueued
   so far on the stream has finished; does not wait. Work on other streams that uses the memory must have finished, or
   the stream must wait for it first. 0 is ignored. The stream can be any on the device; GPUEXEC_CURRENT is the current
   one of the context in which the memory was allocated. Clean-up: not refused, latches nothing. cuMemFreeAsync. */
GPUEXEC_API gpuexec_result gpuexec_free_on_at(const char *where, gpuexec_stream stream, gpuexec_ptr address);

typedef struct gpuexec_pool_desc {
    unsigned start_canary;
    int      use_default;                        /* 1: the device's default pool, which other libraries use, too.
                                                    gpuexec does not change its settings: leave the members below 0,
                                                    except or_plain. cuDeviceGetDefaultMemPool */
    int      release;                            /* 0: the pool keeps what was freed for its next allocations. 1: each
                                                    wait of the host returns unused memory to the system, as long as the
                                                    pool has reserved more than release_threshold bytes */
    size_t   release_threshold;                  /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, whose default in CUDA is 0 */
    size_t   max_bytes;                          /* the most that the pool may reserve; 0: no limit. The driver rounds
                                                    it up. Needs a driver for CUDA 12.2 or later */
    int      exportable;                         /* 1: other processes can import the pool, by file descriptor.
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR */
    int      or_plain;                           /* if the device has no memory pools: 0: GPUEXEC_NOT_SUPPORTED; 1:
                                                    gpuexec_pool_alloc then works as gpuexec_alloc does (and can wait),
                                                    and there is nothing to trim or set */
    unsigned end_canary;
} gpuexec_pool_desc;

/* Creates a memory pool on the device of the context; desc NULL: a pool that keeps all its memory. The context owns it.
   GPUEXEC_BAD_ARGUMENT if members of the desc contradict each other, GPUEXEC_NOT_SUPPORTED if the device has no pools,
   or cannot export them. cuMemPoolCreate, cuMemPoolSetAttribute. */
GPUEXEC_API gpuexec_pool gpuexec_pool_create_at(const char *where, gpuexec_context context,
                                                const gpuexec_pool_desc *desc);

/* Returns gpuexec's own pool of the context's device, from which gpuexec_alloc_on allocates: to lower its threshold,
   trim it, or read its numbers. All contexts on a device share it. It is destroyed with the last of them. */
GPUEXEC_API gpuexec_pool gpuexec_context_pool_at(const char *where, gpuexec_context context);

/* gpuexec_alloc_on with memory of this pool; the stream must be on the pool's device. Free it with gpuexec_free_on or
   gpuexec_free. GPUEXEC_WRONG_CONTEXT for a stream on another device, GPUEXEC_OUT_OF_DEVICE_MEMORY also if the pool has
   reached max_bytes. cuMemAllocFromPoolAsync; on a device without pools, cuMemAlloc. */
GPUEXEC_API gpuexec_ptr gpuexec_pool_alloc_at(const char *where, gpuexec_pool pool, gpuexec_stream stream,
                                              size_t bytes);

/* Returns unused memory of the pool to the system until it has reserved at most keep_bytes. Memory whose free is still
   pending stays: wait for its stream first. Clean-up. cuMemPoolTrimTo. */
GPUEXEC_API gpuexec_result gpuexec_pool_trim_at(const char *where, gpuexec_pool pool, size_t keep_bytes);

/* Sets the bytes up to which the pool keeps unused memory when the host waits: 0: none, as in CUDA's default pools;
   (size_t)-1: all, as in gpuexec's pools. GPUEXEC_BAD_ARGUMENT for the default pool. cuMemPoolSetAttribute. */
GPUEXEC_API gpuexec_result gpuexec_pool_set_threshold_at(const char *where, gpuexec_pool pool, size_t bytes);

typedef struct gpuexec_pool_info {
    int    device;                               /* ordinal */
    int    plain;                                /* 1: the device has no pools; the numbers below are 0 */
    size_t threshold;                            /* (size_t)-1: the pool keeps all */
    size_t max_bytes;                            /* 0: no limit */
    size_t used, used_high;                      /* bytes allocated now, and at most since the pool was created, or
                                                    since gpuexec_pool_reset_high */
    size_t reserved, reserved_high;              /* the same for bytes that the pool holds; trimming can return
                                                    reserved - used */
} gpuexec_pool_info;

/* Reads the numbers of a pool. They count memory whose free is pending as unused. A query. cuMemPoolGetAttribute. */
GPUEXEC_API gpuexec_result gpuexec_pool_get_info_at(const char *where, gpuexec_pool pool, gpuexec_pool_info *info);

/* Sets used_high and reserved_high to the current values. GPUEXEC_BAD_ARGUMENT for the default pool.
   cuMemPoolSetAttribute. */
GPUEXEC_API gpuexec_result gpuexec_pool_reset_high_at(const char *where, gpuexec_pool pool);

/* Let kernels and copies on the device of `context` access the pool's memory directly, including what is allocated
   already; or no longer. A call succeeds if that is the pool's own device. GPUEXEC_NOT_SUPPORTED if the devices do not
   support it, GPUEXEC_BAD_ARGUMENT for the default pool. cuMemPoolSetAccess. */
GPUEXEC_API gpuexec_result gpuexec_pool_peer_enable_at(const char *where, gpuexec_pool pool, gpuexec_context context);
GPUEXEC_API gpuexec_result gpuexec_pool_peer_disable_at(const char *where, gpuexec_pool pool, gpuexec_context context);

/* Returns the CUmemoryPool; NULL if the handle is not ok, or the device has no pools. A query. */
GPUEXEC_API struct CUmemPoolHandle_st *gpuexec_pool_native(gpuexec_pool pool);

/* Destroys a pool from gpuexec_pool_create; of a default pool, only the handle. Memory that is still allocated remains
   valid until it is freed, and the driver keeps the pool's other memory no longer than that. cuMemPoolDestroy. */
GPUEXEC_API gpuexec_result gpuexec_pool_destroy_at(const char *where, gpuexec_pool pool);

/* ---------------------------------------------------------------------------------------------------------------------
   >>managed   Memory with one address for host and devices, whose pages migrate to where they are used. */

typedef struct gpuexec_managed_desc {
    unsigned start_canary;
    int      concurrent;                         /* 1: GPUEXEC_NOT_SUPPORTED unless the host may access the memory while
                                                    kernels run */
    int      oversubscribe;                      /* 1: more bytes than the device has free. The rest must fit into the
                                                    host's memory: if not, Linux may end this process or others */
    int      attach_host;                        /* 1: devices cannot access the memory until gpuexec_managed_attach.
                                                    CU_MEM_ATTACH_HOST */
    unsigned end_canary;
} gpuexec_managed_desc;

/* Allocates managed memory. Kernels, copies, fills and the host use the same address: gpuexec_managed_host(p) is the
   host's pointer. Returns 0 if it fails: GPUEXEC_NOT_SUPPORTED if the device has no managed memory,
   GPUEXEC_OUT_OF_DEVICE_MEMORY for more bytes than the device has free, unless desc.oversubscribe is 1. Free it with
   gpuexec_free. cuMemAllocManaged. */
GPUEXEC_API gpuexec_ptr gpuexec_alloc_managed_at(const char *where, gpuexec_context context, size_t bytes,
                                                 const gpuexec_managed_desc *desc);

/* Returns the host's pointer to managed memory, for the same byte. On a device on which the host may not access managed
   memory while kernels run (gpuexec_managed_info.concurrent is 0), an access would end the process; there the call
   returns NULL, with GPUEXEC_NOT_SUPPORTED, if a stream of gpuexec has pending work on that device. Memory attached to
   the host or a stream may be accessed nevertheless: cast its address. cuDeviceGetAttribute, cuStreamQuery. */
GPUEXEC_API void *gpuexec_managed_host_at(const char *where, gpuexec_ptr address);

/* Where managed memory is: the ordinal of a device, or one of these. */
enum {
    GPUEXEC_HOST = -1,                           /* the host; for a prefetch, the NUMA node that the driver chooses */
    GPUEXEC_NOWHERE = -2,                        /* only in gpuexec_managed_info */
    GPUEXEC_NUMA_CURRENT = -3                    /* the host's NUMA node on which the calling thread runs; as below */
};
#define GPUEXEC_NUMA(node) (-16 - (node))        /* a NUMA node of the host; needs a driver for CUDA 12.2 or later */

/* Enqueues the migration of the pages of these bytes, so that their first access there need not wait for it. Device and
   stream's device must support concurrent access: otherwise GPUEXEC_NOT_SUPPORTED. cuMemPrefetchAsync. */
GPUEXEC_API gpuexec_result gpuexec_managed_prefetch_at(const char *where, gpuexec_stream stream, gpuexec_ptr address,
                                                       size_t bytes, int location);

typedef enum gpuexec_advice {                    /* CU_MEM_ADVISE_* */
    GPUEXEC_READ_MOSTLY = 1,                     /* readers get copies, and a write removes these; the location is
                                                    ignored */
    GPUEXEC_NOT_READ_MOSTLY = 2,
    GPUEXEC_PREFERRED = 3,                       /* pages stay at the location, if they can be accessed from there */
    GPUEXEC_NOT_PREFERRED = 4,                   /* the location is ignored */
    GPUEXEC_ACCESSED_BY = 5,                     /* the location can access the pages where they are, without faults */
    GPUEXEC_NOT_ACCESSED_BY = 6
} gpuexec_advice;

/* Sets how these bytes will be used, for whole pages; it changes no result. Errors as for gpuexec_managed_prefetch.
   cuMemAdvise. */
GPUEXEC_API gpuexec_result gpuexec_managed_advise_at(const char *where, gpuexec_ptr address, size_t bytes,
                                                     gpuexec_advice advice, int location);

typedef enum gpuexec_attachment {                /* CU_MEM_ATTACH_* */
    GPUEXEC_ATTACH_ALL = 1,                      /* any stream of any device may use the memory */
    GPUEXEC_ATTACH_HOST = 2,                     /* no device may */
    GPUEXEC_ATTACH_STREAM = 4                    /* only this stream, which must not be a default stream; the host may
                                                    access the memory when the stream is idle */
} gpuexec_attachment;

/* Attaches a whole allocation from gpuexec_alloc_managed, at this point of the stream: for devices without concurrent
   access, where the host otherwise has to wait for the whole device. cuStreamAttachMemAsync. */
GPUEXEC_API gpuexec_result gpuexec_managed_attach_at(const char *where, gpuexec_stream stream, gpuexec_ptr address,
                                                     gpuexec_attachment attachment);

enum { GPUEXEC_MANAGED_DEVICES = 16 };
typedef struct gpuexec_managed_info {
    int concurrent;                              /* 1: the host may access the memory while kernels run on its device.
                                                    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS */
    int read_mostly;                             /* 1: all the bytes are */
    int preferred, last_prefetch;                /* a location; GPUEXEC_NOWHERE if there is none, or not the same for
                                                    all the bytes. Drivers may report the host for a NUMA node */
    int accessed_by[GPUEXEC_MANAGED_DEVICES];    /* locations, then GPUEXEC_NOWHERE */
} gpuexec_managed_info;

/* Reads what was set for these bytes; not where the pages are, which no driver reports. A query.
   cuMemRangeGetAttributes. */
GPUEXEC_API gpuexec_result gpuexec_managed_get_info_at(const char *where, gpuexec_ptr address, size_t bytes,
                                                       gpuexec_managed_info *info);

/* ---------------------------------------------------------------------------------------------------------------------
   >>event   Points in streams. */

typedef struct gpuexec_event_desc {
    unsigned start_canary;
    int      no_timing;                   /* 1: cheaper, for ordering only. CU_EVENT_DISABLE_TIMING */
    int      blocking_sync;               /* 1: gpuexec_event_sync sleeps instead of spinning. CU_EVENT_BLOCKING_SYNC */
    int      interprocess;                /* 1: gpuexec_ipc_export_event can export it; implies no_timing.
                                             CU_EVENT_INTERPROCESS */
    unsigned end_canary;
} gpuexec_event_desc;

/* Creates an event, for gpuexec_event_record; desc NULL: one with timing. It is destroyed by gpuexec_event_destroy, or
   when its context is closed. cuEventCreate. */
GPUEXEC_API gpuexec_event gpuexec_event_create_at(const char *where, gpuexec_context context,
                                                  const gpuexec_event_desc *desc);

/* Adopts a CUevent (or cudaEvent_t) of that context. Its owner must not destroy the event before the handle is
   closed. */
GPUEXEC_API gpuexec_event gpuexec_event_from_native_at(const char *where, gpuexec_context context,
                                                       struct CUevent_st *native);

/* Returns the CUevent; NULL if the handle is not ok. A query. */
GPUEXEC_API struct CUevent_st *gpuexec_event_native(gpuexec_event event);

/* Records the event on the stream: the event is reached when all work enqueued there so far has finished. Recording it
   again replaces the earlier record. Event and stream must belong to the same context (GPUEXEC_WRONG_CONTEXT). If a
   record fails or is refused, every call that waits for the event, queries it or measures its time fails until it is
   recorded again. cuEventRecord. */
GPUEXEC_API gpuexec_result gpuexec_event_record_at(const char *where, gpuexec_event event, gpuexec_stream stream);

/* Creates an event in the stream's context and records it at the current end of the stream. Use it to wait or to
   measure time. Destroy it when you no longer need it, even before it is reached. The call is refused while a failure
   is latched. cuEventCreate, cuEventRecord. */
GPUEXEC_API gpuexec_event gpuexec_stream_record_at(const char *where, gpuexec_stream stream,
                                                   const gpuexec_event_desc *desc);

/* Waits until the event's last record is reached; does not wait if there was none. Returns and takes the thread's
   latched failure. cuEventSynchronize. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_event_sync_at(const char *where, gpuexec_event event);

/* Returns GPUEXEC_OK if the event's last record is reached, GPUEXEC_NOT_READY if not. A query. cuEventQuery. */
GPUEXEC_API gpuexec_result gpuexec_event_query(gpuexec_event event);

/* Returns the milliseconds from `start` to `stop`, two events of one context. Both must be recorded and reached: call
   gpuexec_event_sync(stop) first. Negative if the time is not available: gpuexec_error_text() says why. A query.
   cuEventElapsedTime. */
GPUEXEC_API double gpuexec_event_elapsed_ms_at(const char *where, gpuexec_event start, gpuexec_event stop);

/* Closes the handle and destroys the event, without waiting; a stream that waits for the event still does. An adopted
   event is not destroyed. cuEventDestroy. */
GPUEXEC_API gpuexec_result gpuexec_event_destroy_at(const char *where, gpuexec_event event);

/* ---------------------------------------------------------------------------------------------------------------------
   >>launch   Grids, arguments, launching. */

typedef struct gpuexec_dims {
    unsigned grid_x, grid_y, grid_z;             /* blocks in the grid; y and z: 0 means 1 */
    unsigned block_x, block_y, block_z;          /* threads in a block; y and z: 0 means 1 */
    unsigned shared_bytes;                       /* dynamic shared memory per block */
} gpuexec_dims;

/* Return dims with enough blocks of block_x (times block_y) threads to cover n (width times height) threads, and no
   dynamic shared memory. The last blocks can reach past n: the kernel must compare its index with n. If n is 0, the
   grid is empty, which gpuexec_launch refuses. These are pure functions. */
GPUEXEC_API gpuexec_dims gpuexec_grid_for(size_t n, unsigned block_x);
GPUEXEC_API gpuexec_dims gpuexec_grid_for_2d(size_t width, size_t height, unsigned block_x, unsigned block_y);

/* Returns the same dims with that many bytes of dynamic shared memory, for kernels with `extern __shared__`:
   gpuexec_launch(k, s, gpuexec_with_shared(gpuexec_grid_for(n, 256), 256 * sizeof(float)), ...). */
GPUEXEC_API gpuexec_dims gpuexec_with_shared(gpuexec_dims dims, unsigned shared_bytes);

/* Returns dims of exactly `blocks` blocks of `threads` threads, with `shared_bytes` of dynamic shared memory per
   block. */
GPUEXEC_API gpuexec_dims gpuexec_grid(unsigned blocks, unsigned threads, unsigned shared_bytes);

typedef struct gpuexec_args {                    /* from GPUEXEC_ARGS or gpuexec_params_args, or filled in by hand,
                                                    starting from {0} */
    const void *const    *addresses;             /* the address of each argument's value */
    const unsigned short *sizes;                 /* the size of each argument in bytes; NULL: sizes are not checked, and
                                                    gpuexec_prepare needs a kernel whose parameter sizes are known */
    unsigned              count;
    unsigned              typed;                 /* 1: after the sizes come the gpuexec_types of the arguments, which
                                                    are then also checked; 2: see block */
    gpuexec_params        block;                 /* if typed is 2 (from gpuexec_params_args): the parameter block that
                                                    holds the arguments */
} gpuexec_args;

/* Launches the kernel on the stream and returns without waiting. The arguments are checked against the kernel first; if
   the driver refuses the launch, the text names the limit that the launch exceeds. Argument values are copied during
   the call. Kernel and stream must belong to the same CUcontext (GPUEXEC_WRONG_CONTEXT).
   In C: gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, b)), or GPUEXEC_NO_ARGS for a kernel without parameters.
   In C++: the same, or the values directly: gpuexec_launch(kernel, stream, dims, a, 2 * b).
   `where` must stay valid until gpuexec_shutdown, such as a string literal: only its address is kept.
   cuLaunchKernelEx, which takes a little less time than cuLaunchKernel; before CUDA 11.8 cuLaunchKernel. */
GPUEXEC_API gpuexec_result gpuexec_launch_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                             gpuexec_dims dims, gpuexec_args args);

/* Launches the kernel as one cooperative grid: all of its blocks are resident at the same time and may wait for each
   other (grid.sync() of cooperative groups). A grid with more blocks than fit is refused (GPUEXEC_BAD_LAUNCH), and the
   text has both numbers; gpuexec_kernel_cooperative_blocks returns how many fit. cuLaunchCooperativeKernel. */
GPUEXEC_API gpuexec_result gpuexec_launch_cooperative_at(const char *where, gpuexec_kernel kernel,
                                                         gpuexec_stream stream, gpuexec_dims dims, gpuexec_args args);

/* Launch attributes. With all members 0, the launch is the same as gpuexec_launch; with only `cooperative` set, the
   same as gpuexec_launch_cooperative, on any driver. The other members need a driver for CUDA 11.8 or later. */
typedef struct gpuexec_launch_desc {
    unsigned start_canary;
    unsigned cluster_x, cluster_y, cluster_z;    /* blocks in a cluster. They run at the same time and can read each
                                                    other's shared memory; the grid must be a multiple of the cluster.
                                                    All 0: no clusters, or those of the kernel (__cluster_dims__). Needs
                                                    compute capability 9.0 or later.
                                                    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
    int      non_portable_cluster;               /* 1: allow more than 8 blocks in a cluster; not every device with
                                                    clusters can run them */
    int      cooperative;                        /* 1: like gpuexec_launch_cooperative */
    int      has_priority, priority;             /* has_priority 1: use this priority instead of the stream's; lower
                                                    numbers mean higher priority, as in CUDA */
    int      programmatic;                       /* 1: the kernel may begin before the previous kernel on the stream has
                                                    finished; only for kernels that wait for the previous one
                                                    themselves (cudaGridDependencySynchronize).
                                                    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */
    int      memory_sync_domain;                /* CU_LAUNCH_MEM_SYNC_DOMAIN_*: 0 the stream's domain, 1 remote */
    unsigned end_canary;
} gpuexec_launch_desc;

/* gpuexec_launch with attributes; desc NULL: none. In C++ the values may follow the desc. cuLaunchKernelEx. */
GPUEXEC_API gpuexec_result gpuexec_launch_with_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                  gpuexec_dims dims,
                                                 const gpuexec_launch_desc *desc, gpuexec_args args);

/* Returns the most blocks that a cooperative grid of the kernel can have, with `block_threads` threads and
   `shared_bytes` of dynamic shared memory per block: 0 if no such block fits; -1 if the call fails. A query.
   cuOccupancyMaxActiveBlocksPerMultiprocessor times the number of multiprocessors. */
GPUEXEC_API int gpuexec_kernel_cooperative_blocks(gpuexec_kernel kernel, unsigned block_threads, size_t shared_bytes);

/* The arguments of one launch. In C: a gpuexec_args with the addresses and sizes of 1 to 64 lvalues of at most 32,764
   bytes each; it is valid until the end of the enclosing block. Put a constant or an expression into a variable first.
   In C++: just the values. */
#ifdef __cplusplus
#  define GPUEXEC_ARGS(...) __VA_ARGS__
#  define GPUEXEC_NO_ARGS (gpuexec_args())
#else
#  define GPUEXEC_ARGS(...) ((gpuexec_args){ \
       (const void *const[]){ GXI_EACH(GXI_ADDRESS, __VA_ARGS__) }, \
       (const unsigned short[]){ GXI_EACH(GXI_SIZE, __VA_ARGS__) }, GXI_COUNT(__VA_ARGS__), 0, { 0 } \
       })
#  define GPUEXEC_NO_ARGS ((gpuexec_args){ 0, 0, 0, 0, { 0 } })
#endif

/* ---------------------------------------------------------------------------------------------------------------------
   >>params   Arguments packed as the device needs them, and prepared launches. */

/* The types of kernel parameters, with their size and alignment in device code (CUDA C++ Programming Guide, table
   "Alignment Requirements"). The host compiler may use others for its type of the same name. double4 and similar types
   have two alignments in CUDA 13; the one of CUDA 12 is _16A. */
#define GXI_TYPES(ROW) \
    ROW(GPUEXEC_BOOL, bool, 1, 1) \
    ROW(GPUEXEC_CHAR, char, 1, 1)           /* also signed char */ \
    ROW(GPUEXEC_CHAR1, char1, 1, 1) ROW(GPUEXEC_CHAR2, char2, 2, 2) ROW(GPUEXEC_CHAR3, char3, 3, 1) \
    ROW(GPUEXEC_CHAR4, char4, 4, 4) \
    ROW(GPUEXEC_UCHAR, unsigned char, 1, 1) \
    ROW(GPUEXEC_UCHAR1, uchar1, 1, 1) ROW(GPUEXEC_UCHAR2, uchar2, 2, 2) ROW(GPUEXEC_UCHAR3, uchar3, 3, 1) \
    ROW(GPUEXEC_UCHAR4, uchar4, 4, 4) \
    ROW(GPUEXEC_SHORT, short, 2, 2) \
    ROW(GPUEXEC_SHORT1, short1, 2, 2) ROW(GPUEXEC_SHORT2, short2, 4, 4) ROW(GPUEXEC_SHORT3, short3, 6, 2) \
    ROW(GPUEXEC_SHORT4, short4, 8, 8) \
    ROW(GPUEXEC_USHORT, unsigned short, 2, 2) \
    ROW(GPUEXEC_USHORT1, ushort1, 2, 2) ROW(GPUEXEC_USHORT2, ushort2, 4, 4) ROW(GPUEXEC_USHORT3, ushort3, 6, 2) \
    ROW(GPUEXEC_USHORT4, ushort4, 8, 8) \
    ROW(GPUEXEC_INT, int, 4, 4) \
    ROW(GPUEXEC_INT1, int1, 4, 4) ROW(GPUEXEC_INT2, int2, 8, 8) ROW(GPUEXEC_INT3, int3, 12, 4) \
    ROW(GPUEXEC_INT4, int4, 16, 16) \
    ROW(GPUEXEC_UINT, unsigned, 4, 4) \
    ROW(GPUEXEC_UINT1, uint1, 4, 4) ROW(GPUEXEC_UINT2, uint2, 8, 8) ROW(GPUEXEC_UINT3, uint3, 12, 4) \
    ROW(GPUEXEC_UINT4, uint4, 16, 16) \
    ROW(GPUEXEC_LONGLONG, long long, 8, 8) \
    ROW(GPUEXEC_LONGLONG1, longlong1, 8, 8) ROW(GPUEXEC_LONGLONG2, longlong2, 16, 16) \
    ROW(GPUEXEC_LONGLONG3, longlong3, 24, 8) \
    ROW(GPUEXEC_LONGLONG4_16A, longlong4_16a, 32, 16) ROW(GPUEXEC_LONGLONG4_32A, longlong4_32a, 32, 32) \
    ROW(GPUEXEC_ULONGLONG, unsigned long long, 8, 8) \
    ROW(GPUEXEC_ULONGLONG1, ulonglong1, 8, 8) ROW(GPUEXEC_ULONGLONG2, ulonglong2, 16, 16) \
    ROW(GPUEXEC_ULONGLONG3, ulonglong3, 24, 8) \
    ROW(GPUEXEC_ULONGLONG4_16A, ulonglong4_16a, 32, 16) ROW(GPUEXEC_ULONGLONG4_32A, ulonglong4_32a, 32, 32) \
    ROW(GPUEXEC_HALF, half, 2, 2) ROW(GPUEXEC_HALF2, half2, 4, 4) \
    ROW(GPUEXEC_BFLOAT16, bfloat16, 2, 2) ROW(GPUEXEC_BFLOAT162, bfloat162, 4, 4) \
    ROW(GPUEXEC_FLOAT, float, 4, 4) \
    ROW(GPUEXEC_FLOAT1, float1, 4, 4) ROW(GPUEXEC_FLOAT2, float2, 8, 8) ROW(GPUEXEC_FLOAT3, float3, 12, 4) \
    ROW(GPUEXEC_FLOAT4, float4, 16, 16) \
    ROW(GPUEXEC_DOUBLE, double, 8, 8) \
    ROW(GPUEXEC_DOUBLE1, double1, 8, 8) ROW(GPUEXEC_DOUBLE2, double2, 16, 16) ROW(GPUEXEC_DOUBLE3, double3, 24, 8) \
    ROW(GPUEXEC_DOUBLE4_16A, double4_16a, 32, 16) ROW(GPUEXEC_DOUBLE4_32A, double4_32a, 32, 32) \
    ROW(GPUEXEC_POINTER, pointer, 8, 8)     /* a gpuexec_ptr */ \
    ROW(GPUEXEC_TEXTURE, texture object, 8, 8) ROW(GPUEXEC_SURFACE, surface object, 8, 8)

#define GXI_IF_LONG_HAS_8(yes, no) (sizeof(long) == 8 ? yes : no)
typedef enum gpuexec_type {
    GPUEXEC_NO_TYPE,
#define GXI_ROW(type, name, bytes, alignment) type,
    GXI_TYPES(GXI_ROW)
#undef GXI_ROW
    GPUEXEC_TYPES,                               /* their number, including NO_TYPE */
    /* long has 8 bytes on Linux and 4 on Windows, on both device and host. For a kernel compiled on the other system,
       name the width: INT or LONGLONG. */
    GPUEXEC_LONG      = GXI_IF_LONG_HAS_8(GPUEXEC_LONGLONG, GPUEXEC_INT),
    GPUEXEC_ULONG      = GXI_IF_LONG_HAS_8(GPUEXEC_ULONGLONG, GPUEXEC_UINT),
    GPUEXEC_LONG1     = GXI_IF_LONG_HAS_8(GPUEXEC_LONGLONG1, GPUEXEC_INT1),
    GPUEXEC_ULONG1     = GXI_IF_LONG_HAS_8(GPUEXEC_ULONGLONG1, GPUEXEC_UINT1),
    GPUEXEC_LONG2     = GXI_IF_LONG_HAS_8(GPUEXEC_LONGLONG2, GPUEXEC_INT2),
    GPUEXEC_ULONG2     = GXI_IF_LONG_HAS_8(GPUEXEC_ULONGLONG2, GPUEXEC_UINT2),
    GPUEXEC_LONG3     = GXI_IF_LONG_HAS_8(GPUEXEC_LONGLONG3, GPUEXEC_INT3),
    GPUEXEC_ULONG3     = GXI_IF_LONG_HAS_8(GPUEXEC_ULONGLONG3, GPUEXEC_UINT3),
    GPUEXEC_LONG4_16A = GXI_IF_LONG_HAS_8(GPUEXEC_LONGLONG4_16A, GPUEXEC_INT4),
    GPUEXEC_ULONG4_16A = GXI_IF_LONG_HAS_8(GPUEXEC_ULONGLONG4_16A, GPUEXEC_UINT4),
    /* 32 bytes with either size of long */
    GPUEXEC_LONG4_32A = GPUEXEC_LONGLONG4_32A,   GPUEXEC_ULONG4_32A = GPUEXEC_ULONGLONG4_32A
} gpuexec_type;

/* Creates an empty parameter block. It is host memory, belongs to no context, and neither needs nor starts the driver.
   Only one thread at a time may use a parameter block. */
GPUEXEC_API gpuexec_params gpuexec_params_create_at(const char *where);

/* Appends a copy of *value, which has the type's size, to the parameter block, at the next offset with the type's
   alignment. All arguments together may take at most 32,764 bytes. If an argument cannot be added, the block is
   incomplete until gpuexec_params_clear: it yields no arguments and no data, and launches with it are refused. */
GPUEXEC_API gpuexec_result gpuexec_params_add_at(const char *where, gpuexec_params params, gpuexec_type type,
                                                 const void *value);

/* The same for a struct or union. `alignment` is that of its most aligned member in device code, a power of two;
   `bytes` is a multiple of it. The bytes must have the layout of device code: there, struct { float f; float4 f4; } has
   12 bytes of padding after f, so the host's float4 must also be aligned to 16. */
GPUEXEC_API gpuexec_result gpuexec_params_add_struct_at(const char *where, gpuexec_params params, const void *value,
                                                        size_t bytes, size_t alignment);

/* Return the number of arguments, and the offset of argument `index` in bytes; -1 if the handle is not ok or there is
   no such argument. Queries. */
GPUEXEC_API int gpuexec_params_count(gpuexec_params params);
GPUEXEC_API int gpuexec_params_offset(gpuexec_params params, int index);

/* Returns the packed buffer, as CU_LAUNCH_PARAM_BUFFER_POINTER takes it, and in *bytes its size without padding at the
   end. The padding inside is 0. The buffer is valid until the parameter block changes; writing to it changes the
   arguments. NULL if the call fails. */
GPUEXEC_API void *gpuexec_params_data_at(const char *where, gpuexec_params params, size_t *bytes);

/* Returns the contents of the parameter block as the arguments of a launch of any kind. They are valid until the block
   changes or is destroyed: a launch that uses them later is refused. If the call fails, the arguments are empty, and
   the launch is refused. */
GPUEXEC_API gpuexec_args gpuexec_params_args_at(const char *where, gpuexec_params params);

/* Compares the parameter block with the kernel's parameters: their number, sizes and offsets. Launches check all but
   the offsets automatically, because they take each argument from its address. Check a block before you pass its packed
   buffer to the driver. The offset of an argument with an alignment above 16 depends on the device (measured on sm_90:
   offset 16 for an alignment of 32, after one char). If the block has such arguments, this call may lay it out again to
   match this kernel; then call gpuexec_params_data and gpuexec_params_args again. GPUEXEC_NOT_SUPPORTED if the kernel's
   layout is not known. Never latches, like a query. */
GPUEXEC_API gpuexec_result gpuexec_params_check_at(const char *where, gpuexec_params params, gpuexec_kernel kernel);

/* Removes all arguments from the parameter block, so that others can be added. */
GPUEXEC_API gpuexec_result gpuexec_params_clear_at(const char *where, gpuexec_params params);

/* Frees the parameter block. Launches already enqueued no longer need it. */
GPUEXEC_API gpuexec_result gpuexec_params_destroy_at(const char *where, gpuexec_params params);

/* Prepares a launch: copies the argument values and performs all the checks of gpuexec_launch and of the driver now, so
   that each gpuexec_launch_prepared costs only the driver's call. In C++ the values may follow dims. After its kernel's
   module is unloaded or its stream is destroyed, launching it is refused (GPUEXEC_STALE_HANDLE). It is destroyed when
   the kernel's context is closed. Only one thread at a time may use a prepared launch. */
GPUEXEC_API gpuexec_prepared gpuexec_prepare_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                gpuexec_dims dims, gpuexec_args args);

/* gpuexec_prepare with the attributes of gpuexec_launch_with, which are copied; desc NULL: none. In C++ the values may
   follow the desc. */
GPUEXEC_API gpuexec_prepared gpuexec_prepare_with_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                     gpuexec_dims dims, const gpuexec_launch_desc *desc,
                                                     gpuexec_args args);

/* Changes argument `index` (counted from 0) to a copy of *value; `bytes` must be the argument's size.
   In C++ also: gpuexec_prepared_set(prepared, index, value). */
GPUEXEC_API gpuexec_result gpuexec_prepared_set_at(const char *where, gpuexec_prepared prepared, int index,
                                                   const void *value, size_t bytes);

/* Returns the address of argument `index`; write there between launches to change the argument. `bytes` must be the
   argument's size. The address has its type's alignment, at most 16, and is valid as long as the prepared launch. NULL
   if the call fails. */
GPUEXEC_API void *gpuexec_prepared_argument_at(const char *where, gpuexec_prepared prepared, int index, size_t bytes);

/* Changes grid, block and dynamic shared memory, with the checks of gpuexec_prepare; a failed call changes nothing. */
GPUEXEC_API gpuexec_result gpuexec_prepared_dims_at(const char *where, gpuexec_prepared prepared, gpuexec_dims dims);

/* Moves the prepared launch to another stream of the kernel's context, for all launches from now on. A failed call
   changes nothing. */
GPUEXEC_API gpuexec_result gpuexec_prepared_stream_at(const char *where, gpuexec_prepared prepared,
                                                      gpuexec_stream stream);

/* Launches the kernel with the current arguments, dims and stream. cuLaunchKernelEx; before CUDA 11.8
   cuLaunchKernel. */
GPUEXEC_API gpuexec_result gpuexec_launch_prepared_at(const char *where, gpuexec_prepared prepared);

/* Frees the prepared launch, without waiting: launches already enqueued still run. */
GPUEXEC_API gpuexec_result gpuexec_prepared_destroy_at(const char *where, gpuexec_prepared prepared);

/* ---------------------------------------------------------------------------------------------------------------------
   >>capture   A stream that captures records its work in a graph instead of running it. */

typedef enum gpuexec_capture_mode {              /* what other calls of the driver may do meanwhile */
    GPUEXEC_CAPTURE_THREAD_LOCAL = 0,            /* calls that a capture forbids are refused on this thread only.
                                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
    GPUEXEC_CAPTURE_GLOBAL = 1,                  /* on all threads of the process. _GLOBAL */
    GPUEXEC_CAPTURE_RELAXED = 2                  /* on none. _RELAXED */
} gpuexec_capture_mode;
typedef struct gpuexec_capture_desc {
    unsigned start_canary;
    gpuexec_capture_mode mode;                   /* calls of gpuexec work in each mode; this is for other libraries */
    unsigned end_canary;
} gpuexec_capture_desc;

/* Begins a capture: until gpuexec_capture_end, launches, copies, fills, records and waits on the stream run nothing,
   but become nodes of a graph. Another stream joins the capture when it waits for an event recorded in it, or for a
   stream in it (gpuexec_stream_wait_stream); before the end, this stream must wait for each stream that joined.
   desc NULL: thread-local mode. cuStreamBeginCapture.

   What a call does while the capture is open. `refused`: GPUEXEC_CAPTURING, no call of the driver, and the capture goes
   on. The legacy column holds while a blocking stream captures, that is, one created without non_blocking; otherwise
   that stream works as usual, but never joins.

       call of gpuexec                              stream that captures or joined  other stream  legacy stream
       launch, copy, fill, host function, record    recorded                        as usual      refused
       gpuexec_alloc_on, _pool_alloc, _free_on      recorded                        as usual      refused
       gpuexec_managed_prefetch, _attach            refused                         as usual      refused
       functions whose names end in _now            -                               -             refused
       wait for a stream or an event in the capture recorded                        joins         refused
       wait for a stream or an event outside        refused                         as usual      refused
       gpuexec_stream_sync, _query                  refused                         as usual      refused
       gpuexec_stream_get_info, _destroy            refused                         as usual      -
       gpuexec_graph_launch, _prepare               refused                         as usual      refused
       gpuexec_capture_begin                        refused                         as usual      refused (always)
       gpuexec_event_sync, _query, _elapsed_ms      refused if the event was last recorded in a capture
       gpuexec_context_sync                         refused if a stream of the context captures
       gpuexec_barrier_destroy                      refused if a stream of its contexts captures
       allocate, register, load, create, open       as usual, in each mode
       gpuexec_ipc_*                                as usual; streams that capture cannot wait for imported events
       free, unregister, gpuexec_module_unload      happens when no capture is open any more
       gpuexec_context_close                        ends the captures of its streams without a graph, and fails

   The same holds for streams that another library captures, if they were adopted with gpuexec_stream_from_native; but
   frees and unloads happen at once, and whether a stream can wait is left to the driver, which breaks the capture if
   not. gpuexec does not know which other streams have joined such a capture: a sync or query of one breaks it. */
GPUEXEC_API gpuexec_result gpuexec_capture_begin_at(const char *where, gpuexec_stream stream,
                                                    const gpuexec_capture_desc *desc);

/* Ends the capture, on the stream and the thread that began it, and returns its graph. A failed handle if the capture
   was broken (the text names the call of gpuexec that broke it, if one did), or if a failure is latched, because the
   graph then lacks what was refused. The capture is ended in any case. The graph belongs to the stream's context.
   cuStreamEndCapture. */
GPUEXEC_API gpuexec_graph gpuexec_capture_end_at(const char *where, gpuexec_stream stream);

/* GPUEXEC_CAPTURE(stream, &graph) { ... } captures the work of the block in `graph`, even if return, break, goto or a
   C++ exception leaves the block. A graph that it named before is not destroyed. If the capture cannot begin, the block
   is skipped, and the graph is a failed handle.
   The rules of GPUEXEC_CONTEXT_SCOPE for break, continue, nesting and MSVC apply. */
#define GPUEXEC_CAPTURE(stream, graph) \
    for (GXI_CAPTURE_TYPE GXI_CAT(gxi_scope_, __LINE__) \
             GXI_SCOPE_INIT(gpuexec_capture_scope_begin_at(GPUEXEC_HERE, stream, graph)); \
         GXI_CAT(gxi_scope_, __LINE__).entered == 1; \
         GXI_SCOPE_NEXT(gpuexec_capture_scope_end, GXI_CAT(gxi_scope_, __LINE__)))
typedef struct gpuexec_capture_scope {
    gpuexec_stream stream;
    gpuexec_graph *graph;
    const char    *where;
    int            entered;
} gpuexec_capture_scope;
GPUEXEC_API gpuexec_capture_scope gpuexec_capture_scope_begin_at(const char *where, gpuexec_stream stream,
                                                                 gpuexec_graph *graph);
GPUEXEC_API void gpuexec_capture_scope_end(gpuexec_capture_scope *scope);      /* a second call does nothing */
#ifdef __cplusplus
#  define GXI_CAPTURE_TYPE gxi_capture_scope
#elif defined(__GNUC__)
#  define GXI_CAPTURE_TYPE __attribute__((cleanup(gpuexec_capture_scope_end))) gpuexec_capture_scope
#else
#  define GXI_CAPTURE_TYPE gpuexec_capture_scope
#endif

/* Returns 1 if the stream captures, or has joined a capture of gpuexec or another library; 0 if not. A query.
   cuStreamGetCaptureInfo. */
GPUEXEC_API int gpuexec_stream_is_capturing(gpuexec_stream stream);

/* ---------------------------------------------------------------------------------------------------------------------
   >>graph   Launching a graph runs all work that a capture recorded with one call. */

/* Enqueues all work of the graph on the stream, of any device: it begins after earlier work on the stream, and later
   work begins after all of it. Arguments, addresses and sizes are those of the capture. The first launch instantiates
   the graph (about 3 us for each node). A graph may be launched again while it runs; its launches run one after the
   other. Kernels, memory and contexts of the capture must still exist: GPUEXEC_STALE_HANDLE if gpuexec has unloaded,
   freed or closed one; the text names it, and the file and line that did so. Threads must not use one graph at the same
   time. cuGraphLaunch. */
GPUEXEC_API gpuexec_result gpuexec_graph_launch_at(const char *where, gpuexec_graph graph, gpuexec_stream stream);

/* Instantiates the graph and enqueues an upload of it to the device, so that its first launch is as fast as the others.
   cuGraphInstantiateWithFlags, cuGraphUpload. */
GPUEXEC_API gpuexec_result gpuexec_graph_prepare_at(const char *where, gpuexec_graph graph, gpuexec_stream stream);

/* Gives the graph the arguments, addresses and sizes of another graph, from a second capture of the same calls, much
   faster than instantiating that. GPUEXEC_GRAPH_DIFFERS if the graphs do not have the same structure; the text says how
   they differ, and the graph is unchanged. Launches that were enqueued before are not affected. `other` is not changed,
   and may be destroyed; `graph` shares its CUgraph. Needs a driver for CUDA 12.0 or later. cuGraphExecUpdate. */
GPUEXEC_API gpuexec_result gpuexec_graph_update_at(const char *where, gpuexec_graph graph, gpuexec_graph other);

typedef struct gpuexec_graph_info {
    size_t nodes;                                /* all of them; of these: */
    size_t kernels, copies, fills, others;
    int    instantiated;                         /* 1: prepared or launched */
} gpuexec_graph_info;

/* Reads what a graph consists of. A query. cuGraphGetNodes, cuGraphNodeGetType. */
GPUEXEC_API gpuexec_result gpuexec_graph_get_info_at(const char *where, gpuexec_graph graph, gpuexec_graph_info *info);

/* Write the nodes of a graph into text[bytes], in the order of the capture: kernels with their names, grids and blocks;
   sizes and addresses of copies and fills; and which nodes each one follows, unless programmatic launches are among
   them. gpuexec_graph_text: one line for each node.
   gpuexec_graph_dot: for Graphviz, `dot -Tsvg`. Return the length of the whole text, as snprintf does; 0 if it fails.
   Queries. cuGraphNodeGetDependencies, cuGraphKernelNodeGetParams, cuGraphMemcpyNodeGetParams,
   cuGraphMemsetNodeGetParams. */
GPUEXEC_API size_t gpuexec_graph_text(gpuexec_graph graph, char *text, size_t bytes);
GPUEXEC_API size_t gpuexec_graph_dot(gpuexec_graph graph, char *text, size_t bytes);

/* Return the CUgraph and, once the graph is prepared or launched, the CUgraphExec; NULL if there is none. Queries.
   gpuexec destroys the CUgraphExec when another context that it uses is closed: after that, cuGraphExecDestroy would
   never return. */
GPUEXEC_API struct CUgraph_st *gpuexec_graph_native(gpuexec_graph graph);
GPUEXEC_API struct CUgraphExec_st *gpuexec_graph_exec_native(gpuexec_graph graph);

/* Destroys the graph, without waiting: launches already enqueued still run. cuGraphExecDestroy, cuGraphDestroy. */
GPUEXEC_API gpuexec_result gpuexec_graph_destroy_at(const char *where, gpuexec_graph graph);

/* ---------------------------------------------------------------------------------------------------------------------
   >>barrier   A barrier for all blocks of the grids that one multi-device launch starts. */

typedef struct gpuexec_barrier_desc {
    unsigned start_canary;
    int      host_memory;                /* 1: work through host memory even if the devices have peer access (slower) */
    double   timeout_seconds;            /* how long a device waits for the others in one round (one use of the barrier
                                            by all blocks); 0: 10 s */
    unsigned end_canary;
} gpuexec_barrier_desc;

#if !defined(GPUEXEC_STATIC) || !defined(GPUEXEC_NO_MULTI)
/* Creates a barrier for `count` grids, one on the device of each context. The contexts must be on different devices; at
   most 32. Kernels call gpuexec_barrier_sync from kernels/gpuexec_barrier.cuh (CUDA C) or gpuexec_barrier.ptx (to
   link), with the address from gpuexec_barrier_address. The call enables peer access between all of the contexts, both
   ways. If a pair does not support it, or with desc.host_memory, the call enables none, and the barrier works through
   host memory. The barrier is destroyed when any of its contexts is closed. Only one launch at a time may use it.
   cuCtxEnablePeerAccess, cuMemAlloc, cuMemHostAlloc. */
GPUEXEC_API gpuexec_barrier gpuexec_barrier_create_at(const char *where, const gpuexec_context *contexts,
                                                      unsigned count, const gpuexec_barrier_desc *desc);

/* Returns the kernel argument for the device of contexts[index]: the address of that device's part of the barrier. 0 if
   the call fails. */
GPUEXEC_API gpuexec_ptr gpuexec_barrier_address_at(const char *where, gpuexec_barrier barrier, unsigned index);

/* Returns 1 if the barrier works directly between the devices; 0 if it works through host memory or the handle is not
   ok. Choose your own memory to match, if all of these devices write to it: gpuexec_alloc if 1, gpuexec_alloc_pinned if
   0. A query. */
GPUEXEC_API int gpuexec_barrier_is_direct(gpuexec_barrier barrier);

/* Returns GPUEXEC_OK, or GPUEXEC_BARRIER_BROKEN if kernels have left the barrier because of a timeout or an abort. The
   text says which device waited, for how long, in which round (one use of the barrier by all blocks), and for which
   devices. Calls that wait, such as gpuexec_stream_sync, report the same for the barriers of their context; this call
   checks without waiting. A broken barrier stays broken until gpuexec_barrier_reset. A query. */
GPUEXEC_API gpuexec_result gpuexec_barrier_check(gpuexec_barrier barrier);

/* Makes all kernels that wait at the barrier, now or later, leave it. Call this from any thread, while they run. */
GPUEXEC_API gpuexec_result gpuexec_barrier_abort_at(const char *where, gpuexec_barrier barrier);

/* Makes a broken barrier usable again. No kernel that uses it may be running. */
GPUEXEC_API gpuexec_result gpuexec_barrier_reset_at(const char *where, gpuexec_barrier barrier);

/* Waits for the work in the barrier's contexts, then frees the barrier. Returns GPUEXEC_BARRIER_BROKEN if it is broken
   and no call has reported that yet; the barrier is freed nevertheless. gpuexec_context_close and gpuexec_shutdown do
   the same. GPUEXEC_CAPTURING if a stream of its contexts captures. */
GPUEXEC_API gpuexec_result gpuexec_barrier_destroy_at(const char *where, gpuexec_barrier barrier);
#endif

/* ---------------------------------------------------------------------------------------------------------------------
   >>multi   One cooperative launch on several devices. */

typedef struct gpuexec_device_launch {           /* the launch on one device */
    gpuexec_kernel kernel;
    gpuexec_stream stream;
    gpuexec_dims   dims;
    gpuexec_args   args;                         /* from gpuexec_params_args, or your own arrays. Do not use
                                                    GPUEXEC_ARGS in a loop: its arrays end with the loop's block. Do not
                                                    use it in C++: there it is only the values */
} gpuexec_device_launch;

typedef enum gpuexec_multi_way {
    GPUEXEC_MULTI_FASTEST = 0,    /* GPUEXEC_MULTI_PER_DEVICE, the fastest for every number of devices measured */
    GPUEXEC_MULTI_DRIVER = 1,     /* the driver's own call, cuLaunchCooperativeKernelMultiDevice (deprecated by CUDA) */
    GPUEXEC_MULTI_PER_DEVICE = 2  /* cuLaunchCooperativeKernel for each device, and events to order the streams */
} gpuexec_multi_way;

typedef struct gpuexec_multi_desc {
    unsigned           start_canary;
    gpuexec_multi_way  way;
    int                no_pre_sync;              /* 1: each kernel only waits for earlier work on its own stream, not on
                                                    all the streams */
    int                no_post_sync;             /* 1: later work on a stream only waits for that stream's kernel, not
                                                    for all kernels */
    gpuexec_barrier    barrier;                  /* the barrier that the kernels use, or {0}: aborted if only some
                                                    kernels could be started */
    volatile unsigned *abort_word;               /* the abort flag of your own barrier, in host memory, or NULL: set to
                                                    1 if only some kernels could be started */
    unsigned           end_canary;
} gpuexec_multi_desc;

#if !defined(GPUEXEC_STATIC) || !defined(GPUEXEC_NO_MULTI)
/* Launches one cooperative grid on each of several devices; the grids run at the same time and may wait for each other.
   By default, no grid starts before all earlier work on all of the streams has finished, and no later work on any of
   the streams starts before all grids have finished. All of CUDA's rules are checked before anything starts, each with
   a separate error: different devices of one model; the same code, grid, block and shared memory on each; each grid
   small enough to be fully resident on its device; streams that were created (not legacy or per-thread); kernel and
   stream in one context; no kernels that launch kernels; CUDA_LAUNCH_BLOCKING not set. If a launch fails after others
   have started, desc.barrier or desc.abort_word makes those stop. Get all kernels before the first launch, and allocate
   nothing between launches that wait for each other. cuLaunchCooperativeKernel and cuEventRecord, cuStreamWaitEvent; or
   cuLaunchCooperativeKernelMultiDevice. */
GPUEXEC_API gpuexec_result gpuexec_launch_multi_device_at(const char *where, const gpuexec_device_launch *launches,
                                                          unsigned count,
                                                         const gpuexec_multi_desc *desc);
#endif

/* ---------------------------------------------------------------------------------------------------------------------
   >>ipc   Memory, events and pools between processes on one machine. Linux only; elsewhere, each call returns
   GPUEXEC_NOT_SUPPORTED. */

/* What a process exports, as bytes: send them through a pipe, a file or a socket. They are valid on this machine while
   the process that exported them runs and keeps the object. Bytes that no export made, or that were changed, are
   refused (GPUEXEC_BAD_ARGUMENT). */
typedef struct gpuexec_ipc_object { unsigned char bytes[128]; } gpuexec_ipc_object;

typedef enum gpuexec_ipc_kind {
    GPUEXEC_IPC_NOTHING = 0,
    GPUEXEC_IPC_MEMORY = 1,                      /* from gpuexec_alloc */
    GPUEXEC_IPC_EVENT = 2,
    GPUEXEC_IPC_POOL = 3,                        /* only in messages: a file descriptor */
    GPUEXEC_IPC_POOL_MEMORY = 4                  /* import the pool first */
} gpuexec_ipc_kind;

typedef struct gpuexec_ipc_info {                /* what an object's bytes say */
    gpuexec_ipc_kind kind;
    size_t           bytes;                      /* of memory */
    long             pid;                        /* of the process that exported it */
} gpuexec_ipc_info;

typedef struct gpuexec_ipc_message {
    gpuexec_ipc_kind   kind;                     /* of what came with it */
    char               label[64];
    unsigned long long value;
    gpuexec_ipc_object object;                   /* memory, event, pool memory */
    int                fd;                       /* of a pool, otherwise -1. The caller owns it: pass it to
                                                    gpuexec_ipc_import_pool, then close it */
} gpuexec_ipc_message;

#if !defined(GPUEXEC_STATIC) || !defined(GPUEXEC_NO_IPC)
/* Exports memory for other processes. `memory` is the beginning of an allocation from gpuexec_alloc or
   gpuexec_alloc_pitched, or from gpuexec_pool_alloc with a pool that is exportable. Keep the memory until all importers
   have freed theirs. The driver shares whole pages of 2 MiB: an importer could also read other small allocations near
   this one. cuIpcGetMemHandle, cuMemPoolExportPointer. */
GPUEXEC_API gpuexec_result gpuexec_ipc_export_at(const char *where, gpuexec_ptr memory, gpuexec_ipc_object *object);

/* Imports memory that another process exported, for kernels, copies and fills: the same bytes, at another address. Free
   it with gpuexec_free, which leaves the exporter's allocation as it is. Returns 0 if it fails: GPUEXEC_BAD_ARGUMENT
   for an object of this process, of another kind, or if this process has imported it already; otherwise the driver's
   reason, such as an exporter that has ended. cuIpcOpenMemHandle. */
GPUEXEC_API gpuexec_ptr gpuexec_ipc_import_at(const char *where, gpuexec_context context,
                                              const gpuexec_ipc_object *object);

/* Exports an event that was created with gpuexec_event_desc.interprocess. cuIpcGetEventHandle. */
GPUEXEC_API gpuexec_result gpuexec_ipc_export_event_at(const char *where, gpuexec_event event,
                                                       gpuexec_ipc_object *object);

/* Imports an event: both processes may record it, and wait for the last record that either has made before. Destroy it
   with gpuexec_event_destroy. If a process ends before its record is reached, streams and hosts that wait for that
   record wait forever, as do frees and waits of their context; gpuexec_ipc_wait does not. Captures cannot wait for it.
   Errors as for gpuexec_ipc_import. cuIpcOpenEventHandle. */
GPUEXEC_API gpuexec_event gpuexec_ipc_import_event_at(const char *where, gpuexec_context context,
                                                      const gpuexec_ipc_object *object);

/* Exports a pool that was created with gpuexec_pool_desc.exportable, as a new file descriptor, which the caller owns;
   -1 if it fails. gpuexec_ipc_send_pool does this, and sends it. cuMemPoolExportToShareableHandle. */
GPUEXEC_API int gpuexec_ipc_export_pool_at(const char *where, gpuexec_pool pool);

/* Imports a pool from its descriptor, which remains the caller's: to import memory with gpuexec_ipc_import_from, not to
   allocate. cuMemPoolImportFromShareableHandle. */
GPUEXEC_API gpuexec_pool gpuexec_ipc_import_pool_at(const char *where, gpuexec_context context, int fd);

/* Imports memory of an imported pool. Free it with gpuexec_free or gpuexec_free_on, before its exporter does. Returns 0
   if it fails. cuMemPoolImportPointer. */
GPUEXEC_API gpuexec_ptr gpuexec_ipc_import_from_at(const char *where, gpuexec_pool pool,
                                                   const gpuexec_ipc_object *object);

/* Reads an object's bytes, without the driver. GPUEXEC_BAD_ARGUMENT if they are not an object. A query. */
GPUEXEC_API gpuexec_result gpuexec_ipc_get_info_at(const char *where, const gpuexec_ipc_object *object,
                                                   gpuexec_ipc_info *info);

/* A connection between two processes, over a Unix socket. It carries messages, and notices the end of the other
   process: its calls that wait then return GPUEXEC_PEER_GONE; the text says which process, and how it ended, if the
   system still knows. One thread at a time may use a connection. These calls need no driver, except
   gpuexec_ipc_send_pool and gpuexec_ipc_wait. Only a failure to create a connection is latched.
   gpuexec_ipc_pair makes two ends: the connection for this process, and a descriptor for a program that it starts
   next, which passes it to gpuexec_ipc_from_fd. *child_fd stays open in that program; close it here afterwards. */
GPUEXEC_API gpuexec_ipc gpuexec_ipc_pair_at(const char *where, int *child_fd);

/* Makes a connection of one end of a SOCK_SEQPACKET Unix socket, which it then owns; if it fails, the caller still
   does. */
GPUEXEC_API gpuexec_ipc gpuexec_ipc_from_fd_at(const char *where, int fd);

/* Wait for another process that connects to this name, or for one that listens there; at most timeout_ms milliseconds,
   -1: forever. Listening ends with the first connection. A name that begins with '@' is no file: nothing is left behind
   if the process is killed. GPUEXEC_FILE_ERROR if the name cannot be used, or after the timeout. */
GPUEXEC_API gpuexec_ipc gpuexec_ipc_listen_at(const char *where, const char *name, int timeout_ms);
GPUEXEC_API gpuexec_ipc gpuexec_ipc_connect_at(const char *where, const char *name, int timeout_ms);

/* Sends a message: a label of at most 63 bytes, a number, and an object, or NULL for none. Returns once the system has
   the message; it waits while the other process has not read enough of earlier ones. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_ipc_send_at(const char *where, gpuexec_ipc connection,
                                                              const char *label, unsigned long long value,
                                                              const gpuexec_ipc_object *object);
/* The same with a pool's file descriptor. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_ipc_send_pool_at(const char *where, gpuexec_ipc connection,
                                                                   const char *label, unsigned long long value,
                                                                   gpuexec_pool pool);

/* Receives the next message; waits for it at most timeout_ms milliseconds, -1: forever. GPUEXEC_NOT_READY if none came.
   Messages that the other process sent before it ended are still received. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_ipc_receive_at(const char *where, gpuexec_ipc connection,
                                                                 gpuexec_ipc_message *message, int timeout_ms);

/* Waits until the event's last record is reached, as gpuexec_event_sync does, but no longer than timeout_ms
   milliseconds (GPUEXEC_NOT_READY; -1: forever), and not beyond the end of the other process. Returns and takes the
   thread's latched failure. cuEventQuery. */
GPUEXEC_API GXI_MUST_CHECK gpuexec_result gpuexec_ipc_wait_at(const char *where, gpuexec_ipc connection,
                                                              gpuexec_event event, int timeout_ms);

/* Returns the number of the other process, 0 if it is not known yet. A query. */
GPUEXEC_API long gpuexec_ipc_peer(gpuexec_ipc connection);

/* Closes the connection. Later calls of the other process return GPUEXEC_PEER_GONE. What was imported stays. */
GPUEXEC_API gpuexec_result gpuexec_ipc_close_at(const char *where, gpuexec_ipc connection);
#endif

#ifdef __cplusplus
} /* extern "C" */

/* ---------------------------------------------------------------------------------------------------------------------
   >>cplusplus   gpuexec_launch(kernel, stream, dims, values...): values of any trivially copyable type, including
   rvalues. Their sizes are checked in the same way as those of GPUEXEC_ARGS. If the PTX declares the parameter's type,
   a float for an integer and an integer for a float are refused: pass 1.0f, not 1, where the kernel expects a float. */

struct gxi_context_scope : gpuexec_context_scope {                   /* see GPUEXEC_CONTEXT_SCOPE */
    explicit gxi_context_scope(const gpuexec_context_scope &begun) : gpuexec_context_scope(begun) {}
    gxi_context_scope(const gxi_context_scope &) = delete;
    gxi_context_scope &operator=(const gxi_context_scope &) = delete;
    ~gxi_context_scope() { gpuexec_context_scope_end(this); }
};
struct gxi_stream_scope : gpuexec_stream_scope {                     /* see GPUEXEC_STREAM_SCOPE */
    explicit gxi_stream_scope(const gpuexec_stream_scope &begun) : gpuexec_stream_scope(begun) {}
    gxi_stream_scope(const gxi_stream_scope &) = delete;
    gxi_stream_scope &operator=(const gxi_stream_scope &) = delete;
    ~gxi_stream_scope() { gpuexec_stream_scope_end(this); }
};
struct gxi_capture_scope : gpuexec_capture_scope {                   /* see GPUEXEC_CAPTURE */
    explicit gxi_capture_scope(const gpuexec_capture_scope &begun) : gpuexec_capture_scope(begun) {}
    gxi_capture_scope(const gxi_capture_scope &) = delete;
    gxi_capture_scope &operator=(const gxi_capture_scope &) = delete;
    ~gxi_capture_scope() { gpuexec_capture_scope_end(this); }
};

/* Including <type_traits> would be half the cost of this header; compilers provide __is_trivially_copyable instead. */
struct gxi_false { static constexpr bool value = false; };
struct gxi_true  { static constexpr bool value = true; };
template <class T> struct gxi_is_pointer : gxi_false {};
template <class T> struct gxi_is_pointer<T *> : gxi_true {};
template <class T> struct gxi_is_pointer<T *volatile> : gxi_true {};
template <> struct gxi_is_pointer<decltype(nullptr)> : gxi_true {};
template <class T> struct gxi_is_desc : gxi_false {};
template <> struct gxi_is_desc<gpuexec_launch_desc *> : gxi_true {};
template <> struct gxi_is_desc<const gpuexec_launch_desc *> : gxi_true {};
template <class T> struct gxi_is_handle : gxi_false {};
template <> struct gxi_is_handle<gpuexec_context> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_module> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_kernel> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_stream> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_event> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_linker> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_params> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_prepared> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_barrier> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_graph> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_pool> : gxi_true {};
template <> struct gxi_is_handle<gpuexec_ipc> : gxi_true {};
template <bool> struct gxi_if_handle {};
template <> struct gxi_if_handle<true> { typedef bool type; };
template <> struct gxi_is_handle<gpuexec_args> : gxi_true {};

template <class T> struct gxi_is_float : gxi_false {};
template <> struct gxi_is_float<float> : gxi_true {};
template <> struct gxi_is_float<double> : gxi_true {};
template <class T> struct gxi_is_integer { static constexpr bool value = __is_enum(T); };
template <> struct gxi_is_integer<bool> : gxi_true {};
template <> struct gxi_is_integer<char> : gxi_true {};
template <> struct gxi_is_integer<signed char> : gxi_true {};
template <> struct gxi_is_integer<unsigned char> : gxi_true {};
template <> struct gxi_is_integer<short> : gxi_true {};
template <> struct gxi_is_integer<unsigned short> : gxi_true {};
template <> struct gxi_is_integer<int> : gxi_true {};
template <> struct gxi_is_integer<unsigned> : gxi_true {};
template <> struct gxi_is_integer<long> : gxi_true {};
template <> struct gxi_is_integer<unsigned long> : gxi_true {};
template <> struct gxi_is_integer<long long> : gxi_true {};
template <> struct gxi_is_integer<unsigned long long> : gxi_true {};

/* The gpuexec_type of a scalar, regardless of its sign, which PTX does not declare; GPUEXEC_NO_TYPE for all other
   types. */
template <class T> constexpr unsigned short gxi_type_of() {
    return gxi_is_float<T>::value      ? sizeof(T) == 4 ? GPUEXEC_FLOAT : GPUEXEC_DOUBLE
           : !gxi_is_integer<T>::value ? GPUEXEC_NO_TYPE
           : sizeof(T) == 1            ? GPUEXEC_CHAR
           : sizeof(T) == 2            ? GPUEXEC_SHORT
           : sizeof(T) == 4            ? GPUEXEC_INT
                                       : GPUEXEC_LONGLONG;
}
template <class T> GXI_INLINE const void *gxi_argument_address(const T &value) {
    static_assert(__is_trivially_copyable(T), "kernel arguments must be trivially copyable");
    static_assert(!gxi_is_handle<T>::value, "a gpuexec handle cannot be a kernel argument, nor can a gpuexec_args be "
                                            "mixed with values");
    static_assert(!gxi_is_desc<T>::value, "gpuexec_launch_with and gpuexec_prepare_with take a gpuexec_launch_desc");
    static_assert(gxi_is_desc<T>::value || !gxi_is_pointer<T>::value,
                  "a C++ pointer is a host address: kernels take gpuexec_ptr (cast pointers that hold device "
                  "addresses, such as those from cudaMalloc)");
    static_assert(sizeof(T) <= 32764, "a kernel's parameters have at most 32764 bytes");
    return static_cast<const void *>(&reinterpret_cast<const unsigned char &>(value));
}

/* Addresses, sizes and types of values, valid only during the call whose argument list contains them. */
template <class... T> struct gxi_values {
    const void *addresses[sizeof...(T) + 1];
    unsigned short sizes[2 * sizeof...(T) + 1];
    GXI_INLINE explicit gxi_values(const T &...values)
        : addresses{ gxi_argument_address(values)..., nullptr }, sizes{ sizeof(T)..., gxi_type_of<T>()..., 0 }
        {
        static_assert(sizeof...(T) <= 64, "a launch takes at most 64 kernel arguments");
    }
    GXI_INLINE gpuexec_args args() const {
        gpuexec_args made = { addresses, sizes, static_cast<unsigned>(sizeof...(T)), sizeof...(T) != 0, { 0 } };
        return made;
    }
};
template <class... T>
GXI_INLINE gpuexec_result gpuexec_launch_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                            gpuexec_dims dims, const T &...values) {
    return gpuexec_launch_at(where, kernel, stream, dims, gxi_values<T...>(values...).args());
}
template <class... T>
GXI_INLINE gpuexec_result gpuexec_launch_cooperative_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                        gpuexec_dims dims, const T &...values) {
    return gpuexec_launch_cooperative_at(where, kernel, stream, dims, gxi_values<T...>(values...).args());
}
template <class... T>
GXI_INLINE gpuexec_result gpuexec_launch_with_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                 gpuexec_dims dims, const gpuexec_launch_desc *desc,
                                                const T &...values) {
    return gpuexec_launch_with_at(where, kernel, stream, dims, desc, gxi_values<T...>(values...).args());
}
template <class... T>
GXI_INLINE gpuexec_prepared gpuexec_prepare_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                               gpuexec_dims dims, const T &...values) {
    return gpuexec_prepare_at(where, kernel, stream, dims, gxi_values<T...>(values...).args());
}
template <class... T>
GXI_INLINE gpuexec_prepared gpuexec_prepare_with_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                    gpuexec_dims dims, const gpuexec_launch_desc *desc,
                                                    const T &...values) {
    return gpuexec_prepare_with_at(where, kernel, stream, dims, desc, gxi_values<T...>(values...).args());
}

template <class T>
GXI_INLINE gpuexec_result gpuexec_prepared_set_at(const char *where, gpuexec_prepared prepared, int index,
                                                  const T &value) {
    return gpuexec_prepared_set_at(where, prepared, index, gxi_argument_address(value), sizeof value);
}

/* Handles compare with == and != (gpuexec_same). */
template <class T> GXI_INLINE typename gxi_if_handle<gxi_is_handle<T>::value>::type operator==(T a, T b) {
    return a.id == b.id;
}
template <class T> GXI_INLINE typename gxi_if_handle<gxi_is_handle<T>::value>::type operator!=(T a, T b) {
    return a.id != b.id;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------------
   >>names   The names that programs use. Each function whose name ends in _at has a macro without that ending, which
   passes the caller's place. */

#define gpuexec_setup(...)                  gpuexec_setup_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_driver_check(...)           gpuexec_driver_check_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_device_get_info(...)        gpuexec_device_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_device_get_attribute(...)   gpuexec_device_get_attribute_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_open(...)           gpuexec_context_open_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_create(...)         gpuexec_context_create_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_from_native(...)    gpuexec_context_from_native_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_attach(...)         gpuexec_context_attach_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_get_memory(...)     gpuexec_context_get_memory_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_set_limit(...)      gpuexec_context_set_limit_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_get_limit(...)      gpuexec_context_get_limit_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_get_priorities(...) gpuexec_context_get_priorities_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_scope_begin(...)    gpuexec_context_scope_begin_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_stream(...)         gpuexec_context_stream_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_set_stream(...)     gpuexec_context_set_stream_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_scope_begin(...)     gpuexec_stream_scope_begin_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_sync(...)           gpuexec_context_sync_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_retain(...)         gpuexec_context_retain_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_push(...)           gpuexec_context_push_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_pop(...)            gpuexec_context_pop_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_close(...)          gpuexec_context_close_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_load(...)            gpuexec_module_load_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_load_file(...)       gpuexec_module_load_file_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_from_native(...)     gpuexec_module_from_native_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_global(...)          gpuexec_module_global_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_set_global(...)      gpuexec_module_set_global_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_get_global(...)      gpuexec_module_get_global_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_module_unload(...)          gpuexec_module_unload_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_kernel_get(...)             gpuexec_kernel_get_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_kernel_from_native(...)     gpuexec_kernel_from_native_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_kernel_get_info(...)        gpuexec_kernel_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_kernel_set_carveout(...)    gpuexec_kernel_set_carveout_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_kernel_set_cache(...)       gpuexec_kernel_set_cache_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_create(...)          gpuexec_linker_create_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_add(...)             gpuexec_linker_add_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_add_file(...)        gpuexec_linker_add_file_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_load(...)            gpuexec_linker_load_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_image(...)           gpuexec_linker_image_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_save(...)            gpuexec_linker_save_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_linker_destroy(...)         gpuexec_linker_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_alloc(...)                  gpuexec_alloc_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_alloc_pitched(...)          gpuexec_alloc_pitched_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_free(...)                   gpuexec_free_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_alloc_on(...)               gpuexec_alloc_on_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_free_on(...)                gpuexec_free_on_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_create(...)            gpuexec_pool_create_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_context_pool(...)           gpuexec_context_pool_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_alloc(...)             gpuexec_pool_alloc_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_trim(...)              gpuexec_pool_trim_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_set_threshold(...)     gpuexec_pool_set_threshold_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_get_info(...)          gpuexec_pool_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_reset_high(...)        gpuexec_pool_reset_high_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_peer_enable(...)       gpuexec_pool_peer_enable_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_peer_disable(...)      gpuexec_pool_peer_disable_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pool_destroy(...)           gpuexec_pool_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_alloc_managed(...)          gpuexec_alloc_managed_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_managed_host(...)           gpuexec_managed_host_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_managed_prefetch(...)       gpuexec_managed_prefetch_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_managed_advise(...)         gpuexec_managed_advise_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_managed_attach(...)         gpuexec_managed_attach_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_managed_get_info(...)       gpuexec_managed_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_alloc_pinned(...)           gpuexec_alloc_pinned_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_alloc_write_combined(...)   gpuexec_alloc_write_combined_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_free_pinned(...)            gpuexec_free_pinned_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_register(...)               gpuexec_register_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_unregister(...)             gpuexec_unregister_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_peer_enable(...)            gpuexec_peer_enable_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_peer_disable(...)           gpuexec_peer_disable_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pinned_address(...)         gpuexec_pinned_address_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_in(...)                gpuexec_copy_in_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_out(...)               gpuexec_copy_out_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy(...)                   gpuexec_copy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_peer(...)              gpuexec_copy_peer_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_in_2d(...)             gpuexec_copy_in_2d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_out_2d(...)            gpuexec_copy_out_2d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_2d(...)                gpuexec_copy_2d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill_2d(...)                gpuexec_fill_2d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill16_2d(...)              gpuexec_fill16_2d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill32_2d(...)              gpuexec_fill32_2d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_3d(...)                gpuexec_copy_3d_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_many(...)              gpuexec_copy_many_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill(...)                   gpuexec_fill_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill16(...)                 gpuexec_fill16_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill32(...)                 gpuexec_fill32_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_in_now(...)            gpuexec_copy_in_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_out_now(...)           gpuexec_copy_out_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_now(...)               gpuexec_copy_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill_now(...)               gpuexec_fill_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill16_now(...)             gpuexec_fill16_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill32_now(...)             gpuexec_fill32_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_peer_now(...)          gpuexec_copy_peer_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_in_2d_now(...)         gpuexec_copy_in_2d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_out_2d_now(...)        gpuexec_copy_out_2d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_2d_now(...)            gpuexec_copy_2d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill_2d_now(...)            gpuexec_fill_2d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill16_2d_now(...)          gpuexec_fill16_2d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_fill32_2d_now(...)          gpuexec_fill32_2d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_3d_now(...)            gpuexec_copy_3d_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_copy_many_now(...)          gpuexec_copy_many_now_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_pointer_get_info(...)       gpuexec_pointer_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_create(...)          gpuexec_stream_create_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_legacy(...)          gpuexec_stream_legacy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_per_thread(...)      gpuexec_stream_per_thread_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_from_native(...)     gpuexec_stream_from_native_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_sync(...)            gpuexec_stream_sync_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_wait_event(...)      gpuexec_stream_wait_event_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_wait_stream(...)     gpuexec_stream_wait_stream_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_host_function(...)   gpuexec_stream_host_function_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_wait_value32(...)    gpuexec_stream_wait_value32_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_wait_value64(...)    gpuexec_stream_wait_value64_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_write_value32(...)   gpuexec_stream_write_value32_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_write_value64(...)   gpuexec_stream_write_value64_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_get_info(...)        gpuexec_stream_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_destroy(...)         gpuexec_stream_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_event_create(...)           gpuexec_event_create_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_event_from_native(...)      gpuexec_event_from_native_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_event_record(...)           gpuexec_event_record_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_stream_record(...)          gpuexec_stream_record_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_event_sync(...)             gpuexec_event_sync_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_event_elapsed_ms(...)       gpuexec_event_elapsed_ms_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_event_destroy(...)          gpuexec_event_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_launch(...)                 gpuexec_launch_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_launch_cooperative(...)     gpuexec_launch_cooperative_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_launch_with(...)            gpuexec_launch_with_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_create()             gpuexec_params_create_at(GPUEXEC_HERE)
#define gpuexec_params_add(...)             gpuexec_params_add_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_add_struct(...)      gpuexec_params_add_struct_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_data(...)            gpuexec_params_data_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_args(...)            gpuexec_params_args_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_check(...)           gpuexec_params_check_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_clear(...)           gpuexec_params_clear_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_params_destroy(...)         gpuexec_params_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepare(...)                gpuexec_prepare_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepare_with(...)           gpuexec_prepare_with_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepared_set(...)           gpuexec_prepared_set_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepared_argument(...)      gpuexec_prepared_argument_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepared_dims(...)          gpuexec_prepared_dims_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepared_stream(...)        gpuexec_prepared_stream_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_launch_prepared(...)        gpuexec_launch_prepared_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_prepared_destroy(...)       gpuexec_prepared_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_capture_begin(...)          gpuexec_capture_begin_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_capture_end(...)            gpuexec_capture_end_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_capture_scope_begin(...)    gpuexec_capture_scope_begin_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_graph_launch(...)           gpuexec_graph_launch_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_graph_prepare(...)          gpuexec_graph_prepare_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_graph_update(...)           gpuexec_graph_update_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_graph_get_info(...)         gpuexec_graph_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_graph_destroy(...)          gpuexec_graph_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_barrier_create(...)         gpuexec_barrier_create_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_barrier_address(...)        gpuexec_barrier_address_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_barrier_abort(...)          gpuexec_barrier_abort_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_barrier_reset(...)          gpuexec_barrier_reset_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_barrier_destroy(...)        gpuexec_barrier_destroy_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_launch_multi_device(...)    gpuexec_launch_multi_device_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_export(...)             gpuexec_ipc_export_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_import(...)             gpuexec_ipc_import_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_export_event(...)       gpuexec_ipc_export_event_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_import_event(...)       gpuexec_ipc_import_event_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_export_pool(...)        gpuexec_ipc_export_pool_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_import_pool(...)        gpuexec_ipc_import_pool_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_import_from(...)        gpuexec_ipc_import_from_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_get_info(...)           gpuexec_ipc_get_info_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_pair(...)               gpuexec_ipc_pair_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_from_fd(...)            gpuexec_ipc_from_fd_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_listen(...)             gpuexec_ipc_listen_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_connect(...)            gpuexec_ipc_connect_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_send(...)               gpuexec_ipc_send_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_send_pool(...)          gpuexec_ipc_send_pool_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_receive(...)            gpuexec_ipc_receive_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_wait(...)               gpuexec_ipc_wait_at(GPUEXEC_HERE, __VA_ARGS__)
#define gpuexec_ipc_close(...)              gpuexec_ipc_close_at(GPUEXEC_HERE, __VA_ARGS__)

/* >>end-of-api ===================================================================================================== */

#define GXI_ADDRESS(x) (const void *)&(x)         /* GPUEXEC_ARGS takes variables: no constant, expression or address */
/* The size is stored in 16 bits: a struct of more than 32764 bytes, the most that a kernel's parameters can have, does
   not compile. */
#define GXI_SIZE(x) (unsigned short)(sizeof(x) + 0 * sizeof( \
            struct { int GPUEXEC_ARGS_takes_at_most_32764_bytes : sizeof(x) <= 32764 ? 1 : -1; }))
#define GXI_CAT2(a, b) a##b
#define GXI_CAT(a, b) GXI_CAT2(a, b)
#define GXI_EACH(m, ...) GXI_CAT(GXI_EACH_, GXI_COUNT(__VA_ARGS__))(m, __VA_ARGS__)
/* >>> generated: one line per count; 65 to 128 arguments give a name that says what is wrong */
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
    GXI_TOO_MANY, GXI_TOO_MANY, GXI_TOO_MANY, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, \
    46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, \
    18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GXI_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, \
    a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, \
    a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, \
    a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, a85, a86, a87, a88, a89, a90, a91, \
    a92, a93, a94, a95, a96, a97, a98, a99, a100, a101, a102, a103, a104, a105, a106, a107, a108, a109, a110, a111, \
    a112, a113, a114, a115, a116, a117, a118, a119, a120, a121, a122, a123, a124, a125, a126, a127, a128, n, ...) n
/* <<< generated */
#ifdef GXI_HIDDEN
#  pragma GCC visibility pop
#endif
#endif /* GPUEXEC_H */

#if (defined(GPUEXEC_IMPLEMENTATION) || defined(GPUEXEC_STATIC)) && !defined(GPUEXEC_IMPLEMENTED)
#define GPUEXEC_IMPLEMENTED
#if GPUEXEC_VERSION != 200
#  error "gpuexec.h: this implementation is 0.2.0; another version's header was included before it in this file"
#endif

/* =====================================================================================================================
   >>impl   Compiles as C99 and as C++11. Only the API is not static. A section calls only sections above it.
   ---------------------------------------------------------------------------------------------------------------------
   >>platform   The only section that depends on the operating system: loader, mutex, per-thread record, atomics,
   process. */

#if defined(__cplusplus) && defined(__GNUC__)    /* this is C: C++ would warn about its casts and NULLs */
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wold-style-cast"
#  pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#  ifndef __clang__
#    pragma GCC diagnostic ignored "-Wuseless-cast"
#  endif
#endif

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#  ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN
#  endif
#  include <windows.h>
#  include <direct.h>
#  define GXI_CUDA __stdcall
#  if defined(__GNUC__)
#    define GXI_THREAD __thread
#  else
#    define GXI_THREAD __declspec(thread)
#  endif
typedef SRWLOCK gxi_mutex;
#  define GXI_MUTEX_INIT SRWLOCK_INIT
static void gxi_lock(gxi_mutex *m) { AcquireSRWLockExclusive(m); }
static void gxi_unlock(gxi_mutex *m) { ReleaseSRWLockExclusive(m); }
typedef DWORD gxi_thread_key;

static int  gxi_key_new(gxi_thread_key *key, void (__stdcall *end)(void *)) {
    *key = FlsAlloc(end);
    return *key == FLS_OUT_OF_INDEXES;
}

static void gxi_key_set(gxi_thread_key key, void *p) { FlsSetValue(key, p); }
static void gxi_key_free(gxi_thread_key key) { FlsFree(key); }
#  define GXI_THREAD_ENDS(name) static void __stdcall name(void *p)
#  define GXI_AT_UNLOAD(name) static void __cdecl name(void)
#  define GXI_ARM_UNLOAD(name) \
    do { \
        static int armed; \
        if (!armed) { \
            armed = 1; \
            atexit(name); \
        } \
    } while (0)    /* in a DLL, atexit functions run at FreeLibrary */
#  define GXI_SLASHES "/\\"
static void *gxi_library_open(const char *path) {
    /* a bare name is searched for in the system folder only: an nvcuda.dll from elsewhere is never loaded */
    return (void *)LoadLibraryExA(path, NULL, strpbrk(path, GXI_SLASHES) ? 0 : LOAD_LIBRARY_SEARCH_SYSTEM32);
}
static void *gxi_library_symbol(void *library, const char *name) {
    union { FARPROC f; void *p; } u;
    u.f = GetProcAddress((HMODULE)library, name);
    return u.p;
}
static const char *gxi_library_error(void) {     /* the caller must hold a mutex */
    static char text[300];
    const DWORD error = GetLastError();
    DWORD n = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, error, 0, text, 256,
                             NULL);
    while (n && strchr(" .\r\n", text[n - 1])) n--;
    snprintf(text + n, sizeof text - n, "%sWindows error %lu", n ? ", " : "", error);
    return text;
}
static void gxi_library_close(void *library) { FreeLibrary((HMODULE)library); }
static unsigned long long gxi_thread_number(void) { return GetCurrentThreadId(); }
static int  gxi_privileged(void) { return 0; }
static long gxi_pid(void) { return (long)GetCurrentProcessId(); }
#  ifndef GPUEXEC_NO_MULTI
static void gxi_sleep_ms(unsigned ms) { Sleep(ms); }
#  endif
#  define gxi_getcwd _getcwd
/* Reads the byte at p, which may have been unmapped: 0 then. */
static int gxi_read_byte(const int *ends, const char *p, char *out) {
    (void)ends;
    return ReadProcessMemory(GetCurrentProcess(), p, out, 1, NULL) != 0;
}

static int gxi_read_begin(int *ends) {
    ends[0] = ends[1] = 0;
    return 1;
}

static void gxi_read_end(const int *ends) { (void)ends; }
static const char *gxi_not_a_file(const char *path) {
    const DWORD attributes = GetFileAttributesA(path);
    return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY ? "a directory" : NULL;
}
static const char *const gxi_driver_places[] = { "nvcuda.dll" };
#  define GXI_CPU_DEVICE_IS_FOR " (Linux only, so under WSL)"
#else
#  include <dlfcn.h>
#  include <poll.h>
#  include <pthread.h>
#  include <sys/stat.h>
#  include <unistd.h>
#  if defined(__linux__)
#    include <sys/auxv.h>
#    if !defined(GPUEXEC_NO_IPC)
#      include <fcntl.h>
#      include <sys/socket.h>
#      include <sys/un.h>
#      if defined(SO_PEERCRED)                    /* not with -std=c99 */
#        define GXI_SO_PEERCRED SO_PEERCRED
#      elif defined(__powerpc__)
#        define GXI_SO_PEERCRED 21
#      else
#        define GXI_SO_PEERCRED 17
#      endif
#    endif
#  endif
#  define GXI_CUDA
#  define GXI_THREAD __thread
#  define GXI_SLASHES "/"
typedef pthread_mutex_t gxi_mutex;
#  define GXI_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
static void gxi_lock(gxi_mutex *m) { pthread_mutex_lock(m); }
static void gxi_unlock(gxi_mutex *m) { pthread_mutex_unlock(m); }
typedef pthread_key_t gxi_thread_key;
static int  gxi_key_new(gxi_thread_key *key, void (*end)(void *)) { return pthread_key_create(key, end); }
static void gxi_key_set(gxi_thread_key key, void *p) { pthread_setspecific(key, p); }
static void gxi_key_free(gxi_thread_key key) { pthread_key_delete(key); }
#  define GXI_THREAD_ENDS(name) static void name(void *p)
#  define GXI_AT_UNLOAD(name) __attribute__((destructor)) static void name(void)
#  define GXI_ARM_UNLOAD(name) ((void)0)
static void *gxi_library_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *gxi_library_symbol(void *library, const char *name) { return dlsym(library, name); }

static const char *gxi_library_error(void) {
    const char *text = dlerror();
    return text ? text : "dlopen failed";
}

static void gxi_library_close(void *library) { dlclose(library); }
static unsigned long long gxi_thread_number(void) { return (unsigned long long)(uintptr_t)pthread_self(); }
static int  gxi_privileged(void) {
#  if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#  else
    return getuid() != geteuid() || getgid() != getegid();
#  endif
}
static long gxi_pid(void) { return (long)getpid(); }
#  ifndef GPUEXEC_NO_MULTI
static void gxi_sleep_ms(unsigned ms) { (void)poll(NULL, 0, (int)ms); }
#  endif
#  define gxi_getcwd getcwd
/* Reads the byte at p, which may have been unmapped: 0 then, since write returns EFAULT where a load would crash. */
static int gxi_read_byte(const int *ends, const char *p, char *out) {
    return write(ends[1], p, 1) == 1 && read(ends[0], out, 1) == 1;
}
static int gxi_read_begin(int *ends) { return pipe(ends) == 0; }
static void gxi_read_end(const int *ends) {
    close(ends[0]);
    close(ends[1]);
}
/* The file type if it is not a regular file: opening a FIFO can block forever, reading a device may never end. */
static const char *gxi_not_a_file(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode)) return NULL;
    return S_ISDIR(about.st_mode) ? "a directory" : S_ISFIFO(about.st_mode) ? "a FIFO or pipe"
        : S_ISCHR(about.st_mode) ? "a device" : "another kind of file";
}
static const char *const gxi_driver_places[] = {
    "libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1" /* WSL */, "/usr/local/nvidia/lib64/libcuda.so.1" /* containers */,
    "/run/opengl-driver/lib/libcuda.so.1" /* NixOS */
};
#  define GXI_CPU_DEVICE_IS_FOR ""
#endif

#if defined(__GNUC__)
#  define GXI_LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#  define GXI_STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
static inline int gxi_swap(int *p, int from, int to) {               /* 1: it was `from`, and now is `to` */
    return __atomic_compare_exchange_n(p, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
#  define GXI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#  define GXI_NOINLINE __attribute__((noinline))        /* many callers: inlining it would slow down compilation */
#  define GXI_COLD __attribute__((noinline, cold))
#  define GXI_HOT static inline __attribute__((always_inline))        /* the launch path */
#  define GXI_PRINTF(n) __attribute__((format(printf, n, n + 1)))
#else   /* MSVC: volatile has acquire and release on x86 and, with /volatile:ms, on ARM */
#  define GXI_LOAD(p) (*(p))
#  define GXI_STORE(p, v) (*(p) = (v))
#  define gxi_swap(p, from, to) (InterlockedCompareExchange((volatile LONG *)(p), to, from) == (from))
#  define GXI_UNLIKELY(x) (x)
#  define GXI_NOINLINE
#  define GXI_COLD
#  define GXI_HOT static
#  define GXI_PRINTF(n)
#endif

/* ---------------------------------------------------------------------------------------------------------------------
   >>driver   One row per entry point: optional or required, name, CUDA version that introduced the ABI declared
   here, and its parameters. They are resolved through cuGetProcAddress with that version, never by symbol name: the
   plain symbol can be an older ABI. A second ABI of an entry point has a row whose name ends with its version. If
   a required one is missing, the start fails; a missing optional one is NULL:
   see GXI_HAS. */

typedef struct gxi_memcpy2d {                    /* CUDA_MEMCPY2D */
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    gpuexec_ptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    gpuexec_ptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} gxi_memcpy2d;
typedef struct gxi_location { int type, id; } gxi_location;          /* CUmemLocation */
typedef struct gxi_access {                      /* CUmemAccessDesc */
    gxi_location location;
    int          flags;
} gxi_access;
typedef struct gxi_copy_side {                   /* one side of CUDA_MEMCPY3D; in _PEER, `context` is used */
    size_t      x, y, z, lod;
    unsigned    type;
    void       *host;
    gpuexec_ptr device;
    void       *array, *context;
    size_t      pitch, height;
} gxi_copy_side;
typedef struct gxi_memcpy3d {                    /* CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER */
    gxi_copy_side from, to;
    size_t        width, height, depth;
} gxi_memcpy3d;
typedef struct gxi_batch_attributes {            /* CUmemcpyAttributes */
    int          order;
    gxi_location from, to;
    unsigned     flags;
} gxi_batch_attributes;
typedef struct gxi_pool_properties {             /* CUmemPoolProps */
    int type, handle_types, location_type, location;
    void *security;
    size_t max_bytes;
    unsigned char zeros[56];
} gxi_pool_properties;
typedef struct gxi_ipc_handle { unsigned char bytes[64]; } gxi_ipc_handle;     /* CUipcMemHandle, CUipcEventHandle,
                                                    CUmemPoolPtrExportData */
typedef struct gxi_launch_attribute {            /* CUlaunchAttribute, with the values used here */
    int id, padding;
    union { int number; unsigned blocks[3]; uint64_t space[8]; } value;
} gxi_launch_attribute;
typedef struct gxi_launch_config {               /* CUlaunchConfig */
    gpuexec_dims          dims;                  /* the first members of CUDA's struct */
    struct CUstream_st   *stream;
    gxi_launch_attribute *attributes;
    unsigned              count;
} gxi_launch_config;

struct CUgraphNode_st;
typedef struct gxi_kernel_node {                 /* CUDA_KERNEL_NODE_PARAMS_v1 */
    struct CUfunc_st *function;
    unsigned          grid[3], block[3], shared;
    void            **params, **extra;
} gxi_kernel_node;
typedef struct gxi_fill_node {                   /* CUDA_MEMSET_NODE_PARAMS */
    gpuexec_ptr to;
    size_t      pitch;
    unsigned    value, element;
    size_t      width, height;
} gxi_fill_node;
typedef struct gxi_update {                      /* CUgraphExecUpdateResultInfo */
    int result;
    struct CUgraphNode_st *node, *from;
} gxi_update;

#define GXI_DRIVER(ROW) \
    ROW(REQUIRED, cuInit,                     2000, (unsigned flags)) \
    ROW(REQUIRED, cuDriverGetVersion,         2020, (int *version)) \
    ROW(REQUIRED, cuGetErrorName,             6000, (int error, const char **text)) \
    ROW(REQUIRED, cuGetErrorString,           6000, (int error, const char **text)) \
    ROW(OPTIONAL, cuLogsDumpToMemory,        12090, (unsigned *iterator, char *text, size_t *bytes, unsigned flags)) \
    ROW(REQUIRED, cuDeviceGet,                2000, (int *device, int ordinal)) \
    ROW(REQUIRED, cuDeviceGetCount,           2000, (int *count)) \
    ROW(REQUIRED, cuDeviceGetName,            2000, (char *name, int size, int device)) \
    ROW(REQUIRED, cuDeviceGetAttribute,       2000, (int *value, int attribute, int device)) \
    ROW(REQUIRED, cuDeviceTotalMem,           3020, (size_t *bytes, int device)) \
    ROW(REQUIRED, cuDeviceGetPCIBusId,        4010, (char *id, int size, int device)) \
    ROW(OPTIONAL, cuDeviceGetUuid,           11040, (unsigned char uuid[16], int device)) \
    ROW(REQUIRED, cuDeviceCanAccessPeer,      4000, (int *can, int device, int peer)) \
    ROW(REQUIRED, cuDevicePrimaryCtxRetain,   7000, (struct CUctx_st **context, int device)) \
    ROW(REQUIRED, cuDevicePrimaryCtxRelease, 11000, (int device)) \
    ROW(REQUIRED, cuDevicePrimaryCtxSetFlags,11000, (int device, unsigned flags)) \
    ROW(REQUIRED, cuCtxGetCurrent,            4000, (struct CUctx_st **context)) \
    ROW(REQUIRED, cuCtxPushCurrent,           4000, (struct CUctx_st *context)) \
    ROW(REQUIRED, cuCtxPopCurrent,            4000, (struct CUctx_st **context)) \
    ROW(REQUIRED, cuCtxGetDevice,             2000, (int *device)) \
    ROW(REQUIRED, cuCtxCreate,                3020, (struct CUctx_st **context, unsigned flags, int device)) \
    ROW(REQUIRED, cuCtxDestroy,               4000, (struct CUctx_st *context)) \
    ROW(REQUIRED, cuCtxGetApiVersion,         3020, (struct CUctx_st *context, unsigned *version)) \
    ROW(OPTIONAL, cuCtxGetId,                12000, (struct CUctx_st *context, unsigned long long *id)) \
    ROW(REQUIRED, cuCtxGetLimit,              3010, (size_t *value, int limit)) \
    ROW(REQUIRED, cuCtxSetLimit,              3010, (int limit, size_t value)) \
    ROW(REQUIRED, cuCtxGetStreamPriorityRange,5050, (int *least, int *greatest)) \
    ROW(OPTIONAL, cuCtxAttach,                2000, (struct CUctx_st **context, unsigned flags)) \
    ROW(OPTIONAL, cuCtxDetach,                2000, (struct CUctx_st *context)) \
    ROW(REQUIRED, cuDevicePrimaryCtxGetState, 7000, (int device, unsigned *flags, int *active)) \
    ROW(REQUIRED, cuCtxSynchronize,           2000, (void)) \
    ROW(REQUIRED, cuModuleLoadDataEx,         2010, \
        (struct CUmod_st **module, const void *image, unsigned n, int *options, void **values)) \
    ROW(REQUIRED, cuModuleUnload,             2000, (struct CUmod_st *module)) \
    ROW(REQUIRED, cuModuleGetFunction,        2000, \
        (struct CUfunc_st **function, struct CUmod_st *module, const char *name)) \
    ROW(REQUIRED, cuModuleGetGlobal,          3020, \
        (gpuexec_ptr *address, size_t *bytes, struct CUmod_st *module, const char *name)) \
    ROW(REQUIRED, cuLinkCreate,               6050, (unsigned n, int *options, void **values, void **state)) \
    ROW(REQUIRED, cuLinkAddData,              6050, \
        (void *state, int type, void *data, size_t bytes, const char *name, unsigned n, int *options, \
                                                     void **values)) \
    ROW(REQUIRED, cuLinkComplete,             5050, (void *state, void **image, size_t *bytes)) \
    ROW(REQUIRED, cuLinkDestroy,              5050, (void *state)) \
    ROW(OPTIONAL, cuModuleGetFunctionCount,  12040, (unsigned *count, struct CUmod_st *module)) \
    ROW(OPTIONAL, cuModuleEnumerateFunctions,12040, \
        (struct CUfunc_st **functions, unsigned n, struct CUmod_st *module)) \
    ROW(OPTIONAL, cuFuncGetName,             12030, (const char **name, struct CUfunc_st *function)) \
    ROW(OPTIONAL, cuFuncGetParamInfo,        12040, \
        (struct CUfunc_st *function, size_t index, size_t *offset, size_t *size)) \
    ROW(REQUIRED, cuFuncGetAttribute,         2020, (int *value, int attribute, struct CUfunc_st *function)) \
    ROW(REQUIRED, cuFuncSetAttribute,         9000, (struct CUfunc_st *function, int attribute, int value)) \
    ROW(REQUIRED, cuFuncSetCacheConfig,       3000, (struct CUfunc_st *function, int config)) \
    ROW(REQUIRED, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, \
        (int *blocks, struct CUfunc_st *function, int threads, size_t shared)) \
    ROW(REQUIRED, cuOccupancyMaxPotentialBlockSize, 6050, \
        (int *blocks, int *threads, struct CUfunc_st *function, size_t (GXI_CUDA *shared_of)(int), \
                                                     size_t shared, int limit)) \
    ROW(REQUIRED, cuLaunchKernel,             4000, \
        (struct CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
                                                     unsigned bz, unsigned shared, struct CUstream_st *stream, \
                                                     void **params, void **extra)) \
    ROW(REQUIRED, cuLaunchCooperativeKernel,  9000, \
        (struct CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
                                                     unsigned bz, unsigned shared, struct CUstream_st *stream, \
                                                     void **params)) \
    ROW(OPTIONAL, cuLaunchCooperativeKernelMultiDevice, 9000, (void *launches, unsigned count, unsigned flags)) \
    ROW(OPTIONAL, cuLaunchKernelEx,          11060, \
        (const struct gxi_launch_config *config, struct CUfunc_st *function, void **params, void **extra)) \
    ROW(OPTIONAL, cuOccupancyMaxPotentialClusterSize, 11070, \
        (int *blocks, struct CUfunc_st *function, const struct gxi_launch_config *config)) \
    ROW(REQUIRED, cuLaunchHostFunc,          10000, \
        (struct CUstream_st *stream, void (GXI_CUDA *function)(void *), void *user)) \
    ROW(REQUIRED, cuStreamGetPriority,        5050, (struct CUstream_st *stream, int *priority)) \
    ROW(REQUIRED, cuStreamGetFlags,           5050, (struct CUstream_st *stream, unsigned *flags)) \
    ROW(REQUIRED, cuMemAlloc,                 3020, (gpuexec_ptr *address, size_t bytes)) \
    ROW(REQUIRED, cuMemAllocPitch,            3020, \
        (gpuexec_ptr *address, size_t *pitch, size_t width, size_t height, unsigned element)) \
    ROW(REQUIRED, cuMemFree,                  3020, (gpuexec_ptr address)) \
    ROW(REQUIRED, cuMemPoolCreate,           11020, (void **pool, const struct gxi_pool_properties *properties)) \
    ROW(REQUIRED, cuMemPoolDestroy,          11020, (void *pool)) \
    ROW(REQUIRED, cuMemPoolSetAttribute,     11020, (void *pool, int attribute, void *value)) \
    ROW(REQUIRED, cuMemPoolGetAttribute,     11020, (void *pool, int attribute, void *value)) \
    ROW(REQUIRED, cuMemPoolTrimTo,           11020, (void *pool, size_t bytes)) \
    ROW(REQUIRED, cuMemPoolSetAccess,        11020, (void *pool, const struct gxi_access *access, size_t count)) \
    ROW(REQUIRED, cuDeviceGetDefaultMemPool, 11020, (void **pool, int device)) \
    ROW(REQUIRED, cuMemAllocFromPoolAsync,   11020, \
        (gpuexec_ptr *address, size_t bytes, void *pool, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemFreeAsync,            11020, (gpuexec_ptr address, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemGetInfo,               3020, (size_t *available, size_t *total)) \
    ROW(REQUIRED, cuMemAllocManaged,          6000, (gpuexec_ptr *address, size_t bytes, unsigned flags)) \
    ROW(OPTIONAL, cuMemPrefetchAsync,         8000, \
        (gpuexec_ptr address, size_t bytes, int device, struct CUstream_st *stream)) \
    ROW(OPTIONAL, cuMemPrefetchAsync_12020,     12020, \
        (gpuexec_ptr address, size_t bytes, gxi_location location, unsigned flags, struct CUstream_st *stream)) \
    ROW(OPTIONAL, cuMemAdvise,                8000, (gpuexec_ptr address, size_t bytes, int advice, int device)) \
    ROW(OPTIONAL, cuMemAdvise_12020,            12020, \
        (gpuexec_ptr address, size_t bytes, int advice, gxi_location location)) \
    ROW(REQUIRED, cuMemRangeGetAttributes,    8000, \
        (void **values, size_t *sizes, int *attributes, size_t n, gpuexec_ptr address, size_t bytes)) \
    ROW(REQUIRED, cuStreamAttachMemAsync,     6000, \
        (struct CUstream_st *stream, gpuexec_ptr address, size_t bytes, unsigned flags)) \
    ROW(REQUIRED, cuMemHostAlloc,             2020, (void **memory, size_t bytes, unsigned flags)) \
    ROW(REQUIRED, cuMemFreeHost,              2000, (void *memory)) \
    ROW(REQUIRED, cuMemHostRegister,          6050, (void *memory, size_t bytes, unsigned flags)) \
    ROW(REQUIRED, cuMemHostUnregister,        4000, (void *memory)) \
    ROW(REQUIRED, cuCtxEnablePeerAccess,      4000, (struct CUctx_st *peer, unsigned flags)) \
    ROW(REQUIRED, cuCtxDisablePeerAccess,     4000, (struct CUctx_st *peer)) \
    ROW(REQUIRED, cuMemHostGetDevicePointer,  3020, (gpuexec_ptr *address, void *memory, unsigned flags)) \
    ROW(REQUIRED, cuMemGetAddressRange,       3020, (gpuexec_ptr *base, size_t *bytes, gpuexec_ptr address)) \
    ROW(REQUIRED, cuPointerGetAttributes,     7000, (unsigned n, int *attributes, void **values, gpuexec_ptr address)) \
    ROW(REQUIRED, cuMemcpyHtoD,               3020, (gpuexec_ptr to, const void *from, size_t bytes)) \
    ROW(REQUIRED, cuMemcpyDtoH,               3020, (void *to, gpuexec_ptr from, size_t bytes)) \
    ROW(REQUIRED, cuMemcpyDtoD,               3020, (gpuexec_ptr to, gpuexec_ptr from, size_t bytes)) \
    ROW(REQUIRED, cuMemcpyHtoDAsync,          3020, \
        (gpuexec_ptr to, const void *from, size_t bytes, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemcpyDtoHAsync,          3020, \
        (void *to, gpuexec_ptr from, size_t bytes, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemcpyDtoDAsync,          3020, \
        (gpuexec_ptr to, gpuexec_ptr from, size_t bytes, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemcpy2DAsync,            3020, (const gxi_memcpy2d *copy, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemcpy3DAsync,            3020, (const struct gxi_memcpy3d *copy, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemcpy3DPeerAsync,        4000, (const struct gxi_memcpy3d *copy, struct CUstream_st *stream)) \
    ROW(OPTIONAL, cuMemcpyBatchAsync,        12080, \
        (gpuexec_ptr *to, gpuexec_ptr *from, size_t *bytes, size_t count, struct gxi_batch_attributes *attributes, \
                                                     size_t *firsts, size_t n, size_t *failed, \
                                                     struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemcpyPeerAsync,          4000, \
        (gpuexec_ptr to, struct CUctx_st *to_context, gpuexec_ptr from, struct CUctx_st *from_context, \
                                                     size_t bytes, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemsetD8Async,            3020, \
        (gpuexec_ptr to, unsigned char value, size_t bytes, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemsetD16Async,           3020, \
        (gpuexec_ptr to, unsigned short value, size_t count, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemsetD32Async,           3020, \
        (gpuexec_ptr to, unsigned value, size_t count, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemsetD2D8Async,          3020, \
        (gpuexec_ptr to, size_t pitch, unsigned char value, size_t width, size_t height, \
                                                     struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemsetD2D16Async,         3020, \
        (gpuexec_ptr to, size_t pitch, unsigned short value, size_t width, size_t height, \
                                                     struct CUstream_st *stream)) \
    ROW(REQUIRED, cuMemsetD2D32Async,         3020, \
        (gpuexec_ptr to, size_t pitch, unsigned value, size_t width, size_t height, \
                                                     struct CUstream_st *stream)) \
    ROW(REQUIRED, cuStreamCreateWithPriority, 5050, (struct CUstream_st **stream, unsigned flags, int priority)) \
    ROW(REQUIRED, cuStreamDestroy,            4000, (struct CUstream_st *stream)) \
    ROW(REQUIRED, cuStreamSynchronize,        2000, (struct CUstream_st *stream)) \
    ROW(REQUIRED, cuStreamQuery,              2000, (struct CUstream_st *stream)) \
    ROW(REQUIRED, cuStreamWaitEvent,          3020, \
        (struct CUstream_st *stream, struct CUevent_st *event, unsigned flags)) \
    ROW(OPTIONAL, cuStreamWaitValue32,       11070, \
        (struct CUstream_st *stream, gpuexec_ptr address, unsigned value, unsigned flags)) \
    ROW(OPTIONAL, cuStreamWaitValue64,       11070, \
        (struct CUstream_st *stream, gpuexec_ptr address, uint64_t value, unsigned flags)) \
    ROW(OPTIONAL, cuStreamWriteValue32,      11070, \
        (struct CUstream_st *stream, gpuexec_ptr address, unsigned value, unsigned flags)) \
    ROW(OPTIONAL, cuStreamWriteValue64,      11070, \
        (struct CUstream_st *stream, gpuexec_ptr address, uint64_t value, unsigned flags)) \
    ROW(REQUIRED, cuStreamBeginCapture,      10010, (struct CUstream_st *stream, int mode)) \
    ROW(REQUIRED, cuStreamEndCapture,        10000, (struct CUstream_st *stream, struct CUgraph_st **graph)) \
    ROW(REQUIRED, cuStreamIsCapturing,       10000, (struct CUstream_st *stream, int *status)) \
    ROW(REQUIRED, cuStreamGetCaptureInfo,    10010, (struct CUstream_st *stream, int *status, uint64_t *id)) \
    ROW(REQUIRED, cuThreadExchangeStreamCaptureMode, 10010, (int *mode)) \
    ROW(REQUIRED, cuGraphGetNodes,           10000, \
        (struct CUgraph_st *graph, struct CUgraphNode_st **nodes, size_t *count)) \
    ROW(REQUIRED, cuGraphNodeGetType,        10000, (struct CUgraphNode_st *node, int *type)) \
    ROW(REQUIRED, cuGraphNodeGetDependencies, 10000, \
        (struct CUgraphNode_st *node, struct CUgraphNode_st **before, size_t *count)) \
    ROW(REQUIRED, cuGraphKernelNodeGetParams, 10000, (struct CUgraphNode_st *node, struct gxi_kernel_node *params)) \
    ROW(REQUIRED, cuGraphMemcpyNodeGetParams, 10000, (struct CUgraphNode_st *node, struct gxi_memcpy3d *params)) \
    ROW(REQUIRED, cuGraphMemsetNodeGetParams, 10000, (struct CUgraphNode_st *node, struct gxi_fill_node *params)) \
    ROW(REQUIRED, cuGraphInstantiateWithFlags, 11040, \
        (struct CUgraphExec_st **exec, struct CUgraph_st *graph, unsigned long long flags)) \
    ROW(REQUIRED, cuGraphUpload,             11010, (struct CUgraphExec_st *exec, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuGraphLaunch,             10000, (struct CUgraphExec_st *exec, struct CUstream_st *stream)) \
    ROW(OPTIONAL, cuGraphExecUpdate,         12000, \
        (struct CUgraphExec_st *exec, struct CUgraph_st *graph, struct gxi_update *info)) \
    ROW(REQUIRED, cuGraphExecDestroy,        10000, (struct CUgraphExec_st *exec)) \
    ROW(REQUIRED, cuGraphDestroy,            10000, (struct CUgraph_st *graph)) \
    ROW(REQUIRED, cuStreamGetCtx,             9020, (struct CUstream_st *stream, struct CUctx_st **context)) \
    ROW(REQUIRED, cuEventCreate,              2000, (struct CUevent_st **event, unsigned flags)) \
    ROW(REQUIRED, cuEventDestroy,             4000, (struct CUevent_st *event)) \
    ROW(REQUIRED, cuEventRecord,              2000, (struct CUevent_st *event, struct CUstream_st *stream)) \
    ROW(REQUIRED, cuEventSynchronize,         2000, (struct CUevent_st *event)) \
    ROW(REQUIRED, cuEventQuery,               2000, (struct CUevent_st *event)) \
    ROW(REQUIRED, cuEventElapsedTime,         2000, (float *ms, struct CUevent_st *start, struct CUevent_st *stop)) \
    ROW(REQUIRED, cuIpcGetMemHandle,          4010, (struct gxi_ipc_handle *handle, gpuexec_ptr address)) \
    ROW(REQUIRED, cuIpcOpenMemHandle,        11000, (gpuexec_ptr *address, gxi_ipc_handle handle, unsigned flags)) \
    ROW(REQUIRED, cuIpcCloseMemHandle,        4010, (gpuexec_ptr address)) \
    ROW(REQUIRED, cuIpcGetEventHandle,        4010, (struct gxi_ipc_handle *handle, struct CUevent_st *event)) \
    ROW(REQUIRED, cuIpcOpenEventHandle,       4010, (struct CUevent_st **event, gxi_ipc_handle handle)) \
    ROW(REQUIRED, cuMemPoolExportToShareableHandle, 11020, \
        (void *handle, void *pool, int type, unsigned long long flags)) \
    ROW(REQUIRED, cuMemPoolImportFromShareableHandle, 11020, \
        (void **pool, void *handle, int type, unsigned long long flags)) \
    ROW(REQUIRED, cuMemPoolExportPointer,    11020, (struct gxi_ipc_handle *data, gpuexec_ptr address)) \
    ROW(REQUIRED, cuMemPoolImportPointer,    11020, \
        (gpuexec_ptr *address, void *pool, struct gxi_ipc_handle *data))

typedef struct gxi_driver {
#define GXI_MEMBER(need, name, version, params) int (GXI_CUDA *name) params;
    GXI_DRIVER(GXI_MEMBER)
#undef GXI_MEMBER
} gxi_driver;

/* in the order of gxi_driver's members */
typedef struct gxi_driver_row { const char *name; int version, required; } gxi_driver_row;
static const gxi_driver_row gxi_driver_rows[] = {
#define GXI_NEED_REQUIRED 1
#define GXI_NEED_OPTIONAL 0                      /* pasted, because Windows defines a macro OPTIONAL */
#define GXI_ROW(need, name, version, params) { #name, version, GXI_NEED_##need },
    GXI_DRIVER(GXI_ROW)
#undef GXI_ROW
};
#define GXI_DRIVER_COUNT (sizeof gxi_driver_rows / sizeof gxi_driver_rows[0])

/* The CUDA constants that the implementation uses, with CUDA's names without their prefix. tests/abi compares them
   with cuda.h. */
enum {
    GXI_SUCCESS = 0, GXI_INVALID_VALUE = 1, GXI_OUT_OF_MEMORY = 2, GXI_NOT_INITIALIZED = 3,
    GXI_DEINITIALIZED = 4, GXI_STUB_LIBRARY = 34, GXI_NO_DEVICE = 100, GXI_INVALID_DEVICE = 101,
    GXI_INVALID_IMAGE = 200, GXI_INVALID_CONTEXT = 201, GXI_ECC_UNCORRECTABLE = 214, GXI_PEER_ACCESS_UNSUPPORTED = 217,
    GXI_PEER_ACCESS_ALREADY_ENABLED = 704, GXI_PEER_ACCESS_NOT_ENABLED = 705, GXI_TOO_MANY_PEERS = 711,
    GXI_NO_BINARY_FOR_GPU = 209, GXI_UNSUPPORTED_LIMIT = 215, GXI_INVALID_PTX = 218, GXI_JIT_COMPILER_NOT_FOUND = 221,
    GXI_INVALID_SOURCE = 300, GXI_UNSUPPORTED_PTX_VERSION = 222, GXI_JIT_COMPILATION_DISABLED = 223,
    GXI_INVALID_HANDLE = 400, GXI_LOSSY_QUERY = 402, GXI_SYMBOL_NOT_FOUND = 500, GXI_CU_NOT_READY = 600,
    GXI_ILLEGAL_ADDRESS = 700, GXI_OUT_OF_RESOURCES = 701, GXI_LAUNCH_TIMEOUT = 702, GXI_CONTEXT_IS_DESTROYED = 709,
    GXI_ASSERT = 710, GXI_HARDWARE_STACK_ERROR = 714, GXI_ILLEGAL_INSTRUCTION = 715, GXI_MISALIGNED_ADDRESS = 716,
    GXI_INVALID_ADDRESS_SPACE = 717, GXI_INVALID_PC = 718, GXI_LAUNCH_FAILED = 719, GXI_COOPERATIVE_TOO_LARGE = 720,
    GXI_CU_NOT_SUPPORTED = 801, GXI_SYSTEM_NOT_READY = 802, GXI_SYSTEM_DRIVER_MISMATCH = 803,
    GXI_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804, GXI_CAPTURE_UNSUPPORTED = 900, GXI_CAPTURE_INVALIDATED = 901,
    GXI_CAPTURE_MERGE = 902, GXI_CAPTURE_UNJOINED = 904, GXI_CAPTURE_ISOLATION = 905, GXI_CAPTURE_IMPLICIT = 906,
    GXI_CAPTURED_EVENT = 907, GXI_CAPTURE_WRONG_THREAD = 908,
    GXI_GRAPH_EXEC_UPDATE_FAILURE = 910, GXI_INVALID_CLUSTER_SIZE = 912, GXI_UNKNOWN = 999,

    GXI_JIT_MAX_REGISTERS = 0, GXI_JIT_WALL_TIME = 2, GXI_JIT_INFO_LOG_BUFFER = 3,
    GXI_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4, GXI_JIT_ERROR_LOG_BUFFER = 5, GXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    GXI_JIT_OPTIMIZATION_LEVEL = 7, GXI_JIT_TARGET = 9, GXI_JIT_FALLBACK_STRATEGY = 10,
    GXI_JIT_GENERATE_DEBUG_INFO = 11, GXI_JIT_LOG_VERBOSE = 12, GXI_JIT_GENERATE_LINE_INFO = 13,
    GXI_JIT_CACHE_MODE = 14, GXI_JIT_POSITION_INDEPENDENT_CODE = 30, GXI_JIT_MIN_CTA_PER_SM = 31,
    GXI_JIT_MAX_THREADS_PER_BLOCK = 32, GXI_JIT_OVERRIDE_DIRECTIVE_VALUES = 33, GXI_JIT_SPLIT_COMPILE = 34,
    GXI_JIT_THREADS_PER_BLOCK = 1, GXI_JIT_INPUT_CUBIN = 0, GXI_JIT_INPUT_PTX = 1, GXI_JIT_INPUT_FATBINARY = 2,
    GXI_JIT_INPUT_OBJECT = 3, GXI_JIT_INPUT_LIBRARY = 4,

    GXI_FUNC_MAX_THREADS_PER_BLOCK = 0, GXI_FUNC_SHARED_SIZE_BYTES = 1, GXI_FUNC_CONST_SIZE_BYTES = 2,
    GXI_FUNC_LOCAL_SIZE_BYTES = 3, GXI_FUNC_NUM_REGS = 4, GXI_FUNC_PTX_VERSION = 5,
    GXI_FUNC_BINARY_VERSION = 6, GXI_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, GXI_FUNC_CACHE_MODE_CA = 7,
    GXI_FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT = 9, GXI_FUNC_CLUSTER_SIZE_MUST_BE_SET = 10,
    GXI_FUNC_REQUIRED_CLUSTER_WIDTH = 11, GXI_FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
    GXI_FUNC_CLUSTER_SCHEDULING_POLICY = 15,

    GXI_LAUNCH_COOPERATIVE = 2, GXI_LAUNCH_CLUSTER_DIMENSION = 4, GXI_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    GXI_LAUNCH_PRIORITY = 8, GXI_LAUNCH_MEM_SYNC_DOMAIN = 10, GXI_LAUNCH_PARAM_BUFFER_POINTER = 1,
    GXI_LAUNCH_PARAM_BUFFER_SIZE = 2,

    GXI_DEV_MAX_THREADS_PER_BLOCK = 1, GXI_DEV_MAX_BLOCK_DIM_X = 2,
    GXI_DEV_MAX_GRID_DIM_X = 5, GXI_DEV_MAX_SHARED_MEMORY_PER_BLOCK = 8, GXI_DEV_WARP_SIZE = 10, GXI_DEV_MAX_PITCH = 11,
    GXI_DEV_MAX_REGISTERS_PER_BLOCK = 12, GXI_DEV_CLOCK_RATE = 13, GXI_DEV_MULTIPROCESSOR_COUNT = 16,
    GXI_DEV_INTEGRATED = 18, GXI_DEV_L2_CACHE_SIZE = 38, GXI_DEV_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    GXI_DEV_ASYNC_ENGINE_COUNT = 40, GXI_DEV_COMPUTE_CAPABILITY_MAJOR = 75, GXI_DEV_COMPUTE_CAPABILITY_MINOR = 76,
    GXI_DEV_COOPERATIVE_LAUNCH = 95, GXI_DEV_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
    GXI_DEV_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97, GXI_DEV_MEMORY_POOLS_SUPPORTED = 115, GXI_DEV_CLUSTER_LAUNCH = 120,
    GXI_DEV_MANAGED_MEMORY = 83, GXI_DEV_CONCURRENT_MANAGED_ACCESS = 89, GXI_DEV_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,

    GXI_STREAM_CAPTURE_MODE_GLOBAL = 0, GXI_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, GXI_STREAM_CAPTURE_MODE_RELAXED = 2,
    GXI_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
    GXI_GRAPH_NODE_TYPE_KERNEL = 0, GXI_GRAPH_NODE_TYPE_MEMCPY = 1, GXI_GRAPH_NODE_TYPE_MEMSET = 2,
    GXI_STREAM_NON_BLOCKING = 1, GXI_EVENT_BLOCKING_SYNC = 1, GXI_EVENT_DISABLE_TIMING = 2,
    GXI_EVENT_INTERPROCESS = 4, GXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1,
    GXI_MEMHOSTALLOC_PORTABLE = 1, GXI_MEMHOSTALLOC_DEVICEMAP = 2, GXI_MEMHOSTALLOC_WRITECOMBINED = 4,
    GXI_MEMORYTYPE_HOST = 1, GXI_MEMORYTYPE_DEVICE = 2,
    GXI_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    GXI_MEM_ALLOCATION_TYPE_PINNED = 1, GXI_MEM_LOCATION_TYPE_DEVICE = 1, GXI_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    GXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5, GXI_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
    GXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6, GXI_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
    GXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1, GXI_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    GXI_MEM_LOCATION_TYPE_HOST = 2, GXI_MEM_LOCATION_TYPE_HOST_NUMA = 3, GXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
    GXI_MEM_ATTACH_GLOBAL = 1, GXI_MEM_ATTACH_HOST = 2,
    GXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1, GXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    GXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3, GXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
    GXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5, GXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
    GXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7, GXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
    GXI_POINTER_CONTEXT = 1, GXI_POINTER_MEMORY_TYPE = 2, GXI_POINTER_DEVICE_POINTER = 3, GXI_POINTER_HOST_POINTER = 4,
    GXI_POINTER_IS_MANAGED = 8, GXI_POINTER_DEVICE_ORDINAL = 9, GXI_POINTER_MEMPOOL_HANDLE = 17,
    GXI_HOST_MEMORY_ALREADY_REGISTERED = 712
};
#define GXI_STREAM_LEGACY ((struct CUstream_st *)1)      /* CU_STREAM_LEGACY */

/* ---------------------------------------------------------------------------------------------------------------------
   >>core   State, allocator, texts, log and trace.
   A gxi_call describes the API call in progress: its name, the user's place, how it treats the latch, and the last
   driver call with its CUresult. */

typedef enum gxi_kind_of_call { GXI_MAKES, GXI_WORKS, GXI_WAITS, GXI_QUERIES, GXI_CLEANS } gxi_kind_of_call;

typedef struct gxi_call {
    const char      *function, *where;
    gxi_kind_of_call kind;
    const char      *driver_call;
    int              cu;                         /* its CUresult */
    const char      *log;
    const char      *subject;      /* "launches[1]: ", the beginning of messages about one part of the call, or NULL */
    uint64_t         stream;       /* handle id of the stream that a GXI_WORKS call enqueues on; 0 for none */
} gxi_call;
static GXI_NOINLINE gxi_call *gxi_call_of(gxi_call *call, const char *function, const char *where,
                                          gxi_kind_of_call kind) {
    memset(call, 0, sizeof *call);
    call->function = function;
    call->where = where;
    call->kind = kind;
    return call;
}
static GXI_NOINLINE gxi_call *gxi_call_on(gxi_call *call, const char *function, const char *where, uint64_t stream) {
    gxi_call_of(call, function, where, GXI_WORKS)->stream = stream;
    return call;
}
#define GXI_CALL(name, kind) gxi_call this_call, *const call = gxi_call_of(&this_call, #name, where, kind)
#define GXI_CALL_NO_PLACE(name, kind) gxi_call this_call, *const call = gxi_call_of(&this_call, #name, 0, kind)
/* A call that enqueues: a failure also marks its stream. */
#define GXI_CALL_ON(stream, name) gxi_call this_call, *const call = gxi_call_on(&this_call, #name, where, (stream).id)

typedef struct gxi_text { char *p; size_t n, cap; int failed; } gxi_text;
/* e's strings are in text, or are literals */
typedef struct gxi_detail { gpuexec_error e; gxi_text text; } gxi_detail;

/* what a thread uses in a context */
typedef struct gxi_use {
    uint64_t           context, stream;          /* handle ids; stream: the one that the thread made current, or 0 */
    struct CUevent_st *event;                    /* for gpuexec_stream_wait_stream: see gxi_wait_event_of; or NULL */
    struct gxi_slot   *current;                  /* the slot of its current stream, if `ends` is gxi.ends; or NULL */
    uint64_t           ends;
} gxi_use;

typedef struct gxi_thread_record {
    gxi_detail last, before, first;              /* the last failure; the one before it, whose text may still be in
                                                    use; the latched one */
    struct gxi_thread_record *next, **link;
    uint32_t latched;                       /* number of the latched failure, 0 for none; streams are marked with it */
    int      reported;                      /* a wait on another thread has returned it */
    int      ended;                         /* the thread has ended: kept for streams and gpuexec_shutdown to report */
    gxi_use *uses;
    unsigned nuses, uses_cap;
} gxi_thread_record;
enum { GXI_ENDED_KEPT = 1024 };                    /* at most this many */
#define GXI_LATCH_WITHOUT_TEXT 0xFFFFFFFFu       /* instead of its number if there was no memory for a record */

typedef struct gxi_thread_state {                /* all is valid only while epoch is gxi.epoch */
    gpuexec_result     latched;
    unsigned           epoch;
    gxi_thread_record *record;
    gxi_use           *use;                      /* of the record: the one that was used last; or &gxi_no_use */
} gxi_thread_state;
static gxi_use gxi_no_use = { ~(uint64_t)0, 0, NULL, NULL, 0 };
static GXI_THREAD gxi_thread_state gxi_thread = { GPUEXEC_OK, 0, NULL, &gxi_no_use };
static GXI_THREAD gpuexec_error gxi_bare_error;  /* the last failure, if there was no memory for a record */
enum { GXI_PLACE = 128 };
static GXI_THREAD char gxi_bare_where[GXI_PLACE];        /* its place */

enum { GXI_FAILED_KEPT = 64 };
typedef struct gxi_failed { uint64_t id; gxi_detail detail; } gxi_failed;

typedef struct gxi_range {                       /* one of gpuexec's allocations */
    int                 state;                   /* atomic: see GXI_LIVE */
    uint64_t            lo, bytes, context;      /* atomic: lo, bytes; context: handle id */
    const char         *where;
    uint64_t            room, freed_at;          /* the most bytes that it may have again; the freed_count of then */
    const char         *freed_where;             /* atomic, like where */
    gpuexec_memory_kind kind;
    int                 pooled;                  /* GXI_POOLED, GXI_OF_GRAPH, GXI_IMPORTED or 0 */
    uint64_t            device;                  /* address for kernels; 0: not known yet, of host memory */
    struct gxi_range   *next, **from;            /* in its context's list */
} gxi_range;
enum { GXI_FREED_KEPT = 4, GXI_QUICK = 64 };
/* gxi_range.state. Programs often free and allocate the same addresses of a pool, so a range in gxi.quick stays in the
   table when it is freed, as GXI_DEAD, and allocating it again changes only its state: without gxi_tables. It is
   GXI_BUSY while a thread does that or unlinks it, GXI_EMPTY when unlinked. All other ranges are GXI_LIVE. */
enum { GXI_EMPTY, GXI_LIVE, GXI_DEAD, GXI_BUSY };
/* from a pool: the driver frees it without waiting; or from a capture: it belongs to the graph, and each launch may
   allocate it; or from another process */
enum { GXI_POOLED = 16, GXI_OF_GRAPH = 32, GXI_IMPORTED = 64 };
/* fixed size, so that freeing never fails for lack of memory */
typedef struct gxi_freed { gxi_range was; char place[GXI_PLACE]; } gxi_freed;
typedef struct gxi_leaf {                        /* a leaf of the table of allocations: see >>ranges */
    unsigned   count;
    uint64_t   lo[256];
    gxi_range *range[256];
} gxi_leaf;
static const char *const gxi_memory_kinds[] = { "pageable", "device", "pinned", "registered", "managed" };
static const char *const gxi_memory_verbs[] = { "found", "allocated", "allocated", "registered", "allocated" };

struct gxi_slot;
struct gxi_context;
enum { GXI_CHUNK_SLOTS = 256, GXI_CHUNKS = 4096 };   /* a million objects; >>object explains how ids address them */

typedef struct gxi_state {
    struct gxi_slot    *chunks[GXI_CHUNKS];      /* atomic; guarded by gxi_tables as below; freed only by
                                                    gpuexec_shutdown. First member, so that a look-up adds no offset */
    int                 started;                 /* atomic */
    unsigned            epoch;                   /* atomic; counts shutdowns: each invalidates all thread records */
    gxi_driver          cu;
    /* atomic; these two survive a failed start: other threads may be writing an earlier failure's text */
    int      (GXI_CUDA *error_name)(int error, const char **text);
    int      (GXI_CUDA *error_string)(int error, const char **text);
    const struct gxi_settings *settings;         /* atomic; NULL for the defaults */
    int                 trace, version, forked;
    int                 begun;                   /* cuInit is running, or has succeeded once in this process */
    void               *library;
    char                library_path[1024];
    long                pid;
    const char         *first_function, *first_where;
    char                first_place[GXI_PLACE];
    gxi_detail          start_failure;           /* repeated until gpuexec_setup is called again */
    int                 barriers;                /* atomic: number created since the start; waits check them if not 0 */
    int                 captures;                /* atomic: number of captures that gpuexec has begun and not ended */
    int                 sticky;                  /* the first sticky CUresult of the process; its text follows */
    gxi_detail          sticky_detail;

    /* guarded by gxi_tables: */
    gxi_thread_record  *records;
    unsigned            ended;                   /* number of records whose thread has ended */
    uint32_t            latches;                 /* the last latch number given out */
    int                 have_key, unloading;
    gxi_thread_key      key;
    gxi_failed          failed[GXI_FAILED_KEPT];
    uint64_t            failed_count;
    unsigned            generation;              /* initial generation of the slots in new chunks */
    unsigned            tags;                    /* number of tags used up, each with all its generations */
    unsigned            slots;                   /* number of slots ever used */
    unsigned            free_slot;               /* index + 1 of the first free slot, 0 none */
    uint64_t            ends;                    /* atomic; counts closed kernels and streams: prepared launches look
                                                    theirs up again when it has changed */
    /* copies of `where` strings, each stored once: a hash table with places_cap entries, a power of 2 */
    char              **places;
    size_t              nplaces, places_cap;
    const char         *recent[16];              /* of these, by the caller's pointer */
    uint64_t            freed_count;             /* atomic, but may miss some */
    gxi_freed           freed[GXI_FREED_KEPT];   /* the last allocations freed, except GXI_DEAD ones */
    unsigned            nfreed;
    gxi_range           quick[GXI_QUICK];        /* see GXI_LIVE */
    gxi_leaf          **leaves;                  /* sorted by address, none empty */
    uint64_t           *firsts;                  /* the first address of each leaf: contiguous, for the search */
    size_t              nleaves, leaves_cap;
    gxi_range          *found;                   /* by the last search, or NULL */
    gxi_leaf           *spare_leaf;              /* for the next allocation, or NULL */
    gxi_range          *spare;
    uint32_t            first[16];               /* by kind: lists of the objects that no other object owns */
    /* Hooks that sections below provide to sections above, each set with the first object that needs it; atomic: */
    gpuexec_result    (*close_context)(gxi_call *call, struct gxi_slot *slot);
    void              (*give_back)(gxi_thread_record *record);       /* what an ending thread used; gxi_tables held */
    void              (*mark)(uint64_t stream);  /* marks a stream whose work was refused: a wait on it returns that */
    void              (*add_launches)(gxi_text *t);      /* to an asynchronous error's text: the last launches */
    void              (*add_allocations)(gxi_text *t);   /* ... for an illegal address: recent allocations */
    void              (*add_barriers)(gxi_text *t);      /* ... and the kernels that wait at barriers */
    /* after a wait in that context: fails if one of its barriers is broken; with `news`, only if no call has returned
       that yet */
    gpuexec_result    (*look_at_barriers)(gxi_call *call, const struct CUctx_st *context, int news);
    /* a stream in it that captures, or NULL; the hook is NULL until streams can capture */
    const struct gxi_slot *(*capturing)(const gxi_call *call, const struct CUctx_st *context);
    gpuexec_result    (*end_captures)(gxi_call *call, const struct gxi_slot *context, int gone);
    /* a free or an unload, until the captures have ended */
    int               (*postpone)(const gxi_call *call, const gxi_range *range, uint64_t module);
    void              (*note_broken)(const gxi_call *call);          /* a call failed: it may have broken a capture */
    gpuexec_result    (*context_ends[2])(gxi_call *call, uint64_t context);        /* before its objects are closed */
    int               (*leave_pool)(gxi_call *call, struct gxi_context *context);  /* after its memory was freed */
    struct gxi_capture *capture;                 /* the first of the open captures; guarded by gxi_tables */
    struct gxi_postponed *postponed;             /* newest first; guarded by gxi_tables */
    struct gxi_recorded *recorded;               /* the CUgraphs; atomic, changed with gxi_graphs_mutex held */
    /* before memory (range) is freed, a kernel unloaded or a context closed (slot): graphs that use it cannot be
       launched any more; both NULL: before that context is released */
    void              (*graphs_lose)(const gxi_call *call, const gxi_range *range, const struct gxi_slot *slot);
} gxi_state;
static gxi_state gxi;
static gxi_mutex gxi_tables = GXI_MUTEX_INIT;

/* What gpuexec_setup was given. Kept until gpuexec_shutdown, because other threads may be using it. */
typedef struct gxi_settings {
    gpuexec_setup_desc         desc;
    const struct gxi_settings *before;
} gxi_settings;
static void *gxi_system_realloc(void *user, void *p, size_t bytes) {
    (void)user;
    if (bytes) return realloc(p, bytes);
    free(p);
    return NULL;
}
static const gpuexec_setup_desc gxi_defaults = { 0, 0, 0, 0, 0, 0, 0, 0, gxi_system_realloc, 0, 0 };
static const gpuexec_setup_desc *gxi_desc(void) {
    const gxi_settings *settings = GXI_LOAD(&gxi.settings);
    return settings ? &settings->desc : &gxi_defaults;
}

/* Each block begins with the settings whose allocator allocated it: a later gpuexec_setup may have set another. */
typedef union gxi_header {
    const gpuexec_setup_desc *by;
    char                      room[16];          /* keeps the alignment of malloc */
} gxi_header;
static GXI_NOINLINE void *gxi_realloc(void *p, size_t bytes) {       /* bytes must not be 0 */
    gxi_header *block = p ? (gxi_header *)p - 1 : NULL;
    const gpuexec_setup_desc *by = block ? block->by : gxi_desc();
    const size_t all = bytes + sizeof *block;
    if (all < bytes) return NULL;
    block = (gxi_header *)by->realloc_function(by->realloc_user, block, all);
    if (!block) return NULL;
    block->by = by;
    return block + 1;
}
static GXI_NOINLINE void gxi_free(void *p) {
    gxi_header *block;
    if (!p) return;
    block = (gxi_header *)p - 1;
    block->by->realloc_function(block->by->realloc_user, block, 0);
}

static void gxi_add_v(gxi_text *t, const char *format, va_list list) {
    va_list again;
    int n;
    va_copy(again, list);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0 || t->failed) return;
    if (t->n + (size_t)n + 1 > t->cap) {
        size_t cap = (t->n + (size_t)n + 1) * 2;
        char *p = (char *)gxi_realloc(t->p, cap);
        if (!p) {
            t->failed = 1;
            return;
        }
        t->p = p;
        t->cap = cap;
    }
    vsnprintf(t->p + t->n, (size_t)n + 1, format, list);
    t->n += (size_t)n;
}
static void gxi_add(gxi_text *t, const char *format, ...) GXI_PRINTF(2);
static void gxi_add(gxi_text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    gxi_add_v(t, format, list);
    va_end(list);
}

static GXI_NOINLINE void gxi_text_free(gxi_text *t) {
    gxi_free(t->p);
    memset(t, 0, sizeof *t);
}

static char *gxi_copy_string(const char *s) {
    char *p = (char *)gxi_realloc(NULL, strlen(s) + 1);
    if (p) memcpy(p, s, strlen(s) + 1);
    return p;
}

static uint64_t gxi_hash(const void *data, size_t bytes) {           /* FNV-1a */
    const unsigned char *p = (const unsigned char *)data;
    uint64_t hash = 0xCBF29CE484222325u;
    size_t i;
    for (i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 0x100000001B3u;
    return hash;
}

/* A copy of a place that outlives the call: the caller's string disappears when its library is unloaded. gxi_tables is
   held. NULL: no memory. */
static const char *gxi_keep_held(const char *where) {
    const char **const recent = &gxi.recent[(uintptr_t)where / 8 % 16];
    size_t i, k;
    if (!where) return NULL;
    if (*recent && strcmp(*recent, where) == 0) return *recent;
    if (gxi.nplaces * 2 >= gxi.places_cap) {
        const size_t cap = gxi.places_cap ? gxi.places_cap * 2 : 64;
        char **fresh = (char **)gxi_realloc(NULL, cap * sizeof *fresh);
        if (!fresh) return NULL;
        memset(fresh, 0, cap * sizeof *fresh);
        for (k = 0; k < gxi.places_cap; k++) {
            if (!gxi.places[k]) continue;
            i = (size_t)gxi_hash(gxi.places[k], strlen(gxi.places[k])) & (cap - 1);
            while (fresh[i]) i = (i + 1) & (cap - 1);
            fresh[i] = gxi.places[k];
        }
        gxi_free(gxi.places);
        gxi.places = fresh;
        gxi.places_cap = cap;
    }
    i = (size_t)gxi_hash(where, strlen(where)) & (gxi.places_cap - 1);
    for (; gxi.places[i]; i = (i + 1) & (gxi.places_cap - 1))
        if (strcmp(gxi.places[i], where) == 0) return *recent = gxi.places[i];
    gxi.places[i] = gxi_copy_string(where);
    gxi.nplaces += gxi.places[i] != NULL;
    return *recent = gxi.places[i];
}
/* The end of a place, which has the line number, cut to fit the buffer. */
static GXI_NOINLINE const char *gxi_copy_place(char *out, size_t size, const char *where) {
    const size_t n = where ? strlen(where) : 0;
    if (where) memcpy(out, n < size ? where : where + (n - size + 1), n < size ? n + 1 : size);
    return where ? out : NULL;
}
static const char *gxi_keep(const char *where) {
    const char *kept;
    gxi_lock(&gxi_tables);
    kept = gxi_keep_held(where);
    gxi_unlock(&gxi_tables);
    return kept;
}

static GXI_THREAD int gxi_in_log;                /* prevents recursion when a logger calls the library */
static void gxi_log(gpuexec_log_level level, const char *text) {
    const gpuexec_setup_desc *desc = gxi_desc();
    if (gxi_in_log) return;
    if (desc->log) {
        gxi_in_log = 1;
        desc->log(desc->log_user, level, text);
        gxi_in_log = 0;
    }
    else if (level != GPUEXEC_LOG_ERROR) fputs(text, stderr);       /* the trace and the leak report are on request */
}

enum { GXI_MADE_NOTHING = -1 };                 /* instead of a CUresult: success without a result; see GXI_TRY_MAKE */
static const char *gxi_cu_name(int cu) {
    int (GXI_CUDA *const name)(int, const char **) = GXI_LOAD(&gxi.error_name);
    const char *text = NULL;
    if (cu == GXI_MADE_NOTHING) return "CUDA_SUCCESS, but no object or an invalid size";
    if (name && name(cu, &text) == 0 && text) return text;
    return "an unknown CUresult";
}

/* Arguments for the trace: their count, and each as a number. The trace evaluates them a second time. */
#define GXI_NUMBER(x) (unsigned long long)(uintptr_t)(x)
#define GXI_NUMBERS(...) GXI_COUNT(__VA_ARGS__), GXI_EACH(GXI_NUMBER, __VA_ARGS__)
/* Calls the driver, records name and result for an error text, and traces both. Returns the CUresult. */
#define GXI_TRY(name, args) gxi_returned(call, #name, gxi.cu.name args, GXI_NUMBERS args)
#define GXI_TRY_VOID(name) gxi_returned(call, #name, gxi.cu.name(), 0)
/* The same for a call that creates `out`: success without a result counts as a failure. */
#define GXI_TRY_MAKE(out, name, args) (GXI_TRY(name, args) || (out) != 0 ? call->cu : (call->cu = GXI_MADE_NOTHING))
/* A secondary call: traced, but an error text keeps the driver call recorded before. */
#define GXI_BESIDE(name, args) gxi_traced(call, #name, gxi.cu.name args, GXI_NUMBERS args)
#define GXI_HAS(name) (gxi.cu.name != 0)
static void gxi_log_line(gpuexec_log_level level, char *line, size_t size) {
    if (strlen(line) + 1 >= size) line[size - 2] = '\n';             /* a very long path: still end the line */
    gxi_log(level, line);
}
static GXI_COLD void gxi_trace(const gxi_call *call, const char *name, int cu, int count, va_list list) {
    char line[768];
    size_t n = (size_t)snprintf(line, sizeof line, "gpuexec: %s (", name);
    int i;
    for (i = 0; i < count; i++) {
        const unsigned long long x = va_arg(list, unsigned long long);
        const char *format = x <= 0xFFFFFFFFu ? "%s%llu" : x >> 31 == 0x1FFFFFFFFu ? "%s%lld" : "%s0x%llx";
        n += (size_t)snprintf(line + n, sizeof line - n, format, i ? ", " : "", x);      /* 12 at most: they fit */
    }
    snprintf(line + n, sizeof line - n, ") = %s (%d)  in %s%s%s\n", gxi_cu_name(cu), cu, call->function,
             call->where ? " at " : "", call->where ? call->where : "");
    gxi_log_line(GPUEXEC_LOG_TRACE, line, sizeof line);
}
/* The arguments after cu: their number, an int, and each of them as unsigned long long. */
static GXI_NOINLINE int gxi_traced(const gxi_call *call, const char *name, int cu, int count, ...) {
    va_list list;
    va_start(list, count);
    if (gxi.trace) gxi_trace(call, name, cu, count, list);
    va_end(list);
    return cu;
}
/* Records a driver call and its result for an error text. */
static GXI_NOINLINE int gxi_said(gxi_call *call, const char *name, int cu) {
    call->driver_call = name;
    return call->cu = cu;
}
static GXI_NOINLINE int gxi_returned(gxi_call *call, const char *name, int cu, int count, ...) {
    va_list list;
    gxi_said(call, name, cu);
    va_start(list, count);
    if (gxi.trace) gxi_trace(call, name, cu, count, list);
    va_end(list);
    return cu;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>failure   The last failure of each thread, the latch, and the function that every failure passes through. */

static void gxi_record_free(gxi_thread_record *record) {
    gxi_text_free(&record->last.text);
    gxi_text_free(&record->before.text);
    gxi_text_free(&record->first.text);
    gxi_free(record->uses);
    gxi_free(record);
}
static void gxi_record_unlink(gxi_thread_record *record) {           /* gxi_tables is held */
    *record->link = record->next;
    if (record->next) record->next->link = record->link;
}
/* Checks the record under the mutex, because gpuexec_shutdown may have freed it before. */
GXI_THREAD_ENDS(gxi_thread_ends) {
    gxi_thread_record *record = (gxi_thread_record *)p;
    gxi_lock(&gxi_tables);
    if (record && gxi_thread.record == record && gxi_thread.epoch == gxi.epoch) {
        gxi_thread.use = &gxi_no_use;
        gxi_thread.record = NULL;                /* later destructors of this thread may call the library */
        if (gxi.give_back) gxi.give_back(record);
        record->ended = record->latched && gxi.ended < GXI_ENDED_KEPT;
        gxi.ended += record->ended != 0;
        if (!record->ended) {
            gxi_record_unlink(record);
            gxi_record_free(record);
        }
    }
    gxi_unlock(&gxi_tables);
}
/* When this code is unloaded (dlclose or FreeLibrary of a plugin that did not call gpuexec_shutdown), threads that end
   later must not call into it. Windows frees the key by calling gxi_thread_ends for every thread at once: so the mutex
   must not be held, and all records become invalid. */
GXI_AT_UNLOAD(gxi_unload) {
    /* Frees this thread's record, which gpuexec_shutdown left. At process exit, other threads may still use theirs. */
    gxi_thread_record *own = NULL;
    int had_key;
    gxi_lock(&gxi_tables);
    had_key = gxi.have_key;
    gxi.have_key = 0;
    gxi.unloading = 1;
#ifndef _WIN32
    if (had_key && !gxi.started && gxi_desc()->realloc_function == gxi_system_realloc && gxi_thread.epoch == gxi.epoch)
        own = gxi_thread.record;
    if (own) {
        gxi_record_unlink(own);
        gxi_thread.use = &gxi_no_use;
        gxi_thread.record = NULL;
    }
#endif
    gxi_unlock(&gxi_tables);
    if (had_key) gxi_key_free(gxi.key);
    if (own) gxi_record_free(own);
#ifdef _WIN32
    GXI_STORE(&gxi.epoch, gxi.epoch + 1);
#endif
}
/* Latches a failure of this thread; its text is in record->first. gxi_tables is held. */
static void gxi_latch(gxi_thread_record *record, gpuexec_result result) {
    gxi.latches = gxi.latches == GXI_LATCH_WITHOUT_TEXT - 1 ? 1 : gxi.latches + 1;
    record->latched = gxi.latches;
    record->reported = 0;
    gxi_thread.latched = result;
}
static gxi_thread_record *gxi_record(void) {                         /* NULL: no memory */
    gxi_thread_record *record = gxi_thread.record;
    const unsigned epoch = GXI_LOAD(&gxi.epoch);
    if (record && gxi_thread.epoch == epoch) return record;
    if (gxi_thread.epoch != epoch) {
        gxi_thread.latched = GPUEXEC_OK;
        gxi_bare_error.result = GPUEXEC_OK;
    }
    gxi_thread.use = &gxi_no_use;
    gxi_thread.record = NULL;
    record = (gxi_thread_record *)gxi_realloc(NULL, sizeof *record);
    if (!record) return NULL;
    memset(record, 0, sizeof *record);
    gxi_lock(&gxi_tables);
    if (!gxi.have_key && !gxi.unloading) {
        gxi.have_key = gxi_key_new(&gxi.key, gxi_thread_ends) == 0;
        GXI_ARM_UNLOAD(gxi_unload);
    }
    if (gxi.have_key) gxi_key_set(gxi.key, record);
    record->next = gxi.records;
    record->link = &gxi.records;
    if (record->next) record->next->link = &record->next;
    gxi.records = record;
    if (gxi_bare_error.result) record->last.e = gxi_bare_error;      /* from when there was no memory for a record */
    if (gxi_thread.latched) {
        record->first.e = gxi_bare_error;
        record->first.e.result = gxi_thread.latched;
        gxi_latch(record, gxi_thread.latched);
    }
    gxi_bare_error.result = GPUEXEC_OK;
    gxi_thread.record = record;
    gxi_thread.epoch = epoch;
    gxi_unlock(&gxi_tables);
    return record;
}
static GXI_NOINLINE gpuexec_result gxi_latched(void) {
    return gxi_thread.latched && gxi_thread.epoch == GXI_LOAD(&gxi.epoch) ? gxi_thread.latched : GPUEXEC_OK;
}

/* --- details ----------------------------------------------------------------------------------------------------- */

static const char gxi_no_memory_text[] = "gpuexec: out of host memory: this error has no text\n";

/* What the driver logged on this thread before it last returned that CUresult from that call, added to t. `log` is
   written to. Lines of driver 580, whose second field is the thread; lines of any other form are skipped:
       [16:58:51.994][139859924670272][CUDA][E] Grid Dimension Y of 70000 exceeds maximum value of 65535
       [16:58:51.994][139859924670272][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel */
static GXI_COLD void gxi_add_driver_log(gxi_text *t, char *log, const char *driver_call, int cu) {
    gxi_text lines = { 0, 0, 0, 0 }, none = { 0, 0, 0, 0 };
    char thread[40], returning[40], *line, *next;
    snprintf(thread, sizeof thread, "][%llu][", gxi_thread_number());
    snprintf(returning, sizeof returning, "Returning %d (", cu);
    for (line = log; line; line = next) {
        const char *message, *from;
        if ((next = strchr(line, '\n')) != NULL) *next++ = 0;
        if (!(message = strstr(line, thread)) || !(message = strstr(message, "] "))) continue;
        message += 2;
        if (strncmp(message, returning, strlen("Returning ")) != 0) {
            gxi_add(&lines, "%s%s", lines.n ? "; " : "", message);
            continue;
        }
        from = strstr(message, ") from ");
        if (from && strncmp(message, returning, strlen(returning)) == 0 &&
            strncmp(from + strlen(") from "), driver_call, strlen(driver_call)) == 0) {
            gxi_text_free(t);
            *t = lines;
            lines = none;
        }
        lines.n = 0;
    }
    gxi_text_free(&lines);
}
/* t stays empty if the driver has no log (before CUDA 12.9), or logged nothing more than the CUresult. */
static GXI_COLD void gxi_read_driver_log(gxi_text *t, const char *driver_call, int cu) {
    size_t bytes = 25600;                        /* all that the driver keeps, 100 lines (CUDA Driver API, cuLogs) */
    char *log = GXI_HAS(cuLogsDumpToMemory) ? (char *)gxi_realloc(NULL, bytes + 1) : NULL;
    if (!log) return;
    memset(log, 0, bytes + 1);
    if (gxi.cu.cuLogsDumpToMemory(NULL, log, &bytes, 0) == 0) gxi_add_driver_log(t, log, driver_call, cu);
    gxi_free(log);
}

/* A detail's strings are in its text buffer, one after the other: message, cure, logs, the CUresult's name (a copy,
   because the driver's library may be closed), the place (a copy, because the caller's library may be), and the whole
   text. other: the call that returns this failure of an earlier call, or NULL. */
static void gxi_detail_write(gxi_detail *d, const gpuexec_error *e, const gxi_call *other) {
    gxi_text *t = &d->text;
    size_t message, cure, log, driver_log, name, place, text;
    const char *const whole = e->message ? e->message : gxi_no_memory_text, *part, *next;
    t->n = 0;
    t->failed = 0;
    d->e = *e;
    message = t->n;
    gxi_add(t, "%s%c", whole, 0);
    cure = t->n;
    gxi_add(t, "%s%c", e->cure ? e->cure : "", 0);
    log = t->n;
    gxi_add(t, "%s%c", e->log ? e->log : "", 0);
    driver_log = t->n;
    gxi_add(t, "%s%c", e->driver_log ? e->driver_log : "", 0);
    name = t->n;
    gxi_add(t, "%s%c", e->driver_result_name ? e->driver_result_name : "", 0);
    place = t->n;
    gxi_add(t, "%s%c", e->where ? e->where : "", 0);
    text = t->n;
    gxi_add(t, "%s%s%s: ", e->where ? e->where : "", e->where ? ": " : "", e->function);
    part = e->asynchronous ? strstr(whole, "; ") : NULL;
    gxi_add(t, "%.*s (%s)\n", (int)(part ? part - whole : (ptrdiff_t)strlen(whole)), whole,
            gpuexec_result_name(e->result));
    for (; part; part = next) {                  /* the facts about a failed kernel: one on each line */
        next = strstr(part += 2, "; ");
        gxi_add(t, "  %.*s\n", (int)(next ? next - part : (ptrdiff_t)strlen(part)), part);
    }
    if (e->driver_result) {
        int (GXI_CUDA *const meaning_of)(int, const char **) = GXI_LOAD(&gxi.error_string);
        const char *meaning = NULL;
        if (meaning_of) meaning_of(e->driver_result, &meaning);
        gxi_add(t, "  driver: %s returned %s (%d)%s%s%s\n", e->driver_call, e->driver_result_name, e->driver_result,
                meaning ? ", " : "", meaning ? meaning : "",
                e->asynchronous ? "; an earlier kernel or copy failed, not this call" : "");
    }
    if (e->driver_log) gxi_add(t, "  driver log: %s\n", e->driver_log);
    if (e->log) gxi_add(t, "  log:\n%s%s", e->log, e->log[strlen(e->log) - 1] == '\n' ? "" : "\n");
    if (e->cure) gxi_add(t, "  cure: %s\n", e->cure);
    if (other)
        gxi_add(t, other->kind == GXI_WORKS ? "  because of this failure, %s%s%s was refused; "
                "gpuexec_take_error() clears it\n"
                                            : "  this failure happened on another thread; it was reported by %s%s%s\n",
                other->function, other->where ? " at " : "", other->where ? other->where : "");
    if (t->failed) {
        d->e.message = d->e.text = gxi_no_memory_text;
        d->e.cure = d->e.log = d->e.driver_log = d->e.driver_result_name = d->e.where = NULL;
        return;
    }
    d->e.where = e->where ? t->p + place : NULL;
    d->e.message = t->p + message;
    d->e.cure = e->cure ? t->p + cure : NULL;
    d->e.log = e->log ? t->p + log : NULL;
    d->e.driver_log = e->driver_log ? t->p + driver_log : NULL;
    d->e.driver_result_name = e->driver_result_name ? t->p + name : NULL;
    d->e.text = t->p + text;
}

static void gxi_write_last(gxi_thread_record *record, const gpuexec_error *e, const gxi_call *other) {
    gxi_detail d = record->before;
    gxi_detail_write(&d, e, other);              /* e's strings may be in record->last */
    record->before = record->last;
    record->last = d;
}

/* Every failure passes through here: writes the detail, latches it, logs it. Ignores e->text and writes its own. */
static GXI_COLD gpuexec_result gxi_fail_with(const gxi_call *call, const gpuexec_error *e) {
    /* a call that waits takes the failure it latched before it returns */
    const int latches = call->kind == GXI_WAITS ||
        ((call->kind == GXI_MAKES || call->kind == GXI_WORKS) && !gxi_desc()->no_latch);
    gxi_thread_record *record = gxi_record();
    if (record) {
        gxi_write_last(record, e, NULL);
        if (latches && !gxi_thread.latched) {
            gxi_lock(&gxi_tables);
            gxi_detail_write(&record->first, e, NULL);
            gxi_latch(record, e->result);
            gxi_unlock(&gxi_tables);
        }
        if (e->sticky && !GXI_LOAD(&gxi.sticky)) {
            gxi_lock(&gxi_tables);
            if (!gxi.sticky) gxi_detail_write(&gxi.sticky_detail, e, NULL);
            GXI_STORE(&gxi.sticky, e->driver_result);
            gxi_unlock(&gxi_tables);
        }
        gxi_log(GPUEXEC_LOG_ERROR, record->last.e.text);
    } else {
        gxi_bare_error = *e;
        gxi_bare_error.message = gxi_bare_error.text = gxi_no_memory_text;
        gxi_bare_error.log = gxi_bare_error.driver_log = gxi_bare_error.cure = gxi_bare_error.driver_result_name = NULL;
        gxi_bare_error.where = gxi_copy_place(gxi_bare_where, sizeof gxi_bare_where, e->where);
        gxi_thread.epoch = GXI_LOAD(&gxi.epoch);
        if (latches && !gxi_thread.latched) gxi_thread.latched = e->result;
        gxi_log(GPUEXEC_LOG_ERROR, gxi_no_memory_text);
    }
    if (call->stream && gxi_thread.latched && GXI_LOAD(&gxi.mark)) GXI_LOAD(&gxi.mark)(call->stream);
    return e->result;
}

/* What to change if a call's effect on captures is the reason for the driver's result; NULL: it is not. */
static GXI_COLD const char *gxi_capture_cure(int cu) {
    switch (cu) {
    case GXI_CAPTURE_UNSUPPORTED: return "make the call before or after the capture";
    case GXI_CAPTURE_INVALIDATED: return "end the capture: gpuexec_capture_end names the call that broke it";
    case GXI_CAPTURE_MERGE:       return "let streams wait only for streams and events of the same capture";
    case GXI_CAPTURE_ISOLATION:   return "wait for it before the capture begins, or record the event on a stream that "
                                         "takes part in the capture";
    case GXI_CAPTURE_IMPLICIT:    return "capture on a stream created with gpuexec_stream_desc.non_blocking, or do not "
                                         "use the legacy default stream meanwhile";
    case GXI_CAPTURED_EVENT:      return "record the event again outside the capture";
    }
    return NULL;
}

/* explained: the message says all that the driver's log could. */
static GXI_COLD gpuexec_result gxi_fail_v(gxi_call *call, gpuexec_result result, const char *cure, int explained,
                                          const char *format, va_list list) {
    gxi_text message = { 0, 0, 0, 0 }, log = { 0, 0, 0, 0 };
    gpuexec_error e;
    memset(&e, 0, sizeof e);
    if (call->subject) gxi_add(&message, "%s", call->subject);
    gxi_add_v(&message, format, list);
    e.result = result;
    e.driver_result = call->driver_call ? call->cu : 0;
    e.driver_call = e.driver_result ? call->driver_call : NULL;
    e.driver_result_name = e.driver_result ? gxi_cu_name(call->cu) : NULL;
    e.function = call->function;
    e.where = call->where;
    e.message = message.p && !message.failed ? message.p : "out of host memory";
    e.log = call->log && *call->log ? call->log : NULL;
    if (e.driver_call && !e.log && !explained) gxi_read_driver_log(&log, e.driver_call, e.driver_result);
    e.driver_log = log.n && !log.failed ? log.p : NULL;
    e.cure = !explained && gxi_capture_cure(e.driver_result) ? gxi_capture_cure(e.driver_result) : cure;
    e.asynchronous = e.sticky = result == GPUEXEC_KERNEL_FAILED;
    if (GXI_LOAD(&gxi.captures) && e.driver_result) GXI_LOAD(&gxi.note_broken)(call);
    gxi_fail_with(call, &e);
    gxi_text_free(&message);
    gxi_text_free(&log);
    return result;
}
static gpuexec_result gxi_fail(gxi_call *call, gpuexec_result result, const char *cure, const char *format, ...)
GXI_PRINTF(4);
static GXI_COLD gpuexec_result gxi_fail(gxi_call *call, gpuexec_result result, const char *cure, const char *format,
                                        ...) {
    va_list list;
    va_start(list, format);
    gxi_fail_v(call, result, cure, 1, format, list);
    va_end(list);
    return result;
}
/* For a driver call that failed for a reason not known here. */
static gpuexec_result gxi_fail_unexplained(gxi_call *call, gpuexec_result result, const char *cure,
                                           const char *format, ...) GXI_PRINTF(4);
static GXI_COLD gpuexec_result gxi_fail_unexplained(gxi_call *call, gpuexec_result result, const char *cure,
                                                    const char *format, ...) {
    va_list list;
    va_start(list, format);
    gxi_fail_v(call, result, cure, 0, format, list);
    va_end(list);
    return result;
}

/* Refuses a call because of the latched failure. */
static GXI_COLD gpuexec_result gxi_refuse(const gxi_call *call) {
    gxi_thread_record *record = gxi_thread.record;
    const gpuexec_result result = gxi_latched();
    if (record) gxi_write_last(record, &record->first.e, call);
    else gxi_bare_error.result = result;
    if (call->stream && GXI_LOAD(&gxi.mark)) GXI_LOAD(&gxi.mark)(call->stream);
    return result;
}
/* The result for a call after something it called has just failed. */
static GXI_COLD gpuexec_result gxi_failed_with(void) { return gpuexec_error_detail()->result; }
/* Unlatches the latched failure and makes it the last one. */
static GXI_NOINLINE gpuexec_result gxi_take(void) {
    gxi_thread_record *record = gxi_thread.record;
    const gpuexec_result result = gxi_latched();
    if (!result) return GPUEXEC_OK;
    gxi_thread.latched = GPUEXEC_OK;
    if (!record) return gxi_bare_error.result = result;
    gxi_write_last(record, &record->first.e, NULL);
    gxi_lock(&gxi_tables);
    record->latched = 0;
    gxi_unlock(&gxi_tables);
    return result;
}
/* The latched failure with that number, or for 0 the first that no wait has returned yet; NULL if there is none.
   gxi_tables is held. */
static gxi_thread_record *gxi_latched_elsewhere(uint32_t number) {
    gxi_thread_record *record, *found = NULL;
    for (record = gxi.records; record; record = record->next) {
        if (!record->latched || (number ? record->latched != number : record->reported)) continue;
        if (!found || record->latched < found->latched) found = record;
    }
    return found;
}
/* Makes that failure of another thread this thread's last one. GPUEXEC_OK if there is none any more. */
static GXI_COLD gpuexec_result gxi_take_of_others(const gxi_call *call, uint32_t number) {
    gxi_thread_record *own, *found;
    gpuexec_result result = GPUEXEC_OK;
    gxi_lock(&gxi_tables);
    found = gxi_latched_elsewhere(number);
    gxi_unlock(&gxi_tables);
    if (!found) return GPUEXEC_OK;
    own = gxi_record();                          /* it takes the mutex */
    gxi_lock(&gxi_tables);
    found = gxi_latched_elsewhere(number);
    if (found) {
        found->reported = 1;
        result = found->first.e.result;
        if (own) gxi_write_last(own, &found->first.e, call);
        else gxi_bare_error.result = result;
    }
    gxi_unlock(&gxi_tables);
    return result;
}

static int gxi_is_sticky(int cu) {
    return cu == GXI_ILLEGAL_ADDRESS || cu == GXI_LAUNCH_TIMEOUT || cu == GXI_ASSERT ||
           (cu >= GXI_HARDWARE_STACK_ERROR && cu <= GXI_LAUNCH_FAILED) || cu == GXI_ECC_UNCORRECTABLE;
}
static gpuexec_result gxi_result_of(int cu) {
    switch (cu) {
    case GXI_INVALID_VALUE:           return GPUEXEC_BAD_ARGUMENT;
    case GXI_OUT_OF_MEMORY:           return GPUEXEC_OUT_OF_DEVICE_MEMORY;
    case GXI_NO_DEVICE: case GXI_INVALID_DEVICE:         return GPUEXEC_NO_DEVICE;
    case GXI_INVALID_IMAGE: case GXI_INVALID_PTX: case GXI_INVALID_SOURCE: return GPUEXEC_BAD_IMAGE;
    case GXI_NO_BINARY_FOR_GPU: case GXI_UNSUPPORTED_PTX_VERSION: return GPUEXEC_IMAGE_TOO_NEW;
    case GXI_INVALID_HANDLE: case GXI_INVALID_CONTEXT: case GXI_CONTEXT_IS_DESTROYED: return GPUEXEC_STALE_HANDLE;
    case GXI_SYMBOL_NOT_FOUND:        return GPUEXEC_NOT_FOUND;
    case GXI_CU_NOT_READY:            return GPUEXEC_NOT_READY;
    case GXI_OUT_OF_RESOURCES: case GXI_COOPERATIVE_TOO_LARGE: case GXI_INVALID_CLUSTER_SIZE: return GPUEXEC_BAD_LAUNCH;
    case GXI_CU_NOT_SUPPORTED: case GXI_UNSUPPORTED_LIMIT:     return GPUEXEC_NOT_SUPPORTED;
    case GXI_CAPTURE_INVALIDATED:     return GPUEXEC_CAPTURE_BROKEN;
    default:
        if (cu >= GXI_CAPTURE_UNSUPPORTED && cu <= GXI_CAPTURE_WRONG_THREAD) return GPUEXEC_CAPTURING;
        return gxi_is_sticky(cu) ? GPUEXEC_KERNEL_FAILED : GPUEXEC_DRIVER_ERROR;
    }
}

/* How a kernel can fail, and what to change. The last row is for any other way. */
typedef struct gxi_kernel_fault { int cu; const char *what, *cure; } gxi_kernel_fault;
#define GXI_NEW_PROCESS "; only a new process can use CUDA again"
static const gxi_kernel_fault gxi_kernel_faults[] = {
    { GXI_ILLEGAL_ADDRESS, "accessed an illegal address, in no allocation that its device can access",
      "check that the kernel compares its index with the element count, that its pointers are device addresses of "
      "memory that is large enough and not freed, that dims.shared_bytes covers its extern __shared__ array, and that "
      "gpuexec_peer_enable was called for memory on other devices; compute-sanitizer finds the instruction"
      GXI_NEW_PROCESS },
    { GXI_MISALIGNED_ADDRESS, "accessed a misaligned address, which is not a multiple of the access size",
      "check that each pointer and offset is a multiple of the size that the kernel accesses, and that the arguments "
      "are in the order of the kernel's parameters" GXI_NEW_PROCESS },
    { GXI_ASSERT, "failed an assert, whose text is on stderr", "see the assert's text on stderr" GXI_NEW_PROCESS },
    { GXI_LAUNCH_TIMEOUT, "exceeded the time limit or deadlocked",
      "check that it does not wait for work that cannot run at the same time, or split its work" GXI_NEW_PROCESS },
    { GXI_HARDWARE_STACK_ERROR, "overflowed its stack",
      "raise GPUEXEC_LIMIT_STACK with gpuexec_context_set_limit, or limit its recursion" GXI_NEW_PROCESS },
    { GXI_ILLEGAL_INSTRUCTION, "executed an illegal instruction or accessed shared memory out of bounds",
      "check that dims.shared_bytes covers its extern __shared__ array, and its indices of shared arrays; "
      "compute-sanitizer finds the instruction" GXI_NEW_PROCESS },
    { GXI_ECC_UNCORRECTABLE, "hit an uncorrectable memory (ECC) error",
      "run `nvidia-smi -q -d ECC`: the device may need a reset or a repair" GXI_NEW_PROCESS },
    { 0, "was stopped by a trap or an exception",
      "look for __trap() in the kernel; grid.sync() also traps, unless the kernel was launched with "
      "gpuexec_launch_cooperative; compute-sanitizer finds the instruction" GXI_NEW_PROCESS }
};

/* Fails with the driver's result in call->cu. If that means the same everywhere (a kernel failed earlier), this
   function writes the message; otherwise message and cure are the caller's. */
static gpuexec_result gxi_fail_cu(gxi_call *call, const char *cure, const char *format, ...) GXI_PRINTF(3);
static GXI_COLD gpuexec_result gxi_fail_cu(gxi_call *call, const char *cure, const char *format, ...) {
    gxi_text message = { 0, 0, 0, 0 };
    gpuexec_result result = gxi_result_of(call->cu);
    va_list list;
    if (gxi_is_sticky(call->cu)) {
        const gxi_kernel_fault *fault = gxi_kernel_faults;
        while (fault->cu && fault->cu != call->cu) fault++;
        if (GXI_LOAD(&gxi.sticky)) {
            return gxi_fail(call, result, "start a new process: CUDA refuses all further work in this one", "%s",
                            gxi.sticky_detail.e.message);
        }
        if (GXI_LOAD(&gxi.add_launches)) GXI_LOAD(&gxi.add_launches)(&message);
        if (call->cu == GXI_ILLEGAL_ADDRESS && GXI_LOAD(&gxi.add_allocations)) GXI_LOAD(&gxi.add_allocations)(&message);
        if (GXI_LOAD(&gxi.barriers)) GXI_LOAD(&gxi.add_barriers)(&message);
        gxi_add(&message, "; detected by %s%s%s%s", call->function, call->where ? " at " : "",
                call->where ? call->where : "", strncmp(format, "while ", 6) == 0 ? " " : ": ");
        va_start(list, format);
        gxi_add_v(&message, format, list);
        va_end(list);
        result = gxi_fail(call, result, fault->cure, "a kernel launched earlier %s%s", fault->what,
                          message.p ? message.p : "");
        gxi_text_free(&message);
        return result;
    }
    if (!cure &&
        (call->cu == GXI_INVALID_CONTEXT || call->cu == GXI_CONTEXT_IS_DESTROYED || call->cu == GXI_INVALID_HANDLE))
        cure = "close gpuexec's handles before the owner destroys the context or stream. "
               "If it still exists, check that it was created by the driver library that gpuexec_driver_path() names";
    va_start(list, format);
    gxi_fail_v(call, result, cure, 0, format, list);
    va_end(list);
    return result;
}

/* For gpuexec_shutdown: frees everything that failures and tables hold, and invalidates other threads' records and
   latches. Threads may end at the same time. */
static void gxi_forget(void) {
    gxi_thread_record *record;
    size_t at, place;
    unsigned i;
    if (gxi.have_key) gxi_key_free(gxi.key);     /* not under the mutex: Windows calls gxi_thread_ends here */
    gxi.have_key = 0;
    gxi_lock(&gxi_tables);
    while ((record = gxi.records) != NULL) {
        gxi.records = record->next;
        gxi_record_free(record);
    }
    gxi.ended = 0;
    GXI_STORE(&gxi.epoch, gxi.epoch + 1);
    for (i = 0; i < GXI_FAILED_KEPT; i++) {
        gxi_text_free(&gxi.failed[i].detail.text);
        gxi.failed[i].id = 0;
    }
    gxi_text_free(&gxi.start_failure.text);
    memset(&gxi.start_failure, 0, sizeof gxi.start_failure);
    gxi_text_free(&gxi.sticky_detail.text);
    gxi.sticky = gxi.barriers = 0;
    for (at = 0; at < gxi.nleaves; at++) {
        for (i = 0; i < gxi.leaves[at]->count; i++) {
            gxi_range *r = gxi.leaves[at]->range[i];
            if (r < gxi.quick || r >= gxi.quick + GXI_QUICK) gxi_free(r);
        }
        gxi_free(gxi.leaves[at]);
    }
    gxi_free(gxi.leaves);
    gxi_free(gxi.firsts);
    gxi.leaves = NULL;
    gxi.firsts = NULL;
    gxi.found = NULL;
    gxi.nleaves = gxi.leaves_cap = 0;
    for (place = 0; place < gxi.places_cap; place++) gxi_free(gxi.places[place]);
    gxi_free(gxi.places);
    gxi.places = NULL;
    gxi.nplaces = gxi.places_cap = 0;
    memset(gxi.recent, 0, sizeof gxi.recent);
    gxi.freed_count = 0;
    gxi.nfreed = 0;
    memset(gxi.quick, 0, sizeof gxi.quick);
    gxi_free(gxi.spare_leaf);
    gxi_free(gxi.spare);
    gxi.spare_leaf = NULL;
    gxi.spare = NULL;
    gxi_unlock(&gxi_tables);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>begin   Finds and loads the driver, on first use or by gpuexec_setup; explains its failures; forked children. */

#define GXI_CPU_DEVICE \
    "run on the CPU device" GXI_CPU_DEVICE_IS_FOR ": `make simgpu` in gpuexec's repository, then set " \
                       "GPUEXEC_DRIVER=<repository>/build/libsimgpu.so"

static void *gxi_resolve(const char *name, int version) {
    typedef int (GXI_CUDA *with_status)(const char *, void **, int, uint64_t, int *);
    typedef int (GXI_CUDA *without)(const char *, void **, int, uint64_t);
    union { void *p; with_status f; } v2;
    union { void *p; without f; } v1;
    void *symbol = NULL;
    int status = 0;
    /* CUDA 12.0 and later; the plain symbol has the older ABI */
    v2.p = gxi_library_symbol(gxi.library, "cuGetProcAddress_v2");
    if (v2.p && v2.f(name, &symbol, version, 0, &status) == 0) return symbol;
    v1.p = gxi_library_symbol(gxi.library, "cuGetProcAddress");
    return v1.p && v1.f(name, &symbol, version, 0) == 0 ? symbol : NULL;
}

/* The CPU device of gpuexec's repository has an entry point that no other driver has. What it does not support is not
   the fault of the user's image or GPU. */
static int gxi_is_cpu_device(void) {
    return gxi.library && gxi_library_symbol(gxi.library, "simgpu_thread_instructions") != NULL;
}

static gpuexec_result gxi_open_library(gxi_call *call, const gpuexec_setup_desc *desc) {
    const char *path = desc->driver_path, *by = "gpuexec_setup_desc.driver_path";
    gxi_text tried = { 0, 0, 0, 0 };
    size_t i;
    if (!path && !desc->ignore_environment && !gxi_privileged()) {
        path = getenv("GPUEXEC_DRIVER");
        if (path && !*path) path = NULL;
        by = "the environment variable GPUEXEC_DRIVER";
    }
    if (path) {
        gxi.library = gxi_library_open(path);
        if (!gxi.library)
            return gxi_fail(call, GPUEXEC_NO_DRIVER,
                            !strpbrk(path, GXI_SLASHES)
                            ? "write ./NAME or an absolute path: a name without a slash is searched for only among "
                              "the system's libraries"
                            : path == desc->driver_path
                            ? "correct the path, or set it to NULL to use the system's driver"
                            : "correct the variable, or unset it to use the system's driver",
                            "cannot load the driver library \"%s\" named by %s: %s", path, by, gxi_library_error());
        snprintf(gxi.library_path, sizeof gxi.library_path, "%s", path);
        return GPUEXEC_OK;
    }
    for (i = 0; i < sizeof gxi_driver_places / sizeof gxi_driver_places[0]; i++) {
        gxi.library = gxi_library_open(gxi_driver_places[i]);
        if (gxi.library) {
            snprintf(gxi.library_path, sizeof gxi.library_path, "%s", gxi_driver_places[i]);
            gxi_text_free(&tried);
            return GPUEXEC_OK;
        }
        gxi_add(&tried, "%s%s", i ? ", " : "", gxi_driver_places[i]);
    }
    gxi_fail(call, GPUEXEC_NO_DRIVER,
             "install NVIDIA's driver (CUDA 11.4 or later), or " GXI_CPU_DEVICE
             "; if the driver library is elsewhere, set gpuexec_setup_desc.driver_path",
             "no CUDA driver was found on this machine; tried %s",
             tried.p ? tried.p : "");
    gxi_text_free(&tried);
    return GPUEXEC_NO_DRIVER;
}

/* cuInit has failed: typical without a GPU, in containers, after updates. */
static GXI_COLD gpuexec_result gxi_fail_init(gxi_call *call) {
    static const struct { int cu; const char *cure; } cures[] = {
        { GXI_NOT_INITIALIZED,
          "load the driver's kernel modules (running `nvidia-smi` does); in a container, start it with GPUs "
                               "(docker run --gpus all); without a GPU, " GXI_CPU_DEVICE },
        { 35, "update NVIDIA's driver, "
          "or remove the cuda-compat folder from LD_LIBRARY_PATH: this library is newer than the kernel module" },
        { GXI_NO_DEVICE,
          "check `nvidia-smi` and CUDA_VISIBLE_DEVICES; in a container, start it with GPUs (docker run --gpus all); "
                         "without a GPU, " GXI_CPU_DEVICE },
        { GXI_INVALID_DEVICE, "correct or unset CUDA_VISIBLE_DEVICES: `nvidia-smi -L` lists the GPUs and MIG devices" },
        { GXI_SYSTEM_NOT_READY, "start the services that the GPUs require (with NVSwitch: `systemctl start "
          "nvidia-fabricmanager`, same version as the driver"
                                "), then try again" },
        { GXI_SYSTEM_DRIVER_MISMATCH,
          "the driver's library and kernel module have different versions: reboot after an update" },
        { GXI_COMPAT_NOT_SUPPORTED_ON_DEVICE,
          "remove the cuda-compat folder from LD_LIBRARY_PATH: this GPU does not support forward compatibility; "
                                    "or update NVIDIA's driver" },
        { GXI_UNKNOWN,
          "check `nvidia-smi` and `dmesg`; reload the kernel module nvidia_uvm, which stops working after a suspend "
                       "(`rmmod nvidia_uvm; modprobe nvidia_uvm`); in a container, pass /dev/nvidia-uvm through" } };
    const char *cure = "run `nvidia-smi`: it shows whether the driver works",
               *visible = getenv("CUDA_VISIBLE_DEVICES");
    size_t i;
    for (i = 0; i < sizeof cures / sizeof *cures; i++)
        if (cures[i].cu == call->cu) cure = cures[i].cure;
    return gxi_fail(call, gxi_result_of(call->cu) == GPUEXEC_NO_DEVICE ? GPUEXEC_NO_DEVICE : GPUEXEC_DRIVER_ERROR, cure,
                    "the driver \"%s\" (CUDA %d.%d) %s%s%s%s", gxi.library_path, gxi.version / 1000, gxi.version % 1000
                    / 10, call->cu == GXI_NO_DEVICE ? "finds no GPU" : "does not start: cuInit failed",
                    visible ? " (CUDA_VISIBLE_DEVICES is \"" : "", visible ? visible : "", visible ? "\")" : "");
}

static gpuexec_result gxi_load_driver(gxi_call *call, const gpuexec_setup_desc *desc) {
    void *members[GXI_DRIVER_COUNT];
    gxi_text missing = { 0, 0, 0, 0 };
    gpuexec_result result = gxi_open_library(call, desc);
    union { void *p; int (GXI_CUDA *f)(int *); } u;
    char name[64];
    int too_old, lacks = 0;
    size_t i;
    if (result) return result;
    u.p = gxi_library_symbol(gxi.library, "cuDriverGetVersion");
    gxi.version = 0;
    if (!u.p)
        return gxi_fail(call, GPUEXEC_NO_DRIVER,
                        "correct GPUEXEC_DRIVER or gpuexec_setup_desc.driver_path, or leave both unset to use the "
                        "system's driver",
                        "\"%s\" was loaded, but is not a CUDA driver: it has no function cuDriverGetVersion",
                        gxi.library_path);
    call->driver_call = "cuDriverGetVersion";
    call->cu = u.f(&gxi.version);
    for (i = 0; i < GXI_DRIVER_COUNT; i++) {
        const gxi_driver_row *row = &gxi_driver_rows[i];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(row->name, "_"), row->name);
        members[i] = call->cu ? NULL : gxi_resolve(name, row->version);
        if (!members[i] && row->required && ++lacks)
            gxi_add(&missing, "%s %s (CUDA %d.%d)", missing.n ? "," : "",
                                                            row->name, row->version / 1000, row->version % 1000 / 10);
    }
    memcpy(&gxi.cu, members, sizeof members);    /* gxi_driver's members are the rows, as function pointers */
    GXI_STORE(&gxi.error_name, gxi.cu.cuGetErrorName);
    GXI_STORE(&gxi.error_string, gxi.cu.cuGetErrorString);
    if (call->cu) gxi.version = 0;
    too_old = call->cu == 0 && (gxi.version < 11040 || !gxi_library_symbol(gxi.library, "cuGetProcAddress"));
    if (call->cu == 0 && !lacks && !too_old) {
        const int before = gxi.begun;
        gxi.begun = 1;
        if (GXI_TRY(cuInit, (0)) == 0) return GPUEXEC_OK;
        gxi.begun = before;
    }
    if (call->cu == GXI_STUB_LIBRARY) {
        memset(&gxi.cu, 0, sizeof gxi.cu);       /* the stub has no error names either */
        call->cu = 0;
        result = gxi_fail(call, GPUEXEC_NO_DRIVER,
                          "remove the toolkit's stubs folder from LD_LIBRARY_PATH; "
                          "the real driver library is part of NVIDIA's driver "
                          "package, as libcuda.so.1",
                          "\"%s\" is the CUDA toolkit's stub library, which is for linking only, "
                          "not a driver: it returns "
                          "CUDA_ERROR_STUB_LIBRARY (34) from every call",
                          gxi.library_path);
    } else if (gxi.version > 0 && (lacks || too_old)) {
        result = gxi_fail(call, GPUEXEC_OLD_DRIVER, "install a newer NVIDIA driver",
                          "the driver \"%s\" supports CUDA %d.%d; gpuexec needs 11.4 or later%s%s", gxi.library_path,
                          gxi.version / 1000, gxi.version % 1000 / 10, missing.p ? ", and this driver lacks" : "",
                          missing.p ? missing.p : "");
    } else if (gxi.cu.cuInit && call->driver_call && strcmp(call->driver_call, "cuInit") == 0) {
        result = gxi_fail_init(call);
    } else {
        result = gxi_fail_cu(call, "run `nvidia-smi`: it shows whether the driver works",
                             "cannot query the version of the driver \"%s\"%s", gxi.library_path,
                             call->cu ? "" : ": cuDriverGetVersion returned no version");
    }
    gxi_text_free(&missing);
    return result;
}

#ifndef _WIN32
/* In a forked child of a process that has started CUDA, the driver returns errors or crashes. So the child never calls
   it: all handles become invalid (nothing is freed: the memory belongs to the parent), and the library cannot be
   started again. */
static void gxi_in_forked_child(void) {
    static const gxi_mutex unlocked = GXI_MUTEX_INIT;
    gxi_tables = unlocked;
    if (!gxi.begun) return;                      /* the parent has not started CUDA: the child may */
    memset(gxi.chunks, 0, sizeof gxi.chunks);
    memset(gxi.first, 0, sizeof gxi.first);
    gxi.slots = gxi.free_slot = 0;
    gxi.nleaves = 0;
    gxi.forked = 1;
    gxi.started = 0;
}
#endif
static GXI_COLD gpuexec_result gxi_fail_forked(gxi_call *call) {
    return gxi_fail(call, GPUEXEC_FORKED,
                    "fork before the first use of CUDA, or call exec in the child "
                    "(in Python's multiprocessing: the spawn method)",
                    "this process (%ld) was forked from process %ld after CUDA had been initialized there; a forked "
                    "child cannot use "
                    "its parent's CUDA",
                    gxi_pid(), gxi.pid);
}

static GXI_COLD gpuexec_result gxi_fail_started(gxi_call *call) {
    return gxi_fail(call, GPUEXEC_TOO_LATE, "call gpuexec_setup before any other call, or after gpuexec_shutdown",
                    "the library is already in use: %s%s%s started it", gxi.first_function,
                    gxi.first_where ? " at " : "", gxi.first_where ? gxi.first_where : "");
}
/* Earlier settings stay: calls on other threads may be reading them, and blocks of memory refer to their allocator. */
static GXI_COLD gpuexec_result gxi_settings_new(gxi_call *call, const gpuexec_setup_desc *desc) {
    gxi_settings *settings = (gxi_settings *)malloc(sizeof *settings);
    if (!settings)
        return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
                        "out of host memory: cannot store gpuexec_setup's settings");
    settings->desc = *desc;
    if (!desc->realloc_function) settings->desc.realloc_function = gxi_system_realloc;
    settings->before = gxi.settings;
    GXI_STORE(&gxi.settings, settings);
    gxi_text_free(&gxi.start_failure.text);      /* allow another start */
    memset(&gxi.start_failure, 0, sizeof gxi.start_failure);
    return GPUEXEC_OK;
}
/* Starts the library on first use. With `desc`, the call is gpuexec_setup itself. */
static GXI_COLD gpuexec_result gxi_start_slow(gxi_call *call, const gpuexec_setup_desc *desc) {
    static gxi_mutex starting = GXI_MUTEX_INIT;
    gpuexec_result result = GPUEXEC_OK;
    const char *trace;
    if (gxi.forked) return gxi_fail_forked(call);
    gxi_lock(&starting);
    if (gxi.started) {                           /* another thread was first */
        gxi_unlock(&starting);
        return desc ? gxi_fail_started(call) : GPUEXEC_OK;
    }
    if (desc && (result = gxi_settings_new(call, desc)) != GPUEXEC_OK) {
        gxi_unlock(&starting);
        return result;
    }
    if (gxi.start_failure.e.result) {
        gpuexec_error again = gxi.start_failure.e;
        again.function = call->function;
        again.where = call->where;
        result = gxi_fail_with(call, &again);
        gxi_unlock(&starting);
        return result;
    }
    desc = gxi_desc();
    trace = desc->ignore_environment || gxi_privileged() ? NULL : getenv("GPUEXEC_TRACE");
    gxi.trace = desc->trace || (trace && *trace && strcmp(trace, "0") != 0);
#ifndef _WIN32
    if (!gxi.pid) pthread_atfork(NULL, NULL, gxi_in_forked_child);
#endif
    gxi.pid = gxi_pid();
    result = gxi_load_driver(call, desc);
    if (result) {
        gpuexec_error e;
        gxi_thread_record *record = gxi_record();
        memset(&e, 0, sizeof e);
        e.message = "";
        if (record) e = record->last.e;
        e.result = result;
        gxi_detail_write(&gxi.start_failure, &e, NULL);
        if (gxi.library && !GXI_LOAD(&gxi.error_name)) gxi_library_close(gxi.library);
        memset(&gxi.cu, 0, sizeof gxi.cu);
        gxi.library = NULL;
        gxi.library_path[0] = 0;
        gxi.version = 0;
    } else {
        gxi.first_function = call->function;
        gxi.first_where = gxi_copy_place(gxi.first_place, sizeof gxi.first_place, call->where);
        GXI_STORE(&gxi.started, 1);
    }
    gxi_unlock(&starting);
    return result;
}

/* Every API call that may reach the driver calls this first. */
static GXI_NOINLINE gpuexec_result gxi_begin(gxi_call *call) {
    if (GXI_UNLIKELY(!GXI_LOAD(&gxi.started))) {
        gpuexec_result result = gxi_start_slow(call, NULL);
        if (result) return result;
    }
    if (call->kind == GXI_WORKS && gxi_latched()) return gxi_refuse(call);
    return GPUEXEC_OK;
}

static GXI_NOINLINE gpuexec_result gxi_check_desc(gxi_call *call, const char *name, uint32_t start, uint32_t end) {
    if (start == 0 && end == 0) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "initialize it with `= {0}` (C++: `{}`), then set members",
                    "the %s was not zero-initialized", name);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>object   Handles and their slots, failed handles.
   The bits of an id: kind (4 bits from bit 0), 1 for a failed handle (bit 5), slot index (20 bits, so that id & 0x3FC0
   is the slot's byte offset in its chunk of 256), generation of the slot (22 bits), tag of this copy of the library
   (16 bits). A slot holds the id of its object while that is open: one comparison shows that a handle is valid, of that
   kind, and ours. Look-ups take no lock. */

/* One row for each kind of object: its name in texts, and its turn when a closing context closes the objects it owns
   (0: none). gxi_MEMBER_end, in the kind's section, ends the object once its handle cannot be found any more, and
   returns the driver's result. */
#define GXI_KIND_ROWS(ROW) \
    ROW(CONTEXT,  context,  "a context",         0) \
    ROW(MODULE,   module,   "a module",          3) \
    ROW(KERNEL,   kernel,   "a kernel",          2) \
    ROW(STREAM,   stream,   "a stream",          6) \
    ROW(EVENT,    event,    "an event",          5) \
    ROW(LINKER,   linker,   "a linker",          4) \
    ROW(PARAMS,   params,   "a parameter block", 0) \
    ROW(PREPARED, prepared, "a prepared launch", 1) \
    ROW(BARRIER,  barrier,  "a barrier",         0) \
    ROW(GRAPH,    graph,    "a graph",           1) \
    ROW(POOL,     pool,     "a pool",            6) \
    ROW(IPC,      ipc,      "a connection",      0)
enum { GXI_NOTHING,
#define GXI_ROW(KIND, member, name, turn) GXI_##KIND,
       GXI_KIND_ROWS(GXI_ROW)
#undef GXI_ROW
       GXI_KINDS, GXI_TURNS = 6, GXI_FAILED_BIT = 0x20, GXI_CURRENT = 0x14 /* no slot has it: its bit 4 is set */ };

typedef struct gxi_context gxi_context;
typedef struct gxi_module gxi_module;
typedef struct gxi_kernel gxi_kernel;
typedef struct gxi_linker gxi_linker;
typedef struct gxi_block gxi_block;
typedef struct gxi_prepared gxi_prepared;
typedef struct gxi_barrier gxi_barrier;
typedef struct gxi_graph gxi_graph;
typedef struct gxi_ipc gxi_ipc;
typedef struct gxi_slot {                        /* 64 bytes */
    uint64_t         id;                         /* atomic; 0 when free */
    struct CUctx_st *cu_context;
    uint64_t         context;                    /* handle id of the context through which it was created */
    const char      *where;                      /* where it was created */
    union {                                      /* by kind */
        unsigned next_free;                      /* of a free slot: index + 1 of the next one, 0 none */
        struct { gxi_context *info; } context;
        struct { struct CUmod_st *native; gxi_module *info; } module;
        struct { struct CUfunc_st *native; gxi_kernel *info; const unsigned short *sizes; } kernel;
        /* last: atomic */
        struct { struct CUstream_st *native; const char *last_where; uint64_t last_kernel; } stream;
        /* atomic; recorded: 0 no, 1 yes, 2 in a capture, otherwise the gpuexec_result that refused the last record */
        struct { struct CUevent_st *native; const char *refused_at; uint32_t recorded; } event;
        struct { void *native; gxi_linker *info; } linker;            /* native: NULL if there is no link state now */
        struct { gxi_block *info; } params;
        struct { struct CUfunc_st *native; gxi_prepared *info; } prepared;
        struct { gxi_barrier *info; } barrier;
        struct { struct CUgraphExec_st *exec; gxi_graph *info; } graph;       /* exec: atomic; NULL: not instantiated */
        struct { void *native; uint64_t most; int device; unsigned is; } pool;     /* see GXI_POOL_OWN */
        struct { gxi_ipc *info; } ipc;
    } is;
    union {
            uint32_t     shared_limit;           /* of a kernel: dynamic shared bytes accepted so far (high-water mark
                                                    of the opt-in) */
        uint32_t     refused;                    /* of a stream: number of the latched failure that refused work on it,
                                                    0 for none; atomic */
    } of;
    uint32_t         generation : 22, adopted : 1 /* its owner destroys it, not gpuexec */,
                     legacy : 2 /* a default stream: 1 legacy, 2 per thread */, no_timing : 1,
                     borrowed : 1,               /* its context is adopted and may have been destroyed: check */
                     interprocess : 1;           /* an event that can be exported */
} gxi_slot;
/* a slot's place in its owner's list; next: index + 1 of the next one, 0 none */
typedef struct gxi_links { uint32_t *from, next; } gxi_links;

#define GXI_ROW(KIND, member, name, turn) static int gxi_##member##_end(gxi_call *call, gxi_slot *old);
GXI_KIND_ROWS(GXI_ROW)
#undef GXI_ROW
static const struct { const char *name; unsigned turn; int (*end)(gxi_call *call, gxi_slot *old); } gxi_kinds[] = {
    { "nothing", 0, NULL },
#define GXI_ROW(KIND, member, name, turn) { name, turn, gxi_##member##_end },
    GXI_KIND_ROWS(GXI_ROW)
#undef GXI_ROW
};
static unsigned gxi_kind_of(uint64_t id) { return (unsigned)id & 0x0F; }

typedef enum gxi_origin { GXI_ADOPTED, GXI_PRIMARY, GXI_COUNTED } gxi_origin;
typedef struct gxi_wait_event { struct CUevent_st *native; int used; /* by a thread */ } gxi_wait_event;
struct gxi_context {
    int ordinal, device;
    gxi_origin origin;
    int users;                                   /* guarded by gxi_tables, like the lists */
    uint64_t defaults[2], own, own_pool;         /* handles of its legacy and per-thread default streams, of the
                                                    context's own stream, and of gpuexec's pool; 0 until requested */
    unsigned long long id;                       /* the driver's id of it; 0: not known */
    uint32_t first[16];                          /* by kind: lists of the objects it owns */
    gxi_range *ranges;                           /* its allocations */
    void *pool;                                  /* CUmemoryPool that the contexts on a device share, NULL until one
                                                    needs it; atomic, set with gxi_tables held */
    gxi_wait_event *wait_events;                 /* for gpuexec_stream_wait_stream; guarded by gxi_tables */
    unsigned nwait_events, wait_events_cap;
    int refused;                                 /* atomic: some of its streams are marked */
    int copier_tried;                            /* atomic: the next two are set; NULL if that failed */
    struct CUmod_st *copier_module;
    struct CUfunc_st *copier;                    /* the kernel of gpuexec_copy_many */
};
static gxi_context *gxi_context_of(const gxi_slot *slot) { return slot->is.context.info; }

enum { GXI_LAST_GENERATION = 0x3FFFFF };
/* differs between copies of the library in one process: derived from this copy's address */
static uint64_t gxi_tag_of(unsigned tags) {
    uint64_t x = (uint64_t)(uintptr_t)&gxi + tags;
    x = (x ^ (x >> 29)) * 0x9E3779B97F4A7C15u;   /* Fibonacci hashing, Knuth, TAOCP vol. 3, 6.4 */
    return ((x >> 48) | 1) << 48;
}
static uint64_t gxi_tag(void) { return gxi_tag_of(gxi.tags); }
static int gxi_had_tag(uint64_t id) {            /* whether it is or was a tag of this copy */
    unsigned tags = gxi.tags + 1;
    while (tags && gxi_tag_of(tags - 1) >> 48 != id >> 48) tags--;
    return tags != 0;
}

static gxi_slot *gxi_slot_at(unsigned index) {
    return GXI_LOAD(&gxi.chunks[index / GXI_CHUNK_SLOTS]) + index % GXI_CHUNK_SLOTS;
}

static unsigned gxi_index_of(uint64_t id) { return (unsigned)(id >> 6) & (GXI_CHUNKS * GXI_CHUNK_SLOTS - 1); }
static gxi_links *gxi_links_at(unsigned index) {   /* a chunk's links follow its slots */
    return (gxi_links *)(void *)(gxi.chunks[index / GXI_CHUNK_SLOTS] + GXI_CHUNK_SLOTS) + index % GXI_CHUNK_SLOTS;
}

GXI_HOT gxi_slot *gxi_peek_inline(uint64_t id, unsigned kind) {       /* NULL unless open, ours, and of that kind */
    char *chunk = (char *)GXI_LOAD(&gxi.chunks[(id >> 14) & (GXI_CHUNKS - 1)]);
    const unsigned rest = (unsigned)id - kind;   /* if of that kind: the slot's offset, with no lower bits set */
    gxi_slot *slot;
    if (!chunk || rest & 0x3F) return NULL;
    slot = (gxi_slot *)(void *)(chunk + (rest & 0x3FC0));
    return GXI_LOAD(&slot->id) == id ? slot : NULL;
}
static GXI_NOINLINE gxi_slot *gxi_peek(uint64_t id, unsigned kind) { return gxi_peek_inline(id, kind); }
/* Marks a stream with this thread's latched failure. */
static void gxi_mark(uint64_t stream) {
    gxi_slot *slot = gxi_peek(stream, GXI_STREAM);
    const gxi_slot *context = slot ? gxi_peek(slot->context, GXI_CONTEXT) : NULL;
    if (!context || slot->legacy == 2) return;           /* each thread has a separate one */
    GXI_STORE(&slot->of.refused, gxi_thread.record ? gxi_thread.record->latched : GXI_LATCH_WITHOUT_TEXT);
    GXI_STORE(&gxi_context_of(context)->refused, 1);
}

static int gxi_is_own_stream(const gxi_slot *stream) {
    const gxi_slot *context = gxi_peek(stream->context, GXI_CONTEXT);
    return context && GXI_LOAD(&gxi_context_of(context)->own) == stream->id;
}

static GXI_NOINLINE gxi_slot *gxi_peek_any(uint64_t id) {
    return (id & 0x3F) > 0 && (id & 0x3F) < GXI_KINDS ? gxi_peek(id, (unsigned)(id & 0x3F)) : NULL;
}

/* The members common to all objects in a context, for gxi_new. */
static GXI_NOINLINE gxi_slot gxi_made(const gxi_slot *owner, uint64_t context, int adopted) {
    gxi_slot made;
    memset(&made, 0, sizeof made);
    made.cu_context = owner->cu_context;
    made.context = context;
    made.adopted = adopted != 0;
    return made;
}
/* Creates an object in a list of its owner; the caller has set all other members of *made. Returns its id, 0 after a
   failure. */
static uint64_t gxi_new(gxi_call *call, unsigned kind, const gxi_slot *made, uint32_t *list) {
    gxi_slot *slot = NULL;
    const gxi_slot *context;
    unsigned index = 0;
    uint64_t id = 0;
    const char *place;
    gxi_lock(&gxi_tables);
    place = gxi_keep_held(call->where);
    if (call->where && !place) slot = NULL;      /* no memory for the place: create nothing */
    else if (gxi.free_slot) {
        index = gxi.free_slot - 1;
        slot = gxi_slot_at(index);
        gxi.free_slot = slot->is.next_free;
    } else if (gxi.slots < GXI_CHUNKS * GXI_CHUNK_SLOTS) {
        unsigned chunk = gxi.slots / GXI_CHUNK_SLOTS;
        if (!gxi.chunks[chunk]) {
            gxi_slot *fresh = (gxi_slot *)gxi_realloc(NULL, GXI_CHUNK_SLOTS * (sizeof(gxi_slot) + sizeof(gxi_links)));
            if (fresh) {
                memset(fresh, 0, GXI_CHUNK_SLOTS * (sizeof(gxi_slot) + sizeof(gxi_links)));
                for (index = 0; index < GXI_CHUNK_SLOTS; index++) fresh[index].generation = gxi.generation & 0x3FFFFF;
                GXI_STORE(&gxi.chunks[chunk], fresh);
            }
        }
        if (gxi.chunks[chunk]) {
            index = gxi.slots++;
            slot = gxi_slot_at(index);
        }
    }
    if (slot) {
        unsigned generation = slot->generation + 1;
        /* all but id: other threads may be reading that through a stale handle */
        memcpy((char *)slot + sizeof slot->id, (const char *)made + sizeof made->id, sizeof *slot - sizeof slot->id);
        gxi_links *links = gxi_links_at(index);
        links->from = list;
        links->next = *list;
        if (*list) gxi_links_at(*list - 1)->from = &links->next;
        *list = index + 1;
        slot->generation = generation & 0x3FFFFF;
        slot->where = place;
        slot->borrowed = kind == GXI_CONTEXT ? made->adopted
            : (context = gxi_peek(made->context, GXI_CONTEXT)) != NULL && context->adopted;
        id = gxi_tag() | (uint64_t)slot->generation << 26 | (uint64_t)index << 6 | kind;
        GXI_STORE(&slot->id, id);
    }
    gxi_unlock(&gxi_tables);
    if (!slot)
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, "destroy objects that are no longer in use",
                 "out of host memory: cannot create another object; the most ever open at once: %u (limit %d)",
                 gxi.slots, GXI_CHUNKS * GXI_CHUNK_SLOTS);
    return id;
}
/* Frees all slots. New generations start above the highest one used, so that old handles stay stale. */
static void gxi_forget_slots(void) {
    unsigned index, most = gxi.generation;
    memset(gxi.first, 0, sizeof gxi.first);
    for (index = 0; index < gxi.slots; index++)
        if (gxi_slot_at(index)->generation > most) most = gxi_slot_at(index)->generation;
    gxi.generation = most + 1;
    if (gxi.generation >= GXI_LAST_GENERATION) { /* used up: continue with another tag */
        gxi.generation = 0;
        gxi.tags++;
    }
    for (index = 0; index < GXI_CHUNKS; index++) {
        gxi_free(gxi.chunks[index]);
        GXI_STORE(&gxi.chunks[index], NULL);
    }
    gxi.slots = gxi.free_slot = 0;
}

/* Closes a handle. Returns 0 if another thread was first. */
static int gxi_end(uint64_t id) {
    gxi_slot *slot;
    gxi_lock(&gxi_tables);
    slot = gxi_peek_any(id);
    if (slot) {
        gxi_links *links = gxi_links_at(gxi_index_of(id));
        GXI_STORE(&slot->id, 0);
        if (gxi_kind_of(id) == GXI_KERNEL || gxi_kind_of(id) == GXI_STREAM) GXI_STORE(&gxi.ends, gxi.ends + 1);
        *links->from = links->next;
        if (links->next) gxi_links_at(links->next - 1)->from = links->from;
        if (slot->generation < GXI_LAST_GENERATION) {                /* otherwise retired: its ids would repeat */
            slot->is.next_free = gxi.free_slot;
            gxi.free_slot = gxi_index_of(id) + 1;
        }
    }
    gxi_unlock(&gxi_tables);
    return slot != NULL;
}
/* Closes a handle, then destroys the driver's object, unless that was adopted, and frees our memory. Returns the
   driver's result; a driver that is shutting down at process exit has destroyed the object already. */
static int gxi_destroy(gxi_call *call, gxi_slot *slot) {
    gxi_slot old = *slot;
    int cu;
    if (!gxi_end(old.id)) return 0;
    cu = gxi_kinds[gxi_kind_of(old.id)].end(call, &old);
    if (cu == GXI_DEINITIALIZED) cu = call->cu = 0;
    return cu;
}

#define GXI_ADOPTED_NAME "(adopted)"             /* the driver does not report its name */
struct gxi_kernel {                              /* one block of memory: this, sizes, name, title */
    const char *name, *title;                    /* title, for messages: kernel "NAME", or "this adopted kernel" */
    uint64_t    module;
    unsigned short *sizes;
};
static const gxi_kernel *gxi_kernel_of(const gxi_slot *slot) { return slot->is.kernel.info; }

/* The first object of a list, and the next one; NULL if there is none. While gxi_tables is held, other threads cannot
   free what these objects own. */
static gxi_slot *gxi_first_held(const uint32_t *list) { return *list ? gxi_slot_at(*list - 1) : NULL; }

static GXI_NOINLINE gxi_slot *gxi_next_held(const gxi_slot *slot) {
    return gxi_first_held(&gxi_links_at(gxi_index_of(slot->id))->next);
}

static GXI_NOINLINE gxi_slot *gxi_first(const uint32_t *list) {
    gxi_slot *slot;
    gxi_lock(&gxi_tables);
    slot = gxi_first_held(list);
    gxi_unlock(&gxi_tables);
    return slot;
}

static gxi_slot *gxi_after(const gxi_slot *slot) {
    gxi_slot *next;
    gxi_lock(&gxi_tables);
    next = gxi_next_held(slot);
    gxi_unlock(&gxi_tables);
    return next;
}

/* --- failed handles: the last GXI_FAILED_KEPT keep their reasons -------------------------------------------------- */

static uint64_t gxi_failed_id(unsigned kind) {                       /* for this thread's last failure */
    gxi_thread_record *record = gxi_record();
    gxi_failed *failed;
    uint64_t id;
    gxi_lock(&gxi_tables);
    id = gxi_tag() | (gxi.failed_count / GXI_FAILED_KEPT & 0x3FFFFF) << 26 | (gxi.failed_count % GXI_FAILED_KEPT) << 6 |
         GXI_FAILED_BIT | kind;
    failed = &gxi.failed[gxi.failed_count++ % GXI_FAILED_KEPT];
    failed->id = id;
    if (record) gxi_detail_write(&failed->detail, &record->last.e, NULL);
    else {
        /* its texts are literals except for the place, which belongs to this thread */
        failed->detail.e = gxi_bare_error;
        failed->detail.e.where = NULL;
    }
    gxi_unlock(&gxi_tables);
    return id;
}

/* Failures that follow from a failed handle: "there is no device 9; because of this, gpuexec_context_open at a.c:5 did
   not create the context, and gpuexec_module_load at a.c:6 did not create the module". */
#define GXI_BECAUSE "; because of this, "
/* Fails because the handle is not open, and explains why. `is` names the argument ("the stream"), `kind` is the
   required kind. */
static GXI_COLD gpuexec_result gxi_fail_handle(gxi_call *call, uint64_t id, unsigned kind, const char *is) {
    unsigned found = (unsigned)id & 0x0F;
    const char *name = found > 0 && found < GXI_KINDS ? gxi_kinds[found].name : gxi_kinds[0].name;
    gxi_slot *slot = gxi_peek_any(id);
    if (gxi.forked) return gxi_fail_forked(call);
    if (id == 0)
        return gxi_fail(call, GPUEXEC_BAD_HANDLE,
                        kind != GXI_STREAM ? "create it before using it"
                            : "use gpuexec_stream_create, or gpuexec_stream_legacy(context) for the default stream",
                        "%s was never created: the handle is {0}", is);
    if (id == GXI_CURRENT)
        return gxi_fail(call, GPUEXEC_BAD_HANDLE, "pass gpuexec_context_stream(context)",
                        "%s is GPUEXEC_CURRENT, but only launches, copies, fills, gpuexec_event_record, "
                        "gpuexec_alloc_on and gpuexec_free_on take that", is);
    if (found == 0 || found >= GXI_KINDS || (id & 0x10))
        return gxi_fail(call, GPUEXEC_BAD_HANDLE, NULL,
                        "%s is not a gpuexec handle: 0x%016llx; it may be uninitialized memory", is,
                        (unsigned long long)id);
    if (!gxi_had_tag(id))
        return gxi_fail(call, GPUEXEC_BAD_HANDLE,
                        "pass native handles between libraries: gpuexec_*_native and gpuexec_*_from_native",
                        "%s does not belong to this copy of gpuexec: 0x%016llx was created by another library in "
                        "this process, or is uninitialized memory",
                        is, (unsigned long long)id);
    if (id & GXI_FAILED_BIT) {                /* the first failure's parts, copied: another thread may overwrite them */
        gxi_text reason = { 0, 0, 0, 0 }, cure = { 0, 0, 0, 0 }, log = { 0, 0, 0, 0 };
        const gxi_failed *failed = &gxi.failed[(id >> 6) % GXI_FAILED_KEPT];
        const gpuexec_error *e = &failed->detail.e;
        const char *because, *last;
        gpuexec_result result = GPUEXEC_BAD_HANDLE;
        gxi_lock(&gxi_tables);
        if (failed->id == id && e->result) {
            result = e->result;
            because = strstr(e->message, GXI_BECAUSE);
            last = because ? strstr(because, ", and ") : NULL;       /* a longer list: "A, B, and C" */
            gxi_add(&reason, "%.*s%s%s%s%s%s%s did not create %s",
                    (int)(last ? last - e->message : (ptrdiff_t)strlen(e->message)), e->message, last ? ", " : "",
                    last ? last + strlen(", and ") : "", because ? ", and " : GXI_BECAUSE, e->function,
                    e->where ? " at " : "", e->where ? e->where : "", is);
            if (e->cure) gxi_add(&cure, "%s", e->cure);
            if (e->log) gxi_add(&log, "%s", e->log);
            call->driver_call = e->driver_call;
            call->cu = e->driver_result;
        }
        gxi_unlock(&gxi_tables);
        call->log = log.p;
        if (reason.p) result = gxi_fail(call, result, cure.p, "%s", reason.p);
        else result = gxi_fail(call, result, cure.p, "%s could not be created; the reason is no longer stored", is);
        call->log = NULL;
        gxi_text_free(&reason);
        gxi_text_free(&cure);
        gxi_text_free(&log);
        return result;
    }
    if (found != kind) {
        const char *argument = strchr(is, ' '), *required = strchr(gxi_kinds[kind].name, ' ');
        const int plain = argument && required && strcmp(argument, required) == 0;     /* "the stream" for "a stream" */
        return gxi_fail(call, GPUEXEC_WRONG_KIND, NULL, "%s%s %s %s, but %s is required",
                        plain ? "this handle" : "the handle passed as ", plain ? "" : is, slot ? "is" : "was", name,
                        gxi_kinds[kind].name);
    }
    return gxi_fail(call, GPUEXEC_STALE_HANDLE, kind == GXI_PREPARED ? "prepare it again with gpuexec_prepare"
                    : kind == GXI_GRAPH ? "destroy it, or close its context, after its last launch" : NULL,
                    "%s is stale: %s", is,
                    kind == GXI_KERNEL    ? "its module was unloaded or its context was closed"
                    : kind == GXI_CONTEXT ? "the context was closed"
                    : kind == GXI_PARAMS  ? "it was destroyed"
                                          : "it was destroyed, or its context was closed");
}

/* When another library destroys a context, the driver crashes on the context's objects (measured: streams, events and
   launches; making it current corrupts the heap). These two queries are safe, and an id is never reused, not even for a
   primary context that is retained again. Older drivers have only the second query.
   *id: the id known so far, updated here; 0: not known. */
static int gxi_is_destroyed(gxi_call *call, struct CUctx_st *native, unsigned long long *id) {
    unsigned long long now = 0;
    unsigned version = 0;
    if (GXI_HAS(cuCtxGetId)) GXI_TRY(cuCtxGetId, (native, &now));
    else GXI_TRY(cuCtxGetApiVersion, (native, &version));
    if (call->cu) return call->cu == GXI_INVALID_CONTEXT || call->cu == GXI_CONTEXT_IS_DESTROYED;
    if (*id && now != *id) return 1;
    if (*id != now) *id = now;                   /* written once: other threads may read it */
    return 0;
}

/* The open object of a handle. Checks that the context still exists for adopted contexts and before clean-up; other
   contexts are held by gpuexec. */
static gxi_slot *gxi_get(gxi_call *call, uint64_t id, unsigned kind, const char *is) {
    gxi_slot *slot = gxi_peek_inline(id, kind), *context;
    if (GXI_UNLIKELY(!slot)) {
        gxi_fail_handle(call, id, kind, is);
        return NULL;
    }
    if (slot->borrowed || call->kind == GXI_CLEANS) {
        gxi_call own = *call;                    /* keeps the caller's driver call for the error text */
        context = kind == GXI_CONTEXT ? slot : gxi_peek(slot->context, GXI_CONTEXT);
        if (context && gxi_is_destroyed(&own, context->cu_context, &gxi_context_of(context)->id)) {
            *call = own;
            gxi_fail(call, GPUEXEC_STALE_HANDLE, "close gpuexec's handle before the context is destroyed, or share the "
                     "context with gpuexec_context_attach", "%s is stale: context %p was destroyed outside gpuexec, "
                     "which invalidated all handles of its objects", is, (void *)context->cu_context);
            GXI_LOAD(&gxi.close_context)(call, context);
            return NULL;
        }
    }
    return slot;
}
/* For clean-up: 1 if there is nothing to clean up because the object was never created. */
static GXI_NOINLINE int gxi_was_never_made(uint64_t id, unsigned kind) {
    return id == 0 || ((id & 0x3F) == (GXI_FAILED_BIT | kind) && id >> 48 == gxi_tag() >> 48);
}

/* --- the last launches, for the text of a kernel's failure -------------------------------------------------------- */

/* A stream stores the caller's pointer, because a launch has no time to copy the string: the library that contains it
   may have been unloaded before it is read. */
GXI_HOT void gxi_note_launch(gxi_slot *stream, uint64_t kernel, const char *where) {
    GXI_STORE(&stream->is.stream.last_where, where);
    GXI_STORE(&stream->is.stream.last_kernel, kernel);
}
/* Reads such a place. 0 if its memory was unmapped or no longer holds text. */
static int gxi_noted_place(const char *where, char *out, size_t size) {
    int ends[2], ok;
    size_t i = 0;
    if (!gxi_read_begin(ends)) return 0;
    while ((ok = gxi_read_byte(ends, where + i, out + i)) != 0 && out[i] && i + 1 < size) {
        ok = (unsigned char)out[i] >= ' ' && out[i] != 0x7F;
        if (!ok) break;
        i++;
    }
    gxi_read_end(ends);
    out[i] = 0;
    return ok && i;
}
static void gxi_add_last_launches(gxi_text *t) {
    unsigned shown = 0;
    char place[512];
    const gxi_slot *stream, *kernel, *context;
    gxi_lock(&gxi_tables);                       /* other threads may unload their modules and close their contexts */
    for (context = gxi_first_held(&gxi.first[GXI_CONTEXT]); context; context = gxi_next_held(context)) {
        for (stream = gxi_first_held(&gxi_context_of(context)->first[GXI_STREAM]); stream && shown < 4;
             stream = gxi_next_held(stream)) {
            const char *where = GXI_LOAD(&stream->is.stream.last_where);
            const uint64_t last = GXI_LOAD(&stream->is.stream.last_kernel);
            if (!last) continue;
            kernel = gxi_peek(last, GXI_KERNEL);
            gxi_add(t, "%s", shown++ ? ", " : "; last launch on each stream: ");
            gxi_add(t, "%s%s%s on device %d",
                    !kernel ? "a kernel of a module that has been unloaded"
                    : *gxi_kernel_of(kernel)->title == 't' ? "an adopted kernel" : gxi_kernel_of(kernel)->title,
                    where ? " at " : "",
                    !where ? "" : gxi_noted_place(where, place, sizeof place) ? place
                    : "a place in a library that has been unloaded", gxi_context_of(context)->ordinal);
        }
    }
    gxi_unlock(&gxi_tables);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>ranges   The table of allocations: by address in leaves of up to 256, so that a search touches few cache lines; and
   a list of allocations for each context. Working in an object's context. */

enum { GXI_LEAF = sizeof ((gxi_leaf *)0)->lo / sizeof ((gxi_leaf *)0)->lo[0] };

/* The number of addresses at or below that one, in a sorted list. Allocations often have similar distances: the search
   begins where the address would then be, and widens from there, which touches few cache lines. */
static size_t gxi_below(const uint64_t *list, size_t count, uint64_t address) {
    size_t a = 0, b = count, step = 4;
    if (count > 8 && address > list[0] && address < list[count - 1]) {
        const double share = (double)(int64_t)(address - list[0]) / (double)(int64_t)(list[count - 1] - list[0]);
        const size_t guess = (size_t)(int64_t)(share * (double)(count - 1));
        if (list[guess] <= address) {
            a = guess + 1;
            for (; a + step < b && list[a + step] <= address; step *= 4) a += step + 1;
            if (a + step < b) b = a + step;
        } else {
            b = guess;
            for (; a + step < b && list[b - step - 1] > address; step *= 4) b -= step + 1;
            if (a + step < b) a = b - step;
        }
    }
    while (a < b) {
        const size_t m = a + (b - a) / 2;
        if (list[m] <= address) a = m + 1;
        else b = m;
    }
    return a;
}
/* The number of leaves, or of entries in a leaf, that begin at or below the address; gxi_tables is held. */
static size_t gxi_leaves_below(uint64_t address) { return gxi_below(gxi.firsts, gxi.nleaves, address); }
static unsigned gxi_entries_below(const gxi_leaf *leaf, uint64_t address) {
    return (unsigned)gxi_below(leaf->lo, leaf->count, address);
}
/* The last range that begins at or below the address, perhaps a dead one; gxi_tables is held. */
static gxi_range *gxi_range_any(uint64_t address) {
    const size_t leaves = gxi_leaves_below(address);
    const gxi_leaf *leaf = leaves ? gxi.leaves[leaves - 1] : NULL;
    return leaf ? leaf->range[gxi_entries_below(leaf, address) - 1] : NULL;
}
/* The range that contains the address, and perhaps a range below it instead; gxi_tables is held. */
static gxi_range *gxi_range_below(uint64_t address) {
    gxi_range *r = gxi.found;
    if (!r || address - r->lo >= GXI_LOAD(&r->bytes)) r = gxi.found = gxi_range_any(address);
    return r && GXI_LOAD(&r->state) == GXI_LIVE ? r : NULL;
}
/* Moves the entries from that one on, up or down by one; the count is without the one that comes or goes. */
static void gxi_leaf_move(gxi_leaf *leaf, unsigned from, unsigned to) {
    const size_t n = leaf->count - (from < to ? from : to);
    if (!n) return;
    memmove(leaf->lo + to, leaf->lo + from, n * sizeof *leaf->lo);
    memmove(leaf->range + to, leaf->range + from, n * sizeof *leaf->range);
}
/* A new leaf at that place, which takes the upper half of the leaf before it; NULL: no memory. */
static gxi_leaf *gxi_leaf_new(size_t place) {
    gxi_leaf *leaf, *before;
    if (gxi.nleaves == gxi.leaves_cap) {
        const size_t cap = gxi.leaves_cap ? gxi.leaves_cap * 2 : 16;
        gxi_leaf **leaves = (gxi_leaf **)gxi_realloc(gxi.leaves, cap * sizeof *leaves);
        uint64_t *firsts = leaves ? (uint64_t *)gxi_realloc(gxi.firsts, cap * sizeof *firsts) : NULL;
        if (leaves) gxi.leaves = leaves;
        if (!firsts) return NULL;
        gxi.firsts = firsts;
        gxi.leaves_cap = cap;
    }
    leaf = gxi.spare_leaf ? gxi.spare_leaf : (gxi_leaf *)gxi_realloc(NULL, sizeof *leaf);
    gxi.spare_leaf = NULL;
    if (!leaf) return NULL;
    leaf->count = 0;
    memmove(gxi.leaves + place + 1, gxi.leaves + place, (gxi.nleaves - place) * sizeof *gxi.leaves);
    memmove(gxi.firsts + place + 1, gxi.firsts + place, (gxi.nleaves - place) * sizeof *gxi.firsts);
    gxi.nleaves++;
    gxi.leaves[place] = leaf;
    if (place == 0) return leaf;
    before = gxi.leaves[place - 1];
    leaf->count = before->count - before->count / 2;
    before->count /= 2;
    memcpy(leaf->lo, before->lo + before->count, leaf->count * sizeof *leaf->lo);
    memcpy(leaf->range, before->range + before->count, leaf->count * sizeof *leaf->range);
    gxi.firsts[place] = leaf->lo[0];
    return leaf;
}
static void gxi_add_range(gxi_text *t, const gxi_range *r, const char *before, const char *after) {
    gxi_add(t, "%s%llu byte%s of %s memory at 0x%llx (%s at %s%s", before, (unsigned long long)r->bytes,
            r->bytes == 1 ? "" : "s", gxi_memory_kinds[r->kind], (unsigned long long)r->lo, gxi_memory_verbs[r->kind],
            r->where ? r->where : "?", after);
}
/* For the text of an illegal address. No driver reports the address; often it is in memory freed too early, or just
   past an allocation that is too small. */
static void gxi_add_last_allocations(gxi_text *t) {
    uint64_t last = UINT64_MAX;
    const gxi_slot *context;
    unsigned i, shown = 0;
    gxi_lock(&gxi_tables);
    for (i = 0; i < GXI_FREED_KEPT; i++) {       /* the newest one before the last */
        const gxi_range *newest = NULL;
        unsigned k;
        for (k = 0; k < GXI_QUICK + GXI_FREED_KEPT; k++) {
            const gxi_range *r = k < GXI_QUICK ? &gxi.quick[k] : &gxi.freed[k - GXI_QUICK].was;
            if (k < GXI_QUICK ? GXI_LOAD(&r->state) == GXI_DEAD : k - GXI_QUICK < gxi.nfreed)
                if (GXI_LOAD(&r->freed_at) < last && (!newest || r->freed_at > newest->freed_at)) newest = r;
        }
        if (!newest) break;
        last = newest->freed_at;
        gxi_add_range(t, newest, i ? ", " : "; last freed: ", ", freed at ");
        gxi_add(t, "%s)", newest->freed_where ? newest->freed_where : "?");
    }
    for (context = gxi_first_held(&gxi.first[GXI_CONTEXT]); context; context = gxi_next_held(context)) {
        const gxi_range *r = gxi_context_of(context)->ranges;        /* newest first */
        for (; r && shown < GXI_FREED_KEPT; r = r->next)
            if (GXI_LOAD(&r->state) == GXI_LIVE)
                gxi_add_range(t, r, shown++ ? ", " : "; most recent allocations still in use: ", ")");
    }
    gxi_unlock(&gxi_tables);
}
static gxi_range *gxi_quick(uint64_t lo) { return &gxi.quick[(lo >> 9) * 0x9E3779B97F4A7C15u >> 58]; }
static int gxi_is_place(const char *kept, const char *where) {
    return kept == where || (kept && where && strcmp(kept, where) == 0);
}
/* Removes a busy range from table and list; gxi_tables is held. */
static void gxi_range_unlink(gxi_range *r) {
    const size_t place = gxi_leaves_below(r->lo) - 1;
    gxi_leaf *leaf = gxi.leaves[place];
    const unsigned i = gxi_entries_below(leaf, r->lo) - 1;
    leaf->count--;
    gxi_leaf_move(leaf, i + 1, i);
    if (leaf->count) gxi.firsts[place] = leaf->lo[0];
    else {
        gxi.nleaves--;
        memmove(gxi.leaves + place, gxi.leaves + place + 1, (gxi.nleaves - place) * sizeof *gxi.leaves);
        memmove(gxi.firsts + place, gxi.firsts + place + 1, (gxi.nleaves - place) * sizeof *gxi.firsts);
        gxi_free(gxi.spare_leaf);
        gxi.spare_leaf = leaf;
    }
    if (r->from) *r->from = r->next;
    if (r->next) r->next->from = r->from;
    if (gxi.found == r) gxi.found = NULL;
    if (r >= gxi.quick && r < gxi.quick + GXI_QUICK) GXI_STORE(&r->state, GXI_EMPTY);
    else {
        gxi_free(gxi.spare);
        gxi.spare = r;
    }
}
/* Ends a live range, and records that it was freed: a kernel may still have its address. It leaves the table, or stays
   as a dead one. 0: another thread was first. gxi_tables is held. */
static int gxi_range_end(gxi_range *r, const char *where, int stays, gxi_range *out) {
    const char *kept = NULL;
    gxi_freed *freed;
    if (!gxi_swap(&r->state, GXI_LIVE, GXI_BUSY)) return 0;
    GXI_STORE(&r->freed_at, GXI_LOAD(&gxi.freed_count) + 1);
    GXI_STORE(&gxi.freed_count, r->freed_at);
    *out = *r;
    if (stays && r == gxi_quick(r->lo) && ((kept = gxi_keep_held(where)) != NULL || !where)) {
        GXI_STORE(&r->freed_where, kept);
        GXI_STORE(&r->state, GXI_DEAD);
        return 1;
    }
    freed = &gxi.freed[gxi.nfreed++ % GXI_FREED_KEPT];
    freed->was = *r;
    freed->was.freed_where = gxi_copy_place(freed->place, sizeof freed->place, where);
    gxi_range_unlink(r);
    return 1;
}
/* Ends the range that begins at lo. 0 if there is none of that kind; PAGEABLE: of any. gxi_tables is held. */
static int gxi_range_out(uint64_t lo, gpuexec_memory_kind kind, const char *where, gxi_range *out) {
    gxi_range *r = gxi_quick(lo);
    if (r->lo != lo || GXI_LOAD(&r->state) != GXI_LIVE) r = gxi_range_any(lo);
    return r && r->lo == lo && (!kind || r->kind == kind) && gxi_range_end(r, where, 1, out);
}
/* Before a range is added there: removes dead ones, and one at lo that was freed with a destroyed context; the one
   below must not grow into it later. gxi_tables is held. */
static void gxi_range_clear(uint64_t lo, uint64_t bytes) {
    gxi_range *r, old;
    while ((r = gxi_range_any(lo + (bytes - 1))) != NULL) {
        const int dead = gxi_swap(&r->state, GXI_DEAD, GXI_BUSY);
        if (dead && r->lo >= lo) gxi_range_unlink(r);
        else if (!dead && r->lo == lo) gxi_range_end(r, NULL, 0, &old);
        else if (dead || gxi_swap(&r->state, GXI_LIVE, GXI_BUSY)) {  /* if not, another thread has it for a moment */
            if (r->lo < lo && r->room > lo - r->lo) r->room = lo - r->lo;
            if (dead && r->bytes > r->room) GXI_STORE(&r->bytes, r->room);
            GXI_STORE(&r->state, dead ? GXI_DEAD : GXI_LIVE);
            return;
        }
    }
}
/* Without gxi_tables: a dead range that was freed, or allocated, by the same lines is so again. 0: not possible. */
GXI_HOT int gxi_range_again(uint64_t lo, uint64_t bytes, uint64_t context, const char *where) {
    gxi_range *r = gxi_quick(lo);
    const char *kept = GXI_LOAD(&r->where);
    if (GXI_LOAD(&r->lo) != lo || !gxi_is_place(kept, where) || !gxi_swap(&r->state, GXI_DEAD, GXI_BUSY)) return 0;
    if (r->lo == lo && r->where == kept && r->context == context && bytes <= r->room) {
        GXI_STORE(&r->bytes, bytes);
        GXI_STORE(&r->state, GXI_LIVE);
        return 1;
    }
    GXI_STORE(&r->state, GXI_DEAD);
    return 0;
}
GXI_HOT int gxi_range_rest(uint64_t lo, const char *where, gxi_range *out) {
    gxi_range *r = gxi_quick(lo);
    const char *kept = GXI_LOAD(&r->freed_where);
    if (GXI_LOAD(&r->lo) != lo || !gxi_is_place(kept, where) || !gxi_swap(&r->state, GXI_LIVE, GXI_BUSY)) return 0;
    if (r->lo == lo && r->freed_where == kept && r->freed_at) {
        GXI_STORE(&r->freed_at, GXI_LOAD(&gxi.freed_count) + 1);
        GXI_STORE(&gxi.freed_count, r->freed_at);
        out->bytes = r->bytes;
        out->context = r->context;
        out->where = r->where;
        out->kind = GPUEXEC_MEMORY_DEVICE;
        out->pooled = GXI_POOLED;
        GXI_STORE(&r->state, GXI_DEAD);
        return 1;
    }
    GXI_STORE(&r->state, GXI_LIVE);
    return 0;
}
/* Returns 0 without memory. */
static int gxi_range_add(uint64_t lo, uint64_t bytes, uint64_t context, const char *where, gpuexec_memory_kind kind,
                         int pooled) {
    gxi_range *r = pooled == GXI_POOLED ? gxi_quick(lo) : NULL;
    const gxi_slot *owner;
    size_t place;
    const char *kept;
    int ok;
    gxi_lock(&gxi_tables);
    kept = gxi_keep_held(where);
    gxi_range_clear(lo, bytes);
    if (r && gxi_swap(&r->state, GXI_DEAD, GXI_BUSY)) gxi_range_unlink(r);
    if (!r || GXI_LOAD(&r->state) != GXI_EMPTY) {
        r = gxi.spare ? gxi.spare : (gxi_range *)gxi_realloc(NULL, sizeof *r);
        gxi.spare = NULL;
    }
    ok = r && (kept || !where);
    place = gxi_leaves_below(lo);
    place -= place > 0;
    if (ok && gxi.nleaves == 0) ok = gxi_leaf_new(0) != NULL;
    if (ok && gxi.leaves[place]->count == GXI_LEAF) {
        ok = gxi_leaf_new(place + 1) != NULL;
        place += ok && gxi.firsts[place + 1] <= lo;
    }
    if (ok) {
        gxi_leaf *leaf = gxi.leaves[place];
        const unsigned i = gxi_entries_below(leaf, lo);
        gxi_leaf_move(leaf, i, i + 1);
        leaf->lo[i] = lo;
        leaf->range[i] = r;
        leaf->count++;
        gxi.found = r;
        gxi.firsts[place] = leaf->lo[0];
        r->context = context;
        r->kind = kind;
        r->pooled = pooled;
        r->room = bytes;
        r->freed_at = 0;
        r->device = kind == GPUEXEC_MEMORY_DEVICE || kind == GPUEXEC_MEMORY_MANAGED ? lo : 0;
        r->next = NULL;
        r->from = NULL;
        GXI_STORE(&r->lo, lo);
        GXI_STORE(&r->bytes, bytes);
        GXI_STORE(&r->where, kept);
        GXI_STORE(&r->freed_where, NULL);
        GXI_STORE(&gxi.add_allocations, &gxi_add_last_allocations);
        if ((owner = gxi_peek(context, GXI_CONTEXT)) != NULL) {
            r->from = &gxi_context_of(owner)->ranges;
            r->next = *r->from;
            if (r->next) r->next->from = &r->next;
            *r->from = r;
        }
        GXI_STORE(&r->state, GXI_LIVE);
    } else if (r && r != gxi_quick(lo)) gxi.spare = r;
    gxi_unlock(&gxi_tables);
    return ok;
}
/* Finds a range that overlaps these bytes, the last one if there are several. */
static int gxi_range_touching(uint64_t address, uint64_t bytes, gxi_range *out) {
    const gxi_range *r;
    int found;
    gxi_lock(&gxi_tables);
    r = gxi_range_below(address + (bytes - 1));
    while (!r && bytes > 1 && (r = gxi_range_any(address + (bytes - 1))) != NULL) {      /* a dead one: before it */
        bytes = r->lo > address ? r->lo - address : 1;
        r = gxi_range_below(address + (bytes - 1));
    }
    found = r && (address < r->lo || address - r->lo < GXI_LOAD(&r->bytes));
    if (found) *out = *r;
    gxi_unlock(&gxi_tables);
    return found;
}
/* Finds the range that contains the address. */
static int gxi_range_find(uint64_t address, gxi_range *out) { return gxi_range_touching(address, 1, out); }
/* 0 if no range of that kind begins there. */
static int gxi_range_remove(uint64_t lo, gpuexec_memory_kind kind, const char *where, gxi_range *out) {
    int found;
    gxi_lock(&gxi_tables);
    found = gxi_range_out(lo, kind, where, out);
    gxi_unlock(&gxi_tables);
    return found;
}
/* Removes one range of that context; 0 if there is none left. */
static int gxi_range_take(const gxi_slot *context, gxi_range *out, const char *where) {
    gxi_range *r;
    gxi_lock(&gxi_tables);
    while ((r = gxi_context_of(context)->ranges) != NULL && !gxi_range_end(r, where, 0, out))
        if (gxi_swap(&r->state, GXI_DEAD, GXI_BUSY)) gxi_range_unlink(r);
    gxi_unlock(&gxi_tables);
    return r != NULL;
}
/* --- working in an object's context ------------------------------------------------------------------------------- */

typedef struct gxi_scope { const gxi_call *call; int entered, pushed, mode; } gxi_scope;
/* While a capture is open on this thread, perhaps of another library, the driver refuses calls such as cuMemAlloc, and
   the attempt breaks the capture, unless the thread's capture mode is relaxed. Sets that mode, or restores the previous
   one. */
static void gxi_exchange_mode(int *mode) { (void)gxi.cu.cuThreadExchangeStreamCaptureMode(mode); }
static gpuexec_result gxi_enter(gxi_call *call, struct CUctx_st *context, gxi_scope *scope) {
    struct CUctx_st *current = NULL;
    scope->call = call;
    scope->pushed = 0;
    scope->entered = 1;
    scope->mode = GXI_STREAM_CAPTURE_MODE_RELAXED;
    gxi_exchange_mode(&scope->mode);
    if (GXI_TRY(cuCtxGetCurrent, (&current)) == 0 && current == context) return GPUEXEC_OK;
    if (GXI_TRY(cuCtxPushCurrent, (context))) {
        gxi_exchange_mode(&scope->mode);
        return gxi_fail_cu(call, NULL, "cannot make the context current");
    }
    scope->pushed = 1;
    return GPUEXEC_OK;
}
static GXI_NOINLINE void gxi_leave(const gxi_scope *scope) {
    struct CUctx_st *popped;
    gxi_call own, *const call = &own;            /* so that its result does not replace the caller's */
    if (scope->entered) {
        int mode = scope->mode;
        gxi_exchange_mode(&mode);
    }
    if (!scope->pushed) return;
    own = *scope->call;
    GXI_TRY(cuCtxPopCurrent, (&popped));
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-setup   The calls of >>error and >>setup. */

GPUEXEC_API const char *gpuexec_error_text(void) { return gpuexec_error_detail()->text; }

GPUEXEC_API const gpuexec_error *gpuexec_error_detail(void) {
    static const gpuexec_error none = { GPUEXEC_OK, 0, 0, 0, "", 0, "", 0, 0, 0, 0, 0, "" };
    if (gxi_thread.epoch != gxi.epoch) return &none;
    if (!gxi_thread.record) return gxi_bare_error.result ? &gxi_bare_error : &none;
    return gxi_thread.record->last.e.result ? &gxi_thread.record->last.e : &none;
}

GPUEXEC_API gpuexec_result gpuexec_take_error(void) { return gxi_take(); }

GPUEXEC_API const char *gpuexec_result_name(gpuexec_result result) {
    switch (result) {
#define GXI_NAME(name) case name: return #name;
    GXI_NAME(GPUEXEC_OK) GXI_NAME(GPUEXEC_NOT_READY)
    GXI_NAME(GPUEXEC_BAD_ARGUMENT) GXI_NAME(GPUEXEC_BAD_HANDLE) GXI_NAME(GPUEXEC_STALE_HANDLE)
    GXI_NAME(GPUEXEC_WRONG_KIND) GXI_NAME(GPUEXEC_WRONG_CONTEXT) GXI_NAME(GPUEXEC_TOO_LATE)
    GXI_NAME(GPUEXEC_NO_DRIVER) GXI_NAME(GPUEXEC_OLD_DRIVER) GXI_NAME(GPUEXEC_NO_DEVICE)
    GXI_NAME(GPUEXEC_FORKED) GXI_NAME(GPUEXEC_NOT_SUPPORTED)
    GXI_NAME(GPUEXEC_OUT_OF_HOST_MEMORY) GXI_NAME(GPUEXEC_OUT_OF_DEVICE_MEMORY)
    GXI_NAME(GPUEXEC_BAD_IMAGE) GXI_NAME(GPUEXEC_IMAGE_TOO_NEW) GXI_NAME(GPUEXEC_NOT_FOUND) GXI_NAME(GPUEXEC_FILE_ERROR)
    GXI_NAME(GPUEXEC_LINK_FAILED)
    GXI_NAME(GPUEXEC_BAD_LAUNCH) GXI_NAME(GPUEXEC_BAD_PARAMETERS) GXI_NAME(GPUEXEC_KERNEL_FAILED)
    GXI_NAME(GPUEXEC_BARRIER_BROKEN) GXI_NAME(GPUEXEC_CAPTURING) GXI_NAME(GPUEXEC_CAPTURE_BROKEN)
    GXI_NAME(GPUEXEC_GRAPH_DIFFERS) GXI_NAME(GPUEXEC_PEER_GONE) GXI_NAME(GPUEXEC_DRIVER_ERROR)
#undef GXI_NAME
    }
    return "unknown gpuexec_result";
}

GPUEXEC_API int gpuexec_id_ok(unsigned long long id) { return gxi_peek_any(id) != NULL; }

GPUEXEC_API const char *gpuexec_id_why(unsigned long long id) {
    const gxi_failed *failed = &gxi.failed[(id >> 6) % GXI_FAILED_KEPT];
    gxi_thread_record *record = gxi_record();
    int kept;
    GXI_CALL_NO_PLACE(gpuexec_why, GXI_QUERIES);
    if (gxi_peek_any(id)) return "";
    gxi_lock(&gxi_tables);
    kept = record && (id & GXI_FAILED_BIT) && failed->id == id;
    if (kept) gxi_write_last(record, &failed->detail.e, NULL);
    gxi_unlock(&gxi_tables);
    if (!kept) gxi_fail_handle(call, id, (unsigned)id & 0x0F, "the handle");
    return gpuexec_error_text();
}

GPUEXEC_API gpuexec_result gpuexec_setup_at(const char *where, const gpuexec_setup_desc *desc) {
    GXI_CALL(gpuexec_setup, GXI_MAKES);
    if (!desc) desc = &gxi_defaults;
    if (gxi_check_desc(call, "gpuexec_setup_desc", desc->start_canary, desc->end_canary)) return GPUEXEC_BAD_ARGUMENT;
    if (GXI_LOAD(&gxi.started)) return gxi_fail_started(call);
    gxi_take();                                  /* the failure of an earlier start */
    return gxi_start_slow(call, desc);
}

GPUEXEC_API int gpuexec_driver_version(void) {
    GXI_CALL_NO_PLACE(gpuexec_driver_version, GXI_QUERIES);
    return gxi_begin(call) ? 0 : gxi.version;
}
GPUEXEC_API const char *gpuexec_driver_path(void) {
    GXI_CALL_NO_PLACE(gpuexec_driver_path, GXI_QUERIES);
    return gxi_begin(call) ? "" : gxi.library_path;
}
GPUEXEC_API void *gpuexec_driver_symbol(const char *name, int version) {
    void *symbol;
    GXI_CALL_NO_PLACE(gpuexec_driver_symbol, GXI_QUERIES);
    if (!name) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the name is NULL");
        return NULL;
    }
    if (gxi_begin(call)) return NULL;
    if (version < 2000) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                 "pass the version of CUDA whose manual has the prototype: 12000 for 12.0",
                 "the version for \"%s\" is %d, which is not a CUDA version", name, version);
        return NULL;
    }
    symbol = gxi_resolve(name, version);
    if (symbol) return symbol;
    if (version > gxi.version)
        gxi_fail(call, GPUEXEC_OLD_DRIVER,
                 gxi_resolve(name, gxi.version) ? "request it for an older CUDA version, or install a newer driver"
                                                : "install a newer NVIDIA driver",
                 "\"%s\" of CUDA %d.%d is not available: this driver supports CUDA %d.%d", name, version / 1000,
                 version % 1000 / 10, gxi.version / 1000, gxi.version % 1000 / 10);
    else if (gxi_resolve(name, gxi.version))
        gxi_fail(call, GPUEXEC_NOT_FOUND, "pass the version of CUDA that introduced it, or a later one",
                 "\"%s\" was introduced later than the version passed, %d.%d; this driver (CUDA %d.%d) has it", name,
                 version / 1000,
                     version % 1000 / 10, gxi.version / 1000,
                 gxi.version % 1000 / 10);
    else if (gxi_is_cpu_device())
        gxi_fail(call, GPUEXEC_NOT_FOUND,
                 "check the spelling (omit suffixes such as _v2 or _ptsz); a GPU's driver may have it",
                 "the CPU device has no \"%s\": it implements the calls that gpuexec makes and few others, but no "
                 "textures or inter-process handles (its driver version is %d.%d)",
                 name, gxi.version / 1000, gxi.version % 1000 / 10);
    else
        gxi_fail(call, GPUEXEC_NOT_FOUND,
                 "check the spelling (omit suffixes such as _v2 or _ptsz); a newer driver may have it",
                 "\"%s\" is not in this driver (CUDA %d.%d), in any version", name, gxi.version / 1000,
                 gxi.version % 1000 / 10);
    return NULL;
}
GPUEXEC_API gpuexec_result gpuexec_driver_check_at(const char *where, const char *name, int cu_result) {
    GXI_CALL(gpuexec_driver_check, GXI_MAKES);
    if (cu_result == GXI_SUCCESS) return GPUEXEC_OK;
    if (cu_result == GXI_CU_NOT_READY) return GPUEXEC_NOT_READY;
    if (!name) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the name of the driver call is NULL");
    if (gxi_begin(call)) return gxi_failed_with();
    gxi_said(call, name, cu_result);
    return gxi_fail_cu(call, NULL, "the program's call of %s failed", name);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-device */

/* Records a result that the driver did not return, for the error text: GXI_MADE_NOTHING, or 0 for none. */
static int gxi_note(gxi_call *call, int cu) { return call->cu = cu; }
/* An optional end of a sentence, for "%s%s": where it was, or nothing if that is not known. */
#define GXI_PART(before, x) (x) ? (before) : "", (x) ? (x) : ""
#define GXI_AT(where) GXI_PART(" at ", where)
static const char *gxi_place(const char *where) { return where ? where : "?"; }
static GXI_NOINLINE int gxi_is_null(gxi_call *call, const void *p, const char *is) {      /* 1: has failed */
    if (!p) gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%s is NULL", is);
    return !p;
}
static GXI_COLD gpuexec_result gxi_fail_memory(gxi_call *call, const char *cannot) {
    return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot %s", cannot);
}
/* The result of a call that creates something: its id, or that of a failed handle. */
static GXI_NOINLINE uint64_t gxi_or_failed(uint64_t id, unsigned kind) { return id ? id : gxi_failed_id(kind); }

/* What `count` things counted from 0 are called: "", ": 0", ": 0 and 1", ": 0 to 3". */
enum { GXI_INDICES = 24 };
static GXI_COLD const char *gxi_indices(char *out, unsigned count) {
    if (count < 2) snprintf(out, GXI_INDICES, "%s", count ? ": 0" : "");
    else snprintf(out, GXI_INDICES, count == 2 ? ": 0 and %u" : ": 0 to %u", count - 1);
    return out;
}
static const char *gxi_s(unsigned long long n) { return n == 1 ? "" : "s"; }       /* the plural of a word after n */

enum { GXI_MOST_DEVICES = 4096 };                /* a larger count is invalid */
static gpuexec_result gxi_device(gxi_call *call, int ordinal, int *device) {
    char indices[GXI_INDICES];
    int count = 0;
    const int cu = GXI_TRY(cuDeviceGet, (device, ordinal));
    if (cu == 0) return GPUEXEC_OK;
    if (cu != GXI_INVALID_DEVICE) return gxi_fail_cu(call, NULL, "cannot open device %d", ordinal);
    GXI_BESIDE(cuDeviceGetCount, (&count));
    return gxi_fail(call, GPUEXEC_NO_DEVICE, gxi_is_cpu_device()
                    ? "set SIMGPU_DEVICES in the environment: the CPU device has 1 to 8 devices"
                    : "check CUDA_VISIBLE_DEVICES in the environment: it may hide devices",
                    "there is no device %d: %d device%s visible%s", ordinal, count, count == 1 ? " is" : "s are",
                    gxi_indices(indices, count < 0 ? 0 : (unsigned)count));
}

GPUEXEC_API int gpuexec_device_count(void) {
    int count = 0, cu;
    GXI_CALL_NO_PLACE(gpuexec_device_count, GXI_QUERIES);
    if (gxi_begin(call)) return 0;
    cu = GXI_TRY(cuDeviceGetCount, (&count));
    if (cu == 0 && (count < 0 || count > GXI_MOST_DEVICES)) cu = gxi_note(call, GXI_MADE_NOTHING);
    if (cu == 0) return count;
    gxi_fail_cu(call, NULL, "cannot query the number of devices");
    return 0;
}
/* *value is 0 after a failure. */
static int gxi_attribute(gxi_call *call, int device, int attribute, int *value) {
    const int cu = GXI_TRY(cuDeviceGetAttribute, (value, attribute, device));
    if (cu) *value = 0;
    return cu;
}
/* Several attributes of a device, or of a function. Attributes that the driver does not know are 0; any other failure
   ends the query. */
static GXI_NOINLINE int gxi_attributes(gxi_call *call, int device, struct CUfunc_st *function, const int *attributes,
                                       unsigned n, int *values) {
    unsigned i;
    memset(values, 0, n * sizeof *values);
    for (i = 0; i < n; i++) {
        const int cu = function ? GXI_TRY(cuFuncGetAttribute, (&values[i], attributes[i], function))
                                : gxi_attribute(call, device, attributes[i], &values[i]);
        if (cu == 0) continue;
        values[i] = 0;
        if (cu != GXI_INVALID_VALUE) return cu;
    }
    return 0;
}
static GXI_NOINLINE int gxi_capability(gxi_call *call, int device, int *capability) {     /* 90 for 9.0 */
    static const int attributes[] = { GXI_DEV_COMPUTE_CAPABILITY_MAJOR, GXI_DEV_COMPUTE_CAPABILITY_MINOR };
    int values[2];
    const int cu = gxi_attributes(call, device, NULL, attributes, 2, values);
    *capability = values[0] * 10 + values[1];
    return cu;
}
static GXI_COLD gpuexec_result gxi_fail_device(gxi_call *call, int ordinal) {
    return gxi_fail_cu(call, NULL, "cannot query device %d", ordinal);
}

GPUEXEC_API gpuexec_result gpuexec_device_get_info_at(const char *where, int ordinal, gpuexec_device_info *info) {
    static const int attributes[] = {
        GXI_DEV_MULTIPROCESSOR_COUNT, GXI_DEV_WARP_SIZE, GXI_DEV_MAX_THREADS_PER_BLOCK,
        GXI_DEV_MAX_THREADS_PER_MULTIPROCESSOR,
        GXI_DEV_MAX_BLOCK_DIM_X, GXI_DEV_MAX_BLOCK_DIM_X + 1, GXI_DEV_MAX_BLOCK_DIM_X + 2,
        GXI_DEV_MAX_GRID_DIM_X, GXI_DEV_MAX_GRID_DIM_X + 1, GXI_DEV_MAX_GRID_DIM_X + 2,
        GXI_DEV_MAX_REGISTERS_PER_BLOCK, GXI_DEV_ASYNC_ENGINE_COUNT, GXI_DEV_COOPERATIVE_LAUNCH, GXI_DEV_INTEGRATED,
        GXI_DEV_CLOCK_RATE,
        GXI_DEV_L2_CACHE_SIZE, GXI_DEV_MAX_SHARED_MEMORY_PER_BLOCK, GXI_DEV_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN };
    enum { GXI_QUERIED = sizeof attributes / sizeof attributes[0] };
    int device = 0, cu = 0, values[GXI_QUERIED];
    GXI_CALL(gpuexec_device_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (gxi_begin(call) || gxi_device(call, ordinal, &device)) return gxi_failed_with();
    if (GXI_TRY(cuDeviceGetName, (info->name, (int)sizeof info->name, device)) ||
        GXI_TRY(cuDeviceTotalMem, (&info->total_memory, device)) ||
        GXI_TRY(cuDeviceGetPCIBusId, (info->pci_bus_id, (int)sizeof info->pci_bus_id, device)))
        return gxi_fail_device(call, ordinal);
    info->name[sizeof info->name - 1] = info->pci_bus_id[sizeof info->pci_bus_id - 1] = 0;
    if (GXI_HAS(cuDeviceGetUuid)) cu = GXI_TRY(cuDeviceGetUuid, (info->uuid, device));
    if ((cu && cu != GXI_INVALID_VALUE) || gxi_capability(call, device, &info->compute_capability) ||
        gxi_attributes(call, device, NULL, attributes, GXI_QUERIED, values))
        return gxi_fail_device(call, ordinal);
    info->multiprocessors = values[0];
    info->warp_size = values[1];
    info->max_threads_per_block = values[2];
    info->max_threads_per_multiprocessor = values[3];
    memcpy(info->max_block, values + 4, sizeof info->max_block);
    memcpy(info->max_grid, values + 7, sizeof info->max_grid);
    info->registers_per_block = values[10];
    info->async_engines = values[11];
    info->cooperative_launch = values[12];
    info->integrated = values[13];
    info->clock_khz = values[14];
    info->l2_bytes = (size_t)values[15];
    info->shared_per_block = (size_t)values[16];
    info->shared_per_block_optin = (size_t)values[17];
    return GPUEXEC_OK;
}

GPUEXEC_API gpuexec_result gpuexec_device_get_attribute_at(const char *where, int ordinal, int attribute, int *value) {
    int device = 0;
    GXI_CALL(gpuexec_device_get_attribute, GXI_QUERIES);
    if (gxi_is_null(call, value, "value")) return GPUEXEC_BAD_ARGUMENT;
    if (gxi_begin(call) || gxi_device(call, ordinal, &device)) return gxi_failed_with();
    if (GXI_TRY(cuDeviceGetAttribute, (value, attribute, device)))
        return gxi_fail_cu(call, NULL, "cannot query attribute %d of device %d", attribute, ordinal);
    return GPUEXEC_OK;
}

/* Whether a device, given as CUdevice and ordinal, can have peer access to another; -1 after a failure. */
static int gxi_can_access(gxi_call *call, int device, int peer, int ordinal, int peer_ordinal) {
    int can = 0;
    if (GXI_TRY(cuDeviceCanAccessPeer, (&can, device, peer)) == 0) return can;
    gxi_fail_cu(call, NULL, "cannot query peer access between devices %d and %d", ordinal, peer_ordinal);
    return -1;
}
GPUEXEC_API int gpuexec_device_can_access_peer(int ordinal, int peer_ordinal) {
    int device = 0, peer = 0, can;
    GXI_CALL_NO_PLACE(gpuexec_device_can_access_peer, GXI_QUERIES);
    if (gxi_begin(call) || gxi_device(call, ordinal, &device) || gxi_device(call, peer_ordinal, &peer)) return 0;
    can = gxi_can_access(call, device, peer, ordinal, peer_ordinal);
    return can < 0 ? 0 : can;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-context   A context handle owns the objects created through it: closing it ends them all, in the order
   prepared launches, kernels, modules, linkers, events, streams, memory. It holds one retain of the primary context, or
   one reference to a context created with cuCtxCreate, or nothing if the context is adopted. */

static int gxi_ordinal_of(const gxi_slot *slot) {   /* of the object's device; -1 if its context was closed meanwhile */
    const gxi_slot *context = gxi_peek(slot->context, GXI_CONTEXT);
    return context ? gxi_context_of(context)->ordinal : -1;
}

/* The first step of an API call that only looks at an object; NULL after a failure. */
static GXI_NOINLINE gxi_slot *gxi_queried(const char *function, uint64_t id, unsigned kind, const char *is) {
    gxi_call call;
    return gxi_get(gxi_call_of(&call, function, NULL, GXI_QUERIES), id, kind, is);
}
/* The first step of an API call on an object; NULL after a failure. */
static GXI_NOINLINE gxi_slot *gxi_begin_with(gxi_call *call, uint64_t id, unsigned kind, const char *is) {
    /* if the library cannot start, the failure of the handle comes first: it names the call that could not */
    if (id && !GXI_LOAD(&gxi.started) && !gxi_get(call, id, kind, is)) return NULL;
    return gxi_begin(call) ? NULL : gxi_get(call, id, kind, is);
}
static GXI_NOINLINE gxi_slot *gxi_begin_with_context(gxi_call *call, gpuexec_context context) {
    return gxi_begin_with(call, context.id, GXI_CONTEXT, "the context");
}
/* The first step of an API call that creates or queries something in a context: its slot, with the context current
   until gxi_leave; NULL after a failure. */
static GXI_NOINLINE gxi_slot *gxi_begin_in(gxi_call *call, gpuexec_context context, gxi_scope *scope) {
    gxi_slot *slot = gxi_begin_with_context(call, context);
    return slot && gxi_enter(call, slot->cu_context, scope) == GPUEXEC_OK ? slot : NULL;
}
/* gxi_enter that returns the driver's result. */
static int gxi_enter_cu(gxi_call *call, struct CUctx_st *context, gxi_scope *scope) {
    return gxi_enter(call, context, scope) ? call->cu : 0;
}

/* Closes a handle and destroys its object. A handle that was never created is no failure. */
static gpuexec_result gxi_destroy_handle(gxi_call *call, uint64_t id, unsigned kind, const char *is) {
    gxi_scope scope = { 0, 0, 0, 0 };
    gxi_slot *slot;
    int cu;
    if (gxi_was_never_made(id, kind)) return GPUEXEC_OK;
    if (!(slot = gxi_get(call, id, kind, is))) return gxi_failed_with();
    if (kind == GXI_MODULE && GXI_LOAD(&gxi.captures) && GXI_LOAD(&gxi.postpone)(call, NULL, id))
        return GPUEXEC_OK;
    if ((kind == GXI_MODULE || kind == GXI_LINKER) && gxi_enter(call, slot->cu_context, &scope))
        return gxi_failed_with();
    cu = gxi_destroy(call, slot);
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot %s %s", kind == GXI_MODULE ? "unload" : "destroy", is)
        : GPUEXEC_OK;
}

/* Gives up what a handle holds: a retain of the primary context, or one reference to a created one. The driver requires
   the latter to be current, and if it was the last reference, pops the context from the thread's stack. */
static int gxi_context_release(gxi_call *call, gxi_origin origin, struct CUctx_st *native, int device) {
    struct CUctx_st *current = NULL;
    gxi_scope scope;
    int cu;
    if (origin == GXI_ADOPTED) return 0;
    if (origin == GXI_PRIMARY) return GXI_TRY(cuDevicePrimaryCtxRelease, (device));
    if (!GXI_HAS(cuCtxDetach)) return GXI_TRY(cuCtxDestroy, (native));
    if ((cu = gxi_enter_cu(call, native, &scope)) != 0) return cu;
    cu = GXI_TRY(cuCtxDetach, (native));
    if (GXI_BESIDE(cuCtxGetCurrent, (&current)) == 0 && current == native) gxi_leave(&scope);
    return cu;
}

static gpuexec_result gxi_context_close(gxi_call *call, gxi_slot *slot);
/* 0 after a failure */
static uint64_t gxi_context_new(gxi_call *call, struct CUctx_st *native, int ordinal, int device, gxi_origin origin) {
    gxi_context *info = (gxi_context *)gxi_realloc(NULL, sizeof *info);
    gxi_slot made;
    uint64_t id;
    if (!info) {
        gxi_fail_memory(call, "create a context");
        return 0;
    }
    memset(info, 0, sizeof *info);
    info->ordinal = ordinal;
    info->device = device;
    info->origin = origin;
    info->users = 1;
    gxi_is_destroyed(call, native, &info->id);
    gxi_note(call, 0);
    memset(&made, 0, sizeof made);
    made.cu_context = native;
    made.is.context.info = info;
    made.adopted = origin == GXI_ADOPTED;
    GXI_STORE(&gxi.close_context, &gxi_context_close);
    id = gxi_new(call, GXI_CONTEXT, &made, &gxi.first[GXI_CONTEXT]);
    if (!id) gxi_free(info);
    return id;
}
/* The handle of a context that was just opened, created or adopted; a failed handle if creating the handle fails, or if
   native is NULL because the step before failed. */
static gpuexec_context gxi_context_handle(gxi_call *call, struct CUctx_st *native, int ordinal, int device,
                                          gxi_origin origin) {
    gpuexec_context handle = { 0 };
    if (native) handle.id = gxi_context_new(call, native, ordinal, device, origin);
    if (handle.id) return handle;
    handle.id = gxi_failed_id(GXI_CONTEXT);      /* before the release, which may fail too */
    if (native) gxi_context_release(call, origin, native, device);
    return handle;
}

/* Retains a device's primary context, or creates a new context; NULL after a failure. */
static struct CUctx_st *gxi_context_open(gxi_call *call, int ordinal, const gpuexec_context_desc *desc,
                                         gxi_origin origin, int *device) {
    const unsigned flags = desc ? desc->flags : 0;
    struct CUctx_st *native = NULL, *popped = NULL;
    int cu;
    if (desc && gxi_check_desc(call, "gpuexec_context_desc", desc->start_canary, desc->end_canary)) return NULL;
    if (gxi_begin(call) || gxi_device(call, ordinal, device)) return NULL;
    if (origin == GXI_PRIMARY && flags && GXI_TRY(cuDevicePrimaryCtxSetFlags, (*device, flags))) {
        gxi_fail_cu(call, NULL, "cannot set flags %u on the primary context of device %d", flags, ordinal);
        return NULL;
    }
    cu = origin == GXI_PRIMARY ? GXI_TRY_MAKE(native, cuDevicePrimaryCtxRetain, (&native, *device))
                               : GXI_TRY_MAKE(native, cuCtxCreate, (&native, flags, *device));
    if (cu) {
        gxi_fail_cu(call, cu == GXI_OUT_OF_MEMORY ?
                    "check `nvidia-smi`: another process may be using the device's memory"
                    : NULL,
                    origin == GXI_PRIMARY ? "cannot open the primary context of device %d"
                    : "cannot create a context on device %d", ordinal);
        return NULL;
    }
    /* cuCtxCreate has made the new context current */
    if (origin == GXI_PRIMARY || GXI_TRY(cuCtxPopCurrent, (&popped)) == 0) return native;
    gxi_fail_cu(call, NULL, "cannot pop the new context of device %d from the thread's stack", ordinal);
    GXI_BESIDE(cuCtxDestroy, (native));
    return NULL;
}
static gpuexec_context gxi_context_make(gxi_call *call, int ordinal, const gpuexec_context_desc *desc,
                                        gxi_origin origin) {
    int device = 0;
    struct CUctx_st *const native = gxi_context_open(call, ordinal, desc, origin, &device);
    return gxi_context_handle(call, native, ordinal, device, origin);
}
GPUEXEC_API gpuexec_context gpuexec_context_open_at(const char *where, int ordinal, const gpuexec_context_desc *desc) {
    GXI_CALL(gpuexec_context_open, GXI_MAKES);
    return gxi_context_make(call, ordinal, desc, GXI_PRIMARY);
}
GPUEXEC_API gpuexec_context gpuexec_context_create_at(const char *where, int ordinal,
                                                      const gpuexec_context_desc *desc) {
    GXI_CALL(gpuexec_context_create, GXI_MAKES);
    return gxi_context_make(call, ordinal, desc, GXI_COUNTED);
}

/* Takes a reference to the current context, which another library owns. Returns GXI_ADOPTED after a failure. */
static gxi_origin gxi_context_share(gxi_call *call, struct CUctx_st *native, int device) {
    struct CUctx_st *other = NULL;
    unsigned flags = 0;
    int active = 0;
    if (GXI_TRY(cuDevicePrimaryCtxGetState, (device, &flags, &active)) ||
        (active && GXI_TRY(cuDevicePrimaryCtxRetain, (&other, device)))) {
        gxi_fail_cu(call, NULL, "cannot query whether %p is the device's primary context", (void *)native);
        return GXI_ADOPTED;
    }
    if (active && other == native) return GXI_PRIMARY;
    if (active) GXI_BESIDE(cuDevicePrimaryCtxRelease, (device));
    if (!GXI_HAS(cuCtxAttach) || !GXI_HAS(cuCtxDetach)) {
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "adopt it with gpuexec_context_from_native, "
                 "and close that handle before the context's owner destroys it", "this driver (CUDA %d.%d) does not "
                 "count references to a context: it has no cuCtxAttach", gxi.version / 1000, gxi.version % 1000 / 10);
        return GXI_ADOPTED;
    }
    if (GXI_TRY(cuCtxAttach, (&other, 0)) == 0) return GXI_COUNTED;
    gxi_fail_cu(call, NULL, "cannot share context %p", (void *)native);
    return GXI_ADOPTED;
}
/* A context that another library owns, the current one if native is NULL; with its device, and what gpuexec now holds
   of it. NULL after a failure. */
static struct CUctx_st *gxi_context_of_others(gxi_call *call, struct CUctx_st *native, int share, int *device,
                                              gxi_origin *origin) {
    unsigned long long id = 0;
    gxi_scope scope;
    int ok;
    if (gxi_begin(call)) return NULL;
    if (!native && (GXI_TRY(cuCtxGetCurrent, (&native)) || !native)) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                 "pass a CUcontext, or make one current first (in the CUDA runtime, call cudaFree(0))",
                 "no context is current on this thread, so there is none to adopt");
        return NULL;
    }
    if (gxi_is_destroyed(call, native, &id)) {
        gxi_fail_cu(call, NULL, "%p is not a context, or it was destroyed", (void *)native);
        return NULL;
    }
    if (gxi_enter(call, native, &scope)) return NULL;
    ok = GXI_TRY(cuCtxGetDevice, (device)) == 0;
    if (!ok) gxi_fail_cu(call, NULL, "cannot query the device of context %p", (void *)native);
    else if (share) ok = (*origin = gxi_context_share(call, native, *device)) != GXI_ADOPTED;
    gxi_leave(&scope);
    return ok ? native : NULL;
}
static int gxi_ordinal_of_device(const gxi_call *call, int device) { /* the CUdevice if no ordinal has it */
    int ordinal, other = 0;
    for (ordinal = 0; ordinal < GXI_MOST_DEVICES && GXI_BESIDE(cuDeviceGet, (&other, ordinal)) == 0; ordinal++)
        if (other == device) return ordinal;
    return device;
}
static gpuexec_context gxi_context_adopt(gxi_call *call, struct CUctx_st *native, int share) {
    gxi_origin origin = GXI_ADOPTED;
    int device = 0, ordinal = 0;
    native = gxi_context_of_others(call, native, share, &device, &origin);
    if (native) ordinal = gxi_ordinal_of_device(call, device);
    return gxi_context_handle(call, native, ordinal, device, origin);
}
GPUEXEC_API gpuexec_context gpuexec_context_from_native_at(const char *where, struct CUctx_st *native) {
    GXI_CALL(gpuexec_context_from_native, GXI_MAKES);
    return gxi_context_adopt(call, native, 0);
}
GPUEXEC_API gpuexec_context gpuexec_context_attach_at(const char *where, struct CUctx_st *native) {
    GXI_CALL(gpuexec_context_attach, GXI_MAKES);
    return gxi_context_adopt(call, native, 1);
}

static int gxi_context_count(const gxi_slot *slot, int change) {
    int users;
    gxi_lock(&gxi_tables);
    users = gxi_context_of(slot)->users += change;
    gxi_unlock(&gxi_tables);
    return users;
}
GPUEXEC_API gpuexec_result gpuexec_context_retain_at(const char *where, gpuexec_context context) {
    gxi_slot *slot;
    GXI_CALL(gpuexec_context_retain, GXI_MAKES);
    if (!(slot = gxi_get(call, context.id, GXI_CONTEXT, "the context"))) return gxi_failed_with();
    gxi_context_count(slot, 1);
    return GPUEXEC_OK;
}
GPUEXEC_API int gpuexec_context_users(gpuexec_context context) {
    const gxi_slot *slot = gxi_queried("gpuexec_context_users", context.id, GXI_CONTEXT, "the context");
    return slot ? gxi_context_count(slot, 0) : 0;
}

/* The audit: the contexts that this thread pushed through gpuexec, where, and the context that was current before each.
   Pushes deeper than GXI_AUDIT_DEPTH are only counted. */
#define GXI_AUDIT_DEPTH 32u
typedef struct gxi_pushed { uint64_t context; struct CUctx_st *native, *below; const char *where; } gxi_pushed;
static GXI_THREAD struct { unsigned depth, epoch; gxi_pushed pushes[GXI_AUDIT_DEPTH]; } gxi_audit;

static unsigned gxi_audit_depth(void) {
    if (gxi_audit.epoch != gxi.epoch) {
        gxi_audit.epoch = gxi.epoch;
        gxi_audit.depth = 0;
    }
    return gxi_audit.depth;
}

static gpuexec_result gxi_current(gxi_call *call, struct CUctx_st **current) {
    *current = NULL;
    return GXI_TRY(cuCtxGetCurrent, (current)) ? gxi_fail_cu(call, NULL, "cannot query the current context")
        : GPUEXEC_OK;
}
static gpuexec_result gxi_push(gxi_call *call, gpuexec_context context) {
    struct CUctx_st *below = NULL;
    gxi_slot *slot;
    unsigned depth;
    const char *place;
    if (!(slot = gxi_begin_with_context(call, context))) return gxi_failed_with();
    if ((place = gxi_keep(call->where)) == NULL && call->where)
        return gxi_fail_memory(call, "record the place of the push");
    if (GXI_TRY(cuCtxGetCurrent, (&below)) || GXI_TRY(cuCtxPushCurrent, (slot->cu_context)))
        return gxi_fail_cu(call, NULL, "cannot make the context current");
    depth = gxi_audit_depth();
    if (depth < GXI_AUDIT_DEPTH) {
        gxi_pushed *p = &gxi_audit.pushes[depth];
        p->context = context.id;
        p->native = slot->cu_context;
        p->below = below;
        p->where = place;
    }
    gxi_audit.depth = depth + 1;
    return GPUEXEC_OK;
}

/* Explains why the current context is not the one to be popped. */
static GXI_COLD gpuexec_result gxi_fail_pop(gxi_call *call, const struct CUctx_st *native,
                                            const struct CUctx_st *current) {
    const unsigned depth = gxi_audit_depth();
    const gxi_pushed *last = depth && depth <= GXI_AUDIT_DEPTH ? &gxi_audit.pushes[depth - 1] : NULL;
    const char *at = gxi_place(last ? last->where : NULL);
    char now[64] = "no context is current";
    if (current) snprintf(now, sizeof now, "the current context is %p", (const void *)current);
    if (depth == 0)
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "pop on the thread that pushed, once for each push",
                        "context %p is not current: %s, and this thread has already popped every context that it "
                        "pushed through gpuexec", (const void *)native, now);
    if (!last)
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT,
                        "pop in the reverse order of the pushes; other code may have an unmatched push or pop",
                        "context %p is not current: %s; "
                        "this thread has pushed %u contexts through gpuexec, of which only %u are recorded",
                        (const void *)native, now, depth, GXI_AUDIT_DEPTH);
    if (last->native != native)
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "pop in the reverse order of the pushes",
                        "context %p is not current: %s, and the context pushed last through gpuexec is %p, at %s",
                        (const void *)native, now, (void *)last->native, at);
    if (current == last->below) {
        gxi_audit.depth--;                       /* reported only once */
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT,
                        "look between the two places for a cuCtxPopCurrent without a push, or a cuCtxSetCurrent(NULL)",
                        "context %p, pushed at %s, has since been popped outside gpuexec; %s",
                        (const void *)native, at, now);
    }
    return gxi_fail(call, GPUEXEC_WRONG_CONTEXT,
                    "look between the two places for a cuCtxPushCurrent, cuCtxSetCurrent, cuCtxCreate or cudaSetDevice",
                    "context %p, pushed at %s, is no longer current: another context has since been pushed or set; %s",
                    (const void *)native, at, now);
}
static gpuexec_result gxi_pop(gxi_call *call, gpuexec_context context) {
    struct CUctx_st *current, *native;
    const gxi_slot *slot = gxi_peek(context.id, GXI_CONTEXT);
    unsigned depth, at;
    if (gxi_begin(call)) return gxi_failed_with();
    depth = gxi_audit_depth();
    for (at = depth < GXI_AUDIT_DEPTH ? depth : GXI_AUDIT_DEPTH;
         at > 0 && gxi_audit.pushes[at - 1].context != context.id; at--) {}
    if (!slot && !at) return gxi_fail_handle(call, context.id, GXI_CONTEXT, "the context");
    /* a context that has been closed since can still be popped */
    native = slot ? slot->cu_context : gxi_audit.pushes[at - 1].native;
    if (gxi_current(call, &current)) return gxi_failed_with();
    if (current != native) {
        if (slot) return gxi_fail_pop(call, native, current);
        gxi_audit.depth = at - 1;                                    /* its destruction has popped it */
        return gxi_fail_handle(call, context.id, GXI_CONTEXT, "the context");
    }
    if (GXI_TRY(cuCtxPopCurrent, (&current))) return gxi_fail_cu(call, NULL, "cannot pop the context");
    if (depth > GXI_AUDIT_DEPTH) gxi_audit.depth = depth - 1;
    else if (at) gxi_audit.depth = at - 1;                /* forget the pushes above it: other code popped them */
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_context_push_at(const char *where, gpuexec_context context) {
    GXI_CALL(gpuexec_context_push, GXI_MAKES);
    return gxi_push(call, context);
}
GPUEXEC_API gpuexec_result gpuexec_context_pop_at(const char *where, gpuexec_context context) {
    GXI_CALL(gpuexec_context_pop, GXI_CLEANS);
    return gxi_pop(call, context);
}
GPUEXEC_API gpuexec_context_scope gpuexec_context_scope_begin_at(const char *where, gpuexec_context context) {
    gpuexec_context_scope scope;
    GXI_CALL(GPUEXEC_CONTEXT_SCOPE, GXI_MAKES);
    scope.context = context;
    scope.where = where;
    scope.entered = gxi_push(call, context) == GPUEXEC_OK;
    return scope;
}
GPUEXEC_API void gpuexec_context_scope_end(gpuexec_context_scope *scope) {
    const char *where = scope->where;
    GXI_CALL(GPUEXEC_CONTEXT_SCOPE, GXI_MAKES);  /* the result is not visible to the caller: latch its failure */
    if (scope->entered) gxi_pop(call, scope->context);
    scope->entered = 0;
}
GPUEXEC_API size_t gpuexec_context_stack_text(char *text, size_t bytes) {
    struct CUctx_st *current;
    gxi_text t = { 0, 0, 0, 0 };
    unsigned depth, i;
    size_t n;
    GXI_CALL_NO_PLACE(gpuexec_context_stack_text, GXI_QUERIES);
    if (text && bytes) *text = 0;
    if (gxi_begin(call) || gxi_current(call, &current)) return 0;
    depth = gxi_audit_depth();
    if (depth > GXI_AUDIT_DEPTH)
        gxi_add(&t, "the last %u pushes through gpuexec are not recorded\n", depth - GXI_AUDIT_DEPTH);
    else if (!depth || current != gxi_audit.pushes[depth - 1].native)
        gxi_add(&t, current ? "context %p, current, not pushed through gpuexec\n" : "no context is current\n",
                (void *)current);
    for (i = depth < GXI_AUDIT_DEPTH ? depth : GXI_AUDIT_DEPTH; i-- > 0; ) {
        const gxi_pushed *p = &gxi_audit.pushes[i];
        const gxi_slot *slot = gxi_peek(p->context, GXI_CONTEXT);
        gxi_add(&t, "context %p", (void *)p->native);
        if (slot) gxi_add(&t, " on device %d", gxi_context_of(slot)->ordinal);
        else gxi_add(&t, ", since closed");
        gxi_add(&t, "%s, pushed at %s\n", i + 1 == depth && current == p->native ? ", current" : "",
                gxi_place(p->where));
        if (p->below && (!i || p->below != p[-1].native))
            gxi_add(&t, "context %p, not pushed through gpuexec\n", (void *)p->below);
    }
    if (t.failed) {
        gxi_text_free(&t);
        gxi_fail_memory(call, "write the text");
        return 0;
    }
    if (text && bytes) snprintf(text, bytes, "%s", t.p);
    n = t.n;
    gxi_text_free(&t);
    return n;
}
GPUEXEC_API int gpuexec_context_is_current(gpuexec_context context) {
    struct CUctx_st *current;
    gxi_slot *slot;
    GXI_CALL_NO_PLACE(gpuexec_context_is_current, GXI_QUERIES);
    return (slot = gxi_begin_with_context(call, context)) != NULL && gxi_current(call, &current) == GPUEXEC_OK &&
        current == slot->cu_context;
}

GPUEXEC_API struct CUctx_st *gpuexec_context_native(gpuexec_context context) {
    const gxi_slot *slot = gxi_queried("gpuexec_context_native", context.id, GXI_CONTEXT, "the context");
    return slot ? slot->cu_context : NULL;
}
GPUEXEC_API int gpuexec_context_device(gpuexec_context context) {
    const gxi_slot *slot = gxi_queried("gpuexec_context_device", context.id, GXI_CONTEXT, "the context");
    return slot ? gxi_context_of(slot)->ordinal : -1;
}
GPUEXEC_API gpuexec_result gpuexec_context_get_memory_at(const char *where, gpuexec_context context, size_t *available,
                                                         size_t *total) {
    gxi_scope scope;
    size_t a = 0, t = 0;
    int cu;
    GXI_CALL(gpuexec_context_get_memory, GXI_QUERIES);
    if (!gxi_begin_in(call, context, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuMemGetInfo, (&a, &t));
    gxi_leave(&scope);
    if (available) *available = a;
    if (total) *total = t;
    return cu ? gxi_fail_cu(call, NULL, "cannot query the device's memory") : GPUEXEC_OK;
}

static const char *const gxi_limit_names[] = { "STACK", "PRINTF_FIFO", "MALLOC_HEAP", "SYNC_DEPTH", "PENDING_LAUNCHES",
                                               "L2_FETCH", "PERSISTING_L2" };
static gpuexec_result gxi_check_limit(gxi_call *call, gpuexec_limit limit) {
    if ((unsigned)limit < sizeof gxi_limit_names / sizeof gxi_limit_names[0]) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                    "%d is not a gpuexec_limit; the last valid value is GPUEXEC_LIMIT_PERSISTING_L2 (%d)", (int)limit,
                    (int)GPUEXEC_LIMIT_PERSISTING_L2);
}
GPUEXEC_API gpuexec_result gpuexec_context_set_limit_at(const char *where, gpuexec_context context, gpuexec_limit limit,
                                                        size_t value) {
    gxi_slot *slot;
    gxi_scope scope;
    size_t is = 0;
    int cu, unknown = 0;
    GXI_CALL(gpuexec_context_set_limit, GXI_MAKES);
    if (gxi_check_limit(call, limit) || !(slot = gxi_begin_in(call, context, &scope))) return gxi_failed_with();
    cu = GXI_TRY(cuCtxSetLimit, ((int)limit, value));
    if (cu) GXI_BESIDE(cuCtxGetLimit, (&is, (int)limit));                   /* for the text */
    else unknown = GXI_TRY(cuCtxGetLimit, (&is, (int)limit));
    gxi_leave(&scope);
    if (cu == GXI_UNSUPPORTED_LIMIT) return gxi_fail_cu(call, NULL, "limit %s is not supported by device %d",
                                                        gxi_limit_names[limit], gxi_context_of(slot)->ordinal);
    if (cu) return gxi_fail_cu(call, NULL, "cannot set limit %s of device %d's context to %llu: it remains %llu",
                               gxi_limit_names[limit], gxi_context_of(slot)->ordinal, (unsigned long long)value,
                               (unsigned long long)is);
    if (unknown)
        return gxi_fail_cu(call, NULL, "cannot query the new limit %s of device %d's context",
                           gxi_limit_names[limit],
                                     gxi_context_of(slot)->ordinal);
    if (is < value) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "request less",
                                    "cannot set limit %s to %llu: device %d allows at most %llu, which is now the "
                                    "limit", gxi_limit_names[limit],
                                    (unsigned long long)value, gxi_context_of(slot)->ordinal, (unsigned long long)is);
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_context_get_limit_at(const char *where, gpuexec_context context, gpuexec_limit limit,
                                                        size_t *value) {
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    GXI_CALL(gpuexec_context_get_limit, GXI_QUERIES);
    if (gxi_is_null(call, value, "value")) return GPUEXEC_BAD_ARGUMENT;
    if (gxi_check_limit(call, limit) || !(slot = gxi_begin_in(call, context, &scope))) return gxi_failed_with();
    cu = GXI_TRY(cuCtxGetLimit, (value, (int)limit));
    gxi_leave(&scope);
    return cu
        ? gxi_fail_cu(call, NULL, cu == GXI_UNSUPPORTED_LIMIT ? "limit %s is not supported by device %d"
                      : "cannot query limit %s of device %d", gxi_limit_names[limit], gxi_context_of(slot)->ordinal)
        : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_context_get_priorities_at(const char *where, gpuexec_context context, int *least,
                                                             int *greatest) {
    gxi_scope scope;
    int cu;
    GXI_CALL(gpuexec_context_get_priorities, GXI_QUERIES);
    if (!gxi_begin_in(call, context, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuCtxGetStreamPriorityRange, (least, greatest));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot query the stream priorities") : GPUEXEC_OK;
}

/* The failure that a wait returns for a mark that it took off a stream. */
static gpuexec_result gxi_take_refused(gxi_call *call, uint32_t refused) {
    if (!refused) return GPUEXEC_OK;
    if (refused != GXI_LATCH_WITHOUT_TEXT) return gxi_take_of_others(call, refused);
    gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
             "out of host memory: a call enqueued nothing on the stream, and its reason could not be stored");
    return gxi_take();
}
/* Takes the latched failure; if there is none, the reason why another thread's call enqueued nothing on that stream. */
static gpuexec_result gxi_take_of_stream(gxi_call *call, gxi_slot *stream) {
    const gpuexec_result result = gxi_take();
    const uint32_t refused = result ? 0 : GXI_LOAD(&stream->of.refused);
    if (refused) GXI_STORE(&stream->of.refused, 0);
    return result ? result : gxi_take_refused(call, refused);
}
/* The same for all streams of a context. Holds the mutex, because other threads may destroy streams meanwhile. */
static gpuexec_result gxi_take_of_context(gxi_call *call, const gxi_slot *context) {
    gxi_context *const info = gxi_context_of(context);
    const gpuexec_result result = gxi_take();
    uint32_t refused = 0;
    gxi_slot *stream;
    if (result || !GXI_LOAD(&info->refused)) return result;
    gxi_lock(&gxi_tables);
    GXI_STORE(&info->refused, 0);                /* cleared first: a thread that marks a stream now sets it again */
    for (stream = gxi_first_held(&info->first[GXI_STREAM]); stream && !refused; stream = gxi_next_held(stream)) {
        refused = GXI_LOAD(&stream->of.refused);
        if (!refused) continue;
        GXI_STORE(&stream->of.refused, 0);
        if (refused != GXI_LATCH_WITHOUT_TEXT && !gxi_latched_elsewhere(refused)) refused = 0;   /* already taken */
    }
    if (refused) GXI_STORE(&info->refused, 1);   /* there may be more */
    gxi_unlock(&gxi_tables);
    return gxi_take_refused(call, refused);
}
/* The last step of a call that waits: latches its own failure, for gxi_take. */
static void gxi_waited(gxi_call *call, int cu, const gxi_slot *slot, const char *what) {
    if (cu) gxi_fail_cu(call, NULL, gxi_is_sticky(cu) ? "while waiting for %s" : "cannot wait for %s", what);
    else if (GXI_LOAD(&gxi.barriers)) GXI_LOAD(&gxi.look_at_barriers)(call, slot->cu_context, 0);
}

GPUEXEC_API gpuexec_result gpuexec_context_sync_at(const char *where, gpuexec_context context) {
    gxi_slot *slot;
    const gxi_slot *stream;
    gxi_scope scope;
    int cu;
    GXI_CALL(gpuexec_context_sync, GXI_WAITS);
    if (!(slot = gxi_begin_in(call, context, &scope))) return gxi_take();
    stream = GXI_LOAD(&gxi.capturing) ? GXI_LOAD(&gxi.capturing)(call, slot->cu_context) : NULL;
    if (stream)
        gxi_fail(call, GPUEXEC_CAPTURING, "end the capture first, or wait for another stream or an event",
                 "cannot wait for the context: its stream created at %s captures", gxi_place(stream->where));
    cu = stream ? 0 : GXI_TRY_VOID(cuCtxSynchronize);
    gxi_leave(&scope);
    if (stream) return gxi_take();
    gxi_waited(call, cu, slot, "the context");
    return gxi_take_of_context(call, slot);
}

static int gxi_context_end(gxi_call *call, gxi_slot *old) {
    gxi_context *info = gxi_context_of(old);
    const int cu = old->adopted ? 0 : gxi_context_release(call, info->origin, old->cu_context, info->device);
    gxi_free(info->wait_events);
    gxi_free(info);
    return cu;
}

/* wait: for the current context's work, unless the driver does that itself. */
static int gxi_free_range(gxi_call *call, const gxi_range *range, int wait) {
    void *const host = (void *)(uintptr_t)range->lo;
    const int waited = range->pooled && wait ? GXI_TRY_VOID(cuCtxSynchronize) : 0;
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED, cu;
    if (GXI_LOAD(&gxi.graphs_lose)) GXI_LOAD(&gxi.graphs_lose)(call, range, NULL);
    gxi_exchange_mode(&mode);
    cu = waited && range->pooled == GXI_IMPORTED       ? GXI_BESIDE(cuIpcCloseMemHandle, (range->lo))
         : waited                                      ? GXI_BESIDE(cuMemFree, (range->lo))  /* a kernel failed */
         : range->kind == GPUEXEC_MEMORY_PINNED        ? GXI_TRY(cuMemFreeHost, (host))
           : range->kind == GPUEXEC_MEMORY_REGISTERED ? GXI_TRY(cuMemHostUnregister, (host))
           : range->pooled == GXI_IMPORTED            ? GXI_TRY(cuIpcCloseMemHandle, (range->lo))
                                                      : GXI_TRY(cuMemFree, (range->lo));
    gxi_exchange_mode(&mode);
    return waited ? waited : cu;
}
/* Destroyed outside gpuexec, or by the end of the process. */
static int gxi_context_is_gone(const gxi_call *call, const gxi_slot *context) {
    gxi_call own = *call;                        /* so that results here do not replace the caller's */
    return gxi_is_destroyed(&own, context->cu_context, &gxi_context_of(context)->id) || own.cu == GXI_DEINITIALIZED;
}
/* Waits for the work of a context before its end: in an adopted one, or if others capture, only for our streams.
   Without captures of gpuexec, no stream is queried: the owner of an adopted one may have destroyed it. */
static gpuexec_result gxi_context_drain(gxi_call *call, const gxi_slot *slot) {
    gpuexec_result result = GPUEXEC_OK;
    const gxi_slot *child;
    if (!slot->adopted && !(GXI_LOAD(&gxi.captures) && GXI_LOAD(&gxi.capturing)(call, slot->cu_context)))
        return GXI_TRY_VOID(cuCtxSynchronize)
            ? gxi_fail_cu(call, NULL, gxi_is_sticky(call->cu) ? "while waiting for the context's pending work"
                          : "cannot wait for the context's pending work") : GPUEXEC_OK;
    for (child = gxi_first(&gxi_context_of(slot)->first[GXI_STREAM]); child; child = gxi_after(child))
        if (!child->adopted && GXI_TRY(cuStreamSynchronize, (child->is.stream.native)) && !result)
            result = gxi_fail_cu(call, NULL, gxi_is_sticky(call->cu) ? "while waiting for a stream's pending work"
                                 : "cannot wait for a stream's pending work");
    return result;
}
static int gxi_is_last_handle(const gxi_slot *context) {             /* on the same CUcontext */
    const gxi_slot *other = gxi_first(&gxi.first[GXI_CONTEXT]);
    while (other && (other == context || other->cu_context != context->cu_context)) other = gxi_after(other);
    return !other;
}
/* Closes everything in a context, then the context, even if some of it fails. Returns the first failure. */
static gpuexec_result gxi_context_close(gxi_call *call, gxi_slot *slot) {
    gxi_context *const info = gxi_context_of(slot);
    gpuexec_result result = GPUEXEC_OK;
    gxi_scope scope = { 0, 0, 0, 0 };
    gxi_slot *child;
    unsigned turn, kind, i;
    gxi_range range;
    int cu;
    const int gone = gxi_context_is_gone(call, slot);                /* with all its objects */
    const gpuexec_result ended = GXI_LOAD(&gxi.captures) ? GXI_LOAD(&gxi.end_captures)(call, slot, gone) : GPUEXEC_OK;
    const int ends = !slot->adopted && gxi_is_last_handle(slot);
    const int entered = !gone && (result = gxi_enter(call, slot->cu_context, &scope)) == GPUEXEC_OK;
    if (entered) result = gxi_context_drain(call, slot);
    if (ends && GXI_LOAD(&gxi.graphs_lose)) GXI_LOAD(&gxi.graphs_lose)(call, NULL, slot);
    for (turn = 0; turn < 2; turn++) {
        gpuexec_result (*context_ends)(gxi_call *, uint64_t);
        gpuexec_result other;
        context_ends = GXI_LOAD(&gxi.context_ends[turn]);
        other = context_ends ? context_ends(call, slot->id) : GPUEXEC_OK;
        if (!result) result = other;
    }
    for (i = 0; i < info->nwait_events && !gone; i++) GXI_BESIDE(cuEventDestroy, (info->wait_events[i].native));
    if (info->copier_module && !gone && GXI_TRY(cuModuleUnload, (info->copier_module)) && !result)
        result = gxi_fail_cu(call, NULL, "closing the context: cannot unload the kernel of gpuexec_copy_many");
    for (turn = 1; turn <= GXI_TURNS; turn++) for (kind = 1; kind < GXI_KINDS; kind++) {
        if (gxi_kinds[kind].turn != turn) continue;
        while ((child = gxi_first(&info->first[kind])) != NULL) {
            const char *made_at = child->where;
            if (gone && kind != GXI_POOL) child->adopted = 1;        /* a pool belongs to the device */
            if (gxi_destroy(call, child) && !result)
                result = gxi_fail_cu(call, NULL, "closing the context: cannot destroy %s created at %s",
                                     gxi_kinds[kind].name, gxi_place(made_at));
        }
    }
    while (gxi_range_take(slot, &range, call->where)) {
        cu = 0;
        if (range.pooled == GXI_OF_GRAPH || (range.pooled == GXI_POOLED && gone))
            GXI_BESIDE(cuMemFree, (range.lo));   /* it may be freed, or the context, which it outlives */
        else if (!gone) cu = gxi_free_range(call, &range, slot->adopted);
        if (cu && cu != GXI_DEINITIALIZED && !result)
            result = gxi_fail_cu(call, NULL, "closing the context: cannot free memory %s at %s",
                                 gxi_memory_verbs[range.kind], gxi_place(range.where));
    }
    if (ends && !gone && GXI_LOAD(&gxi.graphs_lose)) GXI_LOAD(&gxi.graphs_lose)(call, NULL, NULL);
    if (info->pool && (cu = GXI_LOAD(&gxi.leave_pool)(call, info)) != 0 && cu != GXI_DEINITIALIZED && !result)
        result = gxi_fail_cu(call, NULL, "closing the context: cannot destroy its memory pool");
    gxi_leave(&scope);
    if (gone && info->origin == GXI_PRIMARY) GXI_BESIDE(cuDevicePrimaryCtxRelease, (info->device));
    if (gone) slot->adopted = 1;
    if (gxi_destroy(call, slot) && !result) result = gxi_fail_cu(call, NULL, "cannot release the context");
    return result ? result : ended;
}

GPUEXEC_API gpuexec_result gpuexec_context_close_at(const char *where, gpuexec_context context) {
    gxi_slot *slot;
    GXI_CALL(gpuexec_context_close, GXI_CLEANS);
    if (gxi_was_never_made(context.id, GXI_CONTEXT)) return GPUEXEC_OK;
    if (!(slot = gxi_get(call, context.id, GXI_CONTEXT, "the context"))) return gxi_failed_with();
    if (gxi_context_count(slot, -1) > 0) return GPUEXEC_OK;
    return gxi_context_close(call, slot);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-shutdown */

static void gxi_report_leaks(void) {
    unsigned index, kind, i;
    char line[512];
    size_t at;
    for (kind = 1; kind < GXI_KINDS; kind++) for (index = 0; index < gxi.slots; index++) {
        const gxi_slot *slot = gxi_slot_at(index);
        if (!slot->id || gxi_kind_of(slot->id) != kind) continue;
        /* kernels are closed with their module; default streams, own stream and own pool with the context */
        if (kind == GXI_KERNEL || slot->legacy || (kind == GXI_STREAM && gxi_is_own_stream(slot)) ||
            (kind == GXI_POOL && slot->adopted)) continue;
        snprintf(line, sizeof line, "gpuexec: leak: %s, created at %s\n", gxi_kinds[kind].name, gxi_place(slot->where));
        gxi_log_line(GPUEXEC_LOG_WARNING, line, sizeof line);
    }
    for (at = 0; at < gxi.nleaves; at++) for (i = 0; i < gxi.leaves[at]->count; i++) {
        const gxi_range *r = gxi.leaves[at]->range[i];
        if (GXI_LOAD(&r->state) != GXI_LIVE || r->pooled == GXI_OF_GRAPH) continue;
        snprintf(line, sizeof line, "gpuexec: leak: %llu bytes of %s memory at 0x%llx, %s at %s\n",
                 (unsigned long long)r->bytes, gxi_memory_kinds[r->kind], (unsigned long long)r->lo,
                 gxi_memory_verbs[r->kind], gxi_place(r->where));
        gxi_log_line(GPUEXEC_LOG_WARNING, line, sizeof line);
    }
}

GPUEXEC_API gpuexec_result gpuexec_shutdown(void) {
    gxi_detail kept = { { GPUEXEC_OK, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    const gxi_settings *settings = gxi.settings;
    gxi_thread_record *record;
    gpuexec_result result;
    gxi_slot *slot;
    int own;
    GXI_CALL_NO_PLACE(gpuexec_shutdown, GXI_WAITS);
    if (gxi_in_log) return GPUEXEC_BAD_ARGUMENT; /* the logger must not call the library */
    if (GXI_LOAD(&gxi.started)) {
        if (gxi_desc()->report_leaks) gxi_report_leaks();
        while ((slot = gxi_first(&gxi.first[GXI_CONTEXT])) != NULL) gxi_context_close(call, slot);
    }
    while ((slot = gxi_first(&gxi.first[GXI_PARAMS])) != NULL) gxi_destroy(call, slot);              /* no context */
    while ((slot = gxi_first(&gxi.first[GXI_IPC])) != NULL) gxi_destroy(call, slot);
    gxi_forget_slots();
    result = gxi_take();
    own = result != GPUEXEC_OK;
    if (!own) result = gxi_take_of_others(call, 0);
    if (result && gxi_thread.record) {           /* keep the text: the records are freed */
        kept = gxi_thread.record->last;
        memset(&gxi_thread.record->last, 0, sizeof gxi_thread.record->last);
    }
    gxi_forget();
    memset(&gxi.cu, 0, sizeof gxi.cu);           /* the driver is never unloaded: CUDA does not survive that */
    gxi.trace = 0;
    GXI_STORE(&gxi.settings, NULL);
    GXI_STORE(&gxi.started, 0);
    if (kept.e.result && (record = gxi_record()) != NULL) gxi_write_last(record, &kept.e, own ? NULL : call);
    gxi_text_free(&kept.text);
    while (settings) {
        const gxi_settings *before = settings->before;
        union { const gxi_settings *as; void *memory; } old = { settings };
        free(old.memory);
        settings = before;
    }
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-image   Shared by loading and linking: device code in memory, its kind and its headers; the JIT options and
   logs; the failures. Uses no handles except the context's. */

/* --- reading PTX text: only names and parameter lists ------------------------------------------------------------- */

static int gxi_is_name(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
        c == '%';
}

static const char *gxi_ptx_space(const char *p) {                    /* skips white space and comments */
    for (;;) {
        while (*p == ' ' || (*p >= '\t' && *p <= '\r')) p++;
        if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
            continue;
        }
        if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            if (!end) return p + strlen(p);
            p = end + 2;
            continue;
        }
        return p;
    }
}
static const char *gxi_ptx_next(const char *p) {     /* end of the token at p: a name, .directive or character */
    if (*p == '"') {
        p += 1 + strcspn(p + 1, "\"");
        return *p ? p + 1 : p;
    }
    if (*p == '.' || gxi_is_name((unsigned char)*p)) {
        p++;
        while (gxi_is_name((unsigned char)*p)) p++;
        return p;
    }
    return *p ? p + 1 : p;
}

static int gxi_ptx_is(const char *p, const char *end, const char *word) {
    return (size_t)(end - p) == strlen(word) && memcmp(p, word, (size_t)(end - p)) == 0;
}

/* Finds the next .entry from p on: its name in [*name, *name_end). Returns the position after it; NULL at the end of
   the text. */
static const char *gxi_ptx_entry(const char *p, const char **name, const char **name_end) {
    for (p = gxi_ptx_space(p); *p; ) {
        const char *end = gxi_ptx_next(p);
        if (gxi_ptx_is(p, end, ".entry")) {
            *name = gxi_ptx_space(end);
            *name_end = gxi_ptx_next(*name);
            return *name_end;
        }
        p = gxi_ptx_space(end);
    }
    return NULL;
}
/* Sizes, offsets and gpuexec_parameter_types of the parameters in the list at p, which follows the entry's name.
   Returns their number, -1 if the list cannot be read. */
static int gxi_ptx_params(const char *p, unsigned short *sizes, unsigned short *offsets, unsigned short *types,
                          int max) {
    int n = 0;
    unsigned short type = 0;
    unsigned long size = 0, count = 1, alignment = 0, at = 0;
    p = gxi_ptx_space(p);
    if (*p != '(') return 0;
    for (p = gxi_ptx_space(p + 1); *p; ) {
        const char *end = gxi_ptx_next(p);
        if (*p == ')' || *p == ',') {
            if (size) {
                if (!alignment) alignment = size;
                if (alignment > 0xFFFF) return -1;
                at = (at + alignment - 1) / alignment * alignment;
                if (n == max || size > 0xFFFF || count > 0xFFFF || size * count > 0xFFFF || at > 0xFFFF) return -1;
                offsets[n] = (unsigned short)at;
                types[n] = type;
                sizes[n++] = (unsigned short)(size * count);
                at += size * count;
            }
            if (*p == ')') return n;
            size = alignment = 0;
            count = 1;
        /* after the type, .ptr .align is the pointee's alignment */
        } else if (size == 0 && gxi_ptx_is(p, end, ".align")) {
            end = gxi_ptx_space(end);
            alignment = strtoul(end, NULL, 0);
            end = gxi_ptx_next(end);
        } else if (p[0] == '.' && size == 0 && strchr("busf", p[1]) && p[2] >= '1' && p[2] <= '9') {
            size = strtoul(p + 2, NULL, 10) / 8;
            type = p[1] == 'b'   ? GPUEXEC_PARAMETER_BITS
                   : p[1] == 'f' ? GPUEXEC_PARAMETER_FLOAT
                                 : GPUEXEC_PARAMETER_INTEGER;
        } else if (size && type != GPUEXEC_PARAMETER_FLOAT && gxi_ptx_is(p, end, ".ptr")) {
            type = GPUEXEC_PARAMETER_POINTER;
        } else if (*p == '[') {
            type = GPUEXEC_PARAMETER_BYTES;
            end = gxi_ptx_space(end);
            count = strtoul(end, NULL, 0);
            end += strcspn(end, "]");
        }
        p = gxi_ptx_space(end);
    }
    return -1;
}
/* Adds only the entries of a text, with their parameters: gxi_ptx_entry and gxi_ptx_params read them like the full
   text. */
static void gxi_ptx_signatures(gxi_text *t, const char *p) {
    const char *name, *end;
    while ((p = gxi_ptx_entry(p, &name, &end)) != NULL) {
        if (*gxi_ptx_space(p) == '(')
            for (p = gxi_ptx_space(p); *p && *p != ')'; ) p = gxi_ptx_space(gxi_ptx_next(p));
        gxi_add(t, ".entry %.*s%s\n", (int)(p - name), name, *p == ')' ? ")" : "");
    }
}
/* The value of a directive, such as "8.4" for .version; empty if it is not there. */
static void gxi_ptx_directive(const char *text, const char *directive, char *out, size_t size) {
    const char *p = gxi_ptx_space(text);
    int tokens = 0;
    out[0] = 0;
    while (*p && tokens++ < 64) {                                    /* they are at the top */
        const char *end = gxi_ptx_next(p);
        if (gxi_ptx_is(p, end, directive)) {
            size_t n;
            p = gxi_ptx_space(end);
            n = strcspn(p, " ,\t\r\n/");
            snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), p);
            return;
        }
        p = gxi_ptx_space(end);
    }
}
/* The highest PTX version that a driver accepts, times 10. Table "PTX ISA Release History" of NVIDIA's PTX ISA. */
static int gxi_ptx_of_driver(int version) {
    static const int table[][2] = { { 13010, 91 }, { 13000, 90 }, { 12090, 88 }, { 12080, 87 }, { 12070, 86 },
                                    { 12050, 85 },
                                    { 12040, 84 }, { 12030, 83 }, { 12020, 82 }, { 12010, 81 }, { 12000, 80 },
                                    { 11080, 78 }, { 11070, 77 }, { 11060, 76 }, { 11050, 75 }
                                    };
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) if (version >= table[i][0]) return table[i][1];
    return 74;                                                       /* CUDA 11.4, the oldest supported */
}

/* --- images in memory --------------------------------------------------------------------------------------------- */

static uint64_t gxi_le(const void *p, unsigned bytes) {              /* a little-endian number */
    uint64_t x = 0;
    while (bytes--) x = x << 8 | ((const unsigned char *)p)[bytes];
    return x;
}
/* Lengths in headers may have any value: a sum that overflows is the largest number, never a small one. */
static uint64_t gxi_sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

/* The values up to GXI_LIBRARY equal gpuexec_input_type's. */
typedef enum gxi_image_kind { GXI_TEXT, GXI_PTX, GXI_CUBIN, GXI_FATBIN, GXI_OBJECT, GXI_LIBRARY, GXI_LTO,
                              GXI_HOST_ELF } gxi_image_kind;
static const char *const gxi_image_kinds[] = { "unknown", "PTX text", "a cubin",
                                               "a fatbin", "a host object", "a library of host objects", "LTO-IR",
                                               "an ELF file without device code" };

/* Compares byte by byte, because a text may end earlier. n 0: the length is not known. */
static GXI_NOINLINE int gxi_starts(const void *image, size_t n, const char *magic) {
    const char *p = (const char *)image;
    size_t i;
    for (i = 0; magic[i]; i++) if ((n && i >= n) || p[i] != magic[i]) return 0;
    return 1;
}
static const unsigned char *gxi_search(const unsigned char *p, const unsigned char *end, const char *what) {
    for (; p < end && (p = (const unsigned char *)memchr(p, what[0], (size_t)(end - p))) != NULL; p++)
        if ((size_t)(end - p) >= strlen(what) && memcmp(p, what, strlen(what)) == 0) return p;
    return NULL;
}
#define GXI_FATBIN_MAGIC "\x50\xED\x55\xBA"
#define GXI_FATBIN_WRAPPER_MAGIC "\xB1\x43\x62\x46"

/* What the fatbins in these bytes contain: 1 code, 2 LTO-IR (parts of kind 8; kind 1 is PTX, 2 a cubin), 3 both, 0 no
   fatbin. */
static int gxi_fatbin_parts(const unsigned char *p, const unsigned char *end) {
    int found = 0;
    while ((p = gxi_search(p, end, GXI_FATBIN_MAGIC)) != NULL && end - p >= 16) {
        const unsigned char *part = p + 16;
        uint64_t left = gxi_le(p + 8, 8), bytes;
        if (gxi_le(p + 4, 4) == 0x100001 && left <= (uint64_t)(end - part))      /* version 1, and 16 bytes of header */
            for (; left >= 16; left -= bytes, part += bytes) {
                found |= gxi_le(part, 2) == 8 ? 2 : 1;
                bytes = gxi_sum(gxi_le(part + 4, 4), gxi_le(part + 8, 8));
                if (bytes < 16 || bytes > left) break;
            }
        p += 4;
    }
    return found;
}

/* The length that a cubin or fatbin states: header and payload of a fatbin, everything that an ELF file's tables cover.
   GXI_NO_LENGTH if that is more than memory can hold. */
#define GXI_NO_LENGTH (SIZE_MAX / 2)
static size_t gxi_image_bytes(const void *image) {
    const unsigned char *p = (const unsigned char *)image;
    uint64_t segments, sections;
    if (gxi_starts(p, 0, GXI_FATBIN_MAGIC)) segments = sections = gxi_sum(gxi_le(p + 6, 2), gxi_le(p + 8, 8));
    else if (p[4] != 2) return 52;               /* a 32-bit cubin, obsolete */
    else {
        segments = gxi_sum(gxi_le(p + 32, 8), gxi_le(p + 54, 2) * gxi_le(p + 56, 2));
        sections = gxi_sum(gxi_le(p + 40, 8), gxi_le(p + 58, 2) * gxi_le(p + 60, 2));
    }
    if (segments < sections) segments = sections;
    return segments < GXI_NO_LENGTH ? (size_t)segments : GXI_NO_LENGTH;
}
/* Checked before anything is read: a length that no memory can hold, such as a negative number. */
static gpuexec_result gxi_check_length(gxi_call *call, const char *name, size_t n) {
    if (n < GXI_NO_LENGTH) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                    "pass its length in bytes; check that it is not a negative number, and that its file could be read",
                    "the length of %s is %lu bytes, but memory can hold at most %lu", name, (unsigned long)n,
                        (unsigned long)GXI_NO_LENGTH - 1);
}
/* The kind of an image, by its content. Anything else counts as text. n is its length, 0 if not known. */
static gxi_image_kind gxi_image_is(const void *image, size_t n) {
    const unsigned char *p = (const unsigned char *)image, *end = p + n;
    int parts;
    if (gxi_starts(p, n, "\x7F" "ELF")) {
        if (n && n < 20) return GXI_HOST_ELF;
        if (gxi_le(p + 18, 2) == 190) return GXI_CUBIN;                  /* e_machine is EM_CUDA */
        parts = gxi_fatbin_parts(p, end);
        return parts == 0 ? GXI_HOST_ELF : parts == 2 ? GXI_LTO : GXI_OBJECT;
    }
    if (gxi_starts(p, n, "!<arch>\n")) return gxi_fatbin_parts(p, end) == 2 ? GXI_LTO : GXI_LIBRARY;
    if (gxi_starts(p, n, GXI_FATBIN_MAGIC)) {
        if (!n && gxi_image_bytes(p) < GXI_NO_LENGTH) end = p + gxi_image_bytes(p);
        return gxi_fatbin_parts(p, end) == 2 ? GXI_LTO : GXI_FATBIN;
    }
    if (gxi_starts(p, n, GXI_FATBIN_WRAPPER_MAGIC)) return GXI_FATBIN;
    /* NVVM container, LLVM bitcode */
    if (gxi_starts(p, n, "\xED\x43\x4E\x7F") || gxi_starts(p, n, "BC\xC0\xDE")) return GXI_LTO;
    return GXI_TEXT;
}
static int gxi_is_text(const char *p, size_t n) {                  /* after the first NUL, only NULs may follow */
    size_t i = 0;
    while (i < n && p[i]) i++;
    while (i < n && !p[i]) i++;
    return i == n;
}

/* The fatbin that nvcc's wrapper (__fatbinwrap in its host code) points to. In a file, or in data read from one, the
   pointer is not valid in this process: with a length, only exactly the bytes of a wrapper are followed. */
static const void *gxi_unwrap(const void *image, size_t *n) {
    if (!gxi_starts(image, *n, GXI_FATBIN_WRAPPER_MAGIC) || (*n && *n != 8 + 2 * sizeof image)) return image;
    memcpy(&image, (const char *)image + 8, sizeof image);
    *n = 0;
    return image;
}
/* Refuses data that is not an image, before the driver reads past its end. For a binary of unknown length, `n` receives
   the length in its header. */
static gpuexec_result gxi_check_image(gxi_call *call, const char *name, const void *image, size_t *n,
                                      gxi_image_kind kind) {
    size_t says;
    if (gxi_starts(image, *n, GXI_FATBIN_WRAPPER_MAGIC) && *n >= 8 + sizeof image)
        return gxi_fail(call, GPUEXEC_BAD_IMAGE, "use the fatbin itself: nvcc -fatbin",
                        "%s is the wrapper that nvcc puts around a fatbin, not the fatbin", name);
    if (kind == GXI_HOST_ELF)
        return gxi_fail(call, GPUEXEC_BAD_IMAGE, "load PTX, or a cubin or fatbin made by nvcc",
                        "%s is an ELF file, but not a cubin; it may be a host program or object", name);
    if (kind == GXI_LTO)
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED,
                        "compile it without -dlto and without lto_ architectures, or link it with nvJitLink and load "
                        "the resulting cubin",
                        "%s is LTO-IR, which the driver's linker no longer accepts as of CUDA 12", name);
    if (kind == GXI_TEXT && *n && gxi_starts(image, *n, "SIMLINK2")) {     /* linked by the CPU device */
        says = *n < 16 ? 16 : gxi_le((const unsigned char *)image + 8, 8);
        if (*n < says)
            return gxi_fail(call, GPUEXEC_BAD_IMAGE,
                            "check that the file was copied completely and that the length is correct",
                            "%s is a truncated image of the CPU device's linker: it has %lu bytes, but its header "
                            "gives a length of %lu", name, (unsigned long)*n, (unsigned long)says);
        return GPUEXEC_OK;
    }
    if (kind == GXI_TEXT)
        return *(const char *)image ? GPUEXEC_OK : gxi_fail(call, GPUEXEC_BAD_IMAGE, NULL, "%s is empty", name);
    if (kind != GXI_CUBIN && kind != GXI_FATBIN) return GPUEXEC_OK;
    says = *n && *n < (kind == GXI_CUBIN ? 64 : 16) ? 64 : gxi_image_bytes(image);
    if (!*n && says == GXI_NO_LENGTH)
        return gxi_fail(call, GPUEXEC_BAD_IMAGE,
                        "check that it was read completely and not modified; pass its length for a more precise error",
                        "%s is %s with a damaged header, which gives a length of at least %lu bytes: memory cannot "
                        "hold that", name, gxi_image_kinds[kind], (unsigned long)says);
    if (!*n) *n = says;
    if (*n >= says) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_BAD_IMAGE, "check that the file was copied completely and that the length is correct",
                    "%s is a truncated %s: it has %lu bytes, but its header gives a length of at least %lu", name,
                    gxi_image_kinds[kind] + 2, (unsigned long)*n, (unsigned long)says);
}
/* The device runtime's launch calls are symbols in PTX and cubins. A fatbin's compressed parts hide them (unless built
   with nvcc --no-compress). */
static int gxi_has_device_launches(const void *data, size_t bytes) {
    static const char *const calls[] = { "cudaCDP2LaunchDevice", "cudaLaunchDevice", "cnpLaunch" };
    const unsigned char *p = (const unsigned char *)data;
    size_t i;
    for (i = 0; i < sizeof calls / sizeof *calls; i++) if (gxi_search(p, p + bytes, calls[i])) return 1;
    return 0;
}

/* --- JIT options and logs ----------------------------------------------------------------------------------------- */

/* All members of the desc that are JIT options. 0 means "not set" and passes nothing; -1, where allowed, passes 0. */
typedef struct gxi_jit_row { const char *name; size_t at; int option, low, high; } gxi_jit_row;
static const gxi_jit_row gxi_jit_rows[] = {
#define GXI_ROW(member, option, low, high) { #member, offsetof(gpuexec_module_desc, member), option, low, high }
    GXI_ROW(max_registers,       GXI_JIT_MAX_REGISTERS,              0, 65535),
    GXI_ROW(threads_per_block,   GXI_JIT_THREADS_PER_BLOCK,          0, 65535),
    GXI_ROW(optimization,        GXI_JIT_OPTIMIZATION_LEVEL,        -1, 4),
    GXI_ROW(target,              GXI_JIT_TARGET,                     0, 0x7FFFFFFF),
    GXI_ROW(prefer_binary,       GXI_JIT_FALLBACK_STRATEGY,          0, 1),
    GXI_ROW(cache_mode,          GXI_JIT_CACHE_MODE,                 0, 2),
    GXI_ROW(debug_info,          GXI_JIT_GENERATE_DEBUG_INFO,        0, 1),
    GXI_ROW(line_info,           GXI_JIT_GENERATE_LINE_INFO,         0, 1),
    GXI_ROW(verbose,             GXI_JIT_LOG_VERBOSE,                0, 1),
    GXI_ROW(position_independent,GXI_JIT_POSITION_INDEPENDENT_CODE,  0, 1),
    GXI_ROW(min_blocks,          GXI_JIT_MIN_CTA_PER_SM,             0, 65535),
    GXI_ROW(max_block_threads,   GXI_JIT_MAX_THREADS_PER_BLOCK,      0, 65535),
    GXI_ROW(override_directives, GXI_JIT_OVERRIDE_DIRECTIVE_VALUES,  0, 1),
    GXI_ROW(compile_threads,     GXI_JIT_SPLIT_COMPILE,             -1, 65535)
#undef GXI_ROW
};
enum { GXI_JIT_ROWS = sizeof gxi_jit_rows / sizeof gxi_jit_rows[0],
       GXI_JIT_NEW = GXI_JIT_POSITION_INDEPENDENT_CODE /* this option and later ones are not in every driver */ };
static int gxi_jit_value(const gpuexec_module_desc *desc, const gxi_jit_row *row) {
    int value;
    memcpy(&value, (const char *)desc + row->at, sizeof value);
    return value;
}
static gpuexec_result gxi_check_jit(gxi_call *call, const gpuexec_module_desc *desc, int linking) {
    size_t i;
    if (gxi_check_desc(call, "gpuexec_module_desc", desc->start_canary, desc->end_canary)) return GPUEXEC_BAD_ARGUMENT;
    for (i = 0; i < GXI_JIT_ROWS; i++) {
        const gxi_jit_row *row = &gxi_jit_rows[i];
        int value = gxi_jit_value(desc, row);
        if (value < row->low || value > row->high)
            return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                            row->high == row->low + 1 ?
                            "gpuexec_module_desc.%s is %d; it must be %d or %d, and 0 means the default"
                            : "gpuexec_module_desc.%s is %d; it must be from %d to %d, and 0 means the default",
                            row->name, value, row->low, row->high);
    }
    if (desc->target && desc->threads_per_block)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "set only one of them; for another target, set max_registers",
                        "gpuexec_module_desc sets both target (%d) and threads_per_block (%d), "
                        "which CUDA cannot combine", desc->target, desc->threads_per_block);
    if (linking && desc->prefer_binary)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "set it to 0",
                        "gpuexec_module_desc.prefer_binary is set, but a linker accepts exact matches only");
    return GPUEXEC_OK;
}

/* Options of one compilation or link. The driver silently truncates a log at the size given: if a log is full, the
   caller repeats the compilation with larger logs. */
enum { GXI_LOG_MOST = 64 << 20 };
typedef struct gxi_jit {
    size_t size;                                 /* of each log; 0 before the first use */
    char  *logs;                                 /* the info log, then the error log */
    int    options[5 + GXI_JIT_ROWS];
    void  *values[5 + GXI_JIT_ROWS];             /* the driver also writes into them */
    unsigned n;
} gxi_jit;

static void gxi_jit_option(gxi_jit *jit, int option, void *value) {
    jit->options[jit->n] = option;
    jit->values[jit->n++] = value;
}
/* Allocates the logs, or larger ones the next time. With `verbose` the first size is larger: a second compilation may
   come from the driver's cache, which writes no log. */
static gpuexec_result gxi_jit_make(gxi_call *call, gxi_jit *jit, const gpuexec_module_desc *desc) {
    size_t i, size = jit->size ? jit->size * 4 : desc->verbose ? (size_t)1 << 20 : (size_t)16 << 10;
    gxi_free(jit->logs);
    memset(jit, 0, sizeof *jit);
    jit->logs = (char *)gxi_realloc(NULL, 2 * size);
    if (!jit->logs)
        return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
                        "out of host memory: cannot allocate the compiler's logs (%lu bytes)",
                        (unsigned long)(2 * size));
    jit->size = size;
    jit->logs[0] = jit->logs[size] = 0;
    gxi_jit_option(jit, GXI_JIT_WALL_TIME, NULL);                    /* first: its result is values[0] */
    gxi_jit_option(jit, GXI_JIT_INFO_LOG_BUFFER, jit->logs);
    gxi_jit_option(jit, GXI_JIT_INFO_LOG_BUFFER_SIZE_BYTES, (void *)(uintptr_t)size);
    gxi_jit_option(jit, GXI_JIT_ERROR_LOG_BUFFER, jit->logs + size);
    gxi_jit_option(jit, GXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (void *)(uintptr_t)size);
    for (i = 0; i < GXI_JIT_ROWS; i++) {
        int value = gxi_jit_value(desc, &gxi_jit_rows[i]);
        if (value) gxi_jit_option(jit, gxi_jit_rows[i].option, (void *)(uintptr_t)(unsigned)(value > 0 ? value : 0));
    }
    return GPUEXEC_OK;
}
/* after the driver has written them */
static void gxi_jit_end_logs(gxi_jit *jit) { jit->logs[jit->size - 1] = jit->logs[2 * jit->size - 1] = 0; }
static int gxi_jit_is_cut(const gxi_jit *jit) {
    return jit->size < GXI_LOG_MOST &&
        (!memchr(jit->logs, 0, jit->size - 2) || !memchr(jit->logs + jit->size, 0, jit->size - 2));
}
static double gxi_jit_ms(const gxi_jit *jit) {
    float ms;
    memcpy(&ms, &jit->values[0], sizeof ms);
    return (double)ms;
}
static void gxi_keep_longer(char **kept, const char *text) {
    if (*kept && strlen(text) <= strlen(*kept)) return;
    gxi_free(*kept);
    *kept = gxi_copy_string(text);
}
/* For the error text: the error log, then the info log. */
static char *gxi_jit_log(const gxi_jit *jit) {
    gxi_text t = { 0, 0, 0, 0 };
    const char *info = jit->logs, *errors = jit->logs + jit->size;
    gxi_add(&t, "%s%s%s", errors, *errors && *info && errors[strlen(errors) - 1] != '\n' ? "\n" : "", info);
    if (t.failed) gxi_text_free(&t);
    return t.p;
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

/* The cure for a CUresult about the compiler, not about its input; NULL for others. */
static GXI_COLD char *gxi_jit_cure(int cu, const gpuexec_module_desc *desc) {
    gxi_text cure = { 0, 0, 0, 0 };
    size_t i;
    if (cu == GXI_JIT_COMPILER_NOT_FOUND)
        gxi_add(&cure, "install the complete driver, or load a cubin: libnvidia-ptxjitcompiler.so, the driver's "
                       "compiler, is missing (in a container, NVIDIA_DRIVER_CAPABILITIES must contain compute)");
    if (cu == GXI_JIT_COMPILATION_DISABLED)
        gxi_add(&cure, "unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT, or load a cubin for this device");
    for (i = 0; i < GXI_JIT_ROWS && cu == GXI_INVALID_VALUE; i++)
        if (gxi_jit_rows[i].option >= GXI_JIT_NEW && gxi_jit_value(desc, &gxi_jit_rows[i]))
            gxi_add(&cure, "%s%s", cure.n ? ", "
                    : "install a driver for CUDA 12 or later, which may be required for gpuexec_module_desc.",
                      gxi_jit_rows[i].name);
    return cure.p;
}
/* Whether this text names a function of the device runtime. */
static int gxi_wants_device_runtime(const char *text) {
    return strstr(text, "cudaCDP") || strstr(text, "cudaLaunchDevice") || strstr(text, "cudaGetParameterBuffer")
        || strstr(text, "ynamic parallelism");
}
/* Fails if the cause is something that the CPU device does not support; 0 if it is not. */
static GXI_COLD int gxi_fail_cpu_device(gxi_call *call, int cu, const char *name, gxi_image_kind kind) {
    if (!gxi_is_cpu_device()) return 0;
    if (call->log && gxi_wants_device_runtime(call->log))
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED,
                 "launch these kernels from the host, or run on a GPU and link the toolkit's libcudadevrt.a",
                 "%s has kernels that launch kernels (dynamic parallelism), which the CPU device does not support: "
                 "it has no device runtime", name);
    else if (cu == GXI_NO_BINARY_FOR_GPU)
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED,
                 kind == GXI_LIBRARY
                     ? "compile its sources with nvcc -rdc=true -ptx and link that PTX. Kernels that launch kernels "
                       "(libcudadevrt.a) run only on GPUs"
                     : "use the PTX: nvcc -ptx -arch=compute_75 (for linking, also -rdc=true)",
                 "%s is %s, but the CPU device executes only PTX text, not machine code", name, gxi_image_kinds[kind]);
    else return 0;
    return 1;
}
static GXI_COLD void gxi_fail_load(gxi_call *call, int cu, const gxi_slot *context, const gpuexec_module_desc *desc,
                                   const char *name, const char *ptx, gxi_image_kind kind) {
    static const char few[] = "pass the length of the text, not the sizeof of a pointer (0 means PTX up to its NUL): "
                              "it has only a few bytes";
    char version[32] = "", target[32] = "";
    gxi_call query = { call->function, NULL, GXI_QUERIES, 0, 0, 0, 0, 0 };
    gxi_text cure = { 0, 0, 0, 0 };
    int sm, supported = gxi_ptx_of_driver(gxi.version);
    long target_sm = 0;
    gxi_capability(&query, gxi_context_of(context)->device, &sm);
    if (ptx) {
        gxi_ptx_directive(ptx, ".version", version, sizeof version);
        gxi_ptx_directive(ptx, ".target", target, sizeof target);
        if (strncmp(target, "sm_", 3) == 0) target_sm = strtol(target + 3, NULL, 10);
    }
    if (gxi_fail_cpu_device(call, cu, name, kind)) return;
    /* the wording of ptxas and of nvlink */
    if (call->log && (strstr(call->log, "nresolved extern") || strstr(call->log, "ndefined reference"))) {
        gxi_fail_cu(call, "link it with the images that define them: gpuexec_linker_create; kernels that launch "
                    "kernels need libcudadevrt.a", "%s uses symbols that are defined elsewhere", name);
    } else if (cu == GXI_UNSUPPORTED_PTX_VERSION) {
        gxi_fail_cu(call,
                    "compile it with a toolkit no newer than the driver, "
                    "lower its .version line if the code uses nothing "
                    "newer, or update the driver",
                    "%s is PTX with .version %s, but the driver (CUDA %d.%d) supports .version %d.%d at most",
                    name, version,
                    gxi.version / 1000, gxi.version % 1000 / 10, supported / 10, supported % 10);
    } else if (cu == GXI_INVALID_PTX && target_sm > sm) {
        gxi_add(&cure, "compile it for this device's architecture or an older one: nvcc -ptx -arch=compute_%d", sm);
        gxi_fail(call, GPUEXEC_IMAGE_TOO_NEW, cure.p,
                 "%s is PTX for .target %s, but device %d has compute capability %d.%d",
                 name, target, gxi_context_of(context)->ordinal, sm / 10, sm % 10);
    } else if (cu == GXI_INVALID_SOURCE && desc->target && desc->target != sm) {
        gxi_fail_cu(call, "set target to 0 to compile for the device",
                    "%s was compiled for gpuexec_module_desc.target %d, but device %d has compute capability %d.%d",
                    name, desc->target, gxi_context_of(context)->ordinal, sm / 10, sm % 10);
    } else if (cu == GXI_INVALID_PTX) {
        gxi_fail_cu(call, ptx && strlen(ptx) <= sizeof(void *) ? few
                    : "fix the errors in the log; `ptxas -arch=sm_NN file.ptx` reports the same errors",
                    "%s is PTX that does not compile", name);
    } else if (cu == GXI_NO_BINARY_FOR_GPU) {
        gxi_add(&cure, "compile for it: nvcc -gencode arch=compute_%d,code=[sm_%d,compute_%d], or load PTX", sm, sm,
                sm);
        gxi_fail_cu(call, cure.p, "%s has no code for device %d (compute capability %d.%d)", name,
                    gxi_context_of(context)->ordinal, sm / 10, sm % 10);
    } else if (cu == GXI_INVALID_IMAGE) {
        const char *pass = "pass PTX text that ends with a NUL (or pass its length), or a cubin or fatbin made by nvcc";
        if (ptx && (strstr(ptx, "__global__") || strstr(ptx, "#include")))
            pass = "compile it first, since it looks like CUDA C source: nvcc -ptx -arch=compute_75 kernel.cu -o "
                   "kernel.ptx";
        else if (ptx && !strchr(ptx, '\n') && strlen(ptx) < 200 && strchr(ptx, '.'))
            pass = "use gpuexec_module_load_file, if this is the name of a file";
        else if (ptx && strlen(ptx) <= sizeof(void *))
            pass = few;
        gxi_fail_cu(call, pass, "%s is neither PTX nor a cubin or fatbin", name);
    } else {
        cure.p = gxi_jit_cure(cu, desc);
        gxi_fail_cu(call, cure.p, "cannot load %s", name);
    }
    gxi_text_free(&cure);
}

static char *gxi_read_file(gxi_call *call, const char *path, size_t *bytes) {
    const char *other = gxi_not_a_file(path);
    FILE *file;
    char *data = NULL;
    size_t n = 0, cap = 0;
    if (other) {
        gxi_fail(call, GPUEXEC_FILE_ERROR, "pass a regular file; for a pipe, read the data and pass it to "
                                           "gpuexec_module_load or gpuexec_linker_add",
                 "\"%s\" is %s, not a regular file", path, other);
        return NULL;
    }
    file = fopen(path, "rb");
    if (!file) {
        char directory[1024] = "";
        int error = errno, relative = path[0] != '/' && path[0] != '\\' && !(path[0] && path[1] == ':');
        if (relative && !gxi_getcwd(directory, (int)sizeof directory)) directory[0] = 0;
        gxi_fail(call, GPUEXEC_FILE_ERROR,
                 relative ? "use an absolute path, or run from the folder that the path is relative to" : NULL,
                 "cannot open \"%s\": %s%s%s%s", path, strerror(error),
                 directory[0] ? " (the working directory is \"" : "", directory, directory[0] ? "\")" : "");
        return NULL;
    }
    for (;;) {
        size_t got;
        if (cap - n < 2) {
            char *more = (char *)gxi_realloc(data, cap = cap ? cap * 2 : 65536);
            if (!more) {
                gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot read \"%s\"", path);
                break;
            }
            data = more;
        }
        got = fread(data + n, 1, cap - n - 1, file);
        n += got;
        if (got) continue;
        if (ferror(file)) gxi_fail(call, GPUEXEC_FILE_ERROR, NULL, "cannot read \"%s\": %s", path, strerror(errno));
        else if (n == 0) gxi_fail(call, GPUEXEC_BAD_IMAGE, NULL, "the file \"%s\" is empty", path);
        else {
            data[n] = 0;
            *bytes = n;
            fclose(file);
            return data;
        }
        break;
    }
    gxi_free(data);
    fclose(file);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-module   Modules, their variables, and their kernels. */

struct gxi_module {
    char  *name, *log;
    char  *ptx;                                  /* gxi_ptx_signatures: not all drivers report parameters */
    char **kernels;
    int    nkernels;                             /* -1: not known */
    double jit_ms;
    int    threads_per_block;                    /* that the compiler targeted; 0 if not requested */
    uint64_t image_hash;                         /* gxi_hash of the image; 0 for an adopted module */
    int    device_launches;                      /* 1: kernels may launch kernels (dynamic parallelism) */
    uint32_t kernels_made;                       /* list of its kernels' handles; guarded by gxi_tables */
};

static void gxi_forget_kernels(gxi_module *m) {
    int i;
    for (i = 0; i < m->nkernels; i++) gxi_free(m->kernels[i]);
    gxi_free(m->kernels);
    m->kernels = NULL;
    m->nkernels = -1;
}
static void gxi_module_free(gxi_module *m) {
    if (!m) return;
    gxi_forget_kernels(m);
    gxi_free(m->ptx);
    gxi_free(m->name);
    gxi_free(m->log);
    gxi_free(m);
}
static int gxi_module_end(gxi_call *call, gxi_slot *old) {
    gxi_slot *kernel;
    int cu;
    for (; (kernel = gxi_first(&old->is.module.info->kernels_made)) != NULL; gxi_destroy(call, kernel))
        if (!old->adopted && GXI_LOAD(&gxi.graphs_lose)) GXI_LOAD(&gxi.graphs_lose)(call, NULL, kernel);
    cu = old->adopted ? 0 : GXI_TRY(cuModuleUnload, (old->is.module.native));
    gxi_module_free(old->is.module.info);
    return cu;
}
static int gxi_kernel_end(gxi_call *call, gxi_slot *old) {           /* the module owns the CUfunction */
    (void)call;
    gxi_free(old->is.kernel.info);
    return 0;
}

static const gpuexec_module_desc gxi_module_defaults = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

/* A new module of that name, without kernels; NULL: no memory. */
static gxi_module *gxi_module_new(const char *name) {
    gxi_module *m = (gxi_module *)gxi_realloc(NULL, sizeof *m);
    if (!m) return NULL;
    memset(m, 0, sizeof *m);
    m->nkernels = -1;
    m->name = gxi_copy_string(name);
    if (m->name) return m;
    gxi_free(m);
    return NULL;
}

/* An image to load. ptx: NULL, or its text with a final NUL. */
typedef struct gxi_image { const void *data; size_t bytes; gxi_image_kind kind; const char *ptx; } gxi_image;

/* Loads it into the current context; NULL after a failure. */
static struct CUmod_st *gxi_compile(gxi_call *call, const gxi_slot *context, const gpuexec_module_desc *desc,
                                    const gxi_image *image, gxi_module *m) {
    const void *const data = image->ptx ? image->ptx : image->data;
    struct CUmod_st *native = NULL;
    gxi_jit jit;
    unsigned i;
    int cut, cu;
    memset(&jit, 0, sizeof jit);
    do {
        if (gxi_jit_make(call, &jit, desc)) return NULL;
        cu = GXI_TRY_MAKE(native, cuModuleLoadDataEx, (&native, data, jit.n, jit.options, jit.values));
        gxi_jit_end_logs(&jit);
        cut = gxi_jit_is_cut(&jit);
        if (cu == 0) gxi_keep_longer(&m->log, jit.logs);
        if (cu == 0 && cut) GXI_BESIDE(cuModuleUnload, (native));
    } while (cut);
    m->jit_ms = gxi_jit_ms(&jit);
    for (i = 0; i < jit.n; i++)
        if (jit.options[i] == GXI_JIT_THREADS_PER_BLOCK) m->threads_per_block = (int)(uintptr_t)jit.values[i];
    if (cu) {
        char *const log = gxi_jit_log(&jit);
        call->log = log;
        gxi_fail_load(call, cu, context, desc, m->name, image->ptx, image->kind);
        call->log = NULL;
        gxi_free(log);
    }
    gxi_free(jit.logs);
    return cu ? NULL : native;
}

/* Lists the kernels' names from the text. The same kernel may be in several linked texts if it is weak, or be declared
   before it is defined. */
static void gxi_list_ptx_kernels(gxi_module *m, const char *ptx) {
    const char *p, *name, *end;
    size_t count = 0;
    int i;
    gxi_forget_kernels(m);
    for (p = ptx; (p = gxi_ptx_entry(p, &name, &end)) != NULL; ) count++;
    m->kernels = (char **)gxi_realloc(NULL, (count + 1) * sizeof *m->kernels);
    if (!m->kernels) return;
    m->nkernels = 0;
    for (p = ptx; (p = gxi_ptx_entry(p, &name, &end)) != NULL; ) {
        char *copy;
        for (i = 0; i < m->nkernels && !gxi_ptx_is(name, end, m->kernels[i]); i++) { }
        if (i < m->nkernels) continue;
        copy = (char *)gxi_realloc(NULL, (size_t)(end - name) + 1);
        if (!copy) {
            gxi_forget_kernels(m);
            return;
        }
        memcpy(copy, name, (size_t)(end - name));
        copy[end - name] = 0;
        m->kernels[m->nkernels++] = copy;
    }
}
/* Lists the kernels' names, from the driver or from the text. Not knowing them is no failure. */
enum { GXI_MOST_KERNELS = 1 << 20 };             /* a larger count is invalid */
static void gxi_list_kernels(const gxi_call *call, struct CUmod_st *module, gxi_module *m, const char *ptx) {
    struct CUfunc_st **functions;
    unsigned count = 0, i;
    if (!GXI_HAS(cuModuleGetFunctionCount) || !GXI_HAS(cuModuleEnumerateFunctions) || !GXI_HAS(cuFuncGetName)) {
        if (ptx) gxi_list_ptx_kernels(m, ptx);
        return;
    }
    if (GXI_BESIDE(cuModuleGetFunctionCount, (&count, module)) || count > GXI_MOST_KERNELS) return;
    functions = (struct CUfunc_st **)gxi_realloc(NULL, (count + 1) * sizeof *functions);
    m->kernels = (char **)gxi_realloc(NULL, (count + 1) * sizeof *m->kernels);
    if (functions) memset(functions, 0, (count + 1) * sizeof *functions);
    if (functions && m->kernels &&
        (count == 0 || GXI_BESIDE(cuModuleEnumerateFunctions, (functions, count, module)) == 0)) {
        m->nkernels = 0;
        for (i = 0; i < count; i++) {
            const char *name = NULL;
            if (!functions[i] || GXI_BESIDE(cuFuncGetName, (&name, functions[i])) || !name) break;
            if ((m->kernels[i] = gxi_copy_string(name)) == NULL) break;
            m->nkernels++;
        }
        if (i < count) gxi_forget_kernels(m);
    }
    gxi_free(functions);
}

/* Creates the module in the current context, with what the image says about its kernels; 0 after a failure. */
static uint64_t gxi_module_make(gxi_call *call, const gxi_slot *context, const gpuexec_module_desc *desc,
                                const gxi_image *image, gxi_module *m) {
    struct CUmod_st *const native = gxi_compile(call, context, desc, image, m);
    const size_t bytes = image->ptx ? strlen(image->ptx) : image->bytes;
    gxi_text signatures = { 0, 0, 0, 0 };
    gxi_slot made;
    uint64_t id;
    if (!native) return 0;
    gxi_list_kernels(call, native, m, image->ptx);
    m->image_hash = gxi_hash(image->data, bytes);
    m->device_launches = gxi_has_device_launches(image->data, bytes);
    if (image->ptx) gxi_ptx_signatures(&signatures, image->ptx);
    if (signatures.failed) gxi_text_free(&signatures);               /* then they are not known; not a failure */
    m->ptx = signatures.p;
    made = gxi_made(context, context->id, 0);
    made.is.module.native = native;
    made.is.module.info = m;
    id = gxi_new(call, GXI_MODULE, &made, &gxi_context_of(context)->first[GXI_MODULE]);
    if (!id) GXI_BESIDE(cuModuleUnload, (native));
    return id;
}
static uint64_t gxi_load_as(gxi_call *call, uint64_t context_id, const void *data, size_t bytes,
                            const gpuexec_module_desc *desc, const char *name) {
    gxi_image image = { data, bytes, GXI_TEXT, NULL };
    gxi_slot *context;
    gxi_module *m;
    gxi_scope scope;
    char *copy = NULL;
    uint64_t id = 0;
    int is_text;
    if (!(context = gxi_begin_with(call, context_id, GXI_CONTEXT, "the context"))) return 0;
    if (gxi_is_null(call, data, "the image")) return 0;
    if (gxi_check_length(call, name, bytes)) return 0;
    image.kind = gxi_image_is(data, bytes);
    if (gxi_check_image(call, name, data, &image.bytes, image.kind)) return 0;
    if (image.kind == GXI_OBJECT || image.kind == GXI_LIBRARY) {
        gxi_fail(call, GPUEXEC_BAD_IMAGE, "link it: gpuexec_linker_add_file accepts it unchanged",
                 "%s is %s, which must be linked before loading", name, gxi_image_kinds[image.kind]);
        return 0;
    }
    is_text = image.kind == GXI_TEXT && gxi_is_text((const char *)data, bytes);
    if (is_text && bytes) {                      /* the driver reads up to the NUL */
        copy = (char *)gxi_realloc(NULL, bytes + 1);
        if (copy) memcpy(copy, data, bytes);
        if (copy) copy[bytes] = 0;
    }
    if (is_text) image.ptx = bytes ? copy : (const char *)data;
    m = is_text && !image.ptx ? NULL : gxi_module_new(name);
    if (!m) gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot load %s", name);
    else if (gxi_enter(call, context->cu_context, &scope) == GPUEXEC_OK) {
        id = gxi_module_make(call, context, desc, &image, m);
        gxi_leave(&scope);
    }
    gxi_free(copy);
    if (!id) gxi_module_free(m);
    return id;
}

/* `name` is for messages, if the desc has none. */
static uint64_t gxi_load(gxi_call *call, uint64_t context_id, const void *data, size_t bytes,
                         const gpuexec_module_desc *desc, const char *name) {
    gxi_text quoted = { 0, 0, 0, 0 };
    uint64_t id;
    if (!desc) desc = &gxi_module_defaults;
    if (gxi_check_jit(call, desc, 0)) return 0;  /* before its name is read */
    if (desc->name) gxi_add(&quoted, "\"%s\"", desc->name);
    id = gxi_load_as(call, context_id, data, bytes, desc, quoted.p ? quoted.p : name);
    gxi_text_free(&quoted);
    return id;
}

GPUEXEC_API gpuexec_module gpuexec_module_load_at(const char *where, gpuexec_context context, const void *image,
                                                  size_t bytes,
                                                const gpuexec_module_desc *desc) {
    GXI_CALL(gpuexec_module_load, GXI_MAKES);
    gpuexec_module handle;
    if (image) image = gxi_unwrap(image, &bytes);
    handle.id = gxi_or_failed(gxi_load(call, context.id, image, bytes, desc, "the image"), GXI_MODULE);
    return handle;
}

static uint64_t gxi_load_file(gxi_call *call, gpuexec_context context, const char *path,
                              const gpuexec_module_desc *desc) {
    gxi_text name = { 0, 0, 0, 0 };
    char *data;
    size_t bytes = 0;
    uint64_t id;
    if (gxi_is_null(call, path, "the path")) return 0;
    if (!gxi_begin_with_context(call, context) || !(data = gxi_read_file(call, path, &bytes))) return 0;
    gxi_add(&name, "\"%s\"", path);
    id = gxi_load(call, context.id, data, bytes, desc, name.p ? name.p : "the file");
    gxi_text_free(&name);
    gxi_free(data);
    return id;
}
GPUEXEC_API gpuexec_module gpuexec_module_load_file_at(const char *where, gpuexec_context context, const char *path,
                                                     const gpuexec_module_desc *desc) {
    gpuexec_module handle;
    GXI_CALL(gpuexec_module_load_file, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_load_file(call, context, path, desc), GXI_MODULE);
    return handle;
}

static uint64_t gxi_module_adopt(gxi_call *call, gpuexec_context context, struct CUmod_st *native) {
    gxi_slot *slot, made;
    gxi_module *m;
    uint64_t id;
    if (!(slot = gxi_begin_with_context(call, context))) return 0;
    if (gxi_is_null(call, native, "the CUmodule")) return 0;
    if (!(m = gxi_module_new("an adopted module"))) {
        gxi_fail_memory(call, "create a module");
        return 0;
    }
    gxi_list_kernels(call, native, m, NULL);
    made = gxi_made(slot, context.id, 1);
    made.is.module.native = native;
    made.is.module.info = m;
    id = gxi_new(call, GXI_MODULE, &made, &gxi_context_of(slot)->first[GXI_MODULE]);
    if (!id) gxi_module_free(m);
    return id;
}
GPUEXEC_API gpuexec_module gpuexec_module_from_native_at(const char *where, gpuexec_context context,
                                                         struct CUmod_st *native) {
    gpuexec_module handle;
    GXI_CALL(gpuexec_module_from_native, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_module_adopt(call, context, native), GXI_MODULE);
    return handle;
}

static gxi_slot *gxi_begin_with_module(gxi_call *call, gpuexec_module module) {
    return gxi_begin_with(call, module.id, GXI_MODULE, "the module");
}

GPUEXEC_API struct CUmod_st *gpuexec_module_native(gpuexec_module module) {
    const gxi_slot *slot = gxi_queried("gpuexec_module_native", module.id, GXI_MODULE, "the module");
    return slot ? slot->is.module.native : NULL;
}
GPUEXEC_API const char *gpuexec_module_log(gpuexec_module module) {
    const gxi_slot *slot = gxi_queried("gpuexec_module_log", module.id, GXI_MODULE, "the module");
    return slot && slot->is.module.info->log ? slot->is.module.info->log : "";
}
GPUEXEC_API double gpuexec_module_jit_ms(gpuexec_module module) {
    const gxi_slot *slot = gxi_queried("gpuexec_module_jit_ms", module.id, GXI_MODULE, "the module");
    return slot ? slot->is.module.info->jit_ms : -1.0;
}
GPUEXEC_API int gpuexec_module_threads_per_block(gpuexec_module module) {
    const gxi_slot *slot = gxi_queried("gpuexec_module_threads_per_block", module.id, GXI_MODULE, "the module");
    return slot ? slot->is.module.info->threads_per_block : -1;
}
GPUEXEC_API int gpuexec_module_kernel_count(gpuexec_module module) {
    const gxi_slot *slot = gxi_queried("gpuexec_module_kernel_count", module.id, GXI_MODULE, "the module");
    return slot ? slot->is.module.info->nkernels : -1;
}
GPUEXEC_API const char *gpuexec_module_kernel_name(gpuexec_module module, int index) {
    const gxi_slot *slot = gxi_queried("gpuexec_module_kernel_name", module.id, GXI_MODULE, "the module");
    return slot && index >= 0 && index < slot->is.module.info->nkernels ? slot->is.module.info->kernels[index] : NULL;
}
static gpuexec_ptr gxi_variable(gxi_call *call, gxi_slot *slot, const char *name, size_t *bytes) {
    gpuexec_ptr address = 0;
    *bytes = 0;
    if (gxi_is_null(call, name, "the variable's name")) return 0;
    if (GXI_TRY_MAKE(address, cuModuleGetGlobal, (&address, bytes, slot->is.module.native, name)) == 0) return address;
    gxi_fail_cu(call, "declare it extern \"C\" so that its name is not mangled, and make sure that a kernel uses it; "
                      "for kernels, use gpuexec_kernel_get",
                "%s has no variable \"%s\"", slot->is.module.info->name, name);
    *bytes = 0;
    return 0;
}
GPUEXEC_API gpuexec_ptr gpuexec_module_global_at(const char *where, gpuexec_module module, const char *name,
                                                 size_t *bytes) {
    size_t unused;
    gxi_slot *slot;
    GXI_CALL(gpuexec_module_global, GXI_MAKES);
    if (!bytes) bytes = &unused;
    *bytes = 0;
    return (slot = gxi_begin_with_module(call, module)) != NULL ? gxi_variable(call, slot, name, bytes) : 0;
}
/* cuMemcpyHtoD may return before the device has the bytes (small pageable sources), and other streams need not be
   ordered after the legacy stream. */
static int gxi_copy_in_whole(gxi_call *call, gpuexec_ptr to, const void *from, size_t bytes) {
    const int cu = GXI_TRY(cuMemcpyHtoD, (to, from, bytes));
    return cu ? cu : GXI_TRY(cuStreamSynchronize, (GXI_STREAM_LEGACY));
}
static gpuexec_result gxi_copy_variable(gxi_call *call, gpuexec_module module, const char *name, const void *from,
                                        void *to, size_t bytes) {
    size_t has;
    gxi_slot *slot;
    gxi_scope scope;
    gpuexec_ptr address;
    int cu = 0;
    if (!(slot = gxi_begin_with_module(call, module)) || !(address = gxi_variable(call, slot, name, &has)))
        return gxi_failed_with();
    if (!from && !to)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the host memory for variable \"%s\" is NULL", name);
    if (bytes != has)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                        "pass the size of the whole variable in bytes, as declared in device code; to copy a part, "
                        "use gpuexec_module_global and a copy",
                        "variable \"%s\" of %s has %lu bytes, but the copy has %lu", name,
                        slot->is.module.info->name, (unsigned long)has, (unsigned long)bytes);
    if (gxi_enter(call, slot->cu_context, &scope)) return gxi_failed_with();
    if (bytes && from) cu = gxi_copy_in_whole(call, address, from, bytes);
    else if (bytes) cu = GXI_TRY(cuMemcpyDtoH, (to, address, bytes));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot copy variable \"%s\" of %s", name, slot->is.module.info->name)
        : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_module_set_global_at(const char *where, gpuexec_module module, const char *name,
                                                        const void *from, size_t bytes) {
    GXI_CALL(gpuexec_module_set_global, GXI_WORKS);
    return gxi_copy_variable(call, module, name, from, NULL, bytes);
}
GPUEXEC_API gpuexec_result gpuexec_module_get_global_at(const char *where, gpuexec_module module, const char *name,
                                                        void *to, size_t bytes) {
    GXI_CALL(gpuexec_module_get_global, GXI_WORKS);
    return gxi_copy_variable(call, module, name, NULL, to, bytes);
}
GPUEXEC_API gpuexec_result gpuexec_module_unload_at(const char *where, gpuexec_module module) {
    GXI_CALL(gpuexec_module_unload, GXI_CLEANS);
    return gxi_destroy_handle(call, module.id, GXI_MODULE, "the module");
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

/* Enough for 4 KiB of one-byte parameters; a launch with more parameters is not checked. */
enum { GXI_MAX_PARAMETERS = 4096 };

/* Fills sizes: the number of parameters in sizes[0], then their sizes, then their offsets, then their types as far as
   the text has them. Returns 0 if they are not known. */
static int gxi_layout(const gxi_call *call, struct CUfunc_st *function, const char *name, const char *ptx,
                      unsigned short *sizes) {
    unsigned short *const offsets = sizes + 1 + GXI_MAX_PARAMETERS, *const types = offsets + GXI_MAX_PARAMETERS;
    int n = -1, listed = -1, same = 1;             /* listed: in the text; same: the driver agrees */
    if (ptx) {
        const char *p = ptx, *start, *end;
        while ((p = gxi_ptx_entry(p, &start, &end)) != NULL)
            if (gxi_ptx_is(start, end, name)) {
                listed = gxi_ptx_params(p, sizes + 1, offsets, types, GXI_MAX_PARAMETERS);
                break;
            }
    }
    if (GXI_HAS(cuFuncGetParamInfo)) {
        int cu = 0;
        for (n = 0; n < GXI_MAX_PARAMETERS; n++) {
            size_t offset = 0, size = 0;
            /* it fails after the last parameter */
            if ((cu = GXI_BESIDE(cuFuncGetParamInfo, (function, (size_t)n, &offset, &size))) != 0) break;
            if (size > 0xFFFF || offset > 0xFFFF) return 0;
            same &= n < listed && sizes[n + 1] == size;
            sizes[n + 1] = (unsigned short)size;
            offsets[n] = (unsigned short)offset;
        }
        if (cu != GXI_INVALID_VALUE) return 0;
        if (!same || n != listed) memset(types, 0, (size_t)n * sizeof *types);
    } else n = listed;
    if (n < 0) return 0;
    sizes[0] = (unsigned short)n;
    memmove(sizes + 1 + n, offsets, (size_t)n * sizeof *sizes);
    memmove(sizes + 1 + 2 * n, types, (size_t)n * sizeof *sizes);
    return 1;
}

/* NULL: no memory. */
static gxi_kernel *gxi_kernel_info(const gxi_call *call, struct CUfunc_st *native, const char *name, const char *ptx) {
    unsigned short *sizes = (unsigned short *)gxi_realloc(NULL, (3 * GXI_MAX_PARAMETERS + 1) * sizeof *sizes);
    const size_t name_bytes = strlen(name) + 1, title_bytes = name_bytes + sizeof "this adopted kernel";
    gxi_kernel *info;
    size_t n;
    if (!sizes) return NULL;
    n = gxi_layout(call, native, name, ptx, sizes) ? (3u * sizes[0] + 1) * sizeof *sizes : 0;
    info = (gxi_kernel *)gxi_realloc(NULL, sizeof *info + n + name_bytes + title_bytes);
    if (info) {
        info->module = 0;
        info->sizes = n ? (unsigned short *)memcpy(info + 1, sizes, n) : NULL;
        char *const text = (char *)(info + 1) + n;
        if (strcmp(name, GXI_ADOPTED_NAME) == 0)
            snprintf(text + name_bytes, title_bytes, "this adopted kernel");
        else snprintf(text + name_bytes, title_bytes, "kernel \"%s\"", name);
        info->name = (const char *)memcpy(text, name, name_bytes);
        info->title = text + name_bytes;
    }
    gxi_free(sizes);
    return info;
}
/* owner: its module, or its context if adopted. 0 after a failure. */
static uint64_t gxi_kernel_new(gxi_call *call, const gxi_slot *owner, struct CUfunc_st *native, const char *name,
                               const char *ptx) {
    const int of_module = gxi_kind_of(owner->id) == GXI_MODULE;
    gxi_kernel *info = gxi_kernel_info(call, native, name, ptx);
    gxi_slot made = gxi_made(owner, of_module ? owner->context : owner->id, 1);
    uint64_t id;
    int limit = 0;
    if (!info) {
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot create kernel \"%s\"", name);
        return 0;
    }
    if (of_module) info->module = owner->id;
    GXI_BESIDE(cuFuncGetAttribute, (&limit, GXI_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, native));
    made.is.kernel.native = native;
    made.is.kernel.info = info;
    made.is.kernel.sizes = info->sizes;
    made.of.shared_limit = (uint32_t)(limit > 0 ? limit : 0);
    id = gxi_new(call, GXI_KERNEL, &made, of_module ? &owner->is.module.info->kernels_made
                 : &gxi_context_of(owner)->first[GXI_KERNEL]);
    if (!id) gxi_free(info);
    return id;
}

/* The number of letters to insert, remove or change to turn a into b; 99 for very long names. */
static int gxi_edits(const char *a, const char *b) {
    int row[65], i, k, before, old, n = (int)strlen(b);
    if (strlen(a) > 64 || n > 64) return 99;
    for (k = 0; k <= n; k++) row[k] = k;
    for (i = 1; a[i - 1]; i++) {
        before = row[0];
        row[0] = i;
        for (k = 1; k <= n; k++) {
            old = row[k];
            row[k] = before + (a[i - 1] != b[k - 1]);
            if (old + 1 < row[k]) row[k] = old + 1;
            if (row[k - 1] + 1 < row[k]) row[k] = row[k - 1] + 1;
            before = old;
        }
    }
    return row[n];
}
static GXI_COLD void gxi_fail_no_kernel(gxi_call *call, const gxi_module *m, const char *name) {
    gxi_text names = { 0, 0, 0, 0 }, cure = { 0, 0, 0, 0 };
    /* a larger distance is not a typing error */
    int i, shown = 0, length = (int)strlen(name), least = length / 3 < 2 ? length / 3 + 2 : 4;
    const char *nearest = NULL;
    for (i = 0; i < m->nkernels; i++) {
        int edits = gxi_edits(name, m->kernels[i]);
        const char *at = strstr(m->kernels[i], name);
        if (edits < least && edits < length) {
            least = edits;
            nearest = m->kernels[i];
        }
        if (at && *name && m->kernels[i][0] == '_' && m->kernels[i][1] == 'Z' && !cure.p)
            gxi_add(&cure, "declare the kernel extern \"C\", or pass its mangled name: \"%s\"",
                    m->kernels[i]);
        if (shown < 20) gxi_add(&names, "%s\"%s\"", shown++ ? ", " : "", m->kernels[i]);
    }
    if (nearest && !cure.p) gxi_add(&cure, "use \"%s\", if that is the kernel you mean", nearest);
    if (m->nkernels > shown) gxi_add(&names, " and %d more", m->nkernels - shown);
    if (m->nkernels < 0) gxi_fail_cu(call, NULL, "%s has no kernel \"%s\"", m->name, name);
    else if (m->nkernels == 0)
        gxi_fail_cu(call, "declare it as .visible .entry in PTX, or as extern \"C\" __global__ in CUDA C",
                    "%s has no kernel \"%s\": it has no kernels at all", m->name, name);
    else gxi_fail_cu(call, cure.p, "%s has no kernel \"%s\"; it has %s", m->name, name, names.p ? names.p : "");
    gxi_text_free(&names);
    gxi_text_free(&cure);
}

static uint64_t gxi_kernel_get(gxi_call *call, gpuexec_module module, const char *name) {
    static gxi_mutex getting = GXI_MUTEX_INIT;
    struct CUfunc_st *native = NULL;
    gxi_slot *slot, *other;
    gxi_scope scope;
    gxi_module *m;
    uint64_t id = 0;
    int cu;
    if (!(slot = gxi_begin_with_module(call, module))) return 0;
    m = slot->is.module.info;
    if (gxi_is_null(call, name, "the kernel's name")) return 0;
    if (gxi_enter(call, slot->cu_context, &scope)) return 0;
    cu = GXI_TRY_MAKE(native, cuModuleGetFunction, (&native, slot->is.module.native, name));
    if (cu == 0) {
        gxi_lock(&getting);                      /* concurrent calls for one kernel return the same handle */
        gxi_lock(&gxi_tables);
        /* is there a handle already? */
        for (other = gxi_first_held(&m->kernels_made); other && !id; other = gxi_next_held(other))
            if (other->is.kernel.native == native) id = other->id;
        gxi_unlock(&gxi_tables);
        if (!id) id = gxi_kernel_new(call, slot, native, name, m->ptx);
        gxi_unlock(&getting);
    }
    gxi_leave(&scope);
    if (cu == GXI_SYMBOL_NOT_FOUND) gxi_fail_no_kernel(call, m, name);
    else if (cu) gxi_fail_cu(call, NULL, "cannot load kernel \"%s\" of %s", name, m->name);
    return id;
}
GPUEXEC_API gpuexec_kernel gpuexec_kernel_get_at(const char *where, gpuexec_module module, const char *name) {
    gpuexec_kernel handle;
    GXI_CALL(gpuexec_kernel_get, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_kernel_get(call, module, name), GXI_KERNEL);
    return handle;
}

GPUEXEC_API gpuexec_kernel gpuexec_kernel_from_native_at(const char *where, gpuexec_context context,
                                                         struct CUfunc_st *native) {
    gpuexec_kernel handle = { 0 };
    gxi_slot *slot;
    const char *name = NULL;
    GXI_CALL(gpuexec_kernel_from_native, GXI_MAKES);
    slot = gxi_begin_with_context(call, context);
    if (slot && !gxi_is_null(call, native, "the CUfunction")) {
        if (GXI_HAS(cuFuncGetName)) GXI_BESIDE(cuFuncGetName, (&name, native));
        handle.id = gxi_kernel_new(call, slot, native, name ? name : GXI_ADOPTED_NAME, NULL);
    }
    handle.id = gxi_or_failed(handle.id, GXI_KERNEL);
    return handle;
}

static gxi_slot *gxi_find_kernel(gxi_call *call, gpuexec_kernel kernel) {
    return gxi_get(call, kernel.id, GXI_KERNEL, "the kernel");
}

GPUEXEC_API struct CUfunc_st *gpuexec_kernel_native(gpuexec_kernel kernel) {
    const gxi_slot *slot = gxi_queried("gpuexec_kernel_native", kernel.id, GXI_KERNEL, "the kernel");
    return slot ? slot->is.kernel.native : NULL;
}

GPUEXEC_API gpuexec_result gpuexec_kernel_get_info_at(const char *where, gpuexec_kernel kernel,
                                                      gpuexec_kernel_info *info) {
    int values[GXI_FUNC_CLUSTER_SCHEDULING_POLICY + 1] = { 0 }, i;
    gxi_slot *slot;
    int cu;
    GXI_CALL(gpuexec_kernel_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (!(slot = gxi_find_kernel(call, kernel))) return gxi_failed_with();
    info->name = slot->is.kernel.info->name;
    info->parameters = slot->is.kernel.sizes ? slot->is.kernel.sizes[0] : -1;
    for (i = 0; i <= GXI_FUNC_CLUSTER_SCHEDULING_POLICY; i++) {
        if ((cu = GXI_TRY(cuFuncGetAttribute, (&values[i], i, slot->is.kernel.native))) == 0) continue;
        values[i] = 0;                           /* clusters need CUDA 11.8 */
        if (i < GXI_FUNC_CLUSTER_SIZE_MUST_BE_SET || (cu != GXI_INVALID_VALUE && cu != GXI_CU_NOT_SUPPORTED))
            return gxi_fail_cu(call, NULL, "cannot query %s", slot->is.kernel.info->title);
    }
    info->max_threads_per_block = values[GXI_FUNC_MAX_THREADS_PER_BLOCK];
    info->registers = values[GXI_FUNC_NUM_REGS];
    info->ptx_version = values[GXI_FUNC_PTX_VERSION];
    info->binary_version = values[GXI_FUNC_BINARY_VERSION];
    info->static_shared = (size_t)values[GXI_FUNC_SHARED_SIZE_BYTES];
    info->local_bytes = (size_t)values[GXI_FUNC_LOCAL_SIZE_BYTES];
    info->constant_bytes = (size_t)values[GXI_FUNC_CONST_SIZE_BYTES];
    info->max_dynamic_shared = (size_t)values[GXI_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    info->cache_mode_ca = values[GXI_FUNC_CACHE_MODE_CA];
    info->preferred_carveout = values[GXI_FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT];
    info->cluster_must_be_set = values[GXI_FUNC_CLUSTER_SIZE_MUST_BE_SET];
    for (i = 0; i < 3; i++) info->required_cluster[i] = values[GXI_FUNC_REQUIRED_CLUSTER_WIDTH + i];
    info->non_portable_cluster_allowed = values[GXI_FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
    info->cluster_scheduling_policy = values[GXI_FUNC_CLUSTER_SCHEDULING_POLICY];
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_kernel_set_carveout_at(const char *where, gpuexec_kernel kernel, int percent) {
    gxi_slot *slot;
    GXI_CALL(gpuexec_kernel_set_carveout, GXI_MAKES);
    if (!(slot = gxi_find_kernel(call, kernel))) return gxi_failed_with();
    if (percent < -1 || percent > 100)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                        "the carveout is %d percent; it must be from 0 to 100, or -1 to let the driver choose",
                        percent);
    return GXI_TRY(cuFuncSetAttribute,
                   (slot->is.kernel.native, GXI_FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, percent)) == 0 ? GPUEXEC_OK
        : gxi_fail_cu(call, NULL, "cannot set the carveout of %s to %d percent",
                      slot->is.kernel.info->title, percent);
}
GPUEXEC_API gpuexec_result gpuexec_kernel_set_cache_at(const char *where, gpuexec_kernel kernel, gpuexec_cache prefer) {
    gxi_slot *slot;
    GXI_CALL(gpuexec_kernel_set_cache, GXI_MAKES);
    if (!(slot = gxi_find_kernel(call, kernel))) return gxi_failed_with();
    if ((int)prefer < GPUEXEC_CACHE_NO_PREFERENCE || (int)prefer > GPUEXEC_CACHE_PREFER_EQUAL)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                        "%d is not a gpuexec_cache; the last valid value is GPUEXEC_CACHE_PREFER_EQUAL (%d)",
                                                          (int)prefer, GPUEXEC_CACHE_PREFER_EQUAL);
    return GXI_TRY(cuFuncSetCacheConfig, (slot->is.kernel.native, (int)prefer)) == 0 ? GPUEXEC_OK
        : gxi_fail_cu(call, NULL, "cannot set the cache preference of %s", slot->is.kernel.info->title);
}
GPUEXEC_API size_t gpuexec_kernel_parameter_size(gpuexec_kernel kernel, int index) {
    const gxi_slot *slot = gxi_queried("gpuexec_kernel_parameter_size", kernel.id, GXI_KERNEL, "the kernel");
    return slot && slot->is.kernel.sizes && index >= 0 &&
        index < slot->is.kernel.sizes[0] ? slot->is.kernel.sizes[index + 1] : 0;
}
GPUEXEC_API gpuexec_parameter_type gpuexec_kernel_parameter_type(gpuexec_kernel kernel, int index) {
    const gxi_slot *slot = gxi_queried("gpuexec_kernel_parameter_type", kernel.id, GXI_KERNEL, "the kernel");
    if (!slot || !slot->is.kernel.sizes || index < 0 || index >= slot->is.kernel.sizes[0])
        return GPUEXEC_PARAMETER_UNKNOWN;
    return (gpuexec_parameter_type)slot->is.kernel.sizes[2 * slot->is.kernel.sizes[0] + index + 1];
}
GPUEXEC_API int gpuexec_kernel_parameter_offset(gpuexec_kernel kernel, int index) {
    const gxi_slot *slot = gxi_queried("gpuexec_kernel_parameter_offset", kernel.id, GXI_KERNEL, "the kernel");
    return slot && slot->is.kernel.sizes && index >= 0 &&
        index < slot->is.kernel.sizes[0] ? slot->is.kernel.sizes[slot->is.kernel.sizes[0] + index + 1] : -1;
}
/* Raises the limit of dynamic shared memory to at least `bytes`; never lowers it, even when threads use different sizes
   or different handles of one CUfunction. Returns the CUresult. */
static int gxi_raise_shared(gxi_call *call, gxi_slot *k, size_t bytes) {
    static gxi_mutex raising = GXI_MUTEX_INIT;
    struct CUfunc_st *const function = k->is.kernel.native;
    int cu, now = 0;
    if (bytes <= GXI_LOAD(&k->of.shared_limit)) return GXI_SUCCESS;
    if (bytes > 0x7FFFFFFF) return gxi_note(call, GXI_INVALID_VALUE);
    gxi_lock(&raising);
    cu = GXI_TRY(cuFuncGetAttribute, (&now, GXI_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    if (cu == 0 && (int)bytes > now) {
        now = (int)bytes;
        cu = GXI_TRY(cuFuncSetAttribute, (function, GXI_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, now));
    }
    if (cu == 0) GXI_STORE(&k->of.shared_limit, (uint32_t)now);
    gxi_unlock(&raising);
    return cu;
}
/* For occupancy queries: raises the limit as a launch would, so that the driver does not count with the lower limit.
   Returns the size to query with: the driver looks only at its low 32 bits. */
static size_t gxi_allow_shared(gxi_call *call, gxi_slot *k, size_t bytes) {
    if (bytes > 0x7FFFFFFF) return 0x7FFFFFFF;
    gxi_raise_shared(call, k, bytes);
    return bytes;
}
/* Resident blocks per multiprocessor; -1 after a failure. */
static int gxi_occupancy(gxi_call *call, gxi_slot *slot, unsigned block_threads, size_t shared_bytes) {
    gxi_scope scope;
    size_t bytes;
    int blocks = -1, cu;
    if (gxi_enter(call, slot->cu_context, &scope)) return -1;
    bytes = gxi_allow_shared(call, slot, shared_bytes);
    cu = GXI_TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor,
                 (&blocks, slot->is.kernel.native, (int)block_threads, bytes));
    gxi_leave(&scope);
    if (cu == 0) return blocks;
    gxi_fail_cu(call, NULL,
                "cannot query the occupancy of %s with %u threads and %lu bytes of shared memory",
                slot->is.kernel.info->title, block_threads, (unsigned long)shared_bytes);
    return -1;
}
GPUEXEC_API int gpuexec_kernel_occupancy(gpuexec_kernel kernel, unsigned block_threads, size_t shared_bytes) {
    gxi_slot *slot;
    GXI_CALL_NO_PLACE(gpuexec_kernel_occupancy, GXI_QUERIES);
    slot = gxi_find_kernel(call, kernel);
    return slot ? gxi_occupancy(call, slot, block_threads, shared_bytes) : -1;
}
GPUEXEC_API int gpuexec_kernel_best_block(gpuexec_kernel kernel, size_t shared_bytes, int *blocks) {
    gxi_slot *slot;
    gxi_scope scope;
    size_t bytes;
    int threads = 0, grid = 0, cu;
    GXI_CALL_NO_PLACE(gpuexec_kernel_best_block, GXI_QUERIES);
    if (blocks) *blocks = 0;
    if (!(slot = gxi_find_kernel(call, kernel)) || gxi_enter(call, slot->cu_context, &scope)) return -1;
    bytes = gxi_allow_shared(call, slot, shared_bytes);
    cu = GXI_TRY(cuOccupancyMaxPotentialBlockSize, (&grid, &threads, slot->is.kernel.native, NULL, bytes, 0));
    gxi_leave(&scope);
    if (cu == 0 && threads > 0) {
        if (blocks) *blocks = grid;
        return threads;
    }
    if (cu == 0) gxi_note(call, GXI_INVALID_VALUE);                  /* no block size fits */
    gxi_fail_cu(call, NULL, "cannot find a block size for %s with %lu bytes of shared memory",
                slot->is.kernel.info->title, (unsigned long)shared_bytes);
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-link   A linker keeps copies of its inputs, so that the driver's link state (the slot's native; NULL: none
   now) can be destroyed and created again: when a log was truncated, and after each failure. Measured (driver 580,
   sm_90): after a text that does not compile (218, 222), a state still works, but its errors stay in the log; after
   contradictory inputs (300 for the second), cuLinkComplete also returns 300. If symbols are missing, it returns 300,
   or 999 if the last text in the process that did not compile had an error (218), or, if that text was too new (222),
   even 0 and an image that loads. Only the error log names the symbols: so an error in the log is a failure, whatever
   the CUresult. */

/* data ends with a NUL that bytes does not count */
typedef struct gxi_input { gxi_image_kind kind; char *name, *data; size_t bytes; } gxi_input;
/* For the driver. An input's name for messages is in quotes, with the name itself after its NUL, or is "input N". */
static const char *gxi_input_name(const gxi_input *input) {
    return *input->name == '"' ? input->name + strlen(input->name) + 1 : input->name;
}
struct gxi_linker {
    gpuexec_module_desc desc;
    gxi_jit    jit;                              /* the state's options; the driver writes into them until it is
                                                    destroyed */
    gxi_input *inputs;
    size_t     count, cap, given;                /* given: how many of them the state has */
    char      *name, *log;
    double     ms;
    void      *image;                            /* owned by the state; NULL before it is complete */
    size_t     bytes;
};

static void gxi_input_free(gxi_input *input) {
    gxi_free(input->name);
    gxi_free(input->data);
}

static void gxi_linker_free(gxi_linker *l) {
    while (l->count) gxi_input_free(&l->inputs[--l->count]);
    gxi_free(l->inputs);
    gxi_free(l->jit.logs);
    gxi_free(l->name);
    gxi_free(l->log);
    gxi_free(l);
}

static int gxi_linker_end(gxi_call *call, gxi_slot *old) {
    const int cu = old->is.linker.native ? GXI_TRY(cuLinkDestroy, (old->is.linker.native)) : 0;
    gxi_linker_free(old->is.linker.info);
    return cu;
}

/* --- explaining a failed link ------------------------------------------------------------------------------------- */

/* The driver's log has nvlink's messages. */
enum { GXI_LINK_ERRORS = 20 };                   /* at most this many in the message */
static int gxi_link_log(gxi_text *t, const char *log) {
    static const char *const words[] = { "Undefined reference to", "Multiple definition of", "doesn't match for" };
    int found = 0, more = 0;
    size_t n, i;
    for (; *log; log += n + (log[n] == '\n')) {
        const char *from = strstr(log, ": ");
        int is = 0;
        n = strcspn(log, "\n");
        for (i = 0; i < sizeof words / sizeof *words; i++) {
            const char *at = strstr(log, words[i]);
            is |= at != NULL && at < log + n;
        }
        if (!is) continue;
        from = from && from < log + n ? from + 2 : log;
        if (found++ < GXI_LINK_ERRORS) gxi_add(t, "%s%.*s", found > 1 ? "; " : "", (int)(n - (size_t)(from - log)),
                                               from);
        else more++;
    }
    if (more) gxi_add(t, " and %d more", more);
    return found;
}
/* `failed` is the input that the driver refused; NULL if it accepted all and linking failed. */
static GXI_COLD void gxi_fail_link(gxi_call *call, int cu, const gxi_slot *slot, const gxi_input *failed) {
    const gxi_linker *l = slot->is.linker.info;
    const gxi_slot *context = gxi_peek(slot->context, GXI_CONTEXT);
    gxi_text what = { 0, 0, 0, 0 };
    char *log = gxi_jit_log(&l->jit);
    const char *at;
    int lines = 0, found = gxi_link_log(&what, l->jit.logs + l->jit.size);
    for (at = log; at && *at; at += strcspn(at, "\n"), at += *at != 0) lines++;
    /* a log that is completely in the message is not printed again */
    call->log = lines && lines == found && found <= GXI_LINK_ERRORS ? NULL : log;
    if (found)
        gxi_fail(call, GPUEXEC_LINK_FAILED,
                 !what.p ? NULL
                 : gxi_wants_device_runtime(what.p) && gxi_is_cpu_device()
                     ? "use a GPU for kernels that launch kernels: they need the device runtime, libcudadevrt.a, "
                       "which the CPU device cannot link"
                 : gxi_wants_device_runtime(what.p)
                     ? "add the toolkit's libcudadevrt.a: kernels that launch kernels need the device runtime"
                 : strstr(what.p, "gpuexec_barrier_")
                     ? "add kernels/gpuexec_barrier.ptx from gpuexec's repository"
                 : strstr(what.p, "Undefined")
                 ? "add the input that defines it as .visible; C++ names must be the same on both sides (extern \"C\")"
                 : strstr(what.p, "Multiple")
                 ? "keep one definition and declare it .extern elsewhere (CUDA C: extern), or make it static or .weak"
                                               : "declare it the same way in all inputs",
                 "cannot link %s: %s", l->name, what.p ? what.p : "");
    else if (failed && context)
        gxi_fail_load(call, cu, context, &l->desc, failed->name, failed->kind == GXI_PTX ? failed->data : NULL,
                      failed->kind);
    else if (gxi_is_sticky(cu) || cu == GXI_OUT_OF_MEMORY || gxi_result_of(cu) == GPUEXEC_STALE_HANDLE)
        gxi_fail_cu(call, NULL, "cannot link %s", l->name);
    else gxi_fail(call, GPUEXEC_LINK_FAILED, NULL, "cannot link %s from %lu input%s", l->name,
                  (unsigned long)l->count, l->count == 1 ? "" : "s");
    call->log = NULL;
    gxi_free(log);
    gxi_text_free(&what);
}

/* --- linking ------------------------------------------------------------------------------------------------------ */

static void gxi_link_drop(const gxi_call *call, gxi_slot *slot) {
    gxi_linker *l = slot->is.linker.info;
    if (slot->is.linker.native) GXI_BESIDE(cuLinkDestroy, (slot->is.linker.native));
    slot->is.linker.native = l->image = NULL;
    l->given = 0;
}
static int gxi_input_type(gxi_image_kind kind) {                     /* CUjitInputType */
    return kind == GXI_PTX ? GXI_JIT_INPUT_PTX : kind == GXI_CUBIN ? GXI_JIT_INPUT_CUBIN : kind == GXI_FATBIN
        ? GXI_JIT_INPUT_FATBINARY
         : kind == GXI_OBJECT ? GXI_JIT_INPUT_OBJECT : GXI_JIT_INPUT_LIBRARY;
}
/* Creates a new state. */
static gpuexec_result gxi_link_begin(gxi_call *call, gxi_slot *slot) {
    gxi_linker *l = slot->is.linker.info;
    gpuexec_result result = gxi_jit_make(call, &l->jit, &l->desc);
    char *cure;
    int cu;
    if (result) return result;
    cu = GXI_TRY_MAKE(slot->is.linker.native, cuLinkCreate,
                      (l->jit.n, l->jit.options, l->jit.values, &slot->is.linker.native));
    if (cu == 0) return GPUEXEC_OK;
    slot->is.linker.native = NULL;
    cure = gxi_jit_cure(cu, &l->desc);
    result = gxi_fail_cu(call, cure, "cannot create a link state");
    gxi_free(cure);
    return result;
}
/* Adds all inputs that the state does not have yet; with `complete`, completes it. Returns the driver's result;
   *failed: the input that it refused. */
static int gxi_link_go_on(gxi_call *call, const gxi_slot *slot, int complete, const gxi_input **failed) {
    gxi_linker *l = slot->is.linker.info;
    int cu;
    for (*failed = NULL; l->given < l->count; l->given++) {
        gxi_input *input = &l->inputs[l->given];
        cu = GXI_TRY(cuLinkAddData,
                     (slot->is.linker.native, gxi_input_type(input->kind), input->data,
                      input->bytes + (input->kind == GXI_PTX), gxi_input_name(input), 0, NULL, NULL));
        if (cu) {
            *failed = input;
            return cu;
        }
    }
    if (!complete || l->image) return 0;
    cu = GXI_TRY_MAKE(l->image, cuLinkComplete, (slot->is.linker.native, &l->image, &l->bytes));
    return cu == 0 && (!l->bytes || l->bytes >= GXI_NO_LENGTH) ? gxi_note(call, GXI_MADE_NOTHING) : cu;
}
/* Brings the state up to date: all inputs, and complete if requested. After a failure there is no state. */
static gpuexec_result gxi_link(gxi_call *call, gxi_slot *slot, int complete) {
    gxi_linker *l = slot->is.linker.info;
    const gxi_input *failed = NULL;
    gxi_scope scope;
    gpuexec_result result;
    int cut = 0, cu = 0;
    if (complete && !l->count)                   /* the driver would link an empty image */
        return gxi_fail(call, GPUEXEC_LINK_FAILED, "add inputs first with gpuexec_linker_add",
                        "cannot link %s: the linker has no inputs", l->name);
    if ((result = gxi_enter(call, slot->cu_context, &scope)) != GPUEXEC_OK) return result;
    do {
        if (cut) gxi_link_drop(call, slot);
        else if (!slot->is.linker.native) l->jit.size = 0;           /* a new state begins with small logs */
        if (!slot->is.linker.native && (result = gxi_link_begin(call, slot)) != GPUEXEC_OK) break;
        cu = gxi_link_go_on(call, slot, complete, &failed);
        gxi_jit_end_logs(&l->jit);
        if (cu == 0) gxi_keep_longer(&l->log, l->jit.logs);
        l->ms = gxi_jit_ms(&l->jit);
        cut = gxi_jit_is_cut(&l->jit);
    } while (cut);
    if (!result && (cu || (l->image && strstr(l->jit.logs + l->jit.size, "error   :")))) {
        gxi_fail_link(call, cu, slot, failed);
        result = gxi_failed_with();
    }
    if (result) gxi_link_drop(call, slot);
    gxi_leave(&scope);
    return result;
}

static uint64_t gxi_linker_new(gxi_call *call, gpuexec_context context, const gpuexec_module_desc *desc) {
    gxi_text name = { 0, 0, 0, 0 };
    gxi_slot *owner, made;
    gxi_linker *l;
    uint64_t id;
    if (gxi_check_jit(call, desc, 1) || !(owner = gxi_begin_with_context(call, context))) return 0;
    l = (gxi_linker *)gxi_realloc(NULL, sizeof *l);
    if (l) {
        memset(l, 0, sizeof *l);
        l->desc = *desc;
        if (desc->name) gxi_add(&name, "\"%s\"", desc->name);
        else gxi_add(&name, "the image");
        l->desc.name = l->name = name.p;
    }
    if (!l || !l->name) {
        gxi_fail_memory(call, "create a linker");
        gxi_free(l);
        return 0;
    }
    made = gxi_made(owner, context.id, 0);
    made.is.linker.info = l;
    id = gxi_new(call, GXI_LINKER, &made, &gxi_context_of(owner)->first[GXI_LINKER]);
    /* the state is created now, so that this call reports invalid options */
    if (id && gxi_link(call, gxi_peek(id, GXI_LINKER), 0) == GPUEXEC_OK) return id;
    if (id) gxi_end(id);
    gxi_linker_free(l);
    return 0;
}
GPUEXEC_API gpuexec_linker gpuexec_linker_create_at(const char *where, gpuexec_context context,
                                                    const gpuexec_module_desc *desc) {
    gpuexec_linker handle;
    GXI_CALL(gpuexec_linker_create, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_linker_new(call, context, desc ? desc : &gxi_module_defaults), GXI_LINKER);
    return handle;
}

/* Determines the input's kind, by its content and the caller's type. */
static gpuexec_result gxi_input_kind(gxi_call *call, gpuexec_input_type type, gxi_input *input) {
    const char *data = input->data;
    size_t n = input->bytes;
    input->kind = gxi_image_is(data, n);
    if (input->kind == GXI_TEXT && gxi_is_text(data, n)) {
        const char *first = gxi_ptx_space(data);
        if (gxi_ptx_is(first, gxi_ptx_next(first), ".version")) input->kind = GXI_PTX;
        input->bytes = strlen(data);
    }
    if (input->kind != GXI_PTX && gxi_check_image(call, input->name, data, &n, input->kind)) return gxi_failed_with();
    if (input->kind == GXI_TEXT) {
        if (type == GPUEXEC_INPUT_AUTO)
            return gxi_fail(call, GPUEXEC_BAD_IMAGE, strstr(data, "__global__") || strstr(data, "#include")
                                ? "compile it first, since it looks like CUDA C source: nvcc -rdc=true -ptx "
                                  "-arch=compute_75 kernel.cu -o kernel.ptx"
                                : "check the input: PTX begins with .version. If it is valid, pass its type",
                            "%s is not PTX text, a cubin, a fatbin, an object with device code or a library",
                            input->name);
        input->kind = (gxi_image_kind)type;
    }
    if (type == GPUEXEC_INPUT_AUTO || (int)type == (int)input->kind) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_BAD_IMAGE, "pass GPUEXEC_INPUT_AUTO, which detects the type", "%s was passed as "
                                                                                                "%s, but it is %s",
                    input->name, gxi_image_kinds[type],
                    gxi_image_kinds[input->kind]);
}
static gpuexec_result gxi_linker_take(gxi_call *call, gxi_slot *slot, const gxi_input *input) {
    gxi_linker *l = slot->is.linker.info;
    gpuexec_result result;
    if (l->count == l->cap) {
        const size_t cap = l->cap ? l->cap * 2 : 8;
        gxi_input *more = (gxi_input *)gxi_realloc(l->inputs, cap * sizeof *more);
        if (!more) return gxi_fail_memory(call, "add an input");
        l->inputs = more;
        l->cap = cap;
    }
    l->inputs[l->count++] = *input;
    result = gxi_link(call, slot, 0);
    if (result) l->count--;
    return result;
}
/* Takes ownership of `data`, which ends with a NUL that n does not count. */
static gpuexec_result gxi_linker_give(gxi_call *call, gxi_slot *slot, gpuexec_input_type type, char *data, size_t n,
                                      const char *name) {
    gxi_input input = { GXI_TEXT, 0, 0, 0 };
    gxi_text numbered = { 0, 0, 0, 0 };
    gpuexec_result result;
    if (name) gxi_add(&numbered, "\"%s\"%c%s", name, 0, name);
    else gxi_add(&numbered, "input %lu", (unsigned long)slot->is.linker.info->count + 1);
    input.name = numbered.p;
    input.data = data;
    input.bytes = n;
    result = input.name ? gxi_input_kind(call, type, &input) : gxi_fail_memory(call, "add an input");
    if (!result) result = gxi_linker_take(call, slot, &input);
    if (result) gxi_input_free(&input);
    return result;
}
/* The linker, if it is still open for inputs and the type is valid; NULL after a failure. */
static gxi_slot *gxi_open_linker(gxi_call *call, gpuexec_linker linker, gpuexec_input_type type) {
    gxi_slot *slot;
    if (!(slot = gxi_begin_with(call, linker.id, GXI_LINKER, "the linker"))) return NULL;
    if ((int)type < 0 || type > GPUEXEC_INPUT_LIBRARY) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%d is not a gpuexec_input_type", (int)type);
        return NULL;
    }
    if (!slot->is.linker.info->image) return slot;
    gxi_fail(call, GPUEXEC_TOO_LATE, "add all inputs first, or create another linker",
             "the linker accepts no more inputs: it has already linked %s", slot->is.linker.info->name);
    return NULL;
}
/* is: the input, for messages. */
static gpuexec_result gxi_linker_add(gxi_call *call, gxi_slot *slot, gpuexec_input_type type, const void *data,
                                     size_t bytes, const char *name, const char *is) {
    gxi_image_kind kind;
    char *copy;
    if (gxi_is_null(call, data, is) || gxi_check_length(call, is, bytes)) return GPUEXEC_BAD_ARGUMENT;
    data = gxi_unwrap(data, &bytes);
    kind = gxi_image_is(data, bytes);
    if (!bytes && kind != GXI_TEXT && kind != GXI_CUBIN && kind != GXI_FATBIN)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass its length",
                        "%s is %s, which does not contain its own length",
                        is, kind == GXI_HOST_ELF ? "an ELF file" : gxi_image_kinds[kind]);
    if (!bytes && kind != GXI_TEXT && gxi_check_image(call, is, data, &bytes, kind)) return gxi_failed_with();
    if (!bytes) bytes = strlen((const char *)data);
    copy = (char *)gxi_realloc(NULL, bytes + 1);
    if (!copy) return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
                        "out of host memory: cannot copy %lu bytes of input",
                               (unsigned long)bytes);
    memcpy(copy, data, bytes);
    copy[bytes] = 0;
    return gxi_linker_give(call, slot, type, copy, bytes, name);
}
GPUEXEC_API gpuexec_result gpuexec_linker_add_at(const char *where, gpuexec_linker linker, gpuexec_input_type type,
                                                 const void *data, size_t bytes, const char *name) {
    gxi_text quoted = { 0, 0, 0, 0 };
    gpuexec_result result;
    gxi_slot *slot;
    GXI_CALL(gpuexec_linker_add, GXI_MAKES);
    if (!(slot = gxi_open_linker(call, linker, type))) return gxi_failed_with();
    if (name) gxi_add(&quoted, "\"%s\"", name);
    result = gxi_linker_add(call, slot, type, data, bytes, name, quoted.p ? quoted.p : "the input");
    gxi_text_free(&quoted);
    return result;
}
GPUEXEC_API gpuexec_result gpuexec_linker_add_file_at(const char *where, gpuexec_linker linker, gpuexec_input_type type,
                                                      const char *path) {
    gxi_slot *slot;
    size_t bytes = 0;
    char *data;
    GXI_CALL(gpuexec_linker_add_file, GXI_MAKES);
    if (!(slot = gxi_open_linker(call, linker, type))) return gxi_failed_with();
    if (gxi_is_null(call, path, "the path")) return GPUEXEC_BAD_ARGUMENT;
    data = gxi_read_file(call, path, &bytes);
    return data ? gxi_linker_give(call, slot, type, data, bytes, path) : gxi_failed_with();
}

/* The linker with its image, NULL after a failure. */
static gxi_linker *gxi_linked(gxi_call *call, gpuexec_linker linker) {
    gxi_slot *slot;
    if (!(slot = gxi_begin_with(call, linker.id, GXI_LINKER, "the linker"))) return NULL;
    return slot->is.linker.info->image || gxi_link(call, slot, 1) == GPUEXEC_OK ? slot->is.linker.info : NULL;
}
GPUEXEC_API gpuexec_module gpuexec_linker_load_at(const char *where, gpuexec_linker linker) {
    gpuexec_module handle = { 0 };
    const gpuexec_module_desc desc = gxi_module_defaults;            /* already compiled: no options */
    gxi_text ptx = { 0, 0, 0, 0 };
    gxi_module *m;
    gxi_linker *l;
    int all_ptx = 1;
    size_t i;
    GXI_CALL(gpuexec_linker_load, GXI_WORKS);                        /* refused if an input failed and is missing */
    if ((l = gxi_linked(call, linker)) != NULL)
        handle.id = gxi_load(call, gxi_peek(linker.id, GXI_LINKER)->context, l->image, l->bytes, &desc, l->name);
    if (!handle.id) {
        handle.id = gxi_failed_id(GXI_MODULE);
        return handle;
    }
    m = gxi_peek(handle.id, GXI_MODULE)->is.module.info;
    for (i = 0; i < l->count; i++) {             /* for what the image may hide: device launches, parameters */
        const gxi_input *input = &l->inputs[i];
        if (input->kind != GXI_LIBRARY && gxi_has_device_launches(input->data, input->bytes)) m->device_launches = 1;
        if (input->kind == GXI_PTX) gxi_ptx_signatures(&ptx, input->data);
        else all_ptx = 0;
    }
    if (ptx.failed) {                            /* a partial text could end in another kernel's name */
        gxi_text_free(&ptx);
        all_ptx = 0;
    }
    if (ptx.p) {                                 /* the image itself may be text: free its copy */
        gxi_free(m->ptx);
        m->ptx = ptx.p;
    }
    if (m->nkernels < 0 && all_ptx) gxi_list_ptx_kernels(m, m->ptx ? m->ptx : "");       /* drivers before CUDA 12.4 */
    return handle;
}
GPUEXEC_API gpuexec_result gpuexec_linker_image_at(const char *where, gpuexec_linker linker, const void **image,
                                                   size_t *bytes) {
    gxi_linker *l;
    GXI_CALL(gpuexec_linker_image, GXI_WORKS);
    if (!image || !bytes) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%s is NULL", image ? "bytes" : "image");
    *image = NULL;
    *bytes = 0;
    if (!(l = gxi_linked(call, linker))) return gxi_failed_with();
    *image = l->image;
    *bytes = l->bytes;
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_linker_save_at(const char *where, gpuexec_linker linker, const char *path) {
    gxi_linker *l;
    gxi_text aside = { 0, 0, 0, 0 };
    FILE *file;
    int ok = 0;
    GXI_CALL(gpuexec_linker_save, GXI_WORKS);
    if (gxi_is_null(call, path, "the path")) return GPUEXEC_BAD_ARGUMENT;
    if (!(l = gxi_linked(call, linker))) return gxi_failed_with();
    /* other threads may write the same file through other linkers: write to a unique name, then rename */
    gxi_add(&aside, "%s.%ld.%llx", path, gxi_pid(), (unsigned long long)linker.id);
    if (aside.failed) return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
                        "out of host memory: cannot write \"%s\"", path);
    file = fopen(aside.p, "wb");
    if (file) {
        ok = fwrite(l->image, 1, l->bytes, file) == l->bytes;
        ok = fclose(file) == 0 && ok;
#ifdef _WIN32
        if (ok) remove(path);                    /* rename does not replace there */
#endif
        ok = ok && rename(aside.p, path) == 0;
    }
    if (!ok) {
        gxi_fail(call, GPUEXEC_FILE_ERROR, NULL, "cannot write \"%s\": %s", path, strerror(errno));
        if (file) remove(aside.p);
    }
    gxi_text_free(&aside);
    return ok ? GPUEXEC_OK : GPUEXEC_FILE_ERROR;
}

GPUEXEC_API const char *gpuexec_linker_log(gpuexec_linker linker) {
    const gxi_slot *slot = gxi_queried("gpuexec_linker_log", linker.id, GXI_LINKER, "the linker");
    return slot && slot->is.linker.info->log ? slot->is.linker.info->log : "";
}
GPUEXEC_API double gpuexec_linker_ms(gpuexec_linker linker) {
    const gxi_slot *slot = gxi_queried("gpuexec_linker_ms", linker.id, GXI_LINKER, "the linker");
    return slot ? slot->is.linker.info->ms : -1.0;
}
GPUEXEC_API gpuexec_result gpuexec_linker_destroy_at(const char *where, gpuexec_linker linker) {
    GXI_CALL(gpuexec_linker_destroy, GXI_CLEANS);
    return gxi_destroy_handle(call, linker.id, GXI_LINKER, "the linker");
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-memory */

#define GXI_MOST_MEMORY ((uint64_t)1 << 60)         /* bytes: more is a negative or overflowed size */

static void gxi_add_bytes(gxi_text *t, uint64_t bytes) {             /* "8.0 GiB (8589934592 bytes)" */
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    double x = (double)bytes;
    int u = -1;
    while (x >= 1024 && u < 4) {
        x /= 1024;
        u++;
    }
    if (u < 0) gxi_add(t, "%llu byte%s", (unsigned long long)bytes, gxi_s(bytes));
    else gxi_add(t, "%.1f %s (%llu bytes)", x, units[u], (unsigned long long)bytes);
}

/* The pools on a context's device: the one of the call, the device's default pool, gpuexec's, those of the program. */
enum { GXI_POOLS_COUNTED = 32 };
static GXI_COLD unsigned gxi_pools_of(const gxi_call *call, const gxi_slot *context, void *pool, void **pools) {
    const int device = gxi_context_of(context)->device;
    const gxi_slot *other, *slot;
    void *by_default = NULL, *next[2];
    unsigned n = 0, i, k;
    if (GXI_BESIDE(cuDeviceGetDefaultMemPool, (&by_default, device))) by_default = NULL;
    if (pool) pools[n++] = pool;
    if (by_default && by_default != pool) pools[n++] = by_default;
    gxi_lock(&gxi_tables);
    for (other = gxi_first_held(&gxi.first[GXI_CONTEXT]); other; other = gxi_next_held(other)) {
        if (gxi_context_of(other)->device != device) continue;
        slot = gxi_first_held(&gxi_context_of(other)->first[GXI_POOL]);
        for (k = 0; (k == 0 || slot) && n < GXI_POOLS_COUNTED; k++) {
            next[0] = k == 0 ? gxi_context_of(other)->pool : slot->is.pool.native;
            for (i = 0; i < n && pools[i] != next[0]; i++) {}
            if (i == n && next[0]) pools[n++] = next[0];
            if (k) slot = gxi_next_held(slot);
        }
    }
    gxi_unlock(&gxi_tables);
    return n;
}
/* Adds how much memory the device has free, how much pools hold, and what trimming them would return; with the context
   current. pool: one that the others may not include, or NULL. */
static GXI_COLD void gxi_add_room(gxi_text *t, const gxi_call *call, const gxi_slot *context, void *pool) {
    void *pools[GXI_POOLS_COUNTED];
    const unsigned n = gxi_pools_of(call, context, pool, pools);
    uint64_t reserved = 0, used = 0;
    size_t available = 0, total = 0;
    unsigned i;
    if (GXI_BESIDE(cuMemGetInfo, (&available, &total)) == 0) {
        gxi_add_bytes(t, available);
        gxi_add(t, " of ");
        gxi_add_bytes(t, total);
        gxi_add(t, " are free");
    } else gxi_add(t, "the free memory is not known");
    for (i = 0; i < n; i++) {
        uint64_t holds = 0, uses = 0;
        if (GXI_BESIDE(cuMemPoolGetAttribute, (pools[i], GXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &holds)) ||
            GXI_BESIDE(cuMemPoolGetAttribute, (pools[i], GXI_MEMPOOL_ATTR_USED_MEM_CURRENT, &uses)))
            continue;
        reserved += holds;
        used += uses < holds ? uses : holds;
    }
    gxi_add(t, "; memory pools have reserved ");
    gxi_add_bytes(t, reserved);
    gxi_add(t, ", of which ");
    gxi_add_bytes(t, used);
    gxi_add(t, " are in use: trimming them (gpuexec_pool_trim) would return at most ");
    gxi_add_bytes(t, reserved - used);
}
/* With the context current. what: of which memory; pool: that it is from, or NULL. */
static GXI_COLD void gxi_fail_alloc(gxi_call *call, int cu, const gxi_slot *context, size_t bytes, const char *what,
                                    void *pool) {
    gxi_text t = { 0, 0, 0, 0 };
    gxi_add(&t, "cannot allocate ");
    gxi_add_bytes(&t, bytes);
    gxi_add(&t, " of %s memory", what);
    if (*what != 'p') gxi_add(&t, " on device %d", gxi_context_of(context)->ordinal);
    if (cu != GXI_OUT_OF_MEMORY) gxi_fail_cu(call, NULL, "%s", t.p ? t.p : "");
    else if (*what == 'p') {
#ifdef _SC_AVPHYS_PAGES
        const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        gxi_add(&t, ": ");
        gxi_add_bytes(&t, (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page);
        gxi_add(&t, " of the host's ");
        gxi_add_bytes(&t, (uint64_t)sysconf(_SC_PHYS_PAGES) * page);
        gxi_add(&t, " are not in use, not even as caches");
#endif
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY,
                 "request less: pinned memory occupies the host's RAM and cannot be swapped; "
                 "copies also work with ordinary "
                 "memory",
                 "%s", t.p ? t.p : "");
    } else {
        gxi_add(&t, ": ");
        gxi_add_room(&t, call, context, pool);
        gxi_fail_cu(call,
                    "request less, free memory that is not needed, or work in parts; "
                    "other processes may be using memory: check `nvidia-smi`", "%s", t.p ? t.p : "");
    }
    gxi_text_free(&t);
}

static gpuexec_result gxi_check_alloc(gxi_call *call, size_t width, size_t rows, unsigned element, int pitched) {
    if (width == 0 || rows == 0)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "do not allocate if there is nothing to store",
                        "cannot allocate 0 bytes");
    if (pitched && element != 4 && element != 8 && element != 16)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                        "pass 4 for smaller elements, and the widest access of a kernel for larger ones",
                        "element_bytes is %u; it must be 4, 8 or 16", element);
    if (rows <= GXI_MOST_MEMORY && width <= GXI_MOST_MEMORY / rows) return GPUEXEC_OK;
    if (pitched)
        return gxi_fail(call, GPUEXEC_OUT_OF_DEVICE_MEMORY, NULL, "%lu rows of %lu bytes exceed any device's memory",
                        (unsigned long)rows,
                        (unsigned long)width);
    return gxi_fail(call, GPUEXEC_OUT_OF_DEVICE_MEMORY, NULL, "%lu bytes exceed any device's memory",
                    (unsigned long)width);
}
/* With `pitch`, rows of `width` bytes each, at a distance that the driver chooses; without, one row. */
static int gxi_alloc_cu(gxi_call *call, size_t width, size_t rows, unsigned element, size_t *pitch,
                        gpuexec_ptr *address) {
    int cu;
    if (!pitch) return GXI_TRY_MAKE(*address, cuMemAlloc, (address, width));
    cu = GXI_TRY_MAKE(*address, cuMemAllocPitch, (address, pitch, width, rows, element));
    if (cu || (*pitch >= width && *pitch <= GXI_MOST_MEMORY / rows)) return cu;
    GXI_BESIDE(cuMemFree, (*address));
    return gxi_note(call, GXI_MADE_NOTHING);
}
static gpuexec_ptr gxi_alloc(gxi_call *call, gpuexec_context context, size_t width, size_t rows, unsigned element,
                             size_t *pitch) {
    gpuexec_ptr address = 0;
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    if (!(slot = gxi_begin_with_context(call, context)) || gxi_check_alloc(call, width, rows, element, pitch != NULL))
        return 0;
    if (gxi_enter(call, slot->cu_context, &scope)) return 0;
    cu = gxi_alloc_cu(call, width, rows, element, pitch, &address);
    if (cu) {
        gxi_fail_alloc(call, cu, slot, width * rows, "device", NULL);
        address = 0;
    } else if (!gxi_range_add(address, pitch ? *pitch * rows : width, context.id, call->where, GPUEXEC_MEMORY_DEVICE,
                              0)) {
        GXI_BESIDE(cuMemFree, (address));
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot record an allocation of %lu bytes",
                 (unsigned long)(width * rows));
        address = 0;
    }
    gxi_leave(&scope);
    return address;
}
GPUEXEC_API gpuexec_ptr gpuexec_alloc_at(const char *where, gpuexec_context context, size_t bytes) {
    GXI_CALL(gpuexec_alloc, GXI_MAKES);
    return gxi_alloc(call, context, bytes, 1, 0, NULL);
}
GPUEXEC_API gpuexec_ptr gpuexec_alloc_pitched_at(const char *where, gpuexec_context context, size_t width_bytes,
                                                 size_t height, unsigned element_bytes, size_t *pitch) {
    GXI_CALL(gpuexec_alloc_pitched, GXI_MAKES);
    if (!pitch) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass the address of a size_t",
                 "pitch is NULL: the rows cannot be located without it");
        return 0;
    }
    *pitch = 0;
    return gxi_alloc(call, context, width_bytes, height, element_bytes, pitch);
}

static void *gxi_alloc_pinned(gxi_call *call, gpuexec_context context, size_t bytes, unsigned flags) {
    void *memory = NULL;
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    if (!(slot = gxi_begin_with_context(call, context))) return NULL;
    if (bytes == 0) {
        gxi_check_alloc(call, 0, 1, 0, 0);
        return NULL;
    }
    if (gxi_enter(call, slot->cu_context, &scope)) return NULL;
    cu = GXI_TRY_MAKE(memory, cuMemHostAlloc,
                      (&memory, bytes, GXI_MEMHOSTALLOC_PORTABLE | GXI_MEMHOSTALLOC_DEVICEMAP | flags));
    if (cu) {
        gxi_fail_alloc(call, cu, slot, bytes, "pinned host", NULL);
        memory = NULL;
    } else if (!gxi_range_add((uintptr_t)memory, bytes, context.id, call->where, GPUEXEC_MEMORY_PINNED, 0)) {
        GXI_BESIDE(cuMemFreeHost, (memory));
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot record an allocation of %lu bytes",
                 (unsigned long)bytes);
        memory = NULL;
    }
    gxi_leave(&scope);
    return memory;
}
GPUEXEC_API void *gpuexec_alloc_pinned_at(const char *where, gpuexec_context context, size_t bytes) {
    GXI_CALL(gpuexec_alloc_pinned, GXI_MAKES);
    return gxi_alloc_pinned(call, context, bytes, 0);
}
GPUEXEC_API void *gpuexec_alloc_write_combined_at(const char *where, gpuexec_context context, size_t bytes) {
    GXI_CALL(gpuexec_alloc_write_combined, GXI_MAKES);
    return gxi_alloc_pinned(call, context, bytes, GXI_MEMHOSTALLOC_WRITECOMBINED);
}

/* Finds the allocation that begins at the address; fails unless it has that kind. */
static gpuexec_result gxi_check_release(gxi_call *call, uint64_t address, gpuexec_memory_kind kind, gxi_range *range) {
    static const char *const makers[] = { "", "gpuexec_alloc", "gpuexec_alloc_pinned", "gpuexec_register",
                                          "gpuexec_alloc_managed" };
    static const char *const cures[] = { "", "free it with gpuexec_free", "free it with gpuexec_free_pinned",
                                         "unregister it with gpuexec_unregister", "free it with gpuexec_free" };
    const int registered = kind == GPUEXEC_MEMORY_REGISTERED;
    if (gxi_begin(call)) return gxi_failed_with();
    if (!gxi_range_find(address, range))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                        registered ? "unregister it only once; memory from another library must be released by that "
                                     "library"
                        : "free it only once, with the counterpart of the function that allocated it; memory from "
                          "another library must be freed by that library", "0x%llx is not from %s, or was already %s",
                        (unsigned long long)address, makers[kind], registered ? "unregistered" : "freed");
    if (range->kind != kind)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, cures[range->kind], "0x%llx is %s memory (%s at %s)",
                        (unsigned long long)address, gxi_memory_kinds[range->kind], gxi_memory_verbs[range->kind],
                        gxi_place(range->where));
    if (range->lo != address)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass the address at which the memory begins",
                        "0x%llx is %llu byte%s after the beginning of the %llu bytes of %s memory at 0x%llx (%s at %s)",
                        (unsigned long long)address, (unsigned long long)(address - range->lo),
                        gxi_s(address - range->lo), (unsigned long long)range->bytes, gxi_memory_kinds[range->kind],
                        (unsigned long long)range->lo, gxi_memory_verbs[range->kind], gxi_place(range->where));
    return GPUEXEC_OK;
}
static gpuexec_result gxi_fail_raced(gxi_call *call, uint64_t address, const char *done) {
    return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "0x%llx was %s by another thread at the same time",
                    (unsigned long long)address, done);
}
static gpuexec_result gxi_release(gxi_call *call, uint64_t address, gpuexec_memory_kind kind) {
    const int registered = kind == GPUEXEC_MEMORY_REGISTERED;
    gxi_range range;
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    memset(&range, 0, sizeof range);
    if (address == 0) return GPUEXEC_OK;
    if (gxi_check_release(call, address, kind, &range)) return gxi_failed_with();
    if (range.pooled == GXI_OF_GRAPH)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "free it with gpuexec_free_on, in the capture or after a launch",
                        "0x%llx was allocated in a capture, at %s, and belongs to the graph",
                        (unsigned long long)address, gxi_place(range.where));
    if (!(slot = gxi_get(call, range.context, GXI_CONTEXT, "the memory's context")) ||
        gxi_enter(call, slot->cu_context, &scope))
        /* a destroyed context must not be entered; after another failure, the memory can still be freed later */
        return gxi_failed_with();
    if (!gxi_range_remove(address, kind, call->where, &range)) {
        gxi_leave(&scope);
        return gxi_fail_raced(call, address, registered ? "unregistered" : "freed");
    }
    cu = GXI_LOAD(&gxi.captures) && GXI_LOAD(&gxi.postpone)(call, &range, 0) ? 0 : gxi_free_range(call, &range, 1);
    gxi_leave(&scope);
    return cu && cu != GXI_DEINITIALIZED
        ? gxi_fail_cu(call, NULL, registered ? "cannot unregister 0x%llx" : "cannot free 0x%llx",
                      (unsigned long long)address) : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_free_at(const char *where, gpuexec_ptr address) {
    gxi_range range;
    GXI_CALL(gpuexec_free, GXI_CLEANS);
    return gxi_release(call, address, gxi_range_find(address, &range) && range.kind == GPUEXEC_MEMORY_MANAGED
                                          ? GPUEXEC_MEMORY_MANAGED : GPUEXEC_MEMORY_DEVICE);
}
GPUEXEC_API gpuexec_result gpuexec_free_pinned_at(const char *where, void *memory) {
    GXI_CALL(gpuexec_free_pinned, GXI_CLEANS);
    return gxi_release(call, (uintptr_t)memory, GPUEXEC_MEMORY_PINNED);
}
GPUEXEC_API gpuexec_result gpuexec_unregister_at(const char *where, void *memory) {
    GXI_CALL(gpuexec_unregister, GXI_CLEANS);
    return gxi_release(call, (uintptr_t)memory, GPUEXEC_MEMORY_REGISTERED);
}
static int gxi_pointer(gxi_call *call, uint64_t address, gpuexec_pointer_info *info);
/* Whether cuMemHostRegister failed with cu because the memory is page-locked: it returns 1 if another library allocated
   it so, 712 if another library registered it (measured). */
static int gxi_is_pinned(const gxi_call *call, int cu, const void *memory) {
    gxi_call own = *call;                        /* so that results here do not replace the caller's */
    gpuexec_pointer_info info;
    return cu == GXI_HOST_MEMORY_ALREADY_REGISTERED ||
        (gxi_pointer(&own, (uintptr_t)memory, &info) == 0 && info.kind == GPUEXEC_MEMORY_PINNED);
}
GPUEXEC_API gpuexec_result gpuexec_register_at(const char *where, gpuexec_context context, void *memory, size_t bytes) {
    gxi_range range;
    gxi_slot *slot;
    gxi_scope scope;
    gpuexec_result result = GPUEXEC_OK;
    int cu;
    GXI_CALL(gpuexec_register, GXI_MAKES);
    if (!(slot = gxi_begin_with_context(call, context))) return gxi_failed_with();
    if (gxi_is_null(call, memory, "memory")) return GPUEXEC_BAD_ARGUMENT;
    if (!bytes || (uintptr_t)memory + bytes < bytes)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "cannot register %lu bytes at %p",
                                                          (unsigned long)bytes, memory);
    if (gxi_range_touching((uintptr_t)memory, bytes, &range)) {
        if ((uintptr_t)memory >= range.lo && bytes <= range.bytes - ((uintptr_t)memory - range.lo))
            return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "do not register it: it is already page-locked",
                            range.kind == GPUEXEC_MEMORY_REGISTERED ? "%p is already registered (at %s%s)"
                            : "%p is already %s memory (allocated at %s)", memory,
                            range.kind == GPUEXEC_MEMORY_REGISTERED ? gxi_place(range.where)
                            : gxi_memory_kinds[range.kind],
                            range.kind == GPUEXEC_MEMORY_REGISTERED ? "" : gxi_place(range.where));
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                        "register the whole buffer once, and unregister memory before freeing it",
                        "%lu bytes at %p overlap %llu bytes of %s memory at 0x%llx (%s at %s)",
                        (unsigned long)bytes, memory, (unsigned long long)range.bytes, gxi_memory_kinds[range.kind],
                        (unsigned long long)range.lo, gxi_memory_verbs[range.kind], gxi_place(range.where));
    }
    if (gxi_enter(call, slot->cu_context, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuMemHostRegister, (memory, bytes, GXI_MEMHOSTALLOC_PORTABLE | GXI_MEMHOSTALLOC_DEVICEMAP));
    if (cu && gxi_is_pinned(call, cu, memory))
        result = gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                 "do not register it: another library has registered this memory, or allocated it as page-locked "
                 "memory (gpuexec_pointer_get_info describes it)",
                 "%lu bytes at %p are already page-locked, in full or in part", (unsigned long)bytes, memory);
    else if (cu)
        result = gxi_fail_cu(call, NULL, "cannot page-lock %lu bytes at %p", (unsigned long)bytes, memory);
    else if (!gxi_range_add((uintptr_t)memory, bytes, context.id, where, GPUEXEC_MEMORY_REGISTERED, 0)) {
        GXI_BESIDE(cuMemHostUnregister, (memory));
        result = gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
                          "out of host memory: cannot record %lu registered bytes",
                          (unsigned long)bytes);
    }
    gxi_leave(&scope);
    return result;
}

static gpuexec_result gxi_peer(gxi_call *call, gpuexec_context context, gpuexec_context peer, int enable) {
    gxi_slot *slot, *other;
    gxi_scope scope;
    int cu;
    if (!(slot = gxi_begin_with_context(call, context)) || !(other = gxi_get(call, peer.id, GXI_CONTEXT, "the peer")))
        return gxi_failed_with();
    if (slot->cu_context == other->cu_context) return GPUEXEC_OK;    /* allowed, for loops over all pairs */
    if (gxi_enter(call, slot->cu_context, &scope)) return gxi_failed_with();
    cu = enable ? GXI_TRY(cuCtxEnablePeerAccess, (other->cu_context, 0))
        : GXI_TRY(cuCtxDisablePeerAccess, (other->cu_context));
    gxi_leave(&scope);
    if (cu == 0 || cu == (enable ? GXI_PEER_ACCESS_ALREADY_ENABLED : GXI_PEER_ACCESS_NOT_ENABLED)) return GPUEXEC_OK;
    if (cu == GXI_PEER_ACCESS_UNSUPPORTED)
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "copy instead: gpuexec_copy works between any two devices",
                        "device %d cannot access the memory of device %d", gxi_context_of(slot)->ordinal,
                        gxi_context_of(other)->ordinal);
    return gxi_fail_cu(call, NULL, "cannot %s peer access from device %d to device %d", enable ? "enable" : "disable",
                       gxi_context_of(slot)->ordinal, gxi_context_of(other)->ordinal);
}
GPUEXEC_API gpuexec_result gpuexec_peer_enable_at(const char *where, gpuexec_context context, gpuexec_context peer) {
    GXI_CALL(gpuexec_peer_enable, GXI_MAKES);
    return gxi_peer(call, context, peer, 1);
}
GPUEXEC_API gpuexec_result gpuexec_peer_disable_at(const char *where, gpuexec_context context, gpuexec_context peer) {
    GXI_CALL(gpuexec_peer_disable, GXI_CLEANS);
    return gxi_peer(call, context, peer, 0);
}

/* --- what is at an address: our table first, then the driver ------------------------------------------------------ */

/* An open context on that device that still exists (an adopted one may have been destroyed), or NULL. */
static struct CUctx_st *gxi_any_context(const gxi_call *call, int ordinal) {
    gxi_call own = *call;                        /* so that results here do not replace the caller's */
    gxi_slot *slot;
    for (slot = gxi_first(&gxi.first[GXI_CONTEXT]); slot; slot = gxi_after(slot)) {
        unsigned long long id = gxi_context_of(slot)->id;
        if (gxi_context_of(slot)->ordinal == ordinal && !gxi_is_destroyed(&own, slot->cu_context, &id))
            return slot->cu_context;
    }
    return NULL;
}

/* Describes an address from the table alone. 0: the driver must be queried, because the memory is not in the table, may
   not exist any more, or its address for kernels is not known yet. */
static int gxi_pointer_of_ours(uint64_t address, gpuexec_pointer_info *info) {
    const gxi_slot *context = NULL;
    const gxi_range *r;
    gxi_lock(&gxi_tables);
    r = gxi_range_below(address);
    if (r && address - r->lo < GXI_LOAD(&r->bytes) && r->pooled != GXI_OF_GRAPH)
        context = gxi_peek_inline(r->context, GXI_CONTEXT);
    if (context && (context->adopted || !r->device)) context = NULL;
    if (context) {
        info->kind = r->kind;
        info->device = gxi_context_of(context)->ordinal;
        info->base = r->lo;
        info->bytes = (size_t)r->bytes;
        info->device_address = r->device + (address - r->lo);
        info->host_address = r->kind == GPUEXEC_MEMORY_DEVICE ? NULL : (void *)(uintptr_t)address;
        info->ours = 1;
        info->where = r->where;
        info->pool = r->pooled == GXI_POOLED;
        info->ipc = r->pooled == GXI_IMPORTED;
    }
    gxi_unlock(&gxi_tables);
    return context != NULL;
}

/* Nonzero if the driver cannot describe the address. It knows the kind of memory without a current context, but the
   addresses only in a context with access: the memory's own, or, for memory of a pool, which has none, any of ours on
   its device. */
static int gxi_pointer(gxi_call *call, uint64_t address, gpuexec_pointer_info *info) {
    int what[] = { GXI_POINTER_MEMORY_TYPE, GXI_POINTER_IS_MANAGED, GXI_POINTER_DEVICE_ORDINAL, GXI_POINTER_CONTEXT,
                   GXI_POINTER_MEMPOOL_HANDLE };
    int where[] = { GXI_POINTER_DEVICE_POINTER, GXI_POINTER_HOST_POINTER }, type = 0, managed = 0, device = -1;
    struct CUctx_st *native = NULL;
    void *values[5], *pool = NULL;
    gxi_range *r, range;
    gxi_scope scope = { 0, 0, 0, 0 };
    int cu;
    memset(info, 0, sizeof *info);
    info->device = -1;
    if (gxi_pointer_of_ours(address, info)) return gxi_note(call, 0);
    values[0] = &type;
    values[1] = &managed;
    values[2] = &device;
    values[3] = &native;
    values[4] = &pool;
    cu = GXI_TRY(cuPointerGetAttributes, (5, what, values, address));
    if (cu || !type) return cu;
    info->kind = managed ? GPUEXEC_MEMORY_MANAGED : type == GXI_MEMORYTYPE_HOST ? GPUEXEC_MEMORY_PINNED
        : GPUEXEC_MEMORY_DEVICE;
    info->device = device;
    info->pool = pool != NULL;
    if (!native) native = gxi_any_context(call, device);
    if (native && (cu = gxi_enter_cu(call, native, &scope)) != 0) return cu;
    values[0] = &info->device_address;
    values[1] = &info->host_address;
    cu = GXI_TRY(cuPointerGetAttributes, (2, where, values, address));
    if (cu == 0 &&
        GXI_BESIDE(cuMemGetAddressRange,
                   (&info->base, &info->bytes, info->device_address ? info->device_address : address))) {
        info->base = 0;                          /* not all memory has a range */
        info->bytes = 0;
    }
    gxi_leave(&scope);
    if ((info->ours = gxi_range_find(address, &range)) != 0) {
        info->kind = range.kind;
        info->base = range.lo;
        info->bytes = (size_t)range.bytes;
        info->where = range.where;
        info->ipc = range.pooled == GXI_IMPORTED;
        gxi_lock(&gxi_tables);
        r = gxi_range_below(address);
        if (cu == 0 && r && r->lo == range.lo) r->device = info->device_address - (address - range.lo);
        gxi_unlock(&gxi_tables);
    }
    return cu;
}
GPUEXEC_API gpuexec_result gpuexec_pointer_get_info_at(const char *where, gpuexec_ptr address,
                                                       gpuexec_pointer_info *info) {
    if (info && GXI_LOAD(&gxi.started) && gxi_pointer_of_ours(address, info)) return GPUEXEC_OK;
    GXI_CALL(gpuexec_pointer_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (gxi_begin(call)) return gxi_failed_with();
    return gxi_pointer(call, address, info)
        ? gxi_fail_cu(call, NULL, "cannot query pointer 0x%llx", (unsigned long long)address) : GPUEXEC_OK;
}

GPUEXEC_API gpuexec_ptr gpuexec_pinned_address_at(const char *where, void *memory) {
    gpuexec_pointer_info info;
    GXI_CALL(gpuexec_pinned_address, GXI_MAKES);
    if (gxi_begin(call)) return 0;
    if (gxi_pointer(call, (uintptr_t)memory, &info))
        gxi_fail_cu(call, NULL, "cannot query the device address of pinned memory %p", memory);
    else if (info.kind >= GPUEXEC_MEMORY_PINNED && info.device_address) return info.device_address;
    else
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                 "allocate it with gpuexec_alloc_pinned, or make it page-locked with gpuexec_register",
                 "%p is %s memory, not pinned", memory, gxi_memory_kinds[info.kind]);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-stream */

static const gxi_slot *gxi_capturing(const gxi_call *call, const struct CUctx_st *context);
static uint64_t gxi_stream_new(gxi_call *call, const gxi_slot *context, struct CUstream_st *native, int adopted,
                               int legacy) {
    gxi_slot made = gxi_made(context, context->id, adopted);
    made.is.stream.native = native;
    made.legacy = (unsigned)legacy & 3;
    GXI_STORE(&gxi.add_launches, &gxi_add_last_launches);
    GXI_STORE(&gxi.mark, &gxi_mark);
    if (adopted && !legacy) GXI_STORE(&gxi.capturing, &gxi_capturing);
    return gxi_new(call, GXI_STREAM, &made, &gxi_context_of(context)->first[GXI_STREAM]);
}

static int gxi_stream_end(gxi_call *call, gxi_slot *old) {
    return old->adopted ? 0 : GXI_TRY(cuStreamDestroy, (old->is.stream.native));
}

static uint64_t gxi_stream_make(gxi_call *call, gpuexec_context context, const gpuexec_stream_desc *desc) {
    const unsigned flags = desc && desc->non_blocking ? GXI_STREAM_NON_BLOCKING : 0;
    struct CUstream_st *native = NULL;
    gxi_slot *slot;
    gxi_scope scope;
    uint64_t id;
    int cu;
    if (desc && gxi_check_desc(call, "gpuexec_stream_desc", desc->start_canary, desc->end_canary)) return 0;
    if (!(slot = gxi_begin_in(call, context, &scope))) return 0;
    cu = GXI_TRY_MAKE(native, cuStreamCreateWithPriority, (&native, flags, desc ? desc->priority : 0));
    gxi_leave(&scope);
    if (cu) {
        gxi_fail_cu(call, NULL, "cannot create a stream on device %d", gxi_context_of(slot)->ordinal);
        return 0;
    }
    id = gxi_stream_new(call, slot, native, 0, 0);
    if (!id) GXI_BESIDE(cuStreamDestroy, (native));
    return id;
}
GPUEXEC_API gpuexec_stream gpuexec_stream_create_at(const char *where, gpuexec_context context,
                                                    const gpuexec_stream_desc *desc) {
    gpuexec_stream handle;
    GXI_CALL(gpuexec_stream_create, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_stream_make(call, context, desc), GXI_STREAM);
    return handle;
}

/* Lets the context keep an object that it needs once. Another thread may have been first: returns the one kept. */
static uint64_t gxi_keep_one(gxi_call *call, uint64_t *kept, uint64_t mine) {
    uint64_t id = mine;
    if (!mine) return 0;
    gxi_lock(&gxi_tables);
    if (*kept) id = *kept;
    else GXI_STORE(kept, mine);
    gxi_unlock(&gxi_tables);
    if (id != mine) gxi_destroy(call, gxi_peek_any(mine));
    return id;
}
/* The context's legacy (which 1) or per-thread (2) default stream: these numbers are CU_STREAM_LEGACY and
   CU_STREAM_PER_THREAD. */
static uint64_t gxi_default_stream(gxi_call *call, gpuexec_context context, int which) {
    gxi_slot *slot = gxi_begin_with_context(call, context);
    uint64_t *kept, id, mine;
    if (!slot) return 0;
    kept = &gxi_context_of(slot)->defaults[which - 1];
    if ((id = GXI_LOAD(kept)) != 0) return id;
    mine = gxi_stream_new(call, slot, (struct CUstream_st *)(uintptr_t)which, 1, which);
    return gxi_keep_one(call, kept, mine);
}
GPUEXEC_API gpuexec_stream gpuexec_stream_legacy_at(const char *where, gpuexec_context context) {
    gpuexec_stream handle;
    GXI_CALL(gpuexec_stream_legacy, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_default_stream(call, context, 1), GXI_STREAM);
    return handle;
}
GPUEXEC_API gpuexec_stream gpuexec_stream_per_thread_at(const char *where, gpuexec_context context) {
    gpuexec_stream handle;
    GXI_CALL(gpuexec_stream_per_thread, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_default_stream(call, context, 2), GXI_STREAM);
    return handle;
}

static uint64_t gxi_stream_adopt(gxi_call *call, gpuexec_context context, struct CUstream_st *native) {
    struct CUctx_st *of = NULL;
    gxi_slot *slot;
    if ((uintptr_t)native <= 2) return gxi_default_stream(call, context, native ? (int)(uintptr_t)native : 1);
    if (!(slot = gxi_begin_with_context(call, context))) return 0;
    if (GXI_TRY(cuStreamGetCtx, (native, &of)))
        gxi_fail_cu(call, NULL, "%p is not a stream known to the driver", (void *)native);
    else if (of == slot->cu_context) return gxi_stream_new(call, slot, native, 1, 0);
    else
        gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "adopt it with its own context",
                 "stream %p belongs to context %p, but the context passed is %p",
                 (void *)native, (void *)of, (void *)slot->cu_context);
    return 0;
}
GPUEXEC_API gpuexec_stream gpuexec_stream_from_native_at(const char *where, gpuexec_context context,
                                                         struct CUstream_st *native) {
    gpuexec_stream handle;
    GXI_CALL(gpuexec_stream_from_native, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_stream_adopt(call, context, native), GXI_STREAM);
    return handle;
}

static gxi_slot *gxi_find_stream(gxi_call *call, gpuexec_stream stream) {
    return gxi_get(call, stream.id, GXI_STREAM, "the stream");
}

static gxi_slot *gxi_begin_with_stream(gxi_call *call, gpuexec_stream stream) {
    return gxi_begin_with(call, stream.id, GXI_STREAM, "the stream");
}

GPUEXEC_API struct CUstream_st *gpuexec_stream_native(gpuexec_stream stream) {
    const gxi_slot *slot = gxi_queried("gpuexec_stream_native", stream.id, GXI_STREAM, "the stream");
    return slot ? slot->is.stream.native : NULL;
}

/* For work on the legacy stream: while a blocking stream of the context captures, it would break that capture. */
static GXI_NOINLINE gpuexec_result gxi_enter_legacy(gxi_call *call, struct CUctx_st *context, gxi_scope *scope) {
    int status;
    if (gxi_enter(call, context, scope)) return gxi_failed_with();
    if (gxi.cu.cuStreamIsCapturing(GXI_STREAM_LEGACY, &status) != GXI_CAPTURE_IMPLICIT) return GPUEXEC_OK;
    gxi_leave(scope);
    return gxi_fail(call, GPUEXEC_CAPTURING, "capture on a stream created with gpuexec_stream_desc.non_blocking, or "
                    "use another stream than the legacy one meanwhile (functions whose names end in _now use it)",
                    "a blocking stream of the context captures: the legacy default stream cannot wait for it");
}
/* A default stream belongs to the current context: calls on it need that context. */
static GXI_NOINLINE gpuexec_result gxi_enter_stream(gxi_call *call, const gxi_slot *stream, gxi_scope *scope) {
    scope->call = call;
    scope->entered = scope->pushed = 0;
    return !stream->legacy ? GPUEXEC_OK
        : stream->legacy == 1 ? gxi_enter_legacy(call, stream->cu_context, scope)
        : gxi_enter(call, stream->cu_context, scope);
}
/* A CUstreamCaptureStatus; negative if the driver does not know. *id: the capture's, if the result is not 0. */
static int gxi_capture_info(const gxi_call *call, const gxi_slot *stream, uint64_t *id) {
    struct CUctx_st *popped;
    int status = 0;
    if (stream->legacy == 1 || (stream->legacy && GXI_BESIDE(cuCtxPushCurrent, (stream->cu_context)))) return 0;
    if (gxi.cu.cuStreamGetCaptureInfo(stream->is.stream.native, &status, id)) status = -1;
    if (stream->legacy) GXI_BESIDE(cuCtxPopCurrent, (&popped));
    return status;
}
/* The same; 0 (no) if the driver does not know. */
static int gxi_capture_status(const gxi_call *call, const gxi_slot *stream) {
    uint64_t id;
    const int status = gxi_capture_info(call, stream, &id);
    return status < 0 ? 0 : status;
}
/* The same where speed counts: without captures of gpuexec, only streams adopted from other libraries can capture. */
static int gxi_captures(const gxi_call *call, const gxi_slot *stream) {
    return GXI_LOAD(&gxi.captures) || (stream->adopted && !stream->legacy) ? gxi_capture_status(call, stream) : 0;
}
/* Fails if the stream captures: the driver would refuse the call, and break the capture. */
static GXI_NOINLINE gpuexec_result gxi_check_capture(gxi_call *call, const gxi_slot *stream, const char *cannot,
                                                     const char *cure) {
    if (!gxi_captures(call, stream)) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_CAPTURING, cure,
                    "cannot %s: the stream captures, and what it records runs only when the graph is launched", cannot);
}
/* A stream that captures in that context, through whichever handle: cuCtxSynchronize would break the capture. */
static const gxi_slot *gxi_capturing(const gxi_call *call, const struct CUctx_st *context) {
    const gxi_slot *c = gxi_first(&gxi.first[GXI_CONTEXT]), *stream = NULL;
    for (; c && !stream; c = gxi_after(c)) {
        if (c->cu_context != context) continue;
        stream = gxi_first(&gxi_context_of(c)->first[GXI_STREAM]);
        while (stream && !gxi_captures(call, stream)) stream = gxi_after(stream);
    }
    return stream;
}
/* The same for calls that a capture of this thread, on another stream, would forbid. */
static GXI_NOINLINE gpuexec_result gxi_enter_relaxed(gxi_call *call, const gxi_slot *stream, gxi_scope *scope) {
    if (gxi_enter_stream(call, stream, scope)) return gxi_failed_with();
    if (scope->entered) return GPUEXEC_OK;
    scope->entered = 1;
    scope->mode = GXI_STREAM_CAPTURE_MODE_RELAXED;
    gxi_exchange_mode(&scope->mode);
    return GPUEXEC_OK;
}

GPUEXEC_API gpuexec_result gpuexec_stream_sync_at(const char *where, gpuexec_stream stream) {
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    GXI_CALL(gpuexec_stream_sync, GXI_WAITS);
    if (gxi_begin(call) || !(slot = gxi_find_stream(call, stream)) ||
        gxi_check_capture(call, slot, "wait for the stream", "end the capture, launch the graph, then wait") ||
        gxi_enter_relaxed(call, slot, &scope))
        return gxi_take();
    cu = GXI_TRY(cuStreamSynchronize, (slot->is.stream.native));
    gxi_leave(&scope);
    gxi_waited(call, cu, slot, "the stream");
    return gxi_take_of_stream(call, slot);
}
GPUEXEC_API gpuexec_result gpuexec_stream_query(gpuexec_stream stream) {
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    GXI_CALL_NO_PLACE(gpuexec_stream_query, GXI_QUERIES);
    if (!(slot = gxi_begin_with_stream(call, stream)) ||
        gxi_check_capture(call, slot, "query the stream", "end the capture first") ||
        gxi_enter_relaxed(call, slot, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuStreamQuery, (slot->is.stream.native));
    gxi_leave(&scope);
    if (cu == GXI_CU_NOT_READY) return GPUEXEC_NOT_READY;
    return cu ? gxi_fail_cu(call, NULL, "cannot query the stream") : GPUEXEC_OK;
}
enum { GXI_CAPTURED = 2 };                       /* gxi_slot.is.event.recorded: in a capture */
/* Fails if the event's last record was refused: the driver would use an earlier record, or none. */
static GXI_NOINLINE gpuexec_result gxi_event_refused(gxi_call *call, const gxi_slot *event, const char *is) {
    const uint32_t recorded = GXI_LOAD(&event->is.event.recorded);
    const char *where = GXI_LOAD(&event->is.event.refused_at);
    if (recorded <= GXI_CAPTURED) return GPUEXEC_OK;
    return gxi_fail(call, (gpuexec_result)recorded, "fix that failure, then record the event again",
                    "%s has not been recorded: its last gpuexec_event_record%s%s failed with %s", is, GXI_AT(where),
                    gpuexec_result_name((gpuexec_result)recorded));
}
/* A stream whose calls need no context and no checks before the driver, on this thread. */
GXI_HOT int gxi_is_plain(const gxi_slot *stream) {
    return !(stream->legacy || stream->borrowed || gxi_thread.latched || gxi.trace || gxi.captures);
}
/* `fails`: the text of a failure. cu: what the driver returned on the fast path, -1 if that was not tried. */
static gpuexec_result gxi_stream_records(gxi_call *call, const gxi_slot *stream, struct CUevent_st *event,
                                         const char *fails, int cu) {
    gxi_scope scope;
    if (cu >= 0) gxi_said(call, "cuEventRecord", cu);
    else {
        if (gxi_enter_stream(call, stream, &scope)) return gxi_failed_with();
        cu = GXI_TRY(cuEventRecord, (event, stream->is.stream.native));
        gxi_leave(&scope);
    }
    return cu ? gxi_fail_cu(call, NULL, "%s", fails) : GPUEXEC_OK;
}
/* Before a stream waits for work that is in a capture, or is not: both must be in the same, or in none. Without
   captures of gpuexec, it is not known which of our streams have joined another library's: the driver decides. */
static gpuexec_result gxi_check_join(gxi_call *call, const gxi_slot *stream, int captured, const char *is) {
    if (captured && stream->legacy == 1)
        return gxi_fail(call, GPUEXEC_CAPTURING, "use a stream from gpuexec_stream_create",
                        "%s is in a capture, which the legacy default stream cannot join", is);
    if (!captured && GXI_LOAD(&gxi.captures) && gxi_captures(call, stream))
        return gxi_fail(call, GPUEXEC_CAPTURING, "wait for it before the capture begins; or let the other stream join "
                        "the capture first: gpuexec_stream_wait_stream(other, stream)",
                        "the stream captures, but %s is outside the capture", is);
    return GPUEXEC_OK;
}
static gpuexec_result gxi_stream_waits(gxi_call *call, const gxi_slot *stream, struct CUevent_st *event,
                                       const char *fails, int cu) {
    gxi_scope scope;
    if (cu >= 0) gxi_said(call, "cuStreamWaitEvent", cu);
    else {
        if (gxi_enter_stream(call, stream, &scope)) return gxi_failed_with();
        cu = GXI_TRY(cuStreamWaitEvent, (stream->is.stream.native, event, 0));
        gxi_leave(&scope);
    }
    return cu ? gxi_fail_cu(call, NULL, "%s", fails) : GPUEXEC_OK;
}
static GXI_NOINLINE gpuexec_result gxi_wait_event_else(const char *where, gpuexec_stream stream, gpuexec_event event,
                                                       int cu) {
    gxi_slot *slot, *e;
    GXI_CALL_ON(stream, gpuexec_stream_wait_event);
    if (!(slot = gxi_begin_with_stream(call, stream)) || !(e = gxi_get(call, event.id, GXI_EVENT, "the event")) ||
        gxi_event_refused(call, e, "the event") ||
        (!e->adopted && GXI_LOAD(&e->is.event.recorded) &&
         gxi_check_join(call, slot, GXI_LOAD(&e->is.event.recorded) == GXI_CAPTURED, "the event's last record")))
        return gxi_failed_with();
    return gxi_stream_waits(call, slot, e->is.event.native, "the stream cannot wait for the event", cu);
}
GPUEXEC_API gpuexec_result gpuexec_stream_wait_event_at(const char *where, gpuexec_stream stream, gpuexec_event event) {
    const gxi_slot *slot = gxi_peek_inline(stream.id, GXI_STREAM), *e = gxi_peek_inline(event.id, GXI_EVENT);
    int cu = -1;
    if (slot && e && gxi_is_plain(slot) && !e->borrowed && GXI_LOAD(&e->is.event.recorded) <= 1) {
        cu = gxi.cu.cuStreamWaitEvent(slot->is.stream.native, e->is.event.native, 0);
        if (cu == 0) return GPUEXEC_OK;
    }
    return gxi_wait_event_else(where, stream, event, cu);
}
/* --- a stream waits for another: on an event of the context that only this thread uses. cuStreamWaitEvent takes the
   record at the time of the call, so that the event can be recorded again when it has returned. --- */

static GXI_NOINLINE gxi_use *gxi_use_find(uint64_t context) {
    gxi_thread_record *record = gxi_thread.record;
    unsigned i;
    if (!record || gxi_thread.epoch != GXI_LOAD(&gxi.epoch)) return NULL;
    for (i = 0; i < record->nuses; i++)
        if (record->uses[i].context == context) return gxi_thread.use = &record->uses[i];
    return NULL;
}
/* This thread's entry for a context; NULL: none. */
GXI_HOT gxi_use *gxi_use_of(uint64_t context) {
    gxi_use *use = gxi_thread.use;
    return gxi_thread.epoch == GXI_LOAD(&gxi.epoch) && use->context == context ? use : gxi_use_find(context);
}
/* The same; creates it. NULL: no memory. */
static gxi_use *gxi_use_make(uint64_t context) {
    gxi_use *use = gxi_use_of(context);
    gxi_thread_record *record = use ? NULL : gxi_record();
    unsigned i, open = 0;
    if (use || !record) return use;
    gxi_thread.use = &gxi_no_use;
    for (i = 0; i < record->nuses; i++)                                  /* contexts may have been closed since */
        if (gxi_peek(record->uses[i].context, GXI_CONTEXT)) record->uses[open++] = record->uses[i];
    record->nuses = open;
    if (open == record->uses_cap) {
        const unsigned cap = open ? 2 * open : 4;
        gxi_use *uses = (gxi_use *)gxi_realloc(record->uses, cap * sizeof *uses);
        if (!uses) return NULL;
        record->uses = uses;
        record->uses_cap = cap;
    }
    use = &record->uses[record->nuses++];
    memset(use, 0, sizeof *use);
    use->context = context;
    return use;
}
static void gxi_give_back(gxi_thread_record *record) {
    for (; record->nuses; record->nuses--) {
        const gxi_use *use = &record->uses[record->nuses - 1];
        const gxi_slot *context = gxi_peek(use->context, GXI_CONTEXT);
        gxi_context *info = context ? gxi_context_of(context) : NULL;
        unsigned i;
        for (i = 0; info && i < info->nwait_events; i++)
            if (info->wait_events[i].native == use->event) info->wait_events[i].used = 0;
    }
}
/* Lets this thread use an event of the context: one that an ended thread used, or `made`. NULL: there is none, or no
   memory. */
static struct CUevent_st *gxi_wait_event_take(gxi_context *info, struct CUevent_st *made) {
    struct CUevent_st *event = NULL;
    unsigned i;
    gxi_lock(&gxi_tables);
    for (i = 0; i < info->nwait_events && !event; i++) if (!info->wait_events[i].used) {
        info->wait_events[i].used = 1;
        event = info->wait_events[i].native;
    }
    if (made && !event && info->nwait_events == info->wait_events_cap) {
        const unsigned cap = info->wait_events_cap ? 2 * info->wait_events_cap : 4;
        gxi_wait_event *all = (gxi_wait_event *)gxi_realloc(info->wait_events, cap * sizeof *all);
        if (all) {
            info->wait_events = all;
            info->wait_events_cap = cap;
        }
    }
    if (made && !event && info->nwait_events < info->wait_events_cap) {
        info->wait_events[info->nwait_events].native = event = made;
        info->wait_events[info->nwait_events++].used = 1;
    }
    gxi_unlock(&gxi_tables);
    return event;
}
/* This thread's event in the stream's context. NULL after a failure. */
static struct CUevent_st *gxi_wait_event_of(gxi_call *call, const gxi_slot *stream) {
    const gxi_slot *slot = gxi_peek(stream->context, GXI_CONTEXT);
    gxi_use *use = slot ? gxi_use_make(stream->context) : NULL;
    struct CUevent_st *made = NULL;
    gxi_scope scope;
    int cu;
    if (use && !use->event) use->event = gxi_wait_event_take(gxi_context_of(slot), NULL);
    if (use && use->event) return use->event;
    if (!use || gxi_enter(call, stream->cu_context, &scope)) {
        if (!use) gxi_fail_memory(call, "make the stream wait");
        return NULL;
    }
    cu = GXI_TRY_MAKE(made, cuEventCreate, (&made, GXI_EVENT_DISABLE_TIMING));
    gxi_leave(&scope);
    if (cu) {
        gxi_fail_cu(call, NULL, "the stream cannot wait for the other stream: cannot create an event on device %d",
                    gxi_ordinal_of(stream));
        return NULL;
    }
    GXI_STORE(&gxi.give_back, &gxi_give_back);
    use->event = gxi_wait_event_take(gxi_context_of(slot), made);
    if (use->event != made) GXI_BESIDE(cuEventDestroy, (made));
    if (!use->event) gxi_fail_memory(call, "make the stream wait");
    return use->event;
}
/* A driver call that a fast path has made: its name and what it returned. {0}: none. */
typedef struct gxi_tried { const char *name; int cu; } gxi_tried;
static GXI_NOINLINE gpuexec_result gxi_stream_waits_for(gxi_call *call, const gxi_slot *stream, const gxi_slot *other,
                                                        gxi_tried tried) {
    static const char cannot[] = "the stream cannot wait for the other stream";
    struct CUevent_st *event;
    gpuexec_result result;
    if (tried.cu) {
        gxi_said(call, tried.name, tried.cu);
        return gxi_fail_cu(call, NULL, "%s", cannot);
    }
    if (!(event = gxi_wait_event_of(call, other))) return gxi_failed_with();
    result = gxi_stream_records(call, other, event, cannot, -1);
    return result ? result : gxi_stream_waits(call, stream, event, cannot, -1);
}
/* The same without checks, for streams that are not default streams, if this thread has an event: 1 if it succeeded. */
GXI_HOT int gxi_stream_waits_fast(const gxi_slot *stream, const gxi_slot *other, const gxi_use *use,
                                  gxi_tried *tried) {
    tried->name = NULL;
    tried->cu = 0;
    if (!use || !use->event || !gxi_is_plain(stream) || !gxi_is_plain(other)) return 0;
    tried->name = "cuEventRecord";
    tried->cu = gxi.cu.cuEventRecord(use->event, other->is.stream.native);
    if (tried->cu) return 0;
    tried->name = "cuStreamWaitEvent";
    tried->cu = gxi.cu.cuStreamWaitEvent(stream->is.stream.native, use->event, 0);
    return tried->cu == 0;
}
static GXI_NOINLINE gpuexec_result gxi_wait_stream_else(const char *where, gpuexec_stream stream, gpuexec_stream other,
                                                        gxi_tried tried) {
    gxi_slot *slot, *before;
    GXI_CALL_ON(stream, gpuexec_stream_wait_stream);
    if (!(slot = gxi_begin_with_stream(call, stream)) ||
        !(before = gxi_get(call, other.id, GXI_STREAM, "the other stream")) ||
        gxi_check_join(call, slot, gxi_captures(call, before), "the other stream"))
        return gxi_failed_with();
    return gxi_stream_waits_for(call, slot, before, tried);
}
GPUEXEC_API gpuexec_result gpuexec_stream_wait_stream_at(const char *where, gpuexec_stream stream,
                                                         gpuexec_stream other) {
    const gxi_slot *slot = gxi_peek_inline(stream.id, GXI_STREAM), *before = gxi_peek_inline(other.id, GXI_STREAM);
    gxi_tried tried = { NULL, 0 };
    if (slot && before && gxi_stream_waits_fast(slot, before, gxi_use_of(before->context), &tried)) return GPUEXEC_OK;
    return gxi_wait_stream_else(where, stream, other, tried);
}
GPUEXEC_API gpuexec_result gpuexec_stream_host_function_at(const char *where, gpuexec_stream stream,
                                                           void (*function)(void *user), void *user) {
    gxi_slot *slot;
    gxi_scope scope;
    int cu;
    /* the calling conventions differ only on 32-bit Windows, which CUDA no longer supports */
    union { void (*given)(void *); void (GXI_CUDA *wanted)(void *); } u;
    GXI_CALL_ON(stream, gpuexec_stream_host_function);
    u.given = function;
    if (!(slot = gxi_begin_with_stream(call, stream))) return gxi_failed_with();
    if (!function) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the function is NULL");
    if (gxi_enter_stream(call, slot, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuLaunchHostFunc, (slot->is.stream.native, u.wanted, user));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot enqueue the function") : GPUEXEC_OK;
}

/* --- values in memory --------------------------------------------------------------------------------------------- */

enum { GXI_WRITE = 1 << 20 };                    /* in place of a gpuexec_compare */
static gpuexec_result gxi_check_value(gxi_call *call, gpuexec_ptr address, unsigned bytes, int compare) {
    const int has = compare == GXI_WRITE ? GXI_HAS(cuStreamWriteValue32) && GXI_HAS(cuStreamWriteValue64)
        : GXI_HAS(cuStreamWaitValue32) && GXI_HAS(cuStreamWaitValue64);
    if (!has)
        return gxi_fail(call, GPUEXEC_OLD_DRIVER, "install a newer NVIDIA driver, or use events",
                        "writing values on a stream and waiting for them need a driver for CUDA 11.7 or later; this "
                        "driver supports CUDA %d.%d", gxi.version / 1000, gxi.version % 1000 / 10);
    if (!address) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the address is 0");
    if (address % bytes)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                        "the address 0x%llx is not a multiple of %u, the size of the value", address, bytes);
    if (compare != GXI_WRITE && (compare < 0 || compare > GPUEXEC_NOR))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                        "%d is not a gpuexec_compare; the last valid value is GPUEXEC_NOR (%d)",
                        compare, GPUEXEC_NOR);
    return GPUEXEC_OK;
}
static gpuexec_result gxi_stream_value(gxi_call *call, gpuexec_stream stream, gpuexec_ptr address, unsigned bytes,
                                       uint64_t value, int compare) {
    gxi_slot *slot = gxi_begin_with_stream(call, stream);
    struct CUstream_st *native;
    gxi_scope scope;
    int cu;
    if (!slot || gxi_check_value(call, address, bytes, compare) || gxi_enter_stream(call, slot, &scope))
        return gxi_failed_with();
    native = slot->is.stream.native;
    if (compare == GXI_WRITE)
        cu = bytes == 4 ? GXI_TRY(cuStreamWriteValue32, (native, address, (unsigned)value, 0))
            : GXI_TRY(cuStreamWriteValue64, (native, address, value, 0));
    else
        cu = bytes == 4 ? GXI_TRY(cuStreamWaitValue32, (native, address, (unsigned)value, (unsigned)compare))
            : GXI_TRY(cuStreamWaitValue64, (native, address, value, (unsigned)compare));
    gxi_leave(&scope);
    return cu == 0 ? GPUEXEC_OK
        : gxi_fail_cu(call, cu == GXI_CU_NOT_SUPPORTED ? "use events, or a kernel"
                      : "pass an address in device memory or in pinned memory",
                      compare == GXI_WRITE ? "cannot enqueue a write of %u bytes at 0x%llx on a stream of device %d"
                      : "cannot enqueue a wait for %u bytes at 0x%llx on a stream of device %d",
                      bytes, address, gxi_ordinal_of(slot));
}
GPUEXEC_API gpuexec_result gpuexec_stream_wait_value32_at(const char *where, gpuexec_stream stream,
                                                          gpuexec_ptr address, unsigned value,
                                                          gpuexec_compare compare) {
    GXI_CALL_ON(stream, gpuexec_stream_wait_value32);
    return gxi_stream_value(call, stream, address, 4, value, (int)compare);
}
GPUEXEC_API gpuexec_result gpuexec_stream_wait_value64_at(const char *where, gpuexec_stream stream,
                                                          gpuexec_ptr address, unsigned long long value,
                                                          gpuexec_compare compare) {
    GXI_CALL_ON(stream, gpuexec_stream_wait_value64);
    return gxi_stream_value(call, stream, address, 8, value, (int)compare);
}
GPUEXEC_API gpuexec_result gpuexec_stream_write_value32_at(const char *where, gpuexec_stream stream,
                                                           gpuexec_ptr address, unsigned value) {
    GXI_CALL_ON(stream, gpuexec_stream_write_value32);
    return gxi_stream_value(call, stream, address, 4, value, GXI_WRITE);
}
GPUEXEC_API gpuexec_result gpuexec_stream_write_value64_at(const char *where, gpuexec_stream stream,
                                                           gpuexec_ptr address, unsigned long long value) {
    GXI_CALL_ON(stream, gpuexec_stream_write_value64);
    return gxi_stream_value(call, stream, address, 8, value, GXI_WRITE);
}

GPUEXEC_API gpuexec_result gpuexec_stream_get_info_at(const char *where, gpuexec_stream stream,
                                                      gpuexec_stream_info *info) {
    gxi_slot *slot;
    gxi_scope scope;
    unsigned flags = 0;
    int cu;
    GXI_CALL(gpuexec_stream_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (!(slot = gxi_begin_with_stream(call, stream)) ||
        gxi_check_capture(call, slot, "query the stream", "end the capture first") ||
        gxi_enter_relaxed(call, slot, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuStreamGetFlags, (slot->is.stream.native, &flags));
    if (cu == 0) cu = GXI_TRY(cuStreamGetPriority, (slot->is.stream.native, &info->priority));
    gxi_leave(&scope);
    info->device = gxi_ordinal_of(slot);
    info->non_blocking = (flags & GXI_STREAM_NON_BLOCKING) != 0;
    info->adopted = slot->adopted;
    return cu ? gxi_fail_cu(call, NULL, "cannot query the stream") : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_stream_destroy_at(const char *where, gpuexec_stream stream) {
    gxi_slot *slot;
    GXI_CALL(gpuexec_stream_destroy, GXI_CLEANS);
    if (gxi_was_never_made(stream.id, GXI_STREAM)) return GPUEXEC_OK;
    if (!(slot = gxi_find_stream(call, stream))) return gxi_failed_with();
    if (slot->legacy || gxi_is_own_stream(slot))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "cannot destroy the %s stream; it is closed with its context",
                        slot->legacy == 1 ? "legacy" : slot->legacy ? "per-thread" : "context's own");
    if (gxi_check_capture(call, slot, "destroy the stream", "end the capture first: gpuexec_capture_end"))
        return gxi_failed_with();
    return gxi_destroy(call, slot) ? gxi_fail_cu(call, NULL, "cannot destroy the stream") : GPUEXEC_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-current   A thread's record lists the streams that it made current, one for each context. */

/* The newest handle of that context; 0: none. */
static uint64_t gxi_context_with(const struct CUctx_st *native) {
    const gxi_slot *context;
    uint64_t id = 0;
    gxi_lock(&gxi_tables);
    for (context = gxi_first_held(&gxi.first[GXI_CONTEXT]); context && !id; context = gxi_next_held(context))
        if (context->cu_context == native) id = context->id;
    gxi_unlock(&gxi_tables);
    return id;
}

/* The stream that this thread made current in the context; 0: none, it uses the context's own stream. */
static uint64_t gxi_current_set(uint64_t context) {
    const gxi_use *use = gxi_use_of(context);
    return use ? use->stream : 0;
}
/* The same, or the context's own stream, if that exists; else 0. */
static uint64_t gxi_current_known(uint64_t context) {
    const uint64_t set = gxi_current_set(context);
    const gxi_slot *slot = set ? NULL : gxi_peek(context, GXI_CONTEXT);
    return slot ? GXI_LOAD(&gxi_context_of(slot)->own) : set;
}
/* The current stream; creates the context's own stream if that is current and does not exist. 0 after a failure. */
static uint64_t gxi_current_stream(gxi_call *call, uint64_t context) {
    const uint64_t known = gxi_current_known(context);
    gpuexec_context handle;
    gxi_slot *slot;
    uint64_t made;
    handle.id = context;
    if (known && gxi_peek(known, GXI_STREAM)) return known;
    if (!(slot = gxi_begin_with_context(call, handle))) return 0;
    if (known) {
        gxi_fail(call, GPUEXEC_STALE_HANDLE, "make another one current: gpuexec_context_set_stream",
                 "the current stream of the context on device %d was destroyed", gxi_context_of(slot)->ordinal);
        return 0;
    }
    made = gxi_stream_make(call, handle, NULL);
    return gxi_keep_one(call, &gxi_context_of(slot)->own, made);
}
/* Makes the stream current for this thread; 0: the context's own. */
static gpuexec_result gxi_current_change(gxi_call *call, uint64_t context, uint64_t stream) {
    gxi_use *use = stream ? gxi_use_make(context) : gxi_use_of(context);
    if (use) {
        use->stream = stream;
        use->current = NULL;
    }
    return use || !stream ? GPUEXEC_OK : gxi_fail_memory(call, "make the stream current");
}

GPUEXEC_API gpuexec_stream gpuexec_context_stream_at(const char *where, gpuexec_context context) {
    gpuexec_stream handle = { 0 };
    GXI_CALL(gpuexec_context_stream, GXI_MAKES);
    if (gxi_begin_with_context(call, context)) handle.id = gxi_current_stream(call, context.id);
    handle.id = gxi_or_failed(handle.id, GXI_STREAM);
    return handle;
}
GPUEXEC_API gpuexec_result gpuexec_context_set_stream_at(const char *where, gpuexec_context context,
                                                         gpuexec_stream stream) {
    gxi_slot *slot, *s;
    GXI_CALL(gpuexec_context_set_stream, GXI_MAKES);
    if (!(slot = gxi_begin_with_context(call, context))) return gxi_failed_with();
    if (stream.id == 0) return gxi_current_change(call, context.id, 0);
    if (!(s = gxi_find_stream(call, stream))) return gxi_failed_with();
    if (s->cu_context != slot->cu_context)
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "pass the context of the stream",
                        "the context is on device %d (%p), but the stream is on device %d (context %p)",
                        gxi_context_of(slot)->ordinal, (void *)slot->cu_context, gxi_ordinal_of(s),
                        (void *)s->cu_context);
    return gxi_current_change(call, context.id, stream.id);
}

/* The checked way into a scope. */
static GXI_NOINLINE gpuexec_stream_scope gxi_scope_begin_else(const char *where, gpuexec_stream stream, int join,
                                                              gxi_tried tried) {
    gpuexec_stream_scope scope = { { 0 }, { 0 }, { 0 }, 0, 0, 0, 0, 0 };
    gxi_slot *slot, *before;
    uint64_t known;
    GXI_CALL(GPUEXEC_STREAM_SCOPE, GXI_MAKES);
    if (!(slot = gxi_begin_with_stream(call, stream))) return scope;
    scope.context.id = slot->context;
    scope.stream = stream;
    scope.before.id = gxi_current_set(slot->context);
    scope.where = where;
    scope.join = join;
    known = join ? gxi_current_stream(call, slot->context) : gxi_current_known(slot->context);
    if (join && !known) return scope;
    if (known && known != stream.id) {           /* 0: nothing was enqueued on the context's own stream so far */
        before = gxi_get(call, known, GXI_STREAM, "the stream that was current");
        if (!before || gxi_stream_waits_for(call, slot, before, tried)) return scope;
    }
    scope.entered = gxi_current_change(call, slot->context, stream.id) == GPUEXEC_OK;
    return scope;
}
static GXI_NOINLINE void gxi_scope_join_else(const gpuexec_stream_scope *scope, gxi_tried tried) {
    const char *where = scope->where;
    const uint64_t known = gxi_current_known(scope->context.id);
    gxi_slot *slot, *before;
    GXI_CALL(GPUEXEC_STREAM_SCOPE, GXI_MAKES);   /* the result is not visible to the caller: latch its failure */
    if ((slot = gxi_begin_with_stream(call, scope->stream)) != NULL &&
        (before = gxi_get(call, known, GXI_STREAM, "the stream that was current")) != NULL)
        gxi_stream_waits_for(call, before, slot, tried);
}
/* The slot of the thread's current stream; NULL if it does not exist. */
GXI_HOT gxi_slot *gxi_current_slot(gxi_use *use) {
    const uint64_t ends = GXI_LOAD(&gxi.ends);
    if (GXI_UNLIKELY(use->ends != ends || !use->current)) {
        use->ends = ends;
        use->current = gxi_peek(gxi_current_known(use->context), GXI_STREAM);
    }
    return use->current;
}
/* The same, if the thread has an entry for the context. */
GXI_HOT gxi_slot *gxi_current_in(uint64_t context) {
    gxi_use *use = gxi_use_of(context);
    return use ? gxi_current_slot(use) : NULL;
}
GPUEXEC_API gpuexec_stream_scope gpuexec_stream_scope_begin_at(const char *where, gpuexec_stream stream, int join) {
    gxi_slot *slot = gxi_peek_inline(stream.id, GXI_STREAM), *before;
    gxi_tried tried = { NULL, 0 };
    gpuexec_stream_scope scope;
    gxi_use *use;
    scope.stream = stream;
    scope.where = where;
    scope.join = join;
    if (!slot || (use = gxi_use_of(slot->context)) == NULL || (before = gxi_current_slot(use)) == NULL ||
        before == slot || !gxi_stream_waits_fast(slot, before, use, &tried))
        return gxi_scope_begin_else(where, stream, join, tried);
    scope.context.id = use->context;
    scope.before.id = use->stream;
    scope.before_slot = use->current;
    scope.ends = use->ends;
    scope.entered = 1;
    use->stream = slot->id;
    use->current = slot;
    return scope;
}
static GXI_NOINLINE void gxi_scope_join(const gpuexec_stream_scope *scope, gxi_use *use) {
    const gxi_slot *slot = gxi_peek(scope->stream.id, GXI_STREAM), *before = gxi_current_slot(use);
    gxi_tried tried = { NULL, 0 };
    if ((slot && slot == before) || (slot && before && gxi_stream_waits_fast(before, slot, use, &tried))) return;
    gxi_scope_join_else(scope, tried);
}
GPUEXEC_API void gpuexec_stream_scope_end(gpuexec_stream_scope *scope) {
    gxi_use *use;
    if (!scope->entered) return;
    scope->entered = 0;
    if ((use = gxi_use_of(scope->context.id)) == NULL) return;
    use->stream = scope->before.id;
    use->current = scope->ends == use->ends ? (gxi_slot *)scope->before_slot : NULL;
    if (scope->join) gxi_scope_join(scope, use);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-pool   The contexts on a device share one pool: each keeps the driver's handle, and the last one to be closed
   destroys it; only gpuexec_context_pool makes a gxi_slot for it. The driver frees a destroyed pool's memory once
   nothing in it is allocated.
   gxi_slot.is.pool: native is NULL if the device has no pools; most is the desc's max_bytes. Adopted are pools that
   gpuexec_pool_destroy does not destroy: those with `is`, and those without native. */
enum { GXI_POOL_DEFAULT = 1, GXI_POOL_OWN = 2 };         /* `is`: the device's default pool; gpuexec's pool */

/* The pool of the context's device, from another context if this one has not used it; `made`, or NULL, if there is
   none. */
static void *gxi_pool_share(gxi_context *info, void *made) {
    const gxi_slot *other;
    void *pool;
    gxi_lock(&gxi_tables);
    pool = info->pool;
    for (other = gxi_first_held(&gxi.first[GXI_CONTEXT]); other && !pool; other = gxi_next_held(other))
        if (gxi_context_of(other)->device == info->device) pool = gxi_context_of(other)->pool;
    if (!pool) pool = made;
    GXI_STORE(&info->pool, pool);
    gxi_unlock(&gxi_tables);
    return pool;
}
/* Destroys the pool if no other context uses it. */
static int gxi_pool_leave(gxi_call *call, gxi_context *info) {
    const gxi_slot *other;
    void *pool;
    gxi_lock(&gxi_tables);
    pool = info->pool;
    GXI_STORE(&info->pool, NULL);
    for (other = gxi_first_held(&gxi.first[GXI_CONTEXT]); other && pool; other = gxi_next_held(other))
        if (gxi_context_of(other)->pool == pool) pool = NULL;
    gxi_unlock(&gxi_tables);
    return pool ? GXI_TRY(cuMemPoolDestroy, (pool)) : 0;
}
static gpuexec_result gxi_fail_old(gxi_call *call, const char *cure, const char *what, int version) {
    return gxi_fail(call, GPUEXEC_OLD_DRIVER, cure, "%s a driver for CUDA %d.%d or later; this driver supports CUDA "
                    "%d.%d", what, version / 1000, version % 1000 / 10, gxi.version / 1000, gxi.version % 1000 / 10);
}
/* Fails if the device has no memory pools. */
static gpuexec_result gxi_need_pools(gxi_call *call, const gxi_context *info) {
    int supported = 0;
    if (gxi_attribute(call, info->device, GXI_DEV_MEMORY_POOLS_SUPPORTED, &supported))
        return gxi_fail_cu(call, NULL, "cannot query whether device %d has memory pools", info->ordinal);
    return supported ? GPUEXEC_OK
        : gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "use gpuexec_alloc and gpuexec_free, or gpuexec_pool_desc.or_plain",
                   "device %d has no memory pools: CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0", info->ordinal);
}
static int gxi_pool_set(gxi_call *call, void *pool, int attribute, uint64_t value) {
    return GXI_TRY(cuMemPoolSetAttribute, (pool, attribute, &value));
}
/* Creates a pool on a device that has them. NULL after a failure. */
static void *gxi_pool_make(gxi_call *call, const gxi_context *info, const gpuexec_pool_desc *desc) {
    /* by default, each wait of the host would return unused memory to the system, which takes milliseconds */
    const uint64_t keeps = desc && desc->release ? desc->release_threshold : UINT64_MAX;
    void *made = NULL;
    gxi_pool_properties properties;
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED;
    memset(&properties, 0, sizeof properties);
    properties.type = GXI_MEM_ALLOCATION_TYPE_PINNED;
    properties.location_type = GXI_MEM_LOCATION_TYPE_DEVICE;
    properties.location = info->device;
    properties.handle_types = desc && desc->exportable ? GXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    properties.max_bytes = desc ? desc->max_bytes : 0;
    gxi_exchange_mode(&mode);
    if (GXI_TRY_MAKE(made, cuMemPoolCreate, (&made, &properties))) made = NULL;
    else if (gxi_pool_set(call, made, GXI_MEMPOOL_ATTR_RELEASE_THRESHOLD, keeps)) {
        GXI_BESIDE(cuMemPoolDestroy, (made));
        made = NULL;
    }
    gxi_exchange_mode(&mode);
    if (!made) gxi_fail_cu(call, NULL, "cannot create a memory pool on device %d", info->ordinal);
    return made;
}
/* gpuexec's pool. NULL after a failure. */
static void *gxi_pool(gxi_call *call, const gxi_slot *context) {
    gxi_context *const info = gxi_context_of(context);
    void *pool = GXI_LOAD(&info->pool), *made;
    if (pool || (pool = gxi_pool_share(info, NULL)) != NULL) return pool;
    if (gxi_need_pools(call, info) || !(made = gxi_pool_make(call, info, NULL))) return NULL;
    GXI_STORE(&gxi.leave_pool, &gxi_pool_leave);
    pool = gxi_pool_share(info, made);
    if (pool != made) GXI_BESIDE(cuMemPoolDestroy, (made));          /* another thread was first */
    return pool;
}

/* Makes the handle of a pool. Without it, after a failure, the pool is destroyed, unless it was adopted. */
static uint64_t gxi_pool_new(gxi_call *call, const gxi_slot *context, void *native, unsigned is, uint64_t most) {
    gxi_slot made = gxi_made(context, context->id, is != 0 || !native);
    uint64_t id;
    made.is.pool.native = native;
    made.is.pool.most = most;
    made.is.pool.device = gxi_context_of(context)->device;
    made.is.pool.is = is;
    id = gxi_new(call, GXI_POOL, &made, &gxi_context_of(context)->first[GXI_POOL]);
    if (!id && !made.adopted) GXI_BESIDE(cuMemPoolDestroy, (native));
    return id;
}
static int gxi_pool_end(gxi_call *call, gxi_slot *old) {
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED, cu;
    if (old->adopted) return 0;
    gxi_exchange_mode(&mode);
    cu = GXI_TRY(cuMemPoolDestroy, (old->is.pool.native));
    gxi_exchange_mode(&mode);
    return cu;
}
static gpuexec_result gxi_check_pool(gxi_call *call, const gxi_context *info, const gpuexec_pool_desc *desc) {
    int types = 0;
    if (gxi_check_desc(call, "gpuexec_pool_desc", desc->start_canary, desc->end_canary)) return gxi_failed_with();
    if (desc->use_default && (desc->release || desc->release_threshold || desc->max_bytes || desc->exportable))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "create another pool, without use_default",
                        "gpuexec_pool_desc.use_default is %d, but other members set properties: the default pool of "
                        "device %d has other users, so gpuexec does not change it", desc->use_default, info->ordinal);
    if (desc->release_threshold && !desc->release)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "set release to 1, or leave both 0 to keep all memory",
                        "gpuexec_pool_desc.release_threshold is %llu, but release is 0",
                        (unsigned long long)desc->release_threshold);
    if (desc->max_bytes && gxi.version < 12020)
        return gxi_fail_old(call, "leave it 0, or install a newer NVIDIA driver", "gpuexec_pool_desc.max_bytes needs",
                            12020);
    if (!desc->exportable) return GPUEXEC_OK;
    if (gxi_attribute(call, info->device, GXI_DEV_MEMPOOL_SUPPORTED_HANDLE_TYPES, &types))
        return gxi_fail_cu(call, NULL, "cannot query which handles device %d has for its pools", info->ordinal);
    return types & GXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? GPUEXEC_OK
        : gxi_fail(call, GPUEXEC_NOT_SUPPORTED, NULL, "device %d cannot export memory pools by file descriptor: "
                   "CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES is %d", info->ordinal, types);
}
static uint64_t gxi_pool_create(gxi_call *call, gpuexec_context context, const gpuexec_pool_desc *desc) {
    const gxi_slot *slot = gxi_begin_with_context(call, context);
    const gxi_context *info = slot ? gxi_context_of(slot) : NULL;
    int supported = 1;
    void *native = NULL;
    if (!slot || (desc && gxi_check_pool(call, info, desc))) return 0;
    if (desc && desc->or_plain && gxi_attribute(call, info->device, GXI_DEV_MEMORY_POOLS_SUPPORTED, &supported)) {
        gxi_fail_cu(call, NULL, "cannot query whether device %d has memory pools", info->ordinal);
        return 0;
    }
    if (supported && gxi_need_pools(call, info)) return 0;
    if (supported && desc && desc->use_default) {
        if (GXI_TRY_MAKE(native, cuDeviceGetDefaultMemPool, (&native, info->device))) {
            gxi_fail_cu(call, NULL, "cannot query the default pool of device %d", info->ordinal);
            return 0;
        }
    } else if (supported && !(native = gxi_pool_make(call, info, desc))) return 0;
    return gxi_pool_new(call, slot, native, desc && desc->use_default ? GXI_POOL_DEFAULT : 0,
                        desc ? desc->max_bytes : 0);
}
GPUEXEC_API gpuexec_pool gpuexec_pool_create_at(const char *where, gpuexec_context context,
                                                const gpuexec_pool_desc *desc) {
    gpuexec_pool handle;
    GXI_CALL(gpuexec_pool_create, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_pool_create(call, context, desc), GXI_POOL);
    return handle;
}
GPUEXEC_API gpuexec_pool gpuexec_context_pool_at(const char *where, gpuexec_context context) {
    gpuexec_pool handle = { 0 };
    const gxi_slot *slot;
    void *native;
    GXI_CALL(gpuexec_context_pool, GXI_MAKES);
    if ((slot = gxi_begin_with_context(call, context)) != NULL && (native = gxi_pool(call, slot)) != NULL) {
        uint64_t *const kept = &gxi_context_of(slot)->own_pool;
        handle.id = GXI_LOAD(kept);
        if (!handle.id) handle.id = gxi_keep_one(call, kept, gxi_pool_new(call, slot, native, GXI_POOL_OWN, 0));
    }
    handle.id = gxi_or_failed(handle.id, GXI_POOL);
    return handle;
}
/* The first step of a call on a pool: its slot, with the context current until gxi_leave; NULL after a failure.
   changes: what the call changes in the pool, which it must not in a default pool; or NULL. */
static gxi_slot *gxi_begin_with_pool(gxi_call *call, gpuexec_pool pool, const char *changes, gxi_scope *scope) {
    gxi_slot *slot = gxi_begin_with(call, pool.id, GXI_POOL, "the pool");
    if (slot && changes && slot->is.pool.is == GXI_POOL_DEFAULT) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "create another pool, or call the driver if all users of this one agree: "
                 "gpuexec_pool_native", "cannot change %s: this is the default pool of device %d, which other "
                 "libraries use, too", changes, gxi_ordinal_of(slot));
        return NULL;
    }
    return slot && gxi_enter(call, slot->cu_context, scope) == GPUEXEC_OK ? slot : NULL;
}
GPUEXEC_API gpuexec_result gpuexec_pool_trim_at(const char *where, gpuexec_pool pool, size_t keep_bytes) {
    const gxi_slot *slot;
    gxi_scope scope;
    int cu;
    GXI_CALL(gpuexec_pool_trim, GXI_CLEANS);
    if (!(slot = gxi_begin_with_pool(call, pool, NULL, &scope))) return gxi_failed_with();
    cu = slot->is.pool.native ? GXI_TRY(cuMemPoolTrimTo, (slot->is.pool.native, keep_bytes)) : 0;
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot trim the pool to %llu bytes", (unsigned long long)keep_bytes)
        : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_pool_set_threshold_at(const char *where, gpuexec_pool pool, size_t bytes) {
    const gxi_slot *slot;
    gxi_scope scope;
    int cu = 0;
    GXI_CALL(gpuexec_pool_set_threshold, GXI_MAKES);
    if (!(slot = gxi_begin_with_pool(call, pool, "the threshold", &scope))) return gxi_failed_with();
    if (slot->is.pool.native)
        cu = gxi_pool_set(call, slot->is.pool.native, GXI_MEMPOOL_ATTR_RELEASE_THRESHOLD, bytes);
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot set the pool's release threshold") : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_pool_reset_high_at(const char *where, gpuexec_pool pool) {
    const gxi_slot *slot;
    gxi_scope scope;
    int cu = 0;
    GXI_CALL(gpuexec_pool_reset_high, GXI_MAKES);
    if (!(slot = gxi_begin_with_pool(call, pool, "the high-water marks", &scope))) return gxi_failed_with();
    if (slot->is.pool.native) cu = gxi_pool_set(call, slot->is.pool.native, GXI_MEMPOOL_ATTR_USED_MEM_HIGH, 0);
    if (slot->is.pool.native && !cu)
        cu = gxi_pool_set(call, slot->is.pool.native, GXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0);
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot reset the pool's high-water marks") : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_pool_get_info_at(const char *where, gpuexec_pool pool, gpuexec_pool_info *info) {
    static const int attributes[] = { GXI_MEMPOOL_ATTR_RELEASE_THRESHOLD, GXI_MEMPOOL_ATTR_USED_MEM_CURRENT,
                                      GXI_MEMPOOL_ATTR_USED_MEM_HIGH, GXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
                                      GXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH };
    uint64_t values[5] = { 0, 0, 0, 0, 0 };
    const gxi_slot *slot;
    gxi_scope scope;
    unsigned i;
    int cu = 0;
    GXI_CALL(gpuexec_pool_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (!(slot = gxi_begin_with_pool(call, pool, NULL, &scope))) return gxi_failed_with();
    info->device = gxi_ordinal_of(slot);
    info->plain = !slot->is.pool.native;
    for (i = 0; i < 5 && !info->plain && !cu; i++)
        cu = GXI_TRY(cuMemPoolGetAttribute, (slot->is.pool.native, attributes[i], &values[i]));
    gxi_leave(&scope);
    if (cu) return gxi_fail_cu(call, NULL, "cannot query the pool");
    info->threshold = (size_t)values[0];
    info->max_bytes = (size_t)slot->is.pool.most;
    info->used = (size_t)values[1];
    info->used_high = (size_t)values[2];
    info->reserved = (size_t)values[3];
    info->reserved_high = (size_t)values[4];
    return GPUEXEC_OK;
}
static gpuexec_result gxi_pool_peer(gxi_call *call, gpuexec_pool pool, gpuexec_context context, int flags) {
    const gxi_slot *slot, *other = NULL;
    gxi_access access;
    gxi_scope scope;
    int can = 1, cu = 0;
    if (!(slot = gxi_begin_with_pool(call, pool, "which devices can access it", &scope))) return gxi_failed_with();
    if ((other = gxi_get(call, context.id, GXI_CONTEXT, "the context")) == NULL) {
        gxi_leave(&scope);
        return gxi_failed_with();
    }
    access.location.type = GXI_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = gxi_context_of(other)->device;
    access.flags = flags;
    if (slot->is.pool.device != access.location.id) {
        if (flags) cu = GXI_TRY(cuDeviceCanAccessPeer, (&can, access.location.id, slot->is.pool.device));
        can = can && slot->is.pool.native;
        if (!cu && can) cu = GXI_TRY(cuMemPoolSetAccess, (slot->is.pool.native, &access, 1));
    }
    gxi_leave(&scope);
    if (cu)
        return gxi_fail_cu(call, NULL, "cannot %s access to the pool of device %d from device %d",
                           flags ? "enable" : "disable", gxi_ordinal_of(slot), gxi_context_of(other)->ordinal);
    return can ? GPUEXEC_OK
        : gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "copy instead: gpuexec_copy works between any two devices",
                   "device %d cannot access the memory of device %d%s", gxi_context_of(other)->ordinal,
                   gxi_ordinal_of(slot), slot->is.pool.native ? "" : ", which has no pools");
}
GPUEXEC_API gpuexec_result gpuexec_pool_peer_enable_at(const char *where, gpuexec_pool pool, gpuexec_context context) {
    GXI_CALL(gpuexec_pool_peer_enable, GXI_MAKES);
    return gxi_pool_peer(call, pool, context, GXI_MEM_ACCESS_FLAGS_PROT_READWRITE);
}
GPUEXEC_API gpuexec_result gpuexec_pool_peer_disable_at(const char *where, gpuexec_pool pool, gpuexec_context context) {
    GXI_CALL(gpuexec_pool_peer_disable, GXI_CLEANS);
    return gxi_pool_peer(call, pool, context, 0);
}
GPUEXEC_API struct CUmemPoolHandle_st *gpuexec_pool_native(gpuexec_pool pool) {
    const gxi_slot *slot = gxi_queried("gpuexec_pool_native", pool.id, GXI_POOL, "the pool");
    return slot ? (struct CUmemPoolHandle_st *)slot->is.pool.native : NULL;
}
GPUEXEC_API gpuexec_result gpuexec_pool_destroy_at(const char *where, gpuexec_pool pool) {
    const gxi_slot *slot = gxi_peek(pool.id, GXI_POOL);
    GXI_CALL(gpuexec_pool_destroy, GXI_CLEANS);
    if (slot && slot->is.pool.is == GXI_POOL_OWN)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "to return its memory to the system, call gpuexec_pool_trim",
                        "cannot destroy gpuexec's pool: it is closed with the last context on device %d",
                        gxi_ordinal_of(slot));
    return gxi_destroy_handle(call, pool.id, GXI_POOL, "the pool");
}

/* The current stream of this thread in its current context. 0 after a failure. */
static uint64_t gxi_current_in_current(gxi_call *call) {
    const unsigned depth = gxi_audit_depth();
    struct CUctx_st *native;
    char is[80] = "no context is current on this thread";
    uint64_t id = 0;
    if (gxi_begin(call) || gxi_current(call, &native)) return 0;
    /* several handles may refer to it: the one that was pushed, or the newest */
    if (native && depth && depth <= GXI_AUDIT_DEPTH && gxi_audit.pushes[depth - 1].native == native &&
        gxi_peek(gxi_audit.pushes[depth - 1].context, GXI_CONTEXT))
        id = gxi_audit.pushes[depth - 1].context;
    else if (native) id = gxi_context_with(native);
    if (id) return gxi_current_stream(call, id);
    if (native) snprintf(is, sizeof is, "gpuexec has no handle for the current context, %p", (void *)native);
    gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
             "push a context first (gpuexec_context_push), or pass gpuexec_context_stream(context)",
             "GPUEXEC_CURRENT names no stream here: %s", is);
    return 0;
}
/* Why the driver did not allocate; the stream's context need not be current. own: the pool of the call, or NULL. */
static GXI_COLD void gxi_fail_pool_alloc(gxi_call *call, int cu, const gxi_slot *context, const gxi_slot *own,
                                         void *pool, size_t bytes) {
    gxi_call entering = *call;
    uint64_t used = 0;
    gxi_scope scope;
    memset(&scope, 0, sizeof scope);
    entering.kind = GXI_QUERIES;                 /* entering the context is only for the text */
    gxi_enter(&entering, context->cu_context, &scope);
    if (cu == GXI_OUT_OF_MEMORY && own && own->is.pool.most &&
        GXI_BESIDE(cuMemPoolGetAttribute, (pool, GXI_MEMPOOL_ATTR_USED_MEM_CURRENT, &used)) == 0 &&
        used + bytes > own->is.pool.most)
        gxi_fail_cu(call, "free memory of this pool, or create it with a larger max_bytes",
                    "cannot allocate %llu bytes from the pool created at %s: %llu bytes of it are in use, and its "
                    "max_bytes is %llu", (unsigned long long)bytes, gxi_place(own->where), (unsigned long long)used,
                    (unsigned long long)own->is.pool.most);
    else gxi_fail_alloc(call, cu, context, bytes, "device", pool);
    gxi_leave(&scope);
}
/* The native pool to allocate from (NULL: none, on a device without pools), and its slot (NULL: gpuexec's pool). */
static gpuexec_result gxi_alloc_from(gxi_call *call, const gpuexec_pool *from, const gxi_slot *context,
                                     const gxi_slot *stream, const gxi_slot **own, void **pool) {
    *own = NULL;
    if (!from) return (*pool = gxi_pool(call, context)) ? GPUEXEC_OK : gxi_failed_with();
    if (!(*own = gxi_get(call, from->id, GXI_POOL, "the pool"))) return gxi_failed_with();
    *pool = (*own)->is.pool.native;
    if ((*own)->is.pool.device != gxi_context_of(context)->device)
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "allocate on a stream of the pool's device, and let the other "
                        "stream wait for that", "the pool is on device %d, but the stream is on device %d",
                        gxi_ordinal_of(*own), gxi_context_of(context)->ordinal);
    return *pool ? GPUEXEC_OK
        : gxi_check_capture(call, stream, "allocate memory in a capture on a device without memory pools",
                            "allocate it before the capture");
}
/* The checked way. cu and address: what the driver returned on the fast path, where 0 means that there was no memory to
   record the allocation; cu -1: that was not tried. */
static GXI_NOINLINE gpuexec_ptr gxi_alloc_on(const char *where, const gpuexec_pool *from, gpuexec_stream stream,
                                             size_t bytes, int cu, gpuexec_ptr address) {
    const int tried = cu;
    gxi_call this_call, *const call = gxi_call_on(&this_call, from ? "gpuexec_pool_alloc" : "gpuexec_alloc_on", where,
                                                  stream.id);
    const gxi_slot *slot, *context, *own;
    gxi_scope scope;
    void *pool = NULL;
    int pooled;
    if (stream.id == GXI_CURRENT && !(call->stream = stream.id = gxi_current_in_current(call))) return 0;
    if (!(slot = gxi_begin_with_stream(call, stream)) ||
        !(context = gxi_get(call, slot->context, GXI_CONTEXT, "the stream's context")) ||
        gxi_check_alloc(call, bytes, 1, 0, 0) || gxi_alloc_from(call, from, context, slot, &own, &pool) ||
        (pool ? gxi_enter_relaxed(call, slot, &scope) : gxi_enter(call, slot->cu_context, &scope)))
        return 0;
    pooled = !pool ? 0 : gxi_captures(call, slot) ? GXI_OF_GRAPH : GXI_POOLED;
    if (cu >= 0) gxi_said(call, "cuMemAllocFromPoolAsync", cu);
    else if (pool)
        cu = GXI_TRY_MAKE(address, cuMemAllocFromPoolAsync, (&address, bytes, pool, slot->is.stream.native));
    else cu = gxi_alloc_cu(call, bytes, 1, 0, NULL, &address);
    if (cu) {
        gxi_fail_pool_alloc(call, cu, context, own, pool, bytes);
        address = 0;
    } else if (tried == 0 || !gxi_range_add(address, bytes, context->id, where, GPUEXEC_MEMORY_DEVICE, pooled)) {
        if (pool) GXI_BESIDE(cuMemFreeAsync, (address, slot->is.stream.native));
        else GXI_BESIDE(cuMemFree, (address));
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot record an allocation of %lu bytes",
                 (unsigned long)bytes);
        address = 0;
    }
    gxi_leave(&scope);
    return address;
}
/* from: NULL for gpuexec's pool */
GXI_HOT gpuexec_ptr gxi_alloc_fast(const char *where, const gpuexec_pool *from, gpuexec_stream stream, size_t bytes) {
    const gxi_slot *s = gxi_peek_inline(stream.id, GXI_STREAM);
    const gxi_slot *context = s && gxi_is_plain(s) ? gxi_peek_inline(s->context, GXI_CONTEXT) : NULL;
    const gxi_slot *own = from ? gxi_peek_inline(from->id, GXI_POOL) : NULL;
    void *pool = !context || s->adopted ? NULL : !from ? GXI_LOAD(&gxi_context_of(context)->pool)
        : own && !own->borrowed && own->is.pool.device == gxi_context_of(context)->device ? own->is.pool.native : NULL;
    gpuexec_ptr address = 0;
    int cu = -1, mode = GXI_STREAM_CAPTURE_MODE_RELAXED;             /* for captures of other libraries */
    if (pool && bytes - 1 < GXI_MOST_MEMORY) {
        gxi_exchange_mode(&mode);
        cu = gxi.cu.cuMemAllocFromPoolAsync(&address, bytes, pool, s->is.stream.native);
        gxi_exchange_mode(&mode);
        if (cu == 0 && address &&
            (gxi_range_again(address, bytes, context->id, where) ||
             gxi_range_add(address, bytes, context->id, where, GPUEXEC_MEMORY_DEVICE, GXI_POOLED)))
            return address;
        if (cu == 0 && !address) cu = GXI_MADE_NOTHING;
    }
    return gxi_alloc_on(where, from, stream, bytes, cu, address);
}
GPUEXEC_API gpuexec_ptr gpuexec_alloc_on_at(const char *where, gpuexec_stream stream, size_t bytes) {
    return gxi_alloc_fast(where, NULL, stream, bytes);
}
GPUEXEC_API gpuexec_ptr gpuexec_pool_alloc_at(const char *where, gpuexec_pool pool, gpuexec_stream stream,
                                              size_t bytes) {
    return gxi_alloc_fast(where, &pool, stream, bytes);
}
/* cu: what the driver returned for the range, which has left the table. */
static GXI_NOINLINE gpuexec_result gxi_free_on_else(const char *where, gpuexec_ptr address, const gxi_range *range,
                                                    int cu, int captures) {
    GXI_CALL(gpuexec_free_on, GXI_CLEANS);
    gxi_said(call, "cuMemFreeAsync", cu);
    /* still allocated, because the driver has refused it; or the next launch of its graph allocates it again */
    if (cu == GXI_INVALID_VALUE || (range->pooled == GXI_OF_GRAPH && !captures))
        gxi_range_add(address, range->bytes, range->context, range->where, range->kind, range->pooled);
    if (cu == 0 || cu == GXI_DEINITIALIZED) return GPUEXEC_OK;
    if (cu == GXI_CU_NOT_SUPPORTED && !range->pooled &&              /* a device without pools */
        gxi_range_add(address, range->bytes, range->context, range->where, range->kind, range->pooled))
        return gpuexec_free_at(where, address);
    return gxi_fail_cu(call, captures ? "free it after the capture, where only memory that was allocated in a capture "
                       "can be freed" : NULL, "cannot free 0x%llx on the stream", (unsigned long long)address);
}
static GXI_NOINLINE gpuexec_result gxi_free_on(const char *where, gpuexec_stream stream, gpuexec_ptr address) {
    gxi_range range;
    gxi_slot *slot;
    gxi_scope scope;
    int cu, captures;
    GXI_CALL(gpuexec_free_on, GXI_CLEANS);
    memset(&range, 0, sizeof range);
    if (address == 0) return GPUEXEC_OK;
    if (stream.id == GXI_CURRENT &&
        (gxi_check_release(call, address, GPUEXEC_MEMORY_DEVICE, &range) ||
         !(stream.id = gxi_current_stream(call, range.context))))
        return gxi_failed_with();
    if (!(slot = gxi_begin_with_stream(call, stream)) || gxi_enter_relaxed(call, slot, &scope))
        return gxi_failed_with();
    captures = gxi_captures(call, slot);
    /* before the driver's call: once that has freed it, another thread may allocate at the same address */
    if (!gxi_range_remove(address, GPUEXEC_MEMORY_DEVICE, where, &range)) {
        gxi_leave(&scope);
        return gxi_check_release(call, address, GPUEXEC_MEMORY_DEVICE, &range) ? gxi_failed_with()
            : gxi_fail_raced(call, address, "freed");
    }
    if (!captures && range.pooled != GXI_OF_GRAPH && GXI_LOAD(&gxi.recorded))
        GXI_LOAD(&gxi.graphs_lose)(call, &range, NULL);
    cu = GXI_TRY(cuMemFreeAsync, (address, slot->is.stream.native));
    gxi_leave(&scope);
    return gxi_free_on_else(where, address, &range, cu, captures);
}
GPUEXEC_API gpuexec_result gpuexec_free_on_at(const char *where, gpuexec_stream stream, gpuexec_ptr address) {
    const gxi_slot *s = gxi_peek_inline(stream.id, GXI_STREAM);
    const gxi_slot *context = s && gxi_is_plain(s) ? gxi_peek_inline(s->context, GXI_CONTEXT) : NULL;
    unsigned long long id = 0;                   /* like all clean-up, it first checks that the context still exists */
    gxi_range range;
    int cu;
    if (!context || s->adopted || GXI_LOAD(&gxi.recorded) || !GXI_HAS(cuCtxGetId) ||
        gxi.cu.cuCtxGetId(s->cu_context, &id) || id != gxi_context_of(context)->id ||
        !(gxi_range_rest(address, where, &range) || gxi_range_remove(address, GPUEXEC_MEMORY_DEVICE, where, &range)))
        return gxi_free_on(where, stream, address);
    cu = gxi.cu.cuMemFreeAsync(address, s->is.stream.native);
    return cu || range.pooled == GXI_OF_GRAPH ? gxi_free_on_else(where, address, &range, cu, 0) : GPUEXEC_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-managed */

GPUEXEC_API gpuexec_ptr gpuexec_alloc_managed_at(const char *where, gpuexec_context context, size_t bytes,
                                                 const gpuexec_managed_desc *desc) {
    static const int attributes[] = { GXI_DEV_MANAGED_MEMORY, GXI_DEV_CONCURRENT_MANAGED_ACCESS };
    const unsigned flags = desc && desc->attach_host ? GXI_MEM_ATTACH_HOST : GXI_MEM_ATTACH_GLOBAL;
    size_t available = 0, total = 0;
    gpuexec_ptr address = 0;
    const gxi_slot *slot;
    int has[2], ordinal, cu;
    gxi_scope scope;
    GXI_CALL(gpuexec_alloc_managed, GXI_MAKES);
    if (desc && gxi_check_desc(call, "gpuexec_managed_desc", desc->start_canary, desc->end_canary)) return 0;
    if (!(slot = gxi_begin_with_context(call, context)) || gxi_check_alloc(call, bytes, 1, 0, 0)) return 0;
    ordinal = gxi_context_of(slot)->ordinal;
    if (gxi_attributes(call, gxi_context_of(slot)->device, NULL, attributes, 2, has)) {
        gxi_fail_device(call, ordinal);
        return 0;
    }
    if (!has[0] || (desc && desc->concurrent && !has[1])) {
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED, has[0] ? "access it on the host only when the device is idle, and leave "
                 "gpuexec_managed_desc.concurrent 0" : "use gpuexec_alloc and copies, or gpuexec_alloc_pinned",
                 has[0] ? "the host cannot access managed memory while kernels run on device %d: "
                 "CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS is 0" : "device %d has no managed memory: "
                 "CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY is 0", ordinal);
        return 0;
    }
    if (gxi_enter(call, slot->cu_context, &scope)) return 0;
    cu = desc && desc->oversubscribe ? 0 : GXI_TRY(cuMemGetInfo, (&available, &total));
    if (cu) gxi_fail_cu(call, NULL, "cannot query the free memory of device %d", ordinal);
    else if (total && bytes > available) {
        gxi_text t = { 0, 0, 0, 0 };
        gxi_add_room(&t, call, slot, NULL);
        gxi_fail(call, GPUEXEC_OUT_OF_DEVICE_MEMORY, "request less, or set gpuexec_managed_desc.oversubscribe if the "
                 "host has memory for the rest", "cannot allocate %llu bytes of managed memory on device %d: %s",
                 (unsigned long long)bytes, ordinal, t.p ? t.p : "");
        gxi_text_free(&t);
    } else if ((cu = GXI_TRY_MAKE(address, cuMemAllocManaged, (&address, bytes, flags))) != 0) {
        gxi_fail_alloc(call, cu, slot, bytes, "managed", NULL);
        address = 0;
    } else if (!gxi_range_add(address, bytes, context.id, where, GPUEXEC_MEMORY_MANAGED, 0)) {
        GXI_BESIDE(cuMemFree, (address));
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot record an allocation of %lu bytes",
                 (unsigned long)bytes);
        address = 0;
    }
    gxi_leave(&scope);
    return address;
}

/* A range of managed memory, perhaps of another library. *device: the CUdevice for which it was allocated; with scope,
   a context on it is current afterwards, until gxi_leave. */
static gpuexec_result gxi_check_managed(gxi_call *call, gpuexec_ptr address, size_t bytes, int *device,
                                        gxi_scope *scope) {
    struct CUctx_st *native;
    gpuexec_pointer_info info;
    if (scope) memset(scope, 0, sizeof *scope);
    if (gxi_begin(call)) return gxi_failed_with();
    if (bytes == 0) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the range has 0 bytes");
    if (gxi_pointer(call, address, &info))
        return gxi_fail_cu(call, NULL, "cannot query pointer 0x%llx", (unsigned long long)address);
    if (info.kind != GPUEXEC_MEMORY_MANAGED)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "allocate it with gpuexec_alloc_managed",
                        "0x%llx is %s memory, not managed", (unsigned long long)address, gxi_memory_kinds[info.kind]);
    if (info.bytes && bytes > info.bytes - (address - info.base))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "check the sizes", "only %llu bytes remain from 0x%llx to the end "
                        "of its allocation (%llu bytes of managed memory%s%s), but the range has %llu",
                        (unsigned long long)(info.bytes - (address - info.base)), (unsigned long long)address,
                        (unsigned long long)info.bytes, GXI_PART(", allocated at ", info.where),
                        (unsigned long long)bytes);
    if (gxi_device(call, info.device, device)) return gxi_failed_with();
    native = scope ? gxi_any_context(call, info.device) : NULL;
    return native ? gxi_enter(call, native, scope) : GPUEXEC_OK;     /* without: the thread's current context serves */
}
static gpuexec_result gxi_need_concurrent(gxi_call *call, int device, int *has) {
    return gxi_attribute(call, device, GXI_DEV_CONCURRENT_MANAGED_ACCESS, has)
        ? gxi_fail_device(call, gxi_ordinal_of_device(call, device)) : GPUEXEC_OK;
}
/* The driver's location. Fails for one that is not valid, or that a driver before CUDA 12.2 does not know. */
static gpuexec_result gxi_location_of(gxi_call *call, int location, int newer, gxi_location *out) {
    out->type = location >= 0 ? GXI_MEM_LOCATION_TYPE_DEVICE : location == GPUEXEC_HOST ? GXI_MEM_LOCATION_TYPE_HOST
        : location == GPUEXEC_NUMA_CURRENT ? GXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT : GXI_MEM_LOCATION_TYPE_HOST_NUMA;
    out->id = 0;
    if (location >= 0) return gxi_device(call, location, &out->id);
    if (out->type == GXI_MEM_LOCATION_TYPE_HOST_NUMA) out->id = GPUEXEC_NUMA(location);              /* its inverse */
    if (location == GPUEXEC_NOWHERE || out->id < 0)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass a device's ordinal, GPUEXEC_HOST or GPUEXEC_NUMA(node)",
                        "%d is not a location", location);
    return out->type == GXI_MEM_LOCATION_TYPE_HOST || newer ? GPUEXEC_OK
        : gxi_fail_old(call, "pass GPUEXEC_HOST", "a NUMA node as a location needs", 12020);
}
/* Fails unless the devices migrate pages on request: that of the memory or stream, and that of the location. */
static gpuexec_result gxi_check_migration(gxi_call *call, int device, const gxi_location *to, const char *what) {
    const int devices[] = { device, to->type == GXI_MEM_LOCATION_TYPE_DEVICE ? to->id : device };
    int i, has = 1;
    for (i = 0; i < 2 && has; i++) if (gxi_need_concurrent(call, devices[i], &has)) return gxi_failed_with();
    return has ? GPUEXEC_OK
        : gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "leave this call out: managed memory works without it",
                   "device %d cannot %s managed memory: CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS is 0",
                   gxi_ordinal_of_device(call, devices[i - 1]), what);
}
/* What only a driver for CUDA 12.2 or later has takes a location; before, a device, or -1 for the host. */
static int gxi_old_location(const gxi_location *at) { return at->type == GXI_MEM_LOCATION_TYPE_DEVICE ? at->id : -1; }

GPUEXEC_API gpuexec_result gpuexec_managed_prefetch_at(const char *where, gpuexec_stream stream, gpuexec_ptr address,
                                                       size_t bytes, int location) {
    const gxi_slot *slot, *context;
    gxi_location to;
    gxi_scope scope;
    int device, cu;
    GXI_CALL_ON(stream, gpuexec_managed_prefetch);
    if (!(slot = gxi_begin_with_stream(call, stream)) ||
        !(context = gxi_get(call, slot->context, GXI_CONTEXT, "the stream's context")) ||
        gxi_check_managed(call, address, bytes, &device, NULL) ||
        gxi_location_of(call, location, GXI_HAS(cuMemPrefetchAsync_12020), &to) ||
        gxi_check_migration(call, gxi_context_of(context)->device, &to, "prefetch") ||
        gxi_check_capture(call, slot, "prefetch", "prefetch before the capture, or between launches of the graph") ||
        gxi_enter_relaxed(call, slot, &scope))
        return gxi_failed_with();
    /* not through GXI_TRY, which makes a number of each argument */
    cu = GXI_HAS(cuMemPrefetchAsync_12020)
        ? gxi_returned(call, "cuMemPrefetchAsync", gxi.cu.cuMemPrefetchAsync_12020(address, bytes, to, 0,
                       slot->is.stream.native), GXI_NUMBERS(address, bytes, to.type, to.id))
        : GXI_TRY(cuMemPrefetchAsync, (address, bytes, gxi_old_location(&to), slot->is.stream.native));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot prefetch %llu bytes at 0x%llx", (unsigned long long)bytes,
                            (unsigned long long)address) : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_managed_advise_at(const char *where, gpuexec_ptr address, size_t bytes,
                                                     gpuexec_advice advice, int location) {
    const int placed = advice != GPUEXEC_READ_MOSTLY && advice != GPUEXEC_NOT_READ_MOSTLY &&
        advice != GPUEXEC_NOT_PREFERRED;
    gxi_location to;
    gxi_scope scope;
    int device, cu;
    GXI_CALL(gpuexec_managed_advise, GXI_MAKES);
    if (advice < GPUEXEC_READ_MOSTLY || advice > GPUEXEC_NOT_ACCESSED_BY)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%d is not a gpuexec_advice", (int)advice);
    if (gxi_begin(call) ||
        gxi_location_of(call, placed ? location : GPUEXEC_HOST, GXI_HAS(cuMemAdvise_12020), &to) ||
        gxi_check_managed(call, address, bytes, &device, &scope))
        return gxi_failed_with();
    if (placed && gxi_check_migration(call, device, &to, "place")) {
        gxi_leave(&scope);
        return gxi_failed_with();
    }
    cu = GXI_HAS(cuMemAdvise_12020)
        ? gxi_returned(call, "cuMemAdvise", gxi.cu.cuMemAdvise_12020(address, bytes, (int)advice, to),
                       GXI_NUMBERS(address, bytes, advice, to.type, to.id))
        : GXI_TRY(cuMemAdvise, (address, bytes, (int)advice, gxi_old_location(&to)));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot advise on %llu bytes at 0x%llx", (unsigned long long)bytes,
                            (unsigned long long)address) : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_managed_attach_at(const char *where, gpuexec_stream stream, gpuexec_ptr address,
                                                     gpuexec_attachment attachment) {
    const gxi_slot *slot;
    gxi_scope scope;
    int device, cu;
    GXI_CALL_ON(stream, gpuexec_managed_attach);
    if (!(slot = gxi_begin_with_stream(call, stream)) || gxi_check_managed(call, address, 1, &device, NULL))
        return gxi_failed_with();
    if (attachment != GPUEXEC_ATTACH_ALL && attachment != GPUEXEC_ATTACH_HOST && attachment != GPUEXEC_ATTACH_STREAM)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%d is not a gpuexec_attachment", (int)attachment);
    if (attachment == GPUEXEC_ATTACH_STREAM && slot->legacy)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use a stream from gpuexec_stream_create",
                        "memory cannot be attached to a default stream");
    if (gxi_check_capture(call, slot, "attach memory", "attach it before the capture") ||
        gxi_enter_relaxed(call, slot, &scope))
        return gxi_failed_with();
    cu = GXI_TRY(cuStreamAttachMemAsync, (slot->is.stream.native, address, 0, (unsigned)attachment));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, "pass the address at which the memory begins", "cannot attach the managed memory at "
                            "0x%llx", (unsigned long long)address) : GPUEXEC_OK;
}
static int gxi_location_is(int type, int id) {
    return type == GXI_MEM_LOCATION_TYPE_DEVICE ? id : type == GXI_MEM_LOCATION_TYPE_HOST ? GPUEXEC_HOST
        : type == GXI_MEM_LOCATION_TYPE_HOST_NUMA ? GPUEXEC_NUMA(id)
        : type == GXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ? GPUEXEC_NUMA_CURRENT : GPUEXEC_NOWHERE;
}
GPUEXEC_API gpuexec_result gpuexec_managed_get_info_at(const char *where, gpuexec_ptr address, size_t bytes,
                                                       gpuexec_managed_info *info) {
    /* before CUDA 12.2, the driver knows only the first four: a device, -1 for the host, -2 for none */
    int attributes[] = { GXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, GXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                         GXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, GXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                         GXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, GXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                         GXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                         GXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID };
    enum { ALL = sizeof attributes / sizeof *attributes };
    size_t sizes[ALL], i;
    void *values[ALL];
    int found[ALL] = { 0 }, device, newer, cu;
    gxi_scope scope;
    GXI_CALL(gpuexec_managed_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (gxi_check_managed(call, address, bytes, &device, &scope)) return gxi_failed_with();
    newer = gxi.version >= 12020;
    for (i = 0; i < ALL; i++) {
        sizes[i] = sizeof *found;
        values[i] = &found[i];
    }
    sizes[1] = sizeof info->accessed_by;
    values[1] = info->accessed_by;
    cu = gxi_attribute(call, device, GXI_DEV_CONCURRENT_MANAGED_ACCESS, &info->concurrent);
    if (!cu)
        cu = GXI_TRY(cuMemRangeGetAttributes, (values, sizes, attributes, newer ? (size_t)ALL : 4, address, bytes));
    gxi_leave(&scope);
    if (cu)
        return gxi_fail_cu(call, NULL, "cannot query %llu bytes of managed memory at 0x%llx", (unsigned long long)bytes,
                           (unsigned long long)address);
    info->read_mostly = found[0];
    info->preferred = newer ? gxi_location_is(found[4], found[5]) : found[2];
    info->last_prefetch = newer ? gxi_location_is(found[6], found[7]) : found[3];
    return GPUEXEC_OK;
}

/* A stream of gpuexec on that device with pending work, or NULL. Streams that capture run nothing. */
static const gxi_slot *gxi_busy_stream(gxi_call *call, int device) {
    const gxi_slot *c = gxi_first(&gxi.first[GXI_CONTEXT]), *stream, *busy = NULL;
    for (; c && !busy; c = gxi_after(c)) {
        if (gxi_context_of(c)->device != device) continue;
        for (stream = gxi_first(&gxi_context_of(c)->first[GXI_STREAM]); stream && !busy; stream = gxi_after(stream)) {
            gxi_scope scope;
            if (gxi_captures(call, stream) || gxi_enter(call, stream->cu_context, &scope)) continue;
            if (GXI_BESIDE(cuStreamQuery, (stream->is.stream.native)) == GXI_CU_NOT_READY) busy = stream;
            gxi_leave(&scope);
        }
    }
    return busy;
}
GPUEXEC_API void *gpuexec_managed_host_at(const char *where, gpuexec_ptr address) {
    const gxi_slot *busy;
    int device = 0, concurrent;
    GXI_CALL(gpuexec_managed_host, GXI_MAKES);
    if (gxi_check_managed(call, address, 1, &device, NULL) || gxi_need_concurrent(call, device, &concurrent))
        return NULL;
    if (concurrent || !(busy = gxi_busy_stream(call, device))) return (void *)(uintptr_t)address;
    gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "wait first: gpuexec_context_sync", "device %d does not let the host access "
             "managed memory while it works (CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS is 0), and the stream "
             "created at %s has pending work", gxi_ordinal_of(busy), gxi_place(busy->where));
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-event */

static uint64_t gxi_event_new(gxi_call *call, const gxi_slot *context, struct CUevent_st *native, int adopted,
                              int no_timing) {
    gxi_slot made = gxi_made(context, context->id, adopted);
    made.is.event.native = native;
    made.no_timing = no_timing != 0;
    made.is.event.recorded = adopted != 0;
    return gxi_new(call, GXI_EVENT, &made, &gxi_context_of(context)->first[GXI_EVENT]);
}

static int gxi_event_end(gxi_call *call, gxi_slot *old) {
    return old->adopted ? 0 : GXI_TRY(cuEventDestroy, (old->is.event.native));
}

/* Creates an event in the current context. 0 after a failure. */
static uint64_t gxi_event_make(gxi_call *call, const gxi_slot *context, const gpuexec_event_desc *desc) {
    const unsigned shared = desc && desc->interprocess ? GXI_EVENT_INTERPROCESS : 0,
                   no_timing = shared || (desc && desc->no_timing) ? GXI_EVENT_DISABLE_TIMING : 0,
                   blocking = desc && desc->blocking_sync ? GXI_EVENT_BLOCKING_SYNC : 0;
    struct CUevent_st *native = NULL;
    uint64_t id;
    if (GXI_TRY_MAKE(native, cuEventCreate, (&native, no_timing | blocking | shared))) {
        gxi_fail_cu(call, NULL, "cannot create an event on device %d", gxi_context_of(context)->ordinal);
        return 0;
    }
    id = gxi_event_new(call, context, native, 0, no_timing != 0);
    if (!id) GXI_BESIDE(cuEventDestroy, (native));
    else gxi_peek(id, GXI_EVENT)->interprocess = shared != 0;
    return id;
}
GPUEXEC_API gpuexec_event gpuexec_event_create_at(const char *where, gpuexec_context context,
                                                  const gpuexec_event_desc *desc) {
    gpuexec_event handle = { 0 };
    gxi_slot *slot;
    gxi_scope scope;
    GXI_CALL(gpuexec_event_create, GXI_MAKES);
    if (!(desc && gxi_check_desc(call, "gpuexec_event_desc", desc->start_canary, desc->end_canary)) &&
        (slot = gxi_begin_in(call, context, &scope)) != NULL) {
        handle.id = gxi_event_make(call, slot, desc);
        gxi_leave(&scope);
    }
    handle.id = gxi_or_failed(handle.id, GXI_EVENT);
    return handle;
}

GPUEXEC_API gpuexec_event gpuexec_event_from_native_at(const char *where, gpuexec_context context,
                                                       struct CUevent_st *native) {
    gpuexec_event handle = { 0 };
    gxi_slot *slot;
    GXI_CALL(gpuexec_event_from_native, GXI_MAKES);
    slot = gxi_begin_with_context(call, context);
    if (slot && !gxi_is_null(call, native, "the CUevent")) handle.id = gxi_event_new(call, slot, native, 1, 0);
    handle.id = gxi_or_failed(handle.id, GXI_EVENT);
    return handle;
}

static gxi_slot *gxi_find_event(gxi_call *call, gpuexec_event event, const char *is) {
    return gxi_get(call, event.id, GXI_EVENT, is);
}

static gxi_slot *gxi_begin_with_event(gxi_call *call, gpuexec_event event, const char *is) {
    return gxi_begin_with(call, event.id, GXI_EVENT, is);
}

GPUEXEC_API struct CUevent_st *gpuexec_event_native(gpuexec_event event) {
    const gxi_slot *slot = gxi_queried("gpuexec_event_native", event.id, GXI_EVENT, "the event");
    return slot ? slot->is.event.native : NULL;
}
/* Fails if the event was last recorded in a capture: only streams can wait for it, in that capture. */
static GXI_NOINLINE gpuexec_result gxi_event_captured(gxi_call *call, const gxi_slot *event, const char *is) {
    if (GXI_LOAD(&event->is.event.recorded) != GXI_CAPTURED) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_CAPTURING, "record it outside the capture, or record another event after launching "
                    "the graph", "%s was last recorded in a capture: it is a point in the graph, and is never reached",
                    is);
}
static gpuexec_result gxi_event_record(gxi_call *call, gpuexec_event event, gpuexec_stream stream, int cu) {
    gxi_slot *e, *slot;
    gpuexec_result result;
    if (!(e = gxi_begin_with_event(call, event, "the event"))) return gxi_failed_with();
    if (stream.id == GXI_CURRENT && !(call->stream = stream.id = gxi_current_stream(call, e->context)))
        return gxi_failed_with();
    if (!(slot = gxi_find_stream(call, stream))) return gxi_failed_with();
    if (e->cu_context != slot->cu_context)
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT,
                        "record it on a stream of its context, then make the other stream wait for it",
                        "the event is on device %d (context %p), but the stream is on device %d (context %p)",
                        gxi_ordinal_of(e), (void *)e->cu_context, gxi_ordinal_of(slot), (void *)slot->cu_context);
    result = gxi_stream_records(call, slot, e->is.event.native, "cannot record the event", cu);
    if (!result) GXI_STORE(&e->is.event.recorded, gxi_captures(call, slot) ? GXI_CAPTURED : 1);
    return result;
}
static GXI_NOINLINE gpuexec_result gxi_event_record_else(const char *where, gpuexec_event event, gpuexec_stream stream,
                                                         int cu) {
    gpuexec_result result;
    gxi_slot *e;
    GXI_CALL_ON(stream, gpuexec_event_record);
    result = gxi_event_record(call, event, stream, cu);
    if (result && (e = gxi_peek(event.id, GXI_EVENT)) != NULL) {     /* also if the latch refused it */
        GXI_STORE(&e->is.event.refused_at, where);
        GXI_STORE(&e->is.event.recorded, (uint32_t)result);
    }
    return result;
}
GPUEXEC_API gpuexec_result gpuexec_event_record_at(const char *where, gpuexec_event event, gpuexec_stream stream) {
    gxi_slot *e = gxi_peek_inline(event.id, GXI_EVENT);
    const gxi_slot *s = gxi_peek_inline(stream.id, GXI_STREAM);
    int cu;
    if (!e || !s || e->cu_context != s->cu_context || !gxi_is_plain(s) || e->borrowed)
        return gxi_event_record_else(where, event, stream, -1);
    GXI_STORE(&e->is.event.refused_at, where);
    cu = gxi.cu.cuEventRecord(e->is.event.native, s->is.stream.native);
    if (cu == 0) {
        GXI_STORE(&e->is.event.recorded, 1);
        return GPUEXEC_OK;
    }
    event.id = e->id;                            /* read back, like in gpuexec_launch */
    stream.id = s->id;
    return gxi_event_record_else(GXI_LOAD(&e->is.event.refused_at), event, stream, cu);
}
/* Creates an event and records it. 0 after a failure. */
static uint64_t gxi_stream_record(gxi_call *call, gpuexec_stream stream, const gpuexec_event_desc *desc) {
    gxi_slot *slot, *context, *e;
    gxi_scope scope;
    uint64_t id;
    if (desc && gxi_check_desc(call, "gpuexec_event_desc", desc->start_canary, desc->end_canary)) return 0;
    if (!(slot = gxi_begin_with_stream(call, stream)) ||
        !(context = gxi_get(call, slot->context, GXI_CONTEXT, "the stream's context"))) return 0;
    if (gxi_enter(call, slot->cu_context, &scope)) return 0;
    id = gxi_event_make(call, context, desc);
    e = gxi_peek(id, GXI_EVENT);
    if (e && GXI_TRY(cuEventRecord, (e->is.event.native, slot->is.stream.native))) {
        gxi_fail_cu(call, NULL, "cannot record the event");
        gxi_destroy(call, e);
        id = 0;
    } else if (e) GXI_STORE(&e->is.event.recorded, gxi_captures(call, slot) ? GXI_CAPTURED : 1);
    gxi_leave(&scope);
    return id;
}
GPUEXEC_API gpuexec_event gpuexec_stream_record_at(const char *where, gpuexec_stream stream,
                                                   const gpuexec_event_desc *desc) {
    gpuexec_event handle;
    GXI_CALL_ON(stream, gpuexec_stream_record);
    handle.id = gxi_or_failed(gxi_stream_record(call, stream, desc), GXI_EVENT);
    return handle;
}
GPUEXEC_API gpuexec_result gpuexec_event_sync_at(const char *where, gpuexec_event event) {
    gxi_slot *slot;
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED, cu;
    GXI_CALL(gpuexec_event_sync, GXI_WAITS);
    if (gxi_begin(call) || !(slot = gxi_find_event(call, event, "the event")) ||
        gxi_event_refused(call, slot, "the event") || gxi_event_captured(call, slot, "the event"))
        return gxi_take();
    gxi_exchange_mode(&mode);
    cu = GXI_TRY(cuEventSynchronize, (slot->is.event.native));
    gxi_exchange_mode(&mode);
    gxi_waited(call, cu, slot, "the event");
    return gxi_take();
}
GPUEXEC_API gpuexec_result gpuexec_event_query(gpuexec_event event) {
    gxi_slot *slot;
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED, cu;
    GXI_CALL_NO_PLACE(gpuexec_event_query, GXI_QUERIES);
    if (!(slot = gxi_begin_with_event(call, event, "the event")) || gxi_event_refused(call, slot, "the event") ||
        gxi_event_captured(call, slot, "the event"))
        return gxi_failed_with();
    gxi_exchange_mode(&mode);
    cu = GXI_TRY(cuEventQuery, (slot->is.event.native));
    gxi_exchange_mode(&mode);
    if (cu == GXI_CU_NOT_READY) return GPUEXEC_NOT_READY;
    return cu ? gxi_fail_cu(call, NULL, "cannot query the event") : GPUEXEC_OK;
}
static gpuexec_result gxi_check_elapsed(gxi_call *call, const gxi_slot *a, const gxi_slot *b) {
    if (gxi_event_refused(call, a, "the start event") || gxi_event_refused(call, b, "the stop event") ||
        gxi_event_captured(call, a, "the start event") || gxi_event_captured(call, b, "the stop event"))
        return gxi_failed_with();
    if (a->no_timing || b->no_timing)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "create it without gpuexec_event_desc.no_timing",
                        "the %s event was created without timing",
                        a->no_timing ? "start" : "stop");
    if (!GXI_LOAD(&a->is.event.recorded) || !GXI_LOAD(&b->is.event.recorded))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "record both events with gpuexec_event_record",
                        "the %s event was never recorded",
                        GXI_LOAD(&a->is.event.recorded) ? "stop" : "start");
    if (a->cu_context == b->cu_context) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "measure within one context",
                    "the start event is on device %d (context %p), but the stop event is on device %d (context %p)",
                    gxi_ordinal_of(a),
                    (void *)a->cu_context, gxi_ordinal_of(b), (void *)b->cu_context);
}
GPUEXEC_API double gpuexec_event_elapsed_ms_at(const char *where, gpuexec_event start, gpuexec_event stop) {
    gxi_slot *a, *b;
    float ms = 0;
    int cu;
    GXI_CALL(gpuexec_event_elapsed_ms, GXI_QUERIES);
    if (!(a = gxi_begin_with_event(call, start, "the start event")) ||
        !(b = gxi_find_event(call, stop, "the stop event")) || gxi_check_elapsed(call, a, b))
        return -1.0;
    cu = GXI_TRY(cuEventElapsedTime, (&ms, a->is.event.native, b->is.event.native));
    if (cu == 0 && ms >= 0) return (double)ms;
    if (cu == 0)
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass the earlier event first",
                 "the stop event was reached %g ms before the start event", -(double)ms);
    else if (cu == GXI_CU_NOT_READY)
        gxi_fail_cu(call, "call gpuexec_event_sync(stop) first", "the %s event has not been reached yet",
                    GXI_BESIDE(cuEventQuery, (a->is.event.native)) == GXI_CU_NOT_READY ? "start" : "stop");
    else
        gxi_fail_cu(call, cu == GXI_INVALID_HANDLE && (a->adopted || b->adopted)
                              ? "check that each adopted event was created with timing, was recorded, and still exists"
                              : NULL,
                    "cannot query the time between the events");
    return -1.0;
}
GPUEXEC_API gpuexec_result gpuexec_event_destroy_at(const char *where, gpuexec_event event) {
    GXI_CALL(gpuexec_event_destroy, GXI_CLEANS);
    return gxi_destroy_handle(call, event.id, GXI_EVENT, "the event");
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-transfer   Copies and fills: one function for all, with or without a stream, for bytes, rows or boxes; and
   arrays of copies. */

typedef enum gxi_transfer_kind { GXI_COPY_IN, GXI_COPY_OUT, GXI_COPY, GXI_COPY_PEER, GXI_COPY_HOST, GXI_FILL,
                                 GXI_FILL16, GXI_FILL32 } gxi_transfer_kind;
#define GXI_NOW 16                               /* added to the kind: without a stream */
typedef struct gxi_side {
    const char *is;
    int         host;                            /* 1: a host pointer, 0: a device address */
    uint64_t    address, pitch, slice;           /* pitch, slice: bytes from one row or slice to the next */
    uint64_t    context;                         /* handle id, of a peer copy */
    gxi_range   found;                           /* the allocation of gpuexec around the address; .bytes 0: not known */
} gxi_side;
typedef struct gxi_transfer {
    gxi_transfer_kind kind;
    gxi_side          sides[2];                  /* to, from; a fill has no source */
    uint32_t          value;
    uint64_t          bytes, rows, slices;       /* bytes of a row, rows of a slice */
} gxi_transfer;
enum { GXI_TO = 0, GXI_FROM = 1 };

/* from: for a fill, its value */
static GXI_NOINLINE gxi_transfer gxi_transfer_of(gxi_transfer_kind kind, uint64_t to, uint64_t from, uint64_t bytes) {
    gxi_transfer x;
    memset(&x, 0, sizeof x);
    x.kind = kind;
    x.bytes = bytes;
    x.rows = x.slices = 1;
    x.value = (uint32_t)from;
    x.sides[GXI_TO].is = "the destination";
    x.sides[GXI_TO].address = to;
    x.sides[GXI_TO].host = kind == GXI_COPY_OUT;
    x.sides[GXI_FROM].is = "the source";
    x.sides[GXI_FROM].address = from;
    x.sides[GXI_FROM].host = kind == GXI_COPY_IN;
    x.sides[GXI_TO].pitch = x.sides[GXI_FROM].pitch = bytes;
    return x;
}
static unsigned gxi_sides(const gxi_transfer *x) { return x->kind >= GXI_FILL ? 1 : 2; }
static uint64_t gxi_span(const gxi_transfer *x, const gxi_side *side) {
    return (x->slices - 1) * side->slice + (x->rows - 1) * side->pitch + x->bytes;
}
static int gxi_is_line(const gxi_transfer *x) { return x->rows == 1 && x->slices == 1; }
static int gxi_is_empty(const gxi_transfer *x) { return x->bytes == 0 || x->rows == 0 || x->slices == 0; }

/* Adds what is unusual about a side that the driver refused, according to what it reports about the address. Returns
   1 if the transfer is too large for the allocation. */
static int gxi_describe(gxi_text *t, const gxi_call *caller, const gxi_transfer *x, const gxi_side *side) {
    gxi_call own = *caller, *const call = &own;  /* so that results here do not replace the caller's */
    gpuexec_pointer_info info;
    uint64_t left;
    call->kind = GXI_QUERIES;
    if (gxi_pointer(call, side->address, &info)) return 0;
    left = info.bytes - (side->address - info.base);
    if (info.kind == GPUEXEC_MEMORY_PAGEABLE) {
        if (!side->host)
            gxi_add(t, "; %s 0x%llx is not in device memory: it was freed, or is a host pointer", side->is,
                    (unsigned long long)side->address);
    } else if (side->host && info.kind == GPUEXEC_MEMORY_DEVICE)
        gxi_add(t, "; %s 0x%llx is memory on device %d, but a host pointer is required", side->is,
                (unsigned long long)side->address, info.device);
    else if (info.bytes && gxi_span(x, side) > left) {
        gxi_add(t, "; only %llu byte%s remain%s from %s 0x%llx to the end of its allocation (%llu bytes of %s memory, "
                "allocated by %s), but the %s needs %llu", (unsigned long long)left, gxi_s(left), left == 1 ? "s" : "",
                side->is, (unsigned long long)side->address, (unsigned long long)info.bytes,
                gxi_memory_kinds[info.kind], info.ours ? "gpuexec" : "another library or a module",
                x->kind >= GXI_FILL ? "fill" : "copy", (unsigned long long)gxi_span(x, side));
        return 1;
    }
    return 0;
}
/* With `format`: gpuexec refuses the transfer and gives the reason. Without: the driver failed. */
static gpuexec_result gxi_fail_transfer(gxi_call *call, const gxi_transfer *x, const char *cure, const char *format,
                                        ...) GXI_PRINTF(4);
static GXI_COLD gpuexec_result gxi_fail_transfer(gxi_call *call, const gxi_transfer *x, const char *cure,
                                                 const char *format, ...) {
    gxi_text t = { 0, 0, 0, 0 };
    gpuexec_result result;
    unsigned i;
    va_list list;
    gxi_add(&t, "cannot %s ", x->kind >= GXI_FILL ? "fill" : "copy");
    if (x->slices > 1) gxi_add(&t, "%llu slices of ", (unsigned long long)x->slices);
    if (!gxi_is_line(x)) gxi_add(&t, "%llu row%s of ", (unsigned long long)x->rows, gxi_s(x->rows));
    gxi_add_bytes(&t, x->bytes);
    if (format) {
        gxi_add(&t, ": ");
        va_start(list, format);
        gxi_add_v(&t, format, list);
        va_end(list);
        result = gxi_fail(call, GPUEXEC_BAD_ARGUMENT, cure, "%s", t.p ? t.p : "");
    } else {
        for (i = 0; i < gxi_sides(x); i++)
            if (gxi_describe(&t, call, x, &x->sides[i]))
                cure = !gxi_is_line(x) ? "check the sizes and the pitch"
                    : x->kind > GXI_FILL ? "check the count: it is in elements, not in bytes" : "check the sizes";
        result = gxi_fail_cu(call, cure, "%s", t.p ? t.p : "");
    }
    gxi_text_free(&t);
    return result;
}

/* gxi_range_find, after the range that was found before. */
static int gxi_find_range(uint64_t address, gxi_range *range) {
    return address - range->lo < range->bytes || gxi_range_find(address, range);
}
/* Checks everything possible before calling the driver. Our table finds errors that a driver lets pass, because it
   rounds allocations up. */
static gpuexec_result gxi_check_side(gxi_call *call, const gxi_transfer *x, gxi_side *side, int max_pitch) {
    const unsigned element = x->kind == GXI_FILL32 ? 4 : x->kind == GXI_FILL16 ? 2 : 1;
    const unsigned long long address = side->address;
    unsigned long long left;
    const gxi_slot *made, *named;
    gxi_range *const range = &side->found;
    if (!address && side->host) return gxi_fail_transfer(call, x, NULL, "%s is NULL", side->is);
    if (!address) return gxi_fail_transfer(call, x, "check the result of gpuexec_alloc", "%s is the device address 0",
                                           side->is);
    if (address % element)
        return gxi_fail_transfer(call, x, NULL, "%s 0x%llx is not a multiple of %u", side->is, address, element);
    if (x->rows > 1 && side->pitch % element)
        return gxi_fail_transfer(call, x, NULL, "the pitch of %s is %llu, not a multiple of %u", side->is,
                                 (unsigned long long)side->pitch, element);
    if (side->pitch < x->bytes)
        return gxi_fail_transfer(call, x, "pass the distance in bytes between the starts of two rows as the pitch; "
                                          "without padding, it is the width in bytes",
                                 "the pitch of %s is %llu byte%s, less than the %llu of a row",
                                 side->is, (unsigned long long)side->pitch, gxi_s(side->pitch),
                                 (unsigned long long)x->bytes);
    if (max_pitch && side->pitch > (unsigned)max_pitch)
        return gxi_fail_transfer(call, x, "copy each row separately", "the pitch of %s is %llu, "
                                 "but the device allows at most %d (CU_DEVICE_ATTRIBUTE_MAX_PITCH)",
                                 side->is, (unsigned long long)side->pitch, max_pitch);
    if (x->rows > GXI_MOST_MEMORY / side->pitch || (side->slice && x->slices > GXI_MOST_MEMORY / side->slice))
        return gxi_fail_transfer(call, x, NULL, "no memory is that large");
    if (!gxi_find_range(address, range)) {
        const int part = side->host && gxi_range_touching(address, gxi_span(x, side), range);
        range->bytes = 0;
        if (!part) return GPUEXEC_OK;
        return gxi_fail_transfer(call, x, "register the whole buffer, or copy the parts separately",
                                 "%s 0x%llx is page-locked only from byte %llu on: that part was %s at %s",
                                 side->is, address, (unsigned long long)(range->lo - address),
                                 gxi_memory_verbs[range->kind], gxi_place(range->where));
    }
    if (side->host && range->kind == GPUEXEC_MEMORY_DEVICE)
        return gxi_fail_transfer(call, x, "use gpuexec_copy from device to device; copy_in reads host memory, and "
                                          "copy_out writes it",
                                 "%s 0x%llx is device memory allocated at %s, but a host pointer is required", side->is,
                                 address, gxi_place(range->where));
    made = gxi_peek(range->context, GXI_CONTEXT);
    named = gxi_peek(side->context, GXI_CONTEXT);
    if (made && named && gxi_context_of(made)->ordinal != gxi_context_of(named)->ordinal)
        return gxi_fail_transfer(call, x, "pass the context of each allocation",
                                 "%s 0x%llx is memory on device %d (%s at %s), but its context is on device %d",
                                 side->is, address, gxi_context_of(made)->ordinal, gxi_memory_verbs[range->kind],
                                 gxi_place(range->where), gxi_context_of(named)->ordinal);
    left = range->bytes - (address - range->lo);
    if (gxi_span(x, side) > left)
        return gxi_fail_transfer(call, x, gxi_is_line(x) ? "check the sizes" : "check the sizes and the pitch",
                                 "only %llu byte%s remain%s from %s 0x%llx to the end of its allocation (%llu bytes "
                                 "of %s memory, %s at %s), but the %s needs %llu",
                                 left, gxi_s(left), left == 1 ? "s" : "",
                                 side->is, address, (unsigned long long)range->bytes, gxi_memory_kinds[range->kind],
                                 gxi_memory_verbs[range->kind], gxi_place(range->where),
                                 x->kind >= GXI_FILL ? "fill" : "copy", (unsigned long long)gxi_span(x, side));
    return GPUEXEC_OK;
}
/* The distance of two boxes with the same pitch and slice is dz * slice + dy * pitch + dx, with |dx| less than the
   pitch and |dy| less than a slice's rows, in at most four ways. They overlap if in one of these all are less than
   the box. */
static gpuexec_result gxi_check_overlap(gxi_call *call, const gxi_transfer *x) {
    const gxi_side *to = &x->sides[GXI_TO], *from = &x->sides[GXI_FROM];
    const uint64_t apart = to->address > from->address ? to->address - from->address : from->address - to->address;
    const uint64_t span = gxi_span(x, to->address > from->address ? from : to);
    unsigned way;
    /* whether boxes with different pitches overlap is not checked; a copy onto itself changes nothing */
    if (to->pitch != from->pitch || to->slice != from->slice || apart == 0 || apart >= span) return GPUEXEC_OK;
    for (way = 0; way < 4; way++) {
        const uint64_t slices = x->slices > 1 ? apart / to->slice + way / 2 : 0, at = slices * to->slice;
        const uint64_t rest = at > apart ? at - apart : apart - at, rows = rest / to->pitch + way % 2;
        const uint64_t row = rows * to->pitch, column = row > rest ? row - rest : rest - row;
        if (slices < x->slices && rows < x->rows && column < x->bytes)
            return gxi_fail_transfer(call, x, "copy through a third buffer",
                                     "the source 0x%llx and the destination 0x%llx overlap",
                                     (unsigned long long)from->address, (unsigned long long)to->address);
    }
    return GPUEXEC_OK;
}

static gxi_copy_side gxi_side_of_box(const gxi_side *side, const gxi_slot *peer, uint64_t rows, uint64_t slices) {
    gxi_copy_side c;
    memset(&c, 0, sizeof c);
    c.type = side->host ? GXI_MEMORYTYPE_HOST : GXI_MEMORYTYPE_DEVICE;
    if (side->host) c.host = (void *)(uintptr_t)side->address;
    else c.device = side->address;
    c.context = peer ? peer->cu_context : NULL;
    c.pitch = (size_t)side->pitch;
    c.height = (size_t)(slices > 1 ? side->slice / side->pitch : rows);
    return c;
}
/* peers: the contexts of both sides of a copy between devices, else NULL */
static int gxi_transfer_box(gxi_call *call, const gxi_transfer *x, struct CUstream_st *s, gxi_slot *const *peers) {
    const gxi_side *to = &x->sides[GXI_TO], *from = &x->sides[GXI_FROM];
    const size_t width = (size_t)x->bytes, height = (size_t)x->rows, pitch = (size_t)to->pitch;
    gxi_memcpy3d box;
    gxi_memcpy2d c;
    if (x->kind == GXI_FILL)
        return GXI_TRY(cuMemsetD2D8Async, (to->address, pitch, (unsigned char)x->value, width, height, s));
    if (x->kind == GXI_FILL16)
        return GXI_TRY(cuMemsetD2D16Async, (to->address, pitch, (unsigned short)x->value, width / 2, height, s));
    if (x->kind == GXI_FILL32)
        return GXI_TRY(cuMemsetD2D32Async, (to->address, pitch, x->value, width / 4, height, s));
    if (x->slices > 1 || peers[GXI_TO]) {
        box.to = gxi_side_of_box(to, peers[GXI_TO], x->rows, x->slices);
        box.from = gxi_side_of_box(from, peers[GXI_FROM], x->rows, x->slices);
        box.width = width;
        box.height = height;
        box.depth = (size_t)x->slices;
        return peers[GXI_TO] ? GXI_TRY(cuMemcpy3DPeerAsync, (&box, s)) : GXI_TRY(cuMemcpy3DAsync, (&box, s));
    }
    memset(&c, 0, sizeof c);
    c.to_type = to->host ? GXI_MEMORYTYPE_HOST : GXI_MEMORYTYPE_DEVICE;
    c.from_type = from->host ? GXI_MEMORYTYPE_HOST : GXI_MEMORYTYPE_DEVICE;
    c.to_device = to->address;
    c.to_host = (void *)(uintptr_t)to->address;
    c.to_pitch = pitch;
    c.from_device = from->address;
    c.from_host = (const void *)(uintptr_t)from->address;
    c.from_pitch = (size_t)from->pitch;
    c.width = width;
    c.height = height;
    return GXI_TRY(cuMemcpy2DAsync, (&c, s));
}
static int gxi_transfer_queue(gxi_call *call, const gxi_transfer *x, struct CUstream_st *s, gxi_slot *const *peers) {
    const gpuexec_ptr to = x->sides[GXI_TO].address, from = x->sides[GXI_FROM].address;
    const size_t bytes = (size_t)x->bytes;
    if (!gxi_is_line(x)) return gxi_transfer_box(call, x, s, peers);
    switch (x->kind) {
    case GXI_COPY_IN:   return GXI_TRY(cuMemcpyHtoDAsync, (to, (const void *)(uintptr_t)from, bytes, s));
    case GXI_COPY_OUT:  return GXI_TRY(cuMemcpyDtoHAsync, ((void *)(uintptr_t)to, from, bytes, s));
    case GXI_COPY:      return GXI_TRY(cuMemcpyDtoDAsync, (to, from, bytes, s));
    case GXI_COPY_PEER:
        return !peers[GXI_TO] || !peers[GXI_FROM] ? GXI_INVALID_VALUE
            : GXI_TRY(cuMemcpyPeerAsync, (to, peers[GXI_TO]->cu_context, from, peers[GXI_FROM]->cu_context, bytes, s));
    case GXI_COPY_HOST: return gxi_transfer_box(call, x, s, peers);
    case GXI_FILL:      return GXI_TRY(cuMemsetD8Async, (to, (unsigned char)x->value, bytes, s));
    case GXI_FILL16:    return GXI_TRY(cuMemsetD16Async, (to, (unsigned short)x->value, bytes / 2, s));
    case GXI_FILL32:    break;
    }
    return GXI_TRY(cuMemsetD32Async, (to, x->value, bytes / 4, s));
}
/* The same, synchronously. The driver's synchronous calls may return before the device has finished (device to device,
   small pageable sources). */
static int gxi_transfer_now(gxi_call *call, const gxi_transfer *x, gxi_slot *const *peers) {
    const gpuexec_ptr to = x->sides[GXI_TO].address, from = x->sides[GXI_FROM].address;
    const size_t bytes = (size_t)x->bytes;
    const int line = gxi_is_line(x);
    int cu;
    if (line && x->kind == GXI_COPY_OUT) return GXI_TRY(cuMemcpyDtoH, ((void *)(uintptr_t)to, from, bytes));
    if (line && x->kind == GXI_COPY_IN) return gxi_copy_in_whole(call, to, (const void *)(uintptr_t)from, bytes);
    cu = line && x->kind == GXI_COPY ? GXI_TRY(cuMemcpyDtoD, (to, from, bytes))
        : gxi_transfer_queue(call, x, GXI_STREAM_LEGACY, peers);
    return cu ? cu : GXI_TRY(cuStreamSynchronize, (GXI_STREAM_LEGACY));
}

/* Checks everything possible before calling the driver. */
static gpuexec_result gxi_check_transfer(gxi_call *call, gxi_transfer *x, const gxi_slot *slot) {
    const gxi_slot *home = gxi_is_line(x) ? NULL : slot->context ? gxi_peek(slot->context, GXI_CONTEXT) : slot;
    int max_pitch = 0;
    unsigned i;
    if (x->bytes > GXI_MOST_MEMORY) return gxi_fail_transfer(call, x, NULL, "no memory is that large");
    if (home) gxi_attribute(call, gxi_context_of(home)->device, GXI_DEV_MAX_PITCH, &max_pitch);
    for (i = 0; i < gxi_sides(x); i++)
        if (gxi_check_side(call, x, &x->sides[i], max_pitch)) return GPUEXEC_BAD_ARGUMENT;
    return gxi_sides(x) == 2 ? gxi_check_overlap(call, x) : GPUEXEC_OK;
}
/* The context of a side, as a handle id: for allocations of gpuexec from the table, for others from the driver. 0: not
   known. */
static uint64_t gxi_context_of_side(gxi_call *call, const gxi_side *side) {
    int what = GXI_POINTER_CONTEXT;
    struct CUctx_st *native = NULL;
    void *value = &native;
    gxi_range range;
    if (side->context || side->host) return side->context;
    if (gxi_range_find(side->address, &range)) return range.context;
    if (GXI_TRY(cuPointerGetAttributes, (1, &what, &value, side->address)) || !native) return 0;
    return gxi_context_with(native);
}
/* The stream of a copy or fill on GPUEXEC_CURRENT: the current one of the destination's context; if the destination is
   host memory, of the source's. 0 after a failure. */
static uint64_t gxi_current_of_transfer(gxi_call *call, gxi_transfer *x) {
    gxi_side *side = &x->sides[x->sides[GXI_TO].host ? GXI_FROM : GXI_TO];
    uint64_t context;
    if (gxi_check_side(call, x, side, 0)) return 0;
    context = gxi_context_of_side(call, side);
    if (context) return gxi_current_stream(call, context);
    gxi_fail_transfer(call, x, "pass a stream instead of GPUEXEC_CURRENT; check the address",
                      "%s 0x%llx is not in memory of a context that gpuexec has opened or adopted", side->is,
                      (unsigned long long)side->address);
    return 0;
}

/* The contexts of both sides of a copy between devices that the program did not name: the driver's copies of boxes need
   them. */
static void gxi_find_peers(const gxi_transfer *x, gxi_slot **peers) {
    gxi_slot *found[2];
    unsigned i;
    for (i = 0; i < 2; i++) {
        const gxi_side *side = &x->sides[i];
        if (x->kind != GXI_COPY || side->host || !side->found.bytes) return;
        if (!(found[i] = gxi_peek(side->found.context, GXI_CONTEXT))) return;
    }
    if (gxi_context_of(found[0])->ordinal != gxi_context_of(found[1])->ordinal) memcpy(peers, found, sizeof found);
}
/* on: a stream, or a context if `now` is set. */
static gpuexec_result gxi_transfer_on(gxi_call *call, uint64_t on, int now, gxi_transfer *x) {
    gxi_slot *slot;
    gxi_slot *peers[2] = { NULL, NULL };
    gxi_scope scope = { 0, 0, 0, 0 };
    unsigned i;
    int cu;
    if (on == GXI_CURRENT && !now) {
        if (gxi_begin(call)) return gxi_failed_with();
        if (gxi_is_empty(x)) return GPUEXEC_OK;
        if (!(call->stream = on = gxi_current_of_transfer(call, x))) return gxi_failed_with();
    }
    slot = gxi_begin_with(call, on, now ? GXI_CONTEXT : GXI_STREAM, now ? "the context" : "the stream");
    if (!slot) return gxi_failed_with();
    for (i = 0; i < 2 && x->kind == GXI_COPY_PEER; i++)
        if (!(peers[i] = gxi_get(call, x->sides[i].context, GXI_CONTEXT, i == GXI_TO ? "the destination's context"
                                 : "the source's context")))
            return gxi_failed_with();
    if (gxi_is_empty(x)) return GPUEXEC_OK;
    if (gxi_check_transfer(call, x, slot)) return GPUEXEC_BAD_ARGUMENT;
    if (!gxi_is_line(x)) gxi_find_peers(x, peers);
    if (now ? gxi_enter_legacy(call, slot->cu_context, &scope)
        : !slot->legacy && (x->kind == GXI_COPY_HOST || (peers[GXI_TO] && !gxi_is_line(x)))
        ? gxi_enter(call, slot->cu_context, &scope)          /* not a copy to or from the stream's own device */
        : gxi_enter_stream(call, slot, &scope))
        return gxi_failed_with();
    cu = now ? gxi_transfer_now(call, x, peers) : gxi_transfer_queue(call, x, slot->is.stream.native, peers);
    gxi_leave(&scope);
    if (cu)
        return gxi_fail_transfer(call, x, x->kind == GXI_COPY_IN || x->kind == GXI_COPY_OUT
                                 ? "check that the memory has not been freed, and check the direction: copy_in writes "
                                   "to the device, copy_out reads from it"
                                 : "check that the memory has not been freed", NULL);
    if (now && x->kind == GXI_COPY_OUT && GXI_LOAD(&gxi.barriers))
        return GXI_LOAD(&gxi.look_at_barriers)(call, slot->cu_context, 1);
    return GPUEXEC_OK;
}

/* Parameters in the API's order, which keeps the API functions short. on: a stream, or a context with GXI_NOW. */
static GXI_NOINLINE gpuexec_result gxi_transfer_call(const char *where, uint64_t on, uint64_t to, uint64_t from,
                                                     uint64_t bytes, int kind,
                                                     const char *function) {
    gxi_transfer x = gxi_transfer_of((gxi_transfer_kind)(kind & ~GXI_NOW), to, from, bytes);
    gxi_call call;
    return gxi_transfer_on(gxi_call_on(&call, function, where, kind & GXI_NOW ? 0 : on), on, kind & GXI_NOW, &x);
}
static uint64_t gxi_times(uint64_t count, unsigned size) { return count > GXI_MOST_MEMORY ? UINT64_MAX : count * size; }
GPUEXEC_API gpuexec_result gpuexec_copy_in_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                              const void *from, size_t bytes) {
    return gxi_transfer_call(where, stream.id, to, (uintptr_t)from, bytes, GXI_COPY_IN, "gpuexec_copy_in");
}
GPUEXEC_API gpuexec_result gpuexec_copy_out_at(const char *where, gpuexec_stream stream, void *to, gpuexec_ptr from,
                                               size_t bytes) {
    return gxi_transfer_call(where, stream.id, (uintptr_t)to, from, bytes, GXI_COPY_OUT, "gpuexec_copy_out");
}
GPUEXEC_API gpuexec_result gpuexec_copy_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, gpuexec_ptr from,
                                           size_t bytes) {
    return gxi_transfer_call(where, stream.id, to, from, bytes, GXI_COPY, "gpuexec_copy");
}
GPUEXEC_API gpuexec_result gpuexec_fill_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                           unsigned char value, size_t bytes) {
    return gxi_transfer_call(where, stream.id, to, value, bytes, GXI_FILL, "gpuexec_fill");
}
GPUEXEC_API gpuexec_result gpuexec_fill16_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                             unsigned short value, size_t count) {
    return gxi_transfer_call(where, stream.id, to, value, gxi_times(count, 2), GXI_FILL16, "gpuexec_fill16");
}
GPUEXEC_API gpuexec_result gpuexec_fill32_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, unsigned value,
                                             size_t count) {
    return gxi_transfer_call(where, stream.id, to, value, gxi_times(count, 4), GXI_FILL32, "gpuexec_fill32");
}
GPUEXEC_API gpuexec_result gpuexec_copy_in_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                  const void *from, size_t bytes) {
    return gxi_transfer_call(where, context.id, to, (uintptr_t)from, bytes, GXI_COPY_IN | GXI_NOW,
                             "gpuexec_copy_in_now");
}
GPUEXEC_API gpuexec_result gpuexec_copy_out_now_at(const char *where, gpuexec_context context, void *to,
                                                   gpuexec_ptr from, size_t bytes) {
    return gxi_transfer_call(where, context.id, (uintptr_t)to, from, bytes, GXI_COPY_OUT | GXI_NOW,
                             "gpuexec_copy_out_now");
}
GPUEXEC_API gpuexec_result gpuexec_copy_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                               gpuexec_ptr from, size_t bytes) {
    return gxi_transfer_call(where, context.id, to, from, bytes, GXI_COPY | GXI_NOW, "gpuexec_copy_now");
}
GPUEXEC_API gpuexec_result gpuexec_fill_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                               unsigned char value, size_t bytes) {
    return gxi_transfer_call(where, context.id, to, value, bytes, GXI_FILL | GXI_NOW, "gpuexec_fill_now");
}
GPUEXEC_API gpuexec_result gpuexec_fill16_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                 unsigned short value, size_t count) {
    return gxi_transfer_call(where, context.id, to, value, gxi_times(count, 2), GXI_FILL16 | GXI_NOW,
                             "gpuexec_fill16_now");
}
GPUEXEC_API gpuexec_result gpuexec_fill32_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                 unsigned value, size_t count) {
    return gxi_transfer_call(where, context.id, to, value, gxi_times(count, 4), GXI_FILL32 | GXI_NOW,
                             "gpuexec_fill32_now");
}

static GXI_NOINLINE gpuexec_result gxi_transfer_peer(gxi_call *call, uint64_t on, int now, uint64_t to,
                                                     uint64_t to_context, uint64_t from, uint64_t from_context,
                                                     uint64_t bytes) {
    gxi_transfer x = gxi_transfer_of(GXI_COPY_PEER, to, from, bytes);
    x.sides[GXI_TO].context = to_context;
    x.sides[GXI_FROM].context = from_context;
    return gxi_transfer_on(call, on, now, &x);
}
GPUEXEC_API gpuexec_result gpuexec_copy_peer_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                                gpuexec_context to_context, gpuexec_ptr from,
                                               gpuexec_context from_context, size_t bytes) {
    GXI_CALL_ON(stream, gpuexec_copy_peer);
    return gxi_transfer_peer(call, stream.id, 0, to, to_context.id, from, from_context.id, bytes);
}
GPUEXEC_API gpuexec_result gpuexec_copy_peer_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                    gpuexec_context to_context, gpuexec_ptr from,
                                                    gpuexec_context from_context, size_t bytes) {
    GXI_CALL(gpuexec_copy_peer_now, GXI_WORKS);
    return gxi_transfer_peer(call, context.id, 1, to, to_context.id, from, from_context.id, bytes);
}

/* Like gxi_transfer_call. from_pitch: not used for a fill. */
static GXI_NOINLINE gpuexec_result gxi_transfer_2d(const char *where, uint64_t on, uint64_t to, uint64_t to_pitch,
                                                   uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t height,
                                                   int kind, const char *function) {
    gxi_transfer x = gxi_transfer_of((gxi_transfer_kind)(kind & ~GXI_NOW), to, from, width);
    gxi_call call;
    x.sides[GXI_TO].pitch = to_pitch;
    x.sides[GXI_FROM].pitch = from_pitch;
    x.rows = height;
    return gxi_transfer_on(gxi_call_on(&call, function, where, kind & GXI_NOW ? 0 : on), on, kind & GXI_NOW, &x);
}
GPUEXEC_API gpuexec_result gpuexec_copy_in_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to,
                                                 size_t to_pitch, const void *from, size_t from_pitch,
                                                 size_t width_bytes, size_t height) {
    return gxi_transfer_2d(where, stream.id, to, to_pitch, (uintptr_t)from, from_pitch, width_bytes, height,
                           GXI_COPY_IN, "gpuexec_copy_in_2d");
}
GPUEXEC_API gpuexec_result gpuexec_copy_in_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                     size_t to_pitch, const void *from, size_t from_pitch,
                                                     size_t width_bytes, size_t height) {
    return gxi_transfer_2d(where, context.id, to, to_pitch, (uintptr_t)from, from_pitch, width_bytes, height,
                           GXI_COPY_IN | GXI_NOW, "gpuexec_copy_in_2d_now");
}
GPUEXEC_API gpuexec_result gpuexec_copy_out_2d_at(const char *where, gpuexec_stream stream, void *to, size_t to_pitch,
                                                  gpuexec_ptr from, size_t from_pitch, size_t width_bytes,
                                                  size_t height) {
    return gxi_transfer_2d(where, stream.id, (uintptr_t)to, to_pitch, from, from_pitch, width_bytes, height,
                           GXI_COPY_OUT, "gpuexec_copy_out_2d");
}
GPUEXEC_API gpuexec_result gpuexec_copy_out_2d_now_at(const char *where, gpuexec_context context, void *to,
                                                      size_t to_pitch, gpuexec_ptr from, size_t from_pitch,
                                                      size_t width_bytes, size_t height) {
    return gxi_transfer_2d(where, context.id, (uintptr_t)to, to_pitch, from, from_pitch, width_bytes, height,
                           GXI_COPY_OUT | GXI_NOW, "gpuexec_copy_out_2d_now");
}
GPUEXEC_API gpuexec_result gpuexec_copy_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t to_pitch,
                                              gpuexec_ptr from, size_t from_pitch, size_t width_bytes, size_t height) {
    return gxi_transfer_2d(where, stream.id, to, to_pitch, from, from_pitch, width_bytes, height, GXI_COPY,
                           "gpuexec_copy_2d");
}
GPUEXEC_API gpuexec_result gpuexec_copy_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                  size_t to_pitch, gpuexec_ptr from, size_t from_pitch,
                                                  size_t width_bytes, size_t height) {
    return gxi_transfer_2d(where, context.id, to, to_pitch, from, from_pitch, width_bytes, height, GXI_COPY | GXI_NOW,
                           "gpuexec_copy_2d_now");
}
GPUEXEC_API gpuexec_result gpuexec_fill_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t pitch,
                                              unsigned char value, size_t width_bytes, size_t height) {
    return gxi_transfer_2d(where, stream.id, to, pitch, value, 0, width_bytes, height, GXI_FILL, "gpuexec_fill_2d");
}
GPUEXEC_API gpuexec_result gpuexec_fill_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                  size_t pitch, unsigned char value, size_t width_bytes,
                                                  size_t height) {
    return gxi_transfer_2d(where, context.id, to, pitch, value, 0, width_bytes, height, GXI_FILL | GXI_NOW,
                           "gpuexec_fill_2d_now");
}
GPUEXEC_API gpuexec_result gpuexec_fill16_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t pitch,
                                                unsigned short value, size_t count, size_t height) {
    return gxi_transfer_2d(where, stream.id, to, pitch, value, 0, gxi_times(count, 2), height, GXI_FILL16,
                           "gpuexec_fill16_2d");
}
GPUEXEC_API gpuexec_result gpuexec_fill16_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                    size_t pitch, unsigned short value, size_t count, size_t height) {
    return gxi_transfer_2d(where, context.id, to, pitch, value, 0, gxi_times(count, 2), height, GXI_FILL16 | GXI_NOW,
                           "gpuexec_fill16_2d_now");
}
GPUEXEC_API gpuexec_result gpuexec_fill32_2d_at(const char *where, gpuexec_stream stream, gpuexec_ptr to, size_t pitch,
                                                unsigned value, size_t count, size_t height) {
    return gxi_transfer_2d(where, stream.id, to, pitch, value, 0, gxi_times(count, 4), height, GXI_FILL32,
                           "gpuexec_fill32_2d");
}
GPUEXEC_API gpuexec_result gpuexec_fill32_2d_now_at(const char *where, gpuexec_context context, gpuexec_ptr to,
                                                    size_t pitch, unsigned value, size_t count, size_t height) {
    return gxi_transfer_2d(where, context.id, to, pitch, value, 0, gxi_times(count, 4), height, GXI_FILL32 | GXI_NOW,
                           "gpuexec_fill32_2d_now");
}

/* --- whether a copy will be asynchronous -------------------------------------------------------------------------- */

/* 1 if the context has peer access to memory of another device: then it has an address for it. -1 after a failure. */
static int gxi_reaches(gxi_call *call, const gxi_slot *context, uint64_t address) {
    int what = GXI_POINTER_DEVICE_POINTER;
    gpuexec_ptr seen = 0;
    void *value = &seen;
    gxi_scope scope;
    int cu;
    if (gxi_enter(call, context->cu_context, &scope)) return -1;
    cu = GXI_TRY(cuPointerGetAttributes, (1, &what, &value, address));
    gxi_leave(&scope);
    if (cu == 0 || cu == GXI_INVALID_VALUE) return cu == 0 && seen != 0;
    gxi_fail_cu(call, NULL, "cannot query whether device %d has peer access to 0x%llx",
                gxi_context_of(context)->ordinal, (unsigned long long)address);
    return -1;
}
GPUEXEC_API gpuexec_result gpuexec_copy_explain(gpuexec_stream stream, gpuexec_ptr to, gpuexec_ptr from, size_t bytes,
                                                gpuexec_copy_info *info) {
    static const char cure[] = "cure: gpuexec_alloc_pinned, or gpuexec_register the whole buffer once";
    const gxi_transfer x = gxi_transfer_of(GXI_COPY, to, from, bytes);
    gpuexec_pointer_info what[2];
    gxi_range range;
    gxi_text t = { 0, 0, 0, 0 };
    gxi_slot *slot, *home;
    int i, odd = -1, host = 0, managed = 0, engines, device, other, can = 0;
    GXI_CALL_NO_PLACE(gpuexec_copy_explain, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (!(slot = gxi_begin_with(call, stream.id, GXI_STREAM, "the stream")) ||
        !(home = gxi_get(call, slot->context, GXI_CONTEXT, "the stream's context")))
        return gxi_failed_with();
    device = other = gxi_context_of(home)->ordinal;
    if (gxi_attribute(call, gxi_context_of(home)->device, GXI_DEV_ASYNC_ENGINE_COUNT, &engines))
        return gxi_fail_device(call, device);
    for (i = 0; i < 2; i++) {
        const uint64_t address = x.sides[i].address;
        if (gxi_pointer(call, address, &what[i]))
            return gxi_fail_cu(call, NULL, "cannot query pointer 0x%llx", (unsigned long long)address);
        if (what[i].kind == GPUEXEC_MEMORY_MANAGED) managed = 1;
        else if (what[i].kind != GPUEXEC_MEMORY_DEVICE) host++;
        else if (what[i].device != device) other = what[i].device;
        if (what[i].kind == GPUEXEC_MEMORY_PAGEABLE ? gxi_range_touching(address, bytes ? bytes : 1, &range)
                                                    : what[i].bytes && bytes > what[i].bytes - (address - what[i].base))
            odd = i;
    }
    info->asynchronous = 1;
    if (bytes == 0) gxi_add(&t, "0 bytes: nothing is copied");
    else if (odd >= 0) {
        info->asynchronous = 0;
        gxi_add(&t, "%s 0x%llx with its %lu bytes is not within one allocation or registration: such a copy "
                "is refused", x.sides[odd].is, (unsigned long long)x.sides[odd].address, (unsigned long)bytes);
    } else if (host == 2) {
        info->asynchronous = 0;
        gxi_add(&t, "source and destination are host memory: the driver waits for the stream and copies on the host; "
                "cure: use memcpy");
    } else if (what[GXI_FROM].kind == GPUEXEC_MEMORY_PAGEABLE) {
        info->asynchronous = 0;
        gxi_add(&t, "the source 0x%llx is pageable host memory: the driver stages it, may wait for the stream, "
                "and returns when it has read all bytes; %s", (unsigned long long)from, cure);
    } else if (what[GXI_TO].kind == GPUEXEC_MEMORY_PAGEABLE) {
        info->asynchronous = 0;
        gxi_add(&t, "the destination 0x%llx is pageable host memory: the call returns when the copy is done, "
                "after all earlier work on the stream; %s", (unsigned long long)to, cure);
    } else if (managed) gxi_add(&t, "managed memory is copied asynchronously, "
                                "but its pages may have to move between host and device first");
    else if (host) {
        info->overlaps = engines > 0;
        gxi_add(&t, "between page-locked host memory and device %d, %s",
                what[what[GXI_TO].kind == GPUEXEC_MEMORY_DEVICE ? GXI_TO : GXI_FROM].device,
                engines ? "by a copy engine, concurrently with kernels"
                : "but this device has no copy engine that runs concurrently with kernels");
    } else {
        info->overlaps = 1;
        const int same = what[GXI_TO].device == what[GXI_FROM].device;
        const int reaches = same ? 0
            : gxi_reaches(call, home, x.sides[what[GXI_TO].device == other ? GXI_TO : GXI_FROM].address);
        if (reaches < 0) return gxi_failed_with();
        if (same) gxi_add(&t, "within device %d, sharing its memory's bandwidth with kernels", what[GXI_TO].device);
        else if (reaches)
            gxi_add(&t, "directly from device %d to device %d, by peer access", what[GXI_FROM].device,
                    what[GXI_TO].device);
        else {
            int peer = 0;
            if (gxi_device(call, other, &peer)) return gxi_failed_with();
            if ((can = gxi_can_access(call, gxi_context_of(home)->device, peer, device, other)) < 0)
                return gxi_failed_with();
            gxi_add(&t, "from device %d to device %d through host memory, because ", what[GXI_FROM].device,
                    what[GXI_TO].device);
            if (can) gxi_add(&t, "device %d has no peer access to device %d; cure: call gpuexec_peer_enable", device,
                             other);
            else gxi_add(&t, "device %d cannot access the memory of device %d", device, other);
        }
    }
    if (slot->legacy && info->asynchronous) {
        info->overlaps = 0;
        gxi_add(&t, "; on the legacy stream, which waits for all blocking streams and makes them wait; "
                "cure: use a stream from gpuexec_stream_create");
    }
    if (!t.failed) snprintf(info->why, sizeof info->why, "%s", t.p);
    else gxi_fail_memory(call, "write the reason");
    gxi_text_free(&t);
    return *info->why ? GPUEXEC_OK : GPUEXEC_OUT_OF_HOST_MEMORY;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-copies   Boxes, which >>impl-transfer copies, and arrays of copies. */

/* --- boxes -------------------------------------------------------------------------------------------------------- */

/* Sets the address of a side; fails unless exactly one is given. */
static gpuexec_result gxi_set_address(gxi_call *call, gxi_transfer *x, unsigned i, gpuexec_ptr device, const void *host,
                                      const char *cure) {
    gxi_side *side = &x->sides[i];
    side->host = host != NULL;
    side->address = host ? (uintptr_t)host : device;
    if (!device != !host) return GPUEXEC_OK;
    return gxi_fail_transfer(call, x, cure, "%s has %s", side->is,
                             host ? "both a device address and a host pointer"
                             : "neither a device address nor a host pointer; was it allocated?");
}
/* The kind of a copy, from its sides. */
static gxi_transfer_kind gxi_kind_of_copy(const gxi_transfer *x) {
    const gxi_side *to = &x->sides[GXI_TO], *from = &x->sides[GXI_FROM];
    return to->host ? from->host ? GXI_COPY_HOST : GXI_COPY_OUT : from->host ? GXI_COPY_IN
        : to->context || from->context ? GXI_COPY_PEER : GXI_COPY;
}
/* Moves the address of a side to the first byte of its box. */
static gpuexec_result gxi_set_box(gxi_call *call, gxi_transfer *x, unsigned i, const gpuexec_box *box) {
    const char *name = i == GXI_TO ? "to" : "from";
    const uint64_t pitch = box->pitch ? box->pitch : x->bytes;
    const int flat = x->slices == 1 && box->z == 0;                  /* no second slice: its distance means nothing */
    const uint64_t height = box->slice_height && !flat ? box->slice_height : x->rows, y = flat ? 0 : box->y;
    gxi_side *side = &x->sides[i];
    if (gxi_set_address(call, x, i, box->device, box->host, "set either its member `device` or its member `host`"))
        return GPUEXEC_BAD_ARGUMENT;
    if (x->bytes > pitch || box->x > pitch - x->bytes)
        return gxi_fail_transfer(call, x, "set the pitch to the distance in bytes between the starts of two rows; "
                                 "0 means width_bytes", "%s.x (%llu) and width_bytes (%llu) exceed %s.pitch (%llu)",
                                 name, (unsigned long long)box->x, (unsigned long long)x->bytes, name,
                                 (unsigned long long)pitch);
    if (x->rows > height || y > height - x->rows)
        return gxi_fail_transfer(call, x, "set slice_height to the number of rows between the starts of two slices; "
                                 "0 means height", "%s.y (%llu) and height (%llu) exceed %s.slice_height (%llu)", name,
                                 (unsigned long long)y, (unsigned long long)x->rows, name, (unsigned long long)height);
    if (pitch > GXI_MOST_MEMORY || height > GXI_MOST_MEMORY / pitch || box->y > GXI_MOST_MEMORY / pitch ||
        box->z > GXI_MOST_MEMORY / (pitch * height))
        return gxi_fail_transfer(call, x, NULL, "no memory is that large");
    side->pitch = pitch;
    side->slice = pitch * height;
    side->context = box->context.id;
    side->address += box->z * side->slice + box->y * pitch + box->x;
    return GPUEXEC_OK;
}
/* on: a stream, or a context if `now` is set. */
static gpuexec_result gxi_copy_box(gxi_call *call, uint64_t on, int now, const gpuexec_copy_3d_desc *copy) {
    gxi_transfer x = gxi_transfer_of(GXI_COPY, 0, 0, 0);
    if (gxi_begin(call)) return gxi_failed_with();
    if (gxi_is_null(call, copy, "the copy") ||
        gxi_check_desc(call, "gpuexec_copy_3d_desc", copy->start_canary, copy->end_canary))
        return GPUEXEC_BAD_ARGUMENT;
    x.bytes = copy->width_bytes;
    x.rows = copy->height;
    x.slices = copy->depth;
    if (!gxi_is_empty(&x) &&
        (gxi_set_box(call, &x, GXI_TO, &copy->to) || gxi_set_box(call, &x, GXI_FROM, &copy->from)))
        return GPUEXEC_BAD_ARGUMENT;
    x.kind = gxi_kind_of_copy(&x);
    return gxi_transfer_on(call, on, now, &x);
}
GPUEXEC_API gpuexec_result gpuexec_copy_3d_at(const char *where, gpuexec_stream stream,
                                              const gpuexec_copy_3d_desc *copy) {
    GXI_CALL_ON(stream, gpuexec_copy_3d);
    return gxi_copy_box(call, stream.id, 0, copy);
}
GPUEXEC_API gpuexec_result gpuexec_copy_3d_now_at(const char *where, gpuexec_context context,
                                                  const gpuexec_copy_3d_desc *copy) {
    GXI_CALL(gpuexec_copy_3d_now, GXI_WORKS);
    return gxi_copy_box(call, context.id, 1, copy);
}

/* --- arrays of copies: between device addresses by a kernel, to and from the host by the driver's batches --------- */

enum { GXI_PARTS = 170,                          /* a kernel's parameters have at most 4 KiB */
       GXI_PARTS_LEAST = 4,                      /* fewer copies are separate */
       GXI_PART_LIMIT = 1 << 20,                 /* bytes: a larger copy gains nothing */
       GXI_BLOCK_BYTES = 16384,                  /* that one block copies */
       GXI_BATCH = 512 };
typedef struct gxi_part { uint64_t to, from, bytes; } gxi_part;
typedef struct gxi_many {
    gxi_call            *call;
    const gxi_slot      *slot;                   /* the stream, or the context without a stream */
    struct CUstream_st  *stream;
    struct CUfunc_st    *copier;                 /* NULL: no copies by a kernel */
    int                  batches;                /* 0: none of the driver */
    const gpuexec_copy_part *copies;
    gxi_transfer         x;                      /* the copy in progress */
    char                 subject[32];
    unsigned             nparts, nbatch;
    uint64_t             largest;                /* of the parts */
    gxi_part             parts[GXI_PARTS];       /* the kernel's parameter */
    gpuexec_ptr          to[GXI_BATCH], from[GXI_BATCH];
    size_t               bytes[GXI_BATCH], which[GXI_BATCH];
} gxi_many;

/* copies(struct { uint64_t to, from, bytes; } c[170]): blockIdx.y selects the copy; by 16 bytes if both addresses are
   multiples of 16, the rest by single bytes. */
static const char gxi_copier_ptx[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry copies(.param .align 8 .b8 c[4080]){"
    ".reg .pred p;.reg .b32 r<8>;.reg .b64 a,n,i,k,t,f,s,e;"
    "mov.u32 r0,%ctaid.y;mul.wide.u32 e,r0,24;mov.b64 a,c;add.u64 a,a,e;"
    "ld.param.u64 t,[a];ld.param.u64 f,[a+8];ld.param.u64 n,[a+16];"
    "mov.u32 r0,%ctaid.x;mov.u32 r1,%ntid.x;mov.u32 r2,%tid.x;mad.lo.u32 r0,r0,r1,r2;cvt.u64.u32 i,r0;"
    "mov.u32 r2,%nctaid.x;mul.wide.u32 s,r1,r2;mov.u64 k,i;mov.u64 e,0;"
    "or.b64 a,t,f;and.b64 a,a,15;setp.ne.u64 p,a,0;@p bra B;"
    "shl.b64 k,i,4;and.b64 e,n,-16;"
    "A:setp.ge.u64 p,k,e;@p bra D;"
    "add.u64 a,f,k;ld.global.v4.u32 {r4,r5,r6,r7},[a];add.u64 a,t,k;st.global.v4.u32 [a],{r4,r5,r6,r7};"
    "shl.b64 a,s,4;add.u64 k,k,a;bra A;"
    "D:add.u64 k,e,i;"
    "B:setp.ge.u64 p,k,n;@p bra E;"
    "add.u64 a,f,k;ld.global.u8 r4,[a];add.u64 a,t,k;st.global.u8 [a],r4;add.u64 k,k,s;bra B;"
    "E:ret;}";
/* That kernel, loaded when a context first needs it. *function is NULL if it cannot be loaded, as without the driver's
   compiler: each copy is then separate. */
static gpuexec_result gxi_copier(gxi_call *call, const gxi_slot *context, struct CUfunc_st **function) {
    gxi_context *const info = gxi_context_of(context);
    struct CUmod_st *module = NULL;
    gxi_scope scope;
    if (!GXI_LOAD(&info->copier_tried)) {
        if (gxi_enter(call, context->cu_context, &scope)) return gxi_failed_with();
        if (GXI_BESIDE(cuModuleLoadDataEx, (&module, gxi_copier_ptx, 0, NULL, NULL))) module = NULL;
        else if (GXI_BESIDE(cuModuleGetFunction, (function, module, "copies"))) *function = NULL;
        gxi_lock(&gxi_tables);
        if (!info->copier_tried) {
            info->copier = *function;
            info->copier_module = module;
            module = NULL;
            GXI_STORE(&info->copier_tried, 1);
        }
        gxi_unlock(&gxi_tables);
        if (module) GXI_BESIDE(cuModuleUnload, (module));            /* another thread was first */
        gxi_leave(&scope);
    }
    *function = info->copier;
    return GPUEXEC_OK;
}

/* Makes m->x copy i, for texts "copies[i]: ". Returns 0 after a failure. */
static int gxi_select(gxi_many *m, size_t i) {
    const gpuexec_copy_part *p = &m->copies[i];
    gxi_transfer *x = &m->x;
    char *s = m->subject + sizeof m->subject - 4;
    size_t n = i;
    memcpy(s, "]: ", 4);
    do *--s = (char)('0' + n % 10); while ((n /= 10) != 0);
    m->call->subject = (char *)memcpy(s - 7, "copies[", 7);
    x->bytes = x->sides[GXI_TO].pitch = x->sides[GXI_FROM].pitch = p->bytes;
    if (p->bytes == 0) return 1;
    if (gxi_set_address(m->call, x, GXI_TO, p->to, p->to_host, "set either `to` or `to_host`") ||
        gxi_set_address(m->call, x, GXI_FROM, p->from, p->from_host, "set either `from` or `from_host`"))
        return 0;
    x->kind = gxi_kind_of_copy(x);
    if (x->kind != GXI_COPY_HOST) return 1;
    gxi_fail_transfer(m->call, x, "use memcpy", "both sides are host memory");
    return 0;
}
/* Whether a kernel of the stream's context can access the memory on that side. */
static int gxi_is_near(const gxi_many *m, gxi_side *side) {
    const gxi_slot *context;
    if (!gxi_find_range(side->address, &side->found) || side->found.kind != GPUEXEC_MEMORY_DEVICE) return 0;
    context = gxi_peek(side->found.context, GXI_CONTEXT);
    return context && context->cu_context == m->slot->cu_context;
}
/* Whether it is page-locked or device memory, as the side says. The driver's batches take any address: they would write
   to a freed device address as if it were pageable memory, and read pageable memory later than a copy does. */
static int gxi_is_known(const gxi_many *m, gxi_side *side) {
    const gxi_call *const call = m->call;
    int what = GXI_POINTER_MEMORY_TYPE, type = 0;
    void *value = &type;
    if (gxi_find_range(side->address, &side->found))
        return side->found.kind == GPUEXEC_MEMORY_DEVICE ? !side->host
            : side->host && side->found.kind != GPUEXEC_MEMORY_MANAGED;
    return !GXI_BESIDE(cuPointerGetAttributes, (1, &what, &value, side->address)) &&
        type == (side->host ? GXI_MEMORYTYPE_HOST : GXI_MEMORYTYPE_DEVICE);
}
static int gxi_launch_parts(gxi_many *m) {
    gxi_call *const call = m->call;
    const uint64_t blocks = (m->largest + GXI_BLOCK_BYTES - 1) / GXI_BLOCK_BYTES;
    const unsigned n = m->nparts;
    void *params[1];
    if (!n) return 1;
    params[0] = m->parts;
    m->nparts = 0;
    m->largest = 0;
    if (!GXI_TRY(cuLaunchKernel, (m->copier, (unsigned)blocks, n, 1, 256, 1, 1, 0, m->stream, params, NULL))) return 1;
    call->subject = NULL;
    gxi_fail_cu(call, NULL, "cannot launch the kernel that makes %u of the copies", n);
    return 0;
}
static int gxi_fail_copy(gxi_many *m) {
    gxi_fail_transfer(m->call, &m->x, "check that the memory has not been freed", NULL);
    return 0;
}
static int gxi_enqueue_batch(gxi_many *m) {
    gxi_call *const call = m->call;
    gxi_batch_attributes attributes = { GXI_MEMCPY_SRC_ACCESS_ORDER_STREAM, { 0, 0 }, { 0, 0 }, 0 };
    size_t first = 0, failed = 0;
    const size_t n = m->nbatch;
    m->nbatch = 0;
    if (!n || !GXI_TRY(cuMemcpyBatchAsync, (m->to, m->from, m->bytes, n, &attributes, &first, 1, &failed, m->stream)))
        return 1;
    if (failed < n) {
        gxi_select(m, m->which[failed]);
        return gxi_fail_copy(m);
    }
    call->subject = NULL;
    gxi_fail_cu(call, NULL, "cannot enqueue a batch of %lu copies", (unsigned long)n);
    return 0;
}
/* Enqueues copy i, now or with others. Returns 0 after a failure. */
static int gxi_enqueue_part(gxi_many *m, size_t i) {
    static gxi_slot *const no_peers[2] = { NULL, NULL };
    gxi_transfer *x = &m->x;
    const uint64_t to = x->sides[GXI_TO].address, from = x->sides[GXI_FROM].address;
    if (x->kind == GXI_COPY && m->copier && x->bytes <= GXI_PART_LIMIT && gxi_is_near(m, &x->sides[GXI_TO]) &&
        gxi_is_near(m, &x->sides[GXI_FROM])) {
        const gxi_part part = { to, from, x->bytes };
        m->parts[m->nparts++] = part;
        if (m->largest < x->bytes) m->largest = x->bytes;
        return m->nparts < GXI_PARTS || gxi_launch_parts(m);
    }
    if (x->kind != GXI_COPY && m->batches && gxi_is_known(m, &x->sides[GXI_TO]) &&
        gxi_is_known(m, &x->sides[GXI_FROM])) {
        m->to[m->nbatch] = to;
        m->from[m->nbatch] = from;
        m->bytes[m->nbatch] = (size_t)x->bytes;
        m->which[m->nbatch++] = i;
        return m->nbatch < GXI_BATCH || gxi_enqueue_batch(m);
    }
    return !gxi_transfer_queue(m->call, x, m->stream, no_peers) || gxi_fail_copy(m);
}
/* on: a stream, or a context if `now` is set. */
static gpuexec_result gxi_copy_many(gxi_call *call, uint64_t on, int now, const gpuexec_copy_part *copies,
                                    size_t count) {
    gxi_many m;
    gxi_slot *slot;
    const gxi_slot *context;
    gxi_scope scope;
    size_t i, out = 0, within = 0;
    int ok = 1, captures;
    if (gxi_begin(call)) return gxi_failed_with();
    m.call = call;
    m.copies = copies;
    m.x = gxi_transfer_of(GXI_COPY, 0, 0, 0);
    m.nparts = m.nbatch = 0;
    m.largest = 0;
    if (count && gxi_is_null(call, copies, "copies")) return GPUEXEC_BAD_ARGUMENT;
    if (on == GXI_CURRENT && !now && count) {
        if (!gxi_select(&m, 0) || !(call->stream = on = gxi_current_of_transfer(call, &m.x))) return gxi_failed_with();
        call->subject = NULL;
    }
    m.slot = slot = gxi_begin_with(call, on, now ? GXI_CONTEXT : GXI_STREAM, now ? "the context" : "the stream");
    if (!slot) return gxi_failed_with();
    for (i = 0; i < count; i++) {
        if (!gxi_select(&m, i) || (m.x.bytes && gxi_check_transfer(call, &m.x, slot))) return GPUEXEC_BAD_ARGUMENT;
        out += m.x.bytes && m.x.kind == GXI_COPY_OUT;
        within += m.x.bytes && m.x.kind == GXI_COPY;
    }
    call->subject = NULL;
    context = now ? slot : gxi_peek(slot->context, GXI_CONTEXT);
    /* the driver's batches need a current context (measured) */
    if (now || slot->legacy == 1 ? gxi_enter_legacy(call, slot->cu_context, &scope)
        : gxi_enter(call, slot->cu_context, &scope))
        return gxi_failed_with();
    m.stream = now ? GXI_STREAM_LEGACY : slot->is.stream.native;
    m.copier = NULL;
    /* a capture records single copies: its graph knows their memory, and cuMemcpyBatchAsync would break it */
    captures = !now && gxi_captures(call, slot);
    m.batches = !now && slot->legacy != 1 && GXI_HAS(cuMemcpyBatchAsync) && !captures;
    if (within >= GXI_PARTS_LEAST && context && !captures)
        ok = gxi_copier(call, context, &m.copier) == GPUEXEC_OK;
    for (i = 0; i < count && ok; i++) ok = gxi_select(&m, i) && (m.x.bytes == 0 || gxi_enqueue_part(&m, i));
    ok = ok && gxi_launch_parts(&m) && gxi_enqueue_batch(&m);
    if (ok && now && count && GXI_TRY(cuStreamSynchronize, (GXI_STREAM_LEGACY))) {
        call->subject = NULL;
        gxi_fail_cu(call, NULL, "cannot finish %lu copies", (unsigned long)count);
        ok = 0;
    }
    gxi_leave(&scope);
    if (ok && now && out && GXI_LOAD(&gxi.barriers))
        return GXI_LOAD(&gxi.look_at_barriers)(call, slot->cu_context, 1);
    return ok ? GPUEXEC_OK : gxi_failed_with();
}
GPUEXEC_API gpuexec_result gpuexec_copy_many_at(const char *where, gpuexec_stream stream,
                                                const gpuexec_copy_part *copies, size_t count) {
    GXI_CALL_ON(stream, gpuexec_copy_many);
    return gxi_copy_many(call, stream.id, 0, copies, count);
}
GPUEXEC_API gpuexec_result gpuexec_copy_many_now_at(const char *where, gpuexec_context context,
                                                    const gpuexec_copy_part *copies, size_t count) {
    GXI_CALL(gpuexec_copy_many_now, GXI_WORKS);
    return gxi_copy_many(call, context.id, 1, copies, count);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-launch   The fast path is two slot look-ups, the latch, the sizes, and the driver. Everything else, and what
   the driver refuses, goes to gxi_launch_else: it finds the error, or handles the rarer cases (legacy stream, more
   shared memory, trace). */

static unsigned gxi_blocks(size_t n, unsigned block) {
    size_t blocks = block ? n / block + (n % block != 0) : 0;
    return blocks > 0xFFFFFFFFu ? 0xFFFFFFFFu : (unsigned)blocks;    /* the launch refuses too many blocks */
}
GPUEXEC_API gpuexec_dims gpuexec_grid_for(size_t n, unsigned block_x) {
    gpuexec_dims d = { gxi_blocks(n, block_x), 1, 1, block_x, 1, 1, 0 };
    return d;
}
GPUEXEC_API gpuexec_dims gpuexec_grid_for_2d(size_t width, size_t height, unsigned block_x, unsigned block_y) {
    gpuexec_dims d = { 0, 1, 1, 0, 1, 1, 0 };    /* empty: y of 0 would mean 1 */
    if (block_x && block_y) {
        d.block_x = block_x;
        d.block_y = block_y;
    }
    if (width && height) {
        d.grid_x = gxi_blocks(width, block_x);
        d.grid_y = gxi_blocks(height, block_y);
    }
    return d;
}
GPUEXEC_API gpuexec_dims gpuexec_with_shared(gpuexec_dims dims, unsigned shared_bytes) {
    dims.shared_bytes = shared_bytes;
    return dims;
}
GPUEXEC_API gpuexec_dims gpuexec_grid(unsigned blocks, unsigned threads, unsigned shared_bytes) {
    gpuexec_dims d = { 0, 1, 1, 0, 1, 1, 0 };
    d.grid_x = blocks;
    d.block_x = threads;
    d.shared_bytes = shared_bytes;
    return d;
}

/* Blocks of a cooperative grid at most; -1 after a failure. */
static int gxi_cooperative_blocks(gxi_call *call, gxi_slot *kernel, unsigned block_threads, size_t shared_bytes) {
    const int per_multiprocessor = gxi_occupancy(call, kernel, block_threads, shared_bytes);
    const gxi_slot *context;
    int multiprocessors;
    if (per_multiprocessor < 0 || !(context = gxi_get(call, kernel->context, GXI_CONTEXT, "the kernel's context")))
        return -1;
    if (gxi_attribute(call, gxi_context_of(context)->device, GXI_DEV_MULTIPROCESSOR_COUNT, &multiprocessors) == 0)
        return per_multiprocessor * multiprocessors;
    gxi_fail_device(call, gxi_context_of(context)->ordinal);
    return -1;
}
GPUEXEC_API int gpuexec_kernel_cooperative_blocks(gpuexec_kernel kernel, unsigned block_threads, size_t shared_bytes) {
    gxi_slot *slot;
    GXI_CALL_NO_PLACE(gpuexec_kernel_cooperative_blocks, GXI_QUERIES);
    slot = gxi_find_kernel(call, kernel);
    return slot ? gxi_cooperative_blocks(call, slot, block_threads, shared_bytes) : -1;
}

static const struct { const char *name; unsigned char bytes, alignment; } gxi_types[] = {
    { "nothing", 0, 0 },
#define GXI_ROW(type, type_name, type_bytes, type_alignment) { #type_name, type_bytes, type_alignment },
    GXI_TYPES(GXI_ROW)
#undef GXI_ROW
};
/* Arguments and their values; see >>impl-params. One allocation: this struct, the tables, the data aligned to 16. */
struct gxi_block {
    unsigned char  *data;
    const void    **addresses;                   /* of each argument's value, in data */
    unsigned short *sizes, *kinds;               /* kind: a gpuexec_type, or at least GXI_STRUCT */
    unsigned        count, room;                 /* number of arguments; capacity of the tables */
    size_t          bytes, space;                /* bytes used; capacity of data */
    size_t          base;                        /* offset at which the device's parameters begin: see gxi_block_fit */
    const char     *refused_at;                  /* the place where an argument could not be added ... */
    unsigned        refused_count;               /* ... after this many ... */
    gpuexec_result  refused;                     /* ... for this reason: the block is incomplete */
};
enum { GXI_TYPED = 1, GXI_OF_BLOCK = 2 };        /* gpuexec_args.typed */

/* The block that the arguments are from; NULL if it is closed or incomplete, or has changed since and may have moved
   them. */
static const gxi_block *gxi_block_of_args(const gpuexec_args *args) {
    const gxi_slot *slot = gxi_peek(args->block.id, GXI_PARAMS);
    const gxi_block *b = slot ? slot->is.params.info : NULL;
    if (!b || b->refused || b->addresses != args->addresses || b->sizes != args->sizes) return NULL;
    return b->count == args->count ? b : NULL;
}
static GXI_COLD gpuexec_result gxi_fail_refused(gxi_call *call, const gxi_block *b) {
    return gxi_fail(call, b->refused, "call gpuexec_params_clear, then add all arguments again",
                    "the parameter block is incomplete: argument %u (counted from 0) could not be added%s%s (%s); "
                    "the parameter block holds %u argument%s", b->refused_count, GXI_AT(b->refused_at),
                    gpuexec_result_name(b->refused), b->count, gxi_s(b->count));
}
/* The gpuexec_types of arguments; NULL if they are not known. */
static const unsigned short *gxi_types_of_args(const gpuexec_args *args) {
    const gxi_block *b = args->typed == GXI_OF_BLOCK ? gxi_block_of_args(args) : NULL;
    return b ? b->kinds : args->typed == GXI_TYPED && args->sizes ? args->sizes + args->count : NULL;
}
/* Whether one is a float, the other an integer. Half and bfloat16 have no parameter type in PTX; vectors are bytes. */
static int gxi_type_differs(unsigned type, unsigned parameter) {
    switch ((int)type) {
    case GPUEXEC_BOOL: case GPUEXEC_CHAR: case GPUEXEC_UCHAR: case GPUEXEC_SHORT: case GPUEXEC_USHORT: case GPUEXEC_INT:
    case GPUEXEC_UINT: case GPUEXEC_LONGLONG: case GPUEXEC_ULONGLONG: case GPUEXEC_POINTER: case GPUEXEC_TEXTURE:
    case GPUEXEC_SURFACE:
        return parameter == GPUEXEC_PARAMETER_FLOAT;
    case GPUEXEC_FLOAT: case GPUEXEC_DOUBLE:
        return parameter == GPUEXEC_PARAMETER_INTEGER || parameter == GPUEXEC_PARAMETER_POINTER;
    default: return 0;
    }
}
/* The additional checks for typed arguments, besides count, addresses and sizes. */
static GXI_NOINLINE int gxi_typed_args_fit(const unsigned short *known, const gpuexec_args *args) {
    const unsigned short *types;
    unsigned i;
    if (args->typed == GXI_OF_BLOCK && !gxi_block_of_args(args)) return 0;
    if (!known) return 1;
    if (args->count != known[0]) return 0;
    types = gxi_types_of_args(args);
    for (i = 0; types && i < args->count; i++)
        if (gxi_type_differs(types[i], known[1 + 2 * args->count + i])) return 0;
    return 1;
}
/* For arguments without types: typed ones do not fit. */
GXI_HOT int gxi_plain_args_fit(const unsigned short *known, const gpuexec_args *args) {
    const void *const *addresses = args->addresses;
    const uint64_t given = (uint64_t)args->typed << 32 | args->count;       /* one load: no extra instruction */
    const unsigned short *expected = known ? known + 1 : args->sizes, *sizes = args->sizes ? args->sizes : expected;
    const unsigned count = args->count;
    size_t i = count;                            /* counts down, by fours: fewer instructions */
    if ((known ? given != known[0] : args->typed) || (count && !addresses)) return 0;
    if (!sizes) { while (i--) if (!addresses[i]) return 0; }
    else {
        for (; i >= 4; i -= 4)
            if (!addresses[i - 1] || !addresses[i - 2] || !addresses[i - 3] || !addresses[i - 4] ||
                memcmp(sizes + i - 4, expected + i - 4, 4 * sizeof *sizes) != 0) return 0;
        while (i--) if (!addresses[i] || sizes[i] != expected[i]) return 0;
    }
    return 1;
}
static GXI_NOINLINE int gxi_args_fit(const unsigned short *known, const gpuexec_args *args) {
    gpuexec_args plain = *args;
    plain.typed = 0;
    return (!args->typed || gxi_typed_args_fit(known, args)) && gxi_plain_args_fit(known, &plain);
}
/* y and z of 0 mean 1; the code below the start of a launch sees them filled in */
static GXI_COLD void gxi_fill_dims(gpuexec_dims *d) {
    d->grid_y += !d->grid_y;
    d->grid_z += !d->grid_z;
    d->block_y += !d->block_y;
    d->block_z += !d->block_z;
}
GXI_HOT void gxi_config(gxi_launch_config *c, gpuexec_dims *d, void *stream) {
    if (GXI_UNLIKELY(!d->grid_y || !d->grid_z || !d->block_y || !d->block_z)) gxi_fill_dims(d);
    c->dims = *d;
    c->stream = (struct CUstream_st *)stream;
    c->attributes = NULL;
    c->count = 0;
}

/* The fast launch has no attributes, but cuLaunchKernelEx takes 1 % less time than cuLaunchKernel for the same launch
   (driver 580, see BENCHMARKS.md). */
static int GXI_CUDA gxi_launch_before_11_8(const gxi_launch_config *c, struct CUfunc_st *function, void **params,
                                           void **extra) {
    return gxi.cu.cuLaunchKernel(function, c->dims.grid_x, c->dims.grid_y, c->dims.grid_z, c->dims.block_x,
                                 c->dims.block_y, c->dims.block_z, c->dims.shared_bytes, c->stream, params, extra);
}
GXI_HOT int gxi_launch_straight(const gxi_launch_config *c, void *function, void **params, void **extra) {
    return (GXI_HAS(cuLaunchKernelEx) ? gxi.cu.cuLaunchKernelEx
            : gxi_launch_before_11_8)(c, (struct CUfunc_st *)function, params, extra);
}

/* --- launch attributes: the desc determines which driver call launches -------------------------------------------- */

enum { GXI_PLAIN, GXI_COOPERATIVE, GXI_EXTENDED };
static const gpuexec_launch_desc gxi_cooperative = { 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0 };
static const char *const gxi_launch_calls[] = { "cuLaunchKernel", "cuLaunchCooperativeKernel", "cuLaunchKernelEx" };

/* blocks of a cluster along that axis; 0: the desc requests no cluster */
static GXI_NOINLINE unsigned gxi_cluster(const gpuexec_launch_desc *desc, int axis) {
    if (!desc || !(desc->cluster_x || desc->cluster_y || desc->cluster_z)) return 0;
    return axis == 0 ? desc->cluster_x + !desc->cluster_x : axis == 1 ? desc->cluster_y + !desc->cluster_y
        : desc->cluster_z + !desc->cluster_z;
}
static uint64_t gxi_cluster_blocks(const gpuexec_launch_desc *desc) {
    return (uint64_t)gxi_cluster(desc, 0) * gxi_cluster(desc, 1) * gxi_cluster(desc, 2);
}
static int gxi_launch_way(const gpuexec_launch_desc *desc) {
    if (!desc) return GXI_PLAIN;
    if (gxi_cluster(desc, 0) || desc->has_priority || desc->programmatic || desc->memory_sync_domain)
        return GXI_EXTENDED;
    return desc->cooperative ? GXI_COOPERATIVE : GXI_PLAIN;
}
typedef struct gxi_extended { gxi_launch_config config; gxi_launch_attribute attributes[5]; } gxi_extended;
static const gxi_launch_config *gxi_extend(gxi_extended *e, const gxi_slot *stream, const gpuexec_dims *d,
                                           const gpuexec_launch_desc *desc) {
    gxi_launch_attribute *a = e->attributes;
    gxi_launch_config *c = &e->config;
    int i;
    memset(e, 0, sizeof *e);
    c->dims = *d;
    c->stream = stream ? stream->is.stream.native : NULL;
    if (gxi_cluster(desc, 0)) {
        for (i = 0; i < 3; i++) a->value.blocks[i] = gxi_cluster(desc, i);
        a++->id = GXI_LAUNCH_CLUSTER_DIMENSION;
    }
    if (desc->cooperative) {
        a->value.number = 1;
        a++->id = GXI_LAUNCH_COOPERATIVE;
    }
    if (desc->has_priority) {
        a->value.number = desc->priority;
        a++->id = GXI_LAUNCH_PRIORITY;
    }
    if (desc->programmatic) {
        a->value.number = 1;
        a++->id = GXI_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION;
    }
    if (desc->memory_sync_domain) {
        a->value.number = desc->memory_sync_domain;
        a++->id = GXI_LAUNCH_MEM_SYNC_DOMAIN;
    }
    c->attributes = e->attributes;
    c->count = (unsigned)(a - e->attributes);
    return c;
}
static int gxi_launch_cu(gxi_call *call, const gxi_slot *kernel, const gxi_slot *stream, const gpuexec_dims *d,
                         const gpuexec_args *args,
                         const gpuexec_launch_desc *desc) {
    struct CUfunc_st *const function = kernel->is.kernel.native;
    struct CUstream_st *const s = stream->is.stream.native;
    void **const params = (void **)(uintptr_t)args->addresses;
    const int way = gxi_launch_way(desc);
    gxi_extended e;
    int cu;
    if (way == GXI_EXTENDED) cu = gxi.cu.cuLaunchKernelEx(gxi_extend(&e, stream, d, desc), function, params, NULL);
    else if (way == GXI_PLAIN)
        cu = gxi.cu.cuLaunchKernel(function, d->grid_x, d->grid_y, d->grid_z, d->block_x, d->block_y, d->block_z,
                                   d->shared_bytes, s, params, NULL);
    else cu = gxi.cu.cuLaunchCooperativeKernel(function, d->grid_x, d->grid_y, d->grid_z, d->block_x, d->block_y,
                                               d->block_z, d->shared_bytes, s, params);
    return gxi_returned(call, gxi_launch_calls[way], cu,
                        GXI_NUMBERS(function, d->grid_x, d->grid_y, d->grid_z, d->block_x, d->block_y, d->block_z,
                                    d->shared_bytes, s, args->addresses));
}

/* --- explaining a refused launch ---------------------------------------------------------------------------------- */

static GXI_COLD gpuexec_result gxi_fail_args(gxi_call *call, const char *kernel, const unsigned short *known,
                                             const gpuexec_args *args) {
    static const char *const parameter_types[] = { "value", "integer", "float", "pointer", "value", "struct" };
    const unsigned short *types;
    const char *type = "value";
    unsigned i;
    if (args->typed == GXI_OF_BLOCK && !gxi_block_of_args(args)) {
        const gxi_slot *slot = gxi_peek(args->block.id, GXI_PARAMS);
        if (!slot)
            return gxi_fail_handle(call, args->block.id, GXI_PARAMS,
                                   "the parameter block that the arguments come from");
        if (slot->is.params.info->refused) return gxi_fail_refused(call, slot->is.params.info);
        return gxi_fail(call, GPUEXEC_BAD_PARAMETERS, "call gpuexec_params_args again before each launch",
                        "the parameter block passed to %s has changed: it had %u argument%s when gpuexec_params_args "
                        "was called, and has %d now", kernel, args->count, gxi_s(args->count),
                        gpuexec_params_count(args->block));
    }
    if (args->count && !args->addresses)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "args.addresses is NULL, but args.count is %u (%s)",
                        args->count, kernel);
    for (i = 0; i < args->count; i++)
        if (!args->addresses[i])
            return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "store the address of each argument's value in args.addresses",
                            "the address of argument %u (counted from 0) of %s is NULL", i, kernel);
    if (args->count != known[0]) {
        gxi_text sizes = { 0, 0, 0, 0 };
        gpuexec_result result;
        for (i = 0; i < known[0] && i < 32; i++) gxi_add(&sizes, "%s%u", i ? ", " : "", known[i + 1]);
        if (i < known[0]) gxi_add(&sizes, ", ...");
        result = gxi_fail(call, GPUEXEC_BAD_PARAMETERS, "pass one argument for each parameter, in order",
                          "%s takes %u parameter%s%s%s%s%s, but %u argument%s passed", kernel, known[0],
                          gxi_s(known[0]), known[0] ? " (of " : "", sizes.p ? sizes.p : "",
                          !known[0] ? "" : known[0] == 1 && known[1] == 1 ? " byte" : " bytes", known[0] ? ")" : "",
                          args->count, args->count == 1 ? " was" : "s were");
        gxi_text_free(&sizes);
        return result;
    }
    if (args->count == 0) return GPUEXEC_OK;                         /* then nothing can differ */
    for (i = 0; i < args->count && args->sizes[i] == known[i + 1]; i++) { }
    if (i == args->count) {
        types = gxi_types_of_args(args);
        for (i = 0; types && i + 1 < args->count; i++)
            if (gxi_type_differs(types[i], known[1 + 2 * args->count + i])) break;
        if (types && types[i] < GPUEXEC_TYPES) type = gxi_types[types[i]].name;
        return gxi_fail(call, GPUEXEC_BAD_PARAMETERS,
                        "pass a variable of the parameter's type: 1.0f is a float and 1 is an int; to pass a float's "
                        "bits as an integer, use a struct (gpuexec_params_add_struct)",
                        "argument %u (counted from 0) of %s is a%s %s, but the parameter is a%s %u-byte %s", i, kernel,
                        *type == 'i' || strncmp(type, "un", 2) == 0 ? "n" : "", type, known[i + 1] == 8 ? "n" : "",
                        known[i + 1], parameter_types[known[1 + 2 * args->count + i]]);
    }
    return gxi_fail(call, GPUEXEC_BAD_PARAMETERS,
                    known[i + 1] == 8 && args->sizes[i] != 8
                        ? "pass a variable of 8 bytes: gpuexec_ptr (for pointers), double and long long have 8 "
                          "bytes, int and float have 4"
                    : args->sizes[i] == 8 && known[i + 1] > 8
                        ? "pass the struct itself, not its address: kernels take structs by value"
                    : args->sizes[i] > 8 ||
                    known[i + 1] > 8 ? "give the struct the same layout on host and device: share one header, and "
                                       "check padding and vector types"
                    : args->sizes[i] == 8 && known[i + 1] == 4
                        ? "convert a size_t, long or double first: int, unsigned and float have 4 bytes"
                        : "pass a variable of exactly the parameter's type",
                    "argument %u (counted from 0) of %s has %u byte%s, but the parameter has %u", i, kernel,
                    args->sizes[i], gxi_s(args->sizes[i]), known[i + 1]);
}

/* Records the failure of a query that a check needs, unless the driver refused the launch: then that is reported. */
static void gxi_note_unless(gxi_call *call, int refused, const gxi_call *query, int cu) {
    if (!refused) gxi_said(call, query->driver_call, cu);
}
/* Checks clusters, from the desc or compiled into the kernel, against grid, device and kernel. */
static GXI_COLD gpuexec_result gxi_check_clusters(gxi_call *call, int refused, const gxi_slot *kernel,
                                                  const gpuexec_dims *d, const gpuexec_launch_desc *desc,
                                                  int device, int ordinal) {
    static const char axis[3] = { 'x', 'y', 'z' };
    static const int attributes[] = { GXI_FUNC_REQUIRED_CLUSTER_WIDTH, GXI_FUNC_REQUIRED_CLUSTER_WIDTH + 1,
                                      GXI_FUNC_REQUIRED_CLUSTER_WIDTH + 2,
                                      GXI_FUNC_CLUSTER_SIZE_MUST_BE_SET };
    const char *name = kernel->is.kernel.info->title;
    const int requested = gxi_cluster(desc, 0) != 0;
    const uint64_t blocks = gxi_cluster_blocks(desc);
    const unsigned grid[3] = { d->grid_x, d->grid_y, d->grid_z };
    unsigned cluster[3], own[3];
    gxi_call query = { call->function, NULL, GXI_QUERIES, 0, 0, 0, 0, 0 };
    gxi_extended e;
    gxi_scope scope;
    int i, values[4], most = 0, has = 0, capability;
    /* drivers before 11.8 do not have these attributes: 0 */
    const int cu = gxi_attributes(&query, device, kernel->is.kernel.native, attributes, requested ? 3 : 4, values),
        must = requested ? 0 : values[3];
    for (i = 0; i < 3; i++) {
        own[i] = (unsigned)values[i];
        cluster[i] = requested ? gxi_cluster(desc, i) : own[i];
    }
    if (cu) {
        gxi_note_unless(call, refused, &query, cu);
        return gxi_fail_cu(call, NULL, "cannot query the clusters of %s", name);
    }
    if (must && !own[0])
        return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "launch it with gpuexec_launch_with and desc.cluster_x",
                        "%s can only be launched with clusters", name);
    if (!cluster[0]) return GPUEXEC_OK;
    gxi_attribute(&query, device, GXI_DEV_CLUSTER_LAUNCH, &has);
    if (!has) {
        gxi_capability(&query, device, &capability);
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "launch without clusters on this device",
                        capability < 90
                        ? "clusters (%u x %u x %u blocks, %s) need compute capability 9.0, but "
                                    "device %d has %d.%d%s"
                                  : "clusters (%u x %u x %u blocks, %s) are not available on device %d: "
                                    "its compute capability is %d.%d, but the driver reports no support for clusters%s",
                        cluster[0], cluster[1], cluster[2], name, ordinal, capability / 10, capability % 10,
                        gxi_is_cpu_device()
                            ? " (it is the CPU device)" : "");
    }
    for (i = 0; i < 3; i++) {
        if (own[i] && cluster[i] != own[i])
            return gxi_fail(call, GPUEXEC_BAD_LAUNCH,
                            "set desc.cluster_x, cluster_y and cluster_z to 0 to use the kernel's clusters",
                            "%s was compiled for clusters of %u x %u x %u blocks, "
                            "but %u x %u x %u were requested", name, own[0], own[1], own[2],
                            cluster[0], cluster[1], cluster[2]);
        if (cluster[i] && grid[i] % cluster[i])
            return gxi_fail(call, GPUEXEC_BAD_LAUNCH,
                            "round the grid up to whole clusters, and let the kernel check its index",
                            "grid_%c is %u, which is not a multiple of the cluster's %u blocks (%s)",
                            axis[i],
                            grid[i], cluster[i], name);
    }
    if (blocks > 8 && !desc->non_portable_cluster)
        return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "use smaller clusters, or set desc.non_portable_cluster to 1",
                        "a cluster of %u x %u x %u has %llu blocks, "
                        "but at most 8 are supported on every device with clusters (%s)", cluster[0],
                        cluster[1], cluster[2], (unsigned long long)blocks, name);
    if (!requested || !GXI_HAS(cuOccupancyMaxPotentialClusterSize) || gxi_enter(&query, kernel->cu_context, &scope))
        return GPUEXEC_OK;
    GXI_BESIDE(cuOccupancyMaxPotentialClusterSize, (&most, kernel->is.kernel.native, gxi_extend(&e, NULL, d, desc)));
    gxi_leave(&scope);
    if (most > 0 && blocks > (unsigned)most)
        return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "use smaller clusters, smaller blocks or less shared memory",
                        "a cluster of %u x %u x %u has %llu blocks, "
                        "but at most %d blocks of this size of %s fit into a cluster on device %d", cluster[0],
                        cluster[1], cluster[2], (unsigned long long)blocks, most, name, ordinal);
    return GPUEXEC_OK;
}

/* Checks grid, block, shared memory and clusters against the limits of device and kernel. The driver does so at each
   launch, but does not report which limit was exceeded: so this runs only after it has refused, and when a launch is
   prepared. */
static GXI_COLD gpuexec_result gxi_check_launch(gxi_call *call, int refused, const gxi_slot *kernel,
                                                const gpuexec_dims *d, const gpuexec_launch_desc *desc) {
    static const char axis[3] = { 'x', 'y', 'z' };
    static const int of_device[] = { GXI_DEV_MAX_THREADS_PER_BLOCK, GXI_DEV_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                     GXI_DEV_MAX_REGISTERS_PER_BLOCK,
                                     GXI_DEV_MAX_BLOCK_DIM_X, GXI_DEV_MAX_BLOCK_DIM_X + 1, GXI_DEV_MAX_BLOCK_DIM_X + 2,
                                     GXI_DEV_MAX_GRID_DIM_X, GXI_DEV_MAX_GRID_DIM_X + 1, GXI_DEV_MAX_GRID_DIM_X + 2 };
    static const int of_kernel[] = { GXI_FUNC_MAX_THREADS_PER_BLOCK, GXI_FUNC_SHARED_SIZE_BYTES, GXI_FUNC_NUM_REGS };
    const char *name = kernel->is.kernel.info->title;
    gxi_call query = { call->function, NULL, GXI_QUERIES, 0, 0, 0, 0, 0 };
    gxi_slot *context = gxi_peek(kernel->context, GXI_CONTEXT);
    const int device = context ? gxi_context_of(context)->device : 0, ordinal = gxi_ordinal_of(kernel);
    const unsigned grid[3] = { d->grid_x, d->grid_y, d->grid_z }, block[3] = { d->block_x, d->block_y, d->block_z };
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    int limits[9], own[3], cu = gxi_attributes(&query, device, kernel->is.kernel.native, of_kernel, 3, own), i;
    const int *const block_most = limits + 3, *const grid_most = limits + 6;
    const gpuexec_result r = GPUEXEC_BAD_LAUNCH;
    memset(limits, 0, sizeof limits);
    if (cu == 0) cu = gxi_attributes(&query, device, NULL, of_device, 9, limits);
    if (cu || limits[0] <= 0 || own[0] <= 0) {
        gxi_note_unless(call, refused, &query, cu ? cu : GXI_INVALID_HANDLE);
        return gxi_fail_cu(call, NULL, "cannot launch %s: the driver does not report the "
                           "limits of the kernel or the device", name);
    }
    if (block[0] == 0)
        return gxi_fail(call, r, "set dims.block_x, for example to 256", "the block of %s is empty: block_x is 0",
                        name);
    if (grid[0] == 0)
        return gxi_fail(call, r,
                        "do not launch if there is nothing to do (gpuexec_grid_for(0, ...) returns an empty grid)",
                        "the grid of %s is empty: grid_x is 0", name);
    for (i = 0; i < 3; i++) {
        if (block[i] > (unsigned)block_most[i])
            return gxi_fail(call, r, "make the block smaller and the grid larger",
                            "block_%c is %u, but device %d allows at most %d (%s)", axis[i], block[i],
                            ordinal, block_most[i], name);
    }
    if (threads > (unsigned)limits[0])
        return gxi_fail(call, r, grid[0] <= (unsigned)limits[0] && grid[1] == 1 && grid[2] == 1
                        ? "make the block smaller and the grid larger; check that blocks and threads are not swapped "
                          "(gpuexec_grid takes blocks first)"
                        : "make the block smaller and the grid larger",
                        "a block of %u x %u x %u has %llu threads, but device %d allows at most %d (%s)",
                        block[0], block[1], block[2], (unsigned long long)threads, ordinal, limits[0], name);
    for (i = 0; i < 3; i++) {
        if (grid[i] > (unsigned)grid_most[i])
            return gxi_fail(call, r,
                            i ? "put the longest dimension on x, which allows the most blocks"
                              : "let each thread process several elements in a loop; check that no count is negative",
                            "grid_%c is %u, but device %d allows at most %d (%s)", axis[i], grid[i], ordinal,
                            grid_most[i], name);
    }
    if ((uint64_t)d->shared_bytes + (uint64_t)own[1] > (uint64_t)limits[1])
        return gxi_fail(call, r, "use less shared memory per block",
                        "%s needs %llu bytes of shared memory per block (%d static and %u "
                        "dynamic), but device %d has "
                        "at most %d",
                        name, (unsigned long long)d->shared_bytes + (unsigned)own[1], own[1], d->shared_bytes, ordinal,
                        limits[1]);
    if (threads > (unsigned)own[0])
        return gxi_fail(call, r,
                        "use smaller blocks, or compile the kernel for larger ones: its __launch_bounds__ (.maxntid) "
                        "or its registers limit them",
                        "a block of %u x %u x %u has %llu threads, "
                        "but %s can run with at most %d (%d registers per "
                        "thread, %d per block on device %d)",
                        block[0], block[1], block[2], (unsigned long long)threads, name, own[0], own[2], limits[2],
                        ordinal);
    return gxi_check_clusters(call, refused, kernel, d, desc, device, ordinal);
}

/* Explains why the driver refused a launch. */
static GXI_COLD gpuexec_result gxi_fail_launch(gxi_call *call, int cu, const gxi_slot *kernel, const gpuexec_dims *d,
                                               const gpuexec_args *args,
                                               const gpuexec_launch_desc *desc) {
    const char *name = kernel->is.kernel.info->title;
    const uint64_t threads = (uint64_t)d->block_x * d->block_y * d->block_z;
    gpuexec_result r = gxi_check_launch(call, cu, kernel, d, desc);
    if (r) return r;
    r = GPUEXEC_BAD_LAUNCH;
    if (cu == GXI_COOPERATIVE_TOO_LARGE) {
        gpuexec_kernel handle;
        handle.id = kernel->id;
        return gxi_fail(call, r, "use fewer blocks, and let each thread process several elements in a loop",
                        "a cooperative grid of %llu blocks does not fit on device %d: at most %d blocks of %s (%llu "
                        "threads, %u bytes of dynamic shared memory) "
                        "can be resident",
                        (unsigned long long)d->grid_x * d->grid_y * d->grid_z, gxi_ordinal_of(kernel),
                        gpuexec_kernel_cooperative_blocks(handle, (unsigned)threads, d->shared_bytes), name,
                        (unsigned long long)threads, d->shared_bytes);
    }
    if (gxi_result_of(cu) != GPUEXEC_BAD_ARGUMENT) r = gxi_result_of(cu);
    return gxi_fail_unexplained(call, r,
                    cu == GXI_INVALID_VALUE
                    ? "if the kernel has a .reqntid or __block_size__, launch it with exactly that block size; "
                                                    "check the arguments' addresses"
                                                  : NULL,
                    "cannot launch %s with %u x %u x %u blocks of %u x %u x %u threads, "
                    "%u bytes of dynamic shared "
                    "memory and %u argument%s",
                    name, d->grid_x, d->grid_y, d->grid_z, d->block_x, d->block_y, d->block_z, d->shared_bytes,
                    args->count, args->count == 1 ? "" : "s");
}

static GXI_COLD gpuexec_result gxi_fail_contexts(gxi_call *call, const char *cure, const gxi_slot *k,
                                                 const gxi_slot *s) {
    return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, cure,
                    "%s is on device %d (context %p), but the stream is on device %d (context %p)",
                    gxi_kernel_of(k)->title, gxi_ordinal_of(k), (void *)k->cu_context, gxi_ordinal_of(s),
                    (void *)s->cu_context);
}
/* The checks of every launch before the driver: handles, one context, the arguments. 0 after a failure. */
static GXI_COLD int gxi_find_launch(gxi_call *call, gpuexec_kernel kernel, gpuexec_stream stream,
                                   const gpuexec_args *args, gxi_slot **k, gxi_slot **s) {
    if (!(*k = gxi_find_kernel(call, kernel))) return 0;
    *s = gxi_peek(stream.id, GXI_STREAM);       /* in the kernel's context, which was just checked */
    if ((!*s || (*s)->context != (*k)->context) && !(*s = gxi_find_stream(call, stream))) return 0;
    if ((*k)->cu_context != (*s)->cu_context)
        gxi_fail_contexts(call, "use a stream of the kernel's context, or load the module into the stream's context",
                                *k, *s);
    else if (!gxi_args_fit((*k)->is.kernel.sizes, args))
        gxi_fail_args(call, gxi_kernel_of(*k)->title, (*k)->is.kernel.sizes, args);
    else return 1;
    return 0;
}

/* Checks that this driver takes the attributes, before anything is launched or prepared with them. */
static GXI_COLD gpuexec_result gxi_check_attributes(gxi_call *call, const gxi_slot *k,
                                                    const gpuexec_launch_desc *desc) {
    if (gxi_launch_way(desc) == GXI_EXTENDED && !GXI_HAS(cuLaunchKernelEx))
        return gxi_fail(call, GPUEXEC_OLD_DRIVER,
                        "install a newer NVIDIA driver, or set clusters, priority, programmatic and "
                        "memory_sync_domain to 0",
                        "launch attributes (cuLaunchKernelEx, %s) need a driver for CUDA 11.8 or later; this driver "
                        "supports CUDA %d.%d",
                        gxi_kernel_of(k)->title, gxi.version / 1000, gxi.version % 1000 / 10);
    if (desc && (desc->memory_sync_domain < 0 || desc->memory_sync_domain > 1))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                        "memory_sync_domain is %d; it must be 0 (the stream's domain) or 1 (the remote domain)",
                        desc->memory_sync_domain);
    return GPUEXEC_OK;
}
/* Lets the kernel have clusters of more than 8 blocks if the desc does. Returns the CUresult. */
static int gxi_allow_cluster(gxi_call *call, const gxi_slot *k, const gpuexec_launch_desc *desc) {
    if (!desc || gxi_cluster_blocks(desc) <= 8 || !desc->non_portable_cluster) return GXI_SUCCESS;
    return GXI_TRY(cuFuncSetAttribute, (k->is.kernel.native, GXI_FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
}

/* cu: what the driver returned from the fast path, -1 if that was not tried. */
static GXI_COLD gpuexec_result gxi_launch_else(const char *function, const char *where,
                                               gpuexec_kernel kernel, gpuexec_stream stream, const gpuexec_dims *given,
                                               const gpuexec_args *args, int cu, const gpuexec_launch_desc *desc) {
    const int way = cu < 0 ? gxi_launch_way(desc) : GXI_HAS(cuLaunchKernelEx) ? GXI_EXTENDED : GXI_PLAIN,
        straight = cu >= 0;
    gpuexec_dims dims = *given;
    gxi_slot *k, *s;
    gxi_scope scope;
    GXI_CALL_ON(stream, gpuexec_launch);
    call->function = function;
    gxi_fill_dims(&dims);
    if (desc && gxi_check_desc(call, "gpuexec_launch_desc", desc->start_canary, desc->end_canary))
        return GPUEXEC_BAD_ARGUMENT;
    if (gxi_begin(call)) return gxi_failed_with();
    if (stream.id == GXI_CURRENT) {
        if (!(k = gxi_find_kernel(call, kernel))) return gxi_failed_with();
        if (!(call->stream = stream.id = gxi_current_stream(call, k->context))) return gxi_failed_with();
    }
    if (!gxi_find_launch(call, kernel, stream, args, &k, &s)) return gxi_failed_with();
    if (gxi_check_attributes(call, k, desc)) return gxi_failed_with();
    gxi_said(call, gxi_launch_calls[way], straight ? cu : 0);
    if (!straight) {
        cu = gxi_raise_shared(call, k, dims.shared_bytes);
        if (cu == 0) cu = gxi_allow_cluster(call, k, desc);
        if (cu) return gxi_fail_launch(call, cu, k, &dims, args, desc);
        if (gxi_enter_stream(call, s, &scope)) return gxi_failed_with();
        gxi_note_launch(s, kernel.id, where);
        cu = gxi_launch_cu(call, k, s, &dims, args, desc);
        gxi_leave(&scope);
    }
    if (cu == 0) return GPUEXEC_OK;
    return gxi_is_sticky(cu) || cu == GXI_NOT_INITIALIZED
               ? gxi_fail_cu(call, NULL, "cannot launch %s", k->is.kernel.info->title)
               : gxi_fail_launch(call, cu, k, &dims, args, desc);
}

/* Typed arguments that fit are launched like arguments without types. */
static GXI_NOINLINE gpuexec_result gxi_launch_typed(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                    const gpuexec_dims *d, const gpuexec_args *args) {
    const gxi_slot *k = gxi_peek(kernel.id, GXI_KERNEL);
    gpuexec_args plain = *args;
    if (k && stream.id == GXI_CURRENT) gxi_use_make(k->context);     /* the next launch takes the fast path */
    if (!k || !args->typed || !gxi_typed_args_fit(k->is.kernel.sizes, args))
        return gxi_launch_else("gpuexec_launch", where, kernel, stream, d, args, -1, NULL);
    plain.typed = 0;
    return gpuexec_launch_at(where, kernel, stream, *d, plain);
}
GPUEXEC_API gpuexec_result gpuexec_launch_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                             gpuexec_dims dims,
                                           gpuexec_args args) {
    const gxi_slot *k;
    gxi_slot *s;
    gxi_launch_config config;
    int cu;
    if (!(k = gxi_peek_inline(kernel.id, GXI_KERNEL)) || dims.shared_bytes > GXI_LOAD(&k->of.shared_limit) ||
        !gxi_plain_args_fit(k->is.kernel.sizes, &args) ||
        !(s = GXI_UNLIKELY(stream.id == GXI_CURRENT) ? gxi_current_in(k->context)
                                                     : gxi_peek_inline(stream.id, GXI_STREAM)) ||
        k->cu_context != s->cu_context || s->legacy || s->borrowed || gxi_thread.latched || gxi.trace)
        return gxi_launch_typed(where, kernel, stream, &dims, &args);
    gxi_note_launch(s, kernel.id, where);
    gxi_config(&config, &dims, s->is.stream.native);
    cu = gxi_launch_straight(&config, k->is.kernel.native, (void **)(uintptr_t)args.addresses, NULL);
    if (cu == 0) return GPUEXEC_OK;
    /* read back, because keeping it would cost the fast path registers to save; the same for where */
    kernel.id = k->id;
    stream.id = s->id;
    return gxi_launch_else("gpuexec_launch", s->is.stream.last_where, kernel, stream, &dims, &args, cu, NULL);
}

GPUEXEC_API gpuexec_result gpuexec_launch_cooperative_at(const char *where, gpuexec_kernel kernel,
                                                         gpuexec_stream stream, gpuexec_dims dims,
                                                        gpuexec_args args) {
    return gxi_launch_else("gpuexec_launch_cooperative", where, kernel, stream, &dims, &args, -1, &gxi_cooperative);
}

GPUEXEC_API gpuexec_result gpuexec_launch_with_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                  gpuexec_dims dims,
                                                 const gpuexec_launch_desc *desc, gpuexec_args args) {
    return gxi_launch_else("gpuexec_launch_with", where, kernel, stream, &dims, &args, -1, desc);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-params   Parameter blocks and prepared launches each hold their arguments in a gxi_block. A prepared launch
   takes the fast path as long as no kernel or stream was closed since it last looked its own up (gxi.ends): one
   comparison instead of two look-ups. */

enum { GXI_MOST_BYTES = 32764,
       GXI_STRUCT = 256 /* kinds from here on: a struct of alignment 1 << (kind - GXI_STRUCT) */ };

static size_t gxi_up(size_t at, size_t alignment) { return (at + alignment - 1) / alignment * alignment; }

/* A block with the contents of `old`, or empty, after `head` bytes that the block is the first part of. NULL: no
   memory. */
static void *gxi_block_new(size_t head, unsigned room, size_t space, const gxi_block *old) {
    const size_t addresses = gxi_up(head, 16), sizes = addresses + room * sizeof(void *),
                 data = gxi_up(sizes + room * 2 * sizeof(short), 16);
    char *p = (char *)gxi_realloc(NULL, data + space);
    gxi_block *b = (gxi_block *)(void *)p;
    unsigned i;
    if (!p) return NULL;
    memset(p, 0, data + space);
    b->addresses = (const void **)(void *)(p + addresses);
    b->sizes = (unsigned short *)(void *)(p + sizes);
    b->kinds = b->sizes + room;
    b->data = (unsigned char *)p + data;
    b->room = room;
    b->space = space;
    if (!old) return p;
    for (i = 0; i < old->count; i++) b->addresses[i] = b->data + ((const unsigned char *)old->addresses[i] - old->data);
    memcpy(b->sizes, old->sizes, old->count * sizeof *b->sizes);
    memcpy(b->kinds, old->kinds, old->count * sizeof *b->kinds);
    memcpy(b->data, old->data, old->bytes);
    b->count = old->count;
    b->bytes = old->bytes;
    b->base = old->base;
    b->refused = old->refused;
    b->refused_at = old->refused_at;
    b->refused_count = old->refused_count;
    return p;
}

static size_t gxi_block_place(const gxi_block *b, size_t bytes, size_t alignment) {
    return gxi_up(b->base + bytes, alignment) - b->base;
}

/* The caller has made sure that there is room. */
static void gxi_block_add(gxi_block *b, const void *value, size_t bytes, size_t alignment, unsigned kind) {
    size_t at = gxi_block_place(b, b->bytes, alignment);
    memcpy(b->data + at, value, bytes);
    b->addresses[b->count] = b->data + at;
    b->sizes[b->count] = (unsigned short)bytes;
    b->kinds[b->count++] = (unsigned short)kind;
    b->bytes = at + bytes;
}
static gpuexec_args gxi_block_args(const gxi_block *b) {
    gpuexec_args args = { 0, 0, 0, 0, { 0 } };
    args.addresses = b->addresses;
    args.sizes = b->sizes;
    args.count = b->count;
    return args;
}

static int gxi_block_offset(const gxi_block *b, unsigned index) {
    return (int)((const unsigned char *)b->addresses[index] - b->data);
}

/* --- parameter blocks --------------------------------------------------------------------------------------------- */

GPUEXEC_API gpuexec_params gpuexec_params_create_at(const char *where) {
    gpuexec_params handle = { 0 };
    gxi_slot made;
    GXI_CALL(gpuexec_params_create, GXI_MAKES);
    memset(&made, 0, sizeof made);
    made.is.params.info = (gxi_block *)gxi_block_new(sizeof(gxi_block), 16, 256, NULL);
    if (!made.is.params.info) gxi_fail_memory(call, "create a parameter block");
    else {
        handle.id = gxi_new(call, GXI_PARAMS, &made, &gxi.first[GXI_PARAMS]);
        if (handle.id) return handle;
        gxi_free(made.is.params.info);
    }
    handle.id = gxi_failed_id(GXI_PARAMS);
    return handle;
}

static gxi_slot *gxi_find_params(gxi_call *call, gpuexec_params params) {
    return gxi_get(call, params.id, GXI_PARAMS, "the parameter block");
}

static gxi_block *gxi_block_of(const gxi_slot *slot) { return slot->is.params.info; }
static int gxi_params_end(gxi_call *call, gxi_slot *old) {
    (void)call;
    gxi_free(old->is.params.info);
    return 0;
}

/* The result of adding an argument: the block remembers that one is missing. */
static gpuexec_result gxi_params_added(const gxi_call *call, gpuexec_params params, gpuexec_result result) {
    gxi_slot *slot = result ? gxi_peek(params.id, GXI_PARAMS) : NULL;
    gxi_block *b = slot ? gxi_block_of(slot) : NULL;
    if (b && !b->refused) {
        b->refused = result;
        b->refused_at = call->where;
        b->refused_count = b->count;
    }
    return result;
}
static gpuexec_result gxi_params_append(gxi_call *call, gpuexec_params params, const void *value, size_t bytes,
                                        size_t alignment, unsigned kind) {
    gxi_slot *slot = gxi_find_params(call, params);
    gxi_block *b;
    size_t end = 0;
    if (!slot) return gxi_failed_with();
    b = gxi_block_of(slot);
    if (!value) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                                "the address of the value of argument %u (counted from 0) is NULL", b->count);
    if (bytes > GXI_MOST_BYTES || (end = gxi_block_place(b, b->bytes, alignment) + bytes) > GXI_MOST_BYTES)
        return gxi_fail(call, GPUEXEC_BAD_PARAMETERS, "put large data into device memory and pass its address",
                        "argument %u (counted from 0) is %llu byte%s long and does not fit: a kernel's parameters are "
                        "limited to %d bytes, and the arguments before it take %llu",
                        b->count, (unsigned long long)bytes,
                        gxi_s(bytes), GXI_MOST_BYTES, (unsigned long long)b->bytes);
    if (b->count == b->room || end > b->space) {
        gxi_block *larger = (gxi_block *)gxi_block_new(sizeof *b, b->count == b->room ? b->room * 2 : b->room,
                                                       end > b->space ? end * 2 : b->space, b);
        if (!larger) return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL,
                                     "out of host memory: cannot add argument %u (counted from 0) to a parameter "
                                     "block", b->count);
        gxi_block_add(larger, value, bytes, alignment, kind);        /* value may be in the old one */
        slot->is.params.info = larger;
        gxi_free(b);
    } else gxi_block_add(b, value, bytes, alignment, kind);
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_params_add_at(const char *where, gpuexec_params params, gpuexec_type type,
                                                 const void *value) {
    GXI_CALL(gpuexec_params_add, GXI_MAKES);
    if ((int)type <= 0 || (int)type >= GPUEXEC_TYPES)
        return gxi_params_added(call, params, gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                                                       "for a struct, use gpuexec_params_add_struct",
                                                       "%d is not a gpuexec_type", (int)type));
    return gxi_params_added(call, params, gxi_params_append(call, params, value, gxi_types[type].bytes,
                                                            gxi_types[type].alignment, (unsigned)type));
}
static gpuexec_result gxi_params_append_struct(gxi_call *call, gpuexec_params params, const void *value, size_t bytes,
                                               size_t alignment) {
    unsigned kind = GXI_STRUCT;
    if (!alignment || (alignment & (alignment - 1)))
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT,
                        "pass the alignment of the struct's most aligned member in device code",
                        "the alignment %llu of a struct of %llu bytes is not a power of two",
                        (unsigned long long)alignment, (unsigned long long)bytes);
    if (!bytes || bytes % alignment)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "include the padding after the last member: pass the sizeof of "
                        "a type with the device's layout", "a struct of %llu bytes cannot be aligned to %llu: its "
                        "size is not a multiple of %llu", (unsigned long long)bytes, (unsigned long long)alignment,
                        (unsigned long long)alignment);
    while ((size_t)1 << (kind - GXI_STRUCT) < alignment) kind++;
    return gxi_params_append(call, params, value, bytes, alignment, kind);
}
GPUEXEC_API gpuexec_result gpuexec_params_add_struct_at(const char *where, gpuexec_params params, const void *value,
                                                       size_t bytes, size_t alignment) {
    GXI_CALL(gpuexec_params_add_struct, GXI_MAKES);
    return gxi_params_added(call, params, gxi_params_append_struct(call, params, value, bytes, alignment));
}
GPUEXEC_API int gpuexec_params_count(gpuexec_params params) {
    const gxi_slot *slot = gxi_queried("gpuexec_params_count", params.id, GXI_PARAMS, "the parameter block");
    return slot ? (int)gxi_block_of(slot)->count : -1;
}
GPUEXEC_API int gpuexec_params_offset(gpuexec_params params, int index) {
    const gxi_slot *slot = gxi_queried("gpuexec_params_offset", params.id, GXI_PARAMS, "the parameter block");
    return slot && index >= 0 && (unsigned)index < gxi_block_of(slot)->count
        ? gxi_block_offset(gxi_block_of(slot), (unsigned)index) : -1;
}
GPUEXEC_API void *gpuexec_params_data_at(const char *where, gpuexec_params params, size_t *bytes) {
    GXI_CALL(gpuexec_params_data, GXI_MAKES);
    gxi_slot *slot = gxi_find_params(call, params);
    if (bytes) *bytes = 0;
    if (!slot) return NULL;
    if (gxi_block_of(slot)->refused) {
        gxi_fail_refused(call, gxi_block_of(slot));
        return NULL;
    }
    if (bytes) *bytes = gxi_block_of(slot)->bytes;
    return gxi_block_of(slot)->data;
}
GPUEXEC_API gpuexec_args gpuexec_params_args_at(const char *where, gpuexec_params params) {
    gpuexec_args args = { 0, 0, 0, 0, { 0 } };
    GXI_CALL(gpuexec_params_args, GXI_MAKES);
    gxi_slot *slot = gxi_find_params(call, params);
    if (slot && gxi_block_of(slot)->refused) gxi_fail_refused(call, gxi_block_of(slot));
    else if (slot) args = gxi_block_args(gxi_block_of(slot));
    args.typed = GXI_OF_BLOCK;                   /* a launch looks the block up again, even if it is closed now */
    args.block = params;
    return args;
}

/* The maximum size of the kernel's parameters in bytes. More than 4,096 need sm_70 and PTX 8.1, which the driver
   supports from CUDA 12.1. */
static int gxi_most_bytes(const gxi_call *call, const gxi_slot *kernel) {
    int binary = 0;
    if (gxi.version < 12010 ||
        GXI_BESIDE(cuFuncGetAttribute, (&binary, GXI_FUNC_BINARY_VERSION, kernel->is.kernel.native))) return 4096;
    return binary < 70 ? 4096 : GXI_MOST_BYTES;
}
static GXI_COLD gpuexec_result gxi_fail_layout(gxi_call *call, const gxi_slot *kernel, const gxi_block *b, unsigned i) {
    const char *name = kernel->is.kernel.info->title;
    const unsigned bytes = kernel->is.kernel.sizes[i + 1],
                   offset = kernel->is.kernel.sizes[kernel->is.kernel.sizes[0] + i + 1], kind = b->kinds[i];
    char type[32];
    if (kind < GXI_STRUCT) snprintf(type, sizeof type, "%s", gxi_types[kind].name);
    else snprintf(type, sizeof type, "a struct aligned to %u", 1u << (kind - GXI_STRUCT));
    return gxi_fail(call, GPUEXEC_BAD_PARAMETERS,
                    b->sizes[i] != bytes   ? "add the type that the kernel declares: the sizes differ"
                    : kind >= GXI_STRUCT
                    ? "pass the alignment of the struct's most aligned member in device code"
                                           : "add the type that the kernel declares (a struct with "
                                             "gpuexec_params_add_struct): the alignments differ",
                    "parameter %u (counted from 0) of %s has %u byte%s at offset %u, but the argument (%s) has %u at "
                    "offset %d", i, name, bytes, gxi_s(bytes), offset, type, b->sizes[i], gxi_block_offset(b, i));
}

static size_t gxi_kind_alignment(unsigned kind) {
    return kind < GXI_STRUCT ? gxi_types[kind].alignment : (size_t)1 << (kind - GXI_STRUCT);
}

/* Parameters begin at offset 0x160 of the constant bank (sm_70 to sm_89), 0x210 (sm_90) or 0x380 (sm_100), and the
   compiler aligns them from the start of the bank: with an alignment above 16, their offsets depend on the device. Lays
   out the block with these offsets. Returns 0 if that is impossible, -1 without memory. */
static int gxi_block_fit(gxi_slot *slot, const unsigned short *offsets) {
    gxi_block like, *b = gxi_block_of(slot), *fitted;
    size_t most = 16;
    unsigned i;
    for (i = 0; i < b->count; i++) if (gxi_kind_alignment(b->kinds[i]) > most) most = gxi_kind_alignment(b->kinds[i]);
    for (like = *b, like.base = 0; like.base < most; like.base += 16) {
        for (like.bytes = 0, i = 0; i < b->count; i++) {
            like.bytes = gxi_block_place(&like, like.bytes, gxi_kind_alignment(b->kinds[i]));
            if (like.bytes != offsets[i]) break;
            like.bytes += b->sizes[i];
        }
        if (i == b->count) break;
    }
    if (like.base >= most) return 0;
    if (like.base == b->base || b->count == 0) return 1;
    fitted = (gxi_block *)gxi_block_new(sizeof *fitted, b->room, like.bytes > b->space ? like.bytes : b->space, NULL);
    if (!fitted) return -1;
    fitted->base = like.base;
    for (i = 0; i < b->count; i++)
        gxi_block_add(fitted, b->addresses[i], b->sizes[i], gxi_kind_alignment(b->kinds[i]), b->kinds[i]);
    slot->is.params.info = fitted;
    gxi_free(b);
    return 1;
}
GPUEXEC_API gpuexec_result gpuexec_params_check_at(const char *where, gpuexec_params params, gpuexec_kernel kernel) {
    gxi_slot *slot, *k;
    gxi_block *b;
    gpuexec_args args;
    const char *name;
    unsigned i;
    int most, fits;
    GXI_CALL(gpuexec_params_check, GXI_QUERIES);
    if (!(slot = gxi_find_params(call, params)) || gxi_begin(call) || !(k = gxi_find_kernel(call, kernel)))
        return gxi_failed_with();
    b = gxi_block_of(slot);
    if (b->refused) return gxi_fail_refused(call, b);
    args = gxi_block_args(b);
    args.typed = GXI_OF_BLOCK;
    args.block = params;
    name = k->is.kernel.info->title;
    if (!k->is.kernel.sizes || k->is.kernel.sizes[0] != b->count) {
        most = gxi_most_bytes(call, k);
        if (b->bytes > (size_t)most)
            return gxi_fail(call, GPUEXEC_BAD_PARAMETERS, "put large data into device memory and pass its address; "
                            "larger parameters need a driver for CUDA 12.1 or later, PTX 8.1 and sm_70",
                            "the block has %llu bytes, but the parameters of %s are limited to %d",
                            (unsigned long long)b->bytes, name, most);
        if (k->is.kernel.sizes) return gxi_fail_args(call, name, k->is.kernel.sizes, &args);
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "load PTX instead of a cubin, or install a driver for CUDA 12.4 "
                                                     "or later",
                        "the parameters of %s are not known, so the block cannot be checked", name);
    }
    for (i = 0; i < b->count; i++) {
        if (b->sizes[i] != k->is.kernel.sizes[i + 1]) return gxi_fail_layout(call, k, b, i);
        if (!GXI_HAS(cuFuncGetParamInfo) && gxi_kind_alignment(b->kinds[i]) > 16)
            return gxi_fail(call, GPUEXEC_NOT_SUPPORTED,
                            "install a driver for CUDA 12.4 or later; launches with gpuexec_params_args do not "
                            "depend on it",
                            "argument %u (counted from 0) of %s is aligned to %u: this driver (CUDA %d.%d) does not "
                            "report its device offset", i, name,
                            (unsigned)gxi_kind_alignment(b->kinds[i]), gxi.version / 1000, gxi.version % 1000 / 10);
    }
    if (!gxi_typed_args_fit(k->is.kernel.sizes, &args)) return gxi_fail_args(call, name, k->is.kernel.sizes, &args);
    fits = gxi_block_fit(slot, k->is.kernel.sizes + b->count + 1);
    if (fits < 0)
        return gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot change the layout of a "
                                                                "parameter block");
    for (i = 0; !fits && i < b->count; i++)
        if (gxi_block_offset(b, i) != k->is.kernel.sizes[b->count + i + 1]) return gxi_fail_layout(call, k, b, i);
    return GPUEXEC_OK;
}

GPUEXEC_API gpuexec_result gpuexec_params_clear_at(const char *where, gpuexec_params params) {
    GXI_CALL(gpuexec_params_clear, GXI_MAKES);
    gxi_slot *slot = gxi_find_params(call, params);
    gxi_block *b;
    if (!slot) return gxi_failed_with();
    b = gxi_block_of(slot);
    memset(b->data, 0, b->bytes);                /* padding is 0 */
    b->bytes = b->base = b->count = 0;
    b->refused = GPUEXEC_OK;
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_params_destroy_at(const char *where, gpuexec_params params) {
    GXI_CALL(gpuexec_params_destroy, GXI_CLEANS);
    return gxi_destroy_handle(call, params.id, GXI_PARAMS, "the parameter block");
}

/* --- prepared launches -------------------------------------------------------------------------------------------- */

struct gxi_prepared {
    gxi_block       block;                       /* the arguments; must be first */
    gpuexec_kernel  kernel;
    gpuexec_stream  stream;
    const char     *name, *module;               /* of the kernel, kept for when it is closed; module: "" for an
                                                    adopted kernel */
    gxi_slot       *on;                          /* the stream's slot */
    gpuexec_launch_desc desc;                    /* all zero: no attributes */
    gxi_extended    launch;                      /* what cuLaunchKernelEx takes */
    void          **params, **extra;             /* one of them is NULL: the driver takes a packed buffer faster
                                                    than addresses */
    void           *packed[5];                   /* the buffer that extra points to */
    uint64_t        ends;                        /* gxi.ends when kernel and stream were last found open; GXI_LOOK if
                                                    each launch must look them up */
};
#define GXI_LOOK UINT64_MAX

static gxi_slot *gxi_find_prepared(gxi_call *call, gpuexec_prepared prepared) {
    return gxi_get(call, prepared.id, GXI_PREPARED, "the prepared launch");
}

static gxi_prepared *gxi_prepared_of(const gxi_slot *slot) { return slot->is.prepared.info; }
static int gxi_prepared_end(gxi_call *call, gxi_slot *old) {
    (void)call;
    gxi_free(old->is.prepared.info);
    return 0;
}

static gpuexec_result gxi_prepared_lives(gxi_call *call, const gxi_slot *slot) {
    const gxi_prepared *p = gxi_prepared_of(slot);
    const int kernel = gxi_peek(p->kernel.id, GXI_KERNEL) != NULL;
    if (kernel && gxi_peek(p->stream.id, GXI_STREAM)) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_STALE_HANDLE,
                    kernel ? "prepare it again with gpuexec_prepare, on an open stream"
                           : "prepare it again with gpuexec_prepare, with the kernel from the module loaded now",
                    "the launch of %s%s%s prepared at %s is stale: %s", p->name,
                    *p->module ? " of " : "", p->module, gxi_place(slot->where),
                    kernel ? "its stream was destroyed, or the stream's context was closed"
                    : "the kernel's module was unloaded, or its context was closed");
}

/* Prepares a kernel for launches with these dims: checks them, and raises its limit of shared memory. */
static gpuexec_result gxi_prepare_kernel(gxi_call *call, gxi_slot *kernel, gpuexec_dims *dims,
                                         const gpuexec_launch_desc *desc, const gpuexec_args *args) {
    const char *name = gxi_kernel_of(kernel)->title;
    gxi_fill_dims(dims);
    if (gxi_allow_cluster(call, kernel, desc))
        return gxi_fail_cu(call, NULL, "cannot allow clusters of more than 8 blocks for %s", name);
    if (gxi_check_launch(call, 0, kernel, dims, desc)) return gxi_failed_with();
    if (gxi_raise_shared(call, kernel, dims->shared_bytes))
        return gxi_fail_cu(call, NULL, "cannot set %u bytes of dynamic shared memory for %s", dims->shared_bytes,
                           name);
    if (desc && desc->cooperative) {
        const uint64_t threads = (uint64_t)dims->block_x * dims->block_y * dims->block_z;
        const int most = gxi_cooperative_blocks(call, kernel, (unsigned)threads, dims->shared_bytes);
        if (most < 0) return gxi_failed_with();
        if ((uint64_t)dims->grid_x * dims->grid_y * dims->grid_z > (unsigned)most)
            return gxi_fail_launch(call, GXI_COOPERATIVE_TOO_LARGE, kernel, dims, args, desc);
    }
    return GPUEXEC_OK;
}

/* dims: with y and z filled in. 0 after a failure. */
static uint64_t gxi_prepared_new(gxi_call *call, gxi_slot *k, gxi_slot *s, const gpuexec_dims *dims,
                                 const gpuexec_launch_desc *desc, const gpuexec_args *args) {
    const unsigned short *known = k->is.kernel.sizes, *sizes = args->sizes ? args->sizes : known ? known + 1 : NULL;
    /* the arguments' offsets on the device, if known: PTX text does not show alignments above 16 */
    const unsigned short *offsets = known && args->count && GXI_HAS(cuFuncGetParamInfo) ? known + 1 + args->count
        : NULL;
    const gxi_slot *module = gxi_peek(gxi_kernel_of(k)->module, GXI_MODULE);
    const char *name = gxi_kernel_of(k)->title, *module_name = module ? module->is.module.info->name : "";
    const size_t name_bytes = strlen(name) + 1, module_bytes = strlen(module_name) + 1;
    size_t space = 0;
    gxi_prepared *p;
    gxi_slot made;
    uint64_t id;
    unsigned i;
    if (args->count && !sizes) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass args.sizes, as GPUEXEC_ARGS and gpuexec_params_args do",
                 "the sizes of the arguments are not known: args.sizes is NULL, and the parameters of %s are not known",
                 name);
        return 0;
    }
    for (i = 0; i < args->count; i++) space = offsets ? (size_t)offsets[i] + sizes[i] : space + gxi_up(sizes[i], 16);
    p = (gxi_prepared *)gxi_block_new(sizeof *p, args->count, space + name_bytes + module_bytes, NULL);
    if (!p) {
        gxi_fail(call, GPUEXEC_OUT_OF_HOST_MEMORY, NULL, "out of host memory: cannot prepare a launch of %s", name);
        return 0;
    }
    for (i = 0; i < args->count; i++) {
        if (offsets) p->block.bytes = offsets[i];
        gxi_block_add(&p->block, args->addresses[i], sizes[i], offsets ? 1 : 16, GPUEXEC_NO_TYPE);
    }
    p->name = (const char *)memcpy(p->block.data + space, name, name_bytes);
    p->module = (const char *)memcpy(p->block.data + space + name_bytes, module_name, module_bytes);
    if (offsets) {
        p->packed[0] = (void *)(uintptr_t)GXI_LAUNCH_PARAM_BUFFER_POINTER;
        p->packed[1] = p->block.data;
        p->packed[2] = (void *)(uintptr_t)GXI_LAUNCH_PARAM_BUFFER_SIZE;
        p->packed[3] = &p->block.bytes;
        p->extra = p->packed;
    } else p->params = (void **)(uintptr_t)p->block.addresses;
    p->kernel.id = k->id;
    p->stream.id = s->id;
    p->on = s;
    if (desc) p->desc = *desc;
    gxi_extend(&p->launch, s, dims, &p->desc);
    p->ends = GXI_LOOK;
    made = gxi_made(k, k->context, 0);
    made.is.prepared.native = k->is.kernel.native;
    made.is.prepared.info = p;
    id = gxi_new(call, GXI_PREPARED, &made, &gxi_context_of(gxi_peek(k->context, GXI_CONTEXT))->first[GXI_PREPARED]);
    if (!id) gxi_free(p);
    return id;
}
static gpuexec_prepared gxi_prepare(gxi_call *call, gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims *dims,
                                    const gpuexec_launch_desc *desc, const gpuexec_args *args) {
    gpuexec_prepared handle = { 0 };
    gxi_slot *k, *s;
    if (gxi_begin(call) == GPUEXEC_OK && gxi_find_launch(call, kernel, stream, args, &k, &s) &&
        gxi_check_attributes(call, k, desc) == GPUEXEC_OK &&
        gxi_prepare_kernel(call, k, dims, desc, args) == GPUEXEC_OK)
        handle.id = gxi_prepared_new(call, k, s, dims, desc, args);
    handle.id = gxi_or_failed(handle.id, GXI_PREPARED);
    return handle;
}
GPUEXEC_API gpuexec_prepared gpuexec_prepare_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                gpuexec_dims dims, gpuexec_args args) {
    GXI_CALL(gpuexec_prepare, GXI_MAKES);
    return gxi_prepare(call, kernel, stream, &dims, NULL, &args);
}
GPUEXEC_API gpuexec_prepared gpuexec_prepare_with_at(const char *where, gpuexec_kernel kernel, gpuexec_stream stream,
                                                     gpuexec_dims dims, const gpuexec_launch_desc *desc,
                                                     gpuexec_args args) {
    gpuexec_prepared handle = { 0 };
    GXI_CALL(gpuexec_prepare_with, GXI_MAKES);
    if (!desc || !gxi_check_desc(call, "gpuexec_launch_desc", desc->start_canary, desc->end_canary))
        return gxi_prepare(call, kernel, stream, &dims, desc, &args);
    handle.id = gxi_failed_id(GXI_PREPARED);
    return handle;
}

static void *gxi_prepared_place(gxi_call *call, gpuexec_prepared prepared, int index, size_t bytes) {
    gxi_slot *slot = gxi_find_prepared(call, prepared);
    char indices[GXI_INDICES];
    const gxi_block *b;
    const char *name;
    if (!slot) return NULL;
    b = &gxi_prepared_of(slot)->block;
    name = gxi_prepared_of(slot)->name;
    if (b->count == 0)
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                 "the launch of %s has no arguments, so there is no argument %d", name, index);
    else if (index < 0 || (unsigned)index >= b->count)
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "there is no argument %d: the launch of %s has %u argument%s%s",
                 index, name, b->count, gxi_s(b->count), gxi_indices(indices, b->count));
    else if (bytes != b->sizes[index])
        gxi_fail(call, GPUEXEC_BAD_PARAMETERS, "pass a variable of exactly the parameter's type, and its sizeof",
                 "argument %d (counted from 0) of %s has %u byte%s, but %llu were passed", index, name, b->sizes[index],
                 gxi_s(b->sizes[index]), (unsigned long long)bytes);
    else return b->data + gxi_block_offset(b, (unsigned)index);
    return NULL;
}
GPUEXEC_API void *gpuexec_prepared_argument_at(const char *where, gpuexec_prepared prepared, int index, size_t bytes) {
    GXI_CALL(gpuexec_prepared_argument, GXI_MAKES);
    return gxi_prepared_place(call, prepared, index, bytes);
}
GPUEXEC_API gpuexec_result gpuexec_prepared_set_at(const char *where, gpuexec_prepared prepared, int index,
                                                   const void *value, size_t bytes) {
    void *place;
    GXI_CALL(gpuexec_prepared_set, GXI_MAKES);
    place = gxi_prepared_place(call, prepared, index, bytes);
    if (!place) return gxi_failed_with();
    if (!value) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                                "the address of the value of argument %d (counted from 0) is NULL", index);
    memcpy(place, value, bytes);
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_prepared_dims_at(const char *where, gpuexec_prepared prepared, gpuexec_dims dims) {
    gxi_slot *slot, *k;
    gxi_prepared *p;
    gpuexec_args args;
    GXI_CALL(gpuexec_prepared_dims, GXI_MAKES);
    if (!(slot = gxi_find_prepared(call, prepared)) || gxi_prepared_lives(call, slot)) return gxi_failed_with();
    p = gxi_prepared_of(slot);
    args = gxi_block_args(&p->block);
    if (!(k = gxi_find_kernel(call, p->kernel)) || gxi_prepare_kernel(call, k, &dims, &p->desc, &args))
        return gxi_failed_with();
    p->launch.config.dims = dims;
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_prepared_stream_at(const char *where, gpuexec_prepared prepared,
                                                      gpuexec_stream stream) {
    gxi_slot *slot, *k, *s;
    gxi_prepared *p;
    GXI_CALL(gpuexec_prepared_stream, GXI_MAKES);
    if (!(slot = gxi_find_prepared(call, prepared))) return gxi_failed_with();
    p = gxi_prepared_of(slot);
    if (!(k = gxi_find_kernel(call, p->kernel)) || !(s = gxi_find_stream(call, stream))) return gxi_failed_with();
    if (k->cu_context != s->cu_context)
        return gxi_fail_contexts(call, "use a stream of the kernel's context", k, s);
    p->stream.id = s->id;
    p->on = s;
    p->launch.config.stream = s->is.stream.native;
    p->ends = GXI_LOOK;
    return GPUEXEC_OK;
}

static GXI_COLD gpuexec_result gxi_launch_prepared_else(const char *where, gpuexec_prepared prepared, int cu) {
    gxi_slot *slot;
    gxi_prepared *p;
    gpuexec_args args;
    gpuexec_result result;
    uint64_t ends = GXI_LOAD(&gxi.ends);         /* read first: the next launch then sees what is closed meanwhile */
    GXI_CALL(gpuexec_launch_prepared, GXI_WORKS);
    slot = gxi_peek(prepared.id, GXI_PREPARED);
    if (slot) call->stream = gxi_prepared_of(slot)->stream.id;
    if (gxi_begin(call) || !(slot = gxi_find_prepared(call, prepared)) || gxi_prepared_lives(call, slot))
        return gxi_failed_with();
    p = gxi_prepared_of(slot);
    args = gxi_block_args(&p->block);
    result = gxi_launch_else("gpuexec_launch_prepared", where, p->kernel, p->stream, &p->launch.config.dims, &args, cu,
                             &p->desc);
    /* these need more work at each launch */
    if (!result && !p->on->legacy && !p->on->borrowed && !gxi.trace &&
        (GXI_HAS(cuLaunchKernelEx) || !p->launch.config.count))
        p->ends = ends;
    return result;
}
GPUEXEC_API gpuexec_result gpuexec_launch_prepared_at(const char *where, gpuexec_prepared prepared) {
    gxi_slot *slot = gxi_peek_inline(prepared.id, GXI_PREPARED);
    const gxi_prepared *p;
    int cu;
    if (!slot || gxi_thread.latched || (p = gxi_prepared_of(slot))->ends != GXI_LOAD(&gxi.ends))
        return gxi_launch_prepared_else(where, prepared, -1);
    gxi_note_launch(p->on, p->kernel.id, where);
    cu = gxi_launch_straight(&p->launch.config, slot->is.prepared.native, p->params, p->extra);
    if (cu == 0) return GPUEXEC_OK;
    prepared.id = slot->id;                      /* read back, like in gpuexec_launch */
    return gxi_launch_prepared_else(gxi_prepared_of(slot)->on->is.stream.last_where, prepared, cu);
}

GPUEXEC_API gpuexec_result gpuexec_prepared_destroy_at(const char *where, gpuexec_prepared prepared) {
    GXI_CALL(gpuexec_prepared_destroy, GXI_CLEANS);
    return gxi_destroy_handle(call, prepared.id, GXI_PREPARED, "the prepared launch");
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-graph   Graphs, and what they use: a CUgraph is read at the first free or unload after its capture, so that
   captures do not become slower. gxi_graphs_mutex guards the list of CUgraphs. */


/* An address or a CUfunction that a node uses, perhaps: an argument of 8 bytes may also be a number. */
typedef struct gxi_named { uint64_t value; size_t node; } gxi_named;
typedef struct gxi_recorded {
    struct CUgraph_st *native;
    unsigned          users;                     /* graphs; several after an update */
    int               listed;                    /* `named` is complete; otherwise count is 0 */
    gxi_named        *named;                     /* sorted by value */
    size_t            count, cap;
    struct CUctx_st **joined;                    /* the other contexts on whose streams the capture recorded */
    unsigned          njoined;
    char             *gone;                      /* atomic; what was freed or unloaded since. NULL: nothing */
    struct gxi_recorded *next;
} gxi_recorded;
struct gxi_graph { gxi_recorded *made; };
static gxi_mutex gxi_graphs_mutex = GXI_MUTEX_INIT;

static GXI_NOINLINE gxi_recorded *gxi_recorded_of(const gxi_slot *graph) { return graph->is.graph.info->made; }

/* All nodes, allocated; NULL if there are none, or after a failure: then *cu, or -1 without memory. */
static struct CUgraphNode_st **gxi_nodes(gxi_call *call, struct CUgraph_st *graph, size_t *count, int *cu) {
    struct CUgraphNode_st **nodes;
    *count = 0;
    *cu = GXI_TRY(cuGraphGetNodes, (graph, NULL, count));
    if (*cu || *count == 0) return NULL;
    nodes = (struct CUgraphNode_st **)gxi_realloc(NULL, *count * sizeof *nodes);
    *cu = nodes ? GXI_TRY(cuGraphGetNodes, (graph, nodes, count)) : -1;
    if (*cu == 0) return nodes;
    gxi_free(nodes);
    return NULL;
}
/* gxi_tables is held. */
static const gxi_slot *gxi_kernel_of_native(const struct CUfunc_st *native) {
    unsigned index;
    for (index = 0; index < gxi.slots; index++) {
        const gxi_slot *slot = gxi_slot_at(index);
        if (slot->id && gxi_kind_of(slot->id) == GXI_KERNEL && slot->is.kernel.native == native) return slot;
    }
    return NULL;
}
static int gxi_name(gxi_recorded *r, uint64_t value, size_t node) {              /* 0: no memory */
    if (value < 65536) return 1;                                                 /* no address */
    if (r->count == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 16;
        gxi_named *named = (gxi_named *)gxi_realloc(r->named, cap * sizeof *named);
        if (!named) return 0;
        r->named = named;
        r->cap = cap;
    }
    r->named[r->count].value = value;
    r->named[r->count++].node = node;
    return 1;
}
static int gxi_name_words(gxi_recorded *r, const void *bytes, size_t n, size_t node) {
    uint64_t value;
    size_t at;
    int ok = 1;
    for (at = 0; ok && at + sizeof value <= n; at += sizeof value) {
        memcpy(&value, (const char *)bytes + at, sizeof value);
        ok = gxi_name(r, value, node);
    }
    return ok;
}
static int gxi_name_kernel(gxi_recorded *r, const gxi_kernel_node *k, size_t node) {
    const gxi_slot *kernel;
    const unsigned short *sizes;
    unsigned i, n;
    int ok = gxi_name(r, (uintptr_t)k->function, node);
    if (!k->params && k->extra)
        return ok && gxi_name_words(r, k->extra[1], *(const size_t *)k->extra[3], node);
    gxi_lock(&gxi_tables);
    kernel = gxi_kernel_of_native(k->function);
    sizes = kernel ? kernel->is.kernel.sizes : NULL;
    n = sizes && k->params ? sizes[0] : 0;
    for (i = 0; ok && i < n; i++) ok = gxi_name_words(r, k->params[i], sizes[i + 1], node);
    gxi_unlock(&gxi_tables);
    return ok;
}
static uint64_t gxi_side_of_node(const gxi_copy_side *side) {
    return side->type == GXI_MEMORYTYPE_HOST ? (uintptr_t)side->host : side->device;
}
static int gxi_by_value(const void *a, const void *b) {
    const gxi_named *x = (const gxi_named *)a, *y = (const gxi_named *)b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->node < y->node ? -1 : x->node > y->node;
}
/* gxi_graphs_mutex is held. A graph that cannot be read now is read at the next free or unload. */
static void gxi_list_names(const gxi_call *caller, gxi_recorded *r) {
    gxi_call own = *caller, *const call = &own;
    size_t i, count;
    int cu, type, ok = 1;
    struct CUgraphNode_st **nodes = gxi_nodes(call, r->native, &count, &cu);
    for (i = 0; nodes && ok && i < count; i++) {
        gxi_kernel_node kernel;
        gxi_memcpy3d copy;
        gxi_fill_node fill;
        if (GXI_BESIDE(cuGraphNodeGetType, (nodes[i], &type))) type = -1;
        if (type == GXI_GRAPH_NODE_TYPE_KERNEL && GXI_BESIDE(cuGraphKernelNodeGetParams, (nodes[i], &kernel)) == 0)
            ok = gxi_name_kernel(r, &kernel, i);
        if (type == GXI_GRAPH_NODE_TYPE_MEMCPY && GXI_BESIDE(cuGraphMemcpyNodeGetParams, (nodes[i], &copy)) == 0)
            ok = gxi_name(r, gxi_side_of_node(&copy.from), i) && gxi_name(r, gxi_side_of_node(&copy.to), i);
        if (type == GXI_GRAPH_NODE_TYPE_MEMSET && GXI_BESIDE(cuGraphMemsetNodeGetParams, (nodes[i], &fill)) == 0)
            ok = gxi_name(r, fill.to, i);
    }
    gxi_free(nodes);
    r->listed = ok && cu == 0;
    if (!r->listed) r->count = 0;
    else if (r->count) qsort(r->named, r->count, sizeof *r->named, gxi_by_value);
}
static void gxi_graph_is_gone(gxi_recorded *r, gxi_text *why) {      /* takes over the text */
    if (why->failed) gxi_text_free(why);
    GXI_STORE(&r->gone, why->p ? why->p : gxi_copy_string("its memory or kernels are gone"));
}
/* gxi_graphs_mutex is held. */
static void gxi_graph_loses(const gxi_call *call, gxi_recorded *r, const gxi_range *range, const gxi_slot *kernel) {
    const uint64_t lo = range ? range->lo : (uintptr_t)kernel->is.kernel.native, bytes = range ? range->bytes : 1;
    gxi_text t = { 0, 0, 0, 0 };
    size_t from = 0, to;
    if (r->gone) return;
    if (!r->listed) gxi_list_names(call, r);
    for (to = r->count; from < to; ) {                               /* the first value that is not below lo */
        const size_t middle = from + (to - from) / 2;
        if (r->named[middle].value < lo) from = middle + 1; else to = middle;
    }
    if (from == r->count || r->named[from].value - lo >= bytes) return;
    gxi_add(&t, "node %llu ", (unsigned long long)r->named[from].node);
    if (kernel) gxi_add(&t, "launches %s, which was unloaded at %s", gxi_kernel_of(kernel)->title,
                        gxi_place(call->where));
    else gxi_add(&t, "uses the %llu bytes of %s memory at 0x%llx, %s at %s, which were %s at %s",
                 (unsigned long long)bytes, gxi_memory_kinds[range->kind], (unsigned long long)lo,
                 gxi_memory_verbs[range->kind], gxi_place(range->where),
                 range->kind == GPUEXEC_MEMORY_REGISTERED ? "unregistered" : "freed", gxi_place(call->where));
    gxi_graph_is_gone(r, &t);
}
/* Takes the executable graph of a handle that launches r; *graph: the handle's slot. NULL: there is none left. */
static struct CUgraphExec_st *gxi_take_exec(const gxi_recorded *r, gxi_slot **graph) {
    struct CUgraphExec_st *exec = NULL;
    unsigned index;
    gxi_lock(&gxi_tables);
    for (index = 0; index < gxi.slots && !exec; index++) {
        *graph = gxi_slot_at(index);
        if (!(*graph)->id || gxi_kind_of((*graph)->id) != GXI_GRAPH || gxi_recorded_of(*graph) != r) continue;
        exec = (*graph)->is.graph.exec;
        GXI_STORE(&(*graph)->is.graph.exec, NULL);
    }
    gxi_unlock(&gxi_tables);
    return exec;
}
/* A context is closed whose stream joined the capture. */
static void gxi_graph_loses_context(const gxi_call *call, gxi_recorded *r, const gxi_slot *closed) {
    gxi_text t = { 0, 0, 0, 0 };
    gxi_slot *graph;
    unsigned i = 0;
    while (i < r->njoined && r->joined[i] != closed->cu_context) i++;
    if (i == r->njoined) return;
    if (gxi_context_is_gone(call, closed)) while (gxi_take_exec(r, &graph)) {}   /* they cannot be destroyed any more */
    if (r->gone) return;
    gxi_add(&t, "a stream of the context on device %d joined the capture; the context was closed at %s",
            gxi_context_of(closed)->ordinal, gxi_place(call->where));
    gxi_graph_is_gone(r, &t);
}
/* Before a context is released: destroys the executable graphs that cannot be launched. For those that use the context
   or its memory, cuGraphExecDestroy would never return after that (measured on driver 580). */
static void gxi_graph_end_exec(const gxi_call *call, gxi_recorded *r) {
    struct CUgraphExec_st *exec;
    gxi_slot *graph;
    while (r->gone && (exec = gxi_take_exec(r, &graph)) != NULL) {
        const gxi_slot *context = gxi_peek(graph->context, GXI_CONTEXT);
        gxi_call own = *call;
        gxi_scope scope;
        if (!context || gxi_context_is_gone(call, context) || gxi_enter(&own, graph->cu_context, &scope)) continue;
        gxi_context_drain(&own, context);
        GXI_BESIDE(cuGraphExecDestroy, (exec));
        gxi_leave(&scope);
    }
}
static void gxi_graphs_lose(const gxi_call *call, const gxi_range *range, const gxi_slot *slot) {
    gxi_recorded *r;
    gxi_lock(&gxi_graphs_mutex);
    for (r = gxi.recorded; r; r = r->next) {
        if (!range && !slot) gxi_graph_end_exec(call, r);
        else if (slot && gxi_kind_of(slot->id) == GXI_CONTEXT) gxi_graph_loses_context(call, r, slot);
        else gxi_graph_loses(call, r, range, slot);
    }
    gxi_unlock(&gxi_graphs_mutex);
}
/* A graph stops using it. Returns 1 if it was the last, which then frees it. */
static int gxi_recorded_leave(gxi_recorded *r) {
    gxi_recorded **at = &gxi.recorded;
    unsigned users;
    gxi_lock(&gxi_graphs_mutex);
    users = --r->users;
    while (users == 0 && *at != r) at = &(*at)->next;
    if (users == 0) GXI_STORE(at, r->next);
    gxi_unlock(&gxi_graphs_mutex);
    return users == 0;
}
static void gxi_recorded_free(gxi_recorded *r) {
    gxi_free(r->named);
    gxi_free(r->joined);
    gxi_free(r->gone);
    gxi_free(r);
}
/* Fails if something that the graph uses was freed or unloaded. */
static gpuexec_result gxi_check_gone(gxi_call *call, const gxi_slot *graph, const char *cannot) {
    const char *gone = GXI_LOAD(&gxi_recorded_of(graph)->gone);
    return !gone ? GPUEXEC_OK
        : gxi_fail(call, GPUEXEC_STALE_HANDLE, "keep memory, modules and contexts until the graph's last launch; or "
                   "capture the calls again, and launch or update with the new graph",
                   "cannot %s the graph captured at %s: %s", cannot, gxi_place(graph->where), gone);
}

/* Takes over `joined`. */
static uint64_t gxi_graph_new(gxi_call *call, const gxi_slot *stream, struct CUgraph_st *native,
                              struct CUctx_st **joined, unsigned njoined) {
    gxi_slot *context = gxi_get(call, stream->context, GXI_CONTEXT, "the stream's context");
    gxi_graph *info = context ? (gxi_graph *)gxi_realloc(NULL, sizeof *info) : NULL;
    gxi_recorded *r = info ? (gxi_recorded *)gxi_realloc(NULL, sizeof *r) : NULL;
    gxi_slot made;
    uint64_t id = 0;
    if (r) {
        memset(r, 0, sizeof *r);
        r->native = native;
        r->users = 1;
        r->joined = joined;
        r->njoined = njoined;
        info->made = r;
        made = gxi_made(context, context->id, 0);
        made.is.graph.info = info;
        GXI_STORE(&gxi.graphs_lose, &gxi_graphs_lose);
        gxi_lock(&gxi_graphs_mutex);
        r->next = gxi.recorded;
        GXI_STORE(&gxi.recorded, r);
        gxi_unlock(&gxi_graphs_mutex);
        id = gxi_new(call, GXI_GRAPH, &made, &gxi_context_of(context)->first[GXI_GRAPH]);
        if (!id && gxi_recorded_leave(r)) gxi_recorded_free(r);
    } else {
        gxi_free(joined);
        if (context) gxi_fail_memory(call, "keep the graph");
    }
    if (!id) {
        gxi_free(info);
        GXI_BESIDE(cuGraphDestroy, (native));
    }
    return id;
}
static int gxi_graph_end(gxi_call *call, gxi_slot *old) {
    struct CUgraphExec_st *exec = old->is.graph.exec;
    gxi_recorded *r = gxi_recorded_of(old);
    const int last = gxi_recorded_leave(r);
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED, cu = 0, lost = old->adopted;
    unsigned i;
    for (i = 0; i < r->njoined && !lost; i++) {  /* destroyed outside gpuexec: see gxi_graph_loses_context */
        const gxi_slot *joined = gxi_peek(gxi_context_with(r->joined[i]), GXI_CONTEXT);
        lost = joined && gxi_context_is_gone(call, joined);
    }
    gxi_exchange_mode(&mode);
    if (exec && !lost) cu = GXI_TRY(cuGraphExecDestroy, (exec));
    if (last && !old->adopted) {
        if (cu) GXI_BESIDE(cuGraphDestroy, (r->native));
        else cu = GXI_TRY(cuGraphDestroy, (r->native));
    }
    gxi_exchange_mode(&mode);
    if (last) gxi_recorded_free(r);
    gxi_free(old->is.graph.info);
    return cu;
}
static gxi_slot *gxi_begin_with_graph(gxi_call *call, gpuexec_graph graph) {
    return gxi_begin_with(call, graph.id, GXI_GRAPH, "the graph");
}
static gpuexec_result gxi_fail_nodes(gxi_call *call, int cu) {
    return cu == 0 ? GPUEXEC_OK : cu < 0 ? gxi_fail_memory(call, "query the graph")
                                         : gxi_fail_cu(call, NULL, "cannot query the graph");
}
static void gxi_add_side(gxi_text *t, const char *word, const gxi_copy_side *side) {
    gxi_add(t, " %s %s 0x%llx", word, side->type == GXI_MEMORYTYPE_HOST ? "host" : "device",
            (unsigned long long)gxi_side_of_node(side));
}
/* Adds what a node does, as far as the driver reports it. */
static void gxi_add_node(gxi_text *t, const gxi_call *call, struct CUgraphNode_st *node) {
    static const char *const types[] = { "kernel", "copy", "fill", "host function", "child graph", "empty node",
                                         "wait for an event", "record of an event", "signal of a semaphore",
                                         "wait for a semaphore", "allocation", "free", "writes and waits in memory",
                                         "conditional node" };
    gxi_kernel_node k;
    gxi_memcpy3d copy;
    gxi_fill_node fill;
    int type = -1;
    GXI_BESIDE(cuGraphNodeGetType, (node, &type));
    if (type == GXI_GRAPH_NODE_TYPE_KERNEL && GXI_BESIDE(cuGraphKernelNodeGetParams, (node, &k)) == 0) {
        const gxi_slot *kernel;
        gxi_lock(&gxi_tables);
        kernel = gxi_kernel_of_native(k.function);
        gxi_add(t, "%s", kernel ? gxi_kernel_of(kernel)->title : "a kernel that gpuexec did not load");
        gxi_unlock(&gxi_tables);
        gxi_add(t, ", grid %u x %u x %u, block %u x %u x %u, %u bytes of dynamic shared memory", k.grid[0], k.grid[1],
                k.grid[2], k.block[0], k.block[1], k.block[2], k.shared);
    } else if (type == GXI_GRAPH_NODE_TYPE_MEMCPY && GXI_BESIDE(cuGraphMemcpyNodeGetParams, (node, &copy)) == 0) {
        gxi_add(t, "copy of ");
        gxi_add_bytes(t, (uint64_t)copy.width * copy.height * copy.depth);
        gxi_add_side(t, "from", &copy.from);
        gxi_add_side(t, "to", &copy.to);
    } else if (type == GXI_GRAPH_NODE_TYPE_MEMSET && GXI_BESIDE(cuGraphMemsetNodeGetParams, (node, &fill)) == 0) {
        gxi_add(t, "fill of ");
        gxi_add_bytes(t, (uint64_t)fill.width * fill.element * (fill.height ? fill.height : 1));
        gxi_add(t, " at device 0x%llx with 0x%x", (unsigned long long)fill.to, fill.value);
    } else if (type >= 0 && type < (int)(sizeof types / sizeof *types)) gxi_add(t, "%s", types[type]);
    else gxi_add(t, "node of type %d", type);
}
static size_t gxi_index_of_node(struct CUgraphNode_st *const *nodes, size_t before, const struct CUgraphNode_st *node) {
    while (before > 0 && nodes[before - 1] != node) before--;        /* most nodes follow the one before */
    return before - 1;
}
static void gxi_add_node_of(gxi_text *t, gxi_call *call, struct CUgraph_st *graph, struct CUgraphNode_st *node) {
    gxi_call own = *call;                        /* so that results here do not replace the caller's */
    size_t count;
    int cu;
    struct CUgraphNode_st **nodes = gxi_nodes(&own, graph, &count, &cu);
    if (nodes) gxi_add(t, "there, node %llu is: ", (unsigned long long)gxi_index_of_node(nodes, count, node));
    if (nodes) gxi_add_node(t, &own, node);
    gxi_free(nodes);
}
static size_t gxi_graph_write(gxi_call *call, gpuexec_graph graph, char *text, size_t bytes, int dot) {
    gxi_text t = { 0, 0, 0, 0 };
    struct CUgraphNode_st **nodes, **before = NULL;
    size_t i, k, count, n = 0;
    gxi_slot *g;
    int cu;
    if (text && bytes) *text = 0;
    if (!(g = gxi_begin_with_graph(call, graph))) return 0;
    nodes = gxi_nodes(call, gxi_recorded_of(g)->native, &count, &cu);
    if (nodes && !(before = (struct CUgraphNode_st **)gxi_realloc(NULL, count * sizeof *before))) cu = -1;
    if (dot) gxi_add(&t, "digraph {\n    node [shape=box];\n");
    else gxi_add(&t, "graph captured at %s, nodes: %llu\n", gxi_place(g->where), (unsigned long long)count);
    for (i = 0; before && cu == 0 && i < count; i++) {
        const unsigned long long at = (unsigned long long)i;
        n = count;
        cu = GXI_TRY(cuGraphNodeGetDependencies, (nodes[i], before, &n));
        if (cu == GXI_LOSSY_QUERY) n = 0;        /* dependencies of programmatic launches */
        if (cu == GXI_LOSSY_QUERY) cu = 0;
        gxi_add(&t, dot ? "    n%llu [label=\"" : "%llu: ", at);
        k = t.n;
        gxi_add_node(&t, call, nodes[i]);
        for (; dot && !t.failed && k < t.n; k++) if (t.p[k] == '"') t.p[k] = '\'';
        gxi_add(&t, dot ? "\"];\n" : n && !cu ? "; after" : "");
        for (k = 0; cu == 0 && k < n; k++) {
            const unsigned long long from = (unsigned long long)gxi_index_of_node(nodes, count, before[k]);
            if (dot) gxi_add(&t, "    n%llu -> n%llu;\n", from, at);
            else gxi_add(&t, "%s %llu", k ? "," : "", from);
        }
        if (!dot) gxi_add(&t, "\n");
    }
    if (dot) gxi_add(&t, "}\n");
    gxi_free(nodes);
    gxi_free(before);
    if (cu == 0 && t.failed) cu = -1;
    if (cu == 0 && text && bytes) snprintf(text, bytes, "%s", t.p);
    n = cu == 0 ? t.n : 0;
    gxi_text_free(&t);
    gxi_fail_nodes(call, cu);
    return n;
}
/* Instantiates the graph unless that was done. */
static gpuexec_result gxi_graph_instantiate(gxi_call *call, gxi_slot *graph) {
    struct CUgraphExec_st *exec = NULL, *kept;
    gxi_scope scope;
    int cu;
    if (gxi_check_gone(call, graph, "launch")) return gxi_failed_with();
    if (GXI_LOAD(&graph->is.graph.exec)) return GPUEXEC_OK;
    if (gxi_enter(call, graph->cu_context, &scope)) return gxi_failed_with();
    cu = GXI_TRY_MAKE(exec, cuGraphInstantiateWithFlags, (&exec, gxi_recorded_of(graph)->native, 0));
    gxi_leave(&scope);
    if (cu) return gxi_fail_cu(call, NULL, "cannot instantiate the graph captured at %s", gxi_place(graph->where));
    gxi_lock(&gxi_tables);
    if ((kept = graph->is.graph.exec) == NULL) GXI_STORE(&graph->is.graph.exec, exec);
    gxi_unlock(&gxi_tables);
    if (kept) GXI_BESIDE(cuGraphExecDestroy, (exec));                /* another thread was first */
    return GPUEXEC_OK;
}
/* cu: what the driver returned on the fast path, -1 if that was not tried. */
static GXI_NOINLINE gpuexec_result gxi_graph_launch_else(const char *where, gpuexec_graph graph, gpuexec_stream stream,
                                                         int cu) {
    gxi_slot *g, *s;
    gxi_scope scope;
    GXI_CALL_ON(stream, gpuexec_graph_launch);
    if (!(g = gxi_begin_with_graph(call, graph))) return gxi_failed_with();
    if (stream.id == GXI_CURRENT && !(call->stream = stream.id = gxi_current_stream(call, g->context)))
        return gxi_failed_with();
    if (!(s = gxi_find_stream(call, stream)) ||
        gxi_check_capture(call, s, "launch a graph", "capture the calls of the graph again instead") ||
        gxi_graph_instantiate(call, g)) return gxi_failed_with();
    if (cu >= 0) gxi_said(call, "cuGraphLaunch", cu);
    else {
        if (gxi_enter_stream(call, s, &scope)) return gxi_failed_with();
        cu = GXI_TRY(cuGraphLaunch, (GXI_LOAD(&g->is.graph.exec), s->is.stream.native));
        gxi_leave(&scope);
    }
    return cu == 0 ? GPUEXEC_OK
        : gxi_fail_cu(call, cu == GXI_INVALID_VALUE ? "free the memory that the graph allocates before launching it "
                      "again" : NULL, "cannot launch the graph captured at %s", gxi_place(g->where));
}
GPUEXEC_API gpuexec_result gpuexec_graph_launch_at(const char *where, gpuexec_graph graph, gpuexec_stream stream) {
    const gxi_slot *g = gxi_peek_inline(graph.id, GXI_GRAPH);
    gxi_slot *s = gxi_peek_inline(stream.id, GXI_STREAM);
    struct CUgraphExec_st *exec;
    int cu = -1;
    if (g && s && gxi_is_plain(s) && !g->borrowed && !s->adopted && (exec = GXI_LOAD(&g->is.graph.exec)) != NULL &&
        !GXI_LOAD(&g->is.graph.info->made->gone)) {
        cu = gxi.cu.cuGraphLaunch(exec, s->is.stream.native);
        if (cu == 0) return GPUEXEC_OK;
    }
    return gxi_graph_launch_else(where, graph, stream, cu);
}
GPUEXEC_API gpuexec_result gpuexec_graph_prepare_at(const char *where, gpuexec_graph graph, gpuexec_stream stream) {
    gxi_slot *g, *s;
    gxi_scope scope;
    int cu;
    GXI_CALL_ON(stream, gpuexec_graph_prepare);
    if (!(g = gxi_begin_with_graph(call, graph)) || !(s = gxi_find_stream(call, stream)) ||
        gxi_check_capture(call, s, "upload a graph", "pass a stream that does not capture") ||
        gxi_graph_instantiate(call, g) || gxi_enter_relaxed(call, s, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuGraphUpload, (GXI_LOAD(&g->is.graph.exec), s->is.stream.native));
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, NULL, "cannot upload the graph captured at %s", gxi_place(g->where)) : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_graph_update_at(const char *where, gpuexec_graph graph, gpuexec_graph other) {
    static const char *const differs[] = {       /* CU_GRAPH_EXEC_UPDATE_ERROR_*, from 1 on */
        "the driver does not say how they differ", "they do not have the same nodes and dependencies",
        "a node has another type", "a kernel node has another kernel, which this driver cannot exchange",
        "a node differs in what cannot be changed, such as the kind of memory of a copy, or the rows of a fill",
        "a node cannot be updated", "a kernel node has another kernel, which cannot be exchanged",
        "a kernel node has other launch attributes, such as a cooperative launch" };
    gxi_slot *g, *o;
    gxi_recorded *old;
    gxi_update info;
    int mode = GXI_STREAM_CAPTURE_MODE_RELAXED, cu;
    GXI_CALL(gpuexec_graph_update, GXI_MAKES);
    if (!(g = gxi_begin_with_graph(call, graph)) || !(o = gxi_get(call, other.id, GXI_GRAPH, "the other graph")))
        return gxi_failed_with();
    if (!GXI_HAS(cuGraphExecUpdate))
        return gxi_fail(call, GPUEXEC_OLD_DRIVER, "install a newer NVIDIA driver, or launch the other graph instead",
                        "updating a graph needs a driver for CUDA 12.0 or later; this driver supports CUDA %d.%d",
                        gxi.version / 1000, gxi.version % 1000 / 10);
    if (gxi_check_gone(call, o, "update from") ||
        (!GXI_LOAD(&g->is.graph.exec) && gxi_graph_instantiate(call, g))) return gxi_failed_with();
    old = gxi_recorded_of(g);
    memset(&info, 0, sizeof info);
    gxi_exchange_mode(&mode);
    cu = GXI_TRY(cuGraphExecUpdate, (g->is.graph.exec, gxi_recorded_of(o)->native, &info));
    gxi_exchange_mode(&mode);
    if (cu == GXI_GRAPH_EXEC_UPDATE_FAILURE) {
        gxi_text t = { 0, 0, 0, 0 };
        size_t here = 0, there = 0;
        GXI_BESIDE(cuGraphGetNodes, (old->native, NULL, &here));
        GXI_BESIDE(cuGraphGetNodes, (gxi_recorded_of(o)->native, NULL, &there));
        if (here != there) gxi_add(&t, "it has %llu nodes, not %llu", (unsigned long long)there,
                                   (unsigned long long)here);
        else if (info.node) gxi_add_node_of(&t, call, gxi_recorded_of(o)->native, info.node);
        gxi_fail(call, GPUEXEC_GRAPH_DIFFERS, "launch the other graph instead",
                 "the graph captured at %s cannot take over the one captured at %s: %s%s%s", gxi_place(g->where),
                 gxi_place(o->where), differs[info.result >= 1 && info.result <= 8 ? info.result - 1 : 0],
                 t.p ? "; " : "", t.p ? t.p : "");
        gxi_text_free(&t);
        return GPUEXEC_GRAPH_DIFFERS;
    }
    if (cu) return gxi_fail_cu(call, NULL, "cannot update the graph captured at %s", gxi_place(g->where));
    gxi_lock(&gxi_graphs_mutex);
    gxi_recorded_of(o)->users++;
    gxi_unlock(&gxi_graphs_mutex);
    g->is.graph.info->made = gxi_recorded_of(o);
    if (gxi_recorded_leave(old)) {
        GXI_BESIDE(cuGraphDestroy, (old->native));
        gxi_recorded_free(old);
    }
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_graph_get_info_at(const char *where, gpuexec_graph graph, gpuexec_graph_info *info) {
    struct CUgraphNode_st **nodes;
    size_t i, count;
    gxi_slot *g;
    int cu;
    GXI_CALL(gpuexec_graph_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return GPUEXEC_BAD_ARGUMENT;
    memset(info, 0, sizeof *info);
    if (!(g = gxi_begin_with_graph(call, graph))) return gxi_failed_with();
    info->instantiated = GXI_LOAD(&g->is.graph.exec) != NULL;
    nodes = gxi_nodes(call, gxi_recorded_of(g)->native, &count, &cu);
    for (i = 0; nodes && cu == 0 && i < count; i++) {
        int type = -1;
        cu = GXI_TRY(cuGraphNodeGetType, (nodes[i], &type));
        *(type == GXI_GRAPH_NODE_TYPE_KERNEL ? &info->kernels : type == GXI_GRAPH_NODE_TYPE_MEMCPY ? &info->copies
          : type == GXI_GRAPH_NODE_TYPE_MEMSET ? &info->fills : &info->others) += 1;
    }
    gxi_free(nodes);
    info->nodes = count;
    return gxi_fail_nodes(call, cu);
}
GPUEXEC_API size_t gpuexec_graph_text(gpuexec_graph graph, char *text, size_t bytes) {
    GXI_CALL_NO_PLACE(gpuexec_graph_text, GXI_QUERIES);
    return gxi_graph_write(call, graph, text, bytes, 0);
}
GPUEXEC_API size_t gpuexec_graph_dot(gpuexec_graph graph, char *text, size_t bytes) {
    GXI_CALL_NO_PLACE(gpuexec_graph_dot, GXI_QUERIES);
    return gxi_graph_write(call, graph, text, bytes, 1);
}
GPUEXEC_API struct CUgraph_st *gpuexec_graph_native(gpuexec_graph graph) {
    const gxi_slot *slot = gxi_queried("gpuexec_graph_native", graph.id, GXI_GRAPH, "the graph");
    return slot ? gxi_recorded_of(slot)->native : NULL;
}
GPUEXEC_API struct CUgraphExec_st *gpuexec_graph_exec_native(gpuexec_graph graph) {
    const gxi_slot *slot = gxi_queried("gpuexec_graph_exec_native", graph.id, GXI_GRAPH, "the graph");
    return slot ? GXI_LOAD(&slot->is.graph.exec) : NULL;
}
GPUEXEC_API gpuexec_result gpuexec_graph_destroy_at(const char *where, gpuexec_graph graph) {
    GXI_CALL(gpuexec_graph_destroy, GXI_CLEANS);
    return gxi_destroy_handle(call, graph.id, GXI_GRAPH, "the graph");
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-capture   Captures, as the list gxi.capture. Before each call that would break a capture, the driver is
   queried, or the thread's capture mode relaxed: see gxi_captures and gxi_enter. */

typedef struct gxi_capture {
    uint64_t     stream;                         /* handle id */
    const char  *where;
    const char  *broken_by, *broken_at;          /* the call of gpuexec that broke it; NULL: none */
    struct gxi_capture *next;
} gxi_capture;
/* A free or an unload that waits until no capture is open. */
typedef struct gxi_postponed {
    gxi_range            range;                  /* no longer in the table of allocations */
    uint64_t             module, context;        /* module: a handle id; 0: memory */
    const char          *where;
    struct gxi_postponed *next;
} gxi_postponed;

/* Frees and unloads what was postponed: all if no capture is open, otherwise only in that context, which is closed. */
static gpuexec_result gxi_do_postponed(const gxi_call *caller, uint64_t context) {
    gpuexec_result result = GPUEXEC_OK;
    gxi_call own = *caller, *const call = &own;
    own.kind = GXI_CLEANS;
    for (;;) {
        gxi_postponed **at = &gxi.postponed, *p;
        const gxi_slot *slot;
        gpuexec_module module;
        gxi_scope scope;
        gxi_lock(&gxi_tables);
        while ((p = *at) != NULL && gxi.captures && p->context != context) at = &p->next;
        if (p) *at = p->next;
        gxi_unlock(&gxi_tables);
        if (!p) return result;
        slot = gxi_peek(p->context, GXI_CONTEXT);
        module.id = p->module;
        own.where = p->where;
        if (!slot || gxi_context_is_gone(call, slot)) {}             /* with its objects */
        else if (p->module) {
            if (p->context != context && gxi_peek(p->module, GXI_MODULE)) gpuexec_module_unload_at(p->where, module);
        } else if (gxi_enter(call, slot->cu_context, &scope)) result = gxi_failed_with();
        else {
            if (gxi_free_range(call, &p->range, 1))
                result = gxi_fail_cu(call, NULL, "cannot free 0x%llx, which was freed during a capture at %s",
                                     (unsigned long long)p->range.lo, gxi_place(p->where));
            gxi_leave(&scope);
        }
        gxi_free(p);
    }
}

static gxi_capture **gxi_capture_held(uint64_t stream) {             /* gxi_tables is held; *result NULL: none */
    gxi_capture **c = &gxi.capture;
    while (*c && (*c)->stream != stream) c = &(*c)->next;
    return c;
}
static void gxi_note_broken(const gxi_call *call) {
    gxi_capture *c;
    gxi_lock(&gxi_tables);
    for (c = gxi.capture; c; c = c->next) {
        const gxi_slot *stream = gxi_peek(c->stream, GXI_STREAM);
        int status = 0;
        if (c->broken_by || !stream || gxi.cu.cuStreamIsCapturing(stream->is.stream.native, &status) ||
            status != GXI_STREAM_CAPTURE_STATUS_INVALIDATED)
            continue;
        c->broken_by = call->function;
        c->broken_at = gxi_keep_held(call->where);
    }
    gxi_unlock(&gxi_tables);
}
/* Lists a free or an unload. 0: it must happen now. */
static int gxi_postpone(const gxi_call *call, const gxi_range *range, uint64_t module) {
    gxi_postponed *p = (gxi_postponed *)gxi_realloc(NULL, sizeof *p);
    if (!p) return 0;
    memset(p, 0, sizeof *p);
    if (range) p->range = *range;
    p->module = module;
    p->context = range ? range->context : gxi_slot_at(gxi_index_of(module))->context;
    gxi_lock(&gxi_tables);
    p->where = gxi_keep_held(call->where);
    p->next = gxi.postponed;
    gxi.postponed = p;
    gxi_unlock(&gxi_tables);
    gxi_do_postponed(call, 0);                   /* the last capture may have ended meanwhile */
    return 1;
}
/* Takes the capture of a stream from the list. 0: there is none. */
static int gxi_capture_take(uint64_t stream, gxi_capture *out) {
    gxi_capture **at, *c;
    gxi_lock(&gxi_tables);
    at = gxi_capture_held(stream);
    if ((c = *at) != NULL) {
        *at = c->next;
        *out = *c;
        GXI_STORE(&gxi.captures, gxi.captures - 1);
    }
    gxi_unlock(&gxi_tables);
    gxi_free(c);
    return c != NULL;
}

static gpuexec_result gxi_end_captures(gxi_call *call, const gxi_slot *context, int gone);
GPUEXEC_API gpuexec_result gpuexec_capture_begin_at(const char *where, gpuexec_stream stream,
                                                    const gpuexec_capture_desc *desc) {
    static const int modes[] = { GXI_STREAM_CAPTURE_MODE_THREAD_LOCAL, GXI_STREAM_CAPTURE_MODE_GLOBAL,
                                 GXI_STREAM_CAPTURE_MODE_RELAXED };
    const unsigned mode = desc ? (unsigned)desc->mode : 0;
    gxi_capture *c;
    gxi_slot *slot;
    int status, cu;
    GXI_CALL_ON(stream, gpuexec_capture_begin);
    if (desc && gxi_check_desc(call, "gpuexec_capture_desc", desc->start_canary, desc->end_canary))
        return gxi_failed_with();
    if (!(slot = gxi_begin_with_stream(call, stream))) return gxi_failed_with();
    if (mode > 2)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%d is not a gpuexec_capture_mode", (int)mode);
    if (slot->legacy == 1)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use a stream from gpuexec_stream_create",
                        "the legacy default stream cannot capture");
    status = gxi_captures(call, slot);
    if (status) {
        const gxi_capture *open;
        gxi_lock(&gxi_tables);
        open = *gxi_capture_held(stream.id);
        where = open ? open->where : NULL;
        gxi_unlock(&gxi_tables);
        return gxi_fail(call, GPUEXEC_CAPTURING, "end the capture first: gpuexec_capture_end",
                        "the stream captures already%s%s", where ? ", since " : "; it joined the capture of another "
                        "stream, or another library captures on it", where ? where : "");
    }
    if (!(c = (gxi_capture *)gxi_realloc(NULL, sizeof *c))) return gxi_fail_memory(call, "begin a capture");
    memset(c, 0, sizeof *c);
    c->stream = stream.id;
    GXI_STORE(&gxi.capturing, &gxi_capturing);
    GXI_STORE(&gxi.note_broken, &gxi_note_broken);
    GXI_STORE(&gxi.postpone, &gxi_postpone);
    GXI_STORE(&gxi.end_captures, &gxi_end_captures);
    if (!(c->where = gxi_keep(where)) && where) {
        gxi_free(c);
        return gxi_fail_memory(call, "begin a capture");
    }
    gxi_lock(&gxi_tables);
    c->next = gxi.capture;
    gxi.capture = c;
    GXI_STORE(&gxi.captures, gxi.captures + 1);
    gxi_unlock(&gxi_tables);
    cu = GXI_TRY(cuStreamBeginCapture, (slot->is.stream.native, modes[mode]));
    if (cu == 0) return GPUEXEC_OK;
    {
        gxi_capture none;
        gxi_capture_take(stream.id, &none);
    }
    return gxi_fail_cu(call, NULL, "the stream cannot begin a capture");
}

/* Why the driver returned no graph. */
static GXI_COLD void gxi_fail_capture(gxi_call *call, const gxi_capture *c) {
    const char *since = gxi_place(c->where);
    if (call->cu == GXI_CAPTURE_INVALIDATED && c->broken_by)
        gxi_fail(call, GPUEXEC_CAPTURE_BROKEN, "fix that call; see gpuexec_error_text after it",
                 "the capture begun at %s was broken by %s at %s", since, c->broken_by, gxi_place(c->broken_at));
    else if (call->cu == GXI_CAPTURE_INVALIDATED)
        gxi_fail(call, GPUEXEC_CAPTURE_BROKEN, "call no function that waits or allocates during the capture, or begin "
                 "it with gpuexec_capture_desc.mode GPUEXEC_CAPTURE_RELAXED",
                 "the capture begun at %s was broken by a call of the driver that gpuexec did not make", since);
    else if (call->cu == GXI_CAPTURE_UNJOINED)
        gxi_fail(call, GPUEXEC_CAPTURE_BROKEN, "before the end, make the stream wait for each stream that joined: "
                 "gpuexec_stream_wait_stream(stream, other)",
                 "a stream that joined the capture begun at %s has work that the capturing stream does not wait for",
                 since);
    else if (call->cu == GXI_CAPTURE_WRONG_THREAD)
        gxi_fail(call, GPUEXEC_CAPTURE_BROKEN, "end it on the thread that began it, or begin it with "
                 "GPUEXEC_CAPTURE_RELAXED", "the capture begun at %s was ended on another thread", since);
    else gxi_fail_cu(call, NULL, "cannot end the capture begun at %s", since);
}
/* The other contexts with a stream in the capture of this one: *joined, allocated. Returns their number, -1 without
   memory. */
static int gxi_find_joined(const gxi_call *call, const gxi_slot *stream, struct CUctx_st ***joined) {
    const gxi_slot *c = gxi_first(&gxi.first[GXI_CONTEXT]), *s;
    uint64_t ours = 0, id;
    int n = 0;
    *joined = NULL;
    for (; c; c = gxi_after(c)) {
        struct CUctx_st **grown;
        if (c->cu_context == stream->cu_context) continue;
        if (!ours && gxi_capture_info(call, stream, &ours) < 0) ours = 0;
        for (s = gxi_first(&gxi_context_of(c)->first[GXI_STREAM]); s; s = gxi_after(s)) {
            const int status = gxi_capture_info(call, s, &id);
            if (status < 0 || (status && (!ours || id == ours))) break;          /* in doubt: it joined */
        }
        if (!s) continue;
        grown = (struct CUctx_st **)gxi_realloc(*joined, ((size_t)n + 1) * sizeof *grown);
        if (!grown) return -1;
        *joined = grown;
        grown[n++] = c->cu_context;
    }
    return n;
}
static uint64_t gxi_capture_end(gxi_call *call, gpuexec_stream stream) {
    struct CUctx_st **joined;
    struct CUgraph_st *native = NULL;
    const int latched = gxi_latched() != GPUEXEC_OK;
    gxi_capture c;
    gxi_slot *slot;
    int cu, njoined;
    if (!(slot = gxi_begin_with_stream(call, stream))) return 0;
    if (!gxi_capture_take(stream.id, &c)) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "begin it with gpuexec_capture_begin, and end it on the same stream",
                 gxi_captures(call, slot) ? "gpuexec did not begin a capture on this stream: it joined one, or another "
                                      "library began it" : "the stream does not capture");
        return 0;
    }
    njoined = gxi_find_joined(call, slot, &joined);
    cu = GXI_TRY(cuStreamEndCapture, (slot->is.stream.native, &native));
    if (cu == 0 && !latched && njoined >= 0) return gxi_graph_new(call, slot, native, joined, (unsigned)njoined);
    gxi_free(joined);
    if (native) GXI_BESIDE(cuGraphDestroy, (native));
    if (latched) gxi_refuse(call);
    else if (cu == 0) gxi_fail_memory(call, "keep the graph");
    else gxi_fail_capture(call, &c);
    return 0;
}
GPUEXEC_API gpuexec_graph gpuexec_capture_end_at(const char *where, gpuexec_stream stream) {
    gpuexec_graph handle;
    GXI_CALL(gpuexec_capture_end, GXI_MAKES);
    handle.id = gxi_or_failed(gxi_capture_end(call, stream), GXI_GRAPH);
    gxi_do_postponed(call, 0);
    return handle;
}
/* Before a context is closed: nothing can wait for its work while one of its streams captures. */
static gpuexec_result gxi_end_captures(gxi_call *call, const gxi_slot *context, int gone) {
    gpuexec_result result = GPUEXEC_OK, freed;
    gxi_slot *stream;
    gxi_capture c;
    for (stream = gxi_first(&gxi_context_of(context)->first[GXI_STREAM]); stream; stream = gxi_after(stream)) {
        struct CUgraph_st *native = NULL;
        if (!gxi_capture_take(stream->id, &c) || gone) continue;
        GXI_BESIDE(cuStreamEndCapture, (stream->is.stream.native, &native));
        if (native) GXI_BESIDE(cuGraphDestroy, (native));
        if (!result)
            result = gxi_fail(call, GPUEXEC_CAPTURING, "end it before: gpuexec_capture_end", "closing the context: the "
                              "capture begun at %s was still open; its graph is lost", gxi_place(c.where));
    }
    freed = gxi_do_postponed(call, context->id);
    return result ? result : freed;
}

GPUEXEC_API gpuexec_capture_scope gpuexec_capture_scope_begin_at(const char *where, gpuexec_stream stream,
                                                                 gpuexec_graph *graph) {
    gpuexec_capture_scope scope;
    memset(&scope, 0, sizeof scope);
    scope.stream = stream;
    scope.graph = graph;
    scope.where = where;
    if (!graph) {
        GXI_CALL(gpuexec_capture_begin, GXI_MAKES);
        gxi_is_null(call, graph, "graph");
    } else if (gpuexec_capture_begin_at(where, stream, NULL) == GPUEXEC_OK) scope.entered = 1;
    else graph->id = gxi_failed_id(GXI_GRAPH);
    return scope;
}
GPUEXEC_API void gpuexec_capture_scope_end(gpuexec_capture_scope *scope) {
    if (scope->entered) *scope->graph = gpuexec_capture_end_at(scope->where, scope->stream);
    scope->entered = 0;
}
GPUEXEC_API int gpuexec_stream_is_capturing(gpuexec_stream stream) {
    const gxi_slot *slot;
    GXI_CALL_NO_PLACE(gpuexec_stream_is_capturing, GXI_QUERIES);
    return (slot = gxi_begin_with_stream(call, stream)) != NULL && gxi_capture_status(call, slot) != 0;
}

#if defined(GPUEXEC_NO_MULTI)
static int gxi_barrier_end(gxi_call *call, gxi_slot *old) {          /* for the row of a kind that is never created */
    (void)call;
    (void)old;
    return 0;
}
#else
/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-barrier   A barrier owns memory on each of its devices and one block of host memory. Waits and kernel failures
   look at all barriers; gxi_barriers_mutex keeps them alive meanwhile. */

enum { GXI_MULTI_MOST = 32, GXI_BARRIER_REPLICAS = 4,
       GXI_BARRIER_REPORTS = 256, GXI_BARRIER_RELAY = 1024,          /* in host memory, after the abort word: one report
                                                                        and words for each device */
       GXI_BARRIER_HOST_BYTES = GXI_BARRIER_RELAY + 8 * GXI_MULTI_MOST * GXI_MULTI_MOST };

typedef struct gxi_barrier_word { uint64_t value, alone[31]; } gxi_barrier_word;
typedef struct gxi_barrier_device {              /* gpuexec_barrier_device of kernels/gpuexec_barrier.cuh */
    uint32_t         rank, count, through_host, replicas;
    uint64_t         timeout;
    gpuexec_ptr      abort_word, report, from, to[GXI_MULTI_MOST], aligned[26];
    gxi_barrier_word arrived, release, left;
    uint64_t         words[GXI_BARRIER_REPLICAS][GXI_MULTI_MOST];
} gxi_barrier_device;
enum { GXI_BARRIER_COUNTS = offsetof(gxi_barrier_device, arrived) };         /* from here on, initially zeros */

static gxi_mutex gxi_barriers_mutex = GXI_MUTEX_INIT;    /* taken before gxi_tables */
static gxi_barrier *gxi_barriers;                /* all; hold the mutex to look at one that the caller did not pass */

struct gxi_barrier {
    gxi_barrier     *next, **from;
    uint64_t         id;
    const char      *where;                      /* where it was created */
    int              shown;                      /* atomic; 1 once a call has returned that it is broken */
    unsigned         count;
    int              direct, given;              /* given: atomic; 1 once its address was requested: no kernel can wait
                                                    at it before */
    double           timeout_seconds;
    uint64_t         contexts[GXI_MULTI_MOST];   /* handle ids */
    const char      *aborted, *aborted_where;    /* atomic: reason and place of the first abort; or NULL */
    char             aborted_place[GXI_PLACE];
    struct CUctx_st *cu_contexts[GXI_MULTI_MOST];
    int              ordinals[GXI_MULTI_MOST];
    gpuexec_ptr      memory[GXI_MULTI_MOST];
    char            *host;                       /* abort word, reports, relay */
};

static uint64_t gxi_barrier_report(const gxi_barrier *b, unsigned i) {
    return GXI_LOAD((const volatile uint64_t *)(const void *)(b->host + GXI_BARRIER_REPORTS) + i);
}
/* Makes all kernels that wait at the barrier leave. Keeps only the first reason: other threads may be reading it. */
static void gxi_barrier_leave(gxi_barrier *b, const char *why, const char *where) {
    if (why) {
        gxi_lock(&gxi_tables);
        if (!b->aborted) {
            GXI_STORE(&b->aborted_where, gxi_copy_place(b->aborted_place, sizeof b->aborted_place, where));
            GXI_STORE(&b->aborted, why);
        }
        gxi_unlock(&gxi_tables);
    }
    GXI_STORE((volatile uint32_t *)(void *)b->host, 1);
}

/* The words that device k polls; `host`: the barrier's host memory, as a device addresses it. */
static gpuexec_ptr gxi_barrier_words(const gxi_barrier *b, unsigned k, gpuexec_ptr host) {
    return b->direct ? b->memory[k] + offsetof(gxi_barrier_device, words)
        : host + GXI_BARRIER_RELAY + 8 * GXI_MULTI_MOST * k;
}

/* Clears everything: the words count from the start again, no device has reported, the barrier is not aborted. */
static int gxi_barrier_clear(gxi_call *call, gxi_barrier *b) {
    unsigned char zeros[sizeof(gxi_barrier_device) - GXI_BARRIER_COUNTS];
    gxi_scope scope;
    unsigned i;
    int cu = 0;
    memset(zeros, 0, sizeof zeros);
    memset(b->host, 0, GXI_BARRIER_HOST_BYTES);
    GXI_STORE(&b->aborted, (const char *)NULL);
    GXI_STORE(&b->shown, 0);
    for (i = 0; i < b->count && cu == 0; i++) {
        if ((cu = gxi_enter_cu(call, b->cu_contexts[i], &scope)) != 0) break;
        cu = gxi_copy_in_whole(call, b->memory[i] + GXI_BARRIER_COUNTS, zeros, sizeof zeros);
        gxi_leave(&scope);
    }
    return cu;
}

/* 0 if a context of a barrier or of a kept launch no longer exists: its owner destroyed it, or the process ends. */
static int gxi_multi_lives(const gxi_call *call, uint64_t context) {
    const gxi_slot *slot = gxi_peek(context, GXI_CONTEXT);
    return slot && !gxi_context_is_gone(call, slot);
}
/* Synchronizes device i, or frees its part. */
static int gxi_barrier_end_part(gxi_call *call, const gxi_barrier *b, unsigned i, int frees) {
    gxi_scope scope;
    int cu;
    if (!gxi_multi_lives(call, b->contexts[i])) return 0;
    if ((cu = gxi_enter_cu(call, b->cu_contexts[i], &scope)) != 0) return cu;
    if (!frees) cu = GXI_TRY_VOID(cuCtxSynchronize);
    else {
        if (b->memory[i]) cu = GXI_TRY(cuMemFree, (b->memory[i]));
        if (i == 0 && b->host) {
            if (cu) GXI_BESIDE(cuMemFreeHost, (b->host));
            else cu = GXI_TRY(cuMemFreeHost, (b->host));
        }
    }
    gxi_leave(&scope);
    return cu;
}
/* Returns the first failure, and leaves it in call. */
static int gxi_barrier_free(gxi_call *call, gxi_barrier *b) {
    unsigned i;
    int first = 0;
    /* a kernel writes into the other devices' parts: wait for all devices first; free the host memory last */
    for (i = 0; i < 2 * b->count; i++) {
        const int frees = i >= b->count;
        gxi_call own = *call;
        const int cu = gxi_barrier_end_part(&own, b, frees ? 2 * b->count - 1 - i : i, frees);
        if (!cu || first) continue;
        first = cu;
        *call = own;
    }
    gxi_free(b);
    return first;
}

/* Adds which devices left the barrier and why; 0 if none has. */
static int gxi_barrier_explain(gxi_text *t, const gxi_barrier *b) {
    unsigned i, k, silent = 0, missed = 0, parts = 0;
    if (GXI_LOAD(&b->aborted)) {
        const char *where = GXI_LOAD(&b->aborted_where);
        gxi_add(t, "%s%s%s", GXI_LOAD(&b->aborted), GXI_AT(where));
        parts = 1;
    }
    for (i = 0; i < b->count; i++) {
        const uint64_t report = gxi_barrier_report(b, i);
        unsigned missing = (unsigned)report, named = 0;
        if (!report) {
            silent |= 1u << i;
            continue;
        }
        gxi_add(t, "%sin round %u, device %d ", parts++ ? "; " : "", (unsigned)(report >> 40), b->ordinals[i]);
        if ((report >> 32 & 0xFF) == 1) gxi_add(t, "waited %g s for", b->timeout_seconds);
        else gxi_add(t, "was aborted while it waited for");
        missed |= missing;
        /* its own last block polls the relay: without it, nothing is known about the other devices */
        if (!b->direct && missing >> i & 1) missing = 1u << i;
        for (k = 0; k < b->count; k++)
            if (missing >> k & 1)
            gxi_add(t, k == i ? "%s its own blocks" : "%s device %d", named++ ? " and" : "", b->ordinals[k]);
    }
    for (i = 0; i < b->count; i++)
        if (missed & silent & 1u << i) gxi_add(t, "; device %d has reported nothing: its kernel failed, "
                                               "ended early, or has not started", b->ordinals[i]);
    return parts != 0;
}

/* A context of the barrier that was destroyed outside gpuexec: the barrier's host memory may have been freed with it.
   NULL if all exist. */
static gxi_slot *gxi_barrier_gone(const gxi_call *call, const gxi_barrier *b) {
    unsigned i;
    for (i = 0; i < b->count; i++) {
        gxi_slot *slot = gxi_peek(b->contexts[i], GXI_CONTEXT);
        if (slot && !gxi_multi_lives(call, b->contexts[i])) return slot;
    }
    return NULL;
}
static gxi_slot *gxi_find_barrier(gxi_call *call, gpuexec_barrier barrier) {
    gxi_slot *slot = gxi_get(call, barrier.id, GXI_BARRIER, "the barrier"),
             *gone = slot ? gxi_barrier_gone(call, slot->is.barrier.info) : NULL;
    if (!gone) return slot;
    gxi_fail(call, GPUEXEC_STALE_HANDLE, NULL, "the barrier is stale: its context %p was destroyed outside gpuexec",
             (void *)gone->cu_context);
    gxi_context_close(call, gone);
    return NULL;
}

static gpuexec_result gxi_barrier_broken(gxi_call *call, gxi_barrier *b) {
    gxi_text t = { 0, 0, 0, 0 };
    gpuexec_result result = GPUEXEC_OK;
    if (gxi_barrier_explain(&t, b)) {
        GXI_STORE(&b->shown, 1);
        result = gxi_fail(call, GPUEXEC_BARRIER_BROKEN,
                          GXI_LOAD(&b->aborted)
                          ? "when no kernel is running, call gpuexec_barrier_reset to use the barrier again"
                          : "make sure that every block on every device uses its own device's gpuexec_barrier_address, "
                            "and reaches the barrier the same number of times (rounds are counted from its creation "
                            "or reset) and within gpuexec_barrier_desc.timeout_seconds. When no kernel is running, "
                            "call gpuexec_barrier_reset to use the barrier again",
                          "the barrier over %u device%s%s%s is broken: %s", b->count, gxi_s(b->count),
                          GXI_PART(" created at ", b->where),
                          t.p ? t.p : "");
    }
    gxi_text_free(&t);
    return result;
}
static int gxi_barrier_has(const gxi_barrier *b, const struct CUctx_st *context) {
    unsigned i;
    for (i = 0; i < b->count; i++) if (b->cu_contexts[i] == context) return 1;
    return 0;
}
static GXI_COLD gpuexec_result gxi_look_at_barriers(gxi_call *call, const struct CUctx_st *context, int news) {
    gpuexec_result result = GPUEXEC_OK;
    gxi_barrier *b;
    gxi_lock(&gxi_barriers_mutex);
    for (b = gxi_barriers; b && !result; b = b->next)
        if (gxi_barrier_has(b, context) && !(news && GXI_LOAD(&b->shown)) && !gxi_barrier_gone(call, b))
        result = gxi_barrier_broken(call, b);
    gxi_unlock(&gxi_barriers_mutex);
    return result;
}
/* For the text of a kernel's failure: makes the devices that still wait at a barrier leave and report where they were.
   They do so at once if they still can. Waits up to a tenth of a second for the first report, and after it for all
   devices but one. */
static GXI_COLD void gxi_add_barriers(gxi_text *t) {
    enum { GXI_FIRST_MS = 100, GXI_ALL_MS = 500 };
    unsigned i, ms, silent;
    int waits = 1;
    gxi_barrier *b;
    const gxi_call query = { "gpuexec_barrier_check", NULL, GXI_QUERIES, 0, 0, 0, 0, 0 };    /* the name in the trace */
    gxi_lock(&gxi_barriers_mutex);
    for (b = gxi_barriers; b; b = b->next)
        if (!gxi_barrier_gone(&query, b)) gxi_barrier_leave(b, NULL, NULL);
    for (ms = 0; waits && ms < GXI_ALL_MS; ms++) {
        waits = 0;
        for (b = gxi_barriers; b; b = b->next) {
            if (!GXI_LOAD(&b->given) || gxi_barrier_gone(&query, b)) continue;
            for (i = 0, silent = 0; i < b->count; i++) silent += gxi_barrier_report(b, i) == 0;
            waits |= silent > 1 && (silent < b->count || ms < GXI_FIRST_MS);
        }
        if (waits) gxi_sleep_ms(1);
    }
    for (b = gxi_barriers; b; b = b->next) {
        gxi_text said = { 0, 0, 0, 0 };
        int reported = 0;
        if (gxi_barrier_gone(&query, b)) continue;
        for (i = 0; i < b->count; i++) reported |= gxi_barrier_report(b, i) != 0;
        if (reported && gxi_barrier_explain(&said, b)) {
            GXI_STORE(&b->shown, 1);
            gxi_add(t, "; at the barrier%s%s: %s", GXI_PART(" created at ", b->where), said.p ? said.p : "");
        }
        gxi_text_free(&said);
    }
    gxi_unlock(&gxi_barriers_mutex);
}
static int gxi_barrier_end(gxi_call *call, gxi_slot *old) {
    gxi_barrier *b = old->is.barrier.info;
    gxi_lock(&gxi_barriers_mutex);
    *b->from = b->next;
    if (b->next) b->next->from = b->from;
    gxi_unlock(&gxi_barriers_mutex);
    return gxi_barrier_free(call, b);
}
/* Closes a barrier. Returns that it was broken if no call has returned that yet, or the driver's failure. */
static gpuexec_result gxi_barrier_destroy(gxi_call *call, gxi_slot *slot) {
    gxi_barrier *b = slot->is.barrier.info;
    gpuexec_result result = GXI_LOAD(&b->shown) || gxi_barrier_gone(call, b) ? GPUEXEC_OK : gxi_barrier_broken(call, b);
    if (gxi_destroy(call, slot) && !result) result = gxi_fail_cu(call, NULL, "cannot free the barrier's memory");
    return result;
}
/* Closes the barriers that a context is part of, before the context is closed. */
static gpuexec_result gxi_barriers_end(gxi_call *call, uint64_t context) {
    gpuexec_result result = GPUEXEC_OK;
    for (;;) {
        uint64_t found = 0;
        gxi_barrier *b;
        gxi_slot *slot;
        unsigned i;
        gxi_lock(&gxi_barriers_mutex);
        for (b = gxi_barriers; b && !found; b = b->next)
            for (i = 0; i < b->count; i++) if (b->contexts[i] == context) found = b->id;
        gxi_unlock(&gxi_barriers_mutex);
        if (!found) return result;
        if ((slot = gxi_peek(found, GXI_BARRIER)) != NULL) {
            const gpuexec_result ended = gxi_barrier_destroy(call, slot);
            if (!result) result = ended;
        }
    }
}

/* Enables peer access between all pairs. 0 if a pair does not support it, or a device has no peer left to enable; -1
   after a failure. */
static int gxi_all_peers(gxi_call *call, const gxi_barrier *b, gxi_slot *const *slots) {
    unsigned i, k;
    for (i = 0; i < b->count; i++) for (k = 0; k < b->count; k++) {
        const int can = i == k ? 1
            : gxi_can_access(call, gxi_context_of(slots[i])->device, gxi_context_of(slots[k])->device, b->ordinals[i],
                             b->ordinals[k]);
        if (can <= 0) return can;
    }
    for (i = 0; i < b->count; i++) for (k = 0; k < b->count; k++) {
        gxi_scope scope;
        int cu;
        if (i == k) continue;
        if (gxi_enter(call, b->cu_contexts[i], &scope)) return -1;
        cu = GXI_TRY(cuCtxEnablePeerAccess, (b->cu_contexts[k], 0));
        gxi_leave(&scope);
        if (cu == GXI_PEER_ACCESS_UNSUPPORTED || cu == GXI_TOO_MANY_PEERS) return 0;
        if (cu && cu != GXI_PEER_ACCESS_ALREADY_ENABLED) {
            gxi_fail_cu(call, NULL, "cannot enable peer access from device %d to device %d", b->ordinals[i],
                        b->ordinals[k]);
            return -1;
        }
    }
    return 1;
}

/* Fills in the barrier's devices. */
static gpuexec_result gxi_barrier_join(gxi_call *call, gxi_barrier *b, const gpuexec_context *contexts, unsigned count,
                                       gxi_slot **slots) {
    unsigned i, k;
    for (i = 0; i < count; i++) {
        char is[32];
        snprintf(is, sizeof is, "contexts[%u]", i);
        if (!(slots[i] = gxi_get(call, contexts[i].id, GXI_CONTEXT, is))) return gxi_failed_with();
        b->contexts[i] = contexts[i].id;
        b->cu_contexts[i] = slots[i]->cu_context;
        b->ordinals[i] = gxi_context_of(slots[i])->ordinal;
        for (k = 0; k < i; k++) if (b->ordinals[k] == b->ordinals[i])
            return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass each device once: one grid runs on each",
                            "contexts[%u] and contexts[%u] are both on device %d",
                            k, i, b->ordinals[i]);
    }
    b->count = count;
    return GPUEXEC_OK;
}
/* Allocates the part of device i, whose context is current; with the first device's, also the host memory. */
static int gxi_barrier_alloc(gxi_call *call, gxi_barrier *b, unsigned i) {
    gpuexec_ptr memory = 0;
    void *host = NULL;
    int cu = GXI_TRY_MAKE(memory, cuMemAlloc, (&memory, sizeof(gxi_barrier_device)));
    if (cu) return cu;
    b->memory[i] = memory;
    if (i) return 0;
    cu = GXI_TRY_MAKE(host, cuMemHostAlloc,
                      (&host, GXI_BARRIER_HOST_BYTES, GXI_MEMHOSTALLOC_PORTABLE | GXI_MEMHOSTALLOC_DEVICEMAP));
    if (cu == 0) b->host = (char *)host;
    return cu;
}
static int gxi_barrier_write(gxi_call *call, gxi_barrier *b, unsigned i) {
    gxi_barrier_device d;
    gpuexec_ptr host = 0;
    unsigned k;
    const int cu = GXI_TRY_MAKE(host, cuMemHostGetDevicePointer, (&host, b->host, 0));
    if (cu) return cu;
    memset(&d, 0, sizeof d);
    d.rank = i;
    d.count = b->count;
    d.through_host = !b->direct;
    d.replicas = b->direct ? GXI_BARRIER_REPLICAS : 1;
    d.timeout = (uint64_t)(b->timeout_seconds * 1e9);
    d.abort_word = host;
    d.report = host + GXI_BARRIER_REPORTS + 8 * i;
    for (k = 0; k < b->count; k++) d.to[k] = gxi_barrier_words(b, k, host) + 8 * i;
    d.from = gxi_barrier_words(b, i, host);
    return gxi_copy_in_whole(call, b->memory[i], &d, GXI_BARRIER_COUNTS);
}
/* Calls `does` for each device, in its context. */
static gpuexec_result gxi_barrier_each(gxi_call *call, gxi_barrier *b, int (*does)(gxi_call *, gxi_barrier *, unsigned),
                                       const char *fails, const char *how) {
    unsigned i;
    for (i = 0; i < b->count; i++) {
        gxi_scope scope;
        int cu;
        if (gxi_enter(call, b->cu_contexts[i], &scope)) return gxi_failed_with();
        cu = does(call, b, i);
        gxi_leave(&scope);
        if (cu) return gxi_fail_cu(call, NULL, "%sdevice %d%s", fails, b->ordinals[i], how);
    }
    return GPUEXEC_OK;
}
/* Gives the barrier a handle and puts it into the list of barriers; 0 after a failure. */
static uint64_t gxi_barrier_enlist(gxi_call *call, gxi_barrier *b) {
    gxi_slot made;
    memset(&made, 0, sizeof made);
    made.is.barrier.info = b;
    gxi_lock(&gxi_barriers_mutex);
    b->id = gxi_new(call, GXI_BARRIER, &made, &gxi.first[GXI_BARRIER]);
    if (b->id) {
        b->where = gxi_peek(b->id, GXI_BARRIER)->where;
        b->from = &gxi_barriers;
        b->next = gxi_barriers;
        if (b->next) b->next->from = &b->next;
        gxi_barriers = b;
        gxi_lock(&gxi_tables);
        GXI_STORE(&gxi.add_barriers, &gxi_add_barriers);
        GXI_STORE(&gxi.look_at_barriers, &gxi_look_at_barriers);
        GXI_STORE(&gxi.context_ends[1], &gxi_barriers_end);
        GXI_STORE(&gxi.barriers, gxi.barriers + 1);
        gxi_unlock(&gxi_tables);
    }
    gxi_unlock(&gxi_barriers_mutex);
    return b->id;
}
static uint64_t gxi_barrier_make(gxi_call *call, gxi_barrier *b, const gpuexec_context *contexts, unsigned count,
                                 int host_memory) {
    gxi_slot *slots[GXI_MULTI_MOST];
    if (gxi_barrier_join(call, b, contexts, count, slots)) return 0;
    if (!host_memory && (b->direct = gxi_all_peers(call, b, slots)) < 0) return 0;
    if (gxi_barrier_each(call, b, gxi_barrier_alloc, "cannot allocate memory on ", " for its part of a barrier"))
        return 0;
    if (gxi_barrier_clear(call, b)) {
        gxi_fail_cu(call, NULL, "cannot write the barrier's memory");
        return 0;
    }
    if (gxi_barrier_each(call, b, gxi_barrier_write, "cannot write the barrier's part on ", "")) return 0;
    return gxi_barrier_enlist(call, b);
}
static gpuexec_result gxi_check_barrier(gxi_call *call, const gpuexec_context *contexts, unsigned count,
                                        const gpuexec_barrier_desc *desc) {
    if (gxi_check_desc(call, "gpuexec_barrier_desc", desc->start_canary, desc->end_canary) || gxi_begin(call))
        return gxi_failed_with();
    if (!contexts || count < 1 || count > GXI_MULTI_MOST)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "%scount is %u; pass an array of 1 to %d contexts",
                        contexts ? "" : "contexts is NULL, but ", count, GXI_MULTI_MOST);
    if (desc->timeout_seconds >= 0 && desc->timeout_seconds <= 1e9) return GPUEXEC_OK;
    return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass a positive number of seconds, or 0 for the default of 10 seconds",
                    "gpuexec_barrier_desc.timeout_seconds is %g", desc->timeout_seconds);
}
GPUEXEC_API gpuexec_barrier gpuexec_barrier_create_at(const char *where, const gpuexec_context *contexts,
                                                      unsigned count, const gpuexec_barrier_desc *desc) {
    static const gpuexec_barrier_desc defaults = { 0, 0, 0, 0 };
    gpuexec_barrier handle = { 0 };
    gxi_barrier *b = NULL;
    GXI_CALL(gpuexec_barrier_create, GXI_MAKES);
    if (!desc) desc = &defaults;
    if (gxi_check_barrier(call, contexts, count, desc) == GPUEXEC_OK) {
        b = (gxi_barrier *)gxi_realloc(NULL, sizeof *b);
        if (!b) gxi_fail_memory(call, "create a barrier");
    }
    if (b) {
        memset(b, 0, sizeof *b);
        b->timeout_seconds = desc->timeout_seconds > 0 ? desc->timeout_seconds : 10;
        handle.id = gxi_barrier_make(call, b, contexts, count, desc->host_memory);
    }
    if (handle.id) return handle;
    handle.id = gxi_failed_id(GXI_BARRIER);      /* before freeing, which may fail too */
    if (b) gxi_barrier_free(call, b);
    return handle;
}

GPUEXEC_API gpuexec_ptr gpuexec_barrier_address_at(const char *where, gpuexec_barrier barrier, unsigned index) {
    char indices[GXI_INDICES];
    gxi_slot *slot;
    gxi_barrier *b;
    GXI_CALL(gpuexec_barrier_address, GXI_MAKES);
    if (!(slot = gxi_find_barrier(call, barrier))) return 0;
    b = slot->is.barrier.info;
    if (index < b->count) {
        GXI_STORE(&b->given, 1);
        return b->memory[index];
    }
    gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "there is no index %u: the barrier is over %u device%s%s",
             index, b->count, gxi_s(b->count), gxi_indices(indices, b->count));
    return 0;
}
GPUEXEC_API int gpuexec_barrier_is_direct(gpuexec_barrier barrier) {
    GXI_CALL_NO_PLACE(gpuexec_barrier_is_direct, GXI_QUERIES);
    gxi_slot *slot = gxi_find_barrier(call, barrier);
    return slot ? slot->is.barrier.info->direct : 0;
}
GPUEXEC_API gpuexec_result gpuexec_barrier_check(gpuexec_barrier barrier) {
    GXI_CALL_NO_PLACE(gpuexec_barrier_check, GXI_QUERIES);
    gxi_slot *slot = gxi_find_barrier(call, barrier);
    return slot ? gxi_barrier_broken(call, slot->is.barrier.info) : gxi_failed_with();
}
GPUEXEC_API gpuexec_result gpuexec_barrier_abort_at(const char *where, gpuexec_barrier barrier) {
    GXI_CALL(gpuexec_barrier_abort, GXI_CLEANS);
    gxi_slot *slot = gxi_find_barrier(call, barrier);
    if (!slot) return gxi_failed_with();
    gxi_barrier_leave(slot->is.barrier.info, "gpuexec_barrier_abort was called", where);
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_barrier_reset_at(const char *where, gpuexec_barrier barrier) {
    GXI_CALL(gpuexec_barrier_reset, GXI_MAKES);
    gxi_slot *slot = gxi_find_barrier(call, barrier);
    if (!slot) return gxi_failed_with();
    return gxi_barrier_clear(call, slot->is.barrier.info)
        ? gxi_fail_cu(call, NULL, "cannot write the barrier's memory") : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_barrier_destroy_at(const char *where, gpuexec_barrier barrier) {
    gxi_slot *slot;
    unsigned i;
    GXI_CALL(gpuexec_barrier_destroy, GXI_CLEANS);
    if (gxi_was_never_made(barrier.id, GXI_BARRIER)) return GPUEXEC_OK;
    if (!(slot = gxi_find_barrier(call, barrier))) return gxi_failed_with();
    for (i = 0; i < slot->is.barrier.info->count && GXI_LOAD(&gxi.capturing); i++) {
        const gxi_slot *stream = GXI_LOAD(&gxi.capturing)(call, slot->is.barrier.info->cu_contexts[i]);
        if (stream)
            return gxi_fail(call, GPUEXEC_CAPTURING, "end the capture first: gpuexec_capture_end",
                            "cannot destroy the barrier, which waits for device %d: its stream created at %s captures",
                            slot->is.barrier.info->ordinals[i], gxi_place(stream->where));
    }
    return gxi_barrier_destroy(call, slot);
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-multi   A launch that passed all checks is kept in gxi_multi_launches, with the events that order its streams,
   so that repeating it costs only the driver's calls. */

typedef struct gxi_multi_part { uint64_t kernel, stream; gpuexec_dims dims; } gxi_multi_part;
typedef struct gxi_multi_launch {                /* a launch that passed all checks */
    unsigned            count;                   /* 0: a free entry */
    gxi_multi_part      parts[GXI_MULTI_MOST];
    uint64_t            contexts[GXI_MULTI_MOST];
    struct CUctx_st    *cu_contexts[GXI_MULTI_MOST];
    struct CUevent_st  *events[GXI_MULTI_MOST];  /* one for each stream */
} gxi_multi_launch;
enum { GXI_MULTI_KEPT = 8 };
static gxi_multi_launch gxi_multi_launches[GXI_MULTI_KEPT];
static unsigned gxi_multi_next;
/* one multi-device launch at a time: if two were interleaved, they would wait for each other */
static gxi_mutex gxi_multi_mutex = GXI_MUTEX_INIT;

static void gxi_multi_drop(const gxi_call *call, gxi_multi_launch *m) {
    unsigned i;
    for (i = 0; i < m->count; i++)
        if (m->events[i] && gxi_multi_lives(call, m->contexts[i])) GXI_BESIDE(cuEventDestroy, (m->events[i]));
    memset(m, 0, sizeof *m);
}
/* Before a context is closed: drops the launches that use it. */
static gpuexec_result gxi_multi_forget(gxi_call *call, uint64_t context) {
    unsigned k, i;
    gxi_lock(&gxi_multi_mutex);
    for (k = 0; k < GXI_MULTI_KEPT; k++)
        for (i = 0; i < gxi_multi_launches[k].count; i++)
            if (gxi_multi_launches[k].contexts[i] == context) {
                gxi_multi_drop(call, &gxi_multi_launches[k]);
                break;
            }
    gxi_unlock(&gxi_multi_mutex);
    return GPUEXEC_OK;
}

/* dims: with y and z filled in */
typedef struct gxi_multi_device { gxi_slot *kernel, *stream; gpuexec_dims dims; int ordinal, device; } gxi_multi_device;

/* Formats the argument's name only on failure: four launches take 30 us, and formatting eight names would add one. */
static gxi_slot *gxi_multi_get(gxi_call *call, uint64_t id, unsigned kind, const char *member, unsigned i) {
    gxi_slot *slot = gxi_peek(id, kind);
    char is[24];
    if (slot && !slot->borrowed) return slot;
    snprintf(is, sizeof is, "launches[%u].%s", i, member);
    return gxi_get(call, id, kind, is);
}

/* The rules between devices `0` and i, after each part has passed its checks. */
static GXI_COLD gpuexec_result gxi_multi_compare(gxi_call *call, const gxi_multi_device *d, unsigned i) {
    static const int same[] = { GXI_FUNC_NUM_REGS, GXI_FUNC_SHARED_SIZE_BYTES, GXI_FUNC_CONST_SIZE_BYTES,
                                GXI_FUNC_LOCAL_SIZE_BYTES, GXI_FUNC_MAX_THREADS_PER_BLOCK, GXI_FUNC_PTX_VERSION,
                                GXI_FUNC_BINARY_VERSION };
    enum { GXI_COMPARED = sizeof same / sizeof same[0], GXI_DIMS = sizeof(gpuexec_dims) / sizeof(unsigned) };
    static const char *const dims_names[GXI_DIMS] = { "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
                                                      "shared_bytes" };
    static const char *const same_names[] = { "registers per thread", "bytes of static shared memory",
                                              "bytes of constants", "bytes of local memory",
                                              "threads per block at most", "as its PTX version",
                                              "as its binary version" };
    const gxi_kernel *a = d[0].kernel->is.kernel.info, *b = d[i].kernel->is.kernel.info;
    const gxi_slot *ma = gxi_peek(a->module, GXI_MODULE), *mb = gxi_peek(b->module, GXI_MODULE);
    char names[2][256] = { "", "" };
    int n[2], c[2], v[2][GXI_COMPARED];
    unsigned dims[2][GXI_DIMS], k;
    for (k = 0; k < 2; k++)
        if (GXI_TRY(cuDeviceGetName, (names[k], (int)sizeof names[k], d[k ? i : 0].device)))
            return gxi_fail_cu(call, NULL, "cannot query the name of device %d", d[k ? i : 0].ordinal);
    if (strcmp(names[0], names[1]) != 0)
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "launch on devices of one model only",
                        "device %d is \"%s\", but device %d is \"%s\"; "
                        "a multi-device launch requires devices of one model", d[0].ordinal, names[0], d[i].ordinal,
                        names[1]);
    for (k = 0; k < 2; k++) {
        const int device = d[k ? i : 0].device;
        if (gxi_attribute(call, device, GXI_DEV_MULTIPROCESSOR_COUNT, &n[k]) || gxi_capability(call, device, &c[k]))
            return gxi_fail_cu(call, NULL, "cannot compare devices %d and %d", d[0].ordinal, d[i].ordinal);
    }
    if (n[0] != n[1] || c[0] != c[1])
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED,
                        "launch on identical devices only (MIG slices and partly disabled devices differ)",
                        "device %d has %d multiprocessors and compute capability %d.%d, but device %d has %d "
                        "multiprocessors and compute capability %d.%d; a multi-device launch requires identical "
                        "devices",
                        d[0].ordinal, n[0], c[0] / 10, c[0] % 10, d[i].ordinal, n[1], c[1] / 10, c[1] % 10);
    if (strcmp(a->name, b->name) != 0)
        return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "get the kernel of the same name from the same image on each device",
                        "the kernels are not the same code: device %d has \"%s\", but device %d has \"%s\"",
                        d[0].ordinal,
                        a->name, d[i].ordinal, b->name);
    if (ma && mb && ma->is.module.info->image_hash && mb->is.module.info->image_hash &&
        ma->is.module.info->image_hash != mb->is.module.info->image_hash)
        return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "load the same image on each device",
                        "the kernels are not the same code: \"%s\" on device %d is from %s, but on device %d it is "
                        "from %s, and these images differ", a->name, d[0].ordinal, ma->is.module.info->name,
                        d[i].ordinal, mb->is.module.info->name);
    for (k = 0; k < 2; k++)
        if (gxi_attributes(call, 0, d[k ? i : 0].kernel->is.kernel.native, same, GXI_COMPARED, v[k]))
            return gxi_fail_cu(call, NULL, "cannot compare %s on devices %d and %d", a->title,
                               d[0].ordinal, d[i].ordinal);
    for (k = 0; k < GXI_COMPARED; k++)
        if (v[0][k] != v[1][k])
            return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "load the same image with the same options on each device",
                            "the kernels are not the same code: \"%s\" has %d %s on device %d, but %d on device %d",
                            a->name, v[0][k], same_names[k],
                            d[0].ordinal, v[1][k], d[i].ordinal);
    memcpy(dims[0], &d[0].dims, sizeof dims[0]);
    memcpy(dims[1], &d[i].dims, sizeof dims[1]);
    for (k = 0; k < GXI_DIMS; k++)
        if (dims[0][k] != dims[1][k])
            return gxi_fail(call, GPUEXEC_BAD_LAUNCH, "use the same dims on each device",
                            "%s is %u on device %d, but %u on device %d (%s); all devices of a multi-device launch "
                            "must have the same grid, block and shared memory",
                            dims_names[k], dims[0][k], d[0].ordinal,
                            dims[1][k], d[i].ordinal, a->title);
    return GPUEXEC_OK;
}

/* The rules for a single part. */
static GXI_COLD gpuexec_result gxi_multi_part_check(gxi_call *call, const gxi_multi_device *d, unsigned i) {
    const gxi_kernel *kernel = d[i].kernel->is.kernel.info;
    const gxi_slot *module = gxi_peek(kernel->module, GXI_MODULE);
    int cooperative;
    unsigned k;
    if (d[i].stream->legacy)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "create one with gpuexec_stream_create",
                        "the stream is a default stream (legacy or per-thread) on device %d; "
                        "a multi-device launch requires created streams", gxi_ordinal_of(d[i].stream));
    for (k = 0; k < i; k++) if (d[k].ordinal == d[i].ordinal)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "pass one launch for each device",
                        "launches[%u] is already on device %d; each device can have only one launch",
                        k, d[i].ordinal);
    if (gxi_attribute(call, d[i].device, GXI_DEV_COOPERATIVE_LAUNCH, &cooperative))
        return gxi_fail_device(call, d[i].ordinal);
    if (!cooperative)
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, NULL, "device %d does not support cooperative launches "
                        "(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH is 0)", d[i].ordinal);
    if (module && module->is.module.info->device_launches)
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "put kernels that launch others into a separate image",
                        "%s on device %d is from an image with dynamic parallelism, "
                        "which a multi-device launch does not allow", kernel->title, d[i].ordinal);
    return GPUEXEC_OK;
}
/* Whether all its blocks can be resident, with the shared memory limit that it has by now. */
static GXI_COLD gpuexec_result gxi_multi_part_fits(gxi_call *call, const gxi_multi_device *d,
                                                   const gpuexec_args *args) {
    const gpuexec_dims *dims = &d->dims;
    const uint64_t blocks = (uint64_t)dims->grid_x * dims->grid_y * dims->grid_z,
        threads = (uint64_t)dims->block_x * dims->block_y * dims->block_z;
    int cu, per_multiprocessor = 0, multiprocessors;
    gxi_scope scope;
    if (gxi_attribute(call, d->device, GXI_DEV_MULTIPROCESSOR_COUNT, &multiprocessors))
        return gxi_fail_device(call, d->ordinal);
    if (gxi_enter(call, d->kernel->cu_context, &scope)) return gxi_failed_with();
    cu = GXI_TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor,
                 (&per_multiprocessor, d->kernel->is.kernel.native, (int)threads, dims->shared_bytes));
    gxi_leave(&scope);
    if (cu && cu != GXI_INVALID_VALUE)           /* returned for impossible blocks, explained below */
        return gxi_fail_cu(call, NULL, "cannot query how many blocks of %s can be resident on device %d",
                           d->kernel->is.kernel.info->title, d->ordinal);
    if (cu == 0 && blocks && blocks <= (uint64_t)per_multiprocessor * (unsigned)multiprocessors) return GPUEXEC_OK;
    gxi_said(call, NULL, GXI_COOPERATIVE_TOO_LARGE);             /* not returned by a driver call */
    return gxi_fail_launch(call, GXI_COOPERATIVE_TOO_LARGE, d->kernel, dims, args, &gxi_cooperative);
}
static GXI_COLD gpuexec_result gxi_multi_part_ready(gxi_call *call, const gpuexec_device_launch *list,
                                                    const gxi_multi_device *d, unsigned i) {
    const gpuexec_result result = gxi_multi_part_check(call, d, i);
    int cu;
    if (result) return result;
    cu = gxi_raise_shared(call, d[i].kernel, d[i].dims.shared_bytes);
    return cu ? gxi_fail_launch(call, cu, d[i].kernel, &d[i].dims, &list[i].args, &gxi_cooperative)
        : gxi_multi_part_fits(call, &d[i], &list[i].args);
}

/* Checks all rules. */
static GXI_COLD gpuexec_result gxi_multi_check(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                               const gxi_multi_device *d) {
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    gpuexec_result result = GPUEXEC_OK;
    char subject[32];
    unsigned i;
    if (blocking && *blocking && strcmp(blocking, "0") != 0)
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "unset CUDA_LAUNCH_BLOCKING",
                        "the environment has CUDA_LAUNCH_BLOCKING=%s: the first device's launch would wait for "
                        "its kernel, "
                        "which may wait for the other devices",
                        blocking);
    for (i = 0; i < count && !result; i++) {
        snprintf(subject, sizeof subject, "launches[%u]: ", i);
        call->subject = subject;
        result = gxi_multi_part_ready(call, list, d, i);
    }
    call->subject = NULL;
    for (i = 1; i < count && !result; i++) result = gxi_multi_compare(call, d, i);
    return result;
}
/* Keeps a launch that passed the checks, with an event for each device. */
static GXI_COLD gpuexec_result gxi_multi_keep(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                              const gxi_multi_device *d,
                                              gxi_multi_launch *m) {
    unsigned i;
    gxi_multi_drop(call, m);
    GXI_STORE(&gxi.context_ends[0], &gxi_multi_forget);
    for (i = 0; i < count; i++) {
        gxi_scope scope;
        int cu;
        m->parts[i].kernel = list[i].kernel.id;
        m->parts[i].stream = list[i].stream.id;
        m->parts[i].dims = d[i].dims;
        m->contexts[i] = d[i].stream->context;
        m->cu_contexts[i] = d[i].stream->cu_context;
        if (gxi_enter(call, m->cu_contexts[i], &scope)) {
            gxi_multi_drop(call, m);
            return gxi_failed_with();
        }
        cu = GXI_TRY_MAKE(m->events[i], cuEventCreate, (&m->events[i], GXI_EVENT_DISABLE_TIMING));
        gxi_leave(&scope);
        if (cu) {
            gxi_multi_drop(call, m);
            return gxi_fail_cu(call, NULL, "cannot create an event on device %d for a multi-device launch",
                               d[i].ordinal);
        }
        m->count = i + 1;
    }
    return GPUEXEC_OK;
}

static GXI_NOINLINE int gxi_multi_record(gxi_call *call, const gxi_multi_launch *m, const gxi_multi_device *d,
                                         unsigned i) {
    return GXI_TRY(cuEventRecord, (m->events[i], d[i].stream->is.stream.native));
}
static GXI_NOINLINE int gxi_multi_wait(gxi_call *call, const gxi_multi_launch *m, const gxi_multi_device *d, unsigned i,
                                       unsigned other) {
    return GXI_TRY(cuStreamWaitEvent, (d[i].stream->is.stream.native, m->events[other], 0));
}
/* Makes every stream wait for all work enqueued so far on the others: a star around the first stream, which costs two
   waits across devices for each other stream. With two devices, both record first, which saves one of the two hops.
   Measured on H200s: see the README. */
static int gxi_multi_meet(gxi_call *call, unsigned count, const gxi_multi_launch *m, const gxi_multi_device *d) {
    unsigned i;
    int cu = count == 2 ? gxi_multi_record(call, m, d, 0) : 0;
    for (i = 1; i < count && cu == 0; i++) {
        cu = gxi_multi_record(call, m, d, i);
        if (cu == 0) cu = gxi_multi_wait(call, m, d, 0, i);
    }
    if (count > 2 && cu == 0) cu = gxi_multi_record(call, m, d, 0);
    for (i = 1; i < count && cu == 0; i++) cu = gxi_multi_wait(call, m, d, i, 0);
    return cu;
}

typedef struct gxi_launch_params {               /* CUDA_LAUNCH_PARAMS */
    struct CUfunc_st   *function;
    unsigned            grid[3], block[3], shared;
    struct CUstream_st *stream;
    void              **params;
} gxi_launch_params;

static GXI_COLD gpuexec_result gxi_multi_by_driver(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                                   const gxi_multi_device *d, unsigned flags) {
    gxi_launch_params params[GXI_MULTI_MOST];
    unsigned i;
    int can = 1;
    if (!GXI_HAS(cuLaunchCooperativeKernelMultiDevice))
        return gxi_fail(call, GPUEXEC_NOT_SUPPORTED, "set gpuexec_multi_desc.way to 0",
                        "this driver (CUDA %d.%d) has no cuLaunchCooperativeKernelMultiDevice",
                        gxi.version / 1000, gxi.version % 1000 / 10);
    for (i = 0; i < count; i++) {
        const gpuexec_dims *dims = &d[i].dims;
        if (gxi_attribute(call, d[i].device, GXI_DEV_COOPERATIVE_MULTI_DEVICE_LAUNCH, &can))
            return gxi_fail_device(call, d[i].ordinal);
        if (!can)
            return gxi_fail(call, GPUEXEC_NOT_SUPPORTED,
                            "set gpuexec_multi_desc.way to 0: separate launches do not need this attribute",
                            "device %d does not support the driver's multi-device launch "
                            "(CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH is 0)",
                            d[i].ordinal);
        params[i].function = d[i].kernel->is.kernel.native;
        params[i].grid[0] = dims->grid_x;
        params[i].grid[1] = dims->grid_y;
        params[i].grid[2] = dims->grid_z;
        params[i].block[0] = dims->block_x;
        params[i].block[1] = dims->block_y;
        params[i].block[2] = dims->block_z;
        params[i].shared = dims->shared_bytes;
        params[i].stream = d[i].stream->is.stream.native;
        params[i].params = (void **)(uintptr_t)list[i].args.addresses;
    }
    if (GXI_TRY(cuLaunchCooperativeKernelMultiDevice, (params, count, flags)) == 0) return GPUEXEC_OK;
    return gxi_fail_cu(call, "set gpuexec_multi_desc.way to 0", "cannot launch %s on %u devices",
                                                            d[0].kernel->is.kernel.info->title, count);
}

/* Aborts the kernels already started: the rest of the launch will never arrive. */
static GXI_COLD gpuexec_result gxi_multi_half(gxi_call *call, const gxi_multi_device *d, unsigned started,
                                              const gpuexec_multi_desc *desc, const gxi_slot *barrier) {
    gxi_text t = { 0, 0, 0, 0 };
    gpuexec_result result;
    unsigned i;
    if (started && barrier)
        gxi_barrier_leave(barrier->is.barrier.info, "a launch started only some of its kernels", call->where);
    if (started && desc->abort_word) GXI_STORE(desc->abort_word, 1);
    gxi_add(&t, "cannot launch %s on device %d", d[started].kernel->is.kernel.info->title,
            d[started].ordinal);
    if (started) gxi_add(&t, "; it had already started on device%s", gxi_s(started));
    for (i = 0; i < started; i++) gxi_add(&t, "%s%d", i ? ", " : " ", d[i].ordinal);
    if (started)
        gxi_add(&t, barrier || desc->abort_word ? ", and was aborted through the barrier"
                                            : ", and waits for the others if it uses a barrier: pass that in "
                                              "gpuexec_multi_desc.barrier or .abort_word");
    result = gxi_fail_cu(call, NULL, "%s", t.p ? t.p : "");
    gxi_text_free(&t);
    return result;
}

/* The device whose part of the barrier these bytes contain, as its index in the barrier, and the part's offset. -1 if
   they contain none, or also the part of `context` itself: a struct may have the parts of all devices. */
static int gxi_part_in(const gxi_barrier *b, const struct CUctx_st *context, const unsigned char *bytes, unsigned size,
                       unsigned *offset) {
    unsigned at, k;
    int found = -1;
    for (at = 0; at + sizeof(gpuexec_ptr) <= size; at += sizeof(gpuexec_ptr)) {      /* addresses have this alignment */
        gpuexec_ptr value;
        memcpy(&value, bytes + at, sizeof value);
        for (k = 0; k < b->count; k++) {
            if (value != b->memory[k]) continue;
            if (b->cu_contexts[k] == context) return -1;
            if (found < 0) *offset = at;
            if (found < 0) found = (int)k;
        }
    }
    return found;
}
/* Finds another device's part of the barrier as an argument, or in a struct that lacks this device's part: the typical
   result of GPUEXEC_ARGS in a loop. */
static int gxi_wrong_part(gxi_call *call, const gxi_barrier *b, const gpuexec_device_launch *one,
                          const gxi_slot *kernel, const struct CUctx_st *context, unsigned i) {
    const unsigned short *sizes = kernel->is.kernel.sizes ? kernel->is.kernel.sizes + 1 : one->args.sizes;
    unsigned argument, offset = 0;
    for (argument = 0; sizes && argument < one->args.count; argument++) {
        const unsigned char *value = (const unsigned char *)one->args.addresses[argument];
        const int k = gxi_part_in(b, context, value, sizes[argument], &offset);
        char at[32] = "is";
        if (k < 0) continue;
        if (sizes[argument] > sizeof(gpuexec_ptr)) snprintf(at, sizeof at, "holds, at byte %u,", offset);
        gxi_fail(call, GPUEXEC_BAD_PARAMETERS,
                 "pass the gpuexec_barrier_address of the launch's device; arguments that GPUEXEC_ARGS creates in a "
                 "loop are valid only during the same iteration: use gpuexec_params_args, or your own arrays",
                 "launches[%u]: argument %u (counted from 0) of %s %s device %d's part of the barrier", i,
                 argument, kernel->is.kernel.info->title, at, b->ordinals[k]);
        return 1;
    }
    return 0;
}

static gpuexec_result gxi_multi_check_desc(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                           const gpuexec_multi_desc *desc) {
    if (gxi_check_desc(call, "gpuexec_multi_desc", desc->start_canary, desc->end_canary) || gxi_begin(call))
        return gxi_failed_with();
    if (!list || count < 1 || count > GXI_MULTI_MOST)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL,
                        "%scount is %u; pass an array of 1 to %d launches, one for each device",
                        list ? "" : "launches is NULL, but ", count, GXI_MULTI_MOST);
    if ((unsigned)desc->way > GPUEXEC_MULTI_PER_DEVICE)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "set it to 0",
                        "gpuexec_multi_desc.way is %d, which is not a gpuexec_multi_way", (int)desc->way);
    return GPUEXEC_OK;
}
/* Checked at each launch, even one that is kept: handles, arguments, the barrier's part. */
static gpuexec_result gxi_multi_begin_part(gxi_call *call, const gpuexec_device_launch *one, unsigned i,
                                           const gxi_slot *barrier, gxi_multi_device *d) {
    const gxi_slot *context;
    char is[24];
    if (!(d->kernel = gxi_multi_get(call, one->kernel.id, GXI_KERNEL, "kernel", i)) ||
        !(d->stream = gxi_multi_get(call, one->stream.id, GXI_STREAM, "stream", i))) return gxi_failed_with();
    if (d->kernel->cu_context != d->stream->cu_context || !gxi_args_fit(d->kernel->is.kernel.sizes, &one->args)) {
        snprintf(is, sizeof is, "launches[%u]: ", i);
        call->subject = is;
        return d->kernel->cu_context != d->stream->cu_context
            ? gxi_fail_contexts(call, "use a stream of the kernel's context", d->kernel, d->stream)
            : gxi_fail_args(call, gxi_kernel_of(d->kernel)->title, d->kernel->is.kernel.sizes, &one->args);
    }
    if (barrier && gxi_wrong_part(call, barrier->is.barrier.info, one, d->kernel, d->stream->cu_context, i))
        return GPUEXEC_BAD_PARAMETERS;
    if (barrier && !gxi_barrier_has(barrier->is.barrier.info, d->stream->cu_context))
        return gxi_fail(call, GPUEXEC_WRONG_CONTEXT, "create the barrier over the contexts of the launch",
                        "launches[%u] is on device %d, whose context is not part of gpuexec_multi_desc.barrier", i,
                        gxi_ordinal_of(d->stream));
    context = gxi_peek(d->kernel->context, GXI_CONTEXT);
    d->ordinal = context ? gxi_context_of(context)->ordinal : -1;
    d->device = context ? gxi_context_of(context)->device : -1;
    d->dims = one->dims;
    gxi_fill_dims(&d->dims);
    return GPUEXEC_OK;
}
/* The same launch, if it is kept; otherwise NULL. */
static gxi_multi_launch *gxi_multi_find(const gpuexec_device_launch *list, unsigned count, const gxi_multi_device *d) {
    unsigned i, k;
    for (k = 0; k < GXI_MULTI_KEPT; k++) {
        gxi_multi_launch *m = &gxi_multi_launches[k];
        if (m->count != count) continue;
        for (i = 0; i < count; i++)
            if (m->parts[i].kernel != list[i].kernel.id || m->parts[i].stream != list[i].stream.id ||
                memcmp(&m->parts[i].dims, &d[i].dims, sizeof d[i].dims) != 0) break;
        if (i == count) return m;
    }
    return NULL;
}
static gpuexec_result gxi_multi_per_device(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                           const gxi_multi_device *d, const gxi_multi_launch *m,
                                           const gpuexec_multi_desc *desc, const gxi_slot *barrier) {
    unsigned i;
    if (!desc->no_pre_sync && gxi_multi_meet(call, count, m, d))
        return gxi_fail_cu(call, NULL, "cannot make the streams of a multi-device launch wait for each other");
    for (i = 0; i < count; i++) {
        gxi_note_launch(d[i].stream, list[i].kernel.id, call->where);
        if (gxi_launch_cu(call, d[i].kernel, d[i].stream, &d[i].dims, &list[i].args, &gxi_cooperative))
            return gxi_multi_half(call, d, i, desc, barrier);
    }
    if (!desc->no_post_sync && gxi_multi_meet(call, count, m, d))
        return gxi_fail_cu(call, NULL,
                           "cannot make the streams of a multi-device launch wait for all of its kernels");
    return GPUEXEC_OK;
}
static gpuexec_result gxi_multi_launch_all(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                           const gxi_multi_device *d,
                                           const gpuexec_multi_desc *desc, const gxi_slot *barrier) {
    gxi_multi_launch *m = gxi_multi_find(list, count, d);
    if (!m) {
        m = &gxi_multi_launches[gxi_multi_next++ % GXI_MULTI_KEPT];
        if (gxi_multi_check(call, list, count, d) || gxi_multi_keep(call, list, count, d, m)) return gxi_failed_with();
    }
    if (desc->way == GPUEXEC_MULTI_DRIVER)
        return gxi_multi_by_driver(call, list, count, d,
                                   (desc->no_pre_sync ? 1u : 0u) | (desc->no_post_sync ? 2u : 0u));
    return gxi_multi_per_device(call, list, count, d, m, desc, barrier);
}
static gpuexec_result gxi_launch_multi(gxi_call *call, const gpuexec_device_launch *list, unsigned count,
                                       const gpuexec_multi_desc *desc) {
    static const gpuexec_multi_desc defaults = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    gxi_multi_device d[GXI_MULTI_MOST];
    gpuexec_result result;
    gxi_slot *barrier = NULL;
    unsigned i;
    if (!desc) desc = &defaults;
    if (gxi_multi_check_desc(call, list, count, desc)) return gxi_failed_with();
    if (desc->barrier.id) {
        if (!(barrier = gxi_find_barrier(call, desc->barrier)) || gxi_barrier_broken(call, barrier->is.barrier.info))
            return gxi_failed_with();
        if (barrier->is.barrier.info->count != count)
            return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "create a barrier for exactly the devices of the launch",
                            "gpuexec_multi_desc.barrier is over %u device%s, but the launch is on %u",
                            barrier->is.barrier.info->count, gxi_s(barrier->is.barrier.info->count), count);
    }
    for (i = 0; i < count; i++) if (gxi_multi_begin_part(call, &list[i], i, barrier, &d[i])) return gxi_failed_with();
    gxi_lock(&gxi_multi_mutex);
    result = gxi_multi_launch_all(call, list, count, d, desc, barrier);
    gxi_unlock(&gxi_multi_mutex);
    return result;
}
GPUEXEC_API gpuexec_result gpuexec_launch_multi_device_at(const char *where, const gpuexec_device_launch *list,
                                                          unsigned count, const gpuexec_multi_desc *desc) {
    gpuexec_result result;
    unsigned i;
    GXI_CALL(gpuexec_launch_multi_device, GXI_WORKS);
    result = gxi_launch_multi(call, list, count, desc);
    for (i = 0; result && gxi_latched() && list && i < count && i < GXI_MULTI_MOST; i++) gxi_mark(list[i].stream.id);
    return result;
}

#endif /* GPUEXEC_NO_MULTI */

#if defined(GPUEXEC_NO_IPC) || !defined(__linux__)
static int gxi_ipc_end(gxi_call *call, gxi_slot *old) {              /* for the row of a kind that is never created */
    (void)call;
    (void)old;
    return 0;
}
#endif
#if !defined(GPUEXEC_NO_IPC)
/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-ipc   Objects of other processes. An object's bytes name the process that exported it by a number that each
   copy of the library draws at random: a process number may be used again, or belong to another namespace. */

#if !defined(__linux__)
#define GXI_IPC_NONE(kind, name, parameters, result, unused) \
    GPUEXEC_API kind name##_at parameters { \
        GXI_CALL(name, GXI_QUERIES); \
        unused; \
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED, NULL, "sharing between processes is only available on Linux"); \
        return result; \
    }
#define GXI_IPC_NO_HANDLE(KIND, kind, name, parameters, unused) \
    GPUEXEC_API kind name##_at parameters { \
        kind handle; \
        GXI_CALL(name, GXI_MAKES); \
        unused; \
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED, NULL, "sharing between processes is only available on Linux"); \
        handle.id = gxi_failed_id(KIND); \
        return handle; \
    }
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_export,
             (const char *where, gpuexec_ptr memory, gpuexec_ipc_object *object), GPUEXEC_NOT_SUPPORTED,
             (void)memory; (void)object)
GXI_IPC_NONE(gpuexec_ptr, gpuexec_ipc_import,
             (const char *where, gpuexec_context context, const gpuexec_ipc_object *object), 0,
             (void)context; (void)object)
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_export_event,
             (const char *where, gpuexec_event event, gpuexec_ipc_object *object), GPUEXEC_NOT_SUPPORTED,
             (void)event; (void)object)
GXI_IPC_NO_HANDLE(GXI_EVENT, gpuexec_event, gpuexec_ipc_import_event,
             (const char *where, gpuexec_context context, const gpuexec_ipc_object *object),
             (void)context; (void)object)
GXI_IPC_NONE(int, gpuexec_ipc_export_pool,
             (const char *where, gpuexec_pool pool), -1, (void)pool)
GXI_IPC_NO_HANDLE(GXI_POOL, gpuexec_pool, gpuexec_ipc_import_pool,
             (const char *where, gpuexec_context context, int fd), (void)context; (void)fd)
GXI_IPC_NONE(gpuexec_ptr, gpuexec_ipc_import_from,
             (const char *where, gpuexec_pool pool, const gpuexec_ipc_object *object), 0, (void)pool; (void)object)
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_get_info,
             (const char *where, const gpuexec_ipc_object *object, gpuexec_ipc_info *info), GPUEXEC_NOT_SUPPORTED,
             (void)object; (void)info)
GXI_IPC_NO_HANDLE(GXI_IPC, gpuexec_ipc, gpuexec_ipc_pair,
             (const char *where, int *child_fd), (void)child_fd)
GXI_IPC_NO_HANDLE(GXI_IPC, gpuexec_ipc, gpuexec_ipc_from_fd,
             (const char *where, int fd), (void)fd)
GXI_IPC_NO_HANDLE(GXI_IPC, gpuexec_ipc, gpuexec_ipc_listen,
             (const char *where, const char *name, int timeout_ms), (void)name; (void)timeout_ms)
GXI_IPC_NO_HANDLE(GXI_IPC, gpuexec_ipc, gpuexec_ipc_connect,
             (const char *where, const char *name, int timeout_ms), (void)name; (void)timeout_ms)
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_send,
             (const char *where, gpuexec_ipc connection, const char *label, unsigned long long value,
             const gpuexec_ipc_object *object), GPUEXEC_NOT_SUPPORTED,
             (void)connection; (void)label; (void)value; (void)object)
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_send_pool,
             (const char *where, gpuexec_ipc connection, const char *label, unsigned long long value,
             gpuexec_pool pool), GPUEXEC_NOT_SUPPORTED, (void)connection; (void)label; (void)value; (void)pool)
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_receive,
             (const char *where, gpuexec_ipc connection, gpuexec_ipc_message *message, int timeout_ms),
             GPUEXEC_NOT_SUPPORTED, (void)connection; (void)message; (void)timeout_ms)
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_wait,
             (const char *where, gpuexec_ipc connection, gpuexec_event event, int timeout_ms), GPUEXEC_NOT_SUPPORTED,
             (void)connection; (void)event; (void)timeout_ms)
GPUEXEC_API long gpuexec_ipc_peer(gpuexec_ipc connection) {
    (void)connection;
    return 0;
}
GXI_IPC_NONE(gpuexec_result, gpuexec_ipc_close,
             (const char *where, gpuexec_ipc connection), GPUEXEC_NOT_SUPPORTED, (void)connection)
#else
typedef struct gxi_ipc_object {                  /* the bytes of a gpuexec_ipc_object */
    char           magic[8];
    uint32_t       version, kind;
    uint64_t       process;                      /* drawn by the exporter */
    int64_t        pid;
    uint64_t       bytes;
    unsigned char  uuid[16];                     /* of the device; zeros: not known */
    gxi_ipc_handle handle;
    uint64_t       hash;                         /* of all before it */
} gxi_ipc_object;
typedef char gxi_ipc_object_fits[sizeof(gxi_ipc_object) == sizeof(gpuexec_ipc_object) ? 1 : -1];
typedef struct gxi_ipc_wire {                    /* a message */
    char               magic[8];
    uint32_t           version, kind;            /* a gpuexec_ipc_kind, or one of these */
    uint64_t           value;
    char               label[64];
    gpuexec_ipc_object object;
} gxi_ipc_wire;
enum { GXI_IPC_VERSION = 1, GXI_IPC_HELLO = 100, GXI_IPC_BYE };
static const char gxi_ipc_magic[8] = { 'g', 'p', 'u', 'e', 'x', 'e', 'c', '!' };
static const char *const gxi_ipc_kinds[] = { "nothing", "memory", "an event", "a pool", "memory of a pool" };

static uint64_t gxi_ipc_process(void) {
    static uint64_t drawn;
    uint64_t mine[4], now = GXI_LOAD(&drawn);
    FILE *file = now ? NULL : fopen("/dev/urandom", "rb");
    if (now) return now;
    mine[0] = (uint64_t)gxi_pid();
    mine[1] = (uint64_t)(uintptr_t)mine;         /* if there is no such file */
    mine[2] = gxi_thread_number();
    mine[3] = 0;
    if (file && fread(&mine[3], sizeof mine[3], 1, file) != 1) mine[3] = 0;
    if (file) fclose(file);
    gxi_lock(&gxi_tables);
    if (!drawn) GXI_STORE(&drawn, gxi_hash(mine, sizeof mine) | 1);
    gxi_unlock(&gxi_tables);
    return drawn;
}

static int gxi_ipc_uuid(gxi_call *call, const gxi_slot *context, unsigned char *uuid) {
    memset(uuid, 0, 16);
    return GXI_HAS(cuDeviceGetUuid) ? GXI_BESIDE(cuDeviceGetUuid, (uuid, gxi_context_of(context)->device)) : 0;
}
static void gxi_ipc_write(gxi_call *call, const gxi_slot *context, unsigned kind, uint64_t bytes,
                          const gxi_ipc_handle *handle, gpuexec_ipc_object *out) {
    gxi_ipc_object o;
    memset(&o, 0, sizeof o);
    memcpy(o.magic, gxi_ipc_magic, sizeof o.magic);
    o.version = GXI_IPC_VERSION;
    o.kind = kind;
    o.process = gxi_ipc_process();
    o.pid = gxi_pid();
    o.bytes = bytes;
    gxi_ipc_uuid(call, context, o.uuid);
    o.handle = *handle;
    o.hash = gxi_hash(&o, offsetof(gxi_ipc_object, hash));
    memcpy(out, &o, sizeof o);
}
/* Reads an object that must have that kind (0: any) and, unless its kind is any, belong to another process. */
static gpuexec_result gxi_ipc_read(gxi_call *call, const gpuexec_ipc_object *object, unsigned kind, gxi_ipc_object *o) {
    static const char *const importers[] = {
        "", "import it with gpuexec_ipc_import", "import it with gpuexec_ipc_import_event", "",
        "import it with gpuexec_ipc_import_from"
    };
    static const char cure[] = "pass the bytes from gpuexec_ipc_export or gpuexec_ipc_export_event, all 128 of them";
    memset(o, 0, sizeof *o);
    if (!object) return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, cure, "the object is NULL");
    memcpy(o, object, sizeof *o);
    if (memcmp(o->magic, gxi_ipc_magic, sizeof o->magic) != 0)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, cure, "the bytes are not an object of gpuexec: they do not begin "
                        "with its mark");
    if (o->version != GXI_IPC_VERSION)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use one version of gpuexec.h in all processes",
                        "the object has format %u, this gpuexec.h reads format %d", o->version, GXI_IPC_VERSION);
    if (o->hash != gxi_hash(o, offsetof(gxi_ipc_object, hash)) || o->kind < 1 || o->kind > GPUEXEC_IPC_POOL_MEMORY)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, cure, "the object's bytes were changed after its export: its "
                        "checksum is wrong");
    if (kind && o->kind != kind)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, importers[o->kind], "the object is %s, not %s",
                        gxi_ipc_kinds[o->kind], gxi_ipc_kinds[kind]);
    if (kind && o->process == gxi_ipc_process())
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use the exported address or event",
                        "this process exported the object: CUDA lets only other processes import it");
    return GPUEXEC_OK;
}
static gpuexec_result gxi_ipc_fail_import(gxi_call *call, const gxi_slot *context, const gxi_ipc_object *o) {
    unsigned char uuid[16], zeros[16];
    const char *other = "";
    memset(zeros, 0, sizeof zeros);
    gxi_ipc_uuid(call, context, uuid);
    if (memcmp(uuid, o->uuid, 16) && memcmp(o->uuid, zeros, 16)) other = ", which is on another device";
    return gxi_fail_cu(call, "check that the process that exported it still runs and has not freed or destroyed it, "
                       "and that both processes see its device", "cannot import %s that process %lld exported%s",
                       gxi_ipc_kinds[o->kind], (long long)o->pid, other);
}

/* --- memory, events, pools ---------------------------------------------------------------------------------------- */

static gpuexec_result gxi_ipc_check_memory(gxi_call *call, gpuexec_ptr memory, gxi_range *range) {
    if (gxi_check_release(call, memory, GPUEXEC_MEMORY_DEVICE, range)) return gxi_failed_with();
    if (range->pooled == GXI_OF_GRAPH)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "export memory from gpuexec_alloc", "0x%llx was allocated in a "
                        "capture, at %s: memory of a graph cannot be exported", memory, gxi_place(range->where));
    if (range->pooled == GXI_IMPORTED)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "let the process that allocated it export it to the third process",
                        "0x%llx was imported, at %s: only the process that allocated it can export it", memory,
                        gxi_place(range->where));
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_ipc_export_at(const char *where, gpuexec_ptr memory, gpuexec_ipc_object *object) {
    gxi_ipc_handle handle;
    const gxi_slot *context;
    gxi_range range;
    gxi_scope scope;
    int cu, pooled;
    GXI_CALL(gpuexec_ipc_export, GXI_MAKES);
    memset(&range, 0, sizeof range);
    memset(&handle, 0, sizeof handle);
    if (gxi_is_null(call, object, "object")) return gxi_failed_with();
    memset(object, 0, sizeof *object);
    if (gxi_ipc_check_memory(call, memory, &range) ||
        !(context = gxi_get(call, range.context, GXI_CONTEXT, "the memory's context")) ||
        gxi_enter(call, context->cu_context, &scope))
        return gxi_failed_with();
    pooled = range.pooled == GXI_POOLED;
    cu = pooled ? GXI_TRY(cuMemPoolExportPointer, (&handle, memory)) : GXI_TRY(cuIpcGetMemHandle, (&handle, memory));
    if (cu == 0)
        gxi_ipc_write(call, context, pooled ? GPUEXEC_IPC_POOL_MEMORY : GPUEXEC_IPC_MEMORY, range.bytes, &handle,
                      object);
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, pooled ? "allocate it with gpuexec_alloc, or from a pool with "
                            "gpuexec_pool_desc.exportable: other pools' memory cannot be exported" : NULL,
                            "cannot export the memory at 0x%llx (allocated at %s)", memory, gxi_place(range.where))
              : GPUEXEC_OK;
}
/* Notes an import. The driver returns an address again if the process has opened the memory before. */
static gpuexec_ptr gxi_ipc_note(gxi_call *call, gpuexec_ptr address, const gxi_ipc_object *o, uint64_t context,
                                int pooled) {
    gxi_range range;
    const int again = gxi_range_find(address, &range) && range.lo == address && range.pooled == GXI_IMPORTED;
    if (!again && gxi_range_add(address, o->bytes, context, call->where, GPUEXEC_MEMORY_DEVICE, pooled)) return address;
    if (pooled == GXI_POOLED) GXI_BESIDE(cuMemFree, (address));
    else GXI_BESIDE(cuIpcCloseMemHandle, (address));
    if (again)
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use that address", "this process has imported the memory already: it is "
                 "at 0x%llx (imported at %s)", address, gxi_place(range.where));
    else gxi_fail_memory(call, "record imported memory");
    return 0;
}
GPUEXEC_API gpuexec_ptr gpuexec_ipc_import_at(const char *where, gpuexec_context context,
                                              const gpuexec_ipc_object *object) {
    gpuexec_ptr address = 0;
    gxi_ipc_object o;
    const gxi_slot *slot;
    gxi_scope scope;
    GXI_CALL(gpuexec_ipc_import, GXI_MAKES);
    if (gxi_ipc_read(call, object, GPUEXEC_IPC_MEMORY, &o) || !(slot = gxi_begin_in(call, context, &scope))) return 0;
    /* the handle is passed as a struct, which GXI_TRY cannot trace */
    gxi_returned(call, "cuIpcOpenMemHandle",
                 gxi.cu.cuIpcOpenMemHandle(&address, o.handle, GXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), 2,
                 GXI_NUMBER(&address), GXI_NUMBER(GXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (call->cu == 0 && !address) gxi_note(call, GXI_MADE_NOTHING);
    if (call->cu) gxi_ipc_fail_import(call, slot, &o);
    else address = gxi_ipc_note(call, address, &o, slot->id, GXI_IMPORTED);
    gxi_leave(&scope);
    return call->cu ? 0 : address;
}
GPUEXEC_API gpuexec_result gpuexec_ipc_export_event_at(const char *where, gpuexec_event event,
                                                       gpuexec_ipc_object *object) {
    gxi_ipc_handle handle;
    const gxi_slot *slot, *context;
    gxi_scope scope;
    int cu;
    GXI_CALL(gpuexec_ipc_export_event, GXI_MAKES);
    memset(&handle, 0, sizeof handle);
    if (gxi_is_null(call, object, "object")) return gxi_failed_with();
    memset(object, 0, sizeof *object);
    if (!(slot = gxi_begin_with_event(call, event, "the event"))) return gxi_failed_with();
    if (!slot->interprocess && !slot->adopted)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "create it with gpuexec_event_desc.interprocess",
                        "the event cannot be exported: it was created for one process, at %s", gxi_place(slot->where));
    if (!(context = gxi_get(call, slot->context, GXI_CONTEXT, "the event's context")) ||
        gxi_enter(call, slot->cu_context, &scope))
        return gxi_failed_with();
    cu = GXI_TRY(cuIpcGetEventHandle, (&handle, slot->is.event.native));
    if (cu == 0) gxi_ipc_write(call, context, GPUEXEC_IPC_EVENT, 0, &handle, object);
    gxi_leave(&scope);
    return cu ? gxi_fail_cu(call, "export an event that this process created, with gpuexec_event_desc.interprocess "
                            "(elsewhere, with CU_EVENT_INTERPROCESS and CU_EVENT_DISABLE_TIMING)",
                            "cannot export the event") : GPUEXEC_OK;
}
GPUEXEC_API gpuexec_event gpuexec_ipc_import_event_at(const char *where, gpuexec_context context,
                                                      const gpuexec_ipc_object *object) {
    gpuexec_event handle = { 0 };
    struct CUevent_st *native = NULL;
    gxi_ipc_object o;
    const gxi_slot *slot;
    gxi_scope scope;
    GXI_CALL(gpuexec_ipc_import_event, GXI_MAKES);
    if (gxi_ipc_read(call, object, GPUEXEC_IPC_EVENT, &o) == GPUEXEC_OK &&
        (slot = gxi_begin_in(call, context, &scope)) != NULL) {
        gxi_returned(call, "cuIpcOpenEventHandle", gxi.cu.cuIpcOpenEventHandle(&native, o.handle), 1,
                     GXI_NUMBER(&native));
        if (call->cu == 0 && !native) gxi_note(call, GXI_MADE_NOTHING);
        if (call->cu) gxi_ipc_fail_import(call, slot, &o);
        else if (!(handle.id = gxi_event_new(call, slot, native, 0, 1))) GXI_BESIDE(cuEventDestroy, (native));
        else GXI_STORE(&gxi_peek(handle.id, GXI_EVENT)->is.event.recorded, 1);       /* by its process */
        gxi_leave(&scope);
    }
    handle.id = gxi_or_failed(handle.id, GXI_EVENT);
    return handle;
}
static int gxi_ipc_export_pool(gxi_call *call, gpuexec_pool pool) {
    gxi_slot *slot;
    int fd = -1;
    if (!(slot = gxi_begin_with(call, pool.id, GXI_POOL, "the pool"))) return -1;
    if (!slot->is.pool.native) {
        gxi_fail(call, GPUEXEC_NOT_SUPPORTED, NULL, "the pool cannot be exported: its device has no memory pools");
        return -1;
    }
    if (GXI_TRY(cuMemPoolExportToShareableHandle,
                (&fd, slot->is.pool.native, GXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))) {
        gxi_fail_cu(call, "create it with gpuexec_pool_desc.exportable", "cannot export the pool created at %s",
                    gxi_place(slot->where));
        return -1;
    }
    return fd;
}
GPUEXEC_API int gpuexec_ipc_export_pool_at(const char *where, gpuexec_pool pool) {
    GXI_CALL(gpuexec_ipc_export_pool, GXI_MAKES);
    return gxi_ipc_export_pool(call, pool);
}
GPUEXEC_API gpuexec_pool gpuexec_ipc_import_pool_at(const char *where, gpuexec_context context, int fd) {
    gpuexec_pool handle = { 0 };
    const gxi_slot *slot;
    void *native = NULL;
    GXI_CALL(gpuexec_ipc_import_pool, GXI_MAKES);
    if ((slot = gxi_begin_with_context(call, context)) != NULL) {
        if (GXI_TRY_MAKE(native, cuMemPoolImportFromShareableHandle,
                         (&native, (void *)(intptr_t)fd, GXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)))
            gxi_fail_cu(call, "pass a descriptor from gpuexec_ipc_export_pool of a process that still runs",
                        "cannot import a pool from file descriptor %d", fd);
        else handle.id = gxi_pool_new(call, slot, native, 0, 0);
    }
    handle.id = gxi_or_failed(handle.id, GXI_POOL);
    return handle;
}
GPUEXEC_API gpuexec_ptr gpuexec_ipc_import_from_at(const char *where, gpuexec_pool pool,
                                                   const gpuexec_ipc_object *object) {
    gpuexec_ptr address = 0;
    const gxi_slot *slot, *context;
    gxi_ipc_object o;
    GXI_CALL(gpuexec_ipc_import_from, GXI_MAKES);
    if (gxi_ipc_read(call, object, GPUEXEC_IPC_POOL_MEMORY, &o) ||
        !(slot = gxi_begin_with(call, pool.id, GXI_POOL, "the pool")) ||
        !(context = gxi_get(call, slot->context, GXI_CONTEXT, "the pool's context")))
        return 0;
    if (GXI_TRY_MAKE(address, cuMemPoolImportPointer, (&address, slot->is.pool.native, &o.handle))) {
        gxi_ipc_fail_import(call, context, &o);
        return 0;
    }
    return gxi_ipc_note(call, address, &o, context->id, GXI_POOLED);
}
GPUEXEC_API gpuexec_result gpuexec_ipc_get_info_at(const char *where, const gpuexec_ipc_object *object,
                                                   gpuexec_ipc_info *info) {
    gxi_ipc_object o;
    GXI_CALL(gpuexec_ipc_get_info, GXI_QUERIES);
    if (gxi_is_null(call, info, "info")) return gxi_failed_with();
    memset(info, 0, sizeof *info);
    if (gxi_ipc_read(call, object, 0, &o)) return gxi_failed_with();
    info->kind = (gpuexec_ipc_kind)o.kind;
    info->bytes = (size_t)o.bytes;
    info->pid = (long)o.pid;
    return GPUEXEC_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
   >>impl-connection   Messages have one size. The first one that a process sends says its number, the last one that it
   ends; if that is missing, the process has been ended. The system says how, until its parent has waited for it. */

struct gxi_ipc {
    int      fd;
    long     pid;                                /* of the other process; 0: not known */
    uint64_t start;                              /* when it started; 0: not known */
    int      gone;
    char     how[96];                            /* how it ended, or "" */
};

/* The state of a process, as in ps, 0 if there is none; with the time when it started and, once it has ended, its
   status as wait() returns it. */
static char gxi_process_state(long pid, uint64_t *start, int *status) {
    char path[40], text[1024], state = 0;
    unsigned long long started = 0;
    const char *p;
    size_t n;
    FILE *file;
    int i;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (!(file = fopen(path, "rb"))) return 0;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    if (!(p = strrchr(text, ')'))) return 0;     /* the name before it may contain anything */
    for (i = 3; i <= 52 && (p = strchr(p, ' ')) != NULL; i++) {      /* the fields have numbers in proc(5) */
        p++;
        if (i == 3) state = *p;
        if (i == 22) started = strtoull(p, NULL, 10);
        if (i == 52) *status = (int)strtol(p, NULL, 10);
    }
    *start = started;
    return state;
}
/* Whether the other process has ended. Until it has been waited for, the system knows how. */
static int gxi_ipc_ended(gxi_ipc *c) {
    uint64_t start = 0;
    int status = 0;
    const char state = c->pid ? gxi_process_state(c->pid, &start, &status) : 'R';
    if (state && state != 'Z' && state != 'X' && (!c->start || start == c->start)) return 0;
    if (!state || (c->start && start != c->start)) snprintf(c->how, sizeof c->how, "has ended");
    else if (status & 0x7F)
        snprintf(c->how, sizeof c->how, "was ended by signal %d%s", status & 0x7F,
                 (status & 0x7F) == 9 ? " (SIGKILL)" : (status & 0x7F) == 11 ? " (SIGSEGV)"
                 : (status & 0x7F) == 6 ? " (SIGABRT)" : (status & 0x7F) == 15 ? " (SIGTERM)" : "");
    else snprintf(c->how, sizeof c->how, "has exited with status %d", status >> 8 & 0xFF);
    return c->gone = 1;
}
/* Its end of the socket is closed. If it did not say so, it is ending: waits a while for how. */
static void gxi_ipc_closed(gxi_ipc *c) {
    int i;
    c->gone = 1;
    for (i = 0; i < 200 && c->pid && !gxi_ipc_ended(c); i++) (void)poll(NULL, 0, 10);
    if (!*c->how) snprintf(c->how, sizeof c->how, "has closed its end of the connection");
}
static gpuexec_result gxi_ipc_fail_gone(gxi_call *call, const gxi_ipc *c) {
    char who[40] = "the other process";
    if (c->pid) snprintf(who, sizeof who, "the other process, %ld,", c->pid);
    return gxi_fail(call, GPUEXEC_PEER_GONE, "close the connection, and let no stream wait for that process's events",
                    "%s %s", who, c->how);
}
static gpuexec_result gxi_ipc_fail_system(gxi_call *call, const char *what) {
    return gxi_fail(call, GPUEXEC_FILE_ERROR, NULL, "cannot %s: %s", what, strerror(errno));
}

/* Sends a message, with a file descriptor unless that is -1. */
static gpuexec_result gxi_ipc_put(gxi_call *call, gxi_ipc *c, gxi_ipc_wire *wire, int fd) {
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control;
    struct pollfd ready;
    struct msghdr message;
    struct iovec bytes;
    memcpy(wire->magic, gxi_ipc_magic, sizeof wire->magic);
    wire->version = GXI_IPC_VERSION;
    memset(&control, 0, sizeof control);
    memset(&message, 0, sizeof message);
    bytes.iov_base = wire;
    bytes.iov_len = sizeof *wire;
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_LEN(sizeof fd);
        control.header.cmsg_len = CMSG_LEN(sizeof fd);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    while (!c->gone && sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno == EPIPE || errno == ECONNRESET) gxi_ipc_closed(c);
        else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return gxi_ipc_fail_system(call, "send a message");
        else {
            ready.fd = c->fd;
            ready.events = POLLOUT;
            if (poll(&ready, 1, 100) == 0) gxi_ipc_ended(c);
        }
    }
    return c->gone ? gxi_ipc_fail_gone(call, c) : GPUEXEC_OK;
}
/* Reads a message that has arrived. 1: there is one in *wire; 0: none, or it was only for the connection; -1: failed.
   *fd: -1, or a descriptor that came with it. */
static int gxi_ipc_take(gxi_call *call, gxi_ipc *c, gxi_ipc_wire *wire, int *fd) {
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control;
    struct msghdr message;
    struct iovec bytes;
    int reset = 0;
    long n;
    memset(&control, 0, sizeof control);
    memset(&message, 0, sizeof message);
    bytes.iov_base = wire;
    bytes.iov_len = sizeof *wire;
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    *fd = -1;
    do n = (long)recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == ECONNRESET && !reset++);        /* it did not read all of ours; then come its own */
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
    if (n < 0 && errno != ECONNRESET) {
        gxi_ipc_fail_system(call, "receive a message");
        return -1;
    }
    if (n <= 0) {
        if (!c->gone) gxi_ipc_closed(c);
        return 0;
    }
    if (message.msg_controllen >= CMSG_LEN(sizeof *fd) && control.header.cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(&control.header), sizeof *fd);
    if (n != (long)sizeof *wire || memcmp(wire->magic, gxi_ipc_magic, sizeof wire->magic) ||
        wire->version != GXI_IPC_VERSION) {
        if (*fd >= 0) close(*fd);
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use one version of gpuexec.h in both processes, and send only with "
                 "gpuexec_ipc_send", "%ld bytes arrived that are not a message of this gpuexec.h", n);
        return -1;
    }
    wire->label[sizeof wire->label - 1] = 0;
    if (wire->kind == GXI_IPC_BYE) {
        c->gone = 1;
        snprintf(c->how, sizeof c->how, "has closed its end of the connection");
    }
    if (wire->kind == GXI_IPC_HELLO) {
        int status;
        c->pid = (long)wire->value;
        gxi_process_state(c->pid, &c->start, &status);
    }
    return wire->kind < GXI_IPC_HELLO;
}
static gpuexec_result gxi_ipc_greet(gxi_call *call, gxi_ipc *c) {
    gxi_ipc_wire wire;
    memset(&wire, 0, sizeof wire);
    wire.kind = GXI_IPC_HELLO;
    wire.value = (uint64_t)gxi_pid();
    return gxi_ipc_put(call, c, &wire, -1);
}
/* Makes a connection of a socket, which remains the caller's if that fails. */
static gpuexec_ipc gxi_ipc_new(gxi_call *call, int fd) {
    gpuexec_ipc handle = { 0 };
    int type = 0, who[3] = { 0, 0, 0 }, status;
    socklen_t size = sizeof type;
    gxi_slot made;
    gxi_ipc *c = NULL;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET)
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use gpuexec_ipc_pair, or socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)",
                 "file descriptor %d is not a SOCK_SEQPACKET socket", fd);
    else if (!(c = (gxi_ipc *)gxi_realloc(NULL, sizeof *c))) gxi_fail_memory(call, "create a connection");
    else {
        memset(c, 0, sizeof *c);
        memset(&made, 0, sizeof made);
        c->fd = fd;
        size = sizeof who;                       /* of a pair: the process that made it, perhaps this one */
        if (getsockopt(fd, SOL_SOCKET, GXI_SO_PEERCRED, who, &size) == 0 && who[0] != (int)gxi_pid()) c->pid = who[0];
        if (c->pid) gxi_process_state(c->pid, &c->start, &status);
        made.is.ipc.info = c;
        if (gxi_ipc_greet(call, c) == GPUEXEC_OK) handle.id = gxi_new(call, GXI_IPC, &made, &gxi.first[GXI_IPC]);
    }
    if (!handle.id) gxi_free(c);
    handle.id = gxi_or_failed(handle.id, GXI_IPC);
    return handle;
}
/* The same; closes the socket if it fails. */
static gpuexec_ipc gxi_ipc_own(gxi_call *call, int fd) {
    const gpuexec_ipc handle = gxi_ipc_new(call, fd);
    if (!gpuexec_ok(handle)) close(fd);
    return handle;
}
static int gxi_ipc_end(gxi_call *call, gxi_slot *old) {
    gxi_ipc *const c = old->is.ipc.info;
    gxi_ipc_wire wire;
    (void)call;
    memset(&wire, 0, sizeof wire);
    memcpy(wire.magic, gxi_ipc_magic, sizeof wire.magic);
    wire.version = GXI_IPC_VERSION;
    wire.kind = GXI_IPC_BYE;
    (void)send(c->fd, &wire, sizeof wire, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(c->fd);
    gxi_free(c);
    return 0;
}
static gxi_ipc *gxi_find_ipc(gxi_call *call, gpuexec_ipc connection) {
    const gxi_slot *slot = gxi_get(call, connection.id, GXI_IPC, "the connection");
    return slot ? slot->is.ipc.info : NULL;
}
GPUEXEC_API gpuexec_ipc gpuexec_ipc_pair_at(const char *where, int *child_fd) {
    gpuexec_ipc handle = { 0 };
    int ends[2];
    GXI_CALL(gpuexec_ipc_pair, GXI_MAKES);
    if (gxi_is_null(call, child_fd, "child_fd")) handle.id = gxi_failed_id(GXI_IPC);
    else if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) {
        gxi_ipc_fail_system(call, "create a pair of sockets");
        handle.id = gxi_failed_id(GXI_IPC);
    } else {
        (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        handle = gxi_ipc_own(call, ends[0]);
        if (gpuexec_ok(handle)) *child_fd = ends[1];
        else close(ends[1]);
    }
    return handle;
}
GPUEXEC_API gpuexec_ipc gpuexec_ipc_from_fd_at(const char *where, int fd) {
    GXI_CALL(gpuexec_ipc_from_fd, GXI_MAKES);
    return gxi_ipc_new(call, fd);
}
/* A socket and the address of a name. -1 after a failure. */
static int gxi_ipc_socket(gxi_call *call, const char *name, struct sockaddr_un *address, socklen_t *size) {
    const size_t n = name ? strlen(name) : 0;
    int fd;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (n < 1 || n >= sizeof address->sun_path) {
        gxi_fail(call, GPUEXEC_BAD_ARGUMENT, NULL, "the name of a connection has 1 to %d bytes, not %lu",
                 (int)sizeof address->sun_path - 1, (unsigned long)n);
        return -1;
    }
    memcpy(address->sun_path, name, n);
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (*name != '@'));
    if (*name == '@') address->sun_path[0] = 0;  /* Linux: not in the file system */
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) gxi_ipc_fail_system(call, "create a socket");
    return fd;
}
static int gxi_ipc_is_ours(int fd) {             /* whether the other process is this user's, or the administrator's */
    int who[3] = { 0, 0, 0 };
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, GXI_SO_PEERCRED, who, &size) == 0 && (who[1] == (int)geteuid() || who[1] == 0);
}
GPUEXEC_API gpuexec_ipc gpuexec_ipc_listen_at(const char *where, const char *name, int timeout_ms) {
    gpuexec_ipc handle = { 0 };
    struct sockaddr_un address;
    struct pollfd ready;
    socklen_t size;
    int fd, other = -1, n = 0;
    GXI_CALL(gpuexec_ipc_listen, GXI_MAKES);
    if ((fd = gxi_ipc_socket(call, name, &address, &size)) >= 0) {
        if (bind(fd, (struct sockaddr *)(void *)&address, size) || listen(fd, 1))
            gxi_fail(call, GPUEXEC_FILE_ERROR, "use another name, or remove the file if no process listens there",
                     "cannot listen at \"%s\": %s", name, strerror(errno));
        else {
            do {
                ready.fd = fd;
                ready.events = POLLIN;
                n = poll(&ready, 1, timeout_ms);
                if (n > 0 && (other = accept(fd, NULL, NULL)) >= 0 && !gxi_ipc_is_ours(other)) {
                    close(other);
                    other = -1;
                }
            } while (other < 0 && n != 0);
            if (*name != '@') unlink(name);
            if (other < 0)
                gxi_fail(call, GPUEXEC_FILE_ERROR, NULL, "no process connected to \"%s\" within %d ms", name,
                         timeout_ms);
        }
        close(fd);
    }
    if (other >= 0) {
        (void)fcntl(other, F_SETFD, FD_CLOEXEC);
        return gxi_ipc_own(call, other);
    }
    handle.id = gxi_failed_id(GXI_IPC);
    return handle;
}
GPUEXEC_API gpuexec_ipc gpuexec_ipc_connect_at(const char *where, const char *name, int timeout_ms) {
    gpuexec_ipc handle = { 0 };
    struct sockaddr_un address;
    socklen_t size;
    int fd, failed = 1, waited = 0;
    GXI_CALL(gpuexec_ipc_connect, GXI_MAKES);
    if ((fd = gxi_ipc_socket(call, name, &address, &size)) >= 0) {
        while ((failed = connect(fd, (struct sockaddr *)(void *)&address, size)) != 0 &&
               (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) &&
               (timeout_ms < 0 || waited < timeout_ms)) {
            (void)poll(NULL, 0, 5);
            waited += 5;
        }
        if (failed)
            gxi_fail(call, GPUEXEC_FILE_ERROR, "check that the other process calls gpuexec_ipc_listen with this name",
                     "cannot connect to \"%s\" within %d ms: %s", name, timeout_ms, strerror(errno));
        else if (!gxi_ipc_is_ours(fd)) {
            failed = 1;
            gxi_fail(call, GPUEXEC_FILE_ERROR, "use another name", "a process of another user listens at \"%s\"", name);
        }
        if (!failed) return gxi_ipc_own(call, fd);
        close(fd);
    }
    handle.id = gxi_failed_id(GXI_IPC);
    return handle;
}
static gpuexec_result gxi_ipc_send(gxi_call *call, gpuexec_ipc connection, const char *label, unsigned long long value,
                                   const gpuexec_ipc_object *object, int fd) {
    gxi_ipc *const c = gxi_find_ipc(call, connection);
    gxi_ipc_object o;
    gxi_ipc_wire wire;
    if (!c) return gxi_failed_with();
    if (!label) label = "";
    memset(&wire, 0, sizeof wire);
    if (strlen(label) >= sizeof wire.label)
        return gxi_fail(call, GPUEXEC_BAD_ARGUMENT, "use a shorter label", "the label has %lu bytes; at most %d fit",
                        (unsigned long)strlen(label), (int)sizeof wire.label - 1);
    if (object && gxi_ipc_read(call, object, 0, &o)) return gxi_failed_with();
    if (object) wire.object = *object;
    wire.kind = fd >= 0 ? (uint32_t)GPUEXEC_IPC_POOL : object ? o.kind : (uint32_t)GPUEXEC_IPC_NOTHING;
    wire.value = value;
    memcpy(wire.label, label, strlen(label));
    return gxi_ipc_put(call, c, &wire, fd);
}
GPUEXEC_API gpuexec_result gpuexec_ipc_send_at(const char *where, gpuexec_ipc connection, const char *label,
                                               unsigned long long value, const gpuexec_ipc_object *object) {
    GXI_CALL(gpuexec_ipc_send, GXI_QUERIES);
    return gxi_ipc_send(call, connection, label, value, object, -1);
}
GPUEXEC_API gpuexec_result gpuexec_ipc_send_pool_at(const char *where, gpuexec_ipc connection, const char *label,
                                                    unsigned long long value, gpuexec_pool pool) {
    gpuexec_result result;
    int fd;
    GXI_CALL(gpuexec_ipc_send_pool, GXI_QUERIES);
    if ((fd = gxi_ipc_export_pool(call, pool)) < 0) return gxi_failed_with();
    result = gxi_ipc_send(call, connection, label, value, NULL, fd);
    close(fd);
    return result;
}
GPUEXEC_API gpuexec_result gpuexec_ipc_receive_at(const char *where, gpuexec_ipc connection,
                                                  gpuexec_ipc_message *message, int timeout_ms) {
    struct pollfd ready;
    gxi_ipc_wire wire;
    gxi_ipc *c;
    int fd, taken, n, slice;
    GXI_CALL(gpuexec_ipc_receive, GXI_QUERIES);
    if (gxi_is_null(call, message, "message")) return gxi_failed_with();
    memset(message, 0, sizeof *message);
    message->fd = -1;
    if (!(c = gxi_find_ipc(call, connection))) return gxi_failed_with();
    for (;;) {
        const int gone = c->gone;                /* before the look for its last messages */
        if ((taken = gxi_ipc_take(call, c, &wire, &fd)) < 0) return gxi_failed_with();
        if (taken) break;
        if (gone) return gxi_ipc_fail_gone(call, c);
        if (c->gone) continue;
        slice = timeout_ms < 0 || timeout_ms > 100 ? 100 : timeout_ms;
        ready.fd = c->fd;
        ready.events = POLLIN;
        n = poll(&ready, 1, slice);
        if (n == 0 && timeout_ms >= 0 && (timeout_ms -= slice) <= 0) return GPUEXEC_NOT_READY;
        if (n == 0) gxi_ipc_ended(c);
    }
    message->kind = (gpuexec_ipc_kind)wire.kind;
    message->value = wire.value;
    message->object = wire.object;
    message->fd = fd;
    memcpy(message->label, wire.label, sizeof message->label);
    return GPUEXEC_OK;
}
GPUEXEC_API gpuexec_result gpuexec_ipc_wait_at(const char *where, gpuexec_ipc connection, gpuexec_event event,
                                               int timeout_ms) {
    enum { SPINS = 100 };
    struct pollfd ready;
    gxi_slot *slot;
    gxi_ipc *c;
    int i, cu = 0, waited = 0, mode;
    GXI_CALL(gpuexec_ipc_wait, GXI_WAITS);
    if (!(c = gxi_find_ipc(call, connection)) || !(slot = gxi_begin_with_event(call, event, "the event")) ||
        gxi_event_refused(call, slot, "the event") || gxi_event_captured(call, slot, "the event"))
        return gxi_take();
    for (i = 0; ; i++) {
        mode = GXI_STREAM_CAPTURE_MODE_RELAXED;
        gxi_exchange_mode(&mode);
        cu = GXI_TRY(cuEventQuery, (slot->is.event.native));
        gxi_exchange_mode(&mode);
        if (cu != GXI_CU_NOT_READY || c->gone) break;
        if (i < SPINS) continue;
        ready.fd = c->fd;
        ready.events = 0;
        if (poll(&ready, 1, 1) > 0) gxi_ipc_closed(c);
        else if (i % 100 == 0) gxi_ipc_ended(c);
        if (timeout_ms >= 0 && ++waited >= timeout_ms) break;
    }
    if (cu != GXI_CU_NOT_READY) gxi_waited(call, cu, slot, "the event");
    else if (c->gone) {
        gxi_note(call, 0);
        gxi_ipc_fail_gone(call, c);
    } else if (!gxi_latched()) return GPUEXEC_NOT_READY;
    return gxi_take();
}
GPUEXEC_API long gpuexec_ipc_peer(gpuexec_ipc connection) {
    const gxi_ipc *c;
    GXI_CALL_NO_PLACE(gpuexec_ipc_peer, GXI_QUERIES);
    return (c = gxi_find_ipc(call, connection)) != NULL ? c->pid : 0;
}
GPUEXEC_API gpuexec_result gpuexec_ipc_close_at(const char *where, gpuexec_ipc connection) {
    GXI_CALL(gpuexec_ipc_close, GXI_CLEANS);
    return gxi_destroy_handle(call, connection.id, GXI_IPC, "the connection");
}

#endif /* Linux */
#endif /* GPUEXEC_NO_IPC */

#if defined(__cplusplus) && defined(__GNUC__)
#  pragma GCC diagnostic pop
#endif
#endif /* implementation */
