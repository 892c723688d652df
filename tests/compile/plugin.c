/* plugin.c - a shared library with a copy of gpuexec of its own. Compiled twice, loaded twice into one process by plugin_host.c. */
#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT uint64_t plugin_open(void);
EXPORT int plugin_knows(uint64_t stream);
EXPORT const char *plugin_error(void);
EXPORT void plugin_close(void);

/* Opens device 0 and makes a stream; its handle as a number. */
uint64_t plugin_open(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    return gpuexec_stream_create(ctx, NULL).id;
}

/* The result of waiting for that stream. */
int plugin_knows(uint64_t stream) {
    gpuexec_stream s;
    int result;
    s.id = stream;
    result = (int)gpuexec_stream_sync(s);
    gpuexec_take_error();
    return result;
}

const char *plugin_error(void) { return gpuexec_error_text(); }
void plugin_close(void) { gpuexec_shutdown(); }
