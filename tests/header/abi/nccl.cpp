// nccl.cpp - compares the functions and values of examples/nccl.h with NCCL's own header, at
// compile time.
#include <nccl.h>
#include "agree.h"
#include "../../../examples/nccl.h"

static_assert(!agree<int(void *), ncclResult_t(ncclComm_t *)>::value &&
                !agree<int(void *, int), ncclResult_t(ncclComm_t, size_t)>::value,
        "agree distinguishes right from wrong");
#define NCCL_AGREES(name, result, parameters) \
    static_assert(agree<result parameters, decltype(::nccl##name)>::value, \
            "the parameters of nccl" #name);
NCCL_FUNCTIONS(NCCL_AGREES)
SAME(NCCL_FLOAT, ncclFloat32)
SAME(NCCL_SUM, ncclSum)
