/* cache.c - >>cache. Each test has a separate folder; links need no compiler, compilations are
   played (tests/support/play_nvrtc.c). */
#include "../../test.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <utime.h>

enum { STRANGER = 65534 }; /* a user who is not this one */

/* --- the folder ------------------------------------------------------------------------------- */

static char root[64], folder[96]; /* folder: a cache in root that does not exist yet */

static void begin(void) {
    const char *tmp = "/tmp";
    snprintf(root, sizeof root, "%s/gpuexec-cache-XXXXXX", tmp);
    if (!mkdtemp(root)) {
        perror(root);
        exit(1);
    }
    snprintf(folder, sizeof folder, "%s/a/b", root);
    setenv("GPUEXEC_CACHE", folder, 1);
}
/* Calls `each` for the files in the folder. Their number. */
static int files(const char *of, void (*each)(const char *path, void *user), void *user) {
    DIR *d = opendir(of);
    struct dirent *e;
    char path[512];
    int n = 0;
    while (d && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                strcmp(e->d_name, ".size") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", of, e->d_name);
        n++;
        if (each) each(path, user);
    }
    if (d) closedir(d);
    return n;
}
static void delete (const char *path, void *user) {
    struct stat about;
    char size[600];
    if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode)) files(path, delete, user);
    if (lstat(strcat(strcpy(size, path), "/.size"), &about) == 0) remove(size);
    remove(path);
}
static void end(void) { delete (root, NULL); }
static void keep_path(const char *path, void *user) { strcpy((char *)user, path); }
static char *only_file(void) { /* the folder's only file */
    static char path[512];
    CHECK_EQ(files(folder, keep_path, path), 1);
    return path;
}
static size_t read_file(const char *path, char *to, size_t size) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, size, f) : 0;
    if (f) fclose(f);
    return n;
}
static void write_file(const char *path, const char *from, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(from, 1, n, f) == n);
    if (f) fclose(f);
}
static void copy_file(const char *from, const char *to) {
    const size_t most = 64 << 20;
    char *data = (char *)malloc(most);
    const size_t n = data ? read_file(from, data, most) : 0;
    CHECK(n > 0 && n < most);
    write_file(to, data, n);
    free(data);
}
static void used_at(const char *path, time_t when) {
    struct utimbuf times;
    times.actime = times.modtime = when;
    CHECK(utime(path, &times) == 0);
}
static void make_old(const char *path) { used_at(path, 1000); }
static gpuexec_cache_info info(void) {
    gpuexec_cache_info i;
    CHECK_OK(gpuexec_cache_get_info(&i));
    return i;
}

/* --- a link ----------------------------------------------------------------------------------- */

static const char kernel_text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.extern .global .u32 value;\n"
        ".visible .entry answer(.param .u64 out) {\n.reg .b64 %p;\n.reg .b32 %x;\n"
        "ld.global.u32 %x, [value];\nld.param.u64 %p, [out];\nst.global.u32 [%p], %x;\nret;\n}\n";

typedef struct linked {
    int value, cached;
} linked;

static gpuexec_linker link_of(
        gpuexec_context ctx, int value, const char *name, const gpuexec_module_desc *desc) {
    gpuexec_linker_desc d;
    gpuexec_linker l;
    char text[160];
    memset(&d, 0, sizeof d);
    d.module = desc;
    d.cache = 1;
    snprintf(text, sizeof text,
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 value = %d;\n",
            value);
    l = gpuexec_linker_create(ctx, &d);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, kernel_text, 0, name));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, text, 0, NULL));
    return l;
}
/* What the kernel of a module writes, and whether the module was cached. */
static linked run(gpuexec_context ctx, gpuexec_module mod) {
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr out = gpuexec_alloc(ctx, 4);
    linked r = { -1, gpuexec_module_is_cached(mod) };
    gpuexec_launch(gpuexec_kernel_get(mod, "answer"), s, gpuexec_grid(1, 1, 0), GPUEXEC_ARGS(out));
    gpuexec_copy_out(s, &r.value, out, 4);
    CHECK_OK(gpuexec_stream_sync(s));
    gpuexec_free(out);
    gpuexec_stream_destroy(s);
    gpuexec_module_unload(mod);
    return r;
}
static linked link_as(
        gpuexec_context ctx, int value, const char *name, const gpuexec_module_desc *desc) {
    gpuexec_linker l = link_of(ctx, value, name, desc);
    gpuexec_module mod = gpuexec_linker_load(l);
    CHECK_MADE(mod);
    gpuexec_linker_destroy(l);
    return run(ctx, mod);
}
/* Links, runs, and checks the value. Returns whether the code was cached. */
static int is_cached(gpuexec_context ctx, int value) {
    linked r = link_as(ctx, value, NULL, NULL);
    CHECK_EQ(r.value, value);
    return r.cached;
}

TEST(hash) { /* hashlib.blake2b(data, digest_size=32) */
    static const struct {
        size_t n;
        const char *is;
    } expected[] = {
        { 0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" },
        { 768, "b8007121274217790e2923e0ad7027986e5a99d5531ef6ae7d294140fc81615d" },
    };
    unsigned char data[768], out[32];
    char hex[65];
    size_t i, k;
    for (i = 0; i < sizeof data; i++) data[i] = (unsigned char)i;
    for (i = 0; i < 2; i++) {
        test_blake(data, expected[i].n, out);
        for (k = 0; k < 32; k++) snprintf(hex + 2 * k, 3, "%02x", out[k]);
        CHECK_STRING(hex, expected[i].is);
    }
}

TEST(links) {
    gpuexec_context ctx;
    gpuexec_module_desc desc;
    gpuexec_linker l;
    gpuexec_module mod;
    const void *image, *again;
    char first[4096];
    size_t bytes, n;
    begin();
    ctx = gpuexec_context_open(0, NULL);
    memset(&desc, 0, sizeof desc);
    desc.verbose = 1;
    l = link_of(ctx, 7, "kernel", &desc);
    CHECK_OK(gpuexec_linker_image(l, &image, &bytes));
    mod = gpuexec_linker_load(l);
    CHECK_EQ(gpuexec_module_is_cached(mod), 0);
    snprintf(first, sizeof first, "%s", gpuexec_linker_log(l));
    CHECK(gpuexec_linker_ms(l) > 0);
    CHECK_EQ(info().misses, 1);
    CHECK_EQ(info().entries, 1);
    CHECK_STRING(info().folder, folder);
    CHECK_STRING(info().why, "");

    l = link_of(ctx, 7, "kernel", &desc); /* the same once more: no driver call links */
    test_replace("cuLinkCreate", NULL);
    CHECK_OK(gpuexec_linker_image(l, &again, &n));
    CHECK(n == bytes && memcmp(image, again, n) == 0);
    CHECK_STRING(gpuexec_linker_log(l), first);
    CHECK_EQ(gpuexec_linker_ms(l), 0);
    mod = gpuexec_linker_load(l);
    CHECK_EQ(gpuexec_module_kernel_count(mod), 1);
    CHECK_STRING(gpuexec_module_kernel_name(mod, 0), "answer");
    CHECK_EQ(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, kernel_text, 0, NULL), GPUEXEC_TOO_LATE);
    gpuexec_take_error();
    CHECK_EQ(run(ctx, mod).value, 7);
    CHECK_EQ(info().hits, 1);
    CHECK_EQ(gpuexec_module_is_cached(mod), -1);
    CHECK_OK(gpuexec_cache_clear());
    CHECK_EQ(info().entries, 0);
    CHECK_EQ(info().bytes, 0);
    end();
}

