/* library.c - libraries and kernels without a context, and the loading modes. */
#include "probe.h"

#define HEAD ".version 6.4\n.target sm_52\n.address_size 64\n"
static const char good[] = HEAD ".visible .entry k() { ret; }\n";
static const char bad[] = HEAD ".visible .entry k() { bogus.s32 %r1; ret; }\n";

static int load(void **library, const char *text) {
    return cu.cuLibraryLoadData(library, text, NULL, NULL, 0, NULL, NULL, 0);
}
static int is_active(void) {
    unsigned flags;
    int active = -1;
    cu.cuDevicePrimaryCtxGetState(0, &flags, &active);
    return active;
}
static void mode(const char *value) {
    if (value) setenv("CUDA_MODULE_LOADING", value, 1);
    else unsetenv("CUDA_MODULE_LOADING");
}
static void *must(const char *text) {
    void *library = NULL;
    int result = load(&library, text);
    if (result) {
        answer("gave_up", "loading: %d", result);
        _exit(0);
    }
    return library;
}
static void *kernel_of(void *library, const char *name) {
    void *k = NULL;
    int result = cu.cuLibraryGetKernel(&k, library, name);
    if (result) {
        answer("gave_up", "%s: %d", name, result);
        _exit(0);
    }
    return k;
}

/* Without any context; then with one that is not current. */
static void without(void) {
    void *library = NULL, *k = NULL, *f = NULL, *m = NULL, *other = NULL, *list[20], *again = NULL;
    ptr p = 0;
    size_t bytes = 0, offset = 77;
    unsigned n = 77;
    int value = 77, i;
    char question[60];
    const char *name = NULL;
    PROBE("load_before_init", load(&library, good));
    PROBE("unload_before_init", cu.cuLibraryUnload(NULL));
    cu.cuInit(0);
    PROBE("load", load(&library, module_text));
    PROBE("makes_active", is_active());
    PROBE("count", cu.cuLibraryGetKernelCount(&n, library));
    answer("count_is", "%u", n);
    PROBE("kernel", cu.cuLibraryGetKernel(&k, library, "many"));
    PROBE("kernel_again_same", (cu.cuLibraryGetKernel(&other, library, "many"), other == k));
    PROBE("list", cu.cuLibraryEnumerateKernels(list, 20, library));
    for (i = 0; i < 9 && i < (int)n; i++) {
        snprintf(question, sizeof question, "list_name_%d", i);
        if (skipped(question)) continue;
        cu.cuKernelGetName(&name, list[i]);
        answer(question, "%s %d", name, list[i] == k);
    }
    PROBE("name", cu.cuKernelGetName(&name, k));
    PROBE("name_right", strcmp(name, "many") == 0);
    PROBE("library", cu.cuKernelGetLibrary(&again, k));
    PROBE("library_same", again == library);
    PROBE("param", cu.cuKernelGetParamInfo(k, 2, &offset, &bytes));
    answer("param_is", "%d %d", (int)offset, (int)bytes);
    PROBE("attribute", cu.cuKernelGetAttribute(&value, 0, k, 0));
    answer("attribute_is", "%d", value);
    PROBE("set_attribute", cu.cuKernelSetAttribute(MAX_DYNAMIC, 60000, k, 0));
    PROBE("get_attribute", (cu.cuKernelGetAttribute(&value, MAX_DYNAMIC, k, 0), value));
    PROBE("cache", cu.cuKernelSetCacheConfig(k, 1, 0));
    PROBE("still_active", is_active());
    PROBE("function", cu.cuKernelGetFunction(&f, k));
    PROBE("module", cu.cuLibraryGetModule(&m, library));
    PROBE("global", cu.cuLibraryGetGlobal(&p, &bytes, library, "gv"));
    PROBE("global_missing", cu.cuLibraryGetGlobal(&p, &bytes, library, "zz"));
    PROBE("managed", cu.cuLibraryGetManaged(&p, &bytes, library, "gv"));
    PROBE("unified", cu.cuLibraryGetUnifiedFunction(&f, library, "help"));
    PROBE("launch", launch(kernel_of(library, "nop"), 1, 1, NULL, NULL));
    PROBE("func_attribute", cu.cuFuncGetAttribute(&value, 0, k));
    PROBE("func_set", cu.cuFuncSetAttribute(k, MAX_DYNAMIC, 0));
    PROBE("func_name", cu.cuFuncGetName(&name, k));
    PROBE("func_param", cu.cuFuncGetParamInfo(k, 0, &offset, &bytes));
    PROBE("func_module", cu.cuFuncGetModule(&m, k));
    PROBE("func_load", cu.cuFuncLoad(k));
    PROBE("func_is_loaded", cu.cuFuncIsLoaded(&value, k));
    PROBE("func_cache", cu.cuFuncSetCacheConfig(k, 1));
    PROBE("blocks", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, k, 32, 0));
    PROBE("active_at_the_end", is_active());
    cu.cuDevicePrimaryCtxRetain(&context[0], 0);
    PROBE("retained_function", cu.cuKernelGetFunction(&f, k));
    PROBE("retained_module", cu.cuLibraryGetModule(&m, library));
    PROBE("retained_global", cu.cuLibraryGetGlobal(&p, &bytes, library, "gv"));
    PROBE("retained_func_attribute", cu.cuFuncGetAttribute(&value, 0, k));
    PROBE("retained_func_name", cu.cuFuncGetName(&name, k));
    PROBE("retained_unload", cu.cuLibraryUnload(library));
    cu.cuDevicePrimaryCtxRelease_v2(0);
    PROBE("load_again", load(&library, good));
    PROBE("unload", cu.cuLibraryUnload(library));
}
static void without_lazy(void) {
    mode("LAZY");
    without();
}

