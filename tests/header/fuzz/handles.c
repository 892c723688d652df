/* handles.c - misuse of handles: an input is a list of gpuexec.h calls with valid, stale, foreign,
   zero and invented handles, whose objects are created and closed in any order, on one or two
   threads. Nothing may crash, hang or leak; every call that fails gives a reason; and after
   gpuexec_shutdown every driver object has been released.

   This excludes what the manual forbids: no thread closes an object while the other one is in a
   call (`ends` run alone), linkers, parameter blocks and prepared launches belong to one thread at
   a time, and host memory stays valid while a copy uses it. */
#define GPUEXEC_IMPLEMENTATION
#define GPUEXEC_STATIC
#include "../../../gpuexec.h"
#include "../../support/fuzz/fuzz.h"

#define ROW(KIND, ...) KIND = GXI_##KIND,
enum { GXI_KIND_ROWS(ROW) KINDS = GXI_KINDS };
enum { KEPT = 8, HOST = 1 << 16, USES = 179, ENDS = 77 };

/* handles, some of them stale; the same for the arrays below */
static uint64_t pool[KINDS][KEPT];
static uint64_t natives[KINDS][KEPT], addresses[KEPT], pinned[KEPT];
static uint64_t objects[KEPT]; /* of textures and surfaces */
static unsigned next[KINDS], next_native[KINDS], next_address, next_pinned, next_object;
static char host[HOST];
static long blocks; /* of memory that the library holds */
static pthread_rwlock_t turn = PTHREAD_RWLOCK_INITIALIZER;

static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .global .align 4 .b8 g[64];\n.extern .shared .align 4 .b8 dyn[];\n"
        ".global .texref t; .global .surfref u;\n"
        ".visible .entry nothing() { ret; }\n"
        ".visible .entry sample(.param .u64 p, .param .u32 by, .param .u32 n) {\n"
        "    .reg .u32 %r<6>; .reg .u64 %d; ld.param.u64 %d, [p]; mov.u32 %r1, %tid.x;\n"
        "    tex.2d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d, {%r1, %r1}]; ret;\n}\n"
        ".visible .entry paint(.param .u64 p, .param .u32 by, .param .u32 n) {\n"
        "    .reg .u32 %r; .reg .u64 %d; ld.param.u64 %d, [p]; mov.u32 %r, %tid.x;\n"
        "    sust.b.2d.b32.trap [%d, {%r, %r}], {%r}; ret;\n}\n"
        ".visible .entry add(.param .u64 p, .param .u32 by, .param .u32 n) {\n"
        "    .reg .pred %q; .reg .u32 %r<6>; .reg .u64 %d<3>; ld.param.u64 %d1, [p]; ld.param.u32 "
        "%r1, [by];\n"
        "    ld.param.u32 %r2, [n]; mov.u32 %r3, %tid.x; setp.ge.u32 %q, %r3, %r2; @%q bra E;\n"
        "    mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2; red.global.add.u32 [%d1], %r1;\nE:  "
        "ret;\n}\n"
        ".visible .entry fault() { .reg .u64 %d; mov.u64 %d, 16; st.global.u32 [%d], 1; ret; }\n";
static const char other[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.extern .global .align 4 .b8 "
        "g[64];\n.extern .func missing;\n"
        ".visible .entry user() { .reg .u32 %r; ld.global.u32 %r, [g]; ret; }\n";

/* of play_nvjitlink.c */
static const char lto[] = "\xED\x43\x4E\x7F.visible .entry linked() { ret; }\n";

static void *counting(void *user, void *p, size_t bytes) {
    (void)user;
    if (!bytes) {
        if (p) __atomic_sub_fetch(&blocks, 1, __ATOMIC_RELAXED);
        free(p);
        return NULL;
    }
    void *q = realloc(p, bytes);
    if (q && !p) __atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
    return q;
}
static void called(void *user) { __atomic_add_fetch((int *)user, 1, __ATOMIC_RELAXED); }
static int calls;

/* ---- arguments ---- */

static uint64_t get(uint64_t *from, unsigned k) {
    return __atomic_load_n(&from[k % KEPT], __ATOMIC_RELAXED);
}

static void put(uint64_t *to, unsigned *at, uint64_t x) {
    __atomic_store_n(&to[__atomic_fetch_add(at, 1, __ATOMIC_RELAXED) % KEPT], x, __ATOMIC_RELAXED);
}

static uint64_t any(struct fuzz_source *s, unsigned kind) {
    const unsigned how = fuzz_byte(s), k = how / 16;
    switch (how % 16) {
    case 0: return 0;
    case 1: return get(pool[1 + k % (KINDS - 1)], k);              /* of any kind */
    case 2: return get(pool[kind], k) ^ 1ull << fuzz_byte(s) % 64; /* one bit is wrong */
    case 3: return fuzz_number(s);
    default: return get(pool[kind], k);
    }
}
#define ANY(type, kind) \
    static gpuexec_##type type##_of(struct fuzz_source *s) { \
        gpuexec_##type h; \
        h.id = any(s, kind); \
        return h; \
    }
/* clang-format off */
ANY(context, CONTEXT) ANY(module, MODULE) ANY(kernel, KERNEL) ANY(stream, STREAM)
ANY(event, EVENT) ANY(linker, LINKER)
ANY(params, PARAMS)
ANY(prepared, PREPARED) ANY(barrier, BARRIER) ANY(graph, GRAPH) ANY(batch, BATCH) ANY(pool, POOL)
ANY(ipc, IPC)
ANY(library, LIBRARY) ANY(virtual, VIRTUAL)
ANY(array, ARRAY) ANY(texture, TEXTURE) ANY(surface, SURFACE)
        /* clang-format on */

        static void *native_of(struct fuzz_source *s, unsigned kind) {
    const unsigned how = fuzz_byte(s);
    const uint64_t x = how % 8 == 0 ? 0
            : how % 8 == 1          ? fuzz_number(s)
            : how % 8 == 2          ? get(natives[1 + how / 8 % (KINDS - 1)], how)
                                    : get(natives[kind], how / 8);
    return (void *)(uintptr_t)x;
}
static gpuexec_ptr address_of(struct fuzz_source *s) {
    const unsigned how = fuzz_byte(s);
    return how % 8 == 0     ? fuzz_number(s) & 0xFFFFFFF
            : how % 8 == 1  ? get(addresses, how / 8) + fuzz_number(s) % 4096
            : how % 32 == 2 ? get(pinned, how / 32)
                            : get(addresses, how / 8);
}
static void *memory_of(struct fuzz_source *s, size_t *bytes) { /* host memory, *bytes of it */
    const size_t from = fuzz_number(s) % HOST;
    const uint64_t p = get(pinned, (unsigned)from);
    gpuexec_pointer_info info;
    *bytes = fuzz_number(s) % (HOST - from + 1);
    if (p && from % 4 == 0 && gpuexec_pointer_get_info(p, &info) == GPUEXEC_OK &&
            info.kind == GPUEXEC_MEMORY_PINNED) {
        if (*bytes > info.bytes) *bytes = info.bytes;
        return (void *)(uintptr_t)p;
    }
    return host + from;
}
static gpuexec_window window_of(struct fuzz_source *s) {
    gpuexec_window w = { 0, 0, 0, GPUEXEC_ACCESS_NORMAL, GPUEXEC_ACCESS_NORMAL };
    const unsigned how = fuzz_byte(s);
    if (how % 3) return w;
    w.address = how > 20 ? address_of(s) : 0;
    w.bytes = fuzz_number(s);
    w.hit_ratio = (float)(how % 60) / 50;
    w.hit = (gpuexec_access)(how % 4);
    w.miss = (gpuexec_access)(how / 4 % 3);
    return w;
}
static gpuexec_dims dims_of(struct fuzz_source *s) {
    const unsigned how = fuzz_byte(s);
    gpuexec_dims d = gpuexec_grid(how % 3, how / 3 % 65, how > 250 ? 4096 : 0);
    if (how > 240) {
        d.grid_x = (unsigned)fuzz_number(s);
        d.block_y = fuzz_byte(s);
        d.shared_bytes = (unsigned)fuzz_number(s);
    }
    /* would run too long: refused */
    if ((uint64_t)d.grid_x * (d.grid_y ? d.grid_y : 1) > 64) d.block_x = 0;
    return d;
}
struct arguments {
    gpuexec_ptr p;
    uint32_t by, n;
    const void *at[4];
    unsigned short sizes[4];
};
static gpuexec_args args_of(struct fuzz_source *s, struct arguments *a) {
    const unsigned how = fuzz_byte(s);
    gpuexec_args args = { a->at, a->sizes, 3, 0, { 0 } };
    a->p = get(how % 8 == 4 ? objects : addresses, how / 8);
    a->by = how;
    a->n = 16;
    a->at[0] = &a->p;
    a->at[1] = &a->by;
    a->at[2] = a->at[3] = &a->n;
    a->sizes[0] = 8;
    a->sizes[1] = a->sizes[2] = a->sizes[3] = 4;
    if (how % 8 == 0) args.count = how / 8 % 5;
    if (how % 8 == 1) a->sizes[how / 8 % 4] = (unsigned short)fuzz_byte(s);
    if (how % 8 == 2) args.sizes = NULL;
    if (how == 11) a->at[fuzz_byte(s) % 3] = NULL;
    if (how % 8 == 3) return GPUEXEC_NO_ARGS;
    return args;
}

