/* captures.c - stream captures, the graphs that they make, launching and updating these. */
#include "probe.h"

/* What the calls of the table work on. s captures, t does not; `outer` was recorded on t before,
   `inner` on s in the capture. */
static struct {
    void *s, *t, *outer, *inner, *nop, *store, *module, *exec, *graph;
    ptr before, allocated; /* before: allocated in stream order before the capture */
    void *pinned, *host;
    int mode;
} now;
static uint32_t pageable[64];

static void nothing(void *user) { (void)user; }
static void nothing_called(void *stream, int result, void *user) {
    (void)stream;
    (void)result;
    (void)user;
}
static int work_on(void *stream) { return launch(now.nop, 1, 1, stream, NULL); }
static int on_a_thread_result;
static void end_there(void) {
    void *graph = NULL;
    on_a_thread_result = cu.cuStreamEndCapture(now.s, &graph);
}
static void alloc_there(void) {
    ptr p;
    on_a_thread_result = cu.cuMemAlloc_v2(&p, 64);
}
static void sync_there(void) { on_a_thread_result = cu.cuStreamSynchronize(now.t); }
static void launch_there(void) { on_a_thread_result = work_on(now.s); }
static void begin_there(void) { on_a_thread_result = cu.cuStreamBeginCapture_v2(now.t, now.mode); }
static int there(void (*run)(void)) {
    on_a_thread_result = 77;
    in_thread(run);
    return on_a_thread_result;
}
static int any_ints[2];
static size_t any_sizes[2];
static void *any_pointers[9];
static ptr any_address;
static unsigned any_unsigned;
static float any_float;

static int copy_2d_to(void *stream) {
    copy_2d c;
    memset(&c, 0, sizeof c);
    c.from_type = HOST;
    c.from_host = pageable;
    c.from_pitch = c.to_pitch = 16;
    c.to_type = DEVICE;
    c.to_device = memory[0];
    c.width = 16;
    c.height = 4;
    return cu.cuMemcpy2DAsync_v2(&c, stream);
}
static int link_empty(void) {
    void *state = NULL;
    int result = cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    if (result == 0) cu.cuLinkDestroy(state);
    return result;
}
static int swap_mode(void) {
    int result, mode = 2;
    result = cu.cuThreadExchangeStreamCaptureMode(&mode);
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    return 10 * result + mode;
}
static int create_and_pop(void) {
    int result = cu.cuCtxCreate_v2(&any_pointers[0], 0, 0);
    if (result == 0) cu.cuCtxPopCurrent_v2(&any_pointers[1]);
    return result;
}
static int push_and_pop(void) {
    int result = cu.cuCtxPushCurrent_v2(context[0]);
    return result ? result : cu.cuCtxPopCurrent_v2(&any_pointers[0]);
}
static int fork_and_join(void) {
    int result = cu.cuStreamWaitEvent(now.t, now.inner, 0);
    if (!result) result = work_on(now.t);
    if (!result) result = cu.cuEventRecord(now.inner, now.t);
    return result ? result : cu.cuStreamWaitEvent(now.s, now.inner, 0);
}
static int destroy_other(void) {
    int result = cu.cuStreamDestroy_v2(now.t);
    cu.cuStreamCreateWithPriority(&now.t, 1, 0);
    return result;
}
static int destroy_forked(void) { /* while it takes part in the capture */
    int result = cu.cuStreamWaitEvent(now.t, now.inner, 0);
    return result ? result : destroy_other();
}
static int fork_twice_joined_once(void) {
    int result = cu.cuStreamWaitEvent(now.t, now.inner, 0);
    if (!result) result = work_on(now.t);
    if (!result) result = cu.cuEventRecord(now.inner, now.t);
    if (!result) result = cu.cuStreamWaitEvent(now.s, now.inner, 0);
    return result ? result : work_on(now.t);
}

/* Each: what it is called, the call. */
/* clang-format off */
#define TABLE(X) \
    X(nothing, 0) \
    X(launch, work_on(now.s)) X(launch_other, work_on(now.t)) X(launch_legacy, work_on(NULL)) \
    X(launch_legacy_1, work_on((void *)1)) X(launch_per_thread, work_on((void *)2)) \
    X(launch_cooperative, cu.cuLaunchCooperativeKernel(now.nop, 1, 1, 1, 1, 1, 1, 0, now.s, NULL)) \
    X(launch_too_large, launch(now.nop, 1, 2000, now.s, NULL)) \
    X(host_function, cu.cuLaunchHostFunc(now.s, nothing, NULL)) \
    X(callback, cu.cuStreamAddCallback(now.s, nothing_called, NULL, 0)) \
    X(wait_value, cu.cuStreamWaitValue32_v2(now.s, memory[0], 0, 0)) \
    X(write_value, cu.cuStreamWriteValue32_v2(now.s, memory[0], 1, 0)) \
    X(copy_in_pageable, cu.cuMemcpyHtoDAsync_v2(memory[0], pageable, 64, now.s)) \
    X(copy_in_pinned, cu.cuMemcpyHtoDAsync_v2(memory[0], now.pinned, 64, now.s)) \
    X(copy_out_pageable, cu.cuMemcpyDtoHAsync_v2(pageable, memory[0], 64, now.s)) \
    X(copy_out_pinned, cu.cuMemcpyDtoHAsync_v2(now.pinned, memory[0], 64, now.s)) \
    X(copy_device, cu.cuMemcpyDtoDAsync_v2(memory[0], memory[0] + 1024, 64, now.s)) \
    X(copy_wild, cu.cuMemcpyDtoDAsync_v2(16, memory[0], 64, now.s)) \
    X(copy_0, cu.cuMemcpyDtoDAsync_v2(memory[0], memory[0] + 64, 0, now.s)) \
    X(copy_2d, copy_2d_to(now.s)) \
    X(copy_other, cu.cuMemcpyDtoDAsync_v2(memory[0], memory[0] + 1024, 64, now.t)) \
    X(copy_in_now, cu.cuMemcpyHtoD_v2(memory[0], pageable, 64)) \
    X(copy_out_now, cu.cuMemcpyDtoH_v2(pageable, memory[0], 64)) \
    X(copy_device_now, cu.cuMemcpyDtoD_v2(memory[0], memory[0] + 1024, 64)) \
    X(fill_now, cu.cuMemsetD32_v2(memory[0], 0, 4)) \
    X(fill, cu.cuMemsetD32Async(memory[0], 0, 4, now.s)) \
    X(fill_0, cu.cuMemsetD32Async(memory[0], 0, 0, now.s)) \
    X(fill_2d, cu.cuMemsetD2D8Async(memory[0], 64, 0, 4, 4, now.s)) \
    X(sync, cu.cuStreamSynchronize(now.s)) X(sync_other, cu.cuStreamSynchronize(now.t)) \
    X(sync_legacy, cu.cuStreamSynchronize(NULL)) \
    X(sync_context, cu.cuCtxSynchronize()) X(query, cu.cuStreamQuery(now.s)) \
    X(query_other, cu.cuStreamQuery(now.t)) \
    X(query_legacy, cu.cuStreamQuery(NULL)) \
    X(event_query_inner, cu.cuEventQuery(now.inner)) \
    X(event_sync_inner, cu.cuEventSynchronize(now.inner)) \
    X(event_query_outer, cu.cuEventQuery(now.outer)) \
    X(event_sync_outer, cu.cuEventSynchronize(now.outer)) \
    X(elapsed_inner, cu.cuEventElapsedTime(&any_float, now.outer, now.inner)) \
    X(record_outer_other, cu.cuEventRecord(now.outer, now.t)) \
    X(record_inner_other, cu.cuEventRecord(now.inner, now.t)) \
    X(record_outer, cu.cuEventRecord(now.outer, now.s)) \
    X(record_external, cu.cuEventRecordWithFlags(now.outer, now.s, 1)) \
    X(record_legacy, cu.cuEventRecord(now.outer, NULL)) \
    X(wait_outer, cu.cuStreamWaitEvent(now.s, now.outer, 0)) \
    X(wait_outer_external, cu.cuStreamWaitEvent(now.s, now.outer, 1)) \
    X(wait_inner, cu.cuStreamWaitEvent(now.s, now.inner, 0)) \
    X(wait_inner_external, cu.cuStreamWaitEvent(now.s, now.inner, 1)) \
    X(fork_unjoined, cu.cuStreamWaitEvent(now.t, now.inner, 0)) X(fork_and_join, fork_and_join()) \
    X(fork_twice_joined_once, fork_twice_joined_once()) \
    X(fork_legacy, cu.cuStreamWaitEvent(NULL, now.inner, 0)) \
    X(fork_external, cu.cuStreamWaitEvent(now.t, now.inner, 1)) \
    X(event_create, cu.cuEventCreate(&any_pointers[0], 0)) \
    X(event_destroy_inner, cu.cuEventDestroy_v2(now.inner)) \
    X(event_destroy_outer, cu.cuEventDestroy_v2(now.outer)) \
    X(stream_create, cu.cuStreamCreateWithPriority(&any_pointers[0], 1, 0)) \
    X(stream_destroy_other, destroy_other()) X(stream_destroy_forked, destroy_forked()) \
    X(stream_flags, cu.cuStreamGetFlags(now.s, &any_unsigned)) \
    X(stream_priority, cu.cuStreamGetPriority(now.s, any_ints)) \
    X(stream_context, cu.cuStreamGetCtx(now.s, any_pointers)) \
    X(alloc, cu.cuMemAlloc_v2(&any_address, 64)) X(free, cu.cuMemFree_v2(any_address)) \
    X(alloc_async, cu.cuMemAllocAsync(&now.allocated, 64, now.s)) \
    X(alloc_async_other, cu.cuMemAllocAsync(&any_address, 64, now.t)) \
    X(alloc_and_free_async, \
        (cu.cuMemAllocAsync(&now.allocated, 64, now.s), cu.cuMemFreeAsync(now.allocated, now.s))) \
    X(free_async_before, cu.cuMemFreeAsync(now.before, now.s)) \
    X(free_async_plain, cu.cuMemFreeAsync(any_address, now.s)) \
    X(free_of_captured, (cu.cuMemAllocAsync(&now.allocated, 64, now.s), \
        cu.cuMemFree_v2(now.allocated))) \
    X(host_alloc, cu.cuMemHostAlloc(&any_pointers[0], 64, 0)) \
    X(host_free, cu.cuMemFreeHost(now.host)) \
    X(host_register, cu.cuMemHostRegister_v2(pageable, sizeof pageable, 0)) \
    X(memory, cu.cuMemGetInfo_v2(&any_sizes[0], &any_sizes[1])) \
    X(range, cu.cuMemGetAddressRange_v2(&any_address, &any_sizes[0], memory[0])) \
    X(pointer, cu.cuPointerGetAttribute(&any_unsigned, 2, memory[0])) \
    X(host_address, cu.cuMemHostGetDevicePointer_v2(&any_address, now.pinned, 0)) \
    X(load, cu.cuModuleLoadData(&any_pointers[0], module_text)) \
    X(unload, cu.cuModuleUnload(now.module)) \
    X(function, cu.cuModuleGetFunction(&any_pointers[0], module[0], "nop")) \
    X(global, cu.cuModuleGetGlobal_v2(&any_address, &any_sizes[0], module[0], "gv")) \
    X(get_attribute, cu.cuFuncGetAttribute(any_ints, 0, now.nop)) \
    X(set_attribute, cu.cuFuncSetAttribute(now.nop, MAX_DYNAMIC, 64)) \
    X(blocks, cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(any_ints, now.nop, 32, 0)) \
    X(link, link_empty()) \
    X(get_limit, cu.cuCtxGetLimit(any_sizes, 0)) X(set_limit, cu.cuCtxSetLimit(0, 4096)) \
    X(context_create, create_and_pop()) \
    X(retain, cu.cuDevicePrimaryCtxRetain(&any_pointers[0], 0)) \
    X(push, push_and_pop()) X(attribute, cu.cuDeviceGetAttribute(any_ints, 16, 0)) \
    X(count, cu.cuDeviceGetCount(any_ints)) \
    X(begin_again, cu.cuStreamBeginCapture_v2(now.s, now.mode)) \
    X(begin_other, cu.cuStreamBeginCapture_v2(now.t, now.mode)) \
    X(begin_legacy, cu.cuStreamBeginCapture_v2(NULL, now.mode)) \
    X(end_other, cu.cuStreamEndCapture(now.t, &any_pointers[0])) X(end_there, there(end_there)) \
    X(alloc_there, there(alloc_there)) X(sync_there, there(sync_there)) \
    X(launch_there, there(launch_there)) \
    X(begin_there, there(begin_there)) X(exchange_mode, swap_mode()) \
    X(graph_create, cu.cuGraphCreate(&any_pointers[0], 0)) \
    X(graph_clone, cu.cuGraphClone(&any_pointers[0], now.graph)) \
    X(instantiate, cu.cuGraphInstantiateWithFlags(&any_pointers[0], now.graph, 0)) \
    X(graph_launch, cu.cuGraphLaunch(now.exec, now.s)) \
    X(graph_launch_other, cu.cuGraphLaunch(now.exec, now.t)) \
    X(graph_launch_legacy, cu.cuGraphLaunch(now.exec, NULL)) \
    X(graph_upload, cu.cuGraphUpload(now.exec, now.s)) \
    X(exec_destroy, cu.cuGraphExecDestroy(now.exec)) X(graph_destroy, cu.cuGraphDestroy(now.graph))
