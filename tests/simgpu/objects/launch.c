/* launch.c - kernel launches: all checks are made at the call, in one place, and a launch that
   passes becomes one operation. A parameter buffer that is shorter than the kernel needs is refused
   (1): a GPU launches with garbage. */
#include "objects.h"

/* ---- workspaces of cooperative grids: %envreg1 and %envreg2 have their address; { size, barrier }
   and zeros ---- */

enum { WORKSPACE_BYTES = 512, WORKSPACE_SIZE_WORD = 8 };

struct sim_workspace {
    struct sim_link link;
    struct sim_workspace *next;
    uint64_t address;
    struct sim_context *context; /* NULL: it was destroyed, and the memory with it */
    bool busy;
};

static void end_workspace(struct sim_link *link) {
    struct sim_workspace *w = SIM_OWNER(sim_workspace, link);
    sim_link_remove(link);
    w->context = NULL;
    if (!w->busy) free(w);
}

static struct sim_workspace *take_workspace(struct sim_context *c) {
    struct sim_workspace *w = c->workspaces;
    struct sim_range r;
    while (w && w->busy) w = w->next;
    if (!w) {
        if (!(w = calloc(1, sizeof *w))) return NULL;
        if (sim_mem_alloc(c->device, c, WORKSPACE_BYTES, SIM_MEM_MODULE, &w->address)) {
            free(w);
            return NULL;
        }
        w->context = c;
        w->next = c->workspaces;
        c->workspaces = w;
        sim_link_add(&c->children, &w->link, end_workspace);
    }
    if (!sim_mem_find(NULL, w->address, WORKSPACE_BYTES, &r)) return NULL;
    uint32_t *words = (uint32_t *)(void *)((char *)(uintptr_t)w->address + r.delta);
    sim_mem_use();
    memset(words, 0, WORKSPACE_BYTES);
    words[0] = WORKSPACE_SIZE_WORD;
    sim_mem_unuse();
    w->busy = true;
    return w;
}

static void give_workspace(struct sim_workspace *w) {
    w->busy = false;
    if (!w->context) free(w);
}

/* The heap of kernels that call malloc; it exists as long as the context. */
static int find_heap(struct sim_context *c, uint64_t *heap) {
    uint64_t bytes = c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] < 4096
            ? 4096
            : c->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    struct sim_range r;
    if (!c->heap) {
        if (sim_mem_alloc(c->device, c, bytes, SIM_MEM_MODULE, &c->heap)) {
            c->heap = 0;
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        if (!sim_mem_find(NULL, c->heap, bytes, &r)) return CUDA_ERROR_OUT_OF_MEMORY;
        sim_mem_use();
        sim_heap_start((char *)(uintptr_t)c->heap + r.delta, bytes);
        sim_mem_unuse();
    }
    *heap = c->heap;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

static uint64_t next_grid = 1;

static uint64_t product(const uint32_t n[3]) {
    return (uint64_t)n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1);
}

/* ---- clusters ---- */

static bool given(const unsigned n[3]) { return n[0] || n[1] || n[2]; }

/* Whether clusters of n blocks divide the grid and have at most `most` blocks. */
static bool fits(const struct sim_launch *l, const unsigned n[3], uint64_t most) {
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        blocks *= n[i];
        if (!blocks || l->grid[i] % n[i] || blocks > most) return false;
    }
    return true;
}

/* The blocks of a cluster along each axis: as the launch says, as the kernel says, or 1. A
   preferred size is only checked: blocks may always be grouped by the other one. */
