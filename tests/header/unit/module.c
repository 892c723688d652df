/* module.c - images, their kernels, and what is known about each kernel. */
#include "../../test.h"
#include <dlfcn.h>

static char *file_text(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    char *text = (char *)calloc(1, 100000);
    if (CHECK(f != NULL)) {
        *bytes = fread(text, 1, 99999, f);
        fclose(f);
    }
    return text;
}

/* Runs kernel `count` of a module and checks that it counts. */
static void check_that_it_runs(gpuexec_context ctx, gpuexec_module mod) {
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "count");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t word = 0;
    gpuexec_fill(s, p, 0, 1, 4);
    gpuexec_launch(fn, s, gpuexec_grid(3, 50, 0), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 150);
}

/* A GPU runs 1,024 threads of these; there are more values in their text than such threads have
   registers, but few of them at the same time, or a compiler computes them again where it needs
   them. */
TEST(registers_for_1024_threads) {
    static const char *const files[] = { "kernels/jacobi.ptx", "kernels/ring_exchange.ptx",
        "tests/device/corpus/ptx/math_double.sm_75.ptx",
        "tests/device/corpus/ptx/stencil.sm_75.ptx" };
    static const char *const names[] = { "jacobi", "ring_exchange", "math_double", "stencil3d" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    unsigned i;
    if (gpuexec_driver_version() < 13000) SKIP("the driver is too old for this");
    for (i = 0; i < sizeof files / sizeof *files; i++) {
        gpuexec_kernel_info k;
        memset(&k, 0, sizeof k);
        CHECK_OK(gpuexec_kernel_get_info(
                gpuexec_kernel_get(gpuexec_module_load_file(ctx, files[i], NULL), names[i]), &k));
        CHECK_EQ(k.max_threads_per_block, 1024);
        CHECK(k.registers > 0 && k.registers <= 64);
    }
}

/* max_registers limits a kernel that needs more, also if its text is linked. */
TEST(registers_are_limited) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_linker linker;
    gpuexec_kernel_info k;
    static char text[20000];
    char *at = text;
    int i;
    at += sprintf(at,
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
            ".reg .b64 %%a; .reg .b32 %%v<200>; ld.param.u64 %%a, [p];\n");
    for (i = 0; i < 200; i++)
        at += sprintf(at, "ld.volatile.global.u32 %%v%d, [%%a+%d];\n", i, 4 * i);
    for (i = 0; i < 200; i++)
        at += sprintf(at, "st.volatile.global.u32 [%%a+%d], %%v%d;\n", 4 * i, 199 - i);
    sprintf(at, "ret;\n}\n");
    CHECK_OK(gpuexec_kernel_get_info(
            gpuexec_kernel_get(gpuexec_module_load(ctx, text, 0, NULL), "k"), &k));
    CHECK(k.registers > 190 && k.registers <= 255 && k.max_threads_per_block < 512);
    desc.max_registers = 40;
    CHECK_OK(gpuexec_kernel_get_info(
            gpuexec_kernel_get(gpuexec_module_load(ctx, text, 0, &desc), "k"), &k));
    CHECK_EQ(k.registers, 40);
    CHECK_EQ(k.max_threads_per_block, 1024);
    linker = gpuexec_linker_create(ctx, &(gpuexec_linker_desc){ .module = &desc });
    CHECK_OK(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, text, 0, "k"));
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(gpuexec_linker_load(linker), "k"), &k));
    CHECK_EQ(k.registers, 40);
}

TEST(load_from_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t bytes = 0;
    char *text = file_text(UNIT_PTX, &bytes);
    gpuexec_module by_nul = gpuexec_module_load(ctx, text, 0, NULL), by_bytes;
    CHECK_MADE(by_nul);
    memset(text + bytes, '@', 64); /* other text follows the end, and must not be read */
    by_bytes = gpuexec_module_load(ctx, text, bytes, NULL);
    CHECK_MADE(by_bytes);
    memset(text, 0, bytes); /* the image is no longer needed */
    free(text);
    check_that_it_runs(ctx, by_nul);
    check_that_it_runs(ctx, by_bytes);
    CHECK(gpuexec_module_native(by_nul) != NULL &&
            gpuexec_module_native(by_nul) != gpuexec_module_native(by_bytes));
}

TEST(load_from_memory_that_ends_at_its_last_byte) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t bytes = 0;
    char *text = file_text(UNIT_PTX, &bytes), *exact = (char *)malloc(bytes);
    memcpy(exact, text, bytes); /* without NUL: an address sanitizer detects a read past the end */
    check_that_it_runs(ctx, gpuexec_module_load(ctx, exact, bytes, NULL));
    bytes++;
    /* a NUL that is part of the size is valid */
    check_that_it_runs(ctx, gpuexec_module_load(ctx, text, bytes, NULL));
    free(exact);
    free(text);
}

TEST(load_from_file) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    check_that_it_runs(ctx, gpuexec_module_load_file(ctx, UNIT_PTX, NULL));
}

TEST(kernels_of_a_module) {
    static const char *const names[] = { "nothing", "gate", "add", "count", "bump", "where",
        "with_static_shared" };
    enum { count = sizeof names / sizeof names[0] };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    int i, k, found[count] = { 0 };
    CHECK_EQ(gpuexec_module_kernel_count(mod), count);
    for (i = 0; i < count; i++) {
        const char *name = gpuexec_module_kernel_name(mod, i);
        if (!CHECK(name != NULL)) continue;
        for (k = 0; k < count; k++)
            if (strcmp(name, names[k]) == 0) found[k]++;
        CHECK_MADE(gpuexec_kernel_get(mod, name));
    }
    for (k = 0; k < count; k++) CHECK_EQ(found[k], 1); /* in any order */
    CHECK(gpuexec_module_kernel_name(mod, count) == NULL);
    CHECK(gpuexec_module_kernel_name(mod, -1) == NULL);
    CHECK_OK(gpuexec_take_error());
}

TEST(asking_twice_gives_the_same_kernel) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL),
                   other = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "add");
    CHECK_EQ(gpuexec_kernel_get(mod, "add").id, fn.id);
    CHECK(gpuexec_kernel_get(mod, "count").id != fn.id);
    CHECK(gpuexec_kernel_get(other, "add").id != fn.id);
}

TEST(kernel_information) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel_info k;
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(mod, "add"), &k));
    CHECK_STRING(k.name, "add");
    CHECK_EQ(k.parameters, 3);
    CHECK_EQ(k.max_threads_per_block, 1024);
    CHECK(k.registers > 0 && k.registers <= 255);
    CHECK(k.binary_version >= 50);
    CHECK_EQ(k.ptx_version, 70);
    CHECK_EQ(k.static_shared, 0);
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(mod, "nothing"), &k));
    CHECK_EQ(k.parameters, 0);
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(mod, "with_static_shared"), &k));
    CHECK_EQ(k.static_shared, 1024);
    mod = gpuexec_module_load_file(ctx, FAULTS_PTX, NULL);
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(mod, "count_at_most_64"), &k));
    CHECK_EQ(k.max_threads_per_block, 64);
}

TEST(parameter_sizes) {
    static const size_t sizes[] = { 8, 1, 8, 1, 2, 4, 2, 8, 4, 24, 4, 16, 8 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(
            gpuexec_module_load_file(ctx, FAULTS_PTX, NULL), "many_parameters");
    gpuexec_kernel_info k;
    int i;
    CHECK_OK(gpuexec_kernel_get_info(fn, &k));
    CHECK_EQ(k.parameters, sizeof sizes / sizeof sizes[0]);
    for (i = 0; i < k.parameters; i++) CHECK_EQ(gpuexec_kernel_parameter_size(fn, i), sizes[i]);
    CHECK_EQ(gpuexec_kernel_parameter_size(fn, k.parameters), 0);
    CHECK_EQ(gpuexec_kernel_parameter_size(fn, -1), 0);
    CHECK_OK(gpuexec_take_error());
}

TEST(occupancy) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "count");
    gpuexec_device_info d;
    int small, large;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    small = gpuexec_kernel_occupancy(fn, 1024, 0);
    CHECK(small >= 1 && small <= d.max_threads_per_multiprocessor / 1024);
    large = gpuexec_kernel_occupancy(fn, 32, 0);
    CHECK(large >= small && large * 32 <= d.max_threads_per_multiprocessor);
    CHECK(gpuexec_kernel_occupancy(fn, 32, d.shared_per_block) < large);
    CHECK(gpuexec_kernel_occupancy(fn, 32, d.shared_per_block) >= 1);
    /* the driver checks only the low 32 bits */
    CHECK_EQ(gpuexec_kernel_occupancy(fn, 32, (size_t)-1), 0);
    CHECK_EQ(gpuexec_kernel_occupancy(fn, 32, ((size_t)1 << 31 << 1) + 64), 0);
}

/* With the flag, the numbers are the same where caching costs no occupancy. */
TEST(occupancy_with_flags) {
    const setting t = set_up(UNIT_PTX, "add", 4);
    const gpuexec_kernel none = { 0 };
    int blocks = 0, flagged = 0;
    CHECK_EQ(gpuexec_kernel_occupancy_flags(t.kernel, 64, 0, 0),
            gpuexec_kernel_occupancy(t.kernel, 64, 0));
    CHECK(gpuexec_kernel_occupancy_flags(t.kernel, 64, 0, 1) > 0);
    CHECK_EQ(gpuexec_kernel_best_block_flags(t.kernel, 0, 0, &blocks),
            gpuexec_kernel_best_block(t.kernel, 0, &flagged));
    CHECK_EQ(blocks, flagged);
    CHECK(gpuexec_kernel_best_block_flags(t.kernel, 0, 1, &flagged) > 0 && flagged > 0);
    CHECK_EQ(gpuexec_kernel_occupancy_flags(t.kernel, 64, 0, 2), -1);
    CHECK_TEXT(gpuexec_error_text(), "flags is 0x2", "CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE");
    CHECK_EQ(gpuexec_kernel_best_block_flags(t.kernel, 0, 8, NULL), -1);
    CHECK_TEXT(gpuexec_error_text(), "flags is 0x8");
    CHECK_EQ(gpuexec_kernel_occupancy_flags(none, 64, 0, 1), -1);
    CHECK_TEXT(gpuexec_error_text(), "the kernel");
    CHECK_EQ(gpuexec_kernel_best_block_flags(none, 0, 1, &blocks), -1);
    CHECK_EQ(gpuexec_kernel_occupancy_flags(t.kernel, 0, 0, 1), -1);
    CHECK_TEXT(gpuexec_error_text(), "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
            "cannot query the occupancy");
    CHECK_OK(gpuexec_take_error());
}

