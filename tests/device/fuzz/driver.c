/* driver.c - the driver API of the CPU device itself: an input is a list of entry points called
   with valid, stale, foreign, zero and invented handles, from one thread or from two at the same
   time, also while the other thread destroys the objects in use. Nothing may crash, hang or leak;
   results are CUresults that have names.

   The calls use one prototype with sixteen 64-bit arguments, which the calling conventions of
   64-bit Linux allow if no floating-point number is passed. */
#define _GNU_SOURCE 1
#include "../../support/fuzz/fuzz.h"
#include <dlfcn.h>
#include <pthread.h>

typedef int entry(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
        uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
enum {
    ARGUMENTS = 16,
    KEPT = 8,
    HOST = 1 << 17,
    HALF = HOST / 2,
    NOT_SUPPORTED = 801,
    UNIT = 2 << 20
};

/* One letter per argument. Handles: c context, s stream, e event, m module, f function or kernel, l
   link state, p memory pool, r library. The capital letter: a place for a new one. 1 graph, 2 node,
   3 executable graph, 4 memory without an address, 6 green context, 7 what it is made of; ! @ # $ &
   ~: places for new ones. [ array, { mipmapped array, < texture object, ( surface object, ? texture
   reference, : surface reference; ] } > ) + ;: places for new ones.

     a A  device address, place for one        h   host memory, HALF bytes or more  b   at most HALF
                                                   bytes
     o    room for a result, or NULL           w   a word that is 7, for streams    z   a size,
                                                   mostly small
     N    any number                           n   a small one                      i   64-bit zero
     t T  a PTX text, its length               k   a name                           g G callbacks
     x    kernel parameters                    y   a launch's configuration         Y   two devices'
                                                   launches
     j    a CUDA_MEMCPY2D                      d   device                           u U 0 to 4, 0 to
                                                   2
     v    mostly 1                             q   7, twice if 64 bits              B O 4 nodes,
                                                   room for 16
     H    h, aligned for any struct            D   a CUmemPoolProps                 0   zero or n
     J    a CUDA_MEMCPY3D or _PEER             X   4 addresses for a batch          Z   their sizes
     8    some CUdevResources
     W    4 indices                            Q   4 CUmemcpyAttributes             K   a
                                                   CUmemAccessDesc
     5 %  reserved address, place for one      V   1 to 4 times UNIT, or odd        I   a
                                                   CUmemAllocationProp
     ^    a CUDA_ARRAY3D_DESCRIPTOR            *   a CUDA_ARRAY_DESCRIPTOR          .   a format
     =    a CUDA_RESOURCE_DESC                 _   a CUDA_TEXTURE_DESC              |   a view of it
     -    none: what has such a parameter is not called

   The letter of a parameter is that of the first line with its type and one of the names, or with
   no names. */
static const struct {
    char letter;
    const char *type, *names;
} letters[] = {
    { 'c', "gxi_cu_context", "" },
    { 'C', "gxi_cu_context *", "" },
    { 's', "gxi_cu_stream", "" },
    { 'S', "gxi_cu_stream *", "" },
    { 'e', "gxi_cu_event", "" },
    { 'E', "gxi_cu_event *", "" },
    { 'm', "gxi_cu_module", "" },
    { 'M', "gxi_cu_module *", "" },
    { 'f', "gxi_cu_function", "" },
    { 'o', "gxi_cu_function *", " functions " },
    { 'F', "gxi_cu_function *", "" },
    { 'r', "gxi_cu_library", "" },
    { 'o', "gxi_cu_library *", " of " },
    { 'R', "gxi_cu_library *", "" },
    { '1', "gxi_cu_graph", "" },
    { 'o', "gxi_cu_graph *", " into child " },
    { '!', "gxi_cu_graph *", "" },
    { '3', "gxi_cu_exec", "" },
    { '#', "gxi_cu_exec *", "" },
    { '2', "gxi_cu_node", "" },
    { '@', "gxi_cu_node *", " node nodes " },
    { 'o', "gxi_cu_node *", " failed " },
    { 'B', "gxi_cu_node *", " set " },
    { 'H', "gxi_cu_node *", "" },
    { 'B', "const gxi_cu_node *", "" },
    { 'o', "const gxi_cu_node **", "" },
    { 'i', "const gxi_edge *", "" },
    { 'H', "gxi_edge *", "" },
    { 'o', "const gxi_edge **", "" },
    { 'g', "gxi_cu_host_function", "" },
    { 'G', "gxi_cu_stream_callback", "" },
    { '-', "gxi_cu_log_callback", "" },
    { 'i', "gxi_cu_shared_of", "" },
    { 'w', "gpuexec_ptr", " word " },
    { 'h', "gpuexec_ptr", " to_any from_any " },
    { 'a', "gpuexec_ptr", "" },
    { 'X', "gpuexec_ptr *", " to from " },
    { 'o', "gpuexec_ptr *", " base mapped freed " },
    { 'A', "gpuexec_ptr *", "" },
    { 'j', "const gxi_memcpy2d *", "" },
    { 'J', "const gxi_memcpy3d *", " copy " },
    { 'K', "const gxi_access *", "" },
    { 'Q', "gxi_batch_attributes *", "" },
    { 'D', "const gxi_pool_properties *", "" },
    { 'K', "const gxi_location *", "" },
    { 'K', "gxi_location *", "" },
    { 'n', "gxi_location", "" },
    { 'y', "const gxi_launch_config *", "" },
    { 'H', "gxi_launch_value *", "" },
    { 'H', "const gxi_launch_value *", "" },
    { '-', "const gxi_memcpy3d *", "" },
    { 'H', "gxi_memcpy3d *", "" },
    { '-', "const gxi_kernel_node *", "" },
    { 'H', "gxi_kernel_node *", "" },
    { '-', "const gxi_fill_node *", "" },
    { 'H', "gxi_fill_node *", "" },
    { '-', "const gxi_host_node *", "" },
    { 'H', "gxi_host_node *", "" },
    { 'H', "gxi_alloc_node *", " out " },
    { '-', "gxi_alloc_node *", "" },
    { '-', "gxi_condition_node *", "" },
    { '8', "gxi_sm_resource *", "" },
    { '8', "const gxi_sm_resource *", "" },
    { 'O', "unsigned *", " n " },
    { 'H', "gxi_update *", "" },
    { 'H', "gxi_ipc_handle *", "" },
    { '-', "gxi_ipc_handle", "" },
    { '-', "float", "" },
    { '6', "void *", " green " },
    { '7', "void *", " descriptor " },
    { 'l', "void *", " state " },
    { 'p', "void *", " pool " },
    { 'f', "void *", " kernel " },
    { 't', "void *", " data " },
    { 'h', "void *", " to from values memory pages " },
    { 'N', "void *", " handle " },
    { 'H', "void *", " out about box " },
    { 'o', "void *", " value properties " },
    { 'a', "void *", " address " },
    { 'i', "void *", " user affinity " },
    { 'Y', "void *", " launches " },
    { '-', "void *", "" },
    { '&', "void **", " made " },
    { '~', "void **", " descriptor " },
    { 'L', "void **", " state " },
    { 'P', "void **", " pool " },
    { 'F', "void **", " kernel " },
    { 'x', "void **", " params " },
    { 'i', "void **", " extra values library_values " },
    { 'o', "void **", " image symbol function kernels green " },
    { '-', "void **", "" },
    { 'I', "const void *", " properties " },
    { 't', "const void *", " image " },
    { 'h', "const void *", " from " },
    { '-', "const void *", "" },
    { 'o', "const void **", "" },
    { '-', "const char *", " to_path " },
    { 'k', "const char *", "" },
    { 'o', "const char **", "" },
    { 'h', "char *", "" },
    { 'o', "unsigned char *", "" },
    { 'o', "const unsigned char *", "" },
    { 'd', "int", " device ordinal peer " },
    { 'U', "int", " mode " },
    { 'v', "int", " type x y z width height " },
    { 'b', "int", " size " },
    { 'N', "int", " error version threads blocks offset " },
    { 'z', "int", " value " },
    { 'n', "int", "" },
    { 'v', "unsigned", " gx gy gz bx by bz " },
    { '0', "unsigned", " flags n library_n shared " },
    { 'U', "unsigned", " count " },
    { 'z', "unsigned", " bytes " },
    { 'n', "unsigned", "" },
    { 'n', "unsigned char", "" },
    { 'n', "unsigned short", "" },
    { '4', "unsigned long long", " handle " },
    { '0', "unsigned long long", "" },
    { '0', "uint64_t", " flags " },
    { 'N', "uint64_t", " value " },
    { '0', "size_t", " offset alignment " },
    { 'u', "size_t", " n copies " },
    { 'U', "size_t", " accesses " },
    { 'i', "size_t", " boxes number " },
    { 'n', "size_t", " index " },
    { 'b', "size_t", " size " },
    { 'z', "size_t", "" },
    { 'O', "size_t *", " count " },
    { 'Z', "size_t *", " sizes " },
    { 'W', "size_t *", " firsts " },
    { 'i', "int *", " options attributes library_options " },
    { 'o', "int *", "" },
    { 'o', "size_t *", "" },
    { 'o', "unsigned *", "" },
    { 'o', "float *", "" },
    { 'o', "uint64_t *", "" },
    { '$', "unsigned long long *", " handle " },
    { 'o', "unsigned long long *", "" },
    { '[', "gxi_cu_array", "" },
    { ']', "gxi_cu_array *", "" },
    { '{', "gxi_cu_mipmapped", "" },
    { '}', "gxi_cu_mipmapped *", "" },
    { '?', "gxi_cu_texref", "" },
    { '+', "gxi_cu_texref *", "" },
    { ':', "gxi_cu_surfref", "" },
    { ';', "gxi_cu_surfref *", "" },
    { '^', "const gxi_array_layout *", "" },
    { 'H', "gxi_array_layout *", "" },
    { '*', "const gxi_reference_layout *", "" },
    { '=', "const gxi_resource_desc *", "" },
    { '=', "gxi_resource_desc *", "" },
    { '_', "const gxi_sampler_desc *", "" },
    { '|', "const gxi_view_desc *", "" },
};
/* Those of the calls whose symbols begin so come first. */
static const struct {
    char letter;
    const char *symbol, *names;
} image_letters[] = {
    { ']', "cuArrayCreate", " array " },
    { 'o', "cuTexRefGet", " array " },
    { 'o', "cuSurfRefGet", " array " },
    { '}', "cuMipmappedArrayCreate", " array " },
    { '{', "cuMipmapped", " array " },
    { '[', "cuArrayGet", " array " },
    { '[', "cuMemcpy", " array other " },
    { '*', "cuArrayCreate", " params " },
    { '*', "cuTexRefSet", " params " },
    { 'H', "cuArrayGet", " params properties " },
    { 'H', "cuMipmappedArrayGet", " properties " },
    { 'H', "cuTexObjectGet", " params " },
    { 'H', "cuSurfObjectGet", " params " },
    { 'o', "cuArrayGet", " plane " },
    { '>', "cuTexObjectCreate", " object " },
    { ')', "cuSurfObjectCreate", " object " },
    { '<', "cuTexObject", " object texture " },
    { '(', "cuSurfObject", " object surface " },
    { '+', "cuTexRefCreate", " reference " },
    { ':', "cuSurfRef", " reference " },
    { '?', "cuTexRef", " reference " },
    { '?', "cuParamSetTexRef", " reference " },
    { '.', "cuTexRefSetFormat", " format " },
    { '.', "cuDeviceGetTexture", " format " },
    { 'H', "cuTensorMap", " map dims strides lower upper box steps " },
    { 'a', "cuTensorMap", " address " },
    { 'n', "cuTensorMap", " type rank channels pixels interleave mode swizzle promotion fill " },
};
static const struct row {
    const char *symbol, *suffix, *params;
    int version;
} rows[] = {
#define DRIVER_ROW(name, version, symbol, suffix, params) { #symbol, #suffix, #params, version },
#include "entry_points.h"
};
static const char *const missing[] = {
#define MISSING_SYMBOL(symbol) #symbol,
#include "entry_points.h"
};
/* In the order of their versions, those of arrays, textures and tensor maps last: an input keeps
   its meaning when newer entry points follow. What an input picks beyond the last is a missing one.
 */
enum { SLOTS = 512, ROWS = sizeof rows / sizeof *rows, MISSED = sizeof missing / sizeof *missing };
static struct call {
    char name[64], arguments[ARGUMENTS + 1];
    int version, is_image;
    entry *function;
} calls[SLOTS];
static unsigned ncalls;
static entry *lacked[MISSED];
/* kinds of which some are kept, and the letters for new ones; the last one: addresses */
static const char kinds[] = "csemflpr1234567[{<(?:a", makers[] = "CSEMFLPR!@#$%&~]}>)+;A";

static uint64_t kept[sizeof kinds][KEPT];
static unsigned next[sizeof kinds];
static char host[HOST];
static uint64_t resources[64][18];
static uint64_t word; /* the device address of a 7 that no other call writes to */
static int (*error_name)(int, const char **);

static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .b8 g[64];\n"
        ".visible .global .texref t; .visible .global .surfref s;\n"
        ".visible .entry look(.param .u64 p, .param .u64 object) { .reg .u32 %r<4>; .reg .f32 %f; "
        ".reg .u64 %d; ld.param.u64 %d, [object]; mov.f32 %f, 0f3F000000; "
        "tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%d, {%f, %f}]; st.global.u32 [g], %r0; ret; }\n"
        ".visible .entry look_at_t() { .reg .u32 %r<4>; .reg .s32 %i; mov.s32 %i, 3; "
        "tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [t, {%i}]; st.global.u32 [g], %r0; ret; }\n"
        ".visible .entry paint_s() { .reg .u32 %r; mov.u32 %r, 4; sust.b.2d.b32.zero [s, {%r, %r}],"
        " %r; ret; }\n"
        ".visible .entry nothing() { ret; }\n"
        ".visible .entry add(.param .u64 p, .param .u32 by, .param .u32 n) { .reg .u32 %r; .reg "
        ".u64 %d; ld.param.u64 %d, [p]; ld.param.u32 %r, [by]; red.global.add.u32 [%d], %r; ret; "
        "}\n"
        ".visible .entry slow() { .reg .u32 %r; .reg .pred %p; mov.u32 %r, 0; L: add.u32 %r, %r, "
        "1; setp.lt.u32 %p, %r, 3000; @%p bra L; ret; }\n"
        ".visible .entry wait() { bar.sync 0; bar.sync 1; ret; }\n"
        ".visible .entry fault() { .reg .u64 %d; mov.u64 %d, 16; st.global.u32 [%d], 1; ret; }\n";

static entry *find(const char *name) {
    void *symbol = dlsym(RTLD_DEFAULT, name);
    entry *f;
    FUZZ_CHECK(symbol, "no %s", name);
    memcpy(&f, &symbol, sizeof f);
    return f;
}

static int call(entry *f, const uint64_t *a) {
    return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
            a[14], a[15]);
}
#define DRIVER(name, ...) call(find(name), (const uint64_t[ARGUMENTS]){ __VA_ARGS__ })
#define AT(x) ((uint64_t)(uintptr_t)(x))

