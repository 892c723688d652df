/* access.c - what kernels do with their arguments, read from PTX: each form of instruction, and all
   kernels of kernels/ and tests/device/corpus, compared with what the CPU device sees. */
#include "../../test.h"
#include "../../support/random_kernels.h"
#include "../../support/reached.h"
#include <glob.h>

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"
#define REGISTERS \
    ".reg .b64 %d<40>; .reg .b32 %r<40>; .reg .pred %p<9>; .reg .f32 %f<9>; .reg .b16 %h<9>;\n"
/* a kernel with pointers p and q and a number n */
#define KERNEL(body) \
    HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 n)\n{\n" REGISTERS \
         "ld.param.u64 %d1, [p];\nld.param.u64 %d2, [q];\nld.param.u64 %d3, [n];\n" body \
         "\nret;\n}\n"

static void add_bits(char *to, const char *name, unsigned bits) {
    sprintf(to + strlen(to), "%s%s:%s%s%s%s", *to ? " " : "", name,
            bits & GXI_ACCESS_READ ? "R" : "", bits & GXI_ACCESS_WRITE ? "W" : "",
            bits & GXI_ACCESS_UNKNOWN ? "?" : "", bits & GXI_ACCESS_PART ? "+" : "");
}
/* "argument+offset:bits" for each word, "name:bits" for each variable, and what else is known; bits
   are R, W, ? for unknown, + for a part of addresses */
static const char *text_of(const struct gxi_access_kernel *k) {
    static char text[2000];
    char name[40];
    size_t i;
    *text = 0;
    for (i = 0; k && i < k->use_count; i++) {
        sprintf(name, "%d+%d", k->uses[i].argument, (int)k->uses[i].offset);
        add_bits(text, name, k->uses[i].bits);
    }
    for (i = 0; k && i < k->variable_count; i++)
        add_bits(text, k->variables[i].name, k->variables[i].bits);
    if (k && k->indirect) add_bits(text, "memory", (unsigned)k->indirect);
    if (k && k->foreign) strcat(text, " foreign");
    if (!k || k->unknown) strcat(text, k ? " unknown" : "no kernel");
    return text;
}
/* Analyses a copy, which ends where its memory ends. */
static struct gxi_accesses *analyse(const char *ptx, size_t bytes) {
    char *copy = (char *)malloc(bytes + !bytes);
    struct gxi_accesses *a;
    memcpy(copy, ptx, bytes);
    a = gxi_access_analyse(copy, bytes);
    free(copy);
    return a;
}
static void check(int line, const char *ptx, const char *kernel, const char *wanted) {
    struct gxi_accesses *a = analyse(ptx, strlen(ptx));
    const char *got = a ? text_of(gxi_access_find(a, kernel)) : "no memory";
    if (strcmp(got, wanted) && test_fail_at(__FILE__, line))
        printf("\"%s\", not \"%s\"\n", got, wanted);
    CHECK(a != NULL);
    gxi_access_free(a);
}
#define IS(body, wanted) check(__LINE__, KERNEL(body), "k", wanted)

TEST(loads_and_stores) {
    IS("", "");
    IS("ld.global.f32 %f1, [%d1];", "0+0:R");
    IS("st.global.f32 [%d1+4], %f1;", "0+0:W");
    IS("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1]; st.global.v2.b32 [%d2], {%r1, %r2};",
            "0+0:R 1+0:W");
    IS("ldu.global.u32 %r1, [%d1];", "0+0:R");
    IS("ld.global.nc.L1::no_allocate.L2::128B.u32 %r1, [%d1];", "0+0:R");
    IS("ld.volatile.u32 %r1, [%d1]; st.release.gpu.u32 [%d2], %r1;", "0+0:R 1+0:W");
    IS("cvta.to.global.u64 %d4, %d1; mov.b64 %d5, %d4; st.global.u8 [%d5+-8], %h1;", "0+0:W");
    IS("@%p1 st.u32 [%d1], 5; @!%p1 ld.u32 %r1, [%d2];", "0+0:W 1+0:R");
    IS("prefetch.global.L2 [%d1]; discard.global.L2 [%d2], 128;", "1+0:W");
    IS("{ .reg .b64 %d1; mov.u64 %d1, 0; st.u32 [%d1+16], 1; }", "");
    IS("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, "
       "[%d1], %r9; wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d2], "
       "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, %r9;",
            "0+0:R 1+0:W");
}

TEST(atomics_and_reductions) {
    IS("atom.global.add.u32 %r1, [%d1], 1;", "0+0:RW");
    IS("red.global.add.f32 [%d1], %f1;", "0+0:RW");
    IS("atom.cas.b64 %d9, [%d1], 0, %d2;", "0+0:RW 1+0:?");
    IS("atom.shared.add.u32 %r1, [%r2], 1;", "");
    IS("multimem.ld_reduce.global.add.f32 %f1, [%d1]; multimem.st.global.f32 [%d2], %f1;",
            "0+0:R 1+0:W");
}

TEST(bulk_copies) {
    IS("cp.async.ca.shared.global [%r1], [%d1], 16;", "0+0:R");
    IS("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 64, "
       "[%r2]; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r1], 64;",
            "0+0:R 1+0:W");
    IS("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [%r1], 64;", "1+0:RW");
    IS("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; cp.async.wait_all;", "");
}

TEST(addresses_are_computed) {
    IS("shl.b64 %d4, %d3, 2; add.s64 %d5, %d1, %d4; st.f32 [%d5], %f1;", "0+0:W 2+0:+");
    IS("cvt.u32.u64 %r1, %d3; mul.wide.s32 %d4, %r1, 4; add.s64 %d5, %d4, %d1; ld.f32 %f1, [%d5];",
            "0+0:R 2+0:+");
    IS("mad.lo.s64 %d5, %d3, 8, %d1; st.u64 [%d5], 0;", "0+0:W 2+0:+");
    /* both may be pointers */
    IS("add.s64 %d5, %d1, %d3; st.u8 [%d5], %h1;", "0+0:W 2+0:W");
    IS("sub.s64 %d5, %d1, %d3; st.u8 [%d5], %h1;", "0+0:W 2+0:+");
    IS("selp.b64 %d5, %d1, %d2, %p1; st.u8 [%d5], %h1;", "0+0:W 1+0:W");
    IS("max.u64 %d5, %d1, %d2; ld.u8 %h1, [%d5];", "0+0:R 1+0:R");
    IS("and.b64 %d5, %d1, -16; st.u8 [%d5], %h1;", "0+0:W");
    IS("and.b64 %d4, %d1, 15; add.s64 %d5, %d2, %d4; st.u8 [%d5], %h1;", "0+0:+ 1+0:W");
    IS("or.b64 %d5, %d1, 4; xor.b64 %d5, %d5, 4; st.u8 [%d5], %h1;", "0+0:W");
    /* halves */
    IS("mov.b64 {%r1, %r2}, %d1; shfl.sync.idx.b32 %r3|%p1, %r1, 0, 31, -1; "
       "mov.b64 %d5, {%r3, %r2}; st.u8 [%d5], %h1;",
            "0+0:W");
    IS("cvt.u32.u64 %r1, %d1; shr.u64 %d6, %d1, 32; cvt.u32.u64 %r2, %d6; cvt.u64.u32 %d7, %r1; "
       "cvt.u64.u32 %d8, %r2; shl.b64 %d8, %d8, 32; or.b64 %d5, %d7, %d8; st.u8 [%d5], %h1;",
            "0+0:W?+");
    IS("shr.u64 %d4, %d1, 8; shl.b64 %d5, %d4, 8; st.u8 [%d5], %h1;", "0+0:W?");
    IS("shr.u64 %d4, %d1, 8; shl.b64 %d6, %d4, 2; and.b64 %d7, %d6, 1020; add.s64 %d5, %d2, %d7; "
       "st.u32 [%d5], 1;",
            "0+0:+ 1+0:W");
    /* what is subtracted again may be nothing */
    IS("sub.s64 %d4, %d2, %d1; add.s64 %d5, %d1, %d4; st.u8 [%d5], %h1;", "0+0:?+ 1+0:W");
    /* comparisons */
    IS("setp.lt.u64 %p1, %d1, %d2; @%p1 st.u8 [%d3], %h1;", "2+0:W");
    /* floating-point numbers are no addresses */
    IS("cvt.rn.f32.s64 %f1, %d1; st.f32 [%d2], %f1;", "1+0:W");
    /* loops */
    IS("L: st.u8 [%d1], %h1; add.s64 %d1, %d1, 1; @%p1 bra L;", "0+0:W");
}

TEST(pointers_escape) {
    IS("st.global.u64 [%d1], %d2;", "0+0:W 1+0:?");
    IS("add.s64 %d4, %d2, 8; st.global.v2.u64 [%d1], {%d4, %d3};", "0+0:W 1+0:? 2+0:?");
    IS("unheard.of.b64 %d4, %d1, {%d2, %d3}; st.u8 [%d4], 1;", "0+0:? 1+0:? 2+0:? memory:W");
    IS("sust.b.1d.b32.trap [%d1, {%r1}], {%r2};", "0+0:?");
    IS("mov.b64 %d4, f_unknown; call (%d5), %d4, (%d1), proto;", "0+0:? memory:RW foreign");
    check(__LINE__,
            HEAD ".extern .func (.param .b32 r) other(.param .b64 a);\n"
                 ".visible .entry k(.param .u64 p, .param .u64 q) {\n" REGISTERS
                 "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.u32 %r2, [%d2];\n"
                 "{ .param .b64 a; st.param.b64 [a+0], %d1; .param .b32 r; call.uni (r), other, "
                 "(a); ld.param.b32 %r1, [r+0]; } ret; }",
            "k", "0+0:? 1+0:R memory:RW foreign");
    check(__LINE__,
            HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                 ".global .align 1 .b8 text[3] = {37, 112, 0};\n"
                 ".visible .entry k(.param .u64 p, .param .u64 q) {\n" REGISTERS
                 ".local .align 8 .b8 depot[8]; mov.u64 %d4, depot; cvta.local.u64 %d5, %d4;\n"
                 "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; st.u32 [%d2], 1;\n"
                 "st.local.u64 [%d4], %d1; mov.u64 %d6, text; cvta.global.u64 %d7, %d6;\n"
                 "{ .param .b64 a; st.param.b64 [a+0], %d7; .param .b64 b; st.param.b64 [b+0], "
                 "%d5; .param .b32 r; call.uni (r), vprintf, (a, b); } ret; }",
            "k", "0+0:? 1+0:W text:?");
}

TEST(pointers_come_from_memory) {
    IS("ld.global.u64 %d4, [%d1]; st.u32 [%d4], 1; st.u32 [%d2], 1;", "0+0:R 1+0:W memory:W");
    IS("ld.global.u64 %d4, [%d1+8]; ld.global.u64 %d5, [%d4]; ld.u8 %h1, [%d5];", "0+0:R memory:R");
    IS("ld.global.u32 %r1, [%d1]; mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d2, %d4; "
       "st.u32 [%d5], 1;",
            "0+0:R 1+0:W");
}

TEST(variables) {
    check(__LINE__,
            HEAD ".visible .global .align 4 .u32 counter;\n.const .align 4 .b8 table[64];\n"
                 ".global .u64 at = generic(counter);\n.global .b32 unused;\n"
                 ".visible .entry k(.param .u64 p) {\n" REGISTERS
                 ".global .u32 inner; ld.param.u64 %d1, [p];\n"
                 "ld.const.u32 %r1, [table+4]; atom.global.add.u32 %r2, [counter], 1;\n"
                 "mov.u64 %d2, inner; shl.b64 %d3, %d1, 2; add.s64 %d2, %d2, %d3; st.u32 [%d2], 1;"
                 "\nld.global.u64 %d4, [at]; st.u32 [%d4], 1; ret; }\n"
                 ".visible .entry other() { ret; }",
            "k", "0+0:+ inner:W table:R counter:RW at:R memory:W");
    check(__LINE__, /* an offset in a variable is not a pointer */
            HEAD ".global .b32 table[64];\n.visible .entry k(.param .u64 n) {\n" REGISTERS
                 "ld.param.u64 %d1, [n]; mov.u64 %d2, table; add.s64 %d3, %d2, %d1; st.u32 [%d3], "
                 "1; ret; }",
            "k", "0+0:+ table:W");
}

