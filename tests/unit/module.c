/* module.c - images, the kernels in them, and what is known about each. */
#include "../test.h"

#define UNIT_PTX   "tests/unit/unit.ptx"
#define FAULTS_PTX "kernels/faults.ptx"

static char *file_text(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    char *text = (char *)calloc(1, 100000);
    if (CHECK(f != NULL)) { *bytes = fread(text, 1, 99999, f); fclose(f); }
    return text;
}

/* Runs kernel `count` of a module: does it count? */
static void check_that_it_runs(gpuexec_context ctx, gpuexec_module mod) {
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "count");
    gpuexec_stream s  = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr    p  = gpuexec_alloc(ctx, 4);
    uint32_t       word = 0;
    gpuexec_fill(s, p, 0, 4);
    gpuexec_launch(fn, s, gpuexec_grid(3, 50, 0), GPUEXEC_ARGS(p));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 150);
}

TEST(load_from_memory) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t bytes = 0;
    char  *text = file_text(UNIT_PTX, &bytes);
    gpuexec_module by_nul = gpuexec_module_load(ctx, text, 0, NULL), by_bytes;
    CHECK_MADE(by_nul);
    memset(text + bytes, '@', 64);                               /* behind the end stands something else: it must not be read */
    by_bytes = gpuexec_module_load(ctx, text, bytes, NULL);
    CHECK_MADE(by_bytes);
    memset(text, 0, bytes);                                      /* the image may go */
    free(text);
    check_that_it_runs(ctx, by_nul);
    check_that_it_runs(ctx, by_bytes);
    CHECK(gpuexec_module_native(by_nul) != NULL && gpuexec_module_native(by_nul) != gpuexec_module_native(by_bytes));
}

TEST(load_from_memory_that_ends_at_its_last_byte) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t bytes = 0;
    char  *text = file_text(UNIT_PTX, &bytes), *exact = (char *)malloc(bytes);
    memcpy(exact, text, bytes);                                  /* without NUL: an address sanitiser sees a byte too far */
    check_that_it_runs(ctx, gpuexec_module_load(ctx, exact, bytes, NULL));
    bytes++;
    check_that_it_runs(ctx, gpuexec_module_load(ctx, text, bytes, NULL));      /* a NUL that is counted is fine, too */
    free(exact);
    free(text);
}

TEST(load_from_file) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    check_that_it_runs(ctx, gpuexec_module_load_file(ctx, UNIT_PTX, NULL));
}

TEST(kernels_of_a_module) {
    static const char *const names[] = { "nothing", "gate", "add", "count", "bump", "where", "with_static_shared" };
    enum { count = sizeof names / sizeof names[0] };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module  mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    int i, k, found[count] = { 0 };
    CHECK_EQ(gpuexec_module_kernel_count(mod), count);
    for (i = 0; i < count; i++) {
        const char *name = gpuexec_module_kernel_name(mod, i);
        if (!CHECK(name != NULL)) continue;
        for (k = 0; k < count; k++) if (strcmp(name, names[k]) == 0) found[k]++;
        CHECK_MADE(gpuexec_kernel_get(mod, name));
    }
    for (k = 0; k < count; k++) CHECK_EQ(found[k], 1);           /* in whichever order */
    CHECK(gpuexec_module_kernel_name(mod, count) == NULL);
    CHECK(gpuexec_module_kernel_name(mod, -1) == NULL);
    CHECK_OK(gpuexec_take_error());
}

TEST(asking_twice_gives_the_same_kernel) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module  mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL), other = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel  fn  = gpuexec_kernel_get(mod, "add");
    CHECK_EQ(gpuexec_kernel_get(mod, "add").id, fn.id);
    CHECK(gpuexec_kernel_get(mod, "count").id != fn.id);
    CHECK(gpuexec_kernel_get(other, "add").id != fn.id);
}

