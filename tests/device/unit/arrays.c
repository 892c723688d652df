/* arrays.c - arrays, texture and surface objects through the driver's own calls: what they
   describe, their limits, and copies with them, compared with a model on the host. What the calls
   refuse is also in tests/device/probe. What kernels read is in the suite textures. */
#include "../../test.h"

typedef unsigned long long ptr;   /* CUdeviceptr */
enum { HOST = 1, DEVICE, ARRAY }; /* CUmemorytype */
enum {
    U8 = 1,
    U16,
    U32,
    S8 = 8,
    HALF = 16,
    FLOAT = 32,
    PACKED = 0x50,
    BC1 = 0x91,
    BC3 = 0x95,
    BC4 = 0x97,
    BC6 = 0x9b,
    BC7 = 0x9d,
    NV12 = 0xb0,
    UNORM_8X4 = 0xc2
}; /* CUarray_format */
enum { LAYERED = 1, SURFACE = 2, CUBE = 4, GATHER = 8, SPARSE = 64, DEFERRED = 128 };
enum { OF_ARRAY, OF_MIPMAPPED, LINEAR, PITCH2D }; /* CUresourcetype */
enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16, SEAMLESS = 64 };
enum { COPIES = 400 };

/* CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY_DESCRIPTOR */
typedef struct shape {
    size_t width, height, depth;
    unsigned format, channels, flags;
} shape;
typedef struct shape_2d {
    size_t width, height;
    unsigned format, channels;
} shape_2d;
/* CUDA_RESOURCE_DESC */
typedef struct resource {
    unsigned type;
    union {
        void *array;
        struct {
            ptr address;
            unsigned format, channels;
            size_t bytes;
        } linear;
        struct {
            ptr address;
            unsigned format, channels;
            size_t width, height, pitch;
        } rows;
        int room[32];
    } of;
    unsigned flags;
} resource;
/* CUDA_TEXTURE_DESC */
typedef struct sampling {
    unsigned address[3], filter, flags, anisotropy, mipmap_filter;
    float bias, least, most, border[4];
    int room[12];
} sampling;
/* CUDA_RESOURCE_VIEW_DESC */
typedef struct view {
    unsigned format;
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer, room[16];
} view;
/* CUDA_MEMCPY2D */
typedef struct plane {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    ptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} plane;
/* half of a CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER */
typedef struct side {
    size_t x, y, z, level;
    unsigned type;
    void *host;
    ptr device;
    void *array, *context;
    size_t pitch, height;
} side;
typedef struct volume {
    side from, to;
    size_t width, height, depth;
} volume;
/* CUmemcpy3DOperand and CUDA_MEMCPY3D_BATCH_OP */
typedef struct operand {
    unsigned type;
    union {
        struct {
            ptr address;
            size_t row, rows;
            int hint[2];
        } memory;
        struct {
            void *array;
            size_t x, y, z;
        } array;
    } of;
} operand;
typedef struct box {
    operand from, to;
    size_t width, height, depth;
    unsigned order, flags;
} box;

static driver_calls cu;
static void *context, *stream;

static void begin_on(int device) {
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, device), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream, 1), 0);
}
static void end_on(int device) {
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(device), 0);
}
static size_t available(void) {
    size_t bytes = 0, total = 0;
    CHECK_EQ(cu.cuMemGetInfo_v2(&bytes, &total), 0);
    return bytes;
}
static shape shape_of(
        size_t width, size_t height, size_t depth, unsigned format, unsigned channels, int flags) {
    shape s;
    s.width = width;
    s.height = height;
    s.depth = depth;
    s.format = format;
    s.channels = channels;
    s.flags = (unsigned)flags;
    return s;
}
/* Creates an array and destroys it. */
static int creates(shape s) {
    void *array = NULL;
    const int result = cu.cuArray3DCreate_v2(&array, &s);
    if (!result) CHECK_EQ(cu.cuArrayDestroy(array), 0);
    return result;
}
static int limit(int attribute) {
    int value = 0;
    CHECK_EQ(cu.cuDeviceGetAttribute(&value, attribute, 0), 0);
    return value;
}

