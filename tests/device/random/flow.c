/* flow.c - programs of statements on a few variables: branches, loops, switches, calls, early
   exits; and, in the last quarter, operations of several threads.

   Each thread's variables %v0 .. are 32-bit registers. The statements' effects are mixed on
   purpose; a slot records a variable after each statement of the outermost level. Every result is
   determined: lanes synchronize only where all of a mask or of a block arrive, and sums in
   arbitrary order commute. */
#include "emit.h"

enum { VARS = 6 };

static unsigned below(struct emit *e, unsigned n) { return emit_below(e, n); }
static const char *var(struct emit *e) {
    static const char *const names[VARS] = { "%v0", "%v1", "%v2", "%v3", "%v4", "%v5" };
    return names[below(e, VARS)];
}

static const char *operand(struct emit *e) {
    static char text[4][24];
    static unsigned at;
    if (below(e, 4)) return var(e);
    char *t = text[at++ % 4];
    snprintf(t, sizeof *text, "%u", below(e, 3) ? below(e, 40) : (unsigned)rnd_next(&e->rng));
    return t;
}

static const char *condition(struct emit *e) {
    static const char *const tests[] = { "lt.s32", "ge.u32", "eq.b32", "ne.b32", "gt.s32", "hi.u32",
        "lt.f32", "neu.f32" };
    const char *p = emit_new(e, 0), *test = tests[below(e, 8)], *a = var(e);
    if (below(e, 3)) { /* about half of the lanes */
        const char *t = emit_new(e, 4);
        emit(e, "\tand.b32 %s, %s, %u;\n\tsetp.ne.u32 %s, %s, 0;", t, a, 1u << below(e, 8), p, t);
    } else emit(e, "\tsetp.%s %s, %s, %s;", test, p, a, strstr(test, "f32") ? var(e) : operand(e));
    return p;
}

