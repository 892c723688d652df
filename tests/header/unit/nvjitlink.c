/* nvjitlink.c - >>link with nvJitLink. Tests that need the real library run if one is found; LTO-IR
   for it is made by NVRTC, if one is found. */
#include "../../test.h"
#include <dlfcn.h>

/* --- the real one ----------------------------------------------------------------------------- */

static const char twice[] =
        "extern __device__ int bias; __device__ int twice(int x) { return 2 * x + bias; }\n"
        "__device__ int bias = 5;\n";
static const char kernel[] =
        "extern __device__ int twice(int x);\n"
        "extern \"C\" __global__ void k(int *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }\n";

enum { ROOM = 1 << 16 };
typedef struct compiled {
    char kernel[ROOM], twice[ROOM];
    size_t kernel_bytes, twice_bytes;
} compiled;
static compiled c;

/* Compiles CUDA C with -dlto, with NVRTC's own calls. Returns the bytes; 0: no NVRTC, or one that
   makes no LTO-IR. */
static size_t lto_of(const char *source, const char *arch, char to[ROOM]) {
    union {
        void *p;
        int (*create)(void **, const char *, const char *, int, void *, void *);
    } create;
    union {
        void *p;
        int (*compile)(void *, int, const char *const *);
    } compile;
    union {
        void *p;
        int (*get_size)(void *, size_t *);
    } get_size;
    union {
        void *p;
        int (*get)(void *, char *);
    } get;
    union {
        void *p;
        int (*destroy)(void **);
    } destroy;
    const char *options[3];
    void *const library = gpuexec_compiler_version() ? dlopen(gpuexec_compiler_path(), RTLD_NOW)
                                                     : NULL,
                *program;
    size_t bytes = 0;
    if (!library) return 0;
    create.p = dlsym(library, "nvrtcCreateProgram");
    compile.p = dlsym(library, "nvrtcCompileProgram");
    get_size.p = dlsym(library, "nvrtcGetLTOIRSize");
    get.p = dlsym(library, "nvrtcGetLTOIR");
    destroy.p = dlsym(library, "nvrtcDestroyProgram");
    options[0] = "-dlto", options[1] = "-rdc=true", options[2] = arch;
    if (!get.p || create.create(&program, source, "source.cu", 0, NULL, NULL)) return 0;
    if (compile.compile(program, 3, options) || get_size.get_size(program, &bytes) ||
            bytes > ROOM || get.get(program, to))
        bytes = 0;
    destroy.destroy(&program);
    return bytes;
}
static int compile_both(void) {
    gpuexec_device_info d;
    char arch[64];
    if (!CHECK_OK(gpuexec_device_get_info(0, &d))) return 0;
    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%d", d.compute_capability);
    c.kernel_bytes = lto_of(kernel, arch, c.kernel);
    c.twice_bytes = lto_of(twice, arch, c.twice);
    return c.kernel_bytes && c.twice_bytes;
}
#define NEED_BOTH() \
    do { \
        if (!gpuexec_nvjitlink_version() || !compile_both()) \
            SKIP("no NVRTC and nvJitLink on this machine"); \
        if (gpuexec_nvjitlink_version() < gpuexec_compiler_version()) \
            SKIP("this nvJitLink is older than NVRTC"); \
        if (gpuexec_nvjitlink_version() > gpuexec_driver_version()) \
            SKIP("the driver is older than this nvJitLink"); \
    } while (0)

/* The kernel makes first, first + times, first + 2 times ... of 1, 2, 3 ... */
static void check_that_it_runs(gpuexec_context ctx, gpuexec_module mod, int first, int times) {
    int x[4] = { 1, 2, 3, 4 };
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, sizeof x);
    gpuexec_copy_in(s, p, x, sizeof x);
    gpuexec_launch(gpuexec_kernel_get(mod, "k"), s, gpuexec_grid(1, 4, 0), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, x, p, sizeof x);
    if (!CHECK_OK(gpuexec_stream_sync(s))) return;
    CHECK_EQ(x[0], first);
    CHECK_EQ(x[3], first + 3 * times);
}
static gpuexec_linker linker_of(gpuexec_context ctx, const gpuexec_module_desc *desc) {
    gpuexec_linker l = gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = desc });
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_LTO, c.kernel, c.kernel_bytes, "kernel.ltoir"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, c.twice, c.twice_bytes, "twice.ltoir"));
    return l;
}