TEST(arrays_are_described) {
    void *array = NULL;
    shape s = shape_of(20, 10, 6, HALF, 4, LAYERED | SURFACE), got;
    shape_2d plain = { 33, 0, FLOAT, 2 }, got_2d;
    begin_on(0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    memset(&got, 0, sizeof got);
    CHECK_EQ(cu.cuArray3DGetDescriptor_v2(&got, array), 0);
    CHECK(memcmp(&got, &s, offsetof(shape, flags) + sizeof s.flags) == 0);
    CHECK_EQ(cu.cuArrayGetDescriptor_v2(&got_2d, array), 0);
    CHECK(got_2d.width == 20 && got_2d.height == 10 && got_2d.format == HALF);
    CHECK_EQ(got_2d.channels, 4);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    CHECK_EQ(cu.cuArrayCreate_v2(&array, &plain), 0);
    CHECK_EQ(cu.cuArray3DGetDescriptor_v2(&got, array), 0);
    CHECK(got.width == 33 && !got.height && !got.depth && got.format == FLOAT && !got.flags);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end_on(0);
}

/* CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE...: the arrays of these limits need too much memory only if
   the limit is not passed. */
TEST(limits) {
    static const struct {
        int width, height, depth, flags, square;
    } list[] = { { 21, 0, 0, 0, 0 }, { 22, 23, 0, 0, 0 }, { 24, 25, 26, 0, 0 },
        { 42, 0, 43, LAYERED, 0 }, { 27, 28, 29, LAYERED, 0 }, { 52, 52, 0, CUBE, 1 },
        { 53, 53, 54, CUBE | LAYERED, 1 }, { 55, 0, 0, SURFACE, 0 }, { 56, 57, 0, SURFACE, 0 },
        { 58, 59, 60, SURFACE, 0 }, { 61, 0, 62, LAYERED | SURFACE, 0 },
        { 63, 64, 65, LAYERED | SURFACE, 0 }, { 66, 66, 0, CUBE | SURFACE, 1 },
        { 67, 67, 68, CUBE | LAYERED | SURFACE, 1 }, { 45, 46, 0, GATHER, 0 } };
    size_t i;
    begin_on(0);
    for (i = 0; i < sizeof list / sizeof *list; i++) {
        const int flags = list[i].flags;
        shape s = shape_of((size_t)limit(list[i].width), list[i].height != 0, list[i].depth ? 1 : 0,
                U8, 1, flags);
        if (flags & CUBE) s.depth = 6;
        if (list[i].square) s.height = s.width;
        CHECK(s.width > 1000);
        if (!list[i].square) CHECK_EQ(creates(s), 0);
        s.width++;
        if (list[i].square) s.height++;
        CHECK_EQ(creates(s), 1);
        s.width = 1;
        s.height = list[i].height != 0;
        if (list[i].height && !list[i].square) {
            s.height = (size_t)limit(list[i].height) + 1;
            CHECK_EQ(creates(s), 1);
            s.height--;
            CHECK_EQ(creates(s), 0);
            s.height = 1;
        }
        if (list[i].depth && list[i].width != 24) {
            const size_t step = flags & CUBE ? 6 : 1;
            s.depth = (size_t)limit(list[i].depth);
            CHECK_EQ(creates(s), 0);
            s.depth += step;
            CHECK_EQ(creates(s), 1);
        }
    }
    /* the other limits of a 3-D array, 8192 x 8192 x 32768 */
    CHECK_EQ(creates(shape_of(8, 8, 32768, U8, 1, 0)), 0);
    CHECK_EQ(creates(shape_of(8193, 8, 32768, U8, 1, 0)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 32769, U8, 1, 0)), 1);
    end_on(0);
}

TEST(formats) {
    begin_on(0);
    CHECK_EQ(creates(shape_of(8, 8, 0, U32, 3, 0)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 0, U32, 0, 0)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 0, 4, 1, 0)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 0, PACKED, 4, 0)), 0);
    CHECK_EQ(creates(shape_of(8, 8, 0, UNORM_8X4, 4, 0)), 0);
    CHECK_EQ(creates(shape_of(8, 8, 0, BC1, 4, 0)), 0);
    CHECK_EQ(creates(shape_of(8, 8, 0, BC6, 3, 0)), 0);
    if (on_cpu_device()) {
        CHECK_EQ(creates(shape_of(8, 8, 0, NV12, 3, 0)), 801);
        CHECK_EQ(creates(shape_of(8, 8, 0, U8, 1, SPARSE)), 801);
        CHECK_EQ(creates(shape_of(8, 8, 0, U8, 1, DEFERRED)), 801);
    }
    CHECK_EQ(creates(shape_of(0, 8, 0, U8, 1, 0)), 1);
    CHECK_EQ(creates(shape_of(8, 0, 8, U8, 1, 0)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 0, U8, 1, LAYERED)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 5, U8, 1, CUBE)), 1);
    CHECK_EQ(creates(shape_of(8, 9, 6, U8, 1, CUBE)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 9, U8, 1, CUBE | LAYERED)), 1);
    CHECK_EQ(creates(shape_of(8, 8, 8, U8, 1, GATHER)), 1);
    end_on(0);
}

/* An array takes memory of the device until it is destroyed; one that does not fit is refused. */
TEST(memory_of_arrays) {
    void *arrays[64];
    shape s = shape_of(1024, 1024, 0, FLOAT, 4, 0);
    size_t before, i;
    begin_on(0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&arrays[0], &s), 0);
    CHECK_EQ(cu.cuArrayDestroy(arrays[0]), 0); /* a GPU's driver may keep some */
    before = available();
    for (i = 0; i < 8; i++) CHECK_EQ(cu.cuArray3DCreate_v2(&arrays[i], &s), 0);
    CHECK(available() + (8u << 24) <= before);
    for (i = 0; i < 8; i++) CHECK_EQ(cu.cuArrayDestroy(arrays[i]), 0);
    CHECK_EQ(available(), before);
    CHECK_EQ(creates(shape_of(32768, 32768, 2048, FLOAT, 4, LAYERED)), 2);
    CHECK_EQ(available(), before);
    end_on(0);
}

TEST(mipmapped_arrays) {
    void *mipmapped = NULL, *level = NULL, *again = NULL;
    shape s = shape_of(20, 9, 5, U16, 2, 0), got;
    size_t before;
    begin_on(0);
    before = available();
    CHECK_EQ(cu.cuMipmappedArrayCreate(&mipmapped, &s, 100), 0); /* clamped to 5 levels */
    CHECK_EQ(cu.cuMipmappedArrayGetLevel(&level, mipmapped, 5), 1);
    CHECK_EQ(cu.cuMipmappedArrayGetLevel(&level, mipmapped, 2), 0);
    CHECK_EQ(cu.cuArray3DGetDescriptor_v2(&got, level), 0);
    CHECK(got.width == 5 && got.height == 2 && got.depth == 1 && got.channels == 2);
    CHECK_EQ(cu.cuMipmappedArrayGetLevel(&again, mipmapped, 4), 0);
    CHECK_EQ(cu.cuArray3DGetDescriptor_v2(&got, again), 0);
    CHECK(got.width == 1 && got.height == 1 && got.depth == 1);
    CHECK_EQ(cu.cuMipmappedArrayDestroy(mipmapped), 0);
    CHECK_EQ(available(), before);
    s = shape_of(16, 16, 7, U8, 1, LAYERED); /* layers stay */
    CHECK_EQ(cu.cuMipmappedArrayCreate(&mipmapped, &s, 3), 0);
    CHECK_EQ(cu.cuMipmappedArrayGetLevel(&level, mipmapped, 3), 1);
    CHECK_EQ(cu.cuMipmappedArrayGetLevel(&level, mipmapped, 2), 0);
    CHECK_EQ(cu.cuArray3DGetDescriptor_v2(&got, level), 0);
    CHECK(got.width == 4 && got.height == 4 && got.depth == 7);
    CHECK_EQ(cu.cuMipmappedArrayDestroy(mipmapped), 0);
    end_on(0);
}

