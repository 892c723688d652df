/* fp8 in both formats: conversion from and to float and half, as quantised inference has it. */
#include <cuda_fp8.h>
extern "C" __global__ void quantise(const float2 *x, unsigned short *e4m3, unsigned short *e5m2,
        float2 *back4, float2 *back5, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_fp8x2_e4m3 a(x[i]);
    __nv_fp8x2_e5m2 b(x[i]);
    e4m3[i] = a.__x;
    e5m2[i] = b.__x;
    back4[i] = float2(a);
    back5[i] = float2(b);
}
