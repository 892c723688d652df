/* cooperative_groups below the grid: tiles, coalesced and partitioned groups, reductions and scans
   of the library. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(const int *x, int *o, int n) {
    cg::thread_block b = cg::this_thread_block();
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    auto warp = cg::tiled_partition<32>(b);
    auto eight = cg::tiled_partition<8>(warp);
    auto four = cg::tiled_partition(b, 4);
    o[0 * n + i] = cg::reduce(warp, v, cg::plus<int>());
    o[1 * n + i] = cg::reduce(eight, v, cg::less<int>());
    o[2 * n + i] = cg::inclusive_scan(warp, v);
    o[3 * n + i] = cg::exclusive_scan(eight, v, cg::plus<int>());
    o[4 * n + i] = eight.shfl(v, eight.size() - 1 - eight.thread_rank());
    o[5 * n + i] = (int)(four.thread_rank() * 100 + four.size());
    o[6 * n + i] = (int)(eight.meta_group_rank() * 100 + warp.meta_group_size());
    o[7 * n + i] = eight.any(v > 900) * 2 + eight.all(v > 10);
}
extern "C" __global__ void coalesced(const int *x, int *counter, int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    int at = -1, sum = -1, rank = -1;
    __syncwarp();    // who is coalesced below is whoever comes there together
    if (v % 3 == 0) {
        auto g = cg::coalesced_threads();
        if (g.thread_rank() == 0) at = atomicAdd(counter, (int)g.size());
        at = g.shfl(at, 0) + (int)g.thread_rank();
        sum = cg::reduce(g, v, cg::plus<int>());
        rank = cg::exclusive_scan(g, 1);
    }
    o[0 * n + i] = at;
    o[1 * n + i] = sum;
    o[2 * n + i] = rank;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto same = cg::labeled_partition(warp, v % 5);
    o[3 * n + i] = (int)(same.size() * 100 + same.thread_rank());
    auto half = cg::binary_partition(warp, v > 500);
    o[4 * n + i] = cg::reduce(half, v, cg::greater<int>());
}