TEST(links_lto_ir) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc;
    gpuexec_linker l;
    gpuexec_module mod, again;
    const void *image;
    size_t bytes;
    NEED_BOTH();
    CHECK(gpuexec_nvjitlink_path()[0]);
    l = linker_of(ctx, NULL);
    mod = gpuexec_linker_load(l);
    check_that_it_runs(ctx, mod, 7, 2);
    CHECK(gpuexec_module_global_address(mod, "bias", &bytes) != 0 && bytes == 4);
    CHECK_EQ(gpuexec_kernel_parameter_size(gpuexec_kernel_get(mod, "k"), 0), 8);
    CHECK_RESULT(gpuexec_linker_add(l, GPUEXEC_INPUT_LTO, c.twice, c.twice_bytes, NULL),
            GPUEXEC_TOO_LATE);
    gpuexec_take_error();
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    again = gpuexec_module_load(ctx, image, bytes, NULL);
    CHECK_OK(gpuexec_linker_destroy(l));
    check_that_it_runs(ctx, again, 7, 2);
    memset(&desc, 0, sizeof desc);
    desc.verbose = desc.line_info = 1;
    desc.optimization = 4;
    desc.max_registers = 40;
    l = linker_of(ctx, &desc);
    check_that_it_runs(ctx, gpuexec_linker_load(l), 7, 2);
    /* The real one reports nothing if it finds the result in CUDA's cache (~/.nv), as in a second
       run. */
    if (on_cpu_device() || getenv("CUDA_CACHE_DISABLE")) CHECK(*gpuexec_linker_log(l));
    desc.optimization = -1;
    desc.debug_info = 1;
    check_that_it_runs(ctx, gpuexec_linker_load(linker_of(ctx, &desc)), 7, 2);
}

/* PTX beside LTO-IR that uses it. */
TEST(links_lto_ir_and_ptx) {
    static const char ptx[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .func (.param .b32 result) _Z5twicei(.param .b32 x) {\n    .reg .b32 %r;\n   "
            " ld.param.b32 %r, [x];\n"
            "    mul.lo.s32 %r, %r, 3;\n    st.param.b32 [result], %r;\n    ret;\n}\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l;
    NEED_BOTH();
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx, 0, "triple.ptx"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, c.kernel, c.kernel_bytes, "kernel.ltoir"));
    CHECK_RESULT(
            gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx, 0, "again.ptx"), GPUEXEC_LINK_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "Multiple definition of '_Z5twicei' in 'again.ptx', first defined in 'triple.ptx'");
    gpuexec_take_error();
    check_that_it_runs(ctx, gpuexec_linker_load(l), 3, 3);
}

/* nvJitLink reports the missing device runtime, which is then found and linked; the CPU device has
   its own. */
TEST(lto_ir_that_launches_kernels) {
    static const char launches[] = "__global__ void child(int *x) { x[threadIdx.x] += 10; }\n"
                                   "extern \"C\" __global__ void k(int *x) {\n    x[threadIdx.x] "
                                   "*= 2;\n    __syncthreads();\n"
                                   "    if (threadIdx.x == 0) child<<<1, 4>>>(x);\n}\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    gpuexec_module mod;
    char arch[64];
    gpuexec_device_info d;
    NEED_BOTH();
    CHECK_OK(gpuexec_device_get_info(0, &d));
    snprintf(arch, sizeof arch, "--gpu-architecture=compute_%d", d.compute_capability);
    if (!(c.kernel_bytes = lto_of(launches, arch, c.kernel)))
        SKIP("this NVRTC has no header of the device runtime");
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, c.kernel, c.kernel_bytes, "launches.ltoir"));
    mod = gpuexec_linker_load(l);
    if (!gpuexec_ok(mod) && strstr(gpuexec_why(mod), "was not found in")) {
        gpuexec_take_error();
        SKIP("no libcudadevrt.a on this machine");
    }
    check_that_it_runs(ctx, mod, 12, 2);
}

