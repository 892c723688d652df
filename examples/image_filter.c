/*  cc examples/image_filter.c -o image_filter && ./image_filter

    Draws a picture of 64 x 48 elements, copies it to an array, and reads it through textures, one
    for each address mode. A kernel turns the view and writes it through a surface to another array.
    Outside the picture, it sees the picture's edge (clamp), the picture again (wrap), the picture
    mirrored (mirror) or a color (border). The upper row is point-sampled; the lower one is filtered
    and blurred. Compares every pixel with the host's.

    Prints, on the CPU device:
        clamp   point: all pixels as on the host   linear: at most 1 of 255 apart
        wrap    point: all pixels as on the host   linear: at most 1 of 255 apart
        mirror  point: all pixels as on the host   linear: at most 1 of 255 apart
        border  point: all pixels as on the host   linear: at most 1 of 255 apart
        wrote image_filter.ppm and image_filter.png
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "picture.h"

enum { IN_WIDTH = 64, IN_HEIGHT = 48, WIDTH = 236, HEIGHT = 178, GAP = 4, BLUR = 2 };
enum { ALL_WIDTH = 4 * WIDTH + 3 * GAP, ALL_HEIGHT = 2 * HEIGHT + GAP };
typedef struct color {
    unsigned char c[4];
} color;

static color picture[IN_HEIGHT][IN_WIDTH], all[ALL_HEIGHT][ALL_WIDTH];
static unsigned char rgb[ALL_HEIGHT][ALL_WIDTH][3];
static const float border[4] = { 0.95f, 0.6f, 0.35f, 1.0f };
/* From one pixel to the next, the view moves by this vector, in elements: it is turned by 27
   degrees. All its coordinates are odd multiples of 1/8, so no rounding moves one to another
   element. */
static float in_width = IN_WIDTH, in_height = IN_HEIGHT, step_x = 0.5f, step_y = 0.25f;

/* A landscape: sky, the sun, two mountains, a meadow. */
static void draw_picture(void) {
    static const color sun = { { 255, 236, 120, 255 } }, snow = { { 255, 255, 255, 255 } },
                       dark = { { 70, 80, 110, 255 } }, light = { { 110, 120, 150, 255 } };
    int x, y;
    for (y = 0; y < IN_HEIGHT; y++)
        for (x = 0; x < IN_WIDTH; x++) {
            const int low = abs(x - 46) + 20, high = abs(x - 24) + 8, sx = x - 53, sy = y - 9;
            color *to = &picture[y][x];
            to->c[0] = (unsigned char)(60 + 4 * y), to->c[1] = (unsigned char)(140 + 3 * y / 2);
            to->c[2] = 235, to->c[3] = 255;
            if (sx * sx + sy * sy < 36) *to = sun;
            if (y > high) *to = y < 16 ? snow : x < 24 ? light : dark;
            if (y > low) *to = y < 24 ? snow : x < 46 ? light : dark;
            if (y > 37) to->c[0] = 70, to->c[1] = (unsigned char)(190 - 3 * x / 2), to->c[2] = 60;
        }
}

/* A coordinate inside the picture, or -1: the border. */
static int inside(int at, int size, gpuexec_address_mode mode) {
    const int turn = (at % (2 * size) + 2 * size) % (2 * size);
    if (mode == GPUEXEC_ADDRESS_WRAP) return turn % size;
    if (mode == GPUEXEC_ADDRESS_MIRROR) return turn < size ? turn : 2 * size - 1 - turn;
    if (at >= 0 && at < size) return at;
    return mode == GPUEXEC_ADDRESS_BORDER ? -1 : at < 0 ? 0 : size - 1;
}
static double element(int x, int y, int channel, gpuexec_address_mode mode) {
    x = inside(x, IN_WIDTH, mode), y = inside(y, IN_HEIGHT, mode);
    return x < 0 || y < 0 ? (double)border[channel] : picture[y][x].c[channel] / 255.0;
}
static int floor_of(double x) { return (int)(x + 4096) - 4096; }
/* What a texture reads at (x, y): the nearest element, or the weighted mean of the nearest four. */
static double sample(double x, double y, int channel, gpuexec_address_mode mode, int linear) {
    const int left = floor_of(x - 0.5), top = floor_of(y - 0.5);
    const double right = x - 0.5 - left, bottom = y - 0.5 - top;
    if (!linear) return element(floor_of(x), floor_of(y), channel, mode);
    return (1 - bottom) *
            ((1 - right) * element(left, top, channel, mode) +
                    right * element(left + 1, top, channel, mode)) +
            bottom *
            ((1 - right) * element(left, top + 1, channel, mode) +
                    right * element(left + 1, top + 1, channel, mode));
}
/* The largest difference between a pixel of the device and the host's; as kernels/image_filter.cu.
 */