TEST(link_failures) {
    gpuexec_context ctx;
    gpuexec_linker_desc desc;
    gpuexec_linker l;
    begin();
    ctx = gpuexec_context_open(0, NULL);
    memset(&desc, 0, sizeof desc);
    desc.cache = 1;
    l = gpuexec_linker_create(ctx, &desc);
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED, "no inputs");
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, kernel_text, 0, "kernel.ptx"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_LINK_FAILED, "value");
    CHECK_EQ(info().entries, 0);
    desc.cache = 2;
    CHECK_NOT_MADE(gpuexec_linker_create(ctx, &desc), GPUEXEC_BAD_ARGUMENT, "cache is 2");
    end();
}

static int (*real_attribute)(int *, int, int);
static int another_device(int *value, int attribute, int device) {
    const int result = real_attribute(value, attribute, device);
    if (attribute == 76) ++*value; /* the minor compute capability */
    return result;
}
TEST(what_decides_a_link) {
    int (*const other)(int *, int, int) = another_device;
    gpuexec_context ctx;
    gpuexec_module_desc desc;
    test_function f;
    begin();
    ctx = gpuexec_context_open(0, NULL);
    memset(&desc, 0, sizeof desc);
    CHECK(!is_cached(ctx, 1));
    CHECK(!is_cached(ctx, 2));
    CHECK(is_cached(ctx, 1));
    CHECK(is_cached(ctx, 2));
    CHECK(!link_as(ctx, 1, "named", NULL).cached); /* names are in the log */
    desc.max_registers = 32;
    CHECK(!link_as(ctx, 1, NULL, &desc).cached);
    CHECK(link_as(ctx, 1, NULL, &desc).cached);
    desc.name = "for messages only";
    CHECK(link_as(ctx, 1, NULL, &desc).cached);
    CHECK_EQ(info().entries, 4);
    memcpy(&f, &other, sizeof f);
    f = test_replace("cuDeviceGetAttribute", f);
    memcpy(&real_attribute, &f, sizeof f);
    CHECK(!is_cached(ctx, 1));
    test_replace("cuDeviceGetAttribute", f);
    CHECK(is_cached(ctx, 1));
    end();
}

static int wanted, processes_hit; /* -1: either */
static void child_links(void) {
    const int hit = is_cached(gpuexec_context_open(0, NULL), wanted);
    if (processes_hit >= 0) CHECK_EQ(hit, processes_hit);
}
static int in_a_process(int value, int hit) {
    wanted = value;
    processes_hit = hit;
    return run_child(child_links);
}
TEST_ALONE(another_process) {
    const char *const before = getenv("SIMGPU_DRIVER_VERSION");
    char copy[128], version[16];
    begin();
    CHECK(in_a_process(5, 0));
    CHECK(in_a_process(5, 1));
    if (on_cpu_device()) { /* another version of the driver */
        snprintf(version, sizeof version, "%s", before ? before : "");
        setenv("SIMGPU_DRIVER_VERSION", "12030", 1);
        CHECK(in_a_process(5, 0));
        CHECK(in_a_process(5, 1));
        if (before) setenv("SIMGPU_DRIVER_VERSION", version, 1);
        else unsetenv("SIMGPU_DRIVER_VERSION");
        CHECK(in_a_process(5, 1));
        /* the same driver, but another file */
        snprintf(copy, sizeof copy, "%s/libsimgpu.so", root);
        copy_file(getenv("GPUEXEC_DRIVER"), copy);
        setenv("GPUEXEC_DRIVER", copy, 1);
        CHECK(in_a_process(5, 0));
        CHECK(in_a_process(5, 1));
        make_old(copy);
        CHECK(in_a_process(5, 0));
    }
    end();
}

/* --- compilations ----------------------------------------------------------------------------- */

#define PTX ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n"
static gpuexec_context played;

/* Whether a compilation was cached; -1: it failed. PTX is its own compilation, and #include in a
   comment of it counts for the cache. */
static int compiled(const char *source, const gpuexec_compile_desc *d) {
    gpuexec_module mod = gpuexec_module_compile(played, source, "p.cu", d);
    const int cached = gpuexec_module_is_cached(mod);
    CHECK_MADE(mod);
    CHECK_MADE(gpuexec_kernel_get(mod, d && d->expression_count ? d->expressions[0] : "nothing"));
    gpuexec_module_unload(mod);
    return cached;
}
static void begin_played(void) {
    begin();
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC ".so", 1);
    unsetenv("PLAY_NVRTC_FAILS");
    played = gpuexec_context_open(0, NULL);
}
static const char *played_path; /* NULL: GPUEXEC_NVRTC */
static void played_child(void) {
    gpuexec_setup_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.nvrtc_path = played_path;
    CHECK_OK(gpuexec_setup(&desc));
    played = gpuexec_context_open(0, NULL);
    CHECK_EQ(compiled(PTX, NULL), processes_hit);
}

