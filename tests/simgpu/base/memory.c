/* memory.c - device address windows and their backing, pinned and registered host memory, and the
   table of live ranges.

   A device's window is reserved without access rights. Its addresses are far apart: 256 KiB follow
   each allocation that belong to none, so that a stride that is too large does not reach the next
   one. The bytes are elsewhere and close together, at a distance (delta) that each allocation has.
   An allocation has 512-byte alignment and exact bounds in the table. Access rights of the bytes
   have a granularity of 64 KiB: a granule is accessible while a live allocation touches it. Neither
   addresses nor bytes are reused until the cursor has passed through all of them, so that stale
   pointers fault. Granules that other processes may open are in a file without a name, one for each
   device. Virtual memory has a separate window, with a table of what is reserved and one of what is
   mapped; the caller has its bytes. Lock order: this file calls no other with a lock held;
   use_lock, then table_lock. */
#include "base.h"
#include "cudadefs.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULE (64u << 10)
#define MAPPED 2u /* CU_MEMHOSTALLOC_DEVICEMAP */
#define ALIGNMENT 512u
#define POISON 0xCD /* value of every byte of fresh memory, ... */
/* ... up to this size; zeros after it (touching more would use real memory) */
#define POISON_MOST (64u << 20)
/* only a hint to the system, as is the distance to the next device's window */
#define FIRST_WINDOW 0x200000000000ull
#define WINDOW_STRIDE (8ull << 40)
#define WINDOW_MOST (1ull << 40)
/* of addresses that programs reserve */
#define VIRTUAL_MOST (16ull << 40)
#define VIRTUAL_LEAST (1ull << 30)
#define BYTES_LEAST (16ull << 30) /* addresses for them: more than the device has */
#define GAP (256u << 10)
/* host allocations with a gap after them: each needs two of the 65,530 mappings that the system
   allows */
#define GUARDS 10000

struct range {
    struct sim_range r;
    bool fresh;            /* being poisoned: lookups do not find it yet */
    bool freeing;          /* a stream-ordered free is queued; memory of a graph: not claimed */
    bool absent, reserved; /* of a pool or graph: not there now; which has the address */
    unsigned share;        /* number of its share, 0: none */
};
#define LEAF 256 /* moving half of one is cheap; a million ranges need 4000 of them */
/* neighbours, ordered by address; never empty */
struct leaf {
    unsigned count;
    uint64_t hi[LEAF]; /* the end of each */
    struct range *range[LEAF];
};
/* of ranges, by their addresses or by where their bytes are */
struct table {
    uint64_t base, size;
    uint64_t cursor; /* where the next allocation is tried */
    uint64_t gap;    /* after each */
    bool of_bytes;
    struct {
        uint64_t hi;
        struct leaf *leaf;
    } * leaves; /* sorted; hi: the end of its last range */
    size_t count, cap;
};
struct sim_heap {
    struct table at, bytes; /* at: by address, with imported memory, which has no bytes here */
    uint32_t *granules;     /* of the bytes: live allocations per granule */
    uint64_t used;
    int file;                    /* if `shared` is not NULL */
    bool *shared;                /* per granule: its bytes are in the file */
    struct shared_range *shares; /* what is shared now, in the file behind the bytes */
    unsigned last_share, nshares, share_limit; /* numbers below the limit are in use, at most half
                                                  of them at once */
};
#define SHARES (1u << 20)
/* id: __atomic, 0: none. A handle names one of these; what it says of the bytes is not believed */
struct shared_range {
    uint64_t id, offset, bytes, device;
};
#define MAGIC 0x6870737570676d69ull /* the id in place of share 0 */
static struct sim_heap heaps[SIM_MAX_DEVICES];
static struct sim_heap host;      /* pinned and registered memory; only `at` */
static struct sim_heap mapped;    /* virtual memory; only `at` */
static struct table reservations; /* in the same window */
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t use_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static uint64_t next_id = 1;
uint64_t sim_mem_generation = 1;

void sim_mem_use(void) { pthread_rwlock_rdlock(&use_lock); }
void sim_mem_unuse(void) { pthread_rwlock_unlock(&use_lock); }

/* ---- the table ---- */

static struct sim_heap *heap_of(uint64_t address) {
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        if (address - heaps[i].at.base < heaps[i].at.size) return &heaps[i];
    return address - mapped.at.base < mapped.at.size ? &mapped : &host;
}

/* position of a range; after the last one, leaf is the table's count */
struct spot {
    size_t leaf;
    unsigned i;
};

/* The first range whose end is above address. */
static struct spot position(const struct table *table, uint64_t address) {
    size_t lo = 0, hi = table->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (table->leaves[mid].hi <= address) lo = mid + 1;
        else hi = mid;
    }
    struct spot spot = { lo, 0 };
    if (lo == table->count) return spot;
    const struct leaf *leaf = table->leaves[lo].leaf;
    unsigned to = leaf->count - 1;
    while (spot.i < to) {
        unsigned mid = (spot.i + to) / 2;
        if (leaf->hi[mid] <= address) spot.i = mid + 1;
        else to = mid;
    }
    return spot;
}

