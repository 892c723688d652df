/* avx2.c - the lane operations again, compiled for AVX2 and FMA: integers and comparisons. The
   others are in avx2_float.c and avx2_memory.c, so that several compilers can work in parallel.
   lower/ uses these tables if the host supports both. */
#include "execute.h"

#ifdef SIM_HAVE_AVX2
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#define SIM_ISA(name) name##_avx2
extern const struct sim_operation sim_alu_table_avx2[], sim_compare_table_avx2[],
        sim_float_table_avx2[], sim_half_table_avx2[], sim_cvt_table_avx2[], sim_video_table_avx2[],
        sim_ldst_table_avx2[], sim_atom_table_avx2[], sim_shuffle_table_avx2[],
        sim_matrix_table_avx2[];
#include "alu.c"
#include "compare.c"
const struct sim_operation *const sim_avx2_tables[] = { sim_alu_table_avx2, sim_compare_table_avx2,
    sim_float_table_avx2, sim_half_table_avx2, sim_cvt_table_avx2, sim_video_table_avx2,
    sim_ldst_table_avx2, sim_atom_table_avx2, sim_shuffle_table_avx2, sim_matrix_table_avx2, NULL };
#endif