/* clang-format on */

/* More of them. */
static int multi_on(void *stream) {
    part p;
    memset(&p, 0, sizeof p);
    p.function = now.nop;
    p.grid[0] = p.grid[1] = p.grid[2] = p.block[0] = p.block[1] = p.block[2] = 1;
    p.stream = stream;
    return cu.cuLaunchCooperativeKernelMultiDevice(&p, 1, 0);
}
static int create_and_destroy(void) {
    void *c = NULL;
    int result = cu.cuCtxCreate_v2(&c, 0, 0);
    return result ? result : cu.cuCtxDestroy_v2(c);
}
static int update_exec(void) {
    update info;
    return cu.cuGraphExecUpdate_v2(now.exec, now.graph, &info);
}
static int destroy_with_work(void) { /* a stream that has forked and works */
    int result = cu.cuStreamWaitEvent(now.t, now.inner, 0);
    if (!result) result = work_on(now.t);
    return result ? result : destroy_other();
}
static int fork_and_work(void) {
    int result = cu.cuStreamWaitEvent(now.t, now.inner, 0);
    return result ? result : work_on(now.t);
}
static int thread_mode;
static void alloc_in_mode(void) {
    ptr p;
    int mode = thread_mode;
    cu.cuCtxSetCurrent(context[0]);
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    on_a_thread_result = cu.cuMemAlloc_v2(&p, 64);
}
static int alloc_there_in(int mode) {
    thread_mode = mode;
    return there(alloc_in_mode);
}
static int alloc_in(int mode) { /* this thread's mode */
    int result;
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    result = cu.cuMemAlloc_v2(&any_address, 64);
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    return result;
}
static void *fresh_event(void) {
    void *e = NULL;
    cu.cuEventCreate(&e, 0);
    return e;
}
static void *graph_now(void) { /* that the capture fills */
    void *g = NULL;
    int status;
    uint64_t id;
    cu.cuStreamGetCaptureInfo_v3(now.s, &status, &id, &g, NULL, NULL, NULL);
    return g;
}
static int empty_into(void *graph, int destroy) {
    void *node = NULL;
    int result = cu.cuGraphAddEmptyNode(&node, graph, NULL, 0);
    return result || !destroy ? result : cu.cuGraphDestroyNode(node);
}
static int invalid(int result) { return cu.cuStreamSynchronize(now.s) == 900 ? result : -1; }
static int broken(void) { return cu.cuStreamSynchronize(now.s) == 900; }
static int info_of(void *stream) {
    int status = 7;
    uint64_t id = 0;
    int result = cu.cuStreamGetCaptureInfo_v3(stream, &status, &id, NULL, NULL, NULL, NULL);
    return 10 * result + status;
}
static int state_of_legacy(void) {
    int state = 7, result = cu.cuStreamIsCapturing(NULL, &state);
    return 10 * result + state;
}
static int library_comes_and_goes(void) {
    void *l = NULL;
    int result = cu.cuLibraryLoadData(&l, module_text, NULL, NULL, 0, NULL, NULL, 0);
    return result ? result : cu.cuLibraryUnload(l);
}

/* clang-format off */
#define MORE(X) \
    X(free_async_other, cu.cuMemFreeAsync(now.before, now.t)) \
    X(alloc_async_0, cu.cuMemAllocAsync(&any_address, 0, now.s)) \
    X(alloc_pitch, cu.cuMemAllocPitch_v2(&any_address, any_sizes, 64, 4, 4)) \
    X(alloc_to_null, cu.cuMemAlloc_v2(NULL, 64)) \
    X(free_wild, cu.cuMemFree_v2(16)) X(free_null, cu.cuMemFree_v2(0)) \
    X(host_unregister, cu.cuMemHostUnregister(pageable)) \
    X(host_alloc_to_null, cu.cuMemHostAlloc(NULL, 64, 0)) X(unload_null, cu.cuModuleUnload(NULL)) \
    X(set_limit_bad, cu.cuCtxSetLimit(99, 1)) \
    X(instantiate_null, cu.cuGraphInstantiateWithFlags(any_pointers, NULL, 0)) \
    X(exec_destroy_null, cu.cuGraphExecDestroy(NULL)) \
    X(graph_launch_null, cu.cuGraphLaunch(NULL, now.s)) \
    X(exec_update, update_exec()) X(library, library_comes_and_goes()) \
    X(context_destroy, create_and_destroy()) \
    X(release, (cu.cuDevicePrimaryCtxRetain(any_pointers, 0), cu.cuDevicePrimaryCtxRelease_v2(0))) \
    X(stream_flags_other, cu.cuStreamGetFlags(now.t, &any_unsigned)) \
    X(stream_flags_legacy, cu.cuStreamGetFlags(NULL, &any_unsigned)) \
    X(stream_priority_legacy, cu.cuStreamGetPriority(NULL, any_ints)) \
    X(stream_context_legacy, cu.cuStreamGetCtx(NULL, any_pointers)) \
    X(is_capturing_legacy, state_of_legacy()) X(info_legacy, info_of(NULL)) \
    X(info, info_of(now.s)) \
    X(info_invalid, (broken(), info_of(now.s))) \
    X(launch_null, launch(NULL, 1, 1, now.s, NULL)) \
    X(launch_without_params, launch(now.store, 1, 1, now.s, NULL)) \
    X(launch_grid_0, launch(now.nop, 0, 1, now.s, NULL)) \
    X(launch_shared, cu.cuLaunchKernel(now.nop, 1, 1, 1, 1, 1, 1, 400000, now.s, NULL, NULL)) \
    X(launch_cooperative_too_large, \
        cu.cuLaunchCooperativeKernel(now.nop, 1 << 20, 1, 1, 1024, 1, 1, 0, now.s, NULL)) \
    X(launch_multi, multi_on(now.s)) X(launch_multi_other, multi_on(now.t)) \
    X(host_function_null, cu.cuLaunchHostFunc(now.s, NULL, NULL)) \
    X(callback_null, cu.cuStreamAddCallback(now.s, NULL, NULL, 0)) \
    X(wait_value_bad, cu.cuStreamWaitValue32_v2(now.s, memory[0] + 1, 0, 0)) \
    X(fill_wild, cu.cuMemsetD32Async(16, 0, 4, now.s)) \
    X(copy_0_now, cu.cuMemcpyDtoD_v2(memory[0], memory[0] + 64, 0)) \
    X(stream_destroy_forked_with_work, destroy_with_work()) \
    X(dependencies_set_to_none, cu.cuStreamUpdateCaptureDependencies(now.s, NULL, 0, 1)) \
    X(dependencies_flags_2, cu.cuStreamUpdateCaptureDependencies(now.s, NULL, 0, 2)) \
    X(dependencies_null, cu.cuStreamUpdateCaptureDependencies(now.s, NULL, 1, 0)) \
    X(fork_then_dependencies_set, \
        (fork_and_work(), cu.cuStreamUpdateCaptureDependencies(now.t, NULL, 0, 1))) \
    X(alloc_there_global, alloc_there_in(0)) X(alloc_there_local, alloc_there_in(1)) \
    X(alloc_there_relaxed, alloc_there_in(2)) X(alloc_in_global, alloc_in(0)) \
    X(alloc_in_local, alloc_in(1)) \
    X(alloc_in_relaxed, alloc_in(2)) X(alloc_in_3, alloc_in(3)) X(alloc_in_minus_1, alloc_in(-1)) \
    X(event_query_fresh, cu.cuEventQuery(fresh_event())) \
    X(event_sync_fresh, cu.cuEventSynchronize(fresh_event())) \
    X(wait_fresh_external, cu.cuStreamWaitEvent(now.s, fresh_event(), 1)) \
    X(elapsed_outer, cu.cuEventElapsedTime(&any_float, now.outer, \
        now.outer)) \
    X(event_query_null, cu.cuEventQuery(NULL)) X(wait_null, cu.cuStreamWaitEvent(now.s, NULL, 0)) \
    X(record_null, cu.cuEventRecord(NULL, now.s)) \
    X(wait_flags_2, cu.cuStreamWaitEvent(now.s, now.inner, 2)) \
    X(record_flags_2, cu.cuEventRecordWithFlags(now.inner, now.s, 2)) \
    X(wait_inner_invalid, invalid(cu.cuStreamWaitEvent(now.t, now.inner, 0))) \
    X(wait_invalid, (broken(), cu.cuStreamWaitEvent(now.t, now.inner, 0))) \
    X(query_invalid, (broken(), cu.cuEventQuery(now.inner))) \
    X(elapsed_invalid, (broken(), cu.cuEventElapsedTime(&any_float, now.inner, now.inner))) \
    X(record_other_invalid, (broken(), cu.cuEventRecord(now.inner, now.t))) \
    X(alloc_invalid, (broken(), cu.cuMemAlloc_v2(&any_address, 64))) \
    X(launch_legacy_invalid, (broken(), work_on(NULL))) \
    X(copy_0_invalid, (broken(), cu.cuMemcpyDtoDAsync_v2(memory[0], \
        memory[0] + 64, 0, now.s))) \
    X(flags_invalid, (broken(), cu.cuStreamGetFlags(now.s, &any_unsigned))) \
    X(dependencies_invalid, (broken(), cu.cuStreamUpdateCaptureDependencies(now.s, NULL, 0, 0))) \
    X(alloc_async_invalid, (broken(), cu.cuMemAllocAsync(&any_address, 64, now.s))) \
    X(launch_null_invalid, (broken(), launch(NULL, 1, 1, now.s, NULL))) \
    X(end_fork_invalid, (fork_and_work(), broken(), cu.cuStreamEndCapture(now.t, any_pointers))) \
    X(end_there_invalid, (broken(), there(end_there))) \
    X(end_fork_there, (fork_and_work(), cu.cuStreamSynchronize(now.t) * 0 + there(end_there))) \
    X(begin_on_fork, (fork_and_work(), cu.cuStreamBeginCapture_v2(now.t, now.mode))) \
    X(begin_bad_mode_again, cu.cuStreamBeginCapture_v2(now.s, 9)) \
    X(begin_other_relaxed_alloc, \
        (cu.cuStreamBeginCapture_v2(now.t, 2), cu.cuMemAlloc_v2(&any_address, 64))) \
    X(add_empty_now, empty_into(graph_now(), 0)) \
    X(instantiate_now, cu.cuGraphInstantiateWithFlags(any_pointers, graph_now(), 0)) \
    X(clone_now, cu.cuGraphClone(any_pointers, graph_now())) \
    X(node_destroy_now, empty_into(graph_now(), 1)) \
    X(begin_to_graph, cu.cuStreamBeginCaptureToGraph(now.t, now.graph, NULL, NULL, 0, now.mode)) \
    X(begin_to_null, cu.cuStreamBeginCaptureToGraph(now.t, NULL, NULL, NULL, 0, now.mode)) \
    X(begin_to_graph_null_nodes, \
        cu.cuStreamBeginCaptureToGraph(now.t, now.graph, NULL, NULL, 1, now.mode)) \
    X(begin_to_this_graph, \
        cu.cuStreamBeginCaptureToGraph(now.t, graph_now(), NULL, NULL, 0, now.mode))
