/* engine.c - the graph of operations, the queue of ready work, the worker threads, and the thread
   of host functions.

   sim_lock guards everything here and is released around anything that takes time: a quantum of a
   block, a slice of a copy, a host function. Ready work is a set of tasks in one queue per
   priority: a task is a seat for one resident cluster of a grid at a time, or a copy, a fill, a
   call, an attempt. A worker takes a task, runs it for a quantum and puts it back at the end.
   Higher priorities go first, but every eighth turn goes round all queues: a spinning grid of high
   priority may be waiting for one of low priority. A submitted operation holds a reference to
   itself until it completes. */
#include "run.h"
#include "../execute/execute.h"
#include "../base/cudadefs.h"
#include <fenv.h>
#include <signal.h>
#include <time.h>

#define QUANTUM 20000u   /* warp-instructions: about half a millisecond */
#define SLICE (4u << 20) /* bytes of a copy or fill between two looks at the queue */

/* held only briefly: a thread that wants it spins for a while before it sleeps */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
pthread_mutex_t sim_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#else
pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;
#endif
int sim_sticky;
__thread bool sim_in_host_function, sim_has_waited;
static pthread_cond_t work /* waits by CLOCK_MONOTONIC */, completed = PTHREAD_COND_INITIALIZER,
                                                           host_work = PTHREAD_COND_INITIALIZER;
static struct { struct sim_task *head, *tail; } queues[SIM_PRIORITIES];
static unsigned queued, workers, sleeping, waiters, turn, idle_streak;
static struct sim_op *running, *host_head, *host_tail;
static bool host_thread;

uint64_t sim_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- queue ---- */

static void *worker(void *unused);
static void *host_functions(void *unused);

static void make_work(void) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&work, &clock);
    pthread_condattr_destroy(&clock);
}

