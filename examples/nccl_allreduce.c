/*  cc examples/nccl_allreduce.c -o nccl_allreduce && ./nccl_allreduce [libnccl.so.2 [largest number
    of bytes]]

    Adds arrays of all devices with NCCL's all-reduce, on gpuexec's streams and in gpuexec's memory:
    every device gets the sum, for sizes from 4 bytes to 256 MiB. Checks each sum, and prints the
    time and two bandwidths: bytes per time, and that times 2 (n - 1) / n, which for any n compares
    with the bandwidth of the links.
    NCCL and gpuexec_context_open use the same (primary) context of a device, so that one's pointers
    and streams are valid for the other. NCCL is found at run time: named by the argument, on the
    loader's path, or in the wheel that PyTorch brings. Without NCCL, or on the CPU device, which
    NCCL does not run on, the program says so and exits with
    77. It compiles without anything of NCCL or CUDA.

    Prints, on two GPUs (... is what differs between machines):
        .../nvidia/nccl/lib/libnccl.so.2: NCCL 2.28.9 on 2 devices
               bytes       us     GB/s  of the links
                   4      ...
           268435456      ...
        all sums are correct
*/
#include "example.h"
#include "nccl.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { MOST = 32, PERIOD = 1021 };
static int count;
static void *comm[MOST];
static gpuexec_stream stream[MOST];
static gpuexec_ptr from[MOST], to[MOST];

static void must(gpuexec_result r) {
    if (r == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}
static void nccl_must(const char *call, int result) {
    if (result == 0) return;
    fprintf(stderr, "%s: %s; NCCL_DEBUG=WARN in the environment prints more\n", call,
            nccl.GetErrorString(result));
    exit(1);
}
static void sync_all(void) {
    int i;
    for (i = 0; i < count; i++) must(gpuexec_stream_sync(stream[i]));
}

/* One thread enqueues the operation for all devices, so it needs a group. */
static void all_reduce(size_t n) {
    int i;
    nccl_must("ncclGroupStart", nccl.GroupStart());
    for (i = 0; i < count; i++)
        nccl_must("ncclAllReduce",
                nccl.AllReduce((const void *)(uintptr_t)from[i], (void *)(uintptr_t)to[i], n,
                        NCCL_FLOAT, NCCL_SUM, comm[i], gpuexec_stream_native(stream[i])));
    nccl_must("ncclGroupEnd", nccl.GroupEnd());
}

int main(int argc, char **argv) {
    const size_t largest = (argc > 2 ? strtoul(argv[2], NULL, 10) : (size_t)256 << 20) /
            sizeof(float);
    static float sums[PERIOD];
    float *host;
    size_t n, k, wrong = 0;
    int i, version = 0, devices[MOST];
    count = gpuexec_device_count();
    if (count == 0) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    if (!strstr(gpuexec_driver_path(), "libcuda.so")) {
        printf("NCCL uses the CUDA runtime, which runs only on NVIDIA's driver, libcuda.so.1; this "
               "is %s\n",
                gpuexec_driver_path());
        return 77;
    }
    if (!nccl_find(argc > 1 ? argv[1] : NULL)) {
        printf("%s\nno NCCL. To get it: `pip install nvidia-nccl-cu13` (PyTorch includes it), or "
               "NVIDIA's package libnccl2;\nif it is elsewhere: %s /path/of/libnccl.so.2\n",
                dlerror(), argv[0]);
        return 77;
    }
    count = count < MOST ? count : MOST;
    nccl_must("ncclGetVersion", nccl.GetVersion(&version));
    printf("NCCL %d.%d.%d on %d device%s\n", version / 10000, version % 10000 / 100, version % 100,
            count, count > 1 ? "s" : "");

    /* element k of device i is (k + i) % PERIOD: all sums are small integers, so every order of
       additions is exact */
    host = (float *)malloc((largest + MOST) * sizeof *host);
    if (!host || largest == 0) {
        fputs("no memory for the arrays\n", stderr);
        return 1;
    }
    for (k = 0; k < largest + MOST; k++) host[k] = (float)(k % PERIOD);
    for (k = 0; k < PERIOD; k++)
        for (i = 0; i < count; i++) sums[k] += (float)((k + (size_t)i) % PERIOD);
    for (i = 0; i < count; i++) {
        const gpuexec_context ctx = gpuexec_context_open(i, NULL);
        devices[i] = i;
        stream[i] = gpuexec_stream_create(ctx, NULL);
        from[i] = gpuexec_alloc(ctx, largest * sizeof *host);
        to[i] = gpuexec_alloc(ctx, largest * sizeof *host);
        gpuexec_copy_in(stream[i], from[i], host + i, largest * sizeof *host);
    }
    sync_all();
    nccl_must("ncclCommInitAll", nccl.CommInitAll(comm, count, devices));

    printf("%12s %8s %8s  of the links\n", "bytes", "us", "GB/s");
    for (n = 1; n <= largest; n *= 4) {
        const int rounds = n <= 1 << 18 ? 100 : 20;
        double us, rate;
        for (i = 0; i < count; i++) gpuexec_fill(stream[i], to[i], 0, 1, n * sizeof *host);
        all_reduce(n); /* the first one connects the devices */
        sync_all();
        us = example_milliseconds();
        for (i = 0; i < rounds; i++) all_reduce(n);
        sync_all();
        us = (example_milliseconds() - us) * 1e3 / rounds;
        rate = (double)n * sizeof *host / us / 1e3;
        printf("%12lu %8.1f %8.2f %8.2f\n", (unsigned long)(n * sizeof *host), us, rate,
                rate * 2 * (count - 1) / count);
        for (i = 0; i < count; i++) {
            gpuexec_copy_out(stream[i], host, to[i], n * sizeof *host);
            must(gpuexec_stream_sync(stream[i]));
            for (k = 0; k < n; k++) wrong += host[k] != sums[k % PERIOD];
        }
    }
    for (i = 0; i < count; i++) nccl_must("ncclCommDestroy", nccl.CommDestroy(comm[i]));
    must(gpuexec_shutdown());
    free(host);
    puts(wrong ? "some sums are WRONG" : "all sums are correct");
    return wrong != 0;
}
