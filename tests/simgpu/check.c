/* check.c - what each instruction accepts: one table of forms, and the words that ptxas uses when none fits.

   A form is an opcode (all forms of one stand together), groups of modifiers (`a|b` one of them must stand;
       `a|b?` may), the types in their order, and one
   letter per operand. Modifiers may stand in any order, as ptxas has it. A form without groups ("*") is a known instruction that
   is not looked into: what of those can run is the decoder's decision.

   Operand letters:                                  T0, T1: the first, second type of the instruction
     d e   destination of T0, T1                     a b   source of T0, T1: register or constant
     D     destination of T0 or a wider register     A B   source of T0, T1 or a wider register
     w     destination twice as wide as T0           W     source twice as wide
     V S   destination, source of T0, or a vector of them when .v2 .v4 .v8 stands
     o     predicate, or a pair of them              O     T0, or the pair T0|predicate; both may be _
     t     the pair 32-bit|predicate                   q     predicate destination         p   predicate source, perhaps !negated
     r     32-bit destination                        u     32-bit integer source         k   cache policy       n   integer constant
     m     address in brackets                       g     generic address: 64-bit register, variable
     L     label      T  list of labels              x     anything                      .   all that follow are optional */
#include "ptx.h"

struct form { const char *op, *mods, *types, *args; };

#define RND   "rn|rz|rm|rp"
#define INTS  "u16|s16|u32|s32|u64|s64"
#define WIDE  "u32|s32|u64|s64"
#define ANY8  "b8|u8|s8|b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64"
#define ANY16 "b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64"
#define ICMP  "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
#define FCMP  "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define BOOL  "and|or|xor"
#define SCOPE "cta|gpu|sys|cluster"
#define SHARED "shared|shared::cta|shared::cluster"
#define SPACE "global|local|const|param|param::entry|param::func|" SHARED
#define EVICT "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate? L2::evict_last|L2::evict_normal|L2::evict_first? L2::cache_hint? L2::64B|L2::128B|L2::256B?"
#define VEC   "v2|v4|v8?"
#define INT8  "u8|s8|u16|s16|u32|s32|u64|s64"

