/* nested.c - the device runtime: kernels that launch kernels. base.h has the names of the calls
   (>>nested).

   A call comes from one lane of a warp. It returns a cudaError_t, whose numbers are mostly those of
   CUresult, and keeps it as the thread's last error. A parent's streams and events last until the
   parent is done; a stream only remembers its last operation, as the host's do, and an event is an
   operation. Each block has its own NULL stream.
   Parameters are written by the kernel, so their buffers are in device memory; a launch copies
   them. */
#include "objects.h"
#include "../base/code.h"

/* cudaError_t */
enum {
    OK = 0,
    INVALID_VALUE = 1,
    NO_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    TOO_DEEP = 65,
    TOO_MANY = 69,
    INVALID_FUNCTION = 98,
    INVALID_DEVICE = 101,
    INVALID_HANDLE = 400,
    OUT_OF_RESOURCES = 701,
    NOT_SUPPORTED = 801
};
enum {
    DEEPEST = 24,
    TAIL = 3,
    FORGET = 4,
    NON_BLOCKING = 1,
    DISABLE_TIMING = 2,
    PARAMS_MOST = 32764
};

/* ---- buffers of parameters: chunks of equal ones, for each power of two ---- */

enum { CHUNK_BYTES = 64 << 10, LEAST_BYTES = 64 };

struct buffer {
    struct sim_op *parent;         /* whose kernel has it, NULL: it is free */
    struct sim_function *function; /* NULL: the launch names it */
    unsigned grid[3], block[3], shared;
};
struct sim_buffers {
    struct sim_link link;
    struct sim_buffers *next;
    uint64_t address, each;
    unsigned n, taken;
    struct buffer at[];
};

static void end_buffers(struct sim_link *link) {
    sim_link_remove(link);
    free(SIM_OWNER(sim_buffers, link));
}

static struct sim_buffers *more_buffers(struct sim_context *c, uint64_t each) {
    const unsigned n = each < CHUNK_BYTES ? (unsigned)(CHUNK_BYTES / each) : 1;
    struct sim_buffers *b = calloc(1, sizeof *b + n * sizeof *b->at);
    if (!b || sim_mem_alloc(c->device, c, each * n, SIM_MEM_MODULE, &b->address)) {
        free(b);
        return NULL;
    }
    b->each = each;
    b->n = n;
    b->next = c->buffers;
    sim_link_add(&c->children, &b->link, end_buffers);
    return c->buffers = b;
}

static struct buffer *take_buffer(
        struct sim_context *c, struct sim_op *parent, uint64_t bytes, uint64_t *address) {
    uint64_t each = LEAST_BYTES;
    unsigned i = 0;
    while (each < bytes) each *= 2;
    struct sim_buffers *b = c->buffers;
    while (b && (b->each != each || b->taken == b->n)) b = b->next;
    if (!b && !(b = more_buffers(c, each))) return NULL;
    while (b->at[i].parent) i++;
    b->taken++;
    *address = b->address + i * each;
    b->at[i] = (struct buffer){ .parent = parent };
    return &b->at[i];
}

static struct buffer *find_buffer(
        const struct sim_context *c, uint64_t address, struct sim_buffers **in) {
    struct sim_buffers *b = c->buffers;
    while (b && address - b->address >= b->each * b->n) b = b->next;
    if (!b || (address - b->address) % b->each) return NULL;
    struct buffer *found = &b->at[(address - b->address) / b->each];
    *in = b;
    return found->parent ? found : NULL;
}

static void give_buffer(struct sim_buffers *in, struct buffer *b) {
    b->parent = NULL;
    in->taken--;
}

/* ---- streams and events of a grid: the number in a handle is that of the grid and an index from 1
   ---- */

#define STREAM 0x5354000000000000u
#define EVENT 0x4556000000000000u
enum { INDEX_BITS = 24 };