#define STRUCT(body) \
    HEAD ".visible .entry k(.param .u32 m, .param .align 8 .b8 s[40], .param .align 16 .b8 t[16])" \
         " {\n" REGISTERS body " ret; }"
TEST(structs_by_value) {
    check(__LINE__, STRUCT("ld.param.u64 %d1, [s+16]; st.u32 [%d1], 1;"), "k", "1+16:W");
    check(__LINE__, STRUCT("ld.param.v2.u64 {%d1, %d2}, [t]; st.u32 [%d1], 1; ld.u32 %r1, [%d2];"),
            "k", "2+0:W 2+8:R");
    check(__LINE__, /* an offset that is not known: any word of this parameter */
            STRUCT("mov.b64 %d1, s; ld.param.u32 %r1, [m]; mul.wide.u32 %d2, %r1, 8; "
                   "add.s64 %d3, %d1, %d2; ld.param.u64 %d4, [%d3]; st.u32 [%d4], 1;"),
            "k", "1+0:W 1+8:W 1+16:W 1+24:W 1+32:W");
    check(__LINE__, /* a grid constant */
            STRUCT("mov.b64 %d1, s; cvta.param.u64 %d2, %d1; ld.u64 %d3, [%d2+24]; st.u32 [%d3], "
                   "1; ld.param.v2.u32 {%r1, %r2}, [s+8]; mov.b64 %d4, {%r1, %r2}; ld.u8 %h1, "
                   "[%d4];"),
            "k", "1+8:R 1+24:W");
    check(__LINE__, /* copied to local memory */
            STRUCT(".local .align 8 .b8 depot[40]; mov.u64 %d9, depot; ld.param.u64 %d1, [s]; "
                   "ld.param.u64 %d2, [s+8]; st.local.u64 [%d9], %d1; st.local.u64 [%d9+8], %d2; "
                   "ld.local.u64 %d3, [%d9+8]; st.u32 [%d3], 1;"),
            "k", "1+8:W");
}

#define DEPOT ".local .align 8 .b8 depot[64]; mov.u64 %d10, depot; cvta.local.u64 %d11, %d10; "
TEST(spills) {
    IS(DEPOT "st.u64 [%d11+8], %d1; st.u64 [%d11+16], %d2; ld.u64 %d5, [%d11+16]; "
             "st.u32 [%d5], 1; ld.u64 %d6, [%d11+8]; ld.u32 %r1, [%d6];",
            "0+0:R 1+0:W");
    IS(DEPOT "st.local.u64 [%d10], %d1; st.local.u64 [%d10+8], %d2; shl.b64 %d12, %d3, 3; "
             "add.s64 %d13, %d10, %d12; ld.local.u64 %d5, [%d13]; st.u32 [%d5], 1;",
            "0+0:W 1+0:W");
    IS(DEPOT "shl.b64 %d12, %d3, 3; add.s64 %d13, %d10, %d12; st.local.u64 [%d13], %d1; "
             "ld.local.u64 %d5, [%d10+8]; st.u32 [%d5], 1;",
            "0+0:W");
    /* halves, and a vector of both */
    IS(DEPOT "mov.b64 {%r1, %r2}, %d1; st.local.u32 [%d10], %r1; st.local.u32 [%d10+4], %r2; "
             "ld.local.u64 %d5, [%d10]; st.u32 [%d5], 1;",
            "0+0:W");
    /* the address of local memory in local memory */
    IS(DEPOT "st.local.u64 [%d10+32], %d11; st.local.u64 [%d10], %d1; ld.local.u64 %d5, "
             "[%d10+32]; ld.u64 %d6, [%d5]; st.u32 [%d6], 1;",
            "0+0:W");
    IS(".shared .align 8 .b64 s[2]; st.shared.u64 [s+8], %d1; ld.shared.u64 %d5, [s+8]; "
       "st.u32 [%d5], 1; ld.u32 %r1, [%d2];",
            "0+0:W 1+0:R");
    /* local memory whose address escapes: its contents do, too */
    IS(DEPOT "st.local.u64 [%d10], %d1; st.global.u64 [%d2], %d11;", "0+0:? 1+0:W");
}

/* Functions, and a kernel k(p, q) that calls one with both. */
#define CALLS(functions, call) \
    HEAD functions ".visible .entry k(.param .u64 p, .param .u64 q) {\n" REGISTERS \
                   "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q];\n" call " ret; }\n"
#define FUNCTION(name, body) \
    ".func (.param .b64 " name "_r) " name "(.param .b64 " name "_a, .param .b64 " name \
    "_b) {\n" REGISTERS "ld.param.u64 %d1, [" name "_a]; ld.param.u64 %d2, [" name "_b];\n" body \
    " ret; }\n"
#define CALL(name, to, a, b) \
    "{ .param .b64 param0; st.param.b64 [param0+0], " a "; .param .b64 param1; " \
    "st.param.b64 [param1+0], " b "; .param .b64 retval0; call.uni (retval0), " name \
    ", (param0, param1); ld.param.b64 " to ", [retval0+0]; }\n"
TEST(calls) {
    static const char id[] = CALLS(
            FUNCTION("id", "add.s64 %d3, %d1, 8; st.param.b64 [id_r+0], %d3;"),
            CALL("id", "%d5", "%d1", "%d2") "st.u32 [%d5], 1;\n" CALL(
                    "id", "%d6", "%d2", "%d1") "ld.u32 %r1, [%d6];");
    check(__LINE__, id, "k", "0+0:W 1+0:R");
    check(__LINE__,
            CALLS(FUNCTION("copy", "ld.u32 %r1, [%d2]; st.u32 [%d1], %r1;"),
                    CALL("copy", "%d5", "%d2", "%d1")),
            "k", "0+0:R 1+0:W");
    check(__LINE__, /* any depth */
            CALLS(FUNCTION("inner", "st.u32 [%d2], 1;")
                            FUNCTION("outer", CALL("inner", "%d5", "%d2", "%d1")),
                    CALL("outer", "%d5", "%d1", "%d2")),
            "k", "0+0:W");
    check(__LINE__, /* recursion, which swaps its arguments */
            CALLS(FUNCTION("again", "@%p1 st.u32 [%d1], 1;\n" CALL("again", "%d5", "%d2", "%d1")),
                    CALL("again", "%d5", "%d1", "%d2")),
            "k", "0+0:W 1+0:W");
    check(__LINE__, /* two functions that call each other */
            HEAD ".func even(.param .b64 even_a);\n"
                 ".func odd(.param .b64 odd_a) {" REGISTERS
                 "ld.param.u64 %d1, [odd_a]; { .param .b64 x; st.param.b64 [x], %d1; call even, "
                 "(x); } ret; }\n"
                 ".func even(.param .b64 even_a) {" REGISTERS
                 "ld.param.u64 %d1, [even_a]; st.u32 [%d1], 1; { .param .b64 x; st.param.b64 [x], "
                 "%d1; call odd, (x); } ret; }\n"
                 ".visible .entry k(.param .u64 p) {" REGISTERS
                 "ld.param.u64 %d1, [p]; { .param .b64 x; st.param.b64 [x], %d1; call odd, (x); } "
                 "ret; }",
            "k", "0+0:W");
    check(__LINE__, /* a pointer to the caller's memory: what is in it is used there */
            CALLS(FUNCTION("method", "ld.u64 %d3, [%d1]; st.u32 [%d3], 1;"),
                    DEPOT "st.local.u64 [%d10], %d2;\n" CALL("method", "%d5", "%d11", "%d1")),
            "k", "1+0:?");
    check(__LINE__, /* ... and a pointer is put there */
            CALLS(FUNCTION("set", "st.u64 [%d1], %d2;"),
                    DEPOT CALL("set", "%d5", "%d11", "%d2") "ld.u64 %d6, [%d11]; st.u32 [%d6], 1;"),
            "k", "1+0:?");
    check(__LINE__, /* stored where a pointer that is an argument points to */
            CALLS(FUNCTION("set", "st.u64 [%d1], %d2;"), CALL("set", "%d5", "%d1", "%d2")), "k",
            "0+0:W 1+0:?");
    check(__LINE__, /* a structure, by value */
            HEAD ".func (.param .b32 r) use(.param .align 8 .b8 s[16]) {" REGISTERS
                 "ld.param.u64 %d1, [s+8]; st.u32 [%d1], 1; ret; }\n"
                 ".visible .entry k(.param .u64 p, .param .u64 q) {" REGISTERS
                 "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; { .param .align 8 .b8 s[16]; "
                 "st.param.v2.b64 [s], {%d1, %d2}; .param .b32 x; call (x), use, (s); } ret; }",
            "k", "1+0:W");
    check(__LINE__, /* through shared memory */
            CALLS(".shared .b64 word;\n" FUNCTION("put", "st.shared.u64 [word], %d1;")
                            FUNCTION("take", "ld.shared.u64 %d3, [word]; st.u32 [%d3], 1;"),
                    CALL("put", "%d5", "%d2", "%d1") CALL("take", "%d5", "%d3", "%d3")),
            "k", "1+0:?");
    check(__LINE__, /* variables that a function names; registers as parameters */
            HEAD ".global .u32 v;\n.func (.reg .b64 r) f(.reg .b64 a) { .reg .b32 x; atom.add.u32 "
                 "x, [v], 1; add.s64 r, a, 4; ret; }\n"
                 ".visible .entry k(.param .u64 p) {" REGISTERS
                 "ld.param.u64 %d1, [p]; call (%d2), f, (%d1); st.u32 [%d2], 1; ret; }",
            "k", "0+0:W v:RW");
    check(__LINE__, /* a call through a pointer may reach any function */
            HEAD ".global .u32 v;\n.func f() { st.global.u32 [v], 1; ret; }\n"
                 ".visible .entry k(.param .u64 p) {" REGISTERS
                 "ld.param.u64 %d1, [p]; mov.u64 %d2, f; proto: .callprototype () _ (); "
                 "call %d2, (), proto; ret; }",
            "k", "v:? memory:RW foreign");
}

TEST(texts_of_several_modules) {
    check(__LINE__, /* of a link: functions without linkage belong to their module */
            HEAD ".func f(.param .b64 a) {" REGISTERS
                 "ld.param.u64 %d1, [a]; st.u32 [%d1], 1; ret; }\n" HEAD
                 ".func f(.param .b64 a) {" REGISTERS
                 "ld.param.u64 %d1, [a]; ld.u32 %r1, [%d1]; ret; }\n"
                 ".visible .entry k(.param .u64 p) {" REGISTERS
                 "ld.param.u64 %d1, [p]; { .param .b64 x; st.param.b64 [x], %d1; call f, (x); } "
                 "ret; }",
            "k", "0+0:R");
    check(__LINE__, HEAD ".entry k() { ret; }\n.entry k() { ret; }", "k", " unknown");
}

TEST(addresses_of_32_bits) {
    check(__LINE__,
            ".version 7.0\n.target sm_70\n.address_size 32\n"
            ".entry k(.param .u32 p, .param .u32 n, .param .align 4 .b8 s[8]) {" REGISTERS
            "ld.param.u32 %r1, [p]; ld.param.u32 %r2, [n]; mad.lo.u32 %r3, %r2, 4, %r1; "
            "st.global.u32 [%r3], 1; ld.param.u32 %r4, [s+4]; ld.global.u32 %r5, [%r4]; ret; }",
            "k", "0+0:W 1+0:+ 2+4:R");
}

TEST(what_is_not_understood) {
    IS("st.u32 [%d1+%d2+%d3], 1;", " unknown");
    IS("ld.global.u32 %r1;", " unknown");
    IS(") ;", " unknown");
    check(__LINE__, HEAD ".entry k(.param .u64 p) { .reg .b64 %d1; ld.param.u64 %d1, [p];", "k",
            " unknown");
    check(__LINE__, HEAD ".entry k(.param .u64 7) { ret; }", "k", " unknown");
    check(__LINE__, "", "k", "no kernel");
    check(__LINE__, HEAD ".entry k(.param .u64 p)", "k", "no kernel");
    /* what a kernel calls is not understood */
    check(__LINE__, HEAD ".func f() { ) ; }\n.entry k() { call f; ret; }", "k", " unknown");
}

