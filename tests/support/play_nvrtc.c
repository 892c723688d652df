/* play_nvrtc.c - a shared library that plays NVRTC, for tests on machines without it and for
   failures that the real one does not have. It "compiles" PTX: the source is the result. A source
   without .version has an error. The lowered name of an expression has only its letters, digits and
   underscores. The Makefile builds it twice: play_nvrtc_old.so lacks the functions that NVRTC 11.0
   lacks.

   PLAY_NVRTC_VERSION=13.0       what nvrtcVersion returns
   PLAY_NVRTC_ARCHS="75 90"      the supported architectures
   PLAY_NVRTC_FAILS=FUNCTION     this function returns PLAY_NVRTC_CODE, by default 11:
                                 NVRTC_ERROR_INTERNAL_ERROR
   PLAY_NVRTC_LOG=TEXT           the log; without it, the options, one a line
   PLAY_NVRTC_LOG_LINES=N        and N more lines of 100 bytes
   PLAY_NVRTC_NO_CUBIN=1         makes no cubin, PLAY_NVRTC_NO_PTX=1: no PTX
   PLAY_NVRTC_EDITS=PATH         a file that changes while it compiles: it gets one more byte */
#define PLAY "PLAY_NVRTC_"
#define INTERNAL_ERROR "11"
#include "play.h"
#include <ctype.h>

typedef struct program {
    char *source, *log;
    char name[64], options[4096], expressions[8][64], lowered[8][64];
    int expression_count;
    struct program *next;
} program;
static program *programs; /* that were not destroyed, so that none counts as leaked */
static char programs_lock;

int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(program **made, const char *source, const char *name, int n,
        const char *const *texts, const char *const *names);
int nvrtcDestroyProgram(program **p);
int nvrtcAddNameExpression(program *p, const char *expression);
int nvrtcCompileProgram(program *p, int n, const char *const *options);
int nvrtcGetProgramLogSize(program *p, size_t *bytes);
int nvrtcGetProgramLog(program *p, char *log);
int nvrtcGetLoweredName(program *p, const char *expression, const char **name);
int nvrtcGetPTXSize(program *p, size_t *bytes);
int nvrtcGetPTX(program *p, char *ptx);

int nvrtcVersion(int *major, int *minor) {
    FAIL_IF_ASKED();
    return sscanf(setting("PLAY_NVRTC_VERSION", "13.0"), "%d.%d", major, minor) == 2 ? 0 : 11;
}

int nvrtcCreateProgram(program **made, const char *source, const char *name, int n,
        const char *const *texts, const char *const *names) {
    program *p;
    int i;
    FAIL_IF_ASKED();
    p = (program *)calloc(1, sizeof *p);
    if (!p || !(p->source = strdup(source))) abort();
    snprintf(p->name, sizeof p->name, "%s", name);
    for (i = 0; i < n; i++)
        snprintf(p->options + strlen(p->options), sizeof p->options - strlen(p->options),
                "header %s: %s\n", names[i], texts[i]);
    while (__atomic_test_and_set(&programs_lock, __ATOMIC_ACQUIRE)) {}
    p->next = programs;
    programs = p;
    __atomic_clear(&programs_lock, __ATOMIC_RELEASE);
    *made = p;
    return 0;
}
int nvrtcDestroyProgram(program **p) {
    program **from = &programs;
    while (__atomic_test_and_set(&programs_lock, __ATOMIC_ACQUIRE)) {}
    while (*from != *p) from = &(*from)->next;
    *from = (*p)->next;
    __atomic_clear(&programs_lock, __ATOMIC_RELEASE);
    free((*p)->source);
    free((*p)->log);
    free(*p);
    *p = NULL;
    return code_of(__func__);
}
int nvrtcAddNameExpression(program *p, const char *expression) {
    char *to;
    FAIL_IF_ASKED();
    if (p->expression_count == 8) return 10;
    to = p->lowered[p->expression_count];
    snprintf(p->expressions[p->expression_count++], 64, "%s", expression);
    for (; *expression; expression++)
        if (isalnum((unsigned char)*expression) || *expression == '_') *to++ = *expression;
    return 0;
}

