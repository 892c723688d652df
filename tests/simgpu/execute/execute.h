/* execute.h - the map of execute/: operations of one warp.

     alu.c compare.c float.c half.c cvt.c    arithmetic, lane by lane
     ldst.c atom.c                           memory; access.h: the addresses of a whole warp at once
     shuffle.c flow.c sync.c                 cross-lane operations, control flow, barriers
     warp.c                                  which lanes run next, and for how long
     format.c                                printf and assert of kernels
     avx2.c avx2_memory.c                    the lane operations again, for AVX2 and FMA

   Their data structures are in base/code.h. A file of lane operations includes
   lanes.h before this header, so that its #pragma also applies here. */
#ifndef SIM_EXECUTE_H
#define SIM_EXECUTE_H

#include "../base/code.h"

/* warp.c */
uint64_t sim_warp_run(struct sim_warp *w, uint64_t slice); /* returns warp-instructions executed */
uint32_t sim_warp_candidates(struct sim_warp *w); /* lanes that may run next; 0: none, or
                                                     (w->sleeps) all of them only spun */
void sim_warp_take(struct sim_warp *w, uint32_t pc); /* the lanes at pc become the group */
void sim_warp_backward(struct sim_warp *w);       /* after the group took a backward branch */
void sim_warp_yield(struct sim_warp *w, bool spun); /* the group's slice ends */
/* Thread-instructions executed so far: instructions of the PTX text, times
   the active threads of their warps. Counted with SIMGPU_COUNT=1. */
SIM_EXPORT uint64_t simgpu_thread_instructions(void);

/* sync.c */
void sim_left(struct sim_warp *w, uint32_t m);    /* after lanes have exited: barriers may be complete */

/* format.c: returns the number of arguments, or -1 with the fault raised */
int sim_vprintf(struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t format, uint64_t args);
void sim_assertfail(struct sim_warp *w, const struct sim_insn *i, int lane, const uint64_t arg[5]);
void sim_print(const char *text, size_t n);       /* kernel printf: appends to a process-wide
                                                     FIFO; sim_print_flush writes it to stdout */
void sim_print_flush(void);                       /* called by every synchronizing driver call */

/* Handlers by name: "add_32", "mul_wide_s32" ... lower/ builds the names. Lane operations exist twice (avx2.c). */
struct sim_entry { const char *name; sim_handler *run; };
#define SIM_E(n) { #n, n }
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIM_NO_AVX2)
#define SIM_HAVE_AVX2 1
extern const struct sim_entry *const sim_avx2_tables[];
#endif
extern const struct sim_entry sim_alu_table[], sim_compare_table[], sim_float_table[], sim_half_table[],
    sim_cvt_table[], sim_ldst_table[], sim_atom_table[], sim_shuffle_table[], sim_flow_table[], sim_sync_table[];

#endif
