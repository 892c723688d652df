/* code.h - decoded instructions, and the blocks and warps that they work on:
   lower/ creates the instructions, run/ the blocks and warps, execute/ changes them.

   A register is an array of 32 lanes in the warp's register file: 4 bytes a lane for types up to 32
   bits (narrower values zero-extended), 8 for 64-bit types, one uint32_t mask for a predicate. An
   operand is `offset * 2 + k`: k = 0 selects the register file, k = 1 the code's constants
   (immediates, repeated in 32 lanes). Handlers assume that a slot has the width of their type:
   where PTX allows different widths, decode.c inserts a narrowing or widening move.

   A handler executes one instruction for the lanes of `m`, which is never 0. It writes no other
   lane. w->ip already points to the next instruction. A handler that moves lanes elsewhere (branch,
   barrier, fault) writes their w->pc and clears w->stop, so that the group is chosen again. */
#ifndef SIM_CODE_H
#define SIM_CODE_H

#include "matrix.h"

typedef uint8_t __attribute__((may_alias)) u8;
typedef uint16_t __attribute__((may_alias)) u16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef int8_t __attribute__((may_alias)) s8;
typedef int16_t __attribute__((may_alias)) s16;
typedef int32_t __attribute__((may_alias)) s32;
typedef int64_t __attribute__((may_alias)) s64;
typedef float __attribute__((may_alias)) f32;
typedef double __attribute__((may_alias)) f64;

struct sim_func; /* text/text.h */
typedef void sim_handler(struct sim_warp *w, const struct sim_insn *i, uint32_t m);

struct sim_insn {
    sim_handler *run;
    uint32_t guard, guard_xor; /* offset of the predicate in the register file (0: always true), ~0
                                  to negate it */
    uint32_t d, a, b, c, e;    /* operands; e: second destination, membermask ..., depending on the
                                  instruction */
    uint32_t flags;            /* SIM_I_*, and the handler's own bits */
    int64_t imm;               /* memory offset, branch target, table index ... */
    uint32_t line;
    uint16_t func;       /* index in code->funcs */
    uint8_t slot, width; /* memory: the block's remembered range; elements of a vector access */
    uint8_t counts;      /* the number of PTX instructions it represents, 0 if it only helps another
                            one */
    uint32_t unused;     /* of a load: a bit for each byte that need not exist */
};

/* insn.flags */
enum {
    SIM_I_ROUND = 3, /* 0 rn, 1 rz, 2 rm (down), 3 rp (up) */
    SIM_I_FTZ = 4,
    SIM_I_SAT = 8,
    SIM_I_RELU = 16,
    SIM_I_AND = 32,
    SIM_I_OR = 64,
    SIM_I_XOR = 96,
    SIM_I_BOOL = 96,    /* setp: combine with c */
    SIM_I_SECOND = 128, /* setp p|q: e holds q */
    SIM_I_NAN = 256,
    SIM_I_XORSIGN = 512,
    SIM_I_BASE64 = 1024,  /* memory: the base register has 64 bits */
    SIM_I_STRONG = 2048,  /* memory: volatile, relaxed, acquire, release */
    SIM_I_COUNT = 4096,   /* barrier: c has the thread count */
    SIM_I_SINK = 8192,    /* no destination */
    SIM_I_SEEN = 16384,   /* an access that other threads may observe: where schedule.c stops warps.
                             For ld, st, atom, red: the user bits are the space, 8 if it may write,
                             16 times the total bytes; for the device runtime 8 and 16 times the
                             call */
    SIM_I_WEAK = 32768,   /* a store that other threads may observe later */
    SIM_I_ORDERS = 65536, /* a barrier, fence or release: the lanes' earlier stores are visible by
                             then */
    SIM_I_USER = 17       /* shift of the bits that belong to the handler */
};

/* user bits of an mbarrier instruction */
enum {
    MB_INIT,
    MB_INVAL,
    MB_ARRIVE,
    MB_DROP,
    MB_EXPECT,
    MB_COMPLETE,
    MB_ARRIVE_EXPECT,
    MB_DROP_EXPECT
};

/* What a video instruction's imm holds. A selection is 3 bits for each element of the result, from
   the first: of the scalar instructions 0..3 a byte, 4 5 a half, 6 the word; of the others an
   element of the sources, those of the second after those of the first. */
enum {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVRG,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_SET,
    VIDEO_MAD
};
enum { VIDEO_ALONE, VIDEO_THEN_ADD, VIDEO_THEN_MIN, VIDEO_THEN_MAX };
enum { VIDEO_WORD = 6 };
struct sim_video {
    uint16_t a, b; /* selections */
    unsigned op : 4, second : 2, elements : 3 /* 1, 2, 4 */;
    unsigned d : 4 /* selection, or a mask of elements */, compare : 3, shift : 4;
    unsigned d_signed : 1, a_signed : 1, b_signed : 1, sat : 1, wrap : 1, plus : 1,
            minus_product : 1, minus_c : 1;
};