/* NULL: after the last one */
static struct range *range_at(const struct table *table, struct spot spot) {
    return spot.leaf < table->count ? table->leaves[spot.leaf].leaf->range[spot.i] : NULL;
}

static struct spot after(const struct table *table, struct spot spot) {
    return spot.i + 1 < table->leaves[spot.leaf].leaf->count
            ? (struct spot){ spot.leaf, spot.i + 1 }
            : (struct spot){ spot.leaf + 1, 0 };
}

static struct range *lookup(const struct table *table, uint64_t address) {
    struct range *range = range_at(table, position(table, address));
    return range && range->r.lo <= address && !range->fresh ? range : NULL;
}

static struct range *lookup_from(uint64_t lo) {
    struct range *range = lookup(&heap_of(lo)->at, lo);
    return range && range->r.lo == lo ? range : NULL;
}

/* Inserts a leaf at index; the caller fills it. False: no memory. */
static bool add_leaf(struct table *table, size_t index) {
    if (table->count == table->cap) {
        size_t cap = table->cap ? table->cap * 2 : 16;
        void *more = realloc(table->leaves, cap * sizeof *table->leaves);
        if (!more) return false;
        table->leaves = more;
        table->cap = cap;
    }
    struct leaf *leaf = malloc(sizeof *leaf);
    if (!leaf) return false;
    leaf->count = 0;
    memmove(table->leaves + index + 1, table->leaves + index,
            (table->count - index) * sizeof *table->leaves);
    table->leaves[index].leaf = leaf;
    table->count++;
    return true;
}

static void note_end(struct table *table, size_t index) {
    const struct leaf *leaf = table->leaves[index].leaf;
    table->leaves[index].hi = leaf->hi[leaf->count - 1];
}

/* Makes room in a full leaf. A position after all ranges gets a new leaf; otherwise the upper half
   moves to a new leaf. The spot is updated. False: no memory. */
static bool split(struct table *table, struct spot *spot) {
    if (!add_leaf(table, spot->leaf + 1)) return false;
    struct leaf *leaf = table->leaves[spot->leaf].leaf, *more = table->leaves[spot->leaf + 1].leaf;
    unsigned keep = spot->i == LEAF ? LEAF : LEAF / 2;
    leaf->count = keep;
    more->count = LEAF - keep;
    memcpy(more->hi, leaf->hi + keep, more->count * sizeof *leaf->hi);
    memcpy(more->range, leaf->range + keep, more->count * sizeof *leaf->range);
    note_end(table, spot->leaf);
    if (more->count) note_end(table, spot->leaf + 1);
    if (spot->i >= keep) *spot = (struct spot){ spot->leaf + 1, spot->i - keep };
    return true;
}

static uint64_t first_of(const struct table *table, const struct range *range) {
    return range->r.lo + (table->of_bytes ? (uint64_t)range->r.delta : 0);
}
static uint64_t end_of(const struct table *table, const struct range *range) { /* of its room */
    return first_of(table, range) + (range->r.end - range->r.lo);
}

static bool insert_into(struct table *table, struct range *range) { /* false: no memory */
    struct spot spot = position(table, first_of(table, range));
    if (!table->count && !add_leaf(table, 0)) return false;
    if (spot.leaf == table->count) /* after all others */
        spot = (struct spot){ table->count - 1, table->leaves[table->count - 1].leaf->count };
    if (table->leaves[spot.leaf].leaf->count == LEAF && !split(table, &spot)) return false;
    struct leaf *leaf = table->leaves[spot.leaf].leaf;
    unsigned behind = leaf->count++ - spot.i;
    memmove(leaf->hi + spot.i + 1, leaf->hi + spot.i, behind * sizeof *leaf->hi);
    memmove(leaf->range + spot.i + 1, leaf->range + spot.i, behind * sizeof *leaf->range);
    leaf->hi[spot.i] = table->of_bytes ? end_of(table, range) : range->r.hi;
    leaf->range[spot.i] = range;
    note_end(table, spot.leaf);
    return true;
}

static void take_from(struct table *table, struct spot spot) {
    struct leaf *leaf = table->leaves[spot.leaf].leaf;
    unsigned behind = --leaf->count - spot.i;
    memmove(leaf->hi + spot.i, leaf->hi + spot.i + 1, behind * sizeof *leaf->hi);
    memmove(leaf->range + spot.i, leaf->range + spot.i + 1, behind * sizeof *leaf->range);
    if (leaf->count) note_end(table, spot.leaf);
    else {
        free(leaf);
        table->count--;
        memmove(table->leaves + spot.leaf, table->leaves + spot.leaf + 1,
                (table->count - spot.leaf) * sizeof *table->leaves);
    }
}

static bool has_bytes(const struct sim_heap *heap, const struct range *range) {
    return heap->bytes.size && range->r.kind != SIM_MEM_IMPORTED;
}

/* NULL: no memory */
static struct range *insert(struct sim_heap *heap, const struct sim_range *r, bool fresh) {
    struct range *range = malloc(sizeof *range);
    if (!range) return NULL;
    *range = (struct range){ .r = *r, .fresh = fresh };
    if (insert_into(&heap->at, range)) {
        if (!has_bytes(heap, range) || insert_into(&heap->bytes, range)) return range;
        take_from(&heap->at, position(&heap->at, r->lo));
    }
    free(range);
    return NULL;
}

