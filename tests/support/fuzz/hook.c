/* hook.c - functions of the CPU device that the fuzzing harnesses need beyond its interface. Linked
   only into their copy of the library. */
#include "../../simgpu/objects/objects.h"
#include <dlfcn.h>

SIM_EXPORT void simgpu_forget_fault(void);
SIM_EXPORT void simgpu_forget_fault(void) {
    pthread_mutex_lock(&sim_lock);
    SIM_EACH(sim_context, c, &sim_contexts) sim_drain_to_end(c);
    __atomic_store_n(&sim_sticky, 0, __ATOMIC_RELEASE);
    sim_fault_text[0] = 0;
    pthread_mutex_unlock(&sim_lock);
}

SIM_EXPORT void simgpu_end_contexts(void);
SIM_EXPORT void simgpu_end_contexts(void) {
    pthread_mutex_lock(&sim_lock);
    while (sim_contexts.next != &sim_contexts)
        sim_context_kill(SIM_OWNER(sim_context, sim_contexts.next));
    sim_pools_end();
    for (int i = 0; i < sim_device_count; i++) {
        const uint64_t used = sim_mem_used(&sim_devices[i]);
        sim_devices[i].primary_count = sim_devices[i].primary_flags = 0;
        if (used) {
            fprintf(stderr, "device %d has %llu bytes allocated without a context\n", i,
                    (unsigned long long)used);
            abort();
        }
    }
    pthread_mutex_unlock(&sim_lock);
}

SIM_EXPORT void simgpu_take_this(void);
SIM_EXPORT void simgpu_take_this(void) {
    Dl_info here;
    if (!dladdr((void *)&sim_settings, &here) || setenv("GPUEXEC_DRIVER", here.dli_fname, 1))
        abort();
}