static char letter_of(const char *symbol, const char *type, const char *name, const char *params) {
    char spaced[64];
    snprintf(spaced, sizeof spaced, " %s ", name);
    for (size_t i = 0; i < sizeof image_letters / sizeof *image_letters; i++)
        if (!strncmp(symbol, image_letters[i].symbol, strlen(image_letters[i].symbol)) &&
                strstr(image_letters[i].names, spaced))
            return image_letters[i].letter;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (!strcmp(letters[i].type, type) &&
                (!*letters[i].names || strstr(letters[i].names, spaced)))
            return letters[i].letter;
    FUZZ_CHECK(0, "no letter for %s%s, of %s", type, name, params);
    return 0;
}
/* Virtual memory: its calls have a handle, or one of these names. */
static int is_virtual(const char *symbol, const char *letters_are) {
    return strchr(letters_are, '4') || strchr(letters_are, '$') ||
            !strncmp(symbol, "cuMemAddress", 12) || strstr(symbol, "Unmap") ||
            !strcmp(symbol, "cuMemSetAccess");
}
/* "(type name, ...)": one letter each. Bytes are those of the text or of the host memory before
   them; a wait for a word ends only with its value. */
static void letters_of(const char *symbol, const char *params, char *to) {
    const char *at = params + 1;
    char *const first = to;
    if (!strcmp(params, "(void)")) return;
    for (*to = 0; *at; to[1] = 0, to++) {
        const size_t n = strcspn(at, ",)");
        char type[128], name[64];
        size_t end = n;
        while (at[end - 1] != ' ' && at[end - 1] != '*') end--;
        snprintf(name, sizeof name, "%.*s", (int)(n - end), at + end);
        while (at[end - 1] == ' ') end--;
        snprintf(type, sizeof type, "%.*s", (int)end, at);
        *to = letter_of(symbol, type, name, params);
        if (!strcmp(name, "value") && strchr(first, 'w')) *to = 'q';
        if (*to == 'z' && !strcmp(name, "bytes"))
            *to = strchr(first, 't') ? 'T' : strchr(first, 'h') ? 'b' : 'z';
        at += n + strspn(at + n, ",) ");
    }
}
static int earlier(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    if (x->is_image != y->is_image) return x->is_image - y->is_image;
    return x->version != y->version ? x->version - y->version : strcmp(x->name, y->name);
}
static void list_calls(void) {
    for (unsigned i = 0; i < ROWS; i++) {
        char arguments[ARGUMENTS + 1] = "";
        letters_of(rows[i].symbol, rows[i].params, arguments);
        for (char *at = arguments; *at && is_virtual(rows[i].symbol, arguments); at++)
            *at = *at == 'a' ? '5' : *at == 'A' ? '%' : *at == 'z' ? 'V' : *at;
        for (unsigned variant = 0; variant < 2 && !strchr(arguments, '-'); variant++) {
            struct call *c = &calls[ncalls];
            if (variant && !*rows[i].suffix) break;
            FUZZ_CHECK(ncalls < SLOTS, "SLOTS");
            ncalls++;
            snprintf(
                    c->name, sizeof c->name, "%s%s", rows[i].symbol, variant ? rows[i].suffix : "");
            memcpy(c->arguments, arguments, sizeof arguments);
            c->version = rows[i].version;
            c->is_image = strpbrk(arguments, "[]{}<>()?+:;.") != NULL;
            if (!strncmp(c->name, "cuTensorMap", 11)) c->is_image = 2;
            c->function = find(c->name);
        }
    }
    qsort(calls, ncalls, sizeof *calls, earlier);
    for (unsigned i = 0; i < MISSED; i++) lacked[i] = find(missing[i]);
}

