/* avx2_float.c - another part of avx2.c. */
#include "execute.h"

#ifdef SIM_HAVE_AVX2
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#define SIM_ISA(name) name##_avx2
extern const struct sim_operation sim_float_table_avx2[], sim_half_table_avx2[],
        sim_cvt_table_avx2[], sim_video_table_avx2[], sim_matrix_table_avx2[];
#include "float.c"
#include "matrix.c"
/* half the time of compiling these, which few kernels use much */
#pragma GCC optimize("O1,tree-loop-vectorize")
#include "half.c"
#include "cvt.c"
#include "video.c"
#endif
