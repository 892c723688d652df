/*  cc examples/multi_device_exchange.c -o multi_device_exchange && ./multi_device_exchange [words
    for each device]

    Two exchanges between all devices of the same type. First a ring of copies: in each step, each
    device passes on what it received last to the next one, until all have everything. Such copies
    work between any devices. Then all-to-all, by kernels of one launch that write into each other's
    memory (without peer access, into host memory): each device has a part for each one. After the
    barrier they send back what they received. The program compares all words.

    Prints, on four CPU devices:
        ring: 4 x 65536 words, steps: 3
        all-to-all and back: 4 x 4 parts of 16384 words, in device memory
        all words are right
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "devices.h"

/* the same as in kernels/exchange.cu */
typedef struct all_to_all_data {
    gpuexec_ptr barrier, parts, received[MOST], back[MOST];
    unsigned long long n;
} all_to_all_data;

static gpuexec_context ctx[MOST];
static gpuexec_stream stream[MOST];

/* Word i of what device `rank` has. */
static unsigned word(int rank, size_t i) {
    return (unsigned)i * 2654435761u + (unsigned)rank * 40503u;
}

/* How many of the n words are not those of device `rank` from number `first` on. */
static size_t differ(const unsigned *words, size_t n, int rank, size_t first) {
    size_t i, wrong = 0;
    for (i = 0; i < n; i++) wrong += words[i] != word(rank, first + i);
    return wrong;
}
/* Copies words from device i, after all earlier work on its stream. */
static void fetch(int i, unsigned *to, gpuexec_ptr from, size_t bytes) {
    gpuexec_copy_out(stream[i], to, from, bytes);
    if (gpuexec_stream_sync(stream[i]) == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* all[i]: on device i, `bytes` for each device. At first only those of device i are there. */
static void ring(int count, gpuexec_ptr *all, size_t bytes) {
    int step, i;
    for (step = 0; step < count - 1; step++) {
        for (i = 0; i < count; i++) /* a copy begins when the one has ended that brought its data */
            gpuexec_stream_wait_stream(stream[(i + 1) % count], stream[i]);
        for (i = 0; i < count; i++) {
            const size_t part = (size_t)((i - step + count) % count) * bytes;
            gpuexec_copy(
                    stream[(i + 1) % count], all[(i + 1) % count] + part, all[i] + part, bytes);
        }
    }
}

int main(int argc, char **argv) {
    static gpuexec_device_launch launch[MOST];
    static all_to_all_data data[MOST];
    static const void *argument[MOST];
    static const unsigned short size = sizeof(all_to_all_data);
    const int count = identical_devices(MOST);
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 65536,
                 part = count ? n / (size_t)count : 0;
    const size_t bytes = n * sizeof(unsigned);
    unsigned *own = (unsigned *)malloc(bytes),
             *got = (unsigned *)malloc(bytes * (size_t)(count + !count));
    gpuexec_ptr all[MOST], received[MOST], back[MOST];
    gpuexec_multi_desc desc = { 0 };
    size_t wrong = 0;
    int i, k, direct;
    if (count == 0 || part == 0 || !own || !got) {
        fputs(count ? "use at least one word for each device\n" : gpuexec_error_text(), stderr);
        return 1;
    }
    for (i = 0; i < count; i++) {
        size_t w;
        ctx[i] = gpuexec_context_open(i, NULL);
        stream[i] = gpuexec_stream_create(ctx[i], NULL);
        all[i] = gpuexec_alloc(ctx[i], bytes * (size_t)count);
        for (w = 0; w < n; w++) own[w] = word(i, w);
        gpuexec_copy_in_now(ctx[i], all[i] + (size_t)i * bytes, own, bytes);
        launch[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(ctx[i], example_ptx("exchange.ptx"), NULL), "all_to_all");
    }
    /* creating the barrier also enables peer access, if the devices support it: copies are then
       direct, too */
    desc.barrier = gpuexec_barrier_create(ctx, (unsigned)count, NULL);
    direct = gpuexec_barrier_is_direct(desc.barrier);
    for (i = 0; i < count; i++) {
        received[i] = shared_memory(ctx[i], direct, bytes);
        back[i] = shared_memory(ctx[i], direct, bytes);
    }

    ring(count, all, bytes);
    for (i = 0; i < count; i++) {
        fetch(i, got, all[i], bytes * (size_t)count);
        for (k = 0; k < count; k++) wrong += differ(got + (size_t)k * n, n, k, 0);
    }
    printf("ring: %d x %lu words, steps: %d\n", count, (unsigned long)n, count - 1);

    for (i = 0; i < count; i++) {
        data[i].barrier = gpuexec_barrier_address(desc.barrier, (unsigned)i);
        data[i].parts = all[i] + (size_t)i * bytes;
        memcpy(data[i].received, received, sizeof received);
        memcpy(data[i].back, back, sizeof back);
        data[i].n = part;
        argument[i] = &data[i];
        launch[i].stream = stream[i];
        launch[i].dims = gpuexec_grid(8, 256, 0);
        launch[i].args.addresses = &argument[i], launch[i].args.sizes = &size,
        launch[i].args.count = 1;
    }
    gpuexec_launch_multi_device(launch, (unsigned)count, &desc);
    for (i = 0; i < count; i++) {
        fetch(i, got, received[i], bytes);
        for (k = 0; k < count; k++)
            wrong += differ(got + (size_t)k * part, part, k, (size_t)i * part);
        fetch(i, got, back[i], bytes);
        wrong += differ(got, part * (size_t)count, i, 0);
    }
    printf("all-to-all and back: %d x %d parts of %lu words, in %s memory\n", count, count,
            (unsigned long)part, direct ? "device" : "host");
    gpuexec_shutdown();
    if (wrong) printf("wrong words: %lu\n", (unsigned long)wrong);
    else printf("all words are right\n");
    return wrong > 0;
}
