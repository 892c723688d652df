/* regs.c - registers of a function that are never live at the same time share a place in the
   register file.

   PTX has a register for every value, hundreds of them, but a warp's file should fit the host's
   cache. The method: liveness over basic blocks, one interval per register from the first to the
   last instruction where it is live, and places assigned in the order of the starts. Diverged lanes
   do not interfere, since an instruction writes only the lanes that execute it. A destination never
   takes the place of a source of the same instruction, because an instruction may become several. A
   guarded write does not end an earlier live range. */
#include "decode.h"

struct block {
    uint32_t first, end;
    uint32_t next[2];
    const struct sim_operand *targets;
};

struct liveness {
    const struct sim_func *f;
    struct block *blocks;
    uint32_t nblocks;
    uint32_t words;
    /* per block; a block's live-out is the union of its successors' live-in */
    uint64_t *in, *use, *def;
    uint32_t *lo, *hi; /* interval of each register, in instructions */
    /* while the words are counted that are live at one instruction */
    uint64_t *live;
    uint32_t now, most;
    unsigned char *cheap; /* of each register */
};
enum { UNSEEN, CHEAP, COSTLY };

/* Whether the first operand is the destination: by its letter in forms.h. */
static bool writes_first(const struct sim_instr *in) {
    const char *letter = in->form->args + (in->form->args[0] == '.');
    return in->n && strchr("dDwAyVqoeOtriIszEKxRZ0", *letter) && in->opd[0].kind != SIM_O_MEM;
}

typedef void visitor(struct liveness *v, uint32_t at, uint32_t reg, bool written, bool sure);

static void visit(struct liveness *v, uint32_t at, const struct sim_operand *o, bool written,
        bool sure, visitor *see) {
    if ((o->kind == SIM_O_REG || o->kind == SIM_O_MEM) && o->reg >= 0)
        see(v, at, (uint32_t)o->reg, written && o->kind == SIM_O_REG, sure);
    if (o->kind != SIM_O_TARGETS)
        for (unsigned k = 0; k < o->n; k++) visit(v, at, &o->list[k], written, sure, see);
}

/* Calls `see` for each register that instruction `at` reads, or writes. */
static void visit_instr(struct liveness *v, uint32_t at, bool writes, visitor *see) {
    const struct sim_instr *in = &v->f->instrs[at];
    const bool sure = in->pred < 0, call = in->form->select == SIM_SELECT_CALL;
    for (unsigned k = 0; k < in->n; k++) {
        const bool written = call ? k == 0 && in->opd[0].kind == SIM_O_LIST
                                  : k == 0 && writes_first(in);
        if (written == writes) visit(v, at, &in->opd[k], written, sure, see);
    }
    if (in->pred >= 0 && !writes) see(v, at, (uint32_t)in->pred, false, true);
}

static void span(struct liveness *v, uint32_t reg, uint32_t at) {
    if (at < v->lo[reg]) v->lo[reg] = at;
    if (at + 1 > v->hi[reg]) v->hi[reg] = at + 1;
}

static uint32_t block_of(const struct liveness *v, uint32_t at) {
    uint32_t a = 0, b = v->nblocks;
    while (b - a > 1) {
        uint32_t c = (a + b) / 2;
        if (v->blocks[c].first <= at) a = c;
        else b = c;
    }
    return a;
}

static void see_local(struct liveness *v, uint32_t at, uint32_t reg, bool written, bool sure) {
    const uint32_t b = block_of(v, at);
    uint64_t *use = v->use + (size_t)b * v->words, *def = v->def + (size_t)b * v->words,
             bit = 1ull << (reg % 64);
    span(v, reg, at);
    if (!written && !(def[reg / 64] & bit)) use[reg / 64] |= bit;
    if (written && sure && v->f->regs[reg].vec <= 1) def[reg / 64] |= bit;
}

static bool ends_block(const struct sim_instr *in) {
    const enum sim_select s = in->form->select;
    return s == SIM_SELECT_BRA || s == SIM_SELECT_BRX || s == SIM_SELECT_RET ||
            s == SIM_SELECT_EXIT;
}