static void called(void *user) { (void)user; }

static void called_back(void *stream, int status, void *user) {
    (void)stream;
    (void)status;
    (void)user;
}

/* Memory of graphs can only be freed after a launch: it is tried again at the end. */
static uint64_t lost[1024];
static unsigned nlost;

static void free_memory(uint64_t address) {
    if (!DRIVER("cuMemFree_v2", address)) return;
    const unsigned at = __atomic_fetch_add(&nlost, 1, __ATOMIC_RELAXED);
    if (at < sizeof lost / sizeof *lost) lost[at] = address;
}

/* Whatever of it is mapped, and however large it is. */
static void free_reserved(uint64_t x) {
    for (uint64_t i = 0; i < 4; i++)
        for (uint64_t n = 1; n <= 4 - i; n++) (void)DRIVER("cuMemUnmap", x + i * UNIT, n * UNIT);
    for (uint64_t n = 1; n <= 4; n++) (void)DRIVER("cuMemAddressFree", x, n * UNIT);
}

static void destroy(char kind, uint64_t x) {
    if (kind == 'l') (void)DRIVER("cuLinkDestroy", x);
    if (kind == 'r') (void)DRIVER("cuLibraryUnload", x);
    if (kind == '1') (void)DRIVER("cuGraphDestroy", x);
    if (kind == '3') (void)DRIVER("cuGraphExecDestroy", x);
    if (kind == '4') (void)DRIVER("cuMemRelease", x);
    if (kind == '5') free_reserved(x);
    if (kind == '6') (void)DRIVER("cuGreenCtxDestroy", x);
    if (kind == '[') (void)DRIVER("cuArrayDestroy", x);
    if (kind == '{') (void)DRIVER("cuMipmappedArrayDestroy", x);
    if (kind == '<') (void)DRIVER("cuTexObjectDestroy", x);
    if (kind == '(') (void)DRIVER("cuSurfObjectDestroy", x);
    if (kind == '?') (void)DRIVER("cuTexRefDestroy", x);
    if (kind == 'a') free_memory(x);
}

