/* log.c - the error log: its text, and the ways to report an error while a text is parsed, in ptxas's words. */
#include "ptx.h"
#include <stdarg.h>

/* ---- the log ---- */

/* Without memory a line is lost; none is ever cut: names of C++ kernels may have thousands of characters. */
void sim_log_add(struct sim_log *log, const char *format, ...) {
    va_list args;
    if (!log) return;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) return;
    const size_t end = log->len + (size_t)n + 1;
    if (end > log->cap) {
        char *text = realloc(log->text, 2 * end);
        if (!text) return;
        log->text = text;
        log->cap = 2 * end;
    }
    va_start(args, format);
    vsnprintf(log->text + log->len, (size_t)n + 1, format, args);
    va_end(args);
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
