/* play_nvtx.c - a shared library that plays an NVTX tool: it exports InitializeInjectionNvtx2,
   takes the functions of the modules CORE and CUDA that gpuexec calls, and records each call in a
   text, one a line, which play_nvtx_text returns. play_nvtx_set_hook sets a function that
   InitializeInjectionNvtx2 calls first. Written from NVTX 3's nvtxTypes.h, not from
   gpuexec.h.

   PLAY_NVTX_REFUSES=1          InitializeInjectionNvtx2 returns 0
   PLAY_NVTX_LACKS="push name"  takes no function for these: push, pop, name */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
typedef function **function_table;
typedef struct callbacks {
    size_t struct_size;
    int (*get_module_function_table)(int module, function_table *table, unsigned *size);
} callbacks;
typedef struct version_info {
    size_t struct_size;
    uint32_t version, reserved;
    void (*set_injection_version)(uint32_t version);
} version_info;
typedef const void *(*get_export_table)(uint32_t id);

int InitializeInjectionNvtx2(get_export_table get);
const char *play_nvtx_text(void);
void play_nvtx_set_hook(function f);

static char text[65536];
static size_t bytes;
static char lock;
static __thread int depth;
static function hook;
void play_nvtx_set_hook(function f) { hook = f; }

static void record(const char *what, const void *object, const char *name) {
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
    if (bytes < sizeof text)
        bytes += (size_t)(object ? snprintf(text + bytes, sizeof text - bytes, "%s %p %s\n", what,
                                           object, name)
                                 : snprintf(text + bytes, sizeof text - bytes, "%s%s%s\n", what,
                                           *name ? " " : "", name));
    __atomic_clear(&lock, __ATOMIC_RELEASE);
}
/* What has been recorded since the last call. */
const char *play_nvtx_text(void) {
    static char copy[sizeof text];
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
    memcpy(copy, text, bytes < sizeof text ? bytes + 1 : sizeof text);
    bytes = 0;
    text[0] = 0;
    __atomic_clear(&lock, __ATOMIC_RELEASE);
    return copy;
}

static int range_push(const char *name) {
    record("push", NULL, name);
    return depth++;
}
static int range_pop(void) {
    record("pop", NULL, "");
    return --depth;
}
static void name_context(void *object, const char *name) { record("context", object, name); }
static void name_stream(void *object, const char *name) { record("stream", object, name); }
static void name_event(void *object, const char *name) { record("event", object, name); }

static int lacks(const char *what) {
    const char *const list = getenv("PLAY_NVTX_LACKS");
    return list && strstr(list, what);
}
int InitializeInjectionNvtx2(get_export_table get) {
    const callbacks *const calls = (const callbacks *)get(1); /* NVTX_ETID_CALLBACKS */
    /* NVTX_ETID_VERSIONINFO */
    const version_info *const version = (const version_info *)get(3);
    function_table core = NULL, cuda = NULL;
    unsigned core_size = 0, cuda_size = 0, size, module, i;
    char line[100];
    if (hook) hook();
    if (getenv("PLAY_NVTX_REFUSES")) return 0;
    if (!calls || calls->struct_size < sizeof *calls || get(0) || get(99)) return 0;
    if (!version || version->struct_size < sizeof *version) return 0;
    version->set_injection_version(1);
    /* NVTX_CB_MODULE_CORE, NVTX_CB_MODULE_CUDA */
    if (!calls->get_module_function_table(1, &core, &core_size) ||
            !calls->get_module_function_table(2, &cuda, &cuda_size) ||
            calls->get_module_function_table(0, NULL, NULL) ||
            calls->get_module_function_table(7, NULL, NULL))
        return 0;
    snprintf(line, sizeof line, "%u with %u and %u functions", (unsigned)version->version,
            core_size, cuda_size);
    record("version", NULL, line);
    /* each table: nothing at 0, a pointer for each other number, and NULL behind its end */
    for (module = 1; module < 7; module++) {
        function_table table = NULL;
        if (!calls->get_module_function_table((int)module, &table, &size) || table[0] ||
                table[size])
            return 0;
        for (i = 1; i < size; i++) {
            if (!table[i]) return 0;
            if (module > 2) *table[i] = (function)abort; /* nothing may call it */
        }
    }
    if (!lacks("push")) *core[9] = (function)range_push; /* NVTX_CBID_CORE_RangePushA */
    if (!lacks("pop")) *core[11] = (function)range_pop;  /* NVTX_CBID_CORE_RangePop */
    if (lacks("name")) return 1;
    *cuda[3] = (function)name_context; /* NVTX_CBID_CUDA_NameCuContextA */
    *cuda[5] = (function)name_stream;  /* NVTX_CBID_CUDA_NameCuStreamA */
    *cuda[7] = (function)name_event;   /* NVTX_CBID_CUDA_NameCuEventA */
    return 1;
}
