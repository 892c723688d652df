/* vmm_raw.c - virtual memory through the driver's own calls: reserved addresses, allocations
   without an address, and what is mapped where. What the calls refuse is also in
   tests/device/probe. The suite keeps the CPU device faithful. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#endif
#include "../../test.h"
#include <sys/mman.h>
#include <sys/socket.h>

typedef unsigned long long ptr;                                     /* CUdeviceptr */
enum { VIRTUAL_MEMORY = 102, FILES = 103, HOST_NUMA_MEMORY = 141 }; /* CUdevice_attribute */
enum { ON_DEVICE = 1, ON_HOST, ON_NUMA };                           /* CUmemLocationType */
enum { NOTHING, READ_ONLY, READ_WRITE = 3 };                        /* CUmemAccess_flags */
enum { POSIX_FILE = 1, PINNED = 1, UNIT_BYTES = 2 << 20, WORDS = UNIT_BYTES / 4 };
/* CUpointer_attribute */
enum {
    CONTEXT = 1,
    MEMORY_TYPE,
    DEVICE_POINTER,
    HOST_POINTER,
    BUFFER_ID = 7,
    IS_MANAGED,
    ORDINAL,
    IPC_CAPABLE,
    RANGE_START,
    RANGE_SIZE,
    MAPPED,
    HANDLE_TYPES,
    ACCESS_FLAGS = 16,
    POOL,
    MAPPING_SIZE,
    MAPPING_START,
    BLOCK_ID
};

/* CUmemAllocationProp */
typedef struct properties {
    int type, handle_types;
    gxi_location location;
    void *security;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char zeros[4];
} properties;

/* CUmemAccessDesc */
typedef struct rights {
    gxi_location location;
    int flags;
} rights;

static driver_calls cu;
static void *context, *module, *add_to, *spin, *stream;
static volatile uint32_t *gate;
static size_t unit; /* the granularity */

static const char text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        /* adds to each word its index and k */
        ".visible .entry add_to(.param .u64 p, .param .u32 n, .param .u32 k) {\n"
        "    .reg .b64 %a; .reg .b32 %t, %n, %b, %v, %k; .reg .pred %q;\n"
        "    ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; ld.param.u32 %k, [k];\n"
        "    mov.u32 %t, %ctaid.x; mov.u32 %b, %ntid.x; mul.lo.u32 %t, %t, %b; mov.u32 %b, "
        "%tid.x;\n"
        "    add.u32 %t, %t, %b; setp.ge.u32 %q, %t, %n; @%q ret;\n"
        "    mad.wide.u32 %a, %t, 4, %a; ld.global.u32 %v, [%a]; add.u32 %v, %v, %t;\n"
        "    add.u32 %v, %v, %k; st.global.u32 [%a], %v; ret;\n}\n"
        /* reads p until the gate opens */
        ".visible .entry spin(.param .u64 gate, .param .u64 p) {\n"
        "    .reg .b64 %a, %b; .reg .b32 %v, %w; .reg .pred %q;\n"
        "    ld.param.u64 %a, [gate]; ld.param.u64 %b, [p];\n"
        "AGAIN: ld.volatile.global.u32 %w, [%b]; ld.volatile.global.u32 %v, [%a];\n"
        "    setp.eq.u32 %q, %v, 0; @%q bra AGAIN; ret;\n}\n"
        /* to[i] = from[i] + from[32 + i], once by a generic address */
        ".visible .entry read(.param .u64 to, .param .u64 from) {\n"
        "    .reg .b64 %a, %b, %i; .reg .b32 %t, %v, %w, %x; .reg .pred %q;\n"
        "    ld.param.u64 %a, [to]; ld.param.u64 %b, [from]; mov.u32 %t, %tid.x;\n"
        "    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i; add.u64 %b, %b, %i;\n"
        "    ld.global.u32 %v, [%b]; ld.u32 %w, [%b + 128]; add.u32 %v, %v, %w;\n"
        "    st.global.u32 [%a], %v; ret;\n}\n"
        /* one atomic */
        ".visible .entry count(.param .u64 p) {\n"
        "    .reg .b64 %a; ld.param.u64 %a, [p]; red.global.add.u32 [%a], 1; ret;\n}\n";

static properties on_device(int device) {
    properties is;
    memset(&is, 0, sizeof is);
    is.type = PINNED;
    is.location.type = ON_DEVICE;
    is.location.id = device;
    return is;
}
static rights for_device(int device, int flags) {
    rights access;
    access.location.type = ON_DEVICE;
    access.location.id = device;
    access.flags = flags;
    return access;
}

static int device_has(int attribute, int device) {
    int value = 0;
    CHECK_EQ(cu.cuDeviceGetAttribute(&value, attribute, device), 0);
    return value;
}

/* false: the device has no virtual memory */
static int begin(void) {
    const properties is = on_device(0);
    void *word = NULL;
    gpuexec_context_open(0, NULL); /* finds the driver */
    cu = calls_find();
    if (!device_has(VIRTUAL_MEMORY, 0)) return 0;
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuModuleLoadData(&module, text), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&add_to, module, "add_to"), 0);
    CHECK_EQ(cu.cuModuleGetFunction(&spin, module, "spin"), 0);
    CHECK_EQ(cu.cuStreamCreate(&stream, 1), 0);
    CHECK_EQ(cu.cuMemHostAlloc(&word, 64, 0), 0);
    gate = (volatile uint32_t *)word;
    CHECK_EQ(cu.cuMemGetAllocationGranularity(&unit, &is, 0), 0);
    CHECK(unit > 0 && (unit & (unit - 1)) == 0);
    return 1;
}
static void end(void) {
    CHECK_EQ(cu.cuStreamDestroy_v2(stream), 0);
    CHECK_EQ(cu.cuMemFreeHost((void *)(uintptr_t)gate), 0);
    CHECK_EQ(cu.cuModuleUnload(module), 0);
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
}
/* A wrong call. On a GPU the probe makes them: not all results are known, and one may end the
   process. */
#define CHECK_WRONG(call, result) \
    do { \
        if (on_cpu_device()) CHECK_EQ(call, result); \
    } while (0)
#define BEGIN() \
    if (!begin()) SKIP("no virtual memory")

