/* address.c - the slow, exact way from a device address to bytes, one lane at a time; it finds every fault.
   access.h has the fast way. */
#include "code.h"

/* The ranges this worker used most recently: blocks are short-lived, and a table lookup takes a lock. */
static __thread struct { struct sim_device *viewer; struct sim_range range; } recent[8];
static __thread unsigned recent_next;

bool sim_find_range(struct sim_block *b, uint64_t a, unsigned size, struct sim_range *out)
{
    uint64_t generation = __atomic_load_n(&sim_mem_generation, __ATOMIC_ACQUIRE);
    struct sim_device *viewer = b->grid->device;
    for (unsigned k = 0; k < 8; k++) {
        const struct sim_range *r = &recent[k].range;
        const bool good = r->generation == generation && recent[k].viewer == viewer;
        if (good && a >= r->lo && a < r->hi && r->hi - a >= size) {
            *out = *r;
            return true;
        }
    }
    if (!sim_mem_find(viewer, a, size, out)) return false;
    recent[recent_next].viewer = viewer;
    recent[recent_next].range = *out;
    recent_next = (recent_next + 1) % 8;
    return true;
}

void *sim_at(struct sim_warp *w, const struct sim_insn *i, int lane, enum sim_space space, uint64_t a, unsigned size,
    const char *what)
{
    struct sim_block *b = w->block;
    static const char *const names[] = { "generic", "register", "global", "constant", "shared", "local", "parameter" };
    uint64_t offset = a & 0xffffffffffffull;
    if (a & (size - 1)) {
        sim_fault_at(w, i, lane, SIM_F_MISALIGNED, "misaligned %s address 0x%llx (%u-byte %s)", names[space],
            (unsigned long long)a, size, what);
        return NULL;
    }
    if (space == SIM_GENERIC || a >> 48) {                     /* a parameter or local address may already be generic */
        switch (a >> 48) {
        case 0: space = SIM_GLOBAL; break;
        case SIM_WINDOW_SHARED >> 48: space = SIM_SHARED; break;
        case SIM_WINDOW_LOCAL >> 48: space = SIM_LOCAL; break;
        case SIM_WINDOW_PARAM >> 48: space = SIM_PARAM; break;
        default: space = SIM_GLOBAL; offset = 0;
        }
    }
    if (space == SIM_SHARED) {
        if (offset >= SIM_SHARED_BASE && offset - SIM_SHARED_BASE + size <= b->shared_bytes)
            return b->shared + (offset - SIM_SHARED_BASE);
        sim_fault_at(w, i, lane, SIM_F_ILLEGAL_INSTRUCTION,
                     "shared address 0x%llx outside the block's %u bytes (%u-byte %s)",
                     (unsigned long long)offset - SIM_SHARED_BASE, b->shared_bytes, size, what);
        return NULL;
    }
    if (space == SIM_LOCAL) {
        if (offset >= SIM_LOCAL_BASE && offset + size <= w->local_stride)
            return w->local + (uint64_t)lane * w->local_stride + offset;
    } else if (space == SIM_PARAM) {
        if (offset >= SIM_PARAM_BASE && offset - SIM_PARAM_BASE + size <= b->code->info.param_bytes)
            return b->grid->params + (offset - SIM_PARAM_BASE);
    } else {
        struct sim_range *r = &b->ranges[i->slot];
        if (sim_find_range(b, a, size, r)) return (unsigned char *)(uintptr_t)(a + (uint64_t)r->delta);
    }
    sim_fault_at(w, i, lane, SIM_F_ILLEGAL_ADDRESS, "illegal %s address 0x%llx (%u-byte %s)", names[space],
        (unsigned long long)a, size, what);
    return NULL;
}

bool sim_local_grow(struct sim_warp *w, uint32_t bytes)
{
    uint32_t stride = w->local_stride ? w->local_stride : SIM_LOCAL_BASE + 1024;
    if (bytes <= w->local_stride) return true;
    if (bytes > SIM_LOCAL_MAX) return false;
    while (stride < bytes) stride *= 2;
    unsigned char *bigger = calloc(32, stride);
    if (!bigger) return false;
    for (unsigned l = 0; w->local && l < 32; l++)
        memcpy(bigger + (size_t)l * stride, w->local + (size_t)l * w->local_stride, w->local_stride);
    free(w->local);
    w->local = bigger;
    w->local_stride = stride;
    return true;
}
