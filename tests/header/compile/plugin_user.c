/* plugin_user.c - a shared library that calls gpuexec in another one, which exports it.
   plugin_user_host.c closes it early. */
#include "../../../gpuexec.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT unsigned long long user_works(void);

/* Opens device 0, leaves a stream, memory and a failure there; returns the memory. */
unsigned long long user_works(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_ptr memory;
    gpuexec_stream_create(ctx, NULL);
    memory = gpuexec_alloc(ctx, 64);
    gpuexec_alloc(ctx, 0);
    return memory;
}
