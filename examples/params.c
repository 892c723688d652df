/*  cc examples/params.c -o params && ./params

    Packs parameters of many types into a parameter block, with the device's size and alignment of
    each type, which can differ from the host compiler's. The kernel writes what it received: once
    for a launch of the block, and once for a prepared launch with one argument changed.

    Prints:
        argument   type        bytes  offset  in the kernel
               0   int             4       0       0
               1   float4         16      16      16
               2   char            1      32      32
               3   float           4      36      36
               4   pointer         8      40      40
               5   float2          8      48      48
               6   pointer         8      56      56
               7   struct         32      64      64
               8   bool            1      96      96
               9   short3          6      98      98
              10   double          8     104     104
              11   half            2     112     112
              12   uchar4          4     116     116
              13   long long       8     120     120
        128 bytes, 90 of them values; the kernel received all of them correctly, twice
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

/* struct { float f; float4 f4; }: on the device, 12 bytes of padding follow f */
typedef struct mixed {
    float f, padding[3];
    float f4[4];
} mixed;

enum { ARGUMENTS = 14 };
static const struct {
    gpuexec_type type;
    const char *name;
} types[ARGUMENTS] = {
    { GPUEXEC_INT, "int" },
    { GPUEXEC_FLOAT4, "float4" },
    { GPUEXEC_CHAR, "char" },
    { GPUEXEC_FLOAT, "float" },
    { GPUEXEC_POINTER, "pointer" },
    { GPUEXEC_FLOAT2, "float2" },
    { GPUEXEC_POINTER, "pointer" },
    { GPUEXEC_NO_TYPE, "struct" },
    { GPUEXEC_BOOL, "bool" },
    { GPUEXEC_SHORT3, "short3" },
    { GPUEXEC_DOUBLE, "double" },
    { GPUEXEC_HALF, "half" },
    { GPUEXEC_UCHAR4, "uchar4" },
    { GPUEXEC_LONGLONG, "long long" },
};

/* What the kernel writes for these arguments: all values except `out` itself, without padding, the
   struct member by member. */
static size_t expected(unsigned char *to, gpuexec_args args) {
    size_t n = 0;
    unsigned i;
    for (i = 0; i < args.count; i++) {
        const unsigned char *value = (const unsigned char *)args.addresses[i];
        if (i == 6) continue;
        if (i == 7) {
            memcpy(to + n, value, 4);
            memcpy(to + n + 4, value + 16, 16);
            n += 20;
        } else {
            memcpy(to + n, value, args.sizes[i]);
            n += args.sizes[i];
        }
    }
    return n;
}

int main(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, example_ptx("parameters.ptx"), NULL), "receive");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 256);
    gpuexec_params p = gpuexec_params_create();

    int i = -7;
    float f4[4] = { 1, 2, 3, 4 }, f = 0.25f, f2[2] = { 5, 6 };
    signed char c = -100;
    gpuexec_ptr somewhere = 0x123456789aULL;
    mixed m = { 7, { 0, 0, 0 }, { 8, 9, 10, 11 } };
    unsigned char b = 1, u4[4] = { 250, 251, 252, 253 };
    short s3[3] = { -1, 2, -3 };
    double d = -1.0 / 3;
    unsigned short h = 0x3c00; /* 1.0 as a half */
    long long l = -9000000000000000000LL;
    const void *values[ARGUMENTS];
    int k;
    size_t bytes, n;
    unsigned char first[256], second[256], wanted[2][256];
    values[0] = &i;
    values[1] = f4;
    values[2] = &c;
    values[3] = &f;
    values[4] = &somewhere;
    values[5] = f2;
    values[6] = &out;
    values[7] = &m;
    values[8] = &b;
    values[9] = s3;
    values[10] = &d;
    values[11] = &h;
    values[12] = u4;
    values[13] = &l;
    for (k = 0; k < ARGUMENTS; k++)
        if (types[k].type) gpuexec_params_add(p, types[k].type, values[k]);
        else
            gpuexec_params_add_struct(p, values[k], sizeof m, 16); /* the alignment of its float4 */

    gpuexec_args args = gpuexec_params_args(p);
    /* compares every size and offset with the kernel's */
    if (gpuexec_params_check(p, fn) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("argument   type        bytes  offset  in the kernel\n");
    for (k = 0; k < ARGUMENTS; k++)
        printf("%8d   %-9s %7d %7d %7d\n", k, types[k].name, args.sizes[k],
                gpuexec_params_offset(p, k), gpuexec_kernel_parameter_offset(fn, k));

    n = expected(wanted[0], args);
    gpuexec_launch(fn, s, gpuexec_grid(1, 1, 0), args);
    gpuexec_copy_out(s, first, out, n);
    /* the prepared launch has a copy of the values, checked once */
    gpuexec_prepared launch = gpuexec_prepare(fn, s, gpuexec_grid(1, 1, 0), args);
    i = 8;
    gpuexec_prepared_set(launch, 0, &i, sizeof i);
    gpuexec_launch_prepared(launch);
    gpuexec_copy_out(s, second, out, n);
    memcpy(wanted[1], wanted[0], n);
    memcpy(wanted[1], &i, sizeof i);
    gpuexec_params_data(p, &bytes);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    gpuexec_shutdown();
    if (memcmp(first, wanted[0], n) != 0 || memcmp(second, wanted[1], n) != 0) {
        printf("the kernel received other values\n");
        return 1;
    }
    printf("%u bytes, %u of them values; the kernel received all of them correctly, twice\n",
            (unsigned)bytes, (unsigned)n);
    return 0;
}
