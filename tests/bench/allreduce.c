/* allreduce.c - sums over all devices that each device gets, for 4 bytes to 256 MiB of floats on
   each: the kernel all_reduce of kernels/exchange.cu, many reductions in one launch and with a
   launch for each, and NCCL's all-reduce. All work on gpuexec's streams and memory, in interleaved
   rounds; medians. `allreduce PATH`: NCCL's library; otherwise it is searched for
   (examples/nccl.h). */
#include "bench.h"
#include "../../examples/nccl.h"

enum { MOST = 32, ROUNDS = 10, THREADS = 512 };
/* the same as in kernels/exchange.cu */
typedef struct all_reduce_data {
    gpuexec_ptr barrier, in[MOST], out[MOST];
    unsigned long long n;
    int rounds;
} all_reduce_data;

static int count;
static void *comm[MOST];
static gpuexec_stream stream[MOST];
static gpuexec_device_launch launch[MOST];
static all_reduce_data data[MOST];
static gpuexec_multi_desc desc;

static void nccl_check(int result) {
    if (result == 0) return;
    fprintf(stderr, "NCCL: %s\n", nccl.GetErrorString(result));
    exit(1);
}
static void sync_all(void) {
    int i;
    for (i = 0; i < count; i++) check(gpuexec_stream_sync(stream[i]));
}

/* The microseconds of one of the reductions. */
static double ours(int launches, int rounds) {
    const double begin = microseconds();
    int i;
    for (i = 0; i < count; i++) data[i].rounds = rounds;
    for (i = 0; i < launches; i++)
        check(gpuexec_launch_multi_device(launch, (unsigned)count, &desc));
    sync_all();
    return (microseconds() - begin) / (launches * rounds);
}
static double theirs(size_t n, int calls) {
    const double begin = microseconds();
    int i, k;
    for (k = 0; k < calls; k++) {
        nccl_check(nccl.GroupStart());
        for (i = 0; i < count; i++)
            nccl_check(nccl.AllReduce((void *)(size_t)data[0].in[i], (void *)(size_t)data[0].out[i],
                    n, NCCL_FLOAT, NCCL_SUM, comm[i], gpuexec_stream_native(stream[i])));
        nccl_check(nccl.GroupEnd());
    }
    sync_all();
    return (microseconds() - begin) / calls;
}

int main(int argc, char **argv) {
    const size_t most = smoke() ? 4096 : (size_t)256 << 20;
    const void *argument[MOST];
    gpuexec_context context[MOST];
    int i, k, blocks, with_nccl, devices[MOST];
    size_t bytes;
    count = gpuexec_device_count();
    if (count > MOST) count = MOST;
    printf("\n## Sums over all devices\n\n");
    if (count < 2) {
        printf("skipped: this needs two devices\n");
        return 0;
    }
    with_nccl = !smoke() && nccl_find(argc > 1 ? argv[1] : NULL);
    for (i = 0; i < count; i++) {
        context[i] = gpuexec_context_open(i, NULL);
        stream[i] = gpuexec_stream_create(context[i], NULL);
        devices[i] = i;
        launch[i].kernel = gpuexec_kernel_get(
                gpuexec_module_load_file(context[i], "kernels/exchange.ptx", NULL), "all_reduce");
        launch[i].stream = stream[i];
        data[0].in[i] = gpuexec_alloc(context[i], most);
        data[0].out[i] = gpuexec_alloc(context[i], most);
        check(gpuexec_fill_now(context[i], data[0].in[i], 0, 1, most));
    }
    desc.barrier = gpuexec_barrier_create(context, (unsigned)count, NULL);
    /* the kernel has a barrier at its begin, and one at its end */
    desc.no_pre_sync = desc.no_post_sync = 1;
    blocks = gpuexec_kernel_cooperative_blocks(launch[0].kernel, THREADS, 0);
    check(gpuexec_take_error());
    if (!gpuexec_barrier_is_direct(desc.barrier)) {
        printf("skipped: this needs peer access between all devices\n");
        return 0;
    }
    if (with_nccl) nccl_check(nccl.CommInitAll(comm, count, devices));
    printf("%d devices%s; us for one sum, and GB/s that each device sends\n\n"
           "| bytes | in one launch | GB/s | a launch each | NCCL | GB/s | a launch each / NCCL |\n"
           "|---|---|---|---|---|---|---|\n",
            count, with_nccl ? "" : "; skipped: NCCL is not available");
    for (bytes = 4; bytes <= most; bytes *= 4) {
        const int calls = smoke() ? 2 : bytes <= (size_t)1 << 20 ? 100 : 20;
        const size_t slice = bytes / 16 / (size_t)count / THREADS + 1;
        const double sent = (double)bytes * 2 * (count - 1) / count * 1e-3;
        double one[ROUNDS], each[ROUNDS], nccls[ROUNDS] = { 0 }, ratio[ROUNDS] = { 0 }, us[3];
        for (i = 0; i < count; i++) {
            data[i] = data[0];
            data[i].barrier = gpuexec_barrier_address(desc.barrier, (unsigned)i);
            data[i].n = bytes / 4;
            argument[i] = &data[i];
            launch[i].args.addresses = &argument[i], launch[i].args.count = 1;
            launch[i].dims = gpuexec_grid(
                    slice < (size_t)blocks ? (unsigned)slice : (unsigned)blocks, THREADS, 0);
        }
        ours(2, 1);
        if (with_nccl) theirs(bytes / 4, 2);
        for (k = 0; k < (smoke() ? 1 : ROUNDS); k++) {
            one[k] = ours(1, calls);
            each[k] = ours(calls, 1);
            if (with_nccl) nccls[k] = theirs(bytes / 4, calls), ratio[k] = each[k] / nccls[k];
        }
        us[0] = median(one, (size_t)k), us[1] = median(each, (size_t)k),
        us[2] = median(nccls, (size_t)k);
        printf("| %lu | %.2f | %.1f | %.2f |", (unsigned long)bytes, us[0], sent / us[0], us[1]);
        if (with_nccl)
            printf(" %.2f | %.1f | %.3f |\n", us[2], sent / us[2], median(ratio, (size_t)k));
        else printf(" - | - | - |\n");
        fflush(stdout);
    }
    for (i = 0; with_nccl && i < count; i++) nccl_check(nccl.CommDestroy(comm[i]));
    return gpuexec_shutdown() != GPUEXEC_OK;
}
