/*  cc examples/compile.c -o compile && ./compile [FILE.cu]

    Compiles CUDA C while the program runs, with NVRTC: a kernel template from the string below, for
    two types; or, if a file is named, the kernel `scale` in that file, which must be extern "C"
    __global__ void scale(float *x, float factor, int n). Runs it and compares. Then compiles a
    source with an error, and prints the error text.
    NVRTC is not part of the driver: without it, the program prints how to get it, and exits with
    77.

    Prints (... is text that differs between machines):
        NVRTC 13.0 from ...
        scale<float>: all 1000 values are correct
        scale<double>: all 1000 values are correct
        a source with an error is refused:
          | examples/compile.c:93: gpuexec_module_compile: "broken.cu" does not compile:
              broken.cu(2): error: ...
          | ...
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 1000 };

static const char SOURCE[] = "#include \"index.h\"\n"
                             "template <class T> __global__ void scale(T *x, T factor, int n) {\n"
                             "    const int i = INDEX;\n"
                             "    if (i < n) x[i] *= factor;\n"
                             "}\n";

/* x[i] = factor * i on the device. The element type is float or double. Returns whether all are
   right. */
static int run(gpuexec_context ctx, gpuexec_kernel scale, const char *name, int is_double) {
    static float f[n];
    static double d[n];
    float factor = 3.0f;
    double wide = 3.0;
    int i, count = n, wrong = 0;
    void *x = is_double ? (void *)d : (void *)f;
    size_t bytes = is_double ? sizeof d : sizeof f;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dx = gpuexec_alloc(ctx, bytes);
    for (i = 0; i < n; i++) {
        f[i] = (float)i;
        d[i] = i;
    }
    gpuexec_copy_in(s, dx, x, bytes);
    if (is_double)
        gpuexec_launch(scale, s, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(dx, wide, count));
    else gpuexec_launch(scale, s, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(dx, factor, count));
    gpuexec_copy_out(s, x, dx, bytes);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 0;
    }
    for (i = 0; i < n; i++) wrong += (is_double ? d[i] : (double)f[i]) != 3.0 * i;
    printf("%s: %s\n", name, wrong ? "values are WRONG" : "all 1000 values are correct");
    return !wrong;
}

/* The whole file, with a NUL; exits if it cannot be read. */
static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 20);
    if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    const char *const types[] = { "scale<float>", "scale<double>" };
    const gpuexec_header header = { "index.h",
        "#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)\n" };
    gpuexec_compile_desc desc = { 0 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int ok;
    if (gpuexec_ok(ctx) && !gpuexec_compiler_version()) {
        fputs(gpuexec_error_text(), stdout);
        return gpuexec_error_detail()->result == GPUEXEC_NO_COMPILER ? 77 : 1;
    }
    printf("NVRTC %d.%d from %s\n", gpuexec_compiler_version() / 1000,
            gpuexec_compiler_version() % 1000 / 10, gpuexec_compiler_path());
    if (argc > 1) {
        char *text = read_text(argv[1]);
        gpuexec_module mod = gpuexec_module_compile(ctx, text, argv[1], NULL);
        free(text);
        ok = run(ctx, gpuexec_kernel_get(mod, "scale"), argv[1], 0);
    } else {
        desc.headers = &header, desc.header_count = 1;
        desc.expressions = types, desc.expression_count = 2;
        gpuexec_module mod = gpuexec_module_compile(ctx, SOURCE, "scale.cu", &desc);
        ok = run(ctx, gpuexec_kernel_get(mod, types[0]), types[0], 0) &&
                run(ctx, gpuexec_kernel_get(mod, types[1]), types[1], 1);
        gpuexec_module broken = gpuexec_module_compile(
                ctx, "__device__ int a;\n__device__ int b = ;\n", "broken.cu", NULL);
        const char *text = gpuexec_why(broken);
        printf("a source with an error is refused:\n");
        for (; *text; text += strcspn(text, "\n") + 1)
            printf("  | %.*s\n", (int)strcspn(text, "\n"), text);
        ok = gpuexec_take_error() == GPUEXEC_COMPILE_FAILED && ok;
    }
    gpuexec_shutdown();
    return ok ? 0 : 1;
}