TEST(lto_ir_that_is_damaged) {
    gpuexec_linker l = gpuexec_linker_create(gpuexec_context_open(0, NULL), NULL);
    if (gpuexec_nvjitlink_version() < 12030)
        SKIP("no nvJitLink on this machine, or one that does not notice it");
    CHECK_OK(gpuexec_linker_add(
            l, GPUEXEC_INPUT_AUTO, "\xED\x43\x4E\x7F\1\0\0\0\0\0\0\0\0", 13, "x.ltoir"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_BAD_IMAGE, "does not accept \"x.ltoir\"",
            "copied completely");
}

TEST(symbols_that_do_not_link) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l;
    NEED_BOTH();
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, c.kernel, c.kernel_bytes, "kernel.ltoir"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED, "_Z5twicei",
            "add an input that defines the symbol");
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, c.twice, c.twice_bytes, "twice.ltoir"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, c.twice, c.twice_bytes, "again.ltoir"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED, "multiply defined", "again.ltoir",
            "keep one definition");
}

TEST(lto_ir_for_another_device) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_device_info d;
    gpuexec_linker l;
    static char newer[ROOM];
    size_t bytes;
    NEED_BOTH();
    CHECK_OK(gpuexec_device_get_info(0, &d));
    if (d.compute_capability >= 120 ||
            !(bytes = lto_of(twice, "--gpu-architecture=compute_120", newer)))
        SKIP("this NVRTC compiles for no newer device");
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, newer, bytes, "newer.ltoir"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_IMAGE_TOO_NEW, "does not accept \"newer.ltoir\"",
            "120", "-dlto -arch=sm_");
}

/* --- a library that plays nvJitLink (tests/support/play_nvjitlink.c), so that these run everywhere
   ---------------- */

#define LTO_IR "\xED\x43\x4E\x7F"
static const char played_twice[] = LTO_IR
        ".visible .func (.param .b32 result) twice(.param .b32 x) {\n"
        "    .reg .b32 %r;\n    ld.param.b32 %r, [x];\n    add.s32 %r, %r, %r;\n    st.param.b32 "
        "[result], %r;\n"
        "    ret;\n}\n";
static const char played_kernel[] = LTO_IR
        ".extern .func (.param .b32 result) twice(.param .b32 x);\n"
        ".visible .entry k(.param .u64 p) {\n    .reg .b64 %p<3>;\n    .reg .b32 %r;\n    .param "
        ".b32 x, result;\n"
        "    ld.param.u64 %p1, [p];\n    mov.u32 %r, %tid.x;\n    mul.wide.u32 %p2, %r, 4;\n    "
        "add.u64 %p1, %p1, %p2;\n"
        "    ld.global.u32 %r, [%p1];\n    st.param.b32 [x], %r;\n    call (result), twice, (x);\n"
        "    ld.param.b32 %r, [result];\n    st.global.u32 [%p1], %r;\n    ret;\n}\n";
static const char played_top[] = ".version 7.0\n.target sm_50\n.address_size 64\n";

static gpuexec_linker played(const gpuexec_module_desc *desc) {
    gpuexec_linker l = gpuexec_linker_create(
            gpuexec_context_open(0, NULL), &(gpuexec_linker_desc){ .module = desc });
    CHECK_OK(gpuexec_linker_add(
            l, GPUEXEC_INPUT_AUTO, played_twice, sizeof played_twice - 1, "twice"));
    CHECK_OK(gpuexec_linker_add(
            l, GPUEXEC_INPUT_LTO, played_kernel, sizeof played_kernel - 1, NULL));
    return l;
}
/* For a driver that executes cubins, nvJitLink links all inputs. Its "cubin" is PTX, which the CPU
   device executes. */
static void as_a_gpu(void) {
    setenv("PLAY_NVJITLINK_CUBIN", "text", 1);
    gxi.driver.ptx_only = 0; /* learned again */
}

