/* executor.c - kernels generated from an input's bytes (grammar.c), launched with a small grid.
   Lines that the module's log reports are removed, so that the rest runs. An input that begins like
   PTX is itself such a module, with the kernel k. A kernel may fail in any way that a kernel can;
   the CPU device itself must not crash, hang or leak. */
#include "../../support/fuzz/grammar.h"

int cuArray3DCreate_v2(void **array, const void *layout);
int cuMipmappedArrayCreate(void **array, const void *layout, unsigned levels);
int cuTexObjectCreate(
        unsigned long long *object, const void *resource, const void *sampling, const void *view);
int cuSurfObjectCreate(unsigned long long *object, const void *resource);
int cuModuleGetTexRef(void **reference, void *module, const char *name);
int cuModuleGetSurfRef(void **reference, void *module, const char *name);
int cuTexRefSetArray(void *reference, void *array, unsigned flags);
int cuSurfRefSetArray(void *reference, void *array, unsigned flags);
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(unsigned long long *address, size_t bytes);
int cuMemsetD32_v2(unsigned long long address, unsigned value, size_t n);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
        unsigned bz, unsigned shared, void *stream, void **params, void **extra);
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
        unsigned by, unsigned bz, unsigned shared, void *stream, void **params);

enum {
    ERROR_LOG = 5,
    ERROR_SIZE = 6,
    LOG = 8192,
    TEXT = 64 << 10,
    MOST_TRIES = 12,
    BYTES = 64 << 10
};

static char text[TEXT], errors[LOG];
static unsigned long long buffer;
static void *plane; /* an array that the references tx and su show */

/* Textures 1 to 4, and surfaces 5 to 8: an array, layers, mipmapped cubes and linear memory; a
   plane, layers, a volume and a line. */
static void make_images(void) {
    enum { U32 = 3, FLOAT = 32, LAYERED = 1, SURFACE = 2, CUBE = 4, GATHER = 8 };
    static const struct {
        size_t size[3];
        unsigned format, channels, flags;
    } layouts[] = {
        { { 16, 8, 0 }, FLOAT, 1, SURFACE | GATHER },
        { { 8, 8, 3 }, 1, 4, SURFACE | LAYERED },
        { { 4, 4, 4 }, U32, 2, SURFACE },
        { { 32, 0, 0 }, 2, 1, SURFACE },
        { { 8, 8, 6 }, 16, 4, CUBE },
    };
    static const struct {
        unsigned address[3], filter, flags, anisotropy, mipmap_filter;
        float bias, least, most, border[4];
        int rest[12];
    } sampling[] = {
        { { 0, 1, 2 }, 1, 2, 4, 0, 0, 0, 0, { 1, 2, 3, 4 }, { 0 } },
        { { 3, 3, 3 }, 0, 1, 0, 0, 0, 0, 0, { 1, 2, 3, 4 }, { 0 } },
        { { 1, 1, 1 }, 1, 2, 1, 1, 0.5f, 0, 3, { 0 }, { 0 } },
        { { 1, 1, 1 }, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 } },
    };
    unsigned long long object, resource[19] = { 0 };
    void *array, *mipmapped, *arrays[4];
    FUZZ_CHECK(!cuMipmappedArrayCreate(&mipmapped, &layouts[4], 3), "cubes");
    for (unsigned k = 0; k < 4; k++) {
        FUZZ_CHECK(!cuArray3DCreate_v2(&array, &layouts[k]), "array %u", k);
        if (!k) plane = array;
        arrays[k] = array;
        memset(resource, 0, sizeof resource);
        resource[1] = (uintptr_t)array;
        if (k == 2) {
            resource[0] = 1;
            resource[1] = (uintptr_t)mipmapped;
        }
        if (k == 3) { /* 1000 elements of one .u32 */
            resource[0] = 2;
            resource[1] = buffer;
            resource[2] = 1ull << 32 | U32;
            resource[3] = 4000;
        }
        FUZZ_CHECK(!cuTexObjectCreate(&object, resource, &sampling[k], NULL) && object == k + 1ull,
                "texture %llu", object);
    }
    for (unsigned k = 0; k < 4; k++) {
        memset(resource, 0, sizeof resource);
        resource[1] = (uintptr_t)arrays[k];
        FUZZ_CHECK(!cuSurfObjectCreate(&object, resource) && object == k + 5ull, "surface %llu",
                object);
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    void *context;
    (void)count;
    (void)arguments;
    /* checked after each quantum of 20,000 instructions of a warp: loops end */
    setenv("SIMGPU_TIMEOUT", "0.005", 1);
    setenv("SIMGPU_MEMORY", "64M", 1);
    FUZZ_CHECK(freopen("/dev/null", "w", stdout), "no /dev/null for the kernels' output");
    FUZZ_CHECK(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
                    !cuCtxPushCurrent_v2(context) && !cuMemAlloc_v2(&buffer, BYTES),
            "no CPU device");
    make_images();
    return 0;
}

