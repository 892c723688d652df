/* link.c - PTX texts linked by the driver (cuLink), called as it is: no cuda.h, and nothing of gpuexec but the context and the launch. */
#include "../test.h"

typedef int (*link_create_fn)(unsigned n, int *options, void **values, void **state);
typedef int (*link_add_data_fn)(void *state, int type, void *data, size_t bytes, const char *name, unsigned n, int *options, void **values);
typedef int (*link_add_file_fn)(void *state, int type, const char *path, unsigned n, int *options, void **values);
typedef int (*link_complete_fn)(void *state, void **image, size_t *bytes);
typedef int (*handle_fn)(void *handle);
typedef int (*load_fn)(void **module, const void *image);
typedef int (*global_fn)(unsigned long long *address, size_t *bytes, void *module, const char *name);

enum { INPUT_CUBIN, INPUT_PTX };
enum { WALL_TIME = 2, INFO_LOG, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES };

static struct {
    link_create_fn create; link_add_data_fn add; link_add_file_fn add_file; link_complete_fn complete; handle_fn destroy, set_current;
    load_fn load, load_file; global_fn global;
} cu;

static int is_cpu_device(void) { return strstr(gpuexec_driver_path(), "libsimgpu") != NULL; }

static gpuexec_context begin(void) {
    static const struct { const char *name; int version; } names[] = {
        { "cuLinkCreate", 6050 }, { "cuLinkAddData", 6050 }, { "cuLinkAddFile", 6050 }, { "cuLinkComplete", 5050 }, { "cuLinkDestroy", 5050 },
        { "cuCtxSetCurrent", 4000 }, { "cuModuleLoadData", 2000 }, { "cuModuleLoad", 2000 }, { "cuModuleGetGlobal", 3020 } };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    void *p[sizeof names / sizeof *names];
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++) CHECK((p[i] = gpuexec_driver_symbol(names[i].name, names[i].version)) != NULL);
    memcpy(&cu.create, &p[0], sizeof p[0]); memcpy(&cu.add, &p[1], sizeof p[0]); memcpy(&cu.add_file, &p[2], sizeof p[0]);
    memcpy(&cu.complete, &p[3], sizeof p[0]); memcpy(&cu.destroy, &p[4], sizeof p[0]); memcpy(&cu.set_current, &p[5], sizeof p[0]);
    memcpy(&cu.load, &p[6], sizeof p[0]); memcpy(&cu.load_file, &p[7], sizeof p[0]); memcpy(&cu.global, &p[8], sizeof p[0]);
    CHECK_EQ(cu.set_current(gpuexec_context_native(ctx)), 0);
    return ctx;
}

/* A link state with its logs, which live as long as it does. */
typedef struct linker { void *state; int options[5]; void *values[5]; char info[4096], error[4096]; } linker;

static linker *linker_make(void) {
    linker *l = (linker *)calloc(1, sizeof *l);
    int i;
    for (i = 0; i < 5; i++) l->options[i] = WALL_TIME + i;
    l->values[1] = l->info;
    l->values[2] = (void *)(uintptr_t)sizeof l->info;
    l->values[3] = l->error;
    l->values[4] = (void *)(uintptr_t)sizeof l->error;
    CHECK_EQ(cu.create(5, l->options, l->values, &l->state), 0);
    return l;
}

static int linker_add(linker *l, const char *name, const char *text) {
    char *copy = strdup(text);                                   /* the text may go after the call */
    int   result = cu.add(l->state, INPUT_PTX, copy, strlen(text) + 1, name, 0, NULL, NULL);
    memset(copy, 0, strlen(text));
    free(copy);
    return result;
}

static void linker_free(linker *l) {
    CHECK_EQ(cu.destroy(l->state), 0);
    free(l);
}

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define CALL(from, to, name) "{ .param .b32 x; .param .b32 y; st.param.b32 [x], " from "; call.uni (y), " name ", (x); ld.param.b32 " to ", [y]; }\n"