struct item {
    struct sim_op *last;
    uint64_t block;
    bool ended;
};
struct items {
    struct item *at;
    unsigned n, cap;
};
/* unused: its buffers */
struct sim_nested {
    struct items streams, events;
    unsigned live_events, unused;
};

static struct sim_context *context_of(const struct sim_op *op) {
    const struct sim_module *m = (op->model ? op->model : op)->module;
    return m->context;
}

static void end_items(struct items *items) {
    for (unsigned i = 0; i < items->n; i++) sim_op_unref(items->at[i].last);
    free(items->at);
}

/* Buffers of parameters that were never launched also end with the grid. */
static void end_nested(struct sim_op *op) {
    struct sim_context *c = context_of(op);
    for (struct sim_buffers *b = op->nested->unused ? c->buffers : NULL; b; b = b->next)
        for (unsigned i = 0; b->taken && i < b->n; i++)
            if (b->at[i].parent == op) {
                give_buffer(b, &b->at[i]);
                c->nested_waiting--;
            }
    c->nested_events -= op->nested->live_events;
    end_items(&op->nested->streams);
    end_items(&op->nested->events);
    free(op->nested);
    op->nested = NULL;
}

static unsigned new_item(struct items *items, uint64_t block) { /* its index; 0: no memory */
    if (items->n == items->cap) {
        const unsigned cap = items->cap ? 2 * items->cap : 8;
        struct item *more = cap >> INDEX_BITS ? NULL : realloc(items->at, cap * sizeof *more);
        if (!more) return 0;
        items->at = more;
        items->cap = cap;
    }
    items->at[items->n++] = (struct item){ .block = block };
    return items->n;
}

/* ---- one call ---- */

struct call {
    struct sim_warp *w;
    const struct sim_insn *i;
    int lane;
    bool per_thread;
    const uint64_t *arg;
    struct sim_grid *grid;
    struct sim_op *op;
    struct sim_nested *own;
    struct sim_context *context;
};

static uint64_t block_of(const struct call *c) {
    const struct sim_block *b = c->w->block;
    return b->ctaid[0] +
            (uint64_t)b->grid->grid[0] * (b->ctaid[1] + (uint64_t)b->grid->grid[1] * b->ctaid[2]);
}

static struct sim_own *thread_of(const struct call *c) { /* NULL: no memory */
    struct sim_block *b = c->w->block;
    if (!b->own && !(b->own = calloc(b->threads, sizeof *b->own))) return NULL;
    return &b->own[32 * c->w->index + (unsigned)c->lane];
}

/* Where the lane wants a value; an address without memory is the kernel's fault. */
static int put(const struct call *c, uint64_t address, const void *value, unsigned size) {
    sim_mem_use();
    void *to = sim_at(c->w, c->i, c->lane, SIM_GENERIC, address, size, "store");
    if (to) memcpy(to, value, size);
    sim_mem_unuse();
    return OK;
}
static int put32(const struct call *c, uint64_t address, int value) {
    return put(c, address, &value, sizeof value);
}
static int put64(const struct call *c, uint64_t address, uint64_t value) {
    return put(c, address, &value, sizeof value);
}

static struct item *find_item(
        const struct call *c, struct items *items, uint64_t tag, uint64_t handle) {
    const uint64_t index = handle & ((1u << INDEX_BITS) - 1),
                   grid = c->grid->id << INDEX_BITS & 0xffffff000000u;
    if ((handle ^ index) != (tag | grid) || !index || index > items->n ||
            items->at[index - 1].ended)
        return NULL;
    return &items->at[index - 1];
}
static uint64_t handle_of(const struct call *c, uint64_t tag, unsigned index) {
    return tag | (c->grid->id << INDEX_BITS & 0xffffff000000u) | index;
}