TEST_ALONE(played_links) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc;
    gpuexec_linker l;
    int gpu;
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    memset(&desc, 0, sizeof desc);
    desc.verbose = desc.debug_info = desc.line_info = 1;
    desc.optimization = 4;
    desc.max_registers = 32;
    desc.compile_threads = -1;
    for (gpu = 0; gpu < 2; gpu++) {
        if (gpu || !on_cpu_device()) as_a_gpu();
        l = played(NULL);
        check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
        CHECK_TEXT(gpuexec_linker_log(l), "-arch=sm_", "\n-lto\n", "3 twice\n3 input 2\n");
        CHECK_EQ(strstr(gpuexec_linker_log(l), "-ptx") == NULL, gpu || !on_cpu_device());
        CHECK(!strstr(gpuexec_linker_log(l), "-O"));
        CHECK_OK(gpuexec_linker_destroy(l));
        l = played(&desc);
        check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
        CHECK_TEXT(gpuexec_linker_log(l),
                "\n-maxrregcount=32\n-O3\n-g\n-lineinfo\n-verbose\n-split-compile=0\n");
    }
    CHECK_EQ(gpuexec_nvjitlink_version(), 13000);
    CHECK_STRING(gpuexec_nvjitlink_path(), PLAYED_NVJITLINK ".so");
    desc.optimization = -1;
    desc.target = 0x1005A; /* sm_90a */
    l = played(&desc);
    CHECK_OK(gpuexec_take_error());
    gpuexec_linker_load(l); /* whether the device is one or not */
    gpuexec_take_error();
    CHECK_TEXT(gpuexec_linker_log(l), "-arch=sm_90a\n", "\n-O0\n");
}

/* On request: PTX only, and PTX beside LTO-IR. */
TEST_ALONE(played_on_request) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker_desc desc;
    gpuexec_linker l;
    char ptx[2][2000];
    snprintf(ptx[0], sizeof *ptx, "%s%s", played_top, played_twice + 4);
    snprintf(ptx[1], sizeof *ptx, "%s%s", played_top, played_kernel + 4);
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    memset(&desc, 0, sizeof desc);
    desc.nvjitlink = 1;
    if (on_cpu_device()) { /* the driver links what becomes PTX only so */
        l = gpuexec_linker_create(ctx, &desc);
        CHECK_EQ(gxi.driver.ptx_only, 1);
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx[0], 0, "twice.ptx"));
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx[1], 0, "kernel.ptx"));
        CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx[0], 0, "again.ptx"),
                GPUEXEC_LINK_FAILED, "in 'again.ptx', first defined in 'twice.ptx'");
        gpuexec_take_error();
        check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
        CHECK_STRING(gpuexec_linker_log(l), "");
    }
    as_a_gpu();
    l = gpuexec_linker_create(ctx, &desc);
    CHECK_EQ(gxi.driver.ptx_only, -1);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx[0], 0, "twice.ptx"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, ptx[1], 0, "kernel.ptx"));
    check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
    CHECK_TEXT(gpuexec_linker_log(l), "2 twice.ptx\n2 kernel.ptx\n");
    CHECK(!strstr(gpuexec_linker_log(l), "-lto"));
    desc.nvjitlink = 0;
    l = gpuexec_linker_create(ctx, &desc);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, ptx[0], 0, "twice.ptx"));
    CHECK_OK(gpuexec_linker_add(
            l, GPUEXEC_INPUT_AUTO, played_kernel, sizeof played_kernel - 1, "kernel"));
    check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
    CHECK_TEXT(gpuexec_linker_log(l), "\n-lto\n2 twice.ptx\n3 kernel\n");
}

/* A fatbin with LTO-IR for an older device, and code only for others, or that the driver refuses:
   nvJitLink links it. */
