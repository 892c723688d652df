/* modules.c - modules, JIT options and logs, functions and their attributes, linking. */
#include "probe.h"

#define HEAD ".version 6.4\n.target sm_52\n.address_size 64\n"
static const char good[] = HEAD ".visible .entry k() { ret; }\n";
static const char bad[] = HEAD ".visible .entry k() { bogus.s32 %r1; ret; }\n";

static void loads(void) {
    static const struct {
        const char *question, *text;
    } texts[] = {
        { "spaces", "   \n\n  " },
        { "comment", "// nothing\n" },
        { "head_only", HEAD },
        { "version_only", ".version 6.4\n" },
        { "no_target", ".version 6.4\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "no_version", ".target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "no_address_size", ".version 6.4\n.target sm_52\n.visible .entry k() { ret; }\n" },
        { "address_size_32",
                ".version 6.4\n.target sm_52\n.address_size 32\n.visible .entry k() { ret; }\n" },
        { "comment_first", "/* a */ // b\n" HEAD ".visible .entry k() { ret; }\n" },
        { "newline_first", "\n\n" HEAD ".visible .entry k() { ret; }\n" },
        { "target_sm_90a",
                ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "target_sm_89",
                ".version 8.0\n.target sm_89\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "target_sm_100",
                ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "target_sm_120a",
                ".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "target_too_new_for_version",
                ".version 6.4\n.target sm_90\n.address_size 64\n"
                ".visible .entry k() { ret; }\n" },
        { "target_sm_20",
                ".version 3.2\n.target sm_20\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "target_debug",
                ".version 6.4\n.target sm_52, debug\n.address_size 64\n.visible .entry k() { ret; "
                "}\n" },
        { "version_9_0",
                ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "version_9_1",
                ".version 9.1\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n" },
        { "newer_with_error",
                ".version 9.9\n.target sm_75\n.address_size 64\n.visible .entry k() { bogus; }\n" },
        { "entry_twice", HEAD ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n" },
        { "not_visible_entry", HEAD ".entry k() { ret; }\n" },
        { "no_ret", HEAD ".visible .entry k() { }\n" },
        { "extern_function", HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }\n" },
        { "extern_variable",
                HEAD ".extern .global .u32 v;\n"
                     ".visible .entry k() { .reg .u32 %r; ld.global.u32 %r, [v]; ret; }\n" },
        { "cut", HEAD ".visible .entry k() { ret;" },
        { "variables_only", HEAD ".visible .global .u32 v;\n" },
        { "shared_50000",
                HEAD ".visible .entry k() { .shared .b8 a[50000]; .reg .u32 %r; "
                     "ld.volatile.shared.u32 %r, [a]; ret; }\n" },
        { "shared_232448",
                HEAD ".visible .entry k() { .shared .b8 a[232448]; .reg .u32 %r; "
                     "ld.volatile.shared.u32 %r, [a]; ret; }\n" },
        { "shared_232449",
                HEAD ".visible .entry k() { .shared .b8 a[232449]; .reg .u32 %r; "
                     "ld.volatile.shared.u32 %r, [a]; ret; }\n" },
        { "shared_50000_sm_90",
                ".version 8.0\n.target sm_90\n.address_size 64\n"
                ".visible .entry k() { .shared .b8 a[50000]; .reg .u32 %r; ld.volatile.shared.u32 "
                "%r, [a]; ret; }\n" },
        { "debug_with_sections",
                ".version 6.4\n.target sm_52, debug\n.address_size 64\n.file 1 \"a.cu\"\n"
                ".visible .entry k() { .loc 1 1 1\n ret; }\n"
                ".section .debug_str { .b8 0 }\n" },
        { "version_in_comment", "// .version 6.4\n" },
        { "version_only_word", ".version" },
        { "text_then_version", "x .version 6.4\n.target sm_52\n" },
        { "bad_then_version", "bogus\n" HEAD ".visible .entry k() { ret; }\n" },
    };
    void *m = NULL, *f = NULL;
    unsigned i, n;
    int option = 0, value = 77;
    static const char large[] = HEAD ".visible .entry k() { .shared .b8 a[50000]; .reg .u32 %r; "
                                     "ld.volatile.shared.u32 %r, [a]; ret; }\n";
    cu.cuInit(0);
    PROBE("null_without", cu.cuModuleLoadData(NULL, NULL));
    open_one();
    PROBE("to_null", cu.cuModuleLoadData(NULL, good));
    PROBE("null", cu.cuModuleLoadData(&m, NULL));
    PROBE("to_null_bad", cu.cuModuleLoadData(NULL, bad));
    for (i = 0; i < COUNT(texts); i++) {
        int result;
        if (skipped(texts[i].question)) continue;
        result = cu.cuModuleLoadData(&m, texts[i].text);
        n = 0;
        if (result == 0) cu.cuModuleGetFunctionCount(&n, m);
        answer(texts[i].question, "%d %u", result, n);
    }
    PROBE("not_visible_is_found",
            (cu.cuModuleLoadData(&m, HEAD ".entry k() { ret; }\n"),
                    cu.cuModuleGetFunction(&f, m, "k")));
    PROBE("ex", cu.cuModuleLoadDataEx(&m, good, 0, NULL, NULL));
    PROBE("ex_no_options", cu.cuModuleLoadDataEx(&m, good, 1, NULL, NULL));
    PROBE("ex_no_values", cu.cuModuleLoadDataEx(&m, good, 1, &option, NULL));
    PROBE("ex_no_names", cu.cuModuleLoadDataEx(&m, good, 1, NULL, &f));
    PROBE("large_shared", cu.cuModuleLoadData(&m, large));
    PROBE("large_shared_function", cu.cuModuleGetFunction(&f, m, "k"));
    cu.cuFuncGetAttribute(&value, 1, f);
    PROBE("large_shared_bytes", value);
    cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, f);
    PROBE("large_shared_dynamic", value);
    PROBE("large_shared_launch", launch(f, 1, 1, NULL, NULL));
    PROBE("large_shared_sync", cu.cuCtxSynchronize());
    cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 32, 0);
    PROBE("large_shared_blocks", value);
    m = &m;
    PROBE("failed", cu.cuModuleLoadData(&m, bad));
    PROBE("failed_sets_null", m == NULL);
    PROBE("failed_untouched", m == (void *)&m);
}

