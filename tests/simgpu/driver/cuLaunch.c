/* cuLaunch.c - the entry points that launch kernels. */
#include "driver.h"

#define SHAPE unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz

SIM_API_STREAM(cuLaunchKernel, _ptsz,
        (void *f, SHAPE, unsigned shared, void *stream, void **params, void **extra),
        (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra), SIM_HEALTHY) {
    return sim_launch_on(&(struct sim_launch){
            f, stream, { gx, gy, gz }, { bx, by, bz }, shared, params, extra, .bytes = 0 });
}

SIM_API_STREAM(cuLaunchCooperativeKernel, _ptsz,
        (void *f, SHAPE, unsigned shared, void *stream, void **params),
        (f, gx, gy, gz, bx, by, bz, shared, stream, params), SIM_HEALTHY) {
    return sim_launch_on(&(struct sim_launch){ f, stream, { gx, gy, gz }, { bx, by, bz }, shared,
            params, NULL, .set.cooperative = true });
}

SIM_API(cuLaunchCooperativeKernelMultiDevice,
        (CUDA_LAUNCH_PARAMS * list, unsigned n, unsigned flags), (list, n, flags), SIM_HEALTHY) {
    if (!list || !n || n > (unsigned)sim_device_count || flags & ~3u)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_launch_multi(list, n, flags);
}

SIM_API_STREAM(cuLaunchKernelEx, _ptsz,
        (const CUlaunchConfig *c, void *f, void **params, void **extra), (c, f, params, extra),
        SIM_HEALTHY) {
    return c ? sim_launch_configured(c, f, params, extra) : CUDA_ERROR_INVALID_VALUE;
}
