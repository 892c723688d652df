/* cache.c - writes entries of the cache into a folder that holds many: cache FOLDER FILES WRITES
   [full]. callgrind counts do_writes. With `full`, the folder is at its limit, and each write makes
   another entry go. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <sys/stat.h>

enum { EACH = 1008 }; /* bytes of an entry */
static gxi_call a_call;
static gxi_cache_entry entry;
static char text[EACH - GXI_CACHE_HEAD - 8 - 1 - 7];

static void name_entry(unsigned number) {
    memset(entry.key, 0, sizeof entry.key);
    snprintf(entry.name, sizeof entry.name, "%064x", number);
    memcpy(entry.key, &number, sizeof number);
}
static void write_entry(unsigned number) {
    const gxi_cache_part part = { text, sizeof text };
    name_entry(number);
    gxi_cache_entry_write(&a_call, &entry, &part, 1);
}
__attribute__((noinline)) void do_writes(unsigned from, unsigned count) {
    while (count--) write_entry(from++);
}

int main(int argc, char **argv) {
    static gxi_settings settings;
    const unsigned files = argc > 3 ? (unsigned)atoi(argv[2]) : 0,
                   writes = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    char path[300];
    unsigned i;
    FILE *f;
    if (!writes || mkdir(argv[1], 0700)) return 1;
    gxi_call_init(&a_call, "gpuexec_linker_load", NULL, GXI_QUERIES);
    settings.desc = gxi_defaults;
    settings.desc.cache_bytes = argc > 4 ? files * (uint64_t)EACH : (uint64_t)1 << 30;
    gxi.start.settings = &settings;
    memset(text, 'x', sizeof text);
    for (i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/%064x", argv[1], i);
        if ((f = fopen(path, "wb")) == NULL || fwrite(text, sizeof text, 1, f) != 1 ||
                fseek(f, EACH - 1, SEEK_SET) || fputc(0, f) || fclose(f))
            return 1;
    }
    gxi_add(&entry.folder, "%s", argv[1]);
    write_entry(files); /* the first one counts the bytes */
    do_writes(files + 1, writes);
    snprintf(path, sizeof path, "%s/%064x", argv[1], files + writes);
    f = fopen(path, "rb"); /* the last one is there, and has the size that the limit assumes */
    if (!f || fseek(f, 0, SEEK_END) || ftell(f) != EACH) return 2;
    fclose(f);
    gxi_text_free(&entry.folder);
    return 0;
}
