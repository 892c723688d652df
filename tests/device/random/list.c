/* list.c - the committed list FORMS: the status of each instruction form of the CPU device's table.
   A line is

     STATUS op.types: modifiers modifiers ...   # reason

   where each word is one form, "-" the one without modifiers: "PASS add.f32: - rn rn.ftz" is
   add.f32, add.rn.f32, add.rn.ftz.f32. */
#include "random.h"

static const char *const names[] = { "PASS", "FAIL", "UNSUPPORTED", "UNTESTED" };

const char *rnd_status_name(enum rnd_status s) { return names[s]; }

/* "add.rn.ftz.f32" is "add.f32" and "rn.ftz": the types are its last words */
static void parts(const struct rnd_form *f, char key[64], char mods[96]) {
    const size_t op = strlen(f->op), all = strlen(f->text);
    size_t types = 0;
    for (int i = 0; i < 3 && *f->type[i]; i++) types += 1 + strlen(f->type[i]);
    snprintf(key, 64, "%s%s", f->op, f->text + all - types);
    snprintf(
            mods, 96, "%.*s", (int)(all - types > op ? all - types - op - 1 : 0), f->text + op + 1);
    if (!*mods) strcpy(mods, "-");
}

void rnd_list_write(FILE *to) {
    size_t n;
    const struct rnd_form *f = rnd_forms(&n);
    bool *done = calloc(n, sizeof *done);
    if (!done) abort();
    fputs("# Each instruction form of tests/simgpu/text/forms.h: opcode and types, then its "
          "modifiers. `build/random forms` wrote it; see README.md.\n",
            to);
    for (size_t i = 0; i < n; i++) {
        char key[64], mods[96], other[64];
        if (done[i]) continue;
        parts(&f[i], key, mods);
        fprintf(to, "%s %s:", names[f[i].status], key);
        for (size_t k = i; k < n && (k == i || !strcmp(f[k].op, f[i].op)); k++) {
            parts(&f[k], other, mods);
            if (done[k] || f[k].status != f[i].status || f[k].why != f[i].why || strcmp(key, other))
                continue;
            fprintf(to, " %s", mods);
            done[k] = true;
        }
        fprintf(to, "%s%s\n", f[i].why ? "   # " : "", f[i].why ? f[i].why : "");
    }
    free(done);
}

/* ---- reading the list */

struct entry {
    uint64_t key;
    enum rnd_status status;
    bool met;
};
static struct entry *entries;
static size_t nentries, room;

static int by_key(const void *a, const void *b) {
    const uint64_t x = ((const struct entry *)a)->key, y = ((const struct entry *)b)->key;
    return x < y ? -1 : x > y;
}

static void add(const char *key, const char *mods, enum rnd_status status) {
    char text[200];
    const size_t op = strcspn(key, ".");
    if (!strcmp(mods, "-")) snprintf(text, sizeof text, "%s", key);
    else snprintf(text, sizeof text, "%.*s.%s%s", (int)op, key, mods, key + op);
    if (nentries == room &&
            !(entries = realloc(entries, (room = 2 * room + 1024) * sizeof *entries)))
        abort();
    entries[nentries++] = (struct entry){ rnd_key(text), status, false };
}

bool rnd_list_read(const char *path) {
    static char line[1 << 16];
    FILE *in = fopen(path, "r");
    if (!in) {
        printf("cannot read %s\n", path);
        return false;
    }
    while (fgets(line, sizeof line, in)) {
        const char *status = strtok(line, " \n"), *word;
        char *key = strtok(NULL, " \n");
        if (!status || *status == '#' || !key) continue;
        unsigned s = 0;
        while (s < 3 && strcmp(names[s], status)) s++;
        key[strlen(key) - 1] = 0; /* the colon */
        while ((word = strtok(NULL, " \n")) != NULL && *word != '#')
            add(key, word, (enum rnd_status)s);
    }
    fclose(in);
    qsort(entries, nentries, sizeof *entries, by_key);
    return true;
}

static struct entry *entry_of(const struct rnd_form *f) {
    struct entry want = { f->key, RND_PASS, false };
    return bsearch(&want, entries, nentries, sizeof *entries, by_key);
}

/* Compares the list with each form's current status; prints the differences and returns their
   number. */
unsigned rnd_list_check(const char *path) {
    unsigned wrong = 0;
    size_t n;
    const struct rnd_form *f = rnd_forms(&n);
    for (size_t i = 0; i < n; i++) {
        struct entry *e = entry_of(&f[i]);
        if (e && e->status == f[i].status) {
            e->met = true;
            continue;
        }
        if (e) e->met = true;
        if (wrong++ < 20)
            printf("%s: %s is %s now, and %s in the list\n", path, f[i].text, names[f[i].status],
                    e ? names[e->status] : "not");
    }
    unsigned gone = 0;
    for (size_t i = 0; i < nentries; i++) gone += !entries[i].met;
    if (gone) printf("%s: %u forms are no longer in the table\n", path, gone);
    return wrong + gone;
}
