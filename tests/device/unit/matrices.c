/* matrices.c - matrices in memory that are not aligned, which CUDA's documentation leaves
   undefined: wmma.load, wmma.store, ldmatrix, stmatrix; boxes of tensors; and what cp.async.bulk
   does with sizes that are no multiples of 16. An H200 faults, or reads something that depends
   only on the addresses: its results are recorded here. */
#include "../../test.h"
#include <stdarg.h>

enum { BYTES = 16384, WORDS = BYTES / 4, RUNS = 10, MISALIGNED = 716, ILLEGAL_ADDRESS = 700 };

/* Each form runs with these bytes added to its address, and elements (of b1, 8) to its stride of
   32 (256). */
static const unsigned moved[RUNS] = { 0, 2, 4, 8, 16, 0, 0, 0, 0, 0 },
                      wider[RUNS] = { 0, 0, 0, 0, 0, 1, 2, 4, 8, 16 };
enum { F = 1 }; /* a fault; another number: a hash of what was loaded, or of memory */
static const struct form {
    const char *name;
    unsigned bits, words; /* of an element; of a lane */
    uint32_t results[RUNS];
} forms[] = {
    { "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", 16, 8,
            { 0xa940745f, F, F, F, 0xd167eb62, F, F, F, 0x9c3a458d, 0x38ae0e2d } },
    { "wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 16, 8,
            { 0xa940745f, F, 0x0adfd019, 0x760e710a, 0xd167eb62, 0x41aa484b, 0x29dc2d94, 0xe909ca60,
                    0x9c3a458d, 0x38ae0e2d } },
    { "wmma.load.a.sync.aligned.col.m16n16k16.shared.bf16", 16, 4,
            { 0x9ceb8cc1, F, F, F, 0xc516218f, F, F, F, 0xa5b9b93e, 0x3e57fe04 } },
    { "wmma.load.a.sync.aligned.col.m16n16k16.global.bf16", 16, 4,
            { 0x9ceb8cc1, F, 0x604cbdcc, 0x57cc70d6, 0xc516218f, 0x78a771e5, 0xdc7dec16, 0x91c627ef,
                    0xa5b9b93e, 0x3e57fe04 } },
    { "wmma.load.b.sync.aligned.row.m8n32k16.shared.f16", 16, 8,
            { 0xf860c893, F, F, F, 0xf4b20c92, F, F, F, 0x6d087b66, 0x9bf4f169 } },
    { "wmma.load.b.sync.aligned.col.m8n32k16.global.f16", 16, 8,
            { 0xd8d8e1cb, F, 0xd698efbf, 0xd98e0bd7, 0x86d368df, 0xaccd15ba, 0x7aa91fac, 0x0634f3d5,
                    0x51a29479, 0x89cea3a5 } },
    { "wmma.load.a.sync.aligned.row.m16n16k16.shared.s8", 8, 2,
            { 0x66a78950, F, F, F, 0x94caa0c6, F, F, F, F, 0x4a72a4ef } },
    { "wmma.load.a.sync.aligned.row.m16n16k16.global.u8", 8, 2,
            { 0x66a78950, F, 0xf4255c88, 0x2bea4d19, 0x94caa0c6, F, F, 0x9d52bfbf, 0x6ce613da,
                    0x4a72a4ef } },
    { "wmma.load.b.sync.aligned.row.m16n16k16.shared.s8", 8, 2,
            { 0x42004d83, 0xf17a2e0a, 0x49934d36, 0xb1b03553, 0xedb6da97, 0x6943500e, 0x6e11d343,
                    0xd175eae2, 0xfa0c1fff, 0x69f6d333 } },
    { "wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32", 32, 4,
            { 0x66f8d1d1, F, 0x28eef443, 0x2c59ebdf, 0xdd9c4068, 0x8fdd9581, 0x5514b43f, 0xcac203c4,
                    0xd6e03d4c, 0xf5701fb3 } },
    { "wmma.load.a.sync.aligned.row.m8n8k4.shared.f64", 64, 2,
            { 0x93abd04c, F, F, 0xb3155015, 0xac08fcc5, 0x2d7fddb0, 0xc863ac93, 0xc7c9e5a8,
                    0x8ca8e82f, 0x176babb9 } },
    { "wmma.load.a.sync.aligned.row.m8n8k32.shared.s4", 4, 1,
            { 0x36f4a089, F, F, F, 0xe81b0fc2, 0x36f4a089, 0x36f4a089, 0x36f4a089, F, F } },
    { "wmma.load.b.sync.aligned.col.m8n8k32.global.u4", 4, 1,
            { 0x36f4a089, F, 0x1f1ff464, 0x7eb0a58e, 0xe81b0fc2, 0x36f4a089, 0x36f4a089, 0x36f4a089,
                    0x86e9cd7e, 0x10687a7f } },
    { "wmma.load.a.sync.aligned.row.m8n8k128.shared.b1", 1, 1,
            { 0x77800cbd, F, F, F, 0xc39ef91d, 0x77800cbd, 0x77800cbd, F, F, 0x2fd2b32e } },
    { "wmma.load.c.sync.aligned.row.m16n16k16.shared.f16", 16, 4,
            { 0xf9cc7b63, F, 0x531b2aab, 0xbca0ec13, 0xfe065570, 0xf9cc7b63, 0x1138a224, 0x840c9847,
                    0x166feb6b, 0x571c6338 } },
    { "wmma.load.c.sync.aligned.col.m16n16k16.global.f16", 16, 4,
            { 0x9ceb8cc1, F, 0x604cbdcc, 0x57cc70d6, 0xc516218f, 0x9ceb8cc1, 0xdc7dec16, 0x91c627ef,
                    0xa5b9b93e, 0x3e57fe04 } },
    { "wmma.load.c.sync.aligned.row.m32n8k16.shared.f32", 32, 8,
            { 0xccc4ba59, F, F, 0x49497af7, 0xeaa138f7, 0xfcb4aeb0, 0xbe49faae, 0xb6486afb,
                    0x643c4763, 0x52cd3209 } },
    { "wmma.load.c.sync.aligned.row.m16n16k16.global.s32", 32, 8,
            { 0x19f3d9fb, F, F, 0x97f790f9, 0x74336f20, 0x19f3d9fb, 0x0b07e44f, 0x02d12751,
                    0xb4f17703, 0x1d6b11a3 } },
    { "wmma.load.c.sync.aligned.col.m16n16k16.shared.f32", 32, 8,
            { 0x12ea9489, F, 0xc20ae611, 0xb79006e8, 0x83e1a3b7, 0x2f02ec80, 0x1a7c4710, 0x8eb110b4,
                    0x3389e5e9, 0x953ade3a } },
    { "wmma.load.c.sync.aligned.row.m8n8k4.shared.f64", 64, 4,
            { 0xb19c49f9, F, F, F, 0x35494010, F, 0x883f29bf, 0xcff08ffd, 0xa8881056,
                    0xd86371e9 } },
    { "wmma.load.c.sync.aligned.col.m8n8k4.global.f64", 64, 4,
            { 0xc760c431, F, F, 0x4732e9fe, 0x8c73ed45, 0x5a353e0f, 0xb92e77f5, 0xcc7bfa77,
                    0x9fb32f5b, 0xc709f637 } },
    { "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32", 32, 8,
            { 0x3a23c127, F, F, 0x1f4f07c2, 0x1a70bb1c, 0x3a23c127, 0x65b87182, 0xee0e58e0,
                    0xd641f169, 0x463a984b } },
    { "wmma.store.d.sync.aligned.row.m32n8k16.shared.f32", 32, 8,
            { 0x2b252d53, F, F, 0xc0fc97be, 0x58f47fe8, 0x41c646b9, 0x708c691b, 0x8d4eae09,
                    0x82782b31, 0x8a129e20 } },
    { "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16", 16, 4,
            { 0x0b021bec, F, 0x4b98473f, 0xc720d15c, 0x875e4554, 0x0b021bec, 0xdd0aacc8, 0xf057ba1d,
                    0x553709d7, 0x42a45079 } },
};
enum { FORMS = sizeof forms / sizeof *forms };

