/* validation_random.c - the finder (>>validation) against random programs and a model of their
   order.

   A program is a list of operations that a seed generates: fills, copies, kernels, host functions,
   memory of pools, captures, graphs, batches, on streams of 1 to 4 devices, and what orders them.
   The model notes for each operation the set of all operations that have finished before it begins,
   as bits. It is written without the header's code: the finder's vector clocks must agree with it.

   A *correct* program has an edge (a wait of a stream, or of the host) wherever the model says that
   two operations use the same bytes without order, and one writes. The finder must report nothing,
   and the memory must have what the program computes on the host, one operation after the other.

   A program *without an edge* is the same without one edge that the model says is necessary. The
   finder must report a pair of the operations that the model says are not ordered, and no other
   pair. On the CPU device, other processes run it without the finder, under adversary schedules: if
   a result differs, the finder must have reported, or the model names the reason why it cannot.

   The parent generates; children run the programs. A child that a program ends, as an illegal
   address does, is started again behind this program.

   VALIDATION_PROGRAMS=3000  how many of each kind; TEST_ALL=1: 3,000
   VALIDATION_SAID=1         with gpuexec_kernel_set_access instead of what the PTX says
   VALIDATION_SEED=17        only this one, which is listed, with all reports */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../../test.h"
#include <sys/mman.h>

enum {
    MAX_DEVICES = 4,
    MAX_STREAMS = 10, /* the first ones are the devices' legacy default streams */
    MAX_BUFFERS = 10,
    MAX_EVENTS = 16, /* the second half is for captures */
    MAX_GRAPHS = 3,
    MAX_NODES = 16,
    MAX_OPS = 160,
    MAX_INSTANCES = 192,
    MAX_PAIRS = 64,
    UNITS = 64, /* words of each buffer, in 4 rows */
    ROW = 16,
    HOST = -1
};

/* -------------------------------------------------------------------------------------------------
   Programs. */

typedef enum memory_kind { DEVICE, PITCHED, PINNED, MANAGED, PAGEABLE, POOL } memory_kind;
static const char *const memory_names[] = { "device", "pitched", "pinned", "managed", "pageable",
    "pool" };
typedef struct buffer {
    memory_kind kind;
    int device, alive; /* alive: while the program is generated */
} buffer;

typedef enum op_kind {
    FILL,
    COPY,
    KERNEL,
    HOST_FILL, /* by the host's own code */
    HOST_COPY,
    HOST_FUNCTION, /* fills */
    ALLOC,
    FREE,
    RECORD, /* from here on: without memory */
    WAIT_EVENT,
    WAIT_STREAM,
    SYNC_STREAM,
    SYNC_EVENT,
    SYNC_CONTEXT,
    QUERY_STREAM,
    QUERY_EVENT,
    CAPTURE_BEGIN,
    CAPTURE_END,
    GRAPH_BEGIN, /* by hand, or a batch */
    BARRIER,     /* of a batch */
    LAUNCH       /* a graph or a batch */
} op_kind;
static const char *const op_names[] = { "fill", "copy", "kernel", "host fills", "host copies",
    "host function", "allocate", "free", "record", "wait for event", "wait for stream",
    "sync stream", "sync event", "sync context", "query stream", "query event", "capture begins",
    "capture ends", "graph begins", "barrier of batch", "launch of graph" };

typedef enum graph_kind { CAPTURED, BY_HAND, BATCH_IN_ORDER, BATCH_INDEPENDENT } graph_kind;
static const char *const graph_names[] = { "captured", "by hand", "batch in order",
    "independent batch" };

typedef struct op {
    op_kind kind;
    int stream, other; /* other: the stream that is waited for */
    int event;
    int graph;      /* of a node, or to launch; -1: none */
    graph_kind how; /* of GRAPH_BEGIN */
    unsigned deps;  /* of a node by hand: bits of earlier nodes */
    int buf[3];     /* the first is written */
    int at[3];      /* the first unit */
    int cols, rows;
    int kernel;
    uint32_t value;
    int element;
    int now;  /* gpuexec_copy_now and similar */
    int edge; /* it may be left out */
} op;

typedef struct program {
    uint32_t seed;
    int devices, streams, buffers, graphs, ops;
    struct {
        int device, blocking; /* blocking 2: the legacy default stream, 3: the per-thread one */
    } stream[MAX_STREAMS];
    buffer buf[MAX_BUFFERS];
    int event_device[MAX_EVENTS];
    op op[MAX_OPS];
    int skip, skip_dep; /* what is left out: an operation, or a dependency of a node; -1: nothing */
} program;

/* What the kernels do with their pointers, as gpuexec_use. */
enum {
    ADDS = 5,
    COUNTS = 6,
    SPINS = 7,
    LOOPS = 8,
    PLACED = 9,
    KERNELS = 10,
    THREADS_OF_LOOPS = 16
};
static const struct {
    const char *name;
    int pointers, reads_first;
} kernel_table[KERNELS] = {
    { "store", 1, 0 }, { "scale", 1, 1 }, { "shift", 2, 0 }, { "mix", 3, 0 }, { "fold", 2, 1 },
    { "adds", 1, 1 }, { "counts", 1, 1 }, /* atomics without and with a result */
    { "spins", 1, 1 },                    /* ... in a loop, so that it could wait for others */
    { "loops", 1, 0 },                    /* few threads, which begin again */
    { "placed", 1, 0 },                   /* its last parameter is where it begins */
};
#define KERNEL_TEXT(name, more, body) \
    ".visible .entry " name "(.param .u64 a" more ", .param .u32 n, .param .u32 k) {\n" \
    " .reg .pred %p;\n .reg .u32 %r<8>;\n .reg .u64 %a, %b, %c, %t;\n" \
    " ld.param.u32 %r1, [n];\n ld.param.u32 %r2, [k];\n mov.u32 %r3, %tid.x;\n" \
    " setp.ge.u32 %p, %r3, %r1;\n @%p bra DONE;\n mul.wide.u32 %t, %r3, 4;\n" \
    " ld.param.u64 %a, [a];\n cvta.to.global.u64 %a, %a;\n add.u64 %a, %a, %t;\n" body \
    "DONE:\n ret;\n}\n"
#define POINTER_TEXT(p) \
    " ld.param.u64 %" p ", [" p "];\n cvta.to.global.u64 %" p ", %" p ";\n" \
    " add.u64 %" p ", %" p ", %t;\n"
