/* Inline PTX as libraries have it: scopes with registers of their own, predicates, labels, vectors,
   bit fields, lop3, cache hints. */
__device__ __forceinline__ unsigned bfe(unsigned x, unsigned at, unsigned n) {
    unsigned r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(at), "r"(n));
    return r;
}

__device__ __forceinline__ int bfe_signed(int x, unsigned at, unsigned n) {
    int r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(at), "r"(n));
    return r;
}

__device__ __forceinline__ unsigned bfi(unsigned x, unsigned y, unsigned at, unsigned n) {
    unsigned r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(at), "r"(n));
    return r;
}

extern "C" __global__ void inline_ptx(const uint4 *in, unsigned *o, int n) {
    int i = threadIdx.x;
    unsigned a, b, c, d, r;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(in + i));
    o[0 * n + i] = bfe(a, b & 31, c & 31) ^ (unsigned)bfe_signed((int)d, a & 31, b & 31);
    o[1 * n + i] = bfi(a, b, c & 31, d & 31);
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[2 * n + i] = r;
    asm("{\n\t.reg .pred p, q;\n\tsetp.lt.and.u32 p|q, %1, %2, 1;\n\tselp.u32 %0, %3, 77, p;\n"
        "\t@!p add.u32 %0, %0, 5;\n\t}"
            : "=r"(r)
            : "r"(a), "r"(b), "r"(c));
    o[3 * n + i] = r;
    asm("{\n\t.reg .u32 t<3>;\n\tmov.u32 t0, %1;\n\t{\n\t.reg .u32 t0;\n\tmov.u32 t0, "
        "9;\n\tadd.u32 t1, t0, 1;\n\t}\n"
        "\tadd.u32 %0, t0, t1;\n\t}"
            : "=r"(r)
            : "r"(a));
    o[4 * n + i] = r;
    asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 k;\n\tmov.u32 k, 0;\n\tmov.u32 %0, "
                 "0;\nLOOP_%=:\n\tadd.u32 %0, %0, k;\n\tadd.u32 k, k, 1;\n\tsetp.le.u32 p, k, "
                 "%1;\n\t@p bra LOOP_%=;\n\t}"
                 : "=&r"(r)
                 : "r"(a & 15));
    o[5 * n + i] = r;
    unsigned long long w;
    asm("mov.b64 %0, {%1, %2};" : "=l"(w) : "r"(a), "r"(b));
    asm("{\n\t.reg .b16 l, h;\n\tmov.b32 {l, h}, %1;\n\tmov.b32 %0, {h, l};\n\t}"
            : "=r"(r)
            : "r"(c));
    o[6 * n + i] = (unsigned)(w >> 32) ^ r;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(w) : "r"(a), "r"(b), "l"((unsigned long long)c));
    o[7 * n + i] = (unsigned)(w >> 17);
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[8 * n + i] = r;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[9 * n + i] = r;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[10 * n + i] = r;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(a & 0xffff));
    o[11 * n + i] = r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[12 * n + i] = r;
    asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tmov.u32 %0, 3;\n\t@p st.global.wb.u32 "
        "[%2], %1;\n"
        "\t@p ld.global.cg.u32 %0, [%2];\n\t}"
            : "=&r"(r)
            : "r"(d), "l"(o + 13 * n + i)
            : "memory");
    o[13 * n + i] = r + 1;
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(o + 14 * n), "r"(a) : "memory");
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i));
    asm volatile("{\n\t.reg .u64 s;\n\tcvta.to.global.u64 s, %0;\n"
                 "\tst.global.cs.v2.u32 [s+8], {%1, %2};\n\t}" ::"l"(o + 15 * n + 4 * i),
                 "r"(a), "r"(b)
                 : "memory");
}
