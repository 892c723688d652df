/* error_log.c - the driver's error log (CUDA 12.9): what calls report beside their CUresult, in the
   words of driver 580 where these are known. The entry points are in driver/cuLogs.c. */
#include "objects.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_BYTES = 256, REASONS = 4 };

/* Guarded by sim_lock, as all of this folder. The line with number n is in lines[n %
   SIM_LOG_LINES]. */
static char lines[SIM_LOG_LINES][LINE_BYTES];
unsigned sim_log_end;
struct sim_log_callback sim_log_callbacks[SIM_LOG_CALLBACKS];

/* of the call that this thread is in */
static __thread char reasons[REASONS][LINE_BYTES];
static __thread unsigned nreasons;

int sim_because(int result, const char *format, ...) {
    va_list list;
    if (nreasons == REASONS) return result;
    va_start(list, format);
    vsnprintf(reasons[nreasons++], LINE_BYTES, format, list);
    va_end(list);
    return result;
}

const char *sim_log_line(unsigned n) { return lines[n % SIM_LOG_LINES]; }

static void log_line(const char *text) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    snprintf(lines[sim_log_end++ % SIM_LOG_LINES], LINE_BYTES,
            "[%02d:%02d:%02d.%03d][%llu][CUDA][E] %.200s\n", utc.tm_hour, utc.tm_min, utc.tm_sec,
            (int)(now.tv_nsec / 1000000), (unsigned long long)(uintptr_t)pthread_self(), text);
}

void sim_log_failure(const char *symbol, int result, const char *name) {
    if (result && result != CUDA_ERROR_NOT_READY) {
        sim_because(result, "Returning %d (%s) from %s", result, name ? name : "unknown", symbol);
        for (unsigned i = 0; i < nreasons; i++) log_line(reasons[i]);
    } else nreasons = 0;
}

/* Without sim_lock: a callback may call the driver. */
void sim_log_call_back(void) {
    struct sim_log_callback found[SIM_LOG_CALLBACKS];
    char text[REASONS][LINE_BYTES];
    const unsigned n = nreasons;
    nreasons = 0;
    if (!n) return;
    pthread_mutex_lock(&sim_lock);
    memcpy(found, sim_log_callbacks, sizeof found);
    pthread_mutex_unlock(&sim_lock);
    memcpy(text, reasons, sizeof text);
    for (unsigned c = 0; c < SIM_LOG_CALLBACKS; c++)
        for (unsigned i = 0; found[c].run && i < n; i++)
            found[c].run(found[c].user, 0, text[i], strlen(text[i]));
}
