/* entry.c - what every entry point does: the checks before a call, the requested failures, the log
   after it. */
#include "driver.h"
#include "../execute/execute.h"

bool sim_ready, sim_forked;

/* ---- settings ---- */

struct failure {
    char name[64];
    unsigned nth;
    int code;
    unsigned seen;
};
static struct failure failures[16];
static unsigned nfailures;

static void read_failures(const char *text) {
    for (int used; text && *text && nfailures < sizeof failures / sizeof *failures;
            text += used + (text[used] == ',')) {
        struct failure *f = &failures[nfailures++];
        used = 0;
        if (sscanf(text, "%63[^:]:%u:%d%n", f->name, &f->nth, &f->code, &used) == 3 && used)
            continue;
        fprintf(stderr, "simgpu: SIMGPU_FAIL is name:n:code[,...], not \"%s\"\n", text);
        nfailures--;
        return;
    }
}

static void in_child(void) {
    sim_engine_fork();
    sim_forked = sim_ready;
}

static void read_settings(void) {
    sim_settings_read();
    read_failures(getenv("SIMGPU_FAIL"));
    pthread_atfork(NULL, NULL, in_child);
}

static const struct {
    const char *name, *text;
    int value;
} errors[] = {
#define X(name, value, text) { "CUDA_" #name, text, value },
    SIM_ERRORS(X)
#undef X
};

static int error_index(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].value == code) return (int)i;
    return -1;
}

static const char *error_name(int code) {
    int i = error_index(code);
    return i < 0 ? NULL : errors[i].name;
}

/* ---- around every call ---- */

static pthread_once_t settings_once = PTHREAD_ONCE_INIT;

/* "cuMemAlloc" and "cuMemAlloc_v2" both name the entry point cuMemAlloc_v2. */
static bool names(const char *rule, const char *symbol) {
    size_t n = strlen(rule);
    if (strncmp(rule, symbol, n)) return false;
    return !symbol[n] ||
            (symbol[n] == '_' && strspn(symbol + n, "_v0123456789ptdsz") == strlen(symbol + n));
}

/* Says it once for each entry point. */
static int not_supported(struct sim_call *call) {
    const int version = sim_settings.driver_version;
    if (!call->said && call->version > version)
        fprintf(stderr,
                "simgpu: %s needs driver %d.%d, this one simulates %d.%d (SIMGPU_DRIVER_VERSION)\n",
                call->symbol, call->version / 1000, call->version % 1000 / 10, version / 1000,
                version % 1000 / 10);
    else if (!call->said) fprintf(stderr, "simgpu: %s is not implemented\n", call->symbol);
    call->said = true;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static int check(struct sim_call *call, unsigned flags) {
    const bool unsafe = flags & SIM_UNSAFE;
    const enum sim_need need = (enum sim_need)(flags & ~(unsigned)SIM_UNSAFE);
    if (call->version > sim_settings.driver_version) {
        call->said |= !strcmp(call->symbol, "cuGetProcAddress_v2"); /* callers try this one first */
        return not_supported(call);
    }
    if (need == SIM_MISSING) return not_supported(call);
    if (need != SIM_PURE) {
        if (sim_forked || !sim_ready) return CUDA_ERROR_NOT_INITIALIZED;
        if (sim_in_host_function && need != SIM_EASY) return CUDA_ERROR_NOT_PERMITTED;
    }
    int fails = CUDA_SUCCESS;
    /* each rule counts all calls, including those that another rule fails */
    for (unsigned i = 0; i < nfailures; i++)
        if (names(failures[i].name, call->symbol) && ++failures[i].seen == failures[i].nth &&
                !fails)
            fails = failures[i].code;
    if (fails) return fails;
    if (need == SIM_CTX && (fails = sim_context_need())) return fails;
    if (unsafe && (fails = sim_capture_forbids())) return fails;
    return need >= SIM_EASY ? __atomic_load_n(&sim_sticky, __ATOMIC_RELAXED) : CUDA_SUCCESS;
}

/* ---- SIMGPU_STRICT ---- */

/* What the driver of an H200 checks, as measured (tests/device/probe, groups gone, left,
   nodes_kernels, copy3d_peer): modules and their functions, events whose context was destroyed, and
   in these calls also contexts and nodes. */
static bool is_checked(const char *symbol) {
    static const char *const calls[] = { "cuCtxGetApiVersion", "cuCtxGetId",
        "cuCtxEnablePeerAccess", "cuCtxDisablePeerAccess", "cuMemcpyPeer", "cuMemcpy3DPeer",
        "cuGraphKernelNodeSetParams" };
    const enum sim_handle_kind kind = sim_self.dead_kind;
    if (kind == SIM_H_MODULE || kind == SIM_H_FUNCTION) return true;
    /* also distinguished */
    if (kind == SIM_H_KERNEL) return sim_find(SIM_H_FUNCTION, sim_self.dead) != NULL;
    /* some of it is in use */
    for (const struct sim_pool *p = sim_pools; p && kind == SIM_H_POOL; p = p->next)
        if (p->name == (uint64_t)(uintptr_t)sim_self.dead) return true;
    if (kind == SIM_H_EVENT) return sim_not_there(sim_self.dead) == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strncmp(symbol, calls[i], strlen(calls[i])) &&
                (kind == SIM_H_CONTEXT || kind == SIM_H_NODE))
            return true;
    return false;
}

