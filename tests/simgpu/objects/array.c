/* array.c - arrays: their formats, limits and texels, also those of the levels of mipmapped arrays.

   Rows, slices and levels of an array are one allocation of the device, one after another. A GPU
   orders them in another way, which no program sees. What shows an array to kernels is in its list:
   it ends with the array. */
#include "objects.h"

enum { ROW = 32, LEVEL = 512 }; /* alignments, in bytes */

/* ---- formats ---- */

/* clang-format off */
static const struct sim_format formats[] = {
    /* format, channels, bytes, is_integer, is_block, is_srgb */
    { CU_AD_FORMAT_UNSIGNED_INT8, 0, 1, true, false, true },
    { CU_AD_FORMAT_UNSIGNED_INT16, 0, 2, true, false, false },
    { CU_AD_FORMAT_UNSIGNED_INT32, 0, 4, true, false, false },
    { CU_AD_FORMAT_SIGNED_INT8, 0, 1, true, false, false },
    { CU_AD_FORMAT_SIGNED_INT16, 0, 2, true, false, false },
    { CU_AD_FORMAT_SIGNED_INT32, 0, 4, true, false, false },
    { CU_AD_FORMAT_HALF, 0, 2, false, false, false },
    { CU_AD_FORMAT_FLOAT, 0, 4, false, false, false },
    { CU_AD_FORMAT_UNORM_INT_101010_2, 4, 4, false, false, false },
    { CU_AD_FORMAT_BC1_UNORM, 4, 8, false, true, true },
    { CU_AD_FORMAT_BC1_UNORM_SRGB, 4, 8, false, true, true },
    { CU_AD_FORMAT_BC2_UNORM, 4, 16, false, true, true },
    { CU_AD_FORMAT_BC2_UNORM_SRGB, 4, 16, false, true, true },
    { CU_AD_FORMAT_BC3_UNORM, 4, 16, false, true, true },
    { CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 16, false, true, true },
    { CU_AD_FORMAT_BC4_UNORM, 1, 8, false, true, false },
    { CU_AD_FORMAT_BC4_SNORM, 1, 8, false, true, false },
    { CU_AD_FORMAT_BC5_UNORM, 2, 16, false, true, false },
    { CU_AD_FORMAT_BC5_SNORM, 2, 16, false, true, false },
    { CU_AD_FORMAT_BC6H_UF16, 3, 16, false, true, false },
    { CU_AD_FORMAT_BC6H_SF16, 3, 16, false, true, false },
    { CU_AD_FORMAT_BC7_UNORM, 4, 16, false, true, true },
    { CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 16, false, true, true },
    { CU_AD_FORMAT_UNORM_INT8X1, 1, 1, false, false, true },
    { CU_AD_FORMAT_UNORM_INT8X2, 2, 2, false, false, true },
    { CU_AD_FORMAT_UNORM_INT8X4, 4, 4, false, false, true },
    { CU_AD_FORMAT_UNORM_INT16X1, 1, 2, false, false, false },
    { CU_AD_FORMAT_UNORM_INT16X2, 2, 4, false, false, false },
    { CU_AD_FORMAT_UNORM_INT16X4, 4, 8, false, false, false },
    { CU_AD_FORMAT_SNORM_INT8X1, 1, 1, false, false, false },
    { CU_AD_FORMAT_SNORM_INT8X2, 2, 2, false, false, false },
    { CU_AD_FORMAT_SNORM_INT8X4, 4, 4, false, false, false },
    { CU_AD_FORMAT_SNORM_INT16X1, 1, 2, false, false, false },
    { CU_AD_FORMAT_SNORM_INT16X2, 2, 4, false, false, false },
    { CU_AD_FORMAT_SNORM_INT16X4, 4, 8, false, false, false },
};
/* clang-format on */

const struct sim_format *sim_format_at(unsigned format) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == format) return &formats[i];
    return NULL;
}

unsigned sim_format_bytes(const struct sim_format *f, unsigned channels) {
    if (f->channels) return channels == f->channels ? f->bytes : 0;
    return channels == 1 || channels == 2 || channels == 4 ? f->bytes * channels : 0;
}

bool sim_format_is_video(unsigned format) {
    return format == CU_AD_FORMAT_P010 ||
            (format >= CU_AD_FORMAT_P016 && format <= CU_AD_FORMAT_Y410) ||
            (format >= CU_AD_FORMAT_NV12 && format <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar);
}

