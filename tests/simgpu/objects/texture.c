/* texture.c - texture and surface objects: what they show, and how a texture samples it. The
   objects that kernels look up are in base/image.c. */
#include "objects.h"

enum {
    ALIGNMENT = 14,
    PITCH_ALIGNMENT = 51,
    LINEAR_WIDTH = 69,
    PITCH2D_WIDTH = 70,
    PITCH2D_HEIGHT,
    PITCH2D_PITCH
}; /* CUdevice_attribute numbers */

/* ---- resources ---- */

static bool limit_exceeded(size_t n, int attribute) {
    return n > (size_t)sim_device_limit(sim_self.context->device, attribute);
}
static bool misaligned(uint64_t n, int attribute) {
    return n % (uint64_t)sim_device_limit(sim_self.context->device, attribute) != 0;
}

/* Measured: only integers and floats, no UNORM or blocks. 0: no such texels */
static unsigned memory_texel(unsigned format, unsigned channels) {
    const struct sim_format *f = sim_format_at(format);
    return f && format <= CU_AD_FORMAT_FLOAT ? sim_format_bytes(f, channels) : 0;
}

/* Measured for texels of 1 and 16 bytes: 2^30 texels, or 4 GiB. */
size_t sim_texture_linear_width(struct sim_device *device, unsigned texel) {
    const size_t most = 4 * (size_t)sim_device_limit(device, LINEAR_WIDTH);
    return texel > 4 ? 4 * most / texel : most;
}

/* Measured: whether there is memory, and enough of it, shows when a kernel reads it. A texture may
   have no texels, and rows that overlap. One of no texels has one here. */

static bool find_linear(const CUDA_RESOURCE_DESC *r, struct sim_texels *t) {
    const unsigned texel = memory_texel(r->res.linear.format, r->res.linear.numChannels);
    const uint64_t address = r->res.linear.devPtr;
    const size_t bytes = r->res.linear.sizeInBytes;
    if (!texel || !address || misaligned(address, ALIGNMENT) ||
            bytes / texel > sim_texture_linear_width(sim_self.context->device, texel))
        return false;
    *t = (struct sim_texels){ .dims = 1,
        .linear = true,
        .format = r->res.linear.format,
        .channels = r->res.linear.numChannels,
        .texel_bytes = texel,
        .nlevels = 1 };
    t->levels[0] = (struct sim_level){ .width = bytes < texel ? 1 : (uint32_t)(bytes / texel),
        .height = 1,
        .depth = 1,
        .pitch = bytes,
        .slice = bytes,
        .address = address };
    return true;
}

static bool find_pitch2d(const CUDA_RESOURCE_DESC *r, struct sim_texels *t) {
    const unsigned texel = memory_texel(r->res.pitch2D.format, r->res.pitch2D.numChannels);
    const uint64_t address = r->res.pitch2D.devPtr;
    const size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height,
                 pitch = r->res.pitch2D.pitchInBytes;
    if (!texel || !address || limit_exceeded(width, PITCH2D_WIDTH) ||
            limit_exceeded(height, PITCH2D_HEIGHT) || limit_exceeded(pitch, PITCH2D_PITCH) ||
            misaligned(address, ALIGNMENT) || misaligned(pitch, PITCH_ALIGNMENT))
        return false;
    *t = (struct sim_texels){ .dims = 2,
        .format = r->res.pitch2D.format,
        .channels = r->res.pitch2D.numChannels,
        .texel_bytes = texel,
        .nlevels = 1 };
    t->levels[0] = (struct sim_level){ .width = width ? (uint32_t)width : 1,
        .height = height ? (uint32_t)height : 1,
        .depth = 1,
        .pitch = pitch,
        .slice = pitch * height,
        .address = address };
    return true;
}

static int find_array(const CUDA_RESOURCE_DESC *r, struct sim_array **array) {
    const bool mipmapped = r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    const void *handle = mipmapped ? r->res.mipmap.hMipmappedArray : r->res.array.hArray;
    struct sim_array *a = mipmapped ? sim_mipmapped_at(handle) : sim_array_at(handle);
    *array = a;
    if (!a) return handle ? sim_not_there(handle) : CUDA_ERROR_INVALID_VALUE;
    struct sim_range range; /* of a peer's array, too */
    return sim_mem_find(NULL, a->address, 1, &range) &&
                    sim_context_reaches(sim_self.context, &range)
            ? CUDA_SUCCESS
            : CUDA_ERROR_INVALID_VALUE;
}