TEST_ALONE(compilations) {
    gpuexec_compile_desc d;
    const char *const names[] = { "no<thing>" };
    const char *library;
    gpuexec_module mod;
    char log[4096];
    begin();
    setenv("GPUEXEC_NVRTC", PLAYED_NVRTC ".so", 1);
    processes_hit = 0;
    CHECK(run_child(played_child));
    setenv("PLAY_NVRTC_FAILS", "nvrtcVersion", 1); /* an NVRTC that is opened now is refused */
    processes_hit = 1;
    CHECK(run_child(played_child));
    unsetenv("PLAY_NVRTC_FAILS");

    played = gpuexec_context_open(0, NULL);
    memset(&d, 0, sizeof d);
    d.expressions = names, d.expression_count = 1;
    mod = gpuexec_module_compile(played, PTX, "p.cu", &d);
    CHECK_EQ(gpuexec_module_is_cached(mod), 0);
    snprintf(log, sizeof log, "%s", gpuexec_module_log(mod));
    library = gpuexec_compiler_path();
    CHECK_TEXT(library, "play_nvrtc");
    gpuexec_module_unload(mod);
    mod = gpuexec_module_compile(played, PTX, "p.cu", &d);
    CHECK_EQ(gpuexec_module_is_cached(mod), 1);
    CHECK_STRING(gpuexec_module_log(mod), log);
    CHECK_TEXT(log, "--gpu-architecture=");
    CHECK_MADE(gpuexec_kernel_get(mod, "no<thing>"));
    CHECK_MADE(gpuexec_kernel_get(mod, "nothing"));
    d.no_cache = 1;
    CHECK_EQ(compiled(PTX, &d), 0);
    CHECK_EQ(info().entries, 2);
    CHECK_EQ(info().hits, 1);
    end();
}

TEST_ALONE(what_decides_a_compilation) {
    const char *const one[] = { "-DA=1", "-DB" }, *const names[] = { "nothing" };
    gpuexec_header header = { "a.h", "int a;" };
    gpuexec_compile_desc d;
    gpuexec_module mod;
    begin_played();
    memset(&d, 0, sizeof d);
#define MISS_THEN_HIT(source) \
    do { \
        CHECK_EQ(compiled(source, &d), 0); \
        CHECK_EQ(compiled(source, &d), 1); \
    } while (0)
    MISS_THEN_HIT(PTX);
    MISS_THEN_HIT(PTX "// changed\n");
    d.options = one, d.option_count = 1;
    MISS_THEN_HIT(PTX);
    d.option_count = 2;
    MISS_THEN_HIT(PTX);
    d.option_count = 0, d.folders = one, d.folder_count = 1; /* the same string elsewhere */
    MISS_THEN_HIT(PTX);
    d.folder_count = 0, d.expressions = names, d.expression_count = 1;
    MISS_THEN_HIT(PTX);
    d.expression_count = 0, d.architecture = "compute_50";
    MISS_THEN_HIT(PTX);
    d.architecture = NULL, d.headers = &header, d.header_count = 1;
    MISS_THEN_HIT(PTX);
    header.text = "int b;";
    MISS_THEN_HIT(PTX);
    header.name = "b.h";
    MISS_THEN_HIT(PTX);
    setenv("CUDA_HOME", root, 1); /* where NVRTC and headers are searched for */
    MISS_THEN_HIT(PTX);
    mod = gpuexec_module_compile(played, PTX, "another_name.cu", &d);
    CHECK_EQ(gpuexec_module_is_cached(mod), 0);
    end();
}

TEST_ALONE(another_compiler) {
    char library[160];
    begin();
    snprintf(library, sizeof library, "%s/libnvrtc.so", root);
    copy_file(PLAYED_NVRTC ".so", library);
    setenv("GPUEXEC_NVRTC", library, 1);
    processes_hit = 0;
    CHECK(run_child(played_child));
    processes_hit = 1;
    CHECK(run_child(played_child));
    played_path = PLAYED_NVRTC ".so"; /* another one */
    processes_hit = 0;
    CHECK(run_child(played_child));
    played_path = NULL;
    make_old(library); /* as after an update */
    processes_hit = 0;
    CHECK(run_child(played_child));
    processes_hit = 1;
    CHECK(run_child(played_child));
    end();
}

/* Files that a source may include. `in` is a folder. */
static void put(const char *in, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", in, name);
    write_file(path, text, strlen(text));
}
/* Headers in memory that include something: the played NVRTC does not read them, so they need not
   be right. */
static gpuexec_header in_memory = { "m.h", NULL };
static char one[128], two[128]; /* the folders */
static void begin_included(gpuexec_compile_desc *d) {
    static const char *const folders[] = { one, two };
    begin_played();
    snprintf(one, sizeof one, "%s/one", root);
    snprintf(two, sizeof two, "%s/two", root);
    CHECK(mkdir(one, 0700) == 0 && mkdir(two, 0700) == 0);
    memset(d, 0, sizeof *d);
    d->folders = folders, d->folder_count = 2;
    d->headers = &in_memory, d->header_count = 1;
}

TEST_ALONE(included_files) {
    gpuexec_compile_desc d;
    char edited[160];
    begin_included(&d);
    in_memory.text = "#include \"x.h\"\n";
    MISS_THEN_HIT(PTX);
    put(two, "x.h", "int x;\n"); /* it appears */
    MISS_THEN_HIT(PTX);
    put(two, "x.h", "int y;\n"); /* another text of the same length, at once */
    MISS_THEN_HIT(PTX);
    put(one, "x.h", "#include <deep.h>\n"); /* in a folder before the other */
    MISS_THEN_HIT(PTX);
    put(two, "deep.h", "#include \"deep.h\"\n"); /* includes itself */
    MISS_THEN_HIT(PTX);
    put(two, "deep.h", "int deep;\n");
    MISS_THEN_HIT(PTX);
    put(one, "unrelated.h", "int u;\n");
    CHECK_EQ(compiled(PTX, &d), 1);
    put(two, "deep.h", "int edited;\n");
    snprintf(edited, sizeof edited, "%s/deep.h", two);
    setenv("PLAY_NVRTC_EDITS", edited, 1); /* while it is compiled: which text was compiled? */
    CHECK_EQ(compiled(PTX, &d), 0);
    unsetenv("PLAY_NVRTC_EDITS");
    MISS_THEN_HIT(PTX);
    write_file(edited, "a\0b", 3); /* not cached: the search for #include ends there */
    CHECK_EQ(compiled(PTX, &d), 0);
    CHECK_EQ(compiled(PTX, &d), 0);
    CHECK_TEXT(info().why, "contains a NUL");
    CHECK(remove(edited) == 0);
    CHECK_EQ(compiled(PTX, &d), 0);
    end();
}

