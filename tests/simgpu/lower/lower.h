/* lower.h - the map of lower/: an entry and the functions that it reaches become one array of
   instructions, the sim_code of base/code.h.

     emit.c           the operations of execute/ by name; errors; instructions, constants, scratch
                      registers, operands
     regs.c           registers that are never live at the same time share a place
     select_mem.c     the handlers of instructions that access memory
     select_image.c   those of textures and surfaces
     select_matrix.c  those of tensor cores
     select_flow.c    those of branches, calls, barriers, warp operations
     select.c         those of all others; the table that finds the function for a form
     decode.c         functions and their registers; the entry points

   A file calls only those above it; decode.h is private to them.

   Which function selects an instruction's handlers is in the row of text/forms.h that it matches.
   Most rows say LANES, d = op(sources): their letters give the types of the operands, and the
   operation is named by the opcode and the modifiers (execute.h). Such an instruction is a row
   there, a lane operation in execute/ and an entry in the table at the end of its file; nothing
   here changes. Another one is also a function here, declared in decode.h, and an entry in the
   table of select.c. */
#ifndef SIM_LOWER_H
#define SIM_LOWER_H

#include "../base/base.h"
#include "../text/text.h"

/* Returns 0 and *out, or 218 with a log line that names the unsupported instruction and its
   line. */
int sim_code_decode(struct sim_func *entry, struct sim_log *errors, struct sim_code **out);
void sim_code_free(struct sim_code *code);
const struct sim_code_info *sim_code_info(const struct sim_code *code);

#endif