/* ---- calls ---- */

/* Clears the error, so that later checks see the one of this call. */
static void before(void) {
    if (gxi_thread.record && gxi_thread.epoch == gxi.start.epoch)
        gxi_thread.record->last.e.result = GPUEXEC_OK;
}

static void said(gpuexec_result r, const char *call) {
    if (getenv("FUZZ_VERBOSE"))
        fprintf(stderr, "%s: %s\n", call,
                r == GPUEXEC_OK || r == GPUEXEC_NOT_READY ? "-" : gpuexec_error_text());
    if (r == GPUEXEC_OK || r == GPUEXEC_NOT_READY) return;
    const gpuexec_error *e = gpuexec_error_detail();
    FUZZ_CHECK(strcmp(gpuexec_result_name(r), "unknown gpuexec_result") != 0, "%s returns %d", call,
            (int)r);
    FUZZ_CHECK(e->result == r && e->message && *e->message && e->function && *e->function &&
                    *gpuexec_error_text(),
            "%s fails with %s but reports %s: \"%s\"", call, gpuexec_result_name(r),
            gpuexec_result_name(e->result), gpuexec_error_text());
}
static void made(uint64_t id, unsigned kind, const char *call) {
    if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "%s: 0x%llx\n", call, (unsigned long long)id);
    FUZZ_CHECK((id & 63) == kind, "%s returns 0x%llx", call, (unsigned long long)id);
    if (!gpuexec_id_ok(id)) FUZZ_CHECK(*gpuexec_id_why(id), "%s fails without a reason", call);
    FUZZ_CHECK(*gpuexec_id_describe(id), "%s returns a handle without a description", call);
    put(pool[kind], &next[kind], id);
}
#define RESULT(call) (before(), said((call), #call))
#define MAKE(kind, call) (before(), made((call).id, kind, #call))
#define NATIVE(kind, call) \
    do { \
        const void *native = (call); \
        if (native) put(natives[kind], &next_native[kind], (uint64_t)(uintptr_t)native); \
    } while (0)
