/* shared.c - what processes share apart from memory: the states of events, each a page of a file
   without a name.

   Each record has a number; the pages have the last ones: whose each is, and whether it is done. A
   wait is for the record that was the last one at the call. There is no lock, because a process
   that is stopped would hold it: a record takes its place in the page by one exchange, and the next
   one, of any process, makes it the last if it has not done so yet. A process that ends cannot
   finish its records: as measured on an H200, what waits for them never continues; this device also
   says so, once. */
#include "objects.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECORDS 1024u /* of an event, not done yet; a further one waits */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define LOOK_NS 20000000u /* how often a wait checks whether the record's process has ended */

#define DONE 1u
/* all of it __atomic */
struct page {
    uint64_t last; /* number of the last record, 0: none */
    struct {
        uint64_t state;     /* number << 23 | process << 1 | DONE; processes have 22 bits */
        uint64_t start, of; /* when this process started, if `of` is the record's number */
    } records[RECORDS];
};
/* file: -1 where the event was opened */
struct sim_shared {
    struct page *page;
    int file;
    unsigned refs;
};
struct wait {
    struct sim_shared *shared;
    uint64_t n, looked_ns;
};
struct record {
    struct sim_shared *shared;
    uint64_t n;
};

/* ---- processes ---- */

/* A process whose first thread has ended is a zombie until the others end, too: they are subfolders
   of `task`. */
static bool has_threads(unsigned pid) {
    char path[32];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    return stat(path, &about) == 0 && about.st_nlink > 3;
}
/* When it started, in the kernel's ticks since boot; 0: it has ended, or there is none. */
static uint64_t start_of(unsigned pid) {
    char path[32], text[1024];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[n > 0 ? n : 0] = 0;
    const char *p = strrchr(text, ')'); /* the name before it may contain anything */
    char state = 'X';
    if (!p ||
            sscanf(p + 1,
                    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                    "%llu",
                    &state, &start) != 2)
        return 0;
    return state == 'X' || (state == 'Z' && !has_threads(pid)) ? 0 : start;
}
struct sim_process sim_this_process(void) {
    static struct sim_process own;
    const unsigned pid = (unsigned)getpid();
    if (own.pid != pid) own = (struct sim_process){ .start = start_of(pid), .pid = pid };
    return own;
}
bool sim_process_lives(struct sim_process process) {
    return process.pid && start_of(process.pid) == process.start;
}

bool sim_process_same(struct sim_process a, struct sim_process b) {
    return a.pid == b.pid && a.start == b.start;
}

int sim_process_file(struct sim_process process, int file) {
    char path[48];
    struct sim_process after;
    snprintf(path, sizeof path, "/proc/%u/fd/%d", process.pid, file);
    const int opened = open(path, O_RDWR | O_CLOEXEC);
    after = (struct sim_process){ .start = start_of(process.pid), .pid = process.pid };
    if (opened < 0 || sim_process_same(process, after)) return opened;
    close(opened);
    return -1;
}

/* ---- the page ---- */

static struct sim_shared *map(int file, bool keep) {
    struct sim_shared *s = calloc(1, sizeof *s);
    void *page = s ? mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                   : MAP_FAILED;
    if (page == MAP_FAILED) {
        free(s);
        return NULL;
    }
    *s = (struct sim_shared){ page, keep ? file : -1, 1 };
    return s;
}

struct sim_shared *sim_shared_new(void) {
    const int file = memfd_create("simgpu-event", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const bool whole = file >= 0 && ftruncate(file, sizeof(struct page)) == 0 &&
            fcntl(file, F_ADD_SEALS, SEALS) == 0;
    struct sim_shared *s = whole ? map(file, true) : NULL;
    if (!s && file >= 0) close(file);
    return s;
}

struct sim_shared *sim_shared_open(int file) {
    struct stat about;
    const bool whole = fstat(file, &about) == 0 && about.st_size == (off_t)sizeof(struct page) &&
            (fcntl(file, F_GET_SEALS) & SEALS) == SEALS; /* it stays whole */
    return whole ? map(file, false) : NULL;
}

int sim_shared_file(const struct sim_shared *s) { return s->file; }

void sim_shared_unref(struct sim_shared *s) {
    if (!s || --s->refs) return;
    munmap(s->page, sizeof *s->page);
    if (s->file >= 0) close(s->file);
    free(s);
}

static uint64_t state_of(const struct page *page, uint64_t n) {
    return __atomic_load_n(&page->records[n % RECORDS].state, __ATOMIC_ACQUIRE);
}
static uint64_t number_in(uint64_t state) { return state >> 23; }
static unsigned process_in(uint64_t state) { return (unsigned)(state >> 1) & 0x3fffff; }

/* Only a record that is done, or never will be, is replaced by a later one. */
static bool is_done(const struct page *page, uint64_t n) {
    const uint64_t state = state_of(page, n);
    return number_in(state) != n || state & DONE;
}
static bool is_lost(const struct page *page, uint64_t n) {
    const uint64_t state = state_of(page, n);
    struct sim_process by = { .pid = process_in(state) };
    if (number_in(state) != n || state & DONE) return false;
    by.start = __atomic_load_n(&page->records[n % RECORDS].of, __ATOMIC_ACQUIRE) == n
            ? __atomic_load_n(&page->records[n % RECORDS].start, __ATOMIC_RELAXED)
            : start_of(by.pid);
    return (!by.start || !sim_process_lives(by)) && state_of(page, n) == state;
}
static void say_lost(const struct page *page, uint64_t n) {
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr,
                "simgpu: process %u ended before its record of an event was done; what waits for "
                "it waits forever, as on a GPU\n",
                process_in(state_of(page, n)));
}

