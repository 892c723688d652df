/* wrong_input.c - errors of users, and unusual machines: every error text names the object, the
   numbers and the cure. */
#include "../../test.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>


static const char *number(unsigned long long n) {
    static char text[8][32];
    static int next;
    char *t = text[next++ % 8];
    snprintf(t, sizeof text[0], "%llu", n);
    return t;
}

/* Refused calls have no effect: a launch still works. */
static void check_that_it_still_works(const setting *s) {
    uint32_t by = 3, n = 1024, word = 0;
    gpuexec_fill(s->stream, s->data, 0, 1, 4096);
    gpuexec_launch(s->kernel, s->stream, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(s->data, by, n));
    gpuexec_copy_out(s->stream, &word, s->data + 4092, 4);
    CHECK_OK(gpuexec_stream_sync(s->stream));
    CHECK_EQ(word, 3);
}

/* -------------------------------------------------------------------------------------------------
   The driver. */

static gpuexec_result setup_with(const char *path) {
    gpuexec_setup_desc desc = { 0 };
    desc.driver_path = path;
    return gpuexec_setup(&desc);
}

TEST_ALONE(driver_path_to_nowhere) {
    CHECK_REFUSED(setup_with("/no/such/libcuda.so.1"), GPUEXEC_NO_DRIVER, "/no/such/libcuda.so.1");
    CHECK_CURE();
    CHECK_TEXT(gpuexec_error_text(), "driver_path");
}

TEST_ALONE(environment_to_nowhere) {
    setenv("GPUEXEC_DRIVER", "/no/such/libsimgpu.so", 1);
    CHECK_EQ(gpuexec_device_count(), 0);
    CHECK_TEXT(gpuexec_error_text(), "GPUEXEC_DRIVER", "/no/such/libsimgpu.so");
    CHECK_CURE();
    CHECK_EQ(gpuexec_driver_version(), 0);
    CHECK_STRING(gpuexec_driver_path(), "");
    CHECK(gpuexec_driver_symbol("cuInit", 2000) == NULL);
    CHECK_OK(gpuexec_take_error());
    CHECK_NOT_MADE(gpuexec_context_open(0, NULL), GPUEXEC_NO_DRIVER, "GPUEXEC_DRIVER",
            "/no/such/libsimgpu.so");
    CHECK_CURE();
}

/* A program without a GPU: the libraries tried, and both cures: the driver, or the CPU device. */
TEST_ALONE(no_driver_at_all) {
    gpuexec_setup_desc desc = { 0 };
    desc.ignore_environment = 1;
    if (gpuexec_setup(&desc) != GPUEXEC_NO_DRIVER) SKIP("this machine has a driver");
    CHECK_TEXT(gpuexec_error_text(), "libcuda.so.1", "driver", "make simgpu", "GPUEXEC_DRIVER");
    CHECK_CURE();
}

/* Compiles a shared library from C source in a new directory, and returns its path; NULL without a
   compiler. */
static const char *make_library(const char *source, const char *options) {
    static char path[100], command[500];
    const char *cc = getenv("CC");
    char dir[] = "/tmp/gpuexec-test-XXXXXX", c_path[100];
    FILE *f;
    if (!mkdtemp(dir)) return NULL;
    snprintf(c_path, sizeof c_path, "%s/fake.c", dir);
    snprintf(path, sizeof path, "%s/libcuda.so", dir);
    f = fopen(c_path, "w");
    if (!f) return NULL;
    fputs(source, f);
    fclose(f);
    snprintf(command, sizeof command, "%s -shared -fPIC %s -o %s %s 2>/dev/null",
            cc && *cc ? cc : "cc", options, path, c_path);
    if (system(command) != 0) path[0] = 0;
    remove(c_path);
    if (!path[0]) rmdir(dir);
    return path[0] ? path : NULL;
}

static void remove_library(const char *path) {
    char dir[100];
    snprintf(dir, sizeof dir, "%s", path);
    remove(path);
    *strrchr(dir, '/') = 0;
    rmdir(dir);
}

/* A fake driver: every entry point returns ANSWER, except those that report its version. */
static const char fake_driver[] =
        "#include <string.h>\n"
        "#ifndef LACKS\n"
        "#define LACKS \"\"\n"
        "#endif\n"
        "#ifndef VERSION_RESULT\n"
        "#define VERSION_RESULT 0\n"
        "#endif\n"
        "static int any(void) { return ANSWER; }\n"
        "int cuDriverGetVersion(int *v) { *v = VERSION; return STUB ? 34 : VERSION_RESULT; }\n"
        "int cuInit(unsigned f) { (void)f; return ANSWER; }\n"
        "#if VERSION >= 11030\n"
        "static int find(const char *name, void **p) {\n"
        "    if (STUB) return 34;\n"
        "    *p = 0;\n"
        "    if (strcmp(name, LACKS) == 0) return 0;\n"
        "    *p = strcmp(name, \"cuDriverGetVersion\") == 0 ? (void *)cuDriverGetVersion : (void "
        "*)any;\n"
        "    return 0;\n"
        "}\n"
        "int cuGetProcAddress(const char *name, void **p, int v, unsigned long long f) { (void)v; "
        "(void)f; return find(name, p); }\n"
        "int cuGetProcAddress_v2(const char *name, void **p, int v, unsigned long long f, int *s) "
        "{ (void)v; (void)f; if (s) *s = 0; return find(name, p); }\n"
        "#endif\n";

static void try_fake_driver(
        const char *options, gpuexec_result wanted, const char *text1, const char *text2) {
    const char *path = make_library(fake_driver, options);
    if (!path) SKIP("no C compiler on this machine");
    CHECK_REFUSED(setup_with(path), wanted, text1, text2);
    CHECK_CURE();
    remove_library(path);
}

TEST_ALONE(the_toolkits_stub) {
    try_fake_driver(
            "-DANSWER=34 -DSTUB=1 -DVERSION=13000", GPUEXEC_NO_DRIVER, "stub", "libcuda.so");
}

TEST_ALONE(driver_too_old) {
    try_fake_driver("-DANSWER=0 -DSTUB=0 -DVERSION=10020", GPUEXEC_OLD_DRIVER, "10.2", "11.4");
}

TEST_ALONE(driver_that_lacks_a_function) {
    try_fake_driver("-DANSWER=0 -DSTUB=0 -DVERSION=11050 -DLACKS='\"cuLaunchKernel\"'",
            GPUEXEC_OLD_DRIVER, "11.5", "cuLaunchKernel");
}

static void try_driver_without_a_version(const char *options, const char *text) {
    const char *path = make_library(fake_driver, options);
    if (!path) SKIP("no C compiler on this machine");
    CHECK_REFUSED(setup_with(path), GPUEXEC_DRIVER_ERROR, "cannot query the version of the driver");
    CHECK_CURE();
    CHECK_TEXT(gpuexec_error_text(), text);
    CHECK(!strstr(gpuexec_error_text(), "0.0") && !strstr(gpuexec_error_text(), "lacks"));
    remove_library(path);
}
TEST_ALONE(driver_that_fails_to_report_its_version) {
    try_driver_without_a_version("-DANSWER=0 -DSTUB=0 -DVERSION=11050 -DVERSION_RESULT=999",
            "cuDriverGetVersion returned");
}
TEST_ALONE(driver_that_reports_no_version) {
    try_driver_without_a_version(
            "-DANSWER=0 -DSTUB=0 -DVERSION=0", "cuDriverGetVersion returned no version");
}

TEST_ALONE(the_real_toolkits_stub) {
    const char *path = "/usr/local/cuda/lib64/stubs/libcuda.so";
    if (access(path, R_OK) != 0) SKIP("there is no /usr/local/cuda/lib64/stubs/libcuda.so");
    CHECK_REFUSED(setup_with(path), GPUEXEC_NO_DRIVER, "stub", path);
    CHECK_CURE();
}

TEST_ALONE(a_library_that_is_no_driver) {
    const char *path = make_library("int nothing_of_cuda(void) { return 0; }\n", "");
    if (!path) SKIP("no C compiler on this machine");
    CHECK_REFUSED(setup_with(path), GPUEXEC_NO_DRIVER, path);
    CHECK_CURE();
    remove_library(path);
}

TEST_ALONE(a_file_that_is_no_library) {
    CHECK_REFUSED(setup_with(UNIT_PTX), GPUEXEC_NO_DRIVER, UNIT_PTX);
    CHECK_CURE();
}

/* -------------------------------------------------------------------------------------------------
   Images and names. */

#define HEAD ".version 6.0\n.target sm_70\n.address_size 64\n"

TEST(broken_ptx) {
    /* line 7 */
    static const char ptx[] = HEAD
            ".visible .entry k()\n{\n    .reg .u32 %r;\n    bogus.u32 %r, 1;\n    ret;\n}\n";
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, ptx, 0, NULL), GPUEXEC_BAD_IMAGE, "PTX");
    CHECK_TEXT(gpuexec_error_text(), "line 7", "bogus");
    CHECK_TEXT(gpuexec_error_detail()->log, "line 7", "bogus");
    check_that_it_still_works(&s);
}

