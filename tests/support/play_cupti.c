/* play_cupti.c - a shared library that plays CUPTI: for each number that is pushed, it records what
   play_cupti_plan says that such calls do. Records have the layout of cupti_activity.h (12.9),
   in which they were looked up. A flush delivers them, half of them before the record that has the
   number, half of them after.

   PLAY_CUPTI_FAILS=39   cuptiActivityEnable returns that for copies
   -DLACKS               there is no cuptiGetTimestamp */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "play_cupti.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*request_function)(uint8_t **buffer, size_t *bytes, size_t *most);
typedef void (*complete_function)(
        void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
enum { RECORD = 256, MOST = 4096, SUCCESS = 0, MAX_LIMIT_REACHED = 12, CUSTOM0 = 3 };
int cuptiGetVersion(uint32_t *version);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityRegisterCallbacks(request_function request, complete_function complete);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t number);
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *number);
int cuptiGetTimestamp(uint64_t *ns);
int cuptiGetResultString(int result, const char **text);

static char lock;
static void enter(void) {
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
}
static void leave(void) { __atomic_clear(&lock, __ATOMIC_RELEASE); }

static request_function request;
static complete_function complete;
static unsigned char records[MOST][RECORD];
static unsigned count, calls, enabled;
static play_cupti_piece plan[PLAY_CUPTI_PIECES];
static unsigned planned;
static int held;
static __thread uint64_t pushed[8];
static __thread unsigned depth;

void play_cupti_plan(const play_cupti_piece *pieces, unsigned n) {
    enter();
    if (n) memcpy(plan, pieces, n * sizeof *plan);
    planned = n;
    leave();
}
void play_cupti_hold(int on) { held = on; }
unsigned play_cupti_depth(void) { return depth; }
unsigned play_cupti_enabled(void) { return enabled; }

/* A clock that differs from the host's by more than a double can hold exactly. */
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + 1700000000123456789u;
}
static void put(unsigned char *record, unsigned at, uint64_t value, unsigned bytes) {
    memcpy(record + at, &value, bytes);
}
static unsigned char *next_record(int kind) {
    unsigned char *const record = records[count++ % MOST];
    memset(record, 0xEE, RECORD);
    put(record, 0, (unsigned)kind, 4);
    return record;
}
static void record_number(uint64_t number, unsigned correlation) {
    unsigned char *const record = next_record(PLAY_CUPTI_EXTERNAL);
    put(record, 4, CUSTOM0, 4);
    put(record, 8, number, 8);
    put(record, 16, correlation, 4);
}
static void record_piece(const play_cupti_piece *piece, uint64_t from, unsigned correlation) {
    unsigned char *const record = next_record(piece->kind);
    const int kernel = piece->kind == PLAY_CUPTI_KERNEL;
    unsigned i;
    put(record, 16, piece->ns < 0 ? 0 : from + (uint64_t)piece->after, 8);
    put(record, 24, piece->ns < 0 ? 0 : from + (uint64_t)(piece->after + piece->ns), 8);
    put(record, kernel ? 40 : 32, piece->device, 4);
    put(record, kernel ? 92 : piece->kind == PLAY_CUPTI_MEMCPY2 ? 60 : 44, correlation, 4);
    for (i = 0; kernel && i < 6; i++) put(record, 52 + 4 * i, i + 2, 4);
    if (kernel) {
        put(record, 80, 512, 4);
        memcpy(record + 104, &piece->name, sizeof piece->name);
    } else {
        put(record, 4, piece->how, 1);
        put(record, 8, piece->bytes, 8);
    }
}
int cuptiGetVersion(uint32_t *version) {
    *version = 26;
    return SUCCESS;
}
int cuptiActivityEnable(int kind) {
    const char *const fails = getenv("PLAY_CUPTI_FAILS");
    if (fails && *fails && kind == PLAY_CUPTI_MEMCPY) return atoi(fails);
    enabled |= 1u << kind % 32;
    return SUCCESS;
}
int cuptiActivityDisable(int kind) {
    enabled &= ~(1u << kind % 32);
    return SUCCESS;
}
int cuptiActivityRegisterCallbacks(request_function wants, complete_function gives) {
    request = wants;
    complete = gives;
    return SUCCESS;
}
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t number) {
    if (kind != CUSTOM0 || depth == 8) return 1;
    pushed[depth++] = number;
    return SUCCESS;
}
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *number) {
    static uint64_t ended; /* what a call does begins after what earlier calls do */
    uint64_t from = now();
    unsigned i, correlation;
    if (kind != CUSTOM0 || !depth) return 1;
    *number = pushed[--depth];
    enter();
    correlation = calls += 3; /* other calls of the driver have numbers, too */
    if (calls % 2) record_number(*number, correlation);
    if (from < ended) from = ended;
    for (i = 0; i < planned; i++)
        if (plan[i].ns > 0 && from + (uint64_t)(plan[i].after + plan[i].ns) > ended)
            ended = from + (uint64_t)(plan[i].after + plan[i].ns);
    for (i = 0; i < planned; i++) record_piece(&plan[i], from, correlation);
    if (calls % 2 == 0) record_number(*number, correlation);
    leave();
    return SUCCESS;
}
int cuptiActivityFlushAll(uint32_t flag) {
    static unsigned delivered;
    if (held && !flag) return SUCCESS;
    enter();
    while (delivered < count) {
        uint8_t *buffer = NULL;
        size_t bytes = 0, most = 0, valid = 0;
        leave();
        request(&buffer, &bytes, &most);
        enter();
        while (buffer && delivered < count && valid + RECORD <= bytes && valid < 3 * RECORD) {
            memcpy(buffer + valid, records[delivered++ % MOST], RECORD);
            valid += RECORD;
        }
        leave();
        if (!buffer) return SUCCESS;
        complete(NULL, 0, buffer, bytes, valid);
        enter();
    }
    leave();
    return SUCCESS;
}
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record) {
    uint8_t *const next = *record ? (uint8_t *)*record + RECORD : buffer;
    if (next + RECORD > buffer + valid) return MAX_LIMIT_REACHED;
    *record = next;
    return SUCCESS;
}
#ifndef LACKS
int cuptiGetTimestamp(uint64_t *ns) {
    *ns = now();
    return SUCCESS;
}
#endif
int cuptiGetResultString(int result, const char **text) {
    *text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_UNKNOWN";
    return SUCCESS;
}
