/* play_cupti.h - what tests say to the library that plays CUPTI, play_cupti.c. */
#ifndef PLAY_CUPTI_H
#define PLAY_CUPTI_H

enum { PLAY_CUPTI_PIECES = 16 };
/* CUpti_ActivityKind */
enum {
    PLAY_CUPTI_MEMCPY = 1,
    PLAY_CUPTI_MEMSET = 2,
    PLAY_CUPTI_DRIVER = 4,
    PLAY_CUPTI_KERNEL = 10,
    PLAY_CUPTI_MEMCPY2 = 22,
    PLAY_CUPTI_EXTERNAL = 39
};
typedef struct play_cupti_piece {
    int kind;
    long long after, ns; /* begin, from the end of the driver call on; duration, -1: not measured */
    const char *name;    /* of a kernel */
    unsigned long long bytes;
    unsigned how, device; /* how: CUpti_ActivityMemcpyKind */
} play_cupti_piece;

/* What each numbered driver call does from now on. */
void play_cupti_plan(const play_cupti_piece *pieces, unsigned n);
/* 1: nothing is delivered, except by a forced flush. */
void play_cupti_hold(int on);
/* Numbers that are pushed on this thread. */
unsigned play_cupti_depth(void);
/* Bits: the kinds that are enabled, modulo 32. */
unsigned play_cupti_enabled(void);
#endif