/* The text has every error of a long log. */
TEST(a_long_log_is_complete) {
    enum { lines = 300 };
    static char ptx[40000];
    setting s = set_up(UNIT_PTX, "add", 4096);
    size_t at = (size_t)sprintf(ptx, HEAD ".visible .entry k()\n{\n    .reg .u32 %%r;\n");
    int i, found = 0;
    char line[40];
    const char *log;
    for (i = 0; i < lines; i++)
        at += (size_t)sprintf(ptx + at, "    add.u32 %%r, %%r, %%no_such_register_%d;\n", i);
    sprintf(ptx + at, "    ret;\n}\n");
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, ptx, 0, NULL), GPUEXEC_BAD_IMAGE, "PTX");
    log = gpuexec_error_detail()->log;
    for (i = 0; i < lines && log; i++) {
        snprintf(line, sizeof line, "line %d;", 7 + i);
        if (strstr(log, line)) found++;
    }
    CHECK(found >= 1);
    if (found < lines) { /* a compiler may give up early, but then reports that at the end */
        CHECK_TEXT(log, "error");
        CHECK(log && (strstr(log, "fatal") || strstr(log, "aborted")));
    }
    CHECK_TEXT(gpuexec_error_text(), "no_such_register_0", "no_such_register_99");
}

TEST(ptx_too_new) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    int driver = gpuexec_driver_version();
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx,
                           ".version 99.9\n.target sm_70\n.address_size 64\n"
                           ".visible .entry k() { ret; }\n",
                           0, NULL),
            GPUEXEC_IMAGE_TOO_NEW, "99.9");
    CHECK_CURE();
    /* the highest version that CUDA 13.0 accepts */
    if (driver / 10 == 1300) CHECK_TEXT(gpuexec_error_text(), "9.0");
    CHECK_TEXT(gpuexec_error_text(), ".version");
}

TEST(target_too_new) {
    static const char *const targets[] = { "sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a",
        "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121",
        "sm_121a", "sm_121f", "sm_130" };
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_device_info d;
    char capability[16], cure[60], text[200];
    size_t i;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    snprintf(capability, sizeof capability, "%d.%d", d.compute_capability / 10,
            d.compute_capability % 10);
    snprintf(cure, sizeof cure, "nvcc -ptx -arch=compute_%d", d.compute_capability);
    if (d.compute_capability >= 100) SKIP("this device is as new as the images");
    if (gpuexec_driver_version() < 13000) SKIP("this driver does not know PTX 9.0");
    for (i = 0; i < sizeof targets / sizeof *targets; i++) {
        snprintf(text, sizeof text,
                ".version 9.0\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n",
                targets[i]);
        CHECK_NOT_MADE(gpuexec_module_load(s.ctx, text, 0, NULL), GPUEXEC_IMAGE_TOO_NEW, targets[i],
                capability, cure);
        CHECK_CURE();
    }
}

TEST(not_an_image) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, "hello, I am not an image", 0, NULL),
            GPUEXEC_BAD_IMAGE, "PTX", "cubin", "fatbin");
    CHECK_CURE();
    CHECK_NOT_MADE(gpuexec_module_load(
                           s.ctx, "extern \"C\" __global__ void k(int *p) { *p = 1; }\n", 0, NULL),
            GPUEXEC_BAD_IMAGE, "PTX", "nvcc");
    CHECK_CURE();
    CHECK_NOT_MADE(
            gpuexec_module_load(s.ctx, "#include <cuda.h>\n__global__ void k() {}\n", 0, NULL),
            GPUEXEC_BAD_IMAGE, "CUDA C source", "nvcc -ptx");
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, "kernels/saxpy.ptx", 0, NULL), GPUEXEC_BAD_IMAGE,
            "gpuexec_module_load_file");
    CHECK_NOT_MADE(gpuexec_module_load_file(s.ctx, "/bin/sh", NULL), GPUEXEC_BAD_IMAGE,
            "ELF file, but not a cubin", "/bin/sh", "GPUEXEC_BAD_IMAGE");
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, "", 0, NULL), GPUEXEC_BAD_IMAGE, "empty");
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, "abcdefgh", 8, NULL), GPUEXEC_BAD_IMAGE, "PTX");
    CHECK_NOT_MADE(gpuexec_module_load(s.ctx, NULL, 0, NULL), GPUEXEC_BAD_ARGUMENT, "NULL");
    check_that_it_still_works(&s);
}

TEST(files_that_are_not_there) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    char empty[] = "/tmp/gpuexec-test-XXXXXX";
    int fd = mkstemp(empty);
    CHECK_NOT_MADE(gpuexec_module_load_file(s.ctx, "no/such/file.ptx", NULL), GPUEXEC_FILE_ERROR,
            "no/such/file.ptx", strerror(ENOENT));
    CHECK_CURE();
    CHECK_NOT_MADE(gpuexec_module_load_file(s.ctx, "tests", NULL), GPUEXEC_FILE_ERROR, "tests");
    CHECK_NOT_MADE(gpuexec_module_load_file(s.ctx, NULL, NULL), GPUEXEC_BAD_ARGUMENT, "NULL");
    CHECK(fd >= 0);
    CHECK_NOT_MADE(gpuexec_module_load_file(s.ctx, empty, NULL), GPUEXEC_BAD_IMAGE, "empty", empty);
    close(fd);
    remove(empty);
}

TEST(files_that_are_no_files) {
    static const char *const paths[] = { "tests", "/dev/zero", NULL };
    static const char *const are[] = { "is a directory, not a regular file",
        "is a device, not a regular file", "is a FIFO or pipe, not a regular file" };
    char fifo[64];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    size_t i;
    snprintf(fifo, sizeof fifo, "/tmp/gpuexec-fifo-%ld", (long)getpid());
    if (!CHECK_EQ(mkfifo(fifo, 0600), 0)) return;
    for (i = 0; i < 3; i++) {
        const char *path = paths[i] ? paths[i] : fifo;
        CHECK_NOT_MADE(gpuexec_module_load_file(ctx, path, NULL), GPUEXEC_FILE_ERROR,
                "gpuexec_module_load_file: ", path, are[i], "cure: pass a regular file");
        CHECK_REFUSED(gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, path), GPUEXEC_FILE_ERROR,
                "gpuexec_linker_add_file: ", path, are[i]);
    }
    CHECK_EQ(remove(fifo), 0);
}

TEST(unknown_kernel) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_module none;
    CHECK_NOT_MADE(gpuexec_kernel_get(s.mod, "addd"), GPUEXEC_NOT_FOUND, "addd", "unit.ptx");
    /* the existing kernels */
    CHECK_TEXT(gpuexec_error_text(), "nothing", "gate", "add", "count", "bump", "where",
            "with_static_shared");
    CHECK_NOT_MADE(gpuexec_kernel_get(s.mod, NULL), GPUEXEC_BAD_ARGUMENT, "NULL");
    CHECK(!gpuexec_ok(gpuexec_kernel_get(s.mod, "")));
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
    none = gpuexec_module_load(s.ctx, HEAD ".visible .global .u32 only_a_variable;\n", 0, NULL);
    CHECK_MADE(none);
    CHECK_NOT_MADE(gpuexec_kernel_get(none, "k"), GPUEXEC_NOT_FOUND, "no kernel");
    check_that_it_still_works(&s);
}

/* CUDA C++ without extern "C". */
TEST(mangled_kernel) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_module mod = gpuexec_module_load(s.ctx,
            HEAD ".visible .entry _Z5scalePfi(.param .u64 a, .param .u32 b) { ret; }\n", 0, NULL);
    CHECK_NOT_MADE(gpuexec_kernel_get(mod, "scale"), GPUEXEC_NOT_FOUND, "scale");
    CHECK_CURE();
    CHECK_TEXT(gpuexec_error_text(), "_Z5scalePfi", "extern \"C\"");
}

/* -------------------------------------------------------------------------------------------------
   Launches. */

TEST(wrong_number_of_arguments) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel nothing = gpuexec_kernel_get(s.mod, "nothing");
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    uint32_t by = 1, n = 1;
    /* from the PTX text */
    if (gpuexec_driver_version() < 12040) CHECK_EQ(gpuexec_kernel_parameter_size(s.kernel, 0), 8);
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, one, GPUEXEC_ARGS(s.data, by)),
            GPUEXEC_BAD_PARAMETERS, "add", "3", "2");
    CHECK_CURE();
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, one, GPUEXEC_ARGS(s.data, by, n, n)),
            GPUEXEC_BAD_PARAMETERS, "add", "3", "4");
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, one, GPUEXEC_NO_ARGS), GPUEXEC_BAD_PARAMETERS,
            "add", "3", "0");
    CHECK_REFUSED(gpuexec_launch(nothing, s.stream, one, GPUEXEC_ARGS(n)), GPUEXEC_BAD_PARAMETERS,
            "nothing", "0", "1");
    check_that_it_still_works(&s);
}

