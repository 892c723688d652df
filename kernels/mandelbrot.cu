// The Mandelbrot set: for each pixel, the number of steps z -> z^2 + c until z leaves the circle
// |z|^2 = limit, and the |z|^2 at that point, for a smooth colour. Doubles, with one rounding for
// each operation, so a host without contraction (-ffp-contract=off) gets the same bits.

struct pixel {
    unsigned steps;
    float radius2;
};

extern "C" __global__ void mandelbrot(pixel *out, int width, int height, double left, double top,
        double pitch, double limit, unsigned max_steps) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    double cx = left + px * pitch, cy = top - py * pitch, x = 0.0, y = 0.0, x2 = 0.0, y2 = 0.0;
    unsigned steps = 0;
    while (steps < max_steps && x2 + y2 <= limit) {
        y = 2.0 * (x * y) + cy;
        x = x2 - y2 + cx;
        x2 = x * x;
        y2 = y * y;
        steps++;
    }
    pixel p = { steps, (float)(x2 + y2) };
    out[py * width + px] = p;
}
