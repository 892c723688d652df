/*  cc examples/l2_window.c -o l2_window && ./l2_window

    A kernel works on a small array again and again, while other work reads and writes much more
    memory than the L2 cache holds, so that the small array is no longer there. A window over the
    array makes the cache keep it. Measures the kernel without a window and with one.

    Prints, on the CPU device:
        device 0 sets no part of an L2 cache aside: its windows change nothing
        hot data: 64 KiB, other data between its uses: 4 MiB
        without a window   0.297 ms
        with a window      0.281 ms
        all results are correct
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

/* CUdevice_attribute */
enum { L2_BYTES = 38, MAX_PERSISTING_L2 = 108, MAX_WINDOW = 109 };
enum { ROUNDS = 20, THREADS = 256 };

static gpuexec_context ctx;
static gpuexec_kernel saxpy;

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}
static size_t attribute(int which) {
    int value = 0;
    must(gpuexec_device_get_attribute(0, which, &value));
    return value > 0 ? (size_t)value : 0;
}

/* The milliseconds of all launches on the hot data: y = x + y, for its two halves. */
static double measure(gpuexec_ptr hot, size_t bytes, gpuexec_ptr other, size_t other_bytes,
        const gpuexec_launch_desc *desc) {
    const gpuexec_stream s = gpuexec_context_stream(ctx);
    const float a = 1;
    const int n = (int)(bytes / 2 / sizeof a);
    const gpuexec_ptr y = hot + bytes / 2;
    gpuexec_event start[ROUNDS], stop[ROUNDS];
    double ms = 0;
    int i;
    for (i = 0; i < ROUNDS; i++) {
        gpuexec_fill(s, other, (unsigned)i, 1, other_bytes);
        start[i] = gpuexec_stream_record(s, NULL);
        gpuexec_launch_with(
                saxpy, s, gpuexec_grid_for((size_t)n, THREADS), desc, GPUEXEC_ARGS(a, hot, y, n));
        stop[i] = gpuexec_stream_record(s, NULL);
    }
    must(gpuexec_stream_sync(s));
    for (i = 0; i < ROUNDS; i++) {
        ms += gpuexec_event_elapsed_ms(start[i], stop[i]);
        gpuexec_event_destroy(start[i]);
        gpuexec_event_destroy(stop[i]);
    }
    return ms;
}

int main(void) {
    gpuexec_launch_desc desc = { 0 };
    size_t bytes, other_bytes, kept, largest, i, wrong = 0;
    gpuexec_ptr hot, other;
    float *numbers;
    ctx = gpuexec_context_open(0, NULL);
    saxpy = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL), "saxpy");
    must(gpuexec_take_error());
    kept = attribute(MAX_PERSISTING_L2), largest = attribute(MAX_WINDOW);
    if (!largest) printf("device 0 has no windows\n");
    else if (kept) must(gpuexec_context_set_limit(ctx, GPUEXEC_LIMIT_PERSISTING_L2, kept));
    else printf("device 0 sets no part of an L2 cache aside: its windows change nothing\n");
    bytes = kept ? kept / 2 : 64 << 10; /* all of it stays in the cache */
    if (largest && bytes > largest) bytes = largest;
    bytes = bytes / 16 * 16;
    other_bytes = 4 * attribute(L2_BYTES);
    if (other_bytes < (size_t)4 << 20) other_bytes = (size_t)4 << 20;
    hot = gpuexec_alloc(ctx, bytes), other = gpuexec_alloc(ctx, other_bytes);
    numbers = (float *)malloc(bytes);
    if (!numbers) return 1;
    for (i = 0; i < bytes / sizeof *numbers; i++) numbers[i] = 1;
    must(gpuexec_copy_in_now(ctx, hot, numbers, bytes));
    printf("hot data: %lu KiB, other data between its uses: %lu MiB\n", (unsigned long)bytes >> 10,
            (unsigned long)other_bytes >> 20);

    measure(hot, bytes, other, other_bytes, NULL); /* first launches can take longer */
    printf("without a window %7.3f ms\n", measure(hot, bytes, other, other_bytes, NULL));
    if (largest) {
        desc.window.address = hot;
        desc.window.bytes = bytes;
        desc.window.hit_ratio = 1;
        desc.window.hit = GPUEXEC_ACCESS_PERSISTING;
        desc.window.miss = GPUEXEC_ACCESS_STREAMING;
    }
    printf("with a window    %7.3f ms\n", measure(hot, bytes, other, other_bytes, &desc));

    must(gpuexec_copy_out_now(ctx, numbers, hot, bytes));
    for (i = 0; i < bytes / sizeof *numbers; i++)
        wrong += numbers[i] != (i < bytes / sizeof *numbers / 2 ? 1.0f : 1.0f + 3 * ROUNDS);
    if (wrong) printf("%lu results are wrong\n", (unsigned long)wrong);
    else printf("all results are correct\n");
    free(numbers);
    gpuexec_shutdown();
    return wrong > 0;
}
