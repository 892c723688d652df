/* cuOccupancy.c - the entry points that say how many blocks and clusters of a kernel a device has
   room for. */
#include "driver.h"

static int active_blocks(int *out, void *handle, int threads, size_t shared, unsigned flags) {
    struct sim_function *f;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    const int result = sim_function_find(handle, sim_self.context, &f);
    if (result) return result;
    if (!out || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    *out = sim_launch_blocks(f, threads, shared);
    return CUDA_SUCCESS;
}
SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessor,
        (int *out, void *f, int threads, size_t shared), (out, f, threads, shared), SIM_CTX) {
    return active_blocks(out, f, threads, shared, 0);
}
SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        (int *out, void *f, int threads, size_t shared, unsigned flags),
        (out, f, threads, shared, flags), SIM_CTX) {
    return active_blocks(out, f, threads, shared, flags);
}

/* The block size with the most threads per multiprocessor; the largest of several. The user's
   function is called without sim_lock. */
static int best_block(int *min_grid, int *best, void *handle, size_t (*shared_of)(int),
        size_t shared, int limit, unsigned flags) {
    struct sim_function *f;
    const int result = sim_function_find(handle, sim_self.context, &f);
    if (result) return result;
    if (!min_grid || !best || limit < 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    struct sim_module *m = f->module;
    int most = sim_most_threads(f), top = 0;
    if (limit && limit < most) most = limit;
    *best = *min_grid = 0;
    m->refs++;
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
        if (shared_of) {
            pthread_mutex_unlock(&sim_lock);
            shared = shared_of(threads);
            pthread_mutex_lock(&sim_lock);
        }
        int blocks = sim_launch_blocks(f, threads, shared);
        if (blocks * threads > top) {
            top = blocks * threads;
            *best = threads;
            *min_grid = blocks * __builtin_popcountll(sim_green_sms(sim_green_current()));
        }
    }
    sim_module_unref(m);
    return CUDA_SUCCESS;
}
SIM_API(cuOccupancyMaxPotentialBlockSize,
        (int *grid, int *block, void *f, size_t (*shared_of)(int), size_t shared, int limit),
        (grid, block, f, shared_of, shared, limit), SIM_CTX) {
    return best_block(grid, block, f, shared_of, shared, limit, 0);
}
SIM_API(cuOccupancyMaxPotentialBlockSizeWithFlags,
        (int *grid, int *block, void *f, size_t (*shared_of)(int), size_t shared, int limit,
                unsigned flags),
        (grid, block, f, shared_of, shared, limit, flags), SIM_CTX) {
    return best_block(grid, block, f, shared_of, shared, limit, flags);
}

SIM_API(cuOccupancyAvailableDynamicSMemPerBlock,
        (size_t * out, void *handle, int blocks, int threads), (out, handle, blocks, threads),
        SIM_CTX) {
    struct sim_function *f;
    const int result = sim_function_find(handle, sim_self.context, &f);
    if (result) return result;
    if (!out || blocks <= 0 || threads <= 0 ||
            sim_occupancy(f, (unsigned)threads, 0).blocks < blocks)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_capability *const c = sim_settings.capability;
    size_t fixed = sim_code_info(f->code)->static_shared, used = fixed + c->reserved_shared;
    size_t each = (size_t)(c->sm_shared / (unsigned)blocks) / 128 * 128,
           left = each > used ? each - used : 0, most = (size_t)f->prefers.max_dynamic;
    *out = left < most ? left : most;
    return CUDA_SUCCESS;
}

/* ---- clusters ---- */

SIM_API(cuOccupancyMaxActiveClusters, (int *out, void *handle, const CUlaunchConfig *c),
        (out, handle, c), SIM_CTX) {
    struct sim_function *f;
    if (!out || !c || !handle) return CUDA_ERROR_INVALID_VALUE;
    const int result = sim_function_find(handle, sim_self.context, &f);
    return result ? result : sim_launch_clusters(c, f, out);
}

SIM_API(cuOccupancyMaxPotentialClusterSize, (int *out, void *handle, const CUlaunchConfig *c),
        (out, handle, c), SIM_CTX) {
    struct sim_function *f;
    if (!out || !c || !handle) return CUDA_ERROR_INVALID_VALUE;
    const int result = sim_function_find(handle, sim_self.context, &f);
    return result ? result : sim_launch_largest_cluster(c, f, out);
}
