/* args.c - GPUEXEC_ARGS used correctly (no -DMISUSE), and in wrong ways that the compiler must
   refuse with a helpful message. */
#include "../../../gpuexec.h"

#define TEN a, a, a, a, a, a, a, a, a, a

#if !defined(MISUSE)
typedef double number;
typedef enum kind { FIRST, SECOND } kind;
typedef union either {
    int x;
    float y;
} either;
typedef int (*function)(void);
#if defined(__GNUC__) || defined(__clang__)
typedef float vector __attribute__((vector_size(16)));
#endif
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
#endif

/* All compile without a warning, whatever their types and qualifiers are. */
void every_type(gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims dims);
void every_type(gpuexec_kernel kernel, gpuexec_stream stream, gpuexec_dims dims) {
    const int i = 1;
    float f = 1;
    const unsigned long long u = 1;
    number n = 1;
    const kind k = SECOND;
    either e = { 1 };
    _Bool b = 1;
    char c = 'c';
    signed char sc = 1;
    unsigned char uc = 1;
    short s = 1;
    unsigned short us = 1;
    long l = 1;
    unsigned long ul = 1;
    long long ll = 1;
    long double ld = 1;
    float array[2] = { 1, 2 };
    const char text[] = "text";
    float grid[2][2] = { { 1, 2 }, { 3, 4 } }, *rows[2] = { 0, 0 };
    float *pointer = array, *const fixed = array;
    const void *nothing = 0;
    struct incomplete *unknown = 0;
    function f0 = 0;
    gpuexec_ptr p = 0;
    gpuexec_launch(kernel, stream, dims,
            GPUEXEC_ARGS(i, f, u, n, k, e, b, c, sc, uc, s, us, l, ul, ll, ld));
    gpuexec_launch(kernel, stream, dims,
            GPUEXEC_ARGS(array, text, grid, grid[1], rows, pointer, fixed, nothing, unknown, f0));
    gpuexec_launch(
            kernel, stream, dims, GPUEXEC_ARGS(p, *pointer, pointer[1], e.y, (either){ 2 }, (k)));
#if defined(__GNUC__) || defined(__clang__)
    {
        const vector v = { 1, 2, 3, 4 };
        gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(v));
    }
#endif
#ifdef __SIZEOF_INT128__
    {
        wide w = 1;
        gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(w));
    }
#endif
#if defined(__FLT16_MAX__) && !defined(__clang__)
    {
        __extension__ _Float16 half = 1;
        gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(half));
    }
#endif
}
#endif

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
    gpuexec_launch(kernel, stream, dims,
            GPUEXEC_ARGS((int){ 5 }, (const float){ 0.5f }, (float){ (float)a * 2 }));
    every_type(kernel, stream, dims);
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
#elif MISUSE == 5
    return gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(a, stream)); /* from C11 on */
#elif MISUSE == 6
    const gpuexec_node handle = { { 0 }, 0 };
    return gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(handle, a)); /* from C11 on */
#elif MISUSE == 7
    struct {
        unsigned bits : 3;
    } field = { 1 };
    return gpuexec_launch(kernel, stream, dims, GPUEXEC_ARGS(field.bits));
#elif MISUSE == 3
    return gpuexec_launch(kernel, dims, stream, GPUEXEC_ARGS(a)); /* order */
#endif
}
