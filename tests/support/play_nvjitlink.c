/* play_nvjitlink.c - a shared library that plays nvJitLink, for tests on machines without it and
   for failures that the real one does not have. Its LTO-IR is the magic number and PTX without the
   three lines at the top; it "links" by putting the texts of all inputs, LTO-IR or PTX, one behind
   the other. Its cubin is only the header of one. A text with "bad" is refused as LTO-IR of another
   version is. The Makefile builds it three times: play_nvjitlink_old.so has the names of 12.0, and
   play_nvjitlink_lacks.so lacks a function.

   PLAY_NVJITLINK_VERSION=13.0      what nvJitLinkVersion returns
   PLAY_NVJITLINK_FAILS=FUNCTION    this function returns PLAY_NVJITLINK_CODE, by default 6:
                                    NVJITLINK_ERROR_INTERNAL
   PLAY_NVJITLINK_LOG=TEXT          the error log; without it, it is empty, or about the text that
                                    is refused
   PLAY_NVJITLINK_BYTES=N           the size of the results
   PLAY_NVJITLINK_CUBIN=text        the cubin is the text, which every driver loads The info log has
   the options, one a line, and the types and names of the inputs. */
#define PLAY "PLAY_NVJITLINK_"
#define INTERNAL_ERROR "6"
#include "play.h"

#if defined(OLD)
#define nvJitLinkCreate __nvJitLinkCreate_12_0
#define nvJitLinkDestroy __nvJitLinkDestroy_12_0
#define nvJitLinkAddData __nvJitLinkAddData_12_0
#define nvJitLinkComplete __nvJitLinkComplete_12_0
#define nvJitLinkGetErrorLogSize __nvJitLinkGetErrorLogSize_12_0
#define nvJitLinkGetErrorLog __nvJitLinkGetErrorLog_12_0
#define nvJitLinkGetInfoLogSize __nvJitLinkGetInfoLogSize_12_0
#define nvJitLinkGetInfoLog __nvJitLinkGetInfoLog_12_0
#define nvJitLinkGetLinkedCubinSize __nvJitLinkGetLinkedCubinSize_12_0
#define nvJitLinkGetLinkedCubin __nvJitLinkGetLinkedCubin_12_0
#define nvJitLinkGetLinkedPtxSize __nvJitLinkGetLinkedPtxSize_12_0
#define nvJitLinkGetLinkedPtx __nvJitLinkGetLinkedPtx_12_0
#else
int nvJitLinkVersion(unsigned *major, unsigned *minor);
int nvJitLinkVersion(unsigned *major, unsigned *minor) {
    FAIL_IF_ASKED();
    return sscanf(setting("PLAY_NVJITLINK_VERSION", "13.0"), "%u.%u", major, minor) == 2 ? 0 : 6;
}
#endif

enum { ROOM = 1 << 16, INVALID_INPUT = 3, TOO_NEW = 6, PTX = 2 };
typedef struct handle {
    char text[ROOM], info[ROOM], errors[256];
    struct handle *next;
} handle;
static handle *handles; /* that were not destroyed, so that none counts as leaked */
static char handles_lock;

int nvJitLinkCreate(handle **made, unsigned n, const char **options);
int nvJitLinkDestroy(handle **h);
int nvJitLinkAddData(handle *h, int type, const void *data, size_t bytes, const char *name);
int nvJitLinkGetErrorLogSize(handle *h, size_t *bytes);
int nvJitLinkGetErrorLog(handle *h, char *log);
int nvJitLinkGetInfoLogSize(handle *h, size_t *bytes);
int nvJitLinkGetInfoLog(handle *h, char *log);
int nvJitLinkGetLinkedCubinSize(handle *h, size_t *bytes);
int nvJitLinkGetLinkedCubin(handle *h, void *cubin);
int nvJitLinkGetLinkedPtxSize(handle *h, size_t *bytes);
int nvJitLinkGetLinkedPtx(handle *h, char *ptx);

