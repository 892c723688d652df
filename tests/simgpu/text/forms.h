/* forms.h - the tables of opcodes, modifiers and special registers, for check.c and tables.c.

   A form is an opcode (all forms of one are adjacent), groups of modifiers (`a|b`: one of them is
   required, `a|b?`: optional), the types in their order, one letter per operand, and which function
   of lower/ selects its handlers (enum sim_select in text.h; NONE: not supported). Modifiers may
   come in any order, as in ptxas. After "*" any further modifiers and types are allowed: for
   instructions not checked here, the decoder decides which can run.

   Operand letters:                                   T0, T1: the types of the instruction
     d    destination of T0                          a b   source of T0, T1: register or constant
     D    destination of T0 or a wider register      B     source of T1 or a wider register
     w    destination twice as wide as T0            W     source twice as wide
     A    destination of T0, or a vector of them     j c   source of T0, T1: register
          with .v2 .v4 .v8, or _                     V S   the same for memory: T0 or a wider
                                                           register
     y Y  destination, source register of T0's, T1's size, declared without a sign or a format
     q    predicate destination                      o e   q or a pair of them; only the pair q|_
     p    predicate source (may be !negated)         P     the same, but no constant
     O    T0, or the pair T0|predicate               t     the pair 32-bit|predicate
     z    16-bit destination, not f16                I     32-bit integer destination, or a wider
                                                           register
     r i  32-bit destination, only of integers       s     r, or the pair r|_
     u v  32-bit integer source; v: not f16x2        f     32-bit floating-point source
     X N  32-bit integer source, or an element of it (.b0 .b1 .b2 .b3 .h0 .h1); N: or its negative
     E    32-bit destination's element                M     32-bit integer source, or its negative
     J    any elements of the two sources (.h32, .b7654); K   32-bit destination, or some of its
                                                              elements (.h10)
     k    cache policy, with .L2::cache_hint         n     integer constant
     m    address in brackets                        g     generic address: register, variable
     h G  address of T0's size: register; register or shared variable
     L T  label, list of labels                      _ x   only _, anything
     R    vector that receives texels, or the pair vector|predicate
     H    [texture or surface, coordinates]           Q    [texture], [surface]
     F    offsets of texels                           C    derivatives of coordinates
     l    [tensor map, coordinates]                   #    offsets of im2col
     6    16-bit integer source
     Z    predicate destination, but not _            U    64-bit integer source
     0    registers of D, or of the matrix that is    1 2 3  of A, B, C
          loaded                                      4    32-bit register, source
     .    all letters after it are optional */
#include "ptx.h"

#define RND "rn|rz|rm|rp"
#define RNI "rni|rzi|rmi|rpi"
#define INTS "u16|s16|u32|s32|u64|s64"
#define WIDE "u32|s32|u64|s64"
#define ANY8 "b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64"
#define ANY16 "b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64"
#define ICMP "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
#define FCMP "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define BOOL "and|or|xor"
#define SCOPE "cta|gpu|sys|cluster"
#define SHARED "shared|shared::cta|shared::cluster"
#define SPACE "global|local|const|param|param::entry|param::func|" SHARED
#define L1HINT \
    "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate?"
#define L2HINT "L2::cache_hint? L2::64B|L2::128B|L2::256B?"
#define L2FIRST \
    "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged " \
    "L2::evict_first|L2::evict_unchanged?"
#define L2EVICT "L2::evict_last|L2::evict_normal|L2::evict_first"
#define VEC "v2|v4|v8?"
#define INT8 "u8|s8|u16|s16|u32|s32|u64|s64"

enum { TABLE_VERSION = 90 }; /* all of this PTX ISA; clmad and ld.volatile.local are newer */

