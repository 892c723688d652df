/* fault.c - the text of a grid's first fault: what stopped the kernel, and where. Any code that
   executes part of a kernel may raise one, so this file calls no other. */
#include "code.h"
#include <stdarg.h>

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;

void sim_grid_fault(struct sim_grid *g, int fault, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&fault_lock);
    if (!__atomic_load_n(&g->fault, __ATOMIC_RELAXED)) {
        vsnprintf(g->fault_text, sizeof g->fault_text, format, args);
        __atomic_store_n(&g->fault, fault, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&fault_lock);
    va_end(args);
}

void sim_thread_of(const struct sim_warp *w, int lane, uint32_t out[3]) {
    const uint32_t t = 32 * w->index + (uint32_t)lane, *n = w->block->grid->block;
    out[0] = t % n[0];
    out[1] = t / n[0] % n[1];
    out[2] = t / n[0] / n[1];
}

void sim_fault_at(struct sim_warp *w, const struct sim_insn *i, int lane, int fault,
        const char *format, ...) {
    struct sim_block *b = w->block;
    char text[200];
    uint32_t t[3];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sim_thread_of(w, lane, t);
    sim_grid_fault(b->grid, fault,
            "%s at line %u of kernel %.80s, block (%u,%u,%u) thread (%u,%u,%u)", text, i->line,
            b->grid->kernel_name, b->ctaid[0], b->ctaid[1], b->ctaid[2], t[0], t[1], t[2]);
    b->faulted = true;
    sim_warp_moved(w);
}

/* Where the threads are: a few groups of lanes, each at the same instruction. */
static const char *whereabouts(const struct sim_block *b, char *text, size_t size) {
    int n = 0, groups = 0;
    text[0] = 0;
    for (unsigned k = 0; k < b->nwarps && groups < 3; k++) {
        const struct sim_warp *w = &b->warps[k];
        for (uint32_t rest = w->alive, same; rest && groups < 3; rest &= ~same, groups++) {
            const int l = __builtin_ctz(rest);
            uint32_t t[3];
            same = 0;
            for (int j = 0; j < 32; j++)
                if (rest >> j & 1 && w->pc[j] == w->pc[l]) same |= 1u << j;
            sim_thread_of(w, l, t);
            n += snprintf(text + n, size - (size_t)n,
                    "%s%d thread%s of warp %u from (%u,%u,%u) on %s at line %u", n ? "; " : "",
                    __builtin_popcount(same), __builtin_popcount(same) == 1 ? "" : "s", k, t[0],
                    t[1], t[2],
                    w->cluster_wait >> l & 1     ? "wait for the cluster"
                            : w->barred >> l & 1 ? "wait for the block"
                            : w->parked >> l & 1 ? "wait for lanes of their warp"
                                                 : "run",
                    b->code->insns[w->pc[l]].line);
            if (n >= (int)size) n = (int)size - 1;
        }
    }
    return text;
}

void sim_block_deadlock(struct sim_block *b) {
    char text[300];
    sim_grid_fault(b->grid, SIM_F_TIMEOUT, "deadlock in block (%u,%u,%u) of kernel %.40s: %s",
            b->ctaid[0], b->ctaid[1], b->ctaid[2], b->grid->kernel_name,
            whereabouts(b, text, sizeof text));
    b->faulted = true;
}

void sim_grid_timeout(struct sim_grid *g, const struct sim_cluster *c, double seconds) {
    const uint64_t begun = __atomic_load_n(&g->next_cluster, __ATOMIC_RELAXED);
    char text[200], rest[80] = "", where[240] = "";
    if (begun < g->nclusters)
        snprintf(rest, sizeof rest, ", %llu of its %llu blocks not started",
                (unsigned long long)(g->nclusters - begun) * g->cluster_blocks,
                (unsigned long long)g->nclusters * g->cluster_blocks);
    if (c) {
        const struct sim_block *b = c->blocks[0];
        for (unsigned k = 1; !b->live && k < c->nblocks; k++) b = c->blocks[k];
        snprintf(where, sizeof where, "; block (%u,%u,%u): %s", b->ctaid[0], b->ctaid[1],
                b->ctaid[2], whereabouts(b, text, sizeof text));
    }
    sim_grid_fault(g, SIM_F_TIMEOUT,
            "kernel %.40s was still running after %g s (SIMGPU_TIMEOUT) on device %d%s%s",
            g->kernel_name, seconds, g->device->ordinal, rest, where);
}