/* A stream that has an order. NULL is the block's, or the thread's. */
static int find_stream(struct call *c, uint64_t handle, struct item **out) {
    if (handle > 2)
        return (*out = find_item(c, &c->own->streams, STREAM, handle)) ? OK : INVALID_VALUE;
    struct sim_own *own = thread_of(c);
    const bool per_thread = handle == 2 || (!handle && c->per_thread);
    unsigned *index = per_thread ? (own ? &own->stream : NULL) : &c->w->block->stream;
    if (!index || (!*index && !(*index = new_item(&c->own->streams, block_of(c)))))
        return NO_MEMORY;
    *out = &c->own->streams.at[*index - 1];
    return OK;
}

/* Submits work on a stream. Takes over the reference. */
static int submit(struct call *c, uint64_t stream, struct sim_op *op) {
    struct item *s = NULL;
    int error = stream == TAIL || stream == FORGET ? OK : find_stream(c, stream, &s);
    if (!error && !sim_op_adopt(c->op, op, stream == TAIL)) error = NO_MEMORY;
    if (error) {
        sim_op_unref(op);
        return error;
    }
    if (s) {
        sim_op_after(op, s->last);
        sim_op_unref(s->last);
        sim_op_ref(s->last = op);
    }
    sim_op_submit(op);
    /* lazy streams hold the others back */
    if (sim_settings.schedule && sim_schedule_draw(2)) sim_op_want(op);
    sim_op_unref(op);
    return OK;
}

/* ---- launches ---- */

static struct sim_function *find_function(const struct call *c, uint64_t address) {
    const struct sim_module *m = (c->op->model ? c->op->model : c->op)->module;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (SIM_WINDOW_CODE + 16 * (1 + (uint64_t)m->functions[i].func->id) == address)
            return &m->functions[i];
    return NULL;
}

static void dimensions(const uint64_t *arg, unsigned out[3]) { memcpy(out, arg, 3 * sizeof *out); }

static int take(struct call *c, uint64_t bytes, struct buffer **out, uint64_t *address) {
    if (c->grid->depth >= DEEPEST) return TOO_DEEP;
    if (c->context->nested_waiting + 1 >=
            c->context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT])
        return TOO_MANY; /* one fewer than the limit, as measured */
    if (!(*out = take_buffer(c->context, c->op, bytes, address))) return NO_MEMORY;
    c->context->nested_waiting++;
    c->own->unused++;
    return OK;
}

static int get_buffer(struct call *c, uint64_t *result) {
    struct buffer *b;
    *result = 0;
    if (!c->arg[1]) return OK;
    return c->arg[1] > PARAMS_MOST ? INVALID_VALUE : take(c, c->arg[1], &b, result);
}

static int get_buffer_2(struct call *c, uint64_t *result) {
    struct sim_function *f = find_function(c, c->arg[0]);
    struct buffer *b;
    *result = 0;
    const int error = f ? take(c, f->func->param_bytes, &b, result) : INVALID_FUNCTION;
    if (error) return error;
    b->function = f;
    dimensions(c->arg + 1, b->grid);
    dimensions(c->arg + 3, b->block);
    b->shared = (unsigned)c->arg[5];
    return OK;
}

/* A child's shared and local memory are others than its parent's, at the same addresses. */
static bool shares_private(
        const struct call *c, const struct sim_function *f, const unsigned char *params) {
    for (unsigned i = 0; i < f->func->nparams; i++) {
        const struct sim_var *p = &f->func->params[i];
        for (uint64_t at = 0; at + 8 <= p->size; at += 8) {
            const struct sim_block *b = c->w->block;
            uint64_t value;
            memcpy(&value, params + p->address + at, sizeof value);
            const bool shared = value - SIM_WINDOW_SHARED - b->shared_at < b->shared_bytes,
                       local = value - SIM_WINDOW_LOCAL - SIM_LOCAL_BASE <
                    c->w->local_stride - SIM_LOCAL_BASE;
            if (!(shared || (local && c->w->local_stride))) continue;
            sim_fault_at(c->w, c->i, c->lane, SIM_F_INVALID_ADDRESS_SPACE,
                    "parameter %u of kernel %.40s, launched here, is an address in the parent's %s "
                    "memory, which a child cannot access",
                    i, f->func->name, shared ? "shared" : "local");
            return true;
        }
    }
    return false;
}

