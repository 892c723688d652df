/* nested.c - calls of the device runtime with any arguments: a kernel made from the input's bytes,
   linked and launched. Arguments are numbers, addresses, kernels, and what earlier calls returned.
   A kernel may fail in any way that a kernel can; the CPU device itself must not crash, hang or
   leak. */
#include "../../support/fuzz/grammar.h"
#include "../../simgpu/base/base.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxSynchronize(void);
int cuCtxSetLimit(int limit, size_t value);
int cuLinkCreate_v2(unsigned n, int *options, void **values, void **state);
int cuLinkAddData_v2(void *state, int type, void *data, size_t bytes, const char *name, unsigned n,
        int *options, void **values);
int cuLinkComplete(void *state, void **image, size_t *bytes);
int cuLinkDestroy(void *state);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(unsigned long long *address, size_t bytes);
int cuMemsetD32_v2(unsigned long long address, unsigned value, size_t n);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
        unsigned bz, unsigned shared, void *stream, void **params, void **extra);

enum { TEXT = 64 << 10, BYTES = 4096, SLOTS = 12, MOST = 40, PTX = 1, PENDING = 4 };

static char text[TEXT];
static unsigned long long buffer;

static const struct {
    const char *name, *bytes;
} calls[] = {
#define X(name, bytes) { #name, bytes },
    SIM_NESTED_CALLS(X)
#undef X
};
enum { CALLS = sizeof calls / sizeof *calls };

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    void *context;
    (void)count;
    (void)arguments;
    setenv("SIMGPU_TIMEOUT", "0.01", 1);
    setenv("SIMGPU_MEMORY", "64M", 1);
    FUZZ_CHECK(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) &&
                    !cuCtxPushCurrent_v2(context) && !cuMemAlloc_v2(&buffer, BYTES) &&
                    !cuCtxSetLimit(PENDING, 40),
            "no CPU device");
    return 0;
}

static unsigned size_of(char c) { return c == 'C' ? 12 : (unsigned)(c - '0'); }

/* The prototype of each call; suffix: of a second set. */
static void declare(struct grammar_text *t, const char *prefix, const char *suffix) {
    for (int k = 0; k < CALLS; k++) {
        const char *bytes = calls[k].bytes, *colon = strchr(bytes, ':');
        grammar_add(t, ".extern .func (.param .b%u r) %s%s%s(", 8 * size_of(colon[1]), prefix,
                calls[k].name, suffix);
        for (const char *c = bytes; c < colon; c++)
            if (*c == 'C')
                grammar_add(t, "%s.param .align 4 .b8 p%d[12]", c > bytes ? ", " : "",
                        (int)(c - bytes));
            else
                grammar_add(t, "%s.param .b%u p%d", c > bytes ? ", " : "", 8 * size_of(*c),
                        (int)(c - bytes));
        grammar_add(t, ");\n");
    }
}

/* %v: a number, or what a slot has. */
static void value(struct fuzz_source *s, struct grammar_text *t) {
    if (fuzz_byte(s) % 4) grammar_add(t, "mov.b64 %%v, %%s%u; ", fuzz_pick(s, SLOTS));
    else grammar_add(t, "mov.b64 %%v, 0x%llx; ", (unsigned long long)fuzz_number(s));
}

static void call(struct fuzz_source *s, struct grammar_text *t, unsigned at) {
    const unsigned k = fuzz_pick(s, CALLS), how = fuzz_byte(s);
    const char *const bytes = calls[k].bytes, *colon = strchr(bytes, ':');
    grammar_add(t, "L%u: { .param .b64 r; .param .b32 e; ", at);
    for (const char *c = bytes; c < colon; c++) {
        const int p = (int)(c - bytes);
        if (*c == 'C') {
            grammar_add(t, ".param .align 4 .b8 p%d[12]; ", p);
            for (int j = 0; j < 3; j++)
                grammar_add(t, "st.param.b32 [p%d+%d], %u; ", p, 4 * j,
                        fuzz_byte(s) % 8 ? 1 + fuzz_byte(s) % 3 : (unsigned)fuzz_number(s));
            continue;
        }
        value(s, t);
        grammar_add(t,
                *c == '8' ? ".param .b64 p%d; st.param.b64 [p%d], %%v; "
                          : ".param .b32 p%d; cvt.u32.u64 %%w, %%v; st.param.b32 [p%d], %%w; ",
                p, p);
    }
    const bool wide = colon[1] == '8';
    grammar_add(t, "call (%s), %s%s%s, (", wide ? "r" : "e", how % 4 ? "__cudaCDP2" : "cuda",
            calls[k].name, how / 4 % 4 ? "" : "_ptsz");
    for (const char *c = bytes; c < colon; c++)
        grammar_add(t, "%sp%d", c > bytes ? ", " : "", (int)(c - bytes));
    grammar_add(t, "); ");
    if (wide) grammar_add(t, "ld.param.b64 %%s%u, [r]; ", fuzz_pick(s, SLOTS));
    if (how & 64) grammar_add(t, "ld.global.b64 %%s%u, [%%s0]; ", fuzz_pick(s, SLOTS));
    if (how & 128) grammar_add(t, "st.global.b64 [%%s1], %%s%u; ", fuzz_pick(s, SLOTS));
    grammar_add(t, "}\n");
}

