/* heap.c - malloc and free of kernels: one heap per context, of the size that
   CU_LIMIT_MALLOC_HEAP_SIZE has when the first kernel that uses it is launched.

   The heap is one range of device memory that describes itself: first a rover, then blocks without
   gaps, each after a 16-byte header. A search begins at the rover, takes the first block that is
   large enough, and joins free neighbours on its way. A later launch may use and free what an
   earlier one allocated. One lock guards all heaps: kernels that allocate often are slow on a GPU,
   too. Kernels can overwrite the heap's headers at any time, so each number is read once and used
   only if it leads to a place inside the heap. */
#include "base.h"

struct block {
    uint64_t size, state;
}; /* size: includes this header; a multiple of 16 */
/* from the heap's first byte; the rover is the offset of a block */
struct heap {
    uint64_t rover, unused;
};
enum { UNIT = 16 };
#define FREE 0x73696d2066726565ull
#define TAKEN 0x73696d2074616b65ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct block *block_at(struct heap *h, uint64_t at) {
    return (struct block *)(void *)((char *)h + at);
}

/* The heap of a grid and its size in bytes; NULL: it has none. */
static struct heap *heap_of(const struct sim_grid *grid, uint64_t *bytes) {
    struct sim_range r;
    if (!sim_mem_find(grid->device, grid->heap, UNIT, &r)) return NULL;
    *bytes = (r.hi - grid->heap) / UNIT * UNIT;
    return (struct heap *)((uintptr_t)grid->heap + (uintptr_t)r.delta);
}

static uint64_t state_of(struct heap *h, uint64_t at) {
    return __atomic_load_n(&block_at(h, at)->state, __ATOMIC_RELAXED);
}
/* 0: overwritten by a kernel */
static uint64_t size_of(struct heap *h, uint64_t at, uint64_t bytes) {
    const uint64_t size = __atomic_load_n(&block_at(h, at)->size, __ATOMIC_RELAXED);
    return size % UNIT == 0 && size <= bytes - at ? size : 0;
}
static void write_block(struct heap *h, uint64_t at, uint64_t size, uint64_t state) {
    __atomic_store_n(&block_at(h, at)->size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&block_at(h, at)->state, state, __ATOMIC_RELAXED);
}

void sim_heap_start(void *memory, uint64_t bytes) {
    struct heap *h = memory;
    h->rover = sizeof *h;
    write_block(h, h->rover, bytes / UNIT * UNIT - sizeof *h, FREE);
}

uint64_t sim_heap_take(const struct sim_grid *grid, uint64_t n) {
    uint64_t bytes, found = 0;
    struct heap *h = n && n <= UINT64_MAX / 2 ? heap_of(grid, &bytes) : NULL;
    if (!h) return 0;
    const uint64_t need = (n + UNIT - 1) / UNIT * UNIT + sizeof(struct block);
    pthread_mutex_lock(&lock);
    uint64_t at = __atomic_load_n(&h->rover, __ATOMIC_RELAXED), walked = 0;
    if (at % UNIT || at >= bytes) at = sizeof *h;
    while (!found && walked < bytes) {
        const uint64_t state = state_of(h, at);
        uint64_t size = size_of(h, at, bytes), more;
        if ((state != FREE && state != TAKEN) || !size) break;
        while (state == FREE && at + size < bytes && state_of(h, at + size) == FREE &&
                (more = size_of(h, at + size, bytes)) > 0)
            size += more;
        if (state == FREE && size >= need) {
            if (size - need > sizeof(struct block)) {
                write_block(h, at + need, size - need, FREE);
                size = need;
            }
            write_block(h, at, size, TAKEN);
            found = grid->heap + at + sizeof(struct block);
        } else if (state == FREE) write_block(h, at, size, FREE);
        walked += size;
        at = at + size < bytes ? at + size : sizeof *h;
    }
    __atomic_store_n(&h->rover, at, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    return found;
}

bool sim_heap_give(const struct sim_grid *grid, uint64_t address) {
    uint64_t bytes;
    if (!address) return true;
    struct heap *h = heap_of(grid, &bytes);
    if (!h) return false;
    const uint64_t at = address - grid->heap - sizeof(struct block);
    bool ok = false;
    pthread_mutex_lock(&lock);
    if (address % UNIT == 0 && at >= sizeof *h && at < bytes && state_of(h, at) == TAKEN) {
        __atomic_store_n(&block_at(h, at)->state, FREE, __ATOMIC_RELAXED);
        ok = true;
    }
    pthread_mutex_unlock(&lock);
    return ok;
}
