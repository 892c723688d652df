/* bench.h - shared by the programs of tests/bench: a clock, medians, and contests. In a contest
   several ways to do one thing run in turn, in one process on one stream: rounds of bursts of
   calls, each burst of one way followed by one of the next, starting with another way each time,
   and in reverse order every second time. A round's figure for a way is the median of its bursts.
   Printed are medians over the rounds: of the time of a call, and of its ratio to another way's in
   the same round. Tables are Markdown. `make bench` runs the programs, in the repository's root. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"
#include "../support/calls.h"

static inline double microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static inline int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static inline double median(double *v, size_t count) { /* also sorts them */
    qsort(v, count, sizeof *v, by_size);
    return (v[count / 2] + v[(count - 1) / 2]) / 2;
}
static inline void check(gpuexec_result result) {
    if (result == GPUEXEC_OK) return;
    fputs(gpuexec_error_text(), stderr);
    exit(1);
}

/* 1 on the CPU device: figures mean nothing there, and everything runs only a few times, to check
   that it does. */
static inline int smoke(void) {
    gpuexec_device_info info;
    check(gpuexec_device_get_info(0, &info));
    return strstr(info.name, "CPU") != NULL;
}

/* --- contests --------------------------------------------------------------------------------- */

enum { MOST_ROUNDS = 100, MOST_WAYS = 16 };
/* microseconds for that many calls, one after the other; after timing it waits for the work they
   queued */
typedef double (*burst_function)(int calls);

enum { MOST_BURSTS = 64 };
static double contest_times[MOST_WAYS][MOST_ROUNDS]; /* microseconds of a call */
static unsigned contest_rounds;

static inline void contest(
        const burst_function *ways, unsigned count, unsigned rounds, unsigned bursts, int calls) {
    static double times[MOST_WAYS][MOST_BURSTS];
    unsigned round, i, k;
    for (i = 0; i < count; i++) ways[i](calls); /* warm up */
    for (round = 0; round < rounds; round++) {
        for (k = 0; k < bursts; k++) {
            for (i = 0; i < count; i++) {
                const unsigned turn = (i + k / 2) % count,
                               way = (round + k) % 2 ? count - 1 - turn : turn;
                times[way][k] = ways[way](calls) / calls;
            }
        }
        for (i = 0; i < count; i++) contest_times[i][round] = median(times[i], bursts);
    }
    contest_rounds = rounds;
}
static inline double contest_time(unsigned way) {
    double times[MOST_ROUNDS];
    memcpy(times, contest_times[way], sizeof times);
    return median(times, contest_rounds);
}
static inline double contest_ratio(unsigned way, unsigned to) {
    double ratios[MOST_ROUNDS];
    unsigned i;
    for (i = 0; i < contest_rounds; i++) ratios[i] = contest_times[way][i] / contest_times[to][i];
    return median(ratios, contest_rounds);
}

static inline double contest_highest(unsigned way, unsigned to) {
    double highest = 0;
    unsigned i;
    for (i = 0; i < contest_rounds; i++) {
        const double ratio = contest_times[way][i] / contest_times[to][i];
        if (ratio > highest) highest = ratio;
    }
    return highest;
}
