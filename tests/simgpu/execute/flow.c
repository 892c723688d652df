/* flow.c - branches, calls, returns, exits, and reads of registers that change: the clock, the
   active lanes. */
#include "../base/lanes.h"
#include "execute.h"
#include <time.h>

/* The whole group goes to target. It need not be chosen again while it is still the lowest, or has
   not reached the next merge point. */
static inline void jump(struct sim_warp *w, const struct sim_insn *from, uint32_t target) {
    const struct sim_insn *to = w->block->code->insns + target;
    w->ip = to;
    if (to <= from) {
        sim_warp_backward(w);
        if (w->group && w->yielded) {
            sim_warp_place(w, w->group, target);
            sim_warp_moved(w);
        }
    } else if (to >= w->stop) {
        sim_warp_place(w, w->group, target);
        sim_warp_moved(w);
    }
}

SIM_HANDLER(bra) {
    if (m == w->group) {
        jump(w, i, (uint32_t)i->imm);
        return;
    }
    sim_warp_place(w, w->group & ~m, sim_pc(w, w->ip));
    sim_warp_place(w, m, (uint32_t)i->imm);
    /* lanes that left the loop wait for the others: count only those */
    if (w->block->code->insns + i->imm <= i) {
        w->group = m;
        w->ip = w->block->code->insns + i->imm;
        w->diverged = true;
        sim_warp_backward(w);
    }
    sim_warp_moved(w);
}

SIM_HANDLER(brx) {
    const uint32_t *labels = w->block->code->labels + i->imm, n = labels[0];
    const u32 *a = SIM_AT(u32, i->a);
    sim_warp_place(w, w->group & ~m, sim_pc(w, w->ip));
    SIM_EACH_LANE (m) {
        if (a[l] >= n) {
            sim_fault_at(w, i, (int)l, SIM_F_INVALID_PC, "brx.idx index %u of %u targets", a[l], n);
            return;
        }
        w->pc[l] = labels[1 + a[l]];
    }
    sim_warp_moved(w);
}

static void leave(struct sim_warp *w, uint32_t m) {
    w->alive &= ~m;
    /* they check again whether all live lanes have arrived */
    w->parked = 0;
    w->block->live -= (unsigned)__builtin_popcount(m);
    sim_left(w, m);
}

SIM_HANDLER(exit_lanes) {
    (void)i;
    sim_warp_place(w, w->group & ~m, sim_pc(w, w->ip));
    leave(w, m);
    sim_warp_moved(w);
}

/* -- calls. A callee's frame begins after its caller's; a caller that may be re-entered saves its
   registers. */

/* False: there is no memory, or it takes too much. */
static bool save_registers(struct sim_warp *w, int l, const struct sim_code_func *f) {
    if (!w->saved && !(w->saved = calloc(32, sizeof *w->saved))) return false;
    struct sim_saved *s = &w->saved[l];
    const size_t size = f->npreds + 4u * f->n32 + 8u * f->n64;
    if (s->n + size > SIM_SAVED_MAX) return false;
    if (!s->bytes || s->n + size > s->cap) {
        const size_t cap = 2 * (s->n + size) + 64;
        unsigned char *p = realloc(s->bytes, cap);
        if (!p) return false;
        s->bytes = p;
        s->cap = cap;
    }
    unsigned char *p = s->bytes + s->n;
    for (uint32_t k = 0; k < f->npreds; k++)
        *p++ = ((const u32 *)(const void *)(w->base[0] + f->preds_at))[k] >> l & 1;
    for (uint32_t k = 0; k < f->n32; k++, p += 4)
        memcpy(p, w->base[0] + f->r32_at + 128u * k + 4 * l, 4);
    for (uint32_t k = 0; k < f->n64; k++, p += 8)
        memcpy(p, w->base[0] + f->r64_at + 256u * k + 8 * l, 8);
    s->n += size;
    return true;
}

