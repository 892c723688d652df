/* cuMemcpy.c - the entry points that copy and fill memory: cuMemcpy and cuMemset. */
#include "driver.h"

SIM_API_STREAM(
        cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), SIM_CTX) {
    return sim_copy(to, from, n, NULL, 0);
}
SIM_API_STREAM(cuMemcpyAsync, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, void *stream),
        (to, from, n, stream), SIM_HEALTHY) {
    return sim_copy(to, from, n, stream, SIM_ASYNC);
}
SIM_API_STREAM(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t n), (to, from, n),
        SIM_CTX) {
    return sim_copy(to, (uintptr_t)from, n, NULL, SIM_TO_KNOWN);
}
SIM_API_STREAM(
        cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t n), (to, from, n), SIM_CTX) {
    return sim_copy((uintptr_t)to, from, n, NULL, SIM_FROM_KNOWN);
}
SIM_API_STREAM(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n),
        SIM_CTX) {
    return sim_copy(to, from, n, NULL, SIM_TO_KNOWN | SIM_FROM_KNOWN);
}
SIM_API_STREAM(cuMemcpyHtoDAsync_v2, _ptsz,
        (CUdeviceptr to, const void *from, size_t n, void *stream), (to, from, n, stream),
        SIM_HEALTHY) {
    return sim_copy(to, (uintptr_t)from, n, stream, SIM_TO_KNOWN | SIM_ASYNC);
}
SIM_API_STREAM(cuMemcpyDtoHAsync_v2, _ptsz, (void *to, CUdeviceptr from, size_t n, void *stream),
        (to, from, n, stream), SIM_HEALTHY) {
    return sim_copy((uintptr_t)to, from, n, stream, SIM_FROM_KNOWN | SIM_ASYNC);
}
SIM_API_STREAM(cuMemcpyDtoDAsync_v2, _ptsz,
        (CUdeviceptr to, CUdeviceptr from, size_t n, void *stream), (to, from, n, stream),
        SIM_HEALTHY) {
    return sim_copy(to, from, n, stream, SIM_TO_KNOWN | SIM_FROM_KNOWN | SIM_ASYNC);
}

/* The addresses determine the owner of the memory; the contexts are only checked, and may be NULL,
   as measured. */
static bool context_bad(const void *handle) { return handle && !sim_context_at(handle); }

SIM_API_STREAM(cuMemcpyPeer, _ptds,
        (CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context, size_t n),
        (to, to_context, from, from_context, n), SIM_CTX) {
    if (context_bad(to_context) || context_bad(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return sim_copy(to, from, n, NULL, SIM_TO_KNOWN | SIM_FROM_KNOWN | SIM_PEER);
}
SIM_API_STREAM(cuMemcpyPeerAsync, _ptsz,
        (CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context, size_t n,
                void *stream),
        (to, to_context, from, from_context, n, stream), SIM_HEALTHY) {
    if (context_bad(to_context) || context_bad(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return sim_copy(to, from, n, stream, SIM_TO_KNOWN | SIM_FROM_KNOWN | SIM_PEER | SIM_ASYNC);
}

/* ---- two and three dimensions: the other structures become a CUDA_MEMCPY3D ---- */

#define SIDE(c, side) \
    .side##XInBytes = c->side##XInBytes, .side##Y = c->side##Y, \
    .side##MemoryType = c->side##MemoryType, .side##Host = c->side##Host, \
    .side##Device = c->side##Device, .side##Array = c->side##Array, .side##Pitch = c->side##Pitch

static int copy_2d(const CUDA_MEMCPY2D *c, void *stream, int how) {
    struct sim_stream *s;
    int result = sim_copy_stream(stream, how & SIM_ASYNC, &s);
    if (result || !c) return result ? result : CUDA_ERROR_INVALID_VALUE;
    return sim_copy_3d(s,
            &(CUDA_MEMCPY3D){ SIDE(c, src), SIDE(c, dst), .WidthInBytes = c->WidthInBytes,
                    .Height = c->Height, .Depth = 1 },
            how);
}
SIM_API_STREAM(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *c), (c), SIM_CTX) {
    return copy_2d(c, NULL, 0);
}
SIM_API_STREAM(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *c), (c), SIM_CTX) {
    return copy_2d(c, NULL, 0);
}
SIM_API_STREAM(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *c, void *stream), (c, stream),
        SIM_HEALTHY) {
    return copy_2d(c, stream, SIM_ASYNC);
}

static int copy_3d(const CUDA_MEMCPY3D *c, void *stream, int how) {
    struct sim_stream *s;
    int result = sim_copy_stream(stream, how & SIM_ASYNC, &s);
    if (result || !c) return result ? result : CUDA_ERROR_INVALID_VALUE;
    return sim_copy_3d(s, c, how);
}
SIM_API_STREAM(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *c), (c), SIM_CTX) {
    return copy_3d(c, NULL, 0);
}
SIM_API_STREAM(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *c, void *stream), (c, stream),
        SIM_HEALTHY) {
    return copy_3d(c, stream, SIM_ASYNC);
}