static void end_share(struct sim_heap *heap, struct range *range) {
    if (!range->share) return;
    __atomic_store_n(&heap->shares[range->share].id, 0, __ATOMIC_RELEASE);
    range->share = 0;
    heap->nshares--;
}

static void take_out(struct sim_heap *heap, struct range *range) {
    end_share(heap, range);
    take_from(&heap->at, position(&heap->at, range->r.lo));
    if (has_bytes(heap, range))
        take_from(&heap->bytes, position(&heap->bytes, first_of(&heap->bytes, range)));
    free(range);
    __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
}

bool sim_mem_in_window(uint64_t address) { return heap_of(address) != &host; }

static bool visible(const struct sim_device *viewer, const struct sim_range *r) {
    if (!viewer) return true;
    if (r->kind == SIM_MEM_ARRAY) return false;
    if (r->kind == SIM_MEM_MAPPED) return r->writers >> viewer->ordinal & 1;
    if (r->device == viewer) return true;
    /* the host's; a pool's is shared */
    if (!r->delta && (r->kind != SIM_MEM_POOL || r->device)) return true;
    if (r->kind == SIM_MEM_POOL || r->kind == SIM_MEM_GRAPH)
        return r->viewers >> viewer->ordinal & 1;
    return __atomic_load_n(&viewer->peers, __ATOMIC_RELAXED) >> r->device->ordinal & 1;
}

/* Whether [address, end) is mapped, by one allocation after another; *viewers and *writers: those
   who may access all of it. */
static bool is_mapped(uint64_t address, uint64_t end, unsigned *viewers, unsigned *writers) {
    struct spot spot = position(&mapped.at, address);
    const struct range *range;
    for (*viewers = *writers = ~0u;
            (range = range_at(&mapped.at, spot)) != NULL && range->r.lo <= address;
            spot = after(&mapped.at, spot)) {
        *viewers &= range->r.viewers;
        *writers &= range->r.writers;
        address = range->r.hi;
        if (address >= end) return true;
    }
    return false;
}

/* claimed: for a call, for which memory of a pool does not exist once its free is queued, as
   measured, and which may use several mappings in a row; unclaimed: memory of a graph also before a
   launch claims it. */
static bool find(struct sim_device *viewer, uint64_t address, uint64_t bytes, bool claimed,
        bool unclaimed, struct sim_range *out) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = lookup(&heap_of(address)->at, address);
    unsigned viewers = range ? range->r.viewers : 0, writers = range ? range->r.writers : 0;
    bool found = range && visible(viewer, &range->r) &&
            (bytes <= range->r.hi - address ||
                    (claimed && range->r.kind == SIM_MEM_MAPPED && address + bytes > address &&
                            is_mapped(address, address + bytes, &viewers, &writers)));
    if (found && claimed && range->freeing && range->r.kind == SIM_MEM_POOL) found = false;
    if (found && claimed && range->r.kind == SIM_MEM_ARRAY) found = false;
    if (found && range->absent)
        found = range->freeing ? unclaimed && range->r.kind == SIM_MEM_GRAPH : claimed;
    if (found) {
        *out = range->r;
        out->viewers = viewers;
        out->writers = writers;
        out->generation = __atomic_load_n(&sim_mem_generation, __ATOMIC_ACQUIRE);
    }
    pthread_rwlock_unlock(&table_lock);
    return found;
}
bool sim_mem_find(
        struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out) {
    return find(viewer, address, bytes, false, false, out);
}
bool sim_mem_find_to_read(
        const struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = lookup(&mapped.at, address);
    const bool found = range && range->r.viewers >> viewer->ordinal & 1 &&
            bytes <= range->r.hi - address;
    if (found) *out = range->r;
    pthread_rwlock_unlock(&table_lock);
    return found;
}
bool sim_mem_find_for_call(uint64_t address, uint64_t bytes, bool captures, struct sim_range *out) {
    return find(NULL, address, bytes, true, captures, out);
}

bool sim_mem_mark_freeing(uint64_t address, struct sim_range *out) {
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup_from(address);
    bool ok = range && !range->freeing &&
            (range->r.kind == SIM_MEM_DEVICE || range->r.kind >= SIM_MEM_POOL ||
                    (range->r.kind == SIM_MEM_IMPORTED && range->r.pool));
    if (ok) {
        range->freeing = true;
        /* the next owner may share it */
        if (range->r.kind == SIM_MEM_POOL) end_share(heap_of(address), range);
        *out = range->r;
    }
    pthread_rwlock_unlock(&table_lock);
    return ok;
}

/* ---- bytes ---- */

static void *reserve(uint64_t hint, uint64_t size) {
    void *p = mmap((void *)(uintptr_t)hint, size, PROT_NONE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED && (uint64_t)(uintptr_t)p + size > SIM_WINDOW_SHARED) {
        munmap(p, size);
        return MAP_FAILED;
    }
    return p;
}

