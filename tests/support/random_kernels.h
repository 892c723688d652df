/* random_kernels.h - kernels for the analysis of what launches use: a seed makes a PTX text with
   one kernel, k, and launches of it. Its integers come from the indices of its threads, its dims,
   its arguments and memory; its branches, loops and accesses depend on them. Each access is inside
   of the memory that p, q or the variable v have, whatever memory holds, and each loop ends. */
#ifndef RANDOM_KERNELS_H
#define RANDOM_KERNELS_H

#include <stdarg.h>

enum {
    RANDOM_BYTES = 1 << 14, /* of p, of q, and of v, from their addresses on */
    RANDOM_TEXT = 1 << 16,
    RANDOM_INDICES = 6,    /* r0 to r5: tid, ctaid */
    RANDOM_DIMS = 12,      /* to r11: ntid, nctaid */
    RANDOM_ARGUMENTS = 15, /* to r14: a, b, c */
    RANDOM_LOADED = 16,    /* r15: what was loaded last */
    RANDOM_NUMBERS = 28,   /* to r27: whatever is computed */
    RANDOM_COUNTERS = 32,  /* to r31: of loops; r32 and on: for addresses */
    RANDOM_WIDE = 8,       /* d2 to d7: what is computed */
    RANDOM_PREDICATES = 8,
    RANDOM_NAMES = 16,
    RANDOM_LABELS = 8 /* that are not placed yet */
};
typedef struct random_kernel {
    uint32_t state;
    char text[RANDOM_TEXT];
    size_t bytes;
    int labels, loops, statements; /* statements: left */
    int pending[RANDOM_LABELS], npending;
    int dims[6]; /* the largest of any launch: ntid, nctaid */
    char names[RANDOM_NAMES][24];
    unsigned nnames;
    int scopes;   /* open ones */
    int is_clean; /* only from indices, dims and arguments, without guards */
    int is_plain; /* few branches, no data */
} random_kernel;