static int copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, void *stream, int how) {
    struct sim_stream *s;
    int result = sim_stream_use_now(stream, &s); /* no capture may contain it, as measured */
    if (result || !c) return result ? result : CUDA_ERROR_INVALID_VALUE;
    if (context_bad(c->dstContext) || context_bad(c->srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
    return sim_copy_3d(s,
            &(CUDA_MEMCPY3D){ SIDE(c, src), .srcZ = c->srcZ, .srcHeight = c->srcHeight,
                    SIDE(c, dst), .dstZ = c->dstZ, .dstHeight = c->dstHeight,
                    .WidthInBytes = c->WidthInBytes, .Height = c->Height, .Depth = c->Depth },
            how | SIM_PEER);
}
SIM_API_STREAM(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *c), (c), SIM_CTX) {
    return copy_3d_peer(c, NULL, 0);
}
SIM_API_STREAM(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER *c, void *stream), (c, stream),
        SIM_HEALTHY) {
    return copy_3d_peer(c, stream, SIM_ASYNC);
}

/* ---- one row of an array: offsets are bytes ---- */

static int copy_row(const CUDA_MEMCPY3D *c, void *stream, int how) {
    struct sim_stream *s;
    const int result = sim_copy_stream(stream, how & SIM_ASYNC, &s);
    return result ? result : sim_copy_3d(s, c, how);
}
#define HOST(side, p) .side##MemoryType = CU_MEMORYTYPE_HOST, .side##Host = p
#define DEVICE(side, a) .side##MemoryType = CU_MEMORYTYPE_DEVICE, .side##Device = a
#define ARRAY(side, a, offset) \
    .side##MemoryType = CU_MEMORYTYPE_ARRAY, .side##Array = a, .side##XInBytes = offset
#define ROW(to, from, n) \
    &(CUDA_MEMCPY3D) { to, from, .WidthInBytes = n, .Height = 1, .Depth = 1 }

SIM_API_STREAM(cuMemcpyHtoA_v2, _ptds, (void *to, size_t at, const void *from, size_t n),
        (to, at, from, n), SIM_CTX) {
    return copy_row(ROW(ARRAY(dst, to, at), HOST(src, from), n), NULL, 0);
}
SIM_API_STREAM(cuMemcpyAtoH_v2, _ptds, (void *to, void *from, size_t at, size_t n),
        (to, from, at, n), SIM_CTX) {
    return copy_row(ROW(HOST(dst, to), ARRAY(src, from, at), n), NULL, 0);
}
SIM_API_STREAM(cuMemcpyHtoAAsync_v2, _ptsz,
        (void *to, size_t at, const void *from, size_t n, void *stream), (to, at, from, n, stream),
        SIM_HEALTHY) {
    return copy_row(ROW(ARRAY(dst, to, at), HOST(src, from), n), stream, SIM_ASYNC);
}
SIM_API_STREAM(cuMemcpyAtoHAsync_v2, _ptsz,
        (void *to, void *from, size_t at, size_t n, void *stream), (to, from, at, n, stream),
        SIM_HEALTHY) {
    return copy_row(ROW(HOST(dst, to), ARRAY(src, from, at), n), stream, SIM_ASYNC);
}
SIM_API_STREAM(cuMemcpyDtoA_v2, _ptds, (void *to, size_t at, CUdeviceptr from, size_t n),
        (to, at, from, n), SIM_CTX) {
    return copy_row(ROW(ARRAY(dst, to, at), DEVICE(src, from), n), NULL, 0);
}
SIM_API_STREAM(cuMemcpyAtoD_v2, _ptds, (CUdeviceptr to, void *from, size_t at, size_t n),
        (to, from, at, n), SIM_CTX) {
    return copy_row(ROW(DEVICE(dst, to), ARRAY(src, from, at), n), NULL, 0);
}
SIM_API_STREAM(cuMemcpyAtoA_v2, _ptds,
        (void *to, size_t to_at, void *from, size_t from_at, size_t n),
        (to, to_at, from, from_at, n), SIM_CTX) {
    return copy_row(ROW(ARRAY(dst, to, to_at), ARRAY(src, from, from_at), n), NULL, 0);
}

