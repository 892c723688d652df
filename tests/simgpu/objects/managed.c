/* managed.c - managed memory: one address for the host and all devices. The bytes are the host's
   pages, so nothing ever migrates: advice and prefetches are checked, remembered for each page, and
   reported. */
#include "objects.h"

#define PAGE 4096u

struct place {
    short type, id;
}; /* a CUmemLocation; type 0: none */
struct page {
    bool read_mostly;
    unsigned char accessed_by, by_host; /* accessed_by: a bit for each device */
    struct place preferred, prefetched;
};

void sim_managed_free(uint64_t address) {
    struct sim_range r;
    if (!sim_mem_find(NULL, address, 1, &r) || r.kind != SIM_MEM_MANAGED) return;
    sim_link_remove(&r.managed->link);
    sim_mem_remove(address);
    free(r.managed->pages);
    free(r.managed);
}
static void end_managed(struct sim_link *link) {
    sim_managed_free(SIM_OWNER(sim_managed, link)->address);
}

static struct sim_managed *new_managed(
        struct sim_context *c, struct sim_device *device, uint64_t bytes) {
    struct sim_managed *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    sim_link_init(&m->link);
    m->bytes = bytes;
    m->attached = CU_MEM_ATTACH_GLOBAL;
    if (!sim_mem_add_managed(c, device, m, bytes, &m->address)) return m;
    free(m);
    return NULL;
}

static bool device_has(const struct sim_device *d, int attribute) {
    int value = 0;
    sim_device_attribute((struct sim_device *)d, attribute, &value);
    return value != 0;
}

int sim_managed_new(
        struct sim_context *c, uint64_t bytes, unsigned attached, CUdeviceptr *address) {
    if (!device_has(c->device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)) return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_managed *m = new_managed(c, c->device, bytes);
    if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
    sim_link_add(&c->children, &m->link, end_managed);
    m->attached = attached;
    *address = m->address;
    return CUDA_SUCCESS;
}

int sim_managed_variable(
        struct sim_context *owner, struct sim_device *device, uint64_t bytes, uint64_t *address) {
    if (!device_has(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)) return CUDA_ERROR_NOT_SUPPORTED;
    struct sim_managed *m = new_managed(owner, device, bytes);
    if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
    m->is_variable = true;
    *address = m->address;
    return CUDA_SUCCESS;
}

/* The managed memory that contains all of these bytes, or NULL. */
struct sim_managed *sim_managed_at(CUdeviceptr address, size_t bytes) {
    struct sim_range r;
    return bytes && sim_mem_find(NULL, address, bytes, &r) && r.kind == SIM_MEM_MANAGED ? r.managed
                                                                                        : NULL;
}

/* ---- places ---- */

/* 0, or why it is not one: a device must access managed memory while the host does. There is one
   NUMA node. The host's id is reported as CU_DEVICE_CPU, and that of no place as CU_DEVICE_INVALID,
   as measured. */
static const struct place nowhere = { CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID };

