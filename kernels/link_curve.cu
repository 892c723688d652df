// A device function and a constant that link_main.cu uses. The two files are compiled separately
// (nvcc -rdc=true) and linked.
// nvcc: -rdc=true

extern "C" __constant__ float coefficients[4] = { 1.0f, -2.0f, 0.5f, 3.0f };

// A polynomial by Horner's rule: 3 x^3 + 0.5 x^2 - 2 x + 1. Each step rounds once, as fmaf does on
// the host.
extern "C" __device__ float curve(float x) {
    float y = coefficients[3];
    for (int k = 2; k >= 0; k--) y = fmaf(y, x, coefficients[k]);
    return y;
}
