/* params.c - compares how gpuexec.h reads and lays out parameters with the CPU device, which has
   separate code for both.
     text     an arbitrary image: loaded and linked; if the device accepts it as PTX, the header's
              reader of PTX text must find the same kernels with the same parameters; binaries with
              arbitrary headers, and what kernels do with their arguments, in memory that ends where
              the image ends
     layout   a kernel with parameters of arbitrary types, which writes out what it received: the
              reader, the packed block, gpuexec_params_check, launches from the block, from the
              packed buffer, prepared and with wrong arguments */
#define GPUEXEC_IMPLEMENTATION
#define GPUEXEC_STATIC
#include "../../../gpuexec.h"
#include "../../support/fuzz/grammar.h"

enum { MOST = 24, BYTES = 4096, ROOM = 320 << 10 };

static gpuexec_context context;
static gpuexec_stream stream;
static gpuexec_ptr out;

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    simgpu_take_this();
    setenv("SIMGPU_MEMORY", "64M", 1);
    context = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(context, NULL);
    out = gpuexec_alloc(context, BYTES);
    FUZZ_CHECK(gpuexec_take_error() == GPUEXEC_OK, "%s", gpuexec_error_text());
    return 0;
}

/* ---- text ---- */

static void compare(gpuexec_module module, const char *text) {
    static unsigned short sizes[GXI_MAX_PARAMETERS], offsets[GXI_MAX_PARAMETERS],
            types[GXI_MAX_PARAMETERS];
    const char *p = text, *name, *end;
    int seen = 0;
    while ((p = gxi_ptx_entry(p, &name, &end)) != NULL) {
        char own[256] = "";
        const int n = gxi_ptx_params(p, sizes, offsets, types, GXI_MAX_PARAMETERS);
        size_t offset = 0, size;
        if (end - name < (int)sizeof own) memcpy(own, name, (size_t)(end - name));
        const gpuexec_kernel kernel = gpuexec_kernel_get(module, own);
        if (gpuexec_take_error()) continue; /* declared, but not defined */
        seen++;
        if (n < 0) continue; /* "cannot be read" is a valid result */
        gpuexec_kernel_info info;
        FUZZ_CHECK(!gpuexec_kernel_get_info(kernel, &info) && info.parameters == n,
                "%s has %d parameters, not %d", own, info.parameters, n);
        int wide = 0;
        for (int i = 0; i < n; i++) {
            size = gpuexec_kernel_parameter_size(kernel, i);
            offset = (size_t)gpuexec_kernel_parameter_offset(kernel, i);
            /* alignments above 16: see gpuexec_params_check */
            wide |= offsets[i] != offset && (offsets[i] % 32 == 0 || offset % 16 == 0);
            FUZZ_CHECK(size == sizes[i] && (wide || offset == offsets[i]),
                    "parameter %d of %s has %zu bytes at %zu, the reader reports %d at %d", i, own,
                    size, offset, sizes[i], offsets[i]);
        }
    }
    FUZZ_CHECK(seen >= gpuexec_module_kernel_count(module), "the reader finds %d of %d kernels",
            seen, gpuexec_module_kernel_count(module));
}

/* What is kept of a text has, under each name, the parameters of the first entry with it; and each
   name once. */