static bool start_thread(void *(*body)(void *)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    pthread_t thread;
    pthread_once(&once, make_work);
    sigfillset(&all); /* the program's signal handlers must not run on our threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&thread, NULL, body, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) pthread_detach(thread);
    return ok;
}

/* again: by the worker that has just run it and checks the queue next. */
static void push(struct sim_task *task, bool again) {
    int level = task->op->priority;
    task->link = NULL;
    if (queues[level].tail) queues[level].tail->link = task;
    else queues[level].head = task;
    queues[level].tail = task;
    queued++;
    if (queued <= again) return;
    if (sleeping) pthread_cond_signal(&work);
    else if (workers < (unsigned)sim_settings.threads && start_thread(worker)) workers++;
}

static struct sim_task *pop_any(void) {
    unsigned n = sim_schedule_draw(queued);
    for (int level = 0;; level++) {
        struct sim_task *before = NULL, *task = queues[level].head;
        for (; task && n; n--) {
            before = task;
            task = task->link;
        }
        if (!task) continue;
        if (before) before->link = task->link;
        else queues[level].head = task->link;
        if (!task->link) queues[level].tail = before;
        queued--;
        return task;
    }
}

static struct sim_task *pop(void) {
    if (sim_settings.schedule) return pop_any();
    int level = SIM_PRIORITIES - 1;
    if (++turn % 8 == 0) level = (int)(turn / 8 % SIM_PRIORITIES);
    while (!queues[level].head) level = level ? level - 1 : SIM_PRIORITIES - 1;
    struct sim_task *task = queues[level].head;
    if (!(queues[level].head = task->link)) queues[level].tail = NULL;
    queued--;
    return task;
}

/* ---- graph ---- */

struct sim_op *sim_op_new(enum sim_op_kind kind) {
    if (kind == SIM_OP_HOST) {
        if (!host_thread && !(host_thread = start_thread(host_functions))) return NULL;
    } else if (kind >= SIM_OP_KERNEL && !workers) {
        if (!start_thread(worker)) return NULL;
        workers++;
    }
    struct sim_op *op = calloc(1, sizeof *op);
    if (op) {
        op->kind = kind;
        op->refs = op->waits = 1;
        op->depth = 1;
        op->one.op = op;
    }
    return op;
}

void sim_op_ref(struct sim_op *op) { op->refs++; }

struct sim_op *sim_op_copy(struct sim_op *model) {
    struct sim_op *op = sim_op_new(model->kind);
    if (!op) return NULL;
    if (model->kind == SIM_OP_KERNEL) {
        if (!(op->grid = malloc(sizeof *op->grid))) {
            sim_op_unref(op);
            return NULL;
        }
        *op->grid = *model->grid;
        op->grid->shown_params = NULL;
        op->grid->uses = NULL;
    }
    op->always = model->always;
    op->priority = model->priority;
    op->dst = model->dst;
    op->src = model->src;
    op->width = model->width;
    op->height = model->height;
    op->depth = model->depth;
    op->pattern = model->pattern;
    op->pattern_bytes = model->pattern_bytes;
    op->how = model->how;
    op->staged = model->staged;
    op->function = model->function;
    op->attempt = model->attempt;
    op->data = model->data;
    op->model = model;
    model->refs++;
    return op;
}

void sim_op_unref(struct sim_op *op) {
    if (!op || --op->refs) return;
    if (op->waiting) --*op->waiting;
    if (!op->done && op->release) op->release(op);
    if (!op->model) {
        if (op->grid) free(op->grid->params);
        free(op->staged);
    }
    if (op->grid) free(op->grid->shown_params);
    free(op->grid);
    free(op->tasks);
    free(op->next);
    sim_op_unref(op->model);
    free(op);
}

/* If there is no memory for an edge, this waits instead, which is slow but correct. */
void sim_op_after(struct sim_op *op, struct sim_op *before) {
    if (!before || before->done) return;
    if (before->nnext == before->next_cap) {
        unsigned cap = before->next_cap ? before->next_cap * 2 : 4;
        struct sim_op **more = realloc(before->next, cap * sizeof *more);
        if (!more) {
            sim_op_wait(before);
            return;
        }
        before->next = more;
        before->next_cap = cap;
    }
    before->next[before->nnext++] = op;
    op->waits++;
    op->refs++;
}

static void complete(struct sim_op *op);
static void unlist(struct sim_op *op);

/* Called when all predecessors are done. Returns true if there is nothing to run. */
static bool begin(struct sim_op *op) {
    bool broken = __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED) != 0;
    op->started = true;
    if (op->waiting) --*op->waiting;
    op->waiting = NULL;
    if (op->by_caller && !broken) {
        if (waiters) pthread_cond_broadcast(&completed);
        return false;
    }
    switch (op->kind) {
    case SIM_OP_MARKER:
    case SIM_OP_EVENT: return true;
    case SIM_OP_KERNEL:
        if (broken) return true;
        op->grid->started_ns = sim_now_ns();
        op->older = running;
        op->newer = NULL;
        if (running) running->newer = op;
        running = op;
        for (unsigned i = 0, n = op->live_tasks; i < n; i++) {
            op->tasks[i].op = op;
            push(&op->tasks[i], false);
        }
        idle_streak = 0;
        return false;
    case SIM_OP_TRY:
        if (broken) return true;
        break;
    case SIM_OP_COPY:
    case SIM_OP_FILL:
        if (broken || !op->width || !op->height) return true;
        break;
    case SIM_OP_HOST:
        op->link = NULL;
        if (host_tail) host_tail->link = op;
        else host_head = op;
        host_tail = op;
        pthread_cond_signal(&host_work);
        return false;
    case SIM_OP_CALL: break;
    }
    push(&op->one, false);
    idle_streak = 0;
    return false;
}

static void complete(struct sim_op *op) {
    uint64_t now = sim_now_ns();
    op->link = NULL;
    for (struct sim_op *list = op; (op = list);) {
        list = op->link;
        op->done = true;
        if (op->held) unlist(op);
        op->done_ns = now;
        if (op->release) op->release(op);
        for (unsigned i = 0; i < op->nnext; i++) {
            struct sim_op *next = op->next[i];
            if (--next->waits == 0 && begin(next)) {
                next->link = list;
                list = next;
            }
            sim_op_unref(next);
        }
        op->nnext = 0;
        sim_op_unref(op);
    }
    if (waiters) pthread_cond_broadcast(&completed);
}

