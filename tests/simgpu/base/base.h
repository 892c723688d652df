/* base.h - the map of base/: what all layers of the CPU device share.
   README.md, one folder up, describes the design; read it first.

     >>settings  settings from the environment          settings.c
     >>map       a table from numbers to numbers        map.c
     >>memory    devices, addresses and bytes           memory.c
     >>grid      a running kernel and its faults        fault.c, address.c, heap.c
     >>nested    what kernels call to launch kernels    device_runtime.c

   Other headers in this folder, for the files that need them:

     code.h      decoded code, blocks and warps: lower/ creates code, run/ drives blocks, execute/
                 changes warps
     matrix.h    the matrices of tensor cores: which lanes have their elements
     lanes.h     macros that define a lane operation; floats.h: bits, rounding and 16-bit formats
     cudadefs.h  CUDA's own constants and structures */
#ifndef SIM_BASE_H
#define SIM_BASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
/* the thread sanitizer: inline assembly is invisible to it, and it allows few addresses */
#define SIM_SEES_THREADS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIM_SEES_THREADS
#endif
#endif
#define SIM_EXPORT __attribute__((visibility("default")))

/* -------------------------------------------------------------------------------------------------
   >>map  A table from numbers or addresses, not 0, to numbers; begins as zeros; free(map.at) ends
   it. */

struct sim_map {
    struct sim_map_entry {
        uint64_t key;
        uint32_t value;
    } * at;
    size_t n, room;
};
bool sim_map_get(const struct sim_map *map, uint64_t key, uint32_t *value);
bool sim_map_put(struct sim_map *map, uint64_t key, uint32_t value); /* false: no memory */

/* -------------------------------------------------------------------------------------------------
   >>settings  Settings of the whole device. */

/* What depends on the compute capability, as CUDA's programming guide lists it; settings.c has the
   table. All devices have the same. */
struct sim_capability {
    unsigned sm;                            /* 90 for 9.0, which introduced clusters */
    unsigned sm_threads, sm_blocks;         /* resident on a multiprocessor */
    unsigned sm_shared;                     /* its bytes of shared memory */
    unsigned block_shared, reserved_shared; /* those that a block can opt in to; those that each
                                               block also takes */
    unsigned sync_domains;                  /* of memory: a hint */
};

/* from the environment, read once; README.md lists the variables */
struct sim_settings {
    const struct sim_capability *capability;
    int driver_version, threads;
    bool trace, verbose, count, strict;
    bool eager;         /* CUDA_MODULE_LOADING */
    const char *access; /* file for what each kernel accesses; NULL: not recorded */
    enum sim_peering {
        SIM_NO_ACCESS,
        SIM_PCIE,
        SIM_NVLINK
    } in_pair,
            others;      /* 0 and 1, 2 and 3, ...; the rest */
    uint64_t timeout_ns; /* of a kernel; 0: no limit */
    uint64_t schedule;   /* seed of the adversary; 0: no adversary */
    uint64_t lazy_ns;    /* how long streams hold back work that no thread waits for, or 0 */
};
extern struct sim_settings sim_settings;
void sim_settings_read(void); /* called once, before any other function */

/* -------------------------------------------------------------------------------------------------
   >>memory  The address spaces, the devices, and one table of ranges for device allocations and
   pinned or registered host memory of all devices. */

/* PTX fundamental types; text.h has their sizes and names */
enum sim_type {
    SIM_NOTYPE,
    SIM_PRED,
    SIM_B8,
    SIM_U8,
    SIM_S8,
    SIM_B16,
    SIM_U16,
    SIM_S16,
    SIM_F16,
    SIM_BF16,
    SIM_B32,
    SIM_U32,
    SIM_S32,
    SIM_F32,
    SIM_F16X2,
    SIM_BF16X2,
    SIM_B64,
    SIM_U64,
    SIM_S64,
    SIM_F64,
    SIM_B128
};

/* SIM_SHARED_CLUSTER exists in the text only: such an access is a generic one to the window of
   shared memory */
