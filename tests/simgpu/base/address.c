/* address.c - the slow, exact way from a device address to bytes, one lane at a time; it finds
   every fault.
   access.h has the fast way. */
#include "code.h"

/* The ranges this worker used most recently: blocks are short-lived, and a table lookup takes a
   lock. */
static __thread struct {
    struct sim_device *viewer;
    struct sim_range range;
} recent[8];
static __thread unsigned recent_next;

bool sim_find_range(struct sim_block *b, uint64_t a, unsigned size, struct sim_range *out) {
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

/* The state space that an address is in, which an instruction for the space `given` may access;
   SIM_REG: in none. As on an H200, instructions for global memory access a kernel's parameters,
   too, and those for shared memory take generic addresses. A function's parameters are in local
   memory, and have generic addresses. */
static enum sim_space space_of(enum sim_space given, uint64_t a) {
    switch (a >> 48) {
    case 0: return given == SIM_GENERIC ? SIM_GLOBAL : given;
    case SIM_WINDOW_SHARED >> 48:
        return given == SIM_GENERIC || given == SIM_SHARED ? SIM_SHARED : SIM_REG;
    case SIM_WINDOW_LOCAL >> 48:
        return given == SIM_GENERIC || given == SIM_PARAM ? SIM_LOCAL : SIM_REG;
    case SIM_WINDOW_PARAM >> 48:
        return given == SIM_GENERIC || given == SIM_GLOBAL ? SIM_PARAM : SIM_REG;
    default: return SIM_REG;
    }
}

struct sim_block *sim_shared_owner(struct sim_block *b, enum sim_space space, uint64_t a) {
    const uint64_t rank = (a & SIM_WINDOW_OFFSET) >> SIM_RANK_SHIFT;
    if (rank == b->shared_at >> SIM_RANK_SHIFT) return b;
    return space == SIM_GENERIC && rank < b->cluster->nblocks ? b->cluster->blocks[rank] : NULL;
}

static void mark(unsigned *done, unsigned how) {
    if ((__atomic_load_n(done, __ATOMIC_RELAXED) & how) != how)
        __atomic_fetch_or(done, how, __ATOMIC_RELAXED);
}
/* Marks n bytes, in pieces that are as large as possible. */
static void mark_bytes(unsigned char *at, uint64_t n, unsigned how) {
    const uint64_t word = how * 0x0101010101010101ull;
    while (n) {
        if (n >= 8 && (uintptr_t)at % 8 == 0) {
            uint64_t *p = (uint64_t *)(void *)at;
            if ((__atomic_load_n(p, __ATOMIC_RELAXED) & word) != word)
                __atomic_fetch_or(p, word, __ATOMIC_RELAXED);
            at += 8;
            n -= 8;
        } else if (n >= 4 && (uintptr_t)at % 4 == 0) {
            uint32_t *p = (uint32_t *)(void *)at;
            if ((__atomic_load_n(p, __ATOMIC_RELAXED) & (uint32_t)word) != (uint32_t)word)
                __atomic_fetch_or(p, (uint32_t)word, __ATOMIC_RELAXED);
            at += 4;
            n -= 4;
        } else {
            __atomic_fetch_or(at, (unsigned char)how, __ATOMIC_RELAXED);
            at++;
            n--;
        }
    }
}
/* What *at points to, of so many bytes, which are zeros if it is new; NULL: no memory */
static void *get_zeros(void **at, size_t bytes) {
    void *p = __atomic_load_n(at, __ATOMIC_ACQUIRE), *before = NULL;
    if (p || !(p = calloc(bytes, 1))) return p;
    if (__atomic_compare_exchange_n(at, &before, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return p;
    free(p);
    return before;
}
static void mark_use(struct sim_use *u, uint64_t at, uint64_t n, unsigned how) {
    const size_t count = (u->hi - u->lo + SIM_CHUNK - 1) / SIM_CHUNK;
    unsigned char **chunks = get_zeros((void **)(void *)&u->chunks, count * sizeof *chunks), *chunk;
    while (chunks && n) {
        const uint64_t left = SIM_CHUNK - at % SIM_CHUNK, piece = n < left ? n : left;
        if (!(chunk = get_zeros((void **)(void *)&chunks[at / SIM_CHUNK], SIM_CHUNK))) return;
        mark_bytes(chunk + at % SIM_CHUNK, piece, how);
        at += piece;
        n -= piece;
    }
}
static void note(struct sim_uses *uses, uint64_t a, unsigned size, unsigned how) {
    bool known = false;
    for (unsigned k = 0; k < uses->n; k++) {
        struct sim_use *u = &uses->at[k];
        if (a < u->lo || a >= u->hi) continue;
        known = true;
        mark(&u->done, how);
        if (u->lists) mark_use(u, a - u->lo, u->hi - a < size ? u->hi - a : size, how);
    }
    if (!known) mark(&uses->others, how);
}

/* NULL: they are not there, and no fault has been raised. What a device may only read is not
   remembered, so that no store finds it. how: SIM_READS, SIM_WRITES */
static unsigned char *bytes_at(struct sim_warp *w, const struct sim_insn *i, int lane,
        enum sim_space given, uint64_t a, unsigned size, unsigned how) {
    struct sim_block *b = w->block;
    const enum sim_space space = space_of(given, a);
    const uint64_t offset = a & SIM_WINDOW_OFFSET;
    if (space == SIM_SHARED) {
        const struct sim_block *owner = sim_shared_owner(b, given, a);
        const uint64_t at = owner ? offset - owner->shared_at : 0;
        if (owner && owner->live && at <= owner->shared_bytes && owner->shared_bytes - at >= size)
            return owner->shared + at;
    } else if (space == SIM_LOCAL) {
        if (offset >= SIM_LOCAL_BASE && offset + size <= w->local_stride)
            return w->local + (uint64_t)lane * w->local_stride + offset;
    } else if (space == SIM_PARAM) {
        unsigned char *params = given == SIM_PARAM ? b->grid->params : b->grid->shown_params;
        if (params && offset >= SIM_PARAM_BASE &&
                offset - SIM_PARAM_BASE + size <= sim_param_room(b->code->info.param_bytes))
            return params + (offset - SIM_PARAM_BASE);
    } else if (space == SIM_GLOBAL) {
        struct sim_uses *uses = b->grid->uses;
        struct sim_range once, *r = uses ? &once : &b->ranges[i->slot], only_read;
        if (uses) note(uses, a, size, how);
        if (sim_find_range(b, a, size, r))
            return (unsigned char *)(uintptr_t)(a + (uint64_t)r->delta);
        if (how == SIM_READS && sim_mem_find_to_read(b->grid->device, a, size, &only_read))
            return (unsigned char *)(uintptr_t)(a + (uint64_t)only_read.delta);
    }
    return NULL;
}

static const char *const names[] = { "generic", "register", "global", "constant", "shared", "local",
    "parameter" };

/* The results of an H200. What a GPU finds beyond another block's memory may be memory, too. */
static void shared_fault(struct sim_warp *w, const struct sim_insn *i, int lane,
        enum sim_space given, uint64_t a, unsigned size, const char *what) {
    const struct sim_block *b = w->block, *owner = sim_shared_owner(w->block, given, a);
    const unsigned long long at = (a & SIM_WINDOW_OFFSET) - (owner ? owner : b)->shared_at;
    const unsigned rank = (unsigned)((a & SIM_WINDOW_OFFSET) >> SIM_RANK_SHIFT),
                   n = b->cluster->nblocks;
    if (given != SIM_GENERIC && owner != b && rank < n)
        sim_fault_at(w, i, lane, SIM_F_ILLEGAL_INSTRUCTION,
                "shared address of block %u of the cluster, without .shared::cluster (%u-byte %s)",
                rank, size, what);
    else if (given != SIM_GENERIC || owner == b)
        sim_fault_at(w, i, lane,
                strstr(what, "matrix") ? SIM_F_ILLEGAL_ADDRESS : SIM_F_ILLEGAL_INSTRUCTION,
                "shared address 0x%llx outside the block's %u bytes (%u-byte %s)", at,
                b->shared_bytes, size, what);
    else if (!owner)
        sim_fault_at(w, i, lane, SIM_F_LAUNCH_FAILED,
                "shared address of block %u of a cluster that has %u (%u-byte %s)", rank, n, size,
                what);
    else if (!owner->live)
        sim_fault_at(w, i, lane, SIM_F_LAUNCH_FAILED,
                "shared address of block %u of the cluster, which has exited (%u-byte %s)", rank,
                size, what);
    else
        sim_fault_at(w, i, lane, SIM_F_ILLEGAL_ADDRESS,
                "shared address 0x%llx outside the %u bytes of block %u of the cluster (%u-byte "
                "%s)",
                at, owner->shared_bytes, rank, size, what);
}

/* Where an address in a space means another one, or none. An H200 reads something for local
   addresses. */
static void space_fault(struct sim_warp *w, const struct sim_insn *i, int lane,
        enum sim_space given, uint64_t a, unsigned size, const char *what) {
    static const char *const of[] = { "nothing", "shared memory", "local memory", "a parameter" };
    const unsigned window = a >> 48 <= SIM_WINDOW_PARAM >> 48 ? (unsigned)(a >> 48) : 0;
    const int fault = given == SIM_SHARED   ? SIM_F_ILLEGAL_INSTRUCTION
            : given == SIM_GLOBAL && window ? SIM_F_INVALID_ADDRESS_SPACE
                                            : SIM_F_ILLEGAL_ADDRESS;
    sim_fault_at(w, i, lane, fault, "%s address 0x%llx is a generic address of %s (%u-byte %s)",
            names[given], (unsigned long long)a, of[window], size, what);
}

/* Every other access may write. */
static unsigned how(const char *what) {
    if (!strcmp(what, "load") || !strncmp(what, "read", 4)) return SIM_READS;
    return strcmp(what, "atomic") ? SIM_WRITES : SIM_READS | SIM_WRITES;
}

void *sim_at(struct sim_warp *w, const struct sim_insn *i, int lane, enum sim_space space,
        uint64_t a, unsigned size, const char *what) {
    const enum sim_space where = space_of(space, a);
    if (where == SIM_REG) {
        space_fault(w, i, lane, space, a, size, what);
        return NULL;
    }
    /* outside of shared memory counts before misaligned */
    if (a & (size - 1) &&
            (space != SIM_SHARED ||
                    bytes_at(w, i, lane, space, a & -(uint64_t)size, size, SIM_WRITES))) {
        sim_fault_at(w, i, lane, SIM_F_MISALIGNED, "misaligned %s address 0x%llx (%u-byte %s)",
                names[space], (unsigned long long)a, size, what);
        return NULL;
    }
    unsigned char *p = bytes_at(w, i, lane, space, a, size, how(what));
    if (p) return p;
    if (where == SIM_SHARED) shared_fault(w, i, lane, space, a, size, what);
    else
        sim_fault_at(w, i, lane, SIM_F_ILLEGAL_ADDRESS, "illegal %s address 0x%llx (%u-byte %s)",
                names[where], (unsigned long long)a, size, what);
    return NULL;
}

/* Copies in pieces that are as large as possible, since other threads may write them at the same
   time. While accesses are recorded, only the used bytes count. */
const void *sim_at_used(struct sim_warp *w, const struct sim_insn *i, int lane,
        enum sim_space space, uint64_t a, unsigned size, void *copy) {
    unsigned char *to = copy;
    const void *p = a & (size - 1) || w->block->grid->uses
            ? NULL
            : bytes_at(w, i, lane, space, a, size, SIM_READS);
    if (p) return p;
    memset(copy, 0, size);
    for (unsigned k = 0, n; k < size; k += n) {
        for (n = 8; n > 1 && (k % n || k + n > size || i->unused >> k & ((1u << n) - 1)); n /= 2) {}
        if (i->unused >> k & 1) continue;
        p = a & (size - 1) ? NULL : bytes_at(w, i, lane, space, a + k, n, SIM_READS);
        if (!p) return sim_at(w, i, lane, space, a, size, "load");
        switch (n) {
        case 1: to[k] = __atomic_load_n((const u8 *)p, __ATOMIC_RELAXED); break;
        case 2: *(u16 *)(void *)(to + k) = __atomic_load_n((const u16 *)p, __ATOMIC_RELAXED); break;
        case 4: *(u32 *)(void *)(to + k) = __atomic_load_n((const u32 *)p, __ATOMIC_RELAXED); break;
        default: *(u64 *)(void *)(to + k) = __atomic_load_n((const u64 *)p, __ATOMIC_RELAXED);
        }
    }
    return copy;
}

bool sim_local_grow(struct sim_warp *w, uint32_t bytes) {
    uint32_t stride = w->local_stride ? w->local_stride : SIM_LOCAL_BASE + 1024;
    if (bytes <= w->local_stride) return true;
    if (bytes > SIM_LOCAL_MAX) return false;
    while (stride < bytes) stride *= 2;
    unsigned char *bigger = calloc(32, stride);
    if (!bigger) return false;
    for (unsigned l = 0; w->local && l < 32; l++)
        memcpy(bigger + (size_t)l * stride, w->local + (size_t)l * w->local_stride,
                w->local_stride);
    free(w->local);
    w->local = bigger;
    w->local_stride = stride;
    return true;
}