TEST(wrong_size_of_an_argument) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    uint32_t by = 1, n = 1, not_a_pointer = 0;
    size_t too_wide = 1;
    double wide = 1;
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, one, GPUEXEC_ARGS(s.data, by, too_wide)),
            GPUEXEC_BAD_PARAMETERS, "add", "2", "4", "8");
    CHECK_CURE();
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, one, GPUEXEC_ARGS(s.data, wide, n)),
            GPUEXEC_BAD_PARAMETERS, "add", "1", "4", "8");
    CHECK_REFUSED(gpuexec_launch(s.kernel, s.stream, one, GPUEXEC_ARGS(not_a_pointer, by, n)),
            GPUEXEC_BAD_PARAMETERS, "add", "0", "8", "4");
    check_that_it_still_works(&s);
}

static gpuexec_result count_with(const setting *s, gpuexec_kernel fn, gpuexec_dims d) {
    return gpuexec_launch(fn, s->stream, d, GPUEXEC_ARGS(s->data));
}

TEST(blocks_and_grids_out_of_limits) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "count");
    gpuexec_dims d = { 1, 1, 1, 1, 1, 1, 0 };
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid(1, 1025, 0)), GPUEXEC_BAD_LAUNCH, "count", "1025",
            "1024");
    CHECK_CURE();
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid_for_2d(64, 64, 33, 32)), GPUEXEC_BAD_LAUNCH,
            "count", "1056", "1024");
    d.block_z = 65;
    CHECK_REFUSED(count_with(&s, fn, d), GPUEXEC_BAD_LAUNCH, "count", "65", "64");
    d.block_z = 1;
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid(0, 32, 0)), GPUEXEC_BAD_LAUNCH, "count", "0");
    CHECK_CURE();
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid_for(0, 256)), GPUEXEC_BAD_LAUNCH, "count", "0");
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid(1, 0, 0)), GPUEXEC_BAD_LAUNCH, "count", "0");
    d.grid_y = 65536;
    CHECK_REFUSED(count_with(&s, fn, d), GPUEXEC_BAD_LAUNCH, "count", "65536", "65535");
    CHECK_CURE();
    d.grid_y = 1;
    d.grid_z = 70000;
    CHECK_REFUSED(count_with(&s, fn, d), GPUEXEC_BAD_LAUNCH, "count", "70000", "65535");
    d.grid_z = 1;
    d.grid_x = 0x80000000u;
    CHECK_REFUSED(count_with(&s, fn, d), GPUEXEC_BAD_LAUNCH, "count", "2147483648", "2147483647");
    /* not truncated to a small one */
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid_for(((size_t)1 << 40) + 1, 256)),
            GPUEXEC_BAD_LAUNCH, "count");
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid_for(100, 0)), GPUEXEC_BAD_LAUNCH, "count");
    check_that_it_still_works(&s);
}

TEST(blocks_that_the_kernel_is_not_made_for) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_module mod = gpuexec_module_load_file(s.ctx, FAULTS_PTX, NULL);
    gpuexec_kernel at_most = gpuexec_kernel_get(mod, "count_at_most_64"),
                   exactly = gpuexec_kernel_get(mod, "count_exactly_64");
    CHECK_REFUSED(count_with(&s, at_most, gpuexec_grid(1, 65, 0)), GPUEXEC_BAD_LAUNCH,
            "count_at_most_64", "65", "64");
    CHECK_CURE();
    CHECK_REFUSED(count_with(&s, exactly, gpuexec_grid(1, 128, 0)), GPUEXEC_BAD_LAUNCH,
            "count_exactly_64", "128", "64");
    CHECK_REFUSED(count_with(&s, exactly, gpuexec_grid(1, 32, 0)), GPUEXEC_BAD_LAUNCH,
            "count_exactly_64", "32");
    check_that_it_still_works(&s);
}

TEST(too_much_shared_memory) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel fn = gpuexec_kernel_get(s.mod, "count"),
                   with_static = gpuexec_kernel_get(s.mod, "with_static_shared");
    gpuexec_device_info d;
    unsigned most;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    most = (unsigned)d.shared_per_block_optin;
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid(1, 32, most + 4)), GPUEXEC_BAD_LAUNCH, "count",
            number(most + 4), number(most));
    CHECK_CURE();
    CHECK_REFUSED(count_with(&s, with_static, gpuexec_grid(1, 32, most)), GPUEXEC_BAD_LAUNCH,
            "with_static_shared", number(most), "1024");
    CHECK_REFUSED(count_with(&s, fn, gpuexec_grid(1, 32, 0xffffffffu)), GPUEXEC_BAD_LAUNCH, "count",
            "4294967295");
    CHECK_OK(count_with(&s, with_static, gpuexec_grid(1, 32, most - 1024)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    check_that_it_still_works(&s);
}

/* gpuexec_kernel_set_access. */
static gpuexec_result use(gpuexec_kernel fn, int argument, int is) {
    return gpuexec_kernel_set_access(fn, argument, (gpuexec_use)is);
}

TEST(wrong_uses_of_arguments) {
    static const char text[] = ".version 6.4\n.target sm_52\n.address_size 64\n"
                               ".visible .entry letter(.param .u8 c) { ret; }\n";
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel count = gpuexec_kernel_get(s.mod, "count"),
                   nothing = gpuexec_kernel_get(s.mod, "nothing"),
                   letter = gpuexec_kernel_get(gpuexec_module_load(s.ctx, text, 0, NULL), "letter"),
                   other, none = { 0 };
    CHECK_REFUSED(use(s.kernel, -1, GPUEXEC_USE_READ), GPUEXEC_BAD_ARGUMENT,
            "wrong_input.c:", "gpuexec_kernel_set_access",
            "argument is -1, but kernel \"add\" has 3 parameters", "counted from 0");
    CHECK_REFUSED(use(s.kernel, 3, GPUEXEC_USE_READ), GPUEXEC_BAD_ARGUMENT,
            "argument is 3, but kernel \"add\" has 3 parameters");
    CHECK_REFUSED(use(count, 1, GPUEXEC_USE_READ), GPUEXEC_BAD_ARGUMENT,
            "argument is 1, but kernel \"count\" has 1 parameter, counted from 0");
    CHECK_REFUSED(use(nothing, 0, GPUEXEC_USE_NONE), GPUEXEC_BAD_ARGUMENT,
            "argument is 0, but kernel \"nothing\" has 0 parameters");
    CHECK_REFUSED(use(s.kernel, 0, GPUEXEC_USE_READ_WRITE + 1), GPUEXEC_BAD_ARGUMENT,
            "use is 5, but must be 0 to 4", "gpuexec_use");
    CHECK_CURE();
    CHECK_REFUSED(use(s.kernel, 0, -1), GPUEXEC_BAD_ARGUMENT, "use is -1, but must be 0 to 4");
    CHECK_REFUSED(use(s.kernel, 1, GPUEXEC_USE_READ), GPUEXEC_BAD_ARGUMENT,
            "argument 1 of kernel \"add\" has 4 bytes, but a pointer has 8");
    CHECK_REFUSED(use(letter, 0, GPUEXEC_USE_WRITE), GPUEXEC_BAD_ARGUMENT,
            "argument 0 of kernel \"letter\" has 1 byte, but a pointer has 8");
    CHECK_REFUSED(use(none, 0, GPUEXEC_USE_READ), GPUEXEC_BAD_HANDLE, "the kernel", "never");
    other = count;
    other.id = s.stream.id;
    CHECK_REFUSED(use(other, 0, GPUEXEC_USE_READ), GPUEXEC_WRONG_KIND, "stream", "kernel");
    other = gpuexec_kernel_get(s.mod, "no_such_kernel");
    gpuexec_take_error();
    CHECK_REFUSED(use(other, 0, GPUEXEC_USE_READ), GPUEXEC_NOT_FOUND, "no_such_kernel");
    /* what is small can still be said not to be a pointer; a failed call has changed nothing */
    CHECK_OK(use(s.kernel, 1, GPUEXEC_USE_NONE));
    CHECK_OK(use(s.kernel, 1, GPUEXEC_USE_UNKNOWN));
    CHECK_OK(use(letter, 0, GPUEXEC_USE_NONE));
    CHECK_OK(use(s.kernel, 0, GPUEXEC_USE_READ_WRITE));
    check_that_it_still_works(&s);
    CHECK_OK(gpuexec_module_unload(s.mod));
    CHECK_REFUSED(use(count, 0, GPUEXEC_USE_READ), GPUEXEC_STALE_HANDLE, "the kernel is stale",
            "gpuexec_module_unload");
}

/* Without the PTX text, a driver before CUDA 12.4 does not report the parameters. */
TEST_ALONE(uses_of_unknown_arguments) {
    gpuexec_context ctx;
    gpuexec_kernel fn;
    setenv("SIMGPU_DRIVER_VERSION", "12000", 1);
    if (gpuexec_driver_version() >= 12040) SKIP("this driver reports the parameters");
    ctx = gpuexec_context_open(0, NULL);
    fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    CHECK_OK(use(fn, 0, GPUEXEC_USE_WRITE));
    fn = gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(fn));
    CHECK_MADE(fn);
    CHECK_REFUSED(use(fn, 0, GPUEXEC_USE_WRITE), GPUEXEC_BAD_ARGUMENT,
            "the parameters of this adopted kernel are not known",
            "its argument 0 cannot be described");
}

