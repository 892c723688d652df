/* A driver on a machine without a GPU, as in containers and on build machines: it loads, it knows
   its version and the names of errors, and its cuInit returns the number in the environment's
   PLAY_CUINIT. Every other entry point returns CUDA_ERROR_NOT_INITIALIZED. Its texts are in this
   library: a pointer to one is invalid once the library is closed. */
#include <stdlib.h>
#include <string.h>

static const struct {
    int number;
    const char *name, *meaning;
} errors[] = {
    { 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { 101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { 802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized" },
    { 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "system has unsupported display driver / cuda driver combination" },
    { 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            "forward compatibility was attempted on non supported HW" },
    { 999, "CUDA_ERROR_UNKNOWN", "unknown error" },
}; /* this driver has no name for 35 */

static int text_of(int number, const char **text, int meaning) {
    size_t i;
    for (i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == number) {
            *text = meaning ? errors[i].meaning : errors[i].name;
            return 0;
        }
    *text = NULL;
    return 1;
}
int cuGetErrorName(int number, const char **text) { return text_of(number, text, 0); }
int cuGetErrorString(int number, const char **text) { return text_of(number, text, 1); }

int cuDriverGetVersion(int *version) {
    *version = 12040;
    return 0;
}

int cuInit(unsigned flags) {
    (void)flags;
    return atoi(getenv("PLAY_CUINIT"));
}

static int any(void) { return 3; }

int cuGetProcAddress(const char *name, void **p, int version, unsigned long long flags) {
    (void)version;
    (void)flags;
    *p = strcmp(name, "cuInit") == 0                  ? (void *)cuInit
            : strcmp(name, "cuDriverGetVersion") == 0 ? (void *)cuDriverGetVersion
            : strcmp(name, "cuGetErrorName") == 0     ? (void *)cuGetErrorName
            : strcmp(name, "cuGetErrorString") == 0   ? (void *)cuGetErrorString
                                                      : (void *)any;
    return 0;
}
int cuGetProcAddress_v2(
        const char *name, void **p, int version, unsigned long long flags, int *status) {
    if (status) *status = 0;
    return cuGetProcAddress(name, p, version, flags);
}