/* clang-format on */

/* What the answers to these left open. */
static int unload_library(void) { /* loaded while this thread was not restricted */
    void *l = NULL;
    int mode = 2, result;
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    result = cu.cuLibraryLoadData(&l, module_text, NULL, NULL, 0, NULL, NULL, 0);
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    return result ? -1 : cu.cuLibraryUnload(l);
}
static int load_library(void) {
    void *l = NULL;
    return cu.cuLibraryLoadData(&l, module_text, NULL, NULL, 0, NULL, NULL, 0);
}
static int edge_now(int remove) { /* between two empty nodes of the graph that the capture fills */
    void *g = graph_now(), *a = NULL, *b = NULL;
    int result = cu.cuGraphAddEmptyNode(&a, g, NULL, 0);
    if (!result) result = cu.cuGraphAddEmptyNode(&b, g, &a, 1);
    if (result) return -1;
    return remove ? cu.cuGraphRemoveDependencies(g, &a, &b, 1)
                  : cu.cuGraphAddDependencies(g, &b, &a, 1);
}
static int update_to_now(void) {
    update info;
    void *x = NULL;
    int result;
    if (cu.cuGraphInstantiateWithFlags(&x, now.graph, 0)) return -1;
    work_on(now.s); /* two kernels in a chain, as in now.graph */
    result = cu.cuGraphExecUpdate_v2(x, graph_now(), &info);
    return 100 * result + info.result;
}
static int launch_with(void **params, void **extra) {
    return cu.cuLaunchKernel(now.store, 1, 1, 1, 1, 1, 1, 0, now.s, params, extra);
}
static int launch_bytes(size_t bytes) {
    static unsigned char buffer[256];
    void *extra[5];
    extra[0] = (void *)(uintptr_t)1;
    extra[1] = buffer;
    extra[2] = (void *)(uintptr_t)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    return launch_with(NULL, extra);
}
static int launch_both(void) {
    uint32_t value = 1;
    void *params[2], *extra[1];
    params[0] = &memory[0];
    params[1] = &value;
    extra[0] = NULL;
    return launch_with(params, extra);
}
static int free_freed_in_capture(int of_pool) {
    ptr p = 0;
    int mode = 2;
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    if (of_pool) cu.cuMemAllocAsync(&p, 4096, now.t);
    else cu.cuMemAlloc_v2(&p, 4096);
    if (of_pool) cu.cuMemFreeAsync(p, now.t);
    else cu.cuMemFree_v2(p);
    cu.cuThreadExchangeStreamCaptureMode(&mode);
    return cu.cuMemFreeAsync(p, now.s);
}
static unsigned long long any_id;
/* clang-format off */
#define LEFT(X) \
    X(library_load, load_library()) X(library_unload, unload_library()) \
    X(library_unload_null, cu.cuLibraryUnload(NULL)) \
    X(graph_destroy_now, cu.cuGraphDestroy(graph_now())) X(add_edge_now, edge_now(0)) \
    X(remove_edge_now, edge_now(1)) \
    X(update_to_now, update_to_now()) \
    X(exec_update_null, cu.cuGraphExecUpdate_v2(now.exec, NULL, NULL)) \
    X(stream_id_legacy, cu.cuStreamGetId(NULL, &any_id)) \
    X(stream_device_legacy, cu.cuStreamGetDevice(NULL, any_ints)) \
    X(stream_id, cu.cuStreamGetId(now.s, &any_id)) \
    X(stream_device, cu.cuStreamGetDevice(now.s, any_ints)) \
    X(stream_priority_legacy_to_null, cu.cuStreamGetPriority(NULL, NULL)) \
    X(launch_both, launch_both()) X(launch_bytes_too_many, launch_bytes(200)) \
    X(launch_bytes_too_few, launch_bytes(4)) \
    X(fill_pageable, cu.cuMemsetD32Async((ptr)(uintptr_t)pageable, 0, 4, now.s)) \
    X(fill_odd, cu.cuMemsetD32Async(memory[0] + 1, 0, 4, \
        now.s)) \
    X(fill_2d_pitch_small, cu.cuMemsetD2D8Async(memory[0], 2, 0, 4, 4, now.s)) \
    X(free_async_freed, free_freed_in_capture(0)) \
    X(free_async_freed_of_pool, free_freed_in_capture(1)) \
    X(free_async_wild, cu.cuMemFreeAsync(16, now.s)) \
    X(free_async_null, cu.cuMemFreeAsync(0, now.s)) \
    X(free_async_null_other, cu.cuMemFreeAsync(0, now.t)) \
    X(alloc_async_to_null_other, cu.cuMemAllocAsync(NULL, 64, now.t)) \
    X(alloc_async_to_null, cu.cuMemAllocAsync(NULL, 64, now.s)) \
    X(wait_null_external, cu.cuStreamWaitEvent(now.s, NULL, 1)) \
    X(wait_null_other, cu.cuStreamWaitEvent(now.t, NULL, 0)) \
    X(wait_other_invalid, (broken(), cu.cuStreamWaitEvent(now.t, now.outer, 0))) \
    X(upload_null, cu.cuGraphUpload(NULL, now.s)) \
    X(begin_legacy_bad_mode, cu.cuStreamBeginCapture_v2(NULL, 9)) \
    X(end_there_fork_unjoined, (fork_and_work(), there(end_there)))
/* clang-format on */

typedef struct row {
    const char *name;
    int (*call)(void);
} row;
#define ROW(name, call) \
    static int do_##name(void) { return call; }
TABLE(ROW)
#undef ROW
#define ROW(name, call) \
    static int more_##name(void) { return call; }
MORE(ROW)
#undef ROW
#define ROW(name, call) \
    static int left_##name(void) { return call; }
LEFT(ROW)
#undef ROW
#define ROW(name, call) { #name, do_##name },
static const row table[] = { TABLE(ROW) };
#undef ROW
#define ROW(name, call) { #name, more_##name },
static const row more[] = { MORE(ROW) };
#undef ROW
#define ROW(name, call) { #name, left_##name },
static const row left[] = { LEFT(ROW) };
#undef ROW

static void *captured(void) { /* a graph of two kernels, in a chain */
    void *s = NULL, *graph = NULL;
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamBeginCapture_v2(s, 2);
    work_on(s);
    work_on(s);
    cu.cuStreamEndCapture(s, &graph);
    cu.cuStreamDestroy_v2(s);
    return graph;
}
static void prepare(unsigned flags) {
    now.nop = kernel(0, "nop");
    now.store = kernel(0, "store");
    cu.cuStreamCreateWithPriority(&now.s, flags, 0);
    cu.cuStreamCreateWithPriority(&now.t, flags, 0);
    cu.cuEventCreate(&now.outer, 0);
    cu.cuEventCreate(&now.inner, 0);
    cu.cuEventRecord(now.outer, now.t);
    cu.cuModuleLoadData(&now.module, module_text);
    cu.cuMemAllocAsync(&now.before, 64, now.t);
    cu.cuMemAlloc_v2(&any_address, 64);
    cu.cuMemHostAlloc(&now.pinned, 4096, 0);
    cu.cuMemHostAlloc(&now.host, 4096, 0);
    now.graph = captured();
    cu.cuGraphInstantiateWithFlags(&now.exec, now.graph, 0);
    cu.cuCtxSynchronize();
}

/* One call while s captures: its result, the state of s after it (0 none, 1 capturing, 2
   invalidated), the result of ending the capture, the nodes of the graph. */
static void calls_of(const row *rows, size_t count, int mode, unsigned flags) {
    size_t i;
    open_one();
    for (i = 0; i < count; i++) {
        int result, state = 77, end, other = 77;
        size_t n = 0;
        void *graph = NULL, *rest = NULL;
        if (skipped(rows[i].name)) continue;
        prepare(flags);
        now.mode = mode;
        cu.cuStreamBeginCapture_v2(now.s, mode);
        work_on(now.s);
        cu.cuEventRecord(now.inner, now.s);
        result = rows[i].call();
        cu.cuStreamIsCapturing(now.s, &state);
        cu.cuStreamIsCapturing(now.t, &other);
        end = cu.cuStreamEndCapture(now.s, &graph);
        if (graph) cu.cuGraphGetNodes(graph, NULL, &n);
        answer(rows[i].name, "%d %d %d %d %d", result, state, other, end, (int)n);
        cu.cuStreamEndCapture(now.t, &rest);
        cu.cuStreamEndCapture(now.s, &rest);
    }
}
static void calls_in(int mode, unsigned flags) { calls_of(table, COUNT(table), mode, flags); }
static void calls_in_global(void) { calls_in(0, 1); }
static void calls_in_thread_local(void) { calls_in(1, 1); }
static void calls_in_relaxed(void) { calls_in(2, 1); }
/* a stream that synchronizes with the legacy one */
static void calls_in_blocking(void) { calls_in(1, 0); }