static void release_parent(struct sim_op *over) { complete(over->data); }

bool sim_op_adopt(struct sim_op *parent, struct sim_op *child, bool tail) {
    if (!parent->over) {
        if (!parent->ended && !(parent->ended = sim_op_new(SIM_OP_MARKER))) return false;
        if (!(parent->over = sim_op_new(SIM_OP_MARKER))) return false;
        parent->over->data = parent;
        parent->over->release = release_parent;
    }
    if (tail) {
        sim_op_after(child, parent->tail ? parent->tail : parent->ended);
        sim_op_unref(parent->tail);
        parent->tail = child;
        sim_op_ref(child);
    } else sim_op_after(parent->ended, child);
    return true;
}

/* Its blocks are done. A parent's children begin now at the latest. */
static void complete_kernel(struct sim_op *op) {
    if (!op->over) {
        complete(op);
        return;
    }
    struct sim_op *ended = op->ended, *over = op->over, *tail = op->tail;
    op->ended = op->over = op->tail = NULL;
    sim_op_after(over, ended);
    sim_op_after(over, tail);
    sim_op_submit(ended);
    sim_op_submit(over);
    sim_op_want(over);
    sim_op_unref(ended);
    sim_op_unref(tail);
    sim_op_unref(over);
}

static void release(struct sim_op *op) {
    if (--op->waits == 0 && begin(op)) complete(op);
}

/* ---- lazy streams: submitted work is held until something needs it: a wait; a needed operation
   that comes after it; a few completion queries; or, so that all programs progress, until it has
   been held for long, or everything that runs only spins. Markers and events connect work as
   predecessors and successors and are in the same list, but are not held: they complete when their
   predecessors have. Predecessors are older than their successors, so one pass through the list,
   newest first, finds all work that is needed. It also releases work in that order: where the
   program specifies no order, this differs from the order of submission. ---- */

static struct sim_op *oldest, *newest;

static bool is_work(const struct sim_op *op) { return op->kind >= SIM_OP_KERNEL; }

static bool hold(struct sim_op *op) {
    /* a worker must check the clock */
    if (!workers && !(workers = start_thread(worker))) return false;
    op->held = true;
    op->held_ns = sim_now_ns();
    op->older = newest;
    if (newest) newest->newer = op;
    else {
        oldest = op;
        pthread_cond_signal(&work);
    }
    newest = op;
    return is_work(op);
}

static void unlist(struct sim_op *op) {
    op->held = false;
    if (op->older) op->older->newer = op->newer;
    else oldest = op->newer;
    if (op->newer) op->newer->older = op->older;
    else newest = op->older;
}

static void force(struct sim_op *op) {
    op->wanted = true;
    for (struct sim_op *o = op->held ? op : NULL, *older; o; o = older) {
        older = o->older;
        for (unsigned i = 0; i < o->nnext && !o->wanted; i++) o->wanted = o->next[i]->wanted;
        if (!o->wanted) continue;
        unlist(o);
        if (is_work(o)) release(o);
    }
}

void sim_op_want(struct sim_op *op) {
    if (op->held) force(op);
}

bool sim_op_pending(struct sim_op *op) {
    enum { PATIENCE = 16 };
    if (!op || op->done) return false;
    if (op->held && ++op->polls >= PATIENCE) force(op);
    return !op->done;
}

void sim_op_submit(struct sim_op *op) {
    op->refs++;
    if (!sim_settings.lazy_ns || !hold(op)) release(op);
}

/* ---- faults ---- */

/* NULL: of all devices. */
static void cancel(const struct sim_device *device, int fault) {
    for (struct sim_op *op = running; op; op = op->older)
        if (!device || op->grid->device == device)
            sim_grid_fault(op->grid, fault, "cancelled: an earlier kernel of this process failed");
}

