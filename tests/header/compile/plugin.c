/* plugin.c - a shared library with a separate copy of gpuexec. Compiled twice and loaded twice into
   one process by plugin_host.c. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT uint64_t plugin_open(void);
EXPORT int plugin_knows(uint64_t stream);
EXPORT const char *plugin_error(void);
EXPORT struct CUctx_st *plugin_attach(struct CUctx_st *native);
EXPORT int plugin_works(void);
EXPORT int plugin_leave(void);
EXPORT void plugin_close(void);

/* Opens device 0 and creates a stream; returns its handle as a number. */
uint64_t plugin_open(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    return gpuexec_stream_create(ctx, NULL).id;
}

/* Returns the result of waiting for that stream. */
int plugin_knows(uint64_t stream) {
    gpuexec_stream s;
    int result;
    s.id = stream;
    result = (int)gpuexec_stream_sync(s);
    gpuexec_take_error();
    return result;
}

/* Attaches to that context, or to one that it creates; returns the CUcontext. */
static gpuexec_context shared;
struct CUctx_st *plugin_attach(struct CUctx_st *native) {
    shared = native ? gpuexec_context_attach(native) : gpuexec_context_create(0, NULL);
    return gpuexec_context_native(shared);
}
/* Returns the result of working in it. */
int plugin_works(void) {
    unsigned value = 5, got = 0;
    gpuexec_ptr p = gpuexec_alloc(shared, sizeof value);
    gpuexec_copy_in_now(shared, p, &value, sizeof value);
    gpuexec_copy_out_now(shared, &got, p, sizeof got);
    if (p) gpuexec_free(p);
    return gpuexec_take_error() != GPUEXEC_OK ? (int)gpuexec_error_detail()->result
            : got == value                    ? 0
                                              : -1;
}
/* Releases the share. */
int plugin_leave(void) { return (int)gpuexec_context_close(shared); }

const char *plugin_error(void) { return gpuexec_error_text(); }
void plugin_close(void) { gpuexec_shutdown(); }
