/* link.c - PTX texts linked by the driver (cuLink), called directly: without cuda.h, and with
   gpuexec only for the context and the launch. */
#include "../../test.h"
#include <math.h>
#include <sys/stat.h>

typedef int (*link_create_fn)(unsigned n, int *options, void **values, void **state);
typedef int (*link_add_data_fn)(void *state, int type, void *data, size_t bytes, const char *name,
        unsigned n, int *options, void **values);
typedef int (*link_add_file_fn)(
        void *state, int type, const char *path, unsigned n, int *options, void **values);
typedef int (*link_complete_fn)(void *state, void **image, size_t *bytes);
typedef int (*handle_fn)(void *handle);
typedef int (*load_fn)(void **module, const void *image);
typedef int (*load_ex_fn)(
        void **module, const void *image, unsigned n, int *options, void **values);
typedef int (*global_fn)(
        unsigned long long *address, size_t *bytes, void *module, const char *name);

enum { INPUT_CUBIN, INPUT_PTX };
enum {
    THREADS_PER_BLOCK = 1,
    WALL_TIME,
    INFO_LOG,
    INFO_LOG_BYTES,
    ERROR_LOG,
    ERROR_LOG_BYTES,
    TARGET = 9,
    FALLBACK_STRATEGY,
    LOG_VERBOSE = 12
};

static struct {
    link_create_fn create;
    link_add_data_fn add;
    link_add_file_fn add_file;
    link_complete_fn complete;
    handle_fn destroy, set_current;
    load_fn load, load_file;
    load_ex_fn load_ex;
    global_fn global;
} cu;

static gpuexec_context begin(void) {
    static const struct {
        const char *name;
        int version;
    } names[] = {
        { "cuLinkCreate", 6050 },
        { "cuLinkAddData", 6050 },
        { "cuLinkAddFile", 6050 },
        { "cuLinkComplete", 5050 },
        { "cuLinkDestroy", 5050 },
        { "cuCtxSetCurrent", 4000 },
        { "cuModuleLoadData", 2000 },
        { "cuModuleLoad", 2000 },
        { "cuModuleGetGlobal", 3020 },
        { "cuModuleLoadDataEx", 2010 },
    };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    void *p[sizeof names / sizeof *names];
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        CHECK((p[i] = gpuexec_driver_symbol(names[i].name, names[i].version)) != NULL);
    memcpy(&cu.create, &p[0], sizeof p[0]);
    memcpy(&cu.add, &p[1], sizeof p[0]);
    memcpy(&cu.add_file, &p[2], sizeof p[0]);
    memcpy(&cu.complete, &p[3], sizeof p[0]);
    memcpy(&cu.destroy, &p[4], sizeof p[0]);
    memcpy(&cu.set_current, &p[5], sizeof p[0]);
    memcpy(&cu.load, &p[6], sizeof p[0]);
    memcpy(&cu.load_file, &p[7], sizeof p[0]);
    memcpy(&cu.global, &p[8], sizeof p[0]);
    memcpy(&cu.load_ex, &p[9], sizeof p[0]);
    CHECK_EQ(cu.set_current(gpuexec_context_native(ctx)), 0);
    return ctx;
}

/* A link state with its logs, which must stay valid as long as the state. */
typedef struct linker {
    void *state;
    int options[6];
    void *values[6];
    char info[4096], error[4096];
} linker;

static linker *linker_make_with(int verbose) {
    linker *l = (linker *)calloc(1, sizeof *l);
    int i;
    for (i = 0; i < 5; i++) l->options[i] = WALL_TIME + i;
    l->values[1] = l->info;
    l->values[2] = (void *)(uintptr_t)sizeof l->info;
    l->values[3] = l->error;
    l->values[4] = (void *)(uintptr_t)sizeof l->error;
    l->options[5] = LOG_VERBOSE;
    l->values[5] = (void *)(uintptr_t)1;
    CHECK_EQ(cu.create(verbose ? 6 : 5, l->options, l->values, &l->state), 0);
    return l;
}
static linker *linker_make(void) { return linker_make_with(0); }

static int linker_add(linker *l, const char *name, const char *text) {
    char *copy = strdup(text); /* the text can be freed after the call */
    int result = cu.add(l->state, INPUT_PTX, copy, strlen(text) + 1, name, 0, NULL, NULL);
    memset(copy, 0, strlen(text));
    free(copy);
    return result;
}

static void linker_free(linker *l) {
    CHECK_EQ(cu.destroy(l->state), 0);
    free(l);
}

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define CALL(from, to, name) \
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], " from "; call.uni (y), " name \
    ", (x); ld.param.b32 " to ", [y]; }\n"

/* out = twist(shared) + own + table[1]; the other input also defines `hidden` and `inner`, as
   different symbols */
static const char main_ptx[] = HEAD
        ".extern .func (.param .b32 r) twist(.param .b32 a);\n"
        ".extern .global .align 4 .u32 shared_word;\n"
        ".extern .const .align 4 .u32 table[2];\n"
        ".global .align 4 .u32 hidden = 1000;\n"
        ".func (.param .b32 r) inner(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; "
        "add.s32 %r2, %r1, 7; st.param.b32 [r], %r2; ret; }\n"
        ".visible .entry run(.param .u64 out) {\n"
        ".reg .b32 %r<9>; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d1, [out];\n"
        "ld.global.u32 %r1, [shared_word];\n" CALL(
                "%r1", "%r2", "twist") "ld.global.u32 %r3, [hidden];\n"
                                       "ld.const.u32 %r4, [table+4];\n" CALL("%r4", "%r5",
                                               "inner") "add.s32 %r6, %r2, %r3;\n"
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
        ".func (.param .b32 r) inner(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a]; "
        "ld.global.u32 %r2, [hidden];\n"
        "mul.lo.s32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }\n"
        ".visible .func (.param .b32 r) twist(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, "
        "[a];\n" CALL("%r1", "%r2", "inner") "st.param.b32 [r], %r2; ret; }\n"
                                             ".visible .entry peek(.param .u64 out) { .reg .b32 "
                                             "%r<2>; .reg .b64 %d<2>;\n"
                                             "ld.param.u64 %d1, [out]; ld.global.u32 %r1, "
                                             "[shared_word]; st.global.u32 [%d1], %r1; ret; }\n";
static const char weak_ptx[] = HEAD ".weak .func (.param .b32 r) twist(.param .b32 a) { .reg .b32 "
                                    "%r<2>; mov.u32 %r1, 500; st.param.b32 [r], %r1; ret; }\n";

static uint32_t run_kernel(gpuexec_context ctx, gpuexec_module mod, const char *name) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t word = 0;
    gpuexec_launch(gpuexec_kernel_get(mod, name), s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    return word;
}

/* 5 * 3 + 1000 + 13 + 7; afterwards the word that both inputs share is 6 */
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
    void *image = NULL, *native = NULL;
    size_t bytes = 0;
    float ms = -1;
    CHECK_EQ(linker_add(l, "main", main_ptx), 0);
    CHECK_EQ(linker_add(l, "part", part_ptx), 0);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 0);
    CHECK(image != NULL && bytes > 0);
    CHECK_STRING(l->error, "");
    memcpy(&ms, &l->values[0], sizeof ms); /* the driver returns it in the slot itself */
    CHECK(ms >= 0 && ms < 60000);
    CHECK_EQ(cu.load(&native, image), 0);
    linker_free(l); /* the module does not need the image */
    check_module(ctx, native, 1035);
}

TEST(order_does_not_matter_and_weak_yields) {
    gpuexec_context ctx = begin();
    linker *l = linker_make();
    void *image = NULL, *native = NULL;
    CHECK_EQ(linker_add(l, "weak", weak_ptx), 0);
    CHECK_EQ(linker_add(l, "part", part_ptx), 0);
    CHECK_EQ(linker_add(l, "main", main_ptx), 0);
    CHECK_EQ(cu.complete(l->state, &image, NULL), 0);
    CHECK_EQ(cu.load(&native, image), 0);
    check_module(ctx, native, 1035);
    linker_free(l);
}

/* The address of an extern function, one dynamic shared array under two declarations, one variable
   from two weak ones, and a table of functions in an initialiser. */