TEST(attributes_of_a_kernel_by_number) {
    const setting t = set_up(UNIT_PTX, "add", 4);
    gpuexec_kernel_info info;
    int value = 0;
    CHECK_OK(gpuexec_kernel_get_info(t.kernel, &info));
    CHECK_OK(gpuexec_kernel_get_attribute(t.kernel, 4, &value)); /* CU_FUNC_ATTRIBUTE_NUM_REGS */
    CHECK_EQ(value, info.registers);
    CHECK_OK(gpuexec_kernel_set_attribute(t.kernel, 9, 75)); /* the carveout */
    CHECK_OK(gpuexec_kernel_get_attribute(t.kernel, 9, &value));
    CHECK_EQ(value, 75);
    CHECK_OK(gpuexec_kernel_set_attribute(t.kernel, 9, -1));
    CHECK_OK(gpuexec_kernel_get_info(t.kernel, &info));
    CHECK_EQ(info.preferred_carveout, -1);
    /* the limit of dynamic shared memory is raised, and not lowered */
    value = (int)info.max_dynamic_shared;
    CHECK_OK(gpuexec_kernel_set_attribute(t.kernel, 8, value));
    CHECK_OK(gpuexec_kernel_set_attribute(t.kernel, 8, value + 1024));
    CHECK_OK(gpuexec_kernel_get_info(t.kernel, &info));
    CHECK_EQ(info.max_dynamic_shared, value + 1024);
    CHECK_REFUSED(gpuexec_kernel_set_attribute(t.kernel, 8, 1000), GPUEXEC_BAD_ARGUMENT,
            "cannot lower the limit on dynamic shared memory of kernel \"add\" to 1000 bytes");
    CHECK_REFUSED(gpuexec_kernel_set_attribute(t.kernel, 8, -1), GPUEXEC_BAD_ARGUMENT,
            "cannot set attribute 8 of kernel \"add\" to -1");
    CHECK_REFUSED(gpuexec_kernel_set_attribute(t.kernel, 4, 10), GPUEXEC_BAD_ARGUMENT,
            "cuFuncSetAttribute", "cannot set attribute 4 of kernel \"add\" to 10");
    CHECK_REFUSED(gpuexec_kernel_set_attribute(t.kernel, -1, 0), GPUEXEC_BAD_ARGUMENT,
            "-1 is not a valid CUfunction_attribute");
    CHECK_FAILED(gpuexec_kernel_get_attribute(t.kernel, 999, &value), GPUEXEC_BAD_ARGUMENT,
            "cannot query attribute 999 of kernel \"add\"");
    CHECK_FAILED(gpuexec_kernel_get_attribute(t.kernel, 4, NULL), GPUEXEC_BAD_ARGUMENT,
            "\"value\" is NULL");
    CHECK_OK(gpuexec_module_unload(t.mod));
    CHECK_FAILED(
            gpuexec_kernel_get_attribute(t.kernel, 4, &value), GPUEXEC_STALE_HANDLE, "the kernel");
    CHECK_REFUSED(gpuexec_kernel_set_attribute(t.kernel, 9, 1), GPUEXEC_STALE_HANDLE, "the kernel");
}

TEST(variables_of_a_module) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL),
                   other = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel bump = gpuexec_kernel_get(mod, "bump");
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    size_t counter_bytes = 0, table_bytes = 0;
    gpuexec_ptr counter = gpuexec_module_global_address(mod, "counter", &counter_bytes);
    gpuexec_ptr table = gpuexec_module_global_address(mod, "table", &table_bytes);
    gpuexec_ptr others = gpuexec_module_global_address(other, "counter", NULL);
    uint32_t words[4] = { 0 }, seven = 70, value = 0;
    CHECK(counter != 0 && table != 0 && others != 0 && others != counter);
    CHECK_EQ(counter_bytes, 4);
    CHECK_EQ(table_bytes, 16);
    gpuexec_copy_out(s, words, table, sizeof words);
    gpuexec_launch(bump, s, gpuexec_grid(1, 3, 0), GPUEXEC_NO_ARGS); /* 40 + 3 * (2 + 7) */
    gpuexec_copy_out(s, &value, counter, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(words[0] * 1000 + words[1] * 100 + words[2] * 10 + words[3], 2357);
    CHECK_EQ(value, 67);
    gpuexec_copy_in(s, table + 12, &seven, 4); /* a constant can be set between launches */
    gpuexec_launch(bump, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    gpuexec_copy_out(s, &value, counter, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(value, 67 + 72);
    /* the other module has a separate variable */
    CHECK_OK(gpuexec_copy_out_now(ctx, &value, others, 4));
    CHECK_EQ(value, 40);
    CHECK_EQ(gpuexec_module_global_address(mod, "no_such_variable", NULL), 0);
    CHECK_TEXT(gpuexec_error_text(), "no_such_variable", "GPUEXEC_NOT_FOUND");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_FOUND);
}

/* desc.name replaces the file's name in messages. */
TEST(the_name_in_messages) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_module mod;
    desc.name = "the physics kernels";
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, &desc);
    gpuexec_kernel_get(mod, "no_such_kernel");
    CHECK_TEXT(gpuexec_error_text(), "the physics kernels");
    gpuexec_take_error();
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel_get(mod, "no_such_kernel");
    CHECK_TEXT(gpuexec_error_text(), "unit.ptx");
    gpuexec_take_error();
}

TEST(options_and_the_log) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_module mod;
    desc.verbose = 1;
    desc.optimization = 2;
    desc.max_registers = 32;
    desc.line_info = 1;
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, &desc);
    CHECK_MADE(mod);
    CHECK(gpuexec_module_log(mod) != NULL);
    CHECK(gpuexec_module_jit_ms(mod) >= 0);
    check_that_it_runs(ctx, mod);
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    CHECK_STRING(gpuexec_module_log(mod), "");
}

TEST(wrong_options) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    desc.optimization = 5;
    CHECK(!gpuexec_ok(gpuexec_module_load_file(ctx, UNIT_PTX, &desc)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "optimization", "5");
    memset(&desc, 0, sizeof desc);
    desc.max_registers = -1;
    CHECK(!gpuexec_ok(gpuexec_module_load_file(ctx, UNIT_PTX, &desc)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "max_registers", "-1");
}

TEST(unloading_ends_the_kernels) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL),
                   other = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "count"),
                   others = gpuexec_kernel_get(other, "count");
    CHECK(gpuexec_ok(fn) && gpuexec_ok(others));
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK(!gpuexec_ok(mod) && !gpuexec_ok(fn) && gpuexec_ok(others));
    CHECK(gpuexec_kernel_native(fn) == NULL);
    check_that_it_runs(ctx, other);
    CHECK_OK(gpuexec_take_error());
}

TEST(adopting_modules_and_kernels) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module own = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_module mod = gpuexec_module_from_native(ctx, gpuexec_module_native(own));
    gpuexec_kernel fn = gpuexec_kernel_from_native(
            ctx, gpuexec_kernel_native(gpuexec_kernel_get(own, "count")));
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(ctx, 4);
    uint32_t word = 0;
    CHECK_MADE(mod);
    CHECK_MADE(fn);
    check_that_it_runs(ctx, mod);
    gpuexec_fill(s, p, 0, 1, 4);
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 5, 0), GPUEXEC_ARGS(p)));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 5);
    /* the driver also reports the parameters of kernels that are not from PTX */
    if (gpuexec_driver_version() >= 12040)
        CHECK_RESULT(gpuexec_launch(fn, s, gpuexec_grid(1, 5, 0), GPUEXEC_ARGS(p, word)),
                GPUEXEC_BAD_PARAMETERS);
    gpuexec_take_error();
    CHECK_OK(gpuexec_module_unload(mod)); /* closes the handle; the module stays loaded */
    check_that_it_runs(ctx, own);
}

/* Comments, names and layouts that could mislead a search for ".entry" or ".param" in the text. */
TEST(odd_but_valid_ptx) {
    static const char ptx[] = "// .version 99.9 and .entry in_a_comment(.param .u64 x)\n"
                              "/* .target sm_999\n .visible .entry in_another(.param .u8 y) */\n"
                              "\t.version\t6.0\r\n.target sm_70 // trailing\r\n.address_size 64\n"
                              ".weak .entry first_kernel ( .param .align 8 .b8 first_param [ 24 ] "
                              ", // .param .u32 no\n .param\n.u16\n"
                              "second )\n{ ret; }\n"
                              ".entry $second_kernel() .maxntid 32,1,1 .minnctapersm 2 { ret; }\n"
                              ".func helper(.param .u32 not_of_a_kernel) { ret; }\n"
                              ".visible .entry third(.param .f64 d, .param .b64 .ptr .global "
                              ".align 16 pointer){ret;}\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel_info k;
    gpuexec_kernel fn;
    gpuexec_module mod = gpuexec_module_load(ctx, ptx, 0, NULL);
    CHECK_MADE(mod);
    CHECK_EQ(gpuexec_module_kernel_count(mod), 3);
    fn = gpuexec_kernel_get(mod, "first_kernel");
    CHECK_OK(gpuexec_kernel_get_info(fn, &k));
    CHECK_EQ(k.parameters, 2);
    CHECK_EQ(gpuexec_kernel_parameter_size(fn, 0), 24);
    CHECK_EQ(gpuexec_kernel_parameter_size(fn, 1), 2);
    fn = gpuexec_kernel_get(mod, "third");
    CHECK_OK(gpuexec_kernel_get_info(fn, &k));
    CHECK_EQ(k.parameters, 2);
    CHECK_EQ(gpuexec_kernel_parameter_size(fn, 0), 8);
    CHECK_EQ(gpuexec_kernel_parameter_size(fn, 1), 8);
    CHECK_MADE(gpuexec_kernel_get(mod, "$second_kernel"));
    gpuexec_take_error();
}

/* A multi-device launch compares this hash: it depends only on the bytes, not on how they were
   loaded. */
TEST(the_hash_of_an_image) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t bytes = 0;
    char *text = file_text(UNIT_PTX, &bytes);
    gpuexec_module by_nul = gpuexec_module_load(ctx, text, 0, NULL),
                   by_bytes = gpuexec_module_load(ctx, text, bytes, NULL),
                   by_file = gpuexec_module_load_file(ctx, UNIT_PTX, NULL),
                   other = gpuexec_module_load_file(ctx, FAULTS_PTX, NULL),
                   adopted = gpuexec_module_from_native(ctx, gpuexec_module_native(by_nul));
    uint64_t hash = gxi_peek(by_nul.id, GXI_MODULE)->data.module.info->image_hash;
    CHECK(gxi_hash_bytes("foobar", 6) == 0x85944171F73967E8u); /* FNV-1a's published test vector */
    CHECK(hash == gxi_hash_bytes(text, bytes));
    CHECK(gxi_peek(by_bytes.id, GXI_MODULE)->data.module.info->image_hash == hash);
    CHECK(gxi_peek(by_file.id, GXI_MODULE)->data.module.info->image_hash == hash);
    CHECK(gxi_peek(other.id, GXI_MODULE)->data.module.info->image_hash != hash);
    CHECK(gxi_peek(adopted.id, GXI_MODULE)->data.module.info->image_hash == 0);
    free(text);
}