static int to_error(int result) {
    return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CLUSTER_SIZE
            ? INVALID_CONFIGURATION
            : result;
}

static int launch(struct call *c, uint64_t address, uint64_t stream) {
    struct sim_buffers *in;
    struct buffer *found = find_buffer(c->context, address, &in);
    struct sim_range r;
    if (!found || !found->function) return INVALID_VALUE;
    const struct buffer b = *found;
    const size_t bytes = b.function->func->param_bytes;
    unsigned char *params = malloc(in->each);
    if (!params || !sim_mem_find(NULL, address, in->each, &r)) {
        free(params);
        return NO_MEMORY;
    }
    sim_mem_use();
    memcpy(params, (const char *)(uintptr_t)address + r.delta, in->each);
    sim_mem_unuse();
    found->parent->nested->unused--;
    give_buffer(in, found);
    struct sim_op *op = NULL;
    int error = OK;
    if (!shares_private(c, b.function, params))
        error = to_error(sim_launch_nested(
                c->op, b.function, b.grid, b.block, b.shared, params, bytes, &op));
    free(params);
    if (op && op->kind == SIM_OP_KERNEL) op->waiting = &c->context->nested_waiting;
    else c->context->nested_waiting--;
    return op ? submit(c, stream, op) : error;
}

static int launch_1(struct call *c) {
    struct sim_function *f = find_function(c, c->arg[0]);
    struct sim_buffers *in;
    uint64_t address = c->arg[1];
    struct buffer *b = NULL;
    if (!f) return INVALID_FUNCTION;
    if (!address) {
        const int error = f->func->param_bytes ? INVALID_VALUE : take(c, 0, &b, &address);
        if (error) return error;
    } else if (!(b = find_buffer(c->context, address, &in)) || in->each < f->func->param_bytes)
        return INVALID_VALUE;
    b->function = f;
    dimensions(c->arg + 2, b->grid);
    dimensions(c->arg + 4, b->block);
    b->shared = (unsigned)c->arg[6];
    return launch(c, address, c->arg[7]);
}

/* Only of the first device runtime: what this block launched. */
static bool synchronize(struct call *c) {
    for (unsigned i = 0; i < c->own->streams.n; i++) {
        struct item *s = &c->own->streams.at[i];
        if (s->block != block_of(c) || !s->last || s->last->done) continue;
        sim_op_want(s->last);
        return false;
    }
    return true;
}

/* ---- streams and events ---- */

static int make_stream(struct call *c) {
    /* as on an H200: 0 makes the same stream */
    if (c->arg[1] & ~(uint64_t)NON_BLOCKING) return INVALID_VALUE;
    const unsigned index = new_item(&c->own->streams, block_of(c));
    return index ? put64(c, c->arg[0], handle_of(c, STREAM, index)) : NO_MEMORY;
}

static int end_stream(struct call *c) {
    struct item *s = find_item(c, &c->own->streams, STREAM, c->arg[0]);
    if (!s) return INVALID_HANDLE;
    s->ended = true;
    return OK;
}

static int make_event(struct call *c) {
    if (c->arg[1] != DISABLE_TIMING) return INVALID_VALUE;
    if (c->context->nested_events >=
            2 * c->context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT])
        return NO_MEMORY;
    const unsigned index = new_item(&c->own->events, 0);
    if (!index) return NO_MEMORY;
    c->context->nested_events++;
    c->own->live_events++;
    return put64(c, c->arg[0], handle_of(c, EVENT, index));
}

