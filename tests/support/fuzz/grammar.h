/* grammar.h - generates PTX from bytes. The instructions are those of the CPU device's table,
   tests/simgpu/text/forms.h, with matching modifiers, types and operands: most of the output is
   valid, and it reaches code that random text never reaches. */
#ifndef FUZZ_GRAMMAR_H
#define FUZZ_GRAMMAR_H

#include "fuzz.h"

/* stays NUL-terminated; text that does not fit is omitted */
struct grammar_text {
    char *text;
    size_t n, cap;
};
void grammar_add(struct grammar_text *t, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* One line without its newline, for the body of grammar_module's kernel: registers %p0..7 %h0..7
   %r0..15 %d0..15 %q0..3; it is line `line` of `lines`, with the labels L0 .. L<lines>. */
void grammar_instruction(
        struct fuzz_source *s, struct grammar_text *t, unsigned line, unsigned lines);
/* A variable, or a function with almost no body, usually valid. */
void grammar_declaration(struct fuzz_source *s, struct grammar_text *t);
/* A whole module with the entry k(.param .u64 p, .param .align 16 .b8 st[32], .param .u32 n), until
   the bytes end. */
void grammar_module(struct fuzz_source *s, struct grammar_text *t);
/* libFuzzer's custom mutator for text; mutate.c. */
size_t grammar_mutate(uint8_t *data, size_t size, size_t most, unsigned seed);
/* All words of the language, for a dictionary. */
void grammar_words(void (*each)(const char *word, size_t n));

#endif
