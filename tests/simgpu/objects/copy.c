/* copy.c - copies and fills of memory, and single words that streams wait for or write. An address
   is a device address, an address of pinned or registered host memory, or else pageable host
   memory, whatever the name of the call says; a call may require that the device knows an address.

   Synchronous calls are operations on the default stream that the calling thread executes itself.
   Asynchronous calls are queued; a copy from pageable memory reads its source at the call, and a
   copy into pageable memory waits, as documented for a GPU; a copy from host to host memory waits,
   too. A range that is only partly page-locked is refused, as measured.

   A side of a copy in two or three dimensions may be an array: then x is bytes of a row of texels,
   and of block-compressed formats a row is a row of blocks. z is a slice or a layer. The bytes are
   all inside the array; as measured, they need not be whole texels.

   While a stream captures, none of this happens at the call: the graph's copy reads and writes when
   it executes, and only then a fill looks at its address, as measured.

   With lazy streams, synchronous calls return as early as a GPU's driver may ("API synchronization
   behavior" in its documentation): a copy from pageable memory when its source has been read, after
   the stream's work; copies and fills within the device at once. */
#include "objects.h"
#include <sys/mman.h>
#include <unistd.h>

struct side {
    struct sim_end end;
    struct sim_range range; /* if it is in the table */
    bool pageable, host;
};
struct block {
    size_t width, height, depth;
};

/* captures: a graph makes the copy or fill. */
static bool look(bool captures, struct side *side, struct block b, bool must_be_known) {
    struct sim_range *r = &side->range;
    size_t slices, bytes; /* bytes: from the first of the first row to the last of the last */
    uint64_t address = side->end.address;
    if (__builtin_mul_overflow(b.height - 1, side->end.pitch, &bytes) ||
            __builtin_mul_overflow(b.depth - 1, side->end.slice, &slices) ||
            __builtin_add_overflow(bytes, slices, &bytes) ||
            __builtin_add_overflow(bytes, b.width, &bytes))
        return false;
    side->end.in_table = sim_mem_find_for_call(address, bytes, captures, r);
    side->pageable = !side->end.in_table;
    side->end.device = side->pageable ? NULL : r->device;
    side->host = !side->end.device;
    side->end.context = side->host ? NULL : r->context;
    side->end.context_id = side->end.context ? r->context->id : 0;
    /* mapped memory that no device may access */
    if (side->end.in_table) return r->kind != SIM_MEM_MAPPED || r->viewers;
    if (sim_mem_find_for_call(address, 1, true, r) ||
            sim_mem_find_for_call(address + bytes - 1, 1, true, r))
        return false;
    return !must_be_known && address && !sim_mem_in_window(address) && address + bytes > address;
}

/* Of virtual memory: what this context's device may do; NULL: any device. As measured, of the
   copies only those between two contexts may use what the stream's device may not. */
static bool may(const struct sim_context *c, const struct side *side, bool writes) {
    const unsigned who = writes ? side->range.writers : side->range.viewers;
    return !side->end.in_table || side->range.kind != SIM_MEM_MAPPED ||
            who & (c ? 1u << c->device->ordinal : ~0u);
}

/* As measured, where no context is current, asynchronous calls copy only within one mapping. */
static bool within_one(const struct side *side, struct block b) {
    return !side->end.in_table || side->range.kind != SIM_MEM_MAPPED ||
            (b.depth - 1) * side->end.slice + (b.height - 1) * side->end.pitch + b.width <=
            side->range.hi - side->end.address;
}
static int scattered(const struct side *to, const struct side *from, struct block b, int how) {
    if (!(how & SIM_ASYNC) || how & SIM_PEER || sim_context_current() ||
            (within_one(to, b) && within_one(from, b)))
        return CUDA_SUCCESS;
    return sim_because(CUDA_ERROR_INVALID_VALUE, "Copy range not fully allocated");
}

static struct sim_op *new_move(enum sim_op_kind kind, struct side to, struct block b) {
    struct sim_op *op = sim_op_new(kind);
    if (!op) return NULL;
    op->dst = to.end;
    op->width = b.width;
    op->height = b.height;
    op->depth = b.depth;
    return op;
}