static unsigned random_below(random_kernel *g, unsigned n) { return test_random(&g->state) % n; }
static int random_in(random_kernel *g, unsigned percent) { return random_below(g, 100) < percent; }
static void __attribute__((format(printf, 2, 3)))
random_put(random_kernel *g, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (g->bytes < RANDOM_TEXT - 200)
        g->bytes += (size_t)vsnprintf(g->text + g->bytes, RANDOM_TEXT - g->bytes, format, list);
    va_end(list);
}
static const char *random_of(random_kernel *g, const char *const *words, unsigned n) {
    return words[random_below(g, n)];
}
#define RANDOM_OF(g, ...) \
    random_of(g, (const char *const[]){ __VA_ARGS__ }, \
            sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* --- values ----------------------------------------------------------------------------------- */

/* A text that lasts until some further ones were made. */
static char *random_name(random_kernel *g) { return g->names[g->nnames++ % RANDOM_NAMES]; }
static const char *random_number(random_kernel *g) {
    char *const x = random_name(g);
    static const int numbers[] = { 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 100, 255, 256,
        1000, 4096, 65535, 65536, 0x7fffffff };
    const int v = numbers[random_below(g, random_in(g, 80) ? 12 : sizeof numbers / 4)];
    sprintf(x, "%d", random_in(g, 20) ? -v : v);
    return x;
}
static const char *random_register(random_kernel *g) {
    char *const x = random_name(g);
    const unsigned where = random_below(g, g->is_clean ? 53 : 100);
    unsigned n;
    if (where < 40) n = random_below(g, RANDOM_INDICES);
    else if (where < 45) n = RANDOM_INDICES + random_below(g, RANDOM_DIMS - RANDOM_INDICES);
    else if (where < 53) n = RANDOM_DIMS + random_below(g, RANDOM_ARGUMENTS - RANDOM_DIMS);
    else if (where < 55 && !g->is_plain) n = RANDOM_ARGUMENTS;
    else if (where < 62 && g->loops) n = RANDOM_NUMBERS + 2 * random_below(g, (unsigned)g->loops);
    else n = RANDOM_LOADED + random_below(g, RANDOM_NUMBERS - RANDOM_LOADED);
    sprintf(x, "%%r%u", n);
    return x;
}
static const char *random_numbered(random_kernel *g, unsigned n) {
    char *const x = random_name(g);
    sprintf(x, "%%r%u", n);
    return x;
}
static const char *random_value(random_kernel *g) {
    return random_in(g, 25) ? random_number(g) : random_register(g);
}
static unsigned random_target(random_kernel *g) {
    return RANDOM_LOADED + random_below(g, RANDOM_NUMBERS - RANDOM_LOADED);
}
static unsigned random_wide(random_kernel *g) { return 2 + random_below(g, RANDOM_WIDE - 2); }
static const char *random_predicate(random_kernel *g) {
    char *const x = random_name(g);
    sprintf(x, "%s%%p%u", random_in(g, 30) ? "!" : "", random_below(g, RANDOM_PREDICATES));
    return x;
}
static void random_guard(random_kernel *g, unsigned percent) {
    if (!g->is_clean && random_in(g, percent)) random_put(g, "@%s ", random_predicate(g));
}

/* --- what computes ---------------------------------------------------------------------------- */

static void random_narrow(random_kernel *g, unsigned to, const char *a) {
    const char *const from = RANDOM_OF(g, "u8", "s8", "u16", "s16");
    switch (random_below(g, 4)) {
    case 0:
        random_put(g, "cvt.%s.%s %%r%u, %s;\n", RANDOM_OF(g, "u32", "s32"), from, to, a);
        return;
    case 1:
        random_put(g, "cvt.u16.u32 %%h0, %s; add.%s16 %%h1, %%h0, %u;\n", a, RANDOM_OF(g, "s", "u"),
                random_below(g, 300));
        break;
    case 2: random_put(g, "cvt.%s.u32 %%h1, %s;\n", from, a); break;
    default:
        random_put(g, "cvt.u16.s32 %%h0, %s; mul.wide.%s16 %%r%u, %%h0, %u;\n", a,
                RANDOM_OF(g, "s", "u"), to, random_below(g, 9));
        return;
    }
    random_put(
            g, "cvt.%s32.%s16 %%r%u, %%h1;\n", RANDOM_OF(g, "s", "u"), RANDOM_OF(g, "s", "u"), to);
}
/* Instructions that the analysis does not follow. */
static void random_other(random_kernel *g, unsigned to, const char *a) {
    const char *const b = random_register(g);
    switch (random_below(g, 12)) {
    case 0: random_put(g, "mul.hi.s32 %%r%u, %s, %s;\n", to, a, b); break;
    case 1: random_put(g, "bfe.u32 %%r%u, %s, 1, 4;\n", to, a); break;
    case 2:
        random_put(g, "lop3.b32 %%r%u, %s, %s, 3, 0x%x;\n", to, a, b, random_below(g, 256));
        break;
    case 3: random_put(g, "popc.b32 %%r%u, %s;\n", to, a); break;
    case 4: random_put(g, "shf.l.wrap.b32 %%r%u, %s, %s, 3;\n", to, a, b); break;
    case 5: random_put(g, "mul24.lo.u32 %%r%u, %s, %s;\n", to, a, b); break;
    case 6: random_put(g, "prmt.b32 %%r%u, %s, %s, 0x3210;\n", to, a, b); break;
    case 7:
        random_put(g, "%s.%s16x2 %%r%u, %s, %s;\n", RANDOM_OF(g, "add", "min", "max"),
                RANDOM_OF(g, "u", "s"), to, a, b);
        break;
    case 8: random_put(g, "add.sat.s32 %%r%u, %s, %s;\n", to, a, b); break;
    case 9: random_put(g, "mad.hi.u32 %%r%u, %s, %s, %s;\n", to, a, b, b); break;
    case 10: random_put(g, "bfi.b32 %%r%u, %s, %s, 2, 3;\n", to, a, b); break;
    default: random_put(g, "%s.relu.s32 %%r%u, %s, %s;\n", RANDOM_OF(g, "min", "max"), to, a, b);
    }
}
static void random_compute(random_kernel *g, unsigned to, const char *a) {
    const char *const b = random_value(g), *const c = random_value(g);
    random_guard(g, 12);
    switch (random_below(g, 22)) {
    case 0:
    case 1:
    case 2: random_put(g, "add.%s32 %%r%u, %s, %s;\n", RANDOM_OF(g, "s", "u"), to, a, b); break;
    case 3: random_put(g, "sub.%s32 %%r%u, %s, %s;\n", RANDOM_OF(g, "s", "u"), to, a, b); break;
    case 4: random_put(g, "sub.s32 %%r%u, %s, %s;\n", to, random_number(g), a); break;
    case 5:
    case 6: random_put(g, "mul.lo.s32 %%r%u, %s, %s;\n", to, a, b); break;
    case 7:
    case 8:
        random_put(g, "mad.lo.%s32 %%r%u, %s, %s, %s;\n", RANDOM_OF(g, "s", "u"), to, a, b, c);
        break;
    case 9:
        random_put(
                g, "shl.b32 %%r%u, %s, %u;\n", to, a, random_below(g, random_in(g, 90) ? 6 : 36));
        break;
    case 10:
        random_put(g, "shr.%s32 %%r%u, %s, %u;\n", RANDOM_OF(g, "s", "u", "b"), to, a,
                random_below(g, random_in(g, 90) ? 6 : 36));
        break;
    case 11:
        random_put(g, "and.b32 %%r%u, %s, %u;\n", to, a, (1u << random_below(g, 9)) - 1);
        break;
    case 12:
        random_put(g, "%s.b32 %%r%u, %s, %s;\n", RANDOM_OF(g, "and", "or", "xor"), to, a, b);
        break;
    case 13:
        random_put(g, "%s.%s32 %%r%u, %s, %s;\n", RANDOM_OF(g, "min", "max"),
                RANDOM_OF(g, "s", "u"), to, a, b);
        break;
    case 14:
        random_put(g, "%s %%r%u, %s;\n", RANDOM_OF(g, "neg.s32", "not.b32", "abs.s32"), to, a);
        break;
    case 15:
        random_put(g, "%s.%s32 %%r%u, %s, %u;\n", RANDOM_OF(g, "div", "rem"),
                RANDOM_OF(g, "s", "u"), to, a, 1 + random_below(g, random_in(g, 80) ? 8 : 1000));
        break;
    case 16:
        random_put(g, "selp.b32 %%r%u, %s, %s, %%p%u;\n", to, a, b,
                random_below(g, RANDOM_PREDICATES));
        break;
    case 17: random_narrow(g, to, a); break;
    case 18:
        if (g->is_plain) random_put(g, "mov.b32 %%r%u, %s;\n", to, a);
        else random_other(g, to, a);
        break;
    case 19: random_put(g, "mov.u32 %%r%u, %s;\n", to, b); break;
    case 20:
        random_put(g, "%s.%s32 %%r%u, %s, %%r%u;\n", RANDOM_OF(g, "div", "rem"),
                RANDOM_OF(g, "s", "u"), to, a,
                RANDOM_INDICES + random_below(g, RANDOM_DIMS - RANDOM_INDICES));
        break;
    default: random_put(g, "cvt.u32.u64 %%r%u, %%d%u;\n", to, random_wide(g));
    }
}
static void random_compute_wide(random_kernel *g, unsigned to, unsigned from) {
    const char *const a = random_register(g);
    random_guard(g, 10);
    switch (random_below(g, 9)) {
    case 0:
    case 1:
        random_put(g, "cvt.%s64.%s32 %%d%u, %s;\n", RANDOM_OF(g, "s", "u"), RANDOM_OF(g, "s", "u"),
                to, a);
        break;
    case 2:
        random_put(g, "mul.wide.%s32 %%d%u, %s, %s;\n", RANDOM_OF(g, "s", "u"), to, a,
                random_value(g));
        break;
    case 3:
        random_put(g, "%s.s64 %%d%u, %%d%u, %%d%u;\n",
                RANDOM_OF(g, "add", "sub", "mul.lo", "min", "max"), to, from, random_wide(g));
        break;
    case 4:
        random_put(g, "%s.b64 %%d%u, %%d%u, %u;\n", RANDOM_OF(g, "shl", "and", "or", "xor"), to,
                from, random_below(g, 8));
        break;
    case 5:
        random_put(g, "mad.wide.%s32 %%d%u, %s, %u, %%d%u;\n", RANDOM_OF(g, "s", "u"), to, a,
                random_below(g, 9), from);
        break;
    case 6:
        random_put(g, "shr.%s64 %%d%u, %%d%u, %u;\n", RANDOM_OF(g, "s", "u"), to, from,
                random_below(g, 5));
        break;
    case 7:
        random_put(g, "%s.%s64 %%d%u, %%d%u, %u;\n", RANDOM_OF(g, "div", "rem"),
                RANDOM_OF(g, "s", "u"), to, from, 1 + random_below(g, 9));
        break;
    default: random_put(g, "mov.b64 %%d%u, {%s, %%r%u};\n", to, a, random_target(g));
    }
}
static void random_compare(random_kernel *g, unsigned to) {
    const unsigned other = random_below(g, RANDOM_PREDICATES);
    const char *const how = RANDOM_OF(g, "eq", "ne", "lt", "le", "gt", "ge");
    random_guard(g, 6);
    switch (random_below(g, 12)) {
    case 0:
        random_put(g, "%s.pred %%p%u, %%p%u, %%p%u;\n", RANDOM_OF(g, "and", "or", "xor"), to, other,
                random_below(g, RANDOM_PREDICATES));
        break;
    case 1: random_put(g, "%s.pred %%p%u, %%p%u;\n", RANDOM_OF(g, "not", "mov"), to, other); break;
    case 2:
        random_put(g, "setp.%s.%s.%s32 %%p%u, %s, %s, %s;\n", how, RANDOM_OF(g, "and", "or", "xor"),
                RANDOM_OF(g, "s", "u"), to, random_register(g), random_value(g),
                random_predicate(g));
        break;
    case 3:
        random_put(g, "setp.%s.%s32 %%p%u|%%p%u, %s, %s;\n", how, RANDOM_OF(g, "s", "u"), to,
                (to + 1) % RANDOM_PREDICATES, random_register(g), random_value(g));
        break;
    case 4:
        random_put(g, "setp.%s.%s64 %%p%u, %%d%u, %%d%u;\n", how, RANDOM_OF(g, "s", "u"), to,
                random_wide(g), random_wide(g));
        break;
    case 5:
        random_put(g, "setp.%s.u32 %%p%u, %s, %s;\n", RANDOM_OF(g, "lo", "ls", "hi", "hs"), to,
                random_register(g), random_value(g));
        break;
    case 6:
    case 7: /* of two indices */
        random_put(g, "mul.lo.s32 %%r34, %%r%u, %d; mad.lo.s32 %%r34, %%r%u, %d, %%r34;\n",
                random_below(g, RANDOM_INDICES), 1 + (int)random_below(g, 3),
                random_below(g, RANDOM_INDICES), (int)random_below(g, 7) - 3);
        random_put(g, "setp.%s.s32 %%p%u, %%r34, %d;\n", how, to, (int)random_below(g, 16) - 4);
        break;
    default:
        random_put(g, "setp.%s.%s32 %%p%u, %s, %s;\n", how, RANDOM_OF(g, "s", "u"), to,
                random_register(g), random_in(g, 60) ? random_number(g) : random_value(g));
    }
}

/* --- accesses --------------------------------------------------------------------------------- */

/* The access, of the address in %d8. */
static void random_access_at(random_kernel *g, const char *guard, unsigned size, unsigned offset) {
    const char *const space = RANDOM_OF(g, "", ".global");
    random_put(g, "%s", guard);
    if (size < 4) {
        if (random_in(g, 50)) random_put(g, "st%s.u%u [%%d8+%u], %%h2;\n", space, 8 * size, offset);
        else
            random_put(g, "ld%s.%s%u %%h2, [%%d8+%u];\n", space, RANDOM_OF(g, "u", "s", "b"),
                    8 * size, offset);
        return;
    }
    switch (random_below(g, size > 8 ? 5 : 9)) {
    case 0:
    case 1:
        if (size == 4) random_put(g, "st%s.b32 [%%d8+%u], %%r15;\n", space, offset);
        else if (size == 8)
            random_put(g,
                    random_in(g, 50) ? "st%s.b64 [%%d8+%u], %%d9;\n"
                                     : "st%s.v2.b32 [%%d8+%u], {%%r15, %%r0};\n",
                    space, offset);
        else random_put(g, "st%s.v4.b32 [%%d8+%u], {%%r15, %%r0, %%r1, %%r2};\n", space, offset);
        break;
    case 2:
    case 3:
        if (size == 4)
            random_put(g, "ld%s%s.b32 %%r15, [%%d8+%u];\n", RANDOM_OF(g, "", ".volatile"), space,
                    offset);
        else if (size == 8)
            random_put(g,
                    random_in(g, 50) ? "ld%s.b64 %%d9, [%%d8+%u];\n"
                                     : "ld%s.v2.u32 {%%r15, %%r40}, [%%d8+%u];\n",
                    space, offset);
        else random_put(g, "ld%s.v2.u64 {%%d9, %%d10}, [%%d8+%u];\n", space, offset);
        break;
    case 4:
        if (size == 16)
            random_put(g, "ld.global.v4.u32 {%%r40, _, _, %%r15}, [%%d8+%u];\n", offset);
        else if (size == 8) random_put(g, "ld.global.v2.u32 {_, %%r15}, [%%d8+%u];\n", offset);
        else random_put(g, "cp.async.ca.shared.global [buffer], [%%d8+%u], 4;\n", offset);
        break;
    case 5:
    case 6:
        random_put(g, "red%s.%s.u%u [%%d8+%u], %s;\n", space, RANDOM_OF(g, "add", "max"), 8 * size,
                offset, size == 4 ? "%r0" : "%d9");
        break;
    default:
        random_put(g, "atom%s.add.u%u %s, [%%d8+%u], 1;\n", space, 8 * size,
                size == 4 ? "%r15" : "%d9", offset);
    }
}
/* %r32: a sum of some indices that is from 0 to below `limit` for all threads. */
static void random_sum(random_kernel *g, unsigned limit) {
    int most = 0, i;
    random_put(g, "mov.u32 %%r32, 0;\n");
    for (i = 0; i < 6; i++) {
        const int factor = 1 + (int)random_below(g, random_in(g, 50) ? 2 : 40),
                  range = factor * (g->dims[i] - 1);
        if (random_in(g, 45) || most + range >= (int)limit) continue;
        most += range;
        if (random_in(g, 70)) random_put(g, "mad.lo.s32 %%r32, %%r%d, %d, %%r32;\n", i, factor);
        else
            random_put(g,
                    "mul.lo.s32 %%r33, %%r%d, -%d; add.s32 %%r32, %%r32, %d; add.s32 %%r32, %%r32, "
                    "%%r33;\n",
                    i, factor, range);
    }
    if (random_in(g, 25)) { /* the index in the grid */
        const int axis = (int)random_below(g, 3);
        if (most + g->dims[axis] * g->dims[axis + 3] <= (int)limit)
            random_put(g, "mad.lo.s32 %%r33, %%r%d, %%r%d, %%r%d; add.s32 %%r32, %%r32, %%r33;\n",
                    axis + 3, 6 + axis, axis);
    }
}
/* Some instructions, of which the last ones use the results of the ones before. */
static const char *random_chain(random_kernel *g) {
    const unsigned to = random_target(g), wide = random_wide(g);
    unsigned n = random_below(g, 5);
    char result[8];
    sprintf(result, "%%r%u", to);
    g->is_clean = 1;
    random_compute(g, to, random_register(g));
    for (; n; n--) random_compute(g, to, result);
    if (random_in(g, 30)) {
        random_put(g, "cvt.%s64.%s32 %%d%u, %s;\n", RANDOM_OF(g, "s", "u"), RANDOM_OF(g, "s", "u"),
                wide, result);
        for (n = random_below(g, 3); n; n--) random_compute_wide(g, wide, wide);
        random_put(g, "cvt.u32.u64 %s, %%d%u;\n", result, wide);
    }
    g->is_clean = 0;
    return random_numbered(g, to);
}
static void random_access(random_kernel *g) {
    const unsigned size = 1u << (random_in(g, 60) ? 2 : random_below(g, 5)),
                   stride = size * (random_in(g, 70) ? 1 : 1 + random_below(g, 3)),
                   offset = size * (random_in(g, 60) ? 0 : random_below(g, 3)),
                   limit = (RANDOM_BYTES - 64) / stride;
    const char *value = random_register(g);
    const int label = g->labels++, style = (int)random_below(g, 12);
    char guard[40] = "";
    if (random_in(g, 20)) value = random_numbered(g, random_target(g));
    else if (style >= 5 && random_in(g, 70)) value = random_chain(g);
    if (style < 5) random_sum(g, limit);
    else random_put(g, "mov.b32 %%r32, %s;\n", value);
    switch (style) {
    case 5: /* guarded */
    case 6:
        random_put(g, "setp.lt.u32 %%p8, %%r32, %u;\n",
                random_in(g, 50) ? limit : 1 + random_below(g, limit));
        strcpy(guard, "@%p8 ");
        break;
    case 7: /* branches */
        random_put(g, "setp.ge.u32 %%p8, %%r32, %u; @%%p8 bra L%d;\n", limit, label);
        break;
    case 8: /* both sides */
        random_put(g,
                "setp.ge.s32 %%p8, %%r32, 0; setp.lt.and.s32 %%p8, %%r32, %u, %%p8; @!%%p8 bra "
                "L%d;\n",
                limit, label);
        break;
    case 9:
        random_put(g, "%s.u32 %%r32, %%r32, %u;\n", RANDOM_OF(g, "min", "rem"), limit - 1);
        break;
    case 10:
        random_put(g, "max.s32 %%r32, %%r32, 0; min.s32 %%r32, %%r32, %u;\n", limit - 1);
        break;
    case 11: random_put(g, "and.b32 %%r32, %%r32, %u;\n", limit < 256 ? 127u : 255u); break;
    default: break;
    }
    if (!*guard && random_in(g, 20)) sprintf(guard, "@%s ", random_predicate(g));
    switch (random_below(g, 4)) { /* the address */
    case 0: random_put(g, "mul.wide.u32 %%d8, %%r32, %u;\n", stride); break;
    case 1: random_put(g, "mul.wide.s32 %%d8, %%r32, %u;\n", stride); break;
    case 2: random_put(g, "cvt.u64.u32 %%d8, %%r32; mul.lo.s64 %%d8, %%d8, %u;\n", stride); break;
    default:
        random_put(g, "mul.lo.u32 %%r33, %%r32, %u; cvt.%s64.%s32 %%d8, %%r33;\n", stride,
                RANDOM_OF(g, "s", "u"), RANDOM_OF(g, "s", "u"));
    }
    switch (random_below(g, 7)) {
    case 0: random_put(g, "mov.u64 %%d11, v; add.s64 %%d8, %%d11, %%d8;\n"); break;
    case 1: random_put(g, "cvta.to.global.u64 %%d11, %%d1; add.s64 %%d8, %%d8, %%d11;\n"); break;
    case 2: random_put(g, "add.s64 %%d8, %%d1, %%d8;\n"); break;
    default: random_put(g, "add.s64 %%d8, %%d0, %%d8;\n");
    }
    random_access_at(g, guard, size, offset);
    if (style == 7 || style == 8) random_put(g, "L%d:\n", label);
}
/* Without an index. */
static void random_access_fixed(random_kernel *g) {
    const char *const base = RANDOM_OF(g, "v", "%d0", "%d1");
    random_guard(g, 40);
    if (random_in(g, 50))
        random_put(g, "ld.global.u32 %%r15, [%s+%u];\n", base, 4 * random_below(g, 64));
    else random_put(g, "st.global.u32 [%s+%u], %%r0;\n", base, 4 * random_below(g, 64));
}

/* --- control flow ----------------------------------------------------------------------------- */

static void random_statements(random_kernel *g, int depth);
static unsigned random_condition(random_kernel *g) {
    const unsigned p = random_below(g, RANDOM_PREDICATES);
    if (random_in(g, 75)) random_compare(g, p);
    return p;
}
static void random_if(random_kernel *g, int depth) {
    const int label = g->labels, has_else = random_in(g, 40);
    const unsigned p = random_condition(g);
    g->labels += 2;
    random_put(g, "@%s%%p%u bra L%d;\n", random_in(g, 50) ? "!" : "", p, label);
    random_statements(g, depth + 1);
    if (has_else) random_put(g, "bra L%d;\n", label + 1);
    random_put(g, "L%d:\n", label);
    if (!has_else) return;
    random_statements(g, depth + 1);
    random_put(g, "L%d:\n", label + 1);
}
/* for (i = first; i < last; i += step), in one of three shapes */
static void random_loop(random_kernel *g, int depth) {
    static const char *const firsts[] = { "0", "0", "1", "%r0", "%r3", "%r1" };
    static const char *const lasts[] = { "3", "5", "9", "20", "%r6", "%r9", "%r14" };
    static const char *const steps[] = { "1", "1", "2", "3", "%r6", "%r9" };
    const unsigned i = RANDOM_NUMBERS + 2 * (unsigned)g->loops, last = i + 1;
    const int label = g->labels, shape = (int)random_below(g, 3), grid = random_in(g, 25);
    const char *const step = grid ? "%r33" : random_of(g, steps, 6);
    g->labels += 4;
    g->loops++;
    if (grid)
        random_put(g,
                "mad.lo.s32 %%r%u, %%r3, %%r6, %%r0; mul.lo.s32 %%r33, %%r6, %%r9;\nmov.u32 %%r%u, "
                "%u;\n",
                i, last, random_below(g, 200));
    else
        random_put(g, "mov.u32 %%r%u, %s; mov.u32 %%r%u, %s;\n", i, random_of(g, firsts, 6), last,
                random_of(g, lasts, 7));
    if (shape)
        random_put(g, "setp.ge.s32 %%p8, %%r%u, %%r%u; @%%p8 bra L%d;\n", i, last, label + 2);
    random_put(g, "L%d:\n", label);
    if (!shape)
        random_put(g, "setp.ge.s32 %%p8, %%r%u, %%r%u; @%%p8 bra L%d;\n", i, last, label + 2);
    random_statements(g, depth + 1);
    if (random_in(g, 15)) random_put(g, "@%%p%u bra L%d;\n", random_condition(g), label + 1);
    if (random_in(g, 15)) random_put(g, "@%%p%u bra L%d;\n", random_condition(g), label + 2);
    random_put(g, "L%d:\n", label + 1);
    if (grid) random_put(g, "mul.lo.s32 %%r33, %%r6, %%r9;\n");
    random_put(g, "add.s32 %%r%u, %%r%u, %s;\n", i, i, step);
    if (shape == 0) random_put(g, "bra.uni L%d;\n", label);
    else if (shape == 1)
        random_put(g, "setp.lt.s32 %%p8, %%r%u, %%r%u; @%%p8 bra L%d;\n", i, last, label);
    else
        random_put(g, "setp.ge.s32 %%p8, %%r%u, %%r%u; @!%%p8 bra L%d; bra L%d;\n", i, last, label,
                label + 2);
    random_put(g, "L%d:\n", label + 2);
    g->loops--;
}
static void random_switch(random_kernel *g, int depth) {
    const int label = g->labels, cases = 2 + (int)random_below(g, 3);
    const char *const value = random_register(g);
    int i;
    g->labels += cases + 1;
    for (i = 0; i < cases; i++)
        random_put(g, "setp.eq.s32 %%p8, %s, %d; @%%p8 bra L%d;\n", value, i, label + i);
    random_put(g, "bra.uni L%d;\n", label + (random_in(g, 50) ? cases : 0));
    for (i = 0; i < cases; i++) {
        random_put(g, "L%d:\n", label + i);
        random_statements(g, depth + 1);
        if (random_in(g, 70)) random_put(g, "bra L%d;\n", label + cases);
    }
    random_put(g, "L%d:\n", label + cases);
}
/* A branch to a place further on, perhaps into a loop or a branch. */
static void random_goto(random_kernel *g) {
    if (g->npending == RANDOM_LABELS) return;
    random_put(g, "@%%p%u bra L%d;\n", random_condition(g), g->labels);
    g->pending[g->npending++] = g->labels++;
}
static void random_statement(random_kernel *g, int depth) {
    const unsigned what = random_below(g, 1000);
    const int is_deep = depth >= 4;
    if (g->npending && !g->scopes && random_in(g, 20))
        random_put(g, "L%d:\n", g->pending[--g->npending]);
    if (what < 330) random_compute(g, random_target(g), random_register(g));
    else if (what < 390) random_compute_wide(g, random_wide(g), random_wide(g));
    else if (what < 500) random_compare(g, random_below(g, RANDOM_PREDICATES));
    else if (what < 760) random_access(g);
    else if (what < 800) random_access_fixed(g);
    else if (what < 890 && !is_deep) random_if(g, depth);
    else if (what < 935 && !is_deep && g->loops < 2) random_loop(g, depth);
    else if (what < 950 && !is_deep) random_switch(g, depth);
    else if (what < 965) random_goto(g);
    else if (what < 975)
        random_put(g, "@%%p%u %s;\n", random_condition(g), RANDOM_OF(g, "ret", "exit"));
    else if (what < 990 && !is_deep) { /* with its own registers */
        random_put(g, "{ .reg .b32 %%r16; mov.u32 %%r16, %s;\n", random_value(g));
        g->scopes++;
        random_statements(g, depth + 1);
        g->scopes--;
        random_put(g, "}\n");
    }
}
static void random_statements(random_kernel *g, int depth) {
    int n = 1 + (int)random_below(g, depth ? 5 : 30);
    for (; n && g->statements > 0; n--, g->statements--) random_statement(g, depth);
}

static void random_kernel_make(random_kernel *g, uint32_t seed) {
    static const char *const specials[] = { "tid", "ctaid", "ntid", "nctaid" };
    static const int sizes[] = { 1, 1, 2, 3, 4, 5, 8, 17, 32, 40 };
    int i;
    memset(g, 0, sizeof *g);
    g->state = seed * 2654435761u + 1;
    for (i = 0; i < 20; i++) test_random(&g->state);
    g->statements = 3 + (int)random_below(g, random_in(g, 50) ? 12 : 70);
    g->is_plain = random_in(g, 40);
    for (i = 0; i < 6; i++)
        g->dims[i] = sizes[random_below(g, i % 3 ? i < 3 ? 5 : 4 : i < 3 ? 10 : 6)];
    random_put(g,
            ".version 8.0\n.target sm_90\n.address_size 64\n"
            ".visible .global .align 16 .b8 v[%d];\n"
            ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 a, .param .u32 b,\n"
            "    .param .align 8 .b8 s[16])\n{\n"
            ".reg .b64 %%d<20>; .reg .b32 %%r<48>; .reg .pred %%p<9>; .reg .b16 %%h<4>;\n"
            ".shared .align 16 .b8 buffer[16];\n"
            "ld.param.u64 %%d0, [p]; ld.param.u64 %%d1, [q]; ld.param.u32 %%r12, [a];\n"
            "ld.param.s32 %%r13, [b]; ld.param.u8 %%r14, [s+5];\n"
            "ld.global.u32 %%r15, [%%d1+64];\n",
            RANDOM_BYTES);
    for (i = 0; i < 12; i++)
        random_put(g, "mov.u32 %%r%d, %%%s.%c;%s", i, specials[i / 3], 'x' + i % 3,
                i % 3 < 2 ? " " : "\n");
    for (i = RANDOM_LOADED; i < 48; i++) {
        if (i >= RANDOM_NUMBERS) random_put(g, "mov.u32 %%r%d, 0;%s", i, i % 4 < 3 ? " " : "\n");
        else
            random_put(g, "mov.b32 %%r%d, %s;\n", i,
                    random_in(g, 50) ? random_number(g)
                                     : RANDOM_OF(g, "%r0", "%r1", "%r3", "%r4", "%r12", "%r14"));
    }
    for (i = 2; i < 20; i++) random_put(g, "mov.u64 %%d%d, %d;%s", i, i, i % 4 < 3 ? " " : "\n");
    for (i = 0; i < 4; i++) random_put(g, "mov.u16 %%h%d, %d; ", i, i);
    for (i = 0; i < 9; i++)
        random_put(g, "setp.eq.u32 %%p%d, %%r%d, %d;\n", i, i % 6, (int)random_below(g, 3));
    while (g->statements > 0) random_statements(g, 0);
    while (g->npending) random_put(g, "L%d:\n", g->pending[--g->npending]);
    random_put(g, "ret;\n}\n");
}
/* The dims and the arguments a, b, s of a launch. */
typedef struct random_launch {
    unsigned dims[6]; /* of the block, of the grid */
    uint32_t a, b;
    unsigned char s[16];
} random_launch;
static random_launch random_launch_make(random_kernel *g, int is_first) {
    static const uint32_t numbers[] = { 0, 1, 2, 3, 5, 8, 16, 31, 64, 100, 1000, 65536, 0x7fffffff,
        0x80000000u, 0xffffffffu, 0xfffffff0u };
    random_launch l;
    unsigned i;
    memset(&l, 0, sizeof l);
    for (i = 0; i < 6; i++)
        l.dims[i] = is_first || random_in(g, 30) ? (unsigned)g->dims[i]
                                                 : 1 + random_below(g, (unsigned)g->dims[i]);
    l.a = numbers[random_below(g, random_in(g, 75) ? 10 : 16)];
    l.b = numbers[random_below(g, random_in(g, 75) ? 10 : 16)];
    for (i = 0; i < 16; i++) l.s[i] = (unsigned char)random_below(g, 24);
    return l;
}

#endif