static void keep(const char *text) {
    static unsigned short sizes[2][GXI_MAX_PARAMETERS], offsets[GXI_MAX_PARAMETERS],
            types[GXI_MAX_PARAMETERS];
    gxi_module *const m = gxi_module_new("kept");
    gxi_text signatures = { 0, 0, 0, 0 }, log = { 0, 0, 0, 0 };
    const char *p, *name, *end;
    unsigned says;
    int i, k, n;
    if (!m) return;
    gxi_list_ptx_kernels(m, text);
    gxi_ptx_signatures(&signatures, text);
    FUZZ_CHECK(
            !signatures.p || gxi_module_keep_signatures(m, &signatures), "the signatures are kept");
    for (i = 0; i < m->nkernels && i < 50; i++) {
        for (k = 0; k < i; k++)
            FUZZ_CHECK(strcmp(m->kernels[k], m->kernels[i]) != 0, "%s twice", m->kernels[i]);
        for (p = text; (p = gxi_ptx_entry(p, &name, &end)) != NULL &&
                !gxi_ptx_is(name, end, m->kernels[i]);) {}
        FUZZ_CHECK(p, "%s is not in the text", m->kernels[i]);
        n = gxi_ptx_params(p, sizes[0], offsets, types, GXI_MAX_PARAMETERS);
        p = gxi_ptx_after(m->entries, m->nentries, m->kernels[i]);
        FUZZ_CHECK(p, "%s is not among what is kept", m->kernels[i]);
        if (n < 0) continue;
        FUZZ_CHECK(gxi_ptx_params(p, sizes[1], offsets, types, GXI_MAX_PARAMETERS) == n &&
                        memcmp(sizes[0], sizes[1], (size_t)n * sizeof **sizes) == 0,
                "%s is kept otherwise", m->kernels[i]);
    }
    gxi_link_log(&log, text, &says);
    gxi_text_free(&log);
    gxi_module_free(m);
}

static void test_text(const uint8_t *data, size_t size) {
    static const gpuexec_module_desc verbose = { .verbose = 1, .name = "fuzz" };
    uint8_t *exact = (uint8_t *)malloc(size + !size);
    if (!exact) return;
    if (size) memcpy(exact, data, size);
    {
        struct gxi_accesses *const accesses = gxi_access_analyse((const char *)exact, size);
        FUZZ_CHECK(accesses, "no memory");
        gxi_access_free(accesses);
    }
    /* the library trusts this pointer */
    if (size == 24 && gxi_starts_with(exact, size, GXI_FATBIN_WRAPPER_MAGIC))
        memset(exact + 8, 0, 8);
    if (size) {
        const gpuexec_module module = gpuexec_module_load(
                context, exact, size, size & 1 ? &verbose : NULL);
        if (gpuexec_take_error() == GPUEXEC_OK) {
            char *text = (char *)calloc(1, size + 1);
            if (text) {
                memcpy(text, exact, size);
                compare(module, text);
            }
            free(text);
            gpuexec_module_unload(module);
        } else FUZZ_CHECK(*gpuexec_error_text() && *gpuexec_why(module), "no reason");
        char *const whole = (char *)malloc(size + 1);
        if (whole) {
            memcpy(whole, exact, size);
            whole[size] = 0;
            keep(whole);
        }
        free(whole);
        const gpuexec_library library = gpuexec_library_load(exact, size, NULL);
        if (gpuexec_take_error() == GPUEXEC_OK) {
            gpuexec_library_module(library, context);
            gpuexec_take_error();
            FUZZ_CHECK(gpuexec_library_unload(library) == GPUEXEC_OK, "%s", gpuexec_error_text());
        }
        const gpuexec_image images[2] = {
            { exact, size, "whole" },
            { exact, size - size / 4, "part" },
        };
        const gpuexec_module best = gpuexec_module_load_best(context, images, 2, NULL);
        if (gpuexec_take_error() == GPUEXEC_OK) gpuexec_module_unload(best);
        const gpuexec_linker linker = gpuexec_linker_create(context, NULL);
        const gpuexec_result added = gpuexec_linker_add(
                linker, (gpuexec_input_type)(data[0] % 7), exact, size, NULL);
        FUZZ_CHECK(added == gpuexec_take_error(), "the failure is latched");
        const gpuexec_module linked = gpuexec_linker_load(linker);
        if (gpuexec_take_error() == GPUEXEC_OK) gpuexec_module_unload(linked);
        gpuexec_linker_destroy(linker);
    }
    free(exact);
}

/* ---- layout ---- */

