/* Atomics of every scope, from CUDA C and from cuda::atomic_ref; a handshake with the host; a lock
   that spins within a warp. */
#include <cuda/atomic>
extern "C" __global__ void sysatom(int *p, unsigned *flag) {
    atomicAdd_system(p, 1);
    __threadfence_system();
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> r(*flag);
    r.store(1, cuda::memory_order_release);
    while (r.load(cuda::memory_order_acquire) < 2)
        ;
    r.fetch_add(1, cuda::memory_order_acq_rel);
}
extern "C" __global__ void devatom(int *p) {
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*p);
    r.fetch_add(1, cuda::memory_order_relaxed);
    int e = 0;
    while (!r.compare_exchange_weak(e, 1, cuda::memory_order_acquire)) e = 0;
    r.store(0, cuda::memory_order_release);
    atomicAdd_block(p, 1);
}
/* What devatom wants to be: it counts elsewhere than in the lock. */
extern "C" __global__ void locked_count(int *lock, int *count, int *other) {
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*lock), n(*other);
    n.fetch_add(3, cuda::memory_order_relaxed);
    for (bool done = false; !done;) {
        int e = 0;
        if (r.compare_exchange_strong(e, 1, cuda::memory_order_acquire)) {
            *count = *count + 1;
            r.store(0, cuda::memory_order_release);
            done = true;
        }
    }
}
extern "C" __global__ void spin(int *lock, volatile int *c) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *c = *c + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