TEST(kernels_that_launch_kernels_are_seen) {
    static const char plain[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".visible .entry e() { ret; } // cudaCDP2Launch\n";
    static const char launches[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                   ".visible .entry e() { ret; } // __cudaCDP2LaunchDeviceV2\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_EQ(gxi_peek(gpuexec_module_load(ctx, plain, 0, NULL).id, GXI_MODULE)
                     ->data.module.info->device_launches,
            0);
    CHECK_EQ(gxi_peek(gpuexec_module_load(ctx, launches, 0, NULL).id, GXI_MODULE)
                     ->data.module.info->device_launches,
            1);
}

/* --- variables by value ----------------------------------------------------------------------- */

TEST(variables_of_two_modules_side_by_side) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module a = gpuexec_module_load_file(ctx, UNIT_PTX, NULL),
                   b = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    uint32_t table[4] = { 20, 30, 50, 70 }, seen[4] = { 0 }, word = 1000, more = 0;
    CHECK_OK(gpuexec_module_write_global(a, "table", table, sizeof table)); /* a constant */
    CHECK_OK(gpuexec_module_write_global(a, "counter", &word, sizeof word));
    CHECK_OK(gpuexec_module_read_global(a, "table", seen, sizeof seen));
    CHECK(memcmp(seen, table, sizeof seen) == 0);
    /* the other module's is unchanged */
    CHECK_OK(gpuexec_module_read_global(b, "table", seen, sizeof seen));
    CHECK(seen[0] == 2 && seen[3] == 7);
    gpuexec_launch(gpuexec_kernel_get(a, "bump"), s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    gpuexec_launch(gpuexec_kernel_get(b, "bump"), s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_module_read_global(a, "counter", &word, sizeof word));
    CHECK_OK(gpuexec_module_read_global(b, "counter", &more, sizeof more));
    CHECK_EQ(word, 1000 + 20 + 70);
    CHECK_EQ(more, 40 + 2 + 7);
    word = 5; /* a part of a variable: by its address */
    CHECK_OK(gpuexec_copy_in_now(ctx, gpuexec_module_global_address(b, "table", NULL), &word, 4));
    CHECK_OK(gpuexec_module_read_global(b, "table", seen, sizeof seen));
    CHECK(seen[0] == 5 && seen[1] == 3);
}

TEST(variables_that_do_not_fit) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL), none = { 0 };
    uint32_t words[8] = { 0 };
    CHECK_REFUSED(gpuexec_module_write_global(mod, "table", words, sizeof words),
            GPUEXEC_BAD_ARGUMENT, "variable \"table\"", "unit.ptx", "is 16 bytes",
            "but the copy is 32 bytes");
    CHECK_REFUSED(gpuexec_module_write_global(mod, "table", words, 12), GPUEXEC_BAD_ARGUMENT,
            "is 16 bytes", "but the copy is 12 bytes");
    CHECK_CURE();
    CHECK_REFUSED(gpuexec_module_write_global(mod, "table", words, 0), GPUEXEC_BAD_ARGUMENT,
            "but the copy is 0 bytes");
    CHECK_REFUSED(gpuexec_module_read_global(mod, "table", words, 17), GPUEXEC_BAD_ARGUMENT,
            "is 16 bytes", "but the copy is 17 bytes");
    CHECK_REFUSED(gpuexec_module_write_global(mod, "tabel", words, 4), GPUEXEC_NOT_FOUND,
            "no variable \"tabel\"");
    CHECK_REFUSED(gpuexec_module_write_global(mod, "table", NULL, 4), GPUEXEC_BAD_ARGUMENT,
            "host memory for variable \"table\" is NULL");
    CHECK_REFUSED(gpuexec_module_read_global(mod, "table", NULL, 4), GPUEXEC_BAD_ARGUMENT,
            "host memory for variable \"table\" is NULL");
    CHECK_REFUSED(
            gpuexec_module_read_global(mod, NULL, words, 4), GPUEXEC_BAD_ARGUMENT, "name is NULL");
    CHECK_REFUSED(gpuexec_module_write_global(none, "table", words, 4), GPUEXEC_BAD_HANDLE,
            "the module was never created");
    gpuexec_kernel_get(mod, "no_such_kernel");
    /* work is refused while a failure is latched */
    CHECK_REFUSED(gpuexec_module_write_global(mod, "table", words, 4), GPUEXEC_NOT_FOUND,
            "no_such_kernel", "because of this failure, gpuexec_module_write_global");
    CHECK_OK(gpuexec_module_read_global(mod, "table", words, 16));
    CHECK_EQ(words[0], 2);
}

/* --- more about kernels ----------------------------------------------------------------------- */

TEST(did_you_mean) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    CHECK_TEXT(gpuexec_why(gpuexec_kernel_get(mod, "cuont")), "no kernel \"cuont\"",
            "cure: use \"count\", if");
    CHECK_TEXT(gpuexec_why(gpuexec_kernel_get(mod, "with_static_share")),
            "use \"with_static_shared\", if");
    CHECK(strstr(gpuexec_why(gpuexec_kernel_get(mod, "multiply")), "the kernel you mean") == NULL);
    CHECK_EQ(gxi_edit_distance("kitten", "sitting"), 3);
    CHECK_EQ(gxi_edit_distance("", "abc"), 3);
    CHECK_EQ(gxi_edit_distance("same", "same"), 0);
    gpuexec_take_error();
}

/* The mangled form of the name comes before a similar name: with that, another kernel would be
   launched. */
TEST(a_mangled_name_comes_first) {
    static const char text[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry k() { ret; }\n.visible .entry _Z2nkPf(.param .u64 p) { ret; }\n";
    gpuexec_module mod = gpuexec_module_load(gpuexec_context_open(0, NULL), text, 0, NULL);
    CHECK_TEXT(gpuexec_why(gpuexec_kernel_get(mod, "nk")), "cure: ", "mangled name: \"_Z2nkPf\"",
            "extern \"C\"");
}

TEST(more_kernel_information) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel_info k;
    gpuexec_device_info d;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(mod, "with_static_shared"), &k));
    CHECK_EQ(k.max_dynamic_shared, d.shared_per_block - 1024);
    CHECK(k.cache_mode_ca == 0 || k.cache_mode_ca == 1);
    CHECK_EQ(k.preferred_carveout, -1);
    CHECK_EQ(k.cluster_must_be_set, 0);
    CHECK_EQ(k.required_cluster[0] + k.required_cluster[1] + k.required_cluster[2], 0);
    CHECK_EQ(k.non_portable_cluster_allowed, 0);
}

TEST(preferences_of_a_kernel) {
    gpuexec_kernel fn = set_up(UNIT_PTX, "count", 0).kernel, none = { 0 };
    gpuexec_kernel_info k;
    int percent, prefer;
    for (percent = -1; percent <= 100; percent += 101) {
        CHECK_OK(gpuexec_kernel_set_carveout(fn, percent));
        CHECK_OK(gpuexec_kernel_get_info(fn, &k));
        CHECK_EQ(k.preferred_carveout, percent);
    }
    CHECK_OK(gpuexec_kernel_set_carveout(fn, 50));
    CHECK_REFUSED(
            gpuexec_kernel_set_carveout(fn, 101), GPUEXEC_BAD_ARGUMENT, "101 percent", "0 to 100");
    CHECK_REFUSED(gpuexec_kernel_set_carveout(fn, -2), GPUEXEC_BAD_ARGUMENT, "-2 percent");
    CHECK_REFUSED(gpuexec_kernel_set_carveout(none, 1), GPUEXEC_BAD_HANDLE, "the kernel");
    CHECK_OK(gpuexec_kernel_get_info(fn, &k));
    CHECK_EQ(k.preferred_carveout, 50);
    for (prefer = GPUEXEC_CACHE_NO_PREFERENCE; prefer <= GPUEXEC_CACHE_PREFER_EQUAL; prefer++)
        CHECK_OK(gpuexec_kernel_set_cache(fn, (gpuexec_cache)prefer));
    CHECK_REFUSED(gpuexec_kernel_set_cache(fn, (gpuexec_cache)4), GPUEXEC_BAD_ARGUMENT, "4",
            "GPUEXEC_CACHE_PREFER_EQUAL");
    CHECK_REFUSED(gpuexec_kernel_set_cache(none, GPUEXEC_CACHE_PREFER_L1), GPUEXEC_BAD_HANDLE,
            "the kernel");
}

TEST(the_best_block) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module faults = gpuexec_module_load_file(ctx, FAULTS_PTX, NULL);
    gpuexec_kernel fn = gpuexec_kernel_get(gpuexec_module_load_file(ctx, UNIT_PTX, NULL), "count"),
                   none = { 0 };
    gpuexec_device_info d;
    int blocks = 0, threads = gpuexec_kernel_best_block(fn, 0, &blocks);
    CHECK_OK(gpuexec_device_get_info(0, &d));
    CHECK(threads >= d.warp_size && threads <= d.max_threads_per_block &&
            threads % d.warp_size == 0);
    CHECK_EQ(gpuexec_kernel_occupancy(fn, (unsigned)threads, 0) * threads,
            d.max_threads_per_multiprocessor);
    CHECK_EQ(blocks, gpuexec_kernel_occupancy(fn, (unsigned)threads, 0) * d.multiprocessors);
    threads = gpuexec_kernel_best_block(gpuexec_kernel_get(faults, "count_at_most_64"), 0, NULL);
    CHECK(threads > 0 && threads <= 64);
    CHECK_EQ(gpuexec_kernel_best_block(none, 0, &blocks), -1);
    CHECK_EQ(blocks, 0);
}

/* --- options and logs ------------------------------------------------------------------------- */

TEST(every_option_is_checked) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char wanted[200];
    int i;
    for (i = 0; i < GXI_JIT_ROWS; i++) {
        const gxi_jit_row *row = &gxi_jit_rows[i];
        gpuexec_module_desc desc = { 0 };
        int value = row->low - 1;
        memcpy((char *)&desc + row->at, &value, sizeof value);
        snprintf(wanted, sizeof wanted, "gpuexec_module_desc.%s is %d; it must be ", row->name,
                value);
        CHECK_NOT_MADE(
                gpuexec_module_load_file(ctx, UNIT_PTX, &desc), GPUEXEC_BAD_ARGUMENT, wanted);
        if (row->high == 0x7FFFFFFF) continue;
        value = row->high + 1;
        memcpy((char *)&desc + row->at, &value, sizeof value);
        snprintf(wanted, sizeof wanted,
                "gpuexec_module_desc.%s is %d; it must be %s%d %s %d, and 0 means the default",
                row->name, value, row->high == 1 ? "" : "from ", row->low,
                row->high == 1 ? "or" : "to", row->high);
        CHECK_NOT_MADE(
                gpuexec_module_load_file(ctx, UNIT_PTX, &desc), GPUEXEC_BAD_ARGUMENT, wanted);
    }
}

