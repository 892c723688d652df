// A rotated and scaled view of a picture, blurred: each pixel of `out` is the weighted mean of
// 5 x 5 reads of the texture, one element apart, or one read if radius is 0. From one pixel to the
// next, the view moves by (step_x, step_y) elements, and from one row to the next by
// (-step_y, step_x); its centre is the picture's. `in` takes normalized coordinates, and reads
// channels as floats from 0 to 1; elements of `out` are four bytes.

extern "C" __global__ void image_filter(cudaSurfaceObject_t out, cudaTextureObject_t in, int width,
        int height, float in_width, float in_height, float step_x, float step_y, int radius) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float dx = px + 0.5f - width * 0.5f, dy = py + 0.5f - height * 0.5f;
    float x = in_width * 0.5f + step_x * dx - step_y * dy;
    float y = in_height * 0.5f + step_y * dx + step_x * dy;
    float red = 0, green = 0, blue = 0, total = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++) {
            float4 c = tex2D<float4>(in, (x + i) / in_width, (y + j) / in_height);
            float weight = (3 - abs(i)) * (3 - abs(j));
            red += weight * c.x;
            green += weight * c.y;
            blue += weight * c.z;
            total += weight;
        }
    float scale = 255 / total;
    surf2Dwrite(make_uchar4(red * scale + 0.5f, green * scale + 0.5f, blue * scale + 0.5f, 255),
            out, px * 4, py);
}