static char *read_file(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    char *text = (char *)malloc(1 << 20);
    *bytes = f ? fread(text, 1, (1 << 20) - 1, f) : 0;
    text[*bytes] = 0;
    if (CHECK(f != NULL)) fclose(f);
    return text;
}
static const char *const folders[] = { "kernels/*.ptx", "tests/device/corpus/ptx/*.ptx",
    "tests/device/unit/*.ptx", "tests/support/*.ptx" };
enum { FOLDERS = sizeof folders / sizeof *folders };

/* Each file, cut at some places, and with some bytes changed: no access outside of it, no hang; the
   sanitizers watch. */
TEST(hostile_texts) {
    static const char signs[] = "{}()[];,.%<>=\"@:|-+0\n";
    uint32_t state = 7;
    glob_t files;
    size_t i, bytes;
    int k, n, tries = test_in_full() ? 12 : 3;
    for (k = 0; k < FOLDERS; k++) {
        CHECK_EQ(glob(folders[k], 0, NULL, &files), 0);
        for (i = 0; i < files.gl_pathc; i++) {
            char *text = read_file(files.gl_pathv[i], &bytes);
            for (n = 0; n < tries && bytes; n++) {
                gxi_access_free(analyse(text, test_random(&state) % bytes));
                text[test_random(&state) % bytes] = signs[test_random(&state) % (sizeof signs - 1)];
                gxi_access_free(analyse(text, bytes));
            }
            free(text);
        }
        globfree(&files);
    }
    for (n = 0; n < 200; n++) {
        char noise[600];
        for (i = 0; i < sizeof noise; i++) noise[i] = (char)(test_random(&state) >> 8);
        if (n % 2) memcpy(noise, HEAD ".entry k(.param .u64 p) {", sizeof HEAD + 24);
        gxi_access_free(analyse(noise, sizeof noise));
    }
}

/* A text of n parts, each a function that calls the one before, and at last a kernel. */
static char *make_text(size_t n, size_t *bytes) {
    char *text = (char *)malloc(200000 + n * 700), *at = text;
    size_t i;
    at += sprintf(at, HEAD);
    for (i = 0; i < n; i++) {
        at += sprintf(at,
                ".func f%zu(.param .b64 f%zu_a) {\n"
                ".reg .b64 %%d<60>;\n"
                "ld.param.u64 %%d0, [f%zu_a];\n",
                i, i, i);
        at += sprintf(at,
                "L: st.u32 [%%d9], 1; mov.u64 %%d9, %%d8; mov.u64 %%d8, %%d7; mov.u64 "
                "%%d7, %%d6; add.s64 %%d6, %%d0, 4; @%%p1 bra L;\n");
        if (i)
            at += sprintf(at,
                    "{ .param .b64 param0; st.param.b64 [param0+0], %%d6; call f%zu, "
                    "(param0); }\n",
                    i - 1);
        at += sprintf(at, "ret; }\n");
    }
    at += sprintf(at,
            ".visible .entry k(.param .u64 p) { .reg .b64 %%d<9>; ld.param.u64 %%d1, [p];"
            " { .param .b64 x; st.param.b64 [x], %%d1; call f%zu, (x); } ret; }\n",
            n - 1);
    *bytes = (size_t)(at - text);
    return text;
}
/* Large texts take no longer than the time limit of a test, as a square of their size would. */
TEST(large_texts) {
    struct gxi_accesses *a;
    size_t bytes;
    char *text = make_text(test_in_full() ? 40000 : 4000, &bytes);
    CHECK((a = gxi_access_analyse(text, bytes)) != NULL);
    CHECK_STRING(text_of(gxi_access_find(a, "k")), "0+0:W");
    gxi_access_free(a);
    free(text);
}

/* Each allocation fails once; nothing leaks. */
TEST(no_memory) {
    gpuexec_setup_desc desc;
    struct gxi_accesses *a = NULL;
    size_t bytes;
    char *text = read_file("kernels/jacobi.ptx", &bytes);
    int allowed;
    memset(&desc, 0, sizeof desc);
    desc.realloc_function = test_realloc;
    CHECK_OK(gpuexec_setup(&desc));
    for (allowed = 0; allowed < 1000 && !a; allowed++) {
        const int before = test_blocks;
        test_blocks_left = allowed;
        a = gxi_access_analyse(text, bytes);
        if (!a) CHECK_EQ(test_blocks, before);
    }
    test_blocks_left = TEST_BLOCKS_ENOUGH;
    CHECK(a && allowed > 20);
    gxi_access_free(a);
    free(text);
}

/* ---- the bytes that a launch certainly uses: see reached.h ---- */

/* Launches in this process, which sets SIMGPU_ACCESS before CUDA starts: no test may call gpuexec
   before device_open. */
typedef struct device {
    gpuexec_context ctx;
    gpuexec_stream stream;
    gpuexec_ptr p, q; /* memory of RANDOM_BYTES each */
    char path[40];
    FILE *file;
    char *line;
    size_t room;
    int failed; /* by a kernel */
} device;
static void device_open(device *d) {
    int file;
    memset(d, 0, sizeof *d);
    strcpy(d->path, "/tmp/gpuexec_reach.XXXXXX");
    file = mkstemp(d->path);
    if (!CHECK(file >= 0)) return;
    close(file);
    setenv("SIMGPU_ACCESS", d->path, 1);
    d->ctx = gpuexec_context_open(0, NULL);
    d->stream = gpuexec_stream_create(d->ctx, NULL);
    d->p = gpuexec_alloc(d->ctx, RANDOM_BYTES);
    d->q = gpuexec_alloc(d->ctx, RANDOM_BYTES);
    d->file = fopen(d->path, "r");
    CHECK(d->file != NULL);
}
static void device_close(device *d) {
    if (d->file) fclose(d->file);
    free(d->line);
    unlink(d->path);
    unsetenv("SIMGPU_ACCESS");
}
/* Closes the device if its driver cannot load the texts. */
static int device_close_if_old(device *d) {
    if (gpuexec_driver_version() >= 12030) return 0;
    device_close(d);
    return 1;
}
static int device_has_line(device *d) {
    const long at = ftell(d->file);
    const ssize_t n = getline(&d->line, &d->room, d->file);
    if (n > 0 && d->line[n - 1] == '\n') {
        d->line[n - 1] = 0;
        return 1;
    }
    fseek(d->file, at, SEEK_SET);
    return 0;
}
/* Launches the kernel, and waits for it. Returns what is behind the first | of its line, or NULL.
   The line is written a moment after the kernel has ended. */
static char *device_launch(device *d, gpuexec_kernel kernel, const unsigned *dims,
        const void *const *arguments, const unsigned short *sizes, unsigned n) {
    gpuexec_dims at;
    gpuexec_args args;
    int has_line = 0;
    char *text;
    memset(&at, 0, sizeof at);
    memset(&args, 0, sizeof args);
    at.block_x = dims[0];
    at.block_y = dims[1];
    at.block_z = dims[2];
    at.grid_x = dims[3];
    at.grid_y = dims[4];
    at.grid_z = dims[5];
    args.addresses = arguments;
    args.sizes = sizes;
    args.count = n;
    gpuexec_fill(d->stream, d->p, 0x01030207, 4, RANDOM_BYTES / 4);
    gpuexec_fill(d->stream, d->q, 0x00010203, 4, RANDOM_BYTES / 4);
    gpuexec_launch(kernel, d->stream, at, args);
    if (!CHECK_OK(gpuexec_stream_sync(d->stream))) {
        d->failed = 1;
        return NULL;
    }
    TEST_UNTIL(has_line || (has_line = device_has_line(d)) != 0);
    text = has_line ? strstr(d->line, " | ") : NULL;
    return CHECK(text != NULL) ? text + 3 : NULL;
}
/* Some launches of a random kernel. */
static int compare_random(device *d, uint32_t seed) {
    static random_kernel g;
    static const unsigned short sizes[] = { 8, 8, 4, 4, 16 };
    const struct gxi_access_kernel *k;
    struct gxi_accesses *a;
    gpuexec_module module;
    gpuexec_kernel kernel;
    int i, ok;
    random_kernel_make(&g, seed);
    module = gpuexec_module_load(d->ctx, g.text, 0, NULL);
    kernel = gpuexec_kernel_get(module, "k");
    a = analyse(g.text, g.bytes);
    k = a ? gxi_access_find(a, "k") : NULL;
    ok = CHECK(k != NULL) && CHECK_MADE(kernel);
    for (i = 0; i < 3 && ok; i++) {
        const random_launch l = random_launch_make(&g, !i);
        const void *const arguments[] = { &d->p, &d->q, &l.a, &l.b, l.s };
        char *const text = device_launch(d, kernel, l.dims, arguments, sizes, 5);
        ok = text && reached_compare(k, text);
        if (!ok)
            printf("  launch %d, block %u %u %u, grid %u %u %u, a %u, b %u, s[5] %u\n", i,
                    l.dims[0], l.dims[1], l.dims[2], l.dims[3], l.dims[4], l.dims[5], l.a, l.b,
                    l.s[5]);
    }
    if (!ok) printf("  ACCESS_SEED=%u prints this kernel\n", seed);
    gxi_access_free(a);
    gpuexec_module_unload(module);
    return ok;
}
static void print_counts(const char *what) {
    const struct reached_counts *const c = &reached_counts;
    printf("%s: %d launches: all is known of %d, a part of %d, nothing of %d, without steps %d; "
           "wrong %d, in other memory %d; bytes known %lld of %lld\n",
            what, c->launches, c->complete, c->partly, c->without_boxes, c->without_steps, c->wrong,
            c->elsewhere, c->known, c->seen);
    memset(&reached_counts, 0, sizeof reached_counts);
}
/* ACCESS_KERNELS=1000: how many; ACCESS_SEED=7: only this one, and its text */
TEST_ALONE(random_kernels) {
    const char *const seed = getenv("ACCESS_SEED"), *const count = getenv("ACCESS_KERNELS");
    const uint32_t first = seed ? (uint32_t)strtoul(seed, NULL, 10) : 1,
                   n = seed      ? 1
            : count              ? (uint32_t)strtoul(count, NULL, 10)
            : getenv("TEST_ALL") ? 1500
                                 : 300;
    static random_kernel g;
    device d;
    uint32_t i;
    if (!on_cpu_device()) SKIP("only the CPU device has SIMGPU_ACCESS");
    if (seed) {
        random_kernel_make(&g, first);
        printf("%s", g.text);
    }
    device_open(&d);
    if (device_close_if_old(&d)) SKIP("the texts need a driver of CUDA 12.3");
    for (i = first; d.file && i - first < n && !d.failed; i++) compare_random(&d, i);
    print_counts("random kernels");
    device_close(&d);
}

/* By hand: a kernel with pointers p and q and a number n, the dims of a launch, and what is certain
   of it: for each box the place and the bytes, how often, and R, W; "..." if that is not all. Each
   launch runs, too, and is compared. */
