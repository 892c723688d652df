/* cuTensorMap.c - the entry points of tensor maps. Which arguments are refused is CUDA's
   documentation, and was compared with a driver for an H200 (tests/device/boxes). */
#include "../base/tensor_map.h"
#include "driver.h"

enum {
    INTERLEAVE_NONE,
    INTERLEAVE_16B,
    INTERLEAVE_32B,
    MAX_INTERLEAVE = INTERLEAVE_32B,
    SWIZZLE_NONE = 0,
    SWIZZLE_32B,
    MAX_SWIZZLE = 3, /* measured: sm_90 has none of those with other atoms */
    MAX_PROMOTION = 3,
    MAX_BOX = 256,
    MAX_PIXELS = 1024,
    MAX_STEP = 8
};
static const uint64_t max_dim = (uint64_t)1 << 32, stride_end = (uint64_t)1 << 40;

/* What both encodings take. */
struct tensor {
    unsigned type, rank;
    void *address;
    const uint64_t *dim, *stride;
    const uint32_t *step;
    unsigned interleave, swizzle, promotion, fill;
};

#define REFUSE(...) return sim_because(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

static bool misaligned(const void *address, unsigned alignment) {
    return (uintptr_t)address % alignment != 0;
}
static unsigned alignment_of(unsigned interleave) { return interleave == INTERLEAVE_32B ? 32 : 16; }

static int check_modes(const struct tensor *t) {
    if (t->type >= SIM_TENSOR_TYPES) REFUSE("tensorDataType %u is not supported", t->type);
    if (t->interleave > MAX_INTERLEAVE) REFUSE("interleave %u is unknown", t->interleave);
    if (t->swizzle > MAX_SWIZZLE) REFUSE("swizzle %u is not supported", t->swizzle);
    if (t->promotion > MAX_PROMOTION) REFUSE("l2Promotion %u is unknown", t->promotion);
    if (t->fill > 1) REFUSE("oobFill %u is unknown", t->fill);
    if (t->fill && t->type < SIM_TENSOR_F16) REFUSE("oobFill NaN needs a floating-point type");
    return CUDA_SUCCESS;
}

static int check_tensor(const struct tensor *t) {
    const unsigned unit = alignment_of(t->interleave);
    if (misaligned(t->address, unit)) REFUSE("globalAddress must be %u byte aligned", unit);
    if (!t->dim || !t->step || (t->rank > 1 && !t->stride)) REFUSE("an array is NULL");
    for (unsigned k = 0; k < t->rank; k++) {
        if (!t->dim[k] || t->dim[k] > max_dim) REFUSE("globalDim[%u] must be 1 to 2^32", k);
        if (!t->step[k] || t->step[k] > MAX_STEP) REFUSE("elementStrides[%u] must be 1 to 8", k);
        if (k && (t->stride[k - 1] % unit || t->stride[k - 1] >= stride_end))
            REFUSE("globalStrides[%u] must be a multiple of %u, below 2^40", k - 1, unit);
    }
    return CUDA_SUCCESS;
}

/* elements: of the box along the innermost dimension */
static int check_inner(const struct tensor *t, unsigned elements) {
    static const unsigned span[] = { UINT32_MAX, 32, 64, 128 };
    const unsigned bytes = elements * sim_tensor_bytes(t->type);
    if (t->interleave) return CUDA_SUCCESS;
    if (bytes % 16) REFUSE("the box's inner dimension, %u bytes, must be a multiple of 16", bytes);
    if (bytes > span[t->swizzle])
        REFUSE("the box's inner dimension, %u bytes, exceeds the swizzle size", bytes);
    return CUDA_SUCCESS;
}

static int check(const void *to, const struct tensor *t, unsigned min_rank) {
    int result = CUDA_SUCCESS;
    if (!to) REFUSE("tensorMap is NULL"); /* measured: its alignment does not matter */
    if (t->interleave && min_rank < 3) min_rank = 3;
    if (t->rank < min_rank || t->rank > SIM_TENSOR_RANK)
        REFUSE("tensorRank must be %u to 5", min_rank);
    result = check_modes(t);
    return result ? result : check_tensor(t);
}

static struct sim_tensor_map map_of(const struct tensor *t) {
    struct sim_tensor_map map;
    memset(&map, 0, sizeof map);
    map.mark = SIM_TENSOR_MAP_MARK;
    map.type = (uint8_t)t->type;
    map.rank = (uint8_t)t->rank;
    map.interleave = (uint8_t)t->interleave;
    map.swizzle = (uint8_t)t->swizzle;
    map.promotion = (uint8_t)t->promotion;
    map.fill = (uint8_t)t->fill;
    map.address = (uint64_t)(uintptr_t)t->address;
    for (unsigned k = 0; k < t->rank; k++) {
        map.last[k] = (uint32_t)(t->dim[k] - 1);
        map.step[k] = (uint8_t)t->step[k];
        if (k) map.stride[k - 1] = t->stride[k - 1];
    }
    return map;
}

