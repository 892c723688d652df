/* program.c - a user's file, in the common part of C99 and C++11. With -DGPUEXEC_IMPLEMENTATION or
   -DGPUEXEC_STATIC it is a whole program. */
#include "../../../gpuexec.h"
#include "../../../gpuexec.h" /* including it twice does no harm */
#include <stdio.h>
#include <string.h>

static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry put(.param .u64 out, .param .u32 a, .param .f32 b)\n"
                          "{ .reg .u64 %rd; .reg .u32 %r; .reg .f32 %f; ld.param.u64 %rd, [out]; "
                          "cvta.to.global.u64 %rd, %rd;\n"
                          "  ld.param.u32 %r, [a]; st.global.u32 [%rd], %r; ld.param.f32 %f, [b]; "
                          "st.global.f32 [%rd+4], %f; ret; }\n";

/* Leaves two scopes by return. */
static int current_inside(gpuexec_context a, gpuexec_context b) {
    GPUEXEC_CONTEXT_SCOPE(a) {
        GPUEXEC_CONTEXT_SCOPE(b) {
            if (!gpuexec_context_is_current(b)) break;
            return gpuexec_context_is_current(a) ? 2 : 1;
        }
    }
    return 0;
}

/* Leaves a range by return. */
static int labelled_inside(gpuexec_stream s) {
    GPUEXEC_RANGE("range") {
        gpuexec_label(s, "label");
        return strcmp(gpuexec_get_label(s), "label") == 0;
    }
    return 0;
}

int main(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, 0, NULL), "put");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 8);
    unsigned a = 12;
    float b = 3.5f;
    struct {
        unsigned a;
        float b;
    } got;
    gpuexec_dims dims = gpuexec_grid_for(1, 32);
    gpuexec_launch(fn, s, dims, GPUEXEC_ARGS(out, a, b));
    gpuexec_copy_out(s, &got, out, sizeof got);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    gpuexec_context other = gpuexec_context_create(0, NULL);
    if (current_inside(ctx, other) != 1 || gpuexec_context_is_current(ctx) ||
            gpuexec_take_error() != GPUEXEC_OK)
        return 3;
    if (!labelled_inside(s) || gpuexec_range_pop() != GPUEXEC_BAD_ARGUMENT) return 4;
    gpuexec_shutdown();
    return got.a == a && got.b > 3.25f && got.b < 3.75f ? 0 : 2;
}
