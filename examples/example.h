/* Shared by the examples: a clock, and a search for the PTX files of ../kernels that works from any
   directory. Include it first. Your own programs need neither: they know where their PTX files are,
   or contain them as strings. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200112L /* clock_gettime with -std=c99 */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

static inline double example_milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The length of the path's directory, including the last slash. */
static inline int example_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Returns the path of kernels/NAME, valid until the next call. Searches the directory that this
   file had at compile time, first as given, then (if the compiler was given a relative path)
   relative to the program's directory; after that kernels/ next to the program and up to three
   levels above it. If there is none, prints all paths and exits. */
static inline const char *example_ptx(const char *name) {
    static char path[6][4096];
    const char *here = __FILE__, *program = "";
    int i, in_here = example_directory(here), in_program;
#ifdef __linux__
    program = (const char *)getauxval(AT_EXECFN);
#endif
    in_program = example_directory(program);
    for (i = 0; i < 6; i++) {
        FILE *file;
        if (i < 2)
            snprintf(path[i], sizeof path[i], "%.*s%.*s../kernels/%s", i ? in_program : 0, program,
                    in_here, here, name);
        else
            snprintf(path[i], sizeof path[i], "%.*s%.*skernels/%s", in_program, program,
                    3 * (i - 2), "../../../", name);
        file = fopen(path[i], "rb");
        if (file) {
            fclose(file);
            return path[i];
        }
    }
    fprintf(stderr, "cannot find %s; tried:\n", name);
    for (i = 0; i < 6; i++) fprintf(stderr, "  %s\n", path[i]);
    exit(1);
}

#endif
