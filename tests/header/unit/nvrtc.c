/* nvrtc.c - >>compile. Tests that need a compiler run if an NVRTC is found. */
#include "../../test.h"
#include <sys/stat.h>

static const char scale[] =
        "extern \"C\" __global__ void scale(int *x, int by) { x[threadIdx.x] *= by; }\n";

#define NEED_NVRTC() \
    do { \
        if (!gpuexec_compiler_version()) SKIP("no NVRTC on this machine"); \
    } while (0)

static int runs(gpuexec_context ctx, gpuexec_kernel kernel, int by) {
    int x[4] = { 1, 2, 3, 4 };
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr d = gpuexec_alloc(ctx, sizeof x);
    gpuexec_copy_in(s, d, x, sizeof x);
    gpuexec_launch(kernel, s, gpuexec_grid(1, 4, 0), GPUEXEC_ARGS(d, by));
    gpuexec_copy_out(s, x, d, sizeof x);
    return CHECK_OK(gpuexec_stream_sync(s)) && x[0] == by && x[3] == 4 * by;
}

TEST(no_nvrtc) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    setenv("GPUEXEC_NVRTC", "/no/such/libnvrtc.so", 1);
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, NULL), GPUEXEC_NO_COMPILER,
            "cannot use \"/no/such/libnvrtc.so\", named by the environment variable GPUEXEC_NVRTC",
            "cure: ");
    setenv("GPUEXEC_NVRTC", "libm.so.6", 1);
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, NULL), GPUEXEC_NO_COMPILER,
            "\"libm.so.6\"", "it is not NVRTC: it has no function nvrtcVersion");
    CHECK_EQ(gpuexec_compiler_version(), 0);
    CHECK_STRING(gpuexec_compiler_path(), "");
    unsetenv("GPUEXEC_NVRTC");
}

/* To open a FIFO would wait for a writer; "" would be the program itself. */
TEST(no_library_at_all) {
    char folder[] = "/tmp/gpuexec-fifo-XXXXXX", path[64];
    gpuexec_setup_desc desc = { 0 };
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libnvrtc.so", folder);
    CHECK_EQ(mkfifo(path, 0600), 0);
    desc.nvrtc_path = desc.nvjitlink_path = path;
    CHECK_OK(gpuexec_setup(&desc));
    CHECK_NOT_MADE(gpuexec_module_compile(gpuexec_context_open(0, NULL), scale, NULL, NULL),
            GPUEXEC_NO_COMPILER,
            "libnvrtc.so\", named by gpuexec_setup_desc.nvrtc_path: it is a FIFO or pipe");
    CHECK_EQ(gpuexec_nvjitlink_version(), 0);
    CHECK_TEXT(gpuexec_error_text(), "it is a FIFO or pipe");
    gpuexec_shutdown();
    desc.nvrtc_path = desc.nvjitlink_path = "";
    CHECK_OK(gpuexec_setup(&desc));
    CHECK_NOT_MADE(gpuexec_module_compile(gpuexec_context_open(0, NULL), scale, NULL, NULL),
            GPUEXEC_NO_COMPILER, "the path is empty");
    CHECK_EQ(gpuexec_nvjitlink_version(), 0);
    CHECK_TEXT(gpuexec_error_text(), "the path is empty");
    gpuexec_shutdown();
    desc.driver_path = path;
    CHECK_RESULT(gpuexec_setup(&desc), GPUEXEC_NO_DRIVER);
    CHECK_TEXT(gpuexec_error_text(), "cannot load the driver library", "it is a FIFO or pipe");
    desc.driver_path = "";
    CHECK_RESULT(gpuexec_setup(&desc), GPUEXEC_NO_DRIVER);
    CHECK_TEXT(gpuexec_error_text(), "the path is empty");
    gpuexec_take_error();
    remove(path);
    rmdir(folder);
}

