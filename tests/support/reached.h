/* reached.h - compares the bytes that a launch certainly uses, as the header's >>impl-reach reads
   them from the PTX, with those that the kernel used on the CPU device: a line of SIMGPU_ACCESS.
   For suites that see the header's internals; include test.h first. */
#ifndef REACHED_H
#define REACHED_H

#include <ctype.h>

enum {
    REACHED_ARGUMENTS = 512,
    REACHED_PARAMETERS = 1 << 15,
    REACHED_MEMORY = 128,
    REACHED_VARIABLES = 256
};
/* of what the CPU device saw */
typedef struct reached_memory {
    uint64_t lo, bytes;
    unsigned char *seen, *known; /* of each byte: GXI_ACCESS_READ, _WRITE; NULL: not listed */
} reached_memory;
typedef struct reached_launch {
    int64_t dims[6]; /* of the block, of the grid */
    unsigned short sizes[REACHED_ARGUMENTS + 1];
    void *params[REACHED_ARGUMENTS];
    unsigned char bytes[REACHED_PARAMETERS];
    struct {
        const char *name;
        uint64_t address;
    } variables[REACHED_VARIABLES];
    reached_memory memory[REACHED_MEMORY];
    int nvariables, nmemory, elsewhere; /* elsewhere: rows of boxes that are in others */
    unsigned others;
} reached_launch;
/* of all launches */
static struct reached_counts {
    int launches, complete, partly, without_boxes, without_steps, wrong, elsewhere;
    long long known, seen;
} reached_counts;
static int reached_quiet; /* failures are counted only */

static unsigned reached_use(const char *text) {
    return (strchr(text, 'r') ? GXI_ACCESS_READ : 0u) | (strchr(text, 'w') ? GXI_ACCESS_WRITE : 0u);
}
static void reached_free(reached_launch *l) {
    for (; l->nmemory; l->nmemory--) {
        free(l->memory[l->nmemory - 1].seen);
        free(l->memory[l->nmemory - 1].known);
    }
}
/* argument@offset+size=bytes */
static int reached_read_argument(reached_launch *l, const char *at, size_t *used) {
    unsigned argument, offset, size, k, byte;
    int n = 0;
    if (sscanf(at, "%u@%u+%u=%n", &argument, &offset, &size, &n) != 3 || !n) return 0;
    if (argument != l->sizes[0] || argument >= REACHED_ARGUMENTS || size > 0xFFFF) return 0;
    if (*used + size > REACHED_PARAMETERS || strlen(at + n) != 2 * (size_t)size) return 0;
    for (k = 0; k < size; k++) {
        if (sscanf(at + n + 2 * k, "%2x", &byte) != 1) return 0;
        l->bytes[*used + k] = (unsigned char)byte;
    }
    l->params[argument] = l->bytes + *used;
    l->sizes[++l->sizes[0]] = (unsigned short)size;
    *used += size;
    return 1;
}
/* address+size, then from-to:use or ? */
static int reached_read_memory(reached_launch *l, const char *at) {
    reached_memory *m = l->memory;
    unsigned long long a, b;
    char use[4];
    if (strchr(at, '+')) {
        if (l->nmemory == REACHED_MEMORY || sscanf(at, "%llx+%llx", &a, &b) != 2) return 0;
        m = &l->memory[l->nmemory++];
        m->lo = a;
        m->bytes = b;
        m->seen = (unsigned char *)calloc(b, 1);
        m->known = (unsigned char *)calloc(b, 1);
        return m->seen && m->known;
    }
    if (!l->nmemory) return 0;
    m = &l->memory[l->nmemory - 1];
    if (!strcmp(at, "?")) {
        free(m->seen);
        free(m->known);
        m->seen = m->known = NULL;
        return 1;
    }
    if (sscanf(at, "%llx-%llx:%3s", &a, &b, use) != 3 || !m->seen || b > m->bytes) return 0;
    for (; a < b; a++) m->seen[a] = (unsigned char)reached_use(use);
    return 1;
}
/* Reads what is behind the first `|` of a line, and changes it; 0: it cannot be read. The caller
   frees l. */
static int reached_read(reached_launch *l, char *text) {
    char *next = NULL, *at = strtok_r(text, " ", &next);
    int64_t *const d = l->dims;
    size_t used = 0;
    int part = 0;
    memset(l, 0, sizeof *l);
    for (; at; at = strtok_r(NULL, " ", &next), part++) {
        unsigned x, y, z;
        if (part < 2) {
            if (sscanf(at, part ? "block=%u,%u,%u" : "grid=%u,%u,%u", &x, &y, &z) != 3) return 0;
            d[3 - 3 * part] = x;
            d[4 - 3 * part] = y;
            d[5 - 3 * part] = z;
        } else if (!strncmp(at, "others=", 7)) break;
        else if (isdigit((unsigned char)*at)) {
            if (!reached_read_argument(l, at, &used)) return 0;
        } else if (strchr(at, '=') && l->nvariables < REACHED_VARIABLES) {
            l->variables[l->nvariables].name = at;
            l->variables[l->nvariables++].address = strtoull(strrchr(at, '=') + 1, NULL, 16);
            *strrchr(at, '=') = 0;
        }
    }
    if (!at) return 0;
    l->others = reached_use(at + 7);
    at = strtok_r(NULL, " ", &next); /* the second | */
    while (at && (at = strtok_r(NULL, " ", &next)) != NULL)
        if (!reached_read_memory(l, at)) return 0;
    return 1;
}

