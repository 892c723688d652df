/* copy.c - copies and fills of memory, and single words that streams wait for or write. An address is a device address,
   an address of pinned or registered host memory, or else pageable host memory, whatever the name of the call says; a
   call may require that the device knows an address.

   Synchronous calls are operations on the default stream that the calling thread executes itself. Asynchronous calls
   are queued; a copy from pageable memory reads its source at the call, and a copy into pageable memory waits, as
   documented for a GPU; a copy from host to host memory waits, too. A range that is only partly page-locked is refused,
   as measured.

   While a stream captures, none of this happens at the call: the graph's copy reads and writes when it executes, and
   only then a fill looks at its address, as measured.

   With lazy streams, synchronous calls return as early as a GPU's driver may ("API synchronization behavior" in its
   documentation): a copy from pageable memory when its source has been read, after the stream's work; copies and fills
   within the device at once. */
#include "driver.h"
#include "../base/cudadefs.h"

struct side {
    struct sim_end end;
    struct sim_range range;                       /* if it is in the table */
    bool pageable, host;
};
struct block { size_t width, height; };

static bool look(const struct sim_stream *s, struct side *side, struct block b, bool must_be_known) {
    struct sim_range *r = &side->range;
    size_t bytes;                                 /* from the first byte of the first row to the last of the last */
    uint64_t address = side->end.address;
    if (__builtin_mul_overflow(b.height - 1, side->end.pitch, &bytes) || __builtin_add_overflow(bytes, b.width, &bytes))
        return false;
    side->end.in_table = sim_mem_find_for_call(address, bytes, s->capture != NULL, r);
    side->pageable = !side->end.in_table;
    side->end.device = side->pageable ? NULL : r->device;
    side->host = !side->end.device;
    if (side->end.in_table) return true;
    if (sim_mem_find_for_call(address, 1, true, r) || sim_mem_find_for_call(address + bytes - 1, 1, true, r))
        return false;
    return !must_be_known && address && !sim_mem_in_window(address) && address + bytes > address;
}

static int copy(struct sim_stream *s, struct side to, struct side from, struct block b, bool async) {
    struct sim_op *op = sim_op_new(SIM_OP_COPY);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    op->dst = to.end;
    op->src = from.end;
    op->width = b.width;
    op->height = b.height;
    if (s->capture) return sim_stream_submit(s, op);
    if (sim_settings.lazy_ns && !async && to.end.device == s->context->device) {
        int result = from.pageable ? sim_stream_wait(s) : CUDA_SUCCESS;
        if (result) {
            sim_op_unref(op);
            return result;
        }
        async = from.pageable || from.end.device == to.end.device;
    }
    if (async && from.pageable && !to.pageable && (sim_settings.lazy_ns || !sim_stream_idle(s))
        && (op->staged = malloc(b.width * b.height)))
        for (size_t i = 0; i < b.height; i++)
            memcpy((char *)op->staged + i * b.width, (char *)(uintptr_t)from.end.address + i * from.end.pitch, b.width);
    if (!async || to.pageable || (to.host && from.host) || (from.pageable && !op->staged)) return sim_stream_run(s, op);
    return sim_stream_submit(s, op);
}

/* A synchronous call cannot be captured. */
static int find_stream(const void *handle, bool async, struct sim_stream **s) {
    return async ? sim_stream_use(handle, s) : sim_stream_use_now(handle, s);
}

enum { TO_KNOWN = 1, FROM_KNOWN = 2, ASYNC = 4 };

static int copy_1d(uint64_t to, uint64_t from, size_t bytes, void *stream, int how) {
    struct sim_stream *s;
    struct block b = { bytes, 1 };
    struct side dst = { .end = { .address = to } }, src = { .end = { .address = from } };
    int result = find_stream(stream, how & ASYNC, &s);
    if (result || !bytes) return result;
    if (!look(s, &dst, b, how & TO_KNOWN) || !look(s, &src, b, how & FROM_KNOWN)) return CUDA_ERROR_INVALID_VALUE;
    return copy(s, dst, src, b, how & ASYNC);
}