/* Handles that drop out are lost: what no context destroys must be destroyed here. */
static void keep(size_t kind, uint64_t x) {
    uint64_t old = __atomic_exchange_n(
            &kept[kind][__atomic_fetch_add(&next[kind], 1, __ATOMIC_RELAXED) % KEPT], x,
            __ATOMIC_RELAXED);
    if (old) destroy(kinds[kind], old);
}
static uint64_t handle(struct fuzz_source *s, size_t kind) {
    const unsigned how = fuzz_byte(s), k = how / 16 % KEPT;
    const uint64_t own = __atomic_load_n(&kept[kind][k], __ATOMIC_RELAXED);
    switch (how % 16) {
    case 0: return 0;
    case 1: return __atomic_load_n(&kept[fuzz_byte(s) % (sizeof kinds - 2)][k], __ATOMIC_RELAXED);
    case 2: return own ^ 1ull << fuzz_byte(s) % 64;
    /* must not be memory of this process by chance */
    case 3: return kinds[kind] == 'a' ? fuzz_number(s) % (1 << 28) : fuzz_number(s);
    case 4: return kinds[kind] == 's' ? fuzz_byte(s) % 3 : own;
    case 5: return kinds[kind] == 'a' ? own + fuzz_number(s) % 4096 : own;
    case 6:
    case 7: return kinds[kind] == '5' ? own + fuzz_byte(s) % 4 * UNIT : own;
    default: return own;
    }
}