/* -------------------------------------------------------------------------------------------------
   Handles. */

TEST(stale_handles) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_stream stream = gpuexec_stream_create(s.ctx, NULL);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL);
    gpuexec_module mod = gpuexec_module_load_file(s.ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "nothing");
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream lost = gpuexec_stream_create(ctx, NULL);
    CHECK_OK(gpuexec_stream_destroy(stream));
    CHECK_OK(gpuexec_event_destroy(event));
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK_FAILED(gpuexec_stream_sync(stream), GPUEXEC_STALE_HANDLE, "stream", "destroyed");
    CHECK_FAILED(gpuexec_stream_destroy(stream), GPUEXEC_STALE_HANDLE, "stream", "destroyed");
    CHECK_REFUSED(gpuexec_fill(stream, s.data, 0, 1, 4), GPUEXEC_STALE_HANDLE, "stream");
    CHECK_REFUSED(gpuexec_launch(s.kernel, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_STALE_HANDLE, "stream");
    CHECK_REFUSED(gpuexec_event_record(event, s.stream), GPUEXEC_STALE_HANDLE, "event");
    CHECK_FAILED(gpuexec_event_destroy(event), GPUEXEC_STALE_HANDLE, "event");
    CHECK_REFUSED(gpuexec_stream_wait_event(s.stream, event), GPUEXEC_STALE_HANDLE, "event");
    CHECK_REFUSED(gpuexec_launch(fn, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_STALE_HANDLE, "kernel");
    CHECK_NOT_MADE(gpuexec_kernel_get(mod, "add"), GPUEXEC_STALE_HANDLE, "module");
    CHECK_FAILED(gpuexec_module_unload(mod), GPUEXEC_STALE_HANDLE, "module");
    CHECK_NOT_MADE(gpuexec_stream_create(ctx, NULL), GPUEXEC_STALE_HANDLE, "context");
    CHECK_EQ(gpuexec_alloc(ctx, 64), 0);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_STALE_HANDLE, "context");
    CHECK_FAILED(gpuexec_context_close(ctx), GPUEXEC_STALE_HANDLE, "context");
    CHECK_FAILED(gpuexec_stream_sync(lost), GPUEXEC_STALE_HANDLE, "stream");
    CHECK_RESULT(gpuexec_stream_query(stream), GPUEXEC_STALE_HANDLE);
    CHECK_RESULT(gpuexec_event_query(event), GPUEXEC_STALE_HANDLE);
    CHECK(gpuexec_stream_native(stream) == NULL && gpuexec_event_native(event) == NULL);
    CHECK(gpuexec_module_native(mod) == NULL && gpuexec_kernel_native(fn) == NULL &&
            gpuexec_context_native(ctx) == NULL);
    CHECK_TEXT(gpuexec_why(stream), "destroyed");
    check_that_it_still_works(&s);
}

/* The text names where an object was created, and which call closed it, and where: also after its
   slot has been used again. Each handle with its text. */