static int find_cluster(
        const struct sim_launch *l, const struct sim_function *f, uint64_t most, uint32_t n[3]) {
    const int *set = f->prefers.cluster;
    const unsigned own[3] = { (unsigned)set[0], (unsigned)set[1], (unsigned)set[2] };
    const bool prefers = given(l->set.preferred);
    if (f->func->maxclusterrank && f->func->maxclusterrank < most) most = f->func->maxclusterrank;
    memcpy(n, given(l->set.cluster) ? l->set.cluster : own, sizeof own);
    if (!given(n)) {
        n[0] = n[1] = n[2] = 1;
        return f->func->explicit_cluster || prefers ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                                                    : CUDA_SUCCESS;
    }
    if (sim_settings.capability->sm < 90) return CUDA_ERROR_NOT_SUPPORTED;
    for (int i = 0; i < 3; i++)
        if ((own[i] && n[i] != own[i]) || (prefers && n[i] && l->set.preferred[i] % n[i]))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return fits(l, n, most) && (!prefers || fits(l, l->set.preferred, most))
            ? CUDA_SUCCESS
            : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

static unsigned largest_cluster(const struct sim_function *f) {
    return f->prefers.cluster[3] ? SIM_CLUSTER_MOST : SIM_CLUSTER_PORTABLE;
}

/* Clusters that are resident together: at least one, however many blocks that is. */
static uint64_t resident_clusters(struct sim_occupancy o, uint64_t sms, uint64_t blocks) {
    const uint64_t clusters = (uint64_t)o.blocks * (unsigned)__builtin_popcountll(sms) / blocks;
    return clusters || !o.blocks ? clusters : 1;
}

static int check_shape(const struct sim_launch *l, const struct sim_function *f) {
    static const unsigned grid_most[3] = { 0x7fffffff, 65535, 65535 },
                          block_most[3] = { 1024, 1024, 64 };
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] > grid_most[i])
            return sim_because(CUDA_ERROR_INVALID_VALUE,
                    "Grid Dimension %c of %u exceeds maximum value of %u", 'X' + i, l->grid[i],
                    grid_most[i]);
        if (l->block[i] > block_most[i])
            return sim_because(CUDA_ERROR_INVALID_VALUE,
                    "One or more of block dimensions of (%u,%u,%u) exceeds correspsonding maximum "
                    "value of (%u,%u,%u)",
                    l->block[0], l->block[1], l->block[2], block_most[0], block_most[1],
                    block_most[2]);
        if (!l->grid[i] || !l->block[i]) return CUDA_ERROR_INVALID_VALUE;
    }
    uint64_t threads = product(l->block);
    if (threads > SIM_BLOCK_THREADS) return CUDA_ERROR_INVALID_VALUE;
    if (threads > sim_threads_limit(f)) return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; f->func->reqntid[0] && i < 3; i++)
        if (l->block[i] != (f->func->reqntid[i] ? f->func->reqntid[i] : 1))
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static int check_shared(const struct sim_launch *l, const struct sim_function *f) {
    if (l->shared <= (unsigned)f->prefers.max_dynamic || l->set.cooperative) return CUDA_SUCCESS;
    return sim_because(CUDA_ERROR_INVALID_VALUE,
            "Requested dynamic shared memory size of %u bytes exceeds maximum dynamic shared "
            "memory size of %d bytes",
            l->shared, f->prefers.max_dynamic);
}

