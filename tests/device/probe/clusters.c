/* clusters.c - thread block clusters: attributes of kernels, launches with every wrong size,
   occupancy. */
#include "probe.h"

enum { MUST_BE_SET = 10, WIDTH, HEIGHT, DEPTH, NON_PORTABLE, POLICY }; /* CUfunction_attribute */
enum { COOPERATIVE = 2, CLUSTER = 4, PREFERRED = 11 };                 /* CUlaunchAttributeID */

/* out[0]: blocks in a cluster, [1]: whether it was requested, [2]: blocks in the grid */
#define WHERE(name, directives) \
    ".visible .entry " name "(.param .u64 p) " directives " {\n" \
    "    .reg .b64 %a; .reg .b32 %v; .reg .pred %q; ld.param.u64 %a, [p]; mov.u32 %v, " \
    "%cluster_nctarank;\n" \
    "    st.global.u32 [%a], %v; mov.pred %q, %is_explicit_cluster; selp.u32 %v, 1, 0, %q;\n" \
    "    st.global.u32 [%a+4], %v; mov.u32 %v, %nctaid.x; st.global.u32 [%a+8], %v; ret;\n}\n"

static const char cluster_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n" WHERE(
        "plain", "") WHERE("two", ".reqnctapercluster 2, 1, 1") WHERE("exactly_two",
        ".explicitcluster .reqnctapercluster 2, 1, 1") WHERE("explicit", ".explicitcluster")
        WHERE("rank4", ".maxclusterrank 4") WHERE("rank16", ".maxclusterrank 16")
                WHERE("rank0", ".maxclusterrank 0") WHERE("sixteen", ".reqnctapercluster 16, 1, 1")
                        WHERE("thirty_two", ".reqnctapercluster 32, 1, 1")
                                WHERE("none", ".reqnctapercluster 0, 0, 0")
                                        WHERE("flat", ".reqnctapercluster 2, 0, 1")
                                                WHERE("cube", ".reqnctapercluster 1, 2, 2");

static void *clustered;
static void open_clusters(void) {
    open_one();
    PROBE("load", cu.cuModuleLoadData(&clustered, cluster_text));
}
static void *named(const char *name) {
    void *f = NULL;
    cu.cuModuleGetFunction(&f, clustered, name);
    return f;
}

static const char *const names[] = { "plain", "two", "exactly_two", "explicit", "rank4", "rank16",
    "rank0", "sixteen", "thirty_two", "none", "flat", "cube" };

static void attributes(void) {
    static const struct {
        const char *of;
        int attribute, value;
    } set[] = {
        { "plain", WIDTH, 2 },
        { "plain", WIDTH, -1 },
        { "plain", WIDTH, 99 },
        { "plain", HEIGHT, 3 },
        { "plain", DEPTH, 4 },
        { "plain", DEPTH, 0 },
        { "plain", WIDTH, 0 },
        { "plain", HEIGHT, 0 },
        { "plain", MUST_BE_SET, 1 },
        { "plain", NON_PORTABLE, -1 },
        { "plain", NON_PORTABLE, 0 },
        { "two", WIDTH, 2 },
        { "two", WIDTH, 4 },
        { "two", WIDTH, 0 },
        { "two", WIDTH, -1 },
        { "two", HEIGHT, 1 },
        { "two", DEPTH, 1 },
        { "two", MUST_BE_SET, 0 },
        { "two", NON_PORTABLE, 1 },
        { "two", POLICY, 1 },
        { "exactly_two", WIDTH, 2 },
        { "exactly_two", MUST_BE_SET, 0 },
        { "explicit", WIDTH, 2 },
        { "explicit", MUST_BE_SET, 1 },
        { "rank4", WIDTH, 8 },
        { "rank4", NON_PORTABLE, 1 },
        { "none", WIDTH, 2 },
        { "flat", HEIGHT, 2 },
    };
    char question[80];
    size_t i;
    int a, v;
    open_clusters();
    for (i = 0; i < COUNT(names); i++)
        for (a = MUST_BE_SET; a <= POLICY; a++) {
            snprintf(question, sizeof question, "%s_%d", names[i], a);
            if (skipped(question)) continue;
            /* the values: set_... below */
            answer(question, "%d 77", cu.cuFuncGetAttribute(&v, a, named(names[i])));
        }
    for (i = 0; i < COUNT(set); i++) {
        int result;
        snprintf(question, sizeof question, "set_%s_%d_to_%d", set[i].of, set[i].attribute,
                set[i].value);
        if (skipped(question)) continue;
        result = cu.cuFuncSetAttribute(named(set[i].of), set[i].attribute, set[i].value);
        v = 77;
        cu.cuFuncGetAttribute(&v, set[i].attribute, named(set[i].of));
        answer(question, "%d %d", result, v);
    }
}

