/* memory.c - device address windows and their backing, pinned and registered host memory, and the table of live ranges.

   A device's window is reserved without access rights; the backing is at a constant distance (delta). An allocation has
   512-byte alignment, exact bounds in the table, and a gap after it. Access rights of the backing memory have a
   granularity of 64 KiB: a granule is accessible while a live allocation touches it. Addresses are not reused until
   the cursor has passed through the whole window, so that stale pointers fault. Granules that other processes may open
   are in a file without a name, one for each device. Lock order: this file calls no other with a lock held; use_lock,
   then table_lock. */
#include "base.h"
#include "cudadefs.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULE (64u << 10)
#define MAPPED 2u                                 /* CU_MEMHOSTALLOC_DEVICEMAP */
#define ALIGNMENT 512u
#define POISON 0xCD                               /* value of every byte of fresh memory, ... */
#define POISON_MOST (64u << 20)                   /* ... up to this size; zeros after it
                                                     (touching more would use real memory) */
#define FIRST_WINDOW 0x200000000000ull            /* only a hint to the system, as is the
                                                     distance to the next device's window */
#define WINDOW_STRIDE (8ull << 40)
#define WINDOW_LEAST (16ull << 30)

struct range {
    struct sim_range r;
    bool fresh;                                   /* being poisoned: lookups do not find it yet */
    bool freeing;                                 /* a stream-ordered free is queued; memory of a graph: not claimed */
    bool absent, reserved;                        /* of a pool or graph: not there now; which has the address */
    unsigned share;                               /* number of its share, 0: none */
};
#define LEAF 256                                  /* moving half of one is cheap; a million ranges need 4000 of them */
struct leaf {                                     /* neighbours, ordered by address; never empty */
    unsigned count;
    uint64_t hi[LEAF];                            /* the end of each */
    struct range *range[LEAF];
};
struct sim_heap {
    uint64_t base, size;                          /* of the window */
    ptrdiff_t delta;
    uint64_t cursor;                              /* where the next allocation is tried */
    uint32_t *granules;                           /* live allocations per granule */
    struct { uint64_t hi; struct leaf *leaf; } *leaves;           /* of the ranges, sorted by address;
                                                                     hi: the end of its last range */
    size_t count, cap;
    uint64_t used;
    int file;                                     /* 0: nothing was shared yet */
    bool *shared;                                 /* per granule: its bytes are in the file */
    uint64_t *shares;                             /* the ids of what is shared now, in the file behind the window */
    unsigned last_share;
};
#define SHARES (1u << 20)
#define MAGIC 0x6870737570676d69ull               /* in place of share 0 */
static struct sim_heap heaps[SIM_MAX_DEVICES];
static struct sim_heap host;                      /* pinned and registered memory; only its ranges are used */
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t use_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static uint64_t next_id = 1;
uint64_t sim_mem_generation = 1;

void sim_mem_use(void) { pthread_rwlock_rdlock(&use_lock); }
void sim_mem_unuse(void) { pthread_rwlock_unlock(&use_lock); }

/* ---- the table ---- */

static struct sim_heap *heap_of(uint64_t address) {
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        if (address - heaps[i].base < heaps[i].size) return &heaps[i];
    return &host;
}

struct spot { size_t leaf; unsigned i; };         /* position of a range; after the
                                                     last one, leaf is the heap's count */

/* The first range whose end is above address. */
static struct spot position(const struct sim_heap *heap, uint64_t address) {
    size_t lo = 0, hi = heap->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (heap->leaves[mid].hi <= address) lo = mid + 1; else hi = mid;
    }
    struct spot spot = { lo, 0 };
    if (lo == heap->count) return spot;
    const struct leaf *leaf = heap->leaves[lo].leaf;
    unsigned to = leaf->count - 1;
    while (spot.i < to) {
        unsigned mid = (spot.i + to) / 2;
        if (leaf->hi[mid] <= address) spot.i = mid + 1; else to = mid;
    }
    return spot;
}