static const struct form forms[] = {
    {"add", "", INTS, "daa"}, {"add", "sat?", "s32", "daa"}, {"add", "cc", WIDE, "daa"},
    {"add", RND "? ftz? sat?", "f32", "daa"}, {"add", RND "?", "f64", "daa"}, {"add", "rn? ftz? sat?", "f16|f16x2", "daa"},
    {"add", "rn?", "bf16|bf16x2", "daa"}, {"add", "", "u16x2|s16x2", "daa"}, {"add", RND "? sat?", "f32 f16|bf16", "dba"},
    {"add", RND "? ftz?", "f32x2", "daa"}, {"sub", "", INTS, "daa"}, {"sub", "sat?", "s32", "daa"},
    {"sub", "cc", WIDE, "daa"}, {"sub", RND "? ftz? sat?", "f32", "daa"}, {"sub", RND "?", "f64", "daa"},
    {"sub", "rn? ftz? sat?", "f16|f16x2", "daa"}, {"sub", "rn?", "bf16|bf16x2", "daa"},
    {"sub", RND "? sat?", "f32 f16|bf16", "dba"}, {"sub", RND "? ftz?", "f32x2", "daa"}, {"addc", "cc?", WIDE, "daa"},
    {"subc", "cc?", WIDE, "daa"}, {"mul", "lo|hi", INTS, "daa"}, {"mul", "wide", "u16|s16|u32|s32", "waa"},
    {"mul", RND "? ftz? sat?", "f32", "daa"}, {"mul", RND "?", "f64", "daa"}, {"mul", "rn? ftz? sat?", "f16|f16x2", "daa"},
    {"mul", "rn?", "bf16|bf16x2", "daa"}, {"mul", RND "? ftz?", "f32x2", "daa"}, {"mul24", "lo|hi", "u32|s32", "daa"},
    {"mad24", "lo|hi", "u32|s32", "daaa"}, {"mad24", "hi sat", "s32", "daaa"}, {"mad", "lo|hi", INTS, "daaa"},
    {"mad", "hi sat", "s32", "daaa"}, {"mad", "lo|hi cc", WIDE, "daaa"}, {"mad", "wide", "u16|s16|u32|s32", "waaW"},
    {"mad", RND " ftz? sat?", "f32", "daaa"}, {"mad", RND, "f64", "daaa"}, {"madc", "lo|hi cc?", WIDE, "daaa"},
    {"fma", RND " ftz? sat?", "f32", "daaa"}, {"fma", RND, "f64", "daaa"}, {"fma", "rn ftz? sat|relu?", "f16|f16x2", "daaa"},
    {"fma", "rn relu?", "bf16|bf16x2", "daaa"}, {"fma", "rn oob relu?", "f16|f16x2|bf16|bf16x2", "daaa"},
    {"fma", RND " sat?", "f32 f16|bf16", "dbba"}, {"fma", RND " ftz?", "f32x2", "daaa"}, {"sad", "", INTS, "daaa"},
    {"rem", "", INTS, "daa"}, {"div", "", INTS, "daa"}, {"div", "approx|full ftz?", "f32", "daa"},
    {"div", RND " ftz?", "f32", "daa"}, {"div", RND, "f64", "daa"}, {"abs", "", "s16|s32|s64|f64|bf16|bf16x2", "da"},
    {"abs", "ftz?", "f32|f16|f16x2", "da"}, {"neg", "", "s16|s32|s64|f64|bf16|bf16x2", "da"},
    {"neg", "ftz?", "f32|f16|f16x2", "da"}, {"min", "", INTS "|f64|u16x2", "daa"}, {"min", "relu?", "s32|s16x2", "daa"},
    {"min", "ftz? NaN? xorsign? abs?", "f32", "daa.a"}, {"min", "ftz? NaN? xorsign? abs?", "f16|f16x2", "daa"},
    {"min", "NaN? xorsign? abs?", "bf16|bf16x2", "daa"}, {"max", "", INTS "|f64|u16x2", "daa"},
    {"max", "relu?", "s32|s16x2", "daa"}, {"max", "ftz? NaN? xorsign? abs?", "f32", "daa.a"},
    {"max", "ftz? NaN? xorsign? abs?", "f16|f16x2", "daa"}, {"max", "NaN? xorsign? abs?", "bf16|bf16x2", "daa"},
    {"popc", "", "b32|b64", "ra"}, {"clz", "", "b32|b64", "ra"}, {"bfind", "shiftamt?", WIDE, "ra"},
    {"brev", "", "b32|b64", "da"}, {"bfe", "", WIDE, "dauu"}, {"bfi", "", "b32|b64", "daauu"},
    {"bmsk", "clamp|wrap", "b32", "duu"}, {"szext", "clamp|wrap", "u32|s32", "dau"}, {"fns", "", "b32", "duuu"},
    {"dp4a", "", "u32|s32 u32|s32", "duuu"}, {"dp2a", "lo|hi", "u32|s32 u32|s32", "duuu"},
    {"prmt", "f4e|b4e|rc8|ecl|ecr|rc16?", "b32", "daau"}, {"and", "", "pred|b16|b32|b64", "daa"},
    {"or", "", "pred|b16|b32|b64", "daa"}, {"xor", "", "pred|b16|b32|b64", "daa"}, {"not", "", "pred|b16|b32|b64", "da"},
    {"cnot", "", "b16|b32|b64", "da"}, {"lop3", "", "b32", "daaan"}, {"lop3", "or|and", "b32", "taaanp"},
    {"shl", "", "b16|b32|b64", "dau"}, {"shr", "", "b16|b32|b64|" INTS, "dau"}, {"shf", "l|r clamp|wrap", "b32", "daau"},
    {"set", ICMP, "u32|s32|f32 b16|b32|b64|" INTS, "dbb"}, {"set", ICMP " " BOOL, "u32|s32|f32 b16|b32|b64|" INTS, "dbbp"},
    {"set", FCMP " ftz?", "u32|s32|f32 f32|f64", "dbb"}, {"set", FCMP " ftz? " BOOL, "u32|s32|f32 f32|f64", "dbbp"},
    {"set", FCMP " ftz?", "u16|s16|u32|s32|f16|bf16 f16|bf16", "dbb"},
    {"set", FCMP " ftz? " BOOL, "u16|s16|u32|s32|f16|bf16 f16|bf16", "dbbp"}, {"set", FCMP " ftz?", "f16x2 f16x2", "dbb"},
    {"set", FCMP " ftz? " BOOL, "f16x2 f16x2", "dbbp"}, {"set", FCMP, "bf16x2 bf16x2", "rbb"},
    {"set", FCMP " " BOOL, "bf16x2 bf16x2", "rbbp"}, {"setp", ICMP, "b16|b32|b64|" INTS, "oaa"},
    {"setp", ICMP " " BOOL, "b16|b32|b64|" INTS, "oaap"}, {"setp", FCMP " ftz?", "f32|f64|f16|f16x2|bf16|bf16x2", "oaa"},
    {"setp", FCMP " ftz? " BOOL, "f32|f64|f16|f16x2|bf16|bf16x2", "oaap"}, {"selp", "", ANY16, "daap"},
    {"slct", "ftz?", ANY16 " s32|f32", "daab"},
    {"testp", "finite|infinite|number|notanumber|normal|subnormal?", "f32|f64", "qa"}, {"copysign", "", "f32|f64", "daa"},
    {"rcp", "approx ftz?", "f32", "da"}, {"rcp", "approx ftz", "f64", "da"}, {"rcp", RND " ftz?", "f32", "da"},
    {"rcp", RND, "f64", "da"}, {"sqrt", "approx ftz?", "f32", "da"}, {"sqrt", RND " ftz?", "f32", "da"},
    {"sqrt", RND, "f64", "da"}, {"rsqrt", "approx ftz?", "f32|f64", "da"}, {"sin", "approx ftz?", "f32", "da"},
    {"cos", "approx ftz?", "f32", "da"}, {"lg2", "approx ftz?", "f32", "da"}, {"ex2", "approx ftz?", "f32", "da"},
    {"ex2", "approx ftz", "bf16|bf16x2", "da"}, {"ex2", "approx", "f16|f16x2", "da"},
    {"tanh", "approx", "f32|f16|f16x2|bf16|bf16x2", "da"},

    {"mov", "v2|v4?", "pred|b16|u16|s16|f16|b32|u32|s32|f32|b64|u64|s64|f64|b128|f16x2", "xx"},
    {"cvt", "sat?", INT8 " " INT8, "DB"}, {"cvt", "rni|rzi|rmi|rpi ftz? sat?", INT8 " f16|bf16|f32|f64", "DB"},
    {"cvt", RND " sat? ftz?", "f16|bf16|f32|f64 " INT8, "DB"}, {"cvt", "ftz? sat?", "f32 f16|bf16|f32", "DB"},
    {"cvt", "ftz? sat?", "f64 f16|bf16|f32|f64", "DB"}, {"cvt", RND " ftz? sat?", "f32 f64", "DB"},
    {"cvt", RND " ftz? sat? relu? satfinite?", "f16|bf16 f32", "DB"},
    {"cvt", RND " ftz? sat?", "f16|bf16 f16|bf16|f64", "DB"}, {"cvt", "sat? ftz?", "f16 f16", "DB"},
    {"cvt", "rni|rzi|rmi|rpi ftz? sat?", "f32 f32", "DB"}, {"cvt", "rni|rzi|rmi|rpi sat?", "f64 f64", "DB"},
    {"cvt", "rni|rzi|rmi|rpi ftz? sat?", "f16 f16", "DB"}, {"cvt", "rn|rz|rs relu? satfinite?", "f16x2|bf16x2 f32", "dbb.u"},
    {"cvt", "rna|rn|rz relu? satfinite?", "tf32 f32", "rb"},
    {"cvt", "rn satfinite relu?", "e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2 f32", "xbb"},
    {"cvt", "rn satfinite relu?", "e4m3x2|e5m2x2 f16x2", "xb"},
    {"cvt", "rn relu?", "f16x2 e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2", "dx"},
    {"cvt", "rs satfinite relu?", "e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4 f32", "xxx"},
    {"cvt", "rz|rp satfinite?", "ue8m0x2 f32", "xbb"}, {"cvt", "rz|rp satfinite?", "ue8m0x2 bf16x2", "xb"},
    {"cvt", "rn", "bf16x2 ue8m0x2", "dx"}, {"cvt", "pack sat", "u16|s16 s32", "rbb"},
    {"cvt", "pack sat", "u8|s8|u4|s4|u2|s2 s32 b32", "rbbu"},
    {"cvta", "to? global|local|const|param|param::entry|" SHARED, "u32|u64", "dg"},
    {"isspacep", "global|local|const|param|param::entry|" SHARED, "", "qg"},

    {"ld", "weak? " SPACE "? ca|cg|cs|lu|cv? nc? unified? " EVICT " " VEC, ANY8 "|b128", "Vm.k"},
    {"ld", "volatile " SPACE "? L2::64B|L2::128B|L2::256B? " VEC, ANY8 "|b128", "Vm"},
    {"ld", "relaxed|acquire " SCOPE " " SPACE "? " EVICT " " VEC, ANY8 "|b128", "Vm.k"},
    {"ld", "mmio relaxed sys global?", ANY8 "|b128", "Vm"}, {"ldu", "global? v2|v4?", ANY8 "|b128", "Vm"},
    {"st", "weak? " SPACE "? wb|cg|cs|wt? " EVICT " " VEC, ANY8 "|b128", "mS.k"},
    {"st", "volatile " SPACE "? " VEC, ANY8 "|b128", "mS"},
    {"st", "relaxed|release " SCOPE " " SPACE "? " EVICT " " VEC, ANY8 "|b128", "mS.k"},
    {"st", "mmio relaxed sys global?", ANY8 "|b128", "mS"}, {"st", "async * ", "", "xxx"}, {"st", "bulk *", "", "xxx"},

#define SEM "relaxed|acquire|release|acq_rel? " SCOPE "? global|" SHARED "? L2::cache_hint?"
    {"atom", "add " SEM, "u32|s32|u64|f32|f64", "dma.k"}, {"atom", "add noftz " SEM, "f16|f16x2|bf16|bf16x2", "dma.k"},
    {"atom", "min|max " SEM, WIDE, "dma.k"}, {"atom", "inc|dec " SEM, "u32", "dma.k"},
    {"atom", BOOL " " SEM, "b32|b64", "dma.k"}, {"atom", "exch " SEM, "b32|b64|b128", "dma.k"},
    {"atom", "cas " SEM, "b16|b32|b64|b128", "dmaa.k"},
    {"atom", "add|min|max noftz? v2|v4|v8 " SEM, "f16|f16x2|bf16|bf16x2|f32", "xmx.k"},
    {"red", "add " SEM, "u32|s32|u64|f32|f64", "ma.k"}, {"red", "add noftz " SEM, "f16|f16x2|bf16|bf16x2", "ma.k"},
    {"red", "min|max " SEM, WIDE, "ma.k"}, {"red", "inc|dec " SEM, "u32", "ma.k"}, {"red", BOOL " " SEM, "b32|b64", "ma.k"},
    {"red", "add|min|max noftz? v2|v4|v8 " SEM, "f16|f16x2|bf16|bf16x2|f32", "mx.k"}, {"red", "async *", "", "xxx"},

    {"shfl", "sync up|down|bfly|idx", "b32", "Oauuu"}, {"vote", "sync all|any|uni", "pred", "qpu"},
    {"vote", "sync ballot", "b32", "dpu"}, {"match", "any sync", "b32|b64", "rau"}, {"match", "all sync", "b32|b64", "tau"},
    {"redux", "sync add|min|max", "u32|s32", "dau"}, {"redux", "sync " BOOL, "b32", "dau"},
    {"redux", "sync min|max abs? NaN?", "f32", "dau"}, {"activemask", "", "b32", "d"}, {"elect", "sync", "", "tu"},
    {"bar", "sync cta?", "", "u.u"}, {"bar", "arrive", "", "uu"}, {"bar", "red popc", "u32", "dup"},
    {"bar", "red popc", "u32", "duup"}, {"bar", "red and|or", "pred", "qup"}, {"bar", "red and|or", "pred", "quup"},
    {"bar", "warp sync", "", "u"}, {"barrier", "sync aligned? cta?", "", "u.u"}, {"barrier", "arrive aligned?", "", "uu"},
    {"barrier", "red popc aligned?", "u32", "dup"}, {"barrier", "red popc aligned?", "u32", "duup"},
    {"barrier", "red and|or aligned?", "pred", "qup"}, {"barrier", "red and|or aligned?", "pred", "quup"},
    {"barrier", "cluster arrive release|relaxed? aligned?", "", ""}, {"barrier", "cluster wait acquire? aligned?", "", ""},
    {"membar", "gl|cta|sys", "", ""}, {"membar", "proxy *", "", ""}, {"fence", "sc|acq_rel|acquire|release? " SCOPE, "", ""},
    {"fence", "sc|acq_rel|acquire|release? sync_restrict::shared::cta|sync_restrict::shared::cluster cluster", "", ""},
    {"fence", "mbarrier_init release cluster", "", ""}, {"fence", "proxy *", "", ".xx"},

    {"bra", "uni?", "", "L"}, {"brx", "idx uni?", "", "uT"}, {"ret", "uni?", "", ""}, {"exit", "", "", ""},
    {"trap", "", "", ""}, {"brkpt", "", "", ""}, {"call", "uni?", "", ".xxxx"}, {"nanosleep", "", "u32", "u"},
    {"pmevent", "mask?", "", "n"}, {"setmaxnreg", "inc|dec sync aligned", "u32", "n"},
    {"griddepcontrol", "launch_dependents|wait", "", ""}, {"mapa", SHARED "?", "u32|u64", "dxu"},
    {"getctarank", SHARED "?", "u32|u64", "rx"}, {"prefetch", "global|local? L1|L2|L2::evict_last|L2::evict_normal", "", "m"},
    {"prefetch", "const|param|generic? tensormap", "", "m"}, {"prefetchu", "L1", "", "m"},
    {"applypriority", "global? L2::evict_normal", "", "mn"}, {"discard", "global? L2", "", "mn"},
    {"createpolicy", "*", "", "x.xxxx"},
    {"cp", "async ca|cg " SHARED " global L2::cache_hint? L2::64B|L2::128B|L2::256B?", "", "mmn.uk"},
    {"cp", "async ca|cg " SHARED " global L2::cache_hint? L2::64B|L2::128B|L2::256B?", "", "mmnp.k"},
    {"cp", "async ca|cg " SHARED " global L2::cache_hint L2::64B|L2::128B|L2::256B?", "", "mmnk"},
    {"cp", "async commit_group", "", ""}, {"cp", "async wait_group", "", "n"}, {"cp", "async wait_all", "", ""},
    {"cp", "async mbarrier arrive noinc? " SHARED "?", "b64", "m"}, {"cp", "async bulk *", "", ".xxxxxxxx"},
    {"cp", "reduce async bulk *", "", "x.xxxxxxx"}, {"mbarrier", "init " SHARED "?", "b64", "mu"},
    {"mbarrier", "inval " SHARED "?", "b64", "m"}, {"mbarrier", "arrive|arrive_drop *", "", "x.xx"},
    {"mbarrier", "expect_tx|complete_tx *", "", "mu"}, {"mbarrier", "test_wait|try_wait *", "", "xmx.x"},
    {"mbarrier", "pending_count", "b64", "ra"}, {"alloca", "", "u32|u64", "dx.n"}, {"stacksave", "", "u32|u64", "d"},
    {"stackrestore", "", "u32|u64", "a"},

    /* known, and not looked into */
#define FREE(op) {op, "*", "", ".xxxxxxxxxxxx"}
    FREE("tex"), FREE("tld4"), FREE("txq"), FREE("suq"), FREE("suld"), FREE("sust"), FREE("sured"), FREE("istypep"),
    FREE("wmma"), FREE("mma"), FREE("_mma"), FREE("ldmatrix"), FREE("stmatrix"), FREE("movmatrix"), FREE("wgmma"),
    FREE("tcgen05"), FREE("multimem"), FREE("tensormap"), FREE("clusterlaunchcontrol"), FREE("vadd"), FREE("vsub"),
    FREE("vabsdiff"), FREE("vmin"), FREE("vmax"), FREE("vshl"), FREE("vshr"), FREE("vmad"), FREE("vset"), FREE("vadd2"),
    FREE("vsub2"), FREE("vavrg2"), FREE("vabsdiff2"), FREE("vmin2"), FREE("vmax2"), FREE("vset2"), FREE("vadd4"),
    FREE("vsub4"), FREE("vavrg4"), FREE("vabsdiff4"), FREE("vmin4"), FREE("vmax4"), FREE("vset4"),
};