typedef struct closed {
    uint64_t id;
    const char *by;
} closed;
static unsigned make_closed(closed *c) {
    int end = -1;
    unsigned n = 0, i;
    gpuexec_context ctx = gpuexec_context_open_at("made.c:1", 0, NULL);
    gpuexec_module mod = gpuexec_module_load_file_at("made.c:1", ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get_at("made.c:1", mod, "nothing");
    gpuexec_library library = gpuexec_library_load_file_at("made.c:1", UNIT_PTX, NULL);
    gpuexec_stream stream = gpuexec_stream_create_at("made.c:1", ctx, NULL);
    gpuexec_stream lost = gpuexec_stream_create_at("made.c:1", ctx, NULL);
    gpuexec_event event = gpuexec_event_create_at("made.c:1", ctx, NULL);
    gpuexec_linker linker = gpuexec_linker_create_at("made.c:1", ctx, NULL);
    gpuexec_params params = gpuexec_params_create_at("made.c:1");
    gpuexec_prepared prepared = gpuexec_prepare_at(
            "made.c:1", fn, stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    gpuexec_graph graph = gpuexec_graph_create_at("made.c:1", ctx);
    gpuexec_batch batch = gpuexec_batch_create_at("made.c:1", ctx, NULL);
    gpuexec_barrier barrier = gpuexec_barrier_create_at("made.c:1", &ctx, 1, NULL);
    gpuexec_pool pool = gpuexec_pool_create_at("made.c:1", ctx, NULL);
    gpuexec_ipc ipc = gpuexec_ipc_pair_at("made.c:1", &end);
#define CLOSED(handle, function) \
    CHECK_MADE(handle); \
    c[n].id = (handle).id; \
    c[n++].by = #function " at gone.c:2; it was created at made.c:1"; \
    CHECK_OK(function##_at("gone.c:2", handle))
    CLOSED(stream, gpuexec_stream_destroy);
    CLOSED(event, gpuexec_event_destroy);
    CLOSED(linker, gpuexec_linker_destroy);
    CLOSED(params, gpuexec_params_destroy);
    CLOSED(prepared, gpuexec_prepared_destroy);
    CLOSED(graph, gpuexec_graph_destroy);
    CLOSED(batch, gpuexec_batch_destroy);
    CLOSED(barrier, gpuexec_barrier_destroy);
    CLOSED(pool, gpuexec_pool_destroy);
    CLOSED(ipc, gpuexec_ipc_close);
    CLOSED(library, gpuexec_library_unload);
    c[n].id = fn.id;
    c[n++].by = "gpuexec_module_unload at gone.c:2; it was created at made.c:1";
    CLOSED(mod, gpuexec_module_unload);
    c[n].id = lost.id;
    c[n++].by = "gpuexec_context_close at gone.c:2; it was created at made.c:1";
    CLOSED(ctx, gpuexec_context_close);
    if (end >= 0) close(end);
    for (i = 0; i < n; i++) CHECK(c[i].id != 0);
    return n;
}
TEST(stale_handles_name_their_places) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_event used[32];
    closed c[20];
    unsigned n = make_closed(c), i, turn;
    for (turn = 0; turn < 3; turn++) {
        for (i = 0; i < n; i++) CHECK_TEXT(gpuexec_id_why(c[i].id), "is stale: it was ", c[i].by);
        /* in the slots of these */
        for (i = 0; i < 32; i++) used[i] = gpuexec_event_create(s.ctx, NULL);
        for (i = 0; i < 32; i++) CHECK_OK(gpuexec_event_destroy(used[i]));
    }
    CHECK_EQ(n, 15);
    for (i = 0; i < 1000; i++) CHECK_OK(gpuexec_event_destroy(gpuexec_event_create(s.ctx, NULL)));
    CHECK_TEXT(gpuexec_id_why(used[0].id), "is stale: it was destroyed");
    gpuexec_shutdown();
    CHECK_TEXT(
            gpuexec_id_why(c[0].id), " is stale: it was closed during gpuexec_shutdown or earlier");
}
/* The owner of an adopted context destroys it: that call is not known, but the one that detected it
   is. */
TEST(handles_of_a_context_destroyed_outside) {
    gpuexec_context owner = gpuexec_context_create(0, NULL),
                    ctx = gpuexec_context_from_native(gpuexec_context_native(owner));
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL),
                   other = gpuexec_stream_create(ctx, NULL);
    CHECK_MADE(stream);
    CHECK_OK(gpuexec_context_close(owner));
    CHECK_FAILED(gpuexec_stream_sync_at("noticed.c:3", stream), GPUEXEC_STALE_HANDLE,
            "was destroyed outside gpuexec");
    CHECK_FAILED(gpuexec_stream_sync(other), GPUEXEC_STALE_HANDLE,
            "the stream is stale: gpuexec closed it because other code had destroyed the "
            "context, as gpuexec noticed at noticed.c:3; it was created at ");
}

/* A slot's ids are used up after 2^21 objects, and are never reused. */
TEST(stale_handles_stay_stale) {
    gpuexec_params first = gpuexec_params_create(), last, next;
    unsigned slot = test_slot(first.id, 0), i;
    CHECK_OK(gpuexec_params_destroy(first));
    test_slot(first.id, 0x1FFFFE);
    last = gpuexec_params_create();
    CHECK_MADE(last);
    CHECK_EQ(test_slot(last.id, 0), slot);
    CHECK_OK(gpuexec_params_destroy(last));
    for (i = 0; i < 3; i++) {
        next = gpuexec_params_create();
        CHECK_MADE(next);
        CHECK(test_slot(next.id, 0) != slot);
        CHECK(!gpuexec_ok(first) && !gpuexec_ok(last));
        CHECK_OK(gpuexec_params_destroy(next));
    }
    /* starts with new slots, after the last generation of all */
    gpuexec_shutdown();
    for (i = 0; i < 3; i++) {
        next = gpuexec_params_create();
        CHECK_MADE(next);
        CHECK(!gpuexec_ok(first) && !gpuexec_ok(last));
        CHECK_OK(gpuexec_params_destroy(next));
    }
    CHECK_RESULT(gpuexec_params_destroy(last), GPUEXEC_STALE_HANDLE);
    gpuexec_take_error();
}

/* The C compiler checks the types; a binding of another language may not. */
TEST(handles_of_the_wrong_kind) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_event event = gpuexec_event_create(s.ctx, NULL), stream_as_event;
    gpuexec_stream event_as_stream, context_as_stream;
    gpuexec_context stream_as_context;
    gpuexec_module kernel_as_module;
    gpuexec_kernel module_as_kernel;
    event_as_stream.id = event.id;
    context_as_stream.id = s.ctx.id;
    stream_as_event.id = s.stream.id;
    stream_as_context.id = s.stream.id;
    kernel_as_module.id = s.kernel.id;
    module_as_kernel.id = s.mod.id;
    CHECK_FAILED(gpuexec_stream_sync(event_as_stream), GPUEXEC_WRONG_KIND, "event", "stream");
    CHECK_FAILED(gpuexec_stream_destroy(event_as_stream), GPUEXEC_WRONG_KIND, "event", "stream");
    CHECK_REFUSED(gpuexec_fill(context_as_stream, s.data, 0, 1, 4), GPUEXEC_WRONG_KIND, "context",
            "stream");
    CHECK_REFUSED(gpuexec_launch(s.kernel, event_as_stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_WRONG_KIND, "event", "stream");
    CHECK_REFUSED(
            gpuexec_launch(module_as_kernel, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_WRONG_KIND, "module", "kernel");
    CHECK_REFUSED(
            gpuexec_event_record(stream_as_event, s.stream), GPUEXEC_WRONG_KIND, "stream", "event");
    CHECK_NOT_MADE(
            gpuexec_kernel_get(kernel_as_module, "add"), GPUEXEC_WRONG_KIND, "kernel", "module");
    CHECK_NOT_MADE(gpuexec_stream_create(stream_as_context, NULL), GPUEXEC_WRONG_KIND, "stream",
            "context");
    CHECK_FAILED(gpuexec_context_close(stream_as_context), GPUEXEC_WRONG_KIND, "stream", "context");
    CHECK(gpuexec_ok(event) && gpuexec_ok(s.stream) && gpuexec_ok(s.ctx));
    check_that_it_still_works(&s);
}

TEST(handles_that_were_never_made) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_context no_context = { 0 };
    gpuexec_module no_module = { 0 };
    gpuexec_kernel no_kernel = { 0 };
    gpuexec_stream no_stream = { 0 };
    gpuexec_event no_event = { 0 };
    CHECK_FAILED(gpuexec_stream_sync(no_stream), GPUEXEC_BAD_HANDLE, "stream", "never");
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_stream_"); /* the cure: the calls that create one */
    CHECK_REFUSED(gpuexec_launch(s.kernel, no_stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_BAD_HANDLE, "stream", "never");
    CHECK_REFUSED(gpuexec_launch(no_kernel, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS),
            GPUEXEC_BAD_HANDLE, "kernel", "never");
    CHECK_REFUSED(gpuexec_event_record(no_event, s.stream), GPUEXEC_BAD_HANDLE, "event", "never");
    CHECK_NOT_MADE(gpuexec_kernel_get(no_module, "add"), GPUEXEC_BAD_HANDLE, "module", "never");
    CHECK_NOT_MADE(gpuexec_event_create(no_context, NULL), GPUEXEC_BAD_HANDLE, "context", "never");
    CHECK_FAILED(gpuexec_context_sync(no_context), GPUEXEC_BAD_HANDLE, "context", "never");
    check_that_it_still_works(&s);
}

/* A handle that was not initialised can contain any number. */
TEST(garbage_handles) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_stream g;
    uint32_t seed = 77;
    int i;
    for (i = 0; i < 64; i++) { /* one bit different from a valid one */
        gpuexec_result r;
        g.id = s.stream.id ^ ((uint64_t)1 << i);
        CHECK(!gpuexec_ok(g));
        r = gpuexec_stream_sync(g);
        CHECK(r == GPUEXEC_BAD_HANDLE || r == GPUEXEC_STALE_HANDLE || r == GPUEXEC_WRONG_KIND);
        gpuexec_take_error();
    }
    for (i = 0; i < 10000; i++) {
        g.id = (uint64_t)test_random(&seed) << 32;
        g.id |= test_random(&seed);
        if (g.id == s.stream.id) continue;
        CHECK(!gpuexec_ok(g));
        CHECK(gpuexec_stream_sync(g) != GPUEXEC_OK);
        gpuexec_take_error();
    }
    g.id = UINT64_MAX;
    CHECK_FAILED(gpuexec_stream_sync(g), GPUEXEC_BAD_HANDLE, "stream");
    check_that_it_still_works(&s);
}

/* The text names both contexts by where the program opened or adopted them, not by numbers. */
TEST(objects_of_two_contexts) {
    gpuexec_context a = gpuexec_context_open_at("a.c:1", 0, NULL),
                    b = gpuexec_context_create_at("b.c:2", 0, NULL),
                    c = gpuexec_context_from_native_at("c.c:3", gpuexec_context_native(b));
    gpuexec_module mod = gpuexec_module_load_file(a, UNIT_PTX, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(mod, "nothing");
    gpuexec_stream of_b = gpuexec_stream_create(b, NULL), of_c = gpuexec_stream_create(c, NULL);
    gpuexec_event event = gpuexec_event_create(a, NULL), other = gpuexec_stream_record(of_b, NULL);
    gpuexec_batch batch = gpuexec_batch_create(c, NULL);
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    gpuexec_prepared prepared = gpuexec_prepare(
            kernel, gpuexec_context_stream(a), one, GPUEXEC_NO_ARGS);
#define TWO(call, first, second) \
    CHECK_REFUSED(call, GPUEXEC_WRONG_CONTEXT, first, second); \
    CHECK(strstr(gpuexec_error_text(), "0x") == NULL)
    TWO(gpuexec_launch(kernel, of_b, one, GPUEXEC_NO_ARGS),
            "kernel \"nothing\" is on device 0, in the context opened at a.c:1, but the stream is "
            "on device 0, in the context opened at b.c:2",
            "or load the module");
    TWO(gpuexec_launch(kernel, of_c, one, GPUEXEC_NO_ARGS), "opened at a.c:1",
            "in the context adopted at c.c:3");
    TWO(gpuexec_prepared_set_stream(prepared, of_c), "kernel \"nothing\" is",
            "in the context adopted at c.c:3");
    TWO(gpuexec_event_record(event, of_b),
            "the event is on device 0, in the context opened at a.c:1", "b.c:2");
    TWO(gpuexec_context_set_stream(a, of_c),
            "the context opened at a.c:1 is on device 0, but the stream is on device 0",
            "in the context adopted at c.c:3");
    CHECK_EQ(gpuexec_batch_add(batch, kernel, one, GPUEXEC_NO_ARGS), -1);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_WRONG_CONTEXT, "opened at a.c:1",
            "the batch is on device 0, in the context adopted at c.c:3");
    CHECK_OK(gpuexec_event_record(event, gpuexec_context_stream(a)));
    CHECK(gpuexec_event_elapsed_ms(event, other) < 0);
    CHECK_TEXT(gpuexec_error_text(),
            "the start event is on device 0, in the context opened at a.c:1, but the stop event is "
            "on device 0, in the context opened at b.c:2");
    CHECK_NOT_MADE(gpuexec_stream_from_native(a, gpuexec_stream_native(of_b)),
            GPUEXEC_WRONG_CONTEXT,
            " belongs to the context adopted at c.c:3, but the context passed is the context "
            "opened at a.c:1");
    CHECK_FAILED(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT,
            "the context opened at a.c:1 is not current: ",
            "this thread has already popped every context");
    CHECK_OK(gpuexec_context_push(a));
    CHECK_OK(gpuexec_context_push_at("push.c:4", b));
    CHECK_FAILED(gpuexec_context_pop(a), GPUEXEC_WRONG_CONTEXT,
            "the context opened at a.c:1 is not current: the current one is the context adopted at "
            "c.c:3, and the context last pushed through gpuexec is the context opened at b.c:2, "
            "pushed at push.c:4");
    CHECK_OK(gpuexec_context_pop(b));
    CHECK_OK(gpuexec_context_pop(a));
    CHECK_OK(gpuexec_context_close(b));
    CHECK_FAILED(gpuexec_stream_sync(of_c), GPUEXEC_STALE_HANDLE,
            "the stream is stale: the context adopted at c.c:3 was destroyed outside gpuexec");
}

TEST_ALONE_MULTI(objects_of_two_devices) {
    setting s;
    gpuexec_context other;
    gpuexec_stream stream;
    gpuexec_event event;
    uint32_t by = 1, n = 1;
    setenv("SIMGPU_DEVICES", "2", 1); /* SIMGPU_DEVICES sets the number of CPU devices */
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    s = set_up(UNIT_PTX, "add", 4096);
    other = gpuexec_context_open(1, NULL);
    stream = gpuexec_stream_create(other, NULL);
    event = gpuexec_event_create(other, NULL);
    CHECK_REFUSED(
            gpuexec_launch(s.kernel, stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s.data, by, n)),
            GPUEXEC_WRONG_CONTEXT, "add", "device 0", "device 1");
    CHECK_CURE();
    CHECK_REFUSED(gpuexec_event_record(event, s.stream), GPUEXEC_WRONG_CONTEXT, "event", "stream",
            "device 0", "device 1");
    check_that_it_still_works(&s);
}

