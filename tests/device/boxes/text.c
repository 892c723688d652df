/* text.c - the PTX of a program. */
#include "boxes.h"
#include <stdarg.h>

static struct box_program *program;
static size_t length;

static void put(const char *format, ...) {
    va_list list;
    va_start(list, format);
    const size_t left = sizeof program->text - length;
    const int n = vsnprintf(program->text + length, left, format, list);
    va_end(list);
    length += (size_t)n < left ? (size_t)n : left - 1;
}

static bool is_load(void) {
    return program->kind == BOX_LOAD || program->kind == BOX_IM2COL || program->kind == BOX_REPLACE;
}

/* The address of the map is in %rd4. */
static void write_address(void) {
    switch (program->place) {
    case BOX_PARAM: put("mov.b64 %%rd4, map;\ncvta.param.u64 %%rd4, %%rd4;\n"); break;
    case BOX_CONST: put("mov.b64 %%rd4, there;\ncvta.const.u64 %%rd4, %%rd4;\n"); break;
    case BOX_GLOBAL:
        put("mov.b64 %%rd4, %%rd1;\nfence.proxy.tensormap::generic.acquire.sys [%%rd4], 128;\n");
        break;
    }
}

static void write_tensor(void) {
    put("[%%rd4, {");
    for (unsigned k = 0; k < program->map.rank; k++) put("%s%%r%u", k ? ", " : "", 20 + k);
    put("}]");
}

/* The elements' offsets, a cluster's ranks, and the policy. */
static void write_more(bool offsets, bool ranks) {
    if (offsets) {
        put(", {");
        for (unsigned k = 0; k + 2 < program->map.rank; k++) put("%s%%h%u", k ? ", " : "", k);
        put("}");
    }
    if (ranks) put(", %%h4");
    if (program->hint) put(", %%rd9");
    put(";\n");
}

static void write_operands(void) {
    const struct box_desc *d = &program->map;
    for (unsigned k = 0; k < d->rank; k++) put("mov.b32 %%r%u, %d;\n", 20 + k, program->at[k]);
    for (unsigned k = 0; k < 3; k++) put("mov.b16 %%h%u, %u;\n", k, program->offset[k]);
    put("mov.b16 %%h4, %u;\n", program->ranks);
    if (program->hint) put("createpolicy.fractional.L2::evict_first.b64 %%rd9, 1.0;\n");
    put("mov.b32 %%r5, tile;\nadd.u32 %%r5, %%r5, %u;\nmov.b32 %%r6, bar;\n", program->shared_at);
}

static void write_prefetch(void) {
    const bool im2col = program->map.im2col;
    if (!program->prefetches) return;
    put("prefetch.tensormap [%%rd4];\n");
    put("cp.async.bulk.prefetch.tensor.%ud.L2.global%s%s ", program->map.rank,
            im2col ? ".im2col" : ".tile", program->hint ? ".L2::cache_hint" : "");
    write_tensor();
    write_more(im2col, false);
}

static void write_load(void) {
    const bool im2col = program->map.im2col;
    put("cp.async.bulk.tensor.%ud.shared::cluster.global%s.mbarrier::complete_tx::bytes%s%s "
        "[%%r5], ",
            program->map.rank, im2col ? ".im2col" : ".tile",
            program->ranks ? ".multicast::cluster" : "", program->hint ? ".L2::cache_hint" : "");
    write_tensor();
    put(", [%%r6]");
    write_more(im2col, program->ranks > 0);
}

static void write_store(void) {
    static const char *const reductions[] = { "", ".add", ".min", ".max", ".inc", ".dec", ".and",
        ".or", ".xor" };
    put("cp.%sasync.bulk.tensor.%ud.global.shared::cta%s%s.bulk_group%s ",
            program->reduction ? "reduce." : "", program->map.rank, reductions[program->reduction],
            program->map.im2col ? ".im2col_no_offs" : ".tile",
            program->hint ? ".L2::cache_hint" : "");
    write_tensor();
    put(", [%%r5]");
    write_more(false, false);
    put("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n");
}

