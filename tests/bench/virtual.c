/* virtual.c - the cost of memory that grows, for the calling thread: gpuexec_virtual_grow, and the
   driver's own calls: cuMemCreate, cuMemMap, cuMemSetAccess. A burst grows by pieces of one
   granularity, and of 64 MiB; giving the memory back is not timed, except in the last table. */
#include "peer.h"

enum { ROUNDS = 10, BURSTS = 6, PIECES = 16 };
static unsigned rounds = ROUNDS, bursts = BURSTS;
static int missed;
static size_t piece;
static gpuexec_virtual range;
static gpuexec_ptr address;
static gxi_driver cu; /* the driver's entry points */
static gxi_memory_properties properties;
static gxi_access access_of_device;
static unsigned long long handles[PIECES];

static void must(int ok) {
    if (ok) return;
    fprintf(stderr, "a call failed: %s\n", gpuexec_error_text());
    exit(1);
}
static int raw_grow(int i) {
    return cu.cuMemCreate(&handles[i], piece, &properties, 0) |
            cu.cuMemMap(address + (size_t)i * piece, piece, 0, handles[i], 0) |
            cu.cuMemSetAccess(address + (size_t)i * piece, piece, &access_of_device, 1);
}
static int raw_shrink(int count) {
    int bad = cu.cuCtxSynchronize();
    while (count--)
        bad |= cu.cuMemUnmap(address + (size_t)count * piece, piece) |
                cu.cuMemRelease(handles[count]);
    return bad;
}
static double raw_growth(int count) {
    double begin = microseconds(), end;
    int i, bad = 0;
    for (i = 0; i < count; i++) bad |= raw_grow(i);
    end = microseconds();
    must(!bad && !raw_shrink(count));
    return end - begin;
}
static double our_growth(int count) {
    double begin = microseconds(), end;
    int i, bad = 0;
    for (i = 0; i < count; i++) bad |= (int)gpuexec_virtual_grow(range, (size_t)(i + 1) * piece);
    end = microseconds();
    must(!bad && gpuexec_virtual_shrink(range, 0) == GPUEXEC_OK);
    return end - begin;
}
static double raw_both(int count) {
    const double begin = microseconds();
    int i, bad = 0;
    for (i = 0; i < count; i++) bad |= raw_grow(i);
    must(!bad && !raw_shrink(count));
    return microseconds() - begin;
}
static double our_both(int count) {
    const double begin = microseconds();
    int i, bad = 0;
    for (i = 0; i < count; i++) bad |= (int)gpuexec_virtual_grow(range, (size_t)(i + 1) * piece);
    must(!bad && gpuexec_virtual_shrink(range, 0) == GPUEXEC_OK);
    return microseconds() - begin;
}
static void table(const char *title, burst_function raw, burst_function ours, double most) {
    const burst_function functions[] = { raw, ours };
    double ratio;
    contest(functions, 2, rounds, bursts, smoke() ? 2 : PIECES);
    ratio = contest_ratio(1, 0);
    printf("\n| %s | us | ratio |\n|---|---|---|\n", title);
    printf("| the driver's calls | %.3f | 1.000 |\n", contest_time(0));
    printf("| gpuexec | %.3f | %.3f (at most %.2f) |\n", contest_time(1), ratio, most);
    fflush(stdout);
    missed += ratio > most;
}

int main(void) {
    gpuexec_virtual_desc desc = { 0 };
    gpuexec_virtual_info info;
    gpuexec_context context = gpuexec_context_open(0, NULL);
    check(gpuexec_context_push(context));
    desc.max_bytes = (size_t)PIECES * (64 << 20);
    range = gpuexec_virtual_create(context, &desc);
    check(gpuexec_virtual_get_info(range, &info));
    cu = gxi.cu;
    properties.type = GXI_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = GXI_MEM_LOCATION_TYPE_DEVICE;
    access_of_device.location = properties.location; /* device 0 */
    access_of_device.flags = GXI_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(!cu.cuMemAddressReserve(&address, desc.max_bytes, 0, 0, 0));
    if (smoke()) rounds = bursts = 2;
    printf("\n## Memory that grows\n\nmicroseconds of the calling thread for each growth; %u "
           "rounds "
           "of %u bursts of %d growths, interleaved\n",
            rounds, bursts, smoke() ? 2 : PIECES);
    piece = info.granularity;
    table("by one granularity", raw_growth, our_growth, 1.05);
    piece = smoke() ? info.granularity : (size_t)64 << 20;
    table("by 64 MiB", raw_growth, our_growth, 1.05);
    piece = info.granularity;
    table("by one granularity, and all given back", raw_both, our_both, 1.10);
    must(!cu.cuMemAddressFree(address, desc.max_bytes));
    check(gpuexec_context_pop(context));
    if (missed && !smoke()) printf("\n%d ratios are above their bounds\n", missed);
    return gpuexec_shutdown() != GPUEXEC_OK || (missed && !smoke());
}