TEST_ALONE(played_fatbin) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    unsigned char fatbin[1000] = { 0x50, 0xED, 0x55, 0xBA, 1, 0, 16 };
    const size_t lto = sizeof played_kernel - 1, bytes = 16 + 2 * 64 + 8 + lto;
    gpuexec_linker l;
    int gpu, known;
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    fatbin[8] = (unsigned char)((bytes - 16) & 0xFF),
    fatbin[9] = (unsigned char)((bytes - 16) >> 8);
    fatbin[16] = 2, fatbin[20] = 64, fatbin[24] = 8, fatbin[16 + 28] = 200; /* a cubin for sm_200 */
    fatbin[88] = 8, fatbin[92] = 64, fatbin[88 + 28] = 50;                  /* LTO-IR for lto_50 */
    fatbin[96] = (unsigned char)(lto & 0xFF), fatbin[97] = (unsigned char)(lto >> 8);
    memcpy(fatbin + 152, played_kernel, lto);
    for (gpu = 0; gpu < 2; gpu++) {
        if (gpu || !on_cpu_device()) as_a_gpu();
        l = gpuexec_linker_create(ctx, NULL);
        CHECK_OK(gpuexec_linker_add(
                l, GPUEXEC_INPUT_LTO, played_twice, sizeof played_twice - 1, "twice"));
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_FATBIN, fatbin, 0, "fatbin"));
        check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
        CHECK_TEXT(gpuexec_linker_log(l), "4 fatbin\n");
        CHECK_EQ(gxi.driver.ptx_only, gpu || !on_cpu_device() ? -1 : 1);
        if (!on_cpu_device()) continue;
        fatbin[16 + 28] = 90; /* a cubin for this device */
        for (known = 0; known < 2 - gpu; known++) {
            if (!known) gxi.driver.ptx_only = 0;
            l = gpuexec_linker_create(ctx, NULL);
            CHECK_OK(gpuexec_linker_add(
                    l, GPUEXEC_INPUT_LTO, played_twice, sizeof played_twice - 1, "twice"));
            CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_FATBIN, fatbin, 0, "fatbin"));
            /* the caller's cubin may have another reason */
            if (!known) CHECK_EQ(gxi.driver.ptx_only, 0);
            check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
        }
        fatbin[16 + 28] = 200;
    }
    if (!on_cpu_device()) return; /* a GPU's driver trusts what it reads */
    CHECK_NOT_MADE(gpuexec_module_load(ctx, fatbin, bytes, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "a cubin for sm_200 (newer than the device), LTO-IR for lto_50 (to be linked by "
            "nvJitLink)");
}

TEST_ALONE(ptx_too_new) {
    gpuexec_linker l;
    if (!on_cpu_device()) SKIP("needs the CPU device as an older driver");
    setenv("SIMGPU_DRIVER_VERSION", "11040", 1);
    gpuexec_context_open(0, NULL);
    if (!gpuexec_nvjitlink_version() || !compile_both())
        SKIP("no NVRTC and nvJitLink on this machine");
    if (gpuexec_nvjitlink_version() < gpuexec_compiler_version())
        SKIP("this nvJitLink is older than NVRTC");
    l = linker_of(gpuexec_context_open(0, NULL), NULL);
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_IMAGE_TOO_NEW,
            "nvJitLink's result is PTX with .version", "GPUEXEC_NVJITLINK");
}

TEST_ALONE(played_old) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK "_old.so", 1);
    if (!on_cpu_device()) as_a_gpu();
    check_that_it_runs(ctx, gpuexec_linker_load(played(NULL)), 2, 2);
    CHECK_EQ(gpuexec_nvjitlink_version(), 12000);
}

