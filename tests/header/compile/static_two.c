/* static_two.c - with program.c a second file with GPUEXEC_STATIC: each has a separate copy. */
#include "../../../gpuexec.h"
gpuexec_result second_files_function(void);
gpuexec_result second_files_function(void) { return gpuexec_take_error(); }