TEST(addresses_shared_memory_and_weak_variables) {
    static const char a[] = HEAD ".extern .func (.param .b32 r) fetch(.param .b32 a);\n"
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
                                 "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r3; proto: "
                                 ".callprototype (.param .b32 _) _ (.param .b32 _);\n"
                                 "call (y), %d2, (x), proto; ld.param.b32 %r4, [y]; }\n"
                                 "st.global.u32 [%d1], %r4; ret; }\n";
    static const char b[] = HEAD ".extern .shared .align 4 .b8 dynamic[];\n"
                                 ".weak .global .align 4 .u32 both = 20;\n"
                                 ".visible .func (.param .b32 r) fetch(.param .b32 a) { .reg .b32 "
                                 "%r<6>; ld.param.b32 %r1, [a]; ld.shared.u32 %r2, [dynamic];\n"
                                 "ld.global.u32 %r3, [both]; add.s32 %r4, %r1, %r2; add.s32 %r5, "
                                 "%r4, %r3; st.param.b32 [r], %r5; ret; }\n";
    gpuexec_context ctx = begin();
    linker *l = linker_make();
    void *image = NULL, *native = NULL;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t word = 0;
    CHECK_EQ(linker_add(l, "a", a), 0);
    CHECK_EQ(linker_add(l, "b", b), 0);
    CHECK_EQ(cu.complete(l->state, &image, NULL), 0);
    CHECK_EQ(cu.load(&native, image), 0);
    gpuexec_launch(
            gpuexec_kernel_get(gpuexec_module_from_native(ctx, (struct CUmod_st *)native), "run"),
            s, gpuexec_grid(1, 1, 64), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 4301);
    linker_free(l);
}

TEST(saved_image_and_added_file) {
    gpuexec_context ctx = begin();
    char part[] = "/tmp/gpuexec-part-XXXXXX", saved[] = "/tmp/gpuexec-saved-XXXXXX";
    int part_file = mkstemp(part), saved_file = mkstemp(saved);
    linker *l = linker_make();
    void *image = NULL, *native = NULL;
    size_t bytes = 0;
    int cut;
    CHECK(write(part_file, part_ptx, sizeof part_ptx - 1) == (ssize_t)sizeof part_ptx - 1);
    CHECK_EQ(cu.add_file(l->state, INPUT_PTX, part, 0, NULL, NULL), 0);
    CHECK_EQ(linker_add(l, "main", main_ptx), 0);
    if (CHECK_EQ(cu.complete(l->state, &image, &bytes), 0))
        CHECK(write(saved_file, image, bytes) == (ssize_t)bytes);
    linker_free(l);
    CHECK_EQ(cu.load_file(&native, saved), 0);
    check_module(ctx, native, 1035);
    if (on_cpu_device()) { /* a truncated one is refused */
        CHECK(ftruncate(saved_file, (off_t)bytes / 2) == 0);
        cut = cu.load_file(&native, saved);
        CHECK(cut == 200 || cut == 218);
    }
    close(part_file);
    unlink(part);
    close(saved_file);
    unlink(saved);
}

TEST(missing_symbols_are_named) {
    linker *l;
    void *image = NULL;
    size_t bytes = 0;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "the main input", main_ptx), 0);
    CHECK(cu.complete(l->state, &image, &bytes) != 0);
    CHECK_TEXT(l->error, "Undefined reference", "'twist'", "'shared_word'", "'table'",
            "the main input");
    linker_free(l);
}

TEST(duplicate_symbols_are_named) {
    linker *l;
    void *image = NULL;
    size_t bytes = 0;
    int result;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "one", part_ptx), 0);
    result = linker_add(l, "two", part_ptx); /* reported here or at the end */
    if (!result) result = cu.complete(l->state, &image, &bytes);
    CHECK(result != 0);
    CHECK_TEXT(l->error, "Multiple definition", "'twist'", "'one'", "'two'");
    linker_free(l);
}

TEST(what_does_not_match_is_named) {
    linker *l;
    void *image = NULL;
    size_t bytes = 0;
    int result;
    begin();
    l = linker_make();
    CHECK_EQ(linker_add(l, "uses",
                     HEAD ".extern .global .align 4 .u32 word;\n.visible .entry e() { .reg .b32 "
                          "%r<2>; ld.global.u32 %r1, [word]; st.global.u32 [word], %r1; ret; }\n"),
            0);
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
    CHECK_EQ(linker_add(l, "bad one",
                     HEAD ".visible .entry e() {\n  no_such_instruction;\n  ret;\n}\n"),
            218);
    CHECK_TEXT(l->error, "line 5", "no_such_instruction");
    CHECK_EQ(linker_add(l, "new one", ".version 99.9\n.target sm_70\n.address_size 64\n"), 222);
    linker_free(l);
}

/* --- results of driver 580 on an H200, with a verbose log ------------------------------------- */

static const char uses[] = HEAD ".extern .func tw();\n.extern .global .align 4 .u32 sw;\n"
                                ".visible .entry run() { .reg .b32 %r1; ld.global.u32 %r1, [sw]; "
                                "st.global.u32 [sw], %r1; call tw, (); ret; }\n";
static const char has[] = HEAD
        ".visible .global .align 4 .u32 sw = 5;\n.visible .func tw() { ret; }\n";
static const char has_larger[] = HEAD
        ".visible .global .align 8 .u64 sw = 5;\n.visible .func tw() { ret; }\n";

static size_t info_bytes(const linker *l) { return (size_t)(uintptr_t)l->values[2]; }
static size_t error_bytes(const linker *l) { return (size_t)(uintptr_t)l->values[4]; }

static float ms_of(const linker *l) {
    float ms;
    memcpy(&ms, &l->values[0], sizeof ms);
    return ms;
}

TEST(a_state_works_on_after_a_broken_input_until_it_is_complete) {
    linker *l;
    void *image = NULL, *native = NULL;
    size_t bytes = 0, errors;
    float ms;
    begin();
    l = linker_make_with(1);
    CHECK_EQ(linker_add(l, "uses", uses), 0);
    CHECK_EQ(error_bytes(l), 0);
    CHECK_EQ(
            linker_add(l, "bad", HEAD ".visible .entry e() {\n  no_such_instruction;\n  ret;\n}\n"),
            218);
    errors = strlen(l->error);
    CHECK(errors > 0 && l->error[errors - 1] != '\n');
    CHECK_EQ(error_bytes(l), errors); /* without the NUL */
    CHECK_EQ(linker_add(l, "new", ".version 99.9\n.target sm_70\n"), 222);
    /* the log continues */
    CHECK_TEXT(l->error, "no_such_instruction", "Unsupported .version 99.9");
    errors = strlen(l->error);
    CHECK_EQ(error_bytes(l), errors);
    ms = ms_of(l);
    CHECK_EQ(linker_add(l, "has", has), 0);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 0);
    CHECK(ms > 0 && ms_of(l) > ms);
    CHECK(image != NULL && bytes > 0 && strlen(l->error) == errors);
    CHECK(info_bytes(l) == strlen(l->info) && info_bytes(l) > 0);
    CHECK_EQ(cu.load(&native, image), 0);
    CHECK_EQ(linker_add(l, "late", has), 1);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 400);
    linker_free(l);
}

/* Missing symbols are in the log, but the result depends on the last text that did not compile. */
TEST(missing_symbols_are_in_the_log_for_every_result) {
    static const struct {
        const char *text;
        int fails, answer;
    } before[] = {
        { HEAD ".visible .entry e() { no_such_instruction; }\n", 218, 999 },
        { ".version 99.9\n.target sm_70\n", 222, 0 },
    };
    int i;
    begin();
    for (i = 0; i < 2; i++) {
        linker *l = linker_make_with(i);
        void *image = NULL, *native = NULL;
        size_t bytes = 0;
        CHECK_EQ(cu.load(&native, before[i].text), before[i].fails);
        CHECK_EQ(linker_add(l, "U", uses), 0);
        CHECK_EQ(cu.complete(l->state, &image, &bytes), before[i].answer);
        CHECK_STRING(l->error,
                "error   : Undefined reference to 'tw' in 'U'\n"
                "error   : Undefined reference to 'sw' in 'U'");
        CHECK_EQ(error_bytes(l), strlen(l->error));
        if (before[i].answer == 0) {
            CHECK_EQ(linker_add(l, "late", has), 1);
            CHECK_EQ(cu.complete(l->state, &image, &bytes), 400);
        }
        linker_free(l);
    }
}

static void check_contradiction(const char *first, const char *second, const char *log) {
    linker *l = linker_make_with(1);
    void *image = NULL;
    size_t bytes = 0;
    CHECK_EQ(linker_add(l, "A", first), 0);
    CHECK_EQ(linker_add(l, "B", second), 300);
    CHECK_STRING(l->error, log);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 300);
    CHECK_STRING(l->error, log);
    linker_free(l);
}
TEST(contradictions_are_said_at_once) {
    begin();
    check_contradiction(has, has,
            "error   : Multiple definition of 'tw' in 'B', first defined in 'A'\n"
            "error   : Multiple definition of 'sw' in 'B', first defined in 'A'");
    check_contradiction(uses, has_larger,
            "error   : Size doesn't match for 'sw' in 'B', first specified in 'A'");
}

