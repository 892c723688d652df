/* calls.h - the driver's own calls, for tests and measurements that make them directly. A struct
   driver_calls has one pointer for each interface of each entry point, named as its symbol:
   cuMemAlloc_v2. Handles, and pointers to structs, are any pointer here. calls_find gets them
   through gpuexec.h, calls_load from a library. NULL: it lacks the call. */
#ifndef CALLS_H
#define CALLS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <dlfcn.h>

#ifndef GPUEXEC_H
typedef unsigned long long gpuexec_ptr; /* CUdeviceptr */
#endif
#ifndef GXI_DRIVER /* without the implementation of gpuexec.h */
typedef void *gxi_cu_context, *gxi_cu_module, *gxi_cu_library, *gxi_cu_function, *gxi_cu_stream,
        *gxi_cu_event, *gxi_cu_graph, *gxi_cu_node, *gxi_cu_exec, *gxi_cu_array, *gxi_cu_mipmapped,
        *gxi_cu_texref, *gxi_cu_surfref;
typedef void gxi_memcpy2d, gxi_memcpy3d, gxi_array_layout, gxi_reference_layout, gxi_resource_desc,
        gxi_sampler_desc, gxi_view_desc, gxi_access, gxi_batch_attributes, gxi_pool_properties,
        gxi_launch_config, gxi_launch_value, gxi_kernel_node, gxi_fill_node, gxi_host_node,
        gxi_alloc_node, gxi_condition_node, gxi_edge, gxi_update, gxi_sm_resource;
typedef struct gxi_location {
    int type, id;
} gxi_location;
typedef struct gxi_ipc_handle {
    uint64_t word[8];
} gxi_ipc_handle;
typedef void (*gxi_cu_host_function)(void *user);
typedef size_t (*gxi_cu_shared_of)(int threads);
#endif
typedef void (*gxi_cu_stream_callback)(void *stream, int result, void *user);
typedef void (*gxi_cu_log_callback)(void *user, int level, char *text, size_t bytes);

typedef struct driver_calls {
#define DRIVER_ROW(name, version, symbol, suffix, params) int(*symbol) params;
#include "entry_points.h"
} driver_calls;

/* in the order of the struct's members */
static const struct {
    const char *name, *symbol;
    int version;
} calls_rows[] = {
#define DRIVER_ROW(name, version, symbol, suffix, params) { #name, #symbol, version },
#include "entry_points.h"
};

static inline driver_calls calls_load(void *library) {
    void *symbol[sizeof calls_rows / sizeof *calls_rows];
    driver_calls all;
    size_t i;
    for (i = 0; i < sizeof symbol / sizeof *symbol; i++)
        symbol[i] = dlsym(library, calls_rows[i].symbol);
    memcpy(&all, symbol, sizeof all);
    return all;
}
#ifdef GPUEXEC_H
static inline driver_calls calls_find(void) {
    void *symbol[sizeof calls_rows / sizeof *calls_rows];
    driver_calls all;
    size_t i;
    for (i = 0; i < sizeof symbol / sizeof *symbol; i++)
        symbol[i] = gpuexec_driver_symbol(calls_rows[i].name, calls_rows[i].version);
    memcpy(&all, symbol, sizeof all);
    return all;
}
#endif
#endif
