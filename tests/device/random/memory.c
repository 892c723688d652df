/* memory.c - loads, stores, atomics and addresses of the straight-line programs. Each thread has a
   separate cell in each space: it is filled from the input, the instruction under test accesses it,
   and its final value also goes to the output. */
#include "emit.h"

/* an address as text; the space of plain loads and stores that access the same bytes */
struct place {
    char at[40];
    const char *space;
};

static bool is(const struct rnd_form *f, const char *op) { return !strcmp(f->op, op); }

/* a cache policy, or an atomic on a vector */
static bool in_global_only(const struct rnd_form *f) {
    return rnd_has(f, "L2::cache_hint") ||
            ((is(f, "atom") || is(f, "red")) && rnd_has(f, "v2|v4|v8"));
}

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
    } else if (rnd_has(f, "local")) {
        base = "%al";
        p.space = "local";
    } else if (rnd_has(f, "const")) {
        base = "%ac";
        p.space = "const";
    } else if (rnd_has(f, "param|param::entry")) {
        base = "block";
        p.space = "param";
    } else if ((is(f, "ld") || is(f, "st") || is(f, "atom") || is(f, "red")) &&
            !in_global_only(f)) {
        static const char *const generic[] = { "%ag", "%gs", "%gl" };
        const unsigned k = emit_below(e,
                is(f, "atom") || is(f, "red") || rnd_has(f, "relaxed|acquire|release|mmio") ? 2
                                                                                            : 3);
        base = rnd_has(f, "mmio") ? "%ag" : generic[k];
        p.space = ""; /* generic, too */
    }
    snprintf(p.at, sizeof p.at, "[%s+%u]", base, (!strcmp(base, "%ac") ? off % 16 : off));
    return p;
}

static void plain(struct emit *e, const char *op, const struct place *p, unsigned off,
        unsigned bytes, const char *reg) {
    char at[48];
    snprintf(at, sizeof at, "%.*s+%u]", (int)(strlen(p->at) - 1), p->at, off);
    if (*op == 's')
        emit(e, "\tst%s%s.b%u %s, %s;", *p->space ? "." : "", p->space, 8 * bytes, at, reg);
    else emit(e, "\tld%s%s.b%u %s, %s;", *p->space ? "." : "", p->space, 8 * bytes, reg, at);
}

static void fill(
        struct emit *e, const struct place *p, unsigned bytes, enum rnd_kind kind, unsigned unit) {
    if (bytes < unit) unit = bytes;
    for (unsigned k = 0; k < bytes; k += unit) {
        if (unit >= 2) {
            plain(e, "st", p, k, unit, emit_input(e, kind, unit));
            continue;
        }
        plain(e, "st", p, k, 1, emit_input(e, RND_INT, 2));
    }
}

static void show(struct emit *e, const struct rnd_form *f, const char *text, const struct place *p,
        unsigned bytes) {
    const unsigned unit = bytes < 8 ? bytes : 8;
    char reg[12];
    for (unsigned k = 0; k < bytes; k += unit) {
        snprintf(reg, sizeof reg, "%s", emit_new(e, unit));
        plain(e, "ld", p, k, unit, reg);
        emit_slot(e, f, text, reg, unit, RND_INT);
    }
}

/* Registers of 128 bits exist only within a block: their halves come from others and go into
   slots. */
static void begin_128(struct emit *e, unsigned n) {
    char half[2][24];
    emit(e, "\t{\n\t.reg .b128 %%q<4>;");
    for (unsigned q = 0; q < n; q++) {
        for (int k = 0; k < 2; k++)
            snprintf(half[k], sizeof half[0], "%s", emit_source(e, RND_INT, 8, false));
        emit(e, "\tmov.b128 %%q%u, {%s, %s};", q, half[0], half[1]);
    }
}

static void end_128(struct emit *e, const struct rnd_form *f, const char *text, unsigned q) {
    char half[2][12];
    for (int k = 0; k < 2; k++) snprintf(half[k], sizeof half[0], "%s", emit_new(e, 8));
    emit(e, "\tmov.b128 {%s, %s}, %%q%u;\n\t}", half[0], half[1], q);
    for (int k = 0; k < 2; k++) emit_slot(e, f, text, half[k], 8, RND_INT);
}

