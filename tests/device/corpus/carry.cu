/* Carry chains: 128-bit sums and differences in inline PTX, products of 256 bits by mad.cc, an
   addition of 1024-bit numbers. */
extern "C" __global__ void chains(const unsigned *a, const unsigned *b, unsigned *o) {
    int t = threadIdx.x;
    a += t * 4;
    b += t * 4;
    o += t * 16;
    unsigned r[16];
    asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 "
        "%3, %7, %11;"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
            "r"(b[3]));
    asm("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.u32 "
        "%3, %7, %11;"
            : "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]),
            "r"(b[3]));
    /* 128 x 128 bits: row by row */
    unsigned p[8] = {};
    for (int i = 0; i < 4; i++) {
        unsigned c;
        asm("mad.lo.cc.u32 %0, %5, %9, %0;\n\tmadc.lo.cc.u32 %1, %6, %9, %1;\n\tmadc.lo.cc.u32 %2, "
            "%7, %9, %2;\n"
            "\tmadc.lo.cc.u32 %3, %8, %9, %3;\n\taddc.u32 %4, 0, 0;"
                : "+r"(p[i]), "+r"(p[i + 1]), "+r"(p[i + 2]), "+r"(p[i + 3]), "=r"(c)
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[i]));
        p[i + 4] = c;
        asm("mad.hi.cc.u32 %0, %4, %8, %0;\n\tmadc.hi.cc.u32 %1, %5, %8, %1;\n\tmadc.hi.cc.u32 %2, "
            "%6, %8, %2;\n"
            "\tmadc.hi.u32 %3, %7, %8, %3;"
                : "+r"(p[i + 1]), "+r"(p[i + 2]), "+r"(p[i + 3]), "+r"(p[i + 4])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[i]));
    }
    for (int i = 0; i < 8; i++) r[8 + i] = p[i];
    for (int i = 0; i < 16; i++) o[i] = r[i];
}
/* one limb per lane: the carries travel by ballot */
extern "C" __global__ void add1024(const unsigned *a, const unsigned *b, unsigned *o) {
    int t = threadIdx.x;
    unsigned s = a[t] + b[t], generate = __ballot_sync(~0u, s < a[t]),
             propagate = __ballot_sync(~0u, s == ~0u);
    unsigned carries = ((generate << 1) + propagate) ^ propagate;
    o[t] = s + (carries >> t & 1);
}
/* a carry that a difference leaves, read by a sum, and the other way round: nvcc's 128-bit division
   does the first */
extern "C" __global__ void mixed(const unsigned *a, const unsigned *b, unsigned *o) {
    int t = threadIdx.x;
    unsigned r[4];
    asm("sub.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;"
            : "=r"(r[0]), "=r"(r[1])
            : "r"(a[t]), "r"(b[t]));
    asm("add.cc.u32 %0, %2, %3;\n\tsubc.u32 %1, 0, 0;"
            : "=r"(r[2]), "=r"(r[3])
            : "r"(a[t]), "r"(b[t]));
    for (int i = 0; i < 4; i++) o[4 * t + i] = r[i];
}