/* Types that only certain instructions know, with the registers that hold them. */
static const struct { const char *names; enum sim_type held; } other_types[] = {
    {"e2m1x2|e2m1|e2m3|e3m2|e4m3|e5m2|ue8m0|ue4m3|u4|s4|u2|s2|b1", SIM_NOTYPE}, {"e4m3x2|e5m2x2|e2m3x2|e3m2x2|ue8m0x2|e2m1x4", SIM_B16},
    {"u16x2|s16x2|tf32|e4m3x4|e5m2x4|e2m3x4|e3m2x4", SIM_B32}, {"f32x2", SIM_B64}, {"texref|samplerref|surfref", SIM_NOTYPE},
};

/* Modifiers of the instructions that are not looked into; with those of the table, all that ptxas knows. */
static const char other_modifiers[] =
    "1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms|base|level|grad|tile|im2col|im2col::w|im2col::w::128|im2col_no_offs|tile::gather4|tile::scatter4|v1|a|b|d|ab|row|col|load|store|mma|"
    "sync|aligned|sp|sp::ordered_metadata|sparse|trans|x1|x2|x4|x8|x16|x32|x64|x128|num|satfinite|popc|xor|and|or|"
    "m8n8k4|m8n8k16|m8n8k32|m8n8k128|m16n8k4|m16n8k8|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256|m16n16k16|m32n8k16|m8n32k16|m16n16k8|m8n8|m16n16|m8n16|m16n8|"
    "zero|trap|clamp|p|h0|h1|unified|width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples|memory_layout|"
    "ld_reduce|red|st|commit_group|wait_group|wait|fence|mma_async|arrive|expect_tx|tensor|prefetch|cp|alloc|dealloc|relinquish_alloc_permit|commit|shift|cta_group::1|cta_group::2|"
    "mbarrier::complete_tx::bytes|mbarrier::arrive::one|mbarrier::arrive::one::b64|bulk_group|bulk|read|multicast::cluster|cluster|noComplete|parity|expect_tx|tensormap|replace|cp_fenceproxy|"
    "async|alias|async::generic|tensormap::generic|global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode|"
    "fractional|range|cvt|L2::evict_unchanged|L2::evict_first|generic|shared::cta|async.global|async.shared::cta|async.shared::cluster|from|to|unidirectional|try_cancel|query_cancel|"
    "is_canceled|get_first_ctaid|get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z|kind::f16|kind::tf32|kind::i8|kind::f8f6f4|kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4|block_scale|"
    "scale_vec::1X|scale_vec::2X|scale_vec::4X|shared::cta|samplerref|texref|add|min|max|inc|dec|exch|cas|geom|r|g|pack::16b|unpack::16b|32x32b|16x64b|16x128b|16x256b|16x32bx2|ws|"
    "wait::ld|wait::st|before_thread_sync|after_thread_sync|fence::before_thread_sync|fence::after_thread_sync|b0|b1|b2|b3|s4|cpmask|exclusive|override|mode|"
    "b8x16.b6x16_p32|b6x16_p32|b4x16_p64|b8x16|16x16|shared::cluster::cta|acc::f16|acc::f32";

/* ---- the table, compiled once: modifier names become numbers ---- */

#define MAX_MODS 700
#define MAX_IDS  9000
#define WILD     (-1)                             /* the group "*": any further modifiers and types */

struct modifier { const char *text; unsigned char len, type /* 1 + enum sim_type; 0: not a type */; };
struct group { short first, count; bool optional; };
struct compiled { unsigned short first_group, ngroups, first_type, ntypes; bool wild; };

static struct modifier modifiers[MAX_MODS];
static short modifier_hash[2048], ids[MAX_IDS];
static struct group groups[4000];
static struct compiled compiled[sizeof forms / sizeof *forms];
static unsigned nmodifiers = 1, nids, ngroups;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned hash_of(const char *text, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return (h ^ h >> 15) & 2047;
}

static short find_modifier(const char *text, size_t n, bool add)
{
    unsigned h = hash_of(text, n);
    for (; modifier_hash[h]; h = (h + 1) & 2047) {
        struct modifier *m = &modifiers[modifier_hash[h]];
        if (m->len == n && !memcmp(m->text, text, n)) return modifier_hash[h];
    }
    if (!add || nmodifiers == MAX_MODS) return 0;
    modifiers[nmodifiers] = (struct modifier){ text, (unsigned char)n, 0 };
    return modifier_hash[h] = (short)nmodifiers++;
}

/* "a|b? c" from text: one group per word */
static unsigned compile_groups(const char *text, unsigned short *first, bool *wild)
{
    *first = (unsigned short)ngroups;
    while (*text) {
        while (*text == ' ') text++;
        if (!*text) break;
        if (*text == '*') { *wild = true; text++; continue; }
        struct group *g = &groups[ngroups++];
        g->first = (short)nids;
        do {
            size_t n = strcspn(text, "|? ");
            ids[nids++] = find_modifier(text, n, true);
            text += n;
        } while (*text == '|' && text++);
        g->count = (short)(nids - (unsigned)g->first);
        if (*text == '?') { g->optional = true; text++; }
    }
    return ngroups - *first;
}

