// Several devices, one launch: in each round, every block of each device writes the round's number
// to its element on the next device of the ring, all blocks wait at the barrier, and every block
// checks the number that it received. *wrong counts the errors; *done counts the blocks that
// finished. Tests can inject a fault from round `fault_round` on: fault 1 stops the kernel with a
// trap, and with fault 2 the kernel returns silently.

#include "gpuexec_barrier.cuh"

enum { TRAP = 1, LEAVE = 2 };

extern "C" __global__ void ring_exchange(const gpuexec_barrier_device *barrier, unsigned *mine,
        unsigned *next, int rounds, int fault, int fault_round, unsigned *wrong, unsigned *done) {
    for (int round = 1; round <= rounds; round++) {
        if (fault && round >= fault_round) {
            if (fault == TRAP) __trap();
            return;
        }
        if (threadIdx.x == 0) next[blockIdx.x] = round;
        if (gpuexec_barrier_sync(barrier)) return;
        if (threadIdx.x == blockDim.x - 1 && mine[blockIdx.x] != round) atomicAdd(wrong, 1);
        /* no block writes the next round before all have read */
        if (gpuexec_barrier_sync(barrier)) return;
    }
    if (threadIdx.x == 0) atomicAdd(done, 1);
}

// Only the barrier, to measure it.
extern "C" __global__ void barrier_rounds(
        const gpuexec_barrier_device *barrier, int rounds, unsigned *done) {
    for (int round = 0; round < rounds; round++)
        if (gpuexec_barrier_sync(barrier)) return;
    if (threadIdx.x == 0) atomicAdd(done, 1);
}