TEST_ALONE(ways_to_include) {
    static const char *const ways[] = { "#include \"w.h\"", "#include <w.h>",
        "  #  include \"w.h\"", "#include\"w.h\"", "%:include <w.h>", "\?\?=include <w.h>",
        "#inc\\\nlude <w.h>", "#\\\r\ninclude <w.h>", "#/**/include <w.h>",
        "/* a */ # /* b */ include <w.h>", "\t#include <w.h> // c", "#if __has_include(<w.h>)",
        "#if __has_include ( \"w.h\" )", "#if 0\n#include <w.h>",
        "#ifdef __has_include\n#if defined(__has_include) && __has_include(\"w.h\")" };
    static const char *const unknown[] = { /* names that no text has */
        "#include NAME", "#include /* b */ <w.h>", "#include_next <w.h>", "#import <w.h>",
        "#embed <w.h>", "#if __has_include(NAME)", "#include <w.h", "# /* a\n */ include NAME"
    };
    static const char *const other[] = { /* prose and names that include nothing */
        "// see #include <w.h>", "int include;", "// includes <w.h>", "#define include_w 1",
        "// include <w.h>"
    };
    gpuexec_compile_desc d;
    size_t i;
    begin_included(&d);
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        in_memory.text = ways[i];
        put(one, "w.h", "1");
        MISS_THEN_HIT(PTX);
        put(one, "w.h", "2");
        if (!CHECK_EQ(compiled(PTX, &d), 0)) printf("  (%s)\n", ways[i]);
    }
    for (i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        in_memory.text = unknown[i];
        CHECK_EQ(compiled(PTX, &d), 0);
        if (!CHECK_EQ(compiled(PTX, &d), 0)) printf("  (%s)\n", unknown[i]);
        CHECK_TEXT(info().why, "\"p.cu\" is not kept: ", "by a macro");
    }
    for (i = 0; i < sizeof other / sizeof *other; i++) {
        in_memory.text = other[i];
        put(one, "w.h", "1");
        MISS_THEN_HIT(PTX);
        put(one, "w.h", "2");
        if (!CHECK_EQ(compiled(PTX, &d), 1)) printf("  (%s)\n", other[i]);
    }
    end();
}

TEST_ALONE(files_of_the_toolkit) {
    gpuexec_compile_desc d;
    char headers[128], file[160];
    begin_included(&d);
    snprintf(headers, sizeof headers, "%s/include", root);
    CHECK(mkdir(headers, 0700) == 0);
    /* allowed in the toolkit */
    put(headers, "cuda_fp16.h", "#include \"half.hpp\"\n#include A_MACRO\n");
    put(headers, "half.hpp", "int half;");
    setenv("CUDA_HOME", root, 1); /* $CUDA_HOME/include */
    in_memory.text = "#include <cuda_fp16.h>\n";
    MISS_THEN_HIT(PTX);
    snprintf(file, sizeof file, "%s/half.hpp", headers);
    make_old(file);
    MISS_THEN_HIT(PTX);
    put(headers, "unrelated.h", "int u;\n");
    CHECK_EQ(compiled(PTX, &d), 1);
    put(two, "half.hpp", "int mine;\n"); /* which now comes first */
    MISS_THEN_HIT(PTX);
    in_memory.text = "#include <half.hpp>\n";
    MISS_THEN_HIT(PTX);
    CHECK(mkdir(strcat(strcpy(file, headers), "/cccl"), 0700) == 0);
    put(file, "half.hpp", "int third;\n");
    MISS_THEN_HIT(PTX);
    in_memory.text = "#if __has_include(<new.h>)\n";
    MISS_THEN_HIT(PTX);
    put(headers, "new.h", "int n;\n");
    MISS_THEN_HIT(PTX);
    end();
}

TEST_ALONE(options_that_name_files) {
    const char *options[1];
    gpuexec_compile_desc d;
    begin_played();
    memset(&d, 0, sizeof d);
    d.options = options, d.option_count = 1;
    options[0] = "-Ifolder";
    CHECK_EQ(compiled(PTX, &d), 0);
    CHECK_EQ(compiled(PTX, &d), 0);
    CHECK_TEXT(info().why, "the option \"-Ifolder\" may name files", ".folders");
    options[0] = "--pre-include=x.h";
    CHECK_EQ(compiled(PTX, &d), 0);
    CHECK_EQ(compiled(PTX, &d), 0);
    options[0] = "-DI_include_pch=1";
    MISS_THEN_HIT(PTX);
    CHECK_EQ(info().entries, 1);
    end();
}

/* With a real NVRTC: what a kernel returns that includes x.h, and whether it was cached. */
static linked compiled_value(gpuexec_context ctx, const gpuexec_compile_desc *d) {
    gpuexec_module mod = gpuexec_module_compile(ctx,
            "#include \"x.h\"\nextern \"C\" __global__ void answer(int *x) { *x = VALUE; }\n",
            "sub/v.cu", d);
    CHECK_MADE(mod);
    return run(ctx, mod);
}
TEST_ALONE(real_compiler) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_compile_desc d;
    const char *const folders[] = { one };
    char places[3][128], text[32], here[512];
    int i, value;
    if (!gpuexec_compiler_version()) SKIP("no NVRTC on this machine");
    if (gpuexec_compiler_version() > gpuexec_driver_version())
        SKIP("the driver is older than this NVRTC");
    begin();
    snprintf(one, sizeof one, "%s/one", root);
    snprintf(places[0], sizeof places[0], "%s", one);      /* a folder of the desc */
    snprintf(places[1], sizeof places[1], "%s", root);     /* the working directory */
    snprintf(places[2], sizeof places[2], "%s/sub", root); /* the source's */
    CHECK(mkdir(one, 0700) == 0 && mkdir(places[2], 0700) == 0);
    CHECK(getcwd(here, sizeof here) && chdir(root) == 0);
    memset(&d, 0, sizeof d);
    d.folders = folders, d.folder_count = 1;
    for (i = 0; i < 3; i++)
        for (value = 1; value < 3; value++) { /* wherever NVRTC finds it: never an old value */
            linked cached, fresh;
            snprintf(text, sizeof text, "#define VALUE %d\n", 10 * i + value);
            put(places[i], "x.h", text);
            d.no_cache = 1;
            fresh = compiled_value(ctx, &d);
            d.no_cache = 0;
            cached = compiled_value(ctx, &d);
            CHECK_EQ(cached.value, fresh.value);
            CHECK_EQ(cached.cached, 0);
            cached = compiled_value(ctx, &d);
            CHECK_EQ(cached.value, fresh.value);
            CHECK_EQ(cached.cached, 1);
        }
    CHECK(chdir(here) == 0);
    end();
}