TEST(nothing_and_no_text) {
    linker *l;
    void *image = NULL, *native = NULL, *state = NULL, *value = NULL;
    size_t bytes = 0;
    int fallback = FALLBACK_STRATEGY;
    char *program = (char *)calloc(1, 1 << 20);
    FILE *file = fopen("/bin/true", "rb");
    begin();
    l = linker_make_with(1);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 0); /* an empty image */
    CHECK_STRING(l->error, "");
    CHECK_EQ(cu.load(&native, image), 0);
    linker_free(l);
    CHECK_EQ(cu.create(1, &fallback, &value, &state), 1);
    CHECK_EQ(cu.load(&native, ""), 200);
    if (CHECK(file != NULL && program != NULL)) {
        size_t n = fread(program, 1, (1 << 20) - 1, file);
        l = linker_make_with(1);
        CHECK_EQ(cu.add(l->state, INPUT_PTX, program, n, "program", 0, NULL, NULL), 200);
        CHECK_STRING(l->error, "error   : Binary format for key='0', ident='' is not recognized");
        linker_free(l);
        CHECK_EQ(cu.load(&native, program), 200);
        fclose(file);
    }
    free(program);
}

/* A target other than the device's is detected at load time, with different results for a text and
   a linked image. */
TEST(another_target) {
    gpuexec_context ctx = begin();
    gpuexec_module_desc desc = { 0 };
    gpuexec_device_info d;
    linker *l;
    void *image = NULL, *native = NULL, *value = (void *)(uintptr_t)100;
    size_t bytes = 0;
    int option = TARGET, threads = THREADS_PER_BLOCK;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    if (d.compute_capability != 90)
        SKIP("the expected results are those of compute capability 9.0");
    CHECK_EQ(cu.load_ex(&native, has, 1, &option, &value), 300);
    l = (linker *)calloc(1, sizeof *l);
    CHECK_EQ(cu.create(1, &option, &value, &l->state), 0);
    CHECK_EQ(linker_add(l, "has", has), 0);
    CHECK_EQ(cu.complete(l->state, &image, &bytes), 0);
    CHECK_EQ(cu.load(&native, image), 209);
    linker_free(l);
    value = (void *)(uintptr_t)2048; /* returns for how many it compiled */
    CHECK_EQ(cu.load_ex(&native, has, 1, &threads, &value), 0);
    CHECK_EQ((uintptr_t)value, 1024);
    desc.target = 100;
    desc.name = "the text";
    CHECK_NOT_MADE(gpuexec_module_load(ctx, has, 0, &desc), GPUEXEC_BAD_IMAGE,
            "\"the text\" was compiled for gpuexec_module_desc.target 100, but device 0 has "
            "compute capability 9.0",
            "cure: set target to 0");
}

TEST(misuse) {
    linker *l;
    void *image = NULL, *state = NULL;
    size_t bytes = 0;
    begin();
    l = linker_make();
    CHECK_EQ(cu.add(l->state, 77, (void *)l->info, 8, "x", 0, NULL, NULL), 1);
    CHECK_EQ(cu.add_file(l->state, INPUT_PTX, "/no/such/file.ptx", 0, NULL, NULL), 301);
    CHECK_EQ(cu.create(0, NULL, NULL, &state), 0); /* no options: no logs */
    CHECK(cu.add(state, INPUT_CUBIN, (void *)l->info, sizeof l->info, "zeros", 0, NULL, NULL) != 0);
    CHECK_EQ(cu.destroy(state), 0);
    if (on_cpu_device() && !test_strict()) { /* a GPU's driver follows dangling pointers */
        char cubin[64] = "\x7f"
                         "ELF";
        cubin[18] = (char)190; /* EM_CUDA */
        CHECK_EQ(cu.add(l->state, INPUT_CUBIN, cubin, sizeof cubin, "a.cubin", 0, NULL, NULL), 209);
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

/* --- the same through gpuexec ----------------------------------------------------------------- */

static gpuexec_linker linker_of(gpuexec_context ctx, int main_too, int part_too) {
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    if (main_too) CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, "main"));
    if (part_too)
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, part_ptx, sizeof part_ptx, "part"));
    return l;
}
static uint64_t image_hash(gpuexec_module mod) { return test_image_hash(mod, NULL, 0); }

TEST(library_links_and_loads) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = linker_of(ctx, 1, 1);
    gpuexec_module mod = gpuexec_linker_load(l), again = gpuexec_linker_load(l);
    const void *image = NULL;
    size_t bytes = 0;
    uint32_t word = 0;
    CHECK_MADE(mod);
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    CHECK(image != NULL && bytes > 0 && image_hash(mod) == test_image_hash(mod, image, bytes) &&
            image_hash(again) == image_hash(mod));
    CHECK(gpuexec_linker_log(l) != NULL);
    CHECK(gpuexec_linker_ms(l) >= 0 && gpuexec_linker_ms(l) < 60000);
    CHECK_OK(gpuexec_linker_destroy(l)); /* loaded modules stay valid */
    CHECK(!gpuexec_ok(l));
    CHECK_EQ(run_kernel(ctx, mod, "run"), 1035);
    CHECK_EQ(run_kernel(ctx, mod, "peek"), 6);
    CHECK_EQ(run_kernel(ctx, again, "peek"), 5); /* each module has separate variables */
    CHECK_OK(gpuexec_copy_out_now(
            ctx, &word, gpuexec_module_global_address(mod, "shared_word", NULL), 4));
    CHECK_EQ(word, 6);
    CHECK_RESULT(gpuexec_linker_destroy(l), GPUEXEC_STALE_HANDLE);
    CHECK_OK(gpuexec_take_error());
}

/* An array of structs and a constant that one input defines and another uses, set and read between
   launches. */
TEST(variables_across_inputs) {
    static const char data[] = HEAD ".visible .global .align 8 .b8 points[48] = { 7 };\n"
                                    ".visible .const .align 4 .b8 move[8];\n";
    static const char code[] = HEAD
            ".extern .global .align 8 .b8 points[48];\n.extern .const .align 4 .b8 move[8];\n"
            ".visible .entry step() {\n"
            "    .reg .b32 %i; .reg .b64 %p, %o; .reg .u32 %a, %b; .reg .f32 %by; .reg .f64 %x, "
            "%d;\n"
            "    mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 16; mov.u64 %p, points; add.u64 %p, %p, "
            "%o;\n"
            "    ld.const.f32 %by, [move]; ld.const.u32 %b, [move+4]; cvt.f64.f32 %d, %by;\n"
            "    ld.global.u32 %a, [%p]; add.u32 %a, %a, %b; st.global.u32 [%p], %a;\n"
            "    ld.global.f64 %x, [%p+8]; add.f64 %x, %x, %d; st.global.f64 [%p+8], %x; ret;\n}\n";
    struct {
        int32_t steps, unused;
        double x;
    } points[3], one;
    struct {
        float by;
        uint32_t steps;
    } move = { 0.5f, 1 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_module mod;
    gpuexec_kernel step;
    gpuexec_ptr in_points, in_move;
    size_t bytes = 0;
    int i;
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, code, 0, "code"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, data, 0, "data"));
    mod = gpuexec_linker_load(l);
    step = gpuexec_kernel_get(mod, "step");
    in_points = gpuexec_module_global_address(mod, "points", &bytes);
    CHECK_EQ(bytes, sizeof points);
    in_move = gpuexec_module_global_address(mod, "move", &bytes);
    CHECK_EQ(bytes, sizeof move);
    CHECK_OK(gpuexec_module_read_global(mod, "points", points, sizeof points));
    CHECK(points[0].steps == 7 && points[2].steps == 0);
    for (i = 0; i < 3; i++) points[i].steps = 10 * i, points[i].x = i;
    CHECK_OK(gpuexec_module_write_global(mod, "points", points, sizeof points));
    gpuexec_copy_in(s, in_move, &move, sizeof move);
    gpuexec_launch(step, s, gpuexec_grid(1, 3, 0), GPUEXEC_NO_ARGS);
    gpuexec_copy_out(s, &one, in_points + 2 * sizeof one, sizeof one); /* one element */
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK(one.steps == 21 && one.x == 2.5);
    move.by = 0.25f, move.steps = 5;
    one.steps = 100, one.x = 9;
    gpuexec_copy_in(s, in_move, &move, sizeof move);
    gpuexec_copy_in(s, in_points + sizeof one, &one, sizeof one);
    gpuexec_launch(step, s, gpuexec_grid(1, 3, 0), GPUEXEC_NO_ARGS);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_module_read_global(mod, "points", points, sizeof points));
    CHECK(points[0].steps == 6 && points[1].steps == 105 && points[2].steps == 26);
    CHECK(points[0].x == 0.75 && points[1].x == 9.25 && points[2].x == 2.75);
    CHECK_REFUSED(gpuexec_module_write_global(mod, "points", points, sizeof one),
            GPUEXEC_BAD_ARGUMENT,
            "variable \"points\" in the image is 48 bytes long, but the copy is 16 bytes");
}