static void assign(struct emit *e) {
    static const struct {
        const char *op;
        int sources;
        bool real;
    } ops[] = {
        { "add.u32", 2, false },
        { "sub.s32", 2, false },
        { "mul.lo.u32", 2, false },
        { "xor.b32", 2, false },
        { "and.b32", 2, false },
        { "or.b32", 2, false },
        { "shl.b32", 2, false },
        { "shr.s32", 2, false },
        { "mad.lo.s32", 3, false },
        { "min.s32", 2, false },
        { "max.u32", 2, false },
        { "popc.b32", 1, false },
        { "brev.b32", 1, false },
        { "prmt.b32", 3, false },
        { "shf.l.wrap.b32", 3, false },
        { "bfe.u32", 3, true },
        { "add.rn.f32", 2, true },
        { "mul.rn.f32", 2, true },
        { "fma.rn.f32", 3, true },
        { "cvt.rn.f32.s32", 1, false },
        { "cvt.rzi.s32.f32", 1, true },
        { "mul.hi.u32", 2, false },
        { "not.b32", 1, false },
        { "sad.u32", 3, false },
    };
    const unsigned k = below(e, sizeof ops / sizeof *ops);
    char text[120] = "";
    if (below(e, 6) == 0) {
        const char *p = condition(e);
        snprintf(text, sizeof text, "@%s%s ", below(e, 2) ? "!" : "", p);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s", ops[k].op, var(e));
    for (int i = 0; i < ops[k].sources; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %s",
                ops[k].real || i == 0 ? var(e) : operand(e));
    emit(e, "\t%s;", text);
}

/* Notes once that the program has this form. */
static void used(struct emit *e, const char *form) {
    const struct rnd_form *f = rnd_form_named(form);
    for (unsigned k = 0; k < e->p->nslots; k++)
        if (e->p->slot[k].form == f) return;
    e->nsources = 0;
    emit_slot(e, f, form, NULL, 0, RND_INT);
}

static void statements(struct emit *e, unsigned depth, unsigned n, bool in_function);

static void branch(struct emit *e, unsigned depth, bool in_function) {
    const unsigned l = e->labels++;
    const bool other = below(e, 3) != 0;
    const char *p = condition(e);
    emit(e, "\t@%s%s bra ELSE%u;", below(e, 2) ? "!" : "", p, l);
    statements(e, depth - 1, 1 + below(e, 3), in_function);
    if (other) {
        const bool uni = below(e, 4) == 0;
        emit(e, "\tbra%s JOIN%u;", uni ? ".uni" : "", l);
        used(e, uni ? "bra.uni" : "bra");
    }
    emit(e, "ELSE%u:", l);
    if (other) {
        statements(e, depth - 1, 1 + below(e, 3), in_function);
        emit(e, "JOIN%u:", l);
    }
}

static void loop(struct emit *e, unsigned depth, bool in_function) {
    const unsigned l = e->labels++, jump = below(e, 4);
    const char *n = emit_new(e, 4), *end = emit_new(e, 0);
    emit(e,
            "\tand.b32 %s, %s, 7;\nLOOP%u:\n\tsetp.eq.u32 %s, %s, 0;\n\t@%s bra DONE%u;\n"
            "\tsub.u32 %s, %s, 1;",
            n, var(e), l, end, n, end, l, n, n);
    statements(e, depth - 1, 1 + below(e, 3), in_function);
    if (jump < 2) { /* break, or continue */
        const char *p = condition(e);
        emit(e, "\t@%s bra %s%u;", p, jump ? "DONE" : "LOOP", l);
        statements(e, depth - 1, 1, in_function);
    }
    emit(e, "\tbra LOOP%u;\nDONE%u:", l, l);
}

static void choose(struct emit *e, unsigned depth, bool in_function) {
    const unsigned l = e->labels++, n = 2 + below(e, 4);
    const char *k = emit_new(e, 4);
    const bool uni = below(e, 5) == 0;
    if (uni) emit(e, "\tmov.u32 %s, %u;", k, below(e, n));
    else emit(e, "\trem.u32 %s, %s, %u;", k, var(e), n);
    char list[160] = "";
    for (unsigned i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%sCASE%u_%u", i ? ", " : "", l,
                i);
    emit(e, "TABLE%u: .branchtargets %s;\n\tbrx.idx%s %s, TABLE%u;", l, list, uni ? ".uni" : "", k,
            l);
    used(e, uni ? "brx.idx.uni" : "brx.idx");
    for (unsigned i = 0; i < n; i++) {
        emit(e, "CASE%u_%u:", l, i);
        statements(e, depth - 1, 1, in_function);
        if (below(e, 4)) emit(e, "\tbra JOIN%u;", l); /* else falls through */
    }
    emit(e, "JOIN%u:", l);
}

/* Direct, or through a pointer that differs between lanes. */
static void call(struct emit *e) {
    const unsigned l = e->labels++;
    const char *to = var(e), *a = var(e), *b = operand(e);
    const bool indirect = below(e, 3) == 0;
    emit(e,
            "\t{\n\t.param .b32 a; .param .b32 b; .param .b32 r;\n\tst.param.b32 [a], %s;\n"
            "\tst.param.b32 [b], %s;",
            a, b);
    if (indirect) {
        char f[2][12];
        const char *p = condition(e);
        for (int i = 0; i < 2; i++)
            emit(e, "\tmov.u64 %s, f%u;", strcpy(f[i], emit_new(e, 8)), below(e, 3));
        emit(e,
                "\tselp.b64 %s, %s, %s, %s;\nPROTO%u: .callprototype (.param .b32 r) _ (.param "
                ".b32 a, .param .b32 b);",
                f[0], f[0], f[1], p, l);
        emit(e, "\tcall (r), %s, (a, b), PROTO%u;", f[0], l);
        used(e, "call");
    } else {
        const bool uni = below(e, 2) == 0;
        emit(e, "\tcall%s (r), f%u, (a, b);", uni ? ".uni" : "", below(e, 3));
        used(e, uni ? "call.uni" : "call");
    }
    emit(e, "\tld.param.b32 %s, [r];\n\t}", to);
}

static void statement(struct emit *e, unsigned depth, bool in_function) {
    const unsigned how = depth ? below(e, 10) : 0;
    if (how >= 8) loop(e, depth, in_function);
    else if (how >= 5) branch(e, depth, in_function);
    else if (how == 4) choose(e, depth, in_function);
    else if (how == 3 && !in_function) call(e);
    else assign(e);
}

static void statements(struct emit *e, unsigned depth, unsigned n, bool in_function) {
    while (n--) statement(e, depth, in_function);
}

static void show(struct emit *e, const char *text, const char *reg) {
    e->nsources = 0;
    emit_slot(e, NULL, text, reg, 4, RND_INT);
}

static void functions(struct emit *e) {
    for (unsigned k = 0; k < 3; k++) {
        emit(e,
                ".func (.param .b32 r) f%u(.param .b32 a, .param .b32 b)\n{\n\t.reg .pred "
                "%%p<400>;\n"
                "\t.reg .b32 %%r<700>, %%v<%u>;\n"
                "\tld.param.b32 %%v0, [a];\n\tld.param.b32 %%v1, [b];\n\txor.b32 %%v2, %%v0, "
                "%%v1;\n"
                "\tmov.u32 %%v3, %%laneid;",
                k, VARS);
        emit(e, "\tadd.u32 %%v4, %%v0, %%v3;\n\tmov.b32 %%v5, %%v1;");
        statements(e, 2, 3, true);
        if (below(e, 2)) {
            const char *p = condition(e);
            emit(e, "\tst.param.b32 [r], %s;\n\t@%s ret;", var(e), p);
        }
        statements(e, 1, 2, true);
        emit(e, "\tst.param.b32 [r], %s;\n\tret.uni;\n}", var(e));
    }
}

/* ---- several threads ---- */

/* All threads of the block write, wait, and read what another thread wrote. */
static void exchange(struct emit *e) {
    const unsigned block = e->p->block;
    const char *at = emit_new(e, 4), *v = var(e), *op = below(e, 2) ? "bar" : "barrier";
    emit(e, "\tst.shared.b32 [%%as], %s;\n\t%s.sync 0;\n\tadd.u32 %s, %%t, %u;", v, op, at,
            below(e, block));
    emit(e,
            "\trem.u32 %s, %s, %u;\n\tmul.lo.u32 %s, %s, 64;\n"
            "\tadd.u32 %s, %s, %%base;",
            at, at, block, at, at, at, at);
    emit(e, "\tld.shared.b32 %s, [%s];\n\t%s.sync 0;", var(e), at, op);
}

/* Counters in shared memory: the final values do not depend on the order of the threads. */
static void count(struct emit *e) {
    static const char *const ops[] = { "add.u32", "add.s32", "min.s32", "max.u32", "and.b32",
        "or.b32", "xor.b32", "inc.u32", "min.u32", "max.s32" };
    const char *op = ops[below(e, 10)], *at = emit_new(e, 4), *sink = emit_new(e, 4), *v = var(e),
               *start = var(e);
    const bool atom = below(e, 2), inc = *op == 'i';
    emit(e, "\tst.shared.b32 [%%as+4], %s;\n\tbar.sync 0;\n\trem.u32 %s, %s, %u;", start, at, v,
            1 + below(e, 8));
    emit(e, "\tmul.lo.u32 %s, %s, 64;\n\tadd.u32 %s, %s, %%base;", at, at, at, at);
    if (atom) emit(e, "\tatom.shared.%s %s, [%s+4], %s;", op, sink, at, inc ? "1000000000" : v);
    else emit(e, "\tred.shared.%s [%s+4], %s;", op, at, inc ? "1000000000" : v);
    emit(e, "\tbar.sync 0;\n\tld.shared.b32 %s, [%%as+4];", var(e));
}

/* Counters in global memory, for all blocks: a slot that no thread reads before the end. */
static void count_global(struct emit *e) {
    static const char *const ops[] = { "add.u32", "min.s32", "max.u32", "and.b32", "or.b32",
        "xor.b32" };
    const char *op = ops[below(e, 6)], *v = var(e), *k = emit_new(e, 4), *at = emit_new(e, 8);
    struct rnd_program *p = e->p;
    char text[80];
    emit(e, "\trem.u32 %s, %s, %u;\n\tmad.wide.u32 %s, %s, 4, %%line;", k, v,
            1 + below(e, p->threads), at, k);
    emit(e, "\tred.global.%s [%s+%u], %s;", op, at, p->out_bytes, v);
    snprintf(text, sizeof text, "red.global.%s of all threads", op);
    struct rnd_slot *s = &p->slot[p->nslots++];
    memset(s, 0, sizeof *s);
    strcpy(s->text, text);
    s->size = 4;
    s->offset = p->out_bytes;
    p->out_bytes += (4 * p->threads + 31) / 32 * 32;
}

/* The lanes for which a condition holds, and the others: each group separately. */
static void apart(struct emit *e, unsigned sm) {
    const unsigned l = e->labels++;
    const char *p = condition(e), *q = emit_new(e, 0), *m = emit_new(e, 4), *src = emit_new(e, 4),
               *r = emit_new(e, 4);
    emit(e,
            "\tvote.sync.ballot.b32 %s, %s, %%mask;\n\t@%s bra ELSE%u;\n\tnot.b32 %s, "
            "%s;\n\tand.b32 %s, %s, %%mask;\n"
            "ELSE%u:",
            m, p, p, l, m, m, m, m, l);
    emit(e, "\t@!%s bra REST%u;", p, l);
    for (int half = 0; half < 2; half++) {
        const char *a = var(e), *to = var(e), *lanes = condition(e);
        switch (below(e, sm >= 80 ? 6 : 5)) {
        case 0: emit(e, "\tmatch.any.sync.b32 %s, %s, %s;", to, a, m); break;
        case 1:
            emit(e, "\tvote.sync.%s.pred %s, %s, %s;", below(e, 2) ? "any" : "all", q, lanes, m);
            emit(e, "\tselp.b32 %s, %s, %u, %s;", to, a, below(e, 99), q);
            break;
        case 2: emit(e, "\tvote.sync.ballot.b32 %s, %s, %s;", to, lanes, m); break;
        case 3: /* the value of the first of these lanes */
            emit(e,
                    "\tbrev.b32 %s, %s;\n\tclz.b32 %s, %s;\n"
                    "\tshfl.sync.idx.b32 %s|%s, %s, %s, 31, %s;",
                    src, m, src, src, to, q, a, src, m);
            break;
        case 4:
            emit(e,
                    "\tbar.warp.sync %s;\n\tmatch.all.sync.b32 %s|%s, %s, %s;\n"
                    "\tselp.b32 %s, %s, 7, %s;",
                    m, r, q, a, m, to, r, q);
            break;
        default:
            emit(e, "\tredux.sync.%s %s, %s, %s;",
                    below(e, 2)           ? "add.u32"
                            : below(e, 2) ? "min.s32"
                                          : "xor.b32",
                    to, a, m);
            break;
        }
        statements(e, 1, 1, true);
        if (!half) emit(e, "\tbra JOIN%u;\nREST%u:", l, l);
    }
    emit(e, "JOIN%u:\n\tbar.warp.sync %%mask;", l);
}

static void shuffle(struct emit *e) {
    static const char *const modes[] = { "up", "down", "bfly", "idx" };
    const unsigned mode = below(e, 4);
    const char *p = emit_new(e, 0), *to = var(e), *k = emit_new(e, 4);
    const unsigned segments = (0x1f & ~0u << below(e, 6)) << 8 | (mode ? 0x1f : 0);
    emit(e, "\tand.b32 %s, %s, 31;", k, var(e));
    if (below(e, 2)) k = "3";
    emit(e,
            "\tshfl.sync.%s.b32 %s|%s, %s, %s, %u, %%mask;\n"
            "\t@!%s add.u32 %s, %s, 1;",
            modes[mode], to, p, var(e), k, segments, p, to, to);
}

static void vote_block(struct emit *e) {
    static const char *const ops[] = { "popc.u32", "and.pred", "or.pred" };
    const unsigned k = below(e, 3);
    const char *p = condition(e), *q = emit_new(e, 0), *to = var(e);
    if (k == 0) emit(e, "\tbar.red.popc.u32 %s, %u, %s;", to, below(e, 16), p);
    else
        emit(e, "\tbar.red.%s %s, %u, %s;\n\t@%s add.u32 %s, %s, 5;", ops[k], q, below(e, 16), p, q,
                to, to);
}

/* Some lanes reach the barrier by one path, some by another. */
static void meet(struct emit *e) {
    const unsigned l = e->labels++;
    const char *p = condition(e);
    emit(e, "\tst.shared.b32 [%%as+8], %s;\n\t@%s bra ELSE%u;", var(e), p, l);
    statements(e, 1, 2, true);
    emit(e, "\tbarrier.sync 1;\n\tbra JOIN%u;\nELSE%u:", l, l);
    statements(e, 1, 1, true);
    emit(e, "\tbarrier.sync 1;\nJOIN%u:\n\tld.shared.b32 %s, [%%base+8];\n\tbar.sync 0;", l,
            var(e));
}

/* Each thread takes a lock, adds to the value that the lock guards, and releases it. */
static void lock(struct emit *e) {
    const unsigned l = e->labels++;
    const char *p = emit_new(e, 0), *old = emit_new(e, 4), *v = emit_new(e, 4);
    emit(e, "\tsetp.ne.u32 %s, %%t, 0;\n\t@%s bra SKIP%u;\n\tst.shared.b32 [%%base+12], 0;", p, p,
            l);
    emit(e, "\tst.shared.b32 [%%base+16], %u;\nSKIP%u:\n\tbar.sync 0;", below(e, 1000), l);
    emit(e,
            "TRY%u:\n\tatom.shared.cas.b32 %s, [%%base+12], 0, 1;\n\tsetp.ne.u32 %s, %s, 0;\n"
            "\t@%s bra TRY%u;",
            l, old, p, old, p, l);
    emit(e, "\tmembar.cta;\n\tld.volatile.shared.b32 %s, [%%base+16];\n\tadd.u32 %s, %s, %s;", v, v,
            v, var(e));
    emit(e,
            "\tst.volatile.shared.b32 [%%base+16], %s;\n\tmembar.cta;\n"
            "\tatom.shared.exch.b32 %s, [%%base+12], 0;",
            v, old);
    emit(e, "\tbar.sync 0;\n\tld.shared.b32 %s, [%%base+16];\n\tbar.sync 0;", var(e));
}

static void together(struct emit *e, unsigned sm, unsigned depth);

/* The same number of times for all threads of the block. */
static void repeat(struct emit *e, unsigned sm, unsigned depth) {
    const unsigned l = e->labels++, times = 2 + below(e, 4);
    const char *n = emit_new(e, 4), *p = emit_new(e, 0);
    emit(e, "\tmov.u32 %s, %u;\nLOOP%u:", n, times, l);
    for (unsigned k = 1 + below(e, 3); k--;) together(e, sm, depth - 1);
    emit(e, "\tsub.u32 %s, %s, 1;\n\tsetp.ne.u32 %s, %s, 0;\n\t@%s bra LOOP%u;", n, n, p, n, p, l);
}

static void together(struct emit *e, unsigned sm, unsigned depth) {
    switch (below(e, 12)) {
    case 0: exchange(e); break;
    case 1: count(e); break;
    case 2: count_global(e); break;
    case 3:
    case 4: apart(e, sm); break;
    case 5:
        if (e->p->block % 32 == 0) shuffle(e);
        else apart(e, sm);
        break;
    case 6: vote_block(e); break;
    case 7: meet(e); break;
    case 8: lock(e); break;
    case 9:
        if (depth) repeat(e, sm, depth);
        else exchange(e);
        break;
    default: statement(e, 2, true); break;
    }
}

void rnd_flow(struct emit *e) {
    struct rnd_program *p = e->p;
    const bool shared = p->number >= RND_STRAIGHT + RND_BRANCHES;
    const unsigned sm = shared && below(e, 2) ? 80 : 70;
    p->threads = p->grid * p->block;
    emit_head(e, sm, 70, shared);
    if (!shared) functions(e);
    emit_entry(e, shared);
    if (!shared) used(e, "ret.uni");
    emit(e, "\t.reg .b32 %%v<%u>, %%base;", VARS);
    for (unsigned k = 0; k < VARS; k++)
        emit(e, "\tmov.b32 %%v%u, %s;", k, emit_input(e, k < 4 ? RND_INT : RND_F32, 4));
    if (shared) emit(e, "\tmov.u32 %%base, cells;");
    const unsigned n = 6 + below(e, 8);
    for (unsigned k = 0; k < n; k++) {
        char text[80];
        const size_t from = p->length;
        if (shared) together(e, sm, 2);
        else statement(e, 3, false);
        snprintf(text, sizeof text, "statement %u: %.40s ...", k, p->text + from + 1);
        text[strcspn(text, "\n")] = 0;
        show(e, text, var(e));
    }
    if (below(e, 3) == 0) { /* some lanes exit here */
        const char *end = below(e, 2) ? "exit" : "ret";
        emit(e, "\t@%s %s;", condition(e), end);
        used(e, end);
        statements(e, 1, 3, true);
    }
    for (unsigned k = 0; k < VARS; k++) {
        char reg[8], text[40];
        snprintf(reg, sizeof reg, "%%v%u", k);
        snprintf(text, sizeof text, "at the end");
        show(e, text, reg);
    }
    emit_end(e);
}
