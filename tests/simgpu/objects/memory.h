/* memory.h - memory: of devices and of the host, of pools, managed; copied and filled; shared with
   other processes. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

struct sim_pool {
    struct sim_pool *next; /* in sim_pools */
    uint64_t handle, name; /* handle: 0: destroyed, but some of its memory is in use, which reports
                              the name */
    struct sim_device *device;
    uint64_t threshold, most; /* most: that it may reserve, 0: no limit */
    uint64_t held;            /* by blocks, in use or kept; reserved is this, rounded up */
    uint64_t used, used_high, reserved, reserved_high;
    unsigned viewers;    /* bit i: device i may access its memory, too */
    int handle_types;    /* that may export it */
    bool pages, on_host; /* pages: the host accesses its memory at the same address */
    int reuse[3];
    bool imported; /* of another process: which pool of the file it is */
    int file;
    uint32_t number;
    struct sim_imported {
        uint64_t offset, id, address, range;
    } * imports; /* range: the id of its range here */
    unsigned nimports;
    struct sim_kept *kept;   /* freed, the last one first */
    struct sim_kept *coming; /* allocated again, but pending on a stream; the last one first */
};
extern struct sim_pool *sim_pools;

/* reserve.c */
/* a freed block, or one that is coming */
struct sim_kept {
    struct sim_kept *next, **from; /* from: while it is coming: what points to it */
    struct sim_pool *pool;
    uint64_t address, bytes, stream; /* bytes: its room; stream: the id of that on which it was
                                        freed, 0: none */
    struct sim_op *freed; /* the pending free or allocation after which it can be used, or NULL */
    bool cached;          /* by the program: see sim_block_cache */
    uint64_t counted;     /* cached: the bytes that the pool counts as used */
};
struct sim_pool *sim_pool_new(struct sim_device *device); /* NULL: no memory */
/* reserves room for a block of this cost; false: not so much is free */
bool sim_pool_hold(struct sim_pool *pool, uint64_t cost);
void sim_pool_drop(struct sim_pool *pool, uint64_t cost);
uint64_t sim_pool_counted(const struct sim_range *r); /* its bytes that are used */
/* freed memory; NULL: no memory */
struct sim_kept *sim_pool_keep(const struct sim_range *r, uint64_t stream);
struct sim_kept *sim_pool_take_kept(struct sim_kept **at); /* no longer kept: the caller's */
/* returns kept memory, but no more than leaves that much reserved; false: nothing */
bool sim_pool_shrink(struct sim_pool *pool, uint64_t most);
void sim_pool_settle(struct sim_pool *pool);    /* a destroyed one ends with its last memory */
void sim_pool_freed(const struct sim_range *r); /* its bytes are no longer there */
void sim_pool_use(struct sim_pool *pool, uint64_t bytes); /* so many more */
/* imported: the pool that has it is another process's */
void sim_pool_entered(struct sim_pool *pool, uint64_t bytes);
void sim_pool_left(struct sim_pool *pool, uint64_t bytes); /* and freed */
/* the program has waited: returns what they keep above their thresholds */
void sim_pools_settle(void);
/* returns what they keep to the device; false: nothing */
bool sim_pools_shrink(struct sim_device *device);

/* pool.c */
int sim_alloc_work(uint64_t *address, size_t bytes, struct sim_device *device, unsigned viewers,
        struct sim_work *out);
/* for a node of it */
int sim_free_work(uint64_t address, const struct sim_graph *graph, struct sim_work *out);
void sim_pools_end(void); /* also destroys those that are not default */
int sim_pool_alloc(
        CUdeviceptr *out, size_t bytes, struct sim_pool *pool, struct sim_stream *stream);
/* in the order of the stream */
int sim_free_async(CUdeviceptr address, struct sim_stream *stream);
/* The program keeps a block, which is not there meanwhile: for the pool, it stays in use. It is
   there again, with so many bytes, in the order of the same stream; or it is freed. A block that is
   not cached only gets another size, within its room. */
int sim_block_cache(CUdeviceptr address, struct sim_stream *stream);
int sim_block_uncache(CUdeviceptr address, size_t bytes, struct sim_stream *stream);
bool sim_block_free_cached(CUdeviceptr address); /* false: it is not cached */
/* Marked as freeing: freed once its pending allocation is done; false: that is not pending. */
bool sim_block_free_coming(const struct sim_range *r);
/* it is destroyed; memory in use remains until it is freed */
void sim_pool_end(struct sim_pool *pool);

/* managed.c */
struct sim_managed {
    struct sim_link link; /* a variable of a module is in no ring */
    uint64_t address, bytes;
    unsigned attached; /* CU_MEM_ATTACH_... */
    bool is_variable;
    struct page *pages; /* what was said of each page; NULL: nothing */
};
/* Of a module: 0, 2 or 801. owner: NULL: no context's. Without sim_lock */
int sim_managed_variable(
        struct sim_context *owner, struct sim_device *device, uint64_t bytes, uint64_t *address);
void sim_managed_free(uint64_t address); /* if managed memory is there */
int sim_managed_new(
        struct sim_context *context, uint64_t bytes, unsigned attached, CUdeviceptr *address);
/* that has all of these bytes, or NULL */
struct sim_managed *sim_managed_at(CUdeviceptr address, size_t bytes);
int sim_managed_prefetch(
        CUdeviceptr address, size_t bytes, CUmemLocation to, unsigned flags, void *stream);