/* Refusals, with a current context. */
static void refusals(void) {
    void *library, *k, *nop, *f = NULL, *m = NULL, *list[12], *value = NULL, *again = NULL;
    ptr p = 0, q = 0;
    size_t bytes = 77, offset = 77;
    unsigned n = 77;
    int option = 0, i, count = 0;
    char question[60];
    const char *name = NULL;
    open_one();
    PROBE("to_null", load(NULL, good));
    PROBE("null", load(&library, NULL));
    PROBE("to_null_bad", load(NULL, bad));
    PROBE("no_options", cu.cuLibraryLoadData(&library, good, NULL, NULL, 1, NULL, NULL, 0));
    PROBE("no_values", cu.cuLibraryLoadData(&library, good, &option, NULL, 1, NULL, NULL, 0));
    for (i = -1; i <= 3; i++) {
        if (i == 0) continue; /* CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE: crashes */
        option = i;
        value = NULL;
        snprintf(question, sizeof question, "library_option_%d", i);
        PROBE(question, cu.cuLibraryLoadData(&library, good, NULL, NULL, 0, &option, &value, 1));
        value = (void *)1;
        snprintf(question, sizeof question, "library_option_%d_to_1", i);
        PROBE(question, cu.cuLibraryLoadData(&library, good, NULL, NULL, 0, &option, &value, 1));
    }
    option = 1;
    PROBE("preserved_no_values",
            cu.cuLibraryLoadData(&library, good, NULL, NULL, 0, &option, NULL, 1));
    library = &library;
    PROBE("failed", load(&library, bad));
    answer("failed_wrote", "%d %d", library != (void *)&library, library == NULL);
    PROBE("file_missing",
            cu.cuLibraryLoadFromFile(&library, "/nowhere/at.all", NULL, NULL, 0, NULL, NULL, 0));
    PROBE("file_null", cu.cuLibraryLoadFromFile(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    PROBE("file_to_null",
            cu.cuLibraryLoadFromFile(NULL, "/nowhere/at.all", NULL, NULL, 0, NULL, NULL, 0));
    PROBE("file_empty_name", cu.cuLibraryLoadFromFile(&library, "", NULL, NULL, 0, NULL, NULL, 0));
    PROBE("file_is_folder", cu.cuLibraryLoadFromFile(&library, "/", NULL, NULL, 0, NULL, NULL, 0));
    PROBE("file_is_empty",
            cu.cuLibraryLoadFromFile(&library, "/dev/null", NULL, NULL, 0, NULL, NULL, 0));
    value = (void *)1;
    PROBE("file_missing_preserved",
            cu.cuLibraryLoadFromFile(
                    &library, "/nowhere/at.all", NULL, NULL, 0, &option, &value, 1));
    library = must(module_text);
    k = kernel_of(library, "many");
    nop = kernel_of(library, "nop");
    PROBE("kernel_to_null", cu.cuLibraryGetKernel(NULL, library, "many"));
    PROBE("kernel_of_null", cu.cuLibraryGetKernel(&f, NULL, "many"));
    PROBE("kernel_null_name", cu.cuLibraryGetKernel(&f, library, NULL));
    f = &f;
    PROBE("kernel_empty", cu.cuLibraryGetKernel(&f, library, ""));
    PROBE("kernel_missing", cu.cuLibraryGetKernel(&f, library, "zz"));
    answer("kernel_missing_wrote", "%d %d", f != (void *)&f, f == NULL);
    PROBE("kernel_is_help", cu.cuLibraryGetKernel(&f, library, "help"));
    PROBE("kernel_is_global", cu.cuLibraryGetKernel(&f, library, "gv"));
    PROBE("count_to_null", cu.cuLibraryGetKernelCount(NULL, library));
    PROBE("count_of_null", cu.cuLibraryGetKernelCount(&n, NULL));
    PROBE("count", cu.cuLibraryGetKernelCount(&n, library));
    answer("count_is", "%u", n);
    PROBE("list_to_null", cu.cuLibraryEnumerateKernels(NULL, 3, library));
    PROBE("list_to_null_0", cu.cuLibraryEnumerateKernels(NULL, 0, library));
    PROBE("list_of_null", cu.cuLibraryEnumerateKernels(list, 3, NULL));
    PROBE("list_0", cu.cuLibraryEnumerateKernels(list, 0, library));
    for (i = 0; i < 12; i++) list[i] = &list[i];
    PROBE("list_2", cu.cuLibraryEnumerateKernels(list, 2, library));
    PROBE("list_2_wrote", (list[1] != (void *)&list[1]) + 2 * (list[2] != (void *)&list[2]));
    PROBE("list_12", cu.cuLibraryEnumerateKernels(list, 12, library));
    for (i = 0; i < 12; i++) count += list[i] != (void *)&list[i];
    answer("list_12_wrote", "%d", count);
    PROBE("module", cu.cuLibraryGetModule(&m, library));
    PROBE("module_to_null", cu.cuLibraryGetModule(NULL, library));
    PROBE("module_of_null", cu.cuLibraryGetModule(&m, NULL));
    PROBE("module_same",
            (cu.cuLibraryGetModule(&m, library), cu.cuLibraryGetModule(&again, library),
                    m == again));
    PROBE("module_unload", cu.cuModuleUnload(m));
    PROBE("module_function", cu.cuModuleGetFunction(&f, m, "many"));
    PROBE("module_function_is_kernel", f == k);
    PROBE("function", cu.cuKernelGetFunction(&again, k));
    PROBE("function_is_of_module", f == again);
    PROBE("function_to_null", cu.cuKernelGetFunction(NULL, k));
    PROBE("function_of_null", cu.cuKernelGetFunction(&f, NULL));
    PROBE("function_module_same", (cu.cuFuncGetModule(&again, f), again == m));
    PROBE("library_to_null", cu.cuKernelGetLibrary(NULL, k));
    PROBE("library_of_null", cu.cuKernelGetLibrary(&again, NULL));
    PROBE("name_to_null", cu.cuKernelGetName(NULL, k));
    PROBE("name_of_null", cu.cuKernelGetName(&name, NULL));
    PROBE("param_of_null", cu.cuKernelGetParamInfo(NULL, 0, &offset, &bytes));
    PROBE("param_to_null", cu.cuKernelGetParamInfo(k, 0, NULL, &bytes));
    PROBE("param_size_null", cu.cuKernelGetParamInfo(k, 0, &offset, NULL));
    PROBE("param_past_end", cu.cuKernelGetParamInfo(k, 5, &offset, &bytes));
    for (i = 0; i < 5; i++) {
        snprintf(question, sizeof question, "param_%d", i);
        if (skipped(question)) continue;
        cu.cuKernelGetParamInfo(k, (size_t)i, &offset, &bytes);
        answer(question, "%d %d", (int)offset, (int)bytes);
    }
    PROBE("global_to_null", cu.cuLibraryGetGlobal(NULL, NULL, library, "gv"));
    PROBE("global_address_only", cu.cuLibraryGetGlobal(&p, NULL, library, "gv"));
    PROBE("global_bytes_only", cu.cuLibraryGetGlobal(NULL, &bytes, library, "gv"));
    PROBE("global_bytes", (int)bytes);
    PROBE("global_null_name", cu.cuLibraryGetGlobal(&p, &bytes, library, NULL));
    PROBE("global_empty", cu.cuLibraryGetGlobal(&p, &bytes, library, ""));
    PROBE("global_of_null", cu.cuLibraryGetGlobal(&p, &bytes, NULL, "gv"));
    PROBE("global_const", cu.cuLibraryGetGlobal(&q, &bytes, library, "cv"));
    PROBE("global_hidden", cu.cuLibraryGetGlobal(&q, &bytes, library, "hidden"));
    PROBE("global_is_entry", cu.cuLibraryGetGlobal(&q, &bytes, library, "nop"));
    PROBE("global_is_shared", cu.cuLibraryGetGlobal(&q, &bytes, library, "dynamic"));
    p = 7;
    bytes = 7;
    PROBE("global_missing", cu.cuLibraryGetGlobal(&p, &bytes, library, "zz"));
    answer("global_missing_wrote", "%d %d", (int)p, (int)bytes);
    PROBE("global_same_as_of_module",
            (cu.cuLibraryGetGlobal(&p, NULL, library, "gv"),
                    cu.cuModuleGetGlobal_v2(&q, NULL, m, "gv"), p == q));
    PROBE("managed", cu.cuLibraryGetManaged(&q, &bytes, library, "gv"));
    PROBE("managed_missing", cu.cuLibraryGetManaged(&q, &bytes, library, "zz"));
    PROBE("managed_null_name", cu.cuLibraryGetManaged(&q, &bytes, library, NULL));
    PROBE("managed_to_null", cu.cuLibraryGetManaged(NULL, NULL, library, "gv"));
    PROBE("managed_of_null", cu.cuLibraryGetManaged(&q, &bytes, NULL, "gv"));
    PROBE("unified", cu.cuLibraryGetUnifiedFunction(&f, library, "help"));
    PROBE("unified_of_entry", cu.cuLibraryGetUnifiedFunction(&f, library, "nop"));
    PROBE("unified_missing", cu.cuLibraryGetUnifiedFunction(&f, library, "zz"));
    PROBE("unified_null_name", cu.cuLibraryGetUnifiedFunction(&f, library, NULL));
    PROBE("unified_to_null", cu.cuLibraryGetUnifiedFunction(NULL, library, "help"));
    PROBE("unified_of_null", cu.cuLibraryGetUnifiedFunction(&f, NULL, "help"));
    cu.cuKernelGetFunction(&f, nop);
    PROBE("function_as_kernel_name", cu.cuKernelGetName(&name, f));
    PROBE("function_as_kernel_function", (again = NULL, cu.cuKernelGetFunction(&again, f)));
    answer("function_as_kernel_function_same", "%d", again == f);
    PROBE("function_as_kernel_library", cu.cuKernelGetLibrary(&again, f));
    PROBE("function_as_kernel_get", cu.cuKernelGetAttribute(&i, 0, f, 0));
    PROBE("module_function_as_kernel_get", cu.cuKernelGetAttribute(&i, 0, kernel(0, "nop"), 0));
    PROBE("module_function_as_kernel_name", cu.cuKernelGetName(&name, kernel(0, "nop")));
    PROBE("module_function_as_kernel_function", cu.cuKernelGetFunction(&f, kernel(0, "nop")));
    PROBE("module_function_as_kernel_library", cu.cuKernelGetLibrary(&f, kernel(0, "nop")));
    PROBE("unload_null", cu.cuLibraryUnload(NULL));
    PROBE("unload", cu.cuLibraryUnload(library));
    PROBE("launch_at_the_end", launch(kernel(0, "nop"), 1, 1, NULL, NULL));
}

static void options(int value) {
    int i;
    open_one();
    for (i = -1; i <= 36; i++) {
        char question[40];
        int option = i;
        void *values[1], *library = NULL;
        values[0] = (void *)(intptr_t)value;
        snprintf(question, sizeof question, "%d", i);
        if (i != 1 || value) /* a division by 0, see option_0 */
            PROBE(question,
                    cu.cuLibraryLoadData(&library, good, &option, values, 1, NULL, NULL, 0));
    }
}
static void options_0(void) { options(0); }
static void options_1(void) { options(1); }

/* What is wrong with an image, and which call reports it: load, count, kernel, function, launch;
   then the same without a context until the function is needed. */
static void image(const char *what, const char *text) {
    void *library = NULL, *k = NULL, *f = NULL;
    char question[60];
    unsigned n = 0;
    int answers[5] = { -1, -1, -1, -1, -1 }, with;
    for (with = 1; with >= 0; with--) {
        snprintf(question, sizeof question, "%s%s", what, with ? "" : "_without");
        if (skipped(question)) continue;
        cu.cuCtxSetCurrent(with ? context[0] : NULL);
        answers[0] = load(&library, text);
        if (answers[0] == 0) {
            answers[1] = cu.cuLibraryGetKernelCount(&n, library);
            answers[2] = cu.cuLibraryGetKernel(&k, library, "k");
            cu.cuCtxSetCurrent(context[0]);
            if (answers[2] == 0) {
                answers[3] = cu.cuKernelGetFunction(&f, k);
                answers[4] = launch(k, 1, 1, NULL, NULL);
            }
        }
        answer(question, "%d %d %d %d %d %u", answers[0], answers[1], answers[2], answers[3],
                answers[4], n);
    }
    cu.cuCtxSetCurrent(context[0]);
}
static void images(void) {
    static const char elf[64] = "\177ELF\2\1\1",
                      fatbin[64] = { 0x50, (char)0xed, 0x55, (char)0xba, 1, 0, 16 };
    open_one();
    image("good", good);
    image("bad", bad);
    image("garbage", "hello");
    image("empty", "");
    image("spaces", "  \n ");
    image("comment", "// nothing\n");
    image("head_only", HEAD);
    image("comment_first", "// a\n" HEAD ".visible .entry k() { ret; }\n");
    image("newer", ".version 9.9\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n");
    image("target_sm_100",
            ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n");
    image("missing_function", HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }\n");
    image("one_of_two_bad", HEAD ".visible .entry k() { ret; }\n.visible .entry j() { bogus; }\n");
    image("elf", elf);
    image("fatbin", fatbin);
    image("not_visible", HEAD ".entry k() { ret; }\n");
}
static void images_lazy(void) {
    mode("LAZY");
    images();
}

/* The log of a library that does not compile: when it is written. */
static void logs(void) {
    static char log[1000];
    int names[2], result, function;
    void *values[2], *library = NULL, *k = NULL, *f = NULL;
    open_one();
    names[0] = LOG_ERROR;
    names[1] = LOG_ERROR_SIZE;
    values[0] = log;
    values[1] = (void *)sizeof log;
    if (skipped("log")) return;
    result = cu.cuLibraryLoadData(&library, bad, names, values, 2, NULL, NULL, 0);
    answer("log", "%d %d %d", result, *log != 0, (uintptr_t)values[1] < sizeof log);
    if (result) return;
    result = cu.cuLibraryGetKernel(&k, library, "k");
    answer("log_kernel", "%d %d %d", result, *log != 0, (uintptr_t)values[1] < sizeof log);
    if (result) return;
    function = cu.cuKernelGetFunction(&f, k);
    answer("log_function", "%d %d %d", function, *log != 0, (uintptr_t)values[1] < sizeof log);
}
static void logs_lazy(void) {
    mode("LAZY");
    logs();
}

/* A kernel in each place of a function. */
static void as_function(void) {
    void *library, *k, *nop, *f = NULL, *m = NULL, *s = NULL, *other = NULL, *again = NULL,
                             *params[2];
    size_t bytes, offset;
    int value = 77, grid, block;
    ptr p = 0;
    uint32_t word = 0;
    const char *name = NULL;
    config c;
    attribute a;
    part parts[1];
    open_one();
    library = must(module_text);
    k = kernel_of(library, "store");
    nop = kernel_of(library, "nop");
    value = 77;
    PROBE("is_loaded", cu.cuFuncIsLoaded(&value, nop));
    answer("is_loaded_is", "%d", value);
    PROBE("load", cu.cuFuncLoad(nop));
    PROBE("is_loaded_then", (cu.cuFuncIsLoaded(&value, nop), value));
    PROBE("launch", launch(nop, 1, 1, NULL, NULL));
    PROBE("function_is_kernel", (cu.cuKernelGetFunction(&f, nop), f == nop));
    PROBE("get", cu.cuFuncGetAttribute(&value, 6, k));
    PROBE("get_is", value);
    PROBE("set", cu.cuFuncSetAttribute(k, MAX_DYNAMIC, 50000));
    PROBE("set_function_has",
            (cu.cuKernelGetFunction(&f, k), cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, f), value));
    PROBE("set_kernel_has", (cu.cuKernelGetAttribute(&value, MAX_DYNAMIC, k, 0), value));
    PROBE("name", cu.cuFuncGetName(&name, k));
    PROBE("module", cu.cuFuncGetModule(&m, k));
    PROBE("module_is", (cu.cuLibraryGetModule(&again, library), m == again));
    PROBE("param", cu.cuFuncGetParamInfo(k, 1, &offset, &bytes));
    PROBE("cache", cu.cuFuncSetCacheConfig(k, 1));
    PROBE("shared_config", cu.cuFuncSetSharedMemConfig(k, 1));
    PROBE("blocks", cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, k, 32, 0));
    PROBE("block_size", cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, k, NULL, 0, 0));
    PROBE("dynamic", cu.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, k, 1, 32));
    PROBE("cooperative", cu.cuLaunchCooperativeKernel(nop, 1, 1, 1, 1, 1, 1, 0, NULL, NULL));
    memset(&c, 0, sizeof c);
    memset(&a, 0, sizeof a);
    c.grid[0] = c.grid[1] = c.grid[2] = c.block[0] = c.block[1] = c.block[2] = 1;
    a.id = 2;
    a.value.flag = 1;
    c.list = &a;
    c.n = 1;
    PROBE("launch_ex", cu.cuLaunchKernelEx(&c, nop, NULL, NULL));
    cu.cuStreamCreateWithPriority(&s, 0, 0);
    memset(parts, 0, sizeof parts);
    memcpy(parts[0].grid, c.grid, sizeof c.grid);
    memcpy(parts[0].block, c.block, sizeof c.block);
    parts[0].function = nop;
    parts[0].stream = s;
    PROBE("multi", cu.cuLaunchCooperativeKernelMultiDevice(parts, 1, 0));
    PROBE("sync", cu.cuCtxSynchronize());
    cu.cuCtxSetCurrent(NULL);
    PROBE("launch_on_stream_without", launch(nop, 1, 1, s, NULL));
    PROBE("launch_without", launch(nop, 1, 1, NULL, NULL));
    PROBE("function_without", cu.cuKernelGetFunction(&f, nop));
    PROBE("get_without", cu.cuFuncGetAttribute(&value, 6, k));
    PROBE("name_without", cu.cuFuncGetName(&name, k));
    cu.cuCtxCreate_v2(&other, 0, 0);
    PROBE("launch_on_stream_of_other", launch(nop, 1, 1, s, NULL));
    PROBE("launch_in_other", launch(nop, 1, 1, NULL, NULL));
    PROBE("function_in_other", cu.cuKernelGetFunction(&again, nop));
    PROBE("function_in_other_same", again == f);
    PROBE("module_in_other_same", (cu.cuLibraryGetModule(&again, library), again == m));
    PROBE("dynamic_in_other",
            (cu.cuKernelGetFunction(&again, k), cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, again),
                    value));
    PROBE("get_in_other", (cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, k), value));
    PROBE("global_in_other", cu.cuLibraryGetGlobal(&p, NULL, library, "gv"));
    value = 5;
    params[0] = &p;
    params[1] = &value;
    PROBE("store_in_other", launch(k, 1, 1, NULL, params));
    PROBE("stored_in_other", (cu.cuMemcpyDtoH_v2(&word, p, 4), (int)word));
    cu.cuCtxSetCurrent(context[0]);
    PROBE("not_stored_here",
            (cu.cuLibraryGetGlobal(&p, NULL, library, "gv"), cu.cuMemcpyDtoH_v2(&word, p, 4),
                    (int)word));
    PROBE("unload", cu.cuLibraryUnload(library));
    PROBE("sync_at_the_end", cu.cuCtxSynchronize());
}