static int read_place(CUmemLocation l, bool only_host, struct place *out) {
    *out = (struct place){ (short)l.type, l.type == CU_MEM_LOCATION_TYPE_HOST ? CU_DEVICE_CPU : 0 };
    switch (l.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (l.id < 0 || l.id >= sim_device_count) return CUDA_ERROR_INVALID_DEVICE;
        out->id = (short)l.id;
        return device_has(&sim_devices[l.id], CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
                ? CUDA_SUCCESS
                : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST: return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return only_host || l.id ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return only_host ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The pages that these bytes touch; NULL: no memory. */
static struct page *pages_of(struct sim_managed *m, CUdeviceptr address, size_t bytes, size_t *n) {
    const size_t first = (address - m->address) / PAGE,
                 last = (address + bytes - 1 - m->address) / PAGE;
    const size_t all = (m->bytes + PAGE - 1) / PAGE;
    if (!m->pages && (m->pages = calloc(all, sizeof *m->pages)))
        for (size_t i = 0; i < all; i++) m->pages[i].preferred = m->pages[i].prefetched = nowhere;
    *n = last - first + 1;
    return m->pages ? m->pages + first : NULL;
}

int sim_managed_prefetch(
        CUdeviceptr address, size_t bytes, CUmemLocation to, unsigned flags, void *stream) {
    struct sim_stream *s;
    struct place place;
    size_t n;
    int result = sim_stream_use_now(stream, &s);
    if (result) return result;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if ((result = read_place(to, false, &place))) return result;
    struct sim_managed *m = sim_managed_at(address, bytes);
    if (!m) return CUDA_ERROR_INVALID_VALUE;
    if (!device_has(s->context->device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS))
        return CUDA_ERROR_INVALID_DEVICE;
    struct page *page = pages_of(m, address, bytes, &n);
    if (!page) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) page[i].prefetched = place;
    return CUDA_SUCCESS;
}

/* ---- advice ---- */

int sim_managed_advise(CUdeviceptr address, size_t bytes, unsigned advice, CUmemLocation location) {
    struct sim_managed *m = sim_managed_at(address, bytes);
    struct place place = nowhere;
    size_t n;
    if (!m || advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    const bool by = advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
            advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    int result = by || advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION
            ? read_place(location, by, &place)
            : CUDA_SUCCESS;
    if (result) return result;
    /* a NUMA node is preferred as the host, as measured */
    if (place.type > CU_MEM_LOCATION_TYPE_HOST)
        place = (struct place){ CU_MEM_LOCATION_TYPE_HOST, CU_DEVICE_CPU };
    struct page *page = pages_of(m, address, bytes, &n);
    if (!page) return CUDA_ERROR_OUT_OF_MEMORY;
    const bool on_host = place.type == CU_MEM_LOCATION_TYPE_HOST;
    for (struct page *p = page; p < page + n; p++) switch (advice) {
        case CU_MEM_ADVISE_SET_READ_MOSTLY:
        case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
            p->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
            break;
        case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: p->preferred = place; break;
        case CU_MEM_ADVISE_SET_ACCESSED_BY:
            if (on_host) p->by_host = 1;
            else p->accessed_by |= (unsigned char)(1u << place.id);
            break;
        case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
            if (on_host) p->by_host = 0;
            else p->accessed_by &= (unsigned char)~(1u << place.id);
            break;
        }
    return CUDA_SUCCESS;
}

/* ---- queries: what is the same for all pages of the range ---- */

static int device_of(struct place place) {
    return !place.type                                  ? CU_DEVICE_INVALID
            : place.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.id
                                                        : CU_DEVICE_CPU;
}

bool sim_managed_query_bad(const int *out, size_t size, unsigned attribute) {
    return !out || !size || size % sizeof *out || attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
            attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID ||
            (size > sizeof *out && attribute != CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
}
int sim_managed_query(
        int *out, size_t size, unsigned attribute, CUdeviceptr address, size_t bytes) {
    struct sim_managed *m = sim_managed_at(address, bytes);
    size_t n = size / sizeof *out, npages;
    if (!m || sim_managed_query_bad(out, size, attribute)) return CUDA_ERROR_INVALID_VALUE;
    const struct page *p = pages_of(m, address, bytes, &npages);
    if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
    struct page all = *p;
    for (const struct page *end = p + npages; p < end; p++) {
        all.read_mostly &= p->read_mostly;
        all.accessed_by &= p->accessed_by;
        all.by_host &= p->by_host;
        if (memcmp(&all.preferred, &p->preferred, sizeof all.preferred)) all.preferred = nowhere;
        if (memcmp(&all.prefetched, &p->prefetched, sizeof all.prefetched))
            all.prefetched = nowhere;
    }
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *out = all.read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *out = device_of(all.preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *out = device_of(all.prefetched); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *out = all.preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *out = all.preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *out = all.prefetched.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *out = all.prefetched.id; break;
    default: /* ACCESSED_BY: a list */
        for (int d = 0; d < sim_device_count && n; d++)
            if (all.accessed_by >> d & 1) *out++ = d, n--;
        if (all.by_host && n) *out++ = CU_DEVICE_CPU, n--;
        while (n--) *out++ = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}