static int check_room(const struct sim_launch *l, const struct sim_function *f, uint64_t blocks) {
    struct sim_occupancy o = sim_occupancy(f, (unsigned)product(l->block), l->shared);
    if (l->set.cooperative &&
            (l->shared > (unsigned)f->prefers.max_dynamic ||
                    product(l->grid) > resident_clusters(o, l->sms, blocks) * blocks))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return o.blocks ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

/* Finds the kernel's arguments, in either form. A capture refuses too many bytes here, as
   measured. */
static int read_arguments(struct sim_launch *l, const struct sim_func *f, bool captures) {
    if (l->params && l->extra && (uintptr_t)*l->extra != CU_LAUNCH_PARAM_END)
        return CUDA_ERROR_INVALID_VALUE;
    if (l->params) {
        for (unsigned i = 0; i < f->nparams; i++)
            if (!l->params[i]) return CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    }
    for (void **e = l->extra; e && (uintptr_t)*e != CU_LAUNCH_PARAM_END; e += 2) {
        if ((uintptr_t)*e == CU_LAUNCH_PARAM_BUFFER_POINTER) l->buffer = e[1];
        else if ((uintptr_t)*e == CU_LAUNCH_PARAM_BUFFER_SIZE && e[1]) l->bytes = *(size_t *)e[1];
        else return CUDA_ERROR_INVALID_VALUE;
    }
    if (captures && l->bytes > f->param_bytes) return CUDA_ERROR_INVALID_VALUE;
    return l->bytes < f->param_bytes || (l->bytes && !l->buffer) ? CUDA_ERROR_INVALID_VALUE
                                                                 : CUDA_SUCCESS;
}

/* Into the kernel's parameter area. */
static void pack(const struct sim_launch *l, const struct sim_func *f, unsigned char *to) {
    for (unsigned i = 0; i < f->nparams && l->params; i++)
        memcpy(to + f->params[i].address, l->params[i], f->params[i].size);
    if (l->bytes) memcpy(to, l->buffer, l->bytes);
}

static void release(struct sim_op *op) {
    if (op->grid && op->grid->uses) {
        if (op->done && !op->grid->fault && op->grid->next_cluster >= op->grid->nclusters)
            sim_uses_write(op->grid);
        sim_uses_free(op->grid->uses);
        op->grid->uses = NULL;
    }
    if (op->nested) op->end_nested(op);
    if (!op->model) free(op->data);
    if (op->workspace) give_workspace(op->workspace);
    if (op->module) sim_module_unref(op->module);
}

/* In the order that was measured: parameters that are too long count after a wrong cluster and too
   much memory. */
static int check(const struct sim_launch *l, const struct sim_function *f, struct sim_grid *g) {
    int result = find_cluster(l, f, largest_cluster(f), g->cluster);
    if (!result) result = check_shared(l, f);
    if (!result && l->bytes > f->func->param_bytes) result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    g->cluster_blocks = (uint32_t)product(g->cluster);
    return result ? result : check_room(l, f, g->cluster_blocks);
}

/* Fills in what all grids of this launch have in common, if a graph repeats it. On failure, freeing
   the operation frees everything allocated here. */
static int make_grid(const struct sim_launch *l, struct sim_function *f, struct sim_context *c,
        struct sim_op *op) {
    struct sim_grid *g = op->grid = calloc(1, sizeof *g);
    if (!g || !(g->params = calloc(1, f->func->param_bytes + 16))) return CUDA_ERROR_OUT_OF_MEMORY;
    int result = check(l, f, g);
    if (result) return result;
    pack(l, f->func, g->params);
    g->code = f->code;
    g->device = c->device;
    g->kernel_name = f->func->name;
    memcpy(g->grid, l->grid, sizeof g->grid);
    memcpy(g->block, l->block, sizeof g->block);
    g->dynamic_shared = l->shared;
    g->cooperative = l->set.cooperative;
    g->explicit_cluster = given(l->set.cluster) || f->prefers.cluster[0];
    for (int i = 0; i < 3; i++) g->clusters[i] = g->grid[i] / g->cluster[i];
    g->nclusters = product(g->clusters);
    g->sms = l->sms;
    g->max_resident = resident_clusters(
            sim_occupancy(f, (unsigned)product(l->block), l->shared), l->sms, g->cluster_blocks);
    if (sim_code_info(f->code)->uses_heap && (result = find_heap(c, &g->heap))) return result;
    if (f->no_effect) op->kind = SIM_OP_MARKER;
    return CUDA_SUCCESS;
}

/* What only a grid that runs needs: a number, seats for its clusters, memory for its barrier. */
static int arm(struct sim_op *op, struct sim_context *c) {
    struct sim_grid *g = op->grid;
    if (op->kind != SIM_OP_KERNEL) return CUDA_SUCCESS;
    g->id = next_grid++;
    g->op = op;
    g->stack = (uint32_t)c->limits[CU_LIMIT_STACK_SIZE];
    g->print_bytes = c->limits[CU_LIMIT_PRINTF_FIFO_SIZE];
    if (g->code && sim_code_info(g->code)->shows_params) {
        const uint32_t bytes = sim_param_room(sim_code_info(g->code)->param_bytes);
        if (!(g->shown_params = malloc(bytes))) return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(g->shown_params, g->params, bytes);
    }
    if (sim_settings.access)
        g->uses = sim_uses_new(
                op->model ? op->model : op, sim_launch_function(op->model ? op->model : op)->func);
    op->live_tasks = (unsigned)(g->nclusters < g->max_resident ? g->nclusters : g->max_resident);
    if (!(op->tasks = calloc(op->live_tasks, sizeof *op->tasks))) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!g->cooperative) return CUDA_SUCCESS;
    struct sim_workspace *w = op->workspace = take_workspace(c);
    if (!w) return CUDA_ERROR_OUT_OF_MEMORY;
    g->workspace = w->address;
    return CUDA_SUCCESS;
}