/* Attributes: those of a kernel on a device, and those of its function in a context. */
static void kernel_attributes(void) {
    static const struct {
        int id, value;
    } set[] = {
        { 0, 64 },
        { 1, 0 },
        { 2, 0 },
        { 3, 0 },
        { 4, 16 },
        { 5, 0 },
        { 6, 0 },
        { 7, 0 },
        { MAX_DYNAMIC, 0 },
        { MAX_DYNAMIC, 1 },
        { MAX_DYNAMIC, 232448 },
        { MAX_DYNAMIC, 232449 },
        { MAX_DYNAMIC, -1 },
        { MAX_DYNAMIC, 0x7fffffff },
        { MAX_DYNAMIC, 1024 },
        { CARVEOUT, -2 },
        { CARVEOUT, -1 },
        { CARVEOUT, 0 },
        { CARVEOUT, 50 },
        { CARVEOUT, 100 },
        { CARVEOUT, 101 },
        { 10, 0 },
        { 10, 1 },
        { 11, 0 },
        { 11, 1 },
        { 11, -1 },
        { 12, 0 },
        { 13, 0 },
        { 14, 0 },
        { 14, 1 },
        { 14, 2 },
        { 15, 0 },
        { 15, 1 },
        { 15, 2 },
        { 15, 3 },
        { 16, 0 },
        { 99, 0 },
    };
    void *library, *k, *f = NULL, *fixed;
    int value, i, many = 0;
    char question[60];
    open_one();
    library = must(module_text);
    k = kernel_of(library, "store");
    fixed = kernel_of(library, "fixed40k");
    cu.cuDeviceGetCount(&many);
    for (i = -1; i <= 18; i++) {
        int result;
        snprintf(question, sizeof question, "get_%d", i);
        if (skipped(question)) continue;
        value = 77;
        result = cu.cuKernelGetAttribute(&value, i, k, 0);
        answer(question, "%d %d", result, i == 2 || i == 4 ? 0 : value);
    }
    PROBE("get_to_null", cu.cuKernelGetAttribute(NULL, 0, k, 0));
    PROBE("get_of_null", cu.cuKernelGetAttribute(&value, 0, NULL, 0));
    PROBE("get_no_device", cu.cuKernelGetAttribute(&value, 0, k, -1));
    PROBE("get_no_device_either", cu.cuKernelGetAttribute(&value, 0, k, many));
    PROBE("get_unknown_no_device", cu.cuKernelGetAttribute(&value, 99, k, -1));
    PROBE("get_unknown_of_null", cu.cuKernelGetAttribute(&value, 99, NULL, 0));
    PROBE("set_of_null", cu.cuKernelSetAttribute(MAX_DYNAMIC, 0, NULL, 0));
    PROBE("set_no_device", cu.cuKernelSetAttribute(MAX_DYNAMIC, 0, k, -1));
    PROBE("set_unknown_no_device", cu.cuKernelSetAttribute(99, 0, k, -1));
    PROBE("set_unknown_of_null", cu.cuKernelSetAttribute(99, 0, NULL, 0));
    for (i = 0; i < (int)COUNT(set); i++) {
        int result;
        snprintf(question, sizeof question, "set_%d_to_%d", set[i].id, set[i].value);
        if (skipped(question)) continue;
        result = cu.cuKernelSetAttribute(set[i].id, set[i].value, k, 0);
        value = 77;
        if (set[i].id < 16) cu.cuKernelGetAttribute(&value, set[i].id, k, 0);
        if (set[i].id == 2 || set[i].id == 4) value = 0;
        answer(question, "%d %d", result, value);
    }
    PROBE("fixed_is", (cu.cuKernelGetAttribute(&value, MAX_DYNAMIC, fixed, 0), value));
    PROBE("fixed_opt_in_most", cu.cuKernelSetAttribute(MAX_DYNAMIC, 232448 - 40960, fixed, 0));
    PROBE("fixed_opt_in_more", cu.cuKernelSetAttribute(MAX_DYNAMIC, 232448 - 40960 + 1, fixed, 0));
    for (i = -1; i <= 4; i++) {
        snprintf(question, sizeof question, "cache_%d", i);
        PROBE(question, cu.cuKernelSetCacheConfig(k, i, 0));
    }
    PROBE("cache_of_null", cu.cuKernelSetCacheConfig(NULL, 0, 0));
    PROBE("cache_no_device", cu.cuKernelSetCacheConfig(k, 0, -1));
    PROBE("cache_bad_no_device", cu.cuKernelSetCacheConfig(k, 4, -1));
    k = kernel_of(library, "spin");
    PROBE("kernel_set_first", cu.cuKernelSetAttribute(MAX_DYNAMIC, 60000, k, 0));
    PROBE("function_has",
            (cu.cuKernelGetFunction(&f, k), cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, f), value));
    PROBE("kernel_set_again", cu.cuKernelSetAttribute(MAX_DYNAMIC, 61000, k, 0));
    PROBE("function_has_again", (cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, f), value));
    PROBE("function_set", cu.cuFuncSetAttribute(f, MAX_DYNAMIC, 70000));
    PROBE("kernel_then_has", (cu.cuKernelGetAttribute(&value, MAX_DYNAMIC, k, 0), value));
    PROBE("kernel_set_last", cu.cuKernelSetAttribute(MAX_DYNAMIC, 62000, k, 0));
    PROBE("function_keeps", (cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, f), value));
    PROBE("kernel_has_last", (cu.cuKernelGetAttribute(&value, MAX_DYNAMIC, k, 0), value));
    PROBE("kernel_as_function_has", (cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, k), value));
    k = kernel_of(library, "trp");
    PROBE("function_set_equal",
            (cu.cuKernelGetFunction(&f, k), cu.cuFuncSetAttribute(f, MAX_DYNAMIC, 49152)));
    PROBE("kernel_set_after_equal", cu.cuKernelSetAttribute(MAX_DYNAMIC, 60000, k, 0));
    PROBE("function_after_equal", (cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, f), value));
    cu.cuCtxSetCurrent(NULL);
    PROBE("get_without", cu.cuKernelGetAttribute(&value, 0, k, 0));
    PROBE("set_without", cu.cuKernelSetAttribute(MAX_DYNAMIC, 50000, k, 0));
}