static ptr reserve(size_t bytes) {
    ptr p = 0;
    CHECK_EQ(cu.cuMemAddressReserve(&p, bytes, 0, 0, 0), 0);
    return p;
}
static unsigned long long create(size_t bytes, int device) {
    const properties is = on_device(device);
    unsigned long long handle = 0;
    CHECK_EQ(cu.cuMemCreate(&handle, bytes, &is, 0), 0);
    return handle;
}
static void allow(ptr p, size_t bytes, int device) {
    const rights access = for_device(device, READ_WRITE);
    CHECK_EQ(cu.cuMemSetAccess(p, bytes, &access, 1), 0);
}
static void give_device(ptr p, size_t bytes, int device, int flags, int expected) {
    const rights access = for_device(device, flags);
    CHECK_EQ(cu.cuMemSetAccess(p, bytes, &access, 1), expected);
}
static int allowed(ptr p, int device) {
    const rights access = for_device(device, 0);
    unsigned long long flags = 77;
    CHECK_EQ(cu.cuMemGetAccess(&flags, &access.location, p), 0);
    return (int)flags;
}
/* a new allocation there, which ends with its mapping */
static void map_new(ptr p, size_t bytes, int device) {
    const unsigned long long handle = create(bytes, device);
    CHECK_EQ(cu.cuMemMap(p, bytes, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    allow(p, bytes, 0);
}
/* cuMemUnmap does not wait for work that uses the memory. */
static void give_back(ptr p, size_t mapped, size_t bytes) {
    cu.cuCtxSynchronize();
    CHECK_EQ(cu.cuMemUnmap(p, mapped), 0);
    CHECK_EQ(cu.cuMemAddressFree(p, bytes), 0);
}

static int launch_add(ptr p, unsigned n, unsigned k) {
    void *params[3];
    params[0] = &p;
    params[1] = &n;
    params[2] = &k;
    return cu.cuLaunchKernel(add_to, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL);
}
static void fill(ptr p, unsigned word, size_t n) {
    CHECK_EQ(cu.cuMemsetD32Async(p, word, n, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
}
static size_t free_bytes(void) {
    size_t available = 0, total = 0;
    CHECK_EQ(cu.cuMemGetInfo_v2(&available, &total), 0);
    return available;
}

/* The flow of NVIDIA's sample vectorAddMMAP, on one device. */
TEST(mapped_memory_is_memory) {
    ptr p;
    size_t recommended = 0, i;
    uint32_t *got;
    properties is;
    BEGIN();
    is = on_device(0);
    CHECK_EQ(cu.cuMemGetAllocationGranularity(&recommended, &is, 1), 0);
    CHECK(recommended >= unit && recommended % unit == 0);
    p = reserve(3 * unit);
    CHECK_EQ(p % unit, 0);
    map_new(p, unit, 0);
    map_new(p + unit, 2 * unit, 0);
    got = (uint32_t *)malloc(3 * unit);
    fill(p, 1000, 3 * unit / 4);
    CHECK_EQ(launch_add(p, (unsigned)(3 * unit / 4), 5), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p, 3 * unit), 0);
    for (i = 0; i < 3 * unit / 4 && got[i] == 1005 + i; i++) {}
    CHECK_EQ(i, 3 * unit / 4);
    free(got);
    give_back(p, 3 * unit, 3 * unit);
    end();
}

/* Physical memory counts, addresses do not; an allocation ends with its last handle and mapping. */
TEST(what_counts_as_used) {
    ptr p, q;
    size_t before;
    unsigned long long handle;
    if (!on_cpu_device()) SKIP("other programs use a GPU's memory, too");
    BEGIN();
    before = free_bytes();
    p = reserve(64 * unit);
    q = reserve(64 * unit);
    CHECK_EQ(free_bytes(), before);
    handle = create(2 * unit, 0);
    CHECK_EQ(free_bytes(), before - 2 * unit);
    CHECK_EQ(cu.cuMemMap(p, 2 * unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemMap(q, 2 * unit, 0, handle, 0), 0);
    CHECK_EQ(free_bytes(), before - 2 * unit);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    CHECK_EQ(free_bytes(), before - 2 * unit);
    CHECK_EQ(cu.cuMemUnmap(p, 2 * unit), 0);
    CHECK_EQ(free_bytes(), before - 2 * unit);
    CHECK_EQ(cu.cuMemUnmap(q, 2 * unit), 0);
    CHECK_EQ(free_bytes(), before);
    CHECK_EQ(cu.cuMemAddressFree(p, 64 * unit), 0);
    CHECK_EQ(cu.cuMemAddressFree(q, 64 * unit), 0);
    handle = create(unit, 0);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    CHECK_EQ(free_bytes(), before);
    end();
}

/* More is mapped behind what a kernel uses, and the first address stays. */
TEST(grows_while_a_kernel_runs) {
    enum { STEPS = 4 };
    ptr p;
    uint32_t words[2], i;
    void *params[2], *other = NULL;
    ptr at;
    BEGIN();
    p = reserve(STEPS * unit);
    map_new(p, unit, 0);
    CHECK_EQ(cu.cuStreamCreate(&other, 1), 0);
    fill(p, 7, unit / 4);
    at = (ptr)(uintptr_t)gate;
    params[0] = &at;
    params[1] = &p;
    *gate = 0;
    CHECK_EQ(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), 0);
    for (i = 1; i < STEPS; i++) {
        map_new(p + i * unit, unit, 0);
        CHECK_EQ(cu.cuMemsetD32Async(p + i * unit - 4, 100 + i, 2, other), 0); /* crosses */
    }
    CHECK_EQ(cu.cuStreamSynchronize(other), 0);
    __atomic_store_n((uint32_t *)(uintptr_t)gate, 1, __ATOMIC_SEQ_CST);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    for (i = 1; i < STEPS; i++) {
        CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + i * unit - 4, 8), 0);
        CHECK(words[0] == 100 + i && words[1] == 100 + i);
    }
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p, 4), 0);
    CHECK_EQ(words[0], 7);
    CHECK_EQ(cu.cuStreamDestroy_v2(other), 0);
    give_back(p, STEPS * unit, STEPS * unit);
    end();
}

/* Copies and fills from any byte to any other, whichever mappings they touch, as of one allocation.
   CUDA_MEMCPY2D. */
typedef struct copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    void *to_host;
    ptr to_device;
    void *to_array;
    size_t to_pitch, width, height;
} copy_2d;
TEST(copies_and_fills_cross_mappings) {
    enum { PIECES = 4, ROUNDS = 60 };
    const unsigned on_host = 1, on_a_device = 2;
    ptr p, plain = 0;
    size_t all, i, bytes;
    unsigned char *model, *got;
    unsigned seed = 1, round;
    BEGIN();
    all = PIECES * unit;
    p = reserve(all);
    for (i = 0; i < PIECES; i++) map_new(p + i * unit, unit, 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&plain, all), 0);
    model = (unsigned char *)malloc(all);
    got = (unsigned char *)malloc(all);
    for (i = 0; i < all; i++) model[i] = (unsigned char)(i * 31 + i / 4099);
    CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(p, model, all, stream), 0);
    CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(plain, model, all, stream), 0);
    for (round = 0; round < ROUNDS; round++) {
        size_t from, to;
        seed = seed * 1103515245u + 12345u;
        /* near the end of a piece, or anywhere */
        from = (seed >> 8) % PIECES * unit +
                (seed % 2 ? unit - 1 - (seed >> 12) % 5000 : seed % unit);
        seed = seed * 1103515245u + 12345u;
        to = (seed >> 8) % PIECES * unit +
                (seed % 2 ? unit - 1 - (seed >> 12) % 5000 : seed % unit);
        bytes = 1 + (seed >> 3) % (round % 3 ? 20000 : 2 * unit);
        if (bytes > all - from) bytes = all - from;
        if (bytes > all - to) bytes = all - to;
        switch (round % 5) {
        case 0: /* out of it and into it */
            CHECK_EQ(cu.cuMemcpyAsync(plain + to, p + from, bytes, stream), 0);
            CHECK_EQ(cu.cuMemcpyDtoDAsync_v2(p + to, plain + to, bytes, stream), 0);
            memmove(model + to, model + from, bytes);
            break;
        case 1:
            CHECK_EQ(cu.cuMemsetD8Async(p + to, (unsigned char)round, bytes, stream), 0);
            memset(model + to, (int)round, bytes);
            break;
        case 2: {
            const size_t words = bytes / 2, at = to / 2 * 2;
            CHECK_EQ(
                    cu.cuMemsetD16Async(p + at, (unsigned short)(0x100 + round), words, stream), 0);
            for (i = 0; i < words; i++) {
                model[at + 2 * i] = (unsigned char)round;
                model[at + 2 * i + 1] = 1;
            }
            break;
        }
        case 3: {
            copy_2d c;
            const size_t pitch = 700, width = 333, most = (all - to) / pitch;
            memset(&c, 0, sizeof c);
            c.from_type = on_host;
            c.from_host = model;
            c.from_pitch = width;
            c.to_type = on_a_device;
            c.to_device = p + to;
            c.to_pitch = pitch;
            c.width = width;
            c.height = most < 90 ? most : 90;
            CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
            memcpy(got, model, width * c.height);
            c.from_host = got;
            CHECK_EQ(cu.cuMemcpy2D_v2(&c), 0);
            CHECK_EQ(cu.cuStreamSynchronize(NULL), 0);
            for (i = 0; i < c.height; i++) memcpy(model + to + i * pitch, got + i * width, width);
            break;
        }
        default:
            CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
            CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p + from, bytes), 0);
            CHECK(memcmp(got, model + from, bytes) == 0);
            CHECK_EQ(cu.cuMemcpyHtoD_v2(p + to, got, bytes), 0);
            CHECK_EQ(cu.cuStreamSynchronize(NULL), 0);
            memcpy(model + to, got, bytes);
        }
    }
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p, all), 0);
    for (i = 0; i < all && got[i] == model[i]; i++) {}
    CHECK_EQ(i, all);
    /* one byte too many */
    CHECK_WRONG(cu.cuMemsetD8_v2(p + all - 100, 0, 101), 1);
    CHECK_WRONG(cu.cuMemcpyDtoD_v2(plain, p + all - 100, 101), 1);
    CHECK_WRONG(cu.cuMemcpyDtoH_v2(got, p + 1, all), 1);
    free(model);
    free(got);
    CHECK_EQ(cu.cuMemFree_v2(plain), 0);
    give_back(p, all, all);
    end();
}