enum sim_space {
    SIM_GENERIC,
    SIM_REG,
    SIM_GLOBAL,
    SIM_CONST,
    SIM_SHARED,
    SIM_LOCAL,
    SIM_PARAM,
    SIM_SHARED_CLUSTER
};

/* Windows of the generic address space, above every host address.
   Offset 0 of a window is never valid, as with NULL. */
#define SIM_WINDOW_SHARED 0x0001000000000000ull
#define SIM_WINDOW_LOCAL 0x0002000000000000ull
#define SIM_WINDOW_PARAM 0x0003000000000000ull
/* where a kernel's parameters begin: as in sm_90's constant bank */
#define SIM_PARAM_BASE 0x210ull
/* a function's address is this + 16 * (1 + function id) */
#define SIM_WINDOW_CODE 0x0004000000000000ull
#define SIM_WINDOW_OFFSET 0x0000ffffffffffffull /* the bits of an address inside its window */

struct sim_context; /* objects/context.h; base/ uses these four only to name an owner */
struct sim_pool;
struct sim_managed;
struct sim_physical;

#define SIM_MAX_DEVICES 8

struct sim_device {
    int ordinal;
    int number;      /* its ordinal before CUDA_VISIBLE_DEVICES */
    uint64_t memory; /* total bytes */
    struct sim_heap *heap;
    struct sim_context *primary; /* created once, active or not */
    unsigned primary_count, primary_flags;
    unsigned opened; /* devices whose memory another process shared with this one */
    unsigned peers;  /* __atomic; bit i: kernels here may access device i's memory */
    struct sim_pool *pool, *current_pool; /* the default memory pool; that of allocations which name
                                             none */
    char name[64];
    struct {
        int number, value;
    } answers[8]; /* attributes that SIMGPU_DEVICE_n sets; number 0 ends them */
};

/* the invented multiprocessor, with any capability */
enum {
    SIM_SMS = 20, /* two groups of 8 for green contexts, and a rest of 4 */
    SIM_SM_GROUP = 8,
    SIM_SM_PAIR = 2,
    SIM_MAX_WINDOW = 1 << 20, /* bytes of a window of addresses: a hint that changes nothing */
    SIM_SM_REGS = 65536,
    SIM_BLOCK_THREADS = 1024,
    SIM_BLOCK_SHARED = 48 << 10,
    SIM_CLUSTER_PORTABLE = 8,
    SIM_CLUSTER_MOST = 16,
    SIM_PRIORITY_GREATEST = -5
};

enum sim_mem_kind {
    SIM_MEM_DEVICE,
    SIM_MEM_MODULE, /* a module's globals: cuMemFree refuses them */
    SIM_MEM_ARRAY,  /* an array's texels: they have no address for programs and kernels */
    SIM_MEM_PINNED,
    SIM_MEM_REGISTERED,
    SIM_MEM_IMPORTED, /* another process allocated it */
    SIM_MEM_MAPPED,   /* an allocation that was mapped to reserved addresses */
    SIM_MEM_POOL,
    SIM_MEM_GRAPH,  /* its address belongs to a pool or a graph; the bytes come and go */
    SIM_MEM_MANAGED /* the host and all devices access it at one address */
};

/* a copy of an entry of the table */
struct sim_range {
    uint64_t lo, hi; /* device addresses [lo, hi) */
    uint64_t end;    /* of its room: above hi if a pool gave it for fewer bytes, or if pages without
                        access follow */
    bool guarded;    /* they do */
    ptrdiff_t delta; /* host address of byte a is (char *)a + delta */
    enum sim_mem_kind kind;
    struct sim_device *device;   /* owner; NULL: host memory */
    struct sim_context *context; /* the context that allocated it; NULL: of a pool or graph */
    struct sim_pool *pool;
    struct sim_managed *managed;
    struct sim_physical *physical; /* what is mapped there */
    unsigned viewers;    /* of a pool: bit i: device i may also access it; mapped: only these */
    unsigned writers;    /* mapped: those of them that may also write */
    uint64_t generation; /* of the table, when the copy was made */
    unsigned flags;      /* of the host allocation */
    uint64_t graph;      /* the handle of that which allocates it, 0: none */
    bool ends;           /* that graph frees it, too */
    uint64_t id;         /* unique number of the allocation */
    uint64_t counted;    /* that a pool counts as used; 0: all of hi - lo */
};