/* ---- copies: random boxes of texels, compared with the same copies by the host ---- */

/* An array, or memory that has the same texels without gaps; its model. */
typedef struct place {
    unsigned type;
    void *array;
    ptr address;
    unsigned char *host, *model;
} place;
/* in units: texels or blocks */
typedef struct sizes {
    size_t width, height, depth, unit;
} sizes;

static size_t draw(uint32_t *seed, size_t below) { return test_random(seed) % below; }

static void fill_side(side *s, const place *p, const sizes *all, const size_t *at) {
    s->x = at[0] * all->unit;
    s->y = at[1];
    s->z = at[2];
    s->type = p->type;
    s->array = p->array;
    s->host = p->host;
    s->device = p->address;
    if (p->type == ARRAY) return;
    s->pitch = all->width * all->unit;
    s->height = all->height;
}
static int copy_in_graph(const volume *c, int captured) {
    void *graph = NULL, *exec = NULL, *node = NULL;
    volume got;
    size_t n = 1;
    if (captured) {
        CHECK_EQ(cu.cuStreamBeginCapture_v2(stream, 1), 0);
        CHECK_EQ(cu.cuMemcpy3DAsync_v2(c, stream), 0);
        CHECK_EQ(cu.cuStreamEndCapture(stream, &graph), 0);
        CHECK_EQ(cu.cuGraphGetNodes(graph, &node, &n), 0);
    } else {
        CHECK_EQ(cu.cuGraphCreate(&graph, 0), 0);
        CHECK_EQ(cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, c, context), 0);
    }
    CHECK_EQ(cu.cuGraphMemcpyNodeGetParams(node, &got), 0);
    CHECK_EQ(got.from.type, c->from.type);
    CHECK_EQ(got.to.type, c->to.type);
    if (c->from.type == ARRAY) CHECK(got.from.array == c->from.array && got.from.x == c->from.x);
    if (c->to.type == ARRAY) CHECK(got.to.array == c->to.array && got.to.z == c->to.z);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_EQ(cu.cuGraphLaunch(exec, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuGraphExecDestroy(exec), 0);
    return cu.cuGraphDestroy(graph);
}
static operand operand_of(const side *s, size_t unit) {
    operand o;
    memset(&o, 0, sizeof o);
    if (s->type == ARRAY) {
        o.type = 2;
        o.of.array.array = s->array;
        o.of.array.x = s->x / unit;
        o.of.array.y = s->y;
        o.of.array.z = s->z;
        return o;
    }
    o.type = 1;
    o.of.memory.address = (s->type == HOST ? (ptr)(uintptr_t)s->host : s->device) +
            (s->z * s->height + s->y) * s->pitch + s->x;
    o.of.memory.row = s->pitch / unit;
    o.of.memory.rows = s->height;
    return o;
}
static int copy_as_box(const volume *c, size_t unit) {
    box b;
    size_t bad = 0;
    if (c->from.type != ARRAY && c->to.type != ARRAY) unit = 1;
    memset(&b, 0, sizeof b);
    b.from = operand_of(&c->from, unit);
    b.to = operand_of(&c->to, unit);
    b.width = c->width / unit;
    b.height = c->height;
    b.depth = c->depth;
    b.order = 1;
    return cu.cuMemcpy3DBatchAsync(1, &b, &bad, 0, stream);
}
static int copy_2d(const volume *c, int how) {
    plane flat;
    memset(&flat, 0, sizeof flat);
    flat.from_x = c->from.x;
    flat.from_y = c->from.y;
    flat.from_type = c->from.type;
    flat.from_host = c->from.host;
    flat.from_device = c->from.device;
    flat.from_array = c->from.array;
    flat.from_pitch = c->from.pitch;
    flat.to_x = c->to.x;
    flat.to_y = c->to.y;
    flat.to_type = c->to.type;
    flat.to_host = c->to.host;
    flat.to_device = c->to.device;
    flat.to_array = c->to.array;
    flat.to_pitch = c->to.pitch;
    flat.width = c->width;
    flat.height = c->height;
    return how == 0    ? cu.cuMemcpy2D_v2(&flat)
            : how == 1 ? cu.cuMemcpy2DUnaligned_v2(&flat)
                       : cu.cuMemcpy2DAsync_v2(&flat, stream);
}
/* Between memory and the array that has the row, or between two arrays. */
static int copy_row(const volume *c, int async) {
    const side *from = &c->from, *to = &c->to;
    unsigned char *const f = (unsigned char *)from->host + from->x,
                         *const t = (unsigned char *)to->host + to->x;
    if (from->type == ARRAY && to->type == ARRAY)
        return cu.cuMemcpyAtoA_v2(to->array, to->x, from->array, from->x, c->width);
    if (to->type == ARRAY && from->type == DEVICE)
        return cu.cuMemcpyDtoA_v2(to->array, to->x, from->device + from->x, c->width);
    if (from->type == ARRAY && to->type == DEVICE)
        return cu.cuMemcpyAtoD_v2(to->device + to->x, from->array, from->x, c->width);
    if (to->type == ARRAY)
        return async ? cu.cuMemcpyHtoAAsync_v2(to->array, to->x, f, c->width, stream)
                     : cu.cuMemcpyHtoA_v2(to->array, to->x, f, c->width);
    if (from->type == ARRAY)
        return async ? cu.cuMemcpyAtoHAsync_v2(t, from->array, from->x, c->width, stream)
                     : cu.cuMemcpyAtoH_v2(t, from->array, from->x, c->width);
    return cu.cuMemcpy3D_v2(c);
}