static void allow_host_too(ptr p, size_t bytes) {
    rights access[2];
    access[0] = access[1] = for_device(0, READ_WRITE);
    access[1].location.type = ON_NUMA;
    CHECK_EQ(cu.cuMemSetAccess(p, bytes, access, 2), 0);
}
/* Where no context is current, an asynchronous copy must stay within a mapping; a fill need not. */
TEST(copies_without_a_context) {
    properties is;
    ptr p, q, plain = 0;
    unsigned long long handle = 0;
    void *pinned = NULL;
    const void *from;
    copy_2d box;
    int i, on_host;
    BEGIN();
    on_host = device_has(HOST_NUMA_MEMORY, 0);
    p = reserve(2 * unit);
    q = reserve(2 * unit);
    from = (const void *)(uintptr_t)(q + unit - 64);
    is = on_device(0);
    is.location.type = ON_NUMA;
    for (i = 0; i < 2; i++) {
        const ptr at = q + (ptr)i * unit;
        map_new(p + (ptr)i * unit, unit, 0);
        if (!on_host) continue;
        CHECK_EQ(cu.cuMemCreate(&handle, unit, &is, 0), 0);
        CHECK_EQ(cu.cuMemMap(at, unit, 0, handle, 0), 0);
        CHECK_EQ(cu.cuMemRelease(handle), 0);
        allow_host_too(at, unit);
    }
    CHECK_EQ(cu.cuMemAlloc_v2(&plain, 256), 0);
    CHECK_EQ(cu.cuMemHostAlloc(&pinned, 256, 0), 0);
    memset(&box, 0, sizeof box);
    box.from_type = box.to_type = 2; /* of a device */
    box.from_device = p + unit - 64;
    box.to_device = plain;
    box.from_pitch = box.to_pitch = box.width = 64;
    box.height = 2;
    for (i = 0; i < 2; i++) { /* without, and with one */
        const int result = i ? 0 : 1;
        CHECK_EQ(cu.cuCtxSetCurrent(i ? context : NULL), 0);
        CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(p + unit - 64, pinned, 128, stream), result);
        CHECK_EQ(cu.cuMemcpyDtoHAsync_v2(pinned, p + unit - 64, 128, stream), result);
        CHECK_EQ(cu.cuMemcpyDtoDAsync_v2(p + unit - 64, plain, 128, stream), result);
        CHECK_EQ(cu.cuMemcpyDtoDAsync_v2(plain, p + unit - 64, 128, stream), result);
        CHECK_EQ(cu.cuMemcpyAsync((ptr)(uintptr_t)pinned, p + unit - 64, 128, stream), result);
        /* of a GPU, only that of 3-D copies is known */
        if (i || on_cpu_device()) CHECK_EQ(cu.cuMemcpy2DAsync_v2(&box, stream), result);
        CHECK_EQ(cu.cuMemcpyDtoHAsync_v2(pinned, p + unit - 64, 64, stream), 0);
        CHECK_EQ(cu.cuMemcpyDtoDAsync_v2(p + unit, p, 64, stream), 0);
        CHECK_EQ(cu.cuMemsetD8Async(p + unit - 64, 3, 128, stream), 0);
        if (on_host) CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(plain, from, 128, stream), result);
        if (on_host) CHECK_EQ(cu.cuMemcpyHtoDAsync_v2(plain, from, 64, stream), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    }
    CHECK_EQ(cu.cuMemFreeHost(pinned), 0);
    CHECK_EQ(cu.cuMemFree_v2(plain), 0);
    give_back(p, 2 * unit, 2 * unit);
    if (on_host) give_back(q, 2 * unit, 2 * unit);
    else CHECK_EQ(cu.cuMemAddressFree(q, 2 * unit), 0);
    end();
}

/* A hole in the middle: work that touches it is refused. Access is given only before it, although
   the call succeeds; it fails if the hole is at an end of the range. cuMemUnmap passes over it. */
TEST(holes) {
    ptr p, q;
    unsigned char *got;
    unsigned long long value = 0;
    BEGIN();
    p = reserve(3 * unit);
    got = (unsigned char *)calloc(1, 3 * unit);
    map_new(p, unit, 0);
    map_new(p + 2 * unit, unit, 0);
    CHECK_EQ(cu.cuMemcpyHtoD_v2(p, got, unit), 0);
    CHECK_WRONG(cu.cuMemcpyHtoD_v2(p, got, unit + 1), 1);
    CHECK_WRONG(cu.cuMemcpyHtoD_v2(p, got, 3 * unit), 1);
    CHECK_WRONG(cu.cuMemsetD8_v2(p + unit, 0, 1), 1);
    CHECK_WRONG(cu.cuMemsetD8_v2(p + unit - 1, 0, unit + 2), 1);
    CHECK_WRONG(cu.cuMemRetainAllocationHandle(&value, (void *)(uintptr_t)(p + unit)), 1);
    CHECK_WRONG(cu.cuMemFree_v2(p), 1); /* not memory of cuMemAlloc */
    CHECK_WRONG(cu.cuMemAddressFree(p, 3 * unit), 1);
    give_device(p + unit, unit, 0, NOTHING, 1);
    CHECK_EQ(cu.cuMemUnmap(p + unit, unit), 0);
    give_back(p, 3 * unit, 3 * unit);
    free(got);
    q = reserve(3 * unit);
    value = create(unit, 0);
    CHECK_EQ(cu.cuMemMap(q, unit, 0, value, 0), 0);
    CHECK_EQ(cu.cuMemMap(q + 2 * unit, unit, 0, value, 0), 0);
    CHECK_EQ(cu.cuMemRelease(value), 0);
    give_device(q, 2 * unit, 0, READ_WRITE, 1);
    give_device(q + unit, 2 * unit, 0, READ_WRITE, 1);
    CHECK(allowed(q, 0) == NOTHING && allowed(q + 2 * unit, 0) == NOTHING);
    give_device(q, 3 * unit, 0, READ_WRITE, 0);
    CHECK(allowed(q, 0) == READ_WRITE && allowed(q + 2 * unit, 0) == NOTHING);
    give_back(q, 3 * unit, 3 * unit);
    end();
}

/* A ring: the same bytes twice, one behind the other. */
TEST(one_allocation_at_two_addresses) {
    ptr p;
    unsigned long long handle, same = 0;
    uint32_t words[4] = { 0, 0, 0, 0 };
    BEGIN();
    p = reserve(2 * unit);
    handle = create(unit, 0);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemMap(p + unit, unit, 0, handle, 0), 0);
    allow(p, 2 * unit, 0);
    CHECK_EQ(cu.cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)(p + unit + 5)), 0);
    CHECK_EQ(same, handle);
    CHECK_EQ(cu.cuMemRelease(same), 0);
    CHECK_EQ(cu.cuMemsetD32Async(p, 0, unit / 4, stream), 0);
    CHECK_EQ(cu.cuMemsetD32Async(p + unit - 8, 9, 4, stream), 0); /* wraps around */
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p, 8), 0);
    CHECK(words[0] == 9 && words[1] == 9);
    CHECK_EQ(launch_add(p + unit - 64, 32, 100), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + unit, 16), 0);
    CHECK(words[0] == 125 && words[1] == 126 && words[2] == 118 && words[3] == 119);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + 2 * unit - 8, 8), 0);
    CHECK(words[0] == 123 && words[1] == 124);
    /* after the first mapping, and the handle, the other one still has the bytes */
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    CHECK_EQ(cu.cuMemUnmap(p, unit), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + unit, 8), 0);
    CHECK_EQ(words[0], 125);
    /* its handle is still that one */
    CHECK_EQ(cu.cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)(p + unit)), 0);
    CHECK_EQ(same, handle);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, same, 0), 0);
    allow(p, unit, 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + 4, 4), 0);
    CHECK_EQ(words[0], 126);
    CHECK_EQ(cu.cuMemRelease(same), 0);
    give_back(p, 2 * unit, 2 * unit);
    end();
}

/* Only the whole of it, from its first byte on. */
TEST(an_allocation_is_mapped_as_a_whole) {
    ptr p;
    unsigned long long handle;
    BEGIN();
    p = reserve(4 * unit);
    handle = create(2 * unit, 0);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, handle, 0), 801);
    CHECK_EQ(cu.cuMemMap(p, unit, unit, handle, 0), 801);
    CHECK_EQ(cu.cuMemMap(p, 4 * unit, 0, handle, 0), 801);
    CHECK_EQ(cu.cuMemMap(p, 2 * unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemMap(p + unit, 2 * unit, 0, handle, 0), 1); /* mapped already */
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    CHECK_EQ(cu.cuMemAddressFree(p, 4 * unit), 1);
    give_back(p, 2 * unit, 4 * unit);
    end();
}