/* __atomic; changes when a range is removed or peer access changes: a remembered range is valid
   while it is equal */
extern uint64_t sim_mem_generation;

/* Finds the live range that contains all of [address, address + bytes) and that `viewer` may access
   (its own, a peer's with access enabled, host memory). NULL viewer: any range. Safe from any
   thread; takes a read lock. */
bool sim_mem_find(
        struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out);
/* the same for what it may at least read; of virtual memory only */
bool sim_mem_find_to_read(
        const struct sim_device *viewer, uint64_t address, uint64_t bytes, struct sim_range *out);

/* The rest of this section is for the driver and the engine. memory.c has two locks: one guards the
   table; the other, "use", is held shared while bytes are accessed through a sim_range: by a worker
   for a quantum, by a copy for a slice. Memory loses its access rights only under the exclusive
   "use" lock. So a quantum never loses bytes it uses; it only finds a changed generation. */
struct sim_heap; /* a device's window and live ranges; private to memory.c */

/* Reserves a device's window; false: no address space. */
bool sim_mem_start(struct sim_device *device, uint64_t bytes);
/* Device memory, poisoned: 0, or 2 if there is not enough. */
int sim_mem_alloc(struct sim_device *device, struct sim_context *context, uint64_t bytes,
        enum sim_mem_kind kind, uint64_t *address);
/* Adds host memory: 0 or 2; 712 if it overlaps registered memory, 1 if pinned. */
int sim_mem_register(struct sim_context *context, void *host, uint64_t bytes, unsigned flags);
/* Pinned memory, zeros: 0 or 2. */
int sim_mem_pin(struct sim_context *context, uint64_t bytes, unsigned flags, uint64_t *address);
/* Managed memory, poisoned: 0 or 2. It takes nothing of the device's memory. */
int sim_mem_add_managed(struct sim_context *context, struct sim_device *device,
        struct sim_managed *managed, uint64_t bytes, uint64_t *address);
/* Removes the range that begins at address, and frees its bytes unless they were only registered,
   or a pool or a graph has the address. */
bool sim_mem_remove(uint64_t address);
/* all of its ranges, except those of pools and graphs */
void sim_mem_remove_context(struct sim_context *context);
/* Marks a range as having a queued free, and copies it; false: no such range, or already marked. */
bool sim_mem_mark_freeing(uint64_t address, struct sim_range *out);
/* Memory of a graph. Its address is fixed when a node allocates it. Each launch of the graph claims
   it at the call, until a free is enqueued; it is there from the execution of the node to that of
   the free, which is sim_mem_remove. Memory of a pool is the same, but begins claimed and there. */
int sim_mem_reserve(struct sim_device *device, struct sim_pool *pool, unsigned viewers, bool pages,
        uint64_t bytes, uint64_t *address); /* 0 or 2; pool: NULL for a graph; pages: which the host
                                               accesses, too, at the same address */
bool sim_mem_claim(uint64_t address);       /* false: claimed already */
void sim_mem_in_graph(uint64_t address, uint64_t graph); /* allocated by it */
void sim_mem_freed_in(uint64_t address, uint64_t graph); /* a node of this graph frees it */
void sim_mem_appear(uint64_t address);                   /* poisoned again if it is there already */
bool sim_mem_reserved(uint64_t address); /* whether a pool or a graph has the address */
/* graph or pool no longer have it; removed when nothing uses it */
void sim_mem_unreserve(uint64_t address);
/* For a call that will use the memory: as sim_mem_find without a viewer, and memory of graphs once
   it is claimed, or from the beginning if a graph captures the call. If the bytes are in several
   mappings in a row, out is the first one, with the viewers and writers of all of them. */
bool sim_mem_find_for_call(uint64_t address, uint64_t bytes, bool captures, struct sim_range *out);
/* Memory that other processes may map: where it is in the device's file, and where the file has its
   id while it is shared. */