static void replace(const char *field, const char *type, const char *value, uint64_t number) {
    put("tensormap.replace.tile.%s.shared::cta.b1024.%s [%%r7], %s%llu;\n", field, type, value,
            (unsigned long long)number);
}
static void replace_wide(const char *field, const char *at, uint64_t number) {
    put("mov.b64 %%rd10, %llu;\n", (unsigned long long)number);
    put("tensormap.replace.tile.%s.shared::cta.b1024.b64 [%%r7], %s%%rd10;\n", field, at);
}

/* The map is copied to shared memory, changed there, and copied to global memory. */
static void write_replace(void) {
    static const unsigned char types[] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12 };
    const struct box_desc *d = &program->map;
    char at[16];
    put("mov.b32 %%r7, changed;\nmov.b32 %%r8, 0;\n");
    put("copy: cvt.u64.u32 %%rd11, %%r8;\nadd.u64 %%rd12, %%rd1, %%rd11;\n"
        "ld.global.b32 %%r9, [%%rd12];\nadd.u32 %%r10, %%r7, %%r8;\nst.shared.b32 [%%r10], %%r9;\n"
        "add.u32 %%r8, %%r8, 4;\nsetp.lt.u32 %%p3, %%r8, 128;\n@%%p3 bra copy;\n");
    put("add.u64 %%rd10, %%rd6, %llu;\n", (unsigned long long)(BOX_MIDDLE + d->offset));
    put("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%%r7], %%rd10;\n");
    replace("rank", "b32", "", d->rank - 1);
    for (unsigned k = 0; k < d->rank; k++) {
        snprintf(at, sizeof at, "%u, ", k);
        replace("box_dim", "b32", at, d->box[k]);
        replace("global_dim", "b32", at, d->dim[k]);
        replace("element_stride", "b32", at, d->step[k]);
        if (k + 1 < d->rank) replace_wide("global_stride", at, d->stride[k]);
    }
    replace("elemtype", "b32", "", types[d->type]);
    replace("interleave_layout", "b32", "", d->interleave);
    replace("swizzle_mode", "b32", "", d->swizzle);
    replace("fill_mode", "b32", "", d->fill);
}

