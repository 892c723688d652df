/* gpuexec_barrier.cuh - for CUDA C: a barrier over all blocks of the grids that
   gpuexec_launch_multi_device started on several devices. SPDX-License-Identifier: MIT OR Unlicense

       #include "gpuexec_barrier.cuh"
       extern "C" __global__ void kernel(const gpuexec_barrier_device *barrier, ...) {
           ...                                             // writes made here, on any device,
           if (gpuexec_barrier_sync(barrier)) return;      // not 0: broken, leave the kernel
           ...                                             // are visible here, on every device
       }

   The host creates it with gpuexec_barrier_create and passes each device's gpuexec_barrier_address.
   All threads of all blocks must call it equally often. It can be reused without limit. It breaks
   when a device does not arrive within the timeout, or when the host or another device aborts it;
   the host's next wait then reports which device did not arrive (GPUEXEC_BARRIER_BROKEN). Needs
   sm_70.

   Without CUDA C, link gpuexec_barrier.ptx:
       .visible .func (.param .b32 broken) gpuexec_barrier_sync(.param .b64 barrier)

   How it works. Each block counts itself on its device with one atomic addition, which also returns
   the number of the round. The last block to arrive writes that number to its device's word on
   every other device. These are stores only, with one writer for each word: remote atomics are
   slower, and may never finish on host memory. All blocks wait for their own device's count and for
   the other devices' words, in their own device's memory. Without peer access the words are in host
   memory; then only the last block of a device reads them, and releases the other blocks by one
   word. The synchronisation follows the PTX memory model: bar.sync, an acquire-release count, fence
   and store, load with acquire, bar.sync. During a long wait, one lane of one block polls the abort
   word in host memory for its device.

   It is fast because only other devices write the words that blocks poll. When a device's last
   block also wrote there, and all blocks read the round's number there, a round took 120 us instead
   of 3 on four H200s, at some addresses. */
#ifndef GPUEXEC_BARRIER_CUH
#define GPUEXEC_BARRIER_CUH

enum {
    GPUEXEC_BARRIER_DEVICES = 32,
    GPUEXEC_BARRIER_REPLICAS = 4, /* copies of each word: with 1,056 blocks on each of four H200s a
                                     round takes 3.5 us, with one copy 4.0 */
    GPUEXEC_BARRIER_POLLS = 64,   /* between two checks of the clock and of whether the device has
                                     left */
    GPUEXEC_BARRIER_EAGER = 8,    /* polls before the first rest */
    GPUEXEC_BARRIER_REST = 100, /* nanoseconds between two polls from then on: polls of many blocks
                                   delay the store that they wait for */
    GPUEXEC_BARRIER_TIMEOUT = 1,
    GPUEXEC_BARRIER_ABORTED = 2
};

/* A round's number in the upper half. In a count, the lower half counts the blocks that have
   arrived in the next round. It has 256 bytes to itself, because all blocks poll it. */
struct __align__(256) gpuexec_barrier_word {
    unsigned long long value;
};

/* Created by gpuexec_barrier_create, one for each device, in its memory. */
struct gpuexec_barrier_device {
    unsigned rank, count;       /* this device's number; how many devices there are */
    unsigned through_host;      /* 1: the words are in host memory */
    unsigned replicas;          /* block b polls replica b % replicas */
    unsigned long long timeout; /* nanoseconds */
    unsigned *abort_word;       /* in host memory; not 0: leave */
    unsigned long long *report; /* this device's, in host memory: round << 40 | state << 32 | a bit
                                   for each missing device */
    unsigned long long *from;   /* [count], the words that this device waits for */
    unsigned long long *to[GPUEXEC_BARRIER_DEVICES]; /* this device's word on each device */
    gpuexec_barrier_word arrived;                    /* the count of this device's blocks */
    gpuexec_barrier_word release; /* without peer access: all devices have arrived */
    gpuexec_barrier_word left;    /* why this device has given up, or 0 */
    unsigned long long words[GPUEXEC_BARRIER_REPLICAS][GPUEXEC_BARRIER_DEVICES]; /* with peer
                                                                                    access: from */
};

/* All of it is global memory, and generic addresses would be slower. */
static __device__ __forceinline__ unsigned gpuexec_barrier_load(const unsigned *word) {
    unsigned value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
}
static __device__ __forceinline__ unsigned long long gpuexec_barrier_acquire(
        const unsigned long long *word) {
    unsigned long long value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
}
static __device__ __forceinline__ void gpuexec_barrier_store(
        unsigned long long *word, unsigned long long value) {
    asm volatile(
            "st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "l"(value)
            : "memory");
}

/* Returns 1 if the word has this round's number, or the next one's, which a faster device may
   already have written. */
static __device__ __forceinline__ int gpuexec_barrier_has_come(
        const unsigned long long *word, unsigned round) {
    return (unsigned)(gpuexec_barrier_acquire(word) >> 32) - round <= 1;
}

/* Called from time to time while waiting for device k. Returns 1 if further waiting is useless. The
   first thread of the device that detects this reports it to the host and to the other devices. */