struct sim_share {
    int file;
    unsigned number;
    uint64_t inode, offset, bytes, check, id;
};
int sim_mem_export(uint64_t address, struct sim_share *out); /* 0; 1: no such memory; 2 or 304 */
int sim_mem_import(struct sim_device *device, struct sim_context *context, struct sim_pool *pool,
        const struct sim_share *from, uint64_t *address); /* 0; 1: not shared by its exporter; 2 */
/* opens the device's file once more; -1: no memory, or no file */
int sim_mem_file(struct sim_device *device);
bool sim_mem_is_file(int file); /* of any process's device */
/* Virtual memory. The caller holds a lock between what it looks up and what it then changes. Maps
   are at addresses that are reserved and not mapped; their bytes are the caller's, which keeps them
   until sim_mem_settle has returned. */
bool sim_mem_is_virtual(uint64_t address); /* reserved or not: in the window */
/* the address, that of the hint if it can be; 0: there is none. alignment: a power of 2 */
uint64_t sim_mem_reserve_addresses(uint64_t bytes, uint64_t alignment, uint64_t hint);
bool sim_mem_reservation(uint64_t address, struct sim_range *out); /* with this address */
void sim_mem_free_addresses(uint64_t address);                     /* the first of a reservation */
bool sim_mem_map(const struct sim_range *range);                   /* false: no memory */
bool sim_mem_mapping(uint64_t address, struct sim_range *out); /* with this address, or the next */
/* named: whom viewers and writers are about */
void sim_mem_set_viewers(
        uint64_t from, uint64_t to, unsigned named, unsigned viewers, unsigned writers);
void sim_mem_unmap(uint64_t from, uint64_t to);
/* no running quantum or slice still uses what has left the table; without sim_lock */
void sim_mem_settle(void);
void sim_mem_use(void); /* shared "use" lock around accesses to bytes */
void sim_mem_unuse(void);
/* of a pool, within its room, which counts so many bytes */
void sim_mem_resize(uint64_t address, uint64_t bytes, uint64_t counted);
void sim_mem_share(struct sim_pool *pool, unsigned viewers); /* all memory of the pool */
/* what a pool reserves; false: not so much is free */
bool sim_mem_charge(struct sim_device *device, uint64_t bytes);
void sim_mem_credit(struct sim_device *device, uint64_t bytes);
uint64_t sim_mem_used(struct sim_device *device);
uint64_t sim_mem_new_id(void);                   /* of an allocation */
void sim_mem_poison(void *bytes, uint64_t size); /* fresh ones */
uint64_t sim_mem_cost(uint64_t bytes); /* of an allocation: with what aligns the next one */
/* of any device, live or not: such an address is never host memory */
bool sim_mem_in_window(uint64_t address);

/* -------------------------------------------------------------------------------------------------
   >>grid  A running kernel as all of its blocks see it, and the faults that stop it. */

struct sim_cluster;
struct sim_block;
struct sim_warp;
struct sim_insn;
struct sim_code; /* all five are in code.h */
struct sim_op;   /* run/run.h */

/* the properties that the driver queries */
struct sim_code_info {
    uint32_t static_shared; /* bytes */
    uint32_t shared_align;  /* alignment of the dynamic part */
    uint32_t local_bytes;   /* per thread, deepest non-recursive call chain */
    uint32_t stack_bytes;   /* what that chain takes of a GPU's stack, at least */
    uint32_t const_bytes, param_bytes;
    uint32_t num_regs; /* estimated: 32-bit registers, as many as the text needs */
    bool uses_dynamic_shared, uses_heap; /* heap: calls malloc or free */
    bool shows_params;                   /* has generic addresses of the kernel's parameters */
};

/* CUresult values of a stopped kernel */
enum sim_fault {
    SIM_OK = 0,
    SIM_F_ILLEGAL_ADDRESS = 700,
    SIM_F_TIMEOUT = 702,
    SIM_F_ASSERT = 710,
    SIM_F_STACK = 714,
    SIM_F_ILLEGAL_INSTRUCTION = 715,
    SIM_F_MISALIGNED = 716,
    SIM_F_INVALID_ADDRESS_SPACE = 717,
    SIM_F_INVALID_PC = 718,
    SIM_F_LAUNCH_FAILED = 719
};