/* Block boundaries: after branches and before their targets. */
static bool find_blocks(struct liveness *v) {
    const struct sim_func *f = v->f;
    unsigned char *leader = calloc(f->ninstrs + 2, 1);
    if (!leader) return false;
    leader[0] = 1;
    for (uint32_t k = 0; k < f->ninstrs; k++) {
        const struct sim_instr *in = &f->instrs[k];
        if (in->form->select == SIM_SELECT_BRA) leader[in->opd[0].target] = 1;
        if (in->form->select == SIM_SELECT_BRX)
            for (unsigned j = 0; j < in->opd[1].n; j++) leader[in->opd[1].list[j].target] = 1;
        if (ends_block(in)) leader[k + 1] = 1;
    }
    for (uint32_t k = 0; k < f->ninstrs; k++) v->nblocks += leader[k];
    v->blocks = calloc(v->nblocks + 1, sizeof *v->blocks);
    if (!v->blocks) {
        free(leader);
        return false;
    }
    uint32_t b = 0;
    for (uint32_t k = 0; k < f->ninstrs; k++)
        if (leader[k]) v->blocks[b++].first = k;
    free(leader);
    for (b = 0; b < v->nblocks; b++)
        v->blocks[b].end = b + 1 < v->nblocks ? v->blocks[b + 1].first : f->ninstrs;
    for (b = 0; b < v->nblocks; b++) {
        struct block *k = &v->blocks[b];
        const struct sim_instr *in = &f->instrs[k->end - 1];
        const bool sure = in->pred < 0;
        k->next[0] = k->next[1] = v->nblocks; /* none */
        if (!(ends_block(in) && sure)) k->next[0] = b + 1;
        if (in->form->select == SIM_SELECT_BRA)
            k->next[1] = in->opd[0].target < f->ninstrs ? block_of(v, in->opd[0].target)
                                                        : v->nblocks;
        if (in->form->select == SIM_SELECT_BRX) k->targets = &in->opd[1];
    }
    return true;
}

static void add_successor(const struct liveness *v, uint32_t b, uint64_t *out) {
    if (b < v->nblocks)
        for (uint32_t w = 0; w < v->words; w++) out[w] |= v->in[(size_t)b * v->words + w];
}

static void live_out(const struct liveness *v, uint32_t b, uint64_t *out) {
    const struct block *k = &v->blocks[b];
    memset(out, 0, v->words * sizeof *out);
    add_successor(v, k->next[0], out);
    add_successor(v, k->next[1], out);
    for (unsigned j = 0; k->targets && j < k->targets->n; j++)
        if (k->targets->list[j].target < v->f->ninstrs)
            add_successor(v, block_of(v, k->targets->list[j].target), out);
}

static bool analyse(struct liveness *v) {
    const struct sim_func *f = v->f;
    if (!f->ninstrs || !find_blocks(v)) return false;
    v->words = (f->nregs + 63) / 64;
    const size_t n = (size_t)v->nblocks * v->words;
    if (n > 16u << 20) return false; /* too large to be worth the effort */
    v->in = calloc(3 * n + v->words + 1, sizeof *v->in);
    if (!v->in) return false;
    v->use = v->in + n;
    v->def = v->use + n;
    uint64_t *out = v->def + n;
    for (uint32_t k = 0; k < f->ninstrs; k++) {
        visit_instr(v, k, false, see_local);
        visit_instr(v, k, true, see_local);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = v->nblocks; b-- > 0;) {
            live_out(v, b, out);
            for (uint32_t w = 0; w < v->words; w++) {
                const size_t at = (size_t)b * v->words + w;
                const uint64_t in = v->use[at] | (out[w] & ~v->def[at]);
                changed |= in != v->in[at];
                v->in[at] = in;
            }
        }
    }
    for (uint32_t b = 0; b < v->nblocks; b++) {
        live_out(v, b, out);
        for (uint32_t w = 0; w < v->words; w++) {
            for (uint64_t r = v->in [(size_t)b * v->words + w]; r; r &= r - 1)
                span(v, 64 * w + (uint32_t)__builtin_ctzll(r), v->blocks[b].first);
            for (uint64_t r = out[w]; r; r &= r - 1)
                span(v, 64 * w + (uint32_t)__builtin_ctzll(r), v->blocks[b].end - 1);
        }
    }
    for (unsigned k = 0; k < f->nparams; k++)
        if (f->params[k].space == SIM_REG) {
            v->lo[f->params[k].address] = 0;
            v->hi[f->params[k].address] = f->ninstrs;
        }
    for (unsigned k = 0; k < f->nrets; k++)
        if (f->rets[k].space == SIM_REG) {
            v->lo[f->rets[k].address] = 0;
            v->hi[f->rets[k].address] = f->ninstrs;
        }
    return true;
}

