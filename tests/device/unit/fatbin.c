/* fatbin.c - fatbins, built here byte by byte as nvcc 13 builds them: the CPU device takes the PTX
   in them. */
#include "../../test.h"
#include <dlfcn.h>
#include <sys/resource.h>

enum {
    PTX = 1,
    CUBIN = 2,
    LTO = 8,
    PLAIN = 0x11,
    LZ4 = 0x2011,
    ZSTD = 0x8011,
    THIS_ONLY = 0x100000,
    FAMILY = 0x200000,
    ROOM = 16384,
    ENTRY = 80
};

static unsigned char made[ROOM];
static size_t at;

static void put(size_t where, unsigned bytes, unsigned long long x) {
    for (; bytes--; x >>= 8) made[where++] = (unsigned char)x;
}
static void begin(void) {
    memset(made, 0, sizeof made);
    memcpy(made, "\x50\xED\x55\xBA\1\0\x10", 8);
    at = 16;
}
/* Text as LZ4 and as zstd store what they do not shorten. */
static size_t pack(unsigned flags, const char *text, size_t n, unsigned char *to) {
    size_t head = 0, left = n - 15;
    if (flags & 0x2000) { /* n literals: 15 in the token, then up to 255 each */
        to[head++] = 0xF0;
        for (; left >= 255; left -= 255) to[head++] = 255;
        to[head++] = (unsigned char)left;
    } else if (flags & 0x8000) { /* one segment, 4 bytes of size; one last raw block */
        memcpy(to, "\x28\xB5\x2F\xFD\xA0", 5);
        for (head = 5; head < 9; head++) to[head] = (unsigned char)(n >> 8 * (head - 5));
        for (head = 9; head < 12; head++)
            to[head] = (unsigned char)((n << 3 | 1) >> 8 * (head - 9));
    }
    memcpy(to + head, text, n);
    return head + n;
}
static void add(unsigned kind, unsigned arch, unsigned flags, const char *text) {
    const size_t n = strlen(text) + 1, packed = pack(flags, text, n, made + at + ENTRY),
                 payload = (packed + 7) / 8 * 8;
    put(at, 2, kind);
    put(at + 2, 2, 0x101);
    put(at + 4, 4, ENTRY);
    put(at + 8, 8, payload);
    put(at + 20, 4, 64); /* where the place of the options of PTX is: none */
    put(at + 26, 2, 7);  /* PTX of version 7.0 */
    put(at + 28, 4, arch);
    put(at + 40, 8, flags);
    if (flags & (0x2000 | 0x8000)) {
        put(at + 16, 4, packed);
        put(at + 56, 8, n);
    }
    put(at + 64, 4, 72);
    at += ENTRY + payload;
    put(8, 8, at - 16);
}
static const char *text(unsigned value) { /* a kernel "e" that stores the value */
    static char made_text[700];
    snprintf(made_text, sizeof made_text,
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry e(.param .u64 to) {\n    .reg .b64 %%p;\n    ld.param.u64 %%p, [to];\n"
            "    st.global.u32 [%%p], %u;\n    ret;\n}\n",
            value);
    return made_text;
}
static unsigned value_of(gpuexec_context ctx, gpuexec_module mod) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    unsigned x = 0;
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(mod, "e"), s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p)));
    CHECK_OK(gpuexec_copy_out(s, &x, p, 4));
    CHECK_OK(gpuexec_stream_sync(s));
    return x;
}
static int can_unpack(unsigned flags) {
    return !on_cpu_device() || !(flags & 0xA000) ||
            dlopen(flags & 0x2000 ? "liblz4.so.1" : "libzstd.so.1", RTLD_NOW) != NULL;
}
#define DAMAGED(...) \
    CHECK_NOT_MADE(gpuexec_module_load(ctx, made, at, NULL), GPUEXEC_BAD_IMAGE, __VA_ARGS__)

TEST(ptx_in_every_form) {
    static const unsigned flags[] = { PLAIN, LZ4, ZSTD };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l;
    unsigned i;
    for (i = 0; i < 3; i++) {
        if (!can_unpack(flags[i])) SKIP("no library that decompresses");
        begin();
        add(PTX, 70, flags[i], text(40 + i));
        CHECK_EQ(value_of(ctx, gpuexec_module_load(ctx, made, at, NULL)), 40 + i);
        l = gpuexec_linker_create(ctx, NULL);
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_FATBIN, made, at, "fatbin"));
        CHECK_EQ(value_of(ctx, gpuexec_linker_load(l)), 40 + i);
    }
}

