/* gpuexec_barrier.cuh - a barrier over all blocks of the grids that one gpuexec_launch_multi_device started on several devices, for CUDA C.
   SPDX-License-Identifier: MIT OR Unlicense

       #include "gpuexec_barrier.cuh"
       extern "C" __global__ void kernel(const gpuexec_barrier_device *barrier, ...) {
           ...                                                        // what was written here, on any device,
           if (gpuexec_barrier_sync(barrier)) return;                 // not 0: the barrier is broken, leave the kernel
           ...                                                        // can be read here, on any device
       }

   The host makes it with gpuexec_barrier_create and passes each device's gpuexec_barrier_address. All threads of all blocks must call it
   equally often, in blocks of at least as many threads as there are devices. It is reusable without end. It is broken when a device did not
   come within the timeout, or when the host or another device aborted it; the host's next wait then says who did not come
   (GPUEXEC_BARRIER_BROKEN). Needs sm_70.

   Without CUDA C, link gpuexec_barrier.ptx: .visible .func (.param .b32 broken) gpuexec_barrier_sync(.param .b64 barrier).

   How it works: each device has a word for each device. Who has arrived writes the round's number into its own word on all devices (one writer for
   each word, stores only: remote atomics are slower, and on host memory they need not end), and waits for all words on its own
   device, in its own memory. Inside a device, the block that arrives last writes for all. The synchronisation is that of the PTX memory model:
   bar.sync, an acquire-release count of the blocks, st.release.sys, ld.acquire.sys, bar.sync. */
#ifndef GPUEXEC_BARRIER_CUH
#define GPUEXEC_BARRIER_CUH

/* Written by gpuexec_barrier_create, one for each device, in its memory. */
struct gpuexec_barrier_device {
    unsigned            rank, count;             /* this device's place among all; how many there are, at most 32 */
    unsigned long long  timeout;                 /* nanoseconds */
    unsigned           *abort_word;              /* in host memory; not 0: leave */
    unsigned long long *report;                  /* in host memory, this device's: round << 40 | state << 32 | who was missing, a bit each; or, if the
                                                    blocks are too small, their threads */
    unsigned           *arrived;                 /* blocks of this device in this round */
    unsigned           *words;                   /* [count], in this device's memory */
    unsigned           *relay;                   /* [count * 16], in host memory, where devices do not reach each other's memory; or NULL */
    unsigned           *mine[32];                /* this device's word in each device's words (with a relay: only its own) */
};
enum { GPUEXEC_BARRIER_TIMEOUT = 1, GPUEXEC_BARRIER_ABORTED = 2, GPUEXEC_BARRIER_SMALL = 3 };
enum { GPUEXEC_BARRIER_POLLS = 64,               /* between two looks at clock and abort word */
       GPUEXEC_BARRIER_EAGER = 8 };              /* then a rest between two polls: 132 blocks on each of two H200s meet in 2.78 us, at the latest 2.80;
                                                    without rests in 2.75 to 3.4, and once 116 */

/* All of it is global memory: told so, since generic addresses cost time. */
static __device__ __forceinline__ unsigned gpuexec_barrier_load(const unsigned *word) {
    unsigned value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
    return value;
}
static __device__ __forceinline__ unsigned gpuexec_barrier_acquire(const unsigned *word) {
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
    return value;
}
static __device__ __forceinline__ void gpuexec_barrier_release(unsigned *word, unsigned value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" :: "l"(__cvta_generic_to_global(word)), "r"(value) : "memory");
}

/* Words [count], `stride` apart: this device's own, or those in host memory. */
struct gpuexec_barrier_words { const unsigned *first; unsigned stride; };

