/* grid.c - blocks: creates them, runs them for a quantum, frees them.

   All of a block's state is here, none on the worker's stack. Its warps take turns: each runs until it waits, spins or
   has used its slice. */
#include "run.h"
#include "../execute/execute.h"

#define SLICE 4096             /* warp-instructions of one warp before the next one runs */
#define LINE 64

static size_t rounded(size_t n) { return (n + LINE - 1) / LINE * LINE; }

static void fill32(struct sim_warp *w, uint32_t at, uint32_t v) {
    u32 *r = (u32 *)(void *)(w->base[0] + at);
    if (at) for (int l = 0; l < 32; l++) r[l] = v;
}

/* %tid of 32 threads from the linear index t on, without a division per thread */
static void fill_tid(struct sim_warp *w, uint32_t t) {
    const uint32_t *s = w->block->code->sreg, *n = w->block->grid->block;
    uint32_t id[3] = { t % n[0], t / n[0] % n[1], t / n[0] / n[1] };
    u32 *r[3];
    for (int k = 0; k < 3; k++) r[k] = s[SIM_S_TID_X + k] ? (u32 *)(void *)(w->base[0] + s[SIM_S_TID_X + k]) : NULL;
    for (int l = 0; l < 32; l++) {
        for (int k = 0; k < 3; k++) if (r[k]) r[k][l] = id[k];
        if (++id[0] == n[0]) {
            id[0] = 0;
            if (++id[1] == n[1]) {
                id[1] = 0;
                id[2]++;
            }
        }
    }
}

static void fill_lanes(struct sim_warp *w, const uint32_t *s) {
    for (unsigned id = SIM_S_LANEID; id <= SIM_S_LANEMASK_GT; id++) {
        u32 *r = (u32 *)(void *)(w->base[0] + s[id]);
        if (s[id]) for (uint32_t l = 0; l < 32; l++) {
            const uint32_t bit = 1u << l;
            r[l] = id == SIM_S_LANEID ? l : id == SIM_S_LANEMASK_EQ ? bit : id == SIM_S_LANEMASK_LE ? bit | (bit - 1) :
                id == SIM_S_LANEMASK_LT ? bit - 1 :
                id == SIM_S_LANEMASK_GE ? ~(bit - 1) : ~(bit | (bit - 1));
        }
    }
}

/* The parts that are the same for all blocks of a grid. */
static void make_warp(struct sim_block *b, unsigned index, unsigned char *regs) {
    struct sim_warp *w = &b->warps[index];
    const struct sim_code *code = b->code;
    const struct sim_grid *g = b->grid;
    const uint32_t *s = code->sreg;
    w->block = b;
    w->index = index;
    w->base[0] = regs;
    w->base[1] = code->consts;
    *(u32 *)(void *)(regs + SIM_TRUE) = ~0u;
    fill_tid(w, 32 * index);
    fill_lanes(w, s);
    for (int k = 0; k < 3; k++) {
        fill32(w, s[SIM_S_NTID_X + k], g->block[k]);
        fill32(w, s[SIM_S_NCTAID_X + k], g->grid[k]);
    }
    fill32(w, s[SIM_S_WARPID], index);
    fill32(w, s[SIM_S_NWARPID], 64);
    fill32(w, s[SIM_S_NSMID], 4);
    fill32(w, s[SIM_S_DYNAMIC_SMEM], g->dynamic_shared);
    fill32(w, s[SIM_S_TOTAL_SMEM], b->shared_bytes);
    fill32(w, s[SIM_S_ENVREG1], (uint32_t)(g->workspace >> 32));
    fill32(w, s[SIM_S_ENVREG2], (uint32_t)g->workspace);
    fill32(w, s[SIM_S_ONE], 1);
    if (s[SIM_S_GRIDID]) for (int l = 0; l < 32; l++) ((u64 *)(void *)(regs + s[SIM_S_GRIDID]))[l] = g->id;
}

static void start_warp(struct sim_warp *w) {
    const struct sim_block *b = w->block;
    const struct sim_code *code = b->code;
    const uint32_t *s = code->sreg, left = b->threads - 32 * w->index;
    *w = (struct sim_warp){ .base = { w->base[0], w->base[1] }, .block = w->block, .index = w->index,
        .alive = left >= 32 ? ~0u : (1u << left) - 1, .local = w->local, .local_stride = w->local_stride,
        .returns = w->returns, .max_depth = w->max_depth, .saved = w->saved };
    memset(w->base[0] + code->vars_at, 0, code->vars_end - code->vars_at);
    if (w->local) memset(w->local, 0, (size_t)32 * w->local_stride);
    for (int l = 0; w->saved && l < 32; l++) w->saved[l].n = 0;
    fill32(w, code->fp, SIM_LOCAL_BASE);
    for (int k = 0; k < 3; k++) fill32(w, s[SIM_S_CTAID_X + k], b->ctaid[k]);
    fill32(w, s[SIM_S_SMID], (b->ctaid[0] + b->grid->grid[0] * (b->ctaid[1] + b->grid->grid[1] * b->ctaid[2])) % 4);
    sim_warp_place(w, ~0u, code->funcs[0].first);
}