struct sim_function *sim_launch_function(const struct sim_op *op) {
    const struct sim_module *m = op->module;
    struct sim_function *f = m->functions;
    while (f->code != op->grid->code) f++;
    return f;
}

struct sim_op *sim_launch_copy(struct sim_op *model) {
    struct sim_op *op = sim_op_copy(model);
    if (!op || model->kind != SIM_OP_KERNEL) return op;
    op->release = release;
    if (!arm(op, ((struct sim_module *)model->module)->context)) return op;
    sim_op_unref(op);
    return NULL;
}

/* The stream, the function and the arguments. */
static int find_all(struct sim_launch *l, struct sim_stream **s, struct sim_function **f) {
    int result = sim_stream_use(l->stream, s);
    if (result) return result;
    if (!(result = sim_function_find(l->function, (*s)->context, f)) && (*f)->kernel)
        result = sim_stream_use(l->stream, s); /* again: another thread may have destroyed it
                                                  meanwhile */
    if (result) return result;
    return (*f)->module->context == (*s)->context
            ? read_arguments(l, (*f)->func, (*s)->capture != NULL)
            : CUDA_ERROR_INVALID_HANDLE;
}

/* Makes the checks and creates the operation; does not submit it. */
static int prepare(const struct sim_launch *requested, struct sim_context *c,
        struct sim_function *f, struct sim_op **out) {
    struct sim_launch launch = *requested, *l = &launch;
    int result = check_shape(l, f);
    if (result) return result;
    for (int i = 0; i < 3 && f->func->blocks_are_clusters; i++)
        l->grid[i] *= f->func->reqnctapercluster[i];
    struct sim_op *op = sim_op_new(SIM_OP_KERNEL);
    if (!op) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((result = make_grid(l, f, c, op))) {
        sim_op_unref(op);
        return result;
    }
    if (l->set.has_priority && l->set.priority < 0)
        op->priority = l->set.priority < SIM_PRIORITY_GREATEST ? -SIM_PRIORITY_GREATEST
                                                               : -l->set.priority;
    if (f->module->prints) c->has_printed = true;
    op->release = release;
    op->packed = l->bytes;
    op->module = f->module;
    f->module->refs++;
    *out = op;
    return CUDA_SUCCESS;
}

/* A node names a kernel as such, not as a CUfunction, as measured; without a context it is for the
   current one. */
static int find_node_function(const CUDA_KERNEL_NODE_PARAMS_v2 *p, struct sim_function **f) {
    if (p->func)
        return (*f = sim_get(SIM_H_FUNCTION, p->func)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    struct sim_context *c = p->ctx ? sim_context_at(p->ctx) : NULL;
    int result = p->ctx ? (c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT) : sim_context_need();
    return result ? result : sim_function_find(p->kern, c ? c : sim_self.context, f);
}

/* ---- attributes ---- */

static const struct {
    unsigned id;
    size_t at, bytes;
} attributes[] = {
#define A(ID, member) \
    { CU_LAUNCH_ATTRIBUTE_##ID, offsetof(struct sim_attributes, member), \
        sizeof((struct sim_attributes *)NULL)->member },
    /* clang-format off */
    A(ACCESS_POLICY_WINDOW, window) A(COOPERATIVE, cooperative) A(CLUSTER_DIMENSION, cluster)
    A(CLUSTER_SCHEDULING_POLICY_PREFERENCE, policy) A(PROGRAMMATIC_STREAM_SERIALIZATION, early)
    A(PRIORITY, priority)
    A(MEM_SYNC_DOMAIN_MAP, domains) A(MEM_SYNC_DOMAIN, domain)
    A(PREFERRED_CLUSTER_DIMENSION, preferred)
    A(PREFERRED_SHARED_MEMORY_CARVEOUT, carveout) A(NVLINK_UTIL_CENTRIC_SCHEDULING, nvlink)
/* clang-format on */
#undef A
};

/* NULL: there is no such one. */
static void *attribute_at(struct sim_attributes *set, unsigned id, size_t *bytes) {
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        *bytes = attributes[i].bytes;
        if (attributes[i].id == id) return (char *)set + attributes[i].at;
    }
    return NULL;
}