/* A library outlives contexts; its variables do not. */
static void outlives(void) {
    static const char text[] = HEAD ".visible .global .u32 v = 7;\n.visible .entry k() { ret; }\n";
    void *library, *k, *f = NULL, *m = NULL, *again = NULL, *c = NULL;
    ptr p = 0;
    uint32_t word = 9;
    const char *name = NULL;
    int value = 77;
    open_one();
    library = must(text);
    k = kernel_of(library, "k");
    PROBE("first",
            (cu.cuLibraryGetGlobal(&p, NULL, library, "v"), cu.cuMemcpyDtoH_v2(&word, p, 4),
                    (int)word));
    word = 99;
    PROBE("write", cu.cuMemcpyHtoD_v2(p, &word, 4));
    cu.cuLibraryGetModule(&m, library);
    cu.cuKernelGetFunction(&f, k);
    PROBE("reset", cu.cuDevicePrimaryCtxReset_v2(0));
    PROBE("without", cu.cuLibraryGetGlobal(&p, NULL, library, "v"));
    PROBE("launch_without", launch(k, 1, 1, NULL, NULL));
    PROBE("function_without", cu.cuKernelGetFunction(&again, k));
    PROBE("name_without", cu.cuKernelGetName(&name, k));
    PROBE("attribute_without", cu.cuKernelGetAttribute(&value, 0, k, 0));
    cu.cuDevicePrimaryCtxRetain(&c, 0);
    PROBE("same_context", c == context[0]);
    cu.cuCtxSetCurrent(c);
    PROBE("global_again", cu.cuLibraryGetGlobal(&p, NULL, library, "v"));
    PROBE("begins_again", (cu.cuMemcpyDtoH_v2(&word, p, 4), (int)word));
    PROBE("function_again", cu.cuKernelGetFunction(&again, k));
    PROBE("launch_again", launch(k, 1, 1, NULL, NULL));
    PROBE("sync_again", cu.cuCtxSynchronize());
    PROBE("kernel_again", (cu.cuLibraryGetKernel(&again, library, "k"), again == k));
    cu.cuCtxCreate_v2(&c, 0, 0);
    PROBE("in_created",
            (cu.cuLibraryGetGlobal(&p, NULL, library, "v"), cu.cuMemcpyDtoH_v2(&word, p, 4),
                    (int)word));
    PROBE("launch_in_created", launch(k, 1, 1, NULL, NULL));
    PROBE("destroy", cu.cuCtxDestroy_v2(c));
    PROBE("launch_after", (cu.cuCtxSetCurrent(context[0]), launch(k, 1, 1, NULL, NULL)));
    PROBE("unload", cu.cuLibraryUnload(library));
    PROBE("sync", cu.cuCtxSynchronize());
}