/* A texture or surface instruction: its operands in the register file or the constants, of 32 bits
   each unless the comment says more. */
enum sim_geometry {
    SIM_1D,
    SIM_2D,
    SIM_3D,
    SIM_A1D,
    SIM_A2D,
    SIM_CUBE,
    SIM_ACUBE,
    SIM_2DMS,
    SIM_A2DMS
};
enum sim_lod { SIM_LOD_BASE, SIM_LOD_LEVEL, SIM_LOD_GRAD };
enum sim_query {
    SIM_Q_WIDTH,
    SIM_Q_HEIGHT,
    SIM_Q_DEPTH,
    SIM_Q_CHANNEL_DATA_TYPE,
    SIM_Q_CHANNEL_ORDER,
    SIM_Q_NORMALIZED_COORDS,
    SIM_Q_FILTER_MODE,
    SIM_Q_ADDR_MODE_0,
    SIM_Q_ADDR_MODE_1,
    SIM_Q_ADDR_MODE_2,
    SIM_Q_NUM_MIPMAP_LEVELS,
    SIM_Q_NUM_SAMPLES,
    SIM_Q_ARRAY_SIZE
};
enum sim_outside { SIM_OUT_TRAP, SIM_OUT_CLAMP, SIM_OUT_ZERO };
enum sim_surface_red { SIM_RED_ADD, SIM_RED_MIN, SIM_RED_MAX, SIM_RED_AND, SIM_RED_OR };
struct sim_fetch {
    enum sim_geometry geometry;
    enum sim_lod lod;
    enum sim_query query;
    enum sim_outside outside;
    enum sim_surface_red red;
    enum sim_type type; /* of a texel's components, or of a surface access */
    bool integers;      /* coordinates are .s32, not .f32 */
    bool gathers, compares, formatted /* .p */, has_predicate, has_level;
    unsigned component, n; /* of tld4: 0 to 3; registers of the value */
    uint32_t handle;       /* 64 bits */
    uint32_t layer, at[3], level, dx[3], dy[3], offset[3], compare;
    uint32_t value[4]; /* of the type */
    uint32_t predicate;
};

/* A copy of a tensor's box: its operands in the register file or the constants, of 32 bits each
   unless the comment says more. */
enum sim_tensor_act {
    SIM_TENSOR_LOAD,
    SIM_TENSOR_STORE,
    SIM_TENSOR_ADD,
    SIM_TENSOR_MIN,
    SIM_TENSOR_MAX,
    SIM_TENSOR_INC,
    SIM_TENSOR_DEC,
    SIM_TENSOR_AND,
    SIM_TENSOR_OR,
    SIM_TENSOR_XOR
};
struct sim_tensor_copy {
    enum sim_tensor_act act;
    bool im2col, multicast;
    unsigned dims, noffsets;
    uint32_t map, shared, barrier; /* generic addresses of 64 bits; barrier: of a load */
    uint32_t at[5], offset[3], ranks;
};

/* The fields of a tensor map that tensormap.replace writes. */
enum sim_tensor_field {
    SIM_TENSOR_GLOBAL_ADDRESS,
    SIM_TENSOR_RANK_LESS_1,
    SIM_TENSOR_BOX_DIM,
    SIM_TENSOR_GLOBAL_DIM,
    SIM_TENSOR_GLOBAL_STRIDE,
    SIM_TENSOR_ELEMENT_STRIDE,
    SIM_TENSOR_ELEMTYPE,
    SIM_TENSOR_INTERLEAVE,
    SIM_TENSOR_SWIZZLE,
    SIM_TENSOR_FILL,
    SIM_TENSOR_FIELDS
};

