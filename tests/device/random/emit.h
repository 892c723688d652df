/* emit.h - the state of a program while it is generated: shared by generate.c and flow.c. */
#ifndef RANDOM_EMIT_H
#define RANDOM_EMIT_H

#include "random.h"

/* a register; size 0: a predicate */
struct value {
    char name[12];
    unsigned size;
    enum rnd_kind kind;
    struct rnd_source from;
};

enum { MAX_VALUES = 700 };
struct emit {
    struct rnd_program *p;
    uint64_t rng;
    unsigned nregs[4]; /* created so far: predicates, of 2, 4, 8 bytes */
    struct value pool[MAX_VALUES];
    unsigned nvalues, labels;
    unsigned nsources; /* of the current instruction */
    struct rnd_source source[RND_MAX_SOURCES];
    bool policy; /* %pol, a cache policy, is available */
};

/* writes a line of the program */
void emit(struct emit *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
unsigned emit_below(struct emit *e, unsigned n);
const char *emit_new(struct emit *e, unsigned size); /* a new register's name */
/* a register loaded from the input */
const char *emit_input(struct emit *e, enum rnd_kind kind, unsigned size);
/* an operand of that kind, of any origin */
const char *emit_source(struct emit *e, enum rnd_kind kind, unsigned size, bool constants);
const char *emit_predicate(struct emit *e);
/* The register is stored in a separate slot and joins the pool; its sources are those noted since
   the last slot. */
void emit_slot(struct emit *e, const struct rnd_form *form, const char *text, const char *reg,
        unsigned size, enum rnd_kind kind);
/* the text before functions and the kernel */
void emit_head(struct emit *e, unsigned sm, unsigned version, bool memory);
void emit_entry(struct emit *e, bool memory); /* the start of the kernel, with its addresses */
void emit_end(struct emit *e);
void rnd_flow(struct emit *e); /* flow.c: a whole program */

/* memory.c: false if it is not one of its forms */
bool emit_memory(struct emit *e, const struct rnd_form *f);
enum rnd_kind emit_kind(const char *type);
unsigned emit_size(const char *type); /* bytes of the value; 0 for pred */

#endif