TEST(options_that_compile) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_device_info d;
    gpuexec_module mod;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    desc.threads_per_block = 256;
    desc.optimization = -1;
    desc.cache_mode = 2;
    desc.prefer_binary = 1;
    desc.debug_info = desc.line_info = 1;
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, &desc);
    check_that_it_runs(ctx, mod);
    CHECK(gpuexec_module_threads_per_block(mod) >= 256);
    desc.target = d.compute_capability;
    CHECK_NOT_MADE(gpuexec_module_load_file(ctx, UNIT_PTX, &desc), GPUEXEC_BAD_ARGUMENT,
            "both target", "threads_per_block (256)");
    memset(&desc, 0, sizeof desc);
    desc.target = d.compute_capability;
    mod = gpuexec_module_load_file(ctx, UNIT_PTX, &desc);
    check_that_it_runs(ctx, mod);
    CHECK_EQ(gpuexec_module_threads_per_block(mod), 0);
    if (gpuexec_driver_version() < 13000) SKIP("some options need a driver of CUDA 13");
    memset(&desc, 0, sizeof desc);
    desc.position_independent = 1;
    desc.min_blocks = 2;
    desc.max_block_threads = 128;
    desc.override_directives = 1;
    desc.compile_threads = -1;
    check_that_it_runs(ctx, gpuexec_module_load_file(ctx, UNIT_PTX, &desc));
}

/* Longer than the first buffer, whatever its size: nothing is truncated. */
TEST(a_long_verbose_log_is_complete) {
    enum { kernels = 400 };
    static char ptx[60000], line[64];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_module mod;
    int i, found = 0;
    size_t at = (size_t)sprintf(ptx,
            "// %ld %ld\n.version 7.0\n.target sm_70\n"
            ".address_size 64\n",
            (long)time(NULL), (long)getpid());
    for (i = 0; i < kernels; i++)
        at += (size_t)sprintf(
                ptx + at, ".visible .entry kernel_with_a_long_name_%d() { ret; }\n", i);
    desc.verbose = 1; /* never compiled before: a cached image has no log */
    mod = gpuexec_module_load(ctx, ptx, 0, &desc);
    CHECK_MADE(mod);
    for (i = 0; i < kernels; i++) {
        snprintf(line, sizeof line, "'kernel_with_a_long_name_%d'", i);
        if (strstr(gpuexec_module_log(mod), line)) found++;
    }
    CHECK_EQ(found, kernels);
    CHECK(strlen(gpuexec_module_log(mod)) > 16384);
}

/* Names of C++ kernels with templates may be this long. */
TEST(a_verbose_log_has_long_names_in_full) {
    enum { length = 3000 };
    static char ptx[2 * length], name[length + 1], line[length + 64];
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_module mod;
    memset(name, 'k', length);
    snprintf(ptx, sizeof ptx,
            "// %ld %ld\n.version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry %s() { ret; }\n",
            (long)time(NULL), (long)getpid(), name);
    snprintf(line, sizeof line, "entry function '%s' for 'sm_", name);
    desc.verbose = 1;
    mod = gpuexec_module_load(ctx, ptx, 0, &desc);
    CHECK_MADE(mod);
    CHECK(strstr(gpuexec_module_log(mod), line) != NULL);
}

/* How the buffers grow: a full one is made four times as large, up to the limit. */
TEST(full_logs_are_seen) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gxi_jit jit;
    gxi_call call = { "test", NULL, GXI_MAKES, 0, NULL, 0, NULL, NULL, 0, NULL, 0 };
    char *text;
    CHECK_MADE(ctx);
    memset(&jit, 0, sizeof jit);
    CHECK_OK(gxi_jit_make(&call, &jit, &desc));
    CHECK_EQ(jit.size, 16384);
    CHECK(!gxi_jit_is_cut(&jit));
    memset(jit.logs + jit.size, 'x', jit.size);
    CHECK(gxi_jit_is_cut(&jit));
    CHECK_OK(gxi_jit_make(&call, &jit, &desc));
    CHECK_EQ(jit.size, 65536);
    CHECK(!gxi_jit_is_cut(&jit));
    memset(jit.logs, 'x', jit.size);
    CHECK(gxi_jit_is_cut(&jit));
    strcpy(jit.logs, "a note\n");
    strcpy(jit.logs + jit.size, "an error");
    text = gxi_jit_log(&jit); /* a failure's text has both */
    CHECK_STRING(text, "an error\na note\n");
    gxi_free(text);
    gxi_free(jit.logs);
}

/* --- wrong images ----------------------------------------------------------------------------- */

TEST(wrong_images) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    unsigned char cubin[128] = "\x7F"
                               "ELF\2\1\1",
                  fatbin[128] = "\x50\xED\x55\xBA\1\0\x10";
    cubin[18] = 190;  /* EM_CUDA */
    cubin[41] = 0x10; /* sections at 4096 */
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, sizeof cubin, NULL), GPUEXEC_BAD_IMAGE,
            "the image is a truncated cubin: it is 128 bytes long, but", "4096", "cure:");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, 30, NULL), GPUEXEC_BAD_IMAGE,
            "is a truncated cubin: it is 30 bytes long");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, 10, NULL), GPUEXEC_BAD_IMAGE, "ELF file");
    cubin[18] = 62; /* EM_X86_64 */
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, sizeof cubin, NULL), GPUEXEC_BAD_IMAGE,
            "an ELF file, but not a cubin", "nvcc");
    fatbin[8] = 200;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, fatbin, sizeof fatbin, NULL), GPUEXEC_BAD_IMAGE,
            "is a truncated fatbin: it is 128 bytes long, but", "216");
    fatbin[8] = 64; /* one part of LTO-IR */
    fatbin[16] = 8;
    fatbin[20] = 64;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, fatbin, sizeof fatbin, NULL), GPUEXEC_BAD_IMAGE,
            "is LTO-IR, which must be linked", "gpuexec_linker_add");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, "!<arch>\nabc", 11, NULL), GPUEXEC_BAD_IMAGE,
            "a library of host objects", "gpuexec_linker_add_file");
    CHECK_NOT_MADE(gpuexec_module_load(ctx,
                           "\xED\x43\x4E\x7F"
                           "abc",
                           7, NULL),
            GPUEXEC_BAD_IMAGE, "LTO-IR");
    memcpy(cubin + 64, fatbin, 64); /* a host object with a fatbin in it */
    cubin[72] = 40;
    cubin[80] = 2;
    cubin[84] = 40;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, sizeof cubin, NULL), GPUEXEC_BAD_IMAGE,
            "a host object", "gpuexec_linker_add_file");
    check_that_it_runs(ctx, gpuexec_module_load_file(ctx, UNIT_PTX, NULL));
}

/* Lengths in headers can have any value: nothing is read past the given bytes, which an address
   sanitizer would detect, and no sum overflows to a small value. */
static void put_le(unsigned char *at, int bytes, uint64_t x) {
    for (; bytes--; x >>= 8) *at++ = (unsigned char)x;
}
TEST(lengths_that_no_memory_holds) {
    static const uint64_t lengths[] = { UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 63,
        (uint64_t)1 << 63, (uint64_t)1 << 62 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker linker = gpuexec_linker_create(ctx, NULL);
    unsigned short sizes[2], offsets[2], types[2];
    size_t i;
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char *cubin = (unsigned char *)calloc(1, 128),
                      *fatbin = (unsigned char *)calloc(1, 128);
        memcpy(cubin,
                "\x7F"
                "ELF\2\1\1",
                7);
        cubin[18] = 190;
        put_le(cubin + 40, 8, lengths[i]);
        put_le(cubin + 58, 2, 64); /* a table of 20 sections */
        put_le(cubin + 60, 2, 20);
        memcpy(fatbin, "\x50\xED\x55\xBA\1\0\x10", 7);
        put_le(fatbin + 8, 8, lengths[i]);
        CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, 128, NULL), GPUEXEC_BAD_IMAGE,
                "the image is a truncated cubin: it is 128 bytes long, but");
        CHECK_NOT_MADE(gpuexec_module_load(ctx, fatbin, 128, NULL), GPUEXEC_BAD_IMAGE,
                "the image is a truncated fatbin: it is 128 bytes long, but");
        if (lengths[i] > SIZE_MAX / 2 - 1) {
            CHECK_NOT_MADE(gpuexec_module_load(ctx, cubin, 0, NULL), GPUEXEC_BAD_IMAGE,
                    "the image is a cubin with a damaged header", "more than memory can hold");
            CHECK_NOT_MADE(gpuexec_module_load(ctx, fatbin, 0, NULL), GPUEXEC_BAD_IMAGE,
                    "the image is a fatbin with a damaged header", "pass its length");
            CHECK_RESULT(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, fatbin, 0, "part"),
                    GPUEXEC_BAD_IMAGE);
            CHECK_TEXT(gpuexec_error_text(), "\"part\" is a fatbin with a damaged header");
            CHECK_REFUSED(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, cubin, 0, NULL),
                    GPUEXEC_BAD_IMAGE, "the input is a cubin with a damaged header");
        }
        /* sizes that overflow to 16 must not cause an endless loop or a read past the end */
        put_le(fatbin + 8, 8, 112);
        put_le(fatbin + 16, 2, 2);
        put_le(fatbin + 20, 4, 32);
        put_le(fatbin + 24, 8, lengths[i]);
        CHECK_EQ(gxi_fatbin_parts(fatbin, fatbin + 128), 1);
        free(cubin);
        free(fatbin);
    }
    CHECK_NOT_MADE(gpuexec_module_load(ctx, "text", SIZE_MAX, NULL), GPUEXEC_BAD_ARGUMENT,
            "the length of the image is", "pass its length in bytes");
    CHECK_RESULT(gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, "text", SIZE_MAX - 1, "part"),
            GPUEXEC_BAD_ARGUMENT);
    CHECK_TEXT(gpuexec_error_text(), "the length of \"part\" is", "pass its length in bytes");
    CHECK_EQ(gxi_ptx_params(
                     "(.param .align 8 .b64 a[0x2000000000000001])", sizes, offsets, types, 2),
            -1);
    CHECK_EQ(gxi_ptx_params("(.param .align 0xFFFFFFFFFFFFFFFF .b8 a[4], .param .u32 b)", sizes,
                     offsets, types, 2),
            -1);
    gpuexec_take_error();
}
TEST(headers_of_any_kind) {
    static const char *const magics[] = { "\x50\xED\x55\xBA",
        ("\x7F"
         "ELF"),
        "!<arch>\n", "\xB1\x43\x62\x46", "\xED\x43\x4E\x7F", "" };
    uint32_t state = 1;
    size_t i, k;
    GXI_CALL_NO_PLACE(headers_of_any_kind, GXI_QUERIES);
    for (i = 0; i < 20000; i++) {
        size_t n = 1 + test_random(&state) % 160, magic = strlen(magics[i % 6]);
        unsigned char *image = (unsigned char *)malloc(n);
        gxi_image_kind kind;
        for (k = 0; k < n; k++) {
            uint32_t x = test_random(&state);
            image[k] = (unsigned char)(x & 256 ? x : x & 512 ? 0 : 255);
        }
        memcpy(image, magics[i % 6], magic < n ? magic : n);
        if (i % 6 == 0 && n > 16) put_le(image + 4, 4, 0x100001);
        if (i % 6 == 0 && n > 16 && i & 64) put_le(image + 8, 8, test_random(&state) % n);
        if (i % 6 == 1 && n > 20 && i & 64) put_le(image + 18, 2, 190);
        kind = gxi_image_kind_of(image, n);
        if (gxi_check_image(call, "the image", image, &n, kind) == GPUEXEC_OK &&
                (kind == GXI_CUBIN || kind == GXI_FATBIN))
            CHECK(gxi_starts_with(image, n, GXI_FATBIN_WRAPPER_MAGIC) ||
                    gxi_image_bytes(image) <= n);
        free(image);
    }
}

