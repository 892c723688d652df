/* fatbin.c - PTX inside what nvcc makes: fatbins, the wrappers that host code points to, host
   objects and archives.

   Everything is little-endian. A fatbin begins with
     u32 0xBA55ED50   u16 version 1   u16 bytes of this header   u64 bytes of the entries that
                                                                 follow
   and an entry, whose payload follows its header, with
     0 u16 kind: 1 PTX, 2 cubin, 8 LTO-IR     4 u32 bytes of the header     8 u64 bytes of the
                                                                            payload, padded to 8
     16 u32 compressed bytes without padding, or 0     28 u32 architecture     40 u64 flags     56
                                                                               u64 bytes of the text
   nvcc 13 writes LZ4 (one raw block) with --compress-mode=speed, zstd (one frame) with the other
   modes. A host object has fatbins in its section .nv_fatbin, with -rdc=true in __nv_relfatbin.
   A wrapper is: u32 0x466243B1, u32 version, the address of a fatbin, and with version 2 that of a
   list of fatbins, one of each object of -rdc=true, which ends in NULL: their PTX is linked. */
#include "objects.h"
#include <dlfcn.h>

enum {
    HEADER = 16,
    ENTRY = 64,
    MOST = 1 << 30,
    PTX = 1,
    CUBIN = 2,
    LTO = 8,
    LZ4 = 0x2000,
    ZSTD = 0x8000,
    THIS_ONLY = 0x100000,
    FAMILY = 0x200000 /* the last two: sm_90a, sm_100f */
};

static uint64_t number(const unsigned char *p, unsigned bytes) {
    uint64_t x = 0;
    while (bytes--) x = x << 8 | p[bytes];
    return x;
}
/* byte by byte: a text may end earlier */
static bool starts(const void *image, const char magic[4]) {
    const char *p = image;
    int i = 0;
    while (i < 4 && p[i] == magic[i]) i++;
    return i == 4;
}
bool sim_is_fatbin(const void *image) { return starts(image, "\x50\xED\x55\xBA"); }
bool sim_is_wrapper(const void *image) { return starts(image, "\xB1\x43\x62\x46"); }

size_t sim_fatbin_bytes(const void *image) {
    const unsigned char *p = image;
    const uint64_t bytes = number(p + 8, 8);
    return bytes < SIZE_MAX / 2 ? (size_t)bytes + (size_t)number(p + 6, 2) : HEADER;
}

/* ---- texts ---- */

int sim_texts_add(struct sim_texts *t, const char *name, const char *text, size_t bytes) {
    const size_t named = strlen(name) + 1, length = strnlen(text, bytes);
    char *more = realloc(t->bytes, t->len + named + length + 1);
    if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(more + t->len, name, named);
    memcpy(more + t->len + named, text, length);
    more[t->len + named + length] = 0;
    t->bytes = more;
    t->len += named + length + 1;
    t->count++;
    return CUDA_SUCCESS;
}

/* A function of a library that is opened when it is first needed, and stays open. */
static void *function(
        const char *file, const char *name, const char *package, struct sim_log *log) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *f = library ? dlsym(library, name) : NULL;
    if (!f)
        sim_log_add(log,
                "simgpu: the PTX in this fatbin is compressed, and %s, which decompresses it, is "
                "not available: install the package %s, or compile with nvcc --no-compress\n",
                file, package);
    return f;
}

static int damaged(struct sim_log *log, const char *name, const char *why) {
    sim_log_add(log, "simgpu: the fatbin in '%s' is damaged: %s\n", name, why);
    return CUDA_ERROR_INVALID_IMAGE;
}

static int add_text(
        struct sim_texts *t, const char *name, const unsigned char *entry, struct sim_log *log) {
    const char *from = (const char *)entry + number(entry + 4, 4);
    const uint64_t payload = number(entry + 8, 8), packed = number(entry + 16, 4),
                   flags = number(entry + 40, 8), bytes = number(entry + 56, 8);
    if (!(flags & (LZ4 | ZSTD))) {
        if (packed) return damaged(log, name, "its PTX is compressed in a way that is not known");
        return sim_texts_add(t, name, from, (size_t)payload);
    }
    if (packed > payload) return damaged(log, name, "its compressed PTX is longer than its entry");
    if (!bytes || bytes > MOST)
        return damaged(log, name, "the size of its PTX is 0 or more than 1 GiB");
    union {
        void *found;
        int (*lz4)(const char *from, char *to, int packed, int room);
        size_t (*zstd)(void *to, size_t room, const void *from, size_t packed);
    } f;
    f.found = flags & LZ4 ? function("liblz4.so.1", "LZ4_decompress_safe", "liblz4-1", log)
                          : function("libzstd.so.1", "ZSTD_decompress", "libzstd1", log);
    if (!f.found) return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
    char *text = packed <= MOST ? malloc((size_t)bytes) : NULL;
    if (!text) return CUDA_ERROR_OUT_OF_MEMORY;
    const uint64_t got = flags & LZ4 ? (uint64_t)(int64_t)f.lz4(from, text, (int)packed, (int)bytes)
                                     : f.zstd(text, (size_t)bytes, from, (size_t)packed);
    const int result = got == bytes
            ? sim_texts_add(t, name, text, (size_t)bytes)
            : damaged(log, name, "its PTX does not decompress to the size in its header");
    free(text);
    return result;
}