/* Reads the source now. False: no memory. */
static bool stage(struct sim_op *op) {
    const size_t rows = op->height * op->depth;
    if (!(op->staged = malloc(op->width * rows))) return false;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)op->staged + i * op->width,
                SIM_HANDLE(op->src.address + i / op->height * op->src.slice +
                        i % op->height * op->src.pitch),
                op->width);
    return true;
}

static bool at_once(const struct sim_stream *s, const struct side *to) {
    return sim_settings.lazy_ns && to->end.device == s->context->device &&
            to->range.kind != SIM_MEM_MANAGED;
}

static int copy(
        struct sim_stream *s, struct side to, struct side from, struct block b, bool async) {
    struct sim_op *op = new_move(SIM_OP_COPY, to, b);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    op->src = from.end;
    if (s->capture) return sim_stream_submit(s, op);
    if (!async && at_once(s, &to)) {
        int result = from.pageable ? sim_stream_wait(s) : CUDA_SUCCESS;
        if (result) {
            sim_op_unref(op);
            return result;
        }
        async = from.pageable || from.end.device == to.end.device;
    }
    if (async && from.pageable && !to.pageable && (sim_settings.lazy_ns || !sim_stream_idle(s)))
        (void)stage(op);
    if (!async || to.pageable || (to.host && from.host) || (from.pageable && !op->staged))
        return sim_stream_run(s, op);
    return sim_stream_submit(s, op);
}

/* A synchronous call cannot be captured. */
int sim_copy_stream(const void *handle, bool async, struct sim_stream **s) {
    return async ? sim_stream_use(handle, s) : sim_stream_use_now(handle, s);
}

int sim_copy(uint64_t to, uint64_t from, size_t bytes, void *stream, int how) {
    struct sim_stream *s;
    struct block b = { bytes, 1, 1 };
    struct side dst = { .end = { .address = to } }, src = { .end = { .address = from } };
    int result = sim_copy_stream(stream, how & SIM_ASYNC, &s);
    if (result || !bytes) return result;
    const bool captures = s->capture != NULL;
    if (!look(captures, &dst, b, how & SIM_TO_KNOWN) ||
            !look(captures, &src, b, how & SIM_FROM_KNOWN))
        return CUDA_ERROR_INVALID_VALUE;
    if ((result = scattered(&dst, &src, b, how))) return result;
    const struct sim_context *by = how & SIM_PEER ? NULL : s->context;
    if (!may(by, &dst, true) || !may(by, &src, false)) return CUDA_ERROR_INVALID_VALUE;
    return copy(s, dst, src, b, how & SIM_ASYNC);
}

/* ---- two and three dimensions ---- */

struct part {
    const void *host, *array;
    CUdeviceptr device;
    size_t x, y, z, pitch, height, lod;
    unsigned type;
};