struct sim_grid {
    const struct sim_code *code;
    struct sim_device *device; /* the device whose memory it sees */
    const char *kernel_name;
    uint32_t grid[3], block[3];
    uint32_t cluster[3], cluster_blocks; /* blocks of a cluster along each axis, and in all */
    uint32_t clusters[3];                /* of the grid along each axis */
    bool explicit_cluster;               /* the kernel or the launch gives the size; else it is 1 */
    uint32_t dynamic_shared;
    unsigned char *params;       /* param_bytes, owned by the grid; ld.param reads them */
    unsigned char *shown_params; /* a copy at their generic addresses, which a launch may write, or
                                    NULL */
    bool cooperative;
    uint64_t sms;         /* bit i: blocks may run on multiprocessor i */
    uint64_t workspace;   /* of the grid barrier: its device address, or 0 (%envreg2:1) */
    uint64_t heap;        /* device address of its context's heap for malloc, 0 if unused */
    uint32_t stack;       /* of its context when it was launched: CU_LIMIT_STACK_SIZE, */
    uint64_t print_bytes; /* and CU_LIMIT_PRINTF_FIFO_SIZE */
    uint64_t id;          /* %gridid */
    struct sim_op *op;    /* that executes it */
    unsigned depth;       /* 0: launched by the host; else 1 more than the parent's */
    uint64_t started_ns;
    uint64_t nclusters, max_resident; /* max_resident: clusters */
    uint64_t next_cluster;            /* __atomic; beyond nclusters once all have begun */
    struct sim_cluster *used; /* finished clusters, for reuse: the last first, which is cached;
                                 guarded by the engine's mutex */
    struct sim_uses *uses;    /* what it accesses, with SIMGPU_ACCESS, or NULL */
    int fault; /* __atomic; the first one, which stops the other blocks at their next quantum */
    char fault_text[400]; /* "illegal address 0x10 (4-byte store) at line 12 of kernel one, block
                             (0,0,0) thread (3,0,0)" */
};

/* The allocations that its arguments point into, and the variables of its module: which of their
   bytes it reads and writes. Only address.c records this, so no range is remembered while it is
   on. */
enum { SIM_READS = 1, SIM_WRITES = 2, SIM_CHUNK = 4096 };
struct sim_uses {
    char *launch;    /* its dims, arguments and variables, as text */
    unsigned others; /* __atomic; what it does to other memory: SIM_READS, SIM_WRITES */
    unsigned n;
    struct sim_use {
        uint64_t lo, hi;
        const char *variable;            /* its name; NULL: a word of an argument */
        unsigned argument, offset, done; /* done: __atomic; SIM_READS, SIM_WRITES */
        bool lists;                      /* the bytes: for the first one of each allocation */
        unsigned char **chunks; /* __atomic; each has the same for SIM_CHUNK bytes; NULL: for none
                                   of them */
    } at[];
};

/* fault.c. `lane` names the thread; the text says what happened, and the function appends where */
void sim_fault_at(struct sim_warp *w, const struct sim_insn *i, int lane, int fault,
        const char *format, ...) __attribute__((format(printf, 5, 6)));
