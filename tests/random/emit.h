/* emit.h - a program while it is being written: what generate.c and flow.c share. */
#ifndef RANDOM_EMIT_H
#define RANDOM_EMIT_H

#include "random.h"

/* a register; size 0: a predicate */
struct value { char name[12]; unsigned size; enum rnd_kind kind; struct rnd_source from; };

enum { MAX_VALUES = 700 };
struct emit {
    struct rnd_program *p;
    uint64_t rng;
    unsigned nregs[4];                            /* made so far: predicates, of 2, 4, 8 bytes */
    struct value pool[MAX_VALUES];
    unsigned nvalues, labels;
    unsigned nsources;                            /* of the instruction in hand */
    struct rnd_source source[RND_MAX_SOURCES];
    bool policy;                                  /* %pol is there: a cache policy */
};

void emit(struct emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));    /* a line of the program */
unsigned emit_below(struct emit *e, unsigned n);
const char *emit_new(struct emit *e, unsigned size);                           /* a new register's name */
const char *emit_input(struct emit *e, enum rnd_kind kind, unsigned size);     /* a register loaded from the input */
/* such an operand, of any origin */
const char *emit_source(struct emit *e, enum rnd_kind kind, unsigned size, bool constants);
const char *emit_predicate(struct emit *e);
/* The register goes to a slot of its own and into the pool; sources are those noted since the last slot. */
void emit_slot(struct emit *e, const struct rnd_form *form, const char *text, const char *reg, unsigned size,
               enum rnd_kind kind);
/* what stands before functions and the kernel */
void emit_head(struct emit *e, unsigned sm, unsigned version, bool memory);
void emit_entry(struct emit *e, bool memory);     /* the kernel's begin, with its addresses */
void emit_end(struct emit *e);
void rnd_flow(struct emit *e);                    /* flow.c: a whole program */

bool emit_memory(struct emit *e, const struct rnd_form *f);             /* memory.c: false if it is none of its forms */
enum rnd_kind emit_kind(const char *type);
unsigned emit_size(const char *type);             /* bytes of the value; 0 for pred */

#endif