/* array: NULL for device memory. */
static int find_resource(
        const CUDA_RESOURCE_DESC *r, struct sim_array **array, struct sim_texels *t) {
    int result = CUDA_SUCCESS;
    *array = NULL;
    if (r->flags) return CUDA_ERROR_INVALID_VALUE;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        result = find_array(r, array);
        if (*array) *t = (*array)->texels;
        return result;
    case CU_RESOURCE_TYPE_LINEAR:
        return find_linear(r, t) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_RESOURCE_TYPE_PITCH2D:
        return find_pitch2d(r, t) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- resource views: some levels and layers of an array, also in another format ---- */

/* By CUresourceViewFormat: the format and channels of the texels. Measured: a view has one. */
static bool view_format(unsigned format, unsigned *is, unsigned *channels) {
    static const unsigned char plain[] = { CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8,
        CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
        CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT };
    static const unsigned char blocks[] = { CU_AD_FORMAT_BC1_UNORM, CU_AD_FORMAT_BC2_UNORM,
        CU_AD_FORMAT_BC3_UNORM, CU_AD_FORMAT_BC4_UNORM, CU_AD_FORMAT_BC4_SNORM,
        CU_AD_FORMAT_BC5_UNORM, CU_AD_FORMAT_BC5_SNORM, CU_AD_FORMAT_BC6H_UF16,
        CU_AD_FORMAT_BC6H_SF16, CU_AD_FORMAT_BC7_UNORM };
    if (format == CU_RES_VIEW_FORMAT_NONE || format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7) return false;
    if (format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1) {
        *is = blocks[format - CU_RES_VIEW_FORMAT_UNSIGNED_BC1];
        *channels = sim_format_at(*is)->channels;
    } else {
        *is = plain[(format - 1) / 3];
        *channels = 1u << (format - 1) % 3;
    }
    return true;
}

static bool select_levels(const CUDA_RESOURCE_VIEW_DESC *v, struct sim_texels *t, bool mipmapped) {
    if (!mipmapped) return !v->firstMipmapLevel && !v->lastMipmapLevel;
    if (v->firstMipmapLevel > v->lastMipmapLevel || v->lastMipmapLevel >= t->nlevels) return false;
    t->nlevels = v->lastMipmapLevel - v->firstMipmapLevel + 1;
    memmove(t->levels, t->levels + v->firstMipmapLevel, t->nlevels * sizeof *t->levels);
    return true;
}

/* Of layered cubes a layer is a face: whole cubes must be left. */
static bool select_layers(const CUDA_RESOURCE_VIEW_DESC *v, struct sim_texels *t) {
    if (!t->layered) return !v->firstLayer && !v->lastLayer;
    const unsigned n = v->lastLayer - v->firstLayer + 1;
    if (v->firstLayer > v->lastLayer || v->lastLayer >= t->levels[0].depth ||
            (t->cube && (v->firstLayer % 6 || n % 6)))
        return false;
    for (unsigned i = 0; i < t->nlevels; i++) {
        struct sim_level *l = &t->levels[i];
        l->depth = n;
        l->bytes += v->firstLayer * l->slice;
        l->address += v->firstLayer * l->slice;
    }
    return true;
}

static bool apply_region(
        const CUDA_RESOURCE_VIEW_DESC *v, const struct sim_array *a, struct sim_texels *t) {
    unsigned format = t->format, channels = t->channels;
    if (!a || sim_format_at(t->format)->is_block || !view_format(v->format, &format, &channels))
        return false;
    const struct sim_format *f = sim_format_at(format);
    const unsigned scale = f->is_block ? 4 : 1;
    if ((f->is_block && t->format != CU_AD_FORMAT_UNSIGNED_INT32) ||
            sim_format_bytes(f, channels) != t->texel_bytes || v->width != a->is.Width * scale ||
            v->height != a->is.Height * scale || v->depth != a->is.Depth)
        return false;
    t->format = format;
    t->channels = channels;
    for (unsigned i = 0; i < t->nlevels && f->is_block; i++) {
        t->levels[i].width = sim_levels_shift(v->width, i);
        t->levels[i].height = v->height ? sim_levels_shift(v->height, i) : 1;
    }
    return select_levels(v, t, a->is_mipmapped) && select_layers(v, t);
}

/* ---- how a texture samples ---- */

static bool is_srgb_only(unsigned format) {
    return format == CU_AD_FORMAT_BC1_UNORM_SRGB || format == CU_AD_FORMAT_BC2_UNORM_SRGB ||
            format == CU_AD_FORMAT_BC3_UNORM_SRGB || format == CU_AD_FORMAT_BC7_UNORM_SRGB;
}

/* Measured: the flags 4 and 8, which have no name, are accepted. Linear filtering of integers and
   sRGB of what has no such colors are accepted and have no effect here. Formats that are sRGB are
   refused without the flag, and accepted with it. */
static bool how_bad(
        const CUDA_TEXTURE_DESC *how, const struct sim_array *a, const struct sim_texels *t) {
    enum { ALL_FLAGS = 0x7f };
    if (how->flags & ~(unsigned)ALL_FLAGS || how->filterMode > CU_TR_FILTER_MODE_LINEAR ||
            how->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return true;
    for (int i = 0; i < 3; i++)
        if (how->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER) return true;
    if (is_srgb_only(t->format) && !(how->flags & CU_TRSF_SRGB)) return true;
    if (how->flags & CU_TRSF_SEAMLESS_CUBEMAP && !t->cube) return true;
    return a && a->is_mipmapped && !(how->flags & CU_TRSF_NORMALIZED_COORDINATES);
}

/* As documented: the anisotropy is clamped; without normalized coordinates an address mode that
   repeats the texture is that of the edge. */
static CUDA_TEXTURE_DESC effective(const CUDA_TEXTURE_DESC *how, unsigned format) {
    CUDA_TEXTURE_DESC is = *how;
    for (int i = 0; i < 3 && !(is.flags & CU_TRSF_NORMALIZED_COORDINATES); i++)
        if (is.addressMode[i] == CU_TR_ADDRESS_MODE_WRAP ||
                is.addressMode[i] == CU_TR_ADDRESS_MODE_MIRROR)
            is.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    if (!sim_format_at(format)->is_srgb) is.flags &= ~(unsigned)CU_TRSF_SRGB;
    is.maxAnisotropy = is.maxAnisotropy < 1 ? 1 : is.maxAnisotropy > 16 ? 16 : is.maxAnisotropy;
    return is;
}

/* ---- objects ---- */

struct sim_view *sim_texture_view(uint64_t handle) {
    struct sim_texture *t = sim_texture_find(handle);
    return t ? (void *)((char *)t - offsetof(struct sim_view, texture)) : NULL;
}
struct sim_view *sim_surface_view(uint64_t handle) {
    struct sim_surface *s = sim_surface_find(handle);
    return s ? (void *)((char *)s - offsetof(struct sim_view, surface)) : NULL;
}

void sim_view_free(struct sim_view *v) {
    struct sim_array *owner = v->array;
    if (owner && owner->of) owner = owner->of;
    for (struct sim_view **p = owner ? &owner->views : NULL; p && *p; p = &(*p)->next)
        if (*p == v) {
            *p = v->next;
            break;
        }
    if (v->is_surface) sim_surface_remove(&v->surface);
    else sim_texture_remove(&v->texture);
    sim_link_remove(&v->link);
    sim_mem_settle();
    free(v);
}
static void end_view(struct sim_link *link) { sim_view_free(SIM_OWNER(sim_view, link)); }

/* Takes the object over. */
static int publish(struct sim_view *v, uint64_t *out) {
    struct sim_array *owner = v->array && v->array->of ? v->array->of : v->array;
    v->context = sim_self.context;
    v->texture.device = v->surface.device = v->context->device;
    if (v->is_surface ? !sim_surface_add(&v->surface) : !sim_texture_add(&v->texture)) {
        free(v);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_link_add(&v->context->children, &v->link, end_view);
    if (owner) {
        v->next = owner->views;
        owner->views = v;
    }
    *out = v->is_surface ? v->surface.handle : v->texture.handle;
    return CUDA_SUCCESS;
}

int sim_texture_new(uint64_t *out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
        const CUDA_RESOURCE_VIEW_DESC *region) {
    struct sim_array *array;
    struct sim_texels texels = { 0 };
    const int result = find_resource(resource, &array, &texels);
    if (result) return result;
    if ((region && !apply_region(region, array, &texels)) || how_bad(how, array, &texels))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_view *v = calloc(1, sizeof *v);
    if (!v) return CUDA_ERROR_OUT_OF_MEMORY;
    v->array = array;
    v->resource = *resource;
    v->how = *how;
    if (region) v->region = *region;
    v->texture.texels = texels;
    v->texture.how = effective(how, texels.format);
    return publish(v, out);
}

/* Measured: the array need not have CUDA_ARRAY3D_SURFACE_LDST. */
int sim_surface_new(uint64_t *out, const CUDA_RESOURCE_DESC *resource) {
    struct sim_array *array;
    struct sim_texels texels = { 0 };
    const int result = resource->resType == CU_RESOURCE_TYPE_ARRAY
            ? find_resource(resource, &array, &texels)
            : CUDA_ERROR_INVALID_VALUE;
    if (result) return result;
    struct sim_view *v = calloc(1, sizeof *v);
    if (!v) return CUDA_ERROR_OUT_OF_MEMORY;
    v->is_surface = true;
    v->array = array;
    v->resource = *resource;
    v->surface.texels = texels;
    return publish(v, out);
}