char sim_fault_text[400];

/* Work on devices other than the one that failed continues to its end, unseen by the driver: its
   kernels may have output to print. */
static void fail(const struct sim_device *device, int fault, const char *text) {
    if (__atomic_load_n(&sim_sticky, __ATOMIC_RELAXED)) return;
    snprintf(sim_fault_text, sizeof sim_fault_text, "%s", text);
    __atomic_store_n(&sim_sticky, fault, __ATOMIC_RELEASE);
    if (sim_settings.verbose) fprintf(stderr, "simgpu: %s\n", text);
    cancel(device, fault);
}

void sim_fail(int fault, const char *text) { fail(NULL, fault, text); }

/* ---- the workers' tasks ---- */

/* *bytes: reduced to those that are in one range; NULL: not even the first one is. */
static char *resolve(const struct sim_end *end, uint64_t offset, size_t *bytes) {
    const uint64_t at = end->address + offset;
    struct sim_range r;
    if (!end->in_table) return (char *)(uintptr_t)at;
    if (!sim_mem_find(NULL, at, 1, &r) || (r.kind == SIM_MEM_MAPPED && !r.viewers)) return NULL;
    if (*bytes > r.hi - at) *bytes = r.hi - at;
    return (char *)(uintptr_t)at + r.delta;
}

static void fill(char *to, size_t bytes, uint64_t pattern, unsigned size) {
    if (size == 1) memset(to, (int)(pattern & 0xff), bytes);
    else
        for (size_t i = 0; i + size <= bytes; i += size) memcpy(to + i, &pattern, size);
}

static uint64_t at_row(const struct sim_end *end, const struct sim_op *op, size_t row) {
    return row / op->height * end->slice + row % op->height * end->pitch;
}

/* A part of a copy or fill, without sim_lock. False: an address is no longer live. */
static bool move_slice(struct sim_op *op) {
    size_t row = op->progress / op->width, column = op->progress % op->width, left = SLICE;
    bool ok = true;
    sim_mem_use();
    while (ok && left && row < op->height * op->depth) {
        size_t n = op->width - column < left ? op->width - column : left;
        char *to = resolve(&op->dst, at_row(&op->dst, op, row) + column, &n);
        if (op->kind == SIM_OP_FILL) {
            if ((ok = to != NULL)) fill(to, n, op->pattern, op->pattern_bytes);
        } else {
            const char *from = op->staged
                    ? (char *)op->staged + op->progress
                    : resolve(&op->src, at_row(&op->src, op, row) + column, &n);
            if ((ok = to && from)) memmove(to, from, n);
        }
        op->progress += n;
        left -= n;
        if ((column += n) == op->width) {
            column = 0;
            row++;
        }
    }
    sim_mem_unuse();
    return ok;
}

static bool moved(const struct sim_op *op) {
    return op->progress / op->width >= op->height * op->depth;
}

static void run_move(struct sim_op *op) {
    bool ok = true;
    if (!__atomic_load_n(&sim_sticky, __ATOMIC_RELAXED)) {
        pthread_mutex_unlock(&sim_lock);
        ok = move_slice(op);
        pthread_mutex_lock(&sim_lock);
        if (ok && !moved(op)) {
            push(&op->one, true);
            return;
        }
    }
    if (!ok)
        fail(NULL, CUDA_ERROR_ILLEGAL_ADDRESS,
                "a copy or fill used memory that was freed before it ran");
    complete(op);
}