#define ADDRESS(call) \
    do { \
        const gpuexec_ptr address = (before(), (call)); \
        if (address) put(addresses, &next_address, address); \
        else said(gpuexec_error_detail()->result, #call); \
    } while (0)
#define FAILS(failed, call) \
    do { \
        before(); \
        if ((call)failed) \
            FUZZ_CHECK(gpuexec_error_detail()->result &&*gpuexec_error_text(), \
                    "%s fails without a reason", #call); \
    } while (0)
#define C context_of(s)
#define M module_of(s)
#define K kernel_of(s)
#define S stream_of(s)
#define E event_of(s)
#define G graph_of(s)
#define P pool_of(s)
#define V virtual_of(s)
#define N(n) ((int)(fuzz_number(s) % (n)))

/* A hook that sees pairs, and makes calls that are refused. */
static __thread int hook_before;
static void trace_hook(void *user, const gpuexec_trace_call *call) {
    const gpuexec_stream on = { call->handle };
    char written[80];
    (void)user;
    FUZZ_CHECK(!call->after || hook_before, "%s is seen only after", call->name);
    hook_before = !call->after;
    FUZZ_CHECK(gpuexec_trace_text(call, written, sizeof written) > 0, "no text of %s", call->name);
    FUZZ_CHECK(*gpuexec_id_describe(call->handle), "a handle without a description");
    FUZZ_CHECK(gpuexec_stream_query(on) > GPUEXEC_NOT_READY, "a hook queries a stream");
    FUZZ_CHECK(gpuexec_trace_end() == GPUEXEC_BAD_ARGUMENT, "a hook ends itself");
}
static void begin_trace(struct fuzz_source *s) {
    static const char *const filters[] = { NULL, "cuMem*", "!cuMem*,cu*", "cuLaunch*,cuCtx*",
        "nothing", "cu*,", "" };
    gpuexec_trace_desc desc = { .function = trace_hook };
    if (fuzz_byte(s) % 4) {
        desc.filter = filters[fuzz_byte(s) % (sizeof filters / sizeof *filters)];
        if (fuzz_byte(s) % 16 == 1) desc.function = NULL;
        RESULT(gpuexec_trace_begin(&desc));
    } else RESULT(gpuexec_trace_end());
}

/* What the host program does with the driver without gpuexec: it uses a separate context. */
static void foreign(struct fuzz_source *s) {
    struct CUctx_st *made_one = NULL, *popped;
    if (gpuexec_device_count() < 1) return;
    if (fuzz_byte(s) % 2) {
        struct CUctx_st *one = (struct CUctx_st *)native_of(s, 0);
        (void)gxi.cu.cuCtxDestroy(one);
    } else if (gxi.cu.cuCtxCreate(&made_one, 0, N(2)) == 0) {
        /* the driver's; gpuexec's are in natives[CONTEXT] */
        put(natives[0], &next_native[0], (uint64_t)(uintptr_t)made_one);
        (void)gxi.cu.cuCtxPopCurrent(&popped);
    }
}

static struct CUctx_st *context_native(struct fuzz_source *s) {
    return (struct CUctx_st *)native_of(s, fuzz_byte(s) % 2 ? 0 : CONTEXT);
}
/* Any copy or fill. What is in host memory stays within `host`: 40 slices of 40 rows of 40
   bytes. */
static const gpuexec_copy_desc *copy_of(struct fuzz_source *s, gpuexec_copy_desc *copy) {
    int i;
    memset(copy, 0, sizeof *copy);
    copy->start_canary = N(50) == 1;
    for (i = 0; i < 2; i++) {
        gpuexec_side *const side = i ? &copy->from : &copy->to;
        const int in_host = N(3) == 1;
        side->pitch = in_host ? (size_t)N(21) + 20 : fuzz_number(s);
        side->slice_height = in_host ? (size_t)N(21) + 20 : fuzz_number(s);
        side->x = in_host ? (size_t)N(20) : fuzz_number(s);
        side->y = in_host ? (size_t)N(20) : fuzz_number(s);
        side->z = in_host ? (size_t)N(20) : fuzz_number(s);
        if (N(3)) side->pitch = side->slice_height = side->x = side->y = side->z = 0;
        if (in_host) side->host = host;
        if (!in_host || N(20) == 1) side->device = address_of(s);
        if (N(5) == 1) side->context = C;
        if (N(5) == 1) {
            side->array = array_of(s);
            side->level = (unsigned)N(40) / 19;
            if (N(8)) side->device = 0;
            if (N(8)) side->host = NULL;
        }
    }
    if (N(4) == 0) {
        copy->from.element_bytes = (unsigned)N(6);
        copy->from.value = (unsigned)N(400);
        if (N(8)) copy->from.device = 0;
        if (N(8)) copy->from.host = NULL;
    }
    if (N(3) == 0) copy->bytes = (size_t)N(21);
    if (copy->bytes == 0 || N(20) == 1) {
        copy->width_bytes = (size_t)N(21);
        copy->height = (size_t)N(21);
        copy->depth = (size_t)N(21);
    }
    return copy;
}

/* Descs of small arrays and of textures, mostly valid. */
static const gpuexec_array_desc *array_desc_of(struct fuzz_source *s, gpuexec_array_desc *d) {
    static const int formats[] = { GPUEXEC_FORMAT_U8, GPUEXEC_FORMAT_U32, GPUEXEC_FORMAT_F32,
        GPUEXEC_FORMAT_F16, GPUEXEC_FORMAT_UNORM8, GPUEXEC_FORMAT_BC1, 77 };
    const unsigned how = fuzz_byte(s);
    memset(d, 0, sizeof *d);
    d->start_canary = N(50) == 1;
    d->format = (gpuexec_format)formats[N(7)];
    d->channels = (unsigned)N(6);
    if (N(2)) d->channels = 0;
    d->width = (size_t)N(40);
    d->height = how % 4 ? (size_t)N(40) : 0;
    d->depth = how % 16 == 1 ? (size_t)N(5) : 0;
    d->layers = how % 16 == 2 ? (unsigned)N(5) : 0;
    if (how % 16 == 3) {
        d->cube = 1;
        d->height = d->width;
    }
    d->levels = how % 16 == 4 ? GPUEXEC_ALL_LEVELS : how % 16 == 5 ? (unsigned)N(8) : 0;
    d->surface = how / 16 % 2;
    d->gather = how / 32 % 4 == 1;
    if (N(60) == 1) d->width = fuzz_number(s) | 1 << 20; /* more than any device has */
    return N(50) == 1 ? NULL : d;
}
static const gpuexec_texture_desc *texture_desc_of(struct fuzz_source *s, gpuexec_texture_desc *d) {
    const unsigned how = fuzz_byte(s);
    memset(d, 0, sizeof *d);
    d->start_canary = N(50) == 1;
    if (how % 4) d->array = array_of(s);
    if (how % 4 == 0 || how == 1) {
        d->memory = address_of(s);
        d->format = GPUEXEC_FORMAT_U32;
        d->width = (size_t)N(100);
        d->height = (size_t)N(3) * 4;
        d->pitch_bytes = d->height ? (size_t)N(4) * 256 : 0;
    }
    d->normalized = how / 4 % 2;
    if (how < 100) return N(50) == 1 ? NULL : d;
    d->address[N(3)] = (gpuexec_address_mode)N(5);
    d->filter = (gpuexec_filter)N(3);
    d->level_filter = (gpuexec_filter)N(2);
    d->read_integers = N(2);
    d->srgb = N(2);
    d->seamless_cube = N(2);
    d->exact_trilinear = N(2);
    d->max_anisotropy = (unsigned)N(20);
    d->max_level = (float)N(5);
    d->first_level = (unsigned)N(3);
    d->first_layer = (unsigned)N(3);
    d->view_format = (gpuexec_format)N(0x12);
    d->view_channels = (unsigned)N(5);
    return d;
}
/* Mostly valid: a power of two now and then. */
static const gpuexec_tensor_map_desc *tensor_map_desc_of(
        struct fuzz_source *s, gpuexec_tensor_map_desc *d) {
    memset(d, 0, sizeof *d);
    d->start_canary = N(50) == 1;
    d->type = (gpuexec_tensor_type)N(N(9) ? 13 : 17);
    d->address = address_of(s) & ~(gpuexec_ptr)15;
    d->rank = 1 + (unsigned)N(N(9) ? 5 : 7);
    for (int i = 0; i < 5; i++) {
        d->dims[i] = N(20) ? 16 * (unsigned)N(4) + (i > 0) : 1ull << N(64);
        d->box[i] = N(20) ? 16 / ((unsigned)i + 1) : (unsigned)N(300);
        d->element_strides[i] = N(9) ? 0 : (unsigned)N(10);
        if (i < 4) d->strides[i] = N(5) ? 0 : N(9) ? 16 * (unsigned)N(200) : 1ull << N(64);
    }
    d->interleave = (gpuexec_interleave)(N(9) ? 0 : N(4));
    d->swizzle = (gpuexec_swizzle)(N(9) ? 0 : N(8));
    d->promotion = (gpuexec_l2_promotion)N(N(9) ? 4 : 6);
    d->fill_nan = N(9) == 1;
    d->overlap = N(4) == 1;
    if (N(3)) return N(50) == 1 ? NULL : d;
    memset(d->box, 0, sizeof d->box);
    d->channels = 16 * (unsigned)N(18);
    d->pixels = (unsigned)N(1100);
    d->lower[N(3)] = N(5) - 2;
    d->upper[N(3)] = N(9) ? N(5) - 2 : (int)fuzz_number(s);
    return d;
}
#define OBJECT(call) \
    do { \
        const uint64_t number = (call); \
        if (number) put(objects, &next_object, number); \
    } while (0)

/* Calls that may run concurrently with others. */
static void use(struct fuzz_source *s) {
    static const char *const names[] = { "nothing", "add", "fault", "user", "", "g",
        "no such thing", "sample", "paint" };
    enum { LABELS = 4 };
    static const char *const labels[LABELS] = { "label", NULL, "",
        "a label that is too long: it has more than the 63 bytes that are kept \xF0\x9F\x98\x80" };
    gpuexec_device_info device;
    gpuexec_device_link link;
    gpuexec_kernel_info kernel;
    gpuexec_kernel kernels[2];
    gpuexec_library_info library;
    gpuexec_stream_info stream;
    gpuexec_stream_attributes hints = { .start_canary = 0 };
    gpuexec_pointer_info pointer;
    gpuexec_copy_info copy;
    gpuexec_dims dims;
    gpuexec_launch_desc launch = { .start_canary = 0 };
    struct CUgraphDeviceUpdatableNode_st *device_node;
    gpuexec_stream_desc stream_desc = { .start_canary = 0 };
    gpuexec_event_desc event_desc = { .start_canary = 0 };
    gpuexec_module_desc module_desc = { .start_canary = 0 };
    gpuexec_image images[3] = { { NULL, 0, NULL } };
    gpuexec_barrier_desc barrier_desc = { .start_canary = 0 };
    gpuexec_multi_desc multi = { .start_canary = 0 };
    gpuexec_capture_desc capture_desc = { .start_canary = 0 };
    gpuexec_graph_info graph;
    gpuexec_ipc_object object;
    gpuexec_ipc_info exported;
    gpuexec_copy_desc shape;
    gpuexec_copy_part parts[5];
    gpuexec_pool_desc pooled = { .start_canary = 0 };
    gpuexec_virtual_desc spread = { .start_canary = 0 };
    gpuexec_context spread_over;
    gpuexec_virtual_info extent;
    gpuexec_virtual_piece piece;
    gpuexec_pinned_desc locked = { .start_canary = 0 };
    gpuexec_register_desc registered = { .start_canary = 0 };
    gpuexec_pool_info numbers;
    gpuexec_managed_desc managed = { .start_canary = 0 };
    gpuexec_managed_info placed;
    gpuexec_device_launch launches[3];
    gpuexec_green_desc green = { .start_canary = 0 };
    gpuexec_array_desc array;
    gpuexec_array_info array_info;
    gpuexec_texture_desc texture;
    gpuexec_tensor_map_desc tensor;
    gpuexec_tensor_map map;
    int sizes[3];
    gpuexec_context contexts[3], rest;
    gpuexec_context_scope scope;
    struct arguments a, more[3];
    char line[512];
    void *memory;
    gpuexec_cache prefer;
    unsigned flags;
    size_t n, m;
    int x, y;
    enum { FIRST = __COUNTER__ };
#define CALL case __COUNTER__ - FIRST - 1
    switch (fuzz_byte(s) % USES) {
    CALL:
        MAKE(CONTEXT, gpuexec_context_open(N(3), NULL));
        break;
    CALL:
        MAKE(CONTEXT, gpuexec_context_create(N(2), NULL));
        break;
    CALL:
        green.sms = N(24);
        green.fine = N(2);
        MAKE(CONTEXT, gpuexec_context_create_green(N(2), fuzz_byte(s) % 16 ? &green : NULL));
        break;
    CALL:
        for (x = 0; x < 3; x++) sizes[x] = N(12);
        green.fine = N(2);
        memset(contexts, 0, sizeof contexts);
        RESULT(gpuexec_device_split(
                N(2), sizes, y = N(4) - 1, fuzz_byte(s) % 2 ? &green : NULL, contexts, &rest));
        for (x = 0; x < y; x++) made(contexts[x].id, CONTEXT, "gpuexec_device_split");
        if (rest.id) made(rest.id, CONTEXT, "gpuexec_device_split");
        break;
    CALL:
        RESULT(gpuexec_context_get_sms(C, &x));
        break;
    CALL:
        MAKE(CONTEXT, gpuexec_context_from_native(context_native(s)));
        break;
    CALL:
        MAKE(CONTEXT, gpuexec_context_attach(context_native(s)));
        break;
    CALL:
        NATIVE(CONTEXT, gpuexec_context_native(C));
        break;
    CALL:
        FAILS(< 0, gpuexec_context_device(C));
        break;
    CALL:
        RESULT(gpuexec_context_get_memory(C, &n, &m));
        break;
    CALL:
        RESULT(gpuexec_context_set_limit(C, (gpuexec_limit)N(9), fuzz_number(s) % (1 << 20)));
        break;
    CALL:
        RESULT(gpuexec_context_get_limit(C, (gpuexec_limit)N(9), &n));
        break;
    CALL:
        RESULT(gpuexec_context_set_cache(C, (gpuexec_cache)N(6)));
        break;
    CALL:
        RESULT(gpuexec_context_get_cache(C, &prefer));
        break;
    CALL:
        RESULT(gpuexec_context_get_priorities(C, &x, &y));
        break;
    CALL:
        RESULT(gpuexec_context_sync(C));
        break;
    CALL:
        RESULT(gpuexec_device_sync(N(4) - 1));
        break;
    CALL:
        RESULT(gpuexec_sync_all());
        break;
    CALL:
        RESULT(gpuexec_context_retain(C));
        break;
    CALL:
        FAILS(== 0, gpuexec_context_users(C));
        break;
    CALL:
        (void)gpuexec_context_usage(C);
        break;
    CALL:
        RESULT(gpuexec_context_set_current(C));
        break;
    CALL:
        RESULT(gpuexec_primary_get_state(N(4) - 1, &flags, &x));
        break;
    CALL:
        RESULT(gpuexec_primary_set_flags(N(4) - 1, (unsigned)N(40)));
        break;
    CALL:
        RESULT(gpuexec_profiler_start(C));
        break;
    CALL:
        RESULT(gpuexec_profiler_stop(C));
        break;
    CALL:
        RESULT(gpuexec_context_push(C));
        break;
    CALL:
        RESULT(gpuexec_context_pop(C));
        break;
    CALL:
        scope = gpuexec_context_scope_begin_at(GPUEXEC_HERE, C);
        if (scope.entered) (void)gpuexec_context_stack_text(line, sizeof line);
        gpuexec_context_scope_end(&scope);
        break;
    CALL:
        FUZZ_CHECK(gpuexec_context_stack_text(line, 64) == 0 || strlen(line) < 64,
                "the stack's text is too long");
        break;
    CALL:
        (void)gpuexec_context_is_current(C);
        break;
    CALL:
        MAKE(MODULE, gpuexec_module_load(C, text, 0, NULL));
        break;
    CALL:
        module_desc.max_registers = N(70000);
        module_desc.verbose = N(3);
        module_desc.target = N(100);
        MAKE(MODULE, gpuexec_module_load(C, text, sizeof text, &module_desc));
        break;
    CALL:
        MAKE(MODULE, gpuexec_module_load(C, text, 40 + (size_t)N(400), NULL));
        break;
    CALL:
        MAKE(MODULE, gpuexec_module_load_file(C, "/no/such.ptx", NULL));
        break;
    CALL:
        images[0].data = text;
        images[1].data = text;
        images[1].bytes = (size_t)N(400);
        MAKE(MODULE, gpuexec_module_load_best(C, images, (size_t)N(4), NULL));
        break;
    CALL:
        MAKE(MODULE, gpuexec_module_compile(C, N(8) ? text : "no text", NULL, NULL));
        break;
    CALL:
        MAKE(MODULE, gpuexec_module_from_native(C, (struct CUmod_st *)native_of(s, MODULE)));
        break;
    CALL:
        NATIVE(MODULE, gpuexec_module_native(M));
        break;
    CALL:
        FUZZ_CHECK(gpuexec_module_log(M) != NULL, "a log");
        (void)gpuexec_module_jit_ms(M);
        (void)gpuexec_module_is_cached(M);
        (void)gpuexec_module_threads_per_block(M);
        break;
    CALL:
        (void)gpuexec_module_kernel_count(M);
        (void)gpuexec_module_kernel_name(M, N(5) - 1);
        break;
    CALL:
        MAKE(LIBRARY, gpuexec_library_load(text, (size_t)N(2) * (size_t)N(sizeof text), NULL));
        break;
    CALL:
    CALL:
        MAKE(MODULE, gpuexec_library_module(library_of(s), C));
        break;
    CALL:
        NATIVE(LIBRARY, gpuexec_library_native(library_of(s)));
        MAKE(LIBRARY, gpuexec_library_from_native((struct CUlib_st *)native_of(s, LIBRARY)));
        break;
    CALL:
        RESULT(gpuexec_library_get_info(library_of(s), &library));
        (void)gpuexec_library_kernel_name(library_of(s), N(5) - 1);
        RESULT(gpuexec_kernel_load(K));
        FAILS(< 0, gpuexec_kernel_is_loaded(K));
        break;
    CALL:
        ADDRESS(gpuexec_module_global_address(M, names[N(7)], &n));
        break;
    CALL:
        RESULT(gpuexec_module_write_global(M, names[N(7)], host, (size_t)N(80)));
        break;
    CALL:
        RESULT(gpuexec_module_read_global(M, names[N(7)], host, (size_t)N(80)));
        break;
    CALL:
    CALL:
    CALL:
        MAKE(KERNEL, gpuexec_kernel_get(M, names[N(9)]));
        break;
    CALL:
        MAKE(KERNEL, gpuexec_kernel_from_native(C, (struct CUfunc_st *)native_of(s, KERNEL)));
        break;
    CALL:
        NATIVE(KERNEL, gpuexec_kernel_native(K));
        break;
    CALL:
        RESULT(gpuexec_kernel_get_info(K, &kernel));
        break;
    CALL:
        RESULT(gpuexec_kernel_set_carveout(K, N(110) - 4));
        RESULT(gpuexec_kernel_set_cache(K, (gpuexec_cache)N(5)));
        break;
    CALL:
        (void)gpuexec_kernel_parameter_size(K, N(5) - 1);
        (void)gpuexec_kernel_parameter_offset(K, N(5) - 1);
        (void)gpuexec_kernel_parameter_type(K, N(5) - 1);
        break;
    CALL:
        RESULT(gpuexec_kernel_get_attribute(K, N(20) - 1, &x));
        RESULT(gpuexec_kernel_set_attribute(K, N(20) - 1, N(300) - 1));
        break;
    CALL:
        FAILS(< 0, gpuexec_kernel_occupancy(K, (unsigned)fuzz_number(s), fuzz_number(s)));
        FAILS(< 0, gpuexec_kernel_occupancy_flags(K, (unsigned)N(2000), 0, (unsigned)N(3)));
        FAILS(< 0, gpuexec_kernel_best_block_flags(K, fuzz_number(s), (unsigned)N(3), &x));
        break;
    CALL:
        launch.cluster_x = (unsigned)N(5);
        launch.non_portable_cluster = N(2);
        dims = dims_of(s);
        FAILS(< 0, gpuexec_kernel_largest_cluster(K, dims, &launch));
        FAILS(< 0, gpuexec_kernel_resident_clusters(K, dims, N(2) ? &launch : NULL));
        break;
    CALL:
        kernels[0] = K;
        kernels[1] = K;
        FAILS(< 0, gpuexec_multi_cooperative_blocks(kernels, (unsigned)N(3), 64, fuzz_number(s)));
        break;
    CALL:
        FAILS(< 0, gpuexec_kernel_best_block(K, fuzz_number(s), &x));
        break;
    CALL:
        FAILS(< 0, gpuexec_kernel_cooperative_blocks(K, (unsigned)fuzz_number(s), fuzz_number(s)));
        break;
    CALL:
    CALL:
        ADDRESS(gpuexec_alloc(C, fuzz_number(s) % (1 << 20)));
        break;
    CALL:
        ADDRESS(gpuexec_alloc(C, fuzz_number(s)));
        break;
    CALL:
    CALL:
        ADDRESS(gpuexec_alloc_on(
                fuzz_byte(s) % 4 ? S : GPUEXEC_CURRENT, fuzz_number(s) % (1 << 20)));
        break;
    CALL:
        pooled.use_default = N(8) == 1;
        pooled.release = N(4) == 1;
        pooled.release_threshold = N(8) == 1 ? fuzz_number(s) : 0;
        pooled.max_bytes = N(8) == 1 ? fuzz_number(s) : 0;
        pooled.exportable = N(8) == 1;
        pooled.location = (gpuexec_pool_location)(N(8) < 4 ? N(4) : 0);
        pooled.numa_node = N(8) == 1 ? N(4) - 2 : 0;
        pooled.cache_bytes = N(4) == 1 ? fuzz_number(s) : 0;
        MAKE(POOL, gpuexec_pool_create(C, N(4) ? &pooled : NULL));
        break;
    CALL:
        MAKE(POOL,
                N(4) ? gpuexec_context_pool(C)
                     : gpuexec_pool_from_native(C, gpuexec_pool_native(P)));
        break;
    CALL:
    CALL:
        ADDRESS(gpuexec_pool_alloc(P, S, fuzz_number(s) % (1 << 20)));
        break;
    CALL:
        RESULT(gpuexec_pool_trim(P, fuzz_number(s)));
        break;
    CALL:
        RESULT(gpuexec_pool_set_threshold(P, fuzz_number(s)));
        RESULT(gpuexec_pool_reset_high(P));
        break;
    CALL:
        RESULT(gpuexec_pool_get_info(P, &numbers));
        (void)gpuexec_pool_native(P);
        break;
    CALL:
        RESULT(N(2) ? gpuexec_pool_peer_enable(P, C) : gpuexec_pool_peer_disable(P, C));
        RESULT(gpuexec_pool_peer_query(P, C, N(9) ? &x : NULL));
        break;
    CALL:
    CALL:
        spread.mirror = N(8) == 1;
        spread.exportable = N(2);
        spread.on_host = N(8) == 1;
        spread.numa_node = N(8) == 1 ? N(4) - 2 : 0;
        spread.max_bytes = N(8) ? fuzz_number(s) % (64 << 20) : fuzz_number(s);
        spread.bytes = N(2) ? fuzz_number(s) % (8 << 20) : 0;
        spread.piece_bytes = N(4) == 1 ? fuzz_number(s) % (8 << 20) : 0;
        spread_over = C;
        spread.peers = N(4) == 1 ? &spread_over : NULL;
        spread.npeers = spread.peers != NULL || N(32) == 1;
        MAKE(VIRTUAL, gpuexec_virtual_create(C, N(16) ? &spread : NULL));
        break;
    CALL:
        RESULT(N(4) ? gpuexec_virtual_grow(V, fuzz_number(s) % (32 << 20))
                    : gpuexec_virtual_grow_on(V, C, fuzz_number(s) % (32 << 20)));
        ADDRESS(gpuexec_virtual_address(V));
        break;
    CALL:
        RESULT(gpuexec_virtual_get_info(V, N(9) ? &extent : NULL));
        RESULT(gpuexec_virtual_get_piece(V, (unsigned)N(4), N(9) ? &piece : NULL));
        break;
    CALL:
        RESULT(N(2) ? gpuexec_virtual_peer_enable(V, C) : gpuexec_virtual_peer_disable(V, C));
        RESULT(gpuexec_virtual_peer_query(V, C, N(9) ? &x : NULL));
        break;
    CALL : {
        const int fd = (before(), gpuexec_ipc_export_piece(V, (unsigned)N(3), &object));
        if (fd < 0) said(gpuexec_error_detail()->result, "gpuexec_ipc_export_piece");
        RESULT(gpuexec_ipc_import_piece(V, &object, N(8) ? fd : N(3) - 2));
        if (fd >= 0) close(fd);
        RESULT(gpuexec_ipc_send_piece(ipc_of(s), "piece", 1, V, (unsigned)N(3), 0));
        break;
    }
    CALL:
        managed.concurrent = N(2);
        managed.attach_host = N(8) == 1;
        ADDRESS(gpuexec_alloc_managed(C, fuzz_number(s) % (1 << 20), &managed));
        break;
    CALL:
        (void)gpuexec_managed_host(address_of(s));
        break;
    CALL:
        RESULT(gpuexec_managed_prefetch(S, address_of(s), fuzz_number(s), N(24) - 20));
        break;
    CALL:
        RESULT(gpuexec_managed_advise(
                address_of(s), fuzz_number(s), (gpuexec_advice)N(8), N(24) - 20));
        break;
    CALL:
        RESULT(gpuexec_managed_attach(S, address_of(s), (gpuexec_attachment)N(6)));
        RESULT(gpuexec_managed_get_info(address_of(s), fuzz_number(s), &placed));
        break;
    CALL:
        n = fuzz_number(s) % 5000;
        m = fuzz_number(s) % 5000;
        ADDRESS(gpuexec_alloc_pitched(C, n, m, fuzz_byte(s) % 17, &n));
        break;
    CALL:
        memory = gpuexec_alloc_pinned(C, fuzz_number(s) % 100000);
        if (memory) put(pinned, &next_pinned, (uint64_t)(uintptr_t)memory);
        break;
    CALL:
        n = fuzz_number(s) % HOST;
        RESULT(gpuexec_register(C, host + n, fuzz_number(s) % (HOST - n)));
        break;
    CALL:
        n = fuzz_number(s) % HOST;
        registered.not_portable = N(2);
        registered.not_mapped = N(2);
        registered.read_only = N(2);
        registered.io_memory = N(8) == 1;
        registered.end_canary = N(50) == 1;
        RESULT(gpuexec_register_with(C, host + n, fuzz_number(s) % (HOST - n), &registered));
        break;
    CALL:
        locked.write_combined = N(2);
        locked.not_portable = N(2);
        locked.not_mapped = N(2);
        locked.end_canary = N(50) == 1;
        memory = gpuexec_alloc_pinned_with(C, fuzz_number(s) % 100000, &locked);
        if (memory) put(pinned, &next_pinned, (uint64_t)(uintptr_t)memory);
        break;
    CALL:
        RESULT(gpuexec_peer_enable(C, C));
        break;
    CALL:
        RESULT(gpuexec_peer_disable(C, C));
        break;
    CALL:
        memory = memory_of(s, &n);
        (void)gpuexec_pinned_address(memory);
        break;
    CALL:
        memory = memory_of(s, &n);
        RESULT(gpuexec_copy_in(S, address_of(s), memory, n));
        break;
    CALL:
        memory = memory_of(s, &n);
        RESULT(gpuexec_copy_out(S, memory, address_of(s), n));
        break;
    CALL:
        n = fuzz_number(s);
        RESULT(gpuexec_copy(S, address_of(s), address_of(s), n));
        break;
    CALL:
        n = fuzz_number(s);
        RESULT(gpuexec_copy_peer(S, address_of(s), C, address_of(s), C, n));
        break;
    CALL:
        RESULT(gpuexec_fill(S, address_of(s), fuzz_byte(s), (unsigned)N(6), fuzz_number(s)));
        break;
    CALL:
        memory = memory_of(s, &n);
        RESULT(gpuexec_copy_in_now(C, address_of(s), memory, n));
        break;
    CALL:
        memory = memory_of(s, &n);
        RESULT(gpuexec_copy_out_now(C, memory, address_of(s), n));
        break;
    CALL:
        n = fuzz_number(s);
        RESULT(gpuexec_copy_now(C, address_of(s), address_of(s), n));
        break;
    CALL:
        RESULT(gpuexec_fill_now(C, address_of(s), fuzz_byte(s), (unsigned)N(6), fuzz_number(s)));
        break;
    CALL:
        n = fuzz_number(s);
        RESULT(gpuexec_copy_peer_now(C, address_of(s), C, address_of(s), C, n));
        break;
    CALL:
    CALL:
    CALL:
        RESULT(gpuexec_copy_with(N(4) ? S : gpuexec_stream_legacy(C), copy_of(s, &shape)));
        break;
    CALL:
        memset(parts, 0, sizeof parts);
        for (x = 0; x < 5; x++) {
            memory = memory_of(s, &n);
            parts[x].bytes = n;
            if (N(3) == 1) parts[x].to_host = memory;
            else parts[x].to = address_of(s);
            if (N(3) == 1) parts[x].from_host = memory;
            else parts[x].from = address_of(s);
        }
        n = (size_t)N(6);
        RESULT(N(2) ? gpuexec_copy_many(S, parts, n)
                    : gpuexec_copy_many(GPUEXEC_CURRENT, parts, n));
        break;
    CALL:
        memory = gpuexec_alloc_write_combined(C, fuzz_number(s) % 100000);
        if (memory) put(pinned, &next_pinned, (uint64_t)(uintptr_t)memory);
        break;
    CALL:
        RESULT(gpuexec_pointer_get_info(
                fuzz_byte(s) % 2 ? address_of(s) : (gpuexec_ptr)(uintptr_t)memory_of(s, &n),
                &pointer));
        break;
    CALL:
        RESULT(gpuexec_copy_explain(S, address_of(s),
                fuzz_byte(s) % 2 ? address_of(s) : (gpuexec_ptr)(uintptr_t)memory_of(s, &n),
                fuzz_number(s), &copy));
        break;
    CALL:
        stream_desc.non_blocking = N(3);
        stream_desc.priority = N(16) - 10;
        MAKE(STREAM, gpuexec_stream_create(C, &stream_desc));
        break;
    CALL:
    CALL:
        MAKE(STREAM, gpuexec_stream_create(C, NULL));
        break;
    CALL:
        MAKE(STREAM, gpuexec_stream_legacy(C));
        break;
    CALL:
        MAKE(STREAM, gpuexec_stream_per_thread(C));
        break;
    CALL:
        MAKE(STREAM, gpuexec_stream_from_native(C, (struct CUstream_st *)native_of(s, STREAM)));
        break;
    CALL:
        NATIVE(STREAM, gpuexec_stream_native(S));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_stream_sync(S));
        break;
    CALL:
        RESULT(gpuexec_stream_query(S));
        break;
    CALL:
        RESULT(gpuexec_stream_wait_event(S, E));
        break;
    CALL:
        RESULT(gpuexec_stream_wait_external(S, E));
        break;
    CALL:
        RESULT(gpuexec_stream_wait_stream(S, S));
        break;
    CALL:
        RESULT(gpuexec_stream_host_function(S, called, &calls));
        break;
    CALL:
        RESULT(gpuexec_stream_get_info(S, &stream));
        break;
    CALL:
        hints.has_window = N(2);
        hints.window = window_of(s);
        hints.wait_policy = (gpuexec_wait_policy)(N(7) - 1);
        hints.has_priority = N(2);
        hints.priority = N(9) - 6;
        hints.has_memory_sync_domain = N(2);
        hints.memory_sync_domain = N(4) - 1;
        hints.has_memory_sync_map = N(2);
        hints.memory_sync_map[N(2)] = (unsigned char)N(6);
        RESULT(gpuexec_stream_set_attributes(S, &hints));
        break;
    CALL:
        RESULT(gpuexec_stream_get_attributes(S, &hints));
        break;
    CALL:
        RESULT(fuzz_byte(s) % 2 ? gpuexec_stream_write_value32(S, address_of(s), (unsigned)N(4))
                                : gpuexec_stream_write_value64(S, address_of(s), (unsigned)N(4)));
        break;
    CALL:
        event_desc.no_timing = N(2);
        event_desc.blocking_sync = N(3);
        MAKE(EVENT, gpuexec_event_create(C, &event_desc));
        break;
    CALL:
        MAKE(EVENT, gpuexec_event_from_native(C, (struct CUevent_st *)native_of(s, EVENT)));
        break;
    CALL:
        NATIVE(EVENT, gpuexec_event_native(E));
        break;
    CALL:
        RESULT(gpuexec_event_record(E, S));
        break;
    CALL:
        RESULT(gpuexec_event_record_external(E, S));
        break;
    CALL:
        MAKE(EVENT, gpuexec_stream_record(S, NULL));
        break;
    CALL:
        RESULT(gpuexec_event_sync(E));
        break;
    CALL:
        RESULT(gpuexec_event_query(E));
        break;
    CALL:
        FAILS(< 0, gpuexec_event_elapsed_ms(E, E));
        break;
    CALL:
    CALL:
    CALL:
        dims = dims_of(s);
        RESULT(gpuexec_launch(K, S, dims, args_of(s, &a)));
        break;
    CALL:
        dims = dims_of(s);
        RESULT(gpuexec_launch_cooperative(K, S, dims, args_of(s, &a)));
        break;
    CALL:
        launch.cluster_x = fuzz_byte(s) % 4;
        launch.has_priority = fuzz_byte(s) % 2;
        launch.priority = N(9) - 6;
        launch.cooperative = fuzz_byte(s) % 2;
        launch.programmatic = fuzz_byte(s) % 2;
        launch.memory_sync_domain = N(3);
        launch.window = window_of(s);
        launch.preferred_cluster_x = N(3) ? 0 : (unsigned)N(5);
        launch.cluster_policy = (gpuexec_cluster_policy)(N(9) ? N(3) : N(5) - 1);
        launch.has_carveout = N(2);
        launch.carveout = N(110) - 4;
        if (!N(3)) launch.started_event = E;
        if (!N(3)) launch.programmatic_event = E;
        launch.programmatic_event_at_start = !N(9);
        if (!N(9)) launch.device_node = &device_node;
        launch.raw_attribute = N(4) ? 0 : N(20) - 1;
        launch.raw_value[N(2)] = (unsigned char)N(4);
        dims = dims_of(s);
        RESULT(gpuexec_launch_with(K, S, dims, &launch, args_of(s, &a)));
        break;
    CALL:
        contexts[0] = C;
        contexts[1] = C;
        contexts[2] = C;
        barrier_desc.host_memory = fuzz_byte(s) % 2;
        barrier_desc.timeout_seconds = 0.2;
        MAKE(BARRIER, gpuexec_barrier_create(contexts, fuzz_byte(s) % 4, &barrier_desc));
        break;
    CALL:
        ADDRESS(gpuexec_barrier_address(barrier_of(s), fuzz_byte(s) % 4));
        (void)gpuexec_barrier_is_direct(barrier_of(s));
        break;
    CALL:
        RESULT(gpuexec_barrier_check(barrier_of(s)));
        RESULT(gpuexec_barrier_abort(barrier_of(s)));
        break;
    CALL:
        n = fuzz_byte(s) % 4;
        dims = dims_of(s);
        multi.way = (gpuexec_multi_way)(fuzz_byte(s) % 4);
        multi.no_pre_sync = fuzz_byte(s) % 2;
        multi.no_post_sync = fuzz_byte(s) % 2;
        if (fuzz_byte(s) % 2) multi.barrier = barrier_of(s);
        for (m = 0; m < n && m < 3; m++) {
            launches[m].kernel = K;
            launches[m].stream = S;
            launches[m].dims = dims;
            launches[m].args = args_of(s, &more[m]);
        }
        RESULT(gpuexec_launch_multi_device(launches, (unsigned)n, &multi));
        break;
    CALL:
        capture_desc.mode = (gpuexec_capture_mode)N(4);
        capture_desc.retain = N(2);
        RESULT(gpuexec_capture_begin(S, fuzz_byte(s) % 2 ? &capture_desc : NULL));
        break;
    CALL:
    CALL:
        MAKE(GRAPH, gpuexec_capture_end(S));
        break;
    CALL:
        (void)gpuexec_stream_is_capturing(S);
        break;
    CALL:
    CALL:
        RESULT(gpuexec_graph_launch(G, S));
        break;
    CALL:
        RESULT(gpuexec_graph_prepare(G, S));
        RESULT(gpuexec_graph_get_info(G, &graph));
        break;
    CALL:
        RESULT(gpuexec_graph_retain(G));
        break;
    CALL:
        FAILS(== 0, gpuexec_graph_text(G, line, fuzz_byte(s)));
        FAILS(== 0, gpuexec_graph_dot(G, line, fuzz_byte(s)));
        break;
    CALL:
        RESULT(gpuexec_device_get_info(N(4) - 1, &device));
        RESULT(gpuexec_device_get_attribute(N(4) - 1, N(200), &x));
        (void)gpuexec_device_can_access_peer(N(4) - 1, N(4) - 1);
        RESULT(gpuexec_device_get_link(N(4) - 1, N(4) - 1, &link));
        FAILS(== 0, gpuexec_topology_text(line, fuzz_byte(s)));
        FAILS(== 0, gpuexec_devices_text(line, fuzz_byte(s)));
        break;
    CALL:
        RESULT(gpuexec_take_error());
        break;
    CALL:
        RESULT(gpuexec_setup(NULL));
        break;
    CALL:
        event_desc.interprocess = 1;
        MAKE(EVENT, gpuexec_event_create(C, &event_desc));
        RESULT(gpuexec_ipc_export(address_of(s), &object));
        RESULT(gpuexec_ipc_export_event(E, &object));
        break;
    /* changed, or this process's */
    CALL:
        if (gpuexec_ipc_export(address_of(s), &object) == GPUEXEC_OK)
            object.bytes[fuzz_byte(s) % sizeof object.bytes] ^= (unsigned char)fuzz_byte(s);
        FUZZ_CHECK(gpuexec_ipc_import(C, &object) == 0, "an import");
        FUZZ_CHECK(!gpuexec_ok(gpuexec_ipc_import_event(C, &object)), "an import");
        RESULT(gpuexec_ipc_get_info(&object, &exported));
        break;
    CALL : {
        const uint64_t id = any(s, 1 + fuzz_byte(s) % (KINDS - 1));
        RESULT(gpuexec_label_at("fuzz.c:1", id, labels[fuzz_byte(s) % LABELS]));
        FUZZ_CHECK(strlen(gpuexec_id_get_label(id)) < 64, "a label");
        break;
    }
    CALL : {
        const gpuexec_ptr address = address_of(s) + fuzz_number(s) % 8;
        RESULT(gpuexec_label_memory(address, labels[fuzz_byte(s) % LABELS]));
        FUZZ_CHECK(strlen(gpuexec_memory_get_label(address)) < 64, "a label");
        break;
    }
    CALL:
        if (fuzz_byte(s) % 3) RESULT(gpuexec_range_pop());
        else RESULT(gpuexec_range_push(labels[fuzz_byte(s) % LABELS]));
        break;
    CALL:
        begin_trace(s);
        break;
    CALL:
        RESULT(gpuexec_kernel_set_access(K, N(6) - 1, (gpuexec_use)(N(6) - 1)));
        break;
    CALL:
        MAKE(ARRAY, gpuexec_array_create(C, array_desc_of(s, &array)));
        break;
    CALL:
        MAKE(ARRAY, gpuexec_array_from_native(C, (struct CUarray_st *)native_of(s, ARRAY)));
        break;
    CALL:
        NATIVE(ARRAY, gpuexec_array_native(array_of(s), (unsigned)N(3)));
        break;
    CALL:
        RESULT(gpuexec_array_get_info(array_of(s), (unsigned)N(3), N(9) ? &array_info : NULL));
        break;
    CALL:
        MAKE(TEXTURE, gpuexec_texture_create(C, texture_desc_of(s, &texture)));
        break;
    CALL:
        OBJECT(gpuexec_texture_object(texture_of(s)));
        OBJECT(gpuexec_surface_object(surface_of(s)));
        break;
    CALL:
        RESULT(gpuexec_texture_get_desc(texture_of(s), N(9) ? &texture : NULL));
        break;
    CALL:
        RESULT(gpuexec_texture_bind(texture_of(s), M, N(9) ? "t" : names[N(9)]));
        break;
    CALL:
        MAKE(SURFACE, gpuexec_surface_create(array_of(s), (unsigned)N(3) / 2));
        break;
    CALL:
        RESULT(gpuexec_tensor_map_encode(C, tensor_map_desc_of(s, &tensor), N(9) ? &map : NULL));
        break;
    CALL:
        memset(&map, N(2), sizeof map);
        if (N(2)) gpuexec_tensor_map_encode(C, tensor_map_desc_of(s, &tensor), &map);
        RESULT(gpuexec_tensor_map_replace_address(C, N(9) ? &map : NULL, address_of(s)));
        break;
    CALL:
        RESULT(gpuexec_surface_bind(surface_of(s), M, N(9) ? "u" : names[N(9)]));
        break;
    }
    FUZZ_CHECK(__COUNTER__ - FIRST - 1 == USES, "the number of calls above");
}

/* Builds and changes graphs. */
static gpuexec_node node_of(struct fuzz_source *s) { return (gpuexec_node){ G, (unsigned)N(6) }; }
static void nothing(void *user) { (void)user; }
static void change_graph(struct fuzz_source *s) {
    const gpuexec_graph g = G;
    const gpuexec_node near[3] = { { g, (unsigned)N(6) }, { g, (unsigned)N(6) }, node_of(s) };
    const gpuexec_after after = { N(40) ? near : NULL, (unsigned)(N(8) ? N(3) : N(5)) % 4 };
    gpuexec_launch_desc attributes = { .start_canary = 0 };
    gpuexec_copy_desc copy;
    gpuexec_graph body = { 0 }, bodies[3] = { { 0 } };
    gpuexec_ptr p = 0;
    struct arguments a;
    uint32_t word = fuzz_byte(s);
    unsigned long long condition;
    unsigned count;
    enum { FIRST = __COUNTER__, CHANGES = 30 };
#define NODE(call) MAKE(GRAPH, (call).graph)
    switch (fuzz_byte(s) % CHANGES) {
    CALL:
        MAKE(GRAPH, gpuexec_graph_create(C));
        break;
    CALL:
        MAKE(GRAPH, gpuexec_graph_clone(g));
        break;
    CALL:
    CALL:
        NODE(gpuexec_graph_add_kernel(g, K, dims_of(s), args_of(s, &a), after));
        break;
    CALL:
        attributes.cooperative = N(2);
        attributes.cluster_x = (unsigned)N(3);
        attributes.programmatic = N(2);
        attributes.has_priority = N(2);
        NODE(gpuexec_graph_add_kernel_with(g, K, dims_of(s), &attributes, args_of(s, &a), after));
        break;
    CALL:
    CALL:
    CALL:
    CALL:
    CALL:
        NODE(gpuexec_graph_add_copy(g, copy_of(s, &copy), after));
        break;
    CALL:
        NODE(gpuexec_graph_add_fill(
                g, address_of(s), (unsigned)N(400), (unsigned)N(5), fuzz_number(s), after));
        break;
    CALL:
        NODE(gpuexec_graph_add_host(g, N(8) ? nothing : NULL, NULL, after));
        break;
    CALL:
        NODE(N(2) ? gpuexec_graph_add_record(g, E, after) : gpuexec_graph_add_wait(g, E, after));
        break;
    CALL:
        NODE(gpuexec_graph_add_empty(g, after));
        break;
    CALL:
        NODE(gpuexec_graph_add_child(g, G, after));
        break;
    CALL:
        NODE(gpuexec_graph_add_alloc(g, fuzz_number(s) % (1 << 20), N(20) ? &p : NULL, after));
        if (p) put(addresses, &next_address, p);
        break;
    CALL:
        NODE(gpuexec_graph_add_free(g, address_of(s), after));
        break;
    CALL:
        condition = N(8) ? gpuexec_graph_condition(g, (unsigned)N(2)) : fuzz_number(s);
        NODE(gpuexec_graph_add_if(g, condition, &body, after));
        MAKE(GRAPH, body);
        break;
    CALL:
        NODE(gpuexec_graph_add_while(g, gpuexec_graph_condition(g, 0), &body, after));
        MAKE(GRAPH, body);
        break;
    CALL:
        condition = gpuexec_graph_condition(g, (unsigned)N(2));
        NODE(gpuexec_graph_add_if_else(g, condition, bodies, N(20) ? bodies + 1 : NULL, after));
        MAKE(GRAPH, bodies[0]);
        if (bodies[1].id) MAKE(GRAPH, bodies[1]); /* NULL was passed */
        break;
    CALL:
        condition = gpuexec_graph_condition(g, (unsigned)N(4));
        count = (unsigned)N(4);
        NODE(gpuexec_graph_add_switch(g, condition, bodies, count, after));
        while (count) MAKE(GRAPH, bodies[--count]);
        break;
    CALL:
        NODE(gpuexec_graph_find_kernel(g, K, (unsigned)N(3)));
        break;
    CALL:
        attributes.cooperative = N(2);
        attributes.has_priority = N(2);
        RESULT(gpuexec_node_set_attributes(node_of(s), N(4) ? &attributes : NULL));
        RESULT(gpuexec_node_get_attributes(node_of(s), N(9) ? &attributes : NULL));
        break;
    CALL:
        RESULT(gpuexec_node_set_args(node_of(s), args_of(s, &a)));
        break;
    CALL:
        RESULT(gpuexec_node_set_argument(
                node_of(s), N(5) - 1, N(9) ? &word : NULL, N(4) ? 4 : fuzz_byte(s)));
        break;
    CALL:
        RESULT(gpuexec_node_set_dims(node_of(s), dims_of(s)));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_node_set_copy(node_of(s), copy_of(s, &copy)));
        break;
    CALL:
        RESULT(gpuexec_node_set_fill(
                node_of(s), address_of(s), (unsigned)N(400), (unsigned)N(5), fuzz_number(s)));
        break;
    CALL:
        RESULT(gpuexec_node_enable(node_of(s), N(2)));
        break;
    }
    FUZZ_CHECK(__COUNTER__ - FIRST - 1 == CHANGES, "the number of calls above");
}

