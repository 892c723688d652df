/* The cost of many allocations on the CPU device, whose library is the argument, by the driver's
   own calls. Prints the processor time in milliseconds that a hundred thousand and then a million
   of them take: to be created, to be freed (a third in order of creation, a third in reverse order,
   a third at random), and to be freed with their context. Exit code 1 if a result is wrong: it
   queries addresses in live allocations, in freed ones, and after both. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../support/calls.h"

enum { FEW = 100000, MANY = 1000000, BYTES = 256, NOT_FOUND = 500, GIVE_UP_MS = 20000 };
typedef unsigned long long address;
static address at[MANY];
static driver_calls cu;

static void fail(const char *what, int result) {
    fprintf(stderr, "simgpu_objects: %s returned %d\n", what, result);
    exit(1);
}
static void call(const char *what, int result) {
    if (result) fail(what, result);
}
static double ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may keep the processors busy */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static void swap(int i, int k) {
    const address a = at[i];
    at[i] = at[k];
    at[k] = a;
}

static void *open_context(void) {
    void *context = NULL;
    call("cuCtxCreate", cu.cuCtxCreate_v2(&context, 0, 0));
    return context;
}
static void allocate(int n) {
    int i;
    for (i = 0; i < n; i++) call("cuMemAlloc", cu.cuMemAlloc_v2(&at[i], BYTES));
}
/* Puts the second third into reverse order and the last one into random order. */
static void shuffle(int n) {
    unsigned state = 1;
    int i;
    for (i = 0; i < n / 6; i++) swap(n / 3 + i, 2 * n / 3 - 1 - i);
    for (i = n - 1; i > 2 * n / 3; i--) {
        state = state * 1664525u + 1013904223u;
        swap(i, 2 * n / 3 + (int)((state >> 8) % (unsigned)(i - 2 * n / 3 + 1)));
    }
}

/* Frees all but the first `keep`. Returns the time; gives up after GIVE_UP_MS. */
static double release(int n, int keep) {
    const double begin = ms();
    int i;
    for (i = keep; i < n; i++) {
        call("cuMemFree", cu.cuMemFree_v2(at[i]));
        if (i % 1024 == 0 && ms() - begin > GIVE_UP_MS) {
            fprintf(stderr, "simgpu_objects: only %d of %d allocations were freed in %d ms\n",
                    i + 1, n, GIVE_UP_MS);
            exit(1);
        }
    }
    return ms() - begin;
}

/* Frees half of them, at random: the others must be found, and the freed ones not. */
static void look(int n) {
    unsigned state = 7;
    int i;
    allocate(n);
    for (i = n - 1; i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        swap(i, (int)((state >> 8) % (unsigned)(i + 1)));
    }
    release(n, n / 2);
    for (i = 0; i < n; i++) {
        address base = 0;
        size_t bytes = 0;
        const int result = cu.cuMemGetAddressRange_v2(&base, &bytes, at[i] + (address)(i % BYTES));
        if (result != (i < n / 2 ? 0 : NOT_FOUND)) fail("cuMemGetAddressRange", result);
        if (i < n / 2 && (base != at[i] || bytes != BYTES))
            fail("an address inside of another range", result);
        if (cu.cuMemGetAddressRange_v2(&base, &bytes, at[i] + BYTES) != NOT_FOUND)
            fail("an address after the end", 0);
        if (i >= n / 2 && cu.cuMemFree_v2(at[i]) == 0) fail("cuMemFree for the second time", 0);
    }
    release(n / 2, 0);
}

static void measure(int n) {
    double begin = ms(), made, freed;
    void *context = open_context();
    allocate(n);
    made = ms() - begin;
    shuffle(n);
    freed = release(n, 0);
    allocate(n);
    begin = ms();
    call("cuCtxDestroy", cu.cuCtxDestroy_v2(context));
    printf("%.0f %.0f %.0f ", made, freed, ms() - begin);
}

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL, *context;
    if (!library) {
        fprintf(stderr, "usage: simgpu_objects libsimgpu.so\n");
        return 2;
    }
    cu = calls_load(library);
    call("cuInit", cu.cuInit(0));
    context = open_context();
    look(FEW);
    call("cuCtxDestroy", cu.cuCtxDestroy_v2(context));
    measure(FEW);
    measure(MANY);
    printf("\n");
    return 0;
}
