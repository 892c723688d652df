/* ipc.c - memory, events and pools between processes of the CPU device on one machine.

   A handle names a file without a name (a device's memory, an event's state) by the process that
   has it open and its number there; the importer opens it through /proc. Nothing has a name in a
   file system, so nothing is left behind, however a process ends. The file of an exported pool is
   the device's, opened once more; the position in it says which pool. */
#include "objects.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY = 0x6d706973, EVENT = 0x65706973, POINTER = 0x70706973 }; /* "sipm", "sipe", "sipp" */
/* the bytes of a handle */
struct name {
    uint32_t kind, pid;
    uint64_t start, inode;
    uint32_t file, number; /* number: of the device; for a pointer, of the pool */
    uint64_t offset, bytes, check, id;
};
typedef char name_fits[sizeof(struct name) == sizeof(CUipcMemHandle) ? 1 : -1];

static struct sim_process process_of(const struct name *name) {
    return (struct sim_process){ .start = name->start, .pid = name->pid };
}
static struct name name_of_share(uint32_t kind, const struct sim_share *share) {
    const struct sim_process own = sim_this_process();
    return (struct name){ kind, own.pid, own.start, share->inode, (uint32_t)share->file,
        share->number, share->offset, share->bytes, share->check, share->id };
}

static int find_memory(CUdeviceptr address, struct sim_range *r) {
    return sim_mem_find_for_call(address, 1, false, r) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
/* Without sim_lock: it waits for running kernels. */
static int share(CUdeviceptr address, struct sim_share *out) {
    pthread_mutex_unlock(&sim_lock);
    const int result = sim_mem_export(address, out);
    pthread_mutex_lock(&sim_lock);
    return result;
}

/* ---- memory ---- */

/* Opened in a context; opening it once more gives the same address. */
struct opened {
    struct sim_link link;
    struct sim_context *context;
    struct name name;
    CUdeviceptr address;
    unsigned count;
};

static void drop_opened(struct opened *o) {
    sim_link_remove(&o->link);
    free(o);
}
/* base/memory.c removes the range. */
static void end_opened(struct sim_link *link) { drop_opened(SIM_OWNER(opened, link)); }

static struct opened *find_opened(
        struct sim_context *c, CUdeviceptr address, const struct name *name) {
    for (struct sim_link *l = c->children.next; l != &c->children; l = l->next) {
        struct opened *o = SIM_OWNER(opened, l);
        if (l->end == end_opened &&
                (name ? !memcmp(&o->name, name, sizeof *name) : o->address == address))
            return o;
    }
    return NULL;
}

int sim_ipc_export(CUdeviceptr address, CUipcMemHandle *out) {
    struct sim_share shared;
    struct sim_range r;
    int result = find_memory(address, &r);
    if (!result && r.kind != SIM_MEM_DEVICE)
        result = sim_because(
                CUDA_ERROR_INVALID_VALUE, "only memory from cuMemAlloc has an IPC handle");
    if (result || (result = share(address, &shared))) return result;
    const struct name name = name_of_share(MEMORY, &shared);
    memcpy(out, &name, sizeof name);
    return CUDA_SUCCESS;
}

static int import(const struct name *name, struct sim_device *d, CUdeviceptr *out) {
    struct sim_context *c = sim_self.context;
    const struct sim_share from = { sim_process_file(process_of(name), (int)name->file),
        name->number, name->inode, name->offset, name->bytes, name->check, name->id };
    if (from.file < 0)
        return sim_because(
                CUDA_ERROR_INVALID_VALUE, "the process that exported the memory has ended");
    struct opened *o = calloc(1, sizeof *o);
    uint64_t address = 0;
    const int result = o ? sim_mem_import(d, c, NULL, &from, &address) : CUDA_ERROR_OUT_OF_MEMORY;
    close(from.file);
    if (result) {
        free(o);
        return result;
    }
    *o = (struct opened){ .context = c, .name = *name, .address = address, .count = 1 };
    *out = address;
    sim_link_add(&c->children, &o->link, end_opened);
    return CUDA_SUCCESS;
}

int sim_ipc_open(const CUipcMemHandle *handle, CUdeviceptr *out) {
    struct sim_context *c = sim_self.context;
    struct name name;
    struct opened *o;
    memcpy(&name, handle, sizeof name);
    if (name.kind != MEMORY) return CUDA_ERROR_INVALID_VALUE;
    if (sim_process_same(process_of(&name), sim_this_process()))
        return sim_because(CUDA_ERROR_INVALID_CONTEXT, "a process cannot open its own handle");
    struct sim_device *d = sim_device_numbered(name.number);
    if (!d)
        return sim_because(CUDA_ERROR_INVALID_VALUE,
                "the memory is on a device that this process does not see");
    if (d != c->device && !sim_peers(c->device, d)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if ((o = find_opened(c, 0, &name))) {
        o->count++;
        *out = o->address;
        return CUDA_SUCCESS;
    }
    const int result = import(&name, d, out);
    if (!result && d != c->device) {
        c->device->opened |= 1u << d->ordinal;
        __atomic_or_fetch(&c->device->peers, 1u << d->ordinal, __ATOMIC_RELAXED);
    }
    return result;
}

int sim_ipc_close(CUdeviceptr address) {
    struct opened *o = find_opened(sim_self.context, address, NULL);
    if (!o) return CUDA_ERROR_INVALID_VALUE;
    if (--o->count) return CUDA_SUCCESS;
    drop_opened(o); /* before the wait: another thread may open it again meanwhile */
    const int result = sim_drain(NULL, sim_self.context->device);
    pthread_mutex_unlock(&sim_lock);
    sim_mem_remove(address);
    pthread_mutex_lock(&sim_lock);
    return result;
}

/* ---- events ---- */

int sim_ipc_export_event(struct sim_event *e, CUipcEventHandle *out) {
    struct stat about;
    if (!e->shared) {
        if (!(e->shared = sim_shared_new())) return CUDA_ERROR_OUT_OF_MEMORY;
        if (e->op && !e->op->done) sim_shared_record(e->shared, e->op);
    }
    const int file = sim_shared_file(e->shared);
    if (file < 0) return CUDA_ERROR_INVALID_HANDLE; /* another process's */
    if (fstat(file, &about)) return CUDA_ERROR_OPERATING_SYSTEM;
    const struct sim_process own = sim_this_process();
    const struct name name = { .kind = EVENT,
        .pid = own.pid,
        .start = own.start,
        .inode = about.st_ino,
        .file = (uint32_t)file,
        .number = (uint32_t)e->context->device->number };
    memcpy(out, &name, sizeof name);
    return CUDA_SUCCESS;
}

int sim_ipc_open_event(const CUipcEventHandle *handle, void **out) {
    struct name name;
    struct stat about;
    memcpy(&name, handle, sizeof name);
    if (name.kind != EVENT) return CUDA_ERROR_MAP_FAILED;
    if (sim_process_same(process_of(&name), sim_this_process()))
        return sim_because(CUDA_ERROR_INVALID_CONTEXT, "a process cannot open its own handle");
    const int file = sim_process_file(process_of(&name), (int)name.file);
    const bool found = file >= 0 && fstat(file, &about) == 0 && about.st_ino == name.inode;
    struct sim_shared *shared = found ? sim_shared_open(file) : NULL;
    if (file >= 0) close(file);
    if (!found)
        return sim_because(CUDA_ERROR_INVALID_VALUE,
                "the process that exported the event has ended, or the event was destroyed");
    struct sim_event *e = shared
            ? sim_event_new(sim_self.context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)
            : NULL;
    if (!e) {
        sim_shared_unref(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    e->shared = shared;
    *out = SIM_HANDLE(e->handle);
    return CUDA_SUCCESS;
}

/* ---- pools ---- */

/* The position of the descriptor's file: the pool's handle without its generation, and the device's
   number. */
enum { DEVICE_BITS = 4 };
static uint32_t number_of(const struct sim_pool *p) {
    return (uint32_t)(p->handle >> SIM_KIND_BITS & 0x7ffffff);
}

int sim_ipc_export_pool(const struct sim_pool *p, int *out) {
    const int file = sim_mem_file(p->device);
    if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
    const off_t at = (off_t)number_of(p) << DEVICE_BITS | p->device->number;
    if (lseek(file, at, SEEK_SET) != at) {
        close(file);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *out = file;
    return CUDA_SUCCESS;
}

int sim_ipc_import_pool(int given, void **out) {
    const off_t at = lseek(given, 0, SEEK_CUR);
    if (at < 0 || !sim_mem_is_file(given)) return CUDA_ERROR_INVALID_VALUE;
    struct sim_device *d = sim_device_numbered((unsigned)at & ((1u << DEVICE_BITS) - 1));
    if (!d)
        return sim_because(CUDA_ERROR_INVALID_DEVICE,
                "the pool is on a device that this process does not see");
    const int file = fcntl(given, F_DUPFD_CLOEXEC, 0);
    struct sim_pool *p = file < 0 ? NULL : sim_pool_new(d);
    if (!p) {
        if (file >= 0) close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    p->imported = true;
    p->file = file;
    p->number = (uint32_t)(at >> DEVICE_BITS);
    *out = SIM_HANDLE(p->handle);
    return CUDA_SUCCESS;
}

int sim_ipc_export_pointer(CUdeviceptr address, CUmemPoolPtrExportData *out) {
    struct sim_share shared;
    struct sim_range r;
    int result = find_memory(address, &r);
    if (!result &&
            (r.lo != address || r.kind != SIM_MEM_POOL ||
                    !(r.pool->handle_types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)))
        result = sim_because(CUDA_ERROR_INVALID_VALUE,
                "not the first address of memory of a pool that has handles");
    const uint32_t pool = result ? 0 : number_of(r.pool);
    if (result || (result = share(address, &shared))) return result;
    struct name name = name_of_share(POINTER, &shared);
    name.number = pool;
    memcpy(out, &name, sizeof name);
    return CUDA_SUCCESS;
}

/* Where the pool's memory is imported already, 0: nowhere. Makes room for one more import; -1: no
   memory. */
static uint64_t imported_at(struct sim_pool *p, const struct name *name) {
    struct sim_imported *more;
    struct sim_range r;
    unsigned n = 0;
    for (unsigned i = 0; i < p->nimports; i++) {
        const struct sim_imported *m = &p->imports[i];
        if (!sim_mem_find(NULL, m->address, 1, &r) || r.id != m->range) continue; /* freed */
        p->imports[n++] = *m;
    }
    p->nimports = n;
    for (unsigned i = 0; i < n; i++)
        if (p->imports[i].offset == name->offset && p->imports[i].id == name->id)
            return p->imports[i].address;
    if (!(more = realloc(p->imports, (n + 1) * sizeof *more))) return UINT64_MAX;
    p->imports = more;
    return 0;
}

int sim_ipc_import_pointer(
        struct sim_pool *p, const CUmemPoolPtrExportData *data, CUdeviceptr *out) {
    struct name name;
    memcpy(&name, data, sizeof name);
    if (name.kind != POINTER || name.number != p->number)
        return sim_because(CUDA_ERROR_INVALID_VALUE, "not exported memory of this pool");
    const struct sim_share from = { p->file, 0, name.inode, name.offset, name.bytes, name.check,
        name.id };
    uint64_t address = imported_at(p, &name);
    if (address == UINT64_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    if (address) { /* as on an H200: and the first free ends both imports */
        *out = address;
        return CUDA_SUCCESS;
    }
    const int result = sim_mem_import(p->device, NULL, p, &from, &address);
    if (result) return result;
    struct sim_range r;
    if (sim_mem_find(NULL, address, 1, &r))
        p->imports[p->nimports++] = (struct sim_imported){ name.offset, name.id, address, r.id };
    sim_pool_entered(p, name.bytes);
    *out = address;
    return CUDA_SUCCESS;
}