/* The results of nvcc's ptxas, which is the same compiler as the driver's. */
TEST(parameters_that_cannot_be) {
    static const struct {
        const char *list, *says;
    } wrong[] = {
        { ".param .u32 a[2][2]", "near '['" },
        { ".param .v2 .u32 a", "cannot be allocated in .param state space" },
        { ".param .u32 a[]", "cannot be an incomplete array" },
        { ".param .u32 a[0], .param .u32 b", "incomplete array" },
        { ".param .pred a", "must be in register state space" },
        { ".reg .u32 a", "must have .param state space" },
    };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char text[200];
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text,
                ".version 7.0\n.target sm_70\n.address_size 64\n"
                ".entry e(%s) { ret; }\n",
                wrong[i].list);
        CHECK_NOT_MADE(gpuexec_module_load(ctx, text, 0, NULL), GPUEXEC_BAD_IMAGE, "line 4",
                wrong[i].says);
    }
}

TEST(a_section_needs_an_opening_brace) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(gpuexec_module_load(ctx,
                           ".version 7.0\n.target sm_70\n.address_size 64\n.section .debug_x\n}\n"
                           ".entry e() { ret; }\n",
                           0, NULL),
            GPUEXEC_BAD_IMAGE, "line 5", "near '}'");
}

/* Loads the text between a header and an entry: NULL if ptxas 13.0 accepts it, or its words. */
typedef struct declaration {
    const char *text, *says;
} declaration;
static void check_declarations(const declaration *cases, size_t n) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char text[300];
    size_t i;
    for (i = 0; i < n; i++) {
        snprintf(text, sizeof text,
                ".version 7.0\n.target sm_70\n.address_size 64\n%s\n.entry e() { ret; }\n",
                cases[i].text);
        if (cases[i].says)
            CHECK_NOT_MADE(
                    gpuexec_module_load(ctx, text, 0, NULL), GPUEXEC_BAD_IMAGE, cases[i].says);
        else CHECK_MADE(gpuexec_module_load(ctx, text, 0, NULL));
    }
}

TEST(names_declared_twice) {
    static const declaration cases[] = {
        { ".extern .global .b8 x[]; .extern .global .b8 x[2]; .visible .global .b8 x[2];", NULL },
        { ".visible .global .b8 x[2]; .extern .global .b8 x[];", NULL },
        { ".extern .global .b8 x[2]; .visible .global .b8 x[] = {1, 2};", NULL },
        { ".extern .global .b8 x[2]; .weak .global .align 8 .b8 x[2];", NULL },
        { ".visible .func x(); .func x() { ret; }", NULL },
        { ".extern .func x(); .extern .func x();", NULL },
        { ".weak .global .b8 x[2]; .weak .global .b8 x[2];",
                "Duplicate definition of variable 'x'" },
        { ".weak .global .b8 x[9] = {1,1,1,1,1,1,1,1,1}; .weak .global .b8 x = 1;",
                "Inconsistent redefinition" },
        { ".extern .global .b8 x[3]; .visible .global .b8 x[2];",
                "Inconsistent redefinition of variable 'x'" },
        { ".extern .global .b8 x[2]; .visible .global .u8 x[2];",
                "Inconsistent redefinition of variable 'x'" },
        { ".extern .global .b8 x[4]; .visible .global .b8 x[2][2];",
                "Inconsistent redefinition of variable 'x'" },
        { ".extern .global .b8 x[2]; .global .b8 x[2];",
                "'.extern' variable 'x' cannot be resolved by a '.static'" },
        { ".extern .global .b8 x[];", "Unresolved extern variable 'x'" },
        { ".func x();", "Unresolved extern function 'x'" },
        { ".extern .func x(); .visible .func x() { ret; }",
                "Function definition conflicts with '.extern'" },
        { ".visible .func x() { ret; } .visible .func x();",
                "Duplicate definition of function 'x'" },
        { ".func x(); .visible .func x() { ret; }", "Inconsistent redefinition of variable 'x'" },
        { ".visible .func x(); .visible .entry x() { ret; }",
                "redefinition of 'x' as entry and function" },
        { ".global .b8 x; .func x() { ret; }", "Inconsistent redefinition of symbol 'x'" },
    };
    check_declarations(cases, sizeof cases / sizeof *cases);
}

TEST(declarations) {
    static const declaration cases[] = {
        { ".align 8 .global .u32 x;", NULL },
        { ".visible .align 4 .attribute(.managed) .global .v2 .u32 x;", NULL },
        { ".entry f(.param .b8 x[4352]) { ret; }", NULL },
        { ".func f() .noreturn { trap; }", NULL },
        { ".pragma \"nounroll\";", NULL },
        { ".global .u32; .entry f() { .f32; ret; }", NULL },
        { ".global .u32 .align 8 x;", "near '.align'" },
        { ".align 8 .u32 x;", "No variable storage specified" },
        { ".global .v4 .f64 x;", "Vector type too large" },
        { ".global .b128 x;", "Feature 'Type .b128' requires PTX ISA .version 8.3 or later" },
        { ".shared .attribute(.managed) .u32 x;", "Illegal attribute '.managed' for symbol 'x'" },
        { ".global .attribute(.other) .u32 x;", "near '.other'" },
        { ".global .u32 WARP_SZ;", "near 'WARP_SZ'" },
        { ".func (.param .u32 a, .param .u32 b) f() { ret; }", "Multiple return parameters" },
        { ".entry f() .maxntid 4, 0 { ret; }", "Positive non-zero value expected for maxntid" },
        { ".entry f() .maxnctapersm 1 { ret; }", "Deprecated feature" },
        { ".entry f() .noreturn { trap; }", "near '.noreturn'" },
        { ".entry f() .maxntid 4; .entry f() { ret; }", "near ';'" },
        { ".entry f(.param .b8 x[4353]) { ret; }",
                "uses too much parameter space (0x1101 bytes, 0x1100 max)" },
        { ".pragma \"x\";", "Pragma 'x' not supported" },
        { ".pragma \"used_bytes_mask 1\";", "allowed only within function scope" },
        { ".loc 1 2 3", "near '.loc'" },
        { ".entry f() { .file 1 \"x\" ret; }", "near '.file'" },
    };
    check_declarations(cases, sizeof cases / sizeof *cases);
}

TEST(versions_and_targets) {
    static const struct {
        const char *head;
        gpuexec_result result;
        const char *says;
    } cases[] = {
        { ".version 7.9\n.target sm_70", GPUEXEC_IMAGE_TOO_NEW, "Unsupported .version 7.9" },
        { ".version 8.0\n.target sm_75a", GPUEXEC_BAD_IMAGE, "Unsupported .target 'sm_75a'" },
        { ".version 8.0\n.target sm_90f", GPUEXEC_BAD_IMAGE, "Unsupported .target 'sm_90f'" },
    };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char text[200];
    size_t i;
    if (gpuexec_driver_version() < 12080) SKIP("the driver does not know these");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s\n.address_size 64\n.entry e() { ret; }\n", cases[i].head);
        CHECK_NOT_MADE(gpuexec_module_load(ctx, text, 0, NULL), cases[i].result, cases[i].says);
    }
}

/* wgmma is for sm_90a only, as ptxas says; there, the CPU device names what it lacks. */
TEST(products_of_warpgroups) {
    static const struct {
        const char *target, *code, *says;
    } cases[] = {
        { "sm_90a", "wgmma.fence.sync.aligned",
                "line 5; error   : Instruction "
                "'wgmma.fence.sync.aligned' is not supported by this CPU device" },
        { "sm_90a",
                "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16 {%a}, %d, %d, 1, 1, 1, 0, 0",
                "Instruction 'wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16' is not supported "
                "by this CPU device" },
        { "sm_90", "wgmma.commit_group.sync.aligned",
                "Instruction 'wgmma.commit_group' not supported on .target 'sm_90'" },
        { "sm_90", "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%a}, %d, %d, 1",
                "Instruction 'wgmma.mma_async with integer types' not supported on .target "
                "'sm_90'" },
        { "sm_90a", "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%a}, %d, %d, 1",
                "Unknown modifier '.m64n12k16'" },
    };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char text[400];
    size_t i;
    if (!on_cpu_device()) SKIP("a GPU has these instructions");
    if (gpuexec_driver_version() < 12000) SKIP("the driver does not know PTX 8.0");
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                ".version 8.0\n.target %s\n.address_size 64\n"
                ".entry e() { .reg .f32 %%a; .reg .b64 %%d;\n%s; ret; }\n",
                cases[i].target, cases[i].code);
        CHECK_NOT_MADE(gpuexec_module_load(ctx, text, 0, NULL), GPUEXEC_BAD_IMAGE, cases[i].says);
    }
}

/* The CPU device knows the instructions of PTX 9.0 and a few newer ones; of the others it says
   whose they are. */
TEST_ALONE(instructions_newer_than_ptx_9_0) {
    static const struct {
        const char *version, *code, *says;
    } cases[] = {
        { "9.1", "ld.volatile.local.u32 %a, [%at]", NULL },
        { "9.0", "ld.volatile.local.u32 %a, [%at]",
                "Feature 'ld/st with .local.volatile' requires PTX ISA .version 9.1 or later" },
        { "9.3", "clmad.lo.u64 %at, %at, %at, %at", NULL },
        { "9.2", "clmad.hi.u64 %at, %at, %at, %at", "requires PTX ISA .version 9.3 or later" },
        { "9.4", "frobnicate.a.b %a, %a",
                "Instruction 'frobnicate.a.b' of PTX ISA 9.4 is not supported by this CPU device, "
                "which has those of 9.0" },
        { "9.4", "add.u8 %a, %a, %a",
                "Instruction 'add.u8' of PTX ISA 9.4 is not supported by this CPU device" },
        { "9.0", "add.u8 %a, %a, %a", "Unexpected instruction types specified for 'add'" },
    };
    size_t i;
    if (!on_cpu_device()) SKIP("a driver older than CUDA 13.5 does not know these");
    CHECK(setenv("SIMGPU_DRIVER_VERSION", "13050", 1) == 0);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpuexec_context ctx = gpuexec_context_open(0, NULL);
        gpuexec_module mod;
        char text[300];
        snprintf(text, sizeof text,
                ".version %s\n.target sm_90\n.address_size 64\n"
                ".entry e() { .reg .u32 %%a; .reg .u64 %%at; %s; ret; }\n",
                cases[i].version, cases[i].code);
        mod = gpuexec_module_load(ctx, text, 0, NULL);
        if (cases[i].says) CHECK_NOT_MADE(mod, GPUEXEC_BAD_IMAGE, cases[i].says);
        else CHECK_MADE(mod);
    }
}