/* Attributes that are hints, or that permit what never happens here (the overlap of programmatic
   serialization), are only kept. */
static bool is_window(const CUaccessPolicyWindow *w) {
    return w->num_bytes <= SIM_MAX_WINDOW && w->hitRatio >= 0 && w->hitRatio <= 1 &&
            w->missProp != CU_ACCESS_PROPERTY_PERSISTING; /* other values pass, as measured */
}
static int read_attribute(const CUlaunchAttribute *a, struct sim_attributes *set) {
    size_t bytes;
    void *at = attribute_at(set, a->id, &bytes);
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE: return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (!is_window(&a->value.window)) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        if (a->value.domains[0] >= sim_settings.capability->sync_domains ||
                a->value.domains[1] >= sim_settings.capability->sync_domains)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if (a->value.number > 1) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (a->value.number > 2) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: set->has_priority = true; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        if (!given(a->value.cluster)) return CUDA_SUCCESS;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (a->value.number > 100) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!at) return CUDA_ERROR_INVALID_VALUE;
    memcpy(at, &a->value, bytes);
    if (a->id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) set->has_domains = true;
    return CUDA_SUCCESS;
}

/* An event is recorded behind the grid, also where it could be reached earlier. */
static int read_event(const CUlaunchAttribute *a, struct sim_launch *l) {
    const struct sim_event *e = sim_get(SIM_H_EVENT, a->value.record.event);
    if (!e) return CUDA_ERROR_INVALID_HANDLE;
    const bool complete = a->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    if (a->value.record.flags) /* as measured, like what follows */
        return a->value.record.flags == CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_ILLEGAL_STATE
                                                                 : CUDA_ERROR_INVALID_VALUE;
    if (!(e->flags & CU_EVENT_DISABLE_TIMING) || e->flags & CU_EVENT_INTERPROCESS ||
            (complete && e->flags & CU_EVENT_BLOCKING_SYNC))
        return CUDA_ERROR_NOT_SUPPORTED;
    l->events[complete] = a->value.record.event;
    return CUDA_SUCCESS;
}
static int read_attributes(const CUlaunchConfig *c, struct sim_launch *l) {
    int result = c->numAttrs && !c->attrs ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (unsigned i = 0; i < c->numAttrs && !result; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        const bool event = a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
                a->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
        result = event ? read_event(a, l) : read_attribute(a, &l->set);
    }
    return result;
}

static bool is_of_stream(unsigned id) {
    return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW || id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
            id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
            id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}
int sim_launch_stream_set(struct sim_stream *s, unsigned id, const CUlaunchAttributeValue *value) {
    if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
        if (value->number - 1 > CU_SYNC_POLICY_BLOCKING_SYNC - 1) return CUDA_ERROR_INVALID_VALUE;
        s->set.wait = (int)value->number;
        return CUDA_SUCCESS;
    }
    int result = is_of_stream(id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (!result)
        result = read_attribute(&(CUlaunchAttribute){ .id = id, .value = *value }, &s->set);
    if (!result && id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        s->priority = sim_stream_priority(value->priority);
    return result;
}
int sim_launch_stream_get(const struct sim_stream *s, unsigned id, CUlaunchAttributeValue *value) {
    struct sim_attributes set = s->set;
    size_t bytes;
    const void *at = is_of_stream(id) ? attribute_at(&set, id, &bytes) : NULL;
    if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
        value->number = set.wait ? (unsigned)set.wait : ~0u; /* -1: never set, as an H100 */
        return CUDA_SUCCESS;
    }
    if (!at) return CUDA_ERROR_INVALID_VALUE;
    if (!set.has_domains) set.domains[1] = sim_settings.capability->sync_domains > 1;
    set.priority = s->priority;
    memcpy(value, at, bytes);
    return CUDA_SUCCESS;
}

/* ---- nodes ---- */

