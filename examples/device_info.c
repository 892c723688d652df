/*  cc examples/device_info.c -o device_info && ./device_info

    Lists what the machine has: the driver, each device with its limits and free memory, and the
    links between them: which devices can access each other's memory, and how.

    Prints, on the CPU device:
        driver: CUDA 13.0, /home/me/gpuexec/build/libsimgpu.so
        device 0: simgpu CPU device (not a GPU)
          compute capability 9.0 at 0000:01:00.0, 20 multiprocessors, 1.00 GHz
          ...
        device 0 has 2048 of 2048 MiB free, with a context open
*/
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>

static int failed(void) {
    fputs(gpuexec_error_text(), stderr);
    return 1;
}

int main(void) {
    const double MiB = 1024.0 * 1024.0;
    const size_t length = gpuexec_devices_text(NULL, 0) + 1;
    char *text = (char *)malloc(length);
    int count = gpuexec_device_count(), i;
    if (length == 1 || !text || gpuexec_devices_text(text, length) == 0) return failed();
    fputs(text, stdout);
    free(text);

    for (i = 0; i < count; i++) {
        size_t free_bytes, total_bytes;
        gpuexec_context ctx = gpuexec_context_open(i, NULL);
        if (gpuexec_context_get_memory(ctx, &free_bytes, &total_bytes) != GPUEXEC_OK)
            return failed();
        printf("device %d has %.0f of %.0f MiB free, with a context open\n", i,
                (double)free_bytes / MiB, (double)total_bytes / MiB);
        gpuexec_context_close(ctx);
    }
    gpuexec_shutdown();
    return 0;
}
