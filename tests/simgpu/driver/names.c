/* names.c - the names of all entry points, and the versions that introduced them. */
#include "driver.h"

const struct sim_name sim_names[] = {
#define DRIVER_ROW(name, version, symbol, suffix, params) \
    { #name, #symbol, version, #suffix, false },
#define MISSING_ROW(name, version, symbol, suffix) { #name, #symbol, version, #suffix, true },
#include "entry_points.h"
};
const unsigned sim_names_count = sizeof sim_names / sizeof *sim_names;

int sim_version_of(const char *symbol) {
    for (unsigned i = 0; i < sim_names_count; i++) {
        const size_t n = strlen(sim_names[i].symbol);
        if (strncmp(sim_names[i].symbol, symbol, n)) continue;
        if (!symbol[n] || !strcmp(symbol + n, sim_names[i].per_thread)) return sim_names[i].version;
    }
    return 0;
}
