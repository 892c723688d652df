/*  cc examples/jit_log.c -o jit_log && ./jit_log

    The driver compiles PTX when it loads it. This program loads valid PTX and prints the JIT
    compiler's log, then loads the same PTX with an error in one line and prints the error text,
    which contains the whole log. The valid module still works after that.

    Prints, on an H200 (other devices differ in times, registers and log):
        good PTX: compiled in 75.4 ms (75.8 ms with loading); the compiler's log:
          | ...
          | ptxas info    : Used 8 registers, used 0 barriers
          | ...
        kernel scale: 2 parameters, 8 registers
        broken PTX is refused:
          | ...
          | ptxas application ptx input, line 13; error   : Unknown symbol 'factr'
          | ...
        the good PTX still works: 21 * 2 = 42
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

/* *x = factor * *x. The broken text has a wrong name in place of %s. The number in the first
   comment differs in every run, so that the driver compiles the text and does not take the code
   from its cache. */
static const char TEMPLATE[] = "// %ld\n"
                               ".version 7.0\n"
                               ".target sm_70\n"
                               ".address_size 64\n"
                               ".visible .entry scale(.param .u64 x, .param .u32 factor)\n"
                               "{\n"
                               "    .reg .b32 %%r<4>;\n"
                               "    .reg .b64 %%rd<3>;\n"
                               "    ld.param.u64 %%rd1, [x];\n"
                               "    cvta.to.global.u64 %%rd2, %%rd1;\n"
                               "    ld.global.u32 %%r1, [%%rd2];\n"
                               "    // the factor is a parameter\n"
                               "    ld.param.u32 %%r2, [%s];\n"
                               "    mul.lo.u32 %%r3, %%r1, %%r2;\n"
                               "    st.global.u32 [%%rd2], %%r3;\n"
                               "    ret;\n"
                               "}\n";

static void print_indented(const char *text) {
    int start = 1;
    for (; *text; text++) {
        if (start) fputs("  | ", stdout);
        putchar(*text);
        start = *text == '\n';
    }
    if (!start) putchar('\n');
}

int main(void) {
    char ptx[sizeof TEMPLATE + 64];
    gpuexec_module_desc desc = { 0 };
    gpuexec_kernel_info info;
    unsigned x = 21, factor = 2;
    double start;
    long word = (long)time(NULL);
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    if (!gpuexec_ok(ctx)) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }

    desc.name = "good.ptx";
    desc.verbose = 1;
    snprintf(ptx, sizeof ptx, TEMPLATE, word, "factor");
    start = example_milliseconds();
    gpuexec_module mod = gpuexec_module_load(ctx, ptx, 0, &desc);
    printf("good PTX: compiled in %.1f ms (%.1f ms with loading); the compiler's log:\n",
            gpuexec_module_jit_ms(mod), example_milliseconds() - start);
    print_indented(*gpuexec_module_log(mod) ? gpuexec_module_log(mod) : "(empty)");
    gpuexec_kernel scale = gpuexec_kernel_get(mod, "scale");
    if (gpuexec_kernel_get_info(scale, &info) == GPUEXEC_OK)
        printf("kernel %s: %d parameters, %d registers\n", info.name, info.parameters,
                info.registers);

    desc.name = "broken.ptx";
    snprintf(ptx, sizeof ptx, TEMPLATE, word, "factr");
    gpuexec_module broken = gpuexec_module_load(ctx, ptx, 0, &desc);
    int refused = !gpuexec_ok(broken);
    printf(refused ? "broken PTX is refused:\n" : "broken PTX was accepted: that is wrong\n");
    print_indented(gpuexec_why(broken));
    gpuexec_take_error(); /* clears the latch: work is accepted again */

    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dx = gpuexec_alloc(ctx, sizeof x);
    gpuexec_copy_in(s, dx, &x, sizeof x);
    gpuexec_launch(scale, s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(dx, factor));
    gpuexec_copy_out(s, &x, dx, sizeof x);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("the good PTX still works: 21 * %u = %u\n", factor, x);
    gpuexec_shutdown();
    return refused && x == 42 ? 0 : 1;
}