/* Both are much larger than the memory, so that addresses are reused late; smaller where address
   space is limited (valgrind, the thread sanitizer). */
static uint64_t reserve_most(uint64_t hint, uint64_t size, uint64_t least, void **at) {
    for (*at = MAP_FAILED; size >= least && *at == MAP_FAILED; size = size / 2 / GRANULE * GRANULE)
        if ((*at = reserve(hint, size)) != MAP_FAILED) return size;
    return 0;
}

static struct table table_at(void *base, uint64_t size, uint64_t gap) {
    const uint64_t first = (uint64_t)(uintptr_t)base;
    return (struct table){ .base = first, .cursor = first, .size = size, .gap = gap };
}

/* valgrind keeps a record of each 64 KiB of address space: 20 GB for the windows below. */
static bool in_valgrind(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_");
}

/* The window of virtual memory. Without address space for it, none can be reserved. */
static void start_virtual(uint64_t most) {
    void *window;
    const uint64_t size = reserve_most(
            FIRST_WINDOW + SIM_MAX_DEVICES * WINDOW_STRIDE, most, VIRTUAL_LEAST, &window);
    if (!size) return;
    mapped.at = table_at(window, size, 0);
    reservations = table_at(window, size, GAP);
}

bool sim_mem_start(struct sim_device *device, uint64_t bytes) {
    struct sim_heap *heap = &heaps[device->ordinal];
    void *window, *backing;
    const uint64_t least = bytes * 2 / GRANULE * GRANULE + GRANULE;
    const uint64_t wish = (bytes * 4 > BYTES_LEAST ? bytes * 4 : BYTES_LEAST) / GRANULE * GRANULE;
    const uint64_t room = reserve_most(0, wish, least, &backing);
#ifdef SIM_SEES_THREADS
    const uint64_t most = room, virtual_most = room;
#else
    const bool few = in_valgrind();
    const uint64_t most = few || room > WINDOW_MOST ? room : WINDOW_MOST,
                   virtual_most = few ? room : VIRTUAL_MOST;
#endif
    if (room && !mapped.at.size) start_virtual(virtual_most);
    const uint64_t size = room
            ? reserve_most(FIRST_WINDOW + (uint64_t)device->ordinal * WINDOW_STRIDE, most, least,
                      &window)
            : 0;
    if (size && (heap->granules = calloc(room / GRANULE, sizeof *heap->granules))) {
        /* 4 million allocations have it */
        const uint64_t gap = (size >> 22) / ALIGNMENT * ALIGNMENT;
        heap->at = table_at(window, size, gap < ALIGNMENT ? ALIGNMENT : gap < GAP ? gap : GAP);
        heap->bytes = table_at(backing, room, 0);
        heap->bytes.of_bytes = true;
        device->heap = heap;
        return true;
    }
    if (size) munmap(window, size);
    if (room) munmap(backing, room);
    return false;
}

/* Where the bytes of a range are. */
static uint64_t bytes_of(const struct sim_range *r) { return r->lo + (uint64_t)r->delta; }

/* Takes the granules that are in the file, of those from first to last, back out of it, without
   access rights. */