/* ---- limits ---- */

/* CUdevice_attribute numbers: the limits of each type of array; 0: no such limit. */
struct limits {
    unsigned char width, height, depth;
};
enum type { D1, D2, D3, D1_LAYERED, D2_LAYERED, CUBE, CUBE_LAYERED };
static const struct limits of_textures[] = { { 21, 0, 0 }, { 22, 23, 0 }, { 24, 25, 26 },
    { 42, 0, 43 }, { 27, 28, 29 }, { 52, 52, 0 }, { 53, 53, 54 } };
static const struct limits of_surfaces[] = { { 55, 0, 0 }, { 56, 57, 0 }, { 58, 59, 60 },
    { 61, 0, 62 }, { 63, 64, 65 }, { 66, 66, 0 }, { 67, 67, 68 } };
static const struct limits of_gathers = { 45, 46, 0 }, of_mipmapped_1d = { 77, 0, 0 },
                           of_mipmapped_2d = { 73, 74, 0 }, of_other_3d = { 47, 48, 49 };

int sim_device_limit(struct sim_device *device, int attribute) {
    int value = 0;
    sim_device_attribute(device, attribute, &value);
    return value;
}

static bool within_one(struct sim_device *d, size_t extent, int attribute) {
    return !attribute || extent <= (size_t)sim_device_limit(d, attribute);
}
static bool within(
        struct sim_device *d, const CUDA_ARRAY3D_DESCRIPTOR *is, const struct limits *limits) {
    return within_one(d, is->Width, limits->width) && within_one(d, is->Height, limits->height) &&
            within_one(d, is->Depth, limits->depth);
}

/* -1: there is no such array */
static int type_of(const CUDA_ARRAY3D_DESCRIPTOR *is) {
    const bool layered = is->Flags & CUDA_ARRAY3D_LAYERED;
    if (!is->Width) return -1;
    if (is->Flags & CUDA_ARRAY3D_CUBEMAP) {
        const bool ok = is->Width == is->Height && is->Depth &&
                (layered ? is->Depth % 6 == 0 : is->Depth == 6);
        return !ok ? -1 : layered ? CUBE_LAYERED : CUBE;
    }
    if (layered) return !is->Depth ? -1 : is->Height ? D2_LAYERED : D1_LAYERED;
    if (is->Depth) return is->Height ? D3 : -1;
    return is->Height ? D2 : D1;
}

static bool fits(struct sim_device *d, const CUDA_ARRAY3D_DESCRIPTOR *is, bool mipmapped) {
    const int type = type_of(is);
    if (type < 0) return false;
    const struct limits *limits = mipmapped && type == D1 ? &of_mipmapped_1d
            : mipmapped && type == D2                     ? &of_mipmapped_2d
                                                          : &of_textures[type];
    if (!within(d, is, limits) && (type != D3 || !within(d, is, &of_other_3d))) return false;
    if (is->Flags & CUDA_ARRAY3D_SURFACE_LDST && !within(d, is, &of_surfaces[type])) return false;
    return !(is->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) || (type == D2 && within(d, is, &of_gathers));
}