void box_write(struct box_program *p) {
    program = p;
    length = 0;
    put(".version 8.3\n.target sm_90%s\n.address_size 64\n", p->kind == BOX_REPLACE ? "a" : "");
    put(".visible .const .align 64 .b8 there[128];\n");
    put(".visible .entry k(.param .align 64 .b8 map[128], .param .u64 place, .param .u64 in,\n"
        "    .param .u64 out, .param .u64 tensor)\n%s{\n",
            p->ranks ? ".explicitcluster .reqnctapercluster 2, 1, 1\n" : "");
    put(".reg .pred %%p<8>;\n.reg .b16 %%h<8>;\n.reg .b32 %%r<40>;\n.reg .b64 %%rd<20>;\n"
        ".shared .align 1024 .b8 tile[%u];\n.shared .align 128 .b8 changed[128];\n"
        ".shared .align 8 .b64 bar;\n",
            BOX_SHARED);
    put("ld.param.u64 %%rd1, [place];\nld.param.u64 %%rd2, [in];\nld.param.u64 %%rd3, [out];\n"
        "ld.param.u64 %%rd6, [tensor];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\n"
        "mul.wide.u32 %%rd5, %%r2, %u;\nadd.u64 %%rd5, %%rd3, %%rd5;\nmov.u32 %%r16, 0;\n"
        "setp.ne.u32 %%p1, %%r1, 0;\nor.b32 %%r3, %%r1, %%r2;\nsetp.ne.u32 %%p2, %%r3, 0;\n",
            BOX_SHARED);
    put("shl.b32 %%r4, %%r1, 2;\nmov.b32 %%r11, tile;\n"
        "fill: cvt.u64.u32 %%rd7, %%r4;\nadd.u64 %%rd8, %%rd2, %%rd7;\nadd.u32 %%r12, %%r11, "
        "%%r4;\n"
        "ld.global.b32 %%r13, [%%rd8];\nst.shared.b32 [%%r12], %%r13;\nadd.u32 %%r4, %%r4, 512;\n"
        "setp.lt.u32 %%p3, %%r4, %u;\n@%%p3 bra fill;\n",
            BOX_SHARED);
    write_operands();
    put("@%%p1 bra ready;\nmbarrier.init.shared.b64 [%%r6], 1;\n"
        "fence.mbarrier_init.release.cluster;\n");
    if (p->kind == BOX_REPLACE) write_replace();
    put("ready: fence.proxy.async;\nbar.sync 0;\n");
    if (p->kind == BOX_REPLACE) { /* a whole warp executes cp_fenceproxy */
        put("mov.b32 %%r7, changed;\nsetp.gt.u32 %%p3, %%r1, 31;\n@%%p3 bra published;\n"
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
            " [%%rd1], [%%r7], 128;\npublished: bar.sync 0;\n");
    }
    if (p->ranks) put("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n");
    if (is_load()) {
        if (p->ranks) { /* those that receive the box announce its bytes */
            put("mov.b32 %%r14, 1;\nshl.b32 %%r14, %%r14, %%r2;\nand.b32 %%r14, %%r14, %u;\n"
                "setp.eq.u32 %%p4, %%r14, 0;\n",
                    p->ranks);
            put("@%%p4 bra show;\n");
        }
        put("@%%p1 bra wait;\nmbarrier.arrive.expect_tx.shared.b64 _, [%%r6], %u;\n", p->bytes);
        if (p->ranks) put("wait:\nshow: barrier.cluster.arrive;\nbarrier.cluster.wait;\n");
        put("@%%p2 bra %s;\n", p->ranks ? "issued" : "wait");
        write_address();
        write_prefetch();
        write_load();
        put("%s:\n", p->ranks ? "issued" : "wait");
        if (p->ranks) put("@%%p4 bra seen;\n");
        put("mov.b32 %%r15, 0;\n"
            "again: mbarrier.test_wait.parity.shared.b64 %%p5, [%%r6], 0;\n@%%p5 bra done;\n"
            "nanosleep.u32 100;\nadd.u32 %%r15, %%r15, 1;\nsetp.lt.u32 %%p6, %%r15, 1000;\n"
            "@%%p6 bra again;\nbra seen;\ndone: mov.b32 %%r16, 1;\nseen:\n");
    } else {
        put("@%%p1 bra stored;\n");
        write_address();
        write_prefetch();
        write_store();
        put("stored:\n");
    }
    put("bar.sync 0;\nshl.b32 %%r4, %%r1, 2;\n"
        "dump: cvt.u64.u32 %%rd7, %%r4;\nadd.u64 %%rd8, %%rd5, %%rd7;\nadd.u32 %%r12, %%r11, "
        "%%r4;\n"
        "ld.shared.b32 %%r13, [%%r12];\nst.global.b32 [%%rd8], %%r13;\nadd.u32 %%r4, %%r4, 512;\n"
        "setp.lt.u32 %%p3, %%r4, %u;\n@%%p3 bra dump;\n",
            BOX_SHARED);
    put("@%%p1 bra end;\nmul.wide.u32 %%rd7, %%r2, 16;\nadd.u64 %%rd7, %%rd3, %%rd7;\n"
        "st.global.b32 [%%rd7+%u], %%r16;\nld.shared.b64 %%rd8, [%%r6];\n"
        "st.global.b64 [%%rd7+%u], %%rd8;\nend:\n",
            2 * BOX_SHARED, 2 * BOX_SHARED + 8);
    if (p->ranks) put("barrier.cluster.arrive;\nbarrier.cluster.wait;\n");
    put("ret;\n}\n");
}