static void more_in_global(void) { calls_of(more, COUNT(more), 0, 1); }
static void more_in_thread_local(void) { calls_of(more, COUNT(more), 1, 1); }
static void more_in_relaxed(void) { calls_of(more, COUNT(more), 2, 1); }
static void more_in_blocking(void) { calls_of(more, COUNT(more), 1, 0); }

/* ---- wrong arguments, states, lifetimes ---- */

static void arguments(void) {
    void *s = NULL, *t = NULL, *g = NULL, *x = NULL, *e = NULL, *node = NULL,
         *bad = (void *)(uintptr_t)0x12345678;
    int state = 77, mode;
    size_t n = 0;
    uint64_t id = 77;
    cu.cuInit(0);
    PROBE("begin_without", cu.cuStreamBeginCapture_v2(NULL, 0));
    PROBE("end_without", cu.cuStreamEndCapture(NULL, &g));
    PROBE("is_capturing_without", cu.cuStreamIsCapturing(NULL, &state));
    PROBE("graph_without", cu.cuGraphCreate(&g, 0));
    PROBE("exchange_without", (mode = 0, cu.cuThreadExchangeStreamCaptureMode(&mode)));
    open_one();
    now.nop = kernel(0, "nop");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuEventCreate(&e, 0);
    PROBE("begin_null", cu.cuStreamBeginCapture_v2(NULL, 0));
    PROBE("begin_1", cu.cuStreamBeginCapture_v2((void *)1, 0));
    PROBE("begin_2", cu.cuStreamBeginCapture_v2((void *)2, 0));
    PROBE("end_2", cu.cuStreamEndCapture((void *)2, &g));
    PROBE("begin_mode_3", cu.cuStreamBeginCapture_v2(s, 3));
    PROBE("begin_mode_-1", cu.cuStreamBeginCapture_v2(s, -1));
    PROBE("end_none", cu.cuStreamEndCapture(s, &g));
    PROBE("end_to_null_none", cu.cuStreamEndCapture(s, NULL));
    PROBE("end_to_null", (cu.cuStreamBeginCapture_v2(s, 1), cu.cuStreamEndCapture(s, NULL)));
    PROBE("end_to_null_after", cu.cuStreamEndCapture(s, &g));
    PROBE("is_capturing_to_null", cu.cuStreamIsCapturing(s, NULL));
    PROBE("is_capturing_legacy", (cu.cuStreamIsCapturing(NULL, &state) * 10 + state));
    PROBE("is_capturing_2", (cu.cuStreamIsCapturing((void *)2, &state) * 10 + state));
    PROBE("info_none",
            cu.cuStreamGetCaptureInfo_v3(s, &state, &id, &g, NULL, NULL, &n) * 10 + state);
    PROBE("info_none_id", id == 77);
    PROBE("info_to_null", cu.cuStreamGetCaptureInfo_v3(s, NULL, &id, NULL, NULL, NULL, NULL));
    PROBE("info_status_only",
            cu.cuStreamGetCaptureInfo_v3(s, &state, NULL, NULL, NULL, NULL, NULL));
    PROBE("empty", (cu.cuStreamBeginCapture_v2(s, 1), cu.cuStreamEndCapture(s, &g)));
    PROBE("empty_nodes", (n = 77, cu.cuGraphGetNodes(g, NULL, &n) * 100 + (int)n));
    PROBE("empty_instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("empty_launch", cu.cuGraphLaunch(x, s));
    PROBE("mode_exchange_3", (mode = 3, cu.cuThreadExchangeStreamCaptureMode(&mode)));
    PROBE("mode_exchange_null", cu.cuThreadExchangeStreamCaptureMode(NULL));
    PROBE("mode_first", (mode = 1, cu.cuThreadExchangeStreamCaptureMode(&mode), mode));
    PROBE("mode_second", (mode = 0, cu.cuThreadExchangeStreamCaptureMode(&mode), mode));
    PROBE("graph_to_null", cu.cuGraphCreate(NULL, 0));
    PROBE("graph_flags_1", cu.cuGraphCreate(&g, 1));
    PROBE("graph_destroy_null", cu.cuGraphDestroy(NULL));
    PROBE("instantiate_null", cu.cuGraphInstantiateWithFlags(&x, NULL, 0));
    PROBE("instantiate_to_null", cu.cuGraphInstantiateWithFlags(NULL, g, 0));
    cu.cuGraphCreate(&g, 0);
    PROBE("instantiate_flags_16", cu.cuGraphInstantiateWithFlags(&x, g, 16));
    PROBE("instantiate_flags_7", cu.cuGraphInstantiateWithFlags(&x, g, 7));
    PROBE("instantiate_flags_1", cu.cuGraphInstantiateWithFlags(&x, g, 1));
    PROBE("instantiate_flags_8", cu.cuGraphInstantiateWithFlags(&x, g, 8));
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    PROBE("launch_null", cu.cuGraphLaunch(NULL, s));
    PROBE("launch_on_2", cu.cuGraphLaunch(x, (void *)2));
    PROBE("launch_on_legacy", cu.cuGraphLaunch(x, NULL));
    PROBE("upload_null", cu.cuGraphUpload(NULL, s));
    PROBE("exec_destroy_null", cu.cuGraphExecDestroy(NULL));
    PROBE("exec_flags", (id = 77, cu.cuGraphExecGetFlags(x, &id) * 100 + (int)id));
    PROBE("nodes_to_null", cu.cuGraphGetNodes(g, NULL, NULL));
    PROBE("nodes_of_null", cu.cuGraphGetNodes(NULL, NULL, &n));
    PROBE("roots", (n = 77, cu.cuGraphGetRootNodes(g, NULL, &n) * 100 + (int)n));
    PROBE("edges", (n = 77, cu.cuGraphGetEdges(g, NULL, NULL, &n) * 100 + (int)n));
    PROBE("add_empty", cu.cuGraphAddEmptyNode(&node, g, NULL, 0));
    PROBE("add_empty_after_null", cu.cuGraphAddEmptyNode(&node, g, NULL, 1));
    PROBE("add_empty_to_null", cu.cuGraphAddEmptyNode(NULL, g, NULL, 0));
    PROBE("nodes_room_9", (n = 9, cu.cuGraphGetNodes(g, any_pointers, &n) * 100 + (int)n));
    PROBE("node_type", (state = 77, cu.cuGraphNodeGetType(node, &state) * 100 + state));
    PROBE("node_destroy", cu.cuGraphDestroyNode(node));
    PROBE("update_info_null", cu.cuGraphExecUpdate_v2(x, g, NULL));
    PROBE("dependencies_none", cu.cuStreamUpdateCaptureDependencies(s, NULL, 0, 0));
    PROBE("garbage_graph_kept", bad != NULL);
}

static void types_of(const char *question, void *graph) {
    void *nodes[32];
    size_t n = COUNT(nodes), i, edges = 0;
    char text[128] = "";
    int type;
    if (skipped(question)) return;
    if (cu.cuGraphGetNodes(graph, nodes, &n)) n = 0;
    cu.cuGraphGetEdges(graph, NULL, NULL, &edges);
    for (i = 0; i < n; i++) {
        type = 77;
        cu.cuGraphNodeGetType(nodes[i], &type);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d", type);
    }
    answer(question, "%d nodes, %d edges:%s", (int)n, (int)edges, text);
}

/* Types of the nodes in their order, for each kind of work. */
static void nodes_of_captures(void) {
    static const char *const names[] = { "launch", "host_function", "copy_in_pageable",
        "copy_in_pinned", "copy_out_pageable", "copy_out_pinned", "copy_device", "copy_2d", "fill",
        "fill_2d", "fill_0", "copy_0", "record_external", "wait_outer_external", "record_outer",
        "wait_inner", "fork_and_join", "alloc_async", "alloc_and_free_async", "write_value",
        "wait_value", "graph_launch", "callback", "launch_cooperative" };
    size_t i, k;
    open_one();
    for (k = 0; k < COUNT(names); k++) {
        void *graph = NULL;
        prepare(1);
        cu.cuStreamBeginCapture_v2(now.s, 2);
        work_on(now.s);
        cu.cuEventRecord(now.inner, now.s);
        for (i = 0; i < COUNT(table); i++)
            if (strcmp(table[i].name, names[k]) == 0) table[i].call();
        work_on(now.s);
        cu.cuStreamEndCapture(now.s, &graph);
        types_of(names[k], graph);
    }
}

/* What a launch of a graph does; what may be destroyed when. */
static void graph_life(void) {
    void *s = NULL, *t = NULL, *g = NULL, *x = NULL, *y = NULL, *params[2], *spin;
    uint32_t value = 5, got = 0;
    gate held;
    open_one();
    now.nop = kernel(0, "nop");
    now.store = kernel(0, "store");
    spin = kernel(0, "spin");
    held = make_gate();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    params[0] = &memory[0];
    params[1] = &value;
    cu.cuStreamBeginCapture_v2(s, 1);
    launch(now.store, 1, 1, s, params);
    value = 6; /* the argument was copied at the call */
    cu.cuStreamEndCapture(s, &g);
    PROBE("nothing_ran",
            (cu.cuMemsetD32_v2(memory[0], 1, 1), cu.cuCtxSynchronize(),
                    cu.cuMemcpyDtoH_v2(&got, memory[0], 4), (int)got));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("launch", cu.cuGraphLaunch(x, s));
    PROBE("value", (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(&got, memory[0], 4), (int)got));
    PROBE("graph_destroy", cu.cuGraphDestroy(g));
    PROBE("launch_after", cu.cuGraphLaunch(x, s));
    PROBE("value_after",
            (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(&got, memory[0], 4), (int)got));
    PROBE("stream_destroy", cu.cuStreamDestroy_v2(s));
    PROBE("launch_elsewhere", cu.cuGraphLaunch(x, t));
    PROBE("launch_on_legacy", cu.cuGraphLaunch(x, NULL));
    cu.cuCtxSynchronize();
    cu.cuStreamBeginCapture_v2(t, 1);
    close_gate(held, spin, t);
    cu.cuStreamEndCapture(t, &g);
    cu.cuGraphInstantiateWithFlags(&y, g, 0);
    PROBE("busy", (cu.cuGraphLaunch(y, t), cu.cuStreamQuery(t)));
    PROBE("busy_launch_again", cu.cuGraphLaunch(y, t));
    PROBE("busy_upload", cu.cuGraphUpload(y, t));
    PROBE("busy_destroy", cu.cuGraphExecDestroy(y));
    PROBE("busy_still", cu.cuStreamQuery(t));
    open_gate(held);
    PROBE("busy_ends", cu.cuStreamSynchronize(t));
    PROBE("launch_destroyed",
            (cu.cuStreamBeginCapture_v2(t, 1), work_on(t), cu.cuStreamEndCapture(t, &g)));
    cu.cuGraphInstantiateWithFlags(&y, g, 0);
    PROBE("exec_destroy", cu.cuGraphExecDestroy(y));
    PROBE("destroy_graph_before_exec", cu.cuGraphDestroy(g));
    PROBE("end", cu.cuCtxSynchronize());
}

/* Two launches of one exec on two streams: do they overlap? */
static void graph_order(void) {
    void *s = NULL, *t = NULL, *g = NULL, *x = NULL, *y = NULL, *spin;
    gate held;
    open_one();
    now.nop = kernel(0, "nop");
    spin = kernel(0, "spin");
    held = make_gate();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuStreamBeginCapture_v2(s, 1);
    work_on(s);
    cu.cuStreamEndCapture(s, &g);
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    cu.cuGraphInstantiateWithFlags(&y, g, 0);
    cu.cuGraphLaunch(x, s);
    cu.cuGraphLaunch(y, t);
    cu.cuCtxSynchronize();
    close_gate(held, spin, s);
    PROBE("behind", (cu.cuGraphLaunch(x, s), cu.cuStreamQuery(s)));
    PROBE("same_exec_elsewhere", (cu.cuGraphLaunch(x, t), wrong_time(), cu.cuStreamQuery(t)));
    PROBE("other_exec", (cu.cuGraphLaunch(y, t), wrong_time(), cu.cuStreamQuery(t)));
    open_gate(held);
    PROBE("all", cu.cuCtxSynchronize());
}

/* Captures of one value and another, of another grid, kernel, topology, kind of node; then
   cuGraphExecUpdate. */
static void *one_of(int kind, void *s) {
    void *g = NULL, *params[2], *e = NULL, *t = NULL;
    uint32_t value = (uint32_t)kind;
    params[0] = &memory[0];
    params[1] = &value;
    cu.cuStreamBeginCapture_v2(s, 1);
    switch (kind) {
    case 0:
    case 1: launch(now.store, 1, 1, s, params); break;
    case 2: launch(now.store, 4, 32, s, params); break;
    case 3: launch(now.nop, 1, 1, s, NULL); break;
    case 4:
        launch(now.store, 1, 1, s, params);
        work_on(s);
        break;
    case 5: cu.cuMemsetD32Async(memory[0], 3, 4, s); break;
    case 6: cu.cuMemsetD32Async(memory[0], 4, 8, s); break;
    case 7: cu.cuMemsetD8Async(memory[0], 4, 8, s); break;
    case 8: cu.cuMemsetD2D8Async(memory[0], 64, 0, 4, 4, s); break;
    case 9: cu.cuMemcpyDtoDAsync_v2(memory[0], memory[0] + 1024, 64, s); break;
    case 10: cu.cuMemcpyDtoDAsync_v2(memory[0] + 64, memory[0] + 1024, 128, s); break;
    case 11: cu.cuMemcpyHtoDAsync_v2(memory[0], now.pinned, 64, s); break;
    case 12: cu.cuLaunchHostFunc(s, nothing, NULL); break;
    case 13: cu.cuLaunchHostFunc(s, nothing, &now); break;
    case 14:
        cu.cuEventCreate(&e, 0);
        cu.cuStreamCreateWithPriority(&t, 1, 0);
        work_on(s);
        cu.cuEventRecord(e, s);
        cu.cuStreamWaitEvent(t, e, 0);
        launch(now.store, 1, 1, t, params);
        cu.cuEventRecord(e, t);
        cu.cuStreamWaitEvent(s, e, 0);
        break;
    case 15:
        work_on(s);
        launch(now.store, 1, 1, s, params);
        break;
    case 16: cu.cuLaunchCooperativeKernel(now.nop, 1, 1, 1, 1, 1, 1, 0, s, NULL); break;
    default: break;
    }
    cu.cuStreamEndCapture(s, &g);
    return g;
}
static void updates(void) {
    enum { KINDS = 17 };
    void *s = NULL;
    int from, to;
    open_one();
    prepare(1);
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    for (from = 0; from < KINDS; from++)
        for (to = 0; to < KINDS; to++) {
            char question[40];
            void *x = NULL, *g, *h;
            int result;
            update info;
            if (from != to && to != 0 && from != 0 && from + 1 != to && to + 1 != from) continue;
            snprintf(question, sizeof question, "from_%d_to_%d", from, to);
            if (skipped(question)) continue;
            g = one_of(from, s);
            h = one_of(to, s);
            memset(&info, 0x55, sizeof info);
            cu.cuGraphInstantiateWithFlags(&x, g, 0);
            result = cu.cuGraphExecUpdate_v2(x, h, &info);
            answer(question, "%d %d %s %s", result, info.result, info.node ? "node" : "no node",
                    info.from ? "from" : "no from");
            cu.cuGraphExecDestroy(x);
            cu.cuGraphDestroy(g);
            cu.cuGraphDestroy(h);
        }
}

/* After the end of a capture, and destroying a stream that captures. */
static void after_capture(void) {
    void *s = NULL, *t = NULL, *u = NULL, *e = NULL, *never = NULL, *g = NULL, *f = NULL;
    int state = 77;
    open_one();
    now.nop = kernel(0, "nop");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuEventCreate(&e, 0);
    cu.cuEventCreate(&f, 0);
    cu.cuEventCreate(&never, 0);
    cu.cuStreamBeginCapture_v2(s, 1);
    work_on(s);
    cu.cuEventRecord(e, s);
    PROBE("wait_unrecorded", cu.cuStreamWaitEvent(s, never, 0));
    PROBE("state", (cu.cuStreamIsCapturing(s, &state), state));
    PROBE("end", cu.cuStreamEndCapture(s, &g));
    PROBE("query", cu.cuEventQuery(e));
    PROBE("sync", cu.cuEventSynchronize(e));
    PROBE("wait", cu.cuStreamWaitEvent(t, e, 0));
    PROBE("wait_again", cu.cuStreamWaitEvent(s, e, 0));
    PROBE("elapsed", cu.cuEventElapsedTime(&any_float, e, e));
    cu.cuStreamBeginCapture_v2(s, 1);
    PROBE("wait_in_next", cu.cuStreamWaitEvent(s, e, 0));
    PROBE("end_next", cu.cuStreamEndCapture(s, &g));
    PROBE("record", cu.cuEventRecord(e, s));
    PROBE("query_recorded", (cu.cuCtxSynchronize(), cu.cuEventQuery(e)));
    cu.cuStreamBeginCapture_v2(s, 1);
    work_on(s);
    cu.cuEventRecord(e, s);
    cu.cuStreamBeginCapture_v2(t, 1);
    work_on(t);
    PROBE("merge", cu.cuStreamWaitEvent(t, e, 0));
    PROBE("merge_state", (cu.cuStreamIsCapturing(s, &state), state));
    PROBE("merge_state_other", (cu.cuStreamIsCapturing(t, &state), state));
    PROBE("merge_end", cu.cuStreamEndCapture(s, &g));
    PROBE("merge_end_other", cu.cuStreamEndCapture(t, &g));
    cu.cuStreamBeginCapture_v2(s, 1);
    work_on(s);
    cu.cuEventRecord(e, s);
    cu.cuStreamWaitEvent(t, e, 0);
    work_on(t);
    PROBE("end_fork", cu.cuStreamEndCapture(t, &g));
    PROBE("end_fork_state", (cu.cuStreamIsCapturing(s, &state), state));
    PROBE("end_origin", cu.cuStreamEndCapture(s, &g));
    cu.cuStreamBeginCapture_v2(s, 1);
    work_on(s);
    cu.cuCtxSynchronize();
    PROBE("work_when_invalid", work_on(s));
    PROBE("record_when_invalid", cu.cuEventRecord(e, s));
    PROBE("wait_when_invalid", cu.cuStreamWaitEvent(s, f, 0));
    PROBE("sync_when_invalid", cu.cuStreamSynchronize(s));
    PROBE("begin_when_invalid", cu.cuStreamBeginCapture_v2(s, 1));
    PROBE("end_when_invalid", cu.cuStreamEndCapture(s, &g));
    PROBE("graph_when_invalid", g == NULL);
    PROBE("work_after", work_on(s));
    PROBE("sync_after", cu.cuStreamSynchronize(s));
    cu.cuStreamCreateWithPriority(&u, 1, 0);
    cu.cuStreamBeginCapture_v2(u, 1);
    work_on(u);
    PROBE("destroy_capturing", cu.cuStreamDestroy_v2(u));
    PROBE("alloc_then", cu.cuMemAlloc_v2(&any_address, 64));
    PROBE("sync_then", cu.cuCtxSynchronize());
}

/* Memory nodes. */
static void memory_nodes(void) {
    void *s = NULL, *t = NULL, *g = NULL, *x = NULL, *y = NULL;
    ptr p = 0, q = 0;
    int what = 77;
    uint32_t got = 0;
    open_one();
    now.nop = kernel(0, "nop");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuStreamBeginCapture_v2(s, 1);
    PROBE("alloc", cu.cuMemAllocAsync(&p, 4096, s));
    PROBE("is_an_address", p != 0);
    PROBE("fill", cu.cuMemsetD32Async(p, 9, 4, s));
    PROBE("copy", cu.cuMemcpyDtoDAsync_v2(memory[0], p, 4, s));
    cu.cuStreamEndCapture(s, &g);
    PROBE("type_before", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("instantiate_twice", cu.cuGraphInstantiateWithFlags(&y, g, 0));
    PROBE("clone", cu.cuGraphClone(&y, g));
    PROBE("launch", cu.cuGraphLaunch(x, s));
    PROBE("value", (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(&got, memory[0], 4), (int)got));
    PROBE("type_after", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("relaunch", cu.cuGraphLaunch(x, s));
    PROBE("free_async", cu.cuMemFreeAsync(p, s));
    PROBE("launch_after_free", cu.cuGraphLaunch(x, s));
    PROBE("free", (cu.cuStreamSynchronize(s), cu.cuMemFree_v2(p)));
    PROBE("graph_destroy", cu.cuGraphDestroy(g));
    PROBE("exec_destroy", cu.cuGraphExecDestroy(x));
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&q, 4096, s);
    cu.cuMemFreeAsync(q, s);
    cu.cuStreamEndCapture(s, &g);
    PROBE("freed_instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("freed_launch", cu.cuGraphLaunch(x, s));
    PROBE("freed_relaunch", cu.cuGraphLaunch(x, s));
    PROBE("freed_elsewhere", cu.cuGraphLaunch(x, t));
    PROBE("freed_free", (cu.cuCtxSynchronize(), cu.cuMemFree_v2(q)));
    PROBE("auto_free",
            (cu.cuStreamBeginCapture_v2(s, 1), cu.cuMemAllocAsync(&q, 4096, s),
                    cu.cuStreamEndCapture(s, &g), cu.cuGraphInstantiateWithFlags(&x, g, 1)));
    PROBE("auto_free_launch", cu.cuGraphLaunch(x, s));
    PROBE("auto_free_relaunch", cu.cuGraphLaunch(x, s));
    PROBE("end", cu.cuCtxSynchronize());
}

/* What a node says of a kernel whose arguments were one packed buffer; before and after the graph
   is launched. */
static void packed_node(void) {
    void *s = NULL, *g = NULL, *x = NULL, *node = NULL, *extra[5];
    unsigned char packed[12];
    uint32_t value = 5;
    size_t n = 1, bytes = sizeof packed;
    int k, i;
    char question[40], order[40];
    struct {
        void *function;
        unsigned grid[3], block[3], shared;
        void **params, **extra;
    } p;
    open_one();
    prepare(1);
    s = now.s;
    memcpy(packed, &memory[0], 8);
    memcpy(packed + 8, &value, 4);
    extra[0] = (void *)(uintptr_t)1;
    extra[1] = packed;
    extra[2] = (void *)(uintptr_t)2;
    extra[3] = &bytes;
    extra[4] = NULL;
    cu.cuStreamBeginCapture_v2(s, 2);
    cu.cuLaunchKernel(now.store, 1, 1, 1, 1, 1, 1, 0, s, NULL, extra);
    cu.cuStreamEndCapture(s, &g);
    memset(packed, 0, sizeof packed);
    bytes = 0;
    cu.cuGraphGetNodes(g, &node, &n);
    for (k = 0; k < 2; k++) {
        snprintf(question, sizeof question, "params_%d", k);
        if (skipped(question)) continue;
        memset(&p, 0, sizeof p);
        n = (size_t)cu.cuGraphKernelNodeGetParams(node, &p);
        order[0] = 0;
        for (i = 0; p.extra && i < 4 && p.extra[i]; i += 2)
            snprintf(order + strlen(order), sizeof order - strlen(order), " %d",
                    (int)(uintptr_t)p.extra[i]);
        answer(question, "%d params %d extra %d%s", (int)n, p.params != NULL, p.extra != NULL,
                order);
        for (i = 0; p.extra && i < 4 && p.extra[i]; i += 2) {
            snprintf(question, sizeof question, "%s_%d", p.extra[i] == extra[0] ? "buffer" : "size",
                    k);
            if (p.extra[i] == extra[0]) PROBE(question, memcmp(p.extra[i + 1], &memory[0], 8) == 0);
            else if (p.extra[i] == extra[2]) PROBE(question, (int)*(size_t *)p.extra[i + 1]);
        }
        if (p.params) {
            snprintf(question, sizeof question, "argument_%d", k);
            PROBE(question, *(int *)p.params[1]);
        }
        cu.cuGraphInstantiateWithFlags(&x, g, 0);
        cu.cuGraphLaunch(x, s);
        cu.cuStreamSynchronize(s);
    }
}
/* A capture over two devices. */
static void two_devices(void) {
    void *s = NULL, *t = NULL, *e = NULL, *f = NULL, *g = NULL, *x = NULL, *nop[2];
    size_t n = 0;
    open_all();
    nop[0] = kernel(0, "nop");
    nop[1] = kernel(1, "nop");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuEventCreate(&e, 0);
    cu.cuCtxSetCurrent(context[1]);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuEventCreate(&f, 0);
    cu.cuCtxSetCurrent(context[0]);
    PROBE("begin", cu.cuStreamBeginCapture_v2(s, 1));
    PROBE("record", cu.cuEventRecord(e, s));
    PROBE("fork", cu.cuStreamWaitEvent(t, e, 0));
    PROBE("launch", launch(nop[1], 1, 1, t, NULL));
    PROBE("wrong_kernel", launch(nop[0], 1, 1, t, NULL));
    PROBE("record_back", cu.cuEventRecord(f, t));
    PROBE("join", cu.cuStreamWaitEvent(s, f, 0));
    PROBE("end", cu.cuStreamEndCapture(s, &g));
    PROBE("nodes", (cu.cuGraphGetNodes(g, NULL, &n), (int)n));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("launch_on_0", cu.cuGraphLaunch(x, s));
    PROBE("launch_on_1", cu.cuGraphLaunch(x, t));
    PROBE("sync", cu.cuStreamSynchronize(s) * 1000 + cu.cuStreamSynchronize(t));
}

/* ---- graphs: edges, parameters, updates, memory ---- */

static void graph_edges(void) {
    void *g = NULL, *h = NULL, *a = NULL, *b = NULL, *c = NULL, *x = NULL, *from[4], *to[4],
         *d = NULL, *list[2];
    size_t n;
    int k;
    open_one();
    cu.cuGraphCreate(&g, 0);
    cu.cuGraphCreate(&h, 0);
    cu.cuGraphAddEmptyNode(&a, g, NULL, 0);
    cu.cuGraphAddEmptyNode(&b, g, &a, 1);
    cu.cuGraphAddEmptyNode(&c, g, &b, 1);
    cu.cuGraphAddEmptyNode(&d, h, NULL, 0);
    PROBE("after_other_graph", cu.cuGraphAddEmptyNode(&x, g, &d, 1));
    list[0] = list[1] = a;
    PROBE("after_twice", cu.cuGraphAddEmptyNode(&x, g, list, 2));
    PROBE("edge", cu.cuGraphAddDependencies(g, &a, &c, 1));
    PROBE("edge_again", cu.cuGraphAddDependencies(g, &a, &c, 1));
    PROBE("edge_to_itself", cu.cuGraphAddDependencies(g, &a, &a, 1));
    PROBE("edge_to_other_graph", cu.cuGraphAddDependencies(g, &a, &d, 1));
    PROBE("edges_0", cu.cuGraphAddDependencies(g, NULL, NULL, 0));
    PROBE("edges_null", cu.cuGraphAddDependencies(g, NULL, NULL, 1));
    PROBE("circle", cu.cuGraphAddDependencies(g, &c, &a, 1));
    PROBE("instantiate_circle", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("remove", cu.cuGraphRemoveDependencies(g, &c, &a, 1));
    PROBE("remove_again", cu.cuGraphRemoveDependencies(g, &c, &a, 1));
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("count", (n = 77, cu.cuGraphGetEdges(g, NULL, NULL, &n) * 100 + (int)n));
    PROBE("only_from", (n = 4, cu.cuGraphGetEdges(g, from, NULL, &n) * 100 + (int)n));
    PROBE("room_1", (n = 1, cu.cuGraphGetEdges(g, from, to, &n) * 100 + (int)n));
    n = 4;
    cu.cuGraphGetEdges(g, from, to, &n);
    for (k = 0; k < 3; k++) {
        const char *const names[] = { "first", "second", "third" };
        PROBE(names[k],
                (from[k] == a                  ? 1
                                : from[k] == b ? 2
                                               : 3) *
                                10 +
                        (to[k] == a                  ? 1
                                        : to[k] == b ? 2
                                                     : 3));
    }
    PROBE("before_room_1", (n = 1, cu.cuGraphNodeGetDependencies(c, from, &n) * 100 + (int)n));
    PROBE("before_first", from[0] == b);
    PROBE("before_room_0", (n = 0, cu.cuGraphNodeGetDependencies(c, from, &n) * 100 + (int)n));
    PROBE("before_null", cu.cuGraphNodeGetDependencies(NULL, from, &n));
    PROBE("after", (n = 4, cu.cuGraphNodeGetDependentNodes(a, to, &n) * 100 + (int)n));
    PROBE("after_first", to[0] == b);
    PROBE("after_rest", to[3] == NULL);
    PROBE("roots_room_2", (n = 2, cu.cuGraphGetRootNodes(g, from, &n) * 100 + (int)n));
    PROBE("type_of_null", cu.cuGraphNodeGetType(NULL, &k));
    PROBE("type_to_null", cu.cuGraphNodeGetType(a, NULL));
    PROBE("destroy_middle", cu.cuGraphDestroyNode(b));
    PROBE("count_after", (n = 77, cu.cuGraphGetEdges(g, NULL, NULL, &n) * 100 + (int)n));
    PROBE("destroy_null", cu.cuGraphDestroyNode(NULL));
    PROBE("clone", cu.cuGraphClone(&h, g));
    PROBE("find", cu.cuGraphNodeFindInClone(&x, a, h));
    PROBE("find_is_another", x != a);
    PROBE("find_in_original", cu.cuGraphNodeFindInClone(&x, a, g));
    PROBE("find_of_clone",
            (n = 1, cu.cuGraphGetNodes(h, list, &n), cu.cuGraphNodeFindInClone(&x, list[0], h)));
    PROBE("clone_null", cu.cuGraphClone(&h, NULL));
}

static void node_params(void) {
    void *s = NULL, *g = NULL, *nodes[8], *params[2];
    size_t n = COUNT(nodes);
    uint32_t value = 5, got = 0;
    struct {
        void *function;
        unsigned grid[3], block[3], shared;
        void **params, **extra;
    } k;
    struct {
        ptr to;
        size_t pitch;
        unsigned value, size;
        size_t width, height;
    } m;
    struct {
        size_t x, y, z, lod;
        unsigned type;
        const void *host;
        ptr device;
        void *array, *reserved;
        size_t pitch, height;
        size_t x2, y2, z2, lod2;
        unsigned type2;
        void *host2;
        ptr device2;
        void *array2, *reserved2;
        size_t pitch2, height2;
        size_t width, rows, depth;
    } c;
    open_one();
    prepare(1);
    s = now.s;
    params[0] = &memory[0];
    params[1] = &value;
    cu.cuStreamBeginCapture_v2(s, 2);
    launch(now.store, 2, 32, s, params);
    cu.cuMemsetD32Async(memory[0], 7, 5, s);
    cu.cuMemsetD2D8Async(memory[0], 64, 3, 4, 5, s);
    cu.cuMemcpyDtoDAsync_v2(memory[0], memory[0] + 1024, 64, s);
    cu.cuMemcpyHtoDAsync_v2(memory[0], pageable, 32, s);
    cu.cuMemcpyDtoHAsync_v2(now.pinned, memory[0], 32, s);
    copy_2d_to(s);
    launch(now.nop, 1, 1, s, NULL);
    cu.cuStreamEndCapture(s, &g);
    cu.cuGraphGetNodes(g, nodes, &n);
    PROBE("kernel", cu.cuGraphKernelNodeGetParams(nodes[0], &k));
    PROBE("kernel_function", k.function == now.store);
    PROBE("kernel_shape", (int)(k.grid[0] * 1000 + k.block[0] * 10 + k.shared));
    PROBE("kernel_params", k.params != NULL);
    PROBE("kernel_extra", k.extra != NULL);
    PROBE("kernel_value", (memcpy(&got, k.params[1], 4), (int)got));
    PROBE("kernel_again_same",
            (params[0] = k.params[0], cu.cuGraphKernelNodeGetParams(nodes[0], &k),
                    params[0] == k.params[0]));
    PROBE("kernel_without", (cu.cuGraphKernelNodeGetParams(nodes[7], &k), k.params != NULL));
    PROBE("kernel_of_memset", cu.cuGraphKernelNodeGetParams(nodes[1], &k));
    PROBE("kernel_of_null", cu.cuGraphKernelNodeGetParams(NULL, &k));
    PROBE("memset", cu.cuGraphMemsetNodeGetParams(nodes[1], &m));
    PROBE("memset_values", (int)(m.value * 1000 + m.size * 100 + m.width * 10 + m.height));
    PROBE("memset_pitch", (int)m.pitch);
    PROBE("memset_2d", cu.cuGraphMemsetNodeGetParams(nodes[2], &m));
    PROBE("memset_2d_values", (int)(m.value * 1000 + m.size * 100 + m.width * 10 + m.height));
    PROBE("memset_2d_pitch", (int)m.pitch);
    PROBE("copy", cu.cuGraphMemcpyNodeGetParams(nodes[3], &c));
    PROBE("copy_types", (int)(c.type * 10 + c.type2));
    PROBE("copy_device", c.device == memory[0] + 1024 && c.device2 == memory[0]);
    PROBE("copy_shape", (int)(c.width * 100 + c.rows * 10 + c.depth));
    PROBE("copy_pitch", (int)c.pitch);
    PROBE("copy_pitch_to", (int)c.pitch2);
    PROBE("copy_height", (int)c.height);
    PROBE("copy_in", cu.cuGraphMemcpyNodeGetParams(nodes[4], &c));
    PROBE("copy_in_types", (int)(c.type * 10 + c.type2));
    PROBE("copy_in_host", c.host == (const void *)pageable);
    PROBE("copy_out", cu.cuGraphMemcpyNodeGetParams(nodes[5], &c));
    PROBE("copy_out_types", (int)(c.type * 10 + c.type2));
    PROBE("copy_2d", cu.cuGraphMemcpyNodeGetParams(nodes[6], &c));
    PROBE("copy_2d_types", (int)(c.type * 10 + c.type2));
    PROBE("copy_2d_shape", (int)(c.width * 100 + c.rows * 10 + c.depth));
    PROBE("copy_2d_pitch", (int)c.pitch);
    PROBE("copy_2d_pitch_to", (int)c.pitch2);
    PROBE("copy_2d_height", (int)c.height);
}

/* The same calls on each stream, interleaved in another way; several last nodes; memory; the exec's
   or graph's handle. */
static void *branches_of(void *s, void *t, int how) {
    void *g = NULL, *e = fresh_event(), *list[2];
    cu.cuStreamBeginCapture_v2(s, 1);
    work_on(s);
    cu.cuEventRecord(e, s);
    cu.cuStreamWaitEvent(t, e, 0);
    if (how & 1) cu.cuMemsetD32Async(memory[0], 1, 4, t);
    work_on(s);
    if (!(how & 1)) cu.cuMemsetD32Async(memory[0], 1, 4, t);
    cu.cuEventRecord(e, t);
    if (how & 2) cu.cuStreamWaitEvent(s, e, 0);
    if (how & 4) work_on(s);
    if (!(how & 2)) cu.cuStreamWaitEvent(s, e, 0);
    if (how & 8) { /* the join's edges the other way round */
        size_t n = 0;
        void *const *now_list = NULL;
        int status;
        uint64_t id;
        cu.cuStreamGetCaptureInfo_v3(s, &status, &id, NULL, &now_list, NULL, &n);
        if (n == 2) {
            list[0] = now_list[1];
            list[1] = now_list[0];
            cu.cuStreamUpdateCaptureDependencies(s, list, 2, 1);
        }
        work_on(s);
    }
    if (how & 16) work_on(s);
    cu.cuStreamEndCapture(s, &g);
    return g;
}
static void updates_of_branches(void) {
    static const int pairs[][2] = {
        { 0, 0 },
        { 0, 1 },
        { 2, 3 },
        { 6, 7 },
        { 16, 17 },
        { 24, 25 },
        { 16, 8 },
        { 18, 19 },
        { 0, 2 },
        { 4, 6 },
        { 6, 4 },
        { 16, 4 },
        { 16, 6 },
        { 18, 6 },
    };
    void *s = NULL, *t = NULL, *x = NULL, *y = NULL, *g, *h;
    ptr p = 0;
    size_t i;
    update info;
    open_one();
    prepare(1);
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    for (i = 0; i < COUNT(pairs); i++) {
        char question[40];
        int result;
        snprintf(question, sizeof question, "from_%d_to_%d", pairs[i][0], pairs[i][1]);
        if (skipped(question)) continue;
        g = branches_of(s, t, pairs[i][0]);
        h = branches_of(s, t, pairs[i][1]);
        memset(&info, 0x55, sizeof info);
        cu.cuGraphInstantiateWithFlags(&x, g, 0);
        result = cu.cuGraphExecUpdate_v2(x, h, &info);
        answer(question, "%d %d %s %s", result, info.result, info.node ? "node" : "no node",
                info.from ? "from" : "no from");
        cu.cuGraphExecDestroy(x);
    }
    g = branches_of(s, t, 0);
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    PROBE("exec_null", cu.cuGraphExecUpdate_v2(NULL, g, &info));
    PROBE("exec_null_result", info.result);
    PROBE("graph_null",
            (memset(&info, 0x55, sizeof info), cu.cuGraphExecUpdate_v2(x, NULL, &info)));
    PROBE("graph_null_result", info.result);
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&p, 64, s);
    cu.cuMemFreeAsync(p, s);
    cu.cuStreamEndCapture(s, &h);
    cu.cuGraphInstantiateWithFlags(&y, h, 0);
    PROBE("memory_itself", cu.cuGraphExecUpdate_v2(y, h, &info));
    PROBE("memory_itself_result", info.result);
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&p, 64, s);
    cu.cuMemFreeAsync(p, s);
    cu.cuStreamEndCapture(s, &g);
    PROBE("memory_other", (memset(&info, 0x55, sizeof info), cu.cuGraphExecUpdate_v2(y, g, &info)));
    PROBE("memory_other_result", info.result);
    PROBE("memory_other_node", info.node != NULL);
}

static void more_memory(void) {
    void *s = NULL, *t = NULL, *g = NULL, *h = NULL, *x = NULL, *y = NULL, *spin;
    ptr p = 0, q = 0;
    int what = 77;
    gate held;
    open_one();
    spin = kernel(0, "spin");
    held = make_gate();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&p, 4096, s);
    cu.cuStreamEndCapture(s, &g);
    PROBE("range_before", cu.cuMemGetAddressRange_v2(&q, any_sizes, p));
    PROBE("copy_before", cu.cuMemcpyDtoDAsync_v2(memory[0], p, 4, s));
    cu.cuStreamBeginCapture_v2(t, 1);
    PROBE("copy_captured_elsewhere", cu.cuMemcpyDtoDAsync_v2(memory[0], p, 4, t));
    PROBE("free_captured_elsewhere", cu.cuMemFreeAsync(p, t));
    cu.cuStreamEndCapture(t, &h);
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    cu.cuGraphInstantiateWithFlags(&y, h, 0);
    PROBE("free_before", cu.cuMemFree_v2(p));
    PROBE("free_async_before", cu.cuMemFreeAsync(p, s));
    PROBE("launch_free_first", cu.cuGraphLaunch(y, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
    close_gate(held, spin, s);
    PROBE("launch_behind", cu.cuGraphLaunch(x, s));
    PROBE("type_behind", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("copy_behind", cu.cuMemcpyDtoDAsync_v2(memory[0], p, 4, s));
    PROBE("free_async_behind", cu.cuMemFreeAsync(p, s));
    PROBE("type_freed_behind", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("launch_again_behind", cu.cuGraphLaunch(x, s));
    PROBE("launch_free_behind", cu.cuGraphLaunch(y, s));
    PROBE("launch_free_again", cu.cuGraphLaunch(y, s));
    open_gate(held);
    PROBE("end", cu.cuCtxSynchronize());
    PROBE("type_after", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("launch_last", cu.cuGraphLaunch(x, s));
    PROBE("exec_destroy", (cu.cuCtxSynchronize(), cu.cuGraphExecDestroy(x)));
    PROBE("graph_destroy", cu.cuGraphDestroy(g));
    PROBE("type_left", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("launch_free_left", cu.cuGraphLaunch(y, s));
    PROBE("sync_left", cu.cuStreamSynchronize(s));
    PROBE("type_gone", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("launch_free_gone", cu.cuGraphLaunch(y, s));
    cu.cuStreamBeginCapture_v2(s, 1);
    PROBE("free_gone_captured", cu.cuMemFreeAsync(p, s));
    cu.cuMemAllocAsync(&p, 4096, s);
    PROBE("destroy_stream_with_memory", cu.cuStreamDestroy_v2(s));
    PROBE("again",
            (cu.cuStreamBeginCapture_v2(t, 1), cu.cuMemAllocAsync(&p, 4096, t),
                    cu.cuStreamEndCapture(t, &g)));
    cu.cuGraphInstantiateWithFlags(&x, g, 1);
    PROBE("auto_flags",
            (any_sizes[0] = 77,
                    cu.cuGraphExecGetFlags(x, (uint64_t *)(void *)any_sizes) * 100 +
                            (int)any_sizes[0]));
    PROBE("auto_launch", (cu.cuGraphLaunch(x, t), cu.cuGraphLaunch(x, t)));
    PROBE("auto_free", (cu.cuCtxSynchronize(), cu.cuMemFree_v2(p)));
    PROBE("auto_launch_after", cu.cuGraphLaunch(x, t));
    PROBE("auto_end", cu.cuCtxSynchronize());
}

/* What is destroyed before a launch. The last ones may crash. */
static void more_life(void) {
    void *s = NULL, *e = NULL, *g = NULL, *x = NULL, *own = NULL, *mod = NULL, *f = NULL, *t = NULL;
    size_t n = 0;
    open_one();
    now.nop = kernel(0, "nop");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuEventCreate(&e, 0);
    cu.cuGraphCreate(&g, 0);
    PROBE("to_graph", cu.cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, 1));
    work_on(s);
    PROBE("to_graph_twice", cu.cuStreamBeginCaptureToGraph(t, g, NULL, NULL, 0, 1));
    work_on(t);
    PROBE("to_graph_end_second", cu.cuStreamEndCapture(t, &x));
    PROBE("to_graph_same", x == g);
    PROBE("to_graph_break", cu.cuStreamQuery(s));
    PROBE("to_graph_end", cu.cuStreamEndCapture(s, &x));
    PROBE("to_graph_end_null", x == NULL);
    PROBE("to_graph_nodes", (cu.cuGraphGetNodes(g, NULL, &n) * 100 + (int)n));
    PROBE("to_graph_instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuEventRecordWithFlags(e, s, 1);
    cu.cuStreamEndCapture(s, &g);
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    PROBE("event_query", cu.cuEventQuery(e));
    PROBE("event_launch", cu.cuGraphLaunch(x, s));
    PROBE("event_sync", cu.cuEventSynchronize(e));
    PROBE("event_elapsed", cu.cuEventElapsedTime(&any_float, e, e));
    PROBE("event_destroy", cu.cuEventDestroy_v2(e));
    PROBE("event_launch_after", cu.cuGraphLaunch(x, s));
    PROBE("event_sync_after", cu.cuStreamSynchronize(s));
    cu.cuCtxCreate_v2(&own, 0, 0);
    cu.cuModuleLoadData(&mod, module_text);
    cu.cuModuleGetFunction(&f, mod, "nop");
    cu.cuStreamCreateWithPriority(&t, 1, 0);
    cu.cuStreamBeginCapture_v2(t, 1);
    launch(f, 1, 1, t, NULL);
    cu.cuStreamEndCapture(t, &g);
    PROBE("own_instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("own_launch", cu.cuGraphLaunch(x, t));
    PROBE("own_launch_elsewhere", cu.cuGraphLaunch(x, s));
    cu.cuStreamBeginCapture_v2(t, 1);
    launch(f, 1, 1, t, NULL);
    PROBE("own_destroy", cu.cuCtxDestroy_v2(own));
    cu.cuCtxSetCurrent(context[0]);
    PROBE("own_alloc", cu.cuMemAlloc_v2(&any_address, 64));
    PROBE("own_nodes", (cu.cuGraphGetNodes(g, NULL, &n) * 100 + (int)n));
    PROBE("own_graph_destroy", cu.cuGraphDestroy(g));
}

static void left_in_thread_local(void) { calls_of(left, COUNT(left), 1, 1); }
static void left_in_relaxed(void) { calls_of(left, COUNT(left), 2, 1); }
static void left_in_blocking(void) { calls_of(left, COUNT(left), 1, 0); }

static int digit(const void *node, void *const *of, size_t n) {
    size_t i;
    for (i = 0; i < n; i++)
        if (of[i] == node) return (int)i + 1;
    return 9;
}
static void left_lists(void) {
    void *g = NULL, *h = NULL, *nodes[4] = { NULL, NULL, NULL, NULL }, *list[8], *x = NULL,
         *to = NULL;
    size_t n, i;
    int k, value;
    update info;
    open_one();
    cu.cuGraphCreate(&g, 0);
    PROBE("nodes_empty_room_0", (n = 0, cu.cuGraphGetNodes(g, list, &n) * 100 + (int)n));
    PROBE("edges_empty_room_0", (n = 0, cu.cuGraphGetEdges(g, list, list + 4, &n) * 100 + (int)n));
    for (k = 0; k < 4; k++) cu.cuGraphAddEmptyNode(&nodes[k], g, NULL, 0);
    PROBE("before_none_room_0",
            (n = 0, cu.cuGraphNodeGetDependencies(nodes[0], list, &n) * 100 + (int)n));
    PROBE("nodes_room_0", (n = 0, cu.cuGraphGetNodes(g, list, &n) * 100 + (int)n));
    PROBE("roots_room_0", (n = 0, cu.cuGraphGetRootNodes(g, list, &n) * 100 + (int)n));
    /* 1 -> 4, 1 -> 2, 3 -> 2, 1 -> 3 in this order */
    cu.cuGraphAddDependencies(g, &nodes[0], &nodes[3], 1);
    cu.cuGraphAddDependencies(g, &nodes[0], &nodes[1], 1);
    cu.cuGraphAddDependencies(g, &nodes[2], &nodes[1], 1);
    cu.cuGraphAddDependencies(g, &nodes[0], &nodes[2], 1);
    PROBE("edges_room_0", (n = 0, cu.cuGraphGetEdges(g, list, list + 4, &n) * 100 + (int)n));
    PROBE("after_room_0",
            (n = 0, cu.cuGraphNodeGetDependentNodes(nodes[0], list, &n) * 100 + (int)n));
    PROBE("after",
            (n = 4, cu.cuGraphNodeGetDependentNodes(nodes[0], list, &n), value = 0,
                    digit(list[0], nodes, 4) * 100 + digit(list[1], nodes, 4) * 10 +
                            digit(list[2], nodes, 4)));
    PROBE("before",
            (n = 4, cu.cuGraphNodeGetDependencies(nodes[1], list, &n),
                    digit(list[0], nodes, 4) * 10 + digit(list[1], nodes, 4)));
    n = 4;
    cu.cuGraphGetEdges(g, list, list + 4, &n);
    for (i = 0, value = 0; i < 4; i++)
        value = value * 100 + digit(list[i], nodes, 4) * 10 + digit(list[4 + i], nodes, 4);
    PROBE("edges", value);
    cu.cuGraphClone(&h, g);
    n = 4;
    cu.cuGraphGetNodes(h, nodes, &n);
    n = 4;
    cu.cuGraphGetEdges(h, list, list + 4, &n);
    for (i = 0, value = 0; i < 4; i++)
        value = value * 100 + digit(list[i], nodes, 4) * 10 + digit(list[4 + i], nodes, 4);
    PROBE("edges_of_clone", value);
    /* a kernel and a fill end the graph; in h a node after the kernel came and went */
    prepare(1);
    for (k = 0; k < 2; k++) {
        void *s = NULL, *t = NULL, *e = fresh_event(), *made[2] = { NULL, NULL };
        cu.cuStreamCreateWithPriority(&s, 1, 0);
        cu.cuStreamCreateWithPriority(&t, 1, 0);
        cu.cuStreamBeginCapture_v2(s, 1);
        cu.cuEventRecord(e, s);
        cu.cuStreamWaitEvent(t, e, 0);
        work_on(s);
        cu.cuMemsetD32Async(memory[0], 1, 4, t);
        cu.cuEventRecord(e, t);
        cu.cuStreamWaitEvent(s, e, 0);
        cu.cuStreamEndCapture(s, k ? &h : &g);
        n = 2;
        cu.cuGraphGetNodes(k ? h : g, made, &n);
        if (!k) continue;
        cu.cuGraphAddEmptyNode(&to, h, &made[0], 1);
        cu.cuGraphDestroyNode(to);
    }
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    PROBE("update_ends", cu.cuGraphExecUpdate_v2(x, h, &info));
    PROBE("update_ends_result", info.result);
}

/* What a launch does after an update to another graph's memory; a captured fill of no memory. */
static void left_launches(void) {
    void *s = NULL, *g = NULL, *h = NULL, *x = NULL, *y = NULL;
    ptr p = 0, q = 0;
    int what;
    uint32_t got = 0;
    update info;
    open_one();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&p, 64, s);
    cu.cuMemsetD32Async(p, 5, 4, s);
    cu.cuStreamEndCapture(s, &g);
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&q, 64, s);
    cu.cuMemsetD32Async(q, 6, 4, s);
    cu.cuStreamEndCapture(s, &h);
    PROBE("other_address", p != q);
    cu.cuGraphInstantiateWithFlags(&x, g, 0);
    PROBE("update", cu.cuGraphExecUpdate_v2(x, h, &info) * 100 + info.result);
    PROBE("instantiate_the_other", cu.cuGraphInstantiateWithFlags(&y, h, 0));
    PROBE("launch", cu.cuGraphLaunch(x, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
    PROBE("type_of_first", (what = 77, cu.cuPointerGetAttribute(&what, 2, p) * 100 + what));
    PROBE("type_of_second", (what = 77, cu.cuPointerGetAttribute(&what, 2, q) * 100 + what));
    PROBE("value_of_second", (cu.cuMemcpyDtoH_v2(&got, q, 4), (int)got));
    PROBE("free_first", cu.cuMemFree_v2(p));
    PROBE("free_second", cu.cuMemFree_v2(q));
    cu.cuStreamBeginCapture_v2(s, 1);
    cu.cuMemAllocAsync(&q, 1 << 24, s);
    cu.cuMemsetD32Async(q, 7, 4, s);
    cu.cuStreamEndCapture(s, &h);
    PROBE("update_other_size", cu.cuGraphExecUpdate_v2(x, h, &info) * 100 + info.result);
    PROBE("launch_other_size", cu.cuGraphLaunch(x, s));
    PROBE("sync_other_size", cu.cuStreamSynchronize(s));
}
/* The same after a launch, and with another graph that was instantiated before; and what can be
   instantiated after the end. */
static void left_updates(void) {
    void *s = NULL, *graphs[2] = { NULL, NULL }, *x = NULL, *y = NULL;
    ptr p[2] = { 0, 0 };
    int k;
    uint32_t got = 0;
    update info;
    open_one();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    for (k = 0; k < 2; k++) {
        cu.cuStreamBeginCapture_v2(s, 1);
        cu.cuMemAllocAsync(&p[k], 64, s);
        cu.cuMemsetD32Async(p[k], 5 + (unsigned)k, 4, s);
        cu.cuStreamEndCapture(s, &graphs[k]);
    }
    cu.cuGraphInstantiateWithFlags(&x, graphs[0], 0);
    PROBE("launch", cu.cuGraphLaunch(x, s));
    PROBE("update", cu.cuGraphExecUpdate_v2(x, graphs[1], &info) * 100 + info.result);
    PROBE("value_of_first",
            (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(&got, p[0], 4), (int)got));
    PROBE("launch_before_free", cu.cuGraphLaunch(x, s));
    PROBE("free_first", cu.cuMemFreeAsync(p[0], s));
    PROBE("launch_twice", cu.cuGraphLaunch(x, s));
    PROBE("value_of_second",
            (cu.cuStreamSynchronize(s), cu.cuMemcpyDtoH_v2(&got, p[1], 4), (int)got));
    PROBE("free_second", cu.cuMemFreeAsync(p[1], s));
    PROBE("instantiate_the_first", cu.cuGraphInstantiateWithFlags(&y, graphs[0], 0));
    PROBE("sync", cu.cuStreamSynchronize(s));
    if (y) cu.cuGraphExecDestroy(y);
    PROBE("destroy", cu.cuGraphExecDestroy(x));
    PROBE("instantiate_the_second", cu.cuGraphInstantiateWithFlags(&y, graphs[1], 0));
    PROBE("instantiate_the_first_after", cu.cuGraphInstantiateWithFlags(&x, graphs[0], 0));
    PROBE("update_to_instantiated",
            cu.cuGraphExecUpdate_v2(x, graphs[1], &info) * 100 + info.result);
}
static void fills_of(ptr address) {
    void *s = NULL, *g = NULL, *x = NULL;
    open_one();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    cu.cuStreamBeginCapture_v2(s, 1);
    PROBE("fill", cu.cuMemsetD32Async(address, 1, 4, s));
    cu.cuStreamEndCapture(s, &g);
    PROBE("instantiate", cu.cuGraphInstantiateWithFlags(&x, g, 0));
    PROBE("launch", cu.cuGraphLaunch(x, s));
    PROBE("sync", cu.cuStreamSynchronize(s));
}
static void left_wild(void) { fills_of(16); }
static void left_pageable(void) { fills_of((ptr)(uintptr_t)pageable); }

const group left_capture_groups[] = {
    { "left_thread", left_in_thread_local, 1 },
    { "left_relaxed", left_in_relaxed, 1 },
    { "left_blocking", left_in_blocking, 1 },
    { "left_lists", left_lists, 1 },
    { "left_launches", left_launches, 1 },
    { "left_updates", left_updates, 1 },
    { "left_wild", left_wild, 1 },
    { "left_pageable", left_pageable, 1 },
    { NULL, NULL, 0 },
};
const group more_capture_groups[] = {
    { "more_global", more_in_global, 1 },
    { "more_thread", more_in_thread_local, 1 },
    { "more_relaxed", more_in_relaxed, 1 },
    { "more_blocking", more_in_blocking, 1 },
    { "more_edges", graph_edges, 1 },
    { "more_params", node_params, 1 },
    { "more_update", updates_of_branches, 1 },
    { "more_memory", more_memory, 1 },
    { "more_life", more_life, 1 },
    { NULL, NULL, 0 },
};
const group capture_groups[] = {
    { "capture_global", calls_in_global, 1 },
    { "capture_thread", calls_in_thread_local, 1 },
    { "capture_relaxed", calls_in_relaxed, 1 },
    { "capture_blocking", calls_in_blocking, 1 },
    { "capture_arguments", arguments, 1 },
    { "capture_nodes", nodes_of_captures, 1 },
    { "graph_life", graph_life, 1 },
    { "graph_order", graph_order, 1 },
    { "capture_after", after_capture, 1 },
    { "graph_update", updates, 1 },
    { "graph_memory", memory_nodes, 1 },
    { "graph_packed", packed_node, 1 },
    { "graph_devices", two_devices, 2 },
    { NULL, NULL, 0 },
};
