/*  cc examples/multi_device_reduce.c -o multi_device_reduce && ./multi_device_reduce [most bytes]

    A sum over all devices of the same type that each device gets (all-reduce), for 4 bytes to 256
    MiB of floats on each device, or until a size takes longer than 0.1 s. The kernels of one launch
    read each other's memory and write their sums into it (without peer access, all of this is in
    host memory), between two barriers. The time is that of one of several reductions in a launch.
    The last column is what each device sends, and also receives, over its links. The program
    compares all sums on all devices with the CPU's.

    Prints, on two CPU devices:
        sums over 2 devices, in device memory
             bytes          us     GB/s   sent, GB/s
                 4       75.66     0.00          0.00
        ...
        all sums are right
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "devices.h"

enum { THREADS = 512 };
/* the same as in kernels/exchange.cu */
typedef struct all_reduce_data {
    gpuexec_ptr barrier, in[MOST], out[MOST];
    unsigned long long n;
    int rounds;
} all_reduce_data;

static int count, direct;
static gpuexec_context ctx[MOST];
static gpuexec_stream stream[MOST];
static gpuexec_event t0, t1;
static all_reduce_data data[MOST];
static gpuexec_device_launch launch[MOST];
static gpuexec_multi_desc desc;

/* Number i of a device: small integers, so that the order of the additions does not matter. */
static float number(int rank, size_t i) { return (float)((i * 7 + (size_t)rank * 13) % 1001); }

static void failed(void) {
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* The milliseconds of one launch with so many rounds. */
static double milliseconds(int rounds) {
    int i;
    for (i = 0; i < count; i++) data[i].rounds = rounds;
    gpuexec_event_record(t0, stream[0]);
    gpuexec_launch_multi_device(launch, (unsigned)count, &desc);
    gpuexec_event_record(t1, stream[0]); /* after the kernels of all devices */
    if (gpuexec_stream_sync(stream[0]) != GPUEXEC_OK) failed();
    return (double)gpuexec_event_elapsed_ms(t0, t1);
}

/* Sums n floats over all devices; prints the time. Returns how many sums on a device are wrong. */
static size_t reduce(size_t n, float *numbers, float *sums, double *ms) {
    const size_t bytes = n * sizeof(float), slice = n / 4 / (size_t)count / THREADS + 1;
    const int most = gpuexec_kernel_cooperative_blocks(launch[0].kernel, THREADS, 0);
    int i, rounds;
    size_t k, wrong = 0;
    double gbps;
    memset(sums, 0xff, bytes); /* no number */
    for (i = 0; i < count; i++) gpuexec_copy_in_now(ctx[i], data[0].out[i], sums, bytes);
    memset(sums, 0, bytes);
    for (i = 0; i < count; i++) {
        for (k = 0; k < n; k++) sums[k] += numbers[k] = number(i, k);
        gpuexec_copy_in(stream[i], data[0].in[i], numbers, bytes);
        if (gpuexec_stream_sync(stream[i]) != GPUEXEC_OK) failed();
        launch[i].dims = gpuexec_grid(
                slice < (size_t)most ? (unsigned)slice : (unsigned)most, THREADS, 0);
        data[i].n = n;
    }
    *ms = milliseconds(1); /* also warms up */
    rounds = *ms < 0.5 ? 100 : *ms < 50 ? 10 : 1;
    *ms = milliseconds(rounds) / rounds;
    gbps = (double)bytes / *ms * 1e-6;
    printf("%12lu %11.2f %8.2f %13.2f\n", (unsigned long)bytes, *ms * 1e3, gbps,
            gbps * 2 * (count - 1) / count);
    for (i = 0; i < count; i++) {
        gpuexec_copy_out(stream[i], numbers, data[0].out[i], bytes);
        if (gpuexec_stream_sync(stream[i]) != GPUEXEC_OK) failed();
        wrong += memcmp(numbers, sums, bytes) != 0;
    }
    return wrong;
}

int main(int argc, char **argv) {
    static const void *argument[MOST];
    static const unsigned short size = sizeof(all_reduce_data);
    size_t most = argc > 1 ? strtoul(argv[1], NULL, 0) : (size_t)256 << 20, bytes, wrong = 0;
    float *numbers = (float *)malloc(most), *sums = (float *)malloc(most);
    double ms = 0;
    int i;
    count = identical_devices(MOST);
    if (count == 0) failed();
    if (most < 4 || !numbers || !sums) return 1;
    for (i = 0; i < count; i++) {
        ctx[i] = gpuexec_context_open(i, NULL);
        stream[i] = gpuexec_stream_create(ctx[i], NULL);
        launch[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(ctx[i], example_ptx("exchange.ptx"), NULL), "all_reduce");
        launch[i].stream = stream[i];
    }
    t0 = gpuexec_event_create(ctx[0], NULL), t1 = gpuexec_event_create(ctx[0], NULL);
    /* also enables peer access */
    desc.barrier = gpuexec_barrier_create(ctx, (unsigned)count, NULL);
    direct = gpuexec_barrier_is_direct(desc.barrier);
    for (i = 0; i < count; i++) {
        data[0].in[i] = shared_memory(ctx[i], direct, most);
        data[0].out[i] = shared_memory(ctx[i], direct, most);
    }
    for (i = 0; i < count; i++) {
        data[i] = data[0];
        data[i].barrier = gpuexec_barrier_address(desc.barrier, (unsigned)i);
        argument[i] = &data[i];
        launch[i].args.addresses = &argument[i], launch[i].args.sizes = &size,
        launch[i].args.count = 1;
    }
    printf("sums over %d device%s, in %s memory\n       bytes          us     GB/s   sent, GB/s\n",
            count, count > 1 ? "s" : "", direct ? "device" : "host");
    for (bytes = 4; bytes <= most && ms < 100 && !wrong; bytes *= 4)
        wrong = reduce(bytes / 4, numbers, sums, &ms);
    gpuexec_shutdown();
    if (wrong) printf("the sums on %lu devices are wrong\n", (unsigned long)wrong);
    else printf("all sums are right\n");
    return wrong > 0;
}