/* cuLaunchKernelEx with a cluster of x * y * z blocks, 0: without that attribute; then what the
   kernel found. */
static attribute list[4];
static config with_cluster(unsigned grid, unsigned x, unsigned y, unsigned z) {
    config c;
    memset(&c, 0, sizeof c);
    memset(list, 0, sizeof list);
    c.grid[0] = grid;
    c.grid[1] = c.grid[2] = c.block[0] = c.block[1] = c.block[2] = 1;
    c.list = list;
    c.n = x | y | z ? 1 : 0;
    list[0].id = CLUSTER;
    list[0].value.dim[0] = x;
    list[0].value.dim[1] = y;
    list[0].value.dim[2] = z;
    return c;
}
static void found(const char *question, int result) {
    unsigned out[3] = { 0, 0, 0 };
    if (result == 0 && cu.cuCtxSynchronize() == 0) cu.cuMemcpyDtoH_v2(out, memory[0], sizeof out);
    answer(question, "%d %u %u %u", result, out[0], out[1], out[2]);
}
#define FOUND(question, call) \
    do { \
        if (!skipped(question)) found(question, call); \
    } while (0)

static int ex(const char *name, config c) {
    void *params[1];
    params[0] = &memory[0];
    return cu.cuLaunchKernelEx(&c, named(name), params, NULL);
}
static int plainly(const char *name, unsigned x, unsigned y, unsigned z) {
    void *params[1];
    params[0] = &memory[0];
    return cu.cuLaunchKernel(named(name), x, y, z, 1, 1, 1, 0, NULL, params, NULL);
}

static void sizes(void) {
    char question[80];
    size_t i;
    unsigned g;
    config c;
    open_clusters();
    for (i = 0; i < COUNT(names); i++) {
        for (g = 1; g <= 64; g = g == 1 ? 2 : g == 2 ? 3 : g == 3 ? 4 : g * 4) {
            snprintf(question, sizeof question, "%s_grid_%u", names[i], g);
            FOUND(question, plainly(names[i], g, g < 4 ? 1 : 2, g < 4 ? 1 : 2));
        }
        snprintf(question, sizeof question, "%s_ex", names[i]);
        FOUND(question, ex(names[i], with_cluster(16, 0, 0, 0)));
        for (g = 1; g <= 32; g *= 2) {
            snprintf(question, sizeof question, "%s_cluster_%u", names[i], g);
            FOUND(question, ex(names[i], with_cluster(32, g, 1, 1)));
        }
        snprintf(question, sizeof question, "%s_allow", names[i]);
        PROBE(question, cu.cuFuncSetAttribute(named(names[i]), NON_PORTABLE, 1));
        for (g = 8; g <= 32; g *= 2) {
            snprintf(question, sizeof question, "%s_allowed_%u", names[i], g);
            FOUND(question, ex(names[i], with_cluster(32, g, 1, 1)));
        }
        snprintf(question, sizeof question, "%s_allowed_ex", names[i]);
        FOUND(question, ex(names[i], with_cluster(32, 0, 0, 0)));
    }
    FOUND("partly", ex("plain", with_cluster(4, 2, 0, 1)));
    FOUND("huge", ex("plain", with_cluster(4, 0x80000000u, 2, 1)));
    FOUND("wraps", ex("plain", with_cluster(4, 0x10000, 0x10000, 1)));
    FOUND("fifteen", ex("plain", with_cluster(30, 15, 1, 1)));
    c = with_cluster(4, 2, 1, 1);
    c.n = 2;
    list[1] = list[0];
    list[1].value.dim[0] = 4;
    FOUND("twice", ex("plain", c));
    list[1].value.dim[0] = list[1].value.dim[1] = list[1].value.dim[2] = 0;
    FOUND("then_none", ex("plain", c));
}

/* The required size set at run time. */
static void required(void) {
    void *f;
    open_clusters();
    f = named("plain");
    PROBE("width_2", cu.cuFuncSetAttribute(f, WIDTH, 2));
    FOUND("partly", plainly("plain", 4, 1, 1));
    PROBE("height_1", cu.cuFuncSetAttribute(f, HEIGHT, 1));
    PROBE("depth_1", cu.cuFuncSetAttribute(f, DEPTH, 1));
    FOUND("two", plainly("plain", 4, 1, 1));
    FOUND("odd", plainly("plain", 3, 1, 1));
    FOUND("same", ex("plain", with_cluster(4, 2, 1, 1)));
    FOUND("other", ex("plain", with_cluster(4, 4, 1, 1)));
    FOUND("one", ex("plain", with_cluster(4, 1, 1, 1)));
    PROBE("width_16", cu.cuFuncSetAttribute(f, WIDTH, 16));
    FOUND("sixteen", plainly("plain", 16, 1, 1));
    PROBE("width_0", cu.cuFuncSetAttribute(f, WIDTH, 0));
    PROBE("height_0", cu.cuFuncSetAttribute(f, HEIGHT, 0));
    PROBE("depth_0", cu.cuFuncSetAttribute(f, DEPTH, 0));
    FOUND("none", plainly("plain", 3, 1, 1));
    f = named("explicit");
    PROBE("explicit_width", cu.cuFuncSetAttribute(f, WIDTH, 2));
    PROBE("explicit_height", cu.cuFuncSetAttribute(f, HEIGHT, 1));
    PROBE("explicit_depth", cu.cuFuncSetAttribute(f, DEPTH, 1));
    FOUND("explicit", plainly("explicit", 4, 1, 1));
    PROBE("sync", cu.cuCtxSynchronize());
}

