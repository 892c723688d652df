/* array.h - arrays, and the textures and surfaces that show them or device memory to kernels. */
#ifndef SIM_ARRAY_H
#define SIM_ARRAY_H

#include "../base/image.h"

struct sim_view;

/* An array, also one with several levels. Its texels are an allocation of the device, without an
   address for programs. */
struct sim_array {
    struct sim_link link; /* of its context; a level is in no ring */
    uint64_t handle;
    struct sim_context *context;
    CUDA_ARRAY3D_DESCRIPTOR is;
    uint64_t address;
    struct sim_texels texels;
    bool is_mipmapped;
    struct sim_array *of;      /* whose level it is, or NULL */
    struct sim_array **levels; /* of a mipmapped array: those that the program got, or NULL */
    struct sim_view *views;    /* what shows it; of a level: in its mipmapped array's list */
};

/* A texture or surface object. */
struct sim_view {
    struct sim_link link; /* of its context */
    struct sim_context *context;
    struct sim_array *array; /* NULL: device memory, or the array was destroyed */
    struct sim_view *next;   /* of the same array */
    bool is_surface;
    struct sim_texture texture;
    struct sim_surface surface;
    CUDA_RESOURCE_DESC resource; /* as the program gave them */
    CUDA_TEXTURE_DESC how;
    CUDA_RESOURCE_VIEW_DESC region;
    const struct sim_reference *reference; /* whose object it is, or NULL: the program's */
};

/* A texture or surface reference: of a module, which then has the variable with the object's
   number, or one that the program created. */
struct sim_reference {
    struct sim_link link; /* of its context */
    uint64_t handle;
    struct sim_context *context;
    bool is_surface, is_bound;
    uint64_t variable; /* its address, or 0 */
    uint64_t object;   /* what kernels use; 0: it is not bound, or to what no object can have */
    unsigned format, channels;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    struct sim_reference *next; /* of the same module */
};

/* array.c */
struct sim_format {
    unsigned char format, channels, bytes; /* a CUarray_format; channels: 0: 1, 2 or 4; bytes: of
                                              a channel if these vary, else of a texel or block */
    bool is_integer, is_block, is_srgb;    /* is_srgb: the device converts sRGB colors of it */
};
const struct sim_format *sim_format_at(unsigned format); /* NULL: there is none */
/* bytes of a texel or block; 0: not with so many channels */
unsigned sim_format_bytes(const struct sim_format *format, unsigned channels);
bool sim_format_is_video(unsigned format);
unsigned sim_levels_shift(size_t extent, unsigned level); /* an extent of a level, 1 at least */
int sim_device_limit(struct sim_device *device, int attribute);
/* levels: 0: an array; else clamped. In the current context; [lock], released meanwhile */
int sim_array_new(void **out, const CUDA_ARRAY3D_DESCRIPTOR *is, unsigned levels);
struct sim_array *sim_array_at(const void *handle); /* NULL: there is none */
struct sim_array *sim_mipmapped_at(const void *handle);
int sim_array_destroy(struct sim_array *array); /* waits for the device's work */
/* bytes of a row, rows of a slice, slices or layers: of blocks, if the format has them */
struct sim_rows {
    size_t width, height, depth;
};
struct sim_rows sim_array_rows(const struct sim_array *array);
int sim_array_level(struct sim_array *mipmapped, unsigned level, void **out);

/* texture.c */
/* the most texels of linear memory; texel: their bytes */
size_t sim_texture_linear_width(struct sim_device *device, unsigned texel);
int sim_texture_new(uint64_t *out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
        const CUDA_RESOURCE_VIEW_DESC *region);
int sim_surface_new(uint64_t *out, const CUDA_RESOURCE_DESC *resource);
struct sim_view *sim_texture_view(uint64_t handle); /* NULL: there is none */
struct sim_view *sim_surface_view(uint64_t handle);
void sim_view_free(struct sim_view *view); /* waits until no kernel looks at it */

/* reference.c */
/* variable: 0: not a module's; NULL: no memory */
struct sim_reference *sim_reference_new(
        struct sim_context *context, bool is_surface, uint64_t variable);
struct sim_reference *sim_reference_at(bool is_surface, const void *handle); /* NULL: not one */
void sim_reference_free(struct sim_reference *reference);
/* Before a change: waits for kernels that may use it; [lock], released meanwhile. */
int sim_reference_settle(struct sim_reference **reference);
void sim_reference_renew(struct sim_reference *reference); /* after a change */
/* [lock], released meanwhile; 1: no object can have that, and nothing has changed */
int sim_reference_bind(struct sim_reference *reference, const CUDA_RESOURCE_DESC *resource);
void sim_reference_unbind(struct sim_reference *reference); /* settled before */
int sim_reference_align(const struct sim_reference *reference, CUdeviceptr address, size_t *offset);

#endif