/* clmad: a product without carries, its lower or upper 64 bits, and an exclusive or */
TEST_ALONE(products_without_carries) {
    uint64_t result[2] = { 0 };
    gpuexec_context ctx;
    gpuexec_stream stream;
    gpuexec_ptr data;
    if (!on_cpu_device()) SKIP("a driver older than CUDA 13.3 does not know clmad");
    CHECK(setenv("SIMGPU_DRIVER_VERSION", "13030", 1) == 0);
    ctx = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(ctx, NULL);
    data = gpuexec_alloc(ctx, sizeof result);
    CHECK_OK(gpuexec_launch(
            gpuexec_kernel_get(gpuexec_module_load(ctx,
                                       ".version 9.3\n.target sm_90\n.address_size 64\n.visible "
                                       ".entry e(.param .u64 to) {\n"
                                       "    .reg .u64 %to, %x, %y, %z;\n    ld.param.u64 %to, "
                                       "[to];\n    mov.u64 %x, 0xC000000000000003;\n"
                                       "    mov.u64 %y, 7;\n    mov.u64 %z, 16;\n    clmad.lo.u64 "
                                       "%z, %x, %y, %z;\n    st.global.u64 [%to], %z;\n"
                                       "    clmad.hi.u64 %z, %x, %y, 16;\n    st.global.u64 "
                                       "[%to+8], %z;\n    ret;\n}\n",
                                       0, NULL),
                    "e"),
            stream, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(data)));
    CHECK_OK(gpuexec_copy_out(stream, result, data, sizeof result));
    CHECK_OK(gpuexec_stream_sync(stream));
    CHECK_EQ(result[0], 0x4000000000000009 ^ 16);
    CHECK_EQ(result[1], 2 ^ 16);
}

TEST(wrapped_images) {
    static unsigned char fatbin[80] = "\x50\xED\x55\xBA\1\0\x10", pair[48];
    struct {
        unsigned magic, version;
        const void *data;
        void *unused;
    } wrapper = { 0x466243B1u, 1, NULL, NULL };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    wrapper.data = fatbin;
    fatbin[8] = 64;
    fatbin[16] = 8;
    fatbin[20] = 64; /* one part of LTO-IR, found through the pointer; the length is the fatbin's */
    CHECK_NOT_MADE(gpuexec_module_load(ctx, &wrapper, 0, NULL), GPUEXEC_BAD_IMAGE, "LTO-IR");
    CHECK_NOT_MADE(
            gpuexec_module_load(ctx, &wrapper, sizeof wrapper, NULL), GPUEXEC_BAD_IMAGE, "LTO-IR");
    /* two of them, as a file can have, whose pointers are invalid */
    memcpy(pair, &wrapper, sizeof wrapper);
    memset(pair + 8, 0x11, 8);
    CHECK_NOT_MADE(gpuexec_module_load(ctx, pair, sizeof pair, NULL), GPUEXEC_BAD_IMAGE,
            "is the wrapper that nvcc puts around a fatbin");
    CHECK_NOT_MADE(gpuexec_module_load(ctx, &wrapper, 6, NULL), GPUEXEC_BAD_IMAGE,
            "is a truncated fatbin: it is 6 bytes long");
    wrapper.data = NULL;
    CHECK_NOT_MADE(
            gpuexec_module_load(ctx, &wrapper, 0, NULL), GPUEXEC_BAD_ARGUMENT, "the image is NULL");
    CHECK_REFUSED(gpuexec_linker_add(gpuexec_linker_create(ctx, NULL), GPUEXEC_INPUT_AUTO, &wrapper,
                          sizeof wrapper, "wrapped"),
            GPUEXEC_BAD_ARGUMENT, "the data of \"wrapped\" is NULL");
}

/* What a driver would do with the second text: nothing, without a word. */
TEST(texts_after_a_nul) {
    static const char two[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry a() { ret; }\n\0"
            ".visible .entry b() { ret; }\n",
                      one[] = ".version 7.0\n.target sm_70\n"
                              ".address_size 64\n.visible .entry a() { ret; }\n\0\n \0";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker l = gpuexec_linker_create(ctx, NULL);
    CHECK_NOT_MADE(gpuexec_module_load(ctx, two, sizeof two, NULL), GPUEXEC_BAD_IMAGE,
            "the image is PTX text with a NUL after 73 bytes, but its length is 104 bytes",
            "separately");
    CHECK_NOT_MADE(gpuexec_library_load(two, sizeof two, NULL), GPUEXEC_BAD_IMAGE,
            "with a NUL after 73 bytes");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, two, sizeof two, "two"),
            GPUEXEC_BAD_IMAGE, "\"two\" is PTX text with a NUL after 73 bytes");
    CHECK_REFUSED(gpuexec_linker_add(l, GPUEXEC_INPUT_PTX, two, sizeof two, "two"),
            GPUEXEC_BAD_IMAGE, "with a NUL");
    /* up to its NUL */
    CHECK_EQ(gpuexec_module_kernel_count(gpuexec_module_load(ctx, two, 0, NULL)), 1);
    /* only white space */
    CHECK_MADE(gpuexec_kernel_get(gpuexec_module_load(ctx, one, sizeof one, NULL), "a"));
}

TEST(targets_with_any_number) {
    static const char *const targets[] = { "sm_99999999999", "sm_2147483647", "sm_-2000000000",
        "sm_", "sm_9x", "" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    char text[100], suffix;
    size_t i;
    for (i = 0; i < sizeof targets / sizeof *targets; i++) {
        const gpuexec_image image = { text, 0, NULL };
        const int large = i < 2;
        snprintf(text, sizeof text, ".version 7.0\n.target %s\n.address_size 64\n", targets[i]);
        CHECK_NOT_MADE(gpuexec_module_load_best(ctx, &image, 1, NULL),
                large ? GPUEXEC_IMAGE_TOO_NEW : GPUEXEC_BAD_IMAGE,
                large ? "(newer than the device)" : "does not compile");
        if (i == 0) CHECK_TEXT(gpuexec_error_text(), "PTX for compute_999999 ");
        CHECK_NOT_MADE(gpuexec_module_load(ctx, text, 0, NULL),
                large ? GPUEXEC_IMAGE_TOO_NEW : GPUEXEC_BAD_IMAGE, "the image is PTX");
    }
    CHECK_EQ(gxi_ptx_architecture("sm_103a", &suffix), 103);
    CHECK_EQ(suffix, 'a');
    CHECK_EQ(gxi_ptx_architecture("compute_90", &suffix), 0);
}

/* What the driver's linker makes may be several texts, one behind the other: their directives count
   together. */
TEST(texts_of_several_modules) {
    static const char two[] =
            "// one\n.version 8.4\n.target sm_100\n.address_size 64\n"
            ".weak .entry k(.param .u32 a) { ret; }\n.visible .entry one() { ret; }\n"
            "/* .version 99.9 */ .version 7.8 .target sm_90a, debug .address_size 64\n"
            ".weak .entry k(.param .u64 a) { ret; }\n.visible .entry two(.param .u16 a) { ret; }\n"
            ".version 10.0 // 11.0\n.target sm_90\n.address_size 64\n";
    unsigned short sizes[1], offsets[1], types[1];
    gxi_image image = { two, sizeof two - 1, GXI_TEXT, two, 0, 0 };
    gxi_module *const m = gxi_module_new("two");
    gxi_text signatures = { 0, 0, 0, 0 }, about = { 0, 0, 0, 0 };
    char value[GXI_VALUE];
    gxi_ptx_directive(two, ".version", value);
    CHECK_STRING(value, "10.0");
    gxi_ptx_directive(two, ".target", value);
    CHECK_STRING(value, "sm_100");
    gxi_ptx_directive(strstr(two, "/*"), ".target", value);
    CHECK_STRING(value, "sm_90a");
    gxi_ptx_directive(two, ".address", value);
    CHECK_STRING(value, "");
    CHECK_EQ(gxi_image_describe(&about, &image, 90), 0);
    CHECK_STRING(about.p, "PTX for compute_100 (newer than the device)");
    gxi_text_free(&about);
    CHECK_EQ(gxi_image_kind_of(two, sizeof two), GXI_TEXT);
    CHECK(gxi_is_text(two, sizeof two));
    gxi_list_ptx_kernels(m, two);
    CHECK_EQ(m->nkernels, 3);
    CHECK_STRING(m->kernels[0], "k");
    CHECK_STRING(m->kernels[2], "two");
    gxi_ptx_signatures(&signatures, two);
    CHECK(gxi_module_keep_signatures(m, &signatures));
    CHECK_EQ(gxi_ptx_params(gxi_ptx_after(m->entries, m->nentries, "k"), sizes, offsets, types, 1),
            1);
    CHECK_EQ(sizes[0], 4); /* the linker takes the first, too */
    CHECK_EQ(
            gxi_ptx_params(gxi_ptx_after(m->entries, m->nentries, "two"), sizes, offsets, types, 1),
            1);
    CHECK_EQ(sizes[0], 2);
    gxi_module_free(m);
}

/* Each of these fatbins says that it has all bytes up to the end, so that each part is in all of
   them. Once for each, that would be 2 * 10^10 steps. */
TEST(fatbins_in_fatbins) {
    const size_t bytes = (size_t)8 << 20;
    unsigned char *const image = (unsigned char *)calloc(1, bytes);
    size_t i;
    for (i = 0; i + 32 <= bytes; i += 32) {
        memcpy(image + i, "\x50\xED\x55\xBA\1\0\x10", 8);
        put_le(image + i + 8, 8, bytes - i - 16);
        image[i + 16] = 1; /* a part of 32 bytes with PTX */
        image[i + 20] = 32;
    }
    CHECK_EQ(gxi_fatbin_parts(image, image + bytes), 1);
    CHECK_EQ(gxi_image_kind_of(image, bytes), GXI_FATBIN);
    memset(image, 0, 64); /* without the first, the second has the rest */
    CHECK_EQ(gxi_fatbin_parts(image, image + bytes), 1);
    free(image);
}

/* --- lines of the CUDA source ----------------------------------------------------------------- */

#define LINED \
    ".version 7.0\n.target sm_70\n.address_size 64\n" /* lines 1 to 3 */ \
    ".visible .entry first()\n{\n" \
    "\t.loc\t1 17 3\n" /* 6 */ \
    "\tfirst.wrong %r1;\n" \
    "\t.loc\t2 5 1, function_name $L__info_string0, inlined_at 1 18 9\n" \
    "\tsecond.wrong %r1;\n\tret;\n}\n"                  /* 9 to 11 */ \
    ".visible .entry second()\n{\n\tthird.wrong %r1;\n" /* 14 */ \
    "\t.loc 7 8 0\n\tfourth.wrong %r1;\n}\n"            /* 16 */ \
    "\t.file\t1 \"/src/a.cu\"\n\t.file\t2 \"/src/include/b.cuh\", 1700000000, 50\n"

TEST(errors_in_ptx_cite_the_cuda_source) {
    static const char first[] = "line 7; error   : Not a name of any known instruction: 'first' "
                                "(CUDA source: /src/a.cu:17)\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker linker;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, LINED, 0, NULL), GPUEXEC_BAD_IMAGE,
            "is PTX that does not compile", "line 7; error", "(CUDA source: /src/a.cu:17)\n",
            "(CUDA source: /src/include/b.cuh:5, inlined at /src/a.cu:18)\n");
    if (on_cpu_device()) {
        CHECK_NOT_MADE(gpuexec_module_load(ctx, LINED, 0, NULL), GPUEXEC_BAD_IMAGE, first);
        CHECK_TEXT(gpuexec_error_detail()->log, first);
    }
    linker = gpuexec_linker_create(ctx, NULL);
    if (gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, LINED, 0, "lined.ptx") == GPUEXEC_OK)
        gpuexec_linker_load(linker);
    CHECK_TEXT(gpuexec_error_text(), "(CUDA source: /src/a.cu:17)\n");
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
    gpuexec_library_module(gpuexec_library_load(LINED, 0, NULL), ctx);
    CHECK_TEXT(gpuexec_error_text(), "(CUDA source: /src/a.cu:17)\n");
    CHECK(gpuexec_take_error() != GPUEXEC_OK);
}

