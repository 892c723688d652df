/* Writes a picture, `width` x `height` pixels of red, green, blue bytes row by row, as NAME.ppm and NAME.png into the current directory.
   For the examples; needs no library. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdint.h>
#include <stdio.h>

/* PNG: chunks of length, type, data and CRC-32 of type and data, all numbers with their highest byte first. */
static uint32_t picture_crc;

static inline void picture_put(FILE *f, const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t i;
    int    k;
    for (i = 0; i < bytes; i++)
        for (picture_crc ^= p[i], k = 0; k < 8; k++) picture_crc = picture_crc >> 1 ^ (picture_crc & 1 ? 0xedb88320u : 0);
    fwrite(data, 1, bytes, f);
}

static inline void picture_put32(FILE *f, uint32_t v)
{
    unsigned char b[4];
    b[0] = (unsigned char)(v >> 24), b[1] = (unsigned char)(v >> 16), b[2] = (unsigned char)(v >> 8), b[3] = (unsigned char)v;
    picture_put(f, b, 4);
}

static inline void picture_begin(FILE *f, const char *type, uint32_t bytes)
{
    picture_put32(f, bytes);
    picture_crc = 0xffffffffu;
    picture_put(f, type, 4);
}

static inline void picture_end(FILE *f) { picture_put32(f, picture_crc ^ 0xffffffffu); }

/* The pixels are a zlib stream that does not compress: each row is one stored block (length and its complement, lowest byte first), a 0 for
   "no filter" in front of it, and after the last the Adler-32 of all rows. A row must be shorter than 64 KiB. */
static inline void picture_png(FILE *f, const unsigned char *rgb, uint32_t width, uint32_t height)
{
    uint32_t row = 3 * width, length = row + 1, a = 1, b = 0, y, i;
    picture_put(f, "\x89PNG\r\n\x1a\n", 8);
    picture_begin(f, "IHDR", 13);
    picture_put32(f, width);
    picture_put32(f, height);
    picture_put(f, "\x08\x02\0\0\0", 5);                                /* 8 bits, RGB */
    picture_end(f);
    picture_begin(f, "IDAT", 2 + height * (5 + length) + 4);
    picture_put(f, "\x78\x01", 2);
    for (y = 0; y < height; y++, rgb += row) {
        unsigned char head[6] = { 0 };
        head[0] = y == height - 1;
        head[1] = (unsigned char)(length & 255), head[2] = (unsigned char)(length >> 8);
        head[3] = (unsigned char)~head[1], head[4] = (unsigned char)~head[2];
        picture_put(f, head, 6);                                        /* with the row's 0 */
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

/* 1 if both files are written; else says why not. */
static inline int picture_write(const char *name, const unsigned char *rgb, uint32_t width, uint32_t height)
{
    int png, bad;
    for (png = 0; png < 2; png++) {
        char  path[256];
        FILE *f;
        snprintf(path, sizeof path, "%s.%s", name, png ? "png" : "ppm");
        f = fopen(path, "wb");
        if (!f) { perror(path); return 0; }
        if (png) picture_png(f, rgb, width, height);
        else fprintf(f, "P6\n%u %u\n255\n", width, height), fwrite(rgb, 3 * width, height, f);
        bad = ferror(f);
        if (fclose(f) != 0 || bad) { perror(path); return 0; }
    }
    return 1;
}

#endif