static gate the_gate;
static void *open_later(void *unused) {
    (void)unused;
    wrong_time();
    open_gate(the_gate);
    return NULL;
}
static void unload_busy(void) {
    void *library, *s = NULL, *f = NULL;
    pthread_t opens;
    open_one();
    library = must(module_text);
    cu.cuKernelGetFunction(&f, kernel_of(library, "nop"));
    the_gate = make_gate();
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    close_gate(the_gate, kernel_of(library, "spin"), s);
    if (pthread_create(&opens, NULL, open_later, NULL)) return;
    PROBE("unload", cu.cuLibraryUnload(library));
    PROBE("waited", *the_gate.word == 1);
    PROBE("stream", cu.cuStreamSynchronize(s));
    PROBE("launch_function", launch(f, 1, 1, NULL, NULL));
    pthread_join(opens, NULL);
}

/* cuModuleGetLoadingMode with CUDA_MODULE_LOADING set to each of these, and changed after
   cuInit. */
static void loading_mode(const char *value) {
    int result = 77;
    mode(value);
    PROBE("before_init", cu.cuModuleGetLoadingMode(&result));
    answer("before_init_is", "%d", result);
    cu.cuInit(0);
    PROBE("after_init", cu.cuModuleGetLoadingMode(&result));
    answer("is", "%d", result);
    mode("EAGER");
    PROBE("cannot_change", (cu.cuModuleGetLoadingMode(&result), result));
}
/* The module of a library: of images that are wrong, with its functions, its log, and managed
   variables. */
