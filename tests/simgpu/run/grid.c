/* grid.c - blocks: creates them by clusters, runs them for a quantum, frees them.

   All of a block's state is here, none on the worker's stack. Its warps take turns: each runs until
   it waits, spins or has used its slice. The blocks of a cluster take turns, too: all are resident
   together, on one worker at a time. */
#include "run.h"
#include "../execute/execute.h"

#define SLICE 4096   /* warp-instructions of one warp before the next one runs */
#define SHARE 8192u  /* of one block before the next one of its cluster runs */
#define CLEARED 256u /* bytes that are set in the time of a warp-instruction */
#define LINE 64

static size_t rounded(size_t n) { return (n + LINE - 1) / LINE * LINE; }

static void fill32(struct sim_warp *w, uint32_t at, uint32_t v) {
    u32 *r = (u32 *)(void *)(w->base[0] + at);
    if (at)
        for (int l = 0; l < 32; l++) r[l] = v;
}

/* %tid of 32 threads from the linear index t on, without a division per thread */
static void fill_tid(struct sim_warp *w, uint32_t t) {
    const uint32_t *s = w->block->code->sreg, *n = w->block->grid->block;
    uint32_t id[3] = { t % n[0], t / n[0] % n[1], t / n[0] / n[1] };
    u32 *r[3];
    for (int k = 0; k < 3; k++)
        r[k] = s[SIM_S_TID_X + k] ? (u32 *)(void *)(w->base[0] + s[SIM_S_TID_X + k]) : NULL;
    for (int l = 0; l < 32; l++) {
        for (int k = 0; k < 3; k++)
            if (r[k]) r[k][l] = id[k];
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
        if (s[id])
            for (uint32_t l = 0; l < 32; l++) {
                const uint32_t bit = 1u << l;
                r[l] = id == SIM_S_LANEID         ? l
                        : id == SIM_S_LANEMASK_EQ ? bit
                        : id == SIM_S_LANEMASK_LE ? bit | (bit - 1)
                        : id == SIM_S_LANEMASK_LT ? bit - 1
                        : id == SIM_S_LANEMASK_GE ? ~(bit - 1)
                                                  : ~(bit | (bit - 1));
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
    fill32(w, s[SIM_S_NSMID], SIM_SMS);
    fill32(w, s[SIM_S_DYNAMIC_SMEM], g->dynamic_shared);
    fill32(w, s[SIM_S_TOTAL_SMEM], b->shared_bytes);
    fill32(w, s[SIM_S_ENVREG1], (uint32_t)(g->workspace >> 32));
    fill32(w, s[SIM_S_ENVREG2], (uint32_t)g->workspace);
    if (s[SIM_S_GRIDID])
        for (int l = 0; l < 32; l++) ((u64 *)(void *)(regs + s[SIM_S_GRIDID]))[l] = g->id;
}

static void fill_clusters(struct sim_warp *w) {
    const struct sim_block *b = w->block;
    const struct sim_grid *g = b->grid;
    const uint32_t *s = b->code->sreg, rank = b->shared_at >> SIM_RANK_SHIFT;
    for (int k = 0; k < 3; k++) {
        fill32(w, s[SIM_S_CLUSTERID_X + k], b->ctaid[k] / g->cluster[k]);
        fill32(w, s[SIM_S_NCLUSTERID_X + k], g->grid[k] / g->cluster[k]);
        fill32(w, s[SIM_S_CLUSTER_CTAID_X + k], b->ctaid[k] % g->cluster[k]);
        fill32(w, s[SIM_S_CLUSTER_NCTAID_X + k], g->cluster[k]);
    }
    fill32(w, s[SIM_S_CLUSTER_CTARANK], rank);
    fill32(w, s[SIM_S_CLUSTER_NCTARANK], g->cluster_blocks);
    fill32(w, s[SIM_S_SHARED_RANK], rank << SIM_RANK_SHIFT);
    if (s[SIM_S_IS_EXPLICIT_CLUSTER])
        *(u32 *)(void *)(w->base[0] + s[SIM_S_IS_EXPLICIT_CLUSTER]) = g->explicit_cluster ? ~0u : 0;
}

/* The blocks of a grid are dealt out to the multiprocessors that it may use. */
static uint32_t multiprocessor(const struct sim_block *b) {
    const struct sim_grid *g = b->grid;
    const uint32_t index = b->ctaid[0] + g->grid[0] * (b->ctaid[1] + g->grid[1] * b->ctaid[2]);
    uint64_t sms = g->sms;
    for (uint32_t left = index % (uint32_t)__builtin_popcountll(sms); left; left--) sms &= sms - 1;
    return (uint32_t)__builtin_ctzll(sms);
}

static void start_warp(struct sim_warp *w) {
    const struct sim_block *b = w->block;
    const struct sim_code *code = b->code;
    const uint32_t *s = code->sreg, left = b->threads - 32 * w->index;
    *w = (struct sim_warp){ .base = { w->base[0], w->base[1] },
        .block = w->block,
        .index = w->index,
        .alive = left >= 32 ? ~0u : (1u << left) - 1,
        .local = w->local,
        .local_stride = w->local_stride,
        .returns = w->returns,
        .max_depth = w->max_depth,
        .saved = w->saved };
    memset(w->base[0] + code->vars_at, 0, code->vars_end - code->vars_at);
    if (w->local) memset(w->local, 0, (size_t)32 * w->local_stride);
    for (int l = 0; w->saved && l < 32; l++) w->saved[l].n = 0;
    fill32(w, code->fp, SIM_LOCAL_BASE);
    for (int k = 0; k < 3; k++) fill32(w, s[SIM_S_CTAID_X + k], b->ctaid[k]);
    if (s[SIM_S_SMID]) fill32(w, s[SIM_S_SMID], multiprocessor(b));
    if (code->knows_clusters) fill_clusters(w);
    sim_warp_place(w, ~0u, code->funcs[0].first);
}

static void start_block(struct sim_block *b) {
    b->live = b->threads;
    b->turn = b->stream = 0;
    if (b->own) memset(b->own, 0, b->threads * sizeof *b->own);
    memset(b->shared, 0xcd, b->shared_bytes); /* no kernel may rely on zeros */
    for (unsigned k = 0; k < SIM_BARS; k++) b->bars[k] = (struct sim_bar){ .all = 1 };
    for (unsigned k = 0; k < b->nwarps; k++) start_warp(&b->warps[k]);
}

/* Bytes that start_block has set. */
static uint64_t cleared(const struct sim_block *b) {
    uint64_t n = b->shared_bytes + (uint64_t)b->nwarps * (b->code->vars_end - b->code->vars_at);
    for (unsigned k = 0; k < b->nwarps; k++) n += 32ull * b->warps[k].local_stride;
    return n;
}

/* Zeroed memory that shares no cache line with other memory: false sharing between two workers
   halves their speed. */
static void *own_lines(size_t bytes) {
    void *p = NULL;
    return posix_memalign(&p, LINE, rounded(bytes)) ? NULL : memset(p, 0, bytes);
}

static void free_block(struct sim_block *b) {
    if (!b) return;
    for (unsigned k = 0; k < b->nwarps; k++) {
        struct sim_warp *w = &b->warps[k];
        free(w->local);
        free(w->returns);
        for (int l = 0; w->saved && l < 32; l++) free(w->saved[l].bytes);
        free(w->saved);
    }
    free(b->delayed);
    free(b->own);
    free(b->memory);
    free(b);
}

static struct sim_block *make_block(
        struct sim_grid *grid, struct sim_cluster *cluster, unsigned rank) {
    const struct sim_code *code = grid->code;
    const unsigned threads = grid->block[0] * grid->block[1] * grid->block[2],
                   nwarps = (threads + 31) / 32;
    struct sim_block *b = own_lines(sizeof *b + nwarps * sizeof b->warps[0]);
    if (!b) return NULL;
    b->grid = grid;
    b->cluster = cluster;
    b->code = code;
    b->threads = threads;
    b->nwarps = nwarps;
    b->in_cluster[0] = rank % grid->cluster[0];
    b->in_cluster[1] = rank / grid->cluster[0] % grid->cluster[1];
    b->in_cluster[2] = rank / grid->cluster[0] / grid->cluster[1];
    b->shared_bytes = code->info.static_shared;
    b->shared_at = SIM_SHARED_BASE | (code->knows_clusters ? rank << SIM_RANK_SHIFT : 0);
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
        if (code->funcs[0].frame)
            ok &= sim_local_grow(&b->warps[k], SIM_LOCAL_BASE + code->funcs[0].frame);
    }
    if (!ok) {
        free_block(b);
        return NULL;
    }
    return b;
}

static struct sim_cluster *make_cluster(struct sim_grid *grid) {
    struct sim_cluster *c = own_lines(sizeof *c + grid->cluster_blocks * sizeof c->blocks[0]);
    if (!c) return NULL;
    c->nblocks = grid->cluster_blocks;
    for (unsigned k = 0; k < c->nblocks; k++)
        if (!(c->blocks[k] = make_block(grid, c, k))) {
            sim_cluster_free(c);
            return NULL;
        }
    return c;
}

/* index: of the cluster in the grid */
static void place_cluster(struct sim_cluster *c, uint64_t index) {
    const struct sim_grid *g = c->blocks[0]->grid;
    const uint32_t *n = g->clusters,
                   at[3] = { (uint32_t)(index % n[0]), (uint32_t)(index / n[0] % n[1]),
                       (uint32_t)(index / n[0] / n[1]) };
    for (unsigned k = 0; k < c->nblocks; k++) {
        struct sim_block *b = c->blocks[k];
        for (int j = 0; j < 3; j++) b->ctaid[j] = at[j] * g->cluster[j] + b->in_cluster[j];
    }
}

struct sim_cluster *sim_cluster_new(
        struct sim_grid *grid, uint64_t index, struct sim_cluster *used, uint64_t *left) {
    struct sim_cluster *c = used ? used : make_cluster(grid);
    if (!c) return NULL;
    c->turn = 0;
    c->arrived = c->phase = 0;
    place_cluster(c, index);
    for (unsigned k = 0; k < c->nblocks; k++) {
        start_block(c->blocks[k]);
        const uint64_t cost = cleared(c->blocks[k]) / CLEARED;
        *left -= *left < cost ? *left : cost;
    }
    if (!sim_settings.schedule || sim_schedule_start(c, index)) return c;
    sim_cluster_free(c);
    return NULL;
}

struct sim_cluster *sim_cluster_unused(struct sim_grid *grid) {
    struct sim_cluster *c = grid->used;
    if (c) grid->used = c->next;
    return c;
}

void sim_cluster_keep(struct sim_cluster *c) {
    struct sim_grid *grid = c->blocks[0]->grid;
    c->next = grid->used;
    grid->used = c;
}

void sim_cluster_free(struct sim_cluster *c) {
    if (!c) return;
    for (unsigned k = 0; k < c->nblocks; k++) free_block(c->blocks[k]);
    free(c);
}

static bool stuck(const struct sim_block *b) {
    for (unsigned k = 0; k < b->nwarps; k++)
        if (b->warps[k].alive & ~b->warps[k].parked & ~b->warps[k].barred) return false;
    return true;
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
            if (++waiting == b->nwarps) return SIM_BLOCK_STUCK;
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

/* Nothing in the cluster can run. The report names a block that not only waits for the others, if
   there is one. */
static enum sim_block_status deadlock(struct sim_cluster *c) {
    struct sim_block *at = NULL;
    for (unsigned k = 0; k < c->nblocks; k++)
        for (unsigned j = 0; j < c->blocks[k]->nwarps; j++) {
            const struct sim_warp *w = &c->blocks[k]->warps[j];
            if (w->alive && (!at || w->alive & ~w->cluster_wait)) at = c->blocks[k];
        }
    sim_block_deadlock(at);
    return SIM_BLOCK_FAULT;
}

static enum sim_block_status run_share(struct sim_block *b, uint64_t *left) {
    if (sim_settings.schedule) return sim_schedule_block(b);
    uint64_t share = *left < SHARE ? *left : SHARE;
    *left -= share;
    const enum sim_block_status status = run(b, &share);
    *left += share;
    return status;
}

/* Each block in turn, until a whole round of them only spins or waits. The adversary makes one
   round. */
static enum sim_block_status run_all(struct sim_cluster *c, uint64_t *left) {
    bool worked = false;
    do {
        bool busy = false, idle = false, live = false, able = false;
        for (unsigned k = 0; k < c->nblocks && *left; k++, c->turn = (c->turn + 1) % c->nblocks) {
            if (!c->blocks[c->turn]->live) continue;
            const enum sim_block_status status = run_share(c->blocks[c->turn], left);
            if (status == SIM_BLOCK_FAULT) return status;
            idle |= status == SIM_BLOCK_IDLE;
            busy |= status != SIM_BLOCK_IDLE && status != SIM_BLOCK_STUCK;
        }
        for (unsigned k = 0; k < c->nblocks; k++) {
            live |= c->blocks[k]->live != 0;
            able |= c->blocks[k]->live && !stuck(c->blocks[k]);
        }
        if (!live) return SIM_BLOCK_DONE;
        if (!able) return deadlock(c);
        worked |= busy;
        if (idle && !busy) return worked ? SIM_BLOCK_WAITS : SIM_BLOCK_IDLE;
    } while (*left && !sim_settings.schedule);
    return SIM_BLOCK_MORE;
}

enum sim_block_status sim_cluster_run(struct sim_cluster *c, uint64_t *left) {
    if (__atomic_load_n(&c->blocks[0]->grid->fault, __ATOMIC_ACQUIRE)) return SIM_BLOCK_FAULT;
    if (sim_settings.schedule) {
        c->turn = sim_schedule_first(c);
        const enum sim_block_status status = run_all(c, left);
        *left = 0;
        return status;
    }
    if (c->nblocks > 1) return run_all(c, left);
    const enum sim_block_status status = run(c->blocks[0], left);
    return status == SIM_BLOCK_STUCK ? deadlock(c) : status;
}