TEST(library_saves_and_reads) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char part[] = "/tmp/gpuexec-part-XXXXXX", saved[] = "/tmp/gpuexec-saved-XXXXXX", aside[64];
    int part_file = mkstemp(part), saved_file = mkstemp(saved);
    gpuexec_linker l = linker_of(ctx, 1, 0);
    gpuexec_module mod;
    CHECK(write(part_file, part_ptx, sizeof part_ptx - 1) == (ssize_t)sizeof part_ptx - 1);
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, part));
    CHECK_OK(gpuexec_linker_save(l, saved));
    snprintf(aside, sizeof aside, "%s.%ld", saved, (long)getpid());
    CHECK(access(aside, F_OK) != 0); /* renamed */
    CHECK_REFUSED(gpuexec_linker_save(l, "/no/such/folder/x.cubin"), GPUEXEC_FILE_ERROR,
            "cannot write", "/no/such/folder/x.cubin", "No such file");
    mod = gpuexec_module_load_file(ctx, saved, NULL);
    CHECK(image_hash(mod) == image_hash(gpuexec_linker_load(l)));
    CHECK_EQ(run_kernel(ctx, mod, "run"), 1035);
    close(part_file);
    unlink(part);
    close(saved_file);
    unlink(saved);
}

/* A driver that executes only PTX links to PTX text, which can be read, saved and linked again like
   any other. */
TEST(library_links_to_text) {
    static const char user[] = HEAD ".extern .global .align 4 .u32 shared_word;\n"
                                    ".visible .entry get(.param .u64 out) {\n"
                                    ".reg .b32 %r1; .reg .b64 %d1; ld.param.u64 %d1, [out]; "
                                    "ld.global.u32 %r1, [shared_word];\n"
                                    "st.global.u32 [%d1], %r1; ret; }";
    static const char *const around[] = { "", "// a comment\n/* another\n   one */\n\n" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l, again;
    gpuexec_module_desc desc;
    gpuexec_module mod;
    const void *image = NULL;
    size_t bytes = 0, i;
    char text[8000];
    memset(&desc, 0, sizeof desc);
    desc.max_registers = 40;
    if (!on_cpu_device()) SKIP("a GPU's driver links to a cubin");
    l = gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = &desc });
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, main_ptx, 0, "main\n.ptx"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, part_ptx, 0, "part.ptx"));
    for (i = 0; i < 2; i++) {
        CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
        CHECK_EQ(strlen((const char *)image), bytes);
        CHECK_TEXT((const char *)image,
                "// linked by the CPU device: target 0, registers 40, input main .ptx\n.version "
                "7.0\n",
                "// linked by the CPU device: target 0, registers 40, input part.ptx\n.version "
                "7.0\n");
        snprintf(text, sizeof text, "%s%s", around[i], (const char *)image);
        CHECK_EQ(run_kernel(ctx, gpuexec_module_load(ctx, text, 0, NULL), "run"), 1035);
        again = gpuexec_linker_create(ctx, NULL);
        CHECK_OK(gpuexec_linker_add(again, GPUEXEC_INPUT_AUTO, user, 0, NULL));
        CHECK_OK(gpuexec_linker_add(
                again, GPUEXEC_INPUT_AUTO, text, i ? 0 : strlen(text), "linked"));
        CHECK_REFUSED(gpuexec_linker_add(again, GPUEXEC_INPUT_AUTO, part_ptx, 0, "third"),
                GPUEXEC_LINK_FAILED, "in 'third', first defined in 'part.ptx'");
        gpuexec_take_error();
        mod = gpuexec_linker_load(again);
        CHECK_EQ(run_kernel(ctx, mod, "run"), 1035);
        CHECK_EQ(gpuexec_module_kernel_count(mod), 3);
        CHECK_EQ(gpuexec_kernel_parameter_size(gpuexec_kernel_get(mod, "get"), 0), 8);
        CHECK_OK(gpuexec_linker_image(again, &image, &bytes));
        CHECK_TEXT((const char *)image, "registers 40, input input 1\n",
                "registers 40, input main .ptx\n");
        CHECK_EQ(run_kernel(ctx, gpuexec_module_load(ctx, image, bytes, NULL), "get"), 5);
    }
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    snprintf(text, sizeof text, "%s%s", HEAD, (const char *)image); /* code before the first line */
    CHECK_NOT_MADE(
            gpuexec_module_load(ctx, text, 0, NULL), GPUEXEC_BAD_IMAGE, "linked image is damaged");
    snprintf(text, sizeof text,
            "// linked by the CPU device: target zero, registers 40, input x\n%s", user);
    CHECK_NOT_MADE(
            gpuexec_module_load(ctx, text, 0, NULL), GPUEXEC_BAD_IMAGE, "linked image is damaged");
}

/* Each length of a linked image that is shorter than the whole is refused, and nothing past that
   length is read. */
TEST(a_linked_image_cut_short) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = linker_of(ctx, 1, 0);
    const void *image = NULL;
    size_t bytes = 0, part;
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, part_ptx, 0, "part"));
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    CHECK(bytes > 64);
    for (part = 64; part < bytes; part += bytes / 13) {
        void *copy = malloc(part);
        memcpy(copy, image, part);
        CHECK_NOT_MADE(gpuexec_module_load(ctx, copy, part, NULL), GPUEXEC_BAD_IMAGE,
                on_cpu_device() ? "the image is " : "truncated");
        free(copy);
    }
}

TEST(library_names_what_is_missing_and_links_when_it_came) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = linker_of(ctx, 1, 0);
    gpuexec_module mod = gpuexec_linker_load(l);
    CHECK_NOT_MADE(mod, GPUEXEC_LINK_FAILED, "cannot link the image",
            "Undefined reference to 'twist' in 'main'", "'shared_word'", "'table'",
            "GPUEXEC_LINK_FAILED", "cure: add an input that defines the symbol");
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part"));
    mod = gpuexec_linker_load(l);
    CHECK_EQ(run_kernel(ctx, mod, "run"), 1035);
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, weak_ptx, 0, "late"), GPUEXEC_TOO_LATE,
            "the linker accepts no more inputs: it has already linked the image",
            "create another linker");
    CHECK_EQ(run_kernel(ctx, gpuexec_linker_load(l), "run"), 1035);
}

TEST(library_names_what_is_there_twice) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker_desc desc = { 0 };
    gpuexec_linker l;
    desc.name = "the physics";
    l = gpuexec_linker_create(ctx, &desc);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "one"));
    /* reported here or at the end */
    if (gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "two") == GPUEXEC_OK)
        gpuexec_linker_load(l);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_LINK_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "cannot link \"the physics\"", "Multiple definition of",
            "'twist'", "'one'", "'two'", "cure: keep one definition");
}

/* No device runtime has the function: with libcudadevrt.a it is still missing. */
TEST(library_names_what_is_missing_in_the_device_runtime) {
    static const char ptx[] = HEAD
            ".extern .func (.param .b32 r) cudaNoSuchCall();\n"
            ".visible .entry parent(.param .u64 out) { .reg .b32 %r; .param .b32 r; call.uni (r), "
            "cudaNoSuchCall, (); ld.param.b32 %r, [r]; @%p trap; ret; }\n";
    static char text[sizeof ptx + 40];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    snprintf(text, sizeof text, "%.*s.reg .pred %%p;%s", (int)(strstr(ptx, ".reg") - ptx), ptx,
            strstr(ptx, ".reg"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, text, 0, "parent.ptx"));
    CHECK_REFUSED(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }),
            GPUEXEC_LINK_FAILED,
            "cannot link the image: Undefined reference to 'cudaNoSuchCall' in 'parent.ptx'");
    /* there is a libcudadevrt.a */
    if (!strstr(gpuexec_error_text(), "cure: add an input that defines the symbol"))
        CHECK_TEXT(gpuexec_error_text(),
                "this is in the device runtime, libcudadevrt.a, which was not found in "
                "$CUDA_HOME/lib64",
                "/usr/local/cuda/lib64", "/usr/lib/*-linux-gnu", "cure: install the CUDA toolkit",
                "pip install nvidia-cuda-runtime", "GPUEXEC_CUDADEVRT");
}