/* The same addresses with other bytes: each execution of a graph, as each kernel, uses what is
   mapped then. */
TEST(graphs_use_what_is_mapped) {
    ptr p;
    unsigned long long handle[2];
    void *graph = NULL, *exec = NULL;
    uint32_t got = 0, i;
    BEGIN();
    p = reserve(2 * unit);
    for (i = 0; i < 2; i++) {
        handle[i] = create(unit, 0);
        CHECK_EQ(cu.cuMemMap(p + i * unit, unit, 0, handle[i], 0), 0);
    }
    allow(p, 2 * unit, 0);
    fill(p, 0, unit / 2);
    CHECK_EQ(cu.cuStreamBeginCapture_v2(stream, 1), 0);
    CHECK_EQ(cu.cuMemsetD32Async(p + unit - 4, 40, 2, stream), 0);
    CHECK_EQ(launch_add(p + unit - 4, 2, 1), 0);
    CHECK_EQ(cu.cuMemcpyDtoDAsync_v2(p + unit + 4, p + unit - 4, 8, stream), 0);
    CHECK_EQ(cu.cuStreamEndCapture(stream, &graph), 0);
    CHECK_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    for (i = 0; i < 2; i++) {
        CHECK_EQ(cu.cuGraphLaunch(exec, stream), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(&got, p + unit + 8, 4), 0);
        CHECK_EQ(got, 42);
        /* the other way round */
        CHECK_EQ(cu.cuMemUnmap(p, 2 * unit), 0);
        CHECK_EQ(cu.cuMemMap(p, unit, 0, handle[!i], 0), 0);
        CHECK_EQ(cu.cuMemMap(p + unit, unit, 0, handle[i], 0), 0);
        allow(p, 2 * unit, 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(&got, p + 8, 4), 0);
        CHECK_EQ(got, 42);
    }
    CHECK_EQ(cu.cuGraphExecDestroy(exec), 0);
    CHECK_EQ(cu.cuGraphDestroy(graph), 0);
    CHECK_EQ(cu.cuMemRelease(handle[0]), 0);
    CHECK_EQ(cu.cuMemRelease(handle[1]), 0);
    give_back(p, 2 * unit, 2 * unit);
    end();
}

/* Other calls that use memory: words that a stream writes and waits for, copies between contexts, a
   batch. */
typedef struct how { /* CUmemcpyAttributes */
    unsigned order;
    gxi_location from, to;
    unsigned flags;
} how;
TEST(words_and_batches) {
    ptr p, to[2], from[2];
    size_t sizes[2], first = 0, bad = 0;
    uint32_t words[2] = { 0, 0 };
    how attributes;
    BEGIN();
    p = reserve(3 * unit);
    map_new(p, unit, 0);
    map_new(p + unit, 2 * unit, 0);
    fill(p, 1, 3 * unit / 4);
    if (cu.cuStreamWriteValue32_v2) {
        CHECK_EQ(cu.cuStreamWriteValue32_v2(stream, p + unit - 4, 5, 0), 0);
        CHECK_EQ(cu.cuStreamWaitValue32_v2(stream, p + unit - 4, 5, 1), 0);
        CHECK_EQ(cu.cuStreamWriteValue32_v2(stream, p + unit, 6, 0), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + unit - 4, 8), 0);
        CHECK(words[0] == 5 && words[1] == 6);
    }
    fill(p + unit - 4, 8, 2);
    CHECK_EQ(cu.cuMemcpyPeerAsync(p + 2 * unit - 4, context, p + unit - 4, context, 8, stream), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + 2 * unit - 4, 8), 0);
    CHECK(words[0] == 8 && words[1] == 8);
    if (cu.cuMemcpyBatchAsync) {
        memset(&attributes, 0, sizeof attributes);
        attributes.order = 1;
        to[0] = p;
        from[0] = p + unit - 8; /* 1, 8, 8, 1 */
        to[1] = p + 3 * unit - 64;
        from[1] = p + unit - 32;
        sizes[0] = 16;
        sizes[1] = 64;
        CHECK_EQ(
                cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, &bad, stream), 0);
        CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + 4, 8), 0);
        CHECK(words[0] == 8 && words[1] == 8);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(words, p + 3 * unit - 36, 8), 0);
        CHECK(words[0] == 8 && words[1] == 8);
        sizes[1] = 65;         /* one byte too many */
        if (on_cpu_device()) { /* a GPU's driver takes what it does not know for the host's */
            CHECK_EQ(
                    cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, &bad, stream),
                    1);
            CHECK_EQ(bad, 1);
        }
    }
    give_back(p, 3 * unit, 3 * unit);
    end();
}

#define QUERY(attribute, at, type, expected) \
    do { \
        type is_; \
        memset(&is_, 77, sizeof is_); \
        CHECK_EQ(cu.cuPointerGetAttribute(&is_, attribute, at), 0); \
        CHECK_EQ(is_, expected); \
    } while (0)
TEST(what_a_pointer_is) {
    ptr p, base = 0;
    size_t bytes = 0;
    unsigned long long first = 0, second = 0, handle;
    int list[3] = { RANGE_START, RANGE_SIZE, MAPPED }, mapped = 77;
    void *out[3];
    BEGIN();
    p = reserve(4 * unit);
    out[0] = &base;
    out[1] = &bytes;
    out[2] = &mapped;
    CHECK_EQ(cu.cuPointerGetAttributes(3, list, out, p + 100), 0);
    CHECK(base == p && bytes == 4 * unit && mapped == 0);
    CHECK_WRONG(cu.cuMemGetAddressRange_v2(&base, &bytes, p), 500);
    handle = create(unit, 0);
    CHECK_EQ(cu.cuMemMap(p + unit, unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuPointerGetAttributes(3, list, out, p + unit + 100), 0);
    CHECK(base == p && bytes == 4 * unit && mapped == 1);
    QUERY(ACCESS_FLAGS, p + unit, int, NOTHING);
    CHECK_EQ(cu.cuPointerGetAttribute(&mapped, MAPPED, p + 2 * unit), 1); /* only reserved */
    allow(p + unit, unit, 0);
    map_new(p + 2 * unit, 2 * unit, 0);
    if (on_cpu_device()) { /* of a GPU, the probe has them all */
        QUERY(CONTEXT, p + unit, uintptr_t, 0);
        QUERY(IPC_CAPABLE, p + unit, int, 0);
    }
    QUERY(MEMORY_TYPE, p + unit, unsigned, 2);
    QUERY(DEVICE_POINTER, p + unit + 7, ptr, p + unit + 7);
    QUERY(IS_MANAGED, p + unit, int, 0);
    QUERY(ORDINAL, p + unit, int, 0);
    QUERY(HANDLE_TYPES, p + unit, unsigned long long, 0);
    QUERY(ACCESS_FLAGS, p + unit, int, READ_WRITE);
    QUERY(POOL, p + unit, uintptr_t, 0);
    QUERY(RANGE_START, p + 3 * unit, ptr, p);
    QUERY(RANGE_SIZE, p + 3 * unit, size_t, 4 * unit);
    QUERY(MAPPING_START, p + 3 * unit, ptr, p + 2 * unit);
    QUERY(MAPPING_SIZE, p + 3 * unit, size_t, 2 * unit);
    CHECK_EQ(cu.cuMemGetAddressRange_v2(&base, &bytes, p + 3 * unit), 0);
    CHECK(base == p + 2 * unit && bytes == 2 * unit);
    CHECK_EQ(cu.cuPointerGetAttribute(&first, BLOCK_ID, p + unit), 0);
    CHECK_EQ(cu.cuPointerGetAttribute(&second, BLOCK_ID, p + 2 * unit), 0);
    CHECK(first != 0 && first != second);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuPointerGetAttribute(&second, BLOCK_ID, p), 0);
    CHECK_EQ(first, second);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    give_back(p, 4 * unit, 4 * unit);
    CHECK_WRONG(cu.cuPointerGetAttribute(&first, BLOCK_ID, p), 1);
    end();
}