/* Blanks the text after the label in each line that the log names. Returns the number of lines. */
static unsigned take_out(void) {
    unsigned taken = 0;
    for (const char *at = errors; (at = strstr(at, "line")) != NULL; at++) {
        const unsigned long line = strtoul(at + 4 + strspn(at + 4, " '"), NULL, 10);
        char *p = text;
        for (unsigned long k = 1; k < line && p; k++)
            if ((p = strchr(p, '\n')) != NULL) p++;
        if (!line || !p || *p != 'L') continue;
        char *body = p + strcspn(p, ":\n");
        const size_t n = strcspn(body, "\n");
        if (n < 2 || strspn(body + 1, " ") == n - 1) continue;
        memset(body + 1, ' ', n - 1);
        taken++;
    }
    return taken;
}

static void *load(void) {
    static int options[] = { ERROR_LOG, ERROR_SIZE };
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        void *values[] = { errors, (void *)(uintptr_t)LOG }, *module;
        if (!cuModuleLoadDataEx(&module, text, 2, options, values)) return module;
        if (!take_out()) break;
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned blocks[][3] = {
        { 32, 1, 1 },
        { 1, 1, 1 },
        { 33, 1, 1 },
        { 64, 1, 1 },
        { 8, 4, 2 },
        { 3, 5, 7 },
        { 128, 1, 1 },
        { 31, 1, 1 },
    };
    struct fuzz_source s = { data, size };
    struct grammar_text t = { text, 0, sizeof text };
    const unsigned shape = fuzz_byte(&s), grid = 1 + fuzz_byte(&s) % 4,
                   shared = fuzz_byte(&s) % 4 * 100, *b = blocks[shape % 8];
    unsigned long long record[4] = { buffer + 4096, 0x3FF8000000000000, 7, 0xFFFFFFFF00000001 };
    unsigned n = fuzz_byte(&s);
    void *params[] = { &buffer, record, &n }, *module, *kernel, *reference;
    if (size > 8 && size < sizeof text && memcmp(data, ".version", 8) == 0)
        grammar_add(&t, "%.*s", (int)size, (const char *)data);
    else grammar_module(&s, &t);
    if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "%s", text);
    if (!(module = load())) return -1; /* not useful for the corpus */
    if (cuModuleGetFunction(&kernel, module, "k")) {
        cuModuleUnload(module);
        return -1;
    }
    if (!cuModuleGetTexRef(&reference, module, "tx")) cuTexRefSetArray(reference, plane, 1);
    if (!cuModuleGetSurfRef(&reference, module, "su")) cuSurfRefSetArray(reference, plane, 0);
    FUZZ_CHECK(!cuMemsetD32_v2(buffer, 0x01020304, 1024), "filling the buffer");
    int result = shape < 224
            ? cuLaunchKernel(kernel, grid, 1, 1, b[0], b[1], b[2], shared, NULL, params, NULL)
            : cuLaunchCooperativeKernel(kernel, grid, 1, 1, b[0], b[1], b[2], shared, NULL, params);
    if (!result) result = cuCtxSynchronize();
    if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "%s\nanswer: %d\n", text, result);
    simgpu_forget_fault();
    FUZZ_CHECK(!cuModuleUnload(module), "unloading after result %d", result);
    return 0;
}
