/* function.c - functions: their attributes, and how many blocks of them the invented multiprocessor
   has room for. */
#include "objects.h"

/* ---- occupancy ---- */

struct sim_occupancy sim_occupancy(
        const struct sim_function *f, unsigned threads, uint64_t dynamic_shared) {
    const struct sim_code_info *info = sim_code_info(f->code);
    /* of a warp */
    unsigned warps = (threads + 31) / 32, registers = (sim_registers(f) * 32 + 255) / 256 * 256;
    const struct sim_capability *const c = sim_settings.capability;
    const uint64_t used = info->static_shared + dynamic_shared + c->reserved_shared,
                   shared = (used + 127) / 128 * 128;
    unsigned most = SIM_SM_REGS / registers * 32, blocks = c->sm_blocks;
    struct sim_occupancy o = { 0, most < SIM_BLOCK_THREADS ? (int)most : SIM_BLOCK_THREADS };
    if (!warps || threads > (unsigned)o.max_threads) return o;
    if (c->sm_threads / 32 / warps < blocks) blocks = c->sm_threads / 32 / warps;
    if (SIM_SM_REGS / registers / warps < blocks) blocks = SIM_SM_REGS / registers / warps;
    if (c->sm_shared < blocks * shared) blocks = (unsigned)(c->sm_shared / shared);
    o.blocks = (int)blocks;
    return o;
}

/* As measured: none above the limit that the function opted in to, and only the low 32 bits of the
   size count. */
int sim_launch_blocks(const struct sim_function *f, int threads, size_t shared) {
    if ((uint32_t)shared > (unsigned)f->prefers.max_dynamic) return 0;
    return sim_occupancy(f, (unsigned)threads, (uint32_t)shared).blocks;
}

/* ---- attributes ---- */

/* As measured, .reqntid does not lower it. */
int sim_most_threads(const struct sim_function *f) {
    const int most = sim_occupancy(f, 32, 0).max_threads, limit = (int)sim_threads_limit(f);
    return limit < most ? limit : most;
}

int sim_attribute(
        const struct sim_function *f, const struct sim_preferences *p, int attribute, int *value) {
    const struct sim_code_info *info = sim_code_info(f->code);
    if (attribute < 0 || attribute > CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = sim_most_threads(f); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)sim_registers(f); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)f->module->image->sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)sim_settings.capability->sm; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = p->max_dynamic == SIM_DEFAULT ? sim_default_dynamic(info->static_shared)
                                               : p->max_dynamic;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = p->carveout; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (f->func->reqnctapercluster[0]) {
            *value = (int)f->func->reqnctapercluster[attribute -
                    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
            break;
        }
        /* fall through */
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = p->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = f->func->explicit_cluster; break;
    default: *value = 0; /* cache mode */
    }
    return CUDA_SUCCESS;
}

int sim_prefer(const struct sim_function *f, struct sim_preferences *p, int attribute, int value) {
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 ||
                value + (int64_t)sim_code_info(f->code)->static_shared >
                        sim_settings.capability->block_shared)
            return CUDA_ERROR_INVALID_VALUE;
        p->max_dynamic = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return sim_because(CUDA_ERROR_INVALID_VALUE,
                    "Requested preferred shared mem carveout invalid %d", value);
        p->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value < 0 || (f->func->maxclusterrank && (uint32_t)value > f->func->maxclusterrank) ||
                (f->func->reqnctapercluster[0] &&
                        value != p->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]))
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > 2) return CUDA_ERROR_INVALID_VALUE;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    p->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
    return CUDA_SUCCESS;
}

int sim_param_info(const struct sim_function *f, size_t index, size_t *offset, size_t *bytes) {
    if (!offset || index >= f->func->nparams) return CUDA_ERROR_INVALID_VALUE;
    *offset = f->func->params[index].address;
    if (bytes) *bytes = f->func->params[index].size;
    return CUDA_SUCCESS;
}