TEST_ALONE(played_failures) {
    static const struct {
        const char *call, *code;
        gpuexec_result result;
        const char *text, *cure;
    } fails[] = {
        { "nvJitLinkCreate", "1", GPUEXEC_NOT_SUPPORTED, "does not support one of the options",
                "gpuexec_module_desc" },
        { "nvJitLinkCreate", "16", GPUEXEC_NOT_SUPPORTED, "does not generate code for sm_",
                "GPUEXEC_NVJITLINK" },
        { "nvJitLinkCreate", "17", GPUEXEC_NOT_SUPPORTED, "does not generate code for sm_",
                "GPUEXEC_NVJITLINK" },
        { "nvJitLinkCreate", "99", GPUEXEC_LINK_FAILED, "from 2 inputs with nvJitLink 13.0",
                "an unknown result (99)" },
        { "nvJitLinkAddData", "14", GPUEXEC_IMAGE_TOO_NEW,
                "\"twice\" is LTO-IR from a newer toolkit than that of \"", "GPUEXEC_NVJITLINK" },
        { "nvJitLinkAddData", "13", GPUEXEC_IMAGE_TOO_NEW, "does not accept \"twice\"",
                "-arch=sm_" },
        { "nvJitLinkComplete", "5", GPUEXEC_LINK_FAILED, "from 2 inputs",
                "NVJITLINK_ERROR_NVVM_COMPILE (5)" },
        { "nvJitLinkGetErrorLogSize", "6", GPUEXEC_LINK_FAILED, "from 2 inputs",
                "NVJITLINK_ERROR_INTERNAL (6)" },
    };
    static const char *const sizes[] = { "0", "0xFFFFFFFFFFFFFFFF" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l;
    size_t i;
    int gpu;
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    for (gpu = 0; gpu < 2; gpu++) {
        if (gpu || !on_cpu_device()) as_a_gpu();
        l = played(NULL);
        check_that_it_runs(ctx, gpuexec_linker_load(played(NULL)), 2, 2);
        for (i = 0; i < sizeof fails / sizeof *fails; i++) {
            setenv("PLAY_NVJITLINK_FAILS", fails[i].call, 1);
            setenv("PLAY_NVJITLINK_CODE", fails[i].code, 1);
            CHECK_NOT_MADE(gpuexec_linker_load(l), fails[i].result, fails[i].call, fails[i].text,
                    fails[i].cure);
        }
        unsetenv("PLAY_NVJITLINK_FAILS");
        for (i = 0; i < 2; i++) {
            setenv("PLAY_NVJITLINK_BYTES", sizes[i], 1);
            CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED, "from 2 inputs",
                    "an invalid size or no object");
        }
        unsetenv("PLAY_NVJITLINK_BYTES");
        setenv("PLAY_NVJITLINK_LOG",
                "error   : Multiple definition of 'f' in 'ltoPtx', first defined in 'x.ptx'\n", 1);
        CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED,
                "Multiple definition of 'f' in 'ltoPtx'", "keep one definition");
        setenv("PLAY_NVJITLINK_LOG", "ptxas fatal   : Unresolved extern function 'f'\n", 1);
        setenv("PLAY_NVJITLINK_FAILS", "nvJitLinkComplete", 1);
        CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED,
                "Unresolved extern function 'f'", "that defines the symbol");
        unsetenv("PLAY_NVJITLINK_FAILS");
        unsetenv("PLAY_NVJITLINK_LOG");
        /* after all of these, the inputs are still there */
        check_that_it_runs(ctx, gpuexec_linker_load(l), 2, 2);
        l = played(NULL);
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, LTO_IR "bad", 7, "newer"));
        CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_IMAGE_TOO_NEW,
                "\"newer\" is LTO-IR from a newer toolkit than that of \"",
                "which is nvJitLink 13.0", "NVJITLINK_ERROR_INTERNAL (6)");
    }
}

TEST_ALONE(options_that_it_does_not_have) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker_desc linking;
    gpuexec_module_desc desc;
    gpuexec_linker l;
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    memset(&desc, 0, sizeof desc);
    memset(&linking, 0, sizeof linking);
    linking.module = &desc;
    desc.threads_per_block = 128;
    l = gpuexec_linker_create(ctx, &linking);
    CHECK_RESULT(
            gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, played_twice, sizeof played_twice - 1, NULL),
            GPUEXEC_NOT_SUPPORTED);
    CHECK_TEXT(gpuexec_error_text(),
            "threads_per_block is 128, but nvJitLink has no equivalent option", "set it to 0");
    gpuexec_take_error();
    desc.threads_per_block = 0;
    desc.optimization = 2;
    linking.nvjitlink = 1;
    CHECK_NOT_MADE(gpuexec_linker_create(ctx, &linking), GPUEXEC_NOT_SUPPORTED, "optimization is 2",
            "3 or 4 (-O3)");
    linking.nvjitlink = 2;
    CHECK_NOT_MADE(gpuexec_linker_create(ctx, &linking), GPUEXEC_BAD_ARGUMENT,
            "nvjitlink is 2; it must be 0 or 1");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, played_twice, sizeof played_twice, NULL),
            GPUEXEC_BAD_IMAGE, "is LTO-IR, which must be linked", "gpuexec_linker_add");
}

/* Parts of fatbins that are only for one architecture, or a family, need that architecture's
   name. */
TEST(the_architecture) {
    static const struct {
        int flags, target, arch;
        const char *option;
    } inputs[] = {
        { 0, 0, 90, "-arch=sm_90" },
        { 0x100000, 0, 90, "-arch=sm_90a" },
        { 0x200000, 0, 90, "-arch=sm_90f" },
        { 0x100000, 0, 75, "-arch=sm_90" },
        { 0x100000, 80, 90, "-arch=sm_80" },
        { 0, 0x20067, 90, "-arch=sm_103f" },
    };
    size_t i;
    for (i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        unsigned char fatbin[81] = { 0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0, 64 };
        gpuexec_module_desc desc;
        gxi_nvjitlink n;
        gxi_input input;
        memset(&desc, 0, sizeof desc);
        memset(&n, 0, sizeof n);
        fatbin[16] = 8;
        fatbin[20] = 64;
        fatbin[44] = (unsigned char)inputs[i].arch;
        fatbin[58] = (unsigned char)(inputs[i].flags >> 16);
        desc.target = inputs[i].target;
        input.kind = gxi_image_kind_of(fatbin, 80);
        input.data = (char *)fatbin;
        input.bytes = 80;
        CHECK_EQ(input.kind, GXI_LTO);
        CHECK_EQ(gxi_nvjitlink_type(&input), GXI_NVJITLINK_INPUT_FATBIN);
        n.desc = &desc;
        n.inputs = &input;
        n.count = 1;
        CHECK_EQ(gxi_nvjitlink_options(&n, 90), 2);
        CHECK_STRING(n.options.p, inputs[i].option);
        gxi_nvjitlink_free(&n);
    }
}

