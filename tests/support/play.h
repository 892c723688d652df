/* play.h - what the libraries that play NVRTC and nvJitLink share: settings in the environment. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}
/* The function's result, if it must fail; otherwise 0. */
static int code_of(const char *function) {
    return strcmp(setting(PLAY "FAILS", ""), function) ? 0
                                                       : atoi(setting(PLAY "CODE", INTERNAL_ERROR));
}
#define FAIL_IF_ASKED() \
    do { \
        const int code = code_of(__func__); \
        if (code) return code; \
    } while (0)