TEST(access_is_given_and_taken) {
    ptr p, plain = 0;
    uint32_t word = 0;
    BEGIN();
    p = reserve(2 * unit);
    CHECK_EQ(cu.cuMemAlloc_v2(&plain, 64), 0);
    map_new(p, unit, 0);
    map_new(p + unit, unit, 0);
    CHECK_EQ(allowed(p, 0), READ_WRITE);
    fill(p, 3, unit / 2);
    give_device(p + unit, unit, 0, NOTHING, 0);
    CHECK_EQ(allowed(p, 0), READ_WRITE);
    CHECK_EQ(allowed(p + unit, 0), NOTHING);
    fill(p, 4, unit / 4);
    CHECK_WRONG(cu.cuMemsetD32_v2(p + unit, 4, 1), 1);
    CHECK_WRONG(cu.cuMemsetD32_v2(p, 4, unit / 4 + 1), 1);
    CHECK_WRONG(cu.cuMemcpyDtoH_v2(&word, p + unit, 4), 1);
    CHECK_WRONG(cu.cuMemcpyHtoD_v2(p + unit, &word, 4), 1);
    CHECK_WRONG(cu.cuMemcpyDtoDAsync_v2(plain, p + unit, 4, stream), 1);
    give_device(p, 2 * unit, 0, READ_WRITE, 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&word, p + unit, 4), 0);
    CHECK_EQ(word, 3);
    /* a new mapping has none */
    CHECK_EQ(cu.cuMemUnmap(p + unit, unit), 0);
    {
        const unsigned long long handle = create(unit, 0);
        CHECK_EQ(cu.cuMemMap(p + unit, unit, 0, handle, 0), 0);
        CHECK_EQ(cu.cuMemRelease(handle), 0);
    }
    CHECK_EQ(allowed(p + unit, 0), NOTHING);
    CHECK_WRONG(cu.cuMemsetD32_v2(p + unit, 4, 1), 1);
    CHECK_EQ(cu.cuMemFree_v2(plain), 0);
    give_back(p, 2 * unit, 2 * unit);
    end();
}

