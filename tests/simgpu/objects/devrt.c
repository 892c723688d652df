/* devrt.c - CUDA's device runtime library, libcudadevrt.a. The one of CUDA is machine code for
   GPUs; a link accepts it and takes nothing from it. This device has its own: nested.c, and here,
   in PTX, what synchronizes a grid from a function that is linked (CUDA's headers compile that
   inline), and what sets the value of a conditional node. */
#include "objects.h"

/* The archive's one member, whose name is in the table of long names: the member "//". */
bool sim_is_device_runtime(const char *archive, size_t size) {
    static const char file[] = "cuda_device_runtime.o/";
    enum { START = 8, HEADER = 60, LENGTH_AT = 48, LENGTH_DIGITS = 10 };
    for (size_t at = START; at <= size && size - at >= HEADER;) {
        char digits[LENGTH_DIGITS + 1] = "";
        memcpy(digits, archive + at + LENGTH_AT, LENGTH_DIGITS);
        const size_t length = strtoul(digits, NULL, 10), start = at + HEADER;
        if (length > size - start) return false;
        if (!strncmp(archive + at, "// ", 3))
            return length >= sizeof file - 1 && !memcmp(archive + start, file, sizeof file - 1);
        at = start + length + length % 2;
    }
    return false;
}

/* A handle is the address of the cooperative grid's workspace, 0 in other grids: their barrier
   would hang, so it traps. The counter behind the two words that CUDA's headers use counts blocks
   that have arrived: block number n of them waits for the next multiple of the number of blocks. */
const char sim_device_runtime[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {\n"
        "    .reg .b32 %high, %low, %scope; .reg .b64 %h; .reg .pred %p;\n"
        "    mov.u32 %high, %envreg1; mov.u32 %low, %envreg2; mov.b64 %h, {%low, %high};\n"
        "    ld.param.u32 %scope, [scope]; setp.eq.u32 %p, %scope, 1; selp.b64 %h, %h, 0, "
        "%p;\n" /* 1: grid */
        "    st.param.b64 [handle], %h; ret;\n}\n"
        ".weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 "
        "flags) {\n"
        "    .reg .b32 %x, %y, %z; .reg .b64 %h, %before, %now, %goal, %blocks, %n; .reg "
        ".pred %p;\n"
        "    ld.param.u64 %h, [handle]; setp.eq.u64 %p, %h, 0;\n"
        "    @%p trap;\n"
        "    barrier.sync 0;\n"
        "    mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z; or.b32 %x, %x, %y; "
        "or.b32 %x, %x, %z;\n"
        "    setp.ne.u32 %p, %x, 0;\n"
        "    @%p bra DONE;\n"
        "    mov.u32 %x, %nctaid.x; mov.u32 %y, %nctaid.y; mov.u32 %z, %nctaid.z;\n"
        "    mul.wide.u32 %blocks, %x, %y; cvt.u64.u32 %n, %z; mul.lo.u64 %blocks, %blocks, "
        "%n;\n"
        "    fence.acq_rel.gpu; atom.relaxed.gpu.add.u64 %before, [%h+8], 1;\n"
        "    rem.u64 %n, %before, %blocks; sub.u64 %goal, %before, %n; add.u64 %goal, %goal, "
        "%blocks;\n"
        "WAIT: ld.acquire.gpu.u64 %now, [%h+8]; setp.lt.u64 %p, %now, %goal;\n"
        "    @%p bra WAIT;\n"
        "DONE: barrier.sync 0;\n"
        "    mov.u32 %x, 0; st.param.b32 [error], %x; ret;\n}\n"
        ".weak .func (.param .b32 error) cudaCGSynchronizeGrid(.param .b64 handle, .param "
        ".b32 flags) {\n"
        "    .reg .b32 %e, %f; .reg .b64 %h; .param .b32 e; .param .b64 h; .param .b32 f;\n"
        "    ld.param.u64 %h, [handle]; ld.param.u32 %f, [flags]; st.param.b64 [h], %h; "
        "st.param.b32 [f], %f;\n"
        "    call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %e, [e]; st.param.b32 "
        "[error], %e; ret;\n}\n"
        ".weak .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value) {\n" /* its
                                                                                            address:
                                                                                            kept.c
                                                                                          */
        "    .reg .b32 %v; .reg .b64 %h;\n"
        "    ld.param.u64 %h, [handle]; ld.param.u32 %v, [value]; st.volatile.u32 [%h], %v; "
        "ret;\n}\n";