enum { PLACES = 5 };
/* Two arrays of one shape, device memory, pinned and pageable memory. */
static void copies_of(shape s, sizes all, uint32_t seed) {
    place p[PLACES];
    void *pinned = NULL;
    const size_t bytes = all.width * all.height * all.depth * all.unit;
    size_t i, k, x, y, z;
    volume c;
    memset(p, 0, sizeof p);
    CHECK_EQ(cu.cuArray3DCreate_v2(&p[0].array, &s), 0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&p[1].array, &s), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p[2].address, bytes), 0);
    CHECK_EQ(cu.cuMemHostAlloc(&pinned, bytes, 0), 0);
    p[3].host = (unsigned char *)pinned;
    p[4].host = (unsigned char *)malloc(bytes);
    for (i = 0; i < PLACES; i++) {
        const size_t zeros[3] = { 0, 0, 0 };
        place all_of;
        p[i].type = i < 2 ? ARRAY : i == 2 ? DEVICE : HOST;
        p[i].model = (unsigned char *)malloc(bytes);
        for (k = 0; k < bytes; k++) p[i].model[k] = (unsigned char)draw(&seed, 256);
        memset(&all_of, 0, sizeof all_of);
        all_of.type = HOST;
        all_of.host = p[i].model;
        memset(&c, 0, sizeof c);
        fill_side(&c.from, &all_of, &all, zeros);
        fill_side(&c.to, &p[i], &all, zeros);
        c.width = all.width * all.unit;
        c.height = all.height;
        c.depth = all.depth;
        CHECK_EQ(cu.cuMemcpy3D_v2(&c), 0);
    }
    for (i = 0; i < COPIES; i++) {
        const size_t from = draw(&seed, PLACES), to = (from + 1 + draw(&seed, PLACES - 1)) % PLACES;
        const int how = (int)draw(&seed, 9);
        size_t n[3], f[3], t[3], most[3];
        int result;
        most[0] = all.width;
        most[1] = how >= 7 ? 1 : all.height; /* one row */
        most[2] = how >= 5 ? 1 : all.depth;  /* one slice */
        for (k = 0; k < 3; k++) {
            n[k] = 1 + draw(&seed, most[k]);
            f[k] = draw(&seed, most[k] - n[k] + 1);
            t[k] = draw(&seed, most[k] - n[k] + 1);
        }
        memset(&c, 0, sizeof c);
        fill_side(&c.from, &p[from], &all, f);
        fill_side(&c.to, &p[to], &all, t);
        c.width = n[0] * all.unit;
        c.height = n[1];
        c.depth = n[2];
        if (how == 2) c.from.context = c.to.context = context;
        result = how == 0                             ? cu.cuMemcpy3D_v2(&c)
                : how == 2                            ? cu.cuMemcpy3DPeerAsync(&c, stream)
                : how == 3                            ? copy_in_graph(&c, (int)draw(&seed, 2))
                : how == 4 && cu.cuMemcpy3DBatchAsync ? copy_as_box(&c, all.unit)
                : how == 5 || how == 6                ? copy_2d(&c, (int)draw(&seed, 3))
                : how >= 7                            ? copy_row(&c, how == 7)
                                                      : cu.cuMemcpy3DAsync_v2(&c, stream);
        CHECK_EQ(result, 0);
        CHECK_EQ(cu.cuStreamSynchronize(NULL), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
        for (z = 0; z < n[2]; z++)
            for (y = 0; y < n[1]; y++)
                for (x = 0; x < c.width; x++)
                    p[to].model[((t[2] + z) * all.height + t[1] + y) * all.width * all.unit +
                            t[0] * all.unit + x] =
                            p[from].model[((f[2] + z) * all.height + f[1] + y) * all.width *
                                            all.unit +
                                    f[0] * all.unit + x];
    }
    for (i = 0; i < PLACES; i++) {
        const size_t zeros[3] = { 0, 0, 0 };
        place got;
        memset(&got, 0, sizeof got);
        got.type = HOST;
        got.host = (unsigned char *)malloc(bytes);
        memset(&c, 0, sizeof c);
        fill_side(&c.from, &p[i], &all, zeros);
        fill_side(&c.to, &got, &all, zeros);
        c.width = all.width * all.unit;
        c.height = all.height;
        c.depth = all.depth;
        CHECK_EQ(cu.cuMemcpy3D_v2(&c), 0);
        CHECK(memcmp(got.host, p[i].model, bytes) == 0);
        free(got.host);
        free(p[i].model);
        if (i < 2) CHECK_EQ(cu.cuArrayDestroy(p[i].array), 0);
    }
    CHECK_EQ(cu.cuMemFree_v2(p[2].address), 0);
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    free(p[4].host);
}
static sizes sizes_of(size_t width, size_t height, size_t depth, size_t unit) {
    sizes s;
    s.width = width;
    s.height = height;
    s.depth = depth;
    s.unit = unit;
    return s;
}
TEST(copies_of_rows) {
    begin_on(0);
    copies_of(shape_of(37, 0, 0, U8, 1, 0), sizes_of(37, 1, 1, 1), 1);
    copies_of(shape_of(61, 0, 0, FLOAT, 4, SURFACE), sizes_of(61, 1, 1, 16), 2);
    end_on(0);
}
TEST(copies_of_planes) {
    begin_on(0);
    copies_of(shape_of(29, 13, 0, HALF, 2, 0), sizes_of(29, 13, 1, 4), 3);
    copies_of(shape_of(7, 40, 0, U8, 1, GATHER), sizes_of(7, 40, 1, 1), 4);
    end_on(0);
}
TEST(copies_of_volumes) {
    begin_on(0);
    copies_of(shape_of(11, 7, 9, U16, 4, 0), sizes_of(11, 7, 9, 8), 5);
    end_on(0);
}
TEST(copies_of_layers) {
    begin_on(0);
    copies_of(shape_of(19, 0, 8, U32, 1, LAYERED), sizes_of(19, 1, 8, 4), 6);
    copies_of(shape_of(9, 9, 12, S8, 4, LAYERED | CUBE), sizes_of(9, 9, 12, 4), 7);
    end_on(0);
}
TEST(copies_of_blocks) {
    begin_on(0);
    copies_of(shape_of(32, 24, 0, BC1, 4, 0), sizes_of(8, 6, 1, 8), 8);
    copies_of(shape_of(24, 16, 3, BC7, 4, LAYERED), sizes_of(6, 4, 3, 16), 9);
    end_on(0);
}