/* The newest that the device can use; cubins for other devices are passed over. */
TEST(the_best_of_several) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    if (!on_cpu_device()) SKIP("written for compute capability 9.0");
    begin();
    add(PTX, 80, PLAIN, text(80));
    add(CUBIN, 90, PLAIN, "not read");
    add(PTX, 75, PLAIN, text(75));
    add(PTX, 100, PLAIN, text(100));
    add(PTX, 75, PLAIN | THIS_ONLY, text(1));
    add(99, 90, PLAIN, "a kind that there is not");
    CHECK_EQ(value_of(ctx, gpuexec_module_load(ctx, made, at, NULL)), 80);
    add(PTX, 90, PLAIN, text(90));
    CHECK_EQ(value_of(ctx, gpuexec_module_load(ctx, made, at, NULL)), 90);
    add(PTX, 90, PLAIN | THIS_ONLY, text(91));
    CHECK_EQ(value_of(ctx, gpuexec_module_load(ctx, made, at, NULL)), 91);
}

TEST(nothing_for_this_device) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int i;
    if (!on_cpu_device()) SKIP("written for compute capability 9.0");
    begin();
    CHECK_NOT_MADE(
            gpuexec_module_load(ctx, made, at, NULL), GPUEXEC_IMAGE_TOO_NEW, "contains nothing");
    for (i = 0; i < 2; i++) { /* each part is listed once */
        add(CUBIN, 75, PLAIN, "123456789");
        add(PTX, 120, PLAIN, text(1));
        add(PTX, 80, PLAIN | THIS_ONLY, text(1));
        add(PTX, 80, PLAIN | FAMILY, text(1));
        add(LTO, 90, PLAIN, "12345");
        add(99, 90, PLAIN, "12345");
    }
    CHECK_NOT_MADE(gpuexec_module_load(ctx, made, at, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "has no code for device 0 (compute capability 9.0)", "code=[sm_90,compute_90]",
            "It contains: a cubin for sm_75 (for another major version), PTX for compute_120 "
            "(newer than the device), PTX for compute_80a (runs only on exactly this "
            "architecture), PTX for compute_80f (for another major version), LTO-IR for lto_90 "
            "(to be linked by nvJitLink), a part for sm_90 (of an unknown kind) (");
    /* the log */
    CHECK_TEXT(gpuexec_error_text(), "a cubin for sm_75, 16 bytes", "an entry of unknown kind 99");
    begin();
    for (i = 0; i < 40; i++) add(CUBIN, (unsigned)(200 + i), PLAIN, "1");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, made, at, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "sm_231 (newer than the device) (GPUEXEC");
}

/* --- several images --------------------------------------------------------------------------- */

/* A cubin's header without a section: of CUDA 12 (abi 7) or 13 (abi 8). */
static const void *cubin(unsigned abi, unsigned arch, int this_only) {
    static unsigned char all[8][64];
    static unsigned next;
    unsigned char *p = all[next++ % 8];
    memset(p, 0, 64);
    memcpy(p, "\177ELF\2\1\1", 7);
    p[7] = abi == 8 ? 0x41 : 0x33;
    p[8] = (unsigned char)abi;
    p[18] = 190;
    p[abi == 8 ? 49 : 48] = (unsigned char)arch;
    if (this_only) p[abi == 8 ? 48 : 49] |= 8;
    return p;
}
static const char *text_for(const char *target, unsigned value) {
    static char all[8][700];
    static unsigned next;
    char *p = all[next++ % 8];
    snprintf(p, 700, "%s", text(value));
    memcpy(strstr(p, "sm_70"), target, 5);
    return p;
}
static unsigned loaded(
        gpuexec_context ctx, const gpuexec_image *images, size_t count, const char *log) {
    gpuexec_module mod = gpuexec_module_load_best(ctx, images, count, NULL);
    CHECK_MADE(mod);
    CHECK_TEXT(gpuexec_module_log(mod), log);
    return value_of(ctx, mod);
}

TEST(best_of_several_images) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_image images[6];
    const char *newest;
    memset(images, 0, sizeof images);
    images[0].data = cubin(8, 255, 0), images[0].name = "new.cubin";
    images[1].data = text_for("sm_70", 70);
    images[2].data = newest = text_for("sm_75", 75), images[2].bytes = strlen(newest);
    images[3].data = cubin(7, 50, 0), images[3].name = "old.cubin";
    images[4].data = newest, images[4].name = "same";
    CHECK_EQ(loaded(ctx, images, 5,
                     "\"new.cubin\": a cubin for sm_255 (newer than the device); \"old.cubin\": a "
                     "cubin for sm_50 (for another major version)\n"),
            75);
    CHECK_EQ(loaded(ctx, images, 2, "new.cubin"), 70);
    CHECK_EQ(loaded(ctx, images + 1, 1, ""), 70);
    begin(); /* a fatbin counts as its best part */
    add(PTX, 75, PLAIN, text_for("sm_75", 1));
    add(PTX, 120, PLAIN, text_for("sm_75", 2));
    images[4].data = made, images[4].bytes = at;
    CHECK_EQ(loaded(ctx, images + 3, 2, "old.cubin"), 1);
    CHECK_EQ(loaded(ctx, images, 5, "old.cubin"), 75); /* the first of two equal ones */
}