static struct range *range_at(const struct sim_heap *heap, struct spot spot) {       /* NULL: after the last one */
    return spot.leaf < heap->count ? heap->leaves[spot.leaf].leaf->range[spot.i] : NULL;
}

static struct spot after(const struct sim_heap *heap, struct spot spot) {
    return spot.i + 1 < heap->leaves[spot.leaf].leaf->count ? (struct spot) { spot.leaf, spot.i + 1 }
    :
                                                              (struct spot) { spot.leaf + 1, 0 };
}

static struct range *lookup(const struct sim_heap *heap, uint64_t address) {
    struct range *range = range_at(heap, position(heap, address));
    return range && range->r.lo <= address && !range->fresh ? range : NULL;
}

static struct range *lookup_from(uint64_t lo) {
    struct range *range = lookup(heap_of(lo), lo);
    return range && range->r.lo == lo ? range : NULL;
}

/* Inserts a leaf at index; the caller fills it. False: no memory. */
static bool add_leaf(struct sim_heap *heap, size_t index) {
    if (heap->count == heap->cap) {
        size_t cap = heap->cap ? heap->cap * 2 : 16;
        void *more = realloc(heap->leaves, cap * sizeof *heap->leaves);
        if (!more) return false;
        heap->leaves = more;
        heap->cap = cap;
    }
    struct leaf *leaf = malloc(sizeof *leaf);
    if (!leaf) return false;
    leaf->count = 0;
    memmove(heap->leaves + index + 1, heap->leaves + index, (heap->count - index) * sizeof *heap->leaves);
    heap->leaves[index].leaf = leaf;
    heap->count++;
    return true;
}

static void note_end(struct sim_heap *heap, size_t index) {
    const struct leaf *leaf = heap->leaves[index].leaf;
    heap->leaves[index].hi = leaf->hi[leaf->count - 1];
}

/* Makes room in a full leaf. A position after all ranges gets a new leaf; otherwise the upper half moves to a new leaf.
   The spot is updated. False: no memory. */
static bool split(struct sim_heap *heap, struct spot *spot) {
    if (!add_leaf(heap, spot->leaf + 1)) return false;
    struct leaf *leaf = heap->leaves[spot->leaf].leaf, *more = heap->leaves[spot->leaf + 1].leaf;
    unsigned keep = spot->i == LEAF ? LEAF : LEAF / 2;
    leaf->count = keep;
    more->count = LEAF - keep;
    memcpy(more->hi, leaf->hi + keep, more->count * sizeof *leaf->hi);
    memcpy(more->range, leaf->range + keep, more->count * sizeof *leaf->range);
    note_end(heap, spot->leaf);
    if (more->count) note_end(heap, spot->leaf + 1);
    if (spot->i >= keep) *spot = (struct spot) { spot->leaf + 1, spot->i - keep };
    return true;
}

static struct range *insert(struct sim_heap *heap, const struct sim_range *r, bool fresh) {     /* NULL: no memory */
    struct spot spot = position(heap, r->lo);
    struct range *range = malloc(sizeof *range);
    bool room = range && (heap->count || add_leaf(heap, 0));
    if (room && spot.leaf == heap->count)                          /* after all others */
        spot = (struct spot) { heap->count - 1, heap->leaves[heap->count - 1].leaf->count };
    if (room && heap->leaves[spot.leaf].leaf->count == LEAF) room = split(heap, &spot);
    if (!room) {
        free(range);
        return NULL;
    }
    struct leaf *leaf = heap->leaves[spot.leaf].leaf;
    unsigned behind = leaf->count++ - spot.i;
    memmove(leaf->hi + spot.i + 1, leaf->hi + spot.i, behind * sizeof *leaf->hi);
    memmove(leaf->range + spot.i + 1, leaf->range + spot.i, behind * sizeof *leaf->range);
    *range = (struct range) { .r = *r, .fresh = fresh };
    leaf->hi[spot.i] = r->hi;
    leaf->range[spot.i] = range;
    note_end(heap, spot.leaf);
    return range;
}

