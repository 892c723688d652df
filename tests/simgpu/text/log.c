/* log.c - the error log: its text, and the ways to report an error while a text is parsed, in
   ptxas's words. */
#include "ptx.h"
#include <stdarg.h>

/* ---- the log ---- */

/* Without memory the text is lost; it is never cut: names of C++ kernels may have thousands of
   characters. */
static void add(struct sim_log *log, const char *format, va_list args) {
    va_list again;
    if (!log) return;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0) return;
    const size_t end = log->len + (size_t)n + 1;
    if (end > log->cap) {
        char *text = realloc(log->text, 2 * end);
        if (!text) return;
        log->text = text;
        log->cap = 2 * end;
    }
    vsnprintf(log->text + log->len, (size_t)n + 1, format, args);
    log->len += (size_t)n;
}

void sim_log_add(struct sim_log *log, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(log, format, args);
    va_end(args);
}

void sim_log_free(struct sim_log *log) {
    free(log->text);
    *log = (struct sim_log){ .text = NULL };
}

/* ---- errors, in ptxas's words; the driver's JIT calls its input "application ptx input" ---- */

#define MAX_ERRORS 10000 /* lines in the log; ptxas has no limit, but memory is limited */

static void log_line(
        struct px *px, unsigned line, const char *kind, const char *format, va_list args) {
    struct sim_log *log = px->log;
    if (!log) return;
    if (line) sim_log_add(log, "ptxas application ptx input, line %u; %s: ", line, kind);
    else sim_log_add(log, "ptxas %s: ", kind);
    size_t from = log->len;
    add(log, format, args);
    for (; from < log->len; from++)
        if (log->text[from] < 32 || log->text[from] > 126) log->text[from] = '?';
    sim_log_add(log, "\n");
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
    px->result = 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    longjmp(px->bail, 1);
}