/* The bytes that a structure names as its source or destination. */
#define PART(c, side) \
    ((struct part){ c->side##Host, c->side##Array, c->side##Device, c->side##XInBytes, c->side##Y, \
            c->side##Z, c->side##Pitch, c->side##Height, c->side##LOD, c->side##MemoryType })

/* Whether n from `from` are within `limit`. */
static bool inside(size_t from, size_t n, size_t limit) {
    return from <= limit && n <= limit - from;
}

static int find_array(
        const void *handle, struct side *side, size_t x, size_t y, size_t z, struct block b) {
    const struct sim_array *a = sim_array_at(handle);
    if (!a) return handle ? sim_not_there(handle) : CUDA_ERROR_INVALID_VALUE;
    const struct sim_level *l = &a->texels.levels[0];
    const struct sim_rows all = sim_array_rows(a);
    if (!inside(x, b.width, all.width) || !inside(y, b.height, all.height) ||
            !inside(z, b.depth, all.depth))
        return CUDA_ERROR_INVALID_VALUE;
    *side = (struct side){ .end = { .address = l->address + z * l->slice + y * l->pitch + x,
                                   .in_table = true,
                                   .device = a->context->device,
                                   .pitch = l->pitch,
                                   .slice = l->slice,
                                   .context = a->context,
                                   .context_id = a->context->id },
        .range = { .kind = SIM_MEM_ARRAY, .device = a->context->device } };
    return CUDA_SUCCESS;
}

/* by: as in may() */
static int find_part(const struct sim_context *by, bool captures, bool writes, struct side *side,
        struct part p, struct block b) {
    if (p.type == CU_MEMORYTYPE_ARRAY)
        return p.lod ? CUDA_ERROR_INVALID_VALUE : find_array(p.array, side, p.x, p.y, p.z, b);
    if (p.type < CU_MEMORYTYPE_HOST || p.type > CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    if (!p.pitch) p.pitch = p.x + b.width;
    if (!p.height) p.height = p.y + b.height;
    if (p.pitch < p.x + b.width || p.height < p.y + b.height) return CUDA_ERROR_INVALID_VALUE;
    const uint64_t start = p.type == CU_MEMORYTYPE_HOST ? (uintptr_t)p.host : p.device;
    side->end = (struct sim_end){ .address = start + (p.z * p.height + p.y) * p.pitch + p.x,
        .pitch = p.pitch,
        .slice = p.height * p.pitch };
    return look(captures, side, b, p.type == CU_MEMORYTYPE_DEVICE) && may(by, side, writes)
            ? CUDA_SUCCESS
            : CUDA_ERROR_INVALID_VALUE;
}

static void free_data(struct sim_op *op) { free(op->data); }

/* An array has neither an address nor a pitch. */
static void name_arrays(CUDA_MEMCPY3D *is, struct part dst, struct part src) {
    if (src.type == CU_MEMORYTYPE_ARRAY) {
        is->srcArray = SIM_HANDLE(src.array);
        is->srcDevice = is->srcPitch = is->srcHeight = 0;
    }
    if (dst.type == CU_MEMORYTYPE_ARRAY) {
        is->dstArray = SIM_HANDLE(dst.array);
        is->dstDevice = is->dstPitch = is->dstHeight = 0;
    }
}

/* A node reports the offsets apart from the addresses, as measured. */
static struct sim_op *new_part(
        struct part dst, struct part src, struct side to, struct side from, struct block b) {
    CUDA_MEMCPY3D *is = malloc(sizeof *is);
    struct sim_op *op = is ? new_move(SIM_OP_COPY, to, b) : NULL;
    if (!op) {
        free(is);
        return NULL;
    }
    *is = (CUDA_MEMCPY3D){ .srcXInBytes = src.x,
        .srcY = src.y,
        .srcZ = src.z,
        .srcPitch = from.end.pitch,
        .srcHeight = src.height,
        .dstXInBytes = dst.x,
        .dstY = dst.y,
        .dstZ = dst.z,
        .dstPitch = to.end.pitch,
        .dstHeight = dst.height,
        .WidthInBytes = b.width,
        .Height = b.height,
        .Depth = b.depth };
    is->srcDevice = src.type == CU_MEMORYTYPE_HOST ? (uintptr_t)src.host : src.device;
    is->dstDevice = dst.type == CU_MEMORYTYPE_HOST ? (uintptr_t)dst.host : dst.device;
    name_arrays(is, dst, src);
    op->src = from.end;
    op->data = is;
    op->release = free_data;
    return op;
}

int sim_copy_3d(struct sim_stream *s, const CUDA_MEMCPY3D *c, int how) {
    const struct sim_context *by = how & SIM_PEER ? NULL : s->context;
    const bool captures = s->capture != NULL;
    const struct block b = { c->WidthInBytes, c->Height, c->Depth };
    const struct part dst = PART(c, dst), src = PART(c, src);
    struct side to, from;
    if (!b.width || !b.height || !b.depth) return CUDA_SUCCESS;
    int result = find_part(by, captures, true, &to, dst, b);
    if (!result) result = find_part(by, captures, false, &from, src, b);
    if (!result) result = scattered(&to, &from, b, how);
    if (result) return result;
    if (!captures) return copy(s, to, from, b, how & SIM_ASYNC);
    struct sim_op *op = new_part(dst, src, to, from, b);
    return op ? sim_stream_submit(s, op) : CUDA_ERROR_OUT_OF_MEMORY;
}

int sim_copy_work(const CUDA_MEMCPY3D *c, struct sim_context *context, struct sim_work *out) {
    const struct block b = { c->WidthInBytes, c->Height, c->Depth };
    const struct part dst = PART(c, dst), src = PART(c, src);
    struct side to, from;
    if (!b.width || !b.height || !b.depth) return CUDA_ERROR_INVALID_VALUE;
    int result = find_part(context, true, true, &to, dst, b);
    if (!result) result = find_part(context, true, false, &from, src, b);
    if (result) return result;
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_MEMCPY,
        .op = new_part(dst, src, to, from, b) };
    sim_work_in(out, context);
    return out->op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- batches: in stream order as a whole, while its copies have no order among them. All of a
   batch is checked before any of it is enqueued; *bad is the index of the copy that is wrong, or
   SIZE_MAX. ---- */

struct item {
    struct side to, from;
    struct block b;
    unsigned order;
};

static bool order_bad(unsigned order, unsigned flags) {
    return order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY ||
            flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}
static bool hint_bad(CUmemLocation l) {
    return l.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
            (l.type == CU_MEM_LOCATION_TYPE_DEVICE && (l.id < 0 || l.id >= sim_device_count));
}
static bool attributes_bad(const CUmemcpyAttributes *a) {
    return order_bad(a->srcAccessOrder, a->flags) || hint_bad(a->srcLocHint) ||
            hint_bad(a->dstLocHint);
}

/* A worker must not touch pageable memory that is not there. */
static bool mapped(const struct side *side) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char in_core;
    return !side->pageable || !mincore(SIM_HANDLE(side->end.address / page * page), 1, &in_core);
}

static bool look_there(struct side *side, struct block b) {
    return (side->end.in_table && side->range.kind == SIM_MEM_ARRAY) || look(false, side, b, false);
}

static int look_both(const struct sim_context *by, struct item *i) {
    const bool good = look_there(&i->to, i->b) && look_there(&i->from, i->b) &&
            may(by, &i->to, true) && may(by, &i->from, false);
    return good && mapped(&i->to) && mapped(&i->from) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct sim_op *new_item(const struct item *i) {
    struct sim_op *op = new_move(SIM_OP_COPY, i->to, i->b);
    if (!op) return NULL;
    op->src = i->from.end;
    if (i->order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || !i->from.pageable || stage(op)) return op;
    sim_op_unref(op);
    return NULL;
}

/* As measured: only pageable memory is read at the call; where another order is requested, the call
   waits. */
static bool waits(const struct item *i) {
    return i->from.pageable ? i->order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
                            : i->order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
}

static int run_batch(struct sim_stream *s, const struct item *items, size_t n) {
    struct sim_op *end = sim_op_new(SIM_OP_MARKER);
    if (!end) return CUDA_ERROR_OUT_OF_MEMORY;
    int result = CUDA_SUCCESS;
    for (size_t i = 0; i < n && !result; i++) {
        struct sim_op *op = new_item(&items[i]);
        if (!op) result = CUDA_ERROR_OUT_OF_MEMORY;
        else {
            op->priority = -s->priority;
            sim_stream_after(s, op);
            sim_op_after(end, op);
            sim_op_submit(op);
            sim_op_unref(op);
        }
    }
    bool wait = false;
    for (size_t i = 0; i < n && !wait; i++) wait = waits(&items[i]);
    const int ended = wait ? sim_stream_run(s, end) : sim_stream_submit(s, end);
    return result ? result : ended;
}

/* Not without a current context, not on the legacy stream, and not in a capture, which stays valid:
   as measured. */
static int find_batch_stream(void *stream, struct sim_stream **s) {
    int result = sim_context_need() ? CUDA_ERROR_INVALID_VALUE : sim_stream_find(stream, s);
    if (result) return result;
    if (sim_stream_is_legacy(*s)) return CUDA_ERROR_INVALID_VALUE;
    return (*s)->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

int sim_copy_batch(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes, size_t n,
        const CUmemcpyAttributes *attributes, const size_t *starts, size_t nattributes, size_t *bad,
        void *stream) {
    struct sim_stream *s;
    *bad = SIZE_MAX;
    if (!n || !to || !from || !sizes || !attributes || !starts || !nattributes || nattributes > n ||
            starts[0])
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < nattributes; k++)
        if ((k && starts[k] <= starts[k - 1]) || starts[k] >= n || attributes_bad(&attributes[k]))
            return CUDA_ERROR_INVALID_VALUE;
    int result = find_batch_stream(stream, &s);
    if (result) return result;
    struct item *items = calloc(n, sizeof *items);
    if (!items) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0, k = 0; i < n && !result; i++) {
        if (k + 1 < nattributes && starts[k + 1] == i) k++;
        items[i] = (struct item){ { .end = { .address = to[i] } },
            { .end = { .address = from[i] } }, { sizes[i], 1, 1 }, attributes[k].srcAccessOrder };
        result = sizes[i] ? look_both(s->context, &items[i]) : CUDA_ERROR_INVALID_VALUE;
        if (result) *bad = i;
    }
    if (!result) result = run_batch(s, items, n);
    free(items);
    return result;
}

/* Extents and offsets count texels if an array takes part, otherwise bytes; of block-compressed
   formats blocks. 0: what there should be an array is not one, or two arrays differ. */
static size_t unit_of(const CUDA_MEMCPY3D_BATCH_OP *op) {
    const CUmemcpy3DOperand *const sides[] = { &op->src, &op->dst };
    size_t unit = 1;
    for (int i = 0; i < 2; i++) {
        if (sides[i]->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) continue;
        const struct sim_array *a = sim_array_at(sides[i]->op.array.array);
        if (!a || (unit > 1 && a->texels.texel_bytes != unit)) return 0;
        unit = a->texels.texel_bytes;
    }
    return unit;
}

/* b: in bytes */
static int operand(struct side *side, const CUmemcpy3DOperand *o, struct block b, size_t unit) {
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const CUoffset3D at = o->op.array.offset;
        if (at.x > SIZE_MAX / unit) return CUDA_ERROR_INVALID_VALUE;
        return find_array(o->op.array.array, side, at.x * unit, at.y, at.z, b);
    }
    if (o->op.ptr.rowLength > SIZE_MAX / unit) return CUDA_ERROR_INVALID_VALUE;
    const size_t pitch = o->op.ptr.rowLength ? o->op.ptr.rowLength * unit : b.width,
                 rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : b.height;
    if (o->type != CU_MEMCPY_OPERAND_TYPE_POINTER || pitch < b.width || rows < b.height)
        return CUDA_ERROR_INVALID_VALUE;
    side->end = (struct sim_end){ .address = o->op.ptr.ptr, .pitch = pitch, .slice = pitch * rows };
    return CUDA_SUCCESS;
}

int sim_copy_batch_3d(size_t n, const CUDA_MEMCPY3D_BATCH_OP *list, size_t *bad,
        unsigned long long flags, void *stream) {
    struct sim_stream *s;
    *bad = SIZE_MAX;
    if (!n || !list || flags) return CUDA_ERROR_INVALID_VALUE;
    int result = find_batch_stream(stream, &s);
    if (result) return result;
    struct item *items = calloc(n, sizeof *items);
    if (!items) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < n && !result; i++) {
        struct item *item = &items[i];
        const size_t unit = unit_of(&list[i]);
        item->b = (struct block){ list[i].extent.width * unit, list[i].extent.height,
            list[i].extent.depth };
        item->order = list[i].srcAccessOrder;
        result = !item->b.width || !item->b.height || !item->b.depth ||
                        order_bad(item->order, list[i].flags) || !unit ||
                        list[i].extent.width > SIZE_MAX / unit
                ? CUDA_ERROR_INVALID_VALUE
                : CUDA_SUCCESS;
        if (!result) result = operand(&item->to, &list[i].dst, item->b, unit);
        if (!result) result = operand(&item->from, &list[i].src, item->b, unit);
        if (result) *bad = i;
    }
    for (size_t i = 0; i < n && !result; i++) result = look_both(s->context, &items[i]);
    if (!result) result = run_batch(s, items, n);
    free(items);
    return result;
}