static void take_back(struct sim_heap *heap, uint64_t first, uint64_t last) {
    for (uint64_t i = first; heap->shared && i <= last; i++) {
        if (!heap->shared[i]) continue;
        heap->shared[i] = false;
        mmap((void *)(uintptr_t)(heap->bytes.base + i * GRANULE), GRANULE, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        fallocate(heap->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(i * GRANULE),
                GRANULE);
    }
}

/* Opens or closes access to the granules that `bytes` bytes from `at` touch. Returns false if the
   system refuses. */
static bool open_granules(struct sim_heap *heap, uint64_t at, uint64_t bytes, bool open) {
    const uint64_t base = heap->bytes.base, first = (at - base) / GRANULE,
                   last = (at + bytes - 1 - base) / GRANULE;
    uint64_t i, run;
    for (i = first; i <= last; i = run) {
        bool change = open ? heap->granules[i] == 0 : heap->granules[i] == 1;
        for (run = i; run <= last &&
                (open ? heap->granules[run] == 0 : heap->granules[run] == 1) == change;
                run++)
            heap->granules[run] += open ? 1 : -1u;
        if (!change) continue;
        char *p = (char *)(uintptr_t)(base + i * GRANULE);
        size_t n = (size_t)(run - i) * GRANULE;
        if (!open) {
            take_back(heap, i, run - 1);
            madvise(p, n, MADV_DONTNEED);
        }
        if (mprotect(p, n, open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0) continue;
        if (!open) continue; /* still accessible to us, but no longer in the table: harmless */
        for (uint64_t k = first; k < run; k++) heap->granules[k]--;
        return false;
    }
    return true;
}

static uint64_t up_to(uint64_t at, uint64_t multiple) {
    return (at + multiple - 1) / multiple * multiple;
}

/* Finds room at the cursor, or from the start once the cursor has reached the end. to: the
   alignment. 0: there is none. */
static uint64_t place_with(struct table *table, uint64_t bytes, uint64_t gap, uint64_t to) {
    const uint64_t room = up_to(bytes, ALIGNMENT) + gap;
    for (int round = 0; round < 2; round++, table->cursor = table->base) {
        uint64_t at = up_to(table->cursor, to);
        for (struct spot spot = position(table, at);; spot = after(table, spot)) {
            const struct range *range = range_at(table, spot);
            uint64_t end = range ? first_of(table, range) : table->base + table->size;
            if (end >= at && end - at >= room) {
                table->cursor = at + room;
                return at;
            }
            if (!range) break;
            at = up_to(end_of(table, range) + gap, to);
        }
    }
    return 0;
}

static uint64_t place(struct table *table, uint64_t bytes) {
    const uint64_t to = bytes >= GRANULE ? GRANULE : ALIGNMENT;
    if (bytes > table->size / 2) return 0;
    const uint64_t at = place_with(table, bytes, table->gap, to);
    return at || !table->gap ? at : place_with(table, bytes, ALIGNMENT, to);
}

static void poison(uint64_t to, uint64_t bytes) {
    memset((void *)(uintptr_t)to, POISON, bytes < POISON_MOST ? bytes : POISON_MOST);
}

uint64_t sim_mem_cost(uint64_t bytes) { return up_to(bytes, ALIGNMENT); }

/* What a pool reserves is charged to the device, not what it gives out. */
static uint64_t charge_of(enum sim_mem_kind kind, uint64_t bytes) {
    return kind == SIM_MEM_POOL ? 0 : sim_mem_cost(bytes);
}

static int alloc(struct sim_device *device, struct sim_context *context, struct sim_pool *pool,
        unsigned viewers, uint64_t bytes, enum sim_mem_kind kind, uint64_t *address) {
    struct sim_heap *heap = device->heap;
    struct range *range = NULL;
    int result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!bytes || bytes > device->memory) return result;
    uint64_t cost = charge_of(kind, bytes);
    pthread_rwlock_wrlock(&table_lock);
    const uint64_t at = heap->used + cost <= device->memory ? place(&heap->at, bytes) : 0,
                   to = at ? place(&heap->bytes, bytes) : 0;
    if (to && open_granules(heap, to, bytes, true)) {
        struct sim_range r = { .lo = at,
            .hi = at + bytes,
            .end = at + bytes,
            .delta = (ptrdiff_t)(to - at),
            .kind = kind,
            .device = device,
            .context = context,
            .pool = pool,
            .viewers = viewers,
            .id = next_id++ };
        if ((range = insert(heap, &r, true)) != NULL) {
            range->freeing = range->absent = kind == SIM_MEM_GRAPH;
            range->reserved = !context;
            heap->used += cost;
            *address = at;
            result = CUDA_SUCCESS;
        } else open_granules(heap, to, bytes, false);
    }
    pthread_rwlock_unlock(&table_lock);
    if (result) return result;
    sim_mem_use(); /* its granule may be shared meanwhile */
    poison(to, bytes);
    sim_mem_unuse();
    pthread_rwlock_wrlock(&table_lock);
    range->fresh = false;
    pthread_rwlock_unlock(&table_lock);
    return result;
}

int sim_mem_alloc(struct sim_device *device, struct sim_context *context, uint64_t bytes,
        enum sim_mem_kind kind, uint64_t *address) {
    return alloc(device, context, NULL, 0, bytes, kind, address);
}

int sim_mem_register(struct sim_context *context, void *p, uint64_t bytes, unsigned flags) {
    uint64_t lo = (uintptr_t)p;
    struct sim_range r = { .lo = lo,
        .hi = lo + bytes,
        .end = lo + bytes,
        .kind = SIM_MEM_REGISTERED,
        .context = context,
        .flags = flags };
    pthread_rwlock_wrlock(&table_lock);
    const struct range *next = range_at(&host.at, position(&host.at, r.lo));
    int result = CUDA_SUCCESS;
    r.id = next_id++;
    /* as measured: memory that the driver allocated cannot be registered */
    if (next && next->r.lo < r.hi)
        result = next->r.kind != SIM_MEM_REGISTERED ? CUDA_ERROR_INVALID_VALUE
                                                    : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    else if (!insert(&host, &r, false)) result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_rwlock_unlock(&table_lock);
    return result;
}

/* ---- pages of the host; behind the first ones a gap without access rights ---- */

static unsigned guards; /* atomic */

static void drop_pages(const struct sim_range *r) {
    munmap((void *)(uintptr_t)r->lo, r->end - r->lo);
    if (r->guarded) __atomic_sub_fetch(&guards, 1, __ATOMIC_RELAXED);
}

/* r: its kind and owner. */
static int add_pages(struct sim_range *r, uint64_t bytes, uint64_t *address) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page * page;
    if (pages < bytes || pages > WINDOW_MOST) return CUDA_ERROR_OUT_OF_MEMORY;
    r->guarded = __atomic_add_fetch(&guards, 1, __ATOMIC_RELAXED) <= GUARDS;
    if (!r->guarded) __atomic_sub_fetch(&guards, 1, __ATOMIC_RELAXED);
    const uint64_t room = pages + (r->guarded ? GAP : 0);
    void *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r->lo = (uintptr_t)p;
    r->hi = r->lo + bytes;
    r->end = r->lo + room;
    if (p == MAP_FAILED || mprotect(p, pages, PROT_READ | PROT_WRITE)) {
        if (p != MAP_FAILED) drop_pages(r);
        else if (r->guarded) __atomic_sub_fetch(&guards, 1, __ATOMIC_RELAXED);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r->kind != SIM_MEM_PINNED) poison(r->lo, bytes);
    pthread_rwlock_wrlock(&table_lock);
    r->id = next_id++;
    struct range *range = insert(&host, r, false);
    if (range) range->reserved = r->kind == SIM_MEM_POOL;
    pthread_rwlock_unlock(&table_lock);
    if (!range) drop_pages(r);
    *address = r->lo;
    return range ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

int sim_mem_pin(struct sim_context *context, uint64_t bytes, unsigned flags, uint64_t *address) {
    return add_pages(
            &(struct sim_range){ .kind = SIM_MEM_PINNED, .context = context, .flags = flags },
            bytes, address);
}

int sim_mem_add_managed(struct sim_context *context, struct sim_device *device,
        struct sim_managed *managed, uint64_t bytes, uint64_t *address) {
    return add_pages(&(struct sim_range){ .kind = SIM_MEM_MANAGED,
                             .device = device,
                             .context = context,
                             .managed = managed,
                             .flags = MAPPED },
            bytes, address);
}

/* Waits for every quantum and slice that may still use a range that has left the table. */
static void settle(void) {
    pthread_rwlock_wrlock(&use_lock);
    pthread_rwlock_unlock(&use_lock);
}

static void unmap(const struct sim_range *r) {
    const uintptr_t first = (uintptr_t)r->lo + (uintptr_t)r->delta,
                    before = first % (uintptr_t)sysconf(_SC_PAGESIZE);
    munmap((void *)(first - before), r->hi - r->lo + before);
}

static void give_back(const struct sim_range *r) {
    if (!r->delta && r->kind != SIM_MEM_REGISTERED) drop_pages(r);
    if (r->kind == SIM_MEM_IMPORTED) unmap(r);
    if (!r->delta || r->kind == SIM_MEM_IMPORTED) return;
    struct sim_heap *heap = r->device->heap;
    pthread_rwlock_wrlock(&table_lock);
    open_granules(heap, bytes_of(r), r->end - r->lo, false);
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
        __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
    } else if (found) {
        gone = range->r;
        take_out(heap, range);
    }
    pthread_rwlock_unlock(&table_lock);
    if (!found || stays) return found;
    settle();
    give_back(&gone);
    return true;
}