static int end_event(struct call *c) {
    struct item *e = find_item(c, &c->own->events, EVENT, c->arg[0]);
    if (!e) return INVALID_HANDLE;
    e->ended = true;
    c->context->nested_events--;
    c->own->live_events--;
    return OK;
}

static int record(struct call *c) {
    struct item *e = find_item(c, &c->own->events, EVENT, c->arg[0]), *s;
    if (c->arg[1] == TAIL || c->arg[1] == FORGET) return INVALID_VALUE;
    const int error = e ? find_stream(c, c->arg[1], &s) : INVALID_HANDLE;
    if (error) return error;
    sim_op_unref(e->last);
    if ((e->last = s->last)) sim_op_ref(e->last);
    return OK;
}

static int wait_event(struct call *c) {
    struct item *e = find_item(c, &c->own->events, EVENT, c->arg[1]), *s;
    if (c->arg[0] == TAIL || c->arg[0] == FORGET) return INVALID_VALUE;
    const int error = e ? find_stream(c, c->arg[0], &s) : INVALID_HANDLE;
    if (error || !e->last || e->last->done) return error;
    struct sim_op *both = sim_op_new(SIM_OP_MARKER);
    if (!both) return NO_MEMORY;
    sim_op_after(both, e->last);
    return submit(c, c->arg[0], both);
}

/* ---- errors ---- */

static int last_error(struct call *c, bool keep) {
    struct sim_own *own = c->w->block->own ? thread_of(c) : NULL;
    const int error = own ? own->error : OK;
    if (own && !keep) own->error = OK;
    return error;
}

static void keep_error(struct call *c, int error) {
    struct sim_own *own = error ? thread_of(c) : NULL;
    if (own) own->error = error;
}

/* The texts are in device memory, made when first needed: for each error its name, then what it
   means. */