static void options(int value) {
    int i;
    open_one();
    for (i = -1; i <= 40; i++) {
        char question[40];
        int option = i;
        void *values[1], *m = NULL;
        values[0] = (void *)(intptr_t)value;
        snprintf(question, sizeof question, "%d", i);
        PROBE(question, cu.cuModuleLoadDataEx(&m, good, 1, &option, values));
    }
}
static void options_0(void) { options(0); }
static void options_1(void) { options(1); }
/* The contents of an error log of this size, and of its size slot. */
static void log_of(const char *question, const char *text, char *log, int o1, void *v1, int o2,
        void *v2, int slot) {
    int names[2];
    void *values[2], *m = NULL;
    int result;
    if (skipped(question)) return;
    memset(log, 'x', 1000);
    names[0] = o1;
    names[1] = o2;
    values[0] = v1;
    values[1] = v2;
    result = cu.cuModuleLoadDataEx(&m, text, 2, names, values);
    answer(question, "%d %d %d %d %d", result, (int)(uintptr_t)values[slot], log[0] == 'x',
            log[0] == 0, log[0] == 'x' ? 0 : (int)strlen(log));
}
static void logs(void) {
    static char log[4000];
    char fresh[200];
    int names[4] = { LOG_INFO, LOG_INFO_SIZE, LOG_VERBOSE, WALL_TIME };
    void *values[4], *m = NULL;
    float ms;
    open_one();
    log_of("error", bad, log, LOG_ERROR, log, LOG_ERROR_SIZE, (void *)1000, 1);
    log_of("error_size_first", bad, log, LOG_ERROR_SIZE, (void *)1000, LOG_ERROR, log, 0);
    log_of("error_0", bad, log, LOG_ERROR, log, LOG_ERROR_SIZE, NULL, 1);
    log_of("error_1", bad, log, LOG_ERROR, log, LOG_ERROR_SIZE, (void *)1, 1);
    log_of("error_2", bad, log, LOG_ERROR, log, LOG_ERROR_SIZE, (void *)2, 1);
    log_of("error_null", bad, log, LOG_ERROR, NULL, LOG_ERROR_SIZE, (void *)64, 1);
    log_of("error_no_size", bad, log, LOG_ERROR, log, LOG_VERBOSE, NULL, 1);
    log_of("error_no_buffer", bad, log, LOG_VERBOSE, NULL, LOG_ERROR_SIZE, (void *)64, 1);
    log_of("error_when_good", good, log, LOG_ERROR, log, LOG_ERROR_SIZE, (void *)1000, 1);
    log_of("info_when_good", good, log, LOG_INFO, log, LOG_INFO_SIZE, (void *)1000, 1);
    log_of("info_when_bad", bad, log, LOG_INFO, log, LOG_INFO_SIZE, (void *)1000, 1);
    log_of("two_sizes", bad, log, LOG_ERROR_SIZE, (void *)8, LOG_ERROR_SIZE, (void *)1000, 0);
    log_of("error_when_garbage", "hello", log, LOG_ERROR, log, LOG_ERROR_SIZE, (void *)1000, 1);
    log_of("error_when_newer",
            ".version 9.9\n.target sm_75\n"
            ".address_size 64\n",
            log, LOG_ERROR, log, LOG_ERROR_SIZE, (void *)1000, 1);
    values[0] = log;
    values[1] = (void *)4000;
    values[2] = (void *)1;
    values[3] = NULL;
    memset(log, 'x', sizeof log);
    /* not in any cache */
    snprintf(fresh, sizeof fresh, HEAD ".visible .entry k_%d_%ld() { ret; }\n", (int)getpid(),
            (long)time(NULL));
    PROBE("verbose", cu.cuModuleLoadDataEx(&m, fresh, 4, names, values));
    answer("verbose_tells", "%d %d", (uintptr_t)values[1] > 0, strlen(log) == (uintptr_t)values[1]);
    memcpy(&ms, &values[3], sizeof ms);
    answer("time_tells", "%d", ms > 0 && ms < 30000);
}