static void add_place(char *to, const device *d, uint64_t v, uint64_t lo) {
    const uint64_t bases[3] = { d->p, d->q, v };
    int i;
    for (i = 0; i < 3; i++)
        if (bases[i] && lo >= bases[i] && lo < bases[i] + RANDOM_BYTES) {
            sprintf(to, "%c+%d", "pqv"[i], (int)(lo - bases[i]));
            return;
        }
    sprintf(to, "0x%llx", (unsigned long long)lo);
}
static const char *text_of_reach(const device *d, const gxi_reach *r, uint64_t v) {
    static char text[2000];
    unsigned i;
    *text = 0;
    for (i = 0; i < r->count; i++) {
        const gxi_reached *const b = &r->boxes[i];
        if (*text) strcat(text, " ");
        add_place(text + strlen(text), d, v, b->lo);
        sprintf(text + strlen(text), ":%d", (int)b->width);
        if (b->rows > 1) sprintf(text + strlen(text), " x%d/%d", (int)b->rows, (int)b->pitch);
        if (b->slices > 1) sprintf(text + strlen(text), " x%d/%d", (int)b->slices, (int)b->slice);
        sprintf(text + strlen(text), ":%s%s", b->access & GXI_ACCESS_READ ? "R" : "",
                b->access & GXI_ACCESS_WRITE ? "W" : "");
    }
    if (r->incomplete) strcat(text, *text ? " ..." : "...");
    return text;
}
/* %r1: threadIdx.x, %r2: blockIdx.x, %r3: blockDim.x, %r4: the index in the grid, %r5: n */
#define KERNEL_BEGINS \
    HEAD ".visible .global .align 16 .b8 v[1024];\n" \
         ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 n)\n{\n" REGISTERS \
         "ld.param.u64 %d1, [p];\nld.param.u64 %d2, [q];\nld.param.u64 %d3, [n];\n"
#define INDEX \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n" \
    "mad.lo.s32 %r4, %r2, %r3, %r1; ld.param.u32 %r5, [n];\n"
typedef struct rule {
    int line;
    const char *dims; /* "block, grid", each with up to three numbers */
    long long n;
    const char *wanted, *body;
} rule;
enum { RULE_BEFORE_RUNS = 1, RULE_IS_TEXT = 2 }; /* it cannot run; body is the whole text */
static void check_rule(device *d, const rule *u, int how) {
    static char ptx[8000];
    static reached_launch launch;
    const uint64_t words[3] = { d->p, d->q, (uint64_t)u->n };
    const int is_struct = strstr(u->body, "s[16]") != NULL; /* p and q; instead of two parameters */
    const unsigned short sizes[] = { is_struct ? 16 : 8, 8, 8 };
    const void *const arguments[] = { words, is_struct ? words + 2 : words + 1, words + 2 };
    unsigned dims[6] = { 1, 1, 1, 1, 1, 1 };
    uint64_t variables[GXI_REACH_VARIABLES];
    struct gxi_accesses *a;
    const struct gxi_access_kernel *k;
    const char *got = "no kernel", *comma = strchr(u->dims, ',');
    char *text, *copy;
    gxi_reach reach;
    sscanf(u->dims, "%u %u %u", &dims[0], &dims[1], &dims[2]);
    sscanf(comma + 1, "%u %u %u", &dims[3], &dims[4], &dims[5]);
    if (how & RULE_IS_TEXT) snprintf(ptx, sizeof ptx, "%s%s", HEAD, u->body);
    else snprintf(ptx, sizeof ptx, "%s%s%s%s", KERNEL_BEGINS, INDEX, u->body, "\nret;\n}\n");
    a = analyse(ptx, strlen(ptx));
    k = a ? gxi_access_find(a, "k") : NULL;
    if (!(how & RULE_BEFORE_RUNS)) {
        gpuexec_module module = gpuexec_module_load(d->ctx, ptx, 0, NULL);
        text = device_launch(
                d, gpuexec_kernel_get(module, "k"), dims, arguments, sizes, is_struct ? 2 : 3);
        text = text ? strdup(text) : NULL;
        gpuexec_module_unload(module);
    } else {
        int i, b;
        text = (char *)malloc(400);
        sprintf(text, "grid=%u,%u,%u block=%u,%u,%u", dims[3], dims[4], dims[5], dims[0], dims[1],
                dims[2]);
        for (i = 0; i < 3; i++)
            for (sprintf(text + strlen(text), " %d@%d+8=", i, 8 * i), b = 0; b < 64; b += 8)
                sprintf(text + strlen(text), "%02x", (unsigned)(words[i] >> b & 0xFF));
        strcat(text, " others=- |");
    }
    if (k && text && k->steps && !k->unknown) {
        int v = 0;
        copy = strdup(text);
        if (CHECK(reached_read(&launch, copy))) {
            reached_analyse(&reach, k, &launch, variables);
            while (v < launch.nvariables && strcmp(launch.variables[v].name, "v")) v++;
            got = text_of_reach(d, &reach, v < launch.nvariables ? launch.variables[v].address : 0);
        }
        reached_free(&launch);
        free(copy);
        if (!(how & RULE_BEFORE_RUNS)) reached_compare(k, text);
    } else if (k) got = "no steps";
    if (strcmp(got, u->wanted) && test_fail_at(__FILE__, u->line))
        printf("\"%s\", not \"%s\"\n", got, u->wanted);
    free(text);
    gxi_access_free(a);
}
static void check_rules(const rule *rules, size_t n, int how) {
    device d;
    size_t i;
    if (!on_cpu_device()) SKIP("only the CPU device has SIMGPU_ACCESS");
    device_open(&d);
    if (device_close_if_old(&d)) SKIP("the texts need a driver of CUDA 12.3");
    for (i = 0; i < n && d.file && !d.failed; i++) check_rule(&d, &rules[i], how);
    CHECK_EQ(reached_counts.wrong, 0);
    memset(&reached_counts, 0, sizeof reached_counts);
    device_close(&d);
}
#define CHECK_RULES(rules, how) check_rules(rules, sizeof rules / sizeof *rules, how)
/* stores 4 bytes at p[index], at q[index]; loads from q[index] */
#define ST(index) "mul.wide.s32 %d9, " index ", 4; add.s64 %d9, %d1, %d9; st.global.u32 [%d9], 1;\n"
#define ST_Q(index) \
    "mul.wide.s32 %d9, " index ", 4; add.s64 %d9, %d2, %d9; st.global.u32 [%d9], 1;\n"
#define LD(index, to) \
    "mul.wide.s32 %d9, " index ", 4; add.s64 %d9, %d2, %d9; ld.global.u32 " to ", [%d9];\n"
/* %r9: a number that only memory has: 66051 for each index */
#define DATA "ld.global.u32 %r9, [%d2];\n"

#define R(dims, n, wanted, body) \
    { __LINE__, dims, n, wanted, body }
TEST_ALONE(certain_guards) {
    static const rule rules[] = {
        R("32, 4", 0, "p+0:512:W", ST("%r4")),
        R("32, 4", 100, "p+0:400:W", "setp.lt.s32 %p1, %r4, %r5; @%p1 bra A; ret; A: " ST("%r4")),
        R("32, 4", 100, "p+0:400:W", "setp.ge.s32 %p1, %r4, %r5; @%p1 bra A; " ST("%r4") "A:"),
        R("32, 4", 100, "p+0:404:W", "setp.le.u32 %p1, %r4, %r5; @!%p1 bra A; " ST("%r4") "A:"),
        R("32, 4", 100, "p+404:108:W", "setp.gt.u32 %p1, %r4, %r5; @!%p1 bra A; " ST("%r4") "A:"),
        R("32, 4", 100, "p+0:404:W", "setp.gt.u32 %p1, %r4, %r5; @%p1 ret; " ST("%r4")),
        R("32, 4", 100, "p+400:4:W", "setp.eq.s32 %p1, %r4, %r5; @!%p1 exit; " ST("%r4")),
        R("32, 4", 100, "p+404:108:W p+0:400:W",
                "setp.ne.s32 %p1, %r4, %r5; @!%p1 bra A; " ST("%r4") "A:"),
        R("32, 4", 0, "p+0:16:W", "setp.ne.s32 %p1, %r1, 0; @%p1 bra A; " ST("%r2") "A:"),
        R("32, 4", 1000, "p+0:512:W", "setp.ge.s32 %p1, %r4, %r5; @%p1 bra A; " ST("%r4") "A:"),
        R("32, 4", 0, "", "setp.ge.s32 %p1, %r4, %r5; @%p1 bra A; " ST("%r4") "A:"),
        /* the guard of an access */
        R("32, 4", 50, "p+0:200:W p+200:312:R",
                "setp.lt.s32 %p1, %r4, %r5; mul.wide.s32 %d4, %r4, 4; add.s64 %d4, %d1, %d4; "
                "@%p1 st.u32 [%d4], 1; @!%p1 ld.u32 %r9, [%d4];"),
        /* signed and unsigned */
        R("32, 1", 0, "p+0:96:W",
                "sub.s32 %r6, %r1, 8; setp.lt.s32 %p1, %r6, 0; @%p1 bra A; " ST("%r6") "A:"),
        R("32, 1", 0, "...",
                "sub.s32 %r6, %r1, 8; setp.gt.u32 %p1, %r6, 9; @%p1 bra A; " ST("%r6") "A:"),
        R("32, 1", 0, "p+0:4:W",
                "sub.s32 %r6, %r1, 8; setp.lt.s32 %p1, %r6, 5; @%p1 " /* both signs */
                "st.u32 [%d1], 1;"),
        /* two conditions */
        R("64, 1", 40, "p+40:120:W",
                "setp.ge.s32 %p1, %r1, 10; setp.lt.and.s32 %p2, %r1, %r5, %p1; @!%p2 bra A; " ST(
                        "%r1") "A:"),
        R("64, 1", 40, "p+160:96:W p+0:40:W",
                "setp.lt.s32 %p1, %r1, 10; setp.ge.or.s32 %p2, %r1, %r5, %p1; @!%p2 bra A; " ST(
                        "%r1") "A:"),
        R("64, 1", 40, "q+40:120:W p+0:40:W p+160:96:W",
                "setp.ge.s32 %p1, %r1, 10; setp.lt.s32 %p2, %r1, %r5; and.pred %p3, %p1, %p2; "
                "@%p3 bra A; " ST("%r1") "bra B; A: " ST_Q("%r1") "B:"),
        R("64, 1", 40, "p+40:120:W",
                "setp.ge.s32 %p1, %r1, 10; not.pred %p1, %p1; setp.ge.s32 %p2, %r1, %r5; or.pred "
                "%p3, %p1, %p2; mov.pred %p4, %p3; @%p4 bra A; " ST("%r1") "A:"),
        /* xor is not followed */
        R("64, 1", 40, "q+0:4:W ...",
                "setp.ge.s32 %p1, %r1, 10; setp.ge.xor.s32 %p2, %r1, %r5, %p1; @%p2 bra A; " ST(
                        "%r1") "A: st.u32 [%d2], 1;"),
        /* and of an or */
        R("64, 1", 40, "q+0:4:W ...",
                "setp.lt.s32 %p1, %r1, 10; setp.ge.or.s32 %p2, %r1, %r5, %p1; setp.lt.and.s32 %p3, "
                "%r1, 50, %p2; @!%p3 bra A; " ST("%r1") "A: st.u32 [%d2], 1;"),
        R("64, 1", 40, "q+0:4:W ...",
                "setp.lt.s32 %p1, %r1, 10; setp.ge.or.s32 %p2, %r1, %r5, %p1; setp.lt.s32 %p3, "
                "%r1, 50; and.pred %p4, %p2, %p3; @!%p4 bra A; " ST("%r1") "A: st.u32 [%d2], 1;"),
        R("64, 1", 40, "q+0:4:W ...",
                "setp.lt.s32 %p1|%p2, %r1, 10; @%p2 st.u32 [%d1], 1; st.u32 [%d2], 1;"),
        R("64, 1", 0, "p+0:16:W p+240:16:W",
                "setp.lo.u32 %p1, %r1, 4; @%p1 bra A; setp.hs.u32 %p2, %r1, 60; "
                "@%p2 bra A; bra B; A: " ST("%r1") "B:"),
        R("64, 1", 0, "p+0:28:W",
                "cvt.u64.u32 %d4, %r1; setp.lt.u64 %p1, %d4, 7; @%p1 bra A; bra B; A: " ST(
                        "%r1") "B:"),
        /* 2x >= 31 */
        R("64, 1", 0, "p+64:192:W",
                "shl.b32 %r6, %r1, 1; setp.lt.s32 %p1, %r6, 31; @%p1 bra A; " ST("%r1") "A:"),
        /* 3x <= 31 */
        R("64, 1", 0, "p+0:44:W",
                "mul.lo.s32 %r6, %r1, 3; setp.gt.s32 %p1, %r6, 31; @%p1 bra A; " ST("%r1") "A:"),
    };
    CHECK_RULES(rules, 0);
}
TEST_ALONE(certain_grids) {
    static const rule rules[] = {
        /* rows of 64 words: x and y guarded */
        R("8 4, 3 3", 20, "p+0:80 x10/256:W",
                "mov.u32 %r6, %tid.y; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ntid.y; mad.lo.s32 %r6, "
                "%r7, %r8, %r6; setp.ge.s32 %p1, %r4, %r5; setp.ge.s32 %p2, %r6, 10; or.pred %p1, "
                "%p1, %p2; @%p1 bra A; mad.lo.s32 %r7, %r6, 64, %r4; " ST("%r7") "A:"),
        R("8 4 2, 2 2 2", 0, "p+0:64 x8/80 x4/800:W",
                "mov.u32 %r6, %tid.y; mov.u32 %r7, %ctaid.y; mad.lo.s32 %r6, %r7, 4, %r6; "
                "mov.u32 %r7, %tid.z; mov.u32 %r8, %ctaid.z; mad.lo.s32 %r7, %r8, 2, %r7; "
                "mad.lo.s32 %r8, %r7, 10, %r6; mad.lo.s32 %r8, %r8, 20, %r4; " ST("%r8")),
        /* contiguous */
        R("4 4 4, 1", 0, "p+0:256:W",
                "mov.u32 %r6, %tid.y; mov.u32 %r7, %tid.z; mad.lo.s32 %r8, %r7, 4, %r6; mad.lo.s32 "
                "%r8, %r8, 4, %r1; " ST("%r8")),
        /* more dimensions than a box has */
        R("4 4, 4 2", 0, "p+0:4 x4/8 x4/40:W ...",
                "mov.u32 %r6, %tid.y; mov.u32 %r7, %ctaid.y; mul.lo.s32 %r8, %r1, 2; mad.lo.s32 "
                "%r8, %r6, 10, %r8; mad.lo.s32 %r8, %r2, 50, %r8; mad.lo.s32 %r8, %r7, 300, "
                "%r8; " ST("%r8")),
        /* each block the same; each thread; all */
        R("8, 4", 0, "p+0:32:W", ST("%r1")),
        R("8, 4", 0, "p+0:16:W", ST("%r2")),
        R("8, 4", 0, "p+12:4:W", "st.u32 [%d1+12], 1;"),
        /* strides, also negative, and gaps */
        R("8, 1", 0, "p+0:4 x8/12:W", "mul.lo.s32 %r6, %r1, 3; " ST("%r6")),
        R("8, 1", 0, "p+372:32:W", "sub.s32 %r6, 100, %r1; " ST("%r6")),
        R("8, 4", 0, "p+552:4 x32/8:W", "sub.s32 %r6, 100, %r4; shl.b32 %r6, %r6, 1; " ST("%r6")),
        R("8, 4", 0, "p+76:4 x8/12:W", "mul.lo.s32 %r6, %r1, -3; add.s32 %r6, %r6, 40; " ST("%r6")),
        R("8, 4", 0, "p+12:44:W", "sub.s32 %r6, %r2, %r1; add.s32 %r6, %r6, 10; " ST("%r6")),
        /* blocks that overlap */
        R("8, 4", 0, "p+0:80:W", "mad.lo.s32 %r6, %r2, 4, %r1; " ST("%r6")),
        R("8, 4", 0, "p+0:128:W", "mad.lo.s32 %r6, %r1, 4, %r2; " ST("%r6")),
        /* a triangle: a part of it */
        R("8 8, 1", 0, "p+0:4 x8/32:W ...",
                "mov.u32 %r6, %tid.y; setp.gt.s32 %p1, %r1, %r6; @%p1 bra A; mad.lo.s32 %r7, %r6, "
                "8, %r1; " ST("%r7") "A:"),
        /* two conditions of two indices: none of the part is left */
        R("8 8, 1", 0, "...",
                "mov.u32 %r6, %tid.y; add.s32 %r7, %r1, %r6; setp.lt.s32 %p1, %r7, 7; @%p1 ret; "
                "sub.s32 %r7, %r6, %r1; setp.lt.s32 %p1, %r7, 3; @%p1 ret; mad.lo.s32 %r7, %r6, "
                "8, %r1; " ST("%r7")),
        /* a border */
        R("8 8, 1", 0, "...",
                "mov.u32 %r6, %tid.y; setp.eq.s32 %p1, %r1, 0; setp.eq.or.s32 %p1, %r1, 7, %p1; "
                "setp.eq.or.s32 %p1, %r6, 0, %p1; setp.eq.or.s32 %p1, %r6, 7, %p1; @%p1 ret; "
                "mad.lo.s32 %r7, %r6, 8, %r1; " ST("%r7")),
        /* the dims */
        R("32, 2", 0, "p+256:256:W",
                "mov.u32 %r6, %nctaid.x; mul.lo.s32 %r6, %r6, %r3; add.s32 %r6, %r6, %r4; " ST(
                        "%r6")),
    };
    CHECK_RULES(rules, 0);
}
#define LOOP(first, last, step, body) \
    "mov.u32 %r6, " first "; setp.ge.s32 %p1, %r6, " last "; @%p1 bra Z; L: " body \
    "add.s32 %r6, %r6, " step "; setp.lt.s32 %p1, %r6, " last "; @%p1 bra L; Z: "
#define STRIDE "mov.u32 %r7, %nctaid.x; mul.lo.s32 %r7, %r7, %r3; "
TEST_ALONE(certain_loops) {
    static const rule rules[] = {
        R("8, 1", 5, "p+0:20:W q+0:4:W", LOOP("0", "%r5", "1", ST("%r6")) "st.u32 [%d2], 1;"),
        R("8, 1", 0, "q+0:4:W", LOOP("0", "%r5", "1", ST("%r6")) "st.u32 [%d2], 1;"),
        R("8, 1", 5, "p+0:32:W p+64:32:W p+128:32:W p+192:32:W p+256:32:W",
                LOOP("0", "%r5", "1", "mad.lo.s32 %r8, %r6, 16, %r1; " ST("%r8"))),
        R("8, 1", 1000, "p+0:68:W q+0:4:W ...",
                LOOP("0", "%r5", "1", ST("%r6")) "st.u32 [%d2], 1;"),
        R("8, 1", 9, "p+12:4:W p+28:4:W", LOOP("3", "%r5", "4", ST("%r6"))),
        /* whole rounds; the last one in part; less than one */
        R("8, 2", 64, "p+0:256:W", STRIDE LOOP("%r4", "%r5", "%r7", ST("%r6"))),
        R("8, 2", 60, "p+0:240:W", STRIDE LOOP("%r4", "%r5", "%r7", ST("%r6"))),
        R("8, 2", 10, "p+0:40:W", STRIDE LOOP("%r4", "%r5", "%r7", ST("%r6"))),
        R("8, 2", 2000, "p+0:1088:W q+0:4:W ...",
                STRIDE LOOP("%r4", "%r5", "%r7", ST("%r6")) "st.u32 [%d2], 1;"),
        /* the test at the end only */
        R("8, 1", 4, "p+0:16:W",
                "mov.u32 %r6, 0; L: " ST("%r6") "add.s32 %r6, %r6, 1; setp.ne.s32 %p1, %r6, %r5; "
                                                "@%p1 bra L;"),
        /* the test at the top */
        R("8, 1", 4, "p+0:16:W q+0:4:W",
                "mov.u32 %r6, 0; L: setp.ge.s32 %p1, %r6, %r5; @%p1 bra Z; " ST(
                        "%r6") "add.s32 %r6, %r6, 1; bra.uni L; Z: st.u32 [%d2], 1;"),
        /* down */
        R("8, 1", 4, "p+0:16:W",
                "mov.u32 %r6, %r5; L: add.s32 %r6, %r6, -1; " ST(
                        "%r6") "setp.gt.s32 %p1, %r6, 0; @%p1 bra L;"),
        /* a pointer that moves */
        R("8, 1", 3, "p+0:32:W p+64:32:W p+128:32:W",
                "mov.u32 %r6, 0; mul.wide.u32 %d5, %r1, 4; add.s64 %d5, %d1, %d5; L: st.u32 [%d5], "
                "1; add.s64 %d5, %d5, 64; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra "
                "L;"),
        /* nested */
        R("8, 1", 3, "p+0:8:W p+32:8:W p+64:8:W q+0:4:W",
                LOOP("0", "%r5", "1",
                        "mov.u32 %r7, 0; M: mad.lo.s32 %r8, %r6, 8, %r7; " ST(
                                "%r8") "add.s32 %r7, %r7, 1; setp.lt.s32 %p2, %r7, 2; @%p2 bra "
                                       "M; ") "st.u32 [%d2], 1;"),
        /* the inner one depends on the outer one */
        R("8, 1", 3, "p+0:4:W p+32:8:W p+64:12:W",
                LOOP("0", "%r5", "1",
                        "mov.u32 %r7, 0; M: mad.lo.s32 %r8, %r6, 8, %r7; " ST(
                                "%r8") "add.s32 %r7, %r7, 1; setp.le.s32 %p2, %r7, %r6; @%p2 bra "
                                       "M; ")),
        /* rounds for each thread: 1 + x */
        R("8, 1", 0, "p+4:28:W p+40:24:W p+76:20:W p+112:16:W p+148:12:W p+184:8:W p+220:4:W",
                LOOP("0", "%r1", "1", "mad.lo.s32 %r8, %r6, 8, %r1; " ST("%r8"))),
        /* memory decides: the first round is certain */
        R("8, 1", 5, "q+0:4:R p+0:4:W q+4:4:W ...",
                DATA "and.b32 %r9, %r9, 3; mov.u32 %r6, 0; L: " ST(
                        "%r6") "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r9; @%p1 bra L; "
                               "st.u32 [%d2+4], 1; " ST_Q("%r6")),
        /* break and continue */
        R("8, 1", 5, "p+0:4:W p+8:4:W q+0:4:W",
                LOOP("0", "%r5", "1",
                        "setp.eq.s32 %p2, %r6, 3; @%p2 bra Z; setp.eq.s32 %p2, %r6, 1; @%p2 bra "
                        "C; " ST("%r6") "C: ") "st.u32 [%d2], 1;"),
        /* a break that memory decides */
        R("8, 1", 5, "q+0:4:R p+0:4:W q+4:4:W ...",
                DATA LOOP("0", "%r5", "1",
                        ST("%r6") "setp.eq.s32 %p2, %r9, 3; @%p2 bra Z; " ST_Q(
                                "%r6")) "st.u32 [%d2+4], 1;"),
        /* into the middle of a loop */
        R("8, 1", 3, "p+0:32:W q+0:4:W",
                "mov.u32 %r6, 0; setp.lt.s32 %p1, %r1, 4; @%p1 bra M; L: " ST(
                        "%r1") "M: add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, %r5; @%p2 bra L; "
                               "st.u32 [%d2], 1;"),
    };
    CHECK_RULES(rules, 0);
}
TEST_ALONE(certain_branches) {
    static const rule rules[] = {
        /* a branch on a loaded value: its sides are not certain, the code after both of them is */
        R("8, 1", 0, "q+0:4:R q+0:4:W ...",
                DATA "setp.eq.s32 %p1, %r9, 0; @%p1 bra A; " ST("%r1") "A: st.u32 [%d2], 1;"),
        R("8, 1", 0, "q+0:4:R q+64:4:W ...",
                DATA "setp.eq.s32 %p1, %r9, 0; @%p1 bra A; " ST("%r1") "bra B; A: " ST_Q(
                        "%r1") "B: st.u32 [%d2+64], 1;"),
        /* an exit */
        R("8, 1", 0, "q+0:4:R ...", DATA "setp.eq.s32 %p1, %r9, 0; @%p1 ret; " ST("%r1")),
        R("8, 1", 0, "q+0:4:R q+4:4:W ...",
                DATA "setp.eq.s32 %p1, %r9, 0; @%p1 st.u32 [%d1], 1; st.u32 [%d2+4], 1;"),
        /* a register that one side sets is unknown after both of them */
        R("8, 1", 0, "q+0:4:R q+4:4:W ...",
                DATA "mov.u32 %r6, %r1; setp.eq.s32 %p1, %r9, 0; @%p1 bra A; add.s32 %r6, %r6, 8; "
                     "A: " ST("%r6") "st.u32 [%d2+4], 1;"),
        /* also if both know it */
        R("8, 1", 0, "q+4:4:W ...",
                "mov.u32 %r6, %r1; setp.lt.s32 %p1, %r1, 4; @%p1 bra A; add.s32 %r6, %r6, 8; "
                "A: " ST("%r6") "st.u32 [%d2+4], 1;"),
        /* all threads go one way */
        R("8, 1", 0, "p+0:32:W",
                "mov.u32 %r6, %r1; setp.lt.s32 %p1, %r1, 9; @%p1 bra A; add.s32 %r6, "
                "%r6, 8; A: " ST("%r6")),
        /* with a guard */
        R("8, 1", 0, "q+4:4:W ...",
                "mov.u32 %r6, %r1; setp.lt.s32 %p1, %r1, 4; @%p1 add.s32 %r6, %r6, 8; " ST(
                        "%r6") "st.u32 [%d2+4], 1;"),
        /* and with one that holds for all, or for none */
        R("8, 1", 0, "p+32:32:W",
                "mov.u32 %r6, %r1; setp.lt.s32 %p1, %r1, 9; @%p1 add.s32 %r6, %r6, 8; @!%p1 "
                "mov.u32 %r6, 0; " ST("%r6")),
        /* nested */
        R("8 2, 1", 0, "q+0:12:W p+12:20:W p+64:4:W q+64:4:W",
                "mov.u32 %r6, %tid.y; setp.eq.s32 %p1, %r6, 0; @%p1 bra A; setp.lt.s32 %p2, %r1, "
                "3; @%p2 bra B; " ST("%r1") "bra C; B: " ST_Q("%r1") "C: st.u32 [%d1+64], 1; A: "
                                                                     "st.u32 [%d2+64], 1;"),
        /* both sides end */
        R("8, 1", 0, "q+0:12:W p+12:20:W",
                "setp.lt.s32 %p1, %r1, 3; @%p1 bra A; " ST("%r1") "ret; A: " ST_Q("%r1") "ret;"),
        /* a switch */
        R("8, 1", 0, "p+0:4:W p+16:4:W p+32:4:W p+64:4:W q+0:32:W",
                "setp.eq.s32 %p1, %r1, 0; @%p1 bra A; setp.eq.s32 %p1, %r1, 1; @%p1 bra B; "
                "setp.eq.s32 %p1, %r1, 2; @%p1 bra C; st.u32 [%d1+64], 1; bra E; A: st.u32 [%d1], "
                "1; bra E; B: st.u32 [%d1+16], 1; C: st.u32 [%d1+32], 1; E: " ST_Q("%r1")),
        /* of a number that all threads have */
        R("8, 1", 2, "p+32:4:W q+0:32:W",
                "setp.eq.s32 %p1, %r5, 0; @%p1 bra A; setp.eq.s32 %p1, %r5, 1; @%p1 bra B; "
                "setp.eq.s32 %p1, %r5, 2; @%p1 bra C; st.u32 [%d1+64], 1; bra E; A: st.u32 [%d1], "
                "1; bra E; B: st.u32 [%d1+16], 1; C: st.u32 [%d1+32], 1; E: " ST_Q("%r1")),
        /* code that is never reached; labels of inner scopes */
        R("8, 1", 0, "p+0:32:W", "bra B; A: " ST_Q("%r1") "bra A; B: " ST("%r1")),
        R("8, 1", 0, "p+0:32:W", ST("%r1") "ret; A: " ST_Q("%r1")),
        R("8, 1", 0, "no steps",
                "{ setp.lt.s32 %p1, %r1, 3; @%p1 bra A; " ST("%r1") "A: } { setp.lt.s32 %p1, %r1, "
                                                                    "3; @%p1 bra A; " ST_Q(
                                                                            "%r1") "A: }"),
        R("8, 1", 0, "p+12:4:W q+0:32:W",
                "{ .reg .b32 %r1; mov.u32 %r1, 3; " ST("%r1") "} " ST_Q("%r1")),
        /* an instruction that is not followed */
        R("8, 1", 0, "q+0:32:W ...",
                "brev.b32 %r6, %r1; setp.lt.s32 %p1, %r6, 4; @%p1 bra A; " ST("%r1") "A: " ST_Q(
                        "%r1")),
        R("8, 1", 0, "p+0:32:W", "bar.sync 0; " ST("%r1") "membar.gl;"),
    };
    CHECK_RULES(rules, 0);
}
/* They would not end, or fail. */
TEST_ALONE(certain_branches_that_do_not_run) {
    static const rule rules[] = {
        R("8, 1", 0, "p+12:20:W q+12:20:W",
                "setp.lt.s32 %p1, %r1, 3; @%p1 bra A; " ST("%r1") "bra B; A: trap; B: " ST_Q(
                        "%r1")),
        R("8, 1", 0, "q+0:4:R ...",
                DATA "setp.eq.s32 %p1, %r9, 0; @%p1 bra A; bra B; A: trap; B: " ST("%r1")),
        R("8, 1", 0, "p+0:32:W ...", ST("%r1") "L: bra L;"),
        R("8, 1", 0, "p+0:32:W q+0:32:W ...", ST("%r1") "L: " ST_Q("%r1") "bra L;"),
        /* no end: neither side is certain */
        R("8, 1", 0, "q+0:4:R ...",
                "L: ld.volatile.u32 %r9, [%d2]; setp.eq.s32 %p1, %r9, 0; @%p1 bra A; " ST(
                        "%r1") "bra L; A: " ST_Q("%r1") "bra L;"),
        R("8, 1", 0, "q+0:4:R p+0:32:W ...",
                DATA "setp.eq.s32 %p1, %r9, 0; @%p1 bra L; " ST("%r1") "ret; L: bra L;"),
        /* waits */
        R("8, 1", 0, "q+0:4:R p+0:32:W ...",
                "L: ld.volatile.u32 %r9, [%d2]; setp.eq.s32 %p1, %r9, 0; @%p1 bra L; " ST("%r1")),
        R("8, 1", 0, "no steps",
                "{ .reg .b32 %a; ts: .branchtargets A, B; brx.idx %r1, ts; } A: " ST("%r1") "B:"),
    };
    CHECK_RULES(rules, RULE_BEFORE_RUNS);
}
TEST_ALONE(certain_numbers) {
    static const rule rules[] = {
        /* clamps */
        R("64, 1", 0, "p+0:256:W", "min.s32 %r6, %r1, 100; " ST("%r6")),
        R("64, 1", 0, "q+0:4:W ...", "min.s32 %r6, %r1, 10; " ST("%r6") "st.u32 [%d2], 1;"),
        R("64, 1", 0, "p+20:4:W", "sub.s32 %r6, %r1, 80; max.s32 %r6, %r6, 5; " ST("%r6")),
        R("64, 1", 0, "p+20:4:W", "sub.s32 %r6, %r1, 80; min.u32 %r6, %r6, 5; " ST("%r6")),
        R("64, 1", 7, "p+0:256:W",
                "setp.lt.s32 %p1, %r5, 9; selp.b32 %r6, %r1, 3, %p1; " ST("%r6")),
        R("64, 1", 7, "...", "setp.lt.s32 %p1, %r1, 9; selp.b32 %r6, %r1, 3, %p1; " ST("%r6")),
        R("64, 1", 7, "p+0:4:W",
                "setp.lt.s32 %p1, %r1, 9; selp.b32 %r6, %r2, %r2, %p1; " ST("%r6")),
        R("64, 1", -7, "...", "min.relu.s32 %r6, %r5, 5; " ST("%r6")),
        R("64, 1", -7, "...", "add.sat.s32 %r6, %r5, 0x7fffffff; and.b32 %r6, %r6, 15; " ST("%r6")),
        R("64, 1", 65535, "...", "add.u16x2 %r6, %r5, 1; " ST("%r6")),
        /* 32 bits wrap around */
        R("64, 1", 0xfffffff0ll, "p+0:256:W",
                "add.u32 %r6, %r5, 16; add.u32 %r6, %r6, %r1; " ST("%r6")),
        R("64, 1", 0xfffffff0ll, "p+0:256:W",
                "add.u32 %r6, %r5, %r1; add.u32 %r6, %r6, 16; " ST("%r6")),
        R("64, 1", 0, "...",
                "sub.s32 %r6, %r1, 5; mul.wide.u32 %d4, %r6, 4; setp.gt.u32 %p1, %r6, "
                "100; @%p1 ret; add.s64 %d4, %d1, %d4; st.u32 [%d4], 1;"),
        R("64, 1", 0, "p+0:256:W",
                "sub.s32 %r6, %r1, 5; mul.wide.s32 %d4, %r6, 4; add.s64 %d4, %d4, %d1; "
                "st.u32 [%d4+20], 1;"),
        R("64, 1", 0, "...", "shl.b32 %r6, %r1, 30; shr.u32 %r6, %r6, 30; " ST("%r6")),
        R("4, 1", 0, "p+0:4 x4/16:W", "shl.b32 %r6, %r1, 30; shr.u32 %r6, %r6, 28; " ST("%r6")),
        R("64, 1", 0x10000, "p+0:256:W",
                "mul.lo.u32 %r6, %r5, %r5; add.u32 %r6, %r6, %r1; " ST("%r6")),
        R("64, 1", 0x10001, "p+4:256:W",
                "mul.wide.u32 %d4, %r5, %r5; shr.u64 %d4, %d4, 32; cvt.u32.u64 "
                "%r6, %d4; add.u32 %r6, %r6, %r1; " ST("%r6")),
        R("64, 1", 0x7fffffff, "p+0:256:W",
                "add.s32 %r6, %r5, 1; setp.lt.s32 %p1, %r6, 0; @%p1 bra A; "
                "ret; A: " ST("%r1")),
        /* bits */
        R("64, 1", 0, "p+0:256:W", "and.b32 %r6, %r1, 63; " ST("%r6")),
        R("64, 2", 0, "q+0:4:W ...", "and.b32 %r6, %r1, 31; " ST("%r6") "st.u32 [%d2], 1;"),
        R("64, 2", 0, "q+0:4:W ...", "and.b32 %r6, %r4, -64; " ST("%r6") "st.u32 [%d2], 1;"),
        R("16, 4", 0, "p+0:256:W", "shl.b32 %r6, %r2, 4; or.b32 %r6, %r6, %r1; " ST("%r6")),
        R("16, 4", 0, "...", "shl.b32 %r6, %r2, 4; xor.b32 %r6, %r1, %r6; " ST("%r6")),
        R("17, 4", 0, "...", "shl.b32 %r6, %r2, 4; or.b32 %r6, %r6, %r1; " ST("%r6")),
        R("16, 1", 0, "...", "xor.b32 %r6, %r1, 15; " ST("%r6")),
        R("16, 1", 0, "...", "xor.b32 %r6, %r1, 16; " ST("%r6")),
        R("16, 1", 0, "p+16:64:W", "not.b32 %r6, %r1; add.s32 %r6, %r6, 20; " ST("%r6")),
        R("16, 1", 0, "p+20:64:W", "neg.s32 %r6, %r1; add.s32 %r6, %r6, 20; " ST("%r6")),
        R("16, 1", 0, "p+48:4:W", "and.b32 %r6, %r1, 0; or.b32 %r6, %r6, 12; " ST("%r6")),
        R("16, 4", 0, "p+0:4:W", "shl.b32 %r6, %r4, 3; and.b32 %r6, %r6, 7; " ST("%r6")),
        R("16, 1", 3, "p+0:4 x16/32:W", "shl.b32 %r6, %r1, %r5; " ST("%r6")),
        R("16, 1", 35, "...", "shl.b32 %r6, %r1, %r5; " ST("%r6")),
        /* quotients and remainders */
        R("16, 4", 0, "p+0:4:W", "div.u32 %r6, %r4, 64; " ST("%r6")),
        R("16, 4", 0, "p+0:256:W", "rem.u32 %r6, %r4, 64; " ST("%r6")),
        R("16, 4", 0, "p+0:256:W", "shl.b32 %r6, %r4, 2; div.s32 %r6, %r6, 4; " ST("%r6")),
        R("16, 4", 0, "p+0:256:W", "shl.b32 %r6, %r4, 2; shr.s32 %r6, %r6, 2; " ST("%r6")),
        R("16, 4", 0, "p+0:4 x64/8:W", "shl.b32 %r6, %r4, 2; shr.u32 %r6, %r6, 1; " ST("%r6")),
        R("16, 4", 0, "q+0:4:W ...", "div.u32 %r6, %r4, 10; " ST("%r6") "st.u32 [%d2], 1;"),
        R("16, 4", 0, "q+0:4:W ...", "rem.u32 %r6, %r4, 10; " ST("%r6") "st.u32 [%d2], 1;"),
        R("16, 4", 7, "...",
                "sub.s32 %r6, %r1, 20; div.s32 %r6, %r6, 5; neg.s32 %r6, %r6; " ST("%r6")),
        R("16, 4", 103, "p+52:64:W",
                "div.s32 %r6, %r5, 10; rem.s32 %r7, %r5, 10; add.s32 %r6, %r6, %r7; "
                "add.s32 %r6, %r6, %r1; " ST("%r6")),
        R("16, 4", -103, "...", "div.s32 %r6, %r5, 10; add.s32 %r6, %r6, 20; " ST("%r6")),
        R("16, 4", 0, "...", "shr.s32 %r6, %r5, %r1; " ST("%r6")),
        R("16, 4", 13, "p+60:4:W", "sub.s32 %r6, 5, %r5; shr.u32 %r6, %r6, 28; " ST("%r6")),
        R("16, 4", -16, "...", "shr.s32 %r6, %r5, 28; and.b32 %r6, %r6, 31; " ST("%r6")),
        R("16, 4", 0x10000, "q+0:4:W ...",
                "mul.hi.u32 %r6, %r5, %r5; " ST("%r6") "st.u32 [%d2], 1;"),
        R("16, 4", 0x10000, "q+0:4:W ...",
                "mad.hi.u32 %r6, %r5, %r5, %r1; " ST("%r6") "st.u32 [%d2], 1;"),
        R("16, 4", 0, "q+0:4:W ...", "mul.hi.u32 %r6, %r1, %r1; " ST("%r6") "st.u32 [%d2], 1;"),
        /* narrow numbers */
        R("64, 5", 0, "q+0:4:W ...",
                "cvt.u8.u32 %h1, %r4; cvt.u32.u8 %r6, %h1; " ST("%r6") "st.u32 [%d2], 1;"),
        R("64, 4", 0, "p+0:1024:W", "cvt.u8.u32 %h1, %r4; cvt.u32.u8 %r6, %h1; " ST("%r6")),
        R("64, 4", 0, "p+0:1024:W", "cvt.u32.u8 %r6, %r4; " ST("%r6")),
        R("64, 1", 0, "p+0:256:W", "cvt.s8.u32 %h1, %r4; cvt.s32.s8 %r6, %h1; " ST("%r6")),
        R("64, 1", -3, "p+1012:4:W", "cvt.u8.u32 %h1, %r5; cvt.u32.u16 %r6, %h1; " ST("%r6")),
        R("64, 1", -3, "p+12:4:W",
                "cvt.s8.u32 %h1, %r5; cvt.s32.s16 %r6, %h1; neg.s32 %r6, %r6; " ST("%r6")),
        R("64, 1", 0x10004, "p+48:4:W",
                "cvt.u16.u32 %h1, %r5; mul.wide.u16 %r6, %h1, 3; " ST("%r6")),
        R("64, 1", 0, "p+0:4 x64/8:W",
                "cvt.u16.u32 %h1, %r1; mul.lo.u16 %h1, %h1, 2; cvt.u32.u16 %r6, %h1; " ST("%r6")),
        R("64, 1", 0, "q+0:4:W ...",
                "cvt.u16.u32 %h1, %r1; mul.lo.u16 %h1, %h1, 2000; cvt.u32.u16 %r6, %h1; "
                "and.b32 %r6, %r6, 255; " ST("%r6") "st.u32 [%d2], 1;"),
        R("64, 1", -4, "p+16:4:W",
                "cvt.s64.s32 %d4, %r5; neg.s64 %d4, %d4; cvt.u32.u64 %r6, %d4; " ST("%r6")),
        R("64, 1", 4, "q+0:4:W ...",
                "cvt.rn.f32.s32 %f1, %r5; cvt.rzi.s32.f32 %r6, %f1; " ST("%r6") "st.u32 [%d2], 1;"),
        R("64, 1", 4, "p+0:256:W", "mov.b32 %f1, %r1; mov.b32 %r6, %f1; " ST("%r6")),
        R("64, 1", 0, "p+1:1 x64/12:W",
                "cvt.u64.u32 %d4, %r1; mul.lo.s64 %d4, %d4, 12; add.s64 %d4, %d1, %d4; "
                "st.u8 [%d4+1], 1;"),
        R("64, 1", 0, "p+0:512:W", "mad.wide.u32 %d4, %r1, 8, %d1; st.u64 [%d4], %d3;"),
        R("64, 1", 0, "...",
                "mov.b64 %d4, {%r1, %r2}; shl.b64 %d4, %d4, 2; add.s64 %d4, %d4, %d1; st.u32 "
                "[%d4], 1;"),
        R("64, 1", 0, "q+0:4:W ...", "mov.u32 %r6, %laneid; " ST("%r6") "st.u32 [%d2], 1;"),
        R("32, 1", 0, "q+0:4:W ...",
                "mov.u64 %d4, k; setp.ne.u64 %p1, %d4, 0; @%p1 st.u32 [%d1], 1; st.u32 [%d2], 1;"),
    };
    CHECK_RULES(rules, 0);
}
TEST_ALONE(certain_accesses) {
    static const rule rules[] = {
        R("8, 1", 0, "p+0:128:R p+128:8 x8/16:W p+256:128:W",
                "mul.wide.u32 %d4, %r1, 16; add.s64 %d4, %d1, %d4; ld.global.v4.u32 {%r6, %r7, "
                "%r8, %r9}, [%d4]; "
                "st.v2.u32 [%d4+128], {%r6, %r7}; st.global.v2.u64 [%d4+256], {%d1, %d2};"),
        R("8, 1", 0, "p+0:1 x8/3:R p+64:1 x8/3:W",
                "mul.wide.u32 %d4, %r1, 3; add.s64 %d4, %d1, %d4; ld.u8 %h1, [%d4]; st.s8 "
                "[%d4+64], %h1; "),
        R("8, 1", 0, "p+0:16:R p+64:16:W",
                "mul.wide.u32 %d4, %r1, 2; add.s64 %d4, %d1, %d4; ld.u16 %h1, [%d4]; st.b16 "
                "[%d4+64], %h1;"),
        R("8, 1", 0, "p+0:4:R p+4:4:R p+8:4:R p+16:8:R",
                "ld.global.nc.f32 %f1, [%d1]; ld.volatile.f32 %f2, [%d1+4]; ldu.global.u32 %r9, "
                "[%d1+8]; ld.global.f64 %d4, [%d1+16];"),
        R("8, 1", 0, "p+4:12:RW q+0:12:RW",
                "atom.global.add.u32 %r6, [%d1+4], 1; red.add.u64 [%d1+8], 1; atom.cas.b64 %d4, "
                "[%d2], 5, 6; atom.exch.b32 %r6, [%d2+8], 1;"),
        R("8, 1", 0, "p+0:4:RW q+0:4:RW",
                "red.global.add.f32 [%d1], 0f3f800000; atom.relaxed.gpu.global.max.s32 %r6, [%d2], "
                "%r1;"),
        R("8, 1", 0, "p+0:4:RW q+0:4:RW",
                "setp.lt.s32 %p1, %r1, 4; @%p1 atom.add.u32 %r6, [%d1], 1; @!%p1 red.add.u32 "
                "[%d2], 1;"),
        R("8, 1", 0, "p+0:128:R",
                ".shared .align 16 .b8 s[256]; mov.u32 %r6, s; shl.b32 %r7, %r1, 4; add.u32 %r6, "
                "%r6, %r7; mul.wide.u32 %d4, %r1, 16; "
                "add.s64 %d4, %d1, %d4; cp.async.cg.shared.global [%r6], [%d4], 16; "
                "cp.async.wait_all; ld.shared.u32 %r8, [%r6]; st.shared.u32 [%r6], 1;"),
        R("8, 1", 3, "q+0:4:W ...",
                ".shared .align 16 .b8 s[256]; mov.u32 %r6, s; cp.async.ca.shared.global [%r6], "
                "[%d1], 8, %r5; cp.async.wait_all; st.u32 [%d2], 1;"),
        /* variables */
        R("8, 1", 0, "v+8:4:W v+0:4:R", "st.global.u32 [v+8], 1; ld.global.u32 %r6, [v];"),
        R("8, 1", 0, "v+32:32:W",
                "mov.u64 %d4, v; cvta.global.u64 %d5, %d4; mul.wide.u32 %d6, %r1, 4; add.s64 %d5, "
                "%d5, %d6; st.u32 [%d5+32], 1;"),
        R("8, 1", 0, "v+12:4:R", "mov.u64 %d4, v+16; ld.global.u32 %r6, [%d4+-4];"),
        R("8, 1", 0, "v+0:4:R p+4:4:W",
                "ld.global.u32 %r6, [v]; { .reg .b64 v; mov.u64 v, %d1; st.u32 [v+4], 1; }"),
        R("8, 1", 0, "p+4:4:W v+0:4:R",
                "{ .reg .b64 v; mov.u64 v, %d1; st.u32 [v+4], 1; } ld.global.u32 %r6, [v];"),
        /* the lower ends of pointers */
        R("8, 1", 0, "p+8:60:W",
                "add.s64 %d4, %d1, 64; mul.wide.s32 %d5, %r1, -4; add.s64 %d4, %d4, %d5; st.u32 "
                "[%d4], 1; st.u32 [%d4+-28], 1;"),
        R("8, 1", 0, "p+4:4:W p+64:4:W",
                "or.b64 %d4, %d1, 4; st.u32 [%d4], 1; and.b64 %d4, %d4, -8; st.u32 [%d4+64], 1;"),
        R("8, 1", 0, "q+0:4:W", "sub.s64 %d4, %d2, %d1; add.s64 %d4, %d4, %d1; st.u32 [%d4], 1;"),
        R("8, 1", 0, "p+0:8:R q+64:4:W ...",
                "ld.global.u64 %d4, [%d1]; and.b64 %d4, %d4, 12; add.s64 %d4, %d4, %d2; st.u32 "
                "[%d4], 1; st.u32 [%d2+64], 1;"),
        R("8, 1", 0, "q+0:4:W ...",
                ".local .align 8 .b8 l[64]; st.local.u64 [l], %d1; ld.local.u64 %d4, [l]; st.u32 "
                "[%d4], 1; st.u32 [%d2], 1;"),
        R("8, 1", 0, "q+0:4:W ...",
                ".local .align 8 .b8 l[64]; mov.u64 %d4, l; cvta.local.u64 %d4, %d4; st.u64 [%d4], "
                "%d1; st.u32 [%d2], 1;"),
        R("8, 1", 0, "p+0:4:W", "prefetch.global.L2 [%d2]; st.u32 [%d1], 1;"),
        /* what may be anything */
        R("8, 1", 0, "p+0:4:W",
                "{ .param .b64 a; st.param.b64 [a], %d1; .param .b64 b; st.param.b64 [b], %d2; } "
                "st.u32 [%d1], 1;"),
        R("8, 1", 0, "q+0:8:R ...",
                ".pragma \"used_bytes_mask 0xff0f\"; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d1]; "
                "ld.global.v2.u32 {%r6, %r7}, [%d2];"),
        R("8, 1", 0, "p+0:16:R", "ld.global.v4.u32 {%r6, _, _, %r9}, [%d1];"),
        /* many boxes */
        R("2, 1", 0, "p+0:2:W p+2:1:W p+8:1:W p+1:1:R",
                "st.u8 [%d1], 1; st.u8 [%d1+2], 1; st.u8 [%d1+1], 1; st.u8 [%d1+8], 1; ld.u8 %h1, "
                "[%d1+1];"),
    };
    CHECK_RULES(rules, 0);
}
/* Whole texts with kernels k(p, q, n). */
TEST_ALONE(certain_functions_and_parameters) {
    static const rule rules[] = {
        R("8, 1", 0, "q+64:4:W ...",
                ".func (.param .b32 r) f(.param .b64 a) {" REGISTERS
                "ld.param.u64 %d1, [a]; st.u32 [%d1], 1; st.param.b32 [r], 3; ret; }\n"
                ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 n) {" REGISTERS
                "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; { .param .b64 x; st.param.b64 [x], "
                "%d1; .param .b32 y; call (y), f, (x); ld.param.b32 %r1, [y]; } "
                "mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d2, %d3; st.u32 [%d3], 1; st.u32 "
                "[%d2+64], 1; ret; }"),
        /* words of a struct; signs */
        R("8, 1", 7, "p+28:4:W q+0:4:W",
                ".visible .entry k(.param .align 8 .b8 s[16], .param .align 8 .b8 t[8]) {" REGISTERS
                "ld.param.v2.u64 {%d1, %d2}, [s]; ld.param.u8 %r1, [t]; ld.param.s8 %r2, [t+1]; "
                "mad.wide.u32 %d3, %r1, 4, %d1; st.u32 [%d3], 1; mad.wide.s32 %d3, %r2, 4, %d2; "
                "st.u32 [%d3], 1; ret; }"),
        R("8, 1", 0x0203, "q+12:4:W q+80:4:R",
                ".visible .entry k(.param .align 8 .b8 s[16], .param .align 8 .b8 t[8]) {" REGISTERS
                "ld.param.u64 %d2, [s+8]; ld.param.u16 %h1, [t]; ld.param.u8 %r2, [t+1]; "
                "cvt.u32.u16 %r1, %h1; sub.s32 %r1, %r1, 512; "
                "mad.wide.u32 %d3, %r1, 4, %d2; st.u32 [%d3], 1; mad.wide.s32 %d3, %r2, 8, %d2; "
                "ld.u32 %r3, [%d3+64]; ret; }"),
        /* a parameter's address */
        R("8, 1", 0, "q+0:4:W ...",
                ".visible .entry k(.param .align 8 .b8 s[16], .param .u64 n) {" REGISTERS
                "mov.b64 %d1, s; cvta.param.u64 %d1, %d1; ld.u64 %d2, [%d1]; st.u32 [%d2], 1; "
                "ld.param.u64 %d3, [s+8]; st.u32 [%d3], 1; ret; }"),
    };
    CHECK_RULES(rules, RULE_IS_TEXT);
}

/* ---- compared with the CPU device ---- */

enum { MOST_TEXTS = 200, MOST_ITEMS = 600, MOST_NEVER = 400 };
static struct gxi_accesses *texts[MOST_TEXTS];
static char sources[MOST_TEXTS][80]; /* of each text: its path before .sm_90 */
static int texts_count;
static struct counts {
    int kernels, written, found, unknown, indirect, wrong, read, missed;
} counted;
/* what has WRITE: whether it was ever written */
static struct never {
    char name[100];
    int seen;
} nevers[MOST_NEVER];
static int nevers_count;

typedef struct item { /* of a line */
    const char *name; /* of a variable, or NULL */
    int argument, group;
    size_t offset;
    unsigned seen, known;
} item;
static int read_items(char *line, item *items) {
    int n = 0;
    char *at, *end;
    for (at = strtok(line, " "); at && n < MOST_ITEMS; at = strtok(NULL, " "), n++) {
        char *group = strrchr(at, '@'), *use = strrchr(at, ':');
        memset(&items[n], 0, sizeof *items);
        if (!CHECK(group && use)) return n;
        *group = 0;
        items[n].group = atoi(group + 1);
        items[n].seen = (strchr(use, 'r') ? GXI_ACCESS_READ : 0u) |
                (strchr(use, 'w') ? GXI_ACCESS_WRITE : 0u);
        items[n].argument = (int)strtol(at, &end, 10);
        if (end != at && *end == '+') items[n].offset = (size_t)atoi(end + 1);
        else items[n].name = at;
    }
    return n;
}
static unsigned known_of(const struct gxi_access_kernel *k, const item *it) {
    size_t i;
    for (i = 0; it->name && i < k->variable_count; i++)
        if (!strcmp(k->variables[i].name, it->name)) return k->variables[i].bits;
    for (i = 0; !it->name && i < k->use_count; i++)
        if (k->uses[i].argument == it->argument && k->uses[i].offset == it->offset)
            return k->uses[i].bits;
    return 0;
}
static void note_write(const char *kernel, const item *it) {
    char name[sizeof nevers->name];
    int i = 0;
    if (it->name) snprintf(name, sizeof name, "%s %s", kernel, it->name);
    else snprintf(name, sizeof name, "%s %d+%d", kernel, it->argument, (int)it->offset);
    while (i < nevers_count && strcmp(nevers[i].name, name)) i++;
    if (i == nevers_count && nevers_count < MOST_NEVER) strcpy(nevers[nevers_count++].name, name);
    nevers[i].seen |= (it->seen & GXI_ACCESS_WRITE) != 0;
}
/* One launch: what was done to each allocation must be known about one of the pointers to it, or
   unknown, or be done through pointers from memory. */
static void compare(const struct gxi_access_kernel *k, item *items, int n) {
    int i, j;
    for (i = 0; i < n; i++) items[i].known = known_of(k, &items[i]);
    for (i = 0; i < n; i++) {
        const unsigned seen = items[i].seen;
        unsigned known = k->unknown ? (unsigned)GXI_ACCESS_UNKNOWN : 0, others = 0;
        for (j = 0; j < n; j++)
            if (items[j].group == items[i].group) {
                known |= items[j].known;
                others += j != i;
            }
        if (!others && items[i].known & GXI_ACCESS_WRITE) note_write(k->name, &items[i]);
        counted.read += seen == GXI_ACCESS_READ;
        if (seen & GXI_ACCESS_READ && !(known & (GXI_ACCESS_READ | GXI_ACCESS_UNKNOWN)) &&
                !(k->indirect & GXI_ACCESS_READ)) {
            counted.missed++;
            if (test_fail_at(__FILE__, __LINE__))
                printf("%s reads %d+%d or %s\n", k->name, items[i].argument, (int)items[i].offset,
                        items[i].name ? items[i].name : "-");
        }
        if (!(seen & GXI_ACCESS_WRITE)) continue;
        counted.written++;
        if (known & GXI_ACCESS_WRITE) counted.found++;
        else if (known & GXI_ACCESS_UNKNOWN) counted.unknown++;
        else if (k->indirect & GXI_ACCESS_WRITE) counted.indirect++;
        else {
            counted.wrong++;
            if (test_fail_at(__FILE__, __LINE__))
                printf("%s writes %d+%d or %s\n", k->name, items[i].argument, (int)items[i].offset,
                        items[i].name ? items[i].name : "-");
        }
    }
}
/* Kernels of the texts that no line has. */
static int count_idle(const char *path) {
    int idle = 0, t;
    for (t = 0; t < texts_count; t++) {
        size_t i;
        for (i = 0; i < texts[t]->count; i++) {
            char *line = NULL;
            const char *name = texts[t]->kernels[i].name;
            const size_t n = strlen(name);
            FILE *f = fopen(path, "r");
            size_t room = 0;
            int ran = 0;
            while (f && !ran && getline(&line, &room, f) > 0)
                ran = !strncmp(line, name, n) && (line[n] == ' ' || line[n] == '\n');
            free(line);
            if (f) fclose(f);
            if (!ran && getenv("TEST_VERBOSE")) printf("  not run: %s\n", name);
            idle += !ran;
        }
    }
    return idle;
}
/* What a kernel did with the bytes, with each text of one source. 0: it differs from one. */
static int compare_bytes(const char *source, const char *kernel, const char *line) {
    int t, ok = 1;
    for (t = 0; t < texts_count; t++) {
        const struct gxi_access_kernel *k = gxi_access_find(texts[t], kernel);
        char *copy;
        if (!k || strcmp(sources[t], source)) continue;
        copy = strdup(line);
        ok &= reached_compare(k, copy);
        free(copy);
    }
    return ok;
}
/* The same with all sources: one of them must agree, as two may have a kernel of that name. */
static void compare_sources(const char *kernel, const char *line) {
    const char *first = NULL;
    int t, ok = 0;
    for (t = 0; t < texts_count && !ok; t++) {
        const struct reached_counts before = reached_counts;
        if (!gxi_access_find(texts[t], kernel) || (t && !strcmp(sources[t], sources[t - 1])))
            continue;
        if (!first) first = sources[t];
        reached_quiet = 1;
        ok = compare_bytes(sources[t], kernel, line);
        reached_quiet = 0;
        if (!ok) reached_counts = before;
    }
    if (!ok && first) compare_bytes(first, kernel, line);
}
/* Whether the line is new: programs repeat launches. Two lines rarely have the same hash. */
static int is_new(const char *line) {
    static uint64_t known[1 << 16];
    const uint64_t hash = gxi_hash_bytes(line, strlen(line)) | 1;
    size_t at = hash >> 40 & 0xFFFF, tries = 0;
    while (known[at] && known[at] != hash && tries++ < 100) at = (at + 1) & 0xFFFF;
    if (known[at] == hash) return 0;
    known[at] = hash;
    return 1;
}
/* All lines of the file, with each text that has such a kernel. */
static void compare_all(const char *path) {
    static item items[MOST_ITEMS];
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    int t;
    while (f && getline(&line, &room, f) > 0) {
        char *rest, *bytes, *copy;
        int known = 0;
        const int is_first = is_new(line);
        line[strcspn(line, "\n")] = 0;
        if (!CHECK((bytes = strstr(line, " | ")) != NULL)) continue;
        *bytes = 0;
        bytes += 3;
        rest = line + strcspn(line, " ");
        if (*rest) *rest++ = 0;
        for (t = 0; t < texts_count; t++) {
            const struct gxi_access_kernel *k = gxi_access_find(texts[t], line);
            if (!k) continue;
            copy = strdup(rest);
            compare(k, items, read_items(copy, items));
            free(copy);
            known = 1;
        }
        if (is_first) compare_sources(line, bytes);
        counted.kernels += known;
    }
    free(line);
    if (f) fclose(f);
}
static void load_texts(const char *pattern) {
    glob_t files;
    size_t i, bytes;
    CHECK_EQ(glob(pattern, 0, NULL, &files), 0);
    for (i = 0; i < files.gl_pathc && texts_count < MOST_TEXTS; i++) {
        char *text = read_file(files.gl_pathv[i], &bytes);
        texts[texts_count] = gxi_access_analyse(text, bytes);
        snprintf(sources[texts_count], sizeof *sources, "%s", files.gl_pathv[i]);
        sources[texts_count][strcspn(sources[texts_count], ".")] = 0;
        if (CHECK(texts[texts_count] != NULL)) texts_count++;
        free(text);
    }
    globfree(&files);
}
/* Runs programs beside this one, and compares what their kernels did with these texts.
   mandelbrot_live has its own kernel draw. */
static void run_and_compare(const char *pattern, const char *programs) {
    char path[] = "/tmp/gpuexec_access.XXXXXX", command[400], own[4000] = "";
    const int file = mkstemp(path);
    int i;
    char *slash;
    if (!CHECK(file >= 0 && readlink("/proc/self/exe", own, sizeof own - 1) > 0)) return;
    close(file);
    if ((slash = strrchr(own, '/')) != NULL) *slash = 0;
    setenv("ACCESS_PROGRAMS", own, 1);
    setenv("SIMGPU_ACCESS", path, 1);
    snprintf(command, sizeof command,
            "for x in $(cd \"$ACCESS_PROGRAMS\" && ls %s); do case $x in *.d|*timeline*|*_live) ;; "
            "*) "
            "\"$ACCESS_PROGRAMS/$x\" ;; esac; done >/dev/null 2>&1 </dev/null; true",
            programs);
    memset(&counted, 0, sizeof counted);
    nevers_count = 0;
    load_texts(pattern);
    CHECK_EQ(system(command), 0);
    unsetenv("SIMGPU_ACCESS");
    compare_all(path);
    printf("%s: %d kernels did not run, %d launches; written %d: found %d, unknown %d, through "
           "memory %d, wrong %d; only "
           "read %d: not found %d\n",
            pattern, count_idle(path), counted.kernels, counted.written, counted.found,
            counted.unknown, counted.indirect, counted.wrong, counted.read, counted.missed);
    print_counts("  bytes");
    for (i = 0; i < nevers_count; i++)
        if (!nevers[i].seen) printf("  never written: %s\n", nevers[i].name);
    CHECK_EQ(counted.wrong, 0);
    while (texts_count) gxi_access_free(texts[--texts_count]);
    unlink(path);
}
/* Programs that are not built are left out. The last ones take long: they launch many kernels. */
TEST(what_kernels_do) {
    if (!on_cpu_device()) SKIP("only the CPU device has SIMGPU_ACCESS");
    run_and_compare("tests/device/corpus/ptx/*.ptx", "corpus");
    if (!counted.kernels) SKIP("the suite corpus is not built");
    run_and_compare("kernels/*.ptx", "kernels");
    if (!getenv("ACCESS_ALL")) return; /* two minutes */
    run_and_compare("kernels/*.ptx", "params launch ../examples/*[a-z]");
    run_and_compare("tests/device/unit/cdp.ptx", "cdp");
    run_and_compare("tests/device/unit/clusters.ptx", "clusters");
    run_and_compare("tests/device/unit/schedules.ptx", "schedules");
}