SIM_API_STREAM(cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), SIM_CTX) {
    return copy_1d(to, from, n, NULL, 0);
}
SIM_API_STREAM(cuMemcpyAsync, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, void *stream),
               (to, from, n, stream), SIM_HEALTHY) {
    return copy_1d(to, from, n, stream, ASYNC);
}
SIM_API_STREAM(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t n), (to, from, n), SIM_CTX) {
    return copy_1d(to, (uintptr_t)from, n, NULL, TO_KNOWN);
}
SIM_API_STREAM(cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t n), (to, from, n), SIM_CTX) {
    return copy_1d((uintptr_t)to, from, n, NULL, FROM_KNOWN);
}
SIM_API_STREAM(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n), SIM_CTX) {
    return copy_1d(to, from, n, NULL, TO_KNOWN | FROM_KNOWN);
}
SIM_API_STREAM(cuMemcpyHtoDAsync_v2, _ptsz, (CUdeviceptr to, const void *from, size_t n, void *stream),
               (to, from, n, stream), SIM_HEALTHY) {
    return copy_1d(to, (uintptr_t)from, n, stream, TO_KNOWN | ASYNC);
}
SIM_API_STREAM(cuMemcpyDtoHAsync_v2, _ptsz, (void *to, CUdeviceptr from, size_t n, void *stream),
               (to, from, n, stream), SIM_HEALTHY) {
    return copy_1d((uintptr_t)to, from, n, stream, FROM_KNOWN | ASYNC);
}
SIM_API_STREAM(cuMemcpyDtoDAsync_v2, _ptsz, (CUdeviceptr to, CUdeviceptr from, size_t n, void *stream),
               (to, from, n, stream), SIM_HEALTHY) {
    return copy_1d(to, from, n, stream, TO_KNOWN | FROM_KNOWN | ASYNC);
}

/* The addresses determine the owner of the memory; the contexts are only checked, and may be NULL, as measured. */
static bool context_bad(const void *handle) { return handle && !sim_context_at(handle); }

SIM_API_STREAM(cuMemcpyPeer, _ptds, (CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context, size_t n),
               (to, to_context, from, from_context, n), SIM_CTX) {
    if (context_bad(to_context) || context_bad(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return copy_1d(to, from, n, NULL, TO_KNOWN | FROM_KNOWN);
}
SIM_API_STREAM(cuMemcpyPeerAsync, _ptsz,
               (CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context, size_t n, void *stream),
               (to, to_context, from, from_context, n, stream), SIM_HEALTHY) {
    if (context_bad(to_context) || context_bad(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return copy_1d(to, from, n, stream, TO_KNOWN | FROM_KNOWN | ASYNC);
}

/* ---- two dimensions ---- */

static int side_2d(const struct sim_stream *s, struct side *side, unsigned type, const void *host, CUdeviceptr device,
                   const void *array, size_t pitch, size_t x, size_t y, struct block b) {
    if (type == CU_MEMORYTYPE_ARRAY && array) return CUDA_ERROR_NOT_SUPPORTED;
    if (type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    if (type < CU_MEMORYTYPE_HOST || type > CU_MEMORYTYPE_UNIFIED) return CUDA_ERROR_INVALID_VALUE;
    if (!pitch) pitch = x + b.width;
    if (pitch < x + b.width) return CUDA_ERROR_INVALID_VALUE;
    side->end = (struct sim_end) { .address = (type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device) + y * pitch + x,
                                  .pitch = pitch };
    return look(s, side, b, type == CU_MEMORYTYPE_DEVICE) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int copy_2d(const CUDA_MEMCPY2D *c, void *stream, bool async) {
    struct sim_stream *s;
    struct side to, from;
    int result = find_stream(stream, async, &s);
    if (result || !c) return result ? result : CUDA_ERROR_INVALID_VALUE;
    struct block b = { c->WidthInBytes, c->Height };
    if (!b.width || !b.height) return CUDA_SUCCESS;
    if ((result = side_2d(s, &to, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstPitch,
                          c->dstXInBytes, c->dstY, b))
        || (result = side_2d(s, &from, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcPitch,
                             c->srcXInBytes, c->srcY, b)))
        return result;
    return copy(s, to, from, b, async);
}
SIM_API_STREAM(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *c), (c), SIM_CTX) { return copy_2d(c, NULL, false); }
SIM_API_STREAM(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *c), (c), SIM_CTX) {
    return copy_2d(c, NULL, false);
}
SIM_API_STREAM(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *c, void *stream), (c, stream), SIM_HEALTHY) {
    return copy_2d(c, stream, true);
}

/* ---- fills ---- */

static int fill(CUdeviceptr to, size_t pitch, unsigned pattern, unsigned size, size_t count, size_t rows, void *stream,
                bool async) {
    struct sim_stream *s;
    int result = find_stream(stream, async, &s);
    if (result || !count || !rows) return result;
    struct block b = { 0, rows };
    if (__builtin_mul_overflow(count, (size_t)size, &b.width)) return CUDA_ERROR_INVALID_VALUE;
    struct side side = { .end = { .address = to, .pitch = pitch } };
    if (to % size || (rows > 1 && (pitch % size || pitch < b.width))) return CUDA_ERROR_INVALID_VALUE;
    if (look(s, &side, b, true) ? !sim_context_reaches(s->context, &side.range) : !s->capture)
        return CUDA_ERROR_INVALID_VALUE;
    side.end.in_table = true;
    struct sim_op *op = sim_op_new(SIM_OP_FILL);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    op->dst = side.end;
    op->width = b.width;
    op->height = b.height;
    op->pattern = pattern;
    op->pattern_bytes = size;
    if (!async && !(sim_settings.lazy_ns && side.end.device == s->context->device)) return sim_stream_run(s, op);
    return sim_stream_submit(s, op);
}

#define FILLS(bits, type) \
    SIM_API_STREAM(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr to, type value, size_t n), (to, value, n), SIM_CTX) { \
        return fill(to, 0, value, bits / 8, n, 1, NULL, false); \
    } \
    SIM_API_STREAM(cuMemsetD##bits##Async, _ptsz, (CUdeviceptr to, type value, size_t n, void *stream), \
                   (to, value, n, stream), SIM_EASY) { \
        return fill(to, 0, value, bits / 8, n, 1, stream, true); \
    } \
    SIM_API_STREAM(cuMemsetD2D##bits##_v2, _ptds, (CUdeviceptr to, size_t pitch, type value, size_t n, size_t rows), \
                   (to, pitch, value, n, rows), SIM_CTX) { \
        return fill(to, pitch, value, bits / 8, n, rows, NULL, false); \
    } \
    SIM_API_STREAM(cuMemsetD2D##bits##Async, _ptsz, \
                   (CUdeviceptr to, size_t pitch, type value, size_t n, size_t rows, void *stream), \
                   (to, pitch, value, n, rows, stream), SIM_EASY) { \
        return fill(to, pitch, value, bits / 8, n, rows, stream, true); \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

/* ---- single words: a stream waits for a value, or writes one ---- */

static bool wait_value(const struct sim_op *op, void *at) {
    bool wide = op->pattern_bytes == 8;
    uint64_t now = wide ? __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE) :
                          __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
    uint64_t v = op->pattern;
    switch (op->how) {
    case CU_STREAM_WAIT_VALUE_EQ: return now == v;
    case CU_STREAM_WAIT_VALUE_AND: return (now & v) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return wide ? ~(now | v) != 0 : (uint32_t)~(now | v) != 0;
    default: return wide ? (int64_t)(now - v) >= 0 : (int32_t)(now - v) >= 0;       /* GEQ, modulo 2^32 or 2^64 */
    }
}

static bool write_value(const struct sim_op *op, void *at) {
    if (op->pattern_bytes == 8) __atomic_store_n((uint64_t *)at, op->pattern, __ATOMIC_RELEASE);
    else __atomic_store_n((uint32_t *)at, (uint32_t)op->pattern, __ATOMIC_RELEASE);
    return true;
}

static int value(void *stream, CUdeviceptr address, uint64_t v, unsigned bytes, unsigned how, bool wait) {
    struct sim_stream *s;
    struct side side = { .end = { .address = address } };
    int result = sim_stream_use(stream, &s);
    if (result) return result;
    if (wait && how & CU_STREAM_WAIT_VALUE_FLUSH) return CUDA_ERROR_NOT_SUPPORTED;     /* as attribute 98 reports */
    if (how > (wait ? CU_STREAM_WAIT_VALUE_NOR : 0))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Index 0: Invalid flags 0x%x", how);
    if (address % bytes)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Index 0: Address 0x%llx not aligned",
                           (unsigned long long)address);
    if (!look(s, &side, (struct block) { bytes, 1 }, true))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Batch memory address 0x%016llx is not valid",
                           (unsigned long long)address);
    struct sim_op *op = sim_op_new(SIM_OP_TRY);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    op->dst = side.end;
    op->pattern = v;
    op->pattern_bytes = bytes;
    op->how = how;
    op->attempt = wait ? wait_value : write_value;
    return sim_stream_submit(s, op);
}

