/* settings.c - settings of the whole device, from the environment; README.md lists the variables.
   Variables that only one file uses are read there: objects/device.c, driver/entry.c. */
#include "base.h"
#include <strings.h>
#include <unistd.h>

/* The first is the default. */
static const struct sim_capability capabilities[] = {
    { 90, 2048, 32, 228 << 10, 227 << 10, 1 << 10, 4 },
    { 75, 1024, 16, 64 << 10, 64 << 10, 0, 1 },
    { 80, 2048, 32, 164 << 10, 163 << 10, 1 << 10, 1 },
    { 86, 1536, 16, 100 << 10, 99 << 10, 1 << 10, 1 },
    { 87, 1536, 16, 164 << 10, 163 << 10, 1 << 10, 1 },
    { 89, 1536, 24, 100 << 10, 99 << 10, 1 << 10, 1 },
    { 100, 2048, 32, 228 << 10, 227 << 10, 1 << 10, 4 },
    { 103, 2048, 32, 228 << 10, 227 << 10, 1 << 10, 4 },
    { 110, 1536, 24, 228 << 10, 227 << 10, 1 << 10, 4 },
    { 120, 1536, 24, 100 << 10, 99 << 10, 1 << 10, 4 },
    { 121, 1536, 24, 100 << 10, 99 << 10, 1 << 10, 4 },
};
struct sim_settings sim_settings = { .capability = capabilities,
    .driver_version = 13000,
    .threads = 1,
    .in_pair = SIM_NVLINK,
    .others = SIM_NVLINK };
static const struct {
    const char *name;
    enum sim_peering in_pair, others;
} topologies[] = {
    { "all", SIM_NVLINK, SIM_NVLINK },
    { "none", SIM_NO_ACCESS, SIM_NO_ACCESS },
    { "pairs", SIM_NVLINK, SIM_NO_ACCESS },
    { "pcie", SIM_PCIE, SIM_PCIE },
    { "mixed", SIM_NVLINK, SIM_PCIE },
};

static bool env_on(const char *name) {
    const char *v = getenv(name);
    return v && *v && strcmp(v, "0");
}

static void read_capability(const char *text) {
    const size_t n = sizeof capabilities / sizeof *capabilities;
    for (size_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u.%u", capabilities[i].sm / 10, capabilities[i].sm % 10);
        if (!strcmp(text, name)) {
            sim_settings.capability = &capabilities[i];
            return;
        }
    }
    fprintf(stderr,
            "simgpu: SIMGPU_CAPABILITY=%s is not 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, "
            "11.0, 12.0 or 12.1; using 9.0\n",
            text);
}

void sim_settings_read(void) {
    const char *v = getenv("SIMGPU_DRIVER_VERSION"), *t = getenv("SIMGPU_THREADS"),
               *limit = getenv("SIMGPU_TIMEOUT");
    const char *peers = getenv("SIMGPU_PEERS"), *seed = getenv("SIMGPU_SCHEDULE"),
               *lazy = getenv("SIMGPU_LAZY");
    const char *mode = getenv("CUDA_MODULE_LOADING"), *capability = getenv("SIMGPU_CAPABILITY");
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (v && atoi(v) >= 1000) sim_settings.driver_version = atoi(v);
    if (t && atoi(t) > 0) cpus = atoi(t);
    sim_settings.threads = cpus < 1 ? 1 : cpus > 64 ? 64 : (int)cpus;
    sim_settings.trace = env_on("SIMGPU_TRACE");
    sim_settings.verbose = env_on("SIMGPU_VERBOSE");
    sim_settings.strict = env_on("SIMGPU_STRICT");
    sim_settings.count = env_on("SIMGPU_COUNT");
    sim_settings.access = env_on("SIMGPU_ACCESS") ? getenv("SIMGPU_ACCESS") : NULL;
    sim_settings.eager = mode && !strcasecmp(mode, "EAGER") ? true
            : mode && !strcasecmp(mode, "LAZY")             ? false
                                                            : sim_settings.driver_version < 12020;
    if (capability && *capability) read_capability(capability);
    if (seed) sim_settings.schedule = strtoull(seed, NULL, 0);
    if (lazy && atoi(lazy) > 0)
        sim_settings.lazy_ns = (uint64_t)(atoi(lazy) > 1 ? atoi(lazy) : 100) * 1000000u;
    if (limit) sim_settings.timeout_ns = (uint64_t)(atof(limit) * 1e9);
    if (peers && *peers) {
        size_t i = 0, n = sizeof topologies / sizeof *topologies;
        while (i < n && strcmp(peers, topologies[i].name)) i++;
        if (i < n)
            sim_settings.in_pair = topologies[i].in_pair,
            sim_settings.others = topologies[i].others;
        else
            fprintf(stderr,
                    "simgpu: SIMGPU_PEERS=%s is not all, none, pairs, pcie or mixed; using all\n",
                    peers);
    }
}