static int kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *p, const struct sim_attributes *set,
        uint64_t sms, struct sim_work *out) {
    struct sim_launch l = { p->func, NULL, { p->gridDimX, p->gridDimY, p->gridDimZ },
        { p->blockDimX, p->blockDimY, p->blockDimZ }, p->sharedMemBytes, p->kernelParams, p->extra,
        .set = *set, .sms = sms };
    struct sim_attributes *copy = malloc(sizeof *copy);
    struct sim_function *f;
    struct sim_op *op = NULL;
    int result = copy ? find_node_function(p, &f) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) result = read_arguments(&l, f->func, true);
    if (!result) result = prepare(&l, f->module->context, f, &op);
    if (result) {
        free(copy);
        return result;
    }
    *copy = *set;
    op->data = copy;
    *out = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_KERNEL, .op = op };
    sim_work_in(out, f->module->context);
    return CUDA_SUCCESS;
}
int sim_kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *p, const struct sim_attributes *set,
        struct sim_work *out) {
    const struct sim_green *g = p->ctx ? sim_green_at(p->ctx) : sim_green_current();
    return kernel_work(p, set, sim_green_sms(g), out);
}

/* The grid of the work has blocks, not clusters, also where .blocksareclusters lets the program
   give clusters. */
int sim_kernel_copy_set(
        const struct sim_work *work, const struct sim_attributes *set, struct sim_work *out) {
    const struct sim_grid *g = work->op->grid;
    const struct sim_function *f = sim_launch_function(work->op);
    const unsigned *per = f->func->reqnctapercluster;
    unsigned n[3];
    size_t bytes = f->func->param_bytes;
    for (int i = 0; i < 3; i++) n[i] = g->grid[i] / (f->func->blocks_are_clusters ? per[i] : 1);
    void *extra[] = { (void *)CU_LAUNCH_PARAM_BUFFER_POINTER, g->params,
        (void *)CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, (void *)CU_LAUNCH_PARAM_END };
    const CUDA_KERNEL_NODE_PARAMS_v2 p = { SIM_HANDLE(f->handle), n[0], n[1], n[2], g->block[0],
        g->block[1], g->block[2], g->dynamic_shared, NULL, extra, NULL, NULL };
    const int result = kernel_work(&p, set, g->sms, out);
    if (!result) out->op->packed = work->op->packed;
    return result;
}

static bool is_of_node(unsigned id) {
    return id && id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
            id != CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION &&
            id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT &&
            id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
}