static void run_try(struct sim_op *op) {
    bool over = __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED) != 0;
    if (!over) {
        pthread_mutex_unlock(&sim_lock);
        size_t bytes = op->pattern_bytes;
        sim_mem_use();
        void *at = resolve(&op->dst, 0, &bytes);
        if (bytes < op->pattern_bytes) at = NULL;
        over = !at || !op->attempt || op->attempt(op, at);
        sim_mem_unuse();
        pthread_mutex_lock(&sim_lock);
        if (!at)
            fail(NULL, CUDA_ERROR_ILLEGAL_ADDRESS,
                    "a stream's wait or write of a value used memory that was freed before it ran");
        else if (!op->attempt)
            fail(NULL, CUDA_ERROR_LAUNCH_FAILED,
                    "a stream wrote a value where its device may only read");
    }
    idle_streak = over ? 0 : idle_streak + 1;
    if (over) complete(op);
    else push(&op->one, true);
}

static void finish_grid(struct sim_op *op) {
    if (op->newer) op->newer->older = op->older;
    else running = op->older;
    if (op->older) op->older->newer = op->newer;
    for (struct sim_cluster *c; (c = sim_cluster_unused(op->grid)) != NULL;) sim_cluster_free(c);
    int fault = __atomic_load_n(&op->grid->fault, __ATOMIC_ACQUIRE);
    if (fault) fail(op->grid->device, fault, op->grid->fault_text);
    complete_kernel(op);
}

/* ---- a grid's seats, without sim_lock; spare: memory for the next cluster, or NULL ---- */

static bool all_begun(const struct sim_grid *g) {
    return __atomic_load_n(&g->next_cluster, __ATOMIC_RELAXED) >= g->nclusters;
}

static bool stopped(const struct sim_grid *g) {
    return __atomic_load_n(&g->fault, __ATOMIC_RELAXED) != 0;
}

/* Gives the seat the grid's next cluster. False: there is none. */
static bool seat(struct sim_task *task, struct sim_cluster **spare, uint64_t *left) {
    struct sim_grid *g = task->op->grid;
    if (all_begun(g) || stopped(g)) return false;
    uint64_t index = __atomic_fetch_add(&g->next_cluster, 1, __ATOMIC_RELAXED);
    if (index >= g->nclusters) return false;
    if (sim_settings.schedule) index = sim_schedule_index(g, index);
    task->cluster = sim_cluster_new(g, index, *spare, left);
    *spare = NULL;
    if (task->cluster) return true;
    sim_grid_fault(g, SIM_F_LAUNCH_FAILED, "out of host memory for cluster %llu of kernel %s",
            (unsigned long long)index, g->kernel_name);
    return false;
}

static void retire(struct sim_task *task, struct sim_cluster **spare) {
    *spare = task->cluster;
    task->cluster = NULL;
}

/* One quantum of a seat. If its cluster ends early, the next ones follow in the same memory, which
   is in the cache. */
static void run_seat(struct sim_task *task) {
    struct sim_op *op = task->op;
    const struct sim_grid *g = op->grid;
    struct sim_cluster *spare = task->cluster ? NULL : sim_cluster_unused(op->grid);
    enum sim_block_status status = SIM_BLOCK_DONE;
    uint64_t left = QUANTUM;
    unsigned ended = 0;
    pthread_mutex_unlock(&sim_lock);
    sim_mem_use();
    for (; left && (task->cluster || seat(task, &spare, &left)); ended++) {
        status = sim_cluster_run(task->cluster, &left);
        if (status != SIM_BLOCK_DONE && status != SIM_BLOCK_FAULT) break;
        retire(task, &spare);
    }
    const bool over = !task->cluster && (all_begun(g) || stopped(g));
    if (!over && sim_settings.timeout_ns && sim_now_ns() - g->started_ns > sim_settings.timeout_ns)
        sim_grid_timeout(op->grid, task->cluster, (double)sim_settings.timeout_ns * 1e-9);
    if (over) {
        sim_cluster_free(spare);
        spare = NULL;
    }
    sim_mem_unuse();
    pthread_mutex_lock(&sim_lock);
    idle_streak = status == SIM_BLOCK_IDLE && !ended ? idle_streak + 1 : 0;
    if (spare) sim_cluster_keep(spare);
    if (!over) push(task, true);
    else if (--op->live_tasks == 0) finish_grid(op);
}

