/* device_runtime.c - the names of the device runtime. objects/nested.c has what the calls do. */
#include "base.h"

bool (*sim_nested_run)(struct sim_warp *w, const struct sim_insn *i, int lane, unsigned call,
        const uint64_t *arg, uint64_t *result);

static const struct {
    const char *name, *bytes;
} calls[] = {
#define X(name, bytes) { #name, bytes },
    SIM_NESTED_CALLS(X)
#undef X
};

/* What CUDA's library has and this device does not. */
static const char *const absent[] = { "Memcpy3DAsync", "Memset3DAsync", "GraphLaunch",
    "GraphKernelNodeSetParam", "GraphKernelNodeSetEnabled", "GraphKernelNodeSetGridDim",
    "GraphKernelNodeUpdatesApply" };

int sim_nested_find(const char *name) {
    static const char second[] = "__cudaCDP2", first[] = "cuda", per_thread[] = "_ptsz";
    const bool is_second = !strncmp(name, second, sizeof second - 1);
    const char *rest = name + (is_second ? sizeof second : sizeof first) - 1;
    size_t length;
    int found = is_second ? SIM_NESTED_COUNT : -1;
    if (!strcmp(name, "__cudaDeviceSynchronizeDeprecationAvoidance"))
        return SIM_N_DeviceSynchronize;
    if (!is_second && strncmp(name, first, sizeof first - 1)) return -1;
    length = strlen(rest);
    const bool suffix = length >= sizeof per_thread &&
            !strcmp(rest + length - (sizeof per_thread - 1), per_thread);
    if (suffix) length -= sizeof per_thread - 1;
    for (int k = 0; k < SIM_NESTED_COUNT; k++)
        if (strlen(calls[k].name) == length && !strncmp(calls[k].name, rest, length))
            return k + (suffix ? SIM_NESTED_PER_THREAD : 0);
    for (size_t k = 0; k < sizeof absent / sizeof *absent; k++)
        if (strlen(absent[k]) == length && !strncmp(absent[k], rest, length))
            found = SIM_NESTED_COUNT;
    return found;
}

const char *sim_nested_bytes(int call) { return calls[call % SIM_NESTED_PER_THREAD].bytes; }