/* What fits, but is refused by the driver. */
TEST(images_that_the_driver_refuses) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_device_info d;
    gpuexec_image images[3];
    char *future;
    memset(images, 0, sizeof images);
    CHECK_OK(gpuexec_device_get_info(0, &d));
    images[0].data = cubin(8, (unsigned)d.compute_capability, 1), images[0].name = "this.cubin";
    images[1].data = future = strdup(text_for("sm_75", 1)), images[1].name = "future.ptx";
    memcpy(strstr(future, "7.0"), "9.9", 3);
    images[2].data = text_for("sm_70", 70);
    CHECK_EQ(loaded(ctx, images + 1, 2,
                     "\"future.ptx\": PTX for compute_75 (the driver returned "
                     "CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"),
            70);
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images + 1, 1, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "no image has code", "\"future.ptx\": PTX for", "nvcc -ptx -arch=compute_75");
    if (on_cpu_device()) { /* a GPU may accept a cubin that is only a header */
        CHECK_EQ(loaded(ctx, images, 3, "a (the driver returned CUDA_ERROR_"), 70);
        CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, 2, NULL), GPUEXEC_IMAGE_TOO_NEW,
                "no image has code for device 0 (compute", "\"this.cubin\": a cubin for sm_",
                "; \"future.ptx\": PTX for");
    }
    images[1].data =
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry e() { nothing; }\n";
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images + 1, 2, NULL), GPUEXEC_BAD_IMAGE,
            "\"future.ptx\" is PTX that does not compile");
    free(future);
}

TEST(wrong_lists_of_images) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_image images[2];
    gpuexec_module_desc desc;
    memset(images, 0, sizeof images);
    memset(&desc, 0, sizeof desc);
    images[0].data = text_for("sm_70", 1);
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, NULL, 2, NULL), GPUEXEC_BAD_ARGUMENT,
            "the list of images is NULL");
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, 0, NULL), GPUEXEC_BAD_ARGUMENT,
            "number of images is 0");
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, (size_t)-1, NULL), GPUEXEC_BAD_ARGUMENT,
            "number of images");
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, 2, NULL), GPUEXEC_BAD_ARGUMENT,
            "images[1] is NULL");
    images[1].data = cubin(7, 90, 0), images[1].bytes = 40;
    desc.name = "all";
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, 2, &desc), GPUEXEC_BAD_IMAGE,
            "\"all\" is a truncated cubin");
    images[1].data = "\177ELF, or not", images[1].bytes = 12, images[1].name = "host.o";
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, 2, NULL), GPUEXEC_BAD_IMAGE,
            "\"host.o\" is an ELF file");
    desc.start_canary = 1;
    CHECK_NOT_MADE(gpuexec_module_load_best(ctx, images, 2, &desc), GPUEXEC_BAD_ARGUMENT,
            "was not zero-initialized");
}

TEST(damaged) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t whole;
    if (!on_cpu_device()) SKIP("a GPU's driver trusts what it reads");
    begin();
    add(PTX, 70, PLAIN, text(1));
    whole = at;
    at = whole - 8;
    DAMAGED("is a truncated fatbin");
    at = whole;
    put(4, 2, 7);
    DAMAGED("version is not known");
    put(4, 2, 1);
    put(16 + 8, 8, whole);
    DAMAGED("an entry extends beyond its end");
    put(16 + 8, 8, ~0ull);
    DAMAGED("an entry extends beyond its end");
    put(16 + 8, 8, whole - 16 - ENTRY);
    put(16 + 4, 4, 0);
    DAMAGED("an entry extends beyond its end");
    put(16 + 4, 4, ENTRY);
    put(16 + 16, 4, 100);
    DAMAGED("compressed in a way that is not known");
    put(16 + 16, 4, 0);
    CHECK_EQ(value_of(ctx, gpuexec_module_load(ctx, made, at, NULL)), 1);
}

