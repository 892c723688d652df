/* virtual.c - virtual memory: allocations without an address, reserved addresses, and what is
   mapped where. base/memory.c has the tables of both kinds of addresses.

   An allocation has its bytes at one place of this process, wherever and how often it is mapped.
   One that another process may import is a file without a name, as is memory of the host, which the
   host accesses at the mapped addresses, too: the kernel frees it when no process has it open or
   mapped, as documented, however they end. A page behind the bytes says what it is. */
#include "objects.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define MAGIC 0x7668707570676d69ull
#define HOST_VIEWS (1u << 31) /* of the viewers: the host */
enum { PAGE = 4096, POSIX = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR };
/* what the page behind the bytes begins with */
struct about {
    uint64_t magic, bytes, number;
    CUmemAllocationProp properties;
};

/* ---- allocations ---- */

static void drop_bytes(struct sim_physical *p) {
    if (p->at) munmap(p->at, p->bytes);
    if (p->file >= 0) close(p->file);
}

static void end_if_unused(struct sim_physical *p) {
    if (p->refs || p->mappings) return;
    drop_bytes(p);
    if (p->device && !p->imported) sim_mem_credit(p->device, p->bytes);
    sim_handle_drop(p->handle);
    free(p);
}

static bool map_bytes(struct sim_physical *p) {
    void *at = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE,
            MAP_NORESERVE | (p->file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), p->file, 0);
    p->at = at == MAP_FAILED ? NULL : at;
    return p->at != NULL;
}

