/* log.c - the driver's error log (CUDA 12.9): what calls report beside their CUresult, in the words of driver 580 where
   these are known. */
#include "driver.h"
#include "../base/cudadefs.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINES = 100, LINE_BYTES = 256, CALLBACKS = 8, REASONS = 4 };

/* Guarded by sim_lock, as all of this folder. The line with number n is in lines[n % LINES]. */
static char     lines[LINES][LINE_BYTES];
static unsigned next_line;
static struct callback {
    void (*run)(void *user, int level, char *text, size_t length);
    void  *user;
} callbacks[CALLBACKS];

/* of the call that this thread is in */
static __thread char     reasons[REASONS][LINE_BYTES];
static __thread unsigned nreasons;

int sim_because(int result, const char *format, ...) {
    va_list list;
    if (nreasons == REASONS) return result;
    va_start(list, format);
    vsnprintf(reasons[nreasons++], LINE_BYTES, format, list);
    va_end(list);
    return result;
}

static void log_line(const char *text) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    snprintf(lines[next_line++ % LINES], LINE_BYTES, "[%02d:%02d:%02d.%03d][%llu][CUDA][E] %.200s\n", utc.tm_hour,
             utc.tm_min, utc.tm_sec, (int)(now.tv_nsec / 1000000), (unsigned long long)(uintptr_t)pthread_self(), text);
}

void sim_log_failure(const char *symbol, int result, const char *name) {
    if (result && result != CUDA_ERROR_NOT_READY) {
        sim_because(result, "Returning %d (%s) from %s", result, name ? name : "unknown", symbol);
        for (unsigned i = 0; i < nreasons; i++) log_line(reasons[i]);
    } else nreasons = 0;
}

/* Without sim_lock: a callback may call the driver. */
void sim_log_call_back(void) {
    struct callback found[CALLBACKS];
    char text[REASONS][LINE_BYTES];
    const unsigned n = nreasons;
    nreasons = 0;
    if (!n) return;
    pthread_mutex_lock(&sim_lock);
    memcpy(found, callbacks, sizeof found);
    pthread_mutex_unlock(&sim_lock);
    memcpy(text, reasons, sizeof text);
    for (unsigned c = 0; c < CALLBACKS; c++)
        for (unsigned i = 0; found[c].run && i < n; i++) found[c].run(found[c].user, 0, text[i], strlen(text[i]));
}

SIM_API(cuLogsRegisterCallback,
        (void (*run)(void *user, int level, char *text, size_t length), void *user, void **handle), (run, user, handle),
        SIM_INIT) {
    if (!run) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned c = 0; c < CALLBACKS; c++) {
        if (callbacks[c].run) continue;
        callbacks[c].run = run;
        callbacks[c].user = user;
        if (handle) *handle = &callbacks[c];
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuLogsUnregisterCallback, (void *handle), (handle), SIM_INIT) {
    for (unsigned c = 0; c < CALLBACKS; c++) {
        if (handle != &callbacks[c] || !callbacks[c].run) continue;
        callbacks[c].run = NULL;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuLogsCurrent, (unsigned *iterator, unsigned flags), (iterator, flags), SIM_PURE) {
    (void)flags;
    if (!iterator) return CUDA_ERROR_INVALID_VALUE;
    *iterator = next_line;
    return CUDA_SUCCESS;
}

/* The first line from *iterator on that is still there; *lost: older ones are not. */
static unsigned first_line(const unsigned *iterator, bool *lost) {
    const unsigned oldest = next_line > LINES ? next_line - LINES : 0, wanted = iterator ? *iterator : 0;
    *lost = wanted < oldest;
    return *lost ? oldest : wanted;
}
static size_t append(char *to, size_t used, const char *text) {
    const size_t n = strlen(text);
    memcpy(to + used, text, n + 1);
    return used + n;
}

/* As measured: any flags; nothing is written where there is no line; a buffer of 60 bytes is refused; one that is too
   small for all lines begins with a note, and lacks the oldest. */
SIM_API(cuLogsDumpToMemory, (unsigned *iterator, char *to, size_t *bytes, unsigned flags),
        (iterator, to, bytes, flags), SIM_PURE) {
    static const char rolled[] = "Log buffer has rolled over since the previous dump. The oldest messages will be "
                                 "missing\n",
        small[] = "The provided buffer is not large enough to hold all messages. Some messages will be missing\n";
    size_t used = 0, room = bytes ? *bytes : 0;
    bool lost;
    (void)flags;
    if (bytes) *bytes = 0;
    if (!to || !bytes || (iterator && *iterator > next_line)) return CUDA_ERROR_INVALID_VALUE;
    const unsigned from = first_line(iterator, &lost);
    unsigned begin = next_line;
    while (begin > from && used + strlen(lines[(begin - 1) % LINES]) + sizeof small < room)
        used += strlen(lines[--begin % LINES]);
    if (from < next_line && begin == next_line) return CUDA_ERROR_INVALID_VALUE;
    used = 0;
    if (begin > from) used = append(to, used, small);
    else if (lost) used = append(to, used, rolled);
    for (; begin < next_line; begin++) used = append(to, used, lines[begin % LINES]);
    *bytes = used;
    if (iterator) *iterator = next_line;
    return CUDA_SUCCESS;
}

SIM_API(cuLogsDumpToFile, (unsigned *iterator, const char *path, unsigned flags), (iterator, path, flags), SIM_PURE) {
    FILE *file = path && !flags ? fopen(path, "w") : NULL;
    bool lost;
    if (!file) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = first_line(iterator, &lost); i < next_line; i++) fputs(lines[i % LINES], file);
    fclose(file);
    if (iterator) *iterator = next_line;
    return CUDA_SUCCESS;
}
