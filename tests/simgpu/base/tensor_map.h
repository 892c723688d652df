/* tensor_map.h - what a CUtensorMap holds here: 128 bytes that only this device reads. The driver
   writes them (driver/cuTensorMap.c), kernels change them with tensormap.replace, and copies of
   tensors read them. */
#ifndef SIM_TENSOR_MAP_H
#define SIM_TENSOR_MAP_H

#include "base.h"

/* Numbers of CUtensorMapDataType */
enum sim_tensor_type {
    SIM_TENSOR_U8,
    SIM_TENSOR_U16,
    SIM_TENSOR_U32,
    SIM_TENSOR_S32,
    SIM_TENSOR_U64,
    SIM_TENSOR_S64,
    SIM_TENSOR_F16,
    SIM_TENSOR_F32,
    SIM_TENSOR_F64,
    SIM_TENSOR_BF16,
    SIM_TENSOR_F32_FTZ,
    SIM_TENSOR_TF32,
    SIM_TENSOR_TF32_FTZ,
    SIM_TENSOR_TYPES
};
enum {
    SIM_TENSOR_RANK = 5,
    SIM_TENSOR_MAP_BYTES = 128,
    SIM_TENSOR_MAP_ALIGNMENT = 64,
    SIM_TENSOR_MAP_MARK = 0x70616d74, /* no other bytes are a map */
};

/* The innermost dimension is the first. */
struct sim_tensor_map {
    uint32_t mark;
    uint8_t type, rank, interleave, swizzle, promotion, fill; /* CUDA's numbers */
    bool im2col;
    bool was_tf32; /* see execute/tensor.c */
    uint64_t address;
    uint64_t stride[SIM_TENSOR_RANK - 1];
    uint32_t last[SIM_TENSOR_RANK]; /* the dimension less 1 */
    uint16_t box[SIM_TENSOR_RANK];  /* of tiles */
    uint8_t step[SIM_TENSOR_RANK];
    int16_t lower[3], upper[3]; /* of im2col, as the next two */
    uint16_t channels, pixels;
};

static inline unsigned sim_tensor_bytes(unsigned type) {
    static const unsigned char bytes[SIM_TENSOR_TYPES] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
    return type < SIM_TENSOR_TYPES ? bytes[type] : 0;
}

#endif