/* out = twist(shared) + own + table[1]; `hidden` and `inner` are also in the other input, and other things there */
static const char main_ptx[] = HEAD
    ".extern .func (.param .b32 r) twist(.param .b32 a);\n"
    ".extern .global .align 4 .u32 shared_word;\n"
    ".extern .const .align 4 .u32 table[2];\n"
    ".global .align 4 .u32 hidden = 1000;\n"
    ".func (.param .b32 r) inner(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.s32 %r2, %r1, 7; st.param.b32 [r], %r2; ret; }\n"
    ".visible .entry run(.param .u64 out) {\n"
    ".reg .b32 %r<9>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [out];\n"
    "ld.global.u32 %r1, [shared_word];\n"
    CALL("%r1", "%r2", "twist")
    "ld.global.u32 %r3, [hidden];\n"
    "ld.const.u32 %r4, [table+4];\n"
    CALL("%r4", "%r5", "inner")
    "add.s32 %r6, %r2, %r3;\n"
    "add.s32 %r7, %r6, %r5;\n"
    "st.global.u32 [%d1], %r7;\n"
    "add.s32 %r8, %r1, 1;\n"
    "st.global.u32 [shared_word], %r8;\n"
    "ret; }\n";
static const char part_ptx[] = HEAD
    ".visible .global .align 4 .u32 shared_word = 5;\n"
    ".visible .const .align 4 .u32 table[2] = { 11, 13 };\n"
    ".global .align 4 .u32 hidden = 3;\n"
    ".visible .global .align 8 .u64 where = generic(shared_word);\n"
    ".func (.param .b32 r) inner(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.global.u32 %r2, [hidden];\n"
    "mul.lo.s32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }\n"
    ".visible .func (.param .b32 r) twist(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a];\n"
    CALL("%r1", "%r2", "inner")
    "st.param.b32 [r], %r2; ret; }\n"
    ".visible .entry peek(.param .u64 out) { .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [out]; ld.global.u32 %r1, [shared_word]; st.global.u32 [%d1], %r1; ret; }\n";
static const char weak_ptx[] = HEAD
    ".weak .func (.param .b32 r) twist(.param .b32 a) { .reg .b32 %r<2>; mov.u32 %r1, 500; st.param.b32 [r], %r1; ret; }\n";

static uint32_t run_kernel(gpuexec_context ctx, gpuexec_module mod, const char *name) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr    p = gpuexec_alloc(ctx, 4);
    uint32_t       word = 0;
    gpuexec_launch(gpuexec_kernel_get(mod, name), s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    return word;
}

/* 5 * 3 + 1000 + 13 + 7, and then the word that both inputs share is 6 */
static void check_module(gpuexec_context ctx, void *native, uint32_t wanted) {
    gpuexec_module mod = gpuexec_module_from_native(ctx, (struct CUmod_st *)native);
    unsigned long long at = 0;
    size_t bytes = 0;
    CHECK_EQ(run_kernel(ctx, mod, "run"), wanted);
    CHECK_EQ(run_kernel(ctx, mod, "peek"), 6);
    CHECK_EQ(cu.global(&at, &bytes, native, "shared_word"), 0);
    CHECK(at != 0 && bytes == 4);
}

TEST(two_texts_linked_and_run) {
    gpuexec_context ctx = begin();
    linker *l = linker_make();
    void   *image = NULL, *native = NULL;
    size_t  bytes = 0;
    float   ms = -1;
    CHECK_EQ(linker_add(l, "main", main_ptx), 0);
    CHECK_EQ(linker_add(l, "part", part_ptx), 0);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 0);
    CHECK(image != NULL && bytes > 0);
    CHECK_STRING(l->error, "");
    memcpy(&ms, &l->values[0], sizeof ms);                       /* it comes back in the slot itself */
    CHECK(ms >= 0 && ms < 60000);
    CHECK_EQ(cu.load(&native, image), 0);
    linker_free(l);                                              /* the module does not need the image */
    check_module(ctx, native, 1035);
}