static int launch_read(ptr to, ptr from) {
    void *read_words = NULL, *params[2];
    params[0] = &to;
    params[1] = &from;
    CHECK_EQ(cu.cuModuleGetFunction(&read_words, module, "read"), 0);
    return cu.cuLaunchKernel(read_words, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}
/* Memory that a device may only read: kernels and copies read it, and nothing writes it. */
TEST(access_to_read) {
    ptr p, plain = 0;
    uint32_t words[32] = { 0 };
    int flags = 77;
    BEGIN();
    p = reserve(2 * unit);
    CHECK_EQ(cu.cuMemAlloc_v2(&plain, 128), 0);
    map_new(p, unit, 0);
    map_new(p + unit, unit, 0);
    fill(p, 3, unit / 2);
    give_device(p, unit, 0, READ_ONLY, 0);
    CHECK_EQ(allowed(p, 0), READ_ONLY);
    CHECK_EQ(allowed(p + unit, 0), READ_WRITE);
    CHECK_WRONG(cu.cuPointerGetAttribute(&flags, ACCESS_FLAGS, p), 0);
    CHECK(!on_cpu_device() || flags == READ_ONLY);
    CHECK_EQ(launch_read(plain, p), 0);
    CHECK_EQ(launch_read(plain, p), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(words, plain, 128), 0);
    CHECK(words[0] == 6 && words[31] == 6);
    CHECK_EQ(cu.cuMemsetD8_v2(p, 1, 1), 1);
    CHECK_WRONG(cu.cuMemcpyHtoD_v2(p, words, 4), 1);
    CHECK_WRONG(cu.cuMemcpyDtoDAsync_v2(p, plain, 4, stream), 1);
    CHECK_WRONG(cu.cuMemsetD8_v2(p + unit - 1, 1, 2), 1);
    CHECK_WRONG(cu.cuMemcpyDtoH_v2(words, p, 4), 0);
    CHECK_WRONG(cu.cuMemcpyDtoH_v2(words, p + unit - 4, 8), 0);
    CHECK(words[1] == (on_cpu_device() ? 3 : 6));
    give_device(p, unit, 0, READ_WRITE, 0);
    fill(p, 4, unit / 4);
    CHECK_EQ(cu.cuMemFree_v2(plain), 0);
    give_back(p, 2 * unit, 2 * unit);
    end();
}
/* Stores and atomics there are as those without access. */
static void begin_read_only(ptr *p) {
    *p = reserve(unit);
    map_new(*p, unit, 0);
    fill(*p, 0, unit / 4);
    CHECK_EQ(launch_add(*p, 256, 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    give_device(*p, unit, 0, READ_ONLY, 0);
}
TEST_ALONE(a_store_where_a_kernel_may_only_read) {
    ptr p;
    BEGIN();
    begin_read_only(&p);
    CHECK_EQ(launch_add(p, 256, 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
    /* what belongs to no context can be given back */
    CHECK_EQ(cu.cuMemUnmap(p, unit), 0);
    CHECK_EQ(cu.cuMemAddressFree(p, unit), 0);
}
/* The call succeeds, but the stream fails. */
TEST_ALONE(a_value_where_a_stream_may_only_read) {
    ptr p;
    BEGIN();
    if (!cu.cuStreamWriteValue32_v2) SKIP("the driver has no cuStreamWriteValue32_v2");
    begin_read_only(&p);
    CHECK_EQ(cu.cuStreamWriteValue32_v2(stream, p, 7, 0), 0);
    (void)cu.cuStreamWaitValue32_v2(stream, p, 0, 0); /* as measured; it may already fail */
    CHECK_EQ(cu.cuCtxSynchronize(), 719);
}
TEST_ALONE(an_atomic_where_a_kernel_may_only_read) {
    ptr p;
    void *count = NULL, *params[1];
    BEGIN();
    begin_read_only(&p);
    params[0] = &p;
    CHECK_EQ(cu.cuModuleGetFunction(&count, module, "count"), 0);
    CHECK_EQ(cu.cuLaunchKernel(count, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}

/* A kernel that touches what its device may not access is stopped, as by any wild address. */
TEST_ALONE(a_kernel_without_access) {
    ptr p;
    BEGIN();
    p = reserve(2 * unit);
    map_new(p, unit, 0);
    map_new(p + unit, unit, 0);
    fill(p, 0, unit / 2);
    CHECK_EQ(launch_add(p, (unsigned)(unit / 2), 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    give_device(p + unit, unit, 0, NOTHING, 0);
    CHECK_EQ(launch_add(p, (unsigned)(unit / 4), 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    CHECK_EQ(launch_add(p, (unsigned)(unit / 4 + 1), 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}
TEST_ALONE(a_kernel_where_nothing_is_mapped) {
    ptr p;
    BEGIN();
    p = reserve(2 * unit);
    map_new(p, unit, 0);
    CHECK_EQ(launch_add(p + unit - 4, 2, 0), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}
/* cuMemUnmap does not wait: a kernel that still uses the memory is stopped. */
TEST_ALONE(unmapped_under_a_kernel) {
    ptr p;
    void *params[2];
    ptr at;
    BEGIN();
    p = reserve(unit);
    map_new(p, unit, 0);
    at = (ptr)(uintptr_t)gate;
    params[0] = &at;
    params[1] = &p;
    *gate = 0;
    CHECK_EQ(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), 0);
    CHECK_EQ(cu.cuStreamQuery(stream), 600);
    CHECK_EQ(cu.cuMemUnmap(p, unit), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}
/* No block in the middle of its work loses bytes that it uses: it finds none at its next look. */
static void unmap_begun(void) {
    enum { PIECES = 8 };
    ptr p;
    void *other = NULL;
    uint32_t word = 0;
    int i, result;
    CHECK(begin());
    p = reserve(PIECES * unit);
    for (i = 0; i < PIECES; i++) map_new(p + (ptr)i * unit, unit, 0);
    fill(p, 0, PIECES * unit / 4);
    CHECK_EQ(cu.cuStreamCreate(&other, 1), 0);
    CHECK_EQ(launch_add(p, (unsigned)(PIECES * unit / 4), 1), 0);
    TEST_UNTIL(cu.cuMemcpyDtoHAsync_v2(&word, p, 4, other) || word);
    CHECK_EQ(word, 1); /* it has begun */
    CHECK_EQ(cu.cuMemUnmap(p, PIECES * unit), 0);
    result = cu.cuStreamSynchronize(stream);
    CHECK(result == 700 || result == 0); /* or it has ended */
}
TEST_ALONE(unmapped_under_many_blocks) {
    int i;
    if (!on_cpu_device()) SKIP("not known of a GPU");
    for (i = 0; i < 4; i++) CHECK(run_child(unmap_begun));
}
TEST_ALONE(unmapped_before_a_copy) {
    ptr p;
    void *params[2];
    ptr at;
    if (!on_cpu_device()) SKIP("not known of a GPU");
    BEGIN();
    p = reserve(2 * unit);
    map_new(p, unit, 0);
    map_new(p + unit, unit, 0);
    at = (ptr)(uintptr_t)gate;
    params[0] = &at;
    params[1] = &p;
    *gate = 0;
    CHECK_EQ(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), 0);
    CHECK_EQ(cu.cuMemsetD8Async(p, 1, 2 * unit, stream), 0);
    CHECK_EQ(cu.cuMemUnmap(p + unit, unit), 0);
    __atomic_store_n((uint32_t *)(uintptr_t)gate, 1, __ATOMIC_SEQ_CST);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 700);
}

/* The flow of NVIDIA's sample over two devices: memory of both under one range of addresses, which
   both access. */
TEST_MULTI(striped_over_two_devices) {
    enum { STRIPES = 4 };
    ptr p;
    size_t i, n;
    int device, devices = 0, peers = 0;
    void *contexts[2] = { NULL, NULL };
    uint32_t *got;
    rights access[2];
    BEGIN();
    CHECK_EQ(cu.cuDeviceGetCount(&devices), 0);
    if (devices > 1) CHECK_EQ(cu.cuDeviceCanAccessPeer(&peers, 0, 1), 0);
    if (!peers) {
        if (devices > 1) { /* no access, which then nothing gives */
            p = reserve(unit);
            map_new(p, unit, 0);
            access[0] = for_device(1, READ_WRITE);
            CHECK_WRONG(cu.cuMemSetAccess(p, unit, access, 1), 101);
            CHECK_EQ(allowed(p, 1), NOTHING);
            give_back(p, unit, unit);
        }
        end();
        SKIP("needs two devices that can access each other's memory");
    }
    p = reserve(STRIPES * unit);
    for (i = 0; i < STRIPES; i++) {
        const unsigned long long handle = create(unit, (int)(i % 2));
        CHECK_EQ(cu.cuMemMap(p + i * unit, unit, 0, handle, 0), 0);
        CHECK_EQ(cu.cuMemRelease(handle), 0);
    }
    access[0] = for_device(0, READ_WRITE);
    access[1] = for_device(1, READ_WRITE);
    CHECK_EQ(cu.cuMemSetAccess(p, STRIPES * unit, access, 2), 0);
    QUERY(ORDINAL, p, int, 0);
    QUERY(ORDINAL, p + unit, int, 1);
    n = STRIPES * unit / 4;
    fill(p, 0, n);
    contexts[0] = context;
    CHECK_EQ(cu.cuDevicePrimaryCtxRetain(&contexts[1], 1), 0);
    for (device = 0; device < 2; device++) { /* without peer access of the contexts */
        void *mod = NULL, *function = NULL, *params[3];
        unsigned count = (unsigned)n, k = 1000;
        params[0] = &p;
        params[1] = &count;
        params[2] = &k;
        CHECK_EQ(cu.cuCtxSetCurrent(contexts[device]), 0);
        CHECK_EQ(cu.cuModuleLoadData(&mod, text), 0);
        CHECK_EQ(cu.cuModuleGetFunction(&function, mod, "add_to"), 0);
        CHECK_EQ(cu.cuLaunchKernel(
                         function, (count + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL),
                0);
        CHECK_EQ(cu.cuCtxSynchronize(), 0);
        CHECK_EQ(cu.cuModuleUnload(mod), 0);
    }
    got = (uint32_t *)malloc(4 * n);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p, 4 * n), 0);
    for (i = 0; i < n && got[i] == 2 * (1000 + i); i++) {}
    CHECK_EQ(i, n);
    free(got);
    CHECK_EQ(cu.cuCtxSetCurrent(contexts[0]), 0);
    /* only one of them */
    give_device(p, STRIPES * unit, 0, NOTHING, 0);
    CHECK_EQ(allowed(p + unit, 1), READ_WRITE);
    CHECK_EQ(allowed(p + unit, 0), NOTHING);
    CHECK_EQ(cu.cuMemsetD32_v2(p + unit, 0, 1), 1);
    /* the stream's device makes the copies, except those between contexts */
    n = 0;
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&n, p, 4), 1);
    CHECK_EQ(cu.cuMemcpyHtoD_v2(p, &n, 4), 1);
    CHECK_EQ(cu.cuMemcpyDtoD_v2(p, p + 64, 4), 1);
    give_device(p, unit, 0, READ_WRITE, 0);
    CHECK_EQ(cu.cuMemcpyPeer(p, contexts[0], p + unit, contexts[1], 4), 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&n, p, 4), 0);
    CHECK_EQ(n, 2 * (1000 + unit / 4));
    CHECK_EQ(cu.cuDevicePrimaryCtxRelease_v2(1), 0);
    give_back(p, STRIPES * unit, STRIPES * unit);
    end();
}

/* It belongs to the process, not to a context. */
TEST(what_a_context_leaves) {
    ptr p;
    uint32_t word = 0;
    BEGIN();
    p = reserve(unit);
    map_new(p, unit, 0);
    fill(p, 11, 4);
    end();
    CHECK(begin());
    CHECK_EQ(allowed(p, 0), READ_WRITE);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&word, p, 4), 0);
    CHECK_EQ(word, 11);
    CHECK_EQ(cu.cuCtxSetCurrent(NULL), 0); /* none is needed */
    give_back(p, unit, unit);
    p = reserve(unit);
    map_new(p, unit, 0);
    give_back(p, unit, unit);
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    end();
}

/* The host accesses its memory at the same address, once it may. */
TEST(memory_of_the_host) {
    properties is;
    rights access[2];
    ptr p;
    unsigned long long handle = 0;
    size_t i;
    volatile uint32_t *words;
    BEGIN();
    if (!device_has(HOST_NUMA_MEMORY, 0)) {
        end();
        SKIP("no virtual memory of the host");
    }
    is = on_device(0);
    is.location.type = ON_NUMA;
    p = reserve(2 * unit);
    if (on_cpu_device()) CHECK_EQ(cu.cuMemCreate(&handle, ~(size_t)0 / unit * unit, &is, 0), 2);
    if (on_cpu_device()) CHECK_EQ(cu.cuMemCreate(&handle, (size_t)1 << 50, &is, 0), 2);
    CHECK_EQ(cu.cuMemCreate(&handle, 2 * unit, &is, 0), 0);
    CHECK_EQ(cu.cuMemMap(p, 2 * unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    access[0] = for_device(0, READ_WRITE);
    access[1] = access[0];
    access[1].location.type = ON_NUMA;
    CHECK_EQ(cu.cuMemSetAccess(p, 2 * unit, access, 2), 0);
    words = (volatile uint32_t *)(uintptr_t)p;
    for (i = 0; i < unit / 2; i++) words[i] = (uint32_t)i;
    CHECK_EQ(launch_add(p, (unsigned)(unit / 2), 1), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    for (i = 0; i < unit / 2 && words[i] == 2 * i + 1; i++) {}
    CHECK_EQ(i, unit / 2);
    fill(p, 8, 4);
    CHECK_EQ(words[3], 8);
    give_back(p, 2 * unit, 2 * unit);
    end();
}

/* --- between processes --- */

static int ends[2]; /* of a socket: [0] the exporter's, [1] the importer's */

static void send_file(int file) {
    char byte = 0, space[CMSG_SPACE(sizeof(int))];
    struct iovec part;
    struct msghdr message;
    struct cmsghdr *c;
    memset(&message, 0, sizeof message);
    memset(space, 0, sizeof space);
    part.iov_base = &byte;
    part.iov_len = 1;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &file, sizeof file);
    CHECK_EQ(sendmsg(ends[0], &message, 0), 1);
}
static int receive_file(void) { /* -1: none */
    char byte = 0, space[CMSG_SPACE(sizeof(int))];
    struct iovec part;
    struct msghdr message;
    struct cmsghdr *c;
    int file = -1;
    memset(&message, 0, sizeof message);
    part.iov_base = &byte;
    part.iov_len = 1;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    if (recvmsg(ends[1], &message, 0) == 1 && (c = CMSG_FIRSTHDR(&message)) != NULL)
        memcpy(&file, CMSG_DATA(c), sizeof file);
    return file;
}
static void say(int end) { CHECK_EQ(write(ends[end], "", 1), 1); }
static int heard(int end) { /* 0: the other process has ended */
    char byte;
    return read(ends[end], &byte, 1) == 1;
}

static unsigned long long create_shared(void) {
    properties is = on_device(0);
    unsigned long long handle = 0;
    is.handle_types = POSIX_FILE;
    CHECK_EQ(cu.cuMemCreate(&handle, unit, &is, 0), 0);
    return handle;
}

/* Exports two pieces, and ends while the other process still uses them. */
static void export_two(void) {
    ptr p;
    uint32_t word = 0;
    int i, file = -1;
    close(ends[1]);
    if (!begin() || !device_has(FILES, 0)) return;
    p = reserve(2 * unit);
    for (i = 0; i < 2; i++) {
        const unsigned long long handle = create_shared();
        CHECK_EQ(cu.cuMemMap(p + (ptr)i * unit, unit, 0, handle, 0), 0);
        allow(p + (ptr)i * unit, unit, 0);
        CHECK_EQ(cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 0), 0);
        CHECK_EQ(cu.cuMemRelease(handle), 0);
        send_file(file);
        close(file);
    }
    fill(p, 50, unit / 2);
    say(0);
    CHECK(heard(0)); /* the other one has added to each word */
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&word, p + unit, 4), 0);
    CHECK_EQ(word, 50 + 7 + unit / 4);
    give_back(p, 2 * unit, 2 * unit);
}
TEST_ALONE(shared_by_descriptors) {
    pid_t child;
    ptr p;
    uint32_t word = 0;
    unsigned long long handle = 0;
    int i, file;
    properties is;
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    child = begin_child(export_two);
    close(ends[0]);
    if (!begin() || !device_has(FILES, 0)) {
        CHECK(end_child(child));
        SKIP("no virtual memory, or none that can be shared");
    }
    p = reserve(2 * unit);
    for (i = 0; i < 2; i++) {
        file = receive_file();
        CHECK(file >= 0);
        CHECK_EQ(cu.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, POSIX_FILE), 0);
        close(file);
        CHECK_EQ(cu.cuMemGetAllocationPropertiesFromHandle(&is, handle), 0);
        CHECK(is.type == PINNED && is.location.type == ON_DEVICE && is.location.id == 0 &&
                is.handle_types == 0);
        CHECK_EQ(cu.cuMemMap(p + (ptr)i * unit, unit, 0, handle, 0), 0);
        CHECK_EQ(cu.cuMemRelease(handle), 0);
    }
    allow(p, 2 * unit, 0);
    CHECK(heard(1));
    CHECK_EQ(launch_add(p, (unsigned)(unit / 2), 7), 0);
    CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
    say(1);
    CHECK(end_child(child));
    /* it has ended, and the memory is still here */
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&word, p + 4, 4), 0);
    CHECK_EQ(word, 50 + 7 + 1);
    fill(p, 0, unit / 2);
    give_back(p, 2 * unit, 2 * unit);
    close(ends[1]);
    end();
}

/* A process that numbers the devices differently, and one that does not see this one. */
static void export_of_second(void) {
    unsigned long long handle;
    int file = -1;
    ptr p;
    close(ends[1]);
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    if (!begin() || !device_has(FILES, 0)) return;
    handle = create_shared();
    p = reserve(unit);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, handle, 0), 0);
    allow(p, unit, 0);
    fill(p, 33, unit / 4);
    CHECK_EQ(cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 0), 0);
    send_file(file);
    send_file(file);
    CHECK(heard(0));
}
static void import_of_unseen(void) {
    const int file = receive_file();
    unsigned long long handle = 0;
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    CHECK(begin());
    CHECK(file >= 0);
    CHECK(cu.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, POSIX_FILE) != 0);
}
TEST_ALONE_MULTI(devices_in_another_order) {
    pid_t child;
    ptr p;
    uint32_t word = 0;
    unsigned long long handle = 0;
    int file, device;
    properties is;
    const char *count = getenv("SIMGPU_DEVICES");
    if (!on_cpu_device() || !count || atoi(count) < 2)
        SKIP("needs SIMGPU_DEVICES=2: a GPU's driver may not import what it does not see");
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    child = begin_child(export_of_second);
    CHECK(run_child(import_of_unseen));
    CHECK(begin());
    file = receive_file();
    close(ends[0]);
    CHECK_EQ(cu.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file, POSIX_FILE), 0);
    close(file);
    CHECK_EQ(cu.cuMemGetAllocationPropertiesFromHandle(&is, handle), 0);
    device = is.location.id;
    CHECK_EQ(device, 1);
    p = reserve(unit);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    allow(p, unit, 0);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&word, p, 4), 0);
    CHECK_EQ(word, 33);
    say(1);
    CHECK(end_child(child));
    give_back(p, unit, unit);
    close(ends[1]);
    end();
}