static uint32_t words_of(const struct liveness *v, uint32_t reg) {
    const struct sim_reg *r = &v->f->regs[reg];
    return v->cheap[reg] == CHEAP ? 0 : dec_reg_size(r->type) / 4 * (r->vec ? r->vec : 1);
}

/* A GPU's compiler computes these again where they are needed, or takes them from the constant
   bank: parameters of a kernel, constants, addresses of variables, and sums of these. */
static bool is_cheap(const struct liveness *v, const struct sim_instr *in) {
    const bool param = v->f->is_entry && !strcmp(in->op, "ld") && in->nmods &&
            !strcmp(in->mods[0], "param");
    if (!strcmp(in->op, "add") && in->n == 3 && in->opd[2].kind == SIM_O_IMM) return true;
    if (param || !strcmp(in->op, "mov") || !strcmp(in->op, "cvta") || !strcmp(in->op, "add")) {
        for (unsigned k = 1; k < in->n && !param; k++) {
            const struct sim_operand *o = &in->opd[k];
            if (o->kind == SIM_O_IMM || o->kind == SIM_O_SYM) continue;
            if (o->kind != SIM_O_REG || v->cheap[o->reg] != CHEAP) return false;
        }
        return in->opd[0].kind == SIM_O_REG || in->opd[0].kind == SIM_O_VEC;
    }
    return false;
}

static void see_written(struct liveness *v, uint32_t at, uint32_t reg, bool written, bool sure) {
    (void)sure;
    if (!written) return;
    v->cheap[reg] = v->cheap[reg] == UNSEEN && is_cheap(v, &v->f->instrs[at]) ? CHEAP : COSTLY;
}

static void see_live(struct liveness *v, uint32_t at, uint32_t reg, bool written, bool sure) {
    const uint64_t bit = 1ull << (reg % 64), was = v->live[reg / 64] & bit;
    const uint32_t words = words_of(v, reg);
    (void)at;
    /* never read, but written */
    if (written && !was && v->now + words > v->most) v->most = v->now + words;
    if (written && was && sure && v->f->regs[reg].vec <= 1) {
        v->live[reg / 64] &= ~bit;
        v->now -= words;
    } else if (!written && !was) {
        v->live[reg / 64] |= bit;
        v->now += words;
    }
    if (v->now > v->most) v->most = v->now;
}

/* The most words that are live at once, backwards through each block. */
static uint32_t pressure(struct liveness *v) {
    v->live = v->def + (size_t)v->nblocks * v->words; /* where live_out was computed */
    for (uint32_t k = 0; k < v->f->ninstrs; k++) visit_instr(v, k, true, see_written);
    for (uint32_t b = 0; b < v->nblocks; b++) {
        live_out(v, b, v->live);
        v->now = 0;
        for (uint32_t w = 0; w < v->words; w++)
            for (uint64_t r = v->live[w]; r; r &= r - 1)
                v->now += words_of(v, 64 * w + (uint32_t)__builtin_ctzll(r));
        if (v->now > v->most) v->most = v->now;
        for (uint32_t k = v->blocks[b].end; k-- > v->blocks[b].first;) {
            visit_instr(v, k, true, see_live);
            visit_instr(v, k, false, see_live);
        }
    }
    return v->most;
}

