/* cache.c - arbitrary bytes as entries of the cache, and arbitrary texts that include files. The
     first byte selects:
     0  the file of an entry
     1  what follows a correct head: the hash fits, so that the parts are read 2  a source, whose
     #includes are searched for
   Linking must give the right kernel whatever the file holds (0), and nothing may crash or read
   beyond the end. */
#define GPUEXEC_IMPLEMENTATION
#define GPUEXEC_STATIC
#include "../../../gpuexec.h"
#include "../../support/fuzz/fuzz.h"

static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry right() { ret; }\n";
static char folder[] = "/tmp/gpuexec-fuzz-XXXXXX";
static gpuexec_context context;

static void end(void) {
    gpuexec_cache_clear();
    rmdir(folder);
}
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    simgpu_take_this();
    setenv("SIMGPU_MEMORY", "64M", 1);
    FUZZ_CHECK(mkdtemp(folder), "a folder");
    setenv("GPUEXEC_CACHE", folder, 1);
    context = gpuexec_context_open(0, NULL);
    FUZZ_CHECK(gpuexec_take_error() == GPUEXEC_OK, "%s", gpuexec_error_text());
    atexit(end);
    return 0;
}

/* Links the text; returns whether the result was cached. */
static int link_it(int must_be_right) {
    gpuexec_linker_desc desc = { 0 };
    desc.cache = 1;
    const gpuexec_linker linker = gpuexec_linker_create(context, &desc);
    gpuexec_linker_add(linker, GPUEXEC_INPUT_AUTO, text, 0, NULL);
    const gpuexec_module module = gpuexec_linker_load(linker);
    const gpuexec_kernel kernel = gpuexec_kernel_get(module, "right");
    const int cached = gpuexec_module_is_cached(module);
    FUZZ_CHECK(!must_be_right || gpuexec_ok(kernel), "%s", gpuexec_error_text());
    FUZZ_CHECK(gpuexec_ok(kernel) || gpuexec_error_text()[0], "a text");
    gpuexec_module_unload(module);
    gpuexec_linker_destroy(linker);
    (void)gpuexec_take_error();
    return cached;
}
static void find(void *user, const char *name) {
    if (strlen(name) == GXI_CACHE_NAME) snprintf((char *)user, 128, "%s/%s", folder, name);
}
static void put(const uint8_t *data, size_t size, int hash) {
    char path[128] = "";
    unsigned char head[GXI_CACHE_HEAD];
    gpuexec_cache_clear();
    FUZZ_CHECK(!link_it(1) && link_it(1), "the second is cached");
    gxi_folder_list(folder, find, path);
    FILE *file = fopen(path, "r+b");
    FUZZ_CHECK(file && fread(head, 1, sizeof head, file) == sizeof head, "%s", path);
    if (hash) {
        gxi_hasher s;
        gxi_hash_begin(&s);
        gxi_hash_add(&s, data, size);
        gxi_hash_finish(&s, head + 16 + GXI_KEY);
    }
    fclose(file);
    file = fopen(path, "wb");
    FUZZ_CHECK(file, "%s", path);
    if (hash) fwrite(head, 1, sizeof head, file);
    fwrite(data, 1, size, file);
    fclose(file);
}
static void search(const uint8_t *data, size_t size) {
    const char *const folders[] = { folder };
    const gpuexec_compile_desc desc = { 0, 0, 0, 0, 0, folders, 1, 0, 0, 0, 0, 0, 0 };
    unsigned char first[GXI_KEY], again[GXI_KEY];
    gxi_text list = { 0, 0, 0, 0 };
    char *const source = (char *)malloc(size + 1);
    FUZZ_CHECK(source, "memory");
    memcpy(source, data, size);
    source[size] = 0;
    const char *const why = gxi_files_state(
            &desc, source, "a/b.cu", "", "/no/such", NULL, 0, &list, first);
    const char *const then = gxi_files_state(
            &desc, source, "a/b.cu", "", "/no/such", list.p ? list.p : "", list.n, NULL, again);
    FUZZ_CHECK(why == then && (why || memcmp(first, again, GXI_KEY) == 0), "%s", source);
    gxi_text_free(&list);
    free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const int how = data[0] % 3;
    if (how == 2) {
        search(data + 1, size - 1);
        return 0;
    }
    put(data + 1, size - 1, how);
    (void)link_it(!how);
    simgpu_forget_fault();
    return 0;
}