/* LTO-IR, played by tests/support/play_nvjitlink.c. */
static void lto_child(void) {
    static const char lto[] = "\xED\x43\x4E\x7F.visible .entry nothing() { ret; }\n";
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker_desc d;
    gpuexec_linker l;
    gpuexec_module mod;
    memset(&d, 0, sizeof d);
    d.cache = 1;
    l = gpuexec_linker_create(ctx, &d);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_LTO, lto, sizeof lto - 1, "lto"));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, kernel_text, 0, NULL));
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO,
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .global .u32 value = 3;\n",
            0, NULL));
    mod = gpuexec_linker_load(l);
    CHECK_MADE(gpuexec_kernel_get(mod, "nothing"));
    CHECK_EQ(gpuexec_module_is_cached(mod), processes_hit);
    CHECK_TEXT(gpuexec_linker_log(l), "-lto");
}
static int lto_in_a_process(int hit) {
    processes_hit = hit;
    return run_child(lto_child);
}
static void lto_refused(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_linker_desc d;
    gpuexec_linker l;
    memset(&d, 0, sizeof d);
    d.cache = 1;
    l = gpuexec_linker_create(ctx, &d);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_LTO, "\xED\x43\x4E\x7F.bad", 8, "lto"));
    CHECK_NOT_MADE(gpuexec_linker_load(l), GPUEXEC_NO_COMPILER, "nvJitLinkVersion");
}
TEST_ALONE(lto) {
    char library[160];
    if (!on_cpu_device()) SKIP("a GPU does not load what the played nvJitLink makes");
    begin();
    snprintf(library, sizeof library, "%s/libnvJitLink.so", root);
    copy_file(PLAYED_NVJITLINK ".so", library);
    setenv("GPUEXEC_NVJITLINK", library, 1);
    CHECK(lto_in_a_process(0));
    /* a nvJitLink that is opened now is refused */
    setenv("PLAY_NVJITLINK_FAILS", "nvJitLinkVersion", 1);
    CHECK(lto_in_a_process(1));
    CHECK(run_child(lto_refused));
    unsetenv("PLAY_NVJITLINK_FAILS");
    make_old(library);
    CHECK(lto_in_a_process(0));
    CHECK(lto_in_a_process(1));
    setenv("GPUEXEC_NVJITLINK", PLAYED_NVJITLINK ".so", 1);
    CHECK(lto_in_a_process(0));
    end();
}

/* libcudadevrt.a, which the linker adds for kernels that launch kernels. */
static void launching_child(void) {
    static const char text[] = "// cudaLaunchDevice\n" PTX;
    gpuexec_linker_desc d;
    gpuexec_linker l;
    gpuexec_module mod;
    memset(&d, 0, sizeof d);
    d.cache = 1;
    l = gpuexec_linker_create(gpuexec_context_open(0, NULL), &d);
    CHECK_OK(gpuexec_linker_add(l, GPUEXEC_INPUT_AUTO, text, 0, NULL));
    mod = gpuexec_linker_load(l);
    CHECK_MADE(gpuexec_kernel_get(mod, "nothing"));
    CHECK_EQ(gpuexec_module_is_cached(mod), processes_hit);
}
TEST_ALONE(device_runtime) {
    char library[160];
    int i;
    if (access("/usr/local/cuda/lib64/libcudadevrt.a", R_OK))
        SKIP("no libcudadevrt.a in /usr/local/cuda");
    begin();
    snprintf(library, sizeof library, "%s/libcudadevrt.a", root);
    copy_file("/usr/local/cuda/lib64/libcudadevrt.a", library);
    setenv("GPUEXEC_CUDADEVRT", library, 1);
    for (i = 0; i < 4; i++) {
        processes_hit = i % 2;
        CHECK(run_child(launching_child));
        if (i == 1) make_old(library);
    }
    end();
}

/* --- entries that cannot be trusted ----------------------------------------------------------- */

static char entry[1 << 16];
static size_t entry_bytes;
static char entry_path[512];
/* A cache with one entry, for the value 9; its bytes. */
static gpuexec_context begin_with_entry(void) {
    gpuexec_context ctx;
    begin();
    ctx = gpuexec_context_open(0, NULL);
    CHECK(!is_cached(ctx, 9));
    strcpy(entry_path, only_file());
    entry_bytes = read_file(entry_path, entry, sizeof entry);
    CHECK(entry_bytes > 100 && entry_bytes < sizeof entry);
    return ctx;
}

TEST(bits_flipped) {
    gpuexec_context ctx = begin_with_entry();
    const size_t step = on_cpu_device() || getenv("TEST_ALL") ? 1 : 61;
    size_t i, n = 0;
    for (i = 0; i < entry_bytes; i += step, n++) {
        entry[i] = (char)(entry[i] ^ 1 << i % 8);
        write_file(entry_path, entry, entry_bytes);
        if (!CHECK_EQ(is_cached(ctx, 9), 0)) printf("  (byte %lu)\n", (unsigned long)i);
        entry[i] = (char)(entry[i] ^ 1 << i % 8);
    }
    CHECK_EQ(info().damaged, n);
    CHECK_TEXT(info().why, entry_path, "is damaged", "made again");
    CHECK(is_cached(ctx, 9));
    end();
}

TEST(truncated) {
    gpuexec_context ctx = begin_with_entry();
    size_t n;
    for (n = 0; n < entry_bytes; n += n < 100 ? 1 : entry_bytes / 50) {
        write_file(entry_path, entry, n);
        CHECK(!is_cached(ctx, 9));
    }
    write_file(entry_path, entry, entry_bytes + 16); /* longer */
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    write_file(entry_path, "", 0);
    CHECK_OK(gpuexec_cache_clear());
    CHECK_EQ(files(folder, NULL, NULL), 0);
    end();
}

/* An entry with another one's name. */
TEST(exchanged) {
    gpuexec_context ctx = begin_with_entry();
    char aside[600];
    snprintf(aside, sizeof aside, "%s/aside", root);
    CHECK(rename(entry_path, aside) == 0);
    CHECK(!is_cached(ctx, 8));
    CHECK(rename(aside, only_file()) == 0);
    CHECK(!is_cached(ctx, 8));
    CHECK(is_cached(ctx, 8));
    CHECK_EQ(info().damaged, 1);
    end();
}

