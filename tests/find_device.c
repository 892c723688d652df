/* Prints how many devices the driver has and the name of the first. Fails without a word if it has none.
   tests/device.sh calls it to choose between the GPU and the CPU device. */
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include <stdio.h>

int main(void) {
    gpuexec_device_info info;
    const int count = gpuexec_device_count();
    if (count == 0 || gpuexec_device_get_info(0, &info) != GPUEXEC_OK) return 1;
    printf("%d x %s\n", count, info.name);
    return 0;
}
