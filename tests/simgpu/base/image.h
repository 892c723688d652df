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
    size_t pitch, slice;  /* bytes from the start of one row, or slice, to the next; of
                             block-compressed formats a row is a row of blocks */
    unsigned char *bytes; /* where the texels of an array are; NULL: in device memory, at address */
    uint64_t address;
};
struct sim_texels {
    unsigned dims; /* 1 to 3 */
    bool layered, cube;
    bool linear;                    /* memory without rows: cuTexObject's LINEAR resource */
    unsigned format, channels;      /* a CUarray_format */
    unsigned texel_bytes;           /* of a block, if the format is block-compressed */
    unsigned nlevels;               /* levels[0] is the first one that the view shows */
    struct sim_level levels[SIM_LEVELS];
};
struct sim_texture {
    uint64_t handle;
    struct sim_texels texels;
    CUDA_TEXTURE_DESC how;
};
struct sim_surface {
    uint64_t handle;
    struct sim_texels texels; /* one level */
};

/* From any thread, without a lock, while kernels run; NULL: there is no such object. */
const struct sim_texture *sim_texture_at(uint64_t handle);
const struct sim_surface *sim_surface_at(uint64_t handle);

#endif