/* Calls that must not run concurrently with others. */
static void alone(struct fuzz_source *s) {
    const unsigned char value[64] = { 1, 2, 3 };
    gpuexec_launch_desc attributes = { .start_canary = 0 };
    gpuexec_batch_desc batch_desc = { .start_canary = 0 };
    gpuexec_linker_desc cached = { .start_canary = 0 };
    gpuexec_batch_info batch;
    gpuexec_cache_info cache;
    gpuexec_ipc_message message;
    struct arguments a;
    const void *image;
    void *memory;
    size_t n;
    int fd = -1;
    enum { FIRST = __COUNTER__ };
    switch (fuzz_byte(s) % ENDS) {
    CALL:
    CALL:
        RESULT(gpuexec_context_close(C));
        break;
    CALL:
        RESULT(gpuexec_primary_reset(N(4) - 1));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_module_unload(M));
        break;
    CALL:
        RESULT(gpuexec_library_unload(library_of(s)));
        break;
    CALL:
        RESULT(gpuexec_free(address_of(s)));
        break;
    CALL:
        RESULT(gpuexec_free_on(fuzz_byte(s) % 4 ? S : GPUEXEC_CURRENT, address_of(s)));
        break;
    CALL:
        RESULT(gpuexec_free_pinned((void *)(uintptr_t)get(pinned, fuzz_byte(s))));
        break;
    CALL:
        RESULT(gpuexec_free_pinned((void *)(uintptr_t)fuzz_number(s)));
        break;
    CALL:
        RESULT(gpuexec_unregister(host + fuzz_number(s) % HOST));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_stream_destroy(S));
        break;
    CALL:
        RESULT(gpuexec_pool_destroy(P));
        break;
    CALL:
        RESULT(gpuexec_virtual_shrink(V, N(2) ? fuzz_number(s) % (16 << 20) : fuzz_number(s)));
        break;
    CALL:
        RESULT(gpuexec_virtual_destroy(V));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_event_destroy(E));
        break;
    CALL:
        RESULT(gpuexec_barrier_destroy(barrier_of(s)));
        break;
    CALL:
        RESULT(gpuexec_barrier_reset(barrier_of(s)));
        break;
    CALL:
    CALL:
    CALL:
        foreign(s);
        break;
    CALL:
    CALL:
        MAKE(LINKER, gpuexec_linker_create(C, NULL));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_linker_add(linker_of(s), (gpuexec_input_type)(fuzz_byte(s) % 7),
                fuzz_byte(s) % 2 ? text : other, 0, NULL));
        break;
    CALL:
        RESULT(gpuexec_linker_add_file(linker_of(s), GPUEXEC_INPUT_AUTO, "/no/such.ptx"));
        break;
    CALL:
        RESULT(gpuexec_linker_add(
                linker_of(s), GPUEXEC_INPUT_AUTO, lto, (size_t)N(sizeof lto), NULL));
        break;
    CALL:
        MAKE(MODULE, gpuexec_linker_load(linker_of(s)));
        break;
    CALL:
        RESULT(gpuexec_linker_image(linker_of(s), &image, &n));
        break;
    CALL:
        FUZZ_CHECK(gpuexec_linker_log(linker_of(s)) != NULL, "a log");
        (void)gpuexec_linker_ms(linker_of(s));
        break;
    CALL:
        RESULT(gpuexec_linker_destroy(linker_of(s)));
        break;
    CALL:
        cached.cache = 1;
        MAKE(LINKER, gpuexec_linker_create(C, &cached));
        break;
    CALL:
        RESULT(gpuexec_cache_get_info(fuzz_byte(s) % 4 ? &cache : NULL));
        break;
    CALL:
        RESULT(gpuexec_cache_clear());
        break;
    CALL:
        MAKE(PARAMS, gpuexec_params_create());
        break;
    CALL:
    CALL:
        RESULT(gpuexec_params_add(params_of(s), (gpuexec_type)(fuzz_byte(s) % 70), value));
        break;
    CALL:
        RESULT(gpuexec_params_add_struct(
                params_of(s), host, fuzz_number(s) % HOST, fuzz_number(s)));
        break;
    CALL:
        RESULT(gpuexec_params_begin_struct(params_of(s)));
        break;
    CALL:
        RESULT(gpuexec_params_end_struct(params_of(s)));
        break;
    CALL:
        RESULT(gpuexec_params_unpack(params_of(s), K, host, fuzz_byte(s) % 64));
        break;
    CALL:
        (void)gpuexec_params_count(params_of(s));
        (void)gpuexec_params_offset(params_of(s), N(9) - 2);
        memory = gpuexec_params_data(params_of(s), &n);
        if (memory) memset(memory, 1, n);
        break;
    CALL:
        RESULT(gpuexec_params_check(params_of(s), K));
        break;
    CALL:
        RESULT(fuzz_byte(s) % 4 ? gpuexec_params_clear(params_of(s))
                                : gpuexec_params_destroy(params_of(s)));
        break;
    CALL:
    CALL:
        MAKE(PREPARED, gpuexec_prepare(K, S, dims_of(s), args_of(s, &a)));
        break;
    CALL:
        RESULT(gpuexec_prepared_set(prepared_of(s), N(6) - 1, value, fuzz_byte(s) % 64));
        break;
    CALL:
        memory = gpuexec_prepared_argument(prepared_of(s), 1, 4);
        if (memory) memset(memory, 0, 4);
        RESULT(gpuexec_prepared_set_dims(prepared_of(s), dims_of(s)));
        break;
    CALL:
        attributes.cooperative = N(2);
        attributes.cluster_x = (unsigned)N(3) - 1;
        MAKE(PREPARED, gpuexec_prepare_with(K, S, dims_of(s), &attributes, args_of(s, &a)));
        break;
    CALL:
        RESULT(gpuexec_prepared_set_stream(prepared_of(s), S));
        break;
    CALL:
        RESULT(gpuexec_launch_prepared(prepared_of(s)));
        break;
    CALL:
        RESULT(gpuexec_graph_update(G, G));
        break;
    CALL:
    CALL:
    CALL:
    CALL:
        change_graph(s);
        break;
    CALL:
        RESULT(gpuexec_graph_destroy(G));
        break;
    CALL:
        batch_desc.order = (gpuexec_batch_order)N(4);
        MAKE(BATCH, gpuexec_batch_create(C, fuzz_byte(s) % 4 ? &batch_desc : NULL));
        break;
    CALL:
    CALL:
        attributes.cooperative = N(2);
        attributes.programmatic = N(2);
        for (n = fuzz_byte(s) % 12; n > 0; n--)
            FAILS(< 0,
                    N(4) ? gpuexec_batch_add(batch_of(s), K, dims_of(s), args_of(s, &a))
                         : gpuexec_batch_add_with(
                                   batch_of(s), K, dims_of(s), &attributes, args_of(s, &a)));
        break;
    CALL:
        RESULT(gpuexec_batch_barrier(batch_of(s)));
        break;
    CALL:
        RESULT(gpuexec_batch_set(batch_of(s), N(6) - 1, N(6) - 1, value, fuzz_byte(s) % 64));
        break;
    CALL:
    CALL:
        RESULT(gpuexec_batch_launch(batch_of(s), S));
        break;
    CALL:
        RESULT(gpuexec_batch_get_info(batch_of(s), &batch));
        break;
    CALL:
        RESULT(fuzz_byte(s) % 2 ? gpuexec_batch_clear(batch_of(s))
                                : gpuexec_batch_destroy(batch_of(s)));
        break;
    CALL:
        RESULT(gpuexec_prepared_destroy(prepared_of(s)));
        break;
    CALL:
        MAKE(IPC, gpuexec_ipc_pair(&fd));
        MAKE(IPC, gpuexec_ipc_from_fd(fd));
        break;
    CALL:
        RESULT(gpuexec_ipc_send(ipc_of(s), "label", fuzz_byte(s), NULL, -1));
        RESULT(gpuexec_ipc_receive(ipc_of(s), &message, 0));
        RESULT(gpuexec_ipc_wait(ipc_of(s), E, 1));
        (void)gpuexec_ipc_peer(ipc_of(s));
        break;
    CALL:
        RESULT(gpuexec_ipc_close(ipc_of(s)));
        break;
    CALL:
        begin_trace(s);
        break;
    CALL:
        RESULT(gpuexec_array_destroy(array_of(s)));
        break;
    CALL:
        RESULT(gpuexec_texture_destroy(texture_of(s)));
        break;
    CALL:
        RESULT(gpuexec_surface_destroy(surface_of(s)));
        break;
    CALL:
        if (fuzz_byte(s) % 8 == 1) RESULT(gpuexec_shutdown());
        break;
    }
    FUZZ_CHECK(__COUNTER__ - FIRST - 1 == ENDS, "the number of calls above");
}