static void modules(void) {
    static const char two[] = HEAD ".visible .global .u32 v;\n.visible .entry a() { ret; }\n"
                                   ".visible .entry b() { ret; }\n.visible .entry c() { ret; }\n";
    void *m = NULL, *f = NULL, *g = NULL, *list[5], *other = NULL;
    ptr p = 0, q = 0;
    size_t bytes = 77, offset = 77;
    unsigned n = 77;
    const char *name = NULL;
    int i;
    open_one();
    PROBE("function_to_null", cu.cuModuleGetFunction(NULL, module[0], "nop"));
    PROBE("function_null_module", cu.cuModuleGetFunction(&f, NULL, "nop"));
    PROBE("function_null_name", cu.cuModuleGetFunction(&f, module[0], NULL));
    PROBE("function_empty", cu.cuModuleGetFunction(&f, module[0], ""));
    PROBE("function_null_module_to_null", cu.cuModuleGetFunction(NULL, NULL, "nop"));
    PROBE("function_missing_to_null", cu.cuModuleGetFunction(NULL, module[0], "nope"));
    PROBE("function_case", cu.cuModuleGetFunction(&f, module[0], "NOP"));
    PROBE("function_is_help", cu.cuModuleGetFunction(&f, module[0], "help"));
    PROBE("function_is_global", cu.cuModuleGetFunction(&f, module[0], "gv"));
    f = &f;
    PROBE("function_missing", cu.cuModuleGetFunction(&f, module[0], "nope"));
    answer("missing_wrote", "%d %d", f != (void *)&f, f == NULL);
    f = &f;
    PROBE("function_empty_again", cu.cuModuleGetFunction(&f, module[0], ""));
    answer("function_empty_wrote", "%d %d", f != (void *)&f, f == NULL);
    cu.cuModuleGetFunction(&f, module[0], "nop");
    cu.cuModuleGetFunction(&g, module[0], "nop");
    PROBE("function_twice_same", f == g);
    PROBE("global_to_null", cu.cuModuleGetGlobal_v2(NULL, NULL, module[0], "gv"));
    PROBE("global_address_only", cu.cuModuleGetGlobal_v2(&p, NULL, module[0], "gv"));
    PROBE("global_bytes_only", cu.cuModuleGetGlobal_v2(NULL, &bytes, module[0], "gv"));
    PROBE("global_null_name", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], NULL));
    PROBE("global_empty", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], ""));
    PROBE("global_null_module", cu.cuModuleGetGlobal_v2(&p, &bytes, NULL, "gv"));
    PROBE("global_missing_to_null", cu.cuModuleGetGlobal_v2(NULL, NULL, module[0], "zz"));
    PROBE("global_const", cu.cuModuleGetGlobal_v2(&q, &bytes, module[0], "cv"));
    PROBE("global_const_bytes", (int)bytes);
    PROBE("global_hidden", cu.cuModuleGetGlobal_v2(&q, &bytes, module[0], "hidden"));
    PROBE("global_is_entry", cu.cuModuleGetGlobal_v2(&q, &bytes, module[0], "nop"));
    PROBE("global_is_shared", cu.cuModuleGetGlobal_v2(&q, &bytes, module[0], "dynamic"));
    p = 7;
    bytes = 7;
    PROBE("global_missing", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], "zz"));
    answer("global_missing_wrote", "%d %d", (int)p, (int)bytes);
    p = 7;
    bytes = 7;
    PROBE("global_null_name_again", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], NULL));
    answer("global_null_name_wrote", "%d %d", (int)p, (int)bytes);
    p = 7;
    bytes = 7;
    PROBE("global_empty_again", cu.cuModuleGetGlobal_v2(&p, &bytes, module[0], ""));
    answer("global_empty_wrote", "%d %d", (int)p, (int)bytes);
    PROBE("global_same",
            (cu.cuModuleGetGlobal_v2(&p, NULL, module[0], "gv"),
                    cu.cuModuleGetGlobal_v2(&q, NULL, module[0], "gv"), p == q));
    PROBE("range_of_global", cu.cuMemGetAddressRange_v2(&q, &bytes, p + 4));
    answer("range_of_global_is", "%d %d", q == p, (int)bytes);
    PROBE("copy_past_global", cu.cuMemcpyHtoD_v2(p, good, 17));
    PROBE("count_to_null", cu.cuModuleGetFunctionCount(NULL, module[0]));
    PROBE("count_of_null", cu.cuModuleGetFunctionCount(&n, NULL));
    PROBE("count", cu.cuModuleGetFunctionCount(&n, module[0]));
    answer("count_is", "%u", n);
    cu.cuModuleLoadData(&m, two);
    PROBE("list_to_null", cu.cuModuleEnumerateFunctions(NULL, 3, m));
    PROBE("list_to_null_0", cu.cuModuleEnumerateFunctions(NULL, 0, m));
    PROBE("list_of_null", cu.cuModuleEnumerateFunctions(list, 3, NULL));
    PROBE("list_0", cu.cuModuleEnumerateFunctions(list, 0, m));
    for (i = 0; i < 5; i++) list[i] = &list[i];
    PROBE("list_1", cu.cuModuleEnumerateFunctions(list, 1, m));
    PROBE("list_1_wrote", (list[0] != (void *)&list[0]) + 2 * (list[1] != (void *)&list[1]));
    PROBE("list_5", cu.cuModuleEnumerateFunctions(list, 5, m));
    answer("list_5_wrote", "%d %d %d", list[2] != (void *)&list[2], list[3] != (void *)&list[3],
            list[3] != NULL);
    for (i = 0; i < 3; i++) {
        char question[40];
        snprintf(question, sizeof question, "list_name_%d", i);
        cu.cuFuncGetName(&name, list[i]);
        answer(question, "%s", name);
    }
    PROBE("name_to_null", cu.cuFuncGetName(NULL, f));
    PROBE("name_of_null", cu.cuFuncGetName(&name, NULL));
    PROBE("module_to_null", cu.cuFuncGetModule(NULL, f));
    PROBE("module_of_null", cu.cuFuncGetModule(&m, NULL));
    f = kernel(0, "many");
    PROBE("param_of_null", cu.cuFuncGetParamInfo(NULL, 0, &offset, &bytes));
    PROBE("param_to_null", cu.cuFuncGetParamInfo(f, 0, NULL, &bytes));
    PROBE("param_size_null", cu.cuFuncGetParamInfo(f, 0, &offset, NULL));
    PROBE("param_both_null", cu.cuFuncGetParamInfo(f, 0, NULL, NULL));
    PROBE("param_past_end", cu.cuFuncGetParamInfo(f, 5, &offset, &bytes));
    PROBE("param_past_end_to_null", cu.cuFuncGetParamInfo(f, 5, NULL, NULL));
    PROBE("param_of_none", cu.cuFuncGetParamInfo(kernel(0, "nop"), 0, &offset, &bytes));
    for (i = 0; i < 5; i++) {
        char question[40];
        snprintf(question, sizeof question, "param_%d", i);
        if (skipped(question)) continue;
        cu.cuFuncGetParamInfo(f, (size_t)i, &offset, &bytes);
        answer(question, "%d %d", (int)offset, (int)bytes);
    }
    PROBE("unload_null", cu.cuModuleUnload(NULL));
    cu.cuCtxCreate_v2(&other, 0, 0);
    PROBE("function_in_other_context", cu.cuModuleGetFunction(&f, module[0], "nop"));
    PROBE("launch_on_null_of_other", launch(f, 1, 1, NULL, NULL));
    PROBE("launch_on_own_of_other", launch(f, 1, 1, (void *)2, NULL));
    cu.cuStreamCreateWithPriority(&g, 0, 0);
    PROBE("launch_on_stream_of_other", launch(f, 1, 1, g, NULL));
    PROBE("launch_of_other_grid_0", launch(f, 0, 1, g, NULL));
    PROBE("fill_on_stream_of_other", cu.cuMemsetD8Async(memory[0], 0, 4, g));
    PROBE("unload_in_other_context", cu.cuModuleUnload(module[0]));
    cu.cuCtxSetCurrent(NULL);
    PROBE("function_without", cu.cuModuleGetFunction(&f, m, "a"));
    PROBE("global_without", cu.cuModuleGetGlobal_v2(&p, &bytes, m, "v"));
    PROBE("unload_without", cu.cuModuleUnload(m));
}