TEST(what_a_log_cites) {
    static const char log[] = "a, line 14; error\nb, line 16; error\nc, line 7000; error\n"
                              "d, line x; error\nno line\ne, line 9; last";
    char many[40 * 20] = "", *cited = gxi_cite_sources(log, LINED), *at;
    int i, n = 0;
    CHECK_STRING(cited,
            "a, line 14; error\n" /* before the first .loc of its function */
            "b, line 16; error (CUDA source: line 8 of file 7)\n"
            "c, line 7000; error (CUDA source: line 8 of file 7)\n"
            "d, line x; error\nno line\n"
            "e, line 9; last (CUDA source: /src/include/b.cuh:5, inlined at "
            "/src/a.cu:18)");
    gxi_free(cited);
    CHECK(gxi_cite_sources(NULL, LINED) == NULL);
    CHECK(gxi_cite_sources(log, NULL) == NULL);
    for (i = 0; i < 20; i++) strcat(many, "f, line 7; error\n");
    cited = gxi_cite_sources(many, LINED); /* each one is a search */
    for (at = cited; at && (at = strstr(at, "a.cu:17")) != NULL; at++) n++;
    CHECK_EQ(n, GXI_CITED);
    gxi_free(cited);
}

/* A search that does not end with the line reads the rest of the log for each line. */
TEST(logs_of_many_lines) {
    static const char line[] = "error   : a line without any of the words\n";
    const size_t n = 200000, length = sizeof line - 1;
    char *const log = (char *)malloc(n * length + 200);
    gxi_text t = { 0, 0, 0, 0 };
    unsigned says;
    size_t i;
    for (i = 0; i < n; i++) memcpy(log + i * length, line, length);
    strcpy(log + n * length,
            "error   : Undefined reference to 'a' in 'b'\n'x: y' multiply defined: here");
    CHECK_EQ(gxi_link_log(&t, log, &says), 2);
    CHECK_EQ(says, GXI_SAYS_UNDEFINED | GXI_SAYS_TWICE | GXI_SAYS_INPUT | GXI_SAYS_ERROR);
    CHECK_STRING(t.p, "Undefined reference to 'a' in 'b'; 'x: y' multiply defined: here");
    gxi_text_free(&t);
    free(log);
}

/* To compare each name with all others would take minutes. The first of several with one name
   counts. */
TEST(kernels_of_a_large_text) {
    const int n = 200000;
    char *const text = (char *)malloc((size_t)n * 120), name[40];
    gxi_module *const m = gxi_module_new("large");
    gxi_text signatures = { 0, 0, 0, 0 };
    size_t at = 0;
    int i, wrong = 0;
    for (i = 0; i < n; i++) /* declared, and defined much later; not in the order of the names */
        at += (size_t)sprintf(
                text + at, ".entry k%d(.param .u%d a); ", (int)(i * 7919LL % n), i % 2 ? 32 : 64);
    for (i = 0; i < n; i += 2) at += (size_t)sprintf(text + at, ".entry k%d() { ret; } ", i);
    gxi_list_ptx_kernels(m, text);
    CHECK_EQ(m->nkernels, n);
    for (i = 0; i < m->nkernels; i++) {
        sprintf(name, "k%d", (int)(i * 7919LL % n));
        wrong += strcmp(name, m->kernels[i]) != 0;
    }
    CHECK_EQ(wrong, 0);
    gxi_ptx_signatures(&signatures, text);
    CHECK(gxi_module_keep_signatures(m, &signatures));
    for (i = 0; i < n; i++) {
        unsigned short sizes[2], offsets[2], types[2];
        const char *list;
        sprintf(name, "k%d", (int)(i * 7919LL % n));
        list = gxi_ptx_after(m->entries, m->nentries, name);
        wrong += !list || gxi_ptx_params(list, sizes, offsets, types, 2) != 1 ||
                sizes[0] != (i % 2 ? 4 : 8);
    }
    CHECK_EQ(wrong, 0);
    CHECK(!gxi_ptx_after(m->entries, m->nentries, "k") &&
            !gxi_ptx_after(m->entries, m->nentries, "k1x") &&
            !gxi_ptx_after(m->entries, m->nentries, "") &&
            !gxi_ptx_after(m->entries, m->nentries, "l"));
    CHECK(!gxi_ptx_after(NULL, 0, "k"));
    gxi_module_free(m);
    free(text);
}

/* What the reader does not understand, it must not guess: launches would be refused for a wrong
   size. */
TEST(lists_of_parameters_that_the_reader_does_not_understand) {
    static const char *const unknown[] = { ".param .b8 p[8*2]", ".param .b8 p[(4)]",
        ".param .b8 p[4][4]", ".param .b8 p[]", ".param .b8 p[0]", ".param .b8 p[-1]",
        ".param .b8 p[+1]", ".param .b8 p[N]", ".param .b8 p[18446744073709551617]",
        ".param .b8 p[4", ".param .texref p", ".param .pred p", ".param .b4 p",
        ".param .align 4*2 .b8 p[8]", ".param .align 0 .b8 p[8]", ".param .align .b8 p[8]",
        ".param .b8 p = 3", "," };
    static const struct {
        const char *list;
        int size;
    } known[] = {
        { ".param .b8 p[0b100]", 4 },
        { ".param .b8 p[0x10U]", 16 },
        { ".param .b8 p[010]", 8 },
        { ".param .b8 p[ /* ] */ 4U // ]\n ]", 4 },
        { ".param .align 0x8 .b8 p[3]", 3 },
        { ".param .u64 .ptr .const .align 16 p", 8 },
        { ".param .b32 p[0xA]", 40 },
    };
    static const char ends[] = "(.align 0x4 .b8 p[0b11U], .param .u64 .ptr q /* */ , .";
    unsigned short sizes[4], offsets[4], types[4];
    char text[100];
    size_t i;
    for (i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        snprintf(text, sizeof text, "(%s, .param .u32 z)", unknown[i]);
        if (!CHECK_EQ(gxi_ptx_params(text, sizes, offsets, types, 4), -1))
            printf("%s\n", unknown[i]);
    }
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        snprintf(text, sizeof text, "(%s, .param .u8 z)", known[i].list);
        if (!CHECK_EQ(gxi_ptx_params(text, sizes, offsets, types, 4), 2) ||
                !CHECK_EQ(sizes[0], known[i].size) || !CHECK_EQ(offsets[1], known[i].size) ||
                !CHECK_EQ(sizes[1], 1))
            printf("%s\n", known[i].list);
    }
    CHECK_EQ(gxi_ptx_params("(.param .u32 a, )", sizes, offsets, types, 4), -1);
    for (i = 0; i <= strlen(ends); i++) { /* each beginning, in memory that ends there */
        char *const part = (char *)malloc(i + 1);
        memcpy(part, ends, i);
        part[i] = 0;
        CHECK_EQ(gxi_ptx_params(part, sizes, offsets, types, 4), i ? -1 : 0);
        free(part);
    }
}

static void *at_most_a_gigabyte(void *user, void *p, size_t bytes) {
    (void)user;
    if (bytes >> 30) return NULL;
    if (bytes) return realloc(p, bytes);
    free(p);
    return NULL;
}
/* A file that memory cannot hold is refused before any of it is read. */
TEST(files_larger_than_memory) {
    char path[] = "/tmp/gpuexec-sparse-XXXXXX";
    const int file = mkstemp(path);
    gpuexec_setup_desc setup = { 0 };
    gpuexec_context ctx;
    if (file < 0 || ftruncate(file, (off_t)1 << 42)) {
        close(file);
        remove(path);
        SKIP("this file system has no sparse files of 4 TiB");
    }
    setup.realloc_function = at_most_a_gigabyte;
    CHECK_OK(gpuexec_setup(&setup));
    ctx = gpuexec_context_open(0, NULL);
    CHECK_NOT_MADE(gpuexec_module_load_file(ctx, path, NULL), GPUEXEC_OUT_OF_HOST_MEMORY, path,
            "4398046511106 bytes");
    CHECK_NOT_MADE(gpuexec_library_load_file(path, NULL), GPUEXEC_OUT_OF_HOST_MEMORY, path,
            "4398046511106 bytes");
    close(file);
    remove(path);
}

TEST(symbols_that_are_elsewhere) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module mod = gpuexec_module_load_file(ctx, "kernels/link_main.ptx", NULL);
    CHECK(!gpuexec_ok(mod));
    CHECK_TEXT(gpuexec_why(mod), "link_main.ptx", "curve", "gpuexec_linker_create");
    gpuexec_take_error();
}

static void check_load_result(const char *fail, const char *cure) {
    gpuexec_context ctx;
    if (!on_cpu_device()) SKIP("only the CPU device fails on request");
    CHECK(setenv("SIMGPU_FAIL", fail, 1) == 0);
    ctx = gpuexec_context_open(0, NULL);
    CHECK_TEXT(gpuexec_why(gpuexec_module_load_file(ctx, UNIT_PTX, NULL)), "cannot load",
            "cure:", cure);
    gpuexec_take_error();
}
TEST_ALONE(no_compiler_in_the_driver) {
    check_load_result("cuModuleLoadDataEx:1:221", "libnvidia-ptxjitcompiler.so");
}
TEST_ALONE(compiling_is_disabled) {
    check_load_result("cuModuleLoadDataEx:1:223", "CUDA_DISABLE_PTX_JIT");
}
TEST_ALONE(options_that_an_old_driver_does_not_know) {
    gpuexec_module_desc desc = { 0 };
    gpuexec_context ctx;
    if (!on_cpu_device()) SKIP("only the CPU device fails on request");
    CHECK(setenv("SIMGPU_FAIL", "cuModuleLoadDataEx:1:1", 1) == 0);
    ctx = gpuexec_context_open(0, NULL);
    desc.position_independent = desc.min_blocks = 1;
    CHECK_TEXT(gpuexec_why(gpuexec_module_load_file(ctx, UNIT_PTX, &desc)),
            "driver for CUDA 12 or later", "position_independent, min_blocks");
    gpuexec_take_error();
}

