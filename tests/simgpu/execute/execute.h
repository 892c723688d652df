/* execute.h - the map of execute/: operations of one warp.

     alu.c compare.c float.c half.c cvt.c    arithmetic, lane by lane
     video.c                                 video instructions
     ldst.c atom.c                           memory; access.h: the addresses of a whole warp at once
     sample.h texel.h blocks.c               texels: what a GPU rounds, their formats
     texture.c surface.c                     textures and surfaces
     tensor.c                                copies of tensors; mbarrier.h: what they complete
     shuffle.c flow.c sync.c                 cross-lane operations, control flow, barriers
     products.h matrix.c matrix_memory.c     sums of tensor cores; matrices in registers and memory
     together.h                              how lanes wait for each other
     warp.c                                  which lanes run next, and for how long
     format.c                                printf and assert of kernels
     avx2.c avx2_memory.c                    the lane operations again, for AVX2 and FMA

   Their data structures are in base/code.h. A file of lane operations includes lanes.h before this
   header, so that its #pragma also applies here. */
#ifndef SIM_EXECUTE_H
#define SIM_EXECUTE_H

#include "../base/code.h"

/* warp.c */
uint64_t sim_warp_run(struct sim_warp *w, uint64_t slice); /* returns warp-instructions executed */
/* lanes that may run next; 0: none, or (w->sleeps) all of them only spun */
uint32_t sim_warp_candidates(struct sim_warp *w);
void sim_warp_take(struct sim_warp *w, uint32_t pc); /* the lanes at pc become the group */
void sim_warp_backward(struct sim_warp *w);          /* after the group took a backward branch */
void sim_warp_yield(struct sim_warp *w, bool spun);  /* the group's slice ends */
/* Thread-instructions executed so far: instructions of the PTX text, times the active threads of
   their warps. Counted with SIMGPU_COUNT=1. */
SIM_EXPORT uint64_t simgpu_thread_instructions(void);

/* sync.c */
/* after lanes have exited: barriers may be complete */
void sim_left(struct sim_warp *w, uint32_t m);

/* format.c: returns the number of arguments, or -1 with the fault raised */
int sim_vprintf(
        struct sim_warp *w, const struct sim_insn *i, int lane, uint64_t format, uint64_t args);
void sim_assertfail(struct sim_warp *w, const struct sim_insn *i, int lane, const uint64_t arg[5]);
/* writes what kernels printed to stdout; called by every synchronizing driver call */
void sim_print_flush(void);
extern unsigned sim_print_readers; /* __atomic */ /* threads of the program that wait for work */

/* The handlers, at the end of each file: every operation by its name, its type and its variant. An
   instruction's operation is named by its opcode, the modifiers that are no flags, in the order of
   forms.h, and the first of two types: add.s32 is "add" of S32, shf.l.clamp.b32 "shf_l_clamp" of
   U32, cvt.rn.f32.f64 "cvt_f32" of F64. A .b type counts as unsigned. Lane operations exist twice
   (avx2.c). */
enum sim_variant {
    SIM_PLAIN, /* no flags; of a load or store: one element */
    SIM_FTZ,
    SIM_RZ,    /* .ftz alone, .rz alone; without an entry, SIM_FLAGS */
    SIM_FLAGS, /* the handler reads the flags; of integers: .sat or .relu */
    SIM_V2,
    SIM_V4 /* .v2, and .v4 or half of .v8 */
};
struct sim_operation {
    const char *name;
    enum sim_type type;
    enum sim_variant variant;
    sim_handler *run;
};
#define SIM_OP(name, type, variant, run) \
    { #name, SIM_##type, SIM_##variant, run }
#define SIM_UNTYPED(name) SIM_OP(name, NOTYPE, PLAIN, name)
#define SIM_END \
    { NULL, SIM_NOTYPE, SIM_PLAIN, NULL }
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SIM_NO_AVX2)
#define SIM_HAVE_AVX2 1
extern const struct sim_operation *const sim_avx2_tables[];
#endif
extern const struct sim_operation sim_alu_table[], sim_compare_table[], sim_float_table[],
        sim_half_table[], sim_cvt_table[], sim_video_table[], sim_ldst_table[], sim_atom_table[],
        sim_shuffle_table[], sim_flow_table[], sim_sync_table[], sim_texture_table[],
        sim_surface_table[], sim_matrix_table[], sim_matrix_memory_table[], sim_tensor_table[];

#endif
