// printf from a kernel. The text appears on the program's stdout at the host's next
// synchronisation.
#include <stdio.h>

extern "C" __global__ void hello(double x, unsigned long long word) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    printf("hello from thread %d of block %d, %s: x + %d = %f, word >> %d = %llx\n",
            (int)threadIdx.x, (int)blockIdx.x, i % 2 ? "odd" : "even", i, x + i, i, word >> i);
}
