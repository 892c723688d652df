/* lanes.h - macros that define a handler from the expression for one lane. Files with lane
   operations include it.

   A file of lane operations is compiled twice: for the baseline instruction set and, through
   avx2.c, for AVX2 and FMA. So its names are static, and it exports only its table, through
   SIM_ISA. The loops have no branch that depends on the lane: results are computed for all 32 lanes
   and stored under the mask, so that the compiler vectorises them. A destination is identical to
   one of the sources, or disjoint from them. */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#if defined(__GNUC__) && !defined(__clang__)
#ifndef SIM_BASELINE_UNUSED
#pragma GCC optimize("O3")
#endif
#define SIM_IVDEP _Pragma("GCC ivdep")
/* otherwise gcc unrolls the loop before it can vectorise it */
#define SIM_ROLLED _Pragma("GCC unroll 1")
#else
#define SIM_IVDEP
#define SIM_ROLLED
#endif

#include "code.h"

#ifndef SIM_ISA
#define SIM_ISA(name) name
#endif

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

#define SIM_LANES SIM_IVDEP for (int l = 0; l < 32; l++)
#define SIM_ON(m) ((m)&sim_lane_bit[l])
#define SIM_EACH_LANE(m) \
    for (uint32_t rest_ = (m), l = 0; rest_ && (l = (uint32_t)__builtin_ctz(rest_), 1); \
            rest_ &= rest_ - 1)
#define SIM_HANDLER(NAME) static void NAME(struct sim_warp *w, const struct sim_insn *i, uint32_t m)

/* d = E(x), E(x, y), E(x, y, z): vector form */
#define SIM_H1(NAME, D, A, E) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const A *a = SIM_AT(A, i->a); \
        if (m == ~0u) \
            SIM_LANES { \
                const A x = a[l]; \
                d[l] = (D)(E); \
            } \
        else \
            SIM_LANES { \
                const A x = a[l]; \
                d[l] = SIM_ON(m) ? (D)(E) : d[l]; \
            } \
    }
#define SIM_H2(NAME, D, A, B, E) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const A *a = SIM_AT(A, i->a); \
        const B *b = SIM_AT(B, i->b); \
        if (m == ~0u) \
            SIM_LANES { \
                const A x = a[l]; \
                const B y = b[l]; \
                d[l] = (D)(E); \
            } \
        else \
            SIM_LANES { \
                const A x = a[l]; \
                const B y = b[l]; \
                d[l] = SIM_ON(m) ? (D)(E) : d[l]; \
            } \
    }
#define SIM_H3(NAME, D, A, B, C, E) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const A *a = SIM_AT(A, i->a); \
        const B *b = SIM_AT(B, i->b); \
        const C *c = SIM_AT(C, i->c); \
        if (m == ~0u) \
            SIM_LANES { \
                const A x = a[l]; \
                const B y = b[l]; \
                const C z = c[l]; \
                d[l] = (D)(E); \
            } \
        else \
            SIM_LANES { \
                const A x = a[l]; \
                const B y = b[l]; \
                const C z = c[l]; \
                d[l] = SIM_ON(m) ? (D)(E) : d[l]; \
            } \
    }

/* the same for expressions that do not vectorise, are expensive, or may trap: only the lanes of
   m */
#define SIM_S1(NAME, D, A, E) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const A *a = SIM_AT(A, i->a); \
        SIM_EACH_LANE (m) { \
            const A x = a[l]; \
            d[l] = (D)(E); \
        } \
    }
#define SIM_S2(NAME, D, A, B, E) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const A *a = SIM_AT(A, i->a); \
        const B *b = SIM_AT(B, i->b); \
        SIM_EACH_LANE (m) { \
            const A x = a[l]; \
            const B y = b[l]; \
            d[l] = (D)(E); \
        } \
    }
#define SIM_S3(NAME, D, A, B, C, E) \
    SIM_HANDLER(NAME) { \
        D *d = SIM_AT(D, i->d); \
        const A *a = SIM_AT(A, i->a); \
        const B *b = SIM_AT(B, i->b); \
        const C *c = SIM_AT(C, i->c); \
        SIM_EACH_LANE (m) { \
            const A x = a[l]; \
            const B y = b[l]; \
            const C z = c[l]; \
            d[l] = (D)(E); \
        } \
    }

#endif