TEST(foreign_entries) {
    gpuexec_context ctx = begin_with_entry();
    char aside[600];
    snprintf(aside, sizeof aside, "%s/aside", root);
    CHECK(chmod(entry_path, 0620) == 0);
    CHECK(!is_cached(ctx, 9));
    CHECK_TEXT(info().why, entry_path, "can be written by other users; it will be made again");
    CHECK(is_cached(ctx, 9)); /* it was replaced */
    CHECK(chmod(entry_path, 0602) == 0);
    CHECK(!is_cached(ctx, 9));
    CHECK(rename(entry_path, aside) == 0 && symlink(aside, entry_path) == 0);
    CHECK(!is_cached(ctx, 9));
    CHECK_TEXT(info().why, "is a symbolic link");
    CHECK(is_cached(ctx, 9));
    /* must not wait for a writer */
    CHECK(remove(entry_path) == 0 && mkfifo(entry_path, 0600) == 0);
    CHECK(!is_cached(ctx, 9));
    CHECK_TEXT(info().why, "is not a regular file");
    CHECK(is_cached(ctx, 9));
    CHECK(remove(entry_path) == 0 && mkdir(entry_path, 0700) == 0); /* a file cannot replace it */
    CHECK(!is_cached(ctx, 9));
    CHECK_TEXT(info().why, "cannot write");
    CHECK(!is_cached(ctx, 9));
    CHECK(rmdir(entry_path) == 0);
    CHECK(!is_cached(ctx, 9));
    if (geteuid() == 0) {
        CHECK(chown(entry_path, STRANGER, STRANGER) == 0);
        CHECK(!is_cached(ctx, 9));
        CHECK_TEXT(info().why, "belongs to another user");
        CHECK(is_cached(ctx, 9));
    }
    end();
}

/* --- the folder ------------------------------------------------------------------------------- */

static void off(gpuexec_context ctx, const char *path, const char *why) {
    if (path) setenv("GPUEXEC_CACHE", path, 1);
    CHECK(!is_cached(ctx, 9));
    CHECK(!is_cached(ctx, 9));
    CHECK_STRING(info().folder, "");
    CHECK_TEXT(info().why, "off, because ", why);
    CHECK_EQ(info().entries, 0);
    CHECK_OK(gpuexec_cache_clear());
}

TEST_ALONE(which_folder) {
    gpuexec_context ctx;
    char expected[200];
    begin();
    ctx = gpuexec_context_open(0, NULL);
    off(ctx, "0", "GPUEXEC_CACHE is \"0\"");
    off(ctx, "relative/folder", "not an absolute path");
    off(ctx, "/dev/null", "is not a folder");
    CHECK(mkdir(strcat(strcpy(expected, root), "/open"), 0700) == 0 && chmod(expected, 0770) == 0);
    off(ctx, expected, "can be written by other users");
    if (geteuid() == 0) {
        CHECK(chmod(expected, 0700) == 0 && chown(expected, STRANGER, STRANGER) == 0);
        off(ctx, expected, "belongs to another user");
    }
    unsetenv("GPUEXEC_CACHE");
    setenv("XDG_CACHE_HOME", root, 1);
    snprintf(expected, sizeof expected, "%s/gpuexec", root);
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    CHECK_STRING(info().folder, expected);
    setenv("XDG_CACHE_HOME", "relative", 1); /* is ignored */
    setenv("HOME", root, 1);
    snprintf(expected, sizeof expected, "%s/.cache/gpuexec", root);
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    CHECK_STRING(info().folder, expected);
    setenv("GPUEXEC_CACHE", "", 1); /* as if not set */
    CHECK(is_cached(ctx, 9));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    off(ctx, NULL, "neither GPUEXEC_CACHE nor HOME is set");
    end();
}

TEST(setup_names_it) {
    gpuexec_setup_desc desc;
    gpuexec_context ctx;
    char path[160];
    begin();
    memset(&desc, 0, sizeof desc);
    snprintf(path, sizeof path, "%s/mine", root);
    desc.cache_folder = path;
    desc.ignore_environment = !getenv("GPUEXEC_DRIVER");
    CHECK_OK(gpuexec_setup(&desc));
    path[1] = 'X'; /* the path was copied */
    ctx = gpuexec_context_open(0, NULL);
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    CHECK_TEXT(info().folder, "/mine");
    gpuexec_shutdown();
    desc.cache_folder = "";
    CHECK_OK(gpuexec_setup(&desc));
    off(gpuexec_context_open(0, NULL), NULL, "gpuexec_setup_desc.cache_folder is \"\"");
    gpuexec_shutdown();
    desc.cache_folder = NULL;
    desc.ignore_environment = 1;
    desc.driver_path = getenv("GPUEXEC_DRIVER");
    CHECK_OK(gpuexec_setup(&desc));
    off(gpuexec_context_open(0, NULL), NULL, "ignore_environment is set and .cache_folder is not");
    end();
}

/* --- what cannot be written ------------------------------------------------------------------- */

static char logged[4096];
static void keep_log(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING) snprintf(logged, sizeof logged, "%s", text);
}
static void not_kept(const char *why) {
    gpuexec_setup_desc desc;
    gpuexec_context ctx;
    memset(&desc, 0, sizeof desc);
    desc.log = keep_log;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    CHECK(!is_cached(ctx, 3));
    CHECK(!is_cached(ctx, 3));
    CHECK_TEXT(info().why, "cannot write", folder, why);
    CHECK_TEXT(
            logged, "gpuexec: cache: cannot write", folder, why, "gpuexec_linker_load", "cache.c");
    CHECK_EQ(info().entries, 0);
}
static void child_full(void) {
    struct rlimit most = { 200, 200 };
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &most) == 0);
    not_kept(strerror(EFBIG));
    CHECK_EQ(files(folder, NULL, NULL), 0); /* nothing is left half written */
}
TEST_ALONE(full_disk) {
    begin();
    CHECK(run_child(child_full));
    CHECK(in_a_process(3, 0));
    CHECK(in_a_process(3, 1));
    end();
}

/* The texts of failures, each with another path, are not kept for ever. */
static void child_fails_often(void) {
    struct rlimit most = { 200, 200 };
    gpuexec_setup_desc desc;
    gpuexec_context ctx;
    const char *last;
    int i, blocks;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &most) == 0);
    memset(&desc, 0, sizeof desc);
    desc.realloc_function = test_realloc;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    for (i = 0; i < 20; i++) CHECK(!is_cached(ctx, i));
    last = info().why;
    CHECK_TEXT(last, "cannot write", folder);
    blocks = test_blocks;
    for (; i < 200; i++) {
        CHECK(!is_cached(ctx, i));
        CHECK_TEXT(info().why, "cannot write", folder);
    }
    /* a finder keeps what a number of launches use */
    CHECK(test_blocks <= blocks + 4 + (test_is_on("GPUEXEC_VALIDATION") ? 64 : 0));
    gpuexec_shutdown();
    CHECK_EQ(test_blocks, 0);
}
TEST_ALONE(many_failures) {
    if (!test_in_full()) SKIP("a GPU adds nothing to it; TEST_ALL=1 runs it");
    begin();
    CHECK(run_child(child_fails_often));
    end();
}

