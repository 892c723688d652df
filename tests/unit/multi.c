/* multi.c - one launch over several devices: both ways of launching, every rule broken once, the barrier, and what becomes of the others
   when one device fails. TEST_ROUNDS=n in the environment repeats each planted fault so often. */
#include "../test.h"

enum { MOST = 8, BLOCKS = 4, THREADS = 64, TRAP = 1, LEAVE = 2, COOPERATIVE_MULTI_DEVICE = 96 };

typedef struct party {                               /* everything that one launch over all devices needs */
    unsigned        n;
    gpuexec_context context[MOST];
    gpuexec_kernel  kernel[MOST];
    gpuexec_stream  stream[MOST];
    gpuexec_ptr     places[MOST], counts[MOST];      /* ring places; wrong and done */
    gpuexec_barrier barrier;
    int             rounds, fault[MOST], fault_round;
    gpuexec_dims    dims[MOST];
} party;

static unsigned devices_here(void) {
    int n = gpuexec_device_count();
    return n < 0 ? 0 : n > MOST ? (unsigned)MOST : (unsigned)n;
}

/* On the first n devices. 0 if it could not be made, which is a failure. */
static int gather(party *p, unsigned n, const gpuexec_barrier_desc *desc) {
    unsigned i;
    memset(p, 0, sizeof *p);
    p->n = n;
    p->rounds = 5;
    for (i = 0; i < n; i++) {
        p->context[i] = gpuexec_context_open((int)i, NULL);
        p->kernel[i] = gpuexec_kernel_get(gpuexec_module_load_file(p->context[i], "kernels/ring_exchange.ptx", NULL), "ring_exchange");
        p->stream[i] = gpuexec_stream_create(p->context[i], NULL);
        p->places[i] = gpuexec_alloc(p->context[i], BLOCKS * sizeof(uint32_t));
        p->counts[i] = gpuexec_alloc(p->context[i], 2 * sizeof(uint32_t));
        gpuexec_fill_now(p->context[i], p->counts[i], 0, 2 * sizeof(uint32_t));
        p->dims[i] = gpuexec_grid(BLOCKS, THREADS, 0);
    }
    p->barrier = gpuexec_barrier_create(p->context, n, desc);
    return CHECK_MADE(p->barrier) && CHECK_OK(gpuexec_take_error());
}

/* The arguments of each device's launch live here. */
typedef struct arguments { gpuexec_ptr barrier, mine, next, wrong, done; int rounds, fault, fault_round; const void *list[8]; } arguments;

static void list_of(party *p, gpuexec_device_launch *list, arguments *a) {
    unsigned i;
    for (i = 0; i < p->n; i++) {
        const void *const in_order[8] = { &a[i].barrier, &a[i].mine, &a[i].next, &a[i].rounds, &a[i].fault, &a[i].fault_round, &a[i].wrong, &a[i].done };
        a[i].barrier = gpuexec_barrier_address(p->barrier, i);
        a[i].mine = p->places[i];
        /* without peer access a device can only write to itself */
        a[i].next = p->places[gpuexec_barrier_is_direct(p->barrier) ? (i + 1) % p->n : i];
        a[i].wrong = p->counts[i];
        a[i].done = p->counts[i] + 4;
        a[i].rounds = p->rounds;
        a[i].fault = p->fault[i];
        a[i].fault_round = p->fault_round;
        memcpy(a[i].list, in_order, sizeof in_order);
        memset(&list[i], 0, sizeof list[i]);
        list[i].kernel = p->kernel[i];
        list[i].stream = p->stream[i];
        list[i].dims = p->dims[i];
        list[i].args.addresses = a[i].list;
        list[i].args.count = 8;
    }
}
static gpuexec_result launch(party *p, const gpuexec_multi_desc *desc) {
    gpuexec_device_launch list[MOST];
    arguments a[MOST];
    list_of(p, list, a);
    return gpuexec_launch_multi_device(list, p->n, desc);
}
static uint32_t counted(party *p, unsigned i, unsigned k) {
    uint32_t value = 77;
    CHECK_OK(gpuexec_copy_out_now(p->context[i], &value, p->counts[i] + 4 * k, sizeof value));
    return value;
}
static void all_done(party *p, uint32_t launches) {
    unsigned i;
    for (i = 0; i < p->n; i++) CHECK_OK(gpuexec_stream_sync(p->stream[i]));
    for (i = 0; i < p->n; i++) {
        CHECK_EQ(counted(p, i, 0), 0);
        CHECK_EQ(counted(p, i, 1), launches * BLOCKS);
    }
}

#define NEEDS(devices) if (devices_here() < (devices)) SKIP("needs " #devices " devices")

/* --- it works ------------------------------------------------------------------------------------------------------ */

static void works(unsigned n, gpuexec_multi_way way, int host_memory) {
    gpuexec_barrier_desc barrier = { 0, 0, 0, 0 };
    gpuexec_multi_desc desc = { 0, GPUEXEC_MULTI_FASTEST, 0, 0, { 0 }, NULL, 0 };
    party p;
    int flags;
    barrier.host_memory = host_memory;
    if (!gather(&p, n, &barrier)) return;
    desc.way = way;
    desc.barrier = p.barrier;
    p.rounds = 20;
    if (host_memory) CHECK_EQ(gpuexec_barrier_is_direct(p.barrier), 0);
    for (flags = 0; flags < 4; flags++) {
        desc.no_pre_sync = flags & 1;
        desc.no_post_sync = flags >> 1;
        CHECK_OK(launch(&p, &desc));
    }
    all_done(&p, 4);
    CHECK_OK(gpuexec_barrier_check(p.barrier));
    CHECK_OK(gpuexec_barrier_destroy(p.barrier));
}
TEST(one_device)        { works(1, GPUEXEC_MULTI_FASTEST, 0); }
TEST(per_device)        { NEEDS(2); works(devices_here(), GPUEXEC_MULTI_PER_DEVICE, 0); }
TEST(two_devices)       { NEEDS(2); works(2, GPUEXEC_MULTI_FASTEST, 0); }
TEST(through_host)      { NEEDS(2); works(devices_here(), GPUEXEC_MULTI_FASTEST, 1); }
TEST(by_the_driver)     {
    int can = 0;
    NEEDS(2);
    CHECK_OK(gpuexec_device_get_attribute(0, COOPERATIVE_MULTI_DEVICE, &can));
    if (!can) SKIP("the device does not take the driver's multi-device launch");
    works(devices_here(), GPUEXEC_MULTI_DRIVER, 0);
}
