/* heap.c - malloc and free of kernels: a heap per context, as large as CU_LIMIT_MALLOC_HEAP_SIZE says when its first kernel that uses it is launched.

   The heap is one range of device memory that describes itself: first a rover, then blocks without gaps, each behind 16 bytes of header. A
   search begins at the rover, takes the first block that is large enough, and joins free neighbours on its way. What one launch allocates, a
   later one may use and free. One lock for all heaps: kernels that allocate much are slow on a GPU, too. */
#include "code.h"

struct block { uint64_t size, state; };           /* size: with this header, a multiple of 16 */
struct heap { uint64_t bytes, rover; };           /* both from the heap's first byte; the rover is at a block */
enum { UNIT = 16 };
#define FREE  0x73696d2066726565ull
#define TAKEN 0x73696d2074616b65ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct block *block_at(struct heap *h, uint64_t at) { return (struct block *)(void *)((char *)h + at); }

void sim_heap_start(void *memory, uint64_t bytes)
{
    struct heap *h = memory;
    h->bytes = bytes / UNIT * UNIT;
    h->rover = sizeof *h;
    *block_at(h, h->rover) = (struct block) { h->bytes - sizeof *h, FREE };
}

uint64_t sim_heap_take(const struct sim_grid *grid, uint64_t bytes)
{
    struct sim_range r;
    if (!bytes || bytes > UINT64_MAX / 2 || !sim_mem_find(grid->device, grid->heap, UNIT, &r)) return 0;
    struct heap *h = (struct heap *)((uintptr_t)grid->heap + (uintptr_t)r.delta);
    const uint64_t need = (bytes + UNIT - 1) / UNIT * UNIT + sizeof(struct block);
    uint64_t found = 0;
    pthread_mutex_lock(&lock);
    uint64_t at = h->rover, walked = 0;
    while (!found && walked < h->bytes) {
        struct block *b = block_at(h, at), *next;
        if ((b->state != FREE && b->state != TAKEN) || b->size < sizeof *b || b->size > h->bytes - at) break;       /* overwritten by a kernel */
        while (b->state == FREE && at + b->size < h->bytes && (next = block_at(h, at + b->size))->state == FREE) b->size += next->size;
        if (b->state == FREE && b->size >= need) {
            if (b->size - need > sizeof *b) {
                *block_at(h, at + need) = (struct block) { b->size - need, FREE };
                b->size = need;
            }
            b->state = TAKEN;
            found = grid->heap + at + sizeof *b;
        }
        walked += b->size;
        at = at + b->size < h->bytes ? at + b->size : sizeof *h;
    }
    h->rover = at;
    pthread_mutex_unlock(&lock);
    return found;
}

bool sim_heap_give(const struct sim_grid *grid, uint64_t address)
{
    struct sim_range r;
    if (!address) return true;
    if (!sim_mem_find(grid->device, grid->heap, UNIT, &r)) return false;
    struct heap *h = (struct heap *)((uintptr_t)grid->heap + (uintptr_t)r.delta);
    const uint64_t at = address - grid->heap - sizeof(struct block);
    bool ok = false;
    pthread_mutex_lock(&lock);
    if (address % UNIT == 0 && at >= sizeof *h && at < h->bytes && block_at(h, at)->state == TAKEN) {
        block_at(h, at)->state = FREE;
        ok = true;
    }
    pthread_mutex_unlock(&lock);
    return ok;
}
