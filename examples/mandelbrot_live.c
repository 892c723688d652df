/*  cc examples/mandelbrot_live.c -o mandelbrot_live && ./mandelbrot_live [watch]

    A kernel that changes while the program runs. The program writes its CUDA C to
    mandelbrot_live.cu, compiles it with NVRTC, and draws it to mandelbrot_live.ppm. Then it edits
    the file: z^3 in place of z^2, a mistake, and z^4, and draws with the new kernel each time; with
    the mistake, it prints the compiler's message and keeps the old one. A part of the pixels is
    compared with the CPU's. With `watch` you edit the file, until you stop the program.
    NVRTC is not part of the driver: without it, the program prints how to get it, and exits with
    77.

    Prints (... is text that differs between machines):
        z^2: compiled in ... ms, drawn in ... ms
        z^3: compiled in ... ms, drawn in ... ms
        ... "mandelbrot_live.cu" does not compile: mandelbrot_live.cu(8): error: ...
        z^3: still this kernel
        z^4: compiled in ... ms, drawn in ... ms
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { WIDTH = 640, HEIGHT = 480, STEPS = 200 };
static const char FILE_NAME[] = "mandelbrot_live.cu";
static const char SOURCE[] =
        "#define POWER 2\n"
        "extern \"C\" __global__ void draw(unsigned char *steps, int width, int height, int most) "
        "{\n"
        "    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + "
        "threadIdx.y, n = 0;\n"
        "    if (px >= width || py >= height) return;\n"
        "    double cx = (px - width / 2) * 0.005, cy = (py - height / 2) * 0.005, x = 0, y = 0;\n"
        "    for (; n < most && x * x + y * y < 4; n++) {\n"
        "        double re = x, im = y, t;\n"
        "        for (int i = 1; i < POWER; i++) {\n"
        "            t = re * x - im * y;\n"
        "            im = re * y + im * x;\n"
        "            re = t;\n"
        "        }\n"
        "        x = re + cx, y = im + cy;\n"
        "    }\n"
        "    steps[py * width + px] = n;\n"
        "}\n";
static unsigned char pixels[WIDTH * HEIGHT];

static int on_cpu(int px, int py, int power) {
    double cx = (px - WIDTH / 2) * 0.005, cy = (py - HEIGHT / 2) * 0.005, x = 0, y = 0, re, im, t;
    int n = 0, i;
    for (; n < STEPS && x * x + y * y < 4; n++) {
        for (re = x, im = y, i = 1; i < power; i++) {
            t = re * x - im * y;
            im = re * y + im * x;
            re = t;
        }
        x = re + cx, y = im + cy;
    }
    return n;
}
static void must(int ok, const char *what) {
    if (!ok) exit((fprintf(stderr, "%s: %s", what, gpuexec_error_text()), 1));
}
static void write_file(const char *name, const void *data, size_t bytes, const char *head) {
    FILE *file = fopen(name, "wb");
    must(file && fputs(head, file) >= 0 && fwrite(data, 1, bytes, file) == bytes &&
                    fclose(file) == 0,
            name);
}
/* The file's text in `text`; returns whether it differs from before. */
static int reread(char *text, size_t room) {
    char *now = (char *)calloc(1, room);
    FILE *file = fopen(FILE_NAME, "rb");
    size_t bytes = file && now ? fread(now, 1, room - 1, file) : 0;
    int differs = bytes > 0 && strcmp(now, text) != 0;
    if (differs) memcpy(text, now, bytes + 1);
    if (file) fclose(file);
    free(now);
    return differs;
}

int main(int argc, char **argv) {
    static const char *const edits[] = { "POWER 2", "POWER 3", "POWER z;", "POWER 4" };
    static const int powers[] = { 2, 3, 3, 4 };
    static char text[1 << 16], source[sizeof SOURCE + 16];
    const int watch = argc > 1 && strcmp(argv[1], "watch") == 0;
    const struct timespec moment = { 0, 100000000 };
    int width = WIDTH, height = HEIGHT, most = STEPS, i, edit, wrong = 0;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, sizeof pixels);
    gpuexec_module mod = { 0 };
    if (gpuexec_ok(ctx) && !gpuexec_compiler_version()) {
        fputs(gpuexec_error_text(), stdout);
        return gpuexec_error_detail()->result == GPUEXEC_NO_COMPILER ? 77 : 1;
    }
    must(gpuexec_take_error() == GPUEXEC_OK, "device 0");
    for (edit = 0; watch || edit < 4; edit++) {
        double begin = example_milliseconds(), drawn;
        if (!watch || edit == 0) {
            snprintf(source, sizeof source, "#define %s%s", edits[edit % 4], strchr(SOURCE, '\n'));
            write_file(FILE_NAME, source, strlen(source), "");
        }
        while (!reread(text, sizeof text)) nanosleep(&moment, NULL); /* until the file changes */
        gpuexec_module next = gpuexec_module_compile(ctx, text, FILE_NAME, NULL);
        gpuexec_kernel draw = gpuexec_kernel_get(next, "draw");
        if (gpuexec_ok(draw)) {
            if (mod.id) gpuexec_module_unload(mod);
            mod = next;
        } else {
            printf("%.*s\n", (int)strcspn(gpuexec_why(next), "\n"), gpuexec_why(next));
            gpuexec_take_error();
            draw = gpuexec_kernel_get(mod, "draw"); /* the old one */
        }
        drawn = example_milliseconds();
        gpuexec_launch(draw, s, gpuexec_grid_for_2d(WIDTH, HEIGHT, 32, 4),
                GPUEXEC_ARGS(out, width, height, most));
        gpuexec_copy_out(s, pixels, out, sizeof pixels);
        must(gpuexec_stream_sync(s) == GPUEXEC_OK, "drawing");
        if (gpuexec_ok(next))
            printf("z^%d: compiled in %.0f ms, drawn in %.1f ms\n", powers[edit % 4], drawn - begin,
                    example_milliseconds() - drawn);
        else printf("z^%d: still this kernel\n", powers[edit % 4]);
        write_file("mandelbrot_live.ppm", pixels, sizeof pixels, "P5 640 480 200\n");
        for (i = 0; !watch && i < WIDTH * HEIGHT; i += 97)
            wrong += pixels[i] != on_cpu(i % WIDTH, i / WIDTH, powers[edit]);
    }
    gpuexec_shutdown();
    if (wrong > 60) printf("%d pixels are WRONG\n", wrong); /* rounding moves a few */
    return wrong > 60;
}