static void make(struct fuzz_source *s, struct grammar_text *t) {
    grammar_add(t, ".version 7.0\n.target sm_70\n.address_size 64\n");
    for (int k = 0; k < 4; k++) declare(t, k % 2 ? "cuda" : "__cudaCDP2", k / 2 ? "_ptsz" : "");
    grammar_add(t,
            ".visible .entry c0() { ret; }\n"
            ".visible .entry c1(.param .u64 p, .param .u32 n) { .reg .b64 %%p; .reg .b32 %%n; "
            "ld.param.u64 %%p, [p]; ld.param.u32 %%n, [n]; atom.global.add.u32 %%n, [%%p], %%n; "
            "ret; }\n"
            ".visible .entry c2() { .reg .b64 %%f; .param .b64 f; .param .align 4 .b8 g[12]; "
            ".param .b32 s; .param .b64 p; .param .b32 e; mov.u64 %%f, c0; st.param.b64 [f], %%f; "
            "st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [s], "
            "0; call (p), __cudaCDP2GetParameterBufferV2, (f, g, g, s); ld.param.b64 %%f, [p]; "
            "st.param.b64 [f], 3; st.param.b64 [p], %%f; call (e), __cudaCDP2LaunchDeviceV2, (p, "
            "f); ret; }\n"
            ".visible .entry k(.param .u64 p) {\n    .reg .b64 %%v, %%s<%d>; .reg .b32 %%w; "
            ".shared .align 8 .b8 m[64]; .local .align 8 .b8 l[64];\n"
            "    ld.param.u64 %%s0, [p]; add.u64 %%s1, %%s0, 64; add.u64 %%s2, %%s0, 256; mov.u64 "
            "%%s3, c0; mov.u64 %%s4, c1; mov.u64 %%s5, c2; cvta.shared.u64 %%s6, m; cvta.local.u64 "
            "%%s7, l; mov.u64 %%s8, 0; mov.u64 %%s9, 1; mov.u64 %%s10, 3; mov.u64 %%s11, 4;\n",
            SLOTS);
    for (unsigned at = 0; at < MOST && s->left; at++) call(s, t, at);
    grammar_add(t, "    ret;\n}\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_source s = { data, size };
    struct grammar_text t = { text, 0, sizeof text };
    const unsigned threads = 1 + fuzz_byte(&s) % 33, blocks = 1 + fuzz_byte(&s) % 2;
    void *params[] = { &buffer }, *state, *image, *module, *kernel;
    size_t bytes;
    make(&s, &t);
    if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "%s", text);
    FUZZ_CHECK(!cuLinkCreate_v2(0, NULL, NULL, &state), "a link state");
    int result = cuLinkAddData_v2(state, PTX, text, strlen(text) + 1, "k", 0, NULL, NULL);
    FUZZ_CHECK(!result, "adding the text: %d", result);
    FUZZ_CHECK(!cuLinkComplete(state, &image, &bytes), "linking");
    result = cuModuleLoadData(&module, image);
    FUZZ_CHECK(!result, "loading: %d", result);
    FUZZ_CHECK(!cuLinkDestroy(state), "destroying the link state");
    FUZZ_CHECK(!cuModuleGetFunction(&kernel, module, "k"), "the kernel");
    FUZZ_CHECK(!cuMemsetD32_v2(buffer, 0, BYTES / 4), "filling the buffer");
    result = cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
    if (!result) result = cuCtxSynchronize();
    if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "answer: %d\n", result);
    simgpu_forget_fault();
    FUZZ_CHECK(!cuModuleUnload(module), "unloading after result %d", result);
    return 0;
}
