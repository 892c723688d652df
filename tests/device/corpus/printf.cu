/* printf with every conversion, flags, widths and precisions given in the call, long strings, and
   its return value. */
#include <stdio.h>
extern "C" __global__ void say(int *counts, const char *text) {
    int n = 0;
    long long big = -1234567890123456789ll;
    counts[n++] = printf("plain\n");
    counts[n++] = printf("%d|%i|%5d|%-5d|%05d|%+d|% d\n", -1, 2, 3, 4, 5, 6, 7);
    counts[n++] = printf(
            "%u|%o|%x|%X|%#x|%#o|%c|%%\n", 4000000000u, 8u, 0xabcu, 0xdefu, 255u, 8u, 'q');
    counts[n++] = printf("%f|%.3f|%10.2f|%-10.1f|%e|%.2E|%g|%G|%a\n", 1.5, 3.14159, 2.5, 2.5,
            12345.678, 0.00012, 1e10, 1e-10, 1.0);
    counts[n++] = printf(
            "%lld|%llu|%llx|%ld|%hd\n", big, 18446744073709551615ull, 0x123456789abcdefull, 77l, 5);
    counts[n++] = printf("%s|%10s|%-10s|%.3s\n", text, "right", "left", "truncated");
    counts[n++] = printf("%*d|%-*d|%.*f|%*.*f\n", 6, 42, 6, 42, 2, 2.71828, 8, 3, 2.71828);
    counts[n++] = printf("%d %s %f %c %lld\n", 1, "mixed", 2.0, 'z', 3ll);
    counts[n++] = printf("%f %f %f\n", 1.0 / 0.0, -1.0 / 0.0, 0.0f / 1.0f);
}

extern "C" __global__ void each(void) {
    if (threadIdx.x % 8 == 3) printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}
