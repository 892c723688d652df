// The barrier of gpuexec_barrier.cuh as a function to link. PTX that declares
//     .extern .func (.param .b32 broken) gpuexec_barrier_sync(.param .b64 barrier);
// can call it after it is linked with gpuexec_barrier.ptx (gpuexec_linker_add_file).
// nvcc: -rdc=true

#define gpuexec_barrier_sync gpuexec_barrier_sync_inline
#include "gpuexec_barrier.cuh"
#undef gpuexec_barrier_sync

extern "C" __device__ int gpuexec_barrier_sync(const gpuexec_barrier_device *barrier) {
    return gpuexec_barrier_sync_inline(barrier);
}
