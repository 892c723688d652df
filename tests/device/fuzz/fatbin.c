/* fatbin.c - arbitrary fatbins, host objects and archives, in memory that ends where they end:
   loaded from a file, and linked as each kind of input. The first byte selects which. Nothing may
   crash, hang, leak or read beyond the end, and every failure has a reason. */
#include "../../support/fuzz/fuzz.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxPushCurrent_v2(void *context);
int cuModuleLoad(void **module, const char *path);
int cuModuleUnload(void *module);
int cuLinkCreate_v2(unsigned n, int *options, void **values, void **state);
int cuLinkAddData_v2(void *state, int type, void *data, size_t bytes, const char *name, unsigned n,
        int *options, void **values);
int cuLinkDestroy(void *state);

enum { ERROR_LOG = 5, ERROR_SIZE, LOG = 4096, FATBIN = 2, OBJECT, ARCHIVE };

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    void *context;
    (void)count;
    (void)arguments;
    setenv("SIMGPU_MEMORY", "64M", 1);
    FUZZ_CHECK(
            !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxPushCurrent_v2(context),
            "no CPU device");
    return 0;
}

static void load_file(const uint8_t *data, size_t size) {
    char path[] = "/tmp/gpuexec-fuzz-XXXXXX";
    void *module;
    const int handle = mkstemp(path);
    FILE *file = handle >= 0 ? fdopen(handle, "wb") : NULL;
    if (!file) return;
    const int written = fwrite(data, 1, size, file) == size;
    fclose(file);
    if (written && !cuModuleLoad(&module, path)) FUZZ_CHECK(!cuModuleUnload(module), "unloading");
    remove(path);
}

static void link_as(int type, uint8_t *data, size_t size) {
    static char log[LOG];
    int options[] = { ERROR_LOG, ERROR_SIZE };
    void *values[] = { log, (void *)(uintptr_t)LOG }, *state;
    FUZZ_CHECK(!cuLinkCreate_v2(2, options, values, &state), "a link state");
    const int result = cuLinkAddData_v2(state, type, data, size, NULL, 0, NULL, NULL);
    FUZZ_CHECK(result != 209 || log[0], "%d without a reason", result);
    FUZZ_CHECK(!cuLinkDestroy(state), "destroying the link state");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const unsigned how = size ? data[0] % 4 : 0;
    if (size < 2) return 0;
    data++;
    size--;
    if (!how) {
        load_file(data, size);
        return 0;
    }
    /* with the address of a wrapper, which may be any, 24 bytes would be followed */
    if (how == 1 && size == 24) return 0;
    uint8_t *copy = (uint8_t *)malloc(size);
    if (!copy) return 0;
    memcpy(copy, data, size);
    link_as(how == 1 ? FATBIN : how == 2 ? OBJECT : ARCHIVE, copy, size);
    free(copy);
    return 0;
}
