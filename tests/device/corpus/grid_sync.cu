/* A cooperative grid: all of its blocks meet between the steps of an iteration, and for a sum over
   the grid. */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void gridsync(float *a, float *b, int n, int it) {
    cg::grid_group g = cg::this_grid();
    for (int k = 0; k < it; k++) {
        for (unsigned i = g.thread_rank(); i < n; i += g.size())
            b[i] = 0.5f * (a[i ? i - 1 : 0] + a[i < n - 1 ? i + 1 : i]);
        g.sync();
        float *t = a;
        a = b;
        b = t;
    }
}
/* part has an element per block; every thread of the grid gets the whole sum */
extern "C" __global__ void grid_total(
        const unsigned *x, unsigned *part, unsigned *out, unsigned n) {
    cg::grid_group g = cg::this_grid();
    cg::thread_block b = cg::this_thread_block();
    if (b.thread_rank() == 0) part[g.block_rank()] = 0;
    b.sync();
    unsigned v = 0;
    for (unsigned long long i = g.thread_rank(); i < n; i += g.num_threads()) v += x[i];
    atomicAdd(&part[g.block_rank()], v);
    auto token = g.barrier_arrive();
    g.barrier_wait(std::move(token));
    unsigned sum = 0;
    for (unsigned i = 0; i < g.num_blocks(); i++) sum += part[i];
    out[g.thread_rank()] = sum;
}