struct parameter {
    unsigned type, bytes, alignment, index;
};
static char text[ROOM];
static size_t at;
static void add(const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(text + at, sizeof text - at, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof text - at) abort();
    at += (size_t)n;
}
static const char *blank(struct fuzz_source *s) {
    static const char *const blanks[] = { " ", " ", "\n", "\t", " /* .param .u8 x, ) */ ",
        " // ) .entry y (\n", "\r\n ", " \f " };
    return blanks[fuzz_byte(s) % 8];
}

static unsigned declare(struct fuzz_source *s, struct parameter *p, unsigned most) {
    unsigned n = 0, bytes = 8;
    p[n++] = (struct parameter){ GPUEXEC_POINTER, 8, 8, 0 };
    while (s->left > 4 && n < most) {
        struct parameter *q = &p[n];
        q->type = fuzz_byte(s) % (GPUEXEC_TYPES + 8);
        if (q->type > 0 && q->type < GPUEXEC_TYPES) {
            q->bytes = gxi_number_types[q->type].bytes;
            q->alignment = gxi_number_types[q->type].alignment;
        } else {
            q->type = 0;
            q->alignment = 1u << fuzz_byte(s) % 8;
            q->bytes = q->alignment * (1 + fuzz_byte(s) % (q->alignment > 16 ? 3 : 20));
        }
        q->index = n;
        bytes = (bytes + q->alignment - 1) / q->alignment * q->alignment + q->bytes;
        if (bytes + 128 > BYTES) break; /* 128: room for the padding of large alignments */
        n++;
    }
    return n;
}

static void write_kernel(struct fuzz_source *s, const struct parameter *p, unsigned n) {
    static const char *const scalars[4][3] = {
        { "b8", "u8", "s8" },
        { "b16", "u16", "f16" },
        { "b32", "f32", "s32" },
        { "u64", "b64", "f64" },
    };
    at = 0;
    add("//%s\n.version 8.1\n.target sm_90\n.address_size 64\n.func f(.param .b32 a) { ret; }\n"
        "%s.entry%sk%s(",
            fuzz_byte(s) % 2 ? " .entry k(.param .u8 a)" : "", fuzz_byte(s) % 2 ? ".visible " : "",
            blank(s), blank(s));
    for (unsigned i = 0; i < n; i++) {
        const unsigned log = p[i].bytes == 8 ? 3
                : p[i].bytes == 4            ? 2
                : p[i].bytes == 2            ? 1
                                             : 0,
                       style = fuzz_byte(s);
        add("%s.param%s", blank(s), blank(s));
        if (p[i].bytes == p[i].alignment && p[i].bytes <= 8 && style % 4) {
            const char *scalar = scalars[log][style / 4 % 3];
            const unsigned is = *scalar == 'f' ? GPUEXEC_PARAMETER_FLOAT
                    : *scalar == 'b'           ? GPUEXEC_PARAMETER_BITS
                                               : GPUEXEC_PARAMETER_INTEGER;
            /* refused */
            if (gxi_type_differs(p[i].type, gxi_parameter_word(is)))
                scalar = log == 3 ? "b64" : scalars[log][0];
            add(".%s%s", scalar, blank(s));
            if (log == 3 && style & 128 && p[i].type != GPUEXEC_DOUBLE)
                add(".ptr .global .align 4 ");
            add("p%u", i);
        } else
            add(style & 64 ? ".align %u%s.b8%sp%u[%u]" : ".align %u%s.b8%sp%u[0x%X]",
                    p[i].alignment, blank(s), blank(s), i, p[i].bytes);
        add("%s%s", blank(s), i + 1 < n ? "," : "");
    }
    add(") {\n.reg .b16 %%h; .reg .b64 %%d;\nld.param.u64 %%d, [p0];\n");
    unsigned to = 0;
    for (unsigned i = 0; i < n; to += p[i++].bytes)
        for (unsigned k = 0; k < p[i].bytes; k++)
            add("ld.param.u8 %%h, [p%u+%u]; st.global.u8 [%%d+%u], %%h;\n", i, k, to + k);
    add("ret; }\n");
}