static void compile(void)
{
    for (unsigned t = SIM_PRED; t <= SIM_B128; t++) {
        static const char *const names[] = { "", "pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "b32", "u32",
            "s32", "f32", "f16x2", "bf16x2",
            "b64", "u64", "s64", "f64", "b128" };
        modifiers[find_modifier(names[t], strlen(names[t]), true)].type = (unsigned char)(1 + sim_type_named(names[t]));
    }
    for (size_t i = 0; i < sizeof other_types / sizeof *other_types; i++)
        for (const char *c = other_types[i].names; *c; c += *c == '|') {
            size_t n = strcspn(c, "|");
            modifiers[find_modifier(c, n, true)].type = (unsigned char)(1 + other_types[i].held);
            c += n;
        }
    for (const char *c = other_modifiers; *c; c += *c == '|') {
        size_t n = strcspn(c, "|");
        find_modifier(c, n, true);
        c += n;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct compiled *f = &compiled[i];
        f->ngroups = (unsigned short)compile_groups(forms[i].mods, &f->first_group, &f->wild);
        f->ntypes = (unsigned short)compile_groups(forms[i].types, &f->first_type, &f->wild);
    }
}

static bool in_group(const struct group *g, short id)
{
    for (short i = 0; i < g->count; i++) if (ids[g->first + i] == id) return true;
    return false;
}

static bool group_has(const struct group *g, const char *text) { return in_group(g, find_modifier(text, strlen(text), false)); }

/* ---- special registers ---- */

/* w: 32 bits, l: 64, q: either, v: vector of 32, p: predicate */
static const struct { const char *name; char kind; } specials[] = {
    {"", 0}, {"%tid", 'v'}, {"%ntid", 'v'}, {"%ctaid", 'v'}, {"%nctaid", 'v'}, {"%laneid", 'w'}, {"%warpid", 'w'}, {"%nwarpid", 'w'}, {"%smid", 'w'},
    {"%nsmid", 'w'}, {"%gridid", 'q'}, {"%clock", 'w'}, {"%clock_hi", 'w'}, {"%clock64", 'l'}, {"%globaltimer", 'l'}, {"%globaltimer_lo", 'w'},
    {"%globaltimer_hi", 'w'}, {"%lanemask_lt", 'w'}, {"%lanemask_eq", 'w'}, {"%lanemask_le", 'w'}, {"%lanemask_gt", 'w'}, {"%lanemask_ge", 'w'},
    {"%dynamic_smem_size", 'w'}, {"%total_smem_size", 'w'}, {"%aggr_smem_size", 'w'}, {"%is_explicit_cluster", 'p'}, {"%clusterid", 'v'}, {"%nclusterid", 'v'},
    {"%cluster_ctaid", 'v'}, {"%cluster_nctaid", 'v'}, {"%cluster_ctarank", 'w'}, {"%cluster_nctarank", 'w'}, {"%reserved_smem_offset_begin", 'w'},
    {"%reserved_smem_offset_end", 'w'}, {"%reserved_smem_offset_cap", 'w'}, {"%reserved_smem_offset_0", 'w'}, {"%reserved_smem_offset_1", 'w'},
    {"%current_graph_exec", 'l'}, {"%envreg", 'w'}, {"%pm", 'w'}, {"%pm_64", 'l'},
};
#define SPECIAL_ENVREG (sizeof specials / sizeof *specials - 3)

int px_special(struct px_name *name)
{
    if (name->sreg) return name->sreg;
    name->sreg = -1;
    if (name->text[0] != '%') return -1;
    for (size_t i = 1; i < SPECIAL_ENVREG; i++) if (!strcmp(specials[i].name, name->text)) return name->sreg = (short)i;
    char *end = NULL;
    if (!strncmp(name->text, "%envreg", 7) && name->text[7] >= '0' && name->text[7] <= '9') {
        unsigned long n = strtoul(name->text + 7, &end, 10);
        if (n < 32 && !*end) name->sreg = (short)SPECIAL_ENVREG;
    } else if (!strncmp(name->text, "%pm", 3) && name->text[3] >= '0' && name->text[3] <= '7') {
        if (!name->text[4]) name->sreg = (short)SPECIAL_ENVREG + 1;
        else if (!strcmp(name->text + 4, "_64")) name->sreg = (short)SPECIAL_ENVREG + 2;
    }
    return name->sreg;
}

/* ---- operands ---- */

struct checked {                                  /* one instruction under check */
    struct px *px;
    const struct sim_instr *in;
    enum sim_type type[4];                        /* SIM_B32 where there is none */
    unsigned vec;
    bool has_policy;                              /* .L2::cache_hint stands */
};

enum class { C_NONE, C_PRED, C_BITS, C_INT, C_FLOAT };

static enum class class_of(enum sim_type t)
{
    switch (t) {
    case SIM_NOTYPE: return C_NONE;
    case SIM_PRED: return C_PRED;
    case SIM_B8: case SIM_B16: case SIM_B32: case SIM_B64: case SIM_B128: return C_BITS;
    case SIM_F16: case SIM_BF16: case SIM_F32: case SIM_F64: case SIM_F16X2: case SIM_BF16X2: return C_FLOAT;
    default: return C_INT;
    }
}

static bool fits(enum sim_type want, enum sim_type have, bool wider)
{
    enum class w = class_of(want), h = class_of(have);
    unsigned ws = sim_type_size(want), hs = sim_type_size(have);
    if (w == C_NONE) return true;
    if (w == C_PRED || h == C_PRED) return w == h;
    if (have == SIM_F16X2 && w == C_INT) h = C_BITS;       /* ptxas takes the packed pair for an integer */
    if (wider && w == C_FLOAT && h == C_BITS) return hs >= ws;
    if (hs != ws && !(wider && hs > ws && w != C_FLOAT)) return false;
    if (w == C_BITS || h == C_BITS) return h != C_FLOAT || hs == ws;
    return w == h && (w != C_FLOAT || want == have);
}

static bool fits_constant(enum sim_type want, const struct sim_operand *o)
{
    enum class w = class_of(want);
    if (w == C_NONE) return true;
    if (w == C_FLOAT) return o->fbits && (want == SIM_F32 || want == SIM_F64);
    if (w == C_BITS) return !o->fbits || o->fbits == sim_type_size(want) * 8;
    return !o->fbits;
}

static enum sim_type register_type(const struct checked *c, const struct sim_operand *o)
{
    return ((const struct sim_reg *)c->px->regs.data)[o->reg].type;
}

static bool scalar_register(const struct checked *c, const struct sim_operand *o)
{
    return o->kind == SIM_O_REG && (((const struct sim_reg *)c->px->regs.data)[o->reg].vec == 1 || o->component);
}

static bool is_target(const struct checked *c, const struct sim_operand *o, enum sim_type t, bool wider)
{
    return scalar_register(c, o) && !o->negated && fits(t, register_type(c, o), wider);
}

static bool is_source(const struct checked *c, const struct sim_operand *o, enum sim_type t, bool wider)
{
    if (o->kind == SIM_O_IMM) return fits_constant(t, o);
    return scalar_register(c, o) && fits(t, register_type(c, o), wider) && (!o->negated || t == SIM_PRED);
}

/* ld and st of bits move bytes into any register that is large enough; in a vector only the size counts at all. */
static bool fits_memory(enum sim_type want, enum sim_type have, bool in_vector)
{
    if (class_of(have) == C_PRED || class_of(want) == C_PRED) return want == have;
    if (in_vector || class_of(want) == C_BITS) return sim_type_size(have) >= sim_type_size(want);
    return fits(want, have, true);
}

static bool is_memory_register(const struct checked *c, const struct sim_operand *o)
{
    return scalar_register(c, o) && !o->negated && fits_memory(c->type[0], register_type(c, o), c->vec != 0);
}

static bool is_vector(const struct checked *c, const struct sim_operand *o, bool target)
{
    enum sim_type t = c->type[0];
    if (o->kind == SIM_O_REG && !o->component && ((const struct sim_reg *)c->px->regs.data)[o->reg].vec == c->vec)
        return fits_memory(t, register_type(c, o), true);
    if (o->kind != SIM_O_VEC || o->n != c->vec) return false;
    for (unsigned i = 0; i < o->n; i++)
        if (!is_memory_register(c, &o->list[i]) && (target ? o->list[i].kind != SIM_O_SINK
            : !is_source(c, &o->list[i], t, true))) return false;
    return true;
}