/* ---- fills ---- */

static int new_fill(const CUDA_MEMSET_NODE_PARAMS *p, struct sim_context *context, bool captures,
        struct side *side, struct sim_op **out) {
    const unsigned size = p->elementSize;
    struct block b = { 0, p->height, 1 };
    if (__builtin_mul_overflow(p->width, (size_t)size, &b.width)) return CUDA_ERROR_INVALID_VALUE;
    *side = (struct side){ .end = { .address = p->dst, .pitch = p->pitch } };
    if (p->dst % size || (p->height > 1 && (p->pitch % size || p->pitch < b.width)))
        return CUDA_ERROR_INVALID_VALUE;
    if (look(captures, side, b, true)
                    ? !sim_context_reaches(context, &side->range) || !may(context, side, true)
                    : !captures)
        return CUDA_ERROR_INVALID_VALUE;
    side->end.in_table = true;
    if (!(*out = new_move(SIM_OP_FILL, *side, b))) return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->pattern = p->value;
    (*out)->pattern_bytes = size;
    return CUDA_SUCCESS;
}

int sim_fill_work(
        const CUDA_MEMSET_NODE_PARAMS *p, struct sim_context *context, struct sim_work *out) {
    struct side side;
    const unsigned size = p->elementSize;
    if ((size != 1 && size != 2 && size != 4) || !p->width || !p->height)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_MEMSET };
    sim_work_in(out, context);
    return new_fill(p, context, true, &side, &out->op);
}