TEST(setup_names_it) {
    gpuexec_setup_desc desc;
    char path[] = "/no/such/nvrtc";
    memset(&desc, 0, sizeof desc);
    desc.nvrtc_path = path;
    CHECK_OK(gpuexec_setup(&desc));
    path[1] = 'X'; /* the path was copied */
    CHECK_NOT_MADE(gpuexec_module_compile(gpuexec_context_open(0, NULL), scale, NULL, NULL),
            GPUEXEC_NO_COMPILER,
            "cannot use \"/no/such/nvrtc\", named by gpuexec_setup_desc.nvrtc_path");
}

TEST(bad_arguments) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const char *const two[] = { "-DA", NULL }, *const arch[] = { "--gpu-architecture=sm_90" };
    const gpuexec_header header = { "a.h", NULL };
    gpuexec_compile_desc d;
    memset(&d, 0, sizeof d);
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, NULL, NULL, NULL), GPUEXEC_BAD_ARGUMENT,
            "the source is NULL");
    d.options = two, d.option_count = 2;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, &d), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_compile_desc.options[1] is NULL, but the count is 2");
    d.options = NULL;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, &d), GPUEXEC_BAD_ARGUMENT,
            "options is NULL, but its count is 2");
    d.options = arch, d.option_count = 1;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, &d), GPUEXEC_BAD_ARGUMENT, "options[0]",
            ".architecture");
    d.option_count = 0, d.header_count = 1;
    CHECK_NOT_MADE(
            gpuexec_module_compile(ctx, scale, NULL, &d), GPUEXEC_BAD_ARGUMENT, "headers is NULL");
    d.headers = &header;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, &d), GPUEXEC_BAD_ARGUMENT,
            "headers[0] has no text; header_count is 1");
    d.end_canary = 1;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, NULL, &d), GPUEXEC_BAD_ARGUMENT,
            "was not zero-initialized");
}

TEST(compiles) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const char *const names[] = { "twice<int>", "&table" };
    const gpuexec_header header = { "by.h", "#define BY 5\n" };
    gpuexec_compile_desc d;
    gpuexec_module mod;
    size_t bytes = 0;
    NEED_NVRTC();
    if (gpuexec_compiler_version() > gpuexec_driver_version())
        SKIP("the driver is older than this NVRTC");
    CHECK(gpuexec_compiler_path()[0]);
    CHECK(runs(
            ctx, gpuexec_kernel_get(gpuexec_module_compile(ctx, scale, NULL, NULL), "scale"), 3));
    memset(&d, 0, sizeof d);
    d.headers = &header, d.header_count = 1;
    d.expressions = names, d.expression_count = 2;
    mod = gpuexec_module_compile(ctx,
            "#include \"by.h\"\nnamespace a { __constant__ int unused; }\n"
            "__constant__ int table[4];\ntemplate <class T> __global__ void twice(T *x, T by)\n"
            "{ int y; x[threadIdx.x] *= by + table[0] + BY - 5; }\n",
            "t.cu", &d);
    CHECK_MADE(mod);
    CHECK(runs(ctx, gpuexec_kernel_get(mod, "twice<int>"), 2));
    CHECK(gpuexec_module_global_address(mod, "&table", &bytes) != 0);
    CHECK_EQ(bytes, 16);
    CHECK_TEXT(gpuexec_module_log(mod), "t.cu(5): warning", "\"y\"");
}