static bool is_predicate(const struct checked *c, const struct sim_operand *o) {
    return o->kind == SIM_O_SINK || is_target(c, o, SIM_PRED, false); }

static enum sim_type doubled(enum sim_type t)
{
    switch (t) {
    case SIM_U16: return SIM_U32;
    case SIM_S16: return SIM_S32;
    case SIM_U32: return SIM_U64;
    default: return SIM_S64;
    }
}

static bool operand_fits(const struct checked *c, char letter, const struct sim_operand *o)
{
    enum sim_type t0 = c->type[0], t1 = c->type[1];
    switch (letter) {
    case 'd': return is_target(c, o, t0, false);
    case 'e': return is_target(c, o, t1, false);
    case 'D': return is_target(c, o, t0, true);
    case 'a': return is_source(c, o, t0, false);
    case 'b': return is_source(c, o, t1, false);
    case 'A': return is_source(c, o, t0, true);
    case 'B': return is_source(c, o, t1, true);
    case 'w': return is_target(c, o, doubled(t0), false);
    case 'W': return is_source(c, o, doubled(t0), false);
    case 'V': return c->vec ? is_vector(c, o, true) : o->kind == SIM_O_SINK || is_memory_register(c, o);
    case 'S': return c->vec ? is_vector(c, o, false) : is_memory_register(c, o) || is_source(c, o, t0, true);
    case 'o': return o->kind == SIM_O_PAIR ? is_predicate(c, &o->list[0]) && is_predicate(c, &o->list[1]) : is_predicate(c, o);
    case 'O': if (o->kind != SIM_O_PAIR) return o->kind == SIM_O_SINK || is_target(c, o, t0, false);
              return (o->list[0].kind == SIM_O_SINK || is_target(c, &o->list[0], t0, false)) && is_predicate(c, &o->list[1]);
    case 't': return o->kind == SIM_O_PAIR && (o->list[0].kind == SIM_O_SINK || is_target(c, &o->list[0], SIM_B32, false)) &&
        is_predicate(c, &o->list[1]);
    case 'q': return is_predicate(c, o);
    case 'p': return is_source(c, o, SIM_PRED, false);
    case 'r': return is_target(c, o, SIM_B32, false);
    case 'u': return is_source(c, o, SIM_U32, false);
    case 'k': return c->has_policy && is_target(c, o, SIM_B64, false);
    case 'n': return o->kind == SIM_O_IMM && !o->fbits;
    case 'm': return o->kind == SIM_O_MEM;
    case 'g': return o->kind == SIM_O_IMM || (o->kind == SIM_O_SYM && o->var) ||
        (scalar_register(c, o) && class_of(register_type(c, o)) != C_FLOAT && class_of(register_type(c, o)) != C_PRED);
    case 'L': return o->kind == SIM_O_LABEL;
    case 'T': return o->kind == SIM_O_TARGETS;
    default: return true;
    }
}

static bool operands_fit(const struct checked *c, const char *args)
{
    bool optional = false;
    unsigned i = 0;
    for (; *args; args++) {
        if (*args == '.') { optional = true; continue; }
        if (i == c->in->n) return optional && !(c->has_policy && strchr(args, 'k'));
        if (!operand_fits(c, *args, &c->in->opd[i++])) return false;
    }
    return i == c->in->n;
}

/* mov has forms that no letter says: addresses, special registers, packing into and out of vectors. */
static bool mov_fits(const struct checked *c)
{
    const struct sim_operand *d = &c->in->opd[0], *s = &c->in->opd[1];
    enum sim_type t = c->type[0];
    if (c->in->n != 2) return false;
    if (c->vec) {
        if (s->kind == SIM_O_SREG) return is_vector(c, d, true);
        return is_vector(c, d, true) && is_vector(c, s, false);
    }
    if (d->kind == SIM_O_VEC || s->kind == SIM_O_VEC) {
        const struct sim_operand *v = d->kind == SIM_O_VEC ? d : s, *w = d->kind == SIM_O_VEC ? s : d;
        unsigned size = sim_type_size(t), part = v->n ? size / v->n : 0;
        if (class_of(t) != C_BITS || (v->n != 2 && v->n != 4) || !part) return false;
        for (unsigned i = 0; i < v->n; i++) {
            const struct sim_operand *e = &v->list[i];
            if (e->kind == SIM_O_SINK && v == d) continue;
            if (e->kind == SIM_O_IMM && v == s) continue;
            if (!scalar_register(c, e) || sim_type_size(register_type(c, e)) != part) return false;
        }
        return w == d ? is_target(c, w, t, false) : is_source(c, w, t, false);
    }
    if (!is_target(c, d, t, false)) return false;
    if (s->kind == SIM_O_SYM) return class_of(t) != C_PRED && class_of(t) != C_FLOAT && sim_type_size(t) >= 4;
    if (s->kind == SIM_O_SREG) {
        struct px_name *name = px_find_name(c->px->store, s->name, strlen(s->name));
        char kind = specials[px_special(name)].kind;
        unsigned size = sim_type_size(t);
        if (kind == 'p') return t == SIM_PRED;
        if (kind == 'v' && !s->component) return false;
        return (kind == 'l' ? size == 8 : kind == 'q' ? size >= 4 : size == 4) && class_of(t) != C_FLOAT;
    }
    return is_source(c, s, t, false);
}

/* ---- an instruction ---- */

static const char *const spaces[] = { "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
    "param::entry", "param::func" };

static void check_address(struct px *px, const struct sim_instr *in, const struct sim_operand *o)
{
    const char *space = NULL;
    for (unsigned m = 0; m < in->nmods && !space; m++)
        for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) if (!strcmp(in->mods[m], spaces[i])) space = spaces[i];
    if (o->reg >= 0) {
        const struct sim_reg *r = (const struct sim_reg *)px->regs.data + o->reg;
        enum class k = class_of(r->type);
        if (k == C_FLOAT || k == C_PRED || sim_type_size(r->type) < 4) {
            char type[8] = "";
            for (unsigned i = 1; i < nmodifiers; i++) if (modifiers[i].type == 1 + r->type) snprintf(type, sizeof type, "%.*s",
                modifiers[i].len, modifiers[i].text);
            px_error(px, in->line, "Illegal to use symbol '%s' of type .%s as address operand. Use integer or bit only.",
                r->name, type);
        } else if (sim_type_size(r->type) == 4 && strcmp(in->op, "prefetch") && (!space || !strcmp(space, "global")) &&
            (!strcmp(in->op, "ld") || !strcmp(in->op, "st") || !strcmp(in->op, "atom") || !strcmp(in->op, "red")))
            px_fatal(px, 218, 0, "Program uses 32-bit address on line '%u' which is conflicting with .address_size 64", in->line);
    } else if (!o->var && !o->name && (!space || strcmp(space, "local"))) {
        px_error(px, in->line, "Immediate addresses allowed only for .local state space");
    } else if (o->var && !space && (o->var->space == SIM_CONST || o->var->space == SIM_PARAM) &&
        (!strcmp(in->op, "atom") || !strcmp(in->op, "red"))) {
        px_error(px, in->line, "State space mismatch between instruction and address in instruction '%s'", in->op);
    } else if (o->var && space && (!strcmp(in->op, "ld") || !strcmp(in->op, "st") || !strcmp(in->op, "atom") ||
        !strcmp(in->op, "red"))) {
        static const enum sim_space meant[] = { SIM_GLOBAL, SIM_SHARED, SIM_SHARED, SIM_SHARED, SIM_LOCAL, SIM_CONST, SIM_PARAM,
            SIM_PARAM, SIM_PARAM };
        for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
            if (!strcmp(space, spaces[i]) && o->var->space != meant[i])
                px_error(px, in->line, "State space mismatch between instruction and address in instruction '%s'", in->op);
        const struct sim_func *f = px->func;
        if (o->var->space == SIM_PARAM && !strcmp(in->op, "st") && o->var >= f->params && o->var < f->params + f->nparams)
            px_error(px, in->line, "Illegal to write to function input parameter '%s'", o->var->name);
        if (o->var->space == SIM_PARAM && !strcmp(in->op, "ld") && o->var >= f->rets && o->var < f->rets + f->nrets)
            px_error(px, in->line, "Illegal to read function return parameter '%s'", o->var->name);
    }
}

