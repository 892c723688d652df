/* probe.c - runs the probes on the driver that GPUEXEC_DRIVER names, else libcuda.so.1, and prints
   its answers; with arguments only the groups of these names. The first line names the device and
   the driver. Modules are loaded eagerly: with lazy loading, a kernel may wait for another one that
   spins. */
#include "probe.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* seconds per probe; groups that run at the same time, at most; runs of one group, at most */
enum { SECONDS = 60, TOGETHER = 8, GROUPS = 256, TRIES = 8 };

driver_calls cu;
int devices;
void *context[2], *module[2];
ptr memory[2];

/* In the child: the name of the group, the number of its current probe (the parent can read it),
   and the probes to skip. */
static const char *group_name;
static int *at;
typedef struct bad {
    int at;
    const char *how;
} bad;
static const bad *bad_ones;

const char module_text[] =
        ".version 6.4\n.target sm_52\n.address_size 64\n"
        ".visible .global .align 4 .u32 gv[4];\n"
        ".global .align 4 .u32 hidden[2];\n"
        ".visible .const .align 8 .u64 cv;\n"
        ".visible .func (.reg .u32 %o) help(.reg .u32 %i) { mov.u32 %o, %i; ret; }\n"
        ".visible .entry nop() { ret; }\n"
        ".visible .entry store(.param .u64 p, .param .u32 v) {\n"
        "    .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p]; ld.param.u32 %v, [v]; st.global.u32 "
        "[%a], %v; ret;\n}\n"
        ".visible .entry max64() .maxntid 64, 1, 1 { ret; }\n"
        ".visible .entry req64() .reqntid 64, 1, 1 { ret; }\n"
        ".visible .entry trp() { trap; }\n"
        ".visible .entry spin(.param .u64 p) {\n"
        "    .reg .b64 %a; .reg .b32 %v; .reg .pred %q; ld.param.u64 %a, [p];\n"
        "AGAIN: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %q, %v, 0; @%q bra AGAIN; ret;\n}\n"
        ".extern .shared .align 4 .b8 dynamic[];\n"
        ".visible .entry shoob() { .reg .b32 %a, %v; mov.u32 %a, 0x7fffff00; mov.u32 %v, 1; "
        "st.shared.u32 [%a], %v; ret; }\n"
        ".visible .entry fixed40k(.param .u64 p) {\n"
        "    .shared .align 4 .b8 area[40960]; .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p];\n"
        "    ld.volatile.shared.u32 %v, [area+40956]; st.global.u32 [%a], %v; ret;\n}\n"
        ".visible .entry many(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[48], .param .u16 "
        "d, .param .f32 e) {\n"
        "    .reg .b64 %a; .reg .b16 %v; ld.param.u64 %a, [b]; ld.param.u16 %v, [d]; st.global.u16 "
        "[%a], %v; ret;\n}\n";

void answer(const char *question, const char *format, ...) {
    va_list list;
    printf("%s.%s ", group_name, question);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
}

int skipped(const char *question) {
    int i;
    ++*at;
    alarm(SECONDS);
    for (i = 0; i < TRIES; i++)
        if (bad_ones[i].at == *at) {
            answer(question, "%s", bad_ones[i].how);
            return 1;
        }
    return 0;
}

static void give_up(const char *why, int result) {
    answer("gave_up", "%s %d", why, result);
    _exit(0);
}

void open_one(void) {
    int result;
    if ((result = cu.cuInit(0)) || (result = cu.cuDeviceGetCount(&devices)) ||
            (result = cu.cuDevicePrimaryCtxRetain(&context[0], 0)) ||
            (result = cu.cuCtxSetCurrent(context[0])) ||
            (result = cu.cuModuleLoadData(&module[0], module_text)) ||
            (result = cu.cuMemAlloc_v2(&memory[0], MEMORY)))
        give_up("opening device 0:", result);
}

void open_all(void) {
    int result;
    open_one();
    if (devices < 2) give_up("two devices needed, found", devices);
    if ((result = cu.cuDevicePrimaryCtxRetain(&context[1], 1)) ||
            (result = cu.cuCtxSetCurrent(context[1])) ||
            (result = cu.cuModuleLoadData(&module[1], module_text)) ||
            (result = cu.cuMemAlloc_v2(&memory[1], MEMORY)) ||
            (result = cu.cuCtxSetCurrent(context[0])))
        give_up("on device 1:", result);
}

void *kernel(int device, const char *name) {
    void *f = NULL;
    int result = cu.cuModuleGetFunction(&f, module[device], name);
    if (result) give_up(name, result);
    return f;
}

int launch(void *function, unsigned grid, unsigned block, void *stream, void **params) {
    return cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, params, NULL);
}

