/* Stencils: a shared tile with its halo in dynamic shared memory, and seven points in three
   dimensions marching along z. */
extern "C" __global__ void stencil2d(const float *in, float *out, int w, int h) {
    extern __shared__ float s[];
    int bw = blockDim.x, bh = blockDim.y, pitch = bw + 2, x = blockIdx.x * bw + threadIdx.x,
        y = blockIdx.y * bh + threadIdx.y;
    for (int j = threadIdx.y; j < bh + 2; j += bh)
        for (int i = threadIdx.x; i < pitch; i += bw) {
            int gx = min(max((int)(blockIdx.x * bw) + i - 1, 0), w - 1),
                gy = min(max((int)(blockIdx.y * bh) + j - 1, 0), h - 1);
            s[j * pitch + i] = in[gy * w + gx];
        }
    __syncthreads();
    if (x >= w || y >= h) return;
    const float *c = &s[(threadIdx.y + 1) * pitch + threadIdx.x + 1];
    out[y * w + x] = 0.5f * c[0] + 0.125f * (c[-1] + c[1] + c[-pitch] + c[pitch]);
}
extern "C" __global__ void stencil3d(const float *in, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    size_t plane = (size_t)nx * ny, i = (size_t)y * nx + x;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = here +
                0.1f *
                        (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] -
                                6.0f * here);
        below = here;
        here = above;
    }
}
