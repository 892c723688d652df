/* args.c - GPUEXEC_ARGS used correctly (no -DMISUSE), and in wrong ways that the compiler must
   refuse with a helpful message. */
#include "../../../gpuexec.h"

#define TEN a, a, a, a, a, a, a, a, a, a

gpuexec_result use(gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims dims);
gpuexec_result use(gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims dims) {
    int a = 1;
    const int b[2] = { 1, 2 };
    struct {
        int x;
        const float *y;
    } c = { 1, 0 };
    (void)b;
    (void)c;
    (void)a;
#if !defined(MISUSE)
    gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a));
    gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(b[1], c.x, c.y, c, *&a));
    gpuexec_launch(kernel, stream, dims, GPUEXEC_NO_ARGS);
    if (a) gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, a));
    else return GPUEXEC_OK;
    /* 64 */
    return gpuexec_launch(
            kernel, stream, dims, GPUEXEC_ARGS(TEN, TEN, TEN, TEN, TEN, TEN, a, a, a, a));
#elif MISUSE == 0
    return gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS());
#elif MISUSE == 65
    return gpuexec_launch(
            kernel, stream, dims, GPUEXEC_ARGS(TEN, TEN, TEN, TEN, TEN, TEN, a, a, a, a, a));
#elif MISUSE == 100
    return gpuexec_launch(
            kernel, stream, dims, GPUEXEC_ARGS(TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN));
#elif MISUSE == 1
    return gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a + 1)); /* not an lvalue */
#elif MISUSE == 2
    return gpuexec_launch(kernel, stream, dims, a); /* forgot GPUEXEC_ARGS */
#elif MISUSE == 4
    /* whose size has the same low 16 bits as 4 */
    struct {
        char bytes[65540];
    } large = { { 0 } };
    return gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, large));
#elif MISUSE == 3
    return gpuexec_launch(kernel, dims, stream, GPUEXEC_ARGS(a)); /* order */
#endif
}
