/* static_two.c - beside program.c a second file with GPUEXEC_STATIC: each has a copy of its own. */
#include "../../gpuexec.h"
gpuexec_result second_files_function(void);
gpuexec_result second_files_function(void) { return gpuexec_take_error(); }
