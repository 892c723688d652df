/* vmm_raw.c - virtual memory through the driver's own calls: reserved addresses, allocations
   without an address, and what is mapped where. What the calls refuse is also in
   tests/device/probe. The suite keeps the CPU device faithful. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#endif
#include "../../test.h"
#include <sched.h>
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
        "    setp.eq.u32 %q, %v, 0; @%q bra AGAIN; ret;\n}\n";

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
#define BEGIN() \
    if (!begin()) SKIP("no virtual memory")

static ptr reserve(size_t bytes) {
    ptr p = 0;
    CHECK_EQ(cu.cuMemAddressReserve(&p, bytes, 0, 0, 0), 0);
    return p;
}
static uint64_t create(size_t bytes, int device) {
    const properties is = on_device(device);
    uint64_t handle = 0;
    CHECK_EQ(cu.cuMemCreate(&handle, bytes, &is, 0), 0);
    return handle;
}
static void allow(ptr p, size_t bytes, int device) {
    const rights access = for_device(device, READ_WRITE);
    CHECK_EQ(cu.cuMemSetAccess(p, bytes, &access, 1), 0);
}
/* a new allocation there, which ends with its mapping */
static void map_new(ptr p, size_t bytes, int device) {
    const uint64_t handle = create(bytes, device);
    CHECK_EQ(cu.cuMemMap(p, bytes, 0, handle, 0), 0);
    CHECK_EQ(cu.cuMemRelease(handle), 0);
    allow(p, bytes, 0);
}
static void give_back(ptr p, size_t mapped, size_t bytes) {
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
    CHECK_EQ(cu.cuMemsetD32_v2(p, 1000, 3 * unit / 4), 0);
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
    uint64_t handle;
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