/* -------------------------------------------------------------------------------------------------
   Descs, setup, processes. */

TEST(descs_that_were_not_zeroed) {
    setting s;
    gpuexec_setup_desc setup;
    gpuexec_context_desc context;
    gpuexec_module_desc module;
    gpuexec_stream_desc stream;
    gpuexec_event_desc event;
    memset(&setup, 0xcc, sizeof setup);
    memset(&context, 0xcc, sizeof context);
    memset(&module, 0xcc, sizeof module);
    memset(&stream, 0xcc, sizeof stream);
    memset(&event, 0xcc, sizeof event);
    CHECK_REFUSED(gpuexec_setup(&setup), GPUEXEC_BAD_ARGUMENT, "gpuexec_setup_desc", "zero");
    CHECK_CURE();
    s = set_up(UNIT_PTX, "add", 4096);
    CHECK_NOT_MADE(gpuexec_context_open(0, &context), GPUEXEC_BAD_ARGUMENT, "gpuexec_context_desc",
            "zero");
    CHECK_CURE();
    CHECK_NOT_MADE(gpuexec_module_load_file(s.ctx, UNIT_PTX, &module), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_module_desc", "zero");
    CHECK_NOT_MADE(gpuexec_stream_create(s.ctx, &stream), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_stream_desc", "zero");
    CHECK_NOT_MADE(gpuexec_event_create(s.ctx, &event), GPUEXEC_BAD_ARGUMENT, "gpuexec_event_desc",
            "zero");
    memset(&stream, 0, sizeof stream);
    stream.end_canary = 1; /* only the end, as with a struct that is too short */
    CHECK_NOT_MADE(gpuexec_stream_create(s.ctx, &stream), GPUEXEC_BAD_ARGUMENT,
            "gpuexec_stream_desc", "zero");
    check_that_it_still_works(&s);
}

TEST(devices_that_do_not_exist) {
    CHECK_NOT_MADE(gpuexec_context_open(-1, NULL), GPUEXEC_NO_DEVICE, "-1",
            number((unsigned)gpuexec_device_count()));
    CHECK_CURE();
    CHECK_NOT_MADE(gpuexec_context_open(4711, NULL), GPUEXEC_NO_DEVICE, "4711",
            number((unsigned)gpuexec_device_count()));
}

static setting parents;

static void use_the_parents_cuda(void) {
    uint32_t by = 1, n = 1;
    gpuexec_context mine;
    CHECK_RESULT(gpuexec_launch(parents.kernel, parents.stream, gpuexec_grid(1, 1, 0),
                         GPUEXEC_ARGS(parents.data, by, n)),
            GPUEXEC_FORKED);
    CHECK_TEXT(gpuexec_error_text(), "fork");
    CHECK_CURE();
    gpuexec_take_error();
    CHECK_RESULT(gpuexec_stream_sync(parents.stream), GPUEXEC_FORKED);
    gpuexec_take_error();
    CHECK_EQ(gpuexec_alloc(parents.ctx, 64), 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FORKED);
    mine = gpuexec_context_open(0, NULL);
    CHECK(!gpuexec_ok(mine));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FORKED);
    CHECK_EQ(gpuexec_device_count(), 0);
    gpuexec_stream_destroy(parents.stream);
    gpuexec_shutdown(); /* no crash, and no effect on the parent */
}

TEST_ALONE(a_forked_child) {
    parents = set_up(UNIT_PTX, "add", 4096);
    CHECK(run_child(use_the_parents_cuda));
    check_that_it_still_works(&parents);
}

/* The reverse order works: nothing was used before the fork. */
static void use_cuda(void) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    check_that_it_still_works(&s);
    gpuexec_shutdown();
}

TEST_ALONE(a_child_of_a_process_that_did_not_use_cuda) {
    CHECK(run_child(use_cuda));
    use_cuda();
}

/* -------------------------------------------------------------------------------------------------
   Memory. */

/* The parent failed to start and has nothing, so a child may start. */
static gpuexec_params parents_block;
static void start_after_all(void) {
    CHECK_MADE(parents_block);
    CHECK_OK(gpuexec_params_destroy(parents_block));
    CHECK_EQ(gpuexec_device_count(), 0);
    /* until gpuexec_setup is called again, which applies to the parent as well */
    CHECK_RESULT(gpuexec_error_detail()->result, GPUEXEC_NO_DRIVER);
    CHECK_OK(gpuexec_setup(NULL));
    CHECK(gpuexec_device_count() > 0);
    CHECK_MADE(gpuexec_context_open(0, NULL));
    gpuexec_shutdown();
}
static void still_forked(void) { CHECK_RESULT(gpuexec_setup(NULL), GPUEXEC_FORKED); }
TEST_ALONE(a_child_of_a_process_whose_start_failed) {
    CHECK_RESULT(setup_with("/no/such/libcuda.so"), GPUEXEC_NO_DRIVER);
    parents_block = gpuexec_params_create();
    CHECK(run_child(start_after_all));
    CHECK_OK(gpuexec_params_destroy(parents_block));
    CHECK_OK(gpuexec_setup(NULL));
    gpuexec_shutdown();
    CHECK(run_child(still_forked)); /* no shutdown of the driver */
}

/* The failed allocation is reported at the end, and the launch that would have used the memory
   never ran. */
TEST(out_of_memory) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    size_t total = 0, free_bytes = 0, wanted;
    gpuexec_ptr none;
    uint32_t by = 1, n = 16;
    CHECK_OK(gpuexec_context_get_memory(s.ctx, &free_bytes, &total));
    wanted = total * 2;
    none = gpuexec_alloc(s.ctx, wanted);
    CHECK_EQ(none, 0);
    CHECK_TEXT(gpuexec_error_text(), number(wanted), number(total));
    CHECK_CURE();
    CHECK_REFUSED(
            gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(none, by, n)),
            GPUEXEC_OUT_OF_DEVICE_MEMORY, number(wanted));
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_alloc", number(wanted));
    check_that_it_still_works(&s);
    CHECK(gpuexec_alloc_pinned(s.ctx, (size_t)1 << 46) == NULL);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_OUT_OF_HOST_MEMORY, "gpuexec_alloc_pinned",
            "70368744177664 bytes", "pinned", "cure:");
    check_that_it_still_works(&s);
}

TEST(allocating_nothing) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_EQ(gpuexec_alloc(s.ctx, 0), 0);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT, "0 bytes");
    CHECK(gpuexec_alloc_pinned(s.ctx, 0) == NULL);
    CHECK_FAILED(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT, "0 bytes");
}

TEST(wrong_frees) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_ptr p = gpuexec_alloc(s.ctx, 1000);
    char *h = (char *)gpuexec_alloc_pinned(s.ctx, 1000);
    /* inside an allocation: says which */
    CHECK_FAILED(gpuexec_free(p + 256), GPUEXEC_BAD_ARGUMENT, "256", "1000");
    CHECK_OK(gpuexec_free(p));
    CHECK_FAILED(gpuexec_free(p), GPUEXEC_BAD_ARGUMENT, "free");
    CHECK_FAILED(gpuexec_free(0x1234500), GPUEXEC_BAD_ARGUMENT, "0x1234500");
    CHECK_FAILED(gpuexec_free_pinned(h + 16), GPUEXEC_BAD_ARGUMENT, "16");
    CHECK_OK(gpuexec_free_pinned(h));
    CHECK_FAILED(gpuexec_free_pinned(h), GPUEXEC_BAD_ARGUMENT, "free");
    check_that_it_still_works(&s);
}

/* 4096 bytes, where a driver refuses a copy that is one byte too long. It can round up other
   sizes. */