#define F(op, mods, types, args, select) \
    { op, mods, types, args, SIM_SELECT_##select }
static const struct sim_form forms[] = {
    F("add", "", INTS, "daa", LANES),
    F("add", "sat?", "s32", "daa", LANES),
    F("add", "cc", WIDE, "daa", LANES),
    F("add", RND "? ftz? sat?", "f32", "daa", LANES),
    F("add", RND "?", "f64", "daa", LANES),
    F("add", "rn? ftz? sat?", "f16|f16x2", "daa", LANES),
    F("add", "rn?", "bf16|bf16x2", "daa", LANES),
    F("add", "", "u16x2|s16x2", "daa", LANES),
    F("add", RND "? sat?", "f32 f16|bf16", "dba", MIXED),
    F("add", RND "? ftz?", "f32x2", "daa", F32X2),
    F("sub", "", INTS, "daa", LANES),
    F("sub", "sat?", "s32", "daa", LANES),
    F("sub", "cc", WIDE, "daa", LANES),
    F("sub", RND "? ftz? sat?", "f32", "daa", LANES),
    F("sub", RND "?", "f64", "daa", LANES),
    F("sub", "rn? ftz? sat?", "f16|f16x2", "daa", LANES),
    F("sub", "rn?", "bf16|bf16x2", "daa", LANES),
    F("sub", RND "? sat?", "f32 f16|bf16", "dba", MIXED),
    F("sub", RND "? ftz?", "f32x2", "daa", F32X2),
    F("addc", "cc?", WIDE, "daa", LANES),
    F("addc", "", "u16|s16", "daa", LANES),
    F("addc", "sat", "s32", "daa", LANES),
    F("subc", "cc?", WIDE, "daa", LANES),
    F("subc", "", "u16|s16", "daa", LANES),
    F("subc", "sat", "s32", "daa", LANES),
    F("mul", "lo|hi", INTS, "daa", LANES),
    F("mul", "wide", "u16|s16|u32|s32", "waa", LANES),
    F("mul", RND "? ftz? sat?", "f32", "daa", LANES),
    F("mul", RND "?", "f64", "daa", LANES),
    F("mul", "rn? ftz? sat?", "f16|f16x2", "daa", LANES),
    F("mul", "rn?", "bf16|bf16x2", "daa", LANES),
    F("mul", RND "? ftz?", "f32x2", "daa", F32X2),
    F("mul24", "lo|hi", "u32|s32", "daa", LANES),
    F("mad24", "lo|hi", "u32|s32", "daaa", LANES),
    F("mad24", "hi sat", "s32", "daaa", LANES),
    F("mad", "lo|hi", INTS, "daaa", LANES),
    F("mad", "hi sat", "s32", "daaa", LANES),
    F("mad", "lo|hi cc", WIDE, "daaa", LANES),
    F("mad", "wide", "u16|s16|u32|s32", "waaW", LANES),
    F("mad", RND " ftz? sat?", "f32", "daaa", LANES),
    F("mad", RND, "f64", "daaa", LANES),
    F("mad", "ftz? sat?", "f32", "daaa", LANES), /* of .target sm_1x */
    F("clmad", "lo|hi", "u64|s64", "daaa", LANES),
    F("madc", "lo|hi cc?", WIDE, "daaa", LANES),
    F("madc", "lo|hi", "u16|s16", "daaa", LANES),
    F("madc", "hi sat", "s32", "daaa", LANES),
    F("fma", RND " ftz? sat?", "f32", "daaa", LANES),
    F("fma", RND, "f64", "daaa", LANES),
    F("fma", "rn ftz? sat|relu?", "f16|f16x2", "daaa", LANES),
    F("fma", RND " relu?", "bf16|bf16x2", "daaa", LANES),
    F("fma", "rn oob sat|relu?", "f16|f16x2", "daaa", LANES),
    F("fma", RND " oob relu?", "bf16|bf16x2", "daaa", LANES),
    F("fma", RND " sat?", "f32 f16|bf16", "dbba", MIXED),
    F("fma", RND " ftz?", "f32x2", "daaa", F32X2),
    F("sad", "", INTS, "daaa", LANES),
    F("rem", "", INTS, "daa", LANES),
    F("div", "", INTS, "daa", LANES),
    F("div", "approx|full ftz?", "f32", "daa", LANES),
    F("div", RND " ftz?", "f32", "daa", LANES),
    F("div", RND, "f64", "daa", LANES),
    F("abs", "", "s16|s32|s64|f64|bf16|bf16x2", "da", LANES),
    F("abs", "ftz?", "f32|f16|f16x2", "da", LANES),
    F("neg", "", "s16|s32|s64|f64|bf16|bf16x2", "da", LANES),
    F("neg", "ftz?", "f32|f16|f16x2", "da", LANES),
    F("min", "", INTS "|f64|u16x2", "daa", LANES),
    F("min", "relu?", "s32|s16x2", "daa", LANES),
    F("min", "ftz? NaN? xorsign? abs?", "f32", "daa.a", LANES),
    F("min", "ftz? NaN? xorsign? abs?", "f16|f16x2", "daa", LANES),
    F("min", "NaN? xorsign? abs?", "bf16|bf16x2", "daa", LANES),
    F("max", "", INTS "|f64|u16x2", "daa", LANES),
    F("max", "relu?", "s32|s16x2", "daa", LANES),
    F("max", "ftz? NaN? xorsign? abs?", "f32", "daa.a", LANES),
    F("max", "ftz? NaN? xorsign? abs?", "f16|f16x2", "daa", LANES),
    F("max", "NaN? xorsign? abs?", "bf16|bf16x2", "daa", LANES),
    F("popc", "", "b32|b64", "ia", LANES),
    F("clz", "", "b32|b64", "ia", LANES),
    F("bfind", "shiftamt?", WIDE, "ia", LANES),
    F("brev", "", "b32|b64", "da", LANES),
    F("bfe", "", WIDE, "davv", LANES),
    F("bfi", "", "b32|b64", "daavv", LANES),
    F("bmsk", "clamp|wrap", "b32", "dvv", LANES),
    F("szext", "clamp|wrap", "u32|s32", "dav", LANES),
    F("fns", "", "b32", "daaa", LANES),
    F("dp4a", "", "u32|s32 u32|s32", "duuv", LANES),
    F("dp2a", "lo|hi", "u32|s32 u32|s32", "duuu", LANES),
    F("prmt", "f4e|b4e|rc8|ecl|ecr|rc16?", "b32", "daaa", LANES),
    F("and", "", "pred|b16|b32|b64", "daa", LANES),
    F("or", "", "pred|b16|b32|b64", "daa", LANES),
    F("xor", "", "pred|b16|b32|b64", "daa", LANES),
    F("not", "", "pred|b16|b32|b64", "da", LANES),
    F("cnot", "", "b16|b32|b64", "da", LANES),
    F("lop3", "", "b32", "daaan", LANES),
    F("lop3", "or|and", "b32", "taaanp", LOP3_BOOL),
    F("shl", "", "b16|b32|b64", "dav", LANES),
    F("shr", "", "b16|b32|b64|" INTS, "dav", LANES),
    F("shf", "l|r clamp|wrap", "b32", "daav", LANES),
    F("set", ICMP, "u32|s32|f32|f16 b16|b32|b64|" INTS, "dbb", SET),
    F("set", ICMP " " BOOL, "u32|s32|f32|f16 b16|b32|b64|" INTS, "dbbp", SET),
    F("set", ICMP, "bf16 b16|b32|b64|" INTS, "zbb", SET),
    F("set", ICMP " " BOOL, "bf16 b16|b32|b64|" INTS, "zbbp", SET),
    F("set", FCMP " ftz?", "u32|s32|f32|f16 f32", "dbb", SET),
    F("set", FCMP " ftz? " BOOL, "u32|s32|f32|f16 f32", "dbbp", SET),
    F("set", FCMP, "bf16 f32", "zbb", SET),
    F("set", FCMP " " BOOL, "bf16 f32", "zbbp", SET),
    F("set", FCMP, "u32|s32|f32|f16 f64", "dbb", SET),
    F("set", FCMP " " BOOL, "u32|s32|f32|f16 f64", "dbbp", SET),
    F("set", FCMP, "bf16 f64", "zbb", SET),
    F("set", FCMP " " BOOL, "bf16 f64", "zbbp", SET),
    F("set", FCMP " ftz?", "u16|s16|u32|s32|f16 f16", "dbb", SET),
    F("set", FCMP " ftz? " BOOL, "u16|s16|u32|s32|f16 f16", "dbbp", SET),
    F("set", FCMP, "bf16 f16", "zbb", SET),
    F("set", FCMP " " BOOL, "bf16 f16", "zbbp", SET),
    F("set", FCMP, "u16|s16|u32|s32 bf16", "dbb", SET),
    F("set", FCMP " " BOOL, "u16|s16|u32|s32 bf16", "dbbp", SET),
    F("set", FCMP, "bf16 bf16", "zbb", SET),
    F("set", FCMP " " BOOL, "bf16 bf16", "zbbp", SET),
    F("set", FCMP " ftz?", "u32|s32|f16x2 f16x2", "dbb", SET),
    F("set", FCMP " ftz? " BOOL, "u32|s32|f16x2 f16x2", "dbbp", SET),
    F("set", FCMP, "bf16x2 bf16x2", "rbb", SET),
    F("set", FCMP " " BOOL, "bf16x2 bf16x2", "rbbp", SET),
    F("set", FCMP, "u32|s32 bf16x2", "dbb", SET),
    F("set", FCMP " " BOOL, "u32|s32 bf16x2", "dbbp", SET),
    F("setp", ICMP, "b16|b32|b64|" INTS, "oaa", SETP),
    F("setp", ICMP " " BOOL, "b16|b32|b64|" INTS, "oaap", SETP),
    F("setp", FCMP " ftz?", "f32|f16x2", "oaa", SETP),
    F("setp", FCMP " ftz? " BOOL, "f32|f16x2", "oaap", SETP),
    F("setp", FCMP, "f64|bf16x2", "oaa", SETP),
    F("setp", FCMP " " BOOL, "f64", "oaap", SETP),
    F("setp", FCMP " " BOOL, "bf16x2", "oaaP", SETP),
    F("setp", FCMP " ftz?", "f16", "eaa", SETP),
    F("setp", FCMP " ftz? " BOOL, "f16", "eaap", SETP),
    F("setp", FCMP, "bf16", "eaa", SETP),
    F("setp", FCMP " " BOOL, "bf16", "eaaP", SETP),
    F("selp", "", ANY16, "daap", LANES),
    F("slct", "", ANY16 " s32", "daab", LANES),
    F("slct", "ftz?", ANY16 " f32", "daab", LANES),
    F("testp", "finite|infinite|number|notanumber|normal|subnormal?", "f32|f64", "qa", LANES),
    F("copysign", "", "f32|f64", "daa", LANES),
    F("rcp", "approx ftz?", "f32", "da", LANES),
    F("rcp", "approx ftz", "f64", "da", LANES),
    F("rcp", RND " ftz?", "f32", "da", LANES),
    F("rcp", RND " ftz?", "f64", "da", LANES),
    F("sqrt", "approx ftz?", "f32", "da", LANES),
    F("sqrt", RND " ftz?", "f32", "da", LANES),
    F("sqrt", RND, "f64", "da", LANES),
    F("rsqrt", "approx ftz?", "f32|f64", "da", LANES),
    F("sin", "approx ftz?", "f32", "da", LANES),
    F("cos", "approx ftz?", "f32", "da", LANES),
    F("lg2", "approx ftz?", "f32", "da", LANES),
    F("ex2", "approx ftz?", "f32", "da", LANES),
    F("ex2", "approx ftz", "bf16|bf16x2", "da", LANES),
    F("ex2", "approx", "f16|f16x2", "da", LANES),
    F("tanh", "approx", "f32|f16|f16x2|bf16|bf16x2", "da", LANES),

    F("mov", "v2|v4?", "pred|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64|b128", "xx", MOV),
    F("cvt", "", INT8 " " INT8, "DB", LANES),
    F("cvt", "sat", "u8 s8|u16|s16|u32|s32|u64|s64", "DB", LANES),
    F("cvt", "sat", "s8 u8|u16|s16|u32|s32|u64|s64", "DB", LANES),
    F("cvt", "sat", "u16 s8|s16|u32|s32|u64|s64", "DB", LANES),
    F("cvt", "sat", "s16 u16|u32|s32|u64|s64", "DB", LANES),
    F("cvt", "sat", "u32 s8|s16|s32|u64|s64", "DB", LANES),
    F("cvt", "sat", "s32 u32|u64|s64", "DB", LANES),
    F("cvt", "sat", "u64 s8|s16|s32|s64", "DB", LANES),
    F("cvt", "sat", "s64 u64", "DB", LANES),
    F("cvt", RNI " ftz? sat?", INT8 " f32", "DB", LANES),
    F("cvt", RNI " sat?", INT8 " f16|f64", "DB", LANES),
    F("cvt", RNI, INT8 " bf16", "db", LANES),
    F("cvt", RND " ftz? sat?", "f32 " INT8 "|f64", "DB", LANES),
    F("cvt", RND " sat?", "f16|f64 " INT8, "DB", LANES),
    F("cvt", RND, "bf16 " INT8 "|f64", "db", LANES),
    F("cvt", RND " ftz? sat?", "f16 f32", "DB", LANES),
    F("cvt", RND " sat?", "f16 f64", "DB", LANES),
    F("cvt", RND " ftz?", "bf16 f32", "db", LANES),
    F("cvt", "rn|rz relu? satfinite?", "f16 f32", "DB", LANES),
    F("cvt", "rn|rz relu? satfinite?", "bf16 f32", "db", LANES),
    F("cvt", "ftz? sat?", "f32 f16|f32", "DB", LANES),
    F("cvt", "ftz? sat?", "f64 f32", "DB", LANES),
    F("cvt", "sat?", "f64 f16|f64", "DB", LANES),
    F("cvt", "sat?", "f16 f16", "DB", LANES),
    F("cvt", RND "? ftz?", "f32 bf16", "db", LANES),
    F("cvt", RND "?", "f64|f16 bf16", "db", LANES),
    F("cvt", RND "?", "bf16 f16", "db", LANES),
    F("cvt", RNI " ftz? sat?", "f32 f32", "DB", CVT_INT),
    F("cvt", RNI " sat?", "f64 f64", "DB", CVT_INT),
    F("cvt", RNI " sat?", "f16 f16", "DB", CVT_INT),
    F("cvt", "", "bf16 bf16", "db", LANES),
    F("cvt", RNI, "bf16 bf16", "db", CVT_INT),
    F("cvt", "rn|rz relu? satfinite?", "f16x2 f32", "DBB", LANES),
    F("cvt", "rn|rz relu? satfinite?", "bf16x2 f32", "dbb", LANES),
    F("cvt", "rs relu? satfinite?", "f16x2|bf16x2 f32", "dbbu", LANES),
    F("cvt", "rn|rz relu?", "tf32 f32", "yc", LANES),
    F("cvt", "rna satfinite?", "tf32 f32", "yc", LANES),
    F("cvt", "rn satfinite relu?", "e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2 f32", "ybb", LANES),
    F("cvt", "rn satfinite relu?", "e4m3x2|e5m2x2 f16x2", "yb", LANES),
    F("cvt", "rn relu?", "f16x2 e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2", "dY", LANES),
    F("cvt", "rs satfinite relu?", "e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4 f32", "xxx", LANES),
    F("cvt", "rz|rp satfinite?", "ue8m0x2 f32", "ybb", LANES),
    F("cvt", "rz|rp satfinite?", "ue8m0x2 bf16x2", "yb", LANES),
    F("cvt", "rn", "bf16x2 ue8m0x2", "dY", LANES),
    F("cvt", "pack sat", "u16|s16 s32", "Ibb", LANES),
    F("cvt", "pack sat", "u8|s8|u4|s4|u2|s2 s32 b32", "Ibbu", LANES),
    F("cvta", "to? global|local|const|param|param::entry|" SHARED, "u32|u64", "dg", CVTA),
    F("isspacep", "global|local|const|param|param::entry|" SHARED, "", "qh", ISSPACEP),

    F("ld", "weak? " SPACE "? ca|cg|cs|lu|cv? " VEC, ANY8 "|b128", "Vm", LD),
    F("ld", "weak? global? ca|cg|cs|lu|cv " L2HINT " " VEC, ANY8 "|b128", "Vm.k", LD),
    F("ld", "global ca|cg|cs nc " L2HINT " " VEC, ANY8 "|b128", "Vm.k", LD),
    F("ld", "weak? global? " L1HINT " " L2HINT " " VEC, ANY8 "|b128", "Vm.k", LD),
    F("ld", "global nc " L1HINT " " L2HINT " " VEC, ANY8 "|b128", "Vm.k", LD),
    F("ld", "weak? global? " L1HINT " " L2EVICT " " L2HINT " v8", "b32|u32|s32|f32", "Vm.k", LD),
    F("ld", "weak? global? " L1HINT " " L2EVICT " " L2HINT " v4", "b64|u64|s64|f64", "Vm.k", LD),
    F("ld", "volatile global|local|" SHARED "? " VEC, ANY8 "|b128", "Vm", LD),
    F("ld", "volatile global? L2::64B|L2::128B|L2::256B " VEC, ANY8 "|b128", "Vm", LD),
    F("ld", "relaxed|acquire " SCOPE " global|" SHARED "? " VEC, ANY8 "|b128", "Vm", LD),
    F("ld", "relaxed|acquire " SCOPE " global? " L1HINT " " L2HINT " " VEC, ANY8 "|b128", "Vm.k",
            LD),
    F("ld", "mmio relaxed sys global?", ANY8 "|b128", "Vm", LD),
    F("ldu", "global? v2?", ANY8, "Vm", LD),
    F("ldu", "global? v4", "b8|u8|s8|b16|u16|s16|b32|u32|s32|f32", "Vm", LD),
    F("ldu", "global?", "b128", "Vm", LD),
    F("st", "weak? global|local|param|param::func|" SHARED "? wb|cg|cs|wt? " VEC, ANY8 "|b128",
            "mS", ST),
    F("st", "weak? global? wb|cg|cs|wt L2::cache_hint " VEC, ANY8 "|b128", "mSk", ST),
    F("st", "weak? global? " L1HINT " L2::cache_hint? " VEC, ANY8 "|b128", "mS.k", ST),
    F("st", "weak? global? " L1HINT " " L2EVICT " L2::cache_hint? v8", "b32|u32|s32|f32", "mS.k",
            ST),
    F("st", "weak? global? " L1HINT " " L2EVICT " L2::cache_hint? v4", "b64|u64|s64|f64", "mS.k",
            ST),
    F("st", "volatile global|local|" SHARED "? " VEC, ANY8 "|b128", "mS", ST),
    F("st", "relaxed|release " SCOPE " global|" SHARED "? " VEC, ANY8 "|b128", "mS", ST),
    F("st", "relaxed|release " SCOPE " global? " L1HINT " L2::cache_hint? " VEC, ANY8 "|b128",
            "mS.k", ST),
    F("st", "mmio relaxed sys global?", ANY8 "|b128", "mS", ST),
    F("st", "async weak? " SHARED "? mbarrier::complete_tx::bytes v2|v4?",
            "b32|u32|s32|f32|b64|u64|s64|f64", "mSm", ST_ASYNC),
    F("st", "async * ", "", "xxx", NONE),
    F("st", "bulk *", "", "xxx", NONE),

#define SEM "relaxed|acquire|release|acq_rel? " SCOPE "?"
#define SEM2 "relaxed|release? " SCOPE "?"
#define ANYWHERE " global|" SHARED "?" /* or only in global memory, with a cache policy */
#define CACHED " global? L2::cache_hint"
#define ATOMS(op, sem, dst, select) \
    F(op, "add " sem ANYWHERE, "u32|s32|u64|f32|f64", dst "ma", select), \
            F(op, "add noftz " sem ANYWHERE, "f16|f16x2|bf16|bf16x2", dst "ma", select), \
            F(op, "min|max " sem ANYWHERE, WIDE, dst "ma", select), \
            F(op, "inc|dec " sem ANYWHERE, "u32", dst "ma", select), \
            F(op, BOOL " " sem ANYWHERE, "b32|b64", dst "ma", select), \
            F(op, "add " sem CACHED, "u32|s32|u64|f32|f64", dst "mak", select), \
            F(op, "add noftz " sem CACHED, "f16|f16x2|bf16|bf16x2", dst "mak", select), \
            F(op, "min|max " sem CACHED, WIDE, dst "mak", select), \
            F(op, "inc|dec " sem CACHED, "u32", dst "mak", select), \
            F(op, BOOL " " sem CACHED, "b32|b64", dst "mak", select)
    ATOMS("atom", SEM, "A", ATOM),
    F("atom", "exch " SEM ANYWHERE, "b32|b64|b128", "Ama", ATOM),
    F("atom", "exch " SEM CACHED, "b32|b64|b128", "Amak", ATOM),
    F("atom", "cas " SEM ANYWHERE, "b16|b32|b64|b128", "Amaa", ATOM),
    F("atom", "add " SEM " global? L2::cache_hint? v2|v4", "f32", "AmS.k", ATOM),
    F("atom", "add|min|max noftz " SEM " global? L2::cache_hint? v2|v4", "f16x2|bf16x2", "AmS.k",
            ATOM),
    F("atom", "add|min|max noftz " SEM " global? L2::cache_hint? v2|v4|v8", "f16|bf16", "AmS.k",
            ATOM),
    ATOMS("red", SEM2, "", RED),
    F("red", "add " SEM2 " global? L2::cache_hint? v2|v4", "f32", "mS.k", RED),
    F("red", "add|min|max noftz " SEM2 " global? L2::cache_hint? v2|v4", "f16x2|bf16x2", "mS.k",
            RED),
    F("red", "add|min|max noftz " SEM2 " global? L2::cache_hint? v2|v4|v8", "f16|bf16", "mS.k",
            RED),
#define ASYNC "async relaxed cluster " SHARED "? mbarrier::complete_tx::bytes"
    F("red", ASYNC " add", WIDE, "mam", RED_ASYNC),
    F("red", ASYNC " min|max", "u32|s32", "mam", RED_ASYNC),
    F("red", ASYNC " inc|dec", "u32", "mam", RED_ASYNC),
    F("red", ASYNC " " BOOL, "b32", "mam", RED_ASYNC),
    F("red", "async *", "", "xxx", NONE),

    F("shfl", "sync up|down|bfly|idx", "b32", "Oaauv", WARP),
    F("shfl", "up|down|bfly|idx", "b32", "Oaau", WARP), /* without .sync: of old .target */
    F("vote", "sync all|any|uni", "pred", "qpv", VOTE),
    F("vote", "sync ballot", "b32", "dpv", VOTE),
    F("vote", "all|any|uni", "pred", "qp", VOTE),
    F("vote", "ballot", "b32", "dp", VOTE),
    F("match", "any sync", "b32|b64", "sav", WARP),
    F("match", "all sync", "b32|b64", "rav", WARP),
    F("match", "all sync", "b32|b64", "tav", WARP),
    F("redux", "sync add|min|max", "u32|s32", "dvv", WARP),
    F("redux", "sync " BOOL, "b32", "ivv", WARP),
    F("redux", "sync min|max abs? NaN?", "f32", "dau", WARP),
    F("activemask", "", "b32", "d", ACTIVEMASK),
    F("elect", "sync", "", "tu", ELECT),
#define BARRIERS(op, mods) \
    F(op, "sync cta?" mods, "", "v.v", BAR_SYNC), F(op, "arrive cta?" mods, "", "vv", BAR_ARRIVE), \
            F(op, "red cta? popc" mods, "u32", "dvp", BAR_RED), \
            F(op, "red cta? popc" mods, "u32", "dvvp", BAR_RED), \
            F(op, "red cta? and|or" mods, "pred", "qvp", BAR_RED), \
            F(op, "red cta? and|or" mods, "pred", "qvvp", BAR_RED)
    BARRIERS("bar", ""),
    F("bar", "warp sync", "", "v", BAR_WARP),
    BARRIERS("barrier", " aligned?"),
    F("barrier", "cluster arrive release|relaxed? aligned?", "", "", CLUSTER_ARRIVE),
    F("barrier", "cluster wait acquire? aligned?", "", "", CLUSTER_WAIT),
    F("membar", "gl|cta|sys", "", "", FENCE),
    F("membar", "proxy alias", "", "", FENCE),
    F("fence", "sc|acq_rel|acquire|release? " SCOPE, "", "", FENCE),
    F("fence", "acquire sync_restrict::shared::cluster cluster", "", "", FENCE),
    F("fence", "release sync_restrict::shared::cta cluster", "", "", FENCE),
    F("fence", "release mbarrier_init cluster", "", "", FENCE),
    F("fence", "proxy alias", "", "", FENCE),
    F("fence", "proxy async global|shared::cta|shared::cluster?", "", "", FENCE),
    F("fence", "proxy tensormap::generic release " SCOPE, "", "", FENCE),
    F("fence", "proxy tensormap::generic acquire " SCOPE, "", "mn", FENCE),

    F("bra", "uni?", "", "L", BRA),
    F("brx", "idx uni?", "", "uT", BRX),
    F("ret", "uni?", "", "", RET),
    F("exit", "", "", "", EXIT),
    F("trap", "", "", "", TRAP),
    F("brkpt", "", "", "", TRAP),
    F("call", "uni?", "", ".xxxx", CALL),
    F("nanosleep", "", "u32", "v", NANOSLEEP),
    F("pmevent", "mask?", "", "n", NOTHING),
    F("setmaxnreg", "inc|dec sync aligned", "u32", "n", NOTHING),
    F("griddepcontrol", "launch_dependents|wait", "", "", NOTHING),
    F("mapa", "shared::cluster?", "u32|u64", "dGu", MAPA),
    F("getctarank", "shared::cluster?", "u32|u64", "rG", GETCTARANK),
    F("prefetch", "global|local? L1|L2", "", "m", NOTHING),
    F("prefetch", "global? L2::evict_last|L2::evict_normal", "", "m", NOTHING),
    F("prefetch", "const|param? tensormap", "", "m", NOTHING),
    F("prefetchu", "L1", "", "m", NOTHING),
    F("applypriority", "global? L2::evict_normal", "", "mn", NOTHING),
    F("discard", "global? L2", "", "mn", NOTHING),
    F("createpolicy", "fractional " L2FIRST, "b64", "d.f", CREATEPOLICY),
    F("createpolicy", "range global? " L2FIRST, "b64", "dmuu", CREATEPOLICY),
    F("createpolicy", "cvt L2", "b64", "da", CREATEPOLICY),
    F("cp", "async ca|cg shared|shared::cta global L2::cache_hint? L2::64B|L2::128B|L2::256B?", "",
            "mmn.uk", CP_ASYNC),
    F("cp", "async ca|cg shared|shared::cta global L2::cache_hint? L2::64B|L2::128B|L2::256B?", "",
            "mmnp.k", CP_ASYNC),
    F("cp", "async ca|cg shared|shared::cta global L2::cache_hint L2::64B|L2::128B|L2::256B?", "",
            "mmnk", CP_ASYNC),
    F("cp", "async commit_group", "", "", NOTHING),
    F("cp", "async wait_group", "", "n", NOTHING),
    F("cp", "async wait_all", "", "", NOTHING),
    F("cp", "async mbarrier arrive noinc? shared|shared::cta?", "b64", "m", CP_ARRIVE),
    F("cp", "async bulk commit_group", "", "", CP_BULK),
    F("cp", "async bulk wait_group read?", "", "n", CP_BULK),
#define TENSOR "tensor 1d|2d|3d|4d|5d "
#define PIXELS "tensor 3d|4d|5d "
#define TENSOR_LOAD(mode, args) \
    F("cp", \
            "async bulk " TENSOR "shared::cluster|shared::cta global " mode \
            " mbarrier::complete_tx::bytes L2::cache_hint?", \
            "", "mlm" args ".k", CP_TENSOR), \
            F("cp", \
                    "async bulk " TENSOR "shared::cluster global " mode \
                    " mbarrier::complete_tx::bytes multicast::cluster L2::cache_hint?", \
                    "", "mlm" args "6.k", CP_TENSOR)
    TENSOR_LOAD("tile?", ""),
    TENSOR_LOAD("im2col", "#"),
#define TENSOR_STORE(op, mode) \
    F("cp", op " " mode " global shared::cta bulk_group L2::cache_hint?", "", "lm.k", CP_TENSOR)
#define REDUCTIONS " add|min|max|inc|dec|and|or|xor"
    TENSOR_STORE("async bulk " TENSOR, "tile?"),
    TENSOR_STORE("async bulk " PIXELS, "im2col_no_offs"),
    TENSOR_STORE("reduce async bulk " TENSOR REDUCTIONS, "tile?"),
    TENSOR_STORE("reduce async bulk " PIXELS REDUCTIONS, "im2col_no_offs"),
    F("cp", "async bulk prefetch " TENSOR "L2 global tile? L2::cache_hint?", "", "l.k", NOTHING),
    F("cp", "async bulk prefetch " TENSOR "L2 global im2col L2::cache_hint?", "", "l#.k", NOTHING),
    F("cp", "async bulk prefetch L2 global L2::cache_hint?", "", "mu.k", NOTHING),
    F("cp", "async bulk *", "", "xxx.xxxxx", CP_BULK),
    F("cp", "reduce async bulk *", "", "x.xxxxxxx", NONE),
#define REPLACE(field) "replace tile " field " global|shared::cta? b1024"
    F("tensormap", REPLACE("global_address"), "b64", "ma", TENSORMAP_REPLACE),
    F("tensormap", REPLACE("rank"), "b32", "ma", TENSORMAP_REPLACE),
    F("tensormap", REPLACE("box_dim|global_dim|element_stride"), "b32", "mna", TENSORMAP_REPLACE),
    F("tensormap", REPLACE("global_stride"), "b64", "mna", TENSORMAP_REPLACE),
    F("tensormap", REPLACE("elemtype|interleave_layout|swizzle_mode|fill_mode"), "b32", "mn",
            TENSORMAP_REPLACE),
    F("tensormap", REPLACE("swizzle_atomicity"), "b32", "mn", NONE),
    F("tensormap",
            "cp_fenceproxy global shared::cta tensormap::generic release " SCOPE " sync aligned",
            "", "mmn", TENSORMAP_COPY),
#define ARRIVE "arrive|arrive_drop "
#define BLOCKS "release|relaxed cta|cluster "
    F("mbarrier", "init shared|shared::cta?", "b64", "mu", MBARRIER_INIT),
    F("mbarrier", "inval shared|shared::cta?", "b64", "m", MBARRIER_INVAL),
    F("mbarrier", ARRIVE "shared|shared::cta?", "b64", "Am.u", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE BLOCKS "shared|shared::cta?", "b64", "Am.u", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "expect_tx shared|shared::cta?", "b64", "Amu", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "expect_tx " BLOCKS "shared|shared::cta?", "b64", "Amu", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "noComplete shared|shared::cta?", "b64", "Amu", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "noComplete release cta shared|shared::cta?", "b64", "Amu",
            MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "shared::cluster", "b64", "_m.u", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE BLOCKS "shared::cluster", "b64", "_m.u", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "expect_tx shared::cluster", "b64", "_mu", MBARRIER_ARRIVE),
    F("mbarrier", ARRIVE "expect_tx " BLOCKS "shared::cluster", "b64", "_mu", MBARRIER_ARRIVE),
    F("mbarrier", "expect_tx|complete_tx " SHARED "?", "b64", "mu", MBARRIER_TX),
    F("mbarrier", "expect_tx|complete_tx relaxed cta|cluster " SHARED "?", "b64", "mu",
            MBARRIER_TX),
#define WAIT(step, sem, arg) \
    F("mbarrier", step sem "shared|shared::cta?", "b64", "qm" arg, MBARRIER_TEST)
#define WAITS(sem) \
    WAIT("test_wait ", sem, "a"), WAIT("test_wait parity ", sem, "u"), \
            WAIT("try_wait ", sem, "a.u"), WAIT("try_wait parity ", sem, "u.u")
    WAITS(""),
    WAITS("acquire|relaxed cta|cluster "),
    F("mbarrier", "pending_count", "b64", "ra", LANES),
    F("alloca", "", "u32|u64", "da.n", ALLOCA),
    F("stacksave", "", "u32|u64", "d", STACKSAVE),
    F("stackrestore", "", "u32|u64", "j", STACKRESTORE),

#define SIGNS "u32|s32 "
#define SCALAR(op, mods, types) /* a second operation, or the result is an element, beside those \
                                   of the last source */ \
    F(op, mods, types, "iXX.u", VIDEO), F(op, mods " add|min|max", types, "iXXu", VIDEO), \
            F(op, mods, types, "EXXu", VIDEO)
#define ALL_SIGNS SIGNS SIGNS SIGNS
    SCALAR("vadd", "sat?", ALL_SIGNS),
    SCALAR("vsub", "sat?", ALL_SIGNS),
    SCALAR("vabsdiff", "sat?", ALL_SIGNS),
    SCALAR("vmin", "sat?", ALL_SIGNS),
    SCALAR("vmax", "sat?", ALL_SIGNS),
    SCALAR("vshl", "sat? clamp|wrap", SIGNS SIGNS "u32"),
    SCALAR("vshr", "sat? clamp|wrap", SIGNS SIGNS "u32"),
    SCALAR("vset", "eq|ne|lt|le|gt|ge", SIGNS SIGNS),
    F("vmad", "sat? shr7|shr15?", ALL_SIGNS, "iNNM", VIDEO),
    F("vmad", "po sat? shr7|shr15?", ALL_SIGNS, "iXXu", VIDEO),
#define PARALLEL(n) \
    F("vadd" #n, "sat|add?", ALL_SIGNS, "KJJc", VIDEO), \
            F("vsub" #n, "sat|add?", ALL_SIGNS, "KJJc", VIDEO), \
            F("vavrg" #n, "sat|add?", ALL_SIGNS, "KJJc", VIDEO), \
            F("vabsdiff" #n, "sat|add?", ALL_SIGNS, "KJJc", VIDEO), \
            F("vmin" #n, "sat|add?", ALL_SIGNS, "KJJc", VIDEO), \
            F("vmax" #n, "sat|add?", ALL_SIGNS, "KJJc", VIDEO), \
            F("vset" #n, "eq|ne|lt|le|gt|ge add?", SIGNS SIGNS, "KJJc", VIDEO)
    PARALLEL(2),
    PARALLEL(4),

#define FLAT "1d|2d|a1d|a2d"
#define CUBES "cube|acube"
#define TEX(v, type) \
    F("tex", "base? " FLAT "|3d " v, type " s32|f32", "RH.F", TEX), \
            F("tex", "base? " FLAT " " v, type " f32", "RHf", TEX), \
            F("tex", "base? " FLAT " " v, type " f32", "RHFf", TEX), \
            F("tex", "base? " CUBES " " v, type " f32", "RH.f", TEX), \
            F("tex", "base? 2dms|a2dms " v, type " s32", "RH.F", TEX), \
            F("tex", "level " FLAT "|3d " v, type " s32|f32", "RHb.F", TEX), \
            F("tex", "level " FLAT " " v, type " f32", "RHbf", TEX), \
            F("tex", "level " FLAT " " v, type " f32", "RHbFf", TEX), \
            F("tex", "level " CUBES " " v, type " f32", "RHb.f", TEX), \
            F("tex", "grad " FLAT "|3d " v, type " s32|f32", "RHCC.F", TEX), \
            F("tex", "grad " FLAT " " v, type " f32", "RHCCf", TEX), \
            F("tex", "grad " FLAT " " v, type " f32", "RHCCFf", TEX), \
            F("tex", "grad " CUBES " " v, type " f32", "RHCC.f", TEX)
    TEX("v4", "u32|s32|f16|f32"),
    TEX("v2", "f16x2"),
    F("tld4", "r|g|b|a 2d|a2d v4", "u32|s32|f32 f32", "RH.F", TEX),
    F("tld4", "r|g|b|a 2d|a2d v4", "u32|s32|f32 f32", "RHf", TEX),
    F("tld4", "r|g|b|a 2d|a2d v4", "u32|s32|f32 f32", "RHFf", TEX),
    F("tld4", "r|g|b|a " CUBES " v4", "u32|s32|f32 f32", "RH.f", TEX),
    F("txq",
            "width|height|depth|channel_data_type|channel_order|normalized_coords|filter_mode|"
            "addr_mode_0|addr_mode_1|addr_mode_2|num_mipmap_levels|num_samples|array_size",
            "b32", "rQ", TXQ),
    F("txq", "level width|height|depth", "b32", "rQu", TXQ),
    F("txq", "memory_layout", "b32", "rQ", NONE),
    F("suq", "width|height|depth|channel_data_type|channel_order|array_size", "b32", "rQ", SUQ),
    F("suq", "memory_layout", "b32", "rQ", NONE),
#define SURFACE "1d|2d|3d|a1d|a2d "
#define OUTSIDE " trap|clamp|zero"
    F("suld", "b " SURFACE "ca|cg|cs|cv? v2|v4?" OUTSIDE, "b8|b16|b32", "VH", SULD),
    F("suld", "b " SURFACE "ca|cg|cs|cv? v2?" OUTSIDE, "b64", "VH", SULD),
    F("sust", "b " SURFACE "wb|cg|cs|wt? v2|v4?" OUTSIDE, "b8|b16|b32", "HS", SUST),
    F("sust", "b " SURFACE "wb|cg|cs|wt? v2?" OUTSIDE, "b64", "HS", SUST),
    F("sust", "p " SURFACE "wb|cg|cs|wt? v2|v4?" OUTSIDE, "b32", "HS", SUST),
    F("sured", "b add 1d|2d|3d" OUTSIDE, "u32|s32|u64", "Ha", SURED),
    F("sured", "b min|max 1d|2d|3d" OUTSIDE, WIDE, "Ha", SURED),
    F("sured", "b and|or 1d|2d|3d" OUTSIDE, "b32", "Ha", SURED),
    F("sured", "p add|min|max|and|or 1d|2d|3d" OUTSIDE, "b32", "Ha", SURED),
    F("sured", "p min|max 1d|2d|3d" OUTSIDE, "b64", "Ha", SURED),
    F("istypep", "", "texref|samplerref|surfref", "ZU", ISTYPEP),

#define MMA "sync aligned "
#define SPARSE "sp|sp::ordered_metadata sync aligned "
#define F8 "e4m3|e5m2"
#define I8 "s8|u8"
#define I4 "s4|u4"
    F("mma", MMA "m8n8k4 row|col row|col", "f16 f16 f16 f16", "0123", MMA),
    F("mma", MMA "m8n8k4 row|col row|col", "f32 f16 f16 f16|f32", "0123", MMA),
    F("mma", MMA "m16n8k8|m16n8k16 row col", "f16 f16 f16 f16", "0123", MMA),
    F("mma", MMA "m16n8k8|m16n8k16 row col", "f32 f16 f16 f32", "0123", MMA),
    F("mma", MMA "m16n8k8|m16n8k16 row col", "f32 bf16 bf16 f32", "0123", MMA),
    F("mma", MMA "m16n8k4|m16n8k8 row col", "f32 tf32 tf32 f32", "0123", MMA),
    F("mma", MMA "m16n8k16|m16n8k32 row col", "f16 " F8 " " F8 " f16", "0123", MMA),
    F("mma", MMA "m16n8k16|m16n8k32 row col", "f32 " F8 " " F8 " f32", "0123", MMA),
    F("mma", MMA "m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col " RND "?", "f64 f64 f64 f64", "0123",
            MMA),
    F("mma", MMA "m8n8k16|m16n8k16|m16n8k32 row col satfinite?", "s32 " I8 " " I8 " s32", "0123",
            MMA),
    F("mma", MMA "m8n8k32|m16n8k32|m16n8k64 row col satfinite?", "s32 " I4 " " I4 " s32", "0123",
            MMA),
    F("mma", MMA "m8n8k128|m16n8k128|m16n8k256 row col xor|and popc", "s32 b1 b1 s32", "0123", MMA),
    F("mma", SPARSE "m16n8k16|m16n8k32 row col", "f16 f16 f16 f16", "01234n", MMA),
    F("mma", SPARSE "m16n8k16|m16n8k32 row col", "f32 f16 f16 f32", "01234n", MMA),
    F("mma", SPARSE "m16n8k16|m16n8k32 row col", "f32 bf16 bf16 f32", "01234n", MMA),
    F("mma", SPARSE "m16n8k8|m16n8k16 row col", "f32 tf32 tf32 f32", "01234n", MMA),
    F("mma", SPARSE "m16n8k64 row col", "f32 " F8 " " F8 " f32", "01234n", MMA),
    F("mma", SPARSE "m16n8k32|m16n8k64 row col satfinite?", "s32 " I8 " " I8 " s32", "01234n", MMA),
    F("mma", SPARSE "m16n8k64|m16n8k128 row col satfinite?", "s32 " I4 " " I4 " s32", "01234n",
            MMA),
#define WMMA "mma sync aligned "
#define TILES "m16n16k16|m8n32k16|m32n8k16"
    F("wmma", WMMA "row|col row|col " TILES, "f16|f32 f16|f32", "0123", MMA),
    F("wmma", WMMA "row|col row|col " TILES, "f32 bf16 bf16 f32", "0123", MMA),
    F("wmma", WMMA "row|col row|col m16n16k8", "f32 tf32 tf32 f32", "0123", MMA),
    F("wmma", WMMA "row|col row|col m8n8k4 " RND "?", "f64 f64 f64 f64", "0123", MMA),
    F("wmma", WMMA "row|col row|col " TILES " satfinite?", "s32 s8 s8 s32", "0123", MMA),
    F("wmma", WMMA "row|col row|col " TILES " satfinite?", "s32 u8 u8 s32", "0123", MMA),
    F("wmma", WMMA "row col m8n8k32 satfinite?", "s32 s4 s4 s32", "0123", MMA),
    F("wmma", WMMA "row col m8n8k32 satfinite?", "s32 u4 u4 s32", "0123", MMA),
    F("wmma", WMMA "row col m8n8k128 xor|and popc", "s32 b1 b1 s32", "0123", MMA),
#define MATRIX_SPACE " global|shared|shared::cta?"
#define LOAD_MATRIX(mods, type) F("wmma", "load " mods MATRIX_SPACE, type, "0m.u", WMMA_LOAD)
#define STORE_MATRIX(mods, type) F("wmma", "store " mods MATRIX_SPACE, type, "m3.u", WMMA_STORE)
    LOAD_MATRIX("a|b sync aligned row|col " TILES, "f16|bf16|s8|u8"),
    LOAD_MATRIX("a|b sync aligned row|col m16n16k8", "tf32"),
    LOAD_MATRIX("a|b sync aligned row|col m8n8k4", "f64"),
    LOAD_MATRIX("a sync aligned row m8n8k32", "s4|u4"),
    LOAD_MATRIX("b sync aligned col m8n8k32", "s4|u4"),
    LOAD_MATRIX("a sync aligned row m8n8k128", "b1"),
    LOAD_MATRIX("b sync aligned col m8n8k128", "b1"),
    LOAD_MATRIX("c sync aligned row|col " TILES, "f16|f32|s32"),
    LOAD_MATRIX("c sync aligned row|col m16n16k8", "f32"),
    LOAD_MATRIX("c sync aligned row|col m8n8k4", "f64"),
    LOAD_MATRIX("c sync aligned row|col m8n8k32|m8n8k128", "s32"),
    STORE_MATRIX("d sync aligned row|col " TILES, "f16|f32|s32"),
    STORE_MATRIX("d sync aligned row|col m16n16k8", "f32"),
    STORE_MATRIX("d sync aligned row|col m8n8k4", "f64"),
    STORE_MATRIX("d sync aligned row|col m8n8k32|m8n8k128", "s32"),
    F("ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta?", "b16", "0m", LDMATRIX),
    F("stmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta?", "b16", "m3", STMATRIX),
    F("movmatrix", "sync aligned m8n8 trans", "b16", "r4", MOVMATRIX),

/* known, but not checked */
#define FREE(op) F(op, "*", "", ".xxxxxxxxxxxx", NONE)
    FREE("_mma"),
    FREE("wgmma"),
    FREE("tcgen05"),
    FREE("multimem"),
    FREE("clusterlaunchcontrol"),
};

/* Types that only certain instructions accept, with the registers that hold them. */
static const struct {
    const char *names;
    enum sim_type held;
} other_types[] = {
    { "e2m1x2|e2m1|e2m3|e3m2|e4m3|e5m2|ue8m0|ue4m3|u4|s4|u2|s2|b1|texref|samplerref|surfref",
            SIM_NOTYPE },
    { "e4m3x2|e5m2x2|e2m3x2|e3m2x2|ue8m0x2|e2m1x4", SIM_B16 },
    { "u16x2|s16x2|tf32|e4m3x4|e5m2x4|e2m3x4|e3m2x4", SIM_B32 },
    { "f32x2", SIM_B64 },
};

/* Modifiers of the instructions that are not checked; together with those of the table, all that
   ptxas knows. */
static const char other_modifiers[] = "1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms|base|level|grad|tile|"
                                      "im2col|im2col::w|im2col::w::128|im2col_no_offs|"
                                      "tile::gather4|tile::scatter4|v1|a|b|d|ab|row|col|load|store|"
                                      "mma|sync|aligned|sp|sp::ordered_metadata|sparse|trans|"
                                      "x1|x2|x4|x8|x16|x32|x64|x128|num|satfinite|popc|xor|and|or|"
                                      "m8n8k4|m8n8k16|m8n8k32|m8n8k128|m16n8k4|m16n8k8|"
                                      "m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|m16n16k16|"
                                      "m32n8k16|m8n32k16|m16n16k8|m8n8|m16n16|m8n16|m16n8|zero|"
                                      "trap|clamp|p|h0|h1|unified|width|height|depth|channel_data_"
                                      "type|channel_order|normalized_coords|array_size|"
                                      "num_mipmap_levels|num_samples|memory_layout|ld_reduce|red|"
                                      "st|commit_group|wait_group|wait|fence|mma_async|arrive|"
                                      "expect_tx|tensor|prefetch|cp|alloc|dealloc|relinquish_alloc_"
                                      "permit|commit|shift|cta_group::1|cta_group::2|"
                                      "mbarrier::complete_tx::bytes|mbarrier::arrive::one|mbarrier:"
                                      ":arrive::one::b64|bulk_group|bulk|read|"
                                      "multicast::cluster|cluster|noComplete|parity|tensormap|"
                                      "replace|cp_fenceproxy|async|alias|async::generic|"
                                      "tensormap::generic|global_address|rank|box_dim|global_dim|"
                                      "global_stride|element_stride|elemtype|interleave_layout|"
                                      "swizzle_mode|swizzle_atomicity|fill_mode|fractional|range|"
                                      "cvt|L2::evict_unchanged|L2::evict_first|generic|"
                                      "shared::cta|async.global|async.shared::cta|async.shared::"
                                      "cluster|from|to|unidirectional|try_cancel|query_cancel|"
                                      "is_canceled|get_first_ctaid|get_first_ctaid::x|get_first_"
                                      "ctaid::y|get_first_ctaid::z|kind::f16|kind::tf32|"
                                      "kind::i8|kind::f8f6f4|kind::mxf8f6f4|kind::mxf4|kind::"
                                      "mxf4nvf4|block_scale|scale_vec::1X|scale_vec::2X|"
                                      "scale_vec::4X|samplerref|texref|add|min|max|inc|dec|exch|"
                                      "cas|geom|r|g|pack::16b|unpack::16b|32x32b|16x64b|16x128b|"
                                      "16x256b|16x32bx2|ws|wait::ld|wait::st|before_thread_sync|"
                                      "after_thread_sync|fence::before_thread_sync|"
                                      "fence::after_thread_sync|b0|b1|b2|b3|s4|cpmask|exclusive|"
                                      "override|mode|b8x16.b6x16_p32|b6x16_p32|b4x16_p64|b8x16|"
                                      "16x16|shared::cluster::cta|acc::f16|acc::f32";

/* Special registers. w: 32 bits, l: 64, q: either, v: vector of 32, p: predicate. %envreg0..31 and
   %pm0..7 come last. */
static const struct {
    const char *name;
    char kind;
} specials[] = {
    { "", 0 },
    { "%tid", 'v' },
    { "%ntid", 'v' },
    { "%ctaid", 'v' },
    { "%nctaid", 'v' },
    { "%laneid", 'w' },
    { "%warpid", 'w' },
    { "%nwarpid", 'w' },
    { "%smid", 'w' },
    { "%nsmid", 'w' },
    { "%gridid", 'q' },
    { "%clock", 'w' },
    { "%clock_hi", 'w' },
    { "%clock64", 'l' },
    { "%globaltimer", 'l' },
    { "%globaltimer_lo", 'w' },
    { "%globaltimer_hi", 'w' },
    { "%lanemask_lt", 'w' },
    { "%lanemask_eq", 'w' },
    { "%lanemask_le", 'w' },
    { "%lanemask_gt", 'w' },
    { "%lanemask_ge", 'w' },
    { "%dynamic_smem_size", 'w' },
    { "%total_smem_size", 'w' },
    { "%aggr_smem_size", 'w' },
    { "%is_explicit_cluster", 'p' },
    { "%clusterid", 'v' },
    { "%nclusterid", 'v' },
    { "%cluster_ctaid", 'v' },
    { "%cluster_nctaid", 'v' },
    { "%cluster_ctarank", 'w' },
    { "%cluster_nctarank", 'w' },
    { "%reserved_smem_offset_begin", 'w' },
    { "%reserved_smem_offset_end", 'w' },
    { "%reserved_smem_offset_cap", 'w' },
    { "%reserved_smem_offset_0", 'w' },
    { "%reserved_smem_offset_1", 'w' },
    { "%current_graph_exec", 'l' },
    { "%envreg", 'w' },
    { "%pm", 'w' },
    { "%pm_64", 'l' },
};
#define SPECIAL_ENVREG (sizeof specials / sizeof *specials - 3)

/* Features that need a newer .target or .version than the text may have. `word`: modifiers or
   types, `&`: each of these; name NULL: the instruction's. */
#define SHAPE(shape, sm, version) \
    { "mma", shape, sm, version, "Feature", "." shape }
#define DOUBLES(shape, sm, version) \
    { "mma", shape "&f64", sm, version, "Feature", "." shape " with double types" }
static const struct feature {
    const char *op, *word;
    unsigned char sm, version;
    const char *kind, *name;
} features[] = {
    { "redux", NULL, 80, 70, "Feature", NULL },
    { "tex", "f16|f16x2", 53, 0, "Feature", "f16 arithemetic and compare instructions" },
    { "sured", "u64|s64|b64", 0, 81, "Feature", "64-bit min/max operation on sured.b" },
    { "cp", "async", 80, 70, "Feature", NULL },
    { "mbarrier", "try_wait", 90, 78, "Feature", NULL },
    { "mbarrier", NULL, 80, 70, "Feature", NULL },
    { "discard", NULL, 80, 74, "Feature", NULL },
    { "applypriority", NULL, 80, 74, "Feature", NULL },
    { "createpolicy", NULL, 80, 74, "Feature", NULL },
    { "alloca", NULL, 52, 73, "Feature", NULL },
    { "stacksave", NULL, 52, 73, "Feature", NULL },
    { "stackrestore", NULL, 52, 73, "Feature", NULL },
    { "elect", NULL, 90, 80, "Feature", NULL },
    { "griddepcontrol", NULL, 90, 78, "Instruction", NULL },
    { "mapa", NULL, 90, 78, "Feature", NULL },
    { "getctarank", NULL, 90, 78, "Feature", NULL },
    { "barrier", "cluster", 90, 78, "Feature", NULL },
    { "match", NULL, 70, 60, "Instruction", NULL },
    { "nanosleep", NULL, 70, 62, "Instruction", NULL },
    { "activemask", NULL, 0, 62, "Feature", NULL },
    { "fence", NULL, 70, 60, "Feature", "fence instruction" },
    { "bmsk", NULL, 70, 76, "Instruction", NULL },
    { "szext", NULL, 70, 76, "Instruction", NULL },
    { "tanh", NULL, 75, 70, "Feature", NULL },
    { "ex2", "f16|f16x2", 75, 70, "Feature", "ex2.f16/f16x2" },
    { "min", "f16|f16x2", 80, 70, "Feature", "min.f16 or min.f16x2" },
    { "max", "f16|f16x2", 80, 70, "Feature", "max.f16 or max.f16x2" },
    { "abs", "f16|f16x2", 0, 65, "Feature", "abs.f16 or abs.f16x2" },
    { "dp4a", NULL, 61, 50, "Instruction", NULL },
    { "dp2a", NULL, 61, 50, "Instruction", NULL },
    { "lop3", "or|and", 70, 82, "Feature", "lop3.<BoolOp>" },
    { "ldmatrix", NULL, 75, 65, "Feature", NULL },
    { "stmatrix", NULL, 90, 78, "Feature", NULL },
    { "movmatrix", NULL, 75, 78, "Feature", NULL },
    { "mma", "sp::ordered_metadata", 80, 85, "Feature", ".sp::ordered_metadata" },
    { "mma", F8, 89, 84, "Feature", "mma with FP8 floating point type" },
    { "mma", F8 "&m16n8k16", 89, 87, "Feature",
            "mma with FP8 floating point type and .m16n8k16 shape" },
    { "mma", F8 "&f16", 89, 87, "Feature",
            "mma with FP8 floating point type and FP16 accumulation" },
    { "mma", "sp|sp::ordered_metadata", 80, 71, "Feature", "Sparse MMA" },
    DOUBLES("m8n8k4", 80, 70),
    DOUBLES("m16n8k4", 90, 78),
    DOUBLES("m16n8k8", 90, 78),
    DOUBLES("m16n8k16", 90, 78),
    { "mma", "and", 80, 71, "Modifier", ".and' on 'mma" },
    SHAPE("m8n8k16", 75, 65),
    SHAPE("m8n8k32", 75, 65),
    SHAPE("m8n8k128", 75, 70),
    { "mma", "m16n8k8&f16", 75, 65, "Feature", ".m16n8k8" },
    { "mma", "m16n8k8&bf16|tf32", 80, 70, "Feature", ".m16n8k8" },
    SHAPE("m16n8k4", 80, 70),
    SHAPE("m16n8k16", 80, 70),
    SHAPE("m16n8k32", 80, 70),
    SHAPE("m16n8k64", 80, 70),
    SHAPE("m16n8k128", 80, 70),
    SHAPE("m16n8k256", 80, 70),
    { "mma", NULL, 70, 64, "Feature", NULL },
    { "wmma", "bf16|tf32", 80, 70, "Feature", "WMMA with .bf16/.tf32 FP types" },
    { "wmma", "f64", 80, 70, "Feature", "WMMA with fp64 types" },
    { "wmma", "m16n16k8", 80, 70, "Modifier", ".m16n16k8" },
    { "wmma", "and", 80, 71, "Modifier", ".and' on 'wmma.mma" },
    { "wmma", "s4|u4|m8n8k32", 75, 63, "Feature", "WMMA with sub-byte integer types" },
    { "wmma", "b1|m8n8k128", 75, 63, "Feature", "WMMA with bit types" },
    { "wmma", "s8|u8|s32", 72, 63, "Feature", "WMMA with integer types" },
    { "wmma", NULL, 70, 63, "Feature", NULL },
    { "clmad", NULL, 80, 93, "Feature", NULL },
    { "fma", "f32", 20, 20, "Feature", "fma.f32" },
    { "add", "bf16", 90, 78, "Feature", "add.bf16" },
    { "sub", "bf16", 90, 78, "Feature", "sub.bf16" },
    { "mul", "bf16", 90, 78, "Feature", "mul.bf16" },
    { "add", "bf16x2", 90, 78, "Feature", "add.bf16x2" },
    { "sub", "bf16x2", 90, 78, "Feature", "sub.bf16x2" },
    { "mul", "bf16x2", 90, 78, "Feature", "mul.bf16x2" },
    { "set", "bf16", 90, 78, "Feature", "set.bf16" },
    { "setp", "bf16", 90, 78, "Feature", "setp.bf16" },
    { "set", "bf16x2", 90, 78, "Feature", "set.bf16x2" },
    { "setp", "bf16x2", 90, 78, "Feature", "setp.bf16x2" },
    { "ex2", "bf16|bf16x2", 90, 78, "Feature", "ex2.bf16" },
    { "atom", "bf16|bf16x2", 90, 78, "Instruction", "atom.add.bf16.global" },
    { "atom", "f16", 70, 63, "Instruction", "atom.add.f16.global" },
    { "atom", "b16", 70, 63, "Instruction", "atom.cas.b16.global" },
    { "atom", "b128", 90, 83, "Instruction", "atom.exch.b128.global" },
    { "atom", "v2|v4|v8", 90, 81, "Feature", "atom instruction with vector types" },
    { "add", "u16x2|s16x2", 90, 80, "Feature", "add.u16x2" },
    { "min", "u16x2|s16x2", 90, 80, "Feature", "min.u16x2" },
    { "max", "u16x2|s16x2", 90, 80, "Feature", "max.u16x2" },
    { "*", "f32x2", 100, 86, "Feature", ".f32x2" },
    { "*", "e4m3x2|e5m2x2", 89, 78, "Feature", "cvt with .e4m3x2/.e5m2x2" },
    { "cvt", "s2|u2|s4|u4", 75, 65, "Feature", ".s2" },
    { "*", "bf16", 80, 70, "Feature", ".bf16" },
    { "*", "bf16x2", 80, 70, "Feature", ".bf16x2" },
    { "*", "tf32", 80, 70, "Feature", ".tf32" },
    { "cvta", "param", 70, 77, "Feature", "cvta/isspacep with .param state space" },
    { "*", "shared::cluster", 90, 78, "Feature", "::cluster" },
    { "*", "shared::cta", 0, 78, "Feature", "::cta" },
    { "*", "param::entry", 0, 83, "Feature", "::entry" },
    { "atom", "cluster", 90, 78, "Feature", ".cluster scope" },
    { "red", "cluster", 90, 78, "Feature", ".cluster scope" },
    { "ld", "cluster", 90, 78, "Feature", ".cluster scope" },
    { "st", "cluster", 90, 78, "Feature", ".cluster scope" },
    { "fence", "cluster", 90, 78, "Feature", ".cluster scope" },
    { "*", "relu", 80, 70, "Modifier", ".relu" },
    { "*", "NaN", 80, 70, "Modifier", ".NaN" },
    { "*", "xorsign", 86, 72, "Modifier", ".xorsign" },
    { "*", "oob", 90, 81, "Modifier", ".oob" },
    { "*", "L2::cache_hint", 80, 74, "Modifier", ".L2::cache_hint" },
    { "*", "mmio", 70, 82, "Feature", ".mmio" },
    { "ld", "L2::64B|L2::128B|L2::256B", 75, 74, "Feature", "cache prefetching" },
    { "*", "relaxed", 70, 60, "Feature", ".relaxed" },
    { "*", "acquire", 70, 60, "Feature", ".acquire" },
    { "*", "release", 70, 60, "Feature", ".release" },
    { "barrier", "cta", 0, 78, "Feature", "barrier.cta" },
    { "setmaxnreg", NULL, 90, 80, "Feature", NULL },
    { "*", "b128", 70, 83, "Feature", "Type .b128" },
    { "red", "v2|v4|v8", 90, 81, "Feature", "red instruction with vector types" },
    { "mbarrier", "expect_tx|complete_tx", 90, 80, "Feature", NULL },
    { "mbarrier", "relaxed", 90, 86, "Modifier", ".relaxed" },
    { "mbarrier", "acquire", 80, 80, "Modifier", ".acquire" },
    { "mbarrier", "release", 80, 80, "Modifier", ".release" },
    { "mbarrier", "cluster", 90, 80, "Feature", ".cluster scope" },
    { "mbarrier", "cta", 80, 80, "Feature", "scopes on mbarrier operations" },
    { "fence", "async", 90, 80, "Modifier", ".async" },
    { "fence", "proxy", 70, 75, "Feature", "fence.proxy" },
    { "membar", "proxy", 70, 75, "Feature", "membar.proxy" },
    { "cp", "bulk", 90, 80, "Feature", NULL },
    { "tensormap", NULL, 90, 83, "Feature", NULL },
    { "prefetch", "tensormap", 90, 80, "Modifier", ".tensormap" },
    { "fence", "tensormap::generic", 90, 83, "Feature",
            "fence.proxy with unidirection proxy fence" },
};