static void write_map(void *to, const struct sim_tensor_map *map) {
    memset(to, 0, SIM_TENSOR_MAP_BYTES);
    memcpy(to, map, sizeof *map);
}

SIM_API(cuTensorMapEncodeTiled,
        (void *to, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill),
        (to, type, rank, address, dim, stride, box, step, interleave, swizzle, promotion, fill),
        SIM_CTX) {
    const struct tensor t = { type, rank, address, dim, stride, step, interleave, swizzle,
        promotion, fill };
    int result = check(to, &t, 1);
    if (result) return result;
    if (!box) REFUSE("boxDim is NULL");
    for (unsigned k = 0; k < rank; k++)
        if (!box[k] || box[k] > MAX_BOX) REFUSE("boxDim[%u] must be 1 to 256", k);
    if (interleave == INTERLEAVE_32B && swizzle != SWIZZLE_32B)
        REFUSE("interleave 32B needs swizzle 32B");
    result = check_inner(&t, box[0]);
    if (result) return result;
    struct sim_tensor_map map = map_of(&t);
    for (unsigned k = 0; k < rank; k++) map.box[k] = (uint16_t)box[k];
    write_map(to, &map);
    return CUDA_SUCCESS;
}

/* Measured: interleaved, corner k is compared with dimension k. */
static int check_corners(const struct tensor *t, const int *lower, const int *upper) {
    const int limit = t->rank == 3 ? 32768 : t->rank == 4 ? 128 : 16;
    if (!lower || !upper) REFUSE("a corner is NULL");
    for (unsigned k = 0; k + 2 < t->rank; k++) {
        const uint64_t dim = t->dim[t->interleave ? k : k + 1];
        if (lower[k] < -limit || lower[k] >= limit || upper[k] < -limit || upper[k] >= limit)
            REFUSE("offset %u of a corner must be %d to %d", k, -limit, limit - 1);
        if ((int64_t)dim + upper[k] - lower[k] < 1) REFUSE("the bounding box has no area");
    }
    return CUDA_SUCCESS;
}

/* Measured: interleave 32B does not need swizzle 32B here. */
SIM_API(cuTensorMapEncodeIm2col,
        (void *to, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                const uint64_t *stride, const int *lower, const int *upper, uint32_t channels,
                uint32_t pixels, const uint32_t *step, unsigned interleave, unsigned swizzle,
                unsigned promotion, unsigned fill),
        (to, type, rank, address, dim, stride, lower, upper, channels, pixels, step, interleave,
                swizzle, promotion, fill),
        SIM_CTX) {
    const struct tensor t = { type, rank, address, dim, stride, step, interleave, swizzle,
        promotion, fill };
    int result = check(to, &t, 3);
    if (!result) result = check_corners(&t, lower, upper);
    if (result) return result;
    if (!channels || channels > MAX_BOX) REFUSE("channelsPerPixel must be 1 to 256");
    if (!pixels || pixels > MAX_PIXELS) REFUSE("pixelsPerColumn must be 1 to 1024");
    result = check_inner(&t, channels);
    if (result) return result;
    struct sim_tensor_map map = map_of(&t);
    map.im2col = true;
    map.channels = (uint16_t)channels;
    map.pixels = (uint16_t)pixels;
    for (unsigned k = 0; k + 2 < rank; k++) {
        map.lower[k] = (int16_t)lower[k];
        map.upper[k] = (int16_t)upper[k];
    }
    write_map(to, &map);
    return CUDA_SUCCESS;
}

/* Documented: from compute capability 10.0 on. */
SIM_API(cuTensorMapEncodeIm2colWide,
        (void *to, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                const uint64_t *stride, int lower, int upper, uint32_t channels, uint32_t pixels,
                const uint32_t *step, unsigned interleave, unsigned mode, unsigned swizzle,
                unsigned promotion, unsigned fill),
        (to, type, rank, address, dim, stride, lower, upper, channels, pixels, step, interleave,
                mode, swizzle, promotion, fill),
        SIM_CTX) {
    (void)to, (void)type, (void)rank, (void)address, (void)dim, (void)stride, (void)lower;
    (void)upper, (void)channels, (void)pixels, (void)step, (void)interleave, (void)mode;
    (void)swizzle, (void)promotion, (void)fill;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Measured: the address need not be a multiple of 32, whatever the map's interleaving. */
SIM_API(cuTensorMapReplaceAddress, (void *to, void *address), (to, address), SIM_CTX) {
    struct sim_tensor_map map;
    if (!to) REFUSE("tensorMap is NULL");
    memcpy(&map, to, sizeof map);
    if (map.mark != SIM_TENSOR_MAP_MARK) REFUSE("tensorMap is not a tensor map");
    if (misaligned(address, alignment_of(0))) REFUSE("globalAddress must be 16 byte aligned");
    map.address = (uint64_t)(uintptr_t)address;
    write_map(to, &map);
    return CUDA_SUCCESS;
}