/* Checks that the kernel received the argument values. */
static void came(const struct parameter *p, unsigned n, const unsigned char *const *values,
        const char *how) {
    static unsigned char got[BYTES];
    size_t from = 0;
    gpuexec_copy_out(stream, got, out, sizeof got);
    gpuexec_fill(stream, out, 0xEE, 1, BYTES);
    FUZZ_CHECK(gpuexec_stream_sync(stream) == GPUEXEC_OK, "%s: %s\n%s", how, gpuexec_error_text(),
            text);
    for (unsigned i = 0; i < n; from += p[i++].bytes)
        FUZZ_CHECK(memcmp(got + from, values[i], p[i].bytes) == 0,
                "%s: argument %u has another value\n%s", how, i, text);
}

static void test_layout(struct fuzz_source *s) {
    struct parameter p[MOST];
    unsigned char bytes[BYTES];
    const unsigned char *values[MOST];
    static unsigned short sizes[GXI_MAX_PARAMETERS], offsets[GXI_MAX_PARAMETERS],
            types[GXI_MAX_PARAMETERS];
    const unsigned choice = fuzz_byte(s), n = declare(s, p, 1 + fuzz_byte(s) % (MOST - 1));
    const char *name, *end;
    size_t packed = 0, filled = 0;
    unsigned widest = 1;
    write_kernel(s, p, n);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7 + i / 256 + choice);
    memcpy(bytes, &out, 8);
    for (unsigned i = 0; i < n; filled += p[i++].bytes) {
        values[i] = bytes + filled;
        if (p[i].alignment > widest) widest = p[i].alignment;
    }

    const gpuexec_module module = gpuexec_module_load(context, text, at, NULL);
    const gpuexec_kernel kernel = gpuexec_kernel_get(module, "k");
    FUZZ_CHECK(gpuexec_take_error() == GPUEXEC_OK, "%s\n%s", gpuexec_error_text(), text);
    const char *behind = gxi_ptx_entry(text, &name, &end);
    FUZZ_CHECK(behind && end - name == 1 && *name == 'k', "the reader finds no kernel\n%s", text);
    FUZZ_CHECK(gxi_ptx_params(behind, sizes, offsets, types, GXI_MAX_PARAMETERS) == (int)n,
            "the reader does not find %u parameters\n%s", n, text);

    const gpuexec_params block = gpuexec_params_create();
    for (unsigned i = 0; i < n; i++) {
        FUZZ_CHECK((p[i].type ? gpuexec_params_add(block, (gpuexec_type)p[i].type, values[i])
                              : gpuexec_params_add_struct(block, values[i], p[i].bytes,
                                        p[i].alignment)) == GPUEXEC_OK,
                "%s", gpuexec_error_text());
        FUZZ_CHECK(gpuexec_kernel_parameter_size(kernel, (int)i) == p[i].bytes &&
                        sizes[i] == p[i].bytes,
                "the size of parameter %u: device %zu, reader %u\n%s", i,
                gpuexec_kernel_parameter_size(kernel, (int)i), sizes[i], text);
        FUZZ_CHECK(widest > 16 || gpuexec_kernel_parameter_offset(kernel, (int)i) == offsets[i],
                "the offset of parameter %u: device %d, reader %u\n%s", i,
                gpuexec_kernel_parameter_offset(kernel, (int)i), offsets[i], text);
    }
    const gpuexec_dims one = gpuexec_grid(1, 1, 0);
    gpuexec_launch(kernel, stream, one, gpuexec_params_args(block));
    came(p, n, values, "gpuexec_launch");
    FUZZ_CHECK(gpuexec_params_check(block, kernel) == GPUEXEC_OK, "%s\n%s", gpuexec_error_text(),
            text);
    for (unsigned i = 0; i < n; i++)
        FUZZ_CHECK(gpuexec_params_offset(block, (int)i) ==
                        gpuexec_kernel_parameter_offset(kernel, (int)i),
                "offset %u\n%s", i, text);
    void *data = gpuexec_params_data(block, &packed),
         *extra[] = { (void *)1, data, (void *)2, &packed, NULL };
    FUZZ_CHECK(gxi.cu.cuLaunchKernel((struct CUfunc_st *)gpuexec_kernel_native(kernel), 1, 1, 1, 1,
                       1, 1, 0, gpuexec_stream_native(stream), NULL, extra) == 0,
            "the packed buffer\n%s", text);
    came(p, n, values, "the packed buffer");

    const gpuexec_prepared ready = gpuexec_prepare(kernel, stream, one, gpuexec_params_args(block));
    const unsigned changed = n > 1 ? 1 + choice % (n - 1) : 0;
    if (changed) {
        values[changed] = bytes + sizeof bytes - p[changed].bytes;
        FUZZ_CHECK(gpuexec_prepared_set(ready, (int)changed, values[changed], p[changed].bytes) ==
                        GPUEXEC_OK,
                "%s", gpuexec_error_text());
        FUZZ_CHECK(gpuexec_prepared_set(ready, (int)changed, values[changed],
                           p[changed].bytes + 1) != GPUEXEC_OK,
                "a wrong size is accepted");
        gpuexec_take_error();
    }
    gpuexec_launch_prepared(ready);
    came(p, n, values, "gpuexec_launch_prepared");

    /* one argument too many, and one of another size: refused, whatever their values */
    gpuexec_args args = gpuexec_params_args(block);
    args.count--;
    FUZZ_CHECK(gpuexec_launch(kernel, stream, one, args) == GPUEXEC_BAD_PARAMETERS &&
                    gpuexec_take_error(),
            "one argument less\n%s", text);
    FUZZ_CHECK(
            gpuexec_params_add(block, GPUEXEC_CHAR, "x") == GPUEXEC_OK, "%s", gpuexec_error_text());
    FUZZ_CHECK(gpuexec_launch(kernel, stream, one, gpuexec_params_args(block)) ==
                            GPUEXEC_BAD_PARAMETERS &&
                    gpuexec_take_error(),
            "one argument more\n%s", text);
    FUZZ_CHECK(gpuexec_params_check(block, kernel) == GPUEXEC_BAD_PARAMETERS,
            "one argument more in the block\n%s", text);
    gpuexec_params_clear(block);
    for (unsigned i = 0; i < n; i++)
        if (i == changed)
            gpuexec_params_add_struct(block, bytes, p[i].bytes + p[i].alignment, p[i].alignment);
        else gpuexec_params_add_struct(block, bytes, p[i].bytes, p[i].alignment);
    FUZZ_CHECK(gpuexec_launch(kernel, stream, one, gpuexec_params_args(block)) ==
                            GPUEXEC_BAD_PARAMETERS &&
                    gpuexec_take_error(),
            "a larger argument\n%s", text);
    FUZZ_CHECK(gpuexec_params_check(block, kernel) == GPUEXEC_BAD_PARAMETERS,
            "a larger argument in the block\n%s", text);

    FUZZ_CHECK(!gpuexec_prepared_destroy(ready) && !gpuexec_params_destroy(block) &&
                    !gpuexec_module_unload(module),
            "%s", gpuexec_error_text());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_source s = { data, size };
    if (size && data[0] < 8) {
        (void)fuzz_byte(&s);
        test_layout(&s);
    } else test_text(data, size);
    FUZZ_CHECK(gpuexec_take_error() == GPUEXEC_OK && gpuexec_stream_sync(stream) == GPUEXEC_OK,
            "%s", gpuexec_error_text());
    return 0;
}

#ifdef FUZZ_ENGINE
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    return size && data[0] >= 8 ? grammar_mutate(data, size, most, seed)
                                : LLVMFuzzerMutate(data, size, most);
}
#endif