TEST(levels_are_copied) {
    enum { LEVELS = 4 };
    void *mipmapped = NULL, *level[LEVELS];
    unsigned char data[LEVELS][256], got[256];
    shape s = shape_of(8, 8, 0, U32, 1, 0);
    int i, k;
    plane c;
    begin_on(0);
    CHECK_EQ(cu.cuMipmappedArrayCreate(&mipmapped, &s, LEVELS), 0);
    for (k = 0; k < 2; k++)
        for (i = 0; i < LEVELS; i++) {
            unsigned char *to = k ? got : data[i];
            const size_t n = (size_t)8 >> i;
            if (!k) memset(data[i], 10 + i, sizeof data[i]);
            else memset(got, 0, sizeof got);
            CHECK_EQ(cu.cuMipmappedArrayGetLevel(&level[i], mipmapped, (unsigned)i), 0);
            memset(&c, 0, sizeof c);
            c.from_type = k ? ARRAY : HOST;
            c.to_type = k ? HOST : ARRAY;
            c.from_array = c.to_array = level[i];
            c.from_host = to;
            c.to_host = to;
            if (k) c.to_pitch = n * 4;
            else c.from_pitch = n * 4;
            c.width = n * 4;
            c.height = n;
            CHECK_EQ(cu.cuMemcpy2D_v2(&c), 0);
            if (k) CHECK(memcmp(got, data[i], n * n * 4) == 0);
        }
    CHECK_EQ(cu.cuMipmappedArrayDestroy(mipmapped), 0);
    end_on(0);
}

/* Bytes outside of the array. They need not be whole texels. */
TEST(copies_outside) {
    void *array = NULL;
    char data[64];
    shape s = shape_of(4, 0, 0, FLOAT, 1, 0);
    begin_on(0);
    memset(data, 1, sizeof data);
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(array, 0, data, 16), 0);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(array, 0, data, 20), 1);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(array, 16, data, 4), 1);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(array, (size_t)-4, data, 8), 1);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(array, 12, data, 4), 0);
    CHECK_EQ(cu.cuMemcpyAtoH_v2(data, array, 0, 20), 1);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(array, 2, data, 4), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end_on(0);
}

/* ---- objects ---- */

static resource resource_of(unsigned type, void *array) {
    resource r;
    memset(&r, 0, sizeof r);
    r.type = type;
    r.of.array = array;
    return r;
}
static sampling sampling_of(unsigned flags, unsigned filter) {
    sampling s;
    memset(&s, 0, sizeof s);
    s.flags = flags;
    s.filter = filter;
    return s;
}
/* Creates a texture object and destroys it. */
static int textures(resource r, sampling s, const view *v) {
    unsigned long long texture = 0;
    const int result = cu.cuTexObjectCreate(&texture, &r, &s, v);
    CHECK(result || texture);
    if (!result) CHECK_EQ(cu.cuTexObjectDestroy(texture), 0);
    return result;
}