/* Binaries that nvcc compiles from kernels/saxpy.cu, in a file that is deleted after the test has
   loaded it. */
static int nvcc_made(char file[], const char *how, int capability) {
    char command[300], arch[16];
    int fd = mkstemp(file), ok;
    snprintf(arch, sizeof arch, "%d", capability);
    snprintf(command, sizeof command,
            "nvcc --version >/dev/null 2>&1 && nvcc %s%s -o %s kernels/saxpy.cu >/dev/null 2>&1",
            how, arch, file);
    if (fd >= 0) close(fd);
    ok = fd >= 0 && system(command) == 0;
    if (!ok) unlink(file);
    return ok;
}

TEST(binaries_of_nvcc_run) {
    static const char *const how[] = { "-cubin -arch=sm_", "-fatbin -arch=sm_" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr x = gpuexec_alloc(ctx, 400), y = gpuexec_alloc(ctx, 400);
    gpuexec_device_info d;
    size_t i;
    if (on_cpu_device()) SKIP("the CPU device runs PTX, no machine code");
    CHECK_OK(gpuexec_device_get_info(0, &d));
    for (i = 0; i < sizeof how / sizeof *how; i++) {
        char file[] = "/tmp/gpuexec-binary-XXXXXX";
        float ones[100], a = 2.0f, result[100];
        int n = 100, k;
        gpuexec_module mod;
        if (!nvcc_made(file, how[i], d.compute_capability))
            SKIP("no nvcc on this machine compiles for this device");
        mod = gpuexec_module_load_file(ctx, file, NULL);
        for (k = 0; k < n; k++) ones[k] = (float)k;
        gpuexec_copy_in(s, x, ones, sizeof ones);
        gpuexec_copy_in(s, y, ones, sizeof ones);
        gpuexec_launch(gpuexec_kernel_get(mod, "saxpy"), s, gpuexec_grid_for(100, 64),
                GPUEXEC_ARGS(a, x, y, n));
        gpuexec_copy_out(s, result, y, sizeof result);
        CHECK_OK(gpuexec_stream_sync(s));
        for (k = 0; k < n; k++) CHECK(result[k] == 3.0f * (float)k);
        unlink(file);
    }
}

/* Of a cubin for an older device, one for this device, and PTX, a GPU loads the second. */
TEST(best_binary_of_nvcc) {
    static const char *const how[] = { "-cubin -arch=sm_", "-cubin -arch=sm_",
        "-ptx -arch=compute_" };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_image images[3];
    gpuexec_kernel_info info;
    gpuexec_device_info d;
    gpuexec_module mod;
    char *text[3];
    int i;
    if (on_cpu_device() && !getenv("TEST_ALL")) SKIP("with the CPU device only with TEST_ALL=1");
    CHECK_OK(gpuexec_device_get_info(0, &d));
    memset(images, 0, sizeof images);
    for (i = 0; i < 3; i++) {
        char file[] = "/tmp/gpuexec-binary-XXXXXX";
        if (!nvcc_made(file, how[i], i == 1 ? d.compute_capability : 75))
            SKIP("no nvcc here compiles for this device");
        images[i].data = text[i] = file_text(file, &images[i].bytes);
        images[i].name = how[i];
        unlink(file);
    }
    mod = gpuexec_module_load_best(ctx, images, 3, NULL);
    CHECK_MADE(mod);
    CHECK_OK(gpuexec_kernel_get_info(gpuexec_kernel_get(mod, "saxpy"), &info));
    CHECK_EQ(info.ptx_version, on_cpu_device() ? 75 : d.compute_capability);
    if (d.compute_capability >= 80)
        CHECK_TEXT(gpuexec_module_log(mod), "sm_75 (for another major version)");
    for (i = 0; i < 3; i++) free(text[i]);
}

TEST(binaries_of_nvcc_that_cannot_be_loaded) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_device_info d;
    char cut[] = "/tmp/gpuexec-binary-XXXXXX", other[] = "/tmp/gpuexec-binary-XXXXXX",
         object[] = "/tmp/gpuexec-binary-XXXXXX", lto[] = "/tmp/gpuexec-binary-XXXXXX";
    CHECK_OK(gpuexec_device_get_info(0, &d));
    if (!nvcc_made(cut, "-cubin -arch=sm_", 90)) SKIP("no nvcc on this machine compiles for sm_90");
    CHECK(truncate(cut, 2000) == 0);
    CHECK_NOT_MADE(gpuexec_module_load_file(ctx, cut, NULL), GPUEXEC_BAD_IMAGE,
            "is a truncated cubin: it is 2000 bytes long", cut);
    unlink(cut);
    if (CHECK(nvcc_made(other, "-fatbin -gencode arch=compute_75,code=sm_", 75))) /* no PTX in it */
        CHECK_NOT_MADE(gpuexec_module_load_file(ctx, other, NULL), GPUEXEC_IMAGE_TOO_NEW,
                "has no code for device 0 (compute capability", "nvcc -gencode", other);
    unlink(other);
    if (CHECK(nvcc_made(object, "-dc -arch=sm_", 90)))
        CHECK_NOT_MADE(gpuexec_module_load_file(ctx, object, NULL), GPUEXEC_BAD_IMAGE,
                "is a host object", "gpuexec_linker_add_file");
    unlink(object);
    if (CHECK(nvcc_made(lto, "-fatbin -rdc=true -gencode arch=compute_80,code=lto_", 80)))
        CHECK_NOT_MADE(gpuexec_module_load_file(ctx, lto, NULL), GPUEXEC_BAD_IMAGE, "is LTO-IR",
                "must be linked");
    unlink(lto);
}

/* nvcc puts a pointer around a fatbin: in a file it is invalid. */
TEST(files_with_a_pointer_to_a_fatbin) {
    static const unsigned char wrapper[24] = { 0xB1, 0x43, 0x62, 0x46, 1, 0, 0, 0, 0x10 };
    char path[] = "/tmp/gpuexec-module-XXXXXX";
    int file = mkstemp(path);
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    if (!CHECK(file >= 0 && write(file, wrapper, sizeof wrapper) == (ssize_t)sizeof wrapper))
        return;
    CHECK(!gpuexec_ok(gpuexec_module_load_file(ctx, path, NULL)));
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_BAD_IMAGE);
    CHECK_TEXT(gpuexec_error_text(), path, "is the wrapper that nvcc puts around a fatbin");
    close(file);
    unlink(path);
}

/* The architectures of cubins as ptxas writes them: flags of CUDA 12.0, 12.9 and 13.0. */
TEST(what_a_cubin_is_for) {
    static const struct {
        unsigned abi, flags;
        const char *is;
    } cubins[] = {
        { 7, 0x460546, "sm_70" },
        { 7, 0x5a055a, "sm_90" },
        { 7, 0x5a0d5a, "sm_90a" },
        { 8, 0x6006402, "sm_100" },
        { 8, 0x600640a, "sm_100a" },
        { 8, 0x600780a, "sm_120a" },
        { 8, 0x6004b04, "sm_75" },
        { 8, 0xe005a04, "sm_90" },
    };
    size_t i;
    for (i = 0; i < sizeof cubins / sizeof *cubins; i++) {
        unsigned char header[64] = { 0x7F, 'E', 'L', 'F', 2, 1, 1 };
        gxi_image image = { header, sizeof header, GXI_CUBIN, NULL, 0, 0 };
        gxi_text t = { 0, 0, 0, 0 };
        int k;
        header[8] = (unsigned char)cubins[i].abi;
        for (k = 0; k < 4; k++) header[48 + k] = (unsigned char)(cubins[i].flags >> 8 * k);
        CHECK(gxi_image_describe(&t, &image, atoi(cubins[i].is + 3)) > 0);
        CHECK_TEXT(t.p, "a cubin for ");
        CHECK_STRING(t.p + strlen("a cubin for "), cubins[i].is);
        gxi_text_free(&t);
    }
}

/* On each device: from what does not fit to the best. */
TEST(which_image_is_better) {
    static const struct {
        int sm;
        const char *list;
    } devices[] = {
        { 90,
                "!c100 !c80 !c91 !p100 !p80f !p89a !c89a !l90 p50 p80 p89 p90 p90f p90a c90 c90f "
                "c90a" },
        { 103,
                "!c120 !c90 !c100a !p100a !p90a !p120f p90 p100 p100f p103 p103f p103a c100 c100f "
                "c103 c103f c103a" },
        { 75, "!c80 !c61 !p80 p52 p75 c70 c72 c75" },
    };
    size_t i;
    for (i = 0; i < sizeof devices / sizeof *devices; i++) {
        const char *p = devices[i].list;
        int before = 0;
        for (; *p; p += strcspn(p, " "), p += *p != 0) {
            const int fits = *p != '!', letter = p[!fits];
            char *end;
            gxi_image_target target = { GXI_PTX, 0, 0 };
            const char *why;
            int rank;
            target.kind = letter == 'c' ? GXI_CUBIN : letter == 'l' ? GXI_LTO : GXI_PTX;
            target.arch = (int)strtol(p + 1 + !fits, &end, 10);
            target.suffix = *end == ' ' ? 0 : *end;
            rank = gxi_target_rank(&target, devices[i].sm, &why);
            CHECK(fits ? rank > before && !why : !rank && why);
            before = rank;
        }
    }
}

/* As on a GPU: what a fatbin without code for it contains. */
TEST_ALONE(a_gpu_that_has_no_code) {
    unsigned char fatbin[80] = { 0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0, 64 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    if (!on_cpu_device()) SKIP("a GPU of this architecture would load it");
    fatbin[16] = 2;
    fatbin[20] = 64;
    fatbin[44] = 75;
    CHECK_NOT_MADE(gpuexec_module_load(ctx, fatbin, sizeof fatbin, NULL), GPUEXEC_IMAGE_TOO_NEW,
            "has no code for device 0 (compute capability 9.0) that the driver accepts. It "
            "contains: a cubin for sm_75 (for another major version)",
            "compute_90");
}

/* Each of these was searched for the beginning of its line: four seconds for a fifth of this
   text. */
TEST(a_line_of_many_includes) {
    static const char include[] = "#include<a>";
    enum { COUNT = 100000, LENGTH = sizeof include - 1 };
    char *text = (char *)malloc(COUNT * LENGTH + 1);
    gpuexec_compile_desc desc;
    gxi_include_scan scan;
    size_t i;
    memset(&desc, 0, sizeof desc);
    memset(&scan, 0, sizeof scan);
    for (i = 0; i < COUNT; i++) memcpy(text + i * LENGTH, include, LENGTH);
    text[COUNT * LENGTH] = 0;
    scan.desc = &desc;
    scan.headers = "";
    gxi_include_scan_caller_text(&scan, text, "x.cu");
    gxi_text_free(&scan.paths);
    gxi_text_free(&scan.later);
    gxi_free(scan.seen);
    free(text);
}
