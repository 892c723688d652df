/* missing.c - the entry points that are not implemented. Each returns 801 and says so once, on
   stderr. Their arguments are not known here: the caller's convention leaves them to the caller. */
#include "driver.h"

#define MISSING_SYMBOL(symbol) \
    SIM_EXPORT int symbol(void); \
    SIM_EXPORT int symbol(void) { \
        static struct sim_call call = { #symbol, 0, false }; \
        return sim_leave(&call, sim_enter(&call, SIM_MISSING)); \
    }
#include "entry_points.h"