#define VALUES(symbol, bits, wait) \
    SIM_API_STREAM(symbol, _ptsz, (void *stream, CUdeviceptr address, uint##bits##_t v, unsigned flags), \
                   (stream, address, v, flags), SIM_HEALTHY) { \
        return value(stream, address, v, bits / 8, flags, wait); \
    }
VALUES(cuStreamWaitValue32_v2, 32, true)
VALUES(cuStreamWaitValue64_v2, 64, true)
VALUES(cuStreamWriteValue32_v2, 32, false)
VALUES(cuStreamWriteValue64_v2, 64, false)

/* The first versions need a setting of the kernel module that no system
   sets: attributes 92 to 94 are 0, the calls return 801, as measured. */
#define OLD_VALUES(symbol, type) \
    SIM_API_STREAM(symbol, _ptsz, (void *stream, CUdeviceptr address, type v, unsigned flags), \
                   (stream, address, v, flags), SIM_HEALTHY) { \
        (void)stream; \
        (void)address; \
        (void)v; \
        (void)flags; \
        return CUDA_ERROR_NOT_SUPPORTED; \
    }
OLD_VALUES(cuStreamWaitValue32, uint32_t)
OLD_VALUES(cuStreamWaitValue64, uint64_t)
OLD_VALUES(cuStreamWriteValue32, uint32_t)
OLD_VALUES(cuStreamWriteValue64, uint64_t)