/* Sources whose kernels launch kernels are linked with the device runtime. */
static gpuexec_module launches(gpuexec_context ctx, const gpuexec_compile_desc *d) {
    return gpuexec_module_compile(ctx,
            "__global__ void child(int *x, int by) { x[threadIdx.x] *= by; }\n"
            "template <class T> __global__ void parent(T *x, T by) {\n"
            "    if (threadIdx.x == 0) child<<<1, blockDim.x>>>(x, by);\n}\n",
            "cdp.cu", d);
}
TEST(kernels_that_launch_kernels) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const char *const names[] = { "parent<int>" }, *const options[] = { "-rdc=true" };
    gpuexec_compile_desc d;
    gpuexec_module mod;
    NEED_NVRTC();
    if (gpuexec_compiler_version() > gpuexec_driver_version())
        SKIP("the driver is older than this NVRTC");
    memset(&d, 0, sizeof d);
    d.expressions = names, d.expression_count = 1;
    CHECK_NOT_MADE(launches(ctx, &d), GPUEXEC_COMPILE_FAILED, "\"cdp.cu\" does not compile",
            "add \"-rdc=true\"");
    d.options = options, d.option_count = 1;
    mod = launches(ctx, &d);
    if (!gpuexec_ok(mod) && strstr(gpuexec_error_text(), "GPUEXEC_CUDADEVRT")) {
        CHECK(!on_cpu_device());
        gpuexec_take_error();
        SKIP("no libcudadevrt.a");
    }
    CHECK_MADE(mod);
    CHECK(runs(ctx, gpuexec_kernel_get(mod, "parent<int>"), 7));
}
TEST_ALONE(played_launches) {
    gpuexec_context ctx;
    char *text = (char *)calloc(1, 1 << 18);
    FILE *f = fopen("tests/device/unit/cdp.ptx", "rb");
    size_t n = f && text ? fread(text, 1, (1 << 18) - 1, f) : 0;
    const char *const names[] = { "nest" };
    gpuexec_compile_desc d;
    gpuexec_module_desc as;
    gpuexec_module mod;
    if (!on_cpu_device()) SKIP("the CPU device has its own device runtime");
    CHECK(n > 0 && !fclose(f));
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC ".so", 1);
    ctx = gpuexec_context_open(0, NULL);
    memset(&d, 0, sizeof d);
    memset(&as, 0, sizeof as);
    d.expressions = names, d.expression_count = 1;
    d.module = &as;
    as.prefer_binary = 1;
    mod = gpuexec_module_compile(ctx, text, "cdp.cu", &d);
    CHECK_MADE(gpuexec_kernel_get(mod, "nest"));
    CHECK_TEXT(gpuexec_module_log(mod), "--gpu-architecture=");
    CHECK_NOT_MADE(gpuexec_kernel_get(mod, "nests"), GPUEXEC_NOT_FOUND,
            "\"cdp.cu\" has no kernel \"nests\"");
    strcat(text, "bogus");
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, text, "cdp.cu", &d), GPUEXEC_BAD_IMAGE, "\"cdp.cu\"",
            "bogus");
    free(text);
}

TEST(does_not_compile) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const char *const names[] = { "scale<floot>" }, *const nonsense[] = { "--nonsense" };
    gpuexec_compile_desc d;
    char *many = (char *)calloc(1, 200 * 100);
    int i;
    NEED_NVRTC();
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, "\nint f( ;\n", "bad.cu", NULL),
            GPUEXEC_COMPILE_FAILED, "\"bad.cu\" does not compile: bad.cu(2): error",
            "NVRTC_ERROR_COMPILATION (6)", "fix the errors");
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, "#include \"none.h\"\n", "h.cu", NULL),
            GPUEXEC_COMPILE_FAILED, "h.cu(1)", "none.h", ".headers");
    for (i = 0; i < 90; i++) sprintf(many + strlen(many), "#warning %0150d\n", i);
    strcat(many, "int x = ;\n");
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, many, "long.cu", NULL), GPUEXEC_COMPILE_FAILED,
            "long.cu(91): error", "0089", "fix the errors");
    memset(&d, 0, sizeof d);
    d.architecture = "sm_12";
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, "a.cu", &d), GPUEXEC_COMPILE_FAILED,
            "rejects an option", ".architecture");
    d.architecture = NULL;
    d.options = nonsense, d.option_count = 1;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, "a.cu", &d), GPUEXEC_COMPILE_FAILED,
            "--nonsense", ".options");
    d.option_count = 0;
    d.expressions = names, d.expression_count = 1;
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, "a.cu", &d), GPUEXEC_COMPILE_FAILED, "floot",
            ".expressions");
    free(many);
}

TEST_ALONE(ptx_too_new) {
    gpuexec_context ctx;
    if (!on_cpu_device()) SKIP("needs the CPU device as an older driver");
    setenv("SIMGPU_DRIVER_VERSION", "11040", 1);
    ctx = gpuexec_context_open(0, NULL);
    NEED_NVRTC();
    if (gpuexec_compiler_version() < 11050) SKIP("this NVRTC is not newer than the driver");
    CHECK_NOT_MADE(gpuexec_module_compile(ctx, scale, "new.cu", NULL), GPUEXEC_IMAGE_TOO_NEW,
            "compiled by NVRTC ", "\"new.cu\" is PTX with .version", "(CUDA 11.4)",
            "GPUEXEC_NVRTC");
}

