/*  cc examples/pools.c -o pools && ./pools

    Allocates the temporary memory of each frame again, in the order of the stream, from two pools:
    one that keeps what was freed, as gpuexec's own pool does, and one that returns it to the system
    at each wait, as CUDA's default pool does. Both give the same results. Draws the times of the
    frames to pools.svg in the current directory.

    Prints, on the CPU device (which returns memory quickly; on a GPU, it takes milliseconds):
        200 frames, each with 8 allocations of 64 KiB
        a pool that keeps its memory   0.92 ms a frame, reserves at most 32768 KiB, at the end 32768
                                       KiB
        one that returns it            0.98 ms a frame, reserves at most 32768 KiB, at the end 0 KiB
        all results are correct; wrote pools.svg
*/
#include "example.h"
#include "picture.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { frames = 200, buffers = 8 };
static gpuexec_stream stream;
static gpuexec_kernel saxpy;

/* y = 1 + 2 + ... + buffers: each buffer has its number in each of its `count` elements. Returns
   the last element. */
static float frame(gpuexec_pool pool, int count) {
    const size_t bytes = (size_t)count * sizeof(float);
    gpuexec_ptr y = gpuexec_pool_alloc(pool, stream, bytes);
    float one = 1.0f, result = 0.0f;
    int i;
    gpuexec_fill(stream, y, 0, 1, bytes);
    for (i = 1; i < buffers; i++) {
        const float number = (float)i;
        gpuexec_ptr x = gpuexec_pool_alloc(pool, stream, bytes);
        unsigned bits;
        memcpy(&bits, &number, sizeof bits);
        gpuexec_fill(stream, x, bits, 4, (size_t)count);
        gpuexec_launch(saxpy, stream, gpuexec_grid_for((size_t)count, 256),
                GPUEXEC_ARGS(one, x, y, count));
        gpuexec_free_on(stream, x); /* after the kernel, in the order of the stream */
    }
    gpuexec_copy_out(stream, &result, y + bytes - sizeof result, sizeof result);
    gpuexec_free_on(stream, y);
    /* a wait: the pool may return its memory here */
    if (gpuexec_stream_sync(stream) == GPUEXEC_OK) return result;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

static int by_size(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

int main(void) {
    static const char *const names[] = { "a pool that keeps its memory", "one that returns it" };
    static float times[2][frames], sorted[frames];
    const float *const curves[] = { times[0], times[1] };
    gpuexec_pool_desc desc = { 0 };
    gpuexec_device_info device;
    gpuexec_pool_info info;
    gpuexec_pool pools[2];
    int i, k, count, wrong = 0;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, example_ptx("saxpy.ptx"), NULL);
    saxpy = gpuexec_kernel_get(mod, "saxpy");
    stream = gpuexec_stream_create(ctx, NULL);
    pools[0] = gpuexec_pool_create(ctx, NULL);
    desc.release = 1; /* above release_threshold, which is 0 */
    pools[1] = gpuexec_pool_create(ctx, &desc);
    if (!gpuexec_ok(pools[1]) || gpuexec_device_get_info(0, &device) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    count = strstr(device.name, "CPU") ? 1 << 14 : 1 << 23; /* 32 MiB on a GPU */
    printf("%d frames, each with %d allocations of %d KiB\n", frames, buffers, count / 256);
    for (i = -3; i < frames; i++)
        for (k = 0; k < 2; k++) { /* the first three are not counted */
            const double begin = example_milliseconds();
            wrong += frame(pools[k], count) != (float)(buffers * (buffers - 1) / 2);
            if (i >= 0) times[k][i] = (float)(example_milliseconds() - begin);
        }
    for (k = 0; k < 2; k++) {
        gpuexec_pool_get_info(pools[k], &info);
        memcpy(sorted, times[k], sizeof sorted);
        qsort(sorted, frames, sizeof *sorted, by_size);
        printf("%-28s  %5.2f ms a frame, reserves at most %lu KiB, at the end %lu KiB\n", names[k],
                (double)sorted[frames / 2], (unsigned long)info.reserved_high / 1024,
                (unsigned long)info.reserved / 1024);
    }
    gpuexec_shutdown();
    if (wrong) {
        printf("%d frames have wrong results\n", wrong);
        return 1;
    }
    if (!picture_curves("pools.svg", "An allocation in each frame", "frames", "milliseconds",
                curves, names, 2, frames, 1))
        return 1;
    printf("all results are correct; wrote pools.svg\n");
    return 0;
}