/* A library that is not CUDA's, so that the failure names it. */
TEST_ALONE(the_library_of_the_device_runtime_is_found) {
    static const struct {
        const char *variable, *value, *folder;
    } places[] = {
        { "PATH", "not/absolute:%s/here/bin:/usr/bin", "here/lib64" },
        { "CONDA_PREFIX", "%s", "targets/x86_64-linux/lib" },
        { "VIRTUAL_ENV", "%s", "lib/python3.11/site-packages/nvidia/cuda_runtime/lib" },
        { "VIRTUAL_ENV", "%s/[new]", "[new]/lib/python3.12/site-packages/nvidia/cu13/lib" },
        { "CUDA_PATH", "%s", "lib" },
        { "CUDA_HOME", "%s", "lib64" },
    };
    static const char launches[] = HEAD ".extern .func (.param .b32 r) "
                                        "__cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
                                        ".visible .entry parent() { ret; }\n";
    char root[] = "/tmp/gpuexec-link-XXXXXX", command[600], path[300], value[300];
    gpuexec_context ctx;
    size_t i;
    if (!on_cpu_device()) SKIP("a GPU's driver may accept such a library");
    if (!CHECK(mkdtemp(root) != NULL)) return;
    for (i = 0; i < sizeof places / sizeof *places; i++) unsetenv(places[i].variable);
    setenv("PATH", "/usr/bin:/bin", 1);
    ctx = gpuexec_context_open(0, NULL);
    for (i = 0; i < sizeof places / sizeof *places; i++) { /* each precedes the earlier ones */
        gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
        snprintf(path, sizeof path, "%s/%s/libcudadevrt.a", root, places[i].folder);
        snprintf(command, sizeof command,
                "mkdir -p '%s/%s' '%s/here/bin' && printf '!<arch>\\n' > '%s'", root,
                places[i].folder, root, path);
        CHECK_EQ(system(command), 0);
        snprintf(value, sizeof value, places[i].value, root);
        setenv(places[i].variable, value, 1);
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, launches, 0, "launches"));
        CHECK(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }) != GPUEXEC_OK);
        gpuexec_take_error();
        if (i == 0) snprintf(path, sizeof path, "%s/here/bin/../lib64/libcudadevrt.a", root);
        CHECK_TEXT(gpuexec_error_text(), path);
    }
    snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK_EQ(system(command), 0);
}

TEST_ALONE(the_library_of_the_device_runtime_is_named) {
    static const char launches[] = HEAD ".extern .func (.param .b32 r) "
                                        "__cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
                                        ".visible .entry parent() { ret; }\n";
    gpuexec_setup_desc setup = { 0 };
    gpuexec_context ctx;
    gpuexec_linker l;
    char path[] = "/no/such/cudadevrt";
    setenv("GPUEXEC_CUDADEVRT", "/no/such/libcudadevrt.a", 1);
    ctx = gpuexec_context_open(0, NULL);
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part"));
    /* does not need it */
    CHECK_OK(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }));
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, launches, 0, "launches"));
    CHECK_REFUSED(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }),
            GPUEXEC_FILE_ERROR,
            "cannot use \"/no/such/libcudadevrt.a\", named by the environment variable "
            "GPUEXEC_CUDADEVRT: ",
            "No such file",
            "cure: give the path of the library libcudadevrt.a, or unset GPUEXEC_CUDADEVRT");
    setenv("GPUEXEC_CUDADEVRT", "kernels/link_curve.ptx", 1);
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, launches, 0, "launches"));
    CHECK_REFUSED(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }),
            GPUEXEC_FILE_ERROR, "\"kernels/link_curve.ptx\", named by", "it is not a library");
    gpuexec_shutdown();
    setup.cudadevrt_path = path;
    CHECK_OK(gpuexec_setup(&setup));
    memset(path, 'x', sizeof path - 1); /* gpuexec has a copy */
    ctx = gpuexec_context_open(0, NULL);
    l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, launches, 0, "launches"));
    CHECK_REFUSED(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }),
            GPUEXEC_FILE_ERROR,
            "cannot use \"/no/such/cudadevrt\", named by gpuexec_setup_desc.cudadevrt_path");
}

/* To open a FIFO would wait for a writer. */
TEST_ALONE(the_library_of_the_device_runtime_is_a_fifo) {
    char folder[] = "/tmp/gpuexec-fifo-XXXXXX", path[64];
    gpuexec_linker l;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libcudadevrt.a", folder);
    CHECK_EQ(mkfifo(path, 0600), 0);
    setenv("GPUEXEC_CUDADEVRT", path, 1);
    l = gpuexec_linker_create(gpuexec_context_open(0, NULL), NULL);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO,
            HEAD ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param "
                 ".b64 b);\n"
                 ".visible .entry parent() { ret; }\n",
            0, "launches"));
    CHECK_REFUSED(gpuexec_linker_image(l, &(const void *){ NULL }, &(size_t){ 0 }),
            GPUEXEC_FILE_ERROR, "libcudadevrt.a\", named by", "it is a FIFO or pipe");
    remove(path);
    rmdir(folder);
}

/* The file is written aside and renamed: as root, that would replace /dev/null. */
TEST(library_saves_only_over_files) {
    char folder[] = "/tmp/gpuexec-save-XXXXXX", path[64];
    gpuexec_linker l = linker_of(gpuexec_context_open(0, NULL), 1, 1);
    struct stat about;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/fifo", folder);
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK_REFUSED(gpuexec_linker_save(l, path), GPUEXEC_FILE_ERROR, "cannot write",
            "it is a FIFO or pipe", "cure: pass the path of a regular file");
    CHECK(stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
    CHECK_REFUSED(gpuexec_linker_save(l, folder), GPUEXEC_FILE_ERROR, "cannot write",
            "it is a directory");
    remove(path);
    CHECK_OK(gpuexec_linker_save(l, path));
    remove(path);
    CHECK_EQ(rmdir(folder), 0); /* nothing is left */
}

/* Its temporary file lies beside the file: another user can guess the name in a shared folder, and
   put a link there. The name of the file itself may be as long as the system allows. */
TEST(library_saves_through_no_link) {
    char folder[] = "/tmp/gpuexec-save-XXXXXX", path[400], victim[400], link[400];
    gpuexec_linker l = linker_of(gpuexec_context_open(0, NULL), 1, 1);
    struct stat about;
    FILE *file;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(link, sizeof link, "%s/.gpuexec-%ld-%llx-0", folder, (long)getpid(),
            (unsigned long long)l.id);
    snprintf(path, sizeof path, "%s/%0255d", folder, 1);
    file = fopen(victim, "w");
    CHECK(file && fputs("mine", file) >= 0 && fclose(file) == 0);
    CHECK_EQ(symlink("victim", link), 0);
    CHECK_OK(gpuexec_linker_save(l, path));
    CHECK(stat(victim, &about) == 0 && about.st_size == 4);
    CHECK(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    CHECK(stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 100);
    CHECK(remove(path) == 0 && remove(link) == 0 && remove(victim) == 0);
    CHECK_EQ(rmdir(folder), 0); /* nothing is left */
}

/* Only the caller says that it is a cubin: its header must not be read, whatever the driver
   returns. */
TEST_ALONE(library_an_input_that_is_not_what_it_was_passed_as) {
    gpuexec_linker l;
    char *const data = (char *)malloc(5);
    if (!on_cpu_device()) SKIP("only the CPU device fails on request");
    setenv("SIMGPU_FAIL", "cuLinkAddData:1:209", 1);
    memcpy(data, "hello", 5);
    l = gpuexec_linker_create(gpuexec_context_open(0, NULL), NULL);
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_CUBIN, data, 5, "greeting"),
            GPUEXEC_IMAGE_TOO_NEW, "\"greeting\" has no code for device 0", "It contains: nothing");
    free(data);
}

/* With a verbose log, a driver may link an incomplete program. */
TEST(library_names_what_is_missing_when_verbose) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_linker l;
    const void *image = NULL;
    size_t bytes = 0;
    desc.verbose = 1;
    l = gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = &desc });
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, "main"));
    CHECK_RESULT(gpuexec_linker_image(l, &image, &bytes), GPUEXEC_LINK_FAILED);
    CHECK_TEXT(gpuexec_error_text(), "Undefined reference to 'twist' in 'main'", "'shared_word'",
            "'table'", "cure: add an input that defines the symbol");
    CHECK(image == NULL && bytes == 0);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_LINK_FAILED);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part"));
    CHECK_EQ(run_kernel(ctx, gpuexec_linker_load(l), "run"), 1035);
}

TEST(library_names_a_broken_input_and_goes_on) {
    static char many[40000] = HEAD ".visible .entry e() {\n";
    static const char too_new[] = ".version 99.9\n.target sm_70\n.address_size 64\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = linker_of(ctx, 1, 0);
    const char *log;
    int i;
    for (i = 0; i < 600; i++) sprintf(many + strlen(many), "  no_such_instruction_%d;\n", i);
    strcat(many, "  ret;\n}\n");
    CHECK_RESULT(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, many, 0, "bad one"), GPUEXEC_BAD_IMAGE);
    CHECK_TEXT(gpuexec_error_text(), "\"bad one\" is PTX that does not compile",
            "no_such_instruction", "line 5");
    log = gpuexec_error_detail()->log;
    /* the buffer grows until nothing is truncated */
    if (on_cpu_device() && CHECK(log != NULL)) CHECK_TEXT(log, "no_such_instruction_599");
    gpuexec_take_error();
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, too_new, 0, NULL),
            GPUEXEC_IMAGE_TOO_NEW, "input 2 is PTX with .version 99.9", "at most");
    /* the broken inputs are not part of it */
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part"));
    CHECK_EQ(run_kernel(ctx, gpuexec_linker_load(l), "run"), 1035);
}

