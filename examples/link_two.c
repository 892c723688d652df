/*  cc examples/link_two.c -o link_two && ./link_two

    Links two PTX files, compiled separately (nvcc -rdc=true), into one module: the kernel in
    link_main.ptx calls a function in link_curve.ptx. Then tries the same without the second file,
    which must fail, and prints the error text.

    Prints (... is text that differs between devices):
        linked link_main.ptx and link_curve.ptx: ... bytes in ... ms
        curve(2) = 23; all 4096 values are correct
        with coefficients 4 0 0 0: curve(2) = 4; all 4096 values are correct
        link_main.ptx alone is refused:
          | examples/link_two.c:70: gpuexec_linker_load: ... Undefined reference to 'curve' in ...
          | ...
          |   cure: add the input that defines it as .visible; C++ names must be the same on both
              sides (extern "C")
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 4096 };

/* Computes y = curve(x) on the device and compares with the host. With these numbers nothing is
   rounded, so the results must be equal. Returns how many are wrong. */
static int draw_and_compare(gpuexec_context ctx, gpuexec_module mod, const float *coefficients) {
    static float x[n], y[n];
    int i, count = n, wrong = 0;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dx = gpuexec_alloc(ctx, sizeof x), dy = gpuexec_alloc(ctx, sizeof y);
    for (i = 0; i < n; i++) x[i] = (float)(i % 64);
    gpuexec_copy_in(s, dx, x, sizeof x);
    gpuexec_launch(gpuexec_kernel_get(mod, "draw"), s, gpuexec_grid_for(n, 256),
            GPUEXEC_ARGS(dx, dy, count));
    gpuexec_copy_out(s, y, dy, sizeof y);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return n;
    }
    for (i = 0; i < n; i++) {
        const float *c = coefficients;
        wrong += y[i] != ((c[3] * x[i] + c[2]) * x[i] + c[1]) * x[i] + c[0];
    }
    printf("curve(2) = %g; %s\n", (double)y[2],
            wrong ? "values are WRONG" : "all 4096 values are correct");
    return wrong;
}

int main(void) {
    static const float first[4] = { 1.0f, -2.0f, 0.5f, 3.0f },
                       second[4] = { 4.0f, 0.0f, 0.0f, 0.0f };
    const void *image = NULL;
    size_t bytes = 0;
    int wrong;

    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, example_ptx("link_main.ptx"));
    gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, example_ptx("link_curve.ptx"));
    gpuexec_linker_image(linker, &image, &bytes); /* gpuexec_linker_save would write it to a file */
    gpuexec_module mod = gpuexec_linker_load(linker);
    if (!gpuexec_ok(mod)) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("linked link_main.ptx and link_curve.ptx: %lu bytes in %.1f ms\n", (unsigned long)bytes,
            gpuexec_linker_ms(linker));
    gpuexec_linker_destroy(linker); /* the module stays valid */
    wrong = draw_and_compare(ctx, mod, first);
    gpuexec_module_write_global(mod, "coefficients", second, sizeof second);
    printf("with coefficients 4 0 0 0: ");
    wrong += draw_and_compare(ctx, mod, second);

    gpuexec_linker half = gpuexec_linker_create(ctx, NULL);
    gpuexec_linker_add_file(half, GPUEXEC_INPUT_AUTO, example_ptx("link_main.ptx"));
    gpuexec_module nothing = gpuexec_linker_load(half);
    const char *text = gpuexec_why(nothing);
    printf("link_main.ptx alone is refused:\n");
    for (; *text; text += strcspn(text, "\n") + 1)
        printf("  | %.*s\n", (int)strcspn(text, "\n"), text);
    /* clears the latch: work is accepted again */
    int refused = gpuexec_take_error() == GPUEXEC_LINK_FAILED;
    gpuexec_shutdown();
    return wrong || !refused;
}