/* ---- batches ---- */

SIM_API_STREAM(cuMemcpyBatchAsync, _ptsz,
        (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t n,
                CUmemcpyAttributes *attributes, size_t *starts, size_t nattributes, size_t *bad,
                void *stream),
        (to, from, sizes, n, attributes, starts, nattributes, bad, stream), SIM_HEALTHY) {
    size_t unused;
    return sim_copy_batch(
            to, from, sizes, n, attributes, starts, nattributes, bad ? bad : &unused, stream);
}
SIM_API_STREAM(cuMemcpyBatchAsync_v2, _ptsz,
        (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t n,
                CUmemcpyAttributes *attributes, size_t *starts, size_t nattributes, void *stream),
        (to, from, sizes, n, attributes, starts, nattributes, stream), SIM_HEALTHY) {
    size_t unused;
    return sim_copy_batch(to, from, sizes, n, attributes, starts, nattributes, &unused, stream);
}

SIM_API_STREAM(cuMemcpy3DBatchAsync, _ptsz,
        (size_t n, CUDA_MEMCPY3D_BATCH_OP *list, size_t *bad, unsigned long long flags,
                void *stream),
        (n, list, bad, flags, stream), SIM_HEALTHY) {
    size_t unused;
    return sim_copy_batch_3d(n, list, bad ? bad : &unused, flags, stream);
}
SIM_API_STREAM(cuMemcpy3DBatchAsync_v2, _ptsz,
        (size_t n, CUDA_MEMCPY3D_BATCH_OP *list, unsigned long long flags, void *stream),
        (n, list, flags, stream), SIM_HEALTHY) {
    size_t unused;
    return sim_copy_batch_3d(n, list, &unused, flags, stream);
}

/* ---- fills ---- */

#define FILLS(bits, type) \
    SIM_API_STREAM(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr to, type value, size_t n), \
            (to, value, n), SIM_CTX) { \
        return sim_fill(to, 0, value, bits / 8, n, 1, NULL, false); \
    } \
    SIM_API_STREAM(cuMemsetD##bits##Async, _ptsz, \
            (CUdeviceptr to, type value, size_t n, void *stream), (to, value, n, stream), \
            SIM_EASY) { \
        return sim_fill(to, 0, value, bits / 8, n, 1, stream, true); \
    } \
    SIM_API_STREAM(cuMemsetD2D##bits##_v2, _ptds, \
            (CUdeviceptr to, size_t pitch, type value, size_t n, size_t rows), \
            (to, pitch, value, n, rows), SIM_CTX) { \
        return sim_fill(to, pitch, value, bits / 8, n, rows, NULL, false); \
    } \
    SIM_API_STREAM(cuMemsetD2D##bits##Async, _ptsz, \
            (CUdeviceptr to, size_t pitch, type value, size_t n, size_t rows, void *stream), \
            (to, pitch, value, n, rows, stream), SIM_EASY) { \
        return sim_fill(to, pitch, value, bits / 8, n, rows, stream, true); \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