/* -- a kernel of one warp: fills shared memory with what `g` has, runs instructions, and saves what
   they loaded, or shared memory */

#define BEGIN \
    ".version 8.0\n.target sm_90\n.address_size 64\n" \
    ".visible .entry k(.param .u64 o, .param .u64 g, .param .u32 x, .param .u32 y,\n" \
    "    .param .align 64 .b8 map[128])\n{\n" \
    ".shared .align 1024 .b8 sh[16384];\n.shared .align 8 .b64 bar;\n" \
    ".reg .b64 %o, %g, %map, %q<2>;\n.reg .b32 %a<8>, %x, %y, %sh, %t, %c, %n, %v, %bar;\n" \
    ".reg .f32 %s<5>;\n.reg .f64 %f<4>;\n.reg .pred %p, %first, %done;\n" \
    "ld.param.u64 %o, [o]; ld.param.u64 %g, [g]; ld.param.u32 %x, [x]; ld.param.u32 %y, [y];\n" \
    "mov.u64 %map, map; cvta.param.u64 %map, %map; mov.u32 %bar, bar;\n" \
    "mov.u32 %t, %tid.x; mov.u32 %sh, sh; mov.u32 %n, %t; setp.eq.u32 %first, %t, 0;\n" \
    "FILL: mul.wide.u32 %q0, %n, 4; add.u64 %q0, %q0, %g; ld.global.u32 %v, [%q0];\n" \
    "shl.b32 %c, %n, 2; add.u32 %c, %c, %sh; st.shared.u32 [%c], %v;\n" \
    "add.u32 %n, %n, 32; setp.lt.u32 %p, %n, 4096; @%p bra FILL;\nbar.sync 0;\n"
