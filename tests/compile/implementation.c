/* implementation.c - the other file of a program: the one with the implementation. */
#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"
