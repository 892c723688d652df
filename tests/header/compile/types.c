/* types.c - compiled as C11 or later, GPUEXEC_ARGS passes the type of each argument: what does not
   fit is refused as in C++, and the text of a failure names host pointers. In C99, sizes alone
   decide. */
#include "../../../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry put(.param .u64 out, .param .u32 a, .param .f32 b, "
                          ".param .f64 c, .param .u8 d, .param .align 4 .b8 e[8])\n"
                          "{ .reg .u64 %rd; .reg .u32 %r<2>; .reg .f32 %f; .reg .f64 %d;\n"
                          "  ld.param.u64 %rd, [out]; cvta.to.global.u64 %rd, %rd;\n"
                          "  ld.param.u32 %r0, [a]; st.global.u32 [%rd], %r0;\n"
                          "  ld.param.f32 %f, [b]; st.global.f32 [%rd+4], %f;\n"
                          "  ld.param.f64 %d, [c]; st.global.f64 [%rd+8], %d;\n"
                          "  ld.param.u8 %r1, [d]; st.global.u32 [%rd+16], %r1; ret; }\n";

typedef struct result {
    unsigned a;
    float b;
    double c;
    unsigned d;
} result;
typedef struct pair {
    int x;
    float y;
} pair;
typedef enum kind { FIRST, SECOND } kind;

static void check(int ok, int line) {
    if (ok) return;
    printf("types.c:%d is wrong; %s", line, gpuexec_error_text());
    exit(1);
}
#define CHECK(condition) check(condition, __LINE__)

#if __STDC_VERSION__ >= 201112L
enum { TYPED = 1 };
#else
enum { TYPED = 0 };
#endif
/* From C11 on, the call was refused, and the text contains `text`; in C99, the call succeeded. */
static void check_refused(int ok, const char *text, int line) {
    check(ok != TYPED, line);
    check(!TYPED || strstr(gpuexec_error_text(), text) != NULL, line);
    check(gpuexec_take_error() == (TYPED ? GPUEXEC_BAD_PARAMETERS : GPUEXEC_OK), line);
}
#define REFUSED(call, text) check_refused((call) == GPUEXEC_OK, text, __LINE__)

static result put_back(gpuexec_stream s, gpuexec_ptr from) {
    result got = { 0, 0, 0, 0 };
    CHECK(gpuexec_copy_out(s, &got, from, sizeof got) == GPUEXEC_OK);
    CHECK(gpuexec_stream_sync(s) == GPUEXEC_OK);
    return got;
}

/* Types that fit. */
static void check_types(gpuexec_kernel fn, gpuexec_stream s, const gpuexec_ptr out) {
    const gpuexec_dims one = gpuexec_grid(1, 1, 0);
    const unsigned a = 7;
    float b = 1.5f, numbers[2] = { 2.5f, 3.5f };
    double c = 0.25;
    _Bool d = 1;
    pair e = { 1, 2.0f };
    kind k = SECOND;
    unsigned char bytes[4] = { 9, 0, 0, 0 };
    const struct { float bits; } same = { 0.0f };
    result got;
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, a, b, c, d, e)) == GPUEXEC_OK);
    got = put_back(s, out);
    CHECK(got.a == 7 && got.b > 1.4f && got.b < 1.6f && got.c > 0.2 && got.c < 0.3 && got.d == 1);
    /* an enum, an element, a compound literal, a char, an array of 8 bytes for a struct */
    CHECK(gpuexec_launch(fn, s, one,
                  GPUEXEC_ARGS(out, k, numbers[0], (double){ 2 * c }, *bytes, numbers)) ==
            GPUEXEC_OK);
    got = put_back(s, out);
    CHECK(got.a == 1 && got.b > 2.4f && got.b < 2.6f && got.c > 0.4 && got.c < 0.6 && got.d == 9);
    /* bytes fit any type: a struct with a float's bits, an array */
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, same, same, c, d, e)) == GPUEXEC_OK);
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, bytes, b, numbers, d, e)) == GPUEXEC_OK);
    got = put_back(s, out);
    CHECK(got.a == 9);
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, (int){ -5 }, (float){ 5 }, c, d, e)) ==
            GPUEXEC_OK);
    got = put_back(s, out);
    CHECK(got.a == (unsigned)-5 && got.b > 4.9f);
}