/* With the name of a file, it would not fit. Nothing outside it is touched. */
TEST_ALONE(a_folder_with_a_long_path) {
    gpuexec_context ctx;
    char path[1300];
    begin();
    ctx = gpuexec_context_open(0, NULL);
    memset(path, 'x', sizeof path);
    path[snprintf(path, sizeof path, "%s/", root)] = 'x';
    path[1001] = 0;
    off(ctx, path, "has 1001 bytes; at most 1000 are supported");
    path[1001] = 'x';
    path[sizeof path - 1] = 0;
    off(ctx, path, "has 1299 bytes; at most 1000 are supported");
    end();
}

/* Root with the HOME of a user, as sudo may leave it: the cache is off, and nothing is created
   there. */
TEST_ALONE(another_users_home) {
    gpuexec_context ctx;
    char home[100], cache[200], mine[220];
    if (geteuid() != 0) SKIP("needs root, to be in another user's home");
    begin();
    unsetenv("GPUEXEC_CACHE");
    unsetenv("XDG_CACHE_HOME");
    snprintf(home, sizeof home, "%s/home", root);
    snprintf(cache, sizeof cache, "%s/.cache", home);
    CHECK(mkdir(home, 0755) == 0 && chown(home, STRANGER, STRANGER) == 0);
    setenv("HOME", home, 1);
    ctx = gpuexec_context_open(0, NULL);
    off(ctx, NULL, "/home\", which belongs to another user; GPUEXEC_CACHE can name another folder");
    CHECK(access(cache, F_OK) != 0);
    CHECK(mkdir(cache, 0755) == 0 && chown(cache, STRANGER, STRANGER) == 0);
    off(ctx, NULL, "/home/.cache\", which belongs to another user");
    CHECK_EQ(files(cache, NULL, NULL), 0);
    setenv("XDG_CACHE_HOME", cache, 1);
    off(ctx, NULL, "/home/.cache\", which belongs to another user");
    CHECK_EQ(files(cache, NULL, NULL), 0);
    snprintf(mine, sizeof mine, "%s/mine", cache); /* named: it is meant */
    setenv("GPUEXEC_CACHE", mine, 1);
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    unsetenv("GPUEXEC_CACHE");
    CHECK(chown(cache, 0, 0) == 0); /* its own folder in there */
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    end();
}

