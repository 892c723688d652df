/* CUB, as most libraries use it: block-wide radix sort, scan, reduction, histogram, loads in every
   arrangement, warp merge sort. */
#include <cub/cub.cuh>
extern "C" __global__ void cub_sort(const int *in, int *keys, int *scanned, int *total) {
    typedef cub::BlockRadixSort<int, 128, 4> sorter;
    typedef cub::BlockScan<int, 128> scanner;
    typedef cub::BlockReduce<int, 128> reducer;
    __shared__ union {
        sorter::TempStorage sort;
        scanner::TempStorage scan;
        reducer::TempStorage reduce;
    } s;
    int v[4];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * 512, v);
    sorter(s.sort).Sort(v);
    cub::StoreDirectBlocked(threadIdx.x, keys + blockIdx.x * 512, v);
    __syncthreads();
    int r = reducer(s.reduce).Sum(v[0] + v[1] + v[2] + v[3]);
    if (threadIdx.x == 0) total[blockIdx.x] = r;
    __syncthreads();
    scanner(s.scan).ExclusiveSum(v, v);
    cub::StoreDirectBlocked(threadIdx.x, scanned + blockIdx.x * 512, v);
}