static void check_call_list(struct px *px, const struct sim_instr *in, const struct sim_operand *list,
    const struct sim_var *formal, unsigned n)
{
    unsigned given = list ? list->n : 0;
    if (given != n) { px_error(px, in->line, "Call has wrong number of parameters"); return; }
    for (unsigned i = 0; i < n; i++) {
        const struct sim_operand *o = &list->list[i];
        uint64_t size = 0; uint32_t align = 0;
        if (o->kind == SIM_O_REG) { size = align = sim_type_size(((const struct sim_reg *)px->regs.data)[o->reg].type); }
        else if (o->kind == SIM_O_SYM && o->var) { size = o->var->size; align = o->var->align; }
        else continue;
        if (formal[i].is_unsized) continue;
        if (size != formal[i].size)
            px_error(px, in->line, "Type of argument does not match formal parameter '%s'", formal[i].name);
        if (align < formal[i].align)
            px_error(px, in->line, "Alignment of argument does not match formal parameter '%s'", formal[i].name);
    }
}

static void check_call(struct px *px, const struct sim_instr *in)
{
    unsigned i = 0;
    const struct sim_operand *rets = NULL, *args = NULL, *target, *proto = NULL;
    if (in->n && in->opd[0].kind == SIM_O_LIST) rets = &in->opd[i++];
    if (i >= in->n) { px_error(px, in->line, "Arguments mismatch for instruction 'call'"); return; }
    target = &in->opd[i++];
    if (i < in->n && in->opd[i].kind == SIM_O_LIST) args = &in->opd[i++];
    if (i < in->n) proto = &in->opd[i++];
    if (target->kind == SIM_O_SYM && target->func) {
        const struct sim_func *f = target->func;
        if (f->is_entry) { px_error(px, in->line, "Illegal call target, device function expected"); return; }
        check_call_list(px, in, rets, f->rets, f->nrets);
        check_call_list(px, in, args, f->params, f->nparams);
    } else if (target->kind == SIM_O_REG) {
        if (proto && proto->kind == SIM_O_PROTO) {
            check_call_list(px, in, rets, proto->proto->rets, proto->proto->nrets);
            check_call_list(px, in, args, proto->proto->params, proto->proto->nparams);
        } else px_error(px, in->line, "Call to '%s' requires call prototype",
            ((const struct sim_reg *)px->regs.data)[target->reg].name);
    } else if (target->kind == SIM_O_LABEL) px_error(px, in->line, "Call to '%s' requires call prototype", target->name);
    else px_error(px, in->line, "Illegal call target, device function expected");
}

/* The name that ptxas gives an instruction in its messages: some modifiers are part of it. */
static const char *full_name(const struct sim_instr *in, char *buffer, size_t size)
{
    static const char *const parted[] = { "mul lo hi wide", "mad lo hi wide", "mul24 lo hi", "mad24 lo hi", "madc lo hi",
        "brx idx", "dp2a lo hi", "bar red arrive warp",
        "barrier red arrive cluster", "pmevent mask", "cvt pack", "cvta to",
            "cp async wait_all wait_group commit_group mbarrier bulk",
        "mbarrier init inval arrive arrive_drop test_wait try_wait pending_count expect_tx complete_tx" };
    size_t n = strlen(in->op);
    for (size_t i = 0; i < sizeof parted / sizeof *parted; i++) {
        if (strncmp(parted[i], in->op, n) || parted[i][n] != ' ') continue;
        size_t at = (size_t)snprintf(buffer, size, "%s", in->op);
        for (unsigned m = 0; m < in->nmods; m++) {
            const char *hit = strstr(parted[i] + n, in->mods[m]);
            size_t len = strlen(in->mods[m]);
            if (hit && hit[-1] == ' ' && (hit[len] == ' ' || !hit[len]) &&
                at + len + 2 < size) at += (size_t)snprintf(buffer + at, size - at, ".%s", in->mods[m]);
        }
        return buffer;
    }
    return in->op;
}

static bool has_modifier(const struct sim_instr *in, const char *modifier)
{
    for (unsigned i = 0; i < in->nmods; i++) if (!strcmp(in->mods[i], modifier)) return true;
    return false;
}

/* What needs a newer .target or .version than the text has. `word` is a modifier or type; the name is the instruction's if NULL. */
static const struct feature { const char *op, *word; unsigned char sm, version; const char *kind, *name; } features[] = {
    {"redux", NULL, 80, 70, "Feature", NULL}, {"cp", "async", 80, 70, "Feature", NULL},
    {"mbarrier", "try_wait", 90, 78, "Feature", NULL}, {"mbarrier", NULL, 80, 70, "Feature", NULL},
    {"discard", NULL, 80, 74, "Feature", NULL}, {"applypriority", NULL, 80, 74, "Feature", NULL},
    {"createpolicy", NULL, 80, 74, "Feature", NULL}, {"alloca", NULL, 52, 73, "Feature", NULL},
    {"stacksave", NULL, 52, 73, "Feature", NULL}, {"stackrestore", NULL, 52, 73, "Feature", NULL},
    {"elect", NULL, 90, 80, "Feature", NULL}, {"griddepcontrol", NULL, 90, 78, "Instruction", NULL},
    {"mapa", NULL, 90, 78, "Feature", NULL}, {"getctarank", NULL, 90, 78, "Feature", NULL},
    {"barrier", "cluster", 90, 78, "Feature", NULL}, {"match", NULL, 70, 60, "Instruction", NULL},
    {"nanosleep", NULL, 70, 62, "Instruction", NULL}, {"activemask", NULL, 0, 62, "Feature", NULL},
    {"fence", NULL, 70, 60, "Feature", "fence instruction"}, {"bmsk", NULL, 70, 76, "Instruction", NULL},
    {"szext", NULL, 70, 76, "Instruction", NULL}, {"tanh", NULL, 75, 70, "Feature", NULL},
    {"ex2", "f16|f16x2", 75, 70, "Feature", "ex2.f16/f16x2"}, {"min", "f16|f16x2", 80, 70, "Feature", "min.f16 or min.f16x2"},
    {"max", "f16|f16x2", 80, 70, "Feature", "max.f16 or max.f16x2"},
    {"abs", "f16|f16x2", 0, 65, "Feature", "abs.f16 or abs.f16x2"}, {"dp4a", NULL, 61, 50, "Instruction", NULL},
    {"dp2a", NULL, 61, 50, "Instruction", NULL}, {"lop3", "or|and", 70, 82, "Feature", "lop3.<BoolOp>"},
    {"ldmatrix", NULL, 75, 65, "Feature", NULL}, {"add", "bf16", 90, 78, "Feature", "add.bf16"},
    {"sub", "bf16", 90, 78, "Feature", "sub.bf16"}, {"mul", "bf16", 90, 78, "Feature", "mul.bf16"},
    {"add", "bf16x2", 90, 78, "Feature", "add.bf16x2"}, {"sub", "bf16x2", 90, 78, "Feature", "sub.bf16x2"},
    {"mul", "bf16x2", 90, 78, "Feature", "mul.bf16x2"}, {"set", "bf16", 90, 78, "Feature", "set.bf16"},
    {"setp", "bf16", 90, 78, "Feature", "setp.bf16"}, {"set", "bf16x2", 90, 78, "Feature", "set.bf16x2"},
    {"setp", "bf16x2", 90, 78, "Feature", "setp.bf16x2"}, {"ex2", "bf16|bf16x2", 90, 78, "Feature", "ex2.bf16"},
    {"atom", "bf16|bf16x2", 90, 78, "Instruction", "atom.add.bf16.global"},
    {"atom", "f16", 70, 63, "Instruction", "atom.add.f16.global"},
    {"atom", "b16", 70, 63, "Instruction", "atom.cas.b16.global"},
    {"atom", "b128", 90, 83, "Instruction", "atom.exch.b128.global"},
    {"atom", "v2|v4|v8", 90, 81, "Feature", "atom instruction with vector types"},
    {"add", "u16x2|s16x2", 90, 80, "Feature", "add.u16x2"}, {"min", "u16x2|s16x2", 90, 80, "Feature", "min.u16x2"},
    {"max", "u16x2|s16x2", 90, 80, "Feature", "max.u16x2"}, {"*", "f32x2", 100, 86, "Feature", ".f32x2"},
    {"*", "e4m3x2|e5m2x2", 89, 78, "Feature", "cvt with .e4m3x2/.e5m2x2"}, {"cvt", "s2|u2|s4|u4", 75, 65, "Feature", ".s2"},
    {"*", "bf16", 80, 70, "Feature", ".bf16"}, {"*", "bf16x2", 80, 70, "Feature", ".bf16x2"},
    {"*", "tf32", 80, 70, "Feature", ".tf32"}, {"cvta", "param", 70, 77, "Feature", "cvta/isspacep with .param state space"},
    {"*", "shared::cluster", 90, 78, "Feature", "::cluster"}, {"*", "shared::cta", 0, 78, "Feature", "::cta"},
    {"*", "param::entry", 0, 83, "Feature", "::entry"}, {"atom", "cluster", 90, 78, "Feature", ".cluster scope"},
    {"red", "cluster", 90, 78, "Feature", ".cluster scope"}, {"ld", "cluster", 90, 78, "Feature", ".cluster scope"},
    {"st", "cluster", 90, 78, "Feature", ".cluster scope"}, {"fence", "cluster", 90, 78, "Feature", ".cluster scope"},
    {"*", "relu", 80, 70, "Modifier", ".relu"}, {"*", "NaN", 80, 70, "Modifier", ".NaN"},
    {"*", "xorsign", 86, 72, "Modifier", ".xorsign"}, {"*", "oob", 90, 81, "Modifier", ".oob"},
    {"*", "L2::cache_hint", 80, 74, "Modifier", ".L2::cache_hint"}, {"*", "mmio", 70, 82, "Feature", ".mmio"},
    {"ld", "L2::64B|L2::128B|L2::256B", 75, 74, "Feature", "cache prefetching"},
    {"*", "relaxed", 70, 60, "Feature", ".relaxed"}, {"*", "acquire", 70, 60, "Feature", ".acquire"},
    {"*", "release", 70, 60, "Feature", ".release"}, {"barrier", "cta", 0, 78, "Feature", "barrier.cta"},
    {"setmaxnreg", NULL, 90, 80, "Feature", NULL},
};