/* Types that do not fit, in each kind of launch. */
static void check_refusals(
        gpuexec_context ctx, gpuexec_kernel fn, gpuexec_stream s, const gpuexec_ptr out) {
    const gpuexec_dims one = gpuexec_grid(1, 1, 0);
    const float a = 7;
    int b = 1;
    double c = 0.25;
    unsigned long long bits = 1;
    pair e = { 1, 2.0f };
    char d = 1;
    const gpuexec_graph graph = gpuexec_graph_create(ctx);
    const gpuexec_batch batch = gpuexec_batch_create(ctx, NULL);
    gpuexec_launch_desc desc = { 0 };
    gpuexec_node node;
    desc.cooperative = 1;
    REFUSED(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, a, a, c, d, e)),
            "argument 1 (counted from 0) of kernel \"put\" is a float, but the parameter is a "
            "4-byte integer");
    REFUSED(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, b, b, c, d, e)),
            "argument 2 (counted from 0) of kernel \"put\" is an int, but the parameter is a "
            "4-byte float");
    REFUSED(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, b, a, bits, d, e)),
            "argument 3 (counted from 0) of kernel \"put\" is an unsigned long long, but the "
            "parameter is an 8-byte float");
    if (TYPED) /* in C99, the kernel would use it */
        REFUSED(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(c, b, a, c, d, e)),
                "argument 0 (counted from 0) of kernel \"put\" is a double, but the parameter is "
                "an "
                "8-byte integer");
    REFUSED(gpuexec_launch_cooperative(fn, s, one, GPUEXEC_ARGS(out, b, b, c, d, e)), "is an int");
    REFUSED(gpuexec_launch_with(fn, s, one, &desc, GPUEXEC_ARGS(out, b, b, c, d, e)), "is an int");
    check_refused(gpuexec_ok(gpuexec_prepare(fn, s, one, GPUEXEC_ARGS(out, b, b, c, d, e))),
            "is an int", __LINE__);
    node = gpuexec_graph_add_kernel(
            graph, fn, one, GPUEXEC_ARGS(out, b, b, c, d, e), GPUEXEC_FIRST);
    check_refused(gpuexec_ok(node.graph), "is an int", __LINE__);
    check_refused(gpuexec_batch_add(batch, fn, one, GPUEXEC_ARGS(out, b, b, c, d, e)) >= 0,
            "is an int", __LINE__);
    /* sizes count with any types */
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, b, c, c, d, e)) == GPUEXEC_BAD_PARAMETERS);
    CHECK(gpuexec_take_error() == GPUEXEC_BAD_PARAMETERS);
    CHECK(gpuexec_stream_sync(s) == GPUEXEC_OK);
}

/* A host pointer is passed, and named when the kernel fails: no device has memory at 16. */
static void check_host_pointers(gpuexec_kernel fn, gpuexec_stream s) {
    const gpuexec_dims one = gpuexec_grid(1, 1, 0);
    int b = 1;
    float f = 1;
    double c = 1;
    char d = 1, *where = NULL;
    const size_t address = 16;
    pair e = { 1, 2.0f };
    const char *text = " (its argument 0, counted from 0, is the host pointer 0x10)";
    memcpy(&where, &address, sizeof where);
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(where, where, f, c, d, e)) ==
            GPUEXEC_BAD_PARAMETERS);
    text = TYPED ? text : "";
    CHECK(!TYPED ||
            strstr(gpuexec_error_text(),
                    "argument 1 (counted from 0) of kernel \"put\" (a host pointer) is 8 bytes"));
    CHECK(gpuexec_take_error() == GPUEXEC_BAD_PARAMETERS);
    CHECK(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(where, b, f, c, d, e)) == GPUEXEC_OK);
    CHECK(gpuexec_stream_sync(s) == GPUEXEC_KERNEL_FAILED);
    CHECK(strstr(gpuexec_error_text(), text) != NULL);
}

int main(void) {
    const gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, 0, NULL), "put");
    const gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    const gpuexec_ptr out = gpuexec_alloc(ctx, sizeof(result));
    check_types(fn, s, out);
    check_refusals(ctx, fn, s, out);
    check_host_pointers(fn, s);
    return 0;
}