static void load_128(struct emit *e, const struct rnd_form *f) {
    const struct place p = place_of(e, f, 16);
    char text[160];
    if (!rnd_has(f, "nc|const|param|param::entry") && !is(f, "ldu")) fill(e, &p, 16, RND_INT, 8);
    snprintf(text, sizeof text, "%s %%q3, %s%s", f->text, p.at,
            rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    begin_128(e, 0);
    emit(e, "\t%s;", text);
    end_128(e, f, text, 3);
}

static void store_128(struct emit *e, const struct rnd_form *f) {
    const struct place p = place_of(e, f, 16);
    char text[160];
    snprintf(text, sizeof text, "%s %s, %%q0%s", f->text, p.at,
            rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    begin_128(e, 1);
    emit(e, "\t%s;\n\t}", text);
    show(e, f, text, &p, 16);
}

/* cas: the compared value is in memory, or not */
static void atomic_128(struct emit *e, const struct rnd_form *f) {
    const struct place p = place_of(e, f, 16);
    const bool cas = rnd_has(f, "cas");
    char text[160];
    fill(e, &p, 16, RND_INT, 8);
    snprintf(text, sizeof text, "%s %%q3, %s, %%q0%s%s", f->text, p.at, cas ? ", %q1" : "",
            rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    begin_128(e, 2);
    if (cas && emit_below(e, 2))
        emit(e, "\tld%s%s.b128 %%q0, %s;", *p.space ? "." : "", p.space, p.at);
    emit(e, "\t%s;", text);
    end_128(e, f, text, 3);
    show(e, f, text, &p, 16);
}

static void list_of(char *list, size_t size, const char *reg) {
    snprintf(list + strlen(list), size - strlen(list), "%s%s", *list ? ", " : "", reg);
}

static void atomic_vector(struct emit *e, const struct rnd_form *f) {
    const bool red = is(f, "red");
    const unsigned size = emit_size(f->type[0]),
                   n = rnd_has(f, "v2") ? 2
            : rnd_has(f, "v4")          ? 4
                                        : 8;
    const enum rnd_kind kind = emit_kind(f->type[0]);
    const struct place p = place_of(e, f, n * size);
    char text[400], to[120] = "", from[120] = "", reg[8][12];
    fill(e, &p, n * size, kind, size);
    for (unsigned k = 0; k < n; k++) {
        list_of(from, sizeof from, emit_source(e, kind, size, false));
        if (!red) list_of(to, sizeof to, strcpy(reg[k], emit_new(e, size)));
    }
    snprintf(text, sizeof text, "%s %s%s%s%s, {%s}%s", f->text, red ? "" : "{", to,
            red ? "" : "}, ", p.at, from, rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    emit(e, "\t%s;", text);
    for (unsigned k = 0; k < n && !red; k++) emit_slot(e, f, text, reg[k], size, kind);
    show(e, f, text, &p, n * size);
}

/* Two allocations, used and given back; f: one of the steps. */
static void stack(struct emit *e, const struct rnd_form *f) {
    const bool wide = !rnd_has(f, "u32");
    const unsigned bits = wide ? 64 : 32;
    char value[2][24], reg[2][12], at[4][12], p[12];
    for (int k = 0; k < 2; k++) {
        snprintf(value[k], sizeof value[0], "%s", emit_input(e, RND_INT, 4));
        strcpy(reg[k], emit_new(e, 4));
    }
    for (int k = 0; k < 4; k++) strcpy(at[k], emit_new(e, bits / 8));
    strcpy(p, emit_new(e, 0));
    emit(e, "\tstacksave.u%u %s;\n\talloca.u%u %s, %u, 16;\n\talloca.u%u %s, %u;", bits, at[0],
            bits, at[1], 4 + emit_below(e, 60), bits, at[2], 4 + emit_below(e, 60));
    for (int k = 0; k < 2; k++) emit(e, "\tst.local.u32 [%s], %s;", at[1 + k], value[k]);
    for (int k = 0; k < 2; k++) emit(e, "\tld.local.u32 %s, [%s];", reg[k], at[1 + k]);
    emit(e, "\tstackrestore.u%u %s;\n\tstacksave.u%u %s;\n\tsetp.eq.u%u %s, %s, %s;", bits, at[0],
            bits, at[3], bits, p, at[0], at[3]);
    for (int k = 0; k < 2; k++) emit_slot(e, f, f->text, reg[k], 4, RND_INT);
    emit_slot(e, f, f->text, p, 0, RND_INT);
}

static void load(struct emit *e, const struct rnd_form *f) {
    const char *t = f->type[0];
    const unsigned size = emit_size(t), n = rnd_has(f, "v2") ? 2 : rnd_has(f, "v4") ? 4 : 1;
    const struct place p = place_of(e, f, size * n);
    char text[260], list[80] = "", reg[4][12];
    if (!rnd_has(f, "nc|const|param|param::entry") && !is(f, "ldu"))
        fill(e, &p, size * n, emit_kind(t), size);
    const unsigned wide = emit_kind(t) == RND_INT && n == 1
            ? size << emit_below(e, size < 8 ? 2 : 1)
            : size;
    for (unsigned k = 0; k < n; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "",
                strcpy(reg[k], emit_new(e, wide)));
    snprintf(text, sizeof text, "%s %s%s%s, %s%s", f->text, n > 1 ? "{" : "", list,
            n > 1 ? "}" : "", p.at, rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
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
    snprintf(text, sizeof text, "%s %s, %s%s%s%s", f->text, p.at, n > 1 ? "{" : "", list,
            n > 1 ? "}" : "", rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
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
        static const char *const any[] = { "%ag", "%gs", "%gl", "%ai", "constant" };
        const unsigned k = emit_below(e, 5);
        if (k == 4)
            emit(e, "\tmov.u64 %s, table;\n\tcvta.const.u64 %s, %s;", strcpy(base, emit_new(e, 8)),
                    base, base);
        snprintf(text, sizeof text, "%s %s, %s", f->text, strcpy(reg, emit_new(e, 0)),
                k == 4 ? base : any[k]);
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
        emit(e, "\tmov.u64 %s, %s;\n\tcvta.%s.u64 %s, %s;", base, param ? "block" : "table",
                p.space, base, base);
    else if (to) emit(e, "\tmov.u64 %s, %s;", base, shared ? "%gs" : local ? "%gl" : "%ag");
    else if (shared) emit(e, "\tcvt.u64.u32 %s, %%as;", base);
    else
        emit(e, "\tmov.u64 %s, %s;", base,
                local              ? "%al"
                        : param    ? "block"
                        : constant ? "table"
                                   : "%ag");
    snprintf(text, sizeof text, "%s %s, %s", f->text, moved, base);
    emit(e, "\t%s;", text);
    emit(e, "\tld%s%s.b32 %s, [%s+%u];", to ? "." : "", to ? p.space : "",
            strcpy(reg, emit_new(e, 4)), moved, off);
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
    else if (how == 1) { /* bytes to copy; the rest becomes zero */
        const char *r = emit_input(e, RND_INT, 4);
        emit(e, "\trem.u32 %s, %s, %u;", r, r, size + 1);
        snprintf(more, sizeof more, ", %s", r);
    } else if (how == 2) snprintf(more, sizeof more, ", %s", emit_predicate(e));
    snprintf(text, sizeof text, "%s [%%as], [%%ai+%u], %u%s%s", f->text, 16 * emit_below(e, 2),
            size, more, rnd_has(f, "L2::cache_hint") ? ", %pol" : "");
    emit(e, "\t%s;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;", text);
    show(e, f, text, &cell, 16);
}

/* A separate mbarrier for each thread, from init to inval: `f` is one of the steps. The first
   arrival, which may expect 16 bytes or lower the count, gives the state; then others, until the
   phase is complete. */
static void mbarrier(struct emit *e, const struct rnd_form *f) {
    const bool copy = is(f, "cp"), generic = !rnd_has(f, "shared|shared::cta|shared::cluster"),
               noinc = rnd_has(f, "noinc");
    const char *at = generic ? "[%gs+56]" : "[%as+56]";
    char init[60] = "mbarrier.init.shared.b64 [%as+56]",
         inval[60] = "mbarrier.inval.shared.b64 [%as+56]", state[12], last[12], p[2][12], reg[12];
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
        emit(e,
                "\tcp.async.ca.shared.global [%%as], [%%ai], 16;\n\t%s %s;\n"
                "\tmbarrier.arrive.shared.b64 %s, [%%as+56];",
                f->text, at, state);
        emit(e,
                "WAIT%u:\n\tmbarrier.test_wait.shared.b64 %s, [%%as+56], %s;\n\t@!%s bra WAIT%u;\n"
                "\t%s;",
                l, p[0], state, p[0], l, inval);
        show(e, f, f->text, &cell, 16);
        return;
    }
    const bool arrives = rnd_has(f, "arrive|arrive_drop"), waits = rnd_has(f, "test_wait|try_wait"),
               bytes = rnd_has(f, "expect_tx|complete_tx"), step = bytes && !arrives;
    const char *more = !arrives                                             ? ""
            : rnd_has(f, "expect_tx")                                       ? ", 16"
            : rnd_has(f, "noComplete") || (f->sm >= 90 && emit_below(e, 2)) ? ", 1"
                                                                            : "",
               *kept = rnd_has(f, "shared::cluster") && arrives ? "_" : state;
    char wait[80], of[14];
    snprintf(wait, sizeof wait, "%.60s", waits ? f->text : "mbarrier.test_wait.shared.b64");
    if (step)
        emit(e, "\t%s %s, 16;", rnd_has(f, "expect_tx") ? f->text : "mbarrier.expect_tx.shared.b64",
                rnd_has(f, "expect_tx") ? at : "[%as+56]");
    emit(e, "\tmov.b64 %s, 0;\n\tmov.b32 %s, 0;", state, reg);
    emit(e, "\t%s %s, %s%s;", arrives ? f->text : "mbarrier.arrive.shared.b64", kept,
            arrives ? at : "[%as+56]", more);
    if (*kept != '_') emit(e, "\tmbarrier.pending_count.b64 %s, %s;", reg, state);
    if (bytes)
        emit(e, "\t%s %s, 16;",
                rnd_has(f, "complete_tx") ? f->text : "mbarrier.complete_tx.shared.b64",
                rnd_has(f, "complete_tx") ? at : "[%as+56]");
    snprintf(of, sizeof of, "%s", rnd_has(f, "parity") ? "0" : state);
    /* an H200's try_wait may be true before the phase is complete */
    if (*kept == '_' || rnd_has(f, "try_wait")) emit(e, "\tsetp.ne.u32 %s, 0, 0;", p[0]);
    else emit(e, "\t%s %s, %s, %s;", wait, p[0], waits ? at : "[%as+56]", of);
    for (unsigned k = 1; k < n; k++)
        emit(e, "\tmbarrier.arrive.shared.b64 %s, [%%as+56];",
                k == 1 && *kept == '_' ? state : last);
    emit(e, "\t%s %s, %s, %s;\n\t%s;", wait, p[1], waits ? at : "[%as+56]", of, inval);
    emit_slot(e, f, f->text, reg, 4, RND_INT);
    for (int i = 0; i < 2; i++) emit_slot(e, f, f->text, p[i], 0, RND_INT);
}

bool emit_memory(struct emit *e, const struct rnd_form *f) {
    e->nsources = 0;
    const bool whole = rnd_has(f, "b128");
    if (whole && !is(f, "mov"))
        (is(f, "ld") || is(f, "ldu") ? load_128 : is(f, "st") ? store_128 : atomic_128)(e, f);
    else if (is(f, "ld") || is(f, "ldu")) load(e, f);
    else if ((is(f, "atom") || is(f, "red")) && rnd_has(f, "v2|v4|v8")) atomic_vector(e, f);
    else if (is(f, "alloca") || is(f, "stacksave") || is(f, "stackrestore")) stack(e, f);
    else if (is(f, "st")) store(e, f);
    else if (is(f, "atom") || is(f, "red")) atomic(e, f);
    else if (is(f, "cvta") || is(f, "isspacep")) address(e, f);
    else if (is(f, "mbarrier") || (is(f, "cp") && rnd_has(f, "mbarrier"))) mbarrier(e, f);
    else if (is(f, "cp")) copy_async(e, f);
    /* hints: prefetch, applypriority, discard; no thread uses the memory of discard */
    else if (strpbrk(f->args, "m")) {
        char text[160];
        const bool local = rnd_has(f, "local"), tensor = rnd_has(f, "tensormap");
        snprintf(text, sizeof text, "%s [%s]%s", f->text,
                local            ? "%al"
                        : tensor ? "%ai"
                                 : "%line",
                strchr(f->args, 'n') ? ", 128" : "");
        emit(e, "\t%s;", text);
        emit_slot(e, f, text, NULL, 0, RND_INT);
    } else return false;
    return true;
}
