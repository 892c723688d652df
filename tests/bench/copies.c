/* copies.c - 1,000 copies in one call: gpuexec_copy_many against single calls, gpuexec's and the
   driver's, and against the driver's batches; and what gpuexec_pointer_get_info takes with many
   allocations. All times include the wait until the copies have finished. */
#include "bench.h"

enum { ROUNDS = 10, BURSTS = 4, COPIES = 1000, LARGEST = 65536, ALLOCATIONS = 100000 };
enum { IN, OUT, WITHIN };

static gpuexec_context context;
static gpuexec_stream stream;
static gxi_driver cu; /* the driver's entry points */
static struct CUstream_st *queue;
static gpuexec_ptr device, other;
static char *host;
static gpuexec_copy_part parts[COPIES];
static gpuexec_ptr to[COPIES], from[COPIES];
static size_t sizes[COPIES];
static int direction;

static void set_copies(int which, size_t bytes) {
    size_t i;
    memset(parts, 0, sizeof parts);
    direction = which;
    for (i = 0; i < COPIES; i++) {
        const size_t at = i * bytes * 2, back = (COPIES - 1 - i) * bytes * 2;
        if (which == OUT) parts[i].to_host = host + at;
        else parts[i].to = device + at;
        if (which == IN) parts[i].from_host = host + back;
        else parts[i].from = other + back;
        to[i] = which == OUT ? (uintptr_t)host + at : device + at;
        from[i] = which == IN ? (uintptr_t)host + back : other + back;
        sizes[i] = parts[i].bytes = bytes;
    }
}
static double settle(double begin, int bad, const char *what) {
    if (!bad) bad = cu.cuStreamSynchronize(queue);
    if (!bad) return microseconds() - begin;
    fprintf(stderr, "%s failed: %s\n", what, gpuexec_error_text());
    exit(1);
}
static double raw_single(int calls) {
    const double begin = microseconds();
    int i, k, bad = 0;
    for (k = 0; k < calls; k++)
        for (i = 0; i < COPIES; i++)
            bad |= direction == IN
                    ? cu.cuMemcpyHtoDAsync(to[i], parts[i].from_host, sizes[i], queue)
                    : direction == OUT
                    ? cu.cuMemcpyDtoHAsync(parts[i].to_host, from[i], sizes[i], queue)
                    : cu.cuMemcpyDtoDAsync(to[i], from[i], sizes[i], queue);
    return settle(begin, bad, "a copy of the driver");
}
static double our_single(int calls) {
    const double begin = microseconds();
    int i, k, bad = 0;
    for (k = 0; k < calls; k++)
        for (i = 0; i < COPIES; i++)
            bad |= (int)(direction == IN
                            ? gpuexec_copy_in(stream, to[i], parts[i].from_host, sizes[i])
                            : direction == OUT
                            ? gpuexec_copy_out(stream, parts[i].to_host, from[i], sizes[i])
                            : gpuexec_copy(stream, to[i], from[i], sizes[i]));
    return settle(begin, bad, "a copy of gpuexec");
}
static double raw_batch(int calls) {
    const double begin = microseconds();
    gxi_batch_attributes attributes = { GXI_MEMCPY_SRC_ACCESS_ORDER_STREAM, { 0, 0 }, { 0, 0 }, 0 };
    size_t first = 0, failed = 0;
    int k, bad = 0;
    for (k = 0; k < calls; k++)
        bad |= cu.cuMemcpyBatchAsync(
                to, from, sizes, COPIES, &attributes, &first, 1, &failed, queue);
    return settle(begin, bad, "the driver's batch");
}
static double our_many(int calls) {
    const double begin = microseconds();
    int k, bad = 0;
    for (k = 0; k < calls; k++) bad |= (int)gpuexec_copy_many(stream, parts, COPIES);
    return settle(begin, bad, "gpuexec_copy_many");
}
/* The batch is the last way: a driver that lacks it has one way less. */
static void row(const char *what, int which, size_t bytes) {
    static const burst_function ways[] = { raw_single, our_single, our_many, raw_batch };
    const unsigned count = cu.cuMemcpyBatchAsync ? 4 : 3;
    set_copies(which, bytes);
    contest(ways, count, smoke() ? 2 : ROUNDS, smoke() ? 1 : BURSTS, 1);
    printf("| %s, %lu B | %.3f | %.3f | %.3f | %.3f | %.3f |\n", what, (unsigned long)bytes,
            contest_time(0) / COPIES, contest_time(1) / COPIES,
            count == 4 ? contest_time(3) / COPIES : 0.0, contest_time(2) / COPIES,
            contest_ratio(2, 0));
    fflush(stdout);
}