enum { TEXT_BYTES = 96 };
static const struct {
    int error;
    const char *name, *meaning;
} errors[] = {
    { OK, "cudaSuccess", "no error" },
    { INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument" },
    { NO_MEMORY, "cudaErrorMemoryAllocation", "out of memory" },
    { INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
    { TOO_DEEP, "cudaErrorLaunchMaxDepthExceeded",
            "launch would exceed maximum depth of nested launches" },
    { TOO_MANY, "cudaErrorLaunchPendingCountExceeded",
            "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount" },
    { INVALID_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function" },
    { INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources",
            "too many resources requested for launch" },
    { NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported" },
    { -1, "unrecognized error code", "unrecognized error code" },
};
enum { ERRORS = sizeof errors / sizeof *errors };

static uint64_t error_text(const struct call *c, int error, bool meaning) { /* 0: no memory */
    char texts[ERRORS][2][TEXT_BYTES] = { 0 };
    struct sim_range r;
    uint64_t k = 0;
    if (!c->context->error_texts) {
        for (unsigned i = 0; i < ERRORS; i++) {
            snprintf(texts[i][0], TEXT_BYTES, "%s", errors[i].name);
            snprintf(texts[i][1], TEXT_BYTES, "%s", errors[i].meaning);
        }
        if (sim_mem_alloc(c->grid->device, c->context, sizeof texts, SIM_MEM_MODULE,
                    &c->context->error_texts) ||
                !sim_mem_find(NULL, c->context->error_texts, sizeof texts, &r))
            return c->context->error_texts = 0;
        sim_mem_use();
        memcpy((char *)(uintptr_t)c->context->error_texts + r.delta, texts, sizeof texts);
        sim_mem_unuse();
    }
    while (k + 1 < ERRORS && errors[k].error != error) k++;
    return c->context->error_texts + (2 * k + meaning) * TEXT_BYTES;
}

/* ---- memory ---- */

static int allocate(struct call *c) {
    sim_mem_use();
    const uint64_t p = sim_heap_take(c->grid, c->arg[1]);
    sim_mem_unuse();
    return p ? put64(c, c->arg[0], p) : NO_MEMORY;
}

static int give(struct call *c) {
    sim_mem_use();
    const bool ok = sim_heap_give(c->grid, c->arg[0]);
    sim_mem_unuse();
    return ok ? OK : INVALID_VALUE;
}

/* Global memory only. */
static bool end_at(const struct call *c, uint64_t address, size_t pitch, struct sim_end *out) {
    struct sim_range r;
    *out = (struct sim_end){
        .address = address, .in_table = true, .device = c->grid->device, .pitch = pitch
    };
    return sim_mem_find(c->grid->device, address, 1, &r);
}

static int move(struct call *c, enum sim_op_kind kind, uint64_t to, size_t to_pitch, uint64_t from,
        size_t from_pitch, size_t width, size_t height, int value, uint64_t stream) {
    struct sim_end dst, src = { .address = 0 };
    if (!width || !height) return OK;
    if (!end_at(c, to, to_pitch, &dst) ||
            (kind == SIM_OP_COPY && !end_at(c, from, from_pitch, &src)))
        return INVALID_VALUE;
    if (height > 1 && (to_pitch < width || (kind == SIM_OP_COPY && from_pitch < width)))
        return INVALID_VALUE;
    struct sim_op *op = sim_op_new(kind);
    if (!op) return NO_MEMORY;
    op->dst = dst;
    op->src = src;
    op->width = width;
    op->height = height;
    op->pattern = (unsigned char)value;
    op->pattern_bytes = 1;
    return submit(c, stream, op);
}

/* ---- queries ---- */

static int attributes(struct call *c) {
    /* as the device runtime fills it: the first members of cudaFuncAttributes */
    enum { SIZES = 3, INTS = 6 };
    static const int sizes[SIZES] = { CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES },
                     ints[INTS] = { CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                         CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_PTX_VERSION,
                         CU_FUNC_ATTRIBUTE_BINARY_VERSION, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };
    struct sim_function *f = find_function(c, c->arg[1]);
    int value, error = f ? sim_function_need(f) : INVALID_FUNCTION;
    for (uint64_t k = 0; !error && k < SIZES; k++)
        if (!(error = sim_attribute(f, &f->prefers, sizes[k], &value)))
            put64(c, c->arg[0] + 8 * k, (uint64_t)value);
    for (uint64_t k = 0; !error && k < INTS; k++)
        if (!(error = sim_attribute(f, &f->prefers, ints[k], &value)))
            put32(c, c->arg[0] + 8 * SIZES + 4 * k, value);
    return error;
}

static int occupancy(struct call *c, unsigned flags) {
    struct sim_function *f = find_function(c, c->arg[1]);
    const int threads = (int)c->arg[2], error = f ? sim_function_need(f) : INVALID_FUNCTION;
    if (error) return error;
    if (threads <= 0 || flags > 1) return INVALID_VALUE;
    return put32(c, c->arg[0], sim_launch_blocks(f, threads, c->arg[3]));
}

static int attribute(struct call *c) {
    int value;
    if ((int)c->arg[2] != c->grid->device->ordinal) return INVALID_DEVICE;
    return sim_device_attribute(c->grid->device, (int)c->arg[1], &value)
            ? INVALID_VALUE
            : put32(c, c->arg[0], value);
}

static int limit(struct call *c) {
    const uint64_t which = (unsigned)c->arg[1];
    return which > CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
            ? INVALID_VALUE
            : put64(c, c->arg[0], c->context->limits[which]);
}

/* ---- all calls ---- */

static int perform(struct call *c, unsigned call, uint64_t *result) {
    const uint64_t *a = c->arg;
    switch (call) {
    case SIM_N_GetParameterBuffer: return get_buffer(c, result);
    case SIM_N_GetParameterBufferV2: return get_buffer_2(c, result);
    case SIM_N_LaunchDevice: return launch_1(c);
    case SIM_N_LaunchDeviceV2: return launch(c, a[0], a[1]);
    case SIM_N_StreamCreateWithFlags: return make_stream(c);
    case SIM_N_StreamDestroy: return end_stream(c);
    case SIM_N_StreamWaitEvent: return wait_event(c);
    case SIM_N_EventCreateWithFlags: return make_event(c);
    case SIM_N_EventRecord:
    case SIM_N_EventRecordWithFlags: return record(c);
    case SIM_N_EventDestroy: return end_event(c);
    case SIM_N_Malloc: return allocate(c);
    case SIM_N_Free: return give(c);
    case SIM_N_MemcpyAsync: return move(c, SIM_OP_COPY, a[0], 0, a[1], 0, a[2], 1, 0, a[4]);
    case SIM_N_Memcpy2DAsync:
        return move(c, SIM_OP_COPY, a[0], a[1], a[2], a[3], a[4], a[5], 0, a[7]);
    case SIM_N_MemsetAsync: return move(c, SIM_OP_FILL, a[0], 0, 0, 0, a[2], 1, (int)a[1], a[3]);
    case SIM_N_Memset2DAsync:
        return move(c, SIM_OP_FILL, a[0], a[1], 0, 0, a[3], a[4], (int)a[2], a[5]);
    case SIM_N_GetDevice: return put32(c, a[0], c->grid->device->ordinal);
    case SIM_N_GetDeviceCount: return put32(c, a[0], sim_device_count);
    case SIM_N_DeviceGetAttribute: return attribute(c);
    case SIM_N_DeviceGetLimit: return limit(c);
    case SIM_N_DeviceGetCacheConfig: return put32(c, a[0], (int)c->context->cache_config);
    case SIM_N_DeviceGetSharedMemConfig: return put32(c, a[0], (int)c->context->shared_config);
    case SIM_N_RuntimeGetVersion: return put32(c, a[0], 6000); /* as on an H200 */
    case SIM_N_FuncGetAttributes: return attributes(c);
    case SIM_N_OccupancyMaxActiveBlocksPerMultiprocessor: return occupancy(c, 0);
    case SIM_N_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
        return occupancy(c, (unsigned)a[4]);
    default: return NOT_SUPPORTED;
    }
}

/* While it has sim_lock, the lane's quantum does not use memory: who frees some may wait for that,
   with the lock. */
static bool run(struct sim_warp *w, const struct sim_insn *i, int lane, unsigned number,
        const uint64_t *arg, uint64_t *result) {
    struct call c = { .w = w,
        .i = i,
        .lane = lane,
        .per_thread = number >= SIM_NESTED_PER_THREAD,
        .arg = arg,
        .grid = w->block->grid,
        .op = w->block->grid->op };
    const unsigned call = number % SIM_NESTED_PER_THREAD;
    bool done = true;
    int error;
    sim_mem_unuse();
    pthread_mutex_lock(&sim_lock);
    c.context = context_of(c.op);
    if (!c.op->nested) c.op->nested = calloc(1, sizeof *c.op->nested);
    c.op->end_nested = end_nested;
    c.own = c.op->nested;
    if (!c.own) error = NO_MEMORY;
    else if (call == SIM_N_GetLastError || call == SIM_N_PeekAtLastError)
        error = last_error(&c, call == SIM_N_PeekAtLastError);
    else if (call == SIM_N_GetErrorName || call == SIM_N_GetErrorString) {
        *result = error_text(&c, (int)arg[0], call == SIM_N_GetErrorString);
        error = OK;
    } else if (call == SIM_N_DeviceSynchronize) {
        done = synchronize(&c);
        error = OK;
    } else keep_error(&c, error = perform(&c, call, result));
    if (strstr(sim_nested_bytes((int)call), ":4")) *result = (unsigned)error;
    pthread_mutex_unlock(&sim_lock);
    sim_mem_use();
    return done;
}

void sim_nested_start(void) { sim_nested_run = run; }
