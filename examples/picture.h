/* Pictures for the examples, without a library. picture_write writes `width` x `height` pixels,
   each a red, a green and a blue byte, row by row, to NAME.ppm and NAME.png in the current
   directory; picture_curves draws curves as an SVG. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdint.h>
#include <stdio.h>

/* A PNG consists of chunks: length, type, data, and the CRC-32 of type and data; all numbers are
   big-endian. */
static uint32_t picture_crc;

static inline void picture_put(FILE *f, const void *data, size_t bytes) {
    const unsigned char *p = (const unsigned char *)data;
    size_t i;
    int k;
    for (i = 0; i < bytes; i++)
        for (picture_crc ^= p[i], k = 0; k < 8; k++)
            picture_crc = picture_crc >> 1 ^ (picture_crc & 1 ? 0xedb88320u : 0);
    fwrite(data, 1, bytes, f);
}

static inline void picture_put32(FILE *f, uint32_t v) {
    unsigned char b[4];
    b[0] = (unsigned char)(v >> 24), b[1] = (unsigned char)(v >> 16),
    b[2] = (unsigned char)(v >> 8), b[3] = (unsigned char)v;
    picture_put(f, b, 4);
}

static inline void picture_begin(FILE *f, const char *type, uint32_t bytes) {
    picture_put32(f, bytes);
    picture_crc = 0xffffffffu;
    picture_put(f, type, 4);
}

static inline void picture_end(FILE *f) { picture_put32(f, picture_crc ^ 0xffffffffu); }

/* The pixels are a zlib stream without compression: each row is one stored block (length and its
   complement, both little-endian) that begins with a 0 for "no filter"; the Adler-32 of all rows
   follows the last. A row must be shorter than 64 KiB. */
static inline void picture_png(FILE *f, const unsigned char *rgb, uint32_t width, uint32_t height) {
    uint32_t row = 3 * width, length = row + 1, a = 1, b = 0, y, i;
    picture_put(f, "\x89PNG\r\n\x1a\n", 8);
    picture_begin(f, "IHDR", 13);
    picture_put32(f, width);
    picture_put32(f, height);
    picture_put(f, "\x08\x02\0\0\0", 5); /* 8 bits, RGB */
    picture_end(f);
    picture_begin(f, "IDAT", 2 + height * (5 + length) + 4);
    picture_put(f, "\x78\x01", 2);
    for (y = 0; y < height; y++, rgb += row) {
        unsigned char head[6] = { 0 };
        head[0] = y == height - 1;
        head[1] = (unsigned char)(length & 255), head[2] = (unsigned char)(length >> 8);
        head[3] = (unsigned char)~head[1], head[4] = (unsigned char)~head[2];
        picture_put(f, head, 6); /* with the 0 that begins the row */
        picture_put(f, rgb, row);
        for (b = (b + a) % 65521, i = 0; i < row; i++) {
            a = (a + rgb[i]) % 65521;
            b = (b + a) % 65521;
        }
    }
    picture_put32(f, b << 16 | a);
    picture_end(f);
    picture_begin(f, "IEND", 0);
    picture_end(f);
}

/* Returns 1 if both files are written; otherwise prints why not and returns 0. */
static inline int picture_write(
        const char *name, const unsigned char *rgb, uint32_t width, uint32_t height) {
    int png, bad;
    for (png = 0; png < 2; png++) {
        char path[256];
        FILE *f;
        snprintf(path, sizeof path, "%s.%s", name, png ? "png" : "ppm");
        f = fopen(path, "wb");
        if (!f) {
            perror(path);
            return 0;
        }
        if (png) picture_png(f, rgb, width, height);
        else fprintf(f, "P6\n%u %u\n255\n", width, height), fwrite(rgb, 3 * width, height, f);
        bad = ferror(f);
        if (fclose(f) != 0 || bad) {
            perror(path);
            return 0;
        }
    }
    return 1;
}

/* log2(x) for x > 0, to 12 binary places, so that the examples do not need -lm. */
static inline double picture_log2(double x) {
    double result = 0.0, bit = 1.0;
    for (; x >= 2.0; x /= 2.0) result += 1.0;
    for (; x < 1.0; x *= 2.0) result -= 1.0;
    while (bit > 1.0 / 4096) {
        x *= x;
        bit /= 2.0;
        if (x >= 2.0) {
            x /= 2.0;
            result += bit;
        }
    }
    return result;
}