static void function_attributes(void) {
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
        { 7, 1 },
        { MAX_DYNAMIC, -1 },
        { MAX_DYNAMIC, 0 },
        { MAX_DYNAMIC, 1 },
        { MAX_DYNAMIC, 232448 },
        { MAX_DYNAMIC, 232449 },
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
        { 17, 0 },
        { 99, 0 },
        { -1, 0 },
    };
    static const int known[] = { 0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    void *f, *fixed;
    int value, i;
    char question[60];
    open_one();
    f = kernel(0, "store");
    fixed = kernel(0, "fixed40k");
    for (i = -1; i <= 18; i++) {
        snprintf(question, sizeof question, "get_%d", i);
        PROBE(question, cu.cuFuncGetAttribute(&value, i, f));
    }
    for (i = 0; i < (int)COUNT(known); i++) {
        value = 77;
        snprintf(question, sizeof question, "value_%d", known[i]);
        PROBE(question, (cu.cuFuncGetAttribute(&value, known[i], f), value));
    }
    PROBE("threads_of_req64", (cu.cuFuncGetAttribute(&value, 0, kernel(0, "req64")), value));
    PROBE("threads_of_max64", (cu.cuFuncGetAttribute(&value, 0, kernel(0, "max64")), value));
    PROBE("shared_of_fixed", (cu.cuFuncGetAttribute(&value, 1, fixed), value));
    PROBE("dynamic_of_fixed", (cu.cuFuncGetAttribute(&value, MAX_DYNAMIC, fixed), value));
    PROBE("get_to_null", cu.cuFuncGetAttribute(NULL, 0, f));
    PROBE("get_of_null", cu.cuFuncGetAttribute(&value, 0, NULL));
    PROBE("get_unknown_to_null", cu.cuFuncGetAttribute(NULL, 99, f));
    PROBE("get_unknown_of_null", cu.cuFuncGetAttribute(&value, 99, NULL));
    PROBE("set_of_null", cu.cuFuncSetAttribute(NULL, MAX_DYNAMIC, 0));
    PROBE("set_unknown_of_null", cu.cuFuncSetAttribute(NULL, 99, 0));
    for (i = 0; i < (int)COUNT(set); i++) {
        int result;
        snprintf(question, sizeof question, "set_%d_to_%d", set[i].id, set[i].value);
        if (skipped(question)) continue;
        result = cu.cuFuncSetAttribute(f, set[i].id, set[i].value);
        value = 77;
        if (set[i].id >= 0 && set[i].id < 16) cu.cuFuncGetAttribute(&value, set[i].id, f);
        if (set[i].id == 2 || set[i].id == 4) value = 0;
        answer(question, "%d %d", result, value);
    }
    PROBE("fixed_opt_in_most", cu.cuFuncSetAttribute(fixed, MAX_DYNAMIC, 232448 - 40960));
    PROBE("fixed_opt_in_more", cu.cuFuncSetAttribute(fixed, MAX_DYNAMIC, 232448 - 40960 + 1));
    cu.cuCtxSetCurrent(NULL);
    PROBE("get_without", cu.cuFuncGetAttribute(&value, 0, f));
    PROBE("set_without", cu.cuFuncSetAttribute(f, MAX_DYNAMIC, 0));
}