static size_t kind_of(char letter) { return (size_t)(strchr(kinds, letter) - kinds); }

/* the objects that the arguments of one call point to */
struct room {
    uint64_t answer[16], made[16], nodes[2][4], count;
    uint64_t address, by, params[8];
    struct {
        unsigned grid[3], block[3], shared;
        void *stream;
        struct {
            unsigned id, pad;
            uint64_t value[8];
        } * attributes;
        unsigned count;
    } configuration;
    struct {
        unsigned id, pad;
        uint64_t value[8];
    } attributes[2];
    struct {
        void *function;
        unsigned grid[3], block[3], shared;
        void *stream;
        void **params;
    } launches[2];
    struct {
        size_t x, y;
        unsigned type;
        const void *host;
        uint64_t device;
        void *array;
        size_t pitch;
    } sides[2];
    uint64_t copy[16]; /* CUDA_MEMCPY2D: the two sides, width, height */
    struct {
        unsigned type, handle_types, location, device;
        void *security;
        size_t most, rest[7];
    } pool;
    struct {
        unsigned type, handle_types, location, device;
        void *security;
        uint64_t flags;
    } memory;
    uint64_t volume[25]; /* CUDA_MEMCPY3D */
    uint64_t places[2][4], sizes[4], starts[4];
    struct {
        unsigned order, hints[4], flags;
    } attributes_of[4];
    struct {
        unsigned type, id, flags;
    } access[4];
    struct {
        size_t width, height, depth;
        unsigned format, channels, flags;
    } array;
    struct {
        size_t width, height;
        unsigned format, channels;
    } plane;
    struct {
        unsigned type;
        union {
            uint64_t array;
            struct {
                uint64_t address;
                unsigned format, channels;
                size_t size[3];
            } memory;
            int rest[32];
        } of;
        unsigned flags;
    } resource;
    struct {
        unsigned address[3], filter, flags, anisotropy, mipmap_filter;
        float bias, least, most, border[4];
        int rest[12];
    } sampling;
    struct {
        unsigned format;
        size_t width, height, depth;
        unsigned levels[2], layers[2], rest[16];
    } view;
    const char *text;
};

/* Of the host's buffer or of a device's window: an address that another thread has freed must not
   be this process's own by chance. */
static uint64_t place(struct fuzz_source *s) {
    const uint64_t a = handle(s, sizeof kinds - 2);
    return a >> 45 == 1 ? a : AT(host + fuzz_number(s) % HALF);
}

static unsigned format(struct fuzz_source *s) {
    static const unsigned char formats[] = { 1, 2, 3, 8, 9, 10, 16, 32, 0x50, 0x91, 0x95, 0x97,
        0x9a, 0x9b, 0x9d, 0xb0, 0xc0, 0xc1, 0xc5, 0xc8 };
    const unsigned k = fuzz_byte(s);
    return k < 240 ? formats[k % sizeof formats] : (unsigned)fuzz_number(s);
}
static unsigned channels(struct fuzz_source *s) {
    const unsigned k = fuzz_byte(s);
    return k < 240 ? 1u << k % 3 : k % 8;
}
static size_t extent(struct fuzz_source *s) {
    const unsigned k = fuzz_byte(s);
    return k < 240 ? k % 20 : (size_t)fuzz_number(s);
}