static bool make_file(struct sim_physical *p) {
    const struct about about = { MAGIC, p->bytes, p->device ? (uint64_t)p->device->number : 0,
        p->properties };
    p->file = memfd_create("simgpu-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return p->file >= 0 && ftruncate(p->file, (off_t)(p->bytes + PAGE)) == 0 &&
            pwrite(p->file, &about, sizeof about, (off_t)p->bytes) == (ssize_t)sizeof about &&
            fcntl(p->file, F_ADD_SEALS, SEALS) == 0;
}

/* Without sim_lock, because poisoning takes time. Nothing else limits memory of the host. */
static bool make_bytes(struct sim_physical *p) {
    const bool is_file = !p->device || p->properties.requestedHandleTypes & POSIX;
    const uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (!p->device && p->bytes > most) return false;
    if ((is_file && !make_file(p)) || !map_bytes(p)) return false;
    sim_mem_poison(p->at, p->bytes);
    return true;
}

/* Takes over p, whose bytes are there. */
static int enter(struct sim_physical *p, uint64_t *handle) {
    if (!(p->handle = sim_handle_new(SIM_H_PHYSICAL, p))) return CUDA_ERROR_OUT_OF_MEMORY;
    p->refs = 1;
    *handle = p->handle;
    return CUDA_SUCCESS;
}

int sim_physical_new(
        struct sim_device *d, uint64_t bytes, const CUmemAllocationProp *is, uint64_t *handle) {
    if (d &&
            (bytes > d->memory ||
                    (!sim_mem_charge(d, bytes) &&
                            !(sim_pools_shrink(d) && sim_mem_charge(d, bytes)))))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct sim_physical *p = calloc(1, sizeof *p);
    bool ok = p != NULL;
    if (ok) {
        *p = (struct sim_physical){
            .device = d, .bytes = bytes, .id = sim_mem_new_id(), .properties = *is, .file = -1
        };
        pthread_mutex_unlock(&sim_lock);
        ok = make_bytes(p);
        pthread_mutex_lock(&sim_lock);
        if (ok && !enter(p, handle)) return CUDA_SUCCESS;
        drop_bytes(p);
        free(p);
    }
    if (d) sim_mem_credit(d, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

struct sim_physical *sim_physical_at(uint64_t handle) {
    struct sim_physical *p = sim_get(SIM_H_PHYSICAL, SIM_HANDLE(handle));
    if (!p || p->refs) return p;
    sim_note_dead(SIM_H_PHYSICAL, SIM_HANDLE(handle)); /* only its mappings are left */
    return NULL;
}

void sim_physical_release(struct sim_physical *p) {
    p->refs--;
    end_if_unused(p);
}

/* ---- between processes ---- */

int sim_physical_export(const struct sim_physical *p, int *out) {
    const int file = fcntl(p->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    *out = file;
    return CUDA_SUCCESS;
}

/* What a file says that another process may have made: it stays as long as it says. */
static bool read_about(int file, struct about *about) {
    const int seals = fcntl(file, F_GET_SEALS);
    struct stat is;
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(file, &is) || is.st_size <= PAGE ||
            pread(file, about, sizeof *about, is.st_size - PAGE) != (ssize_t)sizeof *about)
        return false;
    return about->magic == MAGIC && about->bytes == (uint64_t)is.st_size - PAGE &&
            about->bytes % SIM_MEM_GRANULARITY == 0 &&
            about->properties.requestedHandleTypes & POSIX;
}

/* Each import is another allocation, also in the exporter's process, and has no type of handle: as
   measured. */
int sim_physical_import(int given, uint64_t *handle) {
    struct about about;
    if (!read_about(given, &about))
        return sim_because(CUDA_ERROR_UNKNOWN, "not the descriptor of exported memory");
    const bool on_host = about.properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    struct sim_device *d = on_host ? NULL : sim_device_numbered(about.number);
    if (!d && !on_host)
        return sim_because(CUDA_ERROR_INVALID_DEVICE,
                "the memory is on a device that this process does not see");
    struct sim_physical *p = calloc(1, sizeof *p);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    *p = (struct sim_physical){ .device = d,
        .bytes = about.bytes,
        .id = sim_mem_new_id(),
        .properties = about.properties,
        .file = fcntl(given, F_DUPFD_CLOEXEC, 0),
        .imported = true };
    p->properties.requestedHandleTypes = 0;
    if (d) p->properties.location.id = d->ordinal;
    if (p->file >= 0 && map_bytes(p) && !enter(p, handle)) return CUDA_SUCCESS;
    drop_bytes(p);
    free(p);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- mappings ---- */

/* As measured, a range needs to begin in a reservation, but may reach beyond its end, also into the
   next one. */
static bool is_reserved(uint64_t from) {
    struct sim_range r;
    return sim_mem_reservation(from, &r);
}
/* The first mapping that has addresses in [from, to), if any. */
static bool next_mapping(uint64_t from, uint64_t to, struct sim_range *r) {
    return from < to && sim_mem_mapping(from, r) && r->lo < to;
}

/* The host accesses memory of the host at the mapped addresses, too; none of it until it may. */
static bool show_to_host(const struct sim_physical *p, uint64_t address, uint64_t bytes) {
    return p->device ||
            mmap(SIM_HANDLE(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                    p->file, 0) != MAP_FAILED;
}
static void hide_from_host(const struct sim_range *r) {
    if (!r->physical->device)
        mmap(SIM_HANDLE(r->lo), r->hi - r->lo, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

int sim_virtual_map(struct sim_physical *p, uint64_t address) {
    const uint64_t end = address + p->bytes;
    struct sim_range next;
    if (!is_reserved(address) || !sim_mem_is_virtual(end - 1))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "the addresses are not reserved");
    if (next_mapping(address, end, &next))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "memory is mapped at 0x%llx already",
                (unsigned long long)next.lo);
    const struct sim_range r = { .lo = address,
        .hi = end,
        .end = end,
        .delta = (char *)p->at - (char *)(uintptr_t)address,
        .kind = SIM_MEM_MAPPED,
        .device = p->device,
        .physical = p,
        .id = p->id };
    if (!show_to_host(p, address, p->bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_mem_map(&r)) {
        hide_from_host(&r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    p->mappings++;
    return CUDA_SUCCESS;
}

/* The number of mappings in [from, to), which all must be whole; there may be holes. */
static int count_mappings(uint64_t from, uint64_t to, size_t *n) {
    struct sim_range r;
    if (!is_reserved(from))
        return sim_because(CUDA_ERROR_INVALID_VALUE, "the addresses are not reserved");
    *n = 0;
    for (uint64_t at = from; next_mapping(at, to, &r); at = r.hi, ++*n)
        if (r.lo < from || r.hi > to)
            return sim_because(CUDA_ERROR_INVALID_VALUE,
                    "the mapping from 0x%llx to 0x%llx is only partly in the range",
                    (unsigned long long)r.lo, (unsigned long long)r.hi);
    return CUDA_SUCCESS;
}

/* Does not wait for work: what still uses the memory stops with error 700. */
int sim_virtual_unmap(uint64_t address, uint64_t bytes) {
    const uint64_t end = address + bytes;
    size_t n;
    struct sim_range r;
    const int result = count_mappings(address, end, &n);
    if (result || !n) return result;
    struct sim_physical **were = malloc(n * sizeof(struct sim_physical *));
    if (!were) return CUDA_ERROR_OUT_OF_MEMORY;
    n = 0;
    for (uint64_t at = address; next_mapping(at, end, &r); at = r.hi) {
        were[n++] = r.physical;
        hide_from_host(&r);
    }
    sim_mem_unmap(address, end);
    pthread_mutex_unlock(&sim_lock);
    sim_mem_settle();
    pthread_mutex_lock(&sim_lock);
    while (n) {
        were[--n]->mappings--;
        end_if_unused(were[n]);
    }
    free(were);
    return CUDA_SUCCESS;
}

/* ---- access ---- */

/* 0, or why this location cannot have it. */
static int access_bad(const CUmemAccessDesc *a, const struct sim_physical *p) {
    const struct sim_device *d = sim_device_at(a->location.id);
    if (a->location.type == CU_MEM_LOCATION_TYPE_HOST ||
            a->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA) {
        if (p->device) return CUDA_ERROR_NOT_SUPPORTED;
    } else if (a->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !d)
        return CUDA_ERROR_INVALID_VALUE;
    else if (p->device && d != p->device && !sim_peers(p->device, d))
        return CUDA_ERROR_INVALID_DEVICE;
    return a->flags == SIM_NOTHING || a->flags == SIM_READ_ONLY || a->flags == SIM_READ_WRITE
            ? CUDA_SUCCESS
            : CUDA_ERROR_INVALID_VALUE;
}

static unsigned viewer_of(const CUmemLocation *l) {
    return l->type == CU_MEM_LOCATION_TYPE_DEVICE ? 1u << l->id : HOST_VIEWS;
}
static int access_in(unsigned viewers, unsigned writers, unsigned viewer) {
    return !(viewers & viewer) ? SIM_NOTHING : writers & viewer ? SIM_READ_WRITE : SIM_READ_ONLY;
}

/* Where access ends. As measured, there must be memory at both ends of the range, but only what is
   before the first hole gets the access. */
static int find_hole(uint64_t from, uint64_t to, uint64_t *hole) {
    struct sim_range r;
    size_t n;
    const int result = count_mappings(from, to, &n);
    if (result) return result;
    if (!sim_virtual_mapping(from, &r) || !sim_virtual_mapping(to - 1, &r))
        return sim_because(CUDA_ERROR_INVALID_VALUE,
                "nothing is mapped at the beginning or the end of the range");
    for (*hole = from; *hole < to && sim_virtual_mapping(*hole, &r);) *hole = r.hi;
    return CUDA_SUCCESS;
}

int sim_virtual_set_access(
        uint64_t address, uint64_t bytes, const CUmemAccessDesc *list, size_t count) {
    unsigned named = 0, viewers = 0, writers = 0;
    struct sim_range r;
    uint64_t end = address;
    int result = find_hole(address, address + bytes, &end);
    for (uint64_t at = address; !result && next_mapping(at, end, &r); at = r.hi)
        for (size_t i = 0; i < count && !result; i++) result = access_bad(&list[i], r.physical);
    if (result) return result;
    for (size_t i = 0; i < count; i++) {
        const unsigned viewer = viewer_of(&list[i].location);
        named |= viewer;
        viewers = list[i].flags != SIM_NOTHING ? viewers | viewer : viewers & ~viewer;
        writers = list[i].flags == SIM_READ_WRITE ? writers | viewer : writers & ~viewer;
    }
    static const int protection[] = { [SIM_NOTHING] = PROT_NONE,
        [SIM_READ_ONLY] = PROT_READ,
        [SIM_READ_WRITE] = PROT_READ | PROT_WRITE };
    for (uint64_t at = address; named & HOST_VIEWS && next_mapping(at, end, &r); at = r.hi)
        mprotect(
                SIM_HANDLE(r.lo), r.hi - r.lo, protection[access_in(viewers, writers, HOST_VIEWS)]);
    sim_mem_set_viewers(address, end, named, viewers, writers);
    return CUDA_SUCCESS;
}

bool sim_virtual_mapping(uint64_t address, struct sim_range *r) {
    return sim_mem_mapping(address, r) && r->lo <= address;
}

/* As measured, for memory of a device the host as a location means that device, but not a node of
   the host. */
int sim_virtual_access(const struct sim_range *r, const CUmemLocation *location) {
    const unsigned viewer = r->device && location->type == CU_MEM_LOCATION_TYPE_HOST
            ? 1u << r->device->ordinal
            : viewer_of(location);
    return access_in(r->viewers, r->writers, viewer);
}
int sim_virtual_access_of(const struct sim_range *r, const struct sim_device *device) {
    return access_in(r->viewers, r->writers, 1u << device->ordinal);
}
