/* cuLogs.c - the entry points of the error log: cuLogs. */
#include "driver.h"

SIM_API(cuLogsRegisterCallback,
        (void (*run)(void *user, int level, char *text, size_t length), void *user, void **handle),
        (run, user, handle), SIM_INIT) {
    if (!run) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned c = 0; c < SIM_LOG_CALLBACKS; c++) {
        if (sim_log_callbacks[c].run) continue;
        sim_log_callbacks[c].run = run;
        sim_log_callbacks[c].user = user;
        if (handle) *handle = &sim_log_callbacks[c];
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuLogsUnregisterCallback, (void *handle), (handle), SIM_INIT) {
    for (unsigned c = 0; c < SIM_LOG_CALLBACKS; c++) {
        if (handle != &sim_log_callbacks[c] || !sim_log_callbacks[c].run) continue;
        sim_log_callbacks[c].run = NULL;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuLogsCurrent, (unsigned *iterator, unsigned flags), (iterator, flags), SIM_PURE) {
    (void)flags;
    if (!iterator) return CUDA_ERROR_INVALID_VALUE;
    *iterator = sim_log_end;
    return CUDA_SUCCESS;
}

/* The first line from *iterator on that is still there; *lost: older ones are not. */
static unsigned first_line(const unsigned *iterator, bool *lost) {
    const unsigned oldest = sim_log_end > SIM_LOG_LINES ? sim_log_end - SIM_LOG_LINES : 0,
                   wanted = iterator ? *iterator : 0;
    *lost = wanted < oldest;
    return *lost ? oldest : wanted;
}
static size_t append(char *to, size_t used, const char *text) {
    const size_t n = strlen(text);
    memcpy(to + used, text, n + 1);
    return used + n;
}

/* As measured: any flags; nothing is written where there is no line; a buffer of 60 bytes is
   refused; one that is too small for all lines begins with a note, and lacks the oldest. */
SIM_API(cuLogsDumpToMemory, (unsigned *iterator, char *to, size_t *bytes, unsigned flags),
        (iterator, to, bytes, flags), SIM_PURE) {
    static const char rolled[] = "Log buffer has rolled over since the previous dump. The oldest "
                                 "messages will be missing\n",
                      small[] = "The provided buffer is not large enough to hold all messages. "
                                "Some messages will be missing\n";
    size_t used = 0, room = bytes ? *bytes : 0;
    bool lost;
    (void)flags;
    if (bytes) *bytes = 0;
    if (!to || !bytes || (iterator && *iterator > sim_log_end)) return CUDA_ERROR_INVALID_VALUE;
    const unsigned from = first_line(iterator, &lost);
    unsigned begin = sim_log_end;
    while (begin > from && used + strlen(sim_log_line(begin - 1)) + sizeof small < room)
        used += strlen(sim_log_line(--begin));
    if (from < sim_log_end && begin == sim_log_end) return CUDA_ERROR_INVALID_VALUE;
    used = 0;
    if (begin > from) used = append(to, used, small);
    else if (lost) used = append(to, used, rolled);
    for (; begin < sim_log_end; begin++) used = append(to, used, sim_log_line(begin));
    *bytes = used;
    if (iterator) *iterator = sim_log_end;
    return CUDA_SUCCESS;
}

SIM_API(cuLogsDumpToFile, (unsigned *iterator, const char *path, unsigned flags),
        (iterator, path, flags), SIM_PURE) {
    FILE *file = path && !flags ? fopen(path, "w") : NULL;
    bool lost;
    if (!file) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = first_line(iterator, &lost); i < sim_log_end; i++)
        fputs(sim_log_line(i), file);
    fclose(file);
    if (iterator) *iterator = sim_log_end;
    return CUDA_SUCCESS;
}