/* ---- containers ---- */

static bool runs_here(const unsigned char *entry) {
    const unsigned device = sim_settings.capability->sm, arch = (unsigned)number(entry + 28, 4);
    const uint64_t flags = number(entry + 40, 8);
    if (number(entry, 2) != PTX || arch > device) return false;
    if (flags & THIS_ONLY) return arch == device;
    return !(flags & FAMILY) || arch / 10 == device / 10;
}

static void list(const unsigned char *p, uint64_t left, struct sim_log *log) {
    for (uint64_t bytes; left; p += bytes, left -= bytes) {
        const unsigned kind = (unsigned)number(p, 2), arch = (unsigned)number(p + 28, 4);
        const uint64_t flags = number(p + 40, 8), full = number(p + 56, 8);
        const char *suffix = flags & THIS_ONLY ? "a" : flags & FAMILY ? "f" : "";
        bytes = number(p + 4, 4) + number(p + 8, 8);
        if (kind == PTX || kind == CUBIN || kind == LTO)
            sim_log_add(log, "simgpu:   %s_%u%s, %llu bytes\n",
                    kind == PTX             ? "PTX for compute"
                            : kind == CUBIN ? "a cubin for sm"
                                            : "LTO-IR for lto",
                    arch, suffix, (unsigned long long)(full ? full : number(p + 8, 8)));
        else sim_log_add(log, "simgpu:   an entry of unknown kind %u\n", kind);
    }
}

/* The best PTX of a fatbin, of which `limit` bytes may be read: of the newest architecture, as a
   GPU's driver chooses; of two equal ones the last. No PTX: 209. *used: the fatbin's bytes. */
