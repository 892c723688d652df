/* cuParam.c - the launches of CUDA before 4.0, which pycuda still uses: the function holds the
   shape of its blocks, the bytes of shared memory and the arguments. */
#include "driver.h"

static int staged(void *handle, struct sim_staged **out) {
    struct sim_function *f = sim_get(SIM_H_FUNCTION, handle);
    if (!f) return CUDA_ERROR_INVALID_HANDLE;
    if (!f->staged) {
        if (!(f->staged = calloc(1, sizeof *f->staged))) return CUDA_ERROR_OUT_OF_MEMORY;
        for (int i = 0; i < 3; i++) f->staged->block[i] = 1;
    }
    *out = f->staged;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetBlockShape, (void *f, int x, int y, int z), (f, x, y, z), SIM_HEALTHY) {
    struct sim_staged *s;
    int result = staged(f, &s);
    if (result) return result;
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    memcpy(s->block, (unsigned[3]){ (unsigned)x, (unsigned)y, (unsigned)z }, sizeof s->block);
    return CUDA_SUCCESS;
}

SIM_API(cuFuncSetSharedSize, (void *f, unsigned bytes), (f, bytes), SIM_HEALTHY) {
    struct sim_staged *s;
    int result = staged(f, &s);
    if (!result) s->shared = bytes;
    return result;
}

SIM_API(cuParamSetSize, (void *f, unsigned bytes), (f, bytes), SIM_HEALTHY) {
    struct sim_staged *s;
    int result = staged(f, &s);
    if (result) return result;
    if (bytes > sizeof s->params) return CUDA_ERROR_INVALID_VALUE;
    s->bytes = bytes;
    return CUDA_SUCCESS;
}

static int stage(void *f, int offset, const void *value, unsigned bytes) {
    struct sim_staged *s;
    int result = staged(f, &s);
    if (result) return result;
    if (offset < 0 || bytes > sizeof s->params || (unsigned)offset > sizeof s->params - bytes ||
            (bytes && !value))
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes) memcpy(s->params + offset, value, bytes);
    return CUDA_SUCCESS;
}
SIM_API(cuParamSeti, (void *f, int offset, unsigned value), (f, offset, value), SIM_HEALTHY) {
    return stage(f, offset, &value, sizeof value);
}
SIM_API(cuParamSetf, (void *f, int offset, float value), (f, offset, value), SIM_HEALTHY) {
    return stage(f, offset, &value, sizeof value);
}
SIM_API(cuParamSetv, (void *f, int offset, void *value, unsigned bytes), (f, offset, value, bytes),
        SIM_HEALTHY) {
    return stage(f, offset, value, bytes);
}

static int launch_staged(void *f, int width, int height, void *stream) {
    struct sim_staged *s;
    int result = staged(f, &s);
    if (result) return result;
    size_t bytes = s->bytes;
    void *extra[] = { (void *)CU_LAUNCH_PARAM_BUFFER_POINTER, s->params,
        (void *)CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, (void *)CU_LAUNCH_PARAM_END };
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    return sim_launch(f, (unsigned[3]){ (unsigned)width, (unsigned)height, 1 }, s->block, s->shared,
            stream, extra);
}
SIM_API(cuLaunch, (void *f), (f), SIM_HEALTHY) { return launch_staged(f, 1, 1, NULL); }
SIM_API(cuLaunchGrid, (void *f, int width, int height), (f, width, height), SIM_HEALTHY) {
    return launch_staged(f, width, height, NULL);
}
SIM_API(cuLaunchGridAsync, (void *f, int width, int height, void *stream),
        (f, width, height, stream), SIM_HEALTHY) {
    return launch_staged(f, width, height, stream);
}
