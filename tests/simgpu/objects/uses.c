/* uses.c - SIMGPU_ACCESS: for each kernel that ended, a line with what it was launched with, and
   which bytes it has read and written. address.c marks them. README.md describes the line. */
#include "objects.h"
#include <fcntl.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, MOST_RUNS = 4000 }; /* of an allocation; of a launch */

/* Adds a use, if the address is in memory. */
static void add(struct sim_uses *uses, const char *variable, unsigned argument, unsigned offset,
        uint64_t address) {
    struct sim_range r;
    unsigned first = 0;
    if (!address || !sim_mem_find_for_call(address, 1, false, &r)) return;
    while (first < uses->n && uses->at[first].lo != r.lo) first++;
    const bool lists = first == uses->n && r.hi - r.lo <= MOST_BYTES;
    uses->at[uses->n++] = (struct sim_use){ r.lo, r.hi, variable, argument, offset, 0, lists,
        NULL };
}

static char *launch_text(
        const struct sim_grid *g, const struct sim_func *f, const struct sim_module *m) {
    char *line = NULL;
    size_t bytes;
    FILE *text = open_memstream(&line, &bytes);
    if (!text) return NULL;
    fprintf(text, "grid=%u,%u,%u block=%u,%u,%u", g->grid[0], g->grid[1], g->grid[2], g->block[0],
            g->block[1], g->block[2]);
    for (unsigned i = 0; i < f->nparams; i++) {
        const struct sim_var *p = &f->params[i];
        fprintf(text, " %u@%u+%u=", i, (unsigned)p->address, (unsigned)p->size);
        for (unsigned k = 0; k < p->size; k++) fprintf(text, "%02x", g->params[p->address + k]);
    }
    for (unsigned i = 0; i < m->image->nvars; i++) {
        const struct sim_var *v = m->image->vars[i];
        if (v->space == SIM_GLOBAL || v->space == SIM_CONST)
            fprintf(text, " %s=%llx", v->name, (unsigned long long)v->address);
    }
    if (fclose(text)) return NULL;
    return line;
}

/* The words of its arguments that are addresses, and the variables of its module. */
struct sim_uses *sim_uses_new(const struct sim_op *op, const struct sim_func *f) {
    const struct sim_module *m = op->module;
    const struct sim_grid *g = op->grid;
    struct sim_uses *uses = calloc(
            1, sizeof *uses + (f->param_bytes / 8 + m->image->nvars) * sizeof *uses->at);
    if (!uses) return NULL;
    for (unsigned i = 0; i < f->nparams; i++)
        for (unsigned at = 0; at + 8 <= f->params[i].size; at += 8) {
            uint64_t word;
            memcpy(&word, g->params + f->params[i].address + at, sizeof word);
            add(uses, NULL, i, at, word);
        }
    for (unsigned i = 0; i < m->image->nvars; i++) {
        const struct sim_var *v = m->image->vars[i];
        if (v->space == SIM_GLOBAL || v->space == SIM_CONST) add(uses, v->name, 0, 0, v->address);
    }
    uses->launch = launch_text(g, f, m);
    return uses;
}

static uint64_t chunks_of(const struct sim_use *u) {
    return u->chunks ? (u->hi - u->lo + SIM_CHUNK - 1) / SIM_CHUNK : 0;
}
void sim_uses_free(struct sim_uses *uses) {
    for (unsigned i = 0; i < uses->n; i++) {
        struct sim_use *u = &uses->at[i];
        for (uint64_t k = chunks_of(u); k; k--) free(u->chunks[k - 1]);
        free(u->chunks);
    }
    free(uses->launch);
    free(uses);
}

static const char *const how[] = { "-", "r", "w", "rw" };

static unsigned done_at(const struct sim_use *u, uint64_t at) {
    const unsigned char *chunk = u->chunks[at / SIM_CHUNK];
    return chunk ? chunk[at % SIM_CHUNK] : 0;
}
/* The next run of bytes that were accessed in the same way, from *at on; 0: none. */
static unsigned next_run(const struct sim_use *u, uint64_t *at, uint64_t *end) {
    static const unsigned char zeros[64];
    const uint64_t bytes = u->chunks ? u->hi - u->lo : 0;
    while (*at < bytes && !done_at(u, *at)) {
        const unsigned char *chunk = u->chunks[*at / SIM_CHUNK];
        if (!chunk) *at += SIM_CHUNK - *at % SIM_CHUNK;
        else if (*at % 64 == 0 && !memcmp(chunk + *at % SIM_CHUNK, zeros, 64)) *at += 64;
        else ++*at;
    }
    if (*at >= bytes) return 0;
    for (*end = *at + 1; *end < bytes && done_at(u, *end) == done_at(u, *at);) ++*end;
    return done_at(u, *at);
}

static void write_bytes(FILE *text, const struct sim_use *u, unsigned *left) {
    uint64_t at = 0, end;
    unsigned runs = 0, done;
    fprintf(text, " %llx+%llx", (unsigned long long)u->lo, (unsigned long long)(u->hi - u->lo));
    for (; u->lists && runs <= *left && next_run(u, &at, &end); at = end) runs++;
    if (u->done && (!runs || runs > *left)) {
        fputs(" ?", text);
        return;
    }
    *left -= runs;
    for (at = 0; u->lists && (done = next_run(u, &at, &end)) != 0; at = end)
        fprintf(text, " %llx-%llx:%s", (unsigned long long)at, (unsigned long long)end, how[done]);
}

void sim_uses_write(const struct sim_grid *g) {
    const struct sim_uses *uses = g->uses;
    unsigned left = MOST_RUNS;
    char *line = NULL;
    size_t bytes;
    FILE *text = open_memstream(&line, &bytes);
    if (!text) return;
    fputs(g->kernel_name, text);
    for (unsigned i = 0; i < uses->n; i++) {
        const struct sim_use *u = &uses->at[i];
        unsigned first = 0;
        while (uses->at[first].lo != u->lo) first++;
        if (u->variable && !u->done) continue;
        if (u->variable) fprintf(text, " %s", u->variable);
        else fprintf(text, " %u+%u", u->argument, u->offset);
        fprintf(text, "@%u:%s", first, how[u->done]);
    }
    fprintf(text, " | %s others=%s |", uses->launch ? uses->launch : "?", how[uses->others]);
    for (unsigned i = 0; i < uses->n; i++) {
        unsigned first = 0;
        while (uses->at[first].lo != uses->at[i].lo) first++;
        if (first == i) write_bytes(text, &uses->at[i], &left);
    }
    fputc('\n', text);
    const int file = fclose(text)
            ? -1
            : open(sim_settings.access, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0 && write(file, line, bytes) < 0) perror(sim_settings.access);
    if (file >= 0) close(file);
    free(line);
}
