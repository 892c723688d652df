/* Shared by multi_device_jacobi.c and mpi_jacobi.c: a square plate with a hot left edge and three
   cold edges, its temperature by Jacobi's method on the CPU, and the comparison with what the
   devices computed. */
#ifndef JACOBI_H
#define JACOBI_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JACOBI_ITERATIONS = 5000,
    JACOBI_EVERY = 10,
    JACOBI_CHECKS = JACOBI_ITERATIONS / JACOBI_EVERY
};
/* the iterations end when no cell changes by more, in an EVERYth one */
static const float jacobi_enough = 1e-4f;

typedef struct jacobi_solution {
    float *cells;                /* [n + 2][n + 2], with the edges of the plate */
    float change[JACOBI_CHECKS]; /* the largest change of a cell in every EVERYth iteration */
    int iterations;
} jacobi_solution;

/* `rows` rows of n + 2 cells, from row `first` of the plate on, as they are before the first
   iteration. */
static inline float *jacobi_plate(int n, int first, int rows) {
    const size_t width = (size_t)n + 2;
    float *const cells = (float *)calloc((size_t)rows * width, sizeof(float));
    int y;
    if (!cells) {
        perror("the plate");
        exit(1);
    }
    for (y = 0; y < rows; y++)
        cells[(size_t)y * width] = first + y >= 1 && first + y <= n ? 1.0f : 0.0f;
    return cells;
}

/* Multiplying by 0.25 is exact, so it does not matter whether the compiler fuses that
   multiplication with the subtraction. */
static inline jacobi_solution jacobi_on_cpu(int n) {
    jacobi_solution s = { NULL, { 0 }, 0 };
    const int width = n + 2;
    float *const grid[2] = { jacobi_plate(n, 0, width), jacobi_plate(n, 0, width) };
    while (s.iterations < JACOBI_ITERATIONS) {
        const float *from = grid[s.iterations % 2];
        float *to = grid[++s.iterations % 2], most = 0.0f, by;
        int x, y;
        for (y = 1; y <= n; y++)
            for (x = y * width + 1; x < (y + 1) * width - 1; x++) {
                to[x] = 0.25f * ((from[x - width] + from[x + width]) + (from[x - 1] + from[x + 1]));
                by = to[x] > from[x] ? to[x] - from[x] : from[x] - to[x];
                if (by > most) most = by;
            }
        if (s.iterations % JACOBI_EVERY == 0 &&
                (s.change[s.iterations / JACOBI_EVERY - 1] = most) <= jacobi_enough)
            break;
    }
    s.cells = grid[s.iterations % 2];
    free(grid[(s.iterations + 1) % 2]);
    return s;
}

/* Prints some of the changes. Returns whether all cells and all changes are bit for bit those of
   the CPU. */
static inline int jacobi_same(
        const jacobi_solution *cpu, int n, const float *cells, const float *change) {
    const size_t count = ((size_t)n + 2) * ((size_t)n + 2);
    size_t i, wrong = 0;
    int k;
    printf("largest change of a cell:");
    for (k = JACOBI_EVERY; k < cpu->iterations; k *= 10)
        printf(" %.9g after %d,", change[k / JACOBI_EVERY - 1], k);
    printf(" %.9g after %d iterations\n", change[cpu->iterations / JACOBI_EVERY - 1],
            cpu->iterations);
    for (i = 0; i < count; i++) wrong += memcmp(&cells[i], &cpu->cells[i], sizeof *cells) != 0;
    for (i = 0; i < JACOBI_CHECKS; i++)
        wrong += memcmp(&change[i], &cpu->change[i], sizeof *change) != 0;
    if (wrong) printf("%lu cells and changes differ from the CPU's\n", (unsigned long)wrong);
    return wrong == 0;
}

#endif
