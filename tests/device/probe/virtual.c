/* virtual.c - virtual memory: allocations without an address, reserved addresses, mappings, access,
   and other processes. */
#include "probe.h"

enum { VIRTUAL = 102, FILES = 103, RDMA = 110, FABRIC = 128, HOST_NUMA = 141, HOST_MEMORY = 145 };
enum { POSIX_FILE = 1, READ_ONLY = 1, READ_WRITE = 3 };

/* CUmemAllocationProp */
typedef struct properties {
    int type, handle_types;
    location at;
    void *security;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char zeros[4];
} properties;
/* CUmemAccessDesc */
typedef struct rights {
    location of;
    int flags;
} rights;

static size_t unit;

static properties usual(void) {
    properties p;
    memset(&p, 0, sizeof p);
    p.type = 1; /* pinned, of a device */
    p.at.type = 1;
    return p;
}
static rights right_of(int type, int id, int flags) {
    rights r;
    r.of.type = type;
    r.of.id = id;
    r.flags = flags;
    return r;
}
/* and released: the result, and whether there was one */
static int made(int result, unsigned long long *handle) {
    const int is = *handle != 0;
    if (*handle) cu.cuMemRelease(*handle);
    *handle = 0;
    return result * 10 + is;
}
/* and freed */
static int reserved(int result, ptr *p, size_t bytes) {
    const int is = *p != 0;
    if (*p) cu.cuMemAddressFree(*p, bytes);
    *p = 0;
    return result * 10 + is;
}

static void open_with_unit(void) {
    const properties p = usual();
    open_one();
    cu.cuMemGetAllocationGranularity(&unit, &p, 0);
}
static unsigned long long create(size_t bytes) {
    const properties p = usual();
    unsigned long long handle = 0;
    cu.cuMemCreate(&handle, bytes, &p, 0);
    return handle;
}
static ptr reserve(size_t bytes) {
    ptr p = 0;
    cu.cuMemAddressReserve(&p, bytes, 0, 0, 0);
    return p;
}
static int map_new(ptr p, size_t bytes) {
    const rights r = right_of(1, 0, READ_WRITE);
    const unsigned long long handle = create(bytes);
    int result = cu.cuMemMap(p, bytes, 0, handle, 0);
    cu.cuMemRelease(handle);
    return result ? result : cu.cuMemSetAccess(p, bytes, &r, 1);
}

/* ---- what allocations there are ---- */