/* Two errors at once, and other attributes beside the cluster. */
static void mixed(void) {
    config c;
    void *params[1];
    open_clusters();
    params[0] = &memory[0];
    c = with_cluster(4, 3, 1, 1);
    PROBE("params_null", cu.cuLaunchKernelEx(&c, named("plain"), NULL, NULL));
    PROBE("function_null", cu.cuLaunchKernelEx(&c, NULL, NULL, NULL));
    c.block[0] = 1025;
    PROBE("block_1025", ex("plain", c));
    c = with_cluster(0, 3, 1, 1);
    PROBE("grid_0", ex("plain", c));
    c = with_cluster(4, 3, 1, 1);
    c.shared = 0xfffff;
    PROBE("shared", ex("plain", c));
    c = with_cluster(4, 3, 1, 1);
    c.n = 2;
    list[1].id = 99;
    PROBE("unknown_after", ex("plain", c));
    list[1] = list[0];
    list[0].id = 99;
    PROBE("unknown_before", ex("plain", c));
    c = with_cluster(1000000, 3, 1, 1);
    c.n = 2;
    list[1].id = COOPERATIVE;
    list[1].value.flag = 1;
    PROBE("cooperative_too_large", ex("plain", c));
    c.grid[0] = 4;
    PROBE("cooperative", ex("plain", c));
    list[0].value.dim[0] = 2;
    FOUND("cooperative_2", ex("plain", c));
    c.grid[0] = 1000000;
    PROBE("cooperative_2_too_large", ex("plain", c));
    FOUND("cooperative_two",
            cu.cuLaunchCooperativeKernel(named("two"), 4, 1, 1, 1, 1, 1, 0, NULL, params));
    PROBE("cooperative_two_odd",
            cu.cuLaunchCooperativeKernel(named("two"), 3, 1, 1, 1, 1, 1, 0, NULL, params));
    PROBE("cooperative_two_too_large",
            cu.cuLaunchCooperativeKernel(named("two"), 1000000, 1, 1, 1, 1, 1, 0, NULL, params));
    PROBE("two_odd_params_null",
            cu.cuLaunchKernel(named("two"), 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    PROBE("two_odd_block_1025",
            cu.cuLaunchKernel(named("two"), 3, 1, 1, 1025, 1, 1, 0, NULL, params, NULL));
    PROBE("two_odd_shared",
            cu.cuLaunchKernel(named("two"), 3, 1, 1, 1, 1, 1, 0xfffff, NULL, params, NULL));
    c = with_cluster(8, 2, 1, 1);
    c.n = 2;
    list[1].id = PREFERRED;
    list[1].value.dim[0] = 4;
    list[1].value.dim[1] = list[1].value.dim[2] = 1;
    FOUND("preferred_4", ex("plain", c));
    list[1].value.dim[0] = 2;
    FOUND("preferred_2", ex("plain", c));
    list[1].value.dim[0] = 3;
    FOUND("preferred_3", ex("plain", c));
    list[1].value.dim[0] = 1;
    FOUND("preferred_1", ex("plain", c));
    list[1].value.dim[1] = 0;
    FOUND("preferred_1_0", ex("plain", c));
    list[1].value.dim[0] = 16;
    FOUND("preferred_16_0", ex("plain", c));
    list[1].value.dim[1] = 1;
    FOUND("preferred_16", ex("plain", c));
    list[0] = list[1];
    c.n = 1;
    list[0].value.dim[0] = 4;
    FOUND("preferred_alone", ex("plain", c));
    FOUND("preferred_of_two", ex("two", c));
    PROBE("sync", cu.cuCtxSynchronize());
}

/* Values that depend on the GPU are only compared with 0. */
static void room(void) {
    char question[80];
    size_t i;
    config c;
    int n;
    open_clusters();
#define ROOM(name, call) \
    do { \
        int result; \
        if (skipped(name)) break; \
        n = -1; \
        result = call; \
        answer(name, "%d %s", result, n < 0 ? "untouched" : n ? "some" : "none"); \
    } while (0)
#define SIZE(name, call) \
    do { \
        int result; \
        if (skipped(name)) break; \
        n = -1; \
        result = call; \
        answer(name, "%d %d", result, n); \
    } while (0)
    for (i = 0; i < COUNT(names); i++) {
        c = with_cluster(32, 0, 0, 0);
        snprintf(question, sizeof question, "%s_active", names[i]);
        ROOM(question, cu.cuOccupancyMaxActiveClusters(&n, named(names[i]), &c));
        snprintf(question, sizeof question, "%s_size", names[i]);
        SIZE(question, cu.cuOccupancyMaxPotentialClusterSize(&n, named(names[i]), &c));
        c = with_cluster(32, 2, 1, 1);
        snprintf(question, sizeof question, "%s_active_2", names[i]);
        ROOM(question, cu.cuOccupancyMaxActiveClusters(&n, named(names[i]), &c));
        c = with_cluster(32, 8, 1, 1);
        snprintf(question, sizeof question, "%s_active_8", names[i]);
        ROOM(question, cu.cuOccupancyMaxActiveClusters(&n, named(names[i]), &c));
        c = with_cluster(32, 16, 1, 1);
        snprintf(question, sizeof question, "%s_active_16", names[i]);
        ROOM(question, cu.cuOccupancyMaxActiveClusters(&n, named(names[i]), &c));
        snprintf(question, sizeof question, "%s_size_16", names[i]);
        SIZE(question, cu.cuOccupancyMaxPotentialClusterSize(&n, named(names[i]), &c));
    }
    c = with_cluster(4, 3, 1, 1);
    ROOM("active_3_of_4", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    ROOM("active_to_null", cu.cuOccupancyMaxActiveClusters(NULL, named("plain"), &c));
    ROOM("active_of_null", cu.cuOccupancyMaxActiveClusters(&n, NULL, &c));
    ROOM("active_null", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), NULL));
    SIZE("size_3_of_4", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    SIZE("size_to_null", cu.cuOccupancyMaxPotentialClusterSize(NULL, named("plain"), &c));
    SIZE("size_of_null", cu.cuOccupancyMaxPotentialClusterSize(&n, NULL, &c));
    SIZE("size_null", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), NULL));
    c = with_cluster(4, 2, 1, 1);
    c.block[0] = 1024;
    ROOM("active_1024", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_1024", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c.block[0] = 1025;
    ROOM("active_1025", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_1025", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c.block[0] = 0;
    ROOM("active_block_0", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_block_0", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c = with_cluster(0, 2, 1, 1);
    ROOM("active_grid_0", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_grid_0", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c = with_cluster(4, 2, 1, 1);
    c.shared = 49156;
    ROOM("active_shared", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_shared", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    cu.cuFuncSetAttribute(named("plain"), MAX_DYNAMIC, 232448);
    c.shared = 232448;
    ROOM("active_shared_227k", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_shared_227k", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    list[0].value.dim[0] = 0;
    ROOM("active_partly", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    list[0].id = 99;
    ROOM("active_unknown", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_unknown", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c.list = NULL;
    ROOM("active_no_list", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    SIZE("size_no_list", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c = with_cluster(32, 0, 0, 0);
    PROBE("allow", cu.cuFuncSetAttribute(named("plain"), NON_PORTABLE, 1));
    SIZE("size_allowed", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c.shared = 232448;
    SIZE("size_allowed_227k", cu.cuOccupancyMaxPotentialClusterSize(&n, named("plain"), &c));
    c = with_cluster(32, 16, 1, 1);
    ROOM("active_allowed_16", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    c = with_cluster(32, 32, 1, 1);
    ROOM("active_allowed_32", cu.cuOccupancyMaxActiveClusters(&n, named("plain"), &c));
    cu.cuFuncSetAttribute(named("rank16"), NON_PORTABLE, 1);
    c = with_cluster(32, 0, 0, 0);
    SIZE("size_rank16_allowed", cu.cuOccupancyMaxPotentialClusterSize(&n, named("rank16"), &c));
    cu.cuFuncSetAttribute(named("sixteen"), NON_PORTABLE, 1);
    ROOM("active_sixteen_allowed", cu.cuOccupancyMaxActiveClusters(&n, named("sixteen"), &c));
    cu.cuCtxSetCurrent(NULL);
    ROOM("active_without", cu.cuOccupancyMaxActiveClusters(&n, named("two"), &c));
    SIZE("size_without", cu.cuOccupancyMaxPotentialClusterSize(&n, named("two"), &c));
}

const group cluster_groups[] = {
    { "cluster_attribute", attributes, 1 },
    { "cluster_launch", sizes, 1 },
    { "cluster_required", required, 1 },
    { "cluster_mixed", mixed, 1 },
    { "cluster_room", room, 1 },
    { NULL, NULL, 0 },
};