static void restore_registers(struct sim_warp *w, int l, const struct sim_code_func *f) {
    struct sim_saved *s = &w->saved[l];
    s->n -= f->npreds + 4u * f->n32 + 8u * f->n64;
    const unsigned char *p = s->bytes + s->n;
    for (uint32_t k = 0; k < f->npreds; k++) {
        u32 *pred = (u32 *)(void *)(w->base[0] + f->preds_at) + k;
        *pred = (*pred & ~(1u << l)) | (u32)*p++ << l;
    }
    for (uint32_t k = 0; k < f->n32; k++, p += 4)
        memcpy(w->base[0] + f->r32_at + 128u * k + 4 * l, p, 4);
    for (uint32_t k = 0; k < f->n64; k++, p += 8)
        memcpy(w->base[0] + f->r64_at + 256u * k + 8 * l, p, 8);
}

/* d: the address, a: bytes, both of BITS; b: the bytes that each lane uses of the stack, which ends
   at imm;
   c: alignment */
#define ALLOCA(BITS) \
    SIM_HANDLER(alloca_##BITS) { \
        SIM_EACH_LANE (m) { \
            u32 *used = SIM_AT(u32, i->b) + l; \
            const u64 top = (u64)i->imm, size = SIM_AT(u##BITS, i->a)[l], \
                      left = SIM_ALLOCA_MAX - *used; \
            const u64 at = size > left ? 0 : (top - *used - size) & -SIM_AT(u64, i->c)[l]; \
            if (at < top - SIM_ALLOCA_MAX || !sim_local_grow(w, (uint32_t)top)) { \
                sim_fault_at(w, i, (int)l, SIM_F_STACK, "stack overflow: alloca of %llu bytes", \
                        (unsigned long long)size); \
                return; \
            } \
            SIM_AT(u##BITS, i->d)[l] = (u##BITS)at; \
            *used = (u32)(top - at); \
        } \
    }
ALLOCA(32)
ALLOCA(64)

/* One more call of lane l, whose frames then end at `end`. False: there is no memory. */
static bool deeper(struct sim_warp *w, int l, uint32_t end) {
    if (w->depth[l] == w->max_depth) {
        const uint32_t more = w->max_depth ? 2 * w->max_depth : 8;
        struct sim_return(*p)[32] = realloc(w->returns, more * sizeof *p);
        if (!p) return false;
        w->returns = p;
        w->max_depth = more;
    }
    return sim_local_grow(w, end);
}

static bool enter(struct sim_warp *w, const struct sim_insn *i, int l,
        const struct sim_callsite *site, const struct sim_code_func *f) {
    const struct sim_code *code = w->block->code;
    u32 *fp = (u32 *)(void *)(w->base[0] + code->fp);
    const uint32_t caller = fp[l], callee = caller + site->frame;
    uint32_t end = callee + f->frame;
    if (end < callee + f->params_at + site->args_end) end = callee + f->params_at + site->args_end;
    if (end < callee + f->rets_at + site->rets_end) end = callee + f->rets_at + site->rets_end;
    const uint32_t used = f->stack + (w->depth[l] ? w->returns[w->depth[l] - 1][l].stack : 0);
    if (end > SIM_LOCAL_MAX || used > code->info.stack_bytes + w->block->grid->stack) {
        sim_fault_at(w, i, l, SIM_F_ILLEGAL_ADDRESS,
                "stack overflow: %u calls deep, %u bytes, CU_LIMIT_STACK_SIZE is %u",
                w->depth[l] + 1, used, w->block->grid->stack);
        return false;
    }
    if (!deeper(w, l, end) || (site->recursive && !save_registers(w, l, &code->funcs[i->func]))) {
        sim_fault_at(w, i, l, SIM_F_LAUNCH_FAILED, "no host memory for a stack: %u calls deep",
                w->depth[l]);
        return false;
    }
    unsigned char *stack = w->local + (size_t)l * w->local_stride;
    for (unsigned k = 0; k < site->nargs; k++) {
        const struct sim_pass *a = &site->args[k];
        const void *from = a->reg ? sim_operand_at(w, a->from) + (size_t)l * a->reg
                                  : stack + caller + a->from;
        memcpy(stack + callee + f->params_at + a->to, from, a->size);
    }
    w->returns[w->depth[l]++][l] = (struct sim_return){ sim_pc(w, i) + 1, caller, used };
    fp[l] = callee;
    w->pc[l] = f->first;
    return true;
}

SIM_HANDLER(call_direct) {
    const struct sim_callsite *site = &w->block->code->calls[i->imm];
    sim_warp_place(w, w->group & ~m, sim_pc(w, w->ip));
    SIM_EACH_LANE (m)
        if (!enter(w, i, (int)l, site, site->callee)) return;
    sim_warp_moved(w);
}

SIM_HANDLER(call_indirect) {
    const struct sim_code *code = w->block->code;
    const struct sim_callsite *site = &code->calls[i->imm];
    const u64 *a = SIM_AT(u64, i->a);
    sim_warp_place(w, w->group & ~m, sim_pc(w, w->ip));
    SIM_EACH_LANE (m) {
        uint32_t f;
        if ((a[l] & 15) || a[l] <= SIM_WINDOW_CODE ||
                !sim_map_get(&code->func_of_id, (a[l] - SIM_WINDOW_CODE) / 16, &f)) {
            sim_fault_at(w, i, (int)l, SIM_F_INVALID_PC, "call of 0x%llx, which is not a function",
                    (unsigned long long)a[l]);
            return;
        }
        if (!enter(w, i, (int)l, site, &code->funcs[f])) return;
    }
    sim_warp_moved(w);
}

SIM_HANDLER(ret) {
    const struct sim_code *code = w->block->code;
    u32 *fp = (u32 *)(void *)(w->base[0] + code->fp);
    uint32_t gone = 0;
    sim_warp_place(w, w->group & ~m, sim_pc(w, w->ip));
    SIM_EACH_LANE (m) {
        if (!w->depth[l]) {
            gone |= 1u << l;
            continue;
        }
        const struct sim_return r = w->returns[--w->depth[l]][l];
        const struct sim_insn *call = &code->insns[r.pc - 1];
        const struct sim_callsite *site = &code->calls[call->imm];
        if (site->recursive) restore_registers(w, (int)l, &code->funcs[call->func]);
        unsigned char *stack = w->local + (size_t)l * w->local_stride;
        for (unsigned k = 0; k < site->nrets; k++) {
            const struct sim_pass *b = &site->rets[k];
            const unsigned char *from = stack + fp[l] + code->funcs[i->func].rets_at + b->from;
            if (!b->reg) {
                memcpy(stack + r.fp + b->to, from, b->size);
                continue;
            }
            unsigned char *to = sim_operand_at(w, b->to) + (size_t)l * b->reg;
            memset(to, 0, b->reg);
            memcpy(to, from, b->size);
        }
        fp[l] = r.fp;
        w->pc[l] = r.pc;
    }
    if (gone) leave(w, gone);
    sim_warp_moved(w);
}

/* the arguments of a system function, each in one cell of 64 bits or two */
static void system_arguments(
        struct sim_warp *w, const struct sim_callsite *site, int l, uint64_t *out, unsigned cells) {
    const u32 *fp = (const u32 *)(const void *)(w->base[0] + w->block->code->fp);
    memset(out, 0, cells * sizeof *out);
    for (unsigned k = 0, at = 0; k < site->nargs; k++) {
        const struct sim_pass *a = &site->args[k];
        memcpy(&out[at],
                a->reg ? sim_operand_at(w, a->from) + (size_t)l * a->reg
                       : w->local + (size_t)l * w->local_stride + fp[l] + a->from,
                a->size);
        at += (a->size + 7) / 8;
    }
}

static void system_result(struct sim_warp *w, const struct sim_callsite *site, int l,
        const void *value, size_t size) {
    const struct sim_pass *r = &site->rets[0];
    const u32 *fp = (const u32 *)(const void *)(w->base[0] + w->block->code->fp);
    if (site->nrets)
        memcpy(r->reg ? sim_operand_at(w, r->to) + (size_t)l * r->reg
                      : w->local + (size_t)l * w->local_stride + fp[l] + r->to,
                value, size);
}

SIM_HANDLER(call_vprintf) {
    const struct sim_callsite *site = &w->block->code->calls[i->imm];
    SIM_EACH_LANE (m) {
        uint64_t arg[5];
        system_arguments(w, site, (int)l, arg, 5);
        const int32_t n = sim_vprintf(w, i, (int)l, arg[0], arg[1]);
        if (n < 0) return;
        system_result(w, site, (int)l, &n, 4);
    }
}

SIM_HANDLER(call_malloc) {
    const struct sim_callsite *site = &w->block->code->calls[i->imm];
    SIM_EACH_LANE (m) {
        uint64_t arg[5];
        system_arguments(w, site, (int)l, arg, 5);
        const uint64_t p = sim_heap_take(w->block->grid, arg[0]);
        system_result(w, site, (int)l, &p, 8);
    }
}

SIM_HANDLER(call_free) {
    SIM_EACH_LANE (m) {
        uint64_t arg[5];
        system_arguments(w, &w->block->code->calls[i->imm], (int)l, arg, 5);
        if (sim_heap_give(w->block->grid, arg[0])) continue;
        sim_fault_at(w, i, (int)l, SIM_F_LAUNCH_FAILED,
                "free of 0x%llx, which malloc did not return, or which is already free",
                (unsigned long long)arg[0]);
        return;
    }
}

SIM_HANDLER(call_assertfail) {
    SIM_EACH_LANE (m) {
        uint64_t arg[5];
        system_arguments(w, &w->block->code->calls[i->imm], (int)l, arg, 5);
        sim_assertfail(w, i, (int)l, arg);
    }
}

/* Lanes that must wait execute the call again. */
SIM_HANDLER(call_nested) {
    const struct sim_callsite *site = &w->block->code->calls[i->imm];
    uint32_t waits = 0;
    SIM_EACH_LANE (m) {
        uint64_t arg[SIM_NESTED_CELLS], result = 0;
        system_arguments(w, site, (int)l, arg, SIM_NESTED_CELLS);
        if (!sim_nested_run(w, i, (int)l, i->flags >> SIM_I_USER >> 4, arg, &result))
            waits |= 1u << l;
        else if (site->nrets) system_result(w, site, (int)l, &result, site->rets[0].size);
        if (w->block->faulted) return;
    }
    if (!waits) return;
    sim_warp_yield(w, true);
    sim_warp_place(w, waits, sim_pc(w, i));
}

SIM_HANDLER(trap) { sim_fault_at(w, i, __builtin_ctz(m), SIM_F_LAUNCH_FAILED, "trap"); }

SIM_HANDLER(fence) {
    (void)w;
    (void)i;
    (void)m;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

SIM_HANDLER(nothing) {
    (void)w;
    (void)i;
    (void)m;
}

SIM_HANDLER(sleep_lanes) {
    (void)i;
    (void)m;
    w->spin = true; /* a loop that only sleeps does no work */
    sim_warp_yield(w, true);
}

SIM_HANDLER(activemask) {
    u32 *d = SIM_AT(u32, i->d);
    SIM_LANES
        d[l] = SIM_ON(m) ? m : d[l];
}

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#define CLOCK(NAME, D, V) \
    SIM_HANDLER(NAME) { \
        const D v = (D)(V); \
        D *d = SIM_AT(D, i->d); \
        SIM_LANES \
            d[l] = SIM_ON(m) ? v : d[l]; \
    }
CLOCK(clock_32, u32, now(CLOCK_MONOTONIC))
CLOCK(clock_hi, u32, now(CLOCK_MONOTONIC) >> 32)
CLOCK(clock_64, u64, now(CLOCK_MONOTONIC))
CLOCK(globaltimer_64, u64, now(CLOCK_REALTIME))
CLOCK(globaltimer_lo, u32, now(CLOCK_REALTIME))
CLOCK(globaltimer_hi, u32, now(CLOCK_REALTIME) >> 32)

#define OP(n) SIM_UNTYPED(n)
const struct sim_operation sim_flow_table[] = { OP(bra), OP(brx), OP(exit_lanes), OP(call_direct),
    OP(call_indirect), OP(ret), OP(call_vprintf), OP(call_assertfail), OP(call_malloc),
    OP(call_free), OP(call_nested), OP(trap), OP(fence), OP(nothing), OP(sleep_lanes),
    OP(alloca_32), OP(alloca_64), OP(activemask), OP(clock_32), OP(clock_hi), OP(clock_64),
    OP(globaltimer_64), OP(globaltimer_lo), OP(globaltimer_hi), SIM_END };
#undef OP