/* Until there is work, or held work has waited long enough. */
static void rest(void) {
    if (!oldest) {
        pthread_cond_wait(&work, &sim_lock);
        return;
    }
    const uint64_t due = oldest->held_ns + sim_settings.lazy_ns;
    pthread_cond_timedwait(&work, &sim_lock,
            &(struct timespec){ (time_t)(due / 1000000000u), (long)(due % 1000000000u) });
}

static void *worker(void *unused) {
    unsigned spins = 0;
    fesetenv(FE_DFL_ENV); /* the host may flush subnormals, or use another rounding mode */
    pthread_mutex_lock(&sim_lock);
    for (;;) {
        if (oldest && sim_now_ns() - oldest->held_ns >= sim_settings.lazy_ns) force(oldest);
        else if (!queued) {
            sleeping++;
            rest();
            sleeping--;
        } else if (idle_streak > queued + workers) { /* everything that can run only spins: leave
                                                        the processor to the host */
            idle_streak = queued;
            __atomic_fetch_add(&sim_schedule_round, 1, __ATOMIC_RELAXED);
            if (oldest && ++spins % 16 == 0) force(oldest);
            pthread_mutex_unlock(&sim_lock);
            nanosleep(&(struct timespec){ 0, 30000 }, NULL);
            pthread_mutex_lock(&sim_lock);
        } else {
            struct sim_task *task = pop();
            switch (task->op->kind) {
            case SIM_OP_KERNEL: run_seat(task); break;
            case SIM_OP_TRY: run_try(task->op); break;
            case SIM_OP_CALL:
                pthread_mutex_unlock(&sim_lock);
                task->op->function(task->op->data, 0);
                pthread_mutex_lock(&sim_lock);
                complete(task->op);
                break;
            default: run_move(task->op); break;
            }
        }
    }
    return unused;
}

static void *host_functions(void *unused) {
    sim_in_host_function = true;
    pthread_mutex_lock(&sim_lock);
    for (;;) {
        struct sim_op *op = host_head;
        if (!op) {
            pthread_cond_wait(&host_work, &sim_lock);
            continue;
        }
        if (!(host_head = op->link)) host_tail = NULL;
        int error = __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED);
        if (!error || op->always) {
            pthread_mutex_unlock(&sim_lock);
            sim_print_flush();
            op->function(op->data, error);
            pthread_mutex_lock(&sim_lock);
        }
        complete(op);
    }
    return unused;
}

/* ---- waiting ---- */

static int wait_for(struct sim_op *op, bool to_end) {
    int fault = 0;
    op->refs++;
    force(op);
    while (!op->done) {
        /* the first of several waiters moves the bytes */
        if (op->by_caller && op->started && !op->moving) {
            bool ok = true;
            op->moving = true;
            if (!__atomic_load_n(&sim_sticky, __ATOMIC_RELAXED) && op->width && op->height) {
                pthread_mutex_unlock(&sim_lock);
                while ((ok = move_slice(op)) && !moved(op)) {}
                pthread_mutex_lock(&sim_lock);
            }
            if (!ok)
                fail(NULL, CUDA_ERROR_ILLEGAL_ADDRESS,
                        "a copy or fill used memory that was freed before it ran");
            complete(op);
            continue;
        }
        if ((fault = __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED)) && !to_end) break;
        if (fault) cancel(NULL, fault);
        waiters++;
        __atomic_add_fetch(&sim_print_readers, 1, __ATOMIC_RELAXED);
        pthread_cond_wait(&completed, &sim_lock);
        __atomic_sub_fetch(&sim_print_readers, 1, __ATOMIC_RELAXED);
        waiters--;
    }
    sim_op_unref(op);
    sim_has_waited = true;
    return __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED);
}

int sim_op_wait(struct sim_op *op) { return wait_for(op, false); }
void sim_op_wait_to_end(struct sim_op *op) { wait_for(op, true); }

void sim_engine_fork(void) {
    pthread_mutex_init(&sim_lock, NULL);
    workers = sleeping = sim_print_readers = 0;
    host_thread = false;
}