/* An object that a running kernel needs is destroyed: the kernel ends, or the call waits. */
static gate the_gate;

static void *open_later(void *unused) {
    (void)unused;
    wrong_time();
    open_gate(the_gate);
    return NULL;
}

static int spin_for_a_while(void **stream, pthread_t *opens) {
    open_one();
    the_gate = make_gate();
    cu.cuStreamCreateWithPriority(stream, 1, 0);
    close_gate(the_gate, kernel(0, "spin"), *stream);
    return pthread_create(opens, NULL, open_later, NULL) == 0;
}
static void unload_busy(void) {
    void *s = NULL;
    pthread_t opens;
    if (!spin_for_a_while(&s, &opens)) return;
    PROBE("unload", cu.cuModuleUnload(module[0]));
    PROBE("waited", *the_gate.word == 1);
    PROBE("stream", cu.cuStreamSynchronize(s));
    pthread_join(opens, NULL);
}
static void free_busy(void) {
    void *s = NULL;
    pthread_t opens;
    if (!spin_for_a_while(&s, &opens)) return;
    PROBE("free", cu.cuMemFree_v2(memory[0]));
    PROBE("waited", *the_gate.word == 1);
    pthread_join(opens, NULL);
}
static void destroy_busy(void) {
    void *c = NULL, *m = NULL, *f = NULL, *s = NULL;
    pthread_t thread;
    open_one();
    the_gate = make_gate();
    cu.cuCtxCreate_v2(&c, 0, 0);
    cu.cuModuleLoadData(&m, module_text);
    cu.cuModuleGetFunction(&f, m, "spin");
    cu.cuStreamCreateWithPriority(&s, 1, 0);
    close_gate(the_gate, f, s);
    if (pthread_create(&thread, NULL, open_later, NULL)) return;
    PROBE("destroy", cu.cuCtxDestroy_v2(c));
    PROBE("waited", *the_gate.word == 1);
    pthread_join(thread, NULL);
}

/* --- linking --- */

static const char main_text[] = HEAD
        ".extern .func help();\n.visible .entry k() { call help; ret; }\n";
static const char help_text[] = HEAD ".visible .func help() { ret; }\n";
static int add(void *state, const char *text, const char *name) {
    return cu.cuLinkAddData_v2(
            state, 1, (void *)(uintptr_t)text, strlen(text) + 1, name, 0, NULL, NULL);
}

/* A symbol is missing; with which logs, and with CU_JIT_LOG_VERBOSE or not. What cuLinkComplete
   returns, whether there is an image, and what the log names. */