void sim_thread_of(const struct sim_warp *w, int lane, uint32_t out[3]); /* %tid of a lane */
/* Keeps the first fault. */
void sim_grid_fault(struct sim_grid *grid, int fault, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Nothing in the block's cluster can run. */
void sim_block_deadlock(struct sim_block *block);
/* The kernel runs too long: says how many of the grid's blocks had begun, and where the threads of
   a block of the cluster are; NULL: blocks end and begin. */
void sim_grid_timeout(struct sim_grid *grid, const struct sim_cluster *cluster, double seconds);

/* address.c: what kernels see of their parameters has whole units of 16 bytes; those after
   param_bytes are zeros */
static inline uint32_t sim_param_room(uint32_t param_bytes) { return (param_bytes + 15) / 16 * 16; }
/* The host address of `size` bytes at `a` in `space` as lane `lane` sees it; NULL: it raised the
   fault */
void *sim_at(struct sim_warp *w, const struct sim_insn *i, int lane, enum sim_space space,
        uint64_t a, unsigned size, const char *what);
/* The same for a load, but only the used bytes must exist: if others do not, returns `copy`, where
   these are 0. */
const void *sim_at_used(struct sim_warp *w, const struct sim_insn *i, int lane,
        enum sim_space space, uint64_t a, unsigned size, void *copy);
/* of global memory */
bool sim_find_range(struct sim_block *b, uint64_t a, unsigned size, struct sim_range *out);
/* The block whose shared memory an access of b means, and may be outside of: a generic one also
   those of b's cluster. NULL: none. */
struct sim_block *sim_shared_owner(struct sim_block *b, enum sim_space space, uint64_t a);
/* makes each lane's stack at least that large */
bool sim_local_grow(struct sim_warp *w, uint32_t bytes);

/* heap.c: malloc and free of kernels. take returns 0 if there is no memory; give returns false if
   no block of the heap begins at the address. */
void sim_heap_start(void *memory, uint64_t bytes); /* creates an empty heap there */
uint64_t sim_heap_take(const struct sim_grid *grid, uint64_t bytes);
bool sim_heap_give(const struct sim_grid *grid, uint64_t address);

/* -------------------------------------------------------------------------------------------------
   >>nested  The device runtime: functions that texts declare and this device provides. In the text
   a name begins with __cudaCDP2, or with cuda in texts for its first version, and may end in _ptsz,
   if NULL is each thread's stream.
   One row per function: the bytes of each argument, where C is a dim3 of 12 bytes; then those of
   the result. */
/* clang-format off */
#define SIM_NESTED_CALLS(X) \
    X(GetParameterBuffer, "88:8") X(GetParameterBufferV2, "8CC4:8") X(LaunchDevice, "88CC48:4") \
    X(LaunchDeviceV2, "88:4") X(DeviceSynchronize, ":4") \
    X(StreamCreateWithFlags, "84:4") X(StreamDestroy, "8:4") X(StreamWaitEvent, "884:4") \
    X(EventCreateWithFlags, "84:4") X(EventRecord, "88:4") X(EventRecordWithFlags, "884:4") \
    X(EventDestroy, "8:4") \
    X(GetLastError, ":4") X(PeekAtLastError, ":4") X(GetErrorName, "4:8") X(GetErrorString, "4:8") \
    X(Malloc, "88:4") X(Free, "8:4") X(MemcpyAsync, "88848:4") X(Memcpy2DAsync, "88888848:4") \
    X(MemsetAsync, "8488:4") X(Memset2DAsync, "884888:4") \
    X(GetDevice, "8:4") X(GetDeviceCount, "8:4") X(DeviceGetAttribute, "844:4") \
    X(DeviceGetLimit, "84:4") \
    X(DeviceGetCacheConfig, "8:4") X(DeviceGetSharedMemConfig, "8:4") X(RuntimeGetVersion, "8:4") \
    X(FuncGetAttributes, "88:4") X(OccupancyMaxActiveBlocksPerMultiprocessor, "8848:4") \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, "88484:4")
/* clang-format on */
enum sim_nested_call {
#define X(name, bytes) SIM_N_##name,
    SIM_NESTED_CALLS(X)
#undef X
            SIM_NESTED_COUNT,
    SIM_NESTED_PER_THREAD = 64 /* added: _ptsz */
};
enum { SIM_NESTED_CELLS = 8 }; /* arguments take one cell of 8 bytes each, a dim3 two */
/* a call; SIM_NESTED_COUNT: one that this device does not have; -1: not a function of the device
   runtime */
int sim_nested_find(const char *name);
const char *sim_nested_bytes(int call); /* the row's text */
/* The driver's: performs the call of one lane. False: it must wait, and executes the call again
   later. */
extern bool (*sim_nested_run)(struct sim_warp *w, const struct sim_insn *i, int lane, unsigned call,
        const uint64_t *arg, uint64_t *result);

#endif