/* --- the search ------------------------------------------------------------------------------- */

TEST_ALONE(no_nvjitlink) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    gpuexec_linker_desc desc;
    setenv("GPUEXEC_NVJITLINK", "/no/such/libnvJitLink.so", 1);
    CHECK_RESULT(
            gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, played_twice, sizeof played_twice - 1, NULL),
            GPUEXEC_NO_COMPILER);
    CHECK_TEXT(gpuexec_error_text(),
            "cannot use \"/no/such/libnvJitLink.so\", named by the environment variable "
            "GPUEXEC_NVJITLINK",
            "cure: ");
    gpuexec_take_error();
    memset(&desc, 0, sizeof desc);
    desc.nvjitlink = 1;
    setenv("GPUEXEC_NVJITLINK", "libm.so.6", 1);
    CHECK_NOT_MADE(gpuexec_linker_create(ctx, &desc), GPUEXEC_NO_COMPILER,
            "it is not nvJitLink: it has no function nvJitLinkCreate");
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK "_lacks.so", 1);
    CHECK_NOT_MADE(gpuexec_linker_create(ctx, &desc), GPUEXEC_NO_COMPILER,
            "has no function nvJitLinkComplete");
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    setenv("PLAY_NVJITLINK_FAILS", "nvJitLinkVersion", 1);
    CHECK_NOT_MADE(gpuexec_linker_create(ctx, &desc), GPUEXEC_NO_COMPILER,
            "nvJitLinkVersion returned NVJITLINK_ERROR_INTERNAL (6)");
    CHECK_EQ(gpuexec_nvjitlink_version(), 0);
    CHECK_STRING(gpuexec_nvjitlink_path(), "");
    CHECK_OK(gpuexec_take_error());
    unsetenv("PLAY_NVJITLINK_FAILS");
    CHECK_OK(
            gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, played_twice, sizeof played_twice - 1, NULL));
}

TEST_ALONE(setup_names_both) {
    gpuexec_setup_desc desc;
    char nvrtc[] = "/no/such/nvrtc", path[] = PLAYED_NVJITLINK ".so";
    memset(&desc, 0, sizeof desc);
    desc.nvrtc_path = nvrtc;
    desc.nvjitlink_path = path;
    CHECK_OK(gpuexec_setup(&desc));
    nvrtc[1] = path[0] = 'X'; /* the paths were copied */
    CHECK_EQ(gpuexec_nvjitlink_version(), 13000);
    CHECK_EQ(gpuexec_compiler_version(), 0);
    CHECK_TEXT(gpuexec_error_text(),
            "cannot use \"/no/such/nvrtc\", named by gpuexec_setup_desc.nvrtc_path");
}

