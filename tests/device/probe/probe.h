/* probe.h - probes of any driver. A group of probes runs in a separate process, so that an error
   that poisons or ends a process affects only that group. Every probe prints one line,
   `group.probe answer`: a CUresult, or small numbers that are the same in each run. */
#ifndef PROBE_H
#define PROBE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, under -std=c99 */
#endif
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../../support/calls.h"

typedef unsigned long long ptr; /* CUdeviceptr */

/* CUDA_MEMCPY2D */
typedef struct copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    ptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;
/* CUDA_MEMCPY3D; of a peer, `reserved` is a context */
typedef struct copy_3d {
    size_t from_x, from_y, from_z, from_lod;
    unsigned from_type;
    const void *from_host;
    ptr from_device;
    void *from_array, *from_reserved;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_lod;
    unsigned to_type;
    void *to_host;
    ptr to_device;
    void *to_array, *to_reserved;
    size_t to_pitch, to_height;
    size_t width, height, depth;
} copy_3d;
typedef gxi_location location; /* CUmemLocation */
typedef struct copy_attributes {
    unsigned order;
    location from, to;
    unsigned flags;
} copy_attributes;
/* a pointer */
typedef struct operand {
    unsigned type;
    ptr address;
    size_t row, rows;
    location hint;
} operand;
typedef struct copy_op {
    operand from, to;
    size_t width, height, depth;
    unsigned order, flags;
} copy_op;
typedef struct update {
    int result;
    void *node, *from;
} update; /* CUgraphExecUpdateResultInfo */
/* CUlaunchAttributeValue */
typedef union attribute_value {
    char size[64];
    int flag;
    unsigned dim[3];
    unsigned char domains[2];
    struct {
        ptr address;
        size_t bytes;
        float ratio;
        int hit, miss;
    } window;
    struct {
        void *event;
        int flags, at_start;
    } record;
} attribute_value;
typedef struct attribute {
    unsigned id, pad;
    attribute_value value;
} attribute; /* CUlaunchAttribute */
/* CUlaunchConfig */
typedef struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    attribute *list;
    unsigned n;
} config;
/* CUDA_LAUNCH_PARAMS */
typedef struct part {
    void *function;
    unsigned grid[3], block[3], shared;
    void *stream, **params;
} part;
enum { HOST = 1, DEVICE, ARRAY, UNIFIED }; /* CUmemorytype */
/* CUjit_option */
enum { LOG_INFO = 3, LOG_INFO_SIZE, LOG_ERROR, LOG_ERROR_SIZE, LOG_VERBOSE = 12, WALL_TIME = 2 };
enum { MAX_DYNAMIC = 8, CARVEOUT = 9 }; /* CUfunction_attribute */

/* Probes call the symbols of the ABI that gpuexec.h uses. */
extern driver_calls cu;

/* devices: the number it needs; others are hidden, since each costs time */
typedef struct group {
    const char *name;
    void (*run)(void);
    int devices;
} group;
extern const group device_groups[], context_groups[], stream_groups[], memory_groups[],
        module_groups[], link_groups[], library_groups[], launch_groups[], cluster_groups[],
        capture_groups[], more_capture_groups[], left_capture_groups[], pool_groups[],
        more_pool_groups[], managed_groups[], virtual_groups[], copy_groups[], basic_groups[],
        node_groups[], devrt_groups[], green_groups[], array_groups[];

/* PROBE: a call's CUresult, or any small number. If a probe ended the process or never returned,
   its answer is "crashed" or "hung": the group runs again without it. */
void answer(const char *question, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* the same for probes without PROBE; after a crash or hang it prints the answer */
int skipped(const char *question);
#define PROBE(question, call) \
    do { \
        if (!skipped(question)) answer(question, "%d", call); \
    } while (0)

/* The primary context of device 0, current, with the module of probe.c, and 4096 bytes of device
   memory. open_all(): also of device 1, if there is one: `devices` is their number. A failure here
   ends the process, and the missing answers show it. */
enum { MEMORY = 4096 };
extern const char module_text[];
extern int devices;
extern void *context[2], *module[2];
extern ptr memory[2];
void open_one(void);
void open_all(void);
void *kernel(int device, const char *name);
int launch(void *function, unsigned grid, unsigned block, void *stream, void **params);
void in_thread(void (*run)(void));
void sleep_ms(int ms);
void wrong_time(void); /* in which something wrong could happen; not order */

/* Waits until the condition is true, for about half a minute at most. */
#define UNTIL(condition) \
    for (int until_ms = 0; !(condition) && until_ms < 30000; until_ms++) /* not order */ \
    sleep_ms(1)

/* A kernel that spins until its gate, a word of pinned memory, is opened. */
typedef struct gate {
    volatile uint32_t *word;
    ptr address;
} gate;
gate make_gate(void);
int close_gate(gate g, void *function, void *stream); /* launches "spin" on it */
void open_gate(gate g);

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#endif