TEST(library_misuse) {
    static const char zeros[64] = { 0 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_linker none = { 0 }, l = linker_of(ctx, 0, 0);
    const void *image = zeros;
    size_t bytes = 1;
    CHECK_REFUSED(gpuexec_linker_add(none, GPUEXEC_INPUT_AUTO, main_ptx, 0, NULL),
            GPUEXEC_BAD_HANDLE, "the linker was never created");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, NULL, 0, NULL), GPUEXEC_BAD_ARGUMENT,
            "the input is NULL");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, "", 0, "nothing"), GPUEXEC_BAD_IMAGE,
            "\"nothing\" is empty");
    CHECK_REFUSED(gpuexec_linker_add(l, (gpuexec_input_type)9, main_ptx, 0, NULL),
            GPUEXEC_BAD_ARGUMENT, "9 is not a gpuexec_input_type");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_CUBIN, main_ptx, 0, "main"),
            GPUEXEC_BAD_IMAGE, "\"main\" was passed as a cubin, but it is PTX text", "AUTO");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, "__global__ void f() {}", 0, "f.cu"),
            GPUEXEC_BAD_IMAGE, "\"f.cu\" is not PTX text", "CUDA C", "nvcc");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, "hello", 0, NULL), GPUEXEC_BAD_IMAGE,
            "input 1 is not PTX text", ".version");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, "!<arch>\n", 0, "x.a"),
            GPUEXEC_BAD_ARGUMENT, "\"x.a\" is a library", "does not contain its own length");
    CHECK_REFUSED(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, NULL), GPUEXEC_BAD_ARGUMENT,
            "the path is NULL");
    CHECK_REFUSED(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, "/no/such/file.ptx"),
            GPUEXEC_FILE_ERROR, "/no/such/file.ptx", "No such file");
    CHECK_REFUSED(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, "/tmp"), GPUEXEC_FILE_ERROR,
            "\"/tmp\" is a directory", "directory");
    CHECK_REFUSED(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, "/proc/self/exe"),
            GPUEXEC_BAD_IMAGE, "ELF file, but not a cubin");
    CHECK_REFUSED(gpuexec_linker_image(l, NULL, &bytes), GPUEXEC_BAD_ARGUMENT, "\"image\" is NULL");
    CHECK_REFUSED(gpuexec_linker_image(l, &image, &bytes), GPUEXEC_LINK_FAILED,
            "the linker has no inputs", "add inputs first");
    CHECK(image == NULL && bytes == 0);
    CHECK_REFUSED(gpuexec_linker_save(l, NULL), GPUEXEC_BAD_ARGUMENT, "the path is NULL");
    desc.prefer_binary = 1;
    CHECK(!gpuexec_ok(gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = &desc })));
    CHECK_TEXT(gpuexec_error_text(), "prefer_binary is set, but a linker");
    gpuexec_take_error();
    CHECK_OK(gpuexec_linker_destroy(none));
    CHECK_STRING(gpuexec_linker_log(none), "");
    CHECK(gpuexec_linker_ms(none) < 0);
}

static char leaks[2000];
static void keep_leaks(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING && strlen(leaks) + strlen(text) < sizeof leaks)
        strcat(leaks, text);
}
/* A driver that executes only PTX refuses even a cubin for its device. */
TEST(a_driver_that_executes_only_ptx) {
    static const char ptx[] = HEAD ".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param "
                                   ".b64 f, .param .align 4 .b8 g[12],\n"
                                   ".param .align 4 .b8 b[12], .param .b32 s);\n"
                                   ".visible .entry parent(.param .u64 out) { .reg .b64 %d<3>; "
                                   "mov.u64 %d1, cudaGetParameterBufferV2;\n"
                                   "ld.param.u64 %d2, [out];\n"
                                   "st.global.u64 [%d2], %d1; ret; }\n";
    unsigned char cubin[128] = "\x7F"
                               "ELF\2\1\1";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    if (!on_cpu_device()) SKIP("only about the CPU device");
    cubin[18] = 190;
    cubin[48] = 80;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, sizeof cubin, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "the image has no code for device 0", "a cubin for sm_80 (for another major version)");
    cubin[48] = 90;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, sizeof cubin, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "the image has no code for device 0 (compute capability 9.0) that the driver accepts. "
            "It contains: a cubin for sm_90 (GPU",
            "cure: load PTX instead, or add PTX to the image: nvcc -gencode "
            "arch=compute_90,code=[sm_90,compute_90] (for linking, add -rdc=true)");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, cubin, sizeof cubin, "a.cubin"),
            GPUEXEC_IMAGE_TOO_NEW, "\"a.cubin\" has no code for device 0");
    CHECK_REFUSED(
            gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, "!<arch>\nlibrary", 15, "libcudadevrt.a"),
            GPUEXEC_IMAGE_TOO_NEW, "\"libcudadevrt.a\" has no code for device 0",
            "It contains: nothing");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, ptx, 0, NULL), GPUEXEC_BAD_IMAGE,
            "the image uses symbols that are defined elsewhere", "cudaGetParameterBufferV2",
            "cure: link it with gpuexec_linker_create",
            "gpuexec_linker_load then finds and adds the device runtime");
}

TEST(library_linkers_end_with_their_context) {
    gpuexec_setup_desc setup = { 0 };
    gpuexec_context ctx;
    gpuexec_linker l;
    setup.report_leaks = 1;
    setup.log = keep_leaks;
    CHECK_OK(gpuexec_setup(&setup));
    ctx = gpuexec_context_open(0, NULL);
    l = linker_of(ctx, 1, 1);
    CHECK_OK(gpuexec_context_close(ctx));
    CHECK(!gpuexec_ok(l));
    CHECK(!gpuexec_ok(gpuexec_linker_load(l)));
    CHECK_TEXT(gpuexec_error_text(), "is stale");
    gpuexec_take_error();
    linker_of(gpuexec_context_open(0, NULL), 1, 0);
    CHECK_OK(gpuexec_shutdown());
    CHECK_TEXT(leaks, "leak: a linker, created at ", "link.c:");
}

/* A failed linker keeps its reason; its module is never launched. */
TEST(library_failed_linkers) {
    gpuexec_context ctx = gpuexec_context_open(99, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    CHECK(!gpuexec_ok(l));
    CHECK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, NULL) == GPUEXEC_NO_DEVICE);
    /* the first failure, which is latched */
    CHECK_TEXT(gpuexec_why(gpuexec_linker_load(l)), "there is no device 99");
    CHECK_OK(gpuexec_linker_destroy(l));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NO_DEVICE);
}

/* An input could not be added: until that failure is taken, nothing is linked, and above all
   nothing is saved. */
TEST(library_does_not_save_what_lacks_an_input) {
    char folder[] = "/tmp/gpuexec-link-XXXXXX", path[64];
    gpuexec_linker l = gpuexec_linker_create(gpuexec_context_open(0, NULL), NULL);
    const void *image;
    size_t bytes;
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    snprintf(path, sizeof path, "%s/image", folder);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, "main.ptx"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part.ptx"));
    CHECK_RESULT(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, "/no/such/more.ptx"),
            GPUEXEC_FILE_ERROR);
    CHECK_RESULT(gpuexec_linker_save(l, path), GPUEXEC_FILE_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "/no/such/more.ptx",
            "because of this failure, gpuexec_linker_save");
    CHECK_RESULT(gpuexec_linker_image(l, &image, &bytes), GPUEXEC_FILE_ERROR);
    CHECK(!gpuexec_ok(gpuexec_linker_load(l)));
    CHECK(fopen(path, "rb") == NULL);
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_FILE_ERROR);
    /* after the failure is taken, linking continues without that input */
    CHECK_OK(gpuexec_linker_save(l, path));
    CHECK_EQ(remove(path), 0);
    CHECK_EQ(rmdir(folder), 0);
}

/* --- the classic example of cuLink: many texts, both logs, the wall time ---------------------- */

enum { parts = 20 };
/* Each text has a function that adds its number and calls the next one; the first has the
   kernel. */