static bool has_any(const struct sim_instr *in, const char *words)                 /* words: "a|b" */
{
    for (const char *c = words; ; c++) {
        size_t n = strcspn(c, "|");
        for (unsigned i = 0; i < in->nmods; i++) if (strlen(in->mods[i]) == n && !memcmp(in->mods[i], c, n)) return true;
        c += n;
        if (!*c) return false;
    }
}

static void require(struct px *px, const struct sim_instr *in, unsigned sm, unsigned version, const char *kind, const char *name)
{
    if (px->image->sm < sm) px_error(px, in->line, "%s '%s' requires .target sm_%u or higher", kind, name, sm);
    if (px->image->version < version) px_error(px, in->line, "%s '%s' requires PTX ISA .version %u.%u or later", kind, name,
        version / 10, version % 10);
}

static void check_features(struct px *px, const struct sim_instr *in, const struct checked *c, const char *name)
{
    if (c->vec * sim_type_size(c->type[0]) > 16 && (!strcmp(in->op, "ld") ||
        !strcmp(in->op, "st"))) require(px, in, 100, 88, "Feature", "256 bit wide load/store");
    if ((!strcmp(in->op, "min") || !strcmp(in->op, "max")) && in->n > 3) require(px, in, 100, 88, "Feature", in->op[1] == 'a'
        ? "max.f32 with 3 input operands" : "min.f32 with 3 input operands");
    if ((!strcmp(in->op, "add") || !strcmp(in->op, "sub") || !strcmp(in->op, "fma")) && has_modifier(in, "f32") &&
        has_any(in, "f16|bf16")) require(px, in, 100, 86, "Feature", "mixed precision");
    if (px->image->sm >= 90 && px->image->version >= 83) return;             /* newer than every row that can stand here */
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *f = &features[i];
        if ((px->image->sm >= f->sm && px->image->version >= f->version) || (f->op[0] != '*' && strcmp(f->op, in->op)) ||
            (f->word && !has_any(in, f->word))) continue;
        require(px, in, f->sm, f->version, f->kind, f->name ? f->name : name);
        return;
    }
}

/* What no form can say: values of constants, modifiers that depend on each other or on the type. */
static void check_details(struct px *px, const struct sim_instr *in, enum sim_type type, const char *name)
{
    bool barrier = (!strcmp(in->op, "bar") && !has_modifier(in, "warp")) ||
        (!strcmp(in->op, "barrier") && !has_modifier(in, "cluster"));
    unsigned first = barrier && has_modifier(in, "red");
    if (barrier && in->n > first && in->opd[first].kind == SIM_O_IMM && in->opd[first].imm > 15)
        px_error(px, in->line, "Barrier number '%llu' out of range, expected to be in range [0..15]",
            (unsigned long long)in->opd[first].imm);
    if (barrier && in->n > first + 1 + first && in->opd[first + 1].kind == SIM_O_IMM && in->opd[first + 1].imm % 32)
        px_error(px, in->line, "Number of threads participating in barrier must be in multiple of warp size");
    if ((!strcmp(in->op, "min") || !strcmp(in->op, "max")) && has_modifier(in, "xorsign") != has_modifier(in, "abs"))
        px_error(px, in->line,
            "Modifier '.%s' requires modifier '.%s'", has_modifier(in, "abs") ? "abs" : "xorsign", has_modifier(in, "abs") ? "xorsign" : "abs");
    if (!strcmp(in->op, "set") || !strcmp(in->op, "setp")) {
        bool signed_only = has_modifier(in, "lo") || has_modifier(in, "ls") || has_modifier(in, "hi") || has_modifier(in, "hs");
        bool is_signed = type == SIM_S16 || type == SIM_S32 || type == SIM_S64;
        if ((class_of(type) == C_BITS && !has_modifier(in, "eq") && !has_modifier(in, "ne")) || (is_signed && signed_only))
            px_error(px, in->line, "Mismatch between instruction type and comparison qualifier");
    }
    if (!strcmp(in->op, "cp") && in->n >= 3 && in->opd[2].kind == SIM_O_IMM && has_modifier(in, "global")) {
        uint64_t v = in->opd[2].imm;
        bool cg = has_modifier(in, "cg");
        if (cg ? v != 16 : v != 4 && v != 8 && v != 16)
            px_error(px, in->line, "Argument 2 of instruction '%s': unexpected value '%lld', expected to be %s", name,
                (long long)v, cg ? "16" : "4 or 8 or 16");
    }
}

/* How far a form gets: 0 another opcode, 1 types differ, 2 modifiers differ, 3 operands differ, 4 fits. `odd` is the
   modifier that the form does not take, or `missing` the group that it lacks. */
static int try_form(const struct checked *c, size_t form, const short *mods, unsigned nmods, const short *types,
    unsigned ntypes, short *odd, const struct group **missing)
{
    const struct compiled *f = &compiled[form];
    *odd = 0; *missing = NULL;
    if (!f->wild) {
        if (ntypes != f->ntypes) return 1;
        for (unsigned i = 0; i < ntypes; i++) if (!in_group(&groups[f->first_type + i], types[i])) return 1;
    }
    uint32_t taken = 0;
    for (unsigned m = 0; m < nmods; m++) {
        bool found = false;
        for (unsigned g = 0; g < f->ngroups && !found; g++)
            if (!(taken >> g & 1) && in_group(&groups[f->first_group + g], mods[m])) { taken |= 1u << g; found = true; }
        for (unsigned k = 0; k < m && !found; k++) found = mods[k] == mods[m];       /* said twice */
        if (!found && !f->wild) { *odd = mods[m]; break; }
    }
    for (unsigned g = 0; g < f->ngroups && !*missing; g++)
        if (!(taken >> g & 1) && !groups[f->first_group + g].optional) *missing = &groups[f->first_group + g];
    if (*odd || *missing) return 2;
    bool fit = !strcmp(c->in->op, "mov") ? mov_fits(c) : operands_fit(c, forms[form].args);
    return fit ? 4 : 3;
}

static bool one_of(const struct modifier *m, const char *list)       /* list: "|a|b|" */
{
    const char *hit = list;
    while ((hit = strstr(hit + 1, m->text)) && !(hit[-1] == '|' && hit[strcspn(m->text, "|? ")] == '|')) ;
    return hit;
}

