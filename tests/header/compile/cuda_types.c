/* cuda_types.c - gpuexec.h and CUDA's own header in one file, in either order; natives pass in both
   directions without a cast. -DCUDA_FIRST or -DCUDA_LAST sets the order; -DREAL_CUDA_H uses
   <cuda.h> (tests/header/abi does), otherwise cuda_like.h replaces it. */
#ifdef REAL_CUDA_H
#define CUDA_HEADER <cuda.h>
#else
#define CUDA_HEADER "cuda_like.h"
#endif
#ifdef CUDA_FIRST
#include CUDA_HEADER
#endif
#include "../../../gpuexec.h"
#ifdef CUDA_LAST
#include CUDA_HEADER
#endif

CUstream both_ways(
        CUcontext context, CUmodule module, CUfunction function, CUstream stream, CUevent event);
CUstream both_ways(
        CUcontext context, CUmodule module, CUfunction function, CUstream stream, CUevent event) {
    gpuexec_context c = gpuexec_context_from_native(context);
    gpuexec_module m = gpuexec_module_from_native(c, module);
    gpuexec_kernel f = gpuexec_kernel_from_native(c, function);
    gpuexec_stream s = gpuexec_stream_from_native(c, stream);
    gpuexec_event e = gpuexec_event_from_native(c, event);
    CUdeviceptr p = gpuexec_alloc(c, 64);
    gpuexec_ptr q = p;
    context = gpuexec_context_native(c);
    module = gpuexec_module_native(m);
    function = gpuexec_kernel_native(f);
    event = gpuexec_event_native(e);
    gpuexec_free(q);
    return context && module && function && event ? gpuexec_stream_native(s) : 0;
}