static int add_fatbin(struct sim_texts *t, const char *name, const unsigned char *p, size_t limit,
        struct sim_log *log, size_t *used) {
    const unsigned char *best = NULL, *entry;
    if (limit < HEADER) return damaged(log, name, "it ends in its header");
    const uint64_t header = number(p + 6, 2), bytes = number(p + 8, 8);
    uint64_t left = bytes;
    if (number(p + 4, 2) != 1 && bytes) return damaged(log, name, "its version is not known");
    if (header < HEADER || header > limit || bytes > limit - header)
        return damaged(log, name, "its header gives a length that it does not have");
    *used = (size_t)(header + bytes);
    for (entry = p + header; left;) {
        const uint64_t head = left >= ENTRY ? number(entry + 4, 4) : 0,
                       payload = head ? number(entry + 8, 8) : 0;
        if (head < ENTRY || head > left || payload > left - head)
            return damaged(log, name, "an entry extends beyond its end");
        if (runs_here(entry) && (!best || number(entry + 28, 4) >= number(best + 28, 4)))
            best = entry;
        entry += head + payload;
        left -= head + payload;
    }
    if (best) return add_text(t, name, best, log);
    sim_log_add(log,
            "simgpu executes PTX, and the fatbin in '%s' has none for compute capability %u.%u or "
            "lower. It contains%s\n",
            name, sim_settings.capability->sm / 10, sim_settings.capability->sm % 10,
            bytes ? ":" : " nothing");
    list(p + header, bytes, log);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static int add_wrapper(
        struct sim_texts *t, const char *name, const unsigned char *p, struct sim_log *log) {
    const unsigned char *data, *const *more;
    const uint64_t version = number(p + 4, 4);
    size_t used;
    memcpy(&data, p + 8, sizeof data);
    memcpy(&more, p + 16, sizeof more);
    if (version != 1 && version != 2)
        return damaged(log, name, "the version of its wrapper is not known");
    const bool linked = version == 2 && more && *more;
    if (!linked && (!data || !sim_is_fatbin(data)))
        return damaged(log, name, "its wrapper points to no fatbin");
    /* of a linked program this is the cubin of the whole; its PTX is in the list */
    if (!linked) return add_fatbin(t, name, data, SIZE_MAX, log, &used);
    for (int result; *more; more++) {
        if (!sim_is_fatbin(*more))
            return damaged(log, name, "the list of its wrapper has something else");
        if ((result = add_fatbin(t, name, *more, SIZE_MAX, log, &used))) return result;
    }
    return CUDA_SUCCESS;
}

int sim_fatbin_texts(const void *image, size_t limit, const char *name, struct sim_log *log,
        struct sim_texts *t) {
    size_t used;
    if (!sim_is_wrapper(image)) return add_fatbin(t, name, image, limit, log, &used);
    /* a pointer that was in a file is not one of this process */
    return limit == SIZE_MAX ? add_wrapper(t, name, image, log)
                             : damaged(log, name, "it is the wrapper of a fatbin");
}

/* ---- objects and archives ---- */

static int add_section(struct sim_texts *t, const char *name, const unsigned char *p, size_t left,
        unsigned *fatbins, struct sim_log *log) {
    for (size_t used; left >= HEADER; p += used, left -= used) {
        used = 8; /* between fatbins there may be padding */
        if (!sim_is_fatbin(p)) continue;
        ++*fatbins;
        const int result = add_fatbin(t, name, p, left, log, &used);
        if (result) return result;
        used = (used + 7) / 8 * 8;
        if (used > left) break;
    }
    return CUDA_SUCCESS;
}

/* The fatbins of a 64-bit ELF file; *fatbins: how many more. */
static int add_object(struct sim_texts *t, const char *name, const unsigned char *p, size_t size,
        unsigned *fatbins, struct sim_log *log) {
    enum { ELF_HEADER = 64, SECTION = 64, NOBITS = 8 };
    if (size < ELF_HEADER || p[4] != 2 || p[5] != 1)
        return damaged(log, name, "the object is not 64-bit ELF");
    const uint64_t at = number(p + 40, 8), each = number(p + 58, 2), n = number(p + 60, 2),
                   names = number(p + 62, 2);
    if (!n) return CUDA_SUCCESS;
    if (each != SECTION || at > size || n * SECTION > size - at || names >= n)
        return damaged(log, name, "the object's table of sections");
    const unsigned char *strings = p + at + names * SECTION;
    const uint64_t strings_at = number(strings + 24, 8), strings_size = number(strings + 32, 8);
    if (strings_at > size || strings_size > size - strings_at)
        return damaged(log, name, "the object's names of sections");
    for (uint64_t i = 0; i < n; i++) {
        static const char *const holds[] = { ".nv_fatbin", "__nv_relfatbin" };
        const unsigned char *s = p + at + i * SECTION;
        const uint64_t from = number(s + 24, 8), bytes = number(s + 32, 8), called = number(s, 4);
        bool found = false;
        for (int k = 0; k < 2; k++) {
            const size_t length = strlen(holds[k]) + 1;
            found |= called < strings_size && length <= strings_size - called &&
                    !memcmp(p + strings_at + called, holds[k], length);
        }
        if (!found || number(s + 4, 4) == NOBITS) continue;
        if (from > size || bytes > size - from)
            return damaged(log, name, "a section is outside the object");
        const int result = add_section(t, name, p + from, (size_t)bytes, fatbins, log);
        if (result) return result;
    }
    return CUDA_SUCCESS;
}

int sim_object_texts(const void *object, size_t size, const char *name, struct sim_log *log,
        struct sim_texts *t) {
    unsigned fatbins = 0;
    const int result = add_object(t, name, object, size, &fatbins, log);
    if (result || fatbins) return result;
    sim_log_add(log, "simgpu: '%s' has no device code\n", name);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* All members, whether they are needed or not. */
int sim_archive_texts(const void *archive, size_t size, const char *name, struct sim_log *log,
        struct sim_texts *t) {
    enum { START = 8, MEMBER = 60, LENGTH_AT = 48, LENGTH_DIGITS = 10 };
    const unsigned char *p = archive;
    unsigned fatbins = 0, n = 0;
    for (size_t at = START; at <= size && size - at >= MEMBER;) {
        char digits[LENGTH_DIGITS + 1] = "", member[600];
        memcpy(digits, p + at + LENGTH_AT, LENGTH_DIGITS);
        const size_t length = strtoul(digits, NULL, 10), start = at + MEMBER;
        if (length > size - start)
            return damaged(log, name, "a member extends beyond the archive's end");
        snprintf(member, sizeof member, "%s: member %u", name, ++n);
        if (length >= 20 && starts(p + start, "\177ELF") && number(p + start + 18, 2) != 190) {
            const int result = add_object(t, member, p + start, length, &fatbins, log);
            if (result) return result;
        }
        at = start + length + length % 2;
    }
    if (fatbins) return CUDA_SUCCESS;
    sim_log_add(log, "simgpu: '%s' has no device code\n", name);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}