static int by_start(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static unsigned class_of(const struct sim_reg *r) {
    const unsigned size = dec_reg_size(r->type);
    return size == 0 ? 0 : size == 4 ? 1 : 2;
}

/* adjacent ones: of a vector, or the halves of 128 bits */
static unsigned places_of(const struct sim_reg *r) {
    return (r->vec ? r->vec : 1u) * (dec_reg_size(r->type) == 16 ? 2 : 1);
}

/* The least number of a heap is at[0]. */
struct heap {
    uint64_t *at;
    uint32_t n;
};
static void heap_add(struct heap *h, uint64_t value) {
    uint32_t i = h->n++;
    for (; i && h->at[(i - 1) / 2] > value; i = (i - 1) / 2) h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = value;
}
static uint64_t heap_take(struct heap *h) {
    const uint64_t least = h->at[0], last = h->at[--h->n];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->at[child + 1] < h->at[child]) child++;
        if (h->at[child] >= last) break;
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    return least;
}

/* In the order of the starts: the place of a register that has ended is free again; the lowest one
   is taken. `room`: for all registers, six times. */
static void share(
        struct liveness *v, uint64_t *order, uint32_t *number, uint32_t count[3], uint64_t *room) {
    const struct sim_func *f = v->f;
    const uint32_t stride = f->nregs + 1;
    struct heap used[3], unused[3]; /* of each class: until << 32 | place, place */
    for (unsigned c = 0; c < 3; c++) {
        used[c] = (struct heap){ room + 2 * c * (size_t)stride, 0 };
        unused[c] = (struct heap){ room + (2 * c + 1) * (size_t)stride, 0 };
    }
    for (uint32_t k = 0; k < f->nregs; k++) order[k] = (uint64_t)v->lo[k] << 32 | k;
    qsort(order, f->nregs, sizeof *order, by_start);
    for (uint32_t k = 0; k < f->nregs; k++) {
        const uint32_t r = (uint32_t)order[k];
        const unsigned c = class_of(&f->regs[r]);
        if (v->hi[r] == 0 || places_of(&f->regs[r]) > 1) continue;
        while (used[c].n && used[c].at[0] >> 32 <= v->lo[r])
            heap_add(&unused[c], (uint32_t)heap_take(&used[c]));
        number[r] = unused[c].n ? (uint32_t)heap_take(&unused[c]) : count[c]++;
        heap_add(&used[c], (uint64_t)v->hi[r] << 32 | number[r]);
    }
}

uint32_t dec_allocate(const struct sim_func *f, uint32_t *number, uint32_t count[3]) {
    struct liveness v = { .f = f };
    v.lo = malloc((f->nregs + 1) * sizeof *v.lo);
    v.hi = calloc(f->nregs + 1, sizeof *v.hi);
    uint64_t *order = malloc((f->nregs + 1) * sizeof *order);
    uint64_t *room = malloc(6 * ((size_t)f->nregs + 1) * sizeof *room);
    v.cheap = calloc(f->nregs + 1, 1);
    for (unsigned k = 0; v.lo && k < f->nregs; k++) v.lo[k] = ~0u;
    const bool shared = v.lo && v.hi && v.cheap && order && room && analyse(&v);
    if (shared) share(&v, order, number, count, room);
    /* registers that do not share: vectors, 128 bits; all of them if sharing failed */
    for (unsigned k = 0; k < f->nregs; k++) {
        const unsigned c = class_of(&f->regs[k]), places = places_of(&f->regs[k]);
        if (shared && places == 1) continue;
        number[k] = count[c];
        count[c] += places;
    }
    const uint32_t live = shared ? pressure(&v) : count[1] + 2 * count[2];
    free(v.blocks);
    free(v.in);
    free(v.lo);
    free(v.hi);
    free(order);
    free(room);
    free(v.cheap);
    return live;
}
