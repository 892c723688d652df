/* missing.c - the entry points that are not implemented. Each returns 801 and says so once, on stderr. Their arguments
   are not known here: the caller's convention leaves them to the caller. */
#include "driver.h"

#define STUB(symbol) \
    SIM_EXPORT int symbol(void); \
    SIM_EXPORT int symbol(void) { \
        static struct sim_call call = { #symbol, 0, false }; \
        return sim_leave(&call, sim_enter(&call, SIM_MISSING)); \
    }
#define R(name, version) STUB(name)
#define S(name, version, symbol) STUB(symbol)
#define T(name, version, per_thread) STUB(name) STUB(name##per_thread)
#define U(name, version, symbol, per_thread) STUB(symbol) STUB(symbol##per_thread)
#include "missing.h"
