/* The cost of many objects, with the driver of driver.c, in milliseconds: a million allocations
   created, freed, created again and freed with their context; and a module loaded, its kernel
   looked up, and unloaded, among 10 and among 10,000 other objects (the fastest of nine thousand
   each). */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ALLOCATIONS = 1000000, LOADS = 1000, TURNS = 9 };
static gpuexec_ptr address[ALLOCATIONS];

static double ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may keep the processors busy */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static void allocate(gpuexec_context ctx) {
    int i;
    for (i = 0; i < ALLOCATIONS; i++) address[i] = gpuexec_alloc(ctx, 256);
}
static double loads(gpuexec_context ctx) {
    const double begin = ms();
    int i;
    for (i = 0; i < LOADS; i++) {
        gpuexec_module m = gpuexec_module_load(ctx, ".version 7.0", 0, NULL);
        gpuexec_kernel_get(m, "k");
        gpuexec_module_unload(m);
    }
    return ms() - begin;
}
int main(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    double begin = ms(), made, freed, closed, few = 1e9, many = 1e9;
    int i, k;
    allocate(ctx);
    made = ms() - begin;
    begin = ms();
    for (i = 0; i < ALLOCATIONS; i++) gpuexec_free(address[i]);
    freed = ms() - begin;
    allocate(ctx);
    begin = ms();
    gpuexec_context_close(ctx);
    closed = ms() - begin;
    for (k = 0; k < TURNS; k++) {
        double t;
        ctx = gpuexec_context_open(0, NULL);
        for (i = 0; i < 10; i++) gpuexec_event_create(ctx, NULL);
        t = loads(ctx);
        few = t < few ? t : few;
        for (; i < 10000; i++) gpuexec_event_create(ctx, NULL);
        t = loads(ctx);
        many = t < many ? t : many;
        gpuexec_context_close(ctx);
    }
    if (gpuexec_shutdown() != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return 1;
    }
    printf("%.0f %.0f %.0f %.0f\n", made, freed, closed, 100 * many / few);
    return 0;
}