/* In one process: each import is a handle that is released once. */
TEST(imported_by_its_exporter) {
    ptr p;
    unsigned long long handle, again = 0, third = 0;
    uint32_t word = 0;
    int file = -1;
    BEGIN();
    if (!device_has(FILES, 0)) {
        end();
        SKIP("no virtual memory that can be shared");
    }
    p = reserve(2 * unit);
    handle = create_shared();
    CHECK_EQ(cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 0), 0);
    CHECK_EQ(cu.cuMemMap(p, unit, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    CHECK_EQ(cu.cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file, POSIX_FILE), 0);
    CHECK_EQ(cu.cuMemImportFromShareableHandle(&third, (void *)(intptr_t)file, POSIX_FILE), 0);
    close(file);
    CHECK_EQ(cu.cuMemRelease(third), 0);
    CHECK_EQ(cu.cuMemMap(p + unit, unit, 0, again, 0), 0);
    CHECK_EQ(cu.cuMemRelease(again), 0);
    allow(p, 2 * unit, 0);
    fill(p, 0, unit / 4);
    fill(p + unit + 8, 44, 1);
    CHECK_EQ(cu.cuMemcpyDtoH_v2(&word, p + 8, 4), 0);
    CHECK_EQ(word, 44);
    QUERY(HANDLE_TYPES, p, unsigned long long, POSIX_FILE);
    give_back(p, 2 * unit, 2 * unit);
    end();
}