static uint64_t argument(
        struct fuzz_source *s, char letter, struct room *r, unsigned at, size_t *makes) {
    static const char *const names[] = { "nothing", "add", "slow", "wait", "fault", "g", "",
        "/no/such/file", "cuInit", "cuMemAlloc", "0000:01:00.0" };
    static const char *const image_names[] = { "look", "look_at_t", "paint_s", "t", "s" };
    const char *own = strchr(kinds, letter), *new = strchr(makers, letter);
    if (own) return handle(s, (size_t)(own - kinds));
    if (new) {
        *makes = (size_t)(new - makers) + 1;
        return fuzz_byte(s) < 250 ? AT(&r->made[0]) : 0;
    }
    switch (letter) {
    case 'h': return AT(host + fuzz_number(s) % HALF);
    case 'H': return (AT(host) + fuzz_number(s) % HALF + 15) / 16 * 16;
    case '8': return fuzz_byte(s) < 240 ? AT(resources[fuzz_byte(s) % 8]) : 0;
    case 'b': return fuzz_number(s) % HALF;
    case 'w': return fuzz_byte(s) < 230 ? word : fuzz_number(s) % (1 << 28);
    case 'o': return fuzz_byte(s) < 240 ? AT(&r->answer[at]) : 0;
    case 'z': return fuzz_byte(s) < 200 ? fuzz_number(s) % (1 << 20) : fuzz_number(s);
    case 'V': return fuzz_byte(s) < 240 ? (1u + fuzz_byte(s) % 4) * UNIT : fuzz_number(s) | 1;
    case 'I':
        r->memory.type = 1 + fuzz_byte(s) / 250;
        r->memory.handle_types = fuzz_byte(s) / 128;
        r->memory.location = 1 + fuzz_byte(s) / 230 % 4;
        r->memory.device = fuzz_byte(s) % 2 + fuzz_byte(s) / 240;
        return AT(&r->memory);
    case 'N': return fuzz_number(s);
    case 'n': return fuzz_byte(s) % 4 ? fuzz_byte(s) % 8 : fuzz_number(s);
    case 'd': return fuzz_byte(s) < 230 ? fuzz_byte(s) % 2 : fuzz_number(s);
    case 't': r->text = fuzz_byte(s) < 230 ? ptx : "nothing"; return AT(r->text);
    case 'T': return fuzz_byte(s) < 230 ? strlen(r->text) + 1 : fuzz_number(s) % 8;
    case 'k': {
        const unsigned k = fuzz_byte(s);
        return AT(k < 220 ? names[k % (sizeof names / sizeof *names)]
                          : image_names[k % (sizeof image_names / sizeof *image_names)]);
    }
    case 'g': return AT(called);
    case 'G': return AT(called_back);
    case 'B':
        for (unsigned i = 0; i < 4; i++)
            r->nodes[at % 2][i] = handle(s, (size_t)(strchr(kinds, '2') - kinds));
        return fuzz_byte(s) < 240 ? AT(r->nodes[at % 2]) : 0;
    case 'O': r->count = fuzz_byte(s) % 17; return fuzz_byte(s) < 240 ? AT(&r->count) : 0;
    case 'v': return fuzz_byte(s) < 230 ? 1 : fuzz_number(s);
    case '0': return fuzz_byte(s) % 2 ? 0 : argument(s, 'n', r, at, makes);
    case 'q': return 0x700000007;
    case 'u': return fuzz_byte(s) % 5;
    case 'U': return fuzz_byte(s) % 3;
    case 'x':
        r->address = handle(s, sizeof kinds - 2);
        r->by = __atomic_load_n(&kept[kind_of('<')][0], __ATOMIC_RELAXED);
        for (unsigned i = 0; i < 8; i++) r->params[i] = AT(i ? &r->by : &r->address);
        return fuzz_byte(s) < 240 ? AT(r->params) : 0;
    case 'y':
        for (unsigned i = 0; i < 3; i++) {
            r->configuration.grid[i] = fuzz_byte(s) % 3;
            r->configuration.block[i] = fuzz_byte(s) % 9;
        }
        r->configuration.stream = (void *)(uintptr_t)handle(s, 1);
        for (unsigned i = 0; i < 2; i++) {
            r->attributes[i].id = fuzz_byte(s) % 16;
            r->attributes[i].value[0] = fuzz_number(s);
            r->attributes[i].value[1] = fuzz_byte(s) % 3;
        }
        r->configuration.attributes = (void *)r->attributes;
        r->configuration.count = fuzz_byte(s) % 3;
        return AT(&r->configuration);
    case 'Y':
        r->address = handle(s, sizeof kinds - 2);
        r->by = __atomic_load_n(&kept[kind_of('<')][0], __ATOMIC_RELAXED);
        for (unsigned i = 0; i < 8; i++) r->params[i] = AT(i ? &r->by : &r->address);
        for (unsigned i = 0; i < 2; i++) {
            r->launches[i].function = (void *)(uintptr_t)handle(s, 4);
            r->launches[i].stream = (void *)(uintptr_t)handle(s, 1);
            for (unsigned k = 0; k < 3; k++) {
                r->launches[i].grid[k] = 1;
                r->launches[i].block[k] = 1 + fuzz_byte(s) / 250;
            }
            r->launches[i].params = (void **)(void *)r->params;
        }
        return AT(r->launches);
    case 'j':
        for (unsigned i = 0; i < 2; i++) {
            r->sides[i].type = 1 + fuzz_byte(s) / 8 % 4;
            r->sides[i].host = host;
            /* unified: the driver trusts any address */
            r->sides[i].device = r->sides[i].type == 4 ? AT(host) : handle(s, sizeof kinds - 2);
            r->sides[i].array = r->sides[i].type == 3 ? (void *)(uintptr_t)handle(s, kind_of('['))
                                                      : NULL;
            r->sides[i].pitch = fuzz_byte(s) % 4 ? 256 : fuzz_number(s) % 512;
            r->sides[i].x = fuzz_number(s) % 256;
            r->sides[i].y = fuzz_number(s) % 64;
        }
        memcpy(r->copy, r->sides, sizeof r->sides);
        r->copy[14] = fuzz_number(s) % 256;
        r->copy[15] = fuzz_number(s) % 64;
        return AT(r->copy);
    case 'J':
        for (unsigned i = 0; i < 2; i++) {
            uint64_t *v = r->volume + 11 * i;
            v[0] = fuzz_number(s) % 64;
            v[1] = fuzz_number(s) % 8;
            v[2] = fuzz_number(s) % 8;
            v[3] = fuzz_byte(s) / 250;
            v[4] = 1 + fuzz_byte(s) / 8 % 4;
            v[5] = AT(host);
            v[6] = v[4] == 4 ? AT(host) : handle(s, sizeof kinds - 2);
            v[7] = v[4] == 3 ? handle(s, kind_of('[')) : 0;
            v[8] = 0;
            v[9] = fuzz_byte(s) % 4 ? 128 : fuzz_number(s) % 256;
            v[10] = fuzz_byte(s) % 4 ? 16 : fuzz_number(s) % 32;
        }
        for (unsigned i = 22; i < 25; i++) r->volume[i] = fuzz_number(s) % 16;
        return AT(r->volume);
    case 'X':
        for (unsigned i = 0; i < 4; i++) r->places[at % 2][i] = place(s);
        return fuzz_byte(s) < 250 ? AT(r->places[at % 2]) : 0;
    case 'Z':
        for (unsigned i = 0; i < 4; i++) r->sizes[i] = fuzz_number(s) % HALF;
        return AT(r->sizes);
    case 'W':
        for (unsigned i = 1; i < 4; i++) r->starts[i] = fuzz_byte(s) % 4 ? i : fuzz_byte(s);
        return AT(r->starts);
    case 'Q':
        for (unsigned i = 0; i < 4; i++) r->attributes_of[i].order = 1 + fuzz_byte(s) / 80;
        return AT(r->attributes_of);
    case 'K':
        for (unsigned i = 0; i < 4; i++) r->access[i].type = 1;
        r->access[0].type = 1 + fuzz_byte(s) / 240;
        r->access[0].id = fuzz_byte(s) % 3;
        r->access[0].flags = fuzz_byte(s) % 2 ? 3 : fuzz_byte(s) % 4;
        return AT(r->access);
    case 'D':
        r->pool.type = 1 + fuzz_byte(s) / 240;
        r->pool.location = 1 + fuzz_byte(s) / 240;
        r->pool.device = fuzz_byte(s) % 2 + fuzz_byte(s) / 240;
        r->pool.most = fuzz_byte(s) % 2 ? fuzz_number(s) % (1 << 20) : 0;
        return AT(&r->pool);
    case '.': return format(s);
    case '^':
        r->array.width = extent(s);
        r->array.height = extent(s);
        r->array.depth = fuzz_byte(s) % 2 ? 0 : extent(s);
        r->array.format = format(s);
        r->array.channels = channels(s);
        r->array.flags = fuzz_byte(s) % 16;
        if (fuzz_byte(s) > 240) r->array.flags = (unsigned)fuzz_number(s);
        return fuzz_byte(s) < 250 ? AT(&r->array) : 0;
    case '*':
        r->plane.width = extent(s);
        r->plane.height = extent(s);
        r->plane.format = format(s);
        r->plane.channels = channels(s);
        return fuzz_byte(s) < 250 ? AT(&r->plane) : 0;
    case '=':
        r->resource.type = fuzz_byte(s) % 4 + fuzz_byte(s) / 250;
        if (r->resource.type < 2)
            r->resource.of.array = handle(s, kind_of(r->resource.type ? '{' : '['));
        else {
            r->resource.of.memory.address = handle(s, sizeof kinds - 2);
            r->resource.of.memory.format = format(s);
            r->resource.of.memory.channels = channels(s);
            for (unsigned i = 0; i < 3; i++)
                r->resource.of.memory.size[i] = i < 2 ? extent(s) : 32 * (size_t)fuzz_byte(s);
        }
        r->resource.flags = fuzz_byte(s) / 250;
        return fuzz_byte(s) < 250 ? AT(&r->resource) : 0;
    case '_': {
        const unsigned modes = fuzz_byte(s), how = fuzz_byte(s);
        for (unsigned i = 0; i < 3; i++) r->sampling.address[i] = modes >> 2 * i & 3;
        r->sampling.filter = how & 1;
        r->sampling.mipmap_filter = how >> 1 & 1;
        r->sampling.flags = how >> 2 & 0x33;
        if (modes >= 192) r->sampling.address[how % 3] = (unsigned)fuzz_number(s);
        if (how >= 240) r->sampling.flags = (unsigned)fuzz_number(s);
        r->sampling.anisotropy = fuzz_byte(s) % 20;
        r->sampling.most = (float)(fuzz_byte(s) % 4);
        return fuzz_byte(s) < 250 ? AT(&r->sampling) : 0;
    }
    case '|':
        if (fuzz_byte(s) < 160) return 0;
        r->view.format = fuzz_byte(s) % 40;
        r->view.width = extent(s);
        r->view.height = extent(s);
        r->view.depth = extent(s);
        for (unsigned i = 0; i < 2; i++) {
            r->view.levels[i] = fuzz_byte(s) % 4;
            r->view.layers[i] = fuzz_byte(s) % 8;
        }
        return AT(&r->view);
    default: return 0;
    }
}