static int write_log(program *p, int n, const char *const *options, int bad) {
    const int lines = atoi(setting("PLAY_NVRTC_LOG_LINES", "0"));
    size_t size = 8192 + (size_t)lines * 100, used;
    int i;
    p->log = (char *)calloc(1, size);
    if (!p->log) abort();
    snprintf(p->log, size, "%s", setting("PLAY_NVRTC_LOG", p->options));
    for (i = 0; i < n && !getenv("PLAY_NVRTC_LOG"); i++)
        snprintf(p->log + strlen(p->log), size - strlen(p->log), "%s\n", options[i]);
    used = strlen(p->log);
    for (i = 0; i < lines; i++) used += (size_t)sprintf(p->log + used, "line %-94d\n", i);
    if (bad) snprintf(p->log + used, size - used, "%s(1): error: there is no .version\n", p->name);
    return bad ? 6 : 0;
}
int nvrtcCompileProgram(program *p, int n, const char *const *options) {
    const int code = code_of(__func__),
              result = write_log(p, n, options, !strstr(p->source, ".version"));
    FILE *edited = getenv("PLAY_NVRTC_EDITS") ? fopen(getenv("PLAY_NVRTC_EDITS"), "a") : NULL;
    if (edited) {
        fputc(' ', edited);
        fclose(edited);
    }
    return code ? code : result;
}
int nvrtcGetProgramLogSize(program *p, size_t *bytes) {
    FAIL_IF_ASKED();
    *bytes = p->log ? strlen(p->log) + 1 : 1;
    return 0;
}
int nvrtcGetProgramLog(program *p, char *log) {
    FAIL_IF_ASKED();
    strcpy(log, p->log ? p->log : "");
    return 0;
}
int nvrtcGetLoweredName(program *p, const char *expression, const char **name) {
    int i;
    FAIL_IF_ASKED();
    for (i = 0; i < p->expression_count; i++)
        if (strcmp(p->expressions[i], expression) == 0) {
            *name = p->lowered[i];
            return 0;
        }
    return 10;
}
int nvrtcGetPTXSize(program *p, size_t *bytes) {
    FAIL_IF_ASKED();
    *bytes = getenv("PLAY_NVRTC_NO_PTX") ? 0 : strlen(p->source) + 1;
    return 0;
}
int nvrtcGetPTX(program *p, char *ptx) {
    FAIL_IF_ASKED();
    memcpy(ptx, p->source, strlen(p->source) + 1);
    return 0;
}

#ifndef OLD
int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetSupportedArchs(int *architectures);
int nvrtcGetCUBINSize(program *p, size_t *bytes);
int nvrtcGetCUBIN(program *p, char *cubin);

static int architectures_of(int *list) {
    const char *text = setting("PLAY_NVRTC_ARCHS", "50 60 70 75 80 86 90 100 120");
    char *end;
    int n = 0;
    long one;
    for (; (one = strtol(text, &end, 10)) != 0; text = end, n++)
        if (list) list[n] = (int)one;
    return n;
}
int nvrtcGetNumSupportedArchs(int *count) {
    FAIL_IF_ASKED();
    *count = architectures_of(NULL);
    return 0;
}
int nvrtcGetSupportedArchs(int *architectures) {
    FAIL_IF_ASKED();
    architectures_of(architectures);
    return 0;
}
/* A cubin that no driver accepts: the header of an ELF file of 64 bytes, for the machine EM_CUDA,
   without a section. */
static const unsigned char cubin[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7, 0, 0, 0, 0, 0, 0, 0,
    2, 0, 190, 0, 1 };
int nvrtcGetCUBINSize(program *p, size_t *bytes) {
    (void)p;
    FAIL_IF_ASKED();
    *bytes = getenv("PLAY_NVRTC_NO_CUBIN") ? 0 : sizeof cubin;
    return 0;
}
int nvrtcGetCUBIN(program *p, char *to) {
    (void)p;
    FAIL_IF_ASKED();
    memcpy(to, cubin, sizeof cubin);
    return 0;
}
#endif