/* As the real one does, this makes a handle with a log even if it fails. */
int nvJitLinkCreate(handle **made, unsigned n, const char **options) {
    handle *const h = (handle *)calloc(1, sizeof *h);
    unsigned i;
    if (!h) abort();
    while (__atomic_test_and_set(&handles_lock, __ATOMIC_ACQUIRE)) {}
    h->next = handles;
    handles = h;
    __atomic_clear(&handles_lock, __ATOMIC_RELEASE);
    *made = h;
    snprintf(h->errors, sizeof h->errors, "%s", setting("PLAY_NVJITLINK_LOG", ""));
    strcpy(h->text, ".version 7.0\n.target sm_50\n.address_size 64\n");
    for (i = 0; i < n; i++)
        snprintf(h->info + strlen(h->info), ROOM - strlen(h->info), "%s\n", options[i]);
    return code_of("nvJitLinkCreate");
}
int nvJitLinkDestroy(handle **h) {
    handle **from = &handles;
    while (__atomic_test_and_set(&handles_lock, __ATOMIC_ACQUIRE)) {}
    while (*from != *h) from = &(*from)->next;
    *from = (*h)->next;
    __atomic_clear(&handles_lock, __ATOMIC_RELEASE);
    free(*h);
    *h = NULL;
    return code_of("nvJitLinkDestroy");
}
int nvJitLinkAddData(handle *h, int type, const void *data, size_t bytes, const char *name) {
    const char *text = (const char *)data, *const end = text + bytes, *top;
    const int code = code_of("nvJitLinkAddData");
    if (code) return code;
    snprintf(h->info + strlen(h->info), ROOM - strlen(h->info), "%d %s\n", type, name);
    if (type == PTX) { /* it counts the NUL */
        top = strstr(text, ".address_size 64\n");
        if (!top || strlen(text) + 1 != bytes) return INVALID_INPUT;
        text = top + strlen(".address_size 64\n");
    } else { /* also in a fatbin */
        while (end - text >= 4 && memcmp(text, "\xED\x43\x4E\x7F", 4) != 0) text++;
        if (end - text < 4) return INVALID_INPUT;
        text += 4;
    }
    if (strstr(text, "bad")) {
        snprintf(h->errors, sizeof h->errors,
                "ERROR 4 in nvvmAddNVVMContainerToProgram, may need newer version of nvJitLink "
                "library\n");
        return TOO_NEW;
    }
    /* an earlier input defines it */
    if (strncmp(text, ".extern", 7) == 0) text = strchr(text, '\n') + 1;
    snprintf(h->text + strlen(h->text), ROOM - strlen(h->text), "%.*s\n", (int)(end - text), text);
    return 0;
}
#ifndef LACKS
int nvJitLinkComplete(handle *h);
int nvJitLinkComplete(handle *h) {
    (void)h;
    return code_of("nvJitLinkComplete");
}
#endif
static int size_of(const char *function, const char *text, size_t *bytes) {
    const int code = code_of(function);
    if (!code) *bytes = *text ? strlen(text) + 1 : 0;
    return code;
}
static int copy_of(const char *function, const char *text, void *to) {
    const int code = code_of(function);
    if (!code) memcpy(to, text, strlen(text) + 1);
    return code;
}
static int size_of_result(const char *function, const handle *h, size_t *bytes) {
    const int code = size_of(function, h->text, bytes);
    if (!code && getenv("PLAY_NVJITLINK_BYTES"))
        *bytes = strtoull(getenv("PLAY_NVJITLINK_BYTES"), NULL, 0);
    return code;
}
int nvJitLinkGetErrorLogSize(handle *h, size_t *bytes) {
    return size_of("nvJitLinkGetErrorLogSize", h->errors, bytes);
}
int nvJitLinkGetErrorLog(handle *h, char *log) {
    return copy_of("nvJitLinkGetErrorLog", h->errors, log);
}
int nvJitLinkGetInfoLogSize(handle *h, size_t *bytes) {
    return size_of("nvJitLinkGetInfoLogSize", h->info, bytes);
}
int nvJitLinkGetInfoLog(handle *h, char *log) {
    return copy_of("nvJitLinkGetInfoLog", h->info, log);
}
/* The header of a cubin that no driver executes, without a section. */
static const unsigned char cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7, 0, 0, 0, 0, 0, 0, 0,
    2, 0, 190, 0, 1 };
static int is_text(void) { return strcmp(setting("PLAY_NVJITLINK_CUBIN", ""), "text") == 0; }
int nvJitLinkGetLinkedCubinSize(handle *h, size_t *bytes) {
    const int code = size_of_result("nvJitLinkGetLinkedCubinSize", h, bytes);
    if (!code && !is_text() && !getenv("PLAY_NVJITLINK_BYTES")) *bytes = sizeof cubin;
    return code;
}
int nvJitLinkGetLinkedCubin(handle *h, void *to) {
    if (is_text()) return copy_of("nvJitLinkGetLinkedCubin", h->text, to);
    memcpy(to, cubin, sizeof cubin);
    return code_of("nvJitLinkGetLinkedCubin");
}
int nvJitLinkGetLinkedPtxSize(handle *h, size_t *bytes) {
    return size_of_result("nvJitLinkGetLinkedPtxSize", h, bytes);
}
int nvJitLinkGetLinkedPtx(handle *h, char *ptx) {
    return copy_of("nvJitLinkGetLinkedPtx", h->text, ptx);
}