static int check(struct sim_device *d, const CUDA_ARRAY3D_DESCRIPTOR *is, bool mipmapped) {
    const unsigned absent = CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |
            CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    /* Measured: not CUDA_ARRAY3D_DEPTH_TEXTURE or _COLOR_ATTACHMENT, which arrays of a graphics
       library have. */
    const unsigned known = absent | CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
            CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
    const struct sim_format *f = sim_format_at(is->Format);
    if (is->Flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    if (sim_format_is_video(is->Format))
        return sim_because(CUDA_ERROR_NOT_SUPPORTED, "this device has no video formats");
    if (!f || !sim_format_bytes(f, is->NumChannels) || !fits(d, is, mipmapped))
        return CUDA_ERROR_INVALID_VALUE;
    if (f->is_block && !is->Height) return CUDA_ERROR_INVALID_VALUE;
    if (f->is_block && is->Flags & CUDA_ARRAY3D_SURFACE_LDST) return CUDA_ERROR_NOT_SUPPORTED;
    if (is->Flags & absent)
        return sim_because(CUDA_ERROR_NOT_SUPPORTED,
                "this device has no sparse arrays, and none that are mapped later or for video");
    return CUDA_SUCCESS;
}

/* ---- texels ---- */

unsigned sim_levels_shift(size_t extent, unsigned level) {
    return extent >> level ? (unsigned)(extent >> level) : 1;
}

static size_t up_to(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/* Returns the bytes of all levels. Of each, `address` is its distance from the first. */
static uint64_t lay_out(
        struct sim_texels *t, const CUDA_ARRAY3D_DESCRIPTOR *is, const struct sim_format *f) {
    uint64_t end = 0;
    for (unsigned i = 0; i < t->nlevels; i++) {
        struct sim_level *l = &t->levels[i];
        l->width = sim_levels_shift(is->Width, i);
        l->height = sim_levels_shift(is->Height, i);
        l->depth = t->dims == 3 ? sim_levels_shift(is->Depth, i)
                : is->Depth     ? (uint32_t)is->Depth
                                : 1;
        const size_t columns = f->is_block ? (l->width + 3) / 4 : l->width,
                     rows = f->is_block ? (l->height + 3) / 4 : l->height;
        l->pitch = up_to(columns * t->texel_bytes, ROW);
        l->slice = rows * l->pitch;
        l->address = end;
        end += up_to(l->slice * l->depth, LEVEL);
    }
    return end;
}

static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR *is, unsigned dims) {
    size_t most = is->Width > is->Height ? is->Width : is->Height;
    unsigned n = 1;
    if (dims == 3 && is->Depth > most) most = is->Depth;
    while (most >>= 1) n++;
    return n;
}

static struct sim_texels describe(const CUDA_ARRAY3D_DESCRIPTOR *is, unsigned levels) {
    const int type = type_of(is);
    struct sim_texels t = {
        .dims = type == D1 || type == D1_LAYERED ? 1
                : type == D3                     ? 3
                                                 : 2,
        .layered = is->Flags & CUDA_ARRAY3D_LAYERED,
        .cube = is->Flags & CUDA_ARRAY3D_CUBEMAP,
        .format = is->Format,
        .channels = is->NumChannels,
        .texel_bytes = sim_format_bytes(sim_format_at(is->Format), is->NumChannels),
    };
    const unsigned most = most_levels(is, t.dims);
    t.nlevels = levels > most ? most : levels ? levels : 1;
    return t;
}

/* ---- arrays ---- */

struct sim_array *sim_array_at(const void *handle) {
    return sim_get(SIM_H_ARRAY, handle);
}
struct sim_array *sim_mipmapped_at(const void *handle) {
    return sim_get(SIM_H_MIPMAPPED, handle);
}

/* Nothing shows the array any longer. What a kernel has found stays valid until the memory is
   removed, which waits for that. */
static void end_views(struct sim_array *a) {
    for (struct sim_view *v = a->views, *next; v; v = next) {
        next = v->next;
        v->array = NULL;
        v->next = NULL;
        __atomic_store_n(
                v->is_surface ? &v->surface.ended : &v->texture.ended, 1, __ATOMIC_RELEASE);
    }
    a->views = NULL;
}

static void free_array(struct sim_array *a) {
    const uint64_t address = a->address;
    end_views(a);
    for (unsigned i = 0; a->levels && i < a->texels.nlevels; i++) {
        if (!a->levels[i]) continue;
        sim_handle_drop(a->levels[i]->handle);
        free(a->levels[i]);
    }
    free(a->levels);
    sim_handle_drop(a->handle);
    sim_link_remove(&a->link);
    free(a);
    sim_mem_remove(address);
}
static void end_array(struct sim_link *link) {
    struct sim_array *a = SIM_OWNER(sim_array, link);
    for (unsigned i = 0; a->levels && i < a->texels.nlevels; i++)
        if (a->levels[i]) sim_handle_orphan(a->levels[i]->handle);
    sim_handle_orphan(a->handle);
    free_array(a);
}

static struct sim_array *new_array(
        struct sim_context *c, const CUDA_ARRAY3D_DESCRIPTOR *is, bool mipmapped) {
    struct sim_array *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->is = *is;
    a->context = c;
    a->is_mipmapped = mipmapped;
    if ((a->handle = sim_handle_new(mipmapped ? SIM_H_MIPMAPPED : SIM_H_ARRAY, a))) return a;
    free(a);
    return NULL;
}

/* false: no memory */
static bool place(struct sim_array *a, const struct sim_texels *t, uint64_t address) {
    struct sim_range r;
    if (!sim_mem_find(NULL, address, 1, &r)) return false;
    if (a->is_mipmapped && !(a->levels = calloc(t->nlevels, sizeof *a->levels))) return false;
    a->address = address;
    a->texels = *t;
    for (unsigned i = 0; i < t->nlevels; i++) {
        struct sim_level *l = &a->texels.levels[i];
        l->address += address;
        l->bytes = (unsigned char *)(uintptr_t)(l->address + (uint64_t)r.delta);
    }
    sim_link_add(&a->context->children, &a->link, end_array);
    return true;
}

/* The memory is poisoned without sim_lock, as that of sim_alloc_device. */
int sim_array_new(void **out, const CUDA_ARRAY3D_DESCRIPTOR *is, unsigned levels) {
    struct sim_context *c = sim_self.context;
    const void *handle = SIM_HANDLE(c->handle);
    uint64_t address;
    int result = check(c->device, is, levels != 0);
    if (result) return result;
    struct sim_texels t = describe(is, levels);
    const uint64_t bytes = lay_out(&t, is, sim_format_at(is->Format));
    pthread_mutex_unlock(&sim_lock);
    result = sim_mem_alloc(c->device, c, bytes, SIM_MEM_ARRAY, &address);
    pthread_mutex_lock(&sim_lock);
    if (result && sim_pools_shrink(c->device))
        result = sim_mem_alloc(c->device, c, bytes, SIM_MEM_ARRAY, &address);
    if (result) return result;
    struct sim_array *a = NULL;
    if (!sim_context_still(c, handle)) result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    else if (!(a = new_array(c, is, levels != 0)) || !place(a, &t, address))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) {
        *out = SIM_HANDLE(a->handle);
        return CUDA_SUCCESS;
    }
    if (a) sim_handle_drop(a->handle);
    free(a);
    sim_mem_remove(address);
    return result;
}

