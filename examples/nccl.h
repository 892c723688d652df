/* NCCL, found at run time: the functions and values that nccl_allreduce.c uses, without nccl.h.
   tests/header/abi compares them with nccl.h. ncclComm_t and cudaStream_t are pointers, here void
   *. */
#ifndef EXAMPLE_NCCL_H
#define EXAMPLE_NCCL_H

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NCCL_FLOAT = 7, NCCL_SUM = 0 };
/* clang-format off */
#define NCCL_FUNCTIONS(X) \
    X(GetVersion, int, (int *version)) \
    X(GetErrorString, const char *, (int result)) \
    X(CommInitAll, int, (void **comms, int count, const int *devices)) \
    X(CommDestroy, int, (void *comm)) \
    X(GroupStart, int, (void)) \
    X(GroupEnd, int, (void)) \
    X(AllReduce, int, (const void *from, void *to, size_t count, int type, int op, void *comm, \
        void *stream))
/* clang-format on */

#define NCCL_MEMBER(name, result, parameters) result(*name) parameters;
static struct { NCCL_FUNCTIONS(NCCL_MEMBER) } nccl;

/* Loads the library at `path`. Returns whether it has all functions. */
static inline int nccl_load(const char *path) {
    void *const library = dlopen(path, RTLD_NOW), *symbol;
    if (!library) return 0;
#define NCCL_SYMBOL(name, result, parameters) \
    symbol = dlsym(library, "nccl" #name); \
    if (!symbol) return 0; \
    memcpy(&nccl.name, &symbol, sizeof symbol);
    NCCL_FUNCTIONS(NCCL_SYMBOL)
    printf("%s: ", path);
    return 1;
}

/* Loads `path`, or, if that is NULL or empty, the first NCCL of: the loader's path; the wheel on
   which PyTorch depends, in the Python installations whose folders `bin` are on PATH; the user's
   own packages. */
static inline int nccl_find(const char *path) {
    static const char wheel[] = "lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2";
    const char *bin = getenv("PATH"), *home = getenv("HOME");
    char pattern[4096];
    int found, length;
    if (path && *path) return nccl_load(path);
    found = nccl_load("libnccl.so.2");
    while (!found && (bin || home)) {
        glob_t files;
        size_t i;
        length = bin ? (int)strcspn(bin, ":") : 0;
        if (bin) snprintf(pattern, sizeof pattern, "%.*s/../%s", length, bin, wheel);
        else snprintf(pattern, sizeof pattern, "%s/.local/%s", home, wheel);
        if (glob(pattern, 0, NULL, &files) == 0) {
            for (i = 0; i < files.gl_pathc && !found; i++) found = nccl_load(files.gl_pathv[i]);
            globfree(&files);
        }
        if (!bin) break;
        bin = bin[length] ? bin + length + 1 : NULL;
    }
    return found;
}

#endif
