/* Plays NCCL for examples/nccl_allreduce.c on the CPU device: the sums are made on the host, when
   the group ends. With PLAY_NCCL=wrong one sum is wrong, with PLAY_NCCL=fails the all-reduce
   fails. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "../../support/calls.h"

#define API __attribute__((visibility("default")))
enum { MOST = 32, OK = 0, UNHANDLED = 1 };
typedef struct communicator {
    void *context;
} communicator;
static communicator of_device[MOST];
static struct {
    unsigned long long from, to;
    size_t count;
    communicator *comm;
    void *stream;
} queue[MOST];
static int queued, devices, grouped;

static const driver_calls *driver(void) {
    static driver_calls cu;
    if (!cu.cuInit) cu = calls_load(dlopen(getenv("GPUEXEC_DRIVER"), RTLD_NOW));
    return &cu;
}

static int plays(const char *what) {
    const char *const mode = getenv("PLAY_NCCL");
    return mode && strcmp(mode, what) == 0;
}

API int ncclGetVersion(int *version);
API int ncclGetVersion(int *version) {
    *version = 21234;
    return OK;
}

API const char *ncclGetErrorString(int result);
API const char *ncclGetErrorString(int result) { return result ? "played error" : "no error"; }

API int ncclCommInitAll(void **comms, int count, const int *device);
API int ncclCommInitAll(void **comms, int count, const int *device) {
    for (devices = 0; devices < count; devices++) {
        communicator *const c = &of_device[devices];
        if (driver()->cuDevicePrimaryCtxRetain(&c->context, device[devices])) return UNHANDLED;
        comms[devices] = c;
    }
    return OK;
}

API int ncclCommDestroy(void *comm);
API int ncclCommDestroy(void *comm) {
    return driver()->cuDevicePrimaryCtxRelease_v2((int)((communicator *)comm - of_device));
}

API int ncclGroupStart(void);
API int ncclGroupStart(void) {
    grouped = 1;
    queued = 0;
    return OK;
}

API int ncclAllReduce(
        const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
API int ncclAllReduce(
        const void *from, void *to, size_t count, int type, int op, void *comm, void *stream) {
    if (!grouped || queued == MOST || type != 7 || op != 0 || plays("fails")) return UNHANDLED;
    queue[queued].from = (unsigned long long)from, queue[queued].to = (unsigned long long)to;
    queue[queued].count = count, queue[queued].comm = (communicator *)comm,
    queue[queued++].stream = stream;
    return OK;
}

API int ncclGroupEnd(void);
API int ncclGroupEnd(void) {
    const size_t n = queue[0].count;
    float *const sum = (float *)calloc(n, sizeof *sum),
                 *const one = (float *)calloc(n, sizeof *one);
    size_t k;
    int i, bad = !sum || !one || queued != devices;
    for (i = 0; i < 2 * queued && !bad; i++) {
        const int q = i % queued;
        bad = driver()->cuCtxSetCurrent(queue[q].comm->context) ||
                driver()->cuStreamSynchronize(queue[q].stream) ||
                (i < queued ? driver()->cuMemcpyDtoH_v2(one, queue[q].from, n * sizeof *one)
                            : driver()->cuMemcpyHtoD_v2(queue[q].to, sum, n * sizeof *sum));
        for (k = 0; k < n && i < queued && !bad; k++) sum[k] += one[k];
        if (i == 0 && plays("wrong")) sum[n - 1] += 1.0f;
    }
    free(sum);
    free(one);
    grouped = 0;
    return bad ? UNHANDLED : OK;
}
