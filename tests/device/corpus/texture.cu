/* Texture and surface objects. */
extern "C" __global__ void sample(cudaTextureObject_t t, float *o, int w) {
    o[threadIdx.x] = tex2D<float>(t, threadIdx.x % w + 0.5f, threadIdx.x / w + 0.5f);
}