/* As memory: the device's work has finished before. Of a level it succeeds, as measured, but the
   level is its mipmapped array's and ends with that. */
int sim_array_destroy(struct sim_array *a) {
    const void *handle = SIM_HANDLE(a->handle);
    const enum sim_handle_kind kind = a->is_mipmapped ? SIM_H_MIPMAPPED : SIM_H_ARRAY;
    if (a->of) return CUDA_SUCCESS;
    const int result = sim_drain(NULL, a->context->device);
    if (result) return result;
    if (!(a = sim_find(kind, handle))) return CUDA_ERROR_INVALID_HANDLE; /* by another thread */
    free_array(a);
    return CUDA_SUCCESS;
}

struct sim_rows sim_array_rows(const struct sim_array *a) {
    const struct sim_level *l = &a->texels.levels[0];
    const struct sim_format *format = sim_format_at(a->is.Format);
    const unsigned side = format && format->is_block ? 4 : 1;
    return (struct sim_rows){ (l->width + side - 1) / side * (size_t)a->texels.texel_bytes,
        (l->height + side - 1) / side, l->depth };
}

/* Each level is one array, however often the program queries it. */
int sim_array_level(struct sim_array *m, unsigned level, void **out) {
    if (level >= m->texels.nlevels) return CUDA_ERROR_INVALID_VALUE;
    if (!m->levels[level]) {
        CUDA_ARRAY3D_DESCRIPTOR is = m->is;
        is.Width = sim_levels_shift(is.Width, level);
        if (is.Height) is.Height = sim_levels_shift(is.Height, level);
        if (m->texels.dims == 3) is.Depth = sim_levels_shift(is.Depth, level);
        struct sim_array *a = new_array(m->context, &is, false);
        if (!a) return CUDA_ERROR_OUT_OF_MEMORY;
        a->of = m;
        a->texels = m->texels;
        a->texels.nlevels = 1;
        a->texels.levels[0] = m->texels.levels[level];
        a->address = a->texels.levels[0].address;
        m->levels[level] = a;
    }
    *out = SIM_HANDLE(m->levels[level]->handle);
    return CUDA_SUCCESS;
}