/* Every now and then while waiting: 1 if there is no use in waiting further. Says so in the report, and to the other devices. */
static __device__ __forceinline__ int gpuexec_barrier_give_up(const gpuexec_barrier_device *b, gpuexec_barrier_words words, unsigned round,
                                                              unsigned r, unsigned long long *since) {
    unsigned long long now, state = 0, missing = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (*since == 0) *since = now;
    if (gpuexec_barrier_load(b->abort_word)) state = GPUEXEC_BARRIER_ABORTED;
    else if (now - *since > b->timeout) state = GPUEXEC_BARRIER_TIMEOUT;
    if (!state) return 0;
    for (unsigned k = 0; k < b->count; k++)
        if ((int)(gpuexec_barrier_load(words.first + k * words.stride) - round) < 0) missing |= 1u << k;
    if (missing == 0) missing = 1u << r;         /* it came this very moment: too late */
    if (*(volatile unsigned long long *)b->report == 0)
        *(volatile unsigned long long *)b->report = (unsigned long long)round << 40 | state << 32 | missing;
    if (state == GPUEXEC_BARRIER_TIMEOUT) gpuexec_barrier_release(b->abort_word, 2);
    return 1;
}
static __device__ __forceinline__ int gpuexec_barrier_wait(const gpuexec_barrier_device *b, gpuexec_barrier_words words, unsigned round, unsigned r) {
    unsigned long long since = 0;
    unsigned polls = 0;
    while ((int)(gpuexec_barrier_acquire(words.first + r * words.stride) - round) < 0) {
        if (++polls % GPUEXEC_BARRIER_POLLS == 0 && gpuexec_barrier_give_up(b, words, round, r, &since)) return 1;
        if (polls > GPUEXEC_BARRIER_EAGER) __nanosleep(100);      /* the polls of many blocks delay the very store that they wait for */
    }
    return 0;
}

/* Waits for all blocks of all devices. Returns, in all threads of a block alike, 0, or 1 if the barrier is broken. */
static __device__ __forceinline__ int gpuexec_barrier_sync(const gpuexec_barrier_device *b) {
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z, lanes = threads < 32 ? threads : 32;
    unsigned count = 0, rank = 0, round = 0, *words = 0, *relay = 0, *mine = 0;
    int broken = 0, last = 1;
    if (thread < lanes) {                        /* the first warp works for its block, each lane for one device */
        count = b->count; rank = b->rank; words = b->words; relay = b->relay;      /* now, while others are still coming */
        if (thread < count) mine = b->mine[thread];
        round = gpuexec_barrier_load(words + rank) + 1;              /* stays until the last block of this device is here */
    }
    __syncthreads();
    if (thread < lanes) {
        if (lanes < count) {
            if (thread == 0) *(volatile unsigned long long *)b->report = (unsigned long long)round << 40 | (unsigned long long)GPUEXEC_BARRIER_SMALL << 32 | threads;
            broken = 1;
        }
        if (blocks > 1) {
            const unsigned warp = lanes == 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
            if (thread == 0) {
                unsigned before;
                asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(__cvta_generic_to_global(b->arrived)) : "memory");
                last = before == blocks - 1;
                if (last) *(volatile unsigned *)b->arrived = 0;
            }
            last = __shfl_sync(warp, last, 0);
            __syncwarp(warp);
        }
        if (thread < count && !broken) {
            if (last && relay) {                 /* through host memory; what has come there is passed on to this device's words */
                if (thread == rank) gpuexec_barrier_release(relay + rank * 16, round);
                broken = gpuexec_barrier_wait(b, { relay, 16 }, round, thread);
                if (!broken) gpuexec_barrier_release(words + thread, round);
            } else if (last && thread == rank) { /* nobody outside of this device reads this one */
                asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(__cvta_generic_to_global(mine)), "r"(round) : "memory");
            } else if (last) {
                gpuexec_barrier_release(mine, round);
            }
            if (!broken && (blocks > 1 || thread != rank)) broken = gpuexec_barrier_wait(b, { words, 1 }, round, thread);
        }
    }
    return __syncthreads_or(broken);
}

#endif