/* --- a library that plays NVRTC (tests/support/play_nvrtc.c), so that these run everywhere
   ----------------------- */

static const char played_ptx[] =
        ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

static gpuexec_module played_compile(const gpuexec_compile_desc *d) {
    return gpuexec_module_compile(gpuexec_context_open(0, NULL), played_ptx, "p.cu", d);
}

TEST_ALONE(played) {
    gpuexec_module mod;
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC ".so", 1);
    mod = played_compile(NULL);
    CHECK_MADE(mod);
    CHECK_MADE(gpuexec_kernel_get(mod, "nothing"));
    CHECK_TEXT(gpuexec_module_log(mod), "--gpu-architecture=");
    CHECK_EQ(gpuexec_compiler_version(), 13000);
    setenv("PLAY_NVRTC_NO_CUBIN", "1", 1);
    CHECK_MADE(played_compile(NULL));
    setenv("PLAY_NVRTC_NO_PTX", "1", 1);
    CHECK_NOT_MADE(played_compile(NULL), GPUEXEC_COMPILE_FAILED,
            "neither a cubin nor PTX from \"p.cu\"", "-dlto");
    unsetenv("PLAY_NVRTC_NO_PTX");
    setenv("PLAY_NVRTC_LOG", "", 1);
    CHECK_MADE(played_compile(NULL));
    setenv("PLAY_NVRTC_LOG_LINES", "20000", 1);
    CHECK_TEXT(gpuexec_module_log(played_compile(NULL)), "line 0 ", "line 19999 ");
    unsetenv("PLAY_NVRTC_LOG_LINES");
    setenv("PLAY_NVRTC_ARCHS", "500", 1);
    CHECK_NOT_MADE(played_compile(NULL), GPUEXEC_NO_COMPILER,
            "compiles for compute capability 50.0 and later");
    setenv("PLAY_NVRTC_ARCHS", "50", 1);
    unsetenv("PLAY_NVRTC_LOG");
    CHECK_TEXT(gpuexec_module_log(played_compile(NULL)), "--gpu-architecture=compute_50");
}

/* What a driver does with a cubin for its device, it does with all of them. */
static int refusals;
static void count_refusals(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    refusals += level == GPUEXEC_LOG_TRACE &&
            strstr(text, "= CUDA_ERROR_NO_BINARY_FOR_GPU") != NULL;
}
static int refusals_of(const char *source, const char *architecture) {
    gpuexec_compile_desc d;
    memset(&d, 0, sizeof d);
    d.architecture = architecture;
    refusals = 0;
    CHECK_MADE(gpuexec_kernel_get(
            gpuexec_module_compile(gpuexec_context_open(0, NULL), source, "p.cu", &d), "nothing"));
    return refusals;
}
TEST_ALONE(played_refusals) {
    gpuexec_setup_desc setup;
    char launches[200];
    if (!on_cpu_device()) SKIP("needs a driver that executes only PTX");
    snprintf(launches, sizeof launches, "%s// it calls cudaLaunchDevice\n", played_ptx);
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC ".so", 1);
    memset(&setup, 0, sizeof setup);
    setup.log = count_refusals;
    setup.trace = 1;
    CHECK_OK(gpuexec_setup(&setup));
    /* for another device: nothing is learned from it */
    CHECK_EQ(refusals_of(played_ptx, "sm_80"), 1);
    CHECK_EQ(refusals_of(launches, "sm_80"), 1);
    CHECK_EQ(refusals_of(played_ptx, NULL), 1);
    CHECK_EQ(refusals_of(played_ptx, NULL), 0);
    CHECK_EQ(refusals_of(launches, NULL), 0);
    CHECK_EQ(refusals_of(played_ptx, "sm_80"), 0);
    CHECK_OK(gpuexec_shutdown());
    CHECK_OK(gpuexec_setup(&setup));          /* it may be another driver */
    CHECK_EQ(refusals_of(launches, NULL), 1); /* by the linker, which has other reasons, too */
    CHECK_EQ(refusals_of(launches, NULL), 1);
    CHECK_EQ(refusals_of(played_ptx, NULL), 1);
    CHECK_EQ(refusals_of(launches, NULL), 0);
}