static void odd_modifier(struct px *px, const struct sim_instr *in, const char *name, const struct modifier *m)
{
    char text[40];
    snprintf(text, sizeof text, "%.*s", m->len, m->text);
    struct modifier only = { text, m->len, 0 };
    static const char spaced[] = "|ld|st|ldu|atom|red|cvta|isspacep|prefetch|";
    struct modifier op = { in->op, (unsigned char)strlen(in->op), 0 };
    bool is_space = one_of(&only, "|global|local|const|param|shared|shared::cta|shared::cluster|");
    if (is_space && one_of(&op, spaced))
        px_error(px, in->line, "Unexpected number of state spaces specified in instruction '%s'", name);
    else if ((!strcmp(in->op, "mul") || !strcmp(in->op, "mad")) && one_of(&only, "|lo|hi|wide|"))
        px_error(px, in->line, "Unexpected instruction types specified for '%s'", name);
    else if ((!strcmp(in->op, "atom") || !strcmp(in->op, "red")) && one_of(&only, "|add|min|max|inc|dec|and|or|xor|exch|cas|"))
        px_error(px, in->line, "Operation .%s requires another type for instruction '%s'", text, name);
    else if (one_of(&only, "|rn|rz|rm|rp|rni|rzi|rmi|rpi|rna|rs|")) px_error(px, in->line,
        "Illegal rounding modifier for instruction '%s'", name);
    else if (one_of(&only, "|eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan|"))
        px_error(px, in->line, "Comparison qualifier is not allowed for instruction '%s'", name);
    else if (is_space) px_error(px, in->line, "No state space qualifier expected for instruction '%s'", name);
    else if (one_of(&only, "|v2|v4|v8|")) px_error(px, in->line, "Vector qualifier is not allowed for instruction '%s'", name);
    else if (one_of(&only, "|wide|idx|wait_group|wait_all|commit_group|")) px_error(px, in->line, "Unknown modifier '.%s'", text);
    else px_error(px, in->line, "Illegal modifier '.%s' for instruction '%s'", text, name);
}

static void missing_modifier(struct px *px, const struct sim_instr *in, const char *name, const struct group *missing)
{
    const struct modifier *m = &modifiers[ids[missing->first]];
    unsigned line = in->line;
    if (!strcmp(in->op, "mul24") || !strcmp(in->op, "mad24") || !strcmp(in->op, "madc") || !strcmp(in->op, "mbarrier") ||
        !strcmp(in->op, "brx") ||
        (!strcmp(in->op, "cp") && !has_modifier(in, "async"))) px_error(px, line,
            "Not a name of any known instruction: '%s'", in->op);
    else if (!strcmp(in->op, "dp2a")) px_error(px, line, "'.hi/.lo' modifier required for instruction '%s'", name);
    else if (!strcmp(in->op, "shfl")) px_error(px, line, has_modifier(in, "sync")
        ? "Shuffle modifier required for instruction 'shfl'" :
        "Instruction 'shfl' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4");
    else if (!strcmp(in->op, "vote") && !has_modifier(in, "sync"))
        px_error(px, line, "Instruction 'vote' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4");
    else if (!strcmp(name, "bar") || !strcmp(name, "barrier")) px_error(px, line,
        "Barrier modifier required for instruction '%s'", name);
    else if (group_has(missing, "eq")) px_error(px, line, "Comparison modifier required for instruction '%s'", name);
    else if (group_has(missing, "rn") && (!strcmp(in->op, "div") || !strcmp(in->op, "sqrt") || !strcmp(in->op, "rcp")))
        px_error(px, line, "Rounding modifier or '.approx' modifier required for instruction '%s'", name);
    else if (group_has(missing, "approx")) px_error(px, line, !strcmp(in->op, "div") || !strcmp(in->op, "sqrt") ||
        !strcmp(in->op, "rcp") ?
        "Rounding modifier or '.approx' modifier required for instruction '%s'" : ".approx modifier required for instruction '%s'", name);
    else if (group_has(missing, "rn") || group_has(missing, "rni")) px_error(px, line,
        "Rounding modifier required for instruction '%s'", name);
    else if (!strcmp(in->op, "membar")) px_error(px, line, "Membar level required for instruction '%s'", name);
    else if (group_has(missing, "lo") || group_has(missing, "wide")) px_error(px, line,
        "Unexpected instruction types specified for '%s'", name);
    else if (!strcmp(in->op, "atom") || !strcmp(in->op, "red")) px_error(px, line,
        "Reduction operation is required for instruction '%s'", name);
    else px_error(px, line, "'.%.*s' modifier required for instruction '%s'", m->len, m->text, name);
}

static void wrong_operands(const struct checked *c, const char *name, const char *args)
{
    struct px *px = c->px;
    const struct sim_instr *in = c->in;
    bool to_register = strchr("dDwr", args[0]) && in->n;
    if (!strcmp(in->op, "mov")) {
        if (in->n && in->opd[0].kind == SIM_O_SREG) px_error(px, in->line,
            "Read-only special register cannot be destination argument");
        else px_error(px, in->line, "Arguments mismatch for instruction '%s'", name);
        return;
    }
    for (unsigned i = 0; i < in->n && to_register; i++) {
        const struct sim_operand *o = &in->opd[i];
        bool same_count = strlen(args) == in->n;
        if (o->kind == SIM_O_SREG) px_error(px, in->line, "Special register argument not allowed for instruction '%s'", name);
        else if (o->kind == SIM_O_VEC) px_error(px, in->line, "Vector operand is not allowed for instruction '%s'", name);
        else if (same_count && (o->kind == SIM_O_MEM || (o->kind == SIM_O_SYM && o->var)))
            px_error(px, in->line, "Argument %u of instruction '%s': must be register", i, name);
        else if (same_count && !i && (o->kind == SIM_O_IMM || o->kind == SIM_O_SYM))
            px_error(px, in->line, "Result register required for instruction '%s'", name);
        else continue;
        return;
    }
    if (c->vec && (!strcmp(in->op, "ld") || !strcmp(in->op, "st"))) {
        const struct sim_operand *o = in->n == 2 ? &in->opd[in->op[0] == 's'] : NULL;
        if (o && !is_vector(c, o, in->op[0] == 'l') && (o->kind != SIM_O_VEC || o->n != c->vec)) {
            px_error(px, in->line, "Argument vector size mismatch for instruction '%s'", name);
            return;
        }
    }
    px_error(px, in->line, "Arguments mismatch for instruction '%s'", name);
}

void px_check(struct px *px, struct sim_instr *in, struct px_name *op, struct px_name *const *names)
{
    struct checked c = { .px = px, .in = in };
    short mods[SIM_MAX_MODS], types[SIM_MAX_MODS];
    unsigned nmods = 0, ntypes = 0;
    char buffer[160];
    pthread_once(&once, compile);

    if (!op->op) {
        op->op = -1;
        for (size_t i = 0; i < sizeof forms / sizeof *forms && op->op < 0; i++)
            if (!strcmp(forms[i].op, op->text)) op->op = (short)(i + 1);
    }
    if (op->op < 0) { px_error(px, in->line, "Not a name of any known instruction: '%s'", in->op); return; }
    bool unknown = false;
    for (unsigned i = 0; i < in->nmods; i++) {
        if (!names[i]->mod) { short id = find_modifier(names[i]->text, names[i]->len, false); names[i]->mod = id ? id : -1; }
        short id = names[i]->mod;
        if (id < 0) { px_error(px, in->line, "Unknown modifier '.%s'", in->mods[i]); unknown = true; continue; }
        const struct modifier *m = &modifiers[id];
        if (m->type) { if (ntypes < 4) c.type[ntypes] = (enum sim_type)(m->type - 1); types[ntypes++] = id; }
        else {
            mods[nmods++] = id;
            if (m->len == 14 && !memcmp(m->text, "L2::cache_hint", 14)) c.has_policy = true;
            if (m->len == 2 && m->text[0] == 'v' && m->text[1] >= '2' && m->text[1] <= '8') c.vec = (unsigned)(m->text[1] - '0');
        }
    }
    if (!ntypes) c.type[0] = SIM_B32;

    int best = 0;
    short odd = 0;
    const struct group *missing = NULL;
    for (size_t i = (size_t)op->op - 1; i < sizeof forms / sizeof *forms &&
        (forms[i].op == forms[op->op - 1].op || !strcmp(forms[i].op, op->text)); i++) {
        short o;
        const struct group *m;
        int got = try_form(&c, i, mods, nmods, types, ntypes, &o, &m);
        if (got > best || (got == best && got == 2 && odd && !o)) { best = got; odd = o; missing = m; }
        if (best == 4) break;
    }
    const char *name = full_name(in, buffer, sizeof buffer);
    if (best < 4 && unknown && best != 1) return;
    if (best == 1) px_error(px, in->line, "Unexpected instruction types specified for '%s'", name);
    else if (best == 2 && odd) odd_modifier(px, in, name, &modifiers[odd]);
    else if (best == 2) missing_modifier(px, in, name, missing);
    else if (best == 3) wrong_operands(&c, name, forms[op->op - 1].args);
    if (best < 4) return;
    check_features(px, in, &c, name);
    check_details(px, in, c.type[ntypes > 1 ? 1 : 0], name);
    if (!strcmp(in->op, "call")) check_call(px, in);
    for (unsigned i = 0; i < in->n; i++) if (in->opd[i].kind == SIM_O_MEM) check_address(px, in, &in->opd[i]);
}