static void end_share(struct sim_heap *heap, struct range *range) {
    if (range->share) __atomic_store_n(&heap->shares[range->share], 0, __ATOMIC_RELEASE);
    range->share = 0;
}

static void take_out(struct sim_heap *heap, struct spot spot) {
    struct leaf *leaf = heap->leaves[spot.leaf].leaf;
    end_share(heap, leaf->range[spot.i]);
    unsigned behind = --leaf->count - spot.i;
    free(leaf->range[spot.i]);
    memmove(leaf->hi + spot.i, leaf->hi + spot.i + 1, behind * sizeof *leaf->hi);
    memmove(leaf->range + spot.i, leaf->range + spot.i + 1, behind * sizeof *leaf->range);
    if (leaf->count) note_end(heap, spot.leaf);
    else {
        free(leaf);
        heap->count--;
        memmove(heap->leaves + spot.leaf, heap->leaves + spot.leaf + 1,
                (heap->count - spot.leaf) * sizeof *heap->leaves);
    }
    __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
}

bool sim_mem_in_window(uint64_t address) { return heap_of(address) != &host; }

static bool visible(const struct sim_device *viewer, const struct sim_range *r) {
    if (!viewer || r->device == viewer) return true;
    if (!r->delta && (r->kind != SIM_MEM_POOL || r->device)) return true;      /* the host's; a pool's is shared */
    if (r->kind == SIM_MEM_POOL || r->kind == SIM_MEM_GRAPH) return r->viewers >> viewer->ordinal & 1;
    return __atomic_load_n(&viewer->peers, __ATOMIC_RELAXED) >> r->device->ordinal & 1;
}

/* unclaimed: memory of a graph also before a launch claims it. */
static bool find(struct sim_device *viewer, uint64_t address, uint64_t bytes, bool claimed, bool unclaimed,
                 struct sim_range *out) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = lookup(heap_of(address), address);
    bool found = range && bytes <= range->r.hi - address && visible(viewer, &range->r);
    if (found && range->absent) found = range->freeing ? unclaimed && range->r.kind == SIM_MEM_GRAPH : claimed;
    if (found) {
        *out = range->r;
        out->generation = __atomic_load_n(&sim_mem_generation, __ATOMIC_ACQUIRE);
    }
    pthread_rwlock_unlock(&table_lock);
    return found;
}
bool sim_mem_find(struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out) {
    return find(viewer, address, bytes, false, false, out);
}
bool sim_mem_find_for_call(uint64_t address, uint64_t bytes, bool captures, struct sim_range *out) {
    return find(NULL, address, bytes, true, captures, out);
}

bool sim_mem_mark_freeing(uint64_t address, struct sim_range *out) {
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup_from(address);
    bool ok = range && !range->freeing && (range->r.kind == SIM_MEM_DEVICE || range->r.kind >= SIM_MEM_POOL
                                           || (range->r.kind == SIM_MEM_IMPORTED && range->r.pool));
    if (ok) {
        range->freeing = true;
        *out = range->r;
    }
    pthread_rwlock_unlock(&table_lock);
    return ok;
}

/* ---- bytes ---- */

static void *reserve(uint64_t hint, uint64_t size) {
    void *p = mmap((void *)(uintptr_t)hint, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && (uint64_t)(uintptr_t)p + size > SIM_WINDOW_SHARED) {
        munmap(p, size);
        return MAP_FAILED;
    }
    return p;
}

/* The window is much larger than the memory, so that addresses are reused late; smaller where address space is limited
   (valgrind). */
bool sim_mem_start(struct sim_device *device, uint64_t bytes) {
    struct sim_heap *heap = &heaps[device->ordinal];
    uint64_t size = (bytes * 4 > WINDOW_LEAST ? bytes * 4 : WINDOW_LEAST) / GRANULE * GRANULE;
    for (; size >= bytes * 2; size = size / 2 / GRANULE * GRANULE) {
        void *window = reserve(FIRST_WINDOW + (uint64_t)device->ordinal * WINDOW_STRIDE, size);
        void *backing = window == MAP_FAILED ? MAP_FAILED : reserve(0, size);
        uint32_t *granules = backing == MAP_FAILED ? NULL : calloc(size / GRANULE, sizeof *granules);
        if (granules) {
            heap->base = heap->cursor = (uint64_t)(uintptr_t)window;
            heap->delta = (char *)backing - (char *)window;
            heap->granules = granules;
            heap->size = size;
            device->heap = heap;
            return true;
        }
        if (window != MAP_FAILED) munmap(window, size);
        if (backing != MAP_FAILED) munmap(backing, size);
    }
    return false;
}