TEST_ALONE(played_failures) {
    static const char *const fails[][2] = {
        { "nvrtcGetNumSupportedArchs", "does not report which architectures it supports" },
        { "nvrtcGetSupportedArchs", "does not report which architectures it supports" },
        { "nvrtcCreateProgram", "cannot start compiling" },
        { "nvrtcAddNameExpression", "rejected the expression" },
        { "nvrtcCompileProgram", "does not compile" },
        { "nvrtcGetLoweredName", "no name for the expression" },
        { "nvrtcGetCUBINSize", "the compiler's cubin" },
        { "nvrtcGetCUBIN", "the compiler's cubin" },
        { "nvrtcGetPTXSize", "the compiler's PTX" },
        { "nvrtcGetPTX", "the compiler's PTX" },
    };
    static const char *const harmless[] = { "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
        "nvrtcDestroyProgram" };
    const char *const names[] = { "nothing" };
    gpuexec_compile_desc d;
    size_t i;
    memset(&d, 0, sizeof d);
    d.expressions = names, d.expression_count = 1;
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC ".so", 1);
    for (i = 0; i < sizeof fails / sizeof *fails; i++) {
        gpuexec_module mod;
        setenv("PLAY_NVRTC_FAILS", fails[i][0], 1);
        mod = played_compile(&d);
        CHECK(!gpuexec_ok(mod));
        CHECK_TEXT(
                gpuexec_error_text(), fails[i][0], fails[i][1], "NVRTC_ERROR_INTERNAL_ERROR (11)");
        gpuexec_take_error();
    }
    for (i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        setenv("PLAY_NVRTC_FAILS", harmless[i], 1);
        CHECK_MADE(played_compile(&d));
    }
}

TEST_ALONE(played_too_old) {
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC "_old.so", 1);
    setenv("PLAY_NVRTC_VERSION", "11.0", 1);
    CHECK_NOT_MADE(played_compile(NULL), GPUEXEC_NO_COMPILER,
            "NVRTC 11.0, which cannot produce cubins", "11.2 or later");
    setenv("PLAY_NVRTC_VERSION", "11.2", 1);
    CHECK_NOT_MADE(played_compile(NULL), GPUEXEC_NO_COMPILER,
            "NVRTC 11.2, but has no function nvrtcGetNum");
    setenv("PLAY_NVRTC_FAILS", "nvrtcVersion", 1);
    CHECK_NOT_MADE(played_compile(NULL), GPUEXEC_NO_COMPILER,
            "nvrtcVersion returned NVRTC_ERROR_INTERNAL_ERROR (11)");
    setenv("GPUEXEC_NVRTC", "tests/support/play_nvrtc.c", 1);
    CHECK_NOT_MADE(
            played_compile(NULL), GPUEXEC_NO_COMPILER, "cannot use \"tests/support/play_nvrtc.c\"");
}

/* Where one is installed, the search finds it. */
TEST_ALONE(search) {
    unsetenv("GPUEXEC_NVRTC");
    setenv("CUDA_HOME", "/no/such/cuda", 1);
    setenv("PATH", "/no/such/bin", 1);
    if (gpuexec_compiler_version()) {
        CHECK(gpuexec_compiler_version() >= 11020 && gpuexec_compiler_path()[0]);
        return;
    }
    CHECK_NOT_MADE(played_compile(NULL), GPUEXEC_NO_COMPILER, "no NVRTC was found",
            "libnvrtc.so.13", "so.11.2", "$CUDA_HOME/lib64", "/usr/local/cuda/lib64",
            ", python3's folder/../lib/python3*/*-packages/nvidia/*/lib (no python3 on $PATH)",
            "pip install nvidia-cuda-nvrtc", "GPUEXEC_NVRTC");
}
