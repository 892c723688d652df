/* assert() and __trap(). */
#include <cassert>
extern "C" __global__ void chk(int *p)
{
    assert(p[threadIdx.x] > 0);
    if (p[0] == 7) __trap();
}