static void of_library(void) {
    static const char variables[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                    ".visible .global .attribute(.managed) .align 4 .u32 m = "
                                    "5;\n.visible .global .align 4 .u32 g = 6;\n"
                                    ".visible .entry k() { .reg .u32 %a; ld.global.u32 %a, [m]; "
                                    "st.global.u32 [g], %a; ret; }\n";
    static const struct {
        const char *name, *text;
    } wrong[] = {
        { "bad", bad },
        { "garbage", "hello" },
        { "empty", "" },
        { "head_only", HEAD },
        { "newer",
                ".version 9.9\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "target_sm_100",
                ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "missing_function", HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }\n" },
        { "fatbin", "\x50\xED\x55\xBA\1\0\x10\0\0\0\0\0\0\0\0\0" },
    };
    void *library = NULL, *m = NULL, *again = NULL, *other = NULL, *f = NULL, *k = NULL;
    ptr p = 0, q = 0, r = 0;
    size_t bytes = 77;
    unsigned n = 77, i;
    int state = 77, option = 1;
    uint32_t word = 77;
    char question[60];
    void *preserved = (void *)1;
    open_one();
    for (i = 0; i < COUNT(wrong); i++) {
        snprintf(question, sizeof question, "wrong_%s", wrong[i].name);
        if (skipped(question)) continue;
        m = &m;
        if ((state = load(&library, wrong[i].text)) != 0) {
            answer(question, "load %d", state);
            continue;
        }
        state = cu.cuLibraryGetModule(&m, library);
        answer(question, "%d %d", state, m == (void *)&m);
        cu.cuLibraryUnload(library);
    }
    library = must(module_text);
    cu.cuLibraryGetModule(&m, library);
    PROBE("functions", cu.cuModuleGetFunctionCount(&n, m));
    answer("functions_are", "%u", n);
    PROBE("function", cu.cuModuleGetFunction(&f, m, "nop"));
    PROBE("is_loaded", (cu.cuFuncIsLoaded(&state, f), state));
    PROBE("load", cu.cuFuncLoad(f));
    PROBE("is_loaded_then", (cu.cuFuncIsLoaded(&state, f), state));
    PROBE("unload", cu.cuModuleUnload(m));
    PROBE("function_after", (cu.cuModuleGetFunction(&again, m, "nop"), again == f));
    PROBE("set", cu.cuFuncSetAttribute(f, CARVEOUT, 25));
    k = kernel_of(library, "nop");
    PROBE("kernel_has", (cu.cuKernelGetAttribute(&state, CARVEOUT, k, 0), state));
    cu.cuCtxCreate_v2(&other, 0, 0);
    PROBE("other_module", (cu.cuLibraryGetModule(&again, library), again == m));
    PROBE("other_has",
            (cu.cuModuleGetFunction(&f, again, "nop"), cu.cuFuncGetAttribute(&state, CARVEOUT, f),
                    state));
    PROBE("unload_library", cu.cuLibraryUnload(library));
    PROBE("variables",
            cu.cuLibraryLoadData(&library, variables, NULL, NULL, 0, &option, &preserved, 1));
    PROBE("managed_here", cu.cuLibraryGetManaged(&q, &bytes, library, "m"));
    PROBE("managed_bytes", (int)bytes);
    PROBE("managed_of_module",
            (cu.cuLibraryGetModule(&again, library),
                    cu.cuModuleGetGlobal_v2(&p, &bytes, again, "m")));
    PROBE("managed_same", p == q);
    PROBE("managed_as_global", (cu.cuLibraryGetGlobal(&p, &bytes, library, "m")));
    PROBE("managed_as_global_same", p == q);
    PROBE("managed_is", q ? (int)*(volatile uint32_t *)(uintptr_t)q : 77);
    PROBE("global_as_managed", cu.cuLibraryGetManaged(&p, &bytes, library, "g"));
    if (q) *(volatile uint32_t *)(uintptr_t)q = 50;
    cu.cuCtxSetCurrent(context[0]);
    PROBE("managed_there", cu.cuLibraryGetManaged(&r, &bytes, library, "m"));
    PROBE("managed_there_same", r == q);
    PROBE("managed_there_is", r ? (int)*(volatile uint32_t *)(uintptr_t)r : 77);
    k = kernel_of(library, "k");
    PROBE("launch", launch(k, 1, 1, NULL, NULL));
    PROBE("result",
            (cu.cuLibraryGetGlobal(&p, NULL, library, "g"), cu.cuMemcpyDtoH_v2(&word, p, 4),
                    (int)word));
    PROBE("unload_variables", cu.cuLibraryUnload(library));
}
static void of_library_eager(void) {
    mode("EAGER");
    of_library();
}
/* What a library's options receive, and when: wall time, verbose log. */
static void written(void) {
    static char log[4000];
    int names[4], result, option = 1;
    void *values[4], *library = NULL, *k = NULL, *m = NULL, *preserved = (void *)1;
    open_one();
    names[0] = WALL_TIME;
    names[1] = LOG_INFO;
    names[2] = LOG_INFO_SIZE;
    names[3] = LOG_VERBOSE;
    values[0] = NULL;
    values[1] = log;
    values[2] = (void *)sizeof log;
    values[3] = (void *)1;
    if (skipped("load")) return;
    result = cu.cuLibraryLoadData(&library, good, names, values, 4, &option, &preserved, 1);
    answer("load", "%d %d %d", result, values[0] != NULL, *log != 0);
    result = cu.cuLibraryGetKernel(&k, library, "k");
    answer("kernel", "%d %d %d", result, values[0] != NULL, *log != 0);
    *log = 0;
    result = cu.cuLibraryGetModule(&m, library);
    answer("module", "%d %d %d", result, values[0] != NULL, *log != 0);
}
static void mode_unset(void) { loading_mode(NULL); }
static void mode_lazy(void) {
    void *m = NULL, *f = NULL;
    int result = 77;
    loading_mode("LAZY");
    open_one();
    PROBE("load_bad", cu.cuModuleLoadData(&m, bad));
    PROBE("load_newer",
            cu.cuModuleLoadData(&m,
                    ".version 9.9\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; "
                    "}\n"));
    PROBE("load", cu.cuModuleLoadData(&m, module_text));
    PROBE("function", cu.cuModuleGetFunction(&f, m, "nop"));
    PROBE("is_loaded", cu.cuFuncIsLoaded(&result, f));
    answer("is_loaded_is", "%d", result);
    PROBE("launch", (cu.cuModuleGetFunction(&f, m, "max64"), launch(f, 1, 1, NULL, NULL)));
    PROBE("is_loaded_after_launch", (cu.cuFuncIsLoaded(&result, f), result));
}
static void mode_eager(void) { loading_mode("EAGER"); }
static void mode_lower(void) { loading_mode("eager"); }
static void mode_default(void) { loading_mode("DEFAULT"); }
static void mode_other(void) { loading_mode("x"); }

const group library_groups[] = {
    { "library_without", without, 1 },
    { "library_without_lazy", without_lazy, 1 },
    { "library", refusals, 1 },
    { "library_option_0", options_0, 1 },
    { "library_option_1", options_1, 1 },
    { "library_image", images, 1 },
    { "library_image_lazy", images_lazy, 1 },
    { "library_log", logs, 1 },
    { "library_log_lazy", logs_lazy, 1 },
    { "kernel_as_function", as_function, 1 },
    { "kernel", kernel_attributes, 1 },
    { "library_outlives", outlives, 1 },
    { "library_busy", unload_busy, 1 },
    { "library_module", of_library, 1 },
    { "library_module_eager", of_library_eager, 1 },
    { "library_written", written, 1 },
    { "mode_unset", mode_unset, 1 },
    { "mode_lazy", mode_lazy, 1 },
    { "mode_eager", mode_eager, 1 },
    { "mode_lower", mode_lower, 1 },
    { "mode_default", mode_default, 1 },
    { "mode_other", mode_other, 1 },
    { NULL, NULL, 0 },
};