#define SAVE_SHARED \
    "bar.sync 0; mov.u32 %n, %t;\n" \
    "SAVE: shl.b32 %c, %n, 2; add.u32 %c, %c, %sh; ld.shared.u32 %v, [%c];\n" \
    "mul.wide.u32 %q0, %n, 4; add.u64 %q0, %q0, %o; st.global.u32 [%q0], %v;\n" \
    "add.u32 %n, %n, 32; setp.lt.u32 %p, %n, 4096; @%p bra SAVE;\n"
#define SAVE_LANES "mul.wide.u32 %q0, %t, 32; add.u64 %o, %o, %q0;\n"

static uint32_t saved[WORDS], kept[WORDS]; /* of `o` and of `g` */

static uint32_t pattern(uint32_t i) { return (2 * i & 0xffff) | (2 * i + 1) << 16; }

/* Returns the driver's result. */
static int run(const char *text, unsigned x, unsigned y) {
    const gpuexec_context ctx = gpuexec_context_open(0, NULL);
    const gpuexec_ptr o = gpuexec_alloc(ctx, BYTES), g = gpuexec_alloc(ctx, BYTES);
    const gpuexec_module module = gpuexec_module_load(ctx, text, strlen(text) + 1, NULL);
    const gpuexec_kernel kernel = gpuexec_kernel_get(module, "k");
    gpuexec_tensor_map_desc desc = { .type = GPUEXEC_TENSOR_F32, .rank = 2 };
    gpuexec_tensor_map map;
    uint32_t i;
    int code;
    if (!CHECK(o && g) || !CHECK_MADE(kernel)) return -1;
    desc.address = g;
    desc.dims[0] = 32;
    desc.dims[1] = 16;
    desc.box[0] = desc.box[1] = 8;
    CHECK_OK(gpuexec_tensor_map_encode(ctx, &desc, &map));
    for (i = 0; i < WORDS; i++) kept[i] = pattern(i);
    CHECK_OK(gpuexec_copy_in_now(ctx, g, kept, BYTES));
    CHECK_OK(gpuexec_fill_now(ctx, o, 0x11, 1, BYTES));
    CHECK_OK(gpuexec_launch(
            kernel, GPUEXEC_CURRENT, gpuexec_grid(1, 32, 0), GPUEXEC_ARGS(o, g, x, y, map)));
    if (gpuexec_context_sync(ctx)) {
        code = gpuexec_error_detail()->driver_result;
        gpuexec_take_error();
        return code;
    }
    CHECK_OK(gpuexec_copy_out_now(ctx, saved, o, BYTES));
    CHECK_OK(gpuexec_copy_out_now(ctx, kept, g, BYTES));
    gpuexec_module_unload(module);
    gpuexec_free(o);
    gpuexec_free(g);
    return 0;
}
/* In a child, since CUDA does not survive a fork. */
static void find_device(void) {
    gpuexec_device_info info;
    if (gpuexec_device_get_info(0, &info) || info.compute_capability < 90) test_failures = 1;
    if (gpuexec_driver_version() < 12000) test_failures = 1;
}
#define NEEDS "needs compute capability 9.0 and a driver of CUDA 12.0"

/* -- wmma.load and wmma.store */

static uint32_t hash_add(uint32_t h, uint32_t word) { /* FNV-1a of words, and a shift */
    h = (h ^ word) * 16777619u;
    return h ^ h >> 15;
}
static uint32_t hash_of(const struct form *f) {
    const int is_store = strstr(f->name, "store") != NULL;
    const uint32_t *const from = is_store && strstr(f->name, ".global") ? kept : saved;
    uint32_t h = 0x811c9dc5u, i, r;
    for (i = 0; i < WORDS && is_store; i++) h = hash_add(h, from[i]);
    for (i = 0; i < 32 && !is_store; i++)
        for (r = 0; r < f->words; r++) h = hash_add(h, from[8 * i + r]);
    return h;
}