TEST(objects_are_described) {
    void *array = NULL;
    unsigned long long texture = 0, second = 0, surface = 0;
    shape s = shape_of(16, 16, 0, U8, 4, SURFACE);
    resource r, got;
    sampling how = sampling_of(NORMALIZED | SRGB, 1), got_how;
    view v, got_view;
    begin_on(0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    r = resource_of(OF_ARRAY, array);
    how.address[1] = 3;
    how.border[2] = 0.5f;
    memset(&v, 0, sizeof v);
    v.format = 3; /* 4 unsigned channels of 8 bits */
    v.width = v.height = 16;
    CHECK_EQ(cu.cuTexObjectCreate(&texture, &r, &how, &v), 0);
    CHECK_EQ(cu.cuTexObjectCreate(&second, &r, &how, NULL), 0);
    CHECK_EQ(cu.cuSurfObjectCreate(&surface, &r), 0);
    CHECK(texture && second && surface && texture != second);
    CHECK_EQ(cu.cuTexObjectGetResourceDesc(&got, texture), 0);
    CHECK(got.type == OF_ARRAY && got.of.array == array);
    CHECK_EQ(cu.cuSurfObjectGetResourceDesc(&got, surface), 0);
    CHECK(got.type == OF_ARRAY && got.of.array == array);
    CHECK_EQ(cu.cuTexObjectGetTextureDesc(&got_how, texture), 0);
    CHECK(got_how.address[1] == 3 && got_how.filter == 1 && got_how.flags == how.flags);
    if (on_cpu_device()) CHECK(got_how.border[2] == 0.5f); /* an H200: another */
    CHECK_EQ(cu.cuTexObjectGetResourceViewDesc(&got_view, texture), 0);
    CHECK(got_view.format == 3 && got_view.width == 16);
    CHECK_EQ(cu.cuTexObjectGetResourceViewDesc(&got_view, second), 0); /* it has none */
    CHECK_EQ(cu.cuSurfObjectDestroy(surface), 0);
    CHECK_EQ(cu.cuTexObjectDestroy(texture), 0);
    CHECK_EQ(cu.cuTexObjectDestroy(second), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    s.flags = 0;
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    r = resource_of(OF_ARRAY, array);
    CHECK_EQ(cu.cuSurfObjectCreate(&surface, &r), 0);
    CHECK_EQ(cu.cuSurfObjectDestroy(surface), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    end_on(0);
}

TEST(textures_of_memory) {
    ptr p = 0;
    resource r = resource_of(LINEAR, NULL);
    begin_on(0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 1 << 16), 0);
    r.of.linear.address = p;
    r.of.linear.format = FLOAT;
    r.of.linear.channels = 4;
    r.of.linear.bytes = 1 << 16;
    CHECK_EQ(textures(r, sampling_of(0, 0), NULL), 0);
    r.of.linear.address = p + 16;
    r.of.linear.bytes = 64;
    CHECK_EQ(textures(r, sampling_of(0, 0), NULL), 1);
    r.of.linear.address = p;
    r.of.linear.channels = 3;
    CHECK_EQ(textures(r, sampling_of(0, 0), NULL), 1);
    r = resource_of(PITCH2D, NULL);
    r.of.rows.address = p;
    r.of.rows.format = U8;
    r.of.rows.channels = 1;
    r.of.rows.width = 100;
    r.of.rows.height = 512;
    r.of.rows.pitch = 128;
    CHECK_EQ(textures(r, sampling_of(0, 1), NULL), 0);
    r.of.rows.pitch = 120;
    CHECK_EQ(textures(r, sampling_of(0, 1), NULL), 1);
    r.of.rows.pitch = 96; /* the rows overlap */
    CHECK_EQ(textures(r, sampling_of(0, 1), NULL), 0);
    r.of.rows.address = (ptr)1 << 20; /* no memory */
    CHECK_EQ(textures(r, sampling_of(0, 1), NULL), 0);
    r.of.rows.format = 0xc0; /* UNORM_INT8X1 */
    CHECK_EQ(textures(r, sampling_of(0, 1), NULL), 1);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    end_on(0);
}

TEST(views_of_arrays) {
    void *array = NULL, *mipmapped = NULL;
    shape s = shape_of(8, 8, 0, U32, 2, 0);
    resource r;
    view v;
    begin_on(0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    r = resource_of(OF_ARRAY, array);
    memset(&v, 0, sizeof v);
    v.format = 0x19; /* blocks of 8 bytes */
    v.width = v.height = 32;
    CHECK_EQ(textures(r, sampling_of(0, 1), &v), 0);
    v.width = 8;
    CHECK_EQ(textures(r, sampling_of(0, 1), &v), 1);
    v.width = 32;
    v.format = 0x1a; /* blocks of 16 bytes */
    CHECK_EQ(textures(r, sampling_of(0, 1), &v), 1);
    v.width = v.height = 8;
    v.format = 0x15; /* 4 of 16 bits */
    CHECK_EQ(textures(r, sampling_of(0, 1), &v), 0);
    v.last_level = 1;
    CHECK_EQ(textures(r, sampling_of(0, 1), &v), 1);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    s = shape_of(8, 8, 5, FLOAT, 1, LAYERED);
    CHECK_EQ(cu.cuMipmappedArrayCreate(&mipmapped, &s, 4), 0);
    r = resource_of(OF_MIPMAPPED, mipmapped);
    CHECK_EQ(textures(r, sampling_of(NORMALIZED, 1), NULL), 0);
    memset(&v, 0, sizeof v);
    v.width = v.height = 8;
    v.depth = 5;
    v.format = 0x16;
    v.first_level = 1;
    v.last_level = 3;
    v.first_layer = 2;
    v.last_layer = 4;
    CHECK_EQ(textures(r, sampling_of(NORMALIZED, 1), &v), 0);
    v.format = 0;
    CHECK_EQ(textures(r, sampling_of(NORMALIZED, 1), &v), 1);
    v.format = 0x16;
    if (on_cpu_device()) { /* a GPU's driver does not look */
        v.last_layer = 5;
        CHECK_EQ(textures(r, sampling_of(NORMALIZED, 1), &v), 1);
        v.last_layer = 4;
        v.last_level = 4;
        CHECK_EQ(textures(r, sampling_of(NORMALIZED, 1), &v), 1);
    }
    CHECK_EQ(cu.cuMipmappedArrayDestroy(mipmapped), 0);
    end_on(0);
}

/* Objects end with their context, in any order; what is left of one that ended first is harmless.
 */
TEST(objects_end) {
    enum { N = 300 };
    void *array[N], *other = NULL;
    unsigned long long texture[N], surface[N];
    shape s = shape_of(16, 16, 0, FLOAT, 1, SURFACE);
    resource r, got;
    const sampling how = sampling_of(0, 0);
    size_t before;
    int i;
    begin_on(0);
    before = available();
    CHECK_EQ(cu.cuCtxCreate_v2(&other, 0, 0), 0);
    for (i = 0; i < N; i++) {
        CHECK_EQ(cu.cuArray3DCreate_v2(&array[i], &s), 0);
        r = resource_of(OF_ARRAY, array[i]);
        CHECK_EQ(cu.cuTexObjectCreate(&texture[i], &r, &how, NULL), 0);
        CHECK_EQ(cu.cuSurfObjectCreate(&surface[i], &r), 0);
    }
    for (i = 0; i < N; i += 3) CHECK_EQ(cu.cuTexObjectDestroy(texture[i]), 0);
    if (on_cpu_device()) {
        for (i = 0; i < N; i += 2) CHECK_EQ(cu.cuArrayDestroy(array[i]), 0);
        for (i = 0; i < N; i += 5) CHECK_EQ(cu.cuSurfObjectDestroy(surface[i]), 0);
        CHECK_EQ(cu.cuTexObjectGetResourceDesc(&got, texture[2]), 0);
        CHECK_EQ(cu.cuTexObjectGetResourceDesc(&got, texture[3]), 1);
        if (!getenv("SIMGPU_STRICT")) CHECK_EQ(cu.cuArrayDestroy(array[0]), 400);
    }
    CHECK_EQ(cu.cuCtxDestroy_v2(other), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    if (on_cpu_device()) {
        CHECK_EQ(cu.cuTexObjectGetResourceDesc(&got, texture[1]), 1);
        if (!getenv("SIMGPU_STRICT")) CHECK_EQ(cu.cuArrayDestroy(array[1]), 709);
        CHECK_EQ(available(), before);
    }
    end_on(0);
}

/* A graph that copies into an array that was destroyed fails when it runs, and does not crash. */
TEST_ALONE(a_graph_outlives_its_array) {
    void *array = NULL, *graph = NULL, *exec = NULL;
    static char data[64];
    shape s = shape_of(16, 0, 0, FLOAT, 1, 0);
    begin_on(0);
    if (!on_cpu_device()) SKIP("not on the CPU device");
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    CHECK_EQ(cu.cuStreamBeginCapture_v2(stream, 1), 0);
    CHECK_EQ(cu.cuMemcpyHtoAAsync_v2(array, 0, data, 64, stream), 0);
    CHECK_EQ(cu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_EQ(cu.cuGraphLaunch(exec, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    CHECK_EQ(cu.cuGraphLaunch(exec, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}

/* An array's copies wait for the stream's order, and the array for its copies. */
TEST(destroyed_behind_its_copies) {
    void *array = NULL, *pinned = NULL;
    uint32_t *words;
    ptr p = 0;
    shape s = shape_of(1024, 0, 0, U32, 1, 0);
    volume c;
    int i;
    begin_on(0);
    CHECK_EQ(cu.cuMemHostAlloc(&pinned, 4096, 0), 0);
    words = (uint32_t *)pinned;
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 4096), 0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    memset(&c, 0, sizeof c);
    c.from.type = DEVICE;
    c.from.device = p;
    c.to.type = ARRAY;
    c.to.array = array;
    c.width = 4096;
    c.height = c.depth = 1;
    for (i = 0; i < 20; i++) {
        CHECK_EQ(cu.cuMemsetD32Async(p, (unsigned)i, 1024, stream), 0);
        CHECK_EQ(cu.cuMemcpy3DAsync_v2(&c, stream), 0);
        CHECK_EQ(cu.cuMemcpyAtoHAsync_v2(words, array, 0, 4096, stream), 0);
    }
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(words[1023], 19);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    end_on(0);
}

TEST_MULTI(arrays_of_two_devices) {
    void *first = NULL, *second = NULL, *contexts[2] = { NULL, NULL };
    uint32_t data[64], got[64], i;
    shape s = shape_of(64, 0, 0, U32, 1, 0);
    volume c;
    resource r;
    int n = 0;
    begin_on(0);
    CHECK_EQ(cu.cuDeviceGetCount(&n), 0);
    if (n < 2) {
        end_on(0);
        SKIP("one device");
    }
    contexts[0] = context;
    for (i = 0; i < 64; i++) data[i] = i * i;
    CHECK_EQ(cu.cuArray3DCreate_v2(&first, &s), 0);
    CHECK_EQ(cu.cuMemcpyHtoA_v2(first, 0, data, sizeof data), 0);
    CHECK_EQ(cu.cuCtxSynchronize(), 0); /* a copy of pageable memory may still run */
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&contexts[1], 1), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(contexts[1]), 0);
    CHECK_EQ(cu.cuArray3DCreate_v2(&second, &s), 0);
    r = resource_of(OF_ARRAY, first);
    if (on_cpu_device()) CHECK_EQ(textures(r, sampling_of(0, 0), NULL), 1);
    CHECK_EQ(cu.cuDeviceGetP2PAttribute(&n, 4, 0, 1), 0); /* arrays */
    if (n) CHECK_EQ(cu.cuCtxEnablePeerAccess(contexts[0], 0), 0);
    if (n) CHECK_EQ(textures(r, sampling_of(0, 0), NULL), 0);
    if (n) CHECK_EQ(cu.cuCtxDisablePeerAccess(contexts[0]), 0);
    memset(&c, 0, sizeof c);
    c.from.type = c.to.type = ARRAY;
    c.from.array = first;
    c.to.array = second;
    c.from.context = contexts[0];
    c.to.context = contexts[1];
    c.width = sizeof data;
    c.height = c.depth = 1;
    CHECK_EQ(cu.cuMemcpy3DPeer(&c), 0);
    CHECK_EQ(cu.cuMemcpyAtoH_v2(got, second, 0, sizeof got), 0);
    CHECK(memcmp(got, data, sizeof got) == 0);
    CHECK_EQ(cu.cuArrayDestroy(second), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(1), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuArrayDestroy(first), 0);
    end_on(0);
}

/* ---- references ---- */

static const char references[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .global .texref pixels;\n.visible .global .surfref canvas;\n"
        ".visible .global .u32 word;\n"
        ".visible .entry reads(.param .u64 p) {\n"
        "    .reg .b64 %a; .reg .f32 %v<5>, %x;\n"
        "    ld.param.u64 %a, [p]; mov.f32 %x, 0f40600000; /* 3.5 */\n"
        "    tex.1d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [pixels, {%x}]; st.global.f32 [%a], %v1; "
        "ret;\n"
        "}\n";

TEST(references_are_described) {
    void *module = NULL, *texture = NULL, *again = NULL, *surface = NULL, *array = NULL,
         *got = NULL;
    shape s = shape_of(16, 0, 0, U8, 4, SURFACE);
    int format = 0, channels = 0, mode = -1, most = 0;
    unsigned flags = 9;
    float least = 0, bias = 0, color[4] = { 1, 2, 3, 4 }, got_color[4];
    ptr p = 0, address = 0;
    size_t offset = 1;
    begin_on(0);
    CHECK_EQ(cu.cuModuleLoadData(&module, references), 0);
    CHECK_EQ(cu.cuModuleGetTexRef(&texture, module, "pixels"), 0);
    CHECK_EQ(cu.cuModuleGetTexRef(&again, module, "pixels"), 0);
    CHECK(texture == again);
    CHECK_EQ(cu.cuModuleGetSurfRef(&surface, module, "canvas"), 0);
    CHECK_EQ(cu.cuModuleGetTexRef(&again, module, "canvas"), 500);
    CHECK_EQ(cu.cuModuleGetTexRef(&again, module, "word"), 500);
    CHECK_EQ(cu.cuModuleGetSurfRef(&again, module, "none"), 500);
    CHECK_EQ(cu.cuArray3DCreate_v2(&array, &s), 0);
    CHECK_EQ(cu.cuTexRefSetArray(texture, array, 1), 0);
    CHECK_EQ(cu.cuTexRefGetArray(&got, texture), 0);
    CHECK(got == array);
    CHECK_EQ(cu.cuTexRefGetFormat(&format, &channels, texture), 0);
    CHECK(format == U8 && channels == 4);
    CHECK_EQ(cu.cuSurfRefSetArray(surface, array, 0), 0);
    CHECK_EQ(cu.cuSurfRefGetArray(&got, surface), 0);
    CHECK(got == array);
    CHECK_EQ(cu.cuTexRefSetFilterMode(texture, 1), 0);
    CHECK_EQ(cu.cuTexRefGetFilterMode(&mode, texture), 0);
    CHECK_EQ(mode, 1);
    CHECK_EQ(cu.cuTexRefSetAddressMode(texture, 1, 2), 0);
    CHECK_EQ(cu.cuTexRefGetAddressMode(&mode, texture, 1), 0);
    CHECK_EQ(mode, 2);
    CHECK_EQ(cu.cuTexRefSetFlags(texture, NORMALIZED), 0);
    CHECK_EQ(cu.cuTexRefGetFlags(&flags, texture), 0);
    CHECK_EQ(flags, NORMALIZED);
    CHECK_EQ(cu.cuTexRefSetMipmapFilterMode(texture, 1), 0);
    CHECK_EQ(cu.cuTexRefGetMipmapFilterMode(&mode, texture), 0);
    CHECK_EQ(mode, 1);
    CHECK_EQ(cu.cuTexRefSetMipmapLevelBias(texture, 0.5f), 0);
    CHECK_EQ(cu.cuTexRefGetMipmapLevelBias(&bias, texture), 0);
    CHECK(bias == 0.5f);
    CHECK_EQ(cu.cuTexRefSetMipmapLevelClamp(texture, 1, 3), 0);
    CHECK_EQ(cu.cuTexRefGetMipmapLevelClamp(&least, &bias, texture), 0);
    CHECK(least == 1 && bias == 3);
    CHECK_EQ(cu.cuTexRefSetMaxAnisotropy(texture, 4), 0);
    CHECK_EQ(cu.cuTexRefGetMaxAnisotropy(&most, texture), 0);
    CHECK_EQ(most, 4);
    CHECK_EQ(cu.cuTexRefSetBorderColor(texture, color), 0);
    CHECK_EQ(cu.cuTexRefGetBorderColor(got_color, texture), 0);
    CHECK(memcmp(color, got_color, sizeof color) == 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, 4096), 0);
    CHECK_EQ(cu.cuTexRefSetAddress_v2(&offset, texture, p + 64, 256), 0);
    CHECK_EQ(offset, 64);
    CHECK_EQ(cu.cuTexRefGetAddress_v2(&address, texture), 0);
    CHECK_EQ(cu.cuTexRefGetArray(&got, texture), 1);
    CHECK_EQ(cu.cuTexRefSetAddress_v2(NULL, texture, p + 64, 256), 1);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    if (on_cpu_device() && !getenv("SIMGPU_STRICT"))
        CHECK_EQ(cu.cuTexRefGetFlags(&flags, texture), 1);
    CHECK_EQ(cu.cuArrayDestroy(array), 0);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    CHECK_EQ(cu.cuTexRefCreate(&texture), 0);
    CHECK_EQ(cu.cuTexRefSetFormat(texture, HALF, 2), 0);
    CHECK_EQ(cu.cuTexRefGetFormat(&format, &channels, texture), 0);
    CHECK(format == HALF && channels == 2);
    CHECK_EQ(cu.cuTexRefDestroy(texture), 0);
    end_on(0);
}

/* Each launch uses what the reference is bound to at the call. */
TEST(references_are_bound) {
    enum { N = 8 };
    void *module = NULL, *texture = NULL, *reads = NULL, *arrays[N], *params[1];
    shape s = shape_of(4, 0, 0, FLOAT, 1, 0);
    float got[N];
    ptr p = 0, at;
    int i;
    begin_on(0);
    CHECK_EQ(cu.cuModuleLoadData(&module, references), 0);
    CHECK_EQ(cu.cuModuleGetTexRef(&texture, module, "pixels"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&reads, module, "reads"), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, sizeof got), 0);
    params[0] = &at;
    for (i = 0; i < N; i++) {
        float texels[4] = { 0, 0, 0, 0 };
        texels[3] = (float)(i + 1);
        CHECK_EQ(cu.cuArray3DCreate_v2(&arrays[i], &s), 0);
        CHECK_EQ(cu.cuMemcpyHtoA_v2(arrays[i], 0, texels, sizeof texels), 0);
        CHECK_EQ(cu.cuTexRefSetArray(texture, arrays[i], 1), 0);
        at = p + 4 * (ptr)i;
        CHECK_EQ(cu.cuLaunchKernel(reads, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), 0);
    }
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p, sizeof got), 0);
    for (i = 0; i < N; i++) {
        CHECK(got[i] == (float)(i + 1));
        CHECK_EQ(cu.cuArrayDestroy(arrays[i]), 0);
    }
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    end_on(0);
}