/* ---- records ---- */

static void finish(struct sim_shared *s, uint64_t n) {
    uint64_t state = state_of(s->page, n);
    if (number_in(state) == n)
        __atomic_compare_exchange_n(&s->page->records[n % RECORDS].state, &state, state | DONE,
                false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void record_done(struct sim_op *op) {
    const struct record *r = op->staged;
    finish(r->shared, r->n);
    sim_shared_unref(r->shared);
}

static void advance(struct page *page, uint64_t from) {
    __atomic_compare_exchange_n(
            &page->last, &from, from + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Takes the place of the record behind the last one. Returns its number; 0: all places have records
   that are not done. */
static uint64_t take_place(struct page *page) {
    const struct sim_process own = sim_this_process();
    for (;;) {
        const uint64_t last = __atomic_load_n(&page->last, __ATOMIC_ACQUIRE), n = last + 1,
                       i = n % RECORDS;
        uint64_t state = state_of(page, n);
        if (number_in(state) == n) advance(page, last);
        else if (number_in(state) > n && __atomic_load_n(&page->last, __ATOMIC_ACQUIRE) != last)
            continue;
        else if (number_in(state) && !is_done(page, number_in(state)) &&
                !is_lost(page, number_in(state)))
            return 0;
        else if (__atomic_compare_exchange_n(&page->records[i].state, &state,
                         n << 23 | (uint64_t)own.pid << 1, false, __ATOMIC_ACQ_REL,
                         __ATOMIC_RELAXED)) {
            __atomic_store_n(&page->records[i].start, own.start, __ATOMIC_RELAXED);
            __atomic_store_n(&page->records[i].of, n, __ATOMIC_RELEASE);
            advance(page, last);
            return n;
        }
    }
}

void sim_shared_record(struct sim_shared *s, struct sim_op *op) {
    struct page *page = s->page;
    uint64_t n;
    while (!(n = take_place(page))) {
        pthread_mutex_unlock(&sim_lock);
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
        pthread_mutex_lock(&sim_lock);
    }
    struct record *r = op->done ? NULL : malloc(sizeof *r);
    if (!r) {
        sim_op_wait_to_end(op); /* done already, or no memory */
        finish(s, n);
        return;
    }
    s->refs++;
    *r = (struct record){ s, n };
    op->staged = r;
    op->release = record_done;
    sim_op_want(op); /* other processes may wait for it */
}

/* ---- waits ---- */

bool sim_shared_pending(struct sim_shared *s) {
    const uint64_t n = __atomic_load_n(&s->page->last, __ATOMIC_ACQUIRE);
    return n && !is_done(s->page, n);
}

static bool arrived(const struct sim_op *op, void *at) {
    struct wait *w = op->staged;
    const uint64_t now = sim_now_ns();
    if (is_done(at, w->n)) return true;
    if (now - w->looked_ns < LOOK_NS) return false;
    w->looked_ns = now;
    if (is_lost(at, w->n)) say_lost(at, w->n);
    return false;
}

static void wait_over(struct sim_op *op) { sim_shared_unref(((struct wait *)op->staged)->shared); }

int sim_shared_wait(struct sim_shared *s, struct sim_op **out) {
    const uint64_t n = __atomic_load_n(&s->page->last, __ATOMIC_ACQUIRE);
    *out = NULL;
    if (!n || is_done(s->page, n)) return CUDA_SUCCESS;
    struct wait *w = malloc(sizeof *w);
    struct sim_op *op = w ? sim_op_new(SIM_OP_TRY) : NULL;
    if (!op) {
        free(w);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    s->refs++;
    *w = (struct wait){ s, n, sim_now_ns() };
    op->staged = w;
    op->dst.address = (uintptr_t)s->page;
    op->attempt = arrived;
    op->release = wait_over;
    *out = op;
    return CUDA_SUCCESS;
}