TEST(copies_past_the_end) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_ptr p = gpuexec_alloc(s.ctx, 4096);
    static unsigned char host[8192];
    CHECK_REFUSED(gpuexec_copy_in(s.stream, p, host, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_REFUSED(gpuexec_copy_out(s.stream, host, p, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_REFUSED(
            gpuexec_copy_in(s.stream, p + 4000, host, 101), GPUEXEC_BAD_ARGUMENT, "101", "4096");
    CHECK_REFUSED(gpuexec_fill(s.stream, p, 0, 1, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_REFUSED(gpuexec_fill(s.stream, p, 0, 4, 1025), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    /* times 4 overflows */
    CHECK_REFUSED(
            gpuexec_fill(s.stream, p, 0, 4, ((size_t)1 << 62) + 1), GPUEXEC_BAD_ARGUMENT, "bytes");
    CHECK_REFUSED(gpuexec_copy(s.stream, p, s.data, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_REFUSED(gpuexec_copy(s.stream, s.data, p, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_REFUSED(gpuexec_copy_in(s.stream, p, host, SIZE_MAX), GPUEXEC_BAD_ARGUMENT, "bytes");
    CHECK_REFUSED(gpuexec_copy_in_now(s.ctx, p, host, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_REFUSED(gpuexec_copy_out_now(s.ctx, host, p + 8, 4096), GPUEXEC_BAD_ARGUMENT, "4096");
    CHECK_REFUSED(gpuexec_fill_now(s.ctx, p, 0, 1, 4100), GPUEXEC_BAD_ARGUMENT, "4100", "4096");
    CHECK_OK(gpuexec_fill_now(s.ctx, p, 0, 1, 4096));
    check_that_it_still_works(&s);
}

TEST(copies_from_and_to_nowhere) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    uint32_t host = 0;
    CHECK_REFUSED(gpuexec_copy_in(s.stream, s.data, NULL, 4), GPUEXEC_BAD_ARGUMENT, "NULL");
    CHECK_REFUSED(gpuexec_copy_out(s.stream, NULL, s.data, 4), GPUEXEC_BAD_ARGUMENT, "NULL");
    CHECK_REFUSED(gpuexec_copy_in(s.stream, 0, &host, 4), GPUEXEC_BAD_ARGUMENT, "0");
    CHECK_REFUSED(gpuexec_copy(s.stream, s.data, 0, 4), GPUEXEC_BAD_ARGUMENT, "0");
    CHECK_REFUSED(gpuexec_fill(s.stream, 0, 0, 1, 4), GPUEXEC_BAD_ARGUMENT, "0");
    CHECK_REFUSED(gpuexec_copy_in_now(s.ctx, s.data, NULL, 4), GPUEXEC_BAD_ARGUMENT, "NULL");
    CHECK_REFUSED(gpuexec_copy_out_now(s.ctx, NULL, s.data, 4), GPUEXEC_BAD_ARGUMENT, "NULL");
    check_that_it_still_works(&s);
}

/* -------------------------------------------------------------------------------------------------
   Errors in kernels. A later call returns them, CUDA is unusable in the process, and the first text
   is repeated. */

static gpuexec_kernel fault(const setting *s, const char *name) {
    return gpuexec_kernel_get(gpuexec_module_load_file(s->ctx, FAULTS_PTX, NULL), name);
}

static void check_that_cuda_is_over(
        const setting *s, int driver_result, const char *driver_result_name) {
    const gpuexec_error *e;
    char first[3000];
    uint32_t by = 1, n = 1;
    gpuexec_context again;
    CHECK_RESULT(gpuexec_stream_sync(s->stream), GPUEXEC_KERNEL_FAILED);
    e = gpuexec_error_detail();
    CHECK_EQ(e->asynchronous, 1);
    CHECK_EQ(e->sticky, 1);
    CHECK_EQ(e->driver_result, driver_result);
    CHECK_STRING(e->driver_result_name, driver_result_name);
    CHECK_TEXT(e->text, driver_result_name, "process", "gpuexec_stream_sync", "wrong_input.c:");
    CHECK_CURE();
    snprintf(first, sizeof first, "%s", e->message);
    if (strstr(first, "; ")) *strstr(first, "; ") = 0; /* the rest is on other lines of the text */
    gpuexec_take_error();
    CHECK_REFUSED(gpuexec_launch(s->kernel, s->stream, gpuexec_grid(1, 1, 0),
                          GPUEXEC_ARGS(s->data, by, n)),
            GPUEXEC_KERNEL_FAILED, first);
    CHECK_EQ(gpuexec_alloc(s->ctx, 64), 0);
    CHECK_TEXT(gpuexec_error_text(), first);
    CHECK_EQ(gpuexec_error_detail()->sticky, 1);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_KERNEL_FAILED);
    CHECK_RESULT(gpuexec_stream_query(s->stream), GPUEXEC_KERNEL_FAILED);
    CHECK_RESULT(gpuexec_context_sync(s->ctx), GPUEXEC_KERNEL_FAILED);
    gpuexec_take_error();
    again = gpuexec_context_open(0, NULL);
    CHECK(!gpuexec_ok(again) || gpuexec_alloc(again, 64) == 0);
    gpuexec_take_error();
    gpuexec_free(s->data); /* clean-up still works */
    gpuexec_module_unload(s->mod);
    gpuexec_stream_destroy(s->stream);
    gpuexec_context_close(s->ctx);
    CHECK(!gpuexec_ok(s->stream) && !gpuexec_ok(s->mod) && !gpuexec_ok(s->ctx));
    gpuexec_take_error();
}

TEST_ALONE(illegal_address) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_OK(gpuexec_launch(
            fault(&s, "illegal_address"), s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_NO_ARGS));
    check_that_cuda_is_over(&s, 700, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

/* The CPU device reports the address, so the text begins with where that is. */
TEST_ALONE(an_illegal_address_is_located_first) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_ptr p = gpuexec_alloc_at("small.c:18", s.ctx, 4000);
    uint32_t by = 1, n = 1024;
    if (!on_cpu_device()) SKIP("a GPU does not report the address");
    CHECK_OK(gpuexec_launch_at(
            "launched.c:5", s.kernel, s.stream, gpuexec_grid_for(n, 64), GPUEXEC_ARGS(p, by, n)));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "outside every allocation that its device can access (GPUEXEC_KERNEL_FAILED)\n  the "
            "address 0x",
            "is 0 bytes past the end of the 4000 bytes of device memory at 0x",
            " (allocated at small.c:18)\n"
            "  last launch on each stream: kernel \"add\" at launched.c:5");
}
TEST_ALONE(an_illegal_address_in_freed_memory_is_located_first) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_ptr p = gpuexec_alloc_on_at("made.c:1", s.stream, 4000);
    uint32_t by = 1, n = 1000;
    if (!on_cpu_device()) SKIP("a GPU does not report the address");
    CHECK_OK(gpuexec_free_on_at("gone.c:2", s.stream, p));
    CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid_for(n, 64), GPUEXEC_ARGS(p, by, n)));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "outside every allocation that its device can access (GPUEXEC_KERNEL_FAILED)\n  the "
            "address 0x",
            "is in freed memory, 4000 bytes of device memory at 0x",
            "(allocated at made.c:1, freed at gone.c:2)");
}
/* On two streams, gpuexec cannot know that the free comes first: the fill fails later, but no
   kernel is accused. */
TEST_ALONE(a_fill_of_memory_freed_before_it_ran) {
    setting s;
    gpuexec_stream other;
    gpuexec_ptr p;
    test_gate gate;
    if (!on_cpu_device()) SKIP("a GPU lets the fill pass");
    unsetenv("GPUEXEC_VALIDATION"); /* it would report this */
    s = set_up(UNIT_PTX, "add", 4096);
    other = gpuexec_stream_create(s.ctx, NULL);
    p = gpuexec_alloc_on_at("made.c:1", s.stream, 4000);
    gate = gate_make(s.ctx, s.mod);
    CHECK_OK(gpuexec_stream_sync(s.stream));
    gate_close(gate, other);
    CHECK_OK(gpuexec_fill(other, p, 0, 1, 4000));
    CHECK_OK(gpuexec_free_on_at("gone.c:2", s.stream, p));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    gate_open(gate);
    CHECK_RESULT(gpuexec_stream_sync(other), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "a copy or fill enqueued earlier used memory that was freed before it ran",
            "last freed: 4000 bytes of device memory at 0x",
            "(allocated at made.c:1, freed at gone.c:2)");
    CHECK(strstr(gpuexec_error_text(), "a kernel launched earlier") == NULL);
}

TEST_ALONE(a_pointer_that_was_never_allocated) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_ptr null = 0;
    uint32_t by = 1, n = 1;
    CHECK_OK(gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(null, by, n)));
    check_that_cuda_is_over(&s, 700, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_ALONE(misaligned_address) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_OK(gpuexec_launch(
            fault(&s, "misaligned_load"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s.data)));
    check_that_cuda_is_over(&s, 716, "CUDA_ERROR_MISALIGNED_ADDRESS");
}

TEST_ALONE(trap) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_OK(gpuexec_launch(
            fault(&s, "trap_now"), s.stream, gpuexec_grid(3, 64, 0), GPUEXEC_NO_ARGS));
    check_that_cuda_is_over(&s, 719, "CUDA_ERROR_LAUNCH_FAILED");
}

TEST_ALONE(shared_memory_out_of_bounds) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    CHECK_OK(gpuexec_launch(
            fault(&s, "shared_out_of_bounds"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    check_that_cuda_is_over(&s, 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION");
}

/* The device prints on stdout or stderr which assertion failed; the test captures that. */
TEST_ALONE(failed_assert) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel fn = fault(&s, "assert_positive");
    int good = 1, bad = -1, keep_stdout = dup(1), keep_stderr = dup(2);
    FILE *file = tmpfile();
    char text[2000] = "";
    gpuexec_result met;
    if (!CHECK(file != NULL)) return;
    CHECK_OK(gpuexec_launch(fn, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(good)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
    fflush(NULL);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    gpuexec_launch(fn, s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(bad));
    met = gpuexec_context_sync(s.ctx);
    fflush(NULL);
    dup2(keep_stdout, 1);
    dup2(keep_stderr, 2);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    CHECK_EQ(met, GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(text, "faults.cu:7", "x > 0");
    check_that_cuda_is_over(&s, 710, "CUDA_ERROR_ASSERT");
}

/* Another thread, which made no error, gets the failure. */
static void *use_it_elsewhere(void *user) {
    const setting *s = (const setting *)user;
    uint32_t by = 1, n = 1;
    CHECK_RESULT(gpuexec_launch(
                         s->kernel, s->stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(s->data, by, n)),
            GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "CUDA_ERROR_LAUNCH_FAILED");
    return NULL;
}

TEST_ALONE(a_sticky_error_on_another_thread) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    pthread_t thread;
    CHECK_OK(gpuexec_launch(
            fault(&s, "trap_now"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_EQ(pthread_create(&thread, NULL, use_it_elsewhere, &s), 0);
    pthread_join(thread, NULL);
}

/* Errors that were found by people who tried the library. */

TEST_ALONE(the_text_names_the_last_launch) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    uint32_t by = 1, n = 1;
    CHECK_OK(gpuexec_launch(
            s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data, by, n)));
    CHECK_OK(gpuexec_launch(
            fault(&s, "trap_now"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "last launch on each stream: kernel \"trap_now\" at tests/header/unit/wrong_input.c:");
}

TEST_ALONE(each_fact_about_a_fault_has_its_line) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_event event;
    CHECK_OK(gpuexec_launch_at(
            "a; b.c:5", fault(&s, "trap_now"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    CHECK_RESULT(gpuexec_stream_sync_at("c; d.c:6", s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "an exception (GPUEXEC_KERNEL_FAILED)\n"
            "  last launch on each stream: kernel \"trap_now\" at a; b.c:5 on device 0\n"
            "  detected by gpuexec_stream_sync at c; d.c:6 while waiting for the stream\n"
            "  driver: cuStreamSynchronize returned ");
    CHECK_TEXT(gpuexec_error_detail()->message, "an exception; last launch on each stream: ",
            " on device 0; detected by gpuexec_stream_sync at c; d.c:6 while");
    event = gpuexec_event_create_at("e; f.c:7", s.ctx, NULL);
    CHECK_TEXT(gpuexec_why(event),
            "an exception (GPUEXEC_KERNEL_FAILED)\n  last launch on each stream: ");
    gpuexec_event_native(event);
    CHECK_TEXT(gpuexec_error_text(),
            " while waiting for the stream\n"
            "  because of this, gpuexec_event_create at e; f.c:7 did not create the event\n");
}

/* A launch records only a pointer to its place: after its library is unloaded, the text omits the
   place. */
TEST_ALONE(the_last_launch_from_a_library_that_was_closed) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int zero = open("/dev/zero", O_RDWR);
    char *library = (char *)mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    close(zero);
    if (!CHECK(library != (char *)MAP_FAILED)) return;
    snprintf(library, page, "closed.c:1");
    CHECK_OK(gpuexec_launch_at(
            library, fault(&s, "trap_now"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS));
    munmap(library, page);
    CHECK_RESULT(gpuexec_stream_sync(s.stream), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(),
            "last launch on each stream: kernel \"trap_now\" at a place in a library that has been "
            "unloaded on device 0");
}

TEST_ALONE(an_address_that_was_freed_is_named) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    uint32_t by = 1, n = 1 << 20;
    gpuexec_ptr p[6];
    char freed[200], made[200], *text;
    int i, free_line = 0, made_line = 0;
    for (i = 0; i < 6; i++) {
        p[i] = gpuexec_alloc(s.ctx, ((size_t)4 << 20) + (size_t)i);
        made_line = __LINE__ - 1;
    }
    for (i = 0; i < 5; i++) {
        gpuexec_free(p[i]);
        free_line = __LINE__ - 1;
    }
    CHECK_OK(gpuexec_launch(
            s.kernel, s.stream, gpuexec_grid(n / 256, 256, 0), GPUEXEC_ARGS(p[4], by, n)));
    if (gpuexec_stream_sync(s.stream) == GPUEXEC_OK) SKIP("this driver keeps freed memory mapped");
    snprintf(made, sizeof made,
            "4194308 bytes of device memory at 0x%llx (allocated at "
            "tests/header/unit/wrong_input.c:%d, ",
            (unsigned long long)p[4], made_line);
    snprintf(freed, sizeof freed, "freed at tests/header/unit/wrong_input.c:%d), ", free_line);
    text = strdup(gpuexec_error_text());
    CHECK_TEXT(text, "accessed an illegal address", "\n  last freed: ", "4194307 bytes",
            "4194305 bytes", made, freed,
            "\n  most recent allocations still in use: 4194309 bytes");
    CHECK(strstr(text, "4194304 bytes") == NULL); /* the last four must be enough */
    free(text);
}

TEST_ALONE(shutdown_reports_a_fault_without_a_sync) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_launch(fault(&s, "trap_now"), s.stream, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_KERNEL_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "trap", "GPUEXEC_KERNEL_FAILED");
}

TEST(shutdown_returns_the_latched_failure) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    gpuexec_kernel_get(gpuexec_module_load_file(s.ctx, "no/such.ptx", NULL), "k");
    CHECK_RESULT(gpuexec_shutdown(), GPUEXEC_FILE_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "no/such.ptx");
    CHECK_OK(gpuexec_shutdown());
}

TEST(a_refused_call_is_named_beside_the_cause) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    uint32_t by = 1, n = 1;
    CHECK_EQ(gpuexec_ok(gpuexec_kernel_get(s.mod, "optional")), 0);
    CHECK_REFUSED(
            gpuexec_launch(s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data, by, n)),
            GPUEXEC_NOT_FOUND, "optional",
            "because of this failure, gpuexec_launch at tests/header/unit/wrong_input.c:",
            "gpuexec_take_error()");
    CHECK_OK(gpuexec_launch(
            s.kernel, s.stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(s.data, by, n)));
    CHECK_OK(gpuexec_stream_sync(s.stream));
}

TEST(copies_past_the_end_of_pinned_memory) {
    setting s = set_up(UNIT_PTX, "add", 4096);
    char *pinned = gpuexec_alloc_pinned(s.ctx, 100);
    gpuexec_ptr big = gpuexec_alloc(s.ctx, 4096);
    CHECK_REFUSED(gpuexec_copy_out(s.stream, pinned + 40, big, 61), GPUEXEC_BAD_ARGUMENT,
            "61 bytes", "only 60 bytes remain", "100 bytes", "wrong_input.c:", "cure:");
    CHECK_RESULT(gpuexec_copy_in_now(s.ctx, big, pinned, 101), GPUEXEC_BAD_ARGUMENT);
    gpuexec_take_error();
    CHECK_OK(gpuexec_copy_in_now(s.ctx, big, pinned, 100));
    CHECK_RESULT(gpuexec_free((uintptr_t)pinned), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "is pinned memory", "gpuexec_free_pinned");
    CHECK_OK(gpuexec_free_pinned(pinned));
}

/* Allocations fail from some point on, until even a failure's text cannot be stored: still no call
   reports success. */
static gpuexec_result launch_once(void) {
    uint32_t by = 1, n = 1;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL);
    gpuexec_kernel add = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "add");
    gpuexec_ptr data = gpuexec_alloc(ctx, 128);
    gpuexec_result made;
    gpuexec_kernel_set_access(add, 0, GPUEXEC_USE_READ_WRITE);
    gpuexec_launch(add, stream, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(data, by, n));
    made = gpuexec_stream_sync(stream);
    if (!made) CHECK(gpuexec_ok(ctx) && gpuexec_ok(stream) && gpuexec_ok(add) && data != 0);
    return made;
}
TEST(host_memory_runs_out) { test_running_dry(launch_once, 200); }
