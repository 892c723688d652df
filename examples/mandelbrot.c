/*  cc examples/mandelbrot.c -o mandelbrot && ./mandelbrot

    Computes the Mandelbrot set on the device, compares every pixel with the CPU's, bit for bit, and
    writes the picture to mandelbrot.ppm and mandelbrot.png in the current directory.

    Prints, on an H200 (the CPU device takes about 300 ms):
        960 x 640 pixels in 0.1 ms, bit for bit the same as on the CPU
        wrote mandelbrot.ppm and mandelbrot.png
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "picture.h"

enum { WIDTH = 960, HEIGHT = 640 };
typedef struct pixel {
    unsigned steps;
    float radius2;
} pixel; /* as in kernels/mandelbrot.cu */

static int width = WIDTH, height = HEIGHT;
static double pitch = 3.3 / WIDTH, left = -2.35, top = 1.1, limit = 65536.0;
static unsigned max_steps = 256;
static pixel pixels[WIDTH * HEIGHT];
static unsigned char rgb[WIDTH * HEIGHT][3];

/* The same on the CPU. The compiler must not fuse a multiplication with an addition: the kernel
   rounds after each operation. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
static pixel on_cpu(int px, int py) {
    double cx = left + px * pitch, cy = top - py * pitch, x = 0.0, y = 0.0, x2 = 0.0, y2 = 0.0;
    unsigned steps = 0;
    pixel p;
    while (steps < max_steps && x2 + y2 <= limit) {
        y = 2.0 * (x * y) + cy;
        x = x2 - y2 + cx;
        x2 = x * x;
        y2 = y * y;
        steps++;
    }
    p.steps = steps;
    p.radius2 = (float)(x2 + y2);
    return p;
}

/* Black inside the set. Outside, a ring of colours indexed by the logarithm of the number of steps.
   The radius makes that number continuous: one step takes |z|^2 from 2^16 to 2^32. */
static void colour(pixel p, unsigned char *to) {
    static const double ring[6][3] = {
        { 0, 7, 100 },
        { 32, 107, 203 },
        { 237, 255, 255 },
        { 255, 170, 0 },
        { 90, 20, 30 },
        { 0, 7, 100 },
    };
    double place, between;
    int i, k;
    to[0] = to[1] = to[2] = 0;
    if ((double)p.radius2 <= limit) return;
    place = 1.2 * picture_log2(p.steps + 5.0 - picture_log2(picture_log2((double)p.radius2))) - 2.1;
    k = place < 0.0 ? 0 : (int)place;
    between = place - k;
    between *= between * (3.0 - 2.0 * between);
    for (k %= 5, i = 0; i < 3; i++)
        to[i] = (unsigned char)(ring[k][i] + between * (ring[k + 1][i] - ring[k][i]) + 0.5);
}

int main(void) {
    int i, wrong = 0;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, example_ptx("mandelbrot.ptx"), NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "mandelbrot");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_event t0 = gpuexec_event_create(ctx, NULL), t1 = gpuexec_event_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, sizeof pixels);
    gpuexec_dims dim = gpuexec_grid_for_2d(WIDTH, HEIGHT, 32, 4);
    gpuexec_event_record(t0, s);
    gpuexec_launch(
            fn, s, dim, GPUEXEC_ARGS(out, width, height, left, top, pitch, limit, max_steps));
    gpuexec_event_record(t1, s);
    gpuexec_copy_out(s, pixels, out, sizeof pixels);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("%d x %d pixels in %.1f ms, ", WIDTH, HEIGHT, gpuexec_event_elapsed_ms(t0, t1));
    gpuexec_shutdown();

    for (i = 0; i < WIDTH * HEIGHT; i++) {
        pixel p = on_cpu(i % WIDTH, i / WIDTH);
        wrong += memcmp(&p, &pixels[i], sizeof p) != 0;
        colour(pixels[i], rgb[i]);
    }
    if (wrong) {
        printf("but %d differ from the CPU's\n", wrong);
        return 1;
    }
    printf("bit for bit the same as on the CPU\n");
    if (!picture_write("mandelbrot", rgb[0], WIDTH, HEIGHT)) return 1;
    printf("wrote mandelbrot.ppm and mandelbrot.png\n");
    return 0;
}
