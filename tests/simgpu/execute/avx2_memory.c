/* avx2_memory.c - another part of avx2.c. */
#include "execute.h"

#ifdef SIM_HAVE_AVX2
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#define SIM_ISA(name) name##_avx2
extern const struct sim_operation sim_ldst_table_avx2[], sim_atom_table_avx2[],
        sim_shuffle_table_avx2[];
#include "ldst.c"
#include "atom.c"
#include "shuffle.c"
#endif