static void creates(void) {
    static const int attributes[] = { VIRTUAL, FILES, RDMA, FABRIC, HOST_NUMA, HOST_MEMORY };
    properties p = usual();
    unsigned long long handle = 0;
    size_t bytes = 0;
    int i, value;
    char question[40];
    PROBE("create_before_init", cu.cuMemCreate(&handle, 2 << 20, &p, 0));
    PROBE("granularity_before_init", cu.cuMemGetAllocationGranularity(&bytes, &p, 0));
    cu.cuInit(0);
    for (i = 0; i < (int)COUNT(attributes); i++) {
        value = 77;
        snprintf(question, sizeof question, "attribute_%d", attributes[i]);
        PROBE(question, (cu.cuDeviceGetAttribute(&value, attributes[i], 0), value));
    }
    for (i = 0; i < 3; i++) {
        bytes = 0;
        snprintf(question, sizeof question, "granularity_%d", i);
        PROBE(question, cu.cuMemGetAllocationGranularity(&bytes, &p, i));
        snprintf(question, sizeof question, "granularity_%d_kib", i);
        PROBE(question, (int)(bytes >> 10));
    }
    PROBE("granularity_to_null", cu.cuMemGetAllocationGranularity(NULL, &p, 0));
    PROBE("granularity_of_null", cu.cuMemGetAllocationGranularity(&bytes, NULL, 0));
    unit = 2 << 20;
    cu.cuMemGetAllocationGranularity(&unit, &p, 0);
    PROBE("create_without_context", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    PROBE("create_to_null", cu.cuMemCreate(NULL, unit, &p, 0));
    PROBE("create_of_null", cu.cuMemCreate(&handle, unit, NULL, 0));
    PROBE("create_0", made(cu.cuMemCreate(&handle, 0, &p, 0), &handle));
    PROBE("create_1", made(cu.cuMemCreate(&handle, 1, &p, 0), &handle));
    PROBE("create_page", made(cu.cuMemCreate(&handle, 65536, &p, 0), &handle));
    PROBE("create_half_more", made(cu.cuMemCreate(&handle, unit + unit / 2, &p, 0), &handle));
    PROBE("create_all", made(cu.cuMemCreate(&handle, (size_t)1 << 46, &p, 0), &handle));
    PROBE("create_most", made(cu.cuMemCreate(&handle, ~(size_t)0 / unit * unit, &p, 0), &handle));
    PROBE("create_flags_1", made(cu.cuMemCreate(&handle, unit, &p, 1), &handle));
    for (i = 0; i < 6; i++) {
        p = usual();
        p.type = i;
        snprintf(question, sizeof question, "create_type_%d", i);
        PROBE(question, made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
        p = usual();
        p.at.type = i;
        snprintf(question, sizeof question, "create_location_%d", i);
        PROBE(question, made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
        snprintf(question, sizeof question, "granularity_location_%d", i);
        bytes = 0;
        PROBE(question, cu.cuMemGetAllocationGranularity(&bytes, &p, 0));
        snprintf(question, sizeof question, "granularity_location_%d_kib", i);
        PROBE(question, (int)(bytes >> 10));
        p.handle_types = POSIX_FILE;
        snprintf(question, sizeof question, "create_location_%d_file", i);
        PROBE(question, made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
        p = usual();
        p.handle_types = 1 << i;
        snprintf(question, sizeof question, "create_handles_%d", 1 << i);
        PROBE(question, made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
        p = usual();
        p.usage = (unsigned short)(1 << i);
        snprintf(question, sizeof question, "create_usage_%d", 1 << i);
        PROBE(question, made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    }
    p = usual();
    p.at.id = -1;
    PROBE("create_device_-1", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    PROBE("granularity_device_-1", cu.cuMemGetAllocationGranularity(&bytes, &p, 0));
    p.at.id = 99;
    PROBE("create_device_99", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    PROBE("create_device_99_of_1", made(cu.cuMemCreate(&handle, 1, &p, 0), &handle));
    p.at.type = 3;
    PROBE("create_numa_99", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    p = usual();
    p.security = &p;
    PROBE("create_security", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    p = usual();
    p.compression = 1;
    PROBE("create_compressed", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    p.compression = 2;
    PROBE("create_compressed_2", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    p = usual();
    p.rdma = 1;
    PROBE("create_rdma", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    p = usual();
    p.zeros[1] = 1;
    PROBE("create_reserved_1", made(cu.cuMemCreate(&handle, unit, &p, 0), &handle));
    PROBE("release_0", cu.cuMemRelease(0));
    p = usual();
    cu.cuMemCreate(&handle, unit, &p, 0);
    memset(&p, 1, sizeof p);
    PROBE("properties", cu.cuMemGetAllocationPropertiesFromHandle(&p, handle));
    if (!skipped("properties_are"))
        answer("properties_are", "%d %d %d %d %d %d %d %d", p.type, p.handle_types, p.at.type,
                p.at.id, p.security != NULL, p.compression, p.rdma, p.usage);
    PROBE("properties_to_null", cu.cuMemGetAllocationPropertiesFromHandle(NULL, handle));
    PROBE("properties_of_0", cu.cuMemGetAllocationPropertiesFromHandle(&p, 0));
    PROBE("release", cu.cuMemRelease(handle));
}

/* ---- addresses ---- */

static void reserves(void) {
    ptr p = 0, q = 0;
    open_with_unit();
    PROBE("reserve_to_null", cu.cuMemAddressReserve(NULL, unit, 0, 0, 0));
    PROBE("reserve_0", reserved(cu.cuMemAddressReserve(&p, 0, 0, 0, 0), &p, 0));
    PROBE("reserve_1", reserved(cu.cuMemAddressReserve(&p, 1, 0, 0, 0), &p, 1));
    PROBE("reserve_page", reserved(cu.cuMemAddressReserve(&p, 4096, 0, 0, 0), &p, 4096));
    PROBE("reserve_64_kib", reserved(cu.cuMemAddressReserve(&p, 65536, 0, 0, 0), &p, 65536));
    PROBE("reserve_half_more",
            reserved(cu.cuMemAddressReserve(&p, unit + unit / 2, 0, 0, 0), &p, unit + unit / 2));
    PROBE("reserve_tib",
            reserved(cu.cuMemAddressReserve(&p, (size_t)1 << 40, 0, 0, 0), &p, (size_t)1 << 40));
    PROBE("reserve_most", reserved(cu.cuMemAddressReserve(&p, (size_t)1 << 62, 0, 0, 0), &p, 1));
    PROBE("reserve_flags_1", reserved(cu.cuMemAddressReserve(&p, unit, 0, 0, 1), &p, unit));
    PROBE("align_1", reserved(cu.cuMemAddressReserve(&p, unit, 1, 0, 0), &p, unit));
    PROBE("align_3", reserved(cu.cuMemAddressReserve(&p, unit, 3, 0, 0), &p, unit));
    PROBE("align_page", reserved(cu.cuMemAddressReserve(&p, unit, 4096, 0, 0), &p, unit));
    PROBE("align_3_units", reserved(cu.cuMemAddressReserve(&p, unit, 3 * unit, 0, 0), &p, unit));
    PROBE("align_16_units", cu.cuMemAddressReserve(&p, unit, 16 * unit, 0, 0));
    PROBE("aligned_16_units", (int)(p % (16 * unit) / 4096));
    PROBE("free_half", cu.cuMemAddressFree(p, unit / 2));
    PROBE("free_more", cu.cuMemAddressFree(p, 2 * unit));
    PROBE("free_inside", cu.cuMemAddressFree(p + 4096, unit - 4096));
    PROBE("free_0_bytes", cu.cuMemAddressFree(p, 0));
    PROBE("free_null", cu.cuMemAddressFree(0, unit));
    PROBE("free_memory", cu.cuMemAddressFree(memory[0], MEMORY));
    PROBE("free", cu.cuMemAddressFree(p, unit));
    PROBE("free_again", cu.cuMemAddressFree(p, unit));
    /* an address that was reserved before */
    p = reserve(4 * unit);
    cu.cuMemAddressFree(p, 4 * unit);
    PROBE("hint", cu.cuMemAddressReserve(&q, 2 * unit, 0, p, 0));
    PROBE("hint_is", q == p);
    PROBE("hint_taken", cu.cuMemAddressReserve(&p, unit, 0, q + unit, 0));
    PROBE("hint_taken_is", p == q + unit);
    cu.cuMemAddressFree(p, unit);
    PROBE("hint_behind", (p = 0, cu.cuMemAddressReserve(&p, unit, 0, q + 2 * unit, 0)));
    PROBE("hint_behind_is", p == q + 2 * unit);
    PROBE("hint_misaligned",
            (cu.cuMemAddressFree(p, unit), p = 0,
                    reserved(cu.cuMemAddressReserve(&p, unit, 0, q + 1, 0), &p, unit)));
    PROBE("hint_memory", reserved(cu.cuMemAddressReserve(&p, unit, 0, memory[0], 0), &p, unit));
}

/* ---- mappings ---- */

static void maps(void) {
    const rights r = right_of(1, 0, READ_WRITE);
    ptr p, q = 0;
    unsigned long long handle, big, other = 0;
    size_t bytes = 0;
    int value = 77;
    open_with_unit();
    p = reserve(8 * unit);
    handle = create(unit);
    big = create(2 * unit);
    PROBE("map_handle_0", cu.cuMemMap(p, unit, 0, 0, 0));
    PROBE("map_0", cu.cuMemMap(p, 0, 0, handle, 0));
    PROBE("map_half", cu.cuMemMap(p, unit / 2, 0, handle, 0));
    PROBE("map_at_half", cu.cuMemMap(p + unit / 2, unit, 0, handle, 0));
    PROBE("map_more", cu.cuMemMap(p, 2 * unit, 0, handle, 0));
    PROBE("map_offset", cu.cuMemMap(p, unit, unit, big, 0));
    PROBE("unmap_offset", cu.cuMemUnmap(p, unit));
    PROBE("map_offset_half", cu.cuMemMap(p, unit, unit / 2, big, 0));
    PROBE("map_flags_1", cu.cuMemMap(p, unit, 0, handle, 1));
    PROBE("map_null", cu.cuMemMap(0, unit, 0, handle, 0));
    PROBE("map_memory", cu.cuMemMap(memory[0], unit, 0, handle, 0));
    PROBE("map_not_reserved", cu.cuMemMap(p + ((ptr)1 << 42), unit, 0, handle, 0));
    PROBE("map_beyond", cu.cuMemMap(p + 7 * unit, 2 * unit, 0, big, 0));
    PROBE("map", cu.cuMemMap(p, unit, 0, handle, 0));
    PROBE("map_again", cu.cuMemMap(p, unit, 0, handle, 0));
    PROBE("map_other_there", cu.cuMemMap(p, unit, 0, big, 0));
    PROBE("map_twice", cu.cuMemMap(p + unit, unit, 0, handle, 0));
    PROBE("map_over_the_end", cu.cuMemMap(p + unit, 2 * unit, 0, big, 0));
    PROBE("map_first_part", cu.cuMemMap(p + 2 * unit, unit, 0, big, 0));
    PROBE("map_all_of_it", cu.cuMemMap(p + 3 * unit, 2 * unit, 0, big, 0));
    PROBE("free_mapped", cu.cuMemAddressFree(p, 8 * unit));
    PROBE("retain", cu.cuMemRetainAllocationHandle(&other, (void *)(uintptr_t)(p + unit + 5)));
    PROBE("retain_is", other == handle);
    PROBE("release_retained", cu.cuMemRelease(other));
    PROBE("retain_to_null", cu.cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)p));
    PROBE("retain_null", cu.cuMemRetainAllocationHandle(&other, NULL));
    PROBE("retain_unmapped",
            cu.cuMemRetainAllocationHandle(&other, (void *)(uintptr_t)(p + 6 * unit)));
    PROBE("retain_memory", cu.cuMemRetainAllocationHandle(&other, (void *)(uintptr_t)memory[0]));
    PROBE("release", cu.cuMemRelease(handle));
    PROBE("retain_released",
            (other = 0, cu.cuMemRetainAllocationHandle(&other, (void *)(uintptr_t)p)));
    PROBE("retain_released_is", other == handle);
    PROBE("release_again", cu.cuMemRelease(other));
    /* access: whole mappings or parts */
    PROBE("access_of_none", cu.cuMemSetAccess(p, unit, &r, 0));
    PROBE("access_null", cu.cuMemSetAccess(p, unit, NULL, 1));
    PROBE("access_0", cu.cuMemSetAccess(p, 0, &r, 1));
    PROBE("access_half", cu.cuMemSetAccess(p, unit / 2, &r, 1));
    PROBE("access_part", cu.cuMemSetAccess(p + 3 * unit, unit, &r, 1));
    PROBE("access_part_then", cu.cuMemsetD8_v2(p + 3 * unit, 1, 1));
    PROBE("access_part_rest", cu.cuMemsetD8_v2(p + 4 * unit, 1, 1));
    PROBE("access_with_hole", cu.cuMemSetAccess(p, 8 * unit, &r, 1));
    PROBE("access_unmapped", cu.cuMemSetAccess(p + 6 * unit, unit, &r, 1));
    PROBE("access", cu.cuMemSetAccess(p, 5 * unit, &r, 1));
    PROBE("fill_across", cu.cuMemsetD8_v2(p, 1, 5 * unit));
    PROBE("fill_beyond", cu.cuMemsetD8_v2(p, 1, 5 * unit + 1));
    PROBE("copy_across", cu.cuMemcpyDtoD_v2(p + unit - 64, p + 3 * unit - 64, 128));
    PROBE("copy_beyond", cu.cuMemcpyDtoD_v2(p, p + 5 * unit - 64, 128));
    PROBE("range", cu.cuMemGetAddressRange_v2(&q, &bytes, p + 3 * unit + 5));
    PROBE("range_unmapped", cu.cuMemGetAddressRange_v2(&q, &bytes, p + 6 * unit));
    PROBE("free_as_memory", cu.cuMemFree_v2(p));
    PROBE("free_async", cu.cuMemFreeAsync(p, NULL));
    PROBE("free_async_unmapped", cu.cuMemFreeAsync(p + 6 * unit, NULL));
    PROBE("ipc", cu.cuIpcGetMemHandle((gxi_ipc_handle[1]){ { { 0 } } }, p));
    PROBE("register", cu.cuMemHostRegister_v2((void *)(uintptr_t)(p + 6 * unit), unit, 0));
    PROBE("host_pointer", cu.cuPointerGetAttribute(&q, 4, p));
    PROBE("sync_memops", (cu.cuPointerGetAttribute(&value, 6, p), value));
    PROBE("advise", cu.cuMemAdvise(p, unit, 1, 0));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("unmap_0", cu.cuMemUnmap(p, 0));
    PROBE("unmap_half", cu.cuMemUnmap(p, unit / 2));
    PROBE("unmap_part", cu.cuMemUnmap(p + 3 * unit, unit));
    PROBE("unmap_last_part", cu.cuMemUnmap(p + 4 * unit, unit));
    PROBE("unmap_nothing", cu.cuMemUnmap(p + 6 * unit, unit));
    PROBE("unmap_with_hole", cu.cuMemUnmap(p, 8 * unit));
    PROBE("unmap_null", cu.cuMemUnmap(0, unit));
    PROBE("unmap_memory", cu.cuMemUnmap(memory[0], unit));
    PROBE("unmap_several", cu.cuMemUnmap(p, 3 * unit));
    PROBE("unmap_again", cu.cuMemUnmap(p, unit));
    PROBE("unmap_rest", cu.cuMemUnmap(p + 3 * unit, 2 * unit));
    PROBE("free", cu.cuMemAddressFree(p, 8 * unit));
    PROBE("map_freed", cu.cuMemMap(p, 2 * unit, 0, big, 0));
    PROBE("release_big", cu.cuMemRelease(big));
}

/* two reservations side by side, if the driver places them so */
static void neighbours(void) {
    const rights r = right_of(1, 0, READ_WRITE);
    ptr p, q = 0;
    unsigned long long handle;
    open_with_unit();
    p = reserve(4 * unit);
    cu.cuMemAddressFree(p, 4 * unit);
    cu.cuMemAddressReserve(&q, unit, 0, p, 0);
    cu.cuMemAddressReserve(&q, unit, 0, p + unit, 0);
    PROBE("side_by_side", q == p + unit);
    handle = create(2 * unit);
    PROBE("map_over_both", cu.cuMemMap(p, 2 * unit, 0, handle, 0));
    PROBE("unmap_both", cu.cuMemUnmap(p, 2 * unit));
    map_new(p, unit);
    map_new(p + unit, unit);
    PROBE("access_to_both", cu.cuMemSetAccess(p, 2 * unit, &r, 1));
    PROBE("fill_both", cu.cuMemsetD8_v2(p, 1, 2 * unit));
    cu.cuCtxSynchronize();
    PROBE("unmap_one_each", cu.cuMemUnmap(p, 2 * unit));
    PROBE("free_both_at_once", cu.cuMemAddressFree(p, 2 * unit));
}

/* ---- more of mappings ---- */

static int access_at(ptr p) {
    const rights r = right_of(1, 0, 0);
    unsigned long long flags = 77;
    const int result = cu.cuMemGetAccess(&flags, &r.of, p);
    return result * 100 + (int)flags;
}
/* Calls on several mappings at once, between which nothing is mapped. */
static void holes(void) {
    const rights r = right_of(1, 0, READ_WRITE), none = right_of(1, 0, 0);
    ptr p, q = 0;
    unsigned long long handle, two;
    int i;
    open_with_unit();
    p = reserve(8 * unit);
    handle = create(unit);
    two = create(2 * unit);
    for (i = 0; i < 5; i += 2) cu.cuMemMap(p + (ptr)i * unit, unit, 0, handle, 0);
    cu.cuMemRelease(handle);
    PROBE("access_over_hole", cu.cuMemSetAccess(p, 3 * unit, &r, 1));
    PROBE("access_before", access_at(p));
    PROBE("access_behind", access_at(p + 2 * unit));
    PROBE("access_hole_last", cu.cuMemSetAccess(p + 4 * unit, 2 * unit, &r, 1));
    PROBE("access_hole_last_is", access_at(p + 4 * unit));
    PROBE("access_hole_first", cu.cuMemSetAccess(p + unit, 2 * unit, &none, 1));
    PROBE("access_hole_first_is", access_at(p + 2 * unit));
    PROBE("access_only_holes", cu.cuMemSetAccess(p + 5 * unit, 2 * unit, &r, 1));
    PROBE("unmap_hole_first", cu.cuMemUnmap(p + 3 * unit, 2 * unit));
    PROBE("unmap_hole_first_is", access_at(p + 4 * unit));
    PROBE("unmap_over_hole", cu.cuMemUnmap(p, 4 * unit));
    PROBE("unmap_over_hole_is", access_at(p + 2 * unit));
    PROBE("map_beyond", cu.cuMemMap(p + 7 * unit, 2 * unit, 0, two, 0));
    PROBE("access_beyond", cu.cuMemSetAccess(p + 7 * unit, 2 * unit, &r, 1));
    PROBE("fill_beyond", cu.cuMemsetD8_v2(p + 7 * unit, 1, 2 * unit));
    PROBE("sync_beyond", cu.cuCtxSynchronize());
    PROBE("map_before", cu.cuMemMap(p - unit, 2 * unit, 0, two, 0));
    PROBE("free_mapped_beyond", cu.cuMemAddressFree(p, 8 * unit));
    PROBE("unmap_beyond", cu.cuMemUnmap(p + 7 * unit, 2 * unit));
    PROBE("unmap_not_reserved", cu.cuMemUnmap(p + ((ptr)1 << 42), unit));
    PROBE("free", cu.cuMemAddressFree(p, 8 * unit));
    PROBE("release", cu.cuMemRelease(two));
    PROBE("hint_in_memory",
            reserved(cu.cuMemAddressReserve(&q, unit, 0, memory[0] / unit * unit, 0), &q, unit));
}
/* One allocation at two addresses: what is known of both. */
static void twice(void) {
    ptr p;
    unsigned long long handle;
    int when, i, k;
    char question[40];
    open_with_unit();
    p = reserve(4 * unit);
    handle = create(unit);
    for (when = 0; when < 2; when++) {
        const rights r = right_of(1, 0, READ_WRITE);
        if (!when)
            for (k = 0; k < 2; k++) cu.cuMemMap(p + 2 * (ptr)k * unit, unit, 0, handle, 0);
        else
            for (k = 0; k < 2; k++) cu.cuMemSetAccess(p + 2 * (ptr)k * unit, unit, &r, 1);
        for (k = 0; k < 2; k++) {
            static const int attributes[] = { 2, 3, 6, 9, 11, 12, 13, 16, 18, 19 };
            const ptr at = p + 2 * (ptr)k * unit;
            ptr base = 0;
            size_t bytes = 0;
            snprintf(question, sizeof question, "range_%d_%d", when, k);
            if (!skipped(question)) {
                const int result = cu.cuMemGetAddressRange_v2(&base, &bytes, at + 64);
                answer(question, "%d %d %d", result, !result && base == at,
                        !result && bytes == unit);
            }
            for (i = 0; i < (int)COUNT(attributes); i++) {
                unsigned long long value = 0;
                int result;
                snprintf(question, sizeof question, "of_%d_%d_%d", when, k, attributes[i]);
                if (skipped(question)) continue;
                result = cu.cuPointerGetAttribute(&value, attributes[i], at + 64);
                answer(question, "%d %d", result,
                        value >= p && value < p + 4 * unit ? 1000 + (int)((value - p) / unit)
                                : value >= unit            ? 2000 + (int)(value / unit)
                                                           : (int)value);
            }
        }
    }
}

/* Copies and fills over the border of two mappings, without and with a current context. */
static void pieces(void) {
    static const char *const whens[] = { "without", "with" };
    const properties on_device = usual();
    properties on_host = usual();
    rights r[2];
    ptr p, q, plain = 0, to;
    void *stream = NULL, *pinned = NULL;
    const void *from;
    char question[60];
    int i, when;
    open_with_unit();
    on_host.at.type = 3;
    p = reserve(2 * unit);
    q = reserve(2 * unit);
    r[0] = right_of(1, 0, READ_WRITE);
    r[1] = right_of(3, 0, READ_WRITE);
    for (i = 0; i < 4; i++) {
        const ptr at = (i < 2 ? p : q) + (ptr)(i % 2) * unit;
        unsigned long long handle = 0;
        cu.cuMemCreate(&handle, unit, i < 2 ? &on_device : &on_host, 0);
        cu.cuMemMap(at, unit, 0, handle, 0);
        cu.cuMemRelease(handle);
        cu.cuMemSetAccess(at, unit, r, i < 2 ? 1 : 2);
    }
    cu.cuMemAlloc_v2(&plain, 256);
    cu.cuMemAllocHost_v2(&pinned, 256);
    cu.cuStreamCreate(&stream, 1);
    to = p + unit - 64;
    from = (const void *)(uintptr_t)(q + unit - 64);
    for (when = 0; when < 2; when++) {
        void *graph = NULL;
        copy_3d c;
        cu.cuCtxSetCurrent(when ? context[0] : NULL);
        memset(&c, 0, sizeof c);
        c.from_type = c.to_type = DEVICE;
        c.from_device = to;
        c.to_device = plain;
        c.from_pitch = c.to_pitch = 64;
        c.from_height = c.to_height = 2;
        c.width = 64;
        c.height = 2;
        c.depth = 1;
#define PIECES(what, call) \
    do { \
        snprintf(question, sizeof question, what "_%s", whens[when]); \
        PROBE(question, call); \
    } while (0)
        PIECES("in", cu.cuMemcpyHtoDAsync_v2(to, pinned, 128, stream));
        PIECES("out", cu.cuMemcpyDtoHAsync_v2(pinned, to, 128, stream));
        PIECES("from", cu.cuMemcpyDtoDAsync_v2(plain, to, 128, stream));
        PIECES("to", cu.cuMemcpyDtoDAsync_v2(to, plain, 128, stream));
        PIECES("any", cu.cuMemcpyAsync(plain, to, 128, stream));
        PIECES("one", cu.cuMemcpyDtoHAsync_v2(pinned, to, 64, stream));
        if (!when)
            PIECES("too_far", cu.cuMemcpyDtoHAsync_v2(pinned, p + 2 * unit - 64, 128, stream));
        PIECES("host_in", cu.cuMemcpyHtoDAsync_v2(plain, from, 128, stream));
        PIECES("host_out", cu.cuMemcpyDtoHAsync_v2((void *)(uintptr_t)from, plain, 128, stream));
        PIECES("host_one", cu.cuMemcpyHtoDAsync_v2(plain, from, 64, stream));
        PIECES("host_any", cu.cuMemcpyAsync(plain, (ptr)(uintptr_t)from, 128, stream));
        PIECES("three_d", cu.cuMemcpy3DAsync_v2(&c, stream));
        PIECES("peer", cu.cuMemcpyPeerAsync(plain, context[0], to, context[0], 128, stream));
        PIECES("fill", cu.cuMemsetD8Async(to, 1, 128, stream));
        PIECES("write", cu.cuStreamWriteValue32_v2(stream, to + 64, 1, 0));
        PIECES("begin", cu.cuStreamBeginCapture_v2(stream, 2));
        PIECES("captured", cu.cuMemcpyDtoDAsync_v2(plain, to, 128, stream));
        PIECES("end", cu.cuStreamEndCapture(stream, &graph));
        PIECES("sync", cu.cuStreamSynchronize(stream));
    }
    /* the last one: an H100's driver crashed */
    PROBE("too_far_with", cu.cuMemcpyDtoHAsync_v2(pinned, p + 2 * unit - 64, 128, stream));
}

/* ---- access ---- */

static void accesses(void) {
    ptr p;
    unsigned long long handle, flags;
    rights r, two[2];
    int i;
    char question[40];
    open_with_unit();
    p = reserve(2 * unit);
    handle = create(unit);
    cu.cuMemMap(p, unit, 0, handle, 0);
    r = right_of(1, 0, 0);
    flags = 77;
    PROBE("get_at_first", (cu.cuMemGetAccess(&flags, &r.of, p), (int)flags));
    PROBE("fill_at_first", cu.cuMemsetD8_v2(p, 1, 1));
    PROBE("copy_to_at_first", cu.cuMemcpyHtoD_v2(p, &r, 1));
    PROBE("copy_from_at_first", cu.cuMemcpyDtoH_v2(&flags, p, 1));
    for (i = 0; i < 5; i++) {
        r = right_of(1, 0, i);
        snprintf(question, sizeof question, "set_%d", i);
        PROBE(question, cu.cuMemSetAccess(p, unit, &r, 1));
        snprintf(question, sizeof question, "set_%d_is", i);
        flags = 77;
        PROBE(question, (cu.cuMemGetAccess(&flags, &r.of, p), (int)flags));
        snprintf(question, sizeof question, "set_%d_fill", i);
        PROBE(question, cu.cuMemsetD8_v2(p, 1, 1));
        r = right_of(i, 0, READ_WRITE);
        snprintf(question, sizeof question, "location_%d", i);
        PROBE(question, cu.cuMemSetAccess(p, unit, &r, 1));
        snprintf(question, sizeof question, "get_location_%d", i);
        flags = 77;
        PROBE(question, cu.cuMemGetAccess(&flags, &r.of, p));
        snprintf(question, sizeof question, "get_location_%d_is", i);
        PROBE(question, (int)flags);
    }
    r = right_of(1, 99, READ_WRITE);
    PROBE("set_device_99", cu.cuMemSetAccess(p, unit, &r, 1));
    PROBE("get_device_99", cu.cuMemGetAccess(&flags, &r.of, p));
    r = right_of(1, -1, READ_WRITE);
    PROBE("set_device_-1", cu.cuMemSetAccess(p, unit, &r, 1));
    two[0] = right_of(1, 0, READ_WRITE);
    two[1] = right_of(1, 0, 0);
    PROBE("set_twice", cu.cuMemSetAccess(p, unit, two, 2));
    PROBE("set_twice_is", (flags = 77, cu.cuMemGetAccess(&flags, &two[0].of, p), (int)flags));
    two[1] = right_of(1, 99, READ_WRITE);
    PROBE("set_one_wrong", cu.cuMemSetAccess(p, unit, two, 2));
    PROBE("set_one_wrong_is", (flags = 77, cu.cuMemGetAccess(&flags, &two[0].of, p), (int)flags));
    r = right_of(1, 0, 0);
    PROBE("get_to_null", cu.cuMemGetAccess(NULL, &r.of, p));
    PROBE("get_of_null", cu.cuMemGetAccess(&flags, NULL, p));
    PROBE("get_unmapped", cu.cuMemGetAccess(&flags, &r.of, p + unit));
    PROBE("get_null", cu.cuMemGetAccess(&flags, &r.of, 0));
    PROBE("get_memory",
            (flags = 77, cu.cuMemGetAccess(&flags, &r.of, memory[0]) * 100 + (int)flags));
    PROBE("set_memory", cu.cuMemSetAccess(memory[0], unit, &r, 1));
}

/* ---- attributes of pointers: of an address that is only reserved, without access, with it ---- */

static void pointers(void) {
    const rights r = right_of(1, 0, READ_WRITE);
    ptr p;
    unsigned long long handle;
    int when, i;
    open_with_unit();
    p = reserve(4 * unit);
    for (when = 0; when < 3; when++) {
        static const char *const whens[] = { "reserved", "mapped", "given" };
        if (when == 1) {
            handle = create(unit);
            cu.cuMemMap(p + unit, unit, 0, handle, 0);
            cu.cuMemRelease(handle);
        }
        if (when == 2) cu.cuMemSetAccess(p + unit, unit, &r, 1);
        for (i = 1; i <= 21; i++) {
            unsigned long long value[2] = { 0, 0 };
            char question[40];
            int result, is;
            snprintf(question, sizeof question, "%s_%d", whens[when], i);
            if (skipped(question)) continue;
            result = cu.cuPointerGetAttribute(value, i, p + unit + 64);
            is = value[0] >= p && value[0] < p + 4 * unit      ? 1000 + (int)((value[0] - p) / unit)
                    : i == 7 || i == 20                        ? value[0] != 0
                    : value[0] >= unit && value[0] <= 4 * unit ? 2000 + (int)(value[0] / unit)
                                                               : (int)value[0];
            answer(question, "%d %d", result, is);
        }
    }
}

/* ---- work ---- */

/* What a kernel does to addresses; each group is its own process. */
static void store_to(int mapped, int given) {
    const rights r = right_of(1, 0, given);
    ptr p;
    void *params[2], *stream = NULL;
    unsigned value = 5;
    unsigned long long handle = 0;
    open_with_unit();
    p = reserve(unit);
    if (mapped) {
        handle = create(unit);
        cu.cuMemMap(p, unit, 0, handle, 0);
    }
    if (given) cu.cuMemSetAccess(p, unit, &r, 1);
    params[0] = &p;
    params[1] = &value;
    cu.cuStreamCreate(&stream, 1);
    PROBE("launch", launch(kernel(0, "store"), 1, 1, stream, params));
    PROBE("sync", cu.cuStreamSynchronize(stream));
    PROBE("unmap", cu.cuMemUnmap(p, unit));
    PROBE("release", cu.cuMemRelease(handle));
    PROBE("free", cu.cuMemAddressFree(p, unit));
    PROBE("create",
            made(cu.cuMemCreate(&handle, unit, &(properties){ .type = 1, .at = { 1, 0 } }, 0),
                    &handle));
}
static void stores_reserved(void) { store_to(0, 0); }
static void stores_mapped(void) { store_to(1, 0); }
static void stores_given(void) { store_to(1, READ_WRITE); }
static void stores_read_only(void) { store_to(1, READ_ONLY); }

/* What may be read, but not written. */
static void read_only(void) {
    const rights r = right_of(1, 0, READ_ONLY);
    ptr p, to = 0;
    unsigned word = 0;
    int flags = 77;
    void *params[2], *stream = NULL;
    open_with_unit();
    p = reserve(unit);
    map_new(p, unit);
    cu.cuMemsetD32_v2(p, 7, 64);
    cu.cuCtxSynchronize();
    cu.cuMemSetAccess(p, unit, &r, 1);
    cu.cuStreamCreate(&stream, 1);
    PROBE("flags", cu.cuPointerGetAttribute(&flags, 16, p) * 100 + flags);
    PROBE("device_pointer", cu.cuPointerGetAttribute(&to, 3, p) * 10 + (to == p));
    PROBE("fill", cu.cuMemsetD32_v2(p, 1, 1));
    PROBE("fill_async", cu.cuMemsetD32Async(p, 1, 1, stream));
    PROBE("copy_to", cu.cuMemcpyHtoD_v2(p, &word, 4));
    PROBE("copy_to_async", cu.cuMemcpyHtoDAsync_v2(p, &word, 4, stream));
    PROBE("copy_in", cu.cuMemcpyDtoD_v2(p, p + 64, 4));
    PROBE("copy_from", cu.cuMemcpyDtoH_v2(&word, p, 4));
    PROBE("copy_from_is", (int)word);
    PROBE("copy_off", cu.cuMemcpyDtoD_v2(memory[0], p, 4));
    params[0] = &p; /* as a gate, which is open */
    PROBE("launch_load", launch(kernel(0, "spin"), 1, 1, stream, params));
    PROBE("sync_load", cu.cuStreamSynchronize(stream));
    PROBE("wait_value", cu.cuStreamWaitValue32_v2(stream, p, 7, 1));
    PROBE("sync_wait", cu.cuStreamSynchronize(stream));
    /* the last ones: this write ends the context */
    PROBE("write_value", cu.cuStreamWriteValue32_v2(stream, p, 7, 0));
    PROBE("sync", cu.cuCtxSynchronize());
}

/* What works after an error of a kernel. */
static void after_fault(void) {
    const rights r = right_of(1, 0, READ_WRITE);
    const properties is = usual();
    ptr p, q = 0;
    void *params[2];
    unsigned value = 5;
    unsigned long long handle = 0, flags = 77;
    size_t bytes = 0;
    open_with_unit();
    p = reserve(2 * unit);
    map_new(p, unit);
    q = p + unit;
    params[0] = &q;
    params[1] = &value;
    PROBE("launch", launch(kernel(0, "store"), 1, 1, NULL, params));
    PROBE("sync", cu.cuStreamSynchronize(NULL));
    PROBE("granularity", cu.cuMemGetAllocationGranularity(&bytes, &is, 0));
    PROBE("reserve", reserved(cu.cuMemAddressReserve(&q, unit, 0, 0, 0), &q, unit));
    cu.cuMemCreate(&handle, unit, &is, 0);
    PROBE("map", cu.cuMemMap(p + unit, unit, 0, handle, 0));
    PROBE("access", cu.cuMemSetAccess(p + unit, unit, &r, 1));
    PROBE("get_access", cu.cuMemGetAccess(&flags, &r.of, p));
    PROBE("retain", cu.cuMemRetainAllocationHandle(&flags, (void *)(uintptr_t)p));
    PROBE("unmap", cu.cuMemUnmap(p, 2 * unit));
    PROBE("release", cu.cuMemRelease(handle));
    PROBE("free", cu.cuMemAddressFree(p, 2 * unit));
}

static volatile int unmapped, unmap_result;
static ptr in_use;
static void *unmap_it(void *unused) {
    unmap_result = cu.cuMemUnmap(in_use, unit);
    __atomic_store_n(&unmapped, 1, __ATOMIC_SEQ_CST);
    return unused;
}
/* cuMemUnmap while a kernel runs that does not end before the call: does it wait? Then: while one
   runs that uses the memory. */
static void unmaps_while(int uses) {
    gate g;
    void *stream = NULL, *params[1];
    pthread_t thread;
    int waited;
    open_with_unit();
    g = make_gate();
    in_use = reserve(2 * unit);
    map_new(in_use, unit);
    cu.cuMemsetD8_v2(in_use, 0, unit);
    cu.cuStreamCreate(&stream, 1);
    cu.cuCtxSynchronize();
    if (uses) {
        params[0] = &in_use; /* spins on a word of it */
        launch(kernel(0, "spin"), 1, 1, stream, params);
    } else close_gate(g, kernel(0, "spin"), stream);
    wrong_time();
    PROBE("map_beside", map_new(in_use + unit, unit));
    pthread_create(&thread, NULL, unmap_it, NULL);
    for (waited = 0; !__atomic_load_n(&unmapped, __ATOMIC_SEQ_CST) && waited < 40; waited++)
        wrong_time();
    PROBE("returns_at_once", waited < 40);
    if (!uses) open_gate(g);
    if (uses && waited == 40) { /* it waits for what never ends */
        fflush(stdout);
        _exit(0);
    }
    pthread_join(thread, NULL);
    PROBE("result", unmap_result);
    PROBE("sync", cu.cuStreamSynchronize(stream));
}
static void unmaps_beside(void) { unmaps_while(0); }
static void unmaps_under(void) { unmaps_while(1); }

/* In captures, of each mode: 0 global, 1 of the thread, 2 relaxed. */
static void captured(void) {
    const rights r = right_of(1, 0, READ_WRITE);
    properties p = usual();
    void *stream = NULL, *graph = NULL;
    ptr at, more = 0;
    unsigned long long handle = 0, flags = 0;
    size_t bytes = 0;
    int mode;
    char question[60];
    open_with_unit();
    cu.cuStreamCreate(&stream, 1);
    at = reserve(2 * unit);
    for (mode = 0; mode < 3; mode += 2) {
#define CAPTURED(name, call) \
    do { \
        snprintf(question, sizeof question, name "_%d", mode); \
        cu.cuStreamBeginCapture_v2(stream, mode); \
        PROBE(question, call); \
        snprintf(question, sizeof question, name "_%d_end", mode); \
        PROBE(question, cu.cuStreamEndCapture(stream, &graph)); \
    } while (0)
        CAPTURED("granularity", cu.cuMemGetAllocationGranularity(&bytes, &p, 0));
        CAPTURED("create", cu.cuMemCreate(&handle, unit, &p, 0));
        if (!handle) handle = create(unit);
        CAPTURED("map", cu.cuMemMap(at, unit, 0, handle, 0));
        cu.cuMemMap(at, unit, 0, handle, 0);
        CAPTURED("access", cu.cuMemSetAccess(at, unit, &r, 1));
        cu.cuMemSetAccess(at, unit, &r, 1);
        CAPTURED("get_access", cu.cuMemGetAccess(&flags, &r.of, at));
        CAPTURED("retain", cu.cuMemRetainAllocationHandle(&flags, (void *)(uintptr_t)at));
        CAPTURED("properties", cu.cuMemGetAllocationPropertiesFromHandle(&p, handle));
        p = usual();
        CAPTURED("fill", cu.cuMemsetD32Async(at, 1, 4, stream));
        CAPTURED("unmap", cu.cuMemUnmap(at, unit));
        cu.cuMemUnmap(at, unit);
        CAPTURED("release", cu.cuMemRelease(handle));
        handle = 0;
        CAPTURED("reserve", cu.cuMemAddressReserve(&more, unit, 0, 0, 0));
        if (!more) more = reserve(unit);
        CAPTURED("free", cu.cuMemAddressFree(more, unit));
        more = 0;
    }
}

/* ---- shared ---- */

static void shares(void) {
    properties p = usual();
    unsigned long long handle = 0, other = 0, third = 0;
    int file = -1, again = -1, pipes[2];
    ptr at;
    open_with_unit();
    handle = create(unit);
    PROBE("export_not_created_so", cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 0));
    cu.cuMemRelease(handle);
    p.handle_types = POSIX_FILE;
    cu.cuMemCreate(&handle, unit, &p, 0);
    PROBE("export_to_null", cu.cuMemExportToShareableHandle(NULL, handle, POSIX_FILE, 0));
    PROBE("export_0", cu.cuMemExportToShareableHandle(&file, 0, POSIX_FILE, 0));
    PROBE("export_type_0", cu.cuMemExportToShareableHandle(&file, handle, 0, 0));
    PROBE("export_type_2", cu.cuMemExportToShareableHandle(&file, handle, 2, 0));
    PROBE("export_type_3", cu.cuMemExportToShareableHandle(&file, handle, 3, 0));
    PROBE("export_flags_1", cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 1));
    PROBE("export", cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 0));
    PROBE("export_again", cu.cuMemExportToShareableHandle(&again, handle, POSIX_FILE, 0));
    PROBE("another_descriptor", file >= 0 && again >= 0 && file != again);
#define FILE_OF(n) ((void *)(intptr_t)(n))
    PROBE("import_to_null", cu.cuMemImportFromShareableHandle(NULL, FILE_OF(file), POSIX_FILE));
    PROBE("import_type_0", cu.cuMemImportFromShareableHandle(&other, FILE_OF(file), 0));
    PROBE("import_type_2", cu.cuMemImportFromShareableHandle(&other, FILE_OF(file), 2));
    PROBE("import_-1", cu.cuMemImportFromShareableHandle(&other, FILE_OF(-1), POSIX_FILE));
    PROBE("import_999", cu.cuMemImportFromShareableHandle(&other, FILE_OF(999), POSIX_FILE));
    if (pipe(pipes) == 0)
        PROBE("import_pipe",
                cu.cuMemImportFromShareableHandle(&other, FILE_OF(pipes[0]), POSIX_FILE));
    PROBE("import", cu.cuMemImportFromShareableHandle(&other, FILE_OF(file), POSIX_FILE));
    PROBE("import_is_it", other == handle);
    PROBE("import_again", cu.cuMemImportFromShareableHandle(&third, FILE_OF(again), POSIX_FILE));
    PROBE("import_again_is_it", third == other);
    close(file);
    close(again);
    PROBE("release", cu.cuMemRelease(handle));
    PROBE("properties", cu.cuMemGetAllocationPropertiesFromHandle(&p, other));
    if (!skipped("properties_are"))
        answer("properties_are", "%d %d %d %d", p.type, p.handle_types, p.at.type, p.at.id);
    at = reserve(unit);
    PROBE("map", cu.cuMemMap(at, unit, 0, other, 0));
    PROBE("release_import", cu.cuMemRelease(other));
    PROBE("release_again", cu.cuMemRelease(third));
    PROBE("unmap", cu.cuMemUnmap(at, unit));
}

/* ---- memory of the host, and of two devices ---- */

static void on_host(void) {
    static const int types[] = { 2, 3 };
    properties p = usual();
    rights r[2];
    ptr at, q = 0;
    unsigned long long handle = 0, flags = 77;
    int i, value = 0;
    char question[40];
    open_with_unit();
    at = reserve(unit);
    for (i = 0; i < 2; i++) {
        p.at.type = types[i];
        handle = 0;
#define HOSTED(name, call) \
    snprintf(question, sizeof question, name "_%d", types[i]); \
    PROBE(question, call)
        HOSTED("create", cu.cuMemCreate(&handle, unit, &p, 0));
        HOSTED("map", cu.cuMemMap(at, unit, 0, handle, 0));
        r[0] = right_of(1, 0, READ_WRITE);
        r[1] = right_of(types[!i], 0, READ_WRITE);
        HOSTED("access_other", cu.cuMemSetAccess(at, unit, r, 2));
        r[1] = right_of(types[i], 0, READ_ONLY);
        HOSTED("access_to_read", cu.cuMemSetAccess(at, unit, r, 2));
        r[1] = right_of(types[i], 99, READ_WRITE);
        HOSTED("access_99", cu.cuMemSetAccess(at, unit, r, 2));
        r[1] = right_of(types[i], 0, READ_WRITE);
        HOSTED("access", cu.cuMemSetAccess(at, unit, r, 2));
        flags = 77;
        HOSTED("get_access", cu.cuMemGetAccess(&flags, &r[1].of, at));
        HOSTED("get_access_is", (int)flags);
        HOSTED("fill", cu.cuMemsetD32_v2(at, 7, 4));
        HOSTED("sync", cu.cuCtxSynchronize());
        HOSTED("read", (int)*(volatile uint32_t *)(uintptr_t)at);
        HOSTED("type", (cu.cuPointerGetAttribute(&value, 2, at), value));
        HOSTED("ordinal", (cu.cuPointerGetAttribute(&value, 9, at), value));
        HOSTED("host_pointer", cu.cuPointerGetAttribute(&q, 4, at) * 10 + (q == at));
        HOSTED("device_pointer", cu.cuPointerGetAttribute(&q, 3, at) * 10 + (q == at));
        HOSTED("get_pointer",
                cu.cuMemHostGetDevicePointer_v2(&q, (void *)(uintptr_t)at, 0) * 10 + (q == at));
        HOSTED("get_flags", cu.cuMemHostGetFlags((unsigned *)&value, (void *)(uintptr_t)at));
        HOSTED("flags_are",
                (value = 77, cu.cuMemHostGetFlags((unsigned *)&value, (void *)(uintptr_t)at),
                        value));
        HOSTED("unmap", cu.cuMemUnmap(at, unit));
        HOSTED("release", cu.cuMemRelease(handle));
    }
}

static void over_two(void) {
    properties p = usual();
    rights r;
    ptr at;
    unsigned long long handle = 0;
    unsigned word = 0;
    open_all();
    if (devices < 2) {
        answer("gave_up", "two devices");
        return;
    }
    cu.cuMemGetAllocationGranularity(&unit, &p, 0);
    cu.cuCtxSetCurrent(context[0]);
    at = reserve(2 * unit);
    p.at.id = 1;
    cu.cuMemCreate(&handle, unit, &p, 0);
    cu.cuMemMap(at, unit, 0, handle, 0);
    cu.cuMemRelease(handle);
    p.at.id = 0;
    cu.cuMemCreate(&handle, unit, &p, 0);
    cu.cuMemMap(at + unit, unit, 0, handle, 0);
    cu.cuMemRelease(handle);
    r = right_of(1, 1, READ_WRITE);
    PROBE("owner_only", cu.cuMemSetAccess(at, 2 * unit, &r, 1));
    PROBE("fill_by_0", cu.cuMemsetD32_v2(at, 1, 1));
    PROBE("copy_from_by_0", cu.cuMemcpyDtoH_v2(&word, at, 4));
    PROBE("copy_to_by_0", cu.cuMemcpyHtoD_v2(at, &word, 4));
    PROBE("copy_in_by_0", cu.cuMemcpyDtoD_v2(at + 64, at, 4));
    PROBE("copy_own_by_0", cu.cuMemcpyDtoH_v2(&word, at + unit, 4));
    PROBE("peer_by_0", cu.cuMemcpyPeer(memory[0], context[0], at, context[1], 4));
    PROBE("range_by_0", cu.cuMemGetAddressRange_v2(NULL, NULL, at));
    cu.cuCtxSetCurrent(context[1]);
    PROBE("fill_by_1", cu.cuMemsetD32_v2(at, 1, 1));
    PROBE("fill_across_by_1", cu.cuMemsetD32_v2(at, 1, unit / 2));
    PROBE("copy_across_by_1", cu.cuMemcpyDtoD_v2(at + unit - 64, at + unit - 32, 64));
    r = right_of(1, 0, READ_WRITE);
    PROBE("give_0", cu.cuMemSetAccess(at, 2 * unit, &r, 1));
    cu.cuCtxSetCurrent(context[0]);
    PROBE("fill_across_by_0", cu.cuMemsetD32_v2(at, 1, unit / 2));
    PROBE("sync", cu.cuCtxSynchronize());
    r = right_of(1, 1, 0);
    PROBE("take_from_owner", cu.cuMemSetAccess(at, 2 * unit, &r, 1));
    PROBE("fill_by_0_then", cu.cuMemsetD32_v2(at, 1, 1));
    PROBE("sync_then", cu.cuCtxSynchronize());
    PROBE("unmap", cu.cuMemUnmap(at, 2 * unit));
}

const group virtual_groups[] = {
    { "vmm", creates, 1 },
    { "vmm_addresses", reserves, 1 },
    { "vmm_maps", maps, 1 },
    { "vmm_neighbours", neighbours, 1 },
    { "vmm_holes", holes, 1 },
    { "vmm_twice", twice, 1 },
    { "vmm_pieces", pieces, 1 },
    { "vmm_access", accesses, 1 },
    { "vmm_pointers", pointers, 1 },
    { "vmm_store_reserved", stores_reserved, 1 },
    { "vmm_store_mapped", stores_mapped, 1 },
    { "vmm_store_given", stores_given, 1 },
    { "vmm_store_read_only", stores_read_only, 1 },
    { "vmm_read_only", read_only, 1 },
    { "vmm_after_fault", after_fault, 1 },
    { "vmm_unmap_beside", unmaps_beside, 1 },
    { "vmm_unmap_under", unmaps_under, 1 },
    { "vmm_captured", captured, 1 },
    { "vmm_shared", shares, 1 },
    { "vmm_on_host", on_host, 1 },
    { "vmm_two", over_two, 2 },
    { NULL, NULL, 0 },
};
