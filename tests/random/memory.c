/* memory.c - loads, stores, atomics and addresses of the straight-line programs. Each thread has a separate cell in
   each space: it is filled from the input, the instruction under test accesses it, and its final value also goes to the
   output. */
#include "emit.h"

/* an address as text; the space of plain loads and stores that access the same bytes */
struct place { char at[40]; const char *space; };

static bool is(const struct rnd_form *f, const char *op) { return !strcmp(f->op, op); }

/* The address that the instruction accesses, aligned to `align` bytes. */
static struct place place_of(struct emit *e, const struct rnd_form *f, unsigned align) {
    struct place p = { "", "global" };
    const unsigned off = emit_below(e, 32 / align) * align;
    const char *base = "%ag";
    if (rnd_has(f, "nc") || is(f, "ldu")) base = "%ai";
    else if (rnd_has(f, "global")) base = "%ag";
    else if (rnd_has(f, "shared|shared::cta|shared::cluster")) {
        base = "%as";
        p.space = "shared";
    }
    else if (rnd_has(f, "local")) {
        base = "%al";
        p.space = "local";
    }
    else if (rnd_has(f, "const")) {
        base = "%ac";
        p.space = "const";
    }
    else if (rnd_has(f, "param|param::entry")) {
        base = "block";
        p.space = "param";
    }
    else if (is(f, "ld") || is(f, "st") || is(f, "atom") || is(f, "red")) {
        static const char *const generic[] = { "%ag", "%gs", "%gl" };
        const unsigned k = emit_below(e, is(f, "atom") || is(f, "red") ||
                                      rnd_has(f, "relaxed|acquire|release|mmio") ? 2 : 3);
        base = rnd_has(f, "mmio") ? "%ag" : generic[k];
        p.space = "";                             /* generic, too */
    }
    snprintf(p.at, sizeof p.at, "[%s+%u]", base, (!strcmp(base, "%ac") ? off % 16 : off));
    return p;
}

static void plain(struct emit *e, const char *op, const struct place *p, unsigned off, unsigned bytes,
                  const char *reg) {
    char at[48];
    snprintf(at, sizeof at, "%.*s+%u]", (int)(strlen(p->at) - 1), p->at, off);
    if (*op == 's') emit(e, "\tst%s%s.b%u %s, %s;", *p->space ? "." : "", p->space, 8 * bytes, at, reg);
    else emit(e, "\tld%s%s.b%u %s, %s;", *p->space ? "." : "", p->space, 8 * bytes, reg, at);
}

static void fill(struct emit *e, const struct place *p, unsigned bytes, enum rnd_kind kind, unsigned unit) {
    if (bytes < unit) unit = bytes;
    for (unsigned k = 0; k < bytes; k += unit) {
        if (unit >= 2) {
            plain(e, "st", p, k, unit, emit_input(e, kind, unit));
            continue;
        }
        plain(e, "st", p, k, 1, emit_input(e, RND_INT, 2));
    }
}

static void show(struct emit *e, const struct rnd_form *f, const char *text, const struct place *p, unsigned bytes) {
    const unsigned unit = bytes < 8 ? bytes : 8;
    char reg[12];
    for (unsigned k = 0; k < bytes; k += unit) {
        snprintf(reg, sizeof reg, "%s", emit_new(e, unit));
        plain(e, "ld", p, k, unit, reg);
        emit_slot(e, f, text, reg, unit, RND_INT);
    }
}