TEST(order_does_not_matter_and_weak_yields) {
    gpuexec_context ctx = begin();
    linker *l = linker_make();
    void   *image = NULL, *native = NULL;
    CHECK_EQ(linker_add(l, "weak", weak_ptx), 0);
    CHECK_EQ(linker_add(l, "part", part_ptx), 0);
    CHECK_EQ(linker_add(l, "main", main_ptx), 0);
    CHECK_EQ(cu.complete(l->state, &image, NULL), 0);
    CHECK_EQ(cu.load(&native, image), 0);
    check_module(ctx, native, 1035);
    linker_free(l);
}

/* A function's address taken where it is extern, one dynamic shared array under two declarations, one variable out of two weak ones,
   and a table of functions in an initialiser. */
TEST(addresses_shared_memory_and_weak_variables) {
    static const char a[] = HEAD
        ".extern .func (.param .b32 r) fetch(.param .b32 a);\n"
        ".extern .shared .align 4 .b8 dynamic[];\n"
        ".weak .global .align 4 .u32 both = 20;\n"
        ".visible .global .align 8 .u64 functions[1] = { fetch };\n"
        ".visible .entry run(.param .u64 out) {\n"
        ".reg .b32 %r<9>; .reg .b64 %d<5>;\n"
        "ld.param.u64 %d1, [out];\n"
        "mov.u32 %r1, 300; st.shared.u32 [dynamic], %r1;\n"
        "mov.u32 %r2, 4000; st.global.u32 [both], %r2;\n"
        "ld.global.u64 %d2, [functions];\n"
        "mov.u32 %r3, 1;\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r3; proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (y), %d2, (x), proto; ld.param.b32 %r4, [y]; }\n"
        "st.global.u32 [%d1], %r4; ret; }\n";
    static const char b[] = HEAD
        ".extern .shared .align 4 .b8 dynamic[];\n"
        ".weak .global .align 4 .u32 both = 20;\n"
        ".visible .func (.param .b32 r) fetch(.param .b32 a) { .reg .b32 %r<6>; ld.param.b32 %r1, [a]; ld.shared.u32 %r2, [dynamic];\n"
        "ld.global.u32 %r3, [both]; add.s32 %r4, %r1, %r2; add.s32 %r5, %r4, %r3; st.param.b32 [r], %r5; ret; }\n";
    gpuexec_context ctx = begin();
    linker *l = linker_make();
    void   *image = NULL, *native = NULL;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr    p = gpuexec_alloc(ctx, 4);
    uint32_t       word = 0;
    CHECK_EQ(linker_add(l, "a", a), 0);
    CHECK_EQ(linker_add(l, "b", b), 0);
    CHECK_EQ(cu.complete(l->state, &image, NULL), 0);
    CHECK_EQ(cu.load(&native, image), 0);
    gpuexec_launch(gpuexec_kernel_get(gpuexec_module_from_native(ctx, (struct CUmod_st *)native), "run"), s, gpuexec_grid(1, 1, 64), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 4301);
    linker_free(l);
}

TEST(saved_image_and_added_file) {
    gpuexec_context ctx = begin();
    char    part[] = "/tmp/gpuexec-part-XXXXXX", saved[] = "/tmp/gpuexec-saved-XXXXXX";
    int     part_file = mkstemp(part), saved_file = mkstemp(saved);
    linker *l = linker_make();
    void   *image = NULL, *native = NULL;
    size_t  bytes = 0;
    CHECK(write(part_file, part_ptx, sizeof part_ptx - 1) == (ssize_t)sizeof part_ptx - 1);
    CHECK_EQ(cu.add_file(l->state, INPUT_PTX, part, 0, NULL, NULL), 0);
    CHECK_EQ(linker_add(l, "main", main_ptx), 0);
    if (CHECK_EQ(cu.complete(l->state, &image, &bytes), 0)) CHECK(write(saved_file, image, bytes) == (ssize_t)bytes);
    linker_free(l);
    CHECK_EQ(cu.load_file(&native, saved), 0);
    check_module(ctx, native, 1035);
    if (is_cpu_device()) {                                       /* one that is cut off is refused */
        CHECK(ftruncate(saved_file, (off_t)bytes / 2) == 0);
        CHECK_EQ(cu.load_file(&native, saved), 200);
    }
    close(part_file); unlink(part);
    close(saved_file); unlink(saved);
}

