/* core.c - what is left with GPUEXEC_CORE_ONLY: contexts, modules, kernels, memory, copies,
   streams, events, launches and errors. run.sh compiles it with that option, in one file. */
#include <stdio.h>
#include <string.h>

#include "../../../gpuexec.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry squares(.param .u64 out) {\n"
                          "    .reg .b32 %i, %square;\n"
                          "    .reg .b64 %p;\n"
                          "    mov.u32         %i, %tid.x;\n"
                          "    mul.lo.u32      %square, %i, %i;\n"
                          "    ld.param.u64    %p, [out];\n"
                          "    mad.wide.u32    %p, %i, 4, %p;\n"
                          "    st.global.u32   [%p], %square;\n"
                          "    ret;\n"
                          "}\n";

static int failures;
static void expect(int is_right, const char *what) {
    if (is_right) return;
    failures++;
    printf("wrong: %s\n%s", what, gpuexec_error_text());
}

int main(void) {
    enum { n = 32 };
    int out[n], i, right = 1;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load(ctx, ptx, sizeof ptx, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(mod, "squares"), none;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL), t = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr memory = gpuexec_alloc(ctx, sizeof out);
    gpuexec_event done = gpuexec_event_create(ctx, NULL);
    gpuexec_fill(s, memory, 1, 1, sizeof out);
    gpuexec_launch(kernel, s, gpuexec_grid(1, n, 0), GPUEXEC_ARGS(memory));
    gpuexec_event_record(done, s);
    gpuexec_stream_wait_event(t, done);
    gpuexec_copy_out(t, out, memory, sizeof out);
    expect(gpuexec_stream_sync(t) == GPUEXEC_OK, "the work");
    for (i = 0; i < n; i++) right &= out[i] == i * i;
    expect(right, "the squares");

    none = gpuexec_kernel_get(mod, "cubes");
    expect(!gpuexec_ok(none) && strstr(gpuexec_error_text(), "has no kernel \"cubes\""),
            "a kernel that does not exist");
    gpuexec_take_error();
    expect(!gpuexec_ok(gpuexec_module_load(ctx, "no image", 0, NULL)), "text that is not PTX");
    gpuexec_take_error();
    gpuexec_launch(kernel, s, gpuexec_grid(1, 2048, 0), GPUEXEC_ARGS(memory));
    expect(gpuexec_stream_sync(s) == GPUEXEC_BAD_LAUNCH &&
                    strstr(gpuexec_error_text(), "cure: make the block smaller"),
            "a block that is too large");
    gpuexec_launch(kernel, GPUEXEC_CURRENT, gpuexec_grid(1, n, 0), GPUEXEC_ARGS(memory));
    expect(gpuexec_take_error() == GPUEXEC_NOT_SUPPORTED &&
                    strstr(gpuexec_error_text(), "GPUEXEC_NO_CURRENT"),
            "GPUEXEC_CURRENT");
    gpuexec_free(memory);
    gpuexec_free(memory);
    expect(strstr(gpuexec_error_text(), "core.c") != NULL, "memory freed twice");
    expect(gpuexec_context_close(ctx) == GPUEXEC_OK, "the end");
    gpuexec_shutdown();
    return failures != 0;
}