gate make_gate(void) {
    gate g;
    void *p = NULL;
    int result = cu.cuMemHostAlloc(&p, 64, 2);
    if (result) give_up("pinned memory:", result);
    memset(p, 0, 64);
    g.word = (volatile uint32_t *)p;
    g.address = (ptr)(uintptr_t)p;
    return g;
}
int close_gate(gate g, void *function, void *stream) {
    void *params[1];
    params[0] = &g.address;
    *g.word = 0;
    return launch(function, 1, 1, stream, params);
}
void open_gate(gate g) { __atomic_store_n(g.word, 1, __ATOMIC_SEQ_CST); }

static void *run_it(void *run) {
    void (*f)(void);
    memcpy(&f, run, sizeof f);
    f();
    return NULL;
}
void in_thread(void (*run)(void)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_it, &run) == 0) pthread_join(thread, NULL);
}

void sleep_ms(int ms) {
    struct timespec t;
    t.tv_sec = ms / 1000;
    t.tv_nsec = ms % 1000 * 1000000L;
    nanosleep(&t, NULL); /* not order */
}

void wrong_time(void) { sleep_ms(50); } /* not order */

static void find_all(void) {
    const char *path = getenv("GPUEXEC_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    cu = calls_load(library);
}

/* The first line. A child prints it, too. Returns 0 if there is no device. */
static int print_device(void) {
    char name[100] = "";
    int version = 0, status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        find_all();
        if (cu.cuInit(0) || cu.cuDeviceGetName(name, sizeof name, 0) ||
                cu.cuDriverGetVersion(&version))
            _exit(1);
        printf("# %s, CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
        fflush(stdout);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

typedef struct child {
    const group *group;
    pid_t pid;
    FILE *out;
    int tries, done, *at;
    bad bad_ones[TRIES];
} child;

static void begin(child *c) {
    fflush(stdout);
    if (!(c->out = tmpfile()) || (c->pid = fork()) < 0) {
        perror("probe");
        exit(1);
    }
    if (c->pid) return;
    group_name = c->group->name;
    at = c->at;
    bad_ones = c->bad_ones;
    dup2(fileno(c->out), 1);
    alarm(2 * SECONDS);
    if (c->group->devices < 2) setenv("CUDA_VISIBLE_DEVICES", "0", 0);
    find_all();
    c->group->run();
    _exit(0); /* skips the driver's exit handlers, which may wait for kernels that spin */
}

/* Waits for one child. If it failed, starts its group again without the probe that it had reached.
   Returns how many groups are finished. */
static int await(child *all, int n) {
    int status, i;
    pid_t pid = wait(&status);
    child *c = NULL;
    for (i = 0; i < n; i++)
        if (all[i].pid == pid) c = &all[i];
    if (!c) return 0;
    c->pid = 0;
    if (status == 0 || c->tries == TRIES) return c->done = 1;
    c->bad_ones[c->tries].at = *c->at;
    c->bad_ones[c->tries++].how = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hung"
                                                                                     : "crashed";
    *c->at = 0;
    fclose(c->out);
    begin(c);
    return 0;
}

static void show(const child *c) {
    char line[1024];
    rewind(c->out);
    while (fgets(line, sizeof line, c->out)) fputs(line, stdout);
    if (c->tries == TRIES) printf("%s.gave_up\n", c->group->name);
    fclose(c->out);
    fflush(stdout);
}

static int wanted(const char *name, int argc, char **argv) {
    int i;
    for (i = 1; i < argc; i++)
        if (strcmp(name, argv[i]) == 0) return 1;
    return argc < 2;
}

int main(int argc, char **argv) {
    static const group *const lists[] = { basic_groups, device_groups, context_groups,
        stream_groups, memory_groups, module_groups, link_groups, library_groups, launch_groups,
        cluster_groups, capture_groups, more_capture_groups, left_capture_groups, pool_groups,
        more_pool_groups, managed_groups, virtual_groups, copy_groups, node_groups, devrt_groups,
        green_groups, array_groups };
    static child all[GROUPS];
    int n = 0, begun = 0, shown = 0, running = 0,
        *counters = (int *)mmap(NULL, GROUPS * sizeof(int), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t k;
    if (counters == MAP_FAILED) {
        perror("probe");
        return 1;
    }
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (!print_device()) return 1;
    for (k = 0; k < COUNT(lists); k++) {
        const group *g;
        for (g = lists[k]; g->name && n < GROUPS; g++)
            if (wanted(g->name, argc, argv)) all[n++].group = g;
    }
    while (shown < n) {
        for (; begun < n && running < TOGETHER; begun++, running++) {
            all[begun].at = &counters[begun];
            begin(&all[begun]);
        }
        running -= await(all, begun);
        for (; shown < n && all[shown].done; shown++) show(&all[shown]);
    }
    return 0;
}