static void missing(const char *what, const char *text, int info, int error, int verbose) {
    static char logs[2][2000];
    int names[5], result;
    void *values[5], *state = NULL, *image = NULL, *m = NULL;
    size_t bytes = 0;
    unsigned n = 0;
    char question[60];
    snprintf(question, sizeof question, "missing_%s%s%s%s", what, info ? "_info" : "",
            error ? "_error" : "", verbose ? "_verbose" : "");
    if (skipped(question)) return;
    memset(logs, 0, sizeof logs);
    if (info) {
        names[n] = LOG_INFO;
        values[n++] = logs[0];
        names[n] = LOG_INFO_SIZE;
        values[n++] = (void *)sizeof logs[0];
    }
    if (error) {
        names[n] = LOG_ERROR;
        values[n++] = logs[1];
        names[n] = LOG_ERROR_SIZE;
        values[n++] = (void *)sizeof logs[1];
    }
    if (verbose) {
        names[n] = LOG_VERBOSE;
        values[n++] = (void *)1;
    }
    cu.cuLinkCreate_v2(n, names, values, &state);
    add(state, text, "main");
    result = cu.cuLinkComplete(state, &image, &bytes);
    answer(question, "%d %d %d %d %d", result, image != NULL, bytes > 0,
            strstr(logs[1], "Undefined") != NULL, result ? -1 : cu.cuModuleLoadData(&m, image));
}
static void missings(void) {
    static const char variable[] = HEAD ".extern .global .align 4 .u32 sw;\n"
                                        ".visible .entry k() { .reg .b32 %r1; ld.global.u32 %r1, "
                                        "[sw]; st.global.u32 [sw], %r1; ret; }\n";
    static const char both[] =
            ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func tw();\n"
            ".extern .global .align 4 .u32 sw;\n"
            ".visible .entry run() { .reg .b32 %r1; ld.global.u32 %r1, [sw]; st.global.u32 [sw], "
            "%r1; call tw, (); ret; }\n";
    int i;
    open_one();
    for (i = 0; i < 8; i++) missing("function", main_text, i & 1, i & 2, i & 4);
    for (i = 0; i < 8; i++) missing("variable", variable, i & 1, i & 2, i & 4);
    for (i = 0; i < 8; i++) missing("both", both, i & 1, i & 2, i & 4);
}

/* An input with the wrong kind; then a correct one; then cuLinkComplete. */
static void odd_input(const char *what, int type, const char *text) {
    void *state = NULL, *image = NULL;
    size_t bytes = 0;
    int first, second;
    char question[60];
    snprintf(question, sizeof question, "add_%s", what);
    if (skipped(question)) return;
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    first = cu.cuLinkAddData_v2(
            state, type, (void *)(uintptr_t)text, strlen(text) + 1, "n", 0, NULL, NULL);
    second = add(state, good, "m");
    answer(question, "%d %d %d", first, second, cu.cuLinkComplete(state, &image, &bytes));
}

static void links(void) {
    void *state = NULL, *image = NULL, *again = NULL, *m = NULL, *f = NULL, *value = NULL;
    size_t bytes = 0;
    int option = 99, i;
    char question[60];
    cu.cuInit(0);
    PROBE("create_without", cu.cuLinkCreate_v2(0, NULL, NULL, &state));
    PROBE("create_to_null_without", cu.cuLinkCreate_v2(0, NULL, NULL, NULL));
    open_one();
    PROBE("create_to_null", cu.cuLinkCreate_v2(0, NULL, NULL, NULL));
    PROBE("create_bad_option", cu.cuLinkCreate_v2(1, &option, &value, &state));
    for (i = -1; i <= 36; i++) {
        if (i == 1) continue; /* a division by 0, see option_0 */
        option = i;
        value = NULL;
        snprintf(question, sizeof question, "create_option_%d", i);
        PROBE(question, cu.cuLinkCreate_v2(1, &option, &value, &state));
    }
    PROBE("create", cu.cuLinkCreate_v2(0, NULL, NULL, &state));
    PROBE("add_null", cu.cuLinkAddData_v2(state, 1, NULL, 10, "n", 0, NULL, NULL));
    PROBE("add_0",
            cu.cuLinkAddData_v2(state, 1, (void *)(uintptr_t)help_text, 0, "n", 0, NULL, NULL));
    PROBE("add_null_0", cu.cuLinkAddData_v2(state, 1, NULL, 0, "n", 0, NULL, NULL));
    odd_input("type_99", 99, help_text);
    odd_input("type_-1", -1, help_text);
    odd_input("type_6", 6, help_text);
    odd_input("as_cubin", 0, help_text);
    odd_input("as_fatbin", 2, help_text);
    odd_input("as_object", 3, help_text);
    odd_input("as_library", 4, help_text);
    odd_input("garbage_as_fatbin", 2, "hello");
    odd_input("garbage_as_object", 3, "hello");
    odd_input("garbage", 1, "hello");
    odd_input("bad", 1, bad);
    odd_input("newer", 1, ".version 99.9\n.target sm_70\n");
    odd_input("empty", 1, "");
    for (i = -1; i <= 36; i++) {
        if (i == 1) continue;
        option = i;
        value = NULL;
        snprintf(question, sizeof question, "add_option_%d", i);
        PROBE(question,
                cu.cuLinkAddData_v2(
                        state, 1, (void *)(uintptr_t)bad, sizeof bad, "n", 1, &option, &value));
    }
    PROBE("complete_after_bad", cu.cuLinkComplete(state, &image, &bytes));
    PROBE("destroy_after_bad", cu.cuLinkDestroy(state));
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    PROBE("add_help", add(state, help_text, NULL));
    PROBE("add_unterminated",
            cu.cuLinkAddData_v2(state, 1, (void *)(uintptr_t)main_text, sizeof main_text - 1, "", 0,
                    NULL, NULL));
    PROBE("complete_to_null", cu.cuLinkComplete(state, NULL, &bytes));
    PROBE("complete", cu.cuLinkComplete(state, &image, NULL));
    PROBE("complete_again", cu.cuLinkComplete(state, &again, &bytes));
    PROBE("add_after", add(state, good, "n"));
    PROBE("load", cu.cuModuleLoadData(&m, image));
    PROBE("function", cu.cuModuleGetFunction(&f, m, "k"));
    PROBE("launch", launch(f, 1, 1, NULL, NULL));
    PROBE("sync", cu.cuCtxSynchronize());
    PROBE("destroy", cu.cuLinkDestroy(state));
    PROBE("launch_after_destroy", launch(f, 1, 1, NULL, NULL));
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    PROBE("complete_nothing", cu.cuLinkComplete(state, &image, &bytes));
    PROBE("null_add", add(NULL, good, "n"));
    PROBE("null_complete", cu.cuLinkComplete(NULL, &image, &bytes));
    PROBE("null_destroy", cu.cuLinkDestroy(NULL));
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    cu.cuCtxSetCurrent(NULL);
    PROBE("add_without", add(state, good, "n"));
    PROBE("complete_without", cu.cuLinkComplete(state, &image, &bytes));
    PROBE("destroy_without", cu.cuLinkDestroy(state));
}
/* Variables by name, of an image that was loaded as it is, linked alone, and linked with one that
   has private variables of the same names and another size. */