static char *bytes_at(const struct sim_heap *heap, uint64_t address) {
    return (char *)(uintptr_t)address + heap->delta;
}

/* Takes the granules that are in the file, of those from first to last, back out of it, without access rights. */
static void take_back(struct sim_heap *heap, uint64_t first, uint64_t last) {
    for (uint64_t i = first; heap->shared && i <= last; i++) {
        if (!heap->shared[i]) continue;
        heap->shared[i] = false;
        mmap(bytes_at(heap, heap->base + i * GRANULE), GRANULE, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        fallocate(heap->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(i * GRANULE), GRANULE);
    }
}

/* Opens or closes access to the granules that [lo, hi) touches. Returns false if the system refuses. */
static bool open_granules(struct sim_heap *heap, uint64_t lo, uint64_t hi, bool open) {
    uint64_t first = (lo - heap->base) / GRANULE, last = (hi - 1 - heap->base) / GRANULE, i, run;
    for (i = first; i <= last; i = run) {
        bool change = open ? heap->granules[i] == 0 : heap->granules[i] == 1;
        for (run = i; run <= last && (open ? heap->granules[run] == 0 : heap->granules[run] == 1) == change; run++)
            heap->granules[run] += open ? 1 : -1u;
        if (!change) continue;
        char *p = bytes_at(heap, heap->base + i * GRANULE);
        size_t n = (size_t)(run - i) * GRANULE;
        if (!open) {
            take_back(heap, i, run - 1);
            madvise(p, n, MADV_DONTNEED);
        }
        if (mprotect(p, n, open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0) continue;
        if (!open) continue;                      /* still accessible to us, but no longer in the table: harmless */
        for (uint64_t k = first; k < run; k++) heap->granules[k]--;
        return false;
    }
    return true;
}

/* Finds room at the cursor, or from the start of the window once the cursor has reached its end. */
static uint64_t place(struct sim_heap *heap, uint64_t bytes) {
    uint64_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;      /* with the gap after it */
    if (bytes > heap->size / 2) return 0;
    for (int round = 0; round < 2; round++, heap->cursor = heap->base) {
        uint64_t at = heap->cursor;
        if (bytes >= GRANULE) at = (at + GRANULE - 1) / GRANULE * GRANULE;
        for (struct spot spot = position(heap, at); ; spot = after(heap, spot)) {
            const struct range *range = range_at(heap, spot);
            uint64_t end = range ? range->r.lo : heap->base + heap->size;
            if (end >= at && end - at >= room) {
                heap->cursor = at + room;
                return at;
            }
            if (!range) break;
            at = (range->r.end + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            if (bytes >= GRANULE) at = (at + GRANULE - 1) / GRANULE * GRANULE;
        }
    }
    return 0;
}

static void poison(const struct sim_heap *heap, uint64_t at, uint64_t bytes) {
    memset(bytes_at(heap, at), POISON, bytes < POISON_MOST ? bytes : POISON_MOST);
}

uint64_t sim_mem_cost(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* What a pool reserves is charged to the device, not what it gives out. */
static uint64_t charge_of(enum sim_mem_kind kind, uint64_t bytes) {
    return kind == SIM_MEM_POOL ? 0 : sim_mem_cost(bytes);
}

static int alloc(struct sim_device *device, struct sim_context *context, struct sim_pool *pool, unsigned viewers,
                 uint64_t bytes, enum sim_mem_kind kind, uint64_t *address) {
    struct sim_heap *heap = device->heap;
    struct range *range = NULL;
    int result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!bytes || bytes > device->memory) return result;
    uint64_t cost = charge_of(kind, bytes);
    pthread_rwlock_wrlock(&table_lock);
    uint64_t at = heap->used + cost <= device->memory ? place(heap, bytes) : 0;
    if (at && open_granules(heap, at, at + bytes, true)) {
        struct sim_range r = { .lo = at, .hi = at + bytes, .end = at + bytes, .delta = heap->delta, .kind = kind,
                               .device = device, .context = context, .pool = pool, .viewers = viewers,
                               .id = next_id++ };
        if ((range = insert(heap, &r, true)) != NULL) {
            range->freeing = range->absent = kind == SIM_MEM_GRAPH;
            range->reserved = !context;
            heap->used += cost;
            *address = at;
            result = CUDA_SUCCESS;
        } else open_granules(heap, at, at + bytes, false);
    }
    pthread_rwlock_unlock(&table_lock);
    if (result) return result;
    sim_mem_use();                                /* its granule may be shared meanwhile */
    poison(heap, at, bytes);
    sim_mem_unuse();
    pthread_rwlock_wrlock(&table_lock);
    range->fresh = false;
    pthread_rwlock_unlock(&table_lock);
    return result;
}

int sim_mem_alloc(struct sim_device *device, struct sim_context *context, uint64_t bytes, enum sim_mem_kind kind,
                  uint64_t *address) {
    return alloc(device, context, NULL, 0, bytes, kind, address);
}

int sim_mem_add_host(struct sim_context *context, void *p, uint64_t bytes, enum sim_mem_kind kind, unsigned flags) {
    uint64_t lo = (uintptr_t)p;
    struct sim_range r = { .lo = lo, .hi = lo + bytes, .end = lo + bytes, .kind = kind, .context = context,
                           .flags = flags };
    pthread_rwlock_wrlock(&table_lock);
    const struct range *next = range_at(&host, position(&host, r.lo));
    int result = CUDA_SUCCESS;
    r.id = next_id++;
    if (next && next->r.lo < r.hi)                                 /* as measured: memory that the driver
                                                                      allocated cannot be registered */
        result = next->r.kind != SIM_MEM_REGISTERED ? CUDA_ERROR_INVALID_VALUE :
                                                           CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    else if (!insert(&host, &r, false)) result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_rwlock_unlock(&table_lock);
    return result;
}

void *sim_mem_pages(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void sim_mem_drop_pages(void *pages, uint64_t bytes) { munmap(pages, bytes); }

static int add_pages(struct sim_range *r, uint64_t *address) {
    pthread_rwlock_wrlock(&table_lock);
    r->id = next_id++;
    struct range *range = insert(&host, r, false);
    if (range) range->reserved = r->kind == SIM_MEM_POOL;
    pthread_rwlock_unlock(&table_lock);
    if (!range) sim_mem_drop_pages((void *)(uintptr_t)r->lo, r->end - r->lo);
    *address = r->lo;
    return range ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

int sim_mem_add_managed(struct sim_context *context, struct sim_device *device, struct sim_managed *managed,
                        uint64_t bytes, uint64_t *address) {
    void *p = sim_mem_pages(bytes);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    memset(p, POISON, bytes < POISON_MOST ? bytes : POISON_MOST);
    const uint64_t lo = (uintptr_t)p;
    return add_pages(&(struct sim_range) { .lo = lo, .hi = lo + bytes, .end = lo + bytes, .kind = SIM_MEM_MANAGED,
                                           .device = device, .context = context, .managed = managed,
                                           .flags = MAPPED }, address);
}

/* Waits for every quantum and slice that may still use a range that has left the table. */
static void settle(void) {
    pthread_rwlock_wrlock(&use_lock);
    pthread_rwlock_unlock(&use_lock);
}

static void unmap(const struct sim_range *r) {
    const uintptr_t first = (uintptr_t)r->lo + (uintptr_t)r->delta, before = first % (uintptr_t)sysconf(_SC_PAGESIZE);
    munmap((void *)(first - before), r->hi - r->lo + before);
}

static void give_back(const struct sim_range *r) {
    if (!r->delta && r->kind != SIM_MEM_REGISTERED) munmap((void *)(uintptr_t)r->lo, r->end - r->lo);
    if (r->kind == SIM_MEM_IMPORTED) unmap(r);
    if (!r->delta || r->kind == SIM_MEM_IMPORTED) return;
    struct sim_heap *heap = r->device->heap;
    pthread_rwlock_wrlock(&table_lock);
    open_granules(heap, r->lo, r->end, false);
    heap->used -= charge_of(r->kind, r->hi - r->lo);
    pthread_rwlock_unlock(&table_lock);
}

bool sim_mem_remove(uint64_t address) {
    struct sim_range gone;
    pthread_rwlock_wrlock(&table_lock);
    struct sim_heap *heap = heap_of(address);
    struct range *range = lookup_from(address);
    const bool found = range && !range->absent, stays = found && range->reserved;
    if (stays) {
        range->absent = true;
        end_share(heap, range);
        __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
    } else if (found) {
        gone = range->r;
        take_out(heap, position(heap, address));
    }
    pthread_rwlock_unlock(&table_lock);
    if (!found || stays) return found;
    settle();
    give_back(&gone);
    return true;
}

/* ---- memory of pools and graphs ---- */

int sim_mem_reserve(struct sim_device *device, struct sim_pool *pool, unsigned viewers, bool pages, uint64_t bytes,
                    uint64_t *address) {
    if (!pages) return alloc(device, NULL, pool, viewers, bytes, pool ? SIM_MEM_POOL : SIM_MEM_GRAPH, address);
    void *p = sim_mem_pages(bytes);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    memset(p, POISON, bytes < POISON_MOST ? bytes : POISON_MOST);
    const uint64_t lo = (uintptr_t)p;
    return add_pages(&(struct sim_range) { .lo = lo, .hi = lo + bytes, .end = lo + bytes, .kind = SIM_MEM_POOL,
                                           .device = device, .pool = pool, .viewers = viewers }, address);
}

void sim_mem_resize(uint64_t address, uint64_t bytes) {
    struct sim_heap *heap = heap_of(address);
    pthread_rwlock_wrlock(&table_lock);
    const struct spot spot = position(heap, address);
    struct range *range = range_at(heap, spot);
    range->r.hi = heap->leaves[spot.leaf].leaf->hi[spot.i] = address + bytes;
    note_end(heap, spot.leaf);
    pthread_rwlock_unlock(&table_lock);
}

void sim_mem_share(struct sim_pool *pool, unsigned viewers) {
    pthread_rwlock_wrlock(&table_lock);
    for (int i = -1; i < SIM_MAX_DEVICES; i++) {
        const struct sim_heap *heap = i < 0 ? &host : &heaps[i];
        for (struct spot spot = { 0, 0 }; spot.leaf < heap->count; spot = after(heap, spot)) {
            struct range *range = range_at(heap, spot);
            if (range->r.pool == pool) range->r.viewers = viewers;
        }
    }
    __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
    pthread_rwlock_unlock(&table_lock);
}

bool sim_mem_charge(struct sim_device *device, uint64_t bytes) {
    pthread_rwlock_wrlock(&table_lock);
    const bool ok = bytes <= device->memory - device->heap->used;
    if (ok) device->heap->used += bytes;
    pthread_rwlock_unlock(&table_lock);
    return ok;
}

void sim_mem_credit(struct sim_device *device, uint64_t bytes) {
    pthread_rwlock_wrlock(&table_lock);
    device->heap->used -= bytes;
    pthread_rwlock_unlock(&table_lock);
}

bool sim_mem_claim(uint64_t address) {
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup_from(address);
    const bool ok = range && range->freeing;
    if (ok) range->freeing = false;
    pthread_rwlock_unlock(&table_lock);
    return ok;
}

void sim_mem_in_graph(uint64_t address, uint64_t graph) {
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup_from(address);
    if (range) range->r.graph = graph;
    pthread_rwlock_unlock(&table_lock);
}

void sim_mem_freed_in(uint64_t address, uint64_t graph) {
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup_from(address);
    if (range && range->r.graph == graph) range->r.ends = true;
    pthread_rwlock_unlock(&table_lock);
}

void sim_mem_appear(uint64_t address) {
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup_from(address);
    if (range) {
        poison(heap_of(address), address, range->r.hi - address);
        range->absent = false;
    }
    pthread_rwlock_unlock(&table_lock);
}

bool sim_mem_reserved(uint64_t address) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = lookup(heap_of(address), address);
    const bool reserved = range && range->reserved;
    pthread_rwlock_unlock(&table_lock);
    return reserved;
}

void sim_mem_unreserve(uint64_t address) {
    struct sim_range gone;
    pthread_rwlock_wrlock(&table_lock);
    struct sim_heap *heap = heap_of(address);
    struct range *range = lookup_from(address);
    if (range) range->reserved = false;
    const bool over = range && range->absent;
    if (over) {
        gone = range->r;
        take_out(heap, position(heap, address));
    }
    pthread_rwlock_unlock(&table_lock);
    if (!over) return;
    settle();
    give_back(&gone);
}

/* In batches, so that many ranges share one wait for the running quanta. */
void sim_mem_remove_context(struct sim_context *context) {
    struct sim_range gone[64];
    for (int i = -1; i < SIM_MAX_DEVICES; i++) {
        struct sim_heap *heap = i < 0 ? &host : &heaps[i];
        uint64_t done = 0;                        /* ranges below this address are done */
        unsigned n;
        do {
            const struct range *range;
            struct spot spot;
            n = 0;
            pthread_rwlock_wrlock(&table_lock);
            for (spot = position(heap, done); n < 64 && (range = range_at(heap, spot)) != NULL; ) {
                done = range->r.hi;
                if (range->r.context != context || range->fresh) {
                    spot = after(heap, spot);
                    continue;
                }
                gone[n++] = range->r;
                take_out(heap, spot);
                spot = position(heap, done);
            }
            pthread_rwlock_unlock(&table_lock);
            if (n) settle();
            for (unsigned k = 0; k < n; k++) give_back(&gone[k]);
        } while (n == 64);
    }
}

uint64_t sim_mem_used(struct sim_device *device) {
    pthread_rwlock_rdlock(&table_lock);
    uint64_t used = device->heap->used;
    pthread_rwlock_unlock(&table_lock);
    return used;
}

/* ---- memory that processes share: whole granules move into the device's file, at their place in the window. Another
   process maps the file, which it gets by a descriptor. The kernel frees the file when no process has it open or
   mapped, however they end. ---- */

static bool open_file(struct sim_heap *heap) {
    if (heap->shared) return true;
    const int file = memfd_create("simgpu-device", MFD_CLOEXEC);
    const uint64_t bytes = SHARES * sizeof *heap->shares;
    void *shares = MAP_FAILED;
    if (file > 0 && ftruncate(file, (off_t)(heap->size + bytes)) == 0)
        shares = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, (off_t)heap->size);
    if (shares != MAP_FAILED) *(uint64_t *)shares = MAGIC;
    if (shares != MAP_FAILED && (heap->shared = calloc(heap->size / GRANULE, sizeof *heap->shared))) {
        heap->file = file;
        heap->shares = shares;
        return true;
    }
    if (shares != MAP_FAILED) munmap(shares, bytes);
    if (file >= 0) close(file);
    return false;
}

int sim_mem_file(struct sim_device *device) {
    char path[32];
    pthread_rwlock_wrlock(&table_lock);
    const bool is_open = open_file(device->heap);
    pthread_rwlock_unlock(&table_lock);
    snprintf(path, sizeof path, "/proc/self/fd/%d", device->heap->file);
    return is_open ? open(path, O_RDWR | O_CLOEXEC) : -1;
}
bool sim_mem_is_file(int file) {
    const off_t table = SHARES * sizeof(uint64_t);
    struct stat about;
    uint64_t magic;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > table
           && pread(file, &magic, sizeof magic, about.st_size - table) == (ssize_t)sizeof magic && magic == MAGIC;
}

/* Moves a granule into the file; where it is zero, the file has a hole. No other thread may use its bytes. */
static bool move_granule(struct sim_heap *heap, uint64_t i) {
    char *p = bytes_at(heap, heap->base + i * GRANULE);
    const off_t at = (off_t)(i * GRANULE);
    const bool zero = !*p && !memcmp(p, p + 1, GRANULE - 1);
    fallocate(heap->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, GRANULE);      /* late writes of others */
    if (!zero && pwrite(heap->file, p, GRANULE, at) != (ssize_t)GRANULE) return false;
    if (mmap(p, GRANULE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, heap->file, at) == MAP_FAILED) return false;
    return heap->shared[i] = true;
}

static unsigned new_share(struct sim_heap *heap) {       /* 0: none is free */
    for (unsigned tries = 0; tries < SHARES; tries++) {
        heap->last_share = heap->last_share % (SHARES - 1) + 1;
        if (!heap->shares[heap->last_share]) return heap->last_share;
    }
    return 0;
}

static int share(struct range *range, struct sim_share *out) {
    struct sim_heap *heap = range->r.device->heap;
    const uint64_t last = (range->r.hi - 1 - heap->base) / GRANULE;
    struct stat about;
    if (!open_file(heap)) return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = (range->r.lo - heap->base) / GRANULE; i <= last; i++)
        if (!heap->shared[i] && !move_granule(heap, i)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!range->share && !(range->share = new_share(heap))) return CUDA_ERROR_OUT_OF_MEMORY;
    __atomic_store_n(&heap->shares[range->share], range->r.id, __ATOMIC_RELEASE);
    if (fstat(heap->file, &about)) return CUDA_ERROR_OPERATING_SYSTEM;
    *out = (struct sim_share) { heap->file, (unsigned)range->r.device->number, about.st_ino, range->r.lo - heap->base,
                                range->r.hi - range->r.lo, heap->size + range->share * sizeof *heap->shares,
                                range->r.id };
    return CUDA_SUCCESS;
}
int sim_mem_export(uint64_t address, struct sim_share *out) {
    pthread_rwlock_wrlock(&use_lock);
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup(heap_of(address), address);
    const bool can = range && !range->absent && (range->r.kind == SIM_MEM_DEVICE || range->r.kind == SIM_MEM_POOL);
    const int result = can ? share(range, out) : CUDA_ERROR_INVALID_VALUE;
    pthread_rwlock_unlock(&table_lock);
    pthread_rwlock_unlock(&use_lock);
    return result;
}

bool sim_mem_is_shared(const struct sim_share *from) {
    struct stat about;
    uint64_t id;
    return fstat(from->file, &about) == 0 && about.st_ino == from->inode
           && pread(from->file, &id, sizeof id, (off_t)from->check) == (ssize_t)sizeof id && id == from->id;
}

int sim_mem_import(struct sim_device *device, struct sim_context *context, struct sim_pool *pool,
                   const struct sim_share *from, uint64_t *address) {
    struct sim_heap *heap = device->heap;
    const uint64_t before = from->offset % (uint64_t)sysconf(_SC_PAGESIZE);
    void *p = sim_mem_is_shared(from) ? mmap(NULL, from->bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED, from->file,
                                             (off_t)(from->offset - before)) : MAP_FAILED;
    if (p == MAP_FAILED) return CUDA_ERROR_INVALID_VALUE;
    pthread_rwlock_wrlock(&table_lock);
    const uint64_t at = place(heap, from->bytes);
    struct sim_range r = { .lo = at, .hi = at + from->bytes, .end = at + from->bytes,
                           .delta = (char *)p + before - (char *)(uintptr_t)at, .kind = SIM_MEM_IMPORTED,
                           .device = device, .context = context, .pool = pool, .id = next_id++ };
    const bool ok = at && insert(heap, &r, false);
    pthread_rwlock_unlock(&table_lock);
    if (!ok) munmap(p, from->bytes + before);
    *address = at;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