TEST(damaged_and_compressed) {
    static const unsigned flags[] = { LZ4, ZSTD };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    unsigned i;
    if (!on_cpu_device()) SKIP("a GPU's driver trusts what it reads");
    for (i = 0; i < 2; i++) {
        size_t n = strlen(text(1)) + 1;
        if (!can_unpack(flags[i])) SKIP("no library that decompresses");
        begin();
        add(PTX, 70, flags[i], text(1));
        put(16 + 56, 8, n - 1);
        DAMAGED("does not decompress to the size");
        put(16 + 56, 8, n + 1);
        DAMAGED("does not decompress to the size");
        put(16 + 56, 8, 0);
        DAMAGED("size of its PTX is 0 or more");
        put(16 + 56, 8, 1ull << 40);
        DAMAGED("size of its PTX is 0 or more");
        put(16 + 56, 8, n);
        put(16 + 16, 4, 0xFFFFFFFF);
        DAMAGED("longer than its entry");
        put(16 + 16, 4, 20);
        DAMAGED("does not decompress to the size");
    }
}

TEST_ALONE(no_library_that_decompresses) {
    static const unsigned flags[] = { LZ4, ZSTD };
    static const char *const package[] = { "install the package liblz4-1",
        "install the package libzstd1" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    struct rlimit files, none;
    unsigned i;
    if (!on_cpu_device()) SKIP("a GPU's driver needs none");
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    none = files;
    none.rlim_cur = 0; /* so that no library can be opened */
    for (i = 0; i < 2; i++) {
        gpuexec_module mod;
        begin();
        add(PTX, 70, flags[i], text(1));
        CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
        mod = gpuexec_module_load(ctx, made, at, NULL);
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
        CHECK(!gpuexec_ok(mod));
        CHECK_TEXT(gpuexec_why(mod), "is compressed", package[i]);
        gpuexec_take_error();
    }
}

typedef struct wrapper {
    unsigned magic, version;
    const void *data, *more;
} wrapper;

/* Through the driver's calls that gpuexec does not use. */
TEST(wrappers_and_libraries) {
    static const char calls[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func put(.param .u64 to);\n"
            ".visible .entry e(.param .u64 to) {\n    .reg .b64 %p; .param .u64 at;\n    "
            "ld.param.u64 %p, [to];\n"
            "    st.param.u64 [at], %p;\n    call put, (at);\n    ret;\n}\n";
    static const char called[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .func put(.param .u64 to) {\n    .reg .b64 %p;\n    ld.param.u64 %p, [to];\n"
            "    st.u32 [%p], 77;\n    ret;\n}\n";
    static unsigned char first[ROOM];
    driver_calls cu;
    const char *path = getenv("GPUEXEC_DRIVER");
    void *driver = path ? dlopen(path, RTLD_NOW) : NULL, *mod = NULL, *kernel = NULL;
    const void *list[3] = { first, made, NULL };
    wrapper one = { 0x466243B1u, 1, made, NULL }, two = { 0x466243B1u, 2, NULL, list };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const int libraries = gpuexec_driver_version() >= 12000;
    if (!driver || !on_cpu_device()) SKIP("only for the CPU device");
    cu = calls_load(driver);
    CHECK_EQ(cu.cuCtxPushCurrent_v2(gpuexec_context_native(ctx)), 0);
    begin();
    add(PTX, 70, PLAIN, calls);
    memcpy(first, made, sizeof made);
    begin();
    add(PTX, 70, PLAIN, called);
    CHECK_EQ(cu.cuModuleLoadFatBinary(&mod, &two), 0);
    if (libraries) {
        CHECK_EQ(cu.cuLibraryLoadData(&mod, &two, NULL, NULL, 0, NULL, NULL, 0), 0);
        CHECK_EQ(cu.cuLibraryGetKernel(&kernel, mod, "e"), 0);
    }
    list[1] = "neither this";
    CHECK_EQ(cu.cuModuleLoadFatBinary(&mod, &two), 200);
    two.version = 3;
    CHECK_EQ(cu.cuModuleLoadFatBinary(&mod, &two), 200);
    begin();
    add(PTX, 70, PLAIN, text(5));
    CHECK_EQ(cu.cuModuleLoadFatBinary(&mod, made), 0);
    CHECK_EQ(cu.cuModuleLoadFatBinary(&mod, &one), 0);
    if (libraries) {
        CHECK_EQ(cu.cuLibraryLoadData(&mod, made, NULL, NULL, 0, NULL, NULL, 0), 0);
        CHECK_EQ(cu.cuLibraryGetKernel(&kernel, mod, "e"), 0);
        begin(); /* fails late, as on a GPU */
        CHECK_EQ(cu.cuLibraryLoadData(&mod, made, NULL, NULL, 0, NULL, NULL, 0), 0);
        CHECK_EQ(cu.cuLibraryGetKernel(&kernel, mod, "e"), 209);
    }
    one.data = "neither this";
    CHECK_EQ(cu.cuModuleLoadFatBinary(&mod, &one), 200);
    CHECK_EQ(cu.cuCtxPopCurrent_v2(&mod), 0);
}