/* Draws the curves y[k][0 .. count - 1] > 0, at most 3, over x = step, 2 * step, ... to the file
   `path`; the y axis is logarithmic, with a line for each digit of each power of ten. names[k] is
   written above a curve in its color; names NULL: not. The texts must not contain < or &. Returns 1
   if the file is written; otherwise prints why not and returns 0. */
static inline int picture_curves(const char *path, const char *title, const char *x_name,
        const char *y_name, const float *const *y, const char *const *names, int curves, int count,
        double step) {
    static const char *const colors[] = { "#c8371e", "#1e6bc8", "#2f8f2f" };
    enum { LEFT = 76, TOP = 44, WIDE = 540, HIGH = 290 };
    double low = (double)y[0][0], high = low, tick = 1.0, base, x;
    int i, k, power, digit, bad;
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return 0;
    }
    for (k = 0; k < curves; k++)
        for (i = 0; i < count; i++) {
            low = (double)y[k][i] < low ? (double)y[k][i] : low;
            high = (double)y[k][i] > high ? (double)y[k][i] : high;
        }
    low = picture_log2(low) - 0.4, high = picture_log2(high) + (names ? 0.9 : 0.4);
#define PICTURE_X(v) (LEFT + (v) / (count * step) * WIDE)
#define PICTURE_Y(v) (TOP + (high - picture_log2(v)) / (high - low) * HIGH)
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='640' height='400' viewBox='0 0 640 "
            "400' font-family='Helvetica, Arial, sans-serif' font-size='13' fill='#333'>\n<rect "
            "width='640' height='400' fill='#fff'/>\n"
            "<text x='%d' y='26' font-size='16' fill='#111'>%s</text>\n"
            "<g stroke='#e6e6e6' text-anchor='end'>\n",
            LEFT, title);
    for (power = -30, base = 1e-30; power < 30; power++, base *= 10.0)
        for (digit = 1; digit < 10; digit++) {
            const double v = base * digit,
                         at = picture_log2(v) < low || picture_log2(v) > high ? 0.0 : PICTURE_Y(v);
            if (at <= 0.0) continue;
            fprintf(f, "<path d='M%d %.1fh%d'%s/>\n", LEFT, at, WIDE,
                    digit == 1 ? " stroke='#aaa'" : "");
            if (digit == 1)
                fprintf(f,
                        "<text x='%d' y='%.1f' stroke='none'>10<tspan dy='-6' "
                        "font-size='10'>%d</tspan></text>\n",
                        LEFT - 8, at + 5.0, power);
        }
    while (count * step / tick > 6.0) { /* 1, 2, 5, 10, ... */
        if (count * step / (tick * 2.0) <= 6.0) tick *= 2.0;
        else if (count * step / (tick * 5.0) <= 6.0) tick *= 5.0;
        else tick *= 10.0;
    }
    fprintf(f, "</g>\n<g text-anchor='middle'>\n");
    for (x = 0.0; x <= count * step; x += tick)
        fprintf(f, "<path d='M%.1f %dv6' stroke='#333'/><text x='%.1f' y='%d'>%g</text>\n",
                PICTURE_X(x), TOP + HIGH, PICTURE_X(x), TOP + HIGH + 21, x);
    fprintf(f,
            "<text x='%d' y='%d'>%s</text>\n<text transform='translate(22 %d) "
            "rotate(-90)'>%s</text>\n</g>\n",
            LEFT + WIDE / 2, TOP + HIGH + 45, x_name, TOP + HIGH / 2, y_name);
    fprintf(f, "<path d='M%d %dv%dh%d' fill='none' stroke='#333'/>\n", LEFT, TOP, HIGH, WIDE);
    for (k = 0; k < curves; k++) {
        fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='%d' points='", colors[k],
                curves > 1 ? 1 : 2);
        for (i = 0; i < count; i++)
            fprintf(f, "%.1f,%.1f ", PICTURE_X((i + 1) * step), PICTURE_Y((double)y[k][i]));
        fprintf(f, "'/>\n");
        if (names)
            fprintf(f, "<text x='%d' y='%d' fill='%s'>%s</text>\n", LEFT + 12 + k * WIDE / curves,
                    TOP + 16, colors[k], names[k]);
    }
    fprintf(f, "</svg>\n");
#undef PICTURE_X
#undef PICTURE_Y
    bad = ferror(f);
    if (fclose(f) != 0 || bad) {
        perror(path);
        return 0;
    }
    return 1;
}

#endif