int sim_fill(CUdeviceptr to, size_t pitch, unsigned pattern, unsigned size, size_t count,
        size_t rows, void *stream, bool async) {
    const CUDA_MEMSET_NODE_PARAMS p = { to, pitch, pattern, size, count, rows };
    struct sim_stream *s;
    struct side side;
    struct sim_op *op;
    int result = sim_copy_stream(stream, async, &s);
    if (result || !count || !rows) return result;
    if ((result = new_fill(&p, s->context, s->capture != NULL, &side, &op))) return result;
    if (!async && !at_once(s, &side)) return sim_stream_run(s, op);
    return sim_stream_submit(s, op);
}

/* ---- single words: a stream waits for a value, or writes one ---- */

static bool wait_value(const struct sim_op *op, void *at) {
    bool wide = op->pattern_bytes == 8;
    uint64_t now = wide ? __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE)
                        : __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
    uint64_t v = op->pattern;
    switch (op->how) {
    case CU_STREAM_WAIT_VALUE_EQ: return now == v;
    case CU_STREAM_WAIT_VALUE_AND: return (now & v) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return wide ? ~(now | v) != 0 : (uint32_t) ~(now | v) != 0;
    default:
        /* GEQ, modulo 2^32 or 2^64 */
        return wide ? (int64_t)(now - v) >= 0 : (int32_t)(now - v) >= 0;
    }
}