static __device__ __forceinline__ int gpuexec_barrier_give_up(gpuexec_barrier_device *b,
        unsigned round, unsigned k, int looks, unsigned long long *since) {
    unsigned long long now, missing = 0;
    unsigned state = 0, lanes_before;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_before));
    if (*since == 0) *since = now;
    if (gpuexec_barrier_acquire(&b->left.value)) return 1;
    if (looks && !(__activemask() & lanes_before) && gpuexec_barrier_load(b->abort_word))
        state = GPUEXEC_BARRIER_ABORTED;
    else if (now - *since > b->timeout) state = GPUEXEC_BARRIER_TIMEOUT;
    if (!state) return 0;
    if (atomicCAS(&b->left.value, 0ull, (unsigned long long)state)) return 1;
    if (!gpuexec_barrier_has_come(&b->arrived.value, round)) missing = 1ull << b->rank;
    for (unsigned i = 0; i < b->count; i++)
        if (i != b->rank && !gpuexec_barrier_has_come(b->from + i, round)) missing |= 1ull << i;
    if (missing == 0) missing = 1ull << k; /* device k arrived in this moment: too late */
    gpuexec_barrier_store(
            b->report, (unsigned long long)round << 40 | (unsigned long long)state << 32 | missing);
    if (state == GPUEXEC_BARRIER_TIMEOUT)
        asm volatile(
                "st.release.sys.global.u32 [%0], 2;" ::"l"(__cvta_generic_to_global(b->abort_word))
                : "memory");
    return 1;
}
static __device__ __forceinline__ int gpuexec_barrier_wait(gpuexec_barrier_device *b,
        const unsigned long long *word, unsigned round, unsigned k, int looks) {
    unsigned long long since = 0;
    unsigned polls = 0;
    while (!gpuexec_barrier_has_come(word, round)) {
        if (++polls % GPUEXEC_BARRIER_POLLS == 0 &&
                gpuexec_barrier_give_up(b, round, k, looks, &since))
            return 1;
        if (polls > GPUEXEC_BARRIER_EAGER) __nanosleep(GPUEXEC_BARRIER_REST);
    }
    return 0;
}

/* Waits for all blocks of all devices. Returns 0, or 1 if the barrier is broken; the same in all
   threads of a block. */
static __device__ __forceinline__ int gpuexec_barrier_sync(const gpuexec_barrier_device *barrier) {
    gpuexec_barrier_device *b = (gpuexec_barrier_device *)barrier;
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const unsigned lanes = threads < 32 ? threads : 32, warp = 0xFFFFFFFFu >> (32 - lanes);
    const unsigned long long one = 1ull << 32;
    unsigned count = 0, rank = 0, replicas = 1, through_host = 0;
    unsigned long long before = 0, *from = 0, *to = 0;
    int broken = 0;
    /* the first warp works for its block; it reads before the others arrive */
    if (thread < lanes) {
        count = b->count;
        rank = b->rank;
        replicas = b->replicas;
        through_host = b->through_host;
        from = b->from;
        to = b->to[thread];
        if (blocks == 1) before = gpuexec_barrier_acquire(&b->arrived.value);
    }
    __syncthreads();
    if (thread < lanes) {
        /* All blocks together add 1 to the upper half: block 0 adds what is missing from the
           others' sum. */
        const unsigned long long add = block == 0 ? one - (blocks - 1) : 1;
        if (blocks > 1) {
            if (thread == 0)
                asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], %2;"
                             : "=l"(before)
                             : "l"(__cvta_generic_to_global(&b->arrived.value)), "l"(add)
                             : "memory");
            before = __shfl_sync(warp, before, 0);
            __syncwarp(warp);
        }
        const unsigned round = (unsigned)(before >> 32) + 1;
        const int first = (unsigned)before == 0, last = (unsigned)(before + add) == 0;
        if (last) {
            asm volatile("fence.acq_rel.sys;" ::: "memory");
            for (unsigned k = thread; k < count; k += lanes) {
                if (k != thread) to = b->to[k];
                if (k != rank)
                    for (unsigned i = 0; i < replicas && i < blocks; i++)
                        gpuexec_barrier_store(to + i * GPUEXEC_BARRIER_DEVICES, round * one);
            }
            if (blocks == 1 && thread == 0) gpuexec_barrier_store(&b->arrived.value, round * one);
        }
        if (!through_host || last) {
            if (!through_host && replicas > 1) from += block % replicas * GPUEXEC_BARRIER_DEVICES;
            for (unsigned k = thread; k < count; k += lanes)
                if (k != rank) broken |= gpuexec_barrier_wait(b, from + k, round, k, first);
                else if (blocks > 1 && !last)
                    broken |= gpuexec_barrier_wait(b, &b->arrived.value, round, k, first);
        }
        if (through_host && blocks > 1) {
            if (last) {
                broken = __any_sync(warp, broken);
                __syncwarp(warp);
                if (thread == 0 && !broken)
                    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(
                                         __cvta_generic_to_global(&b->release.value)),
                                 "l"(round * one)
                                 : "memory");
            } else if (thread == 0) {
                broken = gpuexec_barrier_wait(b, &b->release.value, round, rank, first);
            }
        }
    }
    return __syncthreads_or(broken);
}

#endif