static void find_variables(const char *how, const void *image) {
    static const char *const names[] = { "visible_const", "visible_const_used", "const_alone",
        "const_used", "visible_global", "global_alone", "global_used", "weak_global", "twice",
        "const_twice" };
    void *m = NULL, *f = NULL;
    unsigned i;
    char question[60];
    int result = cu.cuModuleLoadData(&m, image);
    snprintf(question, sizeof question, "%s_load", how);
    answer(question, "%d", result);
    for (i = 0; i < COUNT(names); i++) {
        ptr p = 0;
        size_t bytes = 0;
        snprintf(question, sizeof question, "%s_%s", how, names[i]);
        if (skipped(question)) continue;
        result = cu.cuModuleGetGlobal_v2(&p, &bytes, m, names[i]);
        answer(question, "%d %d", result, (int)bytes);
    }
    snprintf(question, sizeof question, "%s_hidden_entry", how);
    PROBE(question, cu.cuModuleGetFunction(&f, m, "hidden_entry"));
    snprintf(question, sizeof question, "%s_visible_entry", how);
    PROBE(question, cu.cuModuleGetFunction(&f, m, "visible_entry"));
}
static void link_names(void) {
    static const char first[] = HEAD
            ".visible .const .align 4 .u32 visible_const;\n"
            ".visible .const .align 4 .u32 visible_const_used;\n.const .align 4 .u32 const_alone;\n"
            ".const .align 4 .u32 const_used;\n.visible .global .align 4 .u32 visible_global;\n"
            ".global .align 4 .u32 global_alone;\n.global .align 4 .u32 global_used;\n"
            ".weak .global .align 4 .u32 weak_global;\n.global .align 4 .u32 twice;\n.const .align "
            "4 .u32 const_twice;\n"
            ".visible .entry visible_entry() { .reg .b32 %r<9>; ld.const.u32 %r1, "
            "[visible_const_used]; ld.const.u32 %r2, [const_used]; ld.const.u32 %r3, "
            "[const_twice]; ld.global.u32 %r4, [twice]; add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, "
            "%r4; add.u32 %r1, %r1, %r3; st.global.u32 [global_used], %r1; st.global.u32 "
            "[visible_global], %r1; ret; }\n.entry hidden_entry() { ret; }\n";
    static const char second[] = HEAD
            ".global .align 4 .b8 twice[12];\n.const .align 4 .b8 const_twice[12];\n"
            ".visible .entry second_entry() { .reg .b32 %r<9>; ld.const.u32 %r3, [const_twice]; "
            "st.global.u32 [twice], %r3; ret; }\n";
    void *state = NULL, *image = NULL;
    size_t bytes = 0;
    open_one();
    find_variables("loaded", first);
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    PROBE("alone_add", add(state, first, "first"));
    PROBE("alone_complete", cu.cuLinkComplete(state, &image, &bytes));
    if (image) find_variables("alone", image);
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    PROBE("both_add", add(state, first, "first") + add(state, second, "second"));
    image = NULL;
    PROBE("both_complete", cu.cuLinkComplete(state, &image, &bytes));
    if (image) find_variables("both", image);
    cu.cuLinkCreate_v2(0, NULL, NULL, &state);
    PROBE("turned_add", add(state, second, "second") + add(state, first, "first"));
    image = NULL;
    PROBE("turned_complete", cu.cuLinkComplete(state, &image, &bytes));
    if (image) find_variables("turned", image);
}