static char text[8000];
static void add(const char *format, ...) {
    va_list list;
    const size_t n = strlen(text);
    va_start(list, format);
    vsnprintf(text + n, sizeof text - n, format, list);
    va_end(list);
}
static void write_text(const struct form *f) {
    const int is_store = strstr(f->name, "store") != NULL, is_wide = f->bits == 64,
              is_shared = strstr(f->name, ".shared") != NULL;
    const unsigned registers = is_wide ? f->words / 2 : f->words;
    const char *const at = is_shared ? "%c" : "%q0";
    unsigned r;
    snprintf(text, sizeof text, "%s", BEGIN);
    if (is_shared) add("add.u32 %%c, %%sh, %%x;\n");
    else add("cvt.u64.u32 %%q0, %%x; add.u64 %%q0, %%q0, %%g;\n");
    for (r = 0; r < registers && is_store; r++)
        add("shl.b32 %%a%u, %%t, 4; add.u32 %%a%u, %%a%u, %u;\n", r, r, r, 0x100 + r);
    add("%s ", f->name);
    if (is_store) add("[%s], ", at);
    for (r = 0; r < registers; r++) add("%s%%%c%u", r ? ", " : "{", is_wide ? 'f' : 'a', r);
    if (is_store) add("}, %%y;\n%s", SAVE_SHARED);
    else add("}, [%s], %%y;\n", at);
    if (!is_store) add("%s", SAVE_LANES);
    for (r = 0; r < registers && !is_store; r++)
        add("st.global.%s [%%o+%u], %%%c%u;\n", is_wide ? "f64" : "u32", (is_wide ? 8 : 4) * r,
                is_wide ? 'f' : 'a', r);
    add("ret;\n}\n");
}

static const struct form *form_now;
static unsigned run_now;

static void run_form(void) {
    const unsigned unit = form_now->bits == 1 ? 8 : 1;
    const uint32_t want = form_now->results[run_now];
    int code;
    write_text(form_now);
    code = run(text, moved[run_now], unit * (32 + wider[run_now]));
    if (!CHECK_EQ(code, want == F ? MISALIGNED : 0) ||
            (want != F && !CHECK_EQ(hash_of(form_now), want)))
        printf("%s, %u bytes on, stride %u\n", form_now->name, moved[run_now],
                unit * (32 + wider[run_now]));
}
/* All runs of a form that end well, in one process. */
static void run_good(void) {
    for (run_now = 0; run_now < RUNS; run_now++)
        if (form_now->results[run_now] != F) run_form();
}

TEST_ALONE(loads_and_stores) {
    unsigned f, r;
    if (!run_child(find_device)) SKIP(NEEDS);
    for (f = 0; f < FORMS; f++) {
        form_now = &forms[f];
        CHECK(run_child(run_good));
        for (r = 0; r < RUNS; r++) {
            if (forms[f].results[r] != F) continue;
            /* on a GPU each fault takes a process that starts the driver */
            if (!on_cpu_device() && !getenv("TEST_ALL") && (f + r) % 8) continue;
            run_now = r;
            CHECK(run_child(run_form));
        }
    }
}

/* -- ldmatrix, stmatrix, cp.async, cp.async.bulk */

#define USE "st.global.u32 [%o], %a0;\n"
#define LANE_ROW "shl.b32 %c, %t, 4; add.u32 %c, %c, %sh; add.u32 %c, %c, %x;\n"
/* ptxas removes loads whose results are not used */
#define LOAD_4 \
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%c];\n" \
    "xor.b32 %a0, %a0, %a1; xor.b32 %a0, %a0, %a2; xor.b32 %a0, %a0, %a3;\n" USE
#define LOAD_1 \
    "setp.lt.u32 %p, %t, 8; @%p sub.u32 %c, %c, %x;\n" \
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a0}, [%c];\n" USE
#define STORE_1 "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%c], {%t};\n"
#define ASYNC \
    "mul.wide.u32 %q0, %t, 16; cvt.u64.u32 %q1, %y;\n" \
    "add.u64 %q0, %q0, %q1; add.u64 %q0, %q0, %g;\n" \
    "cp.async.cg.shared.global [%c], [%q0], 16; cp.async.wait_all;\n"
