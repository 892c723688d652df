/* Says which device the driver at hand offers: prints the first one's name. Fails without a word if there is none. The Makefile asks
   it whether to run on a GPU or on the CPU device. */
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include <stdio.h>

int main(void)
{
    gpuexec_device_info info;
    if (gpuexec_device_count() == 0 || gpuexec_device_get_info(0, &info) != GPUEXEC_OK) return 1;
    puts(info.name);
    return 0;
}
