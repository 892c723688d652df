/* words.c - prints libFuzzer's dictionary for PTX. */
#include "grammar.h"

static void print(const char *word, size_t n) {
    if (!n) return;
    putchar('"');
    for (size_t i = 0; i < n; i++)
        printf(word[i] == '"' || word[i] == '\\' ? "\\%c" : "%c", word[i]);
    puts("\"");
}

int main(void) {
    grammar_words(print);
    return 0;
}