/* nanoseconds of a query, in a random order, which the caches cannot predict */
static void pointer_info(void) {
    const size_t count = smoke() ? 1000 : ALLOCATIONS, rounds = smoke() ? 1 : 10,
                 queries = count * rounds;
    gpuexec_ptr *at = (gpuexec_ptr *)malloc(count * sizeof *at);
    gpuexec_pointer_info info;
    uint64_t random = 1;
    size_t i, k, sum = 0;
    double begin, same, all;
    unsigned round;
    if (!at) exit(1);
    for (i = 0; i < count; i++) {
        at[i] = gpuexec_alloc_on(stream, 256);
        if (!at[i]) check(gpuexec_take_error());
    }
    check(gpuexec_stream_sync(stream));
    for (i = count; i > 1; i--) {
        const gpuexec_ptr last = at[i - 1];
        random = random * 6364136223846793005u + 1442695040888963407u;
        k = (size_t)(random >> 33) % i;
        at[i - 1] = at[k];
        at[k] = last;
    }
    same = all = 1e9;
    for (round = 0; round < 5; round++) {
        begin = microseconds();
        for (k = 0; k < rounds; k++) {
            for (i = 0; i < count; i++) {
                gpuexec_pointer_get_info(at[i] + 100, &info);
                sum += info.bytes;
            }
        }
        all = microseconds() - begin < all ? microseconds() - begin : all;
        begin = microseconds();
        for (i = 0; i < queries; i++) {
            gpuexec_pointer_get_info(at[count / 2] + 100, &info);
            sum += info.bytes;
        }
        same = microseconds() - begin < same ? microseconds() - begin : same;
    }
    if (sum != 2 * 5 * 256 * queries || !info.ours) exit(1);
    printf("\n%lu allocations: gpuexec_pointer_get_info takes %.1f ns of one address, %.1f ns of "
           "random ones\n",
            (unsigned long)count, same * 1e3 / (double)queries, all * 1e3 / (double)queries);
    free(at);
}

int main(void) {
    static const size_t sizes_shown[] = { 4, 512, 4096, LARGEST };
    static const char *const names[] = { "host to device", "device to host", "device to device" };
    const size_t bytes = (size_t)COPIES * LARGEST * 2;
    double begin;
    unsigned i, k;
    context = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(context, NULL);
    queue = gpuexec_stream_native(stream);
    device = gpuexec_alloc(context, bytes);
    other = gpuexec_alloc(context, bytes);
    host = (char *)gpuexec_alloc_pinned(context, bytes);
    check(gpuexec_context_push(context)); /* the driver's batches need it */
    check(gpuexec_take_error());
    cu = gxi.cu;
    memset(host, 1, bytes);
    set_copies(WITHIN, 4);
    begin = microseconds();
    check(gpuexec_copy_many(stream, parts, COPIES));
    check(gpuexec_stream_sync(stream));
    printf("\n## Arrays of copies\n\n"
           "The first gpuexec_copy_many between device addresses, which loads its kernel: %.0f "
           "us.\n\n"
           "microseconds of one of 1,000 copies from and to pinned memory, with the wait; "
           "interleaved\n\n"
           "| copies | the driver's single calls | gpuexec's single calls | the driver's batch | "
           "gpuexec_copy_many | its ratio to the first |\n|---|---|---|---|---|---|\n",
            microseconds() - begin);
    for (i = 0; i < 3; i++)
        for (k = 0; k < 4; k++) row(names[i], (int)i, sizes_shown[k]);
    pointer_info();
    return gpuexec_shutdown() != GPUEXEC_OK;
}