static const char *chain_ptx(int i) {
    static char text[1200];
    char call[200] = "";
    if (i + 1 < parts) snprintf(call, sizeof call, CALL("%%r1", "%%r1", "part%d"), i + 1);
    strcpy(text, HEAD);
    if (i + 1 < parts)
        sprintf(text + strlen(text), ".extern .func (.param .b32 r) part%d(.param .b32 a);\n",
                i + 1);
    sprintf(text + strlen(text),
            ".visible .func (.param .b32 r) part%d(.param .b32 a) { .reg .b32 %%r<2>; ld.param.b32 "
            "%%r1, [a];\nadd.s32 %%r1, %%r1, %d;\n%s"
            "st.param.b32 [r], %%r1; ret; }\n",
            i, i, call);
    if (i == 0)
        strcat(text,
                ".visible .entry run(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %d<2>; "
                "ld.param.u64 %d1, [out]; mov.u32 %r1, 1000;\n" CALL(
                        "%r1", "%r2", "part0") "st.global.u32 [%d1], %r2; ret; }\n");
    return text;
}
TEST(many_texts_by_the_driver) {
    enum { BUFFER_SIZE = 8192 };
    static char error_log[BUFFER_SIZE], info_log[BUFFER_SIZE];
    gpuexec_context ctx = begin();
    int options[6] = { WALL_TIME, INFO_LOG, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES,
        12 /* CU_JIT_LOG_VERBOSE */ },
        i;
    void *values[6], *state = NULL, *cubin = NULL, *native = NULL;
    size_t bytes = 0;
    float ms = -1;
    values[0] = NULL;
    values[1] = info_log;
    values[2] = (void *)(uintptr_t)BUFFER_SIZE;
    values[3] = error_log;
    values[4] = (void *)(uintptr_t)BUFFER_SIZE;
    values[5] = (void *)(uintptr_t)1;
    /* values and logs must stay valid as long as the state */
    CHECK_EQ(cu.create(6, options, values, &state), 0);
    for (i = 0; i < parts; i++) {
        char *text = strdup(chain_ptx(i));
        CHECK_EQ(cu.add(state, INPUT_PTX, text, strlen(text) + 1, NULL, 0, NULL, NULL), 0);
        free(text);
    }
    CHECK_EQ(cu.complete(state, &cubin, &bytes), 0);
    CHECK_STRING(error_log, "");
    memcpy(&ms, &values[0], sizeof ms); /* not a float of this program: the slot itself */
    CHECK(ms >= 0 && ms < 60000);
    CHECK_EQ(cu.load(&native, cubin), 0); /* before the state, which owns the image, is destroyed */
    CHECK_EQ(cu.destroy(state), 0);
    CHECK_EQ(run_kernel(ctx, gpuexec_module_from_native(ctx, (struct CUmod_st *)native), "run"),
            1000 + parts * (parts - 1) / 2);
}
TEST(many_texts_by_the_library) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_linker l;
    gpuexec_module mod;
    int i;
    desc.verbose = 1;
    l = gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = &desc });
    for (i = 0; i < parts; i++)
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, chain_ptx(i), 0, NULL));
    mod = gpuexec_linker_load(l);
    CHECK(gpuexec_linker_ms(l) >= 0 && gpuexec_linker_ms(l) < 60000);
    CHECK_OK(gpuexec_linker_destroy(l));
    CHECK_EQ(run_kernel(ctx, mod, "run"), 1000 + parts * (parts - 1) / 2);
}

/* nvcc's output: kernels/link_main.cu calls a function in kernels/link_curve.cu. */
static void check_drawing(gpuexec_context ctx, gpuexec_module mod) {
    enum { n = 1000 };
    static float x[n], y[n];
    float c[4] = { 0 };
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dx = gpuexec_alloc(ctx, sizeof x), dy = gpuexec_alloc(ctx, sizeof y);
    gpuexec_kernel draw = gpuexec_kernel_get(mod, "draw");
    uint32_t random = 7;
    int i, count = n, right = 0;
    CHECK_OK(gpuexec_module_read_global(mod, "coefficients", c, sizeof c));
    for (i = 0; i < n; i++) x[i] = (float)(int32_t)test_random(&random) * 1e-6f;
    gpuexec_copy_in(s, dx, x, sizeof x);
    gpuexec_launch(draw, s, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(dx, dy, count));
    gpuexec_copy_out(s, y, dy, sizeof y);
    CHECK_OK(gpuexec_stream_sync(s));
    for (i = 0; i < n; i++)
        right += y[i] == fmaf(fmaf(fmaf(c[3], x[i], c[2]), x[i], c[1]), x[i], c[0]);
    CHECK_EQ(right, n);
    CHECK_EQ(gpuexec_kernel_parameter_size(draw, 2), 4);
    CHECK_RESULT(gpuexec_launch(draw, s, gpuexec_grid_for(n, 128), GPUEXEC_ARGS(dx, dy)),
            GPUEXEC_BAD_PARAMETERS);
    gpuexec_take_error();
}
TEST(kernels_of_two_files) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, "kernels/link_main.ptx"));
    CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_PTX, "kernels/link_curve.ptx"));
    check_drawing(ctx, gpuexec_linker_load(l));
}

/* Round r writes row r from the opposite end of row r - 1, which another block wrote. The kernel
   calls libcudadevrt.a, as numba's do: CUDA's on a GPU. The CPU device has its own, and ignores
   CUDA's, which it recognises by the name of its member. The second time, gpuexec finds it. */
TEST(a_grid_synchronized_by_the_device_runtime) {
    enum { BLOCKS = 6, THREADS = 64, COLUMNS = BLOCKS * THREADS, ROWS = 20 };
    static const char kernel[] = HEAD
            ".extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
            ".extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 "
            "flags);\n"
            ".visible .entry rows(.param .u64 words, .param .u32 count) {\n"
            "    .reg .b32 %c, %n, %r, %v, %x; .reg .b64 %a, %b, %h, %row; .reg .pred %p;\n"
            "    .param .b32 scope; .param .b64 out; .param .b64 handle; .param .b32 flags; .param "
            ".b32 error;\n"
            "    ld.param.u64 %a, [words]; ld.param.u32 %n, [count];\n"
            "    st.param.b32 [scope], 1; call (out), cudaCGGetIntrinsicHandle, (scope); "
            "ld.param.b64 %h, [out];\n"
            "    mov.u32 %x, %ctaid.x; mov.u32 %v, %ntid.x; mov.u32 %c, %tid.x; mad.lo.u32 %c, %x, "
            "%v, %c;\n"
            "    mov.u32 %x, %nctaid.x; mul.lo.u32 %v, %v, %x; mul.wide.u32 %row, %v, 4;\n"
            "    sub.u32 %v, %v, %c; sub.u32 %v, %v, 1; mul.wide.u32 %b, %v, 4; add.u64 %b, %b, "
            "%a;\n"
            "    mul.wide.u32 %h, %c, 4; add.u64 %a, %a, %h; ld.param.b64 %h, [out];\n"
            "AGAIN: add.u64 %a, %a, %row; ld.u32 %v, [%b]; add.u32 %v, %v, 1; st.u32 [%a], %v; "
            "add.u64 %b, %b, %row;\n"
            "    st.param.b64 [handle], %h; st.param.b32 [flags], 0;\n"
            "    call (error), cudaCGSynchronize, (handle, flags); ld.param.b32 %v, [error];\n"
            "    setp.ne.u32 %p, %v, 0; @%p trap; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p "
            "bra AGAIN; ret;\n}\n";
    static const char archive[] = "!<arch>\n//                                              23     "
                                  "   `\ncuda_device_runtime.o/\n";
    static const char *const file = "/usr/local/cuda/lib64/libcudadevrt.a";
    const uint32_t rounds = ROWS;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    static uint32_t got[ROWS + 1][COLUMNS];
    gpuexec_stream stream = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr words = gpuexec_alloc(ctx, sizeof got);
    int r, c, found, wrong = 0;
    if (!on_cpu_device() && access(file, R_OK) != 0) SKIP("no libcudadevrt.a");
    for (found = 0; found < 2; found++) {
        gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, kernel, sizeof kernel, "rows"));
        if (!found && on_cpu_device())
            CHECK_OK(gpuexec_linker_add(
                    l, GPUEXEC_INPUT_LIBRARY, archive, sizeof archive - 1, "library"));
        else if (!found) CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, file));
        CHECK_OK(gpuexec_fill(stream, words, 0, 1, sizeof got));
        CHECK_OK(gpuexec_launch_cooperative(gpuexec_kernel_get(gpuexec_linker_load(l), "rows"),
                stream, gpuexec_grid(BLOCKS, THREADS, 0), GPUEXEC_ARGS(words, rounds)));
        CHECK_OK(gpuexec_copy_out(stream, got, words, sizeof got));
        CHECK_OK(gpuexec_stream_sync(stream));
        for (r = 0; r <= ROWS; r++)
            for (c = 0; c < COLUMNS; c++) wrong += got[r][c] != (uint32_t)r;
    }
    CHECK_EQ(wrong, 0);
}

