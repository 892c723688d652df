/* parser.c - arbitrary PTX text: an input is loaded as a module, and, split at its NULs, added to a
   linker, whose image is loaded, too. Every failure must give a reason; nothing may crash, hang or
   leak. Mutations know lines, words and instructions (grammar.c), not only bytes. */
#include "../../support/fuzz/grammar.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxPushCurrent_v2(void *context);
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
int cuModuleLoad(void **module, const char *path);
int cuModuleUnload(void *module);
int cuModuleGetFunctionCount(unsigned *n, void *module);
int cuModuleEnumerateFunctions(void **functions, unsigned n, void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetGlobal_v2(
        unsigned long long *address, size_t *bytes, void *module, const char *name);
int cuFuncGetName(const char **name, void *function);
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuLinkCreate_v2(unsigned n, int *options, void **values, void **state);
int cuLinkAddData_v2(void *state, int type, void *data, size_t bytes, const char *name, unsigned n,
        int *options, void **values);
int cuLinkComplete(void *state, void **image, size_t *bytes);
int cuLinkDestroy(void *state);

enum {
    OK,
    INVALID_VALUE,
    OUT_OF_MEMORY,
    INVALID_IMAGE = 200,
    NO_BINARY = 209,
    INVALID_PTX = 218,
    PTX_VERSION = 222,
    INVALID_SOURCE = 300,
    UNKNOWN = 999
};
enum { INFO_LOG = 3, INFO_SIZE, ERROR_LOG, ERROR_SIZE, VERBOSE = 12, INPUT_PTX = 1, LOG = 4096 };

static char info[LOG], errors[LOG];
static int options[] = { INFO_LOG, INFO_SIZE, ERROR_LOG, ERROR_SIZE, VERBOSE };

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    void *context;
    (void)count;
    (void)arguments;
    setenv("SIMGPU_MEMORY", "64M", 1); /* so that variables of a gigabyte fail at once */
    FUZZ_CHECK(
            !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxPushCurrent_v2(context),
            "no CPU device");
    return 0;
}

static void look_at(void *module) {
    void *functions[8], *again;
    unsigned n = 0;
    const char *name;
    FUZZ_CHECK(!cuModuleGetFunctionCount(&n, module), "the number of kernels");
    if (n > 8) n = 8;
    FUZZ_CHECK(!cuModuleEnumerateFunctions(functions, n, module), "%u kernels", n);
    for (unsigned i = 0; i < n; i++) {
        size_t offset, size, end = 0;
        int value;
        FUZZ_CHECK(
                !cuFuncGetName(&name, functions[i]) && !cuModuleGetFunction(&again, module, name),
                "kernel %u by its name", i);
        for (size_t k = 0; cuFuncGetParamInfo(functions[i], k, &offset, &size) == 0; k++) {
            FUZZ_CHECK(offset >= end, "parameter %zu of %s at %zu, the previous one ends at %zu", k,
                    name, offset, end);
            end = offset + size;
        }
        for (int a = 0; a < 10; a++)
            FUZZ_CHECK(!cuFuncGetAttribute(&value, a, functions[i]) && value >= -1,
                    "attribute %d of %s is %d", a, name, value);
    }
    unsigned long long address;
    size_t bytes;
    (void)cuModuleGetGlobal_v2(&address, &bytes, module, "g");
    FUZZ_CHECK(!cuModuleUnload(module), "unloading");
}

static int load(const void *image) {
    void *values[] = { info, (void *)(uintptr_t)LOG, errors, (void *)(uintptr_t)LOG, (void *)1 },
         *module;
    const int result = cuModuleLoadDataEx(&module, image, 5, options, values);
    const size_t length = (size_t)(uintptr_t)values[3];
    FUZZ_CHECK(length <= LOG && strlen(errors) < LOG, "the log's length is %zu", length);
    if (!result) look_at(module);
    else {
        FUZZ_CHECK(result == OUT_OF_MEMORY || result == INVALID_IMAGE || result == NO_BINARY ||
                        result == INVALID_PTX || result == PTX_VERSION || result == UNKNOWN ||
                        result == INVALID_SOURCE,
                "the result is %d", result);
        FUZZ_CHECK(result == OUT_OF_MEMORY || length, "%d without a reason", result);
    }
    return result;
}

static void load_file(const uint8_t *data, size_t size) {
    char path[] = "/tmp/gpuexec-fuzz-XXXXXX";
    void *module;
    const int handle = mkstemp(path);
    FILE *file = handle >= 0 ? fdopen(handle, "wb") : NULL;
    if (!file) return;
    const int written = fwrite(data, 1, size, file) == size;
    fclose(file);
    if (written && !cuModuleLoad(&module, path)) look_at(module);
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int binary = size > 3 && (data[0] == 0x7F || data[0] == 0x50 || data[0] == 0xB1);
    /* a binary contains its length, and is read up to that length */
    char *text = (char *)calloc(1, size + (binary ? 24 : 1));
    void *state, *image,
            *values[] = { info, (void *)(uintptr_t)LOG, errors, (void *)(uintptr_t)LOG, (void *)1 };
    size_t bytes;
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    /* contains its length, or pointers: loaded from a file, since only a file has a known end */
    if (size >= 8 &&
            (memcmp(data, "\x50\xED\x55\xBA", 4) == 0 || memcmp(data, "\xB1\x43\x62\x46", 4) == 0))
        load_file(data, size);
    else (void)load(text);
    FUZZ_CHECK(!cuLinkCreate_v2(5, options, values, &state), "a link state");
    for (size_t at = 0, n = 0; at < size && n < 6; n++) {
        const size_t len = strlen(text + at);
        if (len)
            (void)cuLinkAddData_v2(state, INPUT_PTX, text + at, len + (n & 1),
                    n & 2 ? "a name" : NULL, 0, NULL, NULL);
        at += len + 1;
    }
    if (!cuLinkComplete(state, &image, &bytes)) (void)load(image);
    FUZZ_CHECK(!cuLinkDestroy(state), "destroying the link state");
    free(text);
    return 0;
}

#ifdef FUZZ_ENGINE
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return grammar_mutate(data, size, most, seed);
}
#endif