#define BARRIER \
    "@%first mbarrier.init.shared.b64 [%bar], 1;\n@%first fence.proxy.async;\nbar.sync 0;\n" \
    "@!%first bra WAIT;\n"
/* %a7: whether all bytes that were expected came. The documentation has no limit for a wait, but a
   thousand of an H200's time limits are enough. */
#define WAIT \
    "WAIT: mov.u32 %n, 0;\n" \
    "AGAIN: mbarrier.try_wait.parity.shared.b64 %done, [%bar], 0; add.u32 %n, %n, 1;\n" \
    "setp.gt.u32 %p, %n, 1000; @%p bra WAITED; @!%done bra AGAIN;\n" \
    "WAITED: selp.b32 %a7, 1, 0, %done;\n"
#define SAVE_DONE "mul.wide.u32 %q0, %t, 4; add.u64 %q0, %q0, %o; st.global.u32 [%q0+15360], %a7;\n"
#define BULK(ADD_TO, ADD_FROM, SIZE, EXPECTED) \
    BARRIER "mbarrier.arrive.expect_tx.shared.b64 _, [%bar], " EXPECTED ";\n" \
            "add.u32 %c, %sh, " ADD_TO "; cvt.u64.u32 %q0, " ADD_FROM "; add.u64 %q0, %q0, %g;\n" \
            "add.u64 %q0, %q0, 4096;\n" \
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%c], [%q0], " SIZE \
            ", [%bar];\n" WAIT
#define BULK_OUT \
    "@!%first bra DONE;\nadd.u64 %q0, %g, 4096;\n" \
    "cp.async.bulk.global.shared::cta.bulk_group [%q0], [%sh], %x;\n" \
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE:\n"
#define BOX(ADD_TO, ADD_BARRIER) \
    BARRIER "mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\nmov.u32 %v, 0;\n" \
            "add.u32 %c, %sh, " ADD_TO "; add.u32 %n, %bar, " ADD_BARRIER ";\n" \
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
            "[%c], [%map, {%v, %v}], [%n];\n" WAIT
#define BOX_OUT \
    "@!%first bra DONE;\nadd.u32 %c, %sh, %x; mov.u32 %v, 0;\n" \
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%v, %v}], [%c];\n" \
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE:\n"
#define FAR (1 << 20)

static const struct access {
    const char *name, *body;
    unsigned x, y;
    int code, moved, done; /* moved: words that came, of those where they belong; -1: not counted */
} accesses[] = {
    { "ldmatrix.x4", LANE_ROW LOAD_4, 0, 0, 0, -1, 0 },
    { "ldmatrix.x4", LANE_ROW LOAD_4, 2, 0, MISALIGNED, 0, 0 },
    { "ldmatrix.x4", LANE_ROW LOAD_4, 8, 0, MISALIGNED, 0, 0 },
    { "ldmatrix.x4", LANE_ROW LOAD_4, FAR, 0, ILLEGAL_ADDRESS, 0, 0 },
    { "ldmatrix.x1, unused lanes", LANE_ROW LOAD_1, 4, 0, 0, -1, 0 },
    { "stmatrix.x1", LANE_ROW STORE_1, 0, 0, 0, -1, 0 },
    { "stmatrix.x1", LANE_ROW STORE_1, 8, 0, MISALIGNED, 0, 0 },
    { "stmatrix.x1", LANE_ROW STORE_1, FAR, 0, ILLEGAL_ADDRESS, 0, 0 },
    { "cp.async", LANE_ROW ASYNC, 8, 8, MISALIGNED, 0, 0 },
    { "cp.async", LANE_ROW ASYNC, 0, 4, MISALIGNED, 0, 0 },
    { "cp.async.bulk", BULK("%x", "%y", "64", "64"), 0, 0, 0, 16, 1 },
    { "cp.async.bulk", BULK("%x", "%y", "64", "64"), 8, 0, MISALIGNED, 0, 0 },
    { "cp.async.bulk", BULK("%x", "%y", "64", "64"), 0, 8, MISALIGNED, 0, 0 },
    { "cp.async.bulk, size", BULK("0", "0", "%x", "%y"), 32, 32, 0, 8, 1 },
    { "cp.async.bulk, size", BULK("0", "0", "%x", "%y"), 24, 24, 0, 4, 0 },
    { "cp.async.bulk, size", BULK("0", "0", "%x", "%y"), 24, 16, 0, 4, 1 },
    { "cp.async.bulk, size", BULK("0", "0", "%x", "%y"), 8, 8, 0, 0, 0 },
    { "cp.async.bulk, size", BULK("0", "0", "%x", "%y"), 8, 0, 0, 0, 1 },
    { "cp.async.bulk, size", BULK("0", "0", "%x", "%y"), 0, 0, 0, 0, 1 },
    { "cp.async.bulk to global", BULK_OUT, 32, 0, 0, 8, 0 },
    { "cp.async.bulk to global", BULK_OUT, 24, 0, 0, 4, 0 },
    { "cp.async.bulk to global", BULK_OUT, 8, 0, 0, 0, 0 },
    { "cp.async.bulk.tensor", BOX("%x", "%y"), 128, 0, 0, -1, 1 },
    { "cp.async.bulk.tensor", BOX("%x", "%y"), 64, 0, MISALIGNED, 0, 0 },
    { "cp.async.bulk.tensor", BOX("%x", "%y"), 16, 0, MISALIGNED, 0, 0 },
    { "cp.async.bulk.tensor", BOX("%x", "%y"), 0, 4, MISALIGNED, 0, 0 },
    { "cp.async.bulk.tensor to global", BOX_OUT, 0, 0, 0, -1, 0 },
    { "cp.async.bulk.tensor to global", BOX_OUT, 64, 0, MISALIGNED, 0, 0 },
};
enum { ACCESSES = sizeof accesses / sizeof *accesses };
static const struct access *access_now;