/* Every kind of nvcc output is recognised as input; a GPU links them. */
TEST(binaries_of_nvcc) {
    static const struct {
        gpuexec_input_type type;
        const char *how, *is;
    } made[] = {
        { GPUEXEC_INPUT_CUBIN, "-cubin -rdc=true -arch=sm_", "is a cubin" },
        { GPUEXEC_INPUT_FATBIN, "-fatbin -rdc=true -arch=sm_", "is a fatbin" },
        { GPUEXEC_INPUT_OBJECT, "-dc -arch=sm_", "is an object" },
        { GPUEXEC_INPUT_LIBRARY, "-lib -rdc=true -arch=sm_", "is a library" },
    };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_device_info d;
    size_t i;
    if (on_cpu_device() && !getenv("TEST_ALL")) SKIP("with the CPU device only with TEST_ALL=1");
    CHECK_OK(gpuexec_device_get_info(0, &d));
    for (i = 0; i < sizeof made / sizeof *made; i++) {
        char file[] = "/tmp/gpuexec-input-XXXXXX", command[300], capability[16];
        const int fd = mkstemp(file);
        int added;
        gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
        close(fd);
        snprintf(capability, sizeof capability, "%d", d.compute_capability);
        snprintf(command, sizeof command,
                "nvcc %s%s -fmad=false -o %s kernels/link_main.cu >/dev/null 2>&1", made[i].how,
                capability, file);
        if (system(command) != 0) {
            unlink(file);
            SKIP("no nvcc on this machine compiles for this device");
        }
        added = (int)gpuexec_linker_add_file(l, made[i].type, file);
        if (on_cpu_device() && made[i].type == GPUEXEC_INPUT_CUBIN) {
            /* so it was recognised and passed to the driver */
            CHECK_EQ(added, GPUEXEC_IMAGE_TOO_NEW);
            CHECK_TEXT(gpuexec_error_text(), file, "has no code for device 0",
                    "simgpu links PTX only", made[i].is);
        } else if (CHECK_EQ(added, GPUEXEC_OK)) {
            CHECK_OK(gpuexec_linker_add_file(l, GPUEXEC_INPUT_AUTO, "kernels/link_curve.ptx"));
            check_drawing(ctx, gpuexec_linker_load(l));
        }
        gpuexec_take_error();
        CHECK_RESULT(gpuexec_linker_add_file(l, GPUEXEC_INPUT_PTX, file),
                added == GPUEXEC_OK ? GPUEXEC_TOO_LATE : GPUEXEC_BAD_IMAGE);
        gpuexec_take_error();
        unlink(file);
    }
}

TEST_ALONE(an_old_driver_does_not_report_parameters) {
    if (!on_cpu_device()) SKIP("only the CPU device emulates old drivers");
    CHECK(setenv("SIMGPU_DRIVER_VERSION", "11040", 1) == 0);
    gpuexec_context_open(0, NULL);
    gpuexec_shutdown();
    kernels_of_two_files();
}

/* Drivers before 12.4 do not list kernels: the names are those in the linked texts. */
static void names_of_linked_kernels(int driver_reports) {
    static const char weak[] = HEAD
            ".weak .entry both() { ret; }\n.visible .entry own() { ret; }\n";
    static const char also[] = HEAD
            ".weak .entry both() { ret; }\n.visible .entry second(.param .u32 n) { ret; }\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL),
                   of_image = gpuexec_linker_create(ctx, NULL);
    gpuexec_module mod;
    const void *image;
    size_t bytes;
    int i, seen = 0;
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, weak, sizeof weak, "weak"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, also, sizeof also, "also"));
    mod = gpuexec_linker_load(l);
    CHECK_EQ(gpuexec_module_kernel_count(mod), 3);
    for (i = 0; i < 3; i++) {
        const char *name = gpuexec_module_kernel_name(mod, i);
        if (!CHECK(name != NULL)) return;
        seen |= strcmp(name, "both") == 0     ? 1
                : strcmp(name, "own") == 0    ? 2
                : strcmp(name, "second") == 0 ? 4
                                              : 8;
    }
    CHECK_EQ(seen, 7);
    CHECK(gpuexec_module_kernel_name(mod, 3) == NULL);
    CHECK(!gpuexec_ok(gpuexec_kernel_get(mod, "secnd")));
    CHECK_TEXT(gpuexec_error_text(), "has no kernel \"secnd\"", "use \"second\", if");
    gpuexec_take_error();
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    if (gpuexec_linker_add(of_image, GPUEXEC_INPUT_AUTO, image, bytes, "image") == GPUEXEC_OK) {
        mod = gpuexec_linker_load(of_image); /* no call reports the names in a binary */
        if (gpuexec_ok(mod))
            CHECK_EQ(gpuexec_module_kernel_count(mod), driver_reports || on_cpu_device() ? 3 : -1);
    }
    gpuexec_take_error();
}
TEST(the_names_of_linked_kernels) { names_of_linked_kernels(gpuexec_driver_version() >= 12040); }
TEST_ALONE(the_names_of_linked_kernels_on_an_old_driver) {
    if (!on_cpu_device()) SKIP("only the CPU device emulates old drivers");
    CHECK(setenv("SIMGPU_DRIVER_VERSION", "12020", 1) == 0);
    gpuexec_shutdown();
    names_of_linked_kernels(0);
}

/* --- each call fails -------------------------------------------------------------------------- */

static gpuexec_result link_once(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    gpuexec_module mod;
    gpuexec_result made;
    gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, NULL);
    gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part");
    mod = gpuexec_linker_load(l);
    made = gpuexec_take_error();
    if (made) CHECK(gpuexec_error_text()[0]);
    else CHECK_MADE(mod);
    CHECK_OK(gpuexec_linker_destroy(l));
    return made;
}
TEST(library_without_host_memory) { test_running_dry(link_once, 300); }

/* Also for a driver that does not report parameters, for which texts are kept. */
static int complete_with_text(void *state, void **image, size_t *bytes) {
    static char text[] = HEAD ".visible .entry run(.param .u64 p) { ret; }\n";
    (void)state;
    *image = text;
    *bytes = sizeof text;
    return 0;
}
TEST(library_gives_all_memory_back) {
    gpuexec_setup_desc setup = { 0 };
    int old;
    setup.realloc_function = test_realloc;
    for (old = 0; old < 3; old++) {
        gpuexec_context ctx;
        gpuexec_linker l;
        CHECK_OK(gpuexec_setup(&setup));
        ctx = gpuexec_context_open(0, NULL);
        if (old) test_replace("cuFuncGetParamInfo", NULL);
        l = gpuexec_linker_create(ctx, NULL);
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, NULL));
        CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part"));
        /* no driver does this, but any image may be loaded */
        if (old == 2) test_replace("cuLinkComplete", (test_function)complete_with_text);
        CHECK_MADE(gpuexec_kernel_get(gpuexec_linker_load(l), "run"));
        CHECK_MADE(gpuexec_kernel_get(gpuexec_linker_load(l), "run"));
        gpuexec_shutdown();
        CHECK_EQ(test_blocks, 0);
    }
}

static void check_driver_failing(const char *fail, const char *text) {
    gpuexec_context ctx;
    gpuexec_linker l;
    gpuexec_result main_result, part_result;
    if (!on_cpu_device()) SKIP("only the CPU device fails on request");
    CHECK(setenv("SIMGPU_FAIL", fail, 1) == 0);
    ctx = gpuexec_context_open(0, NULL);
    l = gpuexec_linker_create(ctx, NULL);
    main_result = gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, "main");
    part_result = gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part");
    if (!main_result && !part_result) gpuexec_linker_load(l);
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), text);
    if (gpuexec_ok(l)) { /* and afterwards it works */
        if (main_result) CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, main_ptx, 0, "main"));
        if (part_result) CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, part_ptx, 0, "part"));
        CHECK_EQ(run_kernel(ctx, gpuexec_linker_load(l), "run"), 1035);
    }
    CHECK_OK(gpuexec_linker_destroy(l));
    gpuexec_take_error();
}

TEST_ALONE(library_when_the_driver_makes_no_linker) {
    check_driver_failing("cuLinkCreate:1:2", "cannot create a link state");
}

TEST_ALONE(library_when_the_driver_has_no_compiler) {
    check_driver_failing("cuLinkCreate:1:221", "libnvidia-ptxjitcompiler.so");
}

TEST_ALONE(library_when_the_driver_refuses_the_first) {
    check_driver_failing("cuLinkAddData:1:2", "cannot load \"main\"");
}

TEST_ALONE(library_when_the_driver_refuses_the_second) {
    check_driver_failing("cuLinkAddData:2:1", "cannot load \"part\"");
}

TEST_ALONE(library_when_linking_fails_unexplained) {
    check_driver_failing("cuLinkComplete:1:999", "cannot link the image from 2 inputs");
}

TEST_ALONE(library_when_linking_lacks_memory) {
    check_driver_failing("cuLinkComplete:1:2", "GPUEXEC_OUT_OF_DEVICE_MEMORY");
}

TEST_ALONE(library_when_loading_fails) {
    check_driver_failing("cuModuleLoadDataEx:1:2", "cannot load the image");
}
