/* names.c - the CPU device's entry points by name: those that are not implemented, those of older
   ABIs, those that are newer than the driver it simulates, and the tables of the runtime API. */
#include "../../test.h"
#include <dlfcn.h>

enum { NOT_SUPPORTED = 801 };

static void *library(void) {
    static void *opened;
    if (!opened) opened = dlopen(getenv("GPUEXEC_DRIVER"), RTLD_NOW);
    return opened;
}

/* Any of the functions below: 0 where the library does not have it. */
typedef int any(void);
typedef union any_pointer {
    void *data;
    any *none;
    int (*start)(unsigned);
    int (*one)(void *);
    int (*two)(void *, unsigned);
    int (*three)(void *, unsigned, int);
    int (*five)(const char *, void **, int, uint64_t, int *);
} any_pointer;
static any_pointer named(const char *name) {
    any_pointer p;
    p.data = library() ? dlsym(library(), name) : NULL;
    if (!CHECK(p.data != NULL)) printf("it has no %s\n", name);
    return p;
}
static any_pointer found(const char *base, int version) {
    any_pointer p, get = named("cuGetProcAddress_v2");
    p.data = NULL;
    CHECK_EQ(get.five(base, &p.data, version, 0, NULL), 0);
    return p;
}

/* What is printed to stderr from begin_listening() to heard(). */
static FILE *ear;
static int stderr_before;
static void begin_listening(void) {
    ear = tmpfile();
    fflush(stderr);
    stderr_before = dup(2);
    if (ear) dup2(fileno(ear), 2);
}
static const char *heard(void) {
    static char text[4000];
    fflush(stderr);
    dup2(stderr_before, 2);
    close(stderr_before);
    if (!ear) return "";
    rewind(ear);
    text[fread(text, 1, sizeof text - 1, ear)] = 0;
    fclose(ear);
    return text;
}
static int lines_of(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

#define ON_SIMGPU() \
    if (!on_cpu_device()) SKIP("the CPU device's entry points")
#define ON_DRIVER(version) CHECK(setenv("SIMGPU_DRIVER_VERSION", version, 1) == 0)

TEST_ALONE(each_is_missing_aloud_once) {
    static const char *const names[] = { "cuGraphAddBatchMemOpNode", "cuMulticastBindMem",
        "cuStreamBatchMemOp_v2_ptsz", "cuGLInit", "cuMulticastCreate", "cuArrayCreate",
        "cuMemMapArrayAsync" };
    const unsigned n = sizeof names / sizeof *names;
    unsigned i;
    ON_SIMGPU();
    ON_DRIVER("13000");
    begin_listening();
    for (i = 0; i < 2 * n; i++) CHECK_EQ(named(names[i % n]).none(), NOT_SUPPORTED);
    {
        const char *text = heard();
        CHECK_EQ(lines_of(text), n);
        for (i = 0; i < n; i++) {
            char line[80];
            snprintf(line, sizeof line, "simgpu: %s is not implemented\n", names[i]);
            CHECK_TEXT(text, line);
        }
    }
    CHECK(found("cuGraphCreate", 10000).data == named("cuGraphCreate").data);
    CHECK(found("cuGraphAddKernelNode", 11080).data == named("cuGraphAddKernelNode").data);
    CHECK(found("cuGraphAddKernelNode", 12000).data == named("cuGraphAddKernelNode_v2").data);
    CHECK(found("cuGraphCreate", 9020).data == NULL);
    CHECK(found("cuNoSuchName", 13000).data == NULL);
}

/* Before CUDA 3.2 sizes and addresses had 32 bits. Where no parameter changed, both names are the
   same function. */
TEST_ALONE(older_interfaces) {
    static const char *const short_sizes[] = { "cuMemAlloc", "cuMemFree", "cuMemGetInfo",
        "cuDeviceTotalMem", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemsetD32",
        "cuModuleGetGlobal", "cuMemAllocHost", "cuMemGetAddressRange", "cuMemAllocPitch",
        "cuMemcpy2D" };
    unsigned i;
    void *context = NULL, *other = NULL, *event = NULL;
    ON_SIMGPU();
    ON_DRIVER("13000");
    CHECK_EQ(named("cuInit").start(0), 0);
    begin_listening();
    for (i = 0; i < sizeof short_sizes / sizeof *short_sizes; i++) {
        char newer[60];
        snprintf(newer, sizeof newer, "%s_v2", short_sizes[i]);
        CHECK_EQ(named(short_sizes[i]).none(), NOT_SUPPORTED);
        CHECK(found(short_sizes[i], 2030).data == named(short_sizes[i]).data);
        CHECK(found(short_sizes[i], 3020).data == named(newer).data);
    }
    CHECK_EQ(lines_of(heard()), sizeof short_sizes / sizeof *short_sizes);
    CHECK_EQ(named("cuCtxCreate").three(&context, 0, 0), 0);
    CHECK_EQ(named("cuCtxGetCurrent").one(&other), 0);
    CHECK(context != NULL && other == context);
    CHECK_EQ(named("cuEventCreate").two(&event, 0), 0);
    CHECK_EQ(named("cuEventDestroy").one(event), 0);
    CHECK_EQ(named("cuStreamCreate").two(&event, 0), 0);
    CHECK_EQ(named("cuStreamDestroy").one(event), 0);
    CHECK_EQ(named("cuCtxPopCurrent").one(&other), 0);
    CHECK(other == context);
    CHECK_EQ(named("cuCtxPushCurrent").one(context), 0);
    CHECK_EQ(named("cuCtxDestroy").one(context), 0);
    CHECK(found("cuCtxDestroy", 3020).data == named("cuCtxDestroy").data);
    CHECK(found("cuCtxDestroy", 4000).data == named("cuCtxDestroy_v2").data);
    CHECK(found("cuLinkCreate", 5050).data == named("cuLinkCreate").data);
}

/* dlsym finds what the simulated driver does not have. */
TEST_ALONE(newer_than_the_simulated_driver) {
    unsigned long long id = 0;
    any_pointer get_id;
    ON_SIMGPU();
    ON_DRIVER("11040");
    CHECK_EQ(named("cuInit").start(0), 0);
    get_id = named("cuCtxGetId");
    begin_listening();
    CHECK_EQ(get_id.one(&id), NOT_SUPPORTED);
    CHECK_EQ(get_id.one(&id), NOT_SUPPORTED);
    CHECK_EQ(named("cuGraphAddKernelNode_v2").none(), NOT_SUPPORTED);
    CHECK_STRING(heard(),
            "simgpu: cuCtxGetId needs driver 12.0, this one simulates 11.4 "
            "(SIMGPU_DRIVER_VERSION)\n"
            "simgpu: cuGraphAddKernelNode_v2 needs driver 12.0, this one simulates 11.4 "
            "(SIMGPU_DRIVER_VERSION)\n");
}

TEST_ALONE(no_tables_for_the_runtime_api) {
    const char *text;
    union {
        void *data;
        int (*call)(const void **, const void *);
    } get;
    const void *table = &get;
    ON_SIMGPU();
    get.data = named("cuGetExportTable").data;
    begin_listening();
    CHECK_EQ(get.call(&table, "0123456789abcdef"), NOT_SUPPORTED);
    CHECK_EQ(get.call(&table, "0123456789abcdef"), NOT_SUPPORTED);
    text = heard();
    CHECK_EQ(lines_of(text), 1);
    CHECK_TEXT(text, "runtime API", "NVIDIA's own driver", "nvcc -ptx");
    CHECK(table == NULL);
}
