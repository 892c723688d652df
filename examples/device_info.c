/*  cc examples/device_info.c -o device_info && ./device_info

    Lists what the machine has: the driver, each device with its limits and free memory, and the
    links between them: which devices can access each other's memory, and how.

    Prints, on the CPU device:
        driver: CUDA 13.0, /home/me/gpuexec/build/libsimgpu.so
        device 0: simgpu CPU device (not a GPU)
          compute capability 9.0 at 0000:01:00.0, 4 multiprocessors, 1.00 GHz
          ...
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
    int count = gpuexec_device_count(), version = gpuexec_driver_version(), i, j;
    size_t free_bytes, total_bytes;
    gpuexec_device_info d;
    if (count == 0) return failed();
    printf("driver: CUDA %d.%d, %s\n", version / 1000, version % 1000 / 10, gpuexec_driver_path());

    for (i = 0; i < count; i++) {
        gpuexec_context ctx;
        if (gpuexec_device_get_info(i, &d) != GPUEXEC_OK) return failed();
        printf("device %d: %s\n", i, d.name);
        printf("  compute capability %d.%d at %s, %d multiprocessors, %.2f GHz\n",
                d.compute_capability / 10, d.compute_capability % 10, d.pci_bus_id,
                d.multiprocessors, d.clock_khz / 1e6);
        printf("  uuid ");
        for (j = 0; j < 16; j++)
            printf("%s%02x", j == 4 || j == 6 || j == 8 || j == 10 ? "-" : "", d.uuid[j]);
        printf("\n  memory: %.0f MiB, L2 cache %.1f MiB\n", (double)d.total_memory / MiB,
                (double)d.l2_bytes / MiB);
        ctx = gpuexec_context_open(i, NULL);
        if (gpuexec_context_get_memory(ctx, &free_bytes, &total_bytes) != GPUEXEC_OK)
            return failed();
        printf("  free with a context open: %.0f of %.0f MiB\n", (double)free_bytes / MiB,
                (double)total_bytes / MiB);
        gpuexec_context_close(ctx);
        printf("  a block: at most %d threads, %d x %d x %d; warps of %d; %d threads on a "
               "multiprocessor\n",
                d.max_threads_per_block, d.max_block[0], d.max_block[1], d.max_block[2],
                d.warp_size, d.max_threads_per_multiprocessor);
        printf("  a grid: at most %d x %d x %d blocks\n", d.max_grid[0], d.max_grid[1],
                d.max_grid[2]);
        printf("  for each block: %d registers, %.0f KiB of shared memory, %.0f KiB with opt-in\n",
                d.registers_per_block, (double)d.shared_per_block / 1024,
                (double)d.shared_per_block_optin / 1024);
        printf("  copy engines: %d; cooperative launches: %s; memory shared with the host: %s\n",
                d.async_engines, d.cooperative_launch ? "yes" : "no", d.integrated ? "yes" : "no");
    }

    if (count > 1) {
        const size_t length = gpuexec_topology_text(NULL, 0) + 1;
        char *text = (char *)malloc(length);
        if (length == 1 || !text || gpuexec_topology_text(text, length) == 0) return failed();
        printf("links between the devices:\n%s", text);
        free(text);
    }
    gpuexec_shutdown();
    return 0;
}
