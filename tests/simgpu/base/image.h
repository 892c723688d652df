/* image.h - what textures and surfaces read and write: texels, in arrays or in device memory, and
   how a texture samples them. objects/array.c and objects/texture.c make them; execute/texture.c
   and execute/surface.c use them. */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include "base.h"
#include "cudadefs.h"

enum { SIM_LEVELS = 17 }; /* the most levels of detail: 2^16 texels, and 1 */
struct sim_level {
    uint32_t width, height, depth; /* in texels, 1 at least. depth: slices of a 3-D array, or
                                      layers, of which a cube has six */
    size_t pitch, slice;           /* bytes from the start of one row, or slice, to the next; of
                                      block-compressed formats a row is a row of blocks */
    unsigned char *bytes; /* where the texels of an array are; NULL: in device memory, at address */
    uint64_t address;
};
struct sim_texels {
    unsigned dims; /* 1 to 3 */
    bool layered, cube;
    bool linear;               /* memory without rows: cuTexObject's LINEAR resource */
    unsigned format, channels; /* a CUarray_format */
    unsigned texel_bytes;      /* of a block, if the format is block-compressed */
    unsigned nlevels;          /* levels[0] is the first one that the view shows */
    struct sim_level levels[SIM_LEVELS];
};
struct sim_texture {
    uint64_t handle;
    const struct sim_device *device; /* its kernels may use it */
    unsigned ended;                  /* __atomic; its array was destroyed */
    struct sim_texels texels;
    CUDA_TEXTURE_DESC how; /* as the program gave it, but see sim_texture_new: address modes that
                              need normalized coordinates are CLAMP without them */
};
struct sim_surface {
    uint64_t handle;
    const struct sim_device *device;
    unsigned ended;
    struct sim_texels texels; /* one level */
};

/* From any thread, without a lock, while kernels run; NULL: there is no such object, or its array
   was destroyed. It and its texels stay valid until the end of the quantum: who ends them waits for
   that (sim_mem_settle). */
const struct sim_texture *sim_texture_at(uint64_t handle);
const struct sim_surface *sim_surface_at(uint64_t handle);

/* The rest is for the driver, with sim_lock. Adding gives the object its handle; false: no memory.
   Textures and surfaces are counted together, from 1. */
bool sim_texture_add(struct sim_texture *texture);
void sim_texture_remove(struct sim_texture *texture);
struct sim_texture *sim_texture_find(uint64_t handle); /* also one whose array was destroyed */
bool sim_surface_add(struct sim_surface *surface);
void sim_surface_remove(struct sim_surface *surface);
struct sim_surface *sim_surface_find(uint64_t handle);

#endif