static void *run(void *data) {
    struct fuzz_source *s = (struct fuzz_source *)data;
    (void)DRIVER("cuThreadExchangeStreamCaptureMode", AT(&(int){ 0 }));
    while (s->left) {
        struct room r;
        uint64_t a[ARGUMENTS] = { 0 };
        const unsigned which = fuzz_pick(s, SLOTS);
        const struct call *c = &calls[which];
        size_t makes = 0;
        const char *text;
        memset(&r, 0, sizeof r);
        if (which >= ncalls) {
            FUZZ_CHECK(call(lacked[which % MISSED], a) == NOT_SUPPORTED, "%s",
                    missing[which % MISSED]);
            continue;
        }
        for (unsigned i = 0; c->arguments[i]; i++)
            a[i] = argument(s, c->arguments[i], &r, i, &makes);
        if (getenv("FUZZ_VERBOSE")) {
            fprintf(stderr, "%s(", c->name);
            for (unsigned i = 0; c->arguments[i]; i++)
                fprintf(stderr, "%s0x%llx", i ? ", " : "", (unsigned long long)a[i]);
            fprintf(stderr, ")");
        }
        const int result = call(c->function, a);
        if (getenv("FUZZ_VERBOSE")) fprintf(stderr, " = %d\n", result);
        FUZZ_CHECK(result >= 0 && error_name(result, &text) == 0 && text,
                "%s returns %d, which has no name", c->name, result);
        if (makes && result == 0 && r.made[0]) keep(makes - 1, r.made[0]);
    }
    uint64_t popped;
    while (DRIVER("cuCtxPopCurrent_v2", AT(&popped)) == 0) {}
    return NULL;
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    void *symbol = dlsym(RTLD_DEFAULT, "cuGetErrorName");
    (void)count;
    (void)arguments;
    setenv("SIMGPU_MEMORY", "64M", 1);
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_TIMEOUT", "5", 1);
    memcpy(&error_name, &symbol, sizeof symbol);
    list_calls();
    FUZZ_CHECK(DRIVER("cuInit", 0) == 0, "no CPU device");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const unsigned first = size ? data[0] : 0;
    struct fuzz_source all = { data + (size > 0), size - (size > 0) }, half = all;
    uint64_t context, stream, event, module, function, library, address, contexts[2], memory,
            reserved, array, mipmapped, texture, surface, texref, surfref;
    const uint32_t properties[8] = { 1, 0, 1, 0 };
    /* 16 x 8 texels of .f32, for surfaces, too; mipmapped ones with 3 levels */
    const uint64_t layout[5] = { 16, 8, 0, 1ull << 32 | 32, 2 },
                   sampling[13] = { 1ull << 32 | 1, 1 };
    uint64_t resource[19] = { 0 };
    pthread_t thread;
    if (size > 600) return -1;
    memset(kept, 0, sizeof kept);
    memset(next, 0, sizeof next);
    memset(resources, 0, sizeof resources);
    nlost = 0;
    /* one of each, on both devices; the context of the word is destroyed last */
    for (unsigned i = 0; i < 2; i++) {
        FUZZ_CHECK(
                DRIVER("cuCtxCreate_v2", AT(&contexts[i]), 0, i) == 0, "a context of the harness");
        if (i == 1)
            FUZZ_CHECK(DRIVER("cuMemAlloc_v2", AT(&word), 8) == 0 &&
                            DRIVER("cuMemsetD32_v2", word, 7, 2) == 0,
                    "a word");
        if (!(first & 1)) continue;
        FUZZ_CHECK(DRIVER("cuDevicePrimaryCtxRetain", AT(&context), i) == 0 &&
                        DRIVER("cuCtxPushCurrent_v2", context) == 0 &&
                        DRIVER("cuStreamCreate", AT(&stream), 0) == 0 &&
                        DRIVER("cuEventCreate", AT(&event), 0) == 0 &&
                        DRIVER("cuModuleLoadData", AT(&module), AT(ptx)) == 0 &&
                        DRIVER("cuModuleGetFunction", AT(&function), module, AT("slow")) == 0 &&
                        DRIVER("cuLibraryLoadData", AT(&library), AT(ptx), 0, 0, 0, 0, 0, 0) == 0 &&
                        DRIVER("cuMemAlloc_v2", AT(&address), 4096) == 0 &&
                        DRIVER("cuMemCreate", AT(&memory), 2 * UNIT, AT(properties), 0) == 0 &&
                        DRIVER("cuMemAddressReserve", AT(&reserved), 4 * UNIT, 0, 0, 0) == 0 &&
                        DRIVER("cuMemMap", reserved, 2 * UNIT, 0, memory, 0) == 0 &&
                        DRIVER("cuArray3DCreate_v2", AT(&array), AT(layout)) == 0 &&
                        DRIVER("cuMipmappedArrayCreate", AT(&mipmapped), AT(layout), 3) == 0 &&
                        DRIVER("cuModuleGetTexRef", AT(&texref), module, AT("t")) == 0 &&
                        DRIVER("cuModuleGetSurfRef", AT(&surfref), module, AT("s")) == 0,
                "one of each");
        resource[1] = array;
        FUZZ_CHECK(DRIVER("cuTexObjectCreate", AT(&texture), AT(resource), AT(sampling), 0) == 0 &&
                        DRIVER("cuSurfObjectCreate", AT(&surface), AT(resource)) == 0,
                "one of each");
        const uint64_t made[sizeof kinds - 1] = { context, stream, event, module, function, 0, 0,
            library, 0, 0, 0, memory, reserved, 0, 0, array, mipmapped, texture, surface, texref,
            surfref, address };
        for (size_t k = 0; k + 1 < sizeof kinds; k++)
            if (made[k]) keep(k, made[k]);
    }
    if (first & 2) {
        all.left /= 2;
        half.at += all.left;
        half.left -= all.left;
        FUZZ_CHECK(pthread_create(&thread, NULL, run, &half) == 0, "a thread");
        run(&all);
        pthread_join(thread, NULL);
    } else run(&all);
    simgpu_forget_fault();
    (void)DRIVER("cuCtxPushCurrent_v2", contexts[1]);
    (void)DRIVER("cuThreadExchangeStreamCaptureMode", AT(&(int){ 2 }));
    for (size_t kind = 0; kinds[kind]; kind++)
        for (unsigned i = 0; i < KEPT; i++)
            if (kept[kind][i]) destroy(kinds[kind], kept[kind][i]);
    for (unsigned i = 0; i < nlost && i < sizeof lost / sizeof *lost; i++)
        (void)DRIVER("cuMemFree_v2", lost[i]);
    simgpu_end_contexts();
    return 0;
}