TEST(kernel_information) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module  mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
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
    gpuexec_kernel  fn  = gpuexec_kernel_get(gpuexec_module_load_file(ctx, FAULTS_PTX, NULL), "many_parameters");
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
    gpuexec_module  mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel  fn  = gpuexec_kernel_get(mod, "count");
    gpuexec_device_info d;
    int small, large;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    small = gpuexec_kernel_occupancy(fn, 1024, 0);
    CHECK(small >= 1 && small <= d.max_threads_per_multiprocessor / 1024);
    large = gpuexec_kernel_occupancy(fn, 32, 0);
    CHECK(large >= small && large * 32 <= d.max_threads_per_multiprocessor);
    CHECK(gpuexec_kernel_occupancy(fn, 32, d.shared_per_block) < large);
    CHECK(gpuexec_kernel_occupancy(fn, 32, d.shared_per_block) >= 1);
}

TEST(variables_of_a_module) {
    gpuexec_context ctx  = gpuexec_context_open(0, NULL);
    gpuexec_module  mod  = gpuexec_module_load_file(ctx, UNIT_PTX, NULL), other = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel  bump = gpuexec_kernel_get(mod, "bump");
    gpuexec_stream  s    = gpuexec_stream_create(ctx, NULL);
    size_t          counter_bytes = 0, table_bytes = 0;
    gpuexec_ptr     counter = gpuexec_module_global(mod, "counter", &counter_bytes);
    gpuexec_ptr     table   = gpuexec_module_global(mod, "table", &table_bytes);
    gpuexec_ptr     others  = gpuexec_module_global(other, "counter", NULL);
    uint32_t        words[4] = { 0 }, seven = 70, value = 0;
    CHECK(counter != 0 && table != 0 && others != 0 && others != counter);
    CHECK_EQ(counter_bytes, 4);
    CHECK_EQ(table_bytes, 16);
    gpuexec_copy_out(s, words, table, sizeof words);
    gpuexec_launch(bump, s, gpuexec_grid(1, 3, 0), GPUEXEC_NO_ARGS);                  /* 40 + 3 * (2 + 7) */
    gpuexec_copy_out(s, &value, counter, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(words[0] * 1000 + words[1] * 100 + words[2] * 10 + words[3], 2357);
    CHECK_EQ(value, 67);
    gpuexec_copy_in(s, table + 12, &seven, 4);                                        /* a constant can be set between launches */
    gpuexec_launch(bump, s, gpuexec_grid(1, 1, 0), GPUEXEC_NO_ARGS);
    gpuexec_copy_out(s, &value, counter, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(value, 67 + 72);
    CHECK_OK(gpuexec_copy_out_now(ctx, &value, others, 4));                           /* the other module has its own */
    CHECK_EQ(value, 40);
    CHECK_EQ(gpuexec_module_global(mod, "no_such_variable", NULL), 0);
    CHECK_TEXT(gpuexec_error_text(), "no_such_variable", "GPUEXEC_NOT_FOUND");
    CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_FOUND);
}

/* desc.name stands in messages in place of the file's. */
TEST(the_name_in_messages) {
    gpuexec_context     ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_module      mod;
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
    gpuexec_context     ctx = gpuexec_context_open(0, NULL);
    gpuexec_module_desc desc = { 0 };
    gpuexec_module      mod;
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
    gpuexec_context     ctx = gpuexec_context_open(0, NULL);
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
    gpuexec_module  mod = gpuexec_module_load_file(ctx, UNIT_PTX, NULL), other = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_kernel  fn  = gpuexec_kernel_get(mod, "count"), others = gpuexec_kernel_get(other, "count");
    CHECK(gpuexec_ok(fn) && gpuexec_ok(others));
    CHECK_OK(gpuexec_module_unload(mod));
    CHECK(!gpuexec_ok(mod) && !gpuexec_ok(fn) && gpuexec_ok(others));
    CHECK(gpuexec_kernel_native(fn) == NULL);
    check_that_it_runs(ctx, other);
    CHECK_OK(gpuexec_take_error());
}

TEST(adopting_modules_and_kernels) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_module  own = gpuexec_module_load_file(ctx, UNIT_PTX, NULL);
    gpuexec_module  mod = gpuexec_module_from_native(ctx, gpuexec_module_native(own));
    gpuexec_kernel  fn  = gpuexec_kernel_from_native(ctx, gpuexec_kernel_native(gpuexec_kernel_get(own, "count")));
    gpuexec_stream  s   = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr     p   = gpuexec_alloc(ctx, 4);
    uint32_t        word = 0;
    CHECK_MADE(mod);
    CHECK_MADE(fn);
    check_that_it_runs(ctx, mod);
    gpuexec_fill(s, p, 0, 4);
    CHECK_OK(gpuexec_launch(fn, s, gpuexec_grid(1, 5, 0), GPUEXEC_ARGS(p)));
    gpuexec_copy_out(s, &word, p, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_EQ(word, 5);
    if (gpuexec_driver_version() >= 12040)                       /* the driver knows the parameters of kernels that it did not see as PTX */
        CHECK_RESULT(gpuexec_launch(fn, s, gpuexec_grid(1, 5, 0), GPUEXEC_ARGS(p, word)), GPUEXEC_BAD_PARAMETERS);
    gpuexec_take_error();
    CHECK_OK(gpuexec_module_unload(mod));                        /* ends the handle; the module stays */
    check_that_it_runs(ctx, own);
}

/* Comments, names and layouts that a search for ".entry" or ".param" in the text could be fooled by. */
TEST(odd_but_valid_ptx) {
    static const char ptx[] =
        "// .version 99.9 and .entry in_a_comment(.param .u64 x)\n"
        "/* .target sm_999\n .visible .entry in_another(.param .u8 y) */\n"
        "\t.version\t6.0\r\n.target sm_70 // trailing\r\n.address_size 64\n"
        ".weak .entry first_kernel ( .param .align 8 .b8 first_param [ 24 ] , // .param .u32 no\n .param\n.u16\nsecond )\n{ ret; }\n"
        ".entry $second_kernel() .maxntid 32,1,1 .minnctapersm 2 { ret; }\n"
        ".func helper(.param .u32 not_of_a_kernel) { ret; }\n"
        ".visible .entry third(.param .f64 d, .param .b64 .ptr .global .align 16 pointer){ret;}\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_kernel_info k;
    gpuexec_kernel  fn;
    gpuexec_module  mod = gpuexec_module_load(ctx, ptx, 0, NULL);
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

/* What a launch on several devices compares: the bytes, however they came in. */
TEST(the_hash_of_an_image) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    size_t bytes = 0;
    char  *text = file_text(UNIT_PTX, &bytes);
    gpuexec_module by_nul = gpuexec_module_load(ctx, text, 0, NULL), by_bytes = gpuexec_module_load(ctx, text, bytes, NULL),
                   by_file = gpuexec_module_load_file(ctx, UNIT_PTX, NULL), other = gpuexec_module_load_file(ctx, FAULTS_PTX, NULL),
                   adopted = gpuexec_module_from_native(ctx, gpuexec_module_native(by_nul));
    uint64_t hash = ((gxi_module *)gxi_peek(by_nul.id, GXI_MODULE)->more)->image_hash;
    CHECK(gxi_hash("foobar", 6) == 0x85944171F73967E8u);             /* FNV-1a's published test vector */
    CHECK(hash == gxi_hash(text, bytes));
    CHECK(((gxi_module *)gxi_peek(by_bytes.id, GXI_MODULE)->more)->image_hash == hash);
    CHECK(((gxi_module *)gxi_peek(by_file.id, GXI_MODULE)->more)->image_hash == hash);
    CHECK(((gxi_module *)gxi_peek(other.id, GXI_MODULE)->more)->image_hash != hash);
    CHECK(((gxi_module *)gxi_peek(adopted.id, GXI_MODULE)->more)->image_hash == 0);
    free(text);
}

TEST(kernels_that_launch_kernels_are_seen) {
    static const char plain[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; } // cudaCDP2Launch\n";
    static const char launches[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; } // __cudaCDP2LaunchDeviceV2\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK_EQ(((gxi_module *)gxi_peek(gpuexec_module_load(ctx, plain, 0, NULL).id, GXI_MODULE)->more)->device_launches, 0);
    CHECK_EQ(((gxi_module *)gxi_peek(gpuexec_module_load(ctx, launches, 0, NULL).id, GXI_MODULE)->more)->device_launches, 1);
}
