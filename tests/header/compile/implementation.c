/* implementation.c - the second file of a program: the one with the implementation. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