/* What is certain of the launch: as gxi_uses_add_known does it. */
static void reached_analyse(
        gxi_reach *r, const struct gxi_access_kernel *k, reached_launch *l, uint64_t *variables) {
    size_t i;
    int j;
    memset(r, 0, sizeof *r);
    r->steps = k->steps;
    memcpy(r->dims, l->dims, sizeof r->dims);
    r->sizes = l->sizes;
    r->params = l->params;
    for (i = 0; i < k->variable_count && i < GXI_REACH_VARIABLES; i++)
        for (variables[i] = 0, j = 0; j < l->nvariables; j++)
            if (!strcmp(l->variables[j].name, k->variables[i].name))
                variables[i] = l->variables[j].address;
    r->variables = variables;
    gxi_reach_find(r);
}
static void reached_fail(int line, const char *kernel, const gxi_reached *b, const char *what,
        uint64_t at, const reached_memory *m) {
    reached_counts.wrong++;
    if (reached_quiet || !test_fail_at(__FILE__, line)) return;
    printf("%s: %s at 0x%llx", kernel, what, (unsigned long long)at);
    if (m) printf(", byte 0x%llx of its memory", (unsigned long long)(at - m->lo));
    if (b)
        printf("; the box 0x%llx, width %llu, pitch %llu x %llu, slices %llu x %llu, access %x",
                (unsigned long long)b->lo, (unsigned long long)b->width,
                (unsigned long long)b->pitch, (unsigned long long)b->rows,
                (unsigned long long)b->slice, (unsigned long long)b->slices, b->access);
    printf("\n");
}
/* One row of a box, which may reach into several memories: each byte must have been accessed in
   this way. 0: it is wrong. */
static int reached_compare_row(
        reached_launch *l, const char *kernel, const gxi_reached *b, uint64_t lo) {
    const unsigned access = b->access & (unsigned)(GXI_ACCESS_READ | GXI_ACCESS_WRITE);
    const uint64_t end = lo + b->width;
    while (lo < end) {
        reached_memory *m = l->memory;
        while (m < l->memory + l->nmemory && (lo < m->lo || lo >= m->lo + m->bytes)) m++;
        if (m == l->memory + l->nmemory) {
            if (access & ~l->others) {
                reached_fail(__LINE__, kernel, b, "no memory", lo, NULL);
                return 0;
            }
            l->elsewhere++;
            return 1;
        }
        for (; lo < end && lo < m->lo + m->bytes; lo++) {
            const unsigned lacks = m->seen ? access & ~(unsigned)m->seen[lo - m->lo] : 0;
            if (lacks) {
                reached_fail(__LINE__, kernel, b,
                        lacks & GXI_ACCESS_WRITE ? "not written" : "not read", lo, m);
                return 0;
            }
            if (m->seen) m->known[lo - m->lo] = (unsigned char)(m->known[lo - m->lo] | access);
        }
    }
    return 1;
}
/* Compares a launch, of which the text is what is behind the first `|` of its line. 0: they differ.
 */
static int reached_compare(const struct gxi_access_kernel *k, char *text) {
    static reached_launch launch;
    static const unsigned char zeros[64];
    static gxi_reach reach;
    uint64_t variables[GXI_REACH_VARIABLES], i, row, slice;
    int j, ok = 1;
    reached_counts.launches++;
    if (!CHECK(reached_read(&launch, text))) return 0;
    if (!k->steps || k->unknown) {
        reached_counts.without_steps++;
        if (getenv("TEST_VERBOSE")) printf("  without steps: %s\n", k->name);
        reached_free(&launch);
        return 1;
    }
    reached_analyse(&reach, k, &launch, variables);
    for (i = 0; i < reach.count && ok; i++) {
        const gxi_reached *const b = &reach.boxes[i];
        for (slice = 0; slice < b->slices && ok; slice++)
            for (row = 0; row < b->rows && ok; row++)
                ok = reached_compare_row(
                        &launch, k->name, b, b->lo + slice * b->slice + row * b->pitch);
    }
    reached_counts.complete += !reach.incomplete;
    reached_counts.partly += reach.incomplete && reach.count;
    reached_counts.without_boxes += reach.incomplete && !reach.count;
    if (reach.incomplete && getenv("TEST_VERBOSE"))
        printf("  %s is known of %s\n", reach.count ? "a part" : "nothing", k->name);
    reached_counts.elsewhere += launch.elsewhere != 0;
    if (!reach.incomplete && launch.others && !launch.elsewhere) {
        reached_fail(__LINE__, k->name, NULL, "other memory was accessed", 0, NULL);
        ok = 0;
    }
    for (j = 0; j < launch.nmemory; j++) {
        const reached_memory *const m = &launch.memory[j];
        for (i = 0; m->seen && i < m->bytes; i++) {
            if (i % 64 == 0 && i + 64 <= m->bytes && !memcmp(m->seen + i, zeros, 64)) {
                i += 63;
                continue;
            }
            reached_counts.seen += m->seen[i] != 0;
            reached_counts.known += m->known[i] != 0;
            if (!ok || reach.incomplete || !(m->seen[i] & ~m->known[i])) continue;
            reached_fail(__LINE__, k->name, NULL,
                    m->seen[i] & ~m->known[i] & GXI_ACCESS_WRITE ? "also written" : "also read",
                    m->lo + i, m);
            ok = 0;
        }
    }
    reached_free(&launch);
    return ok;
}

#endif
