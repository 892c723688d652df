#include "decode.h"
void dec_allocate(const struct sim_func *f, uint32_t *number, uint32_t count[3])
{
    for (unsigned k = 0; k < f->nregs; k++) {
        const unsigned size = dec_reg_size(f->regs[k].type), class = size == 0 ? 0 : size == 8 ? 2 : 1;
        number[k] = count[class];
        count[class] += f->regs[k].vec ? f->regs[k].vec : 1;
    }
}