static void check_dead(const char *symbol) {
    static const char *const kinds[] = { "", "context", "stream", "event", "module", "function",
        "memory pool", "link state", "library", "kernel", "graph", "node", "executable graph",
        "user object", "memory allocation", "green context", "array", "mipmapped array",
        "texture reference", "surface reference" };
    const bool was = sim_was(sim_self.dead_kind, sim_self.dead);
    if (is_checked(symbol)) return;
    fprintf(stderr,
            "simgpu: SIMGPU_STRICT: %s was called with %p, which %s a%s %s%s; a GPU's driver would "
            "read freed memory\n",
            symbol, sim_self.dead, was ? "was" : "is not",
            strchr("ae", *kinds[sim_self.dead_kind]) ? "n" : "", kinds[sim_self.dead_kind],
            was ? " and is destroyed" : "");
    abort();
}

/* ---- before and after ---- */

int sim_enter(struct sim_call *call, unsigned need) {
    pthread_once(&settings_once, read_settings);
    pthread_mutex_lock(&sim_lock);
    sim_self.dead = NULL;
    if (!call->version) call->version = sim_version_of(call->symbol);
    return check(call, need);
}

int sim_leave(struct sim_call *call, int result) {
    bool flush = sim_has_waited && !sim_in_host_function;
    sim_has_waited = false;
    if (sim_self.dead) check_dead(call->symbol);
    const char *name = error_name(result);
    sim_log_failure(call->symbol, result, name);
    pthread_mutex_unlock(&sim_lock);
    sim_log_call_back();
    if (flush) sim_print_flush();
    if (sim_settings.trace)
        fprintf(stderr, "simgpu: %s -> %d %s\n", call->symbol, result, name ? name : "");
    return result;
}

/* ---- errors ---- */

SIM_API(cuGetErrorName, (int error, const char **text), (error, text), SIM_PURE) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = error_name(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGetErrorString, (int error, const char **text), (error, text), SIM_PURE) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    /* with the text of the error that stopped a kernel: where it happened, which a GPU does not
       report */
    static __thread char whole[600];
    int i = error_index(error);
    *text = i < 0 ? NULL : errors[i].text;
    if (*text && error == __atomic_load_n(&sim_sticky, __ATOMIC_ACQUIRE) && *sim_fault_text) {
        snprintf(whole, sizeof whole, "%s: %s", *text, sim_fault_text);
        *text = whole;
    }
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