static void start_block(struct sim_block *b, uint64_t linear) {
    const uint32_t *n = b->grid->grid;
    b->ctaid[0] = (uint32_t)(linear % n[0]);
    b->ctaid[1] = (uint32_t)(linear / n[0] % n[1]);
    b->ctaid[2] = (uint32_t)(linear / n[0] / n[1]);
    b->live = b->threads;
    b->turn = 0;
    memset(b->shared, 0xcd, b->shared_bytes);                  /* no kernel may rely on zeros */
    for (unsigned k = 0; k < SIM_BARS; k++) b->bars[k] = (struct sim_bar){ .all = 1 };
    for (unsigned k = 0; k < b->nwarps; k++) start_warp(&b->warps[k]);
}

/* Zeroed memory that shares no cache line with other memory: false sharing between two workers halves their speed. */
static void *own_lines(size_t bytes) {
    void *p = NULL;
    return posix_memalign(&p, LINE, rounded(bytes)) ? NULL : memset(p, 0, bytes);
}

static struct sim_block *make_block(struct sim_grid *grid) {
    const struct sim_code *code = grid->code;
    const unsigned threads = grid->block[0] * grid->block[1] * grid->block[2], nwarps = (threads + 31) / 32;
    struct sim_block *b = own_lines(sizeof *b + nwarps * sizeof b->warps[0]);
    if (!b) return NULL;
    b->grid = grid;
    b->code = code;
    b->threads = threads;
    b->nwarps = nwarps;
    b->shared_bytes = code->info.static_shared;
    if (code->info.uses_dynamic_shared || grid->dynamic_shared) {
        const uint32_t align = code->info.shared_align ? code->info.shared_align : 16;
        b->shared_bytes = (b->shared_bytes + align - 1) / align * align + grid->dynamic_shared;
    }
    const size_t regs = rounded(code->regs_bytes);
    unsigned char *p = b->memory = own_lines(nwarps * regs + b->shared_bytes);
    if (!p) {
        free(b);
        return NULL;
    }
    b->shared = p + nwarps * regs;
    bool ok = true;
    for (unsigned k = 0; k < nwarps; k++, p += regs) {
        make_warp(b, k, p);
        if (code->funcs[0].frame) ok &= sim_local_grow(&b->warps[k], SIM_LOCAL_BASE + code->funcs[0].frame);
    }
    if (!ok) {
        sim_block_free(b);
        return NULL;
    }
    return b;
}

struct sim_block *sim_block_new(struct sim_grid *grid, uint64_t linear, struct sim_block *used) {
    struct sim_block *b = used ? used : make_block(grid);
    if (!b) return NULL;
    start_block(b, linear);
    if (!sim_settings.schedule || sim_schedule_start(b, linear)) return b;
    sim_block_free(b);
    return NULL;
}

struct sim_block *sim_block_unused(struct sim_grid *grid) {
    struct sim_block *b = grid->used;
    if (b) grid->used = b->next;
    return b;
}

void sim_block_keep(struct sim_block *b) {
    b->next = b->grid->used;
    b->grid->used = b;
}

void sim_block_free(struct sim_block *b) {
    if (!b) return;
    for (unsigned k = 0; k < b->nwarps; k++) {
        struct sim_warp *w = &b->warps[k];
        free(w->local);
        free(w->returns);
        for (int l = 0; w->saved && l < 32; l++) free(w->saved[l].bytes);
        free(w->saved);
    }
    free(b->delayed);
    free(b->memory);
    free(b);
}

static enum sim_block_status run(struct sim_block *b, uint64_t *left) {
    /* warps in a row that could not run; warps that only spun, since one worked */
    unsigned waiting = 0, idle = 0;
    b->worked = false;
    while (*left) {
        if (!b->live) return SIM_BLOCK_DONE;
        struct sim_warp *w = &b->warps[b->turn];
        b->turn = b->turn + 1 == b->nwarps ? 0 : b->turn + 1;
        if (!(w->alive & ~w->parked & ~w->barred)) {
            if (++waiting == b->nwarps) {
                sim_block_deadlock(b);
                return SIM_BLOCK_FAULT;
            }
            if (waiting + idle >= b->nwarps) return b->worked ? SIM_BLOCK_WAITS : SIM_BLOCK_IDLE;
            continue;
        }
        uint64_t used = sim_warp_run(w, *left < SLICE ? *left : SLICE);
        *left -= used;
        if (b->faulted) return SIM_BLOCK_FAULT;
        waiting = 0;
        if (!w->sleeps) idle = 0;
        else if (++idle >= b->nwarps) return b->worked ? SIM_BLOCK_WAITS : SIM_BLOCK_IDLE;
    }
    return b->live ? SIM_BLOCK_MORE : SIM_BLOCK_DONE;
}

enum sim_block_status sim_block_run(struct sim_block *b, uint64_t *left) {
    if (__atomic_load_n(&b->grid->fault, __ATOMIC_ACQUIRE)) return SIM_BLOCK_FAULT;
    if (!sim_settings.schedule) return run(b, left);
    *left = 0;
    return sim_schedule_block(b);
}