TEST(missing_symbols_are_named) {
    linker *l;
    void   *image = NULL;
    size_t  bytes = 0;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "the main input", main_ptx), 0);
    CHECK(cu.complete(l->state, &image, &bytes) != 0);
    CHECK_TEXT(l->error, "Undefined reference", "'twist'", "'shared_word'", "'table'", "the main input");
    linker_free(l);
}

TEST(duplicate_symbols_are_named) {
    linker *l;
    void   *image = NULL;
    size_t  bytes = 0;
    int     result;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "one", part_ptx), 0);
    result = linker_add(l, "two", part_ptx);                     /* said here or at the end */
    if (!result) result = cu.complete(l->state, &image, &bytes);
    CHECK(result != 0);
    CHECK_TEXT(l->error, "Multiple definition", "'twist'", "'one'", "'two'");
    linker_free(l);
}

TEST(what_does_not_match_is_named) {
    linker *l;
    void   *image = NULL;
    size_t  bytes = 0;
    int     result;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "uses", HEAD ".extern .global .align 4 .u32 word;\n.visible .entry e() { .reg .b32 %r<2>; ld.global.u32 %r1, [word]; st.global.u32 [word], %r1; ret; }\n"), 0);
    result = linker_add(l, "has", HEAD ".visible .global .align 8 .u64 word = 1;\n");
    if (!result) result = cu.complete(l->state, &image, &bytes);
    CHECK(result != 0);
    CHECK_TEXT(l->error, "word", "has");
    linker_free(l);
}

TEST(broken_input_is_named) {
    linker *l;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "good one", part_ptx), 0);
    CHECK_EQ(linker_add(l, "bad one", HEAD ".visible .entry e() {\n  no_such_instruction;\n  ret;\n}\n"), 218);
    CHECK_TEXT(l->error, "line 5", "no_such_instruction");
    if (is_cpu_device()) CHECK_TEXT(l->error, "'bad one'");      /* the GPU's ptxas calls each input the same */
    CHECK_EQ(linker_add(l, "new one", ".version 99.9\n.target sm_70\n.address_size 64\n"), 222);
    linker_free(l);
}

TEST(misuse) {
    linker *l;
    void   *image = NULL, *state = NULL;
    size_t  bytes = 0;
    begin();
    l = linker_make();
    CHECK_EQ(cu.add(l->state, 77, (void *)l->info, 8, "x", 0, NULL, NULL), 1);
    CHECK_EQ(cu.add_file(l->state, INPUT_PTX, "/no/such/file.ptx", 0, NULL, NULL), 301);
    CHECK_EQ(cu.create(0, NULL, NULL, &state), 0);               /* no options: no logs */
    CHECK(cu.add(state, INPUT_CUBIN, (void *)l->info, sizeof l->info, "zeros", 0, NULL, NULL) != 0);
    CHECK_EQ(cu.destroy(state), 0);
    if (is_cpu_device()) {                                       /* a GPU's driver follows dead pointers */
        CHECK_EQ(cu.add(l->state, INPUT_CUBIN, (void *)l->info, 8, "a.cubin", 0, NULL, NULL), 209);
        CHECK_TEXT(l->error, "a.cubin", "PTX");
        CHECK_EQ(cu.create(0, NULL, NULL, NULL), 1);
        CHECK_EQ(cu.complete(state, &image, &bytes), 400);
        CHECK_EQ(cu.destroy(state), 400);
    }
    linker_free(l);
}

TEST(extern_without_a_linker_stays_an_error) {
    void *native = NULL;
    begin();
    CHECK(cu.load(&native, main_ptx) != 0);
}