static int difference(int left, int top, gpuexec_address_mode mode, int linear, int radius) {
    int largest = 0, px, py, i, j, k;
    for (py = 0; py < HEIGHT; py++)
        for (px = 0; px < WIDTH; px++)
            for (k = 0; k < 3; k++) {
                const double dx = px + 0.5 - WIDTH * 0.5, dy = py + 0.5 - HEIGHT * 0.5;
                const double x = IN_WIDTH * 0.5 + (double)step_x * dx - (double)step_y * dy;
                const double y = IN_HEIGHT * 0.5 + (double)step_y * dx + (double)step_x * dy;
                double sum = 0, total = 0;
                int apart;
                for (j = -radius; j <= radius; j++)
                    for (i = -radius; i <= radius; i++) {
                        const int weight = (3 - abs(i)) * (3 - abs(j));
                        sum += weight * sample(x + i, y + j, k, mode, linear);
                        total += weight;
                    }
                apart = abs((int)(255 * sum / total + 0.5) - all[top + py][left + px].c[k]);
                largest = apart > largest ? apart : largest;
            }
    return largest;
}

int main(void) {
    static const char *const names[] = { "clamp", "wrap", "mirror", "border" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, example_ptx("image_filter.ptx"), NULL);
    gpuexec_kernel filter = gpuexec_kernel_get(mod, "image_filter");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_array_desc shape = { 0 };
    gpuexec_array in, out;
    gpuexec_surface surface;
    gpuexec_texture textures[8];
    gpuexec_copy_desc copy_in = { 0 }, copy_out = { 0 };
    unsigned long long to, from;
    int width = WIDTH, height = HEIGHT, i, x, y, k, wrong = 0;

    draw_picture();
    shape.format = GPUEXEC_FORMAT_U8;
    shape.channels = 4;
    shape.width = IN_WIDTH, shape.height = IN_HEIGHT;
    in = gpuexec_array_create(ctx, &shape);
    shape.width = WIDTH, shape.height = HEIGHT;
    shape.surface = 1;
    out = gpuexec_array_create(ctx, &shape);
    surface = gpuexec_surface_create(out, 0);
    to = gpuexec_surface_object(surface);

    copy_in.to.array = in;
    copy_in.from.host = picture;
    copy_in.width_bytes = sizeof picture[0];
    copy_in.height = IN_HEIGHT;
    gpuexec_copy_with(s, &copy_in);

    copy_out.from.array = out;
    copy_out.to.host = all;
    copy_out.to.pitch = sizeof all[0];
    copy_out.width_bytes = WIDTH * sizeof(color);
    copy_out.height = HEIGHT;
    memset(all, 255, sizeof all);
    for (i = 0; i < 8; i++) {
        const int linear = i >= 4;
        int radius = linear ? BLUR : 0;
        gpuexec_texture_desc desc = { 0 };
        desc.array = in;
        desc.address[0] = desc.address[1] = (gpuexec_address_mode)(i % 4);
        desc.filter = linear ? GPUEXEC_FILTER_LINEAR : GPUEXEC_FILTER_POINT;
        desc.normalized = 1; /* wrap and mirror need it */
        memcpy(desc.border, border, sizeof border);
        textures[i] = gpuexec_texture_create(ctx, &desc);
        from = gpuexec_texture_object(textures[i]);
        gpuexec_launch(filter, s, gpuexec_grid_for_2d(WIDTH, HEIGHT, 32, 4),
                GPUEXEC_ARGS(to, from, width, height, in_width, in_height, step_x, step_y, radius));
        copy_out.to.x = (size_t)(i % 4 * (WIDTH + GAP)) * sizeof(color);
        copy_out.to.y = (size_t)(linear * (HEIGHT + GAP));
        gpuexec_copy_with(s, &copy_out);
    }
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) return fputs(gpuexec_error_text(), stderr), 1;

    for (i = 0; i < 4; i++) {
        const gpuexec_address_mode mode = (gpuexec_address_mode)i;
        const int left = i * (WIDTH + GAP), point = difference(left, 0, mode, 0, 0);
        const int linear = difference(left, HEIGHT + GAP, mode, 1, BLUR);
        printf("%-6s  point: %s   linear: at most %d of 255 apart\n", names[i],
                point ? "wrong" : "all pixels as on the host", linear);
        wrong += point || linear > 2; /* the device filters with 8 bits of fraction */
    }
    for (y = 0; y < ALL_HEIGHT; y++)
        for (x = 0; x < ALL_WIDTH; x++)
            for (k = 0; k < 3; k++) rgb[y][x][k] = all[y][x].c[k];
    if (picture_write("image_filter", &rgb[0][0][0], ALL_WIDTH, ALL_HEIGHT))
        printf("wrote image_filter.ppm and image_filter.png\n");
    return gpuexec_shutdown() != GPUEXEC_OK || wrong;
}