/* In a Python environment, of the version of the driver, although a newer one may be installed. */
TEST_ALONE(search_in_an_environment) {
    char folder[] = "/tmp/gpuexec-venv-XXXXXX", command[500], path[200];
    if (!on_cpu_device()) SKIP("needs the CPU device as an older driver");
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    snprintf(path, sizeof path,
            "%s/lib/python3.99/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12", folder);
    snprintf(command, sizeof command, "mkdir -p %.*s && cp %s.so %s",
            (int)(strrchr(path, '/') - path), path, PLAYED_NVJITLINK, path);
    CHECK(system(command) == 0);
    setenv("SIMGPU_DRIVER_VERSION", "12040", 1);
    setenv("VIRTUAL_ENV", folder, 1);
    unsetenv("GPUEXEC_NVJITLINK");
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    CHECK(gpuexec_nvjitlink_version() >= 12000);
    if (strcmp(gpuexec_nvjitlink_path(), "libnvJitLink.so.12") != 0)
        CHECK_STRING(gpuexec_nvjitlink_path(), path);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

/* In the packages of the python3 on PATH: a link, in a virtual environment. It is not started. */
TEST_ALONE(search_in_the_folders_of_python) {
    static const char *const places[] = { "venv/versions/3.77.1/lib/python3.77/site-packages",
        "base/lib/python3.77/site-packages", "real/lib/python3.77/dist-packages",
        "venv/lib/python3.77/site-packages" },
                             *const found[] = { "venv/bin/../versions/3.77.1/", "base/bin/../",
                                 "real/bin/../", "venv/bin/../" };
    char root[] = "/tmp/gpuexec-python-XXXXXX", command[1200], path[300];
    size_t i;
    if (!on_cpu_device()) SKIP("needs the CPU device as an older driver");
    if (!CHECK(mkdtemp(root) != NULL)) return;
    snprintf(command, sizeof command,
            "cd %s && mkdir -p first/python3 venv/bin real/bin base/bin && "
            "printf '#!/bin/sh\ntouch %s/started\n' > real/bin/python3.77 && "
            "chmod +x real/bin/python3.77 && ln -s ../../real/bin/python3.77 venv/bin/python3 && "
            "printf 'include-system-site-packages = false\n  home =  %s/base/bin/\r\n' > "
            "venv/pyvenv.cfg",
            root, root, root);
    CHECK_EQ(system(command), 0);
    setenv("SIMGPU_DRIVER_VERSION", "12040", 1);
    /* a folder of that name is not the program */
    snprintf(path, sizeof path, "relative:%s/first:%s/venv/bin/:/usr/bin:/bin", root, root);
    setenv("PATH", path, 1);
    unsetenv("VIRTUAL_ENV");
    unsetenv("CONDA_PREFIX");
    unsetenv("GPUEXEC_NVJITLINK");
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    setenv("HOME", root, 1);
    for (i = 0; i < sizeof places / sizeof *places; i++) { /* each precedes the earlier ones */
        snprintf(path, sizeof path, "%s/%s/nvidia/nvjitlink/lib", root, places[i]);
        snprintf(command, sizeof command, "mkdir -p %s && cp %s.so %s/libnvJitLink.so.12", path,
                PLAYED_NVJITLINK, path);
        CHECK_EQ(system(command), 0);
        CHECK(gpuexec_nvjitlink_version() >= 12000);
        if (strncmp(gpuexec_nvjitlink_path(), root, strlen(root)) != 0) break; /* installed */
        snprintf(path, sizeof path, "%s/%s", root, found[i]);
        CHECK(strncmp(gpuexec_nvjitlink_path(), path, strlen(path)) == 0);
        CHECK_TEXT(gpuexec_nvjitlink_path(), "/nvidia/nvjitlink/lib/libnvJitLink.so.12");
        gpuexec_shutdown();
    }
    snprintf(command, sizeof command, "test ! -e %s/started && rm -r %s", root, root);
    CHECK_EQ(system(command), 0);
    if (i < sizeof places / sizeof *places)
        SKIP("an nvJitLink is installed that precedes Python's");
}

/* Where one is installed, the search finds it. */
TEST_ALONE(search) {
    gpuexec_linker l = gpuexec_linker_create(gpuexec_context_open(0, NULL), NULL);
    unsetenv("GPUEXEC_NVJITLINK");
    setenv("CUDA_HOME", "/no/such/cuda", 1);
    if (gpuexec_nvjitlink_version()) {
        CHECK(gpuexec_nvjitlink_version() >= 12000 && gpuexec_nvjitlink_path()[0]);
        return;
    }
    CHECK_RESULT(
            gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, played_twice, sizeof played_twice - 1, NULL),
            GPUEXEC_NO_COMPILER);
    CHECK_TEXT(gpuexec_error_text(), "no nvJitLink was found",
            "libnvJitLink.so.13, libnvJitLink.so.12 in the system's", "$CUDA_HOME/lib64",
            "/usr/local/cuda/lib64", "pip install nvidia-nvjitlink", "GPUEXEC_NVJITLINK",
            ", python3's folder/../lib/python3*/*-packages/nvidia/*/lib (");
    gpuexec_take_error();
}