/* in two parts, because C99 compilers need not take longer strings */
/* clang-format off */
static const char first_kernels[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    KERNEL_TEXT("store", "",
        " add.u32 %r4, %r3, %r2;\n st.global.u32 [%a], %r4;\n")
    KERNEL_TEXT("scale", "",
        " ld.global.u32 %r4, [%a];\n mad.lo.u32 %r4, %r4, 3, %r2;\n st.global.u32 [%a], %r4;\n")
    KERNEL_TEXT("shift", ", .param .u64 b",
        POINTER_TEXT("b")
        " ld.global.u32 %r4, [%b];\n add.u32 %r4, %r4, %r2;\n st.global.u32 [%a], %r4;\n")
    KERNEL_TEXT("mix", ", .param .u64 b, .param .u64 c",
        POINTER_TEXT("b") POINTER_TEXT("c")
        " ld.global.u32 %r4, [%b];\n ld.global.u32 %r5, [%c];\n"
        " mad.lo.u32 %r4, %r4, 5, %r5;\n add.u32 %r4, %r4, %r2;\n st.global.u32 [%a], %r4;\n")
    KERNEL_TEXT("fold", ", .param .u64 b",
        POINTER_TEXT("b")
        " ld.global.u32 %r4, [%a];\n ld.global.u32 %r5, [%b];\n"
        " mad.lo.u32 %r4, %r4, 7, %r5;\n add.u32 %r4, %r4, %r2;\n st.global.u32 [%a], %r4;\n")
    KERNEL_TEXT("adds", "",
        " add.u32 %r4, %r3, %r2;\n red.global.add.u32 [%a], %r4;\n");
static const char other_kernels[] =
    KERNEL_TEXT("counts", "",
        " add.u32 %r4, %r3, %r2;\n atom.global.add.u32 %r5, [%a], %r4;\n")
    KERNEL_TEXT("spins", "",
        " add.u32 %r4, %r3, %r2;\nAGAIN:\n atom.global.add.u32 %r5, [%a], %r4;\n"
        " setp.lt.u32 %p, %r3, 0;\n @%p bra AGAIN;\n")
    KERNEL_TEXT("loops", "",
        " mov.u32 %r5, %ntid.x;\n mul.wide.u32 %t, %r5, 4;\n"
        "AGAIN:\n mad.lo.u32 %r4, %r3, 5, %r2;\n st.global.u32 [%a], %r4;\n"
        " add.u64 %a, %a, %t;\n add.u32 %r3, %r3, %r5;\n"
        " setp.lt.u32 %p, %r3, %r1;\n @%p bra AGAIN;\n")
    KERNEL_TEXT("placed", ", .param .u32 first",
        " ld.param.u32 %r4, [first];\n mul.wide.u32 %t, %r4, 4;\n add.u64 %a, %a, %t;\n"
        " mad.lo.u32 %r5, %r3, 3, %r2;\n st.global.u32 [%a], %r5;\n");
/* clang-format on */

/* Whether the finder reads what a kernel uses from its PTX; otherwise, the test says so. */
static int reads_ptx = 1;

static int is_node(const op *o) { return o->graph >= 0 && o->kind <= KERNEL; }
static int is_on_host(memory_kind kind) { return kind == PINNED || kind == PAGEABLE; }

/* --- what the operations compute -------------------------------------------------------------- */

/* One bit for each word of a buffer. */
static uint64_t units_of(int at, int cols, int rows) {
    uint64_t bits = 0;
    int row;
    for (row = 0; row < rows; row++)
        bits |= (cols == UNITS ? ~(uint64_t)0 : ((uint64_t)1 << cols) - 1) << (at + row * ROW);
    return bits;
}
typedef uint32_t contents[MAX_BUFFERS][UNITS];

static uint32_t first_word(uint32_t seed, int buf, int unit) {
    return (seed * 2654435761u) ^ (uint32_t)(buf * 977 + unit * 131 + 7);
}
static uint32_t fill_word(const op *o) {
    return o->element == 1    ? (o->value & 0xff) * 0x01010101u
            : o->element == 2 ? (o->value & 0xffff) * 0x00010001u
                              : o->value;
}
static void compute_op(const op *o, contents mem) {
    int row, col;
    for (row = 0; row < o->rows; row++)
        for (col = 0; col < o->cols; col++) {
            const int unit = row * ROW + col;
            const uint32_t i = (uint32_t)col, k = o->value,
                           b = o->buf[1] < 0 ? 0 : mem[o->buf[1]][o->at[1] + unit],
                           c = o->buf[2] < 0 ? 0 : mem[o->buf[2]][o->at[2] + unit];
            uint32_t *const a = &mem[o->buf[0]][o->at[0] + unit];
            if (o->kind == FILL || o->kind == HOST_FILL || o->kind == HOST_FUNCTION)
                *a = fill_word(o);
            else if (o->kind == COPY || o->kind == HOST_COPY) *a = b;
            else if (o->kind == KERNEL) switch (o->kernel) {
                case 0: *a = i + k; break;
                case 1: *a = *a * 3 + k; break;
                case 2: *a = b + k; break;
                case 3: *a = b * 5 + c + k; break;
                case 4: *a = *a * 7 + b + k; break;
                case LOOPS: *a = i * 5 + k; break;
                case PLACED: *a = i * 3 + k; break;
                default: *a += i + k; break;
                }
        }
}
/* In the order of the program. */
static void compute(const program *p, contents mem) {
    int i, j, unit;
    for (i = 0; i < p->buffers; i++)
        for (unit = 0; unit < UNITS; unit++) mem[i][unit] = first_word(p->seed, i, unit);
    for (i = 0; i < p->ops; i++) {
        const op *const o = &p->op[i];
        if (o->kind <= HOST_FUNCTION && !is_node(o)) compute_op(o, mem);
        if (o->kind != LAUNCH) continue;
        for (j = 0; j < i; j++)
            if (is_node(&p->op[j]) && p->op[j].graph == o->graph) compute_op(&p->op[j], mem);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

static void print_op(const program *p, int i) {
    const op *const o = &p->op[i];
    int k;
    printf("  %3d %s%s", i, i == p->skip && p->skip_dep < 0 ? "LEFT OUT: " : "", op_names[o->kind]);
    if (o->kind == KERNEL) printf(" %s", kernel_table[o->kernel].name);
    if (o->now) printf(" (_now)");
    if (o->kind == GRAPH_BEGIN) printf(" (%s)", graph_names[o->how]);
    if (o->graph >= 0) printf(" [graph %d]", o->graph);
    if (o->deps) printf(" after nodes 0x%x", o->deps);
    if (i == p->skip && p->skip_dep >= 0) printf(" LEFT OUT: after node %d", p->skip_dep);
    if (o->stream >= 0) printf(" on stream %d", o->stream);
    if (o->other >= 0) printf(" for stream %d", o->other);
    if (o->event >= 0) printf(" event %d", o->event);
    for (k = 0; k < 3; k++)
        if (o->kind <= FREE && o->buf[k] >= 0)
            printf("%s buffer %d from %d", k ? "," : ":", o->buf[k], o->at[k]);
    if (o->kind <= FREE) printf("; %d words", o->cols);
    if (o->rows > 1) printf(" in %d rows", o->rows);
    printf("\n");
}
static void print_program(const program *p) {
    int i;
    printf("program of seed %u, %d devices\n", p->seed, p->devices);
    for (i = 0; i < p->streams; i++)
        printf("  stream %d: device %d, %s\n", i, p->stream[i].device,
                p->stream[i].blocking == 3           ? "per-thread"
                        : p->stream[i].blocking == 2 ? "legacy"
                        : p->stream[i].blocking      ? "blocking"
                                                     : "non-blocking");
    for (i = 0; i < p->buffers; i++)
        printf("  buffer %d: %s, device %d\n", i, memory_names[p->buf[i].kind], p->buf[i].device);
    for (i = 0; i < p->ops; i++) print_op(p, i);
}

/* -------------------------------------------------------------------------------------------------
   The model. */

typedef struct bits {
    uint64_t word[MAX_INSTANCES / 64];
} bits;
static void bits_add(bits *b, const bits *more) {
    size_t i;
    for (i = 0; i < MAX_INSTANCES / 64; i++) b->word[i] |= more->word[i];
}
static void bits_set(bits *b, int i) { b->word[i / 64] |= (uint64_t)1 << i % 64; }
static int bits_get(const bits *b, int i) { return (int)(b->word[i / 64] >> i % 64 & 1); }

typedef struct touch {
    int buf, at, writes;
    int by_kernel, atomic, by_host;
    int whole; /* all of the memory, which each pointer into it meets */
    uint64_t units;
    uint64_t certain; /* of these, what the finder knows */
} touch;
static int accesses_of(const program *p, const op *o, touch out[3]) {
    int n = 0, k;
    memset(out, 0, 3 * sizeof *out);
    if (o->kind > FREE) return 0;
    for (k = 0; k < 3; k++) {
        if (o->buf[k] < 0) continue;
        if (p->buf[o->buf[k]].kind == PAGEABLE && o->kind <= COPY) continue; /* by the call */
        out[n].buf = o->buf[k];
        out[n].at = o->at[k];
        out[n].writes = k == 0;
        out[n].units = units_of(o->at[k], o->cols, o->rows);
        out[n].by_kernel = o->kind == KERNEL;
        out[n].atomic = o->kind == KERNEL && o->kernel >= ADDS && o->kernel <= SPINS;
        out[n].by_host = o->kind == HOST_FILL || o->kind == HOST_COPY || o->kind == HOST_FUNCTION;
        out[n].whole = o->kind == ALLOC || o->kind == FREE ||
                (o->kind <= COPY && o->cols == UNITS && p->buf[o->buf[k]].kind != PITCHED);
        out[n].certain = out[n].units;
        if (o->kind == KERNEL && !reads_ptx) out[n].certain = (uint64_t)1 << o->at[k];
        else if (o->kind == KERNEL && o->kernel == LOOPS && o->cols > THREADS_OF_LOOPS)
            out[n].certain = units_of(o->at[k], THREADS_OF_LOOPS, 1);
        n++;
    }
    return n;
}
/* why the finder cannot see a pair; 0: it can */
enum {
    SEEN,
    OF_HOST,    /* the host's own access */
    OF_PART,    /* of a kernel, only some bytes are known: those of the first round of a loop, or
                   the byte at a pointer if the test says what the kernel does */
    OF_ATOMICS, /* kernels may wait for each other, or for the host, with atomics */
    AFTER_HOST_FUNCTION,
    ASSUMED, /* not ordered for certain, but the finder assumes that it is */
    HOW
};
static const char *const reason_names[HOW] = { "not explained", "an access of the host's own code",
    "bytes that a kernel uses later in a loop",
    "kernels with atomics may wait for others or the host",
    "a host function is ordered with everything",
    "a wait on a default stream counts as work there" };

/* 0: they may overlap. Otherwise 1, and *why. */
static int accesses_conflict(const touch *a, const touch *b, int *why) {
    uint64_t meet;
    if (a->buf != b->buf || !(a->writes || b->writes)) return 0;
    if (reads_ptx && a->atomic && b->atomic) return 0;
    meet = a->units & b->units;
    if (!meet) return 0;
    *why = SEEN;
    if (a->by_host || b->by_host) *why = OF_HOST;
    else if (a->whole || b->whole) return 1;
    else if (!(a->certain & b->certain)) *why = OF_PART;
    return 1;
}

/* An operation that runs; of a graph, one for each node and launch. */
typedef struct instance {
    int op, place; /* place: the operation that enqueued it */
    int stream;    /* or HOST */
    bits before;
    int n;
    touch touches[3];
} instance;
typedef struct pair {
    int first, second; /* place_of */
    int why;
} pair;
typedef struct pairs {
    int n, seen;               /* seen: those with why 0 */
    int unordered_instance[2]; /* the first pair of instances */
    pair at[MAX_PAIRS];
} pairs;

typedef struct model_graph {
    graph_kind how;
    int n, op[MAX_NODES];
    unsigned before[MAX_NODES], barrier;
    bits last; /* the last launch, which the next one waits for */
} model_graph;
/* What changes with each operation, except the instances. */
typedef struct model_state {
    bits host, strand[MAX_STREAMS], event[MAX_EVENTS];
    unsigned captured[MAX_STREAMS], captured_event[MAX_EVENTS];
    int host_function; /* the first one's operation; or -1 */
    int n;
    model_graph graph[MAX_GRAPHS];
} model_state;
typedef struct model {
    const program *p;
    int assumes; /* 1: also what is not certain, namely that a stream's wait for an event is work
                    there, with what this means for the legacy default stream. On the legacy
                    stream, it is work on an H100, and on the CPU device */
    model_state s;
    instance at[MAX_INSTANCES];
    pairs *found; /* or NULL */
} model;

static void model_begin(model *m, const program *p, pairs *found) {
    m->p = p;
    m->assumes = 0;
    m->found = found;
    memset(&m->s, 0, sizeof m->s);
    m->s.host_function = -1;
    if (found) memset(found, 0, sizeof *found);
}
static void note_pair(pairs *found, int first, int second, int why) {
    int i;
    for (i = 0; i < found->n; i++)
        if (found->at[i].first == first && found->at[i].second == second) {
            if (why < found->at[i].why) {
                found->at[i].why = why;
                found->seen += why == SEEN;
            }
            return;
        }
    if (found->n == MAX_PAIRS) return;
    found->at[found->n].first = first;
    found->at[found->n].second = second;
    found->at[found->n++].why = why;
    found->seen += why == SEEN;
}
/* How reports name an operation: of two nodes of one launch, the calls that added them, otherwise
   the launch. All of a batch is one place, because any of its launches may have added its nodes. */
static int place_of(const program *p, int of_op) {
    const op *const o = &p->op[of_op];
    int i;
    for (i = 0; o->graph >= 0 && i < p->ops; i++)
        if (p->op[i].kind == GRAPH_BEGIN && p->op[i].graph == o->graph && p->op[i].how != BY_HAND)
            return i;
    return of_op;
}
/* Bits of the buffers on which the operation has atomics; of a launch, all of its nodes. */
static unsigned atomics_of(const program *p, int place) {
    const op *const o = &p->op[place];
    unsigned bits_of = 0;
    int i;
    if (o->kind == KERNEL && o->kernel == SPINS) return 1u << o->buf[0];
    for (i = 0; i < place && o->kind == LAUNCH; i++)
        if (is_node(&p->op[i]) && p->op[i].graph == o->graph) bits_of |= atomics_of(p, i);
    return bits_of;
}
/* Whether the finder takes the atomics of operations that are not in one launch for a way to wait.
   It may take two allocations for one. */
static int may_wait(const program *p, int first, int second) {
    const unsigned atomics = atomics_of(p, first);
    int i;
    if (!reads_ptx || first == second || !atomics) return 0;
    for (i = 0; i < p->buffers; i++)
        if (atomics >> i & 1 && (p->buf[i].kind == PINNED || p->buf[i].kind == MANAGED)) return 1;
    return atomics_of(p, second) != 0;
}
static void compare(model *m, const instance *old, const instance *now, int i, int j) {
    int k, l, why;
    for (k = 0; k < old->n; k++)
        for (l = 0; l < now->n; l++) {
            if (!accesses_conflict(&old->touches[k], &now->touches[l], &why)) continue;
            if (!m->found->n) {
                m->found->unordered_instance[0] = i;
                m->found->unordered_instance[1] = j;
            }
            if (m->s.host_function >= 0 && m->s.host_function <= now->place && why == SEEN)
                why = AFTER_HOST_FUNCTION;
            if (why == SEEN && may_wait(m->p, old->place, now->place)) why = OF_ATOMICS;
            if (old->place == now->place)
                note_pair(m->found, place_of(m->p, old->op), place_of(m->p, now->op), why);
            else note_pair(m->found, place_of(m->p, old->place), place_of(m->p, now->place), why);
        }
}
/* Returns its number. */
static int model_add(model *m, int of_op, int place, int stream, const bits *before) {
    const int n = m->s.n;
    instance *const now = &m->at[n];
    int i;
    if (n == MAX_INSTANCES) {
        printf("too many instances\n");
        abort();
    }
    now->op = of_op;
    now->place = place;
    now->stream = stream;
    now->before = *before;
    now->n = accesses_of(m->p, &m->p->op[of_op], now->touches);
    m->s.n++;
    for (i = 0; m->found && i < n; i++)
        if (!bits_get(before, i)) compare(m, &m->at[i], now, i, n);
    return n;
}
/* What work on the stream begins after. */
static bits joined(const model *m, int stream) {
    const program *const p = m->p;
    bits b = m->s.strand[stream];
    int i;
    bits_add(&b, &m->s.host);
    for (i = 0; i < p->streams; i++)
        if (p->stream[i].device == p->stream[stream].device &&
                (p->stream[stream].blocking == 2             ? p->stream[i].blocking & 1
                                : p->stream[stream].blocking ? p->stream[i].blocking == 2
                                                             : 0))
            bits_add(&b, &m->s.strand[i]);
    return b;
}
static void model_node(model *m, int i, int skip_dep) {
    const op *const o = &m->p->op[i];
    model_graph *const g = &m->s.graph[o->graph];
    const unsigned self = 1u << g->n;
    unsigned before = 0;
    int k;
    switch (g->how) {
    case CAPTURED:
        before = m->s.captured[o->stream];
        m->s.captured[o->stream] |= self;
        break;
    case BY_HAND:
        for (k = 0; k < g->n; k++)
            if (o->deps >> k & 1 && k != skip_dep) before |= 1u << k | g->before[k];
        break;
    case BATCH_IN_ORDER: before = self - 1; break;
    case BATCH_INDEPENDENT: before = g->barrier; break;
    }
    g->before[g->n] = before;
    g->op[g->n++] = i;
}
static void model_launch(model *m, int i) {
    const op *const o = &m->p->op[i];
    model_graph *const g = &m->s.graph[o->graph];
    const bits begin = joined(m, o->stream);
    bits base = begin, end;
    int node[MAX_NODES], j, k;
    bits_add(&base, &g->last);
    end = base;
    for (j = 0; j < g->n; j++) {
        bits before = base;
        for (k = 0; k < j; k++)
            if (g->before[j] >> k & 1) bits_set(&before, node[k]);
        node[j] = model_add(m, g->op[j], i, o->stream, &before);
        bits_set(&end, node[j]);
    }
    m->s.strand[o->stream] = end;
    g->last = end;
}
static void model_step(model *m, int i, int skip_dep) {
    const op *const o = &m->p->op[i];
    model_state *const s = &m->s;
    const int captures = o->graph >= 0;
    bits b;
    if (is_node(o)) {
        model_node(m, i, skip_dep);
        return;
    }
    switch (o->kind) {
    case FILL:
    case COPY:
    case KERNEL:
    case HOST_FUNCTION:
    case ALLOC:
    case FREE:
        b = joined(m, o->stream);
        if (o->kind == HOST_FUNCTION && s->host_function < 0) s->host_function = i;
        bits_set(&b, model_add(m, i, i, o->stream, &b));
        s->strand[o->stream] = b;
        if (o->now || (o->kind == COPY && m->p->buf[o->buf[0]].kind == PAGEABLE))
            bits_add(&s->host, &b);
        break;
    case HOST_FILL:
    case HOST_COPY:
        b = s->host;
        bits_set(&s->host, model_add(m, i, i, HOST, &b));
        break;
    case RECORD:
        if (captures) s->captured_event[o->event] = s->captured[o->stream];
        else s->event[o->event] = s->strand[o->stream] = joined(m, o->stream);
        break;
    case WAIT_EVENT:
        if (captures) s->captured[o->stream] |= s->captured_event[o->event];
        else {
            if (m->assumes) s->strand[o->stream] = joined(m, o->stream);
            bits_add(&s->strand[o->stream], &s->event[o->event]);
        }
        break;
    case WAIT_STREAM:
        if (captures) s->captured[o->stream] |= s->captured[o->other];
        else {
            s->strand[o->other] = joined(m, o->other);
            if (m->assumes) s->strand[o->stream] = joined(m, o->stream);
            bits_add(&s->strand[o->stream], &s->strand[o->other]);
        }
        break;
    case SYNC_STREAM:
    case QUERY_STREAM:
        b = m->p->stream[o->stream].blocking == 2 ? joined(m, o->stream) : s->strand[o->stream];
        bits_add(&s->host, &b);
        break;
    case SYNC_EVENT:
    case QUERY_EVENT: bits_add(&s->host, &s->event[o->event]); break;
    case SYNC_CONTEXT: {
        const int device = m->p->stream[o->stream].device;
        int k;
        for (k = 0; k < m->p->streams; k++)
            if (m->p->stream[k].device == device) bits_add(&s->host, &s->strand[k]);
        break;
    }
    case CAPTURE_BEGIN:
        memset(s->captured, 0, sizeof s->captured);
        s->graph[o->graph].how = CAPTURED;
        break;
    case GRAPH_BEGIN: s->graph[o->graph].how = o->how; break;
    case BARRIER: s->graph[o->graph].barrier = (1u << s->graph[o->graph].n) - 1; break;
    case LAUNCH: model_launch(m, i); break;
    case CAPTURE_END: break;
    }
}
static void run_model(const program *p, int assumes, pairs *found) {
    static model m;
    int i;
    model_begin(&m, p, found);
    m.assumes = assumes;
    for (i = 0; i < p->ops; i++)
        if (i != p->skip || p->skip_dep >= 0) model_step(&m, i, i == p->skip ? p->skip_dep : -1);
}
/* All conflicting operations that are not ordered if the program leaves out what it says. */
static void analyse(const program *p, pairs *found) {
    static pairs certain;
    int i, j;
    run_model(p, 0, found);
    if (!found->n) return;
    run_model(p, 1, &certain);
    for (i = 0; i < found->n; i++) {
        pair *const at = &found->at[i];
        for (j = 0; j < certain.n; j++)
            if (certain.at[j].first == at->first && certain.at[j].second == at->second) break;
        if (at->why != SEEN || (j < certain.n && certain.at[j].why == SEEN)) continue;
        at->why = ASSUMED;
        found->seen--;
    }
}

/* -------------------------------------------------------------------------------------------------
   The generator. */

typedef struct generator {
    program *p;
    uint32_t random;
    int host_functions; /* whether there are some */
    int launchable[MAX_GRAPHS];
    model m; /* of what is there so far */
    pairs conflicts;
} generator;

static int below(generator *g, int n) { return (int)(test_random(&g->random) % (uint32_t)n); }
static int chance(generator *g, int percent) { return below(g, 100) < percent; }

static op op_of(op_kind kind) {
    op o;
    memset(&o, 0, sizeof o);
    o.kind = kind;
    o.stream = o.other = o.event = o.graph = -1;
    o.buf[0] = o.buf[1] = o.buf[2] = -1;
    o.rows = 1;
    return o;
}
static int is_full(const generator *g) {
    return g->p->ops > MAX_OPS - 24 || g->m.s.n > MAX_INSTANCES - 2 * MAX_NODES;
}
static void append(generator *g, const op *o) {
    if (g->p->ops == MAX_OPS) {
        printf("too many operations\n");
        abort();
    }
    g->m.found = NULL;
    g->p->op[g->p->ops++] = *o;
    model_step(&g->m, g->p->ops - 1, -1);
}
static int device_of(const generator *g, int stream) { return g->p->stream[stream].device; }
/* Mostly a stream of the program, now and then a legacy default stream. */
static int any_stream(generator *g) {
    const program *const p = g->p;
    return chance(g, 8) ? below(g, p->devices) : p->devices + below(g, p->streams - p->devices);
}
static int any_event(generator *g, int device, int of_captures) {
    int e;
    do e = below(g, MAX_EVENTS / 2) + of_captures * MAX_EVENTS / 2;
    while (g->p->event_device[e] != device);
    return e;
}
static int is_near(const generator *g, int b, int device) {
    const buffer *const buf = &g->p->buf[b];
    return buf->alive && (buf->device == device || buf->kind == PINNED || buf->kind == MANAGED);
}
/* A buffer that the operation can use, and -1 if none was found. */
static int any_buffer(generator *g, const op *o, int device, int in_graph, int anywhere) {
    int tries;
    for (tries = 0; tries < 20; tries++) {
        const int b = below(g, g->p->buffers);
        const memory_kind kind = g->p->buf[b].kind;
        if (!g->p->buf[b].alive || b == o->buf[0] || b == o->buf[1]) continue;
        if (in_graph && (kind == POOL || kind == PAGEABLE)) continue;
        if (o->kind == KERNEL && kind == PAGEABLE) continue;
        if (o->kind == FILL && kind == PAGEABLE) continue;
        if (kind == POOL && g->p->buf[b].device != device) continue;
        if (is_near(g, b, device) || kind == PAGEABLE || anywhere) return b;
    }
    return -1;
}
/* Where in each buffer. */
static void choose_units(generator *g, op *o, int boxes) {
    int pitched = 0, k;
    for (k = 0; k < 3; k++) pitched |= o->buf[k] >= 0 && g->p->buf[o->buf[k]].kind == PITCHED;
    if (boxes && o->kind <= COPY && chance(g, 30)) { /* a box */
        o->cols = 4 * (1 + below(g, 3));
        o->rows = 2 + below(g, 3);
        for (k = 0; k < 3; k++)
            if (o->buf[k] >= 0)
                o->at[k] = 4 * below(g, 1 + (ROW - o->cols) / 4) + ROW * below(g, 5 - o->rows);
        return;
    }
    o->rows = 1;
    o->cols = pitched ? 4 * (1 + below(g, 4)) : chance(g, 40) ? UNITS : 8 * (1 + below(g, 6));
    for (k = 0; k < 3; k++) {
        if (o->buf[k] < 0) continue;
        if (pitched)
            o->at[k] = ROW * below(g, 4) + (chance(g, 60) ? 0 : 4 * below(g, 5 - o->cols / 4));
        else o->at[k] = chance(g, 50) ? 0 : 4 * below(g, 1 + (UNITS - o->cols) / 4);
    }
}
static void choose_value(generator *g, op *o) {
    o->element = 1 << below(g, 3);
    o->value = test_random(&g->random);
}
/* A fill, copy or kernel on that stream; 0: none was found. */
static int choose_work(generator *g, op *o, int stream, int in_graph) {
    const int device = device_of(g, stream), kind = below(g, 10);
    int k, pageable;
    *o = op_of(kind < 2 ? FILL : kind < 5 ? COPY : KERNEL);
    o->stream = stream;
    choose_value(g, o);
    if (o->kind == KERNEL) {
        /* the last one does not use the byte at its pointer */
        o->kernel = below(g, reads_ptx ? KERNELS : PLACED);
        for (k = 0; k < kernel_table[o->kernel].pointers; k++)
            if ((o->buf[k] = any_buffer(g, o, device, in_graph, 0)) < 0) return 0;
    } else if (o->kind == FILL) {
        if ((o->buf[0] = any_buffer(g, o, device, in_graph, 0)) < 0) return 0;
    } else {
        if ((o->buf[0] = any_buffer(g, o, device, in_graph, !in_graph && chance(g, 40))) < 0)
            return 0;
        o->buf[1] = any_buffer(g, o, device, in_graph,
                !in_graph && is_near(g, o->buf[0], device) && chance(g, 40));
        if (o->buf[1] < 0) return 0;
        if (is_on_host(g->p->buf[o->buf[0]].kind) && is_on_host(g->p->buf[o->buf[1]].kind))
            return 0;
        pageable = g->p->buf[o->buf[0]].kind == PAGEABLE || g->p->buf[o->buf[1]].kind == PAGEABLE;
        if (pageable && chance(g, 50)) return 0; /* they wait: not too often */
    }
    /* CUDA captures no boxes between devices */
    choose_units(g, o, o->kind == FILL || !in_graph || g->p->devices == 1);
    return 1;
}

/* --- edges ------------------------------------------------------------------------------------ */

static void add_record(generator *g, int event, int stream, int graph) {
    op o = op_of(RECORD);
    o.event = event;
    o.stream = stream;
    o.graph = graph;
    o.edge = graph < 0;
    append(g, &o);
}
static void add_wait(generator *g, op_kind kind, int stream, int what, int graph) {
    op o = op_of(kind);
    o.stream = stream;
    if (kind == WAIT_STREAM) o.other = what;
    else if (what >= 0) o.event = what;
    o.graph = graph;
    o.edge = 1;
    append(g, &o);
}
/* Makes what follows on the stream (or the host) begin after that instance, in one of many ways. */
static void add_edge(generator *g, int instance_of, int stream) {
    const program *const p = g->p;
    int from = g->m.at[instance_of].stream, i, way;
    if (from == HOST) return; /* what follows is ordered already */
    for (i = 0; i < 4; i++) { /* through another stream that is ordered after it */
        const int other = below(g, p->streams);
        const bits b = g->m.s.strand[other];
        if (bits_get(&b, instance_of) && other != stream) from = other;
    }
    way = below(g, 14);
    if (stream == HOST || from == stream) way = 8 + below(g, 6);
    if (way == 7)
        for (i = 0; i < MAX_EVENTS / 2; i++)
            if (bits_get(&g->m.s.event[i], instance_of)) {
                add_wait(g, WAIT_EVENT, stream, i, -1);
                return;
            }
    if (way < 4 || way == 7) {
        const int event = any_event(g, device_of(g, from), 0);
        add_record(g, event, from, -1);
        add_wait(g, WAIT_EVENT, stream, event, -1);
    } else if (way < 7) add_wait(g, WAIT_STREAM, stream, from, -1);
    else if (way < 10) add_wait(g, SYNC_STREAM, from, -1, -1);
    else if (way == 10) add_wait(g, QUERY_STREAM, from, -1, -1);
    else if (way == 11) add_wait(g, SYNC_CONTEXT, from, -1, -1);
    else {
        const int event = any_event(g, device_of(g, from), 0);
        add_record(g, event, from, -1);
        add_wait(g, way == 12 ? SYNC_EVENT : QUERY_EVENT, from, event, -1);
    }
}
/* Adds the operation behind the edges that it needs. */
static void add_ordered(generator *g, const op *o) {
    int tries;
    for (tries = 0; tries < 100; tries++) {
        const model_state before = g->m.s;
        g->p->op[g->p->ops] = *o;
        g->m.found = &g->conflicts;
        memset(&g->conflicts, 0, sizeof g->conflicts);
        model_step(&g->m, g->p->ops, -1);
        g->m.found = NULL;
        if (!g->conflicts.n) {
            g->p->ops++;
            return;
        }
        g->m.s = before;
        if (g->p->ops > MAX_OPS - 8) return; /* full: without this operation */
        add_edge(g, g->conflicts.unordered_instance[0],
                o->kind == HOST_FILL || o->kind == HOST_COPY ? HOST : o->stream);
    }
    printf("no edge orders this operation of seed %u\n", g->p->seed);
    abort();
}

/* --- graphs ----------------------------------------------------------------------------------- */

/* An earlier node of the graph that conflicts with the operation, and that `before` lacks; -1. */
static int node_that_conflicts(const generator *g, int graph, const op *o, unsigned before) {
    const model_graph *const m = &g->m.s.graph[graph];
    touch a[3], b[3];
    int i, j, k, why;
    const int n = accesses_of(g->p, o, a);
    for (i = 0; i < m->n; i++) {
        const int of_node = accesses_of(g->p, &g->p->op[m->op[i]], b);
        if (before >> i & 1) continue;
        for (j = 0; j < n; j++)
            for (k = 0; k < of_node; k++)
                if (accesses_conflict(&b[k], &a[j], &why)) return i;
    }
    return -1;
}
static int any_created_stream(generator *g) {
    const program *const p = g->p;
    int s;
    do s = p->devices + below(g, p->streams - p->devices);
    while (p->stream[s].blocking == 3 && s > p->devices);
    return s;
}
static void add_capture(generator *g) {
    const int graph = g->p->graphs++, origin = any_created_stream(g);
    int member[MAX_STREAMS] = { 0 }, streams[3], n = 1, i, tries, event;
    const int nodes = 2 + below(g, 6);
    op o = op_of(CAPTURE_BEGIN);
    o.graph = graph;
    o.stream = streams[0] = origin;
    append(g, &o);
    member[origin] = 1;
    for (i = 0; i < nodes; i++) {
        const int s = n < 3 && chance(g, 40) ? any_created_stream(g) : streams[below(g, n)];
        if (!member[s]) { /* it joins */
            const int from = streams[below(g, n)];
            if (chance(g, 50)) {
                event = any_event(g, device_of(g, from), 1);
                add_record(g, event, from, graph);
                add_wait(g, WAIT_EVENT, s, event, graph);
            } else add_wait(g, WAIT_STREAM, s, from, graph);
            g->p->op[g->p->ops - 1].edge = 0;
            member[s] = 1;
            streams[n++] = s;
        }
        if (!choose_work(g, &o, s, 1)) continue;
        o.graph = graph;
        for (tries = 0; tries < 20; tries++) {
            const int node = node_that_conflicts(g, graph, &o, g->m.s.captured[s]);
            int from = g->m.s.graph[graph].op[node < 0 ? 0 : node];
            if (node < 0) break;
            from = g->p->op[from].stream;
            if (chance(g, 50)) {
                event = any_event(g, device_of(g, from), 1);
                add_record(g, event, from, graph);
                add_wait(g, WAIT_EVENT, s, event, graph);
            } else add_wait(g, WAIT_STREAM, s, from, graph);
        }
        append(g, &o);
    }
    for (i = 1; i < n; i++) { /* the branches end */
        event = any_event(g, device_of(g, streams[i]), 1);
        add_record(g, event, streams[i], graph);
        add_wait(g, WAIT_EVENT, origin, event, graph);
        g->p->op[g->p->ops - 1].edge = 0;
    }
    o = op_of(CAPTURE_END);
    o.graph = graph;
    o.stream = origin;
    append(g, &o);
    g->launchable[graph] = 1;
}
static void add_graph(generator *g, graph_kind how) {
    const int graph = g->p->graphs++, nodes = 2 + below(g, 6), stream = any_stream(g);
    int i, node;
    op o = op_of(GRAPH_BEGIN);
    o.how = how;
    o.graph = graph;
    o.stream = stream;
    append(g, &o);
    for (i = 0; i < nodes; i++) {
        const model_graph *const m = &g->m.s.graph[graph];
        unsigned before = 0, random_deps = test_random(&g->random) & test_random(&g->random);
        int k;
        if (!choose_work(g, &o, stream, 1) || (how >= BATCH_IN_ORDER && o.kind != KERNEL)) continue;
        o.graph = graph;
        if (how == BY_HAND) {
            o.deps = random_deps & ((1u << m->n) - 1) & test_random(&g->random);
            for (k = 0; k < m->n; k++)
                if (o.deps >> k & 1) before |= 1u << k | m->before[k];
            while ((node = node_that_conflicts(g, graph, &o, before)) >= 0) {
                o.deps |= 1u << node;
                before |= 1u << node | m->before[node];
            }
        } else if (how == BATCH_INDEPENDENT && node_that_conflicts(g, graph, &o, m->barrier) >= 0) {
            op barrier = op_of(BARRIER);
            barrier.graph = graph;
            barrier.edge = 1;
            append(g, &barrier);
        }
        append(g, &o);
    }
    g->launchable[graph] = g->m.s.graph[graph].n > 0;
}

/* --- programs --------------------------------------------------------------------------------- */

static void add_any(generator *g) {
    program *const p = g->p;
    const int stream = any_stream(g), what = below(g, 100);
    op o;
    int i;
    if (what < 58) {
        if (choose_work(g, &o, stream, 0)) add_ordered(g, &o);
    } else if (what < 62) {
        o = op_of(chance(g, 50) ? HOST_FILL : HOST_COPY);
        choose_value(g, &o);
        for (i = 0; i < 1 + (o.kind == HOST_COPY); i++) {
            const int b = below(g, p->buffers);
            if (p->buf[b].kind != PINNED && p->buf[b].kind != MANAGED && p->buf[b].kind != PAGEABLE)
                return;
            if (b == o.buf[0]) return;
            o.buf[i] = b;
        }
        choose_units(g, &o, 1);
        add_ordered(g, &o);
    } else if (what < 68) {
        if (p->buffers == MAX_BUFFERS) return;
        p->buf[p->buffers].kind = POOL;
        p->buf[p->buffers].device = device_of(g, stream);
        p->buf[p->buffers].alive = 1;
        o = op_of(ALLOC);
        o.stream = stream;
        o.buf[0] = p->buffers++;
        o.cols = UNITS;
        append(g, &o);
        o.kind = FILL;
        choose_value(g, &o);
        append(g, &o);
    } else if (what < 73) {
        for (i = 0; i < p->buffers; i++) {
            if (p->buf[i].kind != POOL || !p->buf[i].alive ||
                    p->buf[i].device != device_of(g, stream))
                continue;
            o = op_of(FREE);
            o.stream = stream;
            o.buf[0] = i;
            o.cols = UNITS;
            add_ordered(g, &o);
            p->buf[i].alive = p->op[p->ops - 1].kind != FREE;
            return;
        }
    } else if (what < 80) {
        if (p->graphs == MAX_GRAPHS || is_full(g)) return;
        if (chance(g, 50)) add_capture(g);
        else add_graph(g, (graph_kind)(1 + below(g, 3)));
    } else if (what < 92) {
        const int graph = below(g, MAX_GRAPHS);
        if (!g->launchable[graph] || is_full(g)) return;
        o = op_of(LAUNCH);
        o.graph = graph;
        o.stream = stream;
        add_ordered(g, &o);
    } else if (what < 96) { /* an edge that is perhaps not needed */
        if (g->m.s.n) add_edge(g, below(g, g->m.s.n), stream);
    } else if (g->host_functions) {
        o = op_of(HOST_FUNCTION);
        o.stream = stream;
        choose_value(g, &o);
        o.element = 4;
        for (i = 0; i < p->buffers; i++)
            if (p->buf[i].kind == PINNED) o.buf[0] = i;
        if (o.buf[0] < 0) return;
        choose_units(g, &o, 1);
        add_ordered(g, &o);
    }
}
static void make_program(program *p, uint32_t seed, uint32_t again, int devices, int has_managed) {
    static generator g;
    int i, k, streams, buffers, works;
    memset(&g, 0, sizeof g);
    memset(p, 0, sizeof *p);
    g.p = p;
    g.random = seed * 2654435769u + again * 40503u + 12345u;
    for (i = 0; i < 4; i++) test_random(&g.random);
    p->seed = seed;
    p->skip = p->skip_dep = -1;
    p->devices = chance(&g, 50) ? 1 : 1 + below(&g, devices);
    streams = 2 + below(&g, 5);
    p->streams = p->devices + streams;
    for (i = 0; i < p->streams; i++) {
        const int legacy = i < p->devices;
        p->stream[i].device = legacy ? i
                : i < 2 * p->devices ? i - p->devices
                                     : below(&g, p->devices);
        p->stream[i].blocking = legacy ? 2 : chance(&g, 45);
        if (i > p->devices && chance(&g, 6)) p->stream[i].blocking = 3;
        for (k = 0; k < i && p->stream[i].blocking == 3; k++) /* a device has only one */
            if (p->stream[k].blocking == 3 && p->stream[k].device == p->stream[i].device)
                p->stream[i].blocking = 1;
    }
    for (i = 0; i < MAX_EVENTS; i++) p->event_device[i] = i % p->devices;
    buffers = 2 + below(&g, 4);
    p->buffers = buffers;
    for (i = 0; i < buffers; i++) {
        const int kind = below(&g, 100);
        p->buf[i].kind = kind < 45         ? DEVICE
                : kind < 60                ? PITCHED
                : kind < 78                ? PINNED
                : kind < 92 && has_managed ? MANAGED
                                           : PAGEABLE;
        p->buf[i].device = i < p->devices ? i : below(&g, p->devices);
        p->buf[i].alive = 1;
    }
    g.host_functions = chance(&g, 5);
    model_begin(&g.m, p, NULL);
    works = 8 + below(&g, 26);
    for (i = 0; i < works && !is_full(&g); i++) add_any(&g);
}
/* Leaves out an edge without which operations that conflict are not ordered. 0: there is none. */
static int remove_edge(program *p, pairs *found) {
    struct {
        int op, dep;
    } may[2 * MAX_OPS], swap;
    uint32_t random = p->seed * 747796405u + 3;
    int n = 0, i, k;
    for (i = 0; i < p->ops; i++) {
        const op *const o = &p->op[i];
        if (o->edge) may[n].op = i, may[n++].dep = -1;
        for (k = 0; k < MAX_NODES && is_node(o) && n < 2 * MAX_OPS; k++)
            if (o->deps >> k & 1) may[n].op = i, may[n++].dep = k;
    }
    for (i = 0; i < n; i++) {
        k = i + (int)(test_random(&random) % (uint32_t)(n - i));
        swap = may[k];
        may[k] = may[i];
        p->skip = swap.op;
        p->skip_dep = swap.dep;
        analyse(p, found);
        if (found->n) return 1;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------
   Running a program. */

/* What a run of a program has shown; the children write it, in shared memory. */
typedef struct outcome {
    int ran, wrong, failed; /* failed: a call has, or the program crashed */
    unsigned long long reports;
    int n; /* places of reports */
    short pair[MAX_PAIRS][2];
} outcome;

/* The objects of a child, for all its programs. */
typedef struct world {
    int devices, has_managed, listing;
    gpuexec_context context[MAX_DEVICES];
    gpuexec_kernel kernel[MAX_DEVICES][KERNELS];
    size_t pitch;
    outcome *now; /* of the program that runs */
    uint32_t seed;
    struct running *kept;
} world;
static world the;

/* The logger: reads the places of reports. */
static void read_report(void *user, gpuexec_log_level level, const char *text) {
    unsigned first_seed, second_seed;
    int first, second;
    (void)user;
    if (the.listing) printf("%s", text);
    if (level != GPUEXEC_LOG_WARNING || !strstr(text, "nothing orders them") || !the.now) return;
    for (; (text = strstr(text, "gpuexec: ")) != NULL; text++) {
        if (sscanf(text,
                    "gpuexec: %*s at s%u:%d uses memory that %*s at s%u:%d uses, too, and nothing",
                    &second_seed, &second, &first_seed, &first) != 4)
            first = second = -1;
        else if (first_seed != the.seed || second_seed != the.seed) first = second = -1;
        if (the.now->n == MAX_PAIRS) return;
        the.now->pair[the.now->n][0] = (short)first;
        the.now->pair[the.now->n++][1] = (short)second;
    }
}
static void begin_world(int validation, int listing) {
    gpuexec_setup_desc desc;
    int i, k, pointer;
    memset(&the, 0, sizeof the);
    memset(&desc, 0, sizeof desc);
    desc.log = read_report;
    desc.validation = validation;
    the.listing = listing;
    CHECK_OK(gpuexec_setup(&desc));
    the.devices = gpuexec_device_count() < MAX_DEVICES ? gpuexec_device_count() : MAX_DEVICES;
    for (i = 0; i < the.devices; i++) {
        char text[sizeof first_kernels + sizeof other_kernels];
        gpuexec_module module;
        the.context[i] = gpuexec_context_open(i, NULL);
        snprintf(text, sizeof text, "%s%s", first_kernels, other_kernels);
        module = gpuexec_module_load(the.context[i], text, 0, NULL);
        CHECK_MADE(module);
        for (k = 0; k < KERNELS; k++) {
            the.kernel[i][k] = gpuexec_kernel_get(module, kernel_table[k].name);
            CHECK_MADE(the.kernel[i][k]);
            for (pointer = 0; !reads_ptx && pointer < kernel_table[k].pointers; pointer++)
                CHECK_OK(gpuexec_kernel_set_access(the.kernel[i][k], pointer,
                        pointer                               ? GPUEXEC_USE_READ
                                : kernel_table[k].reads_first ? GPUEXEC_USE_READ_WRITE
                                                              : GPUEXEC_USE_WRITE));
        }
    }
    gpuexec_free(gpuexec_alloc_pitched(the.context[0], ROW * 4, 4, 4, &the.pitch));
    {
        gpuexec_managed_desc managed = { 0 };
        gpuexec_ptr p;
        managed.concurrent = 1;
        p = gpuexec_alloc_managed(the.context[0], UNITS * 4, &managed);
        the.has_managed = p != 0;
        gpuexec_take_error();
        gpuexec_free(p);
    }
}

typedef struct host_call {
    const op *o;
    uint32_t *to;
} host_call;
typedef struct running {
    struct running *next;
    const program *p;
    gpuexec_stream stream[MAX_STREAMS];
    gpuexec_event event[MAX_EVENTS];
    gpuexec_ptr device[MAX_BUFFERS]; /* or */
    uint32_t *host[MAX_BUFFERS];     /* also of managed memory */
    gpuexec_graph graph[MAX_GRAPHS];
    gpuexec_batch batch[MAX_GRAPHS];
    graph_kind how[MAX_GRAPHS];
    unsigned nodes[MAX_GRAPHS]; /* by hand: how many */
    gpuexec_node node[MAX_GRAPHS][MAX_NODES];
    host_call call[MAX_OPS];
    char where[MAX_OPS][24];
} running;

static size_t pitch_of(const running *r, int buf) {
    return r->p->buf[buf].kind == PITCHED ? the.pitch : ROW * 4;
}
static size_t offset_of(const running *r, int buf, int unit) {
    return (size_t)(unit / ROW) * pitch_of(r, buf) + (size_t)(unit % ROW) * 4;
}
static gpuexec_side side_of(const running *r, const op *o, int k) {
    const int b = o->buf[k];
    gpuexec_side side;
    memset(&side, 0, sizeof side);
    if (o->kind == FILL && k == 1) {
        side.value = o->element == 4 ? o->value : o->value & ((1u << 8 * o->element) - 1);
        side.element_bytes = (unsigned)o->element;
        return side;
    }
    if (is_on_host(r->p->buf[b].kind)) side.host = r->host[b] + o->at[k];
    else side.device = r->device[b] + offset_of(r, b, o->at[k]);
    side.pitch = pitch_of(r, b);
    return side;
}
static gpuexec_ptr address_of(const running *r, const op *o, int k) {
    const int b = o->buf[k];
    return r->device[b] + offset_of(r, b, o->at[k]);
}
static gpuexec_copy_desc copy_of(const running *r, const op *o) {
    gpuexec_copy_desc copy;
    memset(&copy, 0, sizeof copy);
    copy.to = side_of(r, o, 0);
    copy.from = side_of(r, o, 1);
    if (o->rows == 1 && o->kind == COPY) {
        copy.to.pitch = copy.from.pitch = 0;
        copy.bytes = (size_t)o->cols * 4;
    } else {
        if (o->rows == 1) copy.to.pitch = 0;
        copy.width_bytes = (size_t)o->cols * 4;
        copy.height = (size_t)o->rows;
    }
    return copy;
}
/* The arguments of a kernel; they are valid until the next call. */
static gpuexec_args args_of(const running *r, const op *o) {
    static gpuexec_ptr pointer[3];
    static uint32_t n, k, first;
    static const void *addresses[5];
    static unsigned short sizes[5];
    const int pointers = kernel_table[o->kernel].pointers, placed = o->kernel == PLACED;
    unsigned next = (unsigned)pointers;
    gpuexec_args args;
    int i;
    for (i = 0; i < pointers; i++) {
        pointer[i] = address_of(r, o, i);
        addresses[i] = &pointer[i];
        sizes[i] = sizeof pointer[i];
    }
    n = (uint32_t)o->cols;
    k = o->value;
    if (placed) {
        pointer[0] = r->device[o->buf[0]];
        first = (uint32_t)(offset_of(r, o->buf[0], o->at[0]) / 4);
        addresses[next] = &first;
        sizes[next++] = sizeof first;
    }
    addresses[next] = &n;
    addresses[next + 1] = &k;
    sizes[next] = sizes[next + 1] = sizeof n;
    memset(&args, 0, sizeof args);
    args.addresses = addresses;
    args.sizes = sizes;
    args.count = next + 2;
    return args;
}
static gpuexec_dims dims_of(const op *o) {
    return gpuexec_grid(1, o->kernel == LOOPS ? THREADS_OF_LOOPS : UNITS, 0);
}
static gpuexec_kernel kernel_of(const running *r, const op *o) {
    return the.kernel[r->p->stream[o->stream].device][o->kernel];
}
static gpuexec_context context_of(const running *r, const op *o) {
    return the.context[r->p->stream[o->stream].device];
}
static void fill_on_host(const running *r, const op *o, const uint32_t *from) {
    const int b = o->buf[0];
    int row, col;
    for (row = 0; row < o->rows; row++)
        for (col = 0; col < o->cols; col++) {
            const int unit = row * ROW + col;
            __atomic_store_n(&r->host[b][o->at[0] + unit],
                    from ? __atomic_load_n(&from[o->at[1] + unit], __ATOMIC_RELAXED) : fill_word(o),
                    __ATOMIC_RELAXED);
        }
}
static void on_stream(void *user) {
    const host_call *const call = (const host_call *)user;
    int row, col;
    for (row = 0; row < call->o->rows; row++)
        for (col = 0; col < call->o->cols; col++)
            __atomic_store_n(&call->to[call->o->at[0] + row * ROW + col], fill_word(call->o),
                    __ATOMIC_RELAXED);
}
static gpuexec_result run_fill(const running *r, const op *o, const char *where) {
    gpuexec_copy_desc copy;
    if (o->rows == 1 && !is_on_host(r->p->buf[o->buf[0]].kind)) {
        const gpuexec_side value = side_of(r, o, 1);
        return gpuexec_fill_at(where, r->stream[o->stream], address_of(r, o, 0), value.value,
                (unsigned)o->element, (size_t)(o->cols * 4 / o->element));
    }
    copy = copy_of(r, o);
    if (copy.to.host) { /* a fill of pinned memory is one of its device address */
        copy.to.device = gpuexec_pinned_address((void *)(uintptr_t)copy.to.host);
        copy.to.host = NULL;
    }
    return gpuexec_copy_with_at(where, r->stream[o->stream], &copy);
}
static gpuexec_result run_copy(const running *r, const op *o, const char *where) {
    const gpuexec_copy_desc copy = copy_of(r, o);
    void *const to_host = (void *)(uintptr_t)copy.to.host;
    const gpuexec_stream stream = r->stream[o->stream];
    if (!copy.bytes) return gpuexec_copy_with_at(where, stream, &copy);
    if (copy.from.host)
        return gpuexec_copy_in_at(where, stream, copy.to.device, copy.from.host, copy.bytes);
    if (to_host) return gpuexec_copy_out_at(where, stream, to_host, copy.from.device, copy.bytes);
    return gpuexec_copy_at(where, stream, copy.to.device, copy.from.device, copy.bytes);
}
/* Adds a node to a graph by hand, or a launch to a batch. */
static gpuexec_result add_node(running *r, int i, unsigned deps) {
    const op *const o = &r->p->op[i];
    const char *const where = r->where[i];
    const int g = o->graph;
    gpuexec_node before[MAX_NODES], made;
    gpuexec_copy_desc copy;
    gpuexec_after after;
    unsigned k;
    if (r->how[g] != BY_HAND)
        return gpuexec_batch_add_at(
                       where, r->batch[g], kernel_of(r, o), dims_of(o), args_of(r, o)) < 0
                ? gpuexec_take_error()
                : GPUEXEC_OK;
    after.nodes = before;
    after.count = 0;
    for (k = 0; k < r->nodes[g]; k++)
        if (deps >> k & 1) before[after.count++] = r->node[g][k];
    if (o->kind == KERNEL)
        made = gpuexec_graph_add_kernel_at(
                where, r->graph[g], kernel_of(r, o), dims_of(o), args_of(r, o), after);
    else {
        copy = copy_of(r, o);
        if (o->kind == FILL && copy.to.host) {
            copy.to.device = gpuexec_pinned_address((void *)(uintptr_t)copy.to.host);
            copy.to.host = NULL;
        }
        made = gpuexec_graph_add_copy_at(where, r->graph[g], &copy, after);
    }
    r->node[g][r->nodes[g]++] = made;
    return gpuexec_ok(made.graph) ? GPUEXEC_OK : gpuexec_take_error();
}
static gpuexec_result run_op(running *r, int i, int skip_dep) {
    const op *const o = &r->p->op[i];
    const char *const where = r->where[i];
    const gpuexec_stream stream = o->stream >= 0 ? r->stream[o->stream] : r->stream[0];
    gpuexec_batch_desc batch = { 0 };
    gpuexec_result result = GPUEXEC_OK;
    if (is_node(o) && r->how[o->graph] != CAPTURED)
        return add_node(r, i, o->deps & ~(skip_dep < 0 ? 0u : 1u << skip_dep));
    switch (o->kind) {
    case FILL: return run_fill(r, o, where);
    case COPY: return run_copy(r, o, where);
    case KERNEL:
        return gpuexec_launch_at(where, kernel_of(r, o), stream, dims_of(o), args_of(r, o));
    case HOST_FILL: fill_on_host(r, o, NULL); return GPUEXEC_OK;
    case HOST_COPY: fill_on_host(r, o, r->host[o->buf[1]]); return GPUEXEC_OK;
    case HOST_FUNCTION:
        r->call[i].o = o;
        r->call[i].to = r->host[o->buf[0]];
        return gpuexec_stream_host_function_at(where, stream, on_stream, &r->call[i]);
    case ALLOC:
        r->device[o->buf[0]] = gpuexec_alloc_on_at(where, stream, UNITS * 4);
        return r->device[o->buf[0]] ? GPUEXEC_OK : gpuexec_take_error();
    case FREE:
        result = gpuexec_free_on_at(where, stream, r->device[o->buf[0]]);
        r->device[o->buf[0]] = 0;
        return result;
    case RECORD: return gpuexec_event_record_at(where, r->event[o->event], stream);
    case WAIT_EVENT: return gpuexec_stream_wait_event_at(where, stream, r->event[o->event]);
    case WAIT_STREAM: return gpuexec_stream_wait_stream_at(where, stream, r->stream[o->other]);
    case SYNC_STREAM: return gpuexec_stream_sync_at(where, stream);
    case SYNC_EVENT: return gpuexec_event_sync_at(where, r->event[o->event]);
    case SYNC_CONTEXT: return gpuexec_context_sync_at(where, context_of(r, o));
    case QUERY_STREAM:
        do result = gpuexec_stream_query_at(where, stream);
        while (result == GPUEXEC_NOT_READY);
        return result;
    case QUERY_EVENT:
        do result = gpuexec_event_query_at(where, r->event[o->event]);
        while (result == GPUEXEC_NOT_READY);
        return result;
    case CAPTURE_BEGIN:
        r->how[o->graph] = CAPTURED;
        return gpuexec_capture_begin_at(where, stream, NULL);
    case CAPTURE_END:
        r->graph[o->graph] = gpuexec_capture_end_at(where, stream);
        return gpuexec_ok(r->graph[o->graph]) ? GPUEXEC_OK : gpuexec_take_error();
    case GRAPH_BEGIN:
        r->how[o->graph] = o->how;
        if (o->how == BY_HAND) {
            r->graph[o->graph] = gpuexec_graph_create_at(where, context_of(r, o));
            return gpuexec_ok(r->graph[o->graph]) ? GPUEXEC_OK : gpuexec_take_error();
        }
        if (o->how == BATCH_INDEPENDENT) batch.order = GPUEXEC_BATCH_INDEPENDENT;
        r->batch[o->graph] = gpuexec_batch_create_at(where, context_of(r, o), &batch);
        return gpuexec_ok(r->batch[o->graph]) ? GPUEXEC_OK : gpuexec_take_error();
    case BARRIER: return gpuexec_batch_barrier_at(where, r->batch[o->graph]);
    case LAUNCH:
        return r->how[o->graph] >= BATCH_IN_ORDER
                ? gpuexec_batch_launch_at(where, r->batch[o->graph], stream)
                : gpuexec_graph_launch_at(where, r->graph[o->graph], stream);
    }
    return GPUEXEC_OK;
}
static void make_objects(running *r) {
    const program *const p = r->p;
    gpuexec_stream_desc desc = { 0 };
    gpuexec_event_desc event = { 0 };
    uint32_t words[UNITS];
    size_t pitch;
    int i, row, unit;
    for (i = 0; i < p->streams; i++) {
        const gpuexec_context context = the.context[p->stream[i].device];
        desc.non_blocking = !p->stream[i].blocking;
        r->stream[i] = p->stream[i].blocking == 2 ? gpuexec_stream_legacy(context)
                : p->stream[i].blocking == 3      ? gpuexec_stream_per_thread(context)
                                                  : gpuexec_stream_create(context, &desc);
    }
    for (i = 0; i < MAX_EVENTS; i++) {
        event.no_timing = i & 1;
        r->event[i] = gpuexec_event_create(the.context[p->event_device[i]], &event);
    }
    for (i = 0; i < p->buffers; i++) {
        const gpuexec_context context = the.context[p->buf[i].device];
        for (unit = 0; unit < UNITS; unit++) words[unit] = first_word(p->seed, i, unit);
        switch (p->buf[i].kind) {
        case DEVICE: r->device[i] = gpuexec_alloc(context, UNITS * 4); break;
        case PITCHED:
            r->device[i] = gpuexec_alloc_pitched(context, ROW * 4, UNITS / ROW, 4, &pitch);
            CHECK_EQ(pitch, the.pitch);
            break;
        case PINNED:
            r->host[i] = (uint32_t *)gpuexec_alloc_pinned(context, UNITS * 4);
            r->device[i] = gpuexec_pinned_address(r->host[i]);
            break;
        case MANAGED:
            r->device[i] = gpuexec_alloc_managed(context, UNITS * 4, NULL);
            r->host[i] = (uint32_t *)gpuexec_managed_host(r->device[i]);
            break;
        case PAGEABLE: r->host[i] = (uint32_t *)malloc(UNITS * 4); break;
        case POOL: continue;
        }
        if (r->host[i]) memcpy(r->host[i], words, sizeof words);
        else
            for (row = 0; row < UNITS / ROW; row++)
                gpuexec_copy_in_now(context, r->device[i] + (size_t)row * pitch_of(r, i),
                        words + row * ROW, ROW * 4);
    }
}
/* Returns whether the memory is as expected. */
static int has_contents(const running *r, contents expected) {
    const program *const p = r->p;
    uint32_t words[UNITS];
    int i, row, same = 1;
    for (i = 0; i < p->buffers; i++) {
        if (!r->device[i] && !r->host[i]) continue;
        if (r->host[i]) memcpy(words, r->host[i], sizeof words);
        else
            for (row = 0; row < UNITS / ROW; row++)
                gpuexec_copy_out_now(the.context[p->buf[i].device], words + row * ROW,
                        r->device[i] + (size_t)row * pitch_of(r, i), ROW * 4);
        if (memcmp(words, expected[i], sizeof words) == 0) continue;
        same = 0;
        for (row = 0; the.listing && row < UNITS; row++)
            if (words[row] != expected[i][row]) {
                printf("  buffer %d, word %d is 0x%x, not 0x%x\n", i, row, words[row],
                        expected[i][row]);
                break;
            }
    }
    return same;
}
static void destroy_objects(running *r) {
    const program *const p = r->p;
    int i;
    for (i = 0; i < MAX_GRAPHS; i++) {
        if (r->graph[i].id) gpuexec_graph_destroy(r->graph[i]);
        if (r->batch[i].id) gpuexec_batch_destroy(r->batch[i]);
    }
    for (i = 0; i < p->streams; i++)
        if (p->stream[i].blocking < 2) gpuexec_stream_destroy(r->stream[i]);
    for (i = 0; i < MAX_EVENTS; i++) gpuexec_event_destroy(r->event[i]);
    for (i = 0; i < p->buffers; i++)
        if (p->buf[i].kind == PINNED) gpuexec_free_pinned(r->host[i]);
        else if (p->buf[i].kind == PAGEABLE) free(r->host[i]);
        else if (r->device[i]) gpuexec_free(r->device[i]);
}
/* Returns 0 if the process cannot run another one. */
static int run_program(const program *p, outcome *out) {
    running *const r = (running *)calloc(1, sizeof *r); /* stays: launches keep their places */
    const unsigned long long reports = gpuexec_validation_reports();
    static contents expected;
    gpuexec_result result = GPUEXEC_OK;
    int i;
    r->next = the.kept;
    the.kept = r;
    r->p = p;
    the.now = out;
    the.seed = p->seed;
    compute(p, expected);
    make_objects(r);
    CHECK_OK(gpuexec_take_error());
    for (i = 0; i < p->ops && !result; i++) {
        snprintf(r->where[i], sizeof r->where[i], "s%u:%d", p->seed, i);
        if (i != p->skip || p->skip_dep >= 0)
            result = run_op(r, i, i == p->skip ? p->skip_dep : -1);
    }
    for (i = 0; i < p->devices && !result; i++) result = gpuexec_context_sync(the.context[i]);
    if (result && the.listing) printf("operation %d failed:\n%s\n", i - 1, gpuexec_error_text());
    out->failed = result != GPUEXEC_OK;
    if (!result) out->wrong = !has_contents(r, expected);
    out->reports = gpuexec_validation_reports() - reports;
    the.now = NULL;
    if (result) return 0;
    destroy_objects(r);
    return CHECK_OK(gpuexec_take_error());
}
static void end_world(void) {
    running *r;
    gpuexec_shutdown();
    while ((r = the.kept) != NULL) {
        the.kept = r->next;
        free(r);
    }
}

/* -------------------------------------------------------------------------------------------------
   Children. */

/* One way to run all programs. */
typedef struct way {
    int validation, lazy, schedule;
} way;
typedef struct shared {
    int devices, has_managed;
    int at[32]; /* by way: the program that runs */
} shared;
static shared *ours;

static void *share(size_t bytes) {
    void *const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    return p;
}
static void set_number(const char *name, int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}
static int listed_seed(void) {
    const char *const text = getenv("VALIDATION_SEED");
    return text ? atoi(text) : 0;
}
static void begin_way(const way *w) {
    unsetenv("GPUEXEC_VALIDATION");
    if (on_cpu_device()) {
        set_number("SIMGPU_DEVICES", MAX_DEVICES);
        set_number("SIMGPU_LAZY", w->lazy);
        set_number("SIMGPU_SCHEDULE", w->schedule);
        if (w->lazy || w->schedule) set_number("SIMGPU_THREADS", 1);
    }
    begin_world(w->validation, listed_seed() != 0 && w->validation);
}
/* In a child: the programs from ours->at[number] on. */
static void run_way(const way *w, int number, const program *programs, int n, outcome *out) {
    int *const at = &ours->at[number];
    begin_way(w);
    for (; *at < n && test_failures == 0; (*at)++) {
        alarm(60); /* a program that hangs ends the child */
        if (the.listing) printf("way %d:\n", number);
        if (!run_program(&programs[*at], &out[*at])) {
            out[*at].ran = 1;
            fflush(NULL);
            _exit(test_failures != 0);
        }
        out[*at].ran = 1;
    }
    alarm(60);
    end_world();
}
/* Runs the programs in each way: a child for each, as many at a time as there are processors.
   Returns the outcomes, those of a way one after the other. */
static outcome *run_ways(const way *ways, int nways, const program *programs, int n) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    outcome *const out = (outcome *)share((size_t)nways * (size_t)n * sizeof *out);
    pid_t child[32] = { 0 };
    int busy = 0, next = 0, status, i;
    memset(ours->at, 0, sizeof ours->at);
    while (next < nways || busy) {
        if (next < nways && busy < (on_cpu_device() ? cores : 1)) i = next++;
        else {
            const pid_t ended = wait(&status);
            for (i = 0; i < nways && child[i] != ended; i++) {}
            if (i == nways) continue;
            child[i] = 0;
            busy--;
            CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
            if (WIFEXITED(status) && WEXITSTATUS(status)) continue;
            if (ours->at[i] == n) {
                CHECK(WIFEXITED(status));
                continue;
            }
            if (!out[i * n + ours->at[i]].ran) {
                printf("way %d: signal %d in seed %u\n", i, WTERMSIG(status),
                        programs[ours->at[i]].seed);
                out[i * n + ours->at[i]].failed = 2;
                out[i * n + ours->at[i]].ran = 1;
            }
            if (++ours->at[i] == n) continue;
        }
        fflush(NULL);
        if ((child[i] = fork()) == 0) {
            test_failures = 0;
            run_way(&ways[i], i, programs, n, out + i * n);
            fflush(NULL);
            _exit(test_failures != 0);
        }
        busy++;
    }
    return out;
}
/* What the generator needs to know of the devices. */
static void look_at_devices(void) {
    const way plain = { 0, 0, 0 };
    pid_t child;
    reads_ptx = !getenv("VALIDATION_SAID");
    ours = (shared *)share(sizeof *ours);
    fflush(NULL);
    if ((child = fork()) == 0) {
        begin_way(&plain);
        ours->devices = the.devices;
        ours->has_managed = the.has_managed;
        end_world();
        _exit(test_failures != 0);
    }
    waitpid(child, NULL, 0);
    CHECK(ours->devices > 0);
}
static int count_of_programs(int sample) {
    const char *const text = getenv("VALIDATION_PROGRAMS");
    if (listed_seed()) return 1;
    return text && atoi(text) > 0 ? atoi(text) : getenv("TEST_ALL") ? 3000 : sample;
}
static program *programs_of_seeds(int n) {
    program *const programs = (program *)calloc((size_t)n, sizeof *programs);
    int i;
    if (!programs) abort();
    for (i = 0; i < n; i++) programs[i].seed = (uint32_t)(listed_seed() ? listed_seed() : i + 1);
    return programs;
}

/* -------------------------------------------------------------------------------------------------
   The tests. */

TEST_ALONE_MULTI(correct_programs) {
    const way ways[] = { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 5 } };
    const int n = count_of_programs(250), nways = on_cpu_device() ? 3 : 1;
    program *const programs = programs_of_seeds(n);
    int bad = 0, operations = 0, edges = 0, i, k;
    outcome *out;
    pairs found;
    look_at_devices();
    if (!ours->devices) return;
    for (i = 0; i < n; i++) {
        program *const p = &programs[i];
        make_program(p, p->seed, 0, ours->devices, ours->has_managed);
        analyse(p, &found);
        if (!CHECK_EQ(found.n, 0)) printf("seed %u\n", p->seed);
        operations += p->ops;
        for (k = 0; k < p->ops; k++) edges += p->op[k].kind >= RECORD && p->op[k].edge;
        if (listed_seed()) print_program(p);
    }
    out = run_ways(ways, nways, programs, n);
    for (i = 0; i < n * nways; i++) {
        const outcome *const o = &out[i];
        if (CHECK(o->ran && !o->wrong && !o->failed && o->reports == 0)) continue;
        if (bad++ < 20)
            printf("way %d, seed %u:%s%s%s; %llu reports, the first of %d and %d\n", i / n,
                    programs[i % n].seed, o->ran ? "" : " did not run", o->wrong ? " wrong" : "",
                    o->failed ? " failed" : "", o->reports, o->n ? o->pair[0][0] : -1,
                    o->n ? o->pair[0][1] : -1);
    }
    printf("  %d correct programs, %d operations, of which %d order others; %d runs: "
           "%d with reports or wrong results\n",
            n, operations, edges, n * nways, bad);
    munmap(out, (size_t)(n * nways) * sizeof *out);
    munmap(ours, sizeof *ours);
    free(programs);
}

static int is_pair_of(const program *p, const pairs *found, const short places[2]) {
    int first, second, i;
    if (places[0] < 0 || places[1] < 0) return 0;
    first = place_of(p, places[0]);
    second = place_of(p, places[1]);
    for (i = 0; i < found->n; i++)
        if (found->at[i].first == first && found->at[i].second == second) return 1;
    return 0;
}
/* The most common reason of what the finder cannot see. */
static int reason_of(const pairs *found) {
    int least = HOW, i;
    for (i = 0; i < found->n; i++)
        if (found->at[i].why < least) least = found->at[i].why;
    return least;
}

TEST_ALONE_MULTI(programs_without_an_edge) {
    enum { MOST_ADVERSARIES = 16 };
    const int n = count_of_programs(250),
              adversaries = !on_cpu_device() ? 0
            : getenv("TEST_ALL")             ? 12
                                             : 8,
              nways = 1 + adversaries;
    program *const programs = programs_of_seeds(n);
    pairs *const found = (pairs *)calloc((size_t)n, sizeof *found);
    char seeds[2][HOW][64] = { { "" } };
    int table[2][2][HOW] = { { { 0 } } }; /* reported, changed, why */
    int exact = 0, part = 0, other = 0, faults = 0, bad = 0, none = 0, seen_pairs = 0, reports = 0;
    way ways[1 + MOST_ADVERSARIES] = { { 1, 0, 0 } };
    outcome *out;
    int i, k;
    look_at_devices();
    if (!ours->devices || !found) return;
    for (i = 0; i < n; i++) {
        program *const p = &programs[i];
        const uint32_t seed = p->seed;
        for (k = 0; k < 50; k++) {
            make_program(p, seed, (uint32_t)k, ours->devices, ours->has_managed);
            if (remove_edge(p, &found[i])) break;
        }
        none += k == 50;
        if (listed_seed()) {
            print_program(p);
            for (k = 0; k < found[i].n; k++)
                printf("  not ordered: %d and %d; what hides it: %s\n", found[i].at[k].first,
                        found[i].at[k].second, reason_names[found[i].at[k].why]);
        }
    }
    CHECK_EQ(none, 0);
    for (k = 1; k < nways; k++) {
        ways[k].lazy = 1;
        ways[k].schedule = k - 1;
    }
    out = run_ways(ways, nways, programs, n);
    for (i = 0; i < n; i++) {
        const outcome *const o = &out[i];
        int changed = 0, of_model = 0, why = reason_of(&found[i]);
        for (k = 0; k < nways; k++) changed |= out[k * n + i].wrong || out[k * n + i].failed;
        for (k = 0; k < o->n; k++) of_model += is_pair_of(&programs[i], &found[i], o->pair[k]);
        for (k = 0; k < nways; k++)
            if (!CHECK(out[k * n + i].ran && out[k * n + i].failed < 2))
                printf("seed %u, way %d: did not run, or crashed\n", programs[i].seed, k);
        reports += o->n;
        seen_pairs += found[i].seen;
        if (of_model < o->n) {
            other++;
            if (bad++ < 20) printf("seed %u: a report that the model lacks\n", programs[i].seed);
        } else if (o->n && of_model >= found[i].seen) exact++;
        else if (o->n) part++;
        if (!o->n && o->failed && why == SEEN) {
            faults++;
            continue;
        }
        if ((changed || o->n) && table[o->n > 0][changed][why] < 5) {
            char *const at = seeds[o->n > 0][why];
            const size_t used = strlen(at);
            snprintf(at + used, sizeof seeds[0][0] - used, " %u", programs[i].seed);
        }
        table[o->n > 0][changed][why]++;
        if (!o->n && why == SEEN && bad++ < 20)
            printf("seed %u: no report; the model has %d and %d\n", programs[i].seed,
                    found[i].at[0].first, found[i].at[0].second);
    }
    CHECK_EQ(bad, 0);
    printf("  %d programs without one necessary edge, %d adversary schedules\n", n, adversaries);
    printf("  %-66s %8s %8s\n", "", "changed", "same");
    printf("  %-66s %8d %8d\n", "reported", table[1][1][SEEN], table[1][0][SEEN]);
    for (k = 1; k < HOW; k++)
        printf("  reported; the model has only: %-36s %8d %8d%s%s\n", reason_names[k],
                table[1][1][k], table[1][0][k], seeds[1][k][0] ? "  seeds" : "", seeds[1][k]);
    for (k = 0; k < HOW; k++)
        printf("  not reported; %-52s %8d %8d%s%s\n", reason_names[k], table[0][1][k],
                table[0][0][k], seeds[0][k][0] ? "  seeds" : "", seeds[0][k]);
    printf("  not reported, because a fault ended the program first: %d\n", faults);
    printf("  the reported pairs are those of the model: %d programs; some of them: %d; "
           "others, too: %d (pairs: %d reported, %d of the model)\n",
            exact, part, other, reports, seen_pairs);
    munmap(out, (size_t)(n * nways) * sizeof *out);
    munmap(ours, sizeof *ours);
    free(found);
    free(programs);
}
