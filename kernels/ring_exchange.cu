// Several devices, one launch: in each round every block of each device writes the round into its place on the next
// device of the ring, all meet at the barrier, and every block looks whether what it was sent is there. *wrong counts
// what was not; *done counts the blocks that came to the end. A fault can be planted for tests: from round
// `fault_round` on, fault 1 stops the kernel with a trap, and fault 2 leaves without a word.

#include "gpuexec_barrier.cuh"

enum { TRAP = 1, LEAVE = 2 };

extern "C" __global__ void ring_exchange(const gpuexec_barrier_device *barrier, unsigned *mine, unsigned *next,
                                         int rounds, int fault, int fault_round, unsigned *wrong, unsigned *done)
{
    for (int round = 1; round <= rounds; round++) {
        if (fault && round >= fault_round) {
            if (fault == TRAP) __trap();
            return;
        }
        if (threadIdx.x == 0) next[blockIdx.x] = round;
        if (gpuexec_barrier_sync(barrier)) return;
        if (threadIdx.x == blockDim.x - 1 && mine[blockIdx.x] != round) atomicAdd(wrong, 1);
        if (gpuexec_barrier_sync(barrier)) return;               // nobody writes the next round before all have looked
    }
    if (threadIdx.x == 0) atomicAdd(done, 1);
}

// Nothing but the barrier, for measuring it.
extern "C" __global__ void barrier_rounds(const gpuexec_barrier_device *barrier, int rounds, unsigned *done)
{
    for (int round = 0; round < rounds; round++)
        if (gpuexec_barrier_sync(barrier)) return;
    if (threadIdx.x == 0) atomicAdd(done, 1);
}
