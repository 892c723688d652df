/* mutate.c - mutations of text for libFuzzer: lines, words and instructions, not only bytes. */
#include "grammar.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* where a line begins, from there on */
static size_t line_at(const uint8_t *data, size_t size, size_t from) {
    const uint8_t *end = from < size ? (const uint8_t *)memchr(data + from, '\n', size - from)
                                     : NULL;
    return end ? (size_t)(end - data) + 1 : size;
}
static size_t insert(
        uint8_t *data, size_t size, size_t most, size_t at, const char *what, size_t n) {
    if (size + n > most) return size;
    memmove(data + at + n, data + at, size - at);
    memcpy(data + at, what, n);
    return size + n;
}

static int of_word(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
            c == '%' || c == '$';
}

static size_t word_at(const uint8_t *data, size_t size, size_t from, size_t *n) {
    while (from < size && !of_word(data[from])) from++;
    for (*n = 0; from + *n < size && of_word(data[from + *n]); ++*n) {}
    return from;
}

size_t grammar_mutate(uint8_t *data, size_t size, size_t most, unsigned seed) {
    uint8_t random[64];
    char line[1024] = "";
    uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
    for (size_t i = 0; i < sizeof random; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        random[i] = (uint8_t)(x >> 24);
    }
    struct fuzz_source s = { random + 4, sizeof random - 4 };
    struct grammar_text t = { line, 0, sizeof line };
    const size_t from = size ? x % size : 0;
    switch (random[0] % 8) {
    case 0:
    case 1: { /* an additional instruction or declaration */
        if (random[1] % 4) grammar_instruction(&s, &t, 0, 8);
        else grammar_declaration(&s, &t);
        grammar_add(&t, "\n");
        return insert(data, size, most, line_at(data, size, from), line, t.n);
    }
    case 2: { /* removes or duplicates a line */
        const size_t begin = line_at(data, size, from), end = line_at(data, size, begin),
                     n = end - begin;
        if (!n) break;
        if (random[1] % 2 && n < sizeof line) {
            memcpy(line, data + begin, n);
            return insert(data, size, most, begin, line, n);
        }
        memmove(data + begin, data + end, size - end);
        return size - n;
    }
    case 3:
    case 4: { /* replaces one word by another */
        size_t n, m;
        const size_t a = word_at(data, size, from, &n),
                     b = word_at(data, size, size ? (x >> 20) % size : 0, &m);
        if (!n || !m || m >= sizeof line) break;
        memcpy(line, data + b, m);
        memmove(data + a, data + a + n, size - a - n);
        return insert(data, size - n, most, a, line, m);
    }
    default: break;
    }
    return LLVMFuzzerMutate(data, size, most);
}
