// throwing.cpp - no exception leaves the library: one that a logger or an allocator throws ends the
// program, at the place of the throw, instead of leaving a lock or another context behind. The
// program then goes on without them.
#include "../../../gpuexec.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

namespace {
enum { ENDED = 33, CAUGHT, SILENT };
int countdown = 0;

void log(void *, gpuexec_log_level, const char *text) {
    if (std::strstr(text, "no kernel")) throw 1;
}
void *allocate(void *, void *p, std::size_t bytes) {
    if (bytes && countdown && --countdown == 0) throw std::bad_alloc();
    if (bytes) return std::realloc(p, bytes);
    std::free(p);
    return nullptr;
}

// The exit code of a process whose logger or whose n-th allocation throws.
int run(int n) {
    static const char ptx[] =
            ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    const pid_t child = fork();
    int status = 0;
    if (child)
        return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::set_terminate([] { _exit(ENDED); });
    try {
        gpuexec_setup_desc desc = {};
        if (n) desc.realloc_function = allocate;
        else desc.log = log;
        gpuexec_setup(&desc);
        const gpuexec_context ctx = gpuexec_context_open(0, nullptr);
        countdown = n;
        const gpuexec_module mod = gpuexec_module_load(ctx, ptx, 0, nullptr);
        gpuexec_kernel_get(mod, "nothing");
        gpuexec_kernel_get(mod, "something");
    } catch (...) { _exit(CAUGHT); }
    _exit(SILENT);
}
}    // namespace

int main() {
    int got = run(0), n = 0;
    while (got == ENDED && n < 40) got = run(++n);
    if (n > 5 && (got == SILENT || got == ENDED)) return 0;
    std::printf("throwing.cpp: allocation %d (0: the logger): %s\n", n,
            got == CAUGHT           ? "the exception left the library"
                    : got == SILENT ? "nothing was thrown"
                                    : "the process failed");
    return 1;
}