int sim_managed_advise(CUdeviceptr address, size_t bytes, unsigned advice, CUmemLocation location);
bool sim_managed_query_bad(const int *out, size_t size, unsigned attribute);
int sim_managed_query(int *out, size_t size, unsigned attribute, CUdeviceptr address, size_t bytes);

/* virtual.c */
enum { SIM_MEM_GRANULARITY = 2 << 20 }; /* as on an H200 */
enum { SIM_NOTHING, SIM_READ_ONLY, SIM_READ_WRITE = 3 };
/* an allocation without an address */
struct sim_physical {
    uint64_t handle, id, bytes;
    uint64_t refs, mappings;   /* to the handle, which the program releases; it ends without both */
    struct sim_device *device; /* NULL: memory of the host */
    CUmemAllocationProp properties;
    void *at; /* its bytes */
    int file; /* that has them, or -1 */
    bool imported;
};
/* device: NULL: of the host */
int sim_physical_new(struct sim_device *device, uint64_t bytes,
        const CUmemAllocationProp *properties, uint64_t *handle);
struct sim_physical *sim_physical_at(uint64_t handle); /* NULL: there is none, or it was released */
void sim_physical_release(struct sim_physical *physical);
int sim_physical_export(const struct sim_physical *physical, int *out); /* out: a new descriptor */
int sim_physical_import(int given, uint64_t *handle);
int sim_virtual_map(struct sim_physical *physical, uint64_t address); /* [lock] */
int sim_virtual_unmap(uint64_t address, uint64_t bytes); /* [lock], released meanwhile */
int sim_virtual_set_access(
        uint64_t address, uint64_t bytes, const CUmemAccessDesc *list, size_t count);
/* false: nothing is mapped there */
bool sim_virtual_mapping(uint64_t address, struct sim_range *r);
/* SIM_NOTHING, ... */
int sim_virtual_access(const struct sim_range *r, const CUmemLocation *location);
int sim_virtual_access_of(const struct sim_range *r, const struct sim_device *device);

/* alloc.c */
enum { SIM_HOST_PORTABLE = 1, SIM_HOST_MAPPED = 2 };       /* flags of host memory */
bool sim_memory_at(uint64_t address, struct sim_range *r); /* false: there is none */
/* in the current context; [lock], released meanwhile */
int sim_alloc_device(CUdeviceptr *out, uint64_t bytes);
int sim_free_device(CUdeviceptr address); /* of any kind; [lock], released meanwhile */
int sim_alloc_host(void **out, size_t bytes, unsigned flags); /* page-locked */
/* page-locked or registered; unknown: the result for other memory */
int sim_free_host(void *p, enum sim_mem_kind kind, int unknown);
bool sim_host_range(const void *p, struct sim_range *r); /* false: not page-locked or registered */
int sim_pointer_describe(void *out, int attribute, CUdeviceptr address, const struct sim_range *r);
/* r: NULL: not ours */

/* copy.c */
/* KNOWN: the device must know the address */
enum { SIM_TO_KNOWN = 1, SIM_FROM_KNOWN = 2, SIM_ASYNC = 4, SIM_PEER = 8 };
/* for a copy or fill */
int sim_copy_stream(const void *handle, bool async, struct sim_stream **out);
/* how: of these bits */
int sim_copy(uint64_t to, uint64_t from, size_t bytes, void *stream, int how);
int sim_copy_3d(struct sim_stream *stream, const CUDA_MEMCPY3D *params, int how);
int sim_copy_batch(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes, size_t n,
        const CUmemcpyAttributes *attributes, const size_t *starts, size_t nattributes, size_t *bad,
        void *stream); /* bad: the index of the copy that is wrong, or SIZE_MAX */
int sim_copy_batch_3d(size_t n, const CUDA_MEMCPY3D_BATCH_OP *list, size_t *bad,
        unsigned long long flags, void *stream);
int sim_fill(CUdeviceptr to, size_t pitch, unsigned pattern, unsigned size, size_t count,
        size_t rows, void *stream, bool async);
int sim_stream_value(
        void *stream, CUdeviceptr address, uint64_t v, unsigned bytes, unsigned how, bool wait);
/* waits until a word has the value, or writes it */
int sim_copy_work(const CUDA_MEMCPY3D *params, struct sim_context *context, struct sim_work *out);
int sim_fill_work(
        const CUDA_MEMSET_NODE_PARAMS *params, struct sim_context *context, struct sim_work *out);

/* ipc.c: exports to other processes what they then open or import */
int sim_ipc_export(CUdeviceptr address, CUipcMemHandle *out);
int sim_ipc_open(const CUipcMemHandle *handle, CUdeviceptr *out); /* in the current context */
int sim_ipc_close(CUdeviceptr address);
int sim_ipc_export_event(struct sim_event *event, CUipcEventHandle *out);
int sim_ipc_open_event(const CUipcEventHandle *handle, void **out);
int sim_ipc_export_pool(const struct sim_pool *pool, int *out); /* out: a new descriptor */
int sim_ipc_import_pool(int given, void **out);
int sim_ipc_export_pointer(CUdeviceptr address, CUmemPoolPtrExportData *out);
int sim_ipc_import_pointer(
        struct sim_pool *pool, const CUmemPoolPtrExportData *data, CUdeviceptr *out);

#endif