static bool write_value(const struct sim_op *op, void *at) {
    if (op->pattern_bytes == 8) __atomic_store_n((uint64_t *)at, op->pattern, __ATOMIC_RELEASE);
    else __atomic_store_n((uint32_t *)at, (uint32_t)op->pattern, __ATOMIC_RELEASE);
    return true;
}

int sim_stream_value(
        void *stream, CUdeviceptr address, uint64_t v, unsigned bytes, unsigned how, bool wait) {
    struct sim_stream *s;
    struct side side = { .end = { .address = address } };
    int result = sim_stream_use(stream, &s);
    if (result) return result;
    /* as attribute 98 reports */
    if (wait && how & CU_STREAM_WAIT_VALUE_FLUSH) return CUDA_ERROR_NOT_SUPPORTED;
    if (how > (wait ? CU_STREAM_WAIT_VALUE_NOR : 0))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Index 0: Invalid flags 0x%x", how);
    if (address % bytes)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Index 0: Address 0x%llx not aligned",
                (unsigned long long)address);
    if (!look(s->capture != NULL, &side, (struct block){ bytes, 1, 1 }, true) ||
            !may(s->context, &side, false) || side.range.kind == SIM_MEM_MANAGED)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "Batch memory address 0x%016llx is not valid",
                (unsigned long long)address);
    struct sim_op *op = sim_op_new(SIM_OP_TRY);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    op->dst = side.end;
    op->pattern = v;
    op->pattern_bytes = bytes;
    op->how = how;
    if (wait) op->attempt = wait_value;
    else if (may(s->context, &side, true)) op->attempt = write_value; /* else it fails later */
    return sim_stream_submit(s, op);
}
