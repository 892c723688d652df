/* random.h - random PTX programs: shared by the files of this folder. README.md says what they are
   for.

    forms.c     the instruction forms, from the CPU device's own table
    values.c    random numbers and operand values generate.c  program number -> PTX text, input, and
    the contents of each output slot; memory.c, flow.c: parts of it
    list.c      the committed list of forms
    device.c    runs a program
    random.c    compares, reports, and the program's modes */
#ifndef RANDOM_H
#define RANDOM_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- forms.c */

enum rnd_status {
    RND_PASS,
    RND_FAIL,
    RND_UNSUPPORTED /* the CPU device refuses it */,
    RND_UNTESTED
};

struct rnd_form {
    char text[96];           /* "add.rn.ftz.f32" */
    char op[24], type[3][8]; /* "" if there is no further type */
    const char *args;        /* operand letters of forms.h */
    unsigned sm, version;    /* requirements: 80, 70 (for 7.0) */
    uint64_t key;            /* hash of the text: decides which programs contain it */
    enum rnd_status status;  /* RND_PASS until another status is known */
    const char *why;         /* why no program has it, or NULL */
    bool alone;              /* a program of this form alone is possible */
};
struct rnd_form *rnd_forms(size_t *n);                   /* all, in the table's order */
const struct rnd_form *rnd_form_named(const char *text); /* NULL: no such form */
uint64_t rnd_key(const char *text);
/* whether one of its modifiers or types is among these: "f16|bf16" */
bool rnd_has(const struct rnd_form *f, const char *words);

/* ---- values.c */

enum rnd_kind {
    RND_INT,
    RND_COUNT /* of a shift */,
    RND_F16,
    RND_BF16,
    RND_F32,
    RND_F64,
    RND_F16X2,
    RND_BF16X2,
    RND_ANGLE /* f32 in -pi .. pi */,
    RND_NUMBER64 /* f64, no NaN */,
    RND_LANE /* 0 .. 31 */,
    RND_SMALL /* -8 .. 8 */
};

uint64_t rnd_next(uint64_t *state);
unsigned rnd_below(uint64_t *state, unsigned n);
/* of `size` bytes; random bits and edge values */
uint64_t rnd_value(uint64_t *state, enum rnd_kind kind, unsigned size);

/* ---- generate.c, flow.c: a program */

enum { RND_MAX_SLOTS = 128, RND_MAX_INPUTS = 256, RND_MAX_SOURCES = 6 };
enum rnd_check { RND_EXACT, RND_APPROX };

/* 'i' input, 's' slot; 0: none (a constant, which the text shows) */
struct rnd_source {
    char kind;
    unsigned index;
};
/* one array of the output: the results of one instruction in all threads */
struct rnd_slot {
    char text[200];              /* the instruction */
    const struct rnd_form *form; /* NULL: of a statement that is not a single instruction */
    unsigned size, offset; /* bytes per thread; offset of the array in the output. Size 0: nothing
                              is stored */
    enum rnd_check check;
    unsigned nsources;
    struct rnd_source source[RND_MAX_SOURCES];
};
struct rnd_input {
    enum rnd_kind kind;
    unsigned size, offset;
};

struct rnd_program {
    unsigned number, grid, block, threads;
    char *text;
    size_t length, room;
    unsigned nslots, ninputs, in_bytes, out_bytes;
    struct rnd_slot slot[RND_MAX_SLOTS];
    struct rnd_input input[RND_MAX_INPUTS];
};

enum { RND_PROGRAMS = 2000, RND_STRAIGHT = 1500, RND_BRANCHES = 250 /* and the rest: barriers */ };
/* p: zeroed, or generated before: its memory is reused */
void rnd_generate(struct rnd_program *p, unsigned number);
/* a program of this one form */
void rnd_generate_alone(struct rnd_program *p, const struct rnd_form *f);
void rnd_fill(const struct rnd_program *p, void *in); /* the input, in_bytes */

/* ---- digest.c: the file HASHES */

bool rnd_is_hashed(const struct rnd_slot *s);
/* its line */
void rnd_print_hashes(const struct rnd_program *p, const unsigned char *output, const char *before);
bool rnd_read_hashes(const char *path);
unsigned rnd_compare(
        const struct rnd_program *p, const unsigned char *output, bool differs[RND_MAX_SLOTS]);
bool rnd_follows(const struct rnd_program *p, const bool differs[RND_MAX_SLOTS], unsigned slot);

/* ---- list.c: the file FORMS */

const char *rnd_status_name(enum rnd_status s);
void rnd_list_write(FILE *to);
bool rnd_list_read(const char *path);
unsigned rnd_list_check(const char *path); /* the number of forms that differ */

/* ---- device.c */

/* output: out_bytes; false: the reason was printed */
bool rnd_run(const struct rnd_program *p, const void *input, void *output);
/* whether the device refuses it; and the reason */
bool rnd_refuses(const char *text, size_t length, char *log, size_t size);
int rnd_capability(void); /* of the device: 90; 0 for the CPU device, -1 for none */
void rnd_close(void);

#endif
