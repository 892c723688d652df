/* lower.h - the map of lower/: an entry and the functions that it reaches become one array of instructions, the
   sim_code of base/code.h.

     decode.c     functions, registers, constants, layout; handlers by name
     regs.c       registers that are never live at the same time share a place
     select.c     the handler for each instruction; select_mem.c: for those that access memory

   decode.h is private to these files. They refer to the operations of execute/ by name. */
#ifndef SIM_LOWER_H
#define SIM_LOWER_H

#include "../base/base.h"
#include "../text/text.h"

/* Returns 0 and *out, or 218 with a log line that names the unsupported instruction and its line. */
int  sim_code_decode(struct sim_func *entry, struct sim_log *errors, struct sim_code **out);
void sim_code_free(struct sim_code *code);
const struct sim_code_info *sim_code_info(const struct sim_code *code);

#endif