static void run_access(void) {
    const int is_out = strstr(access_now->name, "global") != NULL;
    int code, n = 0, ok;
    snprintf(text, sizeof text, "%s%s%s%sret;\n}\n", BEGIN, access_now->body, SAVE_SHARED,
            strstr(access_now->body, "WAITED:") ? SAVE_DONE : "");
    code = run(text, access_now->x, access_now->y);
    ok = CHECK_EQ(code, access_now->code);
    if (ok && !code && access_now->moved >= 0) {
        while (is_out ? kept[1024 + n] == pattern((uint32_t)n)
                      : saved[n] == pattern((uint32_t)(1024 + n)))
            n++;
        ok &= CHECK_EQ(n, access_now->moved);
    }
    if (!code && strstr(access_now->body, "WAITED:"))
        ok &= CHECK_EQ(saved[15360 / 4], access_now->done);
    if (!ok) printf("%s, %u, %u\n", access_now->name, access_now->x, access_now->y);
}

TEST_ALONE(rows_bulks_and_boxes) {
    unsigned i;
    if (!run_child(find_device)) SKIP(NEEDS);
    for (i = 0; i < ACCESSES; i++) {
        access_now = &accesses[i];
        CHECK(run_child(run_access));
    }
}

/* -- mma.sp: the documentation wants the two indices of a group in order. Each element of A is 1 or
   2, and B has 1, 2, 4 and 8 in each group. */

#define SPARSE \
    "mov.b32 %a0, 0x40003c00; and.b32 %a2, %t, 1; setp.eq.u32 %p, %a2, 0;\n" \
    "selp.b32 %a2, 0x40003c00, 0x48004400, %p; mov.b32 %s4, 0f00000000;\n" \
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s0, %s1, %s2, %s3}, {%a0, %a0},\n" \
    "    {%a2, %a2}, {%s4, %s4, %s4, %s4}, %x, 0;\n"

static void run_sparse(void) {
    unsigned m, l;
    snprintf(text, sizeof text, "%s", BEGIN);
    add("%s", SPARSE);
    add("%s", SAVE_LANES);
    for (l = 0; l < 4; l++) add("st.global.f32 [%%o+%u], %%s%u;\n", 4 * l, l);
    add("ret;\n}\n");
    for (m = 0; m < 16; m++) {
        const float want = 4 * (float)((1 << m % 4) + 2 * (1 << m / 4));
        if (!CHECK_EQ(run(text, m * 0x11111111u, 0), 0)) return;
        for (l = 0; l < 32; l++) {
            float have[4];
            memcpy(have, &saved[8 * l], sizeof have);
            if (!CHECK(have[0] >= want && have[0] <= want && have[3] >= want && have[3] <= want))
                printf("indices %u and %u, lane %u: %g, not %g\n", m % 4, m / 4, l, (double)have[0],
                        (double)want);
        }
    }
}
TEST_ALONE(metadata_in_any_order) {
    if (!run_child(find_device)) SKIP(NEEDS);
    CHECK(run_child(run_sparse));
}