/* special registers that never change for a thread; filled in when a warp starts */
enum sim_const_sreg {
    SIM_S_TID_X,
    SIM_S_TID_Y,
    SIM_S_TID_Z,
    SIM_S_NTID_X,
    SIM_S_NTID_Y,
    SIM_S_NTID_Z,
    SIM_S_CTAID_X,
    SIM_S_CTAID_Y,
    SIM_S_CTAID_Z,
    SIM_S_NCTAID_X,
    SIM_S_NCTAID_Y,
    SIM_S_NCTAID_Z,
    SIM_S_LANEID,
    SIM_S_LANEMASK_EQ,
    SIM_S_LANEMASK_LE,
    SIM_S_LANEMASK_LT,
    SIM_S_LANEMASK_GE,
    SIM_S_LANEMASK_GT,
    SIM_S_WARPID,
    SIM_S_NWARPID,
    SIM_S_SMID,
    SIM_S_NSMID,
    SIM_S_GRIDID,
    SIM_S_DYNAMIC_SMEM,
    SIM_S_TOTAL_SMEM,
    SIM_S_ENVREG1,
    SIM_S_ENVREG2,
    /* of clusters: SIM_S_SHARED_RANK is the part of shared addresses that names the block */
    SIM_S_CLUSTERID_X,
    SIM_S_CLUSTERID_Y,
    SIM_S_CLUSTERID_Z,
    SIM_S_NCLUSTERID_X,
    SIM_S_NCLUSTERID_Y,
    SIM_S_NCLUSTERID_Z,
    SIM_S_CLUSTER_CTAID_X,
    SIM_S_CLUSTER_CTAID_Y,
    SIM_S_CLUSTER_CTAID_Z,
    SIM_S_CLUSTER_NCTAID_X,
    SIM_S_CLUSTER_NCTAID_Y,
    SIM_S_CLUSTER_NCTAID_Z,
    SIM_S_CLUSTER_CTARANK,
    SIM_S_CLUSTER_NCTARANK,
    SIM_S_IS_EXPLICIT_CLUSTER,
    SIM_S_SHARED_RANK,
    SIM_S_COUNT
};

/* one function of the code */
struct sim_code_func {
    struct sim_func *func;
    uint32_t first; /* its first instruction */
    uint32_t frame; /* bytes of an activation: variables, then parameters, then results */
    uint32_t params_at, rets_at; /* where parameters and results begin in the frame */
    uint32_t stack;              /* bytes that a call of it takes of a GPU's stack */
    uint32_t preds_at, npreds, r32_at, n32, r64_at, n64; /* its registers in the register file,
                                                            which a recursive call saves */
};

/* reg 0: bytes of the frame; 4, 8: an operand with lanes of that size */
struct sim_pass {
    uint32_t from, to, size;
    uint8_t reg;
};
/* what a call instruction's imm points to */
struct sim_callsite {
    struct sim_code_func *callee; /* NULL: through a register, or a system function */
    bool recursive;               /* may call the caller again: save its registers */
    unsigned nargs, nrets;
    /* args: from the caller's frame to the callee's parameters; rets: from the callee's results to
       the caller's frame */
    struct sim_pass *args, *rets;
    uint32_t frame;              /* of the caller: the callee's begins after it */
    uint32_t args_end, rets_end; /* bytes of both as the call declares them: a prototype may have
                                    more than the callee */
};

struct sim_code {
    struct sim_code_info info;
    struct sim_insn *insns;
    uint32_t ninsns;
    unsigned char *consts;
    uint32_t nconsts;                       /* bytes; 64-byte aligned */
    uint32_t regs_bytes, vars_at, vars_end; /* of a warp's register file; the part with the
                                               functions' registers, which begin as zeros */
    uint32_t fp;            /* offset of the hidden 32-bit register that has each lane's frame */
    uint32_t sp, stack_top; /* the same for alloca: bytes in use below local address stack_top */
    uint32_t sreg[SIM_S_COUNT]; /* offset of each special register, 0: unused */
    bool knows_clusters; /* it uses something of clusters: addresses of its shared variables contain
                            the block's rank */
    struct sim_code_func *funcs;
    unsigned nfuncs;
    struct sim_map func_of_id; /* image function id + 1 to index in funcs */
    struct sim_callsite *calls;
    unsigned ncalls;
    uint32_t *labels;
    unsigned nlabels; /* of brx.idx: count, then instruction indices */
    struct sim_fetch *fetches;
    unsigned nfetches; /* of textures and surfaces: what an instruction's imm is the index of */
    struct sim_mma *mmas;
    unsigned nmmas; /* of matrices: what an instruction's c is the index of */
    struct sim_tensor_copy *copies;
    unsigned ncopies; /* of boxes of tensors: what an instruction's imm is the index of */
    unsigned nslots;  /* memory instructions, to spread them over the remembered ranges */
};

/* first shared and local address: not 0; a GPU also reserves 1 KiB of shared memory */
#define SIM_SHARED_BASE 1024u
#define SIM_LOCAL_BASE 64u
#define SIM_LOCAL_MAX (512u << 10) /* stack of one thread */
/* bytes of the stack that a call takes on sm_90, besides the callee's local variables and the
   registers it saves */
#define SIM_CALL_STACK 24u
#define SIM_SAVED_MAX (1u << 20)   /* registers of its callers that one thread saves */
#define SIM_ALLOCA_MAX (64u << 10) /* the part of it for alloca */
#define SIM_SLOTS 16
#define SIM_BARS 16
/* a shared address: the block's rank in its cluster, and 24 bits of offset. As on sm_90, where
   programs rely on it */
#define SIM_RANK_SHIFT 24
#define SIM_TRUE 0u /* offset of the predicate that is always true */