static void child_stranger(void) { /* root could write everywhere */
    const mode_t closed = 0500, opened = 0700;
    if (geteuid() == 0) CHECK(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    not_kept(strerror(EACCES));
    CHECK(chmod(folder, opened) == 0);
    CHECK(!is_cached(gpuexec_context_open(0, NULL), 3));
    CHECK(chmod(folder, closed) == 0);
    CHECK_FAILED(gpuexec_cache_clear(), GPUEXEC_FILE_ERROR, "cannot remove all files", folder,
            strerror(EACCES));
    CHECK(chmod(folder, opened) == 0);
}
TEST_ALONE(read_only_folder) {
    char driver[2 * sizeof folder], copy[8192];
    if (geteuid() == 0 && !on_cpu_device()) SKIP("another user than root may not use the GPU");
    begin();
    snprintf(folder, sizeof folder, "%s/closed", root);
    setenv("GPUEXEC_CACHE", folder, 1);
    CHECK(mkdir(folder, 0500) == 0);
    if (geteuid() == 0) { /* the stranger may not see the driver's folder */
        CHECK(chmod(root, 0755) == 0 && chown(folder, STRANGER, STRANGER) == 0);
        snprintf(driver, sizeof driver, "%s/libsimgpu.so", root);
        snprintf(copy, sizeof copy, "cp '%s' '%s'", getenv("GPUEXEC_DRIVER"), driver);
        CHECK(system(copy) == 0);
        setenv("GPUEXEC_DRIVER", driver, 1);
    }
    CHECK(run_child(child_stranger));
    end();
}

static void child_privileged(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    CHECK(!is_cached(ctx, 9));
    CHECK(is_cached(ctx, 9));
    CHECK(setegid(STRANGER) == 0);
    off(ctx, NULL, "the process is privileged");
    CHECK(setegid(getgid()) == 0);
    CHECK(is_cached(ctx, 9));
    CHECK(seteuid(STRANGER) == 0);
    off(ctx, NULL, "the process is privileged");
}
TEST_ALONE(privileged) {
    if (geteuid() != 0) SKIP("needs root, to act for another user");
    begin();
    CHECK(run_child(child_privileged));
    end();
}

/* --- the limit -------------------------------------------------------------------------------- */

static char path_of[6][512];
static void find_new(const char *path, void *user) { /* the entry that path_of does not have yet */
    int i, known = 0;
    for (i = 0; i < 6; i++) known |= strcmp(path_of[i], path) == 0;
    if (!known) strcpy(path_of[*(int *)user], path);
}
TEST(least_recently_used) {
    gpuexec_setup_desc desc;
    gpuexec_context ctx;
    char other[600], left[700], writing[700];
    unsigned long long each;
    int i;
    begin();
    ctx = gpuexec_context_open(0, NULL);
    memset(path_of, 0, sizeof path_of);
    for (i = 0; i < 4; i++) {
        CHECK(!is_cached(ctx, i));
        files(folder, find_new, &i);
        used_at(path_of[i], time(NULL) - 1000 + 10 * i);
    }
    CHECK_EQ(info().entries, 4);
    CHECK_EQ(info().limit, 1 << 30);
    each = info().bytes / 4;
    CHECK(is_cached(ctx, 0)); /* now 1 is the one that was not used for longest */
    snprintf(other, sizeof other, "%s/not-an-entry", folder);
    write_file(other, "", 0);
    snprintf(left, sizeof left, "%s.12345.0", path_of[0]);
    write_file(left, "", 0); /* a process that was killed left this */
    used_at(left, time(NULL) - 4000);
    snprintf(writing, sizeof writing, "%s.12345.1", path_of[0]); /* another one is writing this */
    write_file(writing, "", 0);
    used_at(other, 1000);
    gpuexec_shutdown();
    memset(&desc, 0, sizeof desc);
    desc.cache_bytes = 5 * each - each / 8; /* with the fifth, it is trimmed to 7/8 of that */
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    CHECK(!is_cached(ctx, 4));
    CHECK_EQ(info().entries, 4);
    CHECK(info().bytes <= desc.cache_bytes);
    CHECK(access(path_of[1], F_OK) != 0);
    CHECK(access(left, F_OK) != 0);
    CHECK(access(writing, F_OK) == 0);
    CHECK(!is_cached(ctx, 5));
    CHECK(access(path_of[2], F_OK) != 0);
    CHECK(is_cached(ctx, 0) && is_cached(ctx, 3) && is_cached(ctx, 4) && is_cached(ctx, 5));
    CHECK_OK(gpuexec_cache_clear());
    CHECK_EQ(files(folder, NULL, NULL), 1);
    CHECK(access(other, F_OK) == 0);
    gpuexec_shutdown();
    desc.cache_bytes = each / 2;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    CHECK(!is_cached(ctx, 4));
    CHECK(!is_cached(ctx, 4));
    CHECK_TEXT(info().why, "is not kept: the limit is");
    end();
}

/* Each write must keep the limit, also if the number of bytes is wrong or missing, or the limit was
   larger before. */
TEST(the_limit_holds) {
    static const char *const sizes[] = { NULL, "", "short", "0123456789 a large number",
        "\0\0\0\0\0\0\0\0 too few" };
    gpuexec_setup_desc desc;
    gpuexec_context ctx;
    char size[200];
    unsigned long long each;
    int i;
    begin();
    memset(&desc, 0, sizeof desc);
    CHECK(!is_cached(gpuexec_context_open(0, NULL), 0));
    each = info().bytes;
    gpuexec_shutdown();
    desc.cache_bytes = 16 * each;
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    for (i = 1; i < 50; i++) {
        CHECK(!is_cached(ctx, i));
        CHECK(is_cached(ctx, i)); /* what was just written stays */
        CHECK(info().bytes <= desc.cache_bytes);
        if (i > 16) CHECK(info().bytes >= desc.cache_bytes - desc.cache_bytes / 8 - 2 * each);
    }
    snprintf(size, sizeof size, "%s/.size", folder);
    for (i = 0; i < 5; i++) {
        if (i) write_file(size, sizes[i], i < 4 ? strlen(sizes[i]) : 12);
        else CHECK(remove(size) == 0);
        /* it does not know the number, and counts again */
        if (i < 4) CHECK(!is_cached(ctx, 200 + i));
        CHECK(info().bytes <= desc.cache_bytes);
    }
    CHECK_OK(gpuexec_cache_clear());
    CHECK(access(size, F_OK) != 0);
    gpuexec_shutdown();
    ctx = gpuexec_context_open(0, NULL); /* with the default limit */
    for (i = 100; i < 130; i++) CHECK(!is_cached(ctx, i));
    gpuexec_shutdown();
    CHECK_OK(gpuexec_setup(&desc));
    ctx = gpuexec_context_open(0, NULL);
    CHECK(info().entries == 30);
    CHECK(!is_cached(ctx, 300));
    CHECK(info().bytes <= desc.cache_bytes);
    end();
}

/* --- many processes --------------------------------------------------------------------------- */

TEST_ALONE(at_once) {
    enum { PROCESSES = 16, ENTRIES = 8 };
    /* a GPU's driver starts slowly in each process */
    const int few = !on_cpu_device() && !getenv("TEST_ALL");
    const int processes = few ? 4 : PROCESSES, entries = few ? 2 : ENTRIES;
    pid_t children[PROCESSES];
    int i, status, ready[2];
    begin();
    CHECK(pipe(ready) == 0);
    for (i = 0; i < processes; i++) {
        fflush(NULL);
        if ((children[i] = fork()) == 0) {
            char byte;
            int k;
            close(ready[1]);
            /* all start when the parent closes the pipe */
            if (read(ready[0], &byte, 1) != 0) _exit(2);
            processes_hit = -1;
            for (k = 0; k < ENTRIES; k++) {
                wanted = k % entries;
                child_links();
                if (i == processes - 1 && k % 3 == 0) gpuexec_cache_clear();
            }
            CHECK_EQ(info().damaged, 0);
            fflush(NULL);
            _exit(test_failures != 0);
        }
    }
    close(ready[1]);
    close(ready[0]);
    for (i = 0; i < processes; i++)
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    for (i = 0; i < entries; i++) {
        CHECK(in_a_process(i, -1));
        CHECK(in_a_process(i, 1));
    }
    CHECK_EQ(files(folder, NULL, NULL), entries);
    end();
}

static gpuexec_context shared;
static void *thread_links(void *unused) {
    int k;
    for (k = 0; k < 12; k++) is_cached(shared, k % 4);
    return unused;
}
TEST(threads) {
    pthread_t threads[8];
    int i;
    begin();
    shared = gpuexec_context_open(0, NULL);
    for (i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, thread_links, NULL) == 0);
    for (i = 0; i < 8; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_EQ(info().hits + info().misses, 8 * 12);
    CHECK_EQ(info().damaged, 0);
    CHECK_EQ(files(folder, NULL, NULL), 4);
    CHECK_STRING(info().why, "");
    end();
}

static void whole(const char *path, void *user) { /* every entry under its final name is whole */
    if (strlen(strrchr(path, '/') + 1) == 64) ++*(int *)user;
}
static void child_whole(void) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int i, hits = 0, entries = 0;
    files(folder, whole, &entries);
    for (i = 0; i < 4; i++) hits += is_cached(ctx, i);
    CHECK_EQ(hits, entries);
    CHECK_EQ(info().damaged, 0);
    CHECK_OK(gpuexec_cache_clear());
    CHECK_EQ(files(folder, NULL, NULL), 0);
}
static void wait_us(long us) {
    struct timespec t = { 0, 1000 * us };
    nanosleep(&t, NULL); /* not order: any moment must do */
}
TEST_ALONE(killed) {
    const int rounds = !on_cpu_device() ? 50 : getenv("TEST_ALL") ? 200 : 25;
    /* a link takes longer on a GPU */
    uint32_t random = 18, most_us = on_cpu_device() ? 5000 : 300000;
    int i, found = 0;
    if (!test_in_full()) SKIP("a GPU adds little to it; TEST_ALL=1 runs it");
    begin();
    for (i = 0; i < rounds; i++) {
        int ready[2], status;
        char byte;
        pid_t child;
        CHECK(pipe(ready) == 0);
        fflush(NULL);
        child = fork();
        if (child == 0) { /* writes entries until it is killed */
            gpuexec_context ctx = gpuexec_context_open(0, NULL);
            int k;
            if (write(ready[1], "r", 1) != 1) _exit(2);
            for (k = 0;; k++) {
                is_cached(ctx, k % 4);
                if (k % 4 == 3) gpuexec_cache_clear();
            }
        }
        CHECK(read(ready[0], &byte, 1) == 1);
        wait_us(test_random(&random) % most_us);
        kill(child, SIGKILL);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        close(ready[0]);
        close(ready[1]);
        files(folder, whole, &found);
        CHECK(run_child(child_whole));
        if (!found && most_us < 5000000) most_us *= 2; /* a slow machine */
    }
    CHECK(found > 0);
    end();
}