/* ---- memory of pools and graphs ---- */

int sim_mem_reserve(struct sim_device *device, struct sim_pool *pool, unsigned viewers, bool pages,
        uint64_t bytes, uint64_t *address) {
    if (!pages)
        return alloc(
                device, NULL, pool, viewers, bytes, pool ? SIM_MEM_POOL : SIM_MEM_GRAPH, address);
    return add_pages(
            &(struct sim_range){
                    .kind = SIM_MEM_POOL, .device = device, .pool = pool, .viewers = viewers },
            bytes, address);
}

void sim_mem_resize(uint64_t address, uint64_t bytes, uint64_t counted) {
    struct sim_heap *heap = heap_of(address);
    pthread_rwlock_wrlock(&table_lock);
    const struct spot spot = position(&heap->at, address);
    struct range *range = range_at(&heap->at, spot);
    range->r.hi = heap->at.leaves[spot.leaf].leaf->hi[spot.i] = address + bytes;
    range->r.counted = counted;
    note_end(&heap->at, spot.leaf);
    pthread_rwlock_unlock(&table_lock);
}

void sim_mem_share(struct sim_pool *pool, unsigned viewers) {
    pthread_rwlock_wrlock(&table_lock);
    for (int i = -1; i < SIM_MAX_DEVICES; i++) {
        const struct table *table = i < 0 ? &host.at : &heaps[i].at;
        for (struct spot spot = { 0, 0 }; spot.leaf < table->count; spot = after(table, spot)) {
            struct range *range = range_at(table, spot);
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
        poison(bytes_of(&range->r), range->r.hi - address);
        range->absent = false;
    }
    pthread_rwlock_unlock(&table_lock);
}

bool sim_mem_reserved(uint64_t address) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = lookup(&heap_of(address)->at, address);
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
        take_out(heap, range);
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
        uint64_t done = 0; /* ranges below this address are done */
        unsigned n;
        do {
            struct range *range;
            struct spot spot;
            n = 0;
            pthread_rwlock_wrlock(&table_lock);
            for (spot = position(&heap->at, done);
                    n < 64 && (range = range_at(&heap->at, spot)) != NULL;) {
                done = range->r.hi;
                if (range->r.context != context || range->fresh) {
                    spot = after(&heap->at, spot);
                    continue;
                }
                gone[n++] = range->r;
                take_out(heap, range);
                spot = position(&heap->at, done);
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

/* ---- virtual memory ---- */

bool sim_mem_is_virtual(uint64_t address) { return heap_of(address) == &mapped; }

uint64_t sim_mem_new_id(void) {
    pthread_rwlock_wrlock(&table_lock);
    const uint64_t id = next_id++;
    pthread_rwlock_unlock(&table_lock);
    return id;
}
void sim_mem_poison(void *bytes, uint64_t size) { poison((uintptr_t)bytes, size); }

static bool is_free(uint64_t address, uint64_t bytes) {
    const struct range *next = range_at(&reservations, position(&reservations, address));
    return address >= reservations.base && bytes <= reservations.size &&
            address - reservations.base <= reservations.size - bytes &&
            (!next || next->r.lo >= address + bytes);
}

uint64_t sim_mem_reserve_addresses(uint64_t bytes, uint64_t alignment, uint64_t hint) {
    struct range *range = bytes <= reservations.size / 2 ? calloc(1, sizeof *range) : NULL;
    if (!range) return 0;
    pthread_rwlock_wrlock(&table_lock);
    uint64_t at = hint && hint % alignment == 0 && is_free(hint, bytes)
            ? hint
            : place_with(&reservations, bytes, reservations.gap, alignment);
    range->r = (struct sim_range){ .lo = at, .hi = at + bytes, .end = at + bytes };
    if (!at || !insert_into(&reservations, range)) {
        free(range);
        at = 0;
    }
    pthread_rwlock_unlock(&table_lock);
    return at;
}

bool sim_mem_reservation(uint64_t address, struct sim_range *out) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = lookup(&reservations, address);
    if (range) *out = range->r;
    pthread_rwlock_unlock(&table_lock);
    return range != NULL;
}

void sim_mem_free_addresses(uint64_t address) {
    pthread_rwlock_wrlock(&table_lock);
    const struct spot spot = position(&reservations, address);
    struct range *range = range_at(&reservations, spot);
    take_from(&reservations, spot);
    pthread_rwlock_unlock(&table_lock);
    free(range);
}

bool sim_mem_map(const struct sim_range *r) {
    pthread_rwlock_wrlock(&table_lock);
    const bool ok = insert(&mapped, r, false) != NULL;
    pthread_rwlock_unlock(&table_lock);
    return ok;
}

bool sim_mem_mapping(uint64_t address, struct sim_range *out) {
    pthread_rwlock_rdlock(&table_lock);
    const struct range *range = range_at(&mapped.at, position(&mapped.at, address));
    if (range) *out = range->r;
    pthread_rwlock_unlock(&table_lock);
    return range != NULL;
}

void sim_mem_set_viewers(
        uint64_t from, uint64_t to, unsigned named, unsigned viewers, unsigned writers) {
    struct range *range;
    pthread_rwlock_wrlock(&table_lock);
    for (struct spot spot = position(&mapped.at, from);
            (range = range_at(&mapped.at, spot)) != NULL && range->r.lo < to;
            spot = after(&mapped.at, spot)) {
        range->r.viewers = (range->r.viewers & ~named) | viewers;
        range->r.writers = (range->r.writers & ~named) | writers;
    }
    __atomic_add_fetch(&sim_mem_generation, 1, __ATOMIC_RELEASE);
    pthread_rwlock_unlock(&table_lock);
}

void sim_mem_unmap(uint64_t from, uint64_t to) {
    struct range *range;
    pthread_rwlock_wrlock(&table_lock);
    while ((range = range_at(&mapped.at, position(&mapped.at, from))) != NULL && range->r.lo < to)
        take_out(&mapped, range);
    pthread_rwlock_unlock(&table_lock);
}
void sim_mem_settle(void) { settle(); }

/* ---- memory that processes share: whole granules move into the device's file, at their place in
   the window. Another process maps the file, which it gets by a descriptor. The kernel frees the
   file when no process has it open or mapped, however they end. ---- */

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static bool open_file(struct sim_heap *heap) {
    if (heap->shared) return true;
    const int file = memfd_create("simgpu-device", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const uint64_t bytes = SHARES * sizeof *heap->shares;
    void *shares = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)(heap->bytes.size + bytes)) == 0 &&
            fcntl(file, F_ADD_SEALS, SEALS) == 0)
        shares = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                (off_t)heap->bytes.size);
    if (shares != MAP_FAILED) ((struct shared_range *)shares)->id = MAGIC;
    if (shares != MAP_FAILED &&
            (heap->shared = calloc(heap->bytes.size / GRANULE, sizeof *heap->shared))) {
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

/* Where the table of a device's file begins, or 0: not such a file. Its size cannot change, so a
   mapping of it has no end that moves. */
static uint64_t table_of(int file, uint64_t *inode) {
    const off_t bytes = SHARES * sizeof(struct shared_range);
    struct stat about;
    uint64_t magic;
    if (fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_size <= bytes ||
            (fcntl(file, F_GET_SEALS) & SEALS) != SEALS)
        return 0;
    *inode = about.st_ino;
    const off_t at = about.st_size - bytes;
    return pread(file, &magic, sizeof magic, at) == (ssize_t)sizeof magic && magic == MAGIC
            ? (uint64_t)at
            : 0;
}
bool sim_mem_is_file(int file) {
    uint64_t inode;
    return table_of(file, &inode) != 0;
}

/* Moves a granule into the file; where it is zero, the file has a hole. No other thread may use its
   bytes. */
static bool move_granule(struct sim_heap *heap, uint64_t i) {
    char *p = (char *)(uintptr_t)(heap->bytes.base + i * GRANULE);
    const off_t at = (off_t)(i * GRANULE);
    const bool zero = !*p && !memcmp(p, p + 1, GRANULE - 1);
    /* late writes of others */
    fallocate(heap->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, GRANULE);
    if (!zero && pwrite(heap->file, p, GRANULE, at) != (ssize_t)GRANULE) return false;
    if (mmap(p, GRANULE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, heap->file, at) ==
            MAP_FAILED)
        return false;
    return heap->shared[i] = true;
}

static unsigned new_share(struct sim_heap *heap) { /* 0: none is free */
    if (2 * heap->nshares >= heap->share_limit && heap->share_limit < SHARES)
        heap->share_limit = heap->share_limit ? 2 * heap->share_limit : 1024;
    for (unsigned tries = 0; tries < heap->share_limit; tries++) {
        heap->last_share = heap->last_share % (heap->share_limit - 1) + 1;
        if (heap->shares[heap->last_share].id) continue;
        heap->nshares++;
        return heap->last_share;
    }
    return 0;
}

static int share(struct range *range, struct sim_share *out) {
    struct sim_heap *heap = range->r.device->heap;
    const uint64_t first = bytes_of(&range->r) - heap->bytes.base,
                   bytes = range->r.hi - range->r.lo;
    struct stat about;
    if (!open_file(heap)) return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = first / GRANULE; i <= (first + bytes - 1) / GRANULE; i++)
        if (!heap->shared[i] && !move_granule(heap, i)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!range->share && !(range->share = new_share(heap))) return CUDA_ERROR_OUT_OF_MEMORY;
    struct shared_range *entry = &heap->shares[range->share];
    entry->offset = first;
    entry->bytes = bytes;
    entry->device = (uint64_t)range->r.device->number;
    __atomic_store_n(&entry->id, range->r.id, __ATOMIC_RELEASE);
    if (fstat(heap->file, &about)) return CUDA_ERROR_OPERATING_SYSTEM;
    *out = (struct sim_share){ heap->file, (unsigned)range->r.device->number, about.st_ino, first,
        bytes, heap->bytes.size + range->share * sizeof *heap->shares, range->r.id };
    return CUDA_SUCCESS;
}
int sim_mem_export(uint64_t address, struct sim_share *out) {
    pthread_rwlock_wrlock(&use_lock);
    pthread_rwlock_wrlock(&table_lock);
    struct range *range = lookup(&heap_of(address)->at, address);
    const bool can = range && !range->freeing &&
            (range->r.kind == SIM_MEM_DEVICE || range->r.kind == SIM_MEM_POOL);
    const int result = can ? share(range, out) : CUDA_ERROR_INVALID_VALUE;
    pthread_rwlock_unlock(&table_lock);
    pthread_rwlock_unlock(&use_lock);
    return result;
}