int sim_kernel_set(
        const struct sim_work *work, const CUlaunchAttribute *attribute, struct sim_work *out) {
    struct sim_attributes set = *(const struct sim_attributes *)work->op->data;
    int result = is_of_node(attribute->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        set.policy = (int)attribute->value.number; /* any, as measured */
    else if (!result) result = read_attribute(attribute, &set);
    return result ? result : sim_kernel_copy_set(work, &set, out);
}

int sim_kernel_get(const struct sim_work *work, unsigned id, CUlaunchAttributeValue *value) {
    struct sim_attributes set = *(const struct sim_attributes *)work->op->data;
    size_t bytes;
    /* as measured */
    const bool readable = id != CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING;
    const void *at = readable && is_of_node(id) ? attribute_at(&set, id, &bytes) : NULL;
    if (!at) return CUDA_ERROR_INVALID_VALUE;
    if (!set.has_domains) set.domains[1] = sim_settings.capability->sync_domains > 1;
    set.priority = -work->op->priority; /* also that of the stream which captured it */
    memcpy(value, at, bytes);
    return CUDA_SUCCESS;
}

static int capture(struct sim_stream *s, struct sim_op *op, const struct sim_attributes *set) {
    struct sim_attributes *copy = op->data = malloc(sizeof *copy);
    if (!copy) {
        sim_op_unref(op);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!op->priority) op->priority = -s->priority;
    *copy = *set;
    copy->has_priority = true;
    copy->priority = -op->priority;
    if (!set->window.num_bytes) copy->window = s->set.window;
    if (!set->domain) copy->domain = s->set.domain;
    if (!set->has_domains) {
        memcpy(copy->domains, s->set.domains, sizeof copy->domains);
        copy->has_domains = s->set.has_domains;
    }
    const int result = sim_stream_submit(s, op);
    if (!result && set->early) sim_node_depend_early(sim_find(SIM_H_NODE, s->nodes.at[0]));
    return result;
}

/* A launch that fails after its handles and arguments were found invalidates the capture, as
   measured. */
static int launch(const struct sim_launch *l, struct sim_stream *s, struct sim_function *f) {
    struct sim_op *op;
    struct sim_launch here = *l;
    here.sms = sim_green_sms(s->green);
    int result = prepare(&here, s->context, f, &op);
    if (result) sim_capture_invalidate(s->capture);
    if (result) return result;
    if (s->capture) return capture(s, op, &l->set);
    if (!(result = arm(op, s->context))) return sim_stream_submit(s, op);
    sim_op_unref(op);
    return result;
}

int sim_launch_on(struct sim_launch *l) {
    struct sim_stream *s;
    struct sim_function *f;
    int result = find_all(l, &s, &f);
    return result ? result : launch(l, s, f);
}

int sim_launch(void *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
        void *stream, void **extra) {
    return sim_launch_on(&(struct sim_launch){ f, stream, { grid[0], grid[1], grid[2] },
            { block[0], block[1], block[2] }, shared, .extra = extra });
}

int sim_launch_nested(struct sim_op *parent, struct sim_function *f, const unsigned grid[3],
        const unsigned block[3], unsigned shared, void *params, size_t bytes, struct sim_op **out) {
    struct sim_launch l = { .grid = { grid[0], grid[1], grid[2] },
        .block = { block[0], block[1], block[2] },
        .shared = shared,
        .buffer = params,
        .bytes = bytes,
        .sms = parent->grid->sms };
    int result = sim_function_need(f);
    if (!result) result = prepare(&l, f->module->context, f, out);
    if (result) return result;
    (*out)->priority = parent->priority;
    (*out)->grid->depth = parent->grid->depth + 1;
    if (!(result = arm(*out, f->module->context))) return CUDA_SUCCESS;
    sim_op_unref(*out);
    return result;
}

/* One cooperative grid per device: all of them, or none. Edges provide the launch synchronisation:
   each grid comes after all work on any of the streams, and each stream gets a marker that comes
   after all grids. The blocks of all grids have tasks, so all of them progress. */
int sim_launch_multi(const CUDA_LAUNCH_PARAMS *list, unsigned n, unsigned flags) {
    struct sim_stream *streams[SIM_MAX_DEVICES];
    struct sim_function *f;
    struct sim_op *grids[SIM_MAX_DEVICES] = { NULL }, *after[SIM_MAX_DEVICES] = { NULL };
    bool pre = !(flags & CU_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC),
         post = !(flags & CU_MULTI_DEVICE_NO_POST_LAUNCH_SYNC);
    unsigned used = 0, made = 0;
    int result = CUDA_SUCCESS;
    /* every check of one entry precedes those of the next, as measured */
    for (; made < n && !result; made++) {
        const CUDA_LAUNCH_PARAMS *p = &list[made];
        struct sim_launch l = { p->function, p->hStream, { p->gridDimX, p->gridDimY, p->gridDimZ },
            { p->blockDimX, p->blockDimY, p->blockDimZ }, p->sharedMemBytes, p->kernelParams, NULL,
            .set.cooperative = true };
        /* the NULL stream and other special streams are not in the table */
        const struct sim_stream *s = sim_get(SIM_H_STREAM, p->hStream);
        /* all members up to sharedMemBytes */
        if (memcmp(&p->gridDimX, &list->gridDimX, 7 * sizeof(unsigned)))
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!s || s->thread) result = CUDA_ERROR_INVALID_HANDLE;
        else if (!(result = find_all(&l, &streams[made], &f)) && streams[made]->capture) {
            sim_capture_invalidate(streams[made]->capture);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        if (!result) l.sms = sim_green_sms(streams[made]->green);
        if (!result && !(result = prepare(&l, streams[made]->context, f, &grids[made])))
            result = arm(grids[made], streams[made]->context);
        if (!result && used & 1u << s->context->device->ordinal) result = CUDA_ERROR_INVALID_DEVICE;
        if (!result && post && !(after[made] = sim_op_new(SIM_OP_MARKER)))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        if (s) used |= 1u << s->context->device->ordinal;
    }
    if (result) {
        for (unsigned i = 0; i < n; i++) {
            sim_op_unref(grids[i]);
            sim_op_unref(after[i]);
        }
        return result;
    }
    for (unsigned i = 0; i < n && pre; i++)
        for (unsigned k = 0; k < n; k++) sim_stream_after(streams[k], grids[i]);
    for (unsigned i = 0; i < n; i++) {
        sim_op_ref(grids[i]);
        sim_stream_submit(streams[i], grids[i]);
    }
    for (unsigned i = 0; i < n && post; i++) {
        for (unsigned k = 0; k < n; k++) sim_op_after(after[i], grids[k]);
        sim_stream_submit(streams[i], after[i]);
    }
    for (unsigned i = 0; i < n; i++) sim_op_unref(grids[i]);
    return CUDA_SUCCESS;
}

static struct sim_launch configured(const CUlaunchConfig *c, void *f) {
    return (struct sim_launch){ f, c->hStream, { c->gridDimX, c->gridDimY, c->gridDimZ },
        { c->blockDimX, c->blockDimY, c->blockDimZ }, c->sharedMemBytes, .set.cooperative = false };
}

int sim_launch_configured(const CUlaunchConfig *c, void *f, void **params, void **extra) {
    struct sim_stream *s;
    struct sim_function *function;
    struct sim_launch l = configured(c, f);
    l.params = params;
    l.extra = extra;
    struct sim_event *events[2] = { NULL, NULL };
    int result = find_all(&l, &s, &function);
    if (result) return result;
    result = read_attributes(c, &l);
    for (int i = 0; i < 2 && !result; i++) {
        events[i] = l.events[i] ? sim_get(SIM_H_EVENT, l.events[i]) : NULL;
        if (events[i] && events[i]->context != s->context) result = CUDA_ERROR_INVALID_HANDLE;
    }
    if (result) {
        sim_capture_invalidate(s->capture);
        return result;
    }
    result = launch(&l, s, function);
    for (int i = 0; i < 2 && !result; i++)
        if (events[i]) result = sim_event_record(events[i], s);
    return result;
}

/* ---- occupancy of clusters: checks a launch, except for its parameters ---- */

static int check_configuration(const CUlaunchConfig *c, const struct sim_function *f,
        struct sim_launch *l, uint32_t n[3]) {
    int result = read_attributes(c, l);
    if (result) return result;
    for (int i = 0; i < 3; i++)
        if (!l->grid[i] || !l->block[i]) return CUDA_ERROR_INVALID_VALUE;
    return find_cluster(l, f, f->prefers.cluster[3] ? ~0u : SIM_CLUSTER_PORTABLE, n);
}

int sim_launch_clusters(const CUlaunchConfig *c, struct sim_function *f, int *out) {
    uint32_t n[3];
    struct sim_launch l = configured(c, NULL);
    int result = check_configuration(c, f, &l, n);
    if (result) return result;
    const uint64_t blocks = given(l.set.cluster) || f->prefers.cluster[0] ? product(n) : 0;
    *out = !blocks || blocks > SIM_CLUSTER_MOST || l.shared > (unsigned)f->prefers.max_dynamic
            ? 0
            : (int)resident_clusters(sim_occupancy(f, (unsigned)product(l.block), l.shared),
                      sim_green_sms(sim_green_current()), blocks);
    return CUDA_SUCCESS;
}

/* As measured, neither a required size nor .maxclusterrank lowers it. */
int sim_launch_largest_cluster(const CUlaunchConfig *c, struct sim_function *f, int *out) {
    uint32_t n[3];
    struct sim_launch l = configured(c, NULL);
    int result = check_configuration(c, f, &l, n);
    if (result) return result;
    const bool fits = l.shared <= (unsigned)f->prefers.max_dynamic &&
            sim_occupancy(f, (unsigned)product(l.block), l.shared).blocks;
    *out = fits ? (int)largest_cluster(f) : 0;
    return CUDA_SUCCESS;
}
