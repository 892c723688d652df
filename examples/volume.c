/*  cc examples/volume.c -o volume && ./volume

    Copies a solid of 96 x 96 x 96 bytes to the device, moves its eight parts apart there, into a
    larger volume with padded rows, and copies that back: with gpuexec_copy_with. Compares every
    byte, and draws both as volume.png.

    Prints:
        8 boxes of 48 x 48 x 48 bytes moved apart; all 2097152 bytes are as expected
        wrote volume.ppm and volume.png
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include "picture.h"

enum { SMALL = 96, HALF = SMALL / 2, GAP = 32, LARGE = SMALL + GAP, SIDE = 360 };
static unsigned char solid[SMALL][SMALL][SMALL], apart[LARGE][LARGE][LARGE], rgb[SIDE][2 * SIDE][3];

/* Like a sine, with period 38. */
static double wave(int t) {
    const double x = (t % 19 - 9.5) / 9.5;
    return t % 38 < 19 ? 1 - x * x : x * x - 1;
}
/* A ball with holes: 255 inside, 0 outside. */
static void make_solid(void) {
    int x, y, z;
    for (z = 0; z < SMALL; z++)
        for (y = 0; y < SMALL; y++)
            for (x = 0; x < SMALL; x++) {
                const int a = 2 * x - SMALL + 1, b = 2 * y - SMALL + 1, c = 2 * z - SMALL + 1;
                const double holes = wave(x) * wave(y + 10) + wave(y) * wave(z + 10) +
                        wave(z) * wave(x + 10);
                solid[z][y][x] = a * a + b * b + c * c < 8800 && holes < 0.7 && holes > -0.7 ? 255
                                                                                             : 0;
            }
}

/* Where a byte of the large volume comes from: its part begins 8 bytes from the edge, and the gap
   is twice that. */
static int expected(int x, int y, int z) {
    const int at[3] = { x, y, z };
    int from[3], i;
    for (i = 0; i < 3; i++) {
        const int second = at[i] >= LARGE / 2, begin = second ? LARGE / 2 + GAP / 4 : GAP / 4;
        if (at[i] < begin || at[i] >= begin + HALF) return 0;
        from[i] = at[i] - begin + second * HALF;
    }
    return solid[from[2]][from[1]][from[0]];
}

/* Draws a volume of n^3 bytes as seen along (-1, -1, -1): a ray goes from face to face until a byte
   is not 0. */
static void draw(const unsigned char *volume, int n, int left) {
    static const double face[3] = { 0.55, 0.75, 1.0 }, color[3] = { 255, 190, 90 };
    int px, py, i;
    for (py = 0; py < SIDE; py++)
        for (px = 0; px < SIDE; px++) {
            const double u = (px - SIDE / 2) * 0.47, v = (SIDE / 2 - py) * 0.47;
            const double begin[3] = { n / 2 - u * 0.71 - v * 0.41, n / 2 + u * 0.71 - v * 0.41,
                n / 2 + v * 0.82 };
            double p[3], path = -n, fog, step;
            int last = 0, hit = 0;
            for (i = 0; i < 3; i++)
                if (begin[i] - n > path) path = begin[i] - n;
            for (i = 0; i < 3; i++) p[i] = begin[i] - path - 1e-6;
            for (; !hit && p[0] > 0 && p[1] > 0 && p[2] > 0; path += step) {
                hit = volume[((int)p[2] * n + (int)p[1]) * n + (int)p[0]];
                for (step = 2, i = 0; i < 3 && !hit; i++)
                    if (p[i] - (int)p[i] + 1e-6 < step) step = p[i] - (int)p[i] + 1e-6, last = i;
                for (i = 0; i < 3 && !hit; i++) p[i] -= step;
            }
            fog = 0.75 - path / (1.3 * n); /* darker if it is farther away */
            for (i = 0; i < 3; i++)
                rgb[py][left + px][i] = (unsigned char)(hit ? color[i] * face[last] *
                                        (fog > 1                    ? 1
                                                        : fog < 0.2 ? 0.2
                                                                    : fog)
                                                            : 24 + 8 * i);
        }
}

int main(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    size_t pitch, from_pitch;
    gpuexec_ptr outer = gpuexec_alloc_pitched(ctx, LARGE, (size_t)LARGE * LARGE, 4, &pitch);
    gpuexec_ptr inner = gpuexec_alloc_pitched(ctx, SMALL, (size_t)SMALL * SMALL, 4, &from_pitch);
    gpuexec_copy_desc whole = { 0 }, clear = { 0 }, part = { 0 }, back = { 0 };
    size_t i, wrong = 0, x, y, z;
    make_solid();

    whole.from.host = solid; /* packed: its pitch and slice height are those of the copy */
    whole.to.device = inner;
    whole.to.pitch = from_pitch;
    whole.width_bytes = whole.height = whole.depth = SMALL;
    gpuexec_copy_with(s, &whole);

    clear.to.device = outer, clear.to.pitch = pitch;
    clear.from.element_bytes = 1; /* a value, 0, instead of memory */
    clear.width_bytes = LARGE, clear.height = (size_t)LARGE * LARGE;
    gpuexec_copy_with(s, &clear);
    part.from.device = inner;
    part.from.pitch = from_pitch;
    part.from.slice_height = SMALL;
    part.to.device = outer;
    part.to.pitch = pitch;
    part.to.slice_height = LARGE;
    part.width_bytes = part.height = part.depth = HALF;
    for (i = 0; i < 8; i++) {
        x = i & 1, y = i >> 1 & 1, z = i >> 2;
        part.from.x = x * HALF, part.from.y = y * HALF, part.from.z = z * HALF;
        part.to.x = x * LARGE / 2 + GAP / 4, part.to.y = y * LARGE / 2 + GAP / 4,
        part.to.z = z * LARGE / 2 + GAP / 4;
        gpuexec_copy_with(s, &part);
    }

    back.from.device = outer;
    back.from.pitch = pitch;
    back.to.host = apart;
    back.width_bytes = back.height = back.depth = LARGE;
    gpuexec_copy_with(s, &back);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) return fputs(gpuexec_error_text(), stderr), 1;

    for (z = 0; z < LARGE; z++)
        for (y = 0; y < LARGE; y++)
            for (x = 0; x < LARGE; x++) wrong += apart[z][y][x] != expected((int)x, (int)y, (int)z);
    if (wrong) printf("%lu bytes are wrong\n", (unsigned long)wrong);
    else
        printf("8 boxes of %d x %d x %d bytes moved apart; all %d bytes are as expected\n", HALF,
                HALF, HALF, LARGE * LARGE * LARGE);
    draw(&solid[0][0][0], SMALL, 0);
    draw(&apart[0][0][0], LARGE, SIDE);
    if (picture_write("volume", &rgb[0][0][0], 2 * SIDE, SIDE))
        printf("wrote volume.ppm and volume.png\n");
    return gpuexec_shutdown() != GPUEXEC_OK || wrong;
}