struct sim_warp {
    unsigned char *base[2];           /* register file, constants */
    const struct sim_insn *ip, *stop; /* next instruction; the group runs while ip < stop */
    uint32_t group;                   /* lanes that run now, 0 once they have been moved */
    uint32_t alive, parked, barred; /* not exited; waiting at a .sync operation; waiting at a block
                                       barrier */
    uint32_t yielded, spun; /* lanes that had their slice while diverged; and only spun in it */
    uint32_t cc;            /* carry flag of each lane */
    uint32_t spins, loops;  /* backward branches: in a row without progress; while diverged */
    /* since the last backward branch: an access that changed nothing; one that changed something */
    bool spin, progress;
    bool diverged, sleeps; /* other lanes are elsewhere; the slice ended in a spin or a sleep */
    uint32_t index;        /* its number in the block */
    uint32_t pc[32];       /* of lanes outside the group */
    uint32_t bar_wait[SIM_BARS], bar_arrived[SIM_BARS];
    /* barrier.cluster: lanes that have arrived and did not wait for it yet, in which phase, and
       that wait */
    uint32_t cluster_arrived, cluster_phase, cluster_wait;
    struct sim_block *block;
    unsigned char *local;
    uint32_t local_stride; /* lane l's local address a is local[l * stride + a] */
    uint32_t depth[32];    /* calls in progress */
    struct sim_return {
        uint32_t pc, fp, stack;
    } (*returns)[32];
    uint32_t max_depth;
    struct sim_saved {
        unsigned char *bytes;
        size_t n, cap;
    } * saved; /* registers of recursive callers, 32 stacks */
};

/* expected 0: every live thread of the block */
struct sim_bar {
    uint32_t waiting, expected, popc, any, all;
    bool reduces;
};

struct sim_block {
    struct sim_grid *grid;
    struct sim_cluster *cluster;
    const struct sim_code *code;
    uint32_t ctaid[3], in_cluster[3]; /* in_cluster: %cluster_ctaid */
    unsigned threads, nwarps, turn;
    unsigned live;   /* threads that have not exited */
    unsigned stream; /* of the device runtime: the block's NULL stream, 0: unused */
    struct sim_own {
        int error;
        unsigned stream;
    } * own;              /* each thread's last error and NULL stream; NULL: none has any */
    bool faulted, worked; /* worked: in this quantum a loop did more than spin */
    unsigned char *shared;
    uint32_t shared_bytes, shared_at;   /* shared_at: address of the first byte */
    struct sim_range ranges[SIM_SLOTS]; /* remembered ranges of global memory, each shared by a few
                                           memory instructions */
    struct sim_bar bars[SIM_BARS];
    uint64_t random; /* schedule.c: state of its generator ... */
    struct sim_delayed *delayed;
    unsigned ndelayed; /* ... stores that only their own threads see yet ... */
    uint32_t nap;
    uint64_t round;        /* ... and quanta to sleep through, unless nothing else progresses */
    unsigned char *memory; /* register files, shared memory */
    struct sim_warp warps[];
};

/* Blocks that are resident together, on one worker at a time; most clusters are one block. */
struct sim_cluster {
    struct sim_cluster *next; /* in grid->used */
    unsigned nblocks, turn;
    uint32_t arrived, phase;    /* barrier.cluster: threads that arrived in this phase; ~0 in odd
                                   phases, 0 in even ones */
    struct sim_block *blocks[]; /* by rank */
};

static inline unsigned char *sim_operand_at(const struct sim_warp *w, uint32_t op) {
    return w->base[op & 1] + (op >> 1);
}
#define SIM_AT(T, op) ((T *)(void *)sim_operand_at(w, op))
#define SIM_IS_CONST(op) ((op)&1) /* and therefore the same in all lanes */
static inline void sim_write_pred(
        struct sim_warp *w, uint32_t operand, uint32_t lanes, uint32_t value) {
    u32 *p = SIM_AT(u32, operand);
    *p = (*p & ~lanes) | (value & lanes);
}

static const uint32_t sim_lane_bit[32] = { 1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5,
    1u << 6, 1u << 7, 1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23, 1u << 24,
    1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31 };

static inline uint32_t sim_pc(const struct sim_warp *w, const struct sim_insn *i) {
    return (uint32_t)(i - w->block->code->insns);
}
static inline void sim_warp_place(struct sim_warp *w, uint32_t lanes, uint32_t pc) {
    if (!lanes) return;
    if (lanes == ~0u)
        for (int l = 0; l < 32; l++) w->pc[l] = pc;
    else
        for (int l = 0; l < 32; l++) w->pc[l] = lanes & sim_lane_bit[l] ? pc : w->pc[l];
}
/* each lane of the group has its pc in w->pc */
static inline void sim_warp_moved(struct sim_warp *w) {
    w->group = 0;
    w->stop = NULL;
}

#endif