static void load(struct emit *e, const struct rnd_form *f) {
    const char *t = f->type[0];
    const unsigned size = emit_size(t), n = rnd_has(f, "v2") ? 2 : rnd_has(f, "v4") ? 4 : 1;
    const struct place p = place_of(e, f, size * n);
    char text[260], list[80] = "", reg[4][12];
    if (!rnd_has(f, "nc|const|param|param::entry") && !is(f, "ldu")) fill(e, &p, size * n, emit_kind(t), size);
    const unsigned wide = emit_kind(t) == RND_INT && n == 1 ? size << emit_below(e, size < 8 ? 2 : 1) : size;
    for (unsigned k = 0; k < n; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "",
                 strcpy(reg[k], emit_new(e, wide)));
    snprintf(text, sizeof text, "%s %s%s%s, %s%s", f->text, n > 1 ? "{" : "", list, n > 1 ? "}" : "", p.at,
             rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    emit(e, "\t%s;", text);
    for (unsigned k = 0; k < n; k++) emit_slot(e, f, text, reg[k], wide, emit_kind(t));
}

static void store(struct emit *e, const struct rnd_form *f) {
    const char *t = f->type[0];
    const unsigned size = emit_size(t), n = rnd_has(f, "v2") ? 2 : rnd_has(f, "v4") ? 4 : 1;
    const struct place p = place_of(e, f, size * n);
    char text[300], list[120] = "";
    for (unsigned k = 0; k < n; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "",
                 emit_source(e, emit_kind(t), size, n == 1 && size > 1));
    snprintf(text, sizeof text, "%s %s, %s%s%s%s", f->text, p.at, n > 1 ? "{" : "", list, n > 1 ? "}" : "",
             rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    emit(e, "\t%s;", text);
    show(e, f, text, &p, size * n);
}

static void atomic(struct emit *e, const struct rnd_form *f) {
    const bool red = is(f, "red"), cas = rnd_has(f, "cas");
    const char *t = f->type[0];
    const unsigned size = emit_size(t);
    const struct place p = place_of(e, f, size < 4 ? 4 : size);
    char text[240], old[40] = "", b[40], c[40] = "", reg[12] = "";
    snprintf(old, sizeof old, "%s", emit_input(e, emit_kind(t), size));
    plain(e, "st", &p, 0, size, old);
    if (cas && emit_below(e, 2)) strcpy(b, old);
    else snprintf(b, sizeof b, "%s", emit_source(e, emit_kind(t), size, size > 2));
    if (cas) snprintf(c, sizeof c, ", %s", emit_source(e, emit_kind(t), size, size > 2));
    if (!red) snprintf(reg, sizeof reg, "%s", emit_new(e, size));
    snprintf(text, sizeof text, "%s %s%s%s, %s%s%s", f->text, reg, red ? "" : ", ", p.at, b, c,
             rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    emit(e, "\t%s;", text);
    if (!red) emit_slot(e, f, text, reg, size, emit_kind(t));
    show(e, f, text, &p, size);
}

/* An address is checked by loading from it. */
static void address(struct emit *e, const struct rnd_form *f) {
    const bool to = rnd_has(f, "to");
    struct place p = place_of(e, f, 4);
    char text[160], base[12], moved[12], reg[12];
    if (is(f, "isspacep")) {
        static const char *const any[] = { "%ag", "%gs", "%gl", "%ai" };
        snprintf(text, sizeof text, "%s %s, %s", f->text, strcpy(reg, emit_new(e, 0)), any[emit_below(e, 4)]);
        emit(e, "\t%s;", text);
        emit_slot(e, f, text, reg, 0, RND_INT);
        return;
    }
    snprintf(base, sizeof base, "%s", emit_new(e, 8));
    snprintf(moved, sizeof moved, "%s", emit_new(e, 8));
    const bool shared = !strcmp(p.space, "shared"), local = !strcmp(p.space, "local"),
               param = !strcmp(p.space, "param"), constant = !strcmp(p.space, "const");
    if (!param && !constant) fill(e, &p, 4, RND_INT, 4);
    const unsigned off = (unsigned)strtoul(strchr(p.at, '+') + 1, NULL, 10);
    if (to && (param || constant))
        emit(e, "\tmov.u64 %s, %s;\n\tcvta.%s.u64 %s, %s;", base, param ? "block" : "table", p.space, base, base);
    else if (to) emit(e, "\tmov.u64 %s, %s;", base, shared ? "%gs" : local ? "%gl" : "%ag");
    else if (shared) emit(e, "\tcvt.u64.u32 %s, %%as;", base);
    else emit(e, "\tmov.u64 %s, %s;", base, local ? "%al" : param ? "block" : constant ? "table" : "%ag");
    snprintf(text, sizeof text, "%s %s, %s", f->text, moved, base);
    emit(e, "\t%s;", text);
    emit(e, "\tld%s%s.b32 %s, [%s+%u];", to ? "." : "", to ? p.space : "", strcpy(reg, emit_new(e, 4)), moved, off);
    emit_slot(e, f, text, reg, 4, RND_INT);
}

static void copy_async(struct emit *e, const struct rnd_form *f) {
    char text[200], more[60] = "";
    const struct place cell = { "[%as+0]", "shared" };
    const unsigned size = rnd_has(f, "cg") ? 16 : 4u << emit_below(e, 3);
    e->nsources = 0;
    if (rnd_has(f, "commit_group|wait_group|wait_all")) {
        snprintf(text, sizeof text, "%s%s", f->text, rnd_has(f, "wait_group") ? " 1" : "");
        emit(e, "\t%s;", text);
        emit_slot(e, f, text, NULL, 0, RND_INT);
        return;
    }
    fill(e, &cell, 16, RND_INT, 8);
    const unsigned how = emit_below(e, 4);
    if (how == 0) snprintf(more, sizeof more, ", %u", emit_below(e, size + 1));
    else if (how == 1) {                          /* bytes to copy; the rest becomes zero */
        const char *r = emit_input(e, RND_INT, 4);
        emit(e, "\trem.u32 %s, %s, %u;", r, r, size + 1);
        snprintf(more, sizeof more, ", %s", r);
    } else if (how == 2) snprintf(more, sizeof more, ", %s", emit_predicate(e));
    snprintf(text, sizeof text, "%s [%%as], [%%ai+%u], %u%s%s", f->text, 16 * emit_below(e, 2), size, more,
             rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    emit(e, "\t%s;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;", text);
    show(e, f, text, &cell, 16);
}

/* A separate mbarrier for each thread, from init to inval: `f` is one of the steps. */
static void mbarrier(struct emit *e, const struct rnd_form *f) {
    const bool copy = is(f, "cp"), generic = !rnd_has(f, "shared|shared::cta|shared::cluster"),
               noinc = rnd_has(f, "noinc");
    const char *at = generic ? "[%gs+56]" : "[%as+56]";
    char init[60] = "mbarrier.init.shared.b64 [%as+56]", inval[60] = "mbarrier.inval.shared.b64 [%as+56]", state[12],
         last[12], p[2][12], reg[12];
    const unsigned n = copy ? 1u + noinc : 2 + emit_below(e, 4);
    if (rnd_has(f, "init")) snprintf(init, sizeof init, "%.40s %s", f->text, at);
    if (rnd_has(f, "inval")) snprintf(inval, sizeof inval, "%.40s %s", f->text, at);
    for (int i = 0; i < 2; i++) strcpy(p[i], emit_new(e, 0));
    strcpy(state, emit_new(e, 8));
    strcpy(last, emit_new(e, 8));
    strcpy(reg, emit_new(e, 4));
    emit(e, "\t%s, %u;", init, n);
    if (copy) {
        const struct place cell = { "[%as+0]", "shared" };
        const unsigned l = e->labels++;
        emit(e, "\tcp.async.ca.shared.global [%%as], [%%ai], 16;\n\t%s %s;\n"
             "\tmbarrier.arrive.shared.b64 %s, [%%as+56];", f->text, at, state);
        emit(e, "WAIT%u:\n\tmbarrier.test_wait.shared.b64 %s, [%%as+56], %s;\n\t@!%s bra WAIT%u;\n"
             "\t%s;", l, p[0], state, p[0], l, inval);
        show(e, f, f->text, &cell, 16);
        return;
    }
    emit(e, "\tmbarrier.arrive.shared.b64 %s, [%%as+56];\n\tmbarrier.pending_count.b64 %s, %s;", state, reg, state);
    emit(e, "\tmbarrier.test_wait.shared.b64 %s, [%%as+56], %s;", p[0], state);
    for (unsigned k = 1; k < n; k++) emit(e, "\tmbarrier.arrive.shared.b64 %s, [%%as+56];", last);
    emit(e, "\tmbarrier.test_wait.shared.b64 %s, [%%as+56], %s;\n\t%s;", p[1], state, inval);
    emit_slot(e, f, f->text, reg, 4, RND_INT);
    for (int i = 0; i < 2; i++) emit_slot(e, f, f->text, p[i], 0, RND_INT);
}

bool emit_memory(struct emit *e, const struct rnd_form *f) {
    e->nsources = 0;
    if (is(f, "ld") || is(f, "ldu")) load(e, f);
    else if (is(f, "st")) store(e, f);
    else if (is(f, "atom") || is(f, "red")) atomic(e, f);
    else if (is(f, "cvta") || is(f, "isspacep")) address(e, f);
    else if (is(f, "mbarrier") || (is(f, "cp") && rnd_has(f, "mbarrier"))) mbarrier(e, f);
    else if (is(f, "cp")) copy_async(e, f);
    /* hints: prefetch, applypriority, discard; no thread uses the memory of discard */
    else if (strpbrk(f->args, "m")) {
        char text[120];
        const bool local = rnd_has(f, "local"), tensor = rnd_has(f, "tensormap");
        snprintf(text, sizeof text, "%s [%s]%s", f->text, local ? "%al" : tensor ? "%ai" : "%line",
                 strchr(f->args, 'n') ? ", 128" : "");
        emit(e, "\t%s;", text);
        emit_slot(e, f, text, NULL, 0, RND_INT);
    } else return false;
    return true;
}