/* A handle may be forged, or of memory that was freed: it must agree with what the exporter's file
   says. */
static bool is_shared(const struct sim_share *from, const struct sim_device *device) {
    uint64_t inode = 0;
    const uint64_t table = table_of(from->file, &inode), at = from->check - table;
    struct shared_range is;
    return table && inode == from->inode && from->check > table && at % sizeof is == 0 &&
            at / sizeof is < SHARES &&
            pread(from->file, &is, sizeof is, (off_t)from->check) == (ssize_t)sizeof is && is.id &&
            is.id == from->id && is.offset == from->offset && is.bytes == from->bytes &&
            is.device == (uint64_t)device->number && is.bytes && is.offset < table &&
            is.bytes <= table - is.offset && is.offset % ALIGNMENT == 0;
}

int sim_mem_import(struct sim_device *device, struct sim_context *context, struct sim_pool *pool,
        const struct sim_share *from, uint64_t *address) {
    struct sim_heap *heap = device->heap;
    const uint64_t before = from->offset % (uint64_t)sysconf(_SC_PAGESIZE);
    void *p = is_shared(from, device)
            ? mmap(NULL, from->bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED, from->file,
                      (off_t)(from->offset - before))
            : MAP_FAILED;
    if (p == MAP_FAILED) return CUDA_ERROR_INVALID_VALUE;
    pthread_rwlock_wrlock(&table_lock);
    const uint64_t at = place(&heap->at, from->bytes);
    struct sim_range r = { .lo = at,
        .hi = at + from->bytes,
        .end = at + from->bytes,
        .delta = (char *)p + before - (char *)(uintptr_t)at,
        .kind = SIM_MEM_IMPORTED,
        .device = device,
        .context = context,
        .pool = pool,
        .id = next_id++ };
    const bool ok = at && insert(heap, &r, false);
    pthread_rwlock_unlock(&table_lock);
    if (!ok) munmap(p, from->bytes + before);
    *address = at;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