static void set_up(void) {
    const gpuexec_setup_desc desc = { .realloc_function = counting };
    FUZZ_CHECK(gpuexec_setup(&desc) == GPUEXEC_OK, "%s", gpuexec_error_text());
}

static void *run(void *data) {
    struct fuzz_source *s = (struct fuzz_source *)data;
    while (s->left) {
        const int exclusive = fuzz_byte(s) % 3 == 0;
        if (exclusive) pthread_rwlock_wrlock(&turn);
        else pthread_rwlock_rdlock(&turn);
        if (exclusive) alone(s);
        else use(s);
        pthread_rwlock_unlock(&turn);
    }
    (void)gpuexec_take_error();
    struct CUctx_st *popped; /* pushed and not popped: the stack belongs to this thread */
    if (gpuexec_device_count() > 0)
        while (gxi.cu.cuCtxPopCurrent(&popped) == 0) {}
    return NULL;
}

static char folder[] = "/tmp/gpuexec-fuzz-XXXXXX"; /* of the cache */
static void end(void) {
    gpuexec_cache_clear();
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    simgpu_take_this();
    FUZZ_CHECK(mkdtemp(folder), "a folder");
    setenv("GPUEXEC_CACHE", folder, 1);
    atexit(end);
    setenv("SIMGPU_MEMORY", "64M", 1);
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_TIMEOUT", "5", 1);
    setenv("GPUEXEC_NVRTC", "libsimgpu.so", 1); /* this one also plays these */
    setenv("GPUEXEC_NVJITLINK", "libsimgpu.so", 1);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const unsigned first = size ? data[0] : 0;
    struct fuzz_source all = { data + (size > 0), size - (size > 0) }, half = all;
    pthread_t thread;
    if (size > 600) return -1; /* long lists find no more than short ones, more slowly */
    memset(pool, 0, sizeof pool);
    memset(natives, 0, sizeof natives);
    memset(addresses, 0, sizeof addresses);
    memset(objects, 0, sizeof objects);
    memset(pinned, 0, sizeof pinned);
    memset(next, 0, sizeof next);
    memset(next_native, 0, sizeof next_native);
    next_address = next_pinned = next_object = 0;
    set_up();
    if (first & 1) { /* initial objects */
        for (int i = 0; i < 2; i++) {
            const gpuexec_context c = gpuexec_context_open(i, NULL);
            const gpuexec_module m = gpuexec_module_load(c, text, 0, NULL);
            made(c.id, CONTEXT, "set up");
            made(m.id, MODULE, "set up");
            made(gpuexec_kernel_get(m, "add").id, KERNEL, "set up");
            made(gpuexec_stream_create(c, NULL).id, STREAM, "set up");
            made(gpuexec_event_create(c, NULL).id, EVENT, "set up");
            made(gpuexec_graph_create(c).id, GRAPH, "set up");
            if (first & 4) {
                gpuexec_array_desc array = { .format = GPUEXEC_FORMAT_U32, .width = 16 };
                gpuexec_texture_desc texture = { .start_canary = 0 };
                array.height = 16;
                array.surface = 1;
                texture.array = gpuexec_array_create(c, &array);
                made(texture.array.id, ARRAY, "set up");
                made(gpuexec_texture_create(c, &texture).id, TEXTURE, "set up");
                made(gpuexec_surface_create(texture.array, 0).id, SURFACE, "set up");
                made(gpuexec_kernel_get(m, "sample").id, KERNEL, "set up");
                made(gpuexec_kernel_get(m, "paint").id, KERNEL, "set up");
                for (unsigned k = 0; k < 2; k++)
                    put(objects, &next_object,
                            k ? gpuexec_texture_object(
                                        (gpuexec_texture){ get(pool[TEXTURE], (unsigned)i) })
                              : gpuexec_surface_object(
                                        (gpuexec_surface){ get(pool[SURFACE], (unsigned)i) }));
            }
            put(addresses, &next_address, gpuexec_alloc(c, 8192));
        }
    }
    if (first & 2) {
        all.left /= 2;
        half.at += all.left;
        half.left -= all.left;
        FUZZ_CHECK(pthread_create(&thread, NULL, run, &half) == 0, "a thread");
        run(&all);
        pthread_join(thread, NULL);
    } else run(&all);
    (void)gpuexec_device_count();
    const gxi_driver cu = gxi.cu; /* shutdown clears it */
    const gpuexec_result last = gpuexec_shutdown();
    said(last, "gpuexec_shutdown");
    for (unsigned i = 0; i < KEPT; i++)
        if (natives[0][i]) (void)cu.cuCtxDestroy((struct CUctx_st *)(uintptr_t)natives[0][i]);
    simgpu_forget_fault();
    for (int i = 0; i < 2; i++) { /* after green contexts it is active, without being retained */
        FUZZ_CHECK(cu.cuDevicePrimaryCtxRelease(i) == GXI_INVALID_CONTEXT,
                "device %d's context is held after gpuexec_shutdown", i);
        FUZZ_CHECK(cu.cuDevicePrimaryCtxReset(i) == 0, "device %d has green contexts", i);
    }
    FUZZ_CHECK(__atomic_load_n(&blocks, __ATOMIC_RELAXED) == 0,
            "%ld blocks of memory after gpuexec_shutdown", blocks);
    return 0;
}
