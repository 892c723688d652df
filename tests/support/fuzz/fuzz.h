/* fuzz.h - shared by the fuzzing harnesses of this directory. Each harness is one file with
   libFuzzer's entry points. Built with clang and -fsanitize=fuzzer, it searches for inputs that
   crash, hang or leak (`make fuzz`); with main.c it runs the files it is given, which is how
   `make check` replays earlier findings (run.sh). All of them run on the CPU device
   build/fuzz/libsimgpu.so, which is the usual one plus hook.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* hook.c: waits for all work, and resets the process as if no kernel had failed in it. Otherwise
   the first illegal address would end all later inputs of the process. */
void simgpu_forget_fault(void);
/* Destroys all contexts, including retained primary ones. Memory that is still allocated after that
   is a leak. */
void simgpu_end_contexts(void);
/* Makes gpuexec.h load this library: sets GPUEXEC_DRIVER. */
void simgpu_take_this(void);

/* An input, read from the front; zeros after its end. */
struct fuzz_source {
    const uint8_t *at;
    size_t left;
};
static inline unsigned fuzz_byte(struct fuzz_source *s) {
    if (!s->left) return 0;
    s->left--;
    return *s->at++;
}
static inline unsigned fuzz_pick(struct fuzz_source *s, unsigned n) { /* 0 .. n - 1 */
    unsigned x = fuzz_byte(s);
    if (n > 256) x |= fuzz_byte(s) << 8;
    return x % n;
}
static inline uint64_t fuzz_number(struct fuzz_source *s) { /* often a boundary value */
    static const uint64_t edges[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128,
        255, 256, 1023, 1024, 1025, 4095, 4096, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
        0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF };
    const unsigned kind = fuzz_byte(s);
    uint64_t x = 0;
    if (kind < 128) return edges[kind % (sizeof edges / sizeof *edges)];
    if (kind < 192) return fuzz_byte(s);
    if (kind < 224) return 0 - (uint64_t)fuzz_byte(s);
    for (unsigned i = 0; i < 8; i++) x = x << 8 | fuzz_byte(s);
    return x;
}

/* A condition that must hold; a violation is a finding, like a crash. */
#define FUZZ_CHECK(condition, ...) \
    do { \
        if (condition) break; \
        fprintf(stderr, "%s:%d: failed: %s: ", __FILE__, __LINE__, #condition); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
        abort(); \
    } while (0)

#endif
