/* log.c - the error log: its text, and the ways to report an error while a text is parsed, in ptxas's words. */
#include "ptx.h"
#include <stdarg.h>

/* ---- the log: without memory a line is lost, never cut ---- */

void sim_log_add(struct sim_log *log, const char *format, ...) {
    va_list args;
    char line[1024];
    if (!log) return;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0) return;
    if ((size_t)n >= sizeof line) n = (int)sizeof line - 1;
    if (log->len + (size_t)n + 1 > log->cap) {
        size_t cap = (log->len + (size_t)n + 1) * 2;
        char *text = realloc(log->text, cap);
        if (!text) return;
        log->text = text;
        log->cap = cap;
    }
    memcpy(log->text + log->len, line, (size_t)n + 1);
    log->len += (size_t)n;
}

void sim_log_free(struct sim_log *log) {
    free(log->text);
    *log = (struct sim_log){ .text = NULL };
}

/* ---- errors, in ptxas's words; the driver's JIT calls its input "application ptx input" ---- */

#define MAX_ERRORS 10000                          /* lines in the log; ptxas has no limit, but memory is limited */

static void log_line(struct px *px, unsigned line, const char *kind, const char *format, va_list args) {
    char text[600];
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++) if ((unsigned char)*c < 32 || (unsigned char)*c > 126) *c = '?';
    if (line) sim_log_add(px->log, "ptxas application ptx input, line %u; %s: %s\n", line, kind, text);
    else      sim_log_add(px->log, "ptxas %s: %s\n", kind, text);
}

void px_error(struct px *px, unsigned line, const char *format, ...) {
    va_list args;
    if (px->errors++ >= MAX_ERRORS) return;
    va_start(args, format);
    log_line(px, line, "error   ", format, args);
    va_end(args);
}

void px_fatal(struct px *px, int result, unsigned line, const char *format, ...) {
    va_list args;
    px->errors++;
    px->result = result;
    va_start(args, format);
    log_line(px, line, "fatal   ", format, args);
    va_end(args);
    longjmp(px->bail, 1);
}

void px_no_memory(struct px *px) {
    px->errors++;
    px->result = 2;                               /* CUDA_ERROR_OUT_OF_MEMORY */
    longjmp(px->bail, 1);
}