/* Registers of a kernel that has `live` values at once, the most threads of a block, and the result
   of a launch with 1024, where directives or options limit the registers. Without a limit the
   number is a compiler's choice. */
static void registers_of(
        const char *what, const char *directives, int live, unsigned n, int *names, void **values) {
    static char text[40000];
    char question[80], *at = text;
    void *m = NULL, *f = NULL, *params[1];
    int i, result, used = 0, most = 0;
    params[0] = &memory[0];
    snprintf(question, sizeof question, "%s_%d", what, live);
    if (skipped(question)) return;
    at += sprintf(at,
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) %s {\n"
            ".reg .b64 %%a; .reg .b32 %%v<%d>; ld.param.u64 %%a, [p];\n",
            directives, live);
    for (i = 0; i < live; i++)
        at += sprintf(at, "ld.volatile.global.u32 %%v%d, [%%a+%d];\n", i, 4 * i);
    for (i = 0; i < live; i++)
        at += sprintf(at, "st.volatile.global.u32 [%%a+%d], %%v%d;\n", 4 * i, live - 1 - i);
    sprintf(at, "ret;\n}\n");
    if ((result = cu.cuModuleLoadDataEx(&m, text, n, names, values))) {
        answer(question, "%d", result);
        return;
    }
    cu.cuModuleGetFunction(&f, m, "k");
    cu.cuFuncGetAttribute(&used, 4, f);
    cu.cuFuncGetAttribute(&most, 0, f);
    result = launch(f, 1, 1024, NULL, params);
    answer(question, "%d %d %d", used, most, result);
}
static void registers_with(const char *what, const char *directives, int option, intptr_t value) {
    static const int lives[] = { 60, 240 };
    char whole[60];
    unsigned i;
    for (i = strchr(what, '-') != NULL; i < COUNT(lives); i++) { /* -: more than 60 are allowed */
        int names[1];
        void *values[1];
        names[0] = option;
        values[0] = (void *)value;
        if (value) snprintf(whole, sizeof whole, "%s_option_%d_%d", what, option, (int)value);
        else snprintf(whole, sizeof whole, "%s", what);
        registers_of(whole, directives, lives[i], value != 0, names, values);
    }
}
static void registers(void) {
    static const int most[] = { 1, 16, 17, 24, 31, 32, 40, 64 };
    int i;
    open_one();
    for (i = 0; i < (int)COUNT(most); i++) registers_with("plain", "", 0, most[i]);
    registers_with("plain-", "", 0, 65);
    registers_with("plain-", "", 0, 128);
    registers_with("plain-", "", 1, 512);
    registers_with("plain", "", 1, 1024);
    registers_with("plain", "", 32, 1024);
    registers_with("maxntid_1024", ".maxntid 1024, 1, 1", 0, 0);
    registers_with("maxntid_1024", ".maxntid 1024, 1, 1", 0, 128);
    registers_with("maxntid_768-", ".maxntid 768, 1, 1", 0, 0);
    registers_with("reqntid_1024", ".reqntid 1024, 1, 1", 0, 0);
    registers_with("minnctapersm_2", ".maxntid 512, 1, 1 .minnctapersm 2", 0, 0);
    registers_with("minnctapersm_3", ".maxntid 512, 1, 1 .minnctapersm 3", 0, 0);
    registers_with("minnctapersm_2_1024", ".maxntid 1024, 1, 1 .minnctapersm 2", 0, 0);
    registers_with("maxnreg_32", ".maxnreg 32", 0, 0);
    registers_with("maxnreg_32", ".maxnreg 32", 0, 64);
    registers_with("maxnreg_64", ".maxnreg 64", 0, 32);
    registers_with("maxnreg_128-", ".maxnreg 128 .maxntid 1024, 1, 1", 0, 0);
    registers_with("maxnreg_1", ".maxnreg 1", 0, 0);
}

const group module_groups[] = {
    { "load", loads, 1 },
    { "option_0", options_0, 1 },
    { "option_1", options_1, 1 },
    { "log", logs, 1 },
    { "modules", modules, 1 },
    { "function", function_attributes, 1 },
    { "unload_busy", unload_busy, 1 },
    { "free_busy", free_busy, 1 },
    { "destroy_busy", destroy_busy, 1 },
    { "registers", registers, 1 },
    { NULL, NULL, 0 },
};
const group link_groups[] = {
    { "link", links, 1 },
    { "link_missing", missings, 1 },
    { "link_names", link_names, 1 },
    { NULL, NULL, 0 },
};