/* Importing any other file, or one of a wrong size, fails and does not change the file. */
TEST(descriptors_that_are_not_of_memory) {
    struct {
        unsigned long long magic, bytes, number;
        properties is;
    } about;
    unsigned long long handle, other = 0;
    int file = -1, forged, k;
    char name[32];
    if (!on_cpu_device()) SKIP("a GPU's files are opaque");
    BEGIN();
#define IMPORT(n) cu.cuMemImportFromShareableHandle(&other, (void *)(intptr_t)(n), POSIX_FILE)
    CHECK_EQ(IMPORT(-1), 999);
    CHECK_EQ(IMPORT(100000), 999);
    CHECK_EQ(IMPORT(fileno(stderr)), 999);
    handle = create_shared();
    CHECK_EQ(cu.cuMemExportToShareableHandle(&file, handle, POSIX_FILE, 0), 0);
    CHECK_EQ(pread(file, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
    CHECK_EQ(ftruncate(file, 0), -1); /* sealed */
    CHECK_EQ(ftruncate(file, (off_t)(4 * unit)), -1);
    for (k = 0; k < 6; k++) { /* a copy of it that is wrong in one thing */
        snprintf(name, sizeof name, "/tmp/vmm-XXXXXX");
        forged = mkstemp(name);
        CHECK(forged >= 0);
        unlink(name);
        about.magic ^= k == 1;
        about.bytes += k == 2 ? unit : 0;
        about.number += k == 3 ? 77 : 0;
        CHECK_EQ(ftruncate(forged, (off_t)(unit + (k == 4 ? 0 : 4096))), 0);
        if (k < 5)
            CHECK_EQ(pwrite(forged, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
        CHECK_EQ(IMPORT(forged), 999); /* it could become shorter */
        close(forged);
        about.magic ^= k == 1;
        about.bytes -= k == 2 ? unit : 0;
        about.number -= k == 3 ? 77 : 0;
    }
    /* the page behind the bytes says it all */
    about.number = 77;
    CHECK_EQ(pwrite(file, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    CHECK_EQ(IMPORT(file), 101);
    about.number = 0;
    about.bytes = unit / 2;
    CHECK_EQ(pwrite(file, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
    CHECK_EQ(IMPORT(file), 999);
    about.bytes = 2 * unit;
    CHECK_EQ(pwrite(file, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
    CHECK_EQ(IMPORT(file), 999);
    about.bytes = unit;
    about.magic++;
    CHECK_EQ(pwrite(file, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
    CHECK_EQ(IMPORT(file), 999);
    about.magic--;
    CHECK_EQ(pwrite(file, &about, sizeof about, (off_t)unit), (ssize_t)sizeof about);
    CHECK_EQ(IMPORT(file), 0);
    CHECK_EQ(cu.cuMemRelease(other), 0);
    close(file);
    end();
}

/* Many steps on one range, each compared with the host's model: which piece is where, and what is
   in it. */
TEST(random_mappings) {
    enum { PIECES = 4, PLACES = 6, STEPS = 300, WORDS_EACH = 8 };
    unsigned long long piece[PIECES];
    uint32_t model[PIECES][WORDS_EACH], got[WORDS_EACH];
    int at[PLACES], may[PLACES], i, step; /* the piece there, or -1 */
    uint32_t seed = 7;
    ptr p;
    BEGIN();
    p = reserve(PLACES * unit);
    for (i = 0; i < PIECES; i++) {
        piece[i] = create(unit, 0);
        memset(model[i], 0, sizeof model[i]);
    }
    for (i = 0; i < PLACES; i++) at[i] = -1, may[i] = 0;
    for (i = 0; i < PIECES; i++) { /* each begins as zeros */
        CHECK_EQ(cu.cuMemMap(p, unit, 0, piece[i], 0), 0);
        allow(p, unit, 0);
        fill(p, 0, unit / 4);
        CHECK_EQ(cu.cuMemUnmap(p, unit), 0);
    }
    for (step = 0; step < STEPS; step++) {
        int place, which, n, word, kind, mapped, ok;
        seed = seed * 1664525u + 1013904223u;
        place = (int)(seed >> 8) % PLACES;
        which = (int)(seed >> 12) % PIECES;
        word = (int)(seed >> 16) % WORDS_EACH;
        n = 1 + (int)(seed >> 20) % (PLACES - place);
        kind = (int)(seed >> 24) % 5;
        for (mapped = 0; mapped < n && at[place + mapped] >= 0; mapped++) {} /* up to a hole */
        ok = kind == 0      ? at[place] < 0
                : kind == 1 ? 1 /* also where nothing is mapped */
                : kind == 2 ? at[place] >= 0 && at[place + n - 1] >= 0
                            : at[place] >= 0 && may[place];
        /* as CHECK_WRONG; of access with holes, not enough is known of a GPU */
        if ((!ok || (kind == 2 && mapped < n)) && !on_cpu_device()) continue;
        switch (kind) {
        case 0:
            CHECK_EQ(cu.cuMemMap(p + (ptr)place * unit, unit, 0, piece[which], 0), ok ? 0 : 1);
            if (ok) at[place] = which, may[place] = 0;
            break;
        case 1:
            if (n > 2 && ok) break; /* else little stays mapped */
            CHECK_EQ(cu.cuMemUnmap(p + (ptr)place * unit, (size_t)n * unit), ok ? 0 : 1);
            for (i = 0; ok && i < n; i++) at[place + i] = -1;
            break;
        case 2: {
            const rights access = for_device(0, step % 4 ? READ_WRITE : NOTHING);
            CHECK_EQ(cu.cuMemSetAccess(p + (ptr)place * unit, (size_t)n * unit, &access, 1),
                    ok ? 0 : 1);
            for (i = 0; ok && i < mapped; i++) may[place + i] = access.flags != NOTHING;
            break;
        }
        case 3:
            CHECK_EQ(cu.cuMemsetD32Async(p + (ptr)place * unit + 4 * (ptr)word, seed, 1, stream),
                    ok ? 0 : 1);
            CHECK_EQ(cu.cuStreamSynchronize(stream), 0);
            if (ok) model[at[place]][word] = seed;
            break;
        default:
            CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p + (ptr)place * unit, sizeof got), ok ? 0 : 1);
            if (ok) CHECK(memcmp(got, model[at[place]], sizeof got) == 0);
        }
    }
    for (i = 0; i < PLACES; i++)
        if (at[i] >= 0) CHECK_EQ(cu.cuMemUnmap(p + (ptr)i * unit, unit), 0);
    for (i = 0; i < PIECES; i++) CHECK_EQ(cu.cuMemRelease(piece[i]), 0);
    CHECK_EQ(cu.cuMemAddressFree(p, PLACES * unit), 0);
    end();
}

/* Two threads, each with its addresses and stream, while kernels of both run. */
enum { ROUNDS = 30 };
static void *map_and_work(void *shared) {
    const unsigned long long handle = *(const unsigned long long *)shared;
    void *own = NULL, *params[3];
    unsigned n = 256, k = 0;
    uint32_t got[2];
    ptr p;
    int i;
    CHECK_EQ(cu.cuCtxSetCurrent(context), 0);
    CHECK_EQ(cu.cuStreamCreate(&own, 1), 0);
    p = reserve(3 * unit);
    params[0] = &p;
    params[1] = &n;
    params[2] = &k;
    for (i = 0; i < ROUNDS; i++) {
        map_new(p, unit, 0);
        CHECK_EQ(cu.cuMemMap(p + unit, unit, 0, handle, 0), 0); /* only mapped */
        map_new(p + 2 * unit, unit, 0);
        CHECK_EQ(cu.cuMemsetD32Async(p, 100, n, own), 0);
        CHECK_EQ(cu.cuLaunchKernel(add_to, 2, 1, 1, 128, 1, 1, 0, own, params, NULL), 0);
        CHECK_EQ(cu.cuMemcpyDtoDAsync_v2(p + 2 * unit, p, 4 * n, own), 0);
        CHECK_EQ(cu.cuStreamSynchronize(own), 0);
        CHECK_EQ(cu.cuMemcpyDtoH_v2(got, p + 2 * unit + 4 * (n - 2), 8), 0);
        CHECK(got[0] == 100 + n - 2 && got[1] == 100 + n - 1);
        CHECK_EQ(cu.cuMemUnmap(p, 3 * unit), 0);
    }
    CHECK_EQ(cu.cuMemAddressFree(p, 3 * unit), 0);
    CHECK_EQ(cu.cuStreamDestroy_v2(own), 0);
    return NULL;
}
TEST(two_threads_map_and_unmap) {
    pthread_t thread;
    unsigned long long shared;
    BEGIN();
    shared = create(unit, 0);
    CHECK_EQ(pthread_create(&thread, NULL, map_and_work, &shared), 0);
    map_and_work(&shared);
    pthread_join(thread, NULL);
    CHECK_EQ(cu.cuMemRelease(shared), 0);
    if (!test_strict()) CHECK_WRONG(cu.cuMemRelease(shared), 1);
    end();
}

/* All of a device's memory; then none is left, also for others. */
TEST_ALONE(more_than_there_is) {
    const properties is = on_device(0);
    size_t available, n;
    unsigned long long handle = 0, all[64];
    ptr p = 0;
    if (!on_cpu_device()) SKIP("other programs use a GPU's memory, too");
    BEGIN();
    available = free_bytes() / unit * unit;
    CHECK_EQ(cu.cuMemCreate(&handle, available + unit, &is, 0), 2);
    CHECK_EQ(cu.cuMemCreate(&handle, (size_t)1 << 46, &is, 0), 2);
    for (n = 0; n < 64 && cu.cuMemCreate(&all[n], available / 16 / unit * unit, &is, 0) == 0; n++) {
    }
    CHECK(n >= 16);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, available / 8), 2);
    CHECK_EQ(cu.cuMemRelease(all[0]), 0);
    CHECK_EQ(cu.cuMemRelease(all[1]), 0);
    CHECK_EQ(cu.cuMemAlloc_v2(&p, available / 8 / unit * unit - unit), 0);
    CHECK_EQ(cu.cuMemFree_v2(p), 0);
    while (n-- > 2) CHECK_EQ(cu.cuMemRelease(all[n]), 0);
    CHECK_EQ(free_bytes() / unit * unit, available);
    end();
}
